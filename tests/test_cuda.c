/* prof_cuda.h, with a driver and a CUPTI that are fakes: fake_cupti.c. Each test is a process of its own, because the
   libraries are loaded for good. */
/* run: unchecked */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include <stdlib.h> /* declares the functions under their own names */
#define malloc test_malloc
#define calloc test_calloc
#define realloc test_realloc
void *test_malloc(size_t size);
void *test_calloc(size_t count, size_t size);
void *test_realloc(void *old, size_t size);
#include "private.h"
#include "../prof_cuda.h"
#include "../prof_xplane.h"
#undef malloc
#undef calloc
#undef realloc
#include "test.h"
#include "trace.h"
#include <dlfcn.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static __thread uint64_t allocations; /* of prof, on this thread */
void *test_malloc(size_t size) { return ++allocations, malloc(size); }
void *test_calloc(size_t count, size_t size) { return ++allocations, calloc(count, size); }
void *test_realloc(void *old, size_t size) { return ++allocations, realloc(old, size); }

/*-- a process for each test --*/

#define ALONE(name)                      \
    static void alone_##name(void);      \
    TEST(name) { in_child(alone_##name); } \
    static void alone_##name(void)

static void in_child(void (*run)(void))
{
    int status = 0;
    fflush(stdout);
    pid_t child = fork();
    CHECK(child >= 0);
    if (!child) {
        test_failures = 0;
        run();
        exit(test_failures != 0);
    }
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && !WEXITSTATUS(status));
}

#define CHECK_ERROR(call, status, part)                                                            \
    do {                                                                                           \
        CHECK_EQUAL(call, status);                                                                 \
        if (!strstr(prof_error(), part)) {                                                         \
            ++test_failures;                                                                       \
            printf("%s:%d: \"%s\" has no \"%s\"\n", __FILE__, __LINE__, prof_error(), part);       \
        }                                                                                          \
    } while (0)

/*-- the fake --*/

static const char *fake_path(const char *name)
{
    static char paths[4][1200];
    static unsigned next;
    char *path = paths[next++ % 4];
    ssize_t n = readlink("/proc/self/exe", path, 1000);
    CHECK(n > 0);
    while (n > 0 && path[n - 1] != '/') n--;
    snprintf(path + n, sizeof paths[0] - (size_t)n, "fake_cupti/%s", name);
    return path;
}

typedef struct dim3 {
    unsigned x, y, z;
} dim3;

static struct {
    void (*set)(const char *name, long to);
    long (*get)(const char *name);
    void (*fail)(const char *function, int result);
    int (*context)(void **context, int device);
    int (*current)(void *context);
    int (*stream)(void **stream, unsigned flags);
    int (*module)(void **module, const void *image);
    int (*function)(void **function, void *module, const char *name);
    int (*allocate)(uint64_t *address, size_t bytes);
    int (*release)(uint64_t address);
    int (*to_gpu)(uint64_t to, const void *from, size_t bytes, void *stream);
    int (*to_host)(void *to, uint64_t from, size_t bytes, void *stream);
    int (*fill)(uint64_t to, unsigned number, size_t words, void *stream);
    int (*launch)(void *function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned shared,
                  void *stream, void **parameters, void **extra);
    int (*graph)(void *graph, void *stream);
    int (*wait)(void *stream);
    void (*overhead)(uint32_t what, uint64_t ns);
    void (*migration)(uint32_t counter, uint64_t bytes);
    void (*peer_copy)(uint32_t from, uint32_t to, uint64_t bytes);
    void (*marker)(uint32_t id, uint32_t flags, const char *name);
    int (*runtime_launch)(const void *function, dim3 grid, dim3 block, void **parameters, size_t shared, void *stream);
    int (*runtime_copy)(void *to, const void *from, size_t bytes, int kind, void *stream);
    int (*runtime_allocate)(void **memory, size_t bytes);
    int (*runtime_release)(void *memory);
    int (*runtime_wait)(void *stream);
} fake;

static void fake_open(void)
{
    static const char *const names[] = {
        "fake_set", "fake_get", "fake_fail", "cuDevicePrimaryCtxRetain", "cuCtxSetCurrent", "cuStreamCreate",
        "cuModuleLoadData", "cuModuleGetFunction", "cuMemAlloc_v2", "cuMemFree_v2", "cuMemcpyHtoDAsync_v2",
        "cuMemcpyDtoHAsync_v2", "cuMemsetD32Async", "cuLaunchKernel", "cuGraphLaunch", "cuStreamSynchronize",
        "fake_overhead", "fake_migration", "fake_peer_copy", "fake_marker", "cudaLaunchKernel", "cudaMemcpyAsync",
        "cudaMalloc", "cudaFree", "cudaStreamSynchronize"};
    void *library = dlopen(fake_path("libfake.so"), RTLD_NOW);
    CHECK(library != NULL);
    for (size_t i = 0; library && i < sizeof names / sizeof *names; ++i) {
        void *symbol = dlsym(library, names[i]);
        CHECK(symbol != NULL);
        memcpy((char *)&fake + i * sizeof symbol, &symbol, sizeof symbol);
    }
}

static prof_cuda_config fake_config(void)
{
    prof_cuda_config config;
    memset(&config, 0, sizeof config);
    config.driver = config.cupti = fake_path("libfake.so");
    return config;
}

static void enable(void)
{
    prof_cuda_config config = fake_config();
    fake_open();
    CHECK_EQUAL(prof_cuda_enable(&config), PROF_OK);
}

static void start(const char *key, const char *value)
{
    prof_config config;
    memset(&config, 0, sizeof config);
    config.buffer_size = 8u << 20;
    if (key) CHECK_EQUAL(prof_config_set(&config, key, value), PROF_OK);
    CHECK_EQUAL(prof_start(&config), PROF_OK);
}

static prof_trace *stop(void)
{
    prof_trace *trace = NULL;
    CHECK_EQUAL(prof_stop(), PROF_OK);
    CHECK_EQUAL(prof_trace_open_live(&trace), PROF_OK);
    return trace;
}

/* A function named `name`, ready for launches. */
static void *kernel(const char *name)
{
    void *module = NULL, *function = NULL;
    CHECK_EQUAL(fake.module(&module, "ptx"), 0);
    CHECK_EQUAL(fake.function(&function, module, name), 0);
    return function;
}

static void launch(void *function, void *stream)
{
    fake.launch(function, 128, 1, 1, 256, 1, 1, 1024, stream, NULL, NULL);
}

static void launch_by_runtime(void *function, void *stream)
{
    const dim3 grid = {128, 1, 1}, block = {256, 1, 1};
    fake.runtime_launch(function, grid, block, NULL, 1024, stream);
}

static prof_cuda_counts counted(void)
{
    prof_cuda_counts counts;
    prof_cuda_counted(&counts);
    return counts;
}

/*-- what was recorded --*/

static trace_list row(const prof_trace *trace, const char *device, const char *name)
{
    trace_list none = {NULL, 0, NULL, 0};
    for (size_t i = 0; trace && i < prof_trace_track_count(trace); ++i) {
        const prof_track *track = prof_trace_track(trace, i);
        if (!strcmp(track->device, device) && !strcmp(track->name, name)) return trace_read(trace, i);
    }
    return none;
}

/* The n-th event of a type, and of a name unless that is NULL. */
static const prof_event *event_of(const trace_list *list, prof_event_type type, const char *name, size_t n)
{
    static const prof_event none;
    for (size_t i = 0; i < list->count; ++i)
        if (list->events[i].type == type && (!name || !strcmp(list->events[i].name, name)) && !n--)
            return &list->events[i];
    CHECK(name == NULL);
    if (name) printf("     no %s\n", name);
    return &none;
}

static size_t count_of(const trace_list *list, prof_event_type type, const char *name)
{
    size_t count = 0;
    for (size_t i = 0; i < list->count; ++i)
        count += list->events[i].type == type && (!name || !strcmp(list->events[i].name, name));
    return count;
}

static int64_t end_of(const prof_event *event) { return event->start_ns + event->duration_ns; }

/* Times are those of the system's clock, which somebody may just slow down, and rounded. */
static int near(int64_t ns, int64_t wanted) { return ns > wanted - wanted / 100 && ns < wanted + wanted / 100; }

static const char *text_arg(const prof_event *event, const char *key)
{
    for (uint32_t i = 0; i < event->arg_count; ++i)
        if (!strcmp(event->args[i].key, key) && event->args[i].value.type == PROF_VALUE_STRING)
            return event->args[i].value.as.string;
    return "";
}

static uint64_t number_arg(const prof_event *event, const char *key)
{
    for (uint32_t i = 0; i < event->arg_count; ++i)
        if (!strcmp(event->args[i].key, key)) return event->args[i].value.as.u;
    return ~(uint64_t)0;
}

static const char *said(const prof_trace *trace, const char *wanted)
{
    const char *key, *value, *last = "";
    for (size_t i = 0; trace && prof_trace_metadata(trace, i, &key, &value); ++i)
        if (!strcmp(key, wanted)) last = value;
    return last;
}

static size_t device_events(const prof_trace *trace)
{
    size_t count = 0;
    for (size_t i = 0; trace && i < prof_trace_track_count(trace); ++i)
        if (*prof_trace_track(trace, i)->device) count += prof_trace_track(trace, i)->event_count;
    return count;
}

static trace_list this_thread(const prof_trace *trace)
{
    trace_list none = {NULL, 0, NULL, 0};
    for (size_t i = 0; trace && i < prof_trace_track_count(trace); ++i)
        if (prof_trace_track(trace, i)->thread_id == (uint64_t)getpid()) return trace_read(trace, i);
    CHECK(0);
    return none;
}

/*-- loading --*/

static void check_load(const char *driver, const char *cupti, const char *part)
{
    prof_cuda_config config = fake_config();
    if (driver) config.driver = driver;
    if (cupti) config.cupti = cupti;
    CHECK_ERROR(prof_cuda_enable(&config), PROF_UNSUPPORTED, part);
    CHECK_ERROR(prof_cuda_status(), PROF_UNSUPPORTED, part);
    CHECK_ERROR(prof_cuda_collect(), PROF_INVALID_STATE, "no session");
}

ALONE(what_cannot_be_loaded_is_named)
{
    check_load("/nowhere/libcuda.so.1", NULL, "install NVIDIA's driver");
    check_load(NULL, "/nowhere/libcupti.so.12", "/nowhere/libcupti.so.12");
    check_load(fake_path("libpoor.so"), NULL, "no cuDeviceGetAttribute: install a newer driver");
    check_load(NULL, fake_path("libpoor.so"), "cuptiActivityFlushAll is not in this CUPTI");
    prof_cuda_config config = fake_config();
    config.memory = 1000;
    CHECK_ERROR(prof_cuda_enable(&config), PROF_INVALID_ARGUMENT, "128 KiB");
    /* A call that failed leaves nothing of its prof_cuda_config, whose texts may be gone. */
    char gone[] = "/nowhere/libcupti.so";
    check_load(NULL, gone, gone);
    memset(gone, 'x', sizeof gone - 1);
    CHECK_EQUAL(setenv("PROF_CUDA_DRIVER", fake_path("libfake.so"), 1), 0);
    CHECK_EQUAL(setenv("PROF_CUDA_CUPTI", fake_path("libfake.so"), 1), 0);
    CHECK_EQUAL(prof_cuda_enable(NULL), PROF_OK);
}

/* The driver is asked first: some CUPTI crashes without it. */
static void check_driver(const char *function, int result, const char *part)
{
    prof_cuda_config config = fake_config();
    fake.fail(function, result);
    CHECK_ERROR(prof_cuda_enable(&config), PROF_UNSUPPORTED, part);
    CHECK(strstr(prof_error(), function) != NULL);
    fake.fail(function, 0);
}

ALONE(what_the_driver_says_becomes_a_sentence)
{
    fake_open();
    fake.set("fragile", 1);
    check_driver("cuInit", 100, "CUDA_VISIBLE_DEVICES");
    check_driver("cuInit", 803, "restart the machine");
    check_driver("cuInit", 34, "LD_LIBRARY_PATH");
    check_driver("cuInit", 999, "nvidia-smi");
    check_driver("cuInit", 12345, "12345");
    CHECK_EQUAL(fake.get("inits"), 0);
    check_driver("cuDriverGetVersion", 1, "error 1");
    check_driver("cuDeviceGetCount", 3, "fork()");
    fake.set("devices", 0);
    prof_cuda_config config = fake_config();
    CHECK_ERROR(prof_cuda_enable(&config), PROF_UNSUPPORTED, "no GPU is visible");
    fake.set("devices", 1);
    check_driver("cuptiGetVersion", 999, "error 999");
    fake.set("version", 17);
    CHECK_ERROR(prof_cuda_enable(&config), PROF_UNSUPPORTED, "too old");
    fake.set("version", 18);
    CHECK_EQUAL(prof_cuda_enable(&config), PROF_OK);
    CHECK_ERROR(prof_cuda_status(), PROF_INVALID_STATE, "no session");
}

/* A session goes on without GPUs, says why, and leaves nothing on. */
static void check_refused(const char *function, int result, const char *part)
{
    fake.fail(function, result);
    start(NULL, NULL);
    CHECK_ERROR(prof_cuda_status(), PROF_UNSUPPORTED, part);
    { PROFILE_SCOPE("goes on"); launch(kernel("k"), NULL); }
    CHECK_EQUAL(fake.get("subscribed"), 0);
    CHECK_EQUAL(fake.get("kinds"), 0);
    prof_trace *trace = stop();
    CHECK(strstr(said(trace, "CUDA"), part) != NULL);
    CHECK_EQUAL(device_events(trace), 0);
    prof_trace_close(trace);
    fake.fail(function, 0);
}

ALONE(what_cupti_refuses_becomes_a_sentence)
{
    enable();
    check_refused("cuptiSubscribe", 39, "another profiler uses CUPTI");
    check_refused("cuptiSubscribe", 15, "newer driver");
    check_refused("cuptiSubscribe", 999, "nvidia-smi");
    check_refused("cuptiActivityRegisterCallbacks", 1, "INVALID_PARAMETER");
    check_refused("cuptiActivityEnable", 35, "NVreg_RestrictProfilingToAdminUsers");
    check_refused("cuptiActivityEnable 10", 43, "MIG");
    start(NULL, NULL); /* and after all of them it works */
    launch(kernel("k"), NULL);
    prof_trace *trace = stop();
    CHECK_EQUAL(counted().kernels, 1);
    prof_trace_close(trace);
}

/* What else CUPTI refuses costs only that. */
ALONE(a_kind_that_cupti_lacks_is_said)
{
    enable();
    fake.fail("cuptiActivityEnable 49", 21);
    fake.fail("cuptiEnableCallback", 1);
    fake.fail("cuptiActivityConfigureUnifiedMemoryCounter", 28);
    start(NULL, NULL);
    CHECK_EQUAL(prof_cuda_status(), PROF_OK);
    launch(kernel("k"), NULL);
    prof_trace *trace = stop();
    CHECK(strstr(said(trace, "CUDA allocations not recorded"), "INVALID_KIND") != NULL);
    CHECK_EQUAL(counted().kernels, 1);
    CHECK_EQUAL(counted().calls, 0);
    prof_trace_close(trace);
}

/*-- kernels --*/

/* A kernel's event has what CUPTI said, lies behind its launch, and an arrow leads to it from there. */
ALONE(a_kernel_is_joined_with_its_launch)
{
    void *stream = NULL;
    enable();
    void *function = kernel("_Z4axpyfPfS_");
    CHECK_EQUAL(fake.stream(&stream, 0), 0);
    start(NULL, NULL);
    CHECK_EQUAL(prof_cuda_status(), PROF_OK);
    {
        PROFILE_STEP("train", 7);
        launch(function, stream);
        fake.wait(stream);
    }
    prof_trace *trace = stop();
    trace_list gpu = row(trace, "GPU 0", "Stream #13"), host = this_thread(trace);
    CHECK_EQUAL(count_of(&gpu, PROF_EVENT_SCOPE, NULL), 1);
    const prof_event *run = event_of(&gpu, PROF_EVENT_SCOPE, NULL, 0);
    CHECK(!strcmp(run->name, "_Z4axpyfPfS_") || !strcmp(run->name, "axpy(float, float*, float*)"));
    CHECK_TEXT(text_arg(run, "kernel_details"),
               "regs:32 static_shared:0 dynamic_shared:1024 grid:128,1,1 block:256,1,1 occ_pct:100");
    CHECK_TEXT(text_arg(run, "context_id"), "$$1");
    CHECK(near(end_of(run) - run->start_ns, 10000));
    const prof_event *call = event_of(&host, PROF_EVENT_SCOPE, "cuLaunchKernel", 0);
    const prof_event *step = event_of(&host, PROF_EVENT_SCOPE, "train", 0);
    CHECK_TEXT(call->site->category, "CUDA");
    CHECK_EQUAL(call->depth, step->depth + 1);
    CHECK(call->start_ns >= step->start_ns && end_of(call) <= end_of(step));
    CHECK(call->start_ns <= run->start_ns && end_of(run) <= end_of(step));
    CHECK_EQUAL(number_arg(call, "correlation_id"), number_arg(run, "correlation_id"));
    const prof_event *out = event_of(&host, PROF_EVENT_FLOW_OUT, NULL, 0);
    const prof_event *in = event_of(&gpu, PROF_EVENT_FLOW_IN, NULL, 0);
    CHECK(out->object && out->object == in->object);
    CHECK_TEXT(out->name, in->name); /* without which it is no arrow */
    CHECK(out->start_ns >= call->start_ns && out->start_ns <= end_of(call));
    event_of(&host, PROF_EVENT_SCOPE, "cuStreamSynchronize", 0);
    trace_list waits = row(trace, "CUDA", "synchronization");
    const prof_event *wait = event_of(&waits, PROF_EVENT_SCOPE, "wait for a stream", 0);
    CHECK_EQUAL(number_arg(wait, "stream"), 13);
    CHECK(end_of(wait) >= end_of(run));
    CHECK_TEXT(said(trace, "GPU 0.gpu_device_name"), "Fake GPU 0");
    CHECK_TEXT(said(trace, "GPU 0.compute_cap_major"), "8");
    CHECK_TEXT(said(trace, "GPU 0.memory_bandwidth"), "1555200000000");
    trace_free(&waits);
    trace_free(&gpu);
    trace_free(&host);
    prof_trace_close(trace);
}

/* Records one launch by the runtime, in a step. */
static prof_trace *record_runtime_launch(const char *mode)
{
    enable();
    void *function = kernel("k");
    if (mode) fake.set(mode, 1);
    start(NULL, NULL);
    {
        PROFILE_STEP("train", 7);
        launch_by_runtime(function, NULL);
    }
    prof_trace *trace = stop();
    CHECK_EQUAL(counted().kernels, 1);
    return trace;
}

/* Checks that the arrow from a call, which has this depth inside the step, leads to the kernel. */
static void check_joined(const prof_trace *trace, const char *name, unsigned depth)
{
    trace_list gpu = row(trace, "GPU 0", "Stream #7"), host = this_thread(trace);
    const prof_event *run = event_of(&gpu, PROF_EVENT_SCOPE, "k", 0), *step, *call, *out = NULL;
    const prof_event *in = event_of(&gpu, PROF_EVENT_FLOW_IN, NULL, 0);
    step = event_of(&host, PROF_EVENT_SCOPE, "train", 0);
    call = event_of(&host, PROF_EVENT_SCOPE, name, 0);
    CHECK_EQUAL(call->depth, step->depth + depth);
    CHECK(call->start_ns >= step->start_ns && end_of(call) <= end_of(step));
    CHECK_EQUAL(number_arg(call, "correlation_id"), number_arg(run, "correlation_id"));
    for (size_t i = 0; i < host.count; ++i)
        if (host.events[i].type == PROF_EVENT_FLOW_OUT && host.events[i].object == in->object) {
            CHECK(!out); /* once */
            out = &host.events[i];
        }
    CHECK(out && out->depth == call->depth + 1 && out->start_ns >= call->start_ns && out->start_ns <= end_of(call));
    trace_free(&gpu);
    trace_free(&host);
}

/* The runtime calls the driver. With one correlation that is one call of the program, and one scope. */
ALONE(a_call_of_the_runtime_is_recorded_once)
{
    prof_trace *trace = record_runtime_launch(NULL);
    CHECK_EQUAL(fake.get("calls"), 4); /* begin and end of both */
    CHECK_EQUAL(counted().calls, 1);
    check_joined(trace, "cudaLaunchKernel", 1);
    trace_list host = this_thread(trace);
    CHECK_EQUAL(count_of(&host, PROF_EVENT_SCOPE, NULL), 2);
    CHECK_EQUAL(count_of(&host, PROF_EVENT_FLOW_OUT, NULL), 1);
    CHECK_TEXT(event_of(&host, PROF_EVENT_SCOPE, "cudaLaunchKernel", 0)->site->category, "CUDA");
    trace_free(&host);
    prof_trace_close(trace);
}

/* With two they are two calls, and the kernel is joined with the one whose correlation it has. */
ALONE(a_call_of_the_driver_with_its_own_correlation_is_nested)
{
    prof_trace *trace = record_runtime_launch("apart");
    CHECK_EQUAL(counted().calls, 2);
    check_joined(trace, "cuLaunchKernel", 2);
    trace_list host = this_thread(trace);
    const prof_event *outer = event_of(&host, PROF_EVENT_SCOPE, "cudaLaunchKernel", 0);
    const prof_event *inner = event_of(&host, PROF_EVENT_SCOPE, "cuLaunchKernel", 0);
    CHECK_EQUAL(outer->depth + 1, inner->depth);
    CHECK(outer->start_ns <= inner->start_ns && end_of(inner) <= end_of(outer));
    trace_free(&host);
    prof_trace_close(trace);
}

/* The runtime need not call the driver by a function that CUPTI knows. */
ALONE(a_call_of_the_runtime_needs_none_of_the_driver)
{
    prof_trace *trace = record_runtime_launch("silent");
    CHECK_EQUAL(fake.get("calls"), 2);
    CHECK_EQUAL(counted().calls, 1);
    check_joined(trace, "cudaLaunchKernel", 1);
    prof_trace_close(trace);
}

/* Runtime and driver in one program, on one thread: each call of the program is a scope, and all work is joined. */
ALONE(a_program_may_call_both_runtime_and_driver)
{
    void *memory = NULL;
    char bytes[1000] = "";
    enable();
    void *function = kernel("k");
    fake.set("malloc_fills", 1);
    start(NULL, NULL);
    fake.runtime_allocate(&memory, sizeof bytes); /* fills, what the runtime's call does not say */
    launch_by_runtime(function, NULL);
    launch(function, NULL);
    fake.runtime_copy(memory, bytes, sizeof bytes, 1, NULL);
    fake.to_host(bytes, (uint64_t)(uintptr_t)memory, sizeof bytes, NULL);
    fake.runtime_wait(NULL);
    fake.wait(NULL);
    fake.runtime_release(memory);
    prof_trace *trace = stop();
    trace_list gpu = row(trace, "GPU 0", "Stream #7"), host = this_thread(trace);
    static const char *const names[] = {"cudaMalloc", "cuMemsetD32Async", "cudaLaunchKernel", "cuLaunchKernel",
                                        "cudaMemcpyAsync", "cuMemcpyDtoHAsync_v2", "cudaStreamSynchronize",
                                        "cuStreamSynchronize", "cudaFree"};
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
        CHECK_TEXT(event_of(&host, PROF_EVENT_SCOPE, NULL, i)->name, names[i]);
    CHECK_EQUAL(count_of(&host, PROF_EVENT_SCOPE, NULL), sizeof names / sizeof *names);
    unsigned depth = event_of(&host, PROF_EVENT_SCOPE, NULL, 0)->depth;
    CHECK_EQUAL(event_of(&host, PROF_EVENT_SCOPE, NULL, 1)->depth, depth + 1);
    CHECK_EQUAL(counted().calls, sizeof names / sizeof *names);
    CHECK_EQUAL(count_of(&gpu, PROF_EVENT_FLOW_IN, NULL), 5);
    for (size_t i = 0; i < 5; ++i)
        CHECK_EQUAL(event_of(&host, PROF_EVENT_FLOW_OUT, NULL, i)->object,
                    event_of(&gpu, PROF_EVENT_FLOW_IN, NULL, i)->object);
    trace_free(&gpu);
    trace_free(&host);
    prof_trace_close(trace);
}

/* Copies, fills, allocations, graphs, migrations, overhead. */
ALONE(the_other_kinds_of_records)
{
    uint64_t memory = 0;
    char bytes[1000] = "";
    enable();
    fake.set("devices", 2);
    start(NULL, NULL);
    fake.allocate(&memory, 1000);
    fake.to_gpu(memory, bytes, 1000, NULL);
    fake.fill(memory, 5, 250, NULL);
    fake.to_host(bytes, memory, 1000, NULL);
    fake.graph(NULL, NULL);
    fake.wait(NULL);
    fake.release(memory);
    fake.overhead(5u << 16, 1000);
    fake.migration(1, 4096);
    fake.migration(3, 1);
    fake.peer_copy(0, 1, 512);
    prof_trace *trace = stop();
    prof_cuda_counts counts = counted();
    CHECK_EQUAL(counts.kernels, 2);
    CHECK_EQUAL(counts.copies, 3);
    CHECK_EQUAL(counts.fills, 1);
    CHECK_EQUAL(counts.allocations, 2);
    CHECK_EQUAL(counts.others, 4);
    CHECK_EQUAL(counts.unknown, 0);
    trace_list gpu = row(trace, "GPU 0", "Stream #7");
    const prof_event *in = event_of(&gpu, PROF_EVENT_SCOPE, "MEMCPYHtoD", 0);
    CHECK_TEXT(text_arg(in, "memcpy_details"), "kind_src:pinned kind_dst:device size:1000 dest:0 async:1");
    CHECK_EQUAL(number_arg(in, "bytes"), 1000);
    CHECK_TEXT(text_arg(event_of(&gpu, PROF_EVENT_SCOPE, "Memset", 0), "Memset_details"),
               "kind:device num_bytes:1000 async:1");
    event_of(&gpu, PROF_EVENT_SCOPE, "MEMCPYDtoH", 0);
    CHECK_TEXT(text_arg(event_of(&gpu, PROF_EVENT_SCOPE, "MEMCPYPtoP", 0), "memcpy_details"),
               "kind_src:device kind_dst:device size:512 dest:1 async:0");
    CHECK_EQUAL(number_arg(event_of(&gpu, PROF_EVENT_SCOPE, "second of the graph", 0), "cuda_graph_id"), 3);
    CHECK_EQUAL(number_arg(event_of(&gpu, PROF_EVENT_SCOPE, "first of the graph", 0), "cuda_graph_node_id"), 5);
    trace_free(&gpu);
    gpu = row(trace, "GPU 0", "memory");
    CHECK_TEXT(text_arg(event_of(&gpu, PROF_EVENT_MARK, "MemoryAlloc", 0), "memalloc_details"),
               "kind:device num_bytes:1000");
    CHECK_EQUAL(event_of(&gpu, PROF_EVENT_COUNTER, "allocated since the start", 0)->value.as.i, 1000);
    CHECK_EQUAL(event_of(&gpu, PROF_EVENT_COUNTER, "allocated since the start", 1)->value.as.i, 0);
    trace_free(&gpu);
    gpu = row(trace, "CUDA", "CUPTI overhead");
    CHECK_EQUAL(number_arg(event_of(&gpu, PROF_EVENT_SCOPE, "lazy function loading", 0), "thread"), 77);
    trace_free(&gpu);
    gpu = row(trace, "GPU 0", "unified memory");
    CHECK_EQUAL(number_arg(event_of(&gpu, PROF_EVENT_SCOPE, "migration H2D", 0), "bytes"), 4096);
    CHECK_EQUAL(number_arg(event_of(&gpu, PROF_EVENT_MARK, "page faults of the CPU", 0), "value"), 1);
    trace_free(&gpu);
    prof_trace_close(trace);
}

/* Each version of CUPTI has records of other lengths, and the same fields. */
static void check_version(long version)
{
    uint64_t memory = 0;
    char bytes[100] = "";
    fake_open();
    fake.set("version", version);
    enable();
    start("gpu_enable_nvtx_tracking", "1");
    for (int i = 0; i < 500; ++i) {
        launch(kernel("k"), NULL);
        fake.allocate(&memory, 100);
        fake.to_gpu(memory, bytes, 100, NULL);
        fake.fill(memory, 1, 25, NULL);
        fake.release(memory);
        fake.peer_copy(0, 0, 1);
        fake.migration(2, 1);
        fake.overhead(1, 1);
        fake.marker((uint32_t)i + 1, 2, "range");
        fake.marker((uint32_t)i + 1, 4, NULL);
    }
    fake.wait(NULL);
    prof_trace *trace = stop();
    prof_cuda_counts counts = counted();
    CHECK_EQUAL(counts.kernels, 500);
    CHECK_EQUAL(counts.copies, 1000);
    CHECK_EQUAL(counts.fills, 500);
    CHECK_EQUAL(counts.allocations, 1000);
    CHECK_EQUAL(counts.others, 1001);
    CHECK_EQUAL(counts.ranges, 500);
    CHECK_EQUAL(counts.calls, 500 * 5 + 1 + 500);
    CHECK_EQUAL(counts.unknown + counts.untimed + counts.cupti_dropped, 0);
    CHECK_EQUAL(counts.broken_buffers + counts.ranges_dropped, 0);
    trace_list list = row(trace, "NVTX", "thread #77");
    CHECK_EQUAL(count_of(&list, PROF_EVENT_SCOPE, "range"), 500);
    trace_free(&list);
    prof_trace_close(trace);
}
static void version_12_1(void) { check_version(18); }
static void version_12_4(void) { check_version(22); }
static void version_12_8(void) { check_version(26); }
static void version_13_0(void) { check_version(130001); }
static void version_13_5(void) { check_version(130500); }
TEST(all_versions)
{
    in_child(version_12_1);
    in_child(version_12_4);
    in_child(version_12_8);
    in_child(version_13_0);
    in_child(version_13_5);
}

ALONE(a_graph_is_one_event_if_asked_for)
{
    enable();
    start("gpu_enable_cupti_activity_graph_trace", "true");
    fake.graph(NULL, NULL);
    prof_trace *trace = stop();
    trace_list gpu = row(trace, "GPU 0", "Stream #7");
    const prof_event *graph = event_of(&gpu, PROF_EVENT_SCOPE, "CudaGraph:3", 0);
    CHECK(near(end_of(graph) - graph->start_ns, 20000));
    CHECK_EQUAL(count_of(&gpu, PROF_EVENT_SCOPE, NULL), 1);
    CHECK_EQUAL(count_of(&gpu, PROF_EVENT_FLOW_IN, NULL), 1);
    CHECK_EQUAL(counted().graphs, 1);
    trace_free(&gpu);
    prof_trace_close(trace);
}

/*-- what goes wrong in a session --*/

/* Times of 0, or in the wrong order, are counted, not drawn; so are a kind and a GPU that nobody knows. */
ALONE(records_that_cannot_be_drawn_are_counted)
{
    void *function;
    enable();
    function = kernel("k");
    start(NULL, NULL);
    fake.set("no_stamps", 1);
    launch(function, NULL);
    fake.set("no_stamps", 0);
    fake.set("reversed", 1);
    launch(function, NULL);
    fake.set("reversed", 0);
    fake.set("strange", 1);
    launch(function, NULL);
    fake.set("strange", 0);
    fake.peer_copy(3, 0, 1);
    fake.set("drop", 5);
    prof_trace *trace = stop();
    prof_cuda_counts counts = counted();
    CHECK_EQUAL(counts.kernels, 1);
    CHECK_EQUAL(counts.untimed, 2);
    CHECK_EQUAL(counts.unknown, 2);
    CHECK_EQUAL(counts.cupti_dropped, 5);
    CHECK(!strncmp(said(trace, "CUDA untimed dropped"), "2: ", 3));
    CHECK(!strncmp(said(trace, "CUDA unknown dropped"), "2: ", 3));
    CHECK(!strncmp(said(trace, "CUDA records dropped"), "5: ", 3));
    prof_trace_close(trace);
}

/* A plain flush keeps what runs; the last one takes it without an end. */
ALONE(a_kernel_that_runs_on_is_counted)
{
    enable();
    start(NULL, NULL);
    fake.set("running", 1);
    launch(kernel("k"), NULL);
    CHECK_EQUAL(prof_cuda_collect(), PROF_OK);
    CHECK_EQUAL(counted().untimed, 0);
    prof_trace *trace = stop();
    CHECK_EQUAL(counted().untimed, 1);
    CHECK_EQUAL(fake.get("lent"), 0);
    prof_trace_close(trace);
}

ALONE(a_buffer_that_cannot_be_read_is_counted)
{
    void *function;
    enable();
    function = kernel("k");
    start(NULL, NULL);
    for (int i = 0; i < 6; ++i) launch(function, NULL);
    fake.set("torn", 1);
    prof_trace *trace = stop();
    CHECK_EQUAL(counted().broken_buffers, 2);
    CHECK_EQUAL(counted().kernels, 2); /* the first of each buffer */
    prof_trace_close(trace);
}

/* One buffer, and CUPTI wants two: it drops, and everything else arrives. */
ALONE(memory_for_records_is_bounded)
{
    prof_cuda_config config = fake_config();
    void *function;
    config.memory = 128u << 10;
    fake_open();
    CHECK_EQUAL(prof_cuda_enable(&config), PROF_OK);
    function = kernel("k");
    start(NULL, NULL);
    for (int i = 0; i < 2000; ++i) launch(function, NULL);
    CHECK(fake.get("refused") > 0 && fake.get("lost") > 0);
    fake.set("drop", fake.get("lost"));
    prof_trace *trace = stop();
    CHECK_EQUAL(counted().kernels + (uint64_t)fake.get("lost"), 2000);
    CHECK_EQUAL(counted().cupti_dropped, fake.get("lost"));
    CHECK_EQUAL(fake.get("lent"), 0);
    prof_trace_close(trace);
}

ALONE(a_clock_that_is_set_is_said)
{
    enable();
    start(NULL, NULL);
    launch(kernel("k"), NULL);
    CHECK_EQUAL(prof_cuda_collect(), PROF_OK);
    CHECK_EQUAL(counted().clock_steps, 0);
    fake.set("step", 2000000000);
    CHECK_EQUAL(prof_cuda_collect(), PROF_OK);
    CHECK_EQUAL(counted().clock_steps, 1);
    prof_trace *trace = stop();
    CHECK(*said(trace, "CUDA clock"));
    prof_trace_close(trace);
}

/*-- sessions --*/

ALONE(each_session_has_its_own)
{
    void *function;
    prof_trace *trace;
    enable();
    CHECK_EQUAL(prof_cuda_enable(NULL), PROF_OK); /* again: no change */
    function = kernel("k");
    for (uint64_t i = 1; i <= 3; ++i) {
        launch(function, NULL);
        start(NULL, NULL);
        for (uint64_t n = 0; n < i; ++n) launch(function, NULL);
        trace = stop();
        CHECK_EQUAL(counted().kernels, i);
        CHECK_EQUAL(counted().calls, i);
        CHECK_EQUAL(fake.get("kinds"), 0);
        CHECK_EQUAL(fake.get("subscribed"), 0);
        CHECK_EQUAL(fake.get("lent"), 0);
        trace_list gpu = row(trace, "GPU 0", "Stream #7");
        CHECK_EQUAL(count_of(&gpu, PROF_EVENT_SCOPE, "k"), i);
        trace_free(&gpu);
        prof_trace_close(trace);
    }
    CHECK_EQUAL(prof_cuda_disable(), PROF_OK);
    start(NULL, NULL);
    launch(function, NULL);
    CHECK_ERROR(prof_cuda_status(), PROF_INVALID_STATE, "prof_cuda_enable()");
    CHECK_EQUAL(prof_cuda_enable(NULL), PROF_OK); /* in the middle of a session */
    CHECK_EQUAL(prof_cuda_status(), PROF_OK);
    launch(function, NULL);
    trace = stop();
    CHECK_EQUAL(counted().kernels, 1);
    prof_trace_close(trace);
}

/* host_tracer_level and device_tracer_level of TensorFlow and JAX hold for GPUs, too. */
ALONE(levels_hold)
{
    void *function;
    prof_trace *trace;
    enable();
    function = kernel("k");
    start("device_tracer_level", "0");
    CHECK_ERROR(prof_cuda_status(), PROF_INVALID_STATE, "no_devices");
    launch(function, NULL);
    CHECK_EQUAL(fake.get("subscribed"), 0);
    trace = stop();
    CHECK_EQUAL(device_events(trace), 0);
    prof_trace_close(trace);
    start("host_tracer_level", "0");
    launch(function, NULL);
    trace = stop();
    CHECK_EQUAL(counted().kernels, 1);
    CHECK_EQUAL(counted().calls, 0);
    prof_trace_close(trace);
    start("mode", "stats");
    CHECK_ERROR(prof_cuda_status(), PROF_INVALID_STATE, "stats");
    CHECK_EQUAL(prof_cuda_disable(), PROF_OK);
    CHECK_EQUAL(prof_cuda_enable(NULL), PROF_OK); /* in the middle of such a session */
    CHECK_ERROR(prof_cuda_status(), PROF_INVALID_STATE, "stats");
    CHECK_EQUAL(prof_stop(), PROF_OK);
}

ALONE(limits_of_jax_are_counted)
{
    void *function;
    prof_config config;
    enable();
    function = kernel("k");
    memset(&config, 0, sizeof config);
    CHECK_EQUAL(prof_config_set(&config, "gpu_max_callback_api_events", "10"), PROF_OK);
    CHECK_EQUAL(prof_config_set(&config, "gpu_max_activity_api_events", "20"), PROF_OK);
    CHECK_EQUAL(prof_config_set(&config, "gpu_max_annotation_strings", "3"), PROF_OK);
    CHECK_EQUAL(prof_config_set(&config, "gpu_enable_nvtx_tracking", "true"), PROF_OK);
    CHECK_EQUAL(prof_start(&config), PROF_OK);
    CHECK(getenv("NVTX_INJECTION64_PATH") && strstr(getenv("NVTX_INJECTION64_PATH"), "libfake.so"));
    for (int i = 0; i < 25; ++i) launch(function, NULL), launch_by_runtime(function, NULL);
    for (uint32_t i = 1; i <= 5; ++i) fake.marker(i, 2, "range"), fake.marker(i, 4, NULL);
    fake.marker(9, 1, "instant");
    prof_trace *trace = stop();
    prof_cuda_counts counts = counted();
    CHECK_EQUAL(counts.calls, 10);
    CHECK_EQUAL(counts.calls_dropped, 40);
    CHECK_EQUAL(counts.kernels, 20);
    CHECK_EQUAL(counts.events_dropped, 30);
    CHECK_EQUAL(counts.ranges, 3);
    CHECK_EQUAL(counts.ranges_dropped, 3);
    trace_list gpu = row(trace, "GPU 0", "Stream #7"), host = this_thread(trace);
    trace_list nvtx = row(trace, "NVTX", "thread #77");
    CHECK_EQUAL(count_of(&gpu, PROF_EVENT_SCOPE, NULL), 20);
    CHECK_EQUAL(count_of(&host, PROF_EVENT_SCOPE, "cuLaunchKernel"), 5);
    CHECK_EQUAL(count_of(&host, PROF_EVENT_SCOPE, "cudaLaunchKernel"), 5);
    CHECK_EQUAL(count_of(&nvtx, PROF_EVENT_SCOPE, "range"), 3);
    CHECK(!strncmp(said(trace, "CUDA calls dropped"), "40: ", 4));
    CHECK(!strncmp(said(trace, "CUDA events dropped"), "30: ", 4));
    CHECK(!strncmp(said(trace, "CUDA ranges dropped"), "3: ", 3));
    trace_free(&gpu);
    trace_free(&host);
    trace_free(&nvtx);
    prof_trace_close(trace);
}

ALONE(as_many_gpus_as_asked_for)
{
    void *contexts[3], *function;
    prof_trace *trace;
    fake_open();
    fake.set("devices", 3);
    enable();
    function = kernel("k");
    start("gpu_num_chips_to_profile_per_task", "2");
    for (int i = 0; i < 3; ++i) {
        fake.context(&contexts[i], i);
        fake.current(contexts[i]);
        launch(function, NULL);
    }
    trace = stop();
    CHECK_EQUAL(counted().kernels, 2);
    CHECK_EQUAL(counted().unknown, 0);
    trace_list gpu = row(trace, "GPU 1", "Stream #7");
    CHECK_EQUAL(count_of(&gpu, PROF_EVENT_SCOPE, "k"), 1);
    trace_free(&gpu);
    CHECK_TEXT(said(trace, "GPU 2.device_vendor"), "");
    prof_trace_close(trace);
    start("gpu_num_chips_to_profile_per_task", "9");
    launch(function, NULL);
    trace = stop();
    CHECK_EQUAL(counted().kernels, 1);
    CHECK_TEXT(said(trace, "CUDA: fewer GPUs than gpu_num_chips_to_profile_per_task"), "3");
    prof_trace_close(trace);
}

#define SIXTEEN "a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,"
TEST(keys_of_jax)
{
    static const struct {
        const char *key, *value;
        prof_status status;
        const char *part;
    } cases[] = {
        {"gpu_max_callback_api_events", "many", PROF_INVALID_ARGUMENT, "must be a number"},
        {"gpu_max_activity_api_events", "-1", PROF_INVALID_ARGUMENT, "must be a number"},
        {"gpu_max_annotation_strings", "1048576", PROF_OK, ""},
        {"gpu_enable_nvtx_tracking", "maybe", PROF_INVALID_ARGUMENT, "must be 0 or 1"},
        {"gpu_enable_nvtx_tracking", "False", PROF_OK, ""},
        {"gpu_enable_cupti_activity_graph_trace", "false", PROF_OK, ""},
        {"gpu_pm_sample_counters", "", PROF_OK, ""},
        {"gpu_pm_sample_counters", "sm__cycles_active.avg", PROF_OK, ""},
        {"gpu_pm_sample_counters", "a,,b", PROF_INVALID_ARGUMENT, "commas"},
        {"gpu_pm_sample_counters", "a,", PROF_INVALID_ARGUMENT, "commas"},
        {"gpu_pm_sample_counters", "a, b", PROF_INVALID_ARGUMENT, "no spaces"},
        {"gpu_pm_sample_counters", SIXTEEN SIXTEEN SIXTEEN SIXTEEN "a", PROF_INVALID_ARGUMENT, "64 names"},
        {"gpu_pm_sample_counters", SIXTEEN SIXTEEN SIXTEEN "a,b", PROF_OK, ""},
        {"gpu_pm_sample_interval_us", "500", PROF_OK, ""},
        {"gpu_pm_sample_interval_us", "often", PROF_INVALID_ARGUMENT, "must be a number"},
        {"gpu_pm_sample_interval_us", "0", PROF_INVALID_ARGUMENT, "1 to 1000000000"},
        {"gpu_pm_sample_buffer_size_per_gpu_mb", "64", PROF_OK, ""},
        {"gpu_pm_sample_buffer_size_per_gpu_mb", "4097", PROF_INVALID_ARGUMENT, "1 to 4096"},
        {"gpu_num_chips_to_profile_per_task", "0", PROF_OK, ""},
        {"gpu_dump_graph_node_mapping", "false", PROF_OK, ""},
        {"gpu_dump_graph_node_mapping", "true", PROF_UNSUPPORTED, "no version of JAX"},
        {"gpu_dump_graph_node_mapping", "perhaps", PROF_INVALID_ARGUMENT, "must be 0 or 1"},
        {"gpu_range_profiling_counters", "x", PROF_UNSUPPORTED, "not supported"},
        {"gpu_range_profiling_allow_multipass", "1", PROF_UNSUPPORTED, "not supported"},
        {"gpu_max_calback_api_events", "1", PROF_INVALID_ARGUMENT, "gpu_max_callback_api_events"},
    };
    prof_config config;
    memset(&config, 0, sizeof config);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        prof_status status = prof_config_set(&config, cases[i].key, cases[i].value);
        CHECK_EQUAL(status, cases[i].status);
        if (!status) continue;
        CHECK(strstr(prof_error(), cases[i].part) && strstr(prof_error(), cases[i].key));
    }
}

