/* prof_why(): images of which every time is known, and locks that are marked up. tests/test_why.sh has programs. */
#include "private.h"
#include "test.h"
#include "trace.h"
#include "image.h"
#include "image_switches.h"

static prof_why_report *why_of(const prof_trace *trace, const prof_why_options *options)
{
    prof_why_report *report = NULL;
    CHECK_EQUAL(prof_why(trace, options, &report), PROF_OK);
    if (!report) {
        printf("%s\n", prof_error());
        exit(1);
    }
    for (size_t i = 0; i < report->count; ++i) { /* all sums are exact */
        const prof_why_call *call = &report->calls[i];
        const prof_split *split = &call->split;
        uint64_t waits = 0, inner = 0, ran = 0;
        CHECK_EQUAL(split->running_ns + split->ready_ns + split->waiting_ns + split->unknown_ns, split->wall_ns);
        for (size_t k = 0; k < call->wait_count; ++k) waits += call->waits[k].ns;
        for (size_t k = 0; k < call->inner_count; ++k) inner += call->inner[k].self_ns;
        for (size_t k = 0; k < call->ran_count; ++k) ran += call->ran_instead[k].ns;
        CHECK_EQUAL(waits, split->waiting_ns);
        CHECK_EQUAL(inner, split->wall_ns);
        CHECK(ran <= split->ready_ns);
    }
    return report;
}

static prof_why_report *why_name(const prof_trace *trace, const char *name, size_t slowest)
{
    prof_why_options options;
    memset(&options, 0, sizeof options);
    options.name = name;
    options.slowest = slowest;
    return why_of(trace, &options);
}

/* Checks an error, and that there is no report then. */
static void refused(const prof_trace *trace, const prof_why_options *options, const char *message)
{
    prof_why_report *report = (prof_why_report *)&report;
    CHECK_EQUAL(prof_why(trace, options, &report), PROF_INVALID_ARGUMENT);
    CHECK_TEXT(prof_error(), message);
    CHECK(!report);
}

static void check_inner(const prof_why_call *call, size_t i, const char *name, uint64_t self, uint64_t median,
                        uint64_t calls, uint64_t longest)
{
    CHECK(i < call->inner_count);
    if (i >= call->inner_count) return;
    CHECK_TEXT(call->inner[i].name, name);
    CHECK_EQUAL(call->inner[i].self_ns, self);
    CHECK_EQUAL(call->inner[i].median_ns, median);
    CHECK_EQUAL(call->inner[i].calls, calls);
    CHECK_EQUAL(call->inner[i].longest_ns, longest);
}

/* Five steps in main, of 320 ns each; but the fourth one takes 1120, because of load. Thread 7 is on the track. */
static image steps_image(void)
{
    image im = image_new(400, 1, 200);
    uint32_t outer = site(&im, "main"), step = site(&im, "step"), load = site(&im, "load"), draw = site(&im, "draw");
    uint64_t now = START_TICK;
    switches_serial = 0;
    chunk(&im, 0, 1, START_TICK);
    track_on(&im, string(&im, "drawer"), 1, 1, 7);
    begin(&im, outer, now);
    for (int i = 0; i < 5; ++i) {
        begin(&im, step, now);
        begin(&im, load, now + 10);
        end(&im, load, now += i == 3 ? 910 : 110);
        begin(&im, draw, now);
        end(&im, draw, now += 200);
        end(&im, step, now += 10);
    }
    end(&im, outer, now);
    return im;
}

