/* control.c - the control calls of a program that is compiled without profiling: each succeeds, says that nothing was
   recorded, evaluates nothing but where it writes that to, and links without an implementation. stripped.sh builds it as
   C and as C++, and runs it. */
#include "prof_chrome.h"
#include "prof_gl.h"
#include "prof_html.h"
#include "prof_opencl.h"
#include "prof_vulkan.h"
#include "prof_cuda.h"
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
    prof_counter *measured = prof_counter_create_unit(domain, touch("counter"), touch("unit"));
    prof_marker *marker = prof_marker_create(domain, touch("marker"));
    const char *names[4];
    int failures = !domain || !task || !frame || !range || !counter || !measured || !marker; /* NULL would be a failure */
    failures += prof_domain_enable(domain, 1) != PROF_OK;
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
    prof_counter_destroy(measured);
    prof_marker_mark(marker, PROF_MARK_GLOBAL);
    prof_marker_destroy(marker);
    return failures;
}

/* A program that reads its own trace: nothing of it is there, and so it finds nothing. */
static int reading(void)
{
    static char garbage[64]; /* what variables point to that nobody has set */
    const void *rubbish = garbage;
    prof_trace *trace = (prof_trace *)garbage;
    prof_cursor *cursor = (prof_cursor *)garbage;
    prof_timeline *timeline = (prof_timeline *)garbage;
    prof_event event;
    prof_stat *stats = (prof_stat *)garbage;
    prof_memory_stats *memory = (prof_memory_stats *)garbage;
    prof_lock_row *locks = (prof_lock_row *)garbage;
    prof_sink sink = {NULL, NULL};
    int64_t offset = 7;
    uint64_t size = 7;
    size_t count = 7;
    int failures = 0;
    failures += prof_trace_open(touch("trace.prof"), &trace) != PROF_OK || trace;
    trace = (prof_trace *)garbage;
    failures += prof_trace_open_memory(touch("image"), 5, &trace) != PROF_OK || trace;
    trace = (prof_trace *)garbage;
    failures += prof_trace_open_live(&trace) != PROF_OK || trace;
    const prof_trace_info *about = prof_trace_about(trace);
    failures += about->program[0] || about->clock[0] || about->write_error[0] || about->boot_id[0] || about->event_count;
    failures += prof_trace_metadata(trace, 0, NULL, NULL) != 0;
    failures += prof_trace_track_count(trace) != 0;
    failures += prof_trace_track(trace, 0) != NULL;
    failures += prof_trace_set_window(trace, 0, 5) != PROF_OK;
    failures += prof_cursor_open(trace, 0, &cursor) != PROF_OK || cursor;
    while (prof_cursor_next(cursor, &event)) ++failures;
    prof_cursor_close(cursor);
    failures += prof_timeline_open(trace, &timeline) != PROF_OK || timeline;
    while (prof_timeline_next(timeline, &event, &count)) ++failures;
    failures += prof_timeline_close(timeline) != PROF_OK;
    prof_spans *spans = (prof_spans *)garbage;
    prof_span span;
    failures += prof_spans_open(trace, &spans) != PROF_OK || spans;
    while (prof_spans_next(spans, &span)) ++failures;
    failures += prof_spans_close(spans) != PROF_OK;
    failures += prof_summary_write(trace, touch("-"), NULL) != PROF_OK;
    failures += prof_summary_stream(trace, sink, NULL) != PROF_OK;
    failures += prof_csv_write(trace, touch("-")) != PROF_OK;
    failures += prof_csv_stream(trace, sink) != PROF_OK;
    failures += prof_chrome_write(trace, touch("-"), NULL) != PROF_OK;
    failures += prof_chrome_stream(trace, sink, NULL) != PROF_OK;
    failures += prof_html_write(trace, touch("-"), NULL) != PROF_OK;
    failures += prof_html_stream(trace, sink, NULL) != PROF_OK;
    failures += prof_html_merge(&trace, 1, touch("-"), NULL) != PROF_OK;
    failures += prof_chrome_merge(&trace, 1, touch("-"), NULL) != PROF_OK;
    failures += prof_chrome_merge_stream(&trace, 1, sink, NULL) != PROF_OK;
    failures += prof_xplane_write(trace, touch("logs"), NULL) != PROF_OK;
    failures += prof_xplane_stream(trace, sink, NULL) != PROF_OK;
    failures += prof_xplane_merge(&trace, 1, touch("logs"), NULL) != PROF_OK;
    failures += prof_xplane_start_trace(touch("logs")) != PROF_OK;
    failures += prof_xplane_stop_trace() != PROF_OK;
    failures += prof_xplane_start_trace_with(touch("logs"), NULL) != PROF_OK;
    failures += prof_xplane_pprof_write(trace, touch("-")) != PROF_OK;
    failures += prof_xplane_pprof_stream(trace, sink) != PROF_OK;
    failures += prof_enabled_at(touch("1") != NULL) != 0;
    int traced = 0;
    PROFILE_TRACE(touch("logs")) traced = 1;
    failures += !traced;
    prof_report_options report;
    char *text = garbage, *dumped;
    size_t length = 7;
    failures += prof_report_write(trace, touch("-"), &report) != PROF_OK;
    failures += prof_report_stream(trace, sink, NULL) != PROF_OK;
    garbage[0] = 'x';
    failures += prof_report_text(trace, NULL, &text, &length) != PROF_OK || !text || text[0] || length;
    failures += prof_report_text(trace, NULL, &text, NULL) != PROF_OK;
    failures += prof_report_each(&trace, 1, touch("-"), NULL) != PROF_OK;
    failures += prof_report_each_stream(&trace, 1, sink, NULL) != PROF_OK;
    failures += prof_report_cntk(trace, touch("."), touch("0"), NULL) != PROF_OK;
    dumped = prof_mxnet_dumps(PROF_REPORT_MXNET, PROF_SORT_TOTAL, 0, 1);
    failures += !dumped || dumped[0];
    prof_report_free(dumped);
    failures += prof_mxnet_dump(touch("1") != NULL) != PROF_OK;
    failures += prof_mxnet_set_paused(touch("1") != NULL) != PROF_OK;
    prof_report_free(text);
    prof_server_options server;
    failures += prof_server_start(touch("1") == NULL, &server) != PROF_OK;
    failures += prof_server_stop() != PROF_OK;
    failures += prof_server_port() != 0;
    failures += prof_trace_write(trace, touch("-"), ".csv") != PROF_OK;
    failures += prof_trace_align(&trace, 1, &offset) != 0 || offset;
    failures += prof_trace_set_offset(trace, 1) != PROF_OK;
    prof_trace_set_progress(trace, NULL, NULL);
    failures += prof_image_find(touch("image"), 5, &size) != PROF_CORRUPT || size; /* there is none */
    failures += prof_image_shorten(&size, 5, &size) != PROF_CORRUPT || size;
    failures += prof_image_copy(touch("a"), touch("b"), 0, 5) != PROF_OK;
    failures += prof_image_set_window(&size, 5, 0, 5) != PROF_OK;
    stats = (prof_stat *)garbage, count = 7;
    failures += prof_stats_by_path(trace, PROF_SORT_TOTAL, 0, &stats, &count) != PROF_OK || stats || count;
    stats = (prof_stat *)garbage, count = 7;
    failures += prof_stats(trace, PROF_SORT_TOTAL, 0, &stats, &count) != PROF_OK || stats || count;
    stats = (prof_stat *)garbage, count = 7;
    failures += prof_span_stats(trace, PROF_SORT_TOTAL, 0, &stats, &count) != PROF_OK || stats || count;
    prof_stats_free(stats);
    failures += prof_memory(trace, &memory) != PROF_OK || memory == rubbish || memory->site_count || memory->count;
    prof_memory_free(memory);
    count = 7;
    failures += prof_locks(trace, touch("rows") == NULL, &locks, &count) != PROF_OK || locks || count;
    prof_locks_free(locks);
    prof_trace_close(trace);
    return failures;
}

