// cuda/state: What prof_cuda.h knows of the process and of the running session.
#ifndef PROF__CUDA_STATE_H
#define PROF__CUDA_STATE_H
#include "api/devices.h"
#include "api/markup.h"
#include "ground/errors.h"
#include "ground/lock.h"
#include "ground/numbers.h"
#include "record/state.h"
#include "cuda/abi.h"
#include "cuda/api.h"

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

#endif /* PROF__CUDA_STATE_H */
