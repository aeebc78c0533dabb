// read/clock: Converts ticks to nanoseconds, piecewise linearly.
#ifndef PROF__READ_CLOCK_H
#define PROF__READ_CLOCK_H
#include "api/read.h"
#include "ground/hash.h"
#include "image/format.h"
#include "read/trace.h"

/* Converts a count to a double, for rare functions. Inline it takes 40 bytes of code, because most processors have no
   instruction for it. */
static double prof__real(uint64_t value) { return (double)value; }

/*-- the clock --*/

/* Computes ns per tick as factor / 2^shift, rounded down. */
static void prof__read_slope(prof__read_line *line, uint64_t ticks, uint64_t ns)
{
    uint64_t factor = ns / ticks, rest = ns % ticks;
    unsigned shift = 0;
    while (shift < 64 && factor < (uint64_t)1 << 62) {
        int carry = rest >= ticks - rest;
        rest = carry ? rest - (ticks - rest) : rest + rest;
        factor = factor * 2 + (uint64_t)carry;
        shift++;
    }
    line->factor = factor;
    line->shift = shift;
}

/* Returns the lower half of a * b; *high: the upper half. */
static inline uint64_t prof__product_of(uint64_t a, uint64_t b, uint64_t *high)
{
#ifdef __SIZEOF_INT128__
    __extension__ typedef unsigned __int128 prof__product;
    prof__product product = (prof__product)a * b;
    *high = (uint64_t)(product >> 64);
    return (uint64_t)product;
#else
    uint64_t upper = a >> 32, lower = a & 0xFFFFFFFFu, c = b >> 32, d = b & 0xFFFFFFFFu;
    uint64_t low = lower * d, middle = upper * d + (low >> 32), cross = lower * c + (middle & 0xFFFFFFFFu);
    *high = upper * c + (middle >> 32) + (cross >> 32);
    return cross << 32 | (low & 0xFFFFFFFFu);
#endif
}

/* Returns value * factor / 2^shift, rounded to the nearest, at most PROF__FAR_NS. */
static inline int64_t prof__read_scale(uint64_t value, uint64_t factor, unsigned shift)
{
#ifdef __SIZEOF_INT128__
    __extension__ typedef unsigned __int128 prof__product; /* at most 2^128 - 2^65 + 1: adding a half cannot overflow */
    prof__product product = (prof__product)value * factor + (shift ? (uint64_t)1 << (shift - 1) : 0),
                  result = product >> shift;
    return result < (uint64_t)PROF__FAR_NS ? (int64_t)result : PROF__FAR_NS;
#else
    uint64_t high, half = shift ? (uint64_t)1 << (shift - 1) : 0, result;
    uint64_t low = prof__product_of(value, factor, &high) + half;
    high += low < half; /* cannot overflow: a product of two 64-bit numbers is at most 2^128 - 2^65 + 1 */
    if (shift == 64)
        result = high;
    else if (shift == 0)
        result = high ? ~(uint64_t)0 : low;
    else
        result = high >> shift ? ~(uint64_t)0 : high << (64 - shift) | low >> shift;
    return result < (uint64_t)PROF__FAR_NS ? (int64_t)result : PROF__FAR_NS;
#endif
}

