/* flame.c - prof flame: shows where the time of a recording went, as a flame graph or as folded stacks. This file reads
   the recordings into a tree and writes folded stacks. flame_tree.c has the tree, and flame_svg.c draws it. */
#include "samples.h"
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const char *const formats[] = {"svg", "folded", "pprof", NULL};
enum { SVG, FOLDED, PPROF };

static const tool_option options[] = {
    {"--output", "-o", "OUT", "the file to write: .svg, or .folded or .pprof for other tools; -: stdout"},
    {"--format", "-f", "KIND", "the format, whatever the ending: svg, folded or pprof"},
    {"--samples", "-s", NULL, "sampled functions below the scopes that they ran in; widths are processor time"},
    TOOL_SYMBOLS,
    {"--from", NULL, "TIME", "where the part to draw begins, from the start: 1.5s, 20ms; -2s: 2 s before the end"},
    {"--to", NULL, "TIME", "where it ends; default: the end of the recording"},
    {"--merge", "-m", NULL, "adds up all threads and processes, without a row for each"},
    {"--inverted", "-i", NULL, "svg: draws callers at the bottom and what they call above them"},
    {"--min-percent", NULL, "N",
     "svg: draws scopes of less than N % of the whole as one, \"others\"; default 0.02; 0: never"},
    TOOL_PROGRESS,
    {NULL, NULL, NULL, NULL}};

/*-- reading --*/

/* Returns the name by which statistics group a scope: the name of the call site or, if that has none, the call's. */
static const char *scope_name(const prof_callsite *site, const char *name)
{
    const char *which = *site->name ? site->name : name;
    return *which ? which : "(unnamed)";
}

static void add_call(flame *tree, size_t node, int64_t ns, uint32_t flags)
{
    flame_node *to = &tree->nodes[node];
    to->calls++;
    to->cut += flags != 0;
    tree->calls++;
    tree->cut += flags != 0;
    to->total_ns += (uint64_t)ns;
}

size_t flame_row(flame *tree, size_t top, const prof_track *track)
{
    char row[1400];
    if (!tree->tracks) return top;
    if (*track->device)
        snprintf(row, sizeof row, "%.600s: %.600s", track->device, track->name);
    else
        snprintf(row, sizeof row, "%.1000s (%s %llu)", *track->name ? track->name : "(unnamed)",
                 track->fiber ? "fiber on thread" : "thread", (unsigned long long)track->thread_id);
    return flame_child(tree, top, row, NULL);
}

size_t flame_push(flame *tree, flame_stack *stack, const prof_event *event)
{
    size_t node, depth = stack->depth;
    while (depth && (stack->open[depth - 1].depth >= event->depth || stack->open[depth - 1].end_ns < event->start_ns))
        --depth;
    stack->depth = depth;
    if (depth == FLAME_DEPTH - 3) { /* the root, the process and the thread are levels, too */
        tree->too_deep++;
        return FLAME_NONE;
    }
    node = flame_child(tree, depth ? stack->open[depth - 1].node : stack->row, scope_name(event->site, event->name),
                       event->site->category);
    if (node == FLAME_NONE) return node;
    stack->open[depth].node = node;
    stack->open[depth].depth = event->depth;
    stack->open[depth].end_ns = event->start_ns + event->duration_ns;
    stack->depth++;
    return node;
}

static prof_status read_track(flame *tree, const prof_trace *trace, size_t index, size_t top)
{
    flame_stack stack;
    prof_cursor *cursor;
    prof_event event;
    prof_status status = prof_cursor_open(trace, index, &cursor);
    if (status) return status;
    stack.row = FLAME_NONE;
    stack.depth = 0;
    while (!tree->failed && prof_cursor_next(cursor, &event)) {
        size_t node;
        if (event.type != PROF_EVENT_SCOPE) continue;
        if (stack.row == FLAME_NONE) stack.row = flame_row(tree, top, prof_trace_track(trace, index));
        if (stack.row == FLAME_NONE) break;
        node = flame_push(tree, &stack, &event);
        if (node != FLAME_NONE) add_call(tree, node, event.duration_ns, event.flags);
    }
    prof_cursor_close(cursor);
    return PROF_OK;
}

/* Adds scopes that ended after a scope around them. They become outermost, as in the statistics. */
static prof_status read_overlapping(flame *tree, const prof_trace *trace, size_t top)
{
    prof_spans *spans;
    prof_span span;
    prof_status status = prof_spans_open(trace, &spans);
    if (status) return status;
    while (!tree->failed && prof_spans_next(spans, &span)) {
        size_t node;
        if (span.mark || !tool_is_scope(&span)) continue;
        node = flame_row(tree, top, prof_trace_track(trace, span.begin_track));
        if (node != FLAME_NONE) node = flame_child(tree, node, scope_name(span.site, span.name), span.site->category);
        if (node != FLAME_NONE) add_call(tree, node, span.duration_ns, span.flags);
    }
    return prof_spans_close(spans);
}

