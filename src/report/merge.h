// report/merge: Adds up rows of statistics, so that several call sites become one row.
#ifndef PROF__REPORT_MERGE_H
#define PROF__REPORT_MERGE_H
#include "api/reports.h"
#include "api/values.h"
#include "ground/numbers.h"
#include "report/percentiles.h"
#include "report/stat_rows.h"

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

#endif /* PROF__REPORT_MERGE_H */
