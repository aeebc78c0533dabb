/* What an image takes of disk and memory, and when: as much as was recorded. And disks that have no room for it, or
   become full: what was recorded stays whole, reports say what is missing, and the program goes on. */
/* run: long */
#define _GNU_SOURCE 1
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

/* The reserving of blocks and pages goes through here. */
int test_fallocate(int file, int how, long long at, long long size);
int test_madvise(void *at, size_t size, int advice);
ssize_t test_pwrite(int file, const void *from, size_t size, long long at);
void *test_mmap(void *at, size_t size, int access, int how, int file, long long offset);
#define fallocate(file, how, at, size) test_fallocate(file, how, at, size)
#define madvise(at, size, advice) test_madvise(at, size, advice)
#define pwrite(file, from, size, at) test_pwrite(file, from, size, at)
#define mmap(at, size, access, how, file, offset) test_mmap(at, size, access, how, file, offset)
#include "private.h"
#undef fallocate
#undef madvise
#undef mmap
#undef pwrite
#include "test.h"
#include "trace.h"
#include <pthread.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

enum { MEGABYTE = 1 << 20, POPULATE = 23 };

static struct {
    int error;      /* what reserving fails with, beyond room; 0: never */
    off_t room;     /* bytes */
    int no_ahead;   /* pages cannot be taken ahead: an old kernel */
    int interrupts; /* every other call is interrupted by a signal */
    unsigned first, last; /* calls, of either kind and counted from 1, that fail for want of room. 0: none */
    unsigned both;        /* calls so far */
    unsigned calls;
    const char *cut; /* this file is truncated to so many bytes when blocks are next reserved; null: none */
    const char *cut_at_write; /* this one just before a block of the archive is written */
    off_t left;
    int writes; /* this one of the archive's blocks, counted from 1, is that block; 0: none */
    int replaces; /* 1: the next thread that touches what was truncated waits until this is 3; 2: it waits */
} disk;

static int strikes(void)
{
    unsigned call = __atomic_add_fetch(&disk.both, 1, __ATOMIC_RELAXED);
    return disk.first && call >= disk.first && call <= disk.last;
}

int test_fallocate(int file, int how, long long at, long long size)
{
    int struck = strikes();
    errno = ENOSPC;
    if (struck) return -1;
    const char *cut = __atomic_exchange_n(&disk.cut, NULL, __ATOMIC_RELAXED);
    if (cut && truncate(cut, disk.left)) abort();
    unsigned call = __atomic_add_fetch(&disk.calls, 1, __ATOMIC_RELAXED);
    errno = disk.error ? disk.error : EINTR;
    if (disk.error && at + size > disk.room) return -1;
    if (disk.interrupts && call % 2) return -1;
    return fallocate(file, how, (off_t)at, (off_t)size);
}

int test_madvise(void *at, size_t size, int advice)
{
    if (advice == POPULATE && strikes()) {
        errno = EFAULT;
        return -1;
    }
    if (advice == POPULATE && disk.no_ahead) {
        errno = EINVAL;
        return -1;
    }
    return madvise(at, size, advice);
}

ssize_t test_pwrite(int file, const void *from, size_t size, long long at)
{
    if (size > 8 && __atomic_load_n(&disk.writes, __ATOMIC_ACQUIRE) &&
        !__atomic_sub_fetch(&disk.writes, 1, __ATOMIC_RELAXED) && truncate(disk.cut_at_write, disk.left))
        abort();
    return pwrite(file, from, size, (off_t)at);
}

