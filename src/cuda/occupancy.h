// cuda/occupancy: How many blocks of a kernel fit onto a multiprocessor at the same time, as CUDA's calculator counts.
#ifndef PROF__CUDA_OCCUPANCY_H
#define PROF__CUDA_OCCUPANCY_H
#include "cuda/state.h"

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

#endif /* PROF__CUDA_OCCUPANCY_H */
