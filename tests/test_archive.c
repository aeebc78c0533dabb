/* test_archive.c - packed words, and traces that read the same whether their chunks lie in the ring or in an archive.

   Archives are made here by hand: chunks of a recorded image are packed and taken out of its ring. */
/* run: long traces memory */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include <stdlib.h> /* declares the functions under their own names */
#define malloc test_malloc
#define calloc test_calloc
#define realloc test_realloc
#define free test_free
void *test_malloc(size_t size);
void *test_calloc(size_t count, size_t size);
void *test_realloc(void *old, size_t size);
void test_free(void *old);
#include <sys/types.h>
#include <unistd.h>
ssize_t test_pread(int file, void *to, size_t size, long long at);
#define pread(file, to, size, at) test_pread(file, to, size, at)
#include "private.h"
#undef pread
#undef malloc
#undef calloc
#undef realloc
#undef free
#include "test.h"
#include "trace.h"
#include <malloc.h>
#include <pthread.h>
#include <setjmp.h>
#include <errno.h>
#include <time.h>

/*-- memory that can run out, and that is counted --*/

static long allocations_left = -1; /* -1: any number */
static long long allocated, allocated_most;

static void *counted(void *memory)
{
    long long now = __atomic_add_fetch(&allocated, memory ? (long long)malloc_usable_size(memory) : 0, __ATOMIC_RELAXED);
    if (now > __atomic_load_n(&allocated_most, __ATOMIC_RELAXED)) __atomic_store_n(&allocated_most, now, __ATOMIC_RELAXED);
    return memory;
}
static int may_allocate(void)
{
    if (allocations_left < 0) return 1;
    return allocations_left > 0 && allocations_left--;
}
void *test_malloc(size_t size) { return may_allocate() ? counted(malloc(size)) : NULL; }
void *test_calloc(size_t count, size_t size) { return may_allocate() ? counted(calloc(count, size)) : NULL; }
void test_free(void *old)
{
    if (old) __atomic_sub_fetch(&allocated, (long long)malloc_usable_size(old), __ATOMIC_RELAXED);
    free(old);
}
void *test_realloc(void *old, size_t size)
{
    long long before = old ? (long long)malloc_usable_size(old) : 0;
    void *memory = may_allocate() ? realloc(old, size) : NULL;
    if (!memory) return NULL;
    __atomic_sub_fetch(&allocated, before, __ATOMIC_RELAXED);
    return counted(memory);
}

/*-- a disk that fails --*/

static long reads, reads_until_error = -1; /* -1: none fails */
static uint64_t bytes_read;

ssize_t test_pread(int file, void *to, size_t size, long long at)
{
    long number = __atomic_fetch_add(&reads, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&bytes_read, size, __ATOMIC_RELAXED);
    if (number == reads_until_error) {
        errno = EIO;
        return -1;
    }
    if (number % 5 == 1) errno = EINTR;
    if (number % 5 == 1) return -1;
    return pread(file, to, number % 5 == 2 ? (size + 1) / 2 : size, (off_t)at);
}

/*-- chance --*/

static uint64_t chance_state;

static uint64_t chance(void)
{
    chance_state ^= chance_state << 13;
    chance_state ^= chance_state >> 7;
    chance_state ^= chance_state << 17;
    return chance_state * 0x9E3779B97F4A7C15u >> 11;
}

static uint64_t below(uint64_t n) { return chance() % n; }

static void chance_begin(void)
{
    const char *seed = getenv("PROF_TEST_SEED");
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    chance_state = seed ? strtoull(seed, NULL, 10) : (uint64_t)now.tv_nsec * 7919 + (uint64_t)now.tv_sec;
    printf("     seed %llu\n", (unsigned long long)chance_state);
    chance_state |= 1;
}

/*-- packed words --*/

enum { WORDS = 2040 };

/* Whatever is packed comes back, in the room that is promised for it. */
static size_t round_trip(const uint64_t *words, size_t count)
{
    size_t room = PROF__PACK_BOUND(count), size, got;
    unsigned char *bytes = (unsigned char *)malloc(room + 8);
    uint64_t *back = (uint64_t *)malloc(count * 8 + 8);
    memset(bytes, 0xA5, room + 8);
    back[count] = 0xA5A5A5A5u;
    size = prof__pack(words, count, bytes, room, NULL);
    CHECK(size <= room && (size || !count));
    got = prof__unpack(bytes, size, back, count);
    CHECK_EQUAL(got, count);
    CHECK(got != count || !memcmp(words, back, count * 8));
    CHECK_EQUAL(back[count], 0xA5A5A5A5u);
    memset(bytes + size, 0, 7); /* padding is no record */
    if (count) CHECK_EQUAL(prof__unpack(bytes, size + 7, back, count), count);
    free(bytes);
    free(back);
    return size;
}

/* Records as programs make them, for the greater part; strange: in what parts of a hundred they are not. */
static size_t random_words(uint64_t *words, size_t room, uint64_t strange, uint64_t sites)
{
    size_t count = 0;
    uint64_t tick = below(1000), *word = words;
    while (count < room) {
        uint64_t kind = below(100) < strange ? below(16) : 1 + below(10), site = 1 + below(sites), low, length, i;
        tick += below(4) ? below(200) : below(3) ? below(1u << 18) : below(1ull << 33);
        if (below(100) < strange) tick = chance();
        low = tick & PROF__TICK_MASK;
        if (kind == PROF__KIND_NAME || kind == PROF__KIND_ARG)
            low = (uint64_t)(below(100) < strange ? below(256) : below(7)) << 32 | (below(3) ? 1 + below(4) : below(40));
        if (kind == PROF__KIND_TRACK) low = below(50);
        word[0] = kind << 60 | site << 40 | low;
        length = prof__record_words(word[0], room - count);
        if (!length) length = 1; /* what is no record, or ends too early */
        for (i = 1; i < length; ++i) {
            word[i] = below(3) ? below(300) - 100 : below(2) ? chance() << 20 | chance() : 0x6F6C6C6568u;
            if (below(5) == 0 && word - i > words) word[i] = word[-(long)i];
        }
        if (length > 1 && below(3) == 0) word[length - 1] &= 0xFFFF;
        word += length;
        count += length;
    }
    return count;
}

TEST(any_words_come_back)
{
    static uint64_t words[WORDS];
    long i, times = trace_times(100, 1000, 100000);
    chance_begin();
    for (i = 0; i < times && !test_failures; ++i) {
        size_t count = i < 40 ? (size_t)i : 1 + (size_t)below(WORDS), k;
        random_words(words, count, i % 4 ? below(30) : 0, i % 3 ? 5 : i % 2 ? 2000 : PROF__SITE_MASK);
        if (i % 7 == 0)
            for (k = 0; k < count; ++k) words[k] = chance() << 40 ^ chance(); /* nothing but noise */
        if (i % 7 == 1) words[below(count + !count)] = i % 2 ? 0 : ~(uint64_t)0;
        round_trip(words, count);
    }
    memset(words, 0, sizeof words);
    CHECK(round_trip(words, WORDS) > 0);
    memset(words, 0xFF, sizeof words);
    CHECK(round_trip(words, WORDS) > 0);
}

