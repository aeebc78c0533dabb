/* Fibers: tracks that take turns on a thread and move between threads, event by event. */
/* run: long optimised */
#include "private.h"
#include "test.h"
#include "trace.h"
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <time.h>
#if defined(__linux__) && defined(__GLIBC__)
#include <ucontext.h>
#define HAVE_CONTEXTS (TRACE_SANITIZER == 0) /* sanitizers take a switch of stacks for an error */
#else
#define HAVE_CONTEXTS 0
#endif

static prof_trace *trace;

static uint64_t random_next(uint64_t *state) /* xorshift */
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    return *state ^= *state << 17;
}

static uint64_t seed(void)
{
    const char *text = getenv("PROF_TEST_SEED");
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    uint64_t value = text ? strtoull(text, NULL, 0) : (uint64_t)now.tv_nsec * 2654435761u + (uint64_t)now.tv_sec;
    return value ? value : 1;
}

/*-- tasks without a stack: what they record is kept in a list and compared with the trace --*/

enum { NAMES = 4, DEPTH = 20 };
static const char *const names[NAMES] = {"a", "b", "c", "d"};
#define SCOPE(name, line) {0, name, "", __FILE__, "", line, 0, 1, PROF__KIND_BEGIN, 0, 0, 0}
static prof_site scopes[NAMES] = {SCOPE("a", 1), SCOPE("b", 2), SCOPE("c", 3), SCOPE("d", 4)};

typedef struct expected {
    prof_event_type type;
    int name, closed;
    uint32_t depth;
    int64_t number; /* -1: none */
} expected;

typedef struct task {
    prof_fiber *fiber; /* null: what the thread itself records */
    char name[24];
    uint64_t random;
    unsigned depth;
    prof__token token[DEPTH];
    size_t open[DEPTH]; /* their places in list */
    expected *list;
    size_t count, room;
    int64_t steps;
} task;

static void task_make(task *t, int number, uint64_t random, int is_fiber)
{
    memset(t, 0, sizeof *t);
    snprintf(t->name, sizeof t->name, "%s %d", is_fiber ? "fiber" : "worker", number);
    t->random = random + (uint64_t)number * 0x9E3779B97F4A7C15u;
    if (!t->random) t->random = 1;
    if (is_fiber) t->fiber = prof_fiber_create(t->name);
    CHECK(!is_fiber || t->fiber);
}

static expected *task_note(task *t, prof_event_type type, int name)
{
    if (t->count == t->room) t->list = (expected *)realloc(t->list, (t->room = t->room * 2 + 64) * sizeof *t->list);
    expected *e = &t->list[t->count++];
    e->type = type;
    e->name = name;
    e->closed = 0;
    e->depth = t->depth;
    e->number = -1;
    return e;
}

static void task_begin(task *t, int name)
{
    prof__token token = prof__begin(&scopes[name]);
    CHECK(token);
    task_note(t, PROF_EVENT_SCOPE, name);
    t->open[t->depth] = t->count - 1;
    t->token[t->depth++] = token;
}

static void task_end(task *t)
{
    prof__end(t->token[--t->depth]);
    t->list[t->open[t->depth]].closed = 1;
}

static void task_arg(task *t)
{
    int64_t number = (int64_t)(random_next(&t->random) >> 1);
    PROFILE_ARG_I("n", number);
    t->list[t->open[t->depth - 1]].number = number;
}

/* One to six random things. */
static void task_step(task *t)
{
    for (uint64_t i = random_next(&t->random) % 6 + 1; i; --i) {
        uint64_t random = random_next(&t->random);
        int name = (int)(random >> 8 & 3);
        switch (random % 8) {
        case 0:
        case 1:
        case 2:
            if (t->depth < DEPTH) task_begin(t, name);
            break;
        case 3:
        case 4:
            if (t->depth) task_end(t);
            break;
        case 5:
            task_note(t, PROF_EVENT_MARK, 0);
            PROFILE_MARK("a");
            break;
        case 6:
            task_note(t, PROF_EVENT_COUNTER, 0)->number = t->steps;
            PROFILE_COUNTER("a", t->steps);
            break;
        default:
            if (t->depth) task_arg(t);
        }
    }
    ++t->steps;
}

static void task_free(task *t)
{
    prof_fiber_destroy(t->fiber);
    free(t->list);
    memset(t, 0, sizeof *t);
}

/* The task's track holds what was noted: all of it, or a prefix with at least so many events. */
static void task_check(const prof_trace *from, const task *t, size_t least)
{
    size_t track = trace_track_named(from, t->name);
    if (track == prof_trace_track_count(from)) {
        CHECK_EQUAL(least, 0);
        return;
    }
    trace_list list = trace_read(from, track);
    CHECK_EQUAL(prof_trace_track(from, track)->fiber, t->fiber != NULL);
    CHECK(list.count >= least && list.count <= t->count);
    for (size_t i = 0; i < list.count && i < t->count && test_failures < 10; ++i) {
        const prof_event *event = &list.events[i];
        const expected *e = &t->list[i];
        CHECK_EQUAL(event->type, e->type);
        CHECK_TEXT(event->name, names[e->name]);
        CHECK_EQUAL(event->depth, e->depth);
        if (list.count < t->count || least < t->count) continue; /* a prefix: ends and arguments may be missing */
        CHECK_EQUAL(event->flags, event->type == PROF_EVENT_SCOPE && !e->closed ? PROF_TRUNCATED_END : 0);
        const prof_value *number = event->type == PROF_EVENT_COUNTER ? &event->value : trace_arg(event, "n");
        CHECK_EQUAL(number ? number->as.i : -1, e->number);
        if (test_failures > 5) printf("  %s: event %lu of %lu\n", t->name, (unsigned long)i, (unsigned long)list.count);
    }
    trace_free(&list);
}

/*-- workers that share a queue of tasks --*/

enum { TASKS = 24, WORKERS = 3 };
static task tasks[TASKS], workers[WORKERS];
static task *queue[TASKS];
static size_t queued;
static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;
static long steps_left;

static task *queue_take(uint64_t *random)
{
    task *t = NULL;
    pthread_mutex_lock(&queue_lock);
    if (queued && steps_left-- > 0) {
        size_t at = (size_t)(random_next(random) % queued);
        t = queue[at];
        queue[at] = queue[--queued];
    }
    pthread_mutex_unlock(&queue_lock);
    return t;
}

static void queue_put(task *t)
{
    pthread_mutex_lock(&queue_lock);
    queue[queued++] = t;
    pthread_mutex_unlock(&queue_lock);
}

