/* states_images.c - writes recordings of which it is known what threads did, built word by word: states.prof; calm.prof
   and late.prof, whose scope "draw" became slower because it waits; slow.prof, of whose frames one is slow for many
   reasons; marked.prof, in which only scopes and the markup of locks say why; waited.prof, of whose
   calls one waits for a GPU; and preempted.prof and stopped.prof, of whose frames one is late. They go to the current
   folder. */
#define PROF_IMPLEMENTATION
#include "../prof_report.h"
#include "test.h"
#include "trace.h"
#include "image.h"
#include "image_switches.h"

#define US 1000u
enum { MAIN = 7, WORKER = 8 };

static void save_image(image *im, const char *name)
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
    save_image(&im, "states.prof");
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
    save_image(&im, name);
}

static void object_event(image *im, uint32_t id, prof_event_type type, uint64_t detail, uint64_t object, uint64_t us)
{
    at_tick(im, PROF__KIND_EVENT, id, START_TICK + us * US);
    put(im, detail << 8 | (uint64_t)type);
    put(im, object);
}

static void count_at(image *im, uint32_t id, uint64_t value, uint64_t us)
{
    at_tick(im, PROF__KIND_COUNTER_INT, id, START_TICK + us * US);
    put(im, value);
}

/* Nine frames of 1,000 us, of which load_texture has 430; but frame 6 takes 7,000. In it, load_texture takes 6,100: it
   waits 4,000 for a lock that worker has in save, is ready for 500, of which hog runs 300 on its processor, and sleeps
   for 600. From 10,000 to 10,100 it is not known what the system did. */
static void slow(void)
{
    image im = image_new(3000, 3, 400);
    uint32_t frame = site_in(&im, "frame", "", "", 0, "", PROF__KIND_FRAME), load = site(&im, "load_texture");
    uint32_t draw = site(&im, "draw"), save = site(&im, "save"), burn = site(&im, "burn"), write = site(&im, "write");
    uint32_t lock = wait_site(&im, "pthread_mutex_lock"), sleep = wait_site(&im, "usleep");
    uint32_t object = site_in(&im, "lock", "", "", 0, "", PROF__KIND_ARG);
    uint32_t holder = site_in(&im, "holder", "", "", 0, "", PROF__KIND_ARG);
    uint32_t queue = site_in(&im, "queue", "", "", 0, "", PROF__KIND_COUNTER_INT);
    uint32_t faults = site_in(&im, "major page faults", "system", "", 0, "", PROF__KIND_COUNTER_INT);
    uint32_t block = site_in(&im, "block", "", "", 0, "", PROF__KIND_EVENT | PROF_ROLE_MEMORY << PROF__ROLE_SHIFT);
    uint32_t message = site_in(&im, "texture is large", "", "", 0, "", PROF__KIND_EVENT);
    uint64_t words[3], now = 0, i;
    switches_serial = 0;
    chunk(&im, 0, 1, START_TICK);
    track_on(&im, string(&im, "worker"), 2, 1, WORKER);
    begin(&im, save, START_TICK + 4000 * US);
    scope(&im, write, 5000, 9000);
    end(&im, save, START_TICK + 9150 * US);
    count_at(&im, faults, 3, 4000);
    count_at(&im, faults, 8, 14000);
    chunk(&im, 1, 2, START_TICK);
    track_on(&im, string(&im, "hog"), 3, 1, 9);
    scope(&im, burn, 100, 15000);
    chunk(&im, 2, 3, START_TICK);
    track_on(&im, string(&im, "main"), 1, 1, MAIN);
    at_tick(&im, PROF__KIND_FRAME, frame, START_TICK);
    count_at(&im, queue, 1, 10);
    for (i = 1; i <= 9; i++) {
        begin(&im, load, START_TICK + (now + 20) * US);
        if (i == 6) {
            object_event(&im, block, PROF_EVENT_ALLOC, 4096, 0x10, 5030);
            object_event(&im, block, PROF_EVENT_ALLOC, 1024, 0x20, 5040);
            object_event(&im, block, PROF_EVENT_FREE, 0, 0x10, 5045);
            begin(&im, lock, START_TICK + 5099 * US);
            arg_word(&im, object, PROF_VALUE_POINTER, 0x1230);
            arg_word(&im, holder, PROF_VALUE_UINT, WORKER);
            end(&im, lock, START_TICK + 9101 * US);
            object_event(&im, message, PROF_EVENT_LOG, PROF_LOG_WARNING, 0, 9500);
            count_at(&im, queue, 7, 9510);
            scope(&im, sleep, 10300, 10901);
            now += 6000;
        }
        end(&im, load, START_TICK + (now + (i == 6 ? 120 : 450)) * US);
        scope(&im, draw, now + 460, now + 980);
        at_tick(&im, PROF__KIND_FRAME, frame, START_TICK + (now += 1000) * US);
    }
    for (i = 0; i < 3; i++) words[i] = prof__switch_word(0, (uint32_t)(MAIN + i), PROF__SWITCH_KNOWN);
    system_event(&im, PROF__SWITCHES_BEGIN, 0, 5 * US, words, 3);
    switch_at(&im, 1, 5100 * US, MAIN, PROF__SWITCH_WAITS);
    switch_at(&im, 1, 9100 * US, MAIN, PROF__SWITCH_IN);
    switch_at(&im, 1, 9200 * US, MAIN, PROF__SWITCH_READY);
    switch_at(&im, 1, 9250 * US, 9, PROF__SWITCH_IN);
    switch_at(&im, 1, 9550 * US, 9, PROF__SWITCH_WAITS);
    switch_at(&im, 1, 9700 * US, MAIN, PROF__SWITCH_IN);
    switch_at(&im, 1, 10000 * US, MAIN, PROF__SWITCH_OUT);
    switch_at(&im, 1, 10100 * US, MAIN, PROF__SWITCH_IN);
    switch_at(&im, 1, 10300 * US, MAIN, PROF__SWITCH_WAITS);
    switch_at(&im, 1, 10900 * US, MAIN, PROF__SWITCH_IN);
    known_until(&im, 16000 * US);
    save_image(&im, "slow.prof");
}

