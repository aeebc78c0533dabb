/* prof_cuda.h - what NVIDIA GPUs do, on the time line of prof.h. A single C header.
assembled from src/: change it there, see CONTRIBUTING.md

   See README.md and docs/gpu.md. Licence: at the end of the file.

     #define PROF_IMPLEMENTATION
     #include "prof_cuda.h"

     int main(void)
     {
         prof_cuda_enable(NULL);            // before the program's first CUDA call
         prof_start(NULL);
         ...                                // CUDA, by any library and language: nothing else is marked
         prof_stop();
     }

   Each GPU is a device of the trace, "GPU 0", with a track for each stream: kernels, copies, fills, graphs. Other
   tracks have its memory, what waits for it, page migrations of unified memory, and CUPTI's own overhead. Calls of the
   CUDA runtime and of the driver become scopes of the threads that make them, inside the program's own scopes; an arrow
   leads from each launch to the kernel. What the runtime has the driver do for the same call is not recorded twice. The
   arguments are those of XProf's own recorder, so that its kernel statistics work.

   It uses NVIDIA's tracing library CUPTI, and needs neither CUDA's headers nor a library to link: the driver and CUPTI
   are loaded at run time, and never unloaded. CUPTI comes with the CUDA toolkit, and with the Python packages
   nvidia-cuda-cupti and nvidia-cuda-cupti-cu12. It needs CUPTI of CUDA 12.0 or later, and Linux.

   NOBODY HAS RUN IT ON A GPU YET. It was tested with a CUPTI of our own (tests/fake_cupti.c), whose interface is
   compared with NVIDIA's headers. tools/check_on_gpu.sh checks everything on a machine with a GPU: please send what it
   prints.

SESSIONS

   After prof_cuda_enable() every session records GPUs, but one with no_devices (TensorFlow's device_tracer_level 0),
   and one of PROF_STATS, which keeps no events of devices. At level 0 (host_tracer_level 0) calls and arrows are left
   out. prof_stop() has CUPTI hand over what it has: a kernel that runs on has no end, and is counted in
   prof_cuda_counts.untimed. To have it, wait for the GPU first (cuCtxSynchronize, cudaDeviceSynchronize).

   Costs: prof_cuda_enable() initialises the driver (cuInit). A session has a thread, and config.memory for CUPTI's
   records: 16 MiB. A launch costs its thread what CUPTI costs, and a scope, an argument and an arrow. Nothing is
   allocated there. A kernel takes some 400 bytes of prof's buffer.

   One profiler at a time can use CUPTI: not beside Nsight, or the profilers of JAX and PyTorch.
   A child of fork() records no GPU, and CUDA does not work there.

KEYS of JAX, for prof_config_set(). They hold for the sessions that begin after they were set, whatever the prof_config.

     gpu_max_callback_api_events     2097152   calls that a session records; more are counted as dropped
     gpu_max_activity_api_events     2097152   likewise kernels, copies and so on
     gpu_max_annotation_strings      1048576   likewise ranges of NVTX
     gpu_enable_nvtx_tracking        false     records ranges of NVTX. It has to be set before the first call of NVTX
     gpu_enable_cupti_activity_graph_trace  false   a graph is one event, not one for each kernel in it
     gpu_num_chips_to_profile_per_task      0  records this many GPUs, the first ones; 0: all
     gpu_pm_sample_counters          ""        samples these performance counters: see below
     gpu_pm_sample_interval_us       500       so often
     gpu_pm_sample_buffer_size_per_gpu_mb  64  room on each GPU for samples until CUPTI takes them, every 100 ms: up to
                                               4096; less than 64 is 64
     gpu_range_profiling_counters    ""        not supported: other values are errors
     gpu_dump_graph_node_mapping     false     likewise: JAX documents it, and nothing in it reads it

PERFORMANCE COUNTERS

   prof_config_set(&config, "gpu_pm_sample_counters", "sm__cycles_active.avg,pcie__read_bytes.sum") makes the row
   "performance counters" of each GPU, with a counter for each name, 64 at most. A value holds from the begin of its
   sample to that of the next one. `ncu --query-metrics-collection pmsampling --chip gh100` lists names. All of them
   have to fit into one pass of the GPU: those that do not, and those that a GPU does not have, are left out, as in JAX,
   and the metadata say it. It needs CUPTI of CUDA 12.6 or later, a GPU that samples by time (not Turing, not GA100),
   and often more privileges than tracing. The GPU's counters stay this process's until it ends: to give them back ends
   all of CUPTI in some versions. */
#include "prof.h" /* outside of the include guard, because this may be the inclusion with PROF_IMPLEMENTATION */

#pragma pack(push, 16) /* as in prof.h */
#ifndef PROF_CUDA_H
#define PROF_CUDA_H

