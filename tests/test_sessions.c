/* Sessions that begin later than they start and end by themselves, the names of their outputs, their metadata; every
   key of the configuration, ours and those of other systems. */
#include "private.h"
#include "test.h"
#include "trace.h"
#include <pthread.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static prof_trace *trace;
static trace_list list;

static void stop_and_read(void)
{
    trace = trace_stop();
    memset(&list, 0, sizeof list);
    if (prof_trace_track_count(trace)) list = trace_read(trace, 0);
}

static void done(void)
{
    trace_free(&list);
    prof_trace_close(trace);
}

static int error_has(const char *text)
{
    if (strstr(prof_error(), text)) return 1;
    printf("prof_error() is \"%s\" and has no \"%s\"\n", prof_error(), text);
    return 0;
}

#define FAILS(call, status_wanted, text)       \
    do {                                       \
        CHECK_EQUAL(call, status_wanted);      \
        CHECK(error_has(text));                \
    } while (0)

static uint64_t now_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Waits for what comes by itself: a minute at most, because no test depends on how fast this machine is. */
static int until_enabled(int wanted)
{
    WAIT_UNTIL(prof_enabled() == wanted);
    return prof_enabled() == wanted;
}

static int ended(void)
{
    uint32_t write_lock = prof__state_lock();
    int is = prof__state.ended;
    prof__state_unlock(write_lock);
    return is;
}

static int until_there(const char *path)
{
    WAIT_UNTIL(trace_file_size(path) > 0);
    return trace_file_size(path) > 0;
}

/*-- when recording begins and ends --*/

#define STALLED "this machine stood still for longer than the schedule under test"

static void mark(const char *text)
{
    PROFILE_MARK_DYNAMIC(text);
}

TEST(delay)
{
    prof_config config = trace_config(1u << 20);
    uint64_t start = now_ns(CLOCK_MONOTONIC);
    config.delay_ns = 100000000;
    trace_start(&config);
    mark("at once");
    if (prof_enabled() && prof_stop() == PROF_OK) SKIP(STALLED);
    CHECK(until_enabled(1));
    CHECK(now_ns(CLOCK_MONOTONIC) >= start + 100000000);
    mark("later");
    uint64_t later = now_ns(CLOCK_REALTIME);
    stop_and_read();
    CHECK_EQUAL(list.count, 1);
    CHECK(trace_find(&list, "later") && trace_find(&list, "later")->start_ns >= 0);
    /* time 0 is when recording began */
    CHECK(prof_trace_about(trace)->start_unix_ns <= later && prof_trace_about(trace)->start_monotonic_ns >= start + 100000000);
    done();
}

TEST(start_at_a_time_of_day)
{
    prof_config config = trace_config(1u << 20);
    config.start_unix_ns = now_ns(CLOCK_REALTIME) + 100000000;
    trace_start(&config);
    mark("at once");
    if (prof_enabled() && prof_stop() == PROF_OK) SKIP(STALLED);
    CHECK(until_enabled(1));
    CHECK(now_ns(CLOCK_REALTIME) + 2000000 >= config.start_unix_ns); /* the clocks may drift apart by a little */
    mark("later");
    stop_and_read();
    CHECK_EQUAL(list.count, 1);
    done();
    config.start_unix_ns = 1; /* long ago */
    trace_start(&config);
    CHECK_EQUAL(prof_enabled(), 1);
    CHECK(!prof__state.session->service.running || prof__state.session->service.wanted);
    CHECK_EQUAL(prof_stop(), PROF_OK);
}

TEST(sites_are_off_before_it_begins)
{
    static prof_site site = {0, "early", "", __FILE__, "", 1, 0, 1, PROF__KIND_BEGIN, 0, 0, 0};
    prof_config config = trace_config(1u << 20);
    config.delay_ns = 3600ull * 1000000000;
    trace_start(&config);
    CHECK_EQUAL(prof_enabled(), 0);
    CHECK_EQUAL(prof__begin(&site), 0);
    CHECK(!prof__on(&site)); /* and so it costs what one of a level that is off costs */
    CHECK_EQUAL(prof_pause(), PROF_OK);
    CHECK_EQUAL(prof_resume(), PROF_OK);
    CHECK_EQUAL(prof_set_level(7), PROF_OK);
    CHECK_EQUAL(prof_enabled(), 0);
    CHECK_EQUAL(prof__begin(&site), 0);
    CHECK(!prof__on(&site));
    stop_and_read(); /* which does not wait for the hour */
    CHECK_EQUAL(prof_trace_about(trace)->event_count, 0);
    done();
}

TEST(duration)
{
    prof_config config = trace_config(1u << 20);
    const char *path = trace_path("duration.json");
    uint64_t start = now_ns(CLOCK_MONOTONIC);
    unlink(path);
    config.output = path;
    config.duration_ns = 200000000;
    trace_start(&config);
    {
        PROFILE_SCOPE("open");
        mark("inside");
        if (!prof_enabled() && prof_stop() == PROF_OK) SKIP(STALLED);
        CHECK(until_enabled(0));
        CHECK(now_ns(CLOCK_MONOTONIC) >= start + 200000000);
        mark("outside");
        CHECK(until_there(path)); /* nobody has called prof_stop() */
    }
    FAILS(prof_start(NULL), PROF_INVALID_STATE, "ended by itself");
    FAILS(prof_reset(), PROF_INVALID_STATE, "prof_stop()");
    CHECK_EQUAL(prof_pause(), PROF_OK);
    CHECK_EQUAL(prof_resume(), PROF_OK);
    CHECK_EQUAL(prof_set_level(3), PROF_OK);
    CHECK_EQUAL(prof_category_enable("a", 0), PROF_OK);
    CHECK_EQUAL(prof_enabled(), 0);
    mark("outside");
    size_t size, again;
    char *written = trace_file_text(path, &size);
#ifdef _WIN32 /* where a file has its name while it is still being written */
    do {
        again = size;
        pause_ms(200);
        free(written);
        written = trace_file_text(path, &size);
    } while (size != again || !size);
#endif
    stop_and_read(); /* PROF_OK */
    char *text = trace_file_text(path, &again);
    CHECK(written && text && size == again && !memcmp(text, written, size));
    CHECK(text && strstr(text, "\"inside\"") && !strstr(text, "\"outside\""));
    CHECK_EQUAL(list.count, 2);
    CHECK_EQUAL(trace_count(&list, "inside"), 1);
    CHECK(trace_find(&list, "open") && trace_find(&list, "open")->flags & PROF_TRUNCATED_END);
    CHECK_EQUAL(prof_trace_about(trace)->complete, 1);
    free(text);
    free(written);
    done();
    FAILS(prof_stop(), PROF_INVALID_STATE, "no session");
}

TEST(duration_of_a_mapped_file)
{
    prof_config config = trace_config(1u << 20);
    config.output = trace_path("duration.prof");
    config.duration_ns = 200000000;
    trace_start(&config);
    mark("inside");
    if (!prof_enabled() && prof_stop() == PROF_OK) SKIP(STALLED);
    CHECK(until_enabled(0));
    mark("outside");
    prof_trace *file = trace_open_file(trace_path("duration.prof"));
    CHECK_EQUAL(prof_trace_about(file)->complete, 1);
    CHECK_EQUAL(prof_trace_about(file)->event_count, 1);
    prof_trace_close(file);
    CHECK_EQUAL(prof_stop(), PROF_OK);
}

TEST(duration_of_a_stream_and_of_statistics)
{
    static const char *const outputs[] = {"duration-stream.csv", "duration-stats.txt"};
    for (int i = 0; i < 2; ++i) {
        prof_config config = trace_config(1u << 20);
        const char *path = trace_path(outputs[i]);
        char archive[300];
        snprintf(archive, sizeof archive, "%s.prof", path);
        unlink(path);
        config.output = path;
        config.mode = i ? PROF_STATS : PROF_STREAM;
        config.duration_ns = 200000000;
        trace_start(&config);
        for (int k = 0; k < 100; ++k) PROFILE_BLOCK("scope") {}
        if (!prof_enabled() && prof_stop() == PROF_OK) SKIP(STALLED);
        CHECK(until_enabled(0));
        CHECK(until_there(path));
        CHECK_EQUAL(prof_stop(), PROF_OK);
        CHECK_EQUAL(trace_file_size(archive), -1);
        char *text = trace_file_text(path, NULL);
        CHECK(text && strstr(text, "scope"));
        free(text);
    }
}

/* What cannot be written at the end of the duration, prof_stop() tries once more, and tells. */
TEST(duration_and_a_file_that_cannot_be)
{
    prof_config config = trace_config(1u << 20);
    char folder[256];
    snprintf(folder, sizeof folder, "%s", trace_path("goes"));
    char path[300];
    snprintf(path, sizeof path, "%s/away.csv", folder);
    mkdir(folder, 0777);
    config.output = path;
    config.warmup_frames = 1; /* so that the end cannot come while the folder is still there */
    config.duration_ns = 100000000;
    trace_start(&config);
    CHECK_EQUAL(unlink(trace_path("goes/away.csv.prof")), 0);
    CHECK_EQUAL(rmdir(folder), 0);
    trace_write_file(folder, "in the way", 10);
    PROFILE_FRAME("frame");
    CHECK(until_enabled(0) && ended());
    FAILS(prof_stop(), PROF_IO, "away.csv");
    CHECK_EQUAL(unlink(folder), 0);
}

TEST(delay_then_duration_and_restart)
{
    prof_config config = trace_config(1u << 20);
    config.delay_ns = 5000000;
    config.duration_ns = 5000000;
    for (int i = 0; i < 3; ++i) {
        uint64_t start = now_ns(CLOCK_MONOTONIC);
        trace_start(&config);
        WAIT_UNTIL(ended());
        CHECK(now_ns(CLOCK_MONOTONIC) >= start + 10000000);
        CHECK_EQUAL(prof_stop(), PROF_OK);
    }
    trace_start(NULL); /* nothing of that is left */
    CHECK_EQUAL(prof_enabled(), 1);
    mark("now");
    stop_and_read();
    CHECK_EQUAL(list.count, 1);
    done();
}

