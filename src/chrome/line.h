// chrome/line: Writes the parts that lines have in common, and the scopes of a track.
#ifndef PROF__CHROME_LINE_H
#define PROF__CHROME_LINE_H
#include "api/options.h"
#include "api/read.h"
#include "ground/digits.h"
#include "ground/hash.h"
#include "ground/json.h"
#include "ground/out.h"
#include "read/cursor.h"
#include "read/event.h"
#include "display/tracks.h"
#include "chrome/args.h"
#include "chrome/numbers.h"
#include "chrome/state.h"
#include "chrome/text.h"

/*-- lines --*/

static void prof__chrome_make_ids(const prof__chrome *c, prof__chrome_ids *ids, uint32_t tid)
{
    size_t at = 7;
    memcpy(ids->text, ",\"pid\":", 7);
    at += prof__digits(ids->text + at, c->pid);
    memcpy(ids->text + at, ",\"tid\":", 7);
    at += 7;
    at += prof__digits(ids->text + at, tid);
    memcpy(ids->text + at, ",\"ts\":", 6);
    ids->size = at + 6;
}

/* Begins a line with a metadata event, up to where the value of its argument comes. */
static void prof__chrome_metadata(prof__chrome *c, const char *name, uint32_t tid, const char *key)
{
    prof__out *out = &c->out;
    PROF__CHROME_LITERAL(out, ",\n{\"ph\":\"M\",\"name\":\"");
    prof__out_text(out, name);
    PROF__CHROME_LITERAL(out, "\",\"cat\":\"__metadata\",\"pid\":");
    prof__out_unsigned(out, c->pid);
    PROF__CHROME_LITERAL(out, ",\"tid\":");
    prof__out_unsigned(out, tid);
    PROF__CHROME_LITERAL(out, ",\"ts\":0,\"args\":{\"");
    prof__out_text(out, key);
    PROF__CHROME_LITERAL(out, "\":");
}

static void prof__chrome_thread_name(prof__chrome *c, uint32_t tid, const char *prefix, const char *name)
{
    prof__chrome_metadata(c, "thread_name", tid, "name");
    PROF__CHROME_LITERAL(&c->out, "\"");
    prof__out_text(&c->out, prefix);
    prof__out_json(&c->out, *name ? name : "(unnamed)");
    PROF__CHROME_LITERAL(&c->out, "\"}}");
}

static void prof__chrome_sort_index(prof__chrome *c, uint32_t tid, int64_t index)
{
    prof__chrome_metadata(c, "thread_sort_index", tid, "sort_index");
    prof__out_signed(&c->out, index);
    PROF__CHROME_LITERAL(&c->out, "}}");
}

/* Writes the duration of the previous scope, which depends on the next event. start: when that begins, or INT64_MAX if
   there is none; name: the name of a scope, NULL for other events. */
static inline char *prof__chrome_close(prof__chrome_track *track, char *to, int64_t start, const char *name)
{
    int64_t end = track->scope.start + track->scope.duration;
    int touches = start <= end; /* the next event adjoins, or is inside: then a neighbour may come later */
    memcpy(to, ",\"dur\":", 8);
    to += 7;
    if (!track->scope.duration) {
        memcpy(to, "0.0001", 6);
        to += 6;
    } else if (start == end && name && (track->scope.name ? !strcmp(name, track->scope.name)
                                                          : prof__text_hash(name) == track->scope.hash)) {
        to = prof__chrome_microseconds(to, track->scope.duration - 1); /* adds 0.9 ns: otherwise speedscope takes the */
        *to++ = '9';                                                   /* next scope for an inner one */
    } else if (touches || track->scope.exact) {
        to = prof__chrome_exact_duration(to, track->scope.start, track->scope.duration, track->zero);
    } else {
        to = prof__chrome_microseconds(to, track->scope.duration);
    }
    *to = '}';
    track->scope.open = 0;
    return to + 1;
}

static void prof__chrome_close_last(prof__chrome *c, prof__chrome_track *track, int64_t start, const char *name)
{
    char *to = prof__out_reserve(&c->out, 64);
    if (track->scope.open) prof__out_commit(&c->out, (size_t)(prof__chrome_close(track, to, start, name) - to));
}

/* Writes a line up to the value of ts. start: the first 11 bytes, such as ,\n{"ph":"X"; to: the end of the text, with
   512 bytes reserved. That is more than a line has, because texts are copied in pieces of a fixed size. */
static inline char *prof__chrome_line(prof__chrome *c, char *to, const prof__chrome_ids *ids, const prof_callsite *site,
                                      const char *name, const char *start, int64_t ns)
{
    const prof__site_text *kept = prof__site_text_of(&c->sites, site);
    memcpy(to, start, 11);
    to += 11;
    if (PROF__LIKELY(prof__site_text_kept(kept) && name == site->name)) {
        to = prof__site_text_copy(to, prof__site_text_at(&c->sites, kept), kept->size);
    } else {
        prof__out_commit(&c->out, (size_t)(to - c->out.cursor));
        prof__chrome_describe(c, site, name);
        to = prof__out_reserve(&c->out, 128);
    }
    memcpy(to, ids->text, sizeof ids->text);
    return prof__chrome_stamp(c, to + ids->size, ns);
}

