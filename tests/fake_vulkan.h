/* fake_vulkan.h - a Vulkan without a driver: command buffers that only know queries, queues that work when they are
   told to, and a device's clock that runs as it likes. It counts what validation layers would complain of (fake.wrong),
   and what was made and not destroyed (fake.alive). Include it after the implementation of prof_vulkan.h. */
#ifndef FAKE_VULKAN_H
#define FAKE_VULKAN_H
#include <pthread.h>

enum { FAKE_POOLS = 300, FAKE_OPS = 256, FAKE_SUBMITS = 8192, FAKE_LOST_NEVER = 1 << 30 };

typedef struct fake_query {
    int state; /* 0: not reset, 1: reset, 2: has a time */
    uint64_t ticks, host_ns;
} fake_query;

typedef struct fake_pool {
    uint32_t count;
    fake_query *queries;
} fake_pool;

typedef struct fake_op {
    fake_pool *pool;
    uint32_t query, resets; /* resets 0: writes the time */
    struct VkCommandBuffer_T *secondary;
} fake_op;

struct VkCommandBuffer_T {
    uint32_t count, pending;
    fake_op ops[FAKE_OPS];
};

typedef struct fake_fence {
    int signalled, pending;
} fake_fence;

struct VkQueue_T { /* what is submitted and not done, in order */
    uint32_t first, last;
    struct {
        struct VkCommandBuffer_T *commands;
        fake_fence *fence;
    } submits[FAKE_SUBMITS];
};

static struct fake {
    char name[32]; /* of the device: each test has another one, as their clocks do not agree */
    int wrong, alive;
    int at_once;               /* commands take no time */
    unsigned bits;             /* of times */
    int32_t type;              /* of the device */
    float period;              /* ns of a tick */
    double drift;              /* the device's clock is faster by this part */
    uint64_t origin_ns, start; /* the clock shows start at origin_ns */
    int32_t domain;            /* of the host: 1, 2, 0: none */
    const char *missing;       /* a function that does not exist */
    int has_budget, eager;     /* eager: queues do at once what is submitted */
    uint32_t queue_flags;
    int calls, fails_at;       /* from this call on they return `result` */
    int32_t result;
    uint64_t heap_used;
    int driver_labels, writes;
    struct VkCommandBuffer_T *buffers[FAKE_POOLS];
    int buffer_count;
    pthread_mutex_t lock;
} fake;

static void fake_check(int wrong) /* also in threads that record */
{
    if (wrong) __atomic_fetch_add(&fake.wrong, 1, __ATOMIC_RELAXED);
}
static int32_t fake_call(void) { return ++fake.calls >= fake.fails_at ? fake.result : 0; }

/* Pools and fences have handles that are pointers, or numbers where pointers have 32 bits. */
#define FAKE_FROM(type, handle) ((type *)(uintptr_t)(handle))
#define FAKE_TO(pointer) ((prof__vk_handle)(uintptr_t)(pointer))

static uint64_t fake_ticks(uint64_t host_ns)
{
    double ns = (double)(host_ns - fake.origin_ns) * (1 + fake.drift);
    return (fake.start + (uint64_t)(ns / (double)fake.period)) & (~(uint64_t)0 >> (64 - fake.bits));
}

static void fake_execute(struct VkCommandBuffer_T *commands)
{
    for (uint32_t i = 0; i < commands->count; ++i) {
        const fake_op *op = &commands->ops[i];
        if (op->secondary) {
            fake_execute(op->secondary);
        } else if (op->resets) {
            for (uint32_t at = 0; at < op->resets; ++at) op->pool->queries[op->query + at].state = 1;
        } else {
            fake_query *query = &op->pool->queries[op->query];
            fake.wrong += query->state != 1;
            query->state = 2;
            query->host_ns = prof_host_ns();
            query->ticks = fake_ticks(query->host_ns);
            if (!fake.at_once) pause_us(1);
        }
    }
}

/* Lets a queue do some of what is submitted. */
static void fake_run(struct VkQueue_T *queue, uint32_t submits)
{
    for (; submits && queue->first != queue->last; --submits) {
        uint32_t at = queue->first++ % FAKE_SUBMITS;
        struct VkCommandBuffer_T *commands = queue->submits[at].commands;
        if (commands) {
            fake_execute(commands);
            --commands->pending;
        }
        if (queue->submits[at].fence) {
            queue->submits[at].fence->signalled = 1;
            queue->submits[at].fence->pending = 0;
        }
    }
}

