/* Locks: what the reader makes of PROFILE_LOCK_WAIT, _ACQUIRE and _RELEASE, compared with a model; and real mutexes. */
/* run: optimised clocks */
#include "../prof_chrome.h"
#include "test.h"
#include "trace.h"
#include <errno.h>
#include <pthread.h>
#include <unistd.h>
#include <sched.h>

static uint64_t random_state;
static uint64_t random_below(uint64_t n)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (random_state >> 33) % n;
}
static void random_seed(const char *test)
{
    const char *given = getenv("PROF_TEST_SEED");
    random_state = given ? strtoull(given, NULL, 0) : (uint64_t)time(NULL) * 1000003u;
    printf("     %s: PROF_TEST_SEED=%llu\n", test, (unsigned long long)random_state);
}

static const prof_lock_row *row_named(const prof_lock_row *rows, size_t count, const char *name)
{
    static const prof_lock_row none;
    for (size_t i = 0; i < count; ++i)
        if (!strcmp(rows[i].name, name)) return &rows[i];
    CHECK_TEXT(name, "in the table");
    return &none;
}

static prof_lock_row *locks_of(const prof_trace *trace, int by_address, size_t *count)
{
    prof_lock_row *rows = NULL;
    CHECK_EQUAL(prof_locks(trace, by_address, &rows, count), PROF_OK);
    return rows;
}

/*-- threads that are fibers, so that what happens is known step by step --*/

enum { THREADS = 5, LOCKS = 6, NAMES = 2 };
static const char *const names[NAMES] = {"even", "odd"};

static void mark(int what, int lock)
{
    uintptr_t address = 0x100 + (uintptr_t)lock * 64;
    if (lock % 2) {
        if (what == 0) PROFILE_LOCK_WAIT(address, "odd");
        if (what == 1) PROFILE_LOCK_ACQUIRE(address, "odd");
        if (what == 2) PROFILE_LOCK_RELEASE(address, "odd");
    } else {
        if (what == 0) PROFILE_LOCK_WAIT((void *)address, "even");
        if (what == 1) PROFILE_LOCK_ACQUIRE((void *)address, "even");
        if (what == 2) PROFILE_LOCK_RELEASE((void *)address, "even");
    }
}

typedef struct step {
    int thread, what, lock;
} step;

typedef struct user {
    int waits, contended, depth;
    uint64_t seen;
    int64_t wait_ns, hold_ns;
} user;

/* Each lock is held by one thread at a time, some of them several times over; now and then a thread gives up
   waiting. */
static size_t make_steps(step *steps, size_t most)
{
    int holder[LOCKS], depth[LOCKS], waits[THREADS][LOCKS];
    memset(waits, 0, sizeof waits);
    for (int i = 0; i < LOCKS; ++i) holder[i] = -1, depth[i] = 0;
    size_t count = 0;
    while (count < most) {
        int t = (int)random_below(THREADS), l = (int)random_below(LOCKS), what;
        if (holder[l] == t && random_below(4)) {
            what = 2;
            if (!--depth[l]) holder[l] = -1;
        } else if (holder[l] == t && l < 2 && !waits[t][l]) {
            what = 1; /* a recursive lock */
            depth[l]++;
        } else if (holder[l] < 0 && (waits[t][l] || random_below(2))) {
            what = 1;
            holder[l] = t;
            depth[l] = 1;
            waits[t][l] = 0;
        } else if (holder[l] != t) {
            what = 0;
            waits[t][l] = 1;
        } else {
            continue;
        }
        steps[count].thread = t;
        steps[count].what = what;
        steps[count++].lock = l;
    }
    return count;
}

