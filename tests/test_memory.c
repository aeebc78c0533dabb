/* Allocations: what the reader makes of PROFILE_ALLOC and its kind, compared with a model that is told the same. */
/* run: unraced clocks */
#include "private.h"
#include "test.h"
#include "trace.h"
#include <pthread.h>

static uint64_t random_state;
static uint64_t random_below(uint64_t n)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (random_state >> 33) % n;
}
static void random_seed(const char *test)
{
    const char *given = getenv("PROF_TEST_SEED");
    random_state = given ? strtoull(given, NULL, 0) : (uint64_t)time(NULL) * 1000003u;
    printf("     %s: PROF_TEST_SEED=%llu\n", test, (unsigned long long)random_state);
}

/*-- a model of one thread's allocations: pools by number, sites by number, scopes by the depth of two names --*/

enum { POOLS = 3, SCOPES = 3, ADDRESSES = 400 };
static const char *const pool_names[POOLS] = {"", "textures", "net"};
static const char *const scope_names[SCOPES] = {"", "load", "load:mesh"};

typedef struct figures {
    uint64_t count, bytes, live_count, live_bytes, peak;
} figures;

typedef struct model {
    struct {
        uint64_t bytes;
        int live, known, pool, scope;
    } blocks[POOLS][ADDRESSES];
    figures pools[POOLS], scopes[SCOPES], sites[POOLS][SCOPES];
    uint64_t allocs, frees, unknown, twice, not_freed;
} model;

static void figures_add(figures *f, uint64_t bytes)
{
    f->count++;
    f->bytes += bytes;
    f->live_count++;
    f->live_bytes += bytes;
    if (f->live_bytes > f->peak) f->peak = f->live_bytes;
}

static void figures_take(figures *f, uint64_t bytes)
{
    f->live_count--;
    f->live_bytes -= bytes;
}

static void model_drop(model *m, int pool, int address)
{
    int scope = m->blocks[pool][address].scope;
    uint64_t bytes = m->blocks[pool][address].bytes;
    figures_take(&m->pools[pool], bytes);
    figures_take(&m->scopes[scope], bytes);
    figures_take(&m->sites[pool][scope], bytes);
    m->blocks[pool][address].live = 0;
}

static void model_alloc(model *m, int pool, int scope, int address, uint64_t bytes)
{
    m->allocs++;
    if (m->blocks[pool][address].live) {
        model_drop(m, pool, address);
        m->not_freed++;
    }
    m->blocks[pool][address].live = m->blocks[pool][address].known = 1;
    m->blocks[pool][address].bytes = bytes;
    m->blocks[pool][address].scope = scope;
    figures_add(&m->pools[pool], bytes);
    figures_add(&m->scopes[scope], bytes);
    figures_add(&m->sites[pool][scope], bytes);
}

static void model_free(model *m, int pool, int address)
{
    m->frees++;
    if (m->blocks[pool][address].live)
        model_drop(m, pool, address);
    else if (m->blocks[pool][address].known)
        m->twice++;
    else
        m->unknown++;
    m->blocks[pool][address].known = 1;
}

static uintptr_t address_of(int address) { return 0x10000 + (uintptr_t)address * 16; } /* the same in all pools */

static void do_alloc(int pool, int address, uint64_t bytes)
{
    if (pool == 0) PROFILE_ALLOC(address_of(address), bytes);
    if (pool == 1) PROFILE_ALLOC_POOL((void *)address_of(address), bytes, "textures");
    if (pool == 2) PROFILE_ALLOC_POOL(address_of(address), bytes, "net");
}

static void do_free(int pool, int address)
{
    if (pool == 0) PROFILE_FREE_POOL(address_of(address), "");
    if (pool == 1) PROFILE_FREE_POOL((void *)address_of(address), "textures");
    if (pool == 2) PROFILE_FREE_POOL(address_of(address), "net");
}

static void act(model *m, int scope)
{
    int pool = (int)random_below(POOLS), address = (int)random_below(ADDRESSES);
    uint64_t bytes = random_below(5) ? random_below(4000) : PROF__EVENT_DETAIL_MAX >> 12;
    if (random_below(20) == 0) { /* whatever: twice, unknown, over a live one */
        if (random_below(2)) {
            model_free(m, pool, address);
            do_free(pool, address);
        } else {
            model_alloc(m, pool, scope, address, bytes);
            do_alloc(pool, address, bytes);
        }
    } else if (m->blocks[pool][address].live) {
        model_free(m, pool, address);
        do_free(pool, address);
    } else {
        model_alloc(m, pool, scope, address, bytes);
        do_alloc(pool, address, bytes);
    }
}