TEST(the_slowest_call_of_what_differs_most)
{
    image im = steps_image();
    prof_trace *trace = image_read(&im);
    prof_why_report *report = why_of(trace, NULL);
    const prof_why_call *call = report->calls;
    CHECK_TEXT(report->name, "step");
    CHECK(!report->frames && !report->waits);
    CHECK_EQUAL(report->count_all, 5);
    CHECK(report->median_ns >= 320 && report->median_ns <= 323); /* the histogram has steps */
    CHECK_EQUAL(report->count, 1);
    CHECK_TEXT(call->name, "step");
    CHECK_EQUAL(call->start_ns, 3 * 320);
    CHECK_EQUAL(call->split.wall_ns, 1120);
    CHECK_EQUAL(call->split.unknown_ns, 1120);
    CHECK(!call->states);
    CHECK_EQUAL(call->inner_count, 3);
    check_inner(call, 0, "load", 900, 100, 1, 900);
    check_inner(call, 1, "draw", 200, 200, 1, 200);
    check_inner(call, 2, "step", 20, 20, 1, 20);
    prof_why_free(report);
    report = why_name(trace, "step", 3);
    CHECK_EQUAL(report->count, 3);
    CHECK_EQUAL(report->calls[0].start_ns, 960);
    CHECK_EQUAL(report->calls[1].start_ns, 0); /* of equal ones the first */
    CHECK_EQUAL(report->calls[2].start_ns, 320);
    prof_why_free(report);
    report = why_name(trace, "main", 0);
    CHECK_EQUAL(report->calls->split.wall_ns, 4 * 320 + 1120);
    check_inner(report->calls, 0, "load", 1300, 100, 5, 900);
    check_inner(report->calls, 1, "draw", 1000, 200, 5, 200);
    check_inner(report->calls, 2, "step", 100, 20, 5, 20);
    check_inner(report->calls, 3, "main", 0, 0, 1, 0);
    prof_why_free(report);
    CHECK_EQUAL(prof_trace_set_window(trace, 0, 900), PROF_OK);
    report = why_of(trace, NULL);
    CHECK_EQUAL(report->count_all, 2);
    CHECK_EQUAL(report->calls->split.wall_ns, 320);
    prof_why_free(report);
    prof_trace_close(trace);
}

TEST(the_call_at_a_time)
{
    image im = steps_image();
    prof_trace *trace = image_read(&im);
    prof_why_options options;
    prof_why_report *report;
    memset(&options, 0, sizeof options);
    options.at = 1;
    options.at_ns = 1000; /* load and step took 800 more than their medians */
    report = why_of(trace, &options);
    CHECK_TEXT(report->name, "");
    CHECK_TEXT(report->calls->name, "step");
    CHECK_EQUAL(report->calls->start_ns, 960);
    prof_why_free(report);
    options.at_ns = 15; /* all took as long as ever: not main, which is called once */
    report = why_of(trace, &options);
    CHECK_TEXT(report->calls->name, "step");
    CHECK_EQUAL(report->calls->start_ns, 0);
    prof_why_free(report);
    options.name = "draw";
    options.at_ns = 110;
    report = why_of(trace, &options);
    CHECK_EQUAL(report->calls->start_ns, 110);
    prof_why_free(report);
    options.at_ns = 310;
    refused(trace, &options, "no draw was going on at 0.000 ms: the recording has 0.002 ms");
    options.name = NULL;
    options.at_ns = 5000000;
    refused(trace, &options, "no scope was going on at 5.000 ms: the recording has 0.002 ms");
    prof_trace_close(trace);
}

