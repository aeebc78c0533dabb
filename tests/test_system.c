/* prof_system.h: what the system did with threads. Programs that wait for a lock, sleep, and are preempted, and whose own
   clocks say how long they ran; counts of switches beside those of the system; what the system refuses; forks and kills;
   and images that are built word by word, of which every state is known. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "private.h"
#include "../prof_system.h"
#include "test.h"
#include "trace.h"
#include "image.h"
#include "image_switches.h"
#include "refuse.h"
#include <pthread.h>
#include <signal.h>
#include <unistd.h>
#ifdef __linux__
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#endif

static const char *said(const prof_trace *trace, const char *wanted)
{
    const char *key, *value, *last = "";
    for (size_t i = 0; prof_trace_metadata(trace, i, &key, &value); ++i)
        if (!strcmp(key, wanted)) last = value;
    return last;
}

/* -- images -- */

/* An image with a track of the thread 7, which has a scope from 10 to 1000. */
static image system_image(void)
{
    image im = image_new(400, 1, 100);
    uint32_t work = site(&im, "work");
    switches_serial = 0;
    chunk(&im, 0, 1, START_TICK);
    track_on(&im, string(&im, "main"), 1, 1, 7);
    begin(&im, work, START_TICK + 10);
    end(&im, work, START_TICK + 1000);
    return im;
}

/* Writes the states of a track as text: "R10-20@1 W20-30". */
static const char *states_of(const prof_trace *trace, size_t track)
{
    static char text[1000];
    size_t count, at = 0;
    const prof_state *state = prof_track_states(trace, track, &count);
    text[0] = 0;
    for (size_t i = 0; i < count; ++i, ++state) {
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%c%lld-%lld", i ? " " : "", "?RrW"[state->kind],
                               (long long)state->start_ns, (long long)state->end_ns);
        if (state->processor >= 0) at += (size_t)snprintf(text + at, sizeof text - at, "@%d", (int)state->processor);
    }
    return text;
}

static const char *states_text(const prof_trace *trace) { return states_of(trace, 0); }

static void check_split(const prof_trace *trace, int64_t from, int64_t to, int64_t running, int64_t ready, int64_t waiting,
                        int64_t unknown, int64_t switches, int64_t migrations)
{
    prof_split split;
    CHECK_EQUAL(prof_track_split(trace, 0, from, to - from, &split), PROF_OK);
    CHECK_EQUAL(split.wall_ns, to - from);
    CHECK_EQUAL(split.running_ns, running);
    CHECK_EQUAL(split.ready_ns, ready);
    CHECK_EQUAL(split.waiting_ns, waiting);
    CHECK_EQUAL(split.unknown_ns, unknown);
    CHECK_EQUAL(split.switches, switches);
    CHECK_EQUAL(split.migrations, migrations);
}

TEST(states_of_an_image)
{
    image im = system_image();
    system_begin(&im, 5, 7, PROF__SWITCH_KNOWN);
    switch_at(&im, 1, 100, 7, PROF__SWITCH_WAITS);
    switch_at(&im, 1, 150, 7, PROF__SWITCH_IN);
    switch_at(&im, 1, 250, 7, PROF__SWITCH_READY);
    switch_at(&im, 0, 300, 7, PROF__SWITCH_IN); /* on another processor */
    switch_at(&im, 0, 300, 7, PROF__SWITCH_IN); /* recorded twice */
    switch_at(&im, 0, 400, 7, PROF__SWITCH_WAITS);
    switch_at(&im, 0, 400, 7, PROF__SWITCH_WAITS);
    switch_at(&im, 0, 450, 8, PROF__SWITCH_IN); /* another thread, without a track */
    switch_at(&im, 0, 500, 7, PROF__SWITCH_IN);
    known_until(&im, 600);
    prof_trace *trace = image_read(&im);
    CHECK_TEXT(states_text(trace), "R5-100@1 W100-150 R150-250@1 r250-300 R300-400@0 W400-500 R500-600@0");
    CHECK_EQUAL(prof_trace_about(trace)->switches, 3);
    CHECK_EQUAL(prof_trace_about(trace)->unknown, 0);
    check_split(trace, 10, 1000, 90 + 100 + 100 + 100, 50, 150, 400, 3, 1);
    check_split(trace, 10, 20, 10, 0, 0, 0, 0, 0);
    check_split(trace, 260, 310, 10, 40, 0, 0, 0, 1);
    check_split(trace, 100, 150, 0, 0, 50, 0, 1, 0);
    check_split(trace, 700, 800, 0, 0, 0, 100, 0, 0);
    check_split(trace, 0, 5, 0, 0, 0, 5, 0, 0);
    prof_trace_close(trace);
}

/* A reading of how long a thread was in the run queue. */
static void delay_at(image *im, uint64_t ns, uint32_t thread, uint64_t delay)
{
    put(im, head(PROF__KIND_EVENT, 0, 100));
    put(im, PROF__DEVICE_DELAYS);
    put(im, START_MONOTONIC + ns);
    put(im, (uint64_t)PROF__KIND_DATA << PROF__KIND_SHIFT | 1);
    put(im, prof__delay_word(delay, thread));
}

/* Between two readings there is one wait, or one that is much longer than all others: its end is ready. Times in which
   the thread was preempted are in the readings as well. */
TEST(woken_threads_are_ready)
{
    image im = system_image();
    system_begin(&im, 5, 7, PROF__SWITCH_KNOWN);
    delay_at(&im, 50, 7, 1000);
    switch_at(&im, 1, 1000, 7, PROF__SWITCH_READY);
    switch_at(&im, 1, 31000, 7, PROF__SWITCH_IN);
    switch_at(&im, 1, 40000, 7, PROF__SWITCH_WAITS);
    switch_at(&im, 1, 940000, 7, PROF__SWITCH_IN);
    delay_at(&im, 941000, 7, 1000 + 30000 + 400000); /* 400 us after it was woken */
    switch_at(&im, 1, 950000, 7, PROF__SWITCH_WAITS);
    switch_at(&im, 1, 999000, 7, PROF__SWITCH_IN); /* short */
    switch_at(&im, 1, 1000000, 7, PROF__SWITCH_WAITS);
    switch_at(&im, 1, 4000000, 7, PROF__SWITCH_IN);
    delay_at(&im, 4000100, 7, 431000 + 1200000);
    switch_at(&im, 1, 4100000, 7, PROF__SWITCH_WAITS);
    switch_at(&im, 1, 4200000, 7, PROF__SWITCH_IN);
    delay_at(&im, 4200100, 7, 431000 + 1200000 + 500); /* that is what waking takes */
    known_until(&im, 4300000);
    prof_trace *trace = image_read(&im);
    CHECK_TEXT(states_text(trace), "R5-1000@1 r1000-31000 R31000-40000@1 W40000-540000 r540000-940000 R940000-950000@1 "
                                   "W950000-999000 R999000-1000000@1 W1000000-2800000 r2800000-4000000 "
                                   "R4000000-4100000@1 W4100000-4200000 R4200000-4300000@1");
    CHECK_EQUAL(prof_trace_about(trace)->unknown, 0);
    check_split(trace, 40000, 940000, 0, 400000, 500000, 0, 1, 0);
    prof_split split;
    prof_track_split(trace, 0, 0, 4300000, &split);
    CHECK_EQUAL(split.woken_ns, 0);
    prof_trace_close(trace);
}

/* Of several waits between two readings only a sum is known; and nothing where switches are missing, or where a reading
   may be of before a wake-up or after it. */
TEST(of_several_waits_a_sum_is_known)
{
    image im = system_image();
    prof_split split;
    system_begin(&im, 5, 7, PROF__SWITCH_KNOWN);
    delay_at(&im, 50, 7, 0);
    switch_at(&im, 1, 1000, 7, PROF__SWITCH_WAITS);
    switch_at(&im, 1, 1001000, 7, PROF__SWITCH_IN);
    switch_at(&im, 1, 1002000, 7, PROF__SWITCH_WAITS);
    switch_at(&im, 1, 3002000, 7, PROF__SWITCH_IN);
    delay_at(&im, 3003000, 7, 1300000);
    switch_at(&im, 1, 3100000, 7, PROF__SWITCH_WAITS);
    delay_at(&im, 3590000, 7, 1300000); /* too late to count */
    switch_at(&im, 1, 3600000, 7, PROF__SWITCH_IN);
    delay_at(&im, 3700000, 7, 1400000);
    known_until(&im, 4000000);
    prof_trace *trace = image_read(&im);
    CHECK_TEXT(states_text(trace), "R5-1000@1 W1000-1001000 R1001000-1002000@1 W1002000-3002000 R3002000-3100000@1 "
                                   "W3100000-3500000 r3500000-3600000 R3600000-4000000@1");
    prof_track_split(trace, 0, 0, 3003000, &split);
    CHECK_EQUAL(split.woken_ns, 1300000);
    CHECK_EQUAL(split.ready_ns, 0);
    prof_track_split(trace, 0, 0, 1001500, &split); /* it waited for less than that */
    CHECK_EQUAL(split.woken_ns, 1000000);
    prof_track_split(trace, 0, 3050000, 500000, &split);
    CHECK_EQUAL(split.woken_ns, 0);
    prof_trace_close(trace);
}

