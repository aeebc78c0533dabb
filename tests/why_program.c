/* why_program.c - what tests/test_why.sh records: calls that run, wait for a lock, sleep, are preempted, fault or are
   throttled. Each call's truth is measured by the program itself, with clocks of the system: the processor time of the
   thread, its own schedstat, and how long it waited. It becomes arguments of the call's scope, which prof why does not
   use: true_wall, true_running, true_ready, true_waiting, in ns.

     why_program KIND COUNT

   KIND requests has two: the second one has to wait in a queue until the thread has served the first, then calls
   another thread with a flow of its own, and waits for it. KIND rounds has steps, numbered from 100 on, and frames. In
   the seventh, the thread waits 200 ms for a lock, until the step of another thread sends it a flow. KIND crashed ends
   in scopes, without prof_stop(), KIND faults with SIGSEGV; KIND empty records nothing; KIND device waits for a device. KIND grows allocates;
   KIND share computes for COUNT ms, four times; KIND crowd has 400 short threads, and as many flows. */
#define _GNU_SOURCE
#define PROF_IMPLEMENTATION
#ifndef PLAIN
#define PROF_WRAP_WAITS
#endif
#include "../prof_system.h"
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static uint64_t now_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* What the system says of the calling thread: how long it ran, and how long it was ready and did not run. */
typedef struct usage {
    uint64_t wall, running, ready;
} usage;

static int schedstat = -1;
static usage usage_now(void)
{
    usage all;
    for (int tries = 0; tries < 100; ++tries) { /* again if it was interrupted: the three are of one time */
        char text[128] = "";
        unsigned long long ran = 0, delay = 0;
        uint64_t began = now_ns(CLOCK_MONOTONIC);
        if (syscall(SYS_pread64, schedstat, text, sizeof text - 1, (long)0) > 0) sscanf(text, "%llu %llu", &ran, &delay);
        all.ready = delay;
        all.running = now_ns(CLOCK_THREAD_CPUTIME_ID);
        all.wall = now_ns(CLOCK_MONOTONIC);
        if (all.wall - began < 30000) break;
    }
    return all;
}

static void work(uint64_t ns)
{
    uint64_t end = now_ns(CLOCK_THREAD_CPUTIME_ID) + ns;
    while (now_ns(CLOCK_THREAD_CPUTIME_ID) < end) {
        for (volatile int i = 0; i < 1000; ++i) continue;
    }
}

/* Stays on one processor, with others that are pinned to it. */
static void pin(int processor)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(processor, &set);
    sched_setaffinity(0, sizeof set, &set);
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int turn, ended;

/* Has the lock whenever it is its turn, for 3 ms. */
static void *holder_main(void *unused)
{
    struct timespec time = {0, 3000000};
    prof_set_thread_name("worker");
    while (!__atomic_load_n(&ended, __ATOMIC_ACQUIRE)) {
        if (__atomic_load_n(&turn, __ATOMIC_ACQUIRE) != 1) {
            sched_yield();
            continue;
        }
        PROFILE_SCOPE("save");
        pthread_mutex_lock(&mutex);
        __atomic_store_n(&turn, 2, __ATOMIC_RELEASE);
        syscall(SYS_nanosleep, &time, NULL);
        pthread_mutex_unlock(&mutex);
    }
    return unused;
}

static void *hog_main(void *unused)
{
    prof_set_thread_name("hog");
    pin(0);
    while (!__atomic_load_n(&ended, __ATOMIC_ACQUIRE)) {
        PROFILE_SCOPE("burn");
        work(1000000);
    }
    return unused;
}

static char *pages;
#define PAGES ((size_t)2048)

/* A file of which no page is in memory. Returns 0 if there are no such files here. */
enum { FILE_PAGES = 2, FILE_PAGES_ALL = 100 };
static const volatile char *disk;
static size_t next_page;
static int sum;
static int make_disk(void)
{
    static char part[262144];
    size_t size = (size_t)FILE_PAGES_ALL * sizeof part;
    int file = open("disk.bin", O_RDWR | O_CREAT | O_TRUNC, 0666);
    memset(part, 7, sizeof part);
    for (int i = 0; file >= 0 && i < FILE_PAGES_ALL; ++i)
        if (write(file, part, sizeof part) != (ssize_t)sizeof part) return 0;
    if (file < 0 || fsync(file) || posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED)) return 0;
    disk = (const volatile char *)mmap(NULL, size, PROT_READ, MAP_SHARED, file, 0);
    return disk != (const volatile char *)MAP_FAILED && !madvise((void *)(uintptr_t)disk, size, MADV_RANDOM);
}

