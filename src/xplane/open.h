// xplane/open: Prepares a trace: its window, and ids of its threads.
#ifndef PROF__XPLANE_OPEN_H
#define PROF__XPLANE_OPEN_H
#include "api/read.h"
#include "api/types.h"
#include "api/values.h"
#include "ground/errors.h"
#include "ground/out.h"
#include "display/tracks.h"
#include "xplane/api.h"
#include "xplane/events.h"
#include "xplane/lines.h"
#include "xplane/names.h"
#include "xplane/planes.h"
#include "xplane/state.h"

/*-- ids of threads --*/

/* Gives each track an id that no other has. Returns 0 without memory. */
static int prof__xplane_number_tracks(prof__xplane *x)
{
    size_t i, tracks = prof_trace_track_count(x->trace);
    uint32_t next = PROF__DISPLAY_ID, *ids = (uint32_t *)malloc((tracks + 1) * sizeof *ids);
    int good;
    x->tracks = (prof__xplane_track *)calloc(tracks + 1, sizeof *x->tracks);
    good = ids && x->tracks && prof__display_ids(&x->trace, 1, tracks, ids, &next);
    for (i = 0; good && i < tracks; i++) x->tracks[i].id = ids[i];
    free(ids);
    return good;
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
    x->sites = (prof__xplane_site_name *)calloc(prof__site_count(trace), sizeof *x->sites);
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
    free(x->flow_gpus);
    for (i = 0; i < sizeof bytes / sizeof *bytes; i++) free(bytes[i]->data);
    for (i = 0; i < x->step_count; i++) free(x->steps[i].text);
    free(x->tracks);
    free(x->lines);
    free(x->names);
    free(x->sites);
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
