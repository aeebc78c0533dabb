// Scopes in odd places of C++: destructors of thread_local and static objects, exceptions, threads that are cancelled.
/* run: optimised */
#include "../prof_read.h"
#include "test.h"
#include "trace.h"
#include <pthread.h>
#include <stdexcept>
#include <thread>
#include <unistd.h>

struct recorder { // records when it is made, and when it is destroyed
    const char *name;
    explicit recorder(const char *n) : name(n) { PROFILE_SCOPE_DYNAMIC(name); }
    ~recorder() { PROFILE_SCOPE_DYNAMIC(name); }
};

static recorder static_object("static object"); // before main, and after it

static void touch(const recorder &object)
{
    PROFILE_MARK_DYNAMIC(object.name);
}

static void use_thread_locals()
{
    static thread_local recorder first("first");
    static thread_local recorder second("second");
    PROFILE_SCOPE("thread");
    touch(first);
    touch(second);
}

TEST(thread_local_destructors)
{
    prof_config config = trace_config(1 << 20);
    trace_start(&config);
    for (int i = 0; i < 10; ++i) std::thread(use_thread_locals).join();
    prof_trace *trace = trace_stop();
    size_t first = 0, second = 0;
    for (size_t i = 0; i < prof_trace_track_count(trace); ++i) {
        trace_list list = trace_read(trace, i);
        first += trace_count(&list, "first");
        second += trace_count(&list, "second");
        for (size_t k = 0; k < list.count; ++k) CHECK_EQUAL(list.events[k].flags, 0);
        trace_free(&list);
    }
    CHECK_EQUAL(first, 30);
    CHECK_EQUAL(second, 30);
    CHECK_EQUAL(prof_trace_about(trace)->lost, 0);
    prof_trace_close(trace);
    prof_reset();
}

static void throw_and_catch()
{
    PROFILE_THREAD("std::thread");
    PROFILE_SCOPE("in a thread");
    try {
        PROFILE_SCOPE("throwing");
        throw std::runtime_error("thrown");
    } catch (const std::exception &) {
        PROFILE_MARK("caught");
    }
}

// Threads that end give what is left of their chunk to the next: else 500 would need as many chunks, and there are 60.
TEST(threads_that_end_give_their_chunks_back)
{
    prof_config config = trace_config(1 << 20);
    config.mode = PROF_FILL;
    trace_start(&config);
    for (int i = 0; i < 500; ++i) std::thread(throw_and_catch).join();
    prof_trace *trace = trace_stop();
    CHECK_EQUAL(prof_trace_about(trace)->lost, 0);
    CHECK_EQUAL(prof_trace_about(trace)->unmatched, 0);
    CHECK_EQUAL(prof_trace_about(trace)->event_count, 1500);
    prof_trace_close(trace);
    prof_reset();
}

static void fall(int depth)
{
    PROFILE_SCOPE("falling");
    PROFILE_ARG_I("depth", depth);
    PROFILE_BLOCK("block")
    {
        PROFILE_STAGE("stage");
        PROFILE_NEXT("next");
        if (!depth) throw std::runtime_error("thrown");
        fall(depth - 1);
    }
}

TEST(exceptions)
{
    prof_config config = trace_config(1 << 20);
    trace_start(&config);
    for (int i = 0; i < 100; ++i) {
        PROFILE_SCOPE("catching");
        try {
            fall(i % 10);
        } catch (const std::exception &) {
            PROFILE_MARK("caught");
        }
    }
    prof_trace *trace = trace_stop();
    trace_list list = trace_read(trace, 0);
    CHECK_EQUAL(trace_count(&list, "catching"), 100);
    CHECK_EQUAL(trace_count(&list, "falling"), 550);
    CHECK_EQUAL(trace_count(&list, "next"), 550);
    for (size_t k = 0; k < list.count; ++k) {
        CHECK_EQUAL(list.events[k].flags, 0);
        if (!strcmp(list.events[k].name, "caught")) CHECK_EQUAL(list.events[k].depth, 1);
    }
    CHECK_EQUAL(prof_trace_about(trace)->unmatched, 0);
    trace_free(&list);
    prof_trace_close(trace);
    prof_reset();
}

static int inside;
static void *cancelled(void *)
{
    PROFILE_SCOPE("cancelled");
    recorder object("object of the cancelled");
    __atomic_store_n(&inside, 1, __ATOMIC_RELEASE);
    for (;;) pause();
    return nullptr;
}

// The C library unwinds the stack of a thread that is cancelled: scopes end, and so do objects that contain some.
TEST(cancelled_threads)
{
#if defined(__GLIBC__)
    prof_config config = trace_config(1 << 20);
    trace_start(&config);
    for (int i = 0; i < 10; ++i) {
        pthread_t thread;
        __atomic_store_n(&inside, 0, __ATOMIC_RELEASE);
        pthread_create(&thread, nullptr, cancelled, nullptr);
        WAIT_UNTIL(__atomic_load_n(&inside, __ATOMIC_ACQUIRE));
        pthread_cancel(thread);
        pthread_join(thread, nullptr);
    }
    prof_trace *trace = trace_stop();
    size_t found = 0, objects = 0;
    for (size_t i = 0; i < prof_trace_track_count(trace); ++i) {
        trace_list list = trace_read(trace, i);
        found += trace_count(&list, "cancelled");
        objects += trace_count(&list, "object of the cancelled");
        for (size_t k = 0; k < list.count; ++k) CHECK_EQUAL(list.events[k].flags, 0);
        trace_free(&list);
    }
    CHECK_EQUAL(found, 10);
    CHECK_EQUAL(objects, 20);
    prof_trace_close(trace);
    prof_reset();
#else
    SKIP("only glibc unwinds the stack of a cancelled thread");
#endif
}

TEST(static_objects) // what this program is doing, too, before main and after it: nothing records, nothing breaks
{
    prof_config config = trace_config(1 << 20);
    trace_start(&config);
    touch(static_object);
    prof_trace *trace = trace_stop();
    CHECK_EQUAL(prof_trace_about(trace)->event_count, 1);
    prof_trace_close(trace);
    prof_reset();
}

TEST_MAIN
