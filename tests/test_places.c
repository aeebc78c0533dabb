/* Scopes in odd places: handlers of a profiler's timer at full speed, destructors of thread-local data, code before
   main and after it, threads that outlive a session or are cancelled, every way in which a program may end. */
/* run: unraced */
#include "private.h"
#include "test.h"
#include "trace.h"
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static prof_trace *trace;

/*-- a sampling profiler's handler --*/

static volatile int64_t handler_number, program_number;
static volatile int handler_on;

static void on_profile(int number)
{
    int before = errno;
    (void)number;
    if (handler_on) {
        PROFILE_SCOPE("sample");
        PROFILE_ARG_I("number", handler_number);
        ++handler_number;
        PROFILE_MARK("sampled");
    }
    errno = before;
}

static timer_t timers[2];
static int timer_count;

/* SIGPROF to this thread, 10,000 times a second of each clock; the kernel decides how often it is for the second. */
static void profile_start(void)
{
    static const clockid_t clocks[2] = {CLOCK_MONOTONIC, CLOCK_THREAD_CPUTIME_ID};
    struct sigaction action;
    struct itimerspec period;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_profile;
    action.sa_flags = SA_RESTART;
    sigaction(SIGPROF, &action, NULL);
    memset(&period, 0, sizeof period);
    period.it_interval.tv_nsec = period.it_value.tv_nsec = 100000;
    for (timer_count = 0; timer_count < 2; ++timer_count) {
        struct sigevent event;
        memset(&event, 0, sizeof event);
        event.sigev_notify = SIGEV_SIGNAL;
        event.sigev_signo = SIGPROF;
#if defined(__linux__) && defined(SIGEV_THREAD_ID)
        event.sigev_notify = SIGEV_THREAD_ID;
#ifdef sigev_notify_thread_id
        event.sigev_notify_thread_id = (pid_t)prof__thread_id();
#else
        event._sigev_un._tid = (pid_t)prof__thread_id();
#endif
#endif
        if (timer_create(clocks[timer_count], &event, &timers[timer_count])) break;
        timer_settime(timers[timer_count], 0, &period, NULL);
    }
}

static void profile_stop(void)
{
    while (timer_count) timer_delete(timers[--timer_count]);
    signal(SIGPROF, SIG_IGN);
}

typedef struct tally {
    uint64_t samples, sampled, steps, inner, args, flagged;
    int64_t last_sample, last_step;
} tally;

/* Counts everything; numbers go up, by one each if nothing was lost. */
static tally tally_of(const prof_trace *from, int whole)
{
    tally sum = {0, 0, 0, 0, 0, 0, -1, -1};
    for (size_t track = 0; track < prof_trace_track_count(from); ++track) {
        trace_list list = trace_read(from, track);
        for (size_t i = 0; i < list.count; ++i) {
            const prof_event *event = &list.events[i];
            const prof_value *number = trace_arg(event, "number");
            int sample = !strcmp(event->name, "sample"), step = !strcmp(event->name, "step");
            sum.samples += (uint64_t)sample;
            sum.steps += (uint64_t)step;
            sum.sampled += !strcmp(event->name, "sampled");
            sum.inner += !strcmp(event->name, "inner");
            sum.args += event->arg_count;
            sum.flagged += event->flags != 0;
            if (!number || !(sample || step)) continue;
            int64_t *last = sample ? &sum.last_sample : &sum.last_step;
            CHECK(number->as.i > *last);
            if (whole && *last >= 0) CHECK_EQUAL(number->as.i, *last + 1);
            *last = number->as.i;
        }
        trace_free(&list);
    }
    return sum;
}

/* For so long, and at least so many, however little of the time is this program's. */
static void steps(double time, int64_t least)
{
    for (double end = test_seconds() + time; test_seconds() < end || program_number < least;)
        for (int i = 0; i < 1000; ++i) {
            PROFILE_SCOPE("step");
            PROFILE_ARG_I("number", program_number);
            ++program_number;
            PROFILE_BLOCK("inner") {}
        }
}

