/* driver.h - what these programs use of the CUDA driver, loaded at run time: no CUDA toolkit is needed to compile them.
   The kernel is in PTX, which the driver compiles for any GPU from Turing on. */
#ifndef EXAMPLES_CUDA_DRIVER_H
#define EXAMPLES_CUDA_DRIVER_H
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* x = x / 2 + 1, so many rounds, for each of count floats */
static const char driver_ptx[] =
    ".version 7.0\n.target sm_75\n.address_size 64\n"
    ".visible .entry relax(.param .u64 data, .param .u32 count, .param .u32 rounds)\n{\n"
    ".reg .pred %p<3>;\n.reg .f32 %f<2>;\n.reg .b32 %r<7>;\n.reg .b64 %rd<4>;\n"
    "ld.param.u64 %rd1, [data];\nld.param.u32 %r1, [count];\nld.param.u32 %r2, [rounds];\n"
    "mov.u32 %r3, %ctaid.x;\nmov.u32 %r4, %ntid.x;\nmov.u32 %r5, %tid.x;\nmad.lo.u32 %r6, %r3, %r4, %r5;\n"
    "setp.ge.u32 %p1, %r6, %r1;\n@%p1 bra END;\n"
    "cvta.to.global.u64 %rd2, %rd1;\nmul.wide.u32 %rd3, %r6, 4;\nadd.s64 %rd2, %rd2, %rd3;\n"
    "ld.global.f32 %f1, [%rd2];\n"
    "LOOP:\nsetp.eq.u32 %p2, %r2, 0;\n@%p2 bra DONE;\nfma.rn.f32 %f1, %f1, 0f3F000000, 0f3F800000;\n"
    "sub.u32 %r2, %r2, 1;\nbra LOOP;\n"
    "DONE:\nst.global.f32 [%rd2], %f1;\nEND:\nret;\n}\n";

#define DRIVER_FUNCTIONS(X)                                                                                          \
    X(cuInit, (unsigned flags))                                                                                      \
    X(cuDeviceGet, (int *device, int ordinal))                                                                       \
    X(cuDevicePrimaryCtxRetain, (void **context, int device))                                                        \
    X(cuCtxSetCurrent, (void *context))                                                                              \
    X(cuModuleLoadData, (void **module, const void *image))                                                          \
    X(cuModuleGetFunction, (void **function, void *module, const char *name))                                        \
    X(cuStreamCreate, (void **stream, unsigned flags))                                                               \
    X(cuStreamSynchronize, (void *stream))                                                                           \
    X(cuMemAlloc_v2, (uint64_t *address, size_t bytes))                                                              \
    X(cuMemFree_v2, (uint64_t address))                                                                              \
    X(cuMemAllocHost_v2, (void **memory, size_t bytes))                                                              \
    X(cuMemFreeHost, (void *memory))                                                                                 \
    X(cuMemcpyHtoDAsync_v2, (uint64_t to, const void *from, size_t bytes, void *stream))                             \
    X(cuMemcpyDtoHAsync_v2, (void *to, uint64_t from, size_t bytes, void *stream))                                   \
    X(cuMemsetD32Async, (uint64_t to, unsigned value, size_t words, void *stream))                                   \
    X(cuLaunchKernel, (void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,          \
                       unsigned block_y, unsigned block_z, unsigned shared, void *stream, void **parameters,         \
                       void **extra))                                                                                \
    X(cuStreamBeginCapture_v2, (void *stream, int mode))                                                             \
    X(cuStreamEndCapture, (void *stream, void **graph))                                                              \
    X(cuGraphInstantiateWithFlags, (void **executable, void *graph, unsigned long long flags))                       \
    X(cuGraphLaunch, (void *executable, void *stream))

#define DRIVER_POINTER(name, parameters) static int(*name) parameters;
DRIVER_FUNCTIONS(DRIVER_POINTER)

#define DRIVER_NAME(name, parameters) {#name, (void *)&name},
static const struct {
    const char *name;
    void *pointer;
} driver_names[] = {DRIVER_FUNCTIONS(DRIVER_NAME)};

/* Ends the program where a call fails. */
static inline void driver_check(int result, const char *call, int line)
{
    if (!result) return;
    printf("line %d: %s: CUDA error %d\n", line, call, result);
    exit(1);
}
#define CUDA(call) driver_check(call, #call, __LINE__)

/* Loads the driver, makes the context of the first GPU, and returns the kernel. NULL: there is no driver or no GPU. */
static inline void *driver_open(void)
{
    const char *path = getenv("PROF_CUDA_DRIVER");
    void *library = dlopen(path && *path ? path : "libcuda.so.1", RTLD_NOW), *context, *module, *function;
    int device;
    for (size_t i = 0; library && i < sizeof driver_names / sizeof *driver_names; ++i) {
        void *symbol = dlsym(library, driver_names[i].name);
        if (!symbol) printf("the driver has no %s\n", driver_names[i].name);
        if (!symbol) return NULL;
        memcpy(driver_names[i].pointer, &symbol, sizeof symbol);
    }
    if (!library || cuInit(0) || cuDeviceGet(&device, 0)) return NULL;
    CUDA(cuDevicePrimaryCtxRetain(&context, device));
    CUDA(cuCtxSetCurrent(context));
    CUDA(cuModuleLoadData(&module, driver_ptx));
    CUDA(cuModuleGetFunction(&function, module, "relax"));
    return function;
}

static inline int driver_launch(void *function, uint64_t data, unsigned count, unsigned rounds, void *stream)
{
    void *parameters[3];
    parameters[0] = &data;
    parameters[1] = &count;
    parameters[2] = &rounds;
    return cuLaunchKernel(function, (count + 255) / 256, 1, 1, 256, 1, 1, 0, stream, parameters, NULL);
}

#endif
