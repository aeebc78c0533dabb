// report/statistics: prof_stats() and its variants: make, sort and copy the rows of statistics, flat or as a tree.
#ifndef PROF__REPORT_STATISTICS_H
#define PROF__REPORT_STATISTICS_H
#include "api/read.h"
#include "api/reports.h"
#include "api/values.h"
#include "ground/errors.h"
#include "ground/hash.h"
#include "ground/numbers.h"
#include "read/clock.h"
#include "read/trace.h"
#include "report/accumulator.h"
#include "report/stat_rows.h"

static void prof__aggregated_free_rows(struct prof__stat_row *rows, size_t count)
{
    for (size_t i = 0; rows && i < count; i++) free(rows[i].histogram.steps);
    free(rows);
}

/* Copies the statistics that a recording in the mode PROF_STATS made itself. Returns 0 without memory. */
static int prof__stat_rows_copy(prof__stat_rows *all, const prof_trace *trace)
{
    all->items = (prof__stat_row *)malloc((trace->aggregated_count + 1) * sizeof *all->items);
    if (!all->items) return 0;
    for (; all->count < trace->aggregated_count; all->count++) {
        const prof__histogram *from = &trace->aggregated[all->count].histogram;
        prof__stat_row *to = &all->items[all->count];
        *to = trace->aggregated[all->count];
        to->stat.parent = PROF_NO_PARENT; /* PROF_STATS counts no call paths */
        to->histogram.steps = NULL;
        if (!from->capacity) continue;
        to->histogram.steps = (prof__step *)malloc(from->capacity * sizeof *from->steps);
        if (!to->histogram.steps) return 0;
        memcpy(to->histogram.steps, from->steps, from->capacity * sizeof *from->steps);
    }
    return 1;
}

/* Returns 1 if the statistics counted while recording answer the request: they have no call paths and no windows. */
static int prof__stat_rows_aggregated(const prof_trace *trace, int by_path)
{
    const prof_trace_info *info = prof_trace_about(trace);
    return trace->aggregated && (info->mode == PROF_STATS || (!by_path && !info->from_ns && !info->to_ns));
}

/* Makes the rows. Recording counts neither log messages nor what devices report, so these are counted from the
   events. */
static prof_status prof__stat_rows_take(prof__stat_rows *all, const prof_trace *trace)
{
    prof_status status = PROF_OK;
    double span = prof__trace_span(prof_trace_about(trace));
    if (!prof__stat_rows_copy(all, trace)) return prof__no_memory("for the statistics");
    all->capacity = trace->aggregated_count + 1;
    for (size_t i = 0; i < prof_trace_track_count(trace) && status == PROF_OK; i++) {
        all->messages_only = !*prof_trace_track(trace, i)->device;
        status = prof__stat_rows_track(all, trace, i);
    }
    for (size_t i = 0; i < all->count; i++) {
        prof_stat *stat = &all->items[i].stat;
        if (i >= trace->aggregated_count)
            prof__stat_row_finish(&all->items[i]);
        else if (all->items[i].type == PROF_EVENT_SCOPE && span > 0)
            stat->share = prof__real(stat->total_ns) / span;
    }
    all->begins_missing = trace->begins_missing;
    all->ends_missing = trace->ends_missing;
    all->uses = trace->uses;
    return status;
}

/* Makes the rows of a trace. The caller calls prof__stat_rows_free() afterwards, after a failure, too. */
static prof_status prof__stat_rows_make(const prof_trace *trace, int by_path, prof__stat_rows *all)
{
    prof_status status = PROF_OK;
    size_t i;
    memset(all, 0, sizeof *all);
    if (prof__stat_rows_aggregated(trace, by_path)) return prof__stat_rows_take(all, trace);
    all->by_path = by_path;
    if (!by_path) all->by_site = (uint32_t *)calloc(trace->site_count, sizeof *all->by_site);
    if (all->by_site) all->sites = trace->sites;
    for (i = 0; i < prof_trace_track_count(trace) && status == PROF_OK; i++)
        status = prof__stat_rows_track(all, trace, i);
    if (status == PROF_OK) status = prof__stat_rows_spans(all, trace);
    for (i = 0; i < all->count; i++) prof__stat_row_finish(&all->items[i]);
    return status;
}

/* A row and the value that it is sorted by. */
typedef struct prof__sorted {
    double key;     /* the least first; rows with equal keys by their names */
    uint64_t begin; /* of the name: eight bytes, which compare as the name does, and seldom leave it to the name */
    const char *name;
    const prof_stat *stat; /* of a row of prof__stat_rows.items */
} prof__sorted;

