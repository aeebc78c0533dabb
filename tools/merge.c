/* merge.c - prof merge: joins the recordings of several processes on one time line. */
#include "tool.h"
#include <stdlib.h>

static const tool_option options[] = {
    {"--output", "-o", "OUT", "the file to write: .json, or OUT/ for a log directory; -: stdout"},
    TOOL_CHROME,
    TOOL_XPLANE,
    TOOL_PROGRESS,
    {NULL, NULL, NULL, NULL}};

static void step(void *user, double share)
{
    tool_progress(share / *(const int *)user);
}

static int merge(const tool_args *args, prof_trace **traces, const char *out, const prof_chrome_options *chrome,
                 const prof_xplane_options *xplane)
{
    int i, count = args->file_count, result;
    tool_progress_begin("merge", tool_value(args, "--progress"));
    for (i = 0; i < count; i++) prof_trace_set_progress(traces[i], step, &count);
    if (tool_is_folder(out))
        result = tool_status(prof_xplane_merge((const prof_trace *const *)traces, (size_t)count, out, xplane));
    else
        result = tool_write((const prof_trace *const *)traces, (size_t)count, chrome, out);
    tool_progress_end();
    if (result == TOOL_OK && !tool_is_folder(out)) tool_chrome_size(out);
    return result;
}

static int run(const tool_args *args)
{
    const char *out = tool_value(args, "--output");
    prof_chrome_options chrome;
    prof_xplane_options xplane;
    prof_trace **traces;
    int i, choice, result = TOOL_OK;
    if (!out) return tool_fail("merge: no output: add -o OUT.json or -o OUT/");
    if (!tool_same(out, "-") && !tool_same(tool_extension(out), ".json") && !tool_is_folder(out))
        return tool_fail("merge: %s: only .json and log directories (OUT/) can hold several processes", out);
    if (!tool_choice("--progress", tool_value(args, "--progress"), tool_progress_choices, &choice)) return TOOL_ERROR;
    if (!tool_chrome(args, !tool_is_folder(out), &chrome) || !tool_xplane(args, tool_is_folder(out), &xplane))
        return TOOL_ERROR;
    traces = (prof_trace **)calloc((size_t)args->file_count, sizeof *traces);
    if (!traces) return tool_fail("out of memory");
    for (i = 0; i < args->file_count && result == TOOL_OK; i++) {
        traces[i] = tool_open(args->files[i]);
        if (!traces[i]) result = TOOL_ERROR;
    }
    if (result == TOOL_OK) result = merge(args, traces, out, &chrome, &xplane);
    for (i = 0; i < args->file_count; i++) prof_trace_close(traces[i]);
    free(traces);
    return result;
}

const tool_command tool_merge = {
    "merge", "A B ... -o OUT.json",
    "Writes several recordings as the processes of one Chrome trace, or as the hosts of one run of XProf",
    1, 10000, run, options,
    "Recordings of one machine since its last start are aligned by its monotonic clock, to some 100 ns. Others are\n"
    "aligned by Unix time, as exactly as the clocks of the machines were set. otherData says which (\"processes\n"
    "aligned by\"). Time 0 is the earliest start. A process id that occurs twice is replaced by a number from\n"
    "1000000000 on. Processes are named PROGRAM ROLE (rank RANK, HOST), as far as their metadata have these, or\n"
    "PROGRAM ROLE (PID) without a rank. In a log directory each recording is a file,\n"
    "DIR/plugins/profile/RUN/HOST.RANK.xplane.pb, or HOST.PID.xplane.pb without a rank.\n\n"
    "example: prof merge server.prof client.prof -o both.json\n"};