static double profiled(prof_config *config)
{
    trace_start(config);
    handler_number = program_number = 0;
    profile_start();
    handler_on = 1;
    double start = test_seconds();
    int64_t least = (int64_t)config->buffer_size / 32; /* of more than four words each: the buffer is full */
    steps((double)trace_times(200, 400, 20000) / 1000, least);
    handler_on = 0;
    double took = test_seconds() - start;
    profile_stop();
    trace = trace_stop();
    return took;
}

/* Until the buffer is full everything is there; from then on everything is counted. */
TEST(profiling_timer_and_a_full_buffer)
{
    prof_config config = trace_config((size_t)trace_times(2, 8, 8) << 20);
    config.mode = PROF_FILL;
    double took = profiled(&config);
    tally found = tally_of(trace, 0);
    uint64_t made = (uint64_t)program_number + (uint64_t)handler_number; /* of each two scopes and an argument */
    CHECK_EQUAL(found.samples + found.sampled + found.steps + found.inner + prof_trace_about(trace)->lost, 2 * made);
    CHECK_EQUAL(found.args + prof_trace_about(trace)->lost_args, made);
    CHECK_EQUAL(found.flagged, 0);
    CHECK_EQUAL(prof_trace_about(trace)->unmatched, 0);
    CHECK(prof_trace_about(trace)->lost > 0);
    CHECK(handler_number > 0 || TRACE_SANITIZER == 2);
    printf("  %.0f signals a second while %.1f million scopes a second are recorded\n", (double)handler_number / took,
           2 * (double)program_number / took / 1e6);
    prof_trace_close(trace);
    prof_reset();
}

/* In the ring the newest is there without a hole but for what is counted: fewer signals than that came in between. */
TEST(profiling_timer_and_a_ring)
{
    prof_config config = trace_config(1u << 20);
    profiled(&config);
    uint64_t lost = prof_trace_about(trace)->lost + prof_trace_about(trace)->lost_args; /* events: in the chunks left */
    tally found = tally_of(trace, !lost);
    CHECK(prof_trace_about(trace)->overwritten_chunks > 0);
    CHECK_EQUAL(prof_trace_about(trace)->unmatched, 0);
    CHECK(found.flagged <= 3); /* what the ring's end cuts: a sample in an inner block in a step */
    CHECK(program_number - 1 - found.last_step <= (int64_t)lost);
    CHECK(found.steps > 1000);
    prof_trace_close(trace);
    prof_reset();
}

/*-- handlers that do not return --*/

static sigjmp_buf away;
static volatile int jumping;
static void jump_away(int number)
{
    (void)number;
    if (jumping) siglongjmp(away, 1);
}

/* A thread that was writing cannot record any more; nothing else suffers, and the next start mends it. */
TEST(siglongjmp_out_of_a_macro)
{
    struct sigaction action;
    struct itimerval period = {{0, 100}, {0, 100}}, none = {{0, 0}, {0, 0}};
    volatile long stuck = 0, jumps = 0, sessions = 0;
    double end = test_seconds() + (double)trace_times(200, 500, 20000) / 1000;
    memset(&action, 0, sizeof action);
    action.sa_handler = jump_away;
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &period, NULL);
    do {
        prof_config config = trace_config(256u << 10);
        trace_start(&config);
        ++sessions;
        PROFILE_MARK("can record");
        for (volatile int i = 0; i < 5; ++i) {
            if (!sigsetjmp(away, 1)) {
                jumping = 1;
                for (;;) {
                    PROFILE_SCOPE("interrupted");
                    PROFILE_MARK("interrupted mark");
                    PROFILE_ARG_S("text", "of some words");
                    PROFILE_BEGIN("loose");
                    PROFILE_END("loose");
                }
            }
            jumping = 0;
            ++jumps;
            if (PROF__SELF()->write_lock == PROF__BUSY) break;
        }
        stuck += PROF__SELF()->write_lock == PROF__BUSY;
        trace = trace_stop(); /* checks it */
        size_t marks = 0;
        for (size_t i = 0; i < prof_trace_track_count(trace); ++i) {
            trace_list list = trace_read(trace, i);
            marks += trace_count(&list, "can record") + (trace->partial != 0); /* overwritten, or about to be */
            trace_free(&list);
        }
        CHECK(marks >= 1);
        prof_trace_close(trace);
    } while (test_seconds() < end && test_failures < 10);
    setitimer(ITIMER_REAL, &none, NULL);
    signal(SIGALRM, SIG_DFL);
    CHECK(jumps > 0);
    if (test_failures) printf("  %ld jumps, %ld sessions, stuck in %ld\n", jumps, sessions, stuck);
    prof_config config = trace_config(256u << 10);
    trace_start(&config);
    PROFILE_BLOCK("at last") {}
    trace = trace_stop();
    CHECK_EQUAL(prof_trace_about(trace)->event_count, 1);
    prof_trace_close(trace);
    prof_reset();
}

