// layouts/rows: Makes the rows of a report out of statistics and live bytes, and sorts them.
#ifndef PROF__LAYOUTS_ROWS_H
#define PROF__LAYOUTS_ROWS_H
#include "api/read.h"
#include "api/reports.h"
#include "api/types.h"
#include "api/values.h"
#include "ground/hash.h"
#include "ground/numbers.h"
#include "ground/out.h"
#include "read/since.h"
#include "report/accumulator.h"
#include "report/allocations.h"
#include "report/allocations_walk.h"
#include "report/stat_rows.h"
#include "report/statistics.h"
#include "layouts/api.h"
#include "layouts/state.h"

/*-- rows --*/

typedef struct prof__report_key {
    const char *name, *category;
    prof_event_type type;
} prof__report_key;

static int prof__report_same(const void *owner, size_t item, const void *key)
{
    const prof__report_row *row = (const prof__report_row *)owner + item;
    const prof__report_key *wanted = (const prof__report_key *)key;
    return row->sums.type == wanted->type && !strcmp(row->sums.stat.name, wanted->name) &&
           !strcmp(row->category, wanted->category);
}

/* Returns the row of a name and category. Adds it if it is new. Returns NULL without memory. */
static prof__report_row *prof__report_row_of(prof__report *r, prof_event_type type, const char *category,
                                             const char *name)
{
    prof__report_key key;
    uint32_t hash = prof__text_hash(name) + 31 * prof__text_hash(category) + (uint32_t)type;
    prof__report_row *row;
    size_t item;
    key.name = name;
    key.category = category;
    key.type = type;
    item = prof__read_find(&r->index, hash, prof__report_same, r->rows, &key);
    if (item != PROF__NONE) return &r->rows[item];
    if (!PROF__ROOM(r->rows, r->capacity, r->count)) return NULL;
    row = &r->rows[r->count];
    memset(row, 0, sizeof *row);
    row->sums.text = prof__text_join(name, "");
    if (!row->sums.text || !prof__read_add(&r->index, hash, r->count)) {
        free(row->sums.text);
        return NULL;
    }
    row->sums.stat.name = row->sums.text;
    row->sums.type = type;
    row->category = category;
    r->count++;
    return row;
}

/* Returns the category of a row. In MXNet's layouts, each category has a table, and rows without a category are in the
   table "event". So the category "event" counts as none there. */
static const char *prof__report_category(const prof__report *r, const prof_callsite *site, prof_event_type type)
{
    int by_domain = r->options.layout == PROF_REPORT_MXNET || r->options.layout == PROF_REPORT_JSON;
    if (r->options.layout == PROF_REPORT_CNTK) return "";
    return by_domain && type != PROF_EVENT_FRAME && !strcmp(site->category, "event") ? "" : site->category;
}

/* Returns 1 for call sites of prof itself, whose functions alone begin with prof_. The profilers of MXNet and CNTK
   leave themselves out, so the reports in their layouts leave out prof. */
static int prof__report_is_prof(const prof__report *r, const prof_callsite *site)
{
    int theirs = r->options.layout == PROF_REPORT_MXNET || r->options.layout == PROF_REPORT_JSON ||
                 r->options.layout == PROF_REPORT_CNTK || r->options.layout == PROF_REPORT_CNTK_DETAIL;
    return theirs && (!strncmp(site->function, "prof__", 6) ||
                      (!strcmp(site->category, "prof") && !strncmp(site->function, "prof_", 5)));
}

static prof_status prof__report_stat_rows(prof__report *r)
{
    prof__stat_rows all;
    prof_status status = prof__stat_rows_make(r->trace, 0, &all);
    size_t i;
    for (i = 0; i < all.count && status == PROF_OK; i++) {
        const prof__stat_row *from = &all.items[i];
        prof_event_type type = from->type == PROF_EVENT_SPAN_BEGIN ? PROF_EVENT_SCOPE : from->type;
        prof__report_row *row;
        if (!from->stat.count || prof__report_is_prof(r, from->stat.site)) continue;
        row = prof__report_row_of(r, type, prof__report_category(r, from->stat.site, type), from->stat.name);
        if (!row || !prof__stat_row_add(&row->sums, from)) status = prof__report_no_memory();
        else if (!row->sums.stat.site) row->sums.stat.site = from->stat.site; /* has the unit of what was moved */
    }
    prof__stat_rows_free(&all);
    return status;
}

static int prof__report_after(const prof__report *r, size_t track, int64_t ns)
{
    return prof__trace_counts(r->trace, track, ns);
}

/*-- live bytes of pools, as in MXNet's table "Device Storage" --*/

enum { PROF__REPORT_POOL_NEW = 0, PROF__REPORT_POOL_TAKEN, PROF__REPORT_POOL_ROW }; /* TAKEN: the name is a counter's */

/* Adds a sample of a pool's live bytes. *state: one of the values above. Returns 0 without memory. */
static int prof__report_pool_sample(prof__report *r, const prof_memory_row *pool, int64_t ns, unsigned char *state)
{
    char *name = prof__text_join("Memory: ", *pool->pool ? pool->pool : "cpu/0");
    prof__report_row *row = name ? prof__report_row_of(r, PROF_EVENT_COUNTER, "Device Storage", name) : NULL;
    prof__stat_row sample;
    free(name);
    if (!row) return 0;
    if (*state == PROF__REPORT_POOL_NEW)
        *state = row->sums.stat.count ? PROF__REPORT_POOL_TAKEN : PROF__REPORT_POOL_ROW;
    if (*state == PROF__REPORT_POOL_TAKEN) return 1;
    memset(&sample, 0, sizeof sample);
    sample.type = PROF_EVENT_COUNTER;
    sample.stat.count = 1;
    sample.low = sample.high = sample.last = sample.mean = (double)pool->live_bytes;
    sample.to = ns;
    return prof__stat_row_add(&row->sums, &sample);
}

