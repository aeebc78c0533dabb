/* instructions.c - one function for each kind of macro, whose instructions instructions.sh counts: measure_x(n) uses
   the macro n times. The difference between two counts leaves the macro and the loop around it. The implementation is
   in a file of its own, as in a program, so that the macros do not see it. */
#include "prof_chrome.h"
#include "prof_html.h"
#include "prof_ntff.h"
#include "prof_xplane.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MEASURED __attribute__((noinline))
#define STEP() __asm__ volatile("" ::: "memory")

#define MEASURE(name, code)                                            \
    MEASURED void measure_##name(int n);                               \
    MEASURED void measure_##name(int n)                                \
    {                                                                  \
        int i;                                                         \
        for (i = 0; i < n; ++i) {                                      \
            STEP();                                                    \
            code;                                                      \
        }                                                              \
    }

static const char *const text = "sixteen letters!";
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static prof_fiber *fiber;
static prof_task *task;
static prof_counter *counter;

MEASURE(loop, (void)0)
MEASURE(scope, PROFILE_SCOPE("scope"))
MEASURE(scope_off, PROFILE_SCOPE_L("scope off", 9))
MEASURE(scope_off_args, PROFILE_SCOPE_L("off with an argument", 9); PROFILE_ARG_I("key", i))
MEASURE(scope_short, PROFILE_SCOPE("short")) /* shorter than min_duration */
MEASURE(block, PROFILE_BLOCK("block") STEP())
MEASURE(begin_end, PROFILE_BEGIN("begin"); PROFILE_END("begin"))
MEASURE(mark, PROFILE_MARK("mark"))
MEASURE(mark_off, PROFILE_MARK_L("mark off", 9))
MEASURE(counter, PROFILE_COUNTER("counter", i))
MEASURE(counter_double, PROFILE_COUNTER("counter", 0.5))
MEASURE(arg, PROFILE_ARG_I("key", i))
MEASURE(arg_unsigned, PROFILE_ARG_U("key", (uint64_t)i))
MEASURE(arg_double, PROFILE_ARG_D("key", 0.5))
MEASURE(arg_bool, PROFILE_ARG_B("key", i & 1))
MEASURE(arg_pointer, PROFILE_ARG_P("key", text))
MEASURE(arg_string, PROFILE_ARG_S("key", text))
MEASURE(frame, PROFILE_FRAME("frame"))
MEASURE(mark_scope, PROFILE_MARK_REACH("mark", PROF_MARK_PROCESS))
MEASURE(mark_text, PROFILE_MARK_DYNAMIC(text))
MEASURE(counter_add, PROFILE_COUNTER_ADD("sum", 1))
MEASURE(scope_format, PROFILE_SCOPE_F("job %d", i))
MEASURE(scope_format_double, PROFILE_SCOPE_F("job %.2f", i * 0.5))
MEASURE(scope_format_rare, PROFILE_SCOPE_F("job %+.3d", i))
MEASURE(scope_sync, PROFILE_SCOPE_SYNC("sync"))
MEASURE(throughput, PROFILE_THROUGHPUT("copy", 4096))
MEASURE(span, PROFILE_SPAN_BEGIN("span", (uint64_t)i); PROFILE_SPAN_END("span", (uint64_t)i))
MEASURE(span_mark, PROFILE_SPAN_MARK("span", (uint64_t)i))
MEASURE(alloc_free, PROFILE_ALLOC(text, 16); PROFILE_FREE(text))
MEASURE(memory_scope, PROFILE_MEMORY_SCOPE("memory"))
MEASURE(mutex, PROFILE_MUTEX_LOCK(&mutex, "mutex"); PROFILE_MUTEX_UNLOCK(&mutex))
MEASURE(fiber_switch, prof_fiber_switch(i & 1 ? fiber : NULL))
MEASURE(task, prof_task_start(task); prof_task_stop(task))
MEASURE(counter_object, prof_counter_add(counter, 1))
MEASURE(scope_text, PROFILE_SCOPE_DYNAMIC(text))
MEASURE(scope_mask, PROFILE_SCOPE_MASK("mask", 6))
MEASURE(scope_lost, PROFILE_SCOPE("lost")) /* by a thread that found no chunk */
MEASURE(step, PROFILE_STEP("step", i))
MEASURE(flow, PROFILE_FLOW_OUT((uint64_t)i))
MEASURE(log, PROFILE_LOG(PROF_LOG_INFO, "message"))
MEASURE(log_int, PROFILE_LOG(PROF_LOG_INFO, "value %d", i))
MEASURE(log_ints, PROFILE_LOG(PROF_LOG_INFO, "value %d of %d", i, n))
MEASURE(log_off, PROFILE_LOG(PROF_LOG_DEBUG, "value %d", i))

