/* What src/cuda/occupancy.h computes, beside NVIDIA's cuda_occupancy.h: see tests/compile/cupti.sh. */
#define PROF_IMPLEMENTATION
#include "prof_cuda.h"
#include <cuda_occupancy.h>

/* compute capability, threads, blocks, registers and shared memory of a multiprocessor, shared memory of a block, and
   what the system reserves of it */
static const int gpus[][8] = {
    {7, 0, 2048, 32, 65536, 98304, 98304, 0},    {7, 5, 1024, 16, 65536, 65536, 65536, 0},
    {8, 0, 2048, 32, 65536, 167936, 166912, 1024}, {8, 6, 1536, 16, 65536, 102400, 101376, 1024},
    {8, 9, 1536, 24, 65536, 102400, 101376, 1024}, {9, 0, 2048, 32, 65536, 233472, 232448, 1024},
};

int main(void)
{
    unsigned long compared = 0, different = 0;
    for (size_t i = 0; i < sizeof gpus / sizeof *gpus; ++i) {
        const int *g = gpus[i];
        prof__cuda_gpu gpu;
        cudaOccDeviceProp theirs;
        cudaOccFuncAttributes function;
        cudaOccDeviceState state;
        memset(&gpu, 0, sizeof gpu);
        memset(&theirs, 0, sizeof theirs);
        memset(&state, 0, sizeof state);
        gpu.major = theirs.computeMajor = g[0];
        gpu.minor = theirs.computeMinor = g[1];
        gpu.threads = theirs.maxThreadsPerMultiprocessor = g[2];
        gpu.blocks = g[3];
        gpu.registers = theirs.regsPerMultiprocessor = g[4];
        theirs.sharedMemPerMultiprocessor = (size_t)g[5];
        gpu.shared = g[5];
        theirs.sharedMemPerBlockOptin = (size_t)g[6];
        theirs.sharedMemPerBlock = 49152;
        gpu.reserved_shared = g[7];
        theirs.reservedSharedMemPerBlock = (size_t)g[7];
        gpu.warp = theirs.warpSize = 32;
        gpu.block_threads = theirs.maxThreadsPerBlock = 1024;
        gpu.block_registers = theirs.regsPerBlock = 65536;
        gpu.processors = theirs.numSms = 80;
        state.carveoutConfig = 100;
        for (int registers = 1; registers <= 255; registers += 7)
            for (int threads = 1; threads <= 1024; threads += 31)
                for (int shared = 0; shared <= g[6]; shared += 7777) {
                    cudaOccResult result;
                    memset(&function, 0, sizeof function);
                    function.maxThreadsPerBlock = 1024;
                    function.numRegs = registers;
                    function.maxDynamicSharedSizeBytes = (size_t)g[6];
                    function.partitionedGCConfig = PARTITIONED_GC_OFF;
                    function.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
                    prof__cuda_need need = {registers, threads, (uint32_t)shared, 0};
                    int ours = prof__cuda_blocks(&gpu, &need, threads);
                    if (cudaOccMaxActiveBlocksPerMultiprocessor(&result, &theirs, &function, &state, threads,
                                                                (size_t)shared))
                        result.activeBlocksPerMultiprocessor = 0; /* it refuses what does not fit */
                    ++compared;
                    if (ours == result.activeBlocksPerMultiprocessor) continue;
                    if (++different <= 10)
                        printf("%d.%d: %d registers, %d threads, %d bytes: %d, not %d\n", g[0], g[1], registers, threads,
                               shared, ours, result.activeBlocksPerMultiprocessor);
                }
    }
    printf("%lu compared, %lu different\n", compared, different);
    return different != 0 || compared < 100000;
}
