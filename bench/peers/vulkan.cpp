// What a scope of a command buffer costs the thread that records it: two vkCmdWriteTimestamp() by themselves, prof's
// scope, and Tracy's zone. By hand, with a copy of Tracy:
//
//     g++ -O2 -c -DTRACY_ENABLE TRACY/public/TracyClient.cpp -o client.o
//     g++ -O2 -DTRACY_ENABLE -ITRACY/public bench/peers/vulkan.cpp client.o -o vulkan -lvulkan -pthread -ldl
//     ./vulkan
//
// Without -DTRACY_ENABLE and client.o: without Tracy. Each figure is the least of many rounds of 200 scopes.
#define PROF_IMPLEMENTATION
#include "../../prof_vulkan.h"

#include <vulkan/vulkan.h>
#ifdef TRACY_ENABLE
#include "tracy/Tracy.hpp"
#include "tracy/TracyVulkan.hpp"
#endif

#include <cstdio>
#include <cstdlib>

enum { SCOPES = 200, ROUNDS = 400 };

static VkInstance instance;
static VkPhysicalDevice physical;
static VkDevice device;
static VkQueue queue;
static VkCommandBuffer commands;
static VkQueryPool queries;
static PFN_vkCmdWriteTimestamp write_timestamp;

static void open_device()
{
    static const char *const extensions[] = {VK_EXT_CALIBRATED_TIMESTAMPS_EXTENSION_NAME};
    const float priority = 1;
    uint32_t count = 1;
    VkApplicationInfo application = {};
    VkInstanceCreateInfo info = {};
    VkPhysicalDeviceHostQueryResetFeatures reset = {};
    VkDeviceQueueCreateInfo queues = {};
    VkDeviceCreateInfo wish = {};
    VkCommandPool pool;
    VkCommandPoolCreateInfo pool_info = {};
    VkCommandBufferAllocateInfo buffers = {};
    VkQueryPoolCreateInfo query_info = {};
    application.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO;
    application.apiVersion = VK_API_VERSION_1_2;
    info.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO;
    info.pApplicationInfo = &application;
    if (vkCreateInstance(&info, nullptr, &instance)) exit(1);
    if (vkEnumeratePhysicalDevices(instance, &count, &physical) < 0 || !count) exit(1);
    reset.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_HOST_QUERY_RESET_FEATURES;
    reset.hostQueryReset = VK_TRUE;
    queues.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO;
    queues.queueCount = 1;
    queues.pQueuePriorities = &priority;
    wish.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO;
    wish.pNext = &reset;
    wish.queueCreateInfoCount = 1;
    wish.pQueueCreateInfos = &queues;
    wish.enabledExtensionCount = 1;
    wish.ppEnabledExtensionNames = extensions;
    if (vkCreateDevice(physical, &wish, nullptr, &device)) exit(1);
    vkGetDeviceQueue(device, 0, 0, &queue);
    pool_info.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
    pool_info.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT;
    if (vkCreateCommandPool(device, &pool_info, nullptr, &pool)) exit(1);
    buffers.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
    buffers.commandPool = pool;
    buffers.commandBufferCount = 1;
    if (vkAllocateCommandBuffers(device, &buffers, &commands)) exit(1);
    query_info.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO;
    query_info.queryType = VK_QUERY_TYPE_TIMESTAMP;
    query_info.queryCount = 2 * SCOPES;
    if (vkCreateQueryPool(device, &query_info, nullptr, &queries)) exit(1);
    write_timestamp = reinterpret_cast<PFN_vkCmdWriteTimestamp>(vkGetDeviceProcAddr(device, "vkCmdWriteTimestamp"));
}

static void begin()
{
    VkCommandBufferBeginInfo info = {};
    info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
    info.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
    vkBeginCommandBuffer(commands, &info);
}

static void submit()
{
    VkSubmitInfo info = {};
    info.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
    info.commandBufferCount = 1;
    info.pCommandBuffers = &commands;
    vkEndCommandBuffer(commands);
    vkQueueSubmit(queue, 1, &info, VK_NULL_HANDLE);
}

static void better(double &best, uint64_t began)
{
    double ns = static_cast<double>(prof_host_ns() - began) / SCOPES;
    if (ns < best) best = ns;
}