MEASURED void measure_next(int n);
MEASURED void measure_next(int n)
{
    int i;
    PROFILE_STAGE("stage");
    for (i = 0; i < n; ++i) {
        STEP();
        PROFILE_NEXT("next");
    }
}

/* Makes a domain, where there are many. */
static void make_domains(int n)
{
    static unsigned made;
    char name[16];
    while (n-- > 0) {
        snprintf(name, sizeof name, "domain %u", made++);
        if (!prof_domain_create(name)) abort();
    }
}
MEASURE(domain, make_domains(1))

/* Reads a track with 100 arguments of a scope that is 200 scopes out. */
static prof_trace *far_args;
static void record_inside(prof_scope outermost, int depth)
{
    int i;
    PROFILE_SCOPE("inside");
    if (depth)
        record_inside(outermost, depth - 1);
    else
        for (i = 0; i < 100; ++i) PROFILE_ARG_TO_I(outermost, "far", i);
}
static int record_far_args(void) /* 0: it went well */
{
    prof_config config = {0, 0, PROF_FILL, PROF_CLOCK_COUNTER, 0, 0, 0, 0, 0, 0};
    config.buffer_size = 16 << 20;
    if (prof_start(&config)) return 1;
    {
        PROFILE_SCOPE_AS(outermost, "outermost");
        record_inside(outermost, 199);
    }
    return prof_stop() || prof_trace_open_live(&far_args);
}
static void read_far_args(void)
{
    prof_cursor *cursor = NULL;
    prof_event event;
    if (prof_cursor_open(far_args, 0, &cursor) || !prof_cursor_next(cursor, &event) || event.arg_count != 100) abort();
    prof_cursor_close(cursor);
}
MEASURE(read_far_args, read_far_args())

/* Opens a trace with 1000 call sites that differ in nothing but their category, with each fiftieth use, which is enough. */
static uint64_t categories[1 << 19] __attribute__((aligned(64)));
static int record_categories(void) /* 0: it went well */
{
    prof_config config = {0, 0, PROF_FILL, PROF_CLOCK_COUNTER, 0, 0, 0, 0, 0, 0};
    char name[16];
    int i;
    config.memory = categories;
    config.memory_size = sizeof categories;
    if (prof_start(&config)) return 1;
    for (i = 0; i < 1000; ++i) {
        snprintf(name, sizeof name, "category %d", i);
        prof_task *each = prof_task_create(prof_domain_create(name), "task");
        prof_task_start(each);
        prof_task_destroy(each);
    }
    return (int)prof_stop();
}
static void open_categories(void)
{
    prof_trace *trace;
    if (prof_trace_open_memory(categories, sizeof categories, &trace) || prof_trace_about(trace)->event_count != 1000)
        abort();
    prof_trace_close(trace);
}
MEASURE(open_categories, if (i % 50 == 0) open_categories())

/* Writes a trace with 1500 call sites and 1500 names that were made at run time, two scopes of each, with each fiftieth
   use. */
