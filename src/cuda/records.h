// cuda/records: Makes events of CUPTI's records.
#ifndef PROF__CUDA_RECORDS_H
#define PROF__CUDA_RECORDS_H
#include "cuda/event.h"
#include "cuda/names.h"
#include "cuda/occupancy.h"

#ifdef PROF__CUDA_LINUX
/* A record may end behind the fields that are read here, in a version that nobody knows: it is copied from a buffer
   that is longer. */

static const char *prof__cuda_among(const char *const *names, uint32_t count, uint32_t at)
{
    return names[at < count ? at : 0];
}

static const char *prof__cuda_memory_kind(uint32_t kind)
{
    static const char *const kinds[] = {"unknown", "pageable", "pinned", "device",
                                        "array",   "managed",  "device_static", "managed_static"};
    return prof__cuda_among(kinds, 8, kind);
}

static const char *prof__cuda_copy_name(uint32_t kind)
{
    static const char *const kinds[] = {"MemcpyOther", "MEMCPYHtoD", "MEMCPYDtoH", "MEMCPYHtoD",
                                        "MEMCPYDtoH",  "MEMCPYDtoD", "MEMCPYDtoD", "MEMCPYDtoD",
                                        "MEMCPYDtoD",  "MEMCPYHtoH", "MEMCPYPtoP"};
    return prof__cuda_among(kinds, 11, kind);
}

static void prof__cuda_kernel(const prof__cupti_kernel *record)
{
    prof__cuda_event made;
    prof__cuda_gpu *gpu = prof__cuda_gpu_of(record->device);
    if (!gpu) return;
    prof__cuda_need need = {record->registers, record->block[0] * record->block[1] * record->block[2],
                            (uint32_t)record->static_shared + (uint32_t)record->dynamic_shared,
                            record->shared_executed};
    prof__cuda_occupancy occupancy = prof__cuda_occupancy_of(gpu, &need);
    prof__cuda_event_begin(&made, prof__cuda_name(record->name), record->start, record->end, record->correlation);
    snprintf(made.details, sizeof made.details,
             "regs:%d static_shared:%d dynamic_shared:%d grid:%d,%d,%d block:%d,%d,%d occ_pct:%.7g", record->registers,
             (int)record->static_shared, (int)record->dynamic_shared, (int)record->grid[0], (int)record->grid[1],
             (int)record->grid[2], (int)record->block[0], (int)record->block[1], (int)record->block[2],
             occupancy.percent < 0 ? 0.0 : occupancy.percent);
    prof__cuda_arg_text(&made, "kernel_details", made.details);
    if (occupancy.percent >= 0) {
        prof__cuda_arg(&made, "theoretical_occupancy_pct", PROF_VALUE_DOUBLE)->as.d = occupancy.percent;
        prof__cuda_arg_number(&made, "occupancy_min_grid_size", (uint64_t)occupancy.least_grid);
        prof__cuda_arg_number(&made, "occupancy_suggested_block_size", (uint64_t)occupancy.suggested_threads);
    }
    prof__cuda_arg_context(&made, record->context);
    prof__cuda_arg_graph(&made, record->graph, record->graph_node);
    prof__cuda_put(prof__cuda_stream(gpu, record->stream), &made, &prof__cuda.counts.kernels);
}

static void prof__cuda_copy(const prof__cupti_memcpy *record, uint32_t to)
{
    prof__cuda_event made;
    prof__cuda_gpu *gpu = prof__cuda_gpu_of(record->device);
    if (!gpu) return;
    prof__cuda_event_begin(&made, prof__cuda_copy_name(record->copy_kind), record->start, record->end,
                           record->correlation);
    snprintf(made.details, sizeof made.details, "kind_src:%s kind_dst:%s size:%llu dest:%u async:%d",
             prof__cuda_memory_kind(record->from), prof__cuda_memory_kind(record->to),
             (unsigned long long)record->bytes, (unsigned)to, record->flags & PROF__CUPTI_MEMCPY_ASYNC);
    prof__cuda_arg_text(&made, "memcpy_details", made.details);
    prof__cuda_arg_number(&made, "bytes", record->bytes);
    prof__cuda_arg_context(&made, record->context);
    prof__cuda_arg_graph(&made, record->graph, record->graph_node);
    prof__cuda_put(prof__cuda_stream(gpu, record->stream), &made, &prof__cuda.counts.copies);
}

