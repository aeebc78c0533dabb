/* Vulkan: a triangle without a window, in three passes a frame, with the GPU's times on the time line of the program's.

       cc -O2 examples/vulkan/triangle.c -o triangle -lvulkan -pthread -ldl && ./triangle

   It writes triangle.html: open it in a browser. Without a GPU, Mesa's lavapipe runs it (mesa-vulkan-drivers). */
#define PROF_IMPLEMENTATION
#include "../../prof_html.h"
#include "../../prof_vulkan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <vulkan/vulkan.h>

#include "shaders.h"

enum { FRAMES = 60, IN_FLIGHT = 2, PASSES = 3, SIZE = 512 };

static const struct pass {
    const char *name;
    uint32_t triangles;
} passes[PASSES] = {{"shadow pass", 20}, {"colour pass", 60}, {"post pass", 10}};

static VkInstance instance;
static VkPhysicalDevice physical;
static VkDevice device;
static VkQueue queue;
static VkRenderPass render_pass;
static VkPipeline pipeline;
static VkFramebuffer framebuffers[PASSES]; /* an image for each pass */
static VkCommandBuffer commands[IN_FLIGHT];
static VkFence fences[IN_FLIGHT];
static int host_query_reset, calibrated;

static void must(VkResult result, const char *what)
{
    if (!result) return;
    fprintf(stderr, "%s: %d\n", what, (int)result);
    exit(1);
}
#define MUST(call) must(call, #call)
#define IS(type) .sType = VK_STRUCTURE_TYPE_##type

static int has_extension(const char *name)
{
    VkExtensionProperties all[512];
    uint32_t count = 512, i = 0;
    vkEnumerateDeviceExtensionProperties(physical, NULL, &count, all);
    while (i < count && strcmp(all[i].extensionName, name)) ++i;
    return i < count;
}

/* The first device and its first queue family: one that draws. What prof_vulkan.h likes is enabled if it is there. */
static void open_device(void)
{
    static const char *const extensions[] = {VK_EXT_CALIBRATED_TIMESTAMPS_EXTENSION_NAME};
    const float priority = 1;
    uint32_t count = 1;
    VkApplicationInfo application = {IS(APPLICATION_INFO), .apiVersion = VK_API_VERSION_1_2};
    VkInstanceCreateInfo info = {IS(INSTANCE_CREATE_INFO), .pApplicationInfo = &application};
    MUST(vkCreateInstance(&info, NULL, &instance));
    vkEnumeratePhysicalDevices(instance, &count, &physical);
    if (!count) must(VK_ERROR_INITIALIZATION_FAILED, "there is no device of Vulkan");
    VkPhysicalDeviceHostQueryResetFeatures reset = {IS(PHYSICAL_DEVICE_HOST_QUERY_RESET_FEATURES)};
    VkPhysicalDeviceFeatures2 features = {IS(PHYSICAL_DEVICE_FEATURES_2), .pNext = &reset};
    vkGetPhysicalDeviceFeatures2(physical, &features);
    host_query_reset = reset.hostQueryReset == VK_TRUE;
    calibrated = has_extension(extensions[0]);
    VkDeviceQueueCreateInfo queues = {IS(DEVICE_QUEUE_CREATE_INFO), .queueCount = 1};
    queues.pQueuePriorities = &priority;
    VkDeviceCreateInfo wish = {IS(DEVICE_CREATE_INFO), .pNext = &reset, .queueCreateInfoCount = 1};
    wish.pQueueCreateInfos = &queues;
    wish.enabledExtensionCount = calibrated ? 1 : 0;
    wish.ppEnabledExtensionNames = extensions;
    MUST(vkCreateDevice(physical, &wish, NULL, &device));
    vkGetDeviceQueue(device, 0, 0, &queue);
}

static void make_render_pass(void)
{
    VkAttachmentDescription image = {.format = VK_FORMAT_R8G8B8A8_UNORM, .samples = VK_SAMPLE_COUNT_1_BIT};
    image.loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR;
    image.storeOp = VK_ATTACHMENT_STORE_OP_STORE;
    image.finalLayout = VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL;
    VkAttachmentReference first = {0, VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL};
    VkSubpassDescription subpass = {.colorAttachmentCount = 1, .pColorAttachments = &first};
    VkRenderPassCreateInfo info = {IS(RENDER_PASS_CREATE_INFO), .attachmentCount = 1};
    info.pAttachments = &image;
    info.subpassCount = 1;
    info.pSubpasses = &subpass;
    MUST(vkCreateRenderPass(device, &info, NULL, &render_pass));
}

