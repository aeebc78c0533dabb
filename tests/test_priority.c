/* Snapshots and saves by threads of real-time priority, on the processor of those that record. A thread that is
   interrupted in the middle of a store, of a new chunk or of a lock does not go on before the other one sleeps: so no
   thread may wait for another by trying again and again, and what is read must have no gap. PROF_TEST_LONG=1 is 20,000
   snapshots. */
/* run: alone traces */
#include "../prof_read.h"
#include "test.h"
#include "trace.h"
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

enum { PATIENCE_S = 300, WRITERS = 3, BUFFER = 256 << 10, BYTES = 64 /* that a number takes, at most */ };

static int over;
static uint64_t done[WRITERS];  /* numbers that are recorded */
static uint64_t began[WRITERS]; /* how many of all threads were, and 1, when this one began its newest; 0: it is done */
static pthread_t writers[WRITERS];

static long now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (long)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static uint64_t all_done(void)
{
    uint64_t all = 0;
    for (size_t k = 0; k < WRITERS; ++k) all += __atomic_load_n(&done[k], __ATOMIC_ACQUIRE);
    return all;
}

/* Sleeps four times as long as it works, however slow it is: those of lower priority have the processor then. */
static void *records(void *which)
{
    size_t index = (size_t)(uintptr_t)which;
    long awake = now_us();
    char name[16];
    snprintf(name, sizeof name, "writer %u", (unsigned)index);
    PROFILE_THREAD(name);
    for (uint64_t n = 0; !__atomic_load_n(&over, __ATOMIC_RELAXED); ++n) {
        __atomic_store_n(&began[index], all_done() + 1, __ATOMIC_RELEASE);
        PROFILE_SCOPE_F("scope %u", (unsigned)(n & 255)); /* new names take the lock */
        PROFILE_COUNTER("number", n);
        __atomic_store_n(&done[index], n + 1, __ATOMIC_RELEASE);
        __atomic_store_n(&began[index], 0, __ATOMIC_RELEASE);
        if (n % 1024 == 1023) {
            pause_us(50 + 4 * (now_us() - awake));
            awake = now_us();
        }
    }
    return NULL;
}

/* From now on, of this thread. 0: not permitted here. */
static int real_time(pthread_t thread, int priority)
{
    struct sched_param how;
    memset(&how, 0, sizeof how);
    how.sched_priority = priority;
    return !pthread_setschedparam(thread, priority ? SCHED_FIFO : SCHED_OTHER, &how);
}

/* All threads that are made later are on the processor that this one is on. */
static int one_processor(cpu_set_t *before)
{
    cpu_set_t one;
    int here = sched_getcpu();
    CPU_ZERO(&one);
    CPU_SET((size_t)(here < 0 ? 0 : here), &one);
    return !sched_getaffinity(0, sizeof *before, before) && !sched_setaffinity(0, sizeof one, &one);
}

static void known_copy(uint64_t *least, uint64_t *since)
{
    uint64_t now = all_done() + 1;
    for (size_t k = 0; k < WRITERS; ++k) {
        since[k] = __atomic_load_n(&began[k], __ATOMIC_ACQUIRE);
        if (!since[k]) since[k] = now;
        least[k] = __atomic_load_n(&done[k], __ATOMIC_ACQUIRE);
    }
}

/* Chunks are reused in a circle. A thread that is interrupted between a full chunk that it has given up and its next
   number may find that one overwritten, however long ago that was. So what a thread has recorded is known only if all of them
   have recorded less than a chunk since: since it began a number that it was at, or since known_copy(). Otherwise its
   `least` becomes 0. Returns of how many threads it is known. */
static int known_still(uint64_t *least, const uint64_t *since)
{
    int known = 0;
    for (size_t k = 0; k < WRITERS; ++k) {
        if ((all_done() + 1 - since[k]) * BYTES > BUFFER / 16) least[k] = 0;
        known += least[k] != 0;
    }
    return known;
}

