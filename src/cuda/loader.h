// cuda/loader: Finds the CUDA driver and CUPTI in the process or on the machine, and says what to do if it cannot.
#ifndef PROF__CUDA_LOADER_H
#define PROF__CUDA_LOADER_H
#include "ground/errors.h"
#include "session/process.h"
#include "cuda/state.h"

#ifdef PROF__CUDA_LINUX
#include <dlfcn.h>
#ifdef PROF__LATE /* what dlfcn.h declares with _GNU_SOURCE only: see prof.h, >>platform */
typedef struct prof__cuda_symbol {
    const char *dli_fname;
    void *dli_fbase;
    const char *dli_sname;
    void *dli_saddr;
} prof__cuda_symbol;
extern int prof__cuda_dladdr(const void *address, prof__cuda_symbol *info) __asm__("dladdr");
extern int prof__cuda_setenv(const char *name, const char *value, int replace) __asm__("setenv");
#else
typedef Dl_info prof__cuda_symbol;
#define prof__cuda_dladdr dladdr
#define prof__cuda_setenv setenv
#endif

/*-- LOADER ------------------------------------------------------------------------------------------------ >>loader --
   Without a driver, some versions of CUPTI crash in any call (13.2), others answer 999 and write nothing. So CUPTI is
   not touched before the driver has said that there is a GPU, and every result has a value before a call. Nothing is
   unloaded: CUPTI has threads, which outlive its end. */

static const char *prof__cupti_result(int result)
{
    switch (result) {
    case 1: return "INVALID_PARAMETER";
    case 3: return "INVALID_CONTEXT";
    case 7: return "INVALID_OPERATION";
    case 8: return "OUT_OF_MEMORY";
    case 11: return "API_NOT_IMPLEMENTED";
    case 12: return "MAX_LIMIT_REACHED";
    case 14: return "NOT_COMPATIBLE";
    case 15: return "NOT_INITIALIZED: CUPTI and the driver do not fit together: a newer driver, or the CUPTI of the "
                    "driver's CUDA version";
    case 17: return "INVALID_METRIC_NAME: see ncu --query-metrics-collection pmsampling";
    case 21: return "INVALID_KIND";
    case 23: return "DISABLED";
    case 26: return "HARDWARE_BUSY: another profiler uses the GPU's counters: end it";
    case 27: return "NOT_SUPPORTED";
    case 28: case 29: case 30: case 31: return "UM_PROFILING_NOT_SUPPORTED";
    case 33: return "VIRTUALIZED_DEVICE_NOT_SUPPORTED: the virtual machine's GPU has no tracing: see NVIDIA's vGPU "
                    "profiling";
    case 35: return "INSUFFICIENT_PRIVILEGES: run as root, or have the administrator set "
                    "NVreg_RestrictProfilingToAdminUsers=0";
    case 39: return "MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED: another profiler uses CUPTI: end it (Nsight, JAX, PyTorch)";
    case 40: return "VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES: have the administrator allow profiling for this vGPU";
    case 41: return "CONFIDENTIAL_COMPUTING_NOT_SUPPORTED: in this mode the GPU cannot be traced";
    case 42: return "CMP_DEVICE_NOT_SUPPORTED: this mining GPU cannot be traced";
    case 43: return "MIG_DEVICE_NOT_SUPPORTED: use a whole GPU";
    case 44: return "SLI_DEVICE_NOT_SUPPORTED";
    case 45: return "WSL_DEVICE_NOT_SUPPORTED: enable GPU performance counters for WSL in NVIDIA's control panel";
    case 999: return "UNKNOWN: CUPTI cannot use the driver: does nvidia-smi work? Install the CUPTI of the driver's "
                     "CUDA version";
    default: return "see CUptiResult in NVIDIA's documentation";
    }
}

static const char *prof__cuda_result(int result)
{
    switch (result) {
    case 3: return "CUDA_ERROR_NOT_INITIALIZED: in a child of fork() CUDA does not work if the parent used it";
    case 34: return "CUDA_ERROR_STUB_LIBRARY: this libcuda is the toolkit's stub: take its folder out of "
                    "LD_LIBRARY_PATH, and install the driver";
    case 35: return "INSUFFICIENT_DRIVER: install a newer driver";
    case 46: return "CUDA_ERROR_DEVICE_UNAVAILABLE: another process has the GPU for itself";
    case 100: return "CUDA_ERROR_NO_DEVICE: no GPU is visible: see nvidia-smi, and CUDA_VISIBLE_DEVICES";
    case 101: return "CUDA_ERROR_INVALID_DEVICE: see CUDA_VISIBLE_DEVICES";
    case 802: return "CUDA_ERROR_SYSTEM_NOT_READY: is nvidia-fabricmanager running?";
    case 803: return "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH: the kernel module and libcuda have different versions: "
                     "restart the machine";
    case 804: return "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE: take CUDA's compat folder out of LD_LIBRARY_PATH";
    case 999: return "CUDA_ERROR_UNKNOWN: does nvidia-smi work? Is the kernel module loaded?";
    default: return "see CUresult in NVIDIA's documentation";
    }
}

