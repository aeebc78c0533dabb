/* Records everything that prof_xplane.h writes, twice over in two "ranks", for tests/xprof/check.py:
   record FOLDER writes FOLDER/rank0.prof, FOLDER/rank0.csv, the same of rank1, and FOLDER/logs/. Then what a program with
   an accelerator does: FOLDER/gpu.csv, and another run of FOLDER/logs. And runs for each kind of warning. */
#define PROF_IMPLEMENTATION
#include "../../prof_xplane.h"

#include <pthread.h>
#include <time.h>

#define STEPS 12

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t batch[STEPS];

static void work(unsigned microseconds)
{
    uint64_t end = prof_host_ns() + microseconds * 1000u;
    while (prof_host_ns() < end) {
    }
}

/* XProf's tables do not tell how scopes nest that begin and end at one instant: after this a counter of 1 MHz has moved. */
static void gap(void)
{
    work(2);
}

static void *loader(void *unused)
{
    int i;
    PROFILE_THREAD("loader \"1\"");
    for (i = 0; i < STEPS; i++) {
        gap();
        PROFILE_SCOPE_C("load", "input");
        PROFILE_FLOW_IN(batch[i]);
        PROFILE_MUTEX_LOCK(&lock, "queue");
        work(50);
        PROFILE_MUTEX_UNLOCK(&lock);
    }
    return unused;
}

/* Each has all types, and keys that XProf takes for its own. */
static void arguments(int i)
{
    PROFILE_SCOPE_C("arguments", "nn");
    PROFILE_ARG_I("least", INT64_MIN);
    PROFILE_ARG_U("most", UINT64_MAX);
    PROFILE_ARG_D("double", 0.1);
    PROFILE_ARG_B("bool", 1);
    PROFILE_ARG_S("text", "a \"quoted\"\nline, k=v#");
    PROFILE_ARG_P("pointer", (void *)(uintptr_t)0x1234);
    PROFILE_ARG_I("group_id", 99);
    PROFILE_ARG_I("flow", 99);
    PROFILE_ARG_S("step_name", "nonsense");
    PROFILE_ARG_I("_r", 1);
    PROFILE_ARG_I("i", i);
    work(10);
}

static void allocate(char **blocks, int i)
{
    gap();
    PROFILE_MEMORY_SCOPE("layer");
    blocks[i] = (char *)malloc(1000u + (size_t)i);
    PROFILE_ALLOC_POOL(blocks[i], 1000 + i, "cpu");
    gap();
}

static void step(int i, char **blocks)
{
    gap();
    PROFILE_STEP("train", i);
    PROFILE_COUNTER("loss", 1.0 / (i + 1));
    PROFILE_COUNTER("bytes \"in\"", i * 1000);
    gap();
    {
        PROFILE_SCOPE_C("forward", "nn");
        PROFILE_FLOW_OUT(batch[i]);
        allocate(blocks, i);
        work(200);
        { PROFILE_SCOPE("train_inner"); work(20); }
        gap();
    }
    gap();
    {
        PROFILE_SCOPE_C("ns::backward(int)", "nn");
        work(100);
        arguments(i);
        gap();
    }
    gap();
    if (i % 3 == 0) PROFILE_MARK("checkpoint");
    PROFILE_LOG(PROF_LOG_WARNING, "step %d of %d", i, STEPS);
    PROFILE_FRAME("render");
}

static void hostile(void)
{
    gap();
    { PROFILE_SCOPE_DYNAMIC("bad \xff utf-8 \xe2\x82"); gap(); }
    gap();
    { PROFILE_SCOPE_DYNAMIC(""); gap(); }
    gap();
    { PROFILE_SCOPE("MemoryAllocation"); gap(); }
    gap();
    { PROFILE_SCOPE("Iterator"); gap(); }
    gap();
    { PROFILE_SCOPE("foo:Bar"); gap(); }
    gap();
    { PROFILE_SCOPE("WhileOp-EvalCond"); gap(); }
    gap();
    { PROFILE_SCOPE("<script>alert(1)</script>"); gap(); }
    gap();
}