/*-- performance counters --*/

static void start_counters(const char *counters)
{
    prof_config config;
    memset(&config, 0, sizeof config);
    config.buffer_size = 8u << 20;
    CHECK_EQUAL(prof_config_set(&config, "gpu_pm_sample_counters", counters), PROF_OK);
    CHECK_EQUAL(prof_config_set(&config, "gpu_pm_sample_interval_us", "250"), PROF_OK);
    CHECK_EQUAL(prof_config_set(&config, "gpu_pm_sample_buffer_size_per_gpu_mb", "100"), PROF_OK);
    CHECK_EQUAL(prof_start(&config), PROF_OK);
}

/* Each sample has a value of each counter, whatever room there is for samples, in each version and session. */
static void check_sampling(long version)
{
    fake_open();
    fake.set("version", version);
    enable();
    for (int session = 0; session < 2; ++session) {
        start_counters("two,one");
        CHECK_EQUAL(fake.get("sampling"), 1);
        CHECK_EQUAL(fake.get("sample_ns"), 250000);
        CHECK_EQUAL(fake.get("sample_bytes"), 100 << 20);
        launch(kernel("k"), NULL);
        fake.set("samples", 5000); /* more than are decoded at once */
        CHECK_EQUAL(prof_cuda_collect(), PROF_OK);
        CHECK_EQUAL(counted().samples, 5000);
        fake.set("samples", 3);
        prof_trace *trace = stop();
        CHECK_EQUAL(counted().samples, 5003);
        CHECK_EQUAL(counted().samples_dropped + counted().sample_overflows, 0);
        CHECK_EQUAL(counted().kernels, 1);
        CHECK_EQUAL(fake.get("sampling"), 0);
        CHECK_EQUAL(fake.get("hosts"), 0);
        trace_list samples = row(trace, "GPU 0", "performance counters");
        CHECK_EQUAL(count_of(&samples, PROF_EVENT_COUNTER, "one"), 5003);
        CHECK_EQUAL(count_of(&samples, PROF_EVENT_COUNTER, "two"), 5003);
        const prof_event *one = event_of(&samples, PROF_EVENT_COUNTER, "one", 1);
        const prof_event *two = event_of(&samples, PROF_EVENT_COUNTER, "two", 1);
        CHECK(one->value.type == PROF_VALUE_DOUBLE && one->value.as.d == 2 && two->value.as.d == 4);
        CHECK_EQUAL(one->start_ns, two->start_ns);
        trace_free(&samples);
        prof_trace_close(trace);
    }
    start("gpu_pm_sample_counters", "");
    CHECK_EQUAL(fake.get("sampling"), 0);
    prof_trace_close(stop());
}
static void sampling_12_6(void) { check_sampling(24); }
static void sampling_12_8(void) { check_sampling(26); }
static void sampling_13_5(void) { check_sampling(130500); }
TEST(counters_are_sampled)
{
    in_child(sampling_12_6);
    in_child(sampling_12_8);
    in_child(sampling_13_5);
}

