// report/stat_rows: Makes the rows of statistics from the events of a trace.
#ifndef PROF__REPORT_STAT_ROWS_H
#define PROF__REPORT_STAT_ROWS_H
#include "api/markup.h"
#include "api/read.h"
#include "api/reports.h"
#include "api/values.h"
#include "ground/errors.h"
#include "ground/hash.h"
#include "ground/numbers.h"
#include "ground/out.h"
#include "ground/utf8.h"
#include "read/clock.h"
#include "read/cursor.h"
#include "read/event.h"
#include "read/spans.h"
#include "read/states.h"
#include "read/trace.h"
#include "report/accumulator.h"

/*-- STATISTICS ---------------------------------------------------------------------------------------- >>statistics --
   The statistics of a trace are made in one pass over all tracks. */

/* A scope that encloses the present event. */
typedef struct prof__enclosing {
    size_t row;
    int64_t end, alone; /* end: its time; alone: its duration without its children, in ns */
    uint32_t depth;     /* the depth of its event; depths in between may be missing */
    int counts;         /* 0: a truncated scope, or one before the window: does not count */
} prof__enclosing;

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
    const prof_trace *states; /* the trace, if it has states of threads, else NULL */
    int64_t since;   /* events of the present track that ended by then do not count */
    size_t newest_count;
    uint64_t messages[PROF_LOG_FATAL + 1]; /* counts by severity; a severity not known counts as fatal */
    prof__message newest[PROF__NEWEST_MESSAGES]; /* the latest errors, the newest first */
} prof__stat_rows;

typedef struct prof__stat_row_key {
    uint64_t key; /* stands for the name and the parent, too */
    const prof_callsite *site;
    prof_event_type type;
} prof__stat_row_key;

static int prof__same_stat_row(const void *owner, size_t item, const void *key)
{
    const prof__stat_row *row = (const prof__stat_row *)owner + item;
    const prof__stat_row_key *wanted = (const prof__stat_row_key *)key;
    return row->key == wanted->key && row->type == wanted->type && row->stat.site == wanted->site;
}

/* named: the key of a name that was made at run time; 0: of others. */
static uint64_t prof__stat_row_mix(const prof_callsite *site, size_t parent, uint64_t named)
{
    return prof__mix_key(PROF__ADDRESS(site) + parent * 31, named);
}

/* Returns the number of the row that an event belongs to. Adds the row if it is new. Returns PROF__NONE without memory.
   named: prof__cursor_key(), or 0 if that is not known. */
static PROF__NOINLINE size_t prof__stat_row_find(prof__stat_rows *all, const prof_event *event, uint64_t named)
{
    prof__stat_row_key key;
    prof__stat_row *row;
    /* The scopes of a site with a format, as "job %d", share a row. Without a format, each run-time name has a row. */
    const char *name = event->site->name[0] ? event->site->name : event->name;
    int inside = all->by_path && all->depth && event->type == PROF_EVENT_SCOPE;
    size_t item, parent = inside ? all->stack[all->depth - 1].row : PROF_NO_PARENT;
    uint32_t hash;
    if (name == event->site->name) named = 0;
    else if (!named) named = prof__text_key(name);
    key.key = prof__stat_row_mix(event->site, parent, named);
    key.site = event->site;
    key.type = event->type;
    hash = (uint32_t)key.key;
    item = prof__read_find(&all->index, hash, prof__same_stat_row, all->items, &key);
    if (item != PROF__NONE) return item;
    item = PROF__NEW(all->index, hash, all->items, all->capacity, all->count);
    if (item == PROF__NONE) return item;
    row = &all->items[item];
    row->stat.name = name;
    if (name != event->site->name) { /* copies the text, which the cursor overwrites when it moves */
        row->text = prof__text_join(name, "");
        if (!row->text) return PROF__NONE;
        row->stat.name = row->text;
    }
    row->key = key.key;
    row->stat.site = event->site;
    row->stat.parent = parent;
    row->stat.depth = inside ? all->items[parent].stat.depth + 1 : 0;
    row->type = event->type;
    return item;
}

