/* OpenCL: a pipeline in which copies overlap kernels. While the device computes one block, the next one is copied in,
   and the one before is copied out, in queues of their own.

       cc -O2 examples/opencl.c -o opencl -lOpenCL -pthread -ldl && ./opencl

   It writes opencl.html: open it in a browser. pocl is an OpenCL for processors. */
#define PROF_IMPLEMENTATION
#include "../prof_html.h"
#include "../prof_opencl.h"
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>

enum { BLOCKS = 32, SLOTS = 3, FLOATS = 1 << 18, ROUNDS = 8 };
enum { COPY_IN, COMPUTE, COPY_OUT, QUEUES };
static const size_t bytes = FLOATS * sizeof(float);

static const char source[] =
    "kernel void sweep(global float *x, int rounds) {"
    "    size_t i = get_global_id(0); float v = x[i];"
    "    for (int r = 0; r < rounds; ++r) v = v * 0.999f + 0.001f;"
    "    x[i] = v; }";

static void need(int error, const char *what)
{
    if (!error) return;
    fprintf(stderr, "%s: error %d\n", what, error);
    exit(1);
}

typedef struct pipeline {
    prof_cl *times;
    cl_command_queue queues[QUEUES];
    cl_kernel kernel;
    cl_mem slots[SLOTS];
    cl_event free_since[SLOTS]; /* the slot's last copy out */
} pipeline;

/* One block: in, computed, out; each waits for the one before it, and the host for a free slot. */
static void push(pipeline *p, float *host, int block)
{
    cl_event in = NULL, computed = NULL, out = NULL, *since = &p->free_since[block % SLOTS];
    cl_mem slot = p->slots[block % SLOTS];
    size_t count = FLOATS;
    PROFILE_STEP("block", block);
    if (*since) {
        PROFILE_SCOPE("wait for a slot");
        need(clWaitForEvents(1, since), "clWaitForEvents");
        clReleaseEvent(*since);
    }
    PROFILE_SCOPE("enqueue");
    cl_int error;
    PROFILE_CL_ENQUEUE(p->times, p->queues[COPY_IN], in, "copy in",
        error = clEnqueueWriteBuffer(p->queues[COPY_IN], slot, CL_FALSE, 0, bytes, host, 0, NULL, &in));
    need(error, "clEnqueueWriteBuffer");
    need(clSetKernelArg(p->kernel, 0, sizeof slot, &slot), "clSetKernelArg");
    PROFILE_CL_ENQUEUE(p->times, p->queues[COMPUTE], computed, "sweep",
        error = clEnqueueNDRangeKernel(p->queues[COMPUTE], p->kernel, 1, NULL, &count, NULL, 1, &in, &computed));
    need(error, "clEnqueueNDRangeKernel");
    PROFILE_CL_ENQUEUE(p->times, p->queues[COPY_OUT], out, "copy out",
        error = clEnqueueReadBuffer(p->queues[COPY_OUT], slot, CL_FALSE, 0, bytes, host, 1, &computed, &out));
    need(error, "clEnqueueReadBuffer");
    for (int i = 0; i < QUEUES; ++i) clFlush(p->queues[i]);
    clReleaseEvent(in);
    clReleaseEvent(computed);
    *since = out;
    if (prof_cl_collect(p->times)) fprintf(stderr, "%s\n", prof_error());
}

int main(void)
{
    static const char *const names[QUEUES] = {"copies in", "kernels", "copies out"};
    prof_config config = {0};
    pipeline p = {0};
    cl_platform_id platform;
    cl_device_id device;
    cl_int error, rounds = ROUNDS;
    const char *text = source;
    config.output = "opencl.html";
    need(clGetPlatformIDs(1, &platform, NULL), "clGetPlatformIDs");
    need(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), "clGetDeviceIDs");
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    need(error, "clCreateContext");
    cl_program program = clCreateProgramWithSource(context, 1, &text, NULL, &error);
    need(clBuildProgram(program, 1, &device, NULL, NULL, NULL), "clBuildProgram");
    p.kernel = clCreateKernel(program, "sweep", &error);
    need(error, "clCreateKernel");
    need(clSetKernelArg(p.kernel, 1, sizeof rounds, &rounds), "clSetKernelArg");

    if (prof_start(&config)) return fprintf(stderr, "%s\n", prof_error()), 1;
    p.times = prof_cl_create(NULL, NULL);
    if (!p.times) fprintf(stderr, "%s\n", prof_error()); /* the program goes on without times of the device */
    for (int i = 0; i < QUEUES; ++i) {
        p.queues[i] = clCreateCommandQueue(context, device, CL_QUEUE_PROFILING_ENABLE, &error);
        need(error, "clCreateCommandQueue");
        prof_cl_queue_name(p.times, p.queues[i], names[i]);
    }
    for (int i = 0; i < SLOTS; ++i) p.slots[i] = clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, NULL, &error);
    float *host = (float *)calloc(BLOCKS, bytes);
    if (!host) return 1;
    for (int block = 0; block < BLOCKS; ++block) push(&p, host + (size_t)block * FLOATS, block);
    {
        PROFILE_SCOPE("wait for the last block");
        for (int i = 0; i < QUEUES; ++i) clFinish(p.queues[i]);
    }
    if (prof_cl_finish(p.times)) fprintf(stderr, "%s\n", prof_error());
    prof_cl_info counts = {0};
    prof_cl_get_info(p.times, &counts);
    printf("opencl.html: %d blocks, and %llu commands\n", BLOCKS, (unsigned long long)counts.recorded);
    prof_cl_destroy(p.times);
    if (prof_stop()) return fprintf(stderr, "%s\n", prof_error()), 1;

    for (int i = 0; i < SLOTS; ++i) {
        if (p.free_since[i]) clReleaseEvent(p.free_since[i]);
        clReleaseMemObject(p.slots[i]);
    }
    for (int i = 0; i < QUEUES; ++i) clReleaseCommandQueue(p.queues[i]);
    clReleaseKernel(p.kernel);
    clReleaseProgram(program);
    clReleaseContext(context);
    free(host);
    return 0;
}
