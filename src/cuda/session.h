// cuda/session: Begins and ends recording GPUs with a session, and leaves them in a child of fork().
#ifndef PROF__CUDA_SESSION_H
#define PROF__CUDA_SESSION_H
#include "api/control.h"
#include "ground/instances.h"
#include "record/locks.h"
#include "session/beside.h"
#include "session/control.h"
#include "cuda/collect.h"
#include "cuda/keys.h"
#include "cuda/loader.h"

#define PROF__CUDA_FORKED "not recorded: CUDA does not work in a child of fork() whose parent used it"

/* Notes why nothing is recorded: what prof__fail() has said. PROF_OK: it is. */
static void prof__cuda_not(prof_status status)
{
    uint32_t write_lock = prof__state_lock();
    prof__cuda.status = status;
    prof__text_copy(prof__cuda.why, sizeof prof__cuda.why, status ? prof_error() : "");
    prof__state_unlock(write_lock);
}

#ifdef PROF__CUDA_LINUX
/* Puts what is known of a GPU into the metadata. XProf's planes of GPUs have the same. */
static void prof__cuda_tell(const prof__cuda_gpu *gpu, unsigned ordinal)
{
    const struct {
        const char *key;
        uint64_t value;
    } facts[] = {
        {"clock_rate", (uint64_t)gpu->clock_khz},
        {"core_count", (uint64_t)gpu->processors},
        {"memory_bandwidth", (uint64_t)gpu->memory_khz * 2000u * (uint64_t)gpu->memory_bits / 8},
        {"memory_size", gpu->bytes},
        {"compute_cap_major", (uint64_t)gpu->major},
        {"compute_cap_minor", (uint64_t)gpu->minor},
    };
    char key[64], text[32];
    snprintf(key, sizeof key, "GPU %u.device_vendor", ordinal);
    prof__beside_says(prof__cuda.session, key, "Nvidia");
    snprintf(key, sizeof key, "GPU %u.gpu_device_name", ordinal);
    if (gpu->name[0]) prof__beside_says(prof__cuda.session, key, gpu->name);
    for (size_t i = 0; i < sizeof facts / sizeof *facts; ++i) {
        if (!facts[i].value && i < 4) continue; /* not known */
        snprintf(key, sizeof key, "GPU %u.%s", ordinal, facts[i].key);
        snprintf(text, sizeof text, "%llu", (unsigned long long)facts[i].value);
        prof__beside_says(prof__cuda.session, key, text);
    }
}

/* Makes the devices of the GPUs that this session records. */
static prof_status prof__cuda_devices(void)
{
    const prof_device_clock clock = {1000000000u, 0, 0};
    uint64_t wanted = prof__cuda.wishes.gpus;
    char name[24];
    if (wanted > prof__cuda.gpus) {
        snprintf(name, sizeof name, "%u", prof__cuda.gpus);
        prof__beside_says(prof__cuda.session, "CUDA: fewer GPUs than gpu_num_chips_to_profile_per_task", name);
    }
    for (unsigned i = 0; i < prof__cuda.gpus; ++i) {
        prof__cuda_gpu *gpu = &prof__cuda.gpu[i];
        gpu->allocated = 0;
        gpu->device = NULL;
        if (wanted && i >= wanted) continue;
        snprintf(name, sizeof name, "GPU %u", i);
        gpu->device = prof_device_create(name, &clock);
        if (!gpu->device) return PROF_NO_MEMORY;
        prof__cuda_tell(gpu, i);
    }
    prof__cuda.host = prof_device_create("CUDA", &clock);
    if (!prof__cuda.host) return PROF_NO_MEMORY;
    prof__cuda.nvtx = prof__cuda.wishes.nvtx ? prof_device_create("NVTX", &clock) : NULL;
    return PROF_OK;
}

static void prof__cuda_migrations(void)
{
    prof__cupti_unified_config configs[4];
    memset(configs, 0, sizeof configs);
    for (uint32_t i = 0; i < 4; ++i) {
        configs[i].scope = 2; /* all devices: CUPTI ignores it today */
        configs[i].kind = i + 1;
        configs[i].enable = 1;
    }
    prof__cuda.api->ActivityConfigureUnifiedMemoryCounter(configs, 4);
}