TEST(states_of_begins_and_ends)
{
    image im = system_image();
    system_begin(&im, 5, 7, PROF__SWITCH_WAITS); /* it slept at the start */
    switch_at(&im, 3, 100, 7, PROF__SWITCH_IN);
    switch_at(&im, 3, 200, 7, PROF__SWITCH_ENDS);
    known_until(&im, 600);
    prof_trace *trace = image_read(&im);
    CHECK_TEXT(states_text(trace), "W5-100 R100-200@3");
    CHECK_EQUAL(prof_trace_about(trace)->switches, 0); /* the start is no switch */
    prof_trace_close(trace);

    im = system_image();
    system_begin(&im, 5, 9, PROF__SWITCH_KNOWN);
    switch_at(&im, 1, 50, 7, PROF__SWITCH_NEW);
    switch_at(&im, 1, 60, 7, PROF__SWITCH_IN);
    known_until(&im, 600);
    trace = image_read(&im);
    CHECK_TEXT(states_text(trace), "r50-60 R60-600@1");
    prof_trace_close(trace);

    im = system_image(); /* it never stopped */
    system_begin(&im, 5, 7, PROF__SWITCH_KNOWN);
    known_until(&im, 600);
    trace = image_read(&im);
    CHECK_TEXT(states_text(trace), "R5-600");
    prof_trace_close(trace);

    im = system_image(); /* it could run, and did not */
    system_begin(&im, 5, 7, PROF__SWITCH_KNOWN);
    switch_at(&im, 1, 50, 7, PROF__SWITCH_IN);
    switch_at(&im, 1, 60, 7, PROF__SWITCH_OUT); /* an old kernel */
    switch_at(&im, 1, 70, 7, PROF__SWITCH_IN);
    known_until(&im, 80);
    trace = image_read(&im);
    CHECK_TEXT(states_text(trace), "r5-50 R50-60@1 ?60-70 R70-80@1");
    check_split(trace, 10, 100, 20, 40, 0, 30, 1, 0);
    prof_trace_close(trace);
}

TEST(what_is_missing_is_unknown)
{
    /* Lost on processor 0, while the thread waited: it may have run there. */
    image im = system_image();
    system_begin(&im, 5, 7, PROF__SWITCH_KNOWN);
    switch_at(&im, 1, 100, 7, PROF__SWITCH_WAITS);
    switch_at(&im, 0, 200, 8, PROF__SWITCH_IN);
    switch_at(&im, 0, 300, 4, PROF__SWITCH_LOST);
    switch_at(&im, 1, 400, 7, PROF__SWITCH_IN);
    known_until(&im, 600);
    prof_trace *trace = image_read(&im);
    CHECK_TEXT(states_text(trace), "R5-100@1 W100-200 ?300-400 R400-600@1");
    CHECK_EQUAL(prof_trace_about(trace)->switches_lost, 4);
    check_split(trace, 10, 600, 90 + 200, 0, 100, 200, 1, 0);
    prof_trace_close(trace);

    /* While it ran on processor 1, nothing of it was lost; but then it waited while switches were lost. */
    im = system_image();
    system_begin(&im, 5, 7, PROF__SWITCH_KNOWN);
    switch_at(&im, 1, 50, 7, PROF__SWITCH_WAITS);
    switch_at(&im, 1, 60, 7, PROF__SWITCH_IN);
    switch_at(&im, 0, 200, 8, PROF__SWITCH_IN);
    switch_at(&im, 0, 400, 4, PROF__SWITCH_LOST);
    switch_at(&im, 1, 300, 7, PROF__SWITCH_WAITS);
    switch_at(&im, 1, 500, 7, PROF__SWITCH_IN);
    known_until(&im, 600);
    trace = image_read(&im);
    CHECK_TEXT(states_text(trace), "R5-50@1 W50-60 R60-300@1 W300-300 ?400-500 R500-600@1");
    prof_trace_close(trace);

    /* It ran on the processor itself, and the next that is known is that it stops. */
    im = system_image();
    system_begin(&im, 5, 7, PROF__SWITCH_KNOWN);
    switch_at(&im, 0, 50, 7, PROF__SWITCH_WAITS);
    switch_at(&im, 0, 60, 7, PROF__SWITCH_IN);
    switch_at(&im, 0, 300, 2, PROF__SWITCH_LOST);
    switch_at(&im, 0, 400, 7, PROF__SWITCH_WAITS);
    known_until(&im, 600);
    trace = image_read(&im);
    CHECK_TEXT(states_text(trace), "R5-50@0 W50-60 R300-400@0 W400-600");
    prof_trace_close(trace);

    /* A ring has overwritten the first EVENTs: what comes before the first round is left out. */
    im = system_image();
    switches_serial = 70000;
    switch_at(&im, 0, 20, 7, PROF__SWITCH_WAITS);
    known_until(&im, 100);
    switch_at(&im, 0, 200, 7, PROF__SWITCH_READY);
    switch_at(&im, 1, 250, 7, PROF__SWITCH_IN);
    switch_at(&im, 1, 150, 8, PROF__SWITCH_IN);
    known_until(&im, 300);
    trace = image_read(&im);
    CHECK_TEXT(states_text(trace), "R100-200@0 r200-250 R250-300@1");
    prof_trace_close(trace);

    /* EVENTs are missing in the middle: a block of an archive. */
    im = system_image();
    system_begin(&im, 5, 7, PROF__SWITCH_KNOWN);
    known_until(&im, 100);
    switches_serial += 3;
    switch_at(&im, 0, 250, 7, PROF__SWITCH_IN);
    known_until(&im, 300);
    switch_at(&im, 0, 350, 7, PROF__SWITCH_WAITS);
    known_until(&im, 400);
    trace = image_read(&im);
    CHECK_TEXT(states_text(trace), "R5-100 R300-350@0 W350-400");
    prof_trace_close(trace);
}

TEST(an_image_without_switches)
{
    image im = system_image();
    prof_trace *trace = image_read(&im);
    size_t count = 1;
    CHECK(!prof_track_states(trace, 0, &count));
    CHECK_EQUAL(count, 0);
    CHECK(!prof_track_states(trace, 9, &count));
    check_split(trace, 10, 1000, 0, 0, 0, 990, 0, 0);
    prof_split split;
    CHECK_EQUAL(prof_track_split(trace, 1, 0, 1, &split), PROF_INVALID_ARGUMENT);
    CHECK_EQUAL(prof_track_split(trace, 0, 0, -1, &split), PROF_INVALID_ARGUMENT);
    CHECK_EQUAL(prof_track_split(trace, 0, 0, 1, NULL), PROF_INVALID_ARGUMENT);
    prof_trace_close(trace);
}

static size_t count_of(const char *text, const char *part)
{
    size_t count = 0;
    for (; (text = strstr(text, part)) != NULL; text += strlen(part)) ++count;
    return count;
}

/* A fiber's turn on a thread. */
static void turn(image *im, uint64_t id, uint64_t serial, uint64_t thread)
{
    track_on(im, 1u << 31 | string(im, id == 2 ? "two" : "three"), id, serial, thread);
}

static void call(image *im, uint32_t id, uint64_t from, uint64_t to)
{
    begin(im, id, START_TICK + from);
    end(im, id, START_TICK + to);
}

/* What the threads 7 and 8 do. */
static void fibers_switches(image *im)
{
    system_begin(im, 5, 7, PROF__SWITCH_KNOWN);
    switch_at(im, 1, 40, 7, PROF__SWITCH_WAITS);
    switch_at(im, 1, 60, 7, PROF__SWITCH_IN);
    switch_at(im, 1, 120, 7, PROF__SWITCH_READY);
    switch_at(im, 1, 140, 7, PROF__SWITCH_IN);
    switch_at(im, 1, 150, 7, PROF__SWITCH_WAITS);
    switch_at(im, 1, 170, 7, PROF__SWITCH_IN);
    switch_at(im, 0, 45, 8, PROF__SWITCH_NEW);
    switch_at(im, 0, 46, 8, PROF__SWITCH_IN);
    switch_at(im, 0, 200, 8, PROF__SWITCH_WAITS);
    switch_at(im, 0, 340, 8, PROF__SWITCH_IN);
    switch_at(im, 0, 480, 8, PROF__SWITCH_ENDS);
    known_until(im, 600);
}

