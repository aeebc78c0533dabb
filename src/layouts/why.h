// layouts/why: prof_why(): why calls of a scope, or frames, took as long as they did.
#ifndef PROF__LAYOUTS_WHY_H
#define PROF__LAYOUTS_WHY_H
#include "api/read.h"
#include "api/reports.h"
#include "ground/errors.h"
#include "ground/numbers.h"
#include "layouts/api.h"
#include "layouts/why_calls.h"
#include "layouts/why_inside.h"

/* The report, and what its pointers lead to. */
typedef struct prof__why_block {
    prof_why_report about;
    prof__why why;
    prof_why_call calls[1];
} prof__why_block;

static void prof__why_close(prof__why *why)
{
    while (why->count) {
        prof__why_call *call = &why->calls[--why->count];
        free(call->text);
        free(call->waits);
        free(call->inner);
        free(call->inner_names);
        free(call->inner_index.slots);
        free(call->ran);
        free(call->moved);
        free(call->counters);
        free(call->messages);
        free(call->devices);
    }
    while (why->text_count) free(why->texts[--why->text_count]);
    free(why->texts);
    free(why->others);
    free(why->calls);
    free(why->counters);
    free(why->counter_index.slots);
    free(why->sweep.open);
    free(why->all.histogram.steps);
    prof_waits_free(why->waits);
    prof__why_names_free(&why->names);
}

/* Lists the names of the other frames or steps. Returns 0 without memory. */
static int prof__why_others(prof__why *why, prof_why_report *about)
{
    size_t i;
    if (!about->frames && !about->steps) return 1;
    why->others = (const char **)calloc(why->names.count, sizeof *why->others);
    for (i = 0; why->others && i < why->names.count; i++) {
        const prof__why_name *name = &why->names.items[i];
        if (i != why->wanted && (about->steps ? name->step : name->frame) && name->wall.count)
            why->others[about->other_count++] = name->text;
    }
    about->others = why->others;
    return why->others != NULL;
}

/* Makes the report, which takes over all that *why owns. Returns NULL without memory. */
static prof_why_report *prof__why_report(prof__why *why)
{
    prof__why_block *block = (prof__why_block *)calloc(1, sizeof *block + why->count * sizeof *block->calls);
    size_t i;
    if (!block) return NULL;
    block->about.name = why->wanted != PROF__NONE ? why->names.items[why->wanted].text
                        : why->options.name       ? why->calls[0].about.name : "";
    block->about.frames = why->wanted != PROF__NONE && why->names.items[why->wanted].frame;
    block->about.steps = why->options.step || why->options.kind == PROF_WHY_STEPS;
    block->about.count_all = why->all.count;
    block->about.median_ns = prof__why_median(&why->all);
    block->about.waits = why->wait_count != 0;
    block->about.calls = block->calls;
    block->about.count = why->count;
    for (i = 0; i < why->count; i++) {
        const prof__why_call *from = &why->calls[i];
        block->calls[i] = from->about;
        block->calls[i].waits = from->waits;
        block->calls[i].inner = from->inner;
        block->calls[i].ran_instead = from->ran;
        block->calls[i].counters = from->counters;
        block->calls[i].messages = from->messages;
        block->calls[i].devices = from->devices;
    }
    if (!prof__why_others(why, &block->about)) {
        free(block);
        return NULL;
    }
    block->why = *why;
    return &block->about;
}

PROF_DEF prof_status prof_why(const prof_trace *trace, const prof_why_options *options, prof_why_report **report)
{
    PROF__CALM();
    prof__why why;
    prof_status status;
    if (report) *report = NULL;
    if (!trace || !report) return prof__fail(PROF_INVALID_ARGUMENT, "prof_why: trace or report is null");
    if (prof_trace_about(trace)->mode == PROF_STATS)
        return prof__fail(PROF_UNSUPPORTED, "statistics have no calls to explain: record with another mode than stats");
    memset(&why, 0, sizeof why);
    why.trace = trace;
    if (options) why.options = *options;
    why.most = why.options.slowest ? why.options.slowest : 1;
    status = prof__why_calls(&why);
    if (!status) status = prof_waits(trace, &why.waits, &why.wait_count);
    if (!status) status = prof__why_inside(&why);
    if (!status && !(*report = prof__why_report(&why))) status = prof__report_no_memory();
    if (status) prof__why_close(&why);
    return status;
}

PROF_DEF void prof_why_free(prof_why_report *report)
{
    prof__why_block *block = (prof__why_block *)(void *)report;
    if (!block) return;
    prof__why_close(&block->why);
    free(block);
}

#endif /* PROF__LAYOUTS_WHY_H */
