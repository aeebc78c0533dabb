/* program.c - runs what markup.c holds, then reads the trace and compares it with what the text of markup.c says.
   PROGRAM_STRIPPED: markup.c was compiled with PROF_ENABLE=0, and live.c is there instead of it.
   Prints nothing and returns 0 if all is well. */
#include "markup.h"
#include "prof_read.h"

#include <stdio.h>
#include <string.h>

#if !PROF_ENABLE

int main(void)
{
    return markup_all(1) > 0 ? 0 : 1;
}

#else

static int failures;

typedef struct program_event {
    const char *name;
    prof_event_type type;
    int count;
    const char *category; /* null: any */
    const char *function; /* null: any */
} program_event;

/* Which parts of markup.c this build has follows from the compiler of markup.c, which is the compiler of this file. */
static const program_event program_events[] = {
#ifdef PROGRAM_STRIPPED
    {"live", PROF_EVENT_SCOPE, 1, "", "markup_live"},
#elif MARKUP_SCOPES
    {"scope", PROF_EVENT_SCOPE, 1, "", "markup_scopes"},
    {"scope_c", PROF_EVENT_SCOPE, 1, "net", "markup_scopes"},
    {"scope_l", PROF_EVENT_SCOPE, 1, "", "markup_scopes"},
    {"scope_color", PROF_EVENT_SCOPE, 1, "", "markup_scopes"},
    {"scope_sync", PROF_EVENT_SCOPE, 1, "", "markup_scopes"},
    {"scope_cl", PROF_EVENT_SCOPE, 1, "net", "markup_scopes"},
    {"made at run time", PROF_EVENT_SCOPE, 2, "", NULL},
    {"made", PROF_EVENT_SCOPE, 1, "", NULL},
    {"scope_f 1 text", PROF_EVENT_SCOPE, 1, "", "markup_scopes"},
    {"scope_f alone", PROF_EVENT_SCOPE, 1, "", "markup_scopes"},
    {"markup_function", PROF_EVENT_SCOPE, 1, "", "markup_function"},
    {"markup_function_c", PROF_EVENT_SCOPE, 1, "net", "markup_function_c"},
    {"markup_function_l", PROF_EVENT_SCOPE, 1, "", "markup_function_l"},
    {"markup_function_color", PROF_EVENT_SCOPE, 1, "", "markup_function_color"},
    {"line 1", PROF_EVENT_SCOPE, 1, "", NULL},
    {"line 2", PROF_EVENT_SCOPE, 1, "", NULL},
    {"line 3", PROF_EVENT_SCOPE, 1, "", NULL},
    {"line mark", PROF_EVENT_MARK, 1, "", NULL},
    {"nest", PROF_EVENT_SCOPE, 3, "", NULL},
    {"recursive", PROF_EVENT_SCOPE, 5, "", "markup_recursive"},
    {"loop", PROF_EVENT_SCOPE, 3, "", NULL},
    {"goto", PROF_EVENT_SCOPE, 1, "", NULL},
    {"case", PROF_EVENT_SCOPE, 1, "", NULL},
    {"stage 1", PROF_EVENT_SCOPE, 1, "", NULL},
    {"stage 2", PROF_EVENT_SCOPE, 1, "", NULL},
    {"stage 3", PROF_EVENT_SCOPE, 1, "", NULL},
    {"stage 4", PROF_EVENT_SCOPE, 1, "", NULL},
    {"inner stage 1", PROF_EVENT_SCOPE, 1, "", NULL},
    {"inner stage 2", PROF_EVENT_SCOPE, 1, "", NULL},
    {"scope_m", PROF_EVENT_SCOPE, 1, "", "markup_note_scopes"},
    {"scope_m int", PROF_EVENT_SCOPE, 1, "", NULL},
    {"step", PROF_EVENT_SCOPE, 2, "", "markup_note_scopes"},
    {"step big", PROF_EVENT_SCOPE, 1, "", NULL},
    {"throughput", PROF_EVENT_SCOPE, 3, "", "markup_note_scopes"},
    {"throughput bits", PROF_EVENT_SCOPE, 1, "", NULL},
    {"at run time", PROF_EVENT_SCOPE, 1, "", NULL},
    {"run time", PROF_EVENT_SCOPE, 1, "", NULL},
    {"block goto", PROF_EVENT_SCOPE, 1, "", NULL},
    {"block return", PROF_EVENT_SCOPE, 1, "", NULL},
#endif
#if MARKUP_SCOPES
    {"header scope", PROF_EVENT_SCOPE, 1, "", "markup_header"},
#endif
#ifndef PROGRAM_STRIPPED
    {"block", PROF_EVENT_SCOPE, 1, "", "markup_blocks"},
    {"block_c", PROF_EVENT_SCOPE, 1, "net", NULL},
    {"block_l", PROF_EVENT_SCOPE, 1, "", NULL},
    {"block without braces", PROF_EVENT_SCOPE, 1, "", NULL},
    {"block in a loop", PROF_EVENT_SCOPE, 3, "", NULL},
    {"begin", PROF_EVENT_SCOPE, 1, "", "markup_begin_end"},
    {"begin_c", PROF_EVENT_SCOPE, 1, "net", NULL},
    {"begin_l", PROF_EVENT_SCOPE, 1, "", NULL},
    {"span", PROF_EVENT_SPAN_BEGIN, 1, "", "markup_spans"},
    {"span", PROF_EVENT_SPAN_MARK, 1, "", NULL},
    {"span", PROF_EVENT_SPAN_END, 1, "", NULL},
    {"span_c", PROF_EVENT_SPAN_BEGIN, 1, "net", NULL},
    {"span_c", PROF_EVENT_SPAN_MARK, 1, "net", NULL},
    {"span_c", PROF_EVENT_SPAN_END, 1, "net", NULL},
    {"mark of all", PROF_EVENT_MARK, 1, "", NULL},
    {"mark of a thread", PROF_EVENT_MARK, 1, "", NULL},
    {"mark of a task", PROF_EVENT_MARK, 1, "", NULL},
    {"count", PROF_EVENT_COUNTER, 4, "", "markup_counts"},
    {"count_c", PROF_EVENT_COUNTER, 3, "net", NULL},
    {"count_unit", PROF_EVENT_COUNTER, 3, "", NULL},
    {"mark", PROF_EVENT_MARK, 1, "", "markup_marks"},
    {"mark_c", PROF_EVENT_MARK, 1, "net", NULL},
    {"mark_l", PROF_EVENT_MARK, 1, "", NULL},
    {"made at run time", PROF_EVENT_MARK, 1, "", "markup_marks"},
    {"made", PROF_EVENT_MARK, 1, "", "markup_marks"},
    {"mark_f alone", PROF_EVENT_MARK, 1, "", NULL},
    {"flow", PROF_EVENT_FLOW_OUT, 3, "", NULL},
    {"flow", PROF_EVENT_FLOW_STEP, 3, "", NULL},
    {"flow", PROF_EVENT_FLOW_IN, 3, "", NULL},
    {"flow_n", PROF_EVENT_FLOW_OUT, 1, "", NULL},
    {"flow_n", PROF_EVENT_FLOW_STEP, 1, "", NULL},
    {"flow_n", PROF_EVENT_FLOW_IN, 1, "", NULL},
    {"log", PROF_EVENT_LOG, 1, "", "markup_notes"},
    {"log %d %s %5.1f %c", PROF_EVENT_LOG, 1, "", NULL},
    {"log %%", PROF_EVENT_LOG, 1, "", NULL},
    {"mark in a loop", PROF_EVENT_MARK, 3, "", NULL},
    {"mark without braces", PROF_EVENT_MARK, 1, "", NULL},
    {"mark in a switch", PROF_EVENT_MARK, 1, "", NULL},
    {"mark in a category", PROF_EVENT_MARK, 1, "disk", NULL},
    {"block in a category", PROF_EVENT_SCOPE, 1, "disk", NULL},
    {"frame", PROF_EVENT_FRAME, 2, "", NULL},
    {"args", PROF_EVENT_SCOPE, 1, "", "markup_args"},
    {"lists", PROF_EVENT_SCOPE, 1, "", "markup_lists"},
    {"mark list", PROF_EVENT_MARK, 1, "", "markup_lists"},
    {"span list", PROF_EVENT_SPAN_BEGIN, 1, "", "markup_lists"},
    {"span list", PROF_EVENT_SPAN_MARK, 1, "", "markup_lists"},
    {"span list", PROF_EVENT_SPAN_END, 1, "", "markup_lists"},
#if MARKUP_SCOPES
    {"handle", PROF_EVENT_SCOPE, 1, "", "markup_handles"},
    {"handle_c", PROF_EVENT_SCOPE, 1, "net", "markup_handles"},
    {"handle_l", PROF_EVENT_SCOPE, 1, "", "markup_handles"},
#endif
    {"alloc", PROF_EVENT_ALLOC, 2, NULL, "markup_memory"},
    {"realloc", PROF_EVENT_ALLOC, 2, NULL, "markup_memory"},
    {"realloc", PROF_EVENT_FREE, 2, NULL, "markup_memory"},
    {"free", PROF_EVENT_FREE, 2, NULL, "markup_memory"},
#if MARKUP_SCOPES
    {"memory scope", PROF_EVENT_SCOPE, 1, "", "markup_memory_scopes"},
#endif
    {"lock", PROF_EVENT_LOCK_WAIT, 1, "", "markup_locks"},
    {"lock", PROF_EVENT_LOCK_ACQUIRE, 1, "", "markup_locks"},
    {"lock", PROF_EVENT_LOCK_RELEASE, 1, "", "markup_locks"},
#ifndef _WIN32
    {"mutex", PROF_EVENT_LOCK_ACQUIRE, 2, "", "markup_locks"},
    {"unlock", PROF_EVENT_LOCK_RELEASE, 2, "", "markup_locks"},
#else
    {"section", PROF_EVENT_LOCK_ACQUIRE, 1, "", "markup_locks"},
    {"srw", PROF_EVENT_LOCK_ACQUIRE, 2, "", "markup_locks"},
    {"unlock", PROF_EVENT_LOCK_RELEASE, 3, "", "markup_locks"},
#endif
    {"counter", PROF_EVENT_COUNTER, 1, "", "markup_counters"},
    {"counter_c", PROF_EVENT_COUNTER, 1, "net", NULL},
    {"counter_l", PROF_EVENT_COUNTER, 1, "", NULL},
    {"counter double", PROF_EVENT_COUNTER, 1, "", NULL},
    {"counter short", PROF_EVENT_COUNTER, 1, "", NULL},
    {"counter enum", PROF_EVENT_COUNTER, 1, "", NULL},
    {"counter bits", PROF_EVENT_COUNTER, 2, "", NULL},
    {"counter wide bits", PROF_EVENT_COUNTER, 1, "", NULL},
    {"counter literal", PROF_EVENT_COUNTER, 1, "", NULL},
    {"counter truth", PROF_EVENT_COUNTER, 1, "", NULL},
    {"counter unit", PROF_EVENT_COUNTER, 1, "", NULL},
    {"counter changing", PROF_EVENT_COUNTER, 1, "", NULL},
#if MARKUP_TYPED
    {"typed args", PROF_EVENT_SCOPE, 1, "", "markup_typed_args"},
#endif
#ifdef __cplusplus
    {"template", PROF_EVENT_SCOPE, 2, "", "markup_template"},
    {"markup_template<int>", PROF_EVENT_SCOPE, 1, "", "markup_template"},
#ifdef __clang__
    {"markup_template<long>", PROF_EVENT_SCOPE, 1, "", "markup_template"},
#else
    {"markup_template<long int>", PROF_EVENT_SCOPE, 1, "", "markup_template"},
#endif
    {"template block", PROF_EVENT_SCOPE, 2, "", NULL},
    {"constructor", PROF_EVENT_SCOPE, 1, "", NULL},
    {"destructor", PROF_EVENT_SCOPE, 1, "", NULL},
    {"markup_class::method", PROF_EVENT_SCOPE, 1, "", "method"},
    {"member", PROF_EVENT_COUNTER, 1, "", NULL},
    {"class stage 1", PROF_EVENT_SCOPE, 1, "", NULL},
    {"class stage 2", PROF_EVENT_SCOPE, 1, "", NULL},
    {"inline function", PROF_EVENT_SCOPE, 1, "", NULL},
    {"around a lambda", PROF_EVENT_SCOPE, 1, "", NULL},
    {"lambda", PROF_EVENT_SCOPE, 1, "", NULL},
    {"lambda block", PROF_EVENT_SCOPE, 1, "", NULL},
    {"thrown through", PROF_EVENT_SCOPE, 1, "", NULL},
    {"block thrown through", PROF_EVENT_SCOPE, 1, "", NULL},
    {"catch", PROF_EVENT_SCOPE, 1, "", NULL},
#endif
#endif
    {"header block", PROF_EVENT_SCOPE, 1, "", "markup_header"},
    {"header mark", PROF_EVENT_MARK, 1, "", "markup_header"}
};
#define PROGRAM_EVENTS (sizeof program_events / sizeof *program_events)