/* GPUs through CUPTI. */
static int cuda(void)
{
    prof_cuda_counts counts;
    int failures = prof_cuda_enable((const prof_cuda_config *)touch("config")) != PROF_OK;
    counts.kernels = 1;
    prof_cuda_counted(&counts);
    failures += counts.kernels != 0;
    failures += prof_cuda_status() != PROF_OK || prof_cuda_collect() != PROF_OK || prof_cuda_disable() != PROF_OK;
    return failures;
}

/* A queue of Vulkan, whose scopes are gone. */
static int vulkan(void)
{
    int failures = 0;
    prof_vk_info info;
    prof_vk *vk = prof_vk_create((const prof_vk_config *)touch("config"));
    failures += vk == NULL;
    {
        PROFILE_VK_SCOPE(vk, (struct VkCommandBuffer_T *)0, "pass");
        PROFILE_VK_SCOPE_DYNAMIC(vk, (struct VkCommandBuffer_T *)0, touch("pass"));
    }
    uint64_t scope = prof_vk_begin(vk, NULL, touch("pass")) + prof_vk_begin_text(vk, NULL, touch("pass"));
    failures += scope != 0;
    prof_vk_end(vk, NULL, scope);
    failures += prof_vk_collect(vk) != PROF_OK;
    failures += prof_vk_calibrate(vk) != PROF_OK;
    failures += prof_vk_get_info(vk, &info) != PROF_OK || info.scopes != 0;
    failures += prof_vk_wrap_labels(vk, NULL, NULL) != PROF_OK;
    prof_vk_destroy(vk);
    return failures;
}