TEST(frames_and_names)
{
    image im = image_new(100, 1, 100);
    uint32_t frame = site_in(&im, "frame", "", "", 0, "", PROF__KIND_FRAME), load = site(&im, "load");
    prof_why_options options;
    prof_why_report *report;
    chunk(&im, 0, 1, START_TICK);
    track(&im, string(&im, "main"), 1);
    at_tick(&im, PROF__KIND_FRAME, frame, 1000);
    begin(&im, load, 1050); /* goes on in the next frame */
    at_tick(&im, PROF__KIND_FRAME, frame, 1100);
    end(&im, load, 1150);
    at_tick(&im, PROF__KIND_FRAME, frame, 1300);
    begin(&im, load, 1310);
    end(&im, load, 1320);
    at_tick(&im, PROF__KIND_FRAME, frame, 1400);
    prof_trace *trace = image_read(&im);
    report = why_of(trace, NULL);
    CHECK_TEXT(report->name, "frame");
    CHECK(report->frames);
    CHECK_EQUAL(report->count_all, 3);
    CHECK_EQUAL(report->median_ns, 100);
    CHECK_EQUAL(report->calls->number, 2);
    CHECK_EQUAL(report->calls->start_ns, 100);
    CHECK_EQUAL(report->calls->split.wall_ns, 200);
    check_inner(report->calls, 0, "", 150, 0, 0, 0);
    check_inner(report->calls, 1, "load", 50, 10, 0, 0);
    prof_why_free(report);
    memset(&options, 0, sizeof options);
    options.frame = 3;
    report = why_of(trace, &options);
    CHECK_EQUAL(report->calls->start_ns, 300);
    check_inner(report->calls, 0, "", 90, 0, 0, 0);
    check_inner(report->calls, 1, "load", 10, 10, 1, 10);
    prof_why_free(report);
    options.frame = 4;
    refused(trace, &options, "there is no frame 4 of 'frame': it was not recorded, or is overwritten");
    options.frame = 0;
    options.name = "loda";
    refused(trace, &options, "no scope or frame is called 'loda': did you mean 'load'?");
    options.name = "frames";
    refused(trace, &options, "no scope or frame is called 'frames': did you mean 'frame'?");
    options.name = "load";
    options.frame = 1;
    refused(trace, &options, "no frame is called 'load': did you mean 'frame'?");
    refused(NULL, &options, "prof_why: trace or report is null");
    prof_trace_close(trace);
    im = image_new(20, 1, 20);
    chunk(&im, 0, 1, START_TICK);
    track(&im, 0, 1);
    trace = image_read(&im);
    refused(trace, NULL, "the recording has no scopes and no frames");
    memset(&options, 0, sizeof options);
    options.frame = 1;
    refused(trace, &options, "the recording has no frames: PROFILE_FRAME(name) marks them");
    options.frame = 0;
    options.name = "x";
    refused(trace, &options, "no scope or frame is called 'x': there are none");
    prof_trace_close(trace);
    prof_why_free(NULL);
}