/* What a GPU does not have, or not at the same time, is said; the rest is recorded. */
ALONE(counters_that_cannot_be_sampled_are_said)
{
    fake_open();
    fake.set("version", 26);
    enable();
    start_counters("one,none,heavy,two");
    fake.set("samples", 2);
    prof_trace *trace = stop();
    CHECK(strstr(said(trace, "CUDA none not recorded"), "INVALID_PARAMETER") != NULL);
    CHECK(strstr(said(trace, "CUDA none not recorded"), "ncu --query-metrics-collection pmsampling --chip FA100"));
    CHECK(strstr(said(trace, "CUDA heavy not recorded"), "one pass") != NULL);
    trace_list samples = row(trace, "GPU 0", "performance counters");
    CHECK_EQUAL(count_of(&samples, PROF_EVENT_COUNTER, "one"), 2);
    CHECK_EQUAL(count_of(&samples, PROF_EVENT_COUNTER, "two"), 2);
    CHECK_EQUAL(count_of(&samples, PROF_EVENT_COUNTER, NULL), 4);
    trace_free(&samples);
    prof_trace_close(trace);
    CHECK_EQUAL(fake.get("hosts"), 0);
    start_counters("none");
    CHECK_EQUAL(prof_cuda_status(), PROF_OK);
    launch(kernel("k"), NULL);
    trace = stop();
    CHECK(strstr(said(trace, "GPU 0: performance counters not recorded"), "(FA100) has none") != NULL);
    CHECK_EQUAL(counted().kernels, 1);
    CHECK_EQUAL(fake.get("hosts"), 0);
    prof_trace_close(trace);
}

