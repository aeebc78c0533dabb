// system/drain: The thread that takes switches out of the kernel's rings, packs them, and records them.
#ifndef PROF__SYSTEM_DRAIN_H
#define PROF__SYSTEM_DRAIN_H
#include "api/macros.h"
#include "ground/clock.h"
#include "ground/lock.h"
#include "record/ring.h"
#include "record/scope.h"
#include "record/self.h"
#include "record/track.h"
#include "session/beside.h"
#include "system/counters.h"
#include "system/perf.h"

#ifdef PROF__SYSTEM_LINUX
#include <poll.h>

/* Records an EVENT with these words behind it. Returns 0 if there is no room, or the session is paused. */
static int prof__switches_write(uint64_t detail, uint64_t ns, const uint64_t *words, uint64_t count)
{
    const prof__session *s = prof__system.session;
    prof__thread *self = PROF__SELF();
    uint64_t all = 3 + (count ? 1 + count : 0), *at = NULL;
    if (PROF__LOAD(&prof__state.paused) || PROF__HELD()) return 0;
    if (!prof__enter_slow(self, NULL, prof__enter_write(self), 0)) return 0;
    if (self->session == s) {
        uint64_t now = prof__now(s, 0);
        at = prof__reserve_or_lose(self, all, &now, 0);
        if (at) {
            for (uint64_t i = 0; i < count; ++i) PROF__STORE(at + 4 + i, words[i]);
            if (count) prof__store_word(at + 3, (uint64_t)PROF__KIND_DATA << PROF__KIND_SHIFT | count);
            detail |= prof__system.events_written++ << 40;
            PROF__STORE(at + 1, detail << 8 | PROF__DEVICE_SWITCHES);
            PROF__STORE(at + 2, ns);
            prof__store_word(at, (uint64_t)PROF__KIND_EVENT << PROF__KIND_SHIFT | (now - self->base));
            prof__commit(self, all);
        }
    }
    prof__leave(self);
    return at != NULL;
}

/* Records a batch. If that fails, the next batch begins with how many switches are missing. */
static void prof__batch_flush(prof__ring *ring)
{
    prof__batch *batch = &ring->batch;
    if (!batch->count) return;
    if (!prof__switches_write(ring->processor | (uint64_t)PROF__SWITCHES_OF << 32, batch->base, batch->words,
                              batch->count))
        ring->untold += batch->told + batch->count - (batch->told != 0);
    batch->count = 0;
    batch->told = 0;
}

static void prof__batch_put(prof__ring *ring, uint64_t ns, uint32_t thread, unsigned what)
{
    prof__batch *batch = &ring->batch;
    if (batch->count && (batch->count == PROF__SWITCH_BATCH || ns - batch->last >= PROF__SWITCH_SPAN)) {
        if (ns < batch->last) ns = batch->last;
        if (batch->count == PROF__SWITCH_BATCH || ns - batch->last >= PROF__SWITCH_SPAN) prof__batch_flush(ring);
    }
    if (!batch->count) batch->base = batch->last = ns;
    if (!batch->count && ring->untold) {
        batch->told = ring->untold;
        ring->untold = 0;
        uint64_t most = PROF__SWITCH_THREADS - 1;
        batch->words[batch->count++] = prof__switch_word(0, batch->told < most ? batch->told : most, PROF__SWITCH_LOST);
    }
    batch->words[batch->count++] = prof__switch_word(ns - batch->last, thread & (PROF__SWITCH_THREADS - 1), what);
    batch->last = ns;
}

/* The kernel's records: words of 64 bits, of which the first has type, flags and bytes. */
#define PROF__PERF_LOST 2u
#define PROF__PERF_EXIT 4u
#define PROF__PERF_FORK 7u
#define PROF__PERF_SWITCH 14u
#define PROF__PERF_OUT (1u << 13)
#define PROF__PERF_PREEMPTED (1u << 14)

typedef struct prof__perf_head {
    uint32_t type;
    uint16_t flags, bytes;
} prof__perf_head;

static uint64_t prof__ring_word(const prof__ring *ring, uint64_t at)
{
    uint64_t word;
    memcpy(&word, ring->data + (at & (ring->bytes - 1)), sizeof word);
    return word;
}

