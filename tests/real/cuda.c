/* Checks prof_cuda.h on a GPU: tools/check_on_gpu.sh runs it. With the fakes of fake_cupti.c it runs anywhere, and says
   so. usage: cuda FOLDER [SECONDS for the clocks] */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#define PROF_IMPLEMENTATION
#include "prof_cuda.h"
#include "prof_chrome.h"
#include "prof_xplane.h"
#include "examples/cuda/driver.h"
#include <pthread.h>
#include <unistd.h>

static int passed, failed, skipped, fake;

static void verdict(int good, const char *what)
{
    printf("%s %s\n", good ? "ok  " : "FAIL", what);
    fflush(stdout);
    if (good)
        ++passed;
    else
        ++failed;
}

static void *kernel, *stream, *other_stream;
static uint64_t memory;
static float *host;
enum { COUNT = 1 << 20 };

static void begin(const char *key, const char *value, size_t buffer)
{
    prof_config config;
    memset(&config, 0, sizeof config);
    config.buffer_size = buffer;
    if (key && prof_config_set(&config, key, value)) printf("FAIL %s\n", prof_error()), ++failed;
    if (prof_start(&config)) printf("FAIL prof_start: %s\n", prof_error()), ++failed;
    if (prof_cuda_status()) printf("FAIL prof_cuda_status: %s\n", prof_error()), ++failed;
}

static prof_trace *end(void)
{
    prof_trace *trace = NULL;
    if (prof_stop() || prof_trace_open_live(&trace)) printf("FAIL prof_stop: %s\n", prof_error()), ++failed;
    return trace;
}

static prof_cuda_counts counted(void)
{
    prof_cuda_counts counts;
    prof_cuda_counted(&counts);
    return counts;
}

static void print_counts(const char *what)
{
    prof_cuda_counts c = counted();
    printf("     %s: %llu calls, %llu kernels, %llu copies, %llu fills, %llu graphs, %llu allocations, %llu others\n",
           what, (unsigned long long)c.calls, (unsigned long long)c.kernels, (unsigned long long)c.copies,
           (unsigned long long)c.fills, (unsigned long long)c.graphs, (unsigned long long)c.allocations,
           (unsigned long long)c.others);
    printf("     dropped: %llu calls, %llu events, %llu records of CUPTI; untimed %llu, unknown %llu, broken %llu\n",
           (unsigned long long)c.calls_dropped, (unsigned long long)c.events_dropped,
           (unsigned long long)c.cupti_dropped, (unsigned long long)c.untimed, (unsigned long long)c.unknown,
           (unsigned long long)c.broken_buffers);
}

/*-- events of all tracks --*/

typedef struct seen {
    size_t kernels, launches, arrows, without_details;
    int64_t earliest, worst_wait; /* ns: from a launch to its kernel, the least; from a kernel's end to the wait's end */
    uint64_t overlaps;            /* pairs of a copy and a kernel that run at the same time */
} seen;

typedef struct span {
    int64_t start, end;
    uint64_t correlation, flow;
    int kind; /* 1: launch, 2: kernel, 3: copy, 4: wait */
} span;
static span *spans;
static size_t span_count, span_room;

static void span_add(int kind, const prof_event *event)
{
    if (span_count == span_room) {
        span_room = span_room * 2 + 1024;
        spans = (span *)realloc(spans, span_room * sizeof *spans);
    }
    span *to = &spans[span_count++];
    memset(to, 0, sizeof *to);
    to->kind = kind;
    to->start = event->start_ns;
    to->end = event->start_ns + event->duration_ns;
    for (uint32_t i = 0; i < event->arg_count; ++i)
        if (!strcmp(event->args[i].key, "correlation_id")) to->correlation = event->args[i].value.as.u;
}

static void read_spans(const prof_trace *trace, seen *all)
{
    memset(all, 0, sizeof *all);
    span_count = 0;
    for (size_t i = 0; i < prof_trace_track_count(trace); ++i) {
        prof_cursor *cursor = NULL;
        prof_event event;
        int gpu = !strncmp(prof_trace_track(trace, i)->device, "GPU", 3);
        if (prof_cursor_open(trace, i, &cursor)) continue;
        while (prof_cursor_next(cursor, &event)) {
            all->arrows += gpu && event.type == PROF_EVENT_FLOW_IN;
            if (event.type != PROF_EVENT_SCOPE) continue;
            int details = 0;
            for (uint32_t n = 0; n < event.arg_count; ++n) details |= !strcmp(event.args[n].key, "kernel_details");
            if (gpu && details) span_add(2, &event), ++all->kernels;
            if (gpu && !details && !strncmp(event.name, "MEMCPY", 6)) span_add(3, &event);
            if (!gpu && !strncmp(event.name, "cuLaunchKernel", 14)) span_add(1, &event), ++all->launches;
            if (!gpu && !strncmp(event.name, "cuStreamSynchronize", 19)) span_add(4, &event);
        }
        prof_cursor_close(cursor);
    }
}

