/* test_freestanding.c - boots freestanding_kernel.c, which records without an operating system, and reads the image
   that it leaves in a plain array. See there for how both are built. */
/* run: unraced unchecked */
#include "prof_read.h"

#include "freestanding_kernel.h"
#include "test.h"

#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#define IMAGE_SIZE ((size_t)4 << 20)
static uint64_t image[IMAGE_SIZE / 8 + 8]; /* the kernel's array: 64-byte aligned by image_start() */

static char *image_start(void)
{
    uintptr_t at = (uintptr_t)image;
    return (char *)image + (64 - at % 64) % 64;
}

static prof_trace *image_read(void)
{
    prof_trace *trace = NULL;
    prof_status status = prof_trace_open_memory(image_start(), IMAGE_SIZE, &trace);
    CHECK_EQUAL(status, PROF_OK);
    if (status) printf("%s\n", prof_error());
    return trace;
}

/* ---- one track as text: a line for each event, indented by its depth, with its arguments */

static char shown[8192];

static void show(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void show(const char *format, ...)
{
    size_t used = strlen(shown);
    va_list list;
    va_start(list, format);
    vsnprintf(shown + used, sizeof shown - used, format, list);
    va_end(list);
}

static void show_value(const prof_value *value)
{
    switch (value->type) {
    case PROF_VALUE_INT: show("%lld", (long long)value->as.i); break;
    case PROF_VALUE_UINT: show("%lluu", (unsigned long long)value->as.u); break;
    case PROF_VALUE_BOOL: show("%s", value->as.u ? "true" : "false"); break;
    case PROF_VALUE_POINTER: show("at %llx", (unsigned long long)value->as.u); break;
    case PROF_VALUE_DOUBLE: show("%g", value->as.d); break;
    case PROF_VALUE_STRING: show("'%s'%s", value->as.string, value->cut ? "..." : ""); break;
    case PROF_VALUE_NONE:
    default: show("none"); break;
    }
}

static void show_event(const prof_event *event)
{
    static const char *const types[] = {"", "mark ", "counter ", "frame ", "lost "};
    uint32_t i;
    for (i = 0; i < event->depth; ++i) show("  ");
    if (event->type == PROF_EVENT_FLOW_OUT) {
        show("flow %llu\n", (unsigned long long)event->object);
        return;
    }
    if (event->type == PROF_EVENT_LOG) {
        show("log %s\n", event->value.as.string);
        return;
    }
    show("%s%s", types[event->type], event->name);
    if (event->type == PROF_EVENT_COUNTER || event->type == PROF_EVENT_LOST) {
        show("=");
        show_value(&event->value);
    }
    for (i = 0; i < event->arg_count; ++i) {
        show(" %s=", event->args[i].key);
        show_value(&event->args[i].value);
    }
    if (event->flags & PROF_TRUNCATED_BEGIN) show(" without begin");
    if (event->flags & PROF_TRUNCATED_END) show(" without end");
    show("\n");
}

/* What of all events can be counted, and must hold whatever happened. */
typedef struct tally {
    unsigned long long scopes, marks, counters, args, truncated, lost_events;
    int64_t last_start;
} tally;

static tally walk(const prof_trace *trace, size_t track, int showing)
{
    tally sum = {0, 0, 0, 0, 0, 0, 0};
    int64_t ends[64]; /* of the scopes around an event */
    prof_cursor *cursor = NULL;
    prof_event event;
    shown[0] = 0;
    CHECK_EQUAL(prof_cursor_open(trace, track, &cursor), PROF_OK);
    while (cursor && prof_cursor_next(cursor, &event)) {
        CHECK(event.start_ns >= sum.last_start);
        CHECK(event.duration_ns >= 0);
        CHECK(event.depth < 64);
        if (event.depth && event.depth < 64 && event.type == PROF_EVENT_SCOPE)
            CHECK(event.start_ns + event.duration_ns <= ends[event.depth - 1]);
        if (event.depth < 64 && event.type == PROF_EVENT_SCOPE) ends[event.depth] = event.start_ns + event.duration_ns;
        sum.last_start = event.start_ns;
        sum.scopes += event.type == PROF_EVENT_SCOPE;
        sum.marks += event.type == PROF_EVENT_MARK || event.type == PROF_EVENT_LOG;
        sum.counters += event.type == PROF_EVENT_COUNTER;
        sum.lost_events += event.type == PROF_EVENT_LOST ? event.value.as.u : 0;
        if (event.type != PROF_EVENT_LOG) sum.args += event.arg_count;
        sum.truncated += event.flags != 0;
        if (showing) show_event(&event);
    }
    prof_cursor_close(cursor);
    return sum;
}

static void boot(int fill)
{
    memset(image, 0xee, sizeof image); /* what a kernel finds in its memory */
    kernel_run_on(0);
    CHECK_EQUAL(kernel_start(image_start(), IMAGE_SIZE, fill), PROF_OK);
}

TEST(every_macro)
{
    prof_trace *trace;
    const prof_trace_info *about;
    boot(0);
    CHECK_EQUAL(kernel_enabled(), 1);
    kernel_boot();
    CHECK_EQUAL(kernel_stop(), PROF_OK);
    CHECK_EQUAL(kernel_enabled(), 0);
    kernel_boot(); /* nobody records */
    trace = image_read();
    if (!trace) return;
    about = prof_trace_about(trace);
    CHECK_EQUAL(about->complete, 1);
    CHECK_EQUAL(about->lost, 0);
    CHECK_EQUAL(about->unmatched, 0);
    CHECK_EQUAL(about->tick_hz, KERNEL_HZ);
    CHECK_TEXT(about->clock, "user");
    CHECK_EQUAL(prof_trace_track_count(trace), 1);
    CHECK_TEXT(prof_trace_track(trace, 0)->name, "boot processor");
    CHECK_EQUAL(prof_trace_track(trace, 0)->thread_id, 0);
    walk(trace, 0, 1);
    CHECK_TEXT(shown, "kernel_boot\n"
                      "  boot memory=-1 pages=18446744073709551615u command line='root=/dev/ram0 quiet' secure=true "
                      "load=0.5\n"
                      "    drivers\n"
                      "      mark probed\n"
                      "      mark a name made at run time, longer than wha\n"
                      "    counter pages free=1000\n"
                      "    counter temperature=36.5\n"
                      "    frame tick\n"
                      "    loose\n"
                      "      stage 1\n"
                      "      stage 2\n"
                      "    %d is not formatted here\n");
    prof_trace_close(trace);
}

TEST(annotations)
{
    prof_trace *trace;
    boot(0);
    kernel_notes();
    CHECK_EQUAL(kernel_stop(), PROF_OK);
    trace = image_read();
    if (!trace) return;
    CHECK_EQUAL(prof_trace_about(trace)->lost, 0);
    walk(trace, 0, 1);
    CHECK_TEXT(shown, "masked\n"
                      "  step step_num=0\n"
                      "    copy bytes=65536u\n"
                      "      flow 1\n"
                      "      log page 0 of memory:  12.5 % at 0x1000, abc|-1\n"
                      "  step step_num=1\n"
                      "    copy bytes=65536u\n"
                      "      flow 2\n"
                      "      log page 1 of memory:  12.5 % at 0x1000, abc|-1\n");
    prof_trace_close(trace);
}

TEST(control)
{
    static uint64_t little[64];
    CHECK_EQUAL(kernel_stop(), PROF_INVALID_STATE);
    CHECK_EQUAL(kernel_start_without_memory(), PROF_INVALID_ARGUMENT);
    CHECK(strstr(kernel_error(), "config.memory"));
    CHECK_EQUAL(kernel_start(little, sizeof little, 0), PROF_INVALID_ARGUMENT);
    CHECK_TEXT(kernel_error(), "memory_size: must be at least 2112");
    CHECK_EQUAL(kernel_enabled(), 0);
    boot(0);
    CHECK_EQUAL(kernel_start(image_start(), IMAGE_SIZE, 0), PROF_INVALID_STATE);
    CHECK_EQUAL(kernel_pause(1), PROF_OK);
    CHECK_EQUAL(kernel_enabled(), 0);
    kernel_work(5);
    CHECK_EQUAL(kernel_pause(0), PROF_OK);
    CHECK_EQUAL(kernel_enabled(), 1);
    kernel_work(1);
    CHECK_EQUAL(kernel_stop(), PROF_OK);
    prof_trace *trace = image_read();
    if (!trace) return;
    walk(trace, 0, 1);
    CHECK_TEXT(shown, "work\n  inner work i=0u\n");
    prof_trace_close(trace);
}

static void move_to_another(void) { kernel_run_on(1); }

/* The task of a control function may be moved while it holds the lock: both processors record as before. */
TEST(control_on_two_processors)
{
    boot(0);
    kernel_work(1);
    kernel_run_on(1);
    kernel_work(1);
    kernel_run_on(0);
    kernel_interrupt_soon(move_to_another, 0);
    CHECK_EQUAL(kernel_stop(), PROF_OK); /* reads the clock under the lock */
    CHECK_EQUAL(kernel_start(image_start(), IMAGE_SIZE, 0), PROF_OK); /* by the other one */
    kernel_run_on(0);
    kernel_work(2);
    kernel_run_on(1);
    kernel_work(3);
    CHECK_EQUAL(kernel_stop(), PROF_OK);
    prof_trace *trace = image_read();
    if (!trace) return;
    CHECK_EQUAL(prof_trace_about(trace)->lost, 0);
    CHECK_EQUAL(prof_trace_track_count(trace), 2);
    CHECK_EQUAL(walk(trace, 0, 0).scopes, 6); /* the one that started it */
    CHECK_EQUAL(walk(trace, 1, 0).scopes, 4);
    prof_trace_close(trace);
    kernel_run_on(0);
}

TEST(memory_need_not_be_aligned)
{
    prof_trace *trace = NULL;
    memset(image, 0xee, sizeof image);
    kernel_run_on(0);
    CHECK_EQUAL(kernel_start(image_start() + 3, IMAGE_SIZE - 64, 0), PROF_OK);
    kernel_work(2);
    CHECK_EQUAL(kernel_stop(), PROF_OK);
    CHECK_EQUAL(prof_trace_open_memory(image_start() + 64, IMAGE_SIZE - 64 - 61, &trace), PROF_OK);
    if (!trace) return;
    walk(trace, 0, 1);
    CHECK_TEXT(shown, "work\n  inner work i=0u\nwork\n  inner work i=1u\n");
    prof_trace_close(trace);
}

TEST(a_running_kernel)
{
    boot(0);
    kernel_work(3);
    prof_trace *trace = image_read(); /* as out of a dump */
    if (!trace) return;
    CHECK_EQUAL(prof_trace_about(trace)->complete, 0);
    CHECK_EQUAL(walk(trace, 0, 0).scopes, 6);
    kernel_work(3);
    CHECK_EQUAL(walk(trace, 0, 0).scopes, 6); /* it is a copy */
    prof_trace_close(trace);
    CHECK_EQUAL(kernel_stop(), PROF_OK);
    trace = image_read();
    if (!trace) return;
    CHECK_EQUAL(walk(trace, 0, 0).scopes, 12);
    prof_trace_close(trace);
}

/* Threads that move between processors in the middle of a system call. */
TEST(threads_on_any_processor)
{
    size_t i;
    int threads = 0;
    boot(0);
    kernel_threads_make();
    for (i = 0; i < 300; ++i) {
        kernel_run_on((unsigned)(i % KERNEL_PROCESSORS));
        kernel_switch_to((unsigned)(i % KERNEL_THREADS));
        if (i / KERNEL_THREADS % 2)
            kernel_exit();
        else
            kernel_enter();
        kernel_one_mark();
        kernel_switch_to(KERNEL_THREADS);
    }
    kernel_run_on(0);
    CHECK_EQUAL(kernel_stop(), PROF_OK);
    prof_trace *trace = image_read();
    if (!trace) return;
    CHECK_EQUAL(prof_trace_about(trace)->lost, 0);
    CHECK_EQUAL(prof_trace_about(trace)->unmatched, 0);
    for (i = 0; i < prof_trace_track_count(trace); ++i) {
        const prof_track *track = prof_trace_track(trace, i);
        tally sum = walk(trace, i, 0);
        threads += track->fiber;
        CHECK_EQUAL(sum.scopes, track->fiber ? 38 : 0);
        CHECK_EQUAL(sum.marks, track->fiber ? 75 : 0);
        CHECK_EQUAL(sum.truncated, track->fiber); /* the last call has not ended */
        CHECK(!track->fiber || !strcmp(track->name, "init") || !strcmp(track->name, "shell") ||
              !strcmp(track->name, "network") || !strcmp(track->name, "idle"));
    }
    CHECK_EQUAL(threads, KERNEL_THREADS);
    prof_trace_close(trace);
}

/* Returns the track of a thread. */
static size_t thread_track(const prof_trace *trace, const char *name)
{
    size_t i;
    for (i = 0; i < prof_trace_track_count(trace); ++i)
        if (!strcmp(prof_trace_track(trace, i)->name, name)) return i;
    CHECK(!"there is a track of this name");
    return 0;
}

/* "init" makes a system call: it runs on processor 0, and on 1 after others have run. */
static void threads_that_wait(int tasks)
{
    boot(0);
    if (tasks) kernel_threads_are_tasks();
    kernel_threads_make();
    kernel_switch_to(0);
    kernel_enter();
    kernel_nap(5000); /* its first turn ends with this one */
    kernel_switch_to(1);
    kernel_pass(10);
    kernel_nap(3000);
    kernel_pass(20);
    kernel_switch_to(KERNEL_THREADS);
    kernel_run_on(1);
    kernel_switch_to(0);
    kernel_nap(2000);
    kernel_switch_to(2); /* which records nothing */
    kernel_pass(7000);
    kernel_switch_to(0);
    kernel_nap(1000);
    CHECK_EQUAL(kernel_pause(1), PROF_OK);
    kernel_switch_to(2); /* nobody sees this */
    kernel_pass(11000);
    kernel_switch_to(0);
    CHECK_EQUAL(kernel_pause(0), PROF_OK);
    kernel_nap(500);
    kernel_exit();
    kernel_switch_to(KERNEL_THREADS);
    kernel_run_on(0);
    CHECK_EQUAL(kernel_stop(), PROF_OK);
}

/* If a kernel says that its fibers are tasks, they ran from the first to the last record of each turn. What they did in
   between, nobody knows. */
TEST(tasks_run_in_their_turns)
{
    int tasks;
    for (tasks = 0; tasks < 2; ++tasks) {
        prof_cursor *cursor = NULL;
        prof_event event;
        prof_split call, nap;
        int64_t reached = 0;
        uint64_t apart = 0, naps = 0;
        size_t track, count = 0, i;
        threads_that_wait(tasks);
        prof_trace *trace = image_read();
        if (!trace) return;
        track = thread_track(trace, "init");
        memset(&call, 0, sizeof call);
        CHECK_EQUAL(prof_cursor_open(trace, track, &cursor), PROF_OK);
        while (prof_cursor_next(cursor, &event)) {
            if (event.type != PROF_EVENT_SCOPE) continue;
            CHECK_EQUAL(prof_event_split(trace, track, &event, &nap), PROF_OK);
            CHECK_EQUAL(nap.wall_ns, nap.running_ns + nap.ready_ns + nap.waiting_ns + nap.unknown_ns);
            if (strcmp(event.name, "nap")) {
                call = nap;
                continue;
            }
            CHECK_EQUAL(nap.running_ns, tasks ? nap.wall_ns : 0);
            CHECK_EQUAL(nap.switches, 0);
            if (naps++) apart += (uint64_t)(event.start_ns - reached);
            reached = event.start_ns + event.duration_ns;
        }
        prof_cursor_close(cursor);
        CHECK_EQUAL(naps, 4);
        CHECK(apart > (3000 + 7000 + 11000) * 1000ull && apart < (3000 + 7000 + 11000 + 100) * 1000ull);
        CHECK_EQUAL(call.unknown_ns, tasks ? apart : call.wall_ns);
        CHECK_EQUAL(call.running_ns, tasks ? call.wall_ns - apart : 0);
        CHECK_EQUAL(call.ready_ns + call.waiting_ns, 0);
        CHECK_EQUAL(call.switches, tasks ? 3 : 0);
        CHECK_EQUAL(call.migrations, (uint64_t)tasks);
        const prof_state *states = prof_track_states(trace, track, &count);
        CHECK_EQUAL(count, tasks ? 7 : 0);
        for (i = 0; i < count; ++i) {
            CHECK_EQUAL(states[i].kind, i % 2 ? PROF_STATE_UNKNOWN : PROF_STATE_RUNNING);
            CHECK_EQUAL(states[i].processor, i % 2 ? -1 : i > 0);
            CHECK(i == 0 || states[i].start_ns == states[i - 1].end_ns);
        }
        CHECK_EQUAL(call.wall_ns, call.running_ns + call.unknown_ns);
        prof_trace_close(trace);
    }
}

/* Returns what a thread did from its first event to its last one. */
static prof_split thread_split(const prof_trace *trace, const char *name)
{
    prof_split split;
    size_t track = thread_track(trace, name);
    const prof_track *about = prof_trace_track(trace, track);
    CHECK_EQUAL(prof_track_split(trace, track, about->first_ns, about->last_ns - about->first_ns, &split), PROF_OK);
    CHECK_EQUAL(split.wall_ns, split.running_ns + split.unknown_ns);
    return split;
}

/* A turn without a record may be at the end of a chunk, where it leaves no trace: the task's time before it and that
   after it are not one turn. A turn that goes on in another chunk is no switch. */
TEST(tasks_that_record_nothing)
{
    size_t i;
    boot(0);
    kernel_threads_are_tasks();
    kernel_threads_make();
    for (i = 0; i < 5000; ++i) {
        kernel_switch_to(0);
        kernel_nap(2);
        kernel_switch_to(2);
        kernel_pass(1000);
    }
    kernel_switch_to(1);
    kernel_work(5000);
    kernel_switch_to(KERNEL_THREADS);
    CHECK_EQUAL(kernel_stop(), PROF_OK);
    prof_trace *trace = image_read();
    if (!trace) return;
    prof_split init = thread_split(trace, "init"), shell = thread_split(trace, "shell");
    CHECK_EQUAL(init.running_ns, 5000 * 3 * 1000); /* two readings of the clock, 2 us apart */
    CHECK(init.unknown_ns > 4999 * 1000000ull);
    CHECK(init.switches > 4900 && init.switches < 5000);
    CHECK_EQUAL(shell.switches, 0);
    CHECK(shell.running_ns > shell.wall_ns / 10 * 9);
    prof_trace_close(trace);
}

TEST(processors)
{
    size_t i;
    boot(0);
    for (i = 0; i < 3 * KERNEL_PROCESSORS; ++i) {
        kernel_run_on((unsigned)(i % KERNEL_PROCESSORS));
        kernel_work((unsigned)(i % KERNEL_PROCESSORS) + 1);
    }
    kernel_run_on(0);
    CHECK_EQUAL(kernel_stop(), PROF_OK);
    prof_trace *trace = image_read();
    if (!trace) return;
    CHECK_EQUAL(prof_trace_track_count(trace), KERNEL_PROCESSORS);
    for (i = 0; i < prof_trace_track_count(trace); ++i) {
        CHECK_EQUAL(prof_trace_track(trace, i)->thread_id, i);
        CHECK_EQUAL(walk(trace, i, 0).scopes, 3 * (i + 1) * 2);
    }
    prof_trace_close(trace);
}

/* The clock is simulated, so these are exact: 1 MHz, some readings for the macros themselves. */
TEST(time)
{
    prof_cursor *cursor = NULL;
    prof_event event;
    boot(0);
    kernel_nap(5000);
    kernel_nap(1ull << 42); /* more ticks than a word has room for, inside a scope */
    kernel_work(1);
    CHECK_EQUAL(kernel_stop(), PROF_OK);
    prof_trace *trace = image_read();
    if (!trace) return;
    CHECK_EQUAL(prof_cursor_open(trace, 0, &cursor), PROF_OK);
    CHECK(prof_cursor_next(cursor, &event));
    CHECK(event.duration_ns >= 5000 * 1000ll && event.duration_ns < 5100 * 1000ll);
    CHECK(prof_cursor_next(cursor, &event));
    CHECK(event.duration_ns >= (1ll << 42) * 1000 && event.duration_ns < ((1ll << 42) + 100) * 1000);
    CHECK(prof_cursor_next(cursor, &event));
    CHECK_TEXT(event.name, "work");
    CHECK_EQUAL(event.flags, 0);
    CHECK(event.start_ns >= (1ll << 42) * 1000);
    CHECK(event.duration_ns < 100 * 1000);
    prof_cursor_close(cursor);
    prof_trace_close(trace);
}

/* ---- interrupts */

static void (*const one_macro[])(void) = {kernel_one_scope, kernel_one_mark, kernel_one_counter, kernel_one_text,
                                          kernel_one_message, kernel_one_step};
enum { STEP = 5 };

/* The clock is read while a mark, a counter or a name is being written: an interrupt that comes then records nothing,
   and its scope and its mark are counted. A scope reads it before it writes: then nothing is lost, whether its site is
   used for the first time or again; nor by a step, from the second time on. */
TEST(interrupt_inside_a_macro)
{
    int after, warm;
    size_t i;
    for (after = 0; after < 2; ++after)
        for (warm = 0; warm < 2; ++warm)
            for (i = 0; i < sizeof one_macro / sizeof *one_macro; ++i) {
                boot(0);
                if (warm) {
                    one_macro[i]();
                    kernel_interrupt();
                }
                kernel_interrupt_soon(kernel_interrupt, after);
                one_macro[i]();
                kernel_work(1); /* recording goes on */
                CHECK_EQUAL(kernel_stop(), PROF_OK);
                prof_trace *trace = image_read();
                if (!trace) return;
                tally sum = walk(trace, 0, 1);
                uint64_t lost = prof_trace_about(trace)->lost;
                unsigned long long macros = sum.scopes + sum.marks + sum.counters - 2; /* but for kernel_work() */
                CHECK_EQUAL(macros + lost, warm ? 6 : 3);
                CHECK_EQUAL(lost, i == 0 || (i == STEP && warm) ? 0 : 2);
                CHECK_EQUAL(prof_trace_about(trace)->lost_busy, lost);
                CHECK_EQUAL(sum.truncated, 0);
                CHECK_EQUAL(sum.args, i == STEP ? 2 + warm : 1);
                CHECK_EQUAL(prof_trace_about(trace)->unmatched, 0);
                if (test_failures) printf("macro %zu, %s, interrupt %s the reading:\n%s", i, warm ? "warm" : "cold",
                                          after ? "after" : "before", shown);
                prof_trace_close(trace);
            }
}

/* Interrupts that come at any instruction, by a timer of the system that the test runs on. */
static volatile sig_atomic_t interrupts;
static void on_signal(int number)
{
    (void)number;
    ++interrupts;
    kernel_interrupt();
}

#if defined(__SANITIZE_THREAD__)
#define SIGNALS_DELAYED 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SIGNALS_DELAYED 1
#endif
#endif

/* The second time that the clock is read, in a site's first use, the lock is held. */
static void kernel_later(void) { kernel_interrupt_soon(kernel_nmi, 1); }

/* Another processor's state, and no lock to wait for: the interrupted code has it. */
TEST(nmi_while_a_lock_is_held)
{
    prof_trace *trace;
    CHECK_EQUAL(kernel_start(image, sizeof image, 0), PROF_OK);
    kernel_run_on(0);
    kernel_interrupt_soon(kernel_nmi, 1);
    kernel_nap(1); /* its first clock read is before it takes the lock */
    kernel_interrupt_soon(0, 0);
    CHECK_EQUAL(kernel_stop(), PROF_OK);
    trace = image_read();
    if (trace) CHECK_EQUAL(prof_trace_about(trace)->lost, 0u);
    prof_trace_close(trace);

    CHECK_EQUAL(kernel_start(image, sizeof image, 0), PROF_OK);
    kernel_interrupt_soon(kernel_later, 1);
    kernel_nap(1);
    CHECK_EQUAL(kernel_stop(), PROF_OK);
    trace = image_read();
    if (trace) {
        CHECK_EQUAL(prof_trace_about(trace)->lost, 1u); /* and its argument */
        CHECK_EQUAL(prof_trace_about(trace)->lost_args, 1u);
    }
    CHECK_EQUAL(kernel_waited(), 0u);
    prof_trace_close(trace);
}

/* Threads that have ended leave their chunks to others: there are many more of them than chunks. */
TEST(ended_states)
{
    prof_trace *trace;
    unsigned i;
    CHECK_EQUAL(kernel_start(image, 256 << 10, 1), PROF_OK);
    for (i = 0; i < 200; ++i) {
        kernel_run_on(1);
        kernel_work(3);
        kernel_run_on(0);
        kernel_processor_end(1);
    }
    CHECK_EQUAL(kernel_stop(), PROF_OK);
    trace = NULL;
    CHECK_EQUAL(prof_trace_open_memory(image_start(), (256 << 10) - 64, &trace), PROF_OK);
    if (trace) {
        CHECK_EQUAL(prof_trace_about(trace)->lost, 0u);
        CHECK_EQUAL(prof_trace_track_count(trace), 200u + 1); /* and the one that starts the session */
    }
    prof_trace_close(trace);
}

/* The memory of a session belongs to the kernel again once there is another one. */
TEST(old_memory_is_left_alone)
{
    static uint64_t other[IMAGE_SIZE / 16];
    size_t i, changed = 0;
    CHECK_EQUAL(kernel_start(other, sizeof other, 0), PROF_OK);
    kernel_threads_make();
    kernel_run_on(1);
    kernel_switch_to(0);
    kernel_work(1);
    kernel_run_on(0);
    kernel_work(1);
    CHECK_EQUAL(kernel_stop(), PROF_OK);
    CHECK_EQUAL(kernel_start(image, sizeof image, 0), PROF_OK);
    memset(other, 0x55, sizeof other);
    kernel_run_on(1);
    kernel_switch_to(1);
    kernel_work(1);
    kernel_switch_to(KERNEL_THREADS);
    kernel_run_on(0);
    kernel_work(1);
    kernel_processor_end(2);
    CHECK_EQUAL(kernel_stop(), PROF_OK);
    for (i = 0; i < sizeof other / sizeof *other; ++i) changed += other[i] != 0x5555555555555555u;
    CHECK_EQUAL(changed, 0u);
    kernel_processor_end(0);
    kernel_processor_end(1);
}

static uint64_t snapshot_stack[32 << 10] __attribute__((aligned(64)));

static void *snapshot_on_a_stack(void *status)
{
    void *copy;
    size_t size;
    *(int *)status = kernel_snapshot(&copy, &size);
    return NULL;
}

/* A dump of the machine has images, and copies that prof_snapshot() made; what it leaves on its stack is none. */
TEST(a_snapshot_leaves_no_other_image)
{
#ifdef SIGNALS_DELAYED
    SKIP("the thread sanitizer has no room on such a stack");
#endif
    pthread_attr_t how;
    pthread_t thread;
    int status = -1, found = 0;
    size_t i;
    boot(0);
    kernel_work(3);
    pthread_attr_init(&how);
    CHECK_EQUAL(pthread_attr_setstack(&how, snapshot_stack, sizeof snapshot_stack), 0);
    CHECK_EQUAL(pthread_create(&thread, &how, snapshot_on_a_stack, &status), 0);
    pthread_join(thread, NULL);
    pthread_attr_destroy(&how);
    CHECK_EQUAL(status, PROF_OK);
    for (i = 0; i < sizeof snapshot_stack / sizeof *snapshot_stack; ++i)
        found += !memcmp(snapshot_stack + i, "prof.img", 8);
    CHECK_EQUAL(found, 0);
    CHECK_EQUAL(kernel_stop(), PROF_OK);
}

TEST(snapshots)
{
    prof_trace *trace = NULL;
    void *copy = NULL;
    size_t size = 0;
    CHECK_EQUAL(kernel_start(image, IMAGE_SIZE, 0), PROF_OK);
    kernel_run_on(0);
    kernel_work(1000);
    CHECK_EQUAL(kernel_snapshot(&copy, &size), PROF_OK);
    kernel_work(1000);
    CHECK_EQUAL(prof_trace_open_memory(copy, size, &trace), PROF_OK);
    if (trace) CHECK_EQUAL(walk(trace, 0, 0).scopes, 2000u);
    prof_trace_close(trace);
    CHECK_EQUAL(kernel_stop(), PROF_OK);
    CHECK_EQUAL(kernel_snapshot(&copy, &size), PROF_OK);
    trace = NULL;
    CHECK_EQUAL(prof_trace_open_memory(copy, size, &trace), PROF_OK);
    if (trace) CHECK_EQUAL(walk(trace, 0, 0).scopes, 4000u);
    prof_trace_close(trace);
}

TEST(interrupts_at_any_instruction)
{
#ifdef SIGNALS_DELAYED
    SKIP("the thread sanitizer delays signals until a system call");
#endif
    struct sigaction action, before;
    struct itimerval often = {{0, 50}, {0, 50}}, never = {{0, 0}, {0, 0}};
    int round;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESTART;
    sigaction(SIGALRM, &action, &before);
    for (round = 0; round < 20; ++round) {
        unsigned long long work = 0;
        interrupts = 0;
        boot(1);
        setitimer(ITIMER_REAL, &often, NULL);
        while (interrupts < 50 && work < 20000) { /* a machine whose timer is slow has fewer */
            kernel_work(50);
            kernel_one_mark();
            kernel_one_text();
            kernel_one_counter();
            kernel_one_message();
            ++work;
        }
        setitimer(ITIMER_REAL, &never, NULL);
        CHECK_EQUAL(kernel_stop(), PROF_OK);
        prof_trace *trace = image_read();
        if (!trace) break;
        tally sum = walk(trace, 0, 0);
        const prof_trace_info *about = prof_trace_about(trace);
        CHECK_EQUAL(sum.scopes + sum.args + sum.marks + sum.counters + about->lost + about->lost_args,
                    work * (50 * 3 + 4) + (unsigned long long)interrupts * 2);
        CHECK_EQUAL(sum.lost_events, about->lost);
        CHECK_EQUAL(sum.truncated, 0);
        CHECK_EQUAL(about->unmatched, 0);
        CHECK_EQUAL(prof_trace_track_count(trace), 1);
        prof_trace_close(trace);
    }
    sigaction(SIGALRM, &before, NULL);
}

/* ---- a full buffer */

TEST(ring)
{
    const unsigned count = 200000;
    boot(0);
    kernel_work(count);
    CHECK_EQUAL(kernel_stop(), PROF_OK);
    prof_trace *trace = image_read();
    if (!trace) return;
    tally sum = walk(trace, 0, 0);
    CHECK(prof_trace_about(trace)->overwritten_chunks > 0);
    CHECK_EQUAL(prof_trace_about(trace)->lost, 0);
    CHECK(sum.scopes > 10000 && sum.scopes < 2ull * count);
    CHECK(sum.truncated <= 2); /* what was open where the oldest chunk begins */
    CHECK_EQUAL(prof_trace_about(trace)->unmatched, 0);
    prof_trace_close(trace);
}

TEST(fill)
{
    const unsigned count = 200000;
    boot(1);
    kernel_work(count);
    CHECK_EQUAL(kernel_stop(), PROF_OK);
    prof_trace *trace = image_read();
    if (!trace) return;
    tally sum = walk(trace, 0, 0);
    CHECK_EQUAL(prof_trace_about(trace)->overwritten_chunks, 0);
    CHECK(prof_trace_about(trace)->lost > 0);
    CHECK_EQUAL(sum.scopes + prof_trace_about(trace)->lost, 2ull * count);
    CHECK_EQUAL(sum.args + prof_trace_about(trace)->lost_args, count);
    CHECK_EQUAL(sum.truncated, 0);
    prof_trace_close(trace);
}

TEST_MAIN