static void *work(void *pointer)
{
    task *own = (task *)pointer;
    uint64_t random = own->random ^ 0x5555;
    PROFILE_THREAD(own->name);
    task_step(own);
    for (task *t; (t = queue_take(&random)) != NULL; queue_put(t)) {
        prof_fiber_switch(t->fiber);
        task_step(t);
        if (random_next(&random) % 4) prof_fiber_switch(NULL); /* or right to the next one */
        if (random_next(&random) % 4 == 0) {
            prof_fiber_switch(NULL);
            task_step(own);
        }
        if (random_next(&random) % 64 == 0) prof_fiber_switch(NULL), prof_set_thread_name(own->name);
        /* it goes to another thread, and must not be this one's any more */
        prof_fiber_switch(NULL);
    }
    return NULL;
}

static void run_workers(uint64_t random, long steps, int make)
{
    pthread_t threads[WORKERS];
    queued = 0;
    steps_left = steps;
    for (int i = 0; i < TASKS; ++i) {
        if (make) task_make(&tasks[i], i, random, 1);
        queue[queued++] = &tasks[i];
    }
    for (int i = 0; i < WORKERS; ++i) {
        if (make) task_make(&workers[i], i, random ^ 0xabcdef, 0);
        pthread_create(&threads[i], NULL, work, &workers[i]);
    }
    for (int i = 0; i < WORKERS; ++i) pthread_join(threads[i], NULL);
}

static void free_tasks(void)
{
    for (int i = 0; i < TASKS; ++i) task_free(&tasks[i]);
    for (int i = 0; i < WORKERS; ++i) task_free(&workers[i]);
}

TEST(one_thread_in_turn)
{
    prof_config config = trace_config(1 << 20);
    task own;
    memset(&own, 0, sizeof own);
    trace_start(&config);
    PROFILE_THREAD("main");
    prof_fiber *a = prof_fiber_create("a fiber"), *b = prof_fiber_create(NULL);
    PROFILE_BLOCK("outer")
    {
        prof_fiber_switch(a);
        PROFILE_BEGIN("first");
        prof_fiber_switch(b);
        PROFILE_BEGIN("second");
        PROFILE_ARG_I("number", 2);
        prof_fiber_switch(a);
        PROFILE_MARK("in first");
        PROFILE_ARG_I("number", 1);
        PROFILE_END("second"); /* not in this list */
        PROFILE_END("first");
        prof_fiber_switch(NULL);
        PROFILE_MARK("in outer");
    }
    prof_fiber_switch(b);
    PROFILE_END("second");
    prof_fiber_destroy(a);
    prof_fiber_destroy(b); /* on this thread: back to its own track */
    PROFILE_MARK("last");
    trace = trace_stop();
    CHECK_EQUAL(prof_trace_track_count(trace), 3);
    CHECK_EQUAL(prof_trace_about(trace)->unmatched, 0);
    CHECK_TEXT(prof_trace_track(trace, 0)->name, "main");
    CHECK_TEXT(prof_trace_track(trace, 1)->name, "a fiber");
    CHECK_TEXT(prof_trace_track(trace, 2)->name, "");
    for (size_t i = 0; i < 3; ++i) {
        static const char *const found[] = {"outer in outer last", "first in first", "second"};
        char text[100] = "";
        trace_list list = trace_read(trace, i);
        for (size_t k = 0; k < list.count; ++k) {
            if (k) strcat(text, " ");
            strcat(text, list.events[k].name);
            CHECK_EQUAL(list.events[k].flags, 0);
        }
        CHECK_TEXT(text, found[i]);
        CHECK_EQUAL(prof_trace_track(trace, i)->fiber, i > 0);
        CHECK_EQUAL(prof_trace_track(trace, i)->thread_id, prof_trace_track(trace, 0)->thread_id);
        if (i) CHECK_EQUAL(trace_arg(&list.events[0], "number")->as.i, (int64_t)i);
        trace_free(&list);
    }
    prof_trace_close(trace);
    prof_reset();
}

/* Random work that moves at random, in any clock and with chunks that are left and taken over: all is there. */
TEST(moving_tasks)
{
    uint64_t random = seed();
    for (long round = 0; round < trace_times(3, 8, 2000) && !test_failures; ++round, random_next(&random)) {
        prof_config config = trace_config(16 << 20);
        if (round % 3 == 1) config.clock = PROF_CLOCK_MONOTONIC;
        if (round % 3 == 2) { /* most of it out of the archive behind a small ring */
            config.mode = PROF_STREAM;
            config.buffer_size = 256 << 10;
            config.output = trace_path("fibers_stream.prof");
            config.wait_ns = 10000000000u;
        }
        trace_start(&config);
        run_workers(random, 5000, 1);
        trace = trace_stop();
        CHECK(prof_trace_track_count(trace) <= 2 + TASKS + WORKERS); /* and those of prof_start() and the service */
        CHECK_EQUAL(prof_trace_about(trace)->lost, 0);
        CHECK_EQUAL(prof_trace_about(trace)->unmatched, 0);
        for (int i = 0; i < TASKS; ++i) task_check(trace, &tasks[i], tasks[i].count);
        for (int i = 0; i < WORKERS; ++i) task_check(trace, &workers[i], workers[i].count);
        if (test_failures) printf("  PROF_TEST_SEED=%llu\n", (unsigned long long)random);
        prof_trace_close(trace);
        free_tasks();
    }
    prof_reset();
}

/* The same folded into statistics while it is recorded: each scope counts once, and those without an end are known. */
TEST(moving_tasks_in_statistics)
{
    uint64_t random = seed();
    for (long round = 0; round < trace_times(2, 5, 500) && !test_failures; ++round, random_next(&random)) {
        prof_config config = trace_config(512 << 10);
        uint64_t scopes_of[NAMES] = {0}, open_of[NAMES] = {0};
        prof_stat *stats = NULL;
        size_t count = 0;
        config.mode = PROF_STATS;
        config.wait_ns = 10000000000u;
        trace_start(&config);
        run_workers(random, 10000, 1);
        trace = trace_stop();
        for (int i = 0; i < TASKS + WORKERS; ++i) {
            const task *t = i < TASKS ? &tasks[i] : &workers[i - TASKS];
            for (size_t k = 0; k < t->count; ++k) {
                if (t->list[k].type != PROF_EVENT_SCOPE) continue;
                ++scopes_of[t->list[k].name];
                open_of[t->list[k].name] += !t->list[k].closed;
            }
        }
        CHECK_EQUAL(prof_trace_about(trace)->lost, 0);
        CHECK_EQUAL(prof_trace_about(trace)->unmatched, 0);
        CHECK_EQUAL(prof_stats(trace, PROF_SORT_NAME, 1, &stats, &count), PROF_OK);
        for (size_t i = 0; i < count; ++i)
            for (int k = 0; k < NAMES; ++k) {
                if (strcmp(stats[i].name, names[k]) || strcmp(stats[i].site->file, __FILE__)) continue;
                CHECK_EQUAL(stats[i].count, scopes_of[k]);
                CHECK_EQUAL(stats[i].truncated, open_of[k]);
                scopes_of[k] = 0;
            }
        for (int k = 0; k < NAMES; ++k) CHECK_EQUAL(scopes_of[k], 0); /* each was there */
        if (test_failures) printf("  PROF_TEST_SEED=%llu\n", (unsigned long long)random);
        prof_stats_free(stats);
        prof_trace_close(trace);
        free_tasks();
    }
    prof_reset();
}