static int by_correlation(const void *a, const void *b)
{
    const span *x = (const span *)a, *y = (const span *)b;
    if (x->correlation != y->correlation) return x->correlation < y->correlation ? -1 : 1;
    return x->kind - y->kind;
}

/* Joins launches and kernels by their correlation ids. Returns how many kernels have a launch. */
static size_t join(seen *all)
{
    size_t joined = 0;
    int64_t last_kernel = 0, last_wait = 0;
    qsort(spans, span_count, sizeof *spans, by_correlation);
    all->earliest = INT64_MAX;
    for (size_t i = 0; i < span_count; ++i) {
        if (spans[i].kind == 4 && spans[i].end > last_wait) last_wait = spans[i].end;
        if (spans[i].kind != 2) continue;
        if (spans[i].end > last_kernel) last_kernel = spans[i].end;
        if (!i || spans[i - 1].kind != 1 || spans[i - 1].correlation != spans[i].correlation) continue;
        ++joined;
        if (spans[i].start - spans[i - 1].start < all->earliest) all->earliest = spans[i].start - spans[i - 1].start;
    }
    all->worst_wait = last_wait - last_kernel;
    for (size_t i = 0; i < span_count; ++i)
        for (size_t k = 0; spans[i].kind == 3 && k < span_count; ++k)
            all->overlaps += spans[k].kind == 2 && spans[k].start < spans[i].end && spans[i].start < spans[k].end;
    return joined;
}

/*-- the checks --*/

static void copies_and_kernels(const char *folder)
{
    char path[1200];
    seen all;
    begin(NULL, NULL, 64u << 20);
    for (int i = 0; i < 20; ++i) {
        PROFILE_STEP("step", i);
        CUDA(cuMemcpyHtoDAsync_v2(memory, host, COUNT * sizeof(float), i % 2 ? stream : other_stream));
        CUDA(driver_launch(kernel, memory, COUNT, 2000, i % 2 ? stream : other_stream));
        CUDA(cuMemcpyDtoHAsync_v2(host, memory, COUNT * sizeof(float), i % 2 ? stream : other_stream));
        CUDA(cuMemsetD32Async(memory, 0, COUNT, i % 2 ? stream : other_stream));
    }
    CUDA(cuStreamSynchronize(stream));
    CUDA(cuStreamSynchronize(other_stream));
    prof_trace *trace = end();
    print_counts("20 rounds in two streams");
    verdict(counted().kernels == 20 && counted().copies == 40 && counted().fills == 20, "as many as were launched");
    read_spans(trace, &all);
    size_t joined = join(&all);
    verdict(joined == all.kernels && all.kernels == 20, "each kernel has its launch");
    verdict(all.arrows >= 80, "an arrow leads to each kernel, copy and fill");
    printf("     from launch to kernel %lld ns at least; the last wait ends %lld ns after the last kernel; "
           "%llu overlaps\n", (long long)all.earliest, (long long)all.worst_wait, (unsigned long long)all.overlaps);
    verdict(all.earliest > -20000, "no kernel begins before its launch (20 us)");
    verdict(all.worst_wait > -20000, "no kernel ends after the wait for it (20 us)");
    snprintf(path, sizeof path, "%s/logs", folder);
    verdict(prof_xplane_write(trace, path, NULL) == PROF_OK, "a log directory for XProf");
    snprintf(path, sizeof path, "%s/gpu.json", folder);
    verdict(prof_save(path) == PROF_OK, "gpu.json, for ui.perfetto.dev");
    prof_trace_close(trace);
}

/* The clocks over a while, as CUPTI and prof see them: a kernel must lie between its launch and its wait. */
static void clocks(int seconds)
{
    seen all;
    begin(NULL, NULL, 64u << 20);
    for (int i = 0; i < seconds * 10; ++i) {
        CUDA(driver_launch(kernel, memory, 256, 1, stream));
        CUDA(cuStreamSynchronize(stream));
        usleep(100000);
    }
    prof_trace *trace = end();
    read_spans(trace, &all);
    size_t joined = join(&all);
    printf("     %d s: from launch to kernel %lld ns at least; the last wait ends %lld ns after the kernel\n", seconds,
           (long long)all.earliest, (long long)all.worst_wait);
    verdict(joined == all.kernels && all.earliest > -20000 && all.worst_wait > -20000, "clocks agree within 20 us");
    verdict(counted().clock_steps == 0, "nobody has set the system's clock");
    prof_trace_close(trace);
}

