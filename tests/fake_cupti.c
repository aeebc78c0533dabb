/* fake_cupti.c - a CUDA driver, a runtime and a CUPTI without a GPU, in one library, for tests and demonstrations. The
   names are those of libcuda, libcudart and libcupti, of which it has what prof_cuda.h, its tests and examples/cuda use.
   Records are written by the offsets that NVIDIA's headers have, with the sizes of the version that it plays
   (fake_set("version")), and 0xEE where it writes nothing. Two buffers are open at a time, and come back in the reverse
   order, from a thread of its own.

   Performance counters are sampled from version 24 (12.6) on: "one" is 1 + the number of the sample, "two" twice that,
   "heavy" needs a second pass beside another one. A GPU has taken fake_set("samples") samples when it is asked.

   Kernels "run": a stream has a time until which it is busy. cuStreamSynchronize() waits for that time.

   fake_set(name, value) sets what it does wrong, fake_fail(function, result) lets a function fail from now on, without
   writing its results; fake_get(name) says what it has seen.

   cc -shared -fPIC tests/fake_cupti.c -o libfake.so -pthread */
#define _GNU_SOURCE
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define API __attribute__((visibility("default")))

/*-- what tests set and ask --*/

static struct {
    const char *name;
    long value;
} values[] = {
    {"version", 18},   /* of CUPTI */
    {"driver", 12040}, /* of the driver */
    {"devices", 1},
    {"fragile", 0},    /* 1: a call of CUPTI before cuInit() crashes, as in 13.2 */
    {"no_stamps", 0},  /* 1: kernels have no times */
    {"reversed", 0},   /* 1: kernels end before they begin */
    {"running", 0},    /* 1: kernels do not end */
    {"step", 0},       /* ns by which the system's clock was set */
    {"drop", 0},       /* records that CUPTI says it has dropped */
    {"strange", 0},    /* 1: a record of a kind that nobody knows, with each kernel */
    {"torn", 0},       /* 1: buffers end in an error */
    {"kernel_ns", 10000},
    {"most_records", 0}, /* in a buffer; 0: what fits */
    {"graph", 0},      /* the graph that kernels belong to */
    {"apart", 0},      /* 1: what the runtime has the driver do has a correlation of its own */
    {"silent", 0},     /* 1: what the runtime has the driver do is not called back */
    {"malloc_fills", 0}, /* 1: the runtime's allocations are filled */
    {"samples", 0},    /* that are taken until they are decoded */
    {"sample_step", 1},  /* ns from one to the next */
    {"sample_room", 0}, /* 1: the GPU has no more room: until sampling begins anew, decoding fails */
    {"sample_overflow", 0}, /* 1: once, it had no room */
    {"bad_samples", 0}, /* 1: samples have no times */
    {"inits", 0},      /* counts: */
    {"hosts", 0},      /* objects that evaluate */
    {"sampling", 0},   /* GPUs that sample */
    {"sample_ns", 0},  /* how they do */
    {"sample_bytes", 0},
    {"subscribed", 0},
    {"lent", 0},       /* buffers that are not back yet */
    {"refused", 0},    /* times that there was no buffer */
    {"lost", 0},       /* records for which there was none */
    {"kinds", 0},      /* that are enabled */
    {"records", 0},
    {"flushes", 0},
    {"calls", 0},      /* of callbacks */
    {NULL, 0},
};

static long *value(const char *name)
{
    for (size_t i = 0; values[i].name; ++i)
        if (!strcmp(values[i].name, name)) return &values[i].value;
    fprintf(stderr, "fake_cupti: no %s\n", name);
    abort();
}

API void fake_set(const char *name, long to) { __atomic_store_n(value(name), to, __ATOMIC_SEQ_CST); }
API long fake_get(const char *name) { return __atomic_load_n(value(name), __ATOMIC_SEQ_CST); }
static void count(const char *name, long more) { __atomic_fetch_add(value(name), more, __ATOMIC_SEQ_CST); }

static struct {
    char name[64];
    int result;
} failures[16];

API void fake_fail(const char *function, int result)
{
    for (size_t i = 0; i < 16; ++i) {
        if (failures[i].name[0] && strcmp(failures[i].name, function)) continue;
        snprintf(failures[i].name, sizeof failures[i].name, "%s", function);
        failures[i].result = result;
        return;
    }
}

static int fails(const char *function)
{
    if (!strncmp(function, "cupti", 5) && fake_get("fragile") && !fake_get("inits")) *(volatile int *)16 = 0;
    for (size_t i = 0; i < 16; ++i)
        if (!strcmp(failures[i].name, function)) return failures[i].result;
    return 0;
}
#define MAY_FAIL                               \
    do {                                       \
        int failed = fails(__func__);          \
        if (failed) return failed;             \
    } while (0)

static uint64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec + (uint64_t)fake_get("step");
}

/*-- CUPTI: records --*/

