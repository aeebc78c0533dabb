// ntff/kineto: Writes a trace in the format of PyTorch's profiler, Kineto, event by event.
#ifndef PROF__NTFF_KINETO_H
#define PROF__NTFF_KINETO_H
#include "api/read.h"
#include "api/values.h"
#include "api/writers.h"
#include "ground/digits.h"
#include "ground/errors.h"
#include "ground/hash.h"
#include "ground/json.h"
#include "ground/numbers.h"
#include "ground/out.h"
#include "ntff/api.h"
#include "ntff/clock.h"

/*-- KINETO --------------------------------------------------------------------------------------------- >>kineto -- */

#define PROF__KINETO_PERIOD 7889238           /* a quarter of a year, in s; Kineto's base time is a multiple */
#define PROF__KINETO_ID 1000000000u           /* the first of our own thread ids, which the system does not give */
#define PROF__KINETO_OURS "\"traceName\": \"prof: " /* is in files that prof has written */

typedef struct prof__kineto {
    prof__out out;
    const prof_trace *trace;
    prof_ntff_trace_options options;
    prof__ntff_clock clock;
    int64_t base;       /* the Unix time, in ns, that times count from */
    uint64_t pid, next; /* next: the External id of the next event */
    int lines;          /* 1: there is a line before, so a comma is due */
} prof__kineto;

static void prof__kineto_literal(prof__kineto *k, const char *text) { prof__out_text(&k->out, text); }

static void prof__kineto_string(prof__kineto *k, const char *text)
{
    prof__kineto_literal(k, "\"");
    prof__out_json(&k->out, text);
    prof__kineto_literal(k, "\"");
}

/* Writes nanoseconds as microseconds with three decimals. */
static void prof__kineto_us(prof__kineto *k, int64_t ns)
{
    uint64_t value = ns > 0 ? (uint64_t)ns : 0;
    prof__out_commit(&k->out, prof__decimals(prof__out_reserve(&k->out, 32), value, 3));
}

static int64_t prof__kineto_since(const prof__kineto *k, int64_t ns)
{
    return prof__ntff_minus(prof__ntff_clock_unix(&k->clock, ns), k->base);
}

static void prof__kineto_line(prof__kineto *k, const char *begin)
{
    prof__kineto_literal(k, k->lines ? ",\n" : "\n");
    k->lines = 1;
    prof__kineto_literal(k, begin);
}

static void prof__kineto_ids(prof__kineto *k, uint64_t tid)
{
    prof__kineto_literal(k, ",\"pid\":");
    prof__out_unsigned(&k->out, k->pid);
    prof__kineto_literal(k, ",\"tid\":");
    prof__out_unsigned(&k->out, tid);
}

/* Writes a line of metadata about a process or thread. The argument is `text` or, if that is NULL, `number`. */
static void prof__kineto_about(prof__kineto *k, const char *what, uint64_t tid, const char *key, const char *text,
                               uint64_t number)
{
    prof__kineto_line(k, "{\"ph\":\"M\",\"name\":\"");
    prof__kineto_literal(k, what);
    prof__kineto_literal(k, "\",\"ts\":");
    prof__kineto_us(k, prof__kineto_since(k, 0));
    prof__kineto_ids(k, tid);
    prof__kineto_literal(k, ",\"args\":{\"");
    prof__kineto_literal(k, key);
    prof__kineto_literal(k, "\":");
    if (text)
        prof__kineto_string(k, text);
    else
        prof__out_unsigned(&k->out, number);
    prof__kineto_literal(k, "}}");
}

static void prof__kineto_value(prof__kineto *k, const prof_value *value)
{
    const uint64_t exact = (uint64_t)1 << 53;
    char number[32] = "0x";
    switch ((int)value->type) {
    case PROF_VALUE_INT:
        if (value->as.i <= (int64_t)exact && value->as.i >= -(int64_t)exact) {
            prof__out_signed(&k->out, value->as.i);
        } else {
            prof__kineto_literal(k, "\"");
            prof__out_signed(&k->out, value->as.i);
            prof__kineto_literal(k, "\"");
        }
        break;
    case PROF_VALUE_UINT:
        if (value->as.u > exact) prof__kineto_literal(k, "\"");
        prof__out_unsigned(&k->out, value->as.u);
        if (value->as.u > exact) prof__kineto_literal(k, "\"");
        break;
    case PROF_VALUE_DOUBLE:
        if (prof__finite(value->as.d)) {
            prof__out_double(&k->out, value->as.d);
        } else {
            prof__double_text(number, value->as.d);
            prof__kineto_string(k, number);
        }
        break;
    case PROF_VALUE_BOOL: prof__kineto_literal(k, value->as.u ? "true" : "false"); break;
    case PROF_VALUE_POINTER:
        snprintf(number, sizeof number, "0x%llx", (unsigned long long)value->as.u);
        prof__kineto_string(k, number);
        break;
    case PROF_VALUE_STRING: prof__kineto_string(k, value->as.string ? value->as.string : ""); break;
    default: prof__kineto_literal(k, "null");
    }
}

