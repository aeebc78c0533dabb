/* test_follow.c - time windows, saves of the last seconds, what triggers saves, and statistics without events. */
#define PROF_IMPLEMENTATION
#include "prof_chrome.h"
#include "test.h"
#include "trace.h"
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <unistd.h>

static uint64_t random_state = 88172645463325252u;
static uint64_t random_number(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    return random_state ^= random_state << 17;
}

static void pause_ms(long ms)
{
    struct timespec moment = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&moment, NULL);
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
    CHECK_EQUAL(prof_trace_window(trace, from, to), PROF_OK);
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
    for (int i = 0; i < 100; ++i) {
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
    CHECK_EQUAL(prof_trace_window(trace, fourth->start_ns + 1, seventh->start_ns), PROF_OK);
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
    CHECK_EQUAL(prof_trace_window(trace, 5, 5), PROF_INVALID_ARGUMENT);
    CHECK_EQUAL(prof_trace_window(trace, -1, 5), PROF_INVALID_ARGUMENT);
    CHECK_EQUAL(prof_trace_window(trace, 1, -5), PROF_INVALID_ARGUMENT);
    CHECK_EQUAL(prof_trace_window(NULL, 0, 0), PROF_INVALID_ARGUMENT);
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
    PROFILE_SCOPE_S("and dreams");
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
        trace_list y = {NULL, 0};
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

/* Seconds from the middle of the pause to the end. */
static double since_pause(const prof_trace *trace)
{
    const prof__header *h = prof__state.session->header;
    trace_list list = trace_read(trace, trace_track_named(trace, "main"));
    const prof_event *before = trace_find(&list, "between"), *behind = trace_find(&list, "new");
    int64_t at = before && behind ? before->start_ns + (behind->start_ns - before->start_ns) / 2 : 0;
    CHECK(at > 0);
    trace_free(&list);
    return (double)((int64_t)(h->last.monotonic_ns - h->first.monotonic_ns) - at) * 1e-9;
}

static void check_last(long scopes, int wraps)
{
    prof_config config = trace_config(wraps ? 1 << 20 : 16 << 20);
    trace_start(&config);
    record_two_parts(scopes);
    prof_trace *whole = trace_live(), *part;
    double seconds = since_pause(whole);
    const char *image = trace_path("last.prof"), *all = trace_path("all.prof"), *json = trace_path("last.json");
    CHECK_EQUAL(prof_save_last(image, seconds), PROF_OK);
    CHECK_EQUAL(prof_save(all), PROF_OK);
    CHECK(trace_file_size(image) < trace_file_size(all) / 4);
    CHECK_EQUAL(prof_trace_open(image, &part), PROF_OK);
    int64_t from = prof_trace_about(part)->from_ns;
    CHECK_EQUAL(prof_trace_window(whole, from, 0), PROF_OK);
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
    CHECK_EQUAL(prof_trace_window(part, 0, 0), PROF_OK);
    trace_check(part); /* with what else is in the file */
    prof_trace_close(part);
    CHECK_EQUAL(prof_save_last(json, seconds), PROF_OK);
    char *text = trace_file_text(json, NULL);
    CHECK(text && strstr(text, "\"newest\"") && strstr(text, "\"level\"") && !strstr(text, "\"old\""));
    free(text);
    CHECK_EQUAL(prof_save_last(image, 1e6), PROF_OK); /* more than there is: everything, without a window */
    CHECK_EQUAL(prof_trace_open(image, &part), PROF_OK);
    CHECK_EQUAL(prof_trace_about(part)->from_ns, 0);
    CHECK_EQUAL(prof_trace_window(whole, 0, 0), PROF_OK);
    trace_check(part);
    check_same(whole, part);
    prof_trace_close(part);
    prof_trace_close(whole);
}

TEST(last_seconds) { check_last(100000, 0); }
TEST(last_seconds_of_a_ring_that_came_round) { check_last(300000, 1); }

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
    CHECK_EQUAL(prof_save_last(image, 0.001), PROF_OK);
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
    CHECK_EQUAL(prof_save_last(NULL, 1), PROF_INVALID_ARGUMENT);
    CHECK_EQUAL(prof_save_last(image, 0), PROF_INVALID_ARGUMENT);
    CHECK_EQUAL(prof_save_last(image, -1), PROF_INVALID_ARGUMENT);
    CHECK_EQUAL(prof_save_last("nothing.unknown", 1), PROF_INVALID_ARGUMENT);
    CHECK_EQUAL(prof_reset(), PROF_OK);
    CHECK_EQUAL(prof_save_last(image, 1), PROF_INVALID_STATE);
}

TEST_MAIN
