/* Devices: events with times of clocks of their own, wherever and whenever they are reported, on the trace's time
   line. */
#include "private.h"
#include "test.h"
#include "trace.h"
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define FLOW_OUT(id)                                                                                       \
    PROF__STATEMENT(PROF__KIND_EVENT, "launch", "host", 1, prof__event(&PROF__HERE, PROF_EVENT_FLOW_OUT, 0, id))

static uint64_t random_state;
static uint64_t random_number(void) /* xorshift64* */
{
    random_state ^= random_state >> 12;
    random_state ^= random_state << 25;
    random_state ^= random_state >> 27;
    return random_state * 0x2545F4914F6CDD1Du;
}
static void seed(void)
{
    const char *given = getenv("PROF_TEST_SEED");
    random_state = given ? strtoull(given, NULL, 10) : (uint64_t)time(NULL) * 1000003u + (uint64_t)getpid();
    random_state |= 1;
    printf("     seed: PROF_TEST_SEED=%llu\n", (unsigned long long)random_state);
}

/* The track of a device's row; tests have few. */
static const prof_track *row_of(const prof_trace *trace, const char *device, const char *row, size_t *index)
{
    for (*index = 0; *index < prof_trace_track_count(trace); ++*index) {
        const prof_track *track = prof_trace_track(trace, *index);
        if (!strcmp(track->device, device) && !strcmp(track->name, row)) return track;
    }
    return NULL;
}

static trace_list row_events(const prof_trace *trace, const char *device, const char *row)
{
    trace_list none = {NULL, 0, NULL, 0};
    size_t index;
    const prof_track *track = row_of(trace, device, row, &index);
    CHECK(track != NULL);
    return track ? trace_read(trace, index) : none;
}

static size_t device_tracks(const prof_trace *trace)
{
    size_t count = 0;
    for (size_t i = 0; i < prof_trace_track_count(trace); ++i) count += *prof_trace_track(trace, i)->device != 0;
    return count;
}

/*-- clocks, against an independent computation --*/

typedef struct point {
    uint64_t ticks;
    int64_t ns; /* since the session's start */
} point;

/* Where ticks belong on the line through a and b. */
static long double on_line(const point *a, const point *b, uint64_t ticks)
{
    long double distance = ticks < a->ticks ? -(long double)(a->ticks - ticks) : (long double)(ticks - a->ticks);
    return (long double)a->ns + distance * (long double)(b->ns - a->ns) / (long double)(b->ticks - a->ticks);
}

static long double on_points(const point *points, size_t count, uint64_t ticks)
{
    size_t i = 0;
    if (ticks < points[0].ticks) /* the first second or more, else the whole */
        return points[1].ns - points[0].ns >= 1000000000 ? on_line(points, points + 1, ticks)
                                                         : on_line(points, points + count - 1, ticks);
    while (i + 1 < count && points[i + 1].ticks <= ticks) ++i;
    if (i + 1 < count) return on_line(points + i, points + i + 1, ticks);
    point from = points[count - 1].ns - points[count - 2].ns >= 1000000000 ? points[count - 2] : points[0];
    long double slope = (long double)(points[count - 1].ns - from.ns) / (long double)(points[count - 1].ticks - from.ticks);
    return (long double)points[count - 1].ns + (long double)(ticks - points[count - 1].ticks) * slope;
}

static void check_ns(int64_t ns, long double wanted)
{
    long double off = (long double)ns - wanted;
    if (off < -0.51L || off > 0.51L) printf("     %lld instead of %.3Lf\n", (long long)ns, wanted);
    CHECK(off >= -0.51L && off <= 0.51L);
}

enum { OFFERED = 40, PLACES = 400 };

/* A drifting clock with pairs at distances from a microsecond to ten seconds, given in any order, some twice. */
TEST(mapped_exactly_through_many_pairs)
{
    prof_config config = trace_config(4u << 20);
    prof_device_clock clock = {0, 0, 0};
    prof_device *device = prof_device_create("drifting", &clock);
    prof_device_row *row = prof_device_row_create(device, "queue");
    point points[OFFERED];
    uint64_t begins[PLACES], lengths[PLACES], ticks;
    seed();
    trace_start(&config);
    uint64_t base = prof_host_ns() + 1000000000u, host = base;
    ticks = random_number() >> 2;
    for (int i = 0; i < OFFERED; ++i) {
        uint64_t ns = 1000 + random_number() % (i % 3 ? 10000000000u : 100000u);
        host += ns;
        ticks += ns / 1000 * (1300 + random_number() % 40) / 1000 + 1; /* 1.3 to 1.34 ticks a microsecond */
        points[i].ticks = ticks;
        points[i].ns = (int64_t)host;
    }
    for (int i = 0; i < OFFERED; ++i) {
        int at = (i * 7) % OFFERED;
        CHECK_EQUAL(prof_device_sync(device, points[at].ticks, (uint64_t)points[at].ns), PROF_OK);
        if (i % 5 == 0) prof_device_sync(device, points[at].ticks, (uint64_t)points[at].ns);
    }
    uint64_t span = points[OFFERED - 1].ticks - points[0].ticks;
    for (int i = 0; i < PLACES; ++i) { /* 2 ticks apart and more, so that none overlap, and beyond both ends */
        begins[i] = points[0].ticks - 100000 + (span + 5000000) / PLACES * (uint64_t)i;
        lengths[i] = random_number() % ((span + 5000000) / PLACES);
    }
    for (int i = 0; i < PLACES; ++i) {
        int at = (i * 149) % PLACES;
        prof_device_scope(row, "work", begins[at], begins[at] + lengths[at]);
    }
    prof_trace *trace = trace_stop();
    uint64_t start = prof_trace_about(trace)->start_monotonic_ns;
    for (int i = 0; i < OFFERED; ++i) points[i].ns -= (int64_t)start;
    size_t index;
    const prof_track *track = row_of(trace, "drifting", "queue", &index);
    CHECK(track != NULL);
    if (track) {
        CHECK_EQUAL(track->alignment, PROF_ALIGN_PAIRS);
        CHECK_EQUAL(track->pairs, OFFERED);
        CHECK_EQUAL(track->pairs_refused, 0);
        CHECK_EQUAL(track->early, 0);
        CHECK_EQUAL(track->event_count, PLACES);
        trace_list list = trace_read(trace, index);
        CHECK_EQUAL(list.count, PLACES);
        for (size_t i = 0; i < list.count && i < PLACES; ++i) {
            check_ns(list.events[i].start_ns, on_points(points, OFFERED, begins[i]));
            check_ns(trace_end(&list.events[i]), on_points(points, OFFERED, begins[i] + lengths[i]));
            CHECK_EQUAL(list.events[i].flags, 0);
        }
        trace_free(&list);
    }
    prof_trace_close(trace);
}

