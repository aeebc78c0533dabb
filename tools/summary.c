/* summary.c - prof summary: prints tables of scopes, frames and counters, with bars, or a report of another layout. */
#include "several.h"
#include <stdlib.h>
#include <string.h>

static const char *const sorts[] = {"total", "self", "calls", "mean", "min", "max", "p99", "name", NULL};
static const char *const layouts[] = {"own", "mxnet", "json", "cntk", "cntk-detail", "domains", "histogram", NULL};

static const tool_option options[] = {
    {"--output", "-o", "OUT", "the file to write (default: -); for cntk also a folder, DIR/, for both of CNTK's files"},
    {"--layout", "-l", "KIND", "own (default), mxnet, json, cntk, cntk-detail, domains or histogram"},
    {"--sort", "-s", "KEY", "total (default), self, calls, mean, min, max, p99 or name; the largest first"},
    {"--ascending", "-a", NULL, "sorts the smallest first"},
    {"--top", "-n", "N", "own and histogram: prints only the first N rows; with --by-path also the scopes around them"},
    {"--by-path", "-p", NULL, "prints a row for each call path, as a tree"},
    {"--bars", NULL, NULL, "own: ends with bars of self time; default: if the output is a terminal that shows them"},
    {"--no-bars", NULL, NULL, "own: no bars"},
    {"--by", NULL, "WHAT", "adds all recordings up, and compares by thread, process, rank or host; file: see below"},
    {"--others", NULL, NULL, "cntk: also prints rows for names that are not CNTK's"},
    TOOL_COLUMNS,
    TOOL_PROGRESS,
    {NULL, NULL, NULL, NULL}};

static int choose(const tool_args *args, prof_report_options *how)
{
    static const prof_report_layout known[] = {PROF_REPORT_SUMMARY,     PROF_REPORT_MXNET,   PROF_REPORT_JSON,
                                               PROF_REPORT_CNTK,        PROF_REPORT_CNTK_DETAIL,
                                               PROF_REPORT_DOMAINS,     PROF_REPORT_HISTOGRAM};
    const char *top = tool_value(args, "--top");
    double rows = 0;
    int sort, choice;
    if (!tool_choice("--layout", tool_value(args, "--layout"), layouts, &choice)) return 0;
    if (!tool_choice("--sort", tool_value(args, "--sort"), sorts, &sort)) return 0;
    if (top && !tool_number("--top", top, 1, 1e9, &rows)) return 0;
    how->layout = known[choice];
    how->sort = (prof_sort)sort;
    how->ascending = tool_value(args, "--ascending") != NULL;
    how->top = (size_t)rows;
    how->others = tool_value(args, "--others") != NULL;
    if (!tool_columns(args, &how->columns)) return 0;
    if (!tool_value(args, "--by-path")) return 1;
    if (choice) return tool_fail("summary: --by-path needs --layout own"), 0;
    how->layout = PROF_REPORT_PATHS;
    return 1;
}

/*-- bars, which show at a glance which scopes take the time --*/

#define BARS_ROWS 10
#define BARS_LEAST 60 /* characters; narrower lines have bars only with --bars */
#define BARS_WIDEST 60
#define BARS_TITLE 9 /* characters of "self time" */
#define BARS_NUMBERS 24 /* characters of a row besides the name and the bar */

/* Sets *columns to how long lines with bars are; 0: no bars. Prints a message and returns 0 if --bars is impossible. */
static int choose_bars(const tool_args *args, const prof_report_options *how, int *columns)
{
    const char *out = tool_value(args, "--output");
    int own = how->layout == PROF_REPORT_SUMMARY || how->layout == PROF_REPORT_PATHS;
    int here = !out || tool_same(out, "-"), forced = tool_value(args, "--bars") != NULL;
    *columns = how->columns > 0 ? how->columns : 80;
    if (tool_value(args, "--no-bars")) {
        *columns = 0;
        return forced ? (tool_fail("summary: --bars and --no-bars contradict each other"), 0) : 1;
    }
    if (forced && !own) return tool_fail("summary: --bars needs --layout own"), 0;
    if (forced && !here) return tool_fail("summary: --bars needs standard output"), 0;
    if (!forced && (!own || !here || *columns < BARS_LEAST || !tool_draws())) *columns = 0;
    return 1;
}

/* Draws a bar. Its length is in eighths of a character. */
static void draw_bar(int eighths)
{
    for (; eighths >= 8; eighths -= 8) fputs("\xE2\x96\x88", stdout); /* U+2588, the full block */
    if (eighths) printf("\xE2\x96%c", 0x90 - eighths);              /* U+2589 (7/8) to U+258F (1/8) */
    putchar('\n');
}

static void draw_row(const char *name, int width, uint64_t ns, uint64_t longest, uint64_t all, int cells)
{
    char time[48];
    int eighths = (int)((double)ns / (double)longest * cells * 8 + 0.5);
    tool_print_name(name, width);
    printf("%12s%8.1f %%  ", tool_ns(time, (double)ns), (double)ns / (double)all * 100);
    draw_bar(eighths ? eighths : 1);
}