typedef void request_callback(uint8_t **buffer, size_t *size, size_t *most);
typedef void complete_callback(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid);
typedef void api_callback(void *user, uint32_t domain, uint32_t id, const void *data);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static request_callback *request;
static complete_callback *complete;
static api_callback *callback;
static void *callback_user;
static uint8_t called_back[2][1024], kinds[64]; /* called_back: by domain, less 1, and id */

typedef struct buffer {
    uint8_t *data;
    size_t size, used, most, records;
    int unfinished;
} buffer;
static buffer open_buffers[2];
static unsigned next_buffer;

/* The sizes of the records, of this version. */
static size_t size_of(uint32_t kind)
{
    long version = fake_get("version");
    int v128 = version >= 26, v130 = version >= 130001, v135 = version >= 130500;
    switch (kind) {
    case 1: return v135 ? 112 : v128 ? 96 : 88;
    case 2: return v135 ? 104 : 88;
    case 10: return v135 ? 248 : v130 ? 216 : 208;
    case 12: return 56;
    case 17: return version >= 22 ? 56 : 40;
    case 22: return 96;
    case 25: return v128 ? 104 : 64;
    case 38: return v128 ? 56 : 40;
    case 49: return version >= 24 ? 128 : 120;
    case 51: return version >= 22 ? 56 : 48;
    case 59: return 32; /* of a later version */
    default: return 0;
    }
}

static void put16(uint8_t *record, size_t at, uint16_t number) { memcpy(record + at, &number, 2); }
static void put32(uint8_t *record, size_t at, uint32_t number) { memcpy(record + at, &number, 4); }
static void put64(uint8_t *record, size_t at, uint64_t number) { memcpy(record + at, &number, 8); }

static void *complete_all(void *user)
{
    buffer *buffers = (buffer *)user;
    for (int i = 1; i >= 0; --i) {
        if (!buffers[i].data) continue;
        complete(NULL, 0, buffers[i].data, buffers[i].size, buffers[i].used);
        count("lent", -1);
    }
    return NULL;
}

/* Hands over the open buffers from another thread; those with a kernel that runs only if forced. */
static void hand_over(int forced)
{
    buffer full[2];
    pthread_t thread;
    pthread_mutex_lock(&lock);
    memset(full, 0, sizeof full);
    for (int i = 0; i < 2; ++i) {
        if (!open_buffers[i].data || (open_buffers[i].unfinished && !forced)) continue;
        full[i] = open_buffers[i];
        memset(&open_buffers[i], 0, sizeof open_buffers[i]);
    }
    pthread_mutex_unlock(&lock);
    if (!complete || (!full[0].data && !full[1].data)) return;
    if (pthread_create(&thread, NULL, complete_all, full)) abort();
    pthread_join(thread, NULL);
}

/* Returns a record to fill in, with the lock held, or NULL. */
static uint8_t *record_begin(uint32_t kind)
{
    size_t size = size_of(kind);
    pthread_mutex_lock(&lock);
    buffer *to = &open_buffers[next_buffer++ % 2];
    if (to->data && (to->used + size > to->size || (to->most && to->records >= to->most))) {
        pthread_mutex_unlock(&lock);
        hand_over(0);
        pthread_mutex_lock(&lock);
    }
    if (!to->data && request) {
        request(&to->data, &to->size, &to->most);
        to->used = to->records = 0;
        to->unfinished = 0;
        if (fake_get("most_records")) to->most = (size_t)fake_get("most_records");
        count(to->data ? "lent" : "refused", 1);
    }
    if (!to->data || to->used + size > to->size) {
        count("lost", 1);
        pthread_mutex_unlock(&lock);
        return NULL;
    }
    uint8_t *record = to->data + to->used;
    memset(record, 0xEE, size);
    put32(record, 0, kind);
    to->used += size;
    ++to->records;
    if (fake_get("running")) to->unfinished = 1;
    count("records", 1);
    return record;
}
static void record_end(void) { pthread_mutex_unlock(&lock); }

API int cuptiGetVersion(uint32_t *version)
{
    MAY_FAIL;
    *version = (uint32_t)fake_get("version");
    return 0;
}

API int cuptiGetTimestamp(uint64_t *time)
{
    MAY_FAIL;
    *time = now();
    return 0;
}

API int cuptiSubscribe(void **subscriber, api_callback *function, void *user)
{
    MAY_FAIL;
    if (fake_get("subscribed")) return 39;
    fake_set("subscribed", 1);
    callback_user = user;
    __atomic_store_n(&callback, function, __ATOMIC_RELEASE);
    *subscriber = &callback_user;
    return 0;
}

API int cuptiUnsubscribe(void *subscriber)
{
    MAY_FAIL;
    if (subscriber != &callback_user || !fake_get("subscribed")) return 1;
    __atomic_store_n(&callback, NULL, __ATOMIC_RELEASE);
    for (size_t i = 0; i < sizeof called_back; ++i)
        __atomic_store_n(&called_back[i / 1024][i % 1024], 0, __ATOMIC_RELAXED);
    fake_set("subscribed", 0);
    return 0;
}

