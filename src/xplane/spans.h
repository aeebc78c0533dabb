// xplane/spans: Writes spans, locks and frames of handles, which may overlap, as asynchronous events.
#ifndef PROF__XPLANE_SPANS_H
#define PROF__XPLANE_SPANS_H
#include "api/read.h"
#include "api/types.h"
#include "report/locks.h"
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

/* Writes a wait for a lock, or a hold of it. cut: 1: the end is missing. */
static void prof__xplane_lock(prof__xplane *x, const prof__locks *all, const prof__lock_user *user, int held,
                              int64_t start, int64_t end, int cut, uint64_t number)
{
    const char *name = all->rows[all->locks[user->lock].row].name,
               *thread = prof_trace_track(x->trace, user->track)->name;
    const char *what = held ? "lock " : "wait for ";
    prof__xplane_bytes *stats = &x->point;
    if (!prof__xplane_in_window(x, start, end) || (uint64_t)(end - start) < x->options.min_duration_ns) return;
    if (!held && user->scoped) return; /* this wait is shown as a scope */
    x->joined.size = 0;
    prof__xplane_add(&x->joined, what, strlen(what));
    prof__xplane_add(&x->joined, name, strlen(name) + 1);
    if (x->joined.failed) return;
    stats->size = 0;
    prof__xplane_async(x, PROF__XPLANE_LOCKS, number);
    if (*thread)
        prof__xplane_stat_text(x, stats, PROF__XEVENT_STAT, PROF__STAT_THREAD, thread);
    else
        prof__xplane_put_uint(x, stats, PROF__STAT_THREAD, x->tracks[user->track].id);
    if (cut) prof__xplane_truncated(x, stats, PROF_TRUNCATED_END);
    prof__xplane_emit(x, prof__xplane_named(x, NULL, NULL, (const char *)x->joined.data, PROF__XPLANE_LOCK),
                      prof__xplane_time(start), end - start, stats);
}

static void prof__xplane_walk_locks(prof__xplane *x)
{
    prof__locks all;
    prof_timeline *timeline = NULL;
    prof_event event;
    size_t track, i;
    uint64_t number = 0;
    int64_t end = prof__xplane_end(x->about);
    int good = prof__locks_open(&all, x->trace, 0);
    prof_status status = good ? prof__xplane_timeline(x, PROF__XPLANE_LOCKED, &timeline) : PROF_NO_MEMORY;
    while (status == PROF_OK && good && x->status == PROF_OK && x->out.status == PROF_OK &&
           prof_timeline_next(timeline, &event, &track)) {
        good = prof__locks_step(&all, &event, track);
        if (good && all.done.part != PROF__LOCK_NOTHING)
            prof__xplane_lock(x, &all, &all.users[all.done.user], all.done.part == PROF__LOCK_HELD, all.done.start,
                              all.done.end, 0, ++number);
    }
    for (i = 0; status == PROF_OK && good && i < all.user_count; i++) {
        const prof__lock_user *user = &all.users[i];
        if (user->depth && user->hold_ns <= end) prof__xplane_lock(x, &all, user, 1, user->hold_ns, end, 1, ++number);
        if (user->waits && user->wait_ns <= end) prof__xplane_lock(x, &all, user, 0, user->wait_ns, end, 1, ++number);
    }
    if (timeline && status == PROF_OK) status = prof_timeline_close(timeline);
    if (!good) status = PROF_NO_MEMORY;
    if (status) x->status = status;
    prof__locks_close(&all);
}

#endif /* PROF__XPLANE_SPANS_H */