/* The same, exactly there, whatever the timing. */
TEST(a_thread_left_busy)
{
    prof_config config = trace_config(256u << 10);
    trace_start(&config);
    PROFILE_MARK("before");
    PROF__SELF()->write_lock = PROF__BUSY; /* as a jump leaves it */
    PROFILE_MARK("lost");
    PROFILE_BLOCK("lost") {}
    trace = trace_stop();
    CHECK_EQUAL(prof_trace_about(trace)->event_count, 2); /* and the losses */
    CHECK_EQUAL(prof_trace_about(trace)->lost, 2);
    prof_trace_close(trace);
    CHECK_EQUAL(PROF__SELF()->write_lock, PROF__BUSY);
    trace_start(&config);
    PROFILE_MARK("after");
    trace = trace_stop();
    CHECK_EQUAL(prof_trace_about(trace)->event_count, 1);
    CHECK_EQUAL(prof_trace_about(trace)->lost, 0);
    prof_trace_close(trace);
    prof_reset();
}

/*-- threads --*/

static pthread_key_t early_key, late_key; /* made before and after the recorder's own */

static void key_destroy(void *value)
{
    PROFILE_SCOPE("destructor of a key");
    if ((intptr_t)value & 15 && ((intptr_t)value & 15) < 3) /* comes again in the next round */
        pthread_setspecific((intptr_t)value & 16 ? late_key : early_key, (char *)value + 1);
}

static void *with_keys(void *unused)
{
    PROFILE_THREAD("with keys");
    PROFILE_SCOPE("thread");
    pthread_setspecific(early_key, (void *)1);
    pthread_setspecific(late_key, (void *)17);
    return unused;
}

/* Destructors of thread-specific data, before and after the recorder's own, in up to three rounds. */
TEST(destructors_of_keys)
{
    prof_config config = trace_config(1u << 20);
    trace_start(&config);
    pthread_key_create(&late_key, key_destroy);
    for (int i = 0; i < 10; ++i) {
        pthread_t thread;
        pthread_create(&thread, NULL, with_keys, NULL);
        pthread_join(thread, NULL);
    }
    trace = trace_stop();
    size_t found = 0, threads = 0;
    for (size_t i = 0; i < prof_trace_track_count(trace); ++i) {
        trace_list list = trace_read(trace, i);
        found += trace_count(&list, "destructor of a key");
        threads += trace_count(&list, "thread");
        for (size_t k = 0; k < list.count; ++k) CHECK_EQUAL(list.events[k].flags, 0);
        trace_free(&list);
    }
    CHECK_EQUAL(threads, 10);
    CHECK_EQUAL(found, 10 * 2 * 3);
    CHECK_EQUAL(prof_trace_about(trace)->lost, 0);
    CHECK_EQUAL(prof_trace_about(trace)->unmatched, 0);
    prof_trace_close(trace);
    pthread_key_delete(late_key);
    prof_reset();
}

