// layouts/cntk_detail: The layout of CNTK's detail, a list of events.
#ifndef PROF__LAYOUTS_CNTK_DETAIL_H
#define PROF__LAYOUTS_CNTK_DETAIL_H
#include "api/read.h"
#include "api/types.h"
#include "api/values.h"
#include "ground/digits.h"
#include "ground/hash.h"
#include "ground/out.h"
#include "read/since.h"
#include "report/csv.h"
#include "layouts/rows.h"
#include "layouts/state.h"

/*-- the layout of CNTK's detail, a list of events --*/

/* A line that waits to be written, because lines are written in the order of their ends. */
typedef struct prof__report_line {
    int64_t start_ns, end_ns;
    uint64_t order; /* of two that end together, the inner one goes first: it began later, or was read later */
    const prof_callsite *site;
    char *text; /* owned: the name, if it was made at run time; else NULL */
    size_t track;
    uint32_t depth;
} prof__report_line;

typedef struct prof__report_lines {
    prof__report_line *heap; /* a heap: the line to write next is at index 0 */
    size_t count, capacity;
    uint64_t order, truncated, lost;
} prof__report_lines;

static int prof__report_line_before(const prof__report_line *a, const prof__report_line *b)
{
    if (a->end_ns != b->end_ns) return a->end_ns < b->end_ns;
    return a->start_ns != b->start_ns ? a->start_ns > b->start_ns : a->order > b->order;
}

static void prof__report_line_swap(prof__report_line *a, prof__report_line *b)
{
    prof__report_line swap = *a;
    *a = *b;
    *b = swap;
}

/* Adds a line. Takes ownership of `text`, also after a failure. Returns 0 without memory. */
static int prof__report_line_push(prof__report_lines *lines, const prof_callsite *site, uint32_t depth, size_t track,
                                  int64_t start_ns, int64_t end_ns, char *text)
{
    prof__report_line *line;
    size_t at;
    if (!PROF__ROOM(lines->heap, lines->capacity, lines->count)) {
        free(text);
        return 0;
    }
    line = &lines->heap[lines->count];
    line->start_ns = start_ns;
    line->end_ns = end_ns;
    line->order = lines->order++;
    line->site = site;
    line->text = text;
    line->track = track;
    line->depth = depth;
    for (at = lines->count++; at && prof__report_line_before(&lines->heap[at], &lines->heap[(at - 1) / 2]);
         at = (at - 1) / 2)
        prof__report_line_swap(&lines->heap[at], &lines->heap[(at - 1) / 2]);
    return 1;
}

static void prof__report_line_pop(prof__report_lines *lines)
{
    size_t at = 0, child;
    free(lines->heap[0].text);
    lines->heap[0] = lines->heap[--lines->count];
    while ((child = 2 * at + 1) < lines->count) {
        if (child + 1 < lines->count && prof__report_line_before(&lines->heap[child + 1], &lines->heap[child])) child++;
        if (!prof__report_line_before(&lines->heap[child], &lines->heap[at])) return;
        prof__report_line_swap(&lines->heap[child], &lines->heap[at]);
        at = child;
    }
}

/* Writes a time as milliseconds since 1970, with eight decimals. */
static void prof__report_detail_time(prof__out *out, const prof_trace *trace, int64_t ns)
{
    char text[40];
    size_t length = prof__decimals(text, prof_trace_about(trace)->start_unix_ns + (uint64_t)ns, 6);
    PROF__REPORT_LITERAL(out, ",");
    prof__out_bytes(out, text, length);
    PROF__REPORT_LITERAL(out, "00");
}

static void prof__report_detail_line(prof__report *r, const char *name, uint64_t thread, int64_t start_ns,
                                     int64_t end_ns)
{
    PROF__REPORT_LITERAL(r->out, "\"");
    prof__csv_quoted(r->out, name, "\"");
    PROF__REPORT_LITERAL(r->out, "\",");
    prof__out_unsigned(r->out, thread);
    prof__report_detail_time(r->out, r->trace, start_ns);
    prof__report_detail_time(r->out, r->trace, end_ns);
    PROF__REPORT_LITERAL(r->out, "\n");
}

/* Writes the lines that end before this event. event: NULL: writes all. */
static void prof__report_detail_due(prof__report *r, prof__report_lines *lines, const prof_event *event, size_t track)
{
    while (lines->count) {
        const prof__report_line *line = &lines->heap[0];
        if (event && line->end_ns > event->start_ns) return;
        if (event && line->end_ns == event->start_ns && line->track == track && line->depth < event->depth) return;
        prof__report_detail_line(r, line->text ? line->text : line->site->name,
                                 prof_trace_track(r->trace, line->track)->thread_id, line->start_ns, line->end_ns);
        prof__report_line_pop(lines);
    }
}

/* Returns a text such as "(5 events lost)", which the caller frees. Returns NULL without memory. */
static char *prof__report_loss_text(uint64_t count, const char *what)
{
    char text[80] = "(";
    size_t length = 1 + prof__digits(text + 1, count);
    snprintf(text + length, sizeof text - length, " %s)", what);
    return prof__text_join(text, "");
}

