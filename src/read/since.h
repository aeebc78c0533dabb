// read/since: The moments from which on the statistics of a trace count, for the resets of prof_report.h.
#ifndef PROF__READ_SINCE_H
#define PROF__READ_SINCE_H
#include "api/values.h"
#include "read/clock.h"
#include "read/find.h"
#include "read/trace.h"

/*-- SINCE ------------------------------------------------------------------------------------------------ >>since --*/

/* How far a track had been read. The moment is stored in ticks, because later clock pairs may change nanoseconds. The
   clock of a device has pairs of its own, so for a device's row the event that ended last is stored as well. */
typedef struct prof__bound {
    uint64_t track, tick; /* track: from prof__bound_track() */
    uint64_t id;          /* id of the row's last event; 0 for threads */
} prof__bound;

/* How far each track of a session had been read; all zero: no track. The caller owns the struct, and frees `bounds`. */
typedef struct prof__bounds {
    uint64_t session, process; /* the session and process that the bounds belong to */
    prof__bound *bounds;       /* sorted by track, then tick */
    size_t count;
} prof__bounds;

/* Returns a number that identifies a track in all traces of a session. The ids of devices' rows follow those of
   threads, and so differ from trace to trace; for a row, its number in the image is used instead. */
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

/* Makes the statistics of a trace count only what ended after the bounds, if the bounds belong to the trace's session.
   Does not change statistics that were kept while recording, because prof__trace_live() resets those. Returns 0 if
   there is no memory. */
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

/* Sets the bounds to the end of a trace, unless the trace has statistics that were kept while recording. A child forked
   at any moment has either the old bounds or the new ones. Returns 0, with the bounds unchanged, if there is no
   memory. */
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
    all->bounds = bounds; /* set before the old bounds are freed */
    all->count = count;
    all->session = trace->header.session;
    all->process = trace->header.pid;
    free(old);
    return 1;
}

/* Returns 1 if the statistics of a trace count what ends at this time on this track. */
static int prof__trace_counts(const prof_trace *trace, size_t track, int64_t ns)
{
    return !trace->since || ns > trace->since[track];
}

/* Returns 1 if prof__bounds_apply() has changed what the statistics count. */
static int prof__trace_bounded(const prof_trace *trace) { return trace->since != NULL; }

/* Returns 1 if the trace has statistics that were kept while recording. */
static int prof__trace_aggregated(const prof_trace *trace) { return trace->aggregated != NULL; }

#endif /* PROF__READ_SINCE_H */
