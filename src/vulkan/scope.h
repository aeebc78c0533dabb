// vulkan/scope: Takes queries for a scope, and writes its two timestamps into the command buffer. Any number of threads
// do so at once, without a lock; the collecting thread closes pools and frees them meanwhile.
#ifndef PROF__VULKAN_SCOPE_H
#define PROF__VULKAN_SCOPE_H
#include "vulkan/state.h"

/* Makes a free pool the current one instead of this one. Returns 0 if none is free. */
static PROF__COLD int prof__vk_next(prof_vk *vk, prof__vk_pool *full)
{
    for (uint32_t i = 0; i < vk->pool_count; ++i) {
        prof__vk_pool *pool = &vk->pools[i];
        uint32_t state = PROF__VK_FREE;
        if (PROF__LOAD(&pool->state) != PROF__VK_FREE ||
            !__atomic_compare_exchange_n(&pool->state, &state, PROF__VK_OPEN, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
            continue;
        prof__vk_pool *was = full;
        if (!__atomic_compare_exchange_n(&vk->current, &was, pool, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
            PROF__RELEASE(&pool->state, (uint32_t)PROF__VK_FREE); /* another thread was faster */
        return 1;
    }
    return PROF__LOAD(&vk->current) != full;
}

/* A scope as prof_vk_end() takes it: its state when it begins, its pool, its number there. */
static inline uint64_t prof__vk_scope_make(const prof_vk *vk, const prof__vk_pool *pool, uint32_t number)
{
    return (uint64_t)(pool->generation * PROF__VK_STEP + PROF__VK_BEGUN) << 32 | (uint64_t)(pool - vk->pools) << 24 |
           number;
}
static inline prof__vk_pool *prof__vk_scope_pool(const prof_vk *vk, uint64_t scope)
{
    return &vk->pools[scope >> 24 & 0xff];
}
static inline uint32_t prof__vk_scope_number(uint64_t scope) { return (uint32_t)scope & 0xffffff; }

static uint64_t prof__vk_begin(prof_vk *vk, struct VkCommandBuffer_T *commands, const char *name, int copies)
{
    for (int tries = 0; tries < 8; ++tries) {
        prof__vk_pool *pool = PROF__ACQUIRE(&vk->current);
        uint32_t number = __atomic_fetch_add(&pool->used, 1u, __ATOMIC_ACQ_REL);
        if (PROF__UNLIKELY(number >= vk->scopes)) { /* full, or closed */
            if (PROF__LOAD(&vk->current) == pool && !prof__vk_next(vk, pool)) break;
            continue;
        }
        uint64_t scope = prof__vk_scope_make(vk, pool, number);
        prof__vk_entry *entry = &pool->entries[number];
        if (copies) {
            char *text = pool->texts + (size_t)number * PROF__VK_TEXT;
            prof__text_copy(text, PROF__VK_TEXT, name);
            name = text;
        }
        entry->name = name;
        entry->flow = vk->no_arrows ? 0 : prof_flow_new();
        if (entry->flow) PROFILE_FLOW_OUT(entry->flow);
        PROF__RELEASE(&entry->state, (uint32_t)(scope >> 32));
        vk->call.write(commands, PROF__VK_BOTTOM_OF_PIPE, pool->queries, 2 * number);
        return scope;
    }
    PROF__ADD(&vk->lost_no_query, 1u);
    return 0;
}

static inline int prof__vk_records(const prof_vk *vk)
{
    return vk && prof__device_live(vk->device) && !PROF__LOAD(&vk->device_lost);
}

PROF_DEF uint64_t prof_vk_begin(prof_vk *vk, struct VkCommandBuffer_T *commands, const char *name)
{
    return prof__vk_records(vk) ? prof__vk_begin(vk, commands, name ? name : "", 0) : 0;
}

PROF_DEF uint64_t prof_vk_begin_text(prof_vk *vk, struct VkCommandBuffer_T *commands, const char *text)
{
    return prof__vk_records(vk) ? prof__vk_begin(vk, commands, text ? text : "", 1) : 0;
}

/* The state says whether the pool still waits for this end: after a long time its queries may be others'. While it is
   PROF__VK_ENDING, the collecting thread leaves the queries alone. */
PROF_DEF void prof_vk_end(prof_vk *vk, struct VkCommandBuffer_T *commands, uint64_t scope)
{
    if (!vk || !scope) return;
    prof__vk_pool *pool = prof__vk_scope_pool(vk, scope);
    uint32_t number = prof__vk_scope_number(scope), begun = (uint32_t)(scope >> 32), state = begun;
    prof__vk_entry *entry = &pool->entries[number];
    if (!__atomic_compare_exchange_n(&entry->state, &state, begun - PROF__VK_BEGUN + PROF__VK_ENDING, 0,
                                     __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
        return;
    vk->call.write(commands, PROF__VK_BOTTOM_OF_PIPE, pool->queries, 2 * number + 1);
    PROF__RELEASE(&entry->state, begun - PROF__VK_BEGUN + PROF__VK_ENDED);
}

#endif /* PROF__VULKAN_SCOPE_H */
