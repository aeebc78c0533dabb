/* hot.c - prof hot: prints the functions and lines that took the most processor time, by samples. */
#include "samples.h"
#include <stdlib.h>
#include <string.h>

static const char *const formats[] = {"text", "json", "csv", NULL};
enum { TEXT, JSON, CSV };
static const char *const sorts[] = {"self", "total", NULL};

static const tool_option options[] = {
    {"--scope", "-s", "NAME", "only while this scope is open, with all that it calls"},
    {"--thread", NULL, "NAME", "only this thread: its name or its number"},
    {"--top", "-n", "N", "how many functions, and how many lines; default 20"},
    {"--sort", NULL, "KEY", "self (default) or total; the largest first"},
    TOOL_SYMBOLS,
    {"--from", NULL, "TIME", "where the part to count begins, from the start: 1.5s, 20ms; -2s: 2 s before the end"},
    {"--to", NULL, "TIME", "where it ends; default: the end of the recording"},
    {"--format", "-f", "KIND", "text (default), json or csv: all functions and lines, with whole paths"},
    TOOL_COLUMNS,
    TOOL_PROGRESS,
    {NULL, NULL, NULL, NULL}};

typedef struct hot_row {
    size_t function;
    const char *file;     /* of a line */
    uint32_t line;
    uint64_t self, total; /* samples */
    size_t last;          /* the sample that was last counted in total, plus 1 */
} hot_row;

typedef struct hot {
    const tool_args *args;
    samples samples;
    const char *scope;
    hot_row *functions; /* by number, then sorted */
    hot_row *lines;     /* by place, then sorted; lines without self samples are left out */
    size_t line_count;
    uint64_t counted;   /* samples in the scope */
    uint64_t in_thread; /* in the thread and the window */
    double period;
    double each; /* ns of a sample: the period or, if that is longer than all ran, its share of that */
} hot;

/*-- counting --*/

/* Returns the outermost scope of this name around a sample; FLAME_NONE if none was open. */
static size_t scope_around(const hot *h, size_t node)
{
    size_t found = FLAME_NONE;
    const flame_node *nodes = h->samples.tree->nodes;
    for (; node != FLAME_NONE && nodes[node].category; node = nodes[node].parent)
        if (tool_same(nodes[node].name, h->scope)) found = node;
    return found;
}

static void count_sample(hot *h, size_t number)
{
    const samples_one *one = &h->samples.items[number];
    const symbols *names = h->samples.symbols;
    size_t around = h->scope ? scope_around(h, one->node) : FLAME_NONE, function;
    uint32_t frames = one->sample->frame_count, i;
    h->in_thread++;
    if (h->scope && around == FLAME_NONE) return;
    if (h->scope) frames = samples_inside(&h->samples, one, around);
    h->counted++;
    for (i = 0; i < frames; i++) {
        function = symbols_at(names, h->samples.chain[one->chain + i])->function;
        if (!i) h->functions[function].self++;
        if (h->functions[function].last == number + 1) continue; /* it called itself */
        h->functions[function].last = number + 1;
        h->functions[function].total++;
    }
    h->lines[h->samples.chain[one->chain]].self++;
}

static int line_order(const void *left, const void *right)
{
    const hot_row *a = (const hot_row *)left, *b = (const hot_row *)right;
    int order;
    if (!a->file != !b->file) return a->file ? -1 : 1;
    order = a->file ? strcmp(a->file, b->file) : 0;
    if (order) return order;
    if (a->line != b->line) return a->line < b->line ? -1 : 1;
    return a->function < b->function ? -1 : a->function > b->function;
}

static int self_order(const void *left, const void *right)
{
    const hot_row *a = (const hot_row *)left, *b = (const hot_row *)right;
    if (a->self != b->self) return a->self > b->self ? -1 : 1;
    if (a->total != b->total) return a->total > b->total ? -1 : 1;
    return a->function < b->function ? -1 : a->function > b->function;
}

static int total_order(const void *left, const void *right)
{
    const hot_row *a = (const hot_row *)left, *b = (const hot_row *)right;
    if (a->total != b->total) return a->total > b->total ? -1 : 1;
    return self_order(left, right);
}

