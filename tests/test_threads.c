/* Many threads: everything is accounted for, short threads share chunks, and a snapshot of a running program is as good
   as a trace of one that stands still. */
#include "private.h"
#include "test.h"
#include "trace.h"
#include <pthread.h>
#include <semaphore.h>
#include <sys/mman.h>
#include <time.h>
#include <sys/wait.h>
#include <unistd.h>

static prof_trace *trace;

/* One numbered unit of work: two scopes, an argument, a counter. */
static void work(int64_t number)
{
    PROFILE_SCOPE("outer");
    PROFILE_ARG_I("number", number);
    PROFILE_BLOCK("inner") PROFILE_COUNTER("counter", number);
}

#define WORK_WORDS 8 /* of the image that one unit takes */

typedef struct sequence {
    int64_t first, last; /* numbers of outer scopes; last < first: there were none */
    int64_t open;        /* scopes without an end */
    uint64_t events;
} sequence;

/* Checks one track made of work: each unit is whole but the first, whose beginning may have been overwritten, and the
   last, which may not have ended yet; and numbers go up by one, or just up if gaps are allowed. */
static sequence check_sequence(const prof_trace *from, size_t track, int gaps)
{
    sequence found = {0, -1, 0, 0};
    prof_cursor *cursor = NULL;
    prof_event event;
    int64_t counter = -1;
    int complete = 1; /* 0 behind a scope without an end: it has to be the last */
    CHECK_EQUAL(prof_cursor_open(from, track, &cursor), PROF_OK);
    if (!cursor) return found;
    while (prof_cursor_next(cursor, &event) && test_failures < 20) {
        ++found.events;
        if (event.type == PROF_EVENT_LOST) continue;
        if (event.flags & PROF_TRUNCATED_BEGIN) CHECK(found.events <= 2);
        if (event.flags & PROF_TRUNCATED_END) {
            ++found.open;
            complete = 0;
        }
        if (event.type == PROF_EVENT_SCOPE && !strcmp(event.name, "outer")) {
            const prof_value *number = trace_arg(&event, "number");
            CHECK_EQUAL(event.depth, 0);
            CHECK(complete || event.flags & PROF_TRUNCATED_END);
            if (!number) { /* overwritten, or not there yet */
                CHECK(event.flags != 0);
                continue;
            }
            if (found.last < found.first)
                found.first = number->as.i;
            else if (gaps)
                CHECK(number->as.i > found.last);
            else
                CHECK_EQUAL(number->as.i, found.last + 1);
            found.last = number->as.i;
        } else if (event.type == PROF_EVENT_COUNTER) {
            if (found.last >= found.first) CHECK_EQUAL(event.value.as.i, found.last);
            CHECK(event.value.as.i > counter);
            counter = event.value.as.i;
        }
    }
    prof_cursor_close(cursor);
    return found;
}

/*-- everything is accounted for --*/

enum { EIGHT = 8 };

static void *works(void *count)
{
    for (int64_t i = 0; i < *(long *)count; ++i) work(i);
    return NULL;
}

TEST(eight_threads)
{
    pthread_t threads[EIGHT];
    long count = trace_times(500, 30000, 100000);
    prof_config config = trace_config((size_t)EIGHT * (size_t)count * WORK_WORDS * 8 * 5 / 4 + (4u << 20));
    trace_start(&config);
    for (int i = 0; i < EIGHT; ++i) pthread_create(&threads[i], NULL, works, &count);
    for (int i = 0; i < EIGHT; ++i) pthread_join(threads[i], NULL);
    trace = trace_stop();
    CHECK_EQUAL(prof_trace_about(trace)->lost, 0);
    CHECK_EQUAL(prof_trace_about(trace)->unmatched, 0);
    CHECK_EQUAL(prof_trace_about(trace)->overwritten_chunks, 0);
    CHECK_EQUAL(prof_trace_about(trace)->event_count, EIGHT * count * 3);
    CHECK_EQUAL(prof_trace_track_count(trace), EIGHT + 1);
    for (size_t track = 1; track < prof_trace_track_count(trace); ++track) {
        sequence found = check_sequence(trace, track, 0);
        CHECK_EQUAL(found.first, 0);
        CHECK_EQUAL(found.last, count - 1);
        CHECK_EQUAL(found.open, 0);
    }
    prof_trace_close(trace);
    CHECK_EQUAL(prof_reset(), PROF_OK);
}

TEST(eight_threads_in_a_small_ring)
{
    pthread_t threads[EIGHT];
    long count = trace_times(2000, 30000, 300000);
    prof_config config = trace_config(1u << 20);
    trace_start(&config);
    for (int i = 0; i < EIGHT; ++i) pthread_create(&threads[i], NULL, works, &count);
    for (int i = 0; i < EIGHT; ++i) pthread_join(threads[i], NULL);
    trace = trace_stop();
    CHECK_EQUAL(prof_trace_about(trace)->lost, 0);
    CHECK_EQUAL(prof_trace_about(trace)->unmatched, 0);
    for (size_t track = 0; track < prof_trace_track_count(trace); ++track) {
        sequence found = check_sequence(trace, track, 0);
        if (found.last >= found.first) CHECK_EQUAL(found.last, count - 1);
        CHECK_EQUAL(found.open, 0);
    }
    prof_trace_close(trace);
    CHECK_EQUAL(prof_reset(), PROF_OK);
}

/*-- threads that come and go --*/

static long resident_kib(void)
{
    char *text = trace_file_text("/proc/self/status", NULL), *at = text ? strstr(text, "VmRSS:") : NULL;
    long value = at ? atol(at + 6) : 0;
    free(text);
    return value;
}

static void *short_life(void *number)
{
    PROFILE_THREAD("short-lived");
    work((int64_t)(intptr_t)number);
    return NULL;
}

static void short_lives(long from, long to)
{
    enum { AT_A_TIME = 16 };
    pthread_t threads[AT_A_TIME];
    for (long i = from; i < to; i += AT_A_TIME) {
        for (long k = 0; k < AT_A_TIME; ++k) pthread_create(&threads[k], NULL, short_life, (void *)(intptr_t)(i + k));
        for (long k = 0; k < AT_A_TIME; ++k) pthread_join(threads[k], NULL);
    }
}

TEST(short_threads_share_chunks)
{
    long count = trace_times(320, 8000, 1000000), retained = 0;
    long warm = count > 240000 ? count / 32 * 16 : 160; /* the buffer's pages are taken as it is used: once all are there */
    trace_start(NULL);
    short_lives(0, warm);
    long resident = resident_kib();
    short_lives(warm, count);
    if (!TRACE_SANITIZER) CHECK(resident_kib() < resident + 2048);
    trace = trace_stop();
    for (size_t track = 1; track < prof_trace_track_count(trace); ++track) {
        sequence found = check_sequence(trace, track, 0);
        CHECK(found.last == found.first);
        CHECK_EQUAL(found.open, 0);
        CHECK_TEXT(prof_trace_track(trace, track)->name, "short-lived");
        ++retained;
        if (test_failures) break;
    }
    CHECK_EQUAL(prof_trace_about(trace)->lost, 0);
    CHECK_EQUAL(prof_trace_about(trace)->unmatched, 0);
    /* One short thread takes its work and two TRACK records; a chunk of its own for each would hold a thousand. */
    long room = (long)(prof_trace_about(trace)->buffer_size / 8 / (WORK_WORDS + 6 + 2));
    CHECK(retained >= (count < room * 8 / 10 ? count : room * 8 / 10));
    CHECK_EQUAL(prof_trace_about(trace)->overwritten_chunks > 0, count > room);
    prof_trace_close(trace);
    CHECK_EQUAL(prof_reset(), PROF_OK);
}

/* Threads of names that are all different fill the room for names; that harms nobody. */
static void *short_life_of_a_name(void *number)
{
    char name[64];
    snprintf(name, sizeof name, "a thread with the name number %ld", (long)(intptr_t)number);
    PROFILE_THREAD(name);
    work((int64_t)(intptr_t)number);
    return NULL;
}

TEST(threads_with_too_many_names)
{
    prof_config config = trace_config(256u << 10);
    trace_start(&config);
    for (long i = 0; i < trace_times(1000, 2000, 20000); ++i) {
        pthread_t thread;
        pthread_create(&thread, NULL, short_life_of_a_name, (void *)(intptr_t)i);
        pthread_join(thread, NULL);
    }
    trace = trace_stop();
    CHECK_EQUAL(prof_trace_about(trace)->lost, 0);
    CHECK(prof_trace_about(trace)->sites_lost > 0);
    for (size_t track = 0; track < prof_trace_track_count(trace); ++track) {
        sequence found = check_sequence(trace, track, 0);
        CHECK_EQUAL(found.open, 0);
    }
    prof_trace_close(trace);
    CHECK_EQUAL(prof_reset(), PROF_OK);
}

/* What a thread found out about a buffer says nothing about the next one. */
TEST(after_a_full_session)
{
    prof_config config = trace_config(128u << 10);
    config.mode = PROF_FILL;
    for (int i = 0; i < 3; ++i) {
        trace_start(&config);
        for (int k = 0; k < 5000; ++k) PROFILE_MARK("fits"); /* in more than one chunk */
        CHECK_EQUAL(prof_trace_open_live(&trace), PROF_OK);
        CHECK_EQUAL(prof_trace_about(trace)->lost, 0);
        prof_trace_close(trace);
        for (int k = 0; k < 50000; ++k) PROFILE_MARK("does not");
        trace = trace_stop();
        CHECK(prof_trace_about(trace)->lost > 0);
        prof_trace_close(trace);
    }
    CHECK_EQUAL(prof_reset(), PROF_OK);
}

/*-- snapshots of a running program --*/

enum { WRITERS = 4 };