static uint64_t launch_many(int times)
{
    uint64_t begun = prof_host_ns();
    for (int i = 0; i < times; ++i) {
        CUDA(driver_launch(kernel, memory, 256, 1, stream));
        if (i % 1000 == 999) CUDA(cuStreamSynchronize(stream));
    }
    CUDA(cuStreamSynchronize(stream));
    return (prof_host_ns() - begun) / (uint64_t)times;
}

static void many(void)
{
    const int times = 100000;
    uint64_t without = launch_many(times);
    begin(NULL, NULL, 256u << 20);
    uint64_t with = launch_many(times);
    prof_trace_close(end());
    print_counts("100,000 launches");
    printf("     a launch takes %llu ns, and %llu ns while it is recorded\n", (unsigned long long)without,
           (unsigned long long)with);
    prof_cuda_counts c = counted();
    verdict(c.kernels + c.cupti_dropped + c.untimed == (uint64_t)times, "each is recorded, or counted as dropped");
    verdict(c.kernels == (uint64_t)times, "none is dropped");
}

static void limits(void)
{
    begin("gpu_max_activity_api_events", "1000", 64u << 20);
    launch_many(3000);
    prof_trace_close(end());
    verdict(counted().events_dropped > 0 && counted().kernels <= 1000, "gpu_max_activity_api_events 1000");
    prof_config config;
    memset(&config, 0, sizeof config);
    prof_config_set(&config, "gpu_max_activity_api_events", "2097152");
}

static void graphs(void)
{
    void *graph = NULL, *executable = NULL;
    CUDA(cuStreamBeginCapture_v2(stream, 0));
    CUDA(driver_launch(kernel, memory, 256, 1, stream));
    CUDA(driver_launch(kernel, memory, 256, 1, stream));
    CUDA(cuStreamEndCapture(stream, &graph));
    CUDA(cuGraphInstantiateWithFlags(&executable, graph, 0));
    begin(NULL, NULL, 64u << 20);
    for (int i = 0; i < 10; ++i) CUDA(cuGraphLaunch(executable, stream));
    CUDA(cuStreamSynchronize(stream));
    prof_trace_close(end());
    print_counts("10 graphs of 2 kernels");
    verdict(counted().kernels == 20, "the kernels of a graph");
    begin("gpu_enable_cupti_activity_graph_trace", "1", 64u << 20);
    for (int i = 0; i < 10; ++i) CUDA(cuGraphLaunch(executable, stream));
    CUDA(cuStreamSynchronize(stream));
    prof_trace_close(end());
    print_counts("10 graphs, each as a whole");
    verdict(counted().graphs == 10, "graphs as a whole");
    prof_config config;
    memset(&config, 0, sizeof config);
    prof_config_set(&config, "gpu_enable_cupti_activity_graph_trace", "0");
}

static void allocations(void)
{
    uint64_t address;
    begin(NULL, NULL, 64u << 20);
    for (int i = 0; i < 5; ++i) {
        CUDA(cuMemAlloc_v2(&address, 1 << 20));
        CUDA(cuMemFree_v2(address));
    }
    prof_trace_close(end());
    print_counts("5 allocations and releases");
    verdict(counted().allocations == 10, "allocations and releases");
}

/* Copies by the runtime, if there is one. Whether CUPTI gives its calls and those that it has the driver do one
   correlation, only a GPU can tell: each copy must have its call in any case. */
