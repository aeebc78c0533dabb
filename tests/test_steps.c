/* A signal handler with scopes between any two instructions of any macro. The processor's trap flag makes a signal of
   each instruction; the handler records at one of them, then the macro is run again for the next one, and so on. */
/* run: long unraced unchecked */
#define PROF_IMPLEMENTATION
#define PROF_CHUNK_SIZE 1024 /* so that many of the macros meet the end of a chunk */
#include "../prof_read.h"
#include "test.h"
#include "trace.h"
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <ucontext.h>

#if defined(__x86_64__) && defined(__linux__)

static volatile long steps, strike; /* instructions so far; at which one the handler records */
static volatile int handler_does;
static uint64_t attempts;

static void do_in_handler(int what)
{
    if (what & 1) {
        PROFILE_SCOPE("handler");
        PROFILE_ARG_U("number", 7);
        PROFILE_BLOCK("handler inner") PROFILE_MARK("handler mark");
        PROFILE_ARG_S("text", "of several words");
        attempts += 5;
    }
    if (what & 2) {
        PROFILE_BEGIN("handler begin");
        PROFILE_BEGIN("handler begin 2");
        PROFILE_END("handler begin 2");
        PROFILE_END("handler begin");
    }
    if (what & 32) PROFILE_BEGIN("left open");
    if (what & 4) /* much of it: takes new chunks */
        for (int i = 0; i < 40; ++i) {
            PROFILE_SCOPE("handler many");
            PROFILE_COUNTER("handler counter", -1);
            attempts += 2;
        }
}

/* Another thread restarts the recorder while the handler waits; call sites are numbered in another order there. */
static int restart_asked, restart_done;

static void *restarts(void *unused)
{
    prof_config config = trace_config(128u << 10);
    for (int seen = 0, asked; (asked = __atomic_load_n(&restart_asked, __ATOMIC_ACQUIRE)) >= 0;) {
        if (asked == seen) {
            pause_us(20);
            continue;
        }
        prof_stop();
        prof_start(&config);
        PROFILE_MARK("other 1");
        PROFILE_MARK("other 2");
        PROFILE_MARK("other 3");
        seen = asked;
        __atomic_store_n(&restart_done, seen, __ATOMIC_RELEASE);
    }
    return unused;
}

static void restart_elsewhere(void)
{
    if (__atomic_load_n(&prof__lock_word, __ATOMIC_ACQUIRE)) return; /* held by what is interrupted: it would wait */
    int wanted = restart_asked + 1;
    __atomic_store_n(&restart_asked, wanted, __ATOMIC_RELEASE);
    WAIT_UNTIL(__atomic_load_n(&restart_done, __ATOMIC_ACQUIRE) == wanted);
}

/* What others may reuse is lost if this thread is stopped here while they come round the ring: so the number that was
   recorded last, or what was recorded after it, must be in a chunk that is the thread's. */
static struct {
    int on;
    int64_t number;    /* of the newest counter whose macro has returned; 0: none */
    uint64_t sequence; /* of the chunk that it is in */
    long gone, steps;  /* instructions at which nothing of it was safe; all */
} watch;

static int is_safe_in(const prof__chunk *chunk)
{
    const uint64_t *words = prof__chunk_first(chunk);
    size_t count = (size_t)prof__state.session->chunk_words, length;
    for (size_t at = 0; at < count && (length = prof__record_words(words[at], count - at)) != 0; at += length) {
        uint64_t kind = words[at] >> PROF__KIND_SHIFT;
        if (chunk->sequence == watch.sequence && kind == PROF__KIND_COUNTER_INT &&
            words[at + 1] == (uint64_t)watch.number)
            return 1;
        if (chunk->sequence > watch.sequence && kind != PROF__KIND_TRACK) return 1;
    }
    return 0;
}

static void watch_look(void)
{
    const prof__session *s = prof__state.session;
    int safe = 0;
    for (uint64_t slot = 0; slot < s->chunk_count && !safe; ++slot) {
        const prof__chunk *chunk = (const prof__chunk *)(const void *)(s->chunks + slot * s->chunk_size);
        uint32_t state = PROF__LOAD(&chunk->state);
        safe = (state == PROF__CHUNK_OWNED || state == PROF__CHUNK_HELD) && chunk->sequence && is_safe_in(chunk);
    }
    watch.gone += !safe;
    ++watch.steps;
}

static void on_trap(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)info;
    if (watch.on) watch_look();
    if (++steps != strike) return;
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] &= ~0x100; /* the rest at full speed */
    if (handler_does & 8) restart_elsewhere();
    do_in_handler(handler_does);
}