TEST(times_and_values_at_their_limits)
{
    static const uint64_t low[] = {0, 1, PROF__TICK_MASK, 0, PROF__TICK_MASK - 1, PROF__TICK_MASK, 5, 63, 64, 127};
    static const uint64_t values[] = {0,          1,           ~(uint64_t)0, 1ull << 63, (1ull << 63) - 1, 63,
                                      64,         127,         128,          1ull << 62, ~(uint64_t)63,    ~(uint64_t)64};
    uint64_t words[200];
    size_t i, count = 0;
    for (i = 0; i < sizeof low / sizeof *low; ++i) words[count++] = (uint64_t)PROF__KIND_BEGIN << 60 | 7ull << 40 | low[i];
    for (i = 0; i < sizeof values / sizeof *values; ++i) {
        words[count++] = (uint64_t)PROF__KIND_COUNTER_INT << 60 | ((uint64_t)i << 40);
        words[count++] = values[i];
        words[count++] = (uint64_t)PROF__KIND_COUNTER_DOUBLE << 60 | ((uint64_t)i << 40);
        words[count++] = values[i];
        words[count++] = (uint64_t)PROF__KIND_ARG << 60 | ((uint64_t)i << 40) | (uint64_t)PROF_VALUE_INT << 32 | 1;
        words[count++] = values[i];
        words[count++] = (uint64_t)PROF__KIND_ARG << 60 | ((uint64_t)i << 40) | (uint64_t)PROF_VALUE_POINTER << 32 | 1;
        words[count++] = values[i];
        words[count++] = (uint64_t)PROF__KIND_ARG << 60 | ((uint64_t)i << 40) | (uint64_t)PROF_VALUE_STRING << 32 | 1;
        words[count++] = values[i];
        words[count++] = (uint64_t)PROF__KIND_LOST << 60 | (values[i] & PROF__TICK_MASK);
    }
    round_trip(words, count);
    for (i = 0; i < count; ++i) round_trip(words + i, count - i); /* payloads as heads */
}

TEST(room_that_is_too_small)
{
    static uint64_t words[WORDS];
    size_t size, i;
    unsigned char *bytes;
    chance_begin();
    random_words(words, 60, 20, 50);
    bytes = (unsigned char *)malloc(PROF__PACK_BOUND(60));
    size = prof__pack(words, 60, bytes, PROF__PACK_BOUND(60), NULL);
    free(bytes);
    for (i = 0; i <= PROF__PACK_BOUND(60); ++i) {
        bytes = (unsigned char *)malloc(i + !i); /* the sanitizer watches its end */
        size_t got = prof__pack(words, 60, bytes, i, NULL);
        CHECK(got == size || (!got && i < PROF__PACK_BOUND(60)));
        free(bytes);
    }
}

static size_t tight_loop(uint64_t *words, uint64_t from, uint64_t to) /* ticks between two records */
{
    uint64_t tick = 0;
    size_t i;
    for (i = 0; i < WORDS; ++i) {
        tick += from + below(to - from + 1);
        words[i] = (uint64_t)(i % 2 ? PROF__KIND_END : PROF__KIND_BEGIN) << 60 | 7ull << 40 | tick;
    }
    return round_trip(words, WORDS);
}

TEST(sizes)
{
    static uint64_t words[WORDS];
    chance_begin();
    CHECK(tight_loop(words, 18, 50) <= WORDS + 16);            /* 2 bytes for a scope of some 20 ns, and its pause */
    CHECK(tight_loop(words, 100, 8000) <= WORDS * 2 + 16);     /* 4 for one of microseconds */
    CHECK(tight_loop(words, 9000, 400000) <= WORDS * 3 + 16);  /* 6 for one of some 100 microseconds */
}

/* However words are packed, the bytes stay those of version 0.1.0. */
TEST(packed_bytes_stay_the_same)
{
    static uint64_t words[WORDS];
    static unsigned char bytes[PROF__PACK_BOUND(WORDS)];
    uint64_t hash = 0;
    size_t i, k;
    chance_state = 4711;
    for (i = 0; i < 200; ++i) {
        size_t count = 1 + (size_t)below(WORDS), size;
        if (i % 5) {
            random_words(words, count, i % 4 ? below(10) : 0, i % 3 ? 5 : 2000);
        } else {
            uint64_t tick = below(1000);
            for (k = 0; k < count; ++k) {
                uint64_t kind = k % 200 < 100 ? PROF__KIND_BEGIN : PROF__KIND_END, site = 1 + k % 7;
                tick += below(1ull << (1 + i % 29)); /* numbers of 1 to 5 bytes, and scopes more than 64 deep */
                words[k] = kind << 60 | site << 40 | tick;
            }
        }
        size = prof__pack(words, count, bytes, sizeof bytes, NULL);
        for (k = 0; k < size; ++k) hash = (hash ^ bytes[k]) * 0x100000001B3u;
    }
    if (!PROF__LOW_HALF) CHECK_EQUAL(hash, 9448823511745644896u); /* words of texts differ in others */
}

TEST(any_bytes_may_be_unpacked)
{
    static uint64_t words[WORDS], back[WORDS + 1];
    long i, times = trace_times(200, 3000, 1000000);
    chance_begin();
    back[WORDS] = 77;
    for (i = 0; i < times && !test_failures; ++i) {
        size_t count = 1 + (size_t)below(i % 2 ? 100 : WORDS), size, k;
        unsigned char *bytes = (unsigned char *)malloc(PROF__PACK_BOUND(count)), *exact;
        random_words(words, count, 5, 20);
        size = prof__pack(words, count, bytes, PROF__PACK_BOUND(count), NULL);
        if (i % 5 == 0)
            for (k = 0; k < size; ++k) bytes[k] = (unsigned char)below(i % 2 ? 256 : 8);
        for (k = below(8) + 1; k; --k) bytes[below(size)] = (unsigned char)below(i % 3 ? 256 : 5);
        if (below(4) == 0) size = (size_t)below(size + 1);
        exact = (unsigned char *)malloc(size + !size); /* the sanitizer watches its end */
        memcpy(exact, bytes, size);
        CHECK(prof__unpack(exact, size, back, count) <= count);
        CHECK(prof__unpack(exact, size, back, WORDS) <= WORDS);
        free(exact);
        free(bytes);
    }
    CHECK_EQUAL(back[WORDS], 77);
}

/*-- images with archives --*/

typedef struct image {
    char *bytes;
    size_t size;
    prof__header *header;
} image;

static image image_of(char *bytes, size_t size)
{
    image im;
    im.bytes = bytes;
    im.size = size;
    im.header = (prof__header *)(void *)bytes;
    return im;
}

static prof__chunk *slot(const image *im, uint64_t i)
{
    return (prof__chunk *)(void *)(im->bytes + im->header->chunk_offset + i * im->header->chunk_size);
}
static uint64_t *slot_words(const image *im, uint64_t i)
{
    return (uint64_t *)(void *)((char *)slot(im, i) + im->header->chunk_header_size);
}
static size_t slot_room(const image *im) { return (im->header->chunk_size - im->header->chunk_header_size) / 8; }

/* Room for an archive of any size behind the image; empty. */
static image archive_begin(const image *from)
{
    size_t room = from->size + (size_t)(from->header->chunk_count + 8) * PROF__BLOCK_BOUND(slot_room(from));
    image im = image_of((char *)calloc(1, room), from->size);
    memcpy(im.bytes, from->bytes, from->size);
    im.header->archive_offset = im.header->archive_first = im.header->archive_next = from->size;
    im.header->archive_limit = room / 8 * 8;
    return im;
}

static void archive_append(image *im, const prof__chunk *chunk, const uint64_t *words, size_t count)
{
    im->header->archive_next += prof__block_pack(chunk, words, count, (prof__block *)(void *)(im->bytes + im->header->archive_next));
    im->size = (size_t)im->header->archive_next;
}

