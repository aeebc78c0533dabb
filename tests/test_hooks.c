/* The cost of recording in the summary: scopes that were removed count, also in chunks that were reused, and calls of
   functions count with the cost of the hooks of -finstrument-functions, which are called here by hand. */
/* run: valgrind unraced unchecked */
#define PROF_IMPLEMENTATION
#define PROF_INSTRUMENT_FUNCTIONS
#define PROF_INSTRUMENT_MAX 4
#include "../prof_read.h"
#include "test.h"
#include "trace.h"
#include <pthread.h>
#include <setjmp.h>
#include <unistd.h>

void __cyg_profile_func_enter(void *function, void *caller);
void __cyg_profile_func_exit(void *function, void *caller);

static prof_trace *trace;
static char summary_text[20000];

static void stop_and_read(void)
{
    CHECK_EQUAL(prof_stop(), PROF_OK);
    CHECK_EQUAL(prof_trace_open_live(&trace), PROF_OK);
    if (!trace) exit(1);
}

static void done(void)
{
    prof_trace_close(trace);
    trace = NULL;
}

static int summary_add(void *user, const void *data, size_t size)
{
    size_t used = strlen(summary_text);
    (void)user;
    if (used + size >= sizeof summary_text) return 1;
    memcpy(summary_text + used, data, size);
    summary_text[used + size] = 0;
    return 0;
}

static const char *summary(void)
{
    prof_sink sink = {summary_add, NULL};
    summary_text[0] = 0;
    CHECK_EQUAL(prof_summary_stream(trace, sink, NULL), PROF_OK);
    return summary_text;
}

static void says(const char *what)
{
    if (!strstr(summary(), what)) CHECK_TEXT(summary_text, what);
}

enum { TOO_SHORT = 1000, MARKS = 20000, THREADS = 3 };

/* Much is taken back, while the marks fill the buffer several times. */
static void *take_back(void *unused)
{
    for (int i = 0; i < MARKS; ++i) {
        PROFILE_MARK("mark");
        if (i % (MARKS / TOO_SHORT)) continue;
        PROFILE_SCOPE("short");
    }
    return unused;
}

static void take_back_in(prof_mode mode, const char *output)
{
    prof_config config = trace_config(128u << 10);
    pthread_t threads[THREADS];
    config.min_duration_ns = 3600u * 1000000000ull;
    config.mode = mode;
    config.output = output;
    trace_start(&config);
    for (int i = 0; i < THREADS; ++i) pthread_create(&threads[i], NULL, take_back, NULL);
    for (int i = 0; i < THREADS; ++i) pthread_join(threads[i], NULL);
}

TEST(what_was_taken_back_is_counted)
{
    take_back_in(PROF_RING, NULL);
    stop_and_read();
    CHECK(prof_trace_about(trace)->overwritten_chunks > 0);
    CHECK_EQUAL(prof_trace_about(trace)->taken_back, THREADS * TOO_SHORT);
    says("3,000 removed by min_duration");
    done();
    take_back_in(PROF_STATS, NULL);
    stop_and_read();
    CHECK_EQUAL(prof_trace_about(trace)->lost, 0);
    CHECK_EQUAL(prof_trace_about(trace)->taken_back, THREADS * TOO_SHORT);
    done();
}

/* The file of a program that is running, or was killed. */
TEST(a_file_has_it_before_the_end)
{
    const char *path = trace_path("hooks.prof");
    take_back_in(PROF_RING, path);
    prof_trace *half = NULL;
    CHECK_EQUAL(prof_trace_open(path, &half), PROF_OK);
    if (half) CHECK_EQUAL(prof_trace_about(half)->taken_back, THREADS * TOO_SHORT);
    if (half) CHECK(!prof_trace_about(half)->complete);
    prof_trace_close(half);
    stop_and_read();
    CHECK_EQUAL(prof_trace_about(trace)->taken_back, THREADS * TOO_SHORT);
    done();
    remove(path);
}

TEST(nothing_is_taken_back_without_a_minimum)
{
    prof_config config = trace_config(128u << 10);
    trace_start(&config);
    take_back(NULL);
    stop_and_read();
    CHECK_EQUAL(prof_trace_about(trace)->taken_back, 0);
    CHECK(!strstr(summary(), "taken back"));
    done();
}

/* Functions that there are not. */
static char functions[8];

static void call(int function, int depth)
{
    __cyg_profile_func_enter(&functions[function], NULL);
    if (depth > 1) call((function + 1) % 8, depth - 1);
    __cyg_profile_func_exit(&functions[function], NULL);
}

