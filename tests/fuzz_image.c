/* fuzz_image.c - reads any bytes as an image, writes it with every exporter, and checks what prof.h promises of every
   trace. A part of fuzz.c. */
#ifndef FUZZ_TEST /* which has private.h */
#define PROF_IMPLEMENTATION
#include "../prof_chrome.h"
#include "../prof_report.h"
#endif
#include "../prof_html.h"
#include "../prof_ntff.h"
#include "../prof_xplane.h"
#include "fuzz.h"
#include "mutate.h"

static unsigned long images_opened; /* the others were refused */

static size_t text_size(const char *text)
{
    REQUIRE(text != NULL);
    return strlen(text);
}

static size_t look_at(const prof_event *event)
{
    size_t size = text_size(event->name) + text_size(event->site->name) + text_size(event->site->category) +
                  text_size(event->site->file) + text_size(event->site->function);
    uint32_t i;
    if (event->type == PROF_EVENT_LOG) REQUIRE(event->value.type == PROF_VALUE_STRING);
    if (event->value.type == PROF_VALUE_STRING) size += text_size(event->value.as.string);
    for (i = 0; i < event->arg_count; ++i) {
        size += text_size(event->args[i].key);
        if (event->args[i].value.type == PROF_VALUE_STRING) size += text_size(event->args[i].value.as.string);
    }
    return size;
}

static void walk(const prof_trace *trace, size_t number)
{
    const prof_track *track = prof_trace_track(trace, number);
    prof_cursor *cursor = NULL;
    prof_event event;
    uint64_t count = 0, lost = 0;
    int64_t before = track->first_ns, *ends = NULL;
    size_t depth = 0, room = 0, bytes = text_size(track->name);
    if (prof_cursor_open(trace, number, &cursor) != PROF_OK) return;
    while (prof_cursor_next(cursor, &event)) {
        bytes += look_at(&event);
        ++count;
        REQUIRE(event.start_ns >= before && event.duration_ns >= 0);
        before = event.start_ns;
        REQUIRE(event.start_ns <= track->last_ns);
        if (event.type == PROF_EVENT_LOST) {
            lost += event.value.as.u;
            continue;
        }
        REQUIRE(event.depth <= depth);
        depth = event.depth;
        if (depth) REQUIRE(event.start_ns <= ends[depth - 1]);
        if (event.type != PROF_EVENT_SCOPE) continue;
        if (depth) REQUIRE(event.start_ns + event.duration_ns <= ends[depth - 1]);
        REQUIRE(event.start_ns + event.duration_ns <= /* a scope that a thread hangs in lasts longer than its events */
                (track->open && event.flags & PROF_TRUNCATED_END ? prof_trace_about(trace)->duration_ns : track->last_ns));
        if (depth == room) ends = (int64_t *)realloc(ends, (room = room * 2 + 16) * sizeof *ends);
        ends[depth++] = event.start_ns + event.duration_ns;
    }
    REQUIRE(count == track->event_count && lost == track->lost && bytes + 1 > 0);
    prof_cursor_close(cursor);
    free(ends);
}

/* Reads all frames. The samples of threads without a track are in order of these. */
static void walk_samples(const prof_trace *trace, size_t number)
{
    size_t count, i, j;
    uint64_t sum = 0;
    const prof_sample *sample = prof_track_samples(trace, number, &count);
    for (i = 0; i < count; ++i) {
        const prof_module *module = prof_module_at(trace, sample[i].frames[0], sample[i].time_ns);
        REQUIRE(sample[i].frame_count && sample[i].frame_count <= PROF_SAMPLE_FRAMES && sample[i].time_ns >= 0);
        for (j = 0; j < sample[i].frame_count; ++j) sum += sample[i].frames[j] != 0;
        if (module) sum += text_size(module->path) + text_size(module->build_id);
        REQUIRE(!i || sample[i].thread_id > sample[i - 1].thread_id ||
                (sample[i].thread_id == sample[i - 1].thread_id && sample[i].time_ns >= sample[i - 1].time_ns));
    }
    REQUIRE(count <= prof_trace_about(trace)->samples && sum + 1 > 0);
}

/* With a window all that is left is order of time, and the window. */
static void walk_window(const prof_trace *trace, size_t index)
{
    const prof_trace_info *info = prof_trace_about(trace);
    prof_cursor *cursor = NULL;
    prof_event event;
    int64_t before = info->from_ns;
    if (prof_cursor_open(trace, index, &cursor) != PROF_OK) return;
    while (prof_cursor_next(cursor, &event)) {
        REQUIRE(event.start_ns >= before && event.duration_ns >= 0);
        REQUIRE(!info->to_ns || event.start_ns < info->to_ns);
        if (event.type == PROF_EVENT_SCOPE) REQUIRE(!info->to_ns || event.start_ns + event.duration_ns <= info->to_ns);
        before = event.start_ns;
    }
    prof_cursor_close(cursor);
}

/* Blocks of the archive whose check is wrong are never looked into: so it is made right. */
static void mend(uint8_t *data, size_t size)
{
    size_t at;
    for (at = 0; at + sizeof(prof__block) <= size; at += 8) {
        prof__block block;
        memcpy(&block, data + at, sizeof block);
        if (block.magic != PROF__BLOCK_MAGIC || block.size < sizeof block || block.size > size - at) continue;
        block.check = prof__block_check(&block, data + at + sizeof block);
        memcpy(data + at, &block, sizeof block);
    }
}

static prof_status open_mended(const uint8_t *data, size_t size, prof_trace **trace)
{
    uint8_t *copy = (uint8_t *)malloc(size + !size);
    prof_status status;
    REQUIRE(copy != NULL);
    memcpy(copy, data, size);
    mend(copy, size);
    status = prof_trace_open_memory(copy, size, trace);
    free(copy);
    return status;
}

