// read/epochs: Corrects ticks after a reset of the counter, or after it passed 2^64, as if the counter had gone on.
#ifndef PROF__READ_EPOCHS_H
#define PROF__READ_EPOCHS_H
#include "api/values.h"
#include "ground/hash.h"
#include "image/format.h"
#include "read/trace.h"

/*-- a counter that begins again --*/

/* Returns roughly how many ticks a second has: as measured from the session's start to this pair, else as measured at
   the start or as stated. */
static uint64_t prof__read_rate(const prof_trace *trace, const prof__pair *to)
{
    const prof__pair *from = &trace->header.first;
    uint64_t ns = to->monotonic_ns - from->monotonic_ns, ticks = to->tick - from->tick;
    if (to->monotonic_ns > from->monotonic_ns + 10000000 && to->tick > from->tick) {
        double hz = (double)ticks * 1e9 / (double)ns;
        return hz < 1e18 ? (uint64_t)hz + 1 : (uint64_t)1000000000000000000;
    }
    if (trace->start_hz) return trace->start_hz;
    return trace->header.tick_hz ? trace->header.tick_hz : 1000000000u;
}

/* Adds the epoch of the session's start. If the counter is in the upper half of 64 bits, ticks are counted from its
   start, because it may pass 2^64. Returns 0 if there is no memory. */
static int prof__read_epochs_begin(prof_trace *trace)
{
    prof__read_epoch *epoch = (prof__read_epoch *)PROF__MORE(trace->epochs, trace->epoch_capacity, trace->epoch_count);
    if (!epoch) return 0;
    if (trace->header.first.tick >> 63) epoch->shift = ((uint64_t)1 << 41) - trace->header.first.tick;
    trace->header.first.tick += epoch->shift;
    trace->latest = trace->header.first;
    trace->behind = prof__read_rate(trace, &trace->latest) / 1000 + 1;
    return 1;
}

/* Notes that the counter was reset between the newest pair and this one. tick: where the counter would be now without
   the reset. */
static void prof__read_epoch_add(prof_trace *trace, const prof__pair *pair, uint64_t tick)
{
    prof__read_epoch *epoch;
    prof__read_gap *gap;
    if (trace->epoch_count > 100) return;
    epoch = (prof__read_epoch *)PROF__MORE(trace->epochs, trace->epoch_capacity, trace->epoch_count);
    gap = (prof__read_gap *)PROF__MORE(trace->gaps, trace->gap_capacity, trace->gap_count);
    if (!epoch || !gap) return; /* without memory, later ticks are shown at the time of the reset */
    epoch->monotonic_ns = pair->monotonic_ns;
    epoch->shift = tick - pair->tick;
    gap->from = trace->latest.tick;
    gap->to = tick;
    gap->monotonic_ns = pair->monotonic_ns;
    gap->restarts = 1;
}

/* Returns a clock pair with the tick that the counter would have if it had never been reset. To be called for the
   chunks' pairs in nearly their order of time. */
static prof__pair prof__read_unwrap(prof_trace *trace, const prof__pair *pair)
{
    prof__pair now = *pair;
    size_t i = trace->epoch_count;
    while (i > 1 && pair->monotonic_ns < trace->epochs[i - 1].monotonic_ns) i--;
    now.tick += trace->epochs[i - 1].shift;
    if (i < trace->epoch_count) return now;
    uint64_t reached = trace->latest.tick > trace->reached ? trace->latest.tick : trace->reached;
    if (now.tick < reached && now.monotonic_ns > trace->latest.monotonic_ns) {
        uint64_t rate = prof__read_rate(trace, &trace->latest), ns = now.monotonic_ns - trace->latest.monotonic_ns;
        double ticks = (double)ns / 1e9 * (double)rate;
        /* A smaller difference is one between processors. */
        if ((reached - now.tick > trace->behind || ns > 20000000) && ticks < 1e18) {
            now.tick = trace->latest.tick + (uint64_t)ticks;
            if (now.tick < reached) now.tick = reached;
            prof__read_epoch_add(trace, pair, now.tick);
        }
    }
    if (now.tick > trace->latest.tick) trace->latest = now;
    return now;
}

/* Corrects the ticks in the header, and in a pair of the present time if now is not NULL. */
static void prof__read_epochs_end(prof_trace *trace, prof__pair *now)
{
    prof__header *h = &trace->header;
    uint64_t last = h->last.tick;
    if (h->last.monotonic_ns > h->first.monotonic_ns)
        h->last = prof__read_unwrap(trace, &h->last);
    else
        h->last.tick += trace->epochs[0].shift;
    if (h->copy_tick) h->copy_tick += h->last.tick - last;
    if (now) *now = prof__read_unwrap(trace, now);
}

#endif /* PROF__READ_EPOCHS_H */
