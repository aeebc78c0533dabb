/* many.c - what it costs to read and to write recordings that are not flat: many call sites, many names made at run
   time, many threads, deep scopes. Each has as many scopes as the flat one, with 4 call sites on one thread. Processor
   time, the least of some rounds, in which all take turns; the ratio to the flat one counts, also on a machine that
   others use: bench_many [THOUSANDS [ROUNDS]] */
#define _GNU_SOURCE 1
#define PROF_IMPLEMENTATION
#include "../prof_chrome.h"
#include "../prof_html.h"
#include "../prof_read.h"
#include "../prof_xplane.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { CASES = 5, WAYS = 6, SITES = 10000, NAMES = 100000, THREADS = 1000, DEPTH = 1000 };

static const char *const cases[CASES] = {"4 call sites", "10,000 call sites", "100,000 names", "1,000 threads",
                                         "depth 1,000"};
static const char *const ways[WAYS] = {"open", "summary", "csv", "json", "html", "xplane"};
static prof_range *ranges[SITES];
static long scopes = 1000000;

static void need(prof_status status)
{
    if (!status) return;
    fprintf(stderr, "%s\n", prof_error());
    exit(1);
}

static double seconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time); /* of the process: a writer may have a second thread */
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void four(long count)
{
    for (long i = 0; i < count; i += 4) {
        PROFILE_SCOPE("one");
        PROFILE_BLOCK("two") { PROFILE_SCOPE("three"); }
        PROFILE_BLOCK("four") {}
    }
}

static void *thread_main(void *count)
{
    four(*(const long *)count);
    return NULL;
}

static void threads(void)
{
    long count = scopes / THREADS;
    for (int i = 0; i < THREADS; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, thread_main, &count)) exit(1);
        pthread_join(thread, NULL);
    }
}

static void deep(int depth)
{
    PROFILE_SCOPE("deep");
    if (depth > 1) deep(depth - 1);
}

static void record(int which, const char *path)
{
    prof_config config;
    char name[32];
    memset(&config, 0, sizeof config);
    config.buffer_size = (size_t)scopes * 64 + (64u << 20);
    need(prof_start(&config));
    if (which == 0) four(scopes);
    for (long i = 0; which == 1 && i < scopes; i++) {
        prof_range_start(ranges[i * 7919 % SITES]);
        prof_range_stop(ranges[i * 7919 % SITES]);
    }
    for (long i = 0; which == 2 && i < scopes; i++) {
        snprintf(name, sizeof name, "name %ld", i * 7919 % NAMES);
        PROFILE_SCOPE_DYNAMIC(name);
    }
    if (which == 3) threads();
    for (long i = 0; which == 4 && i < scopes; i += DEPTH) deep(DEPTH);
    need(prof_stop());
    need(prof_save(path));
    need(prof_reset());
}

static int drop(void *user, const void *data, size_t size)
{
    (void)user, (void)data, (void)size;
    return 0;
}

/* Returns the seconds that a way takes with a recording. */
static double run(int way, const char *path)
{
    static const char *const files[WAYS] = {NULL, ".txt", ".csv", ".json", ".html", NULL};
    prof_sink sink = {drop, NULL};
    char out[400];
    prof_trace *trace;
    snprintf(out, sizeof out, "%s%s", path, files[way] ? files[way] : "");
    double began = seconds();
    need(prof_trace_open(path, &trace));
    if (way) {
        began = seconds();
        need(files[way] ? prof_trace_write(trace, out, NULL) : prof_xplane_stream(trace, sink, NULL));
    }
    double took = seconds() - began;
    if (files[way]) remove(out);
    prof_trace_close(trace);
    return took;
}

int main(int count, char **words)
{
    double best[CASES][WAYS] = {{0}};
    char path[CASES][64], name[32];
    int rounds = count > 2 ? atoi(words[2]) : 5;
    if (count > 1) scopes = atol(words[1]) * 1000;
    for (int i = 0; i < SITES; i++) {
        snprintf(name, sizeof name, "call site %d", i);
        ranges[i] = prof_range_create(name);
    }
    for (int c = 0; c < CASES; c++) {
        snprintf(path[c], sizeof path[c], "build/bench-many-%d.prof", c);
        record(c, path[c]);
    }
    for (int round = 0; round < rounds; round++)
        for (int way = 0; way < WAYS; way++)
            for (int c = 0; c < CASES; c++) {
                double took = run(way, path[c]);
                if (!round || took < best[c][way]) best[c][way] = took;
            }
    printf("%-20s", "ns a scope");
    for (int way = 0; way < WAYS; way++) printf("%18s", ways[way]);
    printf("\n");
    for (int c = 0; c < CASES; c++) {
        printf("%-20s", cases[c]);
        for (int way = 0; way < WAYS; way++)
            printf("%9.1f (%5.2f)", best[c][way] * 1e9 / (double)scopes, best[c][way] / best[0][way]);
        printf("\n");
        remove(path[c]);
    }
    return 0;
}