/*-- warming up --*/

TEST(warmup_by_frames)
{
    prof_config config = trace_config(1u << 20);
    config.warmup_frames = 3;
    trace_start(&config);
    for (int i = 1; i <= 6; ++i) {
        PROFILE_SCOPE("work");
        PROFILE_FRAME("frame");
        PROFILE_MARK_F("after %d", i);
        PROFILE_FRAME("another"); /* does not count */
        CHECK_EQUAL(prof_enabled(), i >= 3);
    }
    stop_and_read();
    CHECK_EQUAL(trace_count(&list, "frame"), 4);
    CHECK_EQUAL(trace_count(&list, "after 2"), 0);
    CHECK_EQUAL(trace_count(&list, "after 3"), 1);
    CHECK_EQUAL(trace_count(&list, "another"), 4);
    CHECK_EQUAL(trace_count(&list, "work"), 3);
    CHECK_EQUAL(trace_find(&list, "frame")->duration_ns, 0);
    CHECK(trace_nth(&list, "frame", 1)->duration_ns > 0);
    done();
}

TEST(warmup_by_steps)
{
    prof_config config = trace_config(1u << 20);
    config.warmup_steps = 2;
    trace_start(&config);
    for (int i = 0; i < 5; ++i) {
        PROFILE_STEP("epoch", i);
        for (int k = 0; k < 3; ++k) {
            PROFILE_STEP("batch", k); /* is not the step that came first */
            PROFILE_MARK("inside");
        }
        CHECK_EQUAL(prof_enabled(), i >= 2);
    }
    stop_and_read();
    CHECK_EQUAL(trace_count(&list, "epoch"), 3);
    CHECK_EQUAL(trace_count(&list, "batch"), 9);
    CHECK_EQUAL(trace_count(&list, "inside"), 9);
    CHECK_EQUAL(trace_arg(trace_find(&list, "epoch"), "step_num")->as.i, 2);
    done();
}

/* Counting is not for sites alone that would be recorded, and not for a session that is paused. */
TEST(warmup_with_levels_and_pauses)
{
    prof_config config = trace_config(1u << 20);
    config.warmup_frames = 2;
    config.categories = "only";
    trace_start(&config);
    CHECK_EQUAL(prof_pause(), PROF_OK);
    for (int i = 0; i < 5; ++i) PROFILE_FRAME("frame");
    CHECK_EQUAL(prof_resume(), PROF_OK);
    CHECK_EQUAL(prof_enabled(), 0);
    for (int i = 0; i < 2; ++i) {
        CHECK_EQUAL(prof_enabled(), 0);
        PROFILE_FRAME("frame");
    }
    CHECK_EQUAL(prof_enabled(), 1);
    PROFILE_MARK_C("mark", "only");
    stop_and_read();
    CHECK_EQUAL(list.count, 1);
    done();
}

TEST(warmup_after_a_delay_then_duration)
{
    prof_config config = trace_config(1u << 20);
    config.delay_ns = 20000000;
    config.warmup_frames = 2;
    config.duration_ns = 20000000;
    uint64_t start = now_ns(CLOCK_MONOTONIC), end;
    trace_start(&config);
    while (!prof_enabled() && !ended() && now_ns(CLOCK_MONOTONIC) < start + 60000000000ull) PROFILE_FRAME("frame");
    CHECK(until_enabled(0) && ended());
    end = now_ns(CLOCK_MONOTONIC);
    stop_and_read();
    CHECK(prof_trace_about(trace)->start_monotonic_ns >= start + 20000000);
    CHECK(end >= prof_trace_about(trace)->start_monotonic_ns + 20000000);
    CHECK_EQUAL(trace_count(&list, "frame"), 1);
    done();
}

#define WORKERS 4
static uint32_t turns;

static void *work(void *unused)
{
    for (int i = 0; i < 1000; ++i) {
        PROFILE_SCOPE("turn");
        PROFILE_FRAME("frame");
        __atomic_fetch_add(&turns, 1, __ATOMIC_RELAXED);
    }
    return unused;
}

/* Each frame counts once, whatever thread it is on: what is missing in the trace is the warm-up, exactly. */
TEST(warmup_on_threads)
{
    prof_config config = trace_config(4u << 20);
    pthread_t threads[WORKERS];
    uint64_t frames = 0;
    config.warmup_frames = 1500;
    trace_start(&config);
    for (int i = 0; i < WORKERS; ++i) pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < WORKERS; ++i) pthread_join(threads[i], NULL);
    trace = trace_stop();
    for (size_t i = 0; i < prof_trace_track_count(trace); ++i) {
        list = trace_read(trace, i);
        frames += trace_count(&list, "frame");
        trace_free(&list);
    }
    /* a frame may begin the recording while another, counted before it, is on its way */
    CHECK_EQUAL(frames + prof_trace_about(trace)->lost, WORKERS * 1000 - 1499);
    prof_trace_close(trace);
}

TEST(schedules_that_start_refuses)
{
    prof_config config = trace_config(1u << 20);
    config.warmup_steps = config.warmup_frames = 1;
    FAILS(prof_start(&config), PROF_INVALID_ARGUMENT, "only one of them");
    config = trace_config(1u << 20);
    config.delay_ns = UINT64_MAX;
    FAILS(prof_start(&config), PROF_INVALID_ARGUMENT, "century");
    config = trace_config(1u << 20);
    config.duration_ns = UINT64_MAX;
    FAILS(prof_start(&config), PROF_INVALID_ARGUMENT, "century");
    config = trace_config(1u << 20);
    config.existing = (prof_existing)9;
    FAILS(prof_start(&config), PROF_INVALID_ARGUMENT, "refuse");
    config = trace_config(1u << 20);
    config.start_unix_ns = UINT64_MAX; /* later than anybody will live */
    trace_start(&config);
    CHECK_EQUAL(prof_enabled(), 0);
    CHECK_EQUAL(prof_stop(), PROF_OK);
}

/*-- children of fork() --*/

/* Runs what the child does; its exit status. */
static int in_child(int (*run)(void))
{
    int status = 0;
    fflush(stdout);
    pid_t child = fork();
    if (!child) {
        int before = test_failures;
        int code = run();
        fflush(stdout);
        _exit(code | (test_failures != before));
    }
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 99;
}

static int child_waits(void)
{
    uint64_t limit = now_ns(CLOCK_MONOTONIC) + 60000000000ull;
    if (prof_enabled()) return 0; /* see STALLED */
    while (!prof_enabled() && now_ns(CLOCK_MONOTONIC) < limit) mark("waiting"); /* no thread but this one */
    CHECK_EQUAL(prof_enabled(), 1);
    mark("child");
    CHECK_EQUAL(prof_stop(), PROF_OK);
    trace = trace_live();
    list = trace_read(trace, 0);
    CHECK_EQUAL(trace_count(&list, "child"), 1);
    CHECK_EQUAL(trace_count(&list, "waiting"), 1); /* the one that found out */
    return 0;
}

static int child_warms_up(void)
{
    for (int i = 0; i < 5; ++i) PROFILE_FRAME("frame");
    CHECK_EQUAL(prof_enabled(), 1);
    CHECK_EQUAL(prof_stop(), PROF_OK);
    trace = trace_live();
    CHECK_EQUAL(prof_trace_about(trace)->event_count, 3);
    return 0;
}

static int child_of_an_ended_session(void)
{
    CHECK_EQUAL(prof_enabled(), 0);
    mark("child");
    return prof_stop() == PROF_INVALID_STATE ? (int)prof_start(NULL) : 7;
}

TEST(forks)
{
    prof_config config = trace_config(1u << 20);
    config.delay_ns = 200000000;
    trace_start(&config);
    CHECK_EQUAL(in_child(child_waits), 0);
    CHECK_EQUAL(prof_stop(), PROF_OK);

    config.delay_ns = 0;
    config.warmup_frames = 4;
    trace_start(&config);
    PROFILE_FRAME("frame");
    CHECK_EQUAL(in_child(child_warms_up), 0);
    CHECK_EQUAL(prof_enabled(), 0);
    CHECK_EQUAL(prof_stop(), PROF_OK);

    config.warmup_frames = 0;
    config.duration_ns = 1000000;
    trace_start(&config);
    CHECK(until_enabled(0));
    CHECK_EQUAL(in_child(child_of_an_ended_session), 0);
    CHECK_EQUAL(prof_stop(), PROF_OK);
}

/*-- waiting for a device --*/

static int waits, waits_in_scope;
static void wait_for_device(void *user)
{
    ++*(int *)user;
    errno = 77;
    PROFILE_SCOPE_SYNC("wait"); /* does not wait for itself */
    PROFILE_SYNC();
}

static void synced(void)
{
    PROFILE_SCOPE_SYNC("synced");
    PROFILE_SYNC();
    PROFILE_MARK("between");
}

