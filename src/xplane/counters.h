// xplane/counters: Writes counters, whose line has the events of all threads.
#ifndef PROF__XPLANE_COUNTERS_H
#define PROF__XPLANE_COUNTERS_H
#include "api/read.h"
#include "api/types.h"
#include "read/records.h"
#include "read/timeline.h"
#include "xplane/events.h"
#include "xplane/names.h"
#include "xplane/state.h"
#include "xplane/stats.h"
#include "xplane/threads.h"

/*-- lines of several threads --*/

/* Returns 1 if a track has events of a group. Of counters, only those of the present plane matter. */
static int prof__xplane_has(const void *xplane, size_t track, unsigned group)
{
    const prof__xplane *x = (const prof__xplane *)xplane;
    const char *device = prof_trace_track(x->trace, track)->device;
    if (group == PROF__GROUP_COUNTER && (x->device ? device != x->device : *device)) return 0;
    return x->tracks[track].groups >> group & 1;
}

static int prof__xplane_any(const prof__xplane *x, unsigned group)
{
    size_t i, tracks = prof_trace_track_count(x->trace);
    for (i = 0; i < tracks; i++)
        if (prof__xplane_has(x, i, group)) return 1;
    return 0;
}

/* Writes the counters of all threads, or of all rows of a device, in order of time. */
static void prof__xplane_walk_counters(prof__xplane *x)
{
    prof_timeline *timeline = NULL;
    prof_event event;
    prof_status closed, status = prof__timeline_of(x->trace, PROF__GROUP_COUNTER, PROF__GROUP_COUNTER, prof__xplane_has,
                                                   x, &timeline);
    while (status == PROF_OK && x->status == PROF_OK && x->out.status == PROF_OK &&
           prof_timeline_next(timeline, &event, NULL)) {
        uint32_t id;
        if (!prof__xplane_wanted(x, &event) || !prof__xplane_finite(&event.value)) continue;
        x->point.size = 0;
        prof__xplane_value(x, &x->point, PROF__STAT_VALUE, &event.value); /* XProf wants the value first */
        id = prof__xplane_name_of(x, &x->point, &event, PROF__XPLANE_COUNTER);
        prof__xplane_emit(x, id, prof__xplane_time(event.start_ns), 0, &x->point);
    }
    closed = prof_timeline_close(timeline);
    if (status || closed) x->status = status ? status : closed;
}

#endif /* PROF__XPLANE_COUNTERS_H */