typedef struct layout {
    uint64_t every, but; /* which chunks are archived: those whose sequence % every != but */
    int keep;            /* the ring keeps them, too, as free */
    int wrapped;         /* the oldest blocks come last in the file; 2: with less than a block's header behind them */
} layout;

static int by_sequence(const void *a, const void *b)
{
    const prof__chunk *x = *(prof__chunk *const *)a, *y = *(prof__chunk *const *)b;
    return x->sequence < y->sequence ? -1 : x->sequence > y->sequence;
}

/* Moves the blocks in front of split behind the others, as if the archive had gone round. */
static void archive_wrap(image *im, uint64_t split, int tight)
{
    prof__header *h = im->header;
    size_t first = (size_t)(split - h->archive_offset), second = (size_t)(h->archive_next - split), gap = tight ? 56 : 64 + 128;
    char *old, *at = im->bytes + h->archive_offset;
    if (!first || !second) return;
    old = (char *)malloc(first);
    memcpy(old, at, first);
    memmove(at, im->bytes + split, second);
    h->archive_next = h->archive_offset + second;
    memset(im->bytes + h->archive_next, 0xEE, 8); /* what is left of an older block */
    h->archive_first = h->archive_next + 8;
    memcpy(im->bytes + h->archive_first, old, first);
    free(old);
    h->archive_limit = h->archive_first + first + gap;
    memset(im->bytes + h->archive_first + first, tight ? 0xEE : 0, gap);
    if (!tight) {
        prof__block *end = (prof__block *)(void *)(im->bytes + h->archive_first + first);
        end->magic = PROF__BLOCK_MAGIC;
        end->size = 64;
        end->check = prof__block_check(end, NULL);
        memset(end + 1, 0xEE, 128);
    }
    im->size = (size_t)h->archive_limit;
}

static image archive_make(const image *from, layout l)
{
    image im = archive_begin(from);
    prof__chunk **order = (prof__chunk **)calloc((size_t)im.header->chunk_count + 1, sizeof *order);
    size_t count = 0, i;
    uint64_t split = 0;
    for (i = 0; i < im.header->chunk_count; ++i)
        if (slot(&im, i)->sequence) order[count++] = slot(&im, i);
    qsort(order, count, sizeof *order, by_sequence);
    for (i = 0; i < count; ++i) {
        uint64_t *words = (uint64_t *)(void *)((char *)order[i] + im.header->chunk_header_size);
        if (order[i]->sequence % l.every == l.but) continue;
        if (i < count / 2 + 1) split = im.header->archive_next;
        archive_append(&im, order[i], words, slot_room(&im));
        order[i]->state = PROF__CHUNK_FREE;
        if (!l.keep) memset(order[i], 0, im.header->chunk_size);
    }
    free(order);
    if (l.wrapped && split) archive_wrap(&im, split, l.wrapped == 2);
    return im;
}

static prof_trace *image_open(const image *im, int file)
{
    prof_trace *trace = NULL;
    const char *path = trace_path("archive.prof");
    prof_status status;
    if (file) trace_write_file(path, im->bytes, im->size);
    status = file ? prof_trace_open(path, &trace) : prof_trace_open_memory(im->bytes, im->size, &trace);
    CHECK_EQUAL(status, PROF_OK);
    if (status) printf("%s\n", prof_error());
    return trace;
}

static void check_same_args(const prof_event *a, const prof_event *b)
{
    uint32_t i;
    CHECK_EQUAL(a->arg_count, b->arg_count);
    for (i = 0; i < a->arg_count && i < b->arg_count; ++i) {
        const prof_value *x = &a->args[i].value, *y = &b->args[i].value;
        CHECK_TEXT(a->args[i].key, b->args[i].key);
        CHECK(x->type == y->type && x->cut == y->cut);
        if (x->type == PROF_VALUE_STRING && y->type == PROF_VALUE_STRING)
            CHECK_TEXT(x->as.string, y->as.string);
        else
            CHECK_EQUAL(x->as.u, y->as.u);
    }
}

static void check_same_event(const prof_event *a, const prof_event *b)
{
    CHECK(a->type == b->type && a->flags == b->flags && a->depth == b->depth);
    CHECK(a->start_ns == b->start_ns && a->duration_ns == b->duration_ns && a->id == b->id);
    CHECK_TEXT(a->name, b->name);
    CHECK_TEXT(a->site->name, b->site->name);
    CHECK_TEXT(a->site->file, b->site->file);
    CHECK_EQUAL(a->site->line, b->site->line);
    CHECK(a->value.type == b->value.type && a->value.as.u == b->value.as.u);
    check_same_args(a, b);
}

static void check_same(const prof_trace *a, const prof_trace *b)
{
    const prof_trace_info *x = prof_trace_about(a), *y = prof_trace_about(b);
    size_t i, k;
    CHECK_EQUAL(prof_trace_track_count(a), prof_trace_track_count(b));
    CHECK(x->event_count == y->event_count && x->lost == y->lost && x->unmatched == y->unmatched);
    CHECK(x->duration_ns == y->duration_ns && x->tick_hz == y->tick_hz && x->complete == y->complete);
    CHECK_EQUAL(y->lost_blocks, 0);
    for (i = 0; i < prof_trace_track_count(a) && !test_failures; ++i) {
        const prof_track *s = prof_trace_track(a, i), *t = prof_trace_track(b, i);
        trace_list l = trace_read(a, i), m = trace_read(b, i);
        CHECK_TEXT(s->name, t->name);
        CHECK(s->id == t->id && s->thread_id == t->thread_id && s->lost == t->lost && s->event_count == t->event_count);
        CHECK(s->first_ns == t->first_ns && s->last_ns == t->last_ns);
        CHECK_EQUAL(l.count, m.count);
        for (k = 0; k < l.count && k < m.count && test_failures < 5; ++k) check_same_event(&l.events[k], &m.events[k]);
        trace_free(&l);
        trace_free(&m);
    }
}

/*-- recorded traces --*/

static jmp_buf out_of_it;

static void work(uint64_t *state, int depth)
{
    uint64_t what = (*state = *state * 6364136223846793005u + 1442695040888963407u) >> 33;
    char text[200];
    PROFILE_SCOPE("work");
    switch (what % 11) {
    case 0: PROFILE_ARG_I("i", (int64_t)what - 1000); break;
    case 1: PROFILE_ARG_D("d", (double)what / 3); break;
    case 2: PROFILE_COUNTER("rate", (double)what); break;
    case 3: PROFILE_COUNTER("depth", (int64_t)depth); break;
    case 4: PROFILE_MARK_F("mark %d", (int)(what % 20)); break;
    case 5: PROFILE_FRAME("frame"); break;
    case 6:
        snprintf(text, sizeof text, "%.*s %llu", (int)(what % 90), "a text of a length that is not always the same, and more of it",
                 (unsigned long long)what);
        PROFILE_ARG_S("text", text);
        break;
    default: break;
    }
    if (depth > 10 && what % 97 == 0) longjmp(out_of_it, 1);
    if (depth < 14 && what % 3) work(state, depth + 1);
    if (depth < 14 && what % 5 == 0) work(state, depth + 1);
    PROFILE_SCOPE_DYNAMIC(what % 2 ? "a name" : "another name");
    PROFILE_ARG_U("late", what);
}

static void *record(void *argument)
{
    uint64_t state = (uint64_t)(uintptr_t)argument * 77, rounds = 300 + state % 500;
    volatile uint64_t i;
    PROFILE_THREAD(state % 2 ? "odd" : "even");
    for (i = 0; i < rounds; ++i) {
        PROFILE_BLOCK("round") {
            if (!setjmp(out_of_it)) work(&state, 0);
            PROFILE_ARG_I("round", (int64_t)i); /* often in a later chunk than the begin of the scope */
        }
    }
    return NULL;
}

