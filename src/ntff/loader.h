// ntff/loader: Finds the Neuron runtime in the process or on the machine, and fills the table of its functions.
#ifndef PROF__NTFF_LOADER_H
#define PROF__NTFF_LOADER_H
#include "ground/errors.h"
#include "session/process.h"
#include "ntff/api.h"
#include "ntff/api_runtime.h"
#include "ntff/defaults.h"
#include "ntff/table.h"

/*-- LOADER ------------------------------------------------------------------------------------------------ >>loader --
   The table of the runtime's functions is published when it is complete, and does not change afterwards. So wrappers
   take no lock, and a fork() cannot leave one locked. */

#ifdef __linux__
#include <dlfcn.h>
#ifdef PROF__LATE /* what dlfcn.h declares with _GNU_SOURCE only: see prof.h, >>platform */
typedef struct prof__ntff_symbol_info {
    const char *dli_fname;
    void *dli_fbase;
    const char *dli_sname;
    void *dli_saddr;
} prof__ntff_symbol_info;
extern int prof__libc_dladdr(const void *address, prof__ntff_symbol_info *info) __asm__("dladdr");
#else
typedef Dl_info prof__ntff_symbol_info;
#define prof__libc_dladdr dladdr
#endif
#endif

#ifdef __linux__
/* What nrt_get_version() fills in; the layout is that of nrt_version.h. */
typedef struct prof__ntff_version {
    uint64_t major, minor, patch, maintenance;
    char detail[128], git_hash[64];
} prof__ntff_version;

static void prof__ntff_describe(prof__ntff_api *api)
{
    prof__ntff_version version;
    prof__ntff_symbol_info where;
    memset(&version, 0, sizeof version);
    snprintf(api->version, sizeof api->version, "unknown");
    if (api->get_version && !api->get_version((struct nrt_version *)(void *)&version, sizeof version))
        snprintf(api->version, sizeof api->version, "%llu.%llu.%llu.%llu", (unsigned long long)version.major,
                 (unsigned long long)version.minor, (unsigned long long)version.patch,
                 (unsigned long long)version.maintenance);
    if (prof__libc_dladdr(prof__ntff_symbol(api, offsetof(prof__ntff_api, init)), &where) && where.dli_fname)
        prof__text_copy(api->path, sizeof api->path, where.dli_fname);
    if (api->inspect_begin_with_options && api->inspect_stop && api->inspect_config_allocate &&
        api->inspect_config_free && api->inspect_config_set_activity && api->inspect_config_set_enable_inspect)
        api->can |= PROF_NTFF_CAN_INSPECT;
    if (api->inspect_config_set_inspect_device_profile_mode) api->can |= PROF_NTFF_CAN_DEVICE_MODE;
    if (api->profile_start && api->profile_stop) api->can |= PROF_NTFF_CAN_PROFILE;
    if (api->profile_continuous_options_allocate && api->profile_continuous_options_free &&
        api->profile_continuous_start && api->profile_continuous_save && api->profile_continuous_stop)
        api->can |= PROF_NTFF_CAN_CONTINUOUS;
    if (api->sys_trace_config_allocate && api->sys_trace_config_free && api->sys_trace_start && api->sys_trace_stop &&
        api->sys_trace_fetch_events && api->sys_trace_buffer_free)
        api->can |= PROF_NTFF_CAN_SYS_TRACE;
    if (api->trace_start && api->trace_stop) api->can |= PROF_NTFF_CAN_TRACE;
    if (api->debug_client_connect && api->debug_client_connect_close && api->debug_client_read_one_event)
        api->can |= PROF_NTFF_CAN_DEBUG_STREAM;
}

/* Returns a library that is in the process already. Does not load it. */
static void *prof__ntff_present(const char *name) { return dlopen(name, RTLD_NOW | RTLD_NOLOAD); }

/* Returns the runtime that is in the process already. Returns NULL if there is none. */
static void *prof__ntff_present_any(void)
{
    void *handle = prof__ntff_present("libnrt.so.1");
    if (!handle) handle = prof__ntff_present("libnrt.so");
    if (handle) return handle;
    handle = dlopen(NULL, RTLD_NOW);
    if (handle && dlsym(handle, "nrt_init")) return handle; /* a part of the program, or loaded with RTLD_GLOBAL */
    if (handle) dlclose(handle);
    return NULL;
}

