// read/align: Puts traces on one time line: by the clock of their machine, by offsets that they recorded, or by Unix
// time.
#ifndef PROF__READ_ALIGN_H
#define PROF__READ_ALIGN_H
#include "api/control.h"
#include "api/read.h"
#include "ground/errors.h"
#include "image/format.h"
#include "read/names.h"
#include "read/trace.h"

/*-- ALIGNING ------------------------------------------------------------------------------------------- >>aligning --
   Clocks of different machines differ, and run at different rates. A process that has compared its clock with that of
   another one says so in two keys of its metadata:
     "clock reference"  what that clock is called; traces with the same text are aligned by it
     "clock offset"     "TIME OFFSET", or several of these: when prof_host_ns() was TIME, the other clock showed OFFSET
                        ns more. From the first to the last one, and beyond them, the offset changes linearly
   The trace's times are then times of that other clock. The process whose clock it is has "clock offset" "0 0". */

#define PROF__ALIGN_RATE 0.01 /* clocks that differ by more are no clocks: the second offset is wrong */

/* Reads the next number of a text. Returns 0 if there is none. */
static int prof__align_number(const char **text, int64_t *number)
{
    char *end;
    *number = (int64_t)strtoll(*text, &end, 10);
    if (end == *text) return 0;
    *text = end;
    return 1;
}

/* Finds out how much the clock of a trace differs from the one that its metadata name, and how its rate does. */
static void prof__align_correct(prof_trace *trace)
{
    const char *text = prof__trace_said(trace, "clock offset");
    int64_t time, offset, start = (int64_t)trace->header.first.monotonic_ns, first = 0, first_offset = 0;
    double rate = 0;
    if (!*prof__trace_said(trace, "clock reference")) return;
    while (prof__align_number(&text, &time) && prof__align_number(&text, &offset)) {
        double later = (double)time - (double)first, more = (double)offset - (double)first_offset;
        if (!trace->corrected) first = time, first_offset = offset;
        else if (later > 0) rate = more / later;
        trace->corrected = 1;
    }
    if (!trace->corrected) return;
    if (rate > -PROF__ALIGN_RATE && rate < PROF__ALIGN_RATE) trace->clock_rate = rate;
    trace->clock_ahead = first_offset + (int64_t)(trace->clock_rate * ((double)start - (double)first));
}

/* What aligns a trace with others. */
typedef struct prof__align_clock {
    char name[200];                      /* clocks of one name are one; "": it has none */
    uint64_t monotonic_ns, unix_ns;      /* of the begin */
    uint64_t since_boot_ns, time_namespace;
    int64_t shift_ns;                    /* see prof_trace_set_offset() */
} prof__align_clock;

static void prof__align_of(const prof_trace *trace, prof__align_clock *clock)
{
    const prof__header *h = &trace->header;
    memset(clock, 0, sizeof *clock);
    clock->shift_ns = trace->shift_ns;
    clock->monotonic_ns = h->first.monotonic_ns;
    clock->unix_ns = h->first.unix_ns;
    if (trace->corrected) {
        snprintf(clock->name, sizeof clock->name, "reference %s", prof__trace_said(trace, "clock reference"));
        clock->monotonic_ns += (uint64_t)trace->clock_ahead;
        clock->time_namespace = 1; /* any: it is the same clock, whatever Unix time says */
        return;
    }
    prof__text_copy(clock->name, sizeof clock->name, h->boot_id);
    clock->since_boot_ns = h->since_boot_ns;
    clock->time_namespace = h->time_namespace;
}

/* Returns how much later trace a began than trace b, in ns by the clock of their machine; negative if earlier.
   CLOCK_MONOTONIC stands still during a suspension, so the time since the machine's start is compared, too. That time
   is read a moment after the clock pair: only a difference of a millisecond or more is a suspension. */
static int64_t prof__align_later(const prof__align_clock *a, const prof__align_clock *b)
{
    int64_t later = (int64_t)(a->monotonic_ns - b->monotonic_ns);
    int64_t suspended = (int64_t)(a->since_boot_ns - b->since_boot_ns) - later;
    if (!a->since_boot_ns || (suspended > -1000000 && suspended < 1000000)) return later;
    return later + suspended;
}

