/* Records, and asks for everything that a switch may leave out: see left_out.sh. This file knows nothing of switches.

   usage: left_out FOLDER SWITCH...    the switches that the implementation was compiled with
          left_out FOLDER killed       records into killed.prof, writes a letter, and waits for its end */
#include "prof_read.h"
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREAD_OR_READER "PROF_NO_THREAD prof_read" /* prof_read: prof.h without prof_read.h */

extern prof_status prof_trace_open_live(prof_trace **trace) __attribute__((__weak__));
extern void prof_trace_close(prof_trace *trace) __attribute__((__weak__));

static int failed, switch_count;
static char **switches, *folder;

/* 1: the words name a switch that is on. */
static int without(const char *words)
{
    for (int i = 0; i < switch_count; ++i) {
        const char *found = strstr(words, switches[i]);
        size_t length = strlen(switches[i]);
        if (found && !(found[length] >= 'A' && found[length] <= 'Z') && found[length] != '_') return 1;
    }
    return 0;
}

/* Fails, with words that name the switch, if that is on; else it must not. */
static void check(const char *what, const char *by, prof_status status)
{
    const char *words = status ? prof_error() : "";
    int refused = (status == PROF_UNSUPPORTED || status == PROF_INVALID_ARGUMENT) && without(words);
    if (without(by) ? refused : status == PROF_OK) return;
    printf("%s: %s: %s: %s\n", by, what, prof_status_text(status), words);
    failed = 1;
}

static void check_handle(const char *what, const void *handle)
{
    if (!handle) failed = printf("%s: %s\n", what, prof_error());
}

static void *worker(void *user)
{
    PROFILE_THREAD("worker");
    for (int i = 0; i < 10; ++i) {
        PROFILE_SCOPE("work");
        PROFILE_ARG_I("i", i);
        PROFILE_ARG_S("text", "a word");
        PROFILE_COUNTER("done", i);
        PROFILE_COUNTER_ADD("sum", 1);
        PROFILE_MARK("passed");
        PROFILE_MARK_F("passed %d", i);
    }
    return user;
}

/* 10 scopes, 20 instants, 20 samples, 20 arguments on each of four threads. */
static void work(void)
{
    pthread_t threads[3];
    for (int i = 0; i < 3; ++i) pthread_create(&threads[i], NULL, worker, NULL);
    worker(NULL);
    for (int i = 0; i < 3; ++i) pthread_join(threads[i], NULL);
}

