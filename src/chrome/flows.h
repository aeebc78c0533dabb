// chrome/flows: Writes flows as arrows between scopes.
#ifndef PROF__CHROME_FLOWS_H
#define PROF__CHROME_FLOWS_H
#include "api/read.h"
#include "api/types.h"
#include "api/values.h"
#include "ground/errors.h"
#include "ground/hash.h"
#include "ground/out.h"
#include "read/records.h"
#include "chrome/args.h"
#include "chrome/instants.h"
#include "chrome/line.h"
#include "chrome/numbers.h"
#include "chrome/state.h"

/*-- flows --
   While the tracks are written, it is only noted that there are flows. Afterwards the points of all tracks are read
   again, in order of time. Viewers want the last point of a flow to be an "f", and those between to be a "t". So each
   point is held until it is known whether another follows. An arrow leads from slice to slice; a point outside of
   slices gets one. */

enum { PROF__CHROME_IDLE = 0, PROF__CHROME_BEGUN, PROF__CHROME_JOINED };

/* The flow that is going on with one name and id. */
typedef struct prof__chrome_flow {
    const char *name;
    uint64_t id, count;        /* count: how many flows there were with this name and id */
    const prof_callsite *site; /* the call site of its FLOW_OUT */
    const prof_callsite *at;   /* of the point that is held: the call site, */
    int64_t ns;
    size_t track;
    uint32_t depth;
    int shown;                 /* 1: the point was written as an instant before */
    int state;                 /* BEGUN: the point is the FLOW_OUT, and no other has come yet */
} prof__chrome_flow;

typedef struct prof__chrome_flows {
    prof__chrome_flow *items;
    size_t count, capacity;
    prof__read_index index;
} prof__chrome_flows;

static int prof__chrome_same_flow(const void *owner, size_t item, const void *key)
{
    const prof__chrome_flow *flow = (const prof__chrome_flow *)owner + item;
    const prof_event *event = (const prof_event *)key;
    return flow->id == event->object && !strcmp(flow->name, event->name);
}

/* Returns the flow with the name and id of a point. Adds it if it is new. Returns NULL without memory. */
static prof__chrome_flow *prof__chrome_flow_of(prof__chrome_flows *flows, const prof_event *event)
{
    uint32_t hash = (uint32_t)prof__mix(event->object) + prof__text_hash(event->name);
    size_t item = prof__read_find(&flows->index, hash, prof__chrome_same_flow, flows->items, event);
    if (item == PROF__NONE) {
        item = flows->count;
        if (!PROF__ROOM(flows->items, flows->capacity, item) || !prof__read_add(&flows->index, hash, item)) return NULL;
        memset(&flows->items[item], 0, sizeof *flows->items);
        flows->items[item].id = event->object;
        flows->items[item].name = event->name; /* not made at run time, so it lives as long as the trace */
        flows->items[item].site = event->site;
        flows->count++;
    }
    return &flows->items[item];
}

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
    c->flows = 1;
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
    prof_event point = prof__chrome_point(flow->name, flow->site, flow->ns, flow->id, &arg);
    char name[200];
    if (flow->count > 1 || c->part_count > 1) {
        size_t at = strlen(flow->name) < 120 ? strlen(flow->name) : 120;
        memcpy(name, flow->name, at);
        name[at] = 0;
        if (flow->count > 1) snprintf(name + at, sizeof name - at, " #%llu", (unsigned long long)flow->count);
        at = strlen(name);
        if (c->part_count > 1) snprintf(name + at, sizeof name - at, " of %lu", (unsigned long)c->part->pid);
        point.name = name;
    }
    prof__chrome_enter(c, flow->track);
    prof__chrome_make_ids(c, &ids, c->threads[flow->track].id);
    prof__chrome_begin(c, &ids, &point, start, prof__chrome_time(flow->ns));
    PROF__CHROME_LITERAL(out, ",\"id\":\"");
    prof__chrome_hex(out, flow->id);
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
    prof_event point = prof__chrome_point(flow->name, site, ns, flow->id, &arg);
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

static void prof__chrome_write_flows(prof__chrome *c)
{
    prof__chrome_flows flows;
    prof_timeline *timeline = NULL;
    prof_event event;
    size_t track, i;
    prof_status status = prof_timeline_open(c->trace, &timeline);
    memset(&flows, 0, sizeof flows);
    while (status == PROF_OK && c->out.status == PROF_OK && prof_timeline_next(timeline, &event, &track)) {
        prof__chrome_flow *flow;
        event.start_ns += c->offset;
        if (!prof__is_flow(event.type) || !prof__chrome_wanted(c, &event)) continue;
        flow = prof__chrome_flow_of(&flows, &event);
        if (flow)
            prof__chrome_flow_point(c, flow, &event, track);
        else
            status = prof__fail(PROF_NO_MEMORY, "no memory for %lu flows", (unsigned long)flows.count);
    }
    for (i = 0; i < flows.count; i++) prof__chrome_flow_end(c, &flows.items[i]);
    c->pid = c->part->pid;
    if (status == PROF_OK) status = prof_timeline_close(timeline);
    else prof_timeline_close(timeline);
    if (status != PROF_OK) prof__out_fail(&c->out, status);
    free(flows.items);
    free(flows.index.slots);
}

#endif /* PROF__CHROME_FLOWS_H */