/* Returns the number of an event's row, as prof__stat_row_find() does. Fast for scopes with the name of their site. */
static inline size_t prof__stat_row_of(prof__stat_rows *all, const prof_event *event, uint64_t named)
{
    uint32_t *known;
    size_t item;
    if (!all->sites || event->type != PROF_EVENT_SCOPE || event->name != event->site->name)
        return prof__stat_row_find(all, event, named);
    known = &all->by_site[(const prof__read_site *)(const void *)event->site - all->sites];
    if (PROF__LIKELY(*known)) return *known - 1;
    item = prof__stat_row_find(all, event, 0);
    if (item < PROF__NONE32 - 1 && event->site->role != PROF_ROLE_THROUGHPUT) *known = (uint32_t)item + 1;
    return item;
}

/* Adds one PROFILE_THROUGHPUT. Its last argument with the key "bytes", or the site's unit, says how much it moved. */
static void prof__stat_row_throughput(prof__stat_row *row, const prof_event *event)
{
    const char *key = *event->site->unit ? event->site->unit : "bytes";
    uint32_t i = event->arg_count;
    while (i && strcmp(event->args[i - 1].key, key)) i--;
    if (i && event->args[i - 1].value.type == PROF_VALUE_UINT)
        prof__stat_row_bytes(row, event->args[i - 1].value.as.u, (double)event->duration_ns);
}

/* Begins a track in a row, when the first scope of the row comes on that track. */
static void prof__stat_row_enter_track(const prof__stat_rows *all, prof__stat_row *row)
{
    prof__stat_row_share(row);
    row->track = all->track;
    row->kept_ns = all->kept_ns;
    row->stat.threads++;
}

/* Counts a call of a scope. Must come before row->open is incremented: total_ns leaves out recursive calls. */
static inline void prof__stat_row_call(const prof__stat_rows *all, prof__stat_row *row, int64_t duration)
{
    if (PROF__UNLIKELY(row->track != all->track)) prof__stat_row_enter_track(all, row);
    row->stat.count++;
    if (!row->open) row->stat.total_ns += (uint64_t)duration;
}

/* Adds what the thread did in a time that counts in total_ns. */
static void prof__stat_row_split(prof__stat_row *row, const prof_split *split)
{
    row->stat.running_ns += split->running_ns;
    row->stat.ready_ns += split->ready_ns;
    row->stat.waiting_ns += split->waiting_ns;
    row->stat.switches += split->switches;
    row->stat.migrations += split->migrations;
}

/* Adds what the thread did in a scope or frame: most have neither states nor arguments. */
static void prof__stat_row_states(const prof__stat_rows *all, prof__stat_row *row, const prof_event *event)
{
    prof_split split;
    if (all->states) {
        prof__event_split(all->states, &all->states->tracks[all->track - 1], event, &split);
    } else {
        if (!event->arg_count || event->flags) return;
        memset(&split, 0, sizeof split);
        split.wall_ns = (uint64_t)event->duration_ns;
        prof__event_timed(event, &split);
    }
    prof__stat_row_split(row, &split);
}

/* Returns 1 if an enclosing scope has ended before a scope that begins now at this depth. The depth alone does not say
   it, because events may be missing. */
static inline int prof__stat_left(const prof__enclosing *scope, uint32_t depth, int64_t now)
{
    return scope->depth >= depth || scope->end < now;
}

static inline void prof__stat_rows_pop(prof__stat_rows *all, const prof__enclosing *scope)
{
    prof__stat_row *row = &all->items[scope->row];
    if (!scope->counts) return;
    row->open--;
    prof__stat_row_alone(row, scope->alone);
}