static int writers_over;
static long writer_done[WRITERS];

static void *writer(void *which)
{
    long index = (long)(intptr_t)which;
    char name[16];
    snprintf(name, sizeof name, "writer %ld", index);
    PROFILE_THREAD(name);
    int rests = trace_times(1, 0, 0) != 0; /* slow code is to read while it records, not to wait for a processor */
    for (int64_t i = 0; !__atomic_load_n(&writers_over, __ATOMIC_RELAXED); ++i) {
        work(i);
        __atomic_store_n(&writer_done[index], (long)i, __ATOMIC_RELEASE);
        if (rests && i % 16 == 0) pause_ms(1);
    }
    return NULL;
}

static void writers_start(pthread_t *threads)
{
    writers_over = 0;
    for (int i = 0; i < WRITERS; ++i) {
        writer_done[i] = -1;
        pthread_create(&threads[i], NULL, writer, (void *)(intptr_t)i);
    }
    for (int i = 0; i < WRITERS; ++i)
        WAIT_UNTIL(__atomic_load_n(&writer_done[i], __ATOMIC_ACQUIRE) >= 0);
}

static void writers_stop(pthread_t *threads)
{
    __atomic_store_n(&writers_over, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < WRITERS; ++i) pthread_join(threads[i], NULL);
}

/* done: what was there before the snapshot; null if nobody knows. */
static void check_snapshot(const prof_trace *snapshot, const long *before, int gaps)
{
    trace_check(snapshot);
    /* an argument may be all that is left of a scope: begun too long ago, and not ended */
    CHECK(prof_trace_about(snapshot)->unmatched <= (prof_trace_about(snapshot)->overwritten_chunks ? WRITERS : 0));
    for (size_t track = 0; track < prof_trace_track_count(snapshot) && test_failures < 20; ++track) {
        const char *name = prof_trace_track(snapshot, track)->name;
        sequence found = check_sequence(snapshot, track, gaps);
        CHECK(found.open <= 2);
        if (before && !strncmp(name, "writer ", 7) && found.last >= found.first)
            CHECK(found.last >= before[atoi(name + 7)]);
    }
}