/* An image of a few threads, one after another; rounds: how many. Older chunks are missing if the buffer is too
   small. */
static image recorded(size_t buffer, int rounds)
{
    prof_config config = trace_config(buffer);
    const char *path = trace_path("archive_source.prof");
    size_t size;
    char *bytes;
    int i;
    config.output = path;
    trace_start(&config);
    {
        PROFILE_SCOPE("all");
        for (i = 0; i < rounds; ++i) {
            pthread_t thread;
            record((void *)(uintptr_t)(i + 1));
            CHECK(!pthread_create(&thread, NULL, record, (void *)(uintptr_t)(i + 1000)));
            pthread_join(thread, NULL);
        }
        PROFILE_ARG_S("at the end", "said of a scope of long ago");
    }
    CHECK_EQUAL(prof_stop(), PROF_OK);
    prof_reset();
    PROFILE_THREAD(NULL);
    bytes = trace_file_text(path, &size);
    if (!bytes) exit(1);
    return image_of(bytes, size);
}

static void check_layouts(const image *from)
{
    static const layout layouts[] = {{1, 1, 0, 0}, {1, 1, 1, 0}, {2, 0, 0, 0}, {2, 1, 1, 0}, {3, 1, 0, 1}, {1, 1, 0, 1},
                                     {1, 1, 1, 2}, {5, 4, 0, 2}, {7, 0, 0, 0}, {1, 0, 0, 0}};
    prof_trace *plain = image_open(from, 0);
    size_t i;
    int file;
    trace_check(plain);
    size_t first = (size_t)trace_times(from->header->mode == PROF_STREAM, 0, 0), step = (size_t)trace_times(2, 1, 1);
    for (i = first; i < sizeof layouts / sizeof *layouts; i += step) {
        image im = archive_make(from, layouts[i]);
        for (file = i % 2 && trace_times(1, 0, 0); file < 2 && !test_failures; ++file) {
            prof_trace *trace = image_open(&im, file);
            if (!trace) break;
            if (prof_trace_about(plain)->overwritten_chunks == 0) trace_check(trace);
            check_same(plain, trace);
            prof_trace_close(trace);
            if (test_failures) printf("layout %d, file %d\n", (int)i, file);
        }
        free(im.bytes);
    }
    prof_trace_close(plain);
}

TEST(archived_chunks_read_the_same)
{
    image im = recorded((size_t)trace_times(1, 4, 4) << 20, (int)trace_times(1, 2, 4));
    CHECK_EQUAL(im.header->overwritten, 0);
    check_layouts(&im);
    im.header->mode = PROF_STREAM;
    check_layouts(&im);
    free(im.bytes);
}

TEST(archived_chunks_of_a_ring_that_turned)
{
    image im = recorded(256 << 10, 5);
    CHECK(im.header->overwritten > 20);
    check_layouts(&im);
    free(im.bytes);
}

TEST(what_the_ring_still_has_is_dropped)
{
    image from = recorded(1 << 20, 1), im;
    layout all = {1, 1, 1, 0};
    prof_trace *plain = image_open(&from, 0), *trace;
    size_t i;
    im = archive_make(&from, all);
    /* as if it had been copied while it was written: the archive knows better */
    for (i = 0; i < im.header->chunk_count; ++i)
        if (slot(&im, i)->sequence) memset(slot_words(&im, i) + 5, 0, (slot_room(&im) - 5) * 8);
    trace = image_open(&im, 0);
    check_same(plain, trace);
    prof_trace_close(trace);
    /* and a block that is there twice counts once */
    prof__block *first = (prof__block *)(void *)(im.bytes + im.header->archive_first);
    memcpy(im.bytes + im.header->archive_next, first, first->size);
    im.header->archive_next += first->size;
    im.size += first->size;
    trace = image_open(&im, 0);
    check_same(plain, trace);
    prof_trace_close(trace);
    prof_trace_close(plain);
    free(im.bytes);
    free(from.bytes);
}

TEST(blocks_newer_than_the_copy_of_the_ring)
{
    image from = recorded(1 << 20, 1), im;
    layout all = {1, 1, 0, 0};
    prof_trace *trace;
    uint64_t newest = from.header->next_chunk;
    im = archive_make(&from, all);
    im.header->state = PROF__RUNNING;
    im.header->boot_id[0] ^= 1; /* another machine */
    im.header->next_chunk = newest - 2;
    trace = image_open(&im, 0);
    trace_check(trace);
    CHECK_EQUAL(trace->chunk_count, newest - 2);
    prof_trace_close(trace);
    free(im.bytes);
    free(from.bytes);
}

/*-- a small image, in which everything can be damaged --*/

/* Track 1 of thread 101; serial below 2^28. */
static void track_record(uint64_t *words, uint64_t serial)
{
    words[0] = (uint64_t)PROF__KIND_TRACK << 60 | serial << 32;
    words[1] = 1;
    words[2] = 101;
}

/* A small image of version 3: chunks of 62 words. */
static image small_image(int chunks)
{
    const size_t chunk_size = PROF__LEAST_CHUNK + 62 * 8, meta_words = 20;
    size_t size = sizeof(prof__header) + meta_words * 8 + (size_t)chunks * chunk_size;
    image im = image_of((char *)calloc(1, size), size);
    prof__header *h = im.header;
    uint64_t *meta, tick = 1000;
    int i, k;
    memcpy(h->magic, PROF__MAGIC, 8);
    h->version = PROF__IMAGE_OLDEST;
    h->byte_order = PROF__BYTE_ORDER;
    h->header_size = sizeof *h;
    h->word_size = 8;
    h->image_size = size;
    h->meta_offset = sizeof *h;
    h->meta_size = meta_words * 8;
    h->chunk_offset = sizeof *h + meta_words * 8;
    h->chunk_count = (uint64_t)chunks;
    h->chunk_size = (uint32_t)chunk_size;
    h->chunk_header_size = PROF__LEAST_CHUNK;
    h->mode = PROF_STREAM;
    h->state = PROF__STOPPED;
    h->clock = PROF_CLOCK_COUNTER;
    h->tick_hz = 1000000000u;
    h->first.tick = h->first.monotonic_ns = 1000;
    h->last = h->first;
    h->next_chunk = (uint64_t)chunks;
    strcpy(h->clock_name, "test clock");
    meta = (uint64_t *)(void *)(im.bytes + h->meta_offset);
    meta[0] = (uint64_t)PROF__META_STRING << 56 | 2ull << 32 | 1;
    memcpy(meta + 1, "scope", 5);
    for (i = 0; i < 3; ++i) {
        meta[2 + i * 5] = (uint64_t)PROF__META_SITE << 56 | 5ull << 32 | (unsigned)(i + 1);
        meta[3 + i * 5] = 1;
        meta[5 + i * 5] = (unsigned)i;
    }
    h->meta_used = 17 * 8;
    for (i = 0; i < chunks; ++i) {
        uint64_t *word = slot_words(&im, (uint64_t)i);
        prof__chunk *chunk = slot(&im, (uint64_t)i);
        chunk->sequence = (uint64_t)i + 1;
        chunk->base.tick = chunk->base.monotonic_ns = tick;
        track_record(word, (uint64_t)i + 1);
        word += 3;
        for (k = 0; k < 10; ++k) {
            *word++ = (uint64_t)PROF__KIND_BEGIN << 60 | (uint64_t)(1 + k % 3) << 40 | (tick - chunk->base.tick);
            tick += (uint64_t)(k * 17);
            if (k == 4) {
                *word++ = (uint64_t)PROF__KIND_NAME << 60 | (uint64_t)PROF_VALUE_STRING << 32 | 2;
                memcpy(word, "run-time name", 13);
                word += 2;
            }
            if (k == 5) {
                *word++ = (uint64_t)PROF__KIND_ARG << 60 | 1ull << 40 | (uint64_t)PROF_VALUE_INT << 32 | 1;
                *word++ = (uint64_t)i;
            }
            if (k == 9 && i % 3 == 0) break; /* ends in the next chunk */
            *word++ = (uint64_t)PROF__KIND_END << 60 | (uint64_t)(1 + k % 3) << 40 | (tick - chunk->base.tick);
            tick += 11;
        }
        if (i % 3 == 1) *word++ = (uint64_t)PROF__KIND_END << 60 | 1ull << 40 | (tick - chunk->base.tick);
    }
    return im;
}

