// report/summary_memory: The summary's tables of memory and locks.
#ifndef PROF__REPORT_SUMMARY_MEMORY_H
#define PROF__REPORT_SUMMARY_MEMORY_H
#include "api/read.h"
#include "api/reports.h"
#include "api/values.h"
#include "ground/errors.h"
#include "ground/out.h"
#include "ground/text.h"
#include "read/clock.h"
#include "report/allocations.h"
#include "report/stacks.h"
#include "report/table.h"

/*-- memory and locks --*/

#define PROF__MEMORY_TOP 20 /* rows of call sites, unless the caller asks for more */

/* Returns the name for the row of an allocation. A memory scope tells more than the function around the macro. */
static const char *prof__memory_name(const prof_memory_row *row)
{
    if (!row->site) return row->pool ? (*row->pool ? row->pool : "(no name)") : *row->scope ? row->scope : "(outside)";
    if (row->around) return row->around_name;
    return *prof__memory_function(row->site) ? prof__memory_function(row->site) : row->site->name;
}

/* caller: of the function that allocates; NULL: not known. */
static void prof__summary_memory_row(prof__table *t, const prof_memory_row *row, const prof_callsite *caller)
{
    prof__table_row(t, prof__memory_name(row), 0);
    prof__table_count(t, row->count);
    prof__table_size(t, row->bytes);
    prof__table_size(t, row->count ? row->bytes / row->count : 0);
    prof__table_size(t, row->peak_bytes);
    prof__table_count(t, row->live_count);
    prof__table_size(t, row->live_bytes);
    if (row->site) {
        if (row->around && prof__site_by_address(row->site)) {
            prof__table_note(t, "  by ");
            prof__table_note(t, prof__memory_function(row->site));
        }
        if (caller) prof__table_note(t, "  from ");
        if (caller) prof__table_note(t, caller->name);
        prof__table_place(t, *row->site->file || !row->around ? row->site : row->around);
        if (*row->pool) prof__table_note(t, "  in ");
        prof__table_note(t, row->pool);
        if (*row->scope) prof__table_note(t, "  for ");
        prof__table_note(t, row->scope);
    }
    prof__table_end(t);
}

static void prof__summary_memory_rows(prof__out *out, const prof_trace *trace, const char *title,
                                      const prof_memory_row *rows, size_t count, size_t top, size_t limit)
{
    static const prof__column columns[] = {{"allocations", 4, 0}, {"bytes", 0, 0}, {"mean", 1, 0}, {"peak", 3, 0},
                                           {"unfreed", 2, 0},     {"bytes", 0, 0}, {NULL, 0, 0}};
    size_t shown = top && top < count ? top : count, i;
    prof__table t;
    prof__out_text(out, "\n");
    prof__table_begin(&t, out, limit, title, columns, NULL, 0);
    do
        for (i = 0; i < shown; i++)
            prof__summary_memory_row(&t, &rows[i], rows[i].site ? prof__site_caller(trace, rows[i].site) : NULL);
    while (prof__table_again(&t));
    prof__out_more(out, count - shown);
}

static int prof__memory_live_order(const void *a, const void *b)
{
    const prof_memory_row *x = (const prof_memory_row *)a, *y = (const prof_memory_row *)b;
    if (x->live_bytes != y->live_bytes) return x->live_bytes > y->live_bytes ? -1 : 1;
    return x->live_count > y->live_count ? -1 : x->live_count < y->live_count;
}

/* Writes the call sites with blocks that were not freed, unless the table of call sites has shown all of them. */
static prof_status prof__summary_unfreed(prof__out *out, const prof_trace *trace, const prof_memory_stats *stats,
                                         size_t top, size_t limit)
{
    prof_memory_row *rows;
    size_t count = 0, i;
    if (!top || stats->site_count <= top) return PROF_OK;
    rows = (prof_memory_row *)malloc(stats->site_count * sizeof *rows);
    if (!rows) return prof__no_memory("for the summary");
    for (i = 0; i < stats->site_count; i++)
        if (stats->sites[i].live_count) rows[count++] = stats->sites[i];
    if (count) {
        qsort(rows, count, sizeof *rows, prof__memory_live_order);
        prof__summary_memory_rows(out, trace, "most unfreed", rows, count, top, limit);
    }
    free(rows);
    return PROF_OK;
}

/* Returns 1 if some allocation was recorded with functions around the one that called malloc(). */
static int prof__memory_stacked(const prof_trace *trace, const prof_memory_stats *stats)
{
    size_t i;
    for (i = 0; i < stats->site_count; i++)
        if (prof__site_caller(trace, stats->sites[i].site)) return 1;
    return 0;
}

static void prof__summary_stack(prof__table *t, const prof__stack_node *node)
{
    const char *name = prof__memory_function(node->sum.site);
    prof__table_row(t, *name ? name : node->sum.site->name, node->depth);
    prof__table_count(t, node->sum.count);
    prof__table_size(t, node->sum.bytes);
    prof__table_count(t, node->sum.live_count);
    prof__table_size(t, node->sum.live_bytes);
    prof__table_place(t, node->sum.site);
    prof__table_end(t);
}

/* Writes the call tree of allocations. by_live: of those that were not freed. Returns in *left how many functions are
   not shown. */