/* Counts all samples; makes rows of lines from those of places. Returns 0 without memory. */
static int count_all(hot *h, int by_total)
{
    const symbols *names = h->samples.symbols;
    size_t functions = symbols_functions(names), places = symbols_places(names), i, kept = 0;
    h->functions = (hot_row *)calloc(functions + 1, sizeof *h->functions);
    h->lines = (hot_row *)calloc(places + 1, sizeof *h->lines);
    if (!h->functions || !h->lines) return 0;
    for (i = 0; i < functions; i++) h->functions[i].function = i;
    for (i = 0; i < h->samples.count; i++) count_sample(h, i);
    for (i = 0; i < places; i++) {
        const symbols_place *place = symbols_at(names, i);
        h->lines[i].function = place->function;
        h->lines[i].file = place->line ? place->file : NULL;
        h->lines[i].line = place->line;
    }
    qsort(h->lines, places, sizeof *h->lines, line_order);
    for (i = 0; i < places; i++) {
        if (!h->lines[i].self || !h->lines[i].file) continue;
        if (kept && !line_order(&h->lines[kept - 1], &h->lines[i])) h->lines[kept - 1].self += h->lines[i].self;
        else h->lines[kept++] = h->lines[i];
    }
    h->line_count = kept;
    qsort(h->lines, kept, sizeof *h->lines, self_order);
    qsort(h->functions, functions, sizeof *h->functions, by_total ? total_order : self_order);
    return 1;
}

/*-- output --*/

static const symbols_function *function_of(const hot *h, const hot_row *row)
{
    return symbols_function_at(h->samples.symbols, row->function);
}

static double percent(const hot *h, uint64_t part) { return h->counted ? (double)part / (double)h->counted * 100 : 0; }

static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static const char *place_text(char *to, size_t size, const char *file, uint32_t line, const char *other)
{
    if (file && line) snprintf(to, size, "%s:%lu", file_name(file), (unsigned long)line);
    else snprintf(to, size, "%s", other);
    return to;
}

static void print_share(const hot *h, uint64_t part)
{
    char time[48];
    printf("%6.1f %% %10s", percent(h, part), tool_ns(time, (double)part * h->each));
}

static void print_functions(const hot *h, size_t rows)
{
    size_t count = symbols_functions(h->samples.symbols), i;
    int width = 8, fits = tool_fit(60, 58);
    char place[300];
    for (i = 0; i < count && i < rows && h->functions[i].total; i++) {
        int length = tool_characters(function_of(h, &h->functions[i])->name);
        if (length > width) width = length;
    }
    if (width > fits) width = fits;
    printf("\n%8s %10s %8s %10s %8s  %-*s  %s\n", "self", "", "total", "", "samples", width, "function", "where");
    for (i = 0; i < count && i < rows && h->functions[i].total; i++) {
        const hot_row *row = &h->functions[i];
        const symbols_function *at = function_of(h, row);
        char number[48];
        print_share(h, row->self);
        print_share(h, row->total);
        printf(" %8s  ", tool_count(number, row->self));
        tool_print_name(at->name, width);
        printf("  ");
        tool_print_name(place_text(place, sizeof place, at->file, at->line, at->module), 0);
        printf("\n");
    }
}

static void print_lines(const hot *h, size_t rows)
{
    char place[300], number[48];
    size_t i;
    int width = 4;
    for (i = 0; i < h->line_count && i < rows; i++) {
        int length = tool_characters(place_text(place, sizeof place, h->lines[i].file, h->lines[i].line, ""));
        if (length > width) width = length;
    }
    if (width > tool_fit(40, 50)) width = tool_fit(40, 50);
    if (h->line_count) printf("\n%8s %10s %8s  %-*s  %s\n", "self", "", "samples", width, "line", "function");
    for (i = 0; i < h->line_count && i < rows; i++) {
        print_share(h, h->lines[i].self);
        printf(" %8s  ", tool_count(number, h->lines[i].self));
        tool_print_name(place_text(place, sizeof place, h->lines[i].file, h->lines[i].line, ""), width);
        printf("  ");
        tool_print_name(function_of(h, &h->lines[i])->name, tool_characters(function_of(h, &h->lines[i])->name) >
                        tool_fit(60, 32 + width) ? tool_fit(60, 32 + width) : 0);
        printf("\n");
    }
}

/* Writes what was lost, or "". */
static const char *loss_text(const prof_trace_info *info, char *to, size_t size)
{
    char count[48];
    *to = 0;
    if (info->samples_lost)
        snprintf(to, size, "%s samples could not be recorded: times are too short",
                 tool_count(count, info->samples_lost));
    return to;
}