API int cuptiEnableCallback(uint32_t on, void *subscriber, uint32_t domain, uint32_t id)
{
    MAY_FAIL;
    if (subscriber != &callback_user || domain < 1 || domain > 2 || id >= (domain == 1 ? 700 : 450)) return 1;
    __atomic_store_n(&called_back[domain - 1][id], (uint8_t)on, __ATOMIC_RELAXED);
    return 0;
}

API int cuptiActivityRegisterCallbacks(request_callback *requests, complete_callback *completes)
{
    MAY_FAIL;
    request = requests;
    complete = completes;
    return 0;
}

API int cuptiActivityEnable(uint32_t kind)
{
    char name[40];
    MAY_FAIL;
    snprintf(name, sizeof name, "cuptiActivityEnable %u", (unsigned)kind);
    if (fails(name)) return fails(name);
    if (!size_of(kind)) return 21;
    if (!kinds[kind]) count("kinds", 1);
    kinds[kind] = 1;
    return 0;
}

API int cuptiActivityDisable(uint32_t kind)
{
    MAY_FAIL;
    if (kinds[kind]) count("kinds", -1);
    kinds[kind] = 0;
    return 0;
}

API int cuptiActivityFlushAll(uint32_t flags)
{
    MAY_FAIL;
    count("flushes", 1);
    hand_over(flags & 1);
    return 0;
}

API int cuptiActivityGetNextRecord(uint8_t *data, size_t valid, void **record)
{
    MAY_FAIL;
    uint8_t *at = (uint8_t *)*record;
    uint32_t kind;
    if (at) {
        memcpy(&kind, at, 4);
        at += size_of(kind);
    } else {
        at = data;
    }
    if (fake_get("torn") && at != data) return 21;
    if (at >= data + valid) return 12;
    *record = at;
    return 0;
}

API int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *dropped)
{
    (void)context, (void)stream;
    MAY_FAIL;
    *dropped = (size_t)fake_get("drop");
    fake_set("drop", 0);
    return 0;
}

API int cuptiActivityConfigureUnifiedMemoryCounter(void *configs, uint32_t number)
{
    (void)configs, (void)number;
    MAY_FAIL;
    return 0;
}

/*-- calls of the driver and the runtime --*/

typedef struct about_call {
    uint32_t site;
    const char *function;
    const void *parameters;
    void *result;
    const char *symbol;
    void *context;
    uint32_t context_id;
    uint64_t *data;
    uint32_t correlation;
} about_call;

typedef struct call {
    about_call about;
    uint64_t data;
    uint32_t domain, id;
} call;

static uint32_t last_correlation;
static __thread uint32_t runtime_correlation; /* of the runtime's call that is going on */

static void call_site(call *one, uint32_t site)
{
    api_callback *to = __atomic_load_n(&callback, __ATOMIC_ACQUIRE);
    one->about.site = site;
    one->about.data = &one->data;
    if (!to || !__atomic_load_n(&called_back[one->domain - 1][one->id], __ATOMIC_RELAXED)) return;
    if (one->domain == 1 && runtime_correlation && fake_get("silent")) return;
    count("calls", 1);
    to(callback_user, one->domain, one->id, &one->about);
}

static void call_begin_in(call *one, uint32_t domain, uint32_t id, const char *name)
{
    int new_one = !runtime_correlation || fake_get("apart");
    memset(one, 0, sizeof *one);
    one->domain = domain;
    one->id = id;
    one->about.function = name;
    one->about.context_id = 1;
    one->about.correlation = new_one ? __atomic_add_fetch(&last_correlation, 1, __ATOMIC_SEQ_CST) : runtime_correlation;
    if (domain == 2) runtime_correlation = one->about.correlation;
    call_site(one, 0);
}
static void call_begin(call *one, uint32_t id, const char *name) { call_begin_in(one, 1, id, name); }
static void call_end(call *one)
{
    call_site(one, 1);
    if (one->domain == 2) runtime_correlation = 0;
}

/*-- the driver --*/

typedef struct stream {
    uint32_t id, device;
    uint64_t busy; /* until then */
    int captured;  /* 1: launches become a graph */
} stream;
static stream default_streams[8] = {{7, 0, 0, 0}, {7, 1, 0, 0}, {7, 2, 0, 0}, {7, 3, 0, 0},
                                    {7, 4, 0, 0}, {7, 5, 0, 0}, {7, 6, 0, 0}, {7, 7, 0, 0}};
static uint32_t last_stream = 12;
static __thread uint32_t device_now;

static stream *stream_of(void *handle) { return handle ? (stream *)handle : &default_streams[device_now % 8]; }

/* Lets a stream be busy for so long. Returns when that begins. */
static uint64_t run(stream *on, uint64_t ns)
{
    uint64_t time = now() + 5000, begin;
    pthread_mutex_lock(&lock);
    begin = on->busy > time ? on->busy : time;
    on->busy = begin + ns;
    pthread_mutex_unlock(&lock);
    return begin;
}

static void wait_until(uint64_t time)
{
    while (now() < time) usleep(50);
}

