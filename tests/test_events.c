/* Events with an object: recorded, packed, read back with their names and values; and all tracks in order of time. */
/* run: optimised */
#include "../prof_read.h"
#include "test.h"
#include "trace.h"
#include <pthread.h>

#define EVENT(name, type, detail, object)                                                                  \
    PROF__STATEMENT(PROF__KIND_EVENT, name, "events", 1, prof__event(&PROF__HERE, type, detail, object))

enum { ROUNDS = 3000 };

/* One round: nine records with which nothing but events can be confused. */
static void record_round(uint64_t i)
{
    PROFILE_SCOPE("around");
    EVENT("span", PROF_EVENT_SPAN_BEGIN, 0, i);
    EVENT("block", PROF_EVENT_ALLOC, PROF__EVENT_DETAIL_MAX - i, ~i);
    PROFILE_MARK("between");
    EVENT("span", PROF_EVENT_SPAN_END, i, i << 32);
}

static void check_round(const trace_list *list, size_t at, uint64_t i)
{
    const prof_event *e = list->events + at;
    CHECK_EQUAL(e[0].type, PROF_EVENT_SCOPE);
    CHECK_EQUAL(e[1].type, PROF_EVENT_SPAN_BEGIN);
    CHECK_TEXT(e[1].name, "span");
    CHECK_TEXT(e[1].site->category, "events");
    CHECK_EQUAL(e[1].object, i);
    CHECK_EQUAL(e[1].depth, 1);
    CHECK_EQUAL(e[2].type, PROF_EVENT_ALLOC);
    CHECK(e[2].detail == PROF__EVENT_DETAIL_MAX - i);
    CHECK(e[2].object == ~i);
    CHECK_EQUAL(e[3].type, PROF_EVENT_MARK);
    CHECK_EQUAL(e[4].type, PROF_EVENT_SPAN_END);
    CHECK_EQUAL(e[4].detail, i);
    CHECK(e[4].object == i << 32);
    for (int k = 1; k < 5; ++k) CHECK(e[k].start_ns >= e[k - 1].start_ns);
}

static void check_rounds(prof_trace *trace)
{
    trace_list list = trace_read(trace, 0);
    CHECK_EQUAL(list.count, ROUNDS * 5);
    for (uint64_t i = 0; i < ROUNDS && i * 5 + 4 < list.count; ++i) check_round(&list, i * 5, i);
    trace_free(&list);
}

TEST(in_memory)
{
    prof_config config = trace_config(4u << 20);
    CHECK_EQUAL(prof_start(&config), PROF_OK);
    for (uint64_t i = 0; i < ROUNDS; ++i) record_round(i);
    CHECK_EQUAL(prof_stop(), PROF_OK);
    prof_trace *trace = NULL;
    CHECK_EQUAL(prof_trace_open_live(&trace), PROF_OK);
    check_rounds(trace);
    prof_trace_close(trace);
}

TEST(packed)
{
    const char *path = trace_path("events.prof");
    prof_config config = trace_config(128u << 10);
    config.mode = PROF_STREAM;
    config.output = path;
    config.wait_ns = 10000000000u;
    CHECK_EQUAL(prof_start(&config), PROF_OK);
    for (uint64_t i = 0; i < ROUNDS; ++i) record_round(i);
    CHECK_EQUAL(prof_stop(), PROF_OK);
    prof_trace *trace = NULL;
    CHECK_EQUAL(prof_trace_open(path, &trace), PROF_OK);
    size_t track = 0;
    while (track < prof_trace_track_count(trace) && !strcmp(prof_trace_track(trace, track)->name, "prof")) ++track;
    CHECK_EQUAL(track, 0);
    check_rounds(trace);
    prof_trace_close(trace);
}

/*-- order of time --*/

enum { THREADS = 6, EACH = 5000 };

static void record_number(uint64_t track, uint64_t i) { EVENT("number", PROF_EVENT_FLOW_STEP, track, i); }

static void *record_numbers(void *number)
{
    for (uint64_t i = 0; i < EACH; ++i) record_number((uint64_t)(size_t)number, i);
    return NULL;
}

static int go_on;
static void *record_until_told(void *track) /* the number of the track; at the end, how many events it has */
{
    uint64_t *number = (uint64_t *)track, i = 0;
    for (; __atomic_load_n(&go_on, __ATOMIC_RELAXED); ++i) record_number(*number, i);
    *number = i;
    return NULL;
}

static void *record_one(void *unused)
{
    record_number(2, 0);
    return unused;
}

