// C++20 coroutines: a generator and a task that two threads resume in turns, each with a track of its own. Their scopes
// stay open while they wait.
//
//     c++ -std=c++20 -O2 examples/coroutine.cpp -o coroutine -pthread && ./coroutine
//
// Then drag coroutine.json into https://ui.perfetto.dev.
#define PROF_IMPLEMENTATION
#include "../prof_chrome.h"
#include "coroutine.hpp"
#include <cstdio>
#include <exception>
#include <thread>

struct numbers {
    struct promise_type : coroutine_track {
        int value = 0;
        promise_type() : coroutine_track("generator") {}
        numbers get_return_object() { return numbers{std::coroutine_handle<promise_type>::from_promise(*this)}; }
        auto yield_value(int next)
        {
            value = next;
            return await_transform(std::suspend_always());
        }
        void return_void() {}
        void unhandled_exception() { std::terminate(); }
    };
    std::coroutine_handle<promise_type> handle;

    bool next()
    {
        handle.resume();
        return !handle.done();
    }
    int value() const { return handle.promise().value; }
    void destroy() { coroutine_track::destroy(handle); }
};

static volatile int sink;

static void work()
{
    PROFILE_SCOPE("work");
    for (int i = 0; i < 20000; ++i) sink = i;
}

static numbers primes()
{
    PROFILE_SCOPE("primes"); // open for as long as the generator lives
    for (int candidate = 2;; ++candidate) {
        PROFILE_SCOPE("candidate");
        PROFILE_ARG("number", candidate);
        work();
        int divisor = 2;
        while (divisor * divisor <= candidate && candidate % divisor) ++divisor;
        if (divisor * divisor > candidate) co_yield candidate;
    }
}

struct task {
    struct promise_type : coroutine_track {
        promise_type() : coroutine_track("task") {}
        task get_return_object() { return task{std::coroutine_handle<promise_type>::from_promise(*this)}; }
        void return_void() {}
        void unhandled_exception() { std::terminate(); }
    };
    std::coroutine_handle<promise_type> handle;
    void destroy() { coroutine_track::destroy(handle); }
};

static task sum_of_primes(int count, int *sum)
{
    PROFILE_SCOPE("sum");
    numbers source = primes();
    for (int i = 0; i < count && source.next(); ++i) { // the generator's track, and back to this one
        *sum += source.value();
        work();
        co_await std::suspend_always(); // continues when it is resumed, on any thread
    }
    source.destroy();
}

int main()
{
    prof_config config = prof_config();
    config.output = "coroutine.json";
    if (prof_start(&config)) std::fprintf(stderr, "coroutine: no trace: %s\n", prof_error());
    int sum = 0;
    task job = sum_of_primes(20, &sum);
    while (!job.handle.done()) {
        {
            PROFILE_SCOPE("main resumes");
            job.handle.resume();
        }
        std::thread([&] {
            PROFILE_THREAD("helper");
            PROFILE_SCOPE("helper resumes");
            if (!job.handle.done()) job.handle.resume();
        }).join();
    }
    job.destroy();
    std::printf("the first 20 primes: sum %d\n", sum);
    if (prof_enabled() && prof_stop()) std::fprintf(stderr, "coroutine: %s\n", prof_error());
    return sum == 639 ? 0 : 1;
}