/* Enables CUPTI's records. Without kernels it fails; what else is missing stands in the metadata. */
static prof_status prof__cuda_records_begin(void)
{
    const prof__cuda_api *api = prof__cuda.api;
    char key[64];
    int result = api->ActivityRegisterCallbacks(prof__cuda_lend, prof__cuda_return);
    if (result) return prof__cupti_failed("ActivityRegisterCallbacks", result);
    prof__cuda_migrations();
    for (size_t i = 0; i < PROF__CUDA_KIND_COUNT; ++i) {
        if (!prof__cuda_wants(prof__cuda_kinds[i].kind)) continue;
        result = api->ActivityEnable(prof__cuda_kinds[i].kind);
        if (result && !i) return prof__cupti_failed("ActivityEnable", result);
        /* Without unified memory there is nothing to miss. */
        if (!result || prof__cuda_kinds[i].kind == PROF__CUPTI_UNIFIED_MEMORY) continue;
        prof__cupti_failed("ActivityEnable", result);
        snprintf(key, sizeof key, "CUDA %s not recorded", prof__cuda_kinds[i].what);
        prof__beside_says(prof__cuda.session, key, prof_error());
    }
    return PROF_OK;
}

static prof_status prof__cuda_calls_begin(void)
{
    const prof__cuda_api *api = prof__cuda.api;
    int result = api->Subscribe(&prof__cuda.subscriber, prof__cuda_called, NULL);
    if (result) prof__cuda.subscriber = NULL;
    if (result) return prof__cupti_failed("Subscribe", result);
    /* CUPTI of an older version does not know all of them. */
    for (size_t i = 0; prof__cuda.arrows && i < PROF__CUDA_FUNCTION_COUNT; ++i)
        api->EnableCallback(1, prof__cuda.subscriber, prof__cuda_functions[i].domain, prof__cuda_functions[i].id);
    return PROF_OK;
}

/* NVTX loads the library in this variable at its first call, and CUPTI then gets the ranges. */
static void prof__cuda_nvtx(void)
{
    prof__cuda_symbol where;
    const void *function = NULL;
    memcpy(&function, &prof__cuda.api->Subscribe, sizeof function);
    if (prof__cuda.wishes.nvtx && prof__cuda_dladdr(function, &where) && where.dli_fname)
        prof__cuda_setenv("NVTX_INJECTION64_PATH", where.dli_fname, 0);
}

static void prof__cuda_leaves(void);

/* Opens what a session needs, and starts the thread. */
static prof_status prof__cuda_open(void)
{
    prof_status status = prof__cuda_calls_begin();
    if (!status) status = prof__cuda_devices();
    if (!status) prof__cuda_nvtx();
    if (!status) status = prof__cuda_records_begin();
    if (!status) prof__cuda_sync();
    if (!status) prof__cuda_sampling_begin();
    if (!status && prof__thread_create(&prof__cuda.thread, prof__cuda_main, NULL))
        status = prof__fail(PROF_NO_MEMORY, "the system allows no more threads");
    if (!status) return PROF_OK;
    prof__cuda_sampling_end();
    for (size_t i = 0; i < PROF__CUDA_KIND_COUNT; ++i)
        if (prof__cuda_wants(prof__cuda_kinds[i].kind)) prof__cuda.api->ActivityDisable(prof__cuda_kinds[i].kind);
    if (prof__cuda.subscriber) prof__cuda.api->Unsubscribe(prof__cuda.subscriber);
    prof__cuda.subscriber = NULL;
    return status;
}

/* Forgets an earlier session. A buffer that CUPTI still has comes back by itself. */
static void prof__cuda_clear(void)
{
    uint64_t *counts = (uint64_t *)(void *)&prof__cuda.counts;
    for (size_t i = 0; i < sizeof prof__cuda.counts / sizeof *counts; ++i) PROF__STORE(&counts[i], (uint64_t)0);
    memset(prof__cuda.ranges, 0, sizeof prof__cuda.ranges);
    for (uint32_t i = 0; i < prof__cuda.buffers; ++i)
        if (PROF__ACQUIRE(&prof__cuda.buffer[i].state) == PROF__CUDA_FULL)
            PROF__RELEASE(&prof__cuda.buffer[i].state, (uint32_t)PROF__CUDA_FREE);
    prof__cuda.stop = prof__cuda.done = 0;
    prof__cuda.collected = prof__cuda.collects;
    prof__cuda.clock_gap = 0;
    prof__lock(&prof__cuda_wishing);
    prof__cuda.wishes = prof__cuda_wished;
    prof__unlock(&prof__cuda_wishing);
    prof__cuda.call_room = prof__cuda.wishes.calls;
    prof__cuda.arrows = !prof__cuda.config.no_calls && prof__state.level >= 1;
}

