// chrome/instants: Writes marks, messages, losses and other events without a duration.
#ifndef PROF__CHROME_INSTANTS_H
#define PROF__CHROME_INSTANTS_H
#include "api/read.h"
#include "api/values.h"
#include "ground/out.h"
#include "read/log.h"
#include "chrome/args.h"
#include "chrome/line.h"
#include "chrome/numbers.h"
#include "chrome/state.h"

/*-- instants --*/

static void prof__chrome_instant(prof__chrome *c, const prof__chrome_ids *ids, const prof_event *event)
{
    prof__chrome_begin(c, ids, event, ",\n{\"ph\":\"i\"", prof__chrome_time(event->start_ns));
    PROF__CHROME_LITERAL(&c->out, ",\"s\":\"t\"");
    prof__chrome_all_args(c, event);
    PROF__CHROME_LITERAL(&c->out, "}");
}

/* Returns the track for marks of all threads with this name. Adds it if it is new. Returns NULL if there are too
   many. */
static const prof__chrome_marks *prof__chrome_mark_track(prof__chrome *c, const char *name)
{
    prof__chrome_marks *marks;
    size_t i;
    for (i = 0; i < c->mark_count; i++) {
        const char *other = c->marks[i].name;
        if (c->marks[i].pid == c->pid && (other == name || (other && name && !strcmp(other, name))))
            return &c->marks[i];
    }
    if (i == PROF__CHROME_MARKS) return NULL;
    marks = &c->marks[c->mark_count++];
    marks->name = name;
    marks->pid = c->pid;
    marks->tid = prof__chrome_new_id(c);
    prof__chrome_thread_name(c, marks->tid, name ? "mark: " : "", name ? name : "marks");
    prof__chrome_sort_index(c, marks->tid, (int64_t)i - 900000);
    return marks;
}

/* Writes a mark. Viewers draw the marks of a process, and global ones, as bars across all rows, without names, or not
   at all. So such a mark is an instant on a track of its own, with its name. */
static void prof__chrome_mark(prof__chrome *c, const prof__chrome_track *track, size_t index, const prof_event *event)
{
    const prof__chrome_marks *marks = NULL;
    prof__chrome_ids ids;
    if (event->site->role == PROF_ROLE_MARK_GLOBAL || event->site->role == PROF_ROLE_MARK_PROCESS)
        marks = prof__chrome_mark_track(c, event->name == event->site->name ? event->name : NULL);
    if (marks) {
        prof__chrome_make_ids(c, &ids, marks->tid);
        if (*prof_trace_track(c->trace, index)->name) c->mark_thread = prof_trace_track(c->trace, index)->name;
    }
    prof__chrome_instant(c, marks ? &ids : &track->ids, event);
    c->mark_thread = NULL;
}

static void prof__chrome_message(prof__chrome *c, const prof__chrome_ids *ids, const prof_event *event)
{
    prof_event message = *event;
    prof_arg severity;
    memset(&severity, 0, sizeof severity);
    severity.key = "severity";
    severity.value.type = PROF_VALUE_STRING;
    severity.value.as.string = prof__severity_text(event->detail);
    message.name = event->value.as.string;
    message.args = &severity;
    message.arg_count = 1;
    prof__chrome_instant(c, ids, &message);
}

static void prof__chrome_lost(prof__chrome *c, const prof__chrome_ids *ids, const prof_event *event)
{
    prof__out *out = &c->out;
    PROF__CHROME_LITERAL(out, ",\n{\"ph\":\"i\",\"name\":\"lost ");
    prof__out_unsigned(out, event->value.as.u);
    PROF__CHROME_LITERAL(out, " events\",\"cat\":\"prof\"");
    prof__out_bytes(out, ids->text, ids->size);
    prof__chrome_ns(out, prof__chrome_time(event->start_ns));
    PROF__CHROME_LITERAL(out, ",\"s\":\"t\",\"args\":{\"lost\":");
    prof__chrome_value(out, &event->value);
    PROF__CHROME_LITERAL(out, "}}");
}

#endif /* PROF__CHROME_INSTANTS_H */
