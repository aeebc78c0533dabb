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
#include "session/number.h"
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
    if (x->room > pool->live_bytes)
        prof__xplane_put_int(x, stats, PROF__STAT_LEFT, (int64_t)(x->room - pool->live_bytes));
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

/*-- memory of GPUs: allocations are events of the device, as prof_cuda.h records them. XProf looks for them among the
     host's --*/

static const char *prof__xplane_arg_text(const prof_event *event, const char *key)
{
    for (uint32_t i = 0; i < event->arg_count; i++)
        if (!strcmp(event->args[i].key, key) && event->args[i].value.type == PROF_VALUE_STRING)
            return event->args[i].value.as.string;
    return "";
}

/* Makes an allocation, or the end of one, of an event of a device. Returns 0 if it is none, or one of the host's
   memory, which the device only reaches. */
static int prof__xplane_device_block(const prof_event *event, prof_event *block, const prof_callsite *site)
{
    int alloc = !strcmp(event->name, "MemoryAlloc");
    const char *details = prof__xplane_arg_text(event, alloc ? "memalloc_details" : "MemFree_details");
    const char *size = strstr(details, " num_bytes:");
    if (event->type != PROF_EVENT_MARK || !size) return 0;
    if (!strncmp(details, "kind:pinned ", 12) || !strncmp(details, "kind:pageable ", 14)) return 0;
    memset(block, 0, sizeof *block);
    block->type = alloc ? PROF_EVENT_ALLOC : PROF_EVENT_FREE;
    block->name = site->name;
    block->site = site;
    block->start_ns = event->start_ns;
    block->detail = alloc ? strtoull(size + 11, NULL, 10) : 0;
    for (uint32_t i = 0; i < event->arg_count; i++)
        if (!strcmp(event->args[i].key, "address")) block->object = event->args[i].value.as.u;
    return 1;
}

static int prof__xplane_has_nothing(const void *xplane, size_t track, unsigned group)
{
    (void)xplane, (void)track, (void)group;
    return 0;
}

/* Returns how much memory a row's device has, as its metadata says; 0: not known. */
static uint64_t prof__xplane_room(const prof__xplane *x, size_t track)
{
    const char *key, *value, *device = prof_trace_track(x->trace, track)->device;
    size_t i, length = strlen(device);
    uint64_t bytes;
    for (i = 0; prof_trace_metadata(x->trace, i, &key, &value); i++)
        if (!strncmp(key, device, length) && !strcmp(key + length, ".memory_size") && prof__parse_whole(value, &bytes))
            return bytes;
    return 0;
}

/* Writes the allocations on a row of a device. */
static void prof__xplane_walk_device_memory(prof__xplane *x, size_t track)
{
    prof__heap heap;
    prof_callsite site;
    prof_event event, block;
    prof_cursor *cursor = NULL;
    x->room = prof__xplane_room(x, track);
    memset(&site, 0, sizeof site);
    site.name = site.file = "";
    site.category = prof_trace_track(x->trace, track)->device;
    site.function = "device memory";
    prof__heap_open(&heap, x->trace, prof__xplane_has_nothing, x);
    if (!heap.status) heap.status = prof_cursor_open(x->trace, track, &cursor);
    while (!heap.status && x->status == PROF_OK && x->out.status == PROF_OK && prof_cursor_next(cursor, &event))
        if (prof__xplane_device_block(&event, &block, &site) && prof__heap_step(&heap, &block, track) &&
            heap.changed != PROF__NONE && prof__xplane_wanted(x, &event))
            prof__xplane_allocation(x, &heap, &block);
    x->room = 0;
    prof_cursor_close(cursor);
    prof_status status = prof__heap_close(&heap);
    if (status) x->status = status;
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