static void snapshots(prof_config *config, int gaps, void *(*toggler)(void *))
{
    pthread_t threads[WRITERS], toggling;
    struct timespec now, start;
    long before[WRITERS], taken = 0;
    trace_start(config);
    writers_start(threads);
    if (toggler) pthread_create(&toggling, NULL, toggler, NULL);
    clock_gettime(CLOCK_MONOTONIC, &start);
    do {
        prof_trace *snapshot = NULL;
        for (int i = 0; i < WRITERS; ++i) before[i] = __atomic_load_n(&writer_done[i], __ATOMIC_ACQUIRE);
        CHECK_EQUAL(prof_trace_open_live(&snapshot), PROF_OK);
        if (snapshot) check_snapshot(snapshot, gaps ? NULL : before, gaps);
        prof_trace_close(snapshot);
        ++taken;
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while (!test_failures && (taken < 3 || now.tv_sec - start.tv_sec < trace_times(1, 1, 60)));
    writers_stop(threads);
    if (toggler) pthread_join(toggling, NULL);
    if (test_failures) printf("  in snapshot %ld\n", taken);
    trace = trace_stop();
    check_snapshot(trace, NULL, gaps);
    CHECK_EQUAL(prof_trace_about(trace)->lost, 0);
    prof_trace_close(trace);
    CHECK_EQUAL(prof_reset(), PROF_OK);
}

TEST(snapshots_while_recording)
{
    prof_config config = trace_config((size_t)trace_times(256, 2048, 8192) << 10);
    snapshots(&config, 0, NULL);
}

TEST(snapshots_of_a_small_ring)
{
    prof_config config = trace_config(256u << 10);
    snapshots(&config, 0, NULL);
}

/* Scopes that are taken back while the snapshot is made leave nothing torn behind. */
TEST(snapshots_while_scopes_are_taken_back)
{
    prof_config config = trace_config((size_t)trace_times(256, 1024, 1024) << 10);
    config.min_duration_ns = 1000000;
    snapshots(&config, 0, NULL);
}

static void *toggles(void *unused)
{
    unsigned random = 1;
    while (!__atomic_load_n(&writers_over, __ATOMIC_RELAXED)) {
        random = random * 1103515245u + 12345u;
        switch (random >> 16 & 3) {
        case 0:
            CHECK_EQUAL(prof_pause(), PROF_OK);
            if (random >> 20 & 1) pause_ms(1);
            CHECK_EQUAL(prof_resume(), PROF_OK);
            break;
        case 1:
            CHECK_EQUAL(prof_set_level(0), PROF_OK);
            CHECK_EQUAL(prof_set_level(2), PROF_OK);
            break;
        case 2:
            CHECK_EQUAL(prof_category_enable("*", 0), PROF_OK);
            CHECK_EQUAL(prof_category_enable("*", 1), PROF_OK);
            break;
        default: pause_ms(0); break;
        }
    }
    return unused;
}

/* With switches thrown at any moment, a unit may lack its argument or its inner scope, so only nesting is checked. */
TEST(snapshots_while_switches_are_thrown)
{
    pthread_t threads[WRITERS], toggling;
    prof_config config = trace_config((size_t)trace_times(256, 1024, 1024) << 10);
    struct timespec now, start;
    trace_start(&config);
    writers_start(threads);
    pthread_create(&toggling, NULL, toggles, NULL);
    clock_gettime(CLOCK_MONOTONIC, &start);
    do {
        prof_trace *snapshot = NULL;
        CHECK_EQUAL(prof_trace_open_live(&snapshot), PROF_OK);
        if (snapshot) {
            trace_check(snapshot);
            CHECK_EQUAL(prof_trace_about(snapshot)->lost, 0);
        }
        prof_trace_close(snapshot);
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while (!test_failures && now.tv_sec - start.tv_sec < trace_times(1, 1, 60));
    writers_stop(threads);
    pthread_join(toggling, NULL);
    trace = trace_stop();
    for (size_t track = 0; track < prof_trace_track_count(trace) && !test_failures; ++track) {
        trace_list list = trace_read(trace, track);
        for (size_t i = 0; i < list.count; ++i) {
            CHECK(!(list.events[i].flags & PROF_TRUNCATED_END)); /* ends are never switched off */
            CHECK(list.events[i].depth < 2 || list.events[i].type != PROF_EVENT_SCOPE);
        }
        trace_free(&list);
    }
    prof_trace_close(trace);
    CHECK_EQUAL(prof_reset(), PROF_OK);
}

/* What prof_save writes meanwhile, and what another process would see in the mapped file. */
TEST(saving_while_four_threads_record)
{
    static const char *const texts[] = {"running.csv", "running.txt"};
    pthread_t threads[WRITERS];
    prof_config config = trace_config((size_t)trace_times(256, 1024, 1024) << 10);
    const char *live = trace_path("running-live.prof"), *saved = trace_path("running-saved.prof");
    config.output = live;
    trace_start(&config);
    writers_start(threads);
    for (int i = 0; i < trace_times(1, 10, 1000) && !test_failures; ++i) {
        long before[WRITERS];
        for (int k = 0; k < WRITERS; ++k) before[k] = __atomic_load_n(&writer_done[k], __ATOMIC_ACQUIRE);
        CHECK_EQUAL(prof_save(saved), PROF_OK);
        prof_trace *file = trace_open_file(saved);
        if (file) check_snapshot(file, before, 0);
        if (test_failures) printf("  in saved file %d\n", i);
        prof_trace_close(file);
        file = trace_open_file(live);
        if (file) check_snapshot(file, before, 0);
        if (test_failures) printf("  in mapped file %d\n", i);
        prof_trace_close(file);
        if (i % 10) continue;
        for (int k = 0; k < 2; ++k) CHECK_EQUAL(prof_save(trace_path(texts[k])), PROF_OK);
    }
    writers_stop(threads);
    CHECK_EQUAL(prof_stop(), PROF_OK);
    prof_trace *file = trace_open_file(live);
    if (file) {
        check_snapshot(file, writer_done, 0);
        CHECK_EQUAL(prof_trace_about(file)->complete, 1);
    }
    prof_trace_close(file);
    unlink(live);
    CHECK_EQUAL(prof_reset(), PROF_OK);
}

/*-- chunks that change hands at the worst moment --*/

static char raced_chunk[PROF_CHUNK_SIZE];

/* Reads raced_chunk; the chosen read is interrupted behind so many bytes, and meanwhile the chunk is taken: cleared, or
   also written again. */
typedef struct race {
    int reads, strike;
    size_t behind;
    int written;
} race;

static int race_read(void *user, uint64_t offset, void *to, size_t size)
{
    race *r = (race *)user;
    const char *from = raced_chunk + offset;
    size_t first = ++r->reads != r->strike ? size : r->behind < size ? r->behind : size;
    memcpy(to, from, first);
    if (r->reads == r->strike) {
        prof__chunk *chunk = (prof__chunk *)(void *)raced_chunk;
        uint64_t *words = prof__chunk_first(chunk);
        chunk->state = PROF__CHUNK_OWNED;
        chunk->sequence = 0;
        memset(words, 0, sizeof raced_chunk - sizeof *chunk);
        for (size_t i = 0; r->written && i < 1000; ++i) words[i] = (uint64_t)PROF__KIND_MARK << PROF__KIND_SHIFT | 7;
        if (r->written) chunk->sequence = 1000;
    }
    memcpy((char *)to + first, from + first, size - first);
    return 1;
}

/* What is copied is the whole old chunk, or nothing, whenever in the copying the chunk is taken. */
TEST(a_chunk_that_is_taken_while_it_is_copied)
{
    static const uint32_t states[] = {PROF__CHUNK_FULL, PROF__CHUNK_OWNED, PROF__CHUNK_PARTIAL};
    static char old[PROF_CHUNK_SIZE], copy[PROF_CHUNK_SIZE], scratch[PROF_CHUNK_SIZE], empty[PROF_CHUNK_SIZE];
    size_t count = (sizeof old - sizeof(prof__chunk)) / 8;
    prof__header h;
    memset(&h, 0, sizeof h);
    h.chunk_size = sizeof old;
    h.chunk_header_size = sizeof(prof__chunk);
    for (int variant = 0; variant < 6 && !test_failures; ++variant)
        for (int strike = 1; strike < 5; ++strike)
            for (size_t behind = 0; behind <= sizeof old; behind += behind < 128 || behind > sizeof old - 64 ? 8 : 1000) {
                race r = {0, strike, behind, variant / 3};
                prof__source source = {race_read, &r};
                prof__chunk *chunk = (prof__chunk *)(void *)raced_chunk;
                memset(raced_chunk, 0, sizeof raced_chunk);
                chunk->sequence = 500;
                chunk->state = states[variant % 3];
                for (size_t i = 0; i < count; ++i) prof__chunk_first(chunk)[i] = (uint64_t)PROF__KIND_MARK << PROF__KIND_SHIFT | i;
                memcpy(old, raced_chunk, sizeof old);
                CHECK(prof__chunk_snapshot(&source, &h, 0, 999, copy, scratch));
                /* may be either, with the old words */
                ((prof__chunk *)(void *)old)->state = ((prof__chunk *)(void *)copy)->state;
                int whole = !memcmp(copy, old, sizeof old), nothing = !memcmp(copy, empty, sizeof empty);
                CHECK(whole || nothing);
                if (whole || nothing) continue;
                printf("  state %d, read %d behind %zu bytes\n", variant, strike, behind);
                break;
            }
}

/* raced_chunk, which changes after one reading */
static int changed_read(void *user, uint64_t offset, void *to, size_t size)
{
    memcpy(to, raced_chunk + offset, size);
    if (size < sizeof raced_chunk || (*(int *)user)++) return 1;
    uint64_t *words = prof__chunk_first((prof__chunk *)(void *)raced_chunk);
    words[20] = words[21] = words[22] = (uint64_t)PROF__KIND_MARK << PROF__KIND_SHIFT | 5;
    return 1;
}

/* A scope that was taken back meanwhile ends the copy, though its place has been filled again. */
TEST(a_scope_that_is_taken_back_while_it_is_copied)
{
    static char copy[PROF_CHUNK_SIZE], scratch[PROF_CHUNK_SIZE];
    int reads = 0;
    prof__source source = {changed_read, &reads};
    prof__chunk *chunk = (prof__chunk *)(void *)raced_chunk;
    prof__header h;
    memset(&h, 0, sizeof h);
    h.chunk_size = sizeof copy;
    h.chunk_header_size = sizeof *chunk;
    memset(raced_chunk, 0, sizeof raced_chunk);
    chunk->sequence = 500;
    chunk->state = PROF__CHUNK_OWNED;
    for (uint64_t i = 0; i < 22; ++i) prof__chunk_first(chunk)[i] = (uint64_t)PROF__KIND_BEGIN << PROF__KIND_SHIFT | i;
    CHECK(prof__chunk_snapshot(&source, &h, 0, 999, copy, scratch));
    uint64_t *words = prof__chunk_first((prof__chunk *)(void *)copy);
    for (uint64_t i = 0; i < 20; ++i) CHECK_EQUAL(words[i], (uint64_t)PROF__KIND_BEGIN << PROF__KIND_SHIFT | i);
    for (uint64_t i = 20; i < (sizeof copy - sizeof *chunk) / 8; ++i) CHECK_EQUAL(words[i], 0);
}

/* the first is interrupted behind the header */
static int losing_read(void *user, uint64_t offset, void *to, size_t size)
{
    prof__chunk *chunk = (prof__chunk *)(void *)raced_chunk;
    size_t first = size < sizeof raced_chunk || (*(int *)user)++ ? size : sizeof *chunk;
    memcpy(to, raced_chunk + offset, first);
    if (first < size) {
        chunk->lost = 0;
        prof__chunk_first(chunk)[1] = (uint64_t)PROF__KIND_LOST << PROF__KIND_SHIFT | 5;
    }
    memcpy((char *)to + first, raced_chunk + offset + first, size - first);
    return 1;
}

/* Losses that become a record meanwhile count once. */
TEST(losses_that_are_written_down_while_they_are_copied)
{
    static char copy[PROF_CHUNK_SIZE], scratch[PROF_CHUNK_SIZE];
    int reads = 0;
    prof__source source = {losing_read, &reads};
    prof__chunk *chunk = (prof__chunk *)(void *)raced_chunk;
    prof__header h;
    memset(&h, 0, sizeof h);
    h.chunk_size = sizeof copy;
    h.chunk_header_size = sizeof *chunk;
    memset(raced_chunk, 0, sizeof raced_chunk);
    chunk->sequence = 500;
    chunk->state = PROF__CHUNK_OWNED;
    chunk->lost = 5;
    prof__chunk_first(chunk)[0] = (uint64_t)PROF__KIND_MARK << PROF__KIND_SHIFT;
    CHECK(prof__chunk_snapshot(&source, &h, 0, 999, copy, scratch));
    uint64_t counted = ((prof__chunk *)(void *)copy)->lost;
    counted += prof__chunk_first((prof__chunk *)(void *)copy)[1] & PROF__TICK_MASK;
    CHECK_EQUAL(counted, 5);
}

/* A ring of eight small chunks. */
#define OVERTAKEN_CHUNK 128u
static struct {
    prof__header header;
    struct { prof__chunk head; uint64_t words[(OVERTAKEN_CHUNK - sizeof(prof__chunk)) / 8]; } chunks[8];
} overtaken;
static char overtaken_copy[sizeof overtaken];

/* 17 and 18 were the newest to be begun; a thread has been in slot 3 for longer than a lap. */
static prof__header *overtaken_make(void)
{
    prof__header *h = &overtaken.header;
    memset(&overtaken, 0, sizeof overtaken);
    h->clock = PROF_CLOCK_MONOTONIC;
    h->chunk_count = 8;
    h->chunk_size = OVERTAKEN_CHUNK;
    h->chunk_header_size = sizeof(prof__chunk);
    h->chunk_offset = (uint64_t)((char *)overtaken.chunks - (char *)&overtaken);
    h->next_chunk = 18;
    for (unsigned slot = 0; slot < 8; ++slot) {
        overtaken.chunks[slot].head.state = slot == 3 ? PROF__CHUNK_OWNED : PROF__CHUNK_FULL;
        overtaken.chunks[slot].head.sequence = slot < 2 ? 17 + slot : slot == 3 ? 4 : 9 + slot;
    }
    return h;
}

static uint64_t overtaken_copied(unsigned slot) /* its sequence */
{
    size_t at = (size_t)((char *)&overtaken.chunks[slot] - (char *)&overtaken);
    return ((const prof__chunk *)(const void *)(overtaken_copy + at))->sequence;
}

/* While the first copy is made, the chunk in slot 3 is filled and reused. */
static uint64_t overtaken_at;
static int overtaking_read(void *user, uint64_t offset, void *to, size_t size)
{
    memcpy(to, (char *)&overtaken + offset, size);
    if (size < OVERTAKEN_CHUNK || (*(int *)user)++) return 1;
    overtaken.header.next_chunk = 20;
    overtaken.chunks[3].head.sequence = 20;
    overtaken_at = prof__monotonic();
    return 1;
}

/* Its thread had slept; now it is where the ring goes on. And what was recorded before the second copy is in it. */
TEST(a_copy_without_what_was_being_written_is_made_again)
{
    prof__header *h = overtaken_make();
    int reads = 0;
    uint64_t newest = 0, tick = 0;
    prof__source source = {overtaking_read, &reads};
    CHECK(prof__chunks_snapshot(&source, h, overtaken_copy, &newest, &tick));
    CHECK_EQUAL(newest, 20);
    CHECK_EQUAL(overtaken_copied(3), 20);
    CHECK(tick >= overtaken_at);
}

/* The same as soon as another chunk is read, in every copy. */
static int pursuing_read(void *user, uint64_t offset, void *to, size_t size)
{
    prof__chunk *third = &overtaken.chunks[3].head;
    uint64_t at = (uint64_t)((char *)third - (char *)&overtaken);
    memcpy(to, (char *)&overtaken + offset, size);
    if (size == OVERTAKEN_CHUNK && offset == at)
        ++*(int *)user;
    else if (size == OVERTAKEN_CHUNK)
        third->sequence = ++overtaken.header.next_chunk;
    return 1;
}

/* It can be reused at any time, so it comes first. */
TEST(what_is_being_written_is_copied_first)
{
    prof__header *h = overtaken_make();
    int reads = 0;
    uint64_t newest = 0, tick = 0;
    prof__source source = {pursuing_read, &reads};
    CHECK(prof__chunks_snapshot(&source, h, overtaken_copy, &newest, &tick));
    CHECK(reads > 0);
    CHECK(overtaken_copied(3) != 0);
}

static int still_read(void *user, uint64_t offset, void *to, size_t size)
{
    *(int *)user += size == OVERTAKEN_CHUNK;
    memcpy(to, (char *)&overtaken + offset, size);
    return 1;
}

/* A file whose chunk is newer than the newest one does not change: a hundred copies would not mend it. */
TEST(an_image_that_contradicts_itself_is_copied_twice)
{
    prof__header *h = overtaken_make();
    int reads = 0;
    uint64_t newest = 0, tick = 0;
    prof__source source = {still_read, &reads};
    overtaken.chunks[3].head.sequence = 1000;
    CHECK(prof__chunks_snapshot(&source, h, overtaken_copy, &newest, &tick));
    CHECK_EQUAL(newest, 18);
    CHECK_EQUAL(overtaken_copied(3), 0);
    CHECK_EQUAL(overtaken_copied(4), 13);
    CHECK(reads <= 2 * 2 * 8);
}

/* A ring of four slots, of which a thread halves one while it is copied. */
#define HALVED_SLOT 1024u
static struct {
    prof__header header;
    char slots[4][HALVED_SLOT];
} halved;
static char halved_copy[sizeof halved];

static prof__chunk *halved_at(char *image, unsigned slot, unsigned half)
{
    return (prof__chunk *)(void *)(image + offsetof(__typeof__(halved), slots) + slot * HALVED_SLOT + half * HALVED_SLOT / 2);
}

/* When all of the ring has been copied, threads have filled most of it again: the copy is made once more. Slot 2 has been
   halved, and a thread is beginning its second half. */
static int halving_read(void *user, uint64_t offset, void *to, size_t size)
{
    memcpy(to, (char *)&halved + offset, size);
    if (size < HALVED_SLOT || ++*(int *)user < 4) return 1;
    prof__chunk *first = halved_at((char *)&halved, 2, 0), *second = halved_at((char *)&halved, 2, 1);
    if (first->form >> PROF__FORM_SHIFT) return 1;
    halved.header.next_chunk += 3;
    memset(first, 0, HALVED_SLOT);
    first->form = second->form = 1u << PROF__FORM_SHIFT;
    second->state = PROF__CHUNK_OWNED;
    return 1;
}

/* Nothing of an earlier copy stays where a chunk has no number yet: a reader would take it for a lost chunk. */
TEST(what_an_earlier_copy_had_is_not_in_the_next)
{
    prof__header *h = &halved.header;
    int reads = 0;
    uint64_t newest = 0, tick = 0;
    prof__source source = {halving_read, &reads};
    memset(&halved, 0, sizeof halved);
    h->clock = PROF_CLOCK_MONOTONIC;
    h->chunk_count = 4;
    h->chunk_size = HALVED_SLOT;
    h->chunk_header_size = sizeof(prof__chunk);
    h->chunk_offset = offsetof(__typeof__(halved), slots);
    h->next_chunk = 4;
    for (unsigned slot = 0; slot < 4; ++slot) {
        prof__chunk *chunk = halved_at((char *)&halved, slot, 0);
        chunk->state = PROF__CHUNK_FULL;
        chunk->sequence = slot + 1;
        ((uint64_t *)(void *)chunk)[HALVED_SLOT / 8 - 1] = prof__empty_word(chunk->sequence);
    }
    CHECK(prof__chunks_snapshot(&source, h, halved_copy, &newest, &tick));
    CHECK_EQUAL(newest, 7);
    prof__chunk *second = halved_at(halved_copy, 2, 1);
    const uint64_t *words = prof__chunk_first(second);
    CHECK_EQUAL(second->form, 1u << PROF__FORM_SHIFT);
    for (size_t i = 0; i < (HALVED_SLOT / 2 - sizeof *second) / 8; ++i) CHECK_EQUAL(words[i], 0);
}

/* A thread is inside a macro when prof_stop() returns, and goes on to its next chunk while the image is copied: the copy
   has the chunk that it left without sums, and the next one. Nothing is missing for that. */
TEST(a_macro_that_ends_after_the_session)
{
    prof_config config = trace_config(1u << 20);
    trace_start(&config);
    {
        PROFILE_SCOPE("before");
    }
    prof__thread *self = PROF__SELF();
    CHECK_EQUAL(prof_stop(), PROF_OK);
    prof__chunk_enter(self, prof__chunk_take(self->session, 0), 0, 0);
    trace = NULL;
    CHECK_EQUAL(prof_trace_open_live(&trace), PROF_OK);
    CHECK_EQUAL(prof_trace_about(trace)->lost_blocks, 0);
    trace_list list = trace_read(trace, 0);
    CHECK_EQUAL(trace_count(&list, "before"), 1);
    trace_free(&list);
    prof_trace_close(trace);
    CHECK_EQUAL(prof_reset(), PROF_OK);
}

static void *works_once(void *number)
{
    work((int64_t)(intptr_t)number);
    return NULL;
}

static void works_in_a_thread(long number)
{
    pthread_t thread;
    pthread_create(&thread, NULL, works_once, (void *)(intptr_t)number);
    pthread_join(thread, NULL);
}

/* A note about a left chunk that has been taken and left again since does not lead to it. */
/* the session's image; counts what is read of it */
static int counted_read(void *user, uint64_t offset, void *to, size_t size)
{
    *(uint64_t *)user += size;
    return prof__memory_read(prof__state.session->header, offset, to, size);
}

/* What a copy reads follows from what was recorded: a buffer may be as large as it likes. */
TEST(a_copy_costs_what_was_recorded)
{
    static const size_t sizes[] = {1u << 20, 64u << 20};
    uint64_t bytes[2] = {0, 0}, newest = 0, tick = 0;
    for (int i = 0; i < 2; ++i) {
        prof_config config = trace_config(sizes[i]);
        trace_start(&config);
        work(1);
        prof__session *s = prof__state.session;
        prof__source source = {counted_read, &bytes[i]};
        prof__header h = *s->header;
        char *copy = (char *)calloc(s->image_size, 1);
        CHECK(prof__chunks_snapshot(&source, &h, copy, &newest, &tick));
        CHECK_EQUAL(((prof__chunk *)(void *)(copy + h.chunk_offset))->sequence, 1);
        CHECK_EQUAL(newest, 1);
        free(copy);
        trace = trace_stop();
        CHECK_EQUAL(check_sequence(trace, 0, 0).last, 1);
        prof_trace_close(trace);
    }
    CHECK_EQUAL(bytes[0], bytes[1]);
    CHECK(bytes[0] < 4 * PROF_CHUNK_SIZE);
}

/* Pages of a large buffer come ahead of the writers, and no others. */
static size_t resident(const char *from, size_t size) /* bytes */
{
    static unsigned char pages[(64u << 20) / 4096];
    size_t unit = (size_t)sysconf(_SC_PAGESIZE), count = 0;
    if (mincore((void *)(uintptr_t)from, size, pages)) return 0;
    for (size_t i = 0; i < size / unit; ++i) count += pages[i] & 1;
    return count * unit;
}

static void check_resident(const char *output)
{
    prof_config config = trace_config(64u << 20);
    config.output = output;
    trace_start(&config);
    prof__session *s = prof__state.session;
    int ahead = PROF__LOAD(&s->ring.ready_chunks) != PROF__ALL_READY;
    PROFILE_MARK("mark");
    if (ahead) CHECK_EQUAL(PROF__LOAD(&s->ring.ready_chunks), 1u); /* no more than a short program needs */
    size_t before = resident((const char *)s->file.mapping, s->file.mapping_size);
    for (int i = 0; i < 1000000 && s->header->next_chunk < 100; ++i) PROFILE_MARK("mark");
    size_t unit = (size_t)sysconf(_SC_PAGESIZE);
    uintptr_t next = (uintptr_t)s->chunks + (size_t)s->header->next_chunk * s->chunk_size;
    if (ahead) CHECK_EQUAL(resident((const char *)(next / unit * unit), 4 * s->chunk_size), 4 * s->chunk_size);
    prof_trace_close(trace_stop());
    CHECK_EQUAL(prof_reset(), PROF_OK);
    if (!ahead) SKIP("no MADV_POPULATE_WRITE here");
    CHECK(before > 0);
    if (!output) CHECK(before < 16u << 20); /* huge pages make it more than was asked for; a file's are the system's */
}

TEST(memory_is_what_was_recorded)
{
    check_resident(NULL);
    if (!test_skip) check_resident(trace_path("resident.prof"));
}

/* What a program with one scope has more of than without prof, shared pages of its code and of libc included: two
   children are compared, one of which records. */
static long kib_of_child(const char *output, int records)
{
    int ends[2];
    long kib = 0;
    CHECK_EQUAL(pipe(ends), 0);
    pid_t child = fork();
    if (!child) {
        prof_config config = trace_config(512u << 20);
        config.output = output;
        if (records && prof_start(&config)) _exit(1);
        if (records) PROFILE_BLOCK("one") {}
        char line[200];
        FILE *file = fopen("/proc/self/smaps_rollup", "r");
        while (file && !kib && fgets(line, sizeof line, file)) sscanf(line, "Rss: %ld", &kib);
        _exit(write(ends[1], &kib, sizeof kib) != sizeof kib);
    }
    close(ends[1]);
    CHECK(read(ends[0], &kib, sizeof kib) == sizeof kib);
    close(ends[0]);
    waitpid(child, NULL, 0);
    return kib;
}

static int huge_pages(void)
{
    char line[200] = "";
    FILE *file = fopen("/sys/kernel/mm/transparent_hugepage/enabled", "r");
    if (!file) return 0;
    if (!fgets(line, sizeof line, file)) line[0] = 0;
    fclose(file);
    return strstr(line, "[always]") != NULL;
}

TEST(one_scope_takes_less_than_a_mebibyte)
{
    long without = kib_of_child(NULL, 0);
    if (TRACE_SANITIZER || !without || trace_times(1, 0, 0)) SKIP("memory is not measured here");
    if (huge_pages()) SKIP("the system gives 2 MiB at a time");
    const char *path = "/dev/shm/prof_one_scope.prof";
    long with = kib_of_child(NULL, 1), in_file = access("/dev/shm", W_OK) ? with : kib_of_child(path, 1);
    remove(path);
    CHECK(with && with - without < 1024);
    CHECK(in_file && in_file - without < 1024);
}

TEST(a_left_chunk_is_known_by_its_sequence)
{
    prof_config config = trace_config(256u << 10);
    trace_start(&config);
    works_in_a_thread(1);
    prof__session *s = prof__state.session;
    CHECK_EQUAL(s->ring.partial_count, 1);
    s->ring.partial_chunks[0].sequence--; /* as if it had been noted a lap ago */
    s->ring.partial_chunks[0].words = 0;
    works_in_a_thread(2);
    trace = trace_stop();
    CHECK_EQUAL(prof_trace_track_count(trace), 3);
    for (size_t track = 1; track < prof_trace_track_count(trace); ++track) {
        sequence found = check_sequence(trace, track, 0);
        CHECK_EQUAL(found.first, track);
        CHECK_EQUAL(found.events, 3);
    }
    prof_trace_close(trace);
    CHECK_EQUAL(prof_reset(), PROF_OK);
}

TEST(overwritten_chunks_are_counted)
{
    prof_config config = trace_config(256u << 10);
    trace_start(&config);
    prof__session *s = prof__state.session;
    for (int64_t number = 0; PROF__LOAD(&s->header->next_chunk) < s->chunk_count + 5; ++number) work(number);
    trace = trace_stop();
    CHECK_EQUAL(prof_trace_about(trace)->overwritten_chunks, 5);
    prof_trace_close(trace);
    CHECK_EQUAL(prof_reset(), PROF_OK);
}

/* A thread holds the chunk that it has filled until the next one is half full: whenever the thread stops, half a chunk of
   its newest events stays, however fast others record. */
TEST(a_full_chunk_is_held_until_the_next_is_half_full)
{
    prof_config config = trace_config(256u << 10);
    trace_start(&config);
    PROFILE_MARK("first");
    prof__thread *self = PROF__SELF();
    prof__session *s = prof__state.session;
    prof__chunk *before = self->chunk;
    const uint64_t *end = prof__chunk_first(before) + s->chunk_words;
    while (end - self->cursor > 2) PROFILE_MARK("filler");
    {
        PROFILE_SCOPE("outer"); /* a word, and one that its end will need */
        CHECK(self->chunk == before && self->free_words < 2);
        PROFILE_ARG_S("text", "an argument of more than a word");
        PROFILE_ARG_I("number", 1);
        CHECK(self->chunk != before);
        CHECK_EQUAL(PROF__LOAD(&before->state), PROF__CHUNK_HELD);
        for (uint64_t i = 0; i < s->chunk_words / 2 - 20; ++i) PROFILE_MARK("event");
        CHECK_EQUAL(PROF__LOAD(&before->state), PROF__CHUNK_HELD);
        for (uint64_t i = 0; i < 20; ++i) PROFILE_MARK("event");
        CHECK_EQUAL(PROF__LOAD(&before->state), PROF__CHUNK_FULL);
        prof__chunk *chunk = self->chunk;
        for (uint64_t i = 0; i < s->chunk_words / 2 - 20; ++i) PROFILE_MARK("event");
        CHECK(self->chunk == chunk); /* the other half is used */
    }
    trace = trace_stop();
    CHECK_EQUAL(prof_trace_about(trace)->unmatched, 0);
    prof_trace_close(trace);
    CHECK_EQUAL(prof_reset(), PROF_OK);
}

/* A thread that claimed a chunk and slept until the ring had come round does not take what is the newest by now. */
TEST(a_late_claim_gives_way)
{
    prof_config config = trace_config(256u << 10);
    trace_start(&config);
    prof__session *s = prof__state.session;
    int64_t number = 0;
    while (PROF__LOAD(&s->header->next_chunk) < s->chunk_count + 5) work(number++);
    prof__chunk *newest = PROF__SELF()->chunk;
    PROF__STORE(&s->header->next_chunk, s->chunk_count + 2); /* the number of one that is full, and not old */
    while (PROF__SELF()->chunk == newest) work(number++);
    work(number++);
    trace = trace_stop();
    sequence found = check_sequence(trace, 0, 0);
    CHECK_EQUAL(found.last, number - 1);
    CHECK(found.last - found.first > (int64_t)((s->chunk_count - 6) * s->chunk_words / WORK_WORDS));
    prof_trace_close(trace);
    CHECK_EQUAL(prof_reset(), PROF_OK);
}

/* A thread that records seldom gives up its chunk when that one's turn in the ring is next. The newest events stay, of the
   thread if it ends, and of a fiber if the thread takes another chunk. */
enum { SELDOM = 100 };

typedef struct seldom {
    sem_t turn[2];
    prof_fiber *fiber;
    int ends;
} seldom;

static void *works_seldom(void *pointer)
{
    seldom *about = (seldom *)pointer;
    prof__thread *self = PROF__SELF();
    int64_t number = 0;
    if (about->ends)
        PROFILE_THREAD("seldom");
    else
        prof_fiber_switch(about->fiber);
    while (number < SELDOM) work(number++);
    sem_post(&about->turn[0]);
    sem_wait(&about->turn[1]); /* for most of a lap */
    prof__chunk *chunk = self->chunk;
    work(number++);
    if (about->ends) return NULL;
    while (self->chunk == chunk) work(number++);
    while (self->filled) work(number++);
    CHECK_EQUAL(PROF__LOAD(&chunk->state), PROF__CHUNK_FULL);
    sem_post(&about->turn[0]);
    sem_wait(&about->turn[1]);
    return NULL;
}

TEST(a_chunk_that_was_kept_for_a_lap_stays)
{
    for (int ends = 0; ends <= 1; ++ends) {
        prof_config config = trace_config(256u << 10);
        seldom about;
        pthread_t thread;
        int64_t number = 0;
        about.ends = ends;
        about.fiber = prof_fiber_create("seldom");
        sem_init(&about.turn[0], 0, 0);
        sem_init(&about.turn[1], 0, 0);
        trace_start(&config);
        PROFILE_THREAD("often");
        prof__header *h = prof__state.session->header;
        CHECK_EQUAL(pthread_create(&thread, NULL, works_seldom, &about), 0);
        sem_wait(&about.turn[0]);
        uint64_t taken = PROF__LOAD(&h->next_chunk), count = PROF__LOAD(&h->chunk_count);
        while (PROF__LOAD(&h->next_chunk) < taken + count - 1) work(number++);
        sem_post(&about.turn[1]);
        if (ends)
            pthread_join(thread, NULL);
        else
            sem_wait(&about.turn[0]);
        uint64_t next = PROF__LOAD(&h->next_chunk);
        while (PROF__LOAD(&h->next_chunk) < next + count / 2) work(number++);
        sem_post(&about.turn[1]);
        if (!ends) pthread_join(thread, NULL);
        trace = trace_stop();
        sequence found = check_sequence(trace, trace_track_named(trace, "seldom"), 0);
        CHECK_EQUAL(found.first, 0);
        CHECK(found.last >= SELDOM);
        found = check_sequence(trace, trace_track_named(trace, "often"), 0);
        CHECK_EQUAL(found.last, number - 1);
        CHECK(found.last - found.first > (int64_t)((count - 5) * prof__state.session->chunk_words / WORK_WORDS));
        prof_trace_close(trace);
        CHECK_EQUAL(prof_reset(), PROF_OK);
        prof_fiber_destroy(about.fiber);
        sem_destroy(&about.turn[0]);
        sem_destroy(&about.turn[1]);
    }
}

/*-- the end of a thread --*/

/* Of destructors there are four rounds with every C library; sanitizers end their part of a thread in the last. */
enum { ROUNDS = TRACE_SANITIZER ? 3 : 4 };

static pthread_key_t late_key;
static void late_destructor(void *left)
{
    intptr_t times = (intptr_t)left;
    PROFILE_SCOPE("destructor");
    {
        PROFILE_SCOPE("inside");
        PROFILE_ARG_I("times", times);
    }
    if (times > 1) pthread_setspecific(late_key, (void *)(times - 1));
}
static void *has_late_destructor(void *unused)
{
    if (unused) {
        PROFILE_SCOPE("thread");
    }
    pthread_setspecific(late_key, (void *)(intptr_t)ROUNDS);
    return unused;
}

/* Gives all chunks of the ring that are not this thread's to somebody else. */
static void own_the_others(void)
{
    prof__session *s = prof__state.session;
    const prof__thread *self = PROF__SELF();
    for (uint64_t at = 0; at < s->chunk_count * s->chunk_size;) {
        prof__chunk *chunk = (prof__chunk *)(void *)(s->chunks + at);
        if (chunk != self->chunk && chunk != self->filled) PROF__STORE(&chunk->state, (uint32_t)PROF__CHUNK_OWNED);
        at += prof__form_bytes(s->chunk_size, at, PROF__LOAD(&chunk->form));
    }
    prof__room_changed();
}

/* All chunks but its own are other threads'. A thread that records then overwrites what it has itself, and loses nothing
   of what is new; that a scope is open for long, and named and balanced, changes nothing. Once it has two chunks, the
   half of one that was filled last is always there. */
static void among_owners(int chunks)
{
    static union { uint64_t words[20000 / 8]; char bytes[20000]; } memory;
    enum { EVENTS = 5000 };
    prof_config config = trace_config(0);
    config.memory = memory.bytes;
    config.memory_size = sizeof memory;
    memset(&memory, 0, sizeof memory);
    trace_start(&config);
    PROFILE_THREAD("main");
    prof__thread *self = PROF__SELF();
    {
        PROFILE_SCOPE("loop");
        int64_t number = 0;
        if (chunks == 2)
            while (!self->filled) work(number++);
        own_the_others();
        uint64_t least = ~0ull;
        for (; number < EVENTS; ++number) {
            work(number);
            uint64_t kept = (uint64_t)(self->cursor - prof__chunk_first(self->chunk));
            if (self->filled) kept += prof__words_of(self->session, self->filled);
            if (kept < least) least = kept;
        }
        if (chunks == 2) CHECK(least >= self->session->chunk_words / 2);
        PROFILE_ARG_I("turns", EVENTS);
    }
    trace = trace_stop();
    CHECK_EQUAL(prof_trace_about(trace)->lost + prof_trace_about(trace)->lost_args, 0);
    trace_list list = trace_read(trace, trace_track_named(trace, "main"));
    const prof_event *loop = trace_find(&list, "loop");
    int64_t last = -1;
    for (size_t i = 0; i < list.count; ++i) {
        const prof_event *event = &list.events[i];
        if (event->type != PROF_EVENT_COUNTER) continue;
        CHECK(last < 0 || event->value.as.i == last + 1);
        last = event->value.as.i;
    }
    CHECK_EQUAL(last, EVENTS - 1);
    CHECK(loop && loop->flags == PROF_TRUNCATED_BEGIN && loop->arg_count == 1);
    trace_free(&list);
    prof_trace_close(trace);
    CHECK_EQUAL(prof_reset(), PROF_OK);
}

TEST(a_thread_that_finds_no_chunk_takes_its_own_again)
{
    among_owners(1);
    among_owners(2);
}

/* Threads of a pool: each is in a scope that lasts as long as the thread. All of them record a little, and then some
   record so much that the ring comes round, while the others wait. */
enum { CROWD = 5000, CROWD_BUSY = 4 };

static struct {
    sem_t here, go[2];
    int64_t made[CROWD]; /* numbers, by each */
    int64_t first, more; /* how many at first; how many more by each of the busy ones */
} crowd;

static void *one_of_a_crowd(void *number)
{
    intptr_t own = (intptr_t)number;
    char name[16];
    snprintf(name, sizeof name, "t%d", (int)own);
    PROFILE_THREAD(name);
    PROFILE_SCOPE("loop");
    for (int turn = 0; turn < 2; ++turn) {
        int64_t count = !turn ? crowd.first : own % 100 == 7 || own < CROWD_BUSY ? crowd.more : 0;
        for (int64_t i = 0; i < count; ++i) work(crowd.made[own]++);
        sem_post(&crowd.here);
        while (sem_wait(&crowd.go[turn])) {
        }
    }
    return NULL;
}

/* Checks that the newest events of each are there, if the mode keeps events. Returns how many tracks there were. */
static int crowd_check(int threads)
{
    char *seen = (char *)calloc((size_t)threads, 1);
    int count = 0, stale = 0;
    for (size_t track = 0; track < prof_trace_track_count(trace); ++track) {
        int own = -1;
        if (sscanf(prof_trace_track(trace, track)->name, "t%d", &own) != 1 || own < 0 || own >= threads) continue;
        trace_list list = trace_read(trace, track);
        int64_t last = -1;
        int open = 0;
        for (size_t i = 0; i < list.count; ++i) {
            if (list.events[i].type == PROF_EVENT_COUNTER) last = list.events[i].value.as.i;
            open += !strcmp(list.events[i].name, "outer") && list.events[i].flags & PROF_TRUNCATED_END;
        }
        stale += last != crowd.made[own] - 1 || open;
        count += !seen[own];
        seen[own] = 1;
        trace_free(&list);
    }
    free(seen);
    CHECK_EQUAL(count, threads);
    CHECK_EQUAL(stale, 0);
    return count;
}

static void crowd_records(prof_mode mode, int threads, size_t kib, int64_t first, int64_t more)
{
    static pthread_t ids[CROWD];
    prof_config config = trace_config(kib << 10);
    pthread_attr_t small;
    int made = 0;
    config.mode = mode;
    config.wait_ns = 10000000000u; /* for one chunk: what takes so long is lost, which is seen */
    if (mode == PROF_STREAM) config.output = trace_path("crowd.prof");
    memset(&crowd, 0, sizeof crowd);
    crowd.first = first;
    crowd.more = more;
    sem_init(&crowd.here, 0, 0);
    sem_init(&crowd.go[0], 0, 0);
    sem_init(&crowd.go[1], 0, 0);
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 256u << 10);
    trace_start(&config);
    while (made < threads && !pthread_create(&ids[made], &small, one_of_a_crowd, (void *)(intptr_t)made)) ++made;
    CHECK_EQUAL(made, threads);
    for (int turn = 0; turn < 2; ++turn) {
        for (int i = 0; i < made; ++i) sem_wait(&crowd.here);
        if (turn) CHECK_EQUAL(prof_trace_open_live(&trace), PROF_OK);
        for (int i = 0; i < made; ++i) sem_post(&crowd.go[turn]);
    }
    const prof_trace_info *info = prof_trace_about(trace);
    CHECK_EQUAL(info->lost + info->lost_args + info->unmatched, 0);
    if (mode == PROF_RING) CHECK(info->overwritten_chunks > info->chunks);
    if (mode != PROF_STATS) crowd_check(made);
    prof_trace_close(trace);
    for (int i = 0; i < made; ++i) pthread_join(ids[i], NULL);
    CHECK_EQUAL(prof_stop(), PROF_OK);
    CHECK_EQUAL(prof_reset(), PROF_OK);
    pthread_attr_destroy(&small);
    sem_destroy(&crowd.here);
    sem_destroy(&crowd.go[0]);
    sem_destroy(&crowd.go[1]);
    if (test_failures) printf("  mode %d, %d threads, %d KiB\n", (int)mode, made, (int)kib);
}

TEST(each_thread_of_a_crowd_keeps_its_newest_events)
{
    crowd_records(PROF_RING, 12, 256, 3, 20000);
    crowd_records(PROF_RING, 13, 256, 300, 20000);
    crowd_records(PROF_RING, 56, 1024, 250, 40000); /* somewhat more than a chunk */
    crowd_records(PROF_RING, 64, 1024, 3, 40000);
    crowd_records(PROF_RING, 200, 1024, 30, 40000);
    if (TRACE_SANITIZER) return;
    crowd_records(PROF_RING, trace_times(100, 1000, 1000) == 100 ? 100 : 926, 16384, 300, 100000);
    crowd_records(PROF_RING, (int)trace_times(300, CROWD, CROWD), 16384, 5, 100000);
}

TEST(a_crowd_does_not_wait_for_itself)
{
    static const prof_mode modes[] = {PROF_RING_STATS, PROF_STATS, PROF_STREAM};
    for (size_t i = 0; i < sizeof modes / sizeof *modes && !test_failures; ++i) {
        crowd_records(modes[i], 12, 256, 3000, 3000);
        crowd_records(modes[i], 13, 256, 3000, 3000);
        crowd_records(modes[i], 64, 1024, 1000, 10000);
    }
}

/* Chunks that belong to a thread. */
static uint64_t owned_chunks(const prof__session *s)
{
    uint64_t count = 0;
    for (uint64_t slot = 0; slot < s->chunk_count; ++slot)
        count += PROF__LOAD(&((prof__chunk *)(void *)(s->chunks + slot * s->chunk_size))->state) == PROF__CHUNK_OWNED;
    return count;
}

/* Destructors of thread-specific data hold scopes, too, after the recorder's own, in every round of them; of every other
   thread there are no others. Nothing of them is lost, and no chunk stays with a thread that is gone. */
TEST(destructors_of_threads)
{
    pthread_t thread;
    long count = trace_times(20, 200, 2000);
    prof_config config = trace_config(1u << 20);
    CHECK_EQUAL(pthread_key_create(&late_key, late_destructor), 0);
    trace_start(&config);
    PROFILE_MARK("main");
    for (long i = 0; i < count; ++i) {
        pthread_create(&thread, NULL, has_late_destructor, i % 2 ? &count : NULL);
        pthread_join(thread, NULL);
    }
    CHECK_EQUAL(owned_chunks(prof__state.session), 1);
    CHECK(PROF__LOAD(&prof__state.session->attached) <= 1);
    trace = trace_stop();
    trace_check(trace);
    uint64_t threads = 0, destructors = 0, inside = 0;
    for (size_t track = 0; track < prof_trace_track_count(trace); ++track) {
        trace_list list = trace_read(trace, track);
        threads += trace_count(&list, "thread");
        destructors += trace_count(&list, "destructor");
        inside += trace_count(&list, "inside");
        for (size_t i = 0; i < list.count; ++i) {
            CHECK_EQUAL(list.events[i].flags, 0);
            if (!strcmp(list.events[i].name, "inside")) CHECK_EQUAL(list.events[i].arg_count, 1);
        }
        trace_free(&list);
    }
    CHECK_EQUAL(threads, count / 2);
    CHECK_EQUAL(destructors, ROUNDS * count);
    CHECK_EQUAL(inside, ROUNDS * count);
    CHECK_EQUAL(prof_trace_about(trace)->lost, 0);
    prof_trace_close(trace);
    pthread_key_delete(late_key);
}

static void *ends_with_scopes_open(void *unused)
{
    PROFILE_BEGIN("left open");
    PROFILE_SCOPE("cancelled");
    pthread_exit(unused);
}

TEST(threads_that_end_with_scopes_open)
{
    pthread_t thread;
    prof_config config = trace_config(1u << 20);
    trace_start(&config);
    for (int i = 0; i < 10; ++i) {
        pthread_create(&thread, NULL, ends_with_scopes_open, NULL);
        pthread_join(thread, NULL);
        work(i); /* on this thread, and in other chunks */
    }
    trace = trace_stop();
    CHECK_EQUAL(prof_trace_track_count(trace), 11);
    for (size_t track = 1; track < prof_trace_track_count(trace); ++track) {
        trace_list list = trace_read(trace, track);
        CHECK_EQUAL(list.count, 2);
        if (list.count == 2) CHECK_EQUAL(list.events[0].flags, PROF_TRUNCATED_END);
        trace_free(&list);
    }
    prof_trace_close(trace);
}

/*-- more threads than chunks --*/
/* They come last: the thread sanitizer becomes slower with each thread that lived at the same time as others, 50 times
   after these. */

static pthread_barrier_t all_are_here;
static long attempts_of_many;

static void *one_of_many(void *count)
{
    work(0);
    pthread_barrier_wait(&all_are_here); /* each thread that has a chunk keeps it */
    for (int64_t i = 1; i < *(long *)count; ++i) work(i);
    __atomic_fetch_add(&attempts_of_many, *(long *)count, __ATOMIC_RELAXED);
    pthread_barrier_wait(&all_are_here);
    return NULL;
}

TEST(more_threads_than_chunks)
{
    enum { MANY = 100 };
    pthread_t threads[MANY];
    long count = trace_times(10, 50, 50);
    prof_config config = trace_config(128u << 10);
    config.mode = PROF_FILL;
    attempts_of_many = 0;
    trace_start(&config);
    pthread_barrier_init(&all_are_here, NULL, MANY);
    for (int i = 0; i < MANY; ++i) pthread_create(&threads[i], NULL, one_of_many, &count);
    for (int i = 0; i < MANY; ++i) pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&all_are_here);
    trace = trace_stop();
    const prof_trace_info *info = prof_trace_about(trace);
    uint64_t recorded = 0, args = 0;
    CHECK(info->buffer_size / info->chunk_size < MANY);
    for (size_t track = 0; track < prof_trace_track_count(trace); ++track) {
        trace_list list = trace_read(trace, track);
        for (size_t i = 0; i < list.count; ++i) {
            recorded += list.events[i].type != PROF_EVENT_LOST;
            args += list.events[i].arg_count;
        }
        trace_free(&list);
    }
    CHECK_EQUAL(attempts_of_many, MANY * count);
    CHECK_EQUAL(recorded + info->lost, attempts_of_many * 3);
    CHECK_EQUAL(args + info->lost_args, attempts_of_many);
    CHECK(recorded > 0 && info->lost > 0 && info->lost_args > 0);
    prof_trace_close(trace);
    trace_start(NULL); /* and the next session is none the worse */
    work(1);
    trace = trace_stop();
    CHECK_EQUAL(prof_trace_about(trace)->event_count, 3);
    prof_trace_close(trace);
}