/* Copies of what is recorded so far: of each track a beginning, without a gap, though tracks move meanwhile. */
typedef struct copier {
    prof_trace *copies[200];
    long count;
    int over;
} copier;

static void *copy_on(void *pointer)
{
    copier *c = (copier *)pointer;
    const char *path = trace_path("fibers.prof");
    do { /* at least one, even if this thread is late */
        prof_trace *copy = NULL;
        CHECK_EQUAL(c->count % 4 == 3 ? prof_trace_open(path, &copy) : prof_trace_open_live(&copy), PROF_OK);
        if (!copy) break;
        c->copies[c->count++] = copy;
    } while (!__atomic_load_n(&c->over, __ATOMIC_ACQUIRE) && c->count < 200);
    return NULL;
}

TEST(copies_while_tasks_move)
{
    uint64_t random = seed();
    long copies = 0;
    for (long round = 0; round < trace_times(1, 3, 300) && !test_failures; ++round, random_next(&random)) {
        static copier c;
        prof_config config = trace_config(16 << 20);
        pthread_t thread;
        memset(&c, 0, sizeof c);
        config.output = trace_path("fibers.prof");
        trace_start(&config);
        pthread_create(&thread, NULL, copy_on, &c);
        run_workers(random, trace_times(30000, 60000, 60000), 1);
        __atomic_store_n(&c.over, 1, __ATOMIC_RELEASE);
        pthread_join(thread, NULL);
        trace = trace_stop();
        for (int i = 0; i < TASKS; ++i) task_check(trace, &tasks[i], tasks[i].count);
        size_t least[TASKS] = {0};
        for (long k = 0; k < c.count; ++k) {
            trace_check(c.copies[k]);
            CHECK_EQUAL(prof_trace_about(c.copies[k])->unmatched, 0);
            for (int i = 0; i < TASKS; ++i) {
                size_t track = trace_track_named(c.copies[k], tasks[i].name);
                task_check(c.copies[k], &tasks[i], least[i]); /* no shorter than in the copy before */
                least[i] = track < prof_trace_track_count(c.copies[k])
                               ? (size_t)prof_trace_track(c.copies[k], track)->event_count : 0;
            }
            prof_trace_close(c.copies[k]);
            if (test_failures) printf("  copy %ld, PROF_TEST_SEED=%llu\n", k, (unsigned long long)random);
            if (test_failures > 10) break;
        }
        copies += c.count;
        prof_trace_close(trace);
        free_tasks();
        prof_reset(); /* on Windows a file that is mapped could not be replaced in the next round */
    }
    CHECK(copies > 0);
}

/* One fiber goes to and fro between a thread whose chunk is old and one that takes many: while a copy is on its way
   from the new chunks to the old ones, the fiber goes the same way. */
typedef struct shuttle {
    prof_fiber *fiber;
    int turn, over; /* the one whose turn it is */
    int64_t number;
    pthread_mutex_t lock; /* held by whoever is in a scope: one that began in another session has no argument in this */
} shuttle;

static void shuttle_run(shuttle *s, int me)
{
    while (!__atomic_load_n(&s->over, __ATOMIC_ACQUIRE)) {
        if (__atomic_load_n(&s->turn, __ATOMIC_ACQUIRE) != me) {
            sched_yield();
            continue;
        }
        pthread_mutex_lock(&s->lock);
        prof_fiber_switch(s->fiber);
        PROFILE_BLOCK("shuttle") { PROFILE_ARG_I("number", s->number); }
        ++s->number;
        prof_fiber_switch(NULL);
        pthread_mutex_unlock(&s->lock);
        __atomic_store_n(&s->turn, !me, __ATOMIC_RELEASE);
        for (int i = 0; me && i < 200; ++i) PROFILE_MARK("filler");
    }
}

static void *shuttle_on(void *pointer)
{
    shuttle_run((shuttle *)pointer, 0);
    return NULL;
}

static void *shuttle_fill(void *pointer)
{
    shuttle_run((shuttle *)pointer, 1);
    return NULL;
}

TEST(copies_follow_a_fiber)
{
    long copies = trace_times(4, 40, 10000);
    prof_config config = trace_config(32 << 20);
    shuttle s = {prof_fiber_create("shuttle"), 0, 0, 0, PTHREAD_MUTEX_INITIALIZER};
    pthread_t threads[2];
    int whole = 1; /* the first session, from the fiber's first turn on */
    config.output = trace_path("shuttle.prof");
    trace_start(&config);
    pthread_create(&threads[0], NULL, shuttle_on, &s);
    pthread_create(&threads[1], NULL, shuttle_fill, &s);
    for (long i = 0; i < copies && !test_failures; ++i) {
        prof_trace *copy = NULL;
        CHECK_EQUAL(i % 2 ? prof_trace_open(config.output, &copy) : prof_trace_open_live(&copy), PROF_OK);
        if (!copy) break;
        size_t track = trace_track_named(copy, "shuttle");
        whole = whole && !prof_trace_about(copy)->overwritten_chunks;
        if (track < prof_trace_track_count(copy)) {
            trace_list list = trace_read(copy, track);
            const prof_value *first = list.count ? trace_arg(&list.events[0], "number") : NULL;
            for (size_t k = 0; first && k < list.count && test_failures < 10; ++k) {
                const prof_value *number = trace_arg(&list.events[k], "number");
                if (number || k + 1 < list.count)
                    CHECK_EQUAL(number ? number->as.i : -1, (int64_t)k + (whole ? 0 : first->as.i));
            }
            trace_free(&list);
        }
        CHECK_EQUAL(prof_trace_about(copy)->unmatched, 0);
        if (prof_trace_about(copy)->overwritten_chunks) { /* anew */
            pthread_mutex_lock(&s.lock);
            CHECK_EQUAL(prof_stop(), PROF_OK);
            trace_start(&config);
            pthread_mutex_unlock(&s.lock);
        }
        prof_trace_close(copy);
    }
    __atomic_store_n(&s.over, 1, __ATOMIC_RELEASE);
    for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
    trace = trace_stop();
    prof_trace_close(trace);
    prof_fiber_destroy(s.fiber);
    prof_reset();
}