/* The model gets the times of the events from their own track, in the order in which they were made. */
static void run_model(const step *steps, size_t count, const trace_list *lists, const size_t *tracks, prof_lock_row *rows)
{
    user users[THREADS][LOCKS];
    size_t next[THREADS] = {0};
    uint64_t acquired[LOCKS] = {0}, waiting[LOCKS] = {0};
    memset(users, 0, sizeof users);
    memset(rows, 0, NAMES * sizeof *rows);
    for (size_t i = 0; i < count; ++i) {
        int l = steps[i].lock, t = steps[i].thread, others = 0;
        user *u = &users[t][l];
        prof_lock_row *row = &rows[l % 2];
        const prof_event *e = &lists[tracks[t]].events[next[t]++];
        CHECK_EQUAL(e->type, (int)PROF_EVENT_LOCK_WAIT + steps[i].what);
        CHECK_EQUAL(e->object, 0x100 + l * 64);
        for (int k = 0; k < THREADS; ++k) others += k != t && users[k][l].depth;
        if (steps[i].what == 0) {
            row->abandoned += (uint64_t)u->waits;
            waiting[l] += !u->waits;
            if (waiting[l] > row->waiting_max) row->waiting_max = waiting[l];
            u->waits = 1;
            u->contended = others;
            u->seen = acquired[l];
            u->wait_ns = e->start_ns;
        } else if (steps[i].what == 1) {
            row->acquired++;
            if (u->waits) {
                uint64_t ns = (uint64_t)(e->start_ns - u->wait_ns);
                row->wait_ns += ns;
                if (ns > row->wait_max_ns) row->wait_max_ns = ns;
                row->contended += u->contended || u->seen != acquired[l];
                u->waits = 0;
                waiting[l]--;
            }
            acquired[l]++;
            if (!u->depth++) u->hold_ns = e->start_ns;
        } else if (!--u->depth) {
            uint64_t ns = (uint64_t)(e->start_ns - u->hold_ns);
            row->hold_ns += ns;
            if (ns > row->hold_max_ns) row->hold_max_ns = ns;
        }
    }
    for (int t = 0; t < THREADS; ++t)
        for (int l = 0; l < LOCKS; ++l) {
            rows[l % 2].holding += users[t][l].depth != 0;
            rows[l % 2].waiting += (uint64_t)users[t][l].waits;
        }
}

static void same_row(const prof_lock_row *row, const prof_lock_row *wanted)
{
    CHECK_EQUAL(row->acquired, wanted->acquired);
    CHECK_EQUAL(row->contended, wanted->contended);
    CHECK_EQUAL(row->wait_ns, wanted->wait_ns);
    CHECK_EQUAL(row->wait_max_ns, wanted->wait_max_ns);
    CHECK_EQUAL(row->hold_ns, wanted->hold_ns);
    CHECK_EQUAL(row->hold_max_ns, wanted->hold_max_ns);
    CHECK_EQUAL(row->waiting_max, wanted->waiting_max);
    CHECK_EQUAL(row->holding, wanted->holding);
    CHECK_EQUAL(row->waiting, wanted->waiting);
    CHECK_EQUAL(row->abandoned, wanted->abandoned);
    CHECK_EQUAL(row->unmatched, 0);
}

