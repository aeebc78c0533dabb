// report/accumulator: What statistics keep of the scopes, frames or samples of one name, and all that is done with it:
// add one, add up two, finish, begin anew. Reports of a trace, followers of a running program, and the reports that add
// up several rows use it.
#ifndef PROF__REPORT_ACCUMULATOR_H
#define PROF__REPORT_ACCUMULATOR_H
#include "api/read.h"
#include "api/reports.h"
#include "api/values.h"
#include "ground/numbers.h"
#include "read/clock.h"
#include "report/percentiles.h"

/*-- ACCUMULATOR -------------------------------------------------------------------------------------- >>accumulator --
   A row has counts, sums, extremes, moments and a histogram. Times are nanoseconds. A follower does not know yet how
   long a tick is: it counts ticks, and prof__stat_row_scale() makes nanoseconds of a copy of the row. */

/* The statistics of one name at one call site. What each scope changes comes first, up to the first fields of stat, and
   lies close together: there may be 100,000 rows. */
typedef struct prof__stat_row {
    uint64_t key; /* of a trace's rows: in place of the name and the parent: see prof__stat_row_find() */
    prof_event_type type; /* SCOPE, FRAME, COUNTER, SPAN_BEGIN */
    uint64_t track;             /* the number of the track of the previous scope or frame, from 1 */
    uint64_t open;              /* scopes: how many calls of this row enclose the present event */
    uint64_t square_low, square_high; /* sum of the squared times, 128 bits, from prof__stat_row_time() */
    prof__histogram histogram;
    prof_stat stat;
    char *text; /* owns stat.name if that was made at run time; else NULL */
    double mean, squares; /* of counters and merged rows: the mean so far, and the sum of squared distances from it */
    uint64_t before_ns;         /* scopes: stat.total_ns when that track began; kept_ns: the time kept of the track */
    double kept_ns;
    double low, high, last;     /* counters: the least, greatest and last value */
    double rate_squares;        /* throughputs: sum of the squared distances from the mean rate */
    int64_t to;                 /* counters: the time of the last value */
    size_t child, sibling, place; /* by path: links of the tree; used while rows are sorted */
} prof__stat_row;

/*-- one more --*/

static void prof__stat_row_moments(prof__stat_row *row, double value, uint64_t count)
{
    double distance = value - row->mean;
    row->mean += distance / (double)count;
    row->squares += distance * (value - row->mean);
}

/* Keeps the value of a counter if it is the latest so far. Samples may come in any order of time. Must be called before
   the sample is counted. */
static void prof__stat_row_last(prof__stat_row *row, double value, int64_t time)
{
    if (row->stat.count && time < row->to) return;
    row->last = value;
    row->to = time;
}

/* Adds one sample of a counter. NaN becomes the lowest or highest value only if all samples are NaN. */
static void prof__stat_row_value(prof__stat_row *row, double value)
{
    if (!row->stat.count++ || prof__less(value, row->low)) row->low = value;
    if (row->stat.count == 1 || prof__greater(value, row->high)) row->high = value;
    prof__stat_row_moments(row, value, row->stat.count);
}

/* Adds the bytes and the rate of one PROFILE_THROUGHPUT. */
static void prof__stat_row_bytes(prof__stat_row *row, uint64_t bytes, double ns)
{
    prof_stat *stat = &row->stat;
    double rate = ns > 0 ? (double)bytes * 1000 / ns : 0, distance = rate - stat->mean_rate;
    stat->bytes = stat->bytes + bytes < bytes ? ~(uint64_t)0 : stat->bytes + bytes;
    if (!(ns > 0)) return;
    if (!stat->rates++ || rate < stat->min_rate) stat->min_rate = rate;
    if (stat->rates == 1 || rate > stat->max_rate) stat->max_rate = rate;
    stat->mean_rate += distance / (double)stat->rates;
    row->rate_squares += distance * (rate - stat->mean_rate);
}

/* Adds the time of a call, which is `ns` in nanoseconds; `time` is the same, or in ticks. The caller has counted the
   call in stat.count. Without memory for a step, the time is missing from the percentiles, and the function returns
   0. */
static PROF__NOINLINE int prof__stat_row_time(prof__stat_row *row, uint64_t time, uint64_t ns)
{
    prof_stat *stat = &row->stat;
    uint64_t high, low = prof__product_of(time, time, &high);
    if (PROF__UNLIKELY(time < stat->min_ns || time > stat->max_ns)) {
        if (time < stat->min_ns || stat->count - stat->truncated == 1) stat->min_ns = time;
        if (time > stat->max_ns) stat->max_ns = time;
    }
    stat->sum_ns = stat->sum_ns + time < time ? ~(uint64_t)0 : stat->sum_ns + time;
    row->square_low += low;
    row->square_high += high + (row->square_low < low);
    return prof__histogram_add(&row->histogram, prof__step_of(ns), 1);
}

/* Adds the self time of a call. */
static inline void prof__stat_row_alone(prof__stat_row *row, int64_t alone)
{
    if (alone > 0) row->stat.self_ns += (uint64_t)alone;
}

