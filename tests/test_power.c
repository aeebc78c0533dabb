/* test_power.c - what a power loss leaves of a recording: a file of which pages are empty, or as they were earlier.
   What is read of that must have been recorded, and what is missing is counted. */
/* run: traces memory */
#include "private.h"
#include "test.h"
#include "trace.h"
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

enum { PAGE = 4096, SIZE = 256 << 10, MOMENTS = 12, MOST_THREADS = 6 };

static int threads; /* 2: chunks of four pages; 3: of two; 6: of one */

typedef struct pages {
    size_t size;
    unsigned char *bytes;
} pages;

static uint64_t random_state;
static uint64_t random_number(void)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return random_state >> 33;
}

/*-- what is recorded: scope n has the argument n, the counter n, and now and then a text and a scope around it --*/

static int turn; /* whose: threads write one after the other */
static int moment;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t change = PTHREAD_COND_INITIALIZER;

static void one(int64_t n)
{
    PROFILE_SCOPE("step");
    PROFILE_ARG_I("n", n);
    PROFILE_COUNTER("count", n);
    if (n % 5 == 0) PROFILE_ARG_S("text", "a text that is longer than a few words, so that it lies across borders");
}

static int count_of(int me, int now) { return 300 + 211 * me + 97 * now; }

static void many(int64_t *n, int count)
{
    PROFILE_SCOPE("outer");
    while (count--) one((*n)++);
}

static void *writer(void *number)
{
    int me = (int)(intptr_t)number;
    int64_t n = (int64_t)me * 10000000 + 1;
    for (int now = 0; now < MOMENTS; ++now) {
        pthread_mutex_lock(&lock);
        while (turn != me || moment != now) pthread_cond_wait(&change, &lock);
        many(&n, count_of(me, now));
        turn = me + 1;
        pthread_cond_broadcast(&change);
        pthread_mutex_unlock(&lock);
    }
    pthread_mutex_lock(&lock); /* stays with its chunk until all is over */
    while (moment <= MOMENTS) pthread_cond_wait(&change, &lock);
    pthread_mutex_unlock(&lock);
    return NULL;
}

static pages file_now(const char *path)
{
    pages p;
    p.bytes = (unsigned char *)trace_file_text(path, &p.size);
    CHECK(p.bytes != NULL);
    ((prof__header *)(void *)p.bytes)->boot_id[0] ^= 1; /* it is read after the machine's next start */
    return p;
}

/* Records, and takes the file's bytes at each moment, and after the end. */
static void record(pages moments[MOMENTS + 1])
{
    pthread_t writers[MOST_THREADS];
    char path[300];
    prof_config config;
    memset(&config, 0, sizeof config);
    snprintf(path, sizeof path, "%s-%d.prof", trace_path("power"), threads);
    config.buffer_size = SIZE;
    config.output = path;
    CHECK_EQUAL(prof_start(&config), PROF_OK);
    turn = threads;
    moment = -1;
    for (int i = 0; i < threads; ++i) pthread_create(&writers[i], NULL, writer, (void *)(intptr_t)i);
    pthread_mutex_lock(&lock);
    for (int now = 0; now < MOMENTS; ++now) {
        moment = now;
        turn = 0;
        pthread_cond_broadcast(&change);
        while (turn != threads) pthread_cond_wait(&change, &lock);
        moments[now] = file_now(path);
    }
    pthread_mutex_unlock(&lock);
    CHECK_EQUAL(prof_stop(), PROF_OK);
    moments[MOMENTS] = file_now(path);
    pthread_mutex_lock(&lock);
    moment = MOMENTS + 1;
    pthread_cond_broadcast(&change);
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < threads; ++i) pthread_join(writers[i], NULL);
}

/*-- what is read --*/

typedef struct finding {
    size_t scopes;      /* that are whole */
    size_t wrong;       /* values that nobody recorded, ends of other scopes */
    uint64_t said;      /* losses */
    int refused;
} finding;

static int64_t number_of(const prof_event *e)
{
    for (uint32_t i = 0; i < e->arg_count; ++i)
        if (!strcmp(e->args[i].key, "n")) return e->args[i].value.as.i;
    return -1;
}

/* An outer scope that is whole has all steps of one moment, none of another. */
static size_t outer_wrong(const trace_list *list, size_t at)
{
    const prof_event *outer = &list->events[at];
    int64_t first = 0, last = 0;
    int steps = 0, now;
    for (size_t i = at + 1; i < list->count && list->events[i].depth > outer->depth; ++i) {
        if (strcmp(list->events[i].name, "step")) continue;
        last = number_of(&list->events[i]);
        if (!steps++) first = last;
    }
    for (now = 0; now < MOMENTS && steps != count_of((int)(first / 10000000), now);) ++now;
    return now == MOMENTS || last - first != steps - 1;
}