/* Six calls of draw. The fourth waits twice for a lock that worker has in save, once by PROFILE_MUTEX_LOCK; for another
   one of that name; and for one that worker takes meanwhile, although nobody had it before. What it finds free is no
   wait. The fifth says itself that it ran and waited, as PROFILE_SCOPE_TIMED does: until worker woke it in wake_up. The
   sixth has no end. */
static void marked(void)
{
    static const char *const keys[] = {PROF__KEY_RUNNING, PROF__KEY_READY, PROF__KEY_WAITING};
    image im = image_new(600, 2, 300);
    uint32_t lock = site_in(&im, "textures", "", "", 0, "", PROF__KIND_EVENT | PROF_ROLE_LOCK << PROF__ROLE_SHIFT), i;
    uint32_t save = site(&im, "save"), draw = site(&im, "draw"), waits = site(&im, "wait for textures");
    uint32_t fill = site(&im, "fill"), wakes = site(&im, "wake_up"), condition = wait_site(&im, "pthread_cond_wait");
    uint32_t object = site_in(&im, "condition", "", "", 0, "", PROF__KIND_ARG);
    uint32_t wake = site_in(&im, "wake", "wait", "", 0, "", PROF__KIND_EVENT);
    chunk(&im, 0, 1, START_TICK);
    track_on(&im, string(&im, "worker"), 2, 1, WORKER);
    for (i = 0; i < 2; i++) {
        begin(&im, save, START_TICK + (3100 + i * 1000) * US);
        object_event(&im, lock, PROF_EVENT_LOCK_ACQUIRE, 0, 0xABC, 3110 + i * 1000);
        object_event(&im, lock, PROF_EVENT_LOCK_RELEASE, 0, 0xABC, 3600 + i * 1000);
        if (i) object_event(&im, lock, PROF_EVENT_LOCK_ACQUIRE, 0, 0xDEF, 4615);
        if (i) object_event(&im, lock, PROF_EVENT_LOCK_RELEASE, 0, 0xDEF, 4640);
        end(&im, save, START_TICK + (3700 + i * 1000) * US);
    }
    object_event(&im, lock, PROF_EVENT_LOCK_ACQUIRE, 0, 0x770, 4965);
    object_event(&im, lock, PROF_EVENT_LOCK_RELEASE, 0, 0x770, 4975);
    begin(&im, wakes, START_TICK + 6150 * US);
    object_event(&im, wake, PROF_EVENT_FLOW_OUT, 0, 77, 6190);
    end(&im, wakes, START_TICK + 6195 * US);
    begin(&im, draw, START_TICK + 7000 * US);
    scope(&im, fill, 7100, 7200);
    chunk(&im, 1, 2, START_TICK);
    track_on(&im, string(&im, "main"), 1, 1, MAIN);
    for (i = 0; i < 3; i++) {
        begin(&im, draw, START_TICK + i * 1000 * US);
        scope(&im, fill, i * 1000 + 100, i * 1000 + 200);
        end(&im, draw, START_TICK + (i * 1000 + 300) * US);
    }
    begin(&im, draw, START_TICK + 3150 * US);
    object_event(&im, lock, PROF_EVENT_LOCK_WAIT, 0, 0xABC, 3200);
    object_event(&im, lock, PROF_EVENT_LOCK_ACQUIRE, 0, 0xABC, 3610);
    object_event(&im, lock, PROF_EVENT_LOCK_RELEASE, 0, 0xABC, 3650);
    object_event(&im, lock, PROF_EVENT_LOCK_WAIT, 0, 0xABC, 3700);
    object_event(&im, lock, PROF_EVENT_LOCK_ACQUIRE, 0, 0xABC, 3710);
    object_event(&im, lock, PROF_EVENT_LOCK_RELEASE, 0, 0xABC, 3720);
    begin(&im, waits, START_TICK + 4200 * US);
    object_event(&im, lock, PROF_EVENT_LOCK_WAIT, 1, 0xABC, 4200);
    object_event(&im, lock, PROF_EVENT_LOCK_ACQUIRE, 0, 0xABC, 4610);
    end(&im, waits, START_TICK + 4610 * US);
    object_event(&im, lock, PROF_EVENT_LOCK_RELEASE, 0, 0xABC, 4620);
    object_event(&im, lock, PROF_EVENT_LOCK_WAIT, 0, 0xDEF, 4625);
    object_event(&im, lock, PROF_EVENT_LOCK_ACQUIRE, 0, 0xDEF, 4642);
    object_event(&im, lock, PROF_EVENT_LOCK_RELEASE, 0, 0xDEF, 4645);
    scope(&im, fill, 4650, 4950);
    object_event(&im, lock, PROF_EVENT_LOCK_WAIT, 0, 0x770, 4960);
    object_event(&im, lock, PROF_EVENT_LOCK_ACQUIRE, 0, 0x770, 4980);
    object_event(&im, lock, PROF_EVENT_LOCK_RELEASE, 0, 0x770, 4985);
    end(&im, draw, START_TICK + 5000 * US);
    begin(&im, draw, START_TICK + 6000 * US);
    begin(&im, condition, START_TICK + 6100 * US);
    arg_word(&im, object, PROF_VALUE_POINTER, 0x55);
    object_event(&im, wake, PROF_EVENT_FLOW_IN, 0, 77, 6199);
    end(&im, condition, START_TICK + 6200 * US);
    for (i = 0; i < 3; i++) arg_word(&im, site(&im, keys[i]), PROF_VALUE_UINT, (uint64_t)(i + 1) * 50 * US);
    end(&im, draw, START_TICK + 6400 * US);
    save_image(&im, "marked.prof");
}