static void run_model(model *m, long rounds)
{
    for (long i = 0; i < rounds; ++i) {
        PROFILE_SCOPE("round");
        act(m, 0);
        {
            PROFILE_MEMORY_SCOPE("load");
            act(m, 1);
            PROFILE_SCOPE("inside");
            {
                PROFILE_MEMORY_SCOPE_DYNAMIC(i % 2 ? "mesh" : "mesh");
                act(m, 2);
            }
            act(m, 1);
        }
        act(m, 0);
    }
}

static void same_figures(const prof_memory_row *row, const figures *f)
{
    CHECK_EQUAL(row->count, f->count);
    CHECK_EQUAL(row->bytes, f->bytes);
    CHECK_EQUAL(row->live_count, f->live_count);
    CHECK_EQUAL(row->live_bytes, f->live_bytes);
    CHECK_EQUAL(row->peak_bytes, f->peak);
}

static int number_of(const char *text, const char *const *texts, int count)
{
    for (int i = 0; i < count; ++i)
        if (!strcmp(texts[i], text)) return i;
    CHECK_TEXT(text, "one of the model's");
    return 0;
}

static void check_model(const prof_memory_stats *s, const model *m)
{
    uint64_t sites = 0;
    CHECK_EQUAL(s->count, m->allocs);
    CHECK_EQUAL(s->frees, m->frees);
    CHECK_EQUAL(s->freed_unknown, m->unknown);
    CHECK_EQUAL(s->freed_twice, m->twice);
    CHECK_EQUAL(s->not_freed, m->not_freed);
    CHECK_EQUAL(s->pool_count, POOLS);
    for (size_t i = 0; i < s->pool_count; ++i) {
        CHECK(!s->pools[i].scope && !s->pools[i].site && !s->pools[i].around);
        if (i) CHECK(s->pools[i].bytes <= s->pools[i - 1].bytes);
        same_figures(&s->pools[i], &m->pools[number_of(s->pools[i].pool, pool_names, POOLS)]);
    }
    CHECK_EQUAL(s->scope_count, SCOPES);
    for (size_t i = 0; i < s->scope_count; ++i) {
        CHECK(!s->scopes[i].pool && !s->scopes[i].site);
        same_figures(&s->scopes[i], &m->scopes[number_of(s->scopes[i].scope, scope_names, SCOPES)]);
    }
    figures sums[POOLS][SCOPES];
    memset(sums, 0, sizeof sums);
    for (size_t i = 0; i < s->site_count; ++i) { /* around tells "load" into those of "round" and those of "inside" */
        const prof_memory_row *row = &s->sites[i];
        figures *sum = &sums[number_of(row->pool, pool_names, POOLS)][number_of(row->scope, scope_names, SCOPES)];
        sum->count += row->count;
        sum->bytes += row->bytes;
        sum->live_count += row->live_count;
        sum->live_bytes += row->live_bytes;
        CHECK_TEXT(row->site->name, "alloc");
        CHECK_TEXT(row->site->function, "do_alloc");
        CHECK_TEXT(row->site->category, row->pool);
        CHECK(row->around != NULL);
        if (row->around) CHECK(!strcmp(row->around_name, "round") || !strcmp(row->around_name, "inside"));
        if (row->around && !*row->scope) CHECK_TEXT(row->around_name, "round");
        sites += row->count;
    }
    CHECK_EQUAL(sites, m->allocs);
    for (int p = 0; p < POOLS; ++p)
        for (int c = 0; c < SCOPES; ++c) {
            CHECK_EQUAL(sums[p][c].count, m->sites[p][c].count);
            CHECK_EQUAL(sums[p][c].bytes, m->sites[p][c].bytes);
            CHECK_EQUAL(sums[p][c].live_count, m->sites[p][c].live_count);
            CHECK_EQUAL(sums[p][c].live_bytes, m->sites[p][c].live_bytes);
        }
}

static prof_memory_stats *memory_of(const prof_trace *trace)
{
    prof_memory_stats *stats = NULL;
    CHECK_EQUAL(prof_memory(trace, &stats), PROF_OK);
    return stats;
}

TEST(as_the_model)
{
    static model m;
    prof_config config = trace_config(16u << 20);
    random_seed("as_the_model");
    for (int repeat = 0; repeat < 5 && !test_failures; ++repeat) {
        memset(&m, 0, sizeof m);
        CHECK_EQUAL(prof_start(&config), PROF_OK);
        run_model(&m, 4000);
        prof_trace *trace = trace_stop();
        CHECK_EQUAL(prof_trace_about(trace)->overwritten_chunks, 0);
        prof_memory_stats *stats = memory_of(trace);
        if (stats) check_model(stats, &m);
        prof_memory_free(stats);
        prof_trace_close(trace);
    }
}

