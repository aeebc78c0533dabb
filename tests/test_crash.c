/* What is left of a program that dies: a recording into a mapped file survives SIGKILL, signals, _exit and exec, with
   every event that was there before. */
#include "../prof_read.h"
#include "test.h"
#include "trace.h"
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { WRITERS = 4 };

/* What the child tells the parent; in shared memory. */
typedef struct progress {
    long done[WRITERS]; /* newest number whose scopes have ended, -1: none */
    int ready;
} progress;

static progress *shared;

static void shared_make(void)
{
    if (!shared)
        shared = (progress *)mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < WRITERS; ++i) shared->done[i] = -1;
    shared->ready = 0;
}

static void start_into(const char *path, size_t buffer_size)
{
    prof_config config = trace_config(buffer_size);
    config.output = path;
    if (prof_start(&config)) {
        printf("child: prof_start: %s\n", prof_error());
        _exit(99);
    }
}

static void child_begins(void)
{
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    signal(SIGABRT, SIG_DFL);
    signal(SIGSEGV, SIG_DFL);
}

static void *writer(void *which)
{
    long index = (long)(intptr_t)which;
    char name[16];
    snprintf(name, sizeof name, "writer %ld", index);
    PROFILE_THREAD(name);
    for (long i = 0;; ++i) {
        {
            PROFILE_SCOPE("outer");
            PROFILE_ARG_I("number", i);
            if (i % 8 == 0) PROFILE_MARK_F("mark %ld", i);
            if (i % 16 == 0) PROFILE_ARG_S("text", "a text of several words");
            PROFILE_BLOCK("inner") PROFILE_COUNTER("counter", i);
        }
        __atomic_store_n(&shared->done[index], i, __ATOMIC_RELEASE);
    }
    return NULL;
}

static void child_of_writers(const char *path)
{
    pthread_t threads[WRITERS];
    child_begins();
    start_into(path, 1u << 20);
    for (int i = 0; i < WRITERS; ++i)
        if (pthread_create(&threads[i], NULL, writer, (void *)(intptr_t)i)) _exit(98);
    __atomic_store_n(&shared->ready, 1, __ATOMIC_RELEASE);
    for (;;) pause();
}

/* One track of a killed writer: every number up to the one that was published, whole but for the newest. */
static void check_writer(const prof_trace *trace, size_t track, long published)
{
    trace_list list = trace_read(trace, track);
    int64_t expected = -1, newest = -1, newest_counter = -1;
    int open = 0;
    char mark[32];
    for (size_t i = 0; i < list.count && test_failures < 20; ++i) {
        const prof_event *event = &list.events[i];
        CHECK(event->type != PROF_EVENT_LOST);
        if (event->flags & PROF_TRUNCATED_BEGIN) CHECK(i < 2);
        if (event->flags & PROF_TRUNCATED_END) ++open;
        if (event->type == PROF_EVENT_COUNTER) {
            if (expected >= 0) CHECK_EQUAL(event->value.as.i, expected - 1);
            newest_counter = event->value.as.i;
        } else if (event->type == PROF_EVENT_MARK) {
            snprintf(mark, sizeof mark, "mark %ld", (long)(expected - 1));
            if (expected >= 0) CHECK_TEXT(event->name, mark);
        } else if (!strcmp(event->name, "outer")) {
            const prof_value *number = trace_arg(event, "number"), *text = trace_arg(event, "text");
            CHECK_EQUAL(event->depth, 0);
            if (!number) {
                CHECK(event->flags != 0);
                continue;
            }
            if (expected >= 0) CHECK_EQUAL(number->as.i, expected);
            expected = number->as.i + 1;
            if (!(event->flags & PROF_TRUNCATED_END)) newest = number->as.i;
            if (text) CHECK_TEXT(text->as.string, "a text of several words");
            if (!event->flags) CHECK_EQUAL(text != NULL, number->as.i % 16 == 0);
        }
    }
    CHECK(open <= 2);
    if (newest < 0) newest = newest_counter; /* only the end of one unit is left, or nothing of this track */
    if (newest >= 0) CHECK(newest >= published);
    trace_free(&list);
}

