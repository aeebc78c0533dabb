// read/spans: Asynchronous spans: matches their begins and ends across all tracks.
#ifndef PROF__READ_SPANS_H
#define PROF__READ_SPANS_H
#include "api/markup.h"
#include "api/read.h"
#include "api/values.h"
#include "ground/errors.h"
#include "ground/hash.h"
#include "ground/out.h"
#include "read/timeline.h"
#include "read/trace.h"

/*-- spans --*/

/* The most ends whose begin may still come at the same time; each begin of that time is compared with all of them. */
#define PROF__LATE_MAX 1024

/* The begin or the end of a span. */
typedef struct prof__span_half {
    const char *name;  /* the call site's name, or text */
    char *text;        /* owned: a run-time name */
    prof_arg *copy;    /* owned: a copy of args, because the cursor moves on */
    const prof_arg *args;
    uint32_t arg_count;
    const prof_callsite *site;
    uint64_t id, detail, serial;
    int64_t ns;
    size_t track;
    uint32_t hash;
    size_t next;         /* the next older open begin of the same bucket, or the next free entry; PROF__NONE: none */
    size_t newer, older; /* open begins in order of time */
} prof__span_half;

struct prof_spans {
    const prof_trace *trace;
    prof_timeline *timeline; /* NULL: the trace has no spans */
    prof__span_half *halves; /* begins whose end has not come yet, and free entries */
    size_t count, capacity, free, newest, oldest, open;
    size_t *buckets, bucket_count; /* a power of two, or 0 */
    /* Ends without a begin, all of one time; another track may still have their begins at that time. */
    prof__span_half *late;
    size_t late_count, late_capacity, late_given;
    prof_event event; /* an event that was read and not handled yet */
    size_t track;
    int held;
    char *text; /* name and arguments of the span that was returned last, and the arguments of its begin and its end */
    prof_arg *args, *begin_args, *end_args;
    size_t arg_capacity;
    int64_t first_ns, from_ns, to_ns;
    prof_status status;
};

/* Opens an iterator over the spans of a trace. */
static prof_status prof__spans_make(const prof_trace *trace, prof_spans **spans)
{
    prof_spans *s;
    prof_status status = PROF_OK;
    size_t i;
    if (!trace || !spans) return prof__null("prof_spans_open", "trace or spans");
    *spans = NULL;
    s = (prof_spans *)calloc(1, sizeof *s);
    if (!s) return prof__no_memory("to read spans");
    s->trace = trace;
    s->free = s->newest = s->oldest = PROF__NONE;
    s->from_ns = trace->info.from_ns;
    s->to_ns = trace->info.to_ns ? trace->info.to_ns : INT64_MAX;
    for (i = 0; i < trace->track_count; i++)
        if (!i || trace->tracks[i].about.first_ns < s->first_ns) s->first_ns = trace->tracks[i].about.first_ns;
    if (trace->has_spans) status = prof_timeline_open(trace, &s->timeline);
    if (status != PROF_OK) {
        free(s);
        return status;
    }
    /* Reads outside the window, too, because spans may begin before it and end after it. */
    if (s->timeline) s->timeline->whole = 1;
    *spans = s;
    return PROF_OK;
}

PROF_DEF prof_status prof_spans_open(const prof_trace *trace, prof_spans **spans)
{
    return prof__spans_make(trace, spans);
}

static void prof__spans_fail(prof_spans *s)
{
    s->status = prof__fail(PROF_NO_MEMORY, "no memory for %lu open spans", (unsigned long)s->open);
}

/* Returns 1 if the call site is a scope's: the span is a scope that overlaps an enclosing one. Only its begin has the
   run-time name. */
static int prof__span_of_scope(const prof_callsite *site) { return site->kind == PROF__KIND_BEGIN; }

/* Returns 1 if this begin and this end can be of one span. */
static int prof__span_same(const prof__span_half *a, const prof__span_half *b)
{
    if (a->hash != b->hash || a->id != b->id) return 0;
    if (prof__span_of_scope(a->site) || prof__span_of_scope(b->site)) return a->site == b->site;
    return a->site->role == b->site->role && !strcmp(a->name, b->name);
}

/* Makes a begin or an end from an event, without copying its name. */
static void prof__span_make(const prof_event *event, size_t track, prof__span_half *half)
{
    memset(half, 0, sizeof *half);
    half->name = event->name;
    half->site = event->site;
    half->id = event->object;
    half->detail = event->detail;
    half->args = event->args;
    half->arg_count = event->arg_count;
    half->serial = event->id;
    half->ns = event->start_ns;
    half->track = track;
    half->hash = prof__text_hash(prof__span_of_scope(event->site) ? event->site->name : event->name) +
                 (uint32_t)prof__mix(event->object + event->site->role);
}