TEST(one_pair_and_a_rate)
{
    prof_config config = trace_config(1u << 20);
    prof_device_clock clock = {250000000, 0, 0}; /* 4 ns a tick */
    prof_device *device = prof_device_create("one pair", &clock);
    prof_device_row *row = prof_device_row_create(device, "q");
    trace_start(&config);
    uint64_t base = prof_host_ns();
    CHECK_EQUAL(prof_device_sync(device, ~(uint64_t)0 - 10, base + 1000000), PROF_OK); /* 64 bits do not wrap */
    prof_device_scope(row, "early", ~(uint64_t)0 - 1010, ~(uint64_t)0 - 10);
    prof_device_mark(row, "late", ~(uint64_t)0);
    prof_trace *trace = trace_stop();
    int64_t pair = (int64_t)(base + 1000000 - prof_trace_about(trace)->start_monotonic_ns);
    size_t index;
    const prof_track *track = row_of(trace, "one pair", "q", &index);
    CHECK(track && track->alignment == PROF_ALIGN_RATE && track->pairs == 1 && track->device_hz == 250000000);
    trace_list list = row_events(trace, "one pair", "q");
    CHECK_EQUAL(list.count, 2);
    CHECK_EQUAL(list.events[0].start_ns, pair - 4000);
    CHECK_EQUAL(list.events[0].duration_ns, 4000);
    CHECK_EQUAL(list.events[1].start_ns, pair + 40);
    trace_free(&list);
    prof_trace_close(trace);
}

TEST(without_pairs_it_is_a_guess_and_says_so)
{
    prof_config config = trace_config(1u << 20);
    prof_device_clock clock = {1000000, 0, 0};
    prof_device_row *known = prof_device_row_create(prof_device_create("no pair", &clock), "q");
    prof_device *half = prof_device_create("no rate", NULL);
    prof_device_row *unknown = prof_device_row_create(half, "q");
    trace_start(&config);
    uint64_t before = prof_host_ns();
    prof_device_scope(known, "first", 5000000, 5000007);
    uint64_t after = prof_host_ns();
    prof_device_scope(known, "second", 5000010, 5000012);
    CHECK_EQUAL(prof_device_sync(half, 100, before), PROF_OK);
    prof_device_scope(unknown, "x", 150, 160);
    prof_trace *trace = trace_stop();
    uint64_t start = prof_trace_about(trace)->start_monotonic_ns;
    size_t index;
    const prof_track *track = row_of(trace, "no pair", "q", &index);
    CHECK(track && track->alignment == PROF_ALIGN_GUESS && track->pairs == 0 && track->device_hz == 1000000);
    trace_list list = row_events(trace, "no pair", "q");
    CHECK_EQUAL(list.count, 2);
    CHECK_EQUAL(list.events[0].duration_ns, 7000);
    CHECK_EQUAL(list.events[1].start_ns - trace_end(&list.events[0]), 3000);
    CHECK_EQUAL(list.events[1].duration_ns, 2000);
    if (!list.events[0].flags) { /* else it began before the session */
        CHECK(trace_end(&list.events[0]) + 2000 >= (int64_t)(before - start));
        CHECK(trace_end(&list.events[0]) - 2000 <= (int64_t)(after - start));
    }
    trace_free(&list);
    track = row_of(trace, "no rate", "q", &index);
    CHECK(track && track->alignment == PROF_ALIGN_GUESS && track->pairs == 1 && track->device_hz == 0);
    list = row_events(trace, "no rate", "q");
    CHECK_EQUAL(list.count, 1);
    CHECK_EQUAL(list.events[0].start_ns, (int64_t)(before - start) + 50);
    CHECK_EQUAL(list.events[0].duration_ns, 10);
    trace_free(&list);
    prof_trace_close(trace);
}

/* Counters of 32 bits that wrap 50 ms after the beginning, and between the pairs many times. */
static void wrapped(const char *name, uint64_t hz)
{
    enum { COUNT = 200 };
    prof_config config = trace_config(1u << 20);
    prof_device_clock clock = {hz, 32, 0};
    prof_device *device = prof_device_create(name, &clock);
    prof_device_row *row = prof_device_row_create(device, "q");
    trace_start(&config);
    uint64_t base = prof_host_ns() + 1000000, zero = ((uint64_t)1 << 32) - 50000000; /* ticks at base: ns */
    const uint32_t high = 0xFFFFFFFFu;
    CHECK_EQUAL(prof_device_sync(device, zero & high, base), PROF_OK);
    for (int i = 1; i < 5; ++i) {
        uint64_t later = (uint64_t)i * (hz ? 100000000000u : 3000000000u);
        CHECK_EQUAL(prof_device_sync(device, (zero + later) & high, base + later), PROF_OK);
    }
    for (uint64_t i = COUNT; i--;) {
        uint64_t from = zero + i * 1000000;
        prof_device_scope(row, "w", from & high, (from + 999999) & high);
    }
    prof_trace *trace = trace_stop();
    int64_t first = (int64_t)(base - prof_trace_about(trace)->start_monotonic_ns);
    trace_list list = row_events(trace, name, "q");
    CHECK_EQUAL(list.count, COUNT);
    for (size_t i = 0; i < list.count; ++i) {
        CHECK_EQUAL(list.events[i].start_ns, first + (int64_t)i * 1000000);
        CHECK_EQUAL(list.events[i].duration_ns, 999999);
    }
    trace_free(&list);
    prof_trace_close(trace);
}
TEST(a_counter_that_wraps) { wrapped("wraps, known rate", 1000000000); }
TEST(a_counter_that_wraps_of_unknown_rate) { wrapped("wraps, unknown rate", 0); }

