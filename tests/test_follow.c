/* test_follow.c - time windows, saves of the last seconds, what triggers saves, and statistics without events. */
/* run: long */
#include "private.h"
#include "test.h"
#include "trace.h"
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <unistd.h>

static __thread uint64_t random_state = 88172645463325252u;
static uint64_t random_number(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    return random_state ^= random_state << 17;
}

/*-- windows ---------------------------------------------------------------------------------------------------------*/

static void some_work(int depth)
{
    PROFILE_SCOPE_F("depth %d", depth);
    PROFILE_ARG_I("depth", depth);
    if (random_number() % 4 == 0) PROFILE_MARK("mark");
    if (random_number() % 4 == 0) PROFILE_COUNTER("counter", depth);
    if (random_number() % 8 == 0) PROFILE_FRAME("frame");
    for (uint64_t calls = random_number() % 3; depth && calls; calls--) some_work(depth - 1);
    if (random_number() % 2) prof__counter();
}

/* What a window must leave of an event: 0 nothing. Frames last from the boundary before. */
static int cut(prof_event *event, int64_t from, int64_t to)
{
    int64_t start = event->start_ns, end = start;
    if (event->type == PROF_EVENT_SCOPE) end += event->duration_ns;
    if (to && start >= to) return 0;
    if (end < from) return 0;
    if (event->type == PROF_EVENT_FRAME) start = start - event->duration_ns;
    if (start < from) event->flags |= PROF_TRUNCATED_BEGIN;
    if (to && end > to) event->flags |= PROF_TRUNCATED_END;
    if (start < from) start = from;
    if (to && end > to) end = to;
    event->duration_ns = end - start;
    if (event->type == PROF_EVENT_SCOPE) event->start_ns = start;
    return 1;
}

static void check_window(prof_trace *trace, const trace_list *whole, int64_t from, int64_t to)
{
    CHECK_EQUAL(prof_trace_set_window(trace, from, to), PROF_OK);
    CHECK_EQUAL(prof_trace_about(trace)->from_ns, from);
    CHECK_EQUAL(prof_trace_about(trace)->to_ns, to);
    trace_list part = trace_read(trace, 0);
    size_t at = 0;
    for (size_t i = 0; i < whole->count; ++i) {
        prof_event wanted = whole->events[i];
        if (!cut(&wanted, from, to)) continue;
        if (at == part.count) break;
        const prof_event *event = &part.events[at++];
        CHECK(event->id == wanted.id && event->type == wanted.type);
        CHECK_EQUAL(event->start_ns, wanted.start_ns);
        CHECK_EQUAL(event->duration_ns, wanted.duration_ns);
        CHECK_EQUAL(event->flags, wanted.flags);
        CHECK_EQUAL(event->depth, wanted.depth);
        CHECK_EQUAL(event->arg_count, wanted.arg_count);
        CHECK_TEXT(event->name, wanted.name);
        if (test_failures > 20) break;
    }
    CHECK_EQUAL(at, part.count);
    trace_free(&part);
}

TEST(windows_cut)
{
    prof_config config = trace_config(4 << 20);
    random_state = (uint64_t)time(NULL) * 2654435761u + 1;
    printf("     seed %llu\n", (unsigned long long)random_state);
    trace_start(&config);
    PROFILE_BEGIN("outermost");
    PROFILE_ARG_S("key", "value");
    for (int i = 0; i < 200; ++i) some_work(6);
    PROFILE_END("outermost");
    prof_trace *trace = trace_stop();
    trace_list whole = trace_read(trace, 0);
    int64_t duration = prof_trace_about(trace)->duration_ns;
    CHECK(whole.count > 1000);
    for (int i = 0; i < trace_times(40, 100, 100); ++i) {
        int64_t a, b;
        if (i % 2) { /* where something happens, or anywhere */
            a = whole.events[random_number() % whole.count].start_ns;
            b = trace_end(&whole.events[random_number() % whole.count]);
        } else {
            a = (int64_t)(random_number() % (uint64_t)duration);
            b = (int64_t)(random_number() % (uint64_t)duration);
        }
        if (a > b) check_window(trace, &whole, b, a);
        if (a < b) check_window(trace, &whole, a, b);
        check_window(trace, &whole, a, 0);
        if (a == b) check_window(trace, &whole, a, a + 1);
    }
    check_window(trace, &whole, 0, duration / 2);
    check_window(trace, &whole, duration + 1000, 0);
    check_window(trace, &whole, 0, 0);
    trace_check(trace);
    trace_free(&whole);
    prof_trace_close(trace);
}

TEST(windows_reach_reports)
{
    prof_config config = trace_config(1 << 20);
    trace_start(&config);
    for (int i = 0; i < 10; ++i) PROFILE_BLOCK("each") pause_ms(1);
    prof_trace *trace = trace_stop();
    trace_list whole = trace_read(trace, 0);
    const prof_event *fourth = trace_nth(&whole, "each", 3), *seventh = trace_nth(&whole, "each", 6);
    prof_stat *stats = NULL;
    size_t count = 0;
    CHECK(fourth && seventh);
    CHECK_EQUAL(prof_trace_set_window(trace, fourth->start_ns + 1, seventh->start_ns), PROF_OK);
    CHECK_EQUAL(prof_stats(trace, PROF_SORT_TOTAL, 0, &stats, &count), PROF_OK);
    CHECK_EQUAL(count, 1);
    if (count) {
        CHECK_EQUAL(stats[0].count, 3); /* the fourth was cut, and the fifth and sixth are whole */
        CHECK_EQUAL(stats[0].truncated, 1);
    }
    prof_stats_free(stats);
    const char *path = trace_path("window.csv");
    CHECK_EQUAL(prof_csv_write(trace, path), PROF_OK);
    char *text = trace_file_text(path, NULL);
    int lines = 0;
    for (const char *c = text; c && *c; ++c) lines += *c == '\n';
    CHECK_EQUAL(lines, 1 + 3);
    free(text);
    path = trace_path("window.txt");
    CHECK_EQUAL(prof_summary_write(trace, path, NULL), PROF_OK);
    text = trace_file_text(path, NULL);
    CHECK(text && strstr(text, "window    from "));
    free(text);
    CHECK_EQUAL(prof_trace_set_window(trace, 5, 5), PROF_INVALID_ARGUMENT);
    CHECK_EQUAL(prof_trace_set_window(trace, -1, 5), PROF_INVALID_ARGUMENT);
    CHECK_EQUAL(prof_trace_set_window(trace, 1, -5), PROF_INVALID_ARGUMENT);
    CHECK_EQUAL(prof_trace_set_window(NULL, 0, 0), PROF_INVALID_ARGUMENT);
    CHECK_EQUAL(prof_trace_about(trace)->from_ns, fourth->start_ns + 1);
    trace_free(&whole);
    prof_trace_close(trace);
}

/*-- the last seconds ------------------------------------------------------------------------------------------------*/

static sem_t sleeper_is_in, sleeper_may_go;

static void *sleeper(void *unused)
{
    (void)unused;
    PROFILE_THREAD("sleeper");
    PROFILE_SCOPE("sleeps");
    PROFILE_ARG_I("bed", 7);
    PROFILE_SCOPE_DYNAMIC("and dreams");
    sem_post(&sleeper_is_in);
    sem_wait(&sleeper_may_go);
    return NULL;
}

static void *short_thread(void *name)
{
    PROFILE_THREAD((const char *)name);
    PROFILE_SCOPE("short");
    return NULL;
}

static void join(pthread_t thread) { pthread_join(thread, NULL); }

static pthread_t started(void *(*run)(void *), void *argument)
{
    pthread_t thread;
    CHECK_EQUAL(pthread_create(&thread, NULL, run, argument), 0);
    return thread;
}

/* Compares what two traces yield; ticks become nanoseconds by other pairs in them, so times may differ a little. */
static void check_same(const prof_trace *a, const prof_trace *b)
{
    size_t i, j = 0;
    for (i = 0; i < prof_trace_track_count(a); ++i) {
        trace_list x = trace_read(a, i);
        while (j < prof_trace_track_count(b) && prof_trace_track(b, j)->id < prof_trace_track(a, i)->id) ++j;
        int there = j < prof_trace_track_count(b) && prof_trace_track(b, j)->id == prof_trace_track(a, i)->id;
        trace_list y = {NULL, 0, NULL, 0};
        if (there) y = trace_read(b, j);
        CHECK_EQUAL(x.count, y.count);
        for (size_t k = 0; k < x.count && k < y.count && test_failures < 20; ++k) {
            const prof_event *e = &x.events[k], *f = &y.events[k];
            CHECK_TEXT(e->name, f->name);
            CHECK_EQUAL(e->type, f->type);
            CHECK_EQUAL(e->depth, f->depth);
            CHECK_EQUAL(e->flags, f->flags);
            CHECK_EQUAL(e->arg_count, f->arg_count);
            CHECK(e->start_ns - f->start_ns < 20000 && f->start_ns - e->start_ns < 20000);
            CHECK(e->duration_ns - f->duration_ns < 20000 && f->duration_ns - e->duration_ns < 20000);
        }
        trace_free(&x);
        trace_free(&y);
    }
}

/* Long ago, then nothing, then the last seconds; open over both: scopes of main, and a thread that sleeps. */
static void record_two_parts(long scopes)
{
    sem_init(&sleeper_is_in, 0, 0);
    sem_init(&sleeper_may_go, 0, 0);
    PROFILE_THREAD("main");
    PROFILE_SCOPE("program");
    PROFILE_ARG_I("version", 3);
    for (int i = 0; i < 10; ++i) PROFILE_BLOCK("start up") {}
    PROFILE_BEGIN("level");
    PROFILE_ARG_S("map", "E1M1");
    pthread_t thread = started(sleeper, NULL);
    sem_wait(&sleeper_is_in);
    for (int i = 0; i < 3; ++i) join(started(short_thread, (void *)(uintptr_t) "old thread"));
    for (long i = 0; i < scopes; ++i) {
        PROFILE_SCOPE("old");
        PROFILE_ARG_I("i", i);
    }
    PROFILE_BEGIN("between");
    pause_ms(20);
    for (int i = 0; i < 5; ++i) PROFILE_BLOCK("new") {}
    PROFILE_END("between");
    for (int i = 0; i < 3; ++i) join(started(short_thread, (void *)(uintptr_t) "new thread"));
    PROFILE_END("level");
    for (int i = 0; i < 2000; ++i) PROFILE_BLOCK("newest") {}
    CHECK_EQUAL(prof_stop(), PROF_OK);
    sem_post(&sleeper_may_go);
    join(thread);
}

/* Nanoseconds from the middle of the pause to the end. */
static uint64_t since_pause(const prof_trace *trace)
{
    const prof__header *h = prof__state.session->header;
    trace_list list = trace_read(trace, trace_track_named(trace, "main"));
    const prof_event *before = trace_find(&list, "between"), *behind = trace_find(&list, "new");
    int64_t at = before && behind ? before->start_ns + (behind->start_ns - before->start_ns) / 2 : 0;
    CHECK(at > 0);
    trace_free(&list);
    return h->last.monotonic_ns - h->first.monotonic_ns - (uint64_t)at;
}