static void *begin_while_the_lock_is_taken(void *unused)
{
    prof__lock(&prof__lock_word);
    PROFILE_SCOPE("lost");
    prof__unlock(&prof__lock_word);
    PROFILE_ARG_I("of the lost scope", 1);
    return unused;
}

/* The argument would find a chunk, but has no scope there. */
TEST(arguments_of_a_scope_that_found_the_lock_taken)
{
    prof_config config = trace_config(1u << 20);
    pthread_t thread;
    trace_start(&config);
    pthread_create(&thread, NULL, begin_while_the_lock_is_taken, NULL);
    pthread_join(thread, NULL);
    trace = trace_stop();
    CHECK_EQUAL(prof_trace_about(trace)->event_count, 0);
    CHECK_EQUAL(prof_trace_about(trace)->lost, 1);
    CHECK_EQUAL(prof_trace_about(trace)->lost_busy, 1);
    CHECK_EQUAL(prof_trace_about(trace)->lost_args, 1);
    prof_trace_close(trace);
}

/* Scopes that find the lock taken, on threads that have a chunk: their arguments are lost, and not the enclosing
   scope's. (Each waits for some tenths of a second, all of them at the same time.) */
static pthread_barrier_t lock_meeting;
static void lock_meet(void) { pthread_barrier_wait(&lock_meeting); }