static void __attribute__((constructor)) make_early_key(void) { pthread_key_create(&early_key, key_destroy); }

static int go_on;
static void *outlive(void *unused)
{
    for (long i = 0; __atomic_load_n(&go_on, __ATOMIC_ACQUIRE); ++i) {
        PROFILE_SCOPE("outlives");
        PROFILE_BEGIN("loose");
        PROFILE_END("loose");
        PROFILE_ARG_I("number", i);
    }
    return unused;
}

/* Threads that go on while sessions stop, are reset and start anew. */
TEST(threads_outlive_sessions)
{
    pthread_t threads[3];
    __atomic_store_n(&go_on, 1, __ATOMIC_RELEASE);
    for (int i = 0; i < 3; ++i) pthread_create(&threads[i], NULL, outlive, NULL);
    for (long i = 0; i < trace_times(10, 50, 5000) && !test_failures; ++i) {
        prof_config config = trace_config(512u << 10);
        trace_start(&config);
        pause_us(300);
        trace = trace_stop();
        CHECK_EQUAL(prof_trace_about(trace)->lost, 0);
        prof_trace_close(trace);
        if (i % 3 == 0) CHECK_EQUAL(prof_reset(), PROF_OK);
        PROFILE_SCOPE("after the stop");
        PROFILE_MARK("after the stop");
    }
    __atomic_store_n(&go_on, 0, __ATOMIC_RELEASE);
    for (int i = 0; i < 3; ++i) pthread_join(threads[i], NULL);
    CHECK_EQUAL(prof_reset(), PROF_OK);
    PROFILE_MARK("after the reset");
    CHECK_EQUAL(prof_stop(), PROF_INVALID_STATE);
}

static int inside;
static void *cancelled(void *number)
{
    PROFILE_SCOPE("cancelled");
    PROFILE_ARG_I("number", (int64_t)(intptr_t)number);
    PROFILE_BEGIN("inside");
    __atomic_store_n(&inside, 1, __ATOMIC_RELEASE);
    for (;;) pause();
    return NULL;
}

/* Cancelled inside a scope: in C it has no end, unless compiled with -fexceptions; the chunk serves the next thread. */
TEST(cancelled_threads)
{
    prof_config config = trace_config(256u << 10);
    trace_start(&config);
    for (intptr_t i = 0; i < 40; ++i) {
        pthread_t thread;
        __atomic_store_n(&inside, 0, __ATOMIC_RELEASE);
        pthread_create(&thread, NULL, cancelled, (void *)i);
        WAIT_UNTIL(__atomic_load_n(&inside, __ATOMIC_ACQUIRE));
        pthread_cancel(thread);
        pthread_join(thread, NULL);
    }
    trace = trace_stop();
    CHECK_EQUAL(prof_trace_about(trace)->lost, 0);
    CHECK_EQUAL(prof_trace_about(trace)->unmatched, 0);
    CHECK_EQUAL(prof_trace_about(trace)->overwritten_chunks, 0);
    size_t found = 0;
    for (size_t i = 0; i < prof_trace_track_count(trace); ++i) {
        trace_list list = trace_read(trace, i);
        if (list.count) {
            CHECK_EQUAL(list.count, 2);
            CHECK_TEXT(list.events[0].name, "cancelled");
            CHECK_EQUAL(trace_arg(&list.events[0], "number")->as.i, (int64_t)found);
            CHECK_EQUAL(list.events[1].flags, PROF_TRUNCATED_END);
            ++found;
        }
        trace_free(&list);
    }
    CHECK_EQUAL(found, 40);
    prof_trace_close(trace);
    prof_reset();
}

/* Cancelled again and again inside the recorder: in a wait for its lock, at the end of the thread. */
static void *cancelled_soon(void *unused)
{
    for (;;) {
        PROFILE_SCOPE("cancelled");
        PROFILE_THREAD("cancelled");
        pthread_testcancel();
    }
    return unused;
}

