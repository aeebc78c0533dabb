/* test_deprecated.c - old spellings do what they did, for one release. */
#include "private.h"
#include "test.h"
#include "trace.h"

/* Returns where the window of a saved file begins. */
static int64_t saved_from(const char *path)
{
    prof_trace *trace;
    int64_t from = -1;
    CHECK_EQUAL(prof_trace_open(path, &trace), PROF_OK);
    if (trace) from = prof_trace_about(trace)->from_ns;
    prof_trace_close(trace);
    return from;
}

TEST(save_last_in_seconds)
{
    prof_config config = trace_config(1 << 20);
    const char *path = trace_path("last.prof");
    config.save = path;
    config.save_last = -1;
    CHECK_EQUAL(prof_start(&config), PROF_INVALID_ARGUMENT);
    config.save_last = 0.25;
    config.save_every = 2.5;
    trace_start(&config);
    CHECK_EQUAL(prof__state.session->follow->last_seconds, 0.25);
    CHECK_EQUAL(prof__state.session->follow->every_ns, 2500000000u);
    CHECK_EQUAL(prof_save_last(path, 0), PROF_INVALID_ARGUMENT);
    CHECK_EQUAL(prof_save_last(path, -1), PROF_INVALID_ARGUMENT);
    for (uint64_t begin = prof_host_ns(); prof_host_ns() - begin < PROF_SECOND / 50;) PROFILE_MARK("work");
    CHECK_EQUAL(prof_save_last(path, 0.01), PROF_OK);
    CHECK(saved_from(path) > 0);
    CHECK_EQUAL(prof_save_last(path, 60), PROF_OK);
    CHECK_EQUAL(saved_from(path), 0);
    CHECK_EQUAL(prof_stop(), PROF_OK);
}

static prof_status open_with(prof_status (*open)(prof_trace **trace), prof_trace **trace) { return open(trace); }

static void steps(void *user, double share) { *(double *)user += share; }

TEST(names)
{
    prof_config config = trace_config(1 << 20);
    prof_trace *trace = NULL, *copy = NULL;
    prof_marker *marker;
    prof_mark_scope reach = PROF_MARK_PROCESS;
    char *text, bytes[8];
    void *image;
    size_t size;
    double share = 0;
    config.output = trace_path("names.prof");
    trace_start(&config);
    prof_thread_name("old");
    {
        PROFILE_SCOPE_S("scope");
        PROFILE_MEMORY_SCOPE_S("memory");
        PROFILE_STEP_S("step", 1);
        PROFILE_THROUGHPUT_S("throughput", 2);
        PROFILE_SCOPE_M("mask", 1);
        PROFILE_MARK_S("mark");
        PROFILE_MARK_SCOPE("process", PROF_MARK_PROCESS);
        PROFILE_FLOW_OUT_N("flow", 1);
        PROFILE_FLOW_STEP_N("flow", 1);
        PROFILE_FLOW_IN_N("flow", 1);
        PROFILE_ALLOC_C(bytes, 8, "pool");
        PROFILE_REALLOC_C((uintptr_t)bytes, bytes, 4, "pool");
        PROFILE_FREE_C(bytes, "pool");
    }
    marker = prof_marker_create(NULL, "marker");
    prof_marker_mark(marker, reach);
    prof_marker_destroy(marker);
    prof_device_scope(prof_device_track(prof_device_create("gpu", NULL), "queue"), "device", 1, 2);
    CHECK_EQUAL(prof_set_paused(1), PROF_OK);
    CHECK(!prof_enabled());
    CHECK_EQUAL(prof_set_paused(0), PROF_OK);
    text = prof_dumps(PROF_REPORT_SUMMARY, PROF_SORT_TOTAL, 0, 0);
    CHECK(text && strstr(text, "throughput"));
    prof_report_free(text);
    CHECK_EQUAL(prof_dump(1), PROF_OK);
    CHECK_EQUAL(open_with(prof_trace_live, &trace), PROF_OK);
    CHECK_TEXT(prof_trace_track(trace, 0)->name, "old");
    CHECK_EQUAL(prof_trace_track_count(trace), 2); /* and the device's row */
    trace_list list = trace_read(trace, 0);
    static const char *const names[] = {"scope", "memory", "step", "throughput", "mask", "mark", "process", "marker"};
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) CHECK_EQUAL(trace_count(&list, names[i]), 1);
    CHECK_EQUAL(trace_count(&list, "flow"), 3);
    trace_free(&list);
    CHECK_EQUAL(prof_trace_window(trace, 1, 0), PROF_OK);
    CHECK_EQUAL(prof_trace_about(trace)->from_ns, 1);
    prof_trace_watch(trace, steps, &share);
    CHECK_EQUAL(prof_csv_write(trace, trace_path("names.csv")), PROF_OK);
    CHECK(share > 0.9);
    prof_trace_close(trace);
    image = trace_file_text(config.output, &size);
    CHECK_EQUAL(prof_image_window(image, size, 5, 7), PROF_OK);
    CHECK_EQUAL(prof_trace_memory(image, size, &copy), PROF_OK);
    if (copy) CHECK_EQUAL(prof_trace_about(copy)->to_ns, 7);
    prof_trace_close(copy);
    free(image);
}

TEST_MAIN
