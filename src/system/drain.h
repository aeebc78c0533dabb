// system/drain: Takes switches out of the kernel's rings, packs them, and records them.
#ifndef PROF__SYSTEM_DRAIN_H
#define PROF__SYSTEM_DRAIN_H
#include "ground/clock.h"
#include "session/beside.h"
#include "system/delays.h"
#include "system/faults.h"
#include "system/perf.h"
#include "system/write.h"

#ifdef PROF__SYSTEM_LINUX
static int prof__switches_write(uint64_t detail, uint64_t ns, const uint64_t *words, uint64_t count)
{
    detail |= prof__system.events_written << 40;
    int written = prof__system_write(detail << 8 | PROF__DEVICE_SWITCHES, ns, PROF_VALUE_NONE, words, count);
    prof__system.events_written += (uint64_t)written;
    return written;
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
#define PROF__PERF_SAMPLE 9u
#define PROF__PERF_SWITCH 14u
#define PROF__PERF_OUT (1u << 13)
#define PROF__PERF_PREEMPTED (1u << 14)

typedef struct prof__perf_head {
    uint32_t type;
    uint16_t flags, bytes;
} prof__perf_head;

/* Looks how far the kernel has written a ring. */
static void prof__ring_look(prof__ring *ring)
{
    if (ring->map) ring->head = PROF__ACQUIRE((uint64_t *)(void *)(ring->map + PROF__PERF_HEAD));
}

/* Tells the kernel how far a ring was read. */
static void prof__ring_done(prof__ring *ring)
{
    PROF__RELEASE((uint64_t *)(void *)(ring->map + PROF__PERF_HEAD) + 1, ring->tail);
}

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
        if (what == PROF__SWITCH_IN) prof__delays_meet(first[1]);
        prof__batch_put(ring, words[2], first[1], what);
    } else if ((head.type == PROF__PERF_EXIT || head.type == PROF__PERF_FORK) && first[0] == process) {
        prof__batch_put(ring, words[3], second[0],
                        head.type == PROF__PERF_EXIT ? PROF__SWITCH_ENDS : PROF__SWITCH_NEW);
    } else if (head.type == PROF__PERF_SAMPLE && first[0] == process) {
        prof__fault_put(words[2], first[1], words[3]);
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

/* Returns which word of a record has its time; 0: such records are not wanted. */
static unsigned prof__ring_time(uint32_t type)
{
    switch (type) {
    case PROF__PERF_SWITCH:
    case PROF__PERF_SAMPLE: return 2;
    case PROF__PERF_EXIT:
    case PROF__PERF_FORK: return 3;
    case PROF__PERF_LOST: return 4;
    default: return 0;
    }
}

/* Returns the time of the next record of a ring, ~0 if there is none. */
static uint64_t prof__ring_next(prof__ring *ring)
{
    while (ring->tail < ring->head) {
        prof__perf_head record = prof__ring_record(ring);
        unsigned at = prof__ring_time(record.type);
        if (at) return prof__ring_word(ring, ring->tail + at * 8);
        ring->tail = record.bytes >= 8 ? ring->tail + record.bytes : ring->head; /* the kernel writes no such record */
    }
    return ~(uint64_t)0;
}

/* Returns the ring whose next record is the earliest, or NULL if no ring has one. *next: its time, or ~0. */
static prof__ring *prof__ring_earliest(uint64_t *next)
{
    prof__ring *first = NULL;
    *next = ~(uint64_t)0;
    for (size_t i = 0; i < prof__system.switch_rings; ++i) {
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
    for (size_t i = 0; i < prof__system.switch_rings; ++i) prof__batch_flush(&prof__system.rings[i]);
    prof__switches_write((uint64_t)PROF__SWITCHES_UNTIL << 32, until, NULL, 0);
}

/* Takes what the kernel has written, a part of a ring at a time, in the order of times. */
static void prof__switches_drain(void)
{
    uint64_t until = prof__monotonic() - PROF__PERF_LATE, next;
    unsigned batches = 0;
    for (size_t i = 0; i < prof__system.switch_rings; ++i) prof__ring_look(&prof__system.rings[i]);
    for (prof__ring *ring; (ring = prof__ring_earliest(&next)) != NULL;) {
        if (++batches % PROF__SWITCH_BATCHES == 0) prof__switches_until(next < until ? next : until);
        for (unsigned count = 0; count < PROF__SWITCH_BATCH && prof__ring_next(ring) != ~(uint64_t)0; ++count) {
            prof__perf_head record = prof__ring_record(ring);
            prof__ring_take(ring, record, ring->tail);
            ring->tail += record.bytes;
        }
        prof__ring_done(ring);
    }
    prof__switches_until(until);
    prof__faults_flush();
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

/* Ends what the kernel records into the rings from `first` up to `end`. Afterwards they hold all that there will be. */
static void prof__perf_disable(size_t first, size_t end)
{
    for (size_t i = 0; i < prof__system.event_count; ++i)
        if (prof__system.events[i].ring >= first && prof__system.events[i].ring < end)
            ioctl(prof__system.events[i].file, PROF__PERF_DISABLE, 1);
}

/* Counts the records of a ring that were lost after the last one that had room: only reading its events tells them. */
static void prof__ring_lost(size_t index)
{
    prof__ring *ring = &prof__system.rings[index];
    uint64_t all = 0, counts[2];
    for (size_t i = 0; i < prof__system.event_count; ++i) {
        if (prof__system.events[i].ring != index) continue;
        counts[1] = 0;
        if (read(prof__system.events[i].file, counts, sizeof counts) == (ssize_t)sizeof counts) all += counts[1];
    }
    if (all > ring->lost) ring->untold += all - ring->lost;
}

static void prof__switches_tell_lost(void)
{
    uint64_t now = prof__monotonic();
    for (size_t i = 0; i < prof__system.switch_rings; ++i) {
        prof__ring *ring = &prof__system.rings[i];
        prof__ring_lost(i);
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
static void prof__switches_tell_missing(void)
{
    char text[PROF__SYSTEM_WHY];
    uint64_t missing = 0;
    for (size_t i = 0; i < prof__system.switch_rings; ++i) missing += prof__system.rings[i].untold;
    if (!missing) return;
    snprintf(text, sizeof text, "the last %llu begins and ends of running are missing: the buffer was full, or paused",
             (unsigned long long)missing);
    prof__beside_says(prof__system.session, "switches", text);
}

/* The last round. may: what the system is asked for only if the program has not entered a sandbox since the start. */
static void prof__switches_finish(int may)
{
    if (may) prof__perf_disable(0, prof__system.switch_rings);
    prof__switches_drain();
    if (!may) return;
    prof__switches_tell_lost();
    prof__switches_write((uint64_t)PROF__SWITCHES_UNTIL << 32, prof__monotonic(), NULL, 0);
    prof__switches_tell_missing();
}
#endif

#endif /* PROF__SYSTEM_DRAIN_H */