/* A scope that is whole has its number, and its counter in it, with the same value. */
static void look(const prof_trace *trace, size_t track, finding *f)
{
    trace_list list = trace_read(trace, track);
    int64_t before = 0;
    for (size_t i = 0; i < list.count; ++i) {
        const prof_event *e = &list.events[i];
        if (*e->name == '?') continue; /* its call site is lost */
        if (e->type == PROF_EVENT_COUNTER) {
            int64_t value = e->value.as.i;
            f->wrong += value <= before || value / 10000000 >= threads; /* they only grow */
            if (before && value / 10000000 != before / 10000000) f->wrong++;
            before = value;
        }
        if (e->type == PROF_EVENT_SCOPE && !strcmp(e->name, "outer") && !e->flags) f->wrong += outer_wrong(&list, i);
        if (e->type != PROF_EVENT_SCOPE || strcmp(e->name, "step") || e->flags) continue;
        f->scopes++;
        int64_t n = number_of(e);
        const prof_event *counter = i + 1 < list.count ? &list.events[i + 1] : NULL;
        if (counter && *counter->name == '?') continue;
        if (!counter || counter->type != PROF_EVENT_COUNTER || counter->value.as.i != n) f->wrong++;
        if (i + 2 < list.count && list.events[i + 2].depth > e->depth) f->wrong++; /* more than its own is in it */
        if (n % 5 == 0 && e->arg_count != 2) f->wrong++;
    }
    trace_free(&list);
}

static finding read_trace(prof_trace *trace, prof_status status)
{
    finding f;
    memset(&f, 0, sizeof f);
    f.refused = status != PROF_OK;
    if (f.refused) return f;
    const prof_trace_info *info = prof_trace_about(trace);
    f.said = info->lost_blocks + info->sites_lost;
    for (size_t i = 0; i < prof_trace_track_count(trace); ++i) look(trace, i, &f);
    prof_trace_close(trace);
    return f;
}

static finding read_pages(const pages *p)
{
    prof_trace *trace = NULL;
    prof_status status = prof_trace_open_memory(p->bytes, p->size, &trace);
    return read_trace(trace, status);
}

/* Reads the bytes from memory, and from a file. */
static finding read_twice(const pages *p)
{
    prof_trace *trace = NULL;
    const char *path = trace_path("pages.prof");
    finding f = read_pages(p), g;
    prof_status status;
    FILE *file = fopen(path, "wb");
    CHECK(file && fwrite(p->bytes, 1, p->size, file) == p->size && !fclose(file));
    status = prof_trace_open(path, &trace);
    g = read_trace(trace, status);
    f.wrong += g.wrong;
    return f;
}

static pages copy_of(const pages *p)
{
    pages copy = *p;
    copy.bytes = (unsigned char *)malloc(p->size);
    memcpy(copy.bytes, p->bytes, p->size);
    return copy;
}

static pages *recorded(int count)
{
    static pages moments[MOST_THREADS + 1][MOMENTS + 1];
    threads = count;
    if (!moments[count][0].bytes) record(moments[count]);
    return moments[count];
}

/* Reads a file in which one page is another one. Returns 1 if that went wrong without a word. */
static int page_goes_wrong(const pages *whole, const finding *before, size_t page, const unsigned char *other,
                           const char *what)
{
    pages p = copy_of(whole);
    size_t at = page * PAGE, part = p.size - at < PAGE ? p.size - at : PAGE;
    memcpy(p.bytes + at, other, part);
    int same = !memcmp(p.bytes + at, whole->bytes + at, part);
    finding f = read_pages(&p);
    CHECK(!f.refused);
    CHECK(f.scopes + 2500 > before->scopes); /* the others are there */
    if (same) CHECK_EQUAL(f.scopes, before->scopes);
    /* a chunk of one page that is as it was earlier looks as if the ring had overwritten it */
    int wrong = f.wrong || (f.scopes < before->scopes && !f.said && threads < 6);
    if (wrong) printf("%d threads, page %zu %s: %zu wrong, %zu of %zu scopes\n", threads, page, what, f.wrong, f.scopes,
                      before->scopes);
    free(p.bytes);
    return wrong;
}

