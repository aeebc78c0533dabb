// report/summary_head: The summary's first lines: the program, the recording, and its cost and losses.
#ifndef PROF__REPORT_SUMMARY_HEAD_H
#define PROF__REPORT_SUMMARY_HEAD_H
#include "api/read.h"
#include "api/values.h"
#include "ground/digits.h"
#include "ground/out.h"
#include "ground/text.h"
#include "ground/utf8.h"
#include "read/clock.h"
#include "read/gaps.h"
#include "read/trace.h"
#include "report/stat_rows.h"

/* Writes one line of the head: "  what      text". */
static void prof__summary_line(prof__out *out, const char *what, const char *text, size_t limit)
{
    size_t length = prof__characters(what);
    prof__out_text(out, "  ");
    prof__out_clean(out, what);
    prof__out_spaces(out, length < 10 ? 10 - length : 2);
    prof__out_wrapped(out, text, length < 10 ? 12 : length + 4, 12, limit);
    prof__out_text(out, "\n");
}

static void prof__summary_head(prof__out *out, const prof_trace *trace, size_t limit)
{
    static const char *const modes[] = {"reused as a ring", "filled once", "emptied into the file",
                                        "emptied into statistics", "reused as a ring, statistics of everything"};
    const prof_trace_info *info = prof_trace_about(trace);
    uint64_t events = trace->aggregated ? info->folded : info->event_count;
    uint64_t tracks = trace->aggregated ? trace->header.tracks : prof_trace_track_count(trace);
    char text[512], a[48], b[48], c[48];
    size_t i;
    prof__out_clean(out, *info->program ? info->program : "program");
    prof__out_text(out, ", process ");
    prof__out_unsigned(out, info->pid);
    prof__out_text(out, "\n");
    prof__human_ns(a, (double)info->duration_ns);
    prof__grouped(b, events);
    prof__grouped(c, tracks);
    snprintf(text, sizeof text, "%s, %s event%s on %s track%s%s", a, b, events == 1 ? "" : "s",
             c, tracks == 1 ? "" : "s",
             info->complete ? "" : "; the recording was not stopped: a save, still running, or a crash");
    prof__summary_line(out, "recorded", text, limit);
    if (info->from_ns || info->to_ns) {
        prof__human_ns(a, (double)info->from_ns);
        prof__human_ns(b, prof__trace_span(info));
        snprintf(text, sizeof text, "from %s on, for %s: the tables show nothing else", a, b);
        prof__summary_line(out, "window", text, limit);
    }
    for (i = 0; i < trace->metadata_count; i++)
        prof__summary_line(out, trace->metadata[i].key, trace->metadata[i].value, limit);
    if (info->switches || info->switches_lost) {
        prof__grouped(a, info->switches);
        prof__grouped(b, info->switches_lost);
        snprintf(text, sizeof text, "%s, when threads ceased to run%s%s%s", a, info->switches_lost ? "; " : "",
                 info->switches_lost ? b : "", info->switches_lost ? " begins and ends of running are missing" : "");
        prof__summary_line(out, "switches", text, limit);
    }
    if (info->samples || info->samples_lost) {
        prof__grouped(a, info->samples);
        prof__human_ns(b, prof__real(info->sample_period_ns));
        prof__grouped(c, info->samples_lost);
        snprintf(text, sizeof text, "%s, one for each %s that a thread ran%s%s%s", a, b, info->samples_lost ? "; " : "",
                 info->samples_lost ? c : "", info->samples_lost ? " are missing" : "");
        prof__summary_line(out, "samples", text, limit);
    }
    prof__human_hz(a, prof__real(info->tick_hz));
    prof__human_ns(b, info->clock_resolution_ns);
    snprintf(text, sizeof text, "%s, %s%s%s%s", *info->clock ? info->clock : "unnamed",
             info->tick_hz ? "" : "of unknown rate: a tick counts as 1 ns", info->tick_hz ? a : "",
             info->clock_resolution_ns > 0 ? ", smallest step " : "", info->clock_resolution_ns > 0 ? b : "");
    prof__summary_line(out, "clock", text, limit);
    for (i = 0; prof__trace_gap(trace, i, text, sizeof text); i++) prof__summary_line(out, "", text, limit);
    prof__grouped(a, info->buffer_size);
    int only_ring = info->mode == PROF_RING_STATS && !trace->aggregated; /* from a file, which holds no statistics */
    prof__grouped(b, info->chunks);
    int split = info->chunk_size && info->chunks > info->buffer_size / info->chunk_size;
    snprintf(text, sizeof text, "%s bytes%s%s%s, %s", a, split ? ", split into " : "", split ? b : "",
             split ? " chunks for many threads" : "", modes[only_ring ? PROF_RING : info->mode]);
    prof__summary_line(out, "buffer", text, limit);
}

#endif /* PROF__REPORT_SUMMARY_HEAD_H */