/* Five blocks, and a sixth chunk in the ring. The seeds of the fuzzer are these; wrapped: the first two are last. */
static image small_archive(int wrapped)
{
    image from = small_image(6), one = small_image(1), im = archive_begin(&one);
    uint64_t i, split = 0;
    for (i = 0; i < 5; ++i) {
        archive_append(&im, slot(&from, i), slot_words(&from, i), 62);
        if (i == 1) split = im.header->archive_next;
    }
    memcpy(slot(&im, 0), slot(&from, 5), im.header->chunk_size);
    im.header->next_chunk = 6;
    im.header->archive_limit = im.header->archive_next;
    if (wrapped) archive_wrap(&im, split, 0);
    free(from.bytes);
    free(one.bytes);
    return im;
}

/* The ring was copied while a fiber had its turn on a thread; the next one, elsewhere, was packed before the archive was
   read. What came in between is in neither. */
TEST(a_fiber_that_went_on_in_a_block)
{
    image ring = small_image(1), im = archive_begin(&ring);
    prof__chunk later = *slot(&im, 0);
    uint64_t *word = slot_words(&im, 0), words[5];
    memset(word, 0, slot_room(&im) * 8);
    track_record(word, 1);
    word[0] |= 1u << 31;
    word[3] = (uint64_t)PROF__KIND_BEGIN << 60 | 1ull << 40 | 10;
    later.sequence = 2;
    track_record(words, 2);
    words[0] |= 1u << 31;
    words[2] = 102;
    words[3] = (uint64_t)PROF__KIND_BEGIN << 60 | 2ull << 40 | 35;
    words[4] = (uint64_t)PROF__KIND_END << 60 | 2ull << 40 | 39;
    archive_append(&im, &later, words, 5);
    im.header->next_chunk = 2;
    for (int copy = 0; copy < 2; ++copy) {
        if (copy) im.header->copy_tick = 1025;
        prof_trace *trace = image_open(&im, 0);
        CHECK_EQUAL(prof_trace_track_count(trace), 1);
        CHECK_EQUAL(prof_trace_track(trace, 0)->event_count, copy ? 1 : 2);
        prof_trace_close(trace);
    }
    free(im.bytes);
    free(ring.bytes);
}

TEST(corpus) /* tests/corpus holds these images; it is written anew with PROF_TEST_CORPUS=1 */
{
    static const char *const paths[] = {"tests/corpus/archive", "tests/corpus/archive_wrapped"};
    const char *renew = getenv("PROF_TEST_CORPUS");
    uint32_t order = 1;
    size_t size;
    int i;
    if (*(const char *)&order != 1) SKIP("the seeds are little-endian");
    for (i = 0; i < 2; ++i) {
        image im = small_archive(i);
        prof_trace *trace = image_open(&im, 0);
        char *text;
        trace_check(trace);
        CHECK(trace && trace->chunk_count == 6 && prof_trace_about(trace)->event_count == 60);
        CHECK_EQUAL(prof_trace_about(trace)->lost_blocks, 0);
        prof_trace_close(trace);
        if (renew && *renew == '1') trace_write_file(paths[i], im.bytes, im.size);
        text = trace_file_text(paths[i], &size);
        CHECK(text && size == im.size && !memcmp(text, im.bytes, size));
        free(text);
        free(im.bytes);
    }
}

/*-- damage --*/

/* Opens what may be damaged. Null: refused with an error. */
static prof_trace *damaged_open(const image *im, int file)
{
    prof_trace *trace = NULL;
    const char *path = trace_path("archive_damaged.prof");
    prof_status status;
    if (file) trace_write_file(path, im->bytes, im->size);
    status = file ? prof_trace_open(path, &trace) : prof_trace_open_memory(im->bytes, im->size, &trace);
    CHECK(status == PROF_OK || status == PROF_CORRUPT || status == PROF_UNSUPPORTED);
    CHECK(!status == !!trace);
    if (trace) prof_trace_set_window(trace, 0, 0); /* the header may say that only a part is wanted */
    if (trace) trace_check(trace);
    return trace;
}

TEST(damage_at_every_byte)
{
    image im = small_archive(1);
    size_t at;
    int bit;
    prof_trace *plain = image_open(&im, 0);
    CHECK_EQUAL(prof_trace_about(plain)->lost_blocks, 0);
    CHECK_EQUAL(prof_trace_about(plain)->event_count, 60);
    prof_trace_close(plain);
    for (at = (size_t)im.header->archive_offset; at < im.size && !test_failures; at += (size_t)trace_times(7, 1, 1))
        for (bit = 0; bit < 8; bit += 7) {
            uint64_t lost;
            prof_trace *trace;
            int dead = (at >= im.header->archive_next && at < im.header->archive_first) || at >= im.header->archive_limit - 192;
            im.bytes[at] = (char)(im.bytes[at] ^ 1 << bit);
            trace = damaged_open(&im, 0);
            lost = trace ? prof_trace_about(trace)->lost_blocks : 0;
            CHECK(trace != NULL);
            if (!dead) CHECK_EQUAL(lost, 1);
            if (test_failures) printf("at %lu\n", (unsigned long)at);
            prof_trace_close(trace);
            im.bytes[at] = (char)(im.bytes[at] ^ 1 << bit);
        }
    for (at = 0; at < sizeof(prof__header) && !test_failures; at += (size_t)trace_times(5, 1, 1))
        for (bit = 0; bit < 8; ++bit) {
            im.bytes[at] = (char)(im.bytes[at] ^ 1 << bit);
            prof_trace_close(damaged_open(&im, 0));
            im.bytes[at] = (char)(im.bytes[at] ^ 1 << bit);
        }
    free(im.bytes);
}

TEST(files_that_were_cut)
{
    image from = small_image(6), im;
    layout all[2] = {{1, 1, 0, 0}, {6, 0, 0, 1}};
    size_t size, full;
    int i;
    for (i = 0; i < 2; ++i) {
        im = archive_make(&from, all[i]);
        full = im.size;
        for (size = full; size >= im.header->image_size && !test_failures; --size) {
            prof_trace *trace;
            im.size = size;
            trace = damaged_open(&im, size % 4 == 0);
            CHECK(trace != NULL);
            if (trace && i == 0) CHECK_EQUAL(prof_trace_about(trace)->lost_blocks, size < full);
            prof_trace_close(trace);
        }
        free(im.bytes);
    }
    free(from.bytes);
}

