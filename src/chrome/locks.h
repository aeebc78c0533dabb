// chrome/locks: Writes who holds a lock, and who waits for it.
#ifndef PROF__CHROME_LOCKS_H
#define PROF__CHROME_LOCKS_H
#include "api/read.h"
#include "api/types.h"
#include "ground/json.h"
#include "ground/out.h"
#include "read/records.h"
#include "display/locks.h"
#include "chrome/args.h"
#include "chrome/line.h"
#include "chrome/state.h"

/*-- locks --*/

/* Returns the track for locks that one thread holds at a time. On tracks of threads, chrome://tracing would show them
   above each thread. */
static uint32_t prof__chrome_lock_track(prof__chrome *c)
{
    if (!c->lock_tid) {
        c->lock_tid = prof__chrome_new_id(c);
        prof__chrome_thread_name(c, c->lock_tid, "", "locks");
        prof__chrome_sort_index(c, c->lock_tid, 1000000000);
    }
    return c->lock_tid;
}

/* Writes the begin or end of a span of a lock, up to its time. alone: 1: no other span of the lock overlaps with it. */
static void prof__chrome_lock_line(prof__chrome *c, const prof__lock_span *span, int alone, const char *start,
                                   int64_t ns)
{
    prof__out *out = &c->out;
    uint32_t tid = alone ? prof__chrome_lock_track(c) : c->threads[span->track].id;
    prof__chrome_object_line(c, start, span->held ? "lock " : "wait for ", span->name);
    PROF__CHROME_LITERAL(out, ",\"id2\":{\"local\":\"");
    prof__chrome_hex(out, span->lock);
    if (!alone) {
        PROF__CHROME_LITERAL(out, " ");
        prof__out_unsigned(out, tid);
    }
    PROF__CHROME_LITERAL(out, "\"}");
    prof__chrome_object_time(c, tid, ns + c->offset);
}

/* Writes a span of a lock. Spans of a lock that do not overlap share a row. */
static void prof__chrome_lock_span(prof__chrome *c, const prof__lock_span *span)
{
    prof__out *out = &c->out;
    const char *thread = prof_trace_track(c->trace, span->track)->name;
    int alone = span->held && !span->shared;
    if ((uint64_t)(span->end - span->start) < c->options.min_duration_ns ||
        !prof__chrome_in_window(c, span->start + c->offset, span->end + c->offset))
        return;
    prof__chrome_lock_line(c, span, alone, ",\n{\"ph\":\"b\",\"cat\":\"lock\"", span->start);
    PROF__CHROME_LITERAL(out, ",\"args\":{\"thread\":");
    if (*thread) {
        PROF__CHROME_LITERAL(out, "\"");
        prof__out_json(out, thread);
        PROF__CHROME_LITERAL(out, "\"");
    } else {
        prof__out_unsigned(out, c->threads[span->track].id);
    }
    if (span->open) PROF__CHROME_LITERAL(out, ",\"truncated\":\"end\"");
    PROF__CHROME_LITERAL(out, "}}");
    prof__chrome_lock_line(c, span, alone, ",\n{\"ph\":\"e\",\"cat\":\"lock\"", span->end);
    PROF__CHROME_LITERAL(out, "}");
}

static void prof__chrome_locks(prof__chrome *c)
{
    prof__lock_spans spans;
    prof__lock_span span;
    prof_status status;
    if (!prof__chrome_any(c, PROF__GROUP_LOCK)) return;
    prof__lock_spans_open(&spans, c->trace, prof__chrome_has, c);
    while (c->out.status == PROF_OK && prof__lock_spans_next(&spans, &span)) prof__chrome_lock_span(c, &span);
    status = prof__lock_spans_close(&spans);
    if (status) prof__out_fail(&c->out, status);
}

#endif /* PROF__CHROME_LOCKS_H */