TEST(sync)
{
    prof_config config = trace_config(1u << 20);
    waits = 0;
    errno = 5;
    synced(); /* nothing is set, nothing records */
    CHECK_EQUAL(prof_set_sync(wait_for_device, &waits), PROF_OK);
    synced();
    CHECK_EQUAL(waits, 0);
    trace_start(&config);
    errno = 5;
    synced();
    CHECK_EQUAL(waits, 2);
    CHECK_EQUAL(errno, 5);
    CHECK_EQUAL(prof_pause(), PROF_OK);
    synced();
    CHECK_EQUAL(waits, 2);
    CHECK_EQUAL(prof_resume(), PROF_OK);
    CHECK_EQUAL(prof_set_sync(wait_for_device, &waits_in_scope), PROF_OK);
    synced();
    CHECK_EQUAL(waits, 2);
    CHECK_EQUAL(waits_in_scope, 2);
    CHECK_EQUAL(prof_set_sync(NULL, NULL), PROF_OK);
    synced();
    CHECK_EQUAL(prof_set_level(0), PROF_OK);
    CHECK_EQUAL(prof_set_sync(wait_for_device, &waits), PROF_OK);
    synced();
    CHECK_EQUAL(waits, 2);
    stop_and_read();
    CHECK_EQUAL(trace_count(&list, "synced"), 3);
    CHECK_EQUAL(trace_count(&list, "wait"), 4);
    const prof_event *scope = trace_find(&list, "synced"), *wait = trace_nth(&list, "wait", 1);
    CHECK_EQUAL(scope->site->role, PROF_ROLE_SYNC);
    CHECK(wait->start_ns >= trace_find(&list, "between")->start_ns); /* at the end, and inside */
    CHECK(trace_end(wait) <= trace_end(scope));
    done();

    config.no_sync = 1;
    trace_start(&config);
    synced();
    CHECK_EQUAL(waits, 2);
    {
        PROFILE_SCOPE_SYNC("left open");
        CHECK_EQUAL(prof_stop(), PROF_OK);
    }
    config.no_sync = 0;
    trace_start(&config);
    {
        PROFILE_SCOPE_SYNC("of a session that is over");
        CHECK_EQUAL(prof_stop(), PROF_OK);
    }
    CHECK_EQUAL(waits, 2);
    CHECK_EQUAL(prof_set_sync(NULL, NULL), PROF_OK);
}

static int hook_pairs[2], hook_wrong;
static void hook_one(void *user) { hook_wrong += user != &hook_pairs[0]; }
static void hook_two(void *user) { hook_wrong += user != &hook_pairs[1]; }
static void *changes_hooks(void *stop)
{
    while (!__atomic_load_n((int *)stop, __ATOMIC_ACQUIRE)) {
        prof_set_sync(hook_one, &hook_pairs[0]);
        prof_set_sync(hook_two, &hook_pairs[1]);
    }
    return NULL;
}

TEST(sync_while_the_hook_changes)
{
    prof_config config = trace_config(1u << 20);
    pthread_t thread;
    int stop = 0;
    trace_start(&config);
    pthread_create(&thread, NULL, changes_hooks, &stop);
    for (long i = 0; i < trace_times(1000, 100000, 1000000); ++i) PROFILE_SYNC();
    __atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
    pthread_join(thread, NULL);
    CHECK_EQUAL(hook_wrong, 0);
    CHECK_EQUAL(prof_set_sync(NULL, NULL), PROF_OK);
    CHECK_EQUAL(prof_stop(), PROF_OK);
}

/*-- what is known of a session --*/

static const char *metadata(const char *wanted)
{
    const char *key, *value;
    for (size_t i = 0; prof_trace_metadata(trace, i, &key, &value); ++i)
        if (!strcmp(key, wanted)) return value;
    return "(none)";
}

static size_t metadata_count(void)
{
    size_t count = 0;
    while (prof_trace_metadata(trace, count, NULL, NULL)) ++count;
    return count;
}

TEST(metadata_of_a_session)
{
    prof_config config = trace_config(1u << 20);
    const char *path = trace_path("metadata.json"), *key = "", *value = "";
    CHECK_EQUAL(prof_clear_metadata(), PROF_OK);
    CHECK_EQUAL(prof_set_metadata("version", "1"), PROF_OK);
    CHECK_EQUAL(prof_set_metadata("model", "a,b=c:d#e\"f\\g"), PROF_OK);
    CHECK_EQUAL(prof_set_metadata("version", "2"), PROF_OK);
    config.output = path;
    trace_start(&config);
    CHECK_EQUAL(prof_set_metadata("during", "007"), PROF_OK);
    CHECK_EQUAL(prof_set_metadata("empty", ""), PROF_OK);
    CHECK_EQUAL(prof_set_metadata("during", "008"), PROF_OK);
    CHECK_EQUAL(prof_set_metadata("during", "007"), PROF_OK); /* back to what it was */
    trace = trace_stop();
    CHECK_EQUAL(metadata_count(), 4);
    CHECK_TEXT(metadata("version"), "2");
    CHECK_TEXT(metadata("model"), "a,b=c:d#e\"f\\g");
    CHECK_TEXT(metadata("during"), "007");
    CHECK_TEXT(metadata("empty"), "");
    CHECK_EQUAL(prof_trace_metadata(trace, 4, &key, &value), 0);
    CHECK(!key && !value);
    CHECK_EQUAL(prof_trace_metadata(NULL, 0, &key, &value), 0);
    CHECK_EQUAL(prof_summary_write(trace, trace_path("metadata.txt"), NULL), PROF_OK);
    prof_trace_close(trace);
    char *text = trace_file_text(path, NULL);
    CHECK(text && strstr(text, "\"metadata.version\":\"2\"") && strstr(text, "\"metadata.model\":\"a,b=c:d#e\\\"f\\\\g\""));
    CHECK(text && strstr(text, "\"metadata.during\":\"007\""));
    free(text);
    text = trace_file_text(trace_path("metadata.txt"), NULL);
    CHECK(text && strstr(text, "\n  version   2\n") && strstr(text, "\n  during    007\n"));
    free(text);

    trace_start(NULL); /* it stays for the next */
    CHECK_EQUAL(prof_set_metadata("last", "x"), PROF_OK);
    trace = trace_live();
    CHECK_EQUAL(metadata_count(), 5);
    prof_trace_close(trace);
    CHECK_EQUAL(prof_clear_metadata(), PROF_OK);
    CHECK_EQUAL(prof_set_metadata("alone", "y"), PROF_OK);
    trace = trace_stop();
    CHECK_EQUAL(metadata_count(), 1);
    CHECK_TEXT(metadata("alone"), "y");
    prof_trace_close(trace);
    CHECK_EQUAL(prof_clear_metadata(), PROF_OK);
}

TEST(metadata_that_cannot_be)
{
    static char large[5000];
    memset(large, 'x', sizeof large - 1);
    FAILS(prof_set_metadata(NULL, "a"), PROF_INVALID_ARGUMENT, "null");
    FAILS(prof_set_metadata("a", NULL), PROF_INVALID_ARGUMENT, "null");
    FAILS(prof_set_metadata("", "a"), PROF_INVALID_ARGUMENT, "empty");
    CHECK_EQUAL(prof_set_metadata("a", "kept"), PROF_OK);
    FAILS(prof_set_metadata("a", large), PROF_NO_MEMORY, "no space is left");
    large[4000] = 0;
    CHECK_EQUAL(prof_set_metadata("b", large), PROF_OK);
    FAILS(prof_set_metadata("c", large), PROF_NO_MEMORY, "no space is left");
    CHECK_EQUAL(prof_set_metadata("b", "small"), PROF_OK); /* whose place is free again */
    CHECK_EQUAL(prof_set_metadata("c", large), PROF_OK);
    trace_start(NULL);
    trace = trace_stop();
    CHECK_EQUAL(metadata_count(), 3);
    CHECK_TEXT(metadata("a"), "kept");
    CHECK_TEXT(metadata("c"), large);
    prof_trace_close(trace);
    CHECK_EQUAL(prof_clear_metadata(), PROF_OK);
}

static int child_metadata(void)
{
    mark("child");
    CHECK_EQUAL(prof_stop(), PROF_OK);
    trace = trace_live();
    CHECK_TEXT(metadata("who"), "parent");
    CHECK_TEXT(metadata("rank"), "r7");
    return 0;
}

TEST(metadata_of_children)
{
    prof_config config = trace_config(1u << 20);
    config.rank = "r7";
    CHECK_EQUAL(prof_set_metadata("who", "parent"), PROF_OK);
    trace_start(&config);
    CHECK_EQUAL(in_child(child_metadata), 0);
    CHECK_EQUAL(prof_stop(), PROF_OK);
    CHECK_EQUAL(prof_clear_metadata(), PROF_OK);
}

/*-- names --*/

static const char *const launcher_variables[] = {
    "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK", "PMI_SIZE", "MV2_COMM_WORLD_RANK",
    "MV2_COMM_WORLD_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS", "JSM_NAMESPACE_RANK", "JSM_NAMESPACE_SIZE",
    "FLUX_TASK_RANK", "FLUX_JOB_SIZE", "PALS_RANKID", "RANK", "WORLD_SIZE", "SLURM_PROCID", "SLURM_NTASKS"};
static const char *const job_variables[] = {
    "SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "FLUX_JOB_ID", "COBALT_JOBID", "JOB_ID", "TORCHELASTIC_RUN_ID",
    "PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid", "SLURM_STEP_ID", "SLURM_ARRAY_TASK_ID", "PBS_ARRAY_INDEX",
    "PBS_ARRAYID", "LSB_JOBINDEX", "SGE_TASK_ID", "OMPI_COMM_WORLD_LOCAL_RANK", "MV2_COMM_WORLD_LOCAL_RANK",
    "PALS_LOCAL_RANKID", "FLUX_TASK_LOCAL_ID", "LOCAL_RANK", "SLURM_LOCALID"};

static void no_launcher(void)
{
    for (size_t i = 0; i < sizeof launcher_variables / sizeof *launcher_variables; ++i) unsetenv(launcher_variables[i]);
    for (size_t i = 0; i < sizeof job_variables / sizeof *job_variables; ++i) unsetenv(job_variables[i]);
}

/* 1: with this output a session leaves the file `wanted`, which then goes. */
static int leaves(const char *output, const char *rank, const char *wanted)
{
    prof_config config = trace_config(1u << 20);
    char path[256];
    snprintf(path, sizeof path, "%s", trace_path(wanted));
    unlink(path);
    config.output = trace_path(output);
    config.rank = rank;
    if (prof_start(&config) || prof_stop()) {
        printf("%s: %s\n", output, prof_error());
        return 0;
    }
    int there = trace_file_size(path) > 0;
    unlink(path);
    return there;
}

