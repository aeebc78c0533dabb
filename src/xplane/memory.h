// xplane/memory: Writes allocations, and the live bytes of each pool as a counter.
#ifndef PROF__XPLANE_MEMORY_H
#define PROF__XPLANE_MEMORY_H
#include "api/read.h"
#include "api/reports.h"
#include "api/types.h"
#include "api/values.h"
#include "ground/hash.h"
#include "report/allocations.h"
#include "report/allocations_walk.h"
#include "xplane/bytes.h"
#include "xplane/counters.h"
#include "xplane/events.h"
#include "xplane/names.h"
#include "xplane/state.h"
#include "xplane/stats.h"

/*-- allocations --*/

/* Returns the op of an allocation in XProf's Memory Profile: the memory scopes around it, else the scope that encloses
   it. */
static const char *prof__xplane_op_of(const prof__heap *heap, const prof__heap_row *row)
{
    const char *path = heap->rows[row->scope].path;
    if (path && *path) return path;
    return row->about.around ? row->about.around_name : row->about.site->function;
}

static void prof__xplane_allocation(prof__xplane *x, const prof__heap *heap, const prof_event *event)
{
    const prof_memory_row *pool = &heap->rows[heap->changed].about;
    prof__xplane_bytes *stats = &x->point;
    const unsigned tag = PROF__XEVENT_STAT;
    int alloc = event->type == PROF_EVENT_ALLOC;
    const prof__heap_block *block =
        alloc ? prof__heap_find(heap, event->object, (uint32_t)heap->changed, 0) : NULL;
    uint32_t id;
    stats->size = 0;
    prof__xplane_stat_text(x, stats, tag, PROF__STAT_POOL, *pool->pool ? pool->pool : "memory");
    prof__xplane_put_int(x, stats, PROF__STAT_LIVE, (int64_t)pool->live_bytes);
    prof__xplane_put_int(x, stats, PROF__STAT_PEAK, (int64_t)pool->peak_bytes);
    prof__xplane_put_int(x, stats, PROF__STAT_ASKED, (int64_t)heap->bytes);
    prof__xplane_put_int(x, stats, PROF__STAT_BYTES, (int64_t)heap->bytes);
    prof__xplane_put_int(x, stats, PROF__STAT_ADDRESS, (int64_t)event->object);
    if (block) {
        const prof__heap_row *row = &heap->rows[block->row];
        prof__xplane_stat_text(x, stats, tag, PROF__STAT_OP, prof__xplane_op_of(heap, row));
        prof__xplane_stat_text(x, stats, tag, PROF__STAT_REGION, "heap");
        prof__xplane_stat_source(x, stats, tag, PROF__STAT_SHAPE, row->about.site);
    }
    id = prof__xplane_named(x, NULL, NULL, alloc ? "MemoryAllocation" : "MemoryDeallocation", PROF__XPLANE_PLAIN);
    prof__xplane_emit(x, id, prof__xplane_time(event->start_ns), 0, stats);
}

/* Writes a sample of a pool's live bytes. */
static void prof__xplane_pool(prof__xplane *x, const prof__heap *heap, const prof_event *event)
{
    const prof_memory_row *pool = &heap->rows[heap->changed].about;
    x->joined.size = 0;
    prof__xplane_add(&x->joined, *pool->pool ? "memory: " : "memory", *pool->pool ? 8 : 6);
    prof__xplane_add(&x->joined, pool->pool, strlen(pool->pool) + 1);
    if (x->joined.failed) return;
    x->point.size = 0;
    prof__xplane_put_uint(x, &x->point, PROF__STAT_VALUE, pool->live_bytes);
    prof__xplane_emit(x, prof__xplane_named(x, NULL, NULL, (const char *)x->joined.data, PROF__XPLANE_COUNTER),
                      prof__xplane_time(event->start_ns), 0, &x->point);
}

static void prof__xplane_walk_memory(prof__xplane *x, int counters)
{
    prof__heap heap;
    prof_event event;
    size_t track;
    prof_status status;
    prof__heap_open(&heap, x->trace, prof__xplane_has, x);
    while (x->status == PROF_OK && x->out.status == PROF_OK && prof__heap_next(&heap, &event, &track)) {
        if (!prof__heap_step(&heap, &event, track) || heap.changed == PROF__NONE ||
            !prof__xplane_wanted(x, &event))
            continue;
        if (counters)
            prof__xplane_pool(x, &heap, &event);
        else
            prof__xplane_allocation(x, &heap, &event);
    }
    status = prof__heap_close(&heap);
    if (status) x->status = status;
}

#endif /* PROF__XPLANE_MEMORY_H */
