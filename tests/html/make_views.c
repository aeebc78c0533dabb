/* Records what tests of the page can count: steps, memory by scope, a lock and who waits for it, arguments, and rows of
   what a thread does, as a kernel's recorder makes them: make_views PREFIX. Writes PREFIX.prof, PREFIX.html, and
   PREFIX.both.html, which has such rows of another recording; PREFIX.ring.html, steps and frames of which a ring has
   overwritten the first; and PREFIX.numbers.prof and .html, counters of all kinds of values, and flows whose numbers a
   double cannot hold. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "../../prof_html.h"
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int waits; /* threads that are about to wait */
static prof_fiber *row;

static long thread_id(void) { return (long)syscall(SYS_gettid); }

static void rest(int ms) { poll(NULL, 0, ms); }

/* The row goes from one state to the next. NULL: there is none. */
#define STATE(before, after)                                                                                           \
    do {                                                                                                               \
        prof_fiber_switch(row);                                                                                        \
        if (*(before)) PROFILE_END(before);                                                                            \
        if (*(after)) PROFILE_BEGIN_C(after, "sched");                                                                 \
        prof_fiber_switch(NULL);                                                                                       \
    } while (0)

static void *waiter(void *name)
{
    prof_set_thread_name((const char *)name);
    PROFILE_SCOPE("queue up");
    PROFILE_LOCK_WAIT(&mutex, "the lock");
    __atomic_fetch_add(&waits, 1, __ATOMIC_SEQ_CST);
    pthread_mutex_lock(&mutex);
    PROFILE_LOCK_ACQUIRE(&mutex, "the lock");
    rest(1);
    PROFILE_LOCK_RELEASE(&mutex, "unlock"); /* as PROFILE_MUTEX_UNLOCK does, which knows no name */
    pthread_mutex_unlock(&mutex);
    return NULL;
}

static void locks(void)
{
    pthread_t threads[2];
    static char names[2][16] = {"waiter 1", "waiter 2"};
    PROFILE_SCOPE("hold");
    pthread_mutex_lock(&mutex);
    PROFILE_LOCK_ACQUIRE(&mutex, "the lock");
    for (int i = 0; i < 2; ++i) pthread_create(&threads[i], NULL, waiter, names[i]);
    while (__atomic_load_n(&waits, __ATOMIC_SEQ_CST) < 2) rest(1);
    PROFILE_LOCK_RELEASE(&mutex, "the lock");
    pthread_mutex_unlock(&mutex);
    for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
}

static void memory(void)
{
    PROFILE_ALLOC(0x1000, 10);
    {
        PROFILE_SCOPE("load");
        for (uintptr_t i = 0; i < 5; ++i) PROFILE_ALLOC(0x2000 + i * 256, 100);
        for (uintptr_t i = 0; i < 3; ++i) PROFILE_FREE(0x2000 + i * 256);
        {
            PROFILE_SCOPE("unpack");
            PROFILE_ALLOC(0x3000, 4000);
        }
    }
    PROFILE_SCOPE("clean");
    PROFILE_FREE(0x3000);
}

static void steps(void)
{
    for (int i = 0; i < 12; ++i) {
        PROFILE_STEP("train", i);
        for (int k = 0; k < 2; ++k) {
            PROFILE_SCOPE("layer");
            PROFILE_ARG_I("depth", k);
            PROFILE_ARG_S("kind", k ? "dense" : "conv");
            if (k && i % 4 == 3) rest(3);
        }
    }
}

/* Names by a format, with scopes in them. */
static void formats(void)
{
    PROFILE_SCOPE("all queries");
    for (int i = 0; i < 40; ++i) {
        PROFILE_SCOPE_F("SELECT %d FROM t", i % 20);
        PROFILE_SCOPE("fetch");
        if (i == 7) rest(2);
    }
}

static pthread_barrier_t turn; /* requests go to the threads in turn */

static void *serve(void *first)
{
    prof_set_thread_name(first ? "server 1" : "server 0");
    for (int i = first ? 1 : 0; i < 3000; i += 2) {
        {
            PROFILE_FRAME("turn");
            PROFILE_STEP("request", 7000 + i);
            PROFILE_SCOPE("parse");
            for (int k = 0; k < 10; ++k) PROFILE_BLOCK("field") {}
        }
        if (i % 100 < 2) pthread_barrier_wait(&turn);
    }
    return NULL;
}

/* Steps and frames on two threads, in a ring that keeps the last of them only. */
static void requests(void)
{
    pthread_t threads[2];
    pthread_barrier_init(&turn, NULL, 2);
    for (uintptr_t i = 0; i < 2; ++i) pthread_create(&threads[i], NULL, serve, (void *)i);
    for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
    PROFILE_SCOPE("after them");
}

static int record_in(const char *path, size_t size)
{
    prof_config config;
    memset(&config, 0, sizeof config);
    config.output = path;
    config.buffer_size = size;
    config.mode = PROF_RING;
    config.clock = PROF_CLOCK_MONOTONIC;
    return prof_start(&config) != PROF_OK;
}

static int record(const char *path) { return record_in(path, 4 << 20); }

/* Numbers that formatters could write differently: at the edges of units and of digits, halves, signs, no numbers at
   all; then others, the same in each run. Each is a counter, whose name is its place here. */
