// report/summary_write: prof_summary_write() and prof_summary_stream(): write all parts of the summary.
#ifndef PROF__REPORT_SUMMARY_WRITE_H
#define PROF__REPORT_SUMMARY_WRITE_H
#include "api/reports.h"
#include "api/values.h"
#include "api/writers.h"
#include "ground/errors.h"
#include "ground/numbers.h"
#include "ground/out.h"
#include "report/accumulator.h"
#include "report/stat_rows.h"
#include "report/statistics.h"
#include "report/summary.h"
#include "report/summary_head.h"
#include "report/summary_memory.h"
#include "report/summary_open.h"
#include "report/table.h"

/* Returns the width of standard output in characters: COLUMNS, or what the terminal reports. Returns 0 if standard
   output is no terminal. */
static int prof__terminal_columns(void)
{
    const char *text = getenv("COLUMNS");
    long columns = text ? strtol(text, NULL, 10) : 0;
#ifdef _WIN32
    CONSOLE_SCREEN_BUFFER_INFO info;
    if (!GetConsoleScreenBufferInfo(GetStdHandle(STD_OUTPUT_HANDLE), &info)) return 0;
    if (columns <= 0) columns = info.srWindow.Right - info.srWindow.Left + 1;
#else
    if (!isatty(1)) return 0;
#ifdef TIOCGWINSZ
    struct winsize size;
    if (columns <= 0 && !ioctl(1, TIOCGWINSZ, &size)) columns = size.ws_col;
#endif
#endif
    return columns > 0 && columns < 100000 ? (int)columns : 0;
}

/* Converts the option `columns` to the number of characters of a line of this output. Returns 0 for no limit. */
static size_t prof__out_columns(const prof__out *out, int columns)
{
    if (!columns && out->file && out->file == stdout) columns = prof__terminal_columns();
    return columns <= 0 ? 0 : (size_t)columns < PROF__TABLE_LEAST ? PROF__TABLE_LEAST : (size_t)columns;
}

static void prof__summary(const prof_trace *trace, prof__out *out, const prof_summary_options *options)
{
    static const prof_summary_options defaults = {PROF_SORT_TOTAL, 0, 0, 0, 0};
    size_t limit = prof__out_columns(out, options ? options->columns : 0);
    prof__stat_rows all;
    prof__sorted *scopes = NULL, *spans = NULL, *frames = NULL, *counters = NULL;
    size_t scope_count = 0, span_count = 0, frame_count = 0, counter_count = 0;
    prof_status status = prof__stat_rows_make(trace, options ? options->by_path : 0, &all);
    if (!options) options = &defaults;
    if (status == PROF_OK) {
        scopes = prof__sort(&all, PROF_EVENT_SCOPE, options->sort, options->ascending, &scope_count);
        spans = prof__sort(&all, PROF_EVENT_SPAN_BEGIN, options->sort, options->ascending, &span_count);
        frames = prof__sort(&all, PROF_EVENT_FRAME, PROF_SORT_NAME, 1, &frame_count);
        counters = prof__sort(&all, PROF_EVENT_COUNTER, PROF_SORT_NAME, 1, &counter_count);
        if (!scopes || !spans || !frames || !counters) status = prof__no_memory("for the summary");
    }
    if (status == PROF_OK) {
        prof__summary_head(out, trace, limit);
        prof__summary_scopes(out, trace, &all, scopes, scope_count, options, limit);
        status = prof__summary_open(out, trace, options->top, limit);
        prof__summary_throughput(out, trace, scopes, scope_count, limit);
        prof__summary_spans(out, &all, spans, span_count, limit);
        prof__summary_frames(out, frames, frame_count, limit);
        prof__summary_counters(out, &all, counters, counter_count, limit);
        prof__summary_devices(out, trace, limit);
        prof__summary_messages(out, &all);
        if (status == PROF_OK) status = prof__summary_memory(out, trace, options->top, limit);
        if (status == PROF_OK) status = prof__summary_locks(out, trace, options->top, limit);
        prof__summary_losses(out, trace, limit);
        prof__summary_cost(out, trace, &all, limit);
    }
    if (status != PROF_OK) prof__out_fail(out, status);
    free(scopes);
    free(spans);
    free(frames);
    free(counters);
    prof__stat_rows_free(&all);
}

/* Writes to the file `path`, or to `sink` if that is not NULL. */
static prof_status prof__summary_to(const prof_trace *trace, const char *path, const prof_sink *sink,
                                    const prof_summary_options *options)
{
    prof__out out;
    prof_status status;
    if (!trace) return prof__null(sink ? "prof_summary_stream" : "prof_summary_write", "trace");
    status = prof__out_to(&out, path, sink);
    if (status != PROF_OK) return status;
    prof__summary(trace, &out, options);
    return prof__out_close(&out);
}

PROF_DEF prof_status prof_summary_write(const prof_trace *trace, const char *path, const prof_summary_options *options)
{
    PROF__CALM();
    return prof__summary_to(trace, path, NULL, options);
}

PROF_DEF prof_status prof_summary_stream(const prof_trace *trace, prof_sink sink, const prof_summary_options *options)
{
    PROF__CALM();
    return prof__summary_to(trace, NULL, &sink, options);
}

/* Writes the summary to a file, with the default options: the writer of paths that end in .txt. */
static prof_status prof__summary_default(const prof_trace *trace, const char *path)
{
    return prof_summary_write(trace, path, NULL);
}

#endif /* PROF__REPORT_SUMMARY_WRITE_H */