static void check_last(long scopes, int wraps)
{
    prof_config config = trace_config(wraps ? 1 << 20 : 16 << 20);
    trace_start(&config);
    record_two_parts(scopes);
    prof_trace *whole = trace_live(), *part;
    uint64_t last_ns = since_pause(whole);
    const char *image = trace_path("last.prof"), *all = trace_path("all.prof"), *json = trace_path("last.json");
    CHECK_EQUAL(prof_save_last_ns(image, last_ns), PROF_OK);
    CHECK_EQUAL(prof_save(all), PROF_OK);
    CHECK_EQUAL(prof_trace_open(image, &part), PROF_OK);
    size_t size = 0, most = 0;
    free(trace_file_text(image, &size));
    free(trace_file_text(all, &most));
    CHECK(size < most / 2); /* what lies before the window is not in the file */
    int64_t from = prof_trace_about(part)->from_ns;
    CHECK_EQUAL(prof_trace_set_window(whole, from, 0), PROF_OK);
    check_same(whole, part);
    trace_list list = trace_read(part, trace_track_named(part, "main"));
    const prof_event *level = trace_find(&list, "level");
    CHECK(trace_count(&list, "new") == 5 && trace_count(&list, "old") == 0);
    CHECK_EQUAL(trace_count(&list, "newest"), 2000);
    if (!wraps) {
        CHECK_EQUAL(trace_count(&list, "program"), 1);
        CHECK(level && level->flags == PROF_TRUNCATED_BEGIN && level->depth == 1 && level->start_ns == from);
        CHECK(trace_arg(level, "map") && !strcmp(trace_arg(level, "map")->as.string, "E1M1"));
    } else { /* its begin is no longer in the ring, but its end is */
        CHECK(level && level->flags == PROF_TRUNCATED_BEGIN);
    }
    trace_free(&list);
    if (!wraps) {
        list = trace_read(part, trace_track_named(part, "sleeper"));
        CHECK_EQUAL(list.count, 2);
        const prof_event *dream = trace_find(&list, "and dreams");
        CHECK(dream && dream->flags == (PROF_TRUNCATED_BEGIN | PROF_TRUNCATED_END) && dream->depth == 1);
        CHECK(dream && dream->start_ns == from && trace_end(dream) >= prof_trace_about(part)->duration_ns);
        CHECK(trace_arg(trace_find(&list, "sleeps"), "bed") != NULL);
        trace_free(&list);
    }
    CHECK_EQUAL(prof_trace_set_window(part, 0, 0), PROF_OK);
    trace_check(part); /* with what else is in the file */
    prof_trace_close(part);
    CHECK_EQUAL(prof_save_last_ns(json, last_ns), PROF_OK);
    char *text = trace_file_text(json, NULL);
    CHECK(text && strstr(text, "\"newest\"") && strstr(text, "\"level\"") && !strstr(text, "\"old\""));
    free(text);
    /* More than there is: everything, without a window. */
    CHECK_EQUAL(prof_save_last_ns(image, 1000000 * PROF_SECOND), PROF_OK);
    CHECK_EQUAL(prof_trace_open(image, &part), PROF_OK);
    CHECK_EQUAL(prof_trace_about(part)->from_ns, 0);
    CHECK_EQUAL(prof_trace_set_window(whole, 0, 0), PROF_OK);
    trace_check(part);
    check_same(whole, part);
    prof_trace_close(part);
    prof_trace_close(whole);
}

TEST(last_seconds) { check_last(trace_times(20000, 100000, 100000), 0); }
TEST(last_seconds_of_a_ring_that_came_round) { check_last(trace_times(60000, 300000, 300000), 1); }

/*-- a saved window against the same window of everything --*/

static void leave_open(int depth)
{
    PROFILE_BEGIN("left open"); /* until the scope around it ends */
    if (depth) leave_open(depth - 1);
}

/* Calls that fill chunks. */
static void fill(int depth)
{
    PROFILE_SCOPE("filler");
    if (depth) fill(depth - 1);
    if (depth) fill(depth - 2 > 0 ? depth - 2 : 0);
}

/* Records one of all kinds of records that reach beyond their chunk, or do not. */
static void anything(int depth)
{
    PROFILE_SCOPE("call");
    uint64_t kind = random_number() % 24, id = random_number() % 64;
    if (kind < 4) PROFILE_ARG_U("kind", kind);
    switch (kind) {
    case 0: PROFILE_BEGIN("twins"); break;
    case 1: PROFILE_END("twins"); break;
    case 2: PROFILE_COUNTER("number", id); break;
    case 3: PROFILE_FRAME("frame"); break;
    case 4: PROFILE_SPAN_BEGIN("span", id); break;
    case 5: PROFILE_SPAN_END("span", id); break;
    case 6: PROFILE_MARK_F("mark %d", (int)id); break;
    case 7: PROFILE_FLOW_OUT(id); break;
    case 8: PROFILE_ALLOC(&random_state, id); break;
    case 9: PROFILE_LOG(PROF_LOG_INFO, "said %d", (int)id); break;
    case 10: leave_open((int)id % 3); break;
    case 11: PROFILE_SPAN_BEGIN_ARGS("told", id, PROF_ARG_S("why", "text")); break;
    case 12: PROFILE_SPAN_END("told", id); break;
    default: break;
    }
    if (kind == 13) {
        PROFILE_SCOPE_F("named %d", (int)id);
        PROFILE_ARG_S("text", "some text that takes words");
    }
    for (uint64_t calls = random_number() % 3; depth && calls; --calls) anything(depth - 1);
}

static prof_fiber *fibers_of_windows[3];

static void *records_anything(void *fiber)
{
    random_state += (uint64_t)(uintptr_t)fiber; /* not what the others record */
    PROFILE_THREAD("worker");
    PROFILE_SCOPE("thread");
    PROFILE_ARG_S("who", "worker");
    for (int i = 0; i < 300; ++i) {
        anything(5);
        if (fiber && i % 7 == 3) {
            prof_fiber_switch((prof_fiber *)fiber);
            anything(3);
            if (i % 2) PROFILE_BEGIN("of a fiber");
            if (i % 5 == 0) PROFILE_END("of a fiber");
            prof_fiber_switch(NULL);
        }
    }
    return NULL;
}

static void check_spans(const prof_trace *a, const prof_trace *b)
{
    prof_spans *x, *y;
    prof_span e, f;
    CHECK_EQUAL(prof_spans_open(a, &x), PROF_OK);
    CHECK_EQUAL(prof_spans_open(b, &y), PROF_OK);
    for (;;) {
        int more = prof_spans_next(x, &e), others = prof_spans_next(y, &f);
        CHECK_EQUAL(more, others);
        if (!more || !others || test_failures > 20) break;
        CHECK_TEXT(e.name, f.name);
        CHECK(e.id == f.id || (e.id >= 64 && f.id >= 64)); /* scopes that overlap have ids made up by the reader */
        CHECK_EQUAL(e.flags, f.flags);
        CHECK_EQUAL(e.arg_count, f.arg_count);
        CHECK(e.start_ns - f.start_ns < 20000 && f.start_ns - e.start_ns < 20000);
    }
    CHECK_EQUAL(prof_spans_close(x), PROF_OK);
    CHECK_EQUAL(prof_spans_close(y), PROF_OK);
}

/* share: of the time of the whole recording, in percent. */
static void check_part(const prof_trace *all, int share)
{
    const prof_trace_info *about = prof_trace_about(all);
    prof_trace *part = NULL, *whole = trace_live();
    const char *image = trace_path("window.prof");
    uint64_t last_ns = (uint64_t)about->duration_ns * (uint64_t)share / 100 + 1;
    CHECK_EQUAL(prof_save_last_ns(image, last_ns), PROF_OK);
    CHECK_EQUAL(prof_trace_open(image, &part), PROF_OK);
    if (!part) return;
    CHECK_EQUAL(prof_trace_set_window(whole, prof_trace_about(part)->from_ns, 0), PROF_OK);
    check_same(whole, part);
    check_spans(whole, part);
    CHECK_EQUAL(prof_trace_about(part)->lost, about->lost);
    CHECK_EQUAL(prof_trace_about(part)->lost_blocks, 0);
    CHECK_EQUAL(prof_trace_about(part)->buffer_size, about->buffer_size);
    prof_trace_close(part);
    prof_trace_close(whole);
}

/* saves: 1: saves while it records, so that what is left of older chunks is kept from one save to the next; 2: prof's
   thread keeps it, too. */
static void check_parts(size_t buffer, int threads, int rounds, int saves)
{
    prof_config config = trace_config(buffer);
    pthread_t thread[4];
    if (saves > 1) config.save = trace_path("asked.prof");
    config.clock = PROF_CLOCK_MONOTONIC; /* its ticks are nanoseconds, so that all times are the same */
    trace_start(&config);
    PROFILE_THREAD("main");
    PROFILE_SCOPE("program");
    for (int i = 0; i < 3; ++i) fibers_of_windows[i] = prof_fiber_create("fiber");
    for (int round = 0; round < rounds; ++round) {
        for (int i = 0; i < threads; ++i)
            thread[i] = started(records_anything, i < 3 ? fibers_of_windows[i] : NULL);
        for (int i = 0; i < 200; ++i) {
            anything(5);
            for (int k = 0; saves && k < 150; ++k) fill(k % 6);
            if (saves && i % 40 == round)
                CHECK_EQUAL(prof_save_last_ns(trace_path("meanwhile.prof"), 100000u << round % 8), PROF_OK);
        }
        for (int i = 0; i < threads; ++i) join(thread[i]);
    }
    CHECK_EQUAL(prof_stop(), PROF_OK); /* so that the last seconds are always the same */
    prof_trace *all = trace_live();
    static const int shares[] = {99, 80, 50, 30, 20, 10, 5, 2, 1};
    if (saves) CHECK(prof__state.session->header->overwritten > prof__state.session->header->chunk_count / 2);
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i += saves ? 4 : 1) check_part(all, shares[i]);
    prof_trace_close(all);
    for (int i = 0; i < 3; ++i) prof_fiber_destroy(fibers_of_windows[i]);
}

TEST(a_saved_window_is_that_window_of_everything)
{
    check_parts(16 << 20, 3, 3, 0);
    check_parts(1 << 20, 4, 3, 0);   /* slots are split */
    check_parts(256 << 10, 2, 3, 0); /* the ring comes round */
}

TEST(what_is_left_of_older_chunks_is_kept)
{
    check_parts(256 << 10, 2, 3, 1);
    for (int i = 0; i < trace_times(1, 2, 20); ++i) {
        check_parts(4 << 20, 3, 5, 1 + i % 2);
        check_parts(6 << 20, 2, 5, 2 - i % 2);
    }
}