void *test_mmap(void *at, size_t size, int access, int how, int file, long long offset)
{
    int one = 1;
    if ((how & MAP_FIXED) && __atomic_compare_exchange_n(&disk.replaces, &one, 2, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
        while (__atomic_load_n(&disk.replaces, __ATOMIC_SEQ_CST) != 3) sched_yield();
    return mmap(at, size, access, how, file, (off_t)offset);
}

/* 1: pages can be taken ahead here, without which a file has all its blocks from the start. */
static int takes_pages_ahead(void)
{
    void *at = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int good = at != MAP_FAILED && !madvise(at, 65536, POPULATE);
    if (at != MAP_FAILED) munmap(at, 65536);
    return good;
}

static prof_config file_config(const char *path, size_t buffer_size)
{
    prof_config config = trace_config(buffer_size);
    memset(&disk, 0, sizeof disk);
    config.output = path;
    return config;
}

static uint64_t blocks(const char *path) /* bytes on the disk */
{
    struct stat about;
    CHECK(!stat(path, &about));
    return (uint64_t)about.st_blocks * 512;
}

/* Numbered events, until so many chunks were taken. */
static int64_t record(int64_t number, uint64_t chunks)
{
    const prof__header *h = prof__state.session->header;
    while (__atomic_load_n(&h->next_chunk, __ATOMIC_RELAXED) < chunks) PROFILE_COUNTER("number", number++);
    return number;
}

/* The numbers of a track: consecutive, from first to last. */
static void check_numbers(const prof_trace *trace, size_t track, int64_t *first, int64_t *last)
{
    prof_cursor *cursor = NULL;
    prof_event event;
    *first = *last = -1;
    CHECK_EQUAL(prof_cursor_open(trace, track, &cursor), PROF_OK);
    while (cursor && prof_cursor_next(cursor, &event) && test_failures < 20) {
        if (event.type != PROF_EVENT_COUNTER) continue;
        if (*first < 0) *first = (int64_t)event.value.as.i;
        if (*last >= 0) CHECK_EQUAL(event.value.as.i, *last + 1);
        *last = (int64_t)event.value.as.i;
    }
    prof_cursor_close(cursor);
}

static prof_trace *open_numbers(const char *path, int64_t *first, int64_t *last)
{
    prof_trace *trace = trace_open_file(path);
    *first = *last = -1;
    if (trace) check_numbers(trace, 0, first, last);
    return trace;
}

static int exit_status(pid_t child)
{
    int status = 0;
    if (waitpid(child, &status, 0) != child) return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

/*-- as much as was recorded --*/

TEST(a_file_takes_the_disk_of_what_was_recorded)
{
    const char *path = trace_path("storage_sparse.prof");
    prof_config config = file_config(path, (size_t)256 * MEGABYTE);
    int64_t first, last;
    if (!takes_pages_ahead()) SKIP("no MADV_POPULATE_WRITE here");
    trace_start(&config);
    const prof__session *s = prof__state.session;
    uint64_t begin = blocks(path);
    if (!begin) {
        CHECK_EQUAL(prof_stop(), PROF_OK);
        SKIP("the file system does not tell what a file takes");
    }
    CHECK(begin <= 64 << 10); /* a program of ten scopes takes no more */
    for (int i = 0; i < 10; ++i) {
        PROFILE_SCOPE_F("scope %d", i);
    }
    CHECK(blocks(path) <= 64 << 10);
    CHECK_EQUAL(s->ring.ready_chunks, 1u);
    uint64_t chunks = (uint64_t)trace_times(256, 1024, 1024), size = chunks * s->chunk_size;
    int64_t made = record(0, chunks);
    uint64_t end = blocks(path);
    CHECK(end > begin + size - size / 8 && end < begin + size + 4 * MEGABYTE);
    CHECK_EQUAL(prof_stop(), PROF_OK);
    CHECK_EQUAL(trace_file_size(path), 256 * MEGABYTE);
    prof_trace *trace = open_numbers(path, &first, &last);
    CHECK_EQUAL(first, 0);
    CHECK_EQUAL(last, made - 1);
    prof_trace_close(trace);
    CHECK_EQUAL(prof_reset(), PROF_OK);
    CHECK(!unlink(path));
}

/* A stream that is not recorded into for long needs no more than a ring, and so does not take longer to start. */
TEST(a_stream_starts_as_small)
{
    const char *path = trace_path("storage_stream.prof");
    prof_config config = file_config(path, (size_t)32 * MEGABYTE);
    if (!takes_pages_ahead()) SKIP("no MADV_POPULATE_WRITE here");
    config.mode = PROF_STREAM;
    trace_start(&config);
    uint64_t begin = blocks(path);
    CHECK(begin <= 64 << 10);
    CHECK_EQUAL(prof__state.session->ring.ready_chunks, 1u);
    record(0, 1);
    CHECK(blocks(path) <= 512 << 10);
    CHECK_EQUAL(prof_stop(), PROF_OK);
    CHECK(blocks(path) <= 512 << 10);
    CHECK_EQUAL(prof_reset(), PROF_OK);
    CHECK(!unlink(path));
}

/* Bytes of two files; 1: they are the same, but for the index of meta, which no reader looks at. */
static int same_image(const char *a, const char *b)
{
    size_t size[2] = {0, 0};
    char *text[2] = {trace_file_text(a, &size[0]), trace_file_text(b, &size[1])};
    int same = text[0] && text[1] && size[0] == size[1] && size[0] > sizeof(prof__header);
    for (int i = 0; same && i < 2; ++i) {
        const prof__header *h = (const prof__header *)(void *)text[i];
        memset(text[i] + h->index_offset, 0, (size_t)h->index_size);
    }
    same = same && !memcmp(text[0], text[1], size[0]);
    free(text[0]);
    free(text[1]);
    return same;
}

TEST(a_saved_image_takes_the_disk_of_what_was_recorded)
{
    const char *path = trace_path("storage_saved.prof"), *copy = trace_path("storage_copy.prof");
    prof_config config = file_config(NULL, (size_t)trace_times(4, 16, 64) * MEGABYTE);
    int64_t first, last;
    for (int i = 0; i < 3; ++i) {
        trace_start(&config);
        int64_t made = 0;
        while (made < 100) PROFILE_COUNTER("number", made++);
        made = record(made, i < 2 ? 1 + (uint64_t)i * 64 : prof__state.session->chunk_count + 10);
        CHECK_EQUAL(prof_save(path), PROF_OK); /* while it records */
        CHECK_EQUAL(trace_file_size(path), (long)prof__state.session->image_size);
        if (i < 2) CHECK(blocks(path) < (unsigned)(i * 2 + 1) * MEGABYTE);
        prof_trace *trace = open_numbers(path, &first, &last);
        if (i < 2) CHECK_EQUAL(first, 0);
        CHECK_EQUAL(last, made - 1);
        prof_trace_close(trace);
        CHECK_EQUAL(prof_image_copy(path, copy, PROF_SAME_WINDOW, -1), PROF_OK);
        CHECK(same_image(path, copy));
        if (i < 2) CHECK(blocks(copy) < (unsigned)(i * 2 + 1) * MEGABYTE);
        CHECK_EQUAL(prof_stop(), PROF_OK);
        CHECK_EQUAL(prof_reset(), PROF_OK);
        CHECK(!unlink(path) && !unlink(copy));
    }
}

/* Blocks are there before anybody may write: of every chunk that was taken. */
TEST(blocks_are_reserved_ahead)
{
    const char *path = trace_path("storage_ahead.prof");
    prof_config config = file_config(path, (size_t)64 * MEGABYTE);
    if (!takes_pages_ahead()) SKIP("no MADV_POPULATE_WRITE here");
    trace_start(&config);
    const prof__session *s = prof__state.session;
    int64_t made = 0;
    for (uint64_t chunks = 1; chunks < 400; chunks += 7) {
        made = record(made, chunks);
        uint64_t taken = s->header->next_chunk;
        CHECK(prof__chunks_there(s) >= taken);
        CHECK(blocks(path) >= taken * s->chunk_size);
    }
    CHECK_EQUAL(prof_stop(), PROF_OK);
    CHECK_EQUAL(prof_reset(), PROF_OK);
    CHECK(!unlink(path));
}

/* A shell has hundreds of children, which record little. */
TEST(a_child_takes_what_it_needs)
{
    char path[320];
    prof_config config = file_config(trace_path("storage_parent.prof"), 0);
    if (!takes_pages_ahead()) SKIP("no MADV_POPULATE_WRITE here");
    trace_start(&config);
    fflush(stdout);
    pid_t child = fork();
    if (!child) {
        for (int i = 0; i < 10; ++i) {
            PROFILE_SCOPE("job");
            PROFILE_ARG_I("number", i);
        }
        _exit(prof_stop() != PROF_OK);
    }
    CHECK_EQUAL(exit_status(child), 0);
    CHECK_EQUAL(prof_stop(), PROF_OK);
    snprintf(path, sizeof path, "%.*s.%ld.prof", (int)strlen(config.output) - 5, config.output, (long)child);
    CHECK(blocks(path) <= 64 << 10);
    prof_trace *trace = trace_open_file(path);
    if (!trace) return;
    CHECK_EQUAL(prof_trace_about(trace)->event_count, 10);
    prof_trace_close(trace);
    CHECK_EQUAL(prof_reset(), PROF_OK);
    CHECK(!unlink(path) && !unlink(config.output));
}

/*-- names --*/

enum { SITES = 10000 };

/* A mark of a call site that was not there before. */
static void mark_one(const char *name, int number)
{
    static prof_site sites[SITES];
    static char names[SITES][64];
    prof_site *site = &sites[number];
    snprintf(names[number], sizeof names[number], "%s, number %d", name, number);
    memset(site, 0, sizeof *site);
    site->name = names[number];
    site->category = site->file = site->function = "";
    site->level = 1;
    site->kind = PROF__KIND_MARK;
    prof__mark(site);
}

/* Marks with a number of call sites, each twice, as if its module had been loaded again. */
static void mark_sites(int count)
{
    uint64_t used = 0;
    for (int round = 0; round < 2; ++round) {
        for (int i = 0; i < count; ++i) mark_one("a name that is as long as many are", i);
        if (round) CHECK_EQUAL(prof__state.session->header->meta_used, used); /* each name is stored once */
        used = prof__state.session->header->meta_used;
    }
}

/* Returns how many marks have such a name, all of it. */
static int names_read(const prof_trace *trace)
{
    int good = 0, number;
    prof_cursor *cursor = NULL;
    prof_event event;
    CHECK_EQUAL(prof_cursor_open(trace, 0, &cursor), PROF_OK);
    while (cursor && prof_cursor_next(cursor, &event))
        good += sscanf(event.name, "a name that is as long as many are, number %d", &number) == 1;
    prof_cursor_close(cursor);
    return good;
}

/* What names need grows with them, on the disk as well, and so does their index. */
TEST(names_take_the_disk_as_they_come)
{
    const char *path = trace_path("storage_names.prof");
    const int counts[] = {10, 100, 1000, 10000};
    if (!takes_pages_ahead()) SKIP("no MADV_POPULATE_WRITE here");
    for (int i = 0; i < 8; ++i) {
        prof_config config = file_config(i % 2 ? path : NULL, (size_t)64 * MEGABYTE);
        int count = counts[i / 2];
        trace_start(&config);
        const prof__session *s = prof__state.session;
        mark_sites(count);
        uint64_t used = s->header->meta_used;
        CHECK((s->index_mask + 1) * sizeof *s->index <= s->header->index_size);
        CHECK((const char *)(s->index + s->index_mask + 1) == s->chunks);
        CHECK(s->index_mask + 1 >= s->meta_ready && s->meta_ready * 8 <= 2 * used + 8192);
        if (i % 2) CHECK(blocks(path) <= 4 * used + s->header->next_chunk * 4 * s->chunk_size + (128 << 10));
        prof_trace *trace = trace_stop();
        CHECK_EQUAL(prof_trace_about(trace)->sites_lost, 0);
        CHECK_EQUAL(names_read(trace), count * 2);
        prof_trace_close(trace);
        trace = i % 2 ? trace_open_file(path) : NULL;
        if (trace) CHECK_EQUAL(names_read(trace), count * 2);
        prof_trace_close(trace);
        CHECK_EQUAL(prof_reset(), PROF_OK);
        unlink(path);
    }
}

/* A disk without room for more names: those that fit stay, the others are counted, and prof_stop() says so. */
TEST(names_that_the_disk_has_no_room_for)
{
    const char *path = trace_path("storage_no_names.prof");
    prof_config config = file_config(path, (size_t)64 * MEGABYTE);
    if (!takes_pages_ahead()) SKIP("no MADV_POPULATE_WRITE here");
    trace_start(&config);
    mark_sites(10);
    disk.room = 0;
    disk.error = ENOSPC;
    for (int i = 0; i < 2000; ++i) mark_one("one of too many, with a name of its own", i);
    disk.error = 0;
    CHECK_EQUAL(prof_stop(), PROF_IO);
    CHECK(strstr(prof_error(), "names") && strstr(prof_error(), "No space left on device"));
    CHECK_EQUAL(prof_reset(), PROF_OK);
    prof_trace *trace = trace_open_file(path);
    if (!trace) return;
    CHECK(prof_trace_about(trace)->sites_lost > 0);
    CHECK_EQUAL(names_read(trace), 20); /* and they are all there */
    prof_trace_close(trace);
    unlink(path);
}

/*-- ways to reserve --*/

static void check_recording(const char *name, uint64_t chunks)
{
    const char *path = trace_path(name);
    int64_t first, last, made = record(0, chunks);
    CHECK_EQUAL(prof_stop(), PROF_OK);
    prof_trace *trace = open_numbers(path, &first, &last);
    CHECK_EQUAL(last, made - 1);
    prof_trace_close(trace);
    CHECK_EQUAL(prof_reset(), PROF_OK);
    CHECK(!unlink(path));
}

TEST(file_systems_without_fallocate)
{
    const char *path = trace_path("storage_none.prof");
    prof_config config = file_config(path, 4 * MEGABYTE);
    disk.error = EOPNOTSUPP;
    trace_start(&config);
    check_recording("storage_none.prof", 400);
}

TEST(kernels_that_take_no_pages_ahead)
{
    const char *path = trace_path("storage_old.prof");
    prof_config config = file_config(path, 4 * MEGABYTE);
    disk.no_ahead = 1;
    trace_start(&config);
    CHECK_EQUAL(prof__state.session->ring.ready_chunks, PROF__ALL_READY);
    CHECK(blocks(path) >= 4 * MEGABYTE);
    check_recording("storage_old.prof", 400);
}

TEST(reserving_that_signals_interrupt)
{
    const char *path = trace_path("storage_signals.prof");
    prof_config config = file_config(path, 4 * MEGABYTE);
    disk.interrupts = 1;
    trace_start(&config);
    CHECK_EQUAL(prof__state.session->ring.chunks_asked, 0);
    check_recording("storage_signals.prof", 400);
}

/* A program that closes all descriptors, whose next file gets the number. */
TEST(reserving_without_a_descriptor)
{
    const char *path = trace_path("storage_closed.prof"), *other = trace_path("storage_other.txt");
    prof_config config = file_config(path, (size_t)trace_times(4, 8, 8) * MEGABYTE);
    trace_start(&config);
    int number = prof__state.session->stream.file, file = open(other, O_RDWR | O_CREAT | O_TRUNC, 0666);
    CHECK_EQUAL(dup2(file, number), number);
    close(file);
    int64_t first, last, made = record(0, (uint64_t)trace_times(400, 800, 800));
    CHECK_EQUAL(trace_file_size(other), 0);
    CHECK_EQUAL(prof_stop(), PROF_OK);
    CHECK(!close(number));
    prof_trace *trace = open_numbers(path, &first, &last);
    CHECK_EQUAL(last, made - 1);
    prof_trace_close(trace);
    CHECK_EQUAL(prof_reset(), PROF_OK);
    CHECK(!unlink(path) && !unlink(other));
}

/*-- a disk that is full --*/

/* The ring ends where the disk does, and goes on as one that was that small from the beginning. */
static void fill_the_disk(prof_mode mode, int error, const char *words)
{
    const char *path = trace_path("storage_full.prof");
    prof_config config = file_config(path, 64 * MEGABYTE);
    int64_t first, last;
    config.mode = mode;
    disk.error = error;
    disk.room = 12 * MEGABYTE;
    trace_start(&config);
    prof__session *s = prof__state.session;
    uint64_t all = s->chunk_count, made = 0, end = (uint64_t)trace_times(1000000, 1000000, 3000000); /* of 16 bytes each */
    for (; made < end; ++made) PROFILE_COUNTER("number", made);
    CHECK(s->chunk_count < all);
    CHECK(s->chunk_count * s->chunk_size > 4 * MEGABYTE && s->chunk_count * s->chunk_size < 12 * MEGABYTE);
    CHECK_EQUAL(prof_stop(), PROF_IO);
    CHECK(strstr(prof_error(), "storage_full.prof: ") && strstr(prof_error(), words));
    uint64_t kept = s->chunk_count * s->chunk_size;
    prof_trace *live = trace_live();
    prof_trace_close(live);
    CHECK_EQUAL(prof_reset(), PROF_OK);
    prof_trace *trace = open_numbers(path, &first, &last);
    if (!trace) return;
    const prof_trace_info *about = prof_trace_about(trace);
    CHECK_TEXT(about->write_error, words);
    CHECK_EQUAL(about->buffer_size, kept);
    uint64_t count = (uint64_t)(last - first + 1);
    CHECK(count * 16 > kept - kept / 8 && count * 16 <= kept);
    if (mode == PROF_FILL) {
        CHECK_EQUAL(first, 0);
        CHECK_EQUAL(about->lost, made - count);
    } else {
        CHECK_EQUAL(last, made - 1);
        CHECK(about->overwritten_chunks > 0);
    }
    prof_trace_close(trace);
    CHECK(!unlink(path));
}

TEST(a_ring_ends_where_the_disk_does)
{
    if (TRACE_SANITIZER == 2) SKIP("a thread alone: nothing for the thread sanitizer");
    if (!takes_pages_ahead()) SKIP("no MADV_POPULATE_WRITE here");
    fill_the_disk(PROF_RING, ENOSPC, "No space left on device");
    if (trace_times(0, 1, 1)) fill_the_disk(PROF_RING, EDQUOT, "Disk quota exceeded");
}

TEST(a_fill_ends_where_the_disk_does)
{
    if (TRACE_SANITIZER == 2) SKIP("a thread alone: nothing for the thread sanitizer");
    if (!takes_pages_ahead()) SKIP("no MADV_POPULATE_WRITE here");
    fill_the_disk(PROF_FILL, ENOSPC, "No space left on device");
}

static void *records(void *count)
{
    for (intptr_t i = 0; i < (intptr_t)count; ++i) PROFILE_COUNTER("number", i);
    return NULL;
}

/* The calls that reserve fail, the first to `last` after the start's own. Whichever these are, each macro of each mode
   returns, what is lost is counted, and prof_stop() says why. */
static void refuse_pieces(prof_mode mode, unsigned first, unsigned last)
{
    enum { THREADS = 3, EVENTS = 30000 };
    const char *path = trace_path("storage_pieces.prof");
    prof_config config = file_config(path, 4 * MEGABYTE);
    pthread_t threads[THREADS];
    config.mode = mode;
    config.wait_ns = 10000000000u; /* who waited for what never comes would be noticed */
    disk.first = first;
    disk.last = last;
    uint64_t began = prof__monotonic();
    prof_status started = prof_start(&config);
    if (started) { /* its own calls were refused */
        CHECK(*prof_error());
        return;
    }
    for (int i = 0; i < THREADS; ++i) CHECK(!pthread_create(&threads[i], NULL, records, (void *)(intptr_t)EVENTS));
    records((void *)(intptr_t)EVENTS);
    for (int i = 0; i < THREADS; ++i) pthread_join(threads[i], NULL);
    prof__session *s = prof__state.session;
    int reduced = PROF__LOAD(&s->ring.chunks_asked) != 0, none = !PROF__LOAD(&s->chunk_count);
    CHECK(PROF__LOAD(&s->ring.free_chunks) <= (int32_t)PROF__LOAD(&s->ring.pieces));
    prof_status status = prof_stop();
    CHECK_EQUAL(status, reduced ? PROF_IO : PROF_OK);
    if (reduced) CHECK(strstr(prof_error(), "No space left on device") != NULL);
    prof_trace *trace = trace_open_file(path);
    if (none && trace) CHECK_EQUAL(prof_trace_about(trace)->lost, (THREADS + 1) * EVENTS);
    if (reduced && trace) CHECK(prof_trace_about(trace)->write_failures > 0);
    prof_trace_close(trace);
    CHECK(prof__monotonic() - began < 60000000000u);
    CHECK_EQUAL(prof_reset(), PROF_OK);
    unlink(path);
}

TEST(pieces_that_are_refused)
{
    static const prof_mode modes[] = {PROF_RING, PROF_FILL, PROF_STREAM, PROF_STATS, PROF_RING_STATS};
    if (!takes_pages_ahead()) SKIP("no MADV_POPULATE_WRITE here");
    for (size_t mode = 0; mode < sizeof modes / sizeof *modes && !test_failures; ++mode)
        for (unsigned first = 1; first < 9 && !test_failures; first += (unsigned)trace_times(3, 1, 1)) {
            refuse_pieces(modes[mode], first, first + 1); /* one piece: blocks, and pages */
            refuse_pieces(modes[mode], first, ~0u);       /* all from there on */
            if (test_failures) printf("  mode %d, call %u\n", (int)modes[mode], first);
        }
}

/* A thread that reduces the ring may be interrupted: for the others it must be that small already. */
TEST(a_thread_stops_while_it_reduces_the_ring)
{
    const char *path = trace_path("storage_between.prof");
    prof_config config = file_config(path, 64 * MEGABYTE);
    int64_t first, last, made = 0;
    if (!takes_pages_ahead()) SKIP("no MADV_POPULATE_WRITE here");
    trace_start(&config);
    prof__session *s = prof__state.session;
    if (s->ring.ready_chunks & PROF__READY_ENDS) {
        CHECK_EQUAL(prof_stop(), PROF_OK);
        SKIP("the buffer is not made ready a piece at a time");
    }
    made = record(made, 20); /* chunks, after which more than the first few are ready */
    uint32_t end = s->ring.ready_chunks;
    __atomic_store_n(&s->ring.ready_chunks, end | PROF__READY_ENDS, __ATOMIC_RELEASE); /* what that thread does first */
    made = record(made, (uint64_t)end * 2 + end / 2);
    CHECK_EQUAL(s->ring.ready_chunks, end | PROF__READY_ENDS);
    prof__ring_end(s, end, ENOSPC); /* and the rest of it */
    uint64_t kept = end * s->chunk_size;
    CHECK_EQUAL(prof_stop(), PROF_IO);
    CHECK_EQUAL(prof_reset(), PROF_OK);
    prof_trace *trace = open_numbers(path, &first, &last);
    if (!trace) return;
    CHECK_EQUAL(last, made - 1);
    CHECK((uint64_t)(last - first + 1) * 16 > kept - kept / 8);
    CHECK_EQUAL(prof_trace_about(trace)->lost, 0);
    prof_trace_close(trace);
    CHECK(!unlink(path));
}

/* An output that is written at the end has a file beside it meanwhile. That this has no more room is no error, and is
   said in the trace. */
TEST(a_full_disk_beside_the_output)
{
    const char *path = trace_path("storage_beside.txt");
    prof_config config = file_config(path, 64 * MEGABYTE);
    if (!takes_pages_ahead()) SKIP("no MADV_POPULATE_WRITE here");
    disk.error = ENOSPC;
    disk.room = 12 * MEGABYTE;
    trace_start(&config);
    if (!prof__state.session->file.live_path) {
        prof_reset();
        CHECK_EQUAL(prof_stop(), PROF_OK);
        SKIP("the disk has less than four times the buffer");
    }
    for (int i = 0; i < 2000000; ++i) PROFILE_COUNTER("number", i);
    CHECK_EQUAL(prof_stop(), PROF_OK);
    char *text = trace_file_text(path, NULL);
    CHECK(text && strstr(text, "No space left on device") != NULL);
    free(text);
    CHECK_EQUAL(prof_reset(), PROF_OK);
    CHECK(!unlink(path));
}

/* Each thread's numbers are consecutive, and the last of all is in the file. */
static void check_threads(const char *path, int64_t wanted)
{
    prof_trace *trace = trace_open_file(path);
    int64_t first, last;
    if (!trace) return;
    for (size_t track = 0; track < prof_trace_track_count(trace); ++track) {
        check_numbers(trace, track, &first, &last);
        if (last >= 0 && wanted) CHECK_EQUAL(last, wanted - 1);
    }
    prof_trace_close(trace);
}

static int full_tmpfs_parts(void) { return (int)trace_times(1, 2, 2); }

/* A real one, which several threads fill at the same time. With kill: they are killed meanwhile. */
static int full_tmpfs_child(const char *path, const char *filler, int dies)
{
    enum { THREADS = 4 };
    const int parts = full_tmpfs_parts();
    prof_config config = file_config(path, (size_t)parts * 8 * MEGABYTE);
    pthread_t threads[THREADS];
    static char block[65536];
    FILE *file;
    if (prof_start(&config)) return 2;
    memset(block, 1, sizeof block);
    if (!(file = fopen(filler, "wb"))) return 3;
    for (int i = 0; i < 80 * parts; ++i) /* 5 MiB of 9 */
        if (fwrite(block, 1, sizeof block, file) != sizeof block) return 4;
    if (fclose(file)) return 4;
    for (int i = 0; i < THREADS; ++i)
        if (pthread_create(&threads[i], NULL, records, (void *)(intptr_t)(150000 * parts))) return 5;
    for (int i = 0; i < THREADS; ++i) pthread_join(threads[i], NULL);
    if (!PROF__LOAD(&prof__state.session->ring.chunks_asked)) return 6;
    if (dies) raise(SIGKILL);
    prof_trace *trace = NULL; /* what is looked at must not take room that there is not */
    if (prof_trace_open_live(&trace)) return 7;
    prof_trace_close(trace);
    return prof_stop() == PROF_IO && strstr(prof_error(), "No space left on device") ? 0 : 8;
}

TEST(a_full_tmpfs)
{
    char folder[300], path[340], filler[340], size[32];
    if (!takes_pages_ahead()) SKIP("no MADV_POPULATE_WRITE here");
    snprintf(size, sizeof size, "size=%dm", 9 * full_tmpfs_parts());
    snprintf(folder, sizeof folder, "%s", trace_path("storage-tmpfs"));
    snprintf(path, sizeof path, "%s/full.prof", folder);
    snprintf(filler, sizeof filler, "%s/filler", folder);
    mkdir(folder, 0777);
    if (mount("tmpfs", folder, "tmpfs", 0, size)) SKIP("mounting a tmpfs is not permitted");
    for (int dies = 0; dies < 2; ++dies) {
        fflush(stdout);
        pid_t child = fork();
        if (!child) _exit(full_tmpfs_child(path, filler, dies));
        CHECK_EQUAL(exit_status(child), dies ? 1000 + SIGKILL : 0);
        check_threads(path, 0);
        CHECK(!unlink(path) && !unlink(filler));
    }
    CHECK(!umount(folder));
}

TEST(a_buffer_that_is_larger_than_the_disk)
{
    char folder[300], path[340];
    snprintf(folder, sizeof folder, "%s", trace_path("storage-small"));
    snprintf(path, sizeof path, "%s/small.prof", folder);
    mkdir(folder, 0777);
    if (mount("tmpfs", folder, "tmpfs", 0, "size=2m")) SKIP("mounting a tmpfs is not permitted");
    prof_config config = file_config(path, 16 * MEGABYTE);
    CHECK_EQUAL(prof_start(&config), PROF_IO);
    CHECK(strstr(prof_error(), "small.prof: the disk has no room for 16777216 bytes") != NULL);
    CHECK(!rmdir(path) || errno == ENOENT); /* nothing is left */
    CHECK(!umount(folder));
}

/*-- a file that somebody else cuts --*/

static int go_on;
static void *records_until_told(void *unused)
{
    for (int64_t i = 0; __atomic_load_n(&go_on, __ATOMIC_RELAXED); ++i) {
        PROFILE_SCOPE("thread");
        PROFILE_COUNTER("number", i);
    }
    return unused;
}

/* It is cut to these bytes while threads record, or just while one of them reserves blocks of it; the program goes on,
   and records its next session. */
static int cut_child(const char *path, const char *said, off_t left, prof_mode mode, int reserving)
{
    prof_config config = file_config(path, 4 * MEGABYTE);
    pthread_t threads[3];
    config.crash_report = 1;
    config.mode = mode;
    test_failures = 0;
    if (!freopen(said, "w", stderr)) return 2;
    trace_start(&config);
    record(0, 8);
    go_on = 1;
    disk.left = left;
    if (reserving) disk.cut = path;
    for (int i = 0; i < 3; ++i)
        if (pthread_create(&threads[i], NULL, records_until_told, NULL)) return 3;
    uint64_t before = prof__state.session->header->next_chunk;
    if (reserving) {
        WAIT_UNTIL(!__atomic_load_n(&disk.cut, __ATOMIC_RELAXED));
    } else {
        WAIT_UNTIL(__atomic_load_n(&prof__state.session->header->next_chunk, __ATOMIC_RELAXED) >= before + 20);
        if (truncate(path, left)) return 4;
    }
    for (int i = 0; i < 100000; ++i) {
        PROFILE_SCOPE("after"); /* of some name that is new, too */
        PROFILE_COUNTER("number", i);
    }
    __atomic_store_n(&go_on, 0, __ATOMIC_RELAXED);
    for (int i = 0; i < 3; ++i) pthread_join(threads[i], NULL);
    CHECK_EQUAL(prof_stop(), PROF_IO);
    CHECK(strstr(prof_error(), "storage_cut.prof: another program truncated it") != NULL);
    prof_trace *trace = NULL; /* whatever is left, looking at it does no harm */
    if (!prof_trace_open_live(&trace)) trace_check(trace);
    prof_trace_close(trace);
    prof_save(trace_path("storage_left.prof"));
    trace_start(&config);
    PROFILE_MARK("next");
    CHECK_EQUAL(prof_stop(), PROF_OK);
    trace = trace_open_file(path);
    if (trace) CHECK_EQUAL(prof_trace_about(trace)->event_count, 1);
    prof_trace_close(trace);
    fflush(stdout);
    return test_failures != 0;
}

TEST(a_file_that_is_cut)
{
    static const off_t left[] = {0, 4096, 100000, 2 * MEGABYTE - 77};
    char path[300], said[300];
    if (TRACE_SANITIZER == 2) SKIP("the thread sanitizer delays the signal");
    snprintf(path, sizeof path, "%s", trace_path("storage_cut.prof"));
    snprintf(said, sizeof said, "%s", trace_path("storage_said.txt"));
    for (int i = 0; i < 9; ++i) { /* the last: a ring, which reserves its blocks piece by piece */
        fflush(stdout);
        pid_t child = fork();
        if (!child) _exit(cut_child(path, said, left[i / 2 % 4], i % 2 ? PROF_STREAM : PROF_RING, i >= 8));
        CHECK_EQUAL(exit_status(child), 0);
        char *text = trace_file_text(said, NULL);
        const char *once = text ? strstr(text, "storage_cut.prof: another program truncated it") : NULL;
        if (left[i / 2 % 4] < MEGABYTE) CHECK(once != NULL); /* else the ring may have ended before what was cut off */
        if (once) CHECK(!strstr(once + 1, "storage_cut.prof: another"));
        free(text);
    }
    unlink(path);
    unlink(said);
    unlink(trace_path("storage_left.prof"));
}

/* Nobody has touched what is gone when the session is stopped. */
TEST(a_file_that_is_cut_before_the_stop)
{
    static const off_t left[] = {0, 4096, 1 * MEGABYTE};
    char path[300];
    if (TRACE_SANITIZER == 2) SKIP("the thread sanitizer takes the pages that replace the file's for a race");
    snprintf(path, sizeof path, "%s", trace_path("storage_cut.prof"));
    for (int i = 0; i < 6; ++i) {
        fflush(stdout);
        pid_t child = fork();
        if (!child) {
            prof_config config = file_config(path, 4 * MEGABYTE);
            config.crash_report = 1;
            config.mode = i % 2 ? PROF_STREAM : PROF_RING;
            test_failures = 0;
            trace_start(&config);
            record(0, 100);
            if (truncate(path, left[i / 2])) _exit(4);
            CHECK_EQUAL(prof_stop(), PROF_IO);
            CHECK(strstr(prof_error(), "storage_cut.prof: another program truncated it") != NULL);
            prof_trace *trace = NULL;
            if (!prof_trace_open_live(&trace)) trace_check(trace);
            prof_trace_close(trace);
            prof_save(trace_path("storage_left.prof"));
            fflush(stdout);
            _exit(test_failures != 0);
        }
        CHECK_EQUAL(exit_status(child), 0);
    }
    unlink(path);
    unlink(trace_path("storage_left.prof"));
}

/* It is cut just before the service writes a block, which extends it again; or in its archive. */
TEST(a_file_that_is_cut_before_a_write)
{
    static const off_t left[] = {0, 4096, MEGABYTE, MEGABYTE / 4, MEGABYTE + 4096 + 70};
    char path[300];
    if (TRACE_SANITIZER == 2) SKIP("the thread sanitizer takes the pages that replace the file's for a race");
    snprintf(path, sizeof path, "%s", trace_path("storage_cut.prof"));
    for (int i = 0; i < 9; ++i) { /* before the first block there is nothing to lose in the archive */
        fflush(stdout);
        pid_t child = fork();
        if (!child) {
            prof_config config = file_config(path, MEGABYTE);
            config.crash_report = 1;
            config.mode = PROF_STREAM;
            test_failures = 0;
            trace_start(&config);
            disk.cut_at_write = path;
            disk.left = left[i % 5];
            __atomic_store_n(&disk.writes, i < 5 ? 3 : 1, __ATOMIC_RELEASE);
            for (int64_t k = 0; __atomic_load_n(&disk.writes, __ATOMIC_RELAXED); ++k) PROFILE_COUNTER("number", k);
            CHECK_EQUAL(prof_stop(), PROF_IO);
            CHECK(strstr(prof_error(), "storage_cut.prof: another program truncated it") != NULL);
            fflush(stdout);
            _exit(test_failures != 0);
        }
        CHECK_EQUAL(exit_status(child), 0);
    }
    unlink(path);
}

static void *counts_until_told(void *unused)
{
    for (int64_t i = 0; __atomic_load_n(&go_on, __ATOMIC_RELAXED); ++i) PROFILE_COUNTER("number", i);
    return unused;
}

static int late_child(const char *path)
{
    prof_config config = file_config(path, 4 * MEGABYTE);
    pthread_t thread;
    config.crash_report = 1;
    test_failures = 0;
    trace_start(&config);
    record(0, 8);
    disk.replaces = go_on = 1;
    if (pthread_create(&thread, NULL, counts_until_told, NULL)) return 3;
    WAIT_UNTIL(__atomic_load_n(&prof__state.session->header->next_chunk, __ATOMIC_RELAXED) >= 20);
    if (truncate(path, MEGABYTE / 2)) return 4;
    WAIT_UNTIL(__atomic_load_n(&disk.replaces, __ATOMIC_SEQ_CST) == 2);
    CHECK_EQUAL(prof_stop(), PROF_IO);
    trace_start(&config);
    __atomic_store_n(&go_on, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&disk.replaces, 3, __ATOMIC_SEQ_CST);
    pthread_join(thread, NULL);
    PROFILE_MARK("next");
    CHECK_EQUAL(prof_stop(), PROF_OK);
    prof_trace *trace = trace_open_file(path);
    if (trace) CHECK_EQUAL(prof_trace_about(trace)->event_count, 1);
    prof_trace_close(trace);
    fflush(stdout);
    return test_failures != 0;
}

/* A thread notices it when the next session has begun, which has a file of its own. */
TEST(a_file_that_is_cut_and_noticed_late)
{
    char path[300];
    if (TRACE_SANITIZER == 2) SKIP("the thread sanitizer delays the signal");
    snprintf(path, sizeof path, "%s", trace_path("storage_cut.prof"));
    fflush(stdout);
    pid_t child = fork();
    if (!child) _exit(late_child(path));
    CHECK_EQUAL(exit_status(child), 0);
    unlink(path);
}

TEST_MAIN
