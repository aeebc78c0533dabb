// chrome/flows: Writes flows as arrows between scopes.
#ifndef PROF__CHROME_FLOWS_H
#define PROF__CHROME_FLOWS_H
#include "api/read.h"
#include "api/types.h"
#include "api/values.h"
#include "ground/errors.h"
#include "ground/out.h"
#include "read/records.h"
#include "read/timeline.h"
#include "display/flows.h"
#include "chrome/args.h"
#include "chrome/instants.h"
#include "chrome/line.h"
#include "chrome/numbers.h"
#include "chrome/state.h"

/*-- flows --
   While the tracks are written, it is only noted which have flows. Afterwards the points of these tracks are read
   again, in order of time. Viewers want the last point of a flow to be an "f", and those between to be a "t". So each
   point is held until it is known whether another follows. An arrow leads from slice to slice; a point outside of
   slices gets one. */

enum { PROF__CHROME_IDLE = 0, PROF__CHROME_BEGUN, PROF__CHROME_JOINED };

/* The flow that is going on with one name and id. */
typedef struct prof__chrome_flow {
    prof__flow of;
    uint64_t count;            /* how many flows there were with this name and id */
    const prof_callsite *site; /* the call site of its FLOW_OUT */
    const prof_callsite *at;   /* of the point that is held: the call site, */
    int64_t ns;
    size_t track;
    uint32_t depth;
    int shown;                 /* 1: the point was written as an instant before */
    int state;                 /* BEGUN: the point is the FLOW_OUT, and no other has come yet */
} prof__chrome_flow;

/* Makes an event whose only argument is the id of a flow. */
static prof_event prof__chrome_point(const char *name, const prof_callsite *site, int64_t ns, uint64_t id,
                                     prof_arg *arg)
{
    prof_event event;
    memset(&event, 0, sizeof event);
    memset(arg, 0, sizeof *arg);
    arg->key = "flow";
    arg->value.type = PROF_VALUE_POINTER;
    arg->value.as.u = id;
    event.type = PROF_EVENT_SCOPE;
    event.name = name; /* the call site of a device has no name */
    event.site = site;
    event.start_ns = ns;
    event.args = arg;
    event.arg_count = 1;
    return event;
}

/* Returns 1 if a point must get a slice: no scope is around it, or that scope may be too short to be written. */
static int prof__chrome_bare(const prof__chrome *c, uint32_t depth) { return !depth || c->options.min_duration_ns; }

static void prof__chrome_flow_met(prof__chrome *c, prof__chrome_track *track, const prof_event *event)
{
    prof_arg arg, *args = NULL;
    prof_event point = prof__chrome_point(event->name, event->site, event->start_ns, event->object, &arg);
    point.depth = event->depth;
    if (event->arg_count) args = (prof_arg *)malloc((event->arg_count + 1) * sizeof *args);
    if (args) { /* viewers take the last of equal keys: the id of the flow */
        memcpy(args, event->args, event->arg_count * sizeof *args);
        args[event->arg_count] = arg;
        point.args = args;
        point.arg_count = event->arg_count + 1;
    }
    if (prof__chrome_bare(c, event->depth))
        prof__chrome_slice(c, track, &point);
    else if (args)
        prof__chrome_instant(c, &track->ids, &point);
    free(args);
}

/* Writes the held point as a part of an arrow. */
static void prof__chrome_arrow(prof__chrome *c, const prof__chrome_flow *flow, const char *start)
{
    prof__out *out = &c->out;
    prof__chrome_ids ids;
    prof_arg arg;
    prof_event point = prof__chrome_point(flow->of.name, flow->site, flow->ns, flow->of.id, &arg);
    char name[200];
    int own = c->part_count > 1 && flow->site->role != PROF_ROLE_SHARED; /* no other process may have its name */
    if (flow->count > 1 || own) {
        size_t at = strlen(flow->of.name) < 120 ? strlen(flow->of.name) : 120;
        memcpy(name, flow->of.name, at);
        name[at] = 0;
        if (flow->count > 1) snprintf(name + at, sizeof name - at, " #%llu", (unsigned long long)flow->count);
        at = strlen(name);
        if (own) snprintf(name + at, sizeof name - at, " of %lu", (unsigned long)c->part->pid);
        point.name = name;
    }
    prof__chrome_enter(c, flow->track);
    prof__chrome_make_ids(c, &ids, c->threads[flow->track].id);
    prof__chrome_begin(c, &ids, &point, start, prof__chrome_time(flow->ns));
    PROF__CHROME_LITERAL(out, ",\"id\":\"");
    prof__chrome_hex(out, flow->of.id);
    if (start[9] == 'f')
        PROF__CHROME_LITERAL(out, "\",\"bp\":\"e\"}");
    else
        PROF__CHROME_LITERAL(out, "\"}");
}

