// read/samples: Gives samples to the tracks of their threads, and finds modules by address.
#ifndef PROF__READ_SAMPLES_H
#define PROF__READ_SAMPLES_H
#include "api/read.h"
#include "read/chains.h"
#include "read/clock.h"
#include "read/faults.h"
#include "read/states.h"
#include "read/trace.h"

static int prof__sample_order(const void *a, const void *b)
{
    const prof__read_sample *x = (const prof__read_sample *)a, *y = (const prof__read_sample *)b;
    if (x->thread != y->thread) return x->thread < y->thread ? -1 : 1;
    if (x->ns != y->ns) return x->ns < y->ns ? -1 : 1;
    if (x->processor != y->processor) return x->processor < y->processor ? -1 : 1;
    return x->chain < y->chain ? -1 : x->chain > y->chain;
}

/* Appends the samples of one thread. */
static void prof__samples_append(prof_trace *trace, const prof__read_sample *items, size_t count)
{
    size_t i;
    for (i = 0; i < count; i++) {
        prof_sample *sample = &trace->samples[trace->sample_count++];
        const prof__read_chain *chain = &trace->chains[items[i].chain];
        int64_t ns = prof__read_since(trace, items[i].ns);
        sample->time_ns = ns < 0 ? 0 : ns;
        sample->frames = trace->frames + chain->first;
        sample->frame_count = chain->count;
        sample->processor = (int32_t)items[i].processor;
        sample->thread_id = items[i].thread;
    }
}

/* Divides the samples of a thread, which are the trace's last ones, among the tracks with its id: each has those up to
   the first event of the next one. */
static void prof__samples_give(prof_trace *trace, const prof__read_owner *owners, size_t count, size_t first)
{
    size_t i;
    for (i = 0; i < count; i++) {
        prof__read_track *track = &trace->tracks[owners[i].track];
        int64_t to = i + 1 < count ? owners[i + 1].first_ns : INT64_MAX;
        track->sample = first;
        for (; first < trace->sample_count && trace->samples[first].time_ns < to; first++) continue;
        track->sample_count = first - track->sample;
    }
}

/* Appends the samples of all threads that have a track, or (tracked: 0) of all that have none. */
static void prof__samples_of(prof_trace *trace, const prof__read_owner *owners, size_t count, int tracked)
{
    size_t from, to, owner = 0, end;
    for (from = 0; from < trace->sample_item_count; from = to) {
        size_t first = trace->sample_count;
        uint32_t thread = trace->sample_items[from].thread;
        for (to = from + 1; to < trace->sample_item_count && trace->sample_items[to].thread == thread;) to++;
        while (owner < count && owners[owner].thread < thread) owner++;
        for (end = owner; end < count && owners[end].thread == thread;) end++;
        if ((end > owner) != tracked) continue;
        prof__samples_append(trace, trace->sample_items + from, to - from);
        if (tracked) prof__samples_give(trace, owners + owner, end - owner, first);
    }
}

/* Converts the times of modules, which are those of the image so far. */
static void prof__modules_time(prof_trace *trace)
{
    size_t i;
    for (i = 0; i < trace->module_count; i++) {
        int64_t ns = prof__read_since(trace, (uint64_t)trace->modules[i].from_ns);
        trace->modules[i].from_ns = ns < 0 ? 0 : ns;
    }
}

/* Makes the samples of all tracks. Returns 0 if there is no memory. */
static int prof__samples_make(prof_trace *trace)
{
    prof__read_owner *owners;
    size_t count;
    prof__modules_time(trace);
    prof__faults_make(trace);
    trace->info.samples = trace->sample_item_count;
    if (!trace->sample_item_count) return 1;
    qsort(trace->sample_items, trace->sample_item_count, sizeof *trace->sample_items, prof__sample_order);
    trace->samples = (prof_sample *)malloc(trace->sample_item_count * sizeof *trace->samples);
    count = prof__owners_make(trace, &owners);
    if (owners && trace->samples) {
        prof__samples_of(trace, owners, count, 1);
        trace->trackless = trace->sample_count;
        prof__samples_of(trace, owners, count, 0);
    }
    free(owners);
    free(trace->chains);
    free(trace->chain_index.slots);
    free(trace->sample_items);
    trace->chains = NULL;
    trace->chain_index.slots = NULL;
    trace->sample_items = NULL;
    return owners && trace->samples;
}

PROF_DEF const prof_sample *prof_track_samples(const prof_trace *trace, size_t track, size_t *count)
{
    size_t first;
    if (count) *count = 0;
    if (!trace || !count || (track >= trace->track_count && track != PROF_NO_TRACK)) return NULL;
    first = track == PROF_NO_TRACK ? trace->trackless : trace->tracks[track].sample;
    *count = track == PROF_NO_TRACK ? trace->sample_count - first : trace->tracks[track].sample_count;
    return *count ? trace->samples + first : NULL;
}

PROF_DEF const prof_module *prof_trace_modules(const prof_trace *trace, size_t *count)
{
    if (count) *count = 0;
    if (!trace || !count || !trace->module_count) return NULL;
    *count = trace->module_count;
    return trace->modules;
}

PROF_DEF const prof_module *prof_module_at(const prof_trace *trace, uint64_t address, int64_t time_ns)
{
    const prof_module *best = NULL;
    size_t i;
    for (i = 0; trace && i < trace->module_count; i++) {
        const prof_module *module = &trace->modules[i];
        if (address < module->start || address >= module->end) continue;
        if (!best || (module->from_ns <= time_ns ? best->from_ns > time_ns || module->from_ns >= best->from_ns
                                                 : module->from_ns < best->from_ns && best->from_ns > time_ns))
            best = module;
    }
    return best;
}

#endif /* PROF__READ_SAMPLES_H */