static const double edges[] = {
    0, -0.0, 1, -1, 0.5, -0.5, 0.05, 0.1, 0.09999, 1.5, 2.5, 9.9994, 9.9995, 9.99951, 12.345, 12.25, 99.99, 99.994, 99.995, 123.45, 999,
    999.5, 999.94, 999.95, 999.96, 1000, 1023, 1024, 1234.5, 9999.5, 12345.25, -12345.25, 99999.95, 99999.96, 100000.5, 123456.5,
    999949, 999950, 999999.5, 1e6, 1048576, -2048, 1234567, 1234567.5, -7654321.25, 1e9, 1e12, 9.9994e14, 1e15, 123456789012345678.0,
    9007199254740991.0, 9007199254740992.0, 9007199254740994.0, 4503599627370495.5, 1e17, 9.99e17, 1e18, -1e18, 1e20, 1.5e300, -1e-3,
    1e-4, 0.00012345678, 9.999e-5, 1e-5, -2.5e-7, 1e-13, 5e-324, 1.7976931348623157e308, 1 / 3.0, 2 / 3.0, 1e5 / 3, 1e10 / 3};

static void count(int number, double value, const char *unit)
{
    char name[32];
    snprintf(name, sizeof name, "n%d", number);
    prof_counter *counter = prof_counter_create_unit(NULL, name, unit);
    prof_counter_set_double(counter, value);
    prof_counter_destroy(counter);
}

static int numbers(const char *prefix)
{
    static const char *const units[] = {"", "B", "ns", "us", "s", "%"};
    char path[500];
    uint64_t seed = 1;
    int number = 0;
    snprintf(path, sizeof path, "%s.numbers.prof", prefix);
    if (record(path)) return 1;
    for (int unit = 0; unit < 6; ++unit) {
        const double others[] = {(double)INFINITY, -(double)INFINITY, (double)NAN};
        for (size_t i = 0; i < sizeof edges / sizeof *edges; ++i) count(number++, edges[i], units[unit]);
        for (size_t i = 0; i < 3; ++i) count(number++, others[i], units[unit]);
        for (int i = 0; i < 100; ++i) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            count(number++, (double)(int64_t)(seed >> 11) / (double)((int64_t)1 << (seed >> 5 & 63)), units[unit]);
        }
    }
    const uint64_t large = (uint64_t)1 << 63;
    for (uint64_t i = 0; i < 3; ++i) PROFILE_FLOW_OUT(large + i);
    for (uint64_t i = 0; i < 3; ++i) PROFILE_FLOW_IN(large + i);
    if (prof_stop()) return 1;
    prof_trace *trace;
    if (prof_trace_open(path, &trace)) return 1;
    snprintf(path, sizeof path, "%s.numbers.html", prefix);
    prof_status status = prof_html_write(trace, path, NULL);
    prof_trace_close(trace);
    return status != PROF_OK;
}

int main(int argc, char **argv)
{
    char path[4096], other[4096], kernel[4096], page[4096], name[64];
    prof_trace *traces[2];
    if (argc < 2) return 2;
    snprintf(path, sizeof path, "%s.prof", argv[1]);
    snprintf(other, sizeof other, "%s.other.prof", argv[1]);
    snprintf(kernel, sizeof kernel, "%s.kernel.prof", argv[1]);
    if (record(path)) return 3;
    PROFILE_THREAD("worker of all");
    snprintf(name, sizeof name, "main %ld: states", thread_id());
    row = prof_fiber_create(name);
    STATE("", "running");
    {
        PROFILE_SCOPE("half asleep");
        for (int i = 0; i < 3; ++i) {
            rest(2);
            STATE("running", "waiting");
            rest(4);
            STATE("waiting", "running");
        }
    }
    memory();
    locks();
    steps();
    formats();
    STATE("running", "");
    if (prof_stop()) return 4;
    if (numbers(argv[1])) return 16;

    if (record(other)) return 10;
    {
        PROFILE_SCOPE("of the program");
        rest(1);
    }
    if (prof_stop()) return 11;

    snprintf(page, sizeof page, "%s.ring.prof", argv[1]);
    if (record_in(page, 512 << 10)) return 13;
    requests();
    if (prof_stop() || prof_trace_open(page, &traces[0])) return 14;
    snprintf(page, sizeof page, "%s.ring.html", argv[1]);
    if (prof_html_write(traces[0], page, NULL)) return 15;
    prof_trace_close(traces[0]);

    if (record(kernel)) return 5;
    snprintf(name, sizeof name, "stranger %ld: states", thread_id()); /* of another machine, say */
    row = prof_fiber_create(name);
    STATE("", "running");
    STATE("running", "");
    snprintf(name, sizeof name, "make_views %ld: states", thread_id()); /* as the program is called */
    row = prof_fiber_create(name);
    STATE("", "running");
    STATE("running", "");
    if (prof_stop()) return 6;

    if (prof_trace_open(path, &traces[0]) || prof_trace_open(kernel, &traces[1])) return 7;
    snprintf(page, sizeof page, "%s.html", argv[1]);
    if (prof_html_write(traces[0], page, NULL)) return 8;
    prof_trace_close(traces[0]);
    if (prof_trace_open(other, &traces[0])) return 12;
    snprintf(page, sizeof page, "%s.both.html", argv[1]);
    if (prof_html_merge((const prof_trace *const *)traces, 2, page, NULL)) return 9;
    prof_trace_close(traces[0]);
    prof_trace_close(traces[1]);
    return 0;
}