static const char *in_folder(const char *name)
{
    static char paths[8][1100];
    static int next;
    char *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static prof_config config_for(const char *name)
{
    prof_config config;
    memset(&config, 0, sizeof config);
    if (name) config.output = in_folder(name);
    config.buffer_size = 1 << 20;
    return config;
}

/* Starts, if the switch lets it, and stops. */
static void try_start(const char *what, const char *by, const prof_config *config)
{
    prof_status status = prof_start(config);
    check(what, by, status);
    if (!status && prof_stop()) failed = printf("%s: stop: %s\n", what, prof_error());
}

static void try_options(void)
{
    prof_config config = config_for("a.csv");
    try_start("a .csv", "prof_read", &config);
    config = config_for("a.txt");
    config.mode = PROF_STATS;
    try_start("stats", THREAD_OR_READER, &config);
    config = config_for("both.prof");
    config.mode = PROF_RING_STATS;
    try_start("ring and stats", THREAD_OR_READER, &config);
    config = config_for("ring.prof");
    config.save = in_folder("slow.prof");
    try_start("save", THREAD_OR_READER, &config);
    config = config_for("stream.prof");
    config.mode = PROF_STREAM;
    check("a stream", "PROF_NO_THREAD", prof_start(&config));
    if (!without("PROF_NO_THREAD")) work();
    if (!without("PROF_NO_THREAD")) check("stop the stream", "", prof_stop());
    config = config_for("crash.prof");
    config.crash_report = 1;
    try_start("crash_report", "PROF_NO_CRASH", &config);
    config = config_for("late.prof");
    config.delay_ns = 1;
    try_start("delay", "PROF_NO_THREAD", &config);
    config = config_for("soon.prof");
    config.duration_ns = 1000000000000;
    try_start("duration", "PROF_NO_THREAD", &config);
    config = config_for("rank.prof");
    config.rank = "7";
    try_start("rank", "PROF_MINIMAL", &config);
    config = config_for("short.prof");
    config.min_duration_ns = 1000;
    try_start("min_duration", "PROF_MINIMAL", &config);
    config = config_for("warm.prof");
    config.warmup_frames = 3;
    try_start("warm-up", "PROF_MINIMAL", &config);
    config = config_for("layout.csv");
    config.layout = "MXNet";
    if (without("PROF_MINIMAL")) try_start("layout", "PROF_MINIMAL", &config);
    config = config_for("%n-%%.prof");
    try_start("a pattern", "PROF_MINIMAL", &config);
    config = config_for("another.prof");
    config.existing = PROF_EXISTING_REFUSE;
    try_start("existing", "PROF_MINIMAL", &config);
    config = config_for("twice.prof");
    try_start("once", "", &config);
    try_start("twice", "", &config);
    if (access(in_folder("twice.2.prof"), F_OK) != (without("PROF_MINIMAL") ? -1 : 0)) failed = printf("twice\n");
}

static prof_status claim(void *user, const char *key, const char *value)
{
    (void)user, (void)key, (void)value;
    return PROF_OK;
}

static void try_config(void)
{
    prof_config config = config_for(NULL);
    prof_option option;
    check("prof_config_set", "PROF_NO_TEXT", prof_config_set(&config, "level", "3"));
    check("prof_config_from_env", "PROF_NO_TEXT", prof_config_from_env(&config));
    check("prof_config_claim", "PROF_NO_TEXT", prof_config_claim("test_", claim, NULL));
    if (prof_config_describe(0, &option) == without("PROF_NO_TEXT")) failed = printf("describe\n");
}

static void try_objects(void)
{
    prof_domain *domain = prof_domain_create("domain");
    check_handle("domain", domain);
    prof_task *task = prof_task_create(domain, "task");
    check_handle("task", task);
    prof_frame *frame = prof_frame_create(domain, "frame");
    check_handle("frame", frame);
    prof_range *range = prof_range_create("range");
    check_handle("range", range);
    prof_counter *counter = prof_counter_create(domain, "counter");
    check_handle("counter", counter);
    prof_counter *measured = prof_counter_create_unit(domain, "counter", "%");
    check_handle("counter with a unit", measured);
    prof_marker *marker = prof_marker_create(domain, "marker");
    check_handle("marker", marker);
    prof_task_start(task);
    PROFILE_TASK_START_ARGS(task, PROF_ARG("a", 1));
    prof_frame_start(frame);
    prof_range_start(range);
    prof_counter_set(counter, 1);
    prof_counter_add(counter, 1);
    prof_counter_sub(counter, 1);
    prof_counter_set_double(counter, 1);
    prof_counter_add_double(counter, 1);
    prof_marker_mark(marker, PROF_MARK_REACH_COUNT);
    prof_range_stop(range);
    prof_frame_stop(frame);
    prof_task_stop(task);
    prof_task_stop(task);
    prof_task_destroy(task);
    prof_frame_destroy(frame);
    prof_range_destroy(range);
    prof_counter_destroy(counter);
    prof_counter_destroy(measured);
    prof_marker_destroy(marker);
    const char *name = prof_domain_name(domain);
    if (strcmp(name, "domain")) failed = printf("name: %s\n", name);
    if (!prof_domain_list(NULL, 0)) failed = printf("list\n");

    prof_device *device = prof_device_create("device", NULL);
    check_handle("device", device);
    prof_device_row *row = prof_device_row_create(device, "row");
    check_handle("row", row);
    prof_device_event event;
    memset(&event, 0, sizeof event);
    event.name = "event";
    check("prof_device_sync", "", prof_device_sync(device, 1000, 0));
    prof_device_scope(row, "scope", 1000, 2000);
    prof_device_mark(row, "mark", 1000);
    prof_device_counter(row, "counter", 1000, 1);
    prof_device_counter_double(row, "counter", 1000, 1);
    prof_device_record(row, &event);
    if (!prof_host_ns()) failed = printf("prof_host_ns: 0\n");
}

static prof_status write_nothing(void *user, const prof_trace *trace, prof_sink sink)
{
    (void)user, (void)trace, (void)sink;
    return PROF_OK;
}

static void try_reader(void)
{
    static prof_writer writer = {"nothing", write_nothing, NULL, NULL, NULL};
    char text[] = "x";
    prof_trace *trace = (prof_trace *)(void *)text;
    prof_writer_register(&writer);
    if ((prof_trace_open_live != NULL) == without("prof_read"))
        failed = printf("there is %s reader\n", prof_trace_open_live ? "a" : "no");
    if (prof_trace_open_live) check("live", "", prof_trace_open_live(&trace));
    if (prof_trace_open_live && trace) prof_trace_close(trace);
    check("prof_save", "PROF_MINIMAL", prof_save(in_folder("saved.prof")));
    check("a .csv of the moment", "prof_read", prof_save(in_folder("saved.csv")));
    check("prof_save_last_ns", "prof_read", prof_save_last_ns(in_folder("last.prof"), 1));
    if (without(THREAD_OR_READER)) {
        check("prof_save_request", THREAD_OR_READER, prof_save_request());
        check("prof_save_request_ns", THREAD_OR_READER, prof_save_request_ns(in_folder("asked.prof"), 1));
    }
    prof_writer_unregister(&writer);
}

/* Ends as programs do that prof is to survive. */
static void killed(void)
{
    prof_config config = config_for("killed.prof");
    if (prof_start(&config)) exit(puts(prof_error()));
    work();
    puts("recorded");
    fflush(stdout);
    for (;;) pause();
}

static void fork_and_work(void)
{
    int status = 1;
    pid_t child = fork();
    if (!child) {
        work();
        prof_status ended = prof_stop();
        if (ended) printf("child: %s\n", prof_error());
        fflush(stdout);
        _exit(ended != PROF_OK);
    }
    if (child < 0 || waitpid(child, &status, 0) != child || status) failed = printf("the child: %d\n", status);
    char from[64];
    snprintf(from, sizeof from, "run.%ld.prof", (long)child);
    if (child > 0 && rename(in_folder(from), in_folder("child.prof"))) failed = printf("%s is not there\n", from);
}

int main(int count, char **argument)
{
    if (count < 2) return 2;
    folder = argument[1];
    switches = argument + 2;
    switch_count = count - 2;
    if (without("killed")) killed();
    prof_config config = config_for("run.prof");
    check("start", "", prof_start(&config));
    work();
    try_objects();
    try_reader();
    fork_and_work();
    work();
    check("stop", "", prof_stop());
    try_config();
    try_options();
    config = config_for(NULL);
    check("in memory", "", prof_start(&config));
    work();
    check("stop in memory", "", prof_stop());
    prof_reset();
    return failed != 0;
}
