// read/epochs: Ticks of a counter that began again, or passed 2^64, as if it had gone on.
#ifndef PROF__READ_EPOCHS_H
#define PROF__READ_EPOCHS_H
#include "api/read.h"
#include "ground/hash.h"
#include "image/format.h"
#include "read/trace.h"

/*-- a counter that begins again --*/

/* Returns about how many ticks a second has: as measured up to this pair, or else as far as it is known. */
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

/* Begins with the session's start. Ticks of a counter in the upper half are counted from there, because it may pass
   2^64. Returns 0 without memory. */
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

/* Notes that the counter began again between the newest pair and this one, where it should be at `tick` by now. */
static void prof__read_epoch_add(prof_trace *trace, const prof__pair *pair, uint64_t tick)
{
    prof__read_epoch *epoch;
    prof__read_gap *gap;
    if (trace->epoch_count > 100) return;
    epoch = (prof__read_epoch *)PROF__MORE(trace->epochs, trace->epoch_capacity, trace->epoch_count);
    gap = (prof__read_gap *)PROF__MORE(trace->gaps, trace->gap_capacity, trace->gap_count);
    if (!epoch || !gap) return; /* what follows has the time at which it began again */
    epoch->monotonic_ns = pair->monotonic_ns;
    epoch->shift = tick - pair->tick;
    gap->from = trace->latest.tick;
    gap->to = tick;
    gap->monotonic_ns = pair->monotonic_ns;
    gap->restarts = 1;
}

/* Returns a pair of the image with the tick that a counter would have that never began again. Chunks come nearly in the
   order of time. */
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
        if ((reached - now.tick > trace->behind || ns > 20000000) && ticks < 1e18) { /* else processors differ */
            now.tick = trace->latest.tick + (uint64_t)ticks;
            if (now.tick < reached) now.tick = reached;
            prof__read_epoch_add(trace, pair, now.tick);
        }
    }
    if (now.tick > trace->latest.tick) trace->latest = now;
    return now;
}

/* Does the same for what the header has, and for a pair of now, or NULL. */
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
