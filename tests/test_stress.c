/* Everything at once: many threads that come and go, nested scopes, marks, counters and arguments that carry numbers,
   and meanwhile switches, snapshots, saved files, stops and starts. Each event that is found must be one that was made,
   in its place; what is missing must have been switched off, overwritten, or counted as lost.

   PROF_TEST_SEED=n repeats a run's choices, PROF_TEST_LONG=1 takes a minute, PROF_TEST_QUICK=1 is for sanitizers. */
/* run: long optimised */
#include "../prof_read.h"
#include "test.h"
#include "trace.h"
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#define MOST_THREADS 64

/*-- chance --*/

static uint64_t seed;

static uint64_t mixed(uint64_t x) /* SplitMix64's last steps: the same input, the same number */
{
    x += 0x9E3779B97F4A7C15u;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
    x = (x ^ x >> 27) * 0x94D049BB133111EBu;
    return x ^ x >> 31;
}

static void seed_choose(void)
{
    const char *text = getenv("PROF_TEST_SEED");
    if (!seed) seed = text ? strtoull(text, NULL, 0) : mixed((uint64_t)time(NULL) ^ (uint64_t)getpid() << 32) >> 32;
    printf("  PROF_TEST_SEED=%llu\n", (unsigned long long)seed);
}

/*-- what a thread does --
   Its work is numbered: thread << 32 | unit. What a unit consists of follows from that number and the seed alone, so
   the check knows it, too. */

enum { /* what stands in a unit, three bits each, in order, from the unit's shape */
    PART_NONE, PART_SCOPE, PART_LEVEL, PART_CATEGORY, PART_MARK, PART_COUNTER, PART_TEXT, PART_DEEP
};
#define PARTS 6

static uint64_t shape_of(uint64_t number) { return mixed(number ^ seed) & ((1u << 3 * PARTS) - 1); }
static unsigned part_of(uint64_t number, int which) { return (unsigned)(shape_of(number) >> 3 * which & 7); }

/* Odd while something may be switched off. A unit that saw the same even number before and after itself was on. */
static uint32_t phase;
static int over; /* the threads end */

static uint64_t events_made;                    /* and arguments, by threads that have ended */
static uint64_t known_done[MOST_THREADS];       /* the newest unit of a place's thread that was wholly on, + 1 */

static void deep(uint64_t number)
{
    PROFILE_SCOPE("deep 1");
    PROFILE_BLOCK("deep 2")
    {
        PROFILE_BLOCK("deep 3") PROFILE_ARG_U("number", number);
    }
}

/* One part; returns how many events and arguments it makes when all is on. */
static unsigned part_do(unsigned part, uint64_t number)
{
    switch (part) {
    case PART_SCOPE: {
        PROFILE_SCOPE("scope");
        PROFILE_ARG_U("number", number);
        return 2;
    }
    case PART_LEVEL: {
        PROFILE_SCOPE_L("level", 2);
        return 1;
    }
    case PART_CATEGORY: {
        PROFILE_SCOPE_C("category", "stress");
        return 1;
    }
    case PART_MARK: PROFILE_MARK("mark"); return 1;
    case PART_COUNTER: PROFILE_COUNTER("counter", (int64_t)number); return 1;
    case PART_TEXT: {
        PROFILE_SCOPE_F("text %llu", (unsigned long long)number);
        PROFILE_ARG_S("text", "some words of text");
        return 2;
    }
    case PART_DEEP: deep(number); return 4;
    default: return 0;
    }
}

/* on: how many units of this thread were wholly on before this one. */
static unsigned unit_do(uint64_t number, uint64_t on)
{
    unsigned made = 3;
    PROFILE_SCOPE("unit");
    PROFILE_ARG_U("number", number);
    PROFILE_ARG_U("on", on);
    for (int i = 0; i < PARTS; ++i) made += part_do(part_of(number, i), number);
    return made;
}

typedef struct place { /* where one thread after the other lives */
    pthread_t thread;
    int index, running, has_ended;
    uint64_t number;     /* of the thread */
    uint64_t most_units;
} place;