/* The markup of locks alone says what a thread waited for, and who had it. */
TEST(locks_that_are_marked_up)
{
    image im = image_new(60, 2, 200);
    uint32_t lock = site_in(&im, "textures", "", "", 0, "", PROF__KIND_EVENT | PROF_ROLE_LOCK << PROF__ROLE_SHIFT);
    uint32_t save = site(&im, "save"), draw = site(&im, "draw"), waits = site(&im, "wait for textures");
    chunk(&im, 0, 1, START_TICK);
    track(&im, string(&im, "worker"), 1);
    begin(&im, save, 1010);
    event(&im, lock, PROF_EVENT_LOCK_ACQUIRE, 0, 0xABC, 1020);
    event(&im, lock, PROF_EVENT_LOCK_RELEASE, 0, 0xABC, 1500);
    end(&im, save, 1600);
    begin(&im, save, 2010);
    event(&im, lock, PROF_EVENT_LOCK_ACQUIRE, 0, 0xABC, 2020);
    event(&im, lock, PROF_EVENT_LOCK_RELEASE, 0, 0xABC, 2200);
    end(&im, save, 2300);
    chunk(&im, 1, 2, START_TICK);
    track(&im, string(&im, "main"), 2);
    begin(&im, draw, 1100);
    event(&im, lock, PROF_EVENT_LOCK_WAIT, 0, 0xABC, 1110);
    event(&im, lock, PROF_EVENT_LOCK_ACQUIRE, 0, 0xABC, 1510);
    event(&im, lock, PROF_EVENT_LOCK_RELEASE, 0, 0xABC, 1520);
    event(&im, lock, PROF_EVENT_LOCK_WAIT, 0, 0xABC, 1530); /* it was free */
    event(&im, lock, PROF_EVENT_LOCK_ACQUIRE, 0, 0xABC, 1540);
    event(&im, lock, PROF_EVENT_LOCK_RELEASE, 0, 0xABC, 1550);
    begin(&im, waits, 2100); /* PROFILE_MUTEX_LOCK */
    event(&im, lock, PROF_EVENT_LOCK_WAIT, 1, 0xABC, 2100);
    event(&im, lock, PROF_EVENT_LOCK_ACQUIRE, 0, 0xABC, 2210);
    end(&im, waits, 2210);
    event(&im, lock, PROF_EVENT_LOCK_RELEASE, 0, 0xABC, 2220);
    end(&im, draw, 2230);
    prof_trace *trace = image_read(&im);
    prof_wait *list = NULL;
    size_t count = 0;
    CHECK_EQUAL(prof_waits(trace, &list, &count), PROF_OK);
    CHECK_EQUAL(count, 2);
    for (size_t i = 0; i < count; ++i) {
        CHECK_TEXT(list[i].call, "");
        CHECK_TEXT(list[i].name, "textures");
        CHECK_TEXT(list[i].what, "lock");
        CHECK_EQUAL(list[i].object, 0xABC);
        CHECK_EQUAL(list[i].start_ns, i ? 1100 : 110);
        CHECK_EQUAL(list[i].duration_ns, i ? 110 : 400);
        CHECK_EQUAL(list[i].track, 1);
        CHECK_EQUAL(list[i].holder_track, 0);
        CHECK_EQUAL(list[i].holder, 101);
        CHECK_TEXT(list[i].holder_scope, "save");
        CHECK_TEXT(list[i].scope, "draw");
    }
    prof_waits_free(list);
    prof_why_report *report = why_name(trace, "draw", 0);
    const prof_why_call *call = report->calls;
    CHECK(report->waits && !call->states);
    CHECK_EQUAL(call->split.waiting_ns, 400 + 110);
    CHECK_EQUAL(call->split.unknown_ns, 1130 - 510);
    CHECK_EQUAL(call->wait_count, 1);
    if (call->wait_count == 1) {
        CHECK_TEXT(call->waits->kind, "lock");
        CHECK_TEXT(call->waits->name, "textures");
        CHECK_EQUAL(call->waits->ns, 510);
        CHECK_EQUAL(call->waits->count, 2);
        CHECK_TEXT(call->waits->holder_scope, "save");
        CHECK_EQUAL(call->waits->holder_track, 0);
    }
    prof_why_free(report);
    prof_trace_close(trace);
}

/* What the system did. Thread 8 ran on processor 1 while thread 7 could have. */
TEST(states_and_who_ran_instead)
{
    image im = image_new(400, 2, 100);
    uint32_t work = site(&im, "work"), burn = site(&im, "burn");
    switches_serial = 0;
    chunk(&im, 0, 1, START_TICK);
    track_on(&im, string(&im, "hog"), 1, 1, 8);
    begin(&im, burn, START_TICK + 5);
    end(&im, burn, START_TICK + 900);
    chunk(&im, 1, 2, START_TICK);
    track_on(&im, string(&im, "main"), 2, 1, 7);
    begin(&im, work, START_TICK + 10);
    end(&im, work, START_TICK + 1000);
    system_begin(&im, 5, 7, PROF__SWITCH_KNOWN);
    switch_at(&im, 1, 100, 7, PROF__SWITCH_WAITS);
    switch_at(&im, 1, 150, 7, PROF__SWITCH_IN);
    switch_at(&im, 1, 250, 7, PROF__SWITCH_READY);
    switch_at(&im, 1, 250, 8, PROF__SWITCH_IN);
    switch_at(&im, 1, 290, 8, PROF__SWITCH_WAITS);
    switch_at(&im, 0, 300, 7, PROF__SWITCH_IN);
    known_until(&im, 600);
    prof_trace *trace = image_read(&im);
    prof_why_report *report = why_name(trace, "work", 0);
    const prof_why_call *call = report->calls;
    CHECK(call->states);
    CHECK_EQUAL(call->split.running_ns, 90 + 100 + 300);
    CHECK_EQUAL(call->split.ready_ns, 50);
    CHECK_EQUAL(call->split.waiting_ns, 50);
    CHECK_EQUAL(call->split.unknown_ns, 400);
    CHECK_EQUAL(call->ran_count, 1);
    if (call->ran_count == 1) {
        CHECK_EQUAL(call->ran_instead->track, 0);
        CHECK_EQUAL(call->ran_instead->ns, 40);
    }
    CHECK_EQUAL(call->wait_count, 1); /* nothing says for what */
    if (call->wait_count == 1) CHECK_TEXT(call->waits->kind, "unknown");
    prof_why_free(report);
    prof_trace_close(trace);
}