typedef struct program_value {
    const char *name; /* of the scope or counter */
    const char *key;  /* of the argument; null for a counter */
    const char *value; /* type and value, as program_show() shows them; null: what is the compiler's choice */
} program_value;

static const program_value program_values[] = {
#ifndef PROGRAM_STRIPPED
    {"counter", NULL, "int -5"},
    {"counter_c", NULL, "uint 9007199254740993"},
    {"counter_l", NULL, "double 0.25"},
    {"counter double", NULL, "double 0.1"},
    {"counter short", NULL, "int -7"},
    {"counter enum", NULL, "? 2"},
    {"counter wide bits", NULL, "? 549755813888"},
    {"counter literal", NULL, "double 3.5"},
    {"counter truth", NULL, "int 1"},
    {"counter changing", NULL, "int 31"},
    {"args", "i", "int -9223372036854775808"},
    {"args", "u", "uint 18446744073709551615"},
    {"args", "d", "double -1.5"},
    {"args", "b", "bool 1"},
    {"args", "s", "string some text"},
    {"args", "array", "string array"},
    {"args", "p", NULL},
    {"args", "null", "pointer 0"},
    {"args", "bits", "int -4"},
    {"args", "wide bits", "uint 274877906944"},
    {"args", "changing", "int 30"},
    {"args", "without braces", "int -1"},
    {"lists", "some text", "int"},
    {"lists", "u", "uint 9"},
    {"lists", "d", "double 0.25"},
    {"lists", "b", "bool 1"},
#if MARKUP_SCOPES
    {"handle", "i", "int"},
    {"handle_c", "s", "string text"},
    {"handle_l", "without braces", "int -1"},
    {"step big", "step_num", "int 1099511627776"},
    {"throughput bits", "bytes", "uint 549755813888"},
#endif
#if MARKUP_TYPED
    {"typed args", "bool", "bool 1"},
#ifdef __cplusplus
    {"typed args", "char", "string x"},
#else
    {"typed args", "char", "int 120"},
#endif
    {"typed args", "signed char", "int -1"},
    {"typed args", "short", "int -300"},
    {"typed args", "unsigned", "uint 4000000000"},
    {"typed args", "long", "int -70000"},
    {"typed args", "unsigned long", "uint 70000"},
    {"typed args", "long long", "int -9223372036854775808"},
    {"typed args", "unsigned long long", "uint 18446744073709551615"},
    {"typed args", "float", "double 0.5"},
    {"typed args", "double", "double -1.5"},
    {"typed args", "array", "string array"},
    {"typed args", "char *", "string array"},
    {"typed args", "const char *", "string some text"},
    {"typed args", "const char *const", "string fixed"},
    {"typed args", "literal", "string a literal"},
    {"typed args", "volatile int *", NULL},
    {"typed args", "const double *", NULL},
    {"typed args", "null", "pointer 0"},
    {"typed args", "const int", "int 12"},
    {"typed args", "narrow bits", "int -5"},
#ifdef __cplusplus
    {"typed args", "character", "string c"},
#else
    {"typed args", "character", "int 99"},
#endif
    {"typed args", "size", "uint 4"},
    {"typed args", "without braces", "int -1"},
    {"typed args", "unsigned char", "? 255"}, /* C has them unsigned; C++ promotes them to int */
    {"typed args", "unsigned short", "? 65535"},
    {"typed args", "enum", "? 1"},
    {"typed args", "enumerator", "? 2"},
    {"typed args", "small bits", "? 7"},
    {"typed args", "wide bits", "? 137438953472"},
    {"typed args", "comparison", "? 1"},
#endif
#ifdef __cplusplus
    {"member", NULL, "int"},
    {"constructor", "start", "int"},
#endif
#endif
    {NULL, NULL, NULL}
};