/* Does the work of prof__cuda_end(), under prof__cuda.ending. */
static int prof__cuda_end_locked(int waits)
{
    if (!PROF__ACQUIRE(&prof__cuda.running)) return 1;
    PROF__ERRNO_SAVE();
    PROF__RELEASE(&prof__cuda.stop, 1u);
    prof__word_wake(&prof__cuda.collects);
    int good = waits || PROF__ACQUIRE(&prof__cuda.done);
    if (good) {
        pthread_join(prof__cuda.thread, NULL);
        PROF__STORE(&prof__cuda.running, 0);
    }
    PROF__ERRNO_RESTORE();
    return good;
}

/* Has what is left recorded, and ends the thread. Returns 0 if that takes longer, and the caller, the service, does not
   wait. */
static int prof__cuda_end(int waits)
{
    if (waits)
        prof__lock(&prof__cuda.ending);
    else if (!prof__lock_take(&prof__cuda.ending, 0))
        return 0;
    int good = prof__cuda_end_locked(waits);
    prof__unlock(&prof__cuda.ending);
    return good;
}

/* Begins to record for a session. Under the control lock. */
static prof_status prof__cuda_start(prof__session *s)
{
    prof_status status = PROF_OK;
    prof__cuda_end(1); /* of a session that ended while it began */
    prof__cuda.session = s;
    if (prof__cuda.inherited)
        status = prof__fail(PROF_UNSUPPORTED, PROF__CUDA_FORKED);
    else if (prof__state.no_devices)
        status = prof__fail(PROF_INVALID_STATE, "not recorded: no_devices is set");
    else if (s->header->mode == PROF_STATS)
        status = prof__fail(PROF_INVALID_STATE, "not recorded: mode stats keeps no events of devices");
    if (!status) {
        prof__cuda_clear();
        status = prof__cuda_open();
    }
    prof__cuda_not(status);
    if (status == PROF_INVALID_STATE) return PROF_OK; /* the program asked for that */
    if (status) {
        prof__beside_says(s, "CUDA", prof__cuda.why);
        return status;
    }
    PROF__STORE(&prof__cuda.calls, prof__cuda.arrows);
    PROF__RELEASE(&prof__cuda.running, 1u);
    if (!prof__cuda.exits) atexit(prof__cuda_leaves); /* so that it runs before what CUPTI and the driver do at exit */
    prof__cuda.exits = 1;
    return PROF_OK;
}

static void prof__cuda_begin(prof__session *s, const prof_config *config)
{
    (void)config;
    if (!PROF__ACQUIRE(&prof__cuda.enabled)) return;
    PROF__ERRNO_SAVE();
    prof__cuda_start(s);
    PROF__ERRNO_RESTORE();
}

static void prof__cuda_child(void)
{
    prof__cuda.ending = prof__cuda.loading = prof__cuda_wishing = 0;
    PROF__STORE(&prof__cuda.calls, 0);
    if (PROF__LOAD(&prof__cuda.api)) prof__cuda.inherited = 1; /* after prof_cuda_disable(), too */
    PROF__STORE(&prof__cuda.running, 0);
}

static void prof__cuda_child_image(prof__session *s)
{
    if (prof__cuda.inherited && PROF__LOAD(&prof__cuda.enabled) && !prof__state.no_devices)
        prof__meta_pair(s, "CUDA", PROF__CUDA_FORKED);
}

/* Ends the thread at exit, before CUPTI and the driver are gone. */
static void prof__cuda_leaves(void)
{
    if (!prof__lock_try(&prof__cuda.ending)) return; /* exit() in a signal handler that interrupted prof_stop() */
    prof__cuda_end_locked(1);
    prof__unlock(&prof__cuda.ending);
    PROF__STORE(&prof__cuda.enabled, 0);
}

static const prof__beside prof__cuda_table = {prof__cuda_begin, prof__cuda_end, NULL, prof__cuda_child,
                                              prof__cuda_child_image};
PROF__AT_START(101, prof__cuda_comes);
static void prof__cuda_comes(void) { prof__beside_devices = &prof__cuda_table; }