static void prof__cuda_copy_peer(const prof__cupti_memcpy_peer *record)
{
    prof__cupti_memcpy copy;
    memset(&copy, 0, sizeof copy);
    copy.copy_kind = record->copy_kind;
    copy.from = record->from;
    copy.to = record->to;
    copy.flags = record->flags;
    copy.bytes = record->bytes;
    copy.start = record->start;
    copy.end = record->end;
    copy.device = record->device;
    copy.context = record->context;
    copy.stream = record->stream;
    copy.correlation = record->correlation;
    copy.graph = record->graph;
    copy.graph_node = record->graph_node;
    prof__cuda_copy(&copy, record->to_device);
}

static void prof__cuda_fill(const prof__cupti_memset *record)
{
    prof__cuda_event made;
    prof__cuda_gpu *gpu = prof__cuda_gpu_of(record->device);
    if (!gpu) return;
    prof__cuda_event_begin(&made, "Memset", record->start, record->end, record->correlation);
    snprintf(made.details, sizeof made.details, "kind:%s num_bytes:%llu async:%d",
             prof__cuda_memory_kind(record->memory_kind), (unsigned long long)record->bytes,
             record->flags & PROF__CUPTI_MEMSET_ASYNC);
    prof__cuda_arg_text(&made, "Memset_details", made.details);
    prof__cuda_arg_number(&made, "bytes", record->bytes);
    prof__cuda_arg_context(&made, record->context);
    prof__cuda_arg_graph(&made, record->graph, record->graph_node);
    prof__cuda_put(prof__cuda_stream(gpu, record->stream), &made, &prof__cuda.counts.fills);
}

static void prof__cuda_graph(const prof__cupti_graph *record)
{
    prof__cuda_event made;
    prof__cuda_gpu *gpu = prof__cuda_gpu_of(record->device);
    if (!gpu) return;
    snprintf(made.details, sizeof made.details, "CUDA graph %u", (unsigned)record->graph);
    char name[32];
    snprintf(name, sizeof name, "CudaGraph:%u", (unsigned)record->graph);
    prof__cuda_event_begin(&made, name, record->start, record->end, record->correlation);
    prof__cuda_arg_context(&made, record->context);
    prof__cuda_arg_graph(&made, record->graph, 0);
    prof__cuda_put(prof__cuda_stream(gpu, record->stream), &made, &prof__cuda.counts.graphs);
}

/* Records what waits: a thread for a stream, or a stream for an event. */
static void prof__cuda_wait(const prof__cupti_sync *record)
{
    static const char *const types[] = {"synchronization", "wait for an event", "a stream waits for an event",
                                        "wait for a stream", "wait for the GPU"};
    prof__cuda_event made;
    prof__cuda_event_begin(&made, prof__cuda_among(types, 5, record->type), record->start, record->end,
                           record->correlation);
    made.event.flow = 0; /* the scope of the call is around it */
    if (record->stream != ~0u) prof__cuda_arg_number(&made, "stream", record->stream);
    prof__cuda_arg_context(&made, record->context);
    prof_device_row *row = prof__cuda_row(prof__cuda.host, &prof__cuda.waits, "synchronization");
    prof__cuda_put(row, &made, &prof__cuda.counts.others);
}

static void prof__cuda_overhead(const prof__cupti_overhead *record)
{
    const char *name = record->what == 1         ? "driver compiler"
                       : record->what == 1 << 16 ? "buffer flush"
                       : record->what == 2 << 16 ? "instrumentation"
                       : record->what == 3 << 16 ? "resource"
                       : record->what == 4 << 16 ? "module loading"
                       : record->what == 5 << 16 ? "lazy function loading"
                       : record->what == 6 << 16 ? "command buffer full"
                       : record->what == 7 << 16 ? "buffer request"
                                                 : "overhead";
    prof__cuda_event made;
    prof__cuda_event_begin(&made, name, record->start, record->end, 0);
    if (record->object_kind == PROF__CUPTI_OF_THREAD)
        prof__cuda_arg_number(&made, "thread", record->thread_or_context);
    prof_device_row *row = prof__cuda_row(prof__cuda.host, &prof__cuda.overhead, "CUPTI overhead");
    prof__cuda_put(row, &made, &prof__cuda.counts.others);
}

