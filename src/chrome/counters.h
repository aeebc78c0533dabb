// chrome/counters: Writes the samples of counters.
#ifndef PROF__CHROME_COUNTERS_H
#define PROF__CHROME_COUNTERS_H
#include "api/read.h"
#include "api/types.h"
#include "api/values.h"
#include "ground/errors.h"
#include "ground/json.h"
#include "ground/numbers.h"
#include "ground/out.h"
#include "chrome/args.h"
#include "chrome/line.h"
#include "chrome/numbers.h"
#include "chrome/state.h"

/*-- counters --*/

static void prof__chrome_counter(prof__chrome *c, uint32_t tid, const prof_event *event)
{
    prof__chrome_ids ids;
    prof__out *out = &c->out;
    int is_double = event->value.type == PROF_VALUE_DOUBLE;
    prof__chrome_make_ids(c, &ids, tid);
    if (is_double && !prof__finite(event->value.as.d)) {
        prof__chrome_begin(c, &ids, event, ",\n{\"ph\":\"i\"", prof__chrome_time(event->start_ns));
        PROF__CHROME_LITERAL(out, ",\"s\":\"t\",\"args\":{\"value\":");
        prof__chrome_value(out, &event->value);
    } else {
        prof__chrome_begin(c, &ids, event, ",\n{\"ph\":\"C\"", prof__chrome_time(event->start_ns));
        if (*event->site->unit) { /* viewers ignore it here; among args it would be a series of its own */
            PROF__CHROME_LITERAL(out, ",\"unit\":\"");
            prof__out_json(out, event->site->unit);
            PROF__CHROME_LITERAL(out, "\"");
        }
        PROF__CHROME_LITERAL(out, ",\"args\":{\"");
        prof__out_json(out, *event->name ? event->name : "(unnamed)");
        PROF__CHROME_LITERAL(out, "\":");
        if (is_double)
            prof__chrome_number(out, event->value.as.d);
        else if (event->value.type == PROF_VALUE_UINT)
            prof__out_unsigned(out, event->value.as.u);
        else
            prof__out_signed(out, event->value.as.i);
    }
    PROF__CHROME_LITERAL(out, "}}");
}

typedef struct prof__chrome_samples {
    prof_cursor *cursor;
    size_t track;
    prof_event event; /* the thread's next sample */
} prof__chrome_samples;

static int prof__chrome_next(const prof__chrome *c, prof_cursor *cursor, prof_event *event)
{
    if (!prof_cursor_next(cursor, event)) return 0;
    event->start_ns += c->offset;
    return 1;
}

static int prof__chrome_next_sample(prof__chrome *c, prof__chrome_samples *from)
{
    while (prof__chrome_next(c, from->cursor, &from->event))
        if (from->event.type == PROF_EVENT_COUNTER && prof__chrome_wanted(c, &from->event)) return 1;
    return 0;
}

/* Restores the order of the heap below `at`. The earliest sample is at index 0. */
static void prof__chrome_sift(prof__chrome_samples *heap, size_t count, size_t at)
{
    for (;;) {
        size_t child = 2 * at + 1;
        prof__chrome_samples swap;
        if (child + 1 < count && heap[child + 1].event.start_ns < heap[child].event.start_ns) child++;
        if (child >= count || heap[at].event.start_ns <= heap[child].event.start_ns) return;
        swap = heap[at];
        heap[at] = heap[child];
        heap[child] = swap;
        at = child;
    }
}

/* Writes the samples of all threads in order of time. Viewers do not sort the samples of a counter. */
static void prof__chrome_counters(prof__chrome *c)
{
    size_t tracks = prof_trace_track_count(c->trace), with = 0, count = 0, i;
    prof__chrome_samples *heap;
    for (i = 0; i < tracks; i++) with += (size_t)c->threads[i].counters;
    if (!with) return;
    heap = (prof__chrome_samples *)malloc(with * sizeof *heap);
    if (!heap) prof__out_fail(&c->out, prof__fail(PROF_NO_MEMORY, "no memory to merge counters"));
    for (i = 0; heap && i < tracks; i++) {
        prof_status status;
        if (!c->threads[i].counters) continue;
        status = prof_cursor_open(c->trace, i, &heap[count].cursor);
        if (status) {
            prof__out_fail(&c->out, status);
            break;
        }
        heap[count].track = i;
        if (prof__chrome_next_sample(c, &heap[count]))
            count++;
        else
            prof_cursor_close(heap[count].cursor);
    }
    for (i = count / 2; i--;) prof__chrome_sift(heap, count, i);
    while (count && c->out.status == PROF_OK) {
        prof__chrome_enter(c, heap[0].track);
        prof__chrome_counter(c, c->threads[heap[0].track].id, &heap[0].event);
        if (!prof__chrome_next_sample(c, &heap[0])) {
            prof_cursor_close(heap[0].cursor);
            heap[0] = heap[--count];
        }
        prof__chrome_sift(heap, count, 0);
    }
    while (count) prof_cursor_close(heap[--count].cursor);
    c->pid = c->part->pid;
    free(heap);
}

#endif /* PROF__CHROME_COUNTERS_H */