/*-- exporters --*/

typedef prof_status image_exporter(const prof_trace *trace, prof_sink sink);

static prof_status export_stats(const prof_trace *trace, prof_sink sink)
{
    prof_stat *stats = NULL;
    prof_lock_row *locks = NULL;
    prof_wait *waits = NULL;
    prof_spans *spans = NULL;
    prof_span span;
    size_t count = 0;
    (void)sink;
    for (int sort = 0; sort < 8; ++sort) {
        prof_status status = prof_stats(trace, (prof_sort)sort, sort & 1, &stats, &count);
        if (status) return status;
        prof_stats_free(stats);
    }
    prof_status status = prof_locks(trace, 1, &locks, &count);
    prof_locks_free(locks);
    if (!status) status = prof_waits(trace, &waits, &count);
    prof_waits_free(waits);
    if (!status) status = prof_spans_open(trace, &spans);
    while (!status && prof_spans_next(spans, &span)) REQUIRE(span.duration_ns >= 0 && span.name);
    prof_spans_close(spans);
    return status;
}

static prof_status export_why(const prof_trace *trace, prof_sink sink)
{
    prof_why_options options;
    prof_why_report *report = NULL;
    prof_status status;
    (void)sink;
    memset(&options, 0, sizeof options);
    options.slowest = 3;
    status = prof_why(trace, &options, &report);
    for (size_t i = 0; !status && i < report->count; ++i) {
        const prof_why_call *call = &report->calls[i];
        uint64_t parts = call->split.running_ns + call->split.ready_ns + call->split.waiting_ns + call->split.unknown_ns;
        uint64_t inner = 0, waits = 0;
        for (size_t k = 0; k < call->inner_count; ++k) inner += call->inner[k].self_ns;
        for (size_t k = 0; k < call->wait_count; ++k) waits += call->waits[k].ns;
        REQUIRE(parts == call->split.wall_ns && inner == call->split.wall_ns && waits == call->split.waiting_ns);
    }
    prof_why_free(report);
    return status == PROF_INVALID_ARGUMENT || status == PROF_UNSUPPORTED ? PROF_OK : status; /* it has no calls */
}

static prof_status export_summary(const prof_trace *trace, prof_sink sink)
{
    return prof_summary_stream(trace, sink, NULL);
}

static prof_status export_chrome(const prof_trace *trace, prof_sink sink)
{
    return prof_chrome_stream(trace, sink, NULL);
}

static prof_status export_xplane(const prof_trace *trace, prof_sink sink)
{
    return prof_xplane_stream(trace, sink, NULL);
}

static prof_status export_html(const prof_trace *trace, prof_sink sink) { return prof_html_stream(trace, sink, NULL); }

static prof_status export_kineto(const prof_trace *trace, prof_sink sink)
{
    prof_ntff_trace_options options;
    memset(&options, 0, sizeof options);
    options.source_names = options.instants = options.counters = 1;
    return prof_ntff_trace_json_stream(trace, sink, &options);
}

static prof_status export_reports(const prof_trace *trace, prof_sink sink)
{
    prof_report_options options;
    prof_status status = PROF_OK;
    memset(&options, 0, sizeof options);
    for (int layout = 0; !status && layout < PROF_REPORT_LAYOUT_COUNT; ++layout) {
        options.layout = (prof_report_layout)layout;
        options.others = layout & 1;
        status = prof_report_stream(trace, sink, &options);
        if (status == PROF_INVALID_ARGUMENT || status == PROF_UNSUPPORTED) status = PROF_OK; /* it has only statistics */
    }
    return status;
}

static image_exporter *const image_exporters[] = {
    export_stats, export_why, export_summary, export_chrome, export_xplane, export_html, export_kineto, export_reports,
    prof_csv_stream, prof_xplane_pprof_stream};
#define IMAGE_EXPORTERS (sizeof image_exporters / sizeof *image_exporters)

/* Reads an image. from, to: the exporters that write it. */
static void image_read(const uint8_t *data, size_t size, size_t from, size_t to)
{
    static uint32_t sum;
    prof_trace *trace = NULL;
    prof_sink sink;
    sink.write = fuzz_swallow;
    sink.user = &sum;
    if (open_mended(data, size, &trace) != PROF_OK) return;
    ++images_opened;
    for (size_t i = 0; i < prof_trace_track_count(trace); ++i) walk_window(trace, i); /* the image's own */
    REQUIRE(prof_trace_set_window(trace, 0, 0) == PROF_OK);
    for (size_t i = 0; i < prof_trace_track_count(trace); ++i) {
        walk(trace, i);
        walk_samples(trace, i);
    }
    walk_samples(trace, PROF_NO_TRACK);
    for (; from < to; ++from) REQUIRE(image_exporters[from](trace, sink) == PROF_OK);
    prof_trace_close(trace);
}

static inline int fuzz_image(const uint8_t *data, size_t size)
{
    image_read(data, size, 0, IMAGE_EXPORTERS);
    return 0;
}

#ifndef FUZZ_TEST
/* Half of the changes know the format; the others are libFuzzer's own, because what nobody thought of is not in
   mutate.h. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);
static size_t fuzz_image_mutate(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    static uint64_t image[MUTATE_MOST / 8];
    if (most > sizeof image) most = sizeof image;
    if (seed % 2 == 0 || size > most) return LLVMFuzzerMutate(data, size, most);
    memcpy(image, data, size);
    mutate_seed(seed);
    size = mutate(image, size, most);
    memcpy(data, image, size);
    return size;
}
#endif
