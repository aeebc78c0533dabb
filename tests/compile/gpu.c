/* gpu.c - the macros of the headers for GPUs. stripped.sh compares its object file with that of the same text without
   them. */
#include "prof_gl.h"
#include "prof_opencl.h"
#include "prof_vulkan.h"
#ifdef MARKUP_BARE
#include "nothing.h" /* each macro of these headers, as nothing */
#endif

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

static int gpu_evaluated;
int gpu_pass(prof_gl *gl, const char *name);
int gpu_pass(prof_gl *gl, const char *name)
{
    PROFILE_GL_SCOPE(gl, "frame");
    for (int pass = 0; pass < 3; ++pass) {
        PROFILE_GL_SCOPE((++gpu_evaluated, gl), pass ? "post" : name);
        if (gl && name && pass > 1) return pass;
    }
    return gpu_evaluated;
}

int gpu_copy(prof_cl *cl, void *queue, void *event, const char *name);
int gpu_copy(prof_cl *cl, void *queue, void *event, const char *name)
{
    PROFILE_CL_EVENT((++gpu_evaluated, cl), queue, event, name);
    if (cl) PROFILE_CL_EVENT(cl, queue, event, "copy");
#ifdef MARKUP_BARE
    do { gpu_evaluated = 7; } while (0);
#else
    PROFILE_CL_ENQUEUE((++gpu_evaluated, cl), queue, event, name, gpu_evaluated = 7);
#endif
    return queue && event && name ? 1 : gpu_evaluated;
}
