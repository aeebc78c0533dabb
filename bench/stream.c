/* stream.c - does PROF_STREAM keep everything at a given rate?

   build/bench_stream SCOPES_PER_SECOND SECONDS [key value]...     for example: build/bench_stream 10000000 10 buffer 16M

   Two threads record half of the scopes each, in batches of a tenth of a millisecond. One that is late goes on at full
   speed until it has caught up. Prints what was recorded, lost and written. The file is /dev/shm/bench_stream.prof
   unless output says otherwise. */
#define _GNU_SOURCE 1
#include "prof_read.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

static long batch, batches;

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void *record(void *unused)
{
    int64_t start = now_ns();
    for (long i = 0; i < batches; ++i) {
        for (long k = 0; k < batch; ++k) {
            PROFILE_SCOPE("scope");
        }
        int64_t early = start + (i + 1) * 100000 - now_ns();
        struct timespec rest = {0, early > 0 ? early : 0};
        if (early > 0) nanosleep(&rest, NULL);
    }
    return unused;
}

int main(int argc, char **argv)
{
    prof_config config;
    prof_trace *trace;
    pthread_t threads[2];
    struct stat about;
    memset(&config, 0, sizeof config);
    config.output = "/dev/shm/bench_stream.prof";
    config.mode = PROF_STREAM;
    for (int i = 3; i + 1 < argc; i += 2)
        if (prof_config_set(&config, argv[i], argv[i + 1])) argc = 0;
    if (argc < 3 || prof_start(&config)) {
        fprintf(stderr, "bench_stream SCOPES_PER_SECOND SECONDS [key value]...: %s\n", prof_error());
        return 1;
    }
    batch = atol(argv[1]) / 20000;
    batches = atol(argv[2]) * 10000;
    int64_t start = now_ns();
    for (int i = 0; i < 2; ++i) pthread_create(&threads[i], NULL, record, NULL);
    for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
    double seconds = (double)(now_ns() - start) * 1e-9, made = 2.0 * (double)batch * (double)batches;
    if (prof_stop() || prof_trace_open(config.output, &trace) || stat(config.output, &about)) {
        fprintf(stderr, "bench_stream: %s\n", prof_error());
        return 1;
    }
    printf("%.0f scopes in %.1f s, %.1f million a second: %llu events lost, file of %.0f MB\n", made, seconds,
           made / seconds * 1e-6, (unsigned long long)prof_trace_about(trace)->lost, (double)about.st_size * 1e-6);
    prof_trace_close(trace);
    remove(config.output);
    return 0;
}
