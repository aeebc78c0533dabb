// vulkan/collect: Once a frame: closes the pool that scopes have used, reads those that the queue is done with, and
// records their scopes. One thread at a time.
#ifndef PROF__VULKAN_COLLECT_H
#define PROF__VULKAN_COLLECT_H
#include "vulkan/clock.h"
#include "vulkan/memory.h"
#include "vulkan/scope.h"
#include "vulkan/state.h"

static int prof__vk_is_of(const prof__vk_pool *pool, uint32_t state)
{
    return state / PROF__VK_STEP == (pool->generation & (~(uint32_t)0 / PROF__VK_STEP));
}

static int prof__vk_any_free(const prof_vk *vk)
{
    uint32_t i = 0;
    while (i < vk->pool_count && PROF__ACQUIRE(&vk->pools[i].state) != PROF__VK_FREE) ++i;
    return i < vk->pool_count;
}

/* Resets the queries of a pool: by the host, or by a submit, of whose end the fence tells, if it is not 0. */
static prof_status prof__vk_reset(prof_vk *vk, prof__vk_pool *pool, prof__vk_handle fence)
{
    if (!pool->reset) {
        vk->call.host_reset(vk->of, pool->queries, 0, 2 * pool->count);
        return PROF_OK;
    }
    int32_t result = fence ? vk->call.reset_fences(vk->of, 1, &fence) : 0;
    return result ? prof__vk_failed(vk, "vkResetFences", result) : prof__vk_submit(vk, &pool->reset, fence);
}

/* Lets a pool rest whose scopes are all recorded or given up. */
static prof_status prof__vk_rest(prof_vk *vk, prof__vk_pool *pool)
{
    prof_status status = prof__vk_reset(vk, pool, pool->fence);
    pool->age = 0;
    if (!status) PROF__RELEASE(&pool->state, (uint32_t)PROF__VK_RESTING);
    return status;
}

/* Returns 1 if a resting pool's queries are reset. */
static int prof__vk_is_reset(const prof_vk *vk, const prof__vk_pool *pool)
{
    return !pool->reset || !vk->call.fence_status(vk->of, pool->fence);
}

static void prof__vk_free_pool(prof__vk_pool *pool)
{
    ++pool->generation;
    PROF__RELEASE(&pool->used, 0u);
    PROF__RELEASE(&pool->state, (uint32_t)PROF__VK_FREE);
}

/* Lets no more scopes take queries of a pool. */
static void prof__vk_close(prof_vk *vk, prof__vk_pool *pool)
{
    uint32_t used = __atomic_exchange_n(&pool->used, PROF__VK_CLOSED, __ATOMIC_ACQ_REL);
    pool->count = used < vk->scopes ? used : vk->scopes;
    pool->age = 0;
    PROF__RELEASE(&pool->state, (uint32_t)PROF__VK_WAITING);
}

/* Lets the pool's fence say when the queue has done what was submitted until now. */
static prof_status prof__vk_arm(prof_vk *vk, prof__vk_pool *pool)
{
    int32_t result = vk->call.reset_fences(vk->of, 1, &pool->fence);
    return result ? prof__vk_failed(vk, "vkResetFences", result) : prof__vk_submit(vk, NULL, pool->fence);
}

static void prof__vk_record(prof_vk *vk, const prof__vk_entry *entry, uint64_t start, uint64_t end)
{
    prof_device_event event;
    memset(&event, 0, sizeof event);
    event.type = PROF_EVENT_SCOPE;
    event.name = entry->name;
    event.start = start;
    event.end = end;
    event.flow = entry->flow;
    prof_device_record(vk->row, &event);
}

/* Sets vk->results to the times of a pool, and whether each is there. */
static prof_status prof__vk_results(prof_vk *vk, const prof__vk_pool *pool)
{
    size_t each = 2 * sizeof *vk->results;
    int32_t result = vk->call.results(vk->of, pool->queries, 0, 2 * pool->count, 2 * pool->count * each, vk->results,
                                      each, PROF__VK_RESULT_64_WITH_AVAILABILITY);
    return result && result != PROF__VK_NOT_READY ? prof__vk_failed(vk, "vkGetQueryPoolResults", result) : PROF_OK;
}

/* Reads all times of a pool, and records the scopes that have both. *missing: how many have not. */
static prof_status prof__vk_read(prof_vk *vk, prof__vk_pool *pool, uint32_t *missing)
{
    const uint64_t *result = vk->results;
    prof_status status = prof__vk_results(vk, pool);
    if (status) return status;
    *missing = 0;
    for (uint32_t i = 0; i < pool->count; ++i, result += 4) {
        prof__vk_entry *entry = &pool->entries[i];
        uint32_t state = PROF__ACQUIRE(&entry->state);
        if (prof__vk_is_of(pool, state) && PROF__VK_PHASE(state) == PROF__VK_DONE) continue;
        if (!prof__vk_is_of(pool, state) || PROF__VK_PHASE(state) != PROF__VK_ENDED || !result[1] || !result[3]) {
            ++*missing;
            continue;
        }
        PROF__STORE(&entry->state, state - PROF__VK_ENDED + PROF__VK_DONE);
        if (((result[2] - result[0]) & vk->mask) > vk->mask / 2) { /* the begin is of a later submit */
            ++vk->info.lost_again;
            continue;
        }
        prof__vk_record(vk, entry, result[0] & vk->mask, result[2] & vk->mask);
        ++vk->info.scopes;
    }
    return PROF_OK;
}

