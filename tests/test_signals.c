/* Macros in signal handlers: whatever they interrupt, nothing is corrupted, and each event is recorded or counted. */
/* run: long optimised */
#include "../prof_read.h"
#include "test.h"
#include "trace.h"
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

static prof_trace *trace;

static uint64_t attempts, handled; /* counted by a thread and by the handler that interrupts it */
/* bits: 1 scope and argument, 2 mark, 4 counter, 8 string, 16 begin and end, 32 nest */
static volatile int handler_does;
static pthread_t target;

/* So many handlers record in a session, which a buffer of 8 MB has room for. The sender may be faster than they are. */
enum { MOST_HANDLED = 10000 };

static void attempt(uint64_t count) { __atomic_fetch_add(&attempts, count, __ATOMIC_RELAXED); }

static void do_in_handler(int what)
{
    if (what & 1) {
        PROFILE_SCOPE("handler");
        PROFILE_ARG_U("number", handled);
        attempt(2);
    }
    if (what & 2) {
        PROFILE_MARK("handler mark");
        attempt(1);
    }
    if (what & 4) {
        PROFILE_COUNTER("handler counter", -1);
        attempt(1);
    }
    if (what & 8) {
        PROFILE_SCOPE_DYNAMIC("handler text");
        PROFILE_ARG_S("text", "of several words in the handler");
        attempt(2);
    }
    if (what & 16) {
        PROFILE_BEGIN("handler begin");
        PROFILE_END("handler begin");
    }
}

static void handler(int number)
{
    int before = errno;
    if (!pthread_equal(pthread_self(), target)) return; /* a timer's signal may hit any thread */
    if (__atomic_fetch_add(&handled, 1, __ATOMIC_RELAXED) >= MOST_HANDLED) return;
    do_in_handler(handler_does);
    if (handler_does & 32 && number == SIGUSR1) {
        PROFILE_SCOPE("around a signal");
        attempt(1);
        pthread_kill(target, SIGUSR2); /* delivered at once, in the middle of this scope */
    }
    errno = before;
}

static void handler_install(int flags)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART | flags;
    if (flags & SA_ONSTACK) sigfillset(&action.sa_mask); /* the stack has room for one handler */
    target = pthread_self();
    sigaction(SIGUSR1, &action, NULL);
    sigaction(SIGUSR2, &action, NULL);
    sigaction(SIGALRM, &action, NULL);
}

/* Signals from two sides: a timer of 10 kHz, and a thread that sends them as fast as it can. */
static timer_t timer;
static int timer_made, sender_over, to_any_thread;
static pthread_t sender;

static void *send_signals(void *unused)
{
    while (!__atomic_load_n(&sender_over, __ATOMIC_ACQUIRE)) {
        if (to_any_thread)
            kill(getpid(), SIGUSR1);
        else
            pthread_kill(target, SIGUSR1);
        for (volatile int i = 0; i < 1000; ++i) continue;
    }
    return unused;
}

