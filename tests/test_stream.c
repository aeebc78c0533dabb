/* PROF_STREAM: everything that threads record arrives in the file, event by event, whatever the disk and the program do
   in the meantime; what could not be kept is counted. And the service thread that does it. */
/* run: long */
#define _GNU_SOURCE 1
#include <errno.h>
#include <stdio.h>
#include <sys/types.h>
#include <unistd.h>

/* The writes behind the ring go through here. */
ssize_t test_pwrite(int file, const void *bytes, size_t size, long long at);
#define pwrite(file, bytes, size, at) test_pwrite(file, bytes, size, at)
#include "private.h"
#undef pwrite
#include "test.h"
#include "trace.h"
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

enum { WRITERS = 4 };

static struct {
    int error;   /* what every write fails with; 0: none does */
    int uneven;  /* writes are interrupted, and write less than they were given */
    int stalled; /* writes take until this is 0 again */
    unsigned calls, failed;
} disk;

ssize_t test_pwrite(int file, const void *bytes, size_t size, long long at)
{
    if (size == 8) return pwrite(file, bytes, size, (off_t)at); /* at the start: no block */
    unsigned call = __atomic_fetch_add(&disk.calls, 1, __ATOMIC_RELAXED);
    int error = __atomic_load_n(&disk.error, __ATOMIC_ACQUIRE);
    while (__atomic_load_n(&disk.stalled, __ATOMIC_ACQUIRE)) pause_us(1000);
    if (!error && disk.uneven && call % 3 == 0) error = EINTR;
    if (error) {
        if (error != EINTR) __atomic_fetch_add(&disk.failed, 1, __ATOMIC_RELEASE);
        errno = error;
        return -1;
    }
    if (disk.uneven && call % 3 == 1) size = (size + 1) / 2;
    return pwrite(file, bytes, size, (off_t)at);
}

static void disk_error(int error) { __atomic_store_n(&disk.error, error, __ATOMIC_RELEASE); }

/* One numbered unit of work: two scopes, an argument, a counter; 8 words. */
static void unit(int64_t number)
{
    PROFILE_SCOPE("outer");
    PROFILE_ARG_I("number", number);
    PROFILE_BLOCK("inner") PROFILE_COUNTER("counter", number);
}

/* One event, so that what is lost can be counted: 2 words. */
static void tick(int64_t number) { PROFILE_COUNTER("tick", number); }

static prof_config stream_config(const char *path, size_t buffer_size)
{
    prof_config config = trace_config(buffer_size);
    memset(&disk, 0, sizeof disk);
    config.mode = PROF_STREAM;
    config.output = path;
    return config;
}

/* What a track of units or ticks holds. */
typedef struct found {
    int64_t first, last, count; /* numbers of ticks or of outer scopes */
    int64_t gaps, open;         /* numbers that are missing in between; scopes without an end */
    uint64_t lost;              /* by LOST events */
} found;

/* Units are whole, but for the first and the last; numbers go up. */
static found check_units(const prof_trace *trace, size_t track)
{
    found it = {0, -1, 0, 0, 0, 0};
    prof_cursor *cursor = NULL;
    prof_event event;
    int64_t counter = -1, events = 0;
    CHECK_EQUAL(prof_cursor_open(trace, track, &cursor), PROF_OK);
    while (cursor && prof_cursor_next(cursor, &event) && test_failures < 20) {
        ++events;
        if (event.type == PROF_EVENT_LOST) {
            it.lost += event.value.as.u;
            continue;
        }
        if (event.flags & PROF_TRUNCATED_BEGIN) CHECK(events <= 2);
        if (event.flags & PROF_TRUNCATED_END) ++it.open;
        if (!strcmp(event.name, "inner")) {
            CHECK_EQUAL(event.depth, 1);
            continue;
        }
        int is_tick = !strcmp(event.name, "tick");
        int64_t number = event.value.as.i;
        if (!strcmp(event.name, "counter")) {
            CHECK(number == it.last || !it.count);
            CHECK(number > counter);
            CHECK_EQUAL(event.depth, 2);
            counter = number;
            continue;
        }
        if (!is_tick) {
            const prof_value *value = trace_arg(&event, "number");
            CHECK_TEXT(event.name, "outer");
            CHECK_EQUAL(event.depth, 0);
            if (!value) {
                CHECK(event.flags != 0);
                continue;
            }
            number = value->as.i;
        }
        if (!it.count)
            it.first = number;
        else
            it.gaps += number - it.last - 1;
        CHECK(!it.count || number > it.last);
        it.last = number;
        ++it.count;
    }
    prof_cursor_close(cursor);
    return it;
}

static found check_named(const prof_trace *trace, const char *name)
{
    found none = {0, -1, 0, 0, 0, 0};
    size_t track = trace_track_named(trace, name);
    CHECK(track < prof_trace_track_count(trace));
    return track < prof_trace_track_count(trace) ? check_units(trace, track) : none;
}

typedef struct job {
    pthread_t thread;
    int index;
    int64_t from, to;
    void (*event)(int64_t number);
} job;

static void *job_run(void *pointer)
{
    job *j = (job *)pointer;
    char name[16];
    snprintf(name, sizeof name, "writer %d", j->index);
    PROFILE_THREAD(name);
    for (int64_t i = j->from; i < j->to; ++i) j->event(i);
    return NULL;
}

static void jobs_run(int count, int64_t to, void (*event)(int64_t))
{
    job jobs[WRITERS];
    for (int i = 0; i < count; ++i) {
        jobs[i].index = i;
        jobs[i].from = 0;
        jobs[i].to = to;
        jobs[i].event = event;
        CHECK(!pthread_create(&jobs[i].thread, NULL, job_run, &jobs[i]));
    }
    for (int i = 0; i < count; ++i) pthread_join(jobs[i].thread, NULL);
}

