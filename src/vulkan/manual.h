// vulkan/manual: What users read.
/* prof_vulkan.h - what a GPU does for a Vulkan program, on the time line of its threads - public domain or MIT-0; needs
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