/* The fibers 2 and 3 on thread 7, from which fiber 3 moves to thread 8. */
static image fibers_image(void)
{
    image im = image_new(400, 2, 200);
    uint32_t work = site(&im, "work"), task = site(&im, "task");
    switches_serial = 0;
    chunk(&im, 1, 1, START_TICK + 50);
    track_on(&im, string(&im, "worker"), 4, 1, 8);
    call(&im, work, 60, 348);
    turn(&im, 3, 2, 8);
    call(&im, work, 350, 400);
    end(&im, task, START_TICK + 402);
    track_on(&im, 0, 4, 2, 8);
    call(&im, work, 404, 470);
    chunk(&im, 0, 2, START_TICK);
    track_on(&im, string(&im, "main"), 1, 1, 7);
    begin(&im, work, START_TICK + 10);
    turn(&im, 2, 1, 7);
    call(&im, work, 20, 100);
    track_on(&im, 0, 1, 2, 7);
    call(&im, task, 102, 110);
    turn(&im, 3, 1, 7);
    begin(&im, task, START_TICK + 112);
    turn(&im, 2, 2, 7);
    call(&im, work, 212, 300);
    track_on(&im, 0, 1, 3, 7);
    end(&im, work, START_TICK + 310);
    return im;
}

TEST(fibers_of_an_image)
{
    image im = fibers_image();
    fibers_switches(&im);
    prof_trace *trace = image_read(&im);
    CHECK_TEXT(states_of(trace, 0), "R5-40@1 W40-60 R60-120@1 r120-140 R140-150@1 W150-170 R170-600@1");
    /* Where both the track before and after may have had the thread, nothing is known but its waiting. */
    CHECK_TEXT(states_of(trace, 1), "R20-40@1 W40-60 R60-100@1 W102-112 W150-170 R212-300@1");
    CHECK_TEXT(states_of(trace, 2), "W150-170 W212-348 R350-402@0");
    CHECK_TEXT(states_of(trace, 3), "r45-46 R46-200@0 W200-340 R340-480@0");
    prof_split split;
    CHECK_EQUAL(prof_track_split(trace, 2, 112, 290, &split), PROF_OK);
    CHECK_EQUAL(split.running_ns, 52);
    CHECK_EQUAL(split.waiting_ns, 20 + 136);
    CHECK_EQUAL(split.unknown_ns, 290 - 52 - 20 - 136);
    CHECK_EQUAL(split.migrations, 1);
    CHECK_EQUAL(split.switches, 0);
    CHECK_EQUAL(prof_track_split(trace, 1, 30, 100, &split), PROF_OK);
    CHECK_EQUAL(split.switches, 1);
    prof_stat *stats = NULL;
    size_t count = 0;
    CHECK_EQUAL(prof_stats(trace, PROF_SORT_TOTAL, 0, &stats, &count), PROF_OK);
    for (size_t i = 0; i < count; ++i)
        if (!strcmp(stats[i].name, "task")) CHECK_EQUAL(stats[i].running_ns, 52 + 8);
    prof_stats_free(stats);
    trace_bytes json;
    memset(&json, 0, sizeof json);
    CHECK_EQUAL(prof_chrome_stream(trace, trace_sink(&json), NULL), PROF_OK);
    CHECK_EQUAL(count_of(json.bytes, "\"name\":\"state of two\""), 1);
    CHECK_EQUAL(count_of(json.bytes, "\"name\":\"state of three\""), 1);
    CHECK_EQUAL(count_of(json.bytes, "\"ts\":0.212,\"dur\":0.136}"), 1);
    free(json.bytes);
    prof_trace_close(trace);

    im = fibers_image(); /* without switches nothing is said of fibers, either */
    trace = image_read(&im);
    CHECK_TEXT(states_of(trace, 2), "");
    prof_trace_close(trace);
}

/* A fiber that waits for its next turn, up to the end; that comes back without an event; whose thread has ended. */
TEST(fibers_that_wait)
{
    image im = fibers_image();
    turn(&im, 2, 3, 7);
    begin(&im, 1, START_TICK + 320);
    track_on(&im, 0, 1, 4, 7);
    turn(&im, 2, 4, 7); /* without an event, two times */
    track_on(&im, 0, 1, 5, 7);
    turn(&im, 2, 5, 7);
    track_on(&im, 0, 1, 6, 7);
    call(&im, 2, 400, 410);
    chunk(&im, 1, 1, START_TICK + 50);
    while (*im.word) ++im.word;
    turn(&im, 3, 3, 8); /* the last of its thread, which ends at 480 */
    begin(&im, 2, START_TICK + 472);
    chunk(&im, 0, 2, START_TICK);
    while (*im.word) ++im.word;
    fibers_switches(&im);
    prof_trace *trace = image_read(&im);
    CHECK_TEXT(states_of(trace, 1), "R20-40@1 W40-60 R60-100@1 W102-112 W150-170 R212-300@1 W400-600");
    CHECK_TEXT(states_of(trace, 2), "W150-170 W212-348 R350-402@0 W404-470 W480-600");
    prof_trace_close(trace);
}

/* While segments may be missing, a fiber may have run unseen. */
TEST(fibers_of_which_a_part_is_missing)
{
    image im = fibers_image(); /* EVENTs of switches are missing from 200 to 250: a pause */
    system_begin(&im, 5, 7, PROF__SWITCH_KNOWN);
    known_until(&im, 200);
    switches_serial += 2;
    known_until(&im, 250);
    switch_at(&im, 1, 320, 7, PROF__SWITCH_WAITS);
    known_until(&im, 600);
    prof_trace *trace = image_read(&im);
    CHECK_TEXT(states_of(trace, 2), "W250-348");
    prof_trace_close(trace);

    im = fibers_image(); /* the third segment of fiber 2 is gone, with a block of the archive */
    call(&im, 2, 312, 390);
    turn(&im, 2, 4, 7);
    call(&im, 1, 400, 410);
    im.header->archive_next = 8;
    fibers_switches(&im);
    trace = image_read(&im);
    CHECK_TEXT(states_of(trace, 1), "R20-40@1 W40-60 R60-100@1 W102-112 W150-170 R212-300@1 R400-410@1");
    prof_trace_close(trace);

    im = fibers_image(); /* an event found no room */
    put(&im, (uint64_t)PROF__KIND_LOST << PROF__KIND_SHIFT | 1);
    fibers_switches(&im);
    trace = image_read(&im);
    CHECK_TEXT(states_of(trace, 1), "R20-40@1 W40-60 R60-100@1 R212-300@1");
    CHECK_TEXT(states_of(trace, 2), "R350-402@0");
    prof_trace_close(trace);
}

/* Who ran while another thread was ready: a thread counts once, whatever fiber it has. */
TEST(fibers_do_not_run_beside_their_threads)
{
    image im = image_new(400, 2, 200);
    uint32_t work = site(&im, "work"), task = site(&im, "task");
    switches_serial = 0;
    chunk(&im, 1, 1, START_TICK + 50);
    track_on(&im, string(&im, "worker"), 4, 1, 8);
    call(&im, task, 60, 70);
    turn(&im, 3, 1, 8);
    call(&im, task, 90, 200);
    chunk(&im, 0, 2, START_TICK);
    track_on(&im, string(&im, "main"), 1, 1, 7);
    call(&im, work, 10, 310);
    system_begin(&im, 5, 7, PROF__SWITCH_KNOWN);
    switch_at(&im, 1, 45, 8, PROF__SWITCH_NEW);
    switch_at(&im, 1, 120, 7, PROF__SWITCH_READY);
    switch_at(&im, 1, 121, 8, PROF__SWITCH_IN);
    switch_at(&im, 1, 139, 8, PROF__SWITCH_WAITS);
    switch_at(&im, 1, 140, 7, PROF__SWITCH_IN);
    known_until(&im, 600);
    prof_trace *trace = image_read(&im);
    CHECK_TEXT(states_of(trace, 1), "r90-121 R121-139@1 W139-200");
    prof_why_options options;
    prof_why_report *report = NULL;
    memset(&options, 0, sizeof options);
    options.name = "work";
    CHECK_EQUAL(prof_why(trace, &options, &report), PROF_OK);
    CHECK_EQUAL(report->count, 1);
    CHECK_EQUAL(report->calls->split.ready_ns, 20);
    CHECK_EQUAL(report->calls->ran_count, 1);
    CHECK_EQUAL(report->calls->ran_instead->ns, 18);
    CHECK_TEXT(prof_trace_track(trace, report->calls->ran_instead->track)->name, "worker");
    prof_why_free(report);
    options.name = "task";
    options.slowest = 1;
    CHECK_EQUAL(prof_why(trace, &options, &report), PROF_OK); /* that of the fiber */
    CHECK_EQUAL(report->calls->split.running_ns, 18);
    CHECK_EQUAL(report->calls->split.ready_ns, 31);
    CHECK_EQUAL(report->calls->split.waiting_ns, 61);
    prof_why_free(report);
    prof_trace_close(trace);
}