#ifdef __cplusplus
extern "C" {
#endif

/* All zero is the default. */
typedef struct prof_cuda_config {
    const char *driver; /* the library of the driver; NULL: PROF_CUDA_DRIVER in the environment, else libcuda.so.1 */
    const char *cupti;  /* CUPTI; NULL: PROF_CUDA_CUPTI in the environment, else the copy that the process has, else
                           that beside the CUDA runtime that it has, else by name, else that of /usr/local/cuda */
    size_t memory;      /* bytes for CUPTI's records, 128 KiB to 1 GiB; 0: 16 MiB. What finds no room is dropped, and
                           counted */
    int no_calls;       /* 1: without the calls of driver and runtime, and so without arrows */
    int no_memory;      /* 1: without allocations */
} prof_cuda_config;

/* What the last session with GPUs had, up to now. */
typedef struct prof_cuda_counts {
    uint64_t calls, kernels, copies, fills, graphs, allocations, others, ranges; /* recorded */
    uint64_t calls_dropped, events_dropped, ranges_dropped; /* beyond gpu_max_callback_api_events and so on */
    uint64_t cupti_dropped;  /* by CUPTI, because prof_cuda_config.memory was full */
    uint64_t untimed;        /* without times: the GPU's own buffers were full, or the kernel still ran at the end */
    uint64_t unknown;        /* of a kind, or a device, that prof does not know */
    uint64_t broken_buffers; /* buffers that CUPTI could not read to their end */
    uint64_t clock_steps;    /* how often somebody has set the system's clock, which CUPTI uses: the times of GPUs are
                                wrong there */
    uint64_t samples;          /* of gpu_pm_sample_counters */
    uint64_t samples_dropped;  /* CUPTI could not evaluate them */
    uint64_t sample_overflows; /* how often a GPU had no room for its samples, and has lost some: raise
                                  gpu_pm_sample_interval_us or gpu_pm_sample_buffer_size_per_gpu_mb */
} prof_cuda_counts;

#if PROF_ENABLE
/* Records GPUs in every session from now on, the running one included. config may be NULL. Call it before the program's
   first CUDA call, so that CUPTI sees everything, and not before a fork() whose child uses CUDA. A second call changes
   nothing. Returns PROF_OK; PROF_UNSUPPORTED if there is no GPU, driver or CUPTI, or they cannot be used;
   PROF_INVALID_ARGUMENT for memory out of range. prof_error() says what to do. Any thread may call it. */
PROF__API prof_status prof_cuda_enable(const prof_cuda_config *config);
/* Ends that, for the running session, too. */
PROF__API prof_status prof_cuda_disable(void);
/* Returns PROF_OK if the running session records GPUs; else, with the reason in prof_error(), PROF_UNSUPPORTED if it
   cannot, or PROF_INVALID_STATE if no session runs, it asks for no devices, or prof_cuda_enable() was not called. */
PROF__API prof_status prof_cuda_status(void);
/* Has CUPTI hand over what the GPUs have completed, and takes it into the buffer; waits for no GPU. Done once a second
   and by prof_stop(), too. Returns PROF_INVALID_STATE if no session records GPUs. */
PROF__API prof_status prof_cuda_collect(void);
PROF__API void prof_cuda_counted(prof_cuda_counts *counts);
#else
#define prof_cuda_enable(config) PROF__STRIPPED(PROF_OK, PROF__USE(config))
#define prof_cuda_disable() PROF__STRIPPED(PROF_OK, (void)0)
#define prof_cuda_status() PROF__STRIPPED(PROF_OK, (void)0)
#define prof_cuda_collect() PROF__STRIPPED(PROF_OK, (void)0)
#define prof_cuda_counted(counts) \
    PROF__STRIPPED(prof__stripped_none(counts, sizeof(prof_cuda_counts)), PROF__USE(counts))
#endif

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif /* PROF_CUDA_H */

/*== END OF HEADER ==================================================================================================*/

#if defined(PROF_IMPLEMENTATION) && PROF_ENABLE && !defined(PROF_FREESTANDING) && !defined(PROF__CUDA_IMPLEMENTED)
#define PROF__CUDA_IMPLEMENTED
#ifdef PROF_MINIMAL
#error "prof_cuda.h needs what PROF_MINIMAL leaves out: include prof.h alone"
#endif

#ifdef PROF__WRAPS_MALLOC /* so that prof's own allocations are not recorded as the program's */
#define malloc(size) __libc_malloc(size)
#define calloc(count, size) __libc_calloc(count, size)
#define realloc(at, size) __libc_realloc(at, size)
#define free(at) __libc_free(at)
#endif

#ifdef __cplusplus
extern "C" {
#endif

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

#if defined(__linux__) && !defined(PROF_NO_THREAD)
#define PROF__CUDA_LINUX 1
#endif

#define PROF__CUDA_WHY 240 /* bytes of the line that says why nothing is recorded */
#define PROF__CUDA_GPUS 64
#define PROF__CUDA_ROWS 1024u /* streams, at most three quarters of them; a power of two */
#define PROF__CUDA_BUFFER 131072u
#define PROF__CUDA_BUFFERS 8192u /* for 1 GiB */
#define PROF__CUDA_RANGES 256u
#define PROF__CUDA_COUNTERS 64 /* that are sampled */
#define PROF__CUDA_COUNTER_TEXT 4096

/* A GPU. The collector alone uses the rows, which are made when they are first needed. */
typedef struct prof__cuda_gpu {
    prof_device *device;
    prof_device_row *memory, *migrations;
    int64_t allocated; /* bytes, since the session began */
#define PROF__CUDA_FIELD(name, number) int name;
    PROF__CUDA_ATTRIBUTES(PROF__CUDA_FIELD)
#undef PROF__CUDA_FIELD
    size_t bytes;
    char name[96];
} prof__cuda_gpu;

/* How a buffer for CUPTI's records stands. */
enum { PROF__CUDA_FREE, PROF__CUDA_LENT, PROF__CUDA_FULL };

/* An open range of NVTX. */
typedef struct prof__cuda_range {
    uint32_t id, thread; /* id: 0: none */
    uint64_t start;
    char name[112];
} prof__cuda_range;

/* What keys of JAX ask for. */
typedef struct prof__cuda_wishes {
    uint64_t calls, events, ranges, gpus;
    int nvtx, graphs;
    uint64_t sample_us, sample_mib;
    char counters[PROF__CUDA_COUNTER_TEXT]; /* names, with commas between them */
} prof__cuda_wishes;

/* The fields before `session` change under the lock `loading`, and stay once `api` is set. Those after it change in
   prof_start() and prof_cuda_enable(), under the control lock, and at the end of a recording, under `ending`. */
static struct {
    int loading, enabled, exits, inherited; /* inherited: 1: in a child of fork(), in which CUDA does not work */
    const prof__cuda_api *api;
    void *library;    /* CUPTI */
    uint32_t version; /* of CUPTI */
    int driver;       /* 12040 is 12.4 */
    unsigned gpus;
    prof__cuda_gpu gpu[PROF__CUDA_GPUS];
    prof_cuda_config config;
    uint8_t *memory; /* of the buffers */
    uint32_t buffers;
    prof__session *session;
    uint32_t running, stop, done;
    int ending; /* a lock */
    int arrows; /* 1: calls of driver and runtime are recorded in this session */
    int calls;  /* 1: now */
    void *subscriber;
    prof__cuda_wishes wishes; /* of this session */
    uint32_t collects, collected; /* how often prof_cuda_collect() was called, and up to which call that is done */
    uint64_t looked;    /* ns of the last look at the clocks */
    int64_t clock_gap;  /* CUPTI's clock less the host's, then; 0: none yet */
    uint64_t call_room; /* calls that may still be recorded */
    prof_cuda_counts counts;
    struct {
        uint64_t key; /* 0: free */
        prof_device_row *row;
    } rows[PROF__CUDA_ROWS];
    uint32_t row_count;
    prof_device *nvtx, *host; /* host: what CUDA and CUPTI do beside the GPUs; XProf would count it as their work */
    prof_device_row *waits, *overhead;
    prof__cuda_range ranges[PROF__CUDA_RANGES];
    struct {
        uint32_t state;
        uint64_t valid;
    } buffer[PROF__CUDA_BUFFERS];
#ifdef PROF__CUDA_LINUX
    pthread_t thread;
#endif
    prof_status status; /* why nothing is recorded; PROF_OK: it is */
    char why[PROF__CUDA_WHY];
} prof__cuda;

/* Copies the counts while threads may add to them. */
static void prof__cuda_counts_now(prof_cuda_counts *to)
{
    const uint64_t *from = (const uint64_t *)(const void *)&prof__cuda.counts;
    uint64_t *into = (uint64_t *)(void *)to;
    for (size_t i = 0; i < sizeof *to / sizeof *from; ++i) into[i] = PROF__LOAD(&from[i]);
}

#ifdef PROF__CUDA_LINUX
/* Adds to a count that threads share. */
static void prof__cuda_count(uint64_t *count, uint64_t more) { __atomic_fetch_add(count, more, __ATOMIC_RELAXED); }
#endif

#ifdef PROF__CUDA_LINUX
/* CUPTI calls these from threads of its own and from the program's, in a launch, too. So they neither lock nor
   allocate: each buffer has a state, which goes from free to lent to full to free. */

/* Without a free buffer, CUPTI gets none, and counts what it drops. */
static void prof__cuda_lend(uint8_t **buffer, size_t *size, size_t *most_records)
{
    *buffer = NULL;
    *size = *most_records = 0;
    for (uint32_t i = 0; i < prof__cuda.buffers; ++i) {
        uint32_t state = PROF__CUDA_FREE;
        if (PROF__LOAD(&prof__cuda.buffer[i].state) != PROF__CUDA_FREE ||
            !__atomic_compare_exchange_n(&prof__cuda.buffer[i].state, &state, PROF__CUDA_LENT, 0, __ATOMIC_ACQUIRE,
                                         __ATOMIC_RELAXED))
            continue;
        *buffer = prof__cuda.memory + (size_t)i * PROF__CUDA_BUFFER;
        *size = PROF__CUDA_BUFFER;
        return;
    }
}

static void prof__cuda_dropped(void *context, uint32_t stream)
{
    size_t dropped = 0;
    if (!prof__cuda.api->ActivityGetNumDroppedRecords(context, stream, &dropped))
        prof__cuda_count(&prof__cuda.counts.cupti_dropped, dropped);
}

static void prof__cuda_return(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
    uintptr_t at = (uintptr_t)buffer - (uintptr_t)prof__cuda.memory;
    (void)size;
    prof__cuda_dropped(context, stream);
    if (!buffer || at / PROF__CUDA_BUFFER >= prof__cuda.buffers) return;
    uint32_t i = (uint32_t)(at / PROF__CUDA_BUFFER);
    prof__cuda.buffer[i].valid = valid < PROF__CUDA_BUFFER ? valid : PROF__CUDA_BUFFER;
    PROF__RELEASE(&prof__cuda.buffer[i].state, valid ? (uint32_t)PROF__CUDA_FULL : (uint32_t)PROF__CUDA_FREE);
}

#define PROF__CUDA_MEMORY ((size_t)16 << 20)
#define PROF__CUDA_MEMORY_MOST ((size_t)1 << 30)

/* Makes the buffers, once. Under the lock `loading`. */
static prof_status prof__cuda_buffers_make(void)
{
    size_t bytes = prof__cuda.config.memory ? prof__cuda.config.memory : PROF__CUDA_MEMORY;
    if (prof__cuda.memory) return PROF_OK;
    prof__cuda.memory = (uint8_t *)calloc(bytes / PROF__CUDA_BUFFER, PROF__CUDA_BUFFER);
    if (!prof__cuda.memory) return prof__fail(PROF_NO_MEMORY, "no memory for CUPTI's records");
    prof__cuda.buffers = (uint32_t)(bytes / PROF__CUDA_BUFFER);
    return PROF_OK;
}
#endif

#ifdef PROF__CUDA_LINUX
/* An event that is being put together, in the collector. */
typedef struct prof__cuda_event {
    prof_device_event event;
    prof_arg args[PROF_DEVICE_ARGS];
    char details[200], context[16];
} prof__cuda_event;

static prof_value *prof__cuda_arg(prof__cuda_event *made, const char *key, prof_value_type type)
{
    prof_arg *arg = &made->args[made->event.arg_count < PROF_DEVICE_ARGS - 1 ? made->event.arg_count++
                                                                             : PROF_DEVICE_ARGS - 1];
    memset(arg, 0, sizeof *arg);
    arg->key = key;
    arg->value.type = type;
    return &arg->value;
}

static void prof__cuda_arg_number(prof__cuda_event *made, const char *key, uint64_t number)
{
    prof__cuda_arg(made, key, PROF_VALUE_UINT)->as.u = number;
}

static void prof__cuda_arg_text(prof__cuda_event *made, const char *key, const char *text)
{
    prof__cuda_arg(made, key, PROF_VALUE_STRING)->as.string = text;
}

/* The id of the arrow from the call with this correlation id to what it made the GPU do. Unlike the ids of
   prof_flow_new(), its first bit is 1. */
static uint64_t prof__cuda_flow(uint32_t correlation)
{
    return (uint64_t)1 << 63 | (prof__process_id() & 0x7FFFFFFF) << 32 | correlation;
}

/* Begins an event. correlation: 0: of no call. */
static void prof__cuda_event_begin(prof__cuda_event *made, const char *name, uint64_t start, uint64_t end,
                                   uint32_t correlation)
{
    memset(made, 0, sizeof *made);
    made->event.type = PROF_EVENT_SCOPE;
    made->event.name = name;
    made->event.start = start;
    made->event.end = end;
    made->event.args = made->args;
    if (!correlation) return;
    if (prof__cuda.arrows) made->event.flow = prof__cuda_flow(correlation);
    prof__cuda_arg_number(made, "correlation_id", correlation);
}

/* The context as XProf's own recorder writes it. */
static void prof__cuda_arg_context(prof__cuda_event *made, uint32_t context)
{
    snprintf(made->context, sizeof made->context, "$$%u", (unsigned)context);
    prof__cuda_arg_text(made, "context_id", made->context);
}

static void prof__cuda_arg_graph(prof__cuda_event *made, uint32_t graph, uint64_t node)
{
    if (graph) prof__cuda_arg_number(made, "cuda_graph_id", graph);
    if (node) prof__cuda_arg_number(made, "cuda_graph_node_id", node);
}

/* Records an event. count: of events of its kind; it counts instead as dropped or untimed where it is. */
static void prof__cuda_put(prof_device_row *row, const prof__cuda_event *made, uint64_t *count)
{
    const prof_device_event *event = &made->event;
    prof_cuda_counts *counts = &prof__cuda.counts;
    uint64_t events = counts->kernels + counts->copies + counts->fills + counts->graphs + counts->allocations +
                      counts->others;
    if (!event->start || (event->type == PROF_EVENT_SCOPE && event->end < event->start)) {
        prof__cuda_count(&counts->untimed, 1);
    } else if (events >= prof__cuda.wishes.events) {
        prof__cuda_count(&counts->events_dropped, 1);
    } else {
        prof_device_record(row, event);
        prof__cuda_count(count, 1);
    }
}

/* Returns a GPU that is recorded, or NULL. */
static prof__cuda_gpu *prof__cuda_gpu_of(uint32_t ordinal)
{
    uint64_t most = prof__cuda.wishes.gpus;
    if (ordinal < prof__cuda.gpus && prof__cuda.gpu[ordinal].device) return &prof__cuda.gpu[ordinal];
    if (ordinal >= prof__cuda.gpus || !most || ordinal < most) prof__cuda_count(&prof__cuda.counts.unknown, 1);
    return NULL;
}

/* Returns a row of a device, which is made when it is first needed. */
static prof_device_row *prof__cuda_row(prof_device *device, prof_device_row **row, const char *name)
{
    if (!*row) *row = prof_device_row_create(device, name);
    return *row;
}

/* Returns the row of a key, which is not 0; a new one gets the name. With too many rows, or without memory: NULL. */
static prof_device_row *prof__cuda_row_of(uint64_t key, prof_device *device, const char *name, uint32_t number)
{
    char text[40];
    uint32_t at = (uint32_t)((key * 0x9E3779B97F4A7C15u) >> 40) % PROF__CUDA_ROWS;
    for (; prof__cuda.rows[at].key; at = (at + 1) % PROF__CUDA_ROWS)
        if (prof__cuda.rows[at].key == key) return prof__cuda.rows[at].row;
    int full = prof__cuda.row_count >= PROF__CUDA_ROWS / 4 * 3;
    snprintf(text, sizeof text, full ? "other %ss" : "%s #%u", name, (unsigned)number);
    prof_device_row *row = prof_device_row_create(device, text);
    if (full) return row;
    prof__cuda.rows[at].key = key;
    prof__cuda.rows[at].row = row;
    ++prof__cuda.row_count;
    return row;
}

static prof_device_row *prof__cuda_stream(const prof__cuda_gpu *gpu, uint32_t stream)
{
    uint64_t ordinal = (uint64_t)(gpu - prof__cuda.gpu);
    return prof__cuda_row_of((ordinal + 1) << 32 | stream, gpu->device, "Stream", stream);
}
#endif

#ifdef PROF__CUDA_LINUX
/* A function of the driver or the runtime, of which calls are recorded. */
typedef struct prof__cuda_function {
    const char *name;
    uint16_t domain, id, works; /* works: 1: it gives the GPU work */
} prof__cuda_function;

#define PROF__CUDA_DRIVERS(name, id, works) {#name, PROF__CUPTI_DOMAIN_DRIVER, id, works},
#define PROF__CUDA_RUNTIMES(name, version, id, works) {#name, PROF__CUPTI_DOMAIN_RUNTIME, id, works},
static const prof__cuda_function prof__cuda_functions[] = {
    PROF__CUDA_CALLS(PROF__CUDA_DRIVERS)
    PROF__CUDA_RUNTIME_CALLS(PROF__CUDA_RUNTIMES)
    PROF__CUDA_NEWER_CALLS(PROF__CUDA_RUNTIMES)
};
#undef PROF__CUDA_DRIVERS
#undef PROF__CUDA_RUNTIMES
#define PROF__CUDA_FUNCTION_COUNT (sizeof prof__cuda_functions / sizeof *prof__cuda_functions)

static prof_site prof__cuda_sites[PROF__CUDA_FUNCTION_COUNT]; /* of the scopes */
static prof_site prof__cuda_correlation_site, prof__cuda_flow_site;
static uint8_t prof__cuda_function_of[2][PROF__CUDA_IDS]; /* by domain and id, plus 1; 0: not recorded */
static PROF__PER_THREAD struct {
    uint32_t correlation, works; /* of the last call of the runtime on this thread; 0: none */
} prof__cuda_runtime;
typedef char prof__cuda_functions_fit[PROF__CUDA_FUNCTION_COUNT < 255 ? 1 : -1];

static void prof__cuda_site(prof_site *site, const char *name, uint32_t kind)
{
    site->name = name;
    site->category = "CUDA";
    site->file = site->function = "";
    site->level = 1;
    site->kind = (uint16_t)kind;
}

/* Under the lock `loading`, once. */
static void prof__cuda_sites_make(void)
{
    if (prof__cuda_flow_site.name) return;
    for (size_t i = 0; i < PROF__CUDA_FUNCTION_COUNT; ++i) {
        prof__cuda_site(&prof__cuda_sites[i], prof__cuda_functions[i].name, PROF__KIND_BEGIN);
        prof__cuda_function_of[prof__cuda_functions[i].domain - 1][prof__cuda_functions[i].id] = (uint8_t)(i + 1);
    }
    prof__cuda_site(&prof__cuda_correlation_site, "correlation_id", PROF__KIND_ARG);
    prof__cuda_site(&prof__cuda_flow_site, "flow", PROF__KIND_EVENT); /* as readers call the flow of a device's event */
}

/* Returns 1 if one more call may be recorded. */
static int prof__cuda_call_fits(void)
{
    uint64_t left = PROF__LOAD(&prof__cuda.call_room);
    while (left)
        if (__atomic_compare_exchange_n(&prof__cuda.call_room, &left, left - 1, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            return 1;
    prof__cuda_count(&prof__cuda.counts.calls_dropped, 1);
    return 0;
}

/* Begins the scope of a call. Returns its token, for its end. The runtime calls the driver: where both calls have one
   correlation, which no other call has, they are one call of the program, and the driver's is not recorded. But if the
   runtime's call is not known to give the GPU work, and the driver's is, the arrow needs the driver's. */
static prof__token prof__cuda_call_begins(size_t function, const prof__cupti_call *call)
{
    prof_site *site = &prof__cuda_sites[function];
    uint16_t works = prof__cuda_functions[function].works;
    if (!PROF__LOAD(&prof__cuda.calls) || !prof__live(site)) return 0;
    if (prof__cuda_functions[function].domain == PROF__CUPTI_DOMAIN_RUNTIME) {
        prof__cuda_runtime.correlation = call->correlation;
        prof__cuda_runtime.works = works;
    } else if (call->correlation && call->correlation == prof__cuda_runtime.correlation &&
               works <= prof__cuda_runtime.works) {
        return 0;
    }
    if (!prof__cuda_call_fits()) return 0;
    prof__token token = prof__begin(site);
    if (!token || !works) return token;
    if (prof__live(&prof__cuda_correlation_site)) prof__arg_uint(&prof__cuda_correlation_site, call->correlation);
    if (prof__live(&prof__cuda_flow_site))
        prof__event(&prof__cuda_flow_site, PROF_EVENT_FLOW_OUT, 0, prof__cuda_flow(call->correlation));
    return token;
}

/* CUPTI calls this at the begin and the end of each call, on the calling thread. */
static void prof__cuda_called(void *user, uint32_t domain, uint32_t id, const void *about)
{
    const prof__cupti_call *call = (const prof__cupti_call *)about;
    (void)user;
    if (domain - 1 >= 2 || id >= PROF__CUDA_IDS || !prof__cuda_function_of[domain - 1][id] || !call->data) return;
    if (call->site != PROF__CUPTI_EXIT) {
        *call->data = prof__cuda_call_begins((size_t)prof__cuda_function_of[domain - 1][id] - 1, call);
    } else if (*call->data) {
        prof__end(*call->data);
        *call->data = 0;
    }
}
#endif

#ifdef PROF__CUDA_LINUX
#include <dlfcn.h>

#define PROF__CUDA_NAMES 256u /* kernels whose names are kept */

static struct {
    char *mangled, *plain;
} prof__cuda_names[PROF__CUDA_NAMES];

/* Returns the name of a kernel, demangled if the process has a C++ library to do that. Valid until the next call. Of
   the collector's thread only, which may allocate. */
static const char *prof__cuda_name(const char *mangled)
{
    static char *(*demangle)(const char *, char *, size_t *, int *);
    static int looked;
    int status = -1;
    uint32_t hash = 0;
    if (!mangled || !*mangled) return "kernel";
    if (strncmp(mangled, "_Z", 2)) return mangled;
    for (const char *c = mangled; *c; ++c) hash = (hash ^ (unsigned char)*c) * 16777619u;
    hash = (hash ^ hash >> 16) % PROF__CUDA_NAMES;
    if (prof__cuda_names[hash].mangled && !strcmp(prof__cuda_names[hash].mangled, mangled))
        return prof__cuda_names[hash].plain;
    if (!looked) {
        void *program = dlopen(NULL, RTLD_NOW), *symbol = program ? dlsym(program, "__cxa_demangle") : NULL;
        memcpy(&demangle, &symbol, sizeof symbol);
        looked = 1;
    }
    size_t size = strlen(mangled) + 1;
    char *plain = demangle ? demangle(mangled, NULL, NULL, &status) : NULL, *copy = (char *)malloc(size);
    if (status || !plain || !copy) {
        free(plain);
        free(copy);
        return mangled;
    }
    memcpy(copy, mangled, size);
    free(prof__cuda_names[hash].mangled);
    free(prof__cuda_names[hash].plain);
    prof__cuda_names[hash].mangled = copy;
    prof__cuda_names[hash].plain = plain;
    return plain;
}
#endif

#ifdef PROF__CUDA_LINUX
/* What decides the occupancy of a kernel. shared: bytes of a block; configured: those that a multiprocessor gave the
   kernel, 0: not known. */
typedef struct prof__cuda_need {
    int registers, threads;
    uint32_t shared, configured;
} prof__cuda_need;

typedef struct prof__cuda_occupancy {
    double percent; /* of the warps that a multiprocessor can have; below 0: not known */
    int suggested_threads, least_grid;
} prof__cuda_occupancy;

static int prof__cuda_up(int value, int unit) { return (value + unit - 1) / unit * unit; }

/* Returns the blocks of so many threads that registers have room for. They are given to warps, 256 at a time, by the
   four parts of a multiprocessor, and a block's warps are spread over these. */
static int prof__cuda_by_registers(const prof__cuda_gpu *gpu, int registers, int warps)
{
    int of_warp = prof__cuda_up(registers * gpu->warp, 256);
    if (!registers) return gpu->blocks;
    if (gpu->block_registers && of_warp * prof__cuda_up(warps, 4) > gpu->block_registers) return 0;
    return gpu->registers / 4 / of_warp * 4 / warps;
}

static int prof__cuda_by_shared(const prof__cuda_gpu *gpu, uint32_t shared, uint32_t configured)
{
    int unit = gpu->major >= 8 ? 128 : 256, all = gpu->shared;
    int of_block = prof__cuda_up((int)shared + gpu->reserved_shared, unit);
    if (configured && (int)configured <= all && (int)configured >= of_block) all = (int)configured;
    return of_block ? all / of_block : gpu->blocks;
}

/* Returns the blocks on a multiprocessor, 0 if not even one fits. */
static int prof__cuda_blocks(const prof__cuda_gpu *gpu, const prof__cuda_need *need, int threads)
{
    int warps = (threads + gpu->warp - 1) / gpu->warp, blocks = gpu->blocks;
    int others[3];
    others[0] = gpu->threads / gpu->warp / warps;
    others[1] = prof__cuda_by_registers(gpu, need->registers, warps);
    others[2] = prof__cuda_by_shared(gpu, need->shared, need->configured);
    for (int i = 0; i < 3; ++i)
        if (others[i] < blocks) blocks = others[i];
    return blocks;
}

static prof__cuda_occupancy prof__cuda_occupancy_of(const prof__cuda_gpu *gpu, const prof__cuda_need *need)
{
    prof__cuda_occupancy found = {-1, 0, 0};
    int best = 0, most = gpu->block_threads;
    if (gpu->warp <= 0 || gpu->threads <= 0 || gpu->blocks <= 0 || need->threads <= 0 || gpu->major < 5) return found;
    int warps = (need->threads + gpu->warp - 1) / gpu->warp;
    found.percent = 100.0 * prof__cuda_blocks(gpu, need, need->threads) * warps / (gpu->threads / gpu->warp);
    for (int threads = most / gpu->warp * gpu->warp; threads > 0; threads -= gpu->warp) {
        int blocks = prof__cuda_blocks(gpu, need, threads);
        if (blocks * threads <= best) continue;
        best = blocks * threads;
        found.suggested_threads = threads;
        found.least_grid = blocks * gpu->processors;
    }
    return found;
}
#endif

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

#ifdef PROF__CUDA_LINUX
#include <dlfcn.h>
#ifdef PROF__LATE /* what dlfcn.h declares with _GNU_SOURCE only: see prof.h, >>platform */
typedef struct prof__cuda_symbol {
    const char *dli_fname;
    void *dli_fbase;
    const char *dli_sname;
    void *dli_saddr;
} prof__cuda_symbol;
extern int prof__cuda_dladdr(const void *address, prof__cuda_symbol *info) __asm__("dladdr");
extern int prof__cuda_setenv(const char *name, const char *value, int replace) __asm__("setenv");
#else
typedef Dl_info prof__cuda_symbol;
#define prof__cuda_dladdr dladdr
#define prof__cuda_setenv setenv
#endif

/*-- LOADER ------------------------------------------------------------------------------------------------ >>loader --
   Without a driver, some versions of CUPTI crash in any call (13.2), others answer 999 and write nothing. So CUPTI is
   not touched before the driver has said that there is a GPU, and every result has a value before a call. Nothing is
   unloaded: CUPTI has threads, which outlive its end. */

static const char *prof__cupti_result(int result)
{
    switch (result) {
    case 1: return "INVALID_PARAMETER";
    case 3: return "INVALID_CONTEXT";
    case 7: return "INVALID_OPERATION";
    case 8: return "OUT_OF_MEMORY";
    case 11: return "API_NOT_IMPLEMENTED";
    case 12: return "MAX_LIMIT_REACHED";
    case 14: return "NOT_COMPATIBLE";
    case 15: return "NOT_INITIALIZED: CUPTI and the driver do not fit together: a newer driver, or the CUPTI of the "
                    "driver's CUDA version";
    case 17: return "INVALID_METRIC_NAME: see ncu --query-metrics-collection pmsampling";
    case 21: return "INVALID_KIND";
    case 23: return "DISABLED";
    case 26: return "HARDWARE_BUSY: another profiler uses the GPU's counters: end it";
    case 27: return "NOT_SUPPORTED";
    case 28: case 29: case 30: case 31: return "UM_PROFILING_NOT_SUPPORTED";
    case 33: return "VIRTUALIZED_DEVICE_NOT_SUPPORTED: the virtual machine's GPU has no tracing: see NVIDIA's vGPU "
                    "profiling";
    case 35: return "INSUFFICIENT_PRIVILEGES: run as root, or have the administrator set "
                    "NVreg_RestrictProfilingToAdminUsers=0";
    case 39: return "MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED: another profiler uses CUPTI: end it (Nsight, JAX, PyTorch)";
    case 40: return "VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES: have the administrator allow profiling for this vGPU";
    case 41: return "CONFIDENTIAL_COMPUTING_NOT_SUPPORTED: in this mode the GPU cannot be traced";
    case 42: return "CMP_DEVICE_NOT_SUPPORTED: this mining GPU cannot be traced";
    case 43: return "MIG_DEVICE_NOT_SUPPORTED: use a whole GPU";
    case 44: return "SLI_DEVICE_NOT_SUPPORTED";
    case 45: return "WSL_DEVICE_NOT_SUPPORTED: enable GPU performance counters for WSL in NVIDIA's control panel";
    case 999: return "UNKNOWN: CUPTI cannot use the driver: does nvidia-smi work? Install the CUPTI of the driver's "
                     "CUDA version";
    default: return "see CUptiResult in NVIDIA's documentation";
    }
}

static const char *prof__cuda_result(int result)
{
    switch (result) {
    case 3: return "CUDA_ERROR_NOT_INITIALIZED: in a child of fork() CUDA does not work if the parent used it";
    case 34: return "CUDA_ERROR_STUB_LIBRARY: this libcuda is the toolkit's stub: take its folder out of "
                    "LD_LIBRARY_PATH, and install the driver";
    case 35: return "INSUFFICIENT_DRIVER: install a newer driver";
    case 46: return "CUDA_ERROR_DEVICE_UNAVAILABLE: another process has the GPU for itself";
    case 100: return "CUDA_ERROR_NO_DEVICE: no GPU is visible: see nvidia-smi, and CUDA_VISIBLE_DEVICES";
    case 101: return "CUDA_ERROR_INVALID_DEVICE: see CUDA_VISIBLE_DEVICES";
    case 802: return "CUDA_ERROR_SYSTEM_NOT_READY: is nvidia-fabricmanager running?";
    case 803: return "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH: the kernel module and libcuda have different versions: "
                     "restart the machine";
    case 804: return "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE: take CUDA's compat folder out of LD_LIBRARY_PATH";
    case 999: return "CUDA_ERROR_UNKNOWN: does nvidia-smi work? Is the kernel module loaded?";
    default: return "see CUresult in NVIDIA's documentation";
    }
}

static prof_status prof__cuda_failed(const char *call, int result)
{
    return prof__fail(PROF_UNSUPPORTED, "cu%s: error %d, %s", call, result, prof__cuda_result(result));
}

static prof_status prof__cupti_failed(const char *call, int result)
{
    return prof__fail(PROF_UNSUPPORTED, "cupti%s: error %d, %s", call, result, prof__cupti_result(result));
}

/* Stores the functions of a library into their pointers. Returns the name of one that is missing, or NULL. */
static const char *prof__cuda_symbols(void *library, const char *const *names, size_t count, void *pointers)
{
    for (size_t i = 0; i < count; ++i) {
        void *symbol = dlsym(library, names[i]);
        if (!symbol) return names[i];
        memcpy((char *)pointers + i * sizeof symbol, &symbol, sizeof symbol);
    }
    return NULL;
}

static prof_status prof__cuda_driver(prof__cuda_api *api)
{
#define PROF__CUDA_NAME(name, parameters) "cu" #name,
    static const char *const names[] = {PROF__CUDA_FUNCTIONS(PROF__CUDA_NAME)};
#undef PROF__CUDA_NAME
    const char *path = prof__cuda.config.driver ? prof__cuda.config.driver : prof__environment("PROF_CUDA_DRIVER");
    int count = 0, result;
    void *library = dlopen(path && *path ? path : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return prof__fail(PROF_UNSUPPORTED, "no CUDA driver: install NVIDIA's driver, or in a container start it with "
                                            "GPUs (docker run --gpus all): %.150s", dlerror());
    const char *missing = prof__cuda_symbols(library, names, sizeof names / sizeof *names, (void *)&api->Init);
    if (missing) return prof__fail(PROF_UNSUPPORTED, "the CUDA driver has no %s: install a newer driver", missing);
    result = api->Init(0);
    if (result) return prof__cuda_failed("Init", result);
    result = api->DriverGetVersion(&prof__cuda.driver);
    if (result) return prof__cuda_failed("DriverGetVersion", result);
    result = api->DeviceGetCount(&count);
    if (!result && count <= 0) result = 100;
    if (result) return prof__cuda_failed("DeviceGetCount", result);
    prof__cuda.gpus = count < PROF__CUDA_GPUS ? (unsigned)count : PROF__CUDA_GPUS;
    return PROF_OK;
}

/* Asks the driver about a GPU. What it does not know stays 0. */
static void prof__cuda_describe(const prof__cuda_api *api, unsigned ordinal)
{
    prof__cuda_gpu *gpu = &prof__cuda.gpu[ordinal];
    int device = 0;
    if (api->DeviceGet(&device, (int)ordinal)) return;
#define PROF__CUDA_ASK(field, number) \
    if (api->DeviceGetAttribute(&gpu->field, number, device)) gpu->field = 0;
    PROF__CUDA_ATTRIBUTES(PROF__CUDA_ASK)
#undef PROF__CUDA_ASK
    if (api->DeviceTotalMem_v2(&gpu->bytes, device)) gpu->bytes = 0;
    if (api->DeviceGetName(gpu->name, (int)sizeof gpu->name, device)) gpu->name[0] = 0;
    gpu->name[sizeof gpu->name - 1] = 0;
}

/* Opens CUPTI beside the CUDA runtime that the process has: Python's packages are not on the loader's path. */
static void *prof__cupti_beside_runtime(const char *major)
{
    static const char *const folders[] = {"", "../../cuda_cupti/lib/", "../extras/CUPTI/lib64/",
                                          "../../../extras/CUPTI/lib64/"};
    char path[1024];
    prof__cuda_symbol where;
    snprintf(path, sizeof path, "libcudart.so.%s", major);
    void *runtime = dlopen(path, RTLD_NOW | RTLD_NOLOAD), *found = NULL;
    void *symbol = runtime ? dlsym(runtime, "cudaGetDeviceCount") : NULL;
    if (symbol && prof__cuda_dladdr(symbol, &where) && where.dli_fname && strrchr(where.dli_fname, '/')) {
        int folder = (int)(strrchr(where.dli_fname, '/') + 1 - where.dli_fname);
        for (size_t i = 0; !found && i < sizeof folders / sizeof *folders; ++i) {
            snprintf(path, sizeof path, "%.*s%slibcupti.so.%s", folder, where.dli_fname, folders[i], major);
            found = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        }
    }
    if (runtime) dlclose(runtime);
    return found;
}

/* Opens the CUPTI of one of CUDA's versions, the copy in the process before others. */
static void *prof__cupti_of(const char *major)
{
    static const char *const places[] = {"libcupti.so.%s", "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so.%s",
                                         "/usr/local/cuda/lib64/libcupti.so.%s"};
    char path[160];
    void *found = prof__cupti_beside_runtime(major);
    for (size_t i = 0; !found && i < sizeof places / sizeof *places; ++i) {
        snprintf(path, sizeof path, places[i], major);
        found = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    }
    return found;
}

/* Returns the CUPTI that the process has, or NULL. */
static void *prof__cupti_present(void)
{
    static const char *const names[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so"};
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
        void *found = dlopen(names[i], RTLD_NOW | RTLD_NOLOAD);
        if (found) return found;
    }
    void *program = dlopen(NULL, RTLD_NOW);
    return program && dlsym(program, "cuptiSubscribe") ? program : NULL;
}

#define PROF__CUPTI_OLDEST 18u

static prof_status prof__cupti_load(prof__cuda_api *api)
{
#define PROF__CUDA_NAME(name, parameters) "cupti" #name,
    static const char *const names[] = {PROF__CUPTI_FUNCTIONS(PROF__CUDA_NAME)};
#undef PROF__CUDA_NAME
    const char *path = prof__cuda.config.cupti ? prof__cuda.config.cupti : prof__environment("PROF_CUDA_CUPTI");
    void *library = path && *path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : prof__cupti_present();
    if (!library && path && *path)
        return prof__fail(PROF_UNSUPPORTED, "CUPTI cannot be loaded: %.200s", dlerror());
    if (!library && prof__cuda.driver >= 13000) library = prof__cupti_of("13");
    if (!library) library = prof__cupti_of("12"); /* one of an older CUDA works with a newer driver, not vice versa */
    if (!library)
        return prof__fail(PROF_UNSUPPORTED,
                          "no CUPTI: install CUDA's package cuda-cupti, or pip install %s, and name its "
                          "libcupti.so in PROF_CUDA_CUPTI",
                          prof__cuda.driver >= 13000 ? "nvidia-cuda-cupti" : "nvidia-cuda-cupti-cu12");
    const char *missing = prof__cuda_symbols(library, names, sizeof names / sizeof *names, (void *)&api->GetVersion);
    if (missing)
        return prof__fail(PROF_UNSUPPORTED, "%s is not in this CUPTI: it needs that of CUDA 12.0 or later", missing);
    int result = api->GetVersion(&prof__cuda.version);
    if (result) return prof__cupti_failed("GetVersion", result);
    prof__cuda.library = library;
    if (prof__cuda.version < PROF__CUPTI_OLDEST)
        return prof__fail(PROF_UNSUPPORTED, "CUPTI is too old (version %u): install that of CUDA 12.0 or later",
                          (unsigned)prof__cuda.version);
    return PROF_OK;
}

/* Keeps this code in memory: CUPTI may call it at any time, and cannot be told that it is gone. */
static void prof__cuda_stay(void)
{
#ifdef PROF__SHARED
    prof__cuda_symbol where;
    if (prof__cuda_dladdr((const void *)&prof__cuda, &where) && where.dli_fname)
        (void)dlopen(where.dli_fname, RTLD_NOW | RTLD_NOLOAD | 0x1000 /* RTLD_NODELETE */);
#endif
}

/* Loads driver and CUPTI, once. Under the lock `loading`. */
static prof_status prof__cuda_load(void)
{
    static prof__cuda_api api;
    if (prof__cuda.api) return PROF_OK;
    prof_status status = prof__cuda_driver(&api);
    if (!status) status = prof__cupti_load(&api);
    if (status) return status;
    for (unsigned i = 0; i < prof__cuda.gpus; ++i) prof__cuda_describe(&api, i);
    prof__cuda_stay();
    PROF__RELEASE(&prof__cuda.api, (const prof__cuda_api *)&api);
    return PROF_OK;
}
#endif

/* Each function takes one struct, whose first field is its size, up to the end of its last field. Two structs have
   grown since CUDA 12.6, the first version that has all this. CUPTI refuses, as an invalid parameter, a size that it
   does not know: later ones than its own, and those of some older versions. tests/compile/cupti.sh compares all of this
   with NVIDIA's headers. CUPTI writes the fields that begin with out_. */

enum {
    PROF__CUPTI_OF_SAMPLING = 1, /* a type of profiler */
    PROF__CUPTI_BY_TIME = 1,     /* what triggers samples: the interval is in nanoseconds */
    PROF__CUPTI_IMAGE_FULL = 1,  /* why decoding has stopped */
    PROF__CUPTI_INVALID = 1,     /* results */
    PROF__CUPTI_NO_MEMORY = 8
};

#define PROF__CUPTI_HEAD size_t size; void *reserved;
typedef struct prof__cupti_plain { PROF__CUPTI_HEAD } prof__cupti_plain;
typedef struct prof__cupti_object { PROF__CUPTI_HEAD void *object; } prof__cupti_object;
typedef struct prof__cupti_chip { PROF__CUPTI_HEAD size_t device; const char *out_name; } prof__cupti_chip;
typedef struct prof__cupti_available {
    PROF__CUPTI_HEAD size_t device, out_bytes; uint8_t *image;
} prof__cupti_available;
typedef struct prof__cupti_host {
    PROF__CUPTI_HEAD uint32_t type; const char *chip; const uint8_t *available; void *out_host;
    const char *counter_set;
} prof__cupti_host;
typedef struct prof__cupti_metrics {
    PROF__CUPTI_HEAD void *host; const char *const *names; size_t count;
} prof__cupti_metrics;
typedef struct prof__cupti_config_size { PROF__CUPTI_HEAD void *host; size_t out_bytes; } prof__cupti_config_size;
typedef struct prof__cupti_config {
    PROF__CUPTI_HEAD void *host; size_t bytes; uint8_t *image;
} prof__cupti_config;
typedef struct prof__cupti_passes {
    PROF__CUPTI_HEAD size_t bytes; uint8_t *image; size_t out_passes;
} prof__cupti_passes;
typedef struct prof__cupti_enable { PROF__CUPTI_HEAD size_t device; void *out_object; } prof__cupti_enable;
typedef struct prof__cupti_set {
    PROF__CUPTI_HEAD void *object; size_t bytes; const uint8_t *image; size_t buffer; uint64_t interval;
    uint32_t trigger, keeps;
} prof__cupti_set;
typedef struct prof__cupti_data_size {
    PROF__CUPTI_HEAD void *object; const char *const *names; size_t count; uint32_t most_samples; size_t out_bytes;
} prof__cupti_data_size;
typedef struct prof__cupti_data {
    PROF__CUPTI_HEAD void *object; size_t bytes; uint8_t *image;
} prof__cupti_data;
typedef struct prof__cupti_decode {
    PROF__CUPTI_HEAD void *object; uint8_t *image; size_t bytes; uint32_t out_reason; uint8_t out_overflow;
} prof__cupti_decode;
typedef struct prof__cupti_data_info {
    PROF__CUPTI_HEAD const uint8_t *image; size_t bytes, out_total, out_populated, out_completed;
} prof__cupti_data_info;
typedef struct prof__cupti_sample {
    PROF__CUPTI_HEAD void *object; const uint8_t *image; size_t bytes, index; uint64_t out_start, out_end;
} prof__cupti_sample;
typedef struct prof__cupti_values {
    PROF__CUPTI_HEAD void *host; const uint8_t *image; size_t bytes, index; const char *const *names; size_t count;
    double *values;
} prof__cupti_values;

/* X(function, its struct, the last field of that in the newest version, and in the oldest) */
#define PROF__CUPTI_SAMPLING(X)                                                \
    X(ProfilerInitialize, plain, reserved, reserved)                           \
    X(DeviceGetChipName, chip, out_name, out_name)                             \
    X(PmSamplingGetCounterAvailability, available, image, image)               \
    X(ProfilerHostInitialize, host, counter_set, out_host)                     \
    X(ProfilerHostDeinitialize, object, object, object)                        \
    X(ProfilerHostConfigAddMetrics, metrics, count, count)                     \
    X(ProfilerHostGetConfigImageSize, config_size, out_bytes, out_bytes)       \
    X(ProfilerHostGetConfigImage, config, image, image)                        \
    X(ProfilerHostGetNumOfPasses, passes, out_passes, out_passes)              \
    X(PmSamplingEnable, enable, out_object, out_object)                        \
    X(PmSamplingSetConfig, set, keeps, trigger)                                \
    X(PmSamplingGetCounterDataSize, data_size, out_bytes, out_bytes)           \
    X(PmSamplingCounterDataImageInitialize, data, image, image)                \
    X(PmSamplingStart, object, object, object)                                 \
    X(PmSamplingStop, object, object, object)                                  \
    X(PmSamplingDecodeData, decode, out_overflow, out_overflow)                \
    X(PmSamplingGetCounterDataInfo, data_info, out_completed, out_completed)   \
    X(PmSamplingCounterDataGetSampleInfo, sample, out_end, out_end)            \
    X(ProfilerHostEvaluateToGpuValues, values, values, values)

typedef struct prof__cupti_sampling {
#define PROF__CUPTI_POINTER(name, type, newest, oldest) int (*name)(prof__cupti_##type *);
    PROF__CUPTI_SAMPLING(PROF__CUPTI_POINTER)
#undef PROF__CUPTI_POINTER
} prof__cupti_sampling;

#ifdef PROF__CUDA_LINUX
#define PROF__CUDA_SAMPLES 2048u            /* that are decoded at once */
#define PROF__CUDA_DECODE 100000000u        /* ns from one time to the next, as in JAX */
#define PROF__CUDA_SAMPLE_ROW "performance counters"

/* A GPU whose counters are sampled. CUPTI's object stays: to give it back ends all of CUPTI in some versions. */
typedef struct prof__cuda_sampler {
    void *object, *host; /* host: evaluates; NULL: the GPU is not sampled in this session */
    uint8_t *available, *config, *data;
    size_t config_bytes, data_bytes, count;
    const char *names[PROF__CUDA_COUNTERS];
    prof_device_row *row;
    int runs;
} prof__cuda_sampler;

static prof__cupti_sampling prof__cupti_sampling_api;
static prof__cuda_sampler prof__cuda_samplers[PROF__CUDA_GPUS];
static uint64_t prof__cuda_decoded; /* ns of the last time */
static char prof__cuda_counter_text[PROF__CUDA_COUNTER_TEXT];

/* Calls a function of CUPTI, with the size that its struct has in the newest version, and then, if CUPTI does not know
   that, in the oldest. */
#define PROF__CUPTI_SIZE(type, last) (offsetof(prof__cupti_##type, last) + sizeof((prof__cupti_##type *)0)->last)
#define PROF__CUPTI_CALLER(name, type, newest, oldest)                                                     \
    static int prof__cupti_do_##name(prof__cupti_##type *parameters)                                       \
    {                                                                                                      \
        parameters->size = PROF__CUPTI_SIZE(type, newest);                                                 \
        int result = prof__cupti_sampling_api.name(parameters);                                            \
        if (result != PROF__CUPTI_INVALID || parameters->size == PROF__CUPTI_SIZE(type, oldest)) return result; \
        parameters->size = PROF__CUPTI_SIZE(type, oldest);                                                 \
        return prof__cupti_sampling_api.name(parameters);                                                  \
    }
PROF__CUPTI_SAMPLING(PROF__CUPTI_CALLER)
#undef PROF__CUPTI_CALLER
#define PROF__CUPTI_TRY(name, parameters)                                     \
    do {                                                                      \
        int result_ = prof__cupti_do_##name(parameters);                      \
        if (result_) return prof__cupti_failed(#name, result_);               \
    } while (0)

static prof_status prof__cuda_sampling_load(void)
{
#define PROF__CUDA_NAME(name, type, newest, oldest) "cupti" #name,
    static const char *const names[] = {PROF__CUPTI_SAMPLING(PROF__CUDA_NAME)};
#undef PROF__CUDA_NAME
    const char *missing = prof__cuda_symbols(prof__cuda.library, names, sizeof names / sizeof *names,
                                             (void *)&prof__cupti_sampling_api);
    if (missing)
        return prof__fail(PROF_UNSUPPORTED, "%s is not in this CUPTI: it needs that of CUDA 12.6 or later", missing);
    prof__cupti_plain parameters = {0, NULL};
    PROF__CUPTI_TRY(ProfilerInitialize, &parameters);
    return PROF_OK;
}

static uint8_t *prof__cuda_image(uint8_t **image, size_t bytes)
{
    free(*image);
    *image = (uint8_t *)calloc(1, bytes ? bytes : 1);
    if (!*image) prof__fail(PROF_NO_MEMORY, "no memory for performance counters");
    return *image;
}

static void prof__cuda_sampler_stop(prof__cuda_sampler *sampler)
{
    prof__cupti_object object = {0, NULL, sampler->object};
    if (sampler->runs) prof__cupti_do_PmSamplingStop(&object);
    sampler->runs = 0;
}

static int prof__cuda_sampler_start(prof__cuda_sampler *sampler)
{
    prof__cupti_object object = {0, NULL, sampler->object};
    int result = prof__cupti_do_PmSamplingStart(&object);
    sampler->runs = !result;
    return result;
}

/* Gives back what a session needs. */
static void prof__cuda_sampler_close(prof__cuda_sampler *sampler)
{
    prof__cupti_object host = {0, NULL, sampler->host};
    prof__cuda_sampler_stop(sampler);
    if (sampler->host) prof__cupti_do_ProfilerHostDeinitialize(&host);
    sampler->host = NULL;
    free(sampler->available);
    free(sampler->config);
    free(sampler->data);
    sampler->available = sampler->config = sampler->data = NULL;
}

/* Makes an object that evaluates these counters, and the configuration of the GPU for them. *passes: as often would
   the same work have to run for all of them. */
static prof_status prof__cuda_configure(prof__cuda_sampler *sampler, const char *chip, size_t *passes)
{
    prof__cupti_object old = {0, NULL, sampler->host};
    if (sampler->host) prof__cupti_do_ProfilerHostDeinitialize(&old);
    sampler->host = NULL;
    prof__cupti_host host = {0, NULL, PROF__CUPTI_OF_SAMPLING, chip, sampler->available, NULL, NULL};
    PROF__CUPTI_TRY(ProfilerHostInitialize, &host);
    sampler->host = host.out_host;
    prof__cupti_metrics metrics = {0, NULL, sampler->host, sampler->names, sampler->count};
    PROF__CUPTI_TRY(ProfilerHostConfigAddMetrics, &metrics);
    prof__cupti_config_size size = {0, NULL, sampler->host, 0};
    PROF__CUPTI_TRY(ProfilerHostGetConfigImageSize, &size);
    if (!prof__cuda_image(&sampler->config, size.out_bytes)) return PROF_NO_MEMORY;
    sampler->config_bytes = size.out_bytes;
    prof__cupti_config config = {0, NULL, sampler->host, size.out_bytes, sampler->config};
    PROF__CUPTI_TRY(ProfilerHostGetConfigImage, &config);
    prof__cupti_passes needed = {0, NULL, size.out_bytes, sampler->config, 0};
    PROF__CUPTI_TRY(ProfilerHostGetNumOfPasses, &needed);
    *passes = needed.out_passes;
    return PROF_OK;
}

/* Chooses the counters: those asked for, in their order, but for what the GPU does not have, and what does not fit into
   the one pass that sampling has. After a wrong name CUPTI needs a new object: so each try has one. */
static prof_status prof__cuda_choose(prof__cuda_sampler *sampler, const char *chip, const char *const *names,
                                     size_t count)
{
    size_t passes = 0;
    memcpy((void *)sampler->names, (const void *)names, count * sizeof *names);
    sampler->count = count;
    prof_status status = prof__cuda_configure(sampler, chip, &passes);
    if (!status && passes == 1) return PROF_OK;
    sampler->count = 0;
    for (size_t i = 0; i < count; ++i) {
        char key[200], why[200];
        sampler->names[sampler->count++] = names[i];
        status = prof__cuda_configure(sampler, chip, &passes);
        if (status == PROF_NO_MEMORY) return status;
        if (!status && passes == 1) continue;
        --sampler->count;
        snprintf(key, sizeof key, "CUDA %.150s not recorded", names[i]);
        snprintf(why, sizeof why, "%.100s: see ncu --query-metrics-collection pmsampling --chip %.20s",
                 status ? prof_error() : "it does not fit into one pass with those before it", chip);
        prof__beside_says(prof__cuda.session, key, why);
    }
    return sampler->count ? prof__cuda_configure(sampler, chip, &passes)
                          : prof__fail(PROF_UNSUPPORTED, "the GPU (%.40s) has none of gpu_pm_sample_counters", chip);
}

/* Begins to sample a GPU. */
static prof_status prof__cuda_sampler_open(prof__cuda_sampler *sampler, unsigned ordinal, const char *const *names,
                                           size_t count)
{
    prof__cupti_chip chip = {0, NULL, ordinal, NULL};
    prof__cupti_available available = {0, NULL, ordinal, 0, NULL};
    PROF__CUPTI_TRY(DeviceGetChipName, &chip);
    PROF__CUPTI_TRY(PmSamplingGetCounterAvailability, &available);
    available.image = prof__cuda_image(&sampler->available, available.out_bytes);
    if (!available.image) return PROF_NO_MEMORY;
    PROF__CUPTI_TRY(PmSamplingGetCounterAvailability, &available);
    prof_status status = prof__cuda_choose(sampler, chip.out_name ? chip.out_name : "", names, count);
    if (status) return status;
    prof__cupti_enable enable = {0, NULL, ordinal, NULL};
    if (!sampler->object) PROF__CUPTI_TRY(PmSamplingEnable, &enable);
    if (!sampler->object) sampler->object = enable.out_object;
    prof__cupti_set set = {0, NULL, sampler->object, sampler->config_bytes, sampler->config,
                           (size_t)prof__cuda.wishes.sample_mib << 20, prof__cuda.wishes.sample_us * 1000,
                           PROF__CUPTI_BY_TIME, 0};
    PROF__CUPTI_TRY(PmSamplingSetConfig, &set);
    prof__cupti_data_size size = {0, NULL, sampler->object, sampler->names, sampler->count, PROF__CUDA_SAMPLES, 0};
    PROF__CUPTI_TRY(PmSamplingGetCounterDataSize, &size);
    if (!prof__cuda_image(&sampler->data, size.out_bytes)) return PROF_NO_MEMORY;
    sampler->data_bytes = size.out_bytes;
    prof__cupti_data data = {0, NULL, sampler->object, sampler->data_bytes, sampler->data};
    PROF__CUPTI_TRY(PmSamplingCounterDataImageInitialize, &data);
    sampler->row = prof_device_row_create(prof__cuda.gpu[ordinal].device, PROF__CUDA_SAMPLE_ROW);
    if (!sampler->row) return PROF_NO_MEMORY;
    int result = prof__cuda_sampler_start(sampler);
    return result ? prof__cupti_failed("PmSamplingStart", result) : PROF_OK;
}

/* Begins to sample the GPUs of a session, if it asks for counters. Whatever fails is in the metadata. */
static void prof__cuda_sampling_begin(void)
{
    const char *names[PROF__CUDA_COUNTERS];
    size_t count = 0;
    char key[80];
    memcpy(prof__cuda_counter_text, prof__cuda.wishes.counters, sizeof prof__cuda_counter_text);
    for (char *at = prof__cuda_counter_text; *at && count < PROF__CUDA_COUNTERS; ++count) {
        names[count] = at;
        at += strcspn(at, ",");
        if (*at) *at++ = 0;
    }
    if (!count) return;
    prof_status status = prof__cuda_sampling_load();
    for (unsigned i = 0; i < prof__cuda.gpus; ++i) {
        prof__cuda_sampler *sampler = &prof__cuda_samplers[i];
        if (!prof__cuda.gpu[i].device) continue;
        if (!status && !prof__cuda_sampler_open(sampler, i, names, count)) continue;
        snprintf(key, sizeof key, "GPU %u: " PROF__CUDA_SAMPLE_ROW " not recorded", i);
        prof__beside_says(prof__cuda.session, key, prof_error());
        prof__cuda_sampler_close(sampler);
    }
    prof__cuda_decoded = prof__monotonic();
}

/* Records a decoded sample: for each counter, what it was from its begin on. */
static void prof__cuda_sample(const prof__cuda_sampler *sampler, size_t index)
{
    double values[PROF__CUDA_COUNTERS];
    prof__cupti_sample sample = {0, NULL, sampler->object, sampler->data, sampler->data_bytes, index, 0, 0};
    prof__cupti_values value = {0, NULL, sampler->host, sampler->data, sampler->data_bytes, index, sampler->names,
                                sampler->count, values};
    if (prof__cupti_do_PmSamplingCounterDataGetSampleInfo(&sample) || !sample.out_start ||
        sample.out_end < sample.out_start || prof__cupti_do_ProfilerHostEvaluateToGpuValues(&value)) {
        prof__cuda_count(&prof__cuda.counts.samples_dropped, 1);
        return;
    }
    for (size_t i = 0; i < sampler->count; ++i)
        prof_device_counter_double(sampler->row, sampler->names[i], sample.out_start, values[i]);
    prof__cuda_count(&prof__cuda.counts.samples, 1);
}

/* Says why a GPU is sampled no longer. */
static void prof__cuda_sampling_ends(prof__cuda_sampler *sampler, const char *call, int result)
{
    char key[80];
    prof__cupti_failed(call, result);
    snprintf(key, sizeof key, "GPU %u: " PROF__CUDA_SAMPLE_ROW " end", (unsigned)(sampler - prof__cuda_samplers));
    prof__beside_says(prof__cuda.session, key, prof_error());
    prof__cuda_sampler_close(sampler);
}

/* Decodes samples, as many as there is room for, and records them. Returns 1 if there may be more. */
static int prof__cuda_sampler_decode(prof__cuda_sampler *sampler)
{
    prof__cupti_decode decode = {0, NULL, sampler->object, sampler->data, sampler->data_bytes, 0, 0};
    prof__cupti_data_info info = {0, NULL, sampler->data, sampler->data_bytes, 0, 0, 0};
    prof__cupti_data data = {0, NULL, sampler->object, sampler->data_bytes, sampler->data};
    const char *call = "PmSamplingDecodeData";
    int result = prof__cupti_do_PmSamplingDecodeData(&decode);
    if (result == PROF__CUPTI_NO_MEMORY && sampler->runs) { /* the GPU has no more room: sampling begins anew */
        prof__cuda_count(&prof__cuda.counts.sample_overflows, 1);
        call = "PmSamplingStart";
        prof__cuda_sampler_stop(sampler);
        result = prof__cuda_sampler_start(sampler);
        if (!result) return 0;
    }
    if (!result) {
        call = "PmSamplingGetCounterDataInfo";
        result = prof__cupti_do_PmSamplingGetCounterDataInfo(&info);
    }
    for (size_t i = 0; !result && i < info.out_completed; ++i) prof__cuda_sample(sampler, i);
    if (!result) {
        call = "PmSamplingCounterDataImageInitialize";
        result = prof__cupti_do_PmSamplingCounterDataImageInitialize(&data);
    }
    if (result) prof__cuda_sampling_ends(sampler, call, result);
    prof__cuda_count(&prof__cuda.counts.sample_overflows, decode.out_overflow != 0);
    return !result && decode.out_reason == PROF__CUPTI_IMAGE_FULL && info.out_completed;
}

/* Records the samples that GPUs have taken. */
static void prof__cuda_sampling_read(void)
{
    prof__cuda_decoded = prof__monotonic();
    for (unsigned i = 0; i < prof__cuda.gpus; ++i)
        while (prof__cuda_samplers[i].host && prof__cuda_sampler_decode(&prof__cuda_samplers[i])) continue;
}

/* Ends sampling, and records what is left. */
static void prof__cuda_sampling_end(void)
{
    for (unsigned i = 0; i < prof__cuda.gpus; ++i) prof__cuda_sampler_stop(&prof__cuda_samplers[i]);
    prof__cuda_sampling_read();
    for (unsigned i = 0; i < prof__cuda.gpus; ++i) prof__cuda_sampler_close(&prof__cuda_samplers[i]);
}
#endif

#ifdef PROF__CUDA_LINUX
#define PROF__CUDA_STEP 1000000 /* ns: between two looks, clocks differ by less if nobody has set one */

/* Reads CUPTI's clock, which is Unix time, between two readings of the host's, several times, and takes the closest
   pair. Returns 0 if CUPTI has no time. */
static int prof__cuda_clocks(uint64_t *ticks, uint64_t *host)
{
    uint64_t best = ~(uint64_t)0;
    for (int i = 0; i < 8; ++i) {
        uint64_t time = 0, before = prof__monotonic();
        int result = prof__cuda.api->GetTimestamp(&time);
        uint64_t after = prof__monotonic();
        if (result || !time) return 0;
        if (after - before >= best) continue;
        best = after - before;
        *ticks = time;
        *host = before + best / 2;
    }
    return 1;
}

/* Gives every GPU a pair of clocks. */
static void prof__cuda_sync(void)
{
    uint64_t ticks = 0, host = 0;
    prof__cuda.looked = prof__monotonic();
    if (!prof__cuda_clocks(&ticks, &host)) return;
    int64_t gap = (int64_t)(ticks - host), change = gap - prof__cuda.clock_gap;
    if (prof__cuda.clock_gap && (change > PROF__CUDA_STEP || change < -PROF__CUDA_STEP))
        prof__cuda_count(&prof__cuda.counts.clock_steps, 1);
    prof__cuda.clock_gap = gap;
    for (unsigned i = 0; i < prof__cuda.gpus; ++i)
        if (prof__cuda.gpu[i].device) prof_device_sync(prof__cuda.gpu[i].device, ticks, host);
    prof_device_sync(prof__cuda.host, ticks, host);
    if (prof__cuda.nvtx) prof_device_sync(prof__cuda.nvtx, ticks, host);
}

/* Takes what is complete. force: also what is not, which then has no end. */
static void prof__cuda_collect(int force)
{
    prof__cuda_sync();
    prof__cuda.api->ActivityFlushAll(force ? PROF__CUPTI_FLUSH_FORCED : 0);
    prof__cuda_dropped(NULL, 0);
    prof__cuda_buffers_read();
    if (!force) prof__cuda_sampling_read();
}

/* Kinds of records, as the metadata calls them where one is missing. */
static const struct {
    uint32_t kind;
    const char *what;
} prof__cuda_kinds[] = {
    {PROF__CUPTI_KERNEL, "kernels"},           {PROF__CUPTI_MEMCPY, "copies"},
    {PROF__CUPTI_MEMCPY_PEER, "peer copies"},  {PROF__CUPTI_MEMSET, "fills"},
    {PROF__CUPTI_SYNC, "synchronization"},     {PROF__CUPTI_OVERHEAD, "overhead"},
    {PROF__CUPTI_MEMORY, "allocations"},       {PROF__CUPTI_UNIFIED_MEMORY, "unified memory"},
    {PROF__CUPTI_GRAPH, "graphs"},             {PROF__CUPTI_MARKER, "NVTX"},
};
#define PROF__CUDA_KIND_COUNT (sizeof prof__cuda_kinds / sizeof *prof__cuda_kinds)

static int prof__cuda_wants(uint32_t kind)
{
    if (kind == PROF__CUPTI_MEMORY) return !prof__cuda.config.no_memory;
    if (kind == PROF__CUPTI_GRAPH) return prof__cuda.wishes.graphs;
    if (kind == PROF__CUPTI_MARKER) return prof__cuda.wishes.nvtx;
    return 1;
}

static void prof__cuda_says_lost(const char *what, uint64_t count, const char *why)
{
    char key[64], text[200];
    if (!count) return;
    snprintf(key, sizeof key, "CUDA %s dropped", what);
    snprintf(text, sizeof text, "%llu: %s", (unsigned long long)count, why);
    prof__beside_says(prof__cuda.session, key, text);
}

/* Says in the metadata what is missing. */
static void prof__cuda_says(void)
{
    prof_cuda_counts now;
    const prof_cuda_counts *counts = &now;
    prof__cuda_counts_now(&now);
    prof__cuda_says_lost("calls", counts->calls_dropped, "more than gpu_max_callback_api_events");
    prof__cuda_says_lost("events", counts->events_dropped, "more than gpu_max_activity_api_events");
    prof__cuda_says_lost("ranges", counts->ranges_dropped, "more than gpu_max_annotation_strings, or too many open");
    prof__cuda_says_lost("records", counts->cupti_dropped, "CUPTI had no buffer: raise prof_cuda_config.memory");
    prof__cuda_says_lost("untimed", counts->untimed,
                         "the GPU wrote no times, or they ran on at the end: wait for the GPU first");
    prof__cuda_says_lost("unknown", counts->unknown, "records that this version of prof does not know");
    prof__cuda_says_lost("buffers", counts->broken_buffers, "CUPTI could not read them to their end");
    prof__cuda_says_lost("samples", counts->samples_dropped, "CUPTI could not evaluate them");
    prof__cuda_says_lost("samples of a full GPU", counts->sample_overflows,
                         "times that a GPU had no room for more: raise gpu_pm_sample_interval_us or "
                         "gpu_pm_sample_buffer_size_per_gpu_mb");
    if (counts->clock_steps)
        prof__beside_says(prof__cuda.session, "CUDA clock",
                          "the system's clock was set meanwhile: times of GPUs are wrong there");
}

/* Ends tracing, and takes what is left. */
static void prof__cuda_finish(void)
{
    const prof__cuda_api *api = prof__cuda.api;
    PROF__STORE(&prof__cuda.calls, 0);
    prof__cuda_collect(0); /* first what has ended, with its times */
    prof__cuda_sampling_end();
    for (size_t i = 0; i < PROF__CUDA_KIND_COUNT; ++i)
        if (prof__cuda_wants(prof__cuda_kinds[i].kind)) api->ActivityDisable(prof__cuda_kinds[i].kind);
    prof__cuda_collect(1);
    if (prof__cuda.subscriber) api->Unsubscribe(prof__cuda.subscriber);
    prof__cuda.subscriber = NULL;
    prof__cuda_says();
}

#define PROF__CUDA_ROUND 50000000u   /* ns from one look for full buffers to the next */
#define PROF__CUDA_FLUSH 1000000000u /* ns from one flush to the next */

static void *prof__cuda_main(void *user)
{
    (void)user;
    prof_set_thread_name("prof CUDA");
    while (!PROF__ACQUIRE(&prof__cuda.stop)) {
        uint32_t asked = PROF__ACQUIRE(&prof__cuda.collects);
        if (asked != prof__cuda.collected || prof__monotonic() - prof__cuda.looked >= PROF__CUDA_FLUSH) {
            prof__cuda_collect(0);
            PROF__RELEASE(&prof__cuda.collected, asked);
        } else {
            prof__cuda_buffers_read();
            if (prof__monotonic() - prof__cuda_decoded >= PROF__CUDA_DECODE) prof__cuda_sampling_read();
        }
        if (!PROF__ACQUIRE(&prof__cuda.stop)) prof__word_wait(&prof__cuda.collects, asked, PROF__CUDA_ROUND);
    }
    prof__cuda_finish();
    PROF__RELEASE(&prof__cuda.collected, PROF__ACQUIRE(&prof__cuda.collects));
    PROF__RELEASE(&prof__cuda.done, 1u);
    return NULL;
}
#endif

#ifdef PROF__CUDA_LINUX
#define PROF__CUDA_DEFAULTS {2097152, 2097152, 1048576, 0, 0, 0, 500, 64, ""}
static prof__cuda_wishes prof__cuda_wished = PROF__CUDA_DEFAULTS; /* under the lock prof__cuda_wishing */
static int prof__cuda_wishing;
#endif

#if !defined(PROF_NO_TEXT) && defined(PROF__CUDA_LINUX)
#define PROF__CUDA_PREFIX "gpu_"

/* What is not supported: the values that ask for nothing. */
#define PROF__CUDA_NO_RANGES "counters of ranges are not supported; gpu_pm_sample_counters samples them"
static const struct {
    const char *key, *none, *why;
} prof__cuda_unsupported[] = {
    {"gpu_range_profiling_counters", "", PROF__CUDA_NO_RANGES},
    {"gpu_range_profiling_allow_multipass", NULL, PROF__CUDA_NO_RANGES},
    {"gpu_dump_graph_node_mapping", NULL, "JAX documents it, but no version of JAX acts on it, nor does prof"},
};

static prof_status prof__cuda_must_be(const char *key, const char *value, const char *what)
{
    return prof__fail(PROF_INVALID_ARGUMENT, "%s '%.60s': must be %s", key, value, what);
}

static prof_status prof__cuda_number(const char *key, const char *value, uint64_t *number)
{
    uint64_t parsed;
    if (!prof__parse_number(value, prof__ones, &parsed)) return prof__cuda_must_be(key, value, "a number");
    *number = parsed;
    return PROF_OK;
}

/* Takes a number of a range. */
static prof_status prof__cuda_ranged(const char *key, const char *value, uint64_t most, uint64_t *number)
{
    uint64_t parsed;
    char what[40];
    if (prof__parse_number(value, prof__ones, &parsed) && parsed && parsed <= most) {
        *number = parsed;
        return PROF_OK;
    }
    snprintf(what, sizeof what, "a number, 1 to %llu", (unsigned long long)most);
    return prof__cuda_must_be(key, value, what);
}

/* Takes a list of counters. */
static prof_status prof__cuda_counters(const char *key, const char *value, char *counters)
{
    size_t count = 0, length = strlen(value);
    int empty = 0;
    for (const char *at = value; *value && at; ++count) {
        empty |= !*at || *at == ',';
        at = strchr(at, ',');
        if (at) ++at;
    }
    if (empty || strchr(value, ' '))
        return prof__cuda_must_be(key, value, "names of counters with commas, and no spaces, between them");
    if (count > PROF__CUDA_COUNTERS || length >= PROF__CUDA_COUNTER_TEXT)
        return prof__cuda_must_be(key, value, "64 names at most, of 4095 letters together");
    memcpy(counters, value, length + 1);
    return PROF_OK;
}

static prof_status prof__cuda_switch(const char *key, const char *value, int *on)
{
    int parsed = prof__parse_name(value, prof__switch_names);
    if (parsed < 0) return prof__cuda_must_be(key, value, "0 or 1");
    *on = parsed & 1;
    return PROF_OK;
}

/* Checks the value of a key that is not supported. none: NULL: a switch, of which 0 asks for nothing. */
static prof_status prof__cuda_refuse(const char *key, const char *value, const char *none, const char *why)
{
    int on = none && strcmp(value, none) != 0;
    prof_status status = none ? PROF_OK : prof__cuda_switch(key, value, &on);
    if (status || !on) return status;
    return prof__fail(PROF_UNSUPPORTED, "%s '%.60s': %s", key, value, why);
}

static prof_status prof__cuda_key(prof__cuda_wishes *wishes, const char *key, const char *value)
{
    const char *name = key + sizeof PROF__CUDA_PREFIX - 1;
    for (size_t i = 0; i < sizeof prof__cuda_unsupported / sizeof *prof__cuda_unsupported; ++i)
        if (!strcmp(key, prof__cuda_unsupported[i].key))
            return prof__cuda_refuse(key, value, prof__cuda_unsupported[i].none, prof__cuda_unsupported[i].why);
    if (!strcmp(name, "max_callback_api_events")) return prof__cuda_number(key, value, &wishes->calls);
    if (!strcmp(name, "max_activity_api_events")) return prof__cuda_number(key, value, &wishes->events);
    if (!strcmp(name, "max_annotation_strings")) return prof__cuda_number(key, value, &wishes->ranges);
    if (!strcmp(name, "num_chips_to_profile_per_task")) return prof__cuda_number(key, value, &wishes->gpus);
    if (!strcmp(name, "enable_nvtx_tracking")) return prof__cuda_switch(key, value, &wishes->nvtx);
    if (!strcmp(name, "enable_cupti_activity_graph_trace")) return prof__cuda_switch(key, value, &wishes->graphs);
    if (!strcmp(name, "pm_sample_counters")) return prof__cuda_counters(key, value, wishes->counters);
    if (!strcmp(name, "pm_sample_interval_us"))
        return prof__cuda_ranged(key, value, 1000000000, &wishes->sample_us);
    if (!strcmp(name, "pm_sample_buffer_size_per_gpu_mb")) {
        prof_status status = prof__cuda_ranged(key, value, 4096, &wishes->sample_mib);
        if (wishes->sample_mib < 64) wishes->sample_mib = 64; /* as in JAX */
        return status;
    }
    return prof__fail(PROF_INVALID_ARGUMENT,
                      "unknown key '%.60s': must be gpu_max_callback_api_events, _max_activity_api_events, "
                      "_max_annotation_strings, _enable_nvtx_tracking, _enable_cupti_activity_graph_trace, "
                      "_pm_sample_counters, _pm_sample_interval_us, _pm_sample_buffer_size_per_gpu_mb or "
                      "_num_chips_to_profile_per_task", key);
}

static prof_status prof__cuda_claim(void *user, const char *key, const char *value)
{
    (void)user;
    prof__lock(&prof__cuda_wishing);
    prof_status status = prof__cuda_key(&prof__cuda_wished, key, value);
    prof__unlock(&prof__cuda_wishing);
    return status;
}

/* Several plugins may have copies of this code; the loader directs all of them to one variable. */
PROF__ONE_PER_PROCESS const void *prof__cuda_owner = &prof__cuda_wished;

PROF__AT_START(101, prof__cuda_claims);
static void prof__cuda_claims(void)
{
    if (prof__cuda_owner == &prof__cuda_wished) prof_config_claim(PROF__CUDA_PREFIX, prof__cuda_claim, NULL);
}
#ifdef PROF__SHARED
PROF__AT_END(101, prof__cuda_claims_no_more);
static void prof__cuda_claims_no_more(void)
{
    if (prof__cuda_owner == &prof__cuda_wished) prof_config_claim(PROF__CUDA_PREFIX, NULL, NULL);
}
#endif
#endif

#define PROF__CUDA_FORKED "not recorded: CUDA does not work in a child of fork() whose parent used it"

/* Notes why nothing is recorded: what prof__fail() has said. PROF_OK: it is. */
static void prof__cuda_not(prof_status status)
{
    uint32_t write_lock = prof__state_lock();
    prof__cuda.status = status;
    prof__text_copy(prof__cuda.why, sizeof prof__cuda.why, status ? prof_error() : "");
    prof__state_unlock(write_lock);
}

#ifdef PROF__CUDA_LINUX
/* Puts what is known of a GPU into the metadata. XProf's planes of GPUs have the same. */
static void prof__cuda_tell(const prof__cuda_gpu *gpu, unsigned ordinal)
{
    const struct {
        const char *key;
        uint64_t value;
    } facts[] = {
        {"clock_rate", (uint64_t)gpu->clock_khz},
        {"core_count", (uint64_t)gpu->processors},
        {"memory_bandwidth", (uint64_t)gpu->memory_khz * 2000u * (uint64_t)gpu->memory_bits / 8},
        {"memory_size", gpu->bytes},
        {"compute_cap_major", (uint64_t)gpu->major},
        {"compute_cap_minor", (uint64_t)gpu->minor},
    };
    char key[64], text[32];
    snprintf(key, sizeof key, "GPU %u.device_vendor", ordinal);
    prof__beside_says(prof__cuda.session, key, "Nvidia");
    snprintf(key, sizeof key, "GPU %u.gpu_device_name", ordinal);
    if (gpu->name[0]) prof__beside_says(prof__cuda.session, key, gpu->name);
    for (size_t i = 0; i < sizeof facts / sizeof *facts; ++i) {
        if (!facts[i].value && i < 4) continue; /* not known */
        snprintf(key, sizeof key, "GPU %u.%s", ordinal, facts[i].key);
        snprintf(text, sizeof text, "%llu", (unsigned long long)facts[i].value);
        prof__beside_says(prof__cuda.session, key, text);
    }
}

/* Makes the devices of the GPUs that this session records. */
static prof_status prof__cuda_devices(void)
{
    const prof_device_clock clock = {1000000000u, 0, 0};
    uint64_t wanted = prof__cuda.wishes.gpus;
    char name[24];
    if (wanted > prof__cuda.gpus) {
        snprintf(name, sizeof name, "%u", prof__cuda.gpus);
        prof__beside_says(prof__cuda.session, "CUDA: fewer GPUs than gpu_num_chips_to_profile_per_task", name);
    }
    for (unsigned i = 0; i < prof__cuda.gpus; ++i) {
        prof__cuda_gpu *gpu = &prof__cuda.gpu[i];
        gpu->allocated = 0;
        gpu->device = NULL;
        if (wanted && i >= wanted) continue;
        snprintf(name, sizeof name, "GPU %u", i);
        gpu->device = prof_device_create(name, &clock);
        if (!gpu->device) return PROF_NO_MEMORY;
        prof__cuda_tell(gpu, i);
    }
    prof__cuda.host = prof_device_create("CUDA", &clock);
    if (!prof__cuda.host) return PROF_NO_MEMORY;
    prof__cuda.nvtx = prof__cuda.wishes.nvtx ? prof_device_create("NVTX", &clock) : NULL;
    return PROF_OK;
}

static void prof__cuda_migrations(void)
{
    prof__cupti_unified_config configs[4];
    memset(configs, 0, sizeof configs);
    for (uint32_t i = 0; i < 4; ++i) {
        configs[i].scope = 2; /* all devices: CUPTI ignores it today */
        configs[i].kind = i + 1;
        configs[i].enable = 1;
    }
    prof__cuda.api->ActivityConfigureUnifiedMemoryCounter(configs, 4);
}

/* Enables CUPTI's records. Without kernels it fails; what else is missing stands in the metadata. */
static prof_status prof__cuda_records_begin(void)
{
    const prof__cuda_api *api = prof__cuda.api;
    char key[64];
    int result = api->ActivityRegisterCallbacks(prof__cuda_lend, prof__cuda_return);
    if (result) return prof__cupti_failed("ActivityRegisterCallbacks", result);
    prof__cuda_migrations();
    for (size_t i = 0; i < PROF__CUDA_KIND_COUNT; ++i) {
        if (!prof__cuda_wants(prof__cuda_kinds[i].kind)) continue;
        result = api->ActivityEnable(prof__cuda_kinds[i].kind);
        if (result && !i) return prof__cupti_failed("ActivityEnable", result);
        /* Without unified memory there is nothing to miss. */
        if (!result || prof__cuda_kinds[i].kind == PROF__CUPTI_UNIFIED_MEMORY) continue;
        prof__cupti_failed("ActivityEnable", result);
        snprintf(key, sizeof key, "CUDA %s not recorded", prof__cuda_kinds[i].what);
        prof__beside_says(prof__cuda.session, key, prof_error());
    }
    return PROF_OK;
}

static prof_status prof__cuda_calls_begin(void)
{
    const prof__cuda_api *api = prof__cuda.api;
    int result = api->Subscribe(&prof__cuda.subscriber, prof__cuda_called, NULL);
    if (result) prof__cuda.subscriber = NULL;
    if (result) return prof__cupti_failed("Subscribe", result);
    /* CUPTI of an older version does not know all of them. */
    for (size_t i = 0; prof__cuda.arrows && i < PROF__CUDA_FUNCTION_COUNT; ++i)
        api->EnableCallback(1, prof__cuda.subscriber, prof__cuda_functions[i].domain, prof__cuda_functions[i].id);
    return PROF_OK;
}

/* NVTX loads the library in this variable at its first call, and CUPTI then gets the ranges. */
static void prof__cuda_nvtx(void)
{
    prof__cuda_symbol where;
    const void *function = NULL;
    memcpy(&function, &prof__cuda.api->Subscribe, sizeof function);
    if (prof__cuda.wishes.nvtx && prof__cuda_dladdr(function, &where) && where.dli_fname)
        prof__cuda_setenv("NVTX_INJECTION64_PATH", where.dli_fname, 0);
}

static void prof__cuda_leaves(void);

/* Opens what a session needs, and starts the thread. */
static prof_status prof__cuda_open(void)
{
    prof_status status = prof__cuda_calls_begin();
    if (!status) status = prof__cuda_devices();
    if (!status) prof__cuda_nvtx();
    if (!status) status = prof__cuda_records_begin();
    if (!status) prof__cuda_sync();
    if (!status) prof__cuda_sampling_begin();
    if (!status && prof__thread_create(&prof__cuda.thread, prof__cuda_main, NULL))
        status = prof__fail(PROF_NO_MEMORY, "the system allows no more threads");
    if (!status) return PROF_OK;
    prof__cuda_sampling_end();
    for (size_t i = 0; i < PROF__CUDA_KIND_COUNT; ++i)
        if (prof__cuda_wants(prof__cuda_kinds[i].kind)) prof__cuda.api->ActivityDisable(prof__cuda_kinds[i].kind);
    if (prof__cuda.subscriber) prof__cuda.api->Unsubscribe(prof__cuda.subscriber);
    prof__cuda.subscriber = NULL;
    return status;
}

/* Forgets an earlier session. A buffer that CUPTI still has comes back by itself. */
static void prof__cuda_clear(void)
{
    uint64_t *counts = (uint64_t *)(void *)&prof__cuda.counts;
    for (size_t i = 0; i < sizeof prof__cuda.counts / sizeof *counts; ++i) PROF__STORE(&counts[i], (uint64_t)0);
    memset(prof__cuda.ranges, 0, sizeof prof__cuda.ranges);
    for (uint32_t i = 0; i < prof__cuda.buffers; ++i)
        if (PROF__ACQUIRE(&prof__cuda.buffer[i].state) == PROF__CUDA_FULL)
            PROF__RELEASE(&prof__cuda.buffer[i].state, (uint32_t)PROF__CUDA_FREE);
    prof__cuda.stop = prof__cuda.done = 0;
    prof__cuda.collected = prof__cuda.collects;
    prof__cuda.clock_gap = 0;
    prof__lock(&prof__cuda_wishing);
    prof__cuda.wishes = prof__cuda_wished;
    prof__unlock(&prof__cuda_wishing);
    prof__cuda.call_room = prof__cuda.wishes.calls;
    prof__cuda.arrows = !prof__cuda.config.no_calls && prof__state.level >= 1;
}

/* Does the work of prof__cuda_end(), under prof__cuda.ending. */
static int prof__cuda_end_locked(int waits)
{
    if (!PROF__ACQUIRE(&prof__cuda.running)) return 1;
    PROF__ERRNO_SAVE();
    PROF__RELEASE(&prof__cuda.stop, 1u);
    prof__word_wake(&prof__cuda.collects);
    int good = waits || PROF__ACQUIRE(&prof__cuda.done);
    if (good) {
        pthread_join(prof__cuda.thread, NULL);
        PROF__STORE(&prof__cuda.running, 0);
    }
    PROF__ERRNO_RESTORE();
    return good;
}

/* Has what is left recorded, and ends the thread. Returns 0 if that takes longer, and the caller, the service, does not
   wait. */
static int prof__cuda_end(int waits)
{
    if (waits)
        prof__lock(&prof__cuda.ending);
    else if (!prof__lock_take(&prof__cuda.ending, 0))
        return 0;
    int good = prof__cuda_end_locked(waits);
    prof__unlock(&prof__cuda.ending);
    return good;
}

/* Begins to record for a session. Under the control lock. */
static prof_status prof__cuda_start(prof__session *s)
{
    prof_status status = PROF_OK;
    prof__cuda_end(1); /* of a session that ended while it began */
    prof__cuda.session = s;
    if (prof__cuda.inherited)
        status = prof__fail(PROF_UNSUPPORTED, PROF__CUDA_FORKED);
    else if (prof__state.no_devices)
        status = prof__fail(PROF_INVALID_STATE, "not recorded: no_devices is set");
    else if (s->header->mode == PROF_STATS)
        status = prof__fail(PROF_INVALID_STATE, "not recorded: mode stats keeps no events of devices");
    if (!status) {
        prof__cuda_clear();
        status = prof__cuda_open();
    }
    prof__cuda_not(status);
    if (status == PROF_INVALID_STATE) return PROF_OK; /* the program asked for that */
    if (status) {
        prof__beside_says(s, "CUDA", prof__cuda.why);
        return status;
    }
    PROF__STORE(&prof__cuda.calls, prof__cuda.arrows);
    PROF__RELEASE(&prof__cuda.running, 1u);
    if (!prof__cuda.exits) atexit(prof__cuda_leaves); /* so that it runs before what CUPTI and the driver do at exit */
    prof__cuda.exits = 1;
    return PROF_OK;
}

static void prof__cuda_begin(prof__session *s, const prof_config *config)
{
    (void)config;
    if (!PROF__ACQUIRE(&prof__cuda.enabled)) return;
    PROF__ERRNO_SAVE();
    prof__cuda_start(s);
    PROF__ERRNO_RESTORE();
}

static void prof__cuda_child(void)
{
    prof__cuda.ending = prof__cuda.loading = prof__cuda_wishing = 0;
    PROF__STORE(&prof__cuda.calls, 0);
    if (PROF__LOAD(&prof__cuda.api)) prof__cuda.inherited = 1; /* after prof_cuda_disable(), too */
    PROF__STORE(&prof__cuda.running, 0);
}

static void prof__cuda_child_image(prof__session *s)
{
    if (prof__cuda.inherited && PROF__LOAD(&prof__cuda.enabled) && !prof__state.no_devices)
        prof__meta_pair(s, "CUDA", PROF__CUDA_FORKED);
}

/* Ends the thread at exit, before CUPTI and the driver are gone. */
static void prof__cuda_leaves(void)
{
    if (!prof__lock_try(&prof__cuda.ending)) return; /* exit() in a signal handler that interrupted prof_stop() */
    prof__cuda_end_locked(1);
    prof__unlock(&prof__cuda.ending);
    PROF__STORE(&prof__cuda.enabled, 0);
}

static const prof__beside prof__cuda_table = {prof__cuda_begin, prof__cuda_end, NULL, prof__cuda_child,
                                              prof__cuda_child_image};
PROF__AT_START(101, prof__cuda_comes);
static void prof__cuda_comes(void) { prof__beside_devices = &prof__cuda_table; }

/* Loads what is needed, once. */
static prof_status prof__cuda_prepare(const prof_cuda_config *config)
{
    size_t memory = config ? config->memory : 0;
    if (memory && (memory < PROF__CUDA_BUFFER || memory > PROF__CUDA_MEMORY_MOST))
        return prof__fail(PROF_INVALID_ARGUMENT, "prof_cuda_enable: memory must be 128 KiB to 1 GiB");
    if (prof__cuda.inherited) return prof__fail(PROF_UNSUPPORTED, PROF__CUDA_FORKED);
    if (!prof__cuda.memory) { /* no call has succeeded: what an earlier one pointed to may be gone */
        memset(&prof__cuda.config, 0, sizeof prof__cuda.config);
        if (config) prof__cuda.config = *config;
    }
    prof_status status = prof__cuda_load();
    if (!status) status = prof__cuda_buffers_make();
    if (!status) prof__cuda_sites_make();
    return status;
}

PROF_DEF prof_status prof_cuda_enable(const prof_cuda_config *config)
{
    PROF__CALM();
    PROF__ERRNO_SAVE();
    prof__lock(&prof__cuda.loading);
    prof_status status = prof__cuda_prepare(config);
    prof__unlock(&prof__cuda.loading);
    prof__control_lock();
    if (status) {
        if (!prof__cuda.running) prof__cuda_not(status);
    } else if (!prof__cuda.enabled) {
        prof__cuda_not(PROF_OK);
        PROF__RELEASE(&prof__cuda.enabled, 1);
        if (prof__state.running && prof__state.session) status = prof__cuda_start(prof__state.session);
    }
    prof__control_unlock();
    PROF__ERRNO_RESTORE();
    return status;
}

PROF_DEF prof_status prof_cuda_disable(void)
{
    PROF__CALM();
    prof__control_lock();
    PROF__RELEASE(&prof__cuda.enabled, 0);
    prof__cuda_end(1);
    prof__control_unlock();
    return PROF_OK;
}

PROF_DEF prof_status prof_cuda_collect(void)
{
    if (!PROF__ACQUIRE(&prof__cuda.running))
        return prof__fail(PROF_INVALID_STATE, "prof_cuda_collect: no session records GPUs");
    prof__word_wake(&prof__cuda.collects); /* which adds 1 */
    uint32_t asked = PROF__ACQUIRE(&prof__cuda.collects);
    PROF__OWN_BEGINS();
    while (PROF__ACQUIRE(&prof__cuda.running) && !PROF__ACQUIRE(&prof__cuda.done) &&
           (int32_t)(PROF__ACQUIRE(&prof__cuda.collected) - asked) < 0)
        prof__wait();
    PROF__OWN_ENDS();
    return PROF_OK;
}
#else
#define PROF__CUDA_NONE "GPUs are not recorded on this system: prof_cuda.h needs Linux, and a thread"
PROF_DEF prof_status prof_cuda_enable(const prof_cuda_config *config)
{
    (void)config;
    prof_status status = prof__fail(PROF_UNSUPPORTED, PROF__CUDA_NONE);
    prof__cuda_not(status);
    return status;
}
PROF_DEF prof_status prof_cuda_disable(void) { return PROF_OK; }
PROF_DEF prof_status prof_cuda_collect(void) { return prof__fail(PROF_UNSUPPORTED, PROF__CUDA_NONE); }
#endif

PROF_DEF prof_status prof_cuda_status(void)
{
    char why[PROF__CUDA_WHY];
    if (PROF__ACQUIRE(&prof__cuda.running)) return PROF_OK;
    uint32_t write_lock = prof__state_lock();
    int runs = prof__state.running;
    prof_status status = prof__cuda.status;
    prof__copy(why, prof__cuda.why, sizeof why);
    prof__state_unlock(write_lock);
    if (status && status != PROF_INVALID_STATE) return prof__fail(status, "%s", why);
    if (!PROF__ACQUIRE(&prof__cuda.enabled))
        return prof__fail(PROF_INVALID_STATE, "prof_cuda_status: prof_cuda_enable() was not called");
    return prof__fail(PROF_INVALID_STATE, "prof_cuda_status: %s", runs && why[0] ? why : "no session runs");
}

PROF_DEF void prof_cuda_counted(prof_cuda_counts *counts)
{
    if (!counts) return;
    prof__cuda_counts_now(counts);
    counts->calls = prof__cuda.wishes.calls - PROF__LOAD(&prof__cuda.call_room);
}

#ifdef __cplusplus
} /* extern "C" */
#endif

#ifdef PROF__WRAPS_MALLOC
#undef malloc
#undef calloc
#undef realloc
#undef free
#endif
#endif /* PROF_IMPLEMENTATION */

#pragma pack(pop)

/* This software is available under two licences: choose the one you prefer.

ALTERNATIVE A - MIT No Attribution (MIT-0)

Copyright 2026 the prof authors

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated
documentation files (the "Software"), to deal in the Software without restriction, including without limitation the
rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit
persons to whom the Software is furnished to do so.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR
OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.

ALTERNATIVE B - public domain (www.unlicense.org)

This is free and unencumbered software released into the public domain.

Anyone is free to copy, modify, publish, use, compile, sell, or distribute this software, either in source code form or
as a compiled binary, for any purpose, commercial or non-commercial, and by any means.

In jurisdictions that recognize copyright laws, the author or authors of this software dedicate any and all copyright
interest in the software to the public domain. We make this dedication for the benefit of the public at large and to the
detriment of our heirs and successors. We intend this dedication to be an overt act of relinquishment in perpetuity of
all present and future rights to this software under copyright law.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS BE
LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT
OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE. */