/* The stack below the pointer may be in use (the red zone). */
static inline void trap_on(void)
{
    __asm__ volatile("lea -128(%%rsp), %%rsp\n\tpushfq\n\torq $0x100, (%%rsp)\n\tpopfq\n\tlea 128(%%rsp), %%rsp" ::
                         : "memory", "cc");
}
static inline void trap_off(void)
{
    __asm__ volatile("lea -128(%%rsp), %%rsp\n\tpushfq\n\tandq $~0x100, (%%rsp)\n\tpopfq\n\tlea 128(%%rsp), %%rsp" ::
                         : "memory", "cc");
}

static int trap_works(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = on_trap;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGTRAP, &action, NULL);
    steps = 0;
    trap_on();
    trap_off();
    return steps > 2;
}

/*-- what is interrupted: each operation returns how many events and arguments it attempts --*/

static uint64_t op_scope(void)
{
    PROFILE_SCOPE("scope");
    return 1;
}
static uint64_t op_argument(void)
{
    PROFILE_ARG_I("i", 1);
    return 1;
}
static uint64_t op_string(void)
{
    PROFILE_ARG_S("s", "a text of several words");
    return 1;
}
static uint64_t op_counter(void)
{
    PROFILE_COUNTER("counter", 2);
    return 1;
}
static uint64_t op_mark(void)
{
    PROFILE_MARK("mark");
    return 1;
}
static uint64_t op_text(void)
{
    PROFILE_SCOPE_DYNAMIC("made at run time");
    return 1;
}
static uint64_t op_format(void)
{
    PROFILE_MARK_F("mark %s", "text");
    return 1;
}
static uint64_t op_stages(void)
{
    PROFILE_STAGE("stage");
    PROFILE_NEXT("next");
    return 2;
}
static uint64_t op_begin_end(void)
{
    PROFILE_BEGIN("begin");
    PROFILE_END("begin");
    return 1;
}
static uint64_t op_thread_name(void)
{
    PROFILE_THREAD(strike & 1 ? "odd" : "even");
    return 0;
}
static uint64_t op_controls(void)
{
    prof_pause();
    prof_resume();
    prof_set_level(3);
    PROFILE_MARK("mark");
    return 1;
}

static uint64_t trapped(uint64_t (*op)(void), void (*before)(void), long step)
{
    if (before) before();
    steps = 0;
    strike = step;
    trap_on();
    uint64_t count = op();
    trap_off();
    strike = 0;
    return count;
}

/* Runs an operation (before: what is to happen without traps ahead of it) with the handler at each of its instructions
   or, as a trap costs up to 30 microseconds, at as many of a long one's as there is time for, at others each time. */
static void interrupt(uint64_t (*op)(void), void (*before)(void), int what, const prof_config *config)
{
    prof_trace *trace;
    long runs = 2;
    /* An END that comes to nothing may be counted, or not; in a pause nothing is. */
    int exact = op != op_begin_end && op != op_controls && !(what & 2);
    if (TRACE_SANITIZER == 2) SKIP("the thread sanitizer delays signals");
    if (!trap_works()) SKIP("no trap flag here");
    trace_start(config);
    attempts = 0;
    handler_does = what;
    attempts += op(); /* learns its call sites, which takes thousands of instructions */
    attempts += trapped(op, before, -1);
    long stride = steps * steps / 2 / trace_times(80, 500, 100000000) + 1;
    if (stride > steps / 7) stride = steps / 7 + 1;
    long last = steps, first = 1 + (long)(time(NULL) % stride);
    for (long step = first; step <= last; step += stride, ++runs) attempts += trapped(op, before, step);
    trace = trace_stop();
    uint64_t recorded = 0, begun = 0;
    for (size_t track = 0; track < prof_trace_track_count(trace); ++track) {
        trace_list list = trace_read(trace, track);
        for (size_t i = 0; i < list.count && test_failures < 20; ++i) {
            const prof_event *event = &list.events[i];
            if (event->type == PROF_EVENT_LOST) continue;
            recorded += 1 + event->arg_count;
            CHECK_EQUAL(event->flags, 0);
            begun += !strcmp(event->name, "begin");
            for (uint32_t k = 0; k < event->arg_count; ++k) {
                const prof_arg *arg = &event->args[k];
                if (!strcmp(arg->key, "i")) CHECK_EQUAL(arg->value.as.i, 1);
                if (!strcmp(arg->key, "number")) CHECK_EQUAL(arg->value.as.u, 7);
                if (!strcmp(arg->key, "text")) CHECK_TEXT(arg->value.as.string, "of several words");
                if (!strcmp(arg->key, "s")) CHECK_TEXT(arg->value.as.string, "a text of several words");
            }
        }
        trace_free(&list);
    }
    /* the arguments of the operations belong to no scope, so that they are all the trace has no place for */
    int orphans = op == op_argument || op == op_string;
    recorded += orphans ? prof_trace_about(trace)->unmatched : 0;
    if (!orphans) CHECK_EQUAL(prof_trace_about(trace)->unmatched, 0);
    CHECK_EQUAL(prof_trace_about(trace)->overwritten_chunks, 0);
    if (exact) CHECK_EQUAL(recorded + prof_trace_about(trace)->lost + prof_trace_about(trace)->lost_args, attempts);
    if (op == op_begin_end) CHECK_EQUAL(begun, runs);
    CHECK(runs > 5);
    if (test_failures) printf("  handler at instruction %ld and each %ld-th after it, of %ld\n", first, stride, last);
    prof_trace_close(trace);
}

