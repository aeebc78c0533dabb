/* Tracy's macros for C, those of tracy/TracyC.h, on top of prof: a program that is marked up with them needs only
   another include, and one file that defines PROF_IMPLEMENTATION. For C++ there is tracy.hpp, which includes this file.
   docs/coming-from/tracy.md says what becomes of each macro.

       #include "tracyc.h"             // instead of "tracy/TracyC.h"

   Macros end in a semicolon where Tracy's do. Colours of zones and depths of call stacks are ignored. All may be used
   on any thread. In a signal handler use only zones, frames and plots that were used before outside of one, because the
   first use allocates memory, and no fibers and no texts of zones. If there is no memory for a zone, a frame, a plot or
   a fiber, it is not recorded. Needs gcc or clang. */
#ifndef PROF_TRACYC_H
#define PROF_TRACYC_H

#include "../prof.h"
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What is known by its name is made at the first use of that, and never destroyed: destructors of a C++ program may
   still use it. Plots and pools are known by the addresses of their names, which stay, as for Tracy, and a pool also by
   the place in the program, whose site its own is made of. */
enum { TRACYC_FRAME, TRACYC_FIBER, TRACYC_RANGE, TRACYC_COUNTER, TRACYC_PLOT, TRACYC_POOL, TRACYC_LISTS = 1024 };
typedef struct tracyc_object {
    struct tracyc_object *next;
    const char *name;
    const void *place;
    void *object;
    int kind;
} tracyc_object;
/* One for all files of a program, in C and C++. */
#if defined(_WIN32)
#define TRACYC_SHARED __attribute__((__selectany__))
#else
#define TRACYC_SHARED __attribute__((__weak__))
#endif
extern tracyc_object *tracyc_objects[TRACYC_LISTS];
TRACYC_SHARED tracyc_object *tracyc_objects[TRACYC_LISTS] = {NULL};

