/* bench.c - what each macro costs, as a multiple of two clock reads measured in the same run.

   make bench                      builds and runs it with the ring in memory, then in a file, then from a shared library
   build/bench [key value]...      any configuration, for example: build/bench output /dev/shm/ring.prof buffer 1M

   "tight" is a loop around nothing but the macro, "work" around a workload of about 100 ns that keeps the processor's
   units busy, "chain" around one of about 100 ns whose instructions wait for each other. Every case runs once in each
   of the interleaved rounds; the medians are printed. The floor is two reads of the counter that the recorder uses.

   x floor = (case - empty) / (floor - empty) in a tight loop. Around a workload the processor hides much of either, so
   that a ratio of these differences would say little; there it is x total = case / floor, workload included. */
#include "prof.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ROUNDS 15
#define CALLS 200000

#if defined(__x86_64__) || defined(__i386__)
#define READ_CLOCK() __builtin_ia32_rdtsc()
#elif defined(__aarch64__)
static inline uint64_t read_clock(void)
{
    uint64_t tick;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(tick));
    return tick;
}
#define READ_CLOCK() read_clock()
#else
#error "bench.c: no floor is known for this processor"
#endif

#define KEEP(value) __asm__ volatile("" ::"r"(value))
#define KEEP_CHANGED(value) __asm__ volatile("" : "+r"(value))
#define FENCE() __asm__ volatile("" ::: "memory")

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Independent loads and additions: the processor overlaps them with each other, not with a clock that waits for them. */
uint64_t table[4096], sink; /* external, so that the compiler has to believe in them */
static inline void loads(void)
{
    uint64_t a = 0, b = 0;
    for (unsigned i = 0; i < 200; i += 2) {
        a += table[(sink + i * 7) & 4095];
        b ^= table[(sink + i * 5) & 4095];
    }
    sink += (a ^ b) + 1;
    FENCE();
}
static inline void chain(void)
{
    uint64_t a = sink;
    for (unsigned i = 0; i < 80; ++i) {
        a = a * 0x9E3779B97F4A7C15u + 1;
        KEEP_CHANGED(a);
    }
    sink = a;
    FENCE();
}
enum { TIGHT, LOADS, CHAIN, WORKS };
#define WORK() do { FENCE(); if (work == LOADS) loads(); if (work == CHAIN) chain(); FENCE(); } while (0)

#define CASE(name) static inline __attribute__((always_inline)) void case_##name(int work, int i)
CASE(empty) { (void)i; WORK(); }
CASE(floor) { (void)i; uint64_t a = READ_CLOCK(); KEEP(a); WORK(); uint64_t b = READ_CLOCK(); KEEP(b); }
CASE(scope) { (void)i; PROFILE_SCOPE("scope"); WORK(); }
CASE(scope_off) { (void)i; PROFILE_SCOPE_L("off", 255); WORK(); }
CASE(scope_off_arg) { PROFILE_SCOPE_C("off", "bench_off"); PROFILE_ARG_I("i", i); WORK(); }
CASE(scope_arg) { PROFILE_SCOPE("scope"); PROFILE_ARG_I("i", i); WORK(); }
CASE(scope_text) { (void)i; PROFILE_SCOPE_DYNAMIC("a name made at run time"); WORK(); }
CASE(scope_format) { PROFILE_SCOPE_F("job %d", i); WORK(); }
CASE(format_double) { PROFILE_SCOPE_F("job %.2f", i * 0.37); WORK(); }
CASE(format_rare) { PROFILE_SCOPE_F("job %+.3d", i); WORK(); }
CASE(begin_end) { (void)i; PROFILE_BEGIN("begin"); WORK(); PROFILE_END("begin"); }
CASE(four_stages) { (void)i; PROFILE_STAGE("a"); WORK(); PROFILE_NEXT("b"); PROFILE_NEXT("c"); PROFILE_NEXT("d"); }
CASE(mark) { (void)i; PROFILE_MARK("mark"); WORK(); }
CASE(frame) { (void)i; PROFILE_FRAME("frame"); WORK(); }
CASE(counter) { PROFILE_COUNTER("counter", i); WORK(); }
CASE(scope_mask) { (void)i; PROFILE_SCOPE_MASK("mask", 6); WORK(); }
CASE(step) { PROFILE_STEP("step", i); WORK(); }
CASE(throughput) { PROFILE_THROUGHPUT("bytes", i); WORK(); }
CASE(flow) { PROFILE_FLOW_OUT((uint64_t)i); WORK(); }
CASE(flow_new) { (void)i; PROFILE_FLOW_OUT(prof_flow_new()); WORK(); }
CASE(log) { (void)i; PROFILE_LOG(PROF_LOG_INFO, "a message"); WORK(); }
CASE(log_ints) { PROFILE_LOG(PROF_LOG_INFO, "value %d of %d", i, CALLS); WORK(); }
CASE(log_text) { PROFILE_LOG(PROF_LOG_INFO, "name %s", i & 1 ? "first of two names" : "second of two names"); WORK(); }
CASE(log_off) { PROFILE_LOG(PROF_LOG_DEBUG, "value %d of %d", i, CALLS); WORK(); }

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static prof_task *task;
static prof_range *range;
static prof_counter *number;
static prof_device_row *queue;
CASE(span) { PROFILE_SPAN_BEGIN("span", i); WORK(); PROFILE_SPAN_END("span", i); }
CASE(mark_scope) { (void)i; PROFILE_MARK_REACH("mark", PROF_MARK_PROCESS); WORK(); }
CASE(counter_add) { PROFILE_COUNTER_ADD("sum", i); WORK(); }
CASE(alloc_free) { PROFILE_ALLOC((uintptr_t)(i + 1) * 16, 16); WORK(); PROFILE_FREE((uintptr_t)(i + 1) * 16); }
CASE(memory_scope) { (void)i; PROFILE_MEMORY_SCOPE("pool"); WORK(); }
CASE(mutex_alone) { (void)i; pthread_mutex_lock(&mutex); WORK(); pthread_mutex_unlock(&mutex); }
CASE(mutex) { (void)i; PROFILE_MUTEX_LOCK(&mutex, "mutex"); WORK(); PROFILE_MUTEX_UNLOCK(&mutex); }
CASE(task) { (void)i; prof_task_start(task); WORK(); prof_task_stop(task); }
CASE(range) { (void)i; prof_range_start(range); WORK(); prof_range_stop(range); }
CASE(object_counter) { prof_counter_add(number, i); WORK(); }
CASE(device_scope) { prof_device_scope(queue, "kernel", (uint64_t)i, (uint64_t)i + 1); WORK(); }