TEST(ranks)
{
    no_launcher();
    CHECK(leaves("rank.csv", NULL, "rank.csv"));
    CHECK(leaves("rank-%r.csv", NULL, "rank-0.csv"));
    CHECK(leaves("rank-%r.csv", "gpu 3", "rank-gpu 3.csv"));
    CHECK(leaves("rank.csv", "0", "rank.0.csv")); /* who says 0 means 0 */
    CHECK(leaves("rank.prof", "12", "rank.12.prof"));
    CHECK(leaves("rank-%%r.csv", "5", "rank-%r.5.csv"));
    for (size_t i = 0; i < sizeof launcher_variables / sizeof *launcher_variables; ++i) {
        if (!strstr(launcher_variables[i], "RANK") && !strstr(launcher_variables[i], "PROCID")) continue;
        if (strstr(launcher_variables[i], "NRANKS")) continue;
        setenv(launcher_variables[i], "17", 1);
        CHECK(leaves("rank.csv", NULL, "rank.17.csv"));
        CHECK(leaves("rank-%r.csv", NULL, "rank-17.csv"));
        CHECK(leaves("rank-%r.csv", "mine", "rank-mine.csv"));
        setenv(launcher_variables[i], "0", 1);
        CHECK(leaves("rank.csv", NULL, "rank.csv")); /* one process, as far as is known */
        unsetenv(launcher_variables[i]);
    }
    setenv("RANK", "0", 1);
    setenv("WORLD_SIZE", "1", 1);
    CHECK(leaves("rank.csv", NULL, "rank.csv"));
    setenv("WORLD_SIZE", "8", 1);
    CHECK(leaves("rank.csv", NULL, "rank.0.csv"));
    setenv("RANK", "first", 1); /* somebody else's variable */
    CHECK(leaves("rank.csv", NULL, "rank.csv"));
    no_launcher();
    prof_config config = trace_config(1u << 20);
    config.rank = "a/b";
    FAILS(prof_start(&config), PROF_INVALID_ARGUMENT, "a/b");
    config.rank = "";
    FAILS(prof_start(&config), PROF_INVALID_ARGUMENT, "rank");
}

static const char *metadata_of(const prof_trace *of, const char *wanted)
{
    const char *key, *value;
    for (size_t i = 0; prof_trace_metadata(of, i, &key, &value); ++i)
        if (!strcmp(key, wanted)) return value;
    return "";
}

TEST(jobs)
{
    no_launcher();
    CHECK(leaves("job-%j.csv", NULL, "job-0.csv"));
    for (size_t i = 0; i < 9; ++i) {
        setenv(job_variables[i], i ? "4711.head/node" : "4711", 1);
        CHECK(leaves("job-%j.csv", NULL, i ? "job-4711.head_node.csv" : "job-4711.csv"));
        unsetenv(job_variables[i]);
    }
    setenv("TORCHELASTIC_RUN_ID", "none", 1); /* its default */
    CHECK(leaves("job-%j.csv", NULL, "job-0.csv"));
    setenv("SLURM_JOB_ID", "4711", 1);
    setenv("SLURM_STEP_ID", "0", 1);
    CHECK(leaves("job-%j.csv", NULL, "job-4711.csv"));
    setenv("SLURM_STEP_ID", "2", 1);
    setenv("SLURM_ARRAY_TASK_ID", "0", 1);
    setenv("SLURM_LOCALID", "3", 1);
    CHECK(leaves("job-%j.csv", NULL, "job-4711.2.csv"));
    prof_trace *live = NULL;
    CHECK_EQUAL(prof_trace_open_live(&live), PROF_OK);
    CHECK_TEXT(metadata_of(live, "job"), "4711");
    CHECK_TEXT(metadata_of(live, "job step"), "2");
    CHECK_TEXT(metadata_of(live, "array task"), "0");
    CHECK_TEXT(metadata_of(live, "local rank"), "3");
    prof_trace_close(live);
    no_launcher();
}

/* Processes of a job that begin in different seconds write into one folder: the first one's time is that of all. */
TEST(a_job_has_one_time)
{
    char path[256], text[16] = "";
#ifdef _WIN32
    SKIP("Windows: each process has a time of its own");
#endif
    no_launcher();
    setenv("SLURM_JOB_ID", "99", 1);
    setenv("RANK", "0", 1);
    setenv("WORLD_SIZE", "2", 1);
    snprintf(path, sizeof path, "%s", trace_path("once/.prof-job-99"));
    unlink(path);
    prof_config config = trace_config(1u << 20);
    config.output = trace_path("once/%t/%r.csv");
    CHECK(!prof_start(&config) && !prof_stop());
    FILE *file = fopen(path, "r");
    CHECK(file && fread(text, 1, 15, file) == 15);
    if (file) fclose(file);
    snprintf(path, sizeof path, "once/%s/0.csv", text);
    CHECK(trace_file_size(trace_path(path)) > 0);
    file = fopen(trace_path("once/.prof-job-99"), "w");
    if (file) fputs("20000102-030405", file), fclose(file);
    setenv("RANK", "1", 1);
    CHECK(leaves("once/%t/%r.csv", NULL, "once/20000102-030405/1.csv"));
    file = fopen(trace_path("once/.prof-job-99"), "w"); /* somebody else's */
    if (file) fputs("../../../../tmp", file), fclose(file);
    CHECK(!leaves("once/%t/%r.csv", NULL, "once/../../../../tmp/1.csv"));
    unsetenv("WORLD_SIZE");
    unsetenv("RANK");
    file = fopen(trace_path("once/.prof-job-99"), "w");
    if (file) fputs("20000102-030405", file), fclose(file);
    CHECK(!leaves("once/%t/x.csv", NULL, "once/20000102-030405/x.csv")); /* one process alone has its own time */
    no_launcher();
}

TEST(hosts)
{
    char host[200], wanted[256];
    CHECK_EQUAL(gethostname(host, 64), 0);
    snprintf(wanted, sizeof wanted, "host-%s.csv", host);
    CHECK(leaves("host-%h.csv", NULL, wanted));
}

static int existing_after(const char *name, prof_existing existing, const char *words)
{
    prof_config config = trace_config(1u << 20);
    config.output = trace_path(name);
    config.existing = existing;
    prof_status status = prof_start(&config);
    if (status) return strstr(prof_error(), words) ? (int)status : -1;
    mark("new");
    return (int)prof_stop();
}

TEST(existing_files)
{
    static const char *const names[] = {"existing.csv", "existing.prof"};
    for (int i = 0; i < 2; ++i) {
        const char *name = names[i];
        char second[64], third[64];
        snprintf(second, sizeof second, "existing.2%s", i ? ".prof" : ".csv");
        snprintf(third, sizeof third, "existing.3%s", i ? ".prof" : ".csv");
        unlink(trace_path(second));
        unlink(trace_path(third));
        trace_write_file(trace_path(name), "old", 3);
        CHECK_EQUAL(existing_after(name, PROF_EXISTING_REFUSE, "refuse"), PROF_IO);
        CHECK_EQUAL(trace_file_size(trace_path(name)), 3);
        CHECK_EQUAL(existing_after(name, PROF_EXISTING_NUMBER, ""), PROF_OK);
        CHECK_EQUAL(trace_file_size(trace_path(name)), 3);
        CHECK(trace_file_size(trace_path(second)) > 3);
        CHECK_EQUAL(existing_after(name, PROF_EXISTING_NUMBER, ""), PROF_OK);
        CHECK(trace_file_size(trace_path(third)) > 3);
        CHECK_EQUAL(existing_after(name, PROF_EXISTING_REPLACE, ""), PROF_OK);
        CHECK(trace_file_size(trace_path(name)) > 3);
        unlink(trace_path(name));
        CHECK_EQUAL(existing_after(name, PROF_EXISTING_REFUSE, ""), PROF_OK);
        CHECK(trace_file_size(trace_path(name)) > 3);
        unlink(trace_path(name));
        name = i ? "same.prof" : "same.csv"; /* a name that is the same in each run */
        trace_write_file(trace_path(name), "old", 3);
        CHECK_EQUAL(existing_after(name, PROF_EXISTING_AUTO, ""), PROF_OK);
        CHECK(trace_file_size(trace_path(name)) > 3);
        unlink(trace_path(name));
        unlink(trace_path(second));
        unlink(trace_path(third));
    }
}

/* Two runs in one second; a process id that comes again. */
TEST(names_of_one_run_are_never_replaced)
{
    char name[64], second[64];
    snprintf(name, sizeof name, "run-%ld.csv", (long)getpid());
    snprintf(second, sizeof second, "run-%ld.2.csv", (long)getpid());
    trace_write_file(trace_path(name), "old", 3);
    unlink(trace_path(second));
    CHECK_EQUAL(existing_after("run-%p.csv", PROF_EXISTING_AUTO, ""), PROF_OK);
    CHECK_EQUAL(trace_file_size(trace_path(name)), 3);
    CHECK(trace_file_size(trace_path(second)) > 3);
    CHECK_EQUAL(existing_after("run-%p.csv", PROF_EXISTING_REPLACE, ""), PROF_OK);
    CHECK(trace_file_size(trace_path(name)) > 3);
    unlink(trace_path(name));
    unlink(trace_path(second));
}

static int child_takes_a_name(void)
{
    return existing_after("many.csv", PROF_EXISTING_NUMBER, "");
}

