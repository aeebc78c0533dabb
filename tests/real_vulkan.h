/* real_vulkan.h - a device of the Vulkan that this system has, under the validation layers if they are installed:
   real_open() and real_close(). Nothing is linked. */
#ifndef REAL_VULKAN_H
#define REAL_VULKAN_H
#define VK_NO_PROTOTYPES
#include <vulkan/vulkan.h>

#include <dlfcn.h>

#define REAL_FUNCTIONS(FUNCTION) \
    FUNCTION(vkEnumerateInstanceLayerProperties) FUNCTION(vkCreateInstance)
#define REAL_INSTANCE_FUNCTIONS(FUNCTION) \
    FUNCTION(vkDestroyInstance) FUNCTION(vkEnumeratePhysicalDevices) FUNCTION(vkCreateDevice) \
    FUNCTION(vkGetPhysicalDeviceMemoryProperties) FUNCTION(vkEnumerateDeviceExtensionProperties) \
    FUNCTION(vkGetDeviceProcAddr) FUNCTION(vkCreateDebugUtilsMessengerEXT) FUNCTION(vkDestroyDebugUtilsMessengerEXT) \
    FUNCTION(vkDestroyDevice) FUNCTION(vkGetDeviceQueue) FUNCTION(vkCreateCommandPool) FUNCTION(vkDestroyCommandPool) \
    FUNCTION(vkAllocateCommandBuffers) FUNCTION(vkBeginCommandBuffer) FUNCTION(vkEndCommandBuffer) \
    FUNCTION(vkCmdFillBuffer) FUNCTION(vkCmdPipelineBarrier) FUNCTION(vkCmdExecuteCommands) FUNCTION(vkQueueSubmit) \
    FUNCTION(vkQueueWaitIdle) FUNCTION(vkCreateFence) FUNCTION(vkDestroyFence) FUNCTION(vkWaitForFences) \
    FUNCTION(vkResetFences) FUNCTION(vkCreateBuffer) FUNCTION(vkDestroyBuffer) FUNCTION(vkGetBufferMemoryRequirements) \
    FUNCTION(vkAllocateMemory) FUNCTION(vkFreeMemory) FUNCTION(vkBindBufferMemory) \
    FUNCTION(vkGetCalibratedTimestampsEXT) FUNCTION(vkCmdBeginDebugUtilsLabelEXT) FUNCTION(vkCmdEndDebugUtilsLabelEXT)

#define REAL_POINTER(name) static PFN_##name name;
static PFN_vkGetInstanceProcAddr vkGetInstanceProcAddr;
REAL_FUNCTIONS(REAL_POINTER)
REAL_INSTANCE_FUNCTIONS(REAL_POINTER)

static struct real {
    VkInstance instance;
    VkDebugUtilsMessengerEXT messenger;
    VkPhysicalDevice physical;
    VkDevice device;
    VkQueue queue;
    VkCommandPool pool;
    VkBuffer buffer;
    VkDeviceMemory memory;
    VkDeviceSize size;
    int layers, messages;
} real;

static VkBool32 VKAPI_PTR real_message(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                                       VkDebugUtilsMessageTypeFlagsEXT types,
                                       const VkDebugUtilsMessengerCallbackDataEXT *data, void *user)
{
    (void)severity;
    (void)types;
    (void)user;
    ++real.messages;
    printf("validation: %s\n", data->pMessage);
    return VK_FALSE;
}

static const char *real_make_instance(void)
{
    static const char *const layer[] = {"VK_LAYER_KHRONOS_validation"};
    static const char *const extension[] = {VK_EXT_DEBUG_UTILS_EXTENSION_NAME};
    VkLayerProperties layers[64];
    uint32_t count = 64;
    VkApplicationInfo application;
    VkInstanceCreateInfo info;
    VkDebugUtilsMessengerCreateInfoEXT messenger;
    if (vkEnumerateInstanceLayerProperties(&count, layers) < 0) count = 0;
    for (uint32_t i = 0; i < count; ++i) real.layers |= !strcmp(layers[i].layerName, layer[0]);
    memset(&application, 0, sizeof application);
    memset(&info, 0, sizeof info);
    memset(&messenger, 0, sizeof messenger);
    application.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO;
    application.apiVersion = VK_API_VERSION_1_2;
    messenger.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT;
    messenger.messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT;
    messenger.messageSeverity |= VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT;
    messenger.messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT;
    messenger.messageType |= VK_DEBUG_UTILS_MESSAGE_TYPE_PERFORMANCE_BIT_EXT;
    messenger.pfnUserCallback = real_message;
    info.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO;
    info.pApplicationInfo = &application;
    info.enabledLayerCount = real.layers ? 1 : 0;
    info.ppEnabledLayerNames = layer;
    info.enabledExtensionCount = real.layers ? 1 : 0;
    info.ppEnabledExtensionNames = extension;
    if (vkCreateInstance(&info, NULL, &real.instance)) return "vkCreateInstance() failed";
#define REAL_LOAD(name) name = (PFN_##name)vkGetInstanceProcAddr(real.instance, #name);
    REAL_INSTANCE_FUNCTIONS(REAL_LOAD)
    if (real.layers) vkCreateDebugUtilsMessengerEXT(real.instance, &messenger, NULL, &real.messenger);
    return NULL;
}

