/* summary.c - prof summary: a table of scopes, frames and counters. */
#include "tool.h"

static const char *const sorts[] = {"total", "self", "calls", "mean", "min", "max", "p99", "name", NULL};

static const tool_option options[] = {
    {"--sort", "-s", "KEY", "total (default), self, calls, mean, min, max, p99 or name; the largest first"},
    {"--ascending", "-a", NULL, "the smallest first"},
    {"--top", "-n", "N", "only the first N rows; by path: and those around them"},
    {"--by-path", "-p", NULL, "a row for each call path, as a tree"},
    TOOL_PROGRESS,
    {NULL, NULL, NULL, NULL}};

static int run(const tool_args *args)
{
    const char *top = tool_value(args, "--top"), *when = tool_value(args, "--progress");
    prof_summary_options how = {PROF_SORT_TOTAL, 0, 0, 0};
    prof_trace *trace;
    double rows = 0;
    int sort, choice, result;
    if (!tool_choice("--sort", tool_value(args, "--sort"), sorts, &sort)) return TOOL_ERROR;
    if (!tool_choice("--progress", when, tool_progress_choices, &choice)) return TOOL_ERROR;
    if (top && !tool_number("--top", top, 1, 1e9, &rows)) return TOOL_ERROR;
    trace = tool_open(args->files[0]);
    if (!trace) return TOOL_ERROR;
    how.sort = (prof_sort)sort;
    how.ascending = tool_value(args, "--ascending") != NULL;
    how.top = (size_t)rows;
    how.by_path = tool_value(args, "--by-path") != NULL;
    tool_progress_begin("summary", when);
    prof_trace_watch(trace, tool_progress_step, NULL);
    result = tool_status(prof_summary_stream(trace, tool_stdout(), &how));
    tool_progress_end();
    prof_trace_close(trace);
    return result;
}

const tool_command tool_summary = {
    "summary", "IN", "Prints a table of scopes, frames, counters and losses", 1, 1, run, options,
    "total: time inside the scope; self: without the scopes inside it. % of run: the share of the recording in which at\n"
    "least one call was open, added over threads. Percentiles are exact to 0.8 %. Scopes whose begin or end was not\n"
    "recorded count as calls, but in no time.\n\n"
    "example: prof summary --by-path --top 20 trace.prof\n"};
