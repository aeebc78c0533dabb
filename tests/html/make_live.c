/* A program to be watched: make_live PREFIX [wild]. It prints its port, waits for a line, works until the next one,
   stops recording, writes PREFIX.csv, prints "done", and ends with its input. wild: it has no session of its own, and
   only works. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "../../prof_html.h"
#include "../../prof_server.h"
#include "../../prof_system.h"
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static int over;

static void leaf(int64_t i)
{
    PROFILE_SCOPE("leaf");
    PROFILE_ARG_I("i", i);
    if (i % 50 == 0) PROFILE_LOG(PROF_LOG_INFO, "leaf %lld of many", (long long)i);
}

static void step(int64_t i)
{
    PROFILE_SCOPE("step");
    for (int k = 0; k < 3; ++k) leaf(3 * i + k);
    PROFILE_COUNTER("steps", i);
    poll(NULL, 0, 3);
    if (i % 7 == 0) {
        PROFILE_SCOPE_F("seventh %lld", (long long)i);
        PROFILE_MARK("seventh");
    }
}

static void *worker(void *user)
{
    prof_set_thread_name("worker");
    PROFILE_SCOPE("all of the worker"); /* longer than any period */
    PROFILE_ARG_S("what", "all of it");
    for (int64_t i = 0; !__atomic_load_n(&over, __ATOMIC_SEQ_CST); ++i) step(i);
    return user;
}

static int line_waits(void)
{
    struct pollfd wait = {0, POLLIN, 0};
    return poll(&wait, 1, 0) > 0;
}

int main(int argc, char **argv)
{
    char path[4096], text[64];
    int wild = argc > 2 && !strcmp(argv[2], "wild");
    pthread_t thread;
    prof_config config;
    prof_trace *trace = NULL;
    memset(&config, 0, sizeof config);
    config.buffer_size = 16 << 20;
    config.switches = 1;
    config.clock = PROF_CLOCK_MONOTONIC; /* whose nanoseconds do not depend on when it is read */
    if (argc < 2 || (!wild && prof_start(&config)) || prof_server_start(0, NULL)) return 1;
    printf("%d\n", prof_server_port());
    fflush(stdout);
    if (!fgets(text, sizeof text, stdin)) return 2;
    pthread_create(&thread, NULL, worker, NULL);
    for (uint64_t frame = 0; !line_waits(); ++frame) {
        PROFILE_FRAME("frame");
        PROFILE_SCOPE("frame");
        if (frame % 20 == 0) PROFILE_SPAN_BEGIN("request", frame / 20);
        {
            PROFILE_SCOPE_C("update", "work");
            poll(NULL, 0, 5);
        }
        if (frame % 20 == 19 && frame > 100) PROFILE_SPAN_END("request", frame / 20 - 5);
    }
    __atomic_store_n(&over, 1, __ATOMIC_SEQ_CST);
    pthread_join(thread, NULL);
    if (!wild) {
        if (prof_stop() || prof_trace_open_live(&trace)) return 3;
        snprintf(path, sizeof path, "%s.csv", argv[1]);
        if (prof_csv_write(trace, path)) return 4;
        prof_trace_close(trace);
    }
    puts("done");
    fflush(stdout);
    while (fgets(text, sizeof text, stdin)) continue;
    return 0;
}