/* What a device did during a call, and how much of that its thread waited without a record that says for what. */
TEST(what_devices_did_meanwhile)
{
    image im = image_new(400, 2, 300);
    uint32_t draw = site(&im, "draw"), device = device_in(&im, 1, "GPU", "graphics");
    uint32_t cuda = device_in(&im, 2, "CUDA", "synchronization"); /* what threads of the host do is no work of a device */
    uint32_t lock = site_in(&im, "textures", "", "", 0, "", PROF__KIND_EVENT | PROF_ROLE_LOCK << PROF__ROLE_SHIFT);
    switches_serial = 0;
    chunk(&im, 0, 1, START_TICK);
    track_on(&im, string(&im, "worker"), 1, 1, 8);
    event(&im, lock, PROF_EVENT_LOCK_ACQUIRE, 0, 0xABC, START_TICK + 20);
    event(&im, lock, PROF_EVENT_LOCK_RELEASE, 0, 0xABC, START_TICK + 95);
    chunk(&im, 1, 2, START_TICK);
    track_on(&im, string(&im, "main"), 2, 1, 7);
    begin(&im, draw, START_TICK + 10);
    event(&im, lock, PROF_EVENT_LOCK_WAIT, 0, 0xABC, START_TICK + 60);
    event(&im, lock, PROF_EVENT_LOCK_ACQUIRE, 0, 0xABC, START_TICK + 100);
    event(&im, lock, PROF_EVENT_LOCK_RELEASE, 0, 0xABC, START_TICK + 110);
    end(&im, draw, START_TICK + 500);
    device_scope(&im, device, 1, "frame", 50, 450);
    device_scope(&im, device, 1, "shadow", 60, 200);
    device_scope(&im, device, 1, "colour", 200, 420);
    device_scope(&im, device, 1, "after it", 600, 700);
    device_scope(&im, cuda, 2, "wait for the GPU", 60, 400);
    system_begin(&im, 5, 7, PROF__SWITCH_KNOWN);
    switch_at(&im, 1, 60, 7, PROF__SWITCH_WAITS);
    switch_at(&im, 1, 100, 7, PROF__SWITCH_IN);
    switch_at(&im, 1, 150, 7, PROF__SWITCH_WAITS);
    switch_at(&im, 1, 400, 7, PROF__SWITCH_IN);
    known_until(&im, 800);
    prof_trace *trace = image_read(&im);
    prof_why_report *report = why_name(trace, "draw", 0);
    const prof_why_call *call = report->calls;
    CHECK_EQUAL(call->split.waiting_ns, 40 + 250);
    CHECK_EQUAL(call->device_count, 3);
    if (call->device_count == 3) {
        CHECK_TEXT(call->devices[0].name, "colour");
        CHECK_EQUAL(call->devices[0].ns, 220);
        CHECK_EQUAL(call->devices[0].waited_ns, 200);
        CHECK_TEXT(prof_trace_track(trace, call->devices[0].track)->device, "GPU");
        CHECK_TEXT(call->devices[1].name, "shadow");
        CHECK_EQUAL(call->devices[1].ns, 140);
        CHECK_EQUAL(call->devices[1].waited_ns, 50); /* and 40 for the lock */
        CHECK_TEXT(call->devices[2].name, "frame");
        CHECK_EQUAL(call->devices[2].ns, 40);
        CHECK_EQUAL(call->devices[2].waited_ns, 0);
    }
    prof_why_free(report);
    report = why_name(trace, "colour", 0); /* a device's own scope */
    CHECK_EQUAL(report->calls->device_count, 0);
    prof_why_free(report);
    prof_trace_close(trace);
}