/* Returns the last line that begins at or before tick, else the first line. */
static size_t prof__read_line_of(const prof__read_line *lines, size_t count, uint64_t tick)
{
    size_t low = 0, high = count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (lines[middle].tick <= tick)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Converts a tick to nanoseconds by sorted lines. hint: the number of the line found last, kept for the next call. */
static int64_t prof__read_on_lines(const prof__read_line *lines, size_t count, uint64_t tick, size_t *hint)
{
    const prof__read_line *line = lines + *hint;
    int64_t ns;
    if (PROF__UNLIKELY(tick < line->tick || (*hint + 1 < count && tick >= line[1].tick)))
        line = lines + (*hint = prof__read_line_of(lines, count, tick));
    ns = prof__read_scale(tick >= line->tick ? tick - line->tick : line->tick - tick, line->factor, line->shift);
    ns = PROF__LIKELY(tick >= line->tick) ? line->ns + ns : line->ns - ns;
    return ns < PROF__FAR_NS ? ns : PROF__FAR_NS;
}

/* Returns the nanoseconds from the session's start to a tick, never negative. */
static PROF__NOINLINE int64_t prof__read_ns(const prof_trace *trace, uint64_t tick, size_t *hint)
{
    int64_t ns = prof__read_on_lines(trace->lines, trace->line_count, tick, hint);
    return ns < 0 ? 0 : ns;
}

/* The line that was found last, to convert many ticks in order: while tick - from < span, prof__read_fast_ns() computes
   the same as prof__read_ns() with one multiplication. All zero at first. */
typedef struct prof__read_fast {
    uint64_t from, span, factor;
    int64_t ns;
    unsigned up;
} prof__read_fast;

/* Does the same as prof__read_ns(), and keeps the line in *fast. */
static PROF__NOINLINE int64_t prof__read_fast_find(const prof_trace *trace, uint64_t tick, size_t *hint,
                                                   prof__read_fast *fast)
{
    int64_t ns = prof__read_ns(trace, tick, hint);
#ifdef __SIZEOF_INT128__
    const uint64_t max = (uint64_t)1 << 40; /* with a factor below 2^63, a shift of at least 43: below PROF__FAR_NS */
    const prof__read_line *line = trace->lines + *hint;
    fast->from = line->tick;
    fast->factor = line->factor;
    fast->ns = line->ns;
    fast->up = 64 - line->shift;
    fast->span = (*hint + 1 < trace->line_count ? line[1].tick : ~(uint64_t)0) - line->tick;
    if (fast->span > max) fast->span = max;
    if (line->shift < 43 || line->shift > 64 || line->ns < 0 || line->ns > PROF__FAR_NS / 4) fast->span = 0;
#else
    (void)fast;
#endif
    return ns;
}

/* Returns the same as prof__read_ns(), for a tick in the span. */
static inline int64_t prof__read_fast_ns(const prof__read_fast *fast, uint64_t tick)
{
#ifdef __SIZEOF_INT128__
    {
        __extension__ typedef unsigned __int128 prof__product;
        prof__product at = (prof__product)(uint64_t)fast->ns << 64 | (uint64_t)1 << 63; /* a half, to round */
        return (int64_t)(uint64_t)((at + (prof__product)((tick - fast->from) << fast->up) * fast->factor) >> 64);
    }
#else
    (void)tick;
    return fast->ns; /* not reached: span is 0 */
#endif
}

/* Returns the nanoseconds from the session's start to a time of its system's clock, with those for which this clock
   stood still. */
static int64_t prof__read_since(const prof_trace *trace, uint64_t monotonic_ns)
{
    uint64_t from = trace->header.first.monotonic_ns,
             ns = monotonic_ns >= from ? monotonic_ns - from : from - monotonic_ns;
    int64_t limited = ns < (uint64_t)PROF__FAR_NS ? (int64_t)ns : PROF__FAR_NS;
    size_t i;
    if (monotonic_ns < from) return -limited;
    for (i = 0; i < trace->gap_count; i++)
        if (monotonic_ns >= trace->gaps[i].monotonic_ns && trace->gaps[i].added_ns < PROF__FAR_NS - limited)
            limited += trace->gaps[i].added_ns;
    return limited;
}

static int prof__read_pair_order(const void *a, const void *b)
{
    const prof__pair *x = (const prof__pair *)a, *y = (const prof__pair *)b;
    if (x->tick != y->tick) return x->tick < y->tick ? -1 : 1;
    return x->width < y->width ? -1 : x->width > y->width;
}

static int prof__read_width_order(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Drops pairs whose reading took far longer than usual (the thread was interrupted in between), unless fewer than two
   are left. Returns how many are left. */
static size_t prof__read_drop_wide(prof__pair *pairs, size_t count, uint64_t *widths)
{
    uint64_t limit;
    size_t i, kept = 0;
    for (i = 0; i < count; i++) widths[i] = pairs[i].width;
    qsort(widths, count, sizeof *widths, prof__read_width_order);
    limit = widths[count / 2] < (uint64_t)1 << 60 ? widths[count / 2] * 4 + 100 : ~(uint64_t)0;
    for (i = 0; i < count; i++) kept += pairs[i].width <= limit;
    if (kept < 2 || kept == count) return count;
    for (i = kept = 0; i < count; i++)
        if (pairs[i].width <= limit) pairs[kept++] = pairs[i];
    return kept;
}

/* Returns 1 if from a to b both clocks go forward, and the system's by at least this many nanoseconds. */
static int prof__read_apart(const prof__pair *a, const prof__pair *b, uint64_t ns)
{
    return b->tick > a->tick && b->monotonic_ns > a->monotonic_ns && b->monotonic_ns - a->monotonic_ns >= ns;
}

/* Keeps those sorted pairs in which both clocks go forward and that are at least a millisecond apart: closer ones would
   show how they were read rather than the clock. */
static size_t prof__read_thin(prof__pair *pairs, size_t count)
{
    size_t i, kept = 1;
    for (i = 1; i < count; i++) {
        prof__pair pair = pairs[i];
        if (prof__read_apart(&pairs[kept - 1], &pair, 1000000))
            pairs[kept++] = pair;
        else if (kept > 1 && pair.width < pairs[kept - 1].width && prof__read_apart(&pairs[kept - 2], &pair, 1000000))
            pairs[kept - 1] = pair; /* the one that was read faster is more exact */
        else if (kept == 1 && i + 1 == count && prof__read_apart(&pairs[0], &pair, 1))
            pairs[kept++] = pair; /* a short session has nothing better */
    }
    return kept;
}

static int prof__read_slope_order(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Returns ticks per second, of the time in which the machine was not suspended: most intervals between pairs agree
   about it. Of few, what the start measured is better, or what the processor states. 0: not known. */
static double prof__read_usual_rate(const prof_trace *trace, const prof__pair *pairs, size_t count)
{
    double *rates = count > 3 ? (double *)malloc(count * sizeof *rates) : NULL, rate = 0;
    size_t i, kept = 0;
    for (i = 1; rates && i < count; i++) {
        uint64_t ns = pairs[i].monotonic_ns - pairs[i - 1].monotonic_ns;
        if (ns >= 10000000) rates[kept++] = prof__real(pairs[i].tick - pairs[i - 1].tick) * 1e9 / prof__real(ns);
    }
    if (kept >= 3) {
        qsort(rates, kept, sizeof *rates, prof__read_slope_order);
        rate = rates[kept / 2];
    }
    free(rates);
    if (rate > 0) return rate;
    return prof__real(trace->start_hz ? trace->start_hz : trace->header.tick_hz);
}

#define PROF__GAPS 256 /* more are none: a clock that is often wrong has no usual rate */
#define PROF__GAP_LEAST 20e6 /* ns: less may be a clock that is being set, or a thread that waited */

/* Finds out whether there is a gap between two pairs: the clocks disagree by more than an eighth, or CLOCK_MONOTONIC
   alone does. Returns 0 if not. */
static int prof__read_gap_between(const prof__pair *a, const prof__pair *b, double rate, prof__read_gap *gap)
{
    double ns = prof__real(b->monotonic_ns - a->monotonic_ns), wanted = prof__real(b->tick - a->tick) * 1e9 / rate;
    double missing = wanted - ns, more = b->unix_ns > a->unix_ns ? prof__real(b->unix_ns - a->unix_ns) - ns : 0;
    /* A reading that was interrupted may be that wrong. */
    double least = PROF__GAP_LEAST + (prof__real(a->width) + prof__real(b->width)) * 1e9 / rate;
    int agree = more > least && missing > more * 7 / 8 && missing < more * 9 / 8;
    if (!(wanted < 1e18 && ns < 1e18)) return 0; /* more than 30 years: the file is damaged */
    if (!(missing > least + wanted / 8 || -missing > least + ns / 8 || agree)) return 0;
    memset(gap, 0, sizeof *gap);
    gap->from = a->tick;
    gap->to = b->tick;
    gap->monotonic_ns = b->monotonic_ns;
    if (missing > 0) gap->added_ns = (int64_t)(agree ? more : missing);
    gap->ns = missing > 0 ? gap->added_ns : (int64_t)-missing;
    return 1;
}

/* If the counter stood still for a part of the interval at whose begin this line is, its slope is the usual one: the
   gap is at its end. */
static void prof__read_stopped(const prof_trace *trace, prof__read_line *line, uint64_t ticks, double rate)
{
    double ns = prof__real(ticks) * 1e9 / rate;
    size_t i;
    for (i = 0; i < trace->gap_count; i++)
        if (trace->gaps[i].from == line->tick && !trace->gaps[i].added_ns && !trace->gaps[i].restarts && ns < 1e18)
            prof__read_slope(line, ticks, ns >= 1 ? (uint64_t)ns : 1);
}

/* Makes lines of sorted, thinned pairs. */
static void prof__read_lines(prof_trace *trace, const prof__pair *pairs, size_t count)
{
    const prof__header *header = &trace->header;
    const prof__pair *first = &pairs[0], *last = &pairs[count - 1];
    uint64_t ns = last->monotonic_ns - first->monotonic_ns;
    uint64_t hz = header->tick_hz && header->tick_hz <= (uint64_t)1 << 50 ? header->tick_hz : 0;
    double measured, rate = 0;
    size_t i, gaps = trace->gap_count;
    if (header->clock != PROF_CLOCK_MONOTONIC) rate = prof__read_usual_rate(trace, pairs, count);
    for (i = 0; i < count; i++) {
        prof__read_gap gap;
        trace->lines[i].tick = pairs[i].tick;
        if (i && rate > 0 && trace->gap_count < PROF__GAPS &&
            prof__read_gap_between(&pairs[i - 1], &pairs[i], rate, &gap) &&
            PROF__ROOM(trace->gaps, trace->gap_capacity, trace->gap_count))
            trace->gaps[trace->gap_count++] = gap;
        trace->lines[i].ns = prof__read_since(trace, pairs[i].monotonic_ns);
    }
    gaps = trace->gap_count - gaps;
    /* A known rate is better than one measured over less than 10 ms; and the system's own clock has no other rate. */
    if (count < 2 || (hz && ((ns < 10000000 && !gaps) || header->clock == PROF_CLOCK_MONOTONIC))) {
        trace->line_count = 1;
        trace->info.tick_hz = hz;
        prof__read_slope(&trace->lines[0], hz ? hz : 1000000000u, 1000000000u);
        return;
    }
    trace->line_count = count;
    for (i = 0; i + 1 < count; i++) {
        uint64_t ticks = pairs[i + 1].tick - pairs[i].tick;
        int64_t took = trace->lines[i + 1].ns - trace->lines[i].ns;
        prof__read_slope(&trace->lines[i], ticks, took > 0 ? (uint64_t)took : 1);
        prof__read_stopped(trace, &trace->lines[i], ticks, rate);
    }
    measured = gaps ? rate : prof__real(last->tick - pairs[0].tick) * 1e9 / prof__real(ns);
    trace->info.tick_hz = measured < 1e18 ? (uint64_t)(measured + 0.5) : (uint64_t)1000000000000000000;
    /* The line beyond the last pair: the newest slope if it covers a second, else that of the whole session. */
    if (gaps) {
        prof__read_slope(&trace->lines[count - 1], trace->info.tick_hz ? trace->info.tick_hz : 1, 1000000000u);
        return;
    }
    if (count > 2 && last->monotonic_ns - pairs[count - 2].monotonic_ns >= 1000000000u)
        first = &pairs[count - 2];
    prof__read_slope(&trace->lines[count - 1], last->tick - first->tick, last->monotonic_ns - first->monotonic_ns);
}

/* Makes the lines of a trace of its clock pairs. now: a pair that the reader took on the same clocks, or NULL. Returns
   0 without memory. */
static int prof__read_clock(prof_trace *trace, const prof__pair *now)
{
    const prof__header *header = &trace->header;
    size_t room = trace->pair_count + 3, count = 0, i;
    prof__pair *pairs = (prof__pair *)malloc(room * sizeof *pairs);
    uint64_t *widths = (uint64_t *)malloc(room * sizeof *widths);
    trace->lines = (prof__read_line *)calloc(room, sizeof *trace->lines);
    if (pairs && widths && trace->lines) {
        pairs[count++] = header->first;
        for (i = 0; i < trace->pair_count; i++) pairs[count++] = trace->pairs[i];
        if (header->last.monotonic_ns > header->first.monotonic_ns) pairs[count++] = header->last;
        if (now) pairs[count++] = *now;
        count = prof__read_drop_wide(pairs, count, widths);
        qsort(pairs, count, sizeof *pairs, prof__read_pair_order);
        count = prof__read_thin(pairs, count);
        prof__read_lines(trace, pairs, count);
    }
    i = pairs && widths && trace->lines;
    free(pairs);
    free(widths);
    free(trace->pairs);
    trace->pairs = NULL;
    trace->pair_count = trace->pair_capacity = 0;
    return (int)i;
}

#endif /* PROF__READ_CLOCK_H */
