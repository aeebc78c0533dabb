// ntff/record: Records events on tracks of devices in the running session.
#ifndef PROF__NTFF_RECORD_H
#define PROF__NTFF_RECORD_H
#include "api/control.h"
#include "api/devices.h"
#include "api/values.h"
#include "ground/numbers.h"
#include "ground/threads.h"
#include "record/device.h"
#include "ntff/api.h"
#include "ntff/clock.h"
#include "ntff/json.h"
#include "ntff/parser.h"

/*-- tracks of devices --*/

typedef struct prof__ntff_place {
    char device[64 + 64 + 32], row[64];
} prof__ntff_place;

/* Finds the device and row of an event. home, instance: this process and machine, whose names the device leaves out. */
static void prof__ntff_place_of(const prof_ntff_event *event, uint64_t home, const char *instance,
                                prof__ntff_place *place)
{
    static const char *const kinds[PROF_NTFF_SOURCE_COUNT] = {"Neuron", "Neuron runtime", "NeuronCore",
                                                              "Neuron framework", "Neuron host"};
    int source = (unsigned)event->source < PROF_NTFF_SOURCE_COUNT ? (int)event->source : 0;
    int used = snprintf(place->device, sizeof place->device, "%s", kinds[source]);
    if (event->nc_idx >= 0 && (source == PROF_NTFF_SOURCE_RUNTIME || source == PROF_NTFF_SOURCE_HARDWARE))
        used += snprintf(place->device + used, sizeof place->device - (size_t)used, " %d", (int)event->nc_idx);
    if (event->pid && event->pid != home)
        used += snprintf(place->device + used, sizeof place->device - (size_t)used, " of process %llu",
                         (unsigned long long)event->pid);
    if (event->instance && strcmp(event->instance, instance))
        snprintf(place->device + used, sizeof place->device - (size_t)used, " on %.63s", event->instance);
    if (event->flags & PROF_NTFF_COUNTER)
        snprintf(place->row, sizeof place->row, "%s", strncmp(event->name, "cpu", 3) ? "memory" : "load");
    else if (source == PROF_NTFF_SOURCE_HARDWARE && event->core_idx >= 0)
        snprintf(place->row, sizeof place->row, "core %d", (int)event->core_idx);
    else if (source == PROF_NTFF_SOURCE_HARDWARE)
        snprintf(place->row, sizeof place->row, "core");
    else if (event->tid)
        snprintf(place->row, sizeof place->row, "thread %llu", (unsigned long long)event->tid);
    else
        snprintf(place->row, sizeof place->row, "events");
}

/* The arguments of an event, and the texts that they point to. */
typedef struct prof__ntff_args {
    prof_arg list[PROF_DEVICE_ARGS];
    uint32_t count;
    size_t used;
    char texts[8192];
    prof__json_value value;
} prof__ntff_args;

static char *prof__ntff_args_keep(prof__ntff_args *args, const char *bytes, size_t length)
{
    char *to = args->texts + args->used;
    if (length >= sizeof args->texts - args->used) return NULL;
    memcpy(to, bytes, length);
    to[length] = 0;
    args->used += length + 1;
    return to;
}

static void prof__ntff_args_add(prof__ntff_args *args, const char *key, prof_value_type type, uint64_t number)
{
    prof_arg *arg = &args->list[args->count];
    if (args->count == PROF_DEVICE_ARGS) return;
    args->count++;
    memset(arg, 0, sizeof *arg);
    arg->key = key;
    arg->value.type = type;
    arg->value.as.u = number;
}

static void prof__ntff_args_text(prof__ntff_args *args, const char *key, const char *bytes, size_t length)
{
    const char *text = prof__ntff_args_keep(args, bytes, length);
    if (!text || args->count == PROF_DEVICE_ARGS) return;
    prof__ntff_args_add(args, key, PROF_VALUE_STRING, 0);
    args->list[args->count - 1].value.as.string = text;
}

static void prof__ntff_args_value(prof__ntff_args *args, const char *key, const prof__slice *raw)
{
    const prof__json_value *value = &args->value;
    int64_t whole;
    uint64_t more;
    double number;
    if (value->type == '{' || value->type == '[') {
        prof__ntff_args_text(args, key, raw->bytes, raw->size < PROF_MAX_TEXT ? raw->size : PROF_MAX_TEXT);
    } else if (value->type == '"') {
        prof__ntff_args_text(args, key, value->text, strlen(value->text));
    } else if (value->type == 't' || value->type == 'f') {
        prof__ntff_args_add(args, key, PROF_VALUE_BOOL, value->type == 't');
    } else if (value->type == '0' && !strpbrk(value->text, ".eE") && prof__json_signed(value, &whole)) {
        prof__ntff_args_add(args, key, PROF_VALUE_INT, (uint64_t)whole);
    } else if (value->type == '0' && !strpbrk(value->text, ".eE") && prof__json_unsigned(value, &more)) {
        prof__ntff_args_add(args, key, PROF_VALUE_UINT, more);
    } else if (prof__json_double(value, &number)) {
        memcpy(&more, &number, sizeof more);
        prof__ntff_args_add(args, key, PROF_VALUE_DOUBLE, more);
    }
}