/* Every call may fail: then there are no counters, and all else. */
ALONE(sampling_that_fails_is_said)
{
    static const char *const calls[] = {
        "cuptiProfilerInitialize", "cuptiDeviceGetChipName", "cuptiPmSamplingGetCounterAvailability",
        "cuptiProfilerHostInitialize", "cuptiProfilerHostGetConfigImageSize", "cuptiProfilerHostGetConfigImage",
        "cuptiProfilerHostGetNumOfPasses", "cuptiPmSamplingEnable", "cuptiPmSamplingSetConfig",
        "cuptiPmSamplingGetCounterDataSize", "cuptiPmSamplingCounterDataImageInitialize", "cuptiPmSamplingStart",
        "cuptiPmSamplingDecodeData", "cuptiPmSamplingGetCounterDataInfo"};
    fake_open();
    fake.set("version", 26);
    enable();
    for (size_t i = 0; i < sizeof calls / sizeof *calls; ++i) {
        int later = i >= 12;
        fake.fail(calls[i], 35);
        start_counters("one");
        launch(kernel("k"), NULL);
        fake.set("samples", 1);
        prof_trace *trace = stop();
        const char *why = said(trace, later ? "GPU 0: performance counters end" :
                                              "GPU 0: performance counters not recorded");
        int found = strstr(why, "run as root") || strstr(why, "has none of"); /* the causes are at each counter */
        CHECK(found);
        if (!found) printf("     %s: \"%s\"\n", calls[i], why);
        CHECK_EQUAL(counted().kernels, 1);
        CHECK_EQUAL(counted().samples, 0);
        CHECK_EQUAL(fake.get("hosts"), 0);
        CHECK_EQUAL(fake.get("sampling"), 0);
        prof_trace_close(trace);
        fake.fail(calls[i], 0);
    }
    start_counters("one");
    fake.fail("cuptiProfilerHostEvaluateToGpuValues", 1);
    fake.set("samples", 4);
    CHECK_EQUAL(prof_cuda_collect(), PROF_OK);
    fake.fail("cuptiProfilerHostEvaluateToGpuValues", 0);
    fake.set("bad_samples", 1);
    fake.set("samples", 3);
    prof_trace *trace = stop();
    CHECK_EQUAL(counted().samples_dropped, 7);
    CHECK(!strncmp(said(trace, "CUDA samples dropped"), "7: ", 3));
    prof_trace_close(trace);
}