static size_t prof__arg_bytes(const prof_arg *arg)
{
    return strlen(arg->key) + 1 + (arg->value.type == PROF_VALUE_STRING ? strlen(arg->value.as.string) + 1 : 0);
}

/* Copies a text to *to, and moves *to behind it. */
static const char *prof__arg_text(char **to, const char *text)
{
    char *copy = *to;
    size_t size = strlen(text) + 1;
    memcpy(copy, text, size);
    *to += size;
    return copy;
}

/* Copies arguments with their texts into one block of memory. Returns NULL if there is no memory. */
static prof_arg *prof__args_copy(const prof_arg *args, uint32_t count)
{
    size_t size = count * sizeof *args;
    prof_arg *copy;
    char *text;
    uint32_t i;
    for (i = 0; i < count; i++) size += prof__arg_bytes(&args[i]);
    copy = (prof_arg *)malloc(size);
    if (!copy) return NULL;
    text = (char *)(copy + count);
    for (i = 0; i < count; i++) {
        copy[i] = args[i];
        copy[i].key = prof__arg_text(&text, args[i].key);
        if (args[i].value.type != PROF_VALUE_STRING) continue;
        copy[i].value.as.string = prof__arg_text(&text, args[i].value.as.string);
    }
    return copy;
}

static void prof__span_free(prof__span_half *half)
{
    free(half->text);
    free(half->copy);
}

/* Copies the texts and arguments that the cursor owns. If there is no memory, copies nothing and returns 0. */
static int prof__span_keep(prof_spans *s, prof__span_half *half)
{
    if (half->name != half->site->name) half->text = prof__text_join(half->name, "");
    if (half->arg_count) half->copy = prof__args_copy(half->args, half->arg_count);
    if ((half->name != half->site->name && !half->text) || (half->arg_count && !half->copy)) {
        prof__span_free(half);
        half->text = NULL;
        half->args = half->copy = NULL;
        half->arg_count = 0;
        half->name = "";
        prof__spans_fail(s);
        return 0;
    }
    if (half->text) half->name = half->text;
    if (half->copy) half->args = half->copy;
    return 1;
}

/* Returns the index of the newest open begin that this end closes, or PROF__NONE. */
static size_t prof__spans_find(const prof_spans *s, const prof__span_half *end)
{
    size_t at = s->bucket_count ? s->buckets[end->hash & (s->bucket_count - 1)] : PROF__NONE;
    while (at != PROF__NONE && !prof__span_same(&s->halves[at], end)) at = s->halves[at].next;
    return at;
}

static int prof__spans_spread(prof_spans *s)
{
    size_t count = s->bucket_count ? s->bucket_count * 2 : 64, at;
    size_t *buckets = (size_t *)malloc(count * sizeof *buckets);
    if (!buckets) return 0;
    for (at = 0; at < count; at++) buckets[at] = PROF__NONE;
    for (at = s->oldest; at != PROF__NONE; at = s->halves[at].newer) {
        s->halves[at].next = buckets[s->halves[at].hash & (count - 1)];
        buckets[s->halves[at].hash & (count - 1)] = at;
    }
    free(s->buckets);
    s->buckets = buckets;
    s->bucket_count = count;
    return 1;
}

/* Adds a begin to the open ones. */
static void prof__spans_add(prof_spans *s, const prof__span_half *begin)
{
    size_t at = s->free, *bucket;
    if ((s->open >= s->bucket_count && !prof__spans_spread(s)) ||
        (at == PROF__NONE && !PROF__ROOM(s->halves, s->capacity, s->count))) {
        prof__spans_fail(s);
        return;
    }
    if (at == PROF__NONE)
        at = s->count++;
    else
        s->free = s->halves[at].next;
    s->halves[at] = *begin;
    prof__span_keep(s, &s->halves[at]);
    bucket = &s->buckets[begin->hash & (s->bucket_count - 1)];
    s->halves[at].next = *bucket;
    *bucket = at;
    s->halves[at].older = s->newest;
    s->halves[at].newer = PROF__NONE;
    *(s->newest == PROF__NONE ? &s->oldest : &s->halves[s->newest].newer) = at;
    s->newest = at;
    s->open++;
}