static void prof__chrome_begin(prof__chrome *c, const prof__chrome_ids *ids, const prof_event *event, const char *start,
                               int64_t ns)
{
    char *to = prof__out_reserve(&c->out, 512);
    to = prof__chrome_line(c, to, ids, event->site, event->name, start, ns);
    prof__out_commit(&c->out, (size_t)(to - c->out.cursor));
}

/* Writes the line of a scope up to its arguments. `to` is as for prof__chrome_line(). */
static inline char *prof__chrome_open(prof__chrome *c, char *to, prof__chrome_track *track, const prof_callsite *site,
                                      const char *name, int64_t start, int64_t duration, uint32_t depth)
{
    int64_t end = start + duration;
    if (track->origin < 0) {
        track->origin = start;
        track->zero = (double)start / 1e3;
    }
    track->scope.open = 1;
    track->scope.name = name == site->name ? name : NULL;
    track->scope.start = start;
    track->scope.duration = duration;
    track->scope.exact = depth > PROF__CHROME_DEPTH || (depth && track->ends[depth - 1] <= end);
    if (depth < PROF__CHROME_DEPTH) track->ends[depth] = end;
    return prof__chrome_line(c, to, &track->ids, site, name, ",\n{\"ph\":\"X\"", start);
}

static void prof__chrome_slice(prof__chrome *c, prof__chrome_track *track, const prof_event *event)
{
    char *to = prof__out_reserve(&c->out, 512);
    to = prof__chrome_open(c, to, track, event->site, event->name, prof__chrome_time(event->start_ns),
                           event->duration_ns, event->depth);
    prof__out_commit(&c->out, (size_t)(to - c->out.cursor));
    if (event->arg_count | event->flags | (uint32_t)c->options.source) prof__chrome_all_args(c, event);
    if (!track->scope.name) track->scope.hash = prof__text_hash(event->name);
}

/* Writes the next scopes of the track, as long as they are plain: without arguments and the like. */
static void prof__chrome_plain(prof__chrome *c, prof__chrome_track *track, prof_cursor *cursor)
{
    const prof_callsite *site;
    const prof__read_node *node;
    while ((node = prof__cursor_plain(cursor, &site)) != NULL) {
        int64_t start = node->start_ns + c->offset;
        char *to = prof__out_reserve(&c->out, 576);
        if (track->scope.open) to = prof__chrome_close(track, to, start, site->name);
        to = prof__chrome_open(c, to, track, site, site->name, prof__chrome_time(start), node->end_ns - node->start_ns,
                               node->depth);
        prof__out_commit(&c->out, (size_t)(to - c->out.cursor));
    }
}

static void prof__chrome_scope(prof__chrome *c, prof__chrome_track *track, const prof_event *event)
{
    if ((uint64_t)event->duration_ns >= c->options.min_duration_ns) prof__chrome_slice(c, track, event);
}

/* Returns 1 if an event lies in the window of the options, at least in part. */
static int prof__chrome_wanted(const prof__chrome *c, const prof_event *event)
{
    return prof__display_wanted(event, 0, c->options.from_ns, c->options.to_ns);
}

/* Returns 1 if a track of this part has events of a group. */
static int prof__chrome_has(const void *chrome, size_t track, unsigned group)
{
    return ((const prof__chrome *)chrome)->threads[track].groups >> group & 1;
}

static int prof__chrome_any(const prof__chrome *c, unsigned group)
{
    size_t i;
    for (i = 0; i < prof_trace_track_count(c->trace); i++)
        if (prof__chrome_has(c, i, group)) return 1;
    return 0;
}

/* Makes the following lines belong to the process of this track. */
static void prof__chrome_enter(prof__chrome *c, size_t index) { c->pid = c->threads[index].pid; }

/* Writes the key of a counter's sample. Perfetto shows the name of the event, a space and this key; so it is empty, but
   for Tracy, which knows nothing else of a counter. */
static void prof__chrome_series(prof__chrome *c, const char *what, const char *name)
{
    PROF__CHROME_LITERAL(&c->out, ",\"args\":{\"");
    if (c->options.tracy) {
        prof__out_text(&c->out, what);
        prof__out_json(&c->out, name);
    }
    PROF__CHROME_LITERAL(&c->out, "\":");
}

/* Writes a line about memory or a lock up to its time. The name of the event is `what` followed by `name`. */
static void prof__chrome_object_line(prof__chrome *c, const char *start, const char *what, const char *name)
{
    prof__out *out = &c->out;
    prof__out_text(out, start);
    PROF__CHROME_LITERAL(out, ",\"name\":\"");
    prof__out_text(out, what);
    prof__out_json(out, name);
    PROF__CHROME_LITERAL(out, "\"");
}

static void prof__chrome_object_time(prof__chrome *c, uint32_t tid, int64_t ns)
{
    prof__chrome_ids ids;
    prof__chrome_make_ids(c, &ids, tid);
    prof__out_bytes(&c->out, ids.text, ids.size);
    prof__chrome_ns(&c->out, prof__chrome_time(ns));
}

static int prof__chrome_in_window(const prof__chrome *c, int64_t start, int64_t end)
{
    return prof__display_in(start, end, c->options.from_ns, c->options.to_ns);
}

#endif /* PROF__CHROME_LINE_H */