/* The boundary of a frame, with its number (-1: none) and what the frame that it ends says of itself. */
static void timed_frame(image *im, uint32_t id, uint64_t at, int number, const uint32_t *keys, const uint64_t *parts)
{
    at_tick(im, PROF__KIND_FRAME, id, START_TICK + at);
    if (number >= 0) put(im, PROF__FRAME_NUMBER);
    if (number >= 0) put(im, (uint64_t)number);
    for (int i = 0; i < 3 && parts; ++i) {
        put(im, head(PROF__KIND_DATA, keys[i], (uint64_t)PROF_VALUE_UINT << 32 | 1));
        put(im, parts[i]);
    }
}

TEST(frames_that_say_what_they_did)
{
    enum { MS = 1000000 };
    static const uint64_t fits[] = {3 * MS, MS, 6 * MS}, misfits[] = {3 * MS, MS, 26 * MS};
    uint32_t keys[3];
    for (int with = 0; with < 2; ++with) {
        image im = image_new(400, 1, 200);
        uint32_t frame = site_in(&im, "frame", "", "", 0, "", PROF__KIND_FRAME);
        keys[0] = site_in(&im, PROF__KEY_RUNNING, "", "", 0, "", PROF__KIND_ARG);
        keys[1] = site_in(&im, PROF__KEY_READY, "", "", 0, "", PROF__KIND_ARG);
        keys[2] = site_in(&im, PROF__KEY_WAITING, "", "", 0, "", PROF__KIND_ARG);
        switches_serial = 0;
        chunk(&im, 0, 1, START_TICK);
        track_on(&im, string(&im, "main"), 1, 1, 7);
        timed_frame(&im, frame, 0, 5, keys, NULL);
        timed_frame(&im, frame, 10 * MS + 50000, 6, keys, fits);
        timed_frame(&im, frame, 20 * MS, -1, keys, fits);     /* without a number */
        timed_frame(&im, frame, 30 * MS, -1, keys, misfits);  /* a boundary was lost before */
        timed_frame(&im, frame, 40 * MS, 9, keys, NULL);
        if (with) {
            system_begin(&im, 0, 7, PROF__SWITCH_KNOWN);
            switch_at(&im, 1, 2 * MS, 7, PROF__SWITCH_WAITS);
            switch_at(&im, 1, 7 * MS, 7, PROF__SWITCH_IN);
            known_until(&im, 15 * MS);
        }
        prof_trace *trace = image_read(&im);
        trace_list list = trace_read(trace, 0);
        static const uint64_t running[] = {3 * MS + 50000, 2950000, 0, 0}, waiting[] = {6 * MS, 6 * MS, 0, 0};
        CHECK_EQUAL(list.count, 5);
        CHECK_EQUAL(list.events[0].arg_count, 0);
        for (size_t i = 1; i < 5; ++i) {
            const prof_event *event = &list.events[i];
            prof_split split;
            CHECK_EQUAL(event->detail, 5 + i);
            CHECK_EQUAL(event->arg_count, i < 4 ? 3 : 0);
            CHECK_EQUAL(prof_event_split(trace, 0, event, &split), PROF_OK);
            CHECK_EQUAL(split.wall_ns, event->duration_ns);
            int states = with && i == 1; /* the thread's states say all */
            CHECK_EQUAL(split.running_ns, states ? 5050000 : running[i - 1]);
            CHECK_EQUAL(split.waiting_ns, states ? 5 * MS : waiting[i - 1]);
            CHECK_EQUAL(split.unknown_ns, i < 3 ? 0 : 10 * MS);
        }
        trace_free(&list);
        trace_bytes text;
        memset(&text, 0, sizeof text);
        CHECK_EQUAL(prof_summary_stream(trace, trace_sink(&text), NULL), PROF_OK);
        CHECK_EQUAL(count_of(text.bytes, "1 % low    running"), 1);
        trace_bytes json;
        memset(&json, 0, sizeof json);
        CHECK_EQUAL(prof_chrome_stream(trace, trace_sink(&json), NULL), PROF_OK);
        CHECK_EQUAL(count_of(json.bytes, "\"frame\":7,\"prof.running_ns\":3000000,\"prof.ready_ns\":1000000,"), 1);
        free(json.bytes);
        CHECK_EQUAL(count_of(text.bytes, with ? "> 2.000 ms" : "> 1.500 ms"), 1); /* of each of the four */
        free(text.bytes);
        prof_why_options options;
        prof_why_report *report = NULL;
        memset(&options, 0, sizeof options);
        options.frame = 7;
        CHECK_EQUAL(prof_why(trace, &options, &report), PROF_OK);
        CHECK(report && report->count == 1 && report->calls->states);
        if (report) CHECK_EQUAL(report->calls->split.waiting_ns, 6 * MS);
        prof_why_free(report);
        prof_trace_close(trace);
    }
}

/* Outputs show the states: a row below the thread in Chrome's JSON, a column in the summary, three in a CSV; and nothing
   where there are none. */
TEST(outputs_show_states)
{
    for (int with = 0; with < 2; ++with) {
        image im = system_image();
        if (with) {
            system_begin(&im, 5, 7, PROF__SWITCH_KNOWN);
            switch_at(&im, 1, 100, 7, PROF__SWITCH_WAITS);
            switch_at(&im, 1, 150, 7, PROF__SWITCH_IN);
            switch_at(&im, 1, 250, 7, PROF__SWITCH_READY);
            switch_at(&im, 0, 300, 7, PROF__SWITCH_IN);
            known_until(&im, 1000);
        }
        prof_trace *trace = image_read(&im);
        trace_bytes json, text;
        memset(&json, 0, sizeof json);
        memset(&text, 0, sizeof text);
        CHECK_EQUAL(prof_chrome_stream(trace, trace_sink(&json), NULL), PROF_OK);
        CHECK_EQUAL(prof_summary_stream(trace, trace_sink(&text), NULL), PROF_OK);
        CHECK_EQUAL(count_of(json.bytes, "\"name\":\"state of main\""), (size_t)with);
        CHECK_EQUAL(count_of(json.bytes, "\"cat\":\"state\""), with ? 5 : 0);
        CHECK_EQUAL(count_of(json.bytes, "\"name\":\"ready\",\"cname\":\"thread_state_runnable\""), (size_t)with);
        CHECK_EQUAL(count_of(json.bytes, "\"ts\":0.300,\"dur\":0.700,\"args\":{\"processor\":0}"), (size_t)with);
        CHECK_EQUAL(count_of(text.bytes, "    running"), (size_t)with);
        CHECK_EQUAL(count_of(text.bytes, "  switches  "), (size_t)with);
        CHECK_EQUAL(count_of(text.bytes, "890 ns"), (size_t)with); /* of 990: 90, 100 and 700 */
        prof_stat *stats = NULL;
        size_t count = 0;
        CHECK_EQUAL(prof_stats(trace, PROF_SORT_TOTAL, 0, &stats, &count), PROF_OK);
        CHECK_EQUAL(count, 1);
        CHECK_EQUAL(stats->running_ns, with ? 890 : 0);
        CHECK_EQUAL(stats->ready_ns, with ? 50 : 0);
        CHECK_EQUAL(stats->waiting_ns, with ? 50 : 0);
        CHECK_EQUAL(stats->unknown_ns, with ? 0 : 990);
        CHECK_EQUAL(stats->switches, with ? 2 : 0);
        CHECK_EQUAL(stats->migrations, with ? 1 : 0);
        prof_stats_free(stats);
        prof_report_options how;
        char *report = NULL;
        memset(&how, 0, sizeof how);
        how.layout = PROF_REPORT_JSON;
        CHECK_EQUAL(prof_report_text(trace, &how, &report, NULL), PROF_OK);
        CHECK_EQUAL(count_of(report, "\"Running\":0.00089,\"Ready\":0.00005,\"Waiting\":0.00005,\"Unknown\":0,"
                                     "\"Switches\":2,\"Migrations\":1"), (size_t)with);
        prof_report_free(report);
        free(json.bytes);
        CHECK_EQUAL(prof_trace_set_window(trace, 120, 280), PROF_OK);
        memset(&json, 0, sizeof json);
        CHECK_EQUAL(prof_chrome_stream(trace, trace_sink(&json), NULL), PROF_OK);
        CHECK_EQUAL(count_of(json.bytes, "\"ts\":0.120,\"dur\":0.030}"), (size_t)with);
        CHECK_EQUAL(count_of(json.bytes, "\"cat\":\"state\""), with ? 3 : 0);
        free(json.bytes);
        free(text.bytes);
        CHECK_EQUAL(prof_trace_set_window(trace, 0, 0), PROF_OK);
        memset(&text, 0, sizeof text);
        CHECK_EQUAL(prof_csv_stream(trace, trace_sink(&text)), PROF_OK);
        CHECK_EQUAL(count_of(text.bytes, ",function,running_ns,ready_ns,waiting_ns\r\n"), (size_t)with);
        CHECK_EQUAL(count_of(text.bytes, "scope,work,,10,990,0,,,,,,"), 1);
        CHECK_EQUAL(count_of(text.bytes, ",890,50,50\r\n"), (size_t)with);
        CHECK_EQUAL(count_of(text.bytes, ",function\r\n"), (size_t)!with);
        CHECK_EQUAL(count_of(text.bytes, ",,,,,,\r\n"), (size_t)!with); /* the end of the scope's line */
        free(text.bytes);
        prof_trace_close(trace);
    }
}