static void device(void)
{
    prof_device_clock clock;
    prof_device *npu;
    prof_device_row *queue;
    uint64_t now = prof_host_ns();
    uint64_t flow = prof_flow_new();
    int i;
    memset(&clock, 0, sizeof clock);
    clock.hz = 1000000000;
    npu = prof_device_create("npu 0", &clock);
    queue = prof_device_row_create(npu, "compute");
    prof_device_sync(npu, now, now);
    gap();
    {
        PROFILE_SCOPE("launch");
        PROFILE_FLOW_OUT(flow);
        work(20);
    }
    for (i = 0; i < 5; i++) {
        prof_device_event event;
        memset(&event, 0, sizeof event);
        event.type = PROF_EVENT_SCOPE;
        event.name = "matmul";
        event.start = now + 30000u + (uint64_t)i * 10000u;
        event.end = event.start + 8000u;
        event.flow = i ? 0 : flow;
        prof_device_record(queue, &event);
        prof_device_counter(queue, "busy", event.start, i);
    }
    work(100);
}

/* An allocation of a GPU, or its end, as prof_cuda.h records them. */
static void device_block(prof_device_row *row, const char *name, const char *key, uint64_t address)
{
    prof_device_event event;
    prof_arg args[2];
    memset(&event, 0, sizeof event);
    memset(args, 0, sizeof args);
    args[0].key = key;
    args[0].value.type = PROF_VALUE_STRING;
    args[0].value.as.string = "kind:device num_bytes:1000";
    args[1].key = "address";
    args[1].value.type = PROF_VALUE_POINTER;
    args[1].value.as.u = address;
    event.type = PROF_EVENT_MARK;
    event.name = name;
    event.start = prof_host_ns();
    event.args = args;
    event.arg_count = 2;
    prof_device_record(row, &event);
}

/* A step of a program with an accelerator: work that a flow leads to, work that none does, and names made at run time. */
static void accelerated_step(int i, prof_device_row *compute, prof_device_row *copy)
{
    prof_device_event event;
    uint64_t flow = prof_flow_new(), now;
    int j;
    PROFILE_STEP("train", i);
    gap();
    {
        PROFILE_SCOPE("launch");
        PROFILE_FLOW_OUT(flow);
        gap();
    }
    for (j = 0; j < 5; j++) {
        gap();
        PROFILE_SCOPE_F("job %d", i * 5 + j);
        gap();
    }
    work(200);
    now = prof_host_ns();
    memset(&event, 0, sizeof event);
    event.type = PROF_EVENT_SCOPE;
    event.name = "matmul";
    event.start = now - 150000;
    event.end = now - 70000;
    event.flow = flow;
    prof_device_record(compute, &event);
    prof_device_scope(compute, "relu", now - 60000, now - 50000);
    prof_device_scope(copy, "MEMCPYHtoD", now - 40000, now - 20000);
    prof_device_counter(compute, "busy", now - 60000, i);
}

/* Writes what is recorded as a run of FOLDER/logs. csv: NULL: without FOLDER/csv. */
static int save_run(const char *folder, const char *run, const char *csv)
{
    prof_trace *trace = NULL;
    char path[256];
    int good = !prof_trace_open_live(&trace);
    snprintf(path, sizeof path, "%s/logs/plugins/profile/%s/", folder, run);
    good = good && !prof_xplane_write(trace, path, NULL);
    snprintf(path, sizeof path, "%s/%s", folder, csv ? csv : "");
    good = good && (!csv || !prof_csv_write(trace, path));
    prof_trace_close(trace);
    return good;
}

/* FOLDER/gpu.csv, and the run "gpu" of FOLDER/logs. */
static int record_accelerator(const char *folder)
{
    prof_device_clock clock;
    prof_device *gpu;
    prof_device_row *compute, *copy, *memory;
    prof_config config;
    uint64_t now = prof_host_ns();
    int i;
    memset(&clock, 0, sizeof clock);
    memset(&config, 0, sizeof config);
    clock.hz = 1000000000;
    gpu = prof_device_create("gpu 0", &clock);
    compute = prof_device_row_create(gpu, "compute");
    copy = prof_device_row_create(gpu, "copy");
    memory = prof_device_row_create(gpu, "memory");
    prof_device_sync(gpu, now, now);
    if (prof_start(&config)) return 0;
    prof_set_metadata("gpu 0.memory_size", "5000");
    gap();
    for (i = 0; i < STEPS; i++) accelerated_step(i, compute, copy);
    for (i = 1; i <= 3; i++) device_block(memory, "MemoryAlloc", "memalloc_details", 0x1000 * (uint64_t)i);
    device_block(memory, "MemoryFree", "MemFree_details", 0x2000);
    return !prof_stop() && save_run(folder, "gpu", "gpu.csv");
}

static void steps(void)
{
    int i;
    for (i = 0; i < STEPS; i++) {
        gap();
        PROFILE_STEP("train", i);
        gap();
        { PROFILE_SCOPE("forward"); work(20); }
        gap();
    }
}

