// C++20 coroutines: each is a fiber; what it records stays on its track whoever resumes it.
#include "../prof_read.h"
#include "test.h"
#include "trace.h"

#if defined(__cpp_impl_coroutine)
#include "../examples/coroutine.hpp"
#include "../prof.hpp"
#include <exception>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

struct task {
    struct promise_type {
        prof_fiber *fiber = nullptr;
        task get_return_object() { return task{std::coroutine_handle<promise_type>::from_promise(*this)}; }
        std::suspend_always initial_suspend() noexcept { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        void return_void() {}
        void unhandled_exception() {}
    };
    std::coroutine_handle<promise_type> handle;

    // Whoever resumes a coroutine switches to its track, and back.
    void resume()
    {
        prof_fiber_switch(handle.promise().fiber);
        handle.resume();
        prof_fiber_switch(nullptr);
    }
    void destroy() // ends the scopes that are open
    {
        prof_fiber *fiber = handle.promise().fiber;
        prof_fiber_switch(fiber);
        handle.destroy();
        prof_fiber_switch(nullptr);
        prof_fiber_destroy(fiber);
    }
};

static task counting(int from, int steps)
{
    PROFILE_SCOPE("coroutine");
    for (int i = 0; i < steps; ++i) {
        PROFILE_SCOPE("step");
        PROFILE_ARG_I("number", from + i);
        co_await std::suspend_always{};
        PROFILE_MARK("after");
    }
    if (from == 300) throw 1; // closes the scope
}

TEST(coroutines_on_two_threads)
{
    enum { COUNT = 4, STEPS = 100 };
    prof_config config = trace_config(1 << 20);
    task tasks[COUNT];
    trace_start(&config);
    for (int i = 0; i < COUNT; ++i) {
        char name[16];
        snprintf(name, sizeof name, "coroutine %d", i);
        tasks[i] = counting(i * 100, STEPS);
        tasks[i].handle.promise().fiber = prof_fiber_create(name);
    }
    for (int round = 0; round < 10; ++round) {
        auto some = [&] {
            PROFILE_SCOPE("resume some");
            for (int k = 0; k < STEPS / 10; ++k)
                for (auto &each : tasks) each.resume();
        };
        if (round % 2)
            std::thread(some).join();
        else
            some();
    }
    for (int i = 2; i < COUNT; ++i) tasks[i].resume(); // to their end; the others are destroyed where they wait
    for (auto &each : tasks) each.destroy();
    prof_trace *trace = trace_stop();
    CHECK_EQUAL(prof_trace_about(trace)->unmatched, 0);
    for (int i = 0; i < COUNT; ++i) {
        char name[16];
        snprintf(name, sizeof name, "coroutine %d", i);
        trace_list list = trace_read(trace, trace_track_named(trace, name));
        CHECK_EQUAL(trace_count(&list, "coroutine"), 1);
        CHECK_EQUAL(trace_count(&list, "step"), STEPS);
        CHECK_EQUAL(trace_count(&list, "after"), i < 2 ? STEPS - 1 : STEPS);
        for (size_t k = 0; k < list.count; ++k) CHECK_EQUAL(list.events[k].flags, 0);
        for (size_t k = 0; k < STEPS; ++k)
            CHECK_EQUAL(trace_arg(trace_nth(&list, "step", k), "number")->as.i, i * 100 + (int)k);
        trace_free(&list);
    }
    prof_trace_close(trace);
    prof_reset();
}

/*-- examples/coroutine.hpp --*/

struct tracked {
    struct promise_type : coroutine_track {
        int value = 0;
        std::exception_ptr thrown;
        explicit promise_type(const char *name, ...) : coroutine_track(name) {}
        tracked get_return_object() { return tracked{std::coroutine_handle<promise_type>::from_promise(*this)}; }
        auto yield_value(int next)
        {
            value = next;
            return await_transform(std::suspend_always());
        }
        void return_void() {}
        void unhandled_exception()
        {
#if defined(__clang__) && __clang_major__ < 17 // see examples/coroutine.hpp
            thrown = std::current_exception();
#else
            leave();
            throw;
#endif
        }
    };
    std::coroutine_handle<promise_type> handle;
    void resume()
    {
        handle.resume();
        if (handle.promise().thrown) std::rethrow_exception(handle.promise().thrown);
    }
};

static tracked inner(const char *)
{
    PROFILE_SCOPE("generator");
    for (int i = 0; i < 10; ++i) {
        PROFILE_SCOPE("item");
        co_yield i;
    }
    throw 1;
}

struct refuses { // to suspend: the coroutine goes on
    bool await_ready() { return false; }
    bool await_suspend(std::coroutine_handle<>) { return false; }
    int await_resume() { return 7; }
};
struct fails {
    bool await_ready() { return false; }
    void await_suspend(std::coroutine_handle<>) { throw 2; }
    void await_resume() {}
};

static tracked outer(const char *, int *sum)
{
    PROFILE_SCOPE("around");
    tracked items = inner("inner");
    for (int i = 0; i < 5; ++i) {
        PROFILE_SCOPE("take");
        items.handle.resume();
        PROFILE_MARK("taken");
        *sum += items.handle.promise().value;
        co_await std::suspend_always();
    }
    co_await std::suspend_never();
    *sum += co_await refuses();
    try {
        co_await fails();
    } catch (int) {
        PROFILE_MARK("caught");
    }
    int thrown = 0;
    try {
        while (true) items.resume();
    } catch (int number) {
        thrown = number;
    }
    PROFILE_MARK("after the throw");
    *sum += thrown;
    coroutine_track::destroy(items.handle);
    tracked unfinished = inner("unfinished");
    unfinished.handle.resume();
    coroutine_track::destroy(unfinished.handle);
    PROFILE_MARK("end");
}

struct unless { // waits unless it is told not to
    const bool *stop;
    bool await_ready() const { return *stop; }
    void await_suspend(std::coroutine_handle<>) const {}
    void await_resume() const {}
};

struct yielding {
    struct promise_type : coroutine_track {
        bool stop = false;
        promise_type() : coroutine_track("yielding") {}
        yielding get_return_object() { return yielding{std::coroutine_handle<promise_type>::from_promise(*this)}; }
        auto yield_value(int) { return await_transform(unless{&stop}); } // what it waits with is gone when it returns
        void return_void() {}
        void unhandled_exception() {}
    };
    std::coroutine_handle<promise_type> handle;
};

static yielding three_times()
{
    for (int i = 0; i < 3; ++i) co_yield i;
}

TEST(yields_keep_what_they_wait_with)
{
    yielding generator = three_times();
    int resumed = 0;
    for (; !generator.handle.done(); ++resumed) generator.handle.resume();
    CHECK_EQUAL(resumed, 4);
    coroutine_track::destroy(generator.handle);
}

TEST(tracks_of_coroutines_switch_by_themselves)
{
    prof_config config = trace_config(1 << 20);
    int sum = 0;
    trace_start(&config);
    tracked job = outer("outer", &sum);
    for (int i = 0; !job.handle.done(); ++i) {
        auto resume = [&] {
            PROFILE_SCOPE("resumes");
            job.handle.resume();
            PROFILE_MARK("resumed");
        };
        if (i % 2)
            std::thread(resume).join();
        else
            resume();
    }
    coroutine_track::destroy(job.handle);
    PROFILE_MARK("all");
    prof_trace *trace = trace_stop();
    CHECK_EQUAL(sum, 0 + 1 + 2 + 3 + 4 + 7 + 1);
    CHECK_EQUAL(prof_trace_about(trace)->unmatched, 0);
    static const struct {
        const char *track, *name;
        size_t count;
    } expected[] = {{"outer", "around", 1},    {"outer", "take", 5},      {"outer", "taken", 5},
                    {"outer", "caught", 1},    {"outer", "end", 1},       {"outer", "after the throw", 1},
                    {"outer", "item", 0},      {"outer", "resumed", 0},   {"inner", "generator", 1},
                    {"inner", "item", 10},     {"inner", "taken", 0},     {"unfinished", "item", 1},
                    {"unfinished", "end", 0},  {"unfinished", "generator", 1}};
    for (const auto &each : expected) {
        trace_list list = trace_read(trace, trace_track_named(trace, each.track));
        CHECK_EQUAL(trace_count(&list, each.name), each.count);
        for (size_t k = 0; k < list.count; ++k) CHECK_EQUAL(list.events[k].flags, 0);
        trace_free(&list);
    }
    prof_trace_close(trace);
    prof_reset();
}

// prof::traced: a scope over co_await is one on each thread on which the coroutine ran; the time between is in none.
struct simple {
    struct promise_type {
        simple get_return_object() { return simple{std::coroutine_handle<promise_type>::from_promise(*this)}; }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        void return_void() {}
        void unhandled_exception() {}
    };
    std::coroutine_handle<promise_type> handle;
};
struct answers { // by an operator; does not always wait
    int value;
    auto operator co_await() const
    {
        struct awaiter {
            int number;
            bool await_ready() const { return number % 2 == 0; }
            bool await_suspend(std::coroutine_handle<>) const { return number != 3; }
            int await_resume() const { return number; }
        };
        return awaiter{value};
    }
};
static simple traced_job(int *sum)
{
    prof::resumable part(prof::static_name("part"));
    PROFILE_MARK("begins");
    co_await prof::traced(part, std::suspend_always());
    PROFILE_MARK("after one");
    for (int i = 0; i < 4; ++i) *sum += co_await prof::traced(part, answers{i}); // waits at 1, and nearly at 3
    std::suspend_always last;
    co_await prof::traced(part, last);
}

TEST(scopes_over_awaits)
{
    prof_config config = trace_config(1 << 20);
    int sums[3] = {0, 0, 0};
    std::vector<simple> jobs;
    trace_start(&config);
    for (int &sum : sums) jobs.push_back(traced_job(&sum)); // all wait at once
    for (int step = 0; step < 3; ++step) {
        std::thread([&] {
            PROFILE_THREAD("other");
            PROFILE_SCOPE("resumes");
            for (simple &job : jobs) job.handle.resume();
        }).join();
        PROFILE_SCOPE("between");
    }
    for (simple &job : jobs) job.handle.destroy();
    prof_trace *trace = trace_stop();
    size_t parts = 0;
    for (size_t track = 0; track < prof_trace_track_count(trace); ++track) {
        trace_list list = trace_read(trace, track);
        for (size_t i = 0; i < list.count; ++i) {
            const prof_event &event = list.events[i];
            CHECK_EQUAL(event.flags, 0);
            if (strcmp(event.name, "part")) continue;
            ++parts;
            CHECK_EQUAL(event.type, PROF_EVENT_SCOPE); // none overlaps another
            CHECK_EQUAL(event.depth, !strcmp(prof_trace_track(trace, track)->name, "other") ? 1 : 0);
        }
        trace_free(&list);
    }
    for (int sum : sums) CHECK_EQUAL(sum, 6);
    CHECK_EQUAL(parts, (1 + 1 + 2 + 1) * 3); // from the begin, after one, after 1 and 3, after the last
    CHECK_EQUAL(prof_trace_about(trace)->unmatched, 0);
    prof_trace_close(trace);
}

/*-- what libraries do --*/

// A lazy task that goes on with the coroutine that waits for it, by symmetric transfer. Closed: its coroutines wait for
// nothing else.
template <typename Value> struct result {
    Value value{};
    void return_value(Value given) { value = static_cast<Value &&>(given); }
    Value take() { return static_cast<Value &&>(value); }
};
template <> struct result<void> {
    void return_void() {}
    void take() {}
};
struct stay { // waits until somebody resumes it
    std::coroutine_handle<> *place;
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> handle) const noexcept { *place = handle; }
    void await_resume() const noexcept {}
};
template <typename Value, bool closed> struct lazy {
    struct promise_type : result<Value> {
        std::coroutine_handle<> next = std::noop_coroutine();
        std::exception_ptr thrown;
        lazy get_return_object() { return lazy(std::coroutine_handle<promise_type>::from_promise(*this)); }
        std::suspend_always initial_suspend() noexcept { return {}; }
        auto final_suspend() noexcept
        {
            struct transfer {
                bool await_ready() noexcept { return false; }
                std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> ended) noexcept
                {
                    return ended.promise().next;
                }
                void await_resume() noexcept {}
            };
            return transfer();
        }
        void unhandled_exception() { thrown = std::current_exception(); }
        template <typename Other> lazy<Other, closed> &&await_transform(lazy<Other, closed> &&own)
            requires(closed)
        {
            return static_cast<lazy<Other, closed> &&>(own);
        }
        stay await_transform(stay own)
            requires(closed)
        {
            return own;
        }
        template <typename Any> Any &&await_transform(Any &&any)
            requires(!closed)
        {
            return static_cast<Any &&>(any);
        }
    };
    explicit lazy(std::coroutine_handle<promise_type> own) : handle(own) {}
    lazy(lazy &&other) noexcept : handle(other.handle) { other.handle = nullptr; }
    ~lazy()
    {
        if (handle) handle.destroy();
    }
    bool await_ready() const noexcept { return false; }
    std::coroutine_handle<> await_suspend(std::coroutine_handle<> waits) noexcept
    {
        handle.promise().next = waits;
        return handle;
    }
    Value await_resume()
    {
        if (handle.promise().thrown) std::rethrow_exception(handle.promise().thrown);
        return handle.promise().take();
    }
    std::coroutine_handle<promise_type> handle;
};
typedef std::unique_ptr<int> only_moved;