static void fault_at(image *im, uint64_t ns, uint32_t thread, uint64_t address, uint32_t file)
{
    put(im, head(PROF__KIND_EVENT, 0, 100));
    put(im, PROF__DEVICE_FAULTS);
    put(im, START_MONOTONIC + ns - 10);
    put(im, (uint64_t)PROF__KIND_DATA << PROF__KIND_SHIFT | 3);
    put(im, prof__delay_word(10, thread));
    put(im, address);
    put(im, file);
}

/* A fault ends the wait of its thread that is just over. All faults of a file are one row. */
TEST(page_faults)
{
    image im = image_new(200, 1, 200);
    uint32_t load = site(&im, "load"), file = string(&im, "/data/textures");
    chunk(&im, 0, 1, START_TICK);
    track_on(&im, string(&im, "main"), 1, 1, 7);
    begin(&im, load, START_TICK + 10);
    system_begin(&im, 5, 7, PROF__SWITCH_KNOWN);
    switch_at(&im, 0, 1000, 7, PROF__SWITCH_WAITS);
    switch_at(&im, 0, 3000, 7, PROF__SWITCH_IN);
    fault_at(&im, 3010, 7, 0x5000, file);
    switch_at(&im, 0, 4000, 7, PROF__SWITCH_WAITS);
    switch_at(&im, 0, 4500, 7, PROF__SWITCH_IN);
    fault_at(&im, 4510, 7, 0x9000, file);
    switch_at(&im, 0, 5000, 7, PROF__SWITCH_WAITS); /* for something else: no fault follows soon */
    switch_at(&im, 0, 6000, 7, PROF__SWITCH_IN);
    fault_at(&im, 100000, 7, 0xa000, file);
    switch_at(&im, 0, 110000, 7, PROF__SWITCH_WAITS);
    switch_at(&im, 0, 110100, 7, PROF__SWITCH_IN);
    fault_at(&im, 110200, 7, 0xb000, 0);
    fault_at(&im, 110300, 7, 0xc000, 0); /* that wait was for the one before */
    end(&im, load, START_TICK + 200000);
    known_until(&im, 250000);
    prof_trace *trace = image_read(&im);
    prof_why_report *report = why_name(trace, "load", 0);
    const prof_why_call *call = report->calls;
    CHECK_EQUAL(call->wait_count, 3);
    if (call->wait_count == 3) {
        CHECK_TEXT(call->waits[0].kind, "fault");
        CHECK_TEXT(call->waits[0].name, "/data/textures");
        CHECK_EQUAL(call->waits[0].object, 0x5000);
        CHECK_EQUAL(call->waits[0].ns, 2500);
        CHECK_EQUAL(call->waits[0].count, 2);
        CHECK_TEXT(call->waits[0].scope, "load");
        CHECK_TEXT(call->waits[1].kind, "unknown");
        CHECK_EQUAL(call->waits[1].ns, 1000);
        CHECK_TEXT(call->waits[2].kind, "fault");
        CHECK_EQUAL(call->waits[2].object, 0xb000);
        CHECK_EQUAL(call->waits[2].ns, 100);
    }
    CHECK_EQUAL(prof_trace_about(trace)->unknown, 0);
    prof_why_free(report);
    prof_trace_close(trace);
}