/* The price of a call was found by calling: nothing of that is in the trace, nor in the table of functions. */
TEST(calls_have_a_price_of_their_own)
{
    for (int session = 0; session < 2; ++session) {
        prof_config config = trace_config(1 << 20);
        trace_start(&config);
        const prof__function *measured = &prof__functions[PROF_INSTRUMENT_MAX];
        CHECK(measured->address == (uintptr_t)&prof__call_measured);
        CHECK_EQUAL(measured->site.private_state, 0);
        CHECK_EQUAL(prof__thread_calls.depth, 0);
        for (int i = 0; i < 50; ++i) call(i % 8, 1 + i % 5);
        PROFILE_BLOCK("macro") call(0, 1);
        stop_and_read();
        const prof_trace_info *about = prof_trace_about(trace);
        CHECK(about->call_cost_ns >= about->scope_cost_ns && about->scope_cost_ns > 0);
        CHECK_EQUAL(trace->header.call_x1000 > 0, 1);
        CHECK(trace->header.format_x1000 >= trace->header.cost_ticks_x1000);
        CHECK_EQUAL(about->taken_back, 0);
        CHECK_EQUAL(about->event_count, 50 * 3 + 2);
        CHECK_EQUAL(prof__function_count, PROF_INSTRUMENT_MAX);
        CHECK(strstr(summary(), " a call, ") && strstr(summary_text, " for 1 scope, 151 calls, "));
        done();
    }
}

TEST(calls_that_are_taken_back_are_counted)
{
    prof_config config = trace_config(1 << 20);
    config.min_duration_ns = 3600u * 1000000000ull;
    trace_start(&config);
    for (int i = 0; i < 500; ++i) call(i % 8, 4);
    stop_and_read();
    CHECK_EQUAL(prof_trace_about(trace)->taken_back, 2000);
    says("2,000 removed by min_duration");
    done();
}

/* A function that a longjmp() leaves, and another one that returns. Each is called again and again in the same frame. */
static jmp_buf back;
static __attribute__((__noinline__)) void left(int which)
{
    __cyg_profile_func_enter(&functions[which], __builtin_return_address(0));
    longjmp(back, 1);
}
static __attribute__((__noinline__)) void returns(int which)
{
    __cyg_profile_func_enter(&functions[which], __builtin_return_address(0));
    __asm__ volatile("" ::: "memory");
    __cyg_profile_func_exit(&functions[which], __builtin_return_address(0));
}

TEST(calls_that_longjmp_leaves_in_a_loop)
{
    enum { ROUNDS = 5000 };
    prof_config config = trace_config(4 << 20);
    volatile int i;
    trace_start(&config);
    for (i = 0; i < ROUNDS; ++i) {
        if (!setjmp(back)) left(0);
        CHECK(prof__thread_calls.depth <= 2);
        returns(1);
    }
    stop_and_read();
    CHECK_EQUAL(prof_trace_about(trace)->lost, 0);
    CHECK_EQUAL(prof_trace_about(trace)->event_count, 2 * ROUNDS);
    trace_list list = trace_read(trace, 0);
    for (size_t at = 0; at < list.count; ++at) CHECK(list.events[at].depth <= 1); /* 1: as the manual says */
    trace_free(&list);
    done();
}

/* Functions that are inlined into one another, in a loop, too: they share a frame, and all of them return. */
static __attribute__((__always_inline__)) inline void inlined(int which, int depth, void *caller)
{
    __cyg_profile_func_enter(&functions[which], caller);
    if (depth > 1)
        for (int i = 0; i < 2; ++i) {
            __cyg_profile_func_enter(&functions[which + 1], caller);
            returns(which + 2);
            __cyg_profile_func_exit(&functions[which + 1], caller);
        }
    __cyg_profile_func_exit(&functions[which], caller);
}
static __attribute__((__noinline__)) void with_inlined(void)
{
    void *caller = __builtin_return_address(0);
    __cyg_profile_func_enter(&functions[0], caller);
    inlined(1, 2, caller);
    inlined(1, 1, caller);
    __cyg_profile_func_exit(&functions[0], caller);
}

TEST(inlined_functions_nest)
{
    static const uint32_t depths[] = {0, 1, 2, 3, 2, 3, 1};
    prof_config config = trace_config(1 << 20);
    trace_start(&config);
    for (int i = 0; i < 100; ++i) with_inlined();
    CHECK_EQUAL(prof__thread_calls.depth, 0);
    stop_and_read();
    trace_list list = trace_read(trace, 0);
    CHECK_EQUAL(list.count, 700);
    for (size_t at = 0; at < list.count; ++at) CHECK_EQUAL(list.events[at].depth, depths[at % 7]);
    trace_free(&list);
    done();
}

