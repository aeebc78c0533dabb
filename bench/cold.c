/* cold.c - what a scope costs when its data are not in the caches, with many call sites, threads, and a huge ring.

   build/bench_cold [THREADS [key value]...]     256 threads and a ring of 256 MiB if nothing else is said

   Between two scopes, each thread reads 1 MiB, which takes 10 us or more and drives everything else out of the first
   and second level of the caches; code, too. In turns it measures two counter reads, a scope of the same call site, a
   scope of one of 10,000 call sites, and the last again without reading in between. Each is measured by two further
   counter reads around it; the mean of all threads' samples without the lowest and highest tenth is printed, less that
   of nothing. Before each sample, a fence waits for what the last one has left to be loaded: without it, a wait for
   memory counts for this sample or the next, as it happens. The records of the call sites are 10,000; the code of their
   scopes is the same.

   The last row loads the first word of a random record and has 150 instructions after it that do not need it. An AMD
   Zen 3 core goes on with up to 256 instructions before a load has arrived, and with 128 while its other hardware
   thread, which may be another virtual machine's, is busy: then this row waits for memory, and so does a scope. */
#define _GNU_SOURCE 1
#include "prof.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#if defined(__x86_64__) || defined(__i386__)
#define READ_CLOCK() __builtin_ia32_rdtsc()
#else
#error "cold.c: no clock is known for this processor"
#endif
#define KEEP(value) __asm__ volatile("" ::"r"(value) : "memory")

enum { SITES = 10000, SAMPLES = 20000, MAX_THREADS = 1024, NOTHING = 0, CLOCK, ONE_SITE, ALL_SITES, LOAD, CASES };
static const char *const names[CASES] = {"", "two counter reads", "a scope, one call site",
                                           "a scope, 10,000 call sites", "a load, 150 instructions"};
static prof_site sites[SITES];
static char polluter[1 << 20], text[SITES][8];
static int threads = 256, each;
static uint32_t *ticks[2][CASES]; /* warm and cold */

static void evict(void)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < sizeof polluter; i += 64) sum += (uint64_t)polluter[i];
    KEEP(sum);
}

static void scope(prof_site *site)
{
    prof__token token = prof__on(site) ? prof__begin(site) : 0;
    prof__end(token);
}

/* Inlined with a constant `which`, so that no branch on it is predicted wrongly. */
static inline __attribute__((__always_inline__)) uint32_t sample(int which, unsigned chance)
{
    __builtin_ia32_lfence();
    uint64_t start = READ_CLOCK();
    KEEP(start);
    if (which == CLOCK) { KEEP(READ_CLOCK()); KEEP(READ_CLOCK()); }
    if (which == LOAD) {
        KEEP(*(volatile uint64_t *)&sites[chance % SITES]);
        __asm__ volatile(".rept 150\n nop\n .endr");
    }
    if (which == ONE_SITE || which == ALL_SITES) scope(&sites[which == ONE_SITE ? 0 : chance % SITES]);
    return (uint32_t)(READ_CLOCK() - start);
}

static void *measure(void *number)
{
    size_t at = (size_t)(uintptr_t)number * (size_t)each;
    unsigned chance = (unsigned)at + 1;
#define SAMPLE(which) \
    chance = chance * 1103515245u + 12345u; \
    if (cold) evict(); \
    ticks[cold][which][at + (size_t)i] = sample(which, chance >> 8)
    for (int cold = 0; cold < 2; ++cold)
        for (int i = 0; i < each; ++i) {
            SAMPLE(NOTHING);
            SAMPLE(CLOCK);
            SAMPLE(ONE_SITE);
            SAMPLE(ALL_SITES);
            SAMPLE(LOAD);
        }
    return NULL;
}

static int compare(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* The mean without the lowest and the highest tenth: some processors count in steps of many ticks. */
static double middle(uint32_t *values)
{
    size_t count = (size_t)threads * (size_t)each;
    double sum = 0;
    qsort(values, count, sizeof *values, compare);
    for (size_t i = count / 10; i < count - count / 10; ++i) sum += values[i];
    return sum / (double)(count - count / 10 * 2);
}

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
    pthread_t thread[MAX_THREADS];
    prof_config config;
    memset(&config, 0, sizeof config);
    config.buffer_size = 256u << 20;
    if (argc > 1) threads = atoi(argv[1]);
    for (int i = 2; i + 1 < argc; i += 2)
        if (prof_config_set(&config, argv[i], argv[i + 1])) threads = 0;
    if (threads < 1 || threads > MAX_THREADS || prof_start(&config)) {
        fprintf(stderr, "bench_cold [THREADS [key value]...]: %s\n", prof_error());
        return 1;
    }
    for (int i = 0; i < SITES; ++i) {
        prof_site site = {0, text[i], "", __FILE__, "", 1, 0, 1, PROF__KIND_BEGIN, 0, 0, 0};
        snprintf(text[i], sizeof text[i], "s%d", i);
        sites[i] = site;
        scope(&sites[i]); /* its first use registers it */
    }
    each = SAMPLES / threads + 1;
    for (int i = 0; i < 2 * CASES; ++i)
        ticks[i / CASES][i % CASES] = (uint32_t *)calloc((size_t)threads * (size_t)each, sizeof(uint32_t));
    double start_ns = now_ns(), start = (double)READ_CLOCK();
    for (int i = 0; i < threads; ++i) pthread_create(&thread[i], NULL, measure, (void *)(uintptr_t)i);
    for (int i = 0; i < threads; ++i) pthread_join(thread[i], NULL);
    double ns_per_tick = (now_ns() - start_ns) / ((double)READ_CLOCK() - start);
    prof_stop();
    printf("%d threads, ns over nothing%25s%10s\n", threads, "warm", "cold");
    for (int which = CLOCK; which < CASES; ++which) {
        double warm = middle(ticks[0][which]) - middle(ticks[0][NOTHING]);
        double cold = middle(ticks[1][which]) - middle(ticks[1][NOTHING]);
        printf("%-30s%22.1f%10.1f\n", names[which], warm * ns_per_tick, cold * ns_per_tick);
    }
    return 0;
}