static void *prof__ntff_installed(void)
{
    static const char *const names[] = {"libnrt.so.1", "/opt/aws/neuron/lib/libnrt.so.1",
                                        "/opt/aws/neuron/lib/libnrt.so"};
    void *handle = NULL;
    for (size_t i = 0; !handle && i < sizeof names / sizeof *names; i++)
        handle = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    return handle;
}

/* Opens the runtime at `path`; if path is NULL, any runtime. If the process has one already, loads no other, because
   two runtimes would conflict over the device. */
static void *prof__ntff_open_library(const char *path, prof_status *status)
{
    void *present = prof__ntff_present_any(), *handle;
    if (!path) {
        handle = present ? present : prof__ntff_installed();
        if (!handle)
            *status = prof__fail(PROF_UNSUPPORTED, "cannot find libnrt.so.1: install aws-neuronx-runtime-lib, or set "
                                                   "PROF_NTFF_LIBNRT");
        return handle;
    }
    handle = prof__ntff_present(path);
    if (!handle && !present) {
        handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (!handle) *status = prof__fail(PROF_UNSUPPORTED, "cannot load the Neuron runtime: %.200s", dlerror());
    } else if (!handle) {
        *status = prof__fail(PROF_INVALID_STATE, "%.100s: the process has loaded another libnrt, and cannot have two",
                             path);
    }
    if (present) dlclose(present); /* `handle` holds its own reference */
    return handle;
}

static prof__ntff_api *prof__ntff_find(const char *path, prof_status *status)
{
    if (!path) path = prof__environment("PROF_NTFF_LIBNRT");
    if (path && !*path) path = NULL;
    void *handle = prof__ntff_open_library(path, status);
    prof__ntff_api *api = handle ? (prof__ntff_api *)calloc(1, sizeof *api) : NULL;
    if (handle && !api) *status = prof__fail(PROF_NO_MEMORY, "no memory for the functions of libnrt");
    for (size_t i = 0; api && i < sizeof prof__ntff_symbols / sizeof *prof__ntff_symbols; i++) {
        void *symbol = dlsym(handle, prof__ntff_symbols[i].name);
        memcpy((char *)api + prof__ntff_symbols[i].field, &symbol, sizeof symbol);
    }
    if (api && !api->init) {
        *status = prof__fail(PROF_UNSUPPORTED, "%.150s is not a Neuron runtime: it has no nrt_init",
                             path ? path : "libnrt.so.1");
        free(api);
        api = NULL;
    }
    prof__ntff_api *front = api ? (prof__ntff_api *)calloc(1, sizeof *front) : NULL;
    if (api && !front) {
        *status = prof__fail(PROF_NO_MEMORY, "no memory for the functions of libnrt");
        free(api);
        api = NULL;
    }
    if (handle && !api) dlclose(handle);
    if (!api) return NULL;
    api->handle = handle;
    api->front = front;
    prof__ntff_describe(api);
    *front = *api;
    prof__ntff_front(front);
    return api;
}

/* Checks that the runtime that is loaded already is the one at `path`. */
static prof_status prof__ntff_same_library(const prof__ntff_api *api, const char *path)
{
    void *handle = path ? prof__ntff_present(path) : api->handle;
    if (path && handle) dlclose(handle);
    if (handle == api->handle) return PROF_OK;
    return prof__fail(PROF_INVALID_STATE, "prof_ntff_load: %.90s is in use already, not %.90s", api->path, path);
}