TEST(last_seconds_of_a_stream)
{
    prof_config config = trace_config(1 << 20);
    const char *image = trace_path("last_stream.prof"), *json = trace_path("last_stream.json");
    prof_trace *part = NULL;
    config.mode = PROF_STREAM;
    config.wait_ns = 10000000000u;
    config.output = trace_path("stream_of_last.prof");
    long old = trace_times(60000, 200000, 200000); /* more than the buffer holds */
    trace_start(&config);
    PROFILE_THREAD("main");
    for (long i = 0; i < old; ++i) PROFILE_BLOCK("old") {}
    PROFILE_BEGIN("open");
    PROFILE_BEGIN("between");
    pause_ms(10);
    for (int i = 0; i < 1000; ++i) PROFILE_BLOCK("new") {}
    prof_trace *whole = trace_stop();
    uint64_t last_ns = since_pause(whole);
    prof_trace_close(whole);
    CHECK_EQUAL(prof_save_last_ns(image, last_ns), PROF_OK);
    CHECK_EQUAL(prof_save_last_ns(json, last_ns), PROF_OK);
    for (int all = 0; all < 2; ++all) {
        CHECK_EQUAL(prof_trace_open(image, &part), PROF_OK);
        if (!part) break;
        trace_list list = trace_read(part, trace_track_named(part, "main"));
        CHECK_EQUAL(trace_count(&list, "new"), 1000);
        CHECK_EQUAL(trace_count(&list, "open"), 1);
        CHECK_EQUAL(trace_count(&list, "old"), all ? old : 0);
        trace_free(&list);
        prof_trace_close(part);
        CHECK_EQUAL(prof_save_last_ns(image, 3600 * PROF_SECOND), PROF_OK); /* all of it */
    }
    char *text = trace_file_text(json, NULL);
    CHECK(text && strstr(text, "\"new\"") && !strstr(text, "\"old\""));
    free(text);
    unlink(config.output);
    unlink(image);
}

TEST(last_seconds_when_nothing_happened)
{
    prof_config config = trace_config(1 << 20);
    trace_start(&config);
    sem_init(&sleeper_is_in, 0, 0);
    sem_init(&sleeper_may_go, 0, 0);
    pthread_t thread = started(sleeper, NULL);
    sem_wait(&sleeper_is_in);
    pause_ms(20);
    const char *image = trace_path("quiet.prof");
    CHECK_EQUAL(prof_save_last_ns(image, 1000000), PROF_OK);
    prof_trace *part = NULL;
    CHECK_EQUAL(prof_trace_open(image, &part), PROF_OK);
    if (part) {
        trace_list list = trace_read(part, trace_track_named(part, "sleeper"));
        CHECK_EQUAL(list.count, 2);
        CHECK(list.count && list.events[0].start_ns == prof_trace_about(part)->from_ns);
        trace_free(&list);
    }
    prof_trace_close(part);
    sem_post(&sleeper_may_go);
    join(thread);
    CHECK_EQUAL(prof_stop(), PROF_OK);
    CHECK_EQUAL(prof_save_last_ns(NULL, 1), PROF_INVALID_ARGUMENT);
    CHECK_EQUAL(prof_save_last_ns(image, 0), PROF_INVALID_ARGUMENT);
    CHECK_EQUAL(prof_save_last_ns(image, UINT64_MAX), PROF_INVALID_ARGUMENT);
    CHECK_EQUAL(prof_save_last_ns("nothing.unknown", PROF_SECOND), PROF_INVALID_ARGUMENT);
    CHECK_EQUAL(prof_reset(), PROF_OK);
    CHECK_EQUAL(prof_save_last_ns(image, PROF_SECOND), PROF_INVALID_STATE);
}

/*-- the follower and the reader must find the same -------------------------------------------------------------------*/

static prof__follow *followed; /* follows the present session, in the test's own time */

static uint32_t few_words; /* 0: as many in a chunk as it has space for */

/* Chunks are as small as that from now on, so that threads change them often. This thread may have one. */
static void use_few_words(void)
{
    prof__thread *self = PROF__SELF();
    prof__state.session->chunk_words = few_words;
    if (!self->session) return;
    uint64_t words = (uint64_t)(self->end - prof__chunk_first(self->chunk)), excess = words - few_words;
    self->soft = 0;
    if (words <= few_words) return;
    self->end -= excess;
    self->free_words -= excess;
}

/* A session that keeps its events, and a follower of it that folds them as well. On the clock whose ticks are
   nanoseconds the two agree exactly; on the counter, whose rate is a matter of opinion, to 0.8 %. */
static void start_followed(size_t buffer, uint64_t min_duration_ns, prof_clock clock)
{
    prof_config config = trace_config(buffer);
    config.min_duration_ns = min_duration_ns;
    config.clock = clock;
    trace_start(&config);
    if (few_words) use_few_words();
    config.mode = PROF_STATS;
    CHECK_EQUAL(prof__follow_make(prof__state.session, &config), PROF_OK);
    followed = prof__state.session->follow;
}

static void look(void)
{
    prof__lock(&followed->lock);
    prof__follow_pass(followed);
    prof__unlock(&followed->lock);
}

static void look_at_all(void)
{
    prof__lock(&followed->lock);
    prof__follow_all(followed);
    prof__unlock(&followed->lock);
}

static int near_to(double a, double b, double part, double least)
{
    double distance = a > b ? a - b : b - a;
    return distance <= least || distance <= part * (a > b ? a : b);
}

static void check_row(const prof__stat_row *wanted, const prof__stat_row *is, int exact)
{
    const prof_stat *a = &wanted->stat, *b = &is->stat;
    double part = exact ? 0 : 0.008, least = exact ? 0 : 2, sum = least * (double)a->count; /* whole nanoseconds */
    CHECK_EQUAL(a->count, b->count);
    if (wanted->type == PROF_EVENT_COUNTER) {
        CHECK(near_to(wanted->low, is->low, 0, 0) && near_to(wanted->high, is->high, 0, 0));
        CHECK(near_to(wanted->mean, is->mean, 1e-9, 0));
        return;
    }
    CHECK_EQUAL(a->truncated, b->truncated);
    if (a->count == a->truncated) return;
    CHECK(near_to((double)a->total_ns, (double)b->total_ns, part, sum));
    CHECK(near_to((double)a->self_ns, (double)b->self_ns, part, 4 * sum));
    CHECK(near_to((double)a->sum_ns, (double)b->sum_ns, part, sum));
    CHECK(near_to((double)a->min_ns, (double)b->min_ns, part, least));
    CHECK(near_to((double)a->max_ns, (double)b->max_ns, part, least));
    CHECK(near_to(a->mean_ns, b->mean_ns, part, least));
    CHECK(near_to(a->deviation_ns, b->deviation_ns, 2 * part, least)); /* both have exact sums of squares */
    CHECK(near_to((double)a->p50_ns, (double)b->p50_ns, 3 * part, least)); /* of either the half of a step, too */
    CHECK(near_to((double)a->p90_ns, (double)b->p90_ns, 3 * part, least));
    CHECK(near_to((double)a->p99_ns, (double)b->p99_ns, 3 * part, least));
    CHECK(near_to((double)a->p999_ns, (double)b->p999_ns, 3 * part, least));
    if (test_failures) printf("     in %s:%u\n", a->name, a->site->line);
}

/* Ends the session and compares what the follower stats with what the reader makes of the same words. */
static void stop_followed(void)
{
    int exact = prof__state.session->clock == PROF_CLOCK_MONOTONIC;
    prof_trace *trace = trace_stop();
    prof__aggregated stats;
    prof__stat_rows all;
    CHECK_EQUAL(prof__stat_rows_make(trace, 0, &all), PROF_OK);
    look_at_all();
    memset(&stats, 0, sizeof stats);
    CHECK(prof__aggregated_copy(&stats, followed));
    CHECK_EQUAL(stats.events, prof_trace_about(trace)->event_count);
    CHECK_EQUAL(stats.unmatched, prof_trace_about(trace)->unmatched);
    CHECK_EQUAL(stats.lost, prof_trace_about(trace)->lost);
    size_t found = 0;
    for (size_t i = 1; i < stats.count && test_failures < 20; ++i) {
        size_t j = 0, site = prof__read_site_of(trace, stats.sites[i]);
        const char *name = stats.texts[i] ? stats.texts[i] : trace->sites[site].about.name;
        if (!stats.rows[i].stat.count) { /* a frame that only began */
            found += stats.rows[i].type == PROF_EVENT_FRAME;
            continue;
        }
        while (j < all.count && (all.items[j].stat.site != &trace->sites[site].about ||
                                 strcmp(all.items[j].stat.name, name)))
            ++j;
        CHECK(j < all.count);
        if (j == all.count) {
            printf("     not found: %s\n", name);
            continue;
        }
        ++found;
        check_row(&all.items[j], &stats.rows[i], exact);
    }
    CHECK_EQUAL(stats.rows[0].stat.count, 0);
    CHECK_EQUAL(found, all.count);
    prof__stat_rows_free(&all);
    prof__aggregated_free(&stats);
    prof_trace_close(trace);
}

static void burn(uint64_t turns)
{
    for (volatile uint64_t i = 0; i < turns; ++i) {
    }
}

static int look_often;

static void random_scopes(int depth)
{
    uint64_t what = random_number();
    if (look_often && random_number() % 50 == 0) look();
    if (what % 11 == 0) PROFILE_MARK_F("mark %d", depth);
    if (what % 13 == 0) PROFILE_COUNTER("level", (double)depth / 2);
    if (what % 17 == 0) PROFILE_COUNTER("whole", depth);
    if (what % 19 == 0) PROFILE_FRAME("frame");
    if (what % 23 == 0) PROFILE_FRAME("frame"); /* the same by another call site */
    if (what % 29 == 0) PROFILE_FRAME("other");
    burn(random_number() % 30);
    switch (what / 1000 % 8) {
    case 0: {
        PROFILE_SCOPE("a");
        if (depth) random_scopes(depth - 1);
        if (depth) random_scopes(depth - 1);
        break;
    }
    case 1: {
        PROFILE_SCOPE_F("b %d", depth);
        PROFILE_ARG_I("depth", depth);
        if (depth) random_scopes(depth - 1);
        break;
    }
    case 2: {
        PROFILE_SCOPE_DYNAMIC(depth % 2 ? "odd" : "even");
        if (depth) random_scopes(depth - 1);
        break;
    }
    case 3: /* they overlap */
        PROFILE_BEGIN("first");
        PROFILE_BEGIN("second");
        if (depth) random_scopes(depth - 1);
        PROFILE_END("first");
        PROFILE_END("second");
        break;
    case 4: {
        PROFILE_STAGE("one");
        if (depth) random_scopes(depth - 1);
        PROFILE_NEXT("two");
        PROFILE_NEXT("three");
        break;
    }
    case 5: /* so do these, of which the first two are in one another, and one may stay without an end */
        PROFILE_BEGIN("outermost");
        PROFILE_BLOCK("inner")
        {
            PROFILE_BEGIN("innermost");
            if (depth) random_scopes(depth - 1);
            PROFILE_END("outermost");
            if (depth) random_scopes(depth - 1);
        }
        if (depth % 3) PROFILE_END("innermost");
        break;
    default:
        PROFILE_BLOCK("leaf") burn(random_number() % 50);
        break;
    }
}

static void *random_thread(void *seed)
{
    (void)seed;
    for (int i = 0; i < 20; ++i) {
        PROFILE_SCOPE("thread");
        PROFILE_BLOCK("leaf") burn(5);
    }
    return NULL;
}