static prof_status prof__cuda_failed(const char *call, int result)
{
    return prof__fail(PROF_UNSUPPORTED, "cu%s: error %d, %s", call, result, prof__cuda_result(result));
}

static prof_status prof__cupti_failed(const char *call, int result)
{
    return prof__fail(PROF_UNSUPPORTED, "cupti%s: error %d, %s", call, result, prof__cupti_result(result));
}

/* Stores the functions of a library into their pointers. Returns the name of one that is missing, or NULL. */
static const char *prof__cuda_symbols(void *library, const char *const *names, size_t count, void *pointers)
{
    for (size_t i = 0; i < count; ++i) {
        void *symbol = dlsym(library, names[i]);
        if (!symbol) return names[i];
        memcpy((char *)pointers + i * sizeof symbol, &symbol, sizeof symbol);
    }
    return NULL;
}

static prof_status prof__cuda_driver(prof__cuda_api *api)
{
#define PROF__CUDA_NAME(name, parameters) "cu" #name,
    static const char *const names[] = {PROF__CUDA_FUNCTIONS(PROF__CUDA_NAME)};
#undef PROF__CUDA_NAME
    const char *path = prof__cuda.config.driver ? prof__cuda.config.driver : prof__environment("PROF_CUDA_DRIVER");
    int count = 0, result;
    void *library = dlopen(path && *path ? path : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return prof__fail(PROF_UNSUPPORTED, "no CUDA driver: install NVIDIA's driver, or in a container start it with "
                                            "GPUs (docker run --gpus all): %.150s", dlerror());
    const char *missing = prof__cuda_symbols(library, names, sizeof names / sizeof *names, (void *)&api->Init);
    if (missing) return prof__fail(PROF_UNSUPPORTED, "the CUDA driver has no %s: install a newer driver", missing);
    result = api->Init(0);
    if (result) return prof__cuda_failed("Init", result);
    result = api->DriverGetVersion(&prof__cuda.driver);
    if (result) return prof__cuda_failed("DriverGetVersion", result);
    result = api->DeviceGetCount(&count);
    if (!result && count <= 0) result = 100;
    if (result) return prof__cuda_failed("DeviceGetCount", result);
    prof__cuda.gpus = count < PROF__CUDA_GPUS ? (unsigned)count : PROF__CUDA_GPUS;
    return PROF_OK;
}

/* Asks the driver about a GPU. What it does not know stays 0. */
static void prof__cuda_describe(const prof__cuda_api *api, unsigned ordinal)
{
    prof__cuda_gpu *gpu = &prof__cuda.gpu[ordinal];
    int device = 0;
    if (api->DeviceGet(&device, (int)ordinal)) return;
#define PROF__CUDA_ASK(field, number) \
    if (api->DeviceGetAttribute(&gpu->field, number, device)) gpu->field = 0;
    PROF__CUDA_ATTRIBUTES(PROF__CUDA_ASK)
#undef PROF__CUDA_ASK
    if (api->DeviceTotalMem_v2(&gpu->bytes, device)) gpu->bytes = 0;
    if (api->DeviceGetName(gpu->name, (int)sizeof gpu->name, device)) gpu->name[0] = 0;
    gpu->name[sizeof gpu->name - 1] = 0;
}

/* Opens CUPTI beside the CUDA runtime that the process has: Python's packages are not on the loader's path. */
static void *prof__cupti_beside_runtime(const char *major)
{
    static const char *const folders[] = {"", "../../cuda_cupti/lib/", "../extras/CUPTI/lib64/",
                                          "../../../extras/CUPTI/lib64/"};
    char path[1024];
    prof__cuda_symbol where;
    snprintf(path, sizeof path, "libcudart.so.%s", major);
    void *runtime = dlopen(path, RTLD_NOW | RTLD_NOLOAD), *found = NULL;
    void *symbol = runtime ? dlsym(runtime, "cudaGetDeviceCount") : NULL;
    if (symbol && prof__cuda_dladdr(symbol, &where) && where.dli_fname && strrchr(where.dli_fname, '/')) {
        int folder = (int)(strrchr(where.dli_fname, '/') + 1 - where.dli_fname);
        for (size_t i = 0; !found && i < sizeof folders / sizeof *folders; ++i) {
            snprintf(path, sizeof path, "%.*s%slibcupti.so.%s", folder, where.dli_fname, folders[i], major);
            found = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        }
    }
    if (runtime) dlclose(runtime);
    return found;
}

/* Opens the CUPTI of one of CUDA's versions, the copy in the process before others. */
static void *prof__cupti_of(const char *major)
{
    static const char *const places[] = {"libcupti.so.%s", "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so.%s",
                                         "/usr/local/cuda/lib64/libcupti.so.%s"};
    char path[160];
    void *found = prof__cupti_beside_runtime(major);
    for (size_t i = 0; !found && i < sizeof places / sizeof *places; ++i) {
        snprintf(path, sizeof path, places[i], major);
        found = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    }
    return found;
}

/* Returns the CUPTI that the process has, or NULL. */
static void *prof__cupti_present(void)
{
    static const char *const names[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so"};
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
        void *found = dlopen(names[i], RTLD_NOW | RTLD_NOLOAD);
        if (found) return found;
    }
    void *program = dlopen(NULL, RTLD_NOW);
    return program && dlsym(program, "cuptiSubscribe") ? program : NULL;
}

#define PROF__CUPTI_OLDEST 18u

static prof_status prof__cupti_load(prof__cuda_api *api)
{
#define PROF__CUDA_NAME(name, parameters) "cupti" #name,
    static const char *const names[] = {PROF__CUPTI_FUNCTIONS(PROF__CUDA_NAME)};
#undef PROF__CUDA_NAME
    const char *path = prof__cuda.config.cupti ? prof__cuda.config.cupti : prof__environment("PROF_CUDA_CUPTI");
    void *library = path && *path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : prof__cupti_present();
    if (!library && path && *path)
        return prof__fail(PROF_UNSUPPORTED, "CUPTI cannot be loaded: %.200s", dlerror());
    if (!library && prof__cuda.driver >= 13000) library = prof__cupti_of("13");
    if (!library) library = prof__cupti_of("12"); /* one of an older CUDA works with a newer driver, not vice versa */
    if (!library)
        return prof__fail(PROF_UNSUPPORTED,
                          "no CUPTI: install CUDA's package cuda-cupti, or pip install %s, and name its "
                          "libcupti.so in PROF_CUDA_CUPTI",
                          prof__cuda.driver >= 13000 ? "nvidia-cuda-cupti" : "nvidia-cuda-cupti-cu12");
    const char *missing = prof__cuda_symbols(library, names, sizeof names / sizeof *names, (void *)&api->GetVersion);
    if (missing)
        return prof__fail(PROF_UNSUPPORTED, "%s is not in this CUPTI: it needs that of CUDA 12.0 or later", missing);
    int result = api->GetVersion(&prof__cuda.version);
    if (result) return prof__cupti_failed("GetVersion", result);
    prof__cuda.library = library;
    if (prof__cuda.version < PROF__CUPTI_OLDEST)
        return prof__fail(PROF_UNSUPPORTED, "CUPTI is too old (version %u): install that of CUDA 12.0 or later",
                          (unsigned)prof__cuda.version);
    return PROF_OK;
}

/* Keeps this code in memory: CUPTI may call it at any time, and cannot be told that it is gone. */
static void prof__cuda_stay(void)
{
#ifdef PROF__SHARED
    prof__cuda_symbol where;
    if (prof__cuda_dladdr((const void *)&prof__cuda, &where) && where.dli_fname)
        (void)dlopen(where.dli_fname, RTLD_NOW | RTLD_NOLOAD | 0x1000 /* RTLD_NODELETE */);
#endif
}

/* Loads driver and CUPTI, once. Under the lock `loading`. */
static prof_status prof__cuda_load(void)
{
    static prof__cuda_api api;
    if (prof__cuda.api) return PROF_OK;
    prof_status status = prof__cuda_driver(&api);
    if (!status) status = prof__cupti_load(&api);
    if (status) return status;
    for (unsigned i = 0; i < prof__cuda.gpus; ++i) prof__cuda_describe(&api, i);
    prof__cuda_stay();
    PROF__RELEASE(&prof__cuda.api, (const prof__cuda_api *)&api);
    return PROF_OK;
}
#endif

#endif /* PROF__CUDA_LOADER_H */