/* Draws the scopes with the most self time, one a row, and all others as one row. `count` is the number of all. */
static void draw_scopes(const prof_stat *stats, size_t count, size_t rows, int columns)
{
    char others[64], number[48];
    uint64_t all = 0, rest = 0, longest = stats[0].self_ns;
    int width, cells, most = (columns - BARS_NUMBERS) / 2;
    size_t i;
    if (rows > count) rows = count;
    for (i = 0; i < count; i++) all += stats[i].self_ns;
    for (i = rows; i < count; i++) rest += stats[i].self_ns;
    if (rest > longest) longest = rest;
    snprintf(others, sizeof others, "%s other%s", tool_count(number, count - rows), count - rows == 1 ? "" : "s");
    width = rest ? tool_characters(others) : 0;
    for (i = 0; i < rows; i++)
        if (tool_characters(stats[i].name) > width) width = tool_characters(stats[i].name);
    if (width > most) width = most;
    if (width < BARS_TITLE) width = BARS_TITLE;
    cells = columns - BARS_NUMBERS - width < BARS_WIDEST ? columns - BARS_NUMBERS - width : BARS_WIDEST;
    tool_print_name("self time", width);
    printf("%22s\n", "share");
    for (i = 0; i < rows; i++) draw_row(stats[i].name, width, stats[i].self_ns, longest, all, cells);
    if (rest) draw_row(others, width, rest, longest, all, cells);
}

static int draw(const prof_trace *trace, size_t rows, int columns)
{
    prof_stat *stats;
    size_t count;
    int result = tool_status(prof_stats(trace, PROF_SORT_SELF, 0, &stats, &count));
    if (result != TOOL_OK) return result;
    while (count && !stats[count - 1].self_ns) count--;
    if (count) {
        putchar('\n');
        draw_scopes(stats, count, rows ? rows : BARS_ROWS, columns);
    }
    prof_stats_free(stats);
    return TOOL_OK;
}

static int draw_all(const tool_args *args, prof_trace **traces, size_t rows, int columns)
{
    int i, result = TOOL_OK;
    for (i = 0; i < args->file_count && result == TOOL_OK; i++) {
        if (args->file_count > 1) {
            fputs("\n== ", stdout);
            tool_print_name(tool_shown(args->files[i]), 0);
            fputs(" ==\n", stdout);
        }
        result = draw(traces[i], rows, columns);
    }
    return result;
}

/*-- the report --*/

static void step(void *user, double share)
{
    tool_progress(share / *(const int *)user);
}

static int write_into(const char *out, prof_trace **traces, int count, const prof_report_options *how)
{
    int i, result = TOOL_OK;
    if (!tool_is_folder(out))
        return tool_status(count == 1 ? prof_report_write(traces[0], out, how)
                                      : prof_report_each((const prof_trace *const *)traces, (size_t)count, out, how));
    if (how->layout != PROF_REPORT_CNTK) return tool_fail("summary: %s is a folder, which needs --layout cntk", out);
    for (i = 0; i < count && result == TOOL_OK; i++) result = tool_status(prof_report_cntk(traces[i], out, NULL, how));
    return result;
}

static int report(const tool_args *args, prof_trace **traces, const prof_report_options *how, int bars)
{
    const char *out = tool_value(args, "--output");
    int i, count = args->file_count, result;
    tool_progress_begin("summary", tool_value(args, "--progress"));
    for (i = 0; i < count; i++) prof_trace_set_progress(traces[i], step, &count);
    if (out && !tool_same(out, "-"))
        result = write_into(out, traces, count, how);
    else if (count == 1)
        result = tool_status(prof_report_stream(traces[0], tool_stdout(), how));
    else
        result = tool_status(
            prof_report_each_stream((const prof_trace *const *)traces, (size_t)count, tool_stdout(), how));
    tool_progress_end();
    if (bars && result == TOOL_OK) result = draw_all(args, traces, how->top, bars);
    return result;
}

/* Writes one table of all recordings together. */
static int compare_groups(const tool_args *args, several_by by, const prof_report_options *how)
{
    const char *path = tool_value(args, "--output");
    several_look look;
    tool_out *out;
    int result;
    memset(&look, 0, sizeof look);
    if (how->layout != PROF_REPORT_SUMMARY && how->layout != PROF_REPORT_JSON)
        return tool_fail("summary: --by needs --layout own or json");
    if (how->sort == PROF_SORT_P99) return tool_fail("summary: --sort p99 needs one recording, or --by file");
    if (tool_value(args, "--bars")) return tool_fail("summary: --bars needs one recording, or --by file");
    look.by = by;
    look.top = how->top;
    look.sort = how->sort;
    look.ascending = how->ascending;
    look.matrix = tool_value(args, "--by") != NULL;
    look.columns = path && !tool_same(path, "-") ? PROF_NO_LIMIT : how->columns;
    look.json = how->layout == PROF_REPORT_JSON;
    look.colours = !look.json && (!path || tool_same(path, "-")) && tool_colours();
    out = tool_out_open(path ? path : "-");
    if (!out) return TOOL_ERROR;
    tool_progress_begin("summary", tool_value(args, "--progress"));
    result = several_summary(args->files, NULL, (size_t)args->file_count, &look, out);
    tool_progress_end();
    return tool_out_close(out, result == TOOL_OK);
}