/* Returns the number of a sorted row, which is its index in items. */
static size_t prof__sorted_number(const prof__stat_rows *all, const prof__sorted *row)
{
    return (size_t)(PROF__ADDRESS(row->stat) - PROF__ADDRESS(&all->items->stat)) / sizeof *all->items;
}

static uint64_t prof__sorted_begin(const char *name)
{
    uint64_t begin = 0;
    unsigned i;
    for (i = 0; i < 8 && name[i]; i++) begin |= (uint64_t)(unsigned char)name[i] << (56 - 8 * i);
    return begin;
}

/* A row is shown soon: begins to load it. Sorted rows are all over memory. */
static inline void prof__sorted_soon(const prof__sorted *rows, size_t i, size_t count)
{
    const prof__sorted *row = &rows[i + 8 < count ? i + 8 : i];
    size_t at;
    PROF__SOON(row->name);
    for (at = 0; at < sizeof *row->stat; at += 64) PROF__SOON((const char *)row->stat + at);
}

static int prof__sorted_order(const void *a, const void *b)
{
    const prof__sorted *x = (const prof__sorted *)a, *y = (const prof__sorted *)b;
    int names;
    if (x->key < y->key || x->key > y->key) return x->key < y->key ? -1 : 1;
    if (x->begin != y->begin) return x->begin < y->begin ? -1 : 1;
    names = strcmp(x->name, y->name);
    if (names) return names;
    return x->stat < y->stat ? -1 : x->stat > y->stat;
}

static double prof__sort_key(const prof_stat *stat, prof_sort sort)
{
    switch ((int)sort) {
    case PROF_SORT_SELF: return prof__real(stat->self_ns);
    case PROF_SORT_CALLS: return prof__real(stat->count);
    case PROF_SORT_MEAN: return stat->mean_ns;
    case PROF_SORT_MIN: return prof__real(stat->min_ns);
    case PROF_SORT_MAX: return prof__real(stat->max_ns);
    case PROF_SORT_P99: return prof__real(stat->p99_ns);
    case PROF_SORT_NAME: return 0; /* all keys equal: rows with equal keys are sorted by name, from A to Z */
    default: return prof__real(stat->total_ns);
    }
}

/* Returns 1 for a row of this type that reports show: those of a running program may have none since a reset. */
static int prof__stat_shown(const prof__stat_rows *all, const prof__stat_row *row, prof_event_type type)
{
    return row->type == type && (row->stat.count || type == PROF_EVENT_FRAME || all->by_path);
}

/* Returns the rows of one type, sorted. The caller frees the array, which has at least one element. Returns NULL
   without memory. */
static prof__sorted *prof__sort(const prof__stat_rows *all, prof_event_type type, prof_sort sort, int ascending,
                                size_t *count)
{
    prof__sorted *sorted = (prof__sorted *)calloc(all->count + 1, sizeof *sorted);
    size_t i;
    *count = 0;
    for (i = 0; sorted && i < all->count; i++) {
        if (!prof__stat_shown(all, &all->items[i], type)) continue;
        sorted[*count].key = prof__sort_key(&all->items[i].stat, sort) * (ascending ? 1 : -1);
        sorted[*count].name = all->items[i].stat.name;
        sorted[*count].begin = prof__sorted_begin(sorted[*count].name);
        sorted[*count].stat = &all->items[i].stat;
        ++*count;
    }
    if (sorted) qsort(sorted, *count, sizeof *sorted, prof__sorted_order);
    return sorted;
}

/* Writes the buckets of a finished histogram, whose steps are sorted, to `to`. Returns the end of the buckets. */
static prof_bucket *prof__buckets(const prof__histogram *h, prof_bucket *to)
{
    for (size_t i = 0; i < h->capacity; i++)
        if (h->steps[i].number) *to++ = prof__step_bucket(&h->steps[i]);
    return to;
}

/* Allocates one block with the rows, then their buckets, then the names made at run time. Returns NULL without
   memory. */
static prof_stat *prof__stats_copy(const prof__stat_rows *all, const prof__sorted *sorted, size_t count)
{
    size_t size = (count + 1) * sizeof(prof_stat), buckets = 0, i;
    prof_stat *stats;
    prof_bucket *bucket;
    char *text;
    for (i = 0; i < count; i++) {
        if (sorted[i].stat->name != sorted[i].stat->site->name) size += strlen(sorted[i].stat->name) + 1;
        buckets += all->items[prof__sorted_number(all, &sorted[i])].histogram.used;
    }
    stats = (prof_stat *)calloc(1, size + buckets * sizeof *bucket);
    if (!stats) return NULL;
    bucket = (prof_bucket *)(void *)(stats + count + 1);
    text = (char *)(bucket + buckets);
    for (i = 0; i < count; i++) {
        stats[i] = *sorted[i].stat;
        stats[i].buckets = bucket;
        bucket = prof__buckets(&all->items[prof__sorted_number(all, &sorted[i])].histogram, bucket);
        stats[i].bucket_count = (size_t)(bucket - stats[i].buckets);
        if (stats[i].name == stats[i].site->name) continue;
        strcpy(text, stats[i].name);
        stats[i].name = text;
        text += strlen(text) + 1;
    }
    return stats;
}