/* Adds a sample for each change of live bytes since the last reset. Returns 0 without memory. */
static int prof__report_pools_walk(prof__report *r, prof__heap *heap)
{
    unsigned char *states = NULL;
    size_t track, had = 0, capacity = 0;
    prof_event event;
    int good = 1;
    while (good && prof__heap_next(heap, &event, &track)) {
        if (!prof__heap_step(heap, &event, track) || heap->changed == PROF__NONE ||
            !prof__report_after(r, track, event.start_ns))
            continue;
        for (; good && had <= heap->changed; had++) {
            good = PROF__ROOM(states, capacity, had);
            if (good) states[had] = PROF__REPORT_POOL_NEW;
        }
        if (good)
            good = prof__report_pool_sample(r, &heap->rows[heap->changed].about, event.start_ns,
                                            &states[heap->changed]);
    }
    free(states);
    return good;
}

static prof_status prof__report_pools(prof__report *r)
{
    prof__heap heap;
    prof_status status;
    int good;
    if (r->options.layout != PROF_REPORT_MXNET && r->options.layout != PROF_REPORT_JSON) return PROF_OK;
    if (prof__trace_aggregated(r->trace) || !prof__has_role(r->trace, PROF_ROLE_MEMORY)) return PROF_OK;
    prof__heap_open(&heap, r->trace, NULL, NULL);
    good = prof__report_pools_walk(r, &heap);
    status = prof__heap_close(&heap);
    return good ? status : prof__report_no_memory();
}

/*-- making, sorting, freeing --*/

/* Returns the value that a row is sorted by. Times are in microseconds, because MXNet compares them with values of
   counters. NaN becomes a value below all others. */
static double prof__report_sort_key(const prof__report_row *row, prof_sort sort)
{
    const prof__stat_row *sums = &row->sums;
    double key, least = -1.7976931348623157e308;
    if (sums->type != PROF_EVENT_COUNTER)
        return prof__sort_key(&sums->stat, sort) / (sort == PROF_SORT_CALLS ? 1 : 1e3);
    switch ((int)sort) {
    case PROF_SORT_CALLS: return (double)sums->stat.count;
    case PROF_SORT_MEAN: key = sums->mean; break;
    case PROF_SORT_MIN: key = sums->low; break;
    case PROF_SORT_MAX:
    case PROF_SORT_P99: key = sums->high; break;
    case PROF_SORT_NAME: return 0;
    default: key = sums->last; break;
    }
    return prof__nan(key) ? least : key;
}

/* Returns the begin of the category's name in MXNet, and sets *more to the rest of it. */
static const char *prof__report_domain(const prof__report_row *row, const char **more)
{
    int frame = row->sums.type == PROF_EVENT_FRAME;
    *more = !frame ? "" : row->category[0] ? ",frame" : "frame";
    return row->category[0] || frame ? row->category : "event";
}

/* Compares two names, each of which has two parts: a followed by a2, and b followed by b2. */
static int prof__report_joined_order(const char *a, const char *a2, const char *b, const char *b2)
{
    for (;; a++, b++) {
        if (!*a && *a2) a = a2, a2 = "";
        if (!*b && *b2) b = b2, b2 = "";
        if (*a != *b || !*a) return (unsigned char)*a - (unsigned char)*b;
    }
}

static int prof__report_domain_order(const prof__report_row *x, const prof__report_row *y)
{
    const char *more_x, *more_y, *a = prof__report_domain(x, &more_x), *b = prof__report_domain(y, &more_y);
    return prof__report_joined_order(a, more_x, b, more_y);
}

/* Orders rows by key, and then by name. Ignores categories. */
static int prof__report_order(const void *a, const void *b)
{
    const prof__report_row *x = (const prof__report_row *)a, *y = (const prof__report_row *)b;
    int names = strcmp(x->sums.stat.name, y->sums.stat.name);
    if (x->key < y->key || x->key > y->key) return (x->key < y->key) == x->ascending ? -1 : 1;
    if (!names) names = prof__report_domain_order(x, y);
    if (!names) names = (int)x->sums.type - (int)y->sums.type;
    return x->sort == PROF_SORT_NAME ? names : -names;
}

static int prof__report_table_order(const void *a, const void *b)
{
    int domains = prof__report_domain_order((const prof__report_row *)a, (const prof__report_row *)b);
    return domains ? domains : prof__report_order(a, b);
}

static prof_status prof__report_rows(prof__report *r)
{
    prof_status status = prof__report_stat_rows(r);
    size_t i;
    if (status == PROF_OK) status = prof__report_pools(r);
    for (i = 0; i < r->count; i++) {
        prof__report_row *row = &r->rows[i];
        if (row->sums.type != PROF_EVENT_COUNTER) prof__stat_row_finish(&row->sums);
        row->key = prof__report_sort_key(row, r->options.sort);
        row->sort = r->options.sort;
        row->ascending = !!r->options.ascending;
    }
    return status;
}

static void prof__report_sort(prof__report *r, int (*order)(const void *, const void *))
{
    if (r->count) qsort(r->rows, r->count, sizeof *r->rows, order);
}

static void prof__report_clear(prof__report *r)
{
    size_t i;
    for (i = 0; i < r->count; i++) {
        free(r->rows[i].sums.text);
        free(r->rows[i].sums.histogram.steps);
    }
    free(r->rows);
    free(r->index.slots);
}

/* Returns how many calls of a row have a known duration. */
static uint64_t prof__report_measured(const prof__report_row *row)
{
    return row->sums.stat.count - row->sums.stat.truncated;
}

#endif /* PROF__LAYOUTS_ROWS_H */