#ifndef __linux__
TEST(other_systems_say_why)
{
    prof_config config = trace_config(0);
    config.switches = 1;
    trace_start(&config);
    CHECK_EQUAL(prof_system_status(), PROF_UNSUPPORTED);
    prof_trace *trace = trace_stop();
    CHECK(*said(trace, "switches"));
    prof_trace_close(trace);
}
#else

/* -- programs of known truth -- */

/* The last processor that this process may run on. */
static int a_processor(void)
{
    cpu_set_t set;
    sched_getaffinity(0, sizeof set, &set);
    for (int i = CPU_SETSIZE - 1; i >= 0; --i)
        if (CPU_ISSET((size_t)i, &set)) return i;
    return 0;
}

static uint64_t cpu_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void work_ns(uint64_t ns)
{
    uint64_t end = cpu_ns() + ns;
    while (cpu_ns() < end) continue;
}

/* Starts a session that records switches. Returns 0 if the system refuses them: then nothing runs. */
static int system_start(prof_config config)
{
    config.switches = 1;
    trace_start(&config);
    if (prof_system_status() == PROF_OK) return 1;
    printf("%s\n", prof_error());
    prof_stop();
    return 0;
}
#define NEEDS_SWITCHES(config) \
    if (!system_start(config)) SKIP("this system refuses perf events")

enum { CALLS = 60 };
typedef struct worker {
    const char *name;
    int processor; /* -1: any */
    uint64_t switched, moved_after; /* how often the system says that it ceased to run, before and after its last act */
    uint64_t ran[CALLS];            /* of each call, by the thread's own clock */
} worker;

static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

static uint64_t switches_of_me(void)
{
    struct rusage usage;
    getrusage(RUSAGE_THREAD, &usage);
    return (uint64_t)(usage.ru_nvcsw + usage.ru_nivcsw);
}

/* Each call works, waits for a lock that the others hold while they work and sleep, and sleeps. */
static void *worker_main(void *user)
{
    worker *me = (worker *)user;
    prof_set_thread_name(me->name);
    if (me->processor >= 0) {
        cpu_set_t set;
        CPU_ZERO(&set);
        CPU_SET((size_t)me->processor, &set);
        sched_setaffinity(0, sizeof set, &set);
    }
    for (int i = 0; i < CALLS; ++i) {
        uint64_t before;
        PROFILE_SCOPE("call");
        before = cpu_ns();
        work_ns(300000);
        pthread_mutex_lock(&one_at_a_time);
        work_ns(200000);
        pause_us(300);
        pthread_mutex_unlock(&one_at_a_time);
        pause_us(200);
        me->ran[i] = cpu_ns() - before;
    }
    me->switched = switches_of_me();
    PROFILE_MARK("counted");
    me->moved_after = switches_of_me();
    return NULL;
}

static void *busy_main(void *user)
{
    worker *me = (worker *)user;
    prof_set_thread_name(me->name);
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((size_t)me->processor, &set);
    sched_setaffinity(0, sizeof set, &set);
    for (int i = 0; i < CALLS; ++i) {
        PROFILE_SCOPE("call");
        uint64_t before = cpu_ns();
        work_ns(4000000);
        me->ran[i] = cpu_ns() - before;
    }
    me->switched = switches_of_me();
    PROFILE_MARK("counted");
    me->moved_after = switches_of_me();
    return NULL;
}

/* Returns how many calls of a worker have a running time that is wrong by more than 5 % of the call, and 100 us. only:
   1: it never waited by itself, so all the rest must be ready. Checks that the parts add up, and the switches. */
static int wrong_calls(const prof_trace *trace, const worker *me, int only)
{
    size_t index = trace_track_named(trace, me->name);
    trace_list list = trace_read(trace, index);
    int wrong = 0;
    prof_split split;
    for (size_t i = 0; i < CALLS; ++i) {
        const prof_event *call = trace_nth(&list, "call", i);
        CHECK(call != NULL);
        if (!call) break;
        CHECK_EQUAL(prof_track_split(trace, index, call->start_ns, call->duration_ns, &split), PROF_OK);
        CHECK_EQUAL(split.running_ns + split.ready_ns + split.waiting_ns + split.unknown_ns, call->duration_ns);
        int64_t most = call->duration_ns / 20 > 100000 ? call->duration_ns / 20 : 100000;
        int64_t error = (int64_t)split.running_ns - (int64_t)me->ran[i];
        int64_t rest = only ? call->duration_ns - (int64_t)me->ran[i] - (int64_t)split.ready_ns : 0;
        wrong += error > most || -error > most || rest > most || -rest > most || split.unknown_ns != 0;
    }
    const prof_event *counted = trace_find(&list, "counted");
    CHECK(counted != NULL);
    if (counted) {
        CHECK_EQUAL(prof_track_split(trace, index, 0, counted->start_ns, &split), PROF_OK);
        CHECK(split.switches >= me->switched && split.switches <= me->moved_after);
        if (split.switches < me->switched || split.switches > me->moved_after)
            printf("%s: %lld switches, but the system says %lld to %lld\n", me->name, (long long)split.switches,
                   (long long)me->switched, (long long)me->moved_after);
    }
    trace_free(&list);
    return wrong;
}

TEST(waits_and_sleeps_have_their_share)
{
    worker workers[3];
    pthread_t threads[3];
    static const char *const names[] = {"first", "second", "third"};
    memset(workers, 0, sizeof workers);
    NEEDS_SWITCHES(trace_config(0));
    for (int i = 0; i < 3; ++i) {
        workers[i].name = names[i];
        workers[i].processor = -1;
        pthread_create(&threads[i], NULL, worker_main, &workers[i]);
    }
    for (int i = 0; i < 3; ++i) pthread_join(threads[i], NULL);
    prof_trace *trace = trace_stop();
    int wrong = 0;
    for (int i = 0; i < 3; ++i) wrong += wrong_calls(trace, &workers[i], 0);
    printf("%d of %d calls are wrong by more\n", wrong, 3 * CALLS);
    CHECK(wrong <= 3 * CALLS / 20);
    CHECK_EQUAL(prof_trace_about(trace)->switches_lost, 0);
    CHECK_TEXT(said(trace, "switches"), "");
    prof_trace_close(trace);
}

TEST(preempted_threads_are_ready)
{
    worker workers[2];
    pthread_t threads[2];
    memset(workers, 0, sizeof workers);
    NEEDS_SWITCHES(trace_config(0));
    for (int i = 0; i < 2; ++i) {
        workers[i].name = i ? "left" : "right";
        workers[i].processor = a_processor();
        pthread_create(&threads[i], NULL, busy_main, &workers[i]);
    }
    for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
    prof_trace *trace = trace_stop();
    int wrong = 0;
    uint64_t ready = 0;
    for (int i = 0; i < 2; ++i) {
        size_t index = trace_track_named(trace, workers[i].name), count;
        const prof_state *state = prof_track_states(trace, index, &count);
        wrong += wrong_calls(trace, &workers[i], 1);
        for (size_t j = 0; j < count; ++j) {
            if (state[j].kind == PROF_STATE_READY) ready += (uint64_t)(state[j].end_ns - state[j].start_ns);
            CHECK(state[j].end_ns >= state[j].start_ns && (!j || state[j].start_ns >= state[j - 1].end_ns));
            CHECK((state[j].kind == PROF_STATE_RUNNING) == (state[j].processor >= 0));
        }
    }
    printf("%d of %d calls are wrong by more; ready %.1f ms\n", wrong, 2 * CALLS, (double)ready * 1e-6);
    CHECK(wrong <= 2 * CALLS / 20);
    CHECK(ready > 100000000u); /* each waited for the other's 240 ms, or nearly */
    prof_trace_close(trace);
}

