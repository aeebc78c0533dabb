// layouts/why_devices: What devices, such as a GPU, did during the calls that prof_why() explains.
#ifndef PROF__LAYOUTS_WHY_DEVICES_H
#define PROF__LAYOUTS_WHY_DEVICES_H
#include "api/read.h"
#include "layouts/api.h"
#include "layouts/why_calls.h"
#include "layouts/why_parts.h"

static int prof__why_of_device(const prof__why *why, size_t track)
{
    return *prof_trace_track(why->trace, track)->device != 0;
}

/* Returns 1 if a track has work of a device. prof_cuda.h's devices CUDA and NVTX have what threads of the host did:
   their calls that wait, what tracing cost, and ranges. */
static int prof__why_works(const prof__why *why, size_t track)
{
    const char *device = prof_trace_track(why->trace, track)->device;
    return *device && strcmp(device, "CUDA") != 0 && strcmp(device, "NVTX") != 0;
}

/* Returns the row of a device's scopes of this name. Adds it if it is new. Returns NULL without memory. */
static prof_why_device *prof__why_device_row(prof__why_call *call, size_t track, const char *name)
{
    size_t i;
    prof_why_device *row;
    for (i = 0; i < call->about.device_count; i++)
        if (call->devices[i].track == track && !strcmp(call->devices[i].name, name)) return &call->devices[i];
    row = (prof_why_device *)PROF__MORE(call->devices, call->device_room, call->about.device_count);
    if (!row) return NULL;
    row->name = name;
    row->track = track;
    return row;
}

/* Returns how long the thread of a call waited in a time, without the waits that are recorded. */
static uint64_t prof__why_unexplained(const prof__why *why, const prof__why_call *call, int64_t from, int64_t to)
{
    prof_split split;
    size_t low = 0, high = why->wait_count;
    uint64_t explained = 0;
    prof_track_split(why->trace, call->about.track, from, to - from, &split);
    while (split.waiting_ns && low < high) { /* the first wait in the call */
        size_t middle = low + (high - low) / 2;
        if (why->waits[middle].start_ns < call->about.start_ns)
            low = middle + 1;
        else
            high = middle;
    }
    for (; split.waiting_ns && low < why->wait_count && why->waits[low].start_ns < to; low++) {
        const prof_wait *wait = &why->waits[low];
        int64_t start = wait->start_ns > from ? wait->start_ns : from;
        int64_t end = wait->start_ns + wait->duration_ns < to ? wait->start_ns + wait->duration_ns : to;
        prof_split known;
        if (wait->track != call->about.track || end <= start) continue;
        prof_track_split(why->trace, call->about.track, start, end - start, &known);
        explained += known.waiting_ns;
        from = end;
    }
    return split.waiting_ns > explained ? split.waiting_ns - explained : 0;
}

/* Adds a time in which a device's scope was the innermost one to the calls of threads at that time. */
static int prof__why_device_spent(prof__why *why, size_t name, int64_t from, int64_t to)
{
    size_t i;
    if (name == PROF__NONE || !prof__why_works(why, why->track)) return 1;
    for (i = 0; i < why->count; i++) {
        prof__why_call *call = &why->calls[i];
        int64_t start = from > call->about.start_ns ? from : call->about.start_ns;
        int64_t end = to < prof__why_end(call) ? to : prof__why_end(call);
        prof_why_device *row;
        if (end <= start || prof__why_of_device(why, call->about.track)) continue;
        row = prof__why_device_row(call, why->track, why->names.items[name].text);
        if (!row) return 0;
        row->ns += (uint64_t)(end - start);
        row->waited_ns += prof__why_unexplained(why, call, start, end);
    }
    return 1;
}

static int prof__why_device_order(const void *a, const void *b)
{
    const prof_why_device *x = (const prof_why_device *)a, *y = (const prof_why_device *)b;
    if (x->ns != y->ns) return x->ns > y->ns ? -1 : 1;
    if (x->track != y->track) return x->track < y->track ? -1 : 1;
    return strcmp(x->name, y->name);
}

#endif /* PROF__LAYOUTS_WHY_DEVICES_H */