API int cuInit(unsigned flags)
{
    (void)flags;
    MAY_FAIL;
    count("inits", 1);
    return 0;
}

API int cuDriverGetVersion(int *version)
{
    MAY_FAIL;
    *version = (int)fake_get("driver");
    return 0;
}

API int cuDeviceGetCount(int *devices)
{
    MAY_FAIL;
    *devices = (int)fake_get("devices");
    return 0;
}

API int cuDeviceGet(int *device, int ordinal)
{
    MAY_FAIL;
    *device = ordinal;
    return ordinal < fake_get("devices") ? 0 : 101;
}

API int cuDeviceGetName(char *name, int size, int device)
{
    MAY_FAIL;
    snprintf(name, (size_t)size, "Fake GPU %d", device);
    return 0;
}

/* An A100's numbers. */
API int cuDeviceGetAttribute(int *number, int attribute, int device)
{
    static const int known[][2] = {{1, 1024},  {10, 32},     {12, 65536},    {13, 1410000}, {16, 108},  {36, 1215000},
                                   {37, 5120}, {39, 2048},   {75, 8},        {76, 0},       {81, 167936}, {82, 65536},
                                   {106, 32},  {111, 1024}};
    (void)device;
    MAY_FAIL;
    for (size_t i = 0; i < sizeof known / sizeof *known; ++i) {
        if (known[i][0] != attribute) continue;
        *number = known[i][1];
        return 0;
    }
    return 1;
}

API int cuDeviceTotalMem_v2(size_t *bytes, int device)
{
    (void)device;
    MAY_FAIL;
    *bytes = (size_t)40 << 30;
    return 0;
}

API int cuDevicePrimaryCtxRetain(void **context, int device)
{
    call one;
    call_begin(&one, 386, __func__);
    device_now = (uint32_t)device;
    *context = &default_streams[device % 8];
    call_end(&one);
    return 0;
}

API int cuCtxSetCurrent(void *context)
{
    device_now = context ? ((stream *)context)->device : 0;
    return 0;
}

API int cuStreamCreate(void **handle, unsigned flags)
{
    static stream streams[64];
    uint32_t id = __atomic_add_fetch(&last_stream, 1, __ATOMIC_SEQ_CST);
    stream *made = &streams[id % 64];
    (void)flags;
    made->id = id;
    made->captured = 0;
    made->busy = 0;
    made->device = device_now;
    *handle = made;
    return 0;
}

API int cuStreamDestroy_v2(void *handle) { return (void)handle, 0; }

typedef struct kernel_function {
    char name[128];
} kernel_function;

API int cuModuleLoadData(void **module, const void *image)
{
    call one;
    call_begin(&one, 19, __func__);
    *module = (void *)(uintptr_t)image;
    call_end(&one);
    return 0;
}

API int cuModuleUnload(void *module) { return (void)module, 0; }

API int cuModuleGetFunction(void **function, void *module, const char *name)
{
    static kernel_function functions[64];
    (void)module;
    for (size_t i = 0; i < 64; ++i) {
        if (functions[i].name[0] && strcmp(functions[i].name, name)) continue;
        /* records have its address: it is not written again */
        if (!functions[i].name[0]) snprintf(functions[i].name, sizeof functions[i].name, "%s", name);
        *function = &functions[i];
        return 0;
    }
    return 500;
}

static void memory_record(uint32_t operation, uint64_t address, uint64_t bytes, uint32_t correlation)
{
    uint8_t *record = kinds[49] ? record_begin(49) : NULL;
    if (!record) return;
    put32(record, 4, operation);
    put32(record, 8, 3);
    put32(record, 12, correlation);
    put64(record, 16, address);
    put64(record, 24, bytes);
    put64(record, 32, now());
    put32(record, 52, device_now);
    put32(record, 56, 1);
    record_end();
}

API int cuMemAlloc_v2(uint64_t *address, size_t bytes)
{
    call one;
    call_begin(&one, 243, __func__);
    size_t *made = (size_t *)malloc(sizeof *made + bytes);
    *made = bytes;
    *address = (uint64_t)(uintptr_t)(made + 1);
    memory_record(1, *address, bytes, one.about.correlation);
    call_end(&one);
    return 0;
}

API int cuMemFree_v2(uint64_t address)
{
    call one;
    call_begin(&one, 245, __func__);
    size_t *made = (size_t *)(uintptr_t)address - 1;
    memory_record(2, address, *made, one.about.correlation);
    free(made);
    call_end(&one);
    return 0;
}

API int cuMemAllocHost_v2(void **memory, size_t bytes)
{
    call one;
    call_begin(&one, 294, __func__);
    *memory = malloc(bytes);
    call_end(&one);
    return 0;
}

API int cuMemFreeHost(void *memory)
{
    free(memory);
    return 0;
}