/* Leaves all open scopes that do not enclose a scope that begins now at this depth. */
static void prof__stat_rows_leave(prof__stat_rows *all, uint32_t depth, int64_t now)
{
    while (all->depth && prof__stat_left(&all->stack[all->depth - 1], depth, now))
        prof__stat_rows_pop(all, &all->stack[--all->depth]);
}

static inline void prof__stat_push(prof__enclosing *scope, size_t item, uint32_t depth, int64_t end, int64_t duration,
                                   int counts)
{
    scope->row = item;
    scope->depth = depth;
    scope->end = end;
    scope->alone = duration;
    scope->counts = counts;
}

/* Enters a scope of this row. Returns 0 without memory. */
static int prof__stat_rows_enter(prof__stat_rows *all, const prof_event *event, size_t item)
{
    int64_t end = event->start_ns + event->duration_ns;
    if (all->depth) all->stack[all->depth - 1].alone -= event->duration_ns;
    if (!PROF__ROOM(all->stack, all->stack_capacity, all->depth)) return 0;
    prof__stat_push(&all->stack[all->depth++], item, event->depth, end, event->duration_ns,
                    !event->flags && end > all->since);
    return 1;
}

static int prof__stat_rows_scope(prof__stat_rows *all, const prof_event *event, size_t item)
{
    prof__stat_row *row = &all->items[item];
    if (!prof__stat_rows_enter(all, event, item)) return 0;
    if (event->start_ns + event->duration_ns <= all->since) return 1;
    if (event->name != event->site->name) ++*(event->site->name[0] ? &all->uses.formats : &all->uses.texts);
    if (event->flags) {
        if (row->track != all->track) prof__stat_row_enter_track(all, row);
        row->stat.count++;
        row->stat.truncated++;
        return 1;
    }
    if (event->site->role == PROF_ROLE_THROUGHPUT) prof__stat_row_throughput(row, event);
    if (!row->open) prof__stat_row_states(all, row, event);
    prof__stat_row_call(all, row, event->duration_ns);
    row->open++;
    return prof__stat_row_time(row, (uint64_t)event->duration_ns, (uint64_t)event->duration_ns);
}

/* The row of an event is found in a table, and has a table of durations. prof__stat_rows_soon() begins to load the
   first of these three this many events before the event is counted, the others half and a quarter as many before. */
#define PROF__STAT_AHEAD 12
#define PROF__STAT_NEAR 256 /* so few rows are in the processor's caches anyway */

/* number: of the row, plus 1; 0: not known. */
static inline void prof__stat_row_soon(const prof__stat_rows *all, size_t number)
{
    const prof__stat_row *row = number ? &all->items[number - 1] : NULL;
    if (!row) return;
    PROF__SOON(&row->key);
    PROF__SOON(&row->stat.site);
    PROF__SOON(&row->stat.sum_ns);
}

static inline void prof__stat_steps_soon(const prof__stat_rows *all, size_t number)
{
    if (number) PROF__SOON(all->items[number - 1].histogram.steps);
}

/* Counts the next events of a track as prof__stat_rows_scope() does, as long as they are plain scopes with a known row.
   Most events are. A scope that encloses no other is not put on the stack. Returns 0 without memory. */