static void *lives(void *of)
{
    place *here = (place *)of;
    uint64_t on = 0, made = 0;
    for (uint64_t i = 0; i < here->most_units && !__atomic_load_n(&over, __ATOMIC_RELAXED); ++i) {
        uint32_t before = __atomic_load_n(&phase, __ATOMIC_ACQUIRE);
        made += unit_do(here->number << 32 | i, on);
#if TRACE_SANITIZER != 2 /* which knows no fences */
        __atomic_thread_fence(__ATOMIC_SEQ_CST); /* who saw a switch thrown sees the phase, too */
#endif
        if (before & 1 || __atomic_load_n(&phase, __ATOMIC_ACQUIRE) != before) continue;
        ++on;
        __atomic_store_n(&known_done[here->index], (here->number << 32 | i) + 1, __ATOMIC_RELEASE);
    }
    __atomic_fetch_add(&events_made, made, __ATOMIC_RELAXED);
    __atomic_store_n(&here->has_ended, 1, __ATOMIC_RELEASE);
    return NULL;
}

static place places[MOST_THREADS];
static int place_count;
static uint64_t thread_count; /* so many were begun */

static void place_fill(place *here, uint64_t units)
{
    here->number = ++thread_count;
    here->most_units = units;
    here->has_ended = 0;
    __atomic_store_n(&known_done[here->index], 0, __ATOMIC_RELEASE); /* now: it may take the thread a while to begin */
    here->running = !pthread_create(&here->thread, NULL, lives, here);
    CHECK(here->running);
}

/* Where a thread has ended, another one begins, which may be a short one. */
static void places_renew(void)
{
    for (int i = 0; i < place_count; ++i) {
        if (!places[i].running || !__atomic_load_n(&places[i].has_ended, __ATOMIC_ACQUIRE)) continue;
        pthread_join(places[i].thread, NULL);
        place_fill(&places[i], mixed(thread_count ^ seed) % 4 ? mixed(thread_count) % 20000 : mixed(thread_count) % 10);
    }
}

static void places_start(int count)
{
    place_count = count;
    over = 0;
    events_made = 0;
    for (int i = 0; i < count; ++i) {
        places[i].index = i;
        place_fill(&places[i], 1000 + mixed(seed + (uint64_t)i) % 20000);
    }
}

static void places_stop(void)
{
    __atomic_store_n(&over, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < place_count; ++i)
        if (places[i].running) pthread_join(places[i].thread, NULL);
    place_count = 0;
}

/*-- the check --*/

typedef struct found { /* in one track */
    uint64_t first, last; /* numbers of units; last < first: none */
    uint64_t count;       /* of events and arguments */
    uint64_t lost;
} found;

static const char *const part_names[] = {"", "scope", "level", "category", "mark", "counter", "", "deep 1"};

/* 1: this event is how this part begins. */
static int part_is(unsigned part, uint64_t number, const prof_event *event)
{
    char text[64];
    switch (part) {
    case PART_NONE: return 0;
    case PART_TEXT: snprintf(text, sizeof text, "text %llu", (unsigned long long)number); return !strcmp(text, event->name);
    case PART_COUNTER: return event->type == PROF_EVENT_COUNTER && event->value.as.u == number;
    case PART_MARK: return event->type == PROF_EVENT_MARK && !strcmp(event->name, "mark");
    default: return event->type == PROF_EVENT_SCOPE && !strcmp(event->name, part_names[part]);
    }
}

/* The events of one unit, which begins with list[0]. whole: it was on all the time and is complete. */
static void check_unit(const prof_event *list, size_t count, uint64_t number, int whole)
{
    int part = -1;
    unsigned level = 0; /* of the deep scopes found */
    size_t found_parts = 0, all_parts = 0;
    for (int i = 0; i < PARTS; ++i) all_parts += part_of(number, i) != PART_NONE;
    for (size_t i = 1; i < count && test_failures < 20; ++i) {
        const prof_event *event = &list[i];
        const prof_value *value = trace_arg(event, "number");
        if (value) CHECK_EQUAL(value->as.u, number);
        if (event->type == PROF_EVENT_LOST) continue;
        if (!strncmp(event->name, "deep ", 5) && strcmp(event->name, "deep 1")) {
            if (whole) {
                CHECK_EQUAL(event->name[5] - '1', level);
                CHECK_EQUAL(event->depth, level + 1);
                CHECK_EQUAL(event->arg_count, level == 2);
            }
            ++level;
            continue;
        }
        do ++part;
        while (part < PARTS && !part_is(part_of(number, part), number, event));
        if (part == PARTS) {
            CHECK_TEXT("an event that was made, in its place", "");
            printf("  %s in unit %llx\n", event->name, (unsigned long long)number);
            return;
        }
        ++found_parts;
        level = 1;
        if (!whole) continue;
        CHECK_EQUAL(event->flags, 0);
        CHECK_EQUAL(event->depth, 1);
        unsigned kind = part_of(number, part);
        CHECK_EQUAL(event->arg_count, kind == PART_SCOPE || kind == PART_TEXT);
        if (kind == PART_TEXT && event->arg_count) CHECK_TEXT(event->args[0].value.as.string, "some words of text");
    }
    if (whole) CHECK_EQUAL(found_parts, all_parts);
}