static void fill(void)
{
    int i;
    for (i = 0; i < 100000; i++) { PROFILE_SCOPE("many"); }
}

static int start(prof_mode mode, size_t buffer)
{
    prof_config config;
    memset(&config, 0, sizeof config);
    config.mode = mode;
    config.buffer_size = buffer;
    return !prof_start(&config);
}

/* Scopes that began before the recording, that go on after it, and half spans. */
static int record_open(const char *folder)
{
    PROFILE_SCOPE("before");
    PROFILE_BEGIN("begun before");
    if (!start(PROF_RING, 0)) return 0;
    PROFILE_END("begun before");
    PROFILE_ARG_I("late", 1);
    PROFILE_SPAN_END("no begin", 1);
    PROFILE_SPAN_BEGIN("no end", 2);
    {
        PROFILE_SCOPE("open");
        PROFILE_MUTEX_LOCK(&lock, "held");
        steps();
        if (prof_stop()) return 0;
        PROFILE_MUTEX_UNLOCK(&lock);
    }
    return save_run(folder, "open", NULL);
}

/* A capture of a program that has recorded for long, and a capture that is longer than the ring. */
static int record_captures(const char *folder)
{
    char path[256];
    int i, good = start(PROF_RING, 128 << 10);
    PROFILE_SCOPE("main");
    fill();
    for (i = 0; good && i < 2; i++) {
        snprintf(path, sizeof path, "%s/logs/plugins/profile/capture%d/", folder, i);
        good = !prof_xplane_start_trace(path);
        if (i) fill();
        steps();
        good = !prof_xplane_stop_trace() && good;
    }
    return !prof_stop() && good && save_run(folder, "ring", NULL);
}

/* Runs of FOLDER/logs for the warnings of the overview page. */
static int record_kinds(const char *folder)
{
    if (!record_open(folder) || !record_captures(folder)) return 0;
    if (!start(PROF_RING, 0)) return 0;
    fill();
    if (prof_stop() || !save_run(folder, "plain", NULL)) return 0;
    if (!start(PROF_FILL, 128 << 10)) return 0;
    steps();
    fill();
    return !prof_stop() && save_run(folder, "full", NULL);
}

static void record(const char *folder, int rank)
{
    prof_config config;
    pthread_t thread;
    char *blocks[STEPS], image[256], number[2];
    int i;
    memset(&config, 0, sizeof config);
    number[0] = (char)('0' + rank);
    number[1] = 0;
    snprintf(image, sizeof image, "%s/rank%%r.prof", folder);
    config.rank = number;
    config.output = image;
    prof_set_metadata("model", "resnet \"50\"");
    prof_set_metadata("host", "node");
    if (prof_start(&config)) exit(1);
    PROFILE_THREAD("main");
    for (i = 0; i < STEPS; i++) batch[i] = (uint64_t)i % 4; /* ids come again */
    PROFILE_SPAN_BEGIN("request", 1);
    PROFILE_SPAN_BEGIN("request", 2);
    for (i = 0; i < STEPS; i++) step(i, blocks);
    PROFILE_SPAN_END("request", 1);
    if (pthread_create(&thread, NULL, loader, NULL)) exit(1);
    pthread_join(thread, NULL);
    PROFILE_SPAN_END("request", 2);
    for (i = 0; i < STEPS; i++) {
        PROFILE_FREE_POOL(blocks[i], "cpu");
        free(blocks[i]);
    }
    hostile();
    device();
    PROFILE_BEGIN("never ended");
    if (prof_stop()) exit(1);
}

int main(int argc, char **argv)
{
    prof_trace *traces[2] = {NULL, NULL};
    char path[256];
    int i;
    if (argc != 2) return 2;
    for (i = 0; i < 2; i++) {
        record(argv[1], i);
        snprintf(path, sizeof path, "%s/rank%d.prof", argv[1], i);
        if (prof_trace_open(path, &traces[i])) return 1;
    }
    snprintf(path, sizeof path, "%s/logs/plugins/profile/both/", argv[1]);
    if (prof_xplane_merge((const prof_trace *const *)traces, 2, path, NULL)) {
        fprintf(stderr, "%s\n", prof_error());
        return 1;
    }
    for (i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/rank%d.csv", argv[1], i);
        if (prof_csv_write(traces[i], path)) return 1;
        prof_trace_close(traces[i]);
    }
    return !record_accelerator(argv[1]) || !record_kinds(argv[1]);
}
