// cuda/collect: The thread that takes records from CUPTI, and compares its clock with the host's.
#ifndef PROF__CUDA_COLLECT_H
#define PROF__CUDA_COLLECT_H
#include "record/device.h"
#include "session/beside.h"
#include "session/process.h"
#include "cuda/buffers.h"
#include "cuda/calls.h"
#include "cuda/records.h"
#include "cuda/sampling.h"

#ifdef PROF__CUDA_LINUX
#define PROF__CUDA_STEP 1000000 /* ns: between two looks, clocks differ by less if nobody has set one */

/* Reads CUPTI's clock, which is Unix time, between two readings of the host's, several times, and takes the closest
   pair. Returns 0 if CUPTI has no time. */
static int prof__cuda_clocks(uint64_t *ticks, uint64_t *host)
{
    uint64_t best = ~(uint64_t)0;
    for (int i = 0; i < 8; ++i) {
        uint64_t time = 0, before = prof__monotonic();
        int result = prof__cuda.api->GetTimestamp(&time);
        uint64_t after = prof__monotonic();
        if (result || !time) return 0;
        if (after - before >= best) continue;
        best = after - before;
        *ticks = time;
        *host = before + best / 2;
    }
    return 1;
}

/* Gives every GPU a pair of clocks. */
static void prof__cuda_sync(void)
{
    uint64_t ticks = 0, host = 0;
    prof__cuda.looked = prof__monotonic();
    if (!prof__cuda_clocks(&ticks, &host)) return;
    int64_t gap = (int64_t)(ticks - host), change = gap - prof__cuda.clock_gap;
    if (prof__cuda.clock_gap && (change > PROF__CUDA_STEP || change < -PROF__CUDA_STEP))
        prof__cuda_count(&prof__cuda.counts.clock_steps, 1);
    prof__cuda.clock_gap = gap;
    for (unsigned i = 0; i < prof__cuda.gpus; ++i)
        if (prof__cuda.gpu[i].device) prof_device_sync(prof__cuda.gpu[i].device, ticks, host);
    prof_device_sync(prof__cuda.host, ticks, host);
    if (prof__cuda.nvtx) prof_device_sync(prof__cuda.nvtx, ticks, host);
}

/* Takes what is complete. force: also what is not, which then has no end. */
static void prof__cuda_collect(int force)
{
    prof__cuda_sync();
    prof__cuda.api->ActivityFlushAll(force ? PROF__CUPTI_FLUSH_FORCED : 0);
    prof__cuda_dropped(NULL, 0);
    prof__cuda_buffers_read();
    if (!force) prof__cuda_sampling_read();
}

/* Kinds of records, as the metadata calls them where one is missing. */
static const struct {
    uint32_t kind;
    const char *what;
} prof__cuda_kinds[] = {
    {PROF__CUPTI_KERNEL, "kernels"},           {PROF__CUPTI_MEMCPY, "copies"},
    {PROF__CUPTI_MEMCPY_PEER, "peer copies"},  {PROF__CUPTI_MEMSET, "fills"},
    {PROF__CUPTI_SYNC, "synchronization"},     {PROF__CUPTI_OVERHEAD, "overhead"},
    {PROF__CUPTI_MEMORY, "allocations"},       {PROF__CUPTI_UNIFIED_MEMORY, "unified memory"},
    {PROF__CUPTI_GRAPH, "graphs"},             {PROF__CUPTI_MARKER, "NVTX"},
};
#define PROF__CUDA_KIND_COUNT (sizeof prof__cuda_kinds / sizeof *prof__cuda_kinds)

static int prof__cuda_wants(uint32_t kind)
{
    if (kind == PROF__CUPTI_MEMORY) return !prof__cuda.config.no_memory;
    if (kind == PROF__CUPTI_GRAPH) return prof__cuda.wishes.graphs;
    if (kind == PROF__CUPTI_MARKER) return prof__cuda.wishes.nvtx;
    return 1;
}