TEST(as_the_model)
{
    enum { STEPS = 20000 };
    static step steps[STEPS];
    prof_config config = trace_config(8u << 20);
    random_seed("as_the_model");
    for (int repeat = 0; repeat < 3 && !test_failures; ++repeat) {
        prof_fiber *fibers[THREADS];
        prof_lock_row wanted[NAMES];
        size_t count = make_steps(steps, STEPS), rows_count, tracks[THREADS];
        trace_list lists[THREADS + 1];
        char name[8] = "f0";
        CHECK_EQUAL(prof_start(&config), PROF_OK);
        for (int i = 0; i < THREADS; ++i, ++name[1]) fibers[i] = prof_fiber_create(name);
        for (size_t i = 0; i < count; ++i) {
            prof_fiber_switch(fibers[steps[i].thread]);
            mark(steps[i].what, steps[i].lock);
            trace_next_instant(); /* at one instant the order of threads would be lost */
        }
        prof_fiber_switch(NULL);
        prof_trace *trace = trace_stop();
        for (int i = 0; i < THREADS; ++i) {
            name[1] = (char)('0' + i);
            tracks[i] = trace_track_named(trace, name);
            lists[tracks[i]] = trace_read(trace, tracks[i]);
            prof_fiber_destroy(fibers[i]);
        }
        run_model(steps, count, lists, tracks, wanted);
        prof_lock_row *rows = locks_of(trace, 0, &rows_count);
        CHECK_EQUAL(rows_count, NAMES);
        for (int i = 0; i < NAMES; ++i) {
            const prof_lock_row *row = row_named(rows, rows_count, names[i]);
            CHECK_EQUAL(row->locks, LOCKS / 2);
            CHECK_EQUAL(row->address, 0);
            same_row(row, &wanted[i]);
        }
        if (rows_count > 1) CHECK(rows[0].wait_ns >= rows[1].wait_ns);
        prof_locks_free(rows);
        rows = locks_of(trace, 1, &rows_count); /* the same, lock by lock */
        CHECK_EQUAL(rows_count, LOCKS);
        uint64_t acquired = 0, held = 0, waited = 0;
        for (size_t i = 0; i < rows_count; ++i) {
            acquired += rows[i].acquired;
            held += rows[i].hold_ns;
            waited += rows[i].wait_ns;
            CHECK_EQUAL(rows[i].locks, 1);
            CHECK_TEXT(rows[i].name, names[(rows[i].address - 0x100) / 64 % 2]);
        }
        CHECK_EQUAL(acquired, wanted[0].acquired + wanted[1].acquired);
        CHECK_EQUAL(held, wanted[0].hold_ns + wanted[1].hold_ns);
        CHECK_EQUAL(waited, wanted[0].wait_ns + wanted[1].wait_ns);
        prof_locks_free(rows);
        for (int i = 0; i < THREADS; ++i) trace_free(&lists[tracks[i]]);
        prof_trace_close(trace);
    }
}

/*-- mutexes --*/

static pthread_mutex_t mutexes[3] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static volatile long shared[3];

static void *lock_and_count(void *unused)
{
    uint64_t state = (uint64_t)(uintptr_t)&state;
    for (int i = 0; i < 5000; ++i) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        unsigned which = (unsigned)(state >> 33) % 3;
        CHECK_EQUAL(PROFILE_MUTEX_LOCK(&mutexes[which], "counter"), 0);
        for (int k = 0; k < 20; ++k) shared[which] = shared[which] + 1;
        if (i % 64 == 0) sched_yield(); /* so that others have to wait */
        CHECK_EQUAL(PROFILE_MUTEX_UNLOCK(&mutexes[which]), 0);
    }
    return unused;
}

TEST(mutexes_of_threads)
{
    prof_config config = trace_config(16u << 20);
    pthread_t threads[4];
    size_t count, stat_count, i;
    prof_stat *stats;
    uint64_t waits = 0, waited = 0;
    shared[0] = shared[1] = shared[2] = 0;
    CHECK_EQUAL(prof_start(&config), PROF_OK);
    for (i = 0; i < 4; ++i) CHECK(!pthread_create(&threads[i], NULL, lock_and_count, NULL));
    for (i = 0; i < 4; ++i) CHECK(!pthread_join(threads[i], NULL));
    CHECK_EQUAL(shared[0] + shared[1] + shared[2], 4 * 5000 * 20);
    prof_trace *trace = trace_stop();
    prof_lock_row *rows = locks_of(trace, 0, &count);
    CHECK_EQUAL(count, 1);
    const prof_lock_row *row = row_named(rows, count, "counter");
    CHECK_EQUAL(row->locks, 3);
    CHECK_EQUAL(row->acquired, 4 * 5000);
    CHECK_EQUAL(row->holding + row->waiting + row->unmatched + row->abandoned, 0);
    CHECK_EQUAL(prof_stats(trace, PROF_SORT_TOTAL, 0, &stats, &stat_count), PROF_OK);
    for (i = 0; i < stat_count; ++i)
        if (!strcmp(stats[i].name, "wait for counter")) {
            waits += stats[i].count;
            waited += stats[i].total_ns;
        }
    CHECK_EQUAL(row->contended, waits); /* a wait is a scope of its thread, too */
    CHECK(row->wait_ns <= waited);
    /* one may have it, and not have said so yet */
    CHECK(row->waiting_max <= 4 && (row->waiting_max > 0) == (waits > 0));
    printf("     %llu of %llu had to wait\n", (unsigned long long)row->contended, (unsigned long long)row->acquired);
    uint64_t hold = 0; /* each track by itself */
    for (size_t track = 0; track < prof_trace_track_count(trace); ++track) {
        trace_list list = trace_read(trace, track);
        int64_t begin = 0;
        for (i = 0; i < list.count; ++i) {
            if (list.events[i].type == PROF_EVENT_LOCK_ACQUIRE) begin = list.events[i].start_ns;
            if (list.events[i].type == PROF_EVENT_LOCK_RELEASE) hold += (uint64_t)(list.events[i].start_ns - begin);
        }
        trace_free(&list);
    }
    CHECK_EQUAL(row->hold_ns, hold);
    prof_locks_free(rows);
    prof_stats_free(stats);
    prof_trace_close(trace);
}