#define LOCKED_OUT(function, before, begin, end)       \
    static void *function(void *unused)                \
    {                                                  \
        PROFILE_SCOPE("outer");                        \
        {                                              \
            before;                                    \
            lock_meet(); /* the lock is free, */       \
            lock_meet(); /* and taken */               \
            begin;                                     \
            lock_meet();                               \
            lock_meet(); /* free again */              \
            PROFILE_ARG_I("of the lost scope", 1);     \
            PROFILE_BLOCK("inside")                    \
            PROFILE_ARG_I("of the inside", 2);         \
            {                                          \
                PROFILE_SCOPE_L("off", 9);             \
                PROFILE_ARG_I("of what is off", 3);    \
            }                                          \
            PROFILE_ARG_S("of the lost scope", "too"); \
            end;                                       \
        }                                              \
        PROFILE_ARG_I("of the outer", 4);              \
        return unused;                                 \
    }
#define NOTHING (void)0
LOCKED_OUT(locked_out_scope, NOTHING, PROFILE_SCOPE("refused"), NOTHING)
LOCKED_OUT(locked_out_nested, PROFILE_SCOPE_L("off", 9), PROFILE_SCOPE("refused"), NOTHING)
LOCKED_OUT(locked_out_text, NOTHING, PROFILE_SCOPE_DYNAMIC("refused"), NOTHING)
LOCKED_OUT(locked_out_format, NOTHING, PROFILE_SCOPE_F("refused %d", 1), NOTHING)
LOCKED_OUT(locked_out_step, NOTHING, PROFILE_STEP("refused", 1), NOTHING)
LOCKED_OUT(locked_out_loose, NOTHING, PROFILE_BEGIN("refused"), PROFILE_END("refused"))
LOCKED_OUT(locked_out_stage, PROFILE_STAGE("stage"), PROFILE_NEXT("refused"), NOTHING)