int main()
{
    double plain = 1e9, scopes = 1e9, bare = 1e9, labels = 1e9, off = 1e9, collected = 0;
    open_device();
    prof_start(nullptr);
    prof_vk_config wish = {};
    wish.instance = instance;
    wish.physical_device = physical;
    wish.device = device;
    wish.queue = queue;
    wish.get_instance_proc_addr = vkGetInstanceProcAddr;
    wish.host_query_reset = 1;
    prof_vk *vk = prof_vk_create(&wish);
    wish.no_arrows = 1;
    prof_vk *without_arrows = prof_vk_create(&wish);
    if (!vk || !without_arrows) {
        fprintf(stderr, "%s\n", prof_error());
        return 1;
    }
#ifdef TRACY_ENABLE
    double zones = 1e9;
    TracyVkCtx tracy = TracyVkContext(physical, device, queue, commands); // lavapipe lacks the one host clock it knows
#endif
    for (int round = 0; round < ROUNDS; ++round) {
        begin();
        vkCmdResetQueryPool(commands, queries, 0, 2 * SCOPES);
        uint64_t began = prof_host_ns();
        for (uint32_t i = 0; i < SCOPES; ++i) {
            write_timestamp(commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, queries, 2 * i);
            write_timestamp(commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, queries, 2 * i + 1);
        }
        better(plain, began);
        submit();
        vkQueueWaitIdle(queue);

        begin();
        began = prof_host_ns();
        for (uint32_t i = 0; i < SCOPES; ++i) {
            PROFILE_VK_SCOPE(vk, commands, "scope");
        }
        better(scopes, began);
        submit();
        prof_vk_collect(vk);
        vkQueueWaitIdle(queue);

        begin();
        began = prof_host_ns();
        for (uint32_t i = 0; i < SCOPES; ++i) {
            PROFILE_VK_SCOPE(without_arrows, commands, "scope");
        }
        better(bare, began);
        submit();
        prof_vk_collect(without_arrows);
        vkQueueWaitIdle(queue);

        begin();
        began = prof_host_ns();
        for (uint32_t i = 0; i < SCOPES; ++i) {
            PROFILE_VK_SCOPE_DYNAMIC(vk, commands, "a name that is copied");
        }
        better(labels, began);
        submit();
        prof_vk_collect(vk);
        vkQueueWaitIdle(queue);
        began = prof_host_ns();
        for (int i = 0; i < 20; ++i) prof_vk_collect(vk);
        collected += static_cast<double>(prof_host_ns() - began);

#ifdef TRACY_ENABLE
        begin();
        began = prof_host_ns();
        for (uint32_t i = 0; i < SCOPES; ++i) {
            TracyVkZone(tracy, commands, "scope");
        }
        better(zones, began);
        submit();
        vkQueueWaitIdle(queue);
        begin();
        TracyVkCollect(tracy, commands);
        submit();
        vkQueueWaitIdle(queue);
#endif
    }
    prof_pause();
    for (int round = 0; round < ROUNDS; ++round) {
        begin();
        uint64_t began = prof_host_ns();
        for (uint32_t i = 0; i < SCOPES; ++i) {
            PROFILE_VK_SCOPE(vk, commands, "scope");
        }
        better(off, began);
        vkEndCommandBuffer(commands);
    }
    prof_vk_info info;
    prof_vk_get_info(vk, &info);
    printf("two timestamps                  %6.1f ns\n", plain);
    printf("PROFILE_VK_SCOPE                %6.1f ns, %.1f more\n", scopes, scopes - plain);
    printf("PROFILE_VK_SCOPE, no_arrows     %6.1f ns, %.1f more\n", bare, bare - plain);
    printf("PROFILE_VK_SCOPE_DYNAMIC        %6.1f ns, %.1f more\n", labels, labels - plain);
    printf("PROFILE_VK_SCOPE, paused        %6.1f ns\n", off);
    printf("prof_vk_collect, for each scope %6.1f ns\n", collected / static_cast<double>(info.scopes));
#ifdef TRACY_ENABLE
    printf("TracyVkZone                     %6.1f ns, %.1f more\n", zones, zones - plain);
#endif
    printf("%llu scopes, %llu lost\n", (unsigned long long)info.scopes, (unsigned long long)info.lost_no_query);
    prof_stop();
    fflush(stdout);
    _Exit(0);
}