static const char *real_make_device(void)
{
    static const char *const extensions[] = {VK_EXT_CALIBRATED_TIMESTAMPS_EXTENSION_NAME};
    static const float priority = 1;
    uint32_t count = 1;
    VkPhysicalDeviceHostQueryResetFeatures reset;
    VkDeviceQueueCreateInfo queues;
    VkDeviceCreateInfo info;
    VkCommandPoolCreateInfo pool;
    memset(&reset, 0, sizeof reset);
    memset(&queues, 0, sizeof queues);
    memset(&info, 0, sizeof info);
    memset(&pool, 0, sizeof pool);
    if (vkEnumeratePhysicalDevices(real.instance, &count, &real.physical) < 0 || !count) return "there is no device";
    reset.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_HOST_QUERY_RESET_FEATURES;
    reset.hostQueryReset = VK_TRUE;
    queues.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO;
    queues.queueCount = 1;
    queues.pQueuePriorities = &priority;
    info.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO;
    info.pNext = &reset;
    info.queueCreateInfoCount = 1;
    info.pQueueCreateInfos = &queues;
    info.enabledExtensionCount = 1;
    info.ppEnabledExtensionNames = extensions;
    if (vkCreateDevice(real.physical, &info, NULL, &real.device)) return "vkCreateDevice() failed";
    vkGetDeviceQueue(real.device, 0, 0, &real.queue);
    pool.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
    pool.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT;
    return vkCreateCommandPool(real.device, &pool, NULL, &real.pool) ? "vkCreateCommandPool() failed" : NULL;
}

static const char *real_make_buffer(VkDeviceSize size)
{
    VkBufferCreateInfo info;
    VkMemoryAllocateInfo memory;
    VkMemoryRequirements needs;
    memset(&info, 0, sizeof info);
    memset(&memory, 0, sizeof memory);
    info.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
    info.size = real.size = size;
    info.usage = VK_BUFFER_USAGE_TRANSFER_DST_BIT;
    if (vkCreateBuffer(real.device, &info, NULL, &real.buffer)) return "vkCreateBuffer() failed";
    vkGetBufferMemoryRequirements(real.device, real.buffer, &needs);
    memory.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
    memory.allocationSize = needs.size;
    while (!(needs.memoryTypeBits >> memory.memoryTypeIndex & 1)) ++memory.memoryTypeIndex;
    if (vkAllocateMemory(real.device, &memory, NULL, &real.memory)) return "vkAllocateMemory() failed";
    return vkBindBufferMemory(real.device, real.buffer, real.memory, 0) ? "vkBindBufferMemory() failed" : NULL;
}

/* Returns why there is no device, or NULL. */
static const char *real_open(void)
{
    const char *why;
    if (TRACE_SANITIZER) return "a driver is not made for sanitizers";
    void *library = dlopen("libvulkan.so.1", RTLD_NOW);
    memset(&real, 0, sizeof real);
    if (library) *(void **)(void *)&vkGetInstanceProcAddr = dlsym(library, "vkGetInstanceProcAddr");
    if (!library || !vkGetInstanceProcAddr) return "there is no libvulkan.so.1";
#define REAL_LOAD_GLOBAL(name) name = (PFN_##name)vkGetInstanceProcAddr(NULL, #name);
    REAL_FUNCTIONS(REAL_LOAD_GLOBAL)
    if ((why = real_make_instance()) || (why = real_make_device()) || (why = real_make_buffer(1 << 20))) return why;
    return NULL;
}

static void real_close(void)
{
    vkDestroyBuffer(real.device, real.buffer, NULL);
    vkFreeMemory(real.device, real.memory, NULL);
    vkDestroyCommandPool(real.device, real.pool, NULL);
    vkDestroyDevice(real.device, NULL);
    if (real.layers) vkDestroyDebugUtilsMessengerEXT(real.instance, real.messenger, NULL);
    vkDestroyInstance(real.instance, NULL);
}

static void real_allocate(VkCommandPool pool, VkCommandBufferLevel level, uint32_t count, VkCommandBuffer *made)
{
    VkCommandBufferAllocateInfo info;
    memset(&info, 0, sizeof info);
    info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
    info.commandPool = pool;
    info.level = level;
    info.commandBufferCount = count;
    CHECK(!vkAllocateCommandBuffers(real.device, &info, made));
}

/* secondary: 1: for use in another; 2: for many submits. */
static void real_begin(VkCommandBuffer commands, int secondary)
{
    VkCommandBufferInheritanceInfo inherited;
    VkCommandBufferBeginInfo info;
    memset(&inherited, 0, sizeof inherited);
    memset(&info, 0, sizeof info);
    inherited.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_INFO;
    info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
    info.flags = secondary == 2 ? 0 : VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
    info.pInheritanceInfo = secondary == 1 ? &inherited : NULL;
    CHECK(!vkBeginCommandBuffer(commands, &info));
}

/* A piece of work, which the next one waits for. */
static void real_fill(VkCommandBuffer commands)
{
    VkMemoryBarrier barrier;
    memset(&barrier, 0, sizeof barrier);
    barrier.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER;
    barrier.srcAccessMask = barrier.dstAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT;
    vkCmdFillBuffer(commands, real.buffer, 0, real.size, 0x01020304);
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 1, &barrier, 0,
                         NULL, 0, NULL);
}

static void real_submit(VkCommandBuffer commands, VkFence fence)
{
    VkSubmitInfo info;
    memset(&info, 0, sizeof info);
    info.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
    info.commandBufferCount = 1;
    info.pCommandBuffers = &commands;
    CHECK(!vkQueueSubmit(real.queue, 1, &info, fence));
}

static VkFence real_fence(void)
{
    VkFenceCreateInfo info;
    VkFence fence = VK_NULL_HANDLE;
    memset(&info, 0, sizeof info);
    info.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO;
    CHECK(!vkCreateFence(real.device, &info, NULL, &fence));
    return fence;
}

static void real_wait(VkFence fence)
{
    CHECK(!vkWaitForFences(real.device, 1, &fence, VK_TRUE, ~0ull));
    CHECK(!vkResetFences(real.device, 1, &fence));
}

#endif /* REAL_VULKAN_H */
