// chrome/track: Writes the events of a thread or row.
#ifndef PROF__CHROME_TRACK_H
#define PROF__CHROME_TRACK_H
#include "api/read.h"
#include "api/types.h"
#include "api/values.h"
#include "ground/out.h"
#include "read/records.h"
#include "chrome/flows.h"
#include "chrome/frames.h"
#include "chrome/instants.h"
#include "chrome/line.h"
#include "chrome/memory.h"
#include "chrome/state.h"

/*-- tracks --*/

static void prof__chrome_event(prof__chrome *c, prof__chrome_track *track, size_t index, const prof_event *event)
{
    unsigned group = prof__event_group(event->type);
    c->threads[index].groups |= 1u << group;
    if (!prof__chrome_wanted(c, event)) return;
    switch (group) {
    case PROF__GROUP_SCOPE: prof__chrome_scope(c, track, event); break;
    case PROF__GROUP_MARK: prof__chrome_mark(c, track, index, event); break;
    case PROF__GROUP_FRAME: prof__chrome_frame(c, track, event); break;
    case PROF__GROUP_LOST: prof__chrome_lost(c, &track->ids, event); break;
    case PROF__GROUP_FLOW: prof__chrome_flow_met(c, track, event); break;
    case PROF__GROUP_MESSAGE: prof__chrome_message(c, &track->ids, event); break;
    case PROF__GROUP_MEMORY:
        if (c->options.allocations) prof__chrome_memory_instant(c, &track->ids, event);
        break;
    default: break; /* counters, spans and locks are written later, in order of time */
    }
}

static void prof__chrome_write_track(prof__chrome *c, prof__chrome_track *track, size_t index)
{
    prof_cursor *cursor;
    prof_event event;
    prof_status status = prof_cursor_open(c->trace, index, &cursor);
    int all = !c->options.from_ns && !c->options.to_ns && !c->options.min_duration_ns && !c->options.source;
    if (status) {
        prof__out_fail(&c->out, status);
        return;
    }
    prof__chrome_enter(c, index);
    prof__chrome_make_ids(c, &track->ids, c->threads[index].id);
    track->origin = -1;
    track->scope.open = 0;
    track->frame_count = 0;
    while (c->out.status == PROF_OK && prof_cursor_next(cursor, &event)) {
        event.start_ns += c->offset;
        prof__chrome_close_last(c, track, event.start_ns, event.type == PROF_EVENT_SCOPE ? event.name : NULL);
        prof__chrome_event(c, track, index, &event);
        if (all) prof__chrome_plain(c, track, cursor);
    }
    prof__chrome_close_last(c, track, INT64_MAX, NULL);
    prof_cursor_close(cursor);
}

#endif /* PROF__CHROME_TRACK_H */