/* A CUPTI that is older than sampling. */
ALONE(sampling_that_is_not_there_is_said)
{
    prof_cuda_config config = fake_config();
    config.cupti = fake_path("libolder.so");
    CHECK_EQUAL(prof_cuda_enable(&config), PROF_OK);
    start_counters("one");
    prof_trace *trace = stop();
    CHECK(strstr(said(trace, "GPU 0: performance counters not recorded"),
                 "cuptiPmSamplingEnable is not in this CUPTI: it needs that of CUDA 12.6 or later") != NULL);
    prof_trace_close(trace);
}

/* A GPU without room for its samples begins anew, and that is counted. */
ALONE(a_gpu_without_room_for_samples)
{
    fake_open();
    fake.set("version", 26);
    enable();
    start_counters("one");
    fake.set("sample_overflow", 1);
    fake.set("samples", 2);
    CHECK_EQUAL(prof_cuda_collect(), PROF_OK);
    CHECK_EQUAL(counted().sample_overflows, 1);
    fake.set("sample_room", 1);
    CHECK_EQUAL(prof_cuda_collect(), PROF_OK);
    CHECK_EQUAL(counted().sample_overflows, 2);
    CHECK_EQUAL(fake.get("sampling"), 1);
    fake.set("samples", 2);
    prof_trace *trace = stop();
    CHECK_EQUAL(counted().samples, 4);
    CHECK(!strncmp(said(trace, "CUDA samples of a full GPU dropped"), "2: ", 3));
    prof_trace_close(trace);
}

