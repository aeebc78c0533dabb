/* loop.h - what a scope costs that somebody records: the loop that all peers share.

   A peer's file defines PEER_START() and PEER_SCOPE(work), which runs work inside a scope, and then includes this one.

   PROGRAM [off] THREADS     prints one line for each workload: ns of the work alone, and what the scope, two clock
                             reads and two clock_gettime() added to it; all per pass

   Each thread runs batches in turns: work alone, with two clock reads, with two clock_gettime(), with the scope. Of
   each, the lower quartile of the batches counts, in processor time of the thread: others want the processor, too. */
#define _GNU_SOURCE 1
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifndef BATCHES
#define BATCHES 48
#define WARM_UP 1500000 /* scopes, so that buffers have been filled once; at most 0.2 s */
#endif
#define THREADS 2       /* at most */

#if defined(__x86_64__) || defined(__i386__)
#define READ_CLOCK() __builtin_ia32_rdtsc()
#elif defined(__aarch64__)
#define READ_CLOCK() ({ uint64_t tick; __asm__ volatile("mrs %0, cntvct_el0" : "=r"(tick)); tick; })
#else
#error "loop.h: no clock is known for this processor"
#endif
#define KEEP(value) __asm__ volatile("" ::"r"(value) : "memory")
/* Aligned, so that the work takes as long in all programs. */
#define PLAIN __attribute__((no_instrument_function, noinline, aligned(64)))

static const int works[] = {0, 20, 100, 1000}; /* ns */
enum { WORKS = sizeof works / sizeof *works, ALONE = 0, CLOCK, SYSTEM_CLOCK, SCOPE, CASES };
static uint32_t table[4096];
static pthread_barrier_t together;

/* Loads, additions and shifts that partly depend on each other, as in most programs; one function for all loops. */
static PLAIN void some_work(int passes)
{
    uint64_t a = (uint64_t)passes;
    for (int i = 0; i < passes; ++i) a = (a ^ a >> 7) + table[(unsigned)(i * 7) & 4095];
    KEEP(a);
}
#ifndef PEER_THREAD
#define PEER_THREAD() ((void)0) /* what a thread calls first */
#endif
#ifndef PEER_END
#define PEER_END() ((void)0) /* when all is printed */
#endif
#define WORK(passes) do { if (passes) some_work(passes); else KEEP(passes); } while (0)

static inline __attribute__((always_inline, no_instrument_function)) double thread_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static PLAIN double batch(int which, int passes, int calls)
{
    struct timespec t;
    double start = thread_ns();
    if (which == ALONE)
        for (int i = 0; i < calls; ++i) WORK(passes);
    else if (which == CLOCK)
        for (int i = 0; i < calls; ++i) { KEEP(READ_CLOCK()); WORK(passes); KEEP(READ_CLOCK()); }
    else if (which == SYSTEM_CLOCK)
        for (int i = 0; i < calls; ++i) {
            clock_gettime(CLOCK_MONOTONIC, &t);
            WORK(passes);
            clock_gettime(CLOCK_MONOTONIC, &t);
        }
    else
        for (int i = 0; i < calls; ++i) PEER_SCOPE(WORK(passes));
    return (thread_ns() - start) / calls;
}

static PLAIN int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static PLAIN double quartile(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, compare);
    return values[count / 4];
}

/* Returns how many passes of the work take so many ns. */
static PLAIN int passes_of(int ns)
{
    double samples[BATCHES];
    for (int i = 0; i < BATCHES; ++i) samples[i] = (batch(ALONE, 300, 100) - batch(ALONE, 100, 100)) / 200;
    return (int)(ns / quartile(samples, BATCHES) + 0.5);
}

static PLAIN void *measure(void *results)
{
    double (*ns)[CASES] = (double (*)[CASES])results, samples[CASES][BATCHES], start = thread_ns();
    PEER_THREAD();
    for (int i = 0; i < WARM_UP && thread_ns() - start < 2e8; i += 1000) batch(SCOPE, 0, 1000);
    for (int w = 0; w < WORKS; ++w) {
        int passes = works[w] ? passes_of(works[w]) : 0;
        double fitting = 5e5 / batch(SCOPE, passes, 100); /* into half a millisecond */
        int calls = fitting > 2000 ? 2000 : fitting < 20 ? 20 : (int)fitting;
        pthread_barrier_wait(&together);
        for (int i = 0; i < BATCHES; ++i)
            for (int c = 0; c < CASES; ++c) samples[c][i] = batch(c, passes, calls);
        for (int c = 0; c < CASES; ++c) ns[w][c] = quartile(samples[c], BATCHES);
    }
    return NULL;
}

PLAIN int main(int argc, char **argv)
{
    int off = argc > 1 && !strcmp(argv[1], "off"), count = argc > 1 + off ? atoi(argv[1 + off]) : 1;
    static double ns[THREADS][WORKS][CASES];
    pthread_t threads[THREADS];
    if (count < 1 || count > THREADS) return 1;
    if (!off && PEER_START()) {
        fprintf(stderr, "%s: cannot start\n", argv[0]);
        return 1;
    }
    pthread_barrier_init(&together, NULL, (unsigned)count);
    for (int i = 0; i < count; ++i) pthread_create(&threads[i], NULL, measure, ns[i]);
    for (int i = 0; i < count; ++i) pthread_join(threads[i], NULL);
    for (int w = 0; w < WORKS; ++w) {
        double sum[CASES] = {0};
        for (int i = 0; i < count; ++i)
            for (int c = 0; c < CASES; ++c) sum[c] += (ns[i][w][c] - (c ? ns[i][w][ALONE] : 0)) / count;
        printf("%d %d %.2f %.2f %.2f %.2f\n", count, works[w], sum[ALONE], sum[SCOPE], sum[CLOCK], sum[SYSTEM_CLOCK]);
    }
    fflush(stdout);
    PEER_END();
    return 0;
}
