// display/flows: Finds what is known of a flow: points of the same name and id belong to it.
#ifndef PROF__DISPLAY_FLOWS_H
#define PROF__DISPLAY_FLOWS_H
#include "api/read.h"
#include "ground/hash.h"

/*-- flows --*/

typedef struct prof__flow { /* begins each item */
    const char *name; /* not made at run time, so it lives as long as the trace */
    uint64_t id;
} prof__flow;

typedef struct prof__flows {
    void *items;
    size_t element, count, capacity; /* element: bytes of an item */
    prof__read_index index;
} prof__flows;

static prof__flow *prof__flow_at(const prof__flows *flows, size_t item)
{
    return (prof__flow *)((char *)flows->items + item * flows->element);
}

static int prof__flow_same(const void *owner, size_t item, const void *key)
{
    const prof__flow *flow = prof__flow_at((const prof__flows *)owner, item);
    const prof_event *event = (const prof_event *)key;
    return flow->id == event->object && !strcmp(flow->name, event->name);
}

/* Returns the flow of a point. Adds it, zeroed behind its name and id, if it is new. Returns NULL without memory. */
static prof__flow *prof__flow_of(prof__flows *flows, const prof_event *event)
{
    uint32_t hash = (uint32_t)prof__mix(event->object) + prof__text_hash(event->name);
    size_t item = prof__read_find(&flows->index, hash, prof__flow_same, flows, event);
    prof__flow *flow;
    if (item != PROF__NONE) return prof__flow_at(flows, item);
    item = prof__new_item(&flows->index, hash, &flows->items, &flows->capacity, &flows->count, flows->element);
    if (item == PROF__NONE) return NULL;
    flow = prof__flow_at(flows, item);
    flow->name = event->name;
    flow->id = event->object;
    return flow;
}

static void prof__flows_free(prof__flows *flows)
{
    free(flows->items);
    free(flows->index.slots);
}

#endif /* PROF__DISPLAY_FLOWS_H */