TEST(pairs_that_go_backwards_are_refused)
{
    prof_config config = trace_config(1u << 20);
    prof_device *device = prof_device_create("backwards", NULL);
    prof_device_row *row = prof_device_row_create(device, "q");
    trace_start(&config);
    uint64_t base = prof_host_ns();
    prof_device_sync(device, 1000, base);
    prof_device_sync(device, 500, base + 1000000000u);             /* the device's clock does */
    prof_device_sync(device, 3000, base);                          /* two ticks at one time */
    prof_device_sync(device, 2000001000, base + 2000000000u);
    prof_device_scope(row, "a", 1000001000, 1000002000);
    prof_trace *trace = trace_stop();
    size_t index;
    const prof_track *track = row_of(trace, "backwards", "q", &index);
    CHECK(track != NULL);
    if (track) {
        CHECK_EQUAL(track->pairs, 2);
        CHECK_EQUAL(track->pairs_refused, 2);
        CHECK_EQUAL(track->alignment, PROF_ALIGN_PAIRS);
    }
    trace_list list = row_events(trace, "backwards", "q");
    CHECK_EQUAL(list.count, 1);
    CHECK_EQUAL(list.events[0].start_ns, (int64_t)(base - prof_trace_about(trace)->start_monotonic_ns) + 1000000000);
    CHECK_EQUAL(list.events[0].duration_ns, 1000);
    trace_free(&list);
    prof_trace_close(trace);
}

