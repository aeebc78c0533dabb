// cuda/abi: What prof_cuda.h uses of the binary interfaces of CUPTI and of the CUDA driver, in declarations of our own.
#ifndef PROF__CUDA_ABI_H
#define PROF__CUDA_ABI_H
#include "ground/base.h"

/*-- ABI ------------------------------------------------------------------------------------------------------ >>abi --
   CUPTI's records have no size and no version. From CUDA 12.0 to 13.5 they have grown at their end only, so each struct
   here is the beginning that all versions share. tests/compile/cupti.sh compares all of this with NVIDIA's headers. */

/* Results of CUPTI. */
enum {
    PROF__CUPTI_END_OF_BUFFER = 12,
    PROF__CUPTI_FLUSH_FORCED = 1,
    PROF__CUPTI_DOMAIN_DRIVER = 1, /* of callbacks */
    PROF__CUPTI_DOMAIN_RUNTIME = 2,
    PROF__CUPTI_EXIT = 1,          /* the site of a callback: the function returns */
    PROF__CUPTI_MEMSET_ASYNC = 1,
    PROF__CUPTI_MEMCPY_ASYNC = 1,
    PROF__CUPTI_ALLOCATES = 1, /* memory operations */
    PROF__CUPTI_RELEASES = 2,
    PROF__CUPTI_RANGE_STARTS = 2, /* flags of markers */
    PROF__CUPTI_RANGE_ENDS = 4,
    PROF__CUPTI_OF_THREAD = 2 /* kinds of objects */
};

/* Kinds of records. */
enum {
    PROF__CUPTI_MEMCPY = 1,
    PROF__CUPTI_MEMSET = 2,
    PROF__CUPTI_KERNEL = 10, /* those that run at the same time, too */
    PROF__CUPTI_MARKER = 12,
    PROF__CUPTI_OVERHEAD = 17,
    PROF__CUPTI_MEMCPY_PEER = 22,
    PROF__CUPTI_UNIFIED_MEMORY = 25,
    PROF__CUPTI_SYNC = 38,
    PROF__CUPTI_MEMORY = 49,
    PROF__CUPTI_GRAPH = 51
};

typedef struct prof__cupti_kernel {
    uint32_t kind;
    uint8_t cache_config, shared_config;
    uint16_t registers;
    uint32_t partitioned_requested, partitioned_executed;
    uint64_t start, end, completed;
    uint32_t device, context, stream;
    int32_t grid[3], block[3], static_shared, dynamic_shared;
    uint32_t local_per_thread, local_total, correlation;
    int64_t grid_id;
    const char *name;
    void *reserved;
    uint64_t queued, submitted;
    uint8_t launch_type, shared_requested, carveout, padding;
    uint32_t shared_executed;
    uint64_t graph_node;
    uint32_t limit_config, graph;
} prof__cupti_kernel;

typedef struct prof__cupti_memcpy {
    uint32_t kind;
    uint8_t copy_kind, from, to, flags;
    uint64_t bytes, start, end;
    uint32_t device, context, stream, correlation, runtime_correlation, padding;
    void *reserved;
    uint64_t graph_node;
    uint32_t graph, channel;
} prof__cupti_memcpy;

typedef struct prof__cupti_memcpy_peer {
    uint32_t kind;
    uint8_t copy_kind, from, to, flags;
    uint64_t bytes, start, end;
    uint32_t device, context, stream, from_device, from_context, to_device, to_context, correlation;
    void *reserved;
    uint64_t graph_node;
    uint32_t graph, channel;
} prof__cupti_memcpy_peer;

typedef struct prof__cupti_memset {
    uint32_t kind, value;
    uint64_t bytes, start, end;
    uint32_t device, context, stream, correlation;
    uint16_t flags, memory_kind;
    uint32_t padding;
    void *reserved;
    uint64_t graph_node;
    uint32_t graph, channel;
} prof__cupti_memset;

typedef struct prof__cupti_sync {
    uint32_t kind, type;
    uint64_t start, end;
    uint32_t correlation, context, stream, event;
} prof__cupti_sync;

typedef struct prof__cupti_overhead {
    uint32_t kind, what, object_kind, process_or_device, thread_or_context, stream;
    uint64_t start, end;
} prof__cupti_overhead;

typedef struct prof__cupti_graph {
    uint32_t kind, correlation;
    uint64_t start, end;
    uint32_t device, graph, context, stream;
} prof__cupti_graph;

typedef struct prof__cupti_memory {
    uint32_t kind, operation, memory_kind, correlation;
    uint64_t address, bytes, time, program_counter;
    uint32_t process, device, context, stream;
} prof__cupti_memory;