TEST(arguments_of_scopes_that_found_the_lock_taken)
{
    void *(*const kinds[])(void *) = {locked_out_scope, locked_out_nested, locked_out_text,  locked_out_format,
                                      locked_out_step,  locked_out_loose,  locked_out_stage};
    enum { KINDS = sizeof kinds / sizeof *kinds };
    pthread_t threads[KINDS];
    prof_config config = trace_config(1u << 20);
    pthread_barrier_init(&lock_meeting, NULL, KINDS + 1);
    trace_start(&config);
    for (int i = 0; i < KINDS; ++i) pthread_create(&threads[i], NULL, kinds[i], NULL);
    lock_meet();
    prof__lock(&prof__lock_word);
    lock_meet();
    lock_meet();
    prof__unlock(&prof__lock_word);
    lock_meet();
    for (int i = 0; i < KINDS; ++i) pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&lock_meeting);
    trace = trace_stop();
    CHECK_EQUAL(prof_trace_about(trace)->lost, KINDS);
    CHECK_EQUAL(prof_trace_about(trace)->lost_busy, KINDS);
    CHECK_EQUAL(prof_trace_about(trace)->lost_args, 2 * KINDS + 1); /* a step has one of its own */
    CHECK_EQUAL(prof_trace_track_count(trace), 1 + KINDS);
    for (size_t track = 1; track < prof_trace_track_count(trace); ++track) {
        trace_list list = trace_read(trace, track);
        const prof_event *outer = trace_find(&list, "outer"), *inside = trace_find(&list, "inside");
        CHECK(outer && outer->arg_count == 1 && trace_arg(outer, "of the outer"));
        CHECK(inside && inside->arg_count == 1 && trace_arg(inside, "of the inside"));
        CHECK_EQUAL(trace_count(&list, "refused"), 0);
        trace_free(&list);
    }
    prof_trace_close(trace);
}

