// opencl/functions: The functions of OpenCL that are needed, with names of our own, and how they are found.
#ifndef PROF__OPENCL_FUNCTIONS_H
#define PROF__OPENCL_FUNCTIONS_H
#include "opencl/api.h"
#include "gpu/shared.h"

#if defined(_WIN32) && !defined(_WIN64)
#define PROF__CL_CALL __stdcall
#else
#define PROF__CL_CALL
#endif

enum {
    PROF__CL_NO_TIMES = -7, /* CL_PROFILING_INFO_NOT_AVAILABLE */
    PROF__CL_DEVICE_NAME = 0x102B,
    PROF__CL_QUEUE_DEVICE = 0x1091,
    PROF__CL_QUEUE_PROPERTIES = 0x1093,
    PROF__CL_EVENT_STATUS = 0x11D3,
    PROF__CL_QUEUED = 0x1280, /* of a command; the next three are those of SUBMIT, START and END */
    PROF__CL_OUT_OF_ORDER = 1,
    PROF__CL_PROFILING = 2
};

/* The last one may be missing. */
#define PROF__CL_FUNCTIONS(X)                                                                                          \
    X(queue_info, "clGetCommandQueueInfo", (void *queue, unsigned name, size_t size, void *value, size_t *written))    \
    X(device_info, "clGetDeviceInfo", (void *device, unsigned name, size_t size, void *value, size_t *written))        \
    X(event_info, "clGetEventInfo", (void *event, unsigned name, size_t size, void *value, size_t *written))           \
    X(event_times, "clGetEventProfilingInfo", (void *event, unsigned name, size_t size, void *value, size_t *written)) \
    X(event_retain, "clRetainEvent", (void *event))                                                                    \
    X(event_release, "clReleaseEvent", (void *event))                                                                  \
    X(events_wait, "clWaitForEvents", (unsigned count, void *const *events))                                           \
    X(marker, "clEnqueueMarkerWithWaitList", (void *queue, unsigned count, void *const *events, void **event))         \
    X(timer, "clGetDeviceAndHostTimer", (void *device, uint64_t *device_ns, uint64_t *host_ns))

typedef struct prof__cl_api {
#define PROF__CL_FIELD(field, name, parameters) int (PROF__CL_CALL *field) parameters;
    PROF__CL_FUNCTIONS(PROF__CL_FIELD)
} prof__cl_api;

/* Finds functions in what the program is linked to, or in the library, which is loaded if need be. */
static prof_cl_function prof__cl_find(const char *name)
{
#if defined(_WIN32)
    static const char *const libraries[] = {"OpenCL.dll", NULL};
#elif defined(__APPLE__)
    static const char *const libraries[] = {"/System/Library/Frameworks/OpenCL.framework/OpenCL", NULL};
#else
    static const char *const libraries[] = {"libOpenCL.so.1", "libOpenCL.so", NULL};
#endif
    prof_cl_function function = prof__gpu_symbol(NULL, name);
    void *library = function ? NULL : prof__gpu_library(libraries, 1);
    return library ? prof__gpu_symbol(library, name) : function;
}

static int prof__cl_api_load(prof__cl_api *api, prof_cl_load *load)
{
    static const struct {
        const char *name;
        size_t field;
    } wanted[] = {
#define PROF__CL_WANTED(field, name, parameters) {name, offsetof(prof__cl_api, field)},
        PROF__CL_FUNCTIONS(PROF__CL_WANTED)
    };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; ++i) {
        prof_cl_function function = load ? load(wanted[i].name) : prof__cl_find(wanted[i].name);
        if (!function && wanted[i].field != offsetof(prof__cl_api, timer)) {
            prof__fail(PROF_UNSUPPORTED, "prof_cl_create: there is no %s: %s", wanted[i].name,
                       load || i ? "OpenCL is older than 1.2, or the loader does not find it" :
                                   "install an ICD loader, libOpenCL.so.1 or OpenCL.dll");
            return 0;
        }
        memcpy((char *)api + wanted[i].field, &function, sizeof function);
    }
    return 1;
}

#endif /* PROF__OPENCL_FUNCTIONS_H */
