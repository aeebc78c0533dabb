// vulkan/abi: What of Vulkan's binary interface is used. tests/test_vulkan.c compares it with Vulkan's own headers.
#ifndef PROF__VULKAN_ABI_H
#define PROF__VULKAN_ABI_H
#include "vulkan/api.h"

enum {
    PROF__VK_SUCCESS = 0,
    PROF__VK_NOT_READY = 1,
    PROF__VK_INCOMPLETE = 5,
    PROF__VK_DEVICE_LOST = -4,
    PROF__VK_SUBMIT_INFO = 4,
    PROF__VK_FENCE_INFO = 8,
    PROF__VK_QUERY_POOL_INFO = 11,
    PROF__VK_COMMAND_POOL_INFO = 39,
    PROF__VK_COMMAND_BUFFER_INFO = 40,
    PROF__VK_COMMAND_BUFFER_BEGIN_INFO = 42,
    PROF__VK_MEMORY_PROPERTIES_2 = 1000059006,
    PROF__VK_CALIBRATED_INFO = 1000184000,
    PROF__VK_MEMORY_BUDGET = 1000237000,
    PROF__VK_QUERY_TIMESTAMP = 2,
    PROF__VK_QUEUE_GRAPHICS_OR_COMPUTE = 3,
    PROF__VK_POOL_RESETS_BUFFERS = 2,
    PROF__VK_BOTTOM_OF_PIPE = 0x2000,
    PROF__VK_RESULT_64_WITH_AVAILABILITY = 1 | 4,
    PROF__VK_HEAP_DEVICE_LOCAL = 1,
    PROF__VK_TYPE_CPU = 4,
    PROF__VK_DOMAIN_DEVICE = 0,
    PROF__VK_DOMAIN_MONOTONIC = 1,
    PROF__VK_DOMAIN_MONOTONIC_RAW = 2,
    PROF__VK_DOMAIN_QPC = 3
};

/* A handle that is not dispatchable is a pointer where pointers have 64 bits, else a number. */
#if UINTPTR_MAX > 0xffffffffu
typedef void *prof__vk_handle;
#else
typedef uint64_t prof__vk_handle;
#endif

typedef struct prof__vk_properties { /* VkPhysicalDeviceProperties, most of whose limits are of no interest */
    uint32_t versions_and_ids[4];
    int32_t device_type;
    char name[256];
    uint8_t cache_uuid[16];
    struct {
        uint32_t images[11];
        uint64_t granularity[2];
        uint32_t stages[59];
        size_t map_alignment;
        uint64_t offset_alignments[3];
        uint32_t texels[22];
        float timestamp_period;
        uint32_t lines[12];
        uint64_t copies[3];
    } limits;
    uint32_t sparse[5];
} prof__vk_properties;

typedef struct prof__vk_family { /* VkQueueFamilyProperties */
    uint32_t flags, count, timestamp_bits, granularity[3];
} prof__vk_family;

typedef struct prof__vk_extension { /* VkExtensionProperties */
    char name[256];
    uint32_t version;
} prof__vk_extension;

typedef struct prof__vk_query_pool_info {
    int32_t type;
    const void *next;
    uint32_t flags;
    int32_t query_type;
    uint32_t count, statistics;
} prof__vk_query_pool_info;

typedef struct prof__vk_fence_info {
    int32_t type;
    const void *next;
    uint32_t flags;
} prof__vk_fence_info;

typedef struct prof__vk_command_pool_info {
    int32_t type;
    const void *next;
    uint32_t flags, family;
} prof__vk_command_pool_info;

typedef struct prof__vk_command_buffer_info {
    int32_t type;
    const void *next;
    prof__vk_handle pool;
    int32_t level;
    uint32_t count;
} prof__vk_command_buffer_info;

typedef struct prof__vk_begin_info {
    int32_t type;
    const void *next;
    uint32_t flags;
    const void *inheritance;
} prof__vk_begin_info;

typedef struct prof__vk_submit_info {
    int32_t type;
    const void *next;
    uint32_t wait_count;
    const void *waits, *wait_stages;
    uint32_t buffer_count;
    struct VkCommandBuffer_T *const *buffers;
    uint32_t signal_count;
    const void *signals;
} prof__vk_submit_info;

typedef struct prof__vk_calibrated_info {
    int32_t type;
    const void *next;
    int32_t domain;
} prof__vk_calibrated_info;

typedef struct prof__vk_budget { /* VkPhysicalDeviceMemoryBudgetPropertiesEXT */
    int32_t type;
    void *next;
    uint64_t budget[16], usage[16];
} prof__vk_budget;

typedef struct prof__vk_memory { /* VkPhysicalDeviceMemoryProperties2 */
    int32_t type;
    void *next;
    struct {
        uint32_t type_count, types[32][2], heap_count;
        struct {
            uint64_t size;
            uint32_t flags;
        } heaps[16];
    } of;
} prof__vk_memory;

typedef struct prof__vk_label { /* VkDebugUtilsLabelEXT */
    int32_t type;
    const void *next;
    const char *name;
    float color[4];
} prof__vk_label;

