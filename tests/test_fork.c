/* A child of a fork is a program of its own: it leaves the parent's recording alone and may start one itself. */
#define PROF_IMPLEMENTATION
#include "../prof.h"
#include "test.h"
#include "trace.h"
#include <pthread.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static prof_trace *trace;
static trace_list list;

static void done(void)
{
    trace_free(&list);
    prof_trace_close(trace);
}

static void pause_ms(long ms)
{
    struct timespec time;
    time.tv_sec = ms / 1000;
    time.tv_nsec = ms % 1000 * 1000000;
    nanosleep(&time, NULL);
}

/* Runs body in a child; 0 if that returned 0. The child says what is wrong with its checks. */
static int in_child(int (*body)(void))
{
    int status = 0;
    fflush(stdout);
    pid_t child = fork();
    if (!child) {
        int result = body();
        fflush(stdout);
        _exit(result || test_failures);
    }
    if (child < 0 || waitpid(child, &status, 0) != child) return -1;
    return status;
}

static int record_without_a_session(void)
{
    CHECK_EQUAL(prof_enabled(), 0);
    for (int i = 0; i < 10000; ++i) {
        PROFILE_SCOPE("child");
        PROFILE_ARG_S("text", "that nobody wants");
        PROFILE_BEGIN("begin");
        PROFILE_THREAD("child");
        PROFILE_END("begin");
    }
    CHECK_EQUAL(prof_stop(), PROF_INVALID_STATE);
    CHECK_EQUAL(prof_trace_live(&trace), PROF_INVALID_STATE);
    CHECK_EQUAL(prof_reset(), PROF_OK);
    return 0;
}

static int record_with_a_session(void)
{
    prof_config config = trace_config(256u << 10);
    record_without_a_session();
    trace_start(&config);
    for (int i = 0; i < 100; ++i) {
        PROFILE_SCOPE("child");
        PROFILE_ARG_I("i", i);
    }
    trace = trace_stop();
    list = trace_read(trace, 0);
    CHECK_EQUAL(list.count, 100);
    CHECK_EQUAL(prof_trace_track_count(trace), 1);
    CHECK(prof_trace_about(trace)->pid == (uint64_t)getpid());
    CHECK(prof_trace_track(trace, 0)->thread_id == prof__thread_id());
    CHECK_EQUAL(prof_trace_about(trace)->unmatched, 0);
    for (size_t i = 0; i < list.count; ++i) CHECK_EQUAL(list.events[i].depth, 0);
    CHECK_EQUAL(prof_save(trace_path("child.prof")), PROF_OK);
    done();
    return 0;
}

static int has_a_grandchild(void)
{
    record_with_a_session();
    CHECK_EQUAL(in_child(record_with_a_session), 0);
    prof_config config = trace_config(256u << 10);
    trace_start(&config);
    PROFILE_MARK("child");
    CHECK_EQUAL(in_child(record_without_a_session), 0);
    PROFILE_MARK("child");
    trace = trace_stop();
    CHECK_EQUAL(prof_trace_about(trace)->event_count, 2);
    prof_trace_close(trace);
    return 0;
}

/* Forks with scopes open; what the parent records is what it would record without. */
static void parent_with(const prof_config *config, int (*body)(void))
{
    for (int round = 0; round < 3; ++round) {
        trace_start(config);
        PROFILE_THREAD("parent");
        {
            PROFILE_SCOPE("outer");
            PROFILE_BEGIN("begin");
            for (int i = 0; i < 3; ++i) {
                PROFILE_SCOPE("around the fork");
                CHECK_EQUAL(in_child(body), 0);
                PROFILE_ARG_I("i", i);
            }
            PROFILE_END("begin");
        }
        CHECK_EQUAL(prof_enabled(), 1);
        trace = trace_stop();
        list = trace_read(trace, 0);
        CHECK_EQUAL(list.count, 5);
        CHECK_EQUAL(trace_count(&list, "around the fork"), 3);
        CHECK_EQUAL(trace_count(&list, "child"), 0);
        for (size_t i = 0; i < list.count; ++i) CHECK_EQUAL(list.events[i].flags, 0);
        CHECK_EQUAL(prof_trace_track_count(trace), 1);
        CHECK_TEXT(prof_trace_track(trace, 0)->name, "parent");
        CHECK_EQUAL(prof_trace_about(trace)->lost, 0);
        CHECK_EQUAL(prof_trace_about(trace)->unmatched, 0);
        done();
    }
}

static void parent_in_every_memory(int (*body)(void))
{
    static uint64_t memory[32 << 10];
    prof_config config = trace_config(256u << 10);
    parent_with(&config, body);
    config.output = trace_path("parent.prof");
    parent_with(&config, body);
    prof_trace *file = trace_open_file(trace_path("parent.prof"));
    if (file) {
        CHECK_EQUAL(prof_trace_about(file)->event_count, 5);
        CHECK(prof_trace_about(file)->pid == (uint64_t)getpid());
        CHECK_EQUAL(prof_trace_about(file)->complete, 1);
    }
    prof_trace_close(file);
    config = trace_config(0);
    config.memory = memory;
    config.memory_size = sizeof memory;
    parent_with(&config, body);
    CHECK_EQUAL(prof_reset(), PROF_OK);
}

