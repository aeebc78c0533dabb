/* dumps.c - what MXNet's keys cost the thread that records: bursts of 1000 scopes with a little work in each, with
   aggregate_stats, with continuous_dump as well, and with neither, in rounds one after the other. bursts: done in the
   time of a round, of those without keys; that needs a machine with nothing else to do. awake: the part of the round in
   which the thread had a processor or was waiting for one, so that it slept in the rest of it, waiting for a chunk; that
   does not depend on other programs. Linux. */
#define PROF_IMPLEMENTATION
#include "prof_chrome.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 7, KINDS = 3 };

static double seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double waited_for_a_processor(void)
{
    unsigned long long on = 0, waited = 0;
    FILE *file = fopen("/proc/thread-self/schedstat", "r");
    if (file && fscanf(file, "%llu %llu", &on, &waited) != 2) waited = 0;
    if (file) fclose(file);
    return (double)waited * 1e-9;
}

/* Returns the bursts of a round. *awake: see above. */
static double measure(int kind, double round, int work, double *awake)
{
    prof_config config;
    long bursts = 0;
    memset(&config, 0, sizeof config);
    if (prof_config_set(&config, "filename", "build/bench-dumps.json") ||
        prof_config_set(&config, "aggregate_stats", kind > 0 ? "True" : "False") ||
        prof_config_set(&config, "continuous_dump", kind > 1 ? "True" : "False") || prof_start(&config)) {
        fprintf(stderr, "%s\n", prof_error());
        exit(1);
    }
    double start = seconds(CLOCK_MONOTONIC), on = seconds(CLOCK_THREAD_CPUTIME_ID), runnable = waited_for_a_processor();
    for (; seconds(CLOCK_MONOTONIC) - start < round; ++bursts)
        for (int i = 0; i < 1000; ++i) {
            PROFILE_SCOPE_C("op", "operator");
            for (volatile int k = 0; k < work; ++k) continue;
        }
    double all = seconds(CLOCK_MONOTONIC) - start;
    *awake = (seconds(CLOCK_THREAD_CPUTIME_ID) - on + waited_for_a_processor() - runnable) / all;
    prof_stop();
    return (double)bursts / all;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    static const char *const names[KINDS] = {"neither", "aggregate_stats", "continuous_dump as well"};
    static double bursts[KINDS][ROUNDS], awake[KINDS][ROUNDS];
    double round = argc > 1 ? atof(argv[1]) : 3;
    int work = argc > 2 ? atoi(argv[2]) : 60;
    for (int i = 0; i < ROUNDS; ++i) {
        for (int kind = 0; kind < KINDS; ++kind) bursts[kind][i] = measure(kind, round, work, &awake[kind][i]);
        for (int kind = KINDS; kind-- > 0;) bursts[kind][i] /= bursts[0][i];
    }
    for (int kind = 0; kind < KINDS; ++kind) {
        qsort(bursts[kind], ROUNDS, sizeof **bursts, compare);
        qsort(awake[kind], ROUNDS, sizeof **awake, compare);
        printf("%-24s bursts %.2f (%.2f to %.2f), awake %.2f (%.2f to %.2f)\n", names[kind], bursts[kind][ROUNDS / 2],
               bursts[kind][0], bursts[kind][ROUNDS - 1], awake[kind][ROUNDS / 2], awake[kind][0],
               awake[kind][ROUNDS - 1]);
    }
    return 0;
}