/* The functions of Vulkan that are called: FUNCTION(field, name, result, parameters). Those of the last list may be
   missing, and some of them are functions of extensions, whose names end with KHR or EXT. */
#define PROF__VK_OF_INSTANCE(FUNCTION) \
    FUNCTION(properties, "vkGetPhysicalDeviceProperties", void, (struct VkPhysicalDevice_T *, prof__vk_properties *)) \
    FUNCTION(families, "vkGetPhysicalDeviceQueueFamilyProperties", void, \
             (struct VkPhysicalDevice_T *, uint32_t *, prof__vk_family *)) \
    FUNCTION(extensions, "vkEnumerateDeviceExtensionProperties", int32_t, \
             (struct VkPhysicalDevice_T *, const char *, uint32_t *, prof__vk_extension *))
#define PROF__VK_OF_DEVICE(FUNCTION) \
    FUNCTION(make_pool, "vkCreateQueryPool", int32_t, \
             (struct VkDevice_T *, const prof__vk_query_pool_info *, const void *, prof__vk_handle *)) \
    FUNCTION(free_pool, "vkDestroyQueryPool", void, (struct VkDevice_T *, prof__vk_handle, const void *)) \
    FUNCTION(results, "vkGetQueryPoolResults", int32_t, \
             (struct VkDevice_T *, prof__vk_handle, uint32_t, uint32_t, size_t, void *, uint64_t, uint32_t)) \
    FUNCTION(write, "vkCmdWriteTimestamp", void, (struct VkCommandBuffer_T *, uint32_t, prof__vk_handle, uint32_t)) \
    FUNCTION(make_fence, "vkCreateFence", int32_t, \
             (struct VkDevice_T *, const prof__vk_fence_info *, const void *, prof__vk_handle *)) \
    FUNCTION(free_fence, "vkDestroyFence", void, (struct VkDevice_T *, prof__vk_handle, const void *)) \
    FUNCTION(fence_status, "vkGetFenceStatus", int32_t, (struct VkDevice_T *, prof__vk_handle)) \
    FUNCTION(reset_fences, "vkResetFences", int32_t, (struct VkDevice_T *, uint32_t, const prof__vk_handle *)) \
    FUNCTION(wait, "vkWaitForFences", int32_t, \
             (struct VkDevice_T *, uint32_t, const prof__vk_handle *, uint32_t, uint64_t)) \
    FUNCTION(submit, "vkQueueSubmit", int32_t, \
             (struct VkQueue_T *, uint32_t, const prof__vk_submit_info *, prof__vk_handle)) \
    FUNCTION(wait_idle, "vkQueueWaitIdle", int32_t, (struct VkQueue_T *)) \
    FUNCTION(make_commands, "vkCreateCommandPool", int32_t, \
             (struct VkDevice_T *, const prof__vk_command_pool_info *, const void *, prof__vk_handle *)) \
    FUNCTION(free_commands, "vkDestroyCommandPool", void, (struct VkDevice_T *, prof__vk_handle, const void *)) \
    FUNCTION(make_buffers, "vkAllocateCommandBuffers", int32_t, \
             (struct VkDevice_T *, const prof__vk_command_buffer_info *, struct VkCommandBuffer_T **)) \
    FUNCTION(begin, "vkBeginCommandBuffer", int32_t, (struct VkCommandBuffer_T *, const prof__vk_begin_info *)) \
    FUNCTION(end, "vkEndCommandBuffer", int32_t, (struct VkCommandBuffer_T *)) \
    FUNCTION(cmd_reset, "vkCmdResetQueryPool", void, \
             (struct VkCommandBuffer_T *, prof__vk_handle, uint32_t, uint32_t))
#define PROF__VK_OPTIONAL(FUNCTION) \
    FUNCTION(host_reset, "vkResetQueryPool", void, (struct VkDevice_T *, prof__vk_handle, uint32_t, uint32_t)) \
    FUNCTION(calibrated, "vkGetCalibratedTimestamps", int32_t, \
             (struct VkDevice_T *, uint32_t, const prof__vk_calibrated_info *, uint64_t *, uint64_t *)) \
    FUNCTION(domains, "vkGetPhysicalDeviceCalibrateableTimeDomains", int32_t, \
             (struct VkPhysicalDevice_T *, uint32_t *, int32_t *)) \
    FUNCTION(memory, "vkGetPhysicalDeviceMemoryProperties2", void, (struct VkPhysicalDevice_T *, prof__vk_memory *))

typedef struct prof__vk_functions {
#define PROF__VK_POINTER(field, name, result, parameters) result(PROF__VK_CALL *field) parameters;
    PROF__VK_OF_INSTANCE(PROF__VK_POINTER)
    PROF__VK_OF_DEVICE(PROF__VK_POINTER)
    PROF__VK_OPTIONAL(PROF__VK_POINTER)
#undef PROF__VK_POINTER
} prof__vk_functions;

#endif /* PROF__VULKAN_ABI_H */