static void same_statistics(uint64_t min_duration_ns, prof_clock clock)
{
    random_state = (uint64_t)time(NULL) * 2654435761u + (uint64_t)getpid() + min_duration_ns;
    for (int round = 0; round < trace_times(3, 6, 6) && !test_failures; ++round) {
        printf("     seed %llu\n", (unsigned long long)random_state);
        look_often = round % 3;
        start_followed(16 << 20, min_duration_ns, clock);
        PROFILE_BEGIN("open to the end");
        for (long i = 0; i < trace_times(200, 1000, 30000); ++i) random_scopes(8);
        for (int i = 0; i < 10; ++i) {
            join(started(random_thread, NULL));
            if (look_often) look();
        }
        stop_followed();
    }
}

TEST(statistics_equal_the_readers) { same_statistics(0, PROF_CLOCK_MONOTONIC); }
TEST(statistics_equal_the_readers_with_a_minimum) { same_statistics(300, PROF_CLOCK_MONOTONIC); }
TEST(statistics_equal_the_readers_on_the_counter) { same_statistics(0, PROF_CLOCK_AUTO); }

/* Single steps of a program without a sense, the same ones for each seed: with the minimum of this test whatever began
   last is taken back when it ends, at whatever speed. The follower looks after any step. */

static struct {
    prof_fiber *fiber;
    int open[3];
} odd_tracks[3], *odd_track;

static void odd_begin(int name)
{
    ++odd_track->open[name];
    switch (name) {
    case 0: PROFILE_BEGIN("p"); break;
    case 1: PROFILE_BEGIN("q"); break;
    default: PROFILE_BEGIN("r"); break;
    }
}

static void odd_end(int name)
{
    --odd_track->open[name];
    switch (name) {
    case 0: PROFILE_END("p"); break;
    case 1: PROFILE_END("q"); break;
    default: PROFILE_END("r"); break;
    }
}

static void odd_step(int depth);

static void odd_steps(int depth)
{
    for (uint64_t count = depth ? random_number() >> 20 & 3 : 0; count; --count) odd_step(depth - 1);
}

static void odd_step(int depth)
{
    uint64_t what = random_number() >> 20;
    int name = (int)(what / 16 % 3);
    switch (what % 16) {
    case 0:
    case 1:
    case 2:
    case 3:
    case 4:
    case 5: /* few stay open: of those that an outer end has closed, the follower knows only the newest */
        if (odd_track->open[name] && (what & 1 || odd_track->open[name] == 2))
            odd_end(name);
        else
            odd_begin(name);
        break;
    case 6: PROFILE_MARK("mark"); break;
    case 7: PROFILE_COUNTER("counter", (int)(what / 16 % 10)); break;
    case 8: PROFILE_FRAME("frame"); break;
    case 9: {
        PROFILE_STAGE("one");
        odd_steps(depth);
        PROFILE_NEXT("two");
        odd_steps(depth);
        break;
    }
    case 10:
    case 11: {
        PROFILE_SCOPE_F("named %d", depth);
        odd_steps(depth);
        break;
    }
    default: {
        PROFILE_SCOPE("a");
        if (what & 16) PROFILE_ARG_I("depth", depth);
        odd_steps(depth);
        break;
    }
    }
    while (random_number() >> 20 & 1) look();
}

static void odd_round(uint64_t seed)
{
    random_state = seed * 0x9E3779B97F4A7C15u | 1;
    memset(odd_tracks, 0, sizeof odd_tracks);
    odd_track = odd_tracks;
    for (int i = 1; i < 3; ++i) odd_tracks[i].fiber = prof_fiber_create("fiber");
    few_words = 60 + (uint32_t)(seed % 8) * 10;
    start_followed(1 << 20, seed % 4 ? 10000000000u : 0, PROF_CLOCK_MONOTONIC);
    const prof__header *h = prof__state.session->header;
    while (h->next_chunk + 8 < h->chunk_count) { /* no chunk is reused */
        odd_step(4);
        odd_track = &odd_tracks[random_number() >> 20 & 3 ? 0 : random_number() % 3];
        prof_fiber_switch(odd_track->fiber);
    }
    prof_fiber_switch(NULL);
    stop_followed();
    CHECK_EQUAL(followed->gaps, 0);
    for (int i = 1; i < 3; ++i) prof_fiber_destroy(odd_tracks[i].fiber);
    few_words = 0;
    if (test_failures) printf("     with seed %llu\n", (unsigned long long)seed);
}

TEST(statistics_equal_the_readers_after_any_step)
{
    for (long seed = 0; seed < trace_times(20, 60, 5000) && !test_failures; ++seed) odd_round((uint64_t)seed);
}

/* Looks while scopes are open that will be taken back. */
TEST(what_is_taken_back_was_never_there)
{
    start_followed(1 << 20, 10000000000u, PROF_CLOCK_MONOTONIC);
    for (int i = 0; i < 100; ++i) {
        PROFILE_SCOPE("stays");
        PROFILE_ARG_I("i", i); /* more than a begin: no longer taken back */
        PROFILE_BLOCK("taken back") {
            look();
            PROFILE_BLOCK("and this") look();
            look();
        }
        PROFILE_BLOCK("named") {
            PROFILE_SCOPE_F("name %d", i);
            look();
        }
        PROFILE_MARK("mark");
        if (i % 2) look();
    }
    stop_followed();
}

static volatile int stop_racing;

static void *racing_thread(void *unused)
{
    (void)unused;
    for (int i = 0; i < 3000 && !stop_racing; ++i) {
        PROFILE_SCOPE("race");
        PROFILE_ARG_I("i", i);
        PROFILE_BLOCK("inside") burn(3);
        PROFILE_FRAME("racing");
    }
    return NULL;
}

/* A scope that another end has closed counts once if its own end comes after the statistics were set to zero. */
TEST(an_overlap_counts_after_a_reset)
{
    prof__aggregated stats;
    size_t found = 0;
    start_followed(0, 0, PROF_CLOCK_MONOTONIC);
    PROFILE_BEGIN("outer");
    PROFILE_BEGIN("late");
    PROFILE_END("outer");
    look_at_all();
    prof__follow_reset(followed);
    PROFILE_END("late");
    look_at_all();
    memset(&stats, 0, sizeof stats);
    CHECK(prof__aggregated_copy(&stats, followed));
    for (size_t i = 0; i < stats.count; ++i) {
        const prof_stat *stat = &stats.rows[i].stat;
        if (!stat->count) continue;
        ++found;
        CHECK(stat->count == 1 && !stat->truncated && stat->sum_ns == stat->max_ns && stat->min_ns == stat->max_ns);
        CHECK(near_to(stat->mean_ns, (double)stat->sum_ns, 0, 0) && near_to(stat->deviation_ns, 0, 0, 0));
        CHECK_EQUAL(stat->p99_ns, stat->max_ns);
    }
    CHECK_EQUAL(found, 1);
    prof__aggregated_free(&stats);
    prof_trace_close(trace_stop());
}

TEST(statistics_equal_the_readers_in_a_race) /* the follower looks while others write */
{
    for (long round = 0; round < trace_times(2, 3, 50) && !test_failures; ++round) {
        pthread_t threads[4];
        start_followed(32 << 20, round % 2 ? 1000 : 0, PROF_CLOCK_MONOTONIC);
        for (int wave = 0; wave < trace_times(3, 10, 10); ++wave) {
            for (int i = 0; i < 4; ++i) threads[i] = started(racing_thread, NULL);
            for (int i = 0; i < 20; ++i) look();
            for (int i = 0; i < 4; ++i) join(threads[i]);
        }
        stop_followed();
    }
}

/* Fibers that any thread may go on with: the follower meets their parts in any order. */

static struct {
    prof_fiber *fiber;
    int taken, depth;
} tasks[12];
static pthread_mutex_t tasks_lock = PTHREAD_MUTEX_INITIALIZER;

static void task_begins(int depth)
{
    switch (depth) {
    case 0: PROFILE_BEGIN("task 0"); break;
    case 1: PROFILE_BEGIN("task 1"); break;
    case 2: PROFILE_BEGIN("task 2"); break;
    default: PROFILE_BEGIN("task 3"); break;
    }
}

static void task_ends(int depth)
{
    switch (depth) {
    case 0: PROFILE_END("task 0"); break;
    case 1: PROFILE_END("task 1"); break;
    case 2: PROFILE_END("task 2"); break;
    default: PROFILE_END("task 3"); break;
    }
}

static void *task_worker(void *number)
{
    uint64_t state = 88172645463325252u + (uint64_t)(uintptr_t)number;
    for (int i = 0; i < 4000; ++i) {
        size_t at;
        state = state * 6364136223846793005u + 1442695040888963407u;
        at = (size_t)(state >> 33) % (sizeof tasks / sizeof *tasks);
        pthread_mutex_lock(&tasks_lock);
        int mine = !tasks[at].taken;
        if (mine) tasks[at].taken = 1;
        pthread_mutex_unlock(&tasks_lock);
        if (!mine) continue;
        PROFILE_BLOCK("scheduler") {}
        prof_fiber_switch(tasks[at].fiber);
        PROFILE_FRAME("turn");
        PROFILE_BLOCK("step") burn(state >> 60);
        if (tasks[at].depth < 4 && state >> 40 & 1)
            task_begins(tasks[at].depth++);
        else if (tasks[at].depth)
            task_ends(--tasks[at].depth);
        prof_fiber_switch(NULL);
        pthread_mutex_lock(&tasks_lock);
        tasks[at].taken = 0;
        pthread_mutex_unlock(&tasks_lock);
    }
    return NULL;
}

TEST(statistics_equal_the_readers_of_fibers)
{
    for (size_t i = 0; i < sizeof tasks / sizeof *tasks; ++i) tasks[i].fiber = prof_fiber_create("task");
    for (long round = 0; round < trace_times(2, 3, 50) && !test_failures; ++round) {
        pthread_t threads[4];
        start_followed(16 << 20, 0, PROF_CLOCK_MONOTONIC);
        for (size_t i = 0; i < sizeof tasks / sizeof *tasks; ++i) tasks[i].depth = 0;
        for (int wave = 0; wave < trace_times(2, 3, 3); ++wave) {
            for (int i = 0; i < 4; ++i) threads[i] = started(task_worker, (void *)(uintptr_t)(round * 100 + wave * 10 + i));
            for (int i = 0; i < 200; ++i) look();
            for (int i = 0; i < 4; ++i) join(threads[i]);
        }
        stop_followed();
        CHECK_EQUAL(followed->gaps, 0);
    }
    for (size_t i = 0; i < sizeof tasks / sizeof *tasks; ++i) prof_fiber_destroy(tasks[i].fiber);
}

static uint64_t longest_leaf;

static void measured_leaf(void)
{
    uint64_t before = prof__monotonic();
    PROFILE_BLOCK("leaf") {}
    uint64_t took = prof__monotonic() - before;
    if (took > longest_leaf) longest_leaf = took;
}