/* strict: nothing may be missing that was not switched off. */
static found check_one_track(const prof_trace *trace, size_t track, int strict)
{
    found result = {1, 0, 0, 0};
    trace_list list = trace_read(trace, track);
    uint64_t number = 0, on = 0;
    size_t begin = 0, end = 0;
    int truncated_end = 0;
    while (begin < list.count && test_failures < 20) {
        const prof_event *unit = &list.events[begin];
        /* depth 0: its unit's begin is missing */
        for (end = begin + 1; end < list.count && list.events[end].depth; ++end) {
        }
        for (size_t i = begin; i < end; ++i) {
            if (list.events[i].type == PROF_EVENT_LOST)
                result.lost += list.events[i].value.as.u;
            else
                result.count += 1 + list.events[i].arg_count;
            CHECK(!truncated_end || !strict); /* only the last unit lacks its end */
            if (strict && list.events[i].flags & PROF_TRUNCATED_END && end < list.count) truncated_end = 1;
        }
        const prof_value *value = trace_arg(unit, "number"), *on_before = trace_arg(unit, "on");
        if (!strcmp(unit->name, "unit") && value && on_before) {
            if (result.last >= result.first && result.first) {
                CHECK(value->as.u > number);
                CHECK_EQUAL(value->as.u >> 32, number >> 32);
                if (strict) CHECK(on_before->as.u - on <= 1);
            } else {
                result.first = value->as.u;
            }
            number = result.last = value->as.u;
            on = on_before->as.u;
            /* whether it was on all the time shows from the next one, or nothing was switched at all */
            const prof_value *on_after = end < list.count ? trace_arg(&list.events[end], "on") : NULL;
            check_unit(unit, end - begin, number, strict && !unit->flags && on_after && on_after->as.u == on + 1);
        }
        begin = end;
    }
    trace_free(&list);
    return result;
}

/* done: what was known to be there before the trace was taken, null if nobody knows. Returns events and arguments
   found. */
static uint64_t check_all(const prof_trace *trace, const uint64_t *done, int strict)
{
    uint64_t count = 0, lost = 0;
    const prof_trace_info *about = prof_trace_about(trace);
    trace_check(trace);
    /* A macro waits some tenths of a second for a lock. On an overloaded machine its owner may not run for longer. */
    if (about->lost_busy) strict = 0;
    for (size_t i = 0; i < prof_trace_track_count(trace) && test_failures < 20; ++i) {
        found track = check_one_track(trace, i, strict);
        if (strcmp(prof_trace_track(trace, i)->name, "prof")) count += track.count; /* that one is the service's */
        lost += track.lost;
        if (track.last < track.first) continue;
        for (int k = 0; done && k < place_count; ++k)
            if (done[k] && (done[k] - 1) >> 32 == track.first >> 32) CHECK(track.last >= done[k] - 1);
    }
    CHECK(lost <= about->lost);
    if (strict) CHECK_EQUAL(about->lost + about->lost_args, 0);
    if (test_failures)
        printf("  %llu events lost, %llu of them to a lock; %llu blocks lost\n", (unsigned long long)about->lost,
               (unsigned long long)about->lost_busy, (unsigned long long)about->lost_blocks);
    /* Its two arguments are all that is recorded of a unit that was in front of them when recording went on. */
    if (!about->overwritten_chunks && strict) CHECK(about->unmatched <= 2 * prof_trace_track_count(trace));
    return count;
}

