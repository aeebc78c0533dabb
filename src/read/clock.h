// read/clock: Converts ticks to nanoseconds with a piecewise linear function, which it makes from clock pairs.
#ifndef PROF__READ_CLOCK_H
#define PROF__READ_CLOCK_H
#include "api/values.h"
#include "ground/hash.h"
#include "image/format.h"
#include "read/trace.h"

/* Converts a count to a double. Not inlined, because most processors have no instruction for it and it takes 40 bytes
   of code; only rare functions use it. */
static double prof__real(uint64_t value) { return (double)value; }

/*-- the clock --*/

/* Sets a line's slope, ns per tick, as factor / 2^shift, rounded down. */
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

/* Returns the lower 64 bits of a * b. *high: the upper 64 bits. */
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
    /* A product is at most 2^128 - 2^65 + 1, so adding a half cannot overflow. */
    __extension__ typedef unsigned __int128 prof__product;
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

/* Returns the index of the last line that begins at or before tick, or of the first line. */
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

/* Converts a tick to nanoseconds by sorted lines. hint: index of the line that was found last, kept from call to
   call. */
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

/* Returns the nanoseconds from the session's start to a tick, at least 0. */
static PROF__NOINLINE int64_t prof__read_ns(const prof_trace *trace, uint64_t tick, size_t *hint)
{
    int64_t ns = prof__read_on_lines(trace->lines, trace->line_count, tick, hint);
    return ns < 0 ? 0 : ns;
}

/* The line that was found last, prepared for many ticks in order. While tick - from < span, prof__read_fast_ns() gives
   the same result as prof__read_ns() with a single multiplication. All zero at first. */
typedef struct prof__read_fast {
    uint64_t from, span, factor;
    int64_t ns;
    unsigned up;
} prof__read_fast;