void flame_note(flame *tree, const char *who, const char *text)
{
    char note[900];
    if (tree->note_count == sizeof tree->notes / sizeof *tree->notes) return;
    snprintf(note, sizeof note, "%.200s%s%.600s", who, *who ? ": " : "", text);
    tree->notes[tree->note_count] = flame_text(note);
    if (tree->notes[tree->note_count]) tree->note_count++;
}

static void add_losses(flame *tree, const prof_trace *trace, const char *who)
{
    char text[600];
    int kind;
    for (kind = 0; kind < TOOL_LOSSES; ++kind)
        if (tool_loss(trace, kind, text, sizeof text)) flame_note(tree, who, text);
    if (!prof_trace_about(trace)->complete)
        flame_note(tree, who, "the end: the session was not stopped, or is still running");
}

static prof_status read_trace(flame *tree, const prof_trace *trace, const char *process)
{
    size_t i, count = prof_trace_track_count(trace), top = 0;
    prof_status status = PROF_OK;
    if (*process && tree->tracks) top = flame_child(tree, 0, process, NULL);
    for (i = 0; i < count && !status && !tree->failed; ++i) status = read_track(tree, trace, i, top);
    if (!status && !tree->failed) status = read_overlapping(tree, trace, top);
    if (!status) add_losses(tree, trace, process);
    return status;
}

/*-- output --*/

void flame_put(tool_out *out, const char *format, ...)
{
    char text[1001];
    va_list list;
    int length;
    va_start(list, format);
    length = vsnprintf(text, sizeof text, format, list);
    va_end(list);
    if (length > 0) tool_out_bytes(out, text, length < 1000 ? (size_t)length : 1000);
}

/* Writes a name of a stack. Replaces semicolons, which separate names, and line breaks, which separate stacks. */
static void put_frame(tool_out *out, const char *name)
{
    int width;
    while (*name) {
        size_t length = flame_character(name, &width);
        if (!length)
            tool_out_bytes(out, "?", 1);
        else
            tool_out_bytes(out, *name == ';' ? ":" : name, length);
        name += length ? length : 1;
    }
}

static void write_folded(const flame *tree, tool_out *out)
{
    size_t path[FLAME_DEPTH + 1], i, at, depth;
    for (i = tree->nodes[0].first; i != FLAME_NONE && i;) { /* in depth-first order */
        if (tree->nodes[i].self_ns) {
            for (at = i, depth = 0; at && depth <= FLAME_DEPTH; at = tree->nodes[at].parent) path[depth++] = at;
            while (depth) {
                put_frame(out, tree->nodes[path[--depth]].name);
                if (depth) tool_out_bytes(out, ";", 1);
            }
            flame_put(out, " %llu\n", (unsigned long long)tree->nodes[i].self_ns);
        }
        at = tree->nodes[i].first;
        while (at == FLAME_NONE && i) {
            at = tree->nodes[i].next;
            i = tree->nodes[i].parent;
        }
        i = at;
    }
}

/*-- the command --*/

int tool_window(const tool_args *args, prof_trace *trace)
{
    const char *from = tool_value(args, "--from"), *to = tool_value(args, "--to");
    int64_t end = prof_trace_about(trace)->duration_ns, from_ns = 0, to_ns = 0;
    if (from && !tool_time("--from", from, end, &from_ns)) return TOOL_ERROR;
    if (to && !tool_time("--to", to, end, &to_ns)) return TOOL_ERROR;
    if (to && to_ns <= from_ns)
        return tool_fail("%s: --to %s is not later than --from %s", args->command->name, to, from ? from : "0");
    return from || to ? tool_status(prof_trace_set_window(trace, from_ns, to_ns)) : TOOL_OK;
}

static const char *process_name(const prof_trace *trace, char *to, size_t size)
{
    const prof_trace_info *info = prof_trace_about(trace);
    char program[900];
    snprintf(to, size, "%s (process %llu)", tool_program(trace, program, sizeof program),
             (unsigned long long)info->pid);
    return to;
}

static void step(void *user, double share)
{
    tool_progress(share / *(const int *)user);
}

/* Draws the samples of a recording into the tree or, if there is an `out`, writes them there for pprof. */
static int read_samples(const tool_args *args, const prof_trace *trace, const char *path, const char *process,
                        flame *tree, tool_out *out)
{
    samples all;
    size_t top = *process && tree->tracks ? flame_child(tree, 0, process, NULL) : 0, i;
    int result = samples_read(&all, trace, path, tree, top, NULL, tool_value(args, "--symbols"));
    if (result == TOOL_OK) {
        if (out && !samples_write_pprof(&all, out)) result = tool_fail("out of memory");
        if (!out) samples_draw(&all);
        for (i = 0; symbols_note(all.symbols, i); i++) {
            flame_note(tree, process, symbols_note(all.symbols, i));
            if (out) fprintf(stderr, "prof: %s\n", symbols_note(all.symbols, i));
        }
        add_losses(tree, trace, process);
    }
    samples_free(&all);
    return result;
}