template <bool closed> static lazy<only_moved, closed> gives(int value)
{
    PROFILE_SCOPE("child");
    co_return only_moved(new int(value));
}
template <bool closed> static lazy<int, closed> fails_with(int value)
{
    PROFILE_SCOPE("child");
    if (value) throw value;
    co_return 0;
}
template <bool closed> static lazy<void, closed> resumed_elsewhere(std::coroutine_handle<> *place)
{
    co_await stay{place};
}
static lazy<void, true> only_its_own(std::coroutine_handle<> *place, int *sum)
{
    prof::resumable part(prof::static_name("part"));
    only_moved value = PROFILE_AWAIT(part, gives<true>(1));
    *sum += *value + *PROFILE_AWAIT(part, gives<true>(2));
    try {
        PROFILE_AWAIT(part, fails_with<true>(3));
    } catch (int thrown) {
        PROFILE_MARK("caught");
        *sum += thrown;
    }
    PROFILE_AWAIT(part, resumed_elsewhere<true>(place));
    PROFILE_MARK("elsewhere");
    PROFILE_AWAIT(part, stay{place});
    PROFILE_MARK("never");
}
struct convertible { // to bool, where it is tested
    bool value;
    explicit operator bool() const { return value; }
};
struct picky { // an awaiter that can neither be copied nor moved, and throws instead of being suspended
    int number;
    explicit picky(int given) : number(given) {}
    picky(picky &&) = delete;
    convertible await_ready() { return {number == 0}; }
    void await_suspend(std::coroutine_handle<>)
    {
        if (number == 3) throw number;
    }
    int &await_resume() { return number; }
};
static lazy<void, false> anything(std::coroutine_handle<> *place, int *sum)
{
    prof::resumable part(prof::static_name("part"));
    only_moved value = co_await prof::traced(part, gives<false>(1));
    *sum += *value + *co_await prof::traced(part, gives<false>(2));
    try {
        co_await prof::traced(part, picky(3));
    } catch (int thrown) {
        PROFILE_MARK("caught");
        *sum += thrown;
    }
    *sum += co_await prof::traced(part, picky(0)); // need not wait
    co_await prof::traced(part, resumed_elsewhere<false>(place));
    PROFILE_MARK("elsewhere");
    co_await prof::traced(part, stay{place});
    PROFILE_MARK("never");
}