static prof_status prof__summary_stacks(prof__out *out, const prof_trace *trace, const prof_memory_stats *stats,
                                        size_t top, size_t limit, int by_live, size_t *left)
{
    static const prof__column columns[] = {{"allocations", 2, 0}, {"bytes", 0, 0}, {"unfreed", 1, 0}, {"bytes", 0, 0},
                                           {NULL, 0, 0}};
    prof__stacks all;
    prof__table t;
    size_t i;
    prof_status status = prof__stacks_make(&all, trace, stats, top, by_live);
    if (!status) {
        prof__out_text(out, "\n");
        prof__table_begin(&t, out, limit, by_live ? "not freed, by stack" : "allocated, by stack", columns, NULL, 0);
        do
            for (i = 0; i < all.count; i++) prof__summary_stack(&t, all.order[i]);
        while (prof__table_again(&t));
        prof__out_more(out, all.left);
        *left = all.left;
    }
    prof__stacks_free(&all);
    return status;
}

static void prof__summary_memory_notes(prof__out *out, const prof_trace *trace, const prof_memory_stats *stats)
{
    const prof_trace_info *info = prof_trace_about(trace);
    int gaps = info->lost || info->overwritten_chunks || info->lost_blocks;
    prof__out_note(out, stats->freed_unknown, "block",
                   " freed that had been allocated before the trace, or by nobody\n");
    prof__out_note(out, stats->freed_twice, "block",
                   gaps ? " freed twice, unless what is missing here allocated them again\n" : " freed twice\n");
    prof__out_note(out, stats->not_freed, "block",
                   " allocated again without a free in between: such frees are not marked, or lost\n");
}

static prof_status prof__summary_memory(prof__out *out, const prof_trace *trace, size_t top, size_t limit)
{
    prof_memory_stats *stats;
    prof_status status;
    if (!prof__has_role(trace, PROF_ROLE_MEMORY)) return PROF_OK;
    if (!top) top = PROF__MEMORY_TOP;
    status = prof_memory(trace, &stats);
    if (status != PROF_OK) return status;
    if (stats->count) {
        int named = stats->scope_count > 1 || (stats->scope_count && *stats->scopes[0].scope);
        prof__summary_memory_rows(out, trace, "memory", stats->pools, stats->pool_count, 0, limit);
        if (named) prof__summary_memory_rows(out, trace, "memory scope", stats->scopes, stats->scope_count, top, limit);
        prof__summary_memory_rows(out, trace, "allocated by", stats->sites, stats->site_count, top, limit);
        status = prof__summary_unfreed(out, trace, stats, top, limit);
        if (!status && prof__memory_stacked(trace, stats)) {
            size_t left = 0;
            status = prof__summary_stacks(out, trace, stats, top, limit, 0, &left);
            if (!status && left) status = prof__summary_stacks(out, trace, stats, top, limit, 1, &left);
        }
    }
    if (stats->freed_unknown || stats->freed_twice || stats->not_freed) {
        if (!stats->count) prof__out_text(out, "\n");
        prof__summary_memory_notes(out, trace, stats);
    }
    prof_memory_free(stats);
    return status;
}

static void prof__summary_lock(prof__table *t, const prof_lock_row *row)
{
    char waiting[48];
    prof__table_row(t, row->name, 0);
    prof__table_count(t, row->locks);
    prof__table_count(t, row->acquired);
    prof__table_count(t, row->contended);
    prof__table_percent(t, prof__real(row->contended), prof__real(row->acquired));
    prof__table_time(t, row->wait_ns);
    prof__table_time(t, row->wait_max_ns);
    prof__table_time(t, row->hold_ns);
    prof__table_time(t, row->hold_max_ns);
    prof__table_count(t, row->waiting_max);
    if (row->holding || row->waiting) {
        prof__table_note(t, "  at the end held by ");
        prof__table_note_many(t, row->holding, "thread", "");
        prof__table_note(t, ", ");
        prof__grouped(waiting, row->waiting);
        prof__table_note(t, waiting);
        prof__table_note(t, " waiting");
    }
    prof__table_end(t);
}

static prof_status prof__summary_locks(prof__out *out, const prof_trace *trace, size_t top, size_t limit)
{
    static const prof__column columns[] = {{"locks", 3, 0}, {"acquired", 6, 0}, {"contended", 0, 0},
                                           {"share", 2, 0}, {"waited", 0, 0},   {"longest", 7, 0},
                                           {"held", 5, 0},  {"longest", 4, 0},  {"most wait", 1, 0},
                                           {NULL, 0, 0}};
    prof__table t;
    prof_lock_row *rows;
    size_t count, shown, i;
    uint64_t unmatched = 0, abandoned = 0;
    prof_status status = PROF_OK;
    if (!prof__has_role(trace, PROF_ROLE_LOCK)) return PROF_OK;
    status = prof_locks(trace, 0, &rows, &count);
    if (status != PROF_OK) return status;
    for (i = 0; i < count; i++) {
        unmatched += rows[i].unmatched;
        abandoned += rows[i].abandoned;
    }
    shown = top && top < count ? top : count;
    if (count) prof__out_text(out, "\n");
    prof__table_begin(&t, out, limit, "lock", columns, NULL, 0);
    do
        for (i = 0; i < shown; i++) prof__summary_lock(&t, &rows[i]);
    while (prof__table_again(&t));
    prof__out_more(out, count - shown);
    prof__out_note(out, abandoned, "wait", " given up\n");
    prof__out_note(out, unmatched, "acquire or release", " without the other\n");
    prof_locks_free(rows);
    return status;
}

#endif /* PROF__REPORT_SUMMARY_MEMORY_H */