/* PROFILE_SCOPE_TIMED says it itself; a wait that is recorded is no longer than that. */
TEST(a_scope_that_was_timed)
{
    static const char *const keys[] = {PROF__KEY_RUNNING, PROF__KEY_READY, PROF__KEY_WAITING};
    image im = image_new(60, 1, 200);
    uint32_t work = site(&im, "work");
    uint32_t wait = site_in(&im, "nanosleep", "wait", "", 0, "", PROF__KIND_BEGIN | PROF_ROLE_WAIT << PROF__ROLE_SHIFT);
    uint64_t parts[] = {600, 90, 300};
    chunk(&im, 0, 1, START_TICK);
    track(&im, string(&im, "main"), 1);
    begin(&im, work, 1000);
    begin(&im, wait, 1100);
    end(&im, wait, 1410);
    for (int i = 0; i < 3; ++i) arg_word(&im, site(&im, keys[i]), PROF_VALUE_UINT, parts[i]);
    end(&im, work, 2000);
    prof_trace *trace = image_read(&im);
    prof_why_report *report = why_name(trace, "work", 0);
    const prof_why_call *call = report->calls;
    CHECK(call->states);
    CHECK_EQUAL(call->split.running_ns, 610);
    CHECK_EQUAL(call->split.ready_ns, 90);
    CHECK_EQUAL(call->split.waiting_ns, 300);
    CHECK_EQUAL(call->wait_count, 1);
    if (call->wait_count == 1) {
        CHECK_TEXT(call->waits->kind, "sleep");
        CHECK_EQUAL(call->waits->ns, 300);
    }
    CHECK_EQUAL(call->inner_count, 1);
    prof_why_free(report);
    prof_trace_close(trace);
}

static void counter(image *im, uint32_t id, int64_t value, uint64_t tick)
{
    at_tick(im, PROF__KIND_COUNTER_INT, id, tick);
    put(im, (uint64_t)value);
}

TEST(counters_allocations_messages)
{
    image im = image_new(200, 2, 200);
    uint32_t work = site(&im, "work");
    uint32_t queue = site_in(&im, "queue", "", "", 0, "", PROF__KIND_COUNTER_INT);
    uint32_t steady = site_in(&im, "steady", "", "", 0, "", PROF__KIND_COUNTER_INT);
    uint32_t later = site_in(&im, "later", "", "", 0, "", PROF__KIND_COUNTER_INT);
    uint32_t sampled = site_in(&im, "cgroup throttled", "system", "", 0, "", PROF__KIND_COUNTER_INT);
    uint32_t memory = site_in(&im, "block", "", "", 0, "", PROF__KIND_EVENT | PROF_ROLE_MEMORY << PROF__ROLE_SHIFT);
    uint32_t message = site_in(&im, "disk is slow", "", "", 0, "", PROF__KIND_EVENT);
    chunk(&im, 0, 1, START_TICK);
    track(&im, string(&im, "main"), 1);
    counter(&im, queue, 1, 1000);
    counter(&im, queue, 2, 1005);
    begin(&im, work, 1010);
    event(&im, memory, PROF_EVENT_ALLOC, 100, 0x10, 1020);
    event(&im, memory, PROF_EVENT_ALLOC, 50, 0x20, 1030);
    event(&im, memory, PROF_EVENT_FREE, 0, 0x10, 1040);
    event(&im, message, PROF_EVENT_LOG, PROF_LOG_WARNING, 0, 1050);
    counter(&im, queue, 7, 1060);
    end(&im, work, 1100);
    event(&im, memory, PROF_EVENT_FREE, 0, 0x20, 1110);
    counter(&im, queue, 9, 1120);
    counter(&im, later, 3, 1130);
    chunk(&im, 1, 2, START_TICK);
    track(&im, string(&im, "prof system"), 2);
    counter(&im, sampled, 10, 1002);
    counter(&im, steady, 4, 1003);
    counter(&im, later, 2, 1004);
    counter(&im, steady, 4, 1050);
    counter(&im, sampled, 30, 1200);
    counter(&im, sampled, 50, 1300);
    prof_trace *trace = image_read(&im);
    prof_why_report *report = why_name(trace, "work", 0);
    const prof_why_call *call = report->calls;
    CHECK_EQUAL(call->allocations, 2);
    CHECK_EQUAL(call->bytes, 150);
    CHECK_EQUAL(call->frees, 1);
    CHECK_EQUAL(call->message_count, 1);
    if (call->message_count == 1) {
        CHECK_TEXT(call->messages->text, "disk is slow");
        CHECK_EQUAL(call->messages->severity, PROF_LOG_WARNING);
        CHECK_EQUAL(call->messages->ns, 50);
    }
    CHECK_EQUAL(call->counter_count, 2);
    if (call->counter_count == 2) {
        CHECK_TEXT(call->counters[0].name, "cgroup throttled");
        CHECK(call->counters[0].around);
        CHECK(call->counters[0].first > 9.5 && call->counters[0].first < 10.5);
        CHECK(call->counters[0].last > 29.5 && call->counters[0].last < 30.5);
        CHECK_TEXT(call->counters[1].name, "queue");
        CHECK(!call->counters[1].around);
        CHECK(call->counters[1].first > 1.5 && call->counters[1].first < 2.5);
        CHECK(call->counters[1].last > 6.5 && call->counters[1].last < 7.5);
    }
    prof_why_free(report);
    prof_trace_close(trace);
}

