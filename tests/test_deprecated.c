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

TEST_MAIN
