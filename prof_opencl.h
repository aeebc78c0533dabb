/* prof_opencl.h - what devices do for OpenCL, on the time line of the program's scopes - public domain or MIT-0; needs
                   assembled from src/: change it there, see CONTRIBUTING.md
                   prof.h and libc, no header of OpenCL and no library; the licence is at the end of this file

QUICK START

    #define PROF_IMPLEMENTATION            // in exactly one file of the program, C or C++
    #include "prof_opencl.h"               // includes prof.h

    prof_cl *gpu = prof_cl_create(NULL, NULL);
    queue made with CL_QUEUE_PROFILING_ENABLE
    PROFILE_CL_ENQUEUE(gpu, queue, event, "matmul", error = clEnqueueNDRangeKernel(queue, kernel, ..., &event));
    clReleaseEvent(event);                 // as before: prof holds the event itself for as long as it needs it
    prof_cl_collect(gpu);                  // now and then: records what is complete, without waiting
    prof_cl_finish(gpu);                   // before prof_stop(): waits for the rest
    prof_cl_destroy(gpu);

WHAT IT RECORDS

    The device "OpenCL NAME OF THE DEVICE" has a track for each queue, "queue 1" and so on, or the name that
    prof_cl_queue_name() gave. A scope there lasts from the command's start to its end. Its arguments say how long the
    command was in the queue of the host (queued_ns: until it was submitted to the device) and in that of the device
    (submitted_ns: until it started). An arrow leads to each from the scope of the host that queued it. Commands of an
    out-of-order queue that overlap are on further tracks, "queue 1 #2" and so on. The category of all of them is the
    device's name.

    PROFILE_CL_ENQUEUE retains the event, and puts it into a ring. PROFILE_CL_EVENT(gpu, queue, event, "matmul") after
    a call does so, too; its arrow is missing where the command began before the call had returned. prof_cl_collect()
    asks each event whether it is complete; of a queue that is in order it stops at the first that is not. If the ring
    is full, an event that is added collects by itself. While nothing is recorded, it does nothing. Memory is
    allocated when a queue is first seen.

    Clocks. A device's first event reads its clock beside the host's, then one a second (options.calibrate_ms): with
    clGetDeviceAndHostTimer(), of OpenCL 2.1. Where that does not work it puts four markers into the queue, and reads
    their times later; where these leave more than 4 us open, again after the next event, up to four times. A marker
    waits for the commands before it, and nothing waits for a marker.

WHAT IT NEEDS

    OpenCL 1.2, and queues with CL_QUEUE_PROFILING_ENABLE: events of others have no times, which is said once.
    prof_cl_create(NULL, ...) finds OpenCL in the process or loads it: libOpenCL.so.1, OpenCL.dll, OpenCL.framework. A
    program that has its own loader passes it. If something is missing, prof_cl_create() returns NULL and prof_error()
    says what; everything else does nothing with a NULL. Any thread may call these functions; prof_cl_destroy() comes
    after all others. One prof_cl serves for all queues, contexts and devices of the process.

WHAT IS LOST

    prof_cl_collect() and prof_cl_finish() return PROF_INVALID_STATE if events were lost since the last call, and
    prof_error() says how many and why; the recording's metadata say it, too. The ring was full (options.events: 1024
    are on their way); the queue has no profiling; the command failed; OpenCL refused to tell, with its error; the
    device gave no times; prof_cl_destroy() came before they were complete.

WHAT IT COSTS

    24 ns for each event on the host, and what clRetainEvent() and two clGetCommandQueueInfo() take, which tell whether
    the queue at this address is still the same one; 90 ns when it is collected. Markers take the host
    0.1 ms a second on pocl.
*/
#include "prof.h" /* outside of the include guard, because this may be the inclusion with PROF_IMPLEMENTATION */

#pragma pack(push, 16) /* as in prof.h */
#ifndef PROF_OPENCL_H
#define PROF_OPENCL_H