static int prof__report_detail_event(prof__report *r, prof__report_lines *lines, const prof_event *event, size_t track)
{
    int64_t end = event->start_ns + event->duration_ns;
    char *text = NULL;
    if ((event->type != PROF_EVENT_SCOPE && event->type != PROF_EVENT_LOST) || !prof__report_after(r, track, end) ||
        prof__report_is_prof(r, event->site))
        return 1;
    if (event->flags) {
        lines->truncated++;
        return 1;
    }
    if (event->type == PROF_EVENT_LOST) {
        lines->lost += event->value.as.u;
        text = prof__report_loss_text(event->value.as.u, "events lost");
    } else if (event->name != event->site->name) {
        text = prof__text_join(event->name, "");
    }
    if (!text && (event->type == PROF_EVENT_LOST || event->name != event->site->name)) return 0;
    return prof__report_line_push(lines, event->site, event->depth, track, event->start_ns, end, text);
}

/* Adds the spans that end up to this time. Spans come in the order of their ends; *span is the next one. Returns 0
   without memory. */
static int prof__report_detail_spans(prof__report *r, prof__report_lines *lines, prof_spans *spans, prof_span *span,
                                     int64_t until_ns)
{
    while (span->site && span->start_ns + span->duration_ns <= until_ns) {
        int64_t end = span->start_ns + span->duration_ns;
        int wanted = !span->mark && prof__report_after(r, span->end_track, end);
        char *text = NULL;
        if (wanted && span->flags) lines->truncated++;
        if (wanted && !span->flags) {
            if (span->name != span->site->name && !(text = prof__text_join(span->name, ""))) return 0;
            if (!prof__report_line_push(lines, span->site, 0, span->end_track, span->start_ns, end, text)) return 0;
        }
        prof_spans_next(spans, span); /* after the last span, *span is all zero */
    }
    return 1;
}

static void prof__report_detail_losses(prof__report *r, uint64_t truncated, uint64_t lost)
{
    const prof_trace_info *info = prof_trace_about(r->trace);
    struct {
        uint64_t count;
        const char *what;
    } losses[8];
    size_t i;
    losses[0].count = truncated;
    losses[0].what = "scopes or spans without begin or end";
    losses[1].count = info->lost > lost && !prof__trace_bounded(r->trace) ? info->lost - lost : 0;
    losses[1].what = "events lost";
    losses[2].count = info->overwritten_chunks;
    losses[2].what = "older chunks overwritten";
    losses[3].count = info->unmatched;
    losses[3].what = "ends or arguments without an open scope";
    losses[4].count = info->sites_lost;
    losses[4].what = "names that did not fit";
    losses[5].count = info->lost_blocks;
    losses[5].what = "parts of the file missing";
    losses[6].count = info->write_failures;
    losses[6].what = "writes failed while recording";
    losses[7].count = info->lost_args;
    losses[7].what = "arguments lost";
    for (i = 0; i < 8; i++) {
        char *text = losses[i].count ? prof__report_loss_text(losses[i].count, losses[i].what) : NULL;
        if (text) prof__report_detail_line(r, text, 0, info->duration_ns, info->duration_ns);
        free(text);
    }
}

static prof_status prof__report_detail(prof__report *r)
{
    prof_timeline *timeline = NULL;
    prof_spans *spans = NULL;
    prof__report_lines lines;
    prof_event event;
    prof_span span;
    size_t track = 0;
    int good = 1;
    prof_status more, status = prof_timeline_open(r->trace, &timeline);
    if (status == PROF_OK) status = prof_spans_open(r->trace, &spans);
    if (status != PROF_OK) {
        prof_timeline_close(timeline);
        return status;
    }
    memset(&lines, 0, sizeof lines);
    prof_spans_next(spans, &span);
    PROF__REPORT_LITERAL(r->out, "EventDescription,ThreadId,BeginTimeStamp(ms),EndTimeStamp(ms)\n");
    while (good && r->out->status == PROF_OK && prof_timeline_next(timeline, &event, &track)) {
        good = prof__report_detail_spans(r, &lines, spans, &span, event.start_ns);
        prof__report_detail_due(r, &lines, &event, track);
        good = good && prof__report_detail_event(r, &lines, &event, track);
    }
    good = good && prof__report_detail_spans(r, &lines, spans, &span, INT64_MAX);
    if (good) prof__report_detail_due(r, &lines, NULL, 0);
    while (lines.count) prof__report_line_pop(&lines);
    free(lines.heap);
    if (good) prof__report_detail_losses(r, lines.truncated, lines.lost);
    status = prof_timeline_close(timeline);
    more = prof_spans_close(spans);
    if (status == PROF_OK) status = more;
    return good ? status : prof__report_no_memory();
}

#endif /* PROF__LAYOUTS_CNTK_DETAIL_H */