static inline void *tracyc_named(int kind, const char *name);
#if PROF_ENABLE
static inline void *tracyc_pool_site(const char *name, const void *place)
{
    prof_site *site = (prof_site *)malloc(sizeof *site);
    if (!site) return NULL;
    memcpy(site, place, sizeof *site);
    site->category = name;
    return site;
}
#else
#define tracyc_pool_site(name, place) NULL
#endif
static inline void *tracyc_make(const tracyc_object *made)
{
    switch (made->kind) {
    case TRACYC_FRAME: return prof_frame_create(NULL, made->name);
    case TRACYC_FIBER: return prof_fiber_create(made->name);
    case TRACYC_RANGE: return prof_range_create(made->name);
    case TRACYC_COUNTER: return prof_counter_create(NULL, made->name);
    case TRACYC_PLOT: return tracyc_named(TRACYC_COUNTER, made->name);
    default: return tracyc_pool_site(made->name, made->place);
    }
}
static inline void tracyc_destroy(tracyc_object *made)
{
    if (made && made->kind == TRACYC_FRAME) prof_frame_destroy((prof_frame *)made->object);
    if (made && made->kind == TRACYC_FIBER) prof_fiber_destroy((prof_fiber *)made->object);
    if (made && made->kind == TRACYC_RANGE) prof_range_destroy((prof_range *)made->object);
    if (made && made->kind == TRACYC_COUNTER) prof_counter_destroy((prof_counter *)made->object);
    if (made && made->kind == TRACYC_POOL) free(made->object);
    free(made);
}
static inline tracyc_object *tracyc_find(int kind, const char *name, const void *place)
{
    const int by_address = kind >= TRACYC_PLOT;
    unsigned hash = 2166136261u + (unsigned)kind;
    for (const char *c = name; *c; ++c) hash = (hash ^ (unsigned char)*c) * 16777619u;
    tracyc_object **first = &tracyc_objects[hash % TRACYC_LISTS], *made = NULL;
    tracyc_object *head = __atomic_load_n(first, __ATOMIC_ACQUIRE);
    for (;;) {
        for (tracyc_object *known = head; known; known = known->next) {
            if (known->kind != kind || known->place != place) continue;
            if (by_address ? known->name != name : strcmp(known->name, name) != 0) continue;
            tracyc_destroy(made); /* another thread was faster */
            return known;
        }
        if (!made) {
            const size_t size = by_address ? 0 : strlen(name) + 1;
            made = (tracyc_object *)calloc(1, sizeof *made + size);
            if (!made) return NULL;
            made->kind = kind;
            made->place = place;
            made->name = by_address ? name : (const char *)memcpy(made + 1, name, size);
            made->object = tracyc_make(made);
        }
        made->next = head;
        if (__atomic_compare_exchange_n(first, &head, made, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) return made;
    }
}
static inline void *tracyc_named(int kind, const char *name)
{
    tracyc_object *known = tracyc_find(kind, name, NULL);
    return known ? known->object : NULL;
}
/* A place in the program mostly gives the same name again. */
static inline void *tracyc_again(tracyc_object **last, int kind, const char *name, const void *place)
{
    tracyc_object *known = __atomic_load_n(last, __ATOMIC_ACQUIRE);
    if (!known || known->name != name) {
        known = tracyc_find(kind, name, place);
        __atomic_store_n(last, known, __ATOMIC_RELEASE);
    }
    return known ? known->object : NULL;
}
static inline prof_frame *tracyc_frame(const char *name) { return (prof_frame *)tracyc_named(TRACYC_FRAME, name); }
static inline prof_fiber *tracyc_fiber(const char *name) { return (prof_fiber *)tracyc_named(TRACYC_FIBER, name); }
static inline prof_counter *tracyc_plot(tracyc_object **last, const char *name)
{
    return (prof_counter *)tracyc_again(last, TRACYC_PLOT, name, NULL);
}
static inline void tracyc_thread(const char *name) { PROFILE_THREAD(name); }
static inline void tracyc_app_info(const char *text, size_t size)
{
    char copy[256];
    snprintf(copy, sizeof copy, "%.*s", (int)size, text);
    prof_set_metadata("app info", copy);
}

#define TracyConcat(a, b) TracyConcatIndirect(a, b)
#define TracyConcatIndirect(a, b) a##b

/* Zones. PROFILE_BEGIN records the line of the source; the range has the same name, so that TracyCZoneEnd ends the
   innermost scope of that name on its thread or fiber. */
typedef prof_range *TracyCZoneCtx;
static inline TracyCZoneCtx tracyc_range(const char *name) { return (prof_range *)tracyc_named(TRACYC_RANGE, name); }
static inline TracyCZoneCtx tracyc_zone(prof_range **zone, const char *name)
{
    prof_range *known = __atomic_load_n(zone, __ATOMIC_ACQUIRE);
    if (!known) __atomic_store_n(zone, known = tracyc_range(name), __ATOMIC_RELEASE);
    return known;
}
#if PROF_ENABLE
#define TracyCZoneN(zone, name, active) /* some programs write "const zone" */                                  \
    static prof_range *TracyConcat(tracyc_range_, __LINE__);                                                    \
    prof_range *TracyConcat(tracyc_on_, __LINE__) = (active) ? tracyc_zone(&TracyConcat(tracyc_range_, __LINE__), \
                                                                           name) : NULL;                        \
    if (TracyConcat(tracyc_on_, __LINE__)) PROFILE_BEGIN(name);                                                 \
    TracyCZoneCtx zone = TracyConcat(tracyc_on_, __LINE__);
#else
#define TracyCZoneN(zone, name, active) TracyCZoneCtx zone = NULL;
#endif
#define TracyCZone(zone, active) TracyCZoneN(zone, __func__, active)
#define TracyCZoneC(zone, color, active) TracyCZoneN(zone, __func__, active)
#define TracyCZoneNC(zone, name, color, active) TracyCZoneN(zone, name, active)
#define TracyCZoneS(zone, depth, active) TracyCZoneN(zone, __func__, active)
#define TracyCZoneNS(zone, name, depth, active) TracyCZoneN(zone, name, active)
#define TracyCZoneCS(zone, color, depth, active) TracyCZoneN(zone, __func__, active)
#define TracyCZoneNCS(zone, name, color, depth, active) TracyCZoneN(zone, name, active)
#define TracyCZoneEnd(zone) prof_range_stop(zone);

/* Arguments of the innermost scope of the thread, which should be the zone. Texts need no zero at their end. */
#define TRACYC_FORMATTED(zone, record, ...)                           \
    do {                                                              \
        char tracyc_text[256];                                        \
        if (!(zone) || !prof_enabled()) break;                        \
        snprintf(tracyc_text, sizeof tracyc_text, __VA_ARGS__);       \
        record;                                                       \
    } while (0);
#define TRACYC_TEXT(zone, key, text, size)                    \
    do {                                                      \
        if (zone) PROFILE_ARG_TEXT(key, text, size);          \
    } while (0);
#define TracyCZoneTextF(zone, ...) TRACYC_FORMATTED(zone, PROFILE_ARG_S("text", tracyc_text), __VA_ARGS__)
#define TracyCZoneText(zone, text, size) TRACYC_TEXT(zone, "text", text, size)
#define TracyCZoneNameF(zone, ...) TRACYC_FORMATTED(zone, PROFILE_ARG_S("name", tracyc_text), __VA_ARGS__)
#define TracyCZoneName(zone, text, size) TRACYC_TEXT(zone, "name", text, size)
#define TracyCZoneValue(zone, value)                          \
    do {                                                      \
        if (zone) PROFILE_ARG_U("value", (uint64_t)(value));  \
    } while (0);
#define TracyCZoneColor(zone, color) (void)(zone);

/* The functions behind the macros, which bindings of other languages and macros of programs call. Zones that are made
   at run time have the line of no source. */
struct ___tracy_source_location_data {
    const char *name, *function, *file;
    uint32_t line, color;
};
static inline TracyCZoneCtx tracyc_begin(TracyCZoneCtx zone, int active)
{
    if (!active) return NULL;
    prof_range_start(zone);
    return zone;
}
static inline TracyCZoneCtx tracyc_part(const char *text, size_t size)
{
    char name[256];
    snprintf(name, sizeof name, "%.*s", (int)size, text);
    return tracyc_range(name);
}
static inline TracyCZoneCtx ___tracy_emit_zone_begin(const struct ___tracy_source_location_data *place, int active)
{
    return tracyc_begin(tracyc_range(place->name ? place->name : place->function), active);
}
#define ___tracy_emit_zone_begin_callstack(place, depth, active) ___tracy_emit_zone_begin(place, active)
#define ___tracy_alloc_srcloc(line, file, file_size, function, size, color) \
    ((uint64_t)(uintptr_t)tracyc_part(function, size))
#define ___tracy_alloc_srcloc_name(line, file, file_size, function, function_size, name, size, color) \
    ((uint64_t)(uintptr_t)tracyc_part(name, size))
#define ___tracy_emit_zone_begin_alloc(place, active) tracyc_begin((TracyCZoneCtx)(uintptr_t)(place), active)
#define ___tracy_emit_zone_begin_alloc_callstack(place, depth, active) ___tracy_emit_zone_begin_alloc(place, active)
static inline void ___tracy_emit_zone_end(TracyCZoneCtx zone) { prof_range_stop(zone); }
static inline void ___tracy_emit_zone_text(TracyCZoneCtx zone, const char *text, size_t size)
{
    TracyCZoneText(zone, text, size)
}
static inline void ___tracy_emit_zone_name(TracyCZoneCtx zone, const char *text, size_t size)
{
    TracyCZoneName(zone, text, size)
}
static inline void ___tracy_emit_zone_value(TracyCZoneCtx zone, uint64_t value) { TracyCZoneValue(zone, value) }
static inline void ___tracy_emit_zone_color(TracyCZoneCtx zone, uint32_t color) { (void)zone, (void)color; }
static inline void ___tracy_set_thread_name(const char *name) { tracyc_thread(name); }

#define TracyCFrameMark PROFILE_FRAME("Frame");
#define TracyCFrameMarkNamed(name) prof_frame_start(tracyc_frame(name)); /* ends the frame before */
#define TracyCFrameMarkStart(name) prof_frame_start(tracyc_frame(name));
#define TracyCFrameMarkEnd(name) prof_frame_stop(tracyc_frame(name));
#define TracyCFrameImage(image, width, height, offset, flip)
#define TracyCFiberEnter(name) prof_fiber_switch(tracyc_fiber(name));
#define TracyCFiberLeave prof_fiber_switch(NULL);

/* The name may be a pointer. */
#define TRACYC_PLOTTED(name, set, value)                      \
    do {                                                      \
        static tracyc_object *tracyc_last;                    \
        set(tracyc_plot(&tracyc_last, name), value);          \
    } while (0);
#define TracyCPlot(name, value) TRACYC_PLOTTED(name, prof_counter_set_double, (double)(value))
#define TracyCPlotF(name, value) TracyCPlot(name, value)
#define TracyCPlotI(name, value) TRACYC_PLOTTED(name, prof_counter_set, (int64_t)(value))
#define TracyCPlotConfig(name, type, step, fill, color)
#define TracyCMessage(text, size) PROFILE_LOG(PROF_LOG_INFO, "%.*s", (int)(size), text)
#define TracyCMessageL(text) PROFILE_LOG(PROF_LOG_INFO, "%s", text)
#define TracyCMessageC(text, size, color) TracyCMessage(text, size)
#define TracyCMessageLC(text, color) TracyCMessageL(text)
#define TracyCMessageS(text, size, depth) TracyCMessage(text, size)
#define TracyCMessageLS(text, depth) TracyCMessageL(text)
#define TracyCMessageCS(text, size, color, depth) TracyCMessage(text, size)
#define TracyCMessageLCS(text, color, depth) TracyCMessageL(text)
#define TracyCAppInfo(text, size) tracyc_app_info(text, size);
#define TracyCSetThreadName(name) tracyc_thread(name);

#define TracyCAlloc(pointer, size) PROFILE_ALLOC(pointer, size)
#define TracyCFree(pointer) PROFILE_FREE(pointer)
/* The name of a pool may be a pointer. */
#if PROF_ENABLE
static inline void tracyc_memory(prof_site *site, uint64_t freed, uint64_t address, uint64_t bytes)
{
    if (site && prof__live(site)) prof__memory(site, PROF__FREE_IN_POOL, freed, address, bytes);
}
#define TRACYC_IN_POOL(event, pool, freed, pointer, size)                                                           \
    do {                                                                                                            \
        static prof_site tracyc_site = {0, event, "", __FILE__, __func__, __LINE__, 0, PROF_SITE_LEVEL,             \
                                        PROF__KIND_EVENT | PROF_ROLE_MEMORY << PROF__ROLE_SHIFT, 0, 0, 0};          \
        static tracyc_object *tracyc_last;                                                                          \
        tracyc_memory((prof_site *)tracyc_again(&tracyc_last, TRACYC_POOL, pool, &tracyc_site), (uintptr_t)(freed), \
                      (uintptr_t)(pointer), size);                                                                  \
    } while (0)
#else
#define TRACYC_IN_POOL(event, pool, freed, pointer, size) PROFILE_ALLOC_POOL(pointer, size, pool)
#endif
#define TracyCAllocN(pointer, size, pool) TRACYC_IN_POOL("alloc", pool, 0, pointer, size)
#define TracyCFreeN(pointer, pool) TRACYC_IN_POOL("free", pool, pointer, 0, 0)
#define TracyCAllocS(pointer, size, depth) TracyCAlloc(pointer, size)
#define TracyCFreeS(pointer, depth) TracyCFree(pointer)
#define TracyCAllocNS(pointer, size, depth, pool) TracyCAllocN(pointer, size, pool)
#define TracyCFreeNS(pointer, depth, pool) TracyCFreeN(pointer, pool)
#define TracyCSecureAlloc(pointer, size) TracyCAlloc(pointer, size)
#define TracyCSecureFree(pointer) TracyCFree(pointer)
#define TracyCSecureAllocN(pointer, size, pool) TracyCAllocN(pointer, size, pool)
#define TracyCSecureFreeN(pointer, pool) TracyCFreeN(pointer, pool)
#define TracyCSecureAllocS(pointer, size, depth) TracyCAlloc(pointer, size)
#define TracyCSecureFreeS(pointer, depth) TracyCFree(pointer)
#define TracyCSecureAllocNS(pointer, size, depth, pool) TracyCAllocN(pointer, size, pool)
#define TracyCSecureFreeNS(pointer, depth, pool) TracyCFreeN(pointer, pool)
#define TracyCMemoryDiscard(pool) (void)(pool);
#define TracyCMemoryDiscardS(pool, depth) (void)(pool);
#define TracyCSecureMemoryDiscard(pool) (void)(pool);
#define TracyCSecureMemoryDiscardS(pool, depth) (void)(pool);
#define TracyCBeginSamplingProfiling() 0
#define TracyCEndSamplingProfiling()

/* Locks. A lock has the name of its variable. Readers of a shared lock are not recorded: several may hold it. */
typedef char *TracyCLockCtx, *TracyCSharedLockCtx;
#define TracyCLockAnnounce(lock) lock = (char *)malloc(1);
#define TracyCLockTerminate(lock) free(lock);
#define TracyCLockBeforeLock(lock) PROFILE_LOCK_WAIT(lock, #lock);
#define TracyCLockAfterLock(lock) PROFILE_LOCK_ACQUIRE(lock, #lock);
#define TracyCLockAfterUnlock(lock) PROFILE_LOCK_RELEASE(lock, #lock);
#define TracyCLockAfterTryLock(lock, acquired)              \
    do {                                                    \
        if (acquired) PROFILE_LOCK_ACQUIRE(lock, #lock);    \
    } while (0);
#define TracyCLockMark(lock) (void)(lock);
#define TracyCLockCustomName(lock, name, size) (void)(lock);
#define TracyCSharedLockAnnounce(lock) TracyCLockAnnounce(lock)
#define TracyCSharedLockTerminate(lock) TracyCLockTerminate(lock)
#define TracyCSharedLockBeforeLock(lock) TracyCLockBeforeLock(lock)
#define TracyCSharedLockAfterLock(lock) TracyCLockAfterLock(lock)
#define TracyCSharedLockAfterUnlock(lock) TracyCLockAfterUnlock(lock)
#define TracyCSharedLockAfterTryLock(lock, acquired) TracyCLockAfterTryLock(lock, acquired)
#define TracyCSharedLockBeforeSharedLock(lock) (void)(lock);
#define TracyCSharedLockAfterSharedLock(lock) (void)(lock);
#define TracyCSharedLockAfterSharedUnlock(lock) (void)(lock);
#define TracyCSharedLockAfterTrySharedLock(lock, acquired) (void)(lock), (void)(acquired);
#define TracyCSharedLockMark(lock) (void)(lock);
#define TracyCSharedLockCustomName(lock, name, size) (void)(lock);

#define TracyCIsConnected (prof_enabled() != 0)
#define TracyCIsStarted 1

#ifdef __cplusplus
}
#endif
#endif