static void *wait_for_first(void *unused)
{
    PROFILE_THREAD("waiter");
    PROFILE_MUTEX_LOCK(&mutexes[0], "first");
    PROFILE_MUTEX_UNLOCK(&mutexes[0]);
    return unused;
}

/* A thread that waits for another while the trace is read: the picture of a deadlock. */
TEST(threads_that_wait)
{
    prof_config config = trace_config(2u << 20);
    pthread_t threads[3];
    size_t count = 0;
    prof_trace *trace = NULL;
    CHECK_EQUAL(prof_start(&config), PROF_OK);
    PROFILE_THREAD("holder");
    PROFILE_MUTEX_LOCK(&mutexes[0], "first");
    for (int i = 0; i < 3; ++i) CHECK(!pthread_create(&threads[i], NULL, wait_for_first, NULL));
    for (;;) {
        trace = trace_live();
        prof_lock_row *rows = locks_of(trace, 0, &count);
        uint64_t waiting = count ? rows[0].waiting : 0;
        if (waiting == 3) {
            CHECK_EQUAL(rows[0].holding, 1);
            CHECK_EQUAL(rows[0].waiting_max, 3);
            CHECK_EQUAL(rows[0].wait_ns, 0);
            CHECK(rows[0].address == (uint64_t)(uintptr_t)&mutexes[0]);
        }
        prof_locks_free(rows);
        if (waiting == 3) break;
        prof_trace_close(trace);
        pause_ms(1);
    }
    const char *path = trace_path("locks.txt");
    CHECK_EQUAL(prof_summary_write(trace, path, NULL), PROF_OK);
    char *text = trace_file_text(path, NULL);
    CHECK(text && strstr(text, "at the end held by 1 thread, 3 waiting") != NULL);
    free(text);
    path = trace_path("locks.json");
    CHECK_EQUAL(prof_chrome_write(trace, path, NULL), PROF_OK);
    text = trace_file_text(path, NULL);
    CHECK(text && strstr(text, "\"name\":\"lock first\"") && strstr(text, "\"name\":\"wait for first\""));
    CHECK(text && strstr(text, "\"args\":{\"thread\":\"holder\",\"truncated\":\"end\"}}"));
    CHECK(text && !strstr(text, "\"cat\":\"lock\",\"name\":\"wait for")); /* the waits are scopes already */
    free(text);
    prof_trace_close(trace);
    PROFILE_MUTEX_UNLOCK(&mutexes[0]);
    for (int i = 0; i < 3; ++i) CHECK(!pthread_join(threads[i], NULL));
    trace = trace_stop();
    prof_lock_row *rows = locks_of(trace, 0, &count);
    CHECK_EQUAL(count, 1);
    CHECK_EQUAL(rows[0].acquired, 4);
    CHECK_EQUAL(rows[0].contended, 3);
    CHECK_EQUAL(rows[0].holding + rows[0].waiting, 0);
    prof_locks_free(rows);
    prof_trace_close(trace);
}