static int fake_idle(const struct VkQueue_T *queue) { return queue->first == queue->last; }

static void fake_properties(struct VkPhysicalDevice_T *device, prof__vk_properties *properties)
{
    (void)device;
    memset(properties, 0, sizeof *properties);
    strcpy(properties->name, fake.name);
    properties->device_type = fake.type;
    properties->limits.timestamp_period = fake.period;
}
static void fake_families(struct VkPhysicalDevice_T *device, uint32_t *count, prof__vk_family *families)
{
    (void)device;
    if (families) {
        memset(families, 0, 3 * sizeof *families);
        families[0].flags = fake.queue_flags;
        families[0].timestamp_bits = fake.bits;
        families[1].timestamp_bits = 64; /* wider than those of the first */
        families[1].flags = 4;           /* transfers only */
    }
    *count = 3; /* the third has no timestamps */
}
static int32_t fake_extensions(struct VkPhysicalDevice_T *device, const char *layer, uint32_t *count,
                               prof__vk_extension *all)
{
    (void)device;
    (void)layer;
    if (all) {
        memset(all, 0, 2 * sizeof *all);
        strcpy(all[0].name, "VK_KHR_swapchain");
        strcpy(all[1].name, fake.has_budget ? "VK_EXT_memory_budget" : "VK_KHR_maintenance1");
    }
    *count = 2;
    return 0;
}
static int32_t fake_make_pool(struct VkDevice_T *device, const prof__vk_query_pool_info *info, const void *allocator,
                              prof__vk_handle *made)
{
    (void)device;
    (void)allocator;
    if (fake_call()) return fake.result;
    fake_pool *pool = (fake_pool *)calloc(1, sizeof *pool);
    pool->count = info->count;
    pool->queries = (fake_query *)calloc(info->count, sizeof *pool->queries);
    fake.wrong += info->type != 11 || info->query_type != 2;
    ++fake.alive;
    *made = FAKE_TO(pool);
    return 0;
}
static void fake_free_pool(struct VkDevice_T *device, prof__vk_handle handle, const void *allocator)
{
    (void)device;
    (void)allocator;
    free(FAKE_FROM(fake_pool, handle)->queries);
    free(FAKE_FROM(fake_pool, handle));
    --fake.alive;
}
static int32_t fake_results(struct VkDevice_T *device, prof__vk_handle handle, uint32_t first, uint32_t count,
                            size_t size, void *data, uint64_t stride, uint32_t flags)
{
    const fake_pool *pool = FAKE_FROM(fake_pool, handle);
    uint64_t *to = (uint64_t *)data;
    int32_t result = 0;
    (void)device;
    if (fake_call()) return fake.result;
    fake.wrong += flags != 5 || first + count > pool->count || size < count * stride;
    for (uint32_t i = 0; i < count; ++i, to += stride / sizeof *to) {
        const fake_query *query = &pool->queries[first + i];
        fake.wrong += query->state == 0;
        to[1] = query->state == 2;
        if (query->state == 2) to[0] = query->ticks | ~(~(uint64_t)0 >> (64 - fake.bits)); /* the rest is anything */
        else result = 1;
    }
    return result;
}
static void fake_host_reset(struct VkDevice_T *device, prof__vk_handle handle, uint32_t first, uint32_t count)
{
    fake_pool *pool = FAKE_FROM(fake_pool, handle);
    (void)device;
    fake.wrong += first + count > pool->count;
    for (uint32_t i = 0; i < count; ++i) pool->queries[first + i].state = 1;
}
static fake_op *fake_add(struct VkCommandBuffer_T *commands)
{
    static fake_op spare;
    fake_check(commands->count >= FAKE_OPS || commands->pending);
    if (commands->count >= FAKE_OPS) return &spare;
    memset(&commands->ops[commands->count], 0, sizeof commands->ops[0]);
    return &commands->ops[commands->count++];
}
static void fake_write(struct VkCommandBuffer_T *commands, uint32_t stage, prof__vk_handle pool, uint32_t query)
{
    fake_op *op = fake_add(commands);
    fake_check(stage != 0x2000);
    __atomic_fetch_add(&fake.writes, 1, __ATOMIC_RELAXED);
    op->pool = FAKE_FROM(fake_pool, pool);
    op->query = query;
}
static void fake_cmd_reset(struct VkCommandBuffer_T *commands, prof__vk_handle pool, uint32_t first, uint32_t count)
{
    fake_op *op = fake_add(commands);
    op->pool = FAKE_FROM(fake_pool, pool);
    op->query = first;
    op->resets = count;
}
static int32_t fake_make_fence(struct VkDevice_T *device, const prof__vk_fence_info *info, const void *allocator,
                               prof__vk_handle *made)
{
    (void)device;
    (void)allocator;
    if (fake_call()) return fake.result;
    fake.wrong += info->type != 8 || info->flags != 0;
    ++fake.alive;
    *made = FAKE_TO(calloc(1, sizeof(fake_fence)));
    return 0;
}
static void fake_free_fence(struct VkDevice_T *device, prof__vk_handle fence, const void *allocator)
{
    (void)device;
    (void)allocator;
    fake.wrong += FAKE_FROM(fake_fence, fence)->pending;
    free(FAKE_FROM(fake_fence, fence));
    --fake.alive;
}
static int32_t fake_fence_status(struct VkDevice_T *device, prof__vk_handle fence)
{
    (void)device;
    if (fake_call()) return fake.result;
    return FAKE_FROM(fake_fence, fence)->signalled ? 0 : 1;
}
static int32_t fake_reset_fences(struct VkDevice_T *device, uint32_t count, const prof__vk_handle *fences)
{
    (void)device;
    if (fake_call()) return fake.result;
    for (uint32_t i = 0; i < count; ++i) {
        fake.wrong += FAKE_FROM(fake_fence, fences[i])->pending;
        FAKE_FROM(fake_fence, fences[i])->signalled = 0;
    }
    return 0;
}
static void fake_put(struct VkQueue_T *queue, struct VkCommandBuffer_T *commands, fake_fence *fence)
{
    uint32_t at = queue->last++ % FAKE_SUBMITS;
    fake.wrong += queue->last - queue->first > FAKE_SUBMITS;
    if (commands) fake.wrong += commands->pending++ != 0;
    if (fence) fence->pending = 1;
    queue->submits[at].commands = commands;
    queue->submits[at].fence = fence;
}
static int32_t fake_submit(struct VkQueue_T *queue, uint32_t count, const prof__vk_submit_info *infos,
                           prof__vk_handle handle)
{
    fake_fence *fence = FAKE_FROM(fake_fence, handle);
    if (fake_call()) return fake.result;
    fake.wrong += count > 1 || (count && infos->buffer_count != 1) || (fence && (fence->signalled || fence->pending));
    fake_put(queue, count ? infos->buffers[0] : NULL, fence);
    if (fake.eager) fake_run(queue, ~0u);
    return 0;
}
static int32_t fake_wait(struct VkDevice_T *device, uint32_t count, const prof__vk_handle *fences, uint32_t all,
                         uint64_t timeout)
{
    (void)device;
    (void)all;
    (void)timeout;
    if (fake_call()) return fake.result;
    for (uint32_t i = 0; i < count; ++i) {
        if (!FAKE_FROM(fake_fence, fences[i])->signalled) return 2;
    }
    return 0;
}
static int32_t fake_wait_idle(struct VkQueue_T *queue)
{
    fake_run(queue, ~0u);
    return 0;
}
static int32_t fake_make_commands(struct VkDevice_T *device, const prof__vk_command_pool_info *info,
                                  const void *allocator, prof__vk_handle *made)
{
    (void)device;
    (void)info;
    (void)allocator;
    if (fake_call()) return fake.result;
    ++fake.alive;
    *made = FAKE_TO(calloc(1, 1));
    return 0;
}
static void fake_free_commands(struct VkDevice_T *device, prof__vk_handle pool, const void *allocator)
{
    (void)device;
    (void)allocator;
    free(FAKE_FROM(void, pool));
    --fake.alive;
    while (fake.buffer_count) { /* of prof alone: tests have theirs in variables */
        fake.wrong += fake.buffers[--fake.buffer_count]->pending != 0;
        free(fake.buffers[fake.buffer_count]);
    }
}
static int32_t fake_make_buffers(struct VkDevice_T *device, const prof__vk_command_buffer_info *info,
                                 struct VkCommandBuffer_T **made)
{
    (void)device;
    if (fake_call()) return fake.result;
    fake.wrong += info->count != 1 || fake.buffer_count >= FAKE_POOLS;
    *made = fake.buffers[fake.buffer_count++] = (struct VkCommandBuffer_T *)calloc(1, sizeof **made);
    return 0;
}
static int32_t fake_begin(struct VkCommandBuffer_T *commands, const prof__vk_begin_info *info)
{
    (void)info;
    if (fake_call()) return fake.result;
    fake.wrong += commands->pending != 0;
    commands->count = 0;
    return 0;
}
static int32_t fake_end(struct VkCommandBuffer_T *commands)
{
    (void)commands;
    return fake_call();
}
static int32_t fake_domains(struct VkPhysicalDevice_T *device, uint32_t *count, int32_t *domains)
{
    (void)device;
    domains[0] = 0;
    domains[1] = fake.domain;
    *count = fake.domain ? 2 : 1;
    return 0;
}
static int32_t fake_calibrated(struct VkDevice_T *device, uint32_t count, const prof__vk_calibrated_info *infos,
                               uint64_t *ticks, uint64_t *deviation)
{
    (void)device;
    if (fake_call()) return fake.result;
    for (uint32_t i = 0; i < count; ++i) {
        uint64_t now = prof_host_ns();
        fake.wrong += infos[i].type != 1000184000;
        ticks[i] = now;
        if (!infos[i].domain) ticks[i] = fake_ticks(now);
#ifdef CLOCK_MONOTONIC_RAW
        if (infos[i].domain == 2) {
            struct timespec raw;
            clock_gettime(CLOCK_MONOTONIC_RAW, &raw);
            ticks[i] = (uint64_t)raw.tv_sec * 1000000000u + (uint64_t)raw.tv_nsec;
        }
#endif
    }
    *deviation = 100;
    return 0;
}
static void fake_memory(struct VkPhysicalDevice_T *device, prof__vk_memory *memory)
{
    prof__vk_budget *budget = (prof__vk_budget *)memory->next;
    (void)device;
    memory->of.heap_count = 2;
    memory->of.heaps[0].flags = 1;
    budget->usage[0] = fake.heap_used;
    budget->budget[0] = 1 << 30;
    budget->usage[1] = 5;
    budget->budget[1] = 6;
}
static void fake_begin_label(struct VkCommandBuffer_T *commands, const struct VkDebugUtilsLabelEXT *label)
{
    (void)commands;
    (void)label;
    ++fake.driver_labels;
}
static void fake_end_label(struct VkCommandBuffer_T *commands)
{
    (void)commands;
    --fake.driver_labels;
}