static void copy_record(uint8_t kind, const stream *on, uint64_t bytes, uint64_t begin, uint64_t end,
                        uint32_t correlation)
{
    uint8_t *record = kinds[1] ? record_begin(1) : NULL;
    if (!record) return;
    record[4] = kind;
    record[5] = kind == 1 ? 2 : 3;
    record[6] = kind == 2 ? 2 : 3;
    record[7] = 1;
    put64(record, 8, bytes);
    put64(record, 16, begin);
    put64(record, 24, end);
    put32(record, 32, on->device);
    put32(record, 36, 1);
    put32(record, 40, on->id);
    put32(record, 44, correlation);
    put64(record, 64, 0);
    put32(record, 72, 0);
    record_end();
}

/* 10 bytes take a nanosecond. */
API int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes, void *handle)
{
    call one;
    stream *on = stream_of(handle);
    call_begin(&one, 277, __func__);
    memcpy((void *)(uintptr_t)to, from, bytes);
    uint64_t begin = run(on, bytes / 10);
    copy_record(1, on, bytes, begin, begin + bytes / 10, one.about.correlation);
    call_end(&one);
    return 0;
}

API int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes, void *handle)
{
    call one;
    stream *on = stream_of(handle);
    call_begin(&one, 279, __func__);
    memcpy(to, (void *)(uintptr_t)from, bytes);
    uint64_t begin = run(on, bytes / 10);
    copy_record(2, on, bytes, begin, begin + bytes / 10, one.about.correlation);
    call_end(&one);
    return 0;
}

API int cuMemsetD32Async(uint64_t to, unsigned number, size_t words, void *handle)
{
    call one;
    stream *on = stream_of(handle);
    call_begin(&one, 220, __func__);
    for (size_t i = 0; i < words; ++i) ((unsigned *)(uintptr_t)to)[i] = number;
    uint64_t begin = run(on, words / 10 + 1);
    uint8_t *record = kinds[2] ? record_begin(2) : NULL;
    if (record) {
        put32(record, 4, number);
        put64(record, 8, words * 4);
        put64(record, 16, begin);
        put64(record, 24, begin + words / 10 + 1);
        put32(record, 32, on->device);
        put32(record, 36, 1);
        put32(record, 40, on->id);
        put32(record, 44, one.about.correlation);
        put16(record, 48, 1);
        put16(record, 50, 3);
        put64(record, 64, 0);
        put32(record, 72, 0);
        record_end();
    }
    call_end(&one);
    return 0;
}

static void kernel_record(const kernel_function *kernel, const unsigned *grid, const unsigned *block, unsigned shared,
                          const stream *on, uint64_t begin, uint64_t end, uint32_t correlation)
{
    uint8_t *record = kinds[10] ? record_begin(10) : NULL;
    if (!record) return;
    put16(record, 6, 32);
    put64(record, 16, fake_get("no_stamps") ? 0 : begin);
    put64(record, 24, fake_get("no_stamps") || fake_get("running") ? 0 : fake_get("reversed") ? begin - 1 : end);
    put32(record, 40, on->device);
    put32(record, 44, 1);
    put32(record, 48, on->id);
    for (size_t i = 0; i < 3; ++i) {
        put32(record, 52 + 4 * i, grid[i]);
        put32(record, 64 + 4 * i, block[i]);
    }
    put32(record, 76, 0);
    put32(record, 80, shared);
    put32(record, 92, correlation);
    put64(record, 104, (uint64_t)(uintptr_t)kernel->name);
    put32(record, 140, 0);
    put64(record, 144, fake_get("graph") ? 5 : 0);
    put32(record, 156, (uint32_t)fake_get("graph"));
    record_end();
}

API int cuLaunchKernel(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                       unsigned block_y, unsigned block_z, unsigned shared, void *handle, void **parameters,
                       void **extra)
{
    const unsigned grid[3] = {grid_x, grid_y, grid_z}, block[3] = {block_x, block_y, block_z};
    call one;
    stream *on = stream_of(handle);
    (void)parameters, (void)extra;
    call_begin(&one, 307, __func__);
    if (on->captured) {
        call_end(&one);
        return 0;
    }
    uint64_t ns = (uint64_t)fake_get("kernel_ns"), begin = run(on, ns);
    kernel_record((kernel_function *)function, grid, block, shared, on, begin, begin + ns, one.about.correlation);
    if (fake_get("strange")) {
        uint8_t *record = record_begin(59);
        if (record) record_end();
    }
    call_end(&one);
    return 0;
}

API int cuStreamBeginCapture_v2(void *handle, int mode)
{
    (void)mode;
    stream_of(handle)->captured = 1;
    return 0;
}

API int cuStreamEndCapture(void *handle, void **graph)
{
    stream_of(handle)->captured = 0;
    *graph = &default_streams;
    return 0;
}

API int cuGraphInstantiateWithFlags(void **executable, void *graph, unsigned long long flags)
{
    (void)flags;
    *executable = graph;
    return 0;
}