TEST(cancelled_anywhere)
{
    prof_config config = trace_config(1u << 20);
    trace_start(&config);
    for (long i = 0; i < trace_times(50, 200, 20000) && !test_failures; ++i) {
        pthread_t threads[2];
        for (int k = 0; k < 2; ++k) pthread_create(&threads[k], NULL, cancelled_soon, NULL);
        if (i % 4 == 0) CHECK_EQUAL(prof_set_level((int)(i % 3 + 1)), PROF_OK);
        pause_us(i % 50);
        for (int k = 0; k < 2; ++k) pthread_cancel(threads[k]);
        for (int k = 0; k < 2; ++k) pthread_join(threads[k], NULL);
    }
    PROFILE_MARK("still there");
    trace = trace_stop();
    CHECK_EQUAL(prof_trace_about(trace)->unmatched, 0);
    prof_trace_close(trace);
    prof_reset();
}

/* Control functions read and write files, where threads may be cancelled: not while they hold the recorder's locks. */
static void *cancelled_in_control(void *unused)
{
    for (;;) {
        prof_config config = trace_config(256u << 10);
        config.output = trace_path("cancelled.prof");
        if (!prof_start(&config)) PROFILE_MARK("started");
        prof_stop();
        prof_reset();
        pthread_testcancel();
    }
    return unused;
}

TEST(cancelled_in_control_functions)
{
    for (long i = 0; i < trace_times(5, 30, 2000) && !test_failures; ++i) {
        pthread_t thread;
        prof_config config = trace_config(256u << 10);
        pthread_create(&thread, NULL, cancelled_in_control, NULL);
        pause_us(i % 20 * 100);
        pthread_cancel(thread);
        pthread_join(thread, NULL);
        prof_stop();
        trace_start(&config);
        PROFILE_MARK("can record");
        trace = trace_stop();
        CHECK_EQUAL(prof_trace_about(trace)->event_count, 1);
        prof_trace_close(trace);
    }
    prof_reset();
}

/*-- programs: this one, as a child, recorded by PROF_OUTPUT from before main to its end --*/

static const char *child_name; /* "" in the parent */

static void in_exit(void) { PROFILE_SCOPE("exit handler"); }
static void __attribute__((constructor)) before_main(void) { PROFILE_SCOPE("constructor"); }
static void __attribute__((constructor(60000))) before_others(void) { PROFILE_SCOPE("early constructor"); }
static void __attribute__((destructor)) after_main(void) { PROFILE_SCOPE("destructor"); }

static void *until_the_end(void *unused)
{
    for (;;) {
        PROFILE_SCOPE("until the end");
        PROFILE_MARK("inside");
    }
    return unused;
}

static void *end_of_others(void *unused)
{
    pause_ms(20); /* main has left by then */
    PROFILE_SCOPE("after main's end");
    exit(7);
    return unused;
}

static int child(const char *name)
{
    pthread_t thread;
    PROFILE_SCOPE("main of the child");
    PROFILE_ARG_S("name", name);
    atexit(in_exit);
    if (!strcmp(name, "exit")) exit(7);
    if (!strcmp(name, "_exit")) _exit(7);
    if (!strcmp(name, "abort")) abort();
    if (!strcmp(name, "kill")) raise(SIGKILL);
#if defined(__GLIBC__)
    if (!strcmp(name, "quick_exit")) {
        at_quick_exit(in_exit);
        quick_exit(7);
    }
#endif
    if (!strcmp(name, "pthread_exit")) {
        pthread_create(&thread, NULL, end_of_others, NULL);
        pthread_exit(NULL);
    }
    if (!strcmp(name, "threads")) {
        for (int i = 0; i < 3; ++i) pthread_create(&thread, NULL, until_the_end, NULL);
        pause_ms(2);
    }
    if (!strcmp(name, "stopped")) {
        prof_stop();
        PROFILE_MARK("after the stop");
        prof_reset();
        PROFILE_MARK("after the reset");
    }
    return 7;
}