/*-- XProf --*/

/* Returns how often an XSpace has a text, as a whole string. */
static size_t texts_of(const trace_bytes *all, const char *text)
{
    size_t count = 0, length = strlen(text);
    for (size_t i = 1; i + length <= all->size; ++i)
        count += (unsigned char)all->bytes[i - 1] == length && !memcmp(all->bytes + i, text, length);
    return count;
}

/* The stats have the names that XProf knows, and only kernels count as its kernels. What waits is no work of the GPU. */
ALONE(xprof_has_its_stats)
{
    uint64_t memory = 0;
    char bytes[100] = "";
    trace_bytes all = {NULL, 0, 0, 0};
    enable();
    start("gpu_max_activity_api_events", "4");
    {
        PROFILE_STEP("train", 1);
        fake.allocate(&memory, 100);
        launch(kernel("k"), NULL);
        fake.to_gpu(memory, bytes, 100, NULL);
        fake.fill(memory, 0, 25, NULL);
        fake.release(memory);
        fake.wait(NULL);
    }
    prof_trace *trace = stop();
    CHECK_EQUAL(prof_xplane_stream(trace, trace_sink(&all), NULL), PROF_OK);
    CHECK_EQUAL(texts_of(&all, "/device:GPU:0 GPU 0"), 1);
    CHECK_EQUAL(texts_of(&all, "device_vendor"), 1);
    CHECK_EQUAL(texts_of(&all, "Nvidia"), 2); /* of the plane, and with the metadata */
    CHECK_EQUAL(texts_of(&all, "compute_cap_major"), 1);
    CHECK_EQUAL(texts_of(&all, "correlation_id"), 2); /* of the threads and of the GPU */
    CHECK_EQUAL(texts_of(&all, "arg.correlation_id"), 0);
    CHECK_EQUAL(texts_of(&all, "kernel_details"), 1);
    CHECK_EQUAL(texts_of(&all, "memcpy_details"), 1);
    CHECK_EQUAL(texts_of(&all, "theoretical_occupancy_pct"), 1);
    CHECK_EQUAL(texts_of(&all, "not recorded"), 0);
    CHECK_EQUAL(texts_of(&all, "host steps"), 0); /* a step's time is that of its work */
    CHECK(all.size && strstr(said(trace, "CUDA events dropped"), "gpu_max_activity_api_events"));
    size_t warnings = 0;
    for (size_t i = 0; i + 27 < all.size; ++i) warnings += !memcmp(all.bytes + i, "Detected CUDA events dropped", 27);
    CHECK_EQUAL(warnings, 1);
    free(all.bytes);
    prof_trace_close(trace);
}

