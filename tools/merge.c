/* merge.c - prof merge: joins the recordings of several processes on one time line. */
#include "ranks.h"
#include <stdlib.h>
#include <string.h>

static const tool_option options[] = {
    {"--output", "-o", "OUT",
     "the file to write: .prof .json .html .csv .txt, or OUT/ for a log directory; -: JSON to stdout"},
    TOOL_CHROME,
    TOOL_XPLANE,
    TOOL_SOURCES,
    TOOL_OFFSET,
    {"--align", NULL, "HOW", "clock (default): by clocks and their offsets; step: also by the ends of collectives"},
    TOOL_PROGRESS,
    {NULL, NULL, NULL, NULL}};

static int is_json(const char *out)
{
    return !tool_is_folder(out) && (tool_same(out, "-") || tool_same(tool_extension(out), ".json"));
}

/* Can a file of this kind hold several processes? */
static int can_hold(const char *out)
{
    static const char *const kinds[] = {".prof", ".html", ".csv", ".txt"};
    size_t i;
    for (i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (tool_same(tool_extension(out), kinds[i])) return 1;
    return tool_is_folder(out) || is_json(out);
}

static int put_out(void *user, const void *data, size_t size)
{
    tool_out_bytes((tool_out *)user, data, size);
    return 0;
}

/* Adds the summaries of all processes, each with a headline. */
static int each_summary(prof_trace **traces, size_t count, tool_out *out)
{
    prof_sink sink;
    sink.write = put_out;
    sink.user = out;
    return tool_status(prof_report_each_stream((const prof_trace *const *)traces, count, sink, NULL));
}

static void step(void *user, double share)
{
    tool_progress(share / *(const int *)user);
}

/* Writes the page of all processes. */
static int write_page(const tool_args *args, const prof_trace *const *traces, const char *path)
{
    prof_html_options html;
    prof_html_limits limits;
    memset(&html, 0, sizeof html);
    memset(&limits, 0, sizeof limits);
    if (!tool_sources(args, &html.sources)) return TOOL_ERROR;
    return tool_status(prof_html_outline(traces, (size_t)args->file_count, path, &html, &limits));
}

/* Writes what the processes have together as a table, then a summary of each; or one CSV. */
static int write_text(const tool_args *args, prof_trace **traces, const char *path, int csv)
{
    size_t count = (size_t)args->file_count;
    several_look look;
    tool_out *out = tool_out_open(path);
    int result;
    if (!out) return TOOL_ERROR;
    memset(&look, 0, sizeof look);
    look.by = SEVERAL_PROCESS;
    look.columns = PROF_NO_LIMIT;
    result = csv ? several_csv(traces, count, out) : several_summary(args->files, traces, count, &look, out);
    if (result == TOOL_OK && !csv) {
        tool_out_bytes(out, "\n", 1);
        result = each_summary(traces, count, out);
    }
    return tool_out_close(out, result == TOOL_OK);
}

static int merge(const tool_args *args, prof_trace **traces, const char *out, const prof_chrome_options *chrome,
                 const prof_xplane_options *xplane)
{
    int i, count = args->file_count, result;
    const char *kind = tool_extension(out);
    tool_progress_begin("merge", tool_value(args, "--progress"));
    for (i = 0; i < count; i++) prof_trace_set_progress(traces[i], step, &count);
    if (tool_is_folder(out))
        result = tool_status(prof_xplane_merge((const prof_trace *const *)traces, (size_t)count, out, xplane));
    else if (tool_same(kind, ".html"))
        result = write_page(args, (const prof_trace *const *)traces, out);
    else if (tool_same(kind, ".csv") || tool_same(kind, ".txt"))
        result = write_text(args, traces, out, tool_same(kind, ".csv"));
    else
        result = tool_write((const prof_trace *const *)traces, (size_t)count, chrome, out);
    tool_progress_end();
    if (result == TOOL_OK && is_json(out)) tool_chrome_size(out);
    return result;
}

/* Writes one recording of all. Opens each first, so that a damaged one is named. */
static int write_set(const tool_args *args, const char *out)
{
    int i;
    if (tool_value(args, "--offset") || tool_value(args, "--align"))
        return tool_fail("merge: %s: keeps the clock of each recording: give --offset and --align to the commands that "
                         "read it", out);
    tool_progress_begin("merge", tool_value(args, "--progress"));
    for (i = 0; i < args->file_count; i++) {
        prof_trace *trace = tool_open(args->files[i]);
        if (!trace) return TOOL_ERROR;
        prof_trace_close(trace);
    }
    i = tool_set_write(args, out);
    tool_progress_end();
    return i;
}

static int run(const tool_args *args)
{
    const char *out = tool_value(args, "--output");
    prof_chrome_options chrome;
    prof_xplane_options xplane;
    prof_trace **traces;
    int i, choice, by_steps, result = TOOL_OK;
    if (!out) return tool_fail("merge: no output: add -o OUT.prof, .json, .html, .csv, .txt or OUT/");
    if (!can_hold(out))
        return tool_fail("merge: %s: cannot hold several processes: use .prof, .json, .html, .csv, .txt or OUT/", out);
    if (!tool_choice("--progress", tool_value(args, "--progress"), tool_progress_choices, &choice)) return TOOL_ERROR;
    if (!tool_chrome(args, is_json(out), &chrome) || !tool_xplane(args, tool_is_folder(out), &xplane))
        return TOOL_ERROR;
    if (!tool_choice("--align", tool_value(args, "--align"), ranks_alignments, &by_steps)) return TOOL_ERROR;
    if (tool_value(args, "--sources") && !tool_same(tool_extension(out), ".html"))
        return tool_fail("merge: --sources is for .html");
    if (!tool_is_folder(out) && tool_same(tool_extension(out), ".prof")) return write_set(args, out);
    tool_open_many(args->file_count);
    traces = (prof_trace **)calloc((size_t)args->file_count, sizeof *traces);
    if (!traces) return tool_fail("out of memory");
    for (i = 0; i < args->file_count && result == TOOL_OK; i++) {
        traces[i] = tool_open(args->files[i]);
        if (!traces[i] || !tool_shift(args, traces[i])) result = TOOL_ERROR;
    }
    if (result == TOOL_OK && !tool_shift_done(args)) result = TOOL_ERROR;
    if (result == TOOL_OK && by_steps) result = ranks_shift(args, traces);
    if (result == TOOL_OK) result = merge(args, traces, out, &chrome, &xplane);
    for (i = 0; i < args->file_count; i++) prof_trace_close(traces[i]);
    free(traces);
    return result;
}

const tool_command tool_merge = {
    "merge", "A B ... -o OUT",
    "Writes several recordings as one .prof, page, Chrome trace, CSV or text, or hosts of one run of XProf",
    1, 10000, run, options,
    "Recordings of one machine since its last start are aligned by its monotonic clock, to some 100 ns. Others are\n"
    "aligned by Unix time, as exactly as the clocks of the machines were set, unless their metadata say how far the\n"
    "clocks are apart, or --offset does. --align step moves each rank so that the ends of its collectives, in the\n"
    "steps of PROFILE_STEP, are those of the others. otherData says which clock it was (\"processes\n"
    "aligned by\"). Time 0 is the earliest start. A process id that occurs twice is replaced by a number from\n"
    "1000000000 on. Processes are named PROGRAM ROLE (rank RANK, HOST), as far as their metadata have these, or\n"
    "PROGRAM ROLE (PID) without a rank. In a log directory each recording is a file,\n"
    "DIR/plugins/profile/RUN/HOST.RANK.xplane.pb, or HOST.PID.xplane.pb without a rank. csv has the columns\n"
    "process_id and process before those of prof export, and times since time 0. txt is the table in which\n"
    "prof summary compares processes, then the summary of each. A .prof has all recordings unchanged: commands read\n"
    "it as if its recordings were given one by one, and ALL.prof/NAME is one of them. It is a tar archive.\n\n"
    "example: prof merge server.prof client.prof -o both.json\n"
    "         prof merge rank-*.prof -o all.html\n"
    "         prof merge rank-*.prof -o all.prof; prof stragglers all.prof; prof hot all.prof/rank-3.prof\n"};