enum { MANY = 1500 };
static uint64_t many_words[1 << 18] __attribute__((aligned(64)));
static prof_trace *many;
static int record_many(void) /* 0: it went well */
{
    prof_config config = {0, 0, PROF_FILL, PROF_CLOCK_COUNTER, 0, 0, 0, 0, 0, 0};
    static prof_range *ranges[MANY];
    char name[32];
    int i;
    config.memory = many_words;
    config.memory_size = sizeof many_words;
    if (prof_start(&config)) return 1;
    for (i = 0; i < 2 * MANY; ++i) {
        snprintf(name, sizeof name, "call site %d", i);
        if (i < MANY) ranges[i] = prof_range_create(name);
        prof_range_start(ranges[i % MANY]);
        prof_range_stop(ranges[i % MANY]);
        snprintf(name, sizeof name, "name %d", i % MANY);
        PROFILE_SCOPE_DYNAMIC(name);
    }
    return prof_stop() || prof_trace_open_memory(many_words, sizeof many_words, &many) ||
           prof_trace_about(many)->event_count != 4 * MANY;
}
static int drop(void *user, const void *data, size_t size)
{
    (void)user, (void)data, (void)size;
    return 0;
}
static const prof_sink nowhere = {drop, NULL};
MEASURE(many_csv, if (i % 50 == 0 && prof_csv_stream(many, nowhere)) abort())
MEASURE(many_json, if (i % 50 == 0 && prof_chrome_stream(many, nowhere, NULL)) abort())
MEASURE(many_html, if (i % 50 == 0 && prof_html_stream(many, nowhere, NULL)) abort())
MEASURE(many_xplane, if (i % 50 == 0 && prof_xplane_stream(many, nowhere, NULL)) abort())
MEASURE(many_summary, if (i % 50 == 0 && prof_summary_stream(many, nowhere, NULL)) abort())

/* Reads Neuron's JSON with a string of 100 bytes for each use. */
MEASURED void measure_ntff_string(int n);
MEASURED void measure_ntff_string(int n)
{
    static char json[30000] = "{\"events\":[{\"timestamp_ns\":7,\"event_type\":\"";
    static const size_t head = sizeof "{\"events\":[{\"timestamp_ns\":7,\"event_type\":\"" - 1;
    memset(json + head, 'y', (size_t)n * 100);
    strcpy(json + head + (size_t)n * 100, "\"}]}");
    if (prof_ntff_parse_systrace_json(NULL, json, strlen(json), NULL, NULL, NULL)) abort();
}

/* Reads the work of one execution, which its core timed, and the sync point for that, where there were many before. */
static prof_ntff_parser *ntff_parser;
static int ntff_fetches;
static void ntff_fetch(const char *work)
{
    char json[600];
    int i = ++ntff_fetches;
    snprintf(json, sizeof json, "{\"events\":[%s{\"event_type\":\"timestamp_sync_point\",\"phase\":\"instant\",\"nc_idx\":3,"
             "\"data\":{\"exec_id\":%d,\"nc_timestamp_ns\":%d,\"cpu_timestamp_ns\":%d},\"timestamp_ns\":1}]}",
             work, i, i * 1000 + 700, i * 1000 + 900);
    if (prof_ntff_parse_systrace_json(ntff_parser, json, strlen(json), NULL, NULL, NULL)) abort();
}
static void ntff_fetch_work(void)
{
    char work[400];
    int i = ntff_fetches + 1;
    snprintf(work, sizeof work, "{\"event_type\":\"cc_running\",\"phase\":\"start\",\"nc_idx\":3,\"tracking_id\":%d,\"data\":"
             "{\"exec_id\":%d,\"nc_timestamp_ns\":%d},\"timestamp_ns\":%d},{\"event_type\":\"cc_running\",\"phase\":\"stop\","
             "\"nc_idx\":3,\"tracking_id\":%d,\"data\":{\"nc_timestamp_ns\":%d},\"timestamp_ns\":%d},",
             i, i, i * 1000, i * 1000, i, i * 1000 + 500, i * 1000 + 500);
    ntff_fetch(work);
}
MEASURE(ntff_fetch, ntff_fetch_work())

