/* neuron.c - prof neuron: checks a capture of AWS Neuron, imports it into a recording, places scopes beside it. */
#include "tool.h"
#include <string.h>

static const tool_option options[] = {
    {"--output", "-o", "OUT", "import: the recording to write, .prof"},
    {"--append", "-a", NULL, "place: appends the scopes to a trace.json that PyTorch wrote"},
    {"--pid", NULL, "PID", "place: the process whose folder is used; default: that of the recording"},
    {NULL, NULL, NULL, NULL}};

/*-- check --*/

static void say(void *user, prof_ntff_word word, const char *text)
{
    static const char *const begins[] = {"", "  ", "  problem: "};
    (void)user;
    fputs(begins[word], stdout);
    tool_print_name(text, 0);
    putchar('\n');
}

static int check(const tool_args *args)
{
    int problems = 0;
    if (args->file_count != 2) return tool_fail("neuron: check needs one folder: prof neuron check DIR");
    if (tool_status(prof_ntff_check(args->files[1], say, NULL, &problems))) return TOOL_ERROR;
    return problems ? TOOL_NO : TOOL_OK;
}

/*-- import --*/

static void count(uint64_t number, const char *text)
{
    char figure[48];
    if (number) printf("%12s %s\n", tool_count(figure, number), text);
}

static void tell(const prof_ntff_stats *s)
{
    char figure[48];
    printf("%12s events\n", tool_count(figure, s->events));
    count(s->unmatched_starts,
          "starts without a stop: they ended after the last fetch, or the runtime dropped the stop");
    count(s->unmatched_stops, "stops without a start: the runtime's ring was full and dropped its oldest events");
    count(s->realigned, "events converted to the host's time by sync points");
    count(s->raw_clock, "events left out: they have the time of a NeuronCore, and there is no sync point");
    count(s->outside, "events before the recording began or after it ended");
    count(s->errors, "entries left out because they are not events");
    if (s->sync_error_ns)
        printf("%12s is the largest difference between a sync point and the one before it\n",
               tool_ns(figure, (double)s->sync_error_ns));
    if (s->data_version && s->data_version != 2)
        printf("%12d is the version of the system trace: only 2 is known\n", s->data_version);
    if (s->clock_stepped)
        printf("             the host's clock was set during the recording: later events may be misplaced\n");
}

static int import(const tool_args *args)
{
    const char *out = tool_value(args, "--output"), *host = args->file_count == 3 ? args->files[2] : NULL;
    prof_ntff_stats stats;
    if (args->file_count < 2)
        return tool_fail("neuron: import needs a file: prof neuron import JSON [HOST.prof] -o OUT.prof");
    if (!out) return tool_fail("neuron: no output: add -o OUT.prof");
    if (!tool_same(tool_extension(out), ".prof"))
        return tool_fail("neuron: %s: must be a .prof, which prof export can convert", out);
    memset(&stats, 0, sizeof stats);
    if (tool_status(prof_ntff_import(args->files[1], host, out, &stats))) return TOOL_ERROR;
    tell(&stats);
    if (!host || stats.outside + stats.raw_clock < stats.events) return TOOL_OK;
    printf("problem: no event lies within the recording: it is of another run, or of a machine whose clock differs\n");
    return TOOL_NO;
}

/*-- place --*/

static int place(const tool_args *args)
{
    const char *pid_text = tool_value(args, "--pid");
    char folder[4096], path[4200];
    prof_ntff_trace_options how;
    prof_trace *trace;
    double pid = 0;
    int result;
    if (args->file_count != 3)
        return tool_fail("neuron: place needs a recording and a folder: prof neuron place HOST.prof DIR");
    if (pid_text && !tool_number("--pid", pid_text, 1, 4294967295.0, &pid)) return TOOL_ERROR;
    trace = tool_open(args->files[1]);
    if (!trace) return TOOL_ERROR;
    memset(&how, 0, sizeof how);
    how.append = tool_value(args, "--append") != NULL;
    result = tool_status(prof_ntff_find_session(args->files[2], pid > 0 ? (uint64_t)pid : prof_trace_about(trace)->pid,
                                                0, folder, sizeof folder));
    if (result == TOOL_OK) {
        snprintf(path, sizeof path, "%s/trace.json", folder);
        result = tool_status(prof_ntff_trace_json(trace, path, &how));
    }
    if (result == TOOL_OK) {
        tool_print_name(path, 0);
        putchar('\n');
    }
    prof_trace_close(trace);
    return result;
}

static int run(const tool_args *args)
{
    if (tool_same(args->files[0], "check")) return check(args);
    if (tool_same(args->files[0], "import")) return import(args);
    if (tool_same(args->files[0], "place")) return place(args);
    return tool_fail("neuron: unknown '%s': use check, import or place", args->files[0]);
}

const tool_command tool_neuron = {
    "neuron",
    "check DIR | import JSON [HOST.prof] -o OUT.prof | place HOST.prof DIR",
    "AWS Neuron: checks a capture, imports NeuronCores into a recording, places scopes in a capture",
    1,
    3,
    run,
    options,
    "check    looks at the names and sizes of the files that the Neuron runtime left below DIR, and says what is\n"
    "         missing or empty, and the usual reason. Exit status 1: something is missing or empty.\n"
    "import   writes the recording HOST.prof anew, with NeuronCores, runtime, framework and load of the host as\n"
    "         tracks. JSON is the system_profile.json of neuron-explorer view, or that of a system trace. Both have\n"
    "         Unix time: they must be of the same machine, or of machines with the same time. Without HOST.prof it\n"
    "         writes a recording of JSON alone, for prof merge. Exit status 1: no event lies within the recording.\n"
    "place    writes the scopes as trace.json into the folder of the same process below DIR\n"
    "         (NEURON_RT_INSPECT_OUTPUT_DIR), where Neuron Explorer looks for the trace of a framework. It does not\n"
    "         replace a trace.json that prof did not write.\n\n"
    "example: prof neuron import system_profile.json trace.prof -o both.prof; prof export both.prof -o both.json\n"};