TEST(killed_at_any_moment)
{
    char path[256];
    unsigned random = 12345;
    long times = trace_times(5, 25, 1000);
    snprintf(path, sizeof path, "%s", trace_path("killed.prof"));
    for (long i = 0; i < times && !test_failures; ++i) {
        int status = 0;
        long published[WRITERS];
        shared_make();
        unlink(path);
        pid_t child = fork();
        if (!child) child_of_writers(path);
        WAIT_UNTIL(__atomic_load_n(&shared->ready, __ATOMIC_ACQUIRE) || waitpid(child, &status, WNOHANG));
        random = random * 1103515245u + 12345u;
        pause_us((long)(random >> 16) % 20000);
        kill(child, SIGKILL);
        waitpid(child, &status, 0);
        CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        for (int k = 0; k < WRITERS; ++k) published[k] = shared->done[k];
        prof_trace *trace = trace_open_file(path);
        if (!trace) break;
        const prof_trace_info *info = prof_trace_about(trace);
        CHECK_EQUAL(info->complete, 0);
        CHECK_EQUAL(info->lost, 0);
        /* an argument may be all that is left of a scope: begun too long ago, and not ended */
        CHECK(info->unmatched <= (info->overwritten_chunks ? WRITERS : 0));
        CHECK(info->pid == (uint64_t)child);
        for (int k = 0; k < WRITERS; ++k) {
            char name[16];
            snprintf(name, sizeof name, "writer %d", k);
            size_t track = trace_track_named(trace, name);
            if (track < prof_trace_track_count(trace))
                check_writer(trace, track, published[k]);
            else if (!info->overwritten_chunks) /* else it may have stood still for so long that it is overwritten */
                CHECK_EQUAL(published[k], -1);
        }
        prof_trace_close(trace);
        if (test_failures) printf("  after kill %ld; the file is kept\n", i);
    }
    if (!test_failures) unlink(path);
}

/*-- ways to die --*/

static void nothing(int signal_number) { (void)signal_number; }

static void *exits(void *unused)
{
    exit(7);
    return unused;
}

static void die(int way, const char *path)
{
    volatile int *null = NULL;
    child_begins();
    start_into(path, 256u << 10);
    PROFILE_SCOPE("outer");
    PROFILE_ARG_S("why", "to be found later");
    PROFILE_BLOCK("done") PROFILE_COUNTER("counter", way);
    PROFILE_BEGIN("begin");
    PROFILE_SCOPE_F("inner of %.1f", way + 0.5); /* formatted by the reader */
    PROFILE_MARK("last words");
    signal(SIGUSR1, nothing);
    raise(SIGUSR1);
    switch (way) {
    case 0: raise(SIGKILL); break;
    case 1: _exit(7);
    case 2: abort();
    case 3: *null = 1; break;
    case 4: execl("/bin/sh", "sh", "-c", "exit 7", (char *)NULL); break;
    case 5: raise(SIGTERM); break;
    case 6: exit(7); /* without prof_stop */
    case 7: quick_exit(7);
    default: { /* another thread's exit() */
        pthread_t thread;
        pthread_create(&thread, NULL, exits, NULL);
        for (;;) pause();
    }
    }
    _exit(97);
}

TEST(ways_to_die)
{
    for (int way = 0; way < 9; ++way) {
        char path[256], inner[32];
        int status = 0;
        snprintf(path, sizeof path, "%s", trace_path("died.prof"));
        snprintf(inner, sizeof inner, "inner of %d.5", way);
        unlink(path);
        fflush(stdout);
        pid_t child = fork();
        if (!child) {
            if (!freopen("/dev/null", "w", stderr)) _exit(96); /* what sanitizers and valgrind say about it */
            die(way, path);
        }
        waitpid(child, &status, 0);
        if (way == 0) CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        if (way == 1 || way == 4 || way >= 6) CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
        prof_trace *trace = trace_open_file(path);
        if (!trace) continue;
        trace_list list = trace_read(trace, 0);
        static const char *const names[] = {"outer", "done", "counter", "begin"};
        CHECK_EQUAL(list.count, 6);
        for (size_t i = 0; i < 4 && i < list.count; ++i) CHECK_TEXT(list.events[i].name, names[i]);
        if (list.count == 6) {
            CHECK_TEXT(list.events[4].name, inner);
            CHECK_TEXT(list.events[5].name, "last words");
            CHECK_EQUAL(list.events[0].flags, PROF_TRUNCATED_END);
            CHECK_EQUAL(list.events[1].flags, 0);
            CHECK_EQUAL(list.events[3].flags, PROF_TRUNCATED_END);
            CHECK_EQUAL(list.events[4].flags, PROF_TRUNCATED_END);
            CHECK_EQUAL(list.events[4].depth, 2);
            CHECK_TEXT(list.events[0].args[0].value.as.string, "to be found later");
            CHECK(trace_end(&list.events[0]) >= list.events[5].start_ns);
        }
        CHECK_EQUAL(prof_trace_about(trace)->complete, way == 6 || way == 8); /* exit() ends the session */
        CHECK_EQUAL(prof_trace_about(trace)->unmatched, 0);
        if (test_failures) printf("  way %d\n", way);
        trace_free(&list);
        prof_trace_close(trace);
        unlink(path);
    }
}