typedef struct prof__cupti_marker {
    uint32_t kind, flags;
    uint64_t time;
    uint32_t id, object_kind, process_or_device, thread_or_context, stream, padding;
    const char *name, *domain;
} prof__cupti_marker;

typedef struct prof__cupti_unified {
    uint32_t kind, counter;
    uint64_t value, start, end, address;
    uint32_t from, to, stream;
} prof__cupti_unified;

typedef struct prof__cupti_unified_config {
    uint32_t scope, kind, device, enable;
} prof__cupti_unified_config;

/* What a callback gets about a call. */
typedef struct prof__cupti_call {
    uint32_t site;
    const char *function;
    const void *parameters;
    void *result;
    const char *symbol;
    void *context;
    uint32_t context_id;
    uint64_t *data; /* the subscriber's own, from the call's begin to its end */
    uint32_t correlation;
} prof__cupti_call;

typedef void prof__cupti_callback(void *user, uint32_t domain, uint32_t id, const void *about);
typedef void prof__cupti_request(uint8_t **buffer, size_t *size, size_t *most_records);
typedef void prof__cupti_complete(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid);

/* Functions: result or 0, name, parameters. The first list must be there, the second may be missing. */
#define PROF__CUPTI_FUNCTIONS(X)                                                           \
    X(GetVersion, (uint32_t * version))                                                    \
    X(GetTimestamp, (uint64_t * time))                                                     \
    X(Subscribe, (void **subscriber, prof__cupti_callback *callback, void *user))          \
    X(Unsubscribe, (void *subscriber))                                                     \
    X(EnableCallback, (uint32_t on, void *subscriber, uint32_t domain, uint32_t id))       \
    X(ActivityRegisterCallbacks, (prof__cupti_request * request, prof__cupti_complete * complete)) \
    X(ActivityEnable, (uint32_t kind))                                                     \
    X(ActivityDisable, (uint32_t kind))                                                    \
    X(ActivityFlushAll, (uint32_t flags))                                                  \
    X(ActivityGetNextRecord, (uint8_t *buffer, size_t valid, void **record))               \
    X(ActivityGetNumDroppedRecords, (void *context, uint32_t stream, size_t *dropped))     \
    X(ActivityConfigureUnifiedMemoryCounter, (prof__cupti_unified_config * configs, uint32_t count))
#define PROF__CUDA_FUNCTIONS(X)                                    \
    X(Init, (unsigned flags))                                      \
    X(DriverGetVersion, (int *version))                            \
    X(DeviceGetCount, (int *count))                                \
    X(DeviceGet, (int *device, int ordinal))                       \
    X(DeviceGetName, (char *name, int size, int device))           \
    X(DeviceGetAttribute, (int *value, int attribute, int device)) \
    X(DeviceTotalMem_v2, (size_t *bytes, int device))

typedef struct prof__cuda_api {
#define PROF__CUDA_POINTER(name, parameters) int(*name) parameters;
    PROF__CUPTI_FUNCTIONS(PROF__CUDA_POINTER)
    PROF__CUDA_FUNCTIONS(PROF__CUDA_POINTER)
#undef PROF__CUDA_POINTER
} prof__cuda_api;

/* Attributes of a device that cuDeviceGetAttribute() knows: field, number */
#define PROF__CUDA_ATTRIBUTES(X)                                                                      \
    X(warp, 10) X(clock_khz, 13) X(processors, 16) X(memory_khz, 36) X(memory_bits, 37)               \
    X(threads, 39) X(major, 75) X(minor, 76) X(shared, 81) X(registers, 82) X(blocks, 106)            \
    X(reserved_shared, 111) X(block_threads, 1) X(block_registers, 12)

