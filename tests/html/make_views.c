/* Records what tests of the page can count: steps, memory by scope, a lock and who waits for it, arguments, and rows of
   what a thread does, as a kernel's recorder makes them: make_views PREFIX. Writes PREFIX.prof, PREFIX.html, and
   PREFIX.both.html, which has such rows of another recording; and PREFIX.ring.html, steps and frames of which a ring
   has overwritten the first. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "../../prof_html.h"
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