static void one(const char *kind)
{
    struct timespec time = {0, 2000000};
    if (!strcmp(kind, "lock")) {
        PROFILE_SCOPE("load_texture");
        work(1000000);
        __atomic_store_n(&turn, 1, __ATOMIC_RELEASE);
        while (__atomic_load_n(&turn, __ATOMIC_ACQUIRE) != 2) sched_yield();
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
    } else if (!strcmp(kind, "woken")) {
        PROFILE_SCOPE("rest");
        nanosleep(&time, NULL); /* another thread has the processor when it is woken */
    } else if (!strcmp(kind, "sleep")) {
        PROFILE_SCOPE("rest");
        work(500000);
        nanosleep(&time, NULL);
    } else if (!strcmp(kind, "disk")) {
        PROFILE_SCOPE("load");
        for (size_t i = 0; i < FILE_PAGES; ++i) sum += disk[(next_page++ % FILE_PAGES_ALL) * 262144]; /* none was read ahead */
    } else if (!strcmp(kind, "fault")) {
        PROFILE_SCOPE("touch");
        madvise(pages, PAGES * 4096, MADV_DONTNEED);
        for (size_t i = 0; i < PAGES; ++i) pages[i * 4096] = 1;
    } else {
        PROFILE_SCOPE("compute");
        work(8000000);
    }
}

static void call(const char *kind)
{
    {
        PROFILE_SCOPE("call");
        usage before = usage_now(), after;
        one(kind);
        after = usage_now();
        uint64_t wall = after.wall - before.wall, running = after.running - before.running;
        uint64_t ready = after.ready - before.ready, waiting = wall > running + ready ? wall - running - ready : 0;
        PROFILE_ARG_U("true_wall", wall);
        PROFILE_ARG_U("true_running", running);
        PROFILE_ARG_U("true_ready", ready);
        PROFILE_ARG_U("true_waiting", waiting);
    }
}

/* A holder of the lock for 200 ms, in the scope save. */
static void *slow_main(void *unused)
{
    struct timespec time = {0, 200000000};
    prof_set_thread_name("worker");
    PROFILE_STEP("flush", 50);
    PROFILE_SCOPE("save");
    PROFILE_MUTEX_LOCK(&mutex, "store");
    __atomic_store_n(&turn, 2, __ATOMIC_RELEASE);
    syscall(SYS_nanosleep, &time, NULL);
    PROFILE_FLOW_OUT_NAMED("store is free", 50);
    PROFILE_MUTEX_UNLOCK(&mutex);
    return unused;
}

/*-- requests: 7 is served while 8 is in the queue --*/

static int queued[2], done;

static void until(int *flag)
{
    while (!__atomic_load_n(flag, __ATOMIC_ACQUIRE)) usleep(1000);
}

static void *helper_main(void *unused)
{
    prof_set_thread_name("helper");
    until(&turn);
    {
        PROFILE_SCOPE("look up");
        PROFILE_FLOW_IN_NAMED("call", 4711);
        PROFILE_SPAN_BEGIN_ARGS("query", 99, PROF_ARG_I("parent", 8));
        usleep(200000);
        PROFILE_SPAN_END("query", 99);
        PROFILE_FLOW_OUT_NAMED("answer", 4712);
    }
    __atomic_store_n(&done, 1, __ATOMIC_RELEASE);
    return unused;
}