static int program_found[PROGRAM_EVENTS], program_value_found[sizeof program_values / sizeof *program_values];

static void program_fail(const char *what, const char *name, const char *more)
{
    ++failures;
    printf("%s: %s %s\n", what, name, more);
}

static int program_same(const char *a, const char *b) { return !strcmp(a, b); }

static void program_show(char *text, size_t size, const prof_value *value)
{
    static const char *const types[] = {"none", "int", "uint", "double", "bool", "pointer", "string"};
    const char *type = types[value->type];
    switch (value->type) {
    case PROF_VALUE_INT: snprintf(text, size, "%s %lld", type, (long long)value->as.i); break;
    case PROF_VALUE_UINT:
    case PROF_VALUE_BOOL:
    case PROF_VALUE_POINTER: snprintf(text, size, "%s %llu", type, (unsigned long long)value->as.u); break;
    case PROF_VALUE_DOUBLE: snprintf(text, size, "%s %g", type, value->as.d); break;
    case PROF_VALUE_STRING: snprintf(text, size, "%s %s", type, value->as.string); break;
    case PROF_VALUE_NONE:
    default: snprintf(text, size, "none"); break;
    }
}

/* "? 5" leaves the type to the compiler, "int" the value to markup.c. */
static int program_fits(const char *expected, const char *shown)
{
    const char *space = strchr(shown, ' ');
    if (expected[0] == '?') return space && program_same(expected + 1, space);
    if (!strchr(expected, ' ')) return !strncmp(expected, shown, strlen(expected)) && shown[strlen(expected)] == ' ';
    return program_same(expected, shown);
}

