/* compare_read.c - reads a recording for prof compare. Keeps the statistics and the distribution of each scope, and a
   sample of its calls with their times. Closes the recording before the next one is opened. */
#include "tool.h"
#include "compare.h"
#include <stdlib.h>
#include <string.h>

/*-- entries --*/

/* Returns the key `before` with another line, "name TAB category TAB function". Tabs and line ends in the name become
   spaces. The caller frees it. */
static char *join(const char *before, const char *name, const prof_callsite *site)
{
    size_t start = strlen(before) + 1,
           size = start + strlen(name) + strlen(site->category) + strlen(site->function) + 3;
    char *key = (char *)malloc(size), *c;
    if (!key) return NULL;
    snprintf(key, size, "%s\n%s", before, name);
    for (c = key + start; *c; c++)
        if (*c == '\n' || *c == '\t') *c = ' ';
    snprintf(c, size - (size_t)(c - key), "\t%s\t%s", site->category, site->function);
    return key;
}

static int copy_steps(compare_steps *to, const prof_stat *stat)
{
    size_t i;
    to->steps = (compare_step *)malloc((stat->bucket_count + 1) * sizeof *to->steps);
    if (!to->steps) return 0;
    for (i = 0; i < stat->bucket_count; i++) {
        const prof_bucket *bucket = &stat->buckets[i];
        to->steps[i].ns = (double)bucket->from_ns + (double)(bucket->to_ns - bucket->from_ns - 1) / 2;
        to->steps[i].count = bucket->count;
    }
    if (i) to->steps[i - 1].ns = (double)stat->max_ns;
    to->count = i;
    to->calls = stat->count - stat->truncated;
    return 1;
}

static int make_entry(compare_recording *r, size_t number, const prof_stat *stat)
{
    compare_entry *e = &r->entries[number];
    e->key = join(stat->parent == PROF_NO_PARENT ? "" : r->entries[stat->parent].key, stat->name, stat->site);
    e->line = stat->site->line;
    e->order = number;
    e->stat.calls = (double)(stat->count - stat->truncated);
    e->stat.total_ns = (double)stat->total_ns;
    e->stat.p50_ns = (double)stat->p50_ns;
    e->stat.p99_ns = (double)stat->p99_ns;
    e->stat.max_ns = (double)stat->max_ns;
    e->stat.states_ns[PROF_STATE_UNKNOWN] = (double)stat->unknown_ns;
    e->stat.states_ns[PROF_STATE_RUNNING] = (double)stat->running_ns;
    e->stat.states_ns[PROF_STATE_READY] = (double)stat->ready_ns;
    e->stat.states_ns[PROF_STATE_WAITING] = (double)stat->waiting_ns;
    e->mean_ns = stat->mean_ns;
    e->deviation_ns = stat->deviation_ns;
    return e->key && copy_steps(&e->steps, stat);
}

/*-- samples --*/

typedef struct open_scope {
    size_t entry, depth;
    int64_t end_ns;
} open_scope;

/* A place in a hash table. */
typedef struct slot {
    uint64_t key; /* tool_key() */
    size_t entry; /* plus 1; 0: the place is free */
} slot;

/* Finds the entry of a scope by three things: call site, name, and the entry around it. */
typedef struct finder {
    compare_recording *recording;
    slot *slots;
    size_t mask;
    open_scope *open; /* the scopes around the present event */
    size_t depth, capacity;
    int by_path;
    uint64_t random;
    size_t max; /* how many calls a sample may have */
} finder;

/* Returns the place that has this entry, or the free one for it. */
static slot *slot_of(const finder *f, const prof_callsite *site, const char *name, size_t parent)
{
    uint64_t key = tool_key(site, name == site->name ? NULL : name, parent);
    size_t at = (size_t)key & f->mask;
    while (f->slots[at].entry && f->slots[at].key != key) at = (at + 1) & f->mask;
    f->slots[at].key = key;
    return &f->slots[at];
}

static int make_finder(finder *f, const prof_stat *stats, compare_recording *r, int by_path, size_t max)
{
    size_t i, size = 16;
    memset(f, 0, sizeof *f);
    while (size < r->count * 2) size *= 2;
    f->slots = (slot *)calloc(size, sizeof *f->slots);
    if (!f->slots) return 0;
    f->recording = r;
    f->mask = size - 1;
    f->by_path = by_path;
    f->max = max;
    for (i = 0; i < r->count; i++) slot_of(f, stats[i].site, stats[i].name, stats[i].parent)->entry = i + 1;
    return 1;
}

