/* training.c - a training job on a cluster, simulated on one machine: each rank is a process with a recording of its own,
   FOLDER/rank-N.prof. The clock is simulated, too: a job of minutes takes a moment, and is the same each time.

     cc -O2 -Iexamples/.. examples/training/training.c -o training -pthread && ./training job 8 100

   or training FOLDER RANKS STEPS [offsets]. A step of a rank takes a batch that its thread "prefetch" has read, starts a
   kernel on its device, runs layers, whose names are made at run time, forwards and backwards, and adds its gradients up
   with all others: an all-reduce, which ends at the same time for all. With 8 ranks or more there are faults:

     rank 5  is late: fwd layer.1 takes 6.6 times as long as elsewhere, in 96 of 100 steps
     rank 2  is killed when 70 % of the steps are done, rank 6 hangs in "load batch" from 80 % on: others go on without
     rank 1  has a clock that runs 50 ppm fast
     rank 3  has a clock that is 3.015 s behind; with "offsets" each rank records how far its clock is from rank 0's

   prof stragglers job/rank-*.prof finds them. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LAYERS = 4 };
#define US 1000u

/* Each thread has a time of its own, as it would have if the threads really took their time. */
static __thread uint64_t cluster_ns = 1000000000000u; /* of the cluster, in ns */
static int this_rank, ranks, steps, starting; /* starting: 1: prof_start() measures the clock: it has to go on */

static uint64_t clock_of(int which) /* what the clock of a rank shows now */
{
    if (ranks >= 8 && which == 1) return cluster_ns + cluster_ns / 20000;
    if (ranks >= 8 && which == 3) return cluster_ns - 3015000000u;
    return cluster_ns;
}

static int simulated_gettime(clockid_t clock, struct timespec *to)
{
    uint64_t ns = clock_of(this_rank) + (clock == CLOCK_REALTIME ? 1750000000000000000u : 0);
    to->tv_sec = (time_t)(ns / 1000000000u);
    to->tv_nsec = (long)(ns % 1000000000u);
    cluster_ns += starting ? 1 : 0;
    return 0;
}
#define clock_gettime simulated_gettime /* prof.h asks this one */
#define PROF_NO_THREAD
#define PROF_IMPLEMENTATION
#include "prof.h"
#undef clock_gettime

/* A number that looks like chance, the same in each run. */
static uint64_t jitter(int which, int step, int what, uint64_t below)
{
    uint64_t x = (uint64_t)which * 1000003u + (uint64_t)step * 7919u + (uint64_t)what * 104729u;
    x = (x ^ x >> 15) * 0x2c1b3c6d2f5u;
    return (x ^ x >> 13) % below;
}

/* The step in which a rank is killed, or hangs. */
static int killed_at(int which) { return ranks >= 8 && which == 2 ? steps * 7 / 10 : steps; }
static int hangs_at(int which) { return ranks >= 8 && which == 6 ? steps * 8 / 10 : steps; }

/* How long a layer takes, forwards or backwards. */
static uint64_t layer_ns(int which, int step, int layer, int back)
{
    uint64_t ns = (back ? 1000 : 2000) * US + jitter(which, step, layer + 10 * back, (back ? 40 : 60) * US);
    return ranks >= 8 && which == 5 && layer == 1 && !back && step % 25 != 7 ? ns * 66 / 10 : ns;
}

/* The time from the begin of a step to the all-reduce, in the last rank: all wait for it. */
static uint64_t slowest(int step)
{
    uint64_t most = 0;
    for (int which = 0; which < ranks; ++which) {
        uint64_t ns = 300 * US;
        for (int i = 0; i < 2 * LAYERS; ++i) ns += layer_ns(which, step, i / 2, i % 2);
        if (step < killed_at(which) && step < hangs_at(which) && ns > most) most = ns;
    }
    return most;
}

/* Takes until then: nothing else takes any time. */
static void until(uint64_t time)
{
    if (cluster_ns < time) cluster_ns = time;
}

static void *prefetch(void *begin)
{
    PROFILE_THREAD("prefetch");
    cluster_ns = *(uint64_t *)begin;
    for (int step = 0; step < killed_at(this_rank); ++step) {
        PROFILE_SCOPE("read batch");
        PROFILE_FLOW_OUT((uint64_t)step);
        until(cluster_ns + 5000 * US);
    }
    return NULL;
}

static void layers(const char *direction, int step, int back)
{
    for (int layer = 0; layer < LAYERS; ++layer) {
        char name[32];
        uint64_t end = cluster_ns + layer_ns(this_rank, step, layer, back);
        snprintf(name, sizeof name, "%s layer.%d", direction, layer);
        PROFILE_SCOPE_DYNAMIC(name);
        until(end);
    }
}