TEST(mutexes_keep_their_own_rules)
{
    pthread_mutexattr_t attributes;
    pthread_mutex_t checked;
    if (TRACE_SANITIZER == 2) SKIP("the thread sanitizer reports what is wrong on purpose here, and changes errno");
    for (int recording = 0; recording < 2; ++recording) {
        prof_config config = trace_config(1u << 20);
        if (recording) CHECK_EQUAL(prof_start(&config), PROF_OK);
        pthread_mutexattr_init(&attributes);
        pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
        pthread_mutex_init(&checked, &attributes);
        errno = 77;
        CHECK_EQUAL(PROFILE_MUTEX_LOCK(&checked, "checked"), 0);
        CHECK_EQUAL(PROFILE_MUTEX_LOCK(&checked, "checked"), EDEADLK);
        CHECK_EQUAL(PROFILE_MUTEX_UNLOCK(&checked), 0);
        CHECK_EQUAL(PROFILE_MUTEX_UNLOCK(&checked), EPERM);
        pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
        pthread_mutex_destroy(&checked);
        pthread_mutex_init(&checked, &attributes);
        CHECK_EQUAL(PROFILE_MUTEX_LOCK(&checked, "recursive"), 0);
        CHECK_EQUAL(PROFILE_MUTEX_LOCK(&checked, "recursive"), 0);
        CHECK_EQUAL(PROFILE_MUTEX_UNLOCK(&checked), 0);
        CHECK_EQUAL(PROFILE_MUTEX_UNLOCK(&checked), 0);
        CHECK_EQUAL(errno, 77);
        pthread_mutex_destroy(&checked);
        pthread_mutexattr_destroy(&attributes);
    }
    prof_trace *trace = trace_stop();
    size_t count;
    prof_lock_row *rows = locks_of(trace, 0, &count);
    const prof_lock_row *row = row_named(rows, count, "checked");
    CHECK_EQUAL(row->acquired, 1);
    CHECK_EQUAL(row->abandoned, 1); /* EDEADLK */
    CHECK_EQUAL(row->unmatched, 1); /* EPERM */
    row = row_named(rows, count, "recursive");
    CHECK_EQUAL(row->acquired, 2);
    CHECK_EQUAL(row->contended, 0);
    CHECK_EQUAL(row->holding, 0);
    prof_locks_free(rows);
    prof_trace_close(trace);
}

/*-- what the trace does not have --*/

TEST(halves)
{
    prof_config config = trace_config(1u << 20);
    size_t count;
    int a, b;
    CHECK_EQUAL(prof_start(&config), PROF_OK);
    PROFILE_LOCK_RELEASE(&a, "a");  /* taken before the trace */
    PROFILE_LOCK_WAIT(&a, "a");     /* given up, ... */
    PROFILE_LOCK_WAIT(&a, "a");     /* ... tried again: nobody had it */
    trace_next_instant();
    PROFILE_LOCK_ACQUIRE(&a, "a");
    trace_next_instant();
    PROFILE_LOCK_RELEASE(&a, "whatever");
    PROFILE_LOCK_ACQUIRE(&a, "another lock at this address");
    trace_next_instant();
    PROFILE_LOCK_RELEASE(&a, "");
    PROFILE_LOCK_RELEASE(&b, "b");
    prof_trace *trace = trace_stop();
    prof_lock_row *rows = locks_of(trace, 0, &count);
    CHECK_EQUAL(count, 3);
    const prof_lock_row *row = row_named(rows, count, "a");
    CHECK_EQUAL(row->unmatched, 1);
    CHECK_EQUAL(row->abandoned, 1);
    CHECK_EQUAL(row->acquired, 1);
    CHECK_EQUAL(row->contended, 0);
    CHECK(row->wait_ns > 0 && row->hold_ns > 0);
    row = row_named(rows, count, "another lock at this address");
    CHECK_EQUAL(row->acquired, 1);
    CHECK_EQUAL(row->locks, 1);
    CHECK(row->hold_ns > 0);
    CHECK_EQUAL(row_named(rows, count, "b")->unmatched, 1);
    prof_locks_free(rows);
    prof_trace_close(trace);
    CHECK_EQUAL(prof_locks(NULL, 0, &rows, &count), PROF_INVALID_ARGUMENT);
    prof_locks_free(NULL);
}