static void program_value_check(const char *name, const char *key, const prof_value *value)
{
    char shown[128];
    size_t i;
    program_show(shown, sizeof shown, value);
    for (i = 0; program_values[i].name; ++i) {
        const program_value *v = &program_values[i];
        if (!program_same(v->name, name) || (key != NULL) != (v->key != NULL)) continue;
        if (key && !program_same(v->key, key)) continue;
        ++program_value_found[i];
        if (v->value && !program_fits(v->value, shown)) program_fail("wrong value", key ? key : name, shown);
        return;
    }
}

static void program_event_check(const prof_event *event)
{
    size_t i, j;
    int known = 0;
    for (i = 0; i < PROGRAM_EVENTS; ++i) {
        const program_event *e = &program_events[i];
        if (e->type != event->type || !program_same(e->name, event->name)) continue;
        known = 1;
        ++program_found[i];
        if (e->category && !program_same(e->category, event->site->category))
            program_fail("category", event->name, event->site->category);
        if (e->function && !program_same(e->function, event->site->function))
            program_fail("function", event->name, event->site->function);
        break;
    }
    if (!known && strncmp(event->name, "mark_f ", 7)) program_fail("recorded, but not in the list", event->name, "");
    if (event->flags) program_fail("truncated", event->name, "");
    if (!event->site->line) program_fail("no line", event->name, "");
    if (!strstr(event->site->file, "markup") && !strstr(event->site->file, "live"))
        program_fail("file", event->name, event->site->file);
    if (event->type == PROF_EVENT_COUNTER) program_value_check(event->name, NULL, &event->value);
    for (j = 0; j < event->arg_count; ++j) program_value_check(event->name, event->args[j].key, &event->args[j].value);
}