/* Nothing is missing of what jobs_run() did. */
static void check_jobs(const prof_trace *trace, int count, int64_t to)
{
    char name[32];
    CHECK_EQUAL(prof_trace_about(trace)->lost, 0);
    CHECK_EQUAL(prof_trace_about(trace)->overwritten_chunks, 0);
    for (int i = 0; i < count; ++i) {
        snprintf(name, sizeof name, "writer %d", i);
        found it = check_named(trace, name);
        CHECK_EQUAL(it.count, to);
        CHECK_EQUAL(it.first, 0);
        CHECK_EQUAL(it.last, to - 1);
        CHECK_EQUAL(it.gaps + it.open, 0);
    }
}

/*-- what is recorded is in the file --*/

TEST(stream_is_exact)
{
    const char *path = trace_path("stream.prof");
    int64_t count = trace_times(20000, 100000, 3000000);
    prof_config config = stream_config(path, 1 << 20);
    config.wait_ns = 10000000000u;
    trace_start(&config);
    jobs_run(2, count, unit);
    prof_trace *trace = trace_stop();
    check_jobs(trace, 2, count);
    CHECK_EQUAL(prof_trace_about(trace)->mode, PROF_STREAM);
    CHECK_EQUAL(prof_trace_about(trace)->complete, 1);
    prof_trace_close(trace);
    trace = trace_open_file(path);
    if (!trace) return;
    check_jobs(trace, 2, count);
    CHECK_TEXT(prof_trace_about(trace)->write_error, "");
    trace_list service = trace_read(trace, trace_track_named(trace, "prof"));
    CHECK(trace_count(&service, "pack") > 0);
    trace_free(&service);
    prof_trace_close(trace);
}

/* Nobody looks at chunks that were never taken: that would give them pages. In the end the disk has them back. */
TEST(a_large_buffer_takes_what_is_used)
{
    struct stat about;
    const char *path = trace_path("large.prof");
    prof_config config = stream_config(path, 256u << 20);
    long before = trace_resident();
    trace_start(&config);
    jobs_run(1, 10000, unit);
    pause_us(100000); /* the service comes to look */
    if (!TRACE_SANITIZER) CHECK(trace_resident() < before + (16 << 20));
    prof_trace *trace = trace_stop();
    check_jobs(trace, 1, 10000);
    prof_trace_close(trace);
    CHECK(!stat(path, &about) && about.st_size >= 256 << 20);
#ifndef _WIN32
    CHECK(about.st_blocks < (32 << 20) / 512);
#endif
    trace = trace_open_file(path);
    if (trace) check_jobs(trace, 1, 10000);
    prof_trace_close(trace);
    CHECK_EQUAL(prof_reset(), PROF_OK);
    unlink(path);
}

/* The recording ends while the service packs: what it does is no scope that was left open. */
TEST(service_is_never_open)
{
    const char *path = trace_path("stream_service.prof");
    for (long round = 0; round < trace_times(1, 3, 5); ++round) {
        prof_config config = stream_config(path, 16 << 20); /* much to pack at once */
        trace_start(&config);
        for (int64_t i = trace_times(150000, 300000, 300000); i > 0; --i) tick(i);
        prof_trace_close(trace_stop());
        prof_trace *trace = trace_open_file(path);
        if (!trace) return;
        size_t track = trace_track_named(trace, "prof");
        if (track < prof_trace_track_count(trace)) {
            trace_list service = trace_read(trace, track);
            for (size_t i = 0; i < service.count; ++i) CHECK_EQUAL(service.events[i].flags, 0);
            trace_free(&service);
        }
        prof_trace_close(trace);
    }
}

/* The same without the reader: blocks, sums, the packed words of each, and sequence numbers. */
TEST(blocks_are_what_the_format_says)
{
    const char *path = trace_path("stream_format.prof");
    prof_config config = stream_config(path, 256 << 10);
    config.wait_ns = 10000000000u;
    trace_start(&config);
    for (int64_t i = 0; i < 100000; ++i) tick(i);
    CHECK_EQUAL(prof_stop(), PROF_OK);
    size_t size = 0;
    char *bytes = trace_file_text(path, &size);
    CHECK(bytes && size > sizeof(prof__header));
    if (!bytes) return;
    const prof__header *h = (const prof__header *)(const void *)bytes;
    CHECK_EQUAL(h->archive_first, h->archive_offset);
    CHECK(h->archive_next <= size && h->archive_next > h->archive_first);
    CHECK(h->archive_limit > size);
    uint64_t words[PROF_CHUNK_SIZE / 8], newest = 0;
    int64_t expected = 0;
    for (uint64_t at = h->archive_first; at < h->archive_next && test_failures < 20;) {
        const prof__block *block = (const prof__block *)(const void *)(bytes + at);
        CHECK_EQUAL(block->magic, PROF__BLOCK_MAGIC);
        CHECK_EQUAL(block->check, prof__block_check(block, block + 1));
        CHECK(block->size % 8 == 0 && at + block->size <= h->archive_next);
        CHECK_EQUAL(prof__unpack((const unsigned char *)(block + 1), block->size - sizeof *block, words, block->words),
                    block->words);
        for (size_t i = 0, length; i < block->words; i += length) {
            length = prof__record_words(words[i], block->words - i);
            CHECK(length != 0);
            if (!length) break;
            if (words[i] >> PROF__KIND_SHIFT == PROF__KIND_COUNTER_INT) CHECK_EQUAL(words[i + 1], expected++);
        }
        CHECK(block->sequence > newest); /* one writer, and a service that has recorded little */
        newest = block->sequence;
        at += block->size;
    }
    CHECK(expected > 80000 && expected <= 100000);
    free(bytes);
}

TEST(stream_while_it_runs)
{
    const char *path = trace_path("stream_live.prof"), *copy = trace_path("stream_copy.prof");
    prof_config config = stream_config(path, 512 << 10);
    config.wait_ns = 10000000000u;
    trace_start(&config);
    PROFILE_THREAD("main");
    int64_t count = 0;
    for (int round = 0; round < 10; ++round) {
        for (long i = trace_times(4000, 20000, 20000); i > 0; --i) tick(count++);
        prof_trace *trace = round % 2 ? trace_live() : trace_open_file(path);
        found it = check_named(trace, "main");
        CHECK_EQUAL(it.count, count);
        CHECK_EQUAL(it.first + it.gaps, 0);
        prof_trace_close(trace);
        if (round != 5) continue;
        CHECK_EQUAL(prof_save(copy), PROF_OK);
        trace = trace_open_file(copy);
        if (trace) CHECK_EQUAL(check_named(trace, "main").count, count);
        prof_trace_close(trace);
    }
    CHECK_EQUAL(prof_stop(), PROF_OK);
    PROFILE_THREAD(NULL);
}