/* A graph of two kernels on one stream, whatever was captured. With the kind 51 a single record, otherwise one for each kernel. */
API int cuGraphLaunch(void *graph, void *handle)
{
    static const kernel_function kernel[2] = {{"first of the graph"}, {"second of the graph"}};
    static const unsigned one_block[3] = {1, 1, 1}, threads[3] = {128, 1, 1};
    call one;
    stream *on = stream_of(handle);
    (void)graph;
    call_begin(&one, 514, __func__);
    uint64_t ns = (uint64_t)fake_get("kernel_ns"), begin = run(on, 2 * ns);
    if (kinds[51]) {
        uint8_t *record = record_begin(51);
        if (record) {
            put32(record, 4, one.about.correlation);
            put64(record, 8, begin);
            put64(record, 16, begin + 2 * ns);
            put32(record, 24, on->device);
            put32(record, 28, 3);
            put32(record, 32, 1);
            put32(record, 36, on->id);
            record_end();
        }
    } else {
        fake_set("graph", 3);
        for (unsigned i = 0; i < 2; ++i)
            kernel_record(&kernel[i], one_block, threads, 0, on, begin + i * ns, begin + (i + 1) * ns,
                          one.about.correlation);
        fake_set("graph", 0);
    }
    call_end(&one);
    return 0;
}

API int cuStreamSynchronize(void *handle)
{
    call one;
    stream *on = stream_of(handle);
    call_begin(&one, 126, __func__);
    uint64_t begin = now();
    wait_until(on->busy);
    uint8_t *record = kinds[38] ? record_begin(38) : NULL;
    if (record) {
        put32(record, 4, 3);
        put64(record, 8, begin);
        put64(record, 16, now());
        put32(record, 24, one.about.correlation);
        put32(record, 28, 1);
        put32(record, 32, on->id);
        record_end();
    }
    call_end(&one);
    return 0;
}

/*-- the runtime, whose calls call the driver --*/

typedef struct dim3 {
    unsigned x, y, z;
} dim3;

API int cudaLaunchKernel(const void *function, dim3 grid, dim3 block, void **parameters, size_t shared, void *handle)
{
    call one;
    call_begin_in(&one, 2, 211, __func__);
    int result = cuLaunchKernel((void *)(uintptr_t)function, grid.x, grid.y, grid.z, block.x, block.y, block.z,
                                (unsigned)shared, handle, parameters, NULL);
    call_end(&one);
    return result;
}

/* Here memory of the host and of a GPU are alike; kind: 1: to the GPU, 2: from it. */
API int cudaMemcpyAsync(void *to, const void *from, size_t bytes, int kind, void *handle)
{
    call one;
    call_begin_in(&one, 2, 41, __func__);
    int result = kind == 1 ? cuMemcpyHtoDAsync_v2((uint64_t)(uintptr_t)to, from, bytes, handle)
                           : cuMemcpyDtoHAsync_v2(to, (uint64_t)(uintptr_t)from, bytes, handle);
    call_end(&one);
    return result;
}

API int cudaMalloc(void **memory, size_t bytes)
{
    call one;
    uint64_t address = 0;
    call_begin_in(&one, 2, 20, __func__);
    int result = cuMemAlloc_v2(&address, bytes);
    *memory = (void *)(uintptr_t)address;
    if (fake_get("malloc_fills")) cuMemsetD32Async(address, 0, bytes / 4, NULL);
    call_end(&one);
    return result;
}

API int cudaFree(void *memory)
{
    call one;
    call_begin_in(&one, 2, 22, __func__);
    int result = cuMemFree_v2((uint64_t)(uintptr_t)memory);
    call_end(&one);
    return result;
}

API int cudaStreamSynchronize(void *handle)
{
    call one;
    call_begin_in(&one, 2, 131, __func__);
    int result = cuStreamSynchronize(handle);
    call_end(&one);
    return result;
}

/* Records of what the driver here does not do. */
API void fake_overhead(uint32_t what, uint64_t ns)
{
    uint8_t *record = kinds[17] ? record_begin(17) : NULL;
    if (!record) return;
    put32(record, 4, what);
    put32(record, 8, 2);
    put32(record, 12, (uint32_t)getpid());
    put32(record, 16, 77);
    put64(record, 24, now());
    put64(record, 32, now() + ns);
    record_end();
}

API void fake_migration(uint32_t counter, uint64_t bytes)
{
    uint8_t *record = kinds[25] ? record_begin(25) : NULL;
    if (!record) return;
    put32(record, 4, counter);
    put64(record, 8, bytes);
    put64(record, 16, now());
    put64(record, 24, now() + 1000);
    put64(record, 32, 0x7000);
    put32(record, 40, 0);
    put32(record, 44, 0);
    put32(record, 48, 0);
    record_end();
}

API void fake_peer_copy(uint32_t from, uint32_t to, uint64_t bytes)
{
    uint8_t *record = kinds[22] ? record_begin(22) : NULL;
    if (!record) return;
    record[4] = 10;
    record[5] = record[6] = 3;
    record[7] = 0;
    put64(record, 8, bytes);
    put64(record, 16, now());
    put64(record, 24, now() + 1000);
    put32(record, 32, from);
    put32(record, 36, 1);
    put32(record, 40, 7);
    put32(record, 44, from);
    put32(record, 52, to);
    put32(record, 60, 0);
    put64(record, 72, 0);
    put32(record, 80, 0);
    record_end();
}

