/* Reads a recording and prints an outline of its slow scopes, and of those that never ended, with their source lines
   and arguments.

       cc -O2 examples/read_trace.c -o read_trace -pthread && ./read_trace slow-1.prof

   The first argument is a .prof file, of a program that ended, died, or is still running; the second one says how many
   milliseconds are slow (default: a hundredth of the recording). flight_recorder.c makes such a file. */
#define PROF_IMPLEMENTATION
#include "../prof_read.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static double ms(int64_t ns) { return (double)ns / 1e6; }

static void print_value(const prof_value *value)
{
    switch (value->type) {
    case PROF_VALUE_INT: printf("%" PRId64, value->as.i); break;
    case PROF_VALUE_UINT: printf("%" PRIu64, value->as.u); break;
    case PROF_VALUE_DOUBLE: printf("%g", value->as.d); break;
    case PROF_VALUE_BOOL: printf("%s", value->as.u ? "true" : "false"); break;
    case PROF_VALUE_POINTER: printf("0x%" PRIx64, value->as.u); break;
    case PROF_VALUE_STRING: printf("\"%s\"%s", value->as.string, value->cut ? "..." : ""); break;
    case PROF_VALUE_NONE: break;
    }
}

/* The reader owns an event until the next one: print it, or copy what you need of it. */
static void print_event(const prof_event *event)
{
    printf("%12.3f  ", ms(event->start_ns));
    if (event->type == PROF_EVENT_SCOPE) printf("%10.3f  ", ms(event->duration_ns));
    else printf("%10s  ", "");
    printf("%*s%s", (int)event->depth * 2, "", event->name);
    for (uint32_t i = 0; i < event->arg_count; i++) {
        printf("  %s=", event->args[i].key);
        print_value(&event->args[i].value);
    }
    if (event->flags & PROF_TRUNCATED_BEGIN) printf("  (began earlier)");
    if (event->flags & PROF_TRUNCATED_END) printf("  (never ended)");
    printf("  %s:%" PRIu32 "\n", event->site->file, event->site->line);
}

/* A scope comes before those inside it and is never shorter than they are, so that the output is a tree. */
static int print_track(const prof_trace *trace, size_t index, int64_t slow_ns)
{
    const prof_track *track = prof_trace_track(trace, index);
    uint64_t shown = 0;
    prof_cursor *cursor;
    prof_event event;
    if (prof_cursor_open(trace, index, &cursor) != PROF_OK) return 0;
    printf("\nthread %" PRIu64 " \"%s\": %" PRIu64 " events, %" PRIu64 " lost\n", track->thread_id, track->name,
           track->event_count, track->lost);
    printf("%12s  %10s  what\n", "at ms", "ms");
    while (prof_cursor_next(cursor, &event)) {
        int slow = event.duration_ns >= slow_ns || event.flags & PROF_TRUNCATED_END;
        if (event.type == PROF_EVENT_MARK || (event.type == PROF_EVENT_SCOPE && slow)) {
            print_event(&event);
            shown++;
        }
    }
    prof_cursor_close(cursor);
    if (!shown) printf("%12s  %10s  nothing as slow as %.3f ms\n", "", "", ms(slow_ns));
    return 1;
}

int main(int argc, char **argv)
{
    prof_trace *trace;
    if (argc < 2) {
        fprintf(stderr, "usage: read_trace FILE.prof [milliseconds]\n");
        return 2;
    }
    if (prof_trace_open(argv[1], &trace) != PROF_OK) {
        fprintf(stderr, "read_trace: %s\n", prof_error());
        return 1;
    }
    const prof_trace_info *info = prof_trace_about(trace);
    int64_t slow_ns = argc > 2 ? (int64_t)(strtod(argv[2], NULL) * 1e6) : info->duration_ns / 100;
    int good = 1;
    printf("%s, process %" PRIu64 ": %.3f ms, %" PRIu64 " events, %s\n", info->program, info->pid,
           ms(info->duration_ns), info->event_count,
           info->complete ? "complete" : "saved meanwhile, running, or killed");
    for (size_t i = 0; i < prof_trace_track_count(trace); i++) good &= print_track(trace, i, slow_ns);
    prof_trace_close(trace);
    return good ? 0 : 1;
}