static void make_framebuffer(VkFramebuffer *framebuffer)
{
    VkImage image;
    VkImageView view;
    VkDeviceMemory memory;
    VkMemoryRequirements needs;
    VkImageCreateInfo info = {IS(IMAGE_CREATE_INFO), .imageType = VK_IMAGE_TYPE_2D};
    info.format = VK_FORMAT_R8G8B8A8_UNORM;
    info.extent = (VkExtent3D){SIZE, SIZE, 1};
    info.mipLevels = info.arrayLayers = 1;
    info.samples = VK_SAMPLE_COUNT_1_BIT;
    info.usage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT;
    MUST(vkCreateImage(device, &info, NULL, &image));
    vkGetImageMemoryRequirements(device, image, &needs);
    VkMemoryAllocateInfo room = {IS(MEMORY_ALLOCATE_INFO), .allocationSize = needs.size};
    while (!(needs.memoryTypeBits >> room.memoryTypeIndex & 1)) ++room.memoryTypeIndex;
    MUST(vkAllocateMemory(device, &room, NULL, &memory));
    MUST(vkBindImageMemory(device, image, memory, 0));
    VkImageViewCreateInfo seen = {IS(IMAGE_VIEW_CREATE_INFO), .image = image};
    seen.viewType = VK_IMAGE_VIEW_TYPE_2D;
    seen.format = info.format;
    seen.subresourceRange = (VkImageSubresourceRange){VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
    MUST(vkCreateImageView(device, &seen, NULL, &view));
    VkFramebufferCreateInfo frame = {IS(FRAMEBUFFER_CREATE_INFO), .renderPass = render_pass};
    frame.attachmentCount = 1;
    frame.pAttachments = &view;
    frame.width = frame.height = SIZE;
    frame.layers = 1;
    MUST(vkCreateFramebuffer(device, &frame, NULL, framebuffer));
}

static VkShaderModule shader(const uint32_t *code, size_t size)
{
    VkShaderModule module;
    VkShaderModuleCreateInfo info = {IS(SHADER_MODULE_CREATE_INFO), .codeSize = size, .pCode = code};
    MUST(vkCreateShaderModule(device, &info, NULL, &module));
    return module;
}

static void make_pipeline(void)
{
    VkPipelineLayout layout;
    VkPipelineLayoutCreateInfo nothing = {IS(PIPELINE_LAYOUT_CREATE_INFO)};
    MUST(vkCreatePipelineLayout(device, &nothing, NULL, &layout));
    VkPipelineShaderStageCreateInfo stages[2] = {
        {IS(PIPELINE_SHADER_STAGE_CREATE_INFO), .stage = VK_SHADER_STAGE_VERTEX_BIT},
        {IS(PIPELINE_SHADER_STAGE_CREATE_INFO), .stage = VK_SHADER_STAGE_FRAGMENT_BIT}};
    stages[0].module = shader(vertex_code, sizeof vertex_code);
    stages[1].module = shader(fragment_code, sizeof fragment_code);
    stages[0].pName = stages[1].pName = "main";
    VkPipelineVertexInputStateCreateInfo vertices = {IS(PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO)};
    VkPipelineInputAssemblyStateCreateInfo assembly = {IS(PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO)};
    assembly.topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST;
    VkViewport viewport = {0, 0, SIZE, SIZE, 0, 1};
    VkRect2D scissor = {{0, 0}, {SIZE, SIZE}};
    VkPipelineViewportStateCreateInfo view = {IS(PIPELINE_VIEWPORT_STATE_CREATE_INFO)};
    view.viewportCount = view.scissorCount = 1;
    view.pViewports = &viewport;
    view.pScissors = &scissor;
    VkPipelineRasterizationStateCreateInfo raster = {IS(PIPELINE_RASTERIZATION_STATE_CREATE_INFO)};
    raster.lineWidth = 1;
    VkPipelineMultisampleStateCreateInfo samples = {IS(PIPELINE_MULTISAMPLE_STATE_CREATE_INFO)};
    samples.rasterizationSamples = VK_SAMPLE_COUNT_1_BIT;
    VkPipelineColorBlendAttachmentState blended = {.colorWriteMask = 15};
    VkPipelineColorBlendStateCreateInfo blend = {IS(PIPELINE_COLOR_BLEND_STATE_CREATE_INFO)};
    blend.attachmentCount = 1;
    blend.pAttachments = &blended;
    VkGraphicsPipelineCreateInfo info = {IS(GRAPHICS_PIPELINE_CREATE_INFO), .stageCount = 2};
    info.pStages = stages;
    info.pVertexInputState = &vertices;
    info.pInputAssemblyState = &assembly;
    info.pViewportState = &view;
    info.pRasterizationState = &raster;
    info.pMultisampleState = &samples;
    info.pColorBlendState = &blend;
    info.layout = layout;
    info.renderPass = render_pass;
    MUST(vkCreateGraphicsPipelines(device, VK_NULL_HANDLE, 1, &info, NULL, &pipeline));
}

static void make_frames(void)
{
    VkCommandPool pool;
    VkCommandPoolCreateInfo info = {IS(COMMAND_POOL_CREATE_INFO)};
    info.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT;
    MUST(vkCreateCommandPool(device, &info, NULL, &pool));
    VkCommandBufferAllocateInfo wish = {IS(COMMAND_BUFFER_ALLOCATE_INFO), .commandPool = pool};
    wish.commandBufferCount = IN_FLIGHT;
    MUST(vkAllocateCommandBuffers(device, &wish, commands));
    VkFenceCreateInfo fence = {IS(FENCE_CREATE_INFO), .flags = VK_FENCE_CREATE_SIGNALED_BIT};
    for (int i = 0; i < IN_FLIGHT; ++i) MUST(vkCreateFence(device, &fence, NULL, &fences[i]));
}

/*-- a frame ---------------------------------------------------------------------------------------------------------*/

static void record(prof_vk *vk, VkCommandBuffer to)
{
    PROFILE_SCOPE("record");
    VkClearValue black = {{{0, 0, 0, 1}}};
    VkCommandBufferBeginInfo once = {IS(COMMAND_BUFFER_BEGIN_INFO)};
    VkRenderPassBeginInfo begin = {IS(RENDER_PASS_BEGIN_INFO), .renderPass = render_pass};
    once.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
    begin.renderArea.extent = (VkExtent2D){SIZE, SIZE};
    begin.clearValueCount = 1;
    begin.pClearValues = &black;
    MUST(vkBeginCommandBuffer(to, &once));
    {
        PROFILE_VK_SCOPE(vk, to, "GPU frame");
        for (int i = 0; i < PASSES; ++i) {
            PROFILE_VK_SCOPE_DYNAMIC(vk, to, passes[i].name);
            begin.framebuffer = framebuffers[i];
            vkCmdBeginRenderPass(to, &begin, VK_SUBPASS_CONTENTS_INLINE);
            vkCmdBindPipeline(to, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
            vkCmdDraw(to, 3, passes[i].triangles, 0, 0);
            vkCmdEndRenderPass(to);
        }
    }
    MUST(vkEndCommandBuffer(to));
}

static void simulate(void)
{
    PROFILE_SCOPE("simulate");
    struct timespec time = {0, 2000000};
    nanosleep(&time, NULL);
}

static void draw(prof_vk *vk, int frame)
{
    VkSubmitInfo submit = {IS(SUBMIT_INFO), .commandBufferCount = 1};
    VkFence fence = fences[frame % IN_FLIGHT];
    submit.pCommandBuffers = &commands[frame % IN_FLIGHT];
    simulate();
    {
        PROFILE_SCOPE("wait for the GPU");
        MUST(vkWaitForFences(device, 1, &fence, VK_TRUE, UINT64_MAX));
        MUST(vkResetFences(device, 1, &fence));
    }
    record(vk, commands[frame % IN_FLIGHT]);
    PROFILE_SCOPE("submit");
    MUST(vkQueueSubmit(queue, 1, &submit, fence));
    if (prof_vk_collect(vk)) fprintf(stderr, "%s\n", prof_error());
}

int main(void)
{
    prof_config config = {0};
    config.output = "triangle.html";
    if (prof_start(&config)) {
        fprintf(stderr, "%s\n", prof_error());
        return 1;
    }
    open_device();
    make_render_pass();
    for (int i = 0; i < PASSES; ++i) make_framebuffer(&framebuffers[i]);
    make_pipeline();
    make_frames();
    prof_vk_config wish = {0};
    wish.instance = instance;
    wish.physical_device = physical;
    wish.device = device;
    wish.queue = queue;
    wish.get_instance_proc_addr = vkGetInstanceProcAddr;
    wish.queue_name = "graphics";
    wish.host_query_reset = host_query_reset;
    wish.memory_budget = 1;
    prof_vk *vk = prof_vk_create(&wish);
    if (!vk) fprintf(stderr, "%s\n", prof_error()); /* the program runs without scopes of the GPU */
    for (int frame = 0; frame < FRAMES; ++frame) {
        draw(vk, frame);
        PROFILE_FRAME("frame");
    }
    MUST(vkQueueWaitIdle(queue));
    prof_vk_destroy(vk);
    if (prof_stop()) {
        fprintf(stderr, "%s\n", prof_error());
        return 1;
    }
    printf("triangle.html: %d frames of %d passes, on the time line of the program\n", FRAMES, PASSES);
    return 0; /* the process takes its objects of Vulkan with it */
}
