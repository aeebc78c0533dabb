// cuda/event: An event of a GPU with its arguments, and the tracks that events are recorded in.
#ifndef PROF__CUDA_EVENT_H
#define PROF__CUDA_EVENT_H
#include "record/device.h"
#include "session/process.h"
#include "cuda/state.h"

#ifdef PROF__CUDA_LINUX
/* An event that is being put together, in the collector. */
typedef struct prof__cuda_event {
    prof_device_event event;
    prof_arg args[PROF_DEVICE_ARGS];
    char details[200], context[16];
} prof__cuda_event;

static prof_value *prof__cuda_arg(prof__cuda_event *made, const char *key, prof_value_type type)
{
    prof_arg *arg = &made->args[made->event.arg_count < PROF_DEVICE_ARGS - 1 ? made->event.arg_count++
                                                                             : PROF_DEVICE_ARGS - 1];
    memset(arg, 0, sizeof *arg);
    arg->key = key;
    arg->value.type = type;
    return &arg->value;
}

static void prof__cuda_arg_number(prof__cuda_event *made, const char *key, uint64_t number)
{
    prof__cuda_arg(made, key, PROF_VALUE_UINT)->as.u = number;
}

static void prof__cuda_arg_text(prof__cuda_event *made, const char *key, const char *text)
{
    prof__cuda_arg(made, key, PROF_VALUE_STRING)->as.string = text;
}

/* The id of the arrow from the call with this correlation id to what it made the GPU do. Unlike the ids of
   prof_flow_new(), its first bit is 1. */
static uint64_t prof__cuda_flow(uint32_t correlation)
{
    return (uint64_t)1 << 63 | (prof__process_id() & 0x7FFFFFFF) << 32 | correlation;
}

/* Begins an event. correlation: 0: of no call. */
static void prof__cuda_event_begin(prof__cuda_event *made, const char *name, uint64_t start, uint64_t end,
                                   uint32_t correlation)
{
    memset(made, 0, sizeof *made);
    made->event.type = PROF_EVENT_SCOPE;
    made->event.name = name;
    made->event.start = start;
    made->event.end = end;
    made->event.args = made->args;
    if (!correlation) return;
    if (prof__cuda.arrows) made->event.flow = prof__cuda_flow(correlation);
    prof__cuda_arg_number(made, "correlation_id", correlation);
}

/* The context as XProf's own recorder writes it. */
static void prof__cuda_arg_context(prof__cuda_event *made, uint32_t context)
{
    snprintf(made->context, sizeof made->context, "$$%u", (unsigned)context);
    prof__cuda_arg_text(made, "context_id", made->context);
}

static void prof__cuda_arg_graph(prof__cuda_event *made, uint32_t graph, uint64_t node)
{
    if (graph) prof__cuda_arg_number(made, "cuda_graph_id", graph);
    if (node) prof__cuda_arg_number(made, "cuda_graph_node_id", node);
}

/* Records an event. count: of events of its kind; it counts instead as dropped or untimed where it is. */
static void prof__cuda_put(prof_device_row *row, const prof__cuda_event *made, uint64_t *count)
{
    const prof_device_event *event = &made->event;
    prof_cuda_counts *counts = &prof__cuda.counts;
    uint64_t events = counts->kernels + counts->copies + counts->fills + counts->graphs + counts->allocations +
                      counts->others;
    if (!event->start || (event->type == PROF_EVENT_SCOPE && event->end < event->start)) {
        prof__cuda_count(&counts->untimed, 1);
    } else if (events >= prof__cuda.wishes.events) {
        prof__cuda_count(&counts->events_dropped, 1);
    } else {
        prof_device_record(row, event);
        prof__cuda_count(count, 1);
    }
}

/* Returns a GPU that is recorded, or NULL. */
static prof__cuda_gpu *prof__cuda_gpu_of(uint32_t ordinal)
{
    uint64_t most = prof__cuda.wishes.gpus;
    if (ordinal < prof__cuda.gpus && prof__cuda.gpu[ordinal].device) return &prof__cuda.gpu[ordinal];
    if (ordinal >= prof__cuda.gpus || !most || ordinal < most) prof__cuda_count(&prof__cuda.counts.unknown, 1);
    return NULL;
}

/* Returns a row of a device, which is made when it is first needed. */
static prof_device_row *prof__cuda_row(prof_device *device, prof_device_row **row, const char *name)
{
    if (!*row) *row = prof_device_row_create(device, name);
    return *row;
}

/* Returns the row of a key, which is not 0; a new one gets the name. With too many rows, or without memory: NULL. */
static prof_device_row *prof__cuda_row_of(uint64_t key, prof_device *device, const char *name, uint32_t number)
{
    char text[40];
    uint32_t at = (uint32_t)((key * 0x9E3779B97F4A7C15u) >> 40) % PROF__CUDA_ROWS;
    for (; prof__cuda.rows[at].key; at = (at + 1) % PROF__CUDA_ROWS)
        if (prof__cuda.rows[at].key == key) return prof__cuda.rows[at].row;
    int full = prof__cuda.row_count >= PROF__CUDA_ROWS / 4 * 3;
    snprintf(text, sizeof text, full ? "other %ss" : "%s #%u", name, (unsigned)number);
    prof_device_row *row = prof_device_row_create(device, text);
    if (full) return row;
    prof__cuda.rows[at].key = key;
    prof__cuda.rows[at].row = row;
    ++prof__cuda.row_count;
    return row;
}

static prof_device_row *prof__cuda_stream(const prof__cuda_gpu *gpu, uint32_t stream)
{
    uint64_t ordinal = (uint64_t)(gpu - prof__cuda.gpu);
    return prof__cuda_row_of((ordinal + 1) << 32 | stream, gpu->device, "Stream", stream);
}
#endif

#endif /* PROF__CUDA_EVENT_H */