/* A ring that comes round between two looks: what was missed is missing, and nothing wrong takes its place. */
TEST(what_was_missed_is_missing)
{
    prof__aggregated stats;
    uint64_t turns = 0;
    longest_leaf = 0;
    start_followed(128 << 10, 0, PROF_CLOCK_MONOTONIC);
    PROFILE_BEGIN("outer");
    for (int round = 0; round < 30; ++round) {
        PROFILE_BEGIN("inner");
        for (int i = 0; i < (round % 3 ? 100 : 40000); ++i, ++turns) measured_leaf();
        PROFILE_END("inner");
        look();
    }
    PROFILE_END("outer");
    CHECK_EQUAL(prof_stop(), PROF_OK);
    look_at_all();
    CHECK(followed->gaps > 0);
    memset(&stats, 0, sizeof stats);
    CHECK(prof__aggregated_copy(&stats, followed));
    CHECK_EQUAL(stats.open, 0);
    for (size_t i = 1; i < stats.count; ++i) {
        const prof_stat *stat = &stats.rows[i].stat;
        const char *name = prof__follow_name(followed, prof__follow_site_of(followed, stats.sites[i])->name);
        if (!strcmp(name, "leaf")) {
            CHECK(stat->count > 2000 && stat->count < turns);
            CHECK(stat->max_ns <= longest_leaf);
            CHECK(stat->truncated <= 2 * followed->gaps);
        } else if (!strcmp(name, "outer")) {
            CHECK_EQUAL(stat->truncated, stat->count); /* of every one either end is unknown */
        } else {
            CHECK_TEXT(name, "inner");
            CHECK(stat->count - stat->truncated >= 18); /* those that were seen as a whole */
        }
    }
    prof__aggregated_free(&stats);
}

/*-- PROF_STATS ------------------------------------------------------------------------------------------------------*/

static prof_config stats_config(size_t buffer)
{
    prof_config config = trace_config(buffer);
    config.mode = PROF_STATS; /* which waits, unless it is told not to: nothing may be lost */
    return config;
}

static const prof_stat *stat_of(const prof_stat *stats, size_t count, const char *name)
{
    for (size_t i = 0; i < count; ++i)
        if (!strcmp(stats[i].name, name)) return &stats[i];
    return NULL;
}

static char *summary_of(const prof_trace *trace)
{
    const char *path = trace_path("stats.txt");
    CHECK_EQUAL(prof_summary_write(trace, path, NULL), PROF_OK);
    return trace_file_text(path, NULL);
}

static int statistics_work(int i)
{
    PROFILE_SCOPE("work");
    PROFILE_COUNTER("i", i);
    if (i % 2) PROFILE_BLOCK("half") {}
    PROFILE_BLOCK("all") {}
    PROFILE_FRAME("tick");
    return i;
}

TEST(stats_mode_counts_everything)
{
    prof_config config = stats_config(256 << 10);
    prof_trace *trace;
    prof_stat *stats;
    size_t count;
    const char *path = trace_path("stats_output.txt");
    config.output = path;
    unlink(path);
    long turns = trace_times(20000, 60000, 2000000);
    trace_start(&config);
    PROFILE_THREAD("worker");
    PROFILE_BEGIN("run");
    for (long i = 0; i < turns; ++i) statistics_work((int)i);
    PROFILE_MARK("middle");
    CHECK_EQUAL(prof_trace_open_live(&trace), PROF_OK); /* while a scope is open */
    CHECK_EQUAL(prof_trace_track_count(trace), 0);
    CHECK_EQUAL(prof_trace_about(trace)->event_count, 0);
    CHECK_EQUAL(prof_trace_about(trace)->mode, PROF_STATS);
    CHECK_EQUAL(prof_trace_about(trace)->open, 1);
    CHECK_EQUAL(prof_trace_about(trace)->lost, 0);
    CHECK_EQUAL(prof_trace_about(trace)->overwritten_chunks, 0);
    trace_check(trace);
    CHECK_EQUAL(prof_stats(trace, PROF_SORT_NAME, 0, &stats, &count), PROF_OK);
    const prof_stat *work = stat_of(stats, count, "work"), *run = stat_of(stats, count, "run");
    CHECK(work && work->count == (uint64_t)turns && !work->truncated);
    CHECK(run && run->count == 1 && run->truncated == 1);
    CHECK(stat_of(stats, count, "all") && stat_of(stats, count, "all")->count == (uint64_t)turns);
    CHECK(stat_of(stats, count, "half") && stat_of(stats, count, "half")->count == (uint64_t)turns / 2);
    if (work) {
        CHECK(work->min_ns <= work->p50_ns && work->p50_ns <= work->p99_ns && work->p99_ns <= work->max_ns);
        CHECK(work->self_ns + stat_of(stats, count, "all")->total_ns + stat_of(stats, count, "half")->total_ns <=
              work->total_ns + 10);
        CHECK(near_to((double)work->total_ns, work->mean_ns * (double)turns, 1e-6, 1));
        CHECK_TEXT(work->site->function, "statistics_work");
        CHECK(strstr(work->site->file, "test_follow.c") != NULL);
    }
    prof_stats_free(stats);
    CHECK_EQUAL(prof_stats_by_path(trace, PROF_SORT_TOTAL, 0, &stats, &count), PROF_OK); /* all outermost */
    for (size_t i = 0; i < count; ++i) CHECK(stats[i].parent == PROF_NO_PARENT);
    CHECK(count >= 4);
    prof_stats_free(stats);
    char *text = summary_of(trace);
    CHECK(text && strstr(text, "1 call of these still open") && strstr(text, "nothing lost"));
    CHECK(text && strstr(text, "emptied into statistics") && strstr(text, "recording cost"));
    CHECK(text && strstr(text, "\ncounter") && strstr(text, "\nframe"));
    free(text);
    prof_trace_close(trace);
    PROFILE_END("run");
    trace = trace_stop();
    CHECK_EQUAL(prof_stats(trace, PROF_SORT_NAME, 0, &stats, &count), PROF_OK);
    run = stat_of(stats, count, "run");
    work = stat_of(stats, count, "work");
    CHECK(run && run->count == 1 && !run->truncated && work && run->total_ns >= work->total_ns);
    CHECK(run && near_to((double)run->total_ns, (double)run->sum_ns, 0, 0));
    prof_stats_free(stats);
    CHECK_EQUAL(prof_trace_about(trace)->open, 0);
    CHECK_EQUAL(prof_trace_about(trace)->complete, 1);
    prof_trace_close(trace);
    text = trace_file_text(path, NULL);
    CHECK(text && strstr(text, "work") && !strstr(text, "still open"));
    free(text);
    unlink(path);
}

static void *stats_thread(void *unused)
{
    (void)unused;
    for (int i = 0; i < 5000; ++i) statistics_work(i);
    return NULL;
}

TEST(stats_mode_counts_all_threads)
{
    prof_config config = stats_config(512 << 10);
    prof_stat *stats;
    size_t count;
    uint64_t all = 0, most = (uint64_t)trace_times(3, 8, 200);
    trace_start(&config);
    for (uint64_t wave = 0; wave < most; ++wave) {
        pthread_t threads[4];
        for (int i = 0; i < 4; ++i) threads[i] = started(stats_thread, NULL);
        for (int i = 0; i < 4; ++i) join(threads[i]);
        all += 4 * 5000;
        prof_trace *trace = trace_live();
        CHECK_EQUAL(prof_trace_about(trace)->lost, 0);
        CHECK_EQUAL(prof_stats(trace, PROF_SORT_NAME, 0, &stats, &count), PROF_OK);
        CHECK(stat_of(stats, count, "work") && stat_of(stats, count, "work")->count == all);
        CHECK(stat_of(stats, count, "half") && stat_of(stats, count, "half")->count == all / 2);
        prof_stats_free(stats);
        prof_trace_close(trace);
    }
    CHECK_EQUAL(prof_stop(), PROF_OK);
}

TEST(stats_mode_counts_what_is_lost) /* without waiting, a burst that the service cannot follow loses events */
{
    prof_config config = stats_config(128 << 10);
    prof_stat *stats;
    size_t count;
    CHECK_EQUAL(prof_config_set(&config, "wait", "0"), PROF_OK);
    trace_start(&config);
    prof__follow *f = prof__state.session->follow;
    PROFILE_BLOCK("work") {} /* has its chunk */
    prof__lock(&f->lock);    /* the service is late */
    uint64_t scopes = 0, kept = 0;
    for (; scopes < 100000; ++scopes) PROFILE_BLOCK("work") {}
    prof__unlock(&f->lock);
    prof_trace *trace = trace_live();
    CHECK_EQUAL(prof_stats(trace, PROF_SORT_NAME, 0, &stats, &count), PROF_OK);
    CHECK(prof_trace_about(trace)->lost > 50000);
    for (size_t i = 0; i < count; ++i) /* two call sites have the name */
        if (!strcmp(stats[i].name, "work")) kept += stats[i].count;
    CHECK_EQUAL(kept + prof_trace_about(trace)->lost, scopes + 1);
    char *text = summary_of(trace);
    CHECK(text && strstr(text, "lost in a full buffer"));
    free(text);
    prof_stats_free(stats);
    prof_trace_close(trace);
    CHECK_EQUAL(prof_stop(), PROF_OK);
}

/*-- PROF_RING_STATS -------------------------------------------------------------------------------------------------*/

static prof_config ring_stats_config(size_t buffer)
{
    prof_config config = trace_config(buffer);
    config.mode = PROF_RING_STATS;
    return config;
}

static uint64_t calls_of(const prof_trace *trace, const char *name)
{
    prof_stat *stats;
    size_t count;
    CHECK_EQUAL(prof_stats(trace, PROF_SORT_NAME, 0, &stats, &count), PROF_OK);
    const prof_stat *stat = stat_of(stats, count, name);
    uint64_t calls = stat ? stat->count : 0;
    prof_stats_free(stats);
    return calls;
}

/* All are in the tables, the newest are there as events, and it is said which. */
TEST(ring_with_statistics)
{
    prof_config config = ring_stats_config(256 << 10);
    long turns = trace_times(20000, 60000, 3000000);
    const char *path = trace_path("ring_stats.csv");
    config.output = path;
    unlink(path);
    trace_start(&config);
    for (long i = 0; i < turns; ++i) {
        PROFILE_SCOPE("work");
        PROFILE_ARG_I("i", i);
    }
    PROFILE_LOG(PROF_LOG_ERROR, "a message");
    prof_trace *trace = trace_stop();
    const prof_trace_info *about = prof_trace_about(trace);
    CHECK_EQUAL(about->mode, PROF_RING_STATS);
    CHECK_EQUAL(about->lost, 0);
    CHECK_EQUAL(about->unmatched, 0);
    CHECK_EQUAL(about->folded, turns + 1);
    CHECK_EQUAL(calls_of(trace, "work"), turns);
    CHECK(about->overwritten_chunks > 0 && about->event_count < (uint64_t)turns && about->event_count > 100);
    trace_list list = trace_read(trace, 0);
    long first = -1, wrong = 0;
    for (size_t i = 0; i < list.count; ++i) {
        if (list.events[i].type != PROF_EVENT_SCOPE || !list.events[i].arg_count) continue;
        if (first < 0) first = (long)(list.events[i].args[0].value.as.i - (int64_t)i);
        wrong += list.events[i].args[0].value.as.i != (int64_t)i + first;
    }
    CHECK_EQUAL(wrong, 0);
    CHECK_EQUAL(first + (long)list.count, turns + 1); /* up to the last, which the message follows */
    trace_free(&list);
    char *text = summary_of(trace), count[64];
    prof__grouped(count, (uint64_t)turns + 1);
    CHECK(text && strstr(text, count) && strstr(text, "the newest ") && strstr(text, "statistics are of all"));
    CHECK(text && strstr(text, "in the statistics only") && strstr(text, "reused as a ring, statistics of everything"));
    CHECK(text && strstr(text, "a message"));
    free(text);
    int64_t from = about->duration_ns / 2; /* of a window it knows the events only */
    CHECK_EQUAL(prof_trace_set_window(trace, from, 0), PROF_OK);
    CHECK(calls_of(trace, "work") <= about->event_count);
    prof_trace_close(trace);
    text = trace_file_text(path, NULL);
    CHECK(text && strstr(text, "work"));
    free(text);
    unlink(path);
}

