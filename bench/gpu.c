/* gpu.c - what a scope of prof_gl.h costs the host, beside the two queries of OpenGL that it makes, and an event of
   prof_opencl.h.

       cc -O2 -I. -DWITH_EGL bench/gpu.c -o gpu_bench -lEGL -pthread -ldl && ./gpu_bench

   An OpenGL and an OpenCL that cost nothing show what prof adds. With EGL, the same on a real driver. Medians of
   rounds. */
#define PROF_IMPLEMENTATION
#include "prof_gl.h"
#include "prof_opencl.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SCOPES = 500, ROUNDS = 201 };

static unsigned made;
static const unsigned char *get_string(unsigned name)
{
    return (const unsigned char *)(name == 0x1F02 ? "4.6.0" : "none");
}
static void get_integerv(unsigned name, int *value) { *value = name == 0x8864 ? 64 : 0; }
static void get_queryiv(unsigned target, unsigned name, int *value) { (void)target, (void)name, *value = 64; }
static void gen_queries(int count, unsigned *names) { while (count--) *names++ = ++made; }
static void delete_queries(int count, const unsigned *names) { (void)count, (void)names; }
static void query_counter(unsigned name, unsigned target) { (void)name, (void)target; }
static void get_query_object(unsigned name, unsigned what, unsigned *value) { (void)name, (void)what, *value = 1; }
static void get_query_object64(unsigned name, unsigned what, uint64_t *value)
{
    (void)what, *value = prof_host_ns() + name;
}
static void get_integer64v(unsigned name, int64_t *value) { (void)name, *value = (int64_t)prof_host_ns(); }

static prof_gl_function load(const char *name)
{
    static const struct {
        const char *name;
        prof_gl_function function;
    } all[] = {{"glGetString", (prof_gl_function)get_string}, {"glGetIntegerv", (prof_gl_function)get_integerv},
               {"glGetQueryiv", (prof_gl_function)get_queryiv}, {"glGenQueries", (prof_gl_function)gen_queries},
               {"glDeleteQueries", (prof_gl_function)delete_queries},
               {"glQueryCounter", (prof_gl_function)query_counter},
               {"glGetQueryObjectuiv", (prof_gl_function)get_query_object},
               {"glGetQueryObjectui64v", (prof_gl_function)get_query_object64},
               {"glGetInteger64v", (prof_gl_function)get_integer64v}};
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i)
        if (!strcmp(name, all[i].name)) return all[i].function;
    return NULL;
}

static int times_known;
static int cl_queue_info(void *queue, unsigned name, size_t size, void *value, size_t *written)
{
    uint64_t answer = name == 0x1091 ? (uint64_t)(uintptr_t)queue : 2;
    (void)written;
    memcpy(value, &answer, size);
    return 0;
}
static int cl_device_info(void *device, unsigned name, size_t size, void *value, size_t *written)
{
    (void)device, (void)name, (void)written;
    snprintf((char *)value, size, "none");
    return 0;
}
static int cl_event_info(void *event, unsigned name, size_t size, void *value, size_t *written)
{
    (void)event, (void)name, (void)written;
    memset(value, 0, size);
    return 0;
}
static int cl_times(void *event, unsigned name, size_t size, void *value, size_t *written)
{
    uint64_t time = 1000000 + (uint64_t)++times_known * 10;
    (void)event, (void)name, (void)written;
    memcpy(value, &time, size);
    return 0;
}
static int cl_event(void *event) { (void)event; return 0; }
static int cl_wait(unsigned count, void *const *events) { (void)count, (void)events; return 0; }
static int cl_marker(void *queue, unsigned count, void *const *events, void **event)
{
    (void)count, (void)events, *event = queue;
    return 0;
}
static prof_cl_function cl_load(const char *name)
{
    static const struct {
        const char *name;
        prof_cl_function function;
    } all[] = {{"clGetCommandQueueInfo", (prof_cl_function)cl_queue_info},
               {"clGetDeviceInfo", (prof_cl_function)cl_device_info},
               {"clGetEventInfo", (prof_cl_function)cl_event_info},
               {"clGetEventProfilingInfo", (prof_cl_function)cl_times},
               {"clRetainEvent", (prof_cl_function)cl_event}, {"clReleaseEvent", (prof_cl_function)cl_event},
               {"clWaitForEvents", (prof_cl_function)cl_wait},
               {"clEnqueueMarkerWithWaitList", (prof_cl_function)cl_marker}};
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i)
        if (!strcmp(name, all[i].name)) return all[i].function;
    return NULL;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}
