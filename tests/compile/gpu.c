/* gpu.c - the macros of the headers for GPUs. stripped.sh compares its object file with that of the same text without
   them. */
#include "prof_vulkan.h"

int gpu_frame(prof_vk *vk, struct VkCommandBuffer_T *commands, int passes);
int gpu_frame(prof_vk *vk, struct VkCommandBuffer_T *commands, int passes)
{
    int done = 0;
    PROFILE_VK_SCOPE(vk, commands, "frame");
    for (int pass = 0; pass < passes; ++pass) {
        PROFILE_VK_SCOPE_DYNAMIC(vk, commands, pass ? "post" : "shadow");
        done += commands != NULL && vk != NULL;
        if (done > 3) return done;
    }
    return done;
}
