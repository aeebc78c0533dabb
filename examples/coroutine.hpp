// A track for each C++20 coroutine: scopes stay open over co_await and co_yield, and end on the track on which they
// began, whichever threads resume the coroutine. Derive the promise type from coroutine_track; see coroutine.cpp.
#ifndef COROUTINE_HPP
#define COROUTINE_HPP
#include "../prof.h"
#include <coroutine>
#include <type_traits>
#include <utility>

#if defined(_MSC_VER)
#define COROUTINE_NOINLINE __declspec(noinline)
#else
#define COROUTINE_NOINLINE __attribute__((noinline))
#endif

class coroutine_track {
public:
    explicit coroutine_track(const char *name) : fiber_(prof_fiber_create(name)) {} // name: copied, up to 63 bytes
    ~coroutine_track() { prof_fiber_destroy(fiber_); }
    coroutine_track(const coroutine_track &) = delete;
    coroutine_track &operator=(const coroutine_track &) = delete;

    // Wraps what co_await waits for in a switch to the track of the thread, or of the coroutine that resumed this one,
    // and back. co_yield does not come here by itself: yield_value() returns await_transform(std::suspend_always()).
    template <class Awaitable> auto await_transform(Awaitable &&awaitable)
    {
        using given = decltype(awaiter_of(std::forward<Awaitable>(awaitable)));
        using moved = std::remove_reference_t<given>;
        // A temporary is moved, if it can be: that of yield_value() ends before it is waited for.
        using awaiter = std::conditional_t<
            std::is_rvalue_reference_v<given> && std::is_move_constructible_v<moved>, moved, given>;
        return switching<awaiter>{awaiter_of(std::forward<Awaitable>(awaitable)), this, false};
    }

    // For coroutines that their caller does not start. One that starts at once returns suspend_never() after enter().
    auto initial_suspend() noexcept
    {
        struct start {
            coroutine_track *track;
            bool await_ready() noexcept { return false; }
            void await_suspend(std::coroutine_handle<>) noexcept {}
            void await_resume() noexcept { track->enter(); }
        };
        return start{this};
    }

    auto final_suspend() noexcept
    {
        struct end {
            coroutine_track *track;
            bool await_ready() noexcept { return false; }
            void await_suspend(std::coroutine_handle<>) noexcept { track->leave(); }
            void await_resume() noexcept {}
        };
        return end{this};
    }

    // Call this instead of handle.destroy(): open scopes then end on the coroutine's track.
    template <class Promise> static void destroy(std::coroutine_handle<Promise> handle)
    {
        coroutine_track &track = handle.promise();
        prof_fiber *fiber = track.fiber_, *outer = current();
        track.fiber_ = nullptr; // it goes on until the coroutine's frame is gone
        prof_fiber_switch(fiber);
        handle.destroy();
        prof_fiber_switch(outer);
        prof_fiber_destroy(fiber);
    }

    // An unhandled_exception() that throws calls leave() first. With clang before 17 it keeps std::current_exception()
    // instead, for whoever resumes it: what they make of a throw destroys the coroutine's variables twice. Never
    // inlined: a compiler may keep the address of thread-local storage over a co_await, and another thread goes on.
    COROUTINE_NOINLINE void enter() noexcept
    {
        outer_ = current();
        current() = fiber_;
        prof_fiber_switch(fiber_);
    }
    COROUTINE_NOINLINE void leave() noexcept
    {
        current() = outer_;
        prof_fiber_switch(outer_);
    }

private:
    template <class Awaiter> struct switching {
        Awaiter awaiter;
        coroutine_track *track;
        bool left;
        bool await_ready() { return awaiter.await_ready(); }
        template <class Promise> auto await_suspend(std::coroutine_handle<Promise> handle)
        {
            left = true;
            track->leave(); // before another thread can resume it
#if defined(__cpp_exceptions)
            try {
                return awaiter.await_suspend(handle);
            } catch (...) {
                track->enter();
                throw;
            }
#else
            return awaiter.await_suspend(handle);
#endif
        }
        decltype(auto) await_resume()
        {
            if (left) track->enter();
            return awaiter.await_resume();
        }
    };

    template <class Awaitable> static decltype(auto) awaiter_of(Awaitable &&awaitable)
    {
        if constexpr (requires { std::forward<Awaitable>(awaitable).operator co_await(); })
            return std::forward<Awaitable>(awaitable).operator co_await();
        else if constexpr (requires { operator co_await(std::forward<Awaitable>(awaitable)); })
            return operator co_await(std::forward<Awaitable>(awaitable));
        else
            return std::forward<Awaitable>(awaitable);
    }

    static prof_fiber *&current() noexcept // the fiber that runs on this thread; null: none
    {
        static thread_local prof_fiber *fiber;
        return fiber;
    }

    prof_fiber *fiber_, *outer_ = nullptr;
};
#endif
