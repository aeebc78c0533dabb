// chrome/counters: Writes the samples of counters.
#ifndef PROF__CHROME_COUNTERS_H
#define PROF__CHROME_COUNTERS_H
#include "api/read.h"
#include "api/types.h"
#include "api/values.h"
#include "ground/json.h"
#include "ground/numbers.h"
#include "ground/out.h"
#include "read/records.h"
#include "read/timeline.h"
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
        prof__chrome_series(c, "", *event->name ? event->name : "(unnamed)");
        if (is_double)
            prof__chrome_number(out, event->value.as.d);
        else if (event->value.type == PROF_VALUE_UINT)
            prof__out_unsigned(out, event->value.as.u);
        else
            prof__out_signed(out, event->value.as.i);
    }
    PROF__CHROME_LITERAL(out, "}}");
}

/* Writes the samples of all threads in order of time. Viewers do not sort the samples of a counter. */
static void prof__chrome_counters(prof__chrome *c)
{
    prof_timeline *timeline = NULL;
    prof_event event;
    size_t track;
    prof_status status, closed;
    if (!prof__chrome_any(c, PROF__GROUP_COUNTER)) return;
    status = prof__timeline_of(c->trace, PROF__GROUP_COUNTER, PROF__GROUP_COUNTER, prof__chrome_has, c, &timeline);
    while (!status && c->out.status == PROF_OK && prof_timeline_next(timeline, &event, &track)) {
        event.start_ns += c->offset;
        if (!prof__chrome_wanted(c, &event)) continue;
        prof__chrome_enter(c, track);
        prof__chrome_counter(c, c->threads[track].id, &event);
    }
    c->pid = c->part->pid;
    closed = prof_timeline_close(timeline);
    if (status || closed) prof__out_fail(&c->out, status ? status : closed);
}

#endif /* PROF__CHROME_COUNTERS_H */