TEST(threads_come_and_go)
{
    const char *path = trace_path("stream_threads.prof");
    int rounds = (int)trace_times(60, 200, 4000);
    prof_config config = stream_config(path, 512 << 10);
    config.wait_ns = 10000000000u;
    trace_start(&config);
    for (int round = 0; round < rounds; ++round) jobs_run(WRITERS, 1 + round % 300, unit);
    prof_trace *trace = trace_stop();
    size_t tracks = 0;
    int64_t units = 0, made = 0;
    for (int round = 0; round < rounds; ++round) made += WRITERS * (1 + round % 300);
    for (size_t i = 0; i < prof_trace_track_count(trace) && test_failures < 20; ++i) {
        if (strncmp(prof_trace_track(trace, i)->name, "writer", 6)) continue;
        found it = check_units(trace, i);
        CHECK_EQUAL(it.first + it.gaps + it.open, 0);
        units += it.count;
        ++tracks;
    }
    CHECK_EQUAL(tracks, WRITERS * rounds);
    CHECK_EQUAL(units, made);
    CHECK_EQUAL(prof_trace_about(trace)->lost, 0);
    prof_trace_close(trace);
}

TEST(pause_resume_stop_start)
{
    const char *path = trace_path("stream_again.prof");
    prof_config config = stream_config(path, 256 << 10);
    config.wait_ns = 10000000000u;
    for (int session = 0; session < trace_times(3, 5, 5); ++session) {
        trace_start(&config);
        for (int64_t i = 0; i < 50000; ++i) {
            if (i % 5000 == 1000) CHECK_EQUAL(prof_pause(), PROF_OK);
            if (i % 5000 == 2000) CHECK_EQUAL(prof_resume(), PROF_OK);
            tick(i);
        }
        CHECK_EQUAL(prof_stop(), PROF_OK);
        prof_trace *trace = trace_open_file(path);
        if (!trace) return;
        uint64_t events = 0;
        for (size_t i = 0; i < prof_trace_track_count(trace); ++i) {
            if (!strcmp(prof_trace_track(trace, i)->name, "prof")) continue;
            found it = check_units(trace, i);
            events += (uint64_t)it.count;
            CHECK_EQUAL(it.count + it.gaps, 50000);
        }
        CHECK_EQUAL(events, 40000);
        CHECK_EQUAL(prof_trace_about(trace)->lost, 0);
        prof_trace_close(trace);
    }
}

/*-- a process that dies --*/

typedef struct progress {
    int64_t done[WRITERS]; /* newest unit that has ended */
    int ready, value;
} progress;

static progress *shared;

static void shared_make(void)
{
    if (!shared)
        shared = (progress *)mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    memset(shared, 0, sizeof *shared);
    for (int i = 0; i < WRITERS; ++i) shared->done[i] = -1;
}

static void *endless(void *which)
{
    intptr_t index = (intptr_t)which;
    char name[16];
    snprintf(name, sizeof name, "writer %d", (int)index);
    PROFILE_THREAD(name);
    for (int64_t i = 0;; ++i) {
        unit(i);
        __atomic_store_n(&shared->done[index], i, __ATOMIC_RELEASE);
    }
    return NULL;
}

static void wait_for(const int *flag)
{
    WAIT_UNTIL(__atomic_load_n(flag, __ATOMIC_ACQUIRE));
}

static int exit_status(pid_t child)
{
    int status = -1;
    return waitpid(child, &status, 0) == child ? status : -1;
}

static pid_t child_of_writers(const prof_config *config)
{
    fflush(stdout);
    pid_t child = fork();
    if (child) return child;
    pthread_t thread;
    if (prof_start(config)) {
        printf("child: %s\n", prof_error());
        _exit(99);
    }
    for (int i = 0; i < 2; ++i) pthread_create(&thread, NULL, endless, (void *)(intptr_t)i);
    __atomic_store_n(&shared->ready, 1, __ATOMIC_RELEASE);
    for (;;) pause();
}

/* What the file has of a writer of a process that was killed. */
static void check_killed(const prof_config *config, const prof_trace *trace, const char *name, int64_t done)
{
    size_t track = trace_track_named(trace, name);
    int missing = track == prof_trace_track_count(trace);
    if (missing && !config->max_file_size) CHECK(done < 0);
    if (missing || done < 0) return;
    found it = check_units(trace, track);
    if (config->max_file_size) {
        CHECK(it.gaps == 0 || prof_trace_about(trace)->lost);
    } else {
        CHECK_EQUAL(it.first + it.gaps, 0);
        CHECK_EQUAL(prof_trace_about(trace)->lost, 0);
    }
    /* Laps of the archive may have taken all from a writer that was asleep when it had just begun a chunk. */
    if (it.count || !config->max_file_size) CHECK(it.last >= done);
    CHECK(it.last <= done + 1);
    CHECK(it.open <= 2);
}

static void kill_and_check(const prof_config *config, long after_us)
{
    shared_make();
    pid_t child = child_of_writers(config);
    wait_for(&shared->ready);
    pause_us(after_us);
    kill(child, SIGKILL);
    CHECK_EQUAL(exit_status(child), SIGKILL);
    prof_trace *trace = trace_open_file(config->output);
    if (!trace) return;
    CHECK_EQUAL(prof_trace_about(trace)->complete, 0);
    for (int i = 0; i < 2; ++i) {
        char name[16];
        snprintf(name, sizeof name, "writer %d", i);
        check_killed(config, trace, name, shared->done[i]);
    }
    if (shared->done[0] >= 0 || shared->done[1] >= 0) CHECK(prof_trace_about(trace)->event_count > 0);
    prof_trace_close(trace);
}

