/* test_tally.c - the numbers behind PROFILE_COUNTER_ADD, where 64 bits are not compared and exchanged by one
   instruction: under a lock, which signal handlers must respect. */
/* run: check valgrind unchecked */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include <sys/mman.h>
static int no_memory;
#define mmap(at, size, rights, flags, file, from) \
    (no_memory ? MAP_FAILED : (mmap)(at, size, rights, flags, file, from))
#define PROF__SHARED_COUNTER_WIDE 0 /* as on such a processor */
#define PROF_IMPLEMENTATION
#include "../prof_read.h"
#undef mmap
#include "test.h"
#include "trace.h"
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>

static void start(void)
{
    prof_config config = trace_config(4 << 20);
    trace_start(&config);
}

static prof__shared_counter *tally_of(const char *name)
{
    prof_site site = {0, "", "", "", "", 0, 0, 0, PROF__KIND_BEGIN, 0, 0, 0};
    site.name = name;
    return prof__shared_counter_find(&site);
}

/* A program that does not count has no table. Without memory for it, what is counted is lost, and the next attempt may
   succeed. */
TEST(memory_comes_with_the_first_number)
{
    CHECK(!prof__shared_counters);
    start();
    for (int i = 0; i < 3; ++i) {
        no_memory = i < 2;
        PROFILE_COUNTER_ADD("first", 10);
        CHECK(no_memory == !prof__shared_counters);
    }
    CHECK_EQUAL(tally_of("first")->bits, 10);
    prof_trace *trace = trace_stop();
    CHECK_EQUAL(prof_trace_about(trace)->lost, 2);
    prof_trace_close(trace);
}

/* What finds the lock taken, and can't wait for it any longer, changes nothing, and counts as lost. */
TEST(nobody_goes_round_the_lock)
{
    start();
    for (int i = 0; i < 3; ++i) {
        if (i == 1) tally_of("number")->busy = 1;
        if (i == 2) tally_of("number")->busy = 0;
        PROFILE_COUNTER_ADD("number", 10);
        PROFILE_COUNTER_ADD("other", 1);
    }
    CHECK_EQUAL(tally_of("number")->bits, 20);
    CHECK_EQUAL(tally_of("other")->bits, 3);
    prof_trace *trace = trace_stop();
    CHECK_EQUAL(prof_trace_about(trace)->lost, 1);
    prof_trace_close(trace);
    CHECK_EQUAL(prof_reset(), PROF_OK);
}

static void on_alarm(int number)
{
    (void)number;
    PROFILE_COUNTER_ADD("hits", 1);
}

static void *adds(void *argument)
{
    long times = *(const long *)argument;
    for (long i = 0; i < times; ++i) PROFILE_COUNTER_ADD("sum", (int64_t)1 << 31); /* across both halves */
    return NULL;
}

TEST(the_sum_is_exact)
{
    enum { THREADS = 3 };
    pthread_t threads[THREADS];
    long times = trace_times(3000, 20000, 1000000), none = 0;
    struct itimerval often = {{0, 500}, {0, 500}}, never = {{0, none}, {0, none}};
    struct sigaction act, before;
    memset(&act, 0, sizeof act);
    act.sa_handler = on_alarm;
    act.sa_flags = SA_RESTART;
    start();
    sigaction(SIGALRM, &act, &before);
    setitimer(ITIMER_REAL, &often, NULL);
    for (int i = 0; i < THREADS; ++i) CHECK(!pthread_create(&threads[i], NULL, adds, &times));
    adds(&times);
    for (int i = 0; i < THREADS; ++i) pthread_join(threads[i], NULL);
    setitimer(ITIMER_REAL, &never, NULL);
    raise(SIGALRM);
    sigaction(SIGALRM, &before, NULL);
    CHECK_EQUAL(tally_of("sum")->bits, ((int64_t)1 << 31) * times * (THREADS + 1));
    CHECK(tally_of("hits")->bits > 0);
    CHECK_EQUAL(prof_stop(), PROF_OK);
    CHECK_EQUAL(prof_reset(), PROF_OK);
}

TEST_MAIN