/* The start and the first lap of the buffer are in the price. Calls nested too deep are no reason for a larger buffer. */
TEST(the_start_has_its_price)
{
    prof_config config = trace_config(1 << 20);
    trace_start(&config);
    for (int i = 0; i < 20000; ++i) PROFILE_MARK("mark");
    stop_and_read();
    const prof_trace_info *about = prof_trace_about(trace);
    CHECK(about->start_cost_ns > 0);
#ifdef __linux__
    CHECK(about->ready_cost_ns > 0);
#endif
    says(" for the start, ");
    trace->info.start_cost_ns = 1e6;
    trace->info.ready_cost_ns = 2e6;
    trace->info.scope_cost_ns = 1e-9;
    trace->info.duration_ns = 9000000;
    says("1.000 ms for the start, 2.000 ms for memory, 30.0 % of the run");
    done();
    trace_start(&config);
    call(0, PROF_INSTRUMENT_DEPTH + 3);
    stop_and_read();
    CHECK_EQUAL(prof_trace_about(trace)->lost, 3);
    CHECK_EQUAL(prof_trace_about(trace)->lost_deep, 3);
    says("3 events lost because too many PROFILE_BEGINs, ranges or calls were open");
    done();
}

/* The price of what was taken back, of formats, of what is no scope: by numbers that the clock has no part in. */
TEST(each_has_its_price)
{
    prof_config config = trace_config(1 << 20);
    trace_start(&config);
    for (int i = 0; i < 10; ++i) {
        PROFILE_BLOCK("plain") PROFILE_ARG_I("i", i);
        PROFILE_SCOPE_F("job %d", i);
        PROFILE_SCOPE_DYNAMIC("text");
        PROFILE_MARK("mark");
        PROFILE_SPAN_BEGIN("span", 1);
    }
    call(0, 1);
    stop_and_read();
    prof__stat_rows all;
    CHECK_EQUAL(prof__stat_rows_make(trace, 0, &all), PROF_OK);
    CHECK_EQUAL(all.uses.formats, 10);
    CHECK_EQUAL(all.uses.texts, 10);
    CHECK_EQUAL(all.uses.marks, 10);
    CHECK_EQUAL(all.uses.objects, 10);
    CHECK_EQUAL(all.uses.values, 20);
    trace->header.cost_ticks_x1000 = 1000;
    trace->header.format_x1000 = 4000;
    trace->header.text_x1000 = 2000;
    trace->info.scope_cost_ns = 1;
    trace->info.call_cost_ns = 5;
    trace->info.taken_back = 100;
    prof__cost cost = prof__cost_of(trace, &all);
    CHECK_EQUAL(cost.scopes, 30);
    CHECK_EQUAL(cost.calls, 1);
    CHECK_EQUAL(cost.others, 20);
    CHECK(!cost.about);
    CHECK_EQUAL(cost.ns * 10 + 0.5, (10 + 10 * 4 + 10 * 2 + 10 * 0.7 + 10 * 0.9 + 20 * 0.175 + 5 + 100 * 5) * 10);
    trace->info.overwritten_chunks = trace->info.buffer_size / trace->info.chunk_size; /* as much again */
    trace->info.taken_back = 0;
    cost = prof__cost_of(trace, &all);
    CHECK(cost.about);
    CHECK_EQUAL(cost.ns * 10 + 0.5, (10 + 10 * 4 + 10 * 2 + 10 * 0.7 + 10 * 0.9 + 20 * 0.175 + 5) * 2 * 10);
    prof__stat_rows_free(&all);
    done();
}

/* Statistics count the same. */
TEST(statistics_have_the_prices)
{
    prof_config config = trace_config(1 << 20);
    config.mode = PROF_STATS;
    trace_start(&config);
    for (int i = 0; i < 10; ++i) {
        PROFILE_BLOCK("plain") PROFILE_ARG_I("i", i);
        PROFILE_SCOPE_F("job %d", i);
        PROFILE_SCOPE_DYNAMIC("text");
        PROFILE_MARK("mark");
        PROFILE_SPAN_BEGIN("span", 1);
        PROFILE_LOG(PROF_LOG_INFO, "%d", i);
    }
    stop_and_read();
    CHECK_EQUAL(trace->uses.formats, 10);
    CHECK_EQUAL(trace->uses.texts, 10);
    CHECK_EQUAL(trace->uses.marks, 20);
    CHECK_EQUAL(trace->uses.objects, 10);
    CHECK_EQUAL(trace->uses.values, 30);
    done();
}

TEST_MAIN
