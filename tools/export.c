/* export.c - prof export: writes a recording in another format. */
#include "tool.h"
#include <string.h>

static const tool_option options[] = {
    {"--output", "-o", "OUT",
     "the file to write: .html .json .csv .txt .prof .pprof .speedscope, or DIR/ for a log directory; -: stdout"},
    {"--format", "-f", "KIND", "the format, whatever the ending: html, json, csv, txt, prof, pprof or speedscope"},
    TOOL_CHROME,
    TOOL_XPLANE,
    TOOL_SOURCES,
    TOOL_LIMITS,
    TOOL_PROGRESS,
    {NULL, NULL, NULL, NULL}};

int tool_chrome(const tool_args *args, int json, prof_chrome_options *chrome)
{
    static const char *const names[] = {"--source", "--no-args", "--no-spans", "--tracy", "--allocations",
                                        "--min-duration"};
    static const char *const sources[] = {"loc", "args", "none", NULL};
    const char *shortest = tool_value(args, "--min-duration");
    int64_t ns = 0;
    int source;
    size_t i;
    memset(chrome, 0, sizeof *chrome);
    for (i = 0; i < sizeof names / sizeof *names && !json; i++)
        if (tool_value(args, names[i])) return tool_fail("%s: %s is for .json", args->command->name, names[i]), 0;
    if (!tool_choice("--source", tool_value(args, "--source"), sources, &source)) return 0;
    if (shortest && !tool_time("--min-duration", shortest, 0, &ns)) return 0;
    chrome->source = (prof_chrome_source)source;
    chrome->no_args = tool_value(args, "--no-args") != NULL;
    chrome->no_spans = tool_value(args, "--no-spans") != NULL;
    chrome->tracy = tool_value(args, "--tracy") != NULL;
    chrome->allocations = tool_value(args, "--allocations") != NULL;
    chrome->min_duration_ns = (uint64_t)ns;
    return 1;
}

int tool_xplane(const tool_args *args, int folder, prof_xplane_options *xplane)
{
    memset(xplane, 0, sizeof *xplane);
    xplane->accelerators = tool_value(args, "--accelerators");
    if (folder || !xplane->accelerators) return 1;
    return tool_fail("%s: --accelerators is for a log directory (OUT/)", args->command->name), 0;
}

int tool_sources(const tool_args *args, const char **folder)
{
    *folder = tool_value(args, "--sources");
    if (!*folder || tool_is_folder(*folder)) return 1;
    return tool_fail("%s: --sources '%s' is not a folder", args->command->name, *folder), 0;
}

int tool_limits(const tool_args *args, const prof_trace *trace, prof_html_limits *limits)
{
    const char *events = tool_value(args, "--events"), *from = tool_value(args, "--from"),
               *to = tool_value(args, "--to");
    int64_t end = prof_trace_about(trace)->duration_ns;
    double number = 0;
    memset(limits, 0, sizeof *limits);
    if (events && !tool_number("--events", events, 1, 1e15, &number)) return 0;
    limits->events = (uint64_t)number;
    if (from && !tool_time("--from", from, end, &limits->from_ns)) return 0;
    if (to && !tool_time("--to", to, end, &limits->to_ns)) return 0;
    if (to && limits->to_ns <= limits->from_ns)
        return tool_fail("%s: --to %s is not later than --from %s", args->command->name, to, from ? from : "0"), 0;
    return 1;
}

static int page_options(const tool_args *args, int is_page, prof_html_options *html)
{
    static const char *const names[] = {"--sources", "--events", "--from", "--to"};
    memset(html, 0, sizeof *html);
    for (size_t i = 0; i < sizeof names / sizeof *names && !is_page; i++)
        if (tool_value(args, names[i])) return tool_fail("export: %s is for .html", names[i]), 0;
    return tool_sources(args, &html->sources);
}

#define MOST 500000000.0 /* bytes: chrome://tracing, DevTools and speedscope read no longer string */