/* A scope that has no end, as of a program that was killed: it lasted at least so long. */
TEST(a_call_that_has_not_ended)
{
    image im = image_new(60, 1, 60);
    uint32_t work = site(&im, "work");
    chunk(&im, 0, 1, START_TICK);
    track(&im, string(&im, "main"), 1);
    begin(&im, work, 1010);
    end(&im, work, 1020);
    begin(&im, work, 1030);
    end(&im, work, 1040);
    begin(&im, work, 1050);
    at_tick(&im, PROF__KIND_MARK, site_in(&im, "mark", "", "", 0, "", PROF__KIND_MARK), 1100);
    prof_trace *trace = image_read(&im);
    prof_why_report *report = why_of(trace, NULL);
    CHECK_EQUAL(report->count_all, 2);
    CHECK_EQUAL(report->median_ns, 10);
    CHECK_EQUAL(report->calls->split.wall_ns, 50);
    CHECK(report->calls->flags & PROF_TRUNCATED_END);
    prof_why_free(report);
    prof_trace_close(trace);
}

/* Statistics have no calls. */
TEST(statistics_without_events)
{
    prof_config config = trace_config(1u << 20);
    prof_why_report *report = NULL;
    config.mode = PROF_STATS;
    trace_start(&config);
    {
        PROFILE_SCOPE("work");
    }
    prof_trace *trace = trace_stop();
    CHECK_EQUAL(prof_why(trace, NULL, &report), PROF_UNSUPPORTED);
    CHECK(!report);
    prof_trace_close(trace);
}

/* Names made at run time: that of the format, and that of a call. */
TEST(names_made_at_run_time)
{
    prof_config config = trace_config(1u << 20);
    trace_start(&config);
    for (int i = 0; i < 3; ++i) {
        PROFILE_SCOPE_F("job %d", i);
        {
            PROFILE_SCOPE_DYNAMIC(i == 1 ? "one" : "other");
        }
    }
    prof_trace *trace = trace_stop();
    prof_why_report *report = why_name(trace, "job %d", 5);
    CHECK_EQUAL(report->count, 3);
    CHECK_EQUAL(report->calls->inner_count, 2);
    prof_why_free(report);
    report = why_name(trace, "job 1", 5);
    CHECK_TEXT(report->name, "job 1");
    CHECK_EQUAL(report->count, 1);
    CHECK_TEXT(report->calls->name, "job 1");
    prof_why_free(report);
    report = why_name(trace, "one", 5);
    CHECK_EQUAL(report->count, 1);
    prof_why_free(report);
    report = why_name(trace, "other", 5);
    CHECK_EQUAL(report->count, 2);
    prof_why_free(report);
    prof_trace_close(trace);
}

TEST_MAIN
