/* Tracy's macros for C, those of tracy/TracyC.h, on top of prof: a program that is marked up with them needs only
   another include, and one file that defines PROF_IMPLEMENTATION. For C++ there is tracy.hpp, which includes this file.
   docs/coming-from/tracy.md says what becomes of each macro.

       #define TRACYC_IMPLEMENTATION   // in one file too, if the program uses TracyCFrameMarkStart or TracyCFiberEnter
       #include "tracyc.h"             // instead of "tracy/TracyC.h"

   Macros end in a semicolon where Tracy's do. Colours of zones and depths of call stacks are ignored. All may be used
   on any thread. In a signal handler use only zones and frames that were used before outside of one, because the first
   use allocates memory, and no fibers and no texts of zones. If there is no memory for a zone, a frame or a fiber, it
   is not recorded. Needs gcc or clang. */
#ifndef PROF_TRACYC_H
#define PROF_TRACYC_H

#include "prof.h"
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Zones. PROFILE_BEGIN records the line of the source; the range has the same name, so that TracyCZoneEnd ends the
   innermost scope of that name on its thread or fiber. */
typedef prof_range *TracyCZoneCtx;
static inline TracyCZoneCtx tracyc_zone(prof_range **zone, const char *name)
{
    prof_range *known = __atomic_load_n(zone, __ATOMIC_ACQUIRE), *none = NULL;
    if (known) return known;
    known = prof_range_create(name);
    if (__atomic_compare_exchange_n(zone, &none, known, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) return known;
    prof_range_destroy(known); /* another thread was faster */
    return none;
}
#if PROF_ENABLE
#define TracyCZoneN(zone, name, active)                                                \
    static prof_range *zone##_range;                                                   \
    TracyCZoneCtx zone = (active) ? tracyc_zone(&zone##_range, name) : NULL;           \
    if (zone) PROFILE_BEGIN(name);
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

/* Frames and fibers are known by their names, and are never destroyed. */
prof_frame *tracyc_frame(const char *name);
prof_fiber *tracyc_fiber(const char *name);
#define TracyCFrameMark PROFILE_FRAME("Frame");
#define TracyCFrameMarkNamed(name) PROFILE_FRAME(name);
#define TracyCFrameMarkStart(name) prof_frame_start(tracyc_frame(name));
#define TracyCFrameMarkEnd(name) prof_frame_stop(tracyc_frame(name));
#define TracyCFrameImage(image, width, height, offset, flip)
#define TracyCFiberEnter(name) prof_fiber_switch(tracyc_fiber(name));
#define TracyCFiberLeave prof_fiber_switch(NULL);

#define TracyCPlot(name, value) PROFILE_COUNTER(name, (double)(value));
#define TracyCPlotF(name, value) PROFILE_COUNTER(name, (double)(value));
#define TracyCPlotI(name, value) PROFILE_COUNTER(name, (int64_t)(value));
#define TracyCPlotConfig(name, type, step, fill, color)
#define TracyCMessage(text, size) PROFILE_LOG(PROF_LOG_INFO, "%.*s", (int)(size), text)
#define TracyCMessageL(text) PROFILE_LOG(PROF_LOG_INFO, "%s", text)
#define TracyCMessageC(text, size, color) TracyCMessage(text, size)
#define TracyCMessageLC(text, color) TracyCMessageL(text)
#define TracyCMessageS(text, size, depth) TracyCMessage(text, size)
#define TracyCMessageLS(text, depth) TracyCMessageL(text)
#define TracyCMessageCS(text, size, color, depth) TracyCMessage(text, size)
#define TracyCMessageLCS(text, color, depth) TracyCMessageL(text)
#define TracyCAppInfo(text, size)                                                 \
    do {                                                                          \
        char tracyc_text[256];                                                    \
        snprintf(tracyc_text, sizeof tracyc_text, "%.*s", (int)(size), text);     \
        prof_set_metadata("app info", tracyc_text);                               \
    } while (0);
#define TracyCSetThreadName(name) PROFILE_THREAD(name);

#define TracyCAlloc(pointer, size) PROFILE_ALLOC(pointer, size)
#define TracyCFree(pointer) PROFILE_FREE(pointer)
#define TracyCAllocN(pointer, size, pool) PROFILE_ALLOC_POOL(pointer, size, pool)
#define TracyCFreeN(pointer, pool) PROFILE_FREE_POOL(pointer, pool)
#define TracyCAllocS(pointer, size, depth) TracyCAlloc(pointer, size)
#define TracyCFreeS(pointer, depth) TracyCFree(pointer)
#define TracyCAllocNS(pointer, size, depth, pool) TracyCAllocN(pointer, size, pool)
#define TracyCFreeNS(pointer, depth, pool) TracyCFreeN(pointer, pool)

/* Locks. A lock has the name of its variable. Readers of a shared lock are not recorded, because several may hold it. */
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

#if defined(TRACYC_IMPLEMENTATION) && !defined(TRACYC_IMPLEMENTED)
#define TRACYC_IMPLEMENTED
#include <string.h>
typedef struct tracyc_object { /* a frame or a fiber, made at the first use of its name */
    struct tracyc_object *next;
    char *name;
    prof_frame *frame;
    prof_fiber *fiber;
} tracyc_object;

static tracyc_object *tracyc_named(tracyc_object **first, const char *name, int is_fiber)
{
    tracyc_object *head = __atomic_load_n(first, __ATOMIC_ACQUIRE), *object, *made = NULL;
    size_t size = strlen(name) + 1;
    for (;;) {
        for (object = head; object && strcmp(object->name, name); object = object->next) {}
        if (object) break;
        if (!made) {
            made = (tracyc_object *)calloc(1, sizeof *made + size);
            if (!made) return NULL;
            made->name = (char *)memcpy(made + 1, name, size);
            if (is_fiber) made->fiber = prof_fiber_create(name);
            else made->frame = prof_frame_create(NULL, name);
        }
        made->next = head;
        if (__atomic_compare_exchange_n(first, &head, made, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) return made;
    }
    if (made) { /* another thread was faster */
        if (is_fiber) prof_fiber_destroy(made->fiber);
        else prof_frame_destroy(made->frame);
        free(made);
    }
    return object;
}
prof_frame *tracyc_frame(const char *name)
{
    static tracyc_object *frames;
    tracyc_object *object = tracyc_named(&frames, name, 0);
    return object ? object->frame : NULL;
}
prof_fiber *tracyc_fiber(const char *name)
{
    static tracyc_object *fibers;
    tracyc_object *object = tracyc_named(&fibers, name, 1);
    return object ? object->fiber : NULL;
}
#endif

#ifdef __cplusplus
}
#endif
#endif
