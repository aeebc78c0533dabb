// chrome/file: Writes a file out of several traces.
#ifndef PROF__CHROME_FILE_H
#define PROF__CHROME_FILE_H
#include "api/read.h"
#include "api/types.h"
#include "api/values.h"
#include "ground/errors.h"
#include "ground/out.h"
#include "chrome/api.h"
#include "chrome/counters.h"
#include "chrome/flows.h"
#include "chrome/line.h"
#include "chrome/locks.h"
#include "chrome/memory.h"
#include "chrome/process.h"
#include "chrome/spans.h"
#include "chrome/state.h"
#include "chrome/states.h"
#include "chrome/track.h"

/*-- the file --*/

static void prof__chrome_write_part(prof__chrome *c, prof__chrome_track *track)
{
    size_t i, tracks = prof_trace_track_count(c->trace);
    uint32_t devices = 0;
    int states = prof__chrome_has_states(c);
    c->lock_tid = 0;
    prof__chrome_process(c);
    for (i = 0; i < tracks; i++) {
        const prof_track *about = prof_trace_track(c->trace, i);
        int64_t place = (int64_t)i + 1 + (about->fiber ? (int64_t)tracks : 0); /* fibers come below threads */
        int first = c->threads[i].id == c->part->pid;
        prof__chrome_enter(c, i);
        if (*about->device && (!i || c->threads[i - 1].pid != c->pid)) prof__chrome_device(c, about, ++devices);
        if (*about->name || about->fiber)
            prof__chrome_thread_name(c, c->threads[i].id, "", *about->name ? about->name : "fiber");
        prof__chrome_sort_index(c, c->threads[i].id, c->threads[i].id == c->pid ? 0 : place * (1 + states));
        if (states) prof__chrome_states(c, i, first ? 1 : place * 2 + 1);
    }
    for (i = 0; i < tracks && c->out.status == PROF_OK; i++) prof__chrome_write_track(c, track, i);
    c->pid = c->part->pid;
    if (c->out.status == PROF_OK) prof__chrome_write_flows(c);
    if (c->out.status == PROF_OK) prof__chrome_spans(c, track);
    if (c->out.status == PROF_OK) prof__chrome_counters(c);
    if (c->out.status == PROF_OK) prof__chrome_memory(c);
    if (c->out.status == PROF_OK) prof__chrome_locks(c);
    prof__chrome_lost_elsewhere(c);
}

static void prof__chrome_all(prof__chrome *c)
{
    size_t i, tracks = 0;
    prof__chrome_track *track = (prof__chrome_track *)malloc(sizeof *track);
    prof__chrome_thread *threads;
    for (i = 0; i < c->part_count; i++) tracks += prof_trace_track_count(c->parts[i].trace);
    threads = (prof__chrome_thread *)calloc(tracks + 1, sizeof *threads);
    c->taken = NULL;
    prof__chrome_processes(c);
    c->stamp = 0;
    c->frame_tracks = 0;
    c->mark_count = 0;
    c->mark_thread = NULL;
    memset(&c->sites, 0, sizeof c->sites);
    if (!track || !threads || !prof__chrome_threads(c, threads, tracks)) {
        prof__out_fail(&c->out, prof__fail(PROF_NO_MEMORY, "no memory to write %lu tracks", (unsigned long)tracks));
    } else {
        prof__chrome_devices(c);
        prof__chrome_recorder(c);
        for (i = 0; i < c->part_count; i++) {
            prof__chrome_select(c, &c->parts[i]);
            prof__chrome_about(c);
        }
        PROF__CHROME_LITERAL(&c->out, "},\n\"traceEvents\":[");
        for (i = 0; i < c->part_count && c->out.status == PROF_OK; i++) {
            prof__chrome_select(c, &c->parts[i]);
            prof__site_texts_open(&c->sites, c->trace);
            prof__chrome_write_part(c, track);
        }
        PROF__CHROME_LITERAL(&c->out, "\n]}\n");
    }
    free(track);
    free(threads);
    free(c->taken);
    prof__site_texts_free(&c->sites);
}

static prof_status prof__chrome_check(prof__chrome *c, const prof_chrome_options *options)
{
    memset(&c->options, 0, sizeof c->options);
    if (options) c->options = *options;
    if (c->options.to_ns && c->options.to_ns <= c->options.from_ns)
        return prof__fail(PROF_INVALID_ARGUMENT, "to_ns must be later than from_ns");
    if ((unsigned)c->options.source > PROF_CHROME_SOURCE_NONE)
        return prof__fail(PROF_INVALID_ARGUMENT, "source must be one of prof_chrome_source");
    return PROF_OK;
}

/* Makes c->parts of the traces, with a common time line. The caller frees c->parts, unless this fails. */
static prof_status prof__chrome_parts(prof__chrome *c, const prof_trace *const *traces, size_t count)
{
    int64_t *offsets;
    size_t i;
    if (!traces || !count) return prof__fail(PROF_INVALID_ARGUMENT, "no trace to write");
    for (i = 0; i < count; i++)
        if (!traces[i]) return prof__fail(PROF_INVALID_ARGUMENT, "no trace to write");
    offsets = (int64_t *)calloc(count, sizeof *offsets);
    c->parts = (prof__chrome_part *)calloc(count, sizeof *c->parts);
    if (!offsets || !c->parts) {
        free(offsets);
        free(c->parts);
        return prof__fail(PROF_NO_MEMORY, "no memory to merge %lu traces", (unsigned long)count);
    }
    c->traces = traces;
    c->part_count = count;
    c->machines = prof_trace_align(traces, count, offsets);
    for (i = 0; i < count; i++) {
        c->parts[i].trace = traces[i];
        c->parts[i].offset = offsets[i];
    }
    free(offsets);
    return PROF_OK;
}

#endif /* PROF__CHROME_FILE_H */