/* Sessions begin and end while fibers have scopes open, on threads that notice late. Each session has only its own. */
TEST(sessions_in_between)
{
    prof_config config = trace_config(1 << 20);
    prof_fiber *one = prof_fiber_create("one"), *two = prof_fiber_create("two");
    prof_fiber_switch(one); /* while nothing records */
    for (int session = 0; session < 3; ++session) {
        trace_start(&config);
        PROFILE_BEGIN("across");
        PROFILE_ARG_I("session", session);
        prof_fiber_switch(two);
        PROFILE_SCOPE("in two"); /* ends after the stop, on the other track: not in the trace */
        prof_fiber_switch(one);
        CHECK_EQUAL(prof_pause(), PROF_OK);
        prof_fiber_switch(two); /* while it is paused */
        PROFILE_MARK("paused");
        CHECK_EQUAL(prof_resume(), PROF_OK);
        PROFILE_MARK("resumed");
        prof_fiber_switch(one);
        trace = trace_stop();
        prof_fiber_switch(NULL);
        prof_fiber_switch(one);
        trace_list list = trace_read(trace, trace_track_named(trace, "one"));
        CHECK_EQUAL(list.count, 1);
        CHECK_TEXT(list.events[0].name, "across");
        CHECK_EQUAL(list.events[0].flags, PROF_TRUNCATED_END);
        CHECK_EQUAL(trace_arg(&list.events[0], "session")->as.i, session);
        trace_free(&list);
        list = trace_read(trace, trace_track_named(trace, "two"));
        CHECK_EQUAL(list.count, 2);
        CHECK_TEXT(list.events[0].name, "in two");
        CHECK_TEXT(list.events[1].name, "resumed");
        trace_free(&list);
        CHECK_EQUAL(prof_trace_about(trace)->unmatched, 0);
        CHECK_EQUAL(prof_trace_about(trace)->lost, 0);
        prof_trace_close(trace);
    }
    prof_fiber_destroy(one);
    prof_fiber_destroy(two);
    prof_reset();
}

static int toggler_over;
static void *toggle(void *unused)
{
    prof_config config = trace_config(1 << 20);
    for (int i = 0; !__atomic_load_n(&toggler_over, __ATOMIC_ACQUIRE); ++i) {
        trace_start(&config);
        pause_us(200);
        if (i % 4 == 0) CHECK_EQUAL(prof_pause(), PROF_OK);
        if (i % 4 == 1) CHECK_EQUAL(prof_set_level(3), PROF_OK);
        pause_us(200);
        prof_trace *copy = trace_stop(); /* checks it */
        prof_trace_close(copy);
        if (i % 8 == 0) CHECK_EQUAL(prof_reset(), PROF_OK);
    }
    return unused;
}

static void *work_loosely(void *pointer)
{
    task *own = (task *)pointer;
    uint64_t random = own->random;
    for (task *t; (t = queue_take(&random)) != NULL; queue_put(t)) {
        PROFILE_SCOPE("run");
        prof_fiber_switch(t->fiber);
        for (uint64_t i = random_next(&random) % 5; i; --i) {
            if (t->depth < DEPTH && random_next(&random) % 2)
                t->token[t->depth++] = prof__begin(&scopes[random_next(&random) & 3]);
            else if (t->depth)
                prof__end(t->token[--t->depth]);
            if (random_next(&random) % 8 == 0) PROFILE_BEGIN("loose");
            if (random_next(&random) % 8 == 0) PROFILE_END("loose");
        }
        prof_fiber_switch(NULL);
    }
    return NULL;
}

TEST(sessions_while_tasks_move)
{
    uint64_t random = seed();
    pthread_t threads[WORKERS], toggler;
    queued = 0;
    steps_left = trace_times(20000, 100000, 30000000);
    toggler_over = 0;
    for (int i = 0; i < TASKS; ++i) {
        task_make(&tasks[i], i, random, 1);
        queue[queued++] = &tasks[i];
    }
    pthread_create(&toggler, NULL, toggle, NULL);
    for (int i = 0; i < WORKERS; ++i) {
        task_make(&workers[i], i, random, 0);
        pthread_create(&threads[i], NULL, work_loosely, &workers[i]);
    }
    for (int i = 0; i < WORKERS; ++i) pthread_join(threads[i], NULL);
    __atomic_store_n(&toggler_over, 1, __ATOMIC_RELEASE);
    pthread_join(toggler, NULL);
    if (test_failures) printf("  PROF_TEST_SEED=%llu\n", (unsigned long long)random);
    free_tasks();
    prof_reset();
}

/* Short tasks, each a fiber of its own: made, run and destroyed. */
TEST(ten_thousand_fibers)
{
    enum { COUNT = 10000 };
    prof_config config = trace_config(16 << 20);
    trace_start(&config);
    for (int i = 0; i < COUNT; ++i) {
        uint64_t place[PROF_FIBER_SIZE / 8]; /* every other one on the stack */
        prof_fiber *fiber = i % 2 ? prof_fiber_create("job") : prof_fiber_init(place, "job in place");
        CHECK(fiber != NULL);
        prof_fiber_switch(fiber);
        PROFILE_BLOCK("job") { PROFILE_ARG_I("number", i); }
        prof_fiber_switch(NULL);
        if (i % 2) prof_fiber_destroy(fiber);
    }
    trace = trace_stop();
    CHECK_EQUAL(prof_trace_about(trace)->lost, 0);
    CHECK_EQUAL(prof_trace_track_count(trace), COUNT + 1); /* and that of prof_start() */
    for (int i = 0; i < COUNT && test_failures < 10; ++i) {
        trace_list list = trace_read(trace, (size_t)i + 1);
        CHECK_EQUAL(list.count, 1);
        CHECK_EQUAL(trace_arg(&list.events[0], "number")->as.i, i);
        CHECK_TEXT(prof_trace_track(trace, (size_t)i + 1)->name, i % 2 ? "job" : "job in place");
        trace_free(&list);
    }
    prof_trace_close(trace);
    prof_reset();
}