/* Puts sorted rows into the order of the tree of calls. Keeps the first `top` rows (0: all) and their parents; moves
   the others behind them. Returns how many are kept. */
static size_t prof__sort_tree(prof__stat_rows *all, prof__sorted *rows, size_t count, size_t top)
{
    size_t i, at, root = PROF__NONE, kept = 0;
    for (i = 0; i < all->count; i++) all->items[i].child = all->items[i].sibling = all->items[i].place = PROF__NONE;
    for (i = 0; i < (top && top < count ? top : count); i++)
        for (at = prof__sorted_number(all, &rows[i]); at != PROF_NO_PARENT && all->items[at].place;
             at = all->items[at].stat.parent)
            all->items[at].place = 0; /* marks the row as kept */
    for (i = count; i--;) { /* from the last row on, because each is put before its siblings */
        prof__stat_row *row = &all->items[prof__sorted_number(all, &rows[i])];
        size_t *first = row->stat.parent == PROF_NO_PARENT ? &root : &all->items[row->stat.parent].child;
        if (row->place) continue;
        row->sibling = *first;
        *first = prof__sorted_number(all, &rows[i]);
    }
    for (at = root; at != PROF__NONE;) {
        prof__stat_row *row = &all->items[at];
        row->place = kept;
        rows[kept++].stat = &row->stat;
        if (row->child != PROF__NONE) {
            at = row->child;
            continue;
        }
        while (at != PROF_NO_PARENT && all->items[at].sibling == PROF__NONE) at = all->items[at].stat.parent;
        if (at != PROF_NO_PARENT) at = all->items[at].sibling;
    }
    for (i = kept, at = 0; i < count; at++) {
        if (all->items[at].type != PROF_EVENT_SCOPE || all->items[at].place != PROF__NONE) continue;
        rows[i++].stat = &all->items[at].stat;
    }
    return kept;
}

static prof_status prof__stats(const prof_trace *trace, prof_event_type type, int by_path, prof_sort sort,
                               int ascending, prof_stat **stats, size_t *count)
{
    prof__stat_rows all;
    prof__sorted *sorted = NULL;
    prof_status status;
    size_t i;
    if (!trace || !stats || !count)
        return prof__null("prof_stats", "trace, stats or count");
    *stats = NULL;
    *count = 0;
    status = prof__stat_rows_make(trace, by_path, &all);
    if (status == PROF_OK) {
        sorted = prof__sort(&all, type, sort, ascending, count);
        if (sorted && by_path) prof__sort_tree(&all, sorted, *count, 0);
        *stats = sorted ? prof__stats_copy(&all, sorted, *count) : NULL;
        if (!*stats) status = prof__no_memory("for the statistics");
    }
    if (status != PROF_OK) *count = 0;
    for (i = 0; i < *count; i++)
        if ((*stats)[i].parent != PROF_NO_PARENT) (*stats)[i].parent = all.items[(*stats)[i].parent].place;
    free(sorted);
    prof__stat_rows_free(&all);
    return status;
}

PROF_DEF prof_status prof_stats(const prof_trace *trace, prof_sort sort, int ascending, prof_stat **stats,
                                size_t *count)
{
    PROF__CALM();
    return prof__stats(trace, PROF_EVENT_SCOPE, 0, sort, ascending, stats, count);
}

PROF_DEF prof_status prof_span_stats(const prof_trace *trace, prof_sort sort, int ascending, prof_stat **stats,
                                     size_t *count)
{
    PROF__CALM();
    return prof__stats(trace, PROF_EVENT_SPAN_BEGIN, 0, sort, ascending, stats, count);
}

PROF_DEF prof_status prof_stats_by_path(const prof_trace *trace, prof_sort sort, int ascending, prof_stat **stats,
                                        size_t *count)
{
    PROF__CALM();
    return prof__stats(trace, PROF_EVENT_SCOPE, 1, sort, ascending, stats, count);
}

PROF_DEF void prof_stats_free(prof_stat *stats)
{
    free(stats);
}

#endif /* PROF__REPORT_STATISTICS_H */