TEST(ring_with_statistics_of_all_threads)
{
    prof_config config = ring_stats_config(512 << 10);
    uint64_t all = 0, most = (uint64_t)trace_times(2, 5, 100);
    trace_start(&config);
    for (uint64_t wave = 0; wave < most; ++wave) {
        pthread_t threads[4];
        for (int i = 0; i < 4; ++i) threads[i] = started(stats_thread, NULL);
        for (int i = 0; i < 4; ++i) join(threads[i]);
        all += 4 * 5000;
        prof_trace *trace = trace_live();
        CHECK_EQUAL(prof_trace_about(trace)->lost, 0);
        CHECK_EQUAL(calls_of(trace, "work"), all);
        CHECK_EQUAL(calls_of(trace, "half"), all / 2);
        CHECK(prof_trace_about(trace)->event_count > 0);
        trace_check(trace);
        prof_trace_close(trace);
    }
    CHECK_EQUAL(prof_stop(), PROF_OK);
}

/* A small recording is all there: tables of events and of statistics say the same, and nothing is noted. */
TEST(ring_with_statistics_that_is_not_full)
{
    prof_config config = ring_stats_config(1 << 20);
    trace_start(&config);
    for (int i = 0; i < 100; ++i) statistics_work(i);
    prof_device *device = prof_device_create("d", NULL);
    prof_device_row *row = device ? prof_device_row_create(device, "r") : NULL;
    if (row) prof_device_scope(row, "of a device", 100, 200);
    prof_trace *trace = trace_stop();
    CHECK_EQUAL(calls_of(trace, "work"), 100);
    CHECK_EQUAL(calls_of(trace, "half"), 50);
    CHECK_EQUAL(calls_of(trace, "of a device"), row ? 1 : 0);
    CHECK_EQUAL(prof_trace_about(trace)->overwritten_chunks, 0);
    char *text = summary_of(trace);
    CHECK(text && !strstr(text, "the newest ") && strstr(text, "nothing lost"));
    free(text);
    prof_trace_close(trace);
    prof_reset();
}

/* What is lost all the same is counted, and all of it. */
TEST(ring_with_statistics_counts_what_is_lost)
{
    prof_config config = ring_stats_config(128 << 10);
    CHECK_EQUAL(prof_config_set(&config, "wait", "0"), PROF_OK);
    trace_start(&config);
    prof__follow *f = prof__state.session->follow;
    PROFILE_BLOCK("first") {}
    prof__lock(&f->lock); /* the service is late */
    uint64_t scopes = 0;
    for (; scopes < 100000; ++scopes) PROFILE_BLOCK("work") {}
    prof__unlock(&f->lock);
    prof_trace *trace = trace_stop();
    CHECK(prof_trace_about(trace)->lost > 50000);
    CHECK_EQUAL(calls_of(trace, "work") + prof_trace_about(trace)->lost, scopes);
    CHECK_EQUAL(prof_trace_about(trace)->overwritten_chunks, 0); /* nothing is reused that was not counted */
    prof_trace_close(trace);
}

static void *brief_thread(void *unused)
{
    (void)unused;
    PROFILE_SCOPE("brief");
    statistics_work(1);
    return NULL;
}

TEST(stats_mode_memory_is_constant)
{
    prof_config config = stats_config(1 << 20);
    long before = 0, turns = trace_times(2, 5, 100);
    trace_start(&config);
    for (long turn = 0; turn < turns; ++turn) {
        for (long i = 0; i < trace_times(20000, 100000, 100000); ++i) statistics_work((int)i);
        for (int i = 0; i < trace_times(100, 300, 300); ++i) join(started(brief_thread, NULL));
        prof_trace *trace = trace_live();
        prof_trace_close(trace);
        if (turn == turns / 2) before = trace_resident();
    }
    long grown = trace_resident() - before;
    printf("     %ld turns: %ld KiB more\n", turns, grown / 1024);
    if (!TRACE_SANITIZER) CHECK(grown < 512 * 1024);
    CHECK_EQUAL(prof_stop(), PROF_OK);
    prof_trace *trace = trace_live();
    CHECK_EQUAL(prof_trace_about(trace)->lost, 0);
    prof_trace_close(trace);
}

TEST(stats_mode_has_limits)
{
    prof_config config = stats_config(1 << 20);
    prof_stat *stats;
    size_t count;
    uint64_t names = 0, other = 0;
    trace_start(&config);
    for (int i = 0; i < 2 * PROF__FOLLOW_ROWS; ++i) {
        char text[32];
        snprintf(text, sizeof text, "name %d", i);
        PROFILE_SCOPE_DYNAMIC(text);
    }
    for (int i = 0; i < 2 * PROF__FOLLOW_DEPTH; ++i) { /* far too deep */
        static prof_site site = {0, "deep", "", "", "", 0, 0, 1, PROF__KIND_BEGIN, 0, 0, 0};
        if (prof__live(&site)) prof__begin(&site);
    }
    prof_trace *trace = trace_stop();
    CHECK_EQUAL(prof_stats(trace, PROF_SORT_NAME, 0, &stats, &count), PROF_OK);
    CHECK(count <= PROF__FOLLOW_ROWS);
    for (size_t i = 0; i < count; ++i) {
        if (!strcmp(stats[i].name, "(more scopes)")) other = stats[i].count - stats[i].truncated;
        if (!strncmp(stats[i].name, "name ", 5)) names += stats[i].count;
    }
    CHECK_EQUAL(names + other, 2 * PROF__FOLLOW_ROWS);
    CHECK(other >= PROF__FOLLOW_ROWS);
    prof_stats_free(stats);
    prof_trace_close(trace);
}

TEST(stats_mode_writes_no_events)
{
    prof_config config = stats_config(1 << 20);
    static const char *const refused[] = {"stats.prof", "stats.json", "stats.csv"};
    for (size_t i = 0; i < 3; ++i) {
        config.output = trace_path(refused[i]);
        CHECK_EQUAL(prof_start(&config), PROF_INVALID_ARGUMENT);
        CHECK(strstr(prof_error(), "stats") && strstr(prof_error(), ".txt"));
        CHECK_EQUAL(trace_file_size(config.output), -1);
    }
    config.output = NULL;
    trace_start(&config);
    statistics_work(1);
    for (size_t i = 0; i < 3; ++i) {
        CHECK_EQUAL(prof_save(trace_path(refused[i])), PROF_INVALID_ARGUMENT);
        CHECK_EQUAL(prof_save_last_ns(trace_path(refused[i]), PROF_SECOND), PROF_INVALID_ARGUMENT);
    }
    prof_trace *trace = trace_live();
    CHECK_EQUAL(prof_trace_write(trace, trace_path("stats.csv"), NULL), PROF_INVALID_ARGUMENT);
    CHECK(strstr(prof_error(), "stats.csv") && strstr(prof_error(), ".txt"));
    prof_trace_close(trace);
    const char *path = trace_path("stats_saved.txt");
    CHECK_EQUAL(prof_save(path), PROF_OK);
    char *text = trace_file_text(path, NULL);
    CHECK(text && strstr(text, "work"));
    free(text);
    CHECK_EQUAL(prof_save_last_ns(path, PROF_SECOND), PROF_OK);
    text = trace_file_text(path, NULL);
    CHECK(text && strstr(text, "work") && !strstr(text, "window"));
    free(text);
    CHECK_EQUAL(prof_stop(), PROF_OK);
}

/*-- triggers --------------------------------------------------------------------------------------------------------*/

static void remove_saved(const char *pattern) /* with %d */
{
    char path[512];
    for (int i = 0; i < 20; ++i) {
        snprintf(path, sizeof path, pattern, i);
        unlink(path);
    }
}

static prof_trace *saved(const char *path)
{
    prof_trace *trace = NULL;
    WAIT_UNTIL(trace_file_size(path) > 0); /* it appears when it is complete */
    CHECK_EQUAL(prof_trace_open(path, &trace), PROF_OK);
    return trace;
}

/* A text file has its name while it is written, where the system cannot rename a file that is open (Windows). */
static int has_text(const char *path, const char *words)
{
    char *text = trace_file_text(path, NULL);
    int has = text && strstr(text, words) != NULL;
    free(text);
    return has;
}

/* How many events of all tracks have a name that begins like this. */
static size_t named_like(const prof_trace *trace, const char *name)
{
    size_t count = 0;
    for (size_t i = 0; trace && i < prof_trace_track_count(trace); ++i) {
        trace_list list = trace_read(trace, i);
        for (size_t j = 0; j < list.count; ++j) count += !strncmp(list.events[j].name, name, strlen(name));
        trace_free(&list);
    }
    return count;
}

static void frames(int count, long ms)
{
    for (int i = 0; i < count; ++i) {
        PROFILE_FRAME("frame");
        PROFILE_SCOPE("render");
        if (ms) pause_ms(ms);
    }
    PROFILE_FRAME("frame");
}

TEST(a_slow_frame_saves)
{
    prof_config config = trace_config(1 << 20);
    config.save = TRACE_FOLDER "/slow-%c.prof";
    config.save_over = "frame>30ms";
    remove_saved(TRACE_FOLDER "/slow-%d.prof");
    trace_start(&config);
    PROFILE_THREAD("game");
    frames(10, 0);
    frames(1, 40);
    prof_trace *trace = saved(TRACE_FOLDER "/slow-1.prof");
    if (trace) {
        trace_list list = trace_read(trace, trace_track_named(trace, "game"));
        int64_t longest = 0;
        for (size_t i = 0; i < list.count; ++i)
            if (list.events[i].type == PROF_EVENT_FRAME && list.events[i].duration_ns > longest)
                longest = list.events[i].duration_ns;
        CHECK(longest > 30000000); /* the frame itself is in it */
        trace_free(&list);
        CHECK_EQUAL(named_like(trace, "save: frame "), 1);
        list = trace_read(trace, trace_track_named(trace, "prof"));
        CHECK(list.count > 0);
        for (size_t i = 0; i < list.count; ++i)
            if (!strncmp(list.events[i].name, "save: frame ", 12)) CHECK(strstr(list.events[i].name, "ms > 30 ms") != NULL);
        trace_free(&list);
    }
    prof_trace_close(trace);
    frames(1, 40); /* save_every_ns is 0: only one */
    CHECK_EQUAL(prof_stop(), PROF_OK);
    CHECK_EQUAL(trace_file_size(TRACE_FOLDER "/slow-2.prof"), -1);
    trace = trace_live();
    CHECK_EQUAL(named_like(trace, "save: "), 1);
    prof_trace_close(trace);
}