/* Many at a time, each with scopes open while the others run: more than any chunk has room for. */
TEST(all_open_at_once)
{
    enum { COUNT = 2000, OPEN = 20 };
    static prof_fiber *fibers[COUNT];
    static prof__token tokens[COUNT][OPEN];
    prof_config config = trace_config(32 << 20);
    trace_start(&config);
    for (int i = 0; i < COUNT; ++i) fibers[i] = prof_fiber_create("open");
    for (int k = 0; k < OPEN; ++k)
        for (int i = 0; i < COUNT; ++i) {
            prof_fiber_switch(fibers[i]);
            tokens[i][k] = prof__begin(&scopes[k & 3]);
        }
    for (int k = OPEN; k--;)
        for (int i = 0; i < COUNT; ++i) {
            prof_fiber_switch(fibers[i]);
            prof__end(tokens[i][k]);
        }
    for (int i = 0; i < COUNT; ++i) prof_fiber_destroy(fibers[i]);
    trace = trace_stop();
    CHECK_EQUAL(prof_trace_about(trace)->lost, 0);
    CHECK_EQUAL(prof_trace_about(trace)->unmatched, 0);
    CHECK_EQUAL(prof_trace_about(trace)->event_count, COUNT * OPEN);
    for (size_t i = 1; i <= COUNT && test_failures < 10; ++i) {
        trace_list list = trace_read(trace, i);
        CHECK_EQUAL(list.count, OPEN);
        for (size_t k = 0; k < list.count; ++k) {
            CHECK_EQUAL(list.events[k].flags, 0);
            CHECK_EQUAL(list.events[k].depth, k);
        }
        trace_free(&list);
    }
    prof_trace_close(trace);
    prof_reset();
}

/* A chunk that is nearly full when a fiber comes that owes more ends than it has words left. */
TEST(no_room_for_what_is_owed)
{
    prof_config config = trace_config(1 << 20);
    prof_fiber *deep = prof_fiber_create("deep"), *other = prof_fiber_create("other");
    for (int fill = 1950; fill < 2040 && !test_failures; ++fill) {
        prof__token tokens[30];
        trace_start(&config);
        prof_fiber_switch(deep);
        for (int i = 0; i < 30; ++i) tokens[i] = prof__begin(&scopes[0]);
        prof_fiber_switch(other);
        for (int i = 0; i < fill; ++i) PROFILE_MARK("fill");
        prof_fiber_switch(deep);
        for (int i = 30; i--;) prof__end(tokens[i]);
        prof_fiber_switch(other);
        PROFILE_MARK("fill");
        prof_fiber_switch(NULL);
        trace = trace_stop();
        CHECK_EQUAL(prof_trace_about(trace)->lost, 0);
        CHECK_EQUAL(prof_trace_about(trace)->unmatched, 0);
        CHECK_EQUAL(prof_trace_about(trace)->event_count, 30 + fill + 1);
        trace_list list = trace_read(trace, trace_track_named(trace, "deep"));
        CHECK_EQUAL(list.count, 30);
        for (size_t i = 0; i < list.count; ++i) CHECK_EQUAL(list.events[i].flags, 0);
        trace_free(&list);
        prof_trace_close(trace);
    }
    prof_fiber_destroy(deep);
    prof_fiber_destroy(other);
    prof_reset();
}

static int64_t numbers[TASKS]; /* marks that each task has made; under the queue's lock or by one thread */

static void *work_numbered(void *pointer)
{
    uint64_t random = ((task *)pointer)->random;
    for (task *t; (t = queue_take(&random)) != NULL; queue_put(t)) {
        prof_fiber_switch(t->fiber);
        PROFILE_BLOCK("numbered")
        {
            PROFILE_ARG_I("number", numbers[t - tasks]);
            ++numbers[t - tasks];
        }
        prof_fiber_switch(NULL);
    }
    return NULL;
}

/* The ring keeps the newest of each track, without a hole. */
TEST(overwritten_ring)
{
    uint64_t random = seed();
    for (long round = 0; round < trace_times(2, 5, 500) && !test_failures; ++round, random_next(&random)) {
        prof_config config = trace_config(256 << 10);
        pthread_t threads[WORKERS];
        memset(numbers, 0, sizeof numbers);
        queued = 0;
        steps_left = trace_times(50000, 100000, 100000);
        trace_start(&config);
        for (int i = 0; i < TASKS; ++i) task_make(&tasks[i], i, random, 1), queue[queued++] = &tasks[i];
        for (int i = 0; i < WORKERS; ++i) {
            task_make(&workers[i], i, random, 0);
            pthread_create(&threads[i], NULL, work_numbered, &workers[i]);
        }
        for (int i = 0; i < WORKERS; ++i) pthread_join(threads[i], NULL);
        trace = trace_stop();
        CHECK(prof_trace_about(trace)->overwritten_chunks > 100);
        CHECK_EQUAL(prof_trace_about(trace)->lost, 0);
        for (int i = 0; i < TASKS && test_failures < 10; ++i) {
            size_t track = trace_track_named(trace, tasks[i].name);
            CHECK(track < prof_trace_track_count(trace)); /* each ran until shortly before the end */
            if (track == prof_trace_track_count(trace)) break;
            trace_list list = trace_read(trace, track);
            CHECK(list.count > 0);
            for (size_t k = 0; k < list.count; ++k) {
                const prof_value *number = trace_arg(&list.events[k], "number");
                CHECK(number || list.events[k].flags & PROF_TRUNCATED_BEGIN);
                if (number) CHECK_EQUAL(number->as.i, numbers[i] - (int64_t)list.count + (int64_t)k);
            }
            trace_free(&list);
        }
        if (test_failures) printf("  PROF_TEST_SEED=%llu\n", (unsigned long long)random);
        prof_trace_close(trace);
        free_tasks();
    }
    prof_reset();
}

/* When a buffer that is not reused is full everything else is counted. */
TEST(full_buffer)
{
    enum { COUNT = 50 };
    prof_config config = trace_config(128 << 10);
    prof_fiber *fibers[COUNT];
    uint64_t made = 0;
    config.mode = PROF_FILL;
    for (int i = 0; i < COUNT; ++i) fibers[i] = prof_fiber_create("full");
    trace_start(&config);
    for (int i = 0; i < 5000; ++i) {
        prof_fiber_switch(fibers[i % COUNT]);
        PROFILE_SCOPE("full");
        PROFILE_ARG_I("number", i);
        PROFILE_MARK("mark");
        made += 2;
    }
    prof_fiber_switch(NULL);
    PROFILE_MARK("mark");
    ++made;
    trace = trace_stop();
    uint64_t found = 0, number = 0;
    for (size_t i = 0; i < prof_trace_track_count(trace); ++i) {
        trace_list list = trace_read(trace, i);
        for (size_t k = 0; k < list.count; ++k) {
            if (list.events[k].type == PROF_EVENT_LOST) continue;
            ++found;
            number += list.events[k].arg_count;
            CHECK_EQUAL(list.events[k].flags, 0);
        }
        trace_free(&list);
    }
    CHECK(found > 1000);
    CHECK(prof_trace_about(trace)->lost > 1000);
    CHECK_EQUAL(found + prof_trace_about(trace)->lost, made);
    CHECK_EQUAL(number + prof_trace_about(trace)->lost_args, 5000);
    CHECK_EQUAL(prof_trace_about(trace)->unmatched, 0);
    prof_trace_close(trace);
    for (int i = 0; i < COUNT; ++i) prof_fiber_destroy(fibers[i]);
    prof_reset();
}