/* Processes that start at the same time get names of their own: no file is lost, none is empty. */
TEST(names_of_many_processes)
{
    enum { MANY = 12 };
    pid_t children[MANY];
    char name[64];
    for (int i = 1; i < 100; ++i) {
        snprintf(name, sizeof name, i > 1 ? "many.%d.csv" : "many.csv", i);
        unlink(trace_path(name));
    }
    fflush(stdout);
    for (int i = 0; i < MANY; ++i)
        if (!(children[i] = fork())) _exit(child_takes_a_name());
    for (int i = 0; i < MANY; ++i) {
        int status = 0;
        waitpid(children[i], &status, 0);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    for (int i = 1; i <= MANY + 1; ++i) {
        snprintf(name, sizeof name, i > 1 ? "many.%d.csv" : "many.csv", i);
        CHECK((trace_file_size(trace_path(name)) > 0) == (i <= MANY));
        unlink(trace_path(name));
    }
}

/* A start that fails, and a stop that cannot write, leave no empty file. */
TEST(names_that_were_taken_in_vain)
{
    prof_config config = trace_config(1u << 20);
    config.output = trace_path("vain.csv");
    config.existing = PROF_EXISTING_NUMBER;
    config.save_over = "frame>1ms"; /* without save */
    unlink(config.output);
    CHECK_EQUAL(prof_start(&config), PROF_INVALID_ARGUMENT);
    CHECK_EQUAL(trace_file_size(trace_path("vain.csv")), -1);
}

static int child_writes(void)
{
    mark("child");
    return (int)prof_stop();
}

/* A stream goes on beyond 2 and 4 GiB also where long and off_t have 32 bits. The file is sparse: its archive begins
   far behind the ring. */
TEST(a_stream_beyond_four_gigabytes)
{
    const char *path = trace_path("beyond.prof"), *copy = trace_path("beyond.copy.prof");
    const uint64_t far_away = (5ull << 30) + 4096;
    prof_config config = trace_config(256 << 10);
    uint64_t at = 0;
    size_t size;
    config.mode = PROF_STREAM;
    config.output = path;
    config.wait_ns = 10000000000u;
    unlink(path);
    trace_start(&config);
    prof__header *h = prof__state.session->header;
    h->archive_offset = h->archive_first = h->archive_next = far_away;
    for (int i = 0; i < 40000; ++i) PROFILE_COUNTER("far", i);
    CHECK_EQUAL(prof_save(copy), PROF_OK);
    CHECK(trace_file_size(copy) > 0);
    stop_and_read();
    CHECK_EQUAL(trace_count(&list, "far"), 40000);
    CHECK(h->archive_next > far_away);
    done();
    CHECK_EQUAL(prof_reset(), PROF_OK);
    FILE *file = prof__file_open(path, "rb");
    CHECK(file && prof__read_size(file, &at) && at > far_away);
    if (file) fclose(file);
    trace = trace_open_file(path);
    if (!trace) return;
    list = trace_read(trace, 0);
    CHECK_EQUAL(trace_count(&list, "far"), 40000);
    CHECK_EQUAL(prof_csv_write(trace, trace_path("beyond.csv")), PROF_OK);
    done();
    char *text = trace_file_text(trace_path("beyond.csv"), &size);
    CHECK(text && strstr(text, "39999"));
    free(text);

    config.existing = PROF_EXISTING_REFUSE; /* a file of that size is there */
    FAILS(prof_start(&config), PROF_IO, "exists already");
    config.existing = PROF_EXISTING_AUTO;
    config.mode = PROF_RING;
    trace_start(&config);
    PROFILE_MARK("small");
    CHECK_EQUAL(prof_stop(), PROF_OK);
    CHECK(trace_file_size(path) > 0 || trace_file_size(trace_path("beyond.2.prof")) > 0);
    CHECK_EQUAL(prof_reset(), PROF_OK);
    unlink(path);
    unlink(trace_path("beyond.2.prof"));
}

TEST(existing_files_of_children)
{
    prof_config config = trace_config(1u << 20);
    config.output = trace_path("parent.csv");
    config.existing = PROF_EXISTING_NUMBER;
    config.rank = "3";
    unlink(trace_path("parent.3.csv"));
    trace_start(&config);
    fflush(stdout);
    pid_t child = fork();
    if (!child) {
        char name[64];
        snprintf(name, sizeof name, "parent.3.%ld.csv", (long)getpid());
        trace_write_file(trace_path(name), "old", 3); /* of another process of this number */
        _exit(child_writes());
    }
    int status = 0;
    char name[64];
    waitpid(child, &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    CHECK_EQUAL(prof_stop(), PROF_OK);
    snprintf(name, sizeof name, "parent.3.%ld.csv", (long)child);
    CHECK_EQUAL(trace_file_size(trace_path(name)), 3);
    unlink(trace_path(name));
    snprintf(name, sizeof name, "parent.3.%ld.2.csv", (long)child);
    CHECK(trace_file_size(trace_path(name)) > 3);
    unlink(trace_path(name));
    CHECK(trace_file_size(trace_path("parent.3.csv")) > 3);
    unlink(trace_path("parent.3.csv"));
}

/*-- a part of the ranks in detail --*/

/* Records as a rank, and returns how the trace was recorded. */
static prof_mode mode_of_rank(const char *ranks, const char *rank)
{
    prof_config config = trace_config(1u << 20);
    prof_trace *live;
    prof_mode mode;
    config.ranks = ranks;
    config.rank = rank;
    trace_start(&config);
    for (int i = 0; i < 3; ++i) PROFILE_BLOCK("step") continue;
    CHECK_EQUAL(prof_trace_open_live(&live), PROF_OK);
    mode = prof_trace_about(live)->mode;
    CHECK_EQUAL(prof_trace_about(live)->event_count, mode == PROF_STATS ? 0 : 3);
    prof_trace_close(live);
    CHECK_EQUAL(prof_stop(), PROF_OK);
    return mode;
}

/* Returns the file that a rank writes, where 0 and 3 are recorded in detail. */
static const char *output_of_rank(const char *output, const char *rank)
{
    static const char *const made[] = {"ranks-3.prof", "ranks-4.txt", "ranks.d/rank-4.txt"};
    prof_config config = trace_config(1u << 20);
    size_t i;
    for (i = 0; i < sizeof made / sizeof *made; ++i) unlink(trace_path(made[i]));
    config.ranks = "0,3";
    config.rank = rank;
    config.output = trace_path(output);
    trace_start(&config);
    PROFILE_BLOCK("step") {}
    CHECK_EQUAL(prof_stop(), PROF_OK);
    for (i = 0; i < sizeof made / sizeof *made; ++i)
        if (!access(trace_path(made[i]), F_OK)) return made[i];
    return "nothing";
}

TEST(ranks_in_detail)
{
    static const char *const wrong[] = {"3,", "a", "5-4", "1-", "1;2", "-", "0,,3", " 1"};
    CHECK_EQUAL(mode_of_rank("0,3,8-15", "3"), PROF_RING);
    CHECK_EQUAL(mode_of_rank("0,3,8-15", "12"), PROF_RING);
    CHECK_EQUAL(mode_of_rank("0,3,8-15", "15"), PROF_RING);
    CHECK_EQUAL(mode_of_rank("0,3,8-15", "16"), PROF_STATS);
    CHECK_EQUAL(mode_of_rank("0,3,8-15", "4"), PROF_STATS);
    CHECK_EQUAL(mode_of_rank("0", NULL), PROF_RING);
    CHECK_EQUAL(mode_of_rank("1", NULL), PROF_STATS);
    CHECK_EQUAL(mode_of_rank("", "4"), PROF_RING);
    CHECK_EQUAL(mode_of_rank(NULL, "4"), PROF_RING);
    CHECK_TEXT(output_of_rank("ranks-%r.prof", "3"), "ranks-3.prof");
    CHECK_TEXT(output_of_rank("ranks-%r.prof", "4"), "ranks-4.txt");
    CHECK_TEXT(output_of_rank("ranks-%r.json", "4"), "ranks-4.txt");
    CHECK_TEXT(output_of_rank("ranks.d/", "4"), "ranks.d/rank-4.txt");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
        prof_config config = trace_config(1u << 20);
        config.ranks = wrong[i];
        CHECK_EQUAL(prof_start(&config), PROF_INVALID_ARGUMENT);
        CHECK(strstr(prof_error(), "must be numbers and ranges, for example 0,3,8-15") != NULL);
    }
}

/*-- options as data --*/

/* For each key a value that it takes and one that it does not. */
static const struct {
    const char *key, *good, *bad;
} values[] = {
    {"output", "a:b,c=d.json", NULL}, {"existing", "number", "keep"}, {"rank", "3", NULL}, {"ranks", "0,3,8-15", NULL}, {"buffer", "64M", "64"}, {"layout", "cntk", NULL},
    {"mode", "stats", "symbolic"}, {"clock", "monotonic", "gps"}, {"level", "3", "256"}, {"categories", "net,-a*", NULL},
    {"min_duration", "2us", "2 us"}, {"delay", "1.5s", "5"}, {"start_unix", "1767225600000000000", "tomorrow"},
    {"duration", "10s", "10"}, {"warmup_steps", "3", "-3"}, {"warmup_frames", "10", "1.5"}, {"max_file_size", "2G", "2 GB"},
    {"at_limit", "rotate", "wrap"}, {"wait", "5ms", "11s"}, {"dump_period", "5s", "5000000000"}, {"save", "slow-%c.json", NULL},
    {"save_last", "10", "0"}, {"save_over", "frame>16ms", NULL}, {"save_every", "30", "often"},
    {"save_signal", "USR1", "USR9"}, {"crash_report", "1", "2"}, {"no_sync", "1", "true"}, {"no_devices", "1", "no"},
    {"filter_mask", "0xff", "0x1ffffffff"}, {"switches", "1", "yes"}, {"counters", "1", "yes"}, {"system", "1", "all"},
    {"samples", "500", "10001"}, {"faults", "1", "yes"}, {"waits", "1ms", "soon"}};

TEST(every_key_has_a_good_and_a_bad_value)
{
    prof_option option;
    size_t i = 0, known = sizeof values / sizeof *values;
    for (; prof_config_describe(i, &option) && !*option.system; ++i) {
        prof_config config, zero;
        size_t k = 0;
        char variable[64] = "PROF_";
        memset(&zero, 0, sizeof zero);
        config = zero;
        while (k < known && strcmp(values[k].key, option.key)) ++k;
        CHECK(k < known);
        if (k == known) {
            printf("no values for '%s'\n", option.key);
            continue;
        }
        CHECK_EQUAL(prof_config_set(&config, option.key, values[k].good), PROF_OK);
        CHECK(memcmp(&config, &zero, sizeof zero) != 0);
        config = zero;
        if (values[k].bad) {
            char words[128];
            snprintf(words, sizeof words, "%s '%s': must be %s", option.key, values[k].bad, option.values);
            CHECK_EQUAL(prof_config_set(&config, option.key, values[k].bad), PROF_INVALID_ARGUMENT);
            CHECK_TEXT(prof_error(), words);
            CHECK(!memcmp(&config, &zero, sizeof zero));
        }
        if (*option.standard) CHECK_EQUAL(prof_config_set(&config, option.key, option.standard), PROF_OK);
        CHECK(*option.type && *option.values && *option.meaning && !*option.native_key);
        for (size_t c = 0; option.key[c]; ++c)
            variable[5 + c] = (char)(option.key[c] >= 'a' && option.key[c] <= 'z' ? option.key[c] - 32 : option.key[c]);
        CHECK_TEXT(option.environment, variable);
    }
    CHECK_EQUAL(i, known);
}

/* One byte of the configuration each: nobody writes into another's field. */
TEST(every_key_has_a_field_of_its_own)
{
    prof_config zero, sets[sizeof values / sizeof *values];
    memset(&zero, 0, sizeof zero);
    for (size_t i = 0; i < sizeof values / sizeof *values; ++i) {
        sets[i] = zero;
        CHECK_EQUAL(prof_config_set(&sets[i], values[i].key, values[i].good), PROF_OK);
        for (size_t k = 0; k < i; ++k)
            for (size_t byte = 0; byte < sizeof zero; ++byte)
                CHECK(!((const char *)&sets[i])[byte] || !((const char *)&sets[k])[byte]);
    }
}

static prof_status set(prof_config *config, const char *key, const char *value)
{
    memset(config, 0, sizeof *config);
    return prof_config_set(config, key, value);
}

TEST(values_of_the_new_keys)
{
    prof_config config;
    CHECK(!set(&config, "delay", "1.5s") && config.delay_ns == 1500000000);
    CHECK(!set(&config, "delay", "0") && config.delay_ns == 0);
    CHECK(!set(&config, "duration", "250us") && config.duration_ns == 250000);
    CHECK(!set(&config, "start_unix", "1767225600123456789") && config.start_unix_ns == 1767225600123456789ull);
    CHECK(!set(&config, "start_unix", "1767225600.5s") && config.start_unix_ns == 1767225600500000000ull);
    CHECK(!set(&config, "warmup_steps", "12") && config.warmup_steps == 12);
    CHECK(!set(&config, "warmup_frames", "1000000") && config.warmup_frames == 1000000);
    CHECK(!set(&config, "existing", "refuse") && config.existing == PROF_EXISTING_REFUSE);
    CHECK(!set(&config, "no_sync", "1") && config.no_sync == 1);
    CHECK(!set(&config, "rank", "007") && !strcmp(config.rank, "007"));
    FAILS(set(&config, "duration", "10"), PROF_INVALID_ARGUMENT, "with its unit");
    FAILS(set(&config, "delay", "999999999999s"), PROF_INVALID_ARGUMENT, "delay");
    FAILS(set(&config, "warmup_steps", "99999999999999999999"), PROF_INVALID_ARGUMENT, "warmup_steps");
}

TEST(keys_of_other_systems)
{
    prof_config config, zero;
    prof_option option;
    memset(&zero, 0, sizeof zero);
    CHECK(!set(&config, "filename", "C:\\a,b=c:d.csv") && !strcmp(config.output, "C:\\a,b=c:d.csv"));
    FAILS(set(&config, "filename", "profile.out"), PROF_INVALID_ARGUMENT, "filename 'profile.out'");
    CHECK(error_has(".csv")); /* what it may be */
    FAILS(set(&config, "filename", "profile"), PROF_INVALID_ARGUMENT, "has no extension");
    CHECK(!set(&config, "layout", "mxnet") && !prof_config_set(&config, "filename", "profile.out"));
    CHECK(!set(&config, "profilerBufferSize", "33554432") && config.buffer_size == 33554432);
    FAILS(set(&config, "profilerBufferSize", "lots"), PROF_INVALID_ARGUMENT, "profilerBufferSize 'lots': must be bytes");
    CHECK(!set(&config, "suffix", "3") && !strcmp(config.rank, "3"));
    CHECK(!set(&config, "profilerSyncGpu", "false") && config.no_sync == 1);
    CHECK(!set(&config, "profilerSyncGpu", "True") && config.no_sync == 0);
    CHECK(!set(&config, "host_tracer_level", "3") && config.level == 3);
    CHECK(!set(&config, "host_tracer_level", "0") && config.level == PROF_LEVEL_NONE);
    static const char *const levels[] = {"4", "255", "256", "-1", "high", "", "1.5"};
    for (size_t i = 0; i < sizeof levels / sizeof *levels; ++i)
        FAILS(set(&config, "host_tracer_level", levels[i]), PROF_INVALID_ARGUMENT, "must be 0 to 3");
    CHECK(error_has("host_tracer_level '1.5'"));
    CHECK(!set(&config, "device_tracer_level", "0") && config.no_devices == 1);
    CHECK(!set(&config, "device_tracer_level", "1") && config.no_devices == 0);
    CHECK(!set(&config, "profilerEnabled", "false") && config.level == PROF_LEVEL_NONE && config.no_devices == 1);
    CHECK(!set(&config, "profilerEnabled", "true") && config.level == 0);
    CHECK(!set(&config, "delay_ms", "1500") && config.delay_ns == 1500000000);
    CHECK(!set(&config, "duration_ms", "2") && config.duration_ns == 2000000);
    FAILS(set(&config, "duration_ms", "2s"), PROF_INVALID_ARGUMENT, "milliseconds");
    FAILS(set(&config, "duration_ms", "18446744073709551615"), PROF_INVALID_ARGUMENT, "milliseconds");
    CHECK(!set(&config, "start_timestamp_ns", "1767225600000000001") && config.start_unix_ns == 1767225600000000001ull);
    CHECK(!set(&config, "continuous_dump", "True") && config.dump_period_ns == 1000000000);
    CHECK(!prof_config_set(&config, "dump_period", "2.5") && config.dump_period_ns == 2500000000u);
    CHECK(!set(&config, "dump_period", "1.0") && config.dump_period_ns == 1000000000);
    CHECK(!prof_config_set(&config, "continuous_dump", "True") && config.dump_period_ns == 1000000000);
    CHECK(!set(&config, "dump_period", "5s") && !prof_config_set(&config, "continuous_dump", "True"));
    CHECK_EQUAL(config.dump_period_ns, 5000000000);
    CHECK(!prof_config_set(&config, "continuous_dump", "False") && config.dump_period_ns == PROF_NEVER);
    CHECK(!set(&config, "continuous_dump", "False") && !prof_config_set(&config, "dump_period", "1.0"));
    CHECK(config.dump_period_ns == PROF_NEVER); /* off, in either order */
    CHECK(!prof_start(&config) && !prof_stop());
    prof_reset();
    CHECK(!prof_config_set(&config, "continuous_dump", "True") && config.dump_period_ns == 1000000000);
    CHECK(!set(&config, "aggregate_stats", "0") && !memcmp(&config, &zero, sizeof zero));
    /* those systems count everything */
    CHECK(!set(&config, "aggregate_stats", "1") && config.mode == PROF_RING_STATS);
    CHECK(!set(&config, "continuous_dump", "1") && config.mode == PROF_RING_STATS);
    CHECK(!set(&config, "continuous_dump", "0") && config.mode == PROF_RING);
    CHECK(!set(&config, "profilerEnabled", "1") && config.mode == PROF_RING_STATS);
    CHECK(!set(&config, "mode", "stream") && !prof_config_set(&config, "aggregate_stats", "1"));
    CHECK_EQUAL(config.mode, PROF_STREAM); /* somebody has chosen it */
    CHECK(!set(&config, "mode", "ring+stats") && config.mode == PROF_RING_STATS);
    FAILS(set(&config, "aggregate_stats", "2"), PROF_INVALID_ARGUMENT, "0 or 1");
    CHECK_EQUAL(set(&config, "profile_process", "worker"), PROF_OK);
    FAILS(set(&config, "profile_process", "server"), PROF_UNSUPPORTED, "this process");
    CHECK_EQUAL(set(&config, "profile_memory", "1"), PROF_OK);
    FAILS(set(&config, "profile_memory", "0"), PROF_UNSUPPORTED, "-memory");
    CHECK_EQUAL(set(&config, "python_tracer_level", "0"), PROF_OK);
    FAILS(set(&config, "python_tracer_level", "1"), PROF_UNSUPPORTED, "PROF_INSTRUMENT_FUNCTIONS");
    FAILS(set(&config, "python_tracer_level", "2"), PROF_INVALID_ARGUMENT, "0 or 1");
    FAILS(set(&config, "device_tracer_level", "2"), PROF_UNSUPPORTED, "device");
    FAILS(set(&config, "device_tracer_level", "high"), PROF_INVALID_ARGUMENT, "'high'");
    CHECK_EQUAL(set(&config, "raise_error_on_start_failure", "false"), PROF_OK);
    FAILS(set(&config, "gpu_max_callback_api_events", "100"), PROF_UNSUPPORTED, "plug-in");
    FAILS(set(&config, "tpu_trace_mode", "TRACE_COMPUTE"), PROF_UNSUPPORTED, "plug-in");
    FAILS(set(&config, "MXNET_PROFILER_AUTOSTART", "1"), PROF_UNSUPPORTED, "PROF_OUTPUT");
    FAILS(set(&config, "NEURON_RT_INSPECT_OUTPUT_DIR", "./output"), PROF_UNSUPPORTED, "output");
    FAILS(set(&config, "gpu_max_calback_api_events", "1"), PROF_INVALID_ARGUMENT, "'gpu_max_callback_api_events'");
    FAILS(set(&config, "profilerBuferSize", "1"), PROF_INVALID_ARGUMENT, "'profilerBufferSize'");
    FAILS(set(&config, "File_Name", "1"), PROF_INVALID_ARGUMENT, "did you mean");

    /* Not one is swallowed: what is not acted on, and is not how it is here anyway, is an error that names the key. */
    for (size_t i = sizeof values / sizeof *values; prof_config_describe(i, &option); ++i) {
        CHECK(*option.system && *option.meaning && !*option.environment);
        prof_status status = set(&config, option.key, "no such value");
        if (*option.native_key && !strcmp(option.type, "text") && strcmp(option.key, "filename")) {
            CHECK_EQUAL(status, PROF_OK);
        } else {
            CHECK(status == PROF_INVALID_ARGUMENT || status == PROF_UNSUPPORTED);
            CHECK(error_has(option.key));
            CHECK(!memcmp(&config, &zero, sizeof zero));
        }
    }
    CHECK_EQUAL(prof_config_describe((size_t)-1, &option), 0);
    CHECK_EQUAL(prof_config_describe(0, NULL), 0);
}

/* What is the default of the system whose key it is, or how it is here anyway, is fine; nonsense is not. */
TEST(defaults_of_other_systems_are_fine)
{
    static const struct {
        const char *key, *value;
        prof_status status;
    } cases[] = {{"gpu_max_callback_api_events", "2097152", PROF_OK},
                 {"gpu_max_callback_api_events", "1", PROF_UNSUPPORTED},
                 {"gpu_max_callback_api_events", "many", PROF_INVALID_ARGUMENT},
                 {"gpu_max_activity_api_events", "2097152", PROF_OK},
                 {"gpu_max_annotation_strings", "1048576", PROF_OK},
                 {"gpu_enable_nvtx_tracking", "false", PROF_OK},
                 {"gpu_enable_nvtx_tracking", "False", PROF_OK},
                 {"gpu_enable_nvtx_tracking", "true", PROF_UNSUPPORTED},
                 {"gpu_enable_nvtx_tracking", "maybe", PROF_INVALID_ARGUMENT},
                 {"gpu_enable_cupti_activity_graph_trace", "0", PROF_OK},
                 {"gpu_pm_sample_counters", "", PROF_OK},
                 {"gpu_pm_sample_counters", "x", PROF_UNSUPPORTED},
                 {"gpu_pm_sample_interval_us", "500", PROF_OK},
                 {"gpu_pm_sample_buffer_size_per_gpu_mb", "64", PROF_OK},
                 {"gpu_num_chips_to_profile_per_task", "0", PROF_OK},
                 {"gpu_dump_graph_node_mapping", "false", PROF_OK},
                 {"tpu_trace_mode", "TRACE_ONLY_XLA", PROF_OK},
                 {"tpu_trace_mode", "TRACE_ONLY_HOST", PROF_OK},
                 {"tpu_trace_mode", "TRACE", PROF_INVALID_ARGUMENT},
                 {"tpu_trace_mode", "TRACE_NONSENSE", PROF_INVALID_ARGUMENT},
                 {"gpu_pm_sample_buffer_size_per_gpu_mb", "4096", PROF_UNSUPPORTED},
                 {"gpu_pm_sample_buffer_size_per_gpu_mb", "1", PROF_UNSUPPORTED},
                 {"gpu_pm_sample_buffer_size_per_gpu_mb", "4097", PROF_INVALID_ARGUMENT},
                 {"gpu_pm_sample_buffer_size_per_gpu_mb", "0", PROF_INVALID_ARGUMENT},
                 {"gpu_pm_sample_buffer_size_per_gpu_mb", "1-4096", PROF_INVALID_ARGUMENT},
                 {"gpu_pm_sample_buffer_size_per_gpu_mb", "6 4", PROF_INVALID_ARGUMENT},
                 {"gpu_pm_sample_interval_us", "-1", PROF_INVALID_ARGUMENT},
                 {"version", "2", PROF_INVALID_ARGUMENT},
                 {"create_perfetto_trace", "2", PROF_INVALID_ARGUMENT},
                 {"tpu_cpu_perf_counter_profile_events", "context-switches,page-faults", PROF_OK},
                 {"enable_hlo_proto", "true", PROF_OK},
                 {"enable_hlo_proto", "2", PROF_INVALID_ARGUMENT},
                 {"include_dataset_ops", "True", PROF_OK},
                 {"create_perfetto_link", "false", PROF_OK},
                 {"create_perfetto_link", "true", PROF_UNSUPPORTED},
                 {"create_perfetto_trace", "maybe", PROF_INVALID_ARGUMENT},
                 {"profile_all", "False", PROF_OK},
                 {"device_type", "UNSPECIFIED", PROF_OK},
                 {"device_type", "TPU", PROF_UNSUPPORTED},
                 {"device_type", "toaster", PROF_INVALID_ARGUMENT},
                 {"gpu_memory_profile_filename_prefix", "gpu_memory_profile", PROF_OK}};
    prof_config config;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        prof_status status = set(&config, cases[i].key, cases[i].value);
        CHECK_EQUAL(status, cases[i].status);
        if (status != cases[i].status) printf("%s=%s: %s\n", cases[i].key, cases[i].value, prof_error());
        if (status) CHECK(error_has(cases[i].key) && error_has(cases[i].value));
        if (status == PROF_INVALID_ARGUMENT) CHECK(error_has("must be "));
    }
    FAILS(set(&config, "tpu_trace_mode", "TRACE_NONSENSE"), PROF_INVALID_ARGUMENT,
          "must be TRACE_ONLY_XLA, TRACE_ONLY_HOST, TRACE_COMPUTE, TRACE_COMPUTE_AND_SYNC");
    FAILS(set(&config, "gpu_pm_sample_buffer_size_per_gpu_mb", "4097"), PROF_INVALID_ARGUMENT, "1-4096");
    FAILS(set(&config, "gpu_max_callback_api_events", "many"), PROF_INVALID_ARGUMENT, "must be a number");
}