/* 0: nothing is known. */
static void known_copy(uint64_t *to)
{
    for (int i = 0; i < place_count; ++i) to[i] = __atomic_load_n(&known_done[i], __ATOMIC_ACQUIRE);
}

/* The newest chunk of a thread that has ended may be overwritten while an older one is not, because who is about to take
   that one sleeps. What a thread that lives has recorded last stays. */
static void known_of_the_living(uint64_t *known)
{
    for (int i = 0; i < place_count; ++i)
        if (__atomic_load_n(&places[i].has_ended, __ATOMIC_ACQUIRE)) known[i] = 0;
}

/*-- what goes on meanwhile --*/

static void switches(uint64_t chance)
{
    __atomic_fetch_add(&phase, 1, __ATOMIC_SEQ_CST);
    switch (chance % 4) {
    case 0:
        CHECK_EQUAL(prof_pause(), PROF_OK);
        pause_us((long)(chance >> 8 & 511));
        CHECK_EQUAL(prof_resume(), PROF_OK);
        break;
    case 1:
        CHECK_EQUAL(prof_set_level((int)(chance >> 4 & 1)), PROF_OK);
        pause_us((long)(chance >> 8 & 511));
        CHECK_EQUAL(prof_set_level(2), PROF_OK);
        break;
    case 2:
        CHECK_EQUAL(prof_category_enable("str*", 0), PROF_OK);
        pause_us((long)(chance >> 8 & 511));
        CHECK_EQUAL(prof_category_enable("str*", 1), PROF_OK);
        break;
    default:
        CHECK_EQUAL(prof_category_enable("*", 0), PROF_OK);
        CHECK_EQUAL(prof_category_enable("*", 1), PROF_OK);
        break;
    }
    __atomic_fetch_add(&phase, 1, __ATOMIC_SEQ_CST);
}

static void look_at(const char *saved) /* null: at the live trace */
{
    prof_trace *trace = NULL;
    uint64_t done[MOST_THREADS];
    known_copy(done);
    if (saved) {
        CHECK_EQUAL(prof_save(saved), PROF_OK);
        CHECK_EQUAL(prof_trace_open(saved, &trace), PROF_OK);
    } else {
        CHECK_EQUAL(prof_trace_open_live(&trace), PROF_OK);
    }
    known_of_the_living(done);
    if (trace) check_all(trace, done, 1);
    prof_trace_close(trace);
}

/* From one session to the next, while the threads go on. */
static void restart(const prof_config *config)
{
    __atomic_fetch_add(&phase, 1, __ATOMIC_SEQ_CST);
    CHECK_EQUAL(prof_stop(), PROF_OK);
    look_at(NULL);
    if (prof_error()[0] && test_failures) printf("  %s\n", prof_error());
    trace_start(config);
    __atomic_fetch_add(&phase, 1, __ATOMIC_SEQ_CST);
}

static void stress(const prof_config *config, int threads, double how_long)
{
    const char *saved = trace_path("stress.prof");
    uint64_t step = 0, until = (uint64_t)trace_times(6, 20, 20);
    seed_choose();
    memset(known_done, 0, sizeof known_done);
    phase = 0;
    trace_start(config);
    places_start(threads);
    for (double end = test_seconds() + how_long; !test_failures && (test_seconds() < end || step < until); ++step) {
        uint64_t chance = mixed(seed * 31 + step);
        switch (chance >> 32 & 15) {
        case 0: restart(config); break;
        case 1: case 2: look_at(NULL); break;
        case 3: look_at(saved); break;
        case 4: case 5: case 6: case 7: switches(chance); break;
        default: pause_us((long)(chance & 2047)); break;
        }
        places_renew();
    }
    places_stop();
    prof_trace *trace = trace_stop();
    check_all(trace, NULL, 1);
    prof_trace_close(trace);
    if (test_failures) printf("  after %llu steps\n", (unsigned long long)step);
    unlink(saved);
    CHECK_EQUAL(prof_reset(), PROF_OK);
}

static int stress_threads(void) { return (int)trace_times(8, MOST_THREADS, MOST_THREADS); }