/* Functions of the driver of which a call becomes a scope. X(name, id of callbacks, 1: it gives the GPU work) */
#define PROF__CUDA_CALLS(X)                                                                                           \
    X(cuLaunchKernel, 307, 1) X(cuLaunchKernel_ptsz, 442, 1) X(cuLaunchKernelEx, 652, 1)                              \
    X(cuLaunchKernelEx_ptsz, 653, 1) X(cuLaunchCooperativeKernel, 477, 1) X(cuLaunchCooperativeKernel_ptsz, 478, 1)   \
    X(cuLaunchCooperativeKernelMultiDevice, 480, 1) X(cuGraphLaunch, 514, 1) X(cuGraphLaunch_ptsz, 515, 1)            \
    X(cuMemcpy, 305, 1) X(cuMemcpy_ptds, 408, 1) X(cuMemcpyAsync, 306, 1) X(cuMemcpyAsync_ptsz, 418, 1)               \
    X(cuMemcpyHtoD_v2, 276, 1) X(cuMemcpyHtoD_v2_ptds, 397, 1) X(cuMemcpyHtoDAsync_v2, 277, 1)                        \
    X(cuMemcpyHtoDAsync_v2_ptsz, 421, 1) X(cuMemcpyDtoH_v2, 278, 1) X(cuMemcpyDtoH_v2_ptds, 398, 1)                   \
    X(cuMemcpyDtoHAsync_v2, 279, 1) X(cuMemcpyDtoHAsync_v2_ptsz, 422, 1) X(cuMemcpyDtoD_v2, 280, 1)                   \
    X(cuMemcpyDtoD_v2_ptds, 399, 1) X(cuMemcpyDtoDAsync_v2, 281, 1) X(cuMemcpyDtoDAsync_v2_ptsz, 423, 1)              \
    X(cuMemcpyAtoH_v2, 282, 1) X(cuMemcpyAtoHAsync_v2, 283, 1) X(cuMemcpyAtoD_v2, 284, 1) X(cuMemcpyDtoA_v2, 285, 1)  \
    X(cuMemcpyAtoA_v2, 286, 1) X(cuMemcpy2D_v2, 287, 1) X(cuMemcpy2DUnaligned_v2, 288, 1)                             \
    X(cuMemcpy2DAsync_v2, 289, 1) X(cuMemcpy2DAsync_v2_ptsz, 424, 1) X(cuMemcpy3D_v2, 290, 1)                         \
    X(cuMemcpy3DAsync_v2, 291, 1) X(cuMemcpy3DAsync_v2_ptsz, 425, 1) X(cuMemcpyHtoA_v2, 292, 1)                       \
    X(cuMemcpyHtoAAsync_v2, 293, 1) X(cuMemcpyPeer, 318, 1) X(cuMemcpyPeerAsync, 319, 1)                              \
    X(cuMemcpyPeerAsync_ptsz, 426, 1) X(cuMemcpy3DPeerAsync, 321, 1)                                                  \
    X(cuMemsetD8_v2, 249, 1) X(cuMemsetD16_v2, 250, 1) X(cuMemsetD32_v2, 251, 1) X(cuMemsetD2D8_v2, 252, 1)           \
    X(cuMemsetD2D16_v2, 253, 1) X(cuMemsetD2D32_v2, 254, 1) X(cuMemsetD8Async, 216, 1)                                \
    X(cuMemsetD8Async_ptsz, 428, 1) X(cuMemsetD16Async, 218, 1) X(cuMemsetD16Async_ptsz, 429, 1)                      \
    X(cuMemsetD32Async, 220, 1) X(cuMemsetD32Async_ptsz, 430, 1) X(cuMemsetD2D8Async, 222, 1)                         \
    X(cuMemsetD2D32Async, 226, 1) X(cuMemPrefetchAsync, 467, 1) X(cuMemPrefetchAsync_ptsz, 468, 1)                    \
    X(cuMemAlloc_v2, 243, 0) X(cuMemAllocPitch_v2, 244, 0) X(cuMemFree_v2, 245, 0) X(cuMemAllocHost_v2, 294, 0)       \
    X(cuMemFreeHost, 38, 0) X(cuMemAllocManaged, 371, 0) X(cuMemHostRegister_v2, 379, 0)                          \
    X(cuMemHostUnregister, 302, 0) X(cuMemAllocAsync, 598, 0) X(cuMemAllocAsync_ptsz, 599, 0)                         \
    X(cuMemFreeAsync, 600, 0) X(cuMemFreeAsync_ptsz, 601, 0)                                                          \
    X(cuMemAllocFromPoolAsync, 611, 0) X(cuCtxSynchronize, 17, 0) X(cuStreamSynchronize, 126, 0)                      \
    X(cuStreamSynchronize_ptsz, 440, 0) X(cuEventSynchronize, 121, 0) X(cuStreamWaitEvent, 295, 0)                    \
    X(cuStreamWaitEvent_ptsz, 436, 0) X(cuModuleLoad, 18, 0) X(cuModuleLoadData, 19, 0) X(cuModuleLoadDataEx, 20, 0)  \
    X(cuModuleLoadFatBinary, 21, 0) X(cuLibraryLoadData, 678, 0) X(cuLibraryLoadFromFile, 679, 0)                     \
    X(cuLaunchHostFunc, 527, 0) X(cuLaunchHostFunc_ptsz, 528, 0) X(cuCtxCreate_v2, 235, 0)                            \
    X(cuDevicePrimaryCtxRetain, 386, 0) X(cuGraphInstantiateWithFlags, 643, 0)
