// report/percentiles: Histograms of durations, and their percentiles.
#ifndef PROF__REPORT_PERCENTILES_H
#define PROF__REPORT_PERCENTILES_H
#include "api/read.h"
#include "api/reports.h"
#include "api/values.h"
#include "ground/hash.h"
#include "ground/numbers.h"
#include "read/trace.h"

/*-- HISTOGRAMS ---------------------------------------------------------------------------------------- >>histograms --
   A histogram counts durations in steps. Each step below 128 ns is one nanosecond; above, a power of two has 64 steps.
   So the middle of a step is at most 1/128 off the duration. Memory is taken for those steps alone that have a
   count. */

typedef struct prof__step {
    uint64_t count;
    uint32_t number; /* the number of the step plus 1; 0: a free slot */
} prof__step;

typedef struct prof__histogram {
    prof__step *steps;       /* a hash table; the key is the number */
    size_t capacity, used;   /* capacity: 0 or a power of two */
} prof__histogram;

static uint32_t prof__step_of(uint64_t ns)
{
    unsigned shift = prof__log2(ns | 64) - 6;
    return shift * 64 + (uint32_t)(ns >> shift);
}

/* Returns the duration in the middle of a step. */
static uint64_t prof__step_value(uint32_t step)
{
    unsigned shift;
    if (step < 128) return step;
    shift = (step - 128) / 64 + 1;
    return ((uint64_t)(64 + (step - 128) % 64) << shift) + (((uint64_t)1 << shift) - 1) / 2;
}

/* Returns the range of durations of a step, and its count. */
static prof_bucket prof__step_bucket(const prof__step *step)
{
    uint32_t number = step->number - 1;
    unsigned shift = number < 128 ? 0 : (number - 128) / 64 + 1;
    prof_bucket bucket;
    bucket.from_ns = number < 128 ? number : (uint64_t)(64 + (number - 128) % 64) << shift;
    bucket.to_ns = bucket.from_ns + ((uint64_t)1 << shift);
    if (bucket.to_ns < bucket.from_ns) bucket.to_ns = ~(uint64_t)0;
    bucket.count = step->count;
    return bucket;
}

static prof__step *prof__step_find(const prof__histogram *h, uint32_t step)
{
    size_t at = step & (h->capacity - 1); /* no hash: fewer than 4000 steps exist, mostly adjacent ones */
    while (h->steps[at].number && h->steps[at].number != step + 1) at = (at + 1) & (h->capacity - 1);
    return &h->steps[at];
}

/* Adds to the count of a step, wherever the step is, or adds the step. Returns 0 without memory. */
static PROF__NOINLINE int prof__histogram_any(prof__histogram *h, uint32_t step, uint64_t count)
{
    prof__step *found;
    if (h->used >= h->capacity / 4 * 3) {
        prof__histogram larger;
        size_t i;
        larger.capacity = h->capacity ? h->capacity * 2 : 4;
        larger.used = h->used;
        larger.steps = (prof__step *)calloc(larger.capacity, sizeof *larger.steps);
        if (!larger.steps) return 0;
        for (i = 0; i < h->capacity; i++)
            if (h->steps[i].number) *prof__step_find(&larger, h->steps[i].number - 1) = h->steps[i];
        free(h->steps);
        *h = larger;
    }
    found = prof__step_find(h, step);
    h->used += !found->number;
    found->number = step + 1;
    found->count += count;
    return 1;
}

/* Adds to the count of a step. Fast if the step is in the slot of its hash. Returns 0 without memory. */
static inline int prof__histogram_add(prof__histogram *h, uint32_t step, uint64_t count)
{
    prof__step *found = h->capacity ? &h->steps[step & (h->capacity - 1)] : NULL;
    if (PROF__UNLIKELY(!found || found->number != step + 1)) return prof__histogram_any(h, step, count);
    found->count += count;
    return 1;
}

static int prof__step_order(const void *a, const void *b)
{
    const prof__step *x = (const prof__step *)a, *y = (const prof__step *)b;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* Computes the percentiles. A percentile is the least duration that the given share of all durations does not exceed.
   Sorts the steps. */
static void prof__percentiles(prof__histogram *h, uint64_t total, prof_stat *stat)
{
    static const unsigned thousandths[] = {500, 900, 990, 999};
    uint64_t *to[4], seen = 0;
    size_t i, next = 0;
    to[0] = &stat->p50_ns;
    to[1] = &stat->p90_ns;
    to[2] = &stat->p99_ns;
    to[3] = &stat->p999_ns;
    if (h->capacity) qsort(h->steps, h->capacity, sizeof *h->steps, prof__step_order);
    for (i = 0; i < h->capacity; i++) {
        uint64_t value = h->steps[i].number ? prof__step_value(h->steps[i].number - 1) : 0;
        if (value < stat->min_ns) value = stat->min_ns;
        if (value > stat->max_ns) value = stat->max_ns;
        seen += h->steps[i].count;
        for (; next < 4; next++) { /* seen >= total * share, rounded up; in two parts, so that nothing overflows */
            uint64_t rank = total / 1000 * thousandths[next] + (total % 1000 * thousandths[next] + 999) / 1000;
            if (seen < rank) break;
            *to[next] = value;
        }
    }
}

#endif /* PROF__REPORT_PERCENTILES_H */
