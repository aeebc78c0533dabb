/* Writes recordings in a format of its own: a line for each event.

       cc -O2 examples/own_format.c -o own_format -pthread && PROF_OUTPUT=out.mine ./own_format && cat out.mine

   prof_save("now.mine") writes it, too. The file appears when it is complete, and replaces an older one then. */
#define PROF_IMPLEMENTATION
#include "../prof_read.h"
#include <stdio.h>
#include <string.h>

static prof_status mine_write(void *user, const prof_trace *trace, prof_sink sink)
{
    const char *first = (const char *)user;
    prof_timeline *timeline;
    prof_event event;
    size_t track;
    prof_status status = prof_timeline_open(trace, &timeline);
    if (status) return status;
    if (prof_trace_about(trace)->lost) status = prof_fail(PROF_UNSUPPORTED, "mine: has no place for lost events");
    sink.write(sink.user, first, strlen(first));
    while (!status && prof_timeline_next(timeline, &event, &track)) {
        char line[300];
        int size = snprintf(line, sizeof line, "%lu %lld %lld %.200s\n", (unsigned long)track,
                            (long long)event.start_ns, (long long)event.duration_ns, event.name);
        if (sink.write(sink.user, line, (size_t)size)) break; /* a full disk: prof says so */
    }
    prof_status closed = prof_timeline_close(timeline);
    return status ? status : closed;
}

PROF_WRITER(mine, ".mine", mine_write, (void *)"track start_ns duration_ns name\n");

int main(void)
{
    PROFILE_SCOPE("main");
    for (int i = 0; i < 3; ++i) PROFILE_BLOCK("step") PROFILE_ARG_I("i", i);
    return 0;
}