TEST(killed_at_any_moment)
{
    unsigned seed = (unsigned)time(NULL);
    int rounds = (int)trace_times(5, 10, 1000);
    printf("seed %u\n", seed);
    for (int i = 0; i < rounds && !test_failures; ++i) {
        prof_config config = stream_config(trace_path("stream_killed.prof"), 256 << 10);
        config.wait_ns = 10000000000u;
        if (i % 3 == 2) { /* laps of the archive: the newest units stay */
            config.max_file_size = (256 << 10) + (512 << 10);
            config.at_limit = PROF_LIMIT_ROTATE;
        }
        kill_and_check(&config, (long)(rand_r(&seed) % 60000));
    }
}

/*-- when the disk does not take it --*/

/* Every number was either recorded or counted as lost. */
static found check_accounts(const prof_trace *trace, const char *name, int64_t made)
{
    found it = check_named(trace, name);
    const prof_track *track = prof_trace_track(trace, trace_track_named(trace, name));
    CHECK_EQUAL((int64_t)track->lost + it.count, made);
    CHECK_EQUAL(it.lost, track->lost);
    return it;
}

/* Stops a session that has lost events while writes failed. Returns its trace. */
static prof_trace *stop_after(int error)
{
    const char *why = strerror(error);
    CHECK_EQUAL(prof_stop(), PROF_IO);
    CHECK(strstr(prof_error(), prof__state.session->file.live_path) && strstr(prof_error(), why));
    CHECK_EQUAL(prof_save(trace_path("stream_kept.csv")), PROF_IO);
    CHECK(strstr(prof_error(), "stream_kept.csv: ") && strstr(prof_error(), why));
    CHECK(trace_file_size(trace_path("stream_kept.csv")) > 0);
    CHECK_EQUAL(prof_save(trace_path("stream_kept.prof")), PROF_IO);
    CHECK_EQUAL(prof_save_last_ns(trace_path("stream_kept.txt"), PROF_SECOND), PROF_IO);
    CHECK(strstr(prof_error(), why) != NULL);
    return trace_live();
}

/* Says what a report lacks, in the order of its reasons. */
static void losses_are(const prof_trace *trace, const char *first, const char *second)
{
    char text[512] = "";
    int kind = 0;
    while (kind < PROF__LOSSES && !prof__loss_text(trace, kind, text, sizeof text)) ++kind;
    CHECK(strstr(text, first) != NULL);
    for (++kind; kind < PROF__LOSSES && !prof__loss_text(trace, kind, text, sizeof text);) ++kind;
    CHECK(strstr(text, second) != NULL);
    for (kind = 0; kind < PROF__LOSSES; ++kind)
        CHECK(!prof__loss_text(trace, kind, text, sizeof text) || !strstr(text, "PROF_BUFFER"));
}

static void wait_for_failures(unsigned more)
{
    unsigned before = __atomic_load_n(&disk.failed, __ATOMIC_ACQUIRE);
    WAIT_UNTIL(__atomic_load_n(&disk.failed, __ATOMIC_ACQUIRE) >= before + more);
}

static uint32_t free_chunks(void)
{
    return (uint32_t)__atomic_load_n(&prof__state.session->ring.free_chunks, __ATOMIC_ACQUIRE);
}

static void wait_for_room(void) /* until the service has done what there was to do */
{
    WAIT_UNTIL(free_chunks() >= prof__state.session->chunk_count / 2);
}

TEST(drop_and_recover)
{
    const char *path = trace_path("stream_drop.prof");
    const int errors[] = {ENOSPC, EDQUOT, EIO};
    prof_config config = stream_config(path, 256 << 10);
    trace_start(&config);
    PROFILE_THREAD("main");
    int64_t made = 0;
    for (int round = 0; round < 3; ++round) {
        for (int i = 0; i < 2000; ++i) tick(made++);
        disk_error(errors[round]);
        for (int i = 0; i < 40000; ++i) tick(made++); /* more than the ring holds */
        wait_for_failures(2);
        for (int i = 0; i < 40000; ++i) tick(made++);
        CHECK_EQUAL(free_chunks(), 0);
        prof_trace *trace = trace_live();
        found it = check_accounts(trace, "main", made);
        CHECK(it.lost > 40000);
        CHECK_TEXT(prof_trace_about(trace)->write_error, strerror(errors[round]));
        CHECK(prof_trace_about(trace)->write_failures > 0);
        prof_trace_close(trace);
        disk_error(0);
        wait_for_room();
        CHECK(free_chunks() >= prof__state.session->chunk_count / 2);
    }
    for (int i = 0; i < 100; ++i) tick(made++);
    prof_trace *trace = stop_after(EIO);
    found it = check_accounts(trace, "main", made);
    CHECK_EQUAL(it.last, made - 1);
    CHECK(it.count < made);
    prof_trace_close(trace);
    trace = trace_open_file(path);
    check_accounts(trace, "main", made);
    char *text = NULL;
    size_t size;
    CHECK_EQUAL(prof_summary_write(trace, trace_path("stream_drop.txt"), NULL), PROF_OK);
    text = trace_file_text(trace_path("stream_drop.txt"), &size);
    CHECK(text && strstr(text, "failed while recording: ") && strstr(text, strerror(EIO)));
    free(text);
    prof_trace_close(trace);
    PROFILE_THREAD(NULL);
}

TEST(uneven_writes)
{
    const char *path = trace_path("stream_uneven.prof");
    prof_config config = stream_config(path, 256 << 10);
    config.wait_ns = 10000000000u;
    disk.uneven = 1;
    trace_start(&config);
    int64_t count = trace_times(20000, 40000, 40000);
    jobs_run(2, count, unit);
    prof_trace *trace = trace_stop();
    check_jobs(trace, 2, count);
    CHECK_EQUAL(prof_trace_about(trace)->write_failures, 0);
    prof_trace_close(trace);
}

static void *unstall_later(void *unused)
{
    pause_us(200000);
    __atomic_store_n(&disk.stalled, 0, __ATOMIC_RELEASE);
    return unused;
}

