// vulkan/state: A queue's scopes: pools of queries in a ring, and what a pool knows of each scope.
#ifndef PROF__VULKAN_STATE_H
#define PROF__VULKAN_STATE_H
#include "ground/base.h"
#include "ground/compiler.h"
#include "ground/errors.h"
#include "record/device.h"
#include "vulkan/abi.h"
#include "vulkan/api.h"

#include <stdio.h>

enum {
    PROF__VK_SCOPES = 512, /* of a pool, where the program does not say it */
    PROF__VK_POOLS = 16,
    PROF__VK_TEXT = 64,    /* bytes of a copied name, with its zero */
    PROF__VK_PATIENCE = 3, /* how often a pool is read before its queries may be used for others */
    PROF__VK_REST = 4      /* for how many frames nobody gets the queries of a pool that was read */
};

/* What became of a scope: the low bits of its state. Above them is the generation of its pool, so that a state of an
   earlier use of the pool is known as such. */
enum { PROF__VK_BEGUN = 1, PROF__VK_ENDING, PROF__VK_ENDED, PROF__VK_DONE, PROF__VK_STEP = 8 };
#define PROF__VK_PHASE(state) ((state) & (PROF__VK_STEP - 1u))

typedef struct prof__vk_entry {
    const char *name;
    uint64_t flow; /* of the arrow from the host; 0: none */
    uint32_t state;
} prof__vk_entry;

/* A pool is free, its queries reset; open, so that scopes may take queries; waits until the queue has done what was
   submitted before its fence; or rests, its queries reset: what is written meanwhile is of a command buffer that was
   submitted again, and would be taken for times of others. Threads that record make a free pool an open one. All else
   does the collecting thread.
   PROF__VK_CLOSED in used: a thread that comes late sees that it has taken nothing. */
enum { PROF__VK_FREE, PROF__VK_OPEN, PROF__VK_WAITING, PROF__VK_RESTING };
#define PROF__VK_CLOSED 0x80000000u
typedef struct prof__vk_pool {
    uint32_t used, state, generation;
    uint32_t count; /* of a waiting or a resting pool: scopes */
    uint32_t age;   /* how often some of them were not to be had; or for how many frames it has rested */
    prof__vk_handle queries, fence;
    struct VkCommandBuffer_T *reset; /* NULL: the host resets the queries */
    prof__vk_entry *entries;
    char *texts;
} prof__vk_pool;

/* Open labels of a command buffer: the scopes that vkCmdEndDebugUtilsLabelEXT() is to end. */
enum { PROF__VK_LABEL_DEPTH = 16, PROF__VK_LABEL_PLACES = 256, PROF__VK_LABEL_TRIES = 16 };
typedef struct prof__vk_labels {
    struct VkCommandBuffer_T *commands; /* NULL: nobody's */
    uint32_t depth;
    uint64_t scopes[PROF__VK_LABEL_DEPTH];
} prof__vk_labels;

/* One moment on the clocks of device and host, and how exactly it is known. */
typedef struct prof__vk_moment {
    uint64_t ticks, ns, error_ns;
} prof__vk_moment;

struct prof_vk {
    prof__vk_functions call;
    prof__vk_pool *current; /* whose queries scopes take */
    prof_device *device;
    prof_device_row *row, *memory_row;
    uint32_t scopes, pool_count;
    uint32_t device_lost;
    int no_arrows;
    uint64_t lost_no_query;
    prof__vk_pool *pools;
    prof__vk_labels *labels;

    struct VkPhysicalDevice_T *physical;
    struct VkDevice_T *of; /* Vulkan's */
    struct VkQueue_T *queue;
    uint64_t *results; /* of a pool: for each query its time, and whether it has one */
    double period;     /* nanoseconds of a tick */
    uint64_t mask;     /* the bits of a time */
    int domain;        /* of the host, which the driver reads together with the device's; -1: not calibrated */
    prof__vk_moment moment;
    int reads_wait;    /* the driver waits until the device is idle before it returns results */
    uint64_t memory_ns; /* when the budget was looked at */
    prof__vk_handle commands, clock_queries, clock_fence;
    struct VkCommandBuffer_T *clock_commands;
    prof_vk_info info;
    uint64_t said_no_query, said_no_end, said_again;
};

static const char *prof__vk_result_text(int32_t result)
{
    static const char *const texts[] = {
        "VK_SUCCESS", "VK_ERROR_OUT_OF_HOST_MEMORY", "VK_ERROR_OUT_OF_DEVICE_MEMORY", "VK_ERROR_INITIALIZATION_FAILED",
        "VK_ERROR_DEVICE_LOST"};
    return result <= 0 && result >= PROF__VK_DEVICE_LOST ? texts[-result] : result == 2 ? "VK_TIMEOUT" : "failed";
}

/* Sets prof_error() for a call that has failed, and remembers that the device is lost. */
static prof_status prof__vk_failed(prof_vk *vk, const char *call, int32_t result)
{
    if (result == PROF__VK_DEVICE_LOST) PROF__STORE(&vk->device_lost, 1u);
    return prof__fail(PROF_IO, "%s: %s (%d)%s", call, prof__vk_result_text(result), (int)result,
                      result == PROF__VK_DEVICE_LOST ? ": make a new device, and a new prof_vk for it" : "");
}

static prof_status prof__vk_submit(prof_vk *vk, struct VkCommandBuffer_T *const *buffer, prof__vk_handle fence)
{
    prof__vk_submit_info info;
    memset(&info, 0, sizeof info);
    info.type = PROF__VK_SUBMIT_INFO;
    info.buffer_count = 1;
    info.buffers = buffer;
    int32_t result = vk->call.submit(vk->queue, buffer ? 1 : 0, buffer ? &info : NULL, fence);
    return result ? prof__vk_failed(vk, "vkQueueSubmit", result) : PROF_OK;
}

#endif /* PROF__VULKAN_STATE_H */
