// chrome/locks: Writes who holds a lock, and who waits for it.
#ifndef PROF__CHROME_LOCKS_H
#define PROF__CHROME_LOCKS_H
#include "api/read.h"
#include "api/types.h"
#include "api/values.h"
#include "ground/errors.h"
#include "ground/json.h"
#include "ground/out.h"
#include "report/allocations.h"
#include "report/locks.h"
#include "chrome/args.h"
#include "chrome/line.h"
#include "chrome/state.h"

/*-- locks --*/

typedef struct prof__chrome_held {
    const char *what, *name; /* what: "lock " or "wait for "; name: of the lock */
    uint64_t lock;
    int alone; /* 1: no other span of the lock overlaps with it */
    int truncated;
    size_t track;
    int64_t start, end;
} prof__chrome_held;

/* Returns the track for locks that one thread holds at a time. On tracks of threads, chrome://tracing would show them
   above each thread. */
static uint32_t prof__chrome_lock_track(prof__chrome *c)
{
    if (!c->lock_tid) {
        c->lock_tid = c->next_id++;
        prof__chrome_thread_name(c, c->lock_tid, "", "locks");
        prof__chrome_sort_index(c, c->lock_tid, 1000000000);
    }
    return c->lock_tid;
}

static void prof__chrome_held_half(prof__chrome *c, const prof__chrome_held *span, const char *start, int64_t ns)
{
    prof__out *out = &c->out;
    uint32_t tid = span->alone ? prof__chrome_lock_track(c) : c->threads[span->track].id;
    prof__chrome_object_line(c, start, span->what, span->name);
    PROF__CHROME_LITERAL(out, ",\"id2\":{\"local\":\"");
    prof__chrome_hex(out, span->lock);
    if (!span->alone) {
        PROF__CHROME_LITERAL(out, " ");
        prof__out_unsigned(out, tid);
    }
    PROF__CHROME_LITERAL(out, "\"}");
    prof__chrome_object_time(c, tid, ns);
}

/* Writes a span of a lock. Spans of a lock that do not overlap share a row. */
static void prof__chrome_held_write(prof__chrome *c, const prof__chrome_held *span)
{
    prof__out *out = &c->out;
    const char *thread = prof_trace_track(c->trace, span->track)->name;
    if ((uint64_t)(span->end - span->start) < c->options.min_duration_ns ||
        !prof__chrome_in_window(c, span->start, span->end))
        return;
    prof__chrome_held_half(c, span, ",\n{\"ph\":\"b\",\"cat\":\"lock\"", span->start);
    PROF__CHROME_LITERAL(out, ",\"args\":{\"thread\":");
    if (*thread) {
        PROF__CHROME_LITERAL(out, "\"");
        prof__out_json(out, thread);
        PROF__CHROME_LITERAL(out, "\"");
    } else {
        prof__out_unsigned(out, c->threads[span->track].id);
    }
    if (span->truncated) PROF__CHROME_LITERAL(out, ",\"truncated\":\"end\"");
    PROF__CHROME_LITERAL(out, "}}");
    prof__chrome_held_half(c, span, ",\n{\"ph\":\"e\",\"cat\":\"lock\"", span->end);
    PROF__CHROME_LITERAL(out, "}");
}

static void prof__chrome_lock_span(prof__chrome *c, const prof__locks *all, const prof__lock_user *user, int held,
                                   int64_t start, int64_t end, int alone)
{
    const prof__lock_state *lock = &all->locks[user->lock];
    prof__chrome_held span;
    if (!held && user->scoped) return; /* this wait is shown as a scope */
    memset(&span, 0, sizeof span);
    span.what = held ? "lock " : "wait for ";
    span.name = all->rows[lock->row].name;
    span.lock = lock->address;
    span.alone = held && alone;
    span.track = user->track;
    span.start = start + c->offset;
    span.end = end + c->offset;
    span.truncated = held ? user->depth != 0 : user->waits; /* 1: it has not released the lock, or still waits */
    prof__chrome_held_write(c, &span);
}

static void prof__chrome_locks_walk(prof__chrome *c, prof__locks *all, prof_timeline *timeline)
{
    prof_event event;
    size_t track, i;
    int64_t end = c->about->to_ns && c->about->to_ns < c->about->duration_ns ? c->about->to_ns : c->about->duration_ns;
    int good = 1;
    while (good && c->out.status == PROF_OK && prof_timeline_next(timeline, &event, &track)) {
        good = prof__locks_step(all, &event, track);
        if (good && all->done.part != PROF__LOCK_NOTHING)
            prof__chrome_lock_span(c, all, &all->users[all->done.user], all->done.part == PROF__LOCK_HELD,
                                   all->done.start, all->done.end, !all->done.shared);
    }
    for (i = 0; good && i < all->user_count; i++) {
        const prof__lock_user *user = &all->users[i];
        if (user->depth && user->hold_ns <= end) prof__chrome_lock_span(c, all, user, 1, user->hold_ns, end, 0);
        if (user->waits && user->wait_ns <= end) prof__chrome_lock_span(c, all, user, 0, user->wait_ns, end, 0);
    }
    if (!good) prof__out_fail(&c->out, prof__fail(PROF_NO_MEMORY, "no memory for the locks"));
}

static void prof__chrome_locks(prof__chrome *c)
{
    prof__locks all;
    prof_timeline *timeline;
    prof_status status;
    if (!prof__has_role(c->trace, PROF_ROLE_LOCK)) return;
    if (!prof__locks_open(&all, c->trace, 0)) {
        prof__out_fail(&c->out, prof__fail(PROF_NO_MEMORY, "no memory for the locks"));
    } else {
        status = prof_timeline_open(c->trace, &timeline);
        if (status == PROF_OK) {
            prof__chrome_locks_walk(c, &all, timeline);
            status = prof_timeline_close(timeline);
        }
        if (status != PROF_OK) prof__out_fail(&c->out, status);
    }
    prof__locks_close(&all);
}

#endif /* PROF__CHROME_LOCKS_H */