TEST(as_the_model_in_a_stream)
{
    static model m;
    const char *path = trace_path("memory.prof");
    prof_config config = trace_config(256u << 10);
    config.mode = PROF_STREAM;
    config.output = path;
    config.wait_ns = 10000000000;
    random_seed("as_the_model_in_a_stream");
    memset(&m, 0, sizeof m);
    CHECK_EQUAL(prof_start(&config), PROF_OK);
    run_model(&m, 20000);
    CHECK_EQUAL(prof_stop(), PROF_OK);
    prof_trace *trace = trace_open_file(path);
    if (!trace) return;
    CHECK_EQUAL(prof_trace_about(trace)->lost, 0);
    prof_memory_stats *stats = memory_of(trace);
    if (stats) check_model(stats, &m);
    prof_memory_free(stats);
    prof_trace_close(trace);
}

/*-- counters of a Chrome trace --*/

static trace_bytes chrome_of(const prof_trace *trace, const prof_chrome_options *options)
{
    trace_bytes l = {NULL, 0, 0, 0};
    CHECK_EQUAL(prof_chrome_stream(trace, trace_sink(&l), options), PROF_OK);
    return l;
}

/* The values of the samples of a counter, in the order of the file. */
static size_t samples_of(const trace_bytes *l, const char *name, uint64_t *values, size_t most)
{
    static const char key[] = "\"args\":{\"\":"; /* the counter has one series, without a name */
    char start[100];
    size_t count = 0;
    snprintf(start, sizeof start, "{\"ph\":\"C\",\"cat\":\"memory\",\"name\":\"%s\",", name);
    for (const char *at = l->bytes; (at = strstr(at, start)) != NULL; ++at) {
        const char *value = strstr(at, key);
        if (value && count < most) values[count] = strtoull(value + strlen(key), NULL, 10);
        ++count;
    }
    return count;
}

TEST(live_bytes_as_a_counter)
{
    prof_config config = trace_config(4u << 20);
    prof_chrome_options options;
    uint64_t wanted[2000], found[2000], live[50] = {0}, sum = 0;
    size_t count = 0, net;
    memset(&options, 0, sizeof options);
    options.allocations = 1;
    random_seed("live_bytes_as_a_counter");
    CHECK_EQUAL(prof_start(&config), PROF_OK);
    PROFILE_ALLOC_POOL((uintptr_t)8, 77, "net \"quoted\"");
    for (int i = 0; i < 1000; ++i) {
        size_t which = (size_t)random_below(50);
        uint64_t bytes = random_below(1u << 30) + 1;
        uintptr_t address = 0x1000 + which * 64;
        if (!live[which]) {
            PROFILE_ALLOC(address, bytes);
            sum += live[which] = bytes;
        } else if (random_below(3)) {
            PROFILE_FREE(address);
            sum -= live[which];
            live[which] = 0;
        } else { /* one sample, not two */
            if (bytes == live[which]) ++bytes;
            PROFILE_REALLOC(address, address, bytes);
            sum += bytes - live[which];
            live[which] = bytes;
        }
        wanted[count++] = sum;
        trace_next_instant(); /* an instant has one sample */
    }
    prof_trace *trace = trace_stop();
    trace_bytes l = chrome_of(trace, &options);
    CHECK_EQUAL(samples_of(&l, "memory", found, 2000), count);
    for (size_t i = 0; i < count; ++i) CHECK_EQUAL(found[i], wanted[i]);
    net = samples_of(&l, "memory: net \\\"quoted\\\"", found, 2000);
    CHECK_EQUAL(net, 1);
    CHECK_EQUAL(found[0], 77);
    CHECK(strstr(l.bytes, "\"args\":{\"address\":\"0x8\",\"bytes\":77}}") != NULL);
    CHECK(strstr(l.bytes, "\"args\":{\"address\":\"0x1000\"}}") != NULL);
    free(l.bytes);

    /* A part of it begins with what there was. */
    trace_list list = trace_read(trace, 0);
    size_t middle = list.count / 2, at = 0;
    options.from_ns = list.events[middle].start_ns;
    for (size_t i = 1; i < middle; ++i) /* samples before it: a realloc is two events at one time */
        at += list.events[i].start_ns < options.from_ns &&
              (i == 1 || list.events[i].start_ns != list.events[i - 1].start_ns);
    l = chrome_of(trace, &options);
    size_t rest = samples_of(&l, "memory", found, 2000);
    CHECK_EQUAL(rest, count - at + 1);
    CHECK_EQUAL(found[0], wanted[at - 1]);
    for (size_t i = 1; i < rest && at + i - 1 < count; ++i) CHECK_EQUAL(found[i], wanted[at + i - 1]);
    free(l.bytes);
    trace_free(&list);
    prof_trace_close(trace);
}