TEST(copies_of_files_that_were_cut) /* hold what is left, and say that something is missing */
{
    static const long cuts[] = {0, 20, 600, 4 << 20};
    const char *path = trace_path("archive_cut.prof"), *copy = trace_path("archive_cut_copy.prof");
    image from = small_image(6), im;
    layout layouts[] = {{1, 1, 0, 0}, {1, 1, 0, 1}};
    size_t i, k;
    for (i = 0; i < 2; ++i)
        for (k = 0; k < sizeof cuts / sizeof *cuts; ++k) {
            prof_trace *cut = NULL, *copied = NULL;
            long missing = cuts[k] > 1000 ? 0 : cuts[k];
            im = archive_make(&from, layouts[i]);
            if (cuts[k] > 1000 && !i) { /* never was as long as it says */
                im.header->archive_limit = 0;
                im.header->archive_next += (uint64_t)cuts[k];
            }
            trace_write_file(path, im.bytes, im.size - (size_t)missing);
            CHECK_EQUAL(prof_image_copy(path, copy, PROF_SAME_WINDOW, 0), PROF_OK);
            CHECK(trace_file_size(copy) <= (long)im.size + 16); /* a word behind each lap that was cut */
            CHECK_EQUAL(prof_trace_open(path, &cut), PROF_OK);
            CHECK_EQUAL(prof_trace_open(copy, &copied), PROF_OK);
            CHECK_EQUAL(prof_trace_about(copied)->event_count, prof_trace_about(cut)->event_count);
            CHECK_EQUAL(prof_trace_about(copied)->lost_blocks, prof_trace_about(cut)->lost_blocks);
            prof_trace_close(cut);
            prof_trace_close(copied);
            free(im.bytes);
        }
    free(from.bytes);
}

TEST(damaged_blocks_cost_only_themselves)
{
    image from = small_image(9), im;
    layout all = {1, 1, 0, 0};
    prof__block *block;
    int i;
    im = archive_make(&from, all);
    block = (prof__block *)(void *)(im.bytes + im.header->archive_offset);
    for (i = 0; i < 3; ++i) block = (prof__block *)(void *)((char *)block + block->size); /* the fourth */
    static const uint32_t sizes[] = {0, 8, 64, 72, 100, 4096, 0x7FFFFFF8u, 0xFFFFFFFFu};
    uint32_t size = block->size;
    for (i = 0; i < (int)(sizeof sizes / sizeof *sizes); ++i) {
        prof_trace *trace;
        block->size = sizes[i];
        trace = damaged_open(&im, 0);
        CHECK_EQUAL(trace->chunk_count, 8);
        CHECK_EQUAL(prof_trace_about(trace)->lost_blocks, 1);
        trace_list list = trace_read(trace, 0);
        CHECK_EQUAL(list.count, 80);
        CHECK_EQUAL(list.events[0].id >> trace->word_bits, 1);
        CHECK_EQUAL(list.events[29].id >> trace->word_bits, 3);
        CHECK_EQUAL(list.events[30].id >> trace->word_bits, 5);
        CHECK_EQUAL(list.events[79].id >> trace->word_bits, 9);
        CHECK_EQUAL(prof_trace_about(trace)->unmatched, 1); /* the end of the scope that crosses from the fourth */
        trace_free(&list);
        prof_trace_close(trace);
    }
    block->size = size;
    free(im.bytes);
    free(from.bytes);
}

TEST(nothing_but_headers_of_blocks) /* are not all believed */
{
    enum { HEADERS = 2000 };
    image from = small_image(1), im;
    const char *path = trace_path("archive_headers.prof");
    size_t room = from.size + 1048576, i;
    prof_trace *trace = NULL;
    im = image_of((char *)calloc(1, room), from.size + HEADERS * sizeof(prof__block));
    memcpy(im.bytes, from.bytes, from.size);
    im.header->chunk_size = 1048576;
    im.header->chunk_count = 0;
    im.header->archive_offset = im.header->archive_first = from.size;
    im.header->archive_next = im.size;
    for (i = 0; i < HEADERS; ++i) {
        prof__block *block = (prof__block *)(void *)(im.bytes + from.size) + i;
        block->magic = PROF__BLOCK_MAGIC;
        block->size = (uint32_t)((HEADERS - i) * sizeof *block);
        block->sequence = i + 1;
        block->words = 100;
    }
    trace_write_file(path, im.bytes, im.size);
    bytes_read = 0;
    CHECK_EQUAL(prof_trace_open(path, &trace), PROF_OK);
    CHECK(bytes_read < 60 * im.size);
    CHECK_EQUAL(prof_trace_about(trace)->lost_blocks, 1);
    prof_trace_close(trace);
    free(im.bytes);
    free(from.bytes);
}

/* Blocks that are as they should be, but for what they hold. */
TEST(blocks_of_nonsense)
{
    long i, times = trace_times(100, 1000, 100000);
    chance_begin();
    for (i = 0; i < times && !test_failures; ++i) {
        image from = small_image(6), im = archive_begin(&from);
        uint64_t words[62], k;
        prof_trace *trace;
        for (k = 0; k < 6; ++k) {
            size_t count = 1 + (size_t)below(62);
            prof__chunk chunk = *slot(&from, k);
            memcpy(words, slot_words(&from, k), sizeof words);
            if (below(2)) random_words(words, count, below(40), 6);
            if (below(2)) words[0] = (uint64_t)PROF__KIND_TRACK << 60 | below(9) << 32 | below(3);
            if (below(3)) words[1] = below(3);
            if (below(4) == 0) words[0] = chance(), words[1] = chance() << 20;
            if (below(4) == 0) chunk.sequence = below(9);
            if (below(4) == 0) chunk.base.tick = chance() << below(30);
            if (below(4) == 0) chunk.lost = chance() >> below(50);
            archive_append(&im, &chunk, words, count);
            if (below(2)) memset(slot(&im, k), 0, im.header->chunk_size);
        }
        im.header->overwritten = below(2);
        im.header->state = below(2) ? PROF__STOPPED : PROF__RUNNING;
        trace = damaged_open(&im, 0);
        CHECK(trace != NULL);
        prof_trace_close(trace);
        free(im.bytes);
        free(from.bytes);
    }
}

/* A cursor of a track whose file is not what it was. Returns how many events it gave; checks that none sticks out of another. */
static uint64_t walk_what_is_left(const prof_trace *trace, size_t track)
{
    prof_cursor *cursor = NULL;
    prof_event event;
    uint64_t count = 0;
    int64_t before = 0, ends[64];
    uint32_t depth = 0;
    CHECK_EQUAL(prof_cursor_open(trace, track, &cursor), PROF_OK);
    while (cursor && prof_cursor_next(cursor, &event)) {
        ++count;
        CHECK(event.start_ns >= before && event.duration_ns >= 0 && event.depth < 64);
        before = event.start_ns;
        if (event.type != PROF_EVENT_SCOPE || event.depth >= 64) continue;
        for (uint32_t i = 0; i < event.depth && i < depth; ++i) /* in this one, or the scope it was in has vanished */
            CHECK(event.start_ns + event.duration_ns <= ends[i] || event.start_ns >= ends[i]);
        for (uint32_t i = depth; i < event.depth; ++i) ends[i] = event.start_ns; /* never seen */
        depth = event.depth + 1;
        ends[event.depth] = event.start_ns + event.duration_ns;
    }
    prof_cursor_close(cursor);
    return count;
}

