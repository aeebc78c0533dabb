// xplane/threads: Writes the lines of threads and rows.
#ifndef PROF__XPLANE_THREADS_H
#define PROF__XPLANE_THREADS_H
#include "api/options.h"
#include "api/read.h"
#include "api/types.h"
#include "api/values.h"
#include "ground/numbers.h"
#include "read/cursor.h"
#include "read/event.h"
#include "read/records.h"
#include "xplane/events.h"
#include "xplane/flows.h"
#include "xplane/names.h"
#include "xplane/state.h"
#include "xplane/work.h"

/*-- lines of threads and rows --*/

static int prof__xplane_finite(const prof_value *value)
{
    return value->type != PROF_VALUE_DOUBLE || prof__finite(value->as.d);
}

/* Adds a line for frames of this name, unless there is one. Each name has a line on each thread, or for each frame
   object. */
static void prof__xplane_frame_met(prof__xplane *x, prof__xplane_kind kind, size_t track, const char *name,
                                   uint64_t handle)
{
    size_t i;
    if (x->writing) return;
    for (i = x->frame_count; i--;) {
        const prof__xplane_line *line = &x->frames[i];
        if (line->kind == kind && line->track == track && line->id == handle && (kind == PROF__XPLANE_HANDLE ||
                                                                                !strcmp(line->name, name)))
            return;
    }
    if (x->frame_count == PROF__XPLANE_FRAMES) {
        x->frames_out++;
        return;
    }
    memset(&x->frames[x->frame_count], 0, sizeof x->frames[0]);
    x->frames[x->frame_count].kind = kind;
    x->frames[x->frame_count].track = track;
    x->frames[x->frame_count].name = name;
    x->frames[x->frame_count++].id = handle;
}

/* Returns 1 for an instant that is shown on the line of its thread. */
static int prof__xplane_shown(const prof_event *event)
{
    unsigned group = prof__event_group(event->type);
    return group == PROF__GROUP_MARK || group == PROF__GROUP_MESSAGE || group == PROF__GROUP_LOST ||
           (group == PROF__GROUP_COUNTER && !prof__xplane_finite(&event->value));
}

static void prof__xplane_event(prof__xplane *x, size_t index, const prof_event *event)
{
    x->tracks[index].groups |= 1u << prof__event_group(event->type);
    if (prof__is_flow(event->type)) {
        prof__xplane_point(x, index, event);
        return;
    }
    if (event->type == PROF_EVENT_FRAME && event->duration_ns)
        prof__xplane_frame_met(x, PROF__XPLANE_FRAMES_OF, index, event->site->name, 0);
    if (!prof__xplane_wanted(x, event)) return;
    if (event->type == PROF_EVENT_SCOPE && (uint64_t)event->duration_ns < x->options.min_duration_ns) {
        if (event->depth <= x->held.depth) prof__xplane_release(x, event); /* the event is not inside the held scope */
        return;
    }
    if (event->type != PROF_EVENT_SCOPE && !prof__xplane_shown(event)) return;
    prof__xplane_release(x, event);
    switch ((int)event->type) {
    case PROF_EVENT_SCOPE: prof__xplane_scope(x, event); break;
    case PROF_EVENT_LOG: prof__xplane_log(x, event); break;
    case PROF_EVENT_LOST: prof__xplane_lost(x, event); break;
    default: prof__xplane_instant(x, event, PROF__XPLANE_MARK); break;
    }
}

/* Adds the next scopes of a track, as long as they are plain: without arguments and the like. Holds the last one
   back. */
static void prof__xplane_plain(prof__xplane *x, prof_cursor *cursor)
{
    prof__xplane_held *held = &x->held;
    const prof_callsite *site;
    const prof__read_node *node;
    while (!(held->held && held->step) && x->status == PROF_OK && x->out.status == PROF_OK &&
           (node = prof__cursor_plain(cursor, &site)) != NULL) {
        if (PROF__UNLIKELY(site->role == PROF_ROLE_STEP)) {
            prof_event event;
            memset(&event, 0, sizeof event);
            event.type = PROF_EVENT_SCOPE;
            event.depth = node->depth;
            event.start_ns = node->start_ns;
            event.duration_ns = node->end_ns - node->start_ns;
            event.name = site->name;
            event.site = site;
            prof__xplane_event(x, x->track, &event);
            continue;
        }
        if (!prof__xplane_in_window(x, node->start_ns, node->end_ns)) continue;
        if (held->held)
            prof__xplane_emit_shorter(x, held->id, held->start, held->duration, held->shorter, &x->stats);
        prof__xplane_hold(x, site, node->start_ns, node->end_ns - node->start_ns, node->depth);
        held->id = prof__xplane_site(x, site, PROF__XPLANE_SCOPE);
    }
}

static void prof__xplane_walk_track(prof__xplane *x, size_t index)
{
    prof_cursor *cursor;
    prof_event event;
    prof_status status = prof_cursor_open(x->trace, index, &cursor);
    if (status) {
        x->status = status;
        return;
    }
    prof__cursor_keyed(cursor);
    x->held.held = 0;
    x->open_count = 0;
    x->track = index;
    x->tracks[index].flow_next = x->tracks[index].step_next = 0;
    if (!x->writing) x->tracks[index].step_first = x->step_count;
    while (x->status == PROF_OK && x->out.status == PROF_OK && prof_cursor_next(cursor, &event)) {
        prof__xplane_name_soon(x, cursor);
        x->key = prof__cursor_key(cursor);
        prof__xplane_event(x, index, &event);
        if (!x->gpu && !x->options.min_duration_ns) prof__xplane_plain(x, cursor);
    }
    x->key = 0;
    prof__xplane_release(x, NULL);
    prof_cursor_close(cursor);
}

/* Writes the frames of one name on one thread, as a line. */
static void prof__xplane_walk_frames(prof__xplane *x, const prof__xplane_line *line)
{
    prof_cursor *cursor;
    prof_event event;
    prof_status status = prof_cursor_open(x->trace, line->track, &cursor);
    if (status) x->status = status;
    while (x->status == PROF_OK && x->out.status == PROF_OK && prof_cursor_next(cursor, &event)) {
        int64_t start = prof__xplane_time(event.start_ns - event.duration_ns);
        if (event.type != PROF_EVENT_FRAME || !event.duration_ns || strcmp(event.site->name, line->name)) continue;
        if (!prof__xplane_wanted(x, &event) || event.start_ns < start) continue;
        x->point.size = 0;
        prof__xplane_put_uint(x, &x->point, PROF__STAT_FRAME, event.detail);
        prof__xplane_truncated(x, &x->point, event.flags);
        prof__xplane_emit(x, prof__xplane_site(x, event.site, PROF__XPLANE_FRAME), start, event.start_ns - start,
                          &x->point);
    }
    prof_cursor_close(cursor);
}

#endif /* PROF__XPLANE_THREADS_H */