/* However long a pause is in which fibers are switched, the ring keeps what was before it. */
TEST(pause)
{
    prof_config config = trace_config(256u << 10);
    prof_fiber *fiber = prof_fiber_create("fiber");
    trace_start(&config);
    PROFILE_THREAD("main");
    PROFILE_MARK("before");
    prof_fiber_switch(fiber);
    PROFILE_BLOCK("over the pause") {
        prof_fiber_switch(NULL);
        CHECK_EQUAL(prof_pause(), PROF_OK);
        prof_fiber_switch(fiber);
    }
    for (int i = 0; i < 100000; ++i) prof_fiber_switch(i & 1 ? fiber : NULL);
    PROFILE_MARK("paused");
    CHECK_EQUAL(prof_resume(), PROF_OK);
    PROFILE_MARK("after");
    prof_fiber_switch(NULL);
    PROFILE_MARK("after");
    trace = trace_stop();
    CHECK_EQUAL(prof_trace_about(trace)->overwritten_chunks, 0);
    static const struct {
        const char *track, *events[2];
    } wanted[] = {{"main", {"before", "after"}}, {"fiber", {"over the pause", "after"}}};
    for (int k = 0; k < 2; ++k) {
        trace_list list = trace_read(trace, trace_track_named(trace, wanted[k].track));
        CHECK_EQUAL(list.count, 2);
        for (size_t i = 0; i < list.count && i < 2; ++i) {
            CHECK_TEXT(list.events[i].name, wanted[k].events[i]);
            CHECK_EQUAL(list.events[i].flags, 0);
        }
        trace_free(&list);
    }
    prof_trace_close(trace);
    prof_fiber_destroy(fiber);
    prof_reset();
}

/* A short scope is taken back only while nothing came between its begin and its end, a switch included. */
TEST(short_scopes)
{
    prof_config config = trace_config(1 << 20);
    prof_fiber *fiber = prof_fiber_create("short");
    config.min_duration_ns = 3600000000000u;
    trace_start(&config);
    PROFILE_THREAD("main");
    PROFILE_BLOCK("kept") { prof_fiber_switch(fiber); PROFILE_BLOCK("gone") {} prof_fiber_switch(NULL); }
    PROFILE_BLOCK("gone") {}
    prof_fiber_switch(fiber);
    PROFILE_BLOCK("gone") {}
    trace = trace_stop();
    CHECK_EQUAL(prof_trace_about(trace)->event_count, 1);
    CHECK_TEXT(prof_trace_track(trace, 0)->name, "main");
    CHECK_EQUAL(prof_trace_track(trace, 0)->event_count, 1);
    prof_trace_close(trace);
    prof_fiber_destroy(fiber);
    prof_reset();
}

/* A fiber that has no room ends a scope of the site that the thread has just begun: what it takes back is not that. */
static void short_scope(prof_fiber *fiber, uint64_t room)
{
    static prof_site site = {0, "X", "", "", "", 1, 0, 1, PROF__KIND_BEGIN, 0, 0, 0};
    prof_config config = trace_config(128u << 10);
    config.mode = PROF_FILL;
    config.min_duration_ns = 3600000000000u;
    trace_start(&config);
    prof_fiber_switch(fiber);
    prof__token of_fiber = prof__begin(&site);
    PROFILE_MARK("inside");
    prof_fiber_switch(NULL);
    const prof__header *h = prof__state.session->header;
    for (int i = 0; i < 100000 && (h->next_chunk < h->chunk_count || PROF__SELF()->free_words > room); ++i)
        PROFILE_MARK("fill");
    prof__token of_thread = prof__begin(&site);
    const uint64_t *last = PROF__SELF()->cursor - 1;
    uint64_t word = *last;
    CHECK(of_thread);
    prof_fiber_switch(fiber);
    prof__end(of_fiber);
    CHECK(*last == word);
    prof_fiber_switch(NULL);
    prof__end(of_thread);
    prof_trace_close(trace_stop());
    site.private_state = 0;
}

TEST(short_scopes_without_room)
{
    prof_fiber *fiber = prof_fiber_create("short");
    for (uint64_t room = 2; room < 8; ++room) short_scope(fiber, room);
    prof_fiber_destroy(fiber);
    prof_reset();
}

/* A thread that a jump left in a macro does not hear of switches; what mends it must not look at the fiber. */
TEST(destroyed_behind_a_stuck_thread)
{
    prof_config config = trace_config(128u << 10);
    prof_fiber *fiber = prof_fiber_create("gone");
    trace_start(&config);
    prof_fiber_switch(fiber);
    PROFILE_MARK("on the fiber");
    CHECK_EQUAL(prof_stop(), PROF_OK);
    PROF__SELF()->write_lock = PROF__BUSY; /* as a jump leaves it */
    prof_fiber_switch(NULL);
    prof_fiber_destroy(fiber);
    trace_start(&config);
    CHECK(!PROF__SELF()->fiber);
    PROFILE_MARK("on the thread");
    prof_trace_close(trace_stop());
    prof_reset();
}

/* Losses belong to the track that had them. */
TEST(losses_of_each_track)
{
    prof_config config = trace_config(1 << 20);
    prof_fiber *fiber = prof_fiber_create("losing");
    trace_start(&config);
    PROFILE_THREAD("main");
    PROFILE_MARK("before");
    prof_fiber_switch(fiber);
    PROFILE_MARK("before");
    prof__lose(PROF__SELF(), 5);
    prof_fiber_switch(NULL);
    prof__lose(PROF__SELF(), 2);
    prof_fiber_switch(fiber);
    prof_fiber_switch(NULL);
    trace = trace_stop();
    CHECK_EQUAL(prof_trace_track(trace, trace_track_named(trace, "losing"))->lost, 5);
    CHECK_EQUAL(prof_trace_track(trace, trace_track_named(trace, "main"))->lost, 2);
    CHECK_EQUAL(prof_trace_about(trace)->lost, 7);
    prof_trace_close(trace);
    prof_fiber_destroy(fiber);
    prof_reset();
}