/* Removes an open begin from the list and returns it. The caller owns its memory afterwards. */
static prof__span_half prof__spans_remove(prof_spans *s, size_t at)
{
    prof__span_half half = s->halves[at];
    size_t *link = &s->buckets[half.hash & (s->bucket_count - 1)];
    while (*link != at) link = &s->halves[*link].next;
    *link = half.next;
    *(half.newer == PROF__NONE ? &s->newest : &s->halves[half.newer].older) = half.older;
    *(half.older == PROF__NONE ? &s->oldest : &s->halves[half.older].newer) = half.newer;
    s->halves[at].next = s->free;
    s->free = at;
    s->open--;
    return half;
}

/* Joins the arguments of a begin and an end, one of which may be NULL. Takes over their memory. */
static void prof__spans_emit_args(prof_spans *s, const prof__span_half *begin, const prof__span_half *end,
                                  prof_span *span)
{
    uint32_t first = begin ? begin->arg_count : 0, count = first + (end ? end->arg_count : 0);
    free(s->begin_args);
    free(s->end_args);
    s->begin_args = begin ? begin->copy : NULL;
    s->end_args = end ? end->copy : NULL;
    while (s->arg_capacity < count)
        if (!prof__more_room(&s->args, &s->arg_capacity, sizeof *s->args)) {
            prof__spans_fail(s);
            return;
        }
    if (first) memcpy(s->args, begin->args, first * sizeof *s->args);
    if (count > first) memcpy(s->args + first, end->args, (count - first) * sizeof *s->args);
    span->args = s->args;
    span->arg_count = count;
}

/* Makes a span from a begin and an end, one of which may be NULL, and cuts it to the window. Returns 0 if it lies
   outside. Takes over their memory. */
static int prof__spans_emit(prof_spans *s, const prof__span_half *begin, const prof__span_half *end, prof_span *span)
{
    const prof__span_half *known = begin ? begin : end;
    int64_t start = begin ? begin->ns : s->first_ns, stop = end ? end->ns : s->trace->newest_ns;
    if (stop < start) stop = start; /* the window and the last known time may be in any order */
    free(s->text);
    s->text = known->text;
    memset(span, 0, sizeof *span);
    prof__spans_emit_args(s, begin, end, span);
    span->name = known->name;
    span->site = known->site;
    span->id = known->id;
    span->number = known->site->role == PROF_ROLE_FRAME ? known->detail : 0;
    span->serial = known->serial;
    span->begin_track = known->track;
    span->end_track = end ? end->track : known->track;
    if (!begin) span->flags = PROF_TRUNCATED_BEGIN;
    if (!end) span->flags |= PROF_TRUNCATED_END;
    if (start >= s->to_ns || stop < s->from_ns) return 0;
    if (start < s->from_ns) span->flags |= PROF_TRUNCATED_BEGIN;
    if (stop > s->to_ns) span->flags |= PROF_TRUNCATED_END;
    span->start_ns = start < s->from_ns ? s->from_ns : start;
    span->duration_ns = (stop > s->to_ns ? s->to_ns : stop) - span->start_ns;
    return 1;
}

/* Handles an event between the begin and the end of a span. Returns 1 if *span was set, 0 if the event is outside the
   window. */
static int prof__spans_mark(prof_spans *s, const prof__span_half *mark, prof_span *span)
{
    size_t around = prof__spans_find(s, mark);
    if (mark->ns < s->from_ns || mark->ns >= s->to_ns) return 0;
    free(s->text);
    s->text = NULL;
    memset(span, 0, sizeof *span);
    prof__spans_emit_args(s, mark, NULL, span);
    span->name = mark->name;
    span->site = mark->site;
    span->id = mark->id;
    span->mark = 1;
    span->serial = around == PROF__NONE ? 0 : s->halves[around].serial;
    span->start_ns = mark->ns;
    span->begin_track = span->end_track = mark->track;
    return 1;
}

/* Handles a begin. Matches it with an end that came before it at the same time; otherwise adds it to the open begins.
   Returns 1 if *span was set. */