static PROF__NOINLINE int prof__stat_rows_plain(prof__stat_rows *all, prof_cursor *cursor)
{
    const prof__read_node *node = cursor->nodes + cursor->node, *end = cursor->nodes + cursor->node_count, *next;
    prof__enclosing *bottom = all->stack, *top, *full;
    int good = 1, beyond = all->count > PROF__STAT_NEAR;
    if (!all->sites || !bottom || cursor->windowed || all->states) return 1;
    top = bottom + all->depth;
    full = bottom + all->stack_capacity;
    for (; good && node < end && prof__read_plain(node); node = next) {
        size_t known = all->by_site[node->site];
        int64_t duration = node->end_ns - node->start_ns;
        prof__stat_row *row;
        if (!known || node->end_ns <= all->since || top == full) break;
        if (beyond && node + PROF__STAT_AHEAD < end) {
            prof__stat_row_soon(all, all->by_site[node[PROF__STAT_AHEAD].site]);
            prof__stat_steps_soon(all, all->by_site[node[PROF__STAT_AHEAD / 2].site]);
        }
        while (top != bottom && prof__stat_left(top - 1, node->depth, node->start_ns)) prof__stat_rows_pop(all, --top);
        if (top != bottom) top[-1].alone -= duration;
        row = &all->items[known - 1];
        prof__stat_row_call(all, row, duration);
        next = node + 1;
        if (next < end && next->depth <= node->depth && prof__read_plain(next)) {
            prof__stat_row_alone(row, duration);
        } else {
            row->open++;
            prof__stat_push(top++, known - 1, node->depth, node->end_ns, duration, 1);
        }
        good = prof__stat_row_time(row, (uint64_t)duration, (uint64_t)duration);
    }
    all->depth = (size_t)(top - bottom);
    cursor->node = (size_t)(node - cursor->nodes);
    return good;
}

/* Counts a log message, and keeps it if it is one of the latest errors. */
static void prof__stat_rows_message(prof__stat_rows *all, const prof_event *event)
{
    uint64_t severity = event->detail < PROF_LOG_FATAL ? event->detail : (uint64_t)PROF_LOG_FATAL;
    size_t at = all->newest_count, length = strlen(event->value.as.string), most = sizeof all->newest[0].text - 1;
    all->messages[severity]++;
    if (severity < PROF_LOG_ERROR) return;
    while (at && all->newest[at - 1].ns <= event->start_ns) at--;
    if (at == PROF__NEWEST_MESSAGES) return;
    if (all->newest_count < PROF__NEWEST_MESSAGES) all->newest_count++;
    memmove(all->newest + at + 1, all->newest + at, (all->newest_count - at - 1) * sizeof *all->newest);
    if (length > most) length = prof__utf8_cut(event->value.as.string, most);
    all->newest[at].ns = event->start_ns;
    all->newest[at].severity = event->detail;
    memcpy(all->newest[at].text, event->value.as.string, length);
    all->newest[at].text[length] = 0;
}

static void prof__stat_rows_use(prof__uses *uses, const prof_event *event)
{
    uses->values += event->arg_count;
    if (event->type >= PROF_EVENT_SPAN_BEGIN && event->type != PROF_EVENT_LOG)
        uses->objects++;
    else if (event->type != PROF_EVENT_LOST)
        uses->marks++;
}

static int prof__stat_rows_other(prof__stat_rows *all, const prof_event *event, uint64_t named)
{
    size_t item;
    prof__stat_row *row;
    double value;
    if (event->type == PROF_EVENT_LOG) prof__stat_rows_message(all, event);
    if (all->messages_only) return 1;
    if (event->start_ns > all->since) prof__stat_rows_use(&all->uses, event);
    if (event->type != PROF_EVENT_FRAME && event->type != PROF_EVENT_COUNTER) return 1;
    item = prof__stat_row_of(all, event, named);
    if (item == PROF__NONE) return 0;
    row = &all->items[item];
    if (event->type == PROF_EVENT_FRAME) { /* the first boundary of a track begins a frame and ends none */
        int begins = row->track != all->track;
        row->track = all->track;
        if (begins || event->start_ns <= all->since) return 1;
        row->stat.count++;
        prof__stat_row_states(all, row, event);
        return prof__stat_row_time(row, (uint64_t)event->duration_ns, (uint64_t)event->duration_ns);
    }
    if (event->start_ns <= all->since) return 1;
    value = event->value.type == PROF_VALUE_INT    ? (double)event->value.as.i
            : event->value.type == PROF_VALUE_UINT ? prof__real(event->value.as.u) : event->value.as.d;
    prof__stat_row_last(row, value, event->start_ns); /* tracks come one after another, so the times jump back */
    prof__stat_row_value(row, value);
    return 1;
}

