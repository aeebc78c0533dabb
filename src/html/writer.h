// html/writer: Writes traces as a report. Of each trace, writes the tracks one after another, and then the spans.
#ifndef PROF__HTML_WRITER_H
#define PROF__HTML_WRITER_H
#include "api/read.h"
#include "api/values.h"
#include "api/writers.h"
#include "ground/errors.h"
#include "ground/numbers.h"
#include "ground/out.h"
#include "session/number.h"
#include "report/summary.h"
#include "html/api.h"
#include "html/events.h"
#include "html/large.h"
#include "html/pack.h"
#include "html/page.h"
#include "html/sources.h"
#include "html/states.h"

/*-- tracks --*/

static void prof__html_event(prof__html *h, const prof_event *event)
{
    int64_t start = event->start_ns + h->offset;
    if (event->type == PROF_EVENT_SPAN_BEGIN || event->type == PROF_EVENT_SPAN_MARK ||
        event->type == PROF_EVENT_SPAN_END)
        h->has_spans = 1; /* prof__html_spans() writes them later, when begins and ends are matched */
#ifdef PROF_HTML_LARGE
    else if (h->outlined && !prof__html_outlined(h, event, start))
        return;
#endif
    else if (event->type == PROF_EVENT_SCOPE)
        prof__html_scope(h, event, start);
    else
        prof__html_point(h, event, start);
    if (h->arguments.size >= PROF__HTML_COLUMN) prof__html_arguments_end(h);
}

static void prof__html_track(prof__html *h, size_t index)
{
    prof_cursor *cursor;
    prof_event event;
    prof_status status = prof_cursor_open(h->trace, index, &cursor);
    if (status) {
        prof__out_fail(&h->out, status);
        return;
    }
    h->track = h->first_track + index;
    h->last_scope = h->last_point = h->last_time = 0;
    h->open_levels = 0;
    if (h->levels) memset(h->levels, 0, h->level_capacity * sizeof *h->levels);
    memset(&h->listed_points, 0, sizeof h->listed_points);
    memset(h->frames, 0, sizeof h->frames);
    prof__cursor_keyed(cursor);
    while (h->out.status == PROF_OK && prof_cursor_next(cursor, &event)) {
        prof__html_kind_soon(h, cursor);
        h->key = prof__cursor_key(cursor);
        prof__html_event(h, &event);
    }
    h->key = 0;
    prof_cursor_close(cursor);
#ifdef PROF_HTML_LARGE
    prof__html_groups_end(h);
#endif
    prof__html_close(h, 0);
    prof__html_scopes_end(h);
    prof__html_points_end(h);
    prof__html_block1(h, 'B', &h->numbers);
    prof__html_arguments_end(h);
    prof__html_states(h, index);
}

/*-- spans --*/

static void prof__html_span(prof__html *h, const prof_span *span)
{
    prof__html_bytes *to = &h->rows;
    int64_t start = span->start_ns + h->offset;
    uint32_t type = PROF_EVENT_SPAN_BEGIN | (span->flags & 3) << 8;
#ifdef PROF_HTML_LARGE
    if (h->outlined && !prof__html_span_wanted(h, span)) return;
#endif
    if (span->mark) type = PROF_EVENT_SPAN_MARK;
    prof__html_u(to, prof__html_kind_of(h, span->site, span->name, 0, type));
    prof__html_u(to, prof__html_zigzag(start - h->last_span));
    prof__html_u(to, (uint64_t)span->duration_ns);
    prof__html_u(to, h->first_track + span->begin_track);
    prof__html_u(to, h->first_track + span->end_track);
    prof__html_u(to, span->id);
    prof__html_u(to, span->number);
    prof__html_args(h, to, span->args, span->arg_count);
    h->last_span = start;
    ++h->spans;
    if (to->size >= PROF__HTML_COLUMN) {
        prof__html_rows_end(h, 'N');
        h->last_span = 0;
    }
}

static void prof__html_spans(prof__html *h)
{
    prof_spans *spans = NULL;
    prof_span span;
    prof_status status = prof_spans_open(h->trace, &spans), closed;
    h->last_span = 0;
    while (h->out.status == PROF_OK && prof_spans_next(spans, &span)) prof__html_span(h, &span);
    closed = prof_spans_close(spans);
    if (status || closed) prof__out_fail(&h->out, status ? status : closed);
    prof__html_rows_end(h, 'N');
}

/*-- processes and tracks --*/

