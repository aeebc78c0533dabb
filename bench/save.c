/* save.c - what it costs to save the last millisecond of rings of several sizes: bench_save [MiB...]

   A thread records a tree of calls until the ring is full. `caller` is the processor time of the thread that asks for
   the save, `all` that of the process. First prof_save_last_ns() in a session that has no thread of its own, the first
   time and again after as much as 1 % of the ring was recorded; then with `save` in the configuration, where prof's
   thread keeps an index: prof_save_last_ns(), prof_save_request_ns() and prof_save_request(). Frames: see below. */
#include "prof_read.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 7, FRAMES = 200 };
#define PATH "build/bench-save.prof"
#define ASKED "build/bench-save-asked.prof"

static double seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void must(prof_status status)
{
    if (!status) return;
    fprintf(stderr, "bench_save: %s\n", prof_error());
    exit(1);
}

static void tree(int depth)
{
    PROFILE_SCOPE("call");
    if (depth) tree(depth - 1);
    if (depth) tree(depth - 1);
}

/* Records this many bytes: 127 scopes of 16 bytes a tree, and a counter and a frame. */
static void record(double bytes)
{
    for (double done = 0; done < bytes; done += 127 * 16 + 56) {
        PROFILE_SCOPE("frame");
        tree(6);
        PROFILE_COUNTER("done", (long)done);
        PROFILE_FRAME("frames");
    }
}

static int order(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double middle(double *of, int count)
{
    qsort(of, (size_t)count, sizeof *of, order);
    return of[count / 2];
}

static void start(size_t mib, int asks)
{
    prof_config config;
    memset(&config, 0, sizeof config);
    config.buffer_size = mib << 20;
    if (asks) config.save = ASKED;
    if (asks) config.save_last_ns = 1000000;
    must(prof_start(&config));
}

/* One call of prof_save_last_ns(). */
static void save(double *caller, double *all)
{
    double own = seconds(CLOCK_THREAD_CPUTIME_ID), process = seconds(CLOCK_PROCESS_CPUTIME_ID);
    must(prof_save_last_ns(PATH, 1000000));
    *caller = (seconds(CLOCK_THREAD_CPUTIME_ID) - own) * 1e3;
    *all = (seconds(CLOCK_PROCESS_CPUTIME_ID) - process) * 1e3;
}

static void several(const char *name, double bytes)
{
    double caller[ROUNDS], all[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        record(bytes / 100);
        usleep(20000);
        record(2e6);
        save(&caller[i], &all[i]);
    }
    printf("  %-44s caller %8.3f ms  all %8.3f ms\n", name, middle(caller, ROUNDS), middle(all, ROUNDS));
}

static prof_status request(void) { return prof_save_request(); }
static prof_status request_ns(void) { return prof_save_request_ns(ASKED, 1000000); }

static void asked(const char *name, prof_status (*ask)(void))
{
    double caller[ROUNDS], all[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        struct stat about;
        record(2e6);
        usleep(20000);
        unlink(ASKED);
        double own = seconds(CLOCK_THREAD_CPUTIME_ID), process = seconds(CLOCK_PROCESS_CPUTIME_ID);
        must(ask());
        caller[i] = (seconds(CLOCK_THREAD_CPUTIME_ID) - own) * 1e3;
        while (stat(ASKED, &about)) usleep(1000);
        all[i] = (seconds(CLOCK_PROCESS_CPUTIME_ID) - process) * 1e3;
    }
    printf("  %-44s caller %8.3f ms  all %8.3f ms (waiting for it included)\n", name,
           middle(caller, ROUNDS), middle(all, ROUNDS));
}

/* Frames of half a millisecond of work; a save is asked for in the middle. Elapsed time. */
static void frames(void)
{
    double took[FRAMES], sorted[FRAMES], worst = 0;
    for (int i = 0; i < FRAMES; i++) {
        double began = seconds(CLOCK_MONOTONIC);
        for (int k = 0; k < 60; k++) tree(6);
        if (i == FRAMES / 2) must(prof_save_request());
        took[i] = (seconds(CLOCK_MONOTONIC) - began) * 1e3;
        usleep(500);
    }
    memcpy(sorted, took, sizeof took);
    double usual = middle(sorted, FRAMES);
    for (int i = FRAMES / 2; i < FRAMES; i++)
        if (took[i] > worst) worst = took[i];
    printf("  %-44s usual %.3f ms, 99 %% %.3f, worst since the save %.3f\n", "a frame", usual,
           sorted[FRAMES * 99 / 100], worst);
}

int main(int count, char **words)
{
    static const char *const usual[] = {"", "16", "64", "256"};
    for (int i = 1; i < (count > 1 ? count : 4); i++) {
        size_t mib = (size_t)atol(count > 1 ? words[i] : usual[i]);
        double bytes = (double)(mib << 20), caller, all;
        printf("%d MiB\n", (int)mib);
        start(mib, 0);
        record(bytes * 1.2);
        save(&caller, &all);
        printf("  %-44s caller %8.3f ms  all %8.3f ms\n", "the first save", caller, all);
        several("the next ones", bytes);
        must(prof_stop());
        start(mib, 1);
        record(bytes * 1.2);
        sleep(1);
        several("with prof's thread", bytes);
        asked("prof_save_request_ns()", request_ns);
        asked("prof_save_request()", request);
        frames();
        must(prof_stop());
    }
    unlink(PATH);
    unlink(ASKED);
    return 0;
}