static double median(double *values)
{
    qsort(values, ROUNDS, sizeof *values, ascending);
    return values[ROUNDS / 2];
}

static void (*volatile counter)(unsigned, unsigned);

/* Times SCOPES scopes, and twice as many queries, in turns. */
static void measure(const char *what, prof_gl *gl, void (*finish)(void), unsigned first)
{
    static double scopes[ROUNDS], queries[ROUNDS], collects[ROUNDS];
    for (int round = 0; round < ROUNDS; ++round) {
        uint64_t begin = prof_host_ns();
        for (int i = 0; i < SCOPES; ++i) {
            PROFILE_GL_SCOPE(gl, "shadow pass");
        }
        scopes[round] = (double)(prof_host_ns() - begin) / SCOPES;
        if (finish) finish();
        begin = prof_host_ns();
        prof_gl_collect(gl);
        collects[round] = (double)(prof_host_ns() - begin) / SCOPES;
        begin = prof_host_ns();
        for (unsigned i = 0; i < 2 * SCOPES; ++i) counter(first + i, 0x8E28);
        queries[round] = (double)(prof_host_ns() - begin) / SCOPES;
        if (finish) finish();
    }
    double with = median(scopes), without = median(queries);
    printf("%-28s a scope %.1f ns, two queries %.1f ns: %.1f ns more; collected later in %.1f ns\n", what, with,
           without, with - without, median(collects));
}

static void measure_events(void)
{
    static double events[ROUNDS], collects[ROUNDS];
    prof_cl *cl = prof_cl_create(cl_load, NULL);
    int queue = 0;
    for (int round = 0; round < ROUNDS; ++round) {
        uint64_t begin = prof_host_ns();
        for (int i = 0; i < SCOPES; ++i) PROFILE_CL_EVENT(cl, &queue, &queue, "matmul");
        events[round] = (double)(prof_host_ns() - begin) / SCOPES;
        begin = prof_host_ns();
        prof_cl_collect(cl);
        collects[round] = (double)(prof_host_ns() - begin) / SCOPES;
    }
    printf("%-28s an event %.1f ns; collected later in %.1f ns\n", "OpenCL that costs nothing:", median(events),
           median(collects));
    prof_cl_destroy(cl);
}

#ifdef WITH_EGL
#include <EGL/egl.h>
#include <EGL/eglext.h>
static void real(void)
{
    static const EGLint wish[] = {EGL_CONTEXT_MAJOR_VERSION, 3, EGL_CONTEXT_MINOR_VERSION, 3, EGL_NONE};
    EGLDisplay display = eglGetPlatformDisplay(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, NULL);
    if (!eglInitialize(display, NULL, NULL) || !eglBindAPI(EGL_OPENGL_API)) return;
    EGLContext context = eglCreateContext(display, EGL_NO_CONFIG_KHR, EGL_NO_CONTEXT, wish);
    if (!context || !eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, context)) return;
    prof_gl *gl = prof_gl_create(eglGetProcAddress, NULL);
    unsigned names[2 * SCOPES];
    void (*finish)(void) = eglGetProcAddress("glFinish");
    ((void (*)(int, unsigned *))eglGetProcAddress("glGenQueries"))(2 * SCOPES, names);
    counter = (void (*)(unsigned, unsigned))eglGetProcAddress("glQueryCounter");
    measure("OpenGL of this machine:", gl, finish, names[0]);
    prof_gl_destroy(gl);
}
#endif

int main(void)
{
    prof_config config = {0};
    config.buffer_size = 64u << 20;
    if (prof_start(&config)) return puts(prof_error()), 1;
    prof_gl *gl = prof_gl_create(load, NULL);
    if (!gl) return puts(prof_error()), 1;
    counter = query_counter;
    {
        PROFILE_SCOPE("host");
        measure("queries that cost nothing:", gl, NULL, 1);
    }
    prof_gl_destroy(gl);
    prof_gl_options plain = {0};
    plain.no_arrows = 1;
    plain.device = "plain";
    gl = prof_gl_create(load, &plain);
    measure("the same without arrows:", gl, NULL, 1);
    prof_gl_destroy(gl);
    measure_events();
#ifdef WITH_EGL
    real();
#endif
    return prof_stop() ? puts(prof_error()), 1 : 0;
}
