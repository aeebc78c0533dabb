// vulkan/api: Declarations.
#ifndef PROF__VULKAN_API_H
#define PROF__VULKAN_API_H
#include "api/devices.h"
#include "api/macros.h"
#include "api/types.h"

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

#endif /* PROF__VULKAN_API_H */