/* By default the file has no allocation by itself, and a curve that is short and has the peak and the end. */
TEST(a_curve_instead_of_each_allocation)
{
    enum { COUNT = 60000, STEPS = 5000 };
    static uint64_t found[COUNT + 10];
    prof_config config = trace_config(16u << 20);
    uint64_t most = 0;
    CHECK_EQUAL(prof_start(&config), PROF_OK);
    PROFILE_ALLOC((uintptr_t)16, 5);
    for (int i = 0; i < COUNT; ++i) {
        PROFILE_ALLOC((uintptr_t)0x1000, i == COUNT / 3 ? 1000000 : 100 + i % 7);
        if (i == COUNT / 3) trace_next_instant(); /* a clock may be slow, and an instant has one sample */
        PROFILE_FREE((uintptr_t)0x1000);
    }
    PROFILE_ALLOC((uintptr_t)32, 6);
    prof_trace *trace = trace_stop();
    CHECK_EQUAL(prof_trace_about(trace)->lost, 0);
    trace_bytes l = chrome_of(trace, NULL);
    size_t count = samples_of(&l, "memory", found, COUNT + 10);
    CHECK(strstr(l.bytes, "\"address\"") == NULL);
    CHECK(count > 4 && count <= 4 * (STEPS + 2));
    for (size_t i = 0; i < count; ++i)
        if (found[i] > most) most = found[i];
    CHECK_EQUAL(most, 1000005);
    CHECK_EQUAL(found[0], 5);
    CHECK_EQUAL(found[count - 1], 11);
    double previous = -1; /* viewers do not sort the samples of a counter */
    for (const char *at = l.bytes; (at = strstr(at, "{\"ph\":\"C\"")) != NULL; ++at) {
        double now = strtod(strstr(at, "\"ts\":") + 5, NULL);
        CHECK(now > previous);
        previous = now;
    }
    free(l.bytes);
    prof_trace_close(trace);
}

/*-- threads: blocks are freed by others than those who allocated them, and their addresses are used again at once --*/

enum { THREADS = 4, SLOTS = 64 };
static pthread_mutex_t heap_lock = PTHREAD_MUTEX_INITIALIZER;
static int heap_slots[SLOTS];
static figures heap_model[THREADS];
static uint64_t heap_size[SLOTS];
static int heap_owner[SLOTS];
static const char *const thread_scopes[THREADS] = {"t0", "t1", "t2", "t3"};

static void *allocate_and_free(void *number)
{
    int me = (int)(size_t)number;
    uint64_t state = random_state + (uint64_t)me * 77;
    PROFILE_MEMORY_SCOPE_DYNAMIC(thread_scopes[me]);
    for (int i = 0; i < 20000; ++i) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        size_t slot = (size_t)(state >> 33) % SLOTS;
        uintptr_t address = 0x5000 + slot * 32;
        uint64_t bytes = (state >> 40) % 1000;
        pthread_mutex_lock(&heap_lock);
        if (!heap_slots[slot]) {
            heap_slots[slot] = 1;
            heap_size[slot] = bytes;
            heap_owner[slot] = me;
            figures_add(&heap_model[me], bytes);
            PROFILE_ALLOC(address, bytes);
        } else {
            heap_slots[slot] = 0;
            figures_take(&heap_model[heap_owner[slot]], heap_size[slot]);
            PROFILE_FREE(address);
        }
        pthread_mutex_unlock(&heap_lock);
    }
    return NULL;
}

TEST(blocks_freed_by_other_threads)
{
    prof_config config = trace_config(32u << 20);
    pthread_t threads[THREADS];
    random_seed("blocks_freed_by_other_threads");
    memset(heap_slots, 0, sizeof heap_slots);
    memset(heap_model, 0, sizeof heap_model);
    config.clock = PROF_CLOCK_MONOTONIC; /* is read in order, which the counter is not, even if a cache line comes late */
    CHECK_EQUAL(prof_start(&config), PROF_OK);
    for (size_t i = 0; i < THREADS; ++i) CHECK(!pthread_create(&threads[i], NULL, allocate_and_free, (void *)i));
    for (size_t i = 0; i < THREADS; ++i) CHECK(!pthread_join(threads[i], NULL));
    prof_trace *trace = trace_stop();
    prof_memory_stats *stats = memory_of(trace);
    if (!stats) return;
    CHECK_EQUAL(stats->count + stats->frees, THREADS * 20000);
    CHECK_EQUAL(stats->freed_unknown, 0);
    CHECK_EQUAL(stats->freed_twice, 0);
    CHECK_EQUAL(stats->not_freed, 0);
    CHECK_EQUAL(stats->scope_count, THREADS);
    for (size_t i = 0; i < stats->scope_count; ++i) {
        const figures *f = &heap_model[number_of(stats->scopes[i].scope, thread_scopes, THREADS)];
        CHECK_EQUAL(stats->scopes[i].count, f->count);
        CHECK_EQUAL(stats->scopes[i].bytes, f->bytes);
        CHECK_EQUAL(stats->scopes[i].live_count, f->live_count);
        CHECK_EQUAL(stats->scopes[i].live_bytes, f->live_bytes);
    }
    prof_memory_free(stats);
    prof_trace_close(trace);
}