static int is(const prof_config *config, prof_mode mode, int level, int no_devices)
{
    return config->mode == mode && config->level == level && config->no_devices == no_devices;
}

/* A later value takes back what an earlier one of the same key has done, and nothing else. */
TEST(keys_of_other_systems_are_taken_back)
{
    prof_config config;
    CHECK(!set(&config, "aggregate_stats", "True") && is(&config, PROF_RING_STATS, 0, 0));
    CHECK(!prof_config_set(&config, "continuous_dump", "True") && !prof_config_set(&config, "aggregate_stats", "False"));
    CHECK(is(&config, PROF_RING_STATS, 0, 0)); /* the dumps still want them */
    CHECK(!prof_config_set(&config, "continuous_dump", "False") && is(&config, PROF_RING, 0, 0));
    CHECK(!prof_config_set(&config, "aggregate_stats", "True") && !prof_config_set(&config, "aggregate_stats", "False"));
    CHECK(is(&config, PROF_RING, 0, 0));
    CHECK(!set(&config, "mode", "ring+stats") && !prof_config_set(&config, "aggregate_stats", "True"));
    CHECK(!prof_config_set(&config, "aggregate_stats", "False") && is(&config, PROF_RING_STATS, 0, 0)); /* chosen */
    CHECK(!set(&config, "aggregate_stats", "True") && !prof_config_set(&config, "mode", "stream"));
    CHECK(!prof_config_set(&config, "aggregate_stats", "False") && is(&config, PROF_STREAM, 0, 0));

    CHECK(!set(&config, "level", "3") && !prof_config_set(&config, "profilerEnabled", "False"));
    CHECK(is(&config, PROF_RING, -1, 1));
    CHECK(!prof_config_set(&config, "profilerEnabled", "False") && !prof_config_set(&config, "profilerEnabled", "True"));
    CHECK(is(&config, PROF_RING_STATS, 3, 0));
    CHECK(!prof_config_set(&config, "profilerEnabled", "False") && is(&config, PROF_RING, -1, 1));
    CHECK(!prof_config_set(&config, "level", "2") && !prof_config_set(&config, "profilerEnabled", "True"));
    CHECK(is(&config, PROF_RING_STATS, 2, 0));
    CHECK(!set(&config, "host_tracer_level", "0") && !prof_config_set(&config, "profilerEnabled", "True"));
    CHECK(is(&config, PROF_RING_STATS, -1, 0)); /* that was not its doing */

    CHECK(!set(&config, "tpu_trace_mode", "TRACE_ONLY_HOST") && is(&config, PROF_RING, 0, 1));
    CHECK(!prof_config_set(&config, "tpu_trace_mode", "TRACE_ONLY_XLA") && is(&config, PROF_RING, 0, 0));
    CHECK(!set(&config, "device_tracer_level", "0") && !prof_config_set(&config, "tpu_trace_mode", "TRACE_ONLY_XLA"));
    CHECK(is(&config, PROF_RING, 0, 1));
    CHECK(!prof_config_set(&config, "device_tracer_level", "1") && is(&config, PROF_RING, 0, 0));
    CHECK(!set(&config, "no_devices", "1") && !prof_config_set(&config, "device_tracer_level", "1"));
    CHECK(is(&config, PROF_RING, 0, 0));
    CHECK(!set(&config, "profilerSyncGpu", "0") && !prof_config_set(&config, "profilerSyncGpu", "1"));
    CHECK_EQUAL(config.no_sync, 0);
}