/* Runs this program as a child of that name and reads what it left in a file with this extension. */
static prof_trace *child_trace(const char *program, const char *name, const char *extension, int status)
{
    char file[64], variable[256];
    int result = 0;
    snprintf(file, sizeof file, "places_%s%s", name, extension);
    const char *path = trace_path(file);
    snprintf(variable, sizeof variable, "%s", path);
    unlink(path);
    pid_t process = fork();
    if (!process) {
        setenv("PROF_OUTPUT", variable, 1);
        setenv("PROF_BUFFER", "2M", 1);
        execl(program, program, "child", name, (char *)NULL);
        _exit(99);
    }
    CHECK(waitpid(process, &result, 0) == process);
    CHECK_EQUAL(WIFEXITED(result) ? WEXITSTATUS(result) : -WTERMSIG(result), status);
    return strcmp(extension, ".prof") ? NULL : trace_open_file(path);
}

static const char *self_path(void) { return "/proc/self/exe"; }

static void check_end(const char *name, int status, int complete, int exit_handler, unsigned flags)
{
    char file[64];
    size_t size = 0;
    prof_trace *left = child_trace(self_path(), name, ".prof", status);
    if (!left) return;
    CHECK_EQUAL(prof_trace_about(left)->complete, complete);
    trace_list list = trace_read(left, 0);
    CHECK_EQUAL(trace_count(&list, "main of the child"), 1);
    CHECK_EQUAL(trace_count(&list, "exit handler"), exit_handler);
    const prof_event *event = trace_find(&list, "main of the child");
    if (event) CHECK_EQUAL(event->flags, flags);
    if (test_failures) printf("  child %s\n", name);
    trace_free(&list);
    prof_trace_close(left);
    if (status < 0 || !strcmp(name, "_exit")) return; /* nothing runs that could write a text */
    child_trace(self_path(), name, ".csv", status);
    snprintf(file, sizeof file, "places_%s.csv", name);
    char *text = trace_file_text(trace_path(file), &size);
    CHECK((text && strstr(text, "main of the child")) || !complete);
    free(text);
}

TEST(ways_to_end)
{
    if (access(self_path(), X_OK)) SKIP("no /proc/self/exe");
    check_end("return", 7, 1, 1, 0);
    check_end("exit", 7, 1, 1, PROF_TRUNCATED_END);
    check_end("_exit", 7, 0, 0, PROF_TRUNCATED_END);
    check_end("abort", -SIGABRT, 0, 0, PROF_TRUNCATED_END);
    check_end("kill", -SIGKILL, 0, 0, PROF_TRUNCATED_END);
#if defined(__GLIBC__)
    check_end("quick_exit", 7, 0, 1, PROF_TRUNCATED_END);
#endif
    check_end("threads", 7, 1, 1, 0);
    check_end("stopped", 7, 1, 0, PROF_TRUNCATED_END);
}

TEST(main_leaves_first)
{
    if (access(self_path(), X_OK)) SKIP("no /proc/self/exe");
    prof_trace *left = child_trace(self_path(), "pthread_exit", ".prof", 7);
    if (!left) return;
    CHECK_EQUAL(prof_trace_about(left)->complete, 1);
    size_t found = 0, handlers = 0;
    for (size_t i = 0; i < prof_trace_track_count(left); ++i) {
        trace_list list = trace_read(left, i);
        found += trace_count(&list, "after main's end");
        handlers += trace_count(&list, "exit handler");
        trace_free(&list);
    }
    CHECK_EQUAL(found, 1);
    CHECK_EQUAL(handlers, 1);
    prof_trace_close(left);
}

int main(int argc, char **argv)
{
    if (argc == 3 && !strcmp(argv[1], "child")) return child(child_name = argv[2]);
    unsetenv("PROF_OUTPUT");
    return test_run(argc, argv);
}
