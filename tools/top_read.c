/* top_read.c - computes the figures of prof top for one period of a recording. prof_stats() cannot, because it leaves
   out the durations of scopes that a window cuts: no period would have a call that begins in another one. */
#include "top.h"
#include <stdlib.h>
#include <string.h>

/*-- rows --*/

static uint32_t hash_of(const prof_callsite *site, const char *text)
{
    uint32_t hash = tool_hash((uint32_t)((uintptr_t)site / sizeof *site) * 2654435761u, text ? text : "");
    return hash ^ hash >> 15;
}

static int grow(top_rows *rows)
{
    size_t count = rows->slot_count ? rows->slot_count * 2 : 256, i, at;
    size_t *slots = (size_t *)calloc(count, sizeof *slots);
    if (!slots) return 0;
    for (i = 0; i < rows->count; ++i) {
        at = hash_of(rows->items[i].site, rows->items[i].text) & (count - 1);
        while (slots[at]) at = (at + 1) & (count - 1);
        slots[at] = i + 1;
    }
    free(rows->slots);
    rows->slots = slots;
    rows->slot_count = count;
    return 1;
}

/* Adds a row, and puts it into a free slot. Returns NULL without memory. */
static top_row *add_row(top_rows *rows, size_t *slot, const prof_callsite *site, const char *text)
{
    top_row *row;
    if (rows->count == rows->capacity) {
        size_t capacity = rows->capacity ? rows->capacity * 2 : 64;
        row = (top_row *)realloc(rows->items, capacity * sizeof *row);
        if (!row) return NULL;
        rows->items = row;
        rows->capacity = capacity;
    }
    row = &rows->items[rows->count];
    memset(row, 0, sizeof *row);
    row->site = site;
    row->name = *site->name ? site->name : "(unnamed)";
    if (text) {
        size_t size = strlen(text) + 1;
        row->text = (char *)malloc(size);
        if (!row->text) return NULL;
        memcpy(row->text, text, size);
        row->name = row->text;
    }
    *slot = ++rows->count;
    return row;
}

/* Returns the row of an event. As in the statistics, that is the row of its call site or, if the site has no name, of
   the event's name. Returns NULL without memory. */
static top_row *find_row(top_rows *rows, const prof_callsite *site, const char *name)
{
    const char *text = *site->name || !*name ? NULL : name;
    size_t at;
    if (rows->count >= rows->slot_count / 2 && !grow(rows)) return NULL;
    at = hash_of(site, text) & (rows->slot_count - 1);
    for (; rows->slots[at]; at = (at + 1) & (rows->slot_count - 1)) {
        top_row *row = &rows->items[rows->slots[at] - 1];
        if (row->site == site && (text ? row->text && tool_same(row->text, text) : !row->text)) return row;
    }
    return add_row(rows, &rows->slots[at], site, text);
}

int top_add(top_rows *to, const top_rows *from)
{
    static const prof_callsite none = {"", "", "", "", 0, 0, 0, 0, 0, ""}; /* so rows have their names as texts */
    size_t i;
    for (i = 0; i < from->count; ++i) {
        const top_row *row = &from->items[i];
        top_row *sum = find_row(to, &none, row->name);
        if (!sum) return 0;
        sum->calls += row->calls;
        sum->timed += row->timed;
        sum->self_ns += row->self_ns;
        sum->total_ns += row->total_ns;
        sum->sum_ns += row->sum_ns;
        if (row->max_ns > sum->max_ns) sum->max_ns = row->max_ns;
    }
    return 1;
}

static double sort_key(const top_row *row, int by)
{
    switch (by) {
    case TOP_TOTAL: return (double)row->total_ns;
    case TOP_CALLS: return (double)row->calls;
    case TOP_MAX: return (double)row->max_ns;
    default: return (double)row->self_ns;
    }
}

static int sort_by;

static int row_order(const void *a, const void *b)
{
    const top_row *x = (const top_row *)a, *y = (const top_row *)b;
    double p = sort_key(x, sort_by), q = sort_key(y, sort_by);
    int names;
    if (p > q || p < q) return p > q ? -1 : 1;
    names = strcmp(x->name, y->name);
    if (names) return names;
    names = strcmp(x->site->file, y->site->file);
    return names ? names : x->site->line < y->site->line ? -1 : x->site->line > y->site->line;
}