TEST(unix_times)
{
    prof_config config = trace_config(1u << 20);
    prof_device_clock clock = {1000000000, 0, 1};
    prof_device *device = prof_device_create("unix", &clock);
    prof_device_row *row = prof_device_row_create(device, "q");
    struct timespec now;
    trace_start(&config);
    uint64_t before = prof_host_ns();
    clock_gettime(CLOCK_REALTIME, &now);
    uint64_t after = prof_host_ns();
    prof_device_sync(device, 7, (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec);
    prof_device_mark(row, "m", 7);
    prof_trace *trace = trace_stop();
    trace_list list = row_events(trace, "unix", "q");
    CHECK_EQUAL(list.count, 1);
    int64_t at = list.events[0].start_ns + (int64_t)prof_trace_about(trace)->start_monotonic_ns;
    CHECK(at > (int64_t)before - 1000000 && at < (int64_t)after + 1000000);
    trace_free(&list);
    prof_trace_close(trace);
}

/*-- events --*/

TEST(all_that_an_event_can_have)
{
    prof_config config = trace_config(1u << 20);
    prof_device_clock clock = {1000000000, 0, 0};
    prof_device *device = prof_device_create("full", &clock);
    prof_device_row *row = prof_device_row_create(device, "engine");
    static const char *const keys[] = {"int", "uint", "double", "bool", "pointer", "a key that is longer than a word", "none"};
    prof_arg args[7];
    char text[3000], long_name[3000];
    memset(args, 0, sizeof args);
    for (int i = 0; i < 7; ++i) args[i].key = keys[i];
    args[0].value.type = PROF_VALUE_INT;
    args[0].value.as.i = INT64_MIN;
    args[1].value.type = PROF_VALUE_UINT;
    args[1].value.as.u = UINT64_MAX;
    args[2].value.type = PROF_VALUE_DOUBLE;
    args[2].value.as.d = -0.125;
    args[3].value.type = PROF_VALUE_BOOL;
    args[3].value.as.u = 1;
    args[4].value.type = PROF_VALUE_POINTER;
    args[4].value.as.u = 0x1234;
    args[5].value.type = PROF_VALUE_STRING;
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = 0;
    args[5].value.as.string = text;
    memset(long_name, 'n', sizeof long_name);
    long_name[sizeof long_name - 1] = 0;
    CHECK(prof_device_create("full", NULL) == device);
    CHECK(prof_device_row_create(device, "engine") == row);
    trace_start(&config);
    uint64_t base = prof_host_ns();
    prof_device_sync(device, 1000, base);
    {
        PROFILE_SCOPE("host");
        FLOW_OUT(77);
        prof_device_event event;
        memset(&event, 0, sizeof event);
        event.name = "kernel";
        event.start = 2000;
        event.end = 3000;
        event.flow = 77;
        event.args = args;
        event.arg_count = 7;
        prof_device_record(row, &event);
        PROFILE_MARK("host mark"); /* DATA of the device must not be taken for this one's, or for the scope's */
        PROFILE_ARG_I("host arg", 5);
        event.type = PROF_EVENT_COUNTER;
        event.name = "watts";
        event.start = 2100;
        event.value.type = PROF_VALUE_DOUBLE;
        event.value.as.d = 3.5;
        event.flow = 0;
        event.args = NULL;
        prof_device_record(row, &event);
        prof_device_counter(row, "", 2200, INT64_MIN);
        prof_device_counter_double(row, "watts", 2250, 1e300);
        prof_device_mark(row, long_name, 2300);
        prof_device_scope(row, NULL, 2400, 2400);
        prof_device_scope(row, "no end", 2500, 0);
        event.type = PROF_EVENT_FRAME; /* nothing that a device can have */
        prof_device_record(row, &event);
        prof_device_record(row, NULL);
        prof_device_scope(NULL, "x", 1, 2);
    }
    prof_trace *trace = trace_stop();
    int64_t zero = (int64_t)(base - prof_trace_about(trace)->start_monotonic_ns) - 1000;
    trace_list host = trace_read(trace, 0);
    CHECK_EQUAL(host.count, 3);
    CHECK_TEXT(host.events[0].name, "host");
    CHECK_EQUAL(host.events[0].arg_count, 1);
    CHECK_EQUAL(host.events[1].type, PROF_EVENT_FLOW_OUT);
    CHECK_EQUAL(host.events[1].arg_count, 0);
    CHECK_TEXT(host.events[2].name, "host mark");
    CHECK_EQUAL(host.events[2].arg_count, 0);
    trace_free(&host);
    trace_list list = row_events(trace, "full", "engine");
    CHECK_EQUAL(list.count, 8);
    if (list.count == 8) {
        const prof_event *e = list.events;
        CHECK_EQUAL(e[0].type, PROF_EVENT_SCOPE);
        CHECK_TEXT(e[0].name, "kernel");
        CHECK_TEXT(e[0].site->category, "full");
        CHECK_EQUAL(e[0].site->role, PROF_ROLE_DEVICE);
        CHECK_EQUAL(e[0].start_ns, zero + 2000);
        CHECK_EQUAL(e[0].duration_ns, 1000);
        CHECK_EQUAL(e[0].depth, 0);
        CHECK_EQUAL(e[0].arg_count, 7);
        for (uint32_t i = 0; i < 5 && i < e[0].arg_count; ++i) {
            CHECK_TEXT(e[0].args[i].key, keys[i]);
            CHECK_EQUAL(e[0].args[i].value.type, args[i].value.type);
            CHECK(e[0].args[i].value.as.u == args[i].value.as.u);
        }
        CHECK_TEXT(e[0].args[5].key, keys[5]);
        CHECK_EQUAL(e[0].args[5].value.cut, 1);
        CHECK_EQUAL(strlen(e[0].args[5].value.as.string), PROF_MAX_TEXT);
        CHECK_EQUAL(e[0].args[6].value.type, PROF_VALUE_NONE);
        CHECK_EQUAL(e[1].type, PROF_EVENT_FLOW_IN);
        CHECK_EQUAL(e[1].object, 77);
        CHECK_EQUAL(e[1].depth, 1);
        CHECK_EQUAL(e[1].start_ns, zero + 2000);
        CHECK_EQUAL(e[2].type, PROF_EVENT_COUNTER);
        CHECK_EQUAL(e[2].value.type, PROF_VALUE_DOUBLE);
        CHECK(e[2].value.as.d == 3.5);
        CHECK_EQUAL(e[3].value.type, PROF_VALUE_INT);
        CHECK_TEXT(e[3].name, "");
        CHECK(e[3].value.as.i == INT64_MIN);
        CHECK(e[4].value.as.d == 1e300);
        CHECK_EQUAL(e[5].type, PROF_EVENT_MARK);
        CHECK_EQUAL(strlen(e[5].name), PROF_MAX_TEXT);
        CHECK_EQUAL(e[5].start_ns, zero + 2300);
        CHECK_EQUAL(e[6].type, PROF_EVENT_SCOPE);
        CHECK_EQUAL(e[6].duration_ns, 0);
        CHECK_EQUAL(e[6].depth, 1);
        CHECK_TEXT(e[7].name, "no end");
        CHECK_EQUAL(e[7].flags, PROF_TRUNCATED_END);
        CHECK_EQUAL(e[7].start_ns, zero + 2500);
    }
    trace_free(&list);
    prof_trace_close(trace);
}

TEST(bad_arguments)
{
    prof_device_clock wide = {0, 65, 0};
    CHECK(prof_device_create(NULL, NULL) == NULL);
    CHECK(prof_device_create("", NULL) == NULL);
    CHECK(prof_device_create("wide", &wide) == NULL);
    CHECK(strstr(prof_error(), "64 bits") != NULL);
    CHECK(prof_device_row_create(NULL, "q") == NULL);
    CHECK(prof_device_row_create(prof_device_create("plain", NULL), NULL) == NULL);
    CHECK_EQUAL(prof_device_sync(NULL, 1, 2), PROF_INVALID_ARGUMENT);
}

/* Overlapping scopes: no two on a track cross, and each is there, unchanged. */
TEST(overlapping_scopes_go_side_by_side)
{
    enum { COUNT = 3000, AT_ONCE = 20 };
    prof_config config = trace_config(4u << 20);
    prof_device_clock clock = {1000000000, 0, 0};
    prof_device *device = prof_device_create("overlap", &clock);
    prof_device_row *row = prof_device_row_create(device, "streams");
    static unsigned char seen[COUNT];
    memset(seen, 0, sizeof seen);
    seed();
    trace_start(&config);
    prof_device_sync(device, 0, prof_host_ns());
    for (uint64_t i = 0; i < COUNT; ++i) {
        prof_arg arg;
        prof_device_event event;
        memset(&event, 0, sizeof event);
        memset(&arg, 0, sizeof arg);
        arg.key = "i";
        arg.value.type = PROF_VALUE_UINT;
        arg.value.as.u = i;
        event.name = "job";
        event.start = 10000 + i * 100;
        event.end = event.start + 1 + random_number() % (100 * AT_ONCE);
        event.args = &arg;
        event.arg_count = 1;
        prof_device_record(row, &event);
    }
    prof_trace *trace = trace_stop(); /* checks that all nest */
    CHECK(device_tracks(trace) > 5 && device_tracks(trace) <= AT_ONCE);
    uint64_t count = 0;
    for (size_t i = 0; i < prof_trace_track_count(trace); ++i) {
        const prof_track *track = prof_trace_track(trace, i);
        char name[40] = "streams";
        if (!*track->device) continue;
        if (i > prof_trace_track_count(trace) - device_tracks(trace))
            snprintf(name, sizeof name, "streams #%d", (int)(i + device_tracks(trace) - prof_trace_track_count(trace)) + 1);
        CHECK_TEXT(track->name, name);
        trace_list list = trace_read(trace, i);
        for (size_t k = 0; k < list.count; ++k) {
            const prof_value *value = trace_arg(&list.events[k], "i");
            CHECK(value && value->as.u < COUNT && !seen[value->as.u]);
            if (value && value->as.u < COUNT) seen[value->as.u] = 1;
            CHECK_EQUAL(list.events[k].flags, 0);
            ++count;
        }
        trace_free(&list);
    }
    CHECK_EQUAL(count, COUNT);
    prof_trace_close(trace);
}

/* More at once than there are tracks for: cut, and marked. */
TEST(too_many_at_once)
{
    enum { COUNT = 100 };
    prof_config config = trace_config(1u << 20);
    prof_device_clock clock = {1000000000, 0, 0};
    prof_device *device = prof_device_create("crowd", &clock);
    prof_device_row *row = prof_device_row_create(device, "q");
    uint64_t cut = 0, count = 0;
    trace_start(&config);
    prof_device_sync(device, 0, prof_host_ns());
    for (uint64_t i = 0; i < COUNT; ++i) prof_device_scope(row, "x", 1000 + i, 100000 + i);
    prof_trace *trace = trace_stop();
    CHECK_EQUAL(device_tracks(trace), 64);
    for (size_t i = 0; i < prof_trace_track_count(trace); ++i) {
        if (!*prof_trace_track(trace, i)->device) continue;
        trace_list list = trace_read(trace, i);
        for (size_t k = 0; k < list.count; ++k) cut += list.events[k].flags == PROF_TRUNCATED_END;
        count += list.count;
        trace_free(&list);
    }
    CHECK_EQUAL(count, COUNT);
    CHECK_EQUAL(cut, COUNT - 64);
    prof_trace_close(trace);
}

/*-- threads --*/

enum { THREADS = 4, EACH = 4000 };
static prof_device_row *shared_rows[2];

/* Each reports every fourth event of both rows, latest first. */
static void *report(void *number)
{
    for (uint64_t i = EACH; i--;) {
        uint64_t n = i * THREADS + (uint64_t)(size_t)number;
        PROFILE_SCOPE("report");
        prof_device_scope(shared_rows[n % 2], n % 2 ? "odd" : "even", 1000000 + n * 10, 1000000 + n * 10 + 9);
        if (n % 1000 == 0) prof_device_sync(prof_device_create("shared", NULL), n * 10, prof_host_ns());
    }
    return NULL;
}

static void check_shared(const prof_trace *trace)
{
    for (uint64_t r = 0; r < 2; ++r) {
        trace_list list = row_events(trace, "shared", r ? "odd" : "even");
        CHECK_EQUAL(list.count, THREADS * EACH / 2);
        for (size_t i = 0; i < list.count; ++i) {
            CHECK_TEXT(list.events[i].name, r ? "odd" : "even");
            if (i) CHECK(list.events[i].start_ns >= trace_end(&list.events[i - 1]));
            CHECK_EQUAL(list.events[i].depth, 0);
            if (test_failures > 20) break;
        }
        trace_free(&list);
    }
}

static void record_shared(void)
{
    pthread_t threads[THREADS];
    prof_device *device = prof_device_create("shared", NULL);
    shared_rows[0] = prof_device_row_create(device, "even");
    shared_rows[1] = prof_device_row_create(device, "odd");
    uint64_t base = prof_host_ns();
    prof_device_sync(device, 0, base);
    prof_device_sync(device, 2000000000000, base + 2000000000000); /* behind what the threads report, however slow */
    for (size_t i = 0; i < THREADS; ++i) CHECK(!pthread_create(&threads[i], NULL, report, (void *)i));
    for (size_t i = 0; i < THREADS; ++i) CHECK(!pthread_join(threads[i], NULL));
}

TEST(several_threads_out_of_order)
{
    prof_config config = trace_config(16u << 20);
    trace_start(&config);
    record_shared();
    prof_trace *trace = trace_stop();
    CHECK_EQUAL(prof_trace_about(trace)->lost, 0);
    check_shared(trace);
    prof_trace_close(trace);
}

TEST(streamed_and_packed)
{
    const char *path = trace_path("devices.prof");
    prof_config config = trace_config(256u << 10);
    config.mode = PROF_STREAM;
    config.output = path;
    config.wait_ns = 10000000000u;
    trace_start(&config);
    record_shared();
    CHECK_EQUAL(prof_stop(), PROF_OK);
    prof_trace *trace = trace_open_file(path);
    if (!trace) return;
    CHECK_EQUAL(prof_trace_about(trace)->lost, 0);
    check_shared(trace);
    prof_trace_close(trace);
}

/*-- sessions --*/

TEST(handles_and_pairs_outlive_sessions)
{
    prof_config config = trace_config(1u << 20);
    prof_device_clock clock = {0, 0, 0};
    prof_device *device = prof_device_create("lasting", &clock);
    prof_device_row *row = prof_device_row_create(device, "q");
    uint64_t base = prof_host_ns();
    prof_device_sync(device, 5000000, base);
    prof_device_sync(device, 5000000 + 2000000000u, base + 1000000000u); /* two ticks a nanosecond */
    prof_device_scope(row, "nothing records", 1, 2);
    for (int session = 0; session < 3; ++session) {
        trace_start(&config);
        prof_device_scope(row, "before", 5000000 - 2000000, 5000000 - 1000000);
        prof_device_scope(row, "now", 5000000 + 2000000000000u, 5000000 + 2000000002000u); /* 1000 s: after any start */
        prof_trace *trace = trace_stop();
        int64_t zero = (int64_t)(base - prof_trace_about(trace)->start_monotonic_ns);
        size_t index;
        const prof_track *track = row_of(trace, "lasting", "q", &index);
        CHECK(track && track->alignment == PROF_ALIGN_PAIRS && track->pairs == 2 && track->early == 1);
        trace_list list = row_events(trace, "lasting", "q");
        CHECK_EQUAL(list.count, 1);
        if (list.count) {
            CHECK_EQUAL(list.events[0].start_ns, zero + 1000000000000);
            CHECK_EQUAL(list.events[0].duration_ns, 1000);
        }
        trace_free(&list);
        prof_trace_close(trace);
    }
}

TEST(a_scope_that_began_before_the_session)
{
    prof_config config = trace_config(1u << 20);
    prof_device_clock clock = {1000000000, 0, 0};
    prof_device *device = prof_device_create("long", &clock);
    prof_device_row *row = prof_device_row_create(device, "q");
    uint64_t base = prof_host_ns();
    prof_device_sync(device, base, base);
    trace_start(&config);
    prof_device_scope(row, "long", base - 1000000000u, base + 5000000000u);
    prof_trace *trace = trace_stop();
    trace_list list = row_events(trace, "long", "q");
    CHECK_EQUAL(list.count, 1);
    CHECK_EQUAL(list.events[0].start_ns, 0);
    CHECK_EQUAL(list.events[0].flags, PROF_TRUNCATED_BEGIN);
    CHECK_EQUAL(trace_end(&list.events[0]), (int64_t)(base - prof_trace_about(trace)->start_monotonic_ns) + 5000000000);
    trace_free(&list);
    prof_trace_close(trace);
}

/* A ring that has overwritten the chunks with the pairs still has the first and the last ones. */
TEST(pairs_survive_in_a_ring)
{
    enum { PAIRS = 50 };
    prof_config config = trace_config(128u << 10);
    prof_device *device = prof_device_create("ring", NULL);
    prof_device_row *row = prof_device_row_create(device, "q");
    trace_start(&config);
    uint64_t base = prof_host_ns();
    for (uint64_t i = 0; i < PAIRS; ++i) prof_device_sync(device, 100 + i * 3000, base + i * 1000);
    for (uint64_t i = 0; i < 10000; ++i) prof_device_scope(row, "x", 200000 + i * 30, 200000 + i * 30 + 15);
    prof_trace *trace = trace_stop();
    CHECK(prof_trace_about(trace)->overwritten_chunks > 0);
    size_t index;
    const prof_track *track = row_of(trace, "ring", "q", &index);
    CHECK(track && track->alignment == PROF_ALIGN_PAIRS && track->pairs == 8);
    trace_list list = row_events(trace, "ring", "q");
    int64_t zero = (int64_t)(base - prof_trace_about(trace)->start_monotonic_ns);
    CHECK(list.count > 100 && list.count < 10000);
    if (list.count) {
        const prof_event *last = &list.events[list.count - 1];
        check_ns(last->start_ns, (long double)zero + (200000 + 9999 * 30 - 100) / 3.0L);
        CHECK_EQUAL(last->duration_ns, 5);
    }
    trace_free(&list);
    prof_trace_close(trace);
}

TEST(killed)
{
    const char *path = trace_path("devices_killed.prof");
    int ready[2];
    char byte;
    CHECK(!pipe(ready));
    pid_t child = fork();
    if (!child) {
        prof_config config = trace_config(1u << 20);
        prof_device_clock clock = {1000000000, 0, 0};
        prof_device *device = prof_device_create("gpu", &clock);
        prof_device_row *row = prof_device_row_create(device, "compute");
        config.output = path;
        if (prof_start(&config)) _exit(1);
        uint64_t base = prof_host_ns();
        prof_device_sync(device, base, base);
        for (uint64_t i = 0; i < 1000; ++i) prof_device_scope(row, "kernel", base + i * 100, base + i * 100 + 50);
        if (write(ready[1], "x", 1) != 1) _exit(1);
        for (;;) pause();
    }
    CHECK(read(ready[0], &byte, 1) == 1);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    close(ready[0]);
    close(ready[1]);
    prof_trace *trace = trace_open_file(path);
    if (!trace) return;
    trace_list list = row_events(trace, "gpu", "compute");
    CHECK_EQUAL(list.count, 1000);
    for (size_t i = 0; i < list.count; ++i) CHECK_EQUAL(list.events[i].duration_ns, 50);
    trace_free(&list);
    prof_trace_close(trace);
}

TEST(a_child_of_fork_has_them_in_its_own_trace)
{
    const char *path = trace_path("devices_fork.json");
    prof_config config = trace_config(1u << 20);
    prof_device *device = prof_device_create("forked", NULL);
    prof_device_row *row = prof_device_row_create(device, "q");
    int status = -1;
    config.output = path;
    trace_start(&config);
    uint64_t base = prof_host_ns();
    prof_device_sync(device, 0, base);
    prof_device_sync(device, 1000000000, base + 1000000000u);
    prof_device_scope(row, "parent", 100, 200);
    pid_t child = fork();
    if (!child) {
        prof_device_scope(row, "before", 300, 400);
        prof_trace *trace = trace_live();
        size_t index;
        const prof_track *track = row_of(trace, "forked", "q", &index); /* with nothing but what is left out */
        CHECK(track && track->early == 1 && track->event_count == 0);
        prof_trace_close(trace);
        prof_device_scope(row, "child", 900000000000u, 900000000010u);
        prof_device_sync(device, 2000000000, base + 2000000000u);
        trace = trace_stop();
        trace_list list = row_events(trace, "forked", "q");
        CHECK_EQUAL(list.count, 1);
        if (list.count) CHECK_TEXT(list.events[0].name, "child");
        track = row_of(trace, "forked", "q", &index);
        CHECK(track && track->pairs == 3 && track->early == 1);
        _exit(test_failures != 0);
    }
    waitpid(child, &status, 0);
    CHECK_EQUAL(status, 0);
    prof_trace *trace = trace_stop();
    trace_list list = row_events(trace, "forked", "q");
    CHECK_EQUAL(list.count, 1);
    CHECK_TEXT(list.events[0].name, "parent");
    trace_free(&list);
    prof_trace_close(trace);
}

TEST(off_means_off)
{
    prof_config config = trace_config(1u << 20);
    prof_device_row *row = prof_device_row_create(prof_device_create("muted", NULL), "q");
    prof_device_row *other = prof_device_row_create(prof_device_create("heard", NULL), "q");
    config.categories = "-muted";
    trace_start(&config);
    prof_device_scope(row, "no", 1, 2);
    prof_device_scope(other, "yes", 1, 2);
    prof_pause();
    prof_device_scope(other, "no", 3, 4);
    prof_resume();
    prof_trace *trace = trace_stop();
    CHECK_EQUAL(device_tracks(trace), 1);
    trace_list list = row_events(trace, "heard", "q");
    CHECK_EQUAL(list.count, 1);
    trace_free(&list);
    prof_trace_close(trace);
    config = trace_config(1u << 20);
    config.mode = PROF_STATS;
    trace_start(&config);
    prof_device_scope(row, "not in statistics", 1, 2);
    CHECK_EQUAL(prof_stop(), PROF_OK);
    CHECK_EQUAL(prof_trace_open_live(&trace), PROF_OK);
    CHECK_EQUAL(prof_trace_about(trace)->lost, 0);
    CHECK_EQUAL(prof_trace_track_count(trace), 0);
    prof_trace_close(trace);
}

/*-- what reads traces --*/

/* Two devices and a host. device 1: scopes at 100 us to 200 us and 300 us to 400 us; device 2: one, without pairs. */
static prof_trace *small_trace(int64_t *zero)
{
    prof_config config = trace_config(1u << 20);
    prof_device_clock clock = {1000000000, 0, 0};
    prof_device *npu = prof_device_create("npu 0", &clock), *dma = prof_device_create("dma", NULL);
    prof_device_row *a = prof_device_row_create(npu, "queue \"a\""), *b = prof_device_row_create(npu, "b"),
                    *c = prof_device_row_create(dma, "c");
    prof_device_event event;
    trace_start(&config);
    uint64_t base = prof_host_ns();
    prof_device_sync(npu, base, base);
    {
        PROFILE_SCOPE("host work");
        FLOW_OUT(5);
    }
    memset(&event, 0, sizeof event);
    event.name = "conv";
    event.start = base + 100000;
    event.end = base + 200000;
    event.flow = 5;
    prof_device_record(a, &event);
    prof_device_scope(a, "conv", base + 300000, base + 400000);
    prof_device_scope(b, "copy", base + 350000, base + 360000);
    prof_device_counter(b, "bytes", base + 355000, 4096);
    prof_device_scope(c, "dma", 10, 20);
    prof_trace *trace = trace_stop();
    *zero = (int64_t)(base - prof_trace_about(trace)->start_monotonic_ns);
    return trace;
}

TEST(windows)
{
    int64_t zero;
    prof_trace *trace = small_trace(&zero);
    CHECK_EQUAL(prof_trace_set_window(trace, zero + 150000, zero + 350000), PROF_OK);
    trace_list list = row_events(trace, "npu 0", "queue \"a\"");
    CHECK_EQUAL(list.count, 2);
    if (list.count == 2) {
        CHECK_EQUAL(list.events[0].start_ns, zero + 150000);
        CHECK_EQUAL(list.events[0].duration_ns, 50000);
        CHECK_EQUAL(list.events[0].flags, PROF_TRUNCATED_BEGIN);
        CHECK_EQUAL(list.events[1].start_ns, zero + 300000);
        CHECK_EQUAL(list.events[1].duration_ns, 50000);
        CHECK_EQUAL(list.events[1].flags, PROF_TRUNCATED_END);
    }
    trace_free(&list);
    list = row_events(trace, "npu 0", "b");
    CHECK_EQUAL(list.count, 0);
    trace_free(&list);
    prof_trace_close(trace);
}

TEST(timeline_and_statistics)
{
    int64_t zero, before = 0;
    prof_trace *trace = small_trace(&zero);
    prof_timeline *timeline = NULL;
    prof_event event;
    size_t track, on_devices = 0, count = 0, found = 0;
    CHECK_EQUAL(prof_timeline_open(trace, &timeline), PROF_OK);
    while (prof_timeline_next(timeline, &event, &track)) {
        CHECK(event.start_ns >= before);
        before = event.start_ns;
        on_devices += *prof_trace_track(trace, track)->device != 0;
    }
    CHECK_EQUAL(prof_timeline_close(timeline), PROF_OK);
    CHECK_EQUAL(on_devices, 6);
    prof_stat *stats = NULL;
    CHECK_EQUAL(prof_stats(trace, PROF_SORT_TOTAL, 0, &stats, &count), PROF_OK);
    for (size_t i = 0; i < count; ++i) {
        if (strcmp(stats[i].name, "conv")) continue;
        ++found;
        CHECK_EQUAL(stats[i].count, 2);
        CHECK_EQUAL(stats[i].total_ns, 200000);
        CHECK_TEXT(stats[i].site->category, "npu 0");
    }
    CHECK_EQUAL(found, 1);
    prof_stats_free(stats);
    prof_trace_close(trace);
}

static char *written(const prof_trace *trace, const char *name)
{
    const char *path = trace_path(name);
    CHECK_EQUAL(prof_trace_write(trace, path, NULL), PROF_OK);
    return trace_file_text(path, NULL);
}

TEST(written_by_all_exporters)
{
    int64_t zero;
    prof_trace *trace = small_trace(&zero);
    char *csv = written(trace, "devices.csv"), *text = written(trace, "devices.txt"), *json = written(trace, "devices.json");
    CHECK(csv && strstr(csv, ",\"npu 0/queue \"\"a\"\"\",scope,conv,npu 0,") != NULL);
    CHECK(csv && strstr(csv, ",flow_in,") != NULL);
    CHECK(text && strstr(text, "conv") != NULL);
    CHECK(text && strstr(text, "\nnpu 0 ") != NULL);
    CHECK(text && strstr(text, "times are guesses") != NULL);
    CHECK(json && strstr(json, "\"args\":{\"name\":\"npu 0\"}}") != NULL);
    CHECK(json && strstr(json, "\"args\":{\"name\":\"dma (clock not aligned)\"}}") != NULL);
    CHECK(json && strstr(json, "\"args\":{\"name\":\"queue \\\"a\\\"\"}}") != NULL);
    free(csv);
    free(text);
    free(json);
    prof_trace_close(trace);
}

/* What leads to a device's event keeps its name where nothing is known to lead there, and where no scope is around it. */
TEST(flows_from_nowhere)
{
    prof_config config = trace_config(1u << 20);
    prof_device_row *row = prof_device_row_create(prof_device_create("flows", NULL), "row");
    prof_device_event event;
    trace_start(&config);
    memset(&event, 0, sizeof event);
    event.name = "scope";
    event.start = 1000;
    event.end = 2000;
    event.flow = 8;
    prof_device_record(row, &event);
    event.type = PROF_EVENT_MARK;
    event.name = "mark";
    event.start = 3000;
    event.flow = 9;
    prof_device_record(row, &event);
    prof_trace *trace = trace_stop();
    char *json = written(trace, "devices_flows.json");
    const char *alone = json ? strstr(json, "{\"ph\":\"i\",\"name\":\"flow\"") : NULL;
    const char *slice = json ? strstr(json, "{\"ph\":\"X\",\"name\":\"flow\"") : NULL;
    CHECK(alone && strncmp(strstr(alone, "\"args\":{\"flow\":\""), "\"args\":{\"flow\":\"0x8\"", 20) == 0);
    CHECK(slice && strncmp(strstr(slice, "\"args\":{\"flow\":\""), "\"args\":{\"flow\":\"0x9\"", 20) == 0);
    CHECK(json && !strstr(json, "(unnamed)"));
    free(json);
    prof_trace_close(trace);
}

/*-- images that nobody has made --*/

/* Any words in place of those in meta and chunks: what trace_check() checks holds of whatever is read. */
TEST(any_image)
{
    const char *path = trace_path("devices_fuzz.prof");
    prof_config config = trace_config(128u << 10);
    prof_device_clock clock = {1000000000, 32, 0};
    prof_device *wraps = prof_device_create("fuzz 32", &clock), *plain = prof_device_create("fuzz 64", NULL);
    prof_device_row *rows[3];
    long rounds = trace_times(50, 400, 20000);
    size_t size, opened = 0, tracks = 0;
    seed();
    rows[0] = prof_device_row_create(wraps, "a");
    rows[1] = prof_device_row_create(plain, "b");
    rows[2] = prof_device_row_create(plain, "c");
    trace_start(&config);
    uint64_t base = prof_host_ns();
    for (uint64_t i = 0; i < 200; ++i) {
        prof_arg args[2];
        prof_device_event event;
        memset(&event, 0, sizeof event);
        memset(args, 0, sizeof args);
        args[0].key = "text";
        args[0].value.type = PROF_VALUE_STRING;
        args[0].value.as.string = "some text";
        args[1].key = "number";
        args[1].value.type = PROF_VALUE_UINT;
        event.name = i % 2 ? "one" : "another name";
        event.start = i * 1000;
        event.end = i * 1000 + 500 * (i % 5);
        event.flow = i % 7;
        event.args = args;
        event.arg_count = 2;
        prof_device_record(rows[i % 3], &event);
        if (i % 10 == 0) {
            prof_device_sync(wraps, i * 1000, base + i * 1000);
            prof_device_sync(plain, i * 1500, base + i * 1000);
        }
        PROFILE_MARK("host");
    }
    CHECK_EQUAL(prof_save(path), PROF_OK);
    CHECK_EQUAL(prof_stop(), PROF_OK);
    char *image = trace_file_text(path, &size);
    CHECK(image && size > sizeof(prof__header));
    if (!image) return;
    uint64_t *copy = (uint64_t *)malloc(size);
    const prof__header *header = (const prof__header *)(const void *)image;
    while (rounds-- && test_failures <= 20) {
        memcpy(copy, image, size);
        for (uint64_t changes = 1 + random_number() % 8; changes; --changes) {
            uint64_t in_meta = random_number() % 2, words = in_meta ? header->meta_used / 8 : 2000;
            uint64_t *word = copy + (in_meta ? header->meta_offset : header->chunk_offset) / 8 + random_number() % words;
            switch (random_number() % 4) {
            case 0: *word = random_number(); break;
            case 1: *word ^= (uint64_t)1 << random_number() % 64; break;
            case 2: *word = random_number() % 2 ? 0 : ~(uint64_t)0; break;
            default: *word = word[1]; break;
            }
        }
        prof_trace *trace = NULL;
        if (prof_trace_open_memory(copy, size, &trace)) continue;
        trace_check(trace);
        ++opened;
        tracks += device_tracks(trace);
        prof_trace_close(trace);
    }
    CHECK(opened > 0 && tracks > 0);
    free(copy);
    free(image);
}

TEST_MAIN
