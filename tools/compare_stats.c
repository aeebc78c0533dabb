/* compare_stats.c - the arithmetic of prof compare. Times of calls are skewed, have heavy tails and several humps, so
   their order counts here, not their mean. Does without libm, because the tool links with no more than prof.h needs. */
#include "compare.h"
#include <stdlib.h>
#include <string.h>

#define TENTHS 10
#define TENTHS_FROM 100 /* calls of each side from which tenths are compared */

static double root_of(double value)
{
    double root = value > 1 ? value : 1;
    int i;
    if (!(value > 0)) return 0;
    for (i = 0; i < 1100; i++) {
        double next = (root + value / root) / 2;
        if (!(next < root)) break;
        root = next;
    }
    return root;
}

/* Returns e to the power of -x, for x >= 0. */
static double exp_minus(double x)
{
    double small = x / 1024, value = 1 - small + small * small / 2 - small * small * small / 6;
    int i;
    if (x > 700) return 0;
    for (i = 0; i < 10; i++) value *= value;
    return value;
}

double compare_chance(double z)
{
    double x = z < 0 ? -z : z, t, tail; /* the approximation 26.2.17 of Abramowitz and Stegun */
    t = 1 / (1 + 0.2316419 * x);
    tail = t * (0.319381530 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
    tail *= 0.3989422804 * exp_minus(x * x / 2);
    return tail > 0.5 ? 1 : 2 * tail;
}

/* Returns Student's t for 99 %, two-sided. Between two values of the table, returns the larger one, to be careful. */
static double student(double freedom)
{
    static const double table[][2] = {{1, 63.657}, {2, 9.925}, {3, 5.841}, {4, 4.604}, {5, 4.032}, {6, 3.707},
                                      {7, 3.499}, {8, 3.355}, {9, 3.250}, {10, 3.169}, {12, 3.055}, {15, 2.947},
                                      {20, 2.845}, {30, 2.750}, {60, 2.660}, {120, 2.617}, {1e9, COMPARE_Z}};
    double t = table[0][1];
    size_t i;
    for (i = 0; i < sizeof table / sizeof *table && table[i][0] <= freedom; i++) t = table[i][1];
    return t;
}

compare_verdict compare_judge(const compare_change *change, double threshold)
{
    if (change->low > 1 + threshold) return COMPARE_SLOWER;
    if (change->high < 1 - threshold) return COMPARE_FASTER;
    return change->high - change->low <= 2 * threshold ? COMPARE_SAME : COMPARE_UNSURE;
}

static compare_change unknown(double a, double b)
{
    compare_change change;
    change.ratio = a > 0 ? b / a : 1;
    change.low = 0;
    change.high = COMPARE_NEVER;
    return change;
}

/*-- ranks --*/

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void sort(double *values, size_t count)
{
    if (count) qsort(values, count, sizeof *values, by_value);
}

/* Returns 1 if at least `rank` pairs of a value of a and one of b have b <= ratio * a. Ends as soon as that is sure. */
static int pairs_reach(const double *a, size_t na, const double *b, size_t nb, double ratio, double rank)
{
    double pairs = 0;
    size_t i, j = 0;
    for (i = 0; i < na && pairs < rank && pairs + (double)(na - i) * (double)nb >= rank; i++) {
        while (j < nb && b[j] <= ratio * a[i]) j++;
        pairs += (double)j;
    }
    return pairs >= rank;
}

/* Returns the ratio b / a that has this rank among all pairs, to 1e-6 of it; rank 1 is the smallest. All values are
   above 0, and sorted. */
static double ratio_at(const double *a, size_t na, const double *b, size_t nb, double rank)
{
    double low, high, middle = b[nb / 2] / a[na / 2];
    for (low = middle; low > 1e-30 && pairs_reach(a, na, b, nb, low, rank); low /= 1.1) continue;
    for (high = middle; high < 1e30 && !pairs_reach(a, na, b, nb, high, rank); high *= 1.1) continue;
    while (high - low > 1e-6 * low) {
        middle = low + (high - low) / 2;
        if (pairs_reach(a, na, b, nb, middle, rank))
            high = middle;
        else
            low = middle;
    }
    return high;
}

static double hodges_lehmann(const double *a, size_t na, const double *b, size_t nb)
{
    return ratio_at(a, na, b, nb, ((double)na * (double)nb + 1) / 2);
}

/* Returns the estimate of Hodges and Lehmann. Its interval is the ratios that Mann and Whitney's test does not reject;
   ties do not count. */
static compare_change rank_change(const double *a, size_t na, const double *b, size_t nb)
{
    double pairs = (double)na * (double)nb, spread = root_of(pairs * (double)(na + nb + 1) / 12);
    double out = pairs / 2 - COMPARE_Z * spread; /* how many pairs are outside of the interval, on each side */
    compare_change change;
    if (!na || !nb) return unknown(0, 0);
    change = unknown(1, hodges_lehmann(a, na, b, nb));
    if (out < 0) return change;
    out = (double)(uint64_t)out;
    change.low = ratio_at(a, na, b, nb, out + 1);
    change.high = ratio_at(a, na, b, nb, pairs - out);
    return change;
}

/* Returns the z of Mann and Whitney's test, corrected for ties. */
static double mann_whitney(const double *a, size_t na, const double *b, size_t nb)
{
    double n = (double)(na + nb), pairs = (double)na * (double)nb, u = 0, ties = 0, variance;
    size_t i = 0, j = 0;
    while (i < na && j < nb) { /* u: how many pairs have a larger b; equal ones count half */
        double value = a[i] < b[j] ? a[i] : b[j];
        size_t from_i = i, from_j = j;
        double tied;
        while (i < na && !(a[i] > value)) i++;
        while (j < nb && !(b[j] > value)) j++;
        u += (double)(i - from_i) * ((double)(nb - j) + (double)(j - from_j) / 2);
        tied = (double)(i - from_i + j - from_j);
        ties += tied * tied * tied - tied;
    }
    while (i < na || j < nb) { /* only one side is left: counts ties within it */
        const double *rest = i < na ? a + i : b + j;
        size_t left = i < na ? na - i : nb - j, same = 1;
        while (same < left && !(rest[same] > rest[0])) same++;
        ties += (double)same * (double)same * (double)same - (double)same;
        if (i < na)
            i += same;
        else
            j += same;
    }
    variance = n > 1 ? pairs / 12 * (n + 1 - ties / (n * (n - 1))) : 0;
    return variance > 0 ? (u - pairs / 2) / root_of(variance) : 0;
}

/*-- a typical call --*/

static int by_time(const void *a, const void *b)
{
    const compare_call *x = (const compare_call *)a, *y = (const compare_call *)b;
    if (x->start_ns != y->start_ns) return x->start_ns < y->start_ns ? -1 : 1;
    return x->ns < y->ns ? -1 : x->ns > y->ns;
}

static void sort_by_time(const compare_sample *sample)
{
    if (sample->count) qsort(sample->calls, sample->count, sizeof *sample->calls, by_time);
}

/* Returns a value within half a nanosecond of a duration, which is a whole number of nanoseconds. So equal durations
   are no ties. The value depends on nothing but the call's number. */
static double within_step(double ns, size_t number)
{
    double share = ((double)(number * 2654435761u % 65536) + 0.5) / 65536;
    return ns >= 1 ? ns + share - 0.5 : share / 2;
}

/* Sorts the times of a part of a sample into `times`. whole: 1: as they are; 0: spread within their nanosecond. */
static void times_of(const compare_sample *sample, size_t from, size_t to, int whole, double *times)
{
    size_t i;
    for (i = from; i < to; i++) times[i - from] = whole ? sample->calls[i].ns : within_step(sample->calls[i].ns, i);
    sort(times, to - from);
}

/* Makes the interval at least as wide as that of the median of ten changes, from each tenth of A to that tenth of B.
   Their interval is Wilcoxon's: of the averages of all pairs, it leaves out three at each end. It shows what other
   programs did now and then. It does not show phases of the program, which both recordings have. */
static void widen_by_tenths(const compare_sample *a, const compare_sample *b, double *times, compare_change *change)
{
    double part[TENTHS], average[TENTHS * (TENTHS + 1) / 2];
    size_t i, j, count = 0;
    for (i = 0; i < TENTHS; i++) {
        size_t from_a = a->count * i / TENTHS, to_a = a->count * (i + 1) / TENTHS;
        size_t from_b = b->count * i / TENTHS, to_b = b->count * (i + 1) / TENTHS;
        times_of(a, from_a, to_a, 0, times);
        times_of(b, from_b, to_b, 0, times + (to_a - from_a));
        part[i] = hodges_lehmann(times, to_a - from_a, times + (to_a - from_a), to_b - from_b);
        for (j = 0; j <= i; j++) average[count++] = (part[i] + part[j]) / 2;
    }
    sort(average, count);
    if (average[3] < change->low) change->low = average[3];
    if (average[count - 4] > change->high) change->high = average[count - 4];
}

int compare_shift(const compare_sample *a, const compare_sample *b, compare_change *change, double *z)
{
    double *times = (double *)malloc((a->count + b->count + 1) * sizeof *times);
    *change = unknown(0, 0);
    *z = 0;
    if (!times) return 0;
    if (a->count && b->count) {
        sort_by_time(a);
        sort_by_time(b);
        times_of(a, 0, a->count, 1, times);
        times_of(b, 0, b->count, 1, times + a->count);
        *z = mann_whitney(times, a->count, times + a->count, b->count);
        times_of(a, 0, a->count, 0, times);
        times_of(b, 0, b->count, 0, times + a->count);
        *change = rank_change(times, a->count, times + a->count, b->count);
        if (a->count >= TENTHS_FROM && b->count >= TENTHS_FROM) widen_by_tenths(a, b, times, change);
    }
    free(times);
    return 1;
}

double compare_location(const compare_sample *reference, const compare_sample *sample)
{
    double *times = (double *)malloc((reference->count + sample->count + 1) * sizeof *times), ratio = 1;
    if (times && reference->count && sample->count) {
        times_of(reference, 0, reference->count, 0, times);
        times_of(sample, 0, sample->count, 0, times + reference->count);
        ratio = hodges_lehmann(times, reference->count, times + reference->count, sample->count);
    }
    free(times);
    return ratio;
}

/*-- tails and totals --*/

/* Returns the duration of the call with this rank; rank 1 is the shortest. */
static double time_at(const compare_steps *steps, double rank)
{
    double seen = 0;
    size_t i;
    for (i = 0; i + 1 < steps->count; i++) {
        seen += (double)steps->steps[i].count;
        if (seen >= rank) break;
    }
    return steps->steps[i].ns > 0 ? steps->steps[i].ns : 0.25;
}

/* Returns a quantile with its bounds, z deviations away: the calls at the ranks of Wilson's interval of the share. high
   is COMPARE_NEVER if that rank is beyond the slowest call. */
static compare_change quantile_within(const compare_steps *steps, double share, double n, double z)
{
    double calls = (double)steps->calls, spread, low, high;
    compare_change at;
    spread = z * root_of(share * (1 - share) / n + z * z / (4 * n * n));
    low = (share + z * z / (2 * n) - spread) / (1 + z * z / n) * calls;
    high = (double)(uint64_t)((share + z * z / (2 * n) + spread) / (1 + z * z / n) * calls) + 2;
    at.ratio = time_at(steps, share * calls);
    at.low = time_at(steps, low);
    at.high = high > calls ? COMPARE_NEVER : time_at(steps, high);
    return at;
}

static double width_of(const compare_change *at)
{
    return at->high < COMPARE_NEVER ? (at->high - at->low) / at->ratio : 10;
}

compare_change compare_quantile(const compare_steps *a, const compare_steps *b, double share, double dispersion)
{
    double na = (double)a->calls / dispersion, nb = (double)b->calls / dispersion, wa, wb, z;
    compare_change x, y, change;
    if (!a->calls || !b->calls) return unknown(0, 0);
    x = quantile_within(a, share, na, COMPARE_Z);
    y = quantile_within(b, share, nb, COMPARE_Z);
    wa = width_of(&x);
    wb = width_of(&y);
    /* The bounds of both sides at once would be too careful. A smaller z makes the widths add up as variances do. */
    z = wa + wb > 0 ? COMPARE_Z * root_of(wa * wa + wb * wb) / (wa + wb) : COMPARE_Z;
    x = quantile_within(a, share, na, z);
    y = quantile_within(b, share, nb, z);
    change = unknown(x.ratio, y.ratio);
    if (x.high < COMPARE_NEVER) change.low = y.low / x.high;
    if (y.high < COMPARE_NEVER) change.high = y.high / x.low;
    return change;
}

/* Returns how many of n calls must be slower than all of m other calls, so that chance does it with a probability of
   0.5 % at most. Returns 0 if not even n are enough. */
static double too_many(double n, double m)
{
    double chance = 1, count = 0;
    while (count < n && chance >= 0.005) {
        chance *= (n - count) / (n + m - count);
        count++;
    }
    return chance < 0.005 ? count : 0;
}

compare_change compare_max(const compare_steps *a, const compare_steps *b)
{
    double na = (double)a->calls, nb = (double)b->calls, many;
    compare_change change;
    if (!a->calls || !b->calls) return unknown(0, 0);
    change = unknown(time_at(a, na), time_at(b, nb));
    many = too_many(nb, na);
    if (many > 0) change.low = time_at(b, nb - many + 1) / time_at(a, na);
    many = too_many(na, nb);
    if (many > 0) change.high = time_at(b, nb) / time_at(a, na - many + 1);
    return change;
}

/* Returns Welch's interval of the difference of two figures, whose errors have the variances va and vb. */
static compare_change welch(double a, double va, double fa, double b, double vb, double fb)
{
    double both = va + vb, freedom = both > 0 ? both * both / (va * va / fa + vb * vb / fb) : 1e9;
    double margin = student(freedom) * root_of(both);
    compare_change change = unknown(a, b);
    if (!(a > 0)) return change;
    change.low = (b - margin) / a;
    change.high = (b + margin) / a;
    return change;
}

compare_change compare_total(double count_a, double mean_a, double deviation_a, double count_b, double mean_b,
                             double deviation_b, double dispersion)
{
    double a = count_a * mean_a, b = count_b * mean_b;
    if (count_a < 2 || count_b < 2) return unknown(a, b);
    return welch(a, dispersion * count_a * deviation_a * deviation_a * count_a / (count_a - 1), count_a - 1, b,
                 dispersion * count_b * deviation_b * deviation_b * count_b / (count_b - 1), count_b - 1);
}

/* Returns how much more the values of tenths vary than `expected`, a variance. At least 1. */
static double dispersion_of(const double *tenths, double expected)
{
    double mean = 0, squares = 0;
    size_t i;
    for (i = 0; i < TENTHS; i++) mean += tenths[i] / TENTHS;
    for (i = 0; i < TENTHS; i++) squares += (tenths[i] - mean) * (tenths[i] - mean);
    return expected > 0 && squares / (TENTHS - 1) > expected ? squares / (TENTHS - 1) / expected : 1;
}

double compare_dispersion(const compare_sample *sample, double limit)
{
    double counts[TENTHS], all = 0;
    size_t i, part;
    if (sample->count < TENTHS_FROM) return 1;
    sort_by_time(sample);
    for (part = 0; part < TENTHS; part++) {
        counts[part] = 0;
        for (i = sample->count * part / TENTHS; i < sample->count * (part + 1) / TENTHS; i++)
            counts[part] += sample->calls[i].ns > limit;
        all += counts[part];
    }
    return dispersion_of(counts, all / TENTHS);
}

double compare_mean_dispersion(const compare_sample *sample)
{
    double means[TENTHS], sum = 0, squares = 0, n = (double)sample->count;
    size_t i, part;
    if (sample->count < TENTHS_FROM) return 1;
    sort_by_time(sample);
    for (part = 0; part < TENTHS; part++) {
        size_t from = sample->count * part / TENTHS, to = sample->count * (part + 1) / TENTHS;
        means[part] = 0;
        for (i = from; i < to; i++) {
            means[part] += sample->calls[i].ns / (double)(to - from);
            sum += sample->calls[i].ns;
        }
    }
    for (i = 0; i < sample->count; i++) squares += (sample->calls[i].ns - sum / n) * (sample->calls[i].ns - sum / n);
    return dispersion_of(means, squares / n * TENTHS / n);
}

/*-- runs --*/

static double mean_of(const double *values, size_t count)
{
    double sum = 0;
    size_t i;
    for (i = 0; i < count; i++) sum += values[i];
    return sum / (double)count;
}

/* Returns the variance of a value. Returns 0 if there is only one value. */
static double variance_of(const double *values, size_t count)
{
    double mean = mean_of(values, count), squares = 0;
    size_t i;
    for (i = 0; i < count; i++) squares += (values[i] - mean) * (values[i] - mean);
    return count > 1 ? squares / (double)(count - 1) : 0;
}

static void make_positive(double *values, size_t count)
{
    size_t i;
    for (i = 0; i < count; i++)
        if (!(values[i] > 0)) values[i] = 0.25;
    sort(values, count);
}

compare_change compare_runs(double *a, size_t count_a, double *b, size_t count_b)
{
    double na = (double)count_a, nb = (double)count_b, va, vb;
    if (!count_a || !count_b) return unknown(0, 0);
    make_positive(a, count_a);
    make_positive(b, count_b);
    if (count_a >= 5 && count_b >= 5) return rank_change(a, count_a, b, count_b);
    if (count_a + count_b < 3) return unknown(a[0], b[0]);
    va = variance_of(a, count_a);
    vb = variance_of(b, count_b);
    if (count_a == 1) va = vb; /* a single run is taken to vary as the others do */
    if (count_b == 1) vb = va;
    if (count_a == 1 || count_b == 1) { /* the variance is known from one side only */
        double freedom = na + nb - 2;
        compare_change change = unknown(mean_of(a, count_a), mean_of(b, count_b));
        double margin = student(freedom) * root_of(va / na + vb / nb) / mean_of(a, count_a);
        change.low = change.ratio - margin;
        change.high = change.ratio + margin;
        return change;
    }
    return welch(mean_of(a, count_a), va / na, na - 1, mean_of(b, count_b), vb / nb, nb - 1);
}
