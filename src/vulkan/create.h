// vulkan/create: Makes all that a queue's scopes need, and frees it.
#ifndef PROF__VULKAN_CREATE_H
#define PROF__VULKAN_CREATE_H
#include "vulkan/clock.h"
#include "vulkan/collect.h"
#include "vulkan/labels.h"
#include "vulkan/memory.h"
#include "vulkan/state.h"

/* Finds a function by its name in the core, or as an extension. */
static prof_vk_function prof__vk_find(const prof_vk_config *config, prof_vk_load_device load, const char *name)
{
    static const char *const suffixes[] = {"", "KHR", "EXT"};
    char text[64];
    prof_vk_function found = NULL;
    for (int i = 0; i < 3 && !found; ++i) {
        snprintf(text, sizeof text, "%s%s", name, suffixes[i]);
        found = load ? load(config->device, text) : config->get_instance_proc_addr(config->instance, text);
    }
    return found;
}

/* Copies a pointer to a function: C has no conversion for a field of any such type. */
static int prof__vk_set(void *field, prof_vk_function found)
{
    memcpy(field, &found, sizeof found);
    return found != NULL;
}

static prof_status prof__vk_load(prof_vk *vk, const prof_vk_config *config)
{
    prof_vk_load_device load = config->get_device_proc_addr;
    if (!load) prof__vk_set(&load, config->get_instance_proc_addr(config->instance, "vkGetDeviceProcAddr"));
    if (!load) return prof__fail(PROF_UNSUPPORTED, "prof_vk_create: Vulkan has no vkGetDeviceProcAddr");
#define PROF__VK_INSTANCE(field, name, result, parameters) \
    if (!prof__vk_set(&vk->call.field, prof__vk_find(config, NULL, name))) \
        return prof__fail(PROF_UNSUPPORTED, "prof_vk_create: Vulkan has no " name);
#define PROF__VK_DEVICE(field, name, result, parameters) \
    if (!prof__vk_set(&vk->call.field, prof__vk_find(config, load, name))) \
        return prof__fail(PROF_UNSUPPORTED, "prof_vk_create: the device has no " name);
    PROF__VK_OF_INSTANCE(PROF__VK_INSTANCE)
    PROF__VK_OF_DEVICE(PROF__VK_DEVICE)
#undef PROF__VK_INSTANCE
#undef PROF__VK_DEVICE
    prof__vk_set(&vk->call.domains, prof__vk_find(config, NULL, "vkGetPhysicalDeviceCalibrateableTimeDomains"));
    prof__vk_set(&vk->call.calibrated, prof__vk_find(config, load, "vkGetCalibratedTimestamps"));
    if (config->memory_budget)
        prof__vk_set(&vk->call.memory, prof__vk_find(config, NULL, "vkGetPhysicalDeviceMemoryProperties2"));
    if (!config->host_query_reset) return PROF_OK;
    if (prof__vk_set(&vk->call.host_reset, prof__vk_find(config, load, "vkResetQueryPool"))) return PROF_OK;
    return prof__fail(PROF_UNSUPPORTED,
                      "prof_vk_create: host_query_reset is set, but the device has no vkResetQueryPool");
}

/* Families may have times of different widths; their scopes share a device, whose clock has the fewest bits. */
static prof_status prof__vk_learn_family(prof_vk *vk, uint32_t number, unsigned *bits)
{
    uint32_t count = 0;
    vk->call.families(vk->physical, &count, NULL);
    prof__vk_family *families = count ? (prof__vk_family *)calloc(count, sizeof *families) : NULL;
    if (!families || number >= count) {
        free(families);
        return prof__fail(PROF_INVALID_ARGUMENT, "prof_vk_create: there is no queue family %u", (unsigned)number);
    }
    vk->call.families(vk->physical, &count, families);
    prof__vk_family family = families[number];
    for (uint32_t i = 0; i < count; ++i) {
        if (families[i].timestamp_bits && families[i].timestamp_bits < *bits) *bits = families[i].timestamp_bits;
    }
    free(families);
    vk->mask = ~(uint64_t)0 >> (64 - *bits);
    if (!family.timestamp_bits)
        return prof__fail(PROF_UNSUPPORTED, "prof_vk_create: queue family %u has no timestamps", (unsigned)number);
    if (!vk->call.host_reset && !(family.flags & PROF__VK_QUEUE_GRAPHICS_OR_COMPUTE))
        return prof__fail(PROF_UNSUPPORTED,
                          "prof_vk_create: queue family %u can only transfer, and cannot reset queries: enable the "
                          "feature hostQueryReset, and set host_query_reset", (unsigned)number);
    return PROF_OK;
}