/* Records an allocation or a release as an instant, and what is allocated as a curve. */
static void prof__cuda_memory(const prof__cupti_memory *record)
{
    prof__cuda_event made;
    int allocates = record->operation == PROF__CUPTI_ALLOCATES;
    uint32_t kind = record->memory_kind;
    int of_host = kind == 1 || kind == 2;
    prof__cuda_gpu *gpu = prof__cuda_gpu_of(record->device);
    if (!gpu || (!allocates && record->operation != PROF__CUPTI_RELEASES)) return;
    prof__cuda_event_begin(&made, allocates ? "MemoryAlloc" : "MemoryFree", record->time, 0, record->correlation);
    made.event.type = PROF_EVENT_MARK;
    made.event.flow = 0;
    snprintf(made.details, sizeof made.details, "kind:%s num_bytes:%llu", prof__cuda_memory_kind(kind),
             (unsigned long long)record->bytes);
    prof__cuda_arg_text(&made, allocates ? "memalloc_details" : "MemFree_details", made.details);
    prof__cuda_arg(&made, "address", PROF_VALUE_POINTER)->as.u = record->address;
    prof_device_row *row = prof__cuda_row(gpu->device, &gpu->memory, "memory");
    prof__cuda_put(row, &made, &prof__cuda.counts.allocations);
    if (of_host || !record->time) return;
    gpu->allocated += allocates ? (int64_t)record->bytes : -(int64_t)record->bytes;
    prof_device_counter(row, "allocated since the start", record->time, gpu->allocated);
}

/* Records a migration of unified memory, or how often it has not found a page. */
static void prof__cuda_unified(const prof__cupti_unified *record)
{
    static const char *const counters[] = {"unified memory", "migration H2D", "migration D2H", "page faults of the CPU",
                                           "page faults of the GPU", "thrashing", "throttling", "remote mapping",
                                           "migration D2D"};
    uint32_t what = record->counter, ordinal = what == 2 || what == 8 ? record->from : record->to;
    prof__cuda_event made;
    prof__cuda_gpu *gpu = prof__cuda_gpu_of(what == 3 ? 0 : what == 4 ? record->from : ordinal);
    if (!gpu) return;
    prof__cuda_event_begin(&made, prof__cuda_among(counters, 9, what), record->start, record->end, 0);
    if (what == 3) made.event.type = PROF_EVENT_MARK;
    prof__cuda_arg_number(&made, what == 1 || what == 2 || what == 8 ? "bytes" : "value", record->value);
    prof__cuda_arg(&made, "address", PROF_VALUE_POINTER)->as.u = record->address;
    prof_device_row *row = prof__cuda_row(gpu->device, &gpu->migrations, "unified memory");
    prof__cuda_put(row, &made, &prof__cuda.counts.others);
}

/* Records a range of NVTX, whose begin and end are two records, or an instant. */
static void prof__cuda_marker(const prof__cupti_marker *record)
{
    uint32_t thread = record->object_kind == PROF__CUPTI_OF_THREAD ? record->thread_or_context : 0;
    prof__cuda_range *range = &prof__cuda.ranges[record->id % PROF__CUDA_RANGES];
    prof__cuda_event made;
    prof_device_row *row;
    int starts = record->flags & PROF__CUPTI_RANGE_STARTS, ends = record->flags & PROF__CUPTI_RANGE_ENDS;
    if (!prof__cuda.nvtx) return;
    if (!ends && PROF__LOAD(&prof__cuda.counts.ranges) >= prof__cuda.wishes.ranges) {
        prof__cuda_count(&prof__cuda.counts.ranges_dropped, 1);
        return;
    }
    if (starts) {
        if (range->id) prof__cuda_count(&prof__cuda.counts.ranges_dropped, 1);
        range->id = record->id;
        range->thread = thread;
        range->start = record->time;
        prof__text_copy(range->name, sizeof range->name, record->name ? record->name : "");
        prof__cuda_count(&prof__cuda.counts.ranges, 1);
        return;
    }
    if (ends && range->id != record->id) return; /* its begin was dropped, or before the session */
    prof__cuda_event_begin(&made, ends ? range->name : record->name, ends ? range->start : record->time, record->time,
                           0);
    row = prof__cuda_row_of((uint64_t)0xFFFFFFFF << 32 | (ends ? range->thread : thread), prof__cuda.nvtx, "thread",
                            ends ? range->thread : thread);
    if (!ends) made.event.type = PROF_EVENT_MARK;
    prof_device_record(row, &made.event);
    if (ends)
        range->id = 0;
    else
        prof__cuda_count(&prof__cuda.counts.ranges, 1);
}