static void prof__cuda_says_lost(const char *what, uint64_t count, const char *why)
{
    char key[64], text[200];
    if (!count) return;
    snprintf(key, sizeof key, "CUDA %s dropped", what);
    snprintf(text, sizeof text, "%llu: %s", (unsigned long long)count, why);
    prof__beside_says(prof__cuda.session, key, text);
}

/* Says in the metadata what is missing. */
static void prof__cuda_says(void)
{
    prof_cuda_counts now;
    const prof_cuda_counts *counts = &now;
    prof__cuda_counts_now(&now);
    prof__cuda_says_lost("calls", counts->calls_dropped, "more than gpu_max_callback_api_events");
    prof__cuda_says_lost("events", counts->events_dropped, "more than gpu_max_activity_api_events");
    prof__cuda_says_lost("ranges", counts->ranges_dropped, "more than gpu_max_annotation_strings, or too many open");
    prof__cuda_says_lost("records", counts->cupti_dropped, "CUPTI had no buffer: raise prof_cuda_config.memory");
    prof__cuda_says_lost("untimed", counts->untimed,
                         "the GPU wrote no times, or they ran on at the end: wait for the GPU first");
    prof__cuda_says_lost("unknown", counts->unknown, "records that this version of prof does not know");
    prof__cuda_says_lost("buffers", counts->broken_buffers, "CUPTI could not read them to their end");
    prof__cuda_says_lost("samples", counts->samples_dropped, "CUPTI could not evaluate them");
    prof__cuda_says_lost("samples of a full GPU", counts->sample_overflows,
                         "times that a GPU had no room for more: raise gpu_pm_sample_interval_us or "
                         "gpu_pm_sample_buffer_size_per_gpu_mb");
    if (counts->clock_steps)
        prof__beside_says(prof__cuda.session, "CUDA clock",
                          "the system's clock was set meanwhile: times of GPUs are wrong there");
}

/* Ends tracing, and takes what is left. */
static void prof__cuda_finish(void)
{
    const prof__cuda_api *api = prof__cuda.api;
    PROF__STORE(&prof__cuda.calls, 0);
    prof__cuda_collect(0); /* first what has ended, with its times */
    prof__cuda_sampling_end();
    for (size_t i = 0; i < PROF__CUDA_KIND_COUNT; ++i)
        if (prof__cuda_wants(prof__cuda_kinds[i].kind)) api->ActivityDisable(prof__cuda_kinds[i].kind);
    prof__cuda_collect(1);
    if (prof__cuda.subscriber) api->Unsubscribe(prof__cuda.subscriber);
    prof__cuda.subscriber = NULL;
    prof__cuda_says();
}

#define PROF__CUDA_ROUND 50000000u   /* ns from one look for full buffers to the next */
#define PROF__CUDA_FLUSH 1000000000u /* ns from one flush to the next */

static void *prof__cuda_main(void *user)
{
    (void)user;
    prof_set_thread_name("prof CUDA");
    while (!PROF__ACQUIRE(&prof__cuda.stop)) {
        uint32_t asked = PROF__ACQUIRE(&prof__cuda.collects);
        if (asked != prof__cuda.collected || prof__monotonic() - prof__cuda.looked >= PROF__CUDA_FLUSH) {
            prof__cuda_collect(0);
            PROF__RELEASE(&prof__cuda.collected, asked);
        } else {
            prof__cuda_buffers_read();
            if (prof__monotonic() - prof__cuda_decoded >= PROF__CUDA_DECODE) prof__cuda_sampling_read();
        }
        if (!PROF__ACQUIRE(&prof__cuda.stop)) prof__word_wait(&prof__cuda.collects, asked, PROF__CUDA_ROUND);
    }
    prof__cuda_finish();
    PROF__RELEASE(&prof__cuda.collected, PROF__ACQUIRE(&prof__cuda.collects));
    PROF__RELEASE(&prof__cuda.done, 1u);
    return NULL;
}
#endif

#endif /* PROF__CUDA_COLLECT_H */