PROF_DEF prof_status prof_ntff_load(const char *path)
{
    const prof__ntff_api *api = PROF__ACQUIRE(&prof__ntff_api_now), *none = NULL;
    prof_status status = PROF_OK;
    if (api) return prof__ntff_same_library(api, path);
    prof__ntff_api *found = prof__ntff_find(path, &status);
    if (!found) return status;
    if (__atomic_compare_exchange_n(&prof__ntff_api_now, &none, found, 0, __ATOMIC_RELEASE, __ATOMIC_ACQUIRE))
        return PROF_OK;
    dlclose(found->handle); /* another thread has published its table first */
    free(found->front);
    free(found);
    return prof__ntff_same_library(none, path);
}
#else
PROF_DEF prof_status prof_ntff_load(const char *path)
{
    (void)path;
    return prof__fail(PROF_UNSUPPORTED, "the Neuron runtime exists for Linux only");
}
#endif

PROF_DEF unsigned prof_ntff_capabilities(void)
{
    const prof__ntff_api *api = prof__ntff_get();
    return api ? api->can : 0;
}

PROF_DEF const char *prof_ntff_runtime_version(void)
{
    const prof__ntff_api *api = prof__ntff_get();
    return api ? api->version : NULL;
}

PROF_DEF const char *prof_ntff_library(void)
{
    const prof__ntff_api *api = prof__ntff_get();
    return api ? api->path : NULL;
}

PROF_DEF unsigned prof_ntff_nrt_status(void) { return prof__ntff_status; }

/* The status codes of nrt_status.h. 8 and 12 are not used there. */
static const struct {
    unsigned status;
    const char *name;
} prof__ntff_statuses[] = {
    {0, "NRT_SUCCESS"},
    {1, "NRT_FAILURE"},
    {2, "NRT_INVALID"},
    {3, "NRT_INVALID_HANDLE"},
    {4, "NRT_RESOURCE"},
    {5, "NRT_TIMEOUT"},
    {6, "NRT_HW_ERROR"},
    {7, "NRT_QUEUE_FULL"},
    {9, "NRT_LOAD_NOT_ENOUGH_NC"},
    {10, "NRT_UNSUPPORTED_NEFF_VERSION"},
    {11, "NRT_FAIL_HOST_MEM_ALLOC"},
    {13, "NRT_UNINITIALIZED"},
    {14, "NRT_CLOSED"},
    {15, "NRT_QUEUE_EMPTY"},
    {101, "NRT_EXEC_UNIT_UNRECOVERABLE"},
    {1002, "NRT_EXEC_BAD_INPUT"},
    {1003, "NRT_EXEC_COMPLETED_WITH_NUM_ERR"},
    {1004, "NRT_EXEC_COMPLETED_WITH_ERR"},
    {1005, "NRT_EXEC_NC_BUSY"},
    {1006, "NRT_EXEC_OOB"},
    {1100, "NRT_COLL_PENDING"},
    {1200, "NRT_EXEC_HW_ERR_COLLECTIVES"},
    {1201, "NRT_EXEC_HW_ERR_HBM_UE"},
    {1202, "NRT_EXEC_HW_ERR_NC_UE"},
    {1203, "NRT_EXEC_HW_ERR_DMA_ABORT"},
    {1204, "NRT_EXEC_SW_NQ_OVERFLOW"},
    {1205, "NRT_EXEC_HW_ERR_REPAIRABLE_HBM_UE"},
    {1206, "NRT_NETWORK_PROXY_FAILURE"},
};

PROF_DEF const char *prof_ntff_nrt_status_name(unsigned status)
{
    static PROF__PER_THREAD char number[32];
    const prof__ntff_api *api = PROF__ACQUIRE(&prof__ntff_api_now);
    const char *text;
    for (size_t i = 0; i < sizeof prof__ntff_statuses / sizeof *prof__ntff_statuses; i++)
        if (prof__ntff_statuses[i].status == status) return prof__ntff_statuses[i].name;
    text = api && api->get_status_as_str ? api->get_status_as_str((PROF_NTFF_NRT_STATUS)status) : NULL;
    if (text && !strncmp(text, "NRT_", 4)) return text;
    snprintf(number, sizeof number, "NRT_STATUS_%u", status);
    return number;
}

PROF_DEF const char *prof_ntff_get_status_as_str(PROF_NTFF_NRT_STATUS status)
{
    return prof_ntff_nrt_status_name((unsigned)status);
}

#endif /* PROF__NTFF_LOADER_H */