static void runtime(const char *path)
{
    static const char *const names[] = {"libcudart.so.13", "libcudart.so.12"};
    int (*copy)(void *to, const void *from, size_t bytes, int kind, void *stream) = NULL;
    size_t of_runtime = 0, of_driver = 0, joined = 0;
    void *library = fake ? dlopen(path, RTLD_NOW) : NULL;
    for (size_t i = 0; !fake && !library && i < 2; ++i) library = dlopen(names[i], RTLD_NOW);
    void *symbol = library ? dlsym(library, "cudaMemcpyAsync") : NULL;
    if (!symbol) {
        printf("SKIP calls of the runtime: there is no libcudart.so.12 or .13; LD_LIBRARY_PATH can name its folder\n");
        ++skipped;
        return;
    }
    memcpy(&copy, &symbol, sizeof symbol);
    CUDA(copy((void *)(uintptr_t)memory, host, 1000, 1, stream)); /* the runtime initialises itself */
    begin(NULL, NULL, 64u << 20);
    for (int i = 0; i < 10; ++i) CUDA(copy((void *)(uintptr_t)memory, host, 1000, 1, stream));
    CUDA(cuStreamSynchronize(stream));
    prof_trace *trace = end();
    span_count = 0;
    for (size_t i = 0; i < prof_trace_track_count(trace); ++i) {
        prof_cursor *cursor = NULL;
        prof_event event;
        if (prof_cursor_open(trace, i, &cursor)) continue;
        while (prof_cursor_next(cursor, &event)) {
            if (event.type != PROF_EVENT_SCOPE) continue;
            int outer = !strncmp(event.name, "cudaMemcpy", 10), inner = !strncmp(event.name, "cuMemcpy", 8);
            of_runtime += (size_t)outer;
            of_driver += (size_t)inner;
            if (outer || inner) span_add(1, &event);
            if (!strncmp(event.name, "MEMCPY", 6)) span_add(3, &event);
        }
        prof_cursor_close(cursor);
    }
    prof_trace_close(trace);
    qsort(spans, span_count, sizeof *spans, by_correlation);
    for (size_t i = 1; i < span_count; ++i)
        joined += spans[i].kind == 3 && spans[i - 1].kind == 1 && spans[i - 1].correlation == spans[i].correlation;
    print_counts("10 copies by the runtime");
    printf("     scopes: %zu of the runtime, %zu of the driver\n", of_runtime, of_driver);
    verdict(of_runtime == 10, "calls of the runtime");
    verdict(joined == 10, "each copy has its call");
}

/* Samples a counter for half a second. It may need privileges, or another GPU: then that is said. */
static void counters(void)
{
    prof_trace *trace;
    const char *key, *value, *why = NULL;
    begin("gpu_pm_sample_counters", "sm__cycles_active.avg,sm__cycles_elapsed.avg", 64u << 20);
    for (uint64_t until = prof_host_ns() + 500000000u; prof_host_ns() < until;) launch_many(100);
    trace = end();
    for (size_t i = 0; prof_trace_metadata(trace, i, &key, &value); ++i)
        if (strstr(key, "performance counters") || strstr(key, "sm__cycles")) {
            printf("     %s: %s\n", key, value);
            why = value;
        }
    printf("     %llu samples, %llu without values, %llu overflows\n", (unsigned long long)counted().samples,
           (unsigned long long)counted().samples_dropped, (unsigned long long)counted().sample_overflows);
    if (why) {
        printf("SKIP performance counters: %s\n", why);
        ++skipped;
    } else {
        verdict(fake || counted().samples > 500, "gpu_pm_sample_counters: more than 500 of 1000 samples");
    }
    prof_trace_close(trace);
    prof_config config;
    memset(&config, 0, sizeof config);
    prof_config_set(&config, "gpu_pm_sample_counters", "");
}

int main(int count, char **arguments)
{
    const char *folder = count > 1 ? arguments[1] : ".", *driver = getenv("PROF_CUDA_DRIVER");
    int seconds = count > 2 ? atoi(arguments[2]) : 60;
    void *memory_of_host = NULL;
    fake = driver && strstr(driver, "fake") != NULL;
    if (fake) printf("     with the fakes, not on a GPU\n");
    if (prof_cuda_enable(NULL)) {
        printf("FAIL prof_cuda_enable: %s\n0 passed, 1 failed, 0 skipped\n", prof_error());
        return 1;
    }
    printf("     driver %d, CUPTI %u, %u GPUs\n", prof__cuda.driver, (unsigned)prof__cuda.version, prof__cuda.gpus);
    for (unsigned i = 0; i < prof__cuda.gpus; ++i)
        printf("     GPU %u: %s, %d.%d, %d multiprocessors, %llu MiB\n", i, prof__cuda.gpu[i].name,
               prof__cuda.gpu[i].major, prof__cuda.gpu[i].minor, prof__cuda.gpu[i].processors,
               (unsigned long long)(prof__cuda.gpu[i].bytes >> 20));
    kernel = driver_open();
    if (!kernel) return printf("FAIL no kernel\n0 passed, 1 failed, 0 skipped\n"), 1;
    CUDA(cuStreamCreate(&stream, 1));
    CUDA(cuStreamCreate(&other_stream, 1));
    CUDA(cuMemAlloc_v2(&memory, COUNT * sizeof(float)));
    CUDA(cuMemAllocHost_v2(&memory_of_host, COUNT * sizeof(float)));
    host = (float *)memory_of_host;
    memset(host, 0, COUNT * sizeof(float));
    copies_and_kernels(folder);
    graphs();
    allocations();
    runtime(driver);
    limits();
    many();
    clocks(seconds);
    counters(); /* last: nobody has run it on a GPU */
    printf("%d passed, %d failed, %d skipped\n", passed, failed, skipped);
    return failed != 0;
}