TEST(wait_for_a_slow_disk)
{
    const char *path = trace_path("stream_wait.prof");
    pthread_t thread;
    prof_config config = stream_config(path, 256 << 10);
    config.wait_ns = 10000000000u;
    disk.stalled = 1;
    trace_start(&config);
    CHECK(!pthread_create(&thread, NULL, unstall_later, NULL));
    errno = 4711;
    int64_t count = trace_times(10000, 40000, 40000);
    jobs_run(3, count, unit);
    for (int64_t i = 0; i < count; ++i) tick(i);
    CHECK_EQUAL(errno, 4711);
    pthread_join(thread, NULL);
    prof_trace *trace = trace_stop();
    check_jobs(trace, 3, count);
    prof_trace_close(trace);
}

/* A disk that takes nothing costs a thread one wait, not one for each event. Were it one each, this would take an
   hour. */
TEST(wait_in_vain_once)
{
    const char *path = trace_path("stream_vain.prof");
    prof_config config = stream_config(path, 256 << 10);
    config.wait_ns = 50000000;
    disk_error(ENOSPC);
    disk.error = ENOSPC;
    trace_start(&config);
    PROFILE_THREAD("main");
    uint64_t start = prof__monotonic();
    for (int64_t i = 0; i < 100000; ++i) tick(i);
    uint64_t took = prof__monotonic() - start;
    CHECK(took >= config.wait_ns); /* it did wait */
    CHECK(took < 1000 * config.wait_ns);
    CHECK_EQUAL(free_chunks(), 0);
    jobs_run(2, 1000, tick); /* new threads wait, too, and then do without */
    prof_trace *trace = trace_live();
    found it = check_accounts(trace, "main", 100000);
    CHECK(it.lost > 0);
    CHECK(prof_trace_about(trace)->lost >= it.lost + 2000);
    prof_trace_close(trace);
    disk_error(0);
    wait_for_room();
    tick(100000);
    trace = stop_after(ENOSPC);
    CHECK_EQUAL(check_accounts(trace, "main", 100001).last, 100000);
    prof_trace_close(trace);
    PROFILE_THREAD(NULL);
}

/* Threads that sleep for room are let go by prof_stop(). */
static void *stop_later(void *unused)
{
    wait_for_failures(1);
    pause_us(50000);
    prof_stop(); /* PROF_IO if a thread lost an event before */
    return unused;
}

TEST(stop_ends_waits)
{
    pthread_t thread;
    prof_config config = stream_config(trace_path("stream_stop.prof"), 256 << 10);
    config.wait_ns = 10000000000u;
    disk.error = ENOSPC;
    trace_start(&config);
    CHECK(!pthread_create(&thread, NULL, stop_later, NULL));
    uint64_t start = prof__monotonic();
    jobs_run(3, 40000, tick);
    CHECK(prof__monotonic() - start < config.wait_ns); /* a thread that is not let go waits for longer */
    pthread_join(thread, NULL);
    disk_error(0);
}

/*-- limits --*/

TEST(rotate_keeps_the_newest)
{
    const char *path = trace_path("stream_rotate.prof");
    uint64_t room = 512 << 10;
    for (long round = 0; round < trace_times(2, 4, 8); ++round, room += 1000 * (uint64_t)round + 8) {
        prof_config config = stream_config(path, 256 << 10);
        config.wait_ns = 10000000000u;
        config.at_limit = PROF_LIMIT_ROTATE;
        config.max_file_size = (256 << 10) + room;
        trace_start(&config);
        PROFILE_THREAD("main");
        int64_t count = trace_times(50000, 100000, 100000) * (2 + 3 * round) / 2;
        for (int64_t i = 0; i < count; ++i) unit(i);
        CHECK_EQUAL(prof_stop(), PROF_OK);
        CHECK(trace_file_size(path) <= (long)config.max_file_size);
        prof_trace *trace = trace_open_file(path);
        if (!trace) return;
        found it = check_named(trace, "main");
        CHECK_EQUAL(it.last, count - 1);
        CHECK_EQUAL(it.gaps, 0);
        CHECK_EQUAL(prof_trace_about(trace)->lost, 0);
        CHECK(it.count > (int64_t)(room / 32)); /* a unit is 64 bytes before it is packed */
        if (round) CHECK(prof_trace_about(trace)->overwritten_chunks > 0);
        prof_trace_close(trace);
    }
    PROFILE_THREAD(NULL);
}

static int disk_has_failed(void)
{
    return __atomic_load_n(&prof__state.session->header->write_failures, __ATOMIC_ACQUIRE) != 0;
}

TEST(stop_keeps_the_oldest)
{
    const char *path = trace_path("stream_limit.prof");
    prof_config config = stream_config(path, 256 << 10);
    config.max_file_size = 1 << 20;
    trace_start(&config);
    PROFILE_THREAD("main");
    int64_t count = trace_times(300000, 300000, 1000000);
    for (int64_t i = 0; i < count; ++i) {
        /* however late the service is, nothing is lost before the limit */
        while (i % 4000 == 0 && !disk_has_failed() && free_chunks() < prof__state.session->chunk_count / 2)
            pause_us(100);
        tick(i);
    }
    prof_trace *trace = trace_stop();
    found it = check_accounts(trace, "main", count);
    CHECK_EQUAL(it.first, 0);
    CHECK_EQUAL(it.gaps, 0);
    CHECK(it.count > 50000 && it.count < count);
    CHECK_TEXT(prof_trace_about(trace)->write_error, "max_file_size is reached");
    losses_are(trace, "max_file_size is reached", "enlarge PROF_MAX_FILE_SIZE");
    CHECK(trace_file_size(path) <= (long)config.max_file_size);
    prof_trace_close(trace);
    PROFILE_THREAD(NULL);
}

