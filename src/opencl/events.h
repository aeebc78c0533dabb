// opencl/events: Queues and their events: they come from any thread, and are recorded when they are complete.
#ifndef PROF__OPENCL_EVENTS_H
#define PROF__OPENCL_EVENTS_H
#include "api/macros.h"
#include "ground/errors.h"
#include "ground/lock.h"
#include "record/device.h"
#include "gpu/shared.h"
#include "opencl/functions.h"

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

#endif /* PROF__OPENCL_EVENTS_H */
