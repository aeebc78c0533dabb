// xplane/counters: Writes counters, whose line has the events of all threads.
#ifndef PROF__XPLANE_COUNTERS_H
#define PROF__XPLANE_COUNTERS_H
#include "api/read.h"
#include "api/types.h"
#include "api/values.h"
#include "read/timeline.h"
#include "xplane/events.h"
#include "xplane/names.h"
#include "xplane/state.h"
#include "xplane/stats.h"
#include "xplane/threads.h"

/*-- lines of several threads --*/

/* Returns 1 if a track has events of these groups. Of counters, only those of the present plane matter. */
static int prof__xplane_has(const prof__xplane *x, size_t track, uint32_t groups)
{
    const char *device = prof_trace_track(x->trace, track)->device;
    if (groups == PROF__XPLANE_COUNTED && (x->device ? device != x->device : *device)) return 0;
    return (x->tracks[track].groups & groups) != 0;
}

static int prof__xplane_any(const prof__xplane *x, uint32_t groups)
{
    size_t i, tracks = prof_trace_track_count(x->trace);
    for (i = 0; i < tracks; i++)
        if (prof__xplane_has(x, i, groups)) return 1;
    return 0;
}

/* Opens a time line of the tracks with events of these groups. Other tracks are not read. */
static prof_status prof__xplane_timeline(const prof__xplane *x, uint32_t groups, prof_timeline **timeline)
{
    prof_status status = prof_timeline_open(x->trace, timeline);
    size_t i, kept = 0;
    if (status) return status;
    for (i = 0; i < (*timeline)->start_count; i++)
        if (prof__xplane_has(x, (*timeline)->starts[i].track, groups))
            (*timeline)->starts[kept++] = (*timeline)->starts[i];
    (*timeline)->start_count = kept;
    return PROF_OK;
}

/* Writes the counters of all threads, or of all rows of a device, in order of time. */
static void prof__xplane_walk_counters(prof__xplane *x)
{
    prof_timeline *timeline = NULL;
    prof_event event;
    prof_status status = prof__xplane_timeline(x, PROF__XPLANE_COUNTED, &timeline), closed;
    while (status == PROF_OK && x->status == PROF_OK && x->out.status == PROF_OK &&
           prof_timeline_next(timeline, &event, NULL)) {
        uint32_t id;
        if (event.type != PROF_EVENT_COUNTER || !prof__xplane_wanted(x, &event) || !prof__xplane_finite(&event.value))
            continue;
        x->point.size = 0;
        prof__xplane_value(x, &x->point, PROF__STAT_VALUE, &event.value); /* XProf wants the value first */
        id = prof__xplane_name_of(x, &x->point, &event, PROF__XPLANE_COUNTER);
        prof__xplane_emit(x, id, prof__xplane_time(event.start_ns), 0, &x->point);
    }
    closed = prof_timeline_close(timeline);
    if (status || closed) x->status = status ? status : closed;
}

#endif /* PROF__XPLANE_COUNTERS_H */