/* Writes the first block of a trace: pairs of texts about it. docs/internals/html.md lists them. */
static void prof__html_process(prof__html *h)
{
    const prof_trace_info *about = prof_trace_about(h->trace);
    const char *key, *value;
    char text[512];
    prof__html_about(h, "program", about->program);
    prof__html_about(h, "recording", about->file);
    prof__html_about_number(h, "pid", about->pid);
    prof__html_about_number(h, "parent_pid", about->parent_pid);
    prof__html_about(h, "clock", about->clock);
    prof__html_about_number(h, "tick_hz", about->tick_hz);
    prof__html_about_double(h, "clock_resolution_ns", about->clock_resolution_ns);
    prof__html_about_double(h, "scope_cost_ns", about->scope_cost_ns);
    prof__html_about_double(h, "start_cost_ns", about->start_cost_ns);
    prof__html_about_double(h, "ready_cost_ns", about->ready_cost_ns);
    prof__html_about_double(h, "call_cost_ns", about->call_cost_ns);
    prof__html_about_number(h, "start_unix_ns", about->start_unix_ns);
    prof__html_about_number(h, "duration_ns", (uint64_t)(about->duration_ns < 0 ? 0 : about->duration_ns));
    prof__html_about_number(h, "offset_ns", (uint64_t)h->offset);
    prof__html_about_number(h, "together", (uint64_t)h->together);
    prof__html_about_number(h, "from_ns", (uint64_t)about->from_ns);
    prof__html_about_number(h, "to_ns", (uint64_t)about->to_ns);
    prof__html_about_number(h, "events", about->event_count);
    prof__html_about_number(h, "aggregated", about->folded);
    prof__html_about_number(h, "lost", about->lost);
    prof__html_about_number(h, "taken_back", about->taken_back);
    prof__html_about_number(h, "tracks", prof_trace_track_count(h->trace));
    prof__html_about(h, "mode", prof__mode_names[about->mode]);
    prof__html_about_number(h, "complete", (uint64_t)about->complete);
    if (about->alive) prof__html_about(h, "alive", "1");
    prof__html_about(h, "write_error", about->write_error);
    prof__html_about(h, "crash", about->crash);
    if (prof__nothing_text(h->trace, text, sizeof text)) prof__html_about(h, "nothing", text);
    for (int kind = 0; kind < PROF__LOSSES; ++kind)
        if (prof__loss_text(h->trace, kind, text, sizeof text)) prof__html_about(h, "loss", text);
    for (size_t i = 0; prof_trace_metadata(h->trace, i, &key, &value); ++i) {
        snprintf(text, sizeof text, "metadata.%s", key);
        prof__html_about(h, text, value);
    }
#ifdef PROF_HTML_LARGE
    prof__html_choose(h);
#endif
    prof__html_block1(h, 'P', &h->rows);
}

static void prof__html_tracks(prof__html *h)
{
    prof__html_bytes *to = &h->rows;
    const prof_track *track;
    for (size_t i = 0; (track = prof_trace_track(h->trace, i)) != NULL; ++i) {
        prof__html_text(to, track->name);
        prof__html_text(to, track->device);
        prof__html_u(to, track->thread_id);
        prof__html_u(to, (uint64_t)(track->fiber != 0));
        prof__html_u(to, (uint64_t)track->alignment);
        prof__html_u(to, track->lost);
        prof__html_u(to, track->event_count);
        prof__html_u(to, track->kept_ns > 0 ? (uint64_t)(track->kept_ns + h->offset) : 0);
        if (to->size >= PROF__HTML_COLUMN) prof__html_block1(h, 'T', to);
    }
    prof__html_block1(h, 'T', to);
}

/*-- the file --*/

static void prof__html_trace(prof__html *h, const prof_trace *trace, int64_t offset)
{
    size_t tracks = prof_trace_track_count(trace);
    h->trace = trace;
    free(h->sites);
    h->sites = (prof__html_site *)calloc(prof__site_count(trace), sizeof *h->sites);
    h->offset = offset;
    h->has_spans = 0;
    prof__html_process(h);
    prof__html_tracks(h);
    for (size_t i = 0; i < tracks && h->out.status == PROF_OK; ++i) prof__html_track(h, i);
    if (h->has_spans && h->out.status == PROF_OK) prof__html_spans(h);
#ifdef PROF_HTML_LARGE
    if (h->outlined && h->out.status == PROF_OK) prof__html_statistics(h);
#endif
    h->first_track += tracks;
}

/* Writes the last block: how many scopes, other events and spans there are. By it the page sees if a report was cut. */
static void prof__html_end(prof__html *h)
{
    prof__html_u(&h->rows, h->scopes);
    prof__html_u(&h->rows, h->points);
    prof__html_u(&h->rows, h->spans);
    prof__html_block1(h, 'Z', &h->rows);
    prof__html_piece_end(h);
}

/* Returns 1 if the traces are different runs, which the user wants to compare: one of them overlaps with no other in
   time. Then makes all of them begin at 0. */