API void fake_marker(uint32_t id, uint32_t flags, const char *name)
{
    uint8_t *record = kinds[12] ? record_begin(12) : NULL;
    if (!record) return;
    put32(record, 4, flags);
    put64(record, 8, now());
    put32(record, 16, id);
    put32(record, 20, 2);
    put32(record, 24, (uint32_t)getpid());
    put32(record, 28, 77);
    put64(record, 40, (uint64_t)(uintptr_t)name);
    put64(record, 48, 0);
    record_end();
}

/*-- sampling: each function takes a struct with its size, which has to be one that the version knows --*/

typedef struct sampler {
    int sampling, device, decoded; /* decoded: samples in the image */
    long first;                    /* the number of the first of them */
    uint64_t last;                 /* when samples were last decoded */
} sampler;
typedef struct host_object {
    int broken;
    size_t count;
    char names[64][64];
} host_object;
typedef struct sized { size_t size; void *reserved; } sized;

static int known_size(const void *parameters, size_t size)
{
    const sized *p = (const sized *)parameters;
    return fake_get("version") >= 24 && p->size == size && !p->reserved;
}
/* Some structs have grown in a version. */
static int grown_size(const void *parameters, size_t before, long version, size_t since)
{
    return known_size(parameters, fake_get("version") >= version ? since : before);
}
#define TAKES(type, size)          \
    type *p = (type *)parameters;  \
    MAY_FAIL;                      \
    if (!known_size(p, size)) return 1

API int cuptiProfilerInitialize(void *parameters)
{
    TAKES(sized, 16);
    return 0;
}

typedef struct chip_parameters { sized head; size_t device; const char *name; } chip_parameters;
API int cuptiDeviceGetChipName(void *parameters)
{
    TAKES(chip_parameters, 32);
    p->name = "FA100";
    return p->device < (size_t)fake_get("devices") ? 0 : 1;
}

typedef struct available_parameters { sized head; size_t device, bytes; uint8_t *image; } available_parameters;
API int cuptiPmSamplingGetCounterAvailability(void *parameters)
{
    TAKES(available_parameters, 40);
    if (p->image && p->bytes < 100) return 1;
    p->bytes = 100;
    if (p->image) memset(p->image, 0xAA, 100);
    return 0;
}

typedef struct host_parameters {
    sized head; uint32_t type; const char *chip; const uint8_t *available; host_object *object; const char *set;
} host_parameters;
API int cuptiProfilerHostInitialize(void *parameters)
{
    host_parameters *p = (host_parameters *)parameters;
    MAY_FAIL;
    if (!grown_size(p, 48, 130500, 56) || p->type != 1 || strcmp(p->chip, "FA100") || !p->available ||
        p->available[99] != 0xAA)
        return 1;
    p->object = (host_object *)calloc(1, sizeof *p->object);
    count("hosts", 1);
    return 0;
}

typedef struct object_parameters { sized head; void *object; } object_parameters;
API int cuptiProfilerHostDeinitialize(void *parameters)
{
    TAKES(object_parameters, 24);
    free(p->object);
    count("hosts", -1);
    return 0;
}

typedef struct metrics_parameters { sized head; host_object *host; const char **names; size_t count; } metrics_parameters;
/* After a name that it does not know it is of no use. */
API int cuptiProfilerHostConfigAddMetrics(void *parameters)
{
    TAKES(metrics_parameters, 40);
    if (p->host->broken) return 999;
    for (size_t i = 0; i < p->count; ++i) {
        const char *name = p->names[i];
        if (strcmp(name, "one") && strcmp(name, "two") && strcmp(name, "heavy")) {
            p->host->broken = 1;
            return 1;
        }
        snprintf(p->host->names[p->host->count++], 64, "%s", name);
    }
    return 0;
}

typedef struct config_parameters { sized head; host_object *host; size_t bytes; uint8_t *image; } config_parameters;
API int cuptiProfilerHostGetConfigImageSize(void *parameters)
{
    TAKES(config_parameters, 32);
    p->bytes = 16;
    return 0;
}

API int cuptiProfilerHostGetConfigImage(void *parameters)
{
    TAKES(config_parameters, 40);
    if (p->bytes < 16 || p->host->broken) return 1;
    int heavy = 0;
    for (size_t i = 0; i < p->host->count; ++i) heavy |= !strcmp(p->host->names[i], "heavy");
    memset(p->image, 0, 16);
    p->image[0] = (uint8_t)(heavy && p->host->count > 1 ? 2 : 1); /* passes */
    p->image[1] = (uint8_t)p->host->count;
    return 0;
}

typedef struct passes_parameters { sized head; size_t bytes; uint8_t *image; size_t passes; } passes_parameters;
API int cuptiProfilerHostGetNumOfPasses(void *parameters)
{
    TAKES(passes_parameters, 40);
    p->passes = p->image[0];
    return 0;
}