static int prof__kineto_same_key(const void *args, size_t item, const void *key)
{
    return !strcmp(((const prof_arg *)args)[item].key, (const char *)key);
}

/* Returns a list that has, for each argument of an event, 1 if no later argument has its key. The caller frees the
   list. Returns NULL without memory. */
static unsigned char *prof__kineto_last_args(const prof_event *event)
{
    unsigned char *last = (unsigned char *)calloc(event->arg_count, 1);
    prof__read_index index;
    uint32_t i;
    int good = last != NULL;
    memset(&index, 0, sizeof index);
    for (i = event->arg_count; good && i-- > 0;) {
        const char *key = event->args[i].key;
        uint32_t hash = prof__text_hash(key);
        if (prof__read_find(&index, hash, prof__kineto_same_key, event->args, key) != PROF__NONE) continue;
        good = prof__read_add(&index, hash, i);
        last[i] = 1;
    }
    free(index.slots);
    if (good) return last;
    free(last);
    return NULL;
}

/* Writes the arguments that the program gave. If a key comes twice, writes the last one only. */
static void prof__kineto_args(prof__kineto *k, const prof_event *event)
{
    unsigned char *last = event->arg_count ? prof__kineto_last_args(event) : NULL;
    uint32_t i;
    if (event->arg_count && !last)
        prof__out_fail(&k->out, prof__fail(PROF_NO_MEMORY, "no memory for an event with %lu arguments",
                                           (unsigned long)event->arg_count));
    for (i = 0; last && i < event->arg_count; i++) {
        const char *key = event->args[i].key;
        if (!last[i]) continue;
        prof__kineto_literal(k, ",\"");
        prof__out_json(&k->out, key);
        if (!strcmp(key, "External id") || !strcmp(key, "truncated")) prof__kineto_literal(k, " ");
        prof__kineto_literal(k, "\":");
        prof__kineto_value(k, &event->args[i].value);
    }
    free(last);
}

static void prof__kineto_name(prof__kineto *k, const prof_event *event)
{
    prof__kineto_literal(k, "\"");
    if (k->options.source_names && event->site->file[0]) {
        prof__out_json(&k->out, event->site->file);
        prof__kineto_literal(k, "(");
        prof__out_unsigned(&k->out, event->site->line);
        prof__kineto_literal(k, "): ");
    }
    prof__out_json(&k->out, event->name);
    prof__kineto_literal(k, "\"");
}

static void prof__kineto_scope(prof__kineto *k, const prof_event *event, uint64_t tid)
{
    static const char *const cut[] = {"", ",\"truncated\":\"begin\"", ",\"truncated\":\"end\"",
                                      ",\"truncated\":\"begin and end\""};
    int64_t start = prof__kineto_since(k, event->start_ns),
            end = prof__kineto_since(k, event->start_ns + event->duration_ns);
    prof__kineto_line(k, "{\"ph\":\"X\",\"cat\":");
    prof__kineto_string(k, k->options.category ? k->options.category : "user_annotation");
    prof__kineto_literal(k, ",\"name\":");
    prof__kineto_name(k, event);
    prof__kineto_ids(k, tid);
    prof__kineto_literal(k, ",\"ts\":");
    prof__kineto_us(k, start);
    prof__kineto_literal(k, ",\"dur\":");
    prof__kineto_us(k, end - (start > 0 ? start : 0));
    prof__kineto_literal(k, ",\"args\":{\"External id\":");
    prof__out_unsigned(&k->out, ++k->next);
    prof__kineto_literal(k, cut[event->flags & 3]);
    prof__kineto_args(k, event);
    prof__kineto_literal(k, "}}");
}

static void prof__kineto_point(prof__kineto *k, const prof_event *event, uint64_t tid)
{
    int counter = event->type == PROF_EVENT_COUNTER;
    prof__kineto_line(k, counter ? "{\"ph\":\"C\",\"name\":" : "{\"ph\":\"i\",\"s\":\"t\",\"name\":");
    prof__kineto_string(k, event->name);
    prof__kineto_ids(k, tid);
    prof__kineto_literal(k, ",\"ts\":");
    prof__kineto_us(k, prof__kineto_since(k, event->start_ns));
    if (counter) {
        prof__kineto_literal(k, ",\"args\":{");
        prof__kineto_string(k, event->name);
        prof__kineto_literal(k, ":");
        prof__kineto_value(k, &event->value);
        prof__kineto_literal(k, "}");
    }
    prof__kineto_literal(k, "}");
}