/* Likewise of the runtime, which calls the driver. X(name, the version of CUDA that it is of, id, as above) */
#define PROF__CUDA_RUNTIME_CALLS(X)                                                                                   \
    X(cudaMalloc, v3020, 20, 0) X(cudaMallocPitch, v3020, 21, 0) X(cudaFree, v3020, 22, 0)                            \
    X(cudaMallocArray, v3020, 23, 0) X(cudaFreeArray, v3020, 24, 0) X(cudaMallocHost, v3020, 25, 0)                   \
    X(cudaFreeHost, v3020, 26, 0) X(cudaHostAlloc, v3020, 27, 0) X(cudaMemcpy, v3020, 31, 1)                          \
    X(cudaMemcpy2D, v3020, 32, 1) X(cudaMemcpyToArray, v3020, 33, 1) X(cudaMemcpy2DToArray, v3020, 34, 1)             \
    X(cudaMemcpyFromArray, v3020, 35, 1) X(cudaMemcpy2DFromArray, v3020, 36, 1)                                       \
    X(cudaMemcpyArrayToArray, v3020, 37, 1) X(cudaMemcpy2DArrayToArray, v3020, 38, 1)                                 \
    X(cudaMemcpyToSymbol, v3020, 39, 1) X(cudaMemcpyFromSymbol, v3020, 40, 1) X(cudaMemcpyAsync, v3020, 41, 1)        \
    X(cudaMemcpyToArrayAsync, v3020, 42, 1) X(cudaMemcpyFromArrayAsync, v3020, 43, 1)                                 \
    X(cudaMemcpy2DAsync, v3020, 44, 1) X(cudaMemcpy2DToArrayAsync, v3020, 45, 1)                                      \
    X(cudaMemcpy2DFromArrayAsync, v3020, 46, 1) X(cudaMemcpyToSymbolAsync, v3020, 47, 1)                              \
    X(cudaMemcpyFromSymbolAsync, v3020, 48, 1) X(cudaMemset, v3020, 49, 1) X(cudaMemset2D, v3020, 50, 1)              \
    X(cudaMemsetAsync, v3020, 51, 1) X(cudaMemset2DAsync, v3020, 52, 1) X(cudaThreadSynchronize, v3020, 126, 0)       \
    X(cudaStreamSynchronize, v3020, 131, 0) X(cudaEventSynchronize, v3020, 137, 0) X(cudaMalloc3D, v3020, 140, 0)     \
    X(cudaMalloc3DArray, v3020, 141, 0) X(cudaMemset3D, v3020, 142, 1) X(cudaMemset3DAsync, v3020, 143, 1)            \
    X(cudaMemcpy3D, v3020, 144, 1) X(cudaMemcpy3DAsync, v3020, 145, 1) X(cudaStreamWaitEvent, v3020, 147, 0)          \
    X(cudaHostRegister, v4000, 152, 0) X(cudaHostUnregister, v4000, 153, 0) X(cudaMemcpyPeer, v4000, 160, 1)          \
    X(cudaMemcpyPeerAsync, v4000, 161, 1) X(cudaMemcpy3DPeer, v4000, 162, 1) X(cudaMemcpy3DPeerAsync, v4000, 163, 1)  \
    X(cudaDeviceSynchronize, v3020, 165, 0) X(cudaMallocMipmappedArray, v5000, 192, 0)                                \
    X(cudaFreeMipmappedArray, v5000, 194, 0) X(cudaMallocManaged, v6000, 206, 0) X(cudaLaunchKernel, v7000, 211, 1)   \
    X(cudaLaunchKernel_ptsz, v7000, 214, 1) X(cudaMemcpy_ptds, v7000, 215, 1) X(cudaMemcpy2D_ptds, v7000, 216, 1)     \
    X(cudaMemcpyToArray_ptds, v7000, 217, 1) X(cudaMemcpy2DToArray_ptds, v7000, 218, 1)                               \
    X(cudaMemcpyFromArray_ptds, v7000, 219, 1) X(cudaMemcpy2DFromArray_ptds, v7000, 220, 1)                           \
    X(cudaMemcpyArrayToArray_ptds, v7000, 221, 1) X(cudaMemcpy2DArrayToArray_ptds, v7000, 222, 1)                     \
    X(cudaMemcpyToSymbol_ptds, v7000, 223, 1) X(cudaMemcpyFromSymbol_ptds, v7000, 224, 1)                             \
    X(cudaMemcpyAsync_ptsz, v7000, 225, 1) X(cudaMemcpyToArrayAsync_ptsz, v7000, 226, 1)                              \
    X(cudaMemcpyFromArrayAsync_ptsz, v7000, 227, 1) X(cudaMemcpy2DAsync_ptsz, v7000, 228, 1)                          \
    X(cudaMemcpy2DToArrayAsync_ptsz, v7000, 229, 1) X(cudaMemcpy2DFromArrayAsync_ptsz, v7000, 230, 1)                 \
    X(cudaMemcpyToSymbolAsync_ptsz, v7000, 231, 1) X(cudaMemcpyFromSymbolAsync_ptsz, v7000, 232, 1)                   \
    X(cudaMemset_ptds, v7000, 233, 1) X(cudaMemset2D_ptds, v7000, 234, 1) X(cudaMemsetAsync_ptsz, v7000, 235, 1)      \
    X(cudaMemset2DAsync_ptsz, v7000, 236, 1) X(cudaStreamSynchronize_ptsz, v7000, 239, 0)                             \
    X(cudaMemset3D_ptds, v7000, 243, 1) X(cudaMemset3DAsync_ptsz, v7000, 244, 1) X(cudaMemcpy3D_ptds, v7000, 245, 1)  \
    X(cudaMemcpy3DAsync_ptsz, v7000, 246, 1) X(cudaStreamWaitEvent_ptsz, v7000, 247, 0)                               \
    X(cudaMemcpy3DPeer_ptds, v7000, 249, 1) X(cudaMemcpy3DPeerAsync_ptsz, v7000, 250, 1)                              \
    X(cudaMemPrefetchAsync, v8000, 252, 1) X(cudaMemPrefetchAsync_ptsz, v8000, 253, 1)                                \
    X(cudaLaunchCooperativeKernel, v9000, 269, 1) X(cudaLaunchCooperativeKernel_ptsz, v9000, 270, 1)                  \
    X(cudaLaunchCooperativeKernelMultiDevice, v9000, 272, 1) X(cudaLaunchHostFunc, v10000, 284, 0)                    \
    X(cudaLaunchHostFunc_ptsz, v10000, 285, 0) X(cudaGraphInstantiate, v10000, 310, 0)                                \
    X(cudaGraphLaunch, v10000, 311, 1) X(cudaGraphLaunch_ptsz, v10000, 312, 1) X(cudaGraphUpload, v10000, 348, 0)     \
    X(cudaGraphUpload_ptsz, v10000, 349, 0) X(cudaMallocAsync, v11020, 373, 0)                                        \
    X(cudaMallocAsync_ptsz, v11020, 374, 0) X(cudaFreeAsync, v11020, 375, 0) X(cudaFreeAsync_ptsz, v11020, 376, 0)    \
    X(cudaMallocFromPoolAsync, v11020, 391, 0) X(cudaMallocFromPoolAsync_ptsz, v11020, 392, 0)                        \
    X(cudaGraphInstantiateWithFlags, v11040, 418, 0) X(cudaLaunchKernelExC, v11060, 430, 1)                           \
    X(cudaLaunchKernelExC_ptsz, v11060, 431, 1) X(cudaGraphInstantiateWithParams, v12000, 436, 0)                     \
    X(cudaGraphInstantiateWithParams_ptsz, v12000, 437, 0) X(cudaGraphInstantiate, v12000, 443, 0)                    \
    X(cudaInitDevice, v12000, 444, 0)
