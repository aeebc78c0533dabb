// gpu/shared: What the collectors of GPU times share: libraries that are found at run time, pairs of clocks, and what
// was lost. In each header that includes it, once for a program: see the lists.
#ifndef PROF__GPU_SHARED_H
#define PROF__GPU_SHARED_H
#include "api/control.h"
#include "api/devices.h"
#include "ground/base.h"
#include "ground/errors.h"
#include "ground/platform.h"

#if !defined(_WIN32) && !defined(__wasi__) && !defined(__EMSCRIPTEN__)
#define PROF__GPU_DLOPEN 1
#include <dlfcn.h>
#endif

/*-- libraries. None is ever unloaded: its threads may outlive every use --*/

typedef void (*prof__gpu_function)(void);

/* Returns the first of these libraries that the process has; with load, else the first that can be loaded. The list
   ends with a null. */
static void *prof__gpu_library(const char *const *names, int load)
{
    void *library = NULL;
    for (int may_load = 0; !library && may_load <= load; ++may_load)
        for (const char *const *name = names; *name && !library; ++name) {
#if defined(_WIN32)
            HMODULE module = may_load ? LoadLibraryA(*name) : GetModuleHandleA(*name);
            library = (void *)module;
#elif defined(PROF__GPU_DLOPEN)
            library = dlopen(*name, RTLD_LAZY | RTLD_LOCAL | (may_load ? 0 : RTLD_NOLOAD));
#endif
        }
    return library;
}

/* Returns a function of a library, or null. Without a library: of the program and what is linked to it. */
static prof__gpu_function prof__gpu_symbol(void *library, const char *name)
{
    prof__gpu_function function = NULL;
#if defined(_WIN32)
    FARPROC found = library ? GetProcAddress((HMODULE)library, name) : NULL;
    memcpy(&function, &found, sizeof function);
#elif defined(PROF__GPU_DLOPEN)
    static void *program;
    if (!library && !program) program = dlopen(NULL, RTLD_LAZY);
    if (!library) library = program;
    void *found = library ? dlsym(library, name) : NULL;
    memcpy(&function, &found, sizeof function);
#else
    (void)library;
    (void)name;
#endif
    return function;
}

/*-- pairs of clocks. Of several readings of the device's clock, the one between the two closest readings of the host's
   is the pair --*/

typedef struct prof__gpu_pair {
    uint64_t began, before, closest, ticks, host_ns; /* host_ns 0: there is no pair yet */
} prof__gpu_pair;

static void prof__gpu_pair_before(prof__gpu_pair *pair)
{
    pair->before = prof_host_ns();
    if (!pair->began) pair->began = pair->before;
}

/* Returns 1 if another reading may be better, and is not too dear: there the driver asks the device itself. */
static int prof__gpu_pair_after(prof__gpu_pair *pair, uint64_t ticks)
{
    uint64_t now = prof_host_ns(), took = now - pair->before;
    if (!pair->host_ns || took < pair->closest) {
        pair->closest = took;
        pair->ticks = ticks;
        pair->host_ns = pair->before + took / 2;
    }
    return now - pair->began < 100000;
}

/*-- what was lost, by cause --*/

#define PROF__GPU_CAUSES 6
typedef struct prof__gpu_losses {
    const char *key;           /* of the metadata that says it */
    const char *const *causes; /* what each cause is, and what to do */
    uint64_t counts[PROF__GPU_CAUSES];
    uint64_t told, written; /* how many prof__gpu_losses_tell() has returned, and the metadata have */
} prof__gpu_losses;

static uint64_t prof__gpu_losses_all(const prof__gpu_losses *losses)
{
    uint64_t all = 0;
    for (int i = 0; i < PROF__GPU_CAUSES; ++i) all += losses->counts[i];
    return all;
}

/* Returns PROF_OK if nothing was lost since the last call; else PROF_INVALID_STATE, and says what was lost in
   prof_error() and in the recording's metadata. These take space for each change: so they change when the number has
   doubled, or at the end. */
static prof_status prof__gpu_losses_tell(prof__gpu_losses *losses, int ends)
{
    char text[1000];
    uint64_t all = prof__gpu_losses_all(losses), was = losses->told;
    size_t at = 0;
    losses->told = all;
    if (all == was && (!ends || all == losses->written)) return PROF_OK;
    for (int i = 0; i < PROF__GPU_CAUSES; ++i) {
        if (!losses->counts[i] || at >= sizeof text) continue;
        int size = snprintf(text + at, sizeof text - at, "%s%llu lost: %s", at ? "; " : "",
                            (unsigned long long)losses->counts[i], losses->causes[i]);
        if (size > 0) at += (size_t)size;
    }
    if (ends || all >= losses->written * 2) {
        losses->written = all;
        prof_set_metadata(losses->key, text);
    }
    return all == was ? PROF_OK : prof__fail(PROF_INVALID_STATE, "%s: %s", losses->key, text);
}

#endif /* PROF__GPU_SHARED_H */