/* Two fibers take turns on a thread, and one moves between two threads: each call works, in parts, while others wait. */
enum { TURNS = 40 };
typedef struct strand {
    prof_fiber *fiber;
    const char *name;
    uint64_t ran[TURNS], slept[TURNS];
} strand;

static strand strands[3];
static int mover_turn; /* 2 * i: of the first thread in its call i; 2 * i + 1: of the second one */

static void strand_part(strand *me, int i, uint64_t ns, unsigned us)
{
    PROFILE_SCOPE("part");
    uint64_t before = cpu_ns();
    work_ns(ns);
    me->ran[i] += cpu_ns() - before;
    if (us) pause_us(us);
    me->slept[i] += us * 1000u;
}

static void *movers_second_thread(void *user)
{
    strand *mover = (strand *)user;
    prof_set_thread_name("second");
    for (int i = 0; i < TURNS; ++i) {
        {
            PROFILE_SCOPE("wait");
            WAIT_UNTIL(__atomic_load_n(&mover_turn, __ATOMIC_ACQUIRE) == 2 * i + 1); /* waiting fibers */
        }
        prof_fiber_switch(mover->fiber);
        strand_part(mover, i, 300000, 0);
        PROFILE_END("call");
        prof_fiber_switch(NULL);
        PROFILE_MARK("it left");
        __atomic_store_n(&mover_turn, 2 * i + 2, __ATOMIC_RELEASE);
    }
    return NULL;
}

TEST(fibers_have_states)
{
    pthread_t second;
    NEEDS_SWITCHES(trace_config(0));
    memset(strands, 0, sizeof strands);
    mover_turn = 0;
    for (int i = 0; i < 3; ++i) {
        strands[i].name = i == 0 ? "left" : i == 1 ? "right" : "mover";
        strands[i].fiber = prof_fiber_create(strands[i].name);
    }
    pthread_create(&second, NULL, movers_second_thread, &strands[2]);
    for (int i = 0; i < TURNS; ++i) {
        for (int j = 0; j < 4; ++j) {
            strand *me = &strands[j % 2];
            prof_fiber_switch(me->fiber);
            if (j < 2) PROFILE_BEGIN("call");
            strand_part(me, i, 200000u + 100000u * (unsigned)j, j == 3 ? 0 : 300);
            if (j >= 2) PROFILE_END("call");
        }
        prof_fiber_switch(strands[2].fiber);
        PROFILE_BEGIN("call");
        strand_part(&strands[2], i, 200000, 300);
        prof_fiber_switch(NULL);
        {
            PROFILE_SCOPE("wait");
            __atomic_store_n(&mover_turn, 2 * i + 1, __ATOMIC_RELEASE);
            WAIT_UNTIL(__atomic_load_n(&mover_turn, __ATOMIC_ACQUIRE) == 2 * i + 2); /* waiting fibers */
        }
    }
    pthread_join(second, NULL);
    prof_trace *trace = trace_stop();
    int wrong = 0;
    for (int i = 0; i < 3; ++i) {
        size_t index = trace_track_named(trace, strands[i].name);
        trace_list list = trace_read(trace, index);
        for (size_t j = 0; j < TURNS; ++j) {
            const prof_event *event = trace_nth(&list, "call", j);
            prof_split split;
            CHECK(event != NULL);
            if (!event) break;
            CHECK_EQUAL(prof_event_split(trace, index, event, &split), PROF_OK);
            CHECK_EQUAL(split.running_ns + split.ready_ns + split.waiting_ns + split.unknown_ns, event->duration_ns);
            int64_t most = event->duration_ns / 20 > 100000 ? event->duration_ns / 20 : 100000;
            int64_t error = (int64_t)split.running_ns - (int64_t)strands[i].ran[j];
            wrong += error > most || -error > most || (int64_t)split.unknown_ns > most ||
                     split.waiting_ns + (uint64_t)most < strands[i].slept[j];
        }
        trace_free(&list);
        prof_fiber_destroy(strands[i].fiber);
    }
    printf("%d of %d calls are wrong by more\n", wrong, 3 * TURNS);
    CHECK(wrong <= 3 * TURNS / 20);
    prof_trace_close(trace);
}

static void *brief_main(void *user)
{
    PROFILE_SCOPE("brief");
    work_ns(100000);
    return user;
}

TEST(brief_threads_are_all_there)
{
    enum { BRIEF = 300 };
    prof_config config = trace_config(8 << 20);
    NEEDS_SWITCHES(config);
    for (int i = 0; i < BRIEF; i += 10) {
        pthread_t threads[10];
        for (int j = 0; j < 10; ++j) pthread_create(&threads[j], NULL, brief_main, NULL);
        for (int j = 0; j < 10; ++j) pthread_join(threads[j], NULL);
    }
    prof_trace *trace = trace_stop();
    size_t found = 0, with = 0;
    for (size_t i = 0; i < prof_trace_track_count(trace); ++i) {
        trace_list list = trace_read(trace, i);
        const prof_event *brief = trace_find(&list, "brief");
        prof_split split;
        if (brief && ++found && !prof_track_split(trace, i, brief->start_ns, brief->duration_ns, &split))
            with += split.running_ns >= 50000 && split.unknown_ns == 0;
        trace_free(&list);
    }
    CHECK_EQUAL(found, BRIEF);
    CHECK_EQUAL(with, BRIEF);
    CHECK_EQUAL(prof_trace_about(trace)->switches_lost, 0);
    prof_trace_close(trace);
}

/* Threads that there were before the start. */
static int early_end;
static void *early_main(void *user)
{
    while (!__atomic_load_n(&early_end, __ATOMIC_ACQUIRE)) pause_us(200);
    PROFILE_SCOPE("early");
    pause_ms(3);
    return user;
}

TEST(threads_of_before_the_start)
{
    pthread_t threads[20];
    early_end = 0;
    for (int i = 0; i < 20; ++i) pthread_create(&threads[i], NULL, early_main, NULL);
    int good = system_start(trace_config(0));
    __atomic_store_n(&early_end, 1, __ATOMIC_RELEASE);
    for (int i = 0; i < 20; ++i) pthread_join(threads[i], NULL);
    if (!good) SKIP("this system refuses perf events");
    prof_trace *trace = trace_stop();
    size_t with = 0;
    for (size_t i = 0; i < prof_trace_track_count(trace); ++i) {
        trace_list list = trace_read(trace, i);
        const prof_event *early = trace_find(&list, "early");
        prof_split split;
        if (early && !prof_track_split(trace, i, early->start_ns, early->duration_ns, &split))
            with += split.unknown_ns == 0 && split.waiting_ns >= 2000000 && split.switches >= 1;
        trace_free(&list);
    }
    CHECK_EQUAL(with, 20);
    prof_trace_close(trace);
}

/* A program that has many threads, and few files: the files stay the program's. */
static void few_files_part(void)
{
    pthread_t threads[20];
    struct rlimit limit = {40, 40};
    if (!system_start(trace_config(0))) return;
    prof_stop();
    early_end = 0;
    for (int i = 0; i < 20; ++i) pthread_create(&threads[i], NULL, early_main, NULL);
    CHECK(!setrlimit(RLIMIT_NOFILE, &limit));
    int good = system_start(trace_config(0)), file = dup(1);
    CHECK(good);
    CHECK(file >= 0 && file < 30);
    close(file);
    __atomic_store_n(&early_end, 1, __ATOMIC_RELEASE);
    for (int i = 0; i < 20; ++i) pthread_join(threads[i], NULL);
    if (!good) return;
    prof_trace *trace = trace_stop();
    if (a_processor() > 0) CHECK(strstr(said(trace, "switches"), "RLIMIT_NOFILE") != NULL);
    CHECK(prof_trace_about(trace)->switches > 0);
    prof_trace_close(trace);
}

TEST(files_stay_the_programs)
{
    if (TRACE_SANITIZER == 2) SKIP("it has no threads after a fork");
    CHECK_EQUAL(in_child(few_files_part), 0);
}