/* Numbers without a gap, up to those that were recorded before the snapshot, as far as these are known. */
static void check_numbers(const prof_trace *trace, const uint64_t *least)
{
    trace_check(trace);
    CHECK_EQUAL(prof_trace_about(trace)->lost, 0);
    for (size_t k = 0; k < WRITERS && test_failures < 10; ++k) {
        char name[16];
        snprintf(name, sizeof name, "writer %u", (unsigned)k);
        size_t track = trace_track_named(trace, name);
        if (track == prof_trace_track_count(trace)) {
            CHECK_EQUAL(least[k], 0);
            continue;
        }
        trace_list list = trace_read(trace, track);
        uint64_t next = 0, known = 0;
        for (size_t i = 0; i < list.count && test_failures < 10; ++i) {
            if (list.events[i].type != PROF_EVENT_COUNTER) continue;
            if (known) CHECK_EQUAL(list.events[i].value.as.u, next);
            next = list.events[i].value.as.u + 1;
            known = 1;
        }
        CHECK(next >= least[k]);
        trace_free(&list);
    }
}

static void snapshots(int reader, int writer)
{
    const char *saved = trace_path("priority.prof");
    prof_config config = trace_config(BUFFER);
    long count = trace_times(4, 40, 20000);
    long compared = 0;
    cpu_set_t before;
    if (TRACE_SANITIZER == 2) SKIP("the thread sanitizer's own locks wait by trying again");
    if (!one_processor(&before)) SKIP("the processor cannot be chosen");
    if (!real_time(pthread_self(), 1)) {
        sched_setaffinity(0, sizeof before, &before);
        SKIP("SCHED_FIFO is not permitted");
    }
    real_time(pthread_self(), 0);
    over = 0;
    memset(done, 0, sizeof done);
    memset(began, 0, sizeof began);
    alarm(PATIENCE_S + (unsigned)count / 50);
    trace_start(&config);
    for (size_t k = 0; k < WRITERS; ++k) {
        CHECK(!pthread_create(&writers[k], NULL, records, (void *)(uintptr_t)k));
        if (writer && k) CHECK(real_time(writers[k], writer)); /* the first stays as it is */
    }
    WAIT_UNTIL(__atomic_load_n(&done[0], __ATOMIC_ACQUIRE));
    CHECK(real_time(pthread_self(), reader));
    for (long i = 0; i < count && test_failures < 10; ++i) {
        prof_trace *trace = NULL;
        uint64_t least[WRITERS], since[WRITERS];
        known_copy(least, since);
        if (i % 4 == 3) {
            CHECK_EQUAL(prof_save(saved), PROF_OK);
        } else {
            CHECK_EQUAL(prof_trace_open_live(&trace), PROF_OK);
        }
        compared += known_still(least, since);
        if (i % 4 == 3) CHECK_EQUAL(prof_trace_open(saved, &trace), PROF_OK);
        if (trace) check_numbers(trace, least);
        prof_trace_close(trace);
        pause_us(200 + i % 7 * 100);
    }
    real_time(pthread_self(), 0);
    __atomic_store_n(&over, 1, __ATOMIC_RELEASE);
    for (size_t k = 0; k < WRITERS; ++k) pthread_join(writers[k], NULL);
    prof_trace *trace = trace_stop();
    if (trace) check_numbers(trace, done);
    prof_trace_close(trace);
    CHECK_EQUAL(prof_reset(), PROF_OK);
    alarm(0);
    unlink(saved);
    printf("%ld snapshots of %d threads, of %ld the newest number was known\n", count, WRITERS, compared);
    sched_setaffinity(0, sizeof before, &before);
}

TEST(snapshots_of_higher_priority) { snapshots(10, 0); }
TEST(snapshots_of_lower_priority) { snapshots(0, 10); }
TEST(snapshots_of_equal_priority) { snapshots(10, 10); }
TEST(snapshots_between_two_priorities) { snapshots(5, 10); }

TEST_MAIN