/* Everybody has to look again at what is on. */
static void new_generation(void) { prof_set_level(2); }

static void interrupt_with(uint64_t (*op)(void), int what)
{
    prof_config config = trace_config(16u << 20);
    interrupt(op, NULL, what, &config);
    if (!trace_times(0, 1, 1)) return;
    if (!test_failures && !test_skip) interrupt(op, new_generation, what, &config);
    config.clock = PROF_CLOCK_MONOTONIC;
    if (!test_failures && !test_skip) interrupt(op, NULL, what, &config);
}

TEST(scope) { interrupt_with(op_scope, 1); }
TEST(scope_and_much_in_the_handler) { interrupt_with(op_scope, 4); }
TEST(argument) { interrupt_with(op_argument, 1); }
TEST(string) { interrupt_with(op_string, 1); }
TEST(counter) { interrupt_with(op_counter, 1); }
TEST(mark) { interrupt_with(op_mark, 4); }
TEST(text) { interrupt_with(op_text, 1); }
TEST(format) { interrupt_with(op_format, 1); }
TEST(stages) { interrupt_with(op_stages, 1); }
TEST(stages_and_much_in_the_handler) { interrupt_with(op_stages, 4); }
TEST(begin_and_end) { interrupt_with(op_begin_end, 1); }
TEST(begin_and_end_in_both) { interrupt_with(op_begin_end, 2); }
TEST(scope_and_begin_in_the_handler) { interrupt_with(op_scope, 2); }
/* A handler that takes the last place for a PROFILE_BEGIN when the one that it interrupts has found it free. */
TEST(begin_when_a_handler_takes_the_last_place)
{
    prof_config config = trace_config(16u << 20);
    if (TRACE_SANITIZER == 2) SKIP("the thread sanitizer delays signals");
    if (!trap_works()) SKIP("no trap flag here");
    trace_start(&config);
    prof_fiber *track = prof__track_of(PROF__SELF());
    handler_does = 32;
    for (uint32_t beyond = 0; beyond < 2; ++beyond) { /* the last place of the track's own; the first that is mapped */
        uint32_t open = (uint32_t)PROF__UNSCOPED_OWN - 1 + beyond;
        long last = 1, stride = beyond ? 97 : trace_times(16, 1, 1); /* a sanitizer makes many instructions of one */
        for (long step = -1; step <= last && !test_failures; step += step > 0 ? stride : 1) {
            prof__unscoped_release(track);
            track->unscoped_count = 0;
            for (uint32_t i = 0; i < open; ++i) PROFILE_BEGIN("filler");
            steps = 0;
            strike = step;
            if (step >= 0) trap_on(); /* the first one learns its call site */
            PROFILE_BEGIN("begin");
            trap_off();
            strike = 0;
            if (step <= 0) last = steps;
            CHECK(track->unscoped_count == open + 1 || (step > 0 && track->unscoped_count == open + 2)); /* the handler's */
        }
        CHECK(last > 5);
    }
    track->unscoped_count = 0;
    CHECK_EQUAL(prof_stop(), PROF_OK);
}

TEST(thread_name) { interrupt_with(op_thread_name, 1); }
TEST(controls) { interrupt_with(op_controls, 1); }


/* A session ends and the next one begins between two instructions: what was begun in the old one is not in the new one,
   least of all under a wrong name. */
