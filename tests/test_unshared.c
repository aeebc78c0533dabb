/* test_unshared.c - a system whose shared mappings of files are copies, as Emscripten's: what is recorded must be in the
   .prof all the same once prof_stop() has said that it is. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include <sys/mman.h>
#include <sys/types.h>
void *test_mmap(void *at, size_t size, int rights, int flags, int file, off_t from);
#define mmap(at, size, rights, flags, file, from) test_mmap(at, size, rights, flags, file, from)
#include "private.h"
#undef mmap
#include "test.h"
#include "trace.h"

void *test_mmap(void *at, size_t size, int rights, int flags, int file, off_t from)
{
    int unshared = flags & MAP_SHARED ? (flags & ~MAP_SHARED) | MAP_PRIVATE : flags;
    return mmap(at, size, rights, unshared, file, from); /* what is stored there never comes to the file */
}

enum { SCOPES = 5000 };

static void record(prof_mode mode, const char *path)
{
    prof_config config = trace_config(1 << 20);
    config.mode = mode;
    config.output = path;
    config.wait_ns = 10000000000; /* of the stream: nothing is lost */
    trace_start(&config);
    for (int i = 0; i < SCOPES; ++i) {
        PROFILE_SCOPE("scope");
        PROFILE_ARG_I("i", i);
    }
}

static void check(const char *path)
{
    prof_trace *trace = trace_open_file(path);
    if (!trace) return;
    CHECK(prof_trace_about(trace)->complete);
    CHECK_EQUAL(prof_trace_about(trace)->lost, 0);
    trace_list list = trace_read(trace, 0);
    CHECK_EQUAL(trace_count(&list, "scope"), SCOPES);
    trace_free(&list);
    prof_trace_close(trace);
}

TEST(the_file_has_what_was_recorded)
{
    static const prof_mode modes[] = {PROF_RING, PROF_FILL, PROF_STREAM};
    for (size_t i = 0; i < sizeof modes / sizeof *modes; ++i) {
        record(modes[i], trace_path("unshared.prof"));
        CHECK(prof__state.session->apart);
        CHECK_EQUAL(prof_stop(), PROF_OK);
        check(trace_path("unshared.prof"));
        CHECK_EQUAL(prof_reset(), PROF_OK);
    }
}

TEST(no_file_is_an_error)
{
    record(PROF_RING, trace_path("closed.prof"));
    close(prof__state.session->stream.file);
    CHECK_EQUAL(prof_stop(), PROF_IO);
    CHECK(strstr(prof_error(), "closed.prof"));
    CHECK_EQUAL(prof_save(trace_path("saved.prof")), PROF_OK); /* what was recorded is still to be had */
    check(trace_path("saved.prof"));
    CHECK_EQUAL(prof_reset(), PROF_OK);
}

TEST_MAIN
