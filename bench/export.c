/* What it costs to write a trace: bench_export [THOUSANDS]

   Records four scopes a turn, and then walks them with a cursor, writes them as XSpace and as Chrome JSON, each into a
   function that only counts the bytes. Processor time of the thread, the best of nine rounds. */
#define PROF_IMPLEMENTATION
#include "../prof_chrome.h"
#include "../prof_xplane.h"
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time); /* others may want the processor, too */
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static int count(void *user, const void *data, size_t size)
{
    (void)data;
    *(uint64_t *)user += size;
    return 0;
}

static void walk(const prof_trace *trace)
{
    prof_cursor *cursor;
    prof_event event;
    if (prof_cursor_open(trace, 0, &cursor)) exit(1);
    while (prof_cursor_next(cursor, &event)) {
    }
    prof_cursor_close(cursor);
}

int main(int argc, char **argv)
{
    static const char *const names[] = {"cursor alone", "XSpace", "Chrome JSON"};
    double best[3] = {1e9, 1e9, 1e9}, events;
    long turns = (argc > 1 ? atol(argv[1]) : 1000) * 250, i;
    uint64_t bytes[3] = {0, 0, 0};
    prof_trace *trace;
    prof_config config = {0};
    int round, what;
    config.buffer_size = (size_t)turns * 80 + (4 << 20);
    if (prof_start(&config)) return 1;
    for (i = 0; i < turns; i++) {
        PROFILE_SCOPE("outer");
        { PROFILE_SCOPE("inner one"); }
        { PROFILE_SCOPE("inner two"); { PROFILE_SCOPE("deep"); } }
    }
    prof_stop();
    if (prof_trace_live(&trace)) return 1;
    events = (double)prof_trace_about(trace)->event_count;
    for (round = 0; round < 9; round++) {
        for (what = 0; what < 3; what++) {
            prof_sink sink = {count, &bytes[what]};
            double start = now(), cost;
            bytes[what] = 0;
            if (what == 0) walk(trace);
            if (what == 1 && prof_xplane_stream(trace, sink, NULL)) return 1;
            if (what == 2 && prof_chrome_stream(trace, sink, NULL)) return 1;
            cost = now() - start;
            if (cost < best[what]) best[what] = cost;
        }
    }
    printf("%.1f million events\n", events / 1e6);
    for (what = 0; what < 3; what++)
        printf("%-14s %6.1f ns an event, %5.1f million a second, x cursor %.2f, %5.1f bytes\n", names[what],
               best[what] / events * 1e9, events / best[what] / 1e6, best[what] / best[0], (double)bytes[what] / events);
    prof_trace_close(trace);
    return 0;
}
