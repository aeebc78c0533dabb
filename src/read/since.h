// read/since: From which moment on the statistics of a trace count: the resets of prof_report.h.
#ifndef PROF__READ_SINCE_H
#define PROF__READ_SINCE_H
#include "api/read.h"
#include "read/clock.h"
#include "read/find.h"
#include "read/trace.h"

/*-- SINCE ------------------------------------------------------------------------------------------------ >>since --*/

/* How far a track had been read. In ticks, because a later clock pair may shift nanoseconds. For devices, whose clocks
   have pairs of their own, also the event that ended last. */
typedef struct prof__bound {
    uint64_t track, tick; /* track: see prof__bound_track() */
    uint64_t id;          /* of a device's last event, else 0 */
} prof__bound;

/* How far each track of a session had been read; all zero: no track. The caller owns it, and frees `bounds`. */
typedef struct prof__bounds {
    uint64_t session, process; /* to which they belong */
    prof__bound *bounds;       /* sorted */
    size_t count;
} prof__bounds;

/* Returns what identifies a track in all traces of a session. The ids of devices' rows come after those of threads, so
   that they differ from trace to trace. */
static uint64_t prof__bound_track(const prof_trace *trace, const prof__read_track *track)
{
    if (!track->device_record_count || !*track->about.device) return track->about.id;
    return (uint64_t)1 << 63 | trace->rows[trace->device_records[track->device_record].row].number;
}

static int prof__bound_order(const void *a, const void *b)
{
    const prof__bound *x = (const prof__bound *)a, *y = (const prof__bound *)b;
    if (x->track != y->track) return x->track < y->track ? -1 : 1;
    return x->tick < y->tick ? -1 : x->tick > y->tick;
}

/* Returns the latest bound of a track, or NULL if it has none. */
static const prof__bound *prof__bound_of(const prof__bounds *all, uint64_t track)
{
    size_t low = 0, high = all->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (all->bounds[middle].track <= track)
            low = middle + 1;
        else
            high = middle;
    }
    return low && all->bounds[low - 1].track == track ? &all->bounds[low - 1] : NULL;
}

/* Makes the statistics of a trace count only what ended after the bounds, if these belong to its session. Returns 0
   without memory. Does not change statistics that were kept while recording: prof__trace_live() resets those. */
static int prof__bounds_apply(const prof__bounds *all, prof_trace *trace)
{
    size_t count = trace->track_count, hint = 0, i, j;
    if (trace->aggregated || !all->bounds || all->session != trace->header.session || all->process != trace->header.pid)
        return 1;
    free(trace->since);
    trace->since = (int64_t *)malloc((count + 1) * sizeof *trace->since);
    for (i = 0; trace->since && i < count; i++) {
        const prof__read_track *track = &trace->tracks[i];
        const prof__bound *bound = prof__bound_of(all, prof__bound_track(trace, track));
        trace->since[i] = bound ? prof__read_ns(trace, bound->tick, &hint) : -1;
        for (j = track->device_record; bound && j < track->device_record + track->device_record_count; j++)
            if (trace->device_records[j].id == bound->id) trace->since[i] = trace->device_records[j].end_ns;
    }
    return trace->since != NULL;
}

/* Sets the bounds to the end of a trace, unless it has statistics that were kept while recording. A fork() at any
   moment leaves the child either the old bounds or the new ones. Returns 0 without memory: then the bounds stay as they
   were. */
static int prof__bounds_take(prof__bounds *all, const prof_trace *trace)
{
    size_t count = trace->track_count, i, j;
    prof__bound *bounds, *old = all->bounds;
    if (trace->aggregated) return 1;
    bounds = (prof__bound *)malloc((count + 1) * sizeof *bounds);
    if (!bounds) return 0;
    for (i = 0; i < count; i++) {
        const prof__read_track *track = &trace->tracks[i];
        bounds[i].track = prof__bound_track(trace, track);
        bounds[i].tick = prof__image_tick(trace, track->about.last_ns + 1) - 1;
        bounds[i].id = 0;
        for (j = track->device_record; j < track->device_record + track->device_record_count; j++)
            if (trace->device_records[j].end_ns == track->about.last_ns) bounds[i].id = trace->device_records[j].id;
    }
    qsort(bounds, count, sizeof *bounds, prof__bound_order);
    all->bounds = bounds; /* before the old ones are freed */
    all->count = count;
    all->session = trace->header.session;
    all->process = trace->header.pid;
    free(old);
    return 1;
}

/* Returns 1 if the statistics of a trace count what ends at this time on a track. */
static int prof__trace_counts(const prof_trace *trace, size_t track, int64_t ns)
{
    return !trace->since || ns > trace->since[track];
}

/* Returns 1 if prof__bounds_apply() has changed what the statistics count. */
static int prof__trace_bounded(const prof_trace *trace) { return trace->since != NULL; }

/* Returns 1 if the trace has statistics that were kept while recording. */
static int prof__trace_aggregated(const prof_trace *trace) { return trace->aggregated != NULL; }

#endif /* PROF__READ_SINCE_H */