/*-- realloc: another thread may have the old address before this one says so --*/

static void *take_address(void *frees)
{
    PROFILE_ALLOC((uintptr_t)1000, 7);
    if (frees) PROFILE_FREE((uintptr_t)1000);
    return NULL;
}

TEST(realloc_whose_block_another_thread_has_already)
{
    for (int frees = 0; frees < 2; ++frees) {
        prof_config config = trace_config(1u << 20);
        pthread_t other;
        CHECK_EQUAL(prof_start(&config), PROF_OK);
        PROFILE_ALLOC((uintptr_t)1000, 100);
        CHECK(!pthread_create(&other, NULL, take_address, frees ? &other : NULL));
        CHECK(!pthread_join(other, NULL));
        PROFILE_REALLOC((uintptr_t)1000, (uintptr_t)2000, 300);
        prof_trace *trace = trace_stop();
        prof_memory_stats *stats = memory_of(trace);
        CHECK_EQUAL(stats->count, 3);
        CHECK_EQUAL(stats->frees, 1 + frees);
        CHECK_EQUAL(stats->not_freed, 0);
        CHECK_EQUAL(stats->freed_unknown, 0);
        CHECK_EQUAL(stats->freed_twice, 0);
        CHECK_EQUAL(stats->pools[0].live_count, 2 - frees);
        CHECK_EQUAL(stats->pools[0].live_bytes, frees ? 300 : 307);
        prof_memory_free(stats);
        prof_trace_close(trace);
    }
}

/* Clocks of two processors may be read in another order than what they time: within PROF__ORDER_NS a free on one track
   and the allocation on another belong together either way round. Which of both there was, here their times tell. */
static void cross(int live_before)
{
    prof_config config = trace_config(1u << 20);
    prof_fiber *a = prof_fiber_create("a"), *b = prof_fiber_create("b");
    CHECK_EQUAL(prof_start(&config), PROF_OK);
    prof_fiber_switch(b);
    if (live_before) PROFILE_ALLOC((uintptr_t)16, 1);
    prof_fiber_switch(a);
    PROFILE_MARK("known");
    if (live_before) PROFILE_ALLOC((uintptr_t)16, 2);
    prof_fiber_switch(b);
    PROFILE_FREE((uintptr_t)16);
    prof_fiber_switch(a);
    if (!live_before) PROFILE_ALLOC((uintptr_t)16, 2);
    prof_fiber_switch(NULL);
    prof_trace *trace = trace_stop();
    trace_list first = trace_read(trace, trace_track_named(trace, "a")), second = trace_read(trace, trace_track_named(trace, "b"));
    const prof_event *alloc = trace_find(&first, "alloc"), *freed = trace_find(&second, "free");
    int64_t apart = live_before ? freed->start_ns - alloc->start_ns : alloc->start_ns - freed->start_ns;
    int crossed = apart <= PROF__ORDER_NS;
    prof_memory_stats *stats = memory_of(trace);
    CHECK_EQUAL(stats->freed_unknown, !live_before && !crossed);
    CHECK_EQUAL(stats->not_freed, live_before && !crossed);
    CHECK_EQUAL(stats->pools[0].live_count, live_before ? crossed : !crossed);
    CHECK_EQUAL(stats->pools[0].live_bytes, 2 * stats->pools[0].live_count);
    prof_memory_free(stats);
    trace_free(&first);
    trace_free(&second);
    prof_trace_close(trace);
    prof_fiber_destroy(a);
    prof_fiber_destroy(b);
}

TEST(order_of_clocks)
{
    for (int i = 0; i < 20; ++i) cross(i % 2);
}