static void an_empty_page(int count)
{
    static const unsigned char zeros[PAGE];
    pages *moments = recorded(count);
    size_t wrong = 0;
    for (int now = count == 2 ? 6 : MOMENTS; now <= MOMENTS; now += 6) {
        finding whole = read_pages(&moments[now]);
        CHECK(whole.scopes > 1000 && !whole.wrong && !whole.said && !whole.refused);
        for (size_t page = 1; page * PAGE < moments[now].size; ++page)
            wrong += (size_t)page_goes_wrong(&moments[now], &whole, page, zeros, "is empty");
    }
    CHECK_EQUAL(wrong, 0);
}

/* Every page of the file is empty, once. */
TEST(an_empty_page_is_noticed) { an_empty_page(2); }
TEST(an_empty_page_of_smaller_chunks_is_noticed)
{
    an_empty_page(3);
    an_empty_page(6);
}

static void a_page_from_elsewhere(int count)
{
    pages *moments = recorded(count);
    size_t wrong = 0;
    for (int now = count == 2 ? 6 : MOMENTS; now <= MOMENTS; now += 6) {
        const prof__header *h = (const prof__header *)(const void *)moments[now].bytes;
        size_t first = (size_t)h->chunk_offset / PAGE, pages_of = h->chunk_size / PAGE;
        size_t end = moments[now].size / PAGE;
        finding whole = read_pages(&moments[now]);
        CHECK_EQUAL(h->chunk_offset % PAGE, 0);
        for (size_t i = first; i + pages_of < end; ++i) {
            const unsigned char *next = moments[now].bytes + (i + pages_of) * PAGE;
            wrong += (size_t)page_goes_wrong(&moments[now], &whole, i, next, "is the next chunk's");
            for (int then = now - 4; then < now; then += 2) {
                const unsigned char *before = moments[then].bytes + i * PAGE;
                wrong += (size_t)page_goes_wrong(&moments[now], &whole, i, before, "is an earlier one");
            }
        }
    }
    CHECK_EQUAL(wrong, 0);
}

/* A page is that of another chunk, or of the same place earlier. */
TEST(a_page_from_elsewhere_is_noticed) { a_page_from_elsewhere(2); }
TEST(a_page_from_elsewhere_in_smaller_chunks_is_noticed)
{
    a_page_from_elsewhere(3);
    a_page_from_elsewhere(6);
}

/* Each page is as it was at one of two moments, in any mixture. */
TEST(what_a_power_loss_leaves_was_recorded)
{
    const char *seed = getenv("PROF_TEST_SEED");
    random_state = seed ? strtoull(seed, NULL, 0) : 1;
    size_t wrong = 0, times = (size_t)trace_times(60, 300, 20000), scopes = 0;
    for (size_t i = 0; i < times; ++i) {
        pages *moments = recorded(i % 3 ? (int)(i % 3) + 1 : 6);
        size_t a = random_number() % MOMENTS, b = 1 + random_number() % MOMENTS;
        pages p = copy_of(&moments[b]);
        for (size_t at = 0; at < p.size; at += PAGE)
            if (random_number() % 8 == 0 && a < b)
                memcpy(p.bytes + at, moments[a].bytes + at, p.size - at < PAGE ? p.size - at : PAGE);
        finding f = read_twice(&p);
        if (f.wrong) printf("%d threads, moments %zu and %zu: %zu wrong\n", threads, a, b, f.wrong);
        wrong += f.wrong;
        scopes += f.scopes;
        free(p.bytes);
    }
    CHECK_EQUAL(wrong, 0);
    CHECK(scopes / times > 300);
}

/* The end of the header is damaged: the archive's place, and what came in later versions. */
TEST(a_damaged_end_of_the_header_costs_no_scope)
{
    pages *moments = recorded(2);
    for (int now = 6; now <= MOMENTS; now += 6) {
        finding whole = read_pages(&moments[now]), f;
        pages p = copy_of(&moments[now]);
        size_t end = offsetof(prof__header, archive_offset);
        memset(p.bytes + end, 0xA5, sizeof(prof__header) - end);
        f = read_twice(&p);
        CHECK(!f.refused && !f.wrong && f.said > 0);
        CHECK_EQUAL(f.scopes, whole.scopes);
        free(p.bytes);
    }
}

/* Two chunks say that they are the same one. */
TEST(a_chunk_that_is_there_twice_is_counted)
{
    pages *moments = recorded(2), p = copy_of(&moments[MOMENTS]);
    const prof__header *h = (const prof__header *)(const void *)p.bytes;
    memcpy(p.bytes + h->chunk_offset, p.bytes + h->chunk_offset + h->chunk_size, PAGE);
    finding f = read_pages(&p);
    CHECK(!f.refused && f.said > 0);
    free(p.bytes);
}

TEST_MAIN
