/* states_images.c - writes recordings of which it is known what threads did, built word by word: states.prof, and
   calm.prof and late.prof, whose scope "draw" became slower because it waits. They go to the current folder. */
#define PROF_IMPLEMENTATION
#include "../prof_report.h"
#include "test.h"
#include "trace.h"
#include "image.h"
#include "image_switches.h"

#define US 1000u
enum { MAIN = 7, WORKER = 8 };

static void save(image *im, const char *name)
{
    trace_write_file(name, im->bytes, im->size);
    free(im->bytes);
}

static void scope(image *im, uint32_t id, uint64_t from, uint64_t to)
{
    begin(im, id, START_TICK + from * US);
    end(im, id, START_TICK + to * US);
}

static uint32_t wait_site(image *im, const char *call)
{
    return site_in(im, call, "wait", "", 0, call, PROF__KIND_BEGIN | PROF_ROLE_WAIT << PROF__ROLE_SHIFT);
}

/* main: runs, waits for a lock until 150, runs, is ready from 250 on, runs on another processor from 300 on, sleeps from
   400 to 500; from 520 to 540 it runs and is ready for 100 ns each; from 560 to 580 it is not known. worker runs. */
static void states(void)
{
    image im = image_new(3000, 1, 300);
    uint32_t frame = site(&im, "frame"), draw = site(&im, "draw"), load = site(&im, "load");
    uint32_t lock = wait_site(&im, "pthread_mutex_lock"), sleep = wait_site(&im, "usleep");
    uint32_t object = site_in(&im, "lock", "", "", 0, "", PROF__KIND_ARG);
    uint32_t holder = site_in(&im, "holder", "", "", 0, "", PROF__KIND_ARG);
    uint64_t both[2], ns;
    chunk(&im, 0, 1, START_TICK);
    track_on(&im, string(&im, "worker"), 2, 1, WORKER);
    scope(&im, load, 50, 160);
    track_on(&im, string(&im, "main"), 1, 1, MAIN);
    begin(&im, frame, START_TICK + 10 * US);
    begin(&im, draw, START_TICK + 20 * US);
    begin(&im, lock, START_TICK + 99 * US);
    arg_word(&im, object, PROF_VALUE_POINTER, 0x1230);
    arg_word(&im, holder, PROF_VALUE_UINT, WORKER);
    end(&im, lock, START_TICK + 151 * US);
    end(&im, draw, START_TICK + 240 * US);
    scope(&im, sleep, 399, 501);
    end(&im, frame, START_TICK + 590 * US);
    both[0] = prof__switch_word(0, MAIN, PROF__SWITCH_KNOWN);
    both[1] = prof__switch_word(0, WORKER, PROF__SWITCH_KNOWN);
    system_event(&im, PROF__SWITCHES_BEGIN, 0, 5 * US, both, 2);
    switch_at(&im, 1, 100 * US, MAIN, PROF__SWITCH_WAITS);
    switch_at(&im, 1, 150 * US, MAIN, PROF__SWITCH_IN);
    switch_at(&im, 1, 250 * US, MAIN, PROF__SWITCH_READY);
    switch_at(&im, 0, 300 * US, MAIN, PROF__SWITCH_IN);
    switch_at(&im, 0, 400 * US, MAIN, PROF__SWITCH_WAITS);
    switch_at(&im, 0, 500 * US, MAIN, PROF__SWITCH_IN);
    for (ns = 520 * US; ns < 540 * US; ns += 200) {
        switch_at(&im, 0, ns, MAIN, PROF__SWITCH_READY);
        switch_at(&im, 0, ns + 100, MAIN, PROF__SWITCH_IN);
    }
    switch_at(&im, 0, 560 * US, MAIN, PROF__SWITCH_OUT);
    switch_at(&im, 0, 580 * US, MAIN, PROF__SWITCH_IN);
    known_until(&im, 600 * US);
    save(&im, "states.prof");
}

/* 40 calls of "draw" of 100 us, of which it waits 20; or of 200 us, of which it waits 110 and is ready for 10. */
static void calls(const char *name, uint64_t duration, uint64_t waits, uint64_t ready)
{
    image im = image_new(2000, 1, 100);
    uint32_t draw = site(&im, "draw"), i;
    uint64_t word = prof__switch_word(0, MAIN, PROF__SWITCH_KNOWN);
    chunk(&im, 0, 1, START_TICK);
    track_on(&im, string(&im, "main"), 1, 1, MAIN);
    for (i = 0; i < 40; i++) scope(&im, draw, 10 + i * 300, 10 + i * 300 + duration);
    switches_serial = 0;
    system_event(&im, PROF__SWITCHES_BEGIN, 0, 5 * US, &word, 1);
    for (i = 0; i < 40; i++) {
        uint64_t at = (10 + i * 300) * US;
        switch_at(&im, 1, at + 10 * US, MAIN, PROF__SWITCH_WAITS);
        switch_at(&im, 1, at + (10 + waits) * US, MAIN, PROF__SWITCH_IN);
        if (ready) switch_at(&im, 1, at + (20 + waits) * US, MAIN, PROF__SWITCH_READY);
        if (ready) switch_at(&im, 1, at + (20 + waits + ready) * US, MAIN, PROF__SWITCH_IN);
    }
    known_until(&im, 20000 * US);
    save(&im, name);
}

TEST(images)
{
    states();
    calls("calm.prof", 100, 20, 0);
    calls("late.prof", 200, 110, 10);
}

TEST_MAIN