TEST(null_pointers_and_failures)
{
    prof_config config = trace_config(1u << 20);
    CHECK_EQUAL(prof_start(&config), PROF_OK);
    PROFILE_ALLOC(NULL, 100);
    PROFILE_FREE(NULL);
    PROFILE_ALLOC((uintptr_t)16, 0);
    PROFILE_REALLOC((uintptr_t)16, NULL, 50);         /* failed: the block is as it was */
    PROFILE_REALLOC(NULL, (uintptr_t)32, 20);         /* as malloc */
    PROFILE_REALLOC((uintptr_t)32, NULL, 0);          /* as free */
    PROFILE_ALLOC((uintptr_t)48, UINT64_MAX);         /* more than there is */
    PROFILE_REALLOC_POOL((uintptr_t)48, (uintptr_t)64, 5, "other"); /* that pool has no such block */
    prof_trace *trace = trace_stop();
    CHECK_EQUAL(prof_trace_about(trace)->event_count, 6);
    prof_memory_stats *stats = memory_of(trace);
    CHECK_EQUAL(stats->count, 4);
    CHECK_EQUAL(stats->frees, 2);
    CHECK_EQUAL(stats->freed_unknown, 1);
    CHECK_EQUAL(stats->pool_count, 2);
    CHECK_TEXT(stats->pools[0].pool, "");
    CHECK(stats->pools[0].live_bytes == PROF__EVENT_DETAIL_MAX);
    CHECK_EQUAL(stats->pools[0].live_count, 2);
    CHECK_EQUAL(stats->pools[1].live_bytes, 5);
    prof_memory_free(stats);
    prof_trace_close(trace);
    CHECK_EQUAL(prof_memory(NULL, &stats), PROF_INVALID_ARGUMENT);
    prof_memory_free(NULL);
}

/* A plain PROFILE_FREE finds its block in whatever pool; one with a pool only there. */
#undef PROF_CATEGORY
#define PROF_CATEGORY "here"
TEST(pools_with_the_same_addresses)
{
    prof_config config = trace_config(1u << 20);
    CHECK_EQUAL(prof_start(&config), PROF_OK);
    PROFILE_ALLOC_POOL((uintptr_t)16, 1, "arena");
    PROFILE_FREE((uintptr_t)16);
    PROFILE_ALLOC_POOL((uintptr_t)16, 2, "arena");
    PROFILE_ALLOC((uintptr_t)16, 4);
    PROFILE_FREE((uintptr_t)16); /* its own */
    PROFILE_FREE_POOL((uintptr_t)16, "here"); /* twice */
    PROFILE_ALLOC_POOL((uintptr_t)16, 8, "heap");
    PROFILE_FREE((uintptr_t)16); /* the newest */
    PROFILE_FREE_POOL((uintptr_t)16, "nowhere");
    prof_trace *trace = trace_stop();
    prof_memory_stats *stats = memory_of(trace);
    CHECK_EQUAL(stats->freed_twice, 1);
    CHECK_EQUAL(stats->freed_unknown, 1);
    CHECK_EQUAL(stats->pool_count, 3);
    for (size_t i = 0; i < stats->pool_count; ++i)
        CHECK_EQUAL(stats->pools[i].live_bytes, strcmp(stats->pools[i].pool, "arena") ? 0 : 2);
    prof_memory_free(stats);
    prof_trace_close(trace);
}
#undef PROF_CATEGORY
#define PROF_CATEGORY ""

/*-- what the trace does not have --*/

TEST(ring_that_lost_the_allocations)
{
    prof_config config = trace_config(128u << 10);
    uint64_t before = 20000, after = 100;
    CHECK_EQUAL(prof_start(&config), PROF_OK);
    for (uint64_t i = 1; i <= before; ++i) PROFILE_ALLOC((uintptr_t)(i * 16), 10);
    for (uint64_t i = 1; i <= 1000; ++i) PROFILE_FREE((uintptr_t)(i * 16));
    for (uint64_t i = 1; i <= after; ++i) PROFILE_ALLOC((uintptr_t)(i * 16), 3);
    prof_trace *trace = trace_stop();
    prof_memory_stats *stats = memory_of(trace);
    uint64_t kept = stats->count - after; /* of the first */
    CHECK(prof_trace_about(trace)->overwritten_chunks > 0);
    CHECK(kept > 0 && kept < before - 1000);
    CHECK_EQUAL(stats->frees, 1000);
    CHECK_EQUAL(stats->freed_unknown, 1000);
    CHECK_EQUAL(stats->freed_twice, 0);
    CHECK_EQUAL(stats->not_freed, 0);
    CHECK_EQUAL(stats->pools[0].live_bytes, kept * 10 + after * 3);
    prof_memory_free(stats);
    trace_bytes l = {NULL, 0, 0, 0};
    CHECK_EQUAL(prof_summary_stream(trace, trace_sink(&l), NULL), PROF_OK);
    CHECK(strstr(l.bytes, "1,000 blocks freed that had been allocated before the trace") != NULL);
    free(l.bytes);
    prof_trace_close(trace);
}