#define CASES(X) X(empty) X(floor) X(scope) X(scope_off) X(scope_off_arg) X(scope_arg) X(scope_text) X(scope_format) X(format_double) \
    X(format_rare) X(begin_end) \
    X(four_stages) X(mark) X(frame) X(counter) X(scope_mask) X(step) X(throughput) X(flow) X(flow_new) X(log)        \
    X(log_ints) X(log_text) X(log_off) X(span) X(mark_scope) X(counter_add) X(alloc_free) X(memory_scope)          \
    X(mutex_alone) X(mutex) X(task) X(range) X(object_counter) X(device_scope)
#define LOOP(name)                                                        \
    static __attribute__((noinline)) double loop_##name(int work)         \
    {                                                                     \
        double start = now_ns();                                          \
        if (work == LOADS)                                                \
            for (int i = 0; i < CALLS; ++i) case_##name(LOADS, i);        \
        else if (work == CHAIN)                                           \
            for (int i = 0; i < CALLS; ++i) case_##name(CHAIN, i);        \
        else                                                              \
            for (int i = 0; i < CALLS; ++i) case_##name(TIGHT, i);        \
        return (now_ns() - start) / CALLS;                                \
    }
CASES(LOOP)

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(const double *values)
{
    double copy[ROUNDS];
    memcpy(copy, values, sizeof copy);
    qsort(copy, ROUNDS, sizeof *copy, compare);
    return copy[ROUNDS / 2];
}

#ifdef BENCH_SHARED
int bench_main(int argc, char **argv);
int bench_main(int argc, char **argv)
#else
int main(int argc, char **argv)
#endif
{
#define ROW(name) {#name, loop_##name, {{0}}},
    static struct {
        const char *name;
        double (*loop)(int work);
        double ns[WORKS][ROUNDS];
    } rows[] = {CASES(ROW)};
    size_t count = sizeof rows / sizeof *rows;
    prof_config config;
    memset(&config, 0, sizeof config);
    for (int i = 1; i + 1 < argc; i += 2)
        if (prof_config_set(&config, argv[i], argv[i + 1])) {
            fprintf(stderr, "bench: %s\n", prof_error());
            return 1;
        }
    task = prof_task_create(NULL, "task");
    range = prof_range_create("range");
    number = prof_counter_create(NULL, "number");
    queue = prof_device_row_create(prof_device_create("device", NULL), "queue");
    if (prof_start(&config)) {
        fprintf(stderr, "bench: %s\n", prof_error());
        return 1;
    }
    prof_category_enable("bench_off", 0);
    for (int round = 0; round < ROUNDS; ++round)
        for (int work = 0; work < WORKS; ++work)
            for (size_t i = 0; i < count; ++i) rows[i].ns[work][round] = rows[i].loop(work);
    prof_stop();
    printf("%-14s", "");
    for (int work = 0; work < WORKS; ++work) {
        static const char *const names[WORKS] = {"tight ns", "work ns", "chain ns"};
        printf("%10s %9s %9s", names[work], "- empty", work ? "x total" : "x floor");
    }
    printf("\n");
    for (size_t i = 0; i < count; ++i) {
        printf("%-14s", rows[i].name);
        for (int work = 0; work < WORKS; ++work) {
            double over[ROUNDS], ratio[ROUNDS]; /* within one round, where the machine's speed is the same */
            for (int r = 0; r < ROUNDS; ++r) {
                double own = rows[i].ns[work][r], empty = rows[0].ns[work][r], floor = rows[1].ns[work][r];
                over[r] = own - empty;
                ratio[r] = work ? own / floor : (own - empty) / (floor - empty);
            }
            printf("%10.2f %9.2f %9.3f", median(rows[i].ns[work]), median(over), median(ratio));
        }
        printf("\n");
    }
    return 0;
}