static prof_status prof__vk_learn_device(prof_vk *vk, const prof_vk_config *config)
{
    prof__vk_properties properties;
    unsigned bits = 64;
    char name[PROF__VK_TEXT + 256];
    const char *queue = config->queue_name ? config->queue_name : "queue";
    memset(&properties, 0, sizeof properties);
    vk->call.properties(vk->physical, &properties);
    vk->reads_wait = properties.device_type == PROF__VK_TYPE_CPU; /* Mesa's lavapipe does */
    vk->period = (double)properties.limits.timestamp_period;
    if (!(vk->period > 0)) return prof__fail(PROF_UNSUPPORTED, "prof_vk_create: the device has no timestamps");
    prof_status status = prof__vk_learn_family(vk, config->queue_family, &bits);
    if (status) return status;
    vk->domain = prof__vk_choose_domain(vk);
    vk->info.calibrated = vk->domain >= 0;
    vk->info.memory_budget = config->memory_budget && prof__vk_has_budget(vk);
    /* Without calibrated timestamps nobody knows whether the clocks of two queues are the same. */
    properties.name[sizeof properties.name - 1] = 0;
    snprintf(name, sizeof name, "%s%s%.63s", config->device_name ? config->device_name : properties.name,
             vk->domain < 0 ? ", " : "", vk->domain < 0 ? queue : "");
    prof_device_clock clock = {(uint64_t)(1e9 / vk->period + 0.5), bits, 0};
    vk->device = prof_device_create(name, &clock);
    vk->row = prof_device_row_create(vk->device, queue);
    vk->memory_row = vk->info.memory_budget ? prof_device_row_create(vk->device, "memory") : vk->row;
    return vk->row && vk->memory_row ? PROF_OK : PROF_NO_MEMORY;
}

static prof_status prof__vk_make_queries(prof_vk *vk, uint32_t count, prof__vk_handle *queries)
{
    prof__vk_query_pool_info info;
    memset(&info, 0, sizeof info);
    info.type = PROF__VK_QUERY_POOL_INFO;
    info.query_type = PROF__VK_QUERY_TIMESTAMP;
    info.count = count;
    int32_t result = vk->call.make_pool(vk->of, &info, NULL, queries);
    return result ? prof__vk_failed(vk, "vkCreateQueryPool", result) : PROF_OK;
}

static prof_status prof__vk_make_fence(prof_vk *vk, prof__vk_handle *fence)
{
    prof__vk_fence_info info;
    memset(&info, 0, sizeof info);
    info.type = PROF__VK_FENCE_INFO;
    int32_t result = vk->call.make_fence(vk->of, &info, NULL, fence);
    return result ? prof__vk_failed(vk, "vkCreateFence", result) : PROF_OK;
}

/* Makes a command buffer that resets queries, or writes the time into the first of them, or both. */
static prof_status prof__vk_make_commands(prof_vk *vk, prof__vk_handle queries, uint32_t resets, int writes,
                                          struct VkCommandBuffer_T **commands)
{
    prof__vk_command_buffer_info info;
    prof__vk_begin_info begin;
    memset(&info, 0, sizeof info);
    memset(&begin, 0, sizeof begin);
    info.type = PROF__VK_COMMAND_BUFFER_INFO;
    info.pool = vk->commands;
    info.count = 1;
    begin.type = PROF__VK_COMMAND_BUFFER_BEGIN_INFO;
    int32_t result = vk->call.make_buffers(vk->of, &info, commands);
    if (result) return prof__vk_failed(vk, "vkAllocateCommandBuffers", result);
    result = vk->call.begin(*commands, &begin);
    if (result) return prof__vk_failed(vk, "vkBeginCommandBuffer", result);
    if (resets) vk->call.cmd_reset(*commands, queries, 0, resets);
    if (writes) vk->call.write(*commands, PROF__VK_BOTTOM_OF_PIPE, queries, 0);
    result = vk->call.end(*commands);
    return result ? prof__vk_failed(vk, "vkEndCommandBuffer", result) : PROF_OK;
}

static prof_status prof__vk_make_pool(prof_vk *vk, prof__vk_pool *pool)
{
    pool->entries = (prof__vk_entry *)calloc(vk->scopes, sizeof *pool->entries);
    pool->texts = (char *)calloc(vk->scopes, PROF__VK_TEXT);
    pool->generation = 1;
    pool->count = vk->scopes;
    if (!pool->entries || !pool->texts) return prof__fail(PROF_NO_MEMORY, "no memory for the scopes of a queue");
    prof_status status = prof__vk_make_queries(vk, 2 * vk->scopes, &pool->queries);
    if (!status) status = prof__vk_make_fence(vk, &pool->fence);
    if (!status && !vk->call.host_reset)
        status = prof__vk_make_commands(vk, pool->queries, 2 * vk->scopes, 0, &pool->reset);
    if (!status) status = prof__vk_reset(vk, pool, 0);
    if (!status) prof__vk_free_pool(pool);
    return status;
}

/* Makes what the queue itself has to do: resets of queries, and the first pair of clocks. */
static prof_status prof__vk_make_clock(prof_vk *vk, uint32_t family)
{
    prof__vk_command_pool_info info;
    if (vk->domain >= 0 && vk->call.host_reset) return PROF_OK;
    memset(&info, 0, sizeof info);
    info.type = PROF__VK_COMMAND_POOL_INFO;
    info.family = family;
    int32_t result = vk->call.make_commands(vk->of, &info, NULL, &vk->commands);
    if (result) return prof__vk_failed(vk, "vkCreateCommandPool", result);
    if (vk->domain >= 0) return PROF_OK;
    prof_status status = prof__vk_make_queries(vk, 1, &vk->clock_queries);
    if (!status) status = prof__vk_make_fence(vk, &vk->clock_fence);
    return status ? status
                  : prof__vk_make_commands(vk, vk->clock_queries, !vk->call.host_reset, 1, &vk->clock_commands);
}