static int read_file(const tool_args *args, int index, flame *tree, tool_out *out)
{
    char process[1000];
    int result, count = args->file_count;
    prof_trace *trace = tool_open(args->files[index]);
    const char *who = count == 1 ? "" : process;
    if (!trace) return TOOL_ERROR;
    process_name(trace, process, sizeof process);
    if (!index && flame_child(tree, FLAME_NONE, count == 1 ? process : "all processes", NULL) == FLAME_NONE)
        result = TOOL_ERROR;
    else
        result = tool_window(args, trace);
    prof_trace_set_progress(trace, step, &count);
    if (result == TOOL_OK)
        result = tree->samples ? read_samples(args, trace, args->files[index], who, tree, out)
                               : tool_status(read_trace(tree, trace, who));
    prof_trace_close(trace);
    return result;
}

static int write_out(const tool_args *args, const flame *tree, tool_out *out, int kind, double percent)
{
    flame_look look;
    int good = 1;
    look.inverted = tool_value(args, "--inverted") != NULL;
    look.least = percent / 100;
    look.title = tree->nodes[0].name;
    if (kind == FOLDED) write_folded(tree, out);
    if (kind == SVG) good = flame_write_svg(tree, &look, out);
    if (!good) tool_fail("out of memory");
    return tool_out_close(out, good);
}

/* Decides what to write. Prints a message and returns 0 if that is not clear. */
static int choose_kind(const tool_args *args, int *kind)
{
    const char *out = tool_value(args, "--output"), *given = tool_value(args, "--format");
    if (!tool_choice("--format", given, formats, kind)) return 0;
    if (!out) return tool_fail("flame: no output: add -o OUT.svg or -o OUT.folded"), 0;
    if (given) return 1;
    for (*kind = 0; formats[*kind]; ++*kind)
        if (*tool_extension(out) && tool_same(tool_extension(out) + 1, formats[*kind])) return 1;
    if (tool_same(out, "-")) return tool_fail("flame: -o - needs --format svg, folded or pprof"), 0;
    return tool_fail("flame: %s: unknown kind of file: use .svg, .folded or .pprof, or add --format", out), 0;
}

/* Returns 0, with a message, if options contradict each other. */
static int check_samples(const tool_args *args, int kind)
{
    int sampled = tool_value(args, "--samples") != NULL;
    if (tool_value(args, "--symbols") && !sampled) return tool_fail("flame: --symbols needs --samples"), 0;
    if (kind == PPROF && !sampled) return tool_fail("flame: .pprof needs --samples"), 0;
    if (kind == PPROF && args->file_count > 1) return tool_fail("flame: .pprof takes one recording"), 0;
    return 1;
}

static int run(const tool_args *args)
{
    const char *percent = tool_value(args, "--min-percent");
    flame tree;
    tool_out *out = NULL;
    double least = 0.02;
    int i, choice, kind, result = TOOL_OK;
    if (!choose_kind(args, &kind) || !check_samples(args, kind)) return TOOL_ERROR;
    if (percent && !tool_number("--min-percent", percent, 0, 100, &least)) return TOOL_ERROR;
    if (!tool_choice("--progress", tool_value(args, "--progress"), tool_progress_choices, &choice)) return TOOL_ERROR;
    memset(&tree, 0, sizeof tree);
    tree.tracks = !tool_value(args, "--merge");
    tree.samples = tool_value(args, "--samples") != NULL;
    tool_progress_begin("flame", tool_value(args, "--progress"));
    for (i = 0; i < args->file_count && result == TOOL_OK && !tree.failed; ++i) {
        if (kind == PPROF && !(out = tool_out_open(tool_value(args, "--output")))) result = TOOL_ERROR;
        if (result == TOOL_OK) result = read_file(args, i, &tree, out);
    }
    if (result == TOOL_OK && !tree.failed) flame_finish(&tree);
    tool_progress_end();
    if (tree.failed) result = tool_fail("out of memory");
    if (result == TOOL_OK && !out && !(out = tool_out_open(tool_value(args, "--output")))) result = TOOL_ERROR;
    if (result == TOOL_OK)
        result = write_out(args, &tree, out, kind, least);
    else if (out)
        tool_out_close(out, 0);
    flame_free(&tree);
    return result;
}

const tool_command tool_flame = {
    "flame", "FILE... -o OUT", "Draws where the time went, as a flame graph that needs no network",
    1, 1000, run, options,
    "The picture shows scopes below those that they were called from, all calls of one path added up; their width\n"
    "is time. Open it in a browser: a click or Enter zooms in, Escape zooms out, arrow keys move, and the field\n"
    "searches names. Without scripts it is a picture. The time of calls that were cut off, by the end of the\n"
    "recording or by --from and --to, counts as far as it is known. Several recordings are processes of one\n"
    "picture. Colours stand for categories.\n\n"
    "Each line of .folded is a call path and its self time in ns, for flamegraph.pl, inferno, speedscope and\n"
    "others.\n\n"
    "With --samples, widths are processor time, as far as it was sampled: scopes above, and below each the functions\n"
    "that ran in it, from the one that has the scope on. .pprof is for go tool pprof: functions and lines, with\n"
    "thread and scope as labels. prof help hot says where names of functions come from.\n\n"
    "example: prof flame trace.prof -o trace.svg\n"
    "         prof flame --merge rank-*.prof -o all.folded\n"
    "         prof flame --samples trace.prof -o trace.svg\n"};