/* Names: long ones are cut between characters, a thread is renamed from within a fiber. */
TEST(names_of_tracks)
{
    prof_config config = trace_config(1 << 20);
    char text[100] = "";
    for (int i = 0; i < 33; ++i) strcat(text, "\xc3\xa4");
    prof_fiber *fiber = prof_fiber_create(text);
    trace_start(&config);
    PROFILE_MARK("main");
    prof_fiber_switch(fiber);
    PROFILE_MARK("fiber");
    PROFILE_THREAD("renamed");
    PROFILE_MARK("fiber");
    prof_fiber_switch(NULL);
    PROFILE_MARK("main");
    trace = trace_stop();
    text[62] = 0;
    CHECK_EQUAL(prof_trace_track_count(trace), 2);
    CHECK_TEXT(prof_trace_track(trace, 0)->name, "renamed");
    CHECK_TEXT(prof_trace_track(trace, 1)->name, text);
    for (size_t i = 0; i < 2; ++i) {
        trace_list list = trace_read(trace, i);
        CHECK_EQUAL(list.count, 2);
        CHECK_EQUAL(trace_count(&list, i ? "fiber" : "main"), 2);
        trace_free(&list);
    }
    prof_trace_close(trace);
    PROFILE_THREAD(NULL);
    prof_fiber_destroy(fiber);
    prof_reset();
}

/* The first thing that a thread does is to end what began on another one; or to add an argument. */
typedef struct errand {
    prof_fiber *fiber;
    prof__token token;
    int what;
} errand;

static void *run_errand(void *pointer)
{
    errand *e = (errand *)pointer;
    prof_fiber_switch(e->fiber);
    if (e->what == 0) prof__end(e->token);
    if (e->what == 1) PROFILE_ARG_I("number", 1);
    if (e->what == 2) PROFILE_END("loose");
    if (e->what == 3) e->token = prof__next(&scopes[1], e->token);
    prof_fiber_switch(NULL);
    return NULL;
}

TEST(begun_on_another_thread)
{
    prof_config config = trace_config(1 << 20);
    errand e = {prof_fiber_create("errand"), 0, 0};
    pthread_t thread;
    trace_start(&config);
    prof_fiber_switch(e.fiber);
    e.token = prof__begin(&scopes[0]);
    PROFILE_BEGIN("loose");
    prof_fiber_switch(NULL);
    static const int order[] = {1, 2, 3, 0};
    for (int i = 0; i < 4; ++i) {
        e.what = order[i];
        pthread_create(&thread, NULL, run_errand, &e);
        pthread_join(thread, NULL);
    }
    trace = trace_stop();
    trace_list list = trace_read(trace, trace_track_named(trace, "errand"));
    CHECK_EQUAL(list.count, 3);
    CHECK_TEXT(list.events[0].name, "a");
    CHECK_TEXT(list.events[1].name, "loose");
    CHECK(trace_arg(&list.events[1], "number") != NULL);
    CHECK_TEXT(list.events[2].name, "b");
    CHECK_EQUAL(list.events[2].depth, 0);
    for (size_t i = 0; i < list.count; ++i) CHECK_EQUAL(list.events[i].flags, 0);
    CHECK_EQUAL(prof_trace_about(trace)->unmatched, 0);
    trace_free(&list);
    prof_trace_close(trace);
    prof_fiber_destroy(e.fiber);
    prof_reset();
}

/* A thread ends while a fiber is on it; the fiber goes on elsewhere. */
static void *end_on_fiber(void *fiber)
{
    PROFILE_THREAD("ended");
    PROFILE_MARK("own");
    prof_fiber_switch((prof_fiber *)fiber);
    PROFILE_BEGIN("across");
    return NULL;
}

TEST(thread_ends_on_a_fiber)
{
    prof_config config = trace_config(1 << 20);
    prof_fiber *fiber = prof_fiber_create("survivor");
    trace_start(&config);
    for (int i = 0; i < 5; ++i) {
        pthread_t thread;
        pthread_create(&thread, NULL, end_on_fiber, fiber);
        pthread_join(thread, NULL);
        if (i == 4) break;
        prof_fiber_switch(fiber);
        PROFILE_END("across");
        prof_fiber_switch(NULL);
    }
    trace = trace_stop();
    trace_list list = trace_read(trace, trace_track_named(trace, "survivor"));
    CHECK_EQUAL(list.count, 5);
    for (size_t i = 0; i < list.count; ++i) CHECK_EQUAL(list.events[i].flags, i == 4 ? PROF_TRUNCATED_END : 0);
    CHECK_EQUAL(prof_trace_about(trace)->unmatched, 0);
    trace_free(&list);
    prof_trace_close(trace);
    prof_fiber_destroy(fiber);
    prof_reset();
}

/*-- handlers that interrupt switches --*/

static uint64_t handled;
static volatile int handler_on;
static void handler(int number)
{
    int before = errno;
    (void)number;
    if (handler_on) {
        PROFILE_SCOPE("handler");
        PROFILE_MARK("in handler");
        ++handled;
    }
    errno = before;
}

static int sender_over;
static pthread_t target;
static void *send(void *unused)
{
    while (!__atomic_load_n(&sender_over, __ATOMIC_ACQUIRE)) {
        pthread_kill(target, SIGUSR1);
        for (volatile int i = 0; i < 500; ++i) continue;
    }
    return unused;
}

TEST(handlers_during_switches)
{
    struct sigaction action;
    pthread_t sender;
    uint64_t in_handlers = 0;
    prof_fiber *fibers[4];
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    sigaction(SIGUSR1, &action, NULL);
    target = pthread_self();
    sender_over = 0;
    pthread_create(&sender, NULL, send, NULL);
    for (int i = 0; i < 4; ++i) fibers[i] = prof_fiber_create("fiber");
    long rounds = trace_times(3, 10, 1000);
    for (long round = 0; (round < rounds || (!in_handlers && round < 3000)) && !test_failures; ++round) {
        prof_config config = trace_config(16 << 20);
        uint64_t made = 0, found = 0;
        handled = 0;
        trace_start(&config);
        handler_on = 1;
        for (int i = 0; i < 20000; ++i) {
            prof_fiber_switch(fibers[i & 3]);
            if (i % 8 < 4) PROFILE_BEGIN("across");
            PROFILE_MARK("mark");
            if (i % 8 >= 4) PROFILE_END("across");
            made += i % 8 < 4 ? 2 : 1;
        }
        prof_fiber_switch(NULL);
        handler_on = 0;
        trace = trace_stop();
        for (size_t i = 0; i < prof_trace_track_count(trace); ++i) {
            trace_list list = trace_read(trace, i);
            for (size_t k = 0; k < list.count; ++k) {
                found += list.events[k].type != PROF_EVENT_LOST;
                CHECK_EQUAL(list.events[k].flags, 0);
            }
            CHECK_EQUAL(trace_count(&list, "mark"), prof_trace_track(trace, i)->fiber ? 5000 : 0);
            CHECK_EQUAL(trace_count(&list, "across"), prof_trace_track(trace, i)->fiber ? 2500 : 0);
            trace_free(&list);
        }
        CHECK_EQUAL(found + prof_trace_about(trace)->lost, made + 2 * handled);
        CHECK_EQUAL(prof_trace_about(trace)->unmatched, 0);
        CHECK_EQUAL(prof_trace_about(trace)->overwritten_chunks, 0);
        in_handlers += handled;
        prof_trace_close(trace);
    }
    __atomic_store_n(&sender_over, 1, __ATOMIC_RELEASE);
    pthread_join(sender, NULL);
    CHECK(in_handlers > 0 || TRACE_SANITIZER == 2);
    for (int i = 0; i < 4; ++i) prof_fiber_destroy(fibers[i]);
    prof_reset();
}