static int prof__html_together(const prof_trace *const *traces, size_t count, int64_t *offsets)
{
    for (size_t i = 0; i < count; ++i) {
        size_t j, others = 0;
        int64_t end = offsets[i] + prof_trace_about(traces[i])->duration_ns;
        for (j = 0; j < count; ++j) {
            int64_t its_end = offsets[j] + prof_trace_about(traces[j])->duration_ns;
            others += j != i && offsets[j] <= end && offsets[i] <= its_end;
        }
        if (others || count == 1) continue;
        memset(offsets, 0, count * sizeof *offsets);
        return 1;
    }
    return 0;
}

static void prof__html_all(prof__html *h, const prof_trace *const *traces, size_t count)
{
    int64_t *offsets = (int64_t *)calloc(count + 1, sizeof *offsets);
    size_t i, machines;
    if (!offsets) {
        prof__out_fail(&h->out, prof__fail(PROF_NO_MEMORY, "no memory to write %lu traces", (unsigned long)count));
        return;
    }
    machines = prof_trace_align(traces, count, offsets);
    h->together = prof__html_together(traces, count, offsets);
    for (i = 0; prof__html_page[i]; ++i) prof__out_text(&h->out, prof__html_page[i]);
    prof__html_u(&h->rows, PROF__HTML_VERSION);
    prof__html_u(&h->rows, machines);
    prof__html_text(&h->rows, h->options.title ? h->options.title : "");
    prof__html_block1(h, 'H', &h->rows);
    for (i = 0; i < count && h->out.status == PROF_OK; ++i) prof__html_trace(h, traces[i], offsets[i]);
    if (h->options.sources) prof__html_sources(h);
    prof__html_end(h);
    prof__out_text(&h->out, "</body>\n</html>\n");
    free(offsets);
}

static prof_status prof__html_make(prof__html **h, const prof_trace *const *traces, size_t count,
                                   const prof_html_options *options)
{
    *h = NULL;
    if (!traces || !count) return prof__fail(PROF_INVALID_ARGUMENT, "no trace to write");
    for (size_t i = 0; i < count; ++i)
        if (!traces[i]) return prof__fail(PROF_INVALID_ARGUMENT, "no trace to write");
    *h = (prof__html *)calloc(1, sizeof **h);
    if (!*h) return prof__fail(PROF_NO_MEMORY, "no memory to write a report");
    if (options) (*h)->options = *options;
    return PROF_OK;
}

static prof_status prof__html_done(prof__html *h)
{
    prof_status status = prof__out_close(&h->out);
    free(h->levels);
    free(h->sites);
    free(h->known_strings.items);
    free(h->known_strings.index.slots);
    free(h->known_kinds.items);
    free(h->known_kinds.index.slots);
    free(h);
    return status;
}

/* Writes a report to a file. limits: NULL: no limits. Its type is prof_html_limits, which only PROF_HTML_LARGE
   declares. */
static prof_status prof__html_file(const prof_trace *const *traces, size_t count, const char *path,
                                   const prof_html_options *options, const void *limits)
{
    prof__html *h;
    prof_status status = prof__html_make(&h, traces, count, options);
    if (!h) return status;
#ifdef PROF_HTML_LARGE
    if (limits) h->limits = *(const prof_html_limits *)limits;
#else
    (void)limits;
#endif
    status = prof__out_file(&h->out, path);
    if (status) {
        free(h);
        return status;
    }
    prof__html_all(h, traces, count);
    return prof__html_done(h);
}

PROF_DEF prof_status prof_html_merge(const prof_trace *const *traces, size_t count, const char *path,
                                     const prof_html_options *options)
{
    PROF__CALM();
    return prof__html_file(traces, count, path, options, NULL);
}

#ifdef PROF_HTML_LARGE
PROF_DEF prof_status prof_html_outline(const prof_trace *const *traces, size_t count, const char *path,
                                       const prof_html_options *options, const prof_html_limits *limits)
{
    PROF__CALM();
    prof_html_limits each = {0, 0, 0};
    uint64_t events = 0;
    if (limits) each = *limits;
    if (!each.events) each.events = PROF__HTML_MOST_EVENTS;
    for (size_t i = 0; traces && i < count; ++i) events += traces[i] ? prof_trace_about(traces[i])->event_count : 0;
    if (events > each.events || each.from_ns || each.to_ns) each.events = each.events / (count + !count) + 1;
    else each.events = 0; /* no limits */
    return prof__html_file(traces, count, path, options, &each);
}
#endif

PROF_DEF prof_status prof_html_stream(const prof_trace *trace, prof_sink sink, const prof_html_options *options)
{
    PROF__CALM();
    prof__html *h;
    prof_status status = prof__html_make(&h, &trace, 1, options);
    if (!h) return status;
    prof__out_sink(&h->out, sink);
    prof__html_all(h, &trace, 1);
    return prof__html_done(h);
}

PROF_DEF prof_status prof_html_write(const prof_trace *trace, const char *path, const prof_html_options *options)
{
    PROF__CALM();
    return prof_html_merge(&trace, 1, path, options);
}

#endif /* PROF__HTML_WRITER_H */
