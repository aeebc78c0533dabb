/* threads.c - do two threads on two processors record at twice the rate of one?

   Rounds of one and of two threads alternate; the medians of scopes per second are printed, and their ratio. */
#define _GNU_SOURCE 1
#include "prof.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define ROUNDS 15
#define SCOPES 2000000

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static pthread_barrier_t start;

static void *record(void *unused)
{
    pthread_barrier_wait(&start);
    for (int i = 0; i < SCOPES; ++i) {
        PROFILE_SCOPE("scope");
    }
    return unused;
}

static double rate(int threads) /* million scopes a second, all threads together */
{
    pthread_t ids[2];
    pthread_barrier_init(&start, NULL, (unsigned)threads + 1);
    for (int i = 0; i < threads; ++i) pthread_create(&ids[i], NULL, record, NULL);
    pthread_barrier_wait(&start);
    double begin = now();
    for (int i = 0; i < threads; ++i) pthread_join(ids[i], NULL);
    double seconds = now() - begin;
    pthread_barrier_destroy(&start);
    return threads * (double)SCOPES / seconds * 1e-6;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(void)
{
    double rates[2][ROUNDS], ratios[ROUNDS];
    prof_start(NULL);
    for (int i = 0; i < ROUNDS; ++i) {
        rates[0][i] = rate(1);
        rates[1][i] = rate(2);
        ratios[i] = rates[1][i] / rates[0][i];
    }
    prof_stop();
    for (int i = 0; i < 2; ++i) qsort(rates[i], ROUNDS, sizeof(double), compare);
    qsort(ratios, ROUNDS, sizeof(double), compare);
    printf("1 thread %.1f, 2 threads %.1f million scopes a second; ratio %.2f (median of %d rounds, %.2f to %.2f)\n",
           rates[0][ROUNDS / 2], rates[1][ROUNDS / 2], ratios[ROUNDS / 2], ROUNDS, ratios[0], ratios[ROUNDS - 1]);
    return 0;
}