/* A semaphore is given by another thread than the one that took it. */
static void *release_it(void *lock)
{
    PROFILE_LOCK_RELEASE(lock, "semaphore");
    return NULL;
}

TEST(released_by_another_thread)
{
    prof_config config = trace_config(1u << 20);
    pthread_t other;
    size_t count;
    int lock;
    CHECK_EQUAL(prof_start(&config), PROF_OK);
    PROFILE_LOCK_ACQUIRE(&lock, "semaphore");
    CHECK(!pthread_create(&other, NULL, release_it, &lock));
    CHECK(!pthread_join(other, NULL));
    prof_trace *trace = trace_stop();
    prof_lock_row *rows = locks_of(trace, 0, &count);
    CHECK_EQUAL(count, 1);
    CHECK_EQUAL(rows[0].holding, 0);
    CHECK_EQUAL(rows[0].unmatched, 0);
    CHECK(rows[0].hold_ns > 0);
    prof_locks_free(rows);
    prof_trace_close(trace);
}

/* In a window, and in a ring that lost the begin, what is not whole is counted and not guessed. */
TEST(windows_and_rings)
{
    prof_config config = trace_config(128u << 10);
    size_t count;
    int lock;
    CHECK_EQUAL(prof_start(&config), PROF_OK);
    PROFILE_LOCK_ACQUIRE(&lock, "l");
    for (int i = 0; i < 100000; ++i) PROFILE_MARK("filler");
    PROFILE_LOCK_RELEASE(&lock, "l");
    PROFILE_LOCK_ACQUIRE(&lock, "l");
    trace_next_instant(); /* what is at the beginning of the window is in it, and what is at its end is not */
    PROFILE_MARK("from");
    PROFILE_LOCK_RELEASE(&lock, "l");
    PROFILE_LOCK_ACQUIRE(&lock, "l");
    PROFILE_LOCK_RELEASE(&lock, "l");
    PROFILE_LOCK_ACQUIRE(&lock, "l");
    trace_next_instant();
    PROFILE_MARK("to");
    PROFILE_LOCK_RELEASE(&lock, "l");
    prof_trace *trace = trace_stop();
    prof_lock_row *rows = locks_of(trace, 0, &count);
    CHECK_EQUAL(count, 1);
    CHECK_EQUAL(rows[0].unmatched, 1);
    CHECK_EQUAL(rows[0].acquired, 3);
    CHECK_EQUAL(rows[0].holding, 0);
    prof_locks_free(rows);
    trace_list list = trace_read(trace, 0);
    CHECK_EQUAL(prof_trace_set_window(trace, trace_find(&list, "from")->start_ns, trace_find(&list, "to")->start_ns),
                PROF_OK);
    rows = locks_of(trace, 0, &count);
    CHECK_EQUAL(rows[0].unmatched, 1);
    CHECK_EQUAL(rows[0].acquired, 2);
    CHECK_EQUAL(rows[0].holding, 1);
    prof_locks_free(rows);
    trace_free(&list);
    prof_trace_close(trace);
}

/* PROF_FILL: after the losses nothing is said of locks that were held before. */
TEST(losses)
{
    prof_config config = trace_config(128u << 10);
    size_t count;
    int lock;
    config.mode = PROF_FILL;
    CHECK_EQUAL(prof_start(&config), PROF_OK);
    PROFILE_LOCK_ACQUIRE(&lock, "l");
    for (int i = 0; i < 100000; ++i) PROFILE_MARK("filler");
    PROFILE_LOCK_RELEASE(&lock, "l");
    prof_trace *trace = trace_stop();
    CHECK(prof_trace_about(trace)->lost > 0);
    prof_lock_row *rows = locks_of(trace, 0, &count);
    CHECK_EQUAL(count, 1);
    CHECK_EQUAL(rows[0].holding, 1); /* as far as the trace knows; the summary tells of the losses */
    CHECK_EQUAL(rows[0].hold_ns, 0);
    prof_locks_free(rows);
    prof_trace_close(trace);
}