static void *server_main(void *unused)
{
    prof_set_thread_name("server");
    PROFILE_SCOPE("server loop");
    for (int i = 7; i < 9; ++i) {
        until(&queued[i - 7]);
        PROFILE_SCOPE("serve");
        PROFILE_FLOW_IN_NAMED("queue", i);
        if (i == 7) {
            __atomic_store_n(&turn, 0, __ATOMIC_RELEASE);
            usleep(300000);
        } else {
            PROFILE_FLOW_OUT_NAMED("call", 4711);
            __atomic_store_n(&turn, 1, __ATOMIC_RELEASE);
            PROFILE_SCOPE("wait for the answer");
            until(&done);
            PROFILE_FLOW_IN_NAMED("answer", 4712);
        }
        PROFILE_SPAN_END("request", i);
    }
    return unused;
}

static int requests(void)
{
    pthread_t server, helper;
    if (pthread_create(&server, NULL, server_main, NULL) || pthread_create(&helper, NULL, helper_main, NULL)) return 4;
    for (int i = 7; i < 9; ++i) {
        PROFILE_SCOPE("accept");
        PROFILE_SPAN_BEGIN("request", i);
        PROFILE_FLOW_OUT_NAMED("queue", i);
        __atomic_store_n(&queued[i - 7], 1, __ATOMIC_RELEASE);
    }
    return pthread_join(server, NULL) || pthread_join(helper, NULL);
}

/* A cache that grows, and memory that is freed. */
static int grows(void)
{
    static char blocks[100];
    for (int i = 0; i < 100; ++i) {
        {
            PROFILE_SCOPE("cache");
            PROFILE_ALLOC(&blocks[i], 1024);
        }
        PROFILE_SCOPE("scratch");
        PROFILE_ALLOC(&queued, 200);
        PROFILE_FREE(&queued);
    }
    return 0;
}

/* A rank's share of the work, which takes so many milliseconds. */
static int share(int ms)
{
    for (int i = 0; i < 4; ++i) {
        PROFILE_STEP("iteration", i);
        PROFILE_SCOPE("compute");
        usleep((useconds_t)ms * 1000);
    }
    return 0;
}

/* Ends without prof_stop(), in scopes. */
static volatile int *volatile nothing_there = (volatile int *)64;
static void crashed(int faults)
{
    PROFILE_SCOPE("game");
    PROFILE_LOG(PROF_LOG_ERROR, "level %d has no exit", 3);
    PROFILE_SCOPE("solve");
    PROFILE_ARG_I("row", 7);
    if (faults) *nothing_there = 1;
    _exit(0);
}

static int rounds(int count)
{
    pthread_t other;
    for (int i = 0; i < count; ++i) {
        if (i == 6 && pthread_create(&other, NULL, slow_main, NULL)) return 4;
        while (i == 6 && __atomic_load_n(&turn, __ATOMIC_ACQUIRE) != 2) sched_yield();
        {
            PROFILE_STEP("turn", 100 + i);
            PROFILE_MUTEX_LOCK(&mutex, "store");
            if (i == 6) PROFILE_FLOW_IN_NAMED("store is free", 50);
            PROFILE_MUTEX_UNLOCK(&mutex);
        }
        {
            PROFILE_STEP("other turn", -i);
        }
        PROFILE_FRAME("round");
    }
    return pthread_join(other, NULL);
}

