/* modes.c - what a scope costs in each mode, in one run.

   Every round starts a session of each mode in turn and times the same loop of scopes in it, by the processor time of
   the thread: what the service thread takes is not in it. What is printed are the medians of the rounds: nanoseconds of
   a scope over the empty loop, and the ratio to PROF_RING in the same round. The first argument is the folder for
   files, /dev/shm by default. */
#define _GNU_SOURCE 1
#include "prof.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ROUNDS 31
#define CALLS 400000 /* 6 MiB of events, which the ring of 16 MiB takes without help */

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static __attribute__((noinline)) double loop_empty(void)
{
    double start = now_ns();
    for (int i = 0; i < CALLS; ++i) __asm__ volatile("" ::: "memory");
    return (now_ns() - start) / CALLS;
}

static __attribute__((noinline)) double loop_scopes(void)
{
    double start = now_ns();
    for (int i = 0; i < CALLS; ++i) {
        PROFILE_SCOPE("scope");
        __asm__ volatile("" ::: "memory");
    }
    return (now_ns() - start) / CALLS;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values)
{
    qsort(values, ROUNDS, sizeof *values, compare);
    return values[ROUNDS / 2];
}

static struct {
    const char *name;
    prof_mode mode;
    int in_file, laps, elsewhere; /* laps: how many loops run before the one that is timed; elsewhere: on another thread */
    const char *key, *value;
    double ns[ROUNDS], ratio[ROUNDS];
} rows[] = {{"ring", PROF_RING, 0, 0, 0, "", "", {0}, {0}},
            {"ring, reused", PROF_RING, 0, 4, 0, "", "", {0}, {0}},
            {"ring, short", PROF_RING, 0, 0, 0, "min_duration", "1s", {0}, {0}}, /* each scope is taken back */
            {"ring, long", PROF_RING, 0, 0, 0, "min_duration", "1ns", {0}, {0}},
            {"ring in a file", PROF_RING, 1, 0, 0, "", "", {0}, {0}},
            {"fill", PROF_FILL, 0, 0, 0, "", "", {0}, {0}},
            {"fill, full", PROF_FILL, 0, 4, 0, "", "", {0}, {0}},
            {"fill, late", PROF_FILL, 0, 4, 1, "", "", {0}, {0}}, /* full before this thread's first scope */
            {"stream", PROF_STREAM, 1, 0, 0, "", "", {0}, {0}},
            {"stream, reused", PROF_STREAM, 1, 4, 0, "", "", {0}, {0}},
            {"stream, full", PROF_STREAM, 1, 8, 0, "max_file_size", "17M", {0}, {0}}};

static void *run_lap(void *unused)
{
    loop_scopes();
    return unused;
}

int main(int argc, char **argv)
{
    char path[300];
    size_t count = sizeof rows / sizeof *rows;
    snprintf(path, sizeof path, "%s/bench_modes.prof", argc > 1 ? argv[1] : "/dev/shm");
    for (int round = 0; round < ROUNDS; ++round)
        for (size_t i = 0; i < count; ++i) {
            struct timespec moment = {0, 60000000};
            prof_config config;
            memset(&config, 0, sizeof config);
            config.mode = rows[i].mode;
            if (rows[i].in_file) config.output = path;
            if (rows[i].key[0]) prof_config_set(&config, rows[i].key, rows[i].value);
            if (prof_start(&config)) {
                fprintf(stderr, "modes: %s\n", prof_error());
                return 1;
            }
            for (int lap = 0; lap < rows[i].laps; ++lap) {
                pthread_t thread;
                if (!rows[i].elsewhere)
                    loop_scopes();
                else if (pthread_create(&thread, NULL, run_lap, NULL) || pthread_join(thread, NULL))
                    return 1;
                if (rows[i].mode == PROF_STREAM) nanosleep(&moment, NULL); /* the service has done its work */
            }
            double empty = loop_empty();
            rows[i].ns[round] = loop_scopes() - empty;
            rows[i].ratio[round] = rows[i].ns[round] / rows[0].ns[round];
            prof_stop();
        }
    printf("%-16s %10s %10s\n", "", "ns", "x ring");
    for (size_t i = 0; i < count; ++i)
        printf("%-16s %10.2f %10.3f\n", rows[i].name, median(rows[i].ns), median(rows[i].ratio));
    remove(path);
    return 0;
}
