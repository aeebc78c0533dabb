// xplane/open: Prepares a trace: its window, and ids of its threads.
#ifndef PROF__XPLANE_OPEN_H
#define PROF__XPLANE_OPEN_H
#include "api/read.h"
#include "api/types.h"
#include "api/values.h"
#include "ground/errors.h"
#include "ground/out.h"
#include "xplane/api.h"
#include "xplane/events.h"
#include "xplane/lines.h"
#include "xplane/names.h"
#include "xplane/planes.h"
#include "xplane/state.h"

/*-- ids of threads --*/

typedef struct prof__xplane_id {
    uint64_t id;
    size_t track;
} prof__xplane_id;

static int prof__xplane_by_id(const void *a, const void *b)
{
    const prof__xplane_id *x = (const prof__xplane_id *)a, *y = (const prof__xplane_id *)b;
    if (x->id != y->id) return x->id < y->id ? -1 : 1;
    return x->track < y->track ? -1 : x->track > y->track;
}

/* Gives each track an id that no other has: the system's thread id, unless that is too large or taken. Returns 0
   without memory. */
static int prof__xplane_number_tracks(prof__xplane *x)
{
    size_t i, tracks = prof_trace_track_count(x->trace);
    uint32_t next = PROF__XPLANE_ID;
    prof__xplane_id *ids = (prof__xplane_id *)malloc((tracks + 1) * sizeof *ids);
    x->tracks = (prof__xplane_track *)calloc(tracks + 1, sizeof *x->tracks);
    if (ids && x->tracks) {
        for (i = 0; i < tracks; i++) {
            const prof_track *track = prof_trace_track(x->trace, i);
            /* the thread of a fiber has a track of its own */
            ids[i].id = track->fiber || *track->device ? UINT64_MAX : track->thread_id;
            ids[i].track = i;
        }
        qsort(ids, tracks, sizeof *ids, prof__xplane_by_id);
        for (i = 0; i < tracks; i++)
            if (ids[i].id && ids[i].id < PROF__XPLANE_ID && (!i || ids[i].id != ids[i - 1].id))
                x->tracks[ids[i].track].id = (uint32_t)ids[i].id;
        for (i = 0; i < tracks; i++)
            if (!x->tracks[i].id) x->tracks[i].id = next++;
    }
    free(ids);
    return ids && x->tracks;
}

/* Returns when the window of a trace begins, in the time of all traces. */
static int64_t prof__xplane_begin(const prof_trace *trace, int64_t offset)
{
    return prof__xplane_time(prof_trace_about(trace)->from_ns) + offset;
}

/* Writes a trace to x->out, and closes it. first: the trace whose window is the earliest. */
static prof_status prof__xplane_trace(prof__xplane *x, const prof_trace *trace, int64_t offset, const prof_trace *first,
                                      int64_t first_offset, const char *host)
{
    size_t i;
    prof__xplane_bytes *const bytes[] = {&x->stats, &x->point, &x->meta, &x->kept,
                                         &x->part,  &x->entry, &x->text, &x->joined};
    x->trace = trace;
    x->about = prof_trace_about(trace);
    x->offset = offset;
    x->from = prof__xplane_time(x->about->from_ns);
    x->later = prof__xplane_begin(trace, offset) - prof__xplane_begin(first, first_offset);
    x->start_unix_ns = prof_trace_about(first)->start_unix_ns + (uint64_t)prof__xplane_begin(first, 0);
    if (!prof__xplane_number_tracks(x))
        x->status = PROF_NO_MEMORY;
    else if (x->out.status == PROF_OK)
        prof__xplane_space(x, host);
    if (x->status == PROF_OK && x->out.status == PROF_OK && !prof__xplane_sound(x)) x->status = PROF_NO_MEMORY;
    if (x->status == PROF_NO_MEMORY) prof__fail(PROF_NO_MEMORY, "no memory to write %s", prof__xplane_file_name(x));
    if (x->status) prof__out_fail(&x->out, x->status);
    prof__xplane_names_clear(x);
    for (i = 0; x->tracks && i < prof_trace_track_count(trace); i++) free(x->tracks[i].flows);
    for (i = 0; i < sizeof bytes / sizeof *bytes; i++) free(bytes[i]->data);
    for (i = 0; i < x->step_count; i++) free(x->steps[i].text);
    free(x->tracks);
    free(x->lines);
    free(x->names);
    free(x->groups);
    free(x->steps);
    free(x->open);
    free(x->keys);
    return prof__out_close(&x->out);
}

static prof_status prof__xplane_check(const prof_xplane_options *options)
{
    if (options && options->to_ns && options->to_ns <= options->from_ns)
        return prof__fail(PROF_INVALID_ARGUMENT, "to_ns must be later than from_ns");
    return PROF_OK;
}

/* Returns a new state. Returns NULL without memory, and then sets prof_error(). */
static prof__xplane *prof__xplane_new(const prof_xplane_options *options)
{
    prof__xplane *x = (prof__xplane *)calloc(1, sizeof *x);
    if (!x) prof__fail(PROF_NO_MEMORY, "no memory to write an XSpace");
    if (x && options) x->options = *options;
    return x;
}

#endif /* PROF__XPLANE_OPEN_H */