/* A small ring: the newest switches are there, and nothing is invented of the others. */
TEST(a_small_ring_keeps_the_newest)
{
    prof_config config = trace_config(128 << 10);
    worker me;
    memset(&me, 0, sizeof me);
    NEEDS_SWITCHES(config);
    for (int i = 0; i < 20000; ++i) {
        PROFILE_SCOPE("nap");
        if (i % 4 == 0) pause_us(1);
    }
    prof_trace *trace = trace_stop();
    trace_list list = trace_read(trace, 0);
    size_t known = 0, naps = 0;
    for (size_t i = 0; i < list.count; ++i) {
        prof_split split;
        const prof_event *nap = &list.events[i];
        if (nap->type != PROF_EVENT_SCOPE || nap->flags) continue;
        prof_track_split(trace, 0, nap->start_ns, nap->duration_ns, &split);
        CHECK_EQUAL(split.running_ns + split.ready_ns + split.waiting_ns + split.unknown_ns, nap->duration_ns);
        ++naps;
        known += split.unknown_ns == 0;
    }
    CHECK(naps > 100);
    printf("%lu of %lu scopes are known\n", (unsigned long)known, (unsigned long)naps);
    CHECK(known > naps / 4);
    trace_free(&list);
    prof_trace_close(trace);
}

/* A buffer that is full: what comes after is unknown, and counted. */
TEST(a_full_buffer_says_so)
{
    prof_config config = trace_config(128 << 10);
    config.mode = PROF_FILL;
    NEEDS_SWITCHES(config);
    for (int i = 0; i < 9000; ++i) {
        PROFILE_SCOPE("nap");
        if (i % 2 == 0) pause_us(1);
    }
    prof_trace *trace = trace_stop();
    CHECK(prof_trace_about(trace)->switches > 0);
    CHECK(strstr(said(trace, "switches"), "begins and ends of running are missing") != NULL);
    prof_trace_close(trace);
}

TEST(a_budget_ends_it)
{
    uint64_t most = prof__switch_most;
    prof__switch_most = 200;
    int good = system_start(trace_config(0));
    {
        PROFILE_SCOPE("before");
        pause_us(100);
    }
    if (good) WAIT_UNTIL(prof_system_status() == PROF_UNSUPPORTED); /* waiting switches */
    CHECK(!good || strstr(prof_error(), "50,000 a second") != NULL);
    if (good) {
        PROFILE_SCOPE("after");
        pause_ms(2);
    }
    prof__switch_most = most;
    if (!good) SKIP("this system refuses perf events");
    prof_trace *trace = trace_stop();
    trace_list list = trace_read(trace, 0);
    const prof_event *before = trace_find(&list, "before"), *after = trace_find(&list, "after");
    prof_split split;
    CHECK(before && after);
    if (before) prof_track_split(trace, 0, before->start_ns, before->duration_ns, &split);
    if (before) CHECK_EQUAL(split.unknown_ns, 0);
    if (after) prof_track_split(trace, 0, after->start_ns, after->duration_ns, &split);
    if (after) CHECK_EQUAL(split.unknown_ns, after->duration_ns);
    CHECK(strstr(said(trace, "switches"), "ended") != NULL);
    trace_free(&list);
    prof_trace_close(trace);
}

/* An archive, of which the ring is a small part. */
TEST(a_stream_has_all)
{
    const char *path = trace_path("stream.prof");
    prof_config config = trace_config(256 << 10);
    config.mode = PROF_STREAM;
    config.output = path;
    config.wait_ns = 1000000000;
    NEEDS_SWITCHES(config);
    for (int i = 0; i < 9000; ++i) {
        PROFILE_SCOPE("nap");
        if (i % 2 == 0) pause_us(1);
    }
    CHECK_EQUAL(prof_stop(), PROF_OK);
    prof_trace *trace = trace_open_file(path);
    trace_list list = trace_read(trace, 0);
    size_t known = 0;
    for (size_t i = 0; i < list.count; ++i) {
        prof_split split;
        prof_track_split(trace, 0, list.events[i].start_ns, list.events[i].duration_ns, &split);
        known += split.unknown_ns == 0;
    }
    CHECK_EQUAL(list.count, 9000);
    CHECK_EQUAL(known, 9000);
    trace_free(&list);
    prof_trace_close(trace);
}

/* The service ends the recording: all that was before is known. */
TEST(a_duration_ends_it)
{
    const char *path = trace_path("duration.prof");
    for (int stream = 0; stream < 2; ++stream) {
        prof_config config = trace_config(4 << 20);
        config.mode = stream ? PROF_STREAM : PROF_RING;
        config.output = path;
        config.duration_ns = 300000000; /* a busy machine must do some of it, too */
        NEEDS_SWITCHES(config);
        for (int i = 0; prof_enabled() && i < 30000; ++i) {
            PROFILE_SCOPE("nap");
            pause_us(50);
        }
        CHECK_EQUAL(prof_stop(), PROF_OK);
        prof_trace *trace = trace_open_file(path);
        trace_list list = trace_read(trace, 0);
        size_t known = 0, first = SIZE_MAX; /* the first that is not known */
        for (size_t i = 0; i < list.count; ++i) {
            prof_split split;
            prof_track_split(trace, 0, list.events[i].start_ns, list.events[i].duration_ns, &split);
            known += split.unknown_ns == 0;
            if (split.unknown_ns && first == SIZE_MAX) first = i;
            CHECK(split.unknown_ns || first == SIZE_MAX); /* those after the last round, while the session ended */
        }
        CHECK(known > 2);
        trace_free(&list);
        prof_trace_close(trace);
    }
}

/* One that ends while it starts leaves nothing behind. */
TEST(a_duration_that_is_over_at_once)
{
    for (int i = 0; i < 20; ++i) {
        prof_config config = trace_config(0);
        config.duration_ns = (uint64_t)i * 20000 + 1;
        config.switches = 1;
        trace_start(&config);
        CHECK_EQUAL(prof_stop(), PROF_OK);
        CHECK(!prof__system.running);
    }
}

#ifdef __linux__
/* The program's write(): the first one waits, as if its thread did not run; those that fail are counted. */
static int writes_wait, writes_failed;
ssize_t write(int file, const void *data, size_t size)
{
    if (__atomic_exchange_n(&writes_wait, 0, __ATOMIC_RELAXED)) pause_ms(150); /* longer than prof's thread sleeps */
    ssize_t written = syscall(SYS_write, file, data, size);
    if (written < 0) ++writes_failed;
    return written;
}

/* prof_stop() comes when the service has just begun to end the recording: nobody uses a file that the other closed. */
TEST(a_stop_and_the_end_of_a_duration)
{
    writes_failed = 0;
    for (int i = 0; i < 4; ++i) {
        prof_config config = trace_config(0);
        config.duration_ns = 1000000;
        config.switches = 1;
        __atomic_store_n(&writes_wait, 1, __ATOMIC_RELAXED);
        trace_start(&config);
        while (prof_enabled() && !PROF__LOAD(&prof__system.stop)) continue;
        CHECK_EQUAL(prof_stop(), PROF_OK);
        CHECK(!prof__system.running);
    }
    CHECK_EQUAL(writes_failed, 0);
}
#endif

TEST(a_pause_leaves_a_hole)
{
    NEEDS_SWITCHES(trace_config(0));
    {
        PROFILE_SCOPE("whole");
        pause_ms(250); /* a round is over */
        prof_pause();
        for (int i = 0; i < 30; ++i) pause_ms(10);
        prof_resume();
        pause_ms(250);
    }
    prof_trace *trace = trace_stop();
    prof_split split;
    trace_list list = trace_read(trace, 0);
    const prof_event *whole = trace_find(&list, "whole");
    CHECK(whole != NULL);
    if (whole) prof_track_split(trace, 0, whole->start_ns, whole->duration_ns, &split);
    if (whole) CHECK(split.unknown_ns > 50000000 && split.waiting_ns > 200000000);
    CHECK(prof_trace_about(trace)->switches_lost > 0);
    trace_free(&list);
    prof_trace_close(trace);
}

static int refused_with;
static void refused_part(void)
{
    prof_config config = trace_config(0);
    refuse(SYS_perf_event_open, refused_with);
    config.system = 1;
    CHECK_EQUAL(prof_start(&config), PROF_OK);
    CHECK_EQUAL(prof_system_status(), PROF_UNSUPPORTED);
    CHECK(strstr(prof_error(), "perf_event_open") != NULL);
    {
        PROFILE_SCOPE("goes on");
        pause_ms(2);
    }
    prof_trace *trace = trace_stop();
    CHECK(strstr(said(trace, "switches"), "not recorded: perf_event_open: ") != NULL);
    CHECK_TEXT(said(trace, "samples"), said(trace, "switches"));
    CHECK(strstr(said(trace, "switches"), refused_with == EPERM ? "seccomp" : "CONFIG_PERF_EVENTS") != NULL ||
          strstr(said(trace, "switches"), "paranoid") != NULL);
    trace_list list = trace_read(trace, 0);
    const prof_event *scope = trace_find(&list, "goes on");
    prof_split split;
    CHECK(scope != NULL);
    if (scope) CHECK_EQUAL(prof_track_split(trace, 0, scope->start_ns, scope->duration_ns, &split), PROF_OK);
    if (scope) CHECK_EQUAL(split.unknown_ns, scope->duration_ns);
    trace_free(&list);
    prof_trace_close(trace);
    CHECK_EQUAL(prof_system_status(), PROF_INVALID_STATE);
}