TEST(window)
{
    prof_config config = trace_config(1u << 20);
    CHECK_EQUAL(prof_start(&config), PROF_OK);
    {
        PROFILE_MEMORY_SCOPE("all");
        PROFILE_ALLOC((uintptr_t)16, 100);
        trace_next_instant(); /* what is at the beginning of the window is in it, and what is at its end is not */
        PROFILE_MARK("from");
        PROFILE_ALLOC((uintptr_t)32, 10);
        PROFILE_FREE((uintptr_t)16);
        PROFILE_ALLOC((uintptr_t)48, 1);
        trace_next_instant();
        PROFILE_MARK("to");
        PROFILE_FREE((uintptr_t)32);
    }
    prof_trace *trace = trace_stop();
    trace_list list = trace_read(trace, 0);
    CHECK_EQUAL(prof_trace_set_window(trace, trace_find(&list, "from")->start_ns, trace_find(&list, "to")->start_ns),
                PROF_OK);
    prof_memory_stats *stats = memory_of(trace);
    CHECK_EQUAL(stats->count, 2);
    CHECK_EQUAL(stats->freed_unknown, 1);
    CHECK_EQUAL(stats->pools[0].live_bytes, 11);
    CHECK_EQUAL(stats->scope_count, 1);
    CHECK_TEXT(stats->scopes[0].scope, "all");
    prof_memory_free(stats);
    trace_free(&list);
    prof_trace_close(trace);
}

/* A scope inside itself, deeper than any program means it. */
static void nest(int deep)
{
    PROFILE_MEMORY_SCOPE("n");
    PROFILE_ALLOC((uintptr_t)16 * (uintptr_t)(deep + 1), 1);
    if (deep) nest(deep - 1);
}

TEST(memory_scopes_are_timed_as_scopes)
{
    prof_config config = trace_config(1 << 20);
    trace_start(&config);
    for (int i = 0; i < 3; ++i) {
        PROFILE_MEMORY_SCOPE("timed memory");
        PROFILE_SCOPE("inside");
    }
    prof_trace *trace = trace_stop();
    trace_list list = trace_read(trace, 0);
    CHECK_EQUAL(trace_count(&list, "timed memory"), 3);
    for (size_t i = 0; i < 3; ++i) {
        const prof_event *around = trace_nth(&list, "timed memory", i), *inside = trace_nth(&list, "inside", i);
        CHECK_EQUAL(around->type, PROF_EVENT_SCOPE);
        CHECK_EQUAL(around->flags, 0);
        CHECK(around->duration_ns >= inside->duration_ns);
        CHECK_EQUAL(inside->depth, 1);
    }
    trace_free(&list);
    prof_trace_close(trace);
}

TEST(deep_memory_scopes)
{
    prof_config config = trace_config(1u << 20);
    uint64_t count = 0;
    CHECK_EQUAL(prof_start(&config), PROF_OK);
    nest(299);
    prof_trace *trace = trace_stop();
    prof_memory_stats *stats = memory_of(trace);
    CHECK_EQUAL(stats->scope_count, PROF__HEAP_DEEP);
    for (size_t i = 0; i < stats->scope_count; ++i) {
        CHECK(strlen(stats->scopes[i].scope) < 2 * PROF__HEAP_DEEP);
        count += stats->scopes[i].count;
    }
    CHECK_EQUAL(count, 300);
    prof_memory_free(stats);
    prof_trace_close(trace);
}

/* More blocks than the table keeps, most of them freed: it does not grow with what was allocated in the whole. */
TEST(many_blocks)
{
    prof_config config = trace_config(128u << 20);
    uint64_t rounds = (uint64_t)trace_times(20000, 200000, 2000000);
    CHECK_EQUAL(prof_start(&config), PROF_OK);
    for (uint64_t i = 1; i <= rounds; ++i) {
        PROFILE_ALLOC((uintptr_t)(i * 16), 5);
        if (i % 100) PROFILE_FREE((uintptr_t)(i * 16));
    }
    CHECK_EQUAL(prof_stop(), PROF_OK);
    prof_trace *trace = NULL;
    CHECK_EQUAL(prof_trace_open_live(&trace), PROF_OK);
    prof__heap heap;
    prof_event event;
    size_t track;
    prof__heap_open(&heap, trace, NULL, NULL);
    while (prof__heap_next(&heap, &event, &track) && prof__heap_step(&heap, &event, track)) continue;
    CHECK_EQUAL(heap.stats.count, rounds);
    CHECK_EQUAL(heap.live, rounds / 100);
    CHECK_EQUAL(heap.stats.freed_unknown + heap.stats.freed_twice + heap.stats.not_freed, 0);
    CHECK(heap.capacity <= PROF__HEAP_KEEP);
    CHECK_EQUAL(prof__heap_close(&heap), PROF_OK);
    prof_trace_close(trace);
}

