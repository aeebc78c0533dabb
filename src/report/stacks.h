// report/stacks: The call tree of allocations: each function with all that it and those it called allocated.
#ifndef PROF__REPORT_STACKS_H
#define PROF__REPORT_STACKS_H
#include "api/read.h"
#include "api/reports.h"
#include "ground/errors.h"
#include "read/names.h"

typedef struct prof__stack_node {
    const struct prof__stack_node *caller; /* NULL: of the outermost function that was recorded */
    uint64_t weight;                       /* by which nodes with the same caller are sorted: bytes, or unfreed bytes */
    uint32_t depth;
    prof_memory_row sum; /* site: the function's; peak_bytes: not known, as peaks do not add up */
} prof__stack_node;

typedef struct prof__stacks {
    prof__stack_node *nodes; /* of each call site of the trace, by its number; sum.count 0: it allocated nothing */
    const prof__stack_node **order;
    size_t count, left; /* nodes in order, and those left out */
} prof__stacks;

/* Sorts nodes by weight, callers before those that they called: a part of this order is a tree of its own. */
static int prof__stack_weights(const void *a, const void *b)
{
    const prof__stack_node *x = *(const prof__stack_node *const *)a, *y = *(const prof__stack_node *const *)b;
    if (x->weight != y->weight) return x->weight > y->weight ? -1 : 1;
    return x < y ? -1 : x > y;
}

/* Sorts nodes as a tree is printed: each one before those that it called. */
static int prof__stack_places(const void *a, const void *b)
{
    const prof__stack_node *x = *(const prof__stack_node *const *)a, *y = *(const prof__stack_node *const *)b;
    uint32_t x_depth = x->depth, y_depth = y->depth;
    while (x->depth > y_depth) x = x->caller;
    while (y->depth > x_depth) y = y->caller;
    if (x == y) return x_depth < y_depth ? -1 : x_depth > y_depth;
    for (; x->caller != y->caller; y = y->caller) x = x->caller;
    return prof__stack_weights(&x, &y);
}

/* Adds what a row has to a function and to those that called it. Returns the function's node. */
static prof__stack_node *prof__stack_add(prof__stacks *all, const prof_trace *trace, const prof_memory_row *row,
                                         const prof_callsite *site)
{
    prof__stack_node *node = &all->nodes[prof__site_number(trace, site)];
    const prof_callsite *caller = prof__site_caller(trace, site);
    if (caller) {
        node->caller = prof__stack_add(all, trace, row, caller);
        node->depth = node->caller->depth + 1;
    }
    if (!node->sum.count) all->order[all->count++] = node;
    node->sum.site = site;
    node->sum.count += row->count;
    node->sum.bytes += row->bytes;
    node->sum.live_count += row->live_count;
    node->sum.live_bytes += row->live_bytes;
    return node;
}

/* Makes the tree of all allocations, of which order has the `top` heaviest nodes, 0: all. by_live: by what was not
   freed, which leaves out all else. Free it in any case. */
static prof_status prof__stacks_make(prof__stacks *all, const prof_trace *trace, const prof_memory_stats *stats,
                                     size_t top, int by_live)
{
    size_t sites = prof__site_count(trace), i, kept = 0;
    memset(all, 0, sizeof *all);
    all->nodes = (prof__stack_node *)calloc(sites, sizeof *all->nodes);
    all->order = (const prof__stack_node **)malloc(sites * sizeof *all->order);
    if (!all->nodes || !all->order) return prof__no_memory("for the stacks of allocations");
    for (i = 0; i < stats->site_count; i++) prof__stack_add(all, trace, &stats->sites[i], stats->sites[i].site);
    for (i = 0; i < sites; i++)
        all->nodes[i].weight = by_live ? all->nodes[i].sum.live_bytes : all->nodes[i].sum.bytes;
    for (i = 0; i < all->count; i++)
        if (!by_live || all->order[i]->sum.live_count) all->order[kept++] = all->order[i];
    all->count = kept;
    qsort(all->order, all->count, sizeof *all->order, prof__stack_weights);
    if (top && top < all->count) {
        all->left = all->count - top;
        all->count = top;
    }
    qsort(all->order, all->count, sizeof *all->order, prof__stack_places);
    return PROF_OK;
}

static void prof__stacks_free(prof__stacks *all)
{
    free(all->nodes);
    free(all->order);
}

#endif /* PROF__REPORT_STACKS_H */