#ifdef __cplusplus
extern "C" {
#endif

typedef struct prof_cl prof_cl;                          /* the events of this process */
typedef void (*prof_cl_function)(void);
typedef prof_cl_function prof_cl_load(const char *name); /* returns a function of OpenCL, or null */

/* All zero is the default. prof_cl_create() copies the texts. */
typedef struct prof_cl_options {
    uint32_t events;       /* how many may be on their way to a device and back, up to 65536; 0: 1024 */
    uint32_t calibrate_ms; /* how often prof_cl_collect() reads both clocks; 0: 1000; UINT32_MAX: only once */
    int no_arrows;         /* 1: no arrows from the scopes of the host */
    int no_timer;          /* 1: markers instead of clGetDeviceAndHostTimer(), where that is not the clock of events */
} prof_cl_options;

/* How many events there were so far. */
typedef struct prof_cl_info {
    uint64_t recorded;    /* their times were read, whether a session ran then or not */
    uint64_t pending;     /* not complete when they were last looked at */
    uint64_t full;        /* lost: the ring was full */
    uint64_t unprofiled;  /* lost: the queue has no profiling */
    uint64_t failed;      /* lost: the command failed */
    uint64_t refused;     /* lost: OpenCL returned an error instead of times */
    uint64_t timeless;    /* lost: the times are zero, or in the wrong order */
    uint64_t destroyed;   /* lost: prof_cl_destroy() came before they were complete */
} prof_cl_info;

#if PROF_ENABLE
/* Finds OpenCL. load may be NULL. Returns NULL, and prof_error() says why, if OpenCL is not there or lacks a function,
   an option is out of range or memory runs out. */
PROF__API prof_cl *prof_cl_create(prof_cl_load *load, const prof_cl_options *options);
/* Lets go of all events. Returns what prof_cl_collect() does. */
PROF__API prof_status prof_cl_destroy(prof_cl *cl);
/* Names the queue's track. queue: a cl_command_queue. Returns PROF_INVALID_STATE if the queue has events already,
   PROF_INVALID_ARGUMENT if it is none, PROF_NO_MEMORY. */
PROF__API prof_status prof_cl_queue_name(prof_cl *cl, void *queue, const char *name);
/* Records what is complete, without waiting for the rest. Returns PROF_INVALID_STATE if events were lost since the last
   call: prof_error() says how many and why. If another thread is collecting, it does nothing. */
PROF__API prof_status prof_cl_collect(prof_cl *cl);
/* Waits until all events are complete, and records them. Returns what prof_cl_collect() does. An event that waits for a
   user event of the program waits here, too. */
PROF__API prof_status prof_cl_finish(prof_cl *cl);
PROF__API prof_status prof_cl_get_info(prof_cl *cl, prof_cl_info *info);
/* What PROFILE_CL_EVENT calls. queue: a cl_command_queue, event: a cl_event; a null event is ignored. name is copied,
   up to 95 bytes. */
PROF__API void prof_cl_event(prof_cl *cl, void *queue, void *event, const char *name);
/* What PROFILE_CL_ENQUEUE calls: begins an arrow at the scope of this thread, and returns its id, which the second
   takes. 0: no arrow. */
PROF__API uint64_t prof_cl_arrow(prof_cl *cl);
PROF__API void prof_cl_event_of(prof_cl *cl, void *queue, void *event, const char *name, uint64_t arrow);
#else
#define prof_cl_create(load, options) PROF__STRIPPED(PROF__STRIPPED_OBJECT(prof_cl *), PROF__USE2(load, options))
#define prof_cl_destroy(cl) PROF__STRIPPED(PROF_OK, PROF__USE(cl))
#define prof_cl_queue_name(cl, queue, name) PROF__STRIPPED(PROF_OK, PROF__USE3(cl, queue, name))
#define prof_cl_collect(cl) PROF__STRIPPED(PROF_OK, PROF__USE(cl))
#define prof_cl_finish(cl) PROF__STRIPPED(PROF_OK, PROF__USE(cl))
#define prof_cl_get_info(cl, info) \
    PROF__STRIPPED((prof__stripped_none(info, sizeof(prof_cl_info)), PROF_OK), PROF__USE(cl))
#define prof_cl_event(cl, queue, event, name) PROF__STRIPPED((void)0, PROF__USE4(cl, queue, event, name))
#define prof_cl_arrow(cl) PROF__STRIPPED(PROF__TO(uint64_t, 0), PROF__USE(cl))
#define prof_cl_event_of(cl, queue, event, name, arrow) \
    PROF__STRIPPED((void)0, (0 ? (void)(arrow) : PROF__USE4(cl, queue, event, name)))
#endif

/* Makes a call that queues a command, and records when the device did it:
   PROFILE_CL_ENQUEUE(cl, queue, event, "matmul", error = clEnqueueNDRangeKernel(queue, ..., &event)). event is null
   before, so that it is where the call fails. With PROF_ENABLE=0 the call is made, too. name may be of run time. */
#define PROFILE_CL_ENQUEUE(cl, queue, event, name, ...)                                                    \
    PROF__EITHER(do {                                                                                      \
                     const uint64_t prof__arrow = prof_cl_arrow(cl);                                       \
                     __VA_ARGS__;                                                                          \
                     prof_cl_event_of(cl, queue, event, PROF__TEXT(name), prof__arrow);                    \
                 } while (0),                                                                              \
                 do { __VA_ARGS__; PROF__USE4(cl, queue, event, name); } while (0))
/* Records when the device did the command of this event: put it after the call that returned the event. It has no arrow
   if the command began before that. */
#define PROFILE_CL_EVENT(cl, queue, event, ...)                                                            \
    PROF__EITHER(prof_cl_event(cl, queue, event, PROF__TEXT(__VA_ARGS__)),                                 \
                 PROF__USE4(cl, queue, event, (__VA_ARGS__)))

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif /* PROF_OPENCL_H */

/*== END OF HEADER ==================================================================================================*/

#if defined(PROF_IMPLEMENTATION) && PROF_ENABLE && !defined(PROF_FREESTANDING) && !defined(PROF__OPENCL_IMPLEMENTED)
#define PROF__OPENCL_IMPLEMENTED

#ifdef PROF__WRAPS_MALLOC /* so that prof's own allocations are not recorded as the program's */
#define malloc(size) __libc_malloc(size)
#define calloc(count, size) __libc_calloc(count, size)
#define realloc(at, size) __libc_realloc(at, size)
#define free(at) __libc_free(at)
#endif

#ifdef __cplusplus
extern "C" {
#endif

#ifndef PROF__GPU_SHARED /* other collectors have it, too */
#define PROF__GPU_SHARED
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
#endif

#if defined(_WIN32) && !defined(_WIN64)
#define PROF__CL_CALL __stdcall
#else
#define PROF__CL_CALL
#endif

enum {
    PROF__CL_NO_TIMES = -7, /* CL_PROFILING_INFO_NOT_AVAILABLE */
    PROF__CL_DEVICE_NAME = 0x102B,
    PROF__CL_QUEUE_DEVICE = 0x1091,
    PROF__CL_QUEUE_PROPERTIES = 0x1093,
    PROF__CL_EVENT_STATUS = 0x11D3,
    PROF__CL_QUEUED = 0x1280, /* of a command; the next three are those of SUBMIT, START and END */
    PROF__CL_OUT_OF_ORDER = 1,
    PROF__CL_PROFILING = 2
};

/* The last one may be missing. */
#define PROF__CL_FUNCTIONS(X)                                                                                          \
    X(queue_info, "clGetCommandQueueInfo", (void *queue, unsigned name, size_t size, void *value, size_t *written))    \
    X(device_info, "clGetDeviceInfo", (void *device, unsigned name, size_t size, void *value, size_t *written))        \
    X(event_info, "clGetEventInfo", (void *event, unsigned name, size_t size, void *value, size_t *written))           \
    X(event_times, "clGetEventProfilingInfo", (void *event, unsigned name, size_t size, void *value, size_t *written)) \
    X(event_retain, "clRetainEvent", (void *event))                                                                    \
    X(event_release, "clReleaseEvent", (void *event))                                                                  \
    X(events_wait, "clWaitForEvents", (unsigned count, void *const *events))                                           \
    X(marker, "clEnqueueMarkerWithWaitList", (void *queue, unsigned count, void *const *events, void **event))         \
    X(timer, "clGetDeviceAndHostTimer", (void *device, uint64_t *device_ns, uint64_t *host_ns))

typedef struct prof__cl_api {
#define PROF__CL_FIELD(field, name, parameters) int (PROF__CL_CALL *field) parameters;
    PROF__CL_FUNCTIONS(PROF__CL_FIELD)
} prof__cl_api;

/* Finds functions in what the program is linked to, or in the library, which is loaded if need be. */
static prof_cl_function prof__cl_find(const char *name)
{
#if defined(_WIN32)
    static const char *const libraries[] = {"OpenCL.dll", NULL};
#elif defined(__APPLE__)
    static const char *const libraries[] = {"/System/Library/Frameworks/OpenCL.framework/OpenCL", NULL};
#else
    static const char *const libraries[] = {"libOpenCL.so.1", "libOpenCL.so", NULL};
#endif
    prof_cl_function function = prof__gpu_symbol(NULL, name);
    void *library = function ? NULL : prof__gpu_library(libraries, 1);
    return library ? prof__gpu_symbol(library, name) : function;
}

static int prof__cl_api_load(prof__cl_api *api, prof_cl_load *load)
{
    static const struct {
        const char *name;
        size_t field;
    } wanted[] = {
#define PROF__CL_WANTED(field, name, parameters) {name, offsetof(prof__cl_api, field)},
        PROF__CL_FUNCTIONS(PROF__CL_WANTED)
    };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; ++i) {
        prof_cl_function function = load ? load(wanted[i].name) : prof__cl_find(wanted[i].name);
        if (!function && wanted[i].field != offsetof(prof__cl_api, timer)) {
            prof__fail(PROF_UNSUPPORTED, "prof_cl_create: there is no %s: %s", wanted[i].name,
                       load || i ? "OpenCL is older than 1.2, or the loader does not find it" :
                                   "install an ICD loader, libOpenCL.so.1 or OpenCL.dll");
            return 0;
        }
        memcpy((char *)api + wanted[i].field, &function, sizeof function);
    }
    return 1;
}

enum {
    PROF__CL_FULL,
    PROF__CL_UNPROFILED,
    PROF__CL_FAILED,
    PROF__CL_REFUSED,
    PROF__CL_TIMELESS,
    PROF__CL_DESTROYED
};

/* A device of OpenCL. */
typedef struct prof__cl_device {
    void *id;
    prof_device *device;
    struct prof__cl_device *next;
    uint32_t queues;
    int due;                       /* 1: the next event reads both clocks: only then a queue is known to live */
    int no_timer;                  /* clGetDeviceAndHostTimer() does not work */
    uint64_t calibrated, after_ns; /* when that was, and how long until the next time */
    uint32_t bursts;               /* of markers, that were read since then */
    int64_t least, most;           /* of a burst: between what the device's clock is ahead of the host's */
    uint64_t ticks, host_ns, slack; /* the best pair by a burst since then; host_ns 0: none */
} prof__cl_device;

/* A queue. The program may free it, and get the same address again for another: so each event asks what queue that is
   now. One of the same kind goes on in the track of the old one. */
typedef struct prof__cl_queue {
    void *id;
    uint64_t properties;
    prof__cl_device *of;
    prof_device_row *row;
    struct prof__cl_queue *next;
    int profiles, in_order;
    int blocked; /* while events are collected: one of this queue is not complete, nor are those after it */
} prof__cl_queue;

typedef struct prof__cl_event {
    void *id;
    prof__cl_queue *queue;
    uint64_t flow;
    uint64_t marked, returned; /* of a marker: prof_host_ns() before and after it was queued; else 0 */
    int status;                /* of a marker: what it was then */
    int first, last;           /* of a burst of markers */
    char name[96];
} prof__cl_event;

/* The lock protects what PROFILE_CL_EVENT changes: queues, devices, what came, held, losses. No command of OpenCL is
   queued under it. Who collects has the other lock, and owns what waits. */
struct prof_cl {
    prof__cl_api api;
    int lock, collecting;
    prof__cl_queue *queues;
    prof__cl_device *devices;
    prof__cl_event *came, *waiting;
    uint32_t size, came_count, waiting_count, held, markers; /* held, markers: events, and markers, that are not done */
    int arrows, no_timer;
    uint64_t calibrate_ns, recorded; /* calibrate_ns 0: only once */
    prof__gpu_losses losses;
    int first_error; /* of those that are lost */
    char full[120], refused[120];
    const char *causes[PROF__GPU_CAUSES];
};

/* Under the lock. */
static void prof__cl_lose(prof_cl *cl, int cause, int error)
{
    cl->losses.counts[cause]++;
    if (cause != PROF__CL_REFUSED || !error || cl->first_error) return;
    cl->first_error = error;
    snprintf(cl->refused, sizeof cl->refused, "OpenCL did not tell their times: the first error is %d", error);
}

/*-- devices and queues, under the lock --*/

static prof__cl_device *prof__cl_device_of(prof_cl *cl, void *id)
{
    static const prof_device_clock clock = {1000000000, 0, 0};
    char name[200] = "OpenCL ", number[16];
    prof__cl_device *found;
    int same = 1;
    for (found = cl->devices; found && found->id != id; found = found->next) continue;
    if (found || !(found = (prof__cl_device *)calloc(1, sizeof *found))) return found;
    if (cl->api.device_info(id, PROF__CL_DEVICE_NAME, 120, name + 7, NULL)) prof__text_copy(name + 7, 16, "device");
    size_t end = strlen(name);
    for (;;) { /* two devices of the same name have two clocks */
        const prof__cl_device *other = cl->devices;
        found->device = prof_device_create(name, &clock);
        while (other && other->device != found->device) other = other->next;
        if (!other) break;
        snprintf(number, sizeof number, " %d", ++same);
        prof__text_copy(name + end, sizeof name - end, number);
    }
    found->id = id;
    found->due = 1;
    found->no_timer = cl->no_timer || !cl->api.timer;
    found->after_ns = cl->calibrate_ns / 16;
    found->next = cl->devices;
    cl->devices = found;
    return found;
}

/* Returns the queue, or null if it is none or memory runs out. */
static prof__cl_queue *prof__cl_queue_of(prof_cl *cl, void *id, const char *name)
{
    prof__cl_queue *queue;
    uint64_t properties = 0;
    void *device = NULL;
    char row[32];
    if (!id || cl->api.queue_info(id, PROF__CL_QUEUE_DEVICE, sizeof device, &device, NULL) || !device ||
        cl->api.queue_info(id, PROF__CL_QUEUE_PROPERTIES, sizeof properties, &properties, NULL))
        return NULL;
    for (queue = cl->queues; queue; queue = queue->next)
        if (queue->id == id && queue->of->id == device && queue->properties == properties) return queue;
    queue = (prof__cl_queue *)calloc(1, sizeof *queue);
    prof__cl_device *of = queue ? prof__cl_device_of(cl, device) : NULL;
    if (!of) {
        free(queue);
        return NULL;
    }
    queue->id = id;
    queue->of = of;
    queue->properties = properties;
    queue->profiles = (properties & PROF__CL_PROFILING) != 0;
    queue->in_order = !(properties & PROF__CL_OUT_OF_ORDER);
    snprintf(row, sizeof row, "queue %u", (unsigned)++of->queues);
    queue->row = prof_device_row_create(of->device, name ? name : row);
    queue->next = cl->queues;
    cl->queues = queue;
    return queue;
}

PROF_DEF prof_status prof_cl_queue_name(prof_cl *cl, void *id, const char *name)
{
    prof_status status = PROF_OK;
    if (!cl) return PROF_OK;
    if (!name || !*name) return prof__fail(PROF_INVALID_ARGUMENT, "prof_cl_queue_name: name is null or empty");
    prof__lock(&cl->lock);
    prof__cl_queue *known = cl->queues;
    while (known && known->id != id) known = known->next;
    if (known)
        status = prof__fail(PROF_INVALID_STATE, "prof_cl_queue_name: the queue has a name already: call this before "
                                                "its events");
    else if (!prof__cl_queue_of(cl, id, name))
        status = prof__fail(PROF_INVALID_ARGUMENT, "prof_cl_queue_name: OpenCL knows no such queue");
    prof__unlock(&cl->lock);
    return status;
}

/*-- clocks --*/

/* Reads the device's timer beside the host's clock. Returns 0 if it does not work. The time of the host that it also
   tells is of a clock that OpenCL does not name. */
static int prof__cl_read_timer(prof_cl *cl, const prof__cl_device *of)
{
    prof__gpu_pair pair;
    memset(&pair, 0, sizeof pair);
    for (int i = 0; i < 8; ++i) {
        uint64_t ticks = 0, host = 0;
        prof__gpu_pair_before(&pair);
        if (cl->api.timer(of->id, &ticks, &host) || !ticks) return 0;
        if (!prof__gpu_pair_after(&pair, ticks)) break;
    }
    prof_device_sync(of->device, pair.ticks, pair.host_ns);
    return 1;
}

/* Puts an event into the ring, which has room for it. Under the lock. Returns its place. */
static prof__cl_event *prof__cl_put(prof_cl *cl, prof__cl_queue *queue, void *event, const char *name)
{
    prof__cl_event *at = &cl->came[cl->came_count++];
    at->id = event;
    at->queue = queue;
    at->marked = at->flow = 0;
    prof__text_copy(at->name, sizeof at->name, name ? name : "");
    return at;
}

#define PROF__CL_ROOM 64    /* for markers, beside the events of the ring */
#define PROF__CL_BURST 4    /* markers that are queued one behind the other */
#define PROF__CL_SLACK 4000 /* ns: a pair that may be wrong by half of it is good enough */
#define PROF__CL_BURSTS 4   /* so many are tried before the best of them has to do */

/* Puts markers into the queue. Once they are complete their times say how the clocks agree: a marker was queued after
   the call began, and it had come as far as its status says when the call had returned. */
static void prof__cl_mark(prof_cl *cl, prof__cl_queue *queue)
{
    for (int i = 0; i < PROF__CL_BURST; ++i) {
        void *marker = NULL;
        int status = 3; /* CL_QUEUED */
        uint64_t marked = prof_host_ns();
        if (cl->api.marker(queue->id, 0, NULL, &marker) || !marker) return;
        cl->api.event_info(marker, PROF__CL_EVENT_STATUS, sizeof status, &status, NULL);
        uint64_t returned = prof_host_ns();
        prof__lock(&cl->lock);
        prof__cl_event *at = cl->markers < PROF__CL_ROOM ? prof__cl_put(cl, queue, marker, "") : NULL;
        if (at) {
            cl->markers++;
            at->marked = marked;
            at->returned = returned;
            at->status = status;
            at->first = i == 0;
            at->last = i == PROF__CL_BURST - 1;
        }
        prof__unlock(&cl->lock);
        if (!at) cl->api.event_release(marker);
    }
}

static void prof__cl_pair_ends(prof__cl_device *of)
{
    if (of->host_ns) prof_device_sync(of->device, of->ticks, of->host_ns);
    of->host_ns = 0;
    of->bursts = 0;
}

/* Adds what a marker's times say: queued, submitted, started, ended. After the last one of a burst the middle of what
   is left open is a pair of clocks. Under the lock. */
static void prof__cl_pair(prof__cl_device *of, const prof__cl_event *marker, const uint64_t *times)
{
    int came = marker->status < 0 || marker->status > 3 ? 0 : 3 - marker->status;
    if (!times[0]) return;
    int64_t most = (int64_t)(times[0] - marker->marked), least = (int64_t)(times[came] - marker->returned);
    if (marker->first || most < of->most) of->most = most;
    if (marker->first || least > of->least) of->least = least;
    if (!marker->last) return;
    uint64_t slack = of->most > of->least ? (uint64_t)(of->most - of->least) : 0;
    if (!of->host_ns || slack < of->slack) {
        of->slack = slack;
        of->ticks = times[0];
        of->host_ns = times[0] - (uint64_t)of->most + slack / 2;
    }
    if (of->slack <= PROF__CL_SLACK || ++of->bursts >= PROF__CL_BURSTS) prof__cl_pair_ends(of);
    else of->due = 1;
}

/* Reads both clocks of a device. One thread does so at a time: the one that took `due`. The first times come sooner, so
   that the rate is known. */
static void prof__cl_calibrate(prof_cl *cl, prof__cl_queue *queue)
{
    prof__cl_device *of = queue->of;
    if (!of->no_timer) of->no_timer = !prof__cl_read_timer(cl, of);
    if (of->no_timer) prof__cl_mark(cl, queue);
    PROF__RELEASE(&of->calibrated, prof_host_ns());
}

/* Under the lock. */
static void prof__cl_look_at_clocks(const prof_cl *cl)
{
    uint64_t now = prof_host_ns();
    for (prof__cl_device *of = cl->devices; of; of = of->next) {
        uint64_t calibrated = PROF__ACQUIRE(&of->calibrated);
        if (!cl->calibrate_ns || !calibrated || of->due || now - calibrated < of->after_ns) continue;
        if (of->after_ns < cl->calibrate_ns) of->after_ns *= 2;
        PROF__STORE(&of->calibrated, PROF__TO(uint64_t, 0)); /* until it is done */
        of->due = 1;
    }
}

/*-- collection --*/

static void prof__cl_record(const prof__cl_event *event, const uint64_t *times)
{
    prof_arg args[2];
    prof_device_event scope;
    memset(&scope, 0, sizeof scope);
    memset(args, 0, sizeof args);
    args[0].key = "queued_ns";
    args[1].key = "submitted_ns";
    for (int i = 0; i < 2; ++i) {
        args[i].value.type = PROF_VALUE_UINT;
        args[i].value.as.u = times[i + 1] - times[i];
        if (times[i] && times[i + 1] >= times[i]) scope.arg_count = (uint32_t)i + 1;
        else break;
    }
    scope.type = PROF_EVENT_SCOPE;
    scope.name = event->name;
    scope.start = times[2];
    scope.end = times[3];
    scope.flow = event->flow;
    scope.args = args;
    prof_device_record(event->queue->row, &scope);
}

/* Returns 0 if the event is not complete; else records it, or sets *cause and *error. times: of zeros. */
static int prof__cl_complete(prof_cl *cl, const prof__cl_event *event, uint64_t *times, int *cause, int *error)
{
    int status = 1;
    if (event->queue->blocked) return 0;
    *error = cl->api.event_info(event->id, PROF__CL_EVENT_STATUS, sizeof status, &status, NULL);
    if (!*error && status > 0) {
        event->queue->blocked = event->queue->in_order;
        return 0;
    }
    *cause = *error ? PROF__CL_REFUSED : status < 0 ? PROF__CL_FAILED : -1;
    for (unsigned i = 0; i < 4 && *cause < 0; ++i) {
        *error = cl->api.event_times(event->id, PROF__CL_QUEUED + i, sizeof *times, &times[i], NULL);
        if (*error) *cause = *error == PROF__CL_NO_TIMES ? PROF__CL_UNPROFILED : PROF__CL_REFUSED;
    }
    if (event->marked) return 1;
    if (*cause < 0 && (!times[2] || times[3] < times[2])) *cause = PROF__CL_TIMELESS;
    else if (*cause < 0) prof__cl_record(event, times);
    return 1;
}

/* Moves what came to what waits, and returns how much waits. */
static uint32_t prof__cl_take(prof_cl *cl)
{
    prof__lock(&cl->lock);
    memcpy(cl->waiting + cl->waiting_count, cl->came, cl->came_count * sizeof *cl->came);
    cl->waiting_count += cl->came_count;
    cl->came_count = 0;
    for (prof__cl_queue *queue = cl->queues; queue; queue = queue->next) queue->blocked = 0;
    prof__cl_look_at_clocks(cl);
    prof__unlock(&cl->lock);
    return cl->waiting_count;
}

/* Records what is complete. The caller has the lock of who collects. */
static void prof__cl_gather(prof_cl *cl)
{
    uint32_t count = prof__cl_take(cl), kept = 0;
    for (uint32_t i = 0; i < count; ++i) {
        const prof__cl_event *event = &cl->waiting[i];
        uint64_t times[4] = {0, 0, 0, 0}; /* queued, submitted, started, ended */
        int cause = -1, error = 0;
        if (!prof__cl_complete(cl, event, times, &cause, &error)) {
            if (kept != i) cl->waiting[kept] = *event;
            kept++;
            continue;
        }
        cl->api.event_release(event->id);
        prof__lock(&cl->lock);
        if (event->marked) cl->markers--;
        else PROF__STORE(&cl->held, cl->held - 1);
        if (event->marked) prof__cl_pair(event->queue->of, event, times);
        else if (cause >= 0) prof__cl_lose(cl, cause, error);
        else cl->recorded++;
        prof__unlock(&cl->lock);
    }
    cl->waiting_count = kept;
}

static prof_status prof__cl_tell(prof_cl *cl, int ends)
{
    prof__lock(&cl->lock);
    for (prof__cl_device *of = ends ? cl->devices : NULL; of; of = of->next) prof__cl_pair_ends(of);
    prof_status status = prof__gpu_losses_tell(&cl->losses, ends);
    prof__unlock(&cl->lock);
    return status;
}

PROF_DEF prof_status prof_cl_collect(prof_cl *cl)
{
    if (!cl || !prof__lock_take(&cl->collecting, 0)) return PROF_OK;
    prof__cl_gather(cl);
    prof__unlock(&cl->collecting);
    return prof__cl_tell(cl, 0);
}

PROF_DEF prof_status prof_cl_finish(prof_cl *cl)
{
    if (!cl) return PROF_OK;
    prof__lock(&cl->collecting);
    uint32_t count = prof__cl_take(cl);
    for (uint32_t i = 0; i < count; ++i) cl->api.events_wait(1, &cl->waiting[i].id); /* one by one: others may fail */
    prof__cl_gather(cl);
    prof__unlock(&cl->collecting);
    return prof__cl_tell(cl, 1);
}

PROF_DEF prof_status prof_cl_get_info(prof_cl *cl, prof_cl_info *info)
{
    if (!info) return prof__fail(PROF_INVALID_ARGUMENT, "prof_cl_get_info: info is null");
    memset(info, 0, sizeof *info);
    if (!cl) return PROF_OK;
    prof__lock(&cl->lock);
    info->recorded = cl->recorded;
    info->pending = cl->held;
    info->full = cl->losses.counts[PROF__CL_FULL];
    info->unprofiled = cl->losses.counts[PROF__CL_UNPROFILED];
    info->failed = cl->losses.counts[PROF__CL_FAILED];
    info->refused = cl->losses.counts[PROF__CL_REFUSED];
    info->timeless = cl->losses.counts[PROF__CL_TIMELESS];
    info->destroyed = cl->losses.counts[PROF__CL_DESTROYED];
    prof__unlock(&cl->lock);
    return PROF_OK;
}

/*-- markup --*/

/* Puts the event of a queue into the ring, or counts it as lost. Returns 1 if the device's clocks are to be read. */
static int prof__cl_add(prof_cl *cl, prof__cl_queue *queue, void *event, const char *name, uint64_t arrow)
{
    int error = 0, due = queue->profiles && queue->of->due;
    if (!queue->profiles) {
        prof__cl_lose(cl, PROF__CL_UNPROFILED, 0);
    } else if (cl->held >= cl->size) {
        prof__cl_lose(cl, PROF__CL_FULL, 0);
    } else if ((error = cl->api.event_retain(event)) != 0) {
        prof__cl_lose(cl, PROF__CL_REFUSED, error);
    } else {
        prof__cl_put(cl, queue, event, name)->flow = arrow;
        PROF__STORE(&cl->held, cl->held + 1);
    }
    if (due) queue->of->due = 0;
    return due;
}

PROF_DEF uint64_t prof_cl_arrow(prof_cl *cl)
{
    uint64_t arrow = cl && cl->arrows ? prof_flow_new() : 0;
    if (arrow) PROFILE_FLOW_OUT(arrow);
    return arrow;
}

PROF_DEF void prof_cl_event(prof_cl *cl, void *queue, void *event, const char *name)
{
    prof_cl_event_of(cl, queue, event, name, event ? prof_cl_arrow(cl) : 0);
}

PROF_DEF void prof_cl_event_of(prof_cl *cl, void *id, void *event, const char *name, uint64_t arrow)
{
    if (!cl || !event) return;
    if (PROF__LOAD(&cl->held) >= cl->size && prof__lock_take(&cl->collecting, 0)) {
        prof__cl_gather(cl);
        prof__unlock(&cl->collecting);
    }
    prof__lock(&cl->lock);
    prof__cl_queue *queue = prof__cl_queue_of(cl, id, NULL);
    int due = 0;
    if (!queue) prof__cl_lose(cl, PROF__CL_REFUSED, 0);
    else if (prof__device_live(queue->of->device)) due = prof__cl_add(cl, queue, event, name, arrow);
    prof__unlock(&cl->lock);
    if (due) prof__cl_calibrate(cl, queue);
}

/*-- life --*/

static void prof__cl_free(prof_cl *cl)
{
    for (prof__cl_queue *queue = cl->queues, *next; queue; queue = next) {
        next = queue->next;
        free(queue);
    }
    for (prof__cl_device *device = cl->devices, *next; device; device = next) {
        next = device->next;
        free(device);
    }
    free(cl->came);
    free(cl->waiting);
    free(cl);
}

static prof_cl *prof__cl_allocate(uint32_t size)
{
    prof_cl *cl = (prof_cl *)calloc(1, sizeof *cl);
    if (!cl) return NULL;
    cl->size = size;
    cl->came = (prof__cl_event *)calloc(size + PROF__CL_ROOM, sizeof *cl->came);
    cl->waiting = (prof__cl_event *)calloc(size + PROF__CL_ROOM, sizeof *cl->waiting);
    if (cl->came && cl->waiting) return cl;
    prof__cl_free(cl);
    return NULL;
}

/* Says what each cause of a loss is. */
static void prof__cl_explain(prof_cl *cl)
{
    snprintf(cl->full, sizeof cl->full, "the ring of %u events was full: set options.events, or collect more often",
             (unsigned)cl->size);
    snprintf(cl->refused, sizeof cl->refused, "OpenCL knows no such queue");
    cl->causes[PROF__CL_FULL] = cl->full;
    cl->causes[PROF__CL_UNPROFILED] = "their queue has no profiling: make it with CL_QUEUE_PROFILING_ENABLE";
    cl->causes[PROF__CL_FAILED] = "the commands failed";
    cl->causes[PROF__CL_REFUSED] = cl->refused;
    cl->causes[PROF__CL_TIMELESS] = "the device told no times, or an end before the start";
    cl->causes[PROF__CL_DESTROYED] = "prof_cl_destroy() came before they were complete: call prof_cl_finish()";
    cl->losses.key = "OpenCL events";
    cl->losses.causes = cl->causes;
}

PROF_DEF prof_cl *prof_cl_create(prof_cl_load *load, const prof_cl_options *options)
{
    static const prof_cl_options defaults = {0, 0, 0, 0};
    if (!options) options = &defaults;
    if (options->events > 65536) {
        prof__fail(PROF_INVALID_ARGUMENT, "prof_cl_create: options.events is above 65536");
        return NULL;
    }
    prof_cl *cl = prof__cl_allocate(options->events ? options->events : 1024);
    if (!cl) {
        prof__fail(PROF_NO_MEMORY, "prof_cl_create: no memory for the events");
        return NULL;
    }
    if (!prof__cl_api_load(&cl->api, load)) {
        prof__cl_free(cl);
        return NULL;
    }
    cl->arrows = !options->no_arrows;
    cl->no_timer = options->no_timer;
    if (options->calibrate_ms != UINT32_MAX)
        cl->calibrate_ns = (options->calibrate_ms ? options->calibrate_ms : 1000) * (uint64_t)1000000;
    prof__cl_explain(cl);
    return cl;
}

PROF_DEF prof_status prof_cl_destroy(prof_cl *cl)
{
    if (!cl) return PROF_OK;
    uint32_t count = prof__cl_take(cl);
    for (uint32_t i = 0; i < count; ++i) {
        if (!cl->waiting[i].marked) cl->losses.counts[PROF__CL_DESTROYED]++;
        cl->api.event_release(cl->waiting[i].id);
    }
    prof_status status = prof__cl_tell(cl, 1);
    prof__cl_free(cl);
    return status;
}

#ifdef __cplusplus
} /* extern "C" */
#endif

#ifdef PROF__WRAPS_MALLOC
#undef malloc
#undef calloc
#undef realloc
#undef free
#endif
#endif /* PROF_IMPLEMENTATION */

#pragma pack(pop)

/* This software is available under two licences: choose the one you prefer.

ALTERNATIVE A - MIT No Attribution (MIT-0)

Copyright 2026 the prof authors

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated
documentation files (the "Software"), to deal in the Software without restriction, including without limitation the
rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit
persons to whom the Software is furnished to do so.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR
OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.

ALTERNATIVE B - public domain (www.unlicense.org)

This is free and unencumbered software released into the public domain.

Anyone is free to copy, modify, publish, use, compile, sell, or distribute this software, either in source code form or
as a compiled binary, for any purpose, commercial or non-commercial, and by any means.

In jurisdictions that recognize copyright laws, the author or authors of this software dedicate any and all copyright
interest in the software to the public domain. We make this dedication for the benefit of the public at large and to the
detriment of our heirs and successors. We intend this dedication to be an overt act of relinquishment in perpetuity of
all present and future rights to this software under copyright law.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS BE
LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT
OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE. */
