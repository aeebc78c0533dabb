// report/percentiles: Histograms and percentiles, and what a row of statistics keeps.
#ifndef PROF__REPORT_PERCENTILES_H
#define PROF__REPORT_PERCENTILES_H
#include "api/read.h"
#include "api/reports.h"
#include "ground/hash.h"
#include "ground/numbers.h"
#include "read/trace.h"

/*-- STATISTICS ---------------------------------------------------------------------------------------- >>statistics --
   One pass over all tracks. Durations are counted in a log-linear histogram: exact below 128 ns, then 64 steps for each
   power of two, so that the middle of a step is at most 1/128 off. Only steps that occur take memory. */

typedef struct prof__step {
    uint64_t count;
    uint32_t number; /* the number of the step, from 1; 0: free */
} prof__step;

typedef struct prof__histogram {
    prof__step *steps;       /* a hash table */
    size_t capacity, used;   /* capacity: 0 or a power of two */
} prof__histogram;

/* All statistics of one name at one call site. */
typedef struct prof__stat_row {
    prof_stat stat;
    char *text; /* owned: stat.name, if it was made at run time */
    prof_event_type type; /* SCOPE, FRAME, COUNTER, SPAN_BEGIN */
    double mean, squares; /* running mean, and sum of squared distances from it */
    uint64_t square_low, square_high; /* sum of the squared times, if they are added by prof__stat_row_time() */
    prof__histogram histogram;
    uint64_t track;             /* from 1: of the previous scope or frame */
    uint64_t before_ns;         /* scopes: stat.total_ns before that track; and how much of the track's time is kept: */
    double kept_ns;
    double low, high, last;     /* counters */
    double rate_squares;        /* of a throughput: as squares */
    int64_t to;                 /* counters: when it was last */
    uint64_t open;              /* scopes: how many of it enclose the present event */
    size_t child, sibling, place; /* by path: links of the tree, used while it is sorted */
} prof__stat_row;

/* A scope that encloses the present event. */
typedef struct prof__enclosing {
    size_t row;
    int64_t end, alone; /* alone: its time without its children */
    uint32_t depth;     /* of the event; events in between may be missing */
    int counts;         /* 0: truncated */
} prof__enclosing;

/* The times of tasks of one thread that have ended while no enclosing task has; the latest is last. */
#define PROF__NESTED 16
typedef struct prof__nested {
    int64_t start[PROF__NESTED];
    uint64_t ticks[PROF__NESTED];
    size_t count;
} prof__nested;

/* Adds a task that ends. Returns its time without the tasks inside it. There is one exception: if more than
   PROF__NESTED tasks wait for an enclosing one, and this begins between the oldest two, its time includes that of the
   older. */
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

/* Arrays come last, so that the offsets of the other fields fit into a byte of the code. */
typedef struct prof__stat_rows {
    prof__stat_row *items;
    size_t count, capacity;
    prof__read_index index;
    const prof__read_site *sites; /* of the trace; NULL: by_site is not used */
    uint32_t *by_site;            /* the row of a site's scopes, from 1; 0: not known */
    prof__enclosing *stack;
    size_t depth, stack_capacity;
    prof__nested *nested; /* of each track; NULL: no task yet */
    uint64_t begins_missing, ends_missing; /* of spans */
    prof__uses uses;
    int messages_only;
    int by_path;   /* 1: a row for each call path */
    uint64_t track;  /* the present one, from 1 */
    double kept_ns;  /* of its time: see prof__stat_kept() */
    int64_t since;   /* of the present track: only what ended later counts */
    size_t newest_count;
    uint64_t messages[PROF_LOG_FATAL + 1]; /* by severity; an unknown one counts as fatal */
    prof__message newest[PROF__NEWEST_MESSAGES]; /* errors, the latest first */
} prof__stat_rows;

static unsigned prof__log2(uint64_t value)
{
#ifdef __GNUC__
    return value ? 63 - (unsigned)__builtin_clzll(value) : 0;
#else
    unsigned bits = 0, step;
    for (step = 32; step; step /= 2)
        if (value >> step) {
            value >>= step;
            bits += step;
        }
    return bits;
#endif
}

static uint32_t prof__step_of(uint64_t ns)
{
    unsigned shift = prof__log2(ns | 64) - 6;
    return shift * 64 + (uint32_t)(ns >> shift);
}

/* Returns the middle of a step. */
static uint64_t prof__step_value(uint32_t step)
{
    unsigned shift;
    if (step < 128) return step;
    shift = (step - 128) / 64 + 1;
    return ((uint64_t)(64 + (step - 128) % 64) << shift) + (((uint64_t)1 << shift) - 1) / 2;
}

/* Returns the durations of a step. */
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
    size_t at = step & (h->capacity - 1); /* there are fewer than 4000 steps, most of them adjacent */
    while (h->steps[at].number && h->steps[at].number != step + 1) at = (at + 1) & (h->capacity - 1);
    return &h->steps[at];
}

/* Adds to the count of a step, which may be new. Returns 0 without memory. */
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

/* Does the same, faster if the step is in its place. */
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

/* Computes the percentiles: the smallest duration that this share of all does not exceed. Sorts the steps. */
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
        for (; next < 4; next++) { /* seen >= total * share, rounded up */
            uint64_t rank = total / 1000 * thousandths[next] + (total % 1000 * thousandths[next] + 999) / 1000;
            if (seen < rank) break;
            *to[next] = value;
        }
    }
}

/* Computes it by Newton's method, because libm would be one more library to link. */
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