TEST(child_that_only_has_scopes) { parent_in_every_memory(record_without_a_session); }
TEST(child_that_records) { parent_in_every_memory(record_with_a_session); }
TEST(grandchild) { parent_in_every_memory(has_a_grandchild); }

/* A stopped session is the parent's, too. */
TEST(child_of_a_stopped_session)
{
    prof_config config = trace_config(256u << 10);
    trace_start(&config);
    PROFILE_MARK("parent");
    CHECK_EQUAL(prof_stop(), PROF_OK);
    CHECK_EQUAL(in_child(record_with_a_session), 0);
    trace = trace_live();
    CHECK_EQUAL(prof_trace_about(trace)->event_count, 1);
    prof_trace_close(trace);
}

/*-- while others are busy --*/

static int over;
static long numbers[4];

static void *records(void *which)
{
    long index = (long)(intptr_t)which;
    char name[16];
    snprintf(name, sizeof name, "thread %ld", index);
    PROFILE_THREAD(name);
    for (long i = 0; !__atomic_load_n(&over, __ATOMIC_ACQUIRE); ++i) {
        PROFILE_SCOPE("scope");
        PROFILE_ARG_I("number", i);
        numbers[index] = i;
    }
    return NULL;
}

TEST(fork_while_threads_record)
{
    if (TRACE_SANITIZER == 2) SKIP("the thread sanitizer can hang in a fork while threads run");
    pthread_t threads[4];
    prof_config config = trace_config(1u << 20);
    trace_start(&config);
    over = 0;
    for (int i = 0; i < 4; ++i) pthread_create(&threads[i], NULL, records, (void *)(intptr_t)i);
    for (int i = 0; i < trace_times(5, 50, 1000) && !test_failures; ++i) CHECK_EQUAL(in_child(record_with_a_session), 0);
    __atomic_store_n(&over, 1, __ATOMIC_RELEASE);
    for (int i = 0; i < 4; ++i) pthread_join(threads[i], NULL);
    trace = trace_stop();
    CHECK_EQUAL(prof_trace_about(trace)->lost, 0);
    CHECK_EQUAL(prof_trace_about(trace)->unmatched, 0);
    for (size_t track = 0; track < prof_trace_track_count(trace); ++track) {
        const char *name = prof_trace_track(trace, track)->name;
        if (strncmp(name, "thread ", 7)) continue;
        list = trace_read(trace, track);
        int64_t expected = -1;
        for (size_t i = 0; i < list.count; ++i) {
            const prof_value *number = trace_arg(&list.events[i], "number");
            CHECK(!strcmp(list.events[i].name, "scope") && (number || !i));
            if (!number) continue;
            if (expected >= 0) CHECK_EQUAL(number->as.i, expected);
            expected = number->as.i + 1;
        }
        if (list.count) CHECK_EQUAL(expected, numbers[atoi(name + 7)] + 1);
        trace_free(&list);
    }
    prof_trace_close(trace);
}

static void *controls(void *unused)
{
    prof_config config = trace_config(128u << 10);
    while (!__atomic_load_n(&over, __ATOMIC_ACQUIRE)) {
        prof_trace *snapshot = NULL;
        prof_start(&config);
        PROFILE_MARK("mark");
        prof_pause();
        prof_resume();
        if (!prof_trace_live(&snapshot)) prof_trace_close(snapshot);
        prof_stop();
        prof_reset();
    }
    return unused;
}

static void *ends_at_once(void *unused)
{
    PROFILE_MARK("mark");
    return unused;
}

static void *makes_threads(void *unused)
{
    while (!__atomic_load_n(&over, __ATOMIC_ACQUIRE)) {
        pthread_t thread;
        if (!pthread_create(&thread, NULL, ends_at_once, NULL)) pthread_join(thread, NULL);
    }
    return unused;
}

/* The fork may come in the middle of any control function, and of the beginning and end of a thread. */
TEST(fork_while_others_control)
{
    if (TRACE_SANITIZER == 2) SKIP("the thread sanitizer can hang in a fork while threads run");
    pthread_t threads[2];
    over = 0;
    pthread_create(&threads[0], NULL, controls, NULL);
    pthread_create(&threads[1], NULL, makes_threads, NULL);
    for (int i = 0; i < trace_times(20, 200, 5000) && !test_failures; ++i) {
        CHECK_EQUAL(in_child(record_with_a_session), 0);
        pause_ms(i % 3 == 0);
    }
    __atomic_store_n(&over, 1, __ATOMIC_RELEASE);
    for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
    CHECK_EQUAL(prof_reset(), PROF_OK);
}

/* The child of a thread that is not the first. */
static void *forks(void *unused)
{
    PROFILE_SCOPE("forks");
    CHECK_EQUAL(in_child(record_with_a_session), 0);
    return unused;
}

TEST(fork_on_another_thread)
{
    if (TRACE_SANITIZER == 2) SKIP("the thread sanitizer can hang in a fork while threads run");
    pthread_t thread;
    prof_config config = trace_config(256u << 10);
    trace_start(&config);
    PROFILE_MARK("first");
    pthread_create(&thread, NULL, forks, NULL);
    pthread_join(thread, NULL);
    trace = trace_stop();
    CHECK_EQUAL(prof_trace_about(trace)->event_count, 2);
    CHECK_EQUAL(prof_trace_track_count(trace), 2);
    prof_trace_close(trace);
}

TEST_MAIN