/* PROF_LAYOUT=cntk alone writes CNTK's own folder, as CNTK does. */
TEST(cntk_has_a_folder)
{
    prof_config config;
    memset(&config, 0, sizeof config);
    setenv("PROF_LAYOUT", "cntk", 1);
    CHECK(!prof_config_from_env(&config) && config.output && !strcmp(config.output, "profiler/"));
    config.output = "elsewhere/";
    CHECK(!prof_config_from_env(&config) && !strcmp(config.output, "elsewhere/"));
    setenv("PROF_LAYOUT", "mxnet", 1);
    memset(&config, 0, sizeof config);
    CHECK(!prof_config_from_env(&config) && !config.output);
    unsetenv("PROF_LAYOUT");
}

/* What is not nearly a key is none that was meant. */
TEST(unknown_keys)
{
    prof_config config;
    static const char *const strange[] = {"gpu_unknown", "tpu_", "profile", "x", "quite_another_thing"};
    for (size_t i = 0; i < sizeof strange / sizeof *strange; ++i) {
        FAILS(set(&config, strange[i], "1"), PROF_INVALID_ARGUMENT, strange[i]);
        CHECK(!strstr(prof_error(), "did you mean") && error_has("lists all keys"));
    }
    FAILS(set(&config, "agregate_stats", "1"), PROF_INVALID_ARGUMENT, "did you mean 'aggregate_stats'?");
}

