// report/percentiles: Histograms of durations, their percentiles, and what is kept for each row of statistics.
#ifndef PROF__REPORT_PERCENTILES_H
#define PROF__REPORT_PERCENTILES_H
#include "api/read.h"
#include "api/reports.h"
#include "api/values.h"
#include "ground/hash.h"
#include "ground/numbers.h"
#include "read/trace.h"

/*-- STATISTICS ---------------------------------------------------------------------------------------- >>statistics --
   The statistics are made in one pass over all tracks. A histogram counts durations in steps. Each step below 128 ns is
   one nanosecond; above, a power of two has 64 steps. So the middle of a step is at most 1/128 off the duration. Memory
   is taken for those steps alone that have a count. */

typedef struct prof__step {
    uint64_t count;
    uint32_t number; /* the number of the step plus 1; 0: a free slot */
} prof__step;

typedef struct prof__histogram {
    prof__step *steps;       /* a hash table; the key is the number */
    size_t capacity, used;   /* capacity: 0 or a power of two */
} prof__histogram;

/* The statistics of one name at one call site. */
typedef struct prof__stat_row {
    prof_stat stat;
    char *text; /* owns stat.name if that was made at run time; else NULL */
    prof_event_type type; /* SCOPE, FRAME, COUNTER, SPAN_BEGIN */
    double mean, squares; /* of counters and merged rows: the mean so far, and the sum of squared distances from it */
    uint64_t square_low, square_high; /* sum of the squared times, 128 bits, from prof__stat_row_time() */
    prof__histogram histogram;
    uint64_t track;             /* the number of the track of the previous scope or frame, from 1 */
    uint64_t before_ns;         /* scopes: stat.total_ns when that track began; kept_ns: the time kept of the track */
    double kept_ns;
    double low, high, last;     /* counters: the least, greatest and last value */
    double rate_squares;        /* throughputs: sum of the squared distances from the mean rate */
    int64_t to;                 /* counters: the time of the last value */
    uint64_t open;              /* scopes: how many calls of this row enclose the present event */
    size_t child, sibling, place; /* by path: links of the tree; used while rows are sorted */
} prof__stat_row;

/* A scope that encloses the present event. */
typedef struct prof__enclosing {
    size_t row;
    int64_t end, alone; /* end: its time; alone: its duration without its children, in ns */
    uint32_t depth;     /* the depth of its event; depths in between may be missing */
    int counts;         /* 0: a truncated scope, or one before the window: does not count */
} prof__enclosing;

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

#define PROF__NEWEST_MESSAGES 5

/* A log message of severity PROF_LOG_ERROR or higher. */
typedef struct prof__message {
    int64_t ns;
    uint64_t severity;
    char text[120];
} prof__message;

/* The statistics of a trace. The arrays are the last fields, so that the offsets of the others fit into one byte of an
   instruction. */
typedef struct prof__stat_rows {
    prof__stat_row *items;
    size_t count, capacity;
    prof__read_index index;
    const prof__read_site *sites; /* the sites of the trace; NULL: by_site is not used */
    uint32_t *by_site;            /* of each site: the number of its scopes' row plus 1; 0: not known yet */
    prof__enclosing *stack;
    size_t depth, stack_capacity;
    prof__nested *nested; /* of each track; NULL before the first task */
    uint64_t begins_missing, ends_missing; /* how many spans lack their begin, and their end */
    prof__uses uses;
    int messages_only;
    int by_path;   /* 1: each call path has a row of its own; 0: each call site */
    uint64_t track;  /* the number of the present track, from 1 */
    double kept_ns;  /* how much of that track's time is kept: see prof__stat_kept() */
    int64_t since;   /* events of the present track that ended by then do not count */
    size_t newest_count;
    uint64_t messages[PROF_LOG_FATAL + 1]; /* counts by severity; a severity not known counts as fatal */
    prof__message newest[PROF__NEWEST_MESSAGES]; /* the latest errors, the newest first */
} prof__stat_rows;

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

typedef struct prof__stat_row_key {
    const char *name;
    const prof_callsite *site;
    prof_event_type type;
    size_t parent;
} prof__stat_row_key;

#endif /* PROF__REPORT_PERCENTILES_H */
