// report/summary_open: The summary's table of scopes that threads were in when the recording ended.
#ifndef PROF__REPORT_SUMMARY_OPEN_H
#define PROF__REPORT_SUMMARY_OPEN_H
#include "api/read.h"
#include "api/reports.h"
#include "api/values.h"
#include "ground/errors.h"
#include "ground/out.h"
#include "ground/text.h"
#include "report/table.h"

#define PROF__OPEN_TOP 10 /* threads that are shown, unless the caller asks for more */

/* The open scopes of a thread, from the outermost to the innermost. */
typedef struct prof__open_stack {
    const prof_open_scope *scopes;
    size_t count;
} prof__open_stack;

static const prof_open_scope *prof__open_innermost(const prof__open_stack *stack)
{
    return &stack->scopes[stack->count - 1];
}

/* Sorts by the time spent in the innermost scope, the longest first; then by track. */
static int prof__open_order(const void *a, const void *b)
{
    const prof_open_scope *x = prof__open_innermost((const prof__open_stack *)a);
    const prof_open_scope *y = prof__open_innermost((const prof__open_stack *)b);
    if (x->duration_ns != y->duration_ns) return x->duration_ns > y->duration_ns ? -1 : 1;
    return x->track < y->track ? -1 : x->track > y->track;
}

static void prof__summary_open_stack(prof__table *t, const prof_trace *trace, const prof__open_stack *stack)
{
    for (size_t i = 0; i < stack->count; i++) {
        const prof_track *track = prof_trace_track(trace, stack->scopes[i].track);
        prof__table_row(t, stack->scopes[i].name, i);
        prof__table_ns(t, (double)stack->scopes[i].duration_ns);
        if (!i) prof__table_note(t, "  ");
        if (!i) prof__table_note(t, *track->name ? track->name : "(unnamed)");
        prof__table_end(t);
    }
}

/* Writes what each thread was doing when a recording ended without prof_stop(). Threads that have been in their
   innermost scope for longest come first, because they may hang. */
static prof_status prof__summary_open(prof__out *out, const prof_trace *trace, size_t top, size_t limit)
{
    static const prof__column columns[] = {{"for", 0, 0}, {NULL, 0, 0}};
    const prof_trace_info *info = prof_trace_about(trace);
    prof_open_scope *scopes = NULL;
    prof__open_stack *stacks;
    size_t count = 0, threads = 0, i;
    prof_status status = info->complete ? PROF_OK : prof_open_scopes(trace, &scopes, &count);
    if (!count) {
        prof_open_scopes_free(scopes);
        return status;
    }
    stacks = (prof__open_stack *)calloc(count, sizeof *stacks);
    for (i = 0; stacks && i < count; i++) {
        if (prof_trace_track(trace, scopes[i].track)->ended) continue;
        if (!scopes[i].depth) stacks[threads++].scopes = &scopes[i];
        if (threads) stacks[threads - 1].count++;
    }
    if (threads) {
        prof__table t;
        size_t shown = top ? top : PROF__OPEN_TOP;
        qsort(stacks, threads, sizeof *stacks, prof__open_order);
        if (shown > threads) shown = threads;
        prof__out_text(out, "\n");
        prof__table_begin(&t, out, limit, info->alive ? "open now" : "open at the end", columns, "thread", 1);
        do
            for (i = 0; i < shown; i++) prof__summary_open_stack(&t, trace, &stacks[i]);
        while (prof__table_again(&t));
        prof__out_note(out, threads - shown, "thread", " more, which were in their innermost scope for less long\n");
        if (!info->alive) prof__out_text(out, "at least: nothing is known of the process after its last event\n");
    }
    free(stacks);
    prof_open_scopes_free(scopes);
    return stacks ? PROF_OK : prof__no_memory("for the open scopes");
}

#endif /* PROF__REPORT_SUMMARY_OPEN_H */
