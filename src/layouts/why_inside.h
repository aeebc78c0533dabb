// layouts/why_inside: What happened in the calls that prof_why() explains: scopes, allocations, counters, messages.
#ifndef PROF__LAYOUTS_WHY_INSIDE_H
#define PROF__LAYOUTS_WHY_INSIDE_H
#include "api/read.h"
#include "api/values.h"
#include "ground/hash.h"
#include "ground/text.h"
#include "layouts/api.h"
#include "layouts/why_calls.h"
#include "layouts/why_devices.h"
#include "layouts/why_parts.h"

/*-- the third walk: scopes --*/

static int prof__why_same_inner(const void *owner, size_t item, const void *key)
{
    return ((const size_t *)owner)[item] == *(const size_t *)key;
}

/* Returns the row of a name inside a call. Adds it if it is new. Returns NULL without memory. */
static prof_why_inner *prof__why_inner(prof__why *why, prof__why_call *call, size_t name)
{
    uint32_t hash = (uint32_t)prof__mix(name);
    size_t item = prof__read_find(&call->inner_index, hash, prof__why_same_inner, call->inner_names, &name);
    prof_why_inner *row;
    if (item != PROF__NONE) return &call->inner[item];
    row = (prof_why_inner *)PROF__MORE(call->inner, call->inner_room, call->about.inner_count);
    item = PROF__NEW(call->inner_index, hash, call->inner_names, call->inner_name_room, call->inner_name_count);
    if (!row || item == PROF__NONE) return NULL;
    call->inner_names[item] = name;
    row->name = name == PROF__NONE ? "" : why->names.items[name].text;
    row->median_ns = name == PROF__NONE ? 0 : why->names.items[name].self_median;
    row->count_all = name == PROF__NONE ? 0 : why->names.items[name].self.count;
    return row;
}

static int prof__why_spent(void *user, size_t name, int64_t from, int64_t to)
{
    prof__why *why = (prof__why *)user;
    prof_why_inner *row;
    size_t i;
    for (i = 0; i < why->count; i++) {
        prof__why_call *call = &why->calls[i];
        int64_t start = from > call->about.start_ns ? from : call->about.start_ns;
        int64_t end = to < prof__why_end(call) ? to : prof__why_end(call);
        if (call->about.track != why->track || end <= start) continue;
        row = prof__why_inner(why, call, name);
        if (!row) return 0;
        row->self_ns += (uint64_t)(end - start);
    }
    return prof__why_device_spent(why, name, from, to);
}

static int prof__why_ended(void *user, const prof__why_open *scope)
{
    prof__why *why = (prof__why *)user;
    prof_why_inner *row;
    size_t i;
    for (i = 0; i < why->count; i++) {
        prof__why_call *call = &why->calls[i];
        if (call->about.track != why->track || scope->start < call->about.start_ns || scope->end > prof__why_end(call))
            continue;
        row = prof__why_inner(why, call, scope->name);
        if (!row) return 0;
        row->calls++;
        if (scope->self > row->longest_ns) row->longest_ns = scope->self;
    }
    return 1;
}

static int prof__why_inner_order(const void *a, const void *b)
{
    const prof_why_inner *x = (const prof_why_inner *)a, *y = (const prof_why_inner *)b;
    if (x->self_ns != y->self_ns) return x->self_ns > y->self_ns ? -1 : 1;
    return strcmp(x->name, y->name);
}

/*-- counters --*/

typedef struct prof__why_counter {
    const char *name, *unit;
    int sampled; /* 1: prof_system.h samples it: it may have moved at any time between two samples */
} prof__why_counter;

typedef struct prof__why_value {
    int64_t ns;
    double value;
    int known;
} prof__why_value;

/* The values of a counter next to the ends of a call: the last one before it, the first and the last one in it, the
   first one after it. */
typedef struct prof__why_moved {
    prof__why_value before, first, last, after;
} prof__why_moved;

static int prof__why_same_counter(const void *owner, size_t item, const void *key)
{
    const prof__why_counter *counter = (const prof__why_counter *)owner + item;
    const prof__why_counter *wanted = (const prof__why_counter *)key;
    return counter->sampled == wanted->sampled && !strcmp(counter->name, wanted->name);
}

static void prof__why_value_put(prof__why_value *to, int64_t ns, double value, int latest)
{
    if (to->known && (latest ? ns < to->ns : ns >= to->ns)) return;
    to->known = 1;
    to->ns = ns;
    to->value = value;
}

static double prof__why_number(const prof_value *value)
{
    return value->type == PROF_VALUE_INT    ? (double)value->as.i
           : value->type == PROF_VALUE_UINT ? prof__real(value->as.u) : value->as.d;
}