/* One address in more pools than are distinguished: a block takes as long to find as its address has others. */
TEST(pools_of_one_address)
{
    enum { POOLS_MADE = PROF__HEAP_POOLS + 44 };
    static prof_callsite sites[POOLS_MADE];
    static char names[POOLS_MADE][16];
    prof_config config = trace_config(1u << 20);
    prof_event event;
    prof__heap heap;
    CHECK_EQUAL(prof_start(&config), PROF_OK);
    prof_trace *trace = trace_stop();
    prof__heap_open(&heap, trace, NULL, NULL);
    memset(&event, 0, sizeof event);
    event.object = 16;
    for (int i = 0; i < 2 * POOLS_MADE; ++i) {
        int pool = i < POOLS_MADE ? i : 2 * POOLS_MADE - 1 - i; /* the newest is freed first */
        prof_callsite *site = &sites[pool];
        snprintf(names[pool], sizeof names[pool], "pool %d", pool);
        site->name = site->file = site->function = "";
        site->category = names[pool];
        event.type = i < POOLS_MADE ? PROF_EVENT_ALLOC : PROF_EVENT_FREE;
        event.detail = 1; /* a byte, or PROF__FREE_IN_POOL */
        event.site = site;
        event.start_ns = i;
        CHECK(prof__heap_step(&heap, &event, 0));
        if (i == POOLS_MADE - 1) CHECK_EQUAL(heap.live, PROF__HEAP_POOLS);
    }
    CHECK_EQUAL(heap.stats.count, POOLS_MADE);
    CHECK_EQUAL(heap.stats.not_freed, POOLS_MADE - PROF__HEAP_POOLS);
    CHECK_EQUAL(heap.stats.freed_unknown, POOLS_MADE - PROF__HEAP_POOLS);
    CHECK_EQUAL(heap.live, 0);
    CHECK_EQUAL(heap.used, PROF__HEAP_POOLS);
    CHECK_EQUAL(prof__heap_close(&heap), PROF_OK);
    prof_trace_close(trace);
}

/* A scope whose name is made at run time is a row for each name; one whose name has a format is one row. */
TEST(names_of_run_time)
{
    static const char *const wanted[] = {"layer.0", "layer.1", "block %d", "plain"};
    prof_trace *trace;
    prof_memory_stats *all = NULL;
    prof_config config = trace_config(1u << 20);
    trace_start(&config);
    for (int i = 0; i < 6; ++i) {
        char name[16];
        snprintf(name, sizeof name, "layer.%d", i % 2);
        { PROFILE_SCOPE_DYNAMIC(name); memset(name, 'x', sizeof name - 1); do_alloc(0, i, 100); }
        { PROFILE_SCOPE_F("block %d", i); do_alloc(0, 100 + i, 10); }
        { PROFILE_SCOPE("plain"); { PROFILE_MEMORY_SCOPE("inner"); do_alloc(0, 200 + i, 1); } }
    }
    trace = trace_stop();
    CHECK_EQUAL(prof_memory(trace, &all), PROF_OK);
    CHECK_EQUAL(all->site_count, 4);
    for (size_t i = 0; i < all->site_count && i < 4; ++i) {
        CHECK_TEXT(all->sites[i].around_name, wanted[i]);
        CHECK_EQUAL(all->sites[i].count, i < 2 ? 3 : 6);
        CHECK_EQUAL(all->sites[i].bytes, i < 2 ? 300 : i == 2 ? 60 : 6);
    }
    prof_memory_free(all);
    prof_trace_close(trace);
}

TEST(summary)
{
    prof_config config = trace_config(4u << 20);
    trace_bytes l = {NULL, 0, 0, 0};
    CHECK_EQUAL(prof_start(&config), PROF_OK);
    {
        PROFILE_SCOPE("decode");
        PROFILE_MEMORY_SCOPE("images");
        PROFILE_ALLOC_POOL((uintptr_t)16, 4096, "pixels");
        PROFILE_FREE_POOL((uintptr_t)16, "pixels");
        PROFILE_FREE_POOL((uintptr_t)16, "pixels");
        PROFILE_ALLOC_POOL((uintptr_t)32, 1024, "pixels");
    }
    prof_trace *trace = trace_stop();
    CHECK_EQUAL(prof_summary_stream(trace, trace_sink(&l), NULL), PROF_OK);
    CHECK(strstr(l.bytes, "\nmemory ") && strstr(l.bytes, "\npixels ") && strstr(l.bytes, "\nimages "));
    CHECK(strstr(l.bytes, "1 block freed twice\n") != NULL);
    CHECK(strstr(l.bytes, "  in pixels  for images\n") != NULL);
    CHECK(strstr(l.bytes, "5.120 kB") && strstr(l.bytes, "4.096 kB") && strstr(l.bytes, "1.024 kB"));
    if (test_failures) printf("%s", l.bytes);
    free(l.bytes);
    prof_trace_close(trace);
}

TEST_MAIN