/* Collects as arguments all that the event's device and row do not show. */
static void prof__ntff_args_of(const prof_ntff_event *event, prof__ntff_args *args)
{
    char key[64];
    int first = 1;
    prof__json j;
    prof__slice raw;
    args->count = 0;
    args->used = 0;
    if (event->flags & PROF_NTFF_UNMATCHED_STOP) prof__ntff_args_text(args, "truncated", "begin", 5);
    if (event->flags & PROF_NTFF_REALIGNED) prof__ntff_args_add(args, "realigned", PROF_VALUE_BOOL, 1);
    if (event->tracking_id) prof__ntff_args_add(args, "tracking_id", PROF_VALUE_UINT, event->tracking_id);
    if (event->nrta_seq) prof__ntff_args_add(args, "nrta_seq_id", PROF_VALUE_UINT, event->nrta_seq);
    prof__json_memory(&j, event->args ? event->args : "", event->args ? event->args_size : 0);
    if (!event->args || !prof__json_expect(&j, '{', "is not an object")) return;
    while (args->count < PROF_DEVICE_ARGS && prof__json_more(&j, '}', &first)) {
        int field;
        char *kept;
        if (!prof__json_key(&j, key, sizeof key)) return;
        field = prof__ntff_key(key);
        if (field && field != PROF__NTFF_EXEC && field != PROF__NTFF_VALUE && field != PROF__NTFF_CPU) {
            if (!prof__json_pass(&j)) return;
            continue;
        }
        (void)prof__json_peek(&j);
        raw.bytes = j.at;
        if (!prof__json_take(&j, &args->value)) return;
        raw.size = (size_t)(j.at - raw.bytes);
        kept = prof__ntff_args_keep(args, key, strlen(key));
        if (!kept) return;
        prof__ntff_args_value(args, kept, &raw);
    }
}

/* Returns 1 if a number is an integer, and small enough that a double holds it exactly. */
static int prof__ntff_whole(double value)
{
    if (!prof__finite(value) || value < -9e15 || value > 9e15) return 0;
    double rest = value - (double)(int64_t)value;
    return !(rest < 0) && !(rest > 0);
}

/* Makes an event for prof_device_record(). offset: Unix time minus the device's time. An event from before the host was
   started gets the time 0, which readers leave out as before the session. */
static prof_device_event prof__ntff_device_event(const prof_ntff_event *event, int64_t offset, prof__ntff_args *args)
{
    prof_device_event e;
    int64_t start = prof__ntff_minus(event->start_ns, offset);
    int64_t end = prof__ntff_minus(start, event->duration_ns > 0 ? -event->duration_ns : 0);
    memset(&e, 0, sizeof e);
    e.name = event->name;
    e.start = start > 0 ? (uint64_t)start : 0;
    if (event->flags & PROF_NTFF_COUNTER) {
        e.type = PROF_EVENT_COUNTER;
        e.value.type = PROF_VALUE_DOUBLE;
        e.value.as.d = event->value;
        if (prof__ntff_whole(event->value)) {
            e.value.type = PROF_VALUE_INT;
            e.value.as.i = (int64_t)event->value;
        }
        return e;
    }
    prof__ntff_args_of(event, args);
    e.args = args->list;
    e.arg_count = args->count;
    e.type = event->duration_ns < 0 ? PROF_EVENT_MARK : PROF_EVENT_SCOPE;
    e.end = end > 0 ? (uint64_t)end : 0;
    if (event->flags & PROF_NTFF_UNMATCHED_START && e.end) e.end = e.start - 1; /* end < start: not known */
    return e;
}

PROF_DEF int prof_ntff_record(void *user, const prof_ntff_event *event)
{
    PROF__CALM();
    static const prof_device_clock clock = {1000000000, 0, 0};
    prof__ntff_place place;
    prof__ntff_args args;
    prof_device *device;
    prof_device_row *row;
    prof_device_event e;
    (void)user;
    if (!event || !event->name || (event->flags & PROF_NTFF_RAW_CLOCK) || !prof_enabled()) return 0;
    prof__ntff_place_of(event, prof__process_id(), event->instance ? event->instance : "", &place);
    device = prof_device_create(place.device, &clock);
    row = prof_device_row_create(device, place.row);
    if (!row) return 0;
    e = prof__ntff_device_event(event, prof__device_on_host(device), &args);
    prof_device_record(row, &e);
    return 0;
}

#endif /* PROF__NTFF_RECORD_H */