static int prof__spans_begin(prof_spans *s, prof__span_half *begin, prof_span *span)
{
    size_t at = s->late_given;
    prof__span_half end, old;
    while (at < s->late_count && !prof__span_same(&s->late[at], begin)) at++;
    if (at < s->late_count) {
        end = s->late[at];
        memmove(&s->late[at], &s->late[at + 1], (--s->late_count - at) * sizeof end);
        begin->text = end.text;
        if (end.text) begin->name = end.text;
        return prof__spans_emit(s, begin, &end, span);
    }
    at = begin->site->role == PROF_ROLE_FRAME ? prof__spans_find(s, begin) : PROF__NONE;
    if (at == PROF__NONE) {
        prof__spans_add(s, begin);
        return 0;
    }
    old = prof__spans_remove(s, at); /* a frame that was not stopped ends where the next one begins */
    prof__spans_add(s, begin);
    begin->arg_count = 0; /* the arguments belong to the frame that begins */
    at = (size_t)prof__spans_emit(s, &old, begin, span);
    span->flags |= PROF_TRUNCATED_END;
    return (int)at;
}

/* Handles an end. Matches it with an open begin; otherwise keeps it, because its begin may follow at the same time.
   Returns 1 if *span was set. */
static int prof__spans_end(prof_spans *s, prof__span_half *end, prof_span *span)
{
    size_t at = prof__spans_find(s, end);
    if (at != PROF__NONE) {
        prof__span_half begin = prof__spans_remove(s, at);
        return prof__spans_emit(s, &begin, end, span);
    }
    if (!PROF__ROOM(s->late, s->late_capacity, s->late_count))
        prof__spans_fail(s);
    else if (prof__span_keep(s, end) && s->late_count - s->late_given == PROF__LATE_MAX)
        return prof__spans_emit(s, NULL, end, span);
    else if (s->status == PROF_OK)
        s->late[s->late_count++] = *end;
    return 0;
}

static int prof__spans_take(prof_spans *s, prof_span *span)
{
    prof__span_half half;
    prof__span_make(&s->event, s->track, &half);
    if (s->event.type == PROF_EVENT_SPAN_BEGIN) return prof__spans_begin(s, &half, span);
    if (s->event.type == PROF_EVENT_SPAN_END) return prof__spans_end(s, &half, span);
    return prof__spans_mark(s, &half, span);
}

PROF_DEF int prof_spans_next(prof_spans *spans, prof_span *span)
{
    prof_spans *s = spans;
    int given;
    if (!s || !span) return 0;
    while (s->status == PROF_OK) {
        if (!s->held) s->held = prof_timeline_next(s->timeline, &s->event, &s->track);
        if (s->late_count && (!s->held || s->event.start_ns > s->late[0].ns)) {
            given = prof__spans_emit(s, NULL, &s->late[s->late_given++], span);
            if (s->late_given == s->late_count) s->late_given = s->late_count = 0;
        } else if (s->held) {
            s->held = 0;
            given = prof__is_span(s->event.type) && prof__spans_take(s, span);
        } else if (s->oldest != PROF__NONE) {
            prof__span_half begin = prof__spans_remove(s, s->oldest);
            given = prof__spans_emit(s, &begin, NULL, span);
        } else {
            break;
        }
        if (given && s->status == PROF_OK) return 1;
    }
    memset(span, 0, sizeof *span);
    return 0;
}

static prof_status prof__spans_free(prof_spans *spans)
{
    prof_status status, read;
    size_t at;
    if (!spans) return PROF_OK;
    read = prof_timeline_close(spans->timeline);
    status = spans->status == PROF_OK ? read : spans->status;
    for (at = spans->oldest; at != PROF__NONE; at = spans->halves[at].newer) prof__span_free(&spans->halves[at]);
    for (at = spans->late_given; at < spans->late_count; at++) prof__span_free(&spans->late[at]);
    free(spans->text);
    free(spans->begin_args);
    free(spans->end_args);
    free(spans->args);
    free(spans->halves);
    free(spans->buckets);
    free(spans->late);
    free(spans);
    return status;
}

PROF_DEF prof_status prof_spans_close(prof_spans *spans) { return prof__spans_free(spans); }

static prof_status prof__trace_window(prof_trace *trace, int64_t from_ns, int64_t to_ns)
{
    if (!trace) return prof__null("prof_trace_set_window", "trace");
    if (from_ns < 0 || to_ns < 0 || (to_ns && to_ns <= from_ns))
        return prof__fail(PROF_INVALID_ARGUMENT, "prof_trace_set_window: to_ns must be later than from_ns, or 0");
    trace->info.from_ns = from_ns;
    trace->info.to_ns = to_ns;
    return PROF_OK;
}

PROF_DEF prof_status prof_trace_set_window(prof_trace *trace, int64_t from_ns, int64_t to_ns)
{
    return prof__trace_window(trace, from_ns, to_ns);
}

#endif /* PROF__READ_SPANS_H */
