/* prof_vulkan.h - what a GPU does for a Vulkan program, on the time line of its threads - public domain or MIT-0; needs
                   assembled from src/: change it there, see CONTRIBUTING.md
                   prof.h and libc, no header of Vulkan, and nothing to link; the licence is at the end of this file

QUICK START

    #define PROF_IMPLEMENTATION            // in exactly one file of the program, C or C++
    #include "prof_vulkan.h"               // includes prof.h

    prof_vk_config config = {0};           // one for each queue; in C++ = {}
    config.instance = instance;            // VkInstance, VkPhysicalDevice, VkDevice, VkQueue
    config.physical_device = physical_device;
    config.device = device;
    config.queue = queue;
    config.queue_family = family;
    config.get_instance_proc_addr = vkGetInstanceProcAddr;
    config.host_query_reset = 1;           // if the feature hostQueryReset is enabled
    prof_vk *vk = prof_vk_create(&config); // NULL: prof_error() says why; macros do nothing with it

    vkBeginCommandBuffer(commands, &begin);
    {
        PROFILE_VK_SCOPE(vk, commands, "shadow pass");
        ...
    }
    vkQueueSubmit(queue, 1, &submit, fence);
    prof_vk_collect(vk);                   // once a frame
    ...
    vkQueueWaitIdle(queue);
    prof_vk_destroy(vk);                   // before prof_stop(), so that the last frames are in the recording

WHAT IT RECORDS

    Each device of Vulkan is a device of prof, and each queue a track of it: see >>devices in prof.h. A scope is two
    vkCmdWriteTimestamp() at the bottom of the pipe: it begins when the commands before it are done, and ends when its
    own are. So scopes of a queue nest, and do not overlap where the GPU overlaps their work; the sum of a frame's
    scopes is the frame. Put scopes around passes: a driver may give marks inside a render pass the times of the pass
    (tile-based GPUs and Mesa's llvmpipe do). In a render pass with several views a timestamp takes a query for each
    view: put the scope around the pass there.

    The category of the scopes is the device's name, for prof_category_enable(). They are recorded while a session runs,
    at every level; otherwise a scope writes no timestamps.

    An arrow leads from the thread's scope in which the commands of a scope were recorded to where the queue did them.
    config.no_arrows = 1 leaves them out.

    config.memory_budget = 1 adds counters of each heap of memory, ten times a second: what this process uses, and its
    budget (VK_EXT_memory_budget). prof_vk_wrap_labels() makes scopes of an engine's debug labels.

COMMAND BUFFERS

    The two timestamps may be in different command buffers of a queue, primary or secondary. Queries are reset between
    frames by the host or by a submit of prof's own, so a command buffer needs no reset, and scopes may be inside render
    passes. But each execution needs queries of its own: record a command buffer with scopes anew each time that it is
    submitted or, if it is a secondary one, executed (VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT), and submit it to the
    queue of its prof_vk. If one is submitted again as it is, its queries are written once more: the scopes of the later
    submits are lost, which is found out within frames, counted in prof_vk_info.lost_again, and said. Nothing better is
    possible inside of one: Vulkan wants a query reset before it is written again, and a time read before that; so the
    frames could not overlap. Put the scope around it: around vkCmdExecuteCommands() of a secondary one; of a primary
    one prof_vk_begin() in a small command buffer before it and prof_vk_end() in one behind it, both recorded anew.
    A command buffer that is never submitted takes its queries with it until its pool is needed: after three more
    frames at least, when all others are in use. Submit none later than that.

    With 16 pools of 512 scopes, 8,192 scopes can be on their way. If all queries are in use, scopes are lost: they are
    counted, marked on the queue's track, and prof_vk_collect() says it.

CLOCKS

    With VK_EXT_calibrated_timestamps or VK_KHR_calibrated_timestamps enabled, the driver reads the clocks of device and
    host together, twice a second, and prof_vk_info.clock_error_ns is what it says of the precision. Enable one of them.
    Without, the queue is asked 16 times when the prof_vk is made and when it is destroyed, and by prof_vk_calibrate():
    the time that it writes lies between the submit and the moment at which the host knows that it is done. Such a queue
    is a device of its own, named after both. A device that was lost and made anew may have a new clock: give it another
    device_name.

COSTS

    A scope takes the driver's two timestamps and 35 ns more, without an arrow 12 ns; 2 ns while nothing records.
    Nothing is allocated, and no lock is taken. prof_vk_collect() takes a submit without work for each frame with
    scopes, and for each scope an event of a device: see >>devices. A queue has 1 MB of memory, less with smaller
    config.scopes and config.pools.
    Mesa's software driver waits for the device to be idle whenever results are read, where hardware's drivers only look
    at memory. So of a device that is the CPU, prof_vk_collect() reads results only when pools run short, once in some
    8 frames, and waits there for the frames that are under way.

LIMITS

    A device has to have timestamps (timestampValidBits of the queue's family). A queue that can only transfer needs
    hostQueryReset. After VK_ERROR_DEVICE_LOST scopes write nothing, and the lost ones are counted and marked. Not with
    PROF_FREESTANDING.
*/
#include "prof.h" /* outside of the include guard, because this may be the inclusion with PROF_IMPLEMENTATION */