static char *saved_text(const char *path)
{
    size_t size;
    char *text = trace_file_text(path, &size);
    CHECK(text != NULL);
    return text;
}

/* A watcher that is late saves what it names all the same, and says what the buffer holds no more. */
TEST(a_save_has_its_cause)
{
    static const char note[] = "late 1 ms > 0 ms; asked for 10.00 s, the buffer held ";
    prof_config config = trace_config(256 << 10);
    prof__cause cause;
    const char *value = NULL;
    trace_start(&config);
    memset(&cause, 0, sizeof cause);
    strcpy(cause.text, "late 1 ms > 0 ms");
    pause_ms(2);
    cause.from = prof__now(prof__state.session, 0);
    {
        PROFILE_SCOPE("slow");
        pause_ms(1);
    }
    cause.to = prof__now(prof__state.session, 0);
    pause_ms(2);
    prof_trace *trace = NULL;
    CHECK_EQUAL(prof__last_save(trace_path("cause.prof"), 1e-9, &cause), PROF_OK);
    CHECK_EQUAL(prof_trace_open(trace_path("cause.prof"), &trace), PROF_OK);
    trace_list list = trace_read(trace, 0);
    const prof_event *slow = trace_find(&list, "slow");
    CHECK(prof_trace_about(trace)->from_ns > 1000000);
    CHECK(slow && !slow->flags && slow->duration_ns >= 1000000);
    CHECK(prof_trace_metadata(trace, 0, NULL, &value) && !strcmp(value, "late 1 ms > 0 ms"));
    trace_free(&list);
    prof_trace_close(trace);
    CHECK_EQUAL(prof__last_save(trace_path("cause.txt"), 10, &cause), PROF_OK);
    char *text = saved_text(trace_path("cause.txt"));
    CHECK(text && strstr(text, "\n  save      late 1 ms > 0 ms\n"));
    free(text);
    for (int i = 0; i < 100000; ++i) PROFILE_BLOCK("flood") continue;
    CHECK_EQUAL(prof__last_save(trace_path("cause.txt"), 10, &cause), PROF_OK);
    text = saved_text(trace_path("cause.txt"));
    CHECK(text && !strstr(text, "slow") && strstr(text, note) && strstr(text, ": its begin is gone by ") &&
          strstr(text, ", and its end, too\n"));
    free(text);
    CHECK_EQUAL(prof__last_save(trace_path("cause.prof"), 10, &cause), PROF_OK);
    CHECK_EQUAL(prof_trace_open(trace_path("cause.prof"), &trace), PROF_OK);
    CHECK(prof_trace_metadata(trace, 0, NULL, &value) && !strncmp(value, note, strlen(note)));
    prof_trace_close(trace);
    CHECK_EQUAL(prof_stop(), PROF_OK);
}

/* 0: the scope that does nothing has itself been held up, so that it may have been slow, too. */
static int slow_scopes_save(void)
{
    prof_config config = trace_config(1 << 20);
    config.save = TRACE_FOLDER "/scope-%c.json";
    config.save_over = "frame:no such>1ns,scope:net.*>200ms";
    config.save_every_ns = 1;
    remove_saved(TRACE_FOLDER "/scope-%d.json");
    trace_start(&config);
    frames(3, 0);
    PROFILE_BLOCK("disk.read") pause_ms(250); /* no rule for it */
    const double before = test_seconds();
    PROFILE_BLOCK("net.send") {}
    if (test_seconds() - before > 0.19) { /* less than its limit: the clocks are two */
        CHECK_EQUAL(prof_stop(), PROF_OK);
        return 0;
    }
    PROFILE_BLOCK("net.recv") pause_ms(250);
    WAIT_UNTIL(has_text(TRACE_FOLDER "/scope-1.json", "\"net.recv\""));
    WAIT_UNTIL(has_text(TRACE_FOLDER "/scope-1.json", "save: net.recv "));
    PROFILE_BLOCK("net.send") pause_ms(250); /* and again, because save_every_ns lets it */
    WAIT_UNTIL(has_text(TRACE_FOLDER "/scope-2.json", "save: net.send "));
    CHECK_EQUAL(prof_stop(), PROF_OK);
    CHECK_EQUAL(trace_file_size(TRACE_FOLDER "/scope-3.json"), -1);
    return 1;
}

TEST(a_slow_scope_saves_json)
{
    while (!slow_scopes_save()) continue;
}

TEST(saves_keep_their_distance)
{
    prof_config config = trace_config(1 << 20);
    config.save = TRACE_FOLDER "/far-%c.prof";
    config.save_over = "scope:slow>1ms";
    config.save_every_ns = 3600 * PROF_SECOND;
    remove_saved(TRACE_FOLDER "/far-%d.prof");
    trace_start(&config);
    for (int i = 0; i < 20; ++i) PROFILE_BLOCK("slow") pause_ms(2);
    prof_trace_close(saved(TRACE_FOLDER "/far-1.prof"));
    CHECK_EQUAL(prof_save_request(), PROF_OK); /* who asks is not held back */
    prof_trace_close(saved(TRACE_FOLDER "/far-2.prof"));
    for (int i = 0; i < 20; ++i) PROFILE_BLOCK("slow") pause_ms(2);
    CHECK_EQUAL(prof_stop(), PROF_OK);
    CHECK_EQUAL(trace_file_size(TRACE_FOLDER "/far-3.prof"), -1);
}

TEST(a_request_saves_the_last_seconds)
{
    prof_config config = trace_config(4 << 20);
    config.save = TRACE_FOLDER "/asked-%c-%p.prof";
    /* The mark that tells of the save is in it, even if the service is held up behind it. */
    config.save_last_ns = PROF_SECOND / 2;
    char path[256];
    snprintf(path, sizeof path, TRACE_FOLDER "/asked-1-%ld.prof", (long)getpid());
    unlink(path);
    CHECK_EQUAL(prof_save_request(), PROF_INVALID_STATE);
    trace_start(&config);
    PROFILE_BEGIN("all the time");
    PROFILE_BLOCK("long ago") {}
    pause_ms(600);
    PROFILE_BLOCK("just now") {}
    CHECK_EQUAL(prof_save_request(), PROF_OK);
    prof_trace *trace = saved(path);
    CHECK_EQUAL(named_like(trace, "save: request"), 1);
    CHECK_EQUAL(named_like(trace, "long ago"), 0);
    CHECK_EQUAL(named_like(trace, "all the time"), 1);
    CHECK(trace && prof_trace_about(trace)->from_ns > 0);
    prof_trace_close(trace);
    CHECK_EQUAL(prof_stop(), PROF_OK);
    CHECK_EQUAL(prof_save_request(), PROF_INVALID_STATE);
    CHECK(prof_save_request() == PROF_INVALID_STATE);
    unlink(path);
}

TEST(a_request_just_before_the_end_is_heard)
{
    prof_config config = trace_config(1 << 20);
    config.save = trace_path("end.prof");
    for (int i = 0; i < 10; ++i) {
        unlink(config.save);
        trace_start(&config);
        PROFILE_BLOCK("something") {}
        CHECK_EQUAL(prof_save_request(), PROF_OK);
        CHECK_EQUAL(prof_stop(), PROF_OK);
        CHECK(trace_file_size(config.save) > 0);
    }
}

/* A writer of a file that takes as long as the test says. */
static sem_t slow_begun, slow_end;
static int slow_holds; /* atomic; 1: it waits */
static prof_status slow_write(void *user, const prof_trace *trace, prof_sink sink)
{
    (void)user, (void)trace, (void)sink;
    if (!__atomic_exchange_n(&slow_holds, 0, __ATOMIC_ACQ_REL)) return PROF_OK;
    sem_post(&slow_begun);
    while (sem_wait(&slow_end)) continue;
    return PROF_OK;
}

/* prof's thread writes what up to now was recorded, to the path that a call names, also without config.save. */
TEST(a_request_names_its_file_and_time)
{
    prof_config config = trace_config(4 << 20);
    char paths[3][300];
    for (int i = 0; i < 3; ++i) {
        snprintf(paths[i], sizeof paths[i], "%s/asked-%d.prof", TRACE_FOLDER, i);
        unlink(paths[i]);
    }
    CHECK_EQUAL(prof_save_request_ns(paths[0], PROF_SECOND), PROF_INVALID_STATE);
    trace_start(&config);
    CHECK_EQUAL(prof_save_request_ns(paths[0], PROF_SECOND), PROF_INVALID_STATE); /* nobody listens */
    CHECK(strstr(prof_error(), "save_last_ns") != NULL);
    CHECK_EQUAL(prof_stop(), PROF_OK);
    config.save_last_ns = PROF_SECOND;
    trace_start(&config);
    CHECK_EQUAL(prof_save_request(), PROF_INVALID_STATE); /* there is no file for this one */
    CHECK_EQUAL(prof_save_request_ns(NULL, 1), PROF_INVALID_ARGUMENT);
    CHECK(strstr(prof_error(), "prof_save_request_ns: path") != NULL);
    CHECK_EQUAL(prof_save_request_ns(paths[0], 0), PROF_INVALID_ARGUMENT);
    CHECK_EQUAL(prof_save_request_ns("nothing.unknown", PROF_SECOND), PROF_INVALID_ARGUMENT);
    PROFILE_BEGIN("all the time");
    PROFILE_BLOCK("long ago") {}
    pause_ms(1200);
    PROFILE_BLOCK("just now") {}
    CHECK_EQUAL(prof_save_request_ns(paths[0], PROF_SECOND), PROF_OK);
    prof_trace *trace = saved(paths[0]);
    CHECK_EQUAL(named_like(trace, "just now"), 1);
    CHECK_EQUAL(named_like(trace, "long ago"), 0);
    CHECK_EQUAL(named_like(trace, "all the time"), 1);
    CHECK(trace && prof_trace_about(trace)->from_ns > 0);
    prof_trace_close(trace);
    /* All requests are heard, also just before the end. */
    CHECK_EQUAL(prof_save_request_ns(paths[1], PROF_SECOND), PROF_OK);
    CHECK_EQUAL(prof_save_request_ns(paths[2], PROF_SECOND), PROF_OK);
    CHECK_EQUAL(prof_stop(), PROF_OK);
    CHECK(trace_file_size(paths[1]) > 0 && trace_file_size(paths[2]) > 0);
    CHECK_EQUAL(prof_save_request_ns(paths[0], PROF_SECOND), PROF_INVALID_STATE);
    for (int i = 0; i < 3; ++i) unlink(paths[i]);
}