/* Takes one record of a ring. */
static void prof__ring_take(prof__ring *ring, prof__perf_head head, uint64_t at)
{
    uint64_t words[5];
    uint32_t first[2], second[2]; /* process and thread, or its creator's */
    uint64_t count = head.bytes / 8 < 5 ? head.bytes / 8 : 5, process = prof__system.session->process;
    memset(words, 0, sizeof words);
    for (uint64_t i = 1; i < count; ++i) words[i] = prof__ring_word(ring, at + i * 8);
    memcpy(first, words + 1, sizeof first);
    memcpy(second, words + 2, sizeof second);
    if (head.type == PROF__PERF_SWITCH && first[0] == process) {
        unsigned what = !(head.flags & PROF__PERF_OUT)         ? PROF__SWITCH_IN
                        : head.flags & PROF__PERF_PREEMPTED    ? PROF__SWITCH_READY
                        : prof__system.told                    ? PROF__SWITCH_WAITS
                                                               : PROF__SWITCH_OUT;
        prof__system.switches += what != PROF__SWITCH_IN;
        prof__batch_put(ring, words[2], first[1], what);
    } else if ((head.type == PROF__PERF_EXIT || head.type == PROF__PERF_FORK) && first[0] == process) {
        prof__batch_put(ring, words[3], second[0],
                        head.type == PROF__PERF_EXIT ? PROF__SWITCH_ENDS : PROF__SWITCH_NEW);
    } else if (head.type == PROF__PERF_LOST) {
        prof__batch_flush(ring);
        ring->lost += words[2];
        ring->untold += words[2];
    }
}

static prof__perf_head prof__ring_record(const prof__ring *ring)
{
    prof__perf_head record;
    uint64_t word = prof__ring_word(ring, ring->tail);
    memcpy(&record, &word, sizeof record);
    return record;
}

/* Returns the time of the next record of a ring, ~0 if there is none. */
static uint64_t prof__ring_next(prof__ring *ring)
{
    while (ring->tail < ring->head) {
        prof__perf_head record = prof__ring_record(ring);
        unsigned at = record.type == PROF__PERF_SWITCH ? 2 : record.type == PROF__PERF_LOST ? 4 : 3;
        if (record.type == PROF__PERF_SWITCH || record.type == PROF__PERF_LOST || record.type == PROF__PERF_EXIT ||
            record.type == PROF__PERF_FORK)
            return prof__ring_word(ring, ring->tail + at * 8);
        ring->tail = record.bytes >= 8 ? ring->tail + record.bytes : ring->head; /* the kernel writes no such record */
    }
    return ~(uint64_t)0;
}

/* Returns the ring whose next record is the earliest, or NULL if no ring has one. *next: its time, or ~0. */
static prof__ring *prof__ring_earliest(uint64_t *next)
{
    prof__ring *first = NULL;
    *next = ~(uint64_t)0;
    for (size_t i = 0; i < prof__system.ring_count; ++i) {
        uint64_t time = prof__ring_next(&prof__system.rings[i]);
        if (time >= *next) continue;
        *next = time;
        first = &prof__system.rings[i];
    }
    return first;
}

/* How long after its time a record of the kernel may appear in a ring, in ns. */
#define PROF__PERF_LATE 50000u
/* After so many batches the image gets a time until which all is known: a ring that overwrites its beginning loses what
   is before the next such time. */
#define PROF__SWITCH_BATCHES 8

static void prof__switches_until(uint64_t until)
{
    for (size_t i = 0; i < prof__system.ring_count; ++i) prof__batch_flush(&prof__system.rings[i]);
    prof__switches_write((uint64_t)PROF__SWITCHES_UNTIL << 32, until, NULL, 0);
}

/* Takes what the kernel has written, a part of a ring at a time, in the order of times. */
static void prof__system_drain(void)
{
    uint64_t until = prof__monotonic() - PROF__PERF_LATE, next;
    unsigned batches = 0;
    for (size_t i = 0; i < prof__system.ring_count; ++i) {
        prof__ring *ring = &prof__system.rings[i];
        ring->head = PROF__ACQUIRE((uint64_t *)(void *)(ring->map + PROF__PERF_HEAD));
    }
    for (prof__ring *ring; (ring = prof__ring_earliest(&next)) != NULL;) {
        if (++batches % PROF__SWITCH_BATCHES == 0) prof__switches_until(next < until ? next : until);
        for (unsigned count = 0; count < PROF__SWITCH_BATCH && prof__ring_next(ring) != ~(uint64_t)0; ++count) {
            prof__perf_head record = prof__ring_record(ring);
            prof__ring_take(ring, record, ring->tail);
            ring->tail += record.bytes;
        }
        PROF__RELEASE((uint64_t *)(void *)(ring->map + PROF__PERF_HEAD) + 1, ring->tail);
    }
    prof__switches_until(until);
}

#define PROF__SWITCH_WINDOW 10000000000u /* ns */
/* In a window: 50,000 a second, which cost 5.5 % of a processor. Tests have less. */
static uint64_t prof__switch_most = 500000;

/* Returns 0 if the switches have been so many in the last ten seconds that recording them is too dear. */
static int prof__budget(void)
{
    uint64_t now = prof__monotonic();
    if (now - prof__system.window_from >= PROF__SWITCH_WINDOW) {
        prof__system.window_from = now;
        prof__system.window_switches = prof__system.switches;
    }
    return prof__system.switches - prof__system.window_switches <= prof__switch_most;
}

