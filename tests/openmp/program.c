/* What tests/openmp.sh records: loops, whose threads measure them by themselves; nested regions; tasks; the child of a
   fork; threads that have a name of their own.

   usage: program [loops|nested|tasks|child|named|late|plain|cost] */
#ifndef PLAIN
#define PROF_IMPLEMENTATION
#define PROF_AUTOSTART
#include "prof_openmp.h"
#endif
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef PLAIN
#define PROFILE_THREAD(name) (void)0
#define PROFILE_SCOPE(name) (void)0
#endif

static int64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static void work(int us)
{
    int64_t end = now() + us * 1000;
    while (now() < end) continue;
}

static void loops(void) /* prints what each thread measured in its parts of loops, and around them */
{
    for (int round = 0; round < 20; ++round) {
#pragma omp parallel num_threads(3)
        {
            int64_t inside = 0, before = now();
#pragma omp for schedule(static) nowait
            for (int i = 0; i < 9; ++i) {
                int64_t began = now();
                work(100 * (1 + omp_get_thread_num()));
                inside += now() - began;
            }
            int64_t around = now() - before;
#pragma omp critical
            printf("%d %lld %lld\n", omp_get_thread_num(), (long long)inside, (long long)around);
        }
    }
}

static void nested(void) /* prints how many threads there were */
{
    static int count;
    static __thread int seen;
    omp_set_max_active_levels(2);
    for (int round = 0; round < 300; ++round) {
#pragma omp parallel num_threads(3)
        {
#pragma omp parallel num_threads(3)
            {
                if (!seen) {
                    seen = 1;
                    __atomic_fetch_add(&count, 1, __ATOMIC_RELAXED);
                }
            }
        }
    }
    printf("%d\n", count);
}

static void tasks(void) /* 40 tasks, each of which makes one and waits for it */
{
#pragma omp parallel num_threads(3)
    {
#pragma omp single
        {
            for (int i = 0; i < 40; ++i) {
#pragma omp task
                {
#pragma omp task
                    work(10);
#pragma omp taskwait
                }
            }
        }
#pragma omp barrier
#pragma omp sections
        {
#pragma omp section
            work(10);
#pragma omp section
            work(10);
        }
    }
}

static void region(void)
{
#pragma omp parallel num_threads(2)
    work(10);
}

static void named(void)
{
    for (int round = 0; round < 2; ++round) {
#pragma omp parallel num_threads(2)
        {
            if (!round && omp_get_thread_num()) PROFILE_THREAD("my own");
            PROFILE_SCOPE("of the program");
            work(10);
        }
    }
}

static void cost(void) /* prints the least ns of a region of one thread with a loop; not a test */
{
    volatile int sum = 0;
    int64_t least = INT64_MAX;
    for (int round = 0; round < 30; ++round) {
        int64_t began = now();
        for (int i = 0; i < 5000; ++i) {
#pragma omp parallel num_threads(1)
            {
#pragma omp for
                for (int j = 0; j < 1; ++j) sum = sum + j;
            }
        }
        int64_t took = (now() - began) / 5000;
        if (took < least) least = took;
    }
    printf("%lld\n", (long long)least);
}

int main(int count, char **args)
{
    const char *what = count > 1 ? args[1] : "";
    if (!strcmp(what, "loops")) loops();
    if (!strcmp(what, "nested")) nested();
    if (!strcmp(what, "tasks")) tasks();
    if (!strcmp(what, "named")) named();
    if (!strcmp(what, "plain")) region();
    if (!strcmp(what, "cost")) cost();
#ifndef PLAIN
    if (!strcmp(what, "late")) { /* a session that begins when there are threads already, and another one */
        prof_config config = {0};
        region();
        config.output = "late.prof";
        if (prof_start(&config)) return 1;
        region();
        if (prof_stop()) return 1;
        region();
    }
#endif
    if (!strcmp(what, "child")) {
        int status = 1;
        region();
        pid_t child = fork();
        if (!child) {
            region();
            return 0;
        }
        region();
        if (child < 0 || waitpid(child, &status, 0) != child || status) return 1;
    }
    return 0;
}