static prof_vk_function fake_function(const char *name)
{
#define FAKE_NAMED(text, function) \
    if (!strcmp(name, text)) return (prof_vk_function)function;
#define FAKE_FUNCTION(field, text, result, parameters) FAKE_NAMED(text, fake_##field)
#define FAKE_EXTENSION(field, text, result, parameters) FAKE_NAMED(text "EXT", fake_##field)
    if (fake.missing && !strncmp(name, fake.missing, strlen(fake.missing))) return NULL;
    PROF__VK_OF_INSTANCE(FAKE_FUNCTION)
    PROF__VK_OF_DEVICE(FAKE_FUNCTION)
    if (!strcmp(name, "vkGetCalibratedTimestamps") || !strcmp(name, "vkGetPhysicalDeviceCalibrateableTimeDomains"))
        return NULL; /* only as an extension */
    PROF__VK_OPTIONAL(FAKE_FUNCTION)
    PROF__VK_OPTIONAL(FAKE_EXTENSION)
    return NULL;
}
static prof_vk_function fake_device_function(struct VkDevice_T *device, const char *name)
{
    (void)device;
    return fake_function(name);
}
static prof_vk_function fake_instance_function(struct VkInstance_T *instance, const char *name)
{
    (void)instance;
    FAKE_NAMED("vkGetDeviceProcAddr", fake_device_function)
    return fake_function(name);
}

/* A device with two queues, as good as they come. */
static void fake_new(void)
{
    static int number;
    memset(&fake, 0, sizeof fake);
    snprintf(fake.name, sizeof fake.name, "GPU %d", ++number);
    fake.bits = 64;
    fake.period = 1;
    fake.origin_ns = prof_host_ns();
    fake.start = 1000000000000u;
    fake.domain = 1;
    fake.queue_flags = 7;
    fake.fails_at = FAKE_LOST_NEVER;
    fake.result = -4;
}
static prof_vk_config fake_config(struct VkQueue_T *queue)
{
    prof_vk_config config;
    memset(&config, 0, sizeof config);
    memset(queue, 0, sizeof *queue);
    config.instance = (struct VkInstance_T *)&fake;
    config.physical_device = (struct VkPhysicalDevice_T *)&fake;
    config.device = (struct VkDevice_T *)&fake;
    config.queue = queue;
    config.get_instance_proc_addr = fake_instance_function;
    config.host_query_reset = 1;
    return config;
}

#endif /* FAKE_VULKAN_H */