TEST(a_refusal_is_said)
{
    refused_with = EPERM;
    int result = in_child(refused_part);
    if (result == NO_FILTERS) SKIP("this system has no seccomp");
    CHECK_EQUAL(result, 0);
    refused_with = ENOSYS;
    CHECK_EQUAL(in_child(refused_part), 0);
}

/* Started before the filter, which kills: it goes on. */
static void filtered_part(void)
{
    prof_config config = trace_config(0);
    config.samples = 2000;
    NEEDS_SWITCHES(config);
    pause_ms(20); /* prof's thread sleeps now */
    refuse(SYS_perf_event_open, 0);
#ifdef SYS_poll
    refuse(SYS_poll, 0);
#endif
    refuse(SYS_ppoll, 0);
#ifdef SYS_readlink
    refuse(SYS_readlink, 0);
#endif
    refuse(SYS_getcwd, 0);
    for (int i = 0; i < 100; ++i) pause_ms(3);
    for (volatile int i = 0; i < 50000000; ++i) continue;
    pthread_t thread;
    pthread_create(&thread, NULL, brief_main, NULL);
    pthread_join(thread, NULL);
    prof_trace *trace = trace_stop();
    CHECK(prof_trace_about(trace)->switches > 90);
    CHECK(prof_trace_about(trace)->samples > 10);
    prof_trace_close(trace);
}
TEST(a_filter_after_the_start)
{
    int result = in_child(filtered_part);
    if (result == NO_FILTERS) SKIP("this system has no seccomp");
    CHECK_EQUAL(result, 0);
}

/* Processors are on that this file names. */
static void processors_are(const char *root, const char *list)
{
    char path[2000];
    snprintf(path, sizeof path, "%s/sys/devices/system/cpu/online", root);
    for (char *slash = path + strlen(root); (slash = strchr(slash + 1, '/')) != NULL; *slash = '/') {
        *slash = 0;
        mkdir(path, 0777);
    }
    FILE *file = fopen(path, "r+"); /* not shortened: prof reads it meanwhile */
    if (!file) file = fopen(path, "w");
    CHECK(file && fputs(list, file) >= 0);
    if (file) fclose(file);
}

static int has_ring; /* the second processor */
static void *late_main(void *user)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(1, &set);
    sched_setaffinity(0, sizeof set, &set);
    prof_set_thread_name("late");
    while (!__atomic_load_n(&has_ring, __ATOMIC_ACQUIRE)) pause_ms(1);
    for (int i = 0; i < 20; ++i) {
        PROFILE_SCOPE("late");
        work_ns(1000000);
        pause_ms(1);
    }
    return user;
}

TEST(a_processor_that_is_switched_on_later)
{
    if (TRACE_SANITIZER == 2) SKIP("it looks at what prof's thread writes, which the thread sanitizer calls a race");
    if (sysconf(_SC_NPROCESSORS_CONF) < 2 || sysconf(_SC_NPROCESSORS_ONLN) < 2) SKIP("one processor");
    char root[1000];
    snprintf(root, sizeof root, "%s", trace_path("processors"));
    mkdir(root, 0777);
    processors_are(root, "0\n");
    prof__system_root = root;
    pthread_t thread;
    int good = system_start(trace_config(0));
    if (!good) {
        prof__system_root = "";
        SKIP("this system refuses perf events");
    }
    CHECK(prof__system.rings[0].map && !prof__system.rings[1].map);
    CHECK(!pthread_create(&thread, NULL, late_main, NULL));
    pause_ms(5);
    processors_are(root, "0-1,9999\n");
    WAIT_UNTIL(PROF__ACQUIRE(&prof__system.event_count) >= 3); /* the first one; of the ring: prof's, and both threads' */
    pause_ms(1);
    __atomic_store_n(&has_ring, 1, __ATOMIC_RELEASE);
    pthread_join(thread, NULL);
    prof_trace *trace = trace_stop();
    prof__system_root = "";
    CHECK(strstr(said(trace, "switches"), "not those of processor 9999") != NULL);
    size_t known = 0;
    for (size_t i = 0; i < prof_trace_track_count(trace); ++i) {
        trace_list list = trace_read(trace, i);
        for (size_t j = 0; j < list.count; ++j) {
            prof_split split;
            if (strcmp(list.events[j].name, "late")) continue;
            prof_event_split(trace, i, &list.events[j], &split);
            known += !split.unknown_ns && split.running_ns > 500000 && split.waiting_ns > 500000;
        }
        trace_free(&list);
    }
    CHECK(known >= 19); /* the first may begin before the thread's first switch there */
    prof_trace_close(trace);
}

static void forked_part(void)
{
    {
        PROFILE_SCOPE("in the child");
        pause_ms(1);
    }
    CHECK_EQUAL(prof_system_status(), PROF_UNSUPPORTED);
    prof_trace *trace = trace_stop();
    CHECK(strstr(said(trace, "switches"), "fork") != NULL);
    CHECK_EQUAL(prof_trace_about(trace)->switches, 0);
    prof_trace_close(trace);
    if (TRACE_SANITIZER == 2) return; /* which has no threads after a fork */
    if (!system_start(trace_config(0))) return;
    pause_ms(1);
    trace = trace_stop();
    CHECK(prof_trace_about(trace)->switches > 0);
    CHECK_TEXT(said(trace, "switches"), "");
    prof_trace_close(trace);
}

TEST(a_child_says_that_it_has_none)
{
    NEEDS_SWITCHES(trace_config(0));
    int child = in_child(forked_part);
    {
        PROFILE_SCOPE("in the parent");
        pause_ms(1);
    }
    prof_trace *trace = trace_stop();
    prof_split split;
    trace_list list = trace_read(trace, 0);
    const prof_event *scope = trace_find(&list, "in the parent");
    CHECK_EQUAL(child, 0);
    CHECK(scope != NULL);
    if (scope) prof_track_split(trace, 0, scope->start_ns, scope->duration_ns, &split);
    if (scope) CHECK(split.waiting_ns >= 1000000 && split.unknown_ns == 0);
    trace_free(&list);
    prof_trace_close(trace);
}

TEST(kill_keeps_what_was_packed)
{
    const char *path = trace_path("killed.prof");
    int *ready = (int *)mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t child = fork();
    if (!child) {
        prof_config config = trace_config(0);
        config.output = path;
        config.switches = 1;
        if (prof_start(&config) || prof_system_status()) _exit(3);
        for (int i = 0;; ++i) {
            PROFILE_SCOPE("nap");
            pause_ms(1);
            if (i == 400) __atomic_store_n(ready, 1, __ATOMIC_RELEASE);
        }
    }
    int status = 0;
    while (!__atomic_load_n(ready, __ATOMIC_ACQUIRE) && !waitpid(child, &status, WNOHANG)) pause_ms(1);
    kill(child, SIGKILL);
    if (!status) waitpid(child, &status, 0);
    munmap(ready, 4096);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 3) SKIP("this system refuses perf events");
    prof_trace *trace = trace_open_file(path);
    trace_list list = trace_read(trace, 0);
    size_t known = 0, naps = 0;
    for (size_t i = 0; i < list.count; ++i) {
        prof_split split;
        prof_track_split(trace, 0, list.events[i].start_ns, list.events[i].duration_ns, &split);
        naps += list.events[i].type == PROF_EVENT_SCOPE;
        known += split.unknown_ns == 0 && split.waiting_ns >= 900000;
    }
    CHECK(naps >= 400);
    CHECK(known >= 100); /* all but those of the last rounds, of 100 ms */
    CHECK(!prof_trace_about(trace)->complete);
    trace_free(&list);
    prof_trace_close(trace);
}

/* What is not asked for costs nothing: no thread, no events. */
TEST(nothing_happens_unasked)
{
    prof_config config = trace_config(0);
    trace_start(&config);
    CHECK_EQUAL(prof_system_status(), PROF_INVALID_STATE);
    CHECK(!prof__system.running);
    prof_trace *trace = trace_stop();
    CHECK_EQUAL(trace_track_named(trace, "prof system"), prof_trace_track_count(trace));
    CHECK_EQUAL(prof_trace_about(trace)->switches, 0);
    prof_trace_close(trace);
}
#endif

TEST_MAIN