/* Returns the next number of a random sequence. The sequence is the same in each run. */
static uint64_t next_random(finder *f)
{
    uint64_t z = f->random += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

/* Makes room for more calls. The first time, there is room for as many as the statistics have counted: with 100,000
   scopes, more would be most of the memory. */
static int grow_sample(compare_entry *e, size_t max)
{
    size_t capacity = e->capacity ? e->capacity * 2 : e->steps.calls < max ? (size_t)e->steps.calls + 1 : max;
    compare_call *calls;
    if (capacity > max) capacity = max;
    calls = (compare_call *)realloc(e->sample.calls, capacity * sizeof *calls);
    if (!calls) return 0;
    e->sample.calls = calls;
    e->capacity = capacity;
    return 1;
}

/* Adds a call to the sample, such that each call has an equal chance to be in it. Returns 0 without memory. */
static int keep_call(finder *f, compare_entry *e, const prof_event *event)
{
    uint64_t at = e->seen++;
    if (at < f->max) {
        if (at == e->capacity && !grow_sample(e, f->max)) return 0;
        e->sample.count++;
    } else {
        at = next_random(f) % e->seen;
        if (at >= f->max) return 1;
    }
    e->sample.calls[at].start_ns = event->start_ns;
    e->sample.calls[at].ns = (double)event->duration_ns;
    return 1;
}

static int push(finder *f, size_t entry, const prof_event *event)
{
    if (f->depth == f->capacity) {
        size_t capacity = f->capacity ? f->capacity * 2 : 64;
        open_scope *open = (open_scope *)realloc(f->open, capacity * sizeof *open);
        if (!open) return 0;
        f->open = open;
        f->capacity = capacity;
    }
    f->open[f->depth].entry = entry;
    f->open[f->depth].depth = event->depth;
    f->open[f->depth++].end_ns = event->start_ns + event->duration_ns;
    return 1;
}

static int take_scope(finder *f, const prof_event *event)
{
    const char *name = event->site->name[0] ? event->site->name : event->name; /* groups as prof_stats() does */
    size_t parent, entry;
    while (f->depth && (f->open[f->depth - 1].depth >= event->depth || f->open[f->depth - 1].end_ns < event->start_ns))
        f->depth--;
    parent = f->by_path && f->depth ? f->open[f->depth - 1].entry : PROF_NO_PARENT;
    entry = slot_of(f, event->site, name, parent)->entry;
    if (!entry) return 1; /* recorded after the statistics were made */
    if (f->by_path && !push(f, entry - 1, event)) return 0;
    return event->flags || keep_call(f, &f->recording->entries[entry - 1], event);
}

static int take_track(finder *f, const prof_trace *trace, size_t track)
{
    prof_cursor *cursor;
    prof_event event;
    int good = 1;
    if (tool_status(prof_cursor_open(trace, track, &cursor))) return TOOL_ERROR;
    f->depth = 0;
    while (good && prof_cursor_next(cursor, &event))
        if (event.type == PROF_EVENT_SCOPE) good = take_scope(f, &event);
    prof_cursor_close(cursor);
    return good ? TOOL_OK : tool_fail("out of memory");
}

/* Makes up at most `max` calls for a recording of PROF_STATS, which has no calls: they are distributed as its
   histogram. */
static int sample_steps(compare_entry *e, size_t max)
{
    double share = (double)e->steps.calls / (double)max, wanted = 0;
    size_t i;
    if (e->sample.count || !e->steps.calls) return 1;
    e->sample.calls = (compare_call *)malloc(max * sizeof *e->sample.calls);
    if (!e->sample.calls) return 0;
    if (share < 1) share = 1;
    for (i = 0; i < e->steps.count; i++)
        for (wanted += (double)e->steps.steps[i].count / share; wanted >= 1 && e->sample.count < max; wanted--) {
            e->sample.calls[e->sample.count].start_ns = (int64_t)(e->sample.count * 7919 % max);
            e->sample.calls[e->sample.count++].ns = e->steps.steps[i].ns;
        }
    return 1;
}

static int take_samples(const prof_trace *trace, const prof_stat *stats, compare_recording *r, int by_path, size_t max)
{
    finder f;
    size_t i;
    int result = TOOL_OK;
    if (!make_finder(&f, stats, r, by_path, max)) return tool_fail("out of memory");
    for (i = 0; i < prof_trace_track_count(trace) && result == TOOL_OK; i++) result = take_track(&f, trace, i);
    for (i = 0; i < r->count && result == TOOL_OK; i++)
        if (!sample_steps(&r->entries[i], max)) result = tool_fail("out of memory");
    free(f.slots);
    free(f.open);
    return result;
}

/*-- a recording --*/

static int by_key(const void *a, const void *b)
{
    const compare_entry *x = (const compare_entry *)a, *y = (const compare_entry *)b;
    int order = strcmp(x->key, y->key);
    if (order) return order;
    if (x->line != y->line) return x->line < y->line ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

static int take_entries(const prof_trace *trace, int by_path, size_t max, compare_recording *r)
{
    prof_stat *stats = NULL;
    size_t count = 0, i;
    int result;
    prof_status status = by_path ? prof_stats_by_path(trace, PROF_SORT_NAME, 1, &stats, &count)
                                 : prof_stats(trace, PROF_SORT_NAME, 1, &stats, &count);
    if (tool_status(status)) return TOOL_ERROR;
    r->entries = (compare_entry *)calloc(count + 1, sizeof *r->entries);
    for (i = 0; r->entries && i < count; i++) { /* parents come before children */
        r->count = i + 1;
        if (!make_entry(r, i, &stats[i])) break;
    }
    result = r->entries && i == count ? take_samples(trace, stats, r, by_path, max) : tool_fail("out of memory");
    prof_stats_free(stats);
    if (result == TOOL_OK && count) qsort(r->entries, count, sizeof *r->entries, by_key);
    return result;
}

int compare_read(const char *path, int by_path, size_t max, const char *progress, compare_recording *recording)
{
    prof_trace *trace = tool_open(path);
    int result;
    if (!trace) return TOOL_ERROR;
    tool_progress_begin("compare", progress);
    prof_trace_set_progress(trace, tool_progress_step, NULL);
    result = take_entries(trace, by_path, max, recording);
    tool_progress_end();
    prof_trace_close(trace);
    return result;
}

void compare_read_free(compare_recording *recording)
{
    size_t i;
    for (i = 0; recording->entries && i < recording->count; i++) {
        free(recording->entries[i].key);
        free(recording->entries[i].steps.steps);
        free(recording->entries[i].sample.calls);
    }
    free(recording->entries);
}
