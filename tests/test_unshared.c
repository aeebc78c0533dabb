/* test_unshared.c - a system whose shared mappings of files are copies, as Emscripten's: what is recorded must be in the
   .prof all the same once prof_stop() has said that it is. */
/* run: unraced */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include <sys/mman.h>
#include <sys/types.h>
void *test_mmap(void *at, size_t size, int rights, int flags, int file, long long from);
#define mmap(at, size, rights, flags, file, from) test_mmap(at, size, rights, flags, file, from)
#include "private.h"
#undef mmap
#include "test.h"
#include "trace.h"
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static int no_mappings; /* what a file system without shared mappings answers */

void *test_mmap(void *at, size_t size, int rights, int flags, int file, long long from)
{
    errno = no_mappings;
    if (no_mappings && flags & MAP_SHARED && file >= 0) return MAP_FAILED;
    int unshared = flags & MAP_SHARED ? (flags & ~MAP_SHARED) | MAP_PRIVATE : flags;
    return mmap(at, size, rights, unshared, file, (off_t)from); /* what is stored there never comes to the file */
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
        CHECK(prof__state.session->file.apart);
        CHECK_EQUAL(prof_stop(), PROF_OK);
        check(trace_path("unshared.prof"));
        CHECK_EQUAL(prof_reset(), PROF_OK);
    }
}

/* Returns 1 if the trace says why its events were in memory. */
static int says_in_memory(const char *path, const char *why)
{
    const char *key, *value;
    int says = 0;
    prof_trace *trace = trace_open_file(path);
    for (size_t i = 0; trace && prof_trace_metadata(trace, i, &key, &value); ++i)
        says |= !strcmp(key, "in memory only") && !strcmp(value, why);
    prof_trace_close(trace);
    return says;
}

TEST(file_systems_without_shared_mappings)
{
    static const int errors[] = {ENODEV, EINVAL, EOPNOTSUPP, ENOSYS};
    static const prof_mode modes[] = {PROF_RING, PROF_FILL, PROF_STREAM};
    for (size_t i = 0; i < sizeof errors / sizeof *errors; ++i) {
        for (size_t m = 0; m < sizeof modes / sizeof *modes; ++m) {
            const char *path = trace_path("unmapped.prof");
            no_mappings = errors[i];
            record(modes[m], path);
            CHECK(strstr(prof__start_note, "unmapped.prof is on a file system without shared mappings: "));
            CHECK_EQUAL(prof_stop(), PROF_OK);
            no_mappings = 0;
            check(path);
            CHECK(says_in_memory(path, strerror(errors[i])));
            CHECK_EQUAL(prof_reset(), PROF_OK);
        }
    }
}

/* What is beside an output is in memory there, as where it cannot be created. */
TEST(no_shared_mappings_beside_an_output)
{
    no_mappings = ENODEV;
    record(PROF_RING, trace_path("unmapped.csv"));
    no_mappings = 0;
    CHECK(!prof__state.session->file.live_path);
    CHECK_EQUAL(prof_stop(), PROF_OK);
    CHECK_EQUAL(access(trace_path("unmapped.csv"), F_OK), 0);
    CHECK_EQUAL(prof_reset(), PROF_OK);
}

TEST(a_killed_program_leaves_why_it_has_no_events)
{
    const char *path = trace_path("killed.prof");
    pid_t child = fork();
    if (!child) {
        no_mappings = ENODEV;
        record(PROF_RING, path);
        kill(getpid(), SIGKILL);
    }
    CHECK_EQUAL(waitpid(child, NULL, 0), child);
    CHECK(says_in_memory(path, strerror(ENODEV)));
}

TEST(other_errors_of_mappings_stay_errors)
{
    prof_config config = trace_config(1 << 20);
    config.output = trace_path("refused.prof");
    no_mappings = EACCES;
    CHECK_EQUAL(prof_start(&config), PROF_IO);
    no_mappings = 0;
    CHECK(strstr(prof_error(), "refused.prof: "));
    CHECK(access(config.output, F_OK));
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