static prof_status prof__vk_check(const prof_vk_config *config)
{
    const char *lacks = !config->instance                 ? "instance"
                        : !config->physical_device        ? "physical_device"
                        : !config->device                 ? "device"
                        : !config->queue                  ? "queue"
                        : !config->get_instance_proc_addr ? "get_instance_proc_addr"
                                                          : NULL;
    if (lacks) return prof__fail(PROF_INVALID_ARGUMENT, "prof_vk_create: %s is NULL", lacks);
    if (config->scopes > 65536)
        return prof__fail(PROF_INVALID_ARGUMENT, "prof_vk_create: scopes is %u, more than 65536",
                          (unsigned)config->scopes);
    if (config->pools > 250 || (config->pools && config->pools < 3))
        return prof__fail(PROF_INVALID_ARGUMENT, "prof_vk_create: pools is %u, not 3 to 250", (unsigned)config->pools);
    return PROF_OK;
}

static prof_status prof__vk_make(prof_vk *vk, const prof_vk_config *config)
{
    vk->physical = config->physical_device;
    vk->of = config->device;
    vk->queue = config->queue;
    vk->no_arrows = config->no_arrows;
    vk->scopes = config->scopes ? config->scopes : (uint32_t)PROF__VK_SCOPES;
    vk->pool_count = config->pools ? config->pools : (uint32_t)PROF__VK_POOLS;
    prof_status status = prof__vk_load(vk, config);
    if (!status) status = prof__vk_learn_device(vk, config);
    if (status) return status;
    vk->pools = (prof__vk_pool *)calloc(vk->pool_count, sizeof *vk->pools);
    vk->results = (uint64_t *)calloc(vk->scopes, 4 * sizeof *vk->results);
    if (!vk->pools || !vk->results)
        return prof__fail(PROF_NO_MEMORY, "no memory for the scopes of a queue");
    status = prof__vk_make_clock(vk, config->queue_family);
    for (uint32_t i = 0; i < vk->pool_count && !status; ++i) status = prof__vk_make_pool(vk, &vk->pools[i]);
    if (status) return status;
    vk->current = &vk->pools[0];
    vk->current->state = PROF__VK_OPEN;
    return prof_vk_calibrate(vk);
}

/* Waits for what prof itself has submitted, which the queue may still have when the program's work is done. */
static void prof__vk_free(prof_vk *vk)
{
    if (vk->pools) vk->call.wait_idle(vk->queue);
    for (uint32_t i = 0; vk->pools && i < vk->pool_count; ++i) {
        if (vk->pools[i].queries) vk->call.free_pool(vk->of, vk->pools[i].queries, NULL);
        if (vk->pools[i].fence) vk->call.free_fence(vk->of, vk->pools[i].fence, NULL);
        free(vk->pools[i].entries);
        free(vk->pools[i].texts);
    }
    if (vk->clock_queries) vk->call.free_pool(vk->of, vk->clock_queries, NULL);
    if (vk->clock_fence) vk->call.free_fence(vk->of, vk->clock_fence, NULL);
    if (vk->commands) vk->call.free_commands(vk->of, vk->commands, NULL);
    free(vk->pools);
    free(vk->results);
    free(vk->labels);
    free(vk);
}

PROF_DEF prof_vk *prof_vk_create(const prof_vk_config *config)
{
    if (!config) {
        prof__null("prof_vk_create", "config");
        return NULL;
    }
    if (prof__vk_check(config)) return NULL;
    prof_vk *vk = (prof_vk *)calloc(1, sizeof *vk);
    if (!vk) {
        prof__fail(PROF_NO_MEMORY, "no memory for the scopes of a queue");
        return NULL;
    }
    if (!prof__vk_make(vk, config)) return vk;
    prof__vk_free(vk);
    return NULL;
}

PROF_DEF void prof_vk_destroy(prof_vk *vk)
{
    if (!vk) return;
    if (prof__vk_labelled.vk == vk) prof__vk_unwrap_labels();
    if (!PROF__LOAD(&vk->device_lost)) prof_vk_calibrate(vk);
    for (uint32_t i = 0; i < vk->pool_count && !PROF__LOAD(&vk->device_lost); ++i) {
        prof__vk_pool *pool = &vk->pools[i];
        uint32_t missing;
        if (PROF__ACQUIRE(&pool->state) == PROF__VK_OPEN) prof__vk_close(vk, pool);
        if (pool->state == PROF__VK_WAITING && pool->count && !prof__vk_read(vk, pool, &missing))
            prof__vk_give_up(vk, pool);
    }
    if (PROF__LOAD(&vk->device_lost))
        prof__vk_lose_device(vk);
    else
        prof__vk_wake_all(vk, 0);
    prof__vk_say_losses(vk);
    prof__vk_free(vk);
}

#endif /* PROF__VULKAN_CREATE_H */