static void print_text(const hot *h, size_t rows)
{
    char counted[48], in_thread[48], time[48], each[48], note[200];
    const prof_trace_info *info = prof_trace_about(h->samples.trace);
    size_t i;
    printf("%s samples, one for each %s of processor time: %s", tool_count(counted, h->counted),
           tool_ns(each, h->period), tool_ns(time, (double)h->counted * h->each));
    if (h->scope) {
        printf(" in ");
        tool_print_name(h->scope, 0);
        printf(", of %s samples", tool_count(in_thread, h->in_thread));
    }
    printf("\n");
    if (h->each < h->period)
        printf("They stand for %s, but %s ran for no more than %s: a function has its share of that.\n",
               tool_ns(time, (double)h->counted * h->period), h->scope ? "these scopes" : "these threads",
               tool_ns(each, (double)h->counted * h->each));
    if (h->counted) {
        print_functions(h, rows);
        print_lines(h, rows);
    }
    if (*loss_text(info, note, sizeof note) || symbols_note(h->samples.symbols, 0)) printf("\n");
    if (*note) printf("note: %s\n", note);
    for (i = 0; symbols_note(h->samples.symbols, i); i++) {
        printf("note: ");
        tool_print_wrapped(symbols_note(h->samples.symbols, i), 6, 6);
        printf("\n");
    }
}

static void print_key(const char *key, const char *text)
{
    printf("\"%s\":", key);
    if (text) tool_print_json(text, strlen(text));
    else printf("null");
}

static void print_json_row(const hot *h, const hot_row *row, const char *file, uint32_t line, int is_line)
{
    const symbols_function *at = function_of(h, row);
    printf("{");
    print_key("function", at->name);
    printf(",");
    print_key("module", at->module);
    printf(",");
    print_key("file", file);
    printf(",\"line\":%lu,\"self_samples\":%llu,\"self_ns\":%.0f", (unsigned long)line, (unsigned long long)row->self,
           (double)row->self * h->each);
    if (!is_line)
        printf(",\"total_samples\":%llu,\"total_ns\":%.0f", (unsigned long long)row->total,
               (double)row->total * h->each);
    printf("}");
}

static void print_json(const hot *h)
{
    const prof_trace_info *info = prof_trace_about(h->samples.trace);
    size_t count = symbols_functions(h->samples.symbols), i;
    printf("{");
    print_key("scope", h->scope);
    printf(",\"samples\":%llu,\"samples_outside\":%llu,\"samples_lost\":%llu,\"period_ns\":%.0f,\n\"functions\":[",
           (unsigned long long)h->counted, (unsigned long long)(h->in_thread - h->counted),
           (unsigned long long)info->samples_lost, h->period);
    for (i = 0; i < count && h->functions[i].total; i++) {
        printf(i ? ",\n" : "\n");
        print_json_row(h, &h->functions[i], function_of(h, &h->functions[i])->file,
                       function_of(h, &h->functions[i])->line, 0);
    }
    printf("],\n\"lines\":[");
    for (i = 0; i < h->line_count; i++) {
        printf(i ? ",\n" : "\n");
        print_json_row(h, &h->lines[i], h->lines[i].file, h->lines[i].line, 1);
    }
    printf("],\n\"notes\":[");
    for (i = 0; symbols_note(h->samples.symbols, i); i++) {
        if (i) printf(",");
        tool_print_json(symbols_note(h->samples.symbols, i), strlen(symbols_note(h->samples.symbols, i)));
    }
    printf("]}\n");
}

static void print_cell(const char *text)
{
    putchar('"');
    for (; text && *text; text++) printf(*text == '"' ? "\"\"" : "%c", *text);
    putchar('"');
}

static void print_csv_row(const hot *h, const char *kind, const hot_row *row, const char *file, uint32_t line)
{
    const symbols_function *at = function_of(h, row);
    printf("%s,", kind);
    print_cell(at->name);
    printf(",");
    print_cell(at->module);
    printf(",");
    print_cell(file);
    printf(",%lu,%llu,%llu,%.0f,%.0f\n", (unsigned long)line, (unsigned long long)row->self,
           (unsigned long long)row->total, (double)row->self * h->each, (double)row->total * h->each);
}

static void print_csv(const hot *h)
{
    size_t count = symbols_functions(h->samples.symbols), i;
    printf("kind,function,module,file,line,self_samples,total_samples,self_ns,total_ns\n");
    for (i = 0; i < count && h->functions[i].total; i++)
        print_csv_row(h, "function", &h->functions[i], function_of(h, &h->functions[i])->file,
                      function_of(h, &h->functions[i])->line);
    for (i = 0; i < h->line_count; i++) print_csv_row(h, "line", &h->lines[i], h->lines[i].file, h->lines[i].line);
    for (i = 0; symbols_note(h->samples.symbols, i); i++)
        fprintf(stderr, "prof: %s\n", symbols_note(h->samples.symbols, i));
}