/*-- real stacks, two workers, any fiber on any of them --*/

#if HAVE_CONTEXTS
enum { CONTEXTS = 40, LEVELS = 12, STACK = 128 << 10 };
typedef struct context {
    ucontext_t here;
    prof_fiber *fiber;
    char *stack;
    int number, over;
    uint64_t threads; /* bits: workers on which it was */
} context;

static context contexts[CONTEXTS];
static context *ready[CONTEXTS];
static int ready_count, running_count;
static __thread ucontext_t scheduler;
static __thread int worker_number;
static uint64_t random_state;
static pthread_barrier_t both_there;

/* The compiler may think that thread-local variables stay where they are while a function runs. */
static __attribute__((noinline)) ucontext_t *my_scheduler(void)
{
    __asm__ volatile("");
    return &scheduler;
}
static __attribute__((noinline)) int my_number(void)
{
    __asm__ volatile("");
    return worker_number;
}

static void yield(context *c) { swapcontext(&c->here, my_scheduler()); }

static void level(context *c, int number)
{
    PROFILE_SCOPE("level");
    PROFILE_ARG_I("number", number);
    c->threads |= 1ull << my_number();
    yield(c);
    if (number) {
        PROFILE_SCOPE_F("fiber %d level %d", c->number, number);
        yield(c);
        level(c, number - 1);
    }
    PROFILE_BEGIN("between");
    yield(c);
    PROFILE_END("between");
    PROFILE_ARG_I("after", number);
}

static void context_main(int number)
{
    context *c = &contexts[number];
    {
        PROFILE_FUNCTION();
        level(c, LEVELS);
    }
    c->over = 1;
    yield(c);
}

static context *ready_take(int *over)
{
    context *c = NULL;
    pthread_mutex_lock(&queue_lock);
    if (ready_count) {
        int at = (int)(random_next(&random_state) % (uint64_t)ready_count);
        c = ready[at];
        ready[at] = ready[--ready_count];
        ++running_count;
    }
    *over = !c && !running_count;
    pthread_mutex_unlock(&queue_lock);
    return c;
}

static void *run_contexts(void *number)
{
    int over = 0;
    worker_number = *(int *)number;
    for (int turn = 0; !over; ++turn) {
        if (turn < CONTEXTS) pthread_barrier_wait(&both_there); /* or one might do all before the other begins */
        context *c = ready_take(&over);
        if (!c) continue;
        PROFILE_SCOPE("turn");
        prof_fiber_switch(c->fiber);
        swapcontext(my_scheduler(), &c->here);
        prof_fiber_switch(NULL);
        pthread_mutex_lock(&queue_lock);
        --running_count;
        if (!c->over) ready[ready_count++] = c;
        int pause = random_next(&random_state) % 64 == 0;
        pthread_mutex_unlock(&queue_lock);
        if (pause) sched_yield();
    }
    return NULL;
}

static void check_context(const prof_trace *from, const context *c)
{
    char name[32];
    snprintf(name, sizeof name, "context %d", c->number);
    trace_list list = trace_read(from, trace_track_named(from, name));
    CHECK_EQUAL(list.count, 1 + (LEVELS + 1) * 2 + LEVELS);
    CHECK_TEXT(list.events[0].name, "context_main");
    size_t at = 1;
    for (int n = LEVELS; n >= 0 && at < list.count; --n) {
        snprintf(name, sizeof name, "fiber %d level %d", c->number, n);
        CHECK_TEXT(list.events[at].name, "level");
        CHECK_EQUAL(list.events[at].depth, 1 + (LEVELS - n) * 2);
        CHECK_EQUAL(trace_arg(&list.events[at], "number")->as.i, n);
        CHECK_EQUAL(trace_arg(&list.events[at++], "after")->as.i, n);
        if (n) CHECK_TEXT(list.events[at++].name, name);
    }
    for (int n = 0; n <= LEVELS && at < list.count; ++n) {
        CHECK_TEXT(list.events[at].name, "between");
        CHECK_EQUAL(list.events[at++].depth, 2 + (LEVELS - n) * 2);
    }
    for (size_t i = 0; i < list.count; ++i) CHECK_EQUAL(list.events[i].flags, 0);
    trace_free(&list);
}
#endif

TEST(stacks_that_move)
{
#if HAVE_CONTEXTS
    uint64_t random = seed(), moved = 0;
    for (long round = 0; round < trace_times(2, 10, 1000) && !test_failures; ++round) {
        prof_config config = trace_config(8 << 20);
        pthread_t threads[2];
        int ids[2] = {0, 1};
        random_state = random + (uint64_t)round;
        trace_start(&config);
        ready_count = running_count = 0;
        for (int i = 0; i < CONTEXTS; ++i) {
            char name[32];
            context *c = &contexts[i];
            memset(c, 0, sizeof *c);
            snprintf(name, sizeof name, "context %d", i);
            c->number = i;
            c->fiber = prof_fiber_create(name);
            c->stack = (char *)malloc(STACK);
            getcontext(&c->here);
            c->here.uc_stack.ss_sp = c->stack;
            c->here.uc_stack.ss_size = STACK;
            makecontext(&c->here, (void (*)(void))context_main, 1, i);
            ready[ready_count++] = c;
        }
        pthread_barrier_init(&both_there, NULL, 2);
        for (int i = 0; i < 2; ++i) pthread_create(&threads[i], NULL, run_contexts, &ids[i]);
        for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
        trace = trace_stop();
        CHECK_EQUAL(prof_trace_about(trace)->lost, 0);
        CHECK_EQUAL(prof_trace_about(trace)->unmatched, 0);
        for (int i = 0; i < CONTEXTS && test_failures < 10; ++i) {
            check_context(trace, &contexts[i]);
            moved += contexts[i].threads == 3;
        }
        prof_trace_close(trace);
        for (int i = 0; i < CONTEXTS; ++i) {
            prof_fiber_destroy(contexts[i].fiber);
            free(contexts[i].stack);
        }
    }
    CHECK(moved > 0);
    if (test_failures) printf("  PROF_TEST_SEED=%llu\n", (unsigned long long)random);
    prof_reset();
#else
    SKIP("no ucontext, or a sanitizer that does not know it");
#endif
}

TEST_MAIN