static inline int prof__stat_rows_event(prof__stat_rows *all, const prof_event *event, uint64_t named)
{
    size_t item;
    if (event->type != PROF_EVENT_SCOPE || all->messages_only) return prof__stat_rows_other(all, event, named);
    if (event->start_ns > all->since) all->uses.values += (uint64_t)event->arg_count * 2;
    prof__stat_rows_leave(all, event->depth, event->start_ns);
    item = prof__stat_row_of(all, event, named);
    return item != PROF__NONE && prof__stat_rows_scope(all, event, item);
}

static void prof__stat_rows_free(prof__stat_rows *all)
{
    size_t i;
    for (i = 0; i < all->count; i++) {
        free(all->items[i].histogram.steps);
        free(all->items[i].text);
    }
    free(all->items);
    free(all->by_site);
    free(all->index.slots);
    free(all->stack);
    free(all->nested);
}

/* Returns when the trace ends, or its window. */
static int64_t prof__trace_end(const prof_trace_info *info)
{
    return info->to_ns && info->to_ns < info->duration_ns ? info->to_ns : info->duration_ns;
}

/* Returns how many nanoseconds the trace covers, or its window. */
static double prof__trace_span(const prof_trace_info *info)
{
    int64_t end = prof__trace_end(info);
    return end > info->from_ns ? (double)(end - info->from_ns) : 0;
}

/* Returns how many nanoseconds of that time are kept of a track. A ring keeps the time since its last overwritten
   event; other buffers keep all. */
static double prof__stat_kept(const prof_trace *trace, size_t track)
{
    const prof_trace_info *info = prof_trace_about(trace);
    int64_t from = info->from_ns, kept = prof_trace_track(trace, track)->kept_ns, to = prof__trace_end(info);
    if (from < kept) from = kept;
    if (trace->since && from < trace->since[track]) from = trace->since[track];
    return to > from ? (double)(to - from) : 0;
}

/* Returns the hash of the row of the event after `ahead` more, if that has a name made at run time, else 0. */
static inline uint32_t prof__stat_hash_ahead(const prof_cursor *cursor, size_t ahead)
{
    uint64_t named;
    const prof_callsite *site;
    if (!prof__cursor_ahead(cursor, ahead, &site, &named) || site->name[0]) return 0;
    return (uint32_t)prof__stat_row_mix(site, PROF_NO_PARENT, named);
}

static inline void prof__stat_rows_soon(const prof__stat_rows *all, const prof_cursor *cursor)
{
    uint32_t hash = prof__stat_hash_ahead(cursor, PROF__STAT_AHEAD);
    if (hash) prof__read_soon(&all->index, hash);
    hash = prof__stat_hash_ahead(cursor, PROF__STAT_AHEAD / 2);
    if (hash) prof__stat_row_soon(all, prof__read_guess(&all->index, hash) + 1); /* PROF__NONE + 1 is 0 */
    hash = prof__stat_hash_ahead(cursor, PROF__STAT_AHEAD / 4);
    if (hash) prof__stat_steps_soon(all, prof__read_guess(&all->index, hash) + 1);
}

static prof_status prof__stat_rows_track(prof__stat_rows *all, const prof_trace *trace, size_t track)
{
    prof_cursor *cursor;
    prof_event event;
    int good;
    prof_status status = prof_cursor_open(trace, track, &cursor);
    if (status != PROF_OK) return status;
    prof__cursor_keyed(cursor);
    all->since = trace->since ? trace->since[track] : INT64_MIN;
    all->states = trace->state_count ? trace : NULL;
    all->track = track + 1;
    all->kept_ns = prof__stat_kept(trace, track);
    while ((good = prof__stat_rows_plain(all, cursor)) != 0 && prof_cursor_next(cursor, &event) &&
           (good = prof__stat_rows_event(all, &event, prof__cursor_key(cursor))) != 0)
        if (!all->by_path) prof__stat_rows_soon(all, cursor);
    prof__stat_rows_leave(all, 0, 0);
    prof_cursor_close(cursor);
    return good ? PROF_OK : prof__no_memory("for the statistics");
}