/* The tasks of one thread that have ended, while no task that encloses them has. The latest is the last item. */
#define PROF__NESTED 16
typedef struct prof__nested {
    int64_t start[PROF__NESTED];
    uint64_t ticks[PROF__NESTED];
    size_t count;
} prof__nested;

/* Adds a task that ends. Returns its time without the tasks inside it. Only PROF__NESTED tasks are kept: if there are
   more, the oldest two become one. A task that begins between the two gets a time that includes the older one. */
static uint64_t prof__nested_add(prof__nested *all, int64_t start, uint64_t ticks)
{
    uint64_t inside = 0;
    size_t i;
    while (all->count && all->start[all->count - 1] >= start) inside += all->ticks[--all->count];
    if (all->count == PROF__NESTED) {
        all->ticks[0] += all->ticks[1];
        for (i = 2; i < PROF__NESTED; i++) {
            all->start[i - 1] = all->start[i];
            all->ticks[i - 1] = all->ticks[i];
        }
        all->count--;
    }
    all->start[all->count] = start;
    all->ticks[all->count++] = ticks;
    return ticks - inside;
}

/* Adds to the row's share of the covered time what the present track contributes. */
static void prof__stat_row_share(prof__stat_row *row)
{
    if (row->kept_ns > 0) row->stat.share += prof__real(row->stat.total_ns - row->before_ns) / row->kept_ns;
    row->before_ns = row->stat.total_ns;
}

/*-- two rows --*/

/* Adds `count` values to `had` values. Of the added ones, `mean` is the mean and `squares` the sum of the squared
   distances from it; *to and *to_squares are those of the others, and then of all. */
static void prof__stat_row_join(double *to, double *to_squares, uint64_t had, double mean, double squares,
                                uint64_t count)
{
    double distance = mean - *to, all = (double)had + (double)count;
    if (!count) return;
    *to += distance * (double)count / all;
    *to_squares += squares + distance * distance * (double)had * (double)count / all;
}

static uint64_t prof__stat_row_sum(uint64_t a, uint64_t b) { return a + b < a ? ~(uint64_t)0 : a + b; }

/* Adds the rates of scopes that move bytes. */
static void prof__stat_row_add_rates(prof__stat_row *to, const prof__stat_row *from)
{
    prof_stat *stat = &to->stat;
    stat->bytes = prof__stat_row_sum(stat->bytes, from->stat.bytes);
    if (!from->stat.rates) return;
    if (!stat->rates || from->stat.min_rate < stat->min_rate) stat->min_rate = from->stat.min_rate;
    if (!stat->rates || from->stat.max_rate > stat->max_rate) stat->max_rate = from->stat.max_rate;
    prof__stat_row_join(&stat->mean_rate, &to->rate_squares, stat->rates, from->stat.mean_rate, from->rate_squares,
                        from->stat.rates);
    stat->rates += from->stat.rates;
}

/* Adds the times of a scope, span or frame. Returns 0 without memory. */
static int prof__stat_row_add_times(prof__stat_row *to, const prof__stat_row *from)
{
    uint64_t had = to->stat.count - to->stat.truncated, more = from->stat.count - from->stat.truncated;
    const prof__histogram *h = &from->histogram;
    size_t i;
    if (more && (!had || from->stat.min_ns < to->stat.min_ns)) to->stat.min_ns = from->stat.min_ns;
    if (more && from->stat.max_ns > to->stat.max_ns) to->stat.max_ns = from->stat.max_ns;
    prof__stat_row_join(&to->mean, &to->squares, had, from->mean, from->squares, more);
    to->stat.count += from->stat.count;
    to->stat.truncated += from->stat.truncated;
    to->stat.sum_ns = prof__stat_row_sum(to->stat.sum_ns, from->stat.sum_ns);
    to->stat.total_ns = prof__stat_row_sum(to->stat.total_ns, from->stat.total_ns);
    to->stat.self_ns = prof__stat_row_sum(to->stat.self_ns, from->stat.self_ns);
    to->stat.running_ns = prof__stat_row_sum(to->stat.running_ns, from->stat.running_ns);
    to->stat.ready_ns = prof__stat_row_sum(to->stat.ready_ns, from->stat.ready_ns);
    to->stat.waiting_ns = prof__stat_row_sum(to->stat.waiting_ns, from->stat.waiting_ns);
    to->stat.switches += from->stat.switches;
    to->stat.migrations += from->stat.migrations;
    prof__stat_row_add_rates(to, from);
    for (i = 0; i < h->capacity; i++)
        if (h->steps[i].number && !prof__histogram_add(&to->histogram, h->steps[i].number - 1, h->steps[i].count))
            return 0;
    return 1;
}

static void prof__stat_row_add_values(prof__stat_row *to, const prof__stat_row *from)
{
    prof__stat_row_last(to, from->last, from->to);
    if (!to->stat.count || prof__less(from->low, to->low)) to->low = from->low;
    if (!to->stat.count || prof__greater(from->high, to->high)) to->high = from->high;
    prof__stat_row_join(&to->mean, &to->squares, to->stat.count, from->mean, from->squares, from->stat.count);
    to->stat.count += from->stat.count;
}