/* The thread is held up: the window begins before the request, not before the save. */
TEST(a_request_means_its_own_moment)
{
    static prof_writer slow = {".slow", slow_write, NULL, NULL, NULL};
    prof_config config = trace_config(1 << 20);
    char first[300], second[300];
    snprintf(first, sizeof first, "%s", trace_path("moment.slow"));
    snprintf(second, sizeof second, "%s", trace_path("moment.prof"));
    config.save_last_ns = PROF_SECOND;
    prof_writer_register(&slow);
    CHECK(!sem_init(&slow_begun, 0, 0) && !sem_init(&slow_end, 0, 0));
    __atomic_store_n(&slow_holds, 1, __ATOMIC_RELEASE);
    trace_start(&config);
    CHECK_EQUAL(prof_save_request_ns(first, PROF_SECOND), PROF_OK);
    while (sem_wait(&slow_begun)) continue; /* now it writes */
    PROFILE_BLOCK("just now") {}
    CHECK_EQUAL(prof_save_request_ns(second, PROF_SECOND), PROF_OK);
    pause_ms(1200);
    sem_post(&slow_end);
    CHECK_EQUAL(prof_stop(), PROF_OK);
    prof_trace *trace = saved(second);
    CHECK_EQUAL(named_like(trace, "just now"), 1);
    prof_trace_close(trace);
    prof_writer_unregister(&slow);
}

static volatile sig_atomic_t own_handler_ran;
static void own_handler(int number)
{
    (void)number;
    ++own_handler_ran;
}

TEST(a_signal_saves)
{
    prof_config config = trace_config(1 << 20);
    struct sigaction own, now;
    config.save = TRACE_FOLDER "/signal-%c.prof";
    CHECK_EQUAL(prof_config_set(&config, "save_signal", "SIGUSR1"), PROF_OK);
    remove_saved(TRACE_FOLDER "/signal-%d.prof");
    for (int round = 0; round < 2; ++round) { /* without a handler of the program's, and with one */
        memset(&own, 0, sizeof own);
        own.sa_handler = round ? own_handler : SIG_DFL;
        sigaction(SIGUSR1, &own, NULL);
        own_handler_ran = 0;
        trace_start(&config);
        PROFILE_BLOCK("something") {}
        raise(SIGUSR1);
        prof_trace *trace = saved(TRACE_FOLDER "/signal-1.prof");
        CHECK_EQUAL(named_like(trace, "save: signal"), 1);
        CHECK_EQUAL(named_like(trace, "something"), 1);
        prof_trace_close(trace);
        CHECK_EQUAL(own_handler_ran, round);
        raise(SIGUSR1);
        prof_trace_close(saved(TRACE_FOLDER "/signal-2.prof"));
        CHECK_EQUAL(prof_stop(), PROF_OK);
        sigaction(SIGUSR1, NULL, &now);
        CHECK(now.sa_handler == own.sa_handler); /* it is back */
        remove_saved(TRACE_FOLDER "/signal-%d.prof");
    }
    CHECK_EQUAL(own_handler_ran, 2);
}

TEST(a_handler_on_top_stays)
{
    prof_config config = trace_config(1 << 20);
    struct sigaction own, ours, now;
    config.save = trace_path("top.prof");
    config.save_signal = SIGUSR2;
    memset(&own, 0, sizeof own);
    own.sa_handler = own_handler;
    sigaction(SIGUSR2, &own, NULL);
    own_handler_ran = 0;
    trace_start(&config);
    own.sa_handler = SIG_IGN;
    sigaction(SIGUSR2, &own, &ours);
    CHECK_EQUAL(prof_stop(), PROF_OK);
    sigaction(SIGUSR2, NULL, &now);
    CHECK(now.sa_handler == SIG_IGN); /* whoever came later keeps it */
    sigaction(SIGUSR2, &ours, NULL);  /* and may put back what it found */
    raise(SIGUSR2);
    CHECK_EQUAL(own_handler_ran, 1);
    unlink(config.save);
    trace_start(&config);
    raise(SIGUSR2);
    CHECK_EQUAL(own_handler_ran, 2);
    WAIT_UNTIL(trace_file_size(config.save) > 0);
    own.sa_handler = SIG_IGN;
    sigaction(SIGUSR2, &own, NULL);
    CHECK_EQUAL(prof_stop(), PROF_OK);
    signal(SIGUSR2, SIG_DFL); /* then nobody calls ours any more */
    unlink(config.save);
    trace_start(&config);
    raise(SIGUSR2);
    WAIT_UNTIL(trace_file_size(config.save) > 0);
    CHECK_EQUAL(prof_stop(), PROF_OK);
    signal(SIGUSR2, SIG_DFL);
}

/* Chunks are emptied while a file is written, so that threads which may wait for one need not. */
static void check_writing_holds_nobody(prof_config config, const char *output, const char *save)
{
    static prof_writer slow = {".slow", slow_write, NULL, NULL, NULL};
    uint64_t calls = 0;
    prof_writer_register(&slow);
    CHECK(!sem_init(&slow_begun, 0, 0) && !sem_init(&slow_end, 0, 0));
    __atomic_store_n(&slow_holds, 1, __ATOMIC_RELEASE);
    config.output = trace_path(output);
    if (save) config.save = trace_path(save);
    if (!save) config.dump_period_ns = 10000000;
    config.wait_ns = 10000000000; /* then events are lost */
    trace_start(&config);
    if (save) CHECK_EQUAL(prof_save_request(), PROF_OK);
    while (sem_wait(&slow_begun)) continue; /* now it writes */
    for (; calls < 40 * (config.buffer_size / 16); ++calls) PROFILE_BLOCK("work") {}
    prof_trace *trace = trace_live();
    CHECK_EQUAL(prof_trace_about(trace)->lost, 0);
    if (config.mode != PROF_STREAM) CHECK_EQUAL(calls_of(trace, "work"), calls);
    prof_trace_close(trace);
    sem_post(&slow_end);
    CHECK_EQUAL(prof_stop(), PROF_OK);
    prof_writer_unregister(&slow);
}

TEST(a_dump_holds_nobody) { check_writing_holds_nobody(ring_stats_config(256 << 10), "dump.slow", NULL); }
TEST(a_save_holds_nobody) { check_writing_holds_nobody(ring_stats_config(256 << 10), "save.csv", "hold-%c.slow"); }
TEST(a_save_of_a_stream_holds_nobody)
{
    prof_config config = trace_config(256 << 10);
    config.mode = PROF_STREAM;
    check_writing_holds_nobody(config, "save.prof", "hold-%c.slow");
}

TEST(a_failed_save_is_told)
{
    prof_config config = trace_config(1 << 20);
    const char *folder = trace_path("gone");
    char path[300];
    snprintf(path, sizeof path, "%s/save.json", folder);
    mkdir(folder, 0777);
    config.save = path;
    trace_start(&config);
    rmdir(folder);
    trace_write_file(folder, "in the way", 10);
    CHECK_EQUAL(prof_save_request(), PROF_OK);
    prof_trace *trace = NULL;
    CHECK_EQUAL(prof_stop(), PROF_OK);
    trace = trace_live();
    CHECK_EQUAL(prof_trace_about(trace)->write_failures, 1);
    CHECK(strstr(prof_trace_about(trace)->write_error, "gone") != NULL);
    CHECK_EQUAL(unlink(folder), 0);
    prof_trace_close(trace);
}

TEST(bad_configurations_are_refused)
{
    static const char *const rules[] = {"frame",  "frame>",        "frame>fast",  ">2ms",       "scope>2ms", "scope:>2ms",
                                        "2ms",    "frame>1ms;x",   "net.recv>2ms", "frames>2ms", "frame>2ms,,",
                                        "frame>16", "scope:a>0.5", /* of what? */
                                        "scope:a name that is far too long for a rule of this kind>1ms"};
    prof_config config = trace_config(1 << 20);
    config.save = trace_path("bad.prof");
    for (size_t i = 0; i < sizeof rules / sizeof *rules; ++i) {
        config.save_over = rules[i];
        CHECK_EQUAL(prof_start(&config), PROF_INVALID_ARGUMENT);
        CHECK(strstr(prof_error(), "save_over") != NULL);
    }
    config.save_over = "frame>1s";
    config.save = NULL;
    CHECK_EQUAL(prof_start(&config), PROF_INVALID_ARGUMENT);
    CHECK(strstr(prof_error(), "save") != NULL);
    config.save_over = NULL;
    config.save_signal = 10;
    CHECK_EQUAL(prof_start(&config), PROF_INVALID_ARGUMENT);
    config.save = trace_path("bad.prof");
    config.save_signal = SIGKILL;
    CHECK_EQUAL(prof_start(&config), PROF_INVALID_ARGUMENT);
    CHECK(strstr(prof_error(), "save_signal") != NULL);
    config.save_signal = 0;
    config.save_every_ns = UINT64_MAX;
    CHECK_EQUAL(prof_start(&config), PROF_INVALID_ARGUMENT);
    config.save_every_ns = 0;
    config.save = "bad.unknown";
    CHECK_EQUAL(prof_start(&config), PROF_INVALID_ARGUMENT);
    config.save = "bad-%x.prof";
    CHECK_EQUAL(prof_start(&config), PROF_INVALID_ARGUMENT);
    config.save = "/dev/null/folder/bad.prof";
    CHECK_EQUAL(prof_start(&config), PROF_IO);
    config.save = NULL;
    config.output = "bad-%c.json";
    CHECK_EQUAL(prof_start(&config), PROF_INVALID_ARGUMENT);
}

TEST(the_configuration_as_text)
{
    prof_config config;
    memset(&config, 0, sizeof config);
    CHECK_EQUAL(prof_config_set(&config, "save", "s-%c.prof"), PROF_OK);
    CHECK_TEXT(config.save, "s-%c.prof");
    CHECK_EQUAL(prof_config_set(&config, "save_over", "frame>16.7ms"), PROF_OK);
    CHECK_TEXT(config.save_over, "frame>16.7ms");
    CHECK_EQUAL(prof_config_set(&config, "save_last", "2.5"), PROF_OK);
    CHECK_EQUAL(config.save_last_ns, 2500000000u);
    CHECK_EQUAL(prof_config_set(&config, "save_last", "500ms"), PROF_OK);
    CHECK_EQUAL(config.save_last_ns, 500000000u);
    CHECK_EQUAL(prof_config_set(&config, "save_every", "30s"), PROF_OK);
    CHECK_EQUAL(config.save_every_ns, 30 * PROF_SECOND);
    CHECK_EQUAL(prof_config_set(&config, "save_signal", "USR2"), PROF_OK);
    CHECK_EQUAL(config.save_signal, SIGUSR2);
    CHECK_EQUAL(prof_config_set(&config, "save_signal", "12"), PROF_OK);
    CHECK_EQUAL(config.save_signal, 12);
    CHECK_EQUAL(prof_config_set(&config, "save_last", "soon"), PROF_INVALID_ARGUMENT);
    CHECK_EQUAL(prof_config_set(&config, "save_last", "0"), PROF_INVALID_ARGUMENT);
    CHECK_EQUAL(prof_config_set(&config, "save_every", "often"), PROF_INVALID_ARGUMENT);
    CHECK_EQUAL(prof_config_set(&config, "save_signal", "SIGUSR3"), PROF_INVALID_ARGUMENT);
    CHECK_EQUAL(prof_config_set(&config, "save_signal", "99"), PROF_INVALID_ARGUMENT);
    CHECK_EQUAL(prof_config_set(&config, "mode", "stats"), PROF_OK);
    CHECK_EQUAL(config.mode, PROF_STATS);
}

TEST_MAIN