/*-- threads, forks, ends --*/

enum { LAUNCHES = 1000, THREADS = 4 };
static void *launching(void *function)
{
    void *stream = NULL;
    fake.stream(&stream, 0);
    { PROFILE_SCOPE("warm"); launch(function, stream); }
    uint64_t before = allocations;
    for (int i = 1; i < LAUNCHES; ++i) {
        PROFILE_SCOPE("work");
        launch(function, stream);
        if (i % 100 == 0) prof_cuda_collect();
    }
    CHECK_EQUAL(allocations, before); /* a launch allocates nothing */
    return NULL;
}

/* Kernels are as many as launches, on a track for each stream, and each has an arrow from its launch. */
ALONE(threads_launch_while_others_collect)
{
    pthread_t threads[THREADS];
    prof_config config;
    uint64_t flows = 0;
    enable();
    void *function = kernel("k");
    fake.set("kernel_ns", 100);
    fake.set("most_records", 50);
    memset(&config, 0, sizeof config);
    config.buffer_size = 32u << 20;
    CHECK_EQUAL(prof_start(&config), PROF_OK);
    for (int i = 0; i < THREADS; ++i) CHECK_EQUAL(pthread_create(&threads[i], NULL, launching, function), 0);
    for (int i = 0; i < THREADS; ++i) pthread_join(threads[i], NULL);
    prof_trace *trace = stop();
    CHECK_EQUAL(counted().kernels, THREADS * LAUNCHES);
    CHECK_EQUAL(counted().calls, THREADS * LAUNCHES);
    for (size_t i = 0; i < prof_trace_track_count(trace); ++i) {
        const prof_track *track = prof_trace_track(trace, i);
        if (strncmp(track->name, "Stream", 6)) continue;
        trace_list gpu = trace_read(trace, i);
        CHECK_EQUAL(count_of(&gpu, PROF_EVENT_SCOPE, "k"), LAUNCHES);
        flows += count_of(&gpu, PROF_EVENT_FLOW_IN, NULL);
        trace_free(&gpu);
    }
    CHECK_EQUAL(flows, THREADS * LAUNCHES);
    prof_trace_close(trace);
}