/* Two calls of "draw". The second one waits 890 us, of which 90 for a lock; of the rest a GPU does its passes for 750.
   Device CUDA has the call that waits, which is no work. */
static void waited(void)
{
    image im = image_new(600, 1, 400);
    uint32_t draw = site(&im, "draw"), lock = wait_site(&im, "pthread_mutex_lock"), i;
    uint32_t gpu = device_in(&im, 1, "GPU 0", "graphics"), cuda = device_in(&im, 2, "CUDA", "synchronization");
    uint64_t word = prof__switch_word(0, MAIN, PROF__SWITCH_KNOWN);
    switches_serial = 0;
    chunk(&im, 0, 1, START_TICK);
    track_on(&im, string(&im, "main"), 1, 1, MAIN);
    scope(&im, draw, 100, 200);
    begin(&im, draw, START_TICK + 1000 * US);
    scope(&im, lock, 1050, 1150);
    end(&im, draw, START_TICK + 2000 * US);
    device_scope(&im, gpu, 1, "GPU frame", 1060 * US, 1920 * US);
    device_scope(&im, gpu, 1, "shadow pass", 1100 * US, 1400 * US);
    device_scope(&im, gpu, 1, "colour pass", 1400 * US, 1900 * US);
    device_scope(&im, cuda, 2, "wait for the GPU", 1050 * US, 1950 * US);
    system_event(&im, PROF__SWITCHES_BEGIN, 0, 5 * US, &word, 1);
    for (i = 0; i < 2; i++) {
        switch_at(&im, 1, (i ? 1150 : 1050) * US, MAIN, PROF__SWITCH_WAITS);
        switch_at(&im, 1, (i ? 1950 : 1140) * US, MAIN, PROF__SWITCH_IN);
    }
    known_until(&im, 2500 * US);
    save_image(&im, "waited.prof");
}

