/* Records a program twice, before and after a change, as PREFIX.1.prof and PREFIX.2.prof; writes each as a report, and
   both as PREFIX.html, as prof view does: make_pair PREFIX. And many events of all types as PREFIX.long.prof. */
#include "../../prof_html.h"
#include <stdio.h>
#include <string.h>

static void work(unsigned amount)
{
    volatile unsigned sum = 0;
    for (unsigned i = 0; i < amount * 50; i++) sum += i;
    (void)sum;
}

static void load(int after)
{
    PROFILE_FUNCTION();
    for (int i = 0; i < 40; i++) {
        PROFILE_SCOPE("read");
        work(after ? 12 : 4);
        if (after) {
            PROFILE_SCOPE("checksum");
            work(6);
        } else {
            PROFILE_SCOPE("sanitize");
            work(2);
        }
    }
}

/* The same name in one function: lines that an edit has moved, one more before than after. */
static void moved(int after)
{
    if (after) {
        PROFILE_SCOPE("moved");
        work(9);
        return;
    }
    {
        PROFILE_SCOPE("moved");
        work(3);
    }
    PROFILE_SCOPE("moved");
    work(1);
}

static void program(int after)
{
    PROFILE_SCOPE_C("program", "host");
    load(after);
    for (int i = 0; i < (after ? 200 : 130); i++) {
        PROFILE_FRAME("frame");
        PROFILE_SCOPE("update");
        for (int k = 0; k < 120; k++) { /* more calls than are compared */
            PROFILE_SCOPE("entity");
            work(after ? 1 : 2);
        }
        moved(after);
        PROFILE_SCOPE_F("pass %d", i % 3);
        work(5);
    }
}

static prof_trace *record(const char *prefix, int which)
{
    prof_config config;
    prof_trace *trace = NULL;
    char path[1024];
    memset(&config, 0, sizeof config);
    config.buffer_size = 8 << 20;
    if (prof_start(&config)) return NULL;
    program(which == 2);
    snprintf(path, sizeof path, "%s.%d.prof", prefix, which);
    if (prof_stop() || prof_save(path) || prof_trace_open(path, &trace)) return NULL;
    snprintf(path, sizeof path, "%s.%d.html", prefix, which);
    return prof_html_write(trace, path, NULL) ? NULL : trace;
}

/* Some 700,000 events: short scopes and long ones, nested deeply, and what is no scope. */
static int record_long(const char *prefix)
{
    prof_config config;
    char path[1024];
    memset(&config, 0, sizeof config);
    config.buffer_size = 64 << 20;
    if (prof_start(&config)) return 0;
    for (int i = 0; i < 2500; i++) {
        PROFILE_SCOPE("turn");
        if (i % 100 == 7) PROFILE_SPAN_BEGIN("phase", (uint64_t)i);
        for (int k = 0; k < 25; k++) {
            PROFILE_SCOPE("request");
            PROFILE_ARG("number", i * 25 + k);
            for (int n = 0; n < 4; n++) {
                PROFILE_SCOPE("parse");
                work(1);
            }
            if (k % 8 == 0) {
                PROFILE_SCOPE_C("answer", "io");
                PROFILE_SCOPE_F("part %d", k);
                work(3);
            }
        }
        PROFILE_COUNTER("turns", i);
        PROFILE_FRAME("frame");
        if (i % 50 == 0) {
            PROFILE_SCOPE("collect");
            work(20000);
        }
        if (i % 10 == 0) PROFILE_MARK("tenth");
        if (i % 20 == 0) PROFILE_LOG(PROF_LOG_WARNING, "at %d", i);
        PROFILE_ALLOC((void *)(uintptr_t)(i + 1), 8);
        PROFILE_FREE((void *)(uintptr_t)(i + 1));
        if (i % 100 == 12) PROFILE_SPAN_END("phase", (uint64_t)(i - 5));
    }
    snprintf(path, sizeof path, "%s.long.prof", prefix);
    return !prof_stop() && !prof_save(path);
}

int main(int argc, char **argv)
{
    prof_trace *traces[2];
    char path[1024];
    int good;
    if (argc != 2) return 2;
    traces[0] = record(argv[1], 1);
    traces[1] = traces[0] ? record(argv[1], 2) : NULL;
    snprintf(path, sizeof path, "%s.html", argv[1]);
    good = traces[1] && record_long(argv[1]) && prof_html_merge((const prof_trace *const *)traces, 2, path, NULL) == PROF_OK;
    if (!good) fprintf(stderr, "make_pair: %s\n", prof_error());
    prof_trace_close(traces[0]);
    prof_trace_close(traces[1]);
    return good ? 0 : 1;
}
