/* control.c - the control calls of a program that is compiled without profiling: each is a constant, evaluates nothing,
   and links without an implementation. stripped.sh builds it as C and as C++, and runs it. */
#include "prof_chrome.h"
#include "prof_html.h"
#include "prof_xplane.h"
#include "prof_report.h"
#include "prof_server.h"

#include <stdio.h>

static int evaluated;
static const char *touch(const char *text)
{
    ++evaluated;
    return text;
}

static int objects(void)
{
    prof_domain *domain = prof_domain_create(touch("domain"));
    prof_task *task = prof_task_create(domain, touch("task"));
    prof_frame *frame = prof_frame_create(domain, touch("frame"));
    prof_range *range = prof_range_create(touch("range"));
    prof_counter *counter = prof_counter_create(domain, touch("counter"));
    prof_marker *marker = prof_marker_create(domain, touch("marker"));
    const char *names[4];
    int failures = domain || task || frame || range || counter || marker;
    failures += prof_domain_enable(domain, 1) != PROF_DISABLED;
    failures += prof_domain_list(names, 4) != 0;
    failures += prof_domain_name(domain)[0] != 0;
    prof_task_start(task);
    prof_task_stop(task);
    prof_task_destroy(task);
    prof_frame_start(frame);
    prof_frame_stop(frame);
    prof_frame_destroy(frame);
    prof_range_start(range);
    prof_range_stop(range);
    prof_range_destroy(range);
    prof_counter_set(counter, 1);
    prof_counter_add(counter, 1);
    prof_counter_sub(counter, 1);
    prof_counter_set_double(counter, 0.5);
    prof_counter_add_double(counter, 0.5);
    prof_counter_destroy(counter);
    prof_marker_mark(marker, PROF_MARK_GLOBAL);
    prof_marker_destroy(marker);
    return failures;
}

/* A program that reads its own trace: nothing of it is there, and so it finds nothing. */
static int reading(void)
{
    prof_trace *trace = NULL;
    prof_cursor *cursor = NULL;
    prof_event event;
    prof_stat *stats = NULL;
    prof_memory_stats *memory = NULL;
    prof_lock_row *locks = NULL;
    prof_sink sink = {NULL, NULL};
    int64_t offset = 0;
    uint64_t size = 0;
    size_t count = 0;
    int failures = 0;
    failures += prof_trace_open(touch("trace.prof"), &trace) != PROF_DISABLED;
    failures += prof_trace_live(&trace) != PROF_DISABLED;
    failures += prof_trace_memory(touch("image"), 5, &trace) != PROF_DISABLED;
    failures += prof_trace_about(trace) != NULL;
    failures += prof_trace_metadata(trace, 0, NULL, NULL) != 0;
    failures += prof_trace_track_count(trace) != 0;
    failures += prof_trace_track(trace, 0) != NULL;
    failures += prof_trace_window(trace, 0, 5) != PROF_DISABLED;
    failures += prof_cursor_open(trace, 0, &cursor) != PROF_DISABLED;
    while (prof_cursor_next(cursor, &event)) ++failures;
    prof_cursor_close(cursor);
    prof_spans *spans = NULL;
    prof_span span;
    failures += prof_spans_open(trace, &spans) != PROF_DISABLED;
    while (prof_spans_next(spans, &span)) ++failures;
    failures += prof_spans_close(spans) != PROF_DISABLED;
    failures += prof_summary_write(trace, touch("-"), NULL) != PROF_DISABLED;
    failures += prof_summary_stream(trace, sink, NULL) != PROF_DISABLED;
    failures += prof_csv_write(trace, touch("-")) != PROF_DISABLED;
    failures += prof_csv_stream(trace, sink) != PROF_DISABLED;
    failures += prof_chrome_write(trace, touch("-"), NULL) != PROF_DISABLED;
    failures += prof_chrome_stream(trace, sink, NULL) != PROF_DISABLED;
    failures += prof_html_write(trace, touch("-"), NULL) != PROF_DISABLED;
    failures += prof_html_stream(trace, sink, NULL) != PROF_DISABLED;
    failures += prof_html_merge(&trace, 1, touch("-"), NULL) != PROF_DISABLED;
    failures += prof_chrome_merge(&trace, 1, touch("-"), NULL) != PROF_DISABLED;
    failures += prof_chrome_merge_stream(&trace, 1, sink, NULL) != PROF_DISABLED;
    failures += prof_xplane_write(trace, touch("logs"), NULL) != PROF_DISABLED;
    failures += prof_xplane_stream(trace, sink, NULL) != PROF_DISABLED;
    failures += prof_xplane_merge(&trace, 1, touch("logs"), NULL) != PROF_DISABLED;
    failures += prof_xplane_start_trace(touch("logs")) != PROF_DISABLED;
    failures += prof_xplane_stop_trace() != PROF_DISABLED;
    failures += prof_xplane_start_trace_with(touch("logs"), NULL) != PROF_DISABLED;
    failures += prof_xplane_pprof_write(trace, touch("-")) != PROF_DISABLED;
    failures += prof_xplane_pprof_stream(trace, sink) != PROF_DISABLED;
    failures += prof_enabled_at(touch("1") != NULL) != 0;
    int traced = 0;
    PROFILE_TRACE(touch("logs")) traced = 1;
    failures += !traced;
    prof_report_options report;
    char *text = NULL;
    size_t length = 0;
    failures += prof_report_write(trace, touch("-"), &report) != PROF_DISABLED;
    failures += prof_report_stream(trace, sink, NULL) != PROF_DISABLED;
    failures += prof_report_text(trace, NULL, &text, &length) != PROF_DISABLED;
    failures += prof_report_each(&trace, 1, touch("-"), NULL) != PROF_DISABLED;
    failures += prof_report_each_stream(&trace, 1, sink, NULL) != PROF_DISABLED;
    failures += prof_report_cntk(trace, touch("."), touch("0"), NULL) != PROF_DISABLED;
    failures += prof_dumps(PROF_REPORT_MXNET, PROF_SORT_TOTAL, 0, 1) != NULL;
    failures += prof_dump(touch("1") != NULL) != PROF_DISABLED;
    failures += prof_set_paused(touch("1") != NULL) != PROF_DISABLED;
    prof_report_free(text);
    prof_server_options server;
    failures += prof_server_start(touch("1") == NULL, &server) != PROF_DISABLED;
    failures += prof_server_stop() != PROF_DISABLED;
    failures += prof_server_port() != 0;
    failures += prof_trace_write(trace, touch("-"), ".csv") != PROF_DISABLED;
    failures += prof_trace_align(&trace, 1, &offset) != 0;
    prof_trace_watch(trace, NULL, NULL);
    failures += prof_image_find(touch("image"), 5, &size) != PROF_DISABLED;
    failures += prof_image_shorten(&size, 5, &size) != PROF_DISABLED;
    failures += prof_image_copy(touch("a"), touch("b"), 0, 5) != PROF_DISABLED;
    failures += prof_image_window(&size, 5, 0, 5) != PROF_DISABLED;
    failures += prof_stats_by_path(trace, PROF_SORT_TOTAL, 0, &stats, &count) != PROF_DISABLED;
    failures += prof_stats(trace, PROF_SORT_TOTAL, 0, &stats, &count) != PROF_DISABLED;
    failures += prof_span_stats(trace, PROF_SORT_TOTAL, 0, &stats, &count) != PROF_DISABLED;
    prof_stats_free(stats);
    failures += prof_memory(trace, &memory) != PROF_DISABLED;
    prof_memory_free(memory);
    failures += prof_locks(trace, touch("rows") == NULL, &locks, &count) != PROF_DISABLED;
    prof_locks_free(locks);
    prof_trace_close(trace);
    return failures + (count != 0);
}