static pthread_rwlock_t to_begin = PTHREAD_RWLOCK_INITIALIZER, to_end = PTHREAD_RWLOCK_INITIALIZER;

static void *scopes_of_many(void *done)
{
    pthread_rwlock_rdlock(&to_begin);
    pthread_rwlock_unlock(&to_begin);
    for (int i = 0; i < 10; ++i) PROFILE_BLOCK("short") continue;
    sem_post((sem_t *)done);
    pthread_rwlock_rdlock(&to_end);
    pthread_rwlock_unlock(&to_end);
    return NULL;
}

/* Far more threads than chunks, all alive and all at once: those that come last share the chunks that are left, so that
   next to nothing is lost. (One that is stopped in a scope keeps its chunk meanwhile.) */
TEST(short_scopes_of_more_threads_than_chunks)
{
    enum { MANY = 5000 };
    static pthread_t threads[MANY];
    int wanted = TRACE_SANITIZER ? 600 : (int)trace_times(600, MANY, MANY), many = 0;
    prof_config config = trace_config(wanted == MANY ? 16u << 20 : 2u << 20);
    pthread_attr_t small;
    sem_t done;
    sem_init(&done, 0, 0);
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 256u << 10);
    trace_start(&config);
    pthread_rwlock_wrlock(&to_begin);
    pthread_rwlock_wrlock(&to_end);
    while (many < wanted && !pthread_create(&threads[many], &small, scopes_of_many, &done)) ++many;
    pthread_rwlock_unlock(&to_begin);
    for (int i = 0; i < many; ++i) sem_wait(&done);
    pthread_rwlock_unlock(&to_end);
    for (int i = 0; i < many; ++i) pthread_join(threads[i], NULL);
    pthread_attr_destroy(&small);
    sem_destroy(&done);
    trace = trace_stop();
    const prof_trace_info *info = prof_trace_about(trace);
    uint64_t all = (uint64_t)many * 10;
    CHECK_EQUAL(info->event_count + info->lost, all);
    CHECK(info->lost * 50 < all);
    CHECK(prof_trace_track_count(trace) >= (size_t)many / 50 * 49);
    if (many < wanted) printf("%d threads, not %d\n", many, wanted);
    else CHECK(info->buffer_size / info->chunk_size < (uint64_t)many / 4);
    prof_trace_close(trace);
}