/* 8 workers and the holder of a lock live long, 400 jobs short; each job gets a flow, and there are 100 spans at a time. */
static pthread_barrier_t crowd_barrier;
static void name_thread(const char *name, int number)
{
    char text[32];
    snprintf(text, sizeof text, "%s %d", name, number);
    prof_set_thread_name(text);
}
static void *crowd_worker(void *number)
{
    name_thread(number ? "worker" : "holder", (int)(intptr_t)number);
    PROFILE_SCOPE("loop");
    if (!number) PROFILE_MUTEX_LOCK(&mutex, "store");
    pthread_barrier_wait(&crowd_barrier);
    if (!number) usleep(20000);
    if (!number) PROFILE_MUTEX_UNLOCK(&mutex);
    pthread_barrier_wait(&crowd_barrier);
    return NULL;
}
static void *crowd_job(void *number)
{
    name_thread("job", (int)(intptr_t)number);
    PROFILE_SCOPE("job");
    PROFILE_FLOW_IN_NAMED("work", (uint64_t)(intptr_t)number);
    PROFILE_SCOPE("part");
    return NULL;
}
static int crowd(void)
{
    pthread_t workers[9], jobs[4];
    pthread_barrier_init(&crowd_barrier, NULL, 10);
    for (int i = 1; i <= 9; ++i)
        if (pthread_create(&workers[i % 9], NULL, crowd_worker, (void *)(intptr_t)(i % 9))) return 4;
    pthread_barrier_wait(&crowd_barrier);
    {
        PROFILE_SCOPE("turn");
        PROFILE_MUTEX_LOCK(&mutex, "store");
        PROFILE_MUTEX_UNLOCK(&mutex);
    }
    for (int i = 0; i < 100; ++i) PROFILE_SPAN_BEGIN("download", i);
    for (int i = 0; i < 400; ++i) {
        PROFILE_SCOPE("start");
        PROFILE_FLOW_OUT_NAMED("work", i);
        if (pthread_create(&jobs[i % 4], NULL, crowd_job, (void *)(intptr_t)i)) return 4;
        for (int k = 0; i % 4 == 3 && k < 4; ++k) pthread_join(jobs[k], NULL);
    }
    for (int i = 0; i < 100; ++i) PROFILE_SPAN_END("download", i);
    pthread_barrier_wait(&crowd_barrier);
    for (int i = 0; i < 9; ++i) pthread_join(workers[i], NULL);
    return 0;
}

/* Waits, in a call that no wrapper knows, while a device works: in the third of six frames. A device that has the name
   of what CUDA does on the host is no device. */
static int device(void)
{
    int frame;
    prof_device_clock clock = {1000000000, 0, 0};
    prof_device *gpu = prof_device_create("GPU", &clock);
    prof_device_row *row = prof_device_row_create(gpu, "graphics");
    prof_device *cuda = prof_device_create("CUDA", &clock);
    prof_device_row *waits = prof_device_row_create(cuda, "synchronization");
    struct timespec time = {0, 20000000};
    uint64_t begin = prof_host_ns();
    prof_device_sync(gpu, begin, begin);
    prof_device_sync(cuda, begin, begin);
    for (frame = 0; frame < 7; frame++) {
        PROFILE_FRAME("turn");
        for (begin = prof_host_ns(); prof_host_ns() - begin < 2000;) continue; /* a frame of no time is none */
        if (frame != 2) continue;
        PROFILE_SCOPE("draw");
        begin = prof_host_ns();
        syscall(SYS_nanosleep, &time, NULL);
        prof_device_scope(waits, "wait for the GPU", begin, prof_host_ns());
        prof_device_scope(row, "shadow pass", begin, prof_host_ns());
    }
    return 0;
}

int main(int argc, char **argv)
{
    const char *kind = argc > 1 ? argv[1] : "lock";
    int count = argc > 2 ? atoi(argv[2]) : 40;
    pthread_t other;
    int has_other = !strcmp(kind, "lock") || !strcmp(kind, "preempted") || !strcmp(kind, "woken");
    schedstat = open("/proc/thread-self/schedstat", O_RDONLY);
    pages = (char *)mmap(NULL, PAGES * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == (char *)MAP_FAILED || schedstat < 0) return 3;
    prof_set_thread_name("main");
    if (!strcmp(kind, "empty")) return 0;
    if (!strcmp(kind, "crashed") || !strcmp(kind, "faults")) crashed(kind[0] == 'f');
    if (!strcmp(kind, "disk") && !make_disk()) return 5;
    if (!strcmp(kind, "grows")) return grows();
    if (!strcmp(kind, "share")) return share(count);
    if (!strcmp(kind, "requests")) return requests();
    if (!strcmp(kind, "device")) return device();
    if (!strcmp(kind, "crowd")) return crowd();
    if (!strcmp(kind, "rounds")) return rounds(count);
    if (has_other && pthread_create(&other, NULL, !strcmp(kind, "lock") ? holder_main : hog_main, NULL)) return 4;
    if (!strcmp(kind, "preempted") || !strcmp(kind, "woken")) pin(0);
    if (!strcmp(kind, "woken")) setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), 19);
    for (int i = 0; i < count; ++i) call(kind);
    __atomic_store_n(&ended, 1, __ATOMIC_RELEASE);
    if (has_other) pthread_join(other, NULL);
    return 0;
}