/* Returns the result of prof__read_ns(), and prepares the line in *fast. */
static PROF__NOINLINE int64_t prof__read_fast_find(const prof_trace *trace, uint64_t tick, size_t *hint,
                                                   prof__read_fast *fast)
{
    int64_t ns = prof__read_ns(trace, tick, hint);
#ifdef __SIZEOF_INT128__
    /* The factor is below 2^63 and the shift at least 43, so results stay below PROF__FAR_NS. */
    const uint64_t max = (uint64_t)1 << 40;
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

/* Returns the result of prof__read_ns(), for a tick inside the span of *fast. */
static inline int64_t prof__read_fast_ns(const prof__read_fast *fast, uint64_t tick)
{
#ifdef __SIZEOF_INT128__
    {
        __extension__ typedef unsigned __int128 prof__product;
        prof__product at = (prof__product)(uint64_t)fast->ns << 64 | (uint64_t)1 << 63; /* adds a half, to round */
        return (int64_t)(uint64_t)((at + (prof__product)((tick - fast->from) << fast->up) * fast->factor) >> 64);
    }
#else
    (void)tick;
    return fast->ns; /* never called, because span is 0 */
#endif
}

/* Converts a duration of the machine's clock to one of the clock by which the trace is aligned: see >>aligning. */
static int64_t prof__read_corrected(const prof_trace *trace, int64_t ns)
{
    return trace->clock_rate > 0 || trace->clock_rate < 0 ? ns + (int64_t)(trace->clock_rate * (double)ns) : ns;
}

/* Returns the nanoseconds from the session's start to a time of CLOCK_MONOTONIC, including the gaps in which that clock
   stood still. */
static int64_t prof__read_since(const prof_trace *trace, uint64_t monotonic_ns)
{
    uint64_t from = trace->header.first.monotonic_ns,
             ns = monotonic_ns >= from ? monotonic_ns - from : from - monotonic_ns;
    int64_t limited = ns < (uint64_t)PROF__FAR_NS ? (int64_t)ns : PROF__FAR_NS;
    size_t i;
    if (monotonic_ns < from) return -prof__read_corrected(trace, limited);
    for (i = 0; i < trace->gap_count; i++)
        if (monotonic_ns >= trace->gaps[i].monotonic_ns && trace->gaps[i].added_ns < PROF__FAR_NS - limited)
            limited += trace->gaps[i].added_ns;
    return prof__read_corrected(trace, limited);
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

/* Drops clock pairs whose two clocks were read too far apart, because the thread was interrupted in between: more than
   four times as long as usual. Keeps all if fewer than two would be left. Returns how many are left. */
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

/* Returns 1 if both clocks go forward from a to b, the system's by at least ns nanoseconds. */
static int prof__read_apart(const prof__pair *a, const prof__pair *b, uint64_t ns)
{
    return b->tick > a->tick && b->monotonic_ns > a->monotonic_ns && b->monotonic_ns - a->monotonic_ns >= ns;
}

/* Drops sorted pairs in which a clock does not go forward, or that are less than a millisecond after the previous one:
   over a shorter time, errors of reading are larger than differences of the clocks. Returns how many are left. */
static size_t prof__read_thin(prof__pair *pairs, size_t count)
{
    size_t i, kept = 1;
    for (i = 1; i < count; i++) {
        prof__pair pair = pairs[i];
        if (prof__read_apart(&pairs[kept - 1], &pair, 1000000))
            pairs[kept++] = pair;
        else if (kept > 1 && pair.width < pairs[kept - 1].width && prof__read_apart(&pairs[kept - 2], &pair, 1000000))
            pairs[kept - 1] = pair; /* the pair that was read faster is more exact */
        else if (kept == 1 && i + 1 == count && prof__read_apart(&pairs[0], &pair, 1))
            pairs[kept++] = pair; /* a short session has no better pair */
    }
    return kept;
}

static int prof__read_slope_order(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Returns ticks per second while the machine was not suspended: the median over the intervals between pairs. With few
   pairs, what the start of the session measured is better, or what the processor states. 0: unknown. */
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

#define PROF__GAPS 256 /* with more gaps, the clock has no usual rate, and none of them is real */
/* Ns; a shorter difference may come from setting the clock, or from a thread that waited. */
#define PROF__GAP_LEAST 20e6

/* Returns 1 and sets *gap if there is a gap between two pairs: the counter and CLOCK_MONOTONIC differ by more than an
   eighth, or the counter and Unix time both differ from CLOCK_MONOTONIC by nearly the same time. Returns 0 if there is
   none. */
static int prof__read_gap_between(const prof__pair *a, const prof__pair *b, double rate, prof__read_gap *gap)
{
    double ns = prof__real(b->monotonic_ns - a->monotonic_ns), wanted = prof__real(b->tick - a->tick) * 1e9 / rate;
    double missing = wanted - ns, more = b->unix_ns > a->unix_ns ? prof__real(b->unix_ns - a->unix_ns) - ns : 0;
    /* An interrupted reading can be wrong by as much as it took. */
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

/* Sets a line's slope to the usual rate if the counter stood still at the end of the interval that the line covers. */
static void prof__read_stopped(const prof_trace *trace, prof__read_line *line, uint64_t ticks, double rate)
{
    double ns = prof__real(ticks) * 1e9 / rate;
    size_t i;
    for (i = 0; i < trace->gap_count; i++)
        if (trace->gaps[i].from == line->tick && !trace->gaps[i].added_ns && !trace->gaps[i].restarts && ns < 1e18)
            prof__read_slope(line, ticks, ns >= 1 ? (uint64_t)ns : 1);
}

/* Makes the lines from pairs that are sorted and thinned out. */
static void prof__read_lines(prof_trace *trace, const prof__pair *pairs, size_t count)
{
    const prof__header *header = &trace->header;
    const prof__pair *first = &pairs[0], *last = &pairs[count - 1];
    uint64_t ns = last->monotonic_ns - first->monotonic_ns;
    uint64_t hz = header->tick_hz && header->tick_hz <= (uint64_t)1 << 50 ? header->tick_hz : 0;
    uint64_t second = (uint64_t)prof__read_corrected(trace, 1000000000);
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
    /* A stated rate is better than one that is measured over less than 10 ms. CLOCK_MONOTONIC has exactly its stated
       rate. */
    if (count < 2 || (hz && ((ns < 10000000 && !gaps) || header->clock == PROF_CLOCK_MONOTONIC))) {
        trace->line_count = 1;
        trace->info.tick_hz = hz;
        prof__read_slope(&trace->lines[0], hz ? hz : 1000000000u, second);
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
    /* Beyond the last pair, the newest slope counts if it covers a second, else the slope of the whole session. */
    if (gaps) {
        prof__read_slope(&trace->lines[count - 1], trace->info.tick_hz ? trace->info.tick_hz : 1, second);
        return;
    }
    if (count > 2 && last->monotonic_ns - pairs[count - 2].monotonic_ns >= 1000000000u)
        first = &pairs[count - 2];
    ns = last->monotonic_ns - first->monotonic_ns;
    if (ns < (uint64_t)PROF__FAR_NS) ns = (uint64_t)prof__read_corrected(trace, (int64_t)ns);
    prof__read_slope(&trace->lines[count - 1], last->tick - first->tick, ns);
}

/* Makes a trace's lines from its clock pairs. now: a pair that the reader has taken from the same clocks, or NULL.
   Returns 0 if there is no memory. */
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
