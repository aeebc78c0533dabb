// report/allocations_walk: prof_memory(): walks over the events of all tracks in order of time, and counts allocations.
#ifndef PROF__REPORT_ALLOCATIONS_WALK_H
#define PROF__REPORT_ALLOCATIONS_WALK_H
#include "api/markup.h"
#include "api/read.h"
#include "api/reports.h"
#include "api/values.h"
#include "ground/errors.h"
#include "ground/hash.h"
#include "ground/numbers.h"
#include "read/timeline.h"
#include "report/allocations.h"

/*-- events --*/

/* Returns 1 if the previous event of a block may in truth be later than this one: it is on another track, and the times
   differ by no more than clocks do. */
static int prof__heap_crossed(const prof__heap_block *block, const prof_event *event, size_t track)
{
    return block->track != track && event->start_ns - block->ns <= PROF__ORDER_NS;
}

/* Sets the scope that the allocations that follow belong to. Returns 0 without memory. */
static int prof__heap_around(prof__heap *heap, prof__heap_enclosing *around, const prof_event *event)
{
    size_t row = 0;
    around->site = event->site;
    if (!event->site->name[0]) { /* named at run time: copies the text, which the cursor overwrites when it moves */
        prof__heap_key key = {PROF__HEAP_NAME, NULL, NULL, 0, event->name};
        row = prof__heap_row_of(heap, &key);
    }
    around->name = (uint32_t)row;
    return row != PROF__NONE;
}

static int prof__heap_scope(prof__heap *heap, const prof_event *event, size_t track)
{
    prof__heap_stack *stack = &heap->stacks[track];
    prof__heap_enclosing around = {NULL, 0, 0};
    if (stack->count > event->depth) stack->count = event->depth;
    if (stack->count) around = stack->items[stack->count - 1];
    if (event->site->role != PROF_ROLE_MEMORY) {
        if (!prof__heap_around(heap, &around, event)) return 0;
    } else if (heap->rows[around.scope].deep < PROF__HEAP_DEEP) {
        prof__heap_key key = {PROF__HEAP_SCOPE, NULL, NULL, around.scope, event->name};
        size_t row = prof__heap_row_of(heap, &key);
        if (row == PROF__NONE) return 0;
        around.scope = (uint32_t)row;
    }
    do { /* more than once only if the window lacks the events of enclosing scopes */
        if (!PROF__ROOM(stack->items, stack->capacity, stack->count)) return 0;
        stack->items[stack->count++] = around;
    } while (stack->count <= event->depth);
    return 1;
}

/* Returns the row of the pool that an event names. Returns PROF__NONE without memory. */
static size_t prof__heap_pool(prof__heap *heap, const prof_event *event)
{
    prof__heap_key key = {PROF__HEAP_POOL, NULL, NULL, 0, event->site->category};
    return prof__heap_row_of(heap, &key);
}

/* Returns the row of the call site of an allocation within its enclosing scopes. */
static size_t prof__heap_site(prof__heap *heap, const prof_event *event, size_t track, size_t pool)
{
    const prof__heap_stack *stack = &heap->stacks[track];
    size_t open = stack->count < event->depth ? stack->count : event->depth, row;
    prof__heap_enclosing around = {NULL, 0, 0};
    prof__heap_key key = {PROF__HEAP_SITE, event->site, NULL, 0, NULL};
    if (open) around = stack->items[open - 1];
    key.around = around.site;
    key.scope = around.scope;
    if (around.site) key.text = around.name ? heap->rows[around.name].path : around.site->name;
    row = prof__heap_row_of(heap, &key);
    if (row == PROF__NONE) return row;
    heap->rows[row].pool = (uint32_t)pool;
    heap->rows[row].around = around.name;
    return row;
}