/* Makes a pool free that has rested. If a time was written meanwhile, counts the scopes, and lets it rest again. */
static prof_status prof__vk_wake(prof_vk *vk, prof__vk_pool *pool)
{
    const uint64_t *result = vk->results;
    uint64_t again = 0;
    if (!prof__vk_is_reset(vk, pool)) return PROF_OK;
    prof_status status = prof__vk_results(vk, pool);
    if (status) return status;
    for (uint32_t i = 0; i < pool->count; ++i, result += 4) again += result[1] || result[3];
    vk->info.lost_again += again;
    if (again) return prof__vk_rest(vk, pool);
    prof__vk_free_pool(pool);
    return PROF_OK;
}

/* Makes the pools free that have rested long enough. */
static prof_status prof__vk_wake_all(prof_vk *vk, uint32_t rest)
{
    prof_status status = PROF_OK;
    for (uint32_t i = 0; i < vk->pool_count && !status; ++i) {
        prof__vk_pool *pool = &vk->pools[i];
        if (PROF__ACQUIRE(&pool->state) == PROF__VK_RESTING && pool->age >= rest) status = prof__vk_wake(vk, pool);
    }
    return status;
}

/* Ends the rest of every other pool if none is free. The first one may have what was recorded while the program loaded,
   and is submitted again and again. */
static void prof__vk_free_some(prof_vk *vk)
{
    prof__vk_pool *first = NULL;
    uint32_t rests = 0;
    if (prof__vk_any_free(vk)) return;
    for (uint32_t i = 0; i < vk->pool_count; ++i) {
        prof__vk_pool *pool = &vk->pools[i];
        if (PROF__ACQUIRE(&pool->state) != PROF__VK_RESTING || !prof__vk_is_reset(vk, pool)) continue;
        if (!first) first = pool;
        if (rests++ & 1) prof__vk_free_pool(pool);
    }
    if (rests == 1) prof__vk_free_pool(first);
}

/* Counts the scopes of a pool, just read, that have no times, and will not get any: their command buffers were never
   submitted, or they have no end. Returns 0 if a thread is about to write one of their timestamps. */
static int prof__vk_give_up(prof_vk *vk, prof__vk_pool *pool)
{
    const uint64_t *result = vk->results;
    for (uint32_t i = 0; i < pool->count; ++i, result += 4) {
        prof__vk_entry *entry = &pool->entries[i];
        uint32_t state = PROF__ACQUIRE(&entry->state), phase = PROF__VK_PHASE(state);
        if (!prof__vk_is_of(pool, state) || phase == PROF__VK_ENDING) return 0;
        if (phase == PROF__VK_DONE) continue;
        if (!__atomic_compare_exchange_n(&entry->state, &state, state - phase + PROF__VK_DONE, 0, __ATOMIC_RELAXED,
                                         __ATOMIC_RELAXED))
            return 0;
        ++*(result[1] ? &vk->info.lost_no_end : &vk->info.not_submitted);
    }
    return 1;
}

/* Records the scopes of a pool if the queue is done with it. If scopes are missing, it waits for what is submitted
   next, because a command buffer may be recorded long before it is submitted; but not for ever if no pool is free. */
static prof_status prof__vk_take(prof_vk *vk, prof__vk_pool *pool)
{
    uint32_t missing;
    int32_t done = vk->call.fence_status(vk->of, pool->fence);
    if (done == PROF__VK_NOT_READY) return PROF_OK;
    if (done) return prof__vk_failed(vk, "vkGetFenceStatus", done);
    prof_status status = prof__vk_read(vk, pool, &missing);
    if (status) return status;
    int patient = pool->age++ < PROF__VK_PATIENCE || prof__vk_any_free(vk);
    return missing && (patient || !prof__vk_give_up(vk, pool)) ? prof__vk_arm(vk, pool) : prof__vk_rest(vk, pool);
}

/* Closes the pools that scopes have used. The current one stays open if there is no other. */
static prof_status prof__vk_close_used(prof_vk *vk)
{
    for (uint32_t i = 0; i < vk->pool_count; ++i) {
        prof__vk_pool *pool = &vk->pools[i];
        if (PROF__ACQUIRE(&pool->state) != PROF__VK_OPEN || !PROF__LOAD(&pool->used)) continue;
        if (pool == PROF__LOAD(&vk->current) && !prof__vk_next(vk, pool)) continue;
        prof__vk_close(vk, pool);
        prof_status status = prof__vk_arm(vk, pool);
        if (status) return status;
    }
    return PROF_OK;
}

