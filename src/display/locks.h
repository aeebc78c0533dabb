// display/locks: Waits for locks and holds of them, as spans, in the order of their ends.
#ifndef PROF__DISPLAY_LOCKS_H
#define PROF__DISPLAY_LOCKS_H
#include "api/read.h"
#include "api/types.h"
#include "api/values.h"
#include "read/timeline.h"
#include "report/locks.h"

/*-- waits for locks, and holds --*/

typedef struct prof__lock_span {
    const char *name;
    uint64_t lock;   /* the address */
    uint64_t number; /* from 1; counts those spans, too, that are left out */
    size_t track;
    int64_t start, end;
    int held;   /* 1: a hold; 0: a wait */
    int shared; /* 1: other threads may have held the lock at the same time */
    int open;   /* 1: no end was recorded: it ends with the trace */
} prof__lock_span;

typedef struct prof__lock_spans {
    prof__locks all;
    int64_t end;     /* of the trace */
    uint64_t number; /* of the last span */
    size_t rest;     /* after the last event: how many waits and holds were looked at; each user may have one of both */
} prof__lock_spans;

/* has: see prof__timeline_of(). prof__lock_spans_close() must follow in any case. */
static void prof__lock_spans_open(prof__lock_spans *spans, const prof_trace *trace, prof__has_group *has,
                                  const void *user)
{
    const prof_trace_info *about = prof_trace_about(trace);
    spans->end = about->to_ns && about->to_ns < about->duration_ns ? about->to_ns : about->duration_ns;
    spans->number = spans->rest = 0;
    prof__locks_open(&spans->all, trace, 0, has, user);
}

/* Makes a span. Returns 0 for a wait that is shown as a scope, because PROFILE_MUTEX_LOCK has made one. */
static int prof__lock_span_make(prof__lock_spans *spans, prof__lock_span *span, const prof__lock_user *user, int held)
{
    const prof__locks *all = &spans->all;
    span->name = all->rows[all->locks[user->lock].row].name;
    span->lock = all->locks[user->lock].address;
    span->number = ++spans->number;
    span->track = user->track;
    span->held = held;
    return held || !user->scoped;
}

/* Makes the span that the last step ended. Returns 0 if it ended none. */
static int prof__lock_span_done(prof__lock_spans *spans, prof__lock_span *span)
{
    const prof__locks *all = &spans->all;
    if (all->done.part == PROF__LOCK_NOTHING) return 0;
    span->start = all->done.start;
    span->end = all->done.end;
    span->shared = all->done.shared;
    span->open = 0;
    return prof__lock_span_make(spans, span, &all->users[all->done.user], all->done.part == PROF__LOCK_HELD);
}

/* Makes the next span that has no end. Returns 0 if there is none. */
static int prof__lock_span_open(prof__lock_spans *spans, prof__lock_span *span)
{
    const prof__locks *all = &spans->all;
    while (spans->rest < 2 * all->user_count) {
        const prof__lock_user *user = &all->users[spans->rest / 2];
        int held = !(spans->rest++ & 1);
        span->start = held ? user->hold_ns : user->wait_ns;
        span->end = spans->end;
        span->shared = span->open = 1;
        if ((held ? user->depth != 0 : user->waits) && span->start <= span->end &&
            prof__lock_span_make(spans, span, user, held))
            return 1;
    }
    return 0;
}

static int prof__lock_spans_next(prof__lock_spans *spans, prof__lock_span *span)
{
    while (prof__locks_next(&spans->all))
        if (prof__lock_span_done(spans, span)) return 1;
    return !spans->all.status && prof__lock_span_open(spans, span);
}

static prof_status prof__lock_spans_close(prof__lock_spans *spans) { return prof__locks_close(&spans->all); }

#endif /* PROF__DISPLAY_LOCKS_H */