/* Returns the kernel's id of a track's thread. Returns an id of our own if there is none, or if several tracks share
   the kernel's id, as fibers do. */
static uint64_t prof__kineto_tid(const prof_track *track, size_t number)
{
    return track->thread_id && track->thread_id <= 0x7FFFFFFF && !track->fiber ? track->thread_id
                                                                               : PROF__KINETO_ID + number;
}

static void prof__kineto_track(prof__kineto *k, size_t number)
{
    const prof_track *track = prof_trace_track(k->trace, number);
    uint64_t tid = prof__kineto_tid(track, number);
    prof_cursor *cursor = NULL;
    prof_event event;
    char name[160];
    prof_status status;
    if (*track->device) return;
    snprintf(name, sizeof name, *track->name ? "thread %llu (%.100s)" : "thread %llu", (unsigned long long)tid,
             track->name);
    prof__kineto_about(k, "thread_name", tid, "name", name, 0);
    prof__kineto_about(k, "thread_sort_index", tid, "sort_index", NULL, tid);
    status = prof_cursor_open(k->trace, number, &cursor);
    if (status != PROF_OK) prof__out_fail(&k->out, status);
    while (k->out.status == PROF_OK && cursor && prof_cursor_next(cursor, &event)) {
        if (event.type == PROF_EVENT_SCOPE)
            prof__kineto_scope(k, &event, tid);
        else if (event.type == PROF_EVENT_MARK && k->options.instants)
            prof__kineto_point(k, &event, tid);
        else if (event.type == PROF_EVENT_COUNTER && k->options.counters)
            prof__kineto_point(k, &event, tid);
    }
    prof_cursor_close(cursor);
}

static void prof__kineto_events(prof__kineto *k)
{
    const prof_trace_info *about = prof_trace_about(k->trace);
    size_t i;
    prof__kineto_about(k, "process_name", 0, "name", about->program, 0);
    prof__kineto_about(k, "process_labels", 0, "labels", "CPU", 0);
    prof__kineto_about(k, "process_sort_index", 0, "sort_index", NULL, k->pid);
    for (i = 0; i < prof_trace_track_count(k->trace); i++) prof__kineto_track(k, i);
}

static void prof__kineto_document(prof__kineto *k)
{
    prof__kineto_literal(k, "{\n\"schemaVersion\": 1,\n\"deviceProperties\": [],\n\"displayTimeUnit\": \"ms\",\n"
                            "\"baseTimeNanoseconds\": ");
    prof__out_signed(&k->out, k->base);
    prof__kineto_literal(k, ",\n\"traceEvents\": [");
    prof__kineto_events(k);
    prof__kineto_literal(k, "\n],\n" PROF__KINETO_OURS);
    prof__out_json(&k->out, prof_trace_about(k->trace)->program);
    prof__kineto_literal(k, "\"\n}\n");
}

/* Allocates the state, without an output. Returns NULL if `trace` is NULL, or without memory. */
static prof__kineto *prof__kineto_make(const prof_trace *trace, const prof_ntff_trace_options *options)
{
    prof__kineto *k = trace ? (prof__kineto *)calloc(1, sizeof *k) : NULL;
    if (!k) {
        prof__fail(trace ? PROF_NO_MEMORY : PROF_INVALID_ARGUMENT, "prof_ntff_trace_json: %s",
                   trace ? "no memory" : "trace is null");
        return NULL;
    }
    k->trace = trace;
    if (options) k->options = *options;
    prof__ntff_clock_of_trace(&k->clock, trace);
    k->base = k->clock.unix_ns / 1000000000 / PROF__KINETO_PERIOD * PROF__KINETO_PERIOD * 1000000000;
    k->pid = k->options.pid ? k->options.pid : prof_trace_about(trace)->pid;
    return k;
}

PROF_DEF prof_status prof_ntff_trace_json_stream(const prof_trace *trace, prof_sink sink,
                                                 const prof_ntff_trace_options *options)
{
    PROF__CALM();
    prof__kineto *k = prof__kineto_make(trace, options);
    prof_status status;
    if (!k) return trace ? PROF_NO_MEMORY : PROF_INVALID_ARGUMENT;
    prof__out_sink(&k->out, sink);
    prof__kineto_document(k);
    status = prof__out_close(&k->out);
    free(k);
    return status;
}

#endif /* PROF__NTFF_KINETO_H */