void top_sort(top_rows *rows, int by)
{
    sort_by = by;
    if (rows->count > 1) qsort(rows->items, rows->count, sizeof *rows->items, row_order);
}

static void free_rows(top_rows *rows)
{
    size_t i;
    for (i = 0; i < rows->count; ++i) free(rows->items[i].text);
    free(rows->items);
    free(rows->slots);
}

void top_free(top_period *period)
{
    free_rows(&period->scopes);
    free_rows(&period->frames);
    memset(period, 0, sizeof *period);
}

/*-- tracks --*/

/* A scope that encloses the present event. */
typedef struct enclosing {
    size_t row;
    uint32_t depth;
    int64_t end_ns;
} enclosing;

typedef struct reading {
    const prof_trace *trace;
    top_period *period;
    enclosing *stack;
    size_t depth, capacity;
    int overlaps; /* 1: some scopes ended after a scope around them, and are read with the spans */
} reading;

static int64_t clip(const top_period *p, int64_t start_ns, int64_t end_ns)
{
    if (start_ns < p->from_ns) start_ns = p->from_ns;
    if (end_ns > p->to_ns) end_ns = p->to_ns;
    return end_ns > start_ns ? end_ns - start_ns : 0;
}

/* Adds a call that ended in the period. flags: whether its begin or its end is missing. */
static void add_call(top_row *row, int64_t ns, uint32_t flags)
{
    row->calls++;
    if (flags) return;
    row->timed++;
    row->sum_ns += ns;
    if (ns > row->max_ns) row->max_ns = ns;
}

static int push(reading *r, size_t row, uint32_t depth, int64_t end_ns)
{
    if (r->depth == r->capacity) {
        size_t capacity = r->capacity ? r->capacity * 2 : 64;
        enclosing *stack = (enclosing *)realloc(r->stack, capacity * sizeof *stack);
        if (!stack) return 0;
        r->stack = stack;
        r->capacity = capacity;
    }
    r->stack[r->depth].row = row;
    r->stack[r->depth].depth = depth;
    r->stack[r->depth++].end_ns = end_ns;
    return 1;
}

/* Closes all open scopes that do not enclose a scope that begins now at this depth. */
static void leave(reading *r, uint32_t depth, int64_t now_ns)
{
    while (r->depth && (r->stack[r->depth - 1].depth >= depth || r->stack[r->depth - 1].end_ns < now_ns))
        --r->period->scopes.items[r->stack[--r->depth].row].open;
}

/* Adds a scope. Returns 0 without memory. */
static int add_scope(reading *r, const prof_event *event)
{
    top_period *p = r->period;
    int64_t start = event->start_ns, end = start + event->duration_ns, inside;
    /* The window makes other scopes end before the trace does, so one that reaches the trace's end is open. */
    int open = event->flags & PROF_TRUNCATED_END && end >= prof_trace_about(r->trace)->duration_ns;
    top_row *row;
    if (open) end = p->to_ns;
    if (end < p->from_ns || start >= p->to_ns) return 1;
    leave(r, event->depth, start);
    row = find_row(&p->scopes, event->site, event->name);
    if (!row) return 0;
    inside = clip(p, start, end);
    row->self_ns += inside;
    if (!row->open++) row->total_ns += inside;
    if (!open && end < p->to_ns) add_call(row, event->duration_ns, event->flags);
    if (r->depth) p->scopes.items[r->stack[r->depth - 1].row].self_ns -= inside;
    return push(r, (size_t)(row - p->scopes.items), event->depth, end);
}

/* Adds an event of any type. Returns 0 without memory. */
static int add_event(reading *r, const prof_event *event, uint64_t *count)
{
    top_period *p = r->period;
    top_row *row;
    prof_span span;
    int here = event->start_ns >= p->from_ns && event->start_ns < p->to_ns;
    if (here && event->type != PROF_EVENT_LOST && !(event->flags & PROF_TRUNCATED_BEGIN)) ++*count;
    switch (event->type) {
    case PROF_EVENT_SCOPE: return add_scope(r, event);
    case PROF_EVENT_LOST:
        if (here) p->lost += event->value.as.u;
        return 1;
    case PROF_EVENT_FRAME:
        row = here ? find_row(&p->frames, event->site, event->name) : NULL;
        if (row) add_call(row, event->duration_ns, event->duration_ns ? event->flags : PROF_TRUNCATED_BEGIN);
        return !here || row;
    case PROF_EVENT_SPAN_BEGIN:
        span.site = event->site;
        r->overlaps |= tool_is_scope(&span);
        if (!here || event->site->role != PROF_ROLE_FRAME) return 1;
        row = find_row(&p->frames, event->site, event->name);
        if (row) add_call(row, 0, PROF_TRUNCATED_END); /* counts it: a frame's boundary has no duration here */
        return row != NULL;
    default: return 1;
    }
}