int main(void)
{
    static prof_config config; /* all zero, in C and in C++ */
    int failures = 0;
    int level = 3;
    config.output = "never-written.json";
    failures += prof_start(&config) != PROF_DISABLED;
    failures += prof_start(NULL) != PROF_DISABLED;
    failures += prof_pause() != PROF_DISABLED;
    failures += prof_resume() != PROF_DISABLED;
    failures += prof_enabled() != 0;
    failures += prof_set_level(level) != PROF_DISABLED;
    failures += prof_set_filter_mask((uint32_t)level) != PROF_DISABLED;
    failures += prof_flow_new() != 0;
    failures += prof_category_enable(touch("net"), 1) != PROF_DISABLED;
    failures += prof_config_set(&config, "output", touch("other.json")) != PROF_DISABLED;
    failures += prof_config_from_env(&config) != PROF_DISABLED;
    prof_option option;
    failures += prof_config_describe(0, &option) != 0;
    failures += prof_config_claim(touch("gpu_"), NULL, NULL) != PROF_DISABLED;
    failures += prof_set_metadata(touch("key"), touch("value")) != PROF_DISABLED;
    failures += prof_clear_metadata() != PROF_DISABLED;
    failures += prof_set_sync(NULL, NULL) != PROF_DISABLED;
    failures += prof_save(touch("never-written.json")) != PROF_DISABLED;
    failures += prof_save_last(touch("never-written.json"), 5) != PROF_DISABLED;
    failures += prof_stop() != PROF_DISABLED;
    failures += prof_reset() != PROF_DISABLED;
    failures += prof_status_text(PROF_IO)[0] != 0;
    failures += prof_error()[0] != 0;
    prof_fiber *fiber = prof_fiber_create(touch("name"));
    uint64_t place[PROF_FIBER_SIZE / 8];
    failures += fiber != NULL;
    failures += prof_fiber_init(place, touch("name")) != NULL;
    prof_fiber_switch(fiber);
    prof_fiber_switch(NULL);
    prof_fiber_destroy(fiber);
    prof_device *device = prof_device_create(touch("gpu"), NULL);
    prof_device_row *row = prof_device_track(device, touch("queue"));
    failures += device != NULL || row != NULL;
    failures += prof_device_sync(device, 1, prof_host_ns()) != PROF_DISABLED;
    failures += prof_host_ns() != 0;
    prof_device_scope(row, touch("scope"), 1, 2);
    prof_device_mark(row, touch("mark"), 1);
    prof_device_counter(row, touch("counter"), 1, 2);
    prof_device_counter_double(row, touch("counter"), 1, 2.5);
    prof_device_record(row, NULL);
    if (prof_start(&config)) ++evaluated; /* as a program does that handles the error */
    prof_thread_name(touch("name"));
    prof_stop();
    (void)prof_start(&config);
    PROFILE_THREAD(touch("name"));
    PROFILE_MARK_S(touch("mark"));
    PROFILE_LOG(PROF_LOG_ERROR, "%s", touch("message"));
    PROFILE_FLOW_OUT((uint64_t)(touch("flow") != NULL));
    PROFILE_ARG_S("key", touch("value"));
    failures += reading();
    failures += objects();
    failures += evaluated != 1;
    printf("%d\n", failures);
    return failures != 0;
}