TEST(disk_full)
{
    char folder[300], path[320], filler[320];
    snprintf(folder, sizeof folder, "%s", trace_path("full"));
    snprintf(path, sizeof path, "%s/stream.prof", folder);
    snprintf(filler, sizeof filler, "%s/filler", folder);
    mkdir(folder, 0777);
    if (mount("tmpfs", folder, "tmpfs", 0, "size=2m")) SKIP("mounting a tmpfs is not permitted");
    prof_config config = stream_config(path, 256 << 10);
    char *block = (char *)calloc(1, 1 << 20);
    trace_write_file(filler, block, 1 << 20);
    free(block);
    config.wait_ns = 1000000000; /* so that the ring is not full before the disk is */
    trace_start(&config);
    PROFILE_THREAD("main");
    int64_t made = 0;
    while (!disk_has_failed() && made < 10000000) tick(made++);
    for (int i = 0; i < 40000; ++i) tick(made++);
    CHECK_EQUAL(free_chunks(), 0);
    for (int i = 0; i < 1000; ++i) tick(made++);
    CHECK(!unlink(filler));
    wait_for_room();
    for (int i = 0; i < 1000; ++i) tick(made++);
    prof_trace *trace = stop_after(ENOSPC);
    found it = check_accounts(trace, "main", made);
    CHECK_EQUAL(it.last, made - 1);
    CHECK(it.lost > 0);
    CHECK_TEXT(prof_trace_about(trace)->write_error, strerror(ENOSPC));
    losses_are(trace, "No space left on device", "lost because the file could not be written");
    prof_trace_close(trace);
    trace = trace_open_file(path);
    if (trace) check_accounts(trace, "main", made);
    prof_trace_close(trace);
    CHECK_EQUAL(prof_reset(), PROF_OK);
    CHECK(!umount(folder));
    PROFILE_THREAD(NULL);
}

static int child_with_a_limit(void)
{
    const char *path = trace_path("stream_rlimit.prof");
    struct rlimit limit = {1 << 20, RLIM_INFINITY}, small = {100 << 10, RLIM_INFINITY};
    prof_config config = stream_config(path, 256 << 10);
    signal(SIGXFSZ, SIG_DFL);
    setrlimit(RLIMIT_FSIZE, &small);
    CHECK_EQUAL(prof_start(&config), PROF_IO); /* the ring alone is larger */
    setrlimit(RLIMIT_FSIZE, &limit);
    config.wait_ns = 1000000000;
    trace_start(&config);
    PROFILE_THREAD("main");
    int64_t made = 0;
    while (!disk_has_failed() && made < 10000000) tick(made++);
    for (int i = 0; i < 40000; ++i) tick(made++);
    CHECK_EQUAL(free_chunks(), 0);
    limit.rlim_cur = RLIM_INFINITY;
    setrlimit(RLIMIT_FSIZE, &limit);
    wait_for_room();
    for (int i = 0; i < 1000; ++i) tick(made++);
    prof_trace *trace = stop_after(EFBIG);
    CHECK_EQUAL(check_accounts(trace, "main", made).last, made - 1);
    CHECK_TEXT(prof_trace_about(trace)->write_error, strerror(EFBIG));
    prof_trace_close(trace);
    return test_failures;
}

static int in_child(int (*body)(void))
{
    fflush(stdout);
    pid_t child = fork();
    if (!child) {
        int result = body();
        fflush(stdout);
        _exit(result != 0);
    }
    return exit_status(child);
}

TEST(limit_on_the_size_of_files) { CHECK_EQUAL(in_child(child_with_a_limit), 0); }

/* PROF_OUTPUT has nothing but stderr to say so. */
static void out_of_room(void)
{
    prof_config config = stream_config(trace_path("stream_told.prof"), 256 << 10);
    dup2(open(trace_path("stream_told.txt"), O_WRONLY | O_CREAT | O_TRUNC, 0644), 2);
    trace_start(&config);
    disk_error(EDQUOT);
    for (int64_t i = 0; i < 200000; ++i) tick(i);
    exit(0);
}

TEST(exit_tells_of_a_full_disk)
{
    pid_t child = fork();
    if (!child) out_of_room();
    CHECK_EQUAL(exit_status(child), 0);
    size_t size;
    char *text = trace_file_text(trace_path("stream_told.txt"), &size);
    CHECK(text && strstr(text, "prof: ") && strstr(text, strerror(EDQUOT)));
    free(text);
}

/*-- what a program may do to the file --*/

/* 1: the service has nothing to write. */
static int service_is_done(void)
{
    const prof__session *s = prof__state.session;
    for (uint64_t i = 0; i < s->chunk_count; ++i) {
        const prof__chunk *chunk = (const prof__chunk *)(const void *)(s->chunks + i * s->chunk_size);
        if (__atomic_load_n(&chunk->state, __ATOMIC_ACQUIRE) == PROF__CHUNK_FULL) return 0;
    }
    return 1;
}

static int child_that_closes_everything(void)
{
    const char *path = trace_path("stream_closed.prof"), *other = trace_path("stream_other.txt");
    prof_config config = stream_config(path, 256 << 10);
    config.wait_ns = 10000000000u;
    trace_start(&config);
    int64_t made = 0;
    while (made < 50000) tick(made++);
    for (int i = 0; i < 1500 && !service_is_done(); ++i) { /* not in the middle of a write */
        pause_us(20000);
        for (int k = 0; k < 1020 && i % 5 == 4; ++k) tick(made++); /* it may look again when another chunk is begun */
    }
    for (int file = 3; file < 256; ++file) close(file);
    int mine[250];
    for (int i = 0; i < 250; ++i) mine[i] = open(other, O_RDWR | O_CREAT | O_TRUNC, 0666); /* of the same numbers */
    for (int i = 0; i < 50000; ++i) tick(made++);
    prof_trace *trace = trace_stop();
    found it = check_units(trace, trace_track_named(trace, "prof") ? 0 : 1);
    CHECK_EQUAL(it.count, made);
    prof_trace_close(trace);
    CHECK_EQUAL(prof_reset(), PROF_OK);
    CHECK_EQUAL(trace_file_size(other), 0);
    for (int i = 0; i < 250; ++i) CHECK(!close(mine[i]));
    return test_failures;
}

TEST(program_closes_all_files)
{
    if (TRACE_SANITIZER == 2) SKIP("the thread sanitizer calls it a race, which it is");
    CHECK_EQUAL(in_child(child_that_closes_everything), 0);
}

