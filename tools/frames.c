/* frames.c - prof frames, prof steps: the slowest frames or steps, and for each what made it slow, in one line. */
#include "ranks.h"
#include "why.h"
#include <stdlib.h>
#include <string.h>

static const tool_option options[] = {
    {"--slowest", "-n", "N", "the N slowest ones; default: 10"},
    {"--name", "-s", "NAME", "those with this name; default: those that differ most"},
    {"--format", "-f", "KIND", "text (default) or json"},
    TOOL_COLUMNS,
    TOOL_PROGRESS,
    {NULL, NULL, NULL, NULL}};

static const tool_option steps_options[] = {
    {"--slowest", "-n", "N", "the N slowest ones; default: 10"},
    {"--name", "-s", "NAME", "those with this name; default: those that differ most; of ranks: the most frequent"},
    {"--format", "-f", "KIND", "text (default) or json"},
    TOOL_OFFSET,
    {"--align", NULL, "HOW", "of ranks: clock (default): by clocks and their offsets; step: also by collectives' ends"},
    TOOL_COLUMNS,
    TOOL_PROGRESS,
    {NULL, NULL, NULL, NULL}};

static const char *const formats[] = {"text", "json", NULL};

#define MOST_NAMES 8 /* of other frames or steps that a line names */
#define LEFT_COLUMNS 60 /* before what made it slow, without the columns that only some recordings have */
#define COLUMN 13

static int64_t number_of(const prof_why_call *call)
{
    return call->step ? call->step_number : (int64_t)call->number;
}

/* Which columns a recording has: how long each frame's thread ran, and how long devices worked meanwhile. */
typedef struct frame_columns {
    int ran, devices;
} frame_columns;

static frame_columns columns_of(const prof_why_report *report)
{
    frame_columns has = {0, 0};
    size_t i;
    for (i = 0; i < report->count; i++) {
        has.ran |= report->calls[i].states;
        has.devices |= report->calls[i].device_count > 0;
    }
    return has;
}

static void print_row(const prof_trace *trace, const prof_why_report *report, const prof_why_call *call,
                      frame_columns has)
{
    char at[48], time[48], thread[600], cause[1900], times[48] = "";
    int left = LEFT_COLUMNS + (has.ran ? COLUMN : 0) + (has.devices ? COLUMN : 0);
    double ratio = report->median_ns ? (double)call->split.wall_ns / (double)report->median_ns : 0;
    if (ratio < 9.995)
        snprintf(times, sizeof times, "%.2f", ratio);
    else
        tool_count(times, (uint64_t)(ratio + 0.5));
    printf("%10lld %11s %11s%c %8s  ", (long long)number_of(call), tool_ns(at, (double)call->start_ns),
           tool_ns(time, (double)call->split.wall_ns), call->flags ? '+' : ' ', times);
    if (has.ran) printf("%11s  ", call->states ? tool_ns(time, (double)call->split.running_ns) : "-");
    if (has.devices) printf("%11s  ", tool_ns(time, (double)why_devices(call)));
    tool_print_name(why_thread(trace, call->track, 0, thread, sizeof thread), 14);
    printf("  ");
    why_cause(trace, report, call, cause, sizeof cause);
    if (call->flags) why_add(cause, sizeof cause, "%s+: a part of it was not recorded", *cause ? "; " : "");
    tool_print_wrapped(cause, left + 2, left + 4);
    putchar('\n');
}

static void print_others(const prof_why_report *report, const char *kinds)
{
    char line[2000] = "", count[48];
    size_t i;
    for (i = 0; i < report->other_count && i < MOST_NAMES; i++)
        why_add(line, sizeof line, "%s%.100s", i ? ", " : "", report->others[i]);
    if (i < report->other_count)
        why_add(line, sizeof line, " and %s more", tool_count(count, report->other_count - MOST_NAMES));
    if (i) why_say(0, "other %s, for --name: %s", kinds, line);
}

static void print_text(const tool_args *args, const prof_trace *trace, const prof_why_report *report)
{
    const char *kinds = args->command->name;
    frame_columns has = columns_of(report);
    char number[48], median[48];
    size_t i;
    why_say(0, "%.600s: %s %s, median %s; the slowest%s", report->name, tool_count(number, report->count_all), kinds,
            tool_ns(median, (double)report->median_ns), report->count > 1 ? " ones first" : "");
    printf("\n%10s %11s %11s  %8s  ", "number", "at", "took", "x median");
    if (has.ran) printf("%11s  ", "ran");
    if (has.devices) printf("%11s  ", "devices");
    printf("%-14s  %s\n", "thread", "why");
    for (i = 0; i < report->count; i++) print_row(trace, report, &report->calls[i], has);
    putchar('\n');
    print_others(report, kinds);
    why_say(0, "prof why --%.*s NUMBER says more of one.", (int)strlen(kinds) - 1, kinds);
}