/* Writes a point that has no counterpart, unless it has been written as an instant. */
static void prof__chrome_alone(prof__chrome *c, const prof__chrome_flow *flow, const prof_callsite *site, size_t track,
                               uint32_t depth, int64_t ns)
{
    prof__chrome_ids ids;
    prof_arg arg;
    prof_event point = prof__chrome_point(flow->of.name, site, ns, flow->of.id, &arg);
    if (prof__chrome_bare(c, depth)) return;
    prof__chrome_enter(c, track);
    prof__chrome_make_ids(c, &ids, c->threads[track].id);
    prof__chrome_instant(c, &ids, &point);
}

/* Ends a flow, because no further point belongs to it. */
static void prof__chrome_flow_end(prof__chrome *c, prof__chrome_flow *flow)
{
    if (flow->state == PROF__CHROME_BEGUN && !flow->shown)
        prof__chrome_alone(c, flow, flow->at, flow->track, flow->depth, flow->ns);
    if (flow->state == PROF__CHROME_JOINED) prof__chrome_arrow(c, flow, ",\n{\"ph\":\"f\"");
    flow->state = PROF__CHROME_IDLE;
}

static void prof__chrome_flow_point(prof__chrome *c, prof__chrome_flow *flow, const prof_event *event, size_t track)
{
    if (event->type == PROF_EVENT_FLOW_OUT) {
        prof__chrome_flow_end(c, flow);
        flow->site = event->site;
        flow->count++;
        flow->state = PROF__CHROME_BEGUN;
    } else if (flow->state == PROF__CHROME_IDLE) {
        if (!event->arg_count) prof__chrome_alone(c, flow, event->site, track, event->depth, event->start_ns);
        return;
    } else {
        prof__chrome_arrow(c, flow, flow->state == PROF__CHROME_BEGUN ? ",\n{\"ph\":\"s\"" : ",\n{\"ph\":\"t\"");
        flow->state = PROF__CHROME_JOINED;
    }
    flow->at = event->site;
    flow->ns = event->start_ns;
    flow->track = track;
    flow->depth = event->depth;
    flow->shown = event->arg_count != 0;
}

/* Writes a point of a flow that other processes have, too: viewers join them by its name and id. */
static void prof__chrome_shared(prof__chrome *c, const prof_event *event, size_t track)
{
    prof__chrome_flow point;
    memset(&point, 0, sizeof point);
    point.of.name = event->name;
    point.of.id = event->object;
    point.site = event->site;
    point.ns = event->start_ns;
    point.track = track;
    prof__chrome_arrow(c, &point, event->type == PROF_EVENT_FLOW_OUT    ? ",\n{\"ph\":\"s\""
                                  : event->type == PROF_EVENT_FLOW_STEP ? ",\n{\"ph\":\"t\""
                                                                        : ",\n{\"ph\":\"f\"");
}

static void prof__chrome_write_flows(prof__chrome *c)
{
    prof__flows flows;
    prof_timeline *timeline = NULL;
    prof_event event;
    size_t track, i;
    prof_status status, closed;
    if (!prof__chrome_any(c, PROF__GROUP_FLOW)) return;
    status = prof__timeline_of(c->trace, PROF__GROUP_FLOW, PROF__GROUP_FLOW, prof__chrome_has, c, &timeline);
    memset(&flows, 0, sizeof flows);
    flows.element = sizeof(prof__chrome_flow);
    while (status == PROF_OK && c->out.status == PROF_OK && prof_timeline_next(timeline, &event, &track)) {
        prof__chrome_flow *flow;
        event.start_ns += c->offset;
        if (!prof__chrome_wanted(c, &event)) continue;
        if (c->part_count > 1 && event.site->role == PROF_ROLE_SHARED) {
            prof__chrome_shared(c, &event, track);
            continue;
        }
        flow = (prof__chrome_flow *)prof__flow_of(&flows, &event);
        if (flow)
            prof__chrome_flow_point(c, flow, &event, track);
        else
            status = prof__fail(PROF_NO_MEMORY, "no memory for %lu flows", (unsigned long)flows.count);
    }
    for (i = 0; i < flows.count; i++) prof__chrome_flow_end(c, (prof__chrome_flow *)prof__flow_at(&flows, i));
    c->pid = c->part->pid;
    closed = prof_timeline_close(timeline);
    if (status || closed) prof__out_fail(&c->out, status ? status : closed);
    prof__flows_free(&flows);
}

#endif /* PROF__CHROME_FLOWS_H */