static int prof__heap_alloc(prof__heap *heap, const prof_event *event, size_t track)
{
    size_t pool = prof__heap_pool(heap, event);
    size_t row = pool == PROF__NONE ? PROF__NONE : prof__heap_site(heap, event, track, pool);
    prof__heap_block *block;
    int gone; /* 1: another thread has freed the block already; its clock was behind */
    if (row == PROF__NONE) return 0;
    block = prof__heap_find(heap, event->object, (uint32_t)pool, 0);
    if (!block) block = prof__heap_new(heap, event->object, (uint32_t)pool);
    if (!block) return 0;
    heap->stats.count++;
    gone = block->state > PROF__HEAP_FREED && prof__heap_crossed(block, event, track);
    if (gone && block->state == PROF__HEAP_UNKNOWN) heap->stats.freed_unknown--;
    if (gone && block->state == PROF__HEAP_TWICE) heap->stats.freed_twice--;
    if (block->state == PROF__HEAP_LIVE) {
        prof__heap_uncount(heap, block);
        heap->stats.not_freed++;
        block->owed++;
    }
    block->bytes = event->detail;
    block->row = (uint32_t)row;
    prof__heap_count(heap, block, event->start_ns);
    if (gone) prof__heap_uncount(heap, block);
    block->state = gone ? PROF__HEAP_FREED : PROF__HEAP_LIVE;
    block->ns = event->start_ns;
    block->track = track;
    return 1;
}

static int prof__heap_free(prof__heap *heap, const prof_event *event, size_t track)
{
    size_t pool = prof__heap_pool(heap, event);
    prof__heap_block *block;
    if (pool == PROF__NONE) return 0;
    heap->stats.frees++;
    block = prof__heap_find(heap, event->object, (uint32_t)pool, !(event->detail & PROF__FREE_IN_POOL));
    if (block && block->owed && block->track != track &&
        (event->detail & PROF__FREE_LATE || prof__heap_crossed(block, event, track))) {
        block->owed--; /* this free belongs to the block that was at the address before */
        heap->stats.not_freed--;
        return 1;
    }
    if (block && block->state == PROF__HEAP_LIVE) {
        prof__heap_uncount(heap, block);
        block->state = PROF__HEAP_FREED;
    } else if (block) {
        heap->stats.freed_twice++;
        block->state = PROF__HEAP_TWICE;
    } else {
        block = prof__heap_new(heap, event->object, (uint32_t)pool);
        if (!block) return 0;
        heap->stats.freed_unknown++;
        block->state = PROF__HEAP_UNKNOWN;
    }
    block->ns = event->start_ns;
    block->track = track;
    return 1;
}

/* Begins the walk. has: see prof__timeline_of(). prof__heap_close() must follow in any case. */
static void prof__heap_open(prof__heap *heap, const prof_trace *trace, prof__has_group *has, const void *user)
{
    memset(heap, 0, sizeof *heap);
    heap->tracks = prof_trace_track_count(trace);
    heap->stacks = (prof__heap_stack *)calloc(heap->tracks + 1, sizeof *heap->stacks);
    if (heap->stacks && prof__heap_grow(heap) && PROF__MORE(heap->rows, heap->row_capacity, heap->row_count)) {
        heap->rows[0].kind = PROF__HEAP_SCOPE;
        heap->rows[0].path = prof__heap_path("", "");
    }
    if (heap->row_count && heap->rows[0].path)
        heap->status =
            prof__timeline_of(trace, PROF__GROUP_MEMORY, PROF__GROUP_SCOPE, has, user, &heap->timeline);
    else
        heap->status = prof__no_memory("for the live blocks");
}

/* Reads the next event. The heap stays as it was before that event until prof__heap_step(). */
static int prof__heap_next(prof__heap *heap, prof_event *event, size_t *track)
{
    if (heap->status) return 0;
    if (prof_timeline_next(heap->timeline, event, track)) return 1;
    heap->status = heap->timeline->status;
    return 0;
}

static int prof__heap_step(prof__heap *heap, const prof_event *event, size_t track)
{
    int good = 1;
    heap->changed = PROF__NONE;
    switch ((int)event->type) {
    case PROF_EVENT_SCOPE: good = prof__heap_scope(heap, event, track); break;
    case PROF_EVENT_ALLOC: good = prof__heap_alloc(heap, event, track); break;
    case PROF_EVENT_FREE: good = prof__heap_free(heap, event, track); break;
    default: break;
    }
    if (!good) heap->status = prof__no_memory("for the live blocks");
    return good;
}