/* Sets *by to what --by says, or to ranks if it is not given and the recordings are those of ranks. Returns 0 after an
   error. */
static int choose_by(const tool_args *args, const prof_report_options *how, several_by *by)
{
    const char *given = tool_value(args, "--by");
    int choice, ranks;
    prof_trace *trace;
    *by = SEVERAL_FILE;
    if (given && !tool_choice("--by", given, several_names, &choice)) return 0;
    if (given) *by = (several_by)choice;
    if (given || args->file_count < 2 || how->layout != PROF_REPORT_SUMMARY) return 1;
    trace = tool_open(args->files[0]);
    if (!trace) return 0;
    ranks = *tool_said(trace, "rank") != 0;
    prof_trace_close(trace);
    if (ranks) *by = SEVERAL_RANK;
    return 1;
}

static int run(const tool_args *args)
{
    prof_report_options how = {PROF_REPORT_SUMMARY, PROF_SORT_TOTAL, 0, 0, NULL, 0, 0, 0};
    prof_trace **traces;
    several_by by;
    int i, choice, bars, result = TOOL_OK;
    if (!choose(args, &how) || !choose_bars(args, &how, &bars)) return TOOL_ERROR;
    if (!tool_choice("--progress", tool_value(args, "--progress"), tool_progress_choices, &choice)) return TOOL_ERROR;
    if (!choose_by(args, &how, &by)) return TOOL_ERROR;
    if (by != SEVERAL_FILE) return compare_groups(args, by, &how);
    tool_open_many(args->file_count);
    traces = (prof_trace **)calloc((size_t)args->file_count, sizeof *traces);
    if (!traces) return tool_fail("out of memory");
    for (i = 0; i < args->file_count && result == TOOL_OK; i++) {
        traces[i] = tool_open(args->files[i]);
        if (!traces[i]) result = TOOL_ERROR;
    }
    if (result == TOOL_OK) result = report(args, traces, &how, bars);
    for (i = 0; i < args->file_count; i++) prof_trace_close(traces[i]);
    free(traces);
    return result;
}

const tool_command tool_summary = {
    "summary", "IN ...", "Prints a table of scopes, frames, counters and losses, or another report",
    1, 10000, run, options,
    "total is the time inside the scope: of calls inside a call of the same scope, only the outermost counts. self is\n"
    "the time without the scopes inside it. % of run is total as a share of the recording, or of what a ring has kept\n"
    "of the thread; threads add up, and the column threads says how many they are. Percentiles are exact to 0.8 %.\n"
    "Scopes whose begin or end was not recorded count as calls, but add no time. Each recording has a report of its\n"
    "own; recordings of ranks have one table, see --by.\n\n"
    "If a table is wider than the lines, columns are left out in this order: stddev, min, p90, where, p50, max, %\n"
    "of run, p99, mean, self, total, but never the one that is sorted by; names are shortened in the middle. mxnet,\n"
    "cntk and json are never fitted, nor is what goes into a file or a pipe, unless --columns asks for it.\n\n"
    "--by adds all recordings up: one row for each scope, with its calls and total in all of them, and its total in\n"
    "a thread, process, rank or host: the mean, the maximum, and which has that. max/mean is the imbalance: where it\n"
    "is 2, half of the machine waits; on a terminal, from 1.2 on it is red. A process without the scope counts as 0.\n"
    "--layout json has the figures of each. --by rank writes the total of each scope in each rank beside each\n"
    "other. Without --by, recordings of ranks have one table: for each scope the mean of a call; of the ranks' totals\n"
    "the least, the median, the greatest and its rank; max/mean; and the part of the time that was waiting: in a\n"
    "collective or a receive, known by its name or the category \"wait\", what a call takes longer than in the rank\n"
    "where it is shortest; in others what the system knows, with prof_system.h. --by file: a report of each.\n\n"
    "On a terminal of 60 columns or more whose locale is UTF-8, the report ends with a bar for each of the ten\n"
    "scopes (or as many as --top says) with the most self time, and one for the others. Their shares add up to all\n"
    "self time.\n\n"
    "layouts: mxnet and cntk are the tables of those systems' profilers, cntk-detail is CNTK's list of events as\n"
    "CSV, json has all numbers unrounded, domains a row for each category, histogram the distribution of each\n"
    "scope.\n\n"
    "example: prof summary --by-path --top 20 trace.prof\n"
    "         prof summary rank-*.prof\n"
    "         prof summary --by rank rank-*.prof\n"
    "         prof summary --layout cntk -o profiler/ rank-*.prof\n"};