/* Nine frames of 1,000 us; but frame 6 takes 4,000. Either main is ready for 3,000 of that while hog runs on its processor;
   or all threads are stopped: main and worker wait for the lock that collector has in its scope "stop the world". */
static void late_frame(const char *name, int stopped)
{
    image im = image_new(3000, 3, 300);
    uint32_t frame = site_in(&im, "frame", "", "", 0, "", PROF__KIND_FRAME), draw = site(&im, "draw");
    uint32_t burn = site(&im, stopped ? "stop the world" : "burn"), serve = site(&im, "serve");
    uint32_t lock = wait_site(&im, "pthread_mutex_lock");
    uint32_t object = site_in(&im, "lock", "", "", 0, "", PROF__KIND_ARG);
    uint32_t holder = site_in(&im, "holder", "", "", 0, "", PROF__KIND_ARG);
    uint64_t words[3], now = 0, i;
    switches_serial = 0;
    chunk(&im, 0, 1, START_TICK);
    track_on(&im, string(&im, stopped ? "collector" : "hog"), 3, 1, 9);
    scope(&im, burn, 5050, 8150);
    for (int thread = 0; thread < 2; thread++) {
        chunk(&im, 1 + (uint32_t)thread, 2 + (uint32_t)thread, START_TICK);
        track_on(&im, string(&im, thread ? "main" : "worker"), thread ? 1 : 2, 1, thread ? MAIN : WORKER);
        if (thread) at_tick(&im, PROF__KIND_FRAME, frame, START_TICK);
        for (i = 1, now = 0; i <= 9; i++, now += 1000) {
            begin(&im, thread ? draw : serve, START_TICK + (now + 20) * US);
            if (i == 6) {
                if (stopped) {
                    begin(&im, lock, START_TICK + 5099 * US);
                    arg_word(&im, object, PROF_VALUE_POINTER, 0x1230);
                    arg_word(&im, holder, PROF_VALUE_UINT, 9);
                    end(&im, lock, START_TICK + 8101 * US);
                }
                now += 3000;
            }
            end(&im, thread ? draw : serve, START_TICK + (now + 980) * US);
            if (thread) at_tick(&im, PROF__KIND_FRAME, frame, START_TICK + (now + 1000) * US);
        }
    }
    for (i = 0; i < 3; i++) words[i] = prof__switch_word(0, (uint32_t)(MAIN + i), PROF__SWITCH_KNOWN);
    system_event(&im, PROF__SWITCHES_BEGIN, 0, 5 * US, words, 3);
    switch_at(&im, 1, 5100 * US, MAIN, stopped ? PROF__SWITCH_WAITS : PROF__SWITCH_READY);
    if (stopped) switch_at(&im, 1, 5101 * US, WORKER, PROF__SWITCH_WAITS);
    else switch_at(&im, 1, 5101 * US, 9, PROF__SWITCH_IN);
    if (!stopped) switch_at(&im, 1, 8099 * US, 9, PROF__SWITCH_WAITS);
    switch_at(&im, 1, 8100 * US, MAIN, PROF__SWITCH_IN);
    known_until(&im, 13000 * US);
    save_image(&im, name);
}

TEST(images)
{
    late_frame("preempted.prof", 0);
    late_frame("stopped.prof", 1);
    waited();
    states();
    slow();
    marked();
    calls("calm.prof", 100, 20, 0);
    calls("late.prof", 200, 110, 10);
}

TEST_MAIN