TEST(blocks_that_vanish_while_they_are_read)
{
    image from = recorded(1 << 20, 2), im;
    layout most = {5, 0, 0, 0};
    const char *path = trace_path("archive_vanishes.prof");
    prof_trace *trace = NULL, *plain;
    size_t i, k;
    uint64_t all = 0, left = 0, blocks;
    int round;
    im = archive_make(&from, most);
    plain = image_open(&im, 0);
    for (round = 0; round < 4 && !test_failures; ++round) {
        FILE *file;
        trace_write_file(path, im.bytes, im.size);
        CHECK_EQUAL(prof_trace_open(path, &trace), PROF_OK);
        if (!trace) break;
        all = left = 0;
        if (round == 1) CHECK(!truncate(path, (off_t)(im.header->archive_offset + im.size) / 2)); /* in the middle */
        if (round == 2) CHECK(!truncate(path, 0));
        if (round == 3) { /* others lie in the places of these */
            file = fopen(path, "r+b");
            CHECK(!fseek(file, (long)im.header->archive_offset + 640, SEEK_SET));
            CHECK(fwrite(im.bytes + im.header->archive_offset, 1, im.size - im.header->archive_offset - 640, file) > 0);
            fclose(file);
        }
        for (i = 0; i < prof_trace_track_count(trace); ++i) {
            all += prof_trace_track(trace, i)->event_count;
            left += walk_what_is_left(trace, i);
        }
        blocks = prof_trace_about(trace)->lost_blocks;
        CHECK(round ? left < all && blocks > 0 : left == all && !blocks);
        for (i = 0; i < prof_trace_track_count(trace); ++i) walk_what_is_left(trace, i);
        CHECK_EQUAL(prof_trace_about(trace)->lost_blocks, blocks); /* each once, however often it is looked for */
        prof_trace_close(trace);
        trace = NULL;
    }
    /* one block in turn: what does not begin in it stays, with its end and its arguments */
    trace_write_file(path, im.bytes, im.size);
    CHECK_EQUAL(prof_trace_open(path, &trace), PROF_OK);
    for (i = 0; trace && i < trace->chunk_count && !test_failures; i += (size_t)trace_times(9, 1, 1)) {
        uint32_t size = trace->chunks[i].size;
        if (!size) continue;
        trace->chunks[i].size = PROF__NONE32; /* as if it could not be read */
        for (k = 0; k < prof_trace_track_count(trace); ++k) {
            trace_list l = trace_read(plain, k), m = trace_read(trace, k);
            size_t a = 0, b = 0;
            uint64_t gone = trace->chunks[i].sequence;
            for (; a < l.count && test_failures < 5; ++a) {
                if (l.events[a].id >> trace->word_bits == gone && !(l.events[a].flags & PROF_TRUNCATED_BEGIN)) continue;
                CHECK(b < m.count);
                if (b == m.count) break;
                if (l.events[a].type == PROF_EVENT_FRAME) /* the boundary before may be missing */
                    CHECK_EQUAL(l.events[a].id, m.events[b].id);
                else
                    check_same_event(&l.events[a], &m.events[b]);
                ++b;
            }
            CHECK_EQUAL(b, m.count);
            trace_free(&l);
            trace_free(&m);
        }
        trace->chunks[i].size = size;
    }
    prof_trace_close(trace);
    prof_trace_close(plain);
    free(im.bytes);
    free(from.bytes);
}

/* A block that passes for the one that was there, but has more events than the tables have room for. */
TEST(blocks_that_become_others)
{
    static const uint64_t kinds[] = {PROF__KIND_END, PROF__KIND_MARK};
    image from = small_image(1), im[2];
    prof_trace *trace = NULL;
    const char *path = trace_path("archive_becomes.prof");
    uint64_t words[43];
    int i, k;
    for (i = 0; i < 2; ++i) {
        track_record(words, 1);
        for (k = 0; k < 40; ++k) words[3 + k] = kinds[i] << 60 | (uint64_t)(1 + i) << 40 | (uint64_t)(k + 5);
        im[i] = archive_begin(&from);
        archive_append(&im[i], slot(&from, 0), words, 43);
        memset(slot(&im[i], 0), 0, im[i].header->chunk_size);
    }
    CHECK_EQUAL(im[0].size, im[1].size);
    trace_write_file(path, im[0].bytes, im[0].size);
    CHECK_EQUAL(prof_trace_open(path, &trace), PROF_OK);
    trace_write_file(path, im[1].bytes, im[1].size);
    CHECK_EQUAL(walk_what_is_left(trace, 0), 0);
    CHECK_EQUAL(prof_trace_about(trace)->lost_blocks, 1);
    prof_trace_close(trace);
    for (i = 0; i < 2; ++i) free(im[i].bytes);
    free(from.bytes);
}

TEST(scopes_whose_outer_one_vanished) /* are not in each other */
{
    image from = small_image(3), im = archive_begin(&from);
    prof_trace *trace = NULL;
    prof_stat *stats = NULL;
    size_t count = 0;
    const uint64_t begin = (uint64_t)PROF__KIND_BEGIN << 60, end = (uint64_t)PROF__KIND_END << 60, site = 1ull << 40;
    uint64_t words[16];
    int i;
    for (i = 0; i < 3; ++i) {
        const uint64_t last[] = {begin | 2 * site | 1, end | 2 * site | 4, begin | 2 * site | 5, end | 2 * site | 7,
                                 end | 3 * site | 8, end | site | 9};
        track_record(words, (uint64_t)i + 1);
        words[3] = begin | (i ? 3 * site : site);
        if (i == 2) memcpy(words + 3, last, sizeof last);
        archive_append(&im, slot(&from, (uint64_t)i), words, i == 2 ? 9 : 4);
        memset(slot(&im, (uint64_t)i), 0, im.header->chunk_size);
    }
    trace = damaged_open(&im, 0);
    CHECK_EQUAL(trace->chunk_count, 3);
    trace->chunks[1].size = PROF__NONE32; /* as if it could not be read */
    CHECK_EQUAL(prof_stats_by_path(trace, PROF_SORT_TOTAL, 0, &stats, &count), PROF_OK);
    CHECK_EQUAL(count, 2);
    if (count == 2) {
        CHECK_EQUAL(stats[1].parent, 0);
        CHECK_EQUAL(stats[1].count, 2);
        CHECK_EQUAL(stats[1].total_ns, 5);
        CHECK_EQUAL(stats[1].self_ns, 5);
        CHECK_EQUAL(stats[0].self_ns, stats[0].total_ns - 5);
    }
    prof_stats_free(stats);
    prof_trace_close(trace);
    free(im.bytes);
    free(from.bytes);
}

TEST(reads_that_fail_while_a_trace_is_made) /* each in turn, once: what was missed then is left out for good */
{
    image from = recorded(256 << 10, 1), im;
    layout most = {5, 0, 0, 1};
    const char *path = trace_path("archive_disk.prof");
    prof_trace *trace = NULL;
    long count, n, lost = 0;
    uint64_t events;
    im = archive_make(&from, most);
    trace_write_file(path, im.bytes, im.size);
    reads = 0;
    CHECK_EQUAL(prof_trace_open(path, &trace), PROF_OK);
    trace_check(trace);
    count = reads;
    events = prof_trace_about(trace)->event_count;
    prof_trace_close(trace);
    CHECK(count > 100);
    for (n = 0; n < count && !test_failures; n += trace_times(9, 1, 1)) {
        reads = 0;
        reads_until_error = n;
        CHECK_EQUAL(prof_trace_open(path, &trace), PROF_OK);
        if (reads > n) { /* it was in this part, and not in the cursors' */
            const prof_trace_info *info = prof_trace_about(trace);
            CHECK(info->lost_blocks == 1 || (!info->lost_blocks && info->event_count == events));
            lost += (long)info->lost_blocks;
            reads_until_error = -1;
            trace_check(trace);
        }
        reads_until_error = -1;
        prof_trace_close(trace);
    }
    CHECK(lost > count / trace_times(40, 4, 4));
    free(im.bytes);
    free(from.bytes);
}