/* Loads what is needed, once. */
static prof_status prof__cuda_prepare(const prof_cuda_config *config)
{
    size_t memory = config ? config->memory : 0;
    if (memory && (memory < PROF__CUDA_BUFFER || memory > PROF__CUDA_MEMORY_MOST))
        return prof__fail(PROF_INVALID_ARGUMENT, "prof_cuda_enable: memory must be 128 KiB to 1 GiB");
    if (prof__cuda.inherited) return prof__fail(PROF_UNSUPPORTED, PROF__CUDA_FORKED);
    if (!prof__cuda.memory) { /* no call has succeeded: what an earlier one pointed to may be gone */
        memset(&prof__cuda.config, 0, sizeof prof__cuda.config);
        if (config) prof__cuda.config = *config;
    }
    prof_status status = prof__cuda_load();
    if (!status) status = prof__cuda_buffers_make();
    if (!status) prof__cuda_sites_make();
    return status;
}

PROF_DEF prof_status prof_cuda_enable(const prof_cuda_config *config)
{
    PROF__CALM();
    PROF__ERRNO_SAVE();
    prof__lock(&prof__cuda.loading);
    prof_status status = prof__cuda_prepare(config);
    prof__unlock(&prof__cuda.loading);
    prof__control_lock();
    if (status) {
        if (!prof__cuda.running) prof__cuda_not(status);
    } else if (!prof__cuda.enabled) {
        prof__cuda_not(PROF_OK);
        PROF__RELEASE(&prof__cuda.enabled, 1);
        if (prof__state.running && prof__state.session) status = prof__cuda_start(prof__state.session);
    }
    prof__control_unlock();
    PROF__ERRNO_RESTORE();
    return status;
}

PROF_DEF prof_status prof_cuda_disable(void)
{
    PROF__CALM();
    prof__control_lock();
    PROF__RELEASE(&prof__cuda.enabled, 0);
    prof__cuda_end(1);
    prof__control_unlock();
    return PROF_OK;
}

PROF_DEF prof_status prof_cuda_collect(void)
{
    if (!PROF__ACQUIRE(&prof__cuda.running))
        return prof__fail(PROF_INVALID_STATE, "prof_cuda_collect: no session records GPUs");
    prof__word_wake(&prof__cuda.collects); /* which adds 1 */
    uint32_t asked = PROF__ACQUIRE(&prof__cuda.collects);
    PROF__OWN_BEGINS();
    while (PROF__ACQUIRE(&prof__cuda.running) && !PROF__ACQUIRE(&prof__cuda.done) &&
           (int32_t)(PROF__ACQUIRE(&prof__cuda.collected) - asked) < 0)
        prof__wait();
    PROF__OWN_ENDS();
    return PROF_OK;
}
#else
#define PROF__CUDA_NONE "GPUs are not recorded on this system: prof_cuda.h needs Linux, and a thread"
PROF_DEF prof_status prof_cuda_enable(const prof_cuda_config *config)
{
    (void)config;
    prof_status status = prof__fail(PROF_UNSUPPORTED, PROF__CUDA_NONE);
    prof__cuda_not(status);
    return status;
}
PROF_DEF prof_status prof_cuda_disable(void) { return PROF_OK; }
PROF_DEF prof_status prof_cuda_collect(void) { return prof__fail(PROF_UNSUPPORTED, PROF__CUDA_NONE); }
#endif

PROF_DEF prof_status prof_cuda_status(void)
{
    char why[PROF__CUDA_WHY];
    if (PROF__ACQUIRE(&prof__cuda.running)) return PROF_OK;
    uint32_t write_lock = prof__state_lock();
    int runs = prof__state.running;
    prof_status status = prof__cuda.status;
    prof__copy(why, prof__cuda.why, sizeof why);
    prof__state_unlock(write_lock);
    if (status && status != PROF_INVALID_STATE) return prof__fail(status, "%s", why);
    if (!PROF__ACQUIRE(&prof__cuda.enabled))
        return prof__fail(PROF_INVALID_STATE, "prof_cuda_status: prof_cuda_enable() was not called");
    return prof__fail(PROF_INVALID_STATE, "prof_cuda_status: %s", runs && why[0] ? why : "no session runs");
}

PROF_DEF void prof_cuda_counted(prof_cuda_counts *counts)
{
    if (!counts) return;
    prof__cuda_counts_now(counts);
    counts->calls = prof__cuda.wishes.calls - PROF__LOAD(&prof__cuda.call_room);
}

#endif /* PROF__CUDA_SESSION_H */
