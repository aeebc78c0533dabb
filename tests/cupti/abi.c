/* The declarations of src/cuda/abi.h beside those of NVIDIA's headers: see tests/compile/cupti.sh. */
#include <cupti_activity.h>
#include <cupti_callbacks.h>
#include <cupti_driver_cbid.h>
#include <cupti_result.h>
#include <cupti_runtime_cbid.h>
#include "cuda/abi.h"

#define SAME(name, ours, theirs) typedef char name[(long long)(ours) == (long long)(theirs) ? 1 : -1]
#define FIELD(ours, a, theirs, b)                                                                          \
    SAME(same_##ours##_##a, offsetof(prof__cupti_##ours, a), offsetof(theirs, b));                         \
    SAME(wide_##ours##_##a, sizeof((prof__cupti_##ours *)0)->a, sizeof((theirs *)0)->b)

/* the oldest struct that has all the fields, so that all versions of the headers have it */
typedef CUpti_ActivityKernel9 kernel;
FIELD(kernel, kind, kernel, kind);
FIELD(kernel, registers, kernel, registersPerThread);
FIELD(kernel, start, kernel, start);
FIELD(kernel, end, kernel, end);
FIELD(kernel, completed, kernel, completed);
FIELD(kernel, device, kernel, deviceId);
FIELD(kernel, context, kernel, contextId);
FIELD(kernel, stream, kernel, streamId);
SAME(grid, offsetof(prof__cupti_kernel, grid), offsetof(kernel, gridX));
SAME(grid_z, offsetof(prof__cupti_kernel, grid[2]), offsetof(kernel, gridZ));
SAME(block, offsetof(prof__cupti_kernel, block), offsetof(kernel, blockX));
SAME(block_z, offsetof(prof__cupti_kernel, block[2]), offsetof(kernel, blockZ));
FIELD(kernel, static_shared, kernel, staticSharedMemory);
FIELD(kernel, dynamic_shared, kernel, dynamicSharedMemory);
FIELD(kernel, correlation, kernel, correlationId);
FIELD(kernel, grid_id, kernel, gridId);
FIELD(kernel, name, kernel, name);
FIELD(kernel, queued, kernel, queued);
FIELD(kernel, submitted, kernel, submitted);
FIELD(kernel, shared_executed, kernel, sharedMemoryExecuted);
FIELD(kernel, graph_node, kernel, graphNodeId);
FIELD(kernel, graph, kernel, graphId);
#ifdef NEWER /* 13.0 and later: the largest struct of the library */
#define LATEST(field) SAME(latest_##field, offsetof(kernel, field), offsetof(CUpti_ActivityKernel10, field))
LATEST(correlationId);
LATEST(name);
LATEST(graphId);
LATEST(sharedMemoryExecuted);
#endif

typedef CUpti_ActivityMemcpy5 memcpy_record;
FIELD(memcpy, copy_kind, memcpy_record, copyKind);
FIELD(memcpy, from, memcpy_record, srcKind);
FIELD(memcpy, to, memcpy_record, dstKind);
FIELD(memcpy, flags, memcpy_record, flags);
FIELD(memcpy, bytes, memcpy_record, bytes);
FIELD(memcpy, start, memcpy_record, start);
FIELD(memcpy, end, memcpy_record, end);
FIELD(memcpy, device, memcpy_record, deviceId);
FIELD(memcpy, context, memcpy_record, contextId);
FIELD(memcpy, stream, memcpy_record, streamId);
FIELD(memcpy, correlation, memcpy_record, correlationId);
FIELD(memcpy, graph_node, memcpy_record, graphNodeId);
FIELD(memcpy, graph, memcpy_record, graphId);

typedef CUpti_ActivityMemcpyPtoP4 peer;
FIELD(memcpy_peer, copy_kind, peer, copyKind);
FIELD(memcpy_peer, bytes, peer, bytes);
FIELD(memcpy_peer, start, peer, start);
FIELD(memcpy_peer, device, peer, deviceId);
FIELD(memcpy_peer, stream, peer, streamId);
FIELD(memcpy_peer, from_device, peer, srcDeviceId);
FIELD(memcpy_peer, to_device, peer, dstDeviceId);
FIELD(memcpy_peer, correlation, peer, correlationId);
FIELD(memcpy_peer, graph_node, peer, graphNodeId);
FIELD(memcpy_peer, graph, peer, graphId);

typedef CUpti_ActivityMemset4 memset_record;
FIELD(memset, value, memset_record, value);
FIELD(memset, bytes, memset_record, bytes);
FIELD(memset, start, memset_record, start);
FIELD(memset, end, memset_record, end);
FIELD(memset, device, memset_record, deviceId);
FIELD(memset, context, memset_record, contextId);
FIELD(memset, stream, memset_record, streamId);
FIELD(memset, correlation, memset_record, correlationId);
FIELD(memset, flags, memset_record, flags);
FIELD(memset, memory_kind, memset_record, memoryKind);
FIELD(memset, graph_node, memset_record, graphNodeId);
FIELD(memset, graph, memset_record, graphId);

typedef CUpti_ActivitySynchronization sync_record;
FIELD(sync, type, sync_record, type);
FIELD(sync, start, sync_record, start);
FIELD(sync, end, sync_record, end);
FIELD(sync, correlation, sync_record, correlationId);
FIELD(sync, context, sync_record, contextId);
FIELD(sync, stream, sync_record, streamId);
FIELD(sync, event, sync_record, cudaEventId);

FIELD(overhead, what, CUpti_ActivityOverhead, overheadKind);
FIELD(overhead, object_kind, CUpti_ActivityOverhead, objectKind);
FIELD(overhead, process_or_device, CUpti_ActivityOverhead, objectId.pt.processId);
FIELD(overhead, thread_or_context, CUpti_ActivityOverhead, objectId.pt.threadId);
FIELD(overhead, stream, CUpti_ActivityOverhead, objectId.dcs.streamId);
FIELD(overhead, start, CUpti_ActivityOverhead, start);
FIELD(overhead, end, CUpti_ActivityOverhead, end);

FIELD(graph, correlation, CUpti_ActivityGraphTrace, correlationId);
FIELD(graph, start, CUpti_ActivityGraphTrace, start);
FIELD(graph, end, CUpti_ActivityGraphTrace, end);
FIELD(graph, device, CUpti_ActivityGraphTrace, deviceId);
FIELD(graph, graph, CUpti_ActivityGraphTrace, graphId);
FIELD(graph, context, CUpti_ActivityGraphTrace, contextId);
FIELD(graph, stream, CUpti_ActivityGraphTrace, streamId);

typedef CUpti_ActivityMemory3 memory;
FIELD(memory, operation, memory, memoryOperationType);
FIELD(memory, memory_kind, memory, memoryKind);
FIELD(memory, correlation, memory, correlationId);
FIELD(memory, address, memory, address);
FIELD(memory, bytes, memory, bytes);
FIELD(memory, time, memory, timestamp);
FIELD(memory, process, memory, processId);
FIELD(memory, device, memory, deviceId);
FIELD(memory, context, memory, contextId);
FIELD(memory, stream, memory, streamId);

typedef CUpti_ActivityMarker2 marker;
FIELD(marker, flags, marker, flags);
FIELD(marker, time, marker, timestamp);
FIELD(marker, id, marker, id);
FIELD(marker, object_kind, marker, objectKind);
FIELD(marker, process_or_device, marker, objectId.pt.processId);
FIELD(marker, thread_or_context, marker, objectId.pt.threadId);
FIELD(marker, name, marker, name);
FIELD(marker, domain, marker, domain);

typedef CUpti_ActivityUnifiedMemoryCounter2 unified;
FIELD(unified, counter, unified, counterKind);
FIELD(unified, value, unified, value);
FIELD(unified, start, unified, start);
FIELD(unified, end, unified, end);
FIELD(unified, address, unified, address);
FIELD(unified, from, unified, srcId);
FIELD(unified, to, unified, dstId);
FIELD(unified, stream, unified, streamId);

FIELD(unified_config, kind, CUpti_ActivityUnifiedMemoryCounterConfig, kind);
FIELD(unified_config, device, CUpti_ActivityUnifiedMemoryCounterConfig, deviceId);
FIELD(unified_config, enable, CUpti_ActivityUnifiedMemoryCounterConfig, enable);
SAME(unified_config_size, sizeof(prof__cupti_unified_config), sizeof(CUpti_ActivityUnifiedMemoryCounterConfig));

FIELD(call, site, CUpti_CallbackData, callbackSite);
FIELD(call, function, CUpti_CallbackData, functionName);
FIELD(call, parameters, CUpti_CallbackData, functionParams);
FIELD(call, result, CUpti_CallbackData, functionReturnValue);
FIELD(call, symbol, CUpti_CallbackData, symbolName);
FIELD(call, context, CUpti_CallbackData, context);
FIELD(call, context_id, CUpti_CallbackData, contextUid);
FIELD(call, data, CUpti_CallbackData, correlationData);
FIELD(call, correlation, CUpti_CallbackData, correlationId);

SAME(end_of_buffer, PROF__CUPTI_END_OF_BUFFER, CUPTI_ERROR_MAX_LIMIT_REACHED);
SAME(flush_forced, PROF__CUPTI_FLUSH_FORCED, CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
SAME(domain_driver, PROF__CUPTI_DOMAIN_DRIVER, CUPTI_CB_DOMAIN_DRIVER_API);
SAME(domain_runtime, PROF__CUPTI_DOMAIN_RUNTIME, CUPTI_CB_DOMAIN_RUNTIME_API);
SAME(exits, PROF__CUPTI_EXIT, CUPTI_API_EXIT);
SAME(memset_async, PROF__CUPTI_MEMSET_ASYNC, CUPTI_ACTIVITY_FLAG_MEMSET_ASYNC);
SAME(memcpy_async, PROF__CUPTI_MEMCPY_ASYNC, CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC);
SAME(allocates, PROF__CUPTI_ALLOCATES, CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION);
SAME(releases, PROF__CUPTI_RELEASES, CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE);
SAME(range_starts, PROF__CUPTI_RANGE_STARTS, CUPTI_ACTIVITY_FLAG_MARKER_START);
SAME(range_ends, PROF__CUPTI_RANGE_ENDS, CUPTI_ACTIVITY_FLAG_MARKER_END);
SAME(of_thread, PROF__CUPTI_OF_THREAD, CUPTI_ACTIVITY_OBJECT_THREAD);

SAME(kind_memcpy, PROF__CUPTI_MEMCPY, CUPTI_ACTIVITY_KIND_MEMCPY);
SAME(kind_memset, PROF__CUPTI_MEMSET, CUPTI_ACTIVITY_KIND_MEMSET);
SAME(kind_kernel, PROF__CUPTI_KERNEL, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
SAME(kind_marker, PROF__CUPTI_MARKER, CUPTI_ACTIVITY_KIND_MARKER);
SAME(kind_overhead, PROF__CUPTI_OVERHEAD, CUPTI_ACTIVITY_KIND_OVERHEAD);
SAME(kind_peer, PROF__CUPTI_MEMCPY_PEER, CUPTI_ACTIVITY_KIND_MEMCPY2);
SAME(kind_unified, PROF__CUPTI_UNIFIED_MEMORY, CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER);
SAME(kind_sync, PROF__CUPTI_SYNC, CUPTI_ACTIVITY_KIND_SYNCHRONIZATION);
SAME(kind_memory, PROF__CUPTI_MEMORY, CUPTI_ACTIVITY_KIND_MEMORY2);
SAME(kind_graph, PROF__CUPTI_GRAPH, CUPTI_ACTIVITY_KIND_GRAPH_TRACE);

#define CALL(name, id, work) SAME(id_##name, id, CUPTI_DRIVER_TRACE_CBID_##name);
PROF__CUDA_CALLS(CALL)
#define RUNTIME_CALL(name, version, id, work) \
    SAME(id_##name##_##version, id, CUPTI_RUNTIME_TRACE_CBID_##name##_##version);
PROF__CUDA_RUNTIME_CALLS(RUNTIME_CALL)
#ifdef NEWER
PROF__CUDA_NEWER_CALLS(RUNTIME_CALL)
#endif

/* The functions: a declaration that differs would not compile. An enum is as wide as an int. */
#define TAKES(name, parameters) CUptiResult (*const takes_##name) parameters = cupti##name;
TAKES(Subscribe, (CUpti_SubscriberHandle *, CUpti_CallbackFunc, void *))
TAKES(Unsubscribe, (CUpti_SubscriberHandle))
TAKES(EnableCallback, (uint32_t, CUpti_SubscriberHandle, CUpti_CallbackDomain, CUpti_CallbackId))
TAKES(ActivityRegisterCallbacks, (CUpti_BuffersCallbackRequestFunc, CUpti_BuffersCallbackCompleteFunc))
TAKES(ActivityEnable, (CUpti_ActivityKind))
TAKES(ActivityDisable, (CUpti_ActivityKind))
TAKES(ActivityFlushAll, (uint32_t))
TAKES(ActivityGetNextRecord, (uint8_t *, size_t, CUpti_Activity **))
TAKES(ActivityGetNumDroppedRecords, (CUcontext, uint32_t, size_t *))
TAKES(GetTimestamp, (uint64_t *))
TAKES(ActivityConfigureUnifiedMemoryCounter, (CUpti_ActivityUnifiedMemoryCounterConfig *, uint32_t))
SAME(enums, sizeof(CUptiResult), sizeof(int));
SAME(kinds, sizeof(CUpti_ActivityKind), sizeof(uint32_t));
SAME(domains, sizeof(CUpti_CallbackDomain), sizeof(uint32_t));