static int no_memory(void)
{
    return tool_fail("out of memory");
}

static int read_track(reading *r, size_t index)
{
    const prof_track *track = prof_trace_track(r->trace, index);
    prof_cursor *cursor;
    prof_event event;
    uint64_t count = 0;
    int good = 1;
    if (tool_status(prof_cursor_open(r->trace, index, &cursor))) return TOOL_ERROR;
    while (good && prof_cursor_next(cursor, &event) && event.start_ns < r->period->to_ns)
        good = add_event(r, &event, &count);
    leave(r, 0, 0);
    prof_cursor_close(cursor);
    r->period->events += count;
    r->period->tracks += !*track->device;
    r->period->active += !*track->device && count;
    return good ? TOOL_OK : no_memory();
}

/* Adds scopes that ended after a scope around them. They are outermost, as in the statistics. */
static int read_overlapping(reading *r)
{
    top_period *p = r->period;
    prof_spans *spans;
    prof_span span;
    int good = 1;
    if (tool_status(prof_spans_open(r->trace, &spans))) return TOOL_ERROR;
    while (good && prof_spans_next(spans, &span)) {
        int64_t end = span.start_ns + span.duration_ns, inside;
        top_row *row;
        if (span.mark || !tool_is_scope(&span) || end < p->from_ns || span.start_ns >= p->to_ns) continue;
        row = find_row(&p->scopes, span.site, span.name);
        good = row != NULL;
        if (!good) break;
        inside = clip(p, span.start_ns, end);
        row->self_ns += inside;
        row->total_ns += inside;
        if (end < p->to_ns && !(span.flags & PROF_TRUNCATED_END)) add_call(row, span.duration_ns, span.flags);
    }
    if (tool_status(prof_spans_close(spans))) return TOOL_ERROR;
    return good ? TOOL_OK : no_memory();
}

/* Finds out since when the buffer has events of the thread that records most. In a ring that has overwritten events,
   the period begins no earlier. */
static void find_held(reading *r)
{
    const prof_trace_info *info = prof_trace_about(r->trace);
    top_period *p = r->period;
    const prof_track *track;
    uint64_t max = 0;
    int64_t first = 0;
    size_t i;
    for (i = 0; (track = prof_trace_track(r->trace, i)) != NULL; ++i)
        if (!*track->device && track->event_count > max) max = track->event_count, first = track->first_ns;
    if (!info->overwritten_chunks) first = 0;
    if (first >= p->to_ns) first = p->to_ns - 1;
    p->held_ns = p->to_ns - first;
    p->asked_ns = p->from_ns;
    if (p->from_ns < first) p->from_ns = first;
}

int top_read(prof_trace *trace, int64_t from_ns, int64_t to_ns, top_period *period)
{
    reading r;
    size_t i, count = prof_trace_track_count(trace);
    int result;
    memset(&r, 0, sizeof r);
    memset(period, 0, sizeof *period);
    r.trace = trace;
    r.period = period;
    period->from_ns = from_ns > 0 ? from_ns : 0;
    period->to_ns = to_ns > period->from_ns ? to_ns : period->from_ns + 1;
    find_held(&r);
    result = tool_status(prof_trace_set_window(trace, 0, INT64_MAX)); /* cuts nothing, but shows open scopes */
    for (i = 0; i < count && result == TOOL_OK; ++i) result = read_track(&r, i);
    if (result == TOOL_OK && r.overlaps) result = read_overlapping(&r);
    free(r.stack);
    return result;
}

int top_read_track(prof_trace *trace, size_t track, top_period *period)
{
    reading r;
    int result;
    memset(&r, 0, sizeof r);
    memset(period, 0, sizeof *period);
    r.trace = trace;
    r.period = period;
    period->to_ns = INT64_MAX;
    result = read_track(&r, track);
    free(r.stack);
    return result;
}
