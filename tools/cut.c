/* cut.c - prof cut: writes a part of a recording. */
#include "tool.h"

static const tool_option options[] = {
    {"--output", "-o", "OUT", "the file to write: .prof .html .json .csv .txt; -: stdout"},
    {"--from", NULL, "TIME", "where the part begins, from the start: 1.5s, 20ms; -2s: 2 s before the end"},
    {"--to", NULL, "TIME", "where it ends; default: the end of the recording"},
    {"--format", "-f", "KIND", "the format, whatever the ending: html, json, csv, txt, prof or pprof"},
    TOOL_PROGRESS,
    {NULL, NULL, NULL, NULL}};

/* Reads the times of the command line, in nanoseconds. An end that was not given is 0. */
static int window(const tool_args *args, const prof_trace *trace, int64_t *from_ns, int64_t *to_ns)
{
    const char *from = tool_value(args, "--from"), *to = tool_value(args, "--to");
    int64_t end = prof_trace_about(trace)->duration_ns;
    *from_ns = *to_ns = 0;
    if (from && !tool_time("--from", from, end, from_ns)) return 0;
    if (to && !tool_time("--to", to, end, to_ns)) return 0;
    if (!to || *to_ns > *from_ns) return 1;
    tool_fail("cut: --to %s is not later than --from %s", to, from ? from : "0");
    return 0;
}

static int write_part(const tool_args *args, prof_trace *trace, const char *extension)
{
    const char *out = tool_value(args, "--output");
    int64_t from_ns, to_ns;
    int result;
    if (!window(args, trace, &from_ns, &to_ns)) return TOOL_ERROR;
    if (tool_same(extension, ".prof")) return tool_copy(args->files[0], out, from_ns, to_ns);
    if (tool_status(prof_trace_set_window(trace, from_ns, to_ns))) return TOOL_ERROR;
    tool_progress_begin("cut", tool_value(args, "--progress"));
    prof_trace_set_progress(trace, tool_progress_step, NULL);
    result = tool_trace_write(trace, out, extension);
    tool_progress_end();
    return result;
}

static int run(const tool_args *args)
{
    const char *extension = tool_output_kind(args);
    prof_trace *trace;
    int choice, result;
    if (!extension) return TOOL_ERROR;
    if (!tool_choice("--progress", tool_value(args, "--progress"), tool_progress_choices, &choice)) return TOOL_ERROR;
    if (!tool_value(args, "--from") && !tool_value(args, "--to"))
        return tool_fail("cut: no part chosen: add --from TIME, --to TIME or both");
    trace = tool_open(args->files[0]);
    if (!trace) return TOOL_ERROR;
    result = write_part(args, trace, extension);
    prof_trace_close(trace);
    return result;
}

const tool_command tool_cut = {
    "cut", "IN --from TIME --to TIME -o OUT", "Writes a part of a recording", 1, 1, run, options,
    "Scopes that reach into the part, also those that were open during all of it, are cut to it and marked as\n"
    "truncated. Times still count from the start of the recording. A .prof keeps everything and shows only the\n"
    "part: its size is that of the recording, and you can cut another part out of it, or all of it (--from 0).\n\n"
    "example: prof cut trace.prof --from -2s -o end.json\n"};