/* Those that came after CUDA 12.1. */
#define PROF__CUDA_NEWER_CALLS(X)                                                                                     \
    X(cudaMemPrefetchAsync, v12020, 449, 1) X(cudaMemPrefetchAsync_ptsz, v12020, 450, 1)                              \
    X(cudaLibraryLoadData, v12060, 470, 0) X(cudaLibraryLoadFromFile, v12060, 471, 0)                                 \
    X(cudaMemcpyBatchAsync, v12080, 482, 1) X(cudaMemcpyBatchAsync_ptsz, v12080, 483, 1)                              \
    X(cudaMemcpy3DBatchAsync, v12080, 484, 1) X(cudaMemcpy3DBatchAsync_ptsz, v12080, 485, 1)                          \
    X(cudaMemPrefetchBatchAsync, v13000, 487, 1) X(cudaMemPrefetchBatchAsync_ptsz, v13000, 488, 1)                    \
    X(cudaMemcpyBatchAsync, v13000, 509, 1) X(cudaMemcpyBatchAsync_ptsz, v13000, 510, 1)                              \
    X(cudaMemcpy3DBatchAsync, v13000, 511, 1) X(cudaMemcpy3DBatchAsync_ptsz, v13000, 512, 1)
#define PROF__CUDA_IDS 1024 /* ids of callbacks are below */

#endif /* PROF__CUDA_ABI_H */