enum { TOO_MANY = 5000 };
static sem_t holds, first_ends, others_end, goes_on, has_gone_on;

static void *hold_a_chunk(void *ends)
{
    PROFILE_MARK("held");
    sem_post(&holds);
    sem_wait((sem_t *)ends);
    return NULL;
}

/* A scope finds no chunk, but its argument does: the service has emptied some meanwhile. */
TEST(arguments_of_a_scope_that_found_no_chunk)
{
    prof_config config = trace_config(128u << 10);
    config.mode = PROF_RING_STATS;
    config.wait_ns = PROF_NEVER;
    trace_start(&config);
    {
        PROFILE_SCOPE("outer");
        PROF__ADD(&prof__state.session->ring.free_chunks, -1000);
        for (int i = 0; i < 20000; ++i) PROFILE_MARK("fills the chunk");
        {
            PROFILE_SCOPE("refused");
            PROF__ADD(&prof__state.session->ring.free_chunks, 1000);
            prof__room_changed();
            PROFILE_ARG_I("of the lost scope", 1);
        }
        PROFILE_ARG_I("of the outer", 2);
    }
    trace = trace_stop();
    CHECK(prof_trace_about(trace)->lost > 1);
    CHECK_EQUAL(prof_trace_about(trace)->lost_args, 1);
    size_t outers = 0;
    for (size_t track = 0; track < prof_trace_track_count(trace); ++track) {
        trace_list list = trace_read(trace, track);
        const prof_event *outer = trace_find(&list, "outer");
        outers += outer && outer->arg_count == 1 && trace_arg(outer, "of the outer");
        CHECK_EQUAL(trace_count(&list, "refused"), 0);
        trace_free(&list);
    }
    CHECK_EQUAL(outers, 1);
    prof_trace_close(trace);
    CHECK_EQUAL(prof_reset(), PROF_OK);
}

/* A scope with a long name finds no room at the end of the memory, but its argument would. */
TEST(arguments_of_a_scope_whose_name_found_no_room)
{
    char name[201];
    uint64_t attempts = 0, args = 0;
    prof_config config = trace_config(128u << 10);
    memset(name, 'x', 200);
    name[200] = 0;
    config.mode = PROF_FILL;
    trace_start(&config);
    for (int i = 0; i < 1000; ++i) {
        PROFILE_SCOPE("outer");
        PROFILE_SCOPE_DYNAMIC(name);
        PROFILE_ARG_I("of the inner", 1);
        ++attempts;
    }
    trace = trace_stop();
    trace_list list = trace_read(trace, 0);
    for (size_t i = 0; i < list.count; ++i) {
        CHECK_EQUAL(list.events[i].arg_count, !strcmp(list.events[i].name, name));
        args += list.events[i].arg_count;
    }
    CHECK(trace_count(&list, "outer") > trace_count(&list, name) && args > 0);
    CHECK_EQUAL(args + prof_trace_about(trace)->lost_args, attempts);
    trace_free(&list);
    prof_trace_close(trace);
}

static void *want_another_chunk(void *has_one)
{
    PROFILE_THREAD("late");
    if (has_one) PROFILE_MARK("held");
    sem_post(&holds);
    sem_wait(&goes_on);
    for (int i = 0; i < TOO_MANY; ++i) PROFILE_MARK("more");
    sem_post(&has_gone_on);
    sem_wait(&goes_on);
    PROFILE_MARK("found");
    return NULL;
}

/* Slots are taken, each by a thread. Where the slots of a ring can be split, a thread that comes later finds a part of
   one. Else who finds none does not search for each event, but what is lost comes to be known, and the next event after
   somebody has handed a chunk back is recorded. */
static void hand_a_chunk_back(prof_mode mode, int has_one)
{
    enum { MANY = 100 };
    pthread_t threads[MANY], late;
    int count = 0;
    prof_config config = trace_config(128u << 10);
    config.mode = mode;
    sem_t *const all[] = {&holds, &first_ends, &others_end, &goes_on, &has_gone_on};
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i) sem_init(all[i], 0, 0);
    trace_start(&config);
    const prof__header *h = prof__state.session->header;
    if (has_one) pthread_create(&late, NULL, want_another_chunk, &goes_on), sem_wait(&holds);
    while (count < MANY && PROF__LOAD(&h->next_chunk) < h->chunk_count) {
        pthread_create(&threads[count], NULL, hold_a_chunk, count ? &others_end : &first_ends);
        ++count;
        sem_wait(&holds);
    }
    CHECK(count < MANY);
    if (!has_one) pthread_create(&late, NULL, want_another_chunk, NULL), sem_wait(&holds);
    sem_post(&goes_on);
    sem_wait(&has_gone_on);
    CHECK(PROF__LOAD(&h->next_chunk) < 20 * h->chunk_count); /* a search goes once round */
    uint64_t known = PROF__LOAD(&h->lost);                   /* what a kill would leave in a file */
    CHECK_EQUAL(prof_trace_open_live(&trace), PROF_OK);
    uint64_t lost = prof_trace_about(trace)->lost;
    prof_trace_close(trace);
    if (mode == PROF_RING) CHECK_EQUAL(lost, 0);
    else CHECK(lost == TOO_MANY && known > TOO_MANY - 1024 && known <= lost);
    sem_post(&first_ends);
    pthread_join(threads[0], NULL);
    sem_post(&goes_on);
    pthread_join(late, NULL);
    for (int i = 1; i < count; ++i) sem_post(&others_end);
    for (int i = 1; i < count; ++i) pthread_join(threads[i], NULL);
    trace = trace_stop();
    CHECK_EQUAL(prof_trace_about(trace)->lost, lost);
    trace_list list = trace_read(trace, trace_track_named(trace, "late"));
    CHECK_TEXT(list.count ? list.events[list.count - 1].name : "", "found");
    trace_free(&list);
    prof_trace_close(trace);
    CHECK_EQUAL(prof_reset(), PROF_OK);
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i) sem_destroy(all[i]);
}

TEST(a_chunk_that_is_handed_back_is_found)
{
    hand_a_chunk_back(PROF_FILL, 0);
    hand_a_chunk_back(PROF_RING, 0);
    hand_a_chunk_back(PROF_RING, 1);
}

/* Many more threads than chunks live at once. The search that finds every chunk taken is the last one until a chunk is
   let go: otherwise each thread would go once round the ring, under the lock that all the others wait for. */
static void *find_none_each(void *unused)
{
    for (int i = 0; i < 10; ++i) PROFILE_MARK("many");
    sem_post(&holds);
    sem_wait(&others_end);
    return unused;
}

TEST(threads_without_a_chunk_do_not_search_each)
{
    enum { MANY = 200 };
    static union { uint64_t words[20000 / 8]; char bytes[20000]; } memory;
    pthread_t threads[MANY];
    prof_config config = trace_config(0);
    config.memory = memory.bytes;
    config.memory_size = sizeof memory;
    sem_init(&holds, 0, 0);
    sem_init(&others_end, 0, 0);
    trace_start(&config);
    const prof__header *h = prof__state.session->header;
    uint64_t chunks = h->chunk_count << prof__state.session->ring.deepest;
    CHECK(chunks < MANY / 2);
    for (int i = 0; i < MANY; ++i) {
        CHECK_EQUAL(pthread_create(&threads[i], NULL, find_none_each, NULL), 0);
        sem_wait(&holds);
    }
    uint64_t pieces = PROF__LOAD(&prof__state.session->ring.pieces);
    CHECK(PROF__LOAD(&h->next_chunk) <= 4 * chunks); /* each chunk that is looked at counts as one */
    for (int i = 0; i < MANY; ++i) sem_post(&others_end);
    for (int i = 0; i < MANY; ++i) pthread_join(threads[i], NULL);
    work(1); /* where there is room again, it is found */
    trace = trace_stop();
    const prof_trace_info *info = prof_trace_about(trace);
    CHECK_EQUAL(info->event_count + info->lost, MANY * 10 + 3);
    CHECK(info->lost <= (MANY - pieces + 1) * 10); /* the main thread may have a chunk */
    prof_trace_close(trace);
    CHECK_EQUAL(prof_reset(), PROF_OK);
    sem_destroy(&holds);
    sem_destroy(&others_end);
}

/* Each thread has its own last failure, and a thread that never failed has none. */
static size_t error_texts(void)
{
    size_t n = 0;
#ifndef _WIN32
    for (const prof__error_place *place = prof__error_places; place; place = place->next) ++n;
#endif
    return n;
}

static pthread_barrier_t all_have_failed;

static void *fails(void *pointer)
{
    char path[64];
    prof_trace *none;
    CHECK_TEXT(prof_error(), "");
    snprintf(path, sizeof path, "/nowhere/%d.prof", *(const int *)pointer);
    CHECK(prof_trace_open(path, &none) != PROF_OK);
    pthread_barrier_wait(&all_have_failed);
    CHECK(strstr(prof_error(), path) != NULL);
    return NULL;
}

TEST(failures_are_of_one_thread_and_threads_that_end_leave_their_place)
{
    enum { MANY = 8 };
    pthread_t threads[MANY];
    int numbers[MANY];
    size_t before = error_texts();
    for (int round = 0; round < 20; ++round) {
        pthread_barrier_init(&all_have_failed, NULL, MANY);
        for (int i = 0; i < MANY; ++i) {
            numbers[i] = round * MANY + i;
            CHECK_EQUAL(pthread_create(&threads[i], NULL, fails, &numbers[i]), 0);
        }
        for (int i = 0; i < MANY; ++i) pthread_join(threads[i], NULL);
        pthread_barrier_destroy(&all_have_failed);
    }
    CHECK(error_texts() - before <= MANY);
}

TEST_MAIN
