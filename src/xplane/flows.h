// xplane/flows: Numbers flows, and writes their points.
#ifndef PROF__XPLANE_FLOWS_H
#define PROF__XPLANE_FLOWS_H
#include "api/read.h"
#include "api/types.h"
#include "api/values.h"
#include "ground/hash.h"
#include "read/records.h"
#include "read/timeline.h"
#include "display/flows.h"
#include "xplane/events.h"
#include "xplane/names.h"
#include "xplane/state.h"
#include "xplane/stats.h"
#include "xplane/work.h"

/*-- flows --
   XProf joins all producers with an id to all consumers with it. A program may use an id again. So each FLOW_OUT gets a
   number that no other has, and the later points of its flow get that number, too, on any thread. */

typedef struct prof__xplane_flow {
    prof__flow of;
    uint32_t serial;
} prof__xplane_flow;

static int prof__xplane_flow_number(prof__xplane *x, prof__flows *flows, const prof_event *event, size_t track)
{
    prof__xplane_track *of = &x->tracks[track];
    prof__xplane_flow *flow = (prof__xplane_flow *)prof__flow_of(flows, event);
    if (!flow || !PROF__ROOM(of->flows, of->flow_capacity, of->flow_count)) return 0;
    if (event->type == PROF_EVENT_FLOW_OUT || !flow->serial) {
        if (!PROF__ROOM(x->flow_gpus, x->flow_gpu_capacity, (size_t)x->flow_serial)) return 0;
        x->flow_gpus[x->flow_serial] = PROF__XPLANE_NO_GPU;
        flow->serial = ++x->flow_serial;
    }
    if (of->gpu != PROF__XPLANE_NO_GPU) x->flow_gpus[flow->serial - 1] = of->gpu;
    of->flows[of->flow_count++] = flow->serial;
    return 1;
}

static void prof__xplane_number_flows(prof__xplane *x)
{
    prof__flows flows;
    prof_timeline *timeline = NULL;
    prof_event event;
    size_t track;
    prof_status status = prof__timeline_of(x->trace, PROF__GROUP_FLOW, PROF__GROUP_FLOW, NULL, NULL, &timeline), closed;
    int good = 1;
    memset(&flows, 0, sizeof flows);
    flows.element = sizeof(prof__xplane_flow);
    while (good && !status && prof_timeline_next(timeline, &event, &track))
        good = prof__xplane_flow_number(x, &flows, &event, track);
    closed = prof_timeline_close(timeline);
    if (!good) status = PROF_NO_MEMORY;
    if (!status) status = closed;
    if (status) x->status = status;
    prof__flows_free(&flows);
    x->flows_done = 1;
}

/* Adds the next point of a flow that a track has. */
static void prof__xplane_point(prof__xplane *x, size_t index, const prof_event *event)
{
    prof__xplane_track *track = &x->tracks[index];
    prof__xplane_held *held = &x->held;
    int out = event->type == PROF_EVENT_FLOW_OUT;
    int inside = held->held && !held->flow && event->depth == held->depth + 1 && !event->arg_count;
    prof__xplane_bytes *stats = inside ? &x->stats : &x->point;
    uint64_t serial = track->flow_next < track->flow_count ? track->flows[track->flow_next++] : 0;
    if (!x->writing && x->keeping) prof__xplane_forget(x); /* the flows have no numbers yet */
    if (!prof__xplane_wanted(x, event)) return;
    if (!inside) {
        prof__xplane_release(x, event);
        stats->size = 0;
    }
    prof__xplane_put_int(x, stats, out ? PROF__STAT_OUT_TYPE : PROF__STAT_IN_TYPE, 0);
    prof__xplane_put_uint(x, stats, out ? PROF__STAT_OUT : PROF__STAT_IN, PROF__XPLANE_FLOW + serial);
    prof__xplane_stat_hex(x, stats, PROF__STAT_POINT, event->object);
    /* By this XProf's Launch Stats count a call of CUDA as a launch. */
    if (inside && out && x->accelerators && !strcmp(held->site->category, "CUDA"))
        prof__xplane_put_uint(x, stats, PROF__STAT_DEVICE, serial ? x->flow_gpus[serial - 1] : 0);
    if (!inside) prof__xplane_args(x, stats, event);
    if (inside)
        held->flow = 1;
    else
        prof__xplane_emit(x, prof__xplane_name_of(x, stats, event, PROF__XPLANE_POINT),
                          prof__xplane_time(event->start_ns), 0, stats);
}

#endif /* PROF__XPLANE_FLOWS_H */