/* Returns 1 if two traces have times of the same CLOCK_MONOTONIC. It must be the same machine, and in traces that state
   it the same time namespace. Older traces do not state the namespace: then the difference between Unix time and
   CLOCK_MONOTONIC must be the same within a second, because a different namespace or a suspension in between changes it
   by more. */
static int prof__align_same(const prof__align_clock *a, const prof__align_clock *b)
{
    uint64_t x = a->unix_ns - a->monotonic_ns, y = b->unix_ns - b->monotonic_ns;
    if (strcmp(a->name, b->name)) return 0;
    if (a->time_namespace != b->time_namespace || !a->since_boot_ns != !b->since_boot_ns) return 0;
    if (a->time_namespace || !a->unix_ns || !b->unix_ns) return 1;
    return (x > y ? x - y : y - x) <= 1000000000;
}

/* Returns the index of the trace that began first on the machine of trace `one`. That machine's monotonic clock aligns
   all its traces with this one. */
static size_t prof__align_anchor(const prof__align_clock *clocks, size_t count, size_t one)
{
    size_t anchor = one, i;
    for (i = count; i-- && clocks[one].name[0];)
        if (prof__align_same(&clocks[i], &clocks[one]) && prof__align_later(&clocks[i], &clocks[anchor]) <= 0)
            anchor = i;
    return anchor;
}

/* Adds what prof_trace_set_offset() set. The earliest trace begins at 0. */
static void prof__align_shift(const prof__align_clock *clocks, size_t count, int64_t *offsets)
{
    int64_t least = 0;
    size_t i;
    for (i = 0; i < count; i++) {
        offsets[i] += clocks[i].shift_ns;
        if (!i || offsets[i] < least) least = offsets[i];
    }
    for (i = 0; i < count; i++) offsets[i] -= least;
}

/* Sets offsets to the times, in ns after the earliest, at which the traces begin. Traces of one machine are aligned by
   its monotonic clock, machines by Unix time. Returns the number of machines. */
static size_t prof__align_clocks(const prof__align_clock *clocks, size_t count, int64_t *offsets)
{
    uint64_t earliest = 0;
    size_t groups = 0, i;
    int shifted = 0;
    for (i = 0; i < count; i++) {
        size_t anchor = prof__align_anchor(clocks, count, i);
        uint64_t start = clocks[anchor].unix_ns;
        uint64_t since = (uint64_t)prof__align_later(&clocks[i], &clocks[anchor]);
        offsets[i] = since < (uint64_t)PROF__FAR_NS ? (int64_t)since : PROF__FAR_NS;
        if (!i || start < earliest) earliest = start;
        groups += anchor == i;
        shifted |= clocks[i].shift_ns != 0;
    }
    for (i = 0; i < count; i++) {
        uint64_t later = clocks[prof__align_anchor(clocks, count, i)].unix_ns - earliest;
        offsets[i] = later < (uint64_t)(PROF__FAR_NS - offsets[i]) ? offsets[i] + (int64_t)later : PROF__FAR_NS;
    }
    if (shifted) prof__align_shift(clocks, count, offsets);
    return groups;
}

PROF_DEF size_t prof_trace_align(const prof_trace *const *traces, size_t count, int64_t *offsets)
{
    prof__align_clock *clocks = (prof__align_clock *)malloc((count + 1) * sizeof *clocks);
    size_t i, machines = count;
    if (!clocks) memset(offsets, 0, count * sizeof *offsets); /* without memory all begin at 0 */
    for (i = 0; clocks && i < count; i++) prof__align_of(traces[i], &clocks[i]);
    if (clocks) machines = prof__align_clocks(clocks, count, offsets);
    free(clocks);
    return machines;
}

PROF_DEF prof_status prof_trace_set_offset(prof_trace *trace, int64_t ns)
{
    if (!trace) return prof__null("prof_trace_set_offset", "trace");
    if (ns > PROF__FAR_NS / 4 || ns < -PROF__FAR_NS / 4)
        return prof__fail(PROF_INVALID_ARGUMENT, "prof_trace_set_offset: more than 18 years");
    trace->shift_ns = ns;
    return PROF_OK;
}

#endif /* PROF__READ_ALIGN_H */