static void check_many(lazy<void, true> (*closed)(std::coroutine_handle<> *, int *),
                       lazy<void, false> (*open)(std::coroutine_handle<> *, int *))
{
    const size_t COUNT = 500;
    prof_config config = trace_config(8 << 20);
    std::vector<std::coroutine_handle<>> places(COUNT), jobs;
    int sum = 0;
    trace_start(&config);
    for (size_t i = 0; i < COUNT; ++i) {
        if (closed) {
            lazy<void, true> job = closed(&places[i], &sum);
            jobs.push_back(std::exchange(job.handle, nullptr));
        } else {
            lazy<void, false> job = open(&places[i], &sum);
            jobs.push_back(std::exchange(job.handle, nullptr));
        }
        jobs.back().resume(); // all wait at once
    }
    std::thread([&] {
        PROFILE_THREAD("other");
        for (size_t i = 0; i < COUNT; ++i) std::exchange(places[i], nullptr).resume();
    }).join();
    for (std::coroutine_handle<> job : jobs) job.destroy(); // they wait
    prof_trace *trace = trace_stop();
    CHECK_EQUAL(sum, COUNT * 6);
    CHECK_EQUAL(prof_trace_about(trace)->unmatched, 0);
    CHECK_EQUAL(prof_trace_track_count(trace), 2);
    size_t parts[2] = {0, 0};
    for (size_t track = 0; track < prof_trace_track_count(trace); ++track) {
        const bool other = !strcmp(prof_trace_track(trace, track)->name, "other");
        trace_list list = trace_read(trace, track);
        for (size_t i = 0; i < list.count; ++i) {
            const prof_event &event = list.events[i];
            CHECK_EQUAL(event.flags, 0);
            if (!strcmp(event.name, "part") || !strcmp(event.name, "child")) CHECK_EQUAL(event.depth, 0); // not in another
            if (!strcmp(event.name, "caught") || !strcmp(event.name, "elsewhere")) CHECK_EQUAL(event.depth, 1); // in a part
        }
        parts[other] += trace_count(&list, "part");
        CHECK_EQUAL(trace_count(&list, "caught"), other ? 0 : COUNT);
        CHECK_EQUAL(trace_count(&list, "child"), other ? 0 : (closed ? 3 : 2) * COUNT);
        CHECK_EQUAL(trace_count(&list, "elsewhere"), other ? COUNT : 0);
        CHECK_EQUAL(trace_count(&list, "never"), 0);
        trace_free(&list);
    }
    CHECK_EQUAL(parts[0], 4 * COUNT); // before each wait
    CHECK_EQUAL(parts[1], COUNT);     // none is begun where the coroutine is destroyed
    prof_trace_close(trace);
    prof_reset();
}

TEST(scopes_over_awaits_of_a_promise_that_takes_only_its_own) { check_many(only_its_own, nullptr); }
TEST(scopes_over_awaits_of_anything) { check_many(nullptr, anything); }
#else
TEST(scopes_over_awaits_of_a_promise_that_takes_only_its_own) { SKIP("the compiler has no C++20 coroutines"); }
TEST(scopes_over_awaits_of_anything) { SKIP("the compiler has no C++20 coroutines"); }
TEST(scopes_over_awaits) { SKIP("the compiler has no C++20 coroutines"); }
TEST(tracks_of_coroutines_switch_by_themselves) { SKIP("the compiler has no C++20 coroutines"); }
TEST(yields_keep_what_they_wait_with) { SKIP("the compiler has no C++20 coroutines"); }
TEST(coroutines_on_two_threads) { SKIP("the compiler has no C++20 coroutines"); }
#endif

TEST_MAIN
