/* Devices: an accelerator with a clock of its own, which drifts, two queues and a DMA engine, on the time line of the
   program that uses it. Its driver gets the times later, from buffers that the device fills, as drivers do.

       cc -O2 examples/device.c -o device -pthread && ./device

   It writes device.json: open it in ui.perfetto.dev. Arrows lead from where the program submits work to the work. */
#define PROF_IMPLEMENTATION
#include "../prof_chrome.h"
#include <pthread.h>
#include <stdio.h>
#include <time.h>

enum { BATCHES = 30, LAYERS = 4, MOST = BATCHES * (LAYERS + 2) };

/*-- the accelerator: a simulation, which knows no other clock than its own -------------------------------------*/

/* 19.2 MHz by its data sheet; 40 ppm fast, and warming up makes it faster still. */
static uint64_t device_clock(uint64_t host_ns)
{
    static uint64_t switched_on;
    if (!switched_on) switched_on = host_ns;
    double seconds = (double)(host_ns - switched_on) / 1e9;
    return 123456789012u + (uint64_t)(seconds * 19.2e6 * (1 + 40e-6 + seconds * 1e-6));
}

enum { QUEUE_A, QUEUE_B, DMA, ENGINES };

typedef struct record { /* what the device writes into the driver's buffer */
    const char *name;
    uint64_t begin, end, flow;
    int64_t bytes;
    int engine, batch;
} record;

static record done[MOST];
static int done_count;
static uint64_t free_at[ENGINES]; /* host ns at which an engine has done all submitted work */

/* Work begins when its engine is free and its input is ready, and takes this many microseconds. */
static uint64_t submit(int engine, const char *name, int batch, uint64_t after, unsigned microseconds, int64_t bytes)
{
    static uint64_t last_flow;
    uint64_t begin = prof_host_ns() + 5000;
    record *r = &done[done_count];
    PROFILE_SCOPE("submit");
    if (begin < after) begin = after;
    if (begin < free_at[engine]) begin = free_at[engine];
    free_at[engine] = begin + microseconds * 1000u;
    r->name = name;
    r->begin = device_clock(begin);
    r->end = device_clock(free_at[engine]);
    r->engine = engine;
    r->batch = batch;
    r->bytes = bytes;
    r->flow = ++last_flow;
    PROFILE_FLOW_OUT(r->flow);
    ++done_count;
    return free_at[engine];
}

/*-- the driver ------------------------------------------------------------------------------------------------------*/

static prof_device *device;
static prof_device_row *rows[ENGINES];

/* Reads both clocks at nearly the same time. */
static void synchronise(void)
{
    uint64_t best = UINT64_MAX, ticks = 0, host = 0;
    for (int i = 0; i < 5; ++i) {
        uint64_t before = prof_host_ns(), now = device_clock(before), after = prof_host_ns();
        if (after - before >= best) continue;
        best = after - before;
        ticks = now;
        host = before + best / 2;
    }
    prof_device_sync(device, ticks, host);
}

/* A thread of the driver empties the buffer, long after the events and newest first: the order does not matter. */
static void *drain(void *unused)
{
    PROFILE_THREAD("driver");
    PROFILE_SCOPE("drain");
    for (int i = done_count; i--;) {
        const record *r = &done[i];
        prof_arg batch = {.key = "batch", .value = {.type = PROF_VALUE_INT, .as.i = r->batch}};
        prof_device_event event = {.type = PROF_EVENT_SCOPE, .name = r->name, .start = r->begin, .end = r->end};
        event.flow = r->flow; /* the arrow from submit() */
        event.args = &batch;
        event.arg_count = 1;
        prof_device_record(rows[r->engine], &event);
        if (r->engine == DMA) {
            prof_device_counter(rows[DMA], "bytes in flight", r->begin, r->bytes);
            prof_device_counter(rows[DMA], "bytes in flight", r->end, 0);
        }
    }
    return unused;
}

/*-- the program -----------------------------------------------------------------------------------------------------*/

static void nap(unsigned microseconds)
{
    struct timespec time = {0, (long)microseconds * 1000};
    nanosleep(&time, NULL);
}

static void infer(int batch)
{
    static const char *const layers[LAYERS] = {"conv", "norm", "attention", "dense"};
    static const unsigned costs[LAYERS] = {700, 150, 900, 350};
    PROFILE_SCOPE("infer");
    uint64_t ready = submit(DMA, "upload", batch, 0, 250, 1 << 20);
    for (int i = 0; i < LAYERS; ++i) ready = submit(i % 2 ? QUEUE_B : QUEUE_A, layers[i], batch, ready, costs[i], 0);
    submit(DMA, "download", batch, ready, 80, 1 << 16);
    nap(1500);
}

int main(void)
{
    prof_config config = {0};
    prof_device_clock clock = {19200000, 0, 0};
    pthread_t driver;
    config.output = "device.json";
    if (prof_start(&config)) {
        fprintf(stderr, "%s\n", prof_error());
        return 1;
    }
    device = prof_device_create("npu 0", &clock);
    rows[QUEUE_A] = prof_device_row_create(device, "queue A");
    rows[QUEUE_B] = prof_device_row_create(device, "queue B");
    rows[DMA] = prof_device_row_create(device, "DMA");
    for (int batch = 0; batch < BATCHES; ++batch) {
        if (batch % 10 == 0) synchronise();
        infer(batch);
    }
    nap(100000); /* until the device has done all work */
    synchronise();
    if (pthread_create(&driver, NULL, drain, NULL)) return 1;
    pthread_join(driver, NULL);
    if (prof_stop()) {
        fprintf(stderr, "%s\n", prof_error());
        return 1;
    }
    printf("device.json: %d pieces of work on the clock of an accelerator, drawn on that of the program\n", done_count);
    return 0;
}
