// C++20 coroutines: each is a fiber; what it records stays on its track whoever resumes it.
#include "../prof_read.h"
#include "test.h"
#include "trace.h"

#if defined(__cpp_impl_coroutine)
#include "../examples/coroutine.hpp"
#include "../prof.hpp"
#include <exception>
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
            leave();
            throw;
        }
    };
    std::coroutine_handle<promise_type> handle;
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
        while (true) items.handle.resume();
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
#else
TEST(scopes_over_awaits) { SKIP("the compiler has no C++20 coroutines"); }
TEST(tracks_of_coroutines_switch_by_themselves) { SKIP("the compiler has no C++20 coroutines"); }
TEST(yields_keep_what_they_wait_with) { SKIP("the compiler has no C++20 coroutines"); }
TEST(coroutines_on_two_threads) { SKIP("the compiler has no C++20 coroutines"); }
#endif

TEST_MAIN