static void print_json(const prof_trace *trace, const prof_why_report *report)
{
    char thread[600], cause[1900];
    size_t i;
    printf("{\"name\":");
    tool_print_json(report->name, strlen(report->name));
    tool_json_text("kind", report->frames ? "frame" : "step");
    tool_json_number("count", report->count_all);
    tool_json_number("median_ns", report->median_ns);
    printf(",\"others\":[");
    for (i = 0; i < report->other_count; i++) {
        if (i) putchar(',');
        tool_print_json(report->others[i], strlen(report->others[i]));
    }
    printf("],\n\"slowest\":[");
    for (i = 0; i < report->count; i++) {
        const prof_why_call *call = &report->calls[i];
        printf("%s\n{\"number\":%lld", i ? "," : "", (long long)number_of(call));
        tool_json_number("start_ns", (uint64_t)call->start_ns);
        tool_json_number("wall_ns", call->split.wall_ns);
        if (call->states) tool_json_number("running_ns", call->split.running_ns);
        if (call->states) tool_json_number("waiting_ns", call->split.waiting_ns);
        tool_json_number("devices_ns", why_devices(call));
        tool_json_text("thread", why_thread(trace, call->track, 0, thread, sizeof thread));
        printf(",\"truncated\":%s", call->flags ? "true" : "false");
        tool_json_text("why", why_cause(trace, report, call, cause, sizeof cause));
        putchar('}');
    }
    printf("\n]}\n");
}

static int run(const tool_args *args)
{
    const char *slowest = tool_value(args, "--slowest");
    prof_why_options how;
    prof_why_report *report;
    prof_trace *trace;
    double number = 10;
    int choice, json, columns, result;
    memset(&how, 0, sizeof how);
    if (!tool_choice("--format", tool_value(args, "--format"), formats, &json)) return TOOL_ERROR;
    if (!tool_choice("--progress", tool_value(args, "--progress"), tool_progress_choices, &choice)) return TOOL_ERROR;
    if (!tool_columns(args, &columns)) return TOOL_ERROR;
    if (slowest && !tool_number("--slowest", slowest, 1, 1000, &number)) return TOOL_ERROR;
    if (args->file_count > 1) return ranks_steps(args, (size_t)number);
    if (tool_value(args, "--offset") || tool_value(args, "--align"))
        return tool_fail("%s: --offset and --align are for several recordings", args->command->name);
    how.slowest = (size_t)number;
    how.name = tool_value(args, "--name");
    how.kind = args->command == &tool_frames ? PROF_WHY_FRAMES : PROF_WHY_STEPS;
    trace = tool_open(args->files[0]);
    if (!trace) return TOOL_ERROR;
    tool_progress_begin(args->command->name, tool_value(args, "--progress"));
    result = tool_status(prof_why(trace, &how, &report));
    tool_progress_end();
    if (result == TOOL_OK && json) print_json(trace, report);
    if (result == TOOL_OK && !json) print_text(args, trace, report);
    if (result == TOOL_OK) prof_why_free(report);
    prof_trace_close(trace);
    return result;
}

#define HELP                                                                                                    \
    "Each one is compared with the median of its name. The last column says what made it slow, by what prof why\n" \
    "finds: the wait that was most of it; that others had the processor; or the scope inside it that took longer\n" \
    "than its own median. If the recording knows it, \"ran\" is how long its thread ran, and \"devices\" how long\n" \
    "devices, such as a GPU, worked meanwhile, all together. Numbers are those that "

const tool_command tool_frames = {
    "frames", "IN", "Lists the slowest frames, and what made each slow", 1, 1, run, options,
    HELP "the page and the summary have: frames count from 1 on for each name\nand thread.\n\n"
    "example: prof frames --slowest 5 trace.prof\n"};

const tool_command tool_steps = {
    "steps", "IN ...", "Lists the slowest steps, and what made each slow; of ranks, which one was the last", 1, 10000,
    run, steps_options,
    HELP "the program gave to PROFILE_STEP.\n\n"
    "Of several recordings, those of ranks, each step is compared in all: how long it took where it took longest; how\n"
    "far its begins, and its ends, were apart; which rank was the slowest, without what it waited for others, and in\n"
    "which scope it took most more than the median of the ranks.\n\n"
    "example: prof steps --slowest 5 trace.prof\n"
    "         prof steps rank-*.prof\n"};