static int prof__why_counted(prof__why *why, const prof_event *event)
{
    uint32_t hash = prof__text_hash(event->name);
    double value = prof__why_number(&event->value);
    prof__why_counter key;
    size_t item, i;
    char **keep;
    key.name = event->name;
    key.sampled = !strcmp(event->site->category, "system");
    item = prof__read_find(&why->counter_index, hash, prof__why_same_counter, why->counters, &key);
    if (item == PROF__NONE) {
        item = PROF__NEW(why->counter_index, hash, why->counters, why->counter_room, why->counter_count);
        keep = item == PROF__NONE ? NULL : (char **)PROF__MORE(why->texts, why->text_room, why->text_count);
        if (!keep || !(*keep = prof__text_join(event->name, ""))) return 0;
        why->counters[item].name = *keep;
        why->counters[item].unit = event->site->unit;
        why->counters[item].sampled = key.sampled;
    }
    for (i = 0; i < why->count; i++) {
        prof__why_call *call = &why->calls[i];
        int64_t ns = event->start_ns, from = call->about.start_ns, to = prof__why_end(call);
        prof__why_moved *moved;
        while (call->moved_count <= item)
            if (!PROF__MORE(call->moved, call->moved_room, call->moved_count)) return 0;
        moved = &call->moved[item];
        if (ns < from) {
            prof__why_value_put(&moved->before, ns, value, 1);
        } else if (ns <= to) {
            prof__why_value_put(&moved->first, ns, value, 0);
            prof__why_value_put(&moved->last, ns, value, 1);
        } else {
            prof__why_value_put(&moved->after, ns, value, 0);
        }
    }
    return 1;
}

static int prof__why_counter_order(const void *a, const void *b)
{
    return strcmp(((const prof_why_counter *)a)->name, ((const prof_why_counter *)b)->name);
}

/* Lists the counters that moved in a call. */
static int prof__why_counters(prof__why *why, prof__why_call *call)
{
    size_t i;
    for (i = 0; i < call->moved_count; i++) {
        const prof__why_moved *moved = &call->moved[i];
        const prof__why_value *first = moved->before.known ? &moved->before : &moved->first;
        const prof__why_value *last = why->counters[i].sampled && !moved->last.known ? &moved->after : &moved->last;
        prof_why_counter *counter;
        if (!first->known || !last->known || !memcmp(&first->value, &last->value, sizeof first->value)) continue;
        counter = (prof_why_counter *)PROF__MORE(call->counters, call->counter_room, call->about.counter_count);
        if (!counter) return 0;
        counter->name = why->counters[i].name;
        counter->unit = why->counters[i].unit;
        counter->first = first->value;
        counter->last = last->value;
        counter->around = !moved->last.known;
    }
    if (call->about.counter_count)
        qsort(call->counters, call->about.counter_count, sizeof *call->counters, prof__why_counter_order);
    return 1;
}

/*-- allocations, messages, losses --*/

#define PROF__WHY_MESSAGES 20u

static int prof__why_message(prof__why *why, prof__why_call *call, const prof_event *event)
{
    prof_why_message *message;
    char **keep;
    if (call->about.message_count == PROF__WHY_MESSAGES) return 1;
    if (!call->messages) call->messages = (prof_why_message *)calloc(PROF__WHY_MESSAGES, sizeof *call->messages);
    keep = (char **)PROF__MORE(why->texts, why->text_room, why->text_count);
    if (!call->messages || !keep || !(*keep = prof__text_join(event->value.as.string, ""))) return 0;
    message = &call->messages[call->about.message_count++];
    message->ns = event->start_ns;
    message->severity = event->detail;
    message->text = *keep;
    return 1;
}

static int prof__why_happened(prof__why *why, const prof_event *event)
{
    size_t i;
    for (i = 0; i < why->count; i++) {
        prof__why_call *call = &why->calls[i];
        if (call->about.track != why->track || event->start_ns < call->about.start_ns ||
            event->start_ns > prof__why_end(call))
            continue;
        if (event->type == PROF_EVENT_ALLOC) call->about.bytes += event->detail;
        call->about.allocations += event->type == PROF_EVENT_ALLOC;
        call->about.frees += event->type == PROF_EVENT_FREE;
        if (event->type == PROF_EVENT_LOST) call->about.lost += event->value.as.u;
        if (event->type == PROF_EVENT_LOG && !prof__why_message(why, call, event)) return 0;
    }
    return 1;
}

static int prof__why_inside_step(prof__why *why, const prof_event *event)
{
    size_t name;
    switch ((int)event->type) {
    case PROF_EVENT_COUNTER: return prof__why_counted(why, event);
    case PROF_EVENT_ALLOC:
    case PROF_EVENT_FREE:
    case PROF_EVENT_LOST:
    case PROF_EVENT_LOG: return prof__why_happened(why, event);
    case PROF_EVENT_SCOPE: break;
    default: return 1;
    }
    if (event->site->role == PROF_ROLE_WAIT) return 1;
    name = prof__why_name_of(&why->names, event->site, event->name, 0);
    return name != PROF__NONE && prof__why_sweep_into(&why->sweep, event, name);
}

/* Finds what happened in the calls. */
static prof_status prof__why_inside(prof__why *why)
{
    prof_status status;
    size_t i;
    why->sweep.spent = prof__why_spent;
    why->sweep.ended = prof__why_ended;
    status = prof__why_tracks(why, prof__why_inside_step);
    for (i = 0; !status && i < why->count; i++) {
        prof__why_call *call = &why->calls[i];
        if (call->about.inner_count)
            qsort(call->inner, call->about.inner_count, sizeof *call->inner, prof__why_inner_order);
        if (call->about.device_count)
            qsort(call->devices, call->about.device_count, sizeof *call->devices, prof__why_device_order);
        if (!prof__why_split(why, call) || !prof__why_counters(why, call)) status = prof__report_no_memory();
    }
    return status;
}

#endif /* PROF__LAYOUTS_WHY_INSIDE_H */