#pragma pack(push, 16) /* as in prof.h */
#ifndef PROF_VULKAN_H
#define PROF_VULKAN_H

#ifdef __cplusplus
extern "C" {
#endif

/* Vulkan's own types, by the names that its headers give them: no header of Vulkan is needed here, and where one is
   included, before or after this one, a VkDevice is a struct VkDevice_T *. */
struct VkInstance_T;
struct VkPhysicalDevice_T;
struct VkDevice_T;
struct VkQueue_T;
struct VkCommandBuffer_T;
struct VkDebugUtilsLabelEXT;
#if defined(_WIN32)
#define PROF__VK_CALL __stdcall
#elif defined(__ANDROID__) && defined(__ARM_ARCH) && __ARM_ARCH >= 7 && defined(__ARM_32BIT_STATE)
#define PROF__VK_CALL __attribute__((__pcs__("aapcs-vfp")))
#else
#define PROF__VK_CALL
#endif
/* PFN_vkVoidFunction, PFN_vkGetInstanceProcAddr, PFN_vkGetDeviceProcAddr, PFN_vkCmdBeginDebugUtilsLabelEXT and
   PFN_vkCmdEndDebugUtilsLabelEXT. */
typedef void(PROF__VK_CALL *prof_vk_function)(void);
typedef prof_vk_function(PROF__VK_CALL *prof_vk_load_instance)(struct VkInstance_T *instance, const char *name);
typedef prof_vk_function(PROF__VK_CALL *prof_vk_load_device)(struct VkDevice_T *device, const char *name);
typedef void(PROF__VK_CALL *prof_vk_label_begin)(struct VkCommandBuffer_T *, const struct VkDebugUtilsLabelEXT *);
typedef void(PROF__VK_CALL *prof_vk_label_end)(struct VkCommandBuffer_T *);

typedef struct prof_vk prof_vk; /* the scopes of a queue */

/* What prof_vk_create() needs to know. The first six have to be set; the rest may be zero. */
typedef struct prof_vk_config {
    struct VkInstance_T *instance;
    struct VkPhysicalDevice_T *physical_device;
    struct VkDevice_T *device;
    struct VkQueue_T *queue;
    uint32_t queue_family;                        /* of the queue */
    prof_vk_load_instance get_instance_proc_addr; /* vkGetInstanceProcAddr */
    prof_vk_load_device get_device_proc_addr;     /* vkGetDeviceProcAddr; NULL: the instance's */
    const char *device_name;  /* NULL: what the driver calls it. Two cards that are alike need names */
    const char *queue_name;   /* the track's; NULL: "queue" */
    uint32_t scopes;          /* how many a pool of queries has room for, up to 65536; 0: 512 */
    uint32_t pools;           /* how many pools, 3 to 250; 0: 16 */
    int host_query_reset;     /* 1: the feature hostQueryReset is enabled */
    int memory_budget;        /* 1: counters of each heap's use and budget. Of one queue of a device. Needs Vulkan 1.1,
                                 or VK_KHR_get_physical_device_properties2 */
    int no_arrows;            /* 1: no arrows from the scopes in which commands are recorded */
} prof_vk_config;

/* What became of a queue's scopes since prof_vk_create(). */
typedef struct prof_vk_info {
    uint64_t scopes;         /* recorded */
    uint64_t lost_no_query;  /* lost: all queries were in use. Raise config.pools or scopes, or collect oftener */
    uint64_t lost_no_end;    /* lost: prof_vk_end() was never called, or too late */
    uint64_t lost_device;    /* lost: the device was gone before their times could be read */
    uint64_t lost_again;     /* lost, at least: their command buffers were submitted again as they were */
    uint64_t not_submitted;  /* no loss: their command buffers were never submitted, so they took no time */
    uint64_t clock_error_ns; /* how exactly the newest pair of clocks is known */
    int calibrated;          /* 1: the driver reads both clocks at once (VK_EXT_ or VK_KHR_calibrated_timestamps) */
    int memory_budget;       /* 1: heaps have counters */
    int device_lost;         /* 1: a call returned VK_ERROR_DEVICE_LOST. There will be no more scopes */
} prof_vk_info;

#if PROF_ENABLE
/* Makes room for a queue's scopes: all memory and queries that they will need. Returns NULL, with the reason in
   prof_error(), if the queue has no timestamps, a function is missing, or a call fails. Without hostQueryReset it
   submits to the queue, and without calibrated timestamps it waits for that, too. */
PROF__API prof_vk *prof_vk_create(const prof_vk_config *config);
/* Records what is still to be had, and frees all. Call it when the queue is idle, before vkDestroyDevice(). */
PROF__API void prof_vk_destroy(prof_vk *vk);
/* Records the scopes whose times are known, and takes up the clocks and the memory budget if they are due. It waits for
   nothing, and calls vkQueueSubmit() without work, to learn when the queue has done what was submitted before: call it
   once a frame, after the frame's submit, from one thread at a time that may use the queue. Returns PROF_NO_MEMORY or
   PROF_INVALID_STATE if scopes were lost since the last call, and PROF_IO if a call of Vulkan has failed, each with its
   text in prof_error(). */
PROF__API prof_status prof_vk_collect(prof_vk *vk);
/* Takes a pair of clocks now. prof_vk_collect() does so twice a second with calibrated timestamps. Without them this
   submits to the queue and waits until the queue is idle: call it while loading, for example. */
PROF__API prof_status prof_vk_calibrate(prof_vk *vk);
PROF__API prof_status prof_vk_get_info(const prof_vk *vk, prof_vk_info *info);

/* Begins a scope of the commands that follow in a command buffer, and ends it; in another command buffer of the queue,
   too. name: of a scope that is recorded until prof_vk_destroy(), as a literal is; _text copies it. Returns what
   prof_vk_end() takes: 0 if nothing records, vk is NULL, or no query is free. Any number of threads may call them for
   command buffers of their own. */
PROF__API uint64_t prof_vk_begin(prof_vk *vk, struct VkCommandBuffer_T *commands, const char *name);
PROF__API uint64_t prof_vk_begin_text(prof_vk *vk, struct VkCommandBuffer_T *commands, const char *text);
PROF__API void prof_vk_end(prof_vk *vk, struct VkCommandBuffer_T *commands, uint64_t scope);

/* Makes scopes of the queue out of the labels that a program gives its commands: begin and end are where the program
   has its pointers to vkCmdBeginDebugUtilsLabelEXT() and vkCmdEndDebugUtilsLabelEXT(). They lead to prof from then on,
   which calls what they led to before, unless that was NULL; prof_vk_destroy() puts them back, unless the program has
   changed them meanwhile. Labels go to one queue of the process, that of the last call. No thread uses labels while
   this or prof_vk_destroy() runs. */
PROF__API prof_status prof_vk_wrap_labels(prof_vk *vk, prof_vk_label_begin *begin, prof_vk_label_end *end);

typedef struct prof__vk_scope {
    prof_vk *vk;
    struct VkCommandBuffer_T *commands;
    uint64_t scope;
} prof__vk_scope;
#else
#define prof_vk_create(config) PROF__STRIPPED(PROF__STRIPPED_OBJECT(prof_vk *), PROF__USE(config))
#define prof_vk_destroy(vk) PROF__STRIPPED((void)0, PROF__USE(vk))
#define prof_vk_collect(vk) PROF__STRIPPED(PROF_OK, PROF__USE(vk))
#define prof_vk_calibrate(vk) PROF__STRIPPED(PROF_OK, PROF__USE(vk))
#define prof_vk_get_info(vk, info) \
    PROF__STRIPPED((prof__stripped_none(info, sizeof(prof_vk_info)), PROF_OK), PROF__USE(vk))
#define prof_vk_begin(vk, commands, name) PROF__STRIPPED((uint64_t)0, PROF__USE3(vk, commands, name))
#define prof_vk_begin_text(vk, commands, text) PROF__STRIPPED((uint64_t)0, PROF__USE3(vk, commands, text))
#define prof_vk_end(vk, commands, scope) PROF__STRIPPED((void)0, PROF__USE3(vk, commands, scope))
#define prof_vk_wrap_labels(vk, begin, end) PROF__STRIPPED(PROF_OK, PROF__USE3(vk, begin, end))
#endif

/*-- PROFILE_VK_SCOPE -------------------------------------------------------------------------------- >>vulkan --
     PROFILE_VK_SCOPE(vk, commands, name)   a scope of the commands from here to the end of the block; name: a string
                                            literal
     PROFILE_VK_SCOPE_DYNAMIC(vk, commands, text)   with a name made at run time, which is copied
   With neither C++ nor the cleanup attribute, use prof_vk_begin() and prof_vk_end(). */
#if PROF_ENABLE
#ifdef __cplusplus
extern "C++" {
struct PROF__GUARD_TYPE prof__guard_vk {
    prof__vk_scope at;
    PROF__UNTRACED ~prof__guard_vk() { if (at.scope) prof_vk_end(at.vk, at.commands, at.scope); }
};
}
#define PROF__GUARD_VK(variable, of) prof__guard_vk variable = {of}
#elif defined(__GNUC__)
static inline PROF__UNTRACED void prof__guard_vk(const prof__vk_scope *at)
{
    if (at->scope) prof_vk_end(at->vk, at->commands, at->scope);
}
#define PROF__GUARD_VK(variable, of) \
    __extension__ __attribute__((__cleanup__(prof__guard_vk), __unused__)) prof__vk_scope variable = of
#else
#define PROF__GUARD_VK(variable, of) prof__this_compiler_has_only_prof_vk_begin
#endif
static inline PROF__UNTRACED prof__vk_scope prof__vk_scope_of(prof_vk *vk, struct VkCommandBuffer_T *commands,
                                                              const char *name, int copies)
{
    prof__vk_scope at;
    at.vk = vk;
    at.commands = commands;
    at.scope = copies ? prof_vk_begin_text(vk, commands, name) : prof_vk_begin(vk, commands, name);
    return at;
}
#define PROF__VK_SCOPE(...) PROF__AGAIN(PROF__VK_SCOPE_(__VA_ARGS__))
#define PROF__VK_SCOPE_(id, vk, commands, name, copies) \
    PROF__GUARD_VK(prof__vk_##id, prof__vk_scope_of(vk, commands, name, copies))
#define PROFILE_VK_SCOPE(vk, commands, name) PROF__VK_SCOPE(PROF_UNIQUE, vk, commands, "" name, 0)
#define PROFILE_VK_SCOPE_DYNAMIC(vk, commands, text) PROF__VK_SCOPE(PROF_UNIQUE, vk, commands, PROF__TEXT(text), 1)
#else
#define PROFILE_VK_SCOPE(vk, commands, name) \
    PROF__GONE(PROF_UNIQUE, sizeof(vk) + sizeof(commands) + sizeof("" name))
#define PROFILE_VK_SCOPE_DYNAMIC(vk, commands, text) \
    PROF__GONE(PROF_UNIQUE, sizeof(vk) + sizeof(commands) + sizeof(text))
#endif

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif /* PROF_VULKAN_H */

/*== END OF HEADER ==================================================================================================*/

#if defined(PROF_IMPLEMENTATION) && PROF_ENABLE && !defined(PROF_FREESTANDING) && !defined(PROF__VULKAN_IMPLEMENTED)
#define PROF__VULKAN_IMPLEMENTED

#ifdef PROF__WRAPS_MALLOC /* so that prof's own allocations are not recorded as the program's */
#define malloc(size) __libc_malloc(size)
#define calloc(count, size) __libc_calloc(count, size)
#define realloc(at, size) __libc_realloc(at, size)
#define free(at) __libc_free(at)
#endif

#ifdef __cplusplus
extern "C" {
#endif

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

#define PROF__VK_PAIR_NS 500000000u /* between two pairs */

/* Reads a clock of the host that prof_host_ns() is not, and its rate. */
static uint64_t prof__vk_host_clock(double *ns_of_tick)
{
    *ns_of_tick = 1;
#if defined(_WIN32)
    LARGE_INTEGER now, hz;
    QueryPerformanceCounter(&now);
    QueryPerformanceFrequency(&hz);
    *ns_of_tick = 1e9 / (double)hz.QuadPart;
    return (uint64_t)now.QuadPart;
#elif defined(CLOCK_MONOTONIC_RAW)
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
#else
    return prof_host_ns();
#endif
}

/* Converts a time of the host's clock that the driver read to prof_host_ns(). Adds what is not known to *error_ns. */
static uint64_t prof__vk_host_time(const prof_vk *vk, uint64_t ticks, uint64_t *error_ns)
{
    if (vk->domain == PROF__VK_DOMAIN_MONOTONIC) return ticks;
    double ns_of_tick;
    uint64_t before = prof_host_ns(), now = prof__vk_host_clock(&ns_of_tick), half = (prof_host_ns() - before) / 2;
    *error_ns += half;
    return before + half - (uint64_t)((double)(now - ticks) * ns_of_tick);
}

/* Lets the driver read both clocks. The moment is between the begin and the end of the call, whatever it says. */
static int32_t prof__vk_read_both(prof_vk *vk, prof__vk_moment *moment)
{
    prof__vk_calibrated_info infos[2];
    uint64_t ticks[2] = {0, 0}, deviation = 0;
    memset(infos, 0, sizeof infos);
    infos[0].type = infos[1].type = PROF__VK_CALIBRATED_INFO;
    infos[0].domain = PROF__VK_DOMAIN_DEVICE;
    infos[1].domain = vk->domain;
    uint64_t before = prof_host_ns();
    int32_t result = vk->call.calibrated(vk->of, vk->domain ? 2 : 1, infos, ticks, &deviation);
    uint64_t half = (prof_host_ns() - before) / 2;
    moment->ticks = ticks[0] & vk->mask;
    moment->ns = before + half;
    moment->error_ns = half;
    if (!result && vk->domain) {
        uint64_t ns = prof__vk_host_time(vk, ticks[1], &deviation);
        if (ns + deviation < before || ns > before + 2 * half + deviation) return 0;
        moment->ns = ns;
        moment->error_ns = deviation;
    }
    return result;
}

static prof_status prof__vk_read_clocks(prof_vk *vk, prof__vk_moment *best)
{
    best->error_ns = ~(uint64_t)0;
    for (int tries = 0; tries < 4 && best->error_ns > 1000; ++tries) {
        prof__vk_moment moment;
        int32_t result = prof__vk_read_both(vk, &moment);
        if (result) return prof__vk_failed(vk, "vkGetCalibratedTimestamps", result);
        if (moment.error_ns < best->error_ns) *best = moment;
    }
    return PROF_OK;
}

/* Lets the queue write the time, and waits for that. seen->ns: when the host knew that it is done. */
static prof_status prof__vk_ask_queue(prof_vk *vk, prof__vk_moment *seen)
{
    uint64_t found[2] = {0, 0};
    if (vk->call.host_reset) vk->call.host_reset(vk->of, vk->clock_queries, 0, 1);
    int32_t result = vk->call.reset_fences(vk->of, 1, &vk->clock_fence);
    if (result) return prof__vk_failed(vk, "vkResetFences", result);
    prof_status status = prof__vk_submit(vk, &vk->clock_commands, vk->clock_fence);
    if (status) return status;
    result = vk->call.wait(vk->of, 1, &vk->clock_fence, 1, 5000000000u);
    if (result) return prof__vk_failed(vk, "vkWaitForFences", result);
    seen->ns = prof_host_ns();
    result = vk->call.results(vk->of, vk->clock_queries, 0, 1, sizeof found, found, sizeof found,
                              PROF__VK_RESULT_64_WITH_AVAILABILITY);
    if (result) return prof__vk_failed(vk, "vkGetQueryPoolResults", result);
    seen->ticks = found[0] & vk->mask;
    return PROF_OK;
}

/* Without calibrated timestamps: the queue writes the time after the submit, and before the host knows that it is done.
   Each of some tries bounds what lies between the clocks from below and from above; together they do so more closely
   than the best of them. */
static prof_status prof__vk_bound_clocks(prof_vk *vk, prof__vk_moment *moment)
{
    double low = 0, high = 0, device_ns = 0;
    uint64_t first = 0, origin = prof_host_ns();
    for (int tries = 0; tries < 16; ++tries) {
        prof__vk_moment seen = {0, 0, 0};
        uint64_t before = prof_host_ns();
        prof_status status = prof__vk_ask_queue(vk, &seen);
        if (status) return status;
        if (!tries) first = seen.ticks;
        device_ns = (double)((seen.ticks - first) & vk->mask) * vk->period;
        double least = (double)(before - origin) - device_ns, most = (double)(seen.ns - origin) - device_ns;
        if (!tries || least > low) low = least;
        if (!tries || most < high) high = most;
        moment->ticks = seen.ticks;
    }
    moment->ns = origin + (uint64_t)(device_ns + (low + high) / 2);
    moment->error_ns = high > low ? (uint64_t)((high - low) / 2) : 0;
    return PROF_OK;
}

PROF_DEF prof_status prof_vk_calibrate(prof_vk *vk)
{
    if (!vk) return prof__null("prof_vk_calibrate", "vk");
    prof__vk_moment moment = {0, 0, 0};
    prof_status status = vk->domain < 0 ? prof__vk_bound_clocks(vk, &moment) : prof__vk_read_clocks(vk, &moment);
    if (status) return status;
    vk->moment = moment;
    vk->info.clock_error_ns = moment.error_ns;
    return prof_device_sync(vk->device, moment.ticks, moment.ns);
}

/* Returns what the device's clock shows now, by the newest pair. */
static uint64_t prof__vk_ticks_now(const prof_vk *vk)
{
    return (vk->moment.ticks + (uint64_t)((double)(prof_host_ns() - vk->moment.ns) / vk->period)) & vk->mask;
}

/* Chooses the host's clock that the driver reads together with the device's. Returns -1 if it reads none. */
static int prof__vk_choose_domain(const prof_vk *vk)
{
    int32_t domains[16];
    uint32_t count = 16;
    if (!vk->call.calibrated || !vk->call.domains) return -1;
    int32_t result = vk->call.domains(vk->physical, &count, domains);
    if (result && result != PROF__VK_INCOMPLETE) return -1;
    int best = PROF__VK_DOMAIN_DEVICE, of_device = 0;
    for (uint32_t i = 0; i < count && i < 16; ++i) {
#if defined(_WIN32)
        int usable = domains[i] == PROF__VK_DOMAIN_QPC;
#elif defined(CLOCK_MONOTONIC_RAW)
        int usable = domains[i] == PROF__VK_DOMAIN_MONOTONIC || domains[i] == PROF__VK_DOMAIN_MONOTONIC_RAW;
#else
        int usable = domains[i] == PROF__VK_DOMAIN_MONOTONIC;
#endif
        of_device = of_device || domains[i] == PROF__VK_DOMAIN_DEVICE;
        if (usable && (!best || domains[i] < best)) best = domains[i];
    }
    return of_device ? best : -1;
}

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

/* The queue whose scopes labels are, the program's pointers to functions, and where they led. */
static struct {
    prof_vk *vk;
    prof_vk_label_begin *begin_at, begin;
    prof_vk_label_end *end_at, end;
} prof__vk_labelled;

/* Returns the place of a command buffer; or, if it has none, a free one, if make is 1, or NULL. */
static prof__vk_labels *prof__vk_labels_of(prof_vk *vk, struct VkCommandBuffer_T *commands, int make)
{
    uint32_t first = (uint32_t)((uintptr_t)commands >> 4) * 2654435761u >> 24;
    for (int round = 0; round <= make; ++round) {
        for (uint32_t i = 0; i < PROF__VK_LABEL_TRIES; ++i) {
            prof__vk_labels *labels = &vk->labels[(first + i) % PROF__VK_LABEL_PLACES];
            struct VkCommandBuffer_T *owner = PROF__ACQUIRE(&labels->commands);
            if (owner == commands) return labels;
            if (round && !owner &&
                __atomic_compare_exchange_n(&labels->commands, &owner, commands, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
                return labels;
        }
    }
    return NULL;
}

/* Returns 1 if a scope, or one in whose place it would be, is no longer open: the command buffer was reset before the
   label ended. */
static int prof__vk_is_stale(const prof_vk *vk, uint64_t scope)
{
    const prof__vk_entry *entry = &prof__vk_scope_pool(vk, scope)->entries[prof__vk_scope_number(scope)];
    return scope && PROF__ACQUIRE(&entry->state) != (uint32_t)(scope >> 32);
}

static void prof__vk_label_begin(prof_vk *vk, struct VkCommandBuffer_T *commands, const char *name)
{
    prof__vk_labels *labels = prof__vk_labels_of(vk, commands, 0);
    if (labels && labels->depth && labels->depth <= PROF__VK_LABEL_DEPTH &&
        prof__vk_is_stale(vk, labels->scopes[labels->depth - 1]))
        labels->depth = 0;
    if (!labels && prof__vk_records(vk) && !(labels = prof__vk_labels_of(vk, commands, 1)))
        PROF__ADD(&vk->lost_no_query, 1u);
    if (!labels) return;
    if (labels->depth < PROF__VK_LABEL_DEPTH) labels->scopes[labels->depth] = prof_vk_begin_text(vk, commands, name);
    ++labels->depth;
}

static void prof__vk_label_end(prof_vk *vk, struct VkCommandBuffer_T *commands)
{
    prof__vk_labels *labels = prof__vk_labels_of(vk, commands, 0);
    if (!labels) return;
    if (labels->depth && --labels->depth < PROF__VK_LABEL_DEPTH)
        prof_vk_end(vk, commands, labels->scopes[labels->depth]);
    if (!labels->depth) PROF__RELEASE(&labels->commands, (struct VkCommandBuffer_T *)NULL);
}

static void PROF__VK_CALL prof__vk_cmd_begin_label(struct VkCommandBuffer_T *commands,
                                                   const struct VkDebugUtilsLabelEXT *label)
{
    prof__vk_label copy;
    prof_vk *vk = prof__vk_labelled.vk;
    if (prof__vk_labelled.begin) prof__vk_labelled.begin(commands, label);
    memcpy(&copy, label, sizeof copy);
    if (vk) prof__vk_label_begin(vk, commands, copy.name);
}

static void PROF__VK_CALL prof__vk_cmd_end_label(struct VkCommandBuffer_T *commands)
{
    prof_vk *vk = prof__vk_labelled.vk;
    if (vk) prof__vk_label_end(vk, commands);
    if (prof__vk_labelled.end) prof__vk_labelled.end(commands);
}

/* Puts back what is still prof's: the program may have loaded its functions anew. Copies of prof's functions that it
   has made lead to the driver from then on. */
static void prof__vk_unwrap_labels(void)
{
    if (!prof__vk_labelled.vk) return;
    if (*prof__vk_labelled.begin_at == prof__vk_cmd_begin_label) *prof__vk_labelled.begin_at = prof__vk_labelled.begin;
    if (*prof__vk_labelled.end_at == prof__vk_cmd_end_label) *prof__vk_labelled.end_at = prof__vk_labelled.end;
    prof__vk_labelled.vk = NULL;
}

PROF_DEF prof_status prof_vk_wrap_labels(prof_vk *vk, prof_vk_label_begin *begin, prof_vk_label_end *end)
{
    if (!vk || !begin || !end) return prof__null("prof_vk_wrap_labels", "vk, begin or end");
    if (!vk->labels) vk->labels = (prof__vk_labels *)calloc(PROF__VK_LABEL_PLACES, sizeof *vk->labels);
    if (!vk->labels) return prof__fail(PROF_NO_MEMORY, "no memory for labels");
    prof__vk_unwrap_labels();
    prof__vk_labelled.vk = vk;
    prof__vk_labelled.begin_at = begin;
    prof__vk_labelled.end_at = end;
    /* Copies of prof's functions lead to where those led. */
    if (*begin != prof__vk_cmd_begin_label) prof__vk_labelled.begin = *begin;
    if (*end != prof__vk_cmd_end_label) prof__vk_labelled.end = *end;
    *begin = prof__vk_cmd_begin_label;
    *end = prof__vk_cmd_end_label;
    return PROF_OK;
}

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

#ifdef __cplusplus
} /* extern "C" */
#endif

#ifdef PROF__WRAPS_MALLOC
#undef malloc
#undef calloc
#undef realloc
#undef free
#endif
#endif /* PROF_IMPLEMENTATION */

#pragma pack(pop)

/* This software is available under two licences: choose the one you prefer.

ALTERNATIVE A - MIT No Attribution (MIT-0)

Copyright 2026 the prof authors

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated
documentation files (the "Software"), to deal in the Software without restriction, including without limitation the
rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit
persons to whom the Software is furnished to do so.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR
OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.

ALTERNATIVE B - public domain (www.unlicense.org)

This is free and unencumbered software released into the public domain.

Anyone is free to copy, modify, publish, use, compile, sell, or distribute this software, either in source code form or
as a compiled binary, for any purpose, commercial or non-commercial, and by any means.

In jurisdictions that recognize copyright laws, the author or authors of this software dedicate any and all copyright
interest in the software to the public domain. We make this dedication for the benefit of the public at large and to the
detriment of our heirs and successors. We intend this dedication to be an overt act of relinquishment in perpetuity of
all present and future rights to this software under copyright law.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS BE
LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT
OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE. */