/*-- threads --*/

static uint64_t sum_of(const prof_trace *trace)
{
    uint64_t sum = 0;
    size_t i;
    for (i = 0; i < prof_trace_track_count(trace); ++i) {
        prof_cursor *cursor = NULL;
        prof_event event;
        CHECK_EQUAL(prof_cursor_open(trace, i, &cursor), PROF_OK);
        while (prof_cursor_next(cursor, &event)) {
            const char *text;
            uint32_t k;
            for (text = event.name; *text; ++text) sum = sum * 31 + (unsigned char)*text;
            sum = sum * 31 + (uint64_t)event.start_ns + (uint64_t)event.duration_ns * 7 + event.id;
            for (k = 0; k < event.arg_count; ++k)
                if (event.args[k].value.type != PROF_VALUE_STRING) sum = sum * 31 + event.args[k].value.as.u;
        }
        prof_cursor_close(cursor);
    }
    return sum;
}

typedef struct reader {
    const prof_trace *trace;
    uint64_t sum;
} reader;

static void *read_all(void *argument)
{
    reader *r = (reader *)argument;
    r->sum = sum_of(r->trace);
    return NULL;
}

TEST(many_threads_read_one_archive)
{
    image from = recorded(1 << 20, 2), im;
    layout all = {1, 1, 0, 0};
    reader readers[8];
    pthread_t threads[8];
    prof_trace *trace;
    uint64_t expected;
    int i;
    im = archive_make(&from, all);
    trace = image_open(&im, 1);
    expected = sum_of(trace);
    for (i = 0; i < 8; ++i) {
        readers[i].trace = trace;
        CHECK(!pthread_create(&threads[i], NULL, read_all, &readers[i]));
    }
    for (i = 0; i < 8; ++i) {
        pthread_join(threads[i], NULL);
        CHECK_EQUAL(readers[i].sum, expected);
    }
    CHECK_EQUAL(prof_trace_about(trace)->lost_blocks, 0);
    prof_trace_close(trace);
    free(im.bytes);
    free(from.bytes);
}

/*-- memory --*/

static prof_status use_everything(const image *im)
{
    prof_trace *trace = NULL;
    prof_stat *stats = NULL;
    size_t count = 0, i;
    prof_status status = prof_trace_open_memory(im->bytes, im->size, &trace);
    for (i = 0; !status && i < prof_trace_track_count(trace); ++i) {
        prof_cursor *cursor = NULL;
        prof_event event;
        uint64_t events = 0;
        status = prof_cursor_open(trace, i, &cursor);
        while (!status && prof_cursor_next(cursor, &event)) ++events;
        if (!status) CHECK_EQUAL(events, prof_trace_track(trace, i)->event_count);
        prof_cursor_close(cursor);
    }
    if (!status) status = prof_stats(trace, PROF_SORT_TOTAL, 0, &stats, &count);
    prof_stats_free(stats);
    prof_trace_close(trace);
    return status;
}

TEST(out_of_memory) /* at each allocation in turn: an error, no crash, and nothing is left out */
{
    image from = small_image(9), im;
    layout most = {4, 0, 0, 1};
    long n, refused = 0;
    im = archive_make(&from, most);
    for (n = 0; n < 1000; ++n) {
        prof_status status;
        long long before = allocated;
        allocations_left = n;
        status = use_everything(&im);
        allocations_left = -1;
        CHECK_EQUAL(allocated, before);
        if (status == PROF_OK) break;
        CHECK_EQUAL(status, PROF_NO_MEMORY);
        ++refused;
    }
    CHECK(refused > 15 && refused < 200);
    free(im.bytes);
    free(from.bytes);
}

/* A file of so many blocks of the same 2000 records, each a bit later. Returns its events. */
static uint64_t long_archive(const char *path, long blocks)
{
    image from = small_image(1), head;
    size_t chunk_size = sizeof(prof__chunk) + WORDS * 8, size = (size_t)from.header->chunk_offset + chunk_size;
    FILE *file = fopen(path, "wb");
    uint64_t *words = (uint64_t *)calloc(WORDS, 8);
    prof__block *block = (prof__block *)malloc(PROF__BLOCK_BOUND(WORDS));
    prof__chunk chunk;
    long i;
    size_t k;
    memset(&chunk, 0, sizeof chunk);
    head = image_of((char *)calloc(1, size), size);
    memcpy(head.bytes, from.bytes, (size_t)from.header->chunk_offset);
    head.header->image_size = head.header->archive_offset = head.header->archive_first = size;
    head.header->chunk_size = (uint32_t)chunk_size;
    head.header->next_chunk = (uint64_t)blocks;
    CHECK(fwrite(head.bytes, 1, size, file) == size);
    for (k = 3; k < WORDS; ++k)
        words[k] = (uint64_t)(k % 2 ? PROF__KIND_BEGIN : PROF__KIND_END) << 60 | (uint64_t)(k / 2 % 3 + 1) << 40 | k * 50;
    words[WORDS - 1] = 0; /* a begin */
    for (i = 0; i < blocks; ++i) {
        chunk.sequence = (uint64_t)i + 1;
        chunk.base.tick = 1000 + (uint64_t)i * 200000;
        chunk.base.monotonic_ns = chunk.base.tick;
        track_record(words, (uint64_t)i + 1);
        for (k = 3; k + 1 < WORDS; k += 2) {
            words[k] = (words[k] & ~(PROF__SITE_MASK * (1ull << 40))) | (uint64_t)(k / 2 % 3 + 1) << 40;
            words[k + 1] = (words[k + 1] & ~(PROF__SITE_MASK * (1ull << 40))) | (uint64_t)(k / 2 % 3 + 1) << 40;
        }
        size += prof__block_pack(&chunk, words, WORDS - 1, block);
        CHECK(fwrite(block, 1, block->size, file) == block->size);
    }
    head.header->archive_next = head.header->archive_limit = size;
    CHECK(!fseek(file, 0, SEEK_SET));
    CHECK(fwrite(head.bytes, 1, sizeof(prof__header), file) == sizeof(prof__header));
    CHECK(!fclose(file));
    free(head.bytes);
    free(from.bytes);
    free(words);
    free(block);
    return (uint64_t)blocks * ((WORDS - 4) / 2);
}

TEST(memory_does_not_grow_with_the_events)
{
    const char *path = trace_path("archive_long.prof");
    long blocks = trace_times(200, 2000, 200000);
    uint64_t events = long_archive(path, blocks), count = 0;
    prof_trace *trace = NULL;
    prof_cursor *cursor = NULL;
    prof_event event;
    long long before = allocated;
    allocated_most = before;
    CHECK_EQUAL(prof_trace_open(path, &trace), PROF_OK);
    if (!trace) return;
    CHECK_EQUAL(prof_trace_about(trace)->event_count, events);
    CHECK_EQUAL(prof_trace_about(trace)->unmatched, 0);
    CHECK_EQUAL(prof_cursor_open(trace, 0, &cursor), PROF_OK);
    while (prof_cursor_next(cursor, &event)) ++count;
    CHECK_EQUAL(count, events);
    prof_cursor_close(cursor);
    printf("     %ld blocks of %lu bytes, %lld bytes of memory\n", blocks, (unsigned long)(trace_file_size(path) / blocks),
           allocated_most - before);
    /* for about 16,000 bytes of the ring, and a thousand events */
    CHECK(allocated_most - before < 300 * blocks + 500000);
    prof_trace_close(trace);
    CHECK_EQUAL(allocated, before);
    CHECK(!unlink(path));
}

TEST_MAIN
