// ntff/clock: Converts between Unix time and the host's clock.
#ifndef PROF__NTFF_CLOCK_H
#define PROF__NTFF_CLOCK_H
#include "api/values.h"
#include "image/format.h"
#include "read/find.h"

/*-- CLOCK ----------------------------------------------------------------------------------------------- >>clock -- */

#define PROF__NTFF_NOISE 50000 /* ns between readings of two clocks, at most, if they are read one after the other */
#define PROF__NTFF_FAR ((int64_t)1 << 62) /* ns: later than any time that can be true */

static int64_t prof__ntff_minus(int64_t a, int64_t b) /* saturates at the limits of the type */
{
    if (b < 0 ? a > INT64_MAX + b : a < INT64_MIN + b) return b < 0 ? INT64_MAX : INT64_MIN;
    return a - b;
}

/* Two moments, each on both clocks of a host: CLOCK_MONOTONIC and Unix time. Linux adjusts both clocks alike, so they
   have one rate, apart from noise. */
typedef struct prof__ntff_clock {
    int64_t host, unix_ns; /* the first moment on each clock */
    int64_t span, off;     /* span: from there to the second, in host time; off: how much longer in Unix time */
    int stepped;           /* 1: Unix time was set in between, so `off` is not used */
} prof__ntff_clock;

/* Makes a clock from two pairs. Sets all to zero if there is no Unix time, or if a time is a century or more, which
   cannot be true. */
static void prof__ntff_clock_of(prof__ntff_clock *clock, const prof__pair *first, const prof__pair *last)
{
    int64_t much;
    memset(clock, 0, sizeof *clock);
    if (first->unix_ns >= (uint64_t)PROF__NTFF_FAR || first->monotonic_ns >= (uint64_t)PROF__NTFF_FAR / 2) return;
    clock->host = (int64_t)first->monotonic_ns;
    clock->unix_ns = (int64_t)first->unix_ns;
    if (last->monotonic_ns <= first->monotonic_ns || !last->unix_ns) return;
    if (last->monotonic_ns - first->monotonic_ns > (uint64_t)1 << 60 || last->unix_ns > (uint64_t)INT64_MAX)
        return;
    clock->span = (int64_t)(last->monotonic_ns - first->monotonic_ns);
    clock->off = (int64_t)(last->unix_ns - first->unix_ns) - clock->span;
    much = clock->off < 0 ? -clock->off : clock->off;
    clock->stepped = much > PROF__NTFF_NOISE + clock->span / 2000;
    if (clock->stepped || much <= PROF__NTFF_NOISE || much > clock->span / 1000) clock->span = clock->off = 0;
}

/* Returns how much more Unix time than host time passes in the time `since`. At most 0.5 per mille, so a double is
   exact enough. span: the whole time between the two moments, on the clock of `since`. */
static int64_t prof__ntff_clock_part(const prof__ntff_clock *clock, int64_t since, int64_t span)
{
    double off = clock->span ? (double)since * ((double)clock->off / (double)span) : 0;
    if (off > 1e15) off = 1e15;
    if (off < -1e15) off = -1e15;
    return (int64_t)(off < 0 ? off - 0.5 : off + 0.5);
}

static int64_t prof__ntff_clock_off(const prof__ntff_clock *clock, int64_t since)
{
    return prof__ntff_clock_part(clock, since, clock->span);
}

/* Converts a time since the first moment, on the host's clock, to Unix time. */
static int64_t prof__ntff_clock_unix(const prof__ntff_clock *clock, int64_t since)
{
    return prof__ntff_minus(since, -(clock->unix_ns + prof__ntff_clock_off(clock, since)));
}

/* Converts a Unix time, 0 to 2^62 ns, to the host's clock. */
static int64_t prof__ntff_clock_host(const prof__ntff_clock *clock, int64_t unix_ns)
{
    int64_t since = unix_ns - clock->unix_ns;
    return clock->host + since - prof__ntff_clock_part(clock, since, clock->span + clock->off);
}

static void prof__ntff_clock_of_trace(prof__ntff_clock *clock, const prof_trace *trace)
{
    prof__pair first, last;
    prof__trace_pairs(trace, &first, &last);
    prof__ntff_clock_of(clock, &first, &last);
}

PROF_DEF int64_t prof_ntff_unix_ns(const prof_trace *trace, int64_t ns)
{
    prof__ntff_clock clock;
    if (!trace) return 0;
    prof__ntff_clock_of_trace(&clock, trace);
    return prof__ntff_clock_unix(&clock, ns);
}

#endif /* PROF__NTFF_CLOCK_H */