static void program_read(const prof_trace *trace)
{
    size_t track, i;
    prof_event event;
    int64_t before = 0;
    if (prof_trace_track_count(trace) != 1) program_fail("not one track", "", "");
    for (track = 0; track < prof_trace_track_count(trace); ++track) {
        prof_cursor *cursor = NULL;
        if (prof_cursor_open(trace, track, &cursor)) {
            program_fail("prof_cursor_open", prof_error(), "");
            continue;
        }
#ifndef PROGRAM_STRIPPED
        if (!program_same(prof_trace_track(trace, track)->name, "markup"))
            program_fail("track", prof_trace_track(trace, track)->name, "is not markup");
#endif
        while (prof_cursor_next(cursor, &event)) {
            if (event.start_ns < before) program_fail("starts before the event in front of it", event.name, "");
            before = event.start_ns;
            program_event_check(&event);
        }
        prof_cursor_close(cursor);
    }
    for (i = 0; i < PROGRAM_EVENTS; ++i)
        if (program_found[i] != program_events[i].count) {
            char counts[64];
            snprintf(counts, sizeof counts, "%d times, not %d", program_found[i], program_events[i].count);
            program_fail("recorded", program_events[i].name, counts);
        }
    for (i = 0; program_values[i].name; ++i)
        if (!program_value_found[i])
            program_fail("no value", program_values[i].name, program_values[i].key ? program_values[i].key : "");
    if (prof_trace_about(trace)->lost) program_fail("events were lost", "", "");
}

int main(void)
{
    static prof_config config; /* all zero, in C and in C++ */
    prof_trace *trace = NULL;
    int quiet, recorded;
    config.buffer_size = 1 << 20;
#ifdef PROGRAM_STRIPPED
#define PROGRAM_RUN markup_live
#else
#define PROGRAM_RUN markup_all
#endif
    quiet = PROGRAM_RUN(1);
    if (prof_start(&config)) {
        printf("prof_start: %s\n", prof_error());
        return 1;
    }
    recorded = PROGRAM_RUN(1);
    if (prof_stop()) program_fail("prof_stop", prof_error(), "");
    if (recorded != quiet || PROGRAM_RUN(1) != quiet) program_fail("recording changes the result", "", "");
    if (prof_trace_open_live(&trace)) {
        program_fail("prof_trace_open_live", prof_error(), "");
        return 1;
    }
    program_read(trace);
    prof_trace_close(trace);
    return failures != 0;
}
#endif