static void signals_start(void)
{
    struct sigevent event;
    struct itimerspec period;
    sigset_t all, before;
    memset(&event, 0, sizeof event);
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = SIGALRM;
    timer_made = !timer_create(CLOCK_MONOTONIC, &event, &timer);
    memset(&period, 0, sizeof period);
    period.it_interval.tv_nsec = period.it_value.tv_nsec = 100000;
    if (timer_made) timer_settime(timer, 0, &period, NULL);
    __atomic_store_n(&sender_over, 0, __ATOMIC_RELEASE);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* the sender is not to be interrupted itself */
    pthread_create(&sender, NULL, send_signals, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void signals_stop(void)
{
    __atomic_store_n(&sender_over, 1, __ATOMIC_RELEASE);
    pthread_join(sender, NULL);
    if (timer_made) timer_delete(timer);
}

/* What the main thread does; the handler interrupts it anywhere. */
static void work(int64_t number)
{
    PROFILE_SCOPE("outer");
    PROFILE_ARG_I("number", number);
    attempt(2);
    PROFILE_BLOCK("inner")
    {
        PROFILE_COUNTER("counter", number);
        attempt(2);
    }
    if (number % 16 == 0) {
        PROFILE_MARK_F("mark %d", (int)number);
        PROFILE_ARG_S("text", "of several words in the program");
        attempt(2);
    }
}

/* Scopes of work in the order of their numbers and whole; what was lost is missing, which makes gaps. Returns the
   number of events and arguments. */
static uint64_t check_work(int64_t *newest)
{
    uint64_t recorded = 0;
    int64_t last = -1;
    for (size_t track = 0; track < prof_trace_track_count(trace); ++track) {
        trace_list list = trace_read(trace, track);
        for (size_t i = 0; i < list.count && test_failures < 20; ++i) {
            const prof_event *event = &list.events[i];
            if (event->type == PROF_EVENT_LOST) continue;
            recorded += 1 + event->arg_count;
            CHECK(!event->flags || prof_trace_about(trace)->overwritten_chunks); /* the ring may have cut it */
            for (uint32_t k = 0; k < event->arg_count; ++k) {
                const prof_value *value = &event->args[k].value;
                if (value->type == PROF_VALUE_STRING)
                    CHECK(!strncmp(value->as.string, "of several words in the ", 24));
            }
            if (event->type == PROF_EVENT_COUNTER)
                CHECK(event->value.as.i == -1 || !strcmp(event->name, "counter"));
            if (strcmp(event->name, "outer")) continue;
            CHECK_EQUAL(event->depth, 0);
            const prof_value *number = trace_arg(event, "number");
            if (!number || number->type != PROF_VALUE_INT) continue;
            CHECK(number->as.i > last);
            last = number->as.i;
        }
        trace_free(&list);
    }
    if (newest) *newest = last;
    return recorded;
}

/* As many rounds as fit into half a second, and until there was a signal in one; in each all that is attempted is either
   there or counted. */
static void exactly(int what, const prof_config *config)
{
    double start = test_seconds(), end = start + (double)trace_times(2, 5, 600) / 10;
    uint64_t in_handlers = 0, lost = 0, rounds = 0;
    handler_does = 0;
    handler_install(0);
    signals_start();
    do {
        trace_start(config);
        handled = attempts = 0;
        handler_does = what;
        for (int64_t i = 0; i < 5000; ++i) work(i);
        handler_does = 0;
        in_handlers += handled;
        trace = trace_stop();
        int64_t newest = -1;
        uint64_t recorded = check_work(&newest);
        CHECK_EQUAL(newest, 4999);
        CHECK_EQUAL(recorded + prof_trace_about(trace)->lost + prof_trace_about(trace)->lost_args, attempts);
        CHECK_EQUAL(prof_trace_about(trace)->overwritten_chunks, 0);
        CHECK_EQUAL(prof_trace_about(trace)->unmatched, 0);
        CHECK_EQUAL(prof_trace_about(trace)->lost_busy, prof_trace_about(trace)->lost);
        lost += prof_trace_about(trace)->lost;
        prof_trace_close(trace);
        ++rounds;
    } while (!test_failures && (test_seconds() < end || (!in_handlers && TRACE_SANITIZER != 2 && test_seconds() < start + 100)));
    signals_stop();
    CHECK(in_handlers > 0 || TRACE_SANITIZER == 2);
    if (test_failures)
        printf("  handlers do %d: %lu rounds, %lu handlers, %lu lost\n", what, (unsigned long)rounds,
               (unsigned long)in_handlers, (unsigned long)lost);
    CHECK_EQUAL(prof_reset(), PROF_OK);
}

TEST(recorded_or_counted)
{
    prof_config config = trace_config(8u << 20);
    exactly(1 | 2 | 4 | 8, &config);
}

TEST(recorded_or_counted_with_nested_handlers)
{
    prof_config config = trace_config(8u << 20);
    exactly(1 | 2 | 32, &config);
}

TEST(recorded_or_counted_on_the_slow_path)
{
    prof_config config = trace_config(8u << 20);
    config.clock = PROF_CLOCK_MONOTONIC;
    exactly(1 | 2 | 4 | 8, &config);
}

/* A full buffer counts what a handler would have recorded. */
TEST(recorded_or_counted_in_a_full_buffer)
{
    prof_config config = trace_config(128u << 10);
    uint64_t recorded;
    config.mode = PROF_FILL;
    handler_does = 0;
    handler_install(0);
    signals_start();
    for (int round = 0; round < trace_times(2, 10, 20) && !test_failures; ++round) {
        trace_start(&config);
        handled = attempts = 0;
        handler_does = 15;
        for (int64_t i = 0; i < 20000; ++i) work(i);
        handler_does = 0;
        trace = trace_stop();
        recorded = check_work(NULL);
        CHECK_EQUAL(recorded + prof_trace_about(trace)->lost + prof_trace_about(trace)->lost_args, attempts);
        CHECK_EQUAL(prof_trace_about(trace)->unmatched, 0);
        prof_trace_close(trace);
    }
    signals_stop();
}

/* PROFILE_BEGIN and PROFILE_END keep a list per thread, which an interruption must not break. */
TEST(begin_and_end_on_both_sides)
{
    prof_config config = trace_config(8u << 20);
    handler_install(0);
    handler_does = 0;
    signals_start();
    double end = test_seconds() + (double)trace_times(2, 5, 600) / 10;
    do {
        trace_start(&config);
        handled = 0;
        handler_does = 16;
        for (int i = 0; i < 50000; ++i) {
            PROFILE_BEGIN("a");
            PROFILE_BEGIN("b");
            PROFILE_END("b");
            PROFILE_END("a");
        }
        handler_does = 0;
        trace = trace_stop();
        trace_list list = trace_read(trace, 0);
        size_t begun = 0, truncated = 0;
        for (size_t i = 0; i < list.count; ++i) {
            begun += !strcmp(list.events[i].name, "a") || !strcmp(list.events[i].name, "b");
            truncated += list.events[i].flags != 0;
        }
        CHECK_EQUAL(begun, 100000);
        CHECK_EQUAL(truncated, 0);
        CHECK_EQUAL(prof_trace_about(trace)->unmatched, 0);
        trace_free(&list);
        prof_trace_close(trace);
    } while (!test_failures && test_seconds() < end);
    signals_stop();
    CHECK_EQUAL(prof_reset(), PROF_OK);
}

/* Starting and stopping, with all that they measure and write, under fire. */
TEST(control_functions_are_interrupted)
{
    prof_config config = trace_config(2u << 20);
    handler_install(0);
    handler_does = 15;
    signals_start();
    for (int i = 0; i < trace_times(8, 100, 5000) && !test_failures; ++i) {
        handled = 0;
        config.min_duration_ns = (uint64_t)(i % 2);
        trace_start(&config);
        for (int64_t k = 0; k < 200; ++k) work(k);
        CHECK_EQUAL(prof_pause(), PROF_OK);
        CHECK_EQUAL(prof_resume(), PROF_OK);
        CHECK_EQUAL(prof_set_level(3), PROF_OK);
        for (int64_t k = 200; k < 400; ++k) work(k);
        if (i % 20 == 0) CHECK_EQUAL(prof_save(trace_path("signals.csv")), PROF_OK);
        trace = trace_stop();
        int64_t newest = -1;
        check_work(&newest);
        /* else the handlers filled the ring */
        if (!prof_trace_about(trace)->overwritten_chunks) CHECK_EQUAL(newest, 399);
        CHECK_EQUAL(prof_trace_about(trace)->unmatched, 0);
        prof_trace_close(trace);
        if (test_failures) printf("  start %d\n", i);
    }
    signals_stop();
    handler_does = 0;
    CHECK_EQUAL(prof_reset(), PROF_OK);
}

static void *short_life(void *unused)
{
    for (int i = 0; i < 20; ++i) work(i);
    return unused;
}

static void any_thread_handler(int number)
{
    int before = errno;
    (void)number;
    PROFILE_SCOPE("handler");
    PROFILE_ARG_S("text", "of several words in the handler");
    errno = before;
}

/* Handlers that run while a thread begins or ends. */
TEST(threads_come_and_go_under_fire)
{
    struct sigaction action;
    prof_config config = trace_config(4u << 20);
    memset(&action, 0, sizeof action);
    action.sa_handler = any_thread_handler;
    action.sa_flags = SA_RESTART;
    sigaction(SIGALRM, &action, NULL);
    sigaction(SIGUSR1, &action, NULL);
    to_any_thread = 1;
    trace_start(&config);
    signals_start();
    double end = test_seconds() + (double)trace_times(2, 5, 600) / 10;
    do {
        pthread_t threads[8];
        sigset_t ours, before;
        sigemptyset(&ours);
        sigaddset(&ours, SIGALRM);
        sigaddset(&ours, SIGUSR1);
        for (int i = 0; i < 8; ++i) pthread_create(&threads[i], NULL, short_life, NULL);
        pthread_sigmask(SIG_BLOCK, &ours, &before); /* so that they get them */
        for (int i = 0; i < 8; ++i) pthread_join(threads[i], NULL);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    } while (test_seconds() < end);
    signals_stop();
    to_any_thread = 0;
    trace = trace_stop();
    CHECK_EQUAL(prof_trace_about(trace)->unmatched, 0);
    prof_trace_close(trace);
    CHECK_EQUAL(prof_reset(), PROF_OK);
}

/* On a stack of its own, as small as the system allows and a page. */
TEST(alternate_stack)
{
    stack_t stack, before;
    long least = 8192;
#ifdef _SC_MINSIGSTKSZ
    if (sysconf(_SC_MINSIGSTKSZ) > 4096) least = sysconf(_SC_MINSIGSTKSZ) + 4096;
#endif
    if (TRACE_SANITIZER) least = 256 << 10; /* their frames are larger */
    prof_config config = trace_config(4u << 20);
    memset(&stack, 0, sizeof stack);
    stack.ss_size = (size_t)least;
    stack.ss_sp = malloc(stack.ss_size);
    CHECK(!sigaltstack(&stack, &before));
    exactly(0, &config);
    handler_install(SA_ONSTACK);
    trace_start(&config);
    signals_start();
    handled = attempts = 0;
    handler_does = 15;
    for (int64_t i = 0; i < 20000; ++i) work(i);
    handler_does = 0;
    signals_stop();
    trace = trace_stop();
    uint64_t recorded = check_work(NULL);
    CHECK_EQUAL(recorded + prof_trace_about(trace)->lost + prof_trace_about(trace)->lost_args, attempts);
    prof_trace_close(trace);
    before.ss_flags = SS_DISABLE;
    CHECK(!sigaltstack(&before, NULL));
    free(stack.ss_sp);
}

TEST_MAIN