static void prof__vk_say(prof_vk *vk, const char *format, uint64_t count)
{
    char text[128];
    snprintf(text, sizeof text, format, (unsigned long long)count);
    prof_device_mark(vk->row, text, prof__vk_ticks_now(vk));
}

/* Says on the queue's track, and to the caller, what was lost since it was last said. */
static prof_status prof__vk_say_losses(prof_vk *vk)
{
    uint64_t no_query = PROF__LOAD(&vk->lost_no_query) - vk->said_no_query;
    uint64_t no_end = vk->info.lost_no_end - vk->said_no_end, again = vk->info.lost_again - vk->said_again;
    vk->info.lost_no_query = vk->said_no_query += no_query;
    vk->said_no_end += no_end;
    vk->said_again += again;
    if (again) prof__vk_say(vk, "%llu scopes lost: their commands were submitted again", again);
    if (no_end) prof__vk_say(vk, "%llu scopes lost: prof_vk_end() was not called, or too late", no_end);
    if (no_query) {
        prof__vk_say(vk, "%llu scopes lost: all queries were in use", no_query);
        return prof__fail(PROF_NO_MEMORY,
                          "prof_vk_collect: %llu scopes were lost, because all queries were in use: raise pools or "
                          "scopes of prof_vk_config, or call it more often", (unsigned long long)no_query);
    }
    if (again)
        return prof__fail(PROF_INVALID_STATE,
                          "prof_vk_collect: %llu scopes were lost, because command buffers were submitted again: "
                          "record those with scopes anew for each submit", (unsigned long long)again);
    if (!no_end) return PROF_OK;
    return prof__fail(PROF_INVALID_STATE,
                      "prof_vk_collect: %llu scopes were lost, because prof_vk_end() was not called, or too late",
                      (unsigned long long)no_end);
}

/* Counts, once, the scopes that have no times because the device is lost. */
static void prof__vk_lose_device(prof_vk *vk)
{
    uint64_t lost = 0;
    if (vk->info.device_lost) return;
    vk->info.device_lost = 1;
    for (uint32_t i = 0; i < vk->pool_count; ++i) {
        prof__vk_pool *pool = &vk->pools[i];
        if (PROF__ACQUIRE(&pool->state) == PROF__VK_RESTING) continue;
        if (PROF__ACQUIRE(&pool->state) != PROF__VK_WAITING) prof__vk_close(vk, pool);
        for (uint32_t at = 0; at < pool->count; ++at) {
            uint32_t state = PROF__ACQUIRE(&pool->entries[at].state);
            lost += !prof__vk_is_of(pool, state) || PROF__VK_PHASE(state) != PROF__VK_DONE;
        }
    }
    vk->info.lost_device = lost;
    prof__vk_say(vk, "the device was lost, and with it the times of %llu scopes", lost);
}

static prof_status prof__vk_collect(prof_vk *vk)
{
    prof_status status = PROF_OK;
    int later = vk->reads_wait && prof__vk_any_free(vk);
    for (uint32_t i = 0; i < vk->pool_count; ++i)
        if (PROF__ACQUIRE(&vk->pools[i].state) == PROF__VK_RESTING) ++vk->pools[i].age;
    if (!later) status = prof__vk_wake_all(vk, PROF__VK_REST);
    for (uint32_t i = 0; i < vk->pool_count && !status && !later; ++i) {
        if (PROF__ACQUIRE(&vk->pools[i].state) == PROF__VK_WAITING) status = prof__vk_take(vk, &vk->pools[i]);
    }
    prof__vk_free_some(vk);
    if (!status) status = prof__vk_close_used(vk);
    if (!status && vk->domain >= 0 && prof_host_ns() - vk->moment.ns > PROF__VK_PAIR_NS) status = prof_vk_calibrate(vk);
    if (!status) prof__vk_look_at_memory(vk);
    return status;
}

PROF_DEF prof_status prof_vk_collect(prof_vk *vk)
{
    if (!vk) return prof__null("prof_vk_collect", "vk");
    prof_status status = PROF__LOAD(&vk->device_lost)
                             ? prof__vk_failed(vk, "prof_vk_collect", PROF__VK_DEVICE_LOST)
                             : prof__vk_collect(vk);
    if (!PROF__LOAD(&vk->device_lost)) return status ? status : prof__vk_say_losses(vk);
    prof__vk_lose_device(vk);
    return status;
}

PROF_DEF prof_status prof_vk_get_info(const prof_vk *vk, prof_vk_info *info)
{
    if (!vk || !info) return prof__null("prof_vk_get_info", "vk or info");
    *info = vk->info;
    info->lost_no_query = PROF__LOAD(&vk->lost_no_query);
    info->device_lost = PROF__LOAD(&vk->device_lost) != 0;
    return PROF_OK;
}

#endif /* PROF__VULKAN_COLLECT_H */