/* Ends the kernel's recording. Afterwards the rings hold all that there will be. */
static void prof__perf_disable(void)
{
    for (size_t i = 0; i < prof__system.event_count; ++i) ioctl(prof__system.events[i].file, PROF__PERF_DISABLE, 1);
}

/* Counts the records that were lost after the last one that had room: only reading the events tells them. */
static void prof__perf_tell_lost(void)
{
    uint64_t now = prof__monotonic();
    for (size_t i = 0; i < prof__system.ring_count; ++i) {
        prof__ring *ring = &prof__system.rings[i];
        uint64_t all = 0, counts[2];
        for (size_t j = 0; j < prof__system.event_count; ++j) {
            if (prof__system.events[j].ring != i) continue;
            counts[1] = 0;
            if (read(prof__system.events[j].file, counts, sizeof counts) == (ssize_t)sizeof counts) all += counts[1];
        }
        if (all > ring->lost) ring->untold += all - ring->lost;
        if (!ring->untold) continue;
        ring->batch.told = ring->untold;
        ring->untold = 0;
        uint64_t most = PROF__SWITCH_THREADS - 1;
        ring->batch.base = ring->batch.last = now;
        ring->batch.words[ring->batch.count++] =
            prof__switch_word(0, ring->batch.told < most ? ring->batch.told : most, PROF__SWITCH_LOST);
        prof__batch_flush(ring);
    }
}

/* Says in the metadata how many switches are missing at the end: the image has no room to count them. */
static void prof__system_tell_missing(void)
{
    char text[PROF__SYSTEM_WHY];
    uint64_t missing = 0;
    for (size_t i = 0; i < prof__system.ring_count; ++i) missing += prof__system.rings[i].untold;
    if (!missing) return;
    snprintf(text, sizeof text, "the last %llu begins and ends of running are missing: the buffer was full, or paused",
             (unsigned long long)missing);
    prof__beside_says(prof__system.session, "switches", text);
}

/* The last round. In a sandbox that the program has entered since, only what it already did is allowed. */
static void prof__system_finish(void)
{
    int free_to_act = prof__sandbox() == prof__system.sandbox;
    if (free_to_act) prof__perf_disable();
    prof__system_drain();
    if (!free_to_act) return;
    prof__perf_tell_lost();
    prof__switches_write((uint64_t)PROF__SWITCHES_UNTIL << 32, prof__monotonic(), NULL, 0);
    prof__system_tell_missing();
}

/* Says why switches are not recorded, or no longer. */
static void prof__system_says(const char *why)
{
    uint32_t write_lock = prof__state_lock();
    prof__text_copy(prof__system.why, sizeof prof__system.why, why);
    prof__state_unlock(write_lock);
    prof__beside_says(prof__system.session, "switches", why);
}

/* Sleeps until a ring is half full, or a tenth of a second. In a sandbox that the program has entered since the start,
   poll() may be forbidden: there it sleeps as all of prof's threads do, and more briefly, so that no ring overflows. */
static void prof__system_sleep(struct pollfd *files, size_t count)
{
    if (prof__sandbox() != prof__system.sandbox || poll(files, (nfds_t)count, 100) < 0)
        prof__word_wait(&prof__system.stop, 0, 20000000);
    else
        for (size_t i = 0; i + 1 < count; ++i) /* when all its threads have ended, an event is always ready */
            if (files[i].revents & (POLLHUP | POLLERR | POLLNVAL)) files[i].fd = -1;
}

static void prof__system_run(void)
{
    struct pollfd wake, *files = (struct pollfd *)calloc(prof__system.ring_count + 1, sizeof *files);
    size_t count = files ? prof__system.ring_count : 0;
    int good = prof__system.ring_count != 0;
    prof_set_thread_name("prof system");
    wake.fd = prof__system.wake;
    wake.events = POLLIN;
    wake.revents = 0;
    if (!files) files = &wake;
    files[count] = wake;
    for (size_t i = 0; i < count; ++i) files[i].fd = prof__system.rings[i].file, files[i].events = POLLIN;
    while (!PROF__ACQUIRE(&prof__system.stop)) {
        prof__counters_round(prof__system.session, 0);
        prof__system_sleep(files, count + 1);
        if (!good || PROF__ACQUIRE(&prof__system.stop)) continue;
        prof__system_drain();
        good = prof__budget();
        if (good) continue;
        prof__system_finish();
        prof__system_says("recording them ended: more than 50,000 a second over ten seconds cost too much");
        for (size_t i = 0; i < count; ++i) files[i].fd = -1;
    }
    prof__counters_round(prof__system.session, 1);
    if (good) prof__system_finish();
    PROF__RELEASE(&prof__system.done, 1u);
    if (files != &wake) free(files);
}

static void *prof__system_main(void *user)
{
    (void)user;
    prctl(PR_SET_NAME, "prof system", 0, 0, 0);
    prof__system_run();
    return NULL;
}
#endif

#endif /* PROF__SYSTEM_DRAIN_H */