/* Saves the last 20 us out of a full ring, whose other chunks a save before has seen, with each fiftieth use. */
static void record_scopes(int count)
{
    while (count-- > 0) PROFILE_BLOCK("old") {}
}
static void save_last(void)
{
    if (prof_save_last_ns("build/instructions/last.prof", 20000)) abort();
}
MEASURE(save_last, if (n == 1) record_scopes(700000); if (i % 50 == 0) save_last())

/* Records a hundred scopes, which the save at the end of all uses looks at for the first time. */
MEASURE(save_look, record_scopes(100); if (i == n - 1) save_last())

static void (*const measures[])(int) = {
    measure_loop, measure_scope, measure_scope_off, measure_scope_off_args, measure_scope_short,
    measure_block, measure_begin_end, measure_mark, measure_mark_off,
    measure_counter, measure_counter_double, measure_arg, measure_arg_unsigned, measure_arg_double, measure_arg_bool,
    measure_arg_pointer, measure_arg_string, measure_frame, measure_mark_scope, measure_mark_text,
    measure_counter_add, measure_scope_format, measure_scope_format_double, measure_scope_format_rare,
    measure_scope_sync, measure_throughput, measure_span, measure_span_mark, measure_alloc_free, measure_memory_scope, measure_mutex, measure_fiber_switch, measure_task,
    measure_counter_object, measure_scope_text, measure_scope_mask, measure_step, measure_flow, measure_log,
    measure_log_int, measure_log_ints, measure_log_off, measure_next, measure_domain, measure_read_far_args,
    measure_open_categories, measure_many_csv, measure_many_json, measure_many_html, measure_many_xplane,
    measure_many_summary, measure_ntff_string, measure_ntff_fetch, measure_scope_lost,
    measure_save_last, measure_save_look};

/* What a scope adds to the code of a function: their sizes are compared. */
MEASURED void size_0(void);
MEASURED void size_1(void);
MEASURED void size_2(void);
MEASURED void size_0(void)
{
    rand();
    rand();
    rand();
}
MEASURED void size_1(void)
{
    rand();
    {
        PROFILE_SCOPE("first");
        rand();
    }
    rand();
}
MEASURED void size_2(void)
{
    rand();
    {
        PROFILE_SCOPE("first");
        rand();
    }
    {
        PROFILE_SCOPE("second");
        rand();
    }
}

static void *fill(void *unused)
{
    int i;
    for (i = 0; i < 100000; ++i) PROFILE_MARK("fill");
    return unused;
}

int main(void)
{
    pthread_t thread;
    prof_config config = {0, 0, PROF_RING, PROF_CLOCK_COUNTER, 0, 0, 0, 0, 0, 0};
    size_t i;
    fiber = prof_fiber_create("fiber");
    task = prof_task_create(NULL, "task");
    counter = prof_counter_create(NULL, "counter");
    make_domains(2000);
    ntff_parser = prof_ntff_parser_create();
    for (i = 0; i < 10000; ++i) ntff_fetch("");
    if (record_far_args() || record_categories() || record_many()) {
        printf("%s\n", prof_error());
        return 3;
    }
    for (i = 0; i < sizeof measures / sizeof *measures; ++i) {
        config.mode = measures[i] == measure_scope_lost ? PROF_FILL : PROF_RING;
        config.buffer_size = (measures[i] == measure_save_last || measures[i] == measure_save_look ? 8192 : 256) << 10;
        config.min_duration_ns = measures[i] == measure_scope_short ? 60000000000 : 0;
        if (prof_start(&config)) { /* anew, so that no measurement takes a new chunk */
            printf("%s\n", prof_error());
            return 3;
        }
        if (config.mode == PROF_FILL && (pthread_create(&thread, NULL, fill, NULL) || pthread_join(thread, NULL))) return 1;
        measures[i](measures[i] == measure_scope_off ? 1000 : 1); /* settles the call site: see >>off_scope in prof.h */
        measures[i](100);
        measures[i](200);
        measures[i](1); /* its begin is where the count before it ends */
        if (prof_stop()) return 1;
    }
    return 0;
}