/* Sets *ns to the span's time; of a task that begins and ends on one thread, to its time without the tasks inside it.
   Returns 0 without memory. */
static int prof__stat_rows_alone(prof__stat_rows *all, const prof_trace *trace, const prof_span *span, uint64_t *ns)
{
    *ns = (uint64_t)span->duration_ns;
    if (span->mark || span->flags || span->begin_track != span->end_track || span->site->role != PROF_ROLE_TASK)
        return 1;
    if (!all->nested) all->nested = (prof__nested *)calloc(prof_trace_track_count(trace), sizeof *all->nested);
    if (!all->nested) return 0;
    *ns = prof__nested_add(&all->nested[span->end_track], span->start_ns, *ns);
    return 1;
}

/* Adds the time of a scope that may overlap others of its thread. */
static void prof__stat_row_overlap(prof__stat_row *row, const prof_span *span, double kept_ns)
{
    prof__stat_row_share(row);
    row->kept_ns = kept_ns;
    row->stat.total_ns += (uint64_t)span->duration_ns;
    prof__stat_row_share(row);
}

static int prof__stat_rows_span(prof__stat_rows *all, const prof_trace *trace, const prof_span *span, uint64_t alone)
{
    prof_event event;
    prof__stat_row *row;
    size_t item;
    int scope = prof__span_of_scope(span->site), frame = !scope && span->site->role == PROF_ROLE_FRAME;
    memset(&event, 0, sizeof event);
    event.type = scope ? PROF_EVENT_SCOPE : frame ? PROF_EVENT_FRAME : PROF_EVENT_SPAN_BEGIN;
    event.name = span->name;
    event.site = span->site;
    item = prof__stat_row_of(all, &event, 0);
    if (item == PROF__NONE) return 0;
    row = &all->items[item];
    if (span->flags) {
        all->begins_missing += !scope && span->flags & PROF_TRUNCATED_BEGIN ? 1 : 0;
        all->ends_missing += !scope && span->flags & PROF_TRUNCATED_END ? 1 : 0;
        row->stat.count += !frame; /* a frame without its begin or end is not counted */
        row->stat.truncated += !frame;
        return 1;
    }
    row->stat.count++;
    if (scope) prof__stat_row_overlap(row, span, prof__stat_kept(trace, span->end_track));
    all->track = span->end_track + 1;
    if ((scope || frame) && all->states) {
        prof_split split;
        prof__states_split(trace, &trace->tracks[span->end_track], span->start_ns, span->start_ns + span->duration_ns,
                           &split);
        prof__stat_row_split(row, &split);
    }
    if (!frame) row->stat.self_ns += alone;
    return prof__stat_row_time(row, (uint64_t)span->duration_ns, (uint64_t)span->duration_ns);
}

static prof_status prof__stat_rows_spans(prof__stat_rows *all, const prof_trace *trace)
{
    prof_spans *spans;
    prof_span span;
    uint64_t alone;
    int good = 1;
    prof_status status = prof_spans_open(trace, &spans);
    if (status != PROF_OK) return status;
    while (good && prof_spans_next(spans, &span)) {
        int old = trace->since && span.start_ns + span.duration_ns <= trace->since[span.end_track];
        good = prof__stat_rows_alone(all, trace, &span, &alone) &&
               (span.mark || old || prof__stat_rows_span(all, trace, &span, alone));
    }
    status = prof_spans_close(spans);
    return good ? status : prof__no_memory("for the statistics");
}

#endif /* PROF__REPORT_STAT_ROWS_H */
