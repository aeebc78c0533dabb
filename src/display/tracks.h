// display/tracks: Ids of threads, and what lies in the window that is written.
#ifndef PROF__DISPLAY_TRACKS_H
#define PROF__DISPLAY_TRACKS_H
#include "api/read.h"
#include "api/values.h"
#include "ground/base.h"

/*-- ids of threads --*/

#define PROF__DISPLAY_ID 1000000000u /* the first of our own ids, which the system does not give */

typedef struct prof__display_id {
    uint64_t id;
    size_t track; /* counted over all traces */
} prof__display_id;

static int prof__display_id_order(const void *a, const void *b)
{
    const prof__display_id *x = (const prof__display_id *)a, *y = (const prof__display_id *)b;
    if (x->id != y->id) return x->id < y->id ? -1 : 1;
    return x->track < y->track ? -1 : x->track > y->track;
}

/* Gives each track an id that no other has: the system's thread id, or, if that is 0, too large or taken, *next, which
   it counts up. ids: has space for the tracks of all traces. Returns 0 without memory. */
static int prof__display_ids(const prof_trace *const *traces, size_t count, size_t tracks, uint32_t *ids,
                             uint32_t *next)
{
    size_t i, j, at = 0;
    prof__display_id *sorted = (prof__display_id *)malloc((tracks + 1) * sizeof *sorted);
    if (!sorted) return 0;
    for (i = 0; i < count; i++)
        for (j = 0; j < prof_trace_track_count(traces[i]); j++, at++) {
            const prof_track *track = prof_trace_track(traces[i], j);
            /* the thread of a fiber has a track of its own */
            sorted[at].id = track->fiber || *track->device ? UINT64_MAX : track->thread_id;
            sorted[at].track = at;
        }
    qsort(sorted, tracks, sizeof *sorted, prof__display_id_order);
    for (i = 0; i < tracks; i++) {
        int fine = sorted[i].id < PROF__DISPLAY_ID && (!i || sorted[i].id != sorted[i - 1].id);
        ids[sorted[i].track] = fine ? (uint32_t)sorted[i].id : 0;
    }
    for (i = 0; i < tracks; i++)
        if (!ids[i]) ids[i] = (*next)++;
    free(sorted);
    return 1;
}

/*-- windows: from `from` on, before `to`; to 0: without an end --*/

static int prof__display_in(int64_t start, int64_t end, int64_t from, int64_t to)
{
    return end >= from && (!to || start < to);
}

/* Returns 1 if an event lies in a window, at least in part. offset: is added to its times. */
static int prof__display_wanted(const prof_event *event, int64_t offset, int64_t from, int64_t to)
{
    int64_t start = event->start_ns + offset, end = start;
    if (event->type == PROF_EVENT_SCOPE) end += event->duration_ns;
    if (event->type == PROF_EVENT_FRAME) start -= event->duration_ns;
    return prof__display_in(start, end, from, to);
}

#endif /* PROF__DISPLAY_TRACKS_H */