TEST(file_removed_while_recording)
{
    const char *path = trace_path("stream_removed.prof");
    prof_config config = stream_config(path, 256 << 10);
    config.wait_ns = 10000000000u;
    trace_start(&config);
    PROFILE_THREAD("main");
    for (int64_t i = 0; i < 30000; ++i) tick(i);
    CHECK(!unlink(path));
    for (int64_t i = 30000; i < 60000; ++i) tick(i);
    CHECK_EQUAL(prof_stop(), PROF_IO);
    CHECK(strstr(prof_error(), "was removed") && strstr(prof_error(), path));
    prof_trace *trace = trace_live(); /* the events are still there */
    CHECK_EQUAL(check_named(trace, "main").count, 60000);
    prof_trace_close(trace);
    PROFILE_THREAD(NULL);
}

/*-- exports --*/

/* Lines with this text in them. */
static long count_lines(const char *path, const char *with)
{
    size_t size;
    long count = 0;
    char *text = trace_file_text(path, &size), *end;
    for (char *at = text; at && *at && (end = strchr(at, '\n')) != NULL; at = end + 1) {
        *end = 0;
        count += strstr(at, with) != NULL;
    }
    free(text);
    return count;
}

TEST(export_at_the_end)
{
    const char *path = trace_path("stream_export.csv"), *image = trace_path("stream_export.csv.prof");
    prof_config config = stream_config(path, 256 << 10);
    config.wait_ns = 10000000000u;
    unlink(path);
    trace_start(&config);
    for (int64_t i = 0; i < 50000; ++i) tick(i);
    CHECK(trace_file_size(image) > 0);
    CHECK_EQUAL(trace_file_size(path), -1);
    CHECK_EQUAL(prof_stop(), PROF_OK);
    CHECK_EQUAL(trace_file_size(image), -1);
    CHECK_EQUAL(count_lines(path, "tick"), 50000);
    prof_trace *trace = trace_live(); /* still */
    CHECK_EQUAL(prof_trace_about(trace)->lost, 0);
    prof_trace_close(trace);
}

TEST(export_that_fails)
{
    const char *path = trace_path("stream_fails.csv"), *image = trace_path("stream_fails.csv.prof");
    prof_config config = stream_config(path, 256 << 10);
    config.wait_ns = 10000000000u;
    unlink(path);
    trace_start(&config);
    PROFILE_THREAD("main");
    for (int64_t i = 0; i < 50000; ++i) tick(i);
    CHECK(!mkdir(path, 0777));
    CHECK_EQUAL(prof_stop(), PROF_IO);
    CHECK(strstr(prof_error(), image) != NULL);
    prof_trace *trace = trace_open_file(image);
    if (trace) CHECK_EQUAL(check_named(trace, "main").count, 50000);
    prof_trace_close(trace);
    CHECK(!rmdir(path));
    PROFILE_THREAD(NULL);
}

/*-- dump_period --*/

TEST(dumps_in_a_ring)
{
    const char *path = trace_path("dump.csv");
    prof_config config = trace_config(1 << 20);
    config.output = path;
    config.dump_period_ns = 20000000;
    unlink(path);
    fflush(stdout);
    shared_make();
    pid_t child = fork();
    if (!child) {
        if (prof_start(&config)) _exit(99);
        PROFILE_MARK("early");
        for (;;) pause();
    }
    WAIT_UNTIL(count_lines(path, "early") > 0);
    kill(child, SIGKILL);
    CHECK_EQUAL(exit_status(child), SIGKILL);
    CHECK_EQUAL(count_lines(path, "early"), 1);
}

TEST(dumps_follow_the_program)
{
    const char *path = trace_path("dumps.csv");
    prof_config config = trace_config(1 << 20);
    config.output = path;
    config.dump_period_ns = 10000000;
    unlink(path);
    trace_start(&config);
    for (int round = 1; round <= 3; ++round) {
        PROFILE_MARK("again");
        WAIT_UNTIL(count_lines(path, "again") >= round);
        CHECK_EQUAL(count_lines(path, "again"), round);
    }
    CHECK_EQUAL(prof_stop(), PROF_OK);
    CHECK_EQUAL(count_lines(path, "again"), 3);
}

/*-- the service thread --*/

static void *start_and_stop(void *path)
{
    for (int i = 0; i < 100; ++i) {
        prof_config config = trace_config(128 << 10);
        config.mode = PROF_STREAM;
        config.output = (const char *)path;
        prof_start(&config);
        for (int64_t n = 0; n < 200; ++n) tick(n);
        prof_stop();
    }
    return NULL;
}

TEST(start_and_stop_race)
{
    pthread_t threads[3];
    stream_config("", 0);
    for (int i = 0; i < 3; ++i)
        pthread_create(&threads[i], NULL, start_and_stop, (void *)(intptr_t)trace_path("stream_race.prof"));
    for (int i = 0; i < 3; ++i) pthread_join(threads[i], NULL);
    CHECK_EQUAL(prof_enabled(), 0);
    CHECK_EQUAL(prof_reset(), PROF_OK);
}

static volatile int caught;
static void on_signal(int number) { caught = number; }

TEST(signals_are_not_for_the_service)
{
    sigset_t set, old, pending;
    prof_config config = stream_config(trace_path("stream_signals.prof"), 256 << 10);
    trace_start(&config);
    signal(SIGUSR1, on_signal);
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, &old);
    kill(getpid(), SIGUSR1);
    pause_us(20000);
    sigpending(&pending);
    CHECK(sigismember(&pending, SIGUSR1)); /* no thread could take it */
    CHECK_EQUAL(caught, 0);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    CHECK_EQUAL(caught, SIGUSR1);
    signal(SIGUSR1, SIG_DFL);
    CHECK_EQUAL(prof_stop(), PROF_OK);
}

