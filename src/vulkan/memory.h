// vulkan/memory: Each heap's use and budget, as VK_EXT_memory_budget says them.
#ifndef PROF__VULKAN_MEMORY_H
#define PROF__VULKAN_MEMORY_H
#include "vulkan/clock.h"
#include "vulkan/state.h"

#define PROF__VK_MEMORY_NS 100000000u /* between two looks */

/* Records the counters if it is time to. */
static void prof__vk_look_at_memory(prof_vk *vk)
{
    uint64_t now = prof_host_ns();
    if (!vk->info.memory_budget || now - vk->memory_ns < PROF__VK_MEMORY_NS || !prof__device_live(vk->device)) return;
    prof__vk_budget budget;
    prof__vk_memory memory;
    memset(&budget, 0, sizeof budget);
    memset(&memory, 0, sizeof memory);
    budget.type = PROF__VK_MEMORY_BUDGET;
    memory.type = PROF__VK_MEMORY_PROPERTIES_2;
    memory.next = &budget;
    vk->call.memory(vk->physical, &memory);
    vk->memory_ns = now;
    uint64_t ticks = prof__vk_ticks_now(vk);
    for (unsigned i = 0; i < memory.of.heap_count && i < 16; ++i) {
        char name[64];
        const char *of = memory.of.heaps[i].flags & PROF__VK_HEAP_DEVICE_LOCAL ? "device" : "host";
        snprintf(name, sizeof name, "%s heap %u used (bytes)", of, i);
        prof_device_counter(vk->memory_row, name, ticks, (int64_t)budget.usage[i]);
        snprintf(name, sizeof name, "%s heap %u budget (bytes)", of, i);
        prof_device_counter(vk->memory_row, name, ticks, (int64_t)budget.budget[i]);
    }
}

/* Returns 1 if the device has the extension. Its use needs no function, and is not to be enabled. */
static int prof__vk_has_budget(const prof_vk *vk)
{
    uint32_t count = 0;
    int found = 0;
    if (!vk->call.memory || vk->call.extensions(vk->physical, NULL, &count, NULL) || !count) return 0;
    prof__vk_extension *all = (prof__vk_extension *)calloc(count, sizeof *all);
    if (!all) return 0;
    if (vk->call.extensions(vk->physical, NULL, &count, all) >= 0)
        for (uint32_t i = 0; i < count && !found; ++i) found = prof__equal(all[i].name, "VK_EXT_memory_budget");
    free(all);
    return found;
}

#endif /* PROF__VULKAN_MEMORY_H */
