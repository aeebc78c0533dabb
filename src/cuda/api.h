// cuda/api: Declarations.
#ifndef PROF__CUDA_API_H
#define PROF__CUDA_API_H
#include "api/macros.h"
#include "api/options.h"
#include "api/types.h"

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

#endif /* PROF__CUDA_API_H */
