// cuda/buffers: The buffers into which CUPTI writes its records. There is a fixed number of them.
#ifndef PROF__CUDA_BUFFERS_H
#define PROF__CUDA_BUFFERS_H
#include "cuda/state.h"

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

#endif /* PROF__CUDA_BUFFERS_H */