void tool_chrome_size(const char *path)
{
    FILE *file = tool_same(path, "-") ? NULL : tool_file_open(path, "rb");
    double size = 0;
    if (!file) return;
#ifdef _WIN32
    if (!_fseeki64(file, 0, SEEK_END)) size = (double)_ftelli64(file);
#else
    if (!fseeko(file, 0, SEEK_END)) size = (double)ftello(file);
#endif
    fclose(file);
    if (size <= MOST) return;
    fprintf(stderr,
            "prof: %s has %.0f MB: chrome://tracing, DevTools and speedscope cannot show more than 500 MB.\n"
            "prof: ui.perfetto.dev opens it. To make it smaller, use prof cut --from TIME --to TIME, "
            "--min-duration TIME\n"
            "prof: or --source none. Or write a log directory for XProf with -o DIR/, or use prof summary.\n",
            path, size / 1e6);
}

static int run(const tool_args *args)
{
    const char *in = args->files[0], *out = tool_value(args, "--output"), *when = tool_value(args, "--progress");
    const char *extension = tool_output_kind(args);
    prof_chrome_options chrome;
    prof_xplane_options xplane;
    prof_trace *trace;
    prof_html_options html;
    prof_html_limits limits;
    int choice, result, json, folder, page;
    if (!extension || !tool_choice("--progress", when, tool_progress_choices, &choice)) return TOOL_ERROR;
    json = tool_same(extension, ".json");
    folder = tool_same(extension, "/");
    page = tool_same(extension, ".html");
    if (!tool_chrome(args, json, &chrome) || !tool_xplane(args, folder, &xplane) ||
        !page_options(args, page, &html))
        return TOOL_ERROR;
    if (tool_same(extension, ".prof")) return tool_copy(in, out, -1, 0);
    trace = tool_open(in);
    if (!trace) return TOOL_ERROR;
    if (!tool_limits(args, trace, &limits)) return prof_trace_close(trace), TOOL_ERROR;
    tool_progress_begin("export", when);
    prof_trace_set_progress(trace, tool_progress_step, NULL);
    if (json || tool_same(extension, ".csv"))
        result = tool_write((const prof_trace *const *)&trace, 1, json ? &chrome : NULL, out);
    else
        result = folder ? tool_status(prof_xplane_write(trace, out, &xplane))
                 : page ? tool_status(prof_html_outline((const prof_trace *const *)&trace, 1, out, &html, &limits))
                        : tool_trace_write(trace, out, extension);
    tool_progress_end();
    prof_trace_close(trace);
    if (json && result == TOOL_OK) tool_chrome_size(out);
    return result;
}

const tool_command tool_export = {
    "export", "IN -o OUT",
    "Converts a recording to a page, Chrome trace JSON, XProf's format, CSV, a summary or a copy",
    1, 1, run, options,
    "html is a page that shows the recording in any browser, without a network; prof view opens it, too. json opens\n"
    "in ui.perfetto.dev, chrome://tracing and speedscope. csv has one event a line. txt is what prof summary\n"
    "prints. prof is a consistent copy of the recording, also while a program records into it. pprof is the memory\n"
    "profile, for go tool pprof. speedscope is speedscope's own format, in which arguments are no part of a name;\n"
    "an OUT may also end in .speedscope.json. If OUT is a directory or ends in /, it is a log directory of XProf and\n"
    "TensorBoard: export adds DIR/plugins/profile/RUN/HOST.xplane.pb to it.\n\n"
    "With --sources, the page shows the lines around a scope, 4 before and 8 after, as they are in the files now. A\n"
    "file is found by the longest tail of its path that exists below DIR; --sources / takes all paths as they were\n"
    "recorded.\n\n"
    "Of a recording of more than 50 million events, or as many as --events says, the page has an outline of all, the\n"
    "statistics of all scopes, and all events of a window: the last ones, or from --from to --to.\n\n"
    "example: prof export trace.prof -o trace.json\n"
    "         prof export trace.prof -o logs/\n"};
