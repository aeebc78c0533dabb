/* export.c - prof export: a recording as a file of another kind. */
#include "tool.h"

static const tool_option options[] = {
    {"--output", "-o", "OUT",
     "the file to write; its ending says what: .json .csv .txt .prof, or / for a log directory; - is standard output"},
    {"--format", "-f", "KIND", "what to write whatever the ending: json, csv, txt or prof"},
    TOOL_PROGRESS,
    {NULL, NULL, NULL, NULL}};

static int run(const tool_args *args)
{
    const char *in = args->files[0], *out = tool_value(args, "--output"), *when = tool_value(args, "--progress");
    const char *extension = tool_output_kind(args);
    prof_trace *trace;
    int choice, result;
    if (!extension || !tool_choice("--progress", when, tool_progress_choices, &choice)) return TOOL_ERROR;
    if (tool_same(extension, ".prof")) return tool_copy(in, out, -1, 0);
    trace = tool_open(in);
    if (!trace) return TOOL_ERROR;
    tool_progress_begin("export", when);
    prof_trace_watch(trace, tool_progress_step, NULL);
    result = tool_status(prof_trace_write(trace, out, extension));
    tool_progress_end();
    prof_trace_close(trace);
    return result;
}

const tool_command tool_export = {
    "export", "IN -o OUT", "Writes a recording as Chrome trace JSON, for XProf, as CSV, a summary or a copy of itself", 1, 1,
    run, options,
    "json opens in ui.perfetto.dev, chrome://tracing and speedscope; csv has one event a line; txt is what prof summary\n"
    "prints; prof is a consistent copy of the recording, also of one that is still being made. A directory, or what ends\n"
    "in /, is a log directory of XProf and TensorBoard: DIR/plugins/profile/RUN/HOST.xplane.pb is added to it.\n\n"
    "example: prof export trace.prof -o trace.json\n"
    "         prof export trace.prof -o logs/\n"};