/* The child says that it has no GPUs, and the parent goes on. */
ALONE(a_fork)
{
    void *function;
    int status = 0;
    enable();
    function = kernel("k");
    start(NULL, NULL);
    launch(function, NULL);
    fflush(stdout);
    pid_t child = fork();
    if (!child) {
        test_failures = 0;
        CHECK_ERROR(prof_cuda_enable(NULL), PROF_UNSUPPORTED, "fork()");
        CHECK_EQUAL(prof_cuda_collect(), PROF_INVALID_STATE);
        if (prof_enabled()) prof_stop();
        start(NULL, NULL);
        CHECK_ERROR(prof_cuda_status(), PROF_UNSUPPORTED, "fork()");
        prof_trace *trace = stop();
        CHECK(strstr(said(trace, "CUDA"), "fork()") != NULL);
        prof_trace_close(trace);
        fflush(stdout);
        _exit(test_failures != 0);
    }
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && !WEXITSTATUS(status));
    launch(function, NULL);
    prof_trace *trace = stop();
    CHECK_EQUAL(counted().kernels, 2);
    prof_trace_close(trace);
}

/* CUDA does not work in the child either if the parent no longer records. */
ALONE(a_fork_after_the_end)
{
    int status = 0;
    enable();
    CHECK_EQUAL(prof_cuda_disable(), PROF_OK);
    fflush(stdout);
    pid_t child = fork();
    if (!child) {
        test_failures = 0;
        start(NULL, NULL);
        CHECK_ERROR(prof_cuda_status(), PROF_INVALID_STATE, "prof_cuda_enable()");
        CHECK_ERROR(prof_cuda_enable(NULL), PROF_UNSUPPORTED, "fork()");
        prof_trace *trace = stop();
        CHECK_TEXT(said(trace, "CUDA"), ""); /* nobody has asked for GPUs */
        prof_trace_close(trace);
        fflush(stdout);
        _exit(test_failures != 0);
    }
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && !WEXITSTATUS(status));
}

/* The service ends a session of a given length: GPUs, too. */
ALONE(a_session_that_ends_by_itself)
{
    enable();
    void *function = kernel("k");
    start("duration", "1s"); /* which the launch must not take */
    launch(function, NULL);
    WAIT_UNTIL(!fake.get("subscribed"));
    CHECK_EQUAL(fake.get("kinds"), 0);
    prof_trace *trace = stop();
    CHECK_EQUAL(counted().kernels, 1);
    trace_list gpu = row(trace, "GPU 0", "Stream #7");
    CHECK_EQUAL(count_of(&gpu, PROF_EVENT_SCOPE, "k"), 1);
    trace_free(&gpu);
    prof_trace_close(trace);
}

/* exit() without prof_stop(). */
static void leave(void)
{
    prof_config config;
    memset(&config, 0, sizeof config);
    config.output = trace_path("left.prof");
    enable();
    CHECK_EQUAL(prof_start(&config), PROF_OK);
    launch(kernel("k"), NULL);
    exit(test_failures != 0);
}

TEST(an_exit_takes_what_is_left)
{
    prof_trace *trace = NULL;
    in_child(leave);
    CHECK_EQUAL(prof_trace_open(trace_path("left.prof"), &trace), PROF_OK);
    trace_list gpu = row(trace, "GPU 0", "Stream #7");
    CHECK_EQUAL(count_of(&gpu, PROF_EVENT_SCOPE, "k"), 1);
    trace_free(&gpu);
    prof_trace_close(trace);
}

TEST_MAIN
