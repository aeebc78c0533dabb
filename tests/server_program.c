/* A program that works until it is told to end: steps, scopes, a counter, two threads. tests/server.sh and
   tests/xprof/capture.sh ask it over a socket what it does.

   usage: server_program [start PORT] [record] [for MS] [steps N] [large] [idle]
       start PORT   prof_server_start(); else PROF_SERVER does that. Prints the port
       record       prof_start(), with a buffer of 4 MiB
       for MS       ends by itself
       steps N      ends by itself when N of its steps, and as many scopes of its other thread, have been recorded
       large        records as fast as it can, for large answers
       idle         does nothing at all */
#define PROF_IMPLEMENTATION
#ifndef WITHOUT_EXPORTERS
#include "../prof_chrome.h"
#include "../prof_xplane.h"
#endif
#include "../prof_server.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int ends, large, idle, helped;

static void sleep_us(long us)
{
    struct timespec moment = {us / 1000000, us % 1000000 * 1000};
    nanosleep(&moment, NULL);
}

static void *helper(void *unused)
{
    PROFILE_THREAD("helper");
    while (!__atomic_load_n(&ends, __ATOMIC_RELAXED)) {
        int recorded = prof_enabled();
        {
            PROFILE_SCOPE("help");
            sleep_us(2000);
        }
        __atomic_fetch_add(&helped, recorded, __ATOMIC_RELAXED);
    }
    return unused;
}

int main(int argc, char **argv)
{
    uint64_t end = 0;
    int steps = 0, stepped = 0;
    pthread_t thread;
    for (int i = 1; i < argc; ++i) {
        if (!strcmp(argv[i], "start") && i + 1 < argc && prof_server_start(atoi(argv[++i]), NULL)) {
            fprintf(stderr, "%s\n", prof_error());
            return 1;
        } else if (!strcmp(argv[i], "record")) {
            prof_config config;
            memset(&config, 0, sizeof config);
            config.buffer_size = 4 << 20;
            if (prof_start(&config)) return 1;
        } else if (!strcmp(argv[i], "for") && i + 1 < argc) {
            end = prof_host_ns() + (uint64_t)atoi(argv[++i]) * 1000000;
        } else if (!strcmp(argv[i], "steps") && i + 1 < argc) {
            steps = atoi(argv[++i]);
        } else if (!strcmp(argv[i], "large")) {
            large = 1;
        } else if (!strcmp(argv[i], "idle")) {
            idle = 1;
        }
    }
    printf("%d\n", prof_server_port());
    fflush(stdout);
    while (idle) sleep_us(100000);
    if (pthread_create(&thread, NULL, helper, NULL)) return 1;
    for (int step = 0; !end || prof_host_ns() < end; ++step) {
        if (steps && stepped >= steps && __atomic_load_n(&helped, __ATOMIC_RELAXED) >= steps) break;
        stepped += prof_enabled();
        PROFILE_STEP("train", step);
        for (int i = 0; i < (large ? 20000 : 1); ++i) {
            PROFILE_SCOPE("forward");
            PROFILE_ARG_I("step", step);
            if (!large) sleep_us(3000);
        }
        {
            PROFILE_SCOPE("backward");
            sleep_us(2000);
        }
        PROFILE_COUNTER("loss", 1000 - step);
    }
    __atomic_store_n(&ends, 1, __ATOMIC_RELAXED);
    pthread_join(thread, NULL);
    return 0;
}