/* Copies the beginning of a record. */
#define PROF__CUDA_TAKE(type, call)             \
    {                                           \
        type taken;                             \
        memcpy(&taken, record, sizeof taken);   \
        call;                                   \
        return;                                 \
    }

static void prof__cuda_record(const void *record)
{
    uint32_t kind;
    memcpy(&kind, record, sizeof kind);
    switch (kind) {
    case PROF__CUPTI_KERNEL: PROF__CUDA_TAKE(prof__cupti_kernel, prof__cuda_kernel(&taken))
    case PROF__CUPTI_MEMCPY: PROF__CUDA_TAKE(prof__cupti_memcpy, prof__cuda_copy(&taken, taken.device))
    case PROF__CUPTI_MEMCPY_PEER: PROF__CUDA_TAKE(prof__cupti_memcpy_peer, prof__cuda_copy_peer(&taken))
    case PROF__CUPTI_MEMSET: PROF__CUDA_TAKE(prof__cupti_memset, prof__cuda_fill(&taken))
    case PROF__CUPTI_GRAPH: PROF__CUDA_TAKE(prof__cupti_graph, prof__cuda_graph(&taken))
    case PROF__CUPTI_SYNC: PROF__CUDA_TAKE(prof__cupti_sync, prof__cuda_wait(&taken))
    case PROF__CUPTI_OVERHEAD: PROF__CUDA_TAKE(prof__cupti_overhead, prof__cuda_overhead(&taken))
    case PROF__CUPTI_MEMORY: PROF__CUDA_TAKE(prof__cupti_memory, prof__cuda_memory(&taken))
    case PROF__CUPTI_UNIFIED_MEMORY: PROF__CUDA_TAKE(prof__cupti_unified, prof__cuda_unified(&taken))
    case PROF__CUPTI_MARKER: PROF__CUDA_TAKE(prof__cupti_marker, prof__cuda_marker(&taken))
    default: prof__cuda_count(&prof__cuda.counts.unknown, 1); return;
    }
}

/* Records what is in a buffer. A record must be behind the one before it. */
static void prof__cuda_buffer_read(uint8_t *buffer, size_t valid)
{
    void *record = NULL;
    for (uint8_t *next = buffer;; next = (uint8_t *)record + 8) {
        int result = prof__cuda.api->ActivityGetNextRecord(buffer, valid, &record);
        if (result == PROF__CUPTI_END_OF_BUFFER) return;
        if (result || (uint8_t *)record < next || (uint8_t *)record >= buffer + valid) {
            prof__cuda_count(&prof__cuda.counts.broken_buffers, 1);
            return;
        }
        prof__cuda_record(record);
    }
}

/* Records what CUPTI has handed over. */
static void prof__cuda_buffers_read(void)
{
    for (uint32_t i = 0; i < prof__cuda.buffers; ++i) {
        if (PROF__ACQUIRE(&prof__cuda.buffer[i].state) != PROF__CUDA_FULL) continue;
        prof__cuda_buffer_read(prof__cuda.memory + (size_t)i * PROF__CUDA_BUFFER, (size_t)prof__cuda.buffer[i].valid);
        PROF__RELEASE(&prof__cuda.buffer[i].state, (uint32_t)PROF__CUDA_FREE);
    }
}
#endif

#endif /* PROF__CUDA_RECORDS_H */