/*-- the command --*/

/* Fails where a name leads to no sample because nothing has it. */
static int check_found(const hot *h, const char *path)
{
    const char *thread = tool_value(h->args, "--thread");
    const flame *tree = h->samples.tree;
    size_t i;
    if (thread && !h->in_thread) return tool_fail("%s: no samples of a thread '%s'", tool_shown(path), thread);
    for (i = 0; h->scope && !h->counted && i < tree->count; i++)
        if (tree->nodes[i].category && tool_same(tree->nodes[i].name, h->scope)) return TOOL_OK;
    if (!h->scope || h->counted) return TOOL_OK;
    return tool_fail("%s: no scope '%s' in a thread that has samples", tool_shown(path), h->scope);
}

static int show(hot *h, prof_trace *trace, int format, int by_total, size_t rows)
{
    const char *path = h->args->files[0];
    flame tree;
    int result;
    memset(&tree, 0, sizeof tree);
    tree.tracks = 1;
    if (flame_child(&tree, FLAME_NONE, "", NULL) == FLAME_NONE) return tool_fail("out of memory");
    result = samples_read(&h->samples, trace, path, &tree, 0, tool_value(h->args, "--thread"),
                          tool_value(h->args, "--symbols"));
    tool_progress_end();
    h->period = (double)prof_trace_about(trace)->sample_period_ns;
    if (result == TOOL_OK && !count_all(h, by_total)) result = tool_fail("out of memory");
    if (result == TOOL_OK) result = check_found(h, path);
    if (result == TOOL_OK) h->each = samples_each(&h->samples, h->counted, h->scope, tool_value(h->args, "--thread"));
    if (result == TOOL_OK && format == TEXT) print_text(h, rows);
    if (result == TOOL_OK && format == JSON) print_json(h);
    if (result == TOOL_OK && format == CSV) print_csv(h);
    samples_free(&h->samples);
    free(h->functions);
    free(h->lines);
    flame_free(&tree);
    return result;
}

static int run(const tool_args *args)
{
    const char *top = tool_value(args, "--top");
    prof_trace *trace;
    hot h;
    double rows = 20;
    int choice, format, sort, columns, result;
    memset(&h, 0, sizeof h);
    h.args = args;
    h.scope = tool_value(args, "--scope");
    if (!tool_choice("--format", tool_value(args, "--format"), formats, &format)) return TOOL_ERROR;
    if (!tool_choice("--sort", tool_value(args, "--sort"), sorts, &sort)) return TOOL_ERROR;
    if (!tool_choice("--progress", tool_value(args, "--progress"), tool_progress_choices, &choice)) return TOOL_ERROR;
    if (!tool_columns(args, &columns) || (top && !tool_number("--top", top, 1, 1e9, &rows))) return TOOL_ERROR;
    trace = tool_open(args->files[0]);
    if (!trace) return TOOL_ERROR;
    tool_progress_begin("hot", tool_value(args, "--progress"));
    prof_trace_set_progress(trace, tool_progress_step, NULL);
    result = tool_window(args, trace);
    if (result == TOOL_OK) result = show(&h, trace, format, sort, (size_t)rows);
    tool_progress_end();
    prof_trace_close(trace);
    return result;
}

const tool_command tool_hot = {
    "hot", "FILE", "Prints the functions and lines that took the most processor time, by samples",
    1, 1, run, options,
    "For recordings with samples: of a program that includes prof_system.h, with PROF_SAMPLES=1. self is the\n"
    "processor time in the function itself, total with all that it called; a function that calls itself counts once a\n"
    "sample. With --scope, samples count while a scope of this name is open in their thread, as the innermost one or\n"
    "around others; functions around the scope are left out.\n\n"
    "Names come from the files of the program and its libraries, if these are on this machine, from separate files\n"
    "of debug information (/usr/lib/debug, .gnu_debuglink), and from /tmp/perf-PID.map of just-in-time compilers;\n"
    "lines from debug information, which -g makes. --symbols looks in a folder first: for DIR/.build-id/ab/cd.debug,\n"
    "and for a file whose path ends like that of the one that ran. A file whose build id differs is not used. Names\n"
    "of C++ and Rust are readable if c++filt is installed. What has no name is MODULE+0xOFFSET, an offset in its\n"
    "file. Where the compiler put a function into its caller, the line is that of the inner one, the name that of\n"
    "the caller.\n\n"
    "example: prof hot trace.prof\n"
    "         prof hot trace.prof --scope draw --top 10\n"};
