// chrome/spans: Writes spans.
#ifndef PROF__CHROME_SPANS_H
#define PROF__CHROME_SPANS_H
#include "api/read.h"
#include "api/types.h"
#include "api/values.h"
#include "ground/out.h"
#include "read/spans.h"
#include "chrome/api.h"
#include "chrome/args.h"
#include "chrome/frames.h"
#include "chrome/line.h"
#include "chrome/numbers.h"
#include "chrome/state.h"

/*-- spans --*/

/* Writes the line of a span without its arguments. start: as for prof__chrome_begin(). Viewers require spans with one
   id to nest, so each span has an id of its own. The id is local to the process: Perfetto shows spans with global ids
   above all processes. */
static void prof__chrome_span_line(prof__chrome *c, const char *start, const prof_event *event, uint32_t tid,
                                   int64_t ns)
{
    prof__chrome_ids ids;
    prof__chrome_make_ids(c, &ids, tid);
    prof__chrome_begin(c, &ids, event, start, ns);
    PROF__CHROME_LITERAL(&c->out, ",\"id2\":{\"local\":\"");
    prof__chrome_hex(&c->out, event->id);
    PROF__CHROME_LITERAL(&c->out, "\"}");
}

static int prof__chrome_has_arg(const prof_event *event, const char *key)
{
    uint32_t i;
    for (i = 0; i < event->arg_count; i++)
        if (!strcmp(event->args[i].key, key)) return 1;
    return 0;
}

/* Writes the arguments of a mark, or of a span's begin. The begin also gets those of the end, because viewers show one
   set of arguments for both. event: has the program's arguments. */
static void prof__chrome_span_args(prof__chrome *c, const prof_span *span, const prof_event *event)
{
    prof__out *out = &c->out;
    int count = 0;
    prof__chrome_key(out, &count, prof__chrome_has_arg(event, "id") ? "span id" : "id");
    PROF__CHROME_LITERAL(out, "\"");
    prof__chrome_hex(out, span->id);
    PROF__CHROME_LITERAL(out, "\"");
    if (span->mark || !prof__span_of_scope(span->site) || !c->options.no_args) prof__chrome_args(out, &count, event);
    prof__chrome_truncated(out, &count, span->flags);
    if (span->end_track != span->begin_track) {
        prof__chrome_key(out, &count, "ended on thread");
        prof__out_unsigned(out, c->threads[span->end_track].id);
    }
    if (c->options.source == PROF_CHROME_SOURCE_ARGS) prof__chrome_source_args(out, &count, span->site);
    PROF__CHROME_LITERAL(out, "}}");
}

static void prof__chrome_span(prof__chrome *c, prof__chrome_track *handles, const prof_span *span)
{
    uint32_t tid = c->threads[span->begin_track].id;
    int64_t start = prof__chrome_time(span->start_ns + c->offset);
    prof__chrome_frames *frames = NULL;
    prof_event event;
    memset(&event, 0, sizeof event);
    event.type = PROF_EVENT_SCOPE; /* a type that has a duration */
    event.name = span->name;
    event.site = span->site;
    event.start_ns = start;
    event.duration_ns = span->duration_ns;
    event.flags = span->flags;
    event.id = span->serial;
    event.args = span->args;
    event.arg_count = span->arg_count;
    if (!prof__chrome_wanted(c, &event)) return;
    if (span->number && !span->duration_ns) return;
    if (span->number) frames = prof__chrome_frame_track(c, handles, span->site->name, span->id, start);
    if (frames) {
        prof__chrome_frame_line(c, frames, &event, start, span->number);
        return;
    }
    if (span->mark && !span->serial) event.id = ~(uint64_t)0; /* the mark belongs to no span */
    prof__chrome_span_line(c, span->mark ? ",\n{\"ph\":\"n\"" : ",\n{\"ph\":\"b\"", &event, tid, start);
    prof__chrome_span_args(c, span, &event);
    if (span->mark) return;
    prof__chrome_span_line(c, ",\n{\"ph\":\"e\"", &event, tid, start + span->duration_ns);
    PROF__CHROME_LITERAL(&c->out, "}");
}

/* Writes all spans. handles: has the tracks for frames of prof_frame_create(). */
static void prof__chrome_spans(prof__chrome *c, prof__chrome_track *handles)
{
    prof_spans *spans = NULL;
    prof_span span;
    prof_status status = prof_spans_open(c->trace, &spans), closed;
    int all = !c->options.no_spans && !c->options.tracy;
    handles->frame_count = 0;
    while (c->out.status == PROF_OK && prof_spans_next(spans, &span))
        if (all || span.number || prof__span_of_scope(span.site)) prof__chrome_span(c, handles, &span);
    closed = prof_spans_close(spans);
    if (status || closed) prof__out_fail(&c->out, status ? status : closed);
}

#endif /* PROF__CHROME_SPANS_H */