static prof_status prof__heap_close(prof__heap *heap)
{
    size_t i;
    prof_timeline_close(heap->timeline);
    for (i = 0; i < heap->row_count; i++) free(heap->rows[i].path);
    for (i = 0; heap->stacks && i < heap->tracks; i++) free(heap->stacks[i].items);
    free(heap->rows);
    free(heap->stacks);
    free(heap->blocks);
    free(heap->index.slots);
    return heap->status;
}

/* Sorts by bytes, the largest first; rows with equal bytes keep their order. */
static int prof__memory_order(const void *a, const void *b)
{
    const prof__heap_row *const *x = (const prof__heap_row *const *)a, *const *y = (const prof__heap_row *const *)b;
    if ((*x)->kind != (*y)->kind) return (*x)->kind < (*y)->kind ? -1 : 1;
    if ((*x)->about.bytes != (*y)->about.bytes) return (*x)->about.bytes > (*y)->about.bytes ? -1 : 1;
    return *x < *y ? -1 : *x > *y;
}

/* Allocates one block with the statistics, their rows and the names of the scopes. Returns NULL without memory. */
static prof_memory_stats *prof__memory_copy(const prof__heap *heap)
{
    const prof__heap_row **order = (const prof__heap_row **)malloc(heap->row_count * sizeof *order);
    size_t size = sizeof(prof_memory_stats) + heap->row_count * sizeof(prof_memory_row), counts[3] = {0, 0, 0}, i;
    prof_memory_stats *stats = NULL;
    prof_memory_row *rows;
    const char **paths = (const char **)malloc(heap->row_count * sizeof *paths);
    char *text;
    for (i = 0; i < heap->row_count; i++)
        if (heap->rows[i].path) size += strlen(heap->rows[i].path) + 1;
    if (order && paths) stats = (prof_memory_stats *)calloc(1, size);
    if (stats) {
        *stats = heap->stats;
        rows = (prof_memory_row *)(stats + 1);
        text = (char *)(rows + heap->row_count);
        for (i = 0; i < heap->row_count; i++) {
            order[i] = &heap->rows[i];
            if (!heap->rows[i].path) continue;
            paths[i] = strcpy(text, heap->rows[i].path);
            text += strlen(text) + 1;
        }
        qsort(order, heap->row_count, sizeof *order, prof__memory_order);
        for (i = 0; i < heap->row_count; i++) {
            if (!order[i]->about.count) continue; /* a pool with frees alone, or a scope without allocations */
            *rows = order[i]->about;
            if (order[i]->kind == PROF__HEAP_SCOPE) rows->scope = paths[order[i] - heap->rows];
            if (order[i]->kind == PROF__HEAP_SITE) {
                rows->scope = paths[order[i]->scope];
                rows->pool = heap->rows[order[i]->pool].about.pool;
                if (order[i]->around) rows->around_name = paths[order[i]->around];
            }
            counts[order[i]->kind]++;
            rows++;
        }
        stats->pools = (const prof_memory_row *)(stats + 1);
        stats->scopes = stats->pools + (stats->pool_count = counts[PROF__HEAP_POOL]);
        stats->sites = stats->scopes + (stats->scope_count = counts[PROF__HEAP_SCOPE]);
        stats->site_count = counts[PROF__HEAP_SITE];
    }
    free(order);
    free(paths);
    return stats;
}

static prof_status prof__memory_stats(const prof_trace *trace, prof_memory_stats **stats)
{
    prof__heap heap;
    prof_event event;
    size_t track;
    if (!trace || !stats) return prof__null("prof_memory", "trace or stats");
    *stats = NULL;
    prof__heap_open(&heap, trace, NULL, NULL);
    while (prof__heap_next(&heap, &event, &track) && prof__heap_step(&heap, &event, track)) continue;
    if (!heap.status) {
        *stats = prof__memory_copy(&heap);
        if (!*stats) heap.status = prof__no_memory("for the statistics of allocations");
    }
    return prof__heap_close(&heap);
}
PROF_DEF prof_status prof_memory(const prof_trace *trace, prof_memory_stats **stats)
{
    PROF__CALM();
    return prof__memory_stats(trace, stats);
}

PROF_DEF void prof_memory_free(prof_memory_stats *stats)
{
    free(stats);
}

#endif /* PROF__REPORT_ALLOCATIONS_WALK_H */
