/* view.c - prof view: shows recordings in a browser. */
#include "tool.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#ifdef _WIN32
#include <windows.h>
#else
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#endif

static const tool_option options[] = {
    {"--output", "-o", "OUT", "the .html file to write; default: one in the folder for temporary files"},
    {"--live", NULL, NULL, "FILE is the HOST:PORT, or PORT, of a program with prof_server.h: shows it while it runs"},
    {"--no-browser", NULL, NULL, "only writes the file and prints its path"},
    {"--no-args", NULL, NULL, "leaves out arguments"},
    TOOL_SOURCES,
    TOOL_LIMITS,
    TOOL_PROGRESS,
    {NULL, NULL, NULL, NULL}};

/* Makes the name of the report from that of the recording: with .html at the end. */
static void report_name(char *to, size_t size, const char *in)
{
    const char *name = in, *c;
    size_t length;
    for (c = in; *c; ++c)
        if (*c == '/' || *c == '\\') name = c + 1;
    length = strlen(name) - strlen(tool_extension(name));
    if (!length || tool_same(in, "-")) name = "report", length = 6;
    snprintf(to, size, "%.*s.html", (int)(length < 100 ? length : 100), name);
}

/* Makes a path for a temporary file that nobody else can have created. Prints a message and returns 0 if that fails. */
static int temporary(char *to, size_t size, const char *in)
{
    char name[128];
    report_name(name, sizeof name, in);
#ifdef _WIN32
    char folder[MAX_PATH + 1];
    DWORD length = GetTempPathA(sizeof folder, folder);
    if (!length || length > MAX_PATH)
        return tool_fail("view: there is no folder for temporary files: add -o OUT.html"), 0;
    snprintf(to, size, "%sprof-view-%lu-%lu-%s", folder, (unsigned long)GetCurrentProcessId(),
             (unsigned long)GetTickCount(), name);
#else
    const char *base = getenv("TMPDIR");
    char folder[3900];
    snprintf(folder, sizeof folder, "%s/prof-view-XXXXXX", base && *base == '/' && strlen(base) < 3800 ? base : "/tmp");
    if (!mkdtemp(folder)) return tool_fail("view: cannot make %s: %s; add -o OUT.html", folder, strerror(errno)), 0;
    snprintf(to, size, "%s/%s", folder, name);
#endif
    return 1;
}

/* Starts the browser. Returns 0 if that fails. */
static int show(const char *path)
{
#ifdef _WIN32
    char command[4096];
    if (strpbrk(path, "\"%&|<>^")) return 0;
    snprintf(command, sizeof command, "start \"\" \"%s\"", path);
    return !system(command);
#else
#ifdef __APPLE__
    const char *opener = "open";
#else
    const char *opener = "xdg-open";
#endif
    const char *chosen = getenv("BROWSER");
    int status = 1;
    pid_t child;
    if (chosen && *chosen && !strpbrk(chosen, ":% ")) opener = chosen; /* xdg-open handles lists and command lines */
    child = fork();
    if (child < 0) return 0;
    if (!child) {
        int nothing = open("/dev/null", O_RDWR);
        if (nothing >= 0) dup2(nothing, 0), dup2(nothing, 1), dup2(nothing, 2);
        execlp(opener, opener, path, (char *)NULL);
        _exit(127);
    }
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    return status == 0;
#endif
}

static int write_report(const tool_args *args, prof_trace **traces, const char *path, const char *sources)
{
    prof_html_options html;
    prof_html_limits limits;
    int result;
    if (!tool_limits(args, traces[0], &limits)) return TOOL_ERROR;
    memset(&html, 0, sizeof html);
    html.no_args = tool_value(args, "--no-args") != NULL;
    html.sources = sources;
    tool_progress_begin("view", tool_value(args, "--progress"));
    if (args->file_count == 1) prof_trace_set_progress(traces[0], tool_progress_step, NULL);
    result = tool_status(
        prof_html_outline((const prof_trace *const *)traces, (size_t)args->file_count, path, &html, &limits));
    tool_progress_end();
    return result;
}

/* Opens the page that a program's server has. If the server needs a token, the browser asks for it. */
static int run_live(const tool_args *args)
{
    const char *place = args->files[0], *port = strrchr(place, ':'), *c;
    char address[300];
    port = port ? port + 1 : place;
    for (c = port; *c >= '0' && *c <= '9'; ++c) continue;
    if (args->file_count > 1 || *c || c == port || c - port > 5 || strlen(place) > 255 || place[0] == ':' ||
        strspn(place, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-:[]") != strlen(place))
        return tool_fail("view: --live takes one HOST:PORT, for example localhost:9012, not '%s'", place);
    snprintf(address, sizeof address, "http://%s%s/", port == place ? "localhost:" : "", place);
    printf("%s\n", address);
    fflush(stdout);
    if (!tool_value(args, "--no-browser") && !show(address))
        fprintf(stderr, "prof: no browser could be started: open this address in one\n");
    return TOOL_OK;
}

static int run(const tool_args *args)
{
    char path[4096];
    const char *out = tool_value(args, "--output"), *sources;
    int choice, i, result = TOOL_OK;
    prof_trace **traces;
    if (tool_value(args, "--live")) return run_live(args);
    if (!tool_choice("--progress", tool_value(args, "--progress"), tool_progress_choices, &choice) ||
        !tool_sources(args, &sources))
        return TOOL_ERROR;
    traces = (prof_trace **)calloc((size_t)args->file_count, sizeof *traces);
    if (!traces) return tool_fail("out of memory");
    for (i = 0; i < args->file_count && result == TOOL_OK; ++i)
        if (!(traces[i] = tool_open(args->files[i]))) result = TOOL_ERROR;
    if (result == TOOL_OK && !out && !temporary(path, sizeof path, args->files[0])) result = TOOL_ERROR;
    if (result == TOOL_OK) result = write_report(args, traces, out ? out : path, sources);
    for (i = 0; i < args->file_count; ++i) prof_trace_close(traces[i]);
    free(traces);
    if (result != TOOL_OK || (out && tool_same(out, "-"))) return result;
    printf("%s\n", out ? out : path);
    fflush(stdout);
    if (!tool_value(args, "--no-browser") && !show(out ? out : path))
        fprintf(stderr, "prof: no browser could be started: open this file in one\n");
    return result;
}

const tool_command tool_view = {
    "view", "FILE...", "Shows recordings in a browser, as one HTML file that needs no network", 1, 1000, run, options,
    "Writes the report to a new folder below TMPDIR, prints its path and opens it with the program that BROWSER\n"
    "names, or else the system's default. Several recordings are the processes of one report, on one time line;\n"
    "where one had ended before another began, each begins at 0, and the page compares them. To keep a report, use\n"
    "-o, or prof export IN -o OUT.html.\n\n"
    "With --live, FILE is not a file but the address of a running program with prof_server.h. View prints and opens\n"
    "it: it serves a page of the program's last seconds.\n\n"
    "example: prof view trace.prof\n"
    "         prof view --live localhost:9012\n"};