TEST(everything_at_once_in_a_small_ring)
{
    prof_config config = trace_config(4u << 20);
    stress(&config, stress_threads(), (double)trace_times(4, 6, 150) / 10);
}

TEST(everything_at_once_in_a_file)
{
    prof_config config = trace_config(4u << 20);
    config.output = trace_path("stress-live.prof");
    stress(&config, stress_threads(), (double)trace_times(4, 6, 150) / 10);
    unlink(config.output);
}

/* More than the buffer holds; nothing is switched off, so what is recorded and what is lost add up to what was made. */
TEST(a_buffer_that_fills_up_counts_what_it_loses)
{
    long rounds = trace_times(1, 1, 30);
    for (long round = 0; round < rounds && !test_failures; ++round) {
        prof_config config = trace_config((1u + 7u * (unsigned)(round & 1)) << 20);
        config.mode = PROF_FILL;
        seed_choose();
        phase = 0;
        trace_start(&config);
        places_start(stress_threads());
        uint64_t lost = 0;
        for (int i = 0; i < 1000 && (i < 20 || !lost); ++i) {
            prof_trace *trace = NULL;
            pause_us(1000);
            places_renew();
            if (i % 5) continue;
            CHECK_EQUAL(prof_trace_open_live(&trace), PROF_OK);
            if (trace) check_all(trace, NULL, 0);
            if (trace) lost = prof_trace_about(trace)->lost;
            prof_trace_close(trace);
        }
        places_stop();
        prof_trace *trace = trace_stop();
        uint64_t recorded = check_all(trace, NULL, 0);
        CHECK(lost > 0);
        CHECK_EQUAL(recorded + prof_trace_about(trace)->lost + prof_trace_about(trace)->lost_args, events_made);
        CHECK_EQUAL(prof_trace_about(trace)->unmatched, 0);
        prof_trace_close(trace);
        ++seed;
    }
    CHECK_EQUAL(prof_reset(), PROF_OK);
}

/* Streamed to a file, nothing is overwritten: what is in the ring, in the archive or on its way is there once. */
static void stream(prof_config config, int threads)
{
    double end = test_seconds() + (double)trace_times(2, 5, 200) / 10;
    config.mode = PROF_STREAM;
    config.output = trace_path("stress-stream.prof");
    seed_choose();
    phase = 0;
    trace_start(&config);
    places_start(threads);
    for (int i = 0; !test_failures && test_seconds() < end; ++i) {
        prof_trace *trace = NULL;
        pause_us(20000);
        places_renew();
        if (i % 8) continue;
        if (i & 8)
            CHECK_EQUAL(prof_trace_open_live(&trace), PROF_OK);
        else
            CHECK_EQUAL(prof_trace_open(config.output, &trace), PROF_OK);
        if (trace) check_all(trace, NULL, 0);
        if (trace && !prof_trace_about(trace)->lost) CHECK_EQUAL(prof_trace_about(trace)->unmatched, 0);
        prof_trace_close(trace);
    }
    places_stop();
    CHECK_EQUAL(prof_stop(), PROF_OK);
    prof_trace *trace = trace_open_file(config.output);
    if (trace) {
        CHECK_EQUAL(prof_trace_about(trace)->overwritten_chunks, 0);
        /* unmatched: arguments of a scope that was lost outside all others, just before a chunk was free again */
        const prof_trace_info *about = prof_trace_about(trace);
        CHECK_EQUAL(check_all(trace, NULL, 0) + about->lost + about->lost_args + about->unmatched, events_made);
        CHECK(!about->unmatched || about->lost);
        if (config.wait_ns) CHECK_EQUAL(about->lost + about->lost_args, 0);
    }
    prof_trace_close(trace);
    CHECK_EQUAL(prof_reset(), PROF_OK);
    unlink(config.output);
}

TEST(what_is_streamed_is_there_once) { stream(trace_config(2u << 20), stress_threads() / 4); }

/* Threads that begin while there is no chunk for them, and that others are quicker to take, wait like those that
   run. */
TEST(who_may_wait_loses_nothing)
{
    prof_config config = trace_config(256u << 10);
    config.wait_ns = 10000000000u;
    stream(config, 8);
}

TEST_MAIN