static int child_streams(void)
{
    prof_config config = stream_config(trace_path("stream_child.prof"), 256 << 10);
    config.wait_ns = 10000000000u;
    CHECK_EQUAL(prof_stop(), PROF_OK); /* what the child inherits is a ring */
    CHECK_EQUAL(prof_start(&config), PROF_OK);
    PROFILE_THREAD("child");
    for (int64_t i = 0; i < 30000; ++i) tick(i);
    prof_trace *trace = trace_stop();
    CHECK_EQUAL(check_named(trace, "child").count, 30000);
    prof_trace_close(trace);
    return test_failures;
}

TEST(fork_with_a_service)
{
    if (TRACE_SANITIZER == 2) SKIP("the thread sanitizer wants no threads in a child of threads");
    if (TRACE_SANITIZER == 1) SKIP("the address sanitizer can hang in a fork while threads allocate");
    const char *path = trace_path("stream_parent.prof");
    prof_config config = stream_config(path, 256 << 10);
    config.wait_ns = 10000000000u;
    trace_start(&config);
    PROFILE_THREAD("main");
    for (int64_t i = 0; i < 30000; ++i) {
        tick(i);
        if (i % 10000 == 5000) CHECK_EQUAL(in_child(child_streams), 0);
    }
    CHECK_EQUAL(prof_stop(), PROF_OK);
    prof_trace *trace = trace_open_file(path);
    if (trace) CHECK_EQUAL(check_named(trace, "main").count, 30000);
    prof_trace_close(trace);
    PROFILE_THREAD(NULL);
}

static void stop_at_exit(void) { prof_stop(); }

static void child_exits(int with_stop)
{
    prof_config config = stream_config(trace_path("stream_exit.prof"), 256 << 10);
    config.wait_ns = 10000000000u;
    if (prof_start(&config)) _exit(99);
    PROFILE_THREAD("main");
    if (with_stop) atexit(stop_at_exit);
    for (int64_t i = 0; i < 30000; ++i) tick(i);
    exit(7);
}

TEST(exit_with_and_without_a_stop)
{
    for (int with_stop = 0; with_stop < 2; ++with_stop) {
        fflush(stdout);
        pid_t child = fork();
        if (!child) child_exits(with_stop);
        CHECK_EQUAL(exit_status(child), 7 << 8);
        prof_trace *trace = trace_open_file(trace_path("stream_exit.prof"));
        if (!trace) return;
        CHECK_EQUAL(prof_trace_about(trace)->complete, 1); /* exit() is a stop, too */
        CHECK_EQUAL(check_named(trace, "main").count, 30000);
        prof_trace_close(trace);
    }
}

/* Before anything happens the service records nothing and holds no chunk. */
TEST(idle_service_records_nothing)
{
    prof_config config = stream_config(trace_path("stream_idle.prof"), 256 << 10);
    trace_start(&config);
    pause_us(50000);
    prof_trace *trace = trace_stop();
    CHECK_EQUAL(prof_trace_about(trace)->event_count, 0);
    prof_trace_close(trace);
}

/*-- configuration --*/

static void refuses(const prof_config *config, prof_status status, const char *text)
{
    CHECK_EQUAL(prof_start(config), status);
    CHECK(strstr(prof_error(), text) != NULL);
    if (!strstr(prof_error(), text)) printf("%s\n", prof_error());
}

TEST(configuration)
{
    static char memory[1 << 20];
    prof_config config = stream_config(NULL, 256 << 10);
    refuses(&config, PROF_INVALID_ARGUMENT, "needs an output");
    config.output = trace_path("stream_config.prof");
    config.memory = memory;
    config.memory_size = sizeof memory;
    refuses(&config, PROF_INVALID_ARGUMENT, "memory");
    config.memory = NULL;
    config.max_file_size = 300 << 10;
    refuses(&config, PROF_INVALID_ARGUMENT, "max_file_size");
    CHECK_EQUAL(trace_file_size(config.output), -1);
    config.max_file_size = 0;
    config.wait_ns = 20000000000u;
    refuses(&config, PROF_INVALID_ARGUMENT, "wait");
    config.wait_ns = 0;
    config.dump_period_ns = 1000;
    refuses(&config, PROF_INVALID_ARGUMENT, "dump_period");
    config.dump_period_ns = 0;
    config.at_limit = (prof_limit)7;
    refuses(&config, PROF_INVALID_ARGUMENT, "at_limit");
    config.at_limit = PROF_LIMIT_STOP;
    config.mode = (prof_mode)9;
    refuses(&config, PROF_INVALID_ARGUMENT, "mode");
}

TEST(configuration_from_text)
{
    prof_config config = trace_config(0);
    CHECK_EQUAL(prof_config_set(&config, "mode", "stream"), PROF_OK);
    CHECK_EQUAL(config.mode, PROF_STREAM);
    CHECK_EQUAL(prof_config_set(&config, "max_file_size", "2G"), PROF_OK);
    CHECK(config.max_file_size == 2ull << 30);
    CHECK_EQUAL(prof_config_set(&config, "at_limit", "rotate"), PROF_OK);
    CHECK_EQUAL(config.at_limit, PROF_LIMIT_ROTATE);
    CHECK_EQUAL(prof_config_set(&config, "wait", "5ms"), PROF_OK);
    CHECK_EQUAL(config.wait_ns, 5000000);
    CHECK(!prof_config_set(&config, "wait", "0") && config.wait_ns == PROF_NEVER); /* not the default of the mode */
    CHECK_EQUAL(prof_config_set(&config, "dump_period", "2s"), PROF_OK);
    CHECK(config.dump_period_ns == 2000000000u);
    static const char *const wrong[][3] = {{"max_file_size", "much", "2G"},       {"at_limit", "ring", "stop or rotate"},
                                           {"wait", "11s", "10s"},                {"wait", "-1", "time"},
                                           {"dump_period", "1ms", "10ms"},        {"max_file_sice", "1G", "'max_file_size'"},
                                           {"dump_perod", "1s", "'dump_period'"}, {"mode", "strem", "stream"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
        CHECK_EQUAL(prof_config_set(&config, wrong[i][0], wrong[i][1]), PROF_INVALID_ARGUMENT);
        CHECK(strstr(prof_error(), wrong[i][2]) != NULL);
    }
}

TEST_MAIN