/*-- a Chrome trace: one row for each lock, in which nothing overlaps --*/

/* The counter is read out of order, while a cache line is waited for: on a busy machine for longer than PROF__ORDER_NS.
   The system's clock is read in order. */
TEST(spans_in_a_chrome_trace)
{
    prof_config config = trace_config(16u << 20);
    config.clock = PROF_CLOCK_MONOTONIC;
    const char *path = trace_path("spans.json");
    pthread_t threads[4];
    size_t i, begins = 0, ends = 0, count;
    CHECK_EQUAL(prof_start(&config), PROF_OK);
    for (i = 0; i < 4; ++i) CHECK(!pthread_create(&threads[i], NULL, lock_and_count, NULL));
    for (i = 0; i < 4; ++i) CHECK(!pthread_join(threads[i], NULL));
    prof_trace *trace = trace_stop();
    prof_lock_row *rows = locks_of(trace, 0, &count);
    CHECK_EQUAL(prof_chrome_write(trace, path, NULL), PROF_OK);
    char *text = trace_file_text(path, NULL);
    double end_of[3] = {0, 0, 0};
    for (char *line = text ? strtok(text, "\n") : NULL; line && test_failures < 5; line = strtok(NULL, "\n")) {
        char *time = strstr(line, "\"ts\":"), *id = strstr(line, "\"local\":\""), *after;
        if (strncmp(line, "{\"ph\":\"b\",\"cat\":\"lock\",\"name\":\"lock counter\"", 44) &&
            strncmp(line, "{\"ph\":\"e\",\"cat\":\"lock\",\"name\":\"lock counter\"", 44))
            continue;
        CHECK(time && id);
        if (!time || !id) break;
        uint64_t address = strtoull(id + 9, &after, 16);
        size_t which = (size_t)(address - (uint64_t)(uintptr_t)mutexes) / sizeof mutexes[0];
        double ts = strtod(time + 5, NULL);
        CHECK(which < 3);
        if (which >= 3) break;
        CHECK(*after == '"'); /* the address alone: no other thread had it */
        CHECK(ts >= end_of[which]);
        begins += line[7] == 'b';
        ends += line[7] == 'e';
        end_of[which] = ts;
    }
    CHECK_EQUAL(begins, 4 * 5000);
    CHECK_EQUAL(ends, 4 * 5000);
    prof_locks_free(rows);
    free(text);
    prof_trace_close(trace);
}

TEST(waits_in_a_chrome_trace) /* what is over has its end */
{
    prof_config config = trace_config(1u << 20);
    const char *path = trace_path("waits.json");
    static int lock;
    CHECK_EQUAL(prof_start(&config), PROF_OK);
    PROFILE_LOCK_WAIT(&lock, "lock");
    PROFILE_LOCK_ACQUIRE(&lock, "lock");
    PROFILE_LOCK_RELEASE(&lock, "lock");
    PROFILE_LOCK_WAIT(&lock, "lock");
    prof_trace *trace = trace_stop();
    CHECK_EQUAL(prof_chrome_write(trace, path, NULL), PROF_OK);
    char *text = trace_file_text(path, NULL), *at;
    size_t begins = 0, truncated = 0;
    for (at = text; at && (at = strstr(at, "\"ph\":\"b\",\"cat\":\"lock\"")) != NULL; ++at) ++begins;
    for (at = text; at && (at = strstr(at, "\"truncated\"")) != NULL; ++at) ++truncated;
    CHECK_EQUAL(begins, 3); /* waits that no scope shows among them */
    CHECK_EQUAL(truncated, 1);
    CHECK(text && strstr(text, "\"args\":{\"name\":\"locks\"}")); /* the track of what is held */
    free(text);
    prof_trace_close(trace);
}

TEST_MAIN
