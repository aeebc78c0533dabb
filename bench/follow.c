/* follow.c - what a scope costs its thread while another one follows what it records, against a ring that nobody reads,
   in rounds one after the other. Processor time of the recording thread, so that other threads do not count. The loop
   around the scope is empty, short or long; with it, service is the processor time of the other thread, and lost what
   it was too late for. */
#include "prof_read.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 21, KINDS = 3 };

static double cpu_seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static volatile unsigned sink;

static void work(unsigned turns)
{
    for (unsigned i = 0; i < turns; i++) sink += i;
}

/* ns of processor time for each scope; lost: the share of scopes that found no room. */
static double measure(int kind, long scopes, unsigned turns, double *lost, double *service)
{
    prof_config config;
    prof_trace *trace;
    memset(&config, 0, sizeof config);
    if (kind == 1) config.save = "build/bench-follow.prof";
    if (kind == 1) config.save_over = "scope:never*>1s,frame>1s";
    if (kind == 2) config.mode = PROF_STATS;
    if (prof_start(&config)) {
        fprintf(stderr, "%s\n", prof_error());
        exit(1);
    }
    double start = cpu_seconds(CLOCK_THREAD_CPUTIME_ID), all = cpu_seconds(CLOCK_PROCESS_CPUTIME_ID);
    for (long i = 0; i < scopes; i++) {
        PROFILE_SCOPE("scope");
        work(turns);
    }
    double took = cpu_seconds(CLOCK_THREAD_CPUTIME_ID) - start;
    *service = (cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) - all - took) / took;
    if (prof_stop() || prof_trace_open_live(&trace)) exit(1);
    *lost = (double)prof_trace_about(trace)->lost / (double)scopes;
    prof_trace_close(trace);
    return took * 1e9 / (double)scopes;
}

static int order(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void compare(const char *name, long scopes, unsigned turns)
{
    static const char *const kinds[KINDS] = {"ring", "ring, watched for triggers", "statistics"};
    double ns[KINDS][ROUNDS], ratio[KINDS][ROUNDS], lost[KINDS] = {0}, service[KINDS] = {0};
    for (int round = 0; round < ROUNDS; round++)
        for (int kind = 0; kind < KINDS; kind++) {
            double share, busy;
            ns[kind][round] = measure(kind, scopes, turns, &share, &busy);
            ratio[kind][round] = ns[kind][round] / ns[0][round];
            lost[kind] += share / ROUNDS;
            service[kind] += busy / ROUNDS;
        }
    for (int kind = 0; kind < KINDS; kind++) {
        qsort(ns[kind], ROUNDS, sizeof(double), order);
        qsort(ratio[kind], ROUNDS, sizeof(double), order);
        printf("%-6s %-28s %8.1f ns  x ring %.3f  service %4.0f %% of the thread  lost %.2f %%\n", name, kinds[kind],
               ns[kind][ROUNDS / 2], ratio[kind][ROUNDS / 2], service[kind] * 100, lost[kind] * 100);
    }
}

int main(void)
{
    compare("tight", 1000000, 0);
    compare("short", 500000, 40);
    compare("long", 50000, 500);
    return 0;
}