static sampler samplers[8];
typedef struct enable_parameters { sized head; size_t device; sampler *object; } enable_parameters;
API int cuptiPmSamplingEnable(void *parameters)
{
    static int enabled[8];
    TAKES(enable_parameters, 32);
    if (p->device >= 8 || enabled[p->device]++) return 7;
    p->object = &samplers[p->device];
    return 0;
}

typedef struct set_parameters {
    sized head; sampler *object; size_t bytes; const uint8_t *image; size_t buffer; uint64_t interval;
    uint32_t trigger, keeps;
} set_parameters;
API int cuptiPmSamplingSetConfig(void *parameters)
{
    set_parameters *p = (set_parameters *)parameters;
    MAY_FAIL;
    if (!grown_size(p, 60, 26, 64)) return 1;
    if (p->object < samplers || p->object >= samplers + 8 || p->object->sampling || p->bytes != 16 ||
        p->image[0] != 1 || p->trigger != 1)
        return 1;
    fake_set("sample_ns", (long)p->interval);
    fake_set("sample_bytes", (long)p->buffer);
    return 0;
}

typedef struct data_size_parameters {
    sized head; sampler *object; const char **names; size_t count; uint32_t most; size_t bytes;
} data_size_parameters;
API int cuptiPmSamplingGetCounterDataSize(void *parameters)
{
    TAKES(data_size_parameters, 56);
    p->bytes = 8 * (size_t)p->most;
    return 0;
}

typedef struct data_parameters { sized head; sampler *object; size_t bytes; uint8_t *image; } data_parameters;
API int cuptiPmSamplingCounterDataImageInitialize(void *parameters)
{
    TAKES(data_parameters, 40);
    memset(p->image, 0, p->bytes);
    p->object->first += p->object->decoded;
    p->object->decoded = 0;
    return 0;
}

API int cuptiPmSamplingStart(void *parameters)
{
    TAKES(object_parameters, 24);
    sampler *it = (sampler *)p->object;
    if (it->sampling) return 7;
    it->sampling = 1;
    it->last = now();
    count("sampling", 1);
    fake_set("sample_room", 0);
    return 0;
}

API int cuptiPmSamplingStop(void *parameters)
{
    TAKES(object_parameters, 24);
    sampler *it = (sampler *)p->object;
    if (!it->sampling) return 7;
    it->sampling = 0;
    count("sampling", -1);
    return 0;
}

typedef struct decode_parameters {
    sized head; sampler *object; uint8_t *image; size_t bytes; uint32_t reason; uint8_t overflow;
} decode_parameters;
/* Decodes what there is room for in the image, which has to be empty. */
API int cuptiPmSamplingDecodeData(void *parameters)
{
    TAKES(decode_parameters, 45);
    if (fake_get("sample_room")) return 8;
    if (p->object->decoded) return 7;
    long samples = fake_get("samples"), room = (long)(p->bytes / 8);
    p->reason = samples > room ? 1 : 2;
    p->object->decoded = (int)(samples > room ? room : samples);
    fake_set("samples", samples - p->object->decoded);
    p->overflow = (uint8_t)fake_get("sample_overflow");
    fake_set("sample_overflow", 0);
    return 0;
}

typedef struct info_parameters {
    sized head; const uint8_t *image; size_t bytes, total, populated, completed;
} info_parameters;
API int cuptiPmSamplingGetCounterDataInfo(void *parameters)
{
    TAKES(info_parameters, 56);
    p->total = p->bytes / 8;
    p->populated = p->completed = 0;
    for (size_t i = 0; i < 8; ++i) p->completed += (size_t)samplers[i].decoded; /* one of them has some */
    p->populated = p->completed;
    return 0;
}

typedef struct sample_parameters {
    sized head; sampler *object; const uint8_t *image; size_t bytes, index; uint64_t start, end;
} sample_parameters;
API int cuptiPmSamplingCounterDataGetSampleInfo(void *parameters)
{
    TAKES(sample_parameters, 64);
    if (p->index >= (size_t)p->object->decoded) return 1;
    p->start = p->end = 0;
    if (fake_get("bad_samples")) return 0;
    p->start = p->object->last + p->index * (uint64_t)fake_get("sample_step");
    p->end = p->start + (uint64_t)fake_get("sample_step");
    if (p->index + 1 == (size_t)p->object->decoded) p->object->last = p->end;
    return 0;
}

typedef struct values_parameters {
    sized head; host_object *host; const uint8_t *image; size_t bytes, index; const char **names; size_t count;
    double *values;
} values_parameters;
API int cuptiProfilerHostEvaluateToGpuValues(void *parameters)
{
    TAKES(values_parameters, 72);
    for (size_t i = 0; i < p->count; ++i) {
        if (i >= p->host->count || strcmp(p->names[i], p->host->names[i])) return 1;
        p->values[i] = (double)(p->index + 1) * (strcmp(p->names[i], "two") ? 1 : 2);
    }
    return 0;
}