TEST(all_tracks_in_order_of_time)
{
    prof_config config = trace_config(8u << 20);
    pthread_t threads[THREADS];
    uint64_t next[THREADS] = {0}, count = 0;
    int64_t before = 0;
    CHECK_EQUAL(prof_start(&config), PROF_OK);
    for (size_t i = 0; i < THREADS; ++i) {
        CHECK(!pthread_create(&threads[i], NULL, record_numbers, (void *)i));
        if (i % 2) CHECK(!pthread_join(threads[i], NULL)); /* some one after another, some side by side */
    }
    for (size_t i = 0; i < THREADS; i += 2) CHECK(!pthread_join(threads[i], NULL));
    CHECK_EQUAL(prof_stop(), PROF_OK);
    prof_trace *trace = NULL;
    prof_timeline *timeline = NULL;
    prof_event event;
    size_t track;
    CHECK_EQUAL(prof_trace_open_live(&trace), PROF_OK);
    CHECK_EQUAL(prof_timeline_open(trace, &timeline), PROF_OK);
    while (prof_timeline_next(timeline, &event, &track)) {
        CHECK(event.start_ns >= before);
        before = event.start_ns;
        CHECK(track < prof_trace_track_count(trace));
        CHECK(event.detail < THREADS);
        if (event.detail < THREADS) CHECK_EQUAL(event.object, next[event.detail]++);
        ++count;
    }
    CHECK_EQUAL(prof_timeline_close(timeline), PROF_OK);
    CHECK_EQUAL(count, THREADS * EACH);
    prof_trace_close(trace);
}

/* Each thread that comes looks at the call site again. Those that record there meanwhile lose nothing by it, also where
   the state of a site takes two stores. */
TEST(threads_come_while_others_record)
{
    const long coming = trace_times(200, 1000, 1000);
    prof_config config = trace_config(16u << 20);
    pthread_t steady[2], thread;
    uint64_t made[2], next[2] = {0};
    CHECK_EQUAL(prof_start(&config), PROF_OK);
    __atomic_store_n(&go_on, 1, __ATOMIC_RELAXED);
    for (uint64_t i = 0; i < 2; ++i) {
        made[i] = i;
        CHECK(!pthread_create(&steady[i], NULL, record_until_told, &made[i]));
    }
    for (long i = 0; i < coming; ++i) {
        CHECK(!pthread_create(&thread, NULL, record_one, NULL));
        CHECK(!pthread_join(thread, NULL));
    }
    __atomic_store_n(&go_on, 0, __ATOMIC_RELAXED);
    for (size_t i = 0; i < 2; ++i) CHECK(!pthread_join(steady[i], NULL));
    CHECK_EQUAL(prof_stop(), PROF_OK);
    prof_trace *trace = trace_live();
    for (size_t track = 0; track < prof_trace_track_count(trace); ++track) {
        trace_list list = trace_read(trace, track);
        for (size_t i = 0; i < list.count && test_failures < 20; ++i) {
            const prof_event *event = &list.events[i];
            if (event->type != PROF_EVENT_FLOW_STEP || event->detail > 1) continue;
            if (i && list.events[i - 1].type == event->type) CHECK_EQUAL(event->object, next[event->detail]);
            next[event->detail] = event->object + 1;
        }
        trace_free(&list);
    }
    for (size_t i = 0; i < 2; ++i) CHECK_EQUAL(next[i], made[i]);
    prof_trace_close(trace);
}

TEST(a_timeline_left_early)
{
    prof_config config = trace_config(1u << 20);
    prof_timeline *timeline = NULL;
    prof_trace *trace = NULL;
    prof_event event;
    CHECK_EQUAL(prof_timeline_open(NULL, &timeline), PROF_INVALID_ARGUMENT);
    CHECK_EQUAL(prof_timeline_next(NULL, &event, NULL), 0);
    CHECK_EQUAL(prof_timeline_close(NULL), PROF_OK);
    CHECK_EQUAL(prof_start(&config), PROF_OK);
    record_round(1);
    CHECK_EQUAL(prof_stop(), PROF_OK);
    CHECK_EQUAL(prof_trace_open_live(&trace), PROF_OK);
    CHECK_EQUAL(prof_timeline_open(trace, &timeline), PROF_OK);
    CHECK_EQUAL(prof_timeline_next(timeline, &event, NULL), 1);
    CHECK_TEXT(event.name, "around");
    CHECK_EQUAL(prof_timeline_close(timeline), PROF_OK);
    prof_trace_close(trace);
}

TEST_MAIN
