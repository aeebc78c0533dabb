// xplane/spans: Writes spans, locks and frames of handles, which may overlap, as asynchronous events.
#ifndef PROF__XPLANE_SPANS_H
#define PROF__XPLANE_SPANS_H
#include "api/read.h"
#include "api/types.h"
#include "display/locks.h"
#include "xplane/bytes.h"
#include "xplane/counters.h"
#include "xplane/events.h"
#include "xplane/names.h"
#include "xplane/state.h"
#include "xplane/stats.h"
#include "xplane/threads.h"

/*-- spans and locks, as XProf's asynchronous events: these have ids, and may overlap --*/

static void prof__xplane_async(prof__xplane *x, prof__xplane_kind kind, uint64_t number)
{
    uint64_t id = ((uint64_t)kind << 48 | (number & 0xFFFFFFFFFFFFu)) & 0xFFFFFFFFFFFFFFu; /* 56 bits */
    prof__xplane_put_int(x, &x->point, PROF__STAT_ASYNC, 1);
    prof__xplane_put_uint(x, &x->point, PROF__STAT_FLOW, id << 2 | 3); /* 3: the flow begins and ends here */
}

static void prof__xplane_span(prof__xplane *x, const prof_span *span, uint64_t number)
{
    prof__xplane_bytes *stats = &x->point;
    const char *name = span->name ? span->name : span->site->name;
    uint32_t id;
    stats->size = 0;
    id = name == span->site->name ? prof__xplane_site(x, span->site, PROF__XPLANE_SPAN)
                                  : prof__xplane_named(x, stats, span->site, name, PROF__XPLANE_SPAN);
    prof__xplane_async(x, PROF__XPLANE_SPANS, number);
    prof__xplane_stat_hex(x, stats, PROF__STAT_SPAN, span->id);
    prof__xplane_arg_list(x, stats, span->args, span->arg_count, 0);
    prof__xplane_truncated(x, stats, span->flags);
    if (span->end_track != span->begin_track)
        prof__xplane_put_uint(x, stats, PROF__STAT_ENDED, x->tracks[span->end_track].id);
    prof__xplane_emit(x, id, prof__xplane_time(span->start_ns), span->duration_ns, stats);
}

static void prof__xplane_handle_frame(prof__xplane *x, const prof_span *span)
{
    prof__xplane_bytes *stats = &x->point;
    stats->size = 0;
    prof__xplane_put_uint(x, stats, PROF__STAT_FRAME, span->number);
    prof__xplane_truncated(x, stats, span->flags);
    prof__xplane_emit(x, prof__xplane_site(x, span->site, PROF__XPLANE_FRAME), prof__xplane_time(span->start_ns),
                      span->duration_ns, stats);
}

static void prof__xplane_walk_spans(prof__xplane *x, const prof__xplane_line *line)
{
    prof_spans *spans = NULL;
    prof_span span;
    uint64_t number = 0;
    prof_status status = prof_spans_open(x->trace, &spans), closed;
    while (status == PROF_OK && x->status == PROF_OK && x->out.status == PROF_OK && prof_spans_next(spans, &span)) {
        int wanted = prof__xplane_in_window(x, span.start_ns, span.start_ns + span.duration_ns);
        number++;
        if (span.number && span.duration_ns && line->kind == PROF__XPLANE_SPANS)
            prof__xplane_frame_met(x, PROF__XPLANE_HANDLE, 0, span.site->name, span.id);
        if (!wanted) continue;
        if (line->kind == PROF__XPLANE_SPANS && !span.number) prof__xplane_span(x, &span, number);
        if (line->kind == PROF__XPLANE_HANDLE && span.number && span.duration_ns && span.id == line->id)
            prof__xplane_handle_frame(x, &span);
    }
    closed = prof_spans_close(spans);
    if (status || closed) x->status = status ? status : closed;
}

/* Writes a wait for a lock, or a hold of it. */
static void prof__xplane_lock(prof__xplane *x, const prof__lock_span *span)
{
    const char *thread = prof_trace_track(x->trace, span->track)->name, *what = span->held ? "lock " : "wait for ";
    prof__xplane_bytes *stats = &x->point;
    if (!prof__xplane_in_window(x, span->start, span->end) ||
        (uint64_t)(span->end - span->start) < x->options.min_duration_ns)
        return;
    x->joined.size = 0;
    prof__xplane_add(&x->joined, what, strlen(what));
    prof__xplane_add(&x->joined, span->name, strlen(span->name) + 1);
    if (x->joined.failed) return;
    stats->size = 0;
    prof__xplane_async(x, PROF__XPLANE_LOCKS, span->number);
    if (*thread)
        prof__xplane_stat_text(x, stats, PROF__XEVENT_STAT, PROF__STAT_THREAD, thread);
    else
        prof__xplane_put_uint(x, stats, PROF__STAT_THREAD, x->tracks[span->track].id);
    if (span->open) prof__xplane_truncated(x, stats, PROF_TRUNCATED_END);
    prof__xplane_emit(x, prof__xplane_named(x, NULL, NULL, (const char *)x->joined.data, PROF__XPLANE_LOCK),
                      prof__xplane_time(span->start), span->end - span->start, stats);
}

static void prof__xplane_walk_locks(prof__xplane *x)
{
    prof__lock_spans spans;
    prof__lock_span span;
    prof_status status;
    prof__lock_spans_open(&spans, x->trace, prof__xplane_has, x);
    while (x->status == PROF_OK && x->out.status == PROF_OK && prof__lock_spans_next(&spans, &span))
        prof__xplane_lock(x, &span);
    status = prof__lock_spans_close(&spans);
    if (status) x->status = status;
}

#endif /* PROF__XPLANE_SPANS_H */
