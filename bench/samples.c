/* samples.c - what samples cost a program that computes: prof_system.h's key `samples`.

   usage: samples [ROUNDS]
   Rounds with and without samples alternate. A round is the same work, whose processor time is taken of the process, so
   that prof's own thread counts. Prints the median of what a sample costs, at 10,000 a second, and what that is at the
   default rate; and how many bytes one has in the buffer, at the default rate. */
#define PROF_IMPLEMENTATION
#include "prof_system.h"
#include "prof_read.h"
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define ROUNDS_MOST 201

static double used(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Twelve frames deep, some of which change from call to call, as in a program. */
static volatile unsigned sink;
static PROF__NOINLINE unsigned work(unsigned depth, unsigned way)
{
    if (depth == 12) {
        for (unsigned i = 0; i < 20000; ++i) sink += i ^ way;
        return sink;
    }
    return (way >> depth & 1 ? work(depth + 1, way) + 1 : work(depth + 1, way + 1) + depth) + sink;
}

static double round_of(int rate, int calls, uint64_t *samples, uint64_t *words)
{
    prof_config config = {0};
    config.samples = rate;
    if (prof_start(&config) || (rate && prof_system_status())) {
        printf("%s\n", prof_error());
        exit(prof_system_status() != PROF_UNSUPPORTED);
    }
    double begin = used();
    for (int i = 0; i < calls; ++i) {
        PROFILE_SCOPE("work");
        work(0, (unsigned)i * 2654435761u >> 20);
    }
    prof_stop();
    double seconds = used() - begin;
    prof_trace *trace = NULL;
    if (prof_trace_open_live(&trace)) exit(1);
    *samples = prof_trace_about(trace)->samples;
    *words = 0;
    for (size_t i = 0; i < trace->segment_count; ++i) { /* the words of prof's thread */
        const prof__read_segment *segment = &trace->segments[i];
        if (!strcmp(trace->names[trace->strings[segment->name]], "prof system")) *words += segment->end - segment->first;
    }
    if (prof_trace_about(trace)->samples_lost) printf("samples were lost\n");
    prof_trace_close(trace);
    return seconds;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int count, char **words)
{
    static double costs[ROUNDS_MOST], shares[ROUNDS_MOST];
    int rounds = count > 1 ? atoi(words[1]) : 15;
    uint64_t samples, bytes;
    if (rounds < 1 || rounds > ROUNDS_MOST) return 2;
    for (int i = 0; i < rounds; ++i) {
        double without = round_of(0, 8000, &samples, &bytes), with = round_of(10000, 8000, &samples, &bytes);
        costs[i] = (with - without) / (double)(samples ? samples : 1);
        shares[i] = costs[i] * 1e9 / 2090200;
    }
    qsort(costs, (size_t)rounds, sizeof *costs, compare);
    qsort(shares, (size_t)rounds, sizeof *shares, compare);
    printf("a sample costs %.1f us (%.1f to %.1f): %.2f %% of a processor at the default rate\n", costs[rounds / 2] * 1e6,
           costs[rounds / 4] * 1e6, costs[rounds * 3 / 4] * 1e6, shares[rounds / 2] * 100);
    round_of(1, 60000, &samples, &bytes);
    printf("%llu samples at the default rate, %.1f bytes each in the buffer\n", (unsigned long long)samples,
           (double)bytes * 8 / (double)(samples ? samples : 1));
    return 0;
}