static void restart_within(uint64_t (*op)(void), const char *name)
{
    prof_config config = trace_config(128u << 10);
    pthread_t thread;
    long limit = trace_times(10, 30, 10000); /* the fast path is over by then */
    if (TRACE_SANITIZER == 2) SKIP("the thread sanitizer delays signals");
    if (!trap_works()) SKIP("no trap flag here");
    restart_asked = restart_done = 0;
    pthread_create(&thread, NULL, restarts, NULL);
    for (int does = 8; does <= 9; ++does) /* the handler itself records, or not */
        for (long step = 1, last = 1; step <= last && step < limit && !test_failures; ++step) {
            trace_start(&config);
            op(); /* learns its call sites */
            if (step == 1) {
                trapped(op, NULL, -1);
                last = steps;
            }
            handler_does = does;
            trapped(op, NULL, step);
            prof_trace *trace = trace_stop();
            for (size_t track = 0; track < prof_trace_track_count(trace); ++track) {
                trace_list list = trace_read(trace, track);
                for (size_t i = 0; i < list.count; ++i) {
                    const prof_event *event = &list.events[i];
                    CHECK(!strcmp(event->name, name) || !strncmp(event->name, "handler", 7) ||
                          !strncmp(event->name, "other", 5));
                    CHECK_EQUAL(event->type == PROF_EVENT_MARK, strstr(event->name, "mark") || strstr(event->name, "other"));
                    CHECK_EQUAL(event->flags, 0);
                    if (test_failures) printf("  event %s\n", event->name);
                }
                trace_free(&list);
            }
            CHECK_EQUAL(prof_trace_about(trace)->unmatched, 0);
            prof_trace_close(trace);
            if (test_failures) printf("  restarted at instruction %ld of %ld, handler does %d\n", step, last, does);
        }
    __atomic_store_n(&restart_asked, -1, __ATOMIC_RELEASE);
    pthread_join(thread, NULL);
    CHECK_EQUAL(prof_reset(), PROF_OK);
}

/* Operations that meet the end of a chunk at each place in turn. */
static void watch_newest(uint64_t (*op)(void), const prof_config *config, prof_fiber *fiber)
{
    prof__thread *self = PROF__SELF();
    uint64_t chunks = 0, owned = 0;
    trace_start(config);
    op();
    for (watch.number = 1; watch.number < trace_times(60, 60, 4000) && !test_failures; ++watch.number) {
        PROFILE_COUNTER("number", watch.number);
        chunks += watch.sequence != self->chunk->sequence;
        watch.sequence = self->chunk->sequence;
        watch.on = self->end - self->cursor < 9; /* a trap costs some microseconds */
        if (watch.on) trap_on();
        if (fiber) prof_fiber_switch(self->fiber ? NULL : fiber);
        op();
        trap_off();
        watch.on = 0;
        CHECK_EQUAL(watch.gone, 0);
    }
    for (uint64_t slot = 0; slot < prof__state.session->chunk_count; ++slot) {
        uint64_t at = slot * prof__state.session->chunk_size;
        uint32_t state = PROF__LOAD(&prof__crash_chunk(prof__state.session, at)->state);
        owned += state == PROF__CHUNK_OWNED || state == PROF__CHUNK_HELD;
    }
    CHECK(owned <= 2); /* it keeps no more */
    CHECK(chunks > 1);
    if (fiber) prof_fiber_switch(NULL);
    prof_trace_close(trace_stop());
}

TEST(the_newest_event_is_never_reusable)
{
    static uint64_t (*const ops[])(void) = {op_scope, op_counter, op_mark, op_text, op_format, op_stages, op_begin_end};
    prof_config config = trace_config(128u << 10);
    prof_fiber *fiber = prof_fiber_create("fiber");
    if (TRACE_SANITIZER == 2) SKIP("the thread sanitizer delays signals");
    if (!trap_works()) SKIP("no trap flag here");
    memset(&watch, 0, sizeof watch);
    for (size_t i = 0; i < sizeof ops / sizeof *ops && !test_failures; i += (size_t)trace_times(4, 1, 1)) {
        watch_newest(ops[i], &config, NULL);
        watch_newest(ops[i], &config, fiber);
        config.min_duration_ns = 1000000000; /* scopes are taken back, which leaves a new chunk as it was */
        watch_newest(ops[i], &config, NULL);
        config.min_duration_ns = 0;
        if (test_failures) printf("  operation %zu: %ld of %ld instructions\n", i, watch.gone, watch.steps);
    }
    CHECK(watch.steps > 1000);
    prof_fiber_destroy(fiber);
}

TEST(restart_within_a_scope) { restart_within(op_scope, "scope"); }
TEST(restart_within_a_mark) { restart_within(op_mark, "mark"); }
TEST(restart_within_begin_and_end) { restart_within(op_begin_end, "begin"); }
#endif

TEST_MAIN