/* Contexts of OpenGL, and events of OpenCL. */
static int others(void)
{
    int failures = 0;
    prof_gl_info scopes = {1, 1, 1, 1, 1, 1};
    prof_cl_info events = {1, 1, 1, 1, 1, 1, 1, 1};
    prof_gl *gl = prof_gl_create(NULL, (const prof_gl_options *)touch("options"));
    prof_cl *cl = prof_cl_create(NULL, (const prof_cl_options *)touch("options"));
    failures += gl == NULL || cl == NULL;
    PROFILE_GL_SCOPE(gl, touch("pass"));
    PROFILE_CL_EVENT(cl, NULL, NULL, touch("copy"));
    prof_cl_event(cl, NULL, NULL, touch("copy"));
    int made = 0;
    PROFILE_CL_ENQUEUE(cl, NULL, NULL, touch("copy"), made = 1);
    failures += !made || prof_cl_arrow(cl) != 0;
    prof_cl_event_of(cl, NULL, NULL, touch("copy"), 1);
    prof_gl_scope scope = prof_gl_begin(gl, touch("pass"));
    failures += scope != 0;
    prof_gl_end(gl, scope);
    failures += prof_cl_queue_name(cl, NULL, touch("queue")) != PROF_OK;
    failures += prof_gl_collect(gl) != PROF_OK || prof_cl_collect(cl) != PROF_OK;
    failures += prof_gl_finish(gl) != PROF_OK || prof_cl_finish(cl) != PROF_OK;
    failures += prof_gl_get_info(gl, &scopes) != PROF_OK || scopes.recorded || scopes.destroyed;
    failures += prof_cl_get_info(cl, &events) != PROF_OK || events.recorded || events.destroyed;
    failures += prof_gl_destroy(gl) != PROF_OK || prof_cl_destroy(cl) != PROF_OK;
    return failures;
}

int main(void)
{
    static prof_config config; /* all zero, in C and in C++ */
    int failures = 0;
    int level = 3;
    config.output = "never-written.json";
    failures += prof_start(&config) != PROF_OK;
    failures += prof_start(NULL) != PROF_OK;
    failures += prof_pause() != PROF_OK;
    failures += prof_resume() != PROF_OK;
    failures += prof_enabled() != 0;
    failures += prof_set_level(level) != PROF_OK;
    failures += prof_set_filter_mask((uint32_t)level) != PROF_OK;
    failures += prof_flow_new() != 0;
    failures += prof_category_enable(touch("net"), 1) != PROF_OK;
    failures += prof_config_set(&config, "output", touch("other.json")) != PROF_OK;
    failures += prof_config_from_env(&config) != PROF_OK;
    prof_option option;
    failures += prof_config_describe(0, &option) != 0;
    failures += prof_config_claim(touch("gpu_"), NULL, NULL) != PROF_OK;
    failures += prof_set_metadata(touch("key"), touch("value")) != PROF_OK;
    failures += prof_clear_metadata() != PROF_OK;
    failures += prof_set_sync(NULL, NULL) != PROF_OK;
    failures += prof_save(touch("never-written.json")) != PROF_OK;
    failures += prof_save_last_ns(touch("never-written.json"), 5) != PROF_OK;
    failures += prof_stop() != PROF_OK;
    failures += prof_reset() != PROF_OK;
    failures += prof_status_text(PROF_IO)[0] != 0;
    failures += prof_error()[0] != 0;
    prof_fiber *fiber = prof_fiber_create(touch("name"));
    uint64_t place[PROF_FIBER_SIZE / 8];
    failures += !fiber || !prof_fiber_init(place, touch("name"));
    prof_fiber_switch(fiber);
    prof_fiber_switch(NULL);
    prof_fiber_destroy(fiber);
    prof_device *device = prof_device_create(touch("gpu"), NULL);
    prof_device_row *row = prof_device_row_create(device, touch("queue"));
    failures += !device || !row;
    failures += prof_device_sync(device, 1, prof_host_ns()) != PROF_OK;
    failures += prof_host_ns() != 0;
    prof_device_scope(row, touch("scope"), 1, 2);
    prof_device_mark(row, touch("mark"), 1);
    prof_device_counter(row, touch("counter"), 1, 2);
    prof_device_counter_double(row, touch("counter"), 1, 2.5);
    prof_device_record(row, NULL);
    if (prof_start(&config)) ++failures; /* as a program does that ends then */
    prof_set_thread_name(touch("name"));
    prof_stop();
    (void)prof_start(&config);
    PROFILE_THREAD(touch("name"));
    PROFILE_MARK_DYNAMIC(touch("mark"));
    PROFILE_LOG(PROF_LOG_ERROR, "%s", touch("message"));
    PROFILE_FLOW_OUT((uint64_t)(touch("flow") != NULL));
    PROFILE_ARG_S("key", touch("value"));
    failures += reading();
    failures += objects();
    failures += vulkan();
    failures += cuda();
    failures += others();
    failures += evaluated != 0;
    printf("%d\n", failures);
    return failures != 0;
}