/*-- the file and other people --*/

/* Of two programs that record at the same time the second takes another name or, if it was told to, that of the first,
   which then goes on with a file that has none, and is told in the end. */
static void two_programs(prof_existing existing)
{
    int replaces = existing == PROF_EXISTING_REPLACE;
    pid_t children[2];
    unlink(trace_path("shared.prof"));
    unlink(trace_path("shared.2.prof"));
    fflush(stdout);
    shared_make();
    for (int i = 0; i < 2; ++i) {
        int status = 0;
        children[i] = fork();
        if (!children[i]) {
            child_begins();
            prof_config config = trace_config(1u << 20);
            config.output = trace_path("shared.prof");
            config.existing = existing;
            trace_start(&config);
            PROFILE_MARK("first");
            __atomic_store_n(&shared->ready, i + 1, __ATOMIC_RELEASE);
            for (int k = 0; k < 600000 && __atomic_load_n(&shared->ready, __ATOMIC_ACQUIRE) < 2; ++k) {
                PROFILE_SCOPE("scope");
                pause_us(100);
            }
            PROFILE_MARK("last");
            _exit(prof_stop() != (replaces && i == 0 ? PROF_IO : PROF_OK));
        }
        WAIT_UNTIL(__atomic_load_n(&shared->ready, __ATOMIC_ACQUIRE) > i || waitpid(children[i], &status, WNOHANG));
    }
    for (int i = 0; i < 2; ++i) {
        int status = 0;
        waitpid(children[i], &status, 0);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    for (int i = 0; i < 2 - replaces; ++i) {
        prof_trace *trace = trace_open_file(trace_path(i ? "shared.2.prof" : "shared.prof"));
        if (!trace) continue;
        CHECK(prof_trace_about(trace)->pid == (uint64_t)children[replaces ? 1 : i]);
        CHECK_EQUAL(prof_trace_about(trace)->complete, 1);
        prof_trace_close(trace);
    }
    CHECK((trace_file_size(trace_path("shared.2.prof")) > 0) == !replaces);
    unlink(trace_path("shared.prof"));
    unlink(trace_path("shared.2.prof"));
}

TEST(two_programs_one_path)
{
    two_programs(PROF_EXISTING_AUTO);
    two_programs(PROF_EXISTING_REPLACE);
}

/* Any number of programs may start at the same moment: each has a file of its own. */
TEST(many_programs_one_path)
{
    enum { MANY = 8 };
    char path[256];
    pid_t children[MANY];
    snprintf(path, sizeof path, "%s", trace_path("crowd.prof"));
    fflush(stdout);
    for (long round = 0; round < trace_times(2, 10, 200) && !test_failures; ++round) {
        unlink(path);
        shared_make();
        for (int i = 0; i < MANY; ++i) {
            children[i] = fork();
            if (children[i]) continue;
            child_begins();
            prof_config config = trace_config(128u << 10);
            config.output = path;
            config.existing = PROF_EXISTING_AUTO;
            while (!__atomic_load_n(&shared->ready, __ATOMIC_ACQUIRE)) continue;
            trace_start(&config);
            for (int k = 0; k < 10000; ++k) PROFILE_MARK("mark");
            __atomic_fetch_add(&shared->done[0], 1, __ATOMIC_RELEASE);
            WAIT_UNTIL(__atomic_load_n(&shared->done[0], __ATOMIC_ACQUIRE) >= MANY - 1); /* all have recorded: it began at -1 */
            _exit(prof_stop() != PROF_OK);
        }
        pause_us(2000);
        __atomic_store_n(&shared->ready, 1, __ATOMIC_RELEASE);
        for (int i = 0; i < MANY; ++i) {
            int status = 0;
            waitpid(children[i], &status, 0);
            CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
        }
        for (int i = 1; i <= MANY; ++i) {
            char name[64];
            snprintf(name, sizeof name, i > 1 ? "crowd.%d.prof" : "crowd.prof", i);
            prof_trace *trace = trace_open_file(trace_path(name));
            if (trace) CHECK_EQUAL(prof_trace_about(trace)->complete, 1);
            prof_trace_close(trace);
            unlink(trace_path(name));
        }
    }
}

TEST(removed_while_recording)
{
    char path[256];
    prof_config config = trace_config(256u << 10);
    snprintf(path, sizeof path, "%s", trace_path("removed.prof"));
    config.output = path;
    trace_start(&config);
    for (int i = 0; i < 1000; ++i) PROFILE_MARK("before");
    CHECK_EQUAL(unlink(path), 0);
    for (int i = 0; i < 100000; ++i) PROFILE_MARK("after");
    CHECK_EQUAL(prof_save(trace_path("removed.csv")), PROF_OK);
    CHECK_EQUAL(prof_stop(), PROF_IO);
    CHECK(strstr(prof_error(), "removed.prof was removed") != NULL);
    prof_trace *trace = trace_live();
    CHECK(prof_trace_about(trace)->event_count > 1000);
    prof_trace_close(trace);
    CHECK_EQUAL(trace_file_size(path), -1);
    CHECK_EQUAL(prof_reset(), PROF_OK);
}

/* A file that was cut short, at any length, and then one that is whole but full of zeros from there on. */
TEST(cut_files_are_errors)
{
    char path[256], cut[256];
    prof_config config = trace_config(128u << 10);
    prof_trace *trace = NULL;
    size_t size = 0;
    snprintf(path, sizeof path, "%s", trace_path("whole.prof"));
    snprintf(cut, sizeof cut, "%s", trace_path("cut.prof"));
    config.output = path;
    trace_start(&config);
    for (int i = 0; i < 20000; ++i) {
        PROFILE_SCOPE("scope");
        PROFILE_ARG_S("key", "some text");
    }
    CHECK_EQUAL(prof_stop(), PROF_OK);
    char *bytes = trace_file_text(path, &size);
    CHECK(bytes != NULL && size > 100000);
    if (!bytes) return;
    for (size_t length = 0; length < size; length = length < 1000 ? length + 13 : length + length / 7) {
        trace_write_file(cut, bytes, length);
        prof_status status = prof_trace_open(cut, &trace);
        CHECK_EQUAL(status, PROF_CORRUPT);
        CHECK(strstr(prof_error(), "cut.prof") != NULL);
        CHECK(trace == NULL);
        if (test_failures) {
            printf("  at length %lu: %s\n", (unsigned long)length, prof_error());
            prof_trace_close(trace);
            break;
        }
    }
    for (size_t length = 0; length < size; length = length < 1000 ? length + 13 : length + length / 7) {
        char *half = (char *)calloc(1, size);
        memcpy(half, bytes, length);
        trace_write_file(cut, half, size);
        prof_status status = prof_trace_open(cut, &trace);
        CHECK(status == PROF_OK || status == PROF_CORRUPT || status == PROF_UNSUPPORTED);
        if (status == PROF_OK) trace_check(trace);
        if (status == PROF_OK) prof_trace_close(trace);
        free(half);
        if (test_failures) printf("  zeros from %lu on\n", (unsigned long)length);
        if (test_failures) break;
    }
    free(bytes);
    unlink(path);
    CHECK_EQUAL(prof_trace_open(path, &trace), PROF_IO);
    CHECK(strstr(prof_error(), "whole.prof") != NULL);
    CHECK_EQUAL(prof_trace_open("build", &trace), PROF_IO);
    CHECK_EQUAL(prof_trace_open("/dev/null", &trace), PROF_CORRUPT);
    CHECK_EQUAL(prof_trace_open(NULL, &trace), PROF_INVALID_ARGUMENT);
}

TEST_MAIN