/* Adds `from` to a row of the same type. The caller has called prof__stat_row_finish() for `from`, and calls it for
   `to` afterwards. Returns 0 without memory. */
static int prof__stat_row_add(prof__stat_row *to, const prof__stat_row *from)
{
    if (from->type != PROF_EVENT_COUNTER) return prof__stat_row_add_times(to, from);
    prof__stat_row_add_values(to, from);
    return 1;
}

/* Counts the times of a row by powers of two: powers[0] is for 0 ns, [1] for 1 ns, [2] for 2 and 3 ns, and so on. */
static void prof__stat_row_powers(const prof__stat_row *row, uint64_t powers[65])
{
    const prof__histogram *h = &row->histogram;
    size_t i;
    memset(powers, 0, 65 * sizeof *powers);
    for (i = 0; i < h->capacity; i++) {
        prof_bucket bucket;
        if (!h->steps[i].number) continue;
        bucket = prof__step_bucket(&h->steps[i]);
        powers[bucket.from_ns ? prof__log2(bucket.from_ns) + 1 : 0] += bucket.count;
    }
}

/*-- the end --*/

/* Computes the square root by Newton's method, so that users need not link libm. */
static double prof__square_root(double value)
{
    double root = value > 1 ? value : 1;
    int i;
    if (!prof__finite(value)) return value;
    if (!(value > 0)) return 0;
    for (i = 0; i < 1100; i++) {
        double next = (root + value / root) / 2;
        if (!(next < root)) break;
        root = next;
    }
    return root;
}

/* Sets the mean and the sum of squared distances from the mean, out of the exact sums of times and of squared times.
   The distances are exact, too: they are taken from m, the mean rounded down: sum(x * x) - m * sum(x) - m * (sum(x) - n
   * m). */
static void prof__stat_row_distances(prof__stat_row *row, uint64_t count)
{
    uint64_t mean = row->stat.sum_ns / count, rest = row->stat.sum_ns % count, parts[2], high, low;
    size_t i;
    parts[0] = row->stat.sum_ns;
    parts[1] = rest;
    for (i = 0; i < 2; i++) {
        low = prof__product_of(mean, parts[i], &high);
        row->square_high -= high + (row->square_low < low);
        row->square_low -= low;
    }
    row->squares = prof__real(row->square_high) * 18446744073709551616.0 + prof__real(row->square_low) -
                   prof__real(rest) * (prof__real(rest) / prof__real(count));
    row->mean = prof__real(row->stat.sum_ns) / prof__real(count);
    row->square_low = row->square_high = 0;
}

static uint64_t prof__ticks_ns(uint64_t ticks, double ns_per_tick)
{
    double ns = (double)ticks * ns_per_tick;
    return ns < 9e18 ? (uint64_t)(ns + 0.5) : (uint64_t)9000000000000000000u;
}

/* Makes nanoseconds of times that were counted in ticks. prof__stat_row_finish() comes next. */
static void prof__stat_row_scale(prof__stat_row *row, double ns_per_tick)
{
    prof_stat *stat = &row->stat;
    uint64_t count = stat->count - stat->truncated;
    if (count) prof__stat_row_distances(row, count);
    row->mean *= ns_per_tick;
    row->squares *= ns_per_tick * ns_per_tick;
    stat->sum_ns = prof__ticks_ns(stat->sum_ns, ns_per_tick);
    stat->self_ns = prof__ticks_ns(stat->self_ns, ns_per_tick);
    stat->total_ns = prof__ticks_ns(stat->total_ns, ns_per_tick);
    stat->min_ns = prof__ticks_ns(stat->min_ns, ns_per_tick);
    stat->max_ns = prof__ticks_ns(stat->max_ns, ns_per_tick);
}

/* Computes what follows from the sums: mean, deviation, percentiles, share. */
static void prof__stat_row_finish(prof__stat_row *row)
{
    prof_stat *stat = &row->stat;
    uint64_t count = stat->count - stat->truncated;
    if (row->type == PROF_EVENT_SCOPE) prof__stat_row_share(row);
    else stat->total_ns = stat->sum_ns;
    if (row->type == PROF_EVENT_SCOPE || row->type == PROF_EVENT_FRAME)
        stat->unknown_ns = stat->total_ns - stat->running_ns - stat->ready_ns - stat->waiting_ns;
    if (!count) return;
    if (stat->rates) stat->deviation_rate = prof__square_root(row->rate_squares / prof__real(stat->rates));
    prof__percentiles(&row->histogram, count, stat);
    if (row->square_low | row->square_high) prof__stat_row_distances(row, count);
    stat->mean_ns = prof__real(stat->sum_ns) / prof__real(count);
    stat->deviation_ns = prof__square_root(row->squares / prof__real(count));
}

/* Begins anew: only the type stays. */
static void prof__stat_row_reset(prof__stat_row *row)
{
    prof_event_type type = row->type;
    free(row->histogram.steps);
    memset(row, 0, sizeof *row);
    row->type = type;
}

#endif /* PROF__REPORT_ACCUMULATOR_H */