static void kernel(prof_device_row *row, int step)
{
    prof_device_event event;
    PROFILE_SCOPE("launch");
    PROFILE_FLOW_OUT_NAMED("kernel", (uint64_t)step + 1);
    memset(&event, 0, sizeof event);
    event.type = PROF_EVENT_SCOPE;
    event.name = "conv2d";
    event.start = clock_of(this_rank) + 20 * US;
    event.end = event.start + 900 * US;
    event.flow = (uint64_t)step + 1;
    prof_device_record(row, &event);
}

/* What another thread does while this one hangs, until the job is ended from outside, as Slurm does that. */
static void *watch(void *begin)
{
    PROFILE_THREAD("watchdog");
    cluster_ns = *(uint64_t *)begin;
    for (int i = 0; i < 100; ++i) {
        until(cluster_ns + 20000 * US);
        PROFILE_MARK("alive");
    }
    return (void *)(intptr_t)kill(getpid(), SIGKILL);
}

static void train(prof_device_row *row, int step)
{
    uint64_t begin = cluster_ns, reduced = begin + slowest(step) + 500 * US;
    PROFILE_STEP("train", step);
    PROFILE_BLOCK("load batch") {
        PROFILE_FLOW_IN((uint64_t)step);
        if (step == hangs_at(this_rank)) {
            pthread_t watchdog;
            if (!pthread_create(&watchdog, NULL, watch, &begin)) pthread_join(watchdog, NULL);
        }
        until(begin + 300 * US);
    }
    kernel(row, step);
    layers("fwd", step, 0);
    layers("bwd", step, 1);
    if (step + 1 == killed_at(this_rank) && step + 1 < steps) kill(getpid(), SIGKILL);
    PROFILE_BLOCK("MPI_Allreduce") { /* in a ring: the arrows lead from each rank to the next one */
        PROFILE_FLOW_OUT_SHARED((uint64_t)(step * ranks + this_rank));
        until(reduced);
        PROFILE_FLOW_IN_SHARED((uint64_t)(step * ranks + (this_rank + ranks - 1) % ranks));
    }
    PROFILE_BLOCK("optimizer") until(reduced + 200 * US);
}

/* Says what the clock of rank 0 showed when this one's showed that: see prof_trace_align(). */
static void know_offset(char *known, size_t size)
{
    size_t used = strlen(known);
    int64_t ahead = (int64_t)(clock_of(0) - clock_of(this_rank));
    snprintf(known + used, size - used, "%s%" PRIu64 " %" PRId64, used ? " " : "", clock_of(this_rank), ahead);
    prof_set_metadata("clock reference", "rank 0 of job 4711");
    prof_set_metadata("clock offset", known);
}

static int run(const char *folder, int offsets)
{
    char output[1000], number[16], host[16], known[100] = "";
    prof_config config = {0};
    uint64_t begin = cluster_ns + 5000 * US;
    pthread_t thread;
    snprintf(output, sizeof output, "%s/rank-%%r.prof", folder);
    snprintf(number, sizeof number, "%d", this_rank); /* of a real job, prof takes it from the environment */
    snprintf(host, sizeof host, "node%d", this_rank / 4);
    config.output = output;
    config.rank = number;
    config.clock = PROF_CLOCK_MONOTONIC;
    config.existing = PROF_EXISTING_REPLACE;
    config.buffer_size = ((size_t)steps * 2000 / 65536 + 8) * 65536;
    prof_set_metadata("host", host);
    prof_set_metadata("job", getenv("SLURM_JOB_ID") ? getenv("SLURM_JOB_ID") : "4711");
    starting = 1;
    if (prof_start(&config) != PROF_OK) return fprintf(stderr, "%s\n", prof_error()), 1;
    starting = 0;
    if (offsets) know_offset(known, sizeof known);
    PROFILE_THREAD("main");
    prof_device *device = prof_device_create("npu 0", NULL);
    prof_device_row *row = prof_device_row_create(device, "compute");
    if (pthread_create(&thread, NULL, prefetch, &begin)) return 1;
    pthread_join(thread, NULL); /* its times begin where those of this thread do */
    cluster_ns = begin;
    prof_device_sync(device, clock_of(this_rank), clock_of(this_rank));
    for (int step = 0; step < steps; ++step) train(row, step);
    prof_device_sync(device, clock_of(this_rank), clock_of(this_rank));
    if (offsets) know_offset(known, sizeof known);
    return prof_stop() != PROF_OK;
}

int main(int argc, char **argv)
{
    const char *folder = argc > 1 ? argv[1] : ".";
    ranks = argc > 2 ? atoi(argv[2]) : 8;
    steps = argc > 3 ? atoi(argv[3]) : 100;
    mkdir(folder, 0777);
    for (this_rank = 0; this_rank < ranks; ++this_rank) {
        int status = 0;
        pid_t child = fork();
        if (child < 0) return perror("fork"), 1;
        if (!child) _exit(run(folder, argc > 4));
        if (waitpid(child, &status, 0) != child || (WIFEXITED(status) && WEXITSTATUS(status))) return 1;
    }
    return 0;
}