static uint64_t events_of_type(const prof_trace *of, prof_event_type type)
{
    trace_list each;
    uint64_t count = 0;
    for (size_t i = 0; i < prof_trace_track_count(of); ++i) {
        each = trace_read(of, i);
        for (size_t k = 0; k < each.count; ++k) count += each.events[k].type == type;
        trace_free(&each);
    }
    return count;
}

/* host_tracer_level=0: no scopes, until a level is set. */
TEST(level_0_acts)
{
    prof_config config;
    prof_trace *live = NULL;
    CHECK_EQUAL(set(&config, "host_tracer_level", "0"), PROF_OK);
    CHECK_EQUAL(prof_start(&config), PROF_OK);
    { PROFILE_SCOPE_L("not this", 1); }
    CHECK_EQUAL(prof_set_level(1), PROF_OK);
    { PROFILE_SCOPE_L("but this", 1); }
    CHECK_EQUAL(prof_stop(), PROF_OK);
    CHECK_EQUAL(prof_trace_open_live(&live), PROF_OK);
    CHECK_EQUAL(events_of_type(live, PROF_EVENT_SCOPE), 1);
    prof_trace_close(live);
    prof_reset();
}

/* host_tracer_level=0 leaves out what the host does, but not what devices report. */
TEST(host_level_0_keeps_devices)
{
    prof_config config;
    prof_trace *live = NULL;
    prof_device_row *row = prof_device_row_create(prof_device_create("beside level 0", NULL), "queue");
    uint64_t now = prof_host_ns();
    CHECK_EQUAL(set(&config, "host_tracer_level", "0"), PROF_OK);
    CHECK_EQUAL(prof_start(&config), PROF_OK);
    { PROFILE_SCOPE_L("not this", 1); }
    prof_device_sync(prof_device_create("beside level 0", NULL), now, now);
    prof_device_scope(row, "kernel", prof_host_ns(), prof_host_ns() + 10);
    CHECK_EQUAL(prof_set_level(0), PROF_OK); /* likewise */
    prof_device_scope(row, "kernel", prof_host_ns(), prof_host_ns() + 10);
    CHECK_EQUAL(prof_stop(), PROF_OK);
    CHECK_EQUAL(prof_trace_open_live(&live), PROF_OK);
    CHECK_EQUAL(events_of_type(live, PROF_EVENT_SCOPE), 2);
    prof_trace_close(live);
    prof_reset();
}

/* device_tracer_level=0 and JAX's TRACE_ONLY_HOST: nothing of devices; also of those that come later. */
TEST(device_level_0_acts)
{
    for (int each = 0; each < 4; ++each) {
        int level = each & 1, way = each >> 1;
        prof_config config;
        prof_trace *live = NULL;
        if (way)
            CHECK_EQUAL(set(&config, "tpu_trace_mode", level ? "TRACE_ONLY_XLA" : "TRACE_ONLY_HOST"), PROF_OK);
        else
            CHECK_EQUAL(set(&config, "device_tracer_level", level ? "1" : "0"), PROF_OK);
        CHECK_EQUAL(prof_start(&config), PROF_OK);
        prof_device *device = prof_device_create(level ? "with" : "without", NULL);
        prof_device_row *row = prof_device_row_create(device, "queue");
        uint64_t now = prof_host_ns();
        CHECK_EQUAL(prof_device_sync(device, now, now), PROF_OK);
        prof_device_scope(row, "kernel", now, now + 10);
        CHECK_EQUAL(prof_stop(), PROF_OK);
        CHECK_EQUAL(prof_trace_open_live(&live), PROF_OK);
        CHECK_EQUAL(events_of_type(live, PROF_EVENT_SCOPE), (uint64_t)level);
        prof_trace_close(live);
        prof_reset();
    }
}

static char claimed[200];
static prof_status claim(void *user, const char *key, const char *value)
{
    snprintf(claimed, sizeof claimed, "%s: %s=%s", (const char *)user, key, value);
    return strcmp(value, "bad") ? PROF_OK : PROF_INVALID_ARGUMENT;
}

TEST(keys_that_a_plugin_claims)
{
    static char one[] = "one", two[] = "two";
    prof_config config;
    CHECK_EQUAL(prof_config_claim("gpu_", claim, one), PROF_OK);
    CHECK_EQUAL(set(&config, "gpu_pm_sample_counters", "a:b,c=d"), PROF_OK);
    CHECK_TEXT(claimed, "one: gpu_pm_sample_counters=a:b,c=d");
    CHECK_EQUAL(set(&config, "gpu_of_its_own", "x"), PROF_OK);
    FAILS(set(&config, "gpu_of_its_own", "bad"), PROF_INVALID_ARGUMENT, "gpu_of_its_own 'bad'");
    FAILS(set(&config, "tpu_trace_mode", "x"), PROF_INVALID_ARGUMENT, "tpu_trace_mode");
    CHECK_EQUAL(prof_config_claim("gpu_pm_", claim, two), PROF_OK);
    CHECK_EQUAL(set(&config, "gpu_pm_sample_counters", "x"), PROF_OK);
    CHECK_TEXT(claimed, "two: gpu_pm_sample_counters=x");
    CHECK_EQUAL(prof_config_claim("gpu_pm_", NULL, NULL), PROF_OK);
    CHECK_EQUAL(set(&config, "gpu_pm_sample_counters", "y"), PROF_OK);
    CHECK_TEXT(claimed, "one: gpu_pm_sample_counters=y");
    CHECK_EQUAL(prof_config_claim("o", claim, two), PROF_OK); /* our own are ours */
    CHECK(!set(&config, "output", "a.csv") && !strcmp(config.output, "a.csv"));
    CHECK_EQUAL(prof_config_claim("o", NULL, NULL), PROF_OK);
    CHECK_EQUAL(prof_config_claim("gpu_", NULL, NULL), PROF_OK);
    CHECK_EQUAL(prof_config_claim("never_claimed", NULL, NULL), PROF_OK);
    FAILS(set(&config, "gpu_pm_sample_counters", "y"), PROF_UNSUPPORTED, "plug-in");
    FAILS(prof_config_claim("", claim, NULL), PROF_INVALID_ARGUMENT, "31");
    FAILS(prof_config_claim(NULL, claim, NULL), PROF_INVALID_ARGUMENT, "31");
    FAILS(prof_config_claim("a prefix that is longer than any key", claim, NULL), PROF_INVALID_ARGUMENT, "31");
    for (int i = 0; i < 17; ++i) {
        char prefix[16];
        snprintf(prefix, sizeof prefix, "p%d_", i);
        CHECK_EQUAL(prof_config_claim(prefix, claim, one), i < 16 ? PROF_OK : PROF_NO_MEMORY);
    }
    for (int i = 0; i < 16; ++i) {
        char prefix[16];
        snprintf(prefix, sizeof prefix, "p%d_", i);
        CHECK_EQUAL(prof_config_claim(prefix, NULL, NULL), PROF_OK);
    }
}

/*-- environment --*/

TEST(environment_of_every_key)
{
    prof_config zero;
    prof_option option;
    memset(&zero, 0, sizeof zero);
    for (size_t i = 0; i < sizeof values / sizeof *values; ++i) {
        prof_config expected = zero, config = zero;
        for (size_t k = 0; prof_config_describe(k, &option) && strcmp(option.key, values[i].key); ++k) {
        }
        CHECK_EQUAL(prof_config_set(&expected, option.key, values[i].good), PROF_OK);
        setenv(option.environment, values[i].good, 1);
        CHECK_EQUAL(prof_config_from_env(&config), PROF_OK);
        if (!strcmp(option.type, "text")) { /* the same text, elsewhere */
            CHECK(memcmp(&config, &zero, sizeof zero) != 0);
        } else {
            CHECK(!memcmp(&config, &expected, sizeof zero));
        }
        if (values[i].bad) {
            config = zero;
            setenv(option.environment, values[i].bad, 1);
            FAILS(prof_config_from_env(&config), PROF_INVALID_ARGUMENT, option.environment);
        }
        setenv(option.environment, "", 1); /* as if it were not there */
        config = zero;
        CHECK_EQUAL(prof_config_from_env(&config), PROF_OK);
        CHECK(!memcmp(&config, &zero, sizeof zero));
        unsetenv(option.environment);
    }
}

TEST(environment_with_a_mistake)
{
    prof_config config = trace_config(1u << 20);
    setenv("PROF_BUFER", "64M", 1);
    FAILS(prof_config_from_env(&config), PROF_INVALID_ARGUMENT, "unknown variable PROF_BUFER: did you mean PROF_BUFFER?");
    unsetenv("PROF_BUFER");
    setenv("PROF_TEST_SOMETHING", "1", 1); /* somebody else's */
    CHECK_EQUAL(prof_config_from_env(&config), PROF_OK);
    unsetenv("PROF_TEST_SOMETHING");
    CHECK_EQUAL(prof_config_from_env(NULL), PROF_INVALID_ARGUMENT);
}

/* What a program says itself counts; what the environment says as well, only if the program asks. */
TEST(explicit_configuration_ignores_the_environment)
{
    prof_config config = trace_config(1u << 20);
    setenv("PROF_MODE", "fill", 1);
    setenv("PROF_DELAY", "1000s", 1);
    setenv("PROF_OUTPUT", "/dev/null/folder/at.all", 1);
    trace_start(&config);
    CHECK_EQUAL(prof_enabled(), 1);
    trace = trace_stop();
    CHECK_EQUAL(prof_trace_about(trace)->mode, PROF_RING);
    prof_trace_close(trace);
    unsetenv("PROF_OUTPUT");
    config.level = 5;
    CHECK_EQUAL(prof_config_from_env(&config), PROF_OK);
    CHECK(config.mode == PROF_FILL && config.delay_ns == 1000000000000ull && config.level == 5);
    unsetenv("PROF_MODE");
    unsetenv("PROF_DELAY");
}

TEST_MAIN
