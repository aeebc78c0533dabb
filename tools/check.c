/* check.c - prof check: says what is in a recording, and whether it is complete. */
#include "tool.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const tool_option options[] = {
    {"--quiet", "-q", NULL, "prints nothing and only sets the exit status"},
    TOOL_COLUMNS,
    {NULL, NULL, NULL, NULL}};

#define OPEN_SHOWN 32 /* open scopes of a track that are printed, at most */

/* What one pass over all events has found. */
typedef struct findings {
    uint64_t types[PROF_EVENT_TYPE_COUNT]; /* how many events there are of each type */
    unsigned char *seen; /* of each call site of the trace: 1: it has events */
    size_t site_count;   /* how many have */
} findings;

static int look(const prof_trace *trace, findings *all, size_t number)
{
    prof_cursor *cursor;
    prof_event event;
    if (tool_status(prof_cursor_open(trace, number, &cursor))) return 0;
    while (prof_cursor_next(cursor, &event)) {
        all->types[event.type]++;
        if (event.type != PROF_EVENT_LOST) all->seen[tool_site_number(trace, event.site)] = 1;
    }
    prof_cursor_close(cursor);
    return 1;
}

static void print_line(const char *what, const char *text)
{
    printf("  %-10s", what);
    tool_print_wrapped(text, 12, 12);
    printf("\n");
}

/* Writes "3 events", followed by end, to `to`. */
static const char *count_text(char *to, size_t size, uint64_t count, const char *thing, const char *end)
{
    char text[48];
    snprintf(to, size, "%s %s%s%s", tool_count(text, count), thing, count == 1 ? "" : "s", end);
    return to;
}

static void print_head(const prof_trace *trace)
{
    const prof_trace_info *info = prof_trace_about(trace);
    static const char *const modes[] = {"reused as a ring", "filled once", "emptied into the file",
                                        "emptied into statistics", "reused as a ring, beside statistics"};
    char text[512], a[48], b[48];
    size_t i;
    time_t start = (time_t)(info->start_unix_ns / 1000000000u);
    const struct tm *utc = gmtime(&start);
    print_line("program", tool_program(trace, text, sizeof text));
    printf("  %-10s%llu\n", "process", (unsigned long long)info->pid);
    if (!info->start_unix_ns || !utc || !strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", utc))
        strcpy(text, "unknown");
    print_line("started", text);
    print_line("lasted", tool_ns(a, (double)info->duration_ns));
    if (info->from_ns || info->to_ns)
        printf("  %-10s%s to %s\n", "window", tool_ns(a, (double)info->from_ns),
               info->to_ns ? tool_ns(b, (double)info->to_ns) : "the end");
    if (info->tick_hz)
        snprintf(text, sizeof text, "%s, %s%s%s", info->clock, tool_hz(b, (double)info->tick_hz),
                 info->clock_resolution_ns > 0 ? ", smallest step " : "",
                 info->clock_resolution_ns > 0 ? tool_ns(a, info->clock_resolution_ns) : "");
    else
        snprintf(text, sizeof text, "%s, of unknown rate: a tick counts as 1 ns", info->clock);
    print_line("clock", text);
    for (i = 0; tool_gap(trace, i, text, sizeof text); i++) print_line("", text);
    int split = info->chunk_size && info->chunks > info->buffer_size / info->chunk_size;
    char parts[64] = "";
    if (split) snprintf(parts, sizeof parts, ", split into %s for many threads", tool_count(b, info->chunks));
    snprintf(text, sizeof text, "%s bytes in chunks of %s%s, %s", tool_count(a, info->buffer_size),
             tool_count(b, info->chunk_size), parts, modes[info->mode]);
    print_line("buffer", text);
}

static void print_samples(const prof_trace *trace)
{
    const prof_trace_info *info = prof_trace_about(trace);
    char text[160], a[48], b[48];
    if (!info->samples) return;
    snprintf(text, sizeof text, "%s, one for each %s that a thread ran", tool_count(a, info->samples),
             tool_ns(b, (double)info->sample_period_ns));
    print_line("samples", text);
}

static void print_events(const findings *all)
{
    char line[32 + PROF_EVENT_TYPE_COUNT * 64], text[48];
    uint64_t sum = 0;
    int type, count = 0;
    size_t at;
    for (type = 0; type < PROF_EVENT_TYPE_COUNT; type++) sum += all->types[type];
    at = (size_t)snprintf(line, sizeof line, "%s", tool_count(text, sum));
    for (type = 0; type < PROF_EVENT_TYPE_COUNT; type++)
        if (all->types[type])
            at += (size_t)snprintf(line + at, sizeof line - at, "%s%s %s", count++ ? ", " : ": ",
                                   tool_count(text, all->types[type]),
                                   tool_event_name((unsigned)type, all->types[type] != 1));
    print_line("events", line);
    print_line("sites", tool_count(text, all->site_count));
}

/* Prints a track. A device's row is no thread, so it has the name of the device in place of a thread id. */
static void print_track(const prof_track *track)
{
    char line[256], from[48], to[48], count[80], lost[80] = "";
    printf("    ");
    if (*track->device) {
        snprintf(line, sizeof line, "%s/%s", track->device, track->name);
        tool_print_name(line, 20);
        snprintf(line, sizeof line, " %-15s ", "device");
    } else {
        tool_print_name(*track->name ? track->name : "(unnamed)", 20);
        snprintf(line, sizeof line, " thread %-8llu ", (unsigned long long)track->thread_id);
    }
    if (track->lost) count_text(lost, sizeof lost, track->lost, "event", " lost");
    snprintf(line + strlen(line), sizeof line - strlen(line), "%s, %s to %s%s%s",
             count_text(count, sizeof count, track->event_count, "event", ""), tool_ns(from, (double)track->first_ns),
             tool_ns(to, (double)track->last_ns), *lost ? ", " : "", lost);
    tool_print_wrapped(line, 24, 41);
    printf("\n");
}

/* Returns to which width a name must be shortened, if `used` characters of the line are taken. Returns 0 if it fits. */
static int shortened(const char *name, int used)
{
    int length = tool_characters(name), fits = tool_fit(length, used);
    return fits < length ? fits : 0;
}

/* Prints the scopes that were open when a track ended: they tell what the thread was doing. If there are many, which
   longjmp() can cause, prints the outermost and the innermost ones. known: 0: they may have been open for longer than
   shown. */
static void print_open(const prof_open_scope *scopes, size_t count, int known)
{
    char text[48], line[64];
    size_t depth;
    for (depth = 0; depth < count; depth++) {
        int indent = tool_fit(depth < 20 ? (int)depth * 2 : 40, 60);
        if (!depth) printf("      open at the end:\n");
        if ((size_t)indent > depth * 2) indent = (int)depth * 2;
        if (depth == OPEN_SHOWN / 2 && count > OPEN_SHOWN + 1) {
            printf("        %*s... %s more ...\n", indent, "", tool_count(text, count - OPEN_SHOWN));
            depth = count - OPEN_SHOWN / 2;
        }
        snprintf(line, sizeof line, "  for %s%s%s", known ? "" : "at least ",
                 tool_ns(text, (double)scopes[depth].duration_ns),
                 known || scopes[depth].duration_ns ? "" : ": it was begun last");
        printf("        %*s", indent, "");
        tool_print_name(scopes[depth].name, shortened(scopes[depth].name, 8 + indent + (int)strlen(line)));
        printf("%s\n", line);
    }
}

/* Returns why a recording that was not stopped existed in memory only. Returns NULL if it did not. */
static const char *memory_reason(const prof_trace *trace)
{
    const char *key, *value;
    size_t i;
    for (i = 0; prof_trace_metadata(trace, i, &key, &value); i++)
        if (!strcmp(key, "in memory only")) return value;
    return NULL;
}

/* Prints what the recording lacks, and why. */
static void print_missing(const prof_trace *trace)
{
    const prof_trace_info *info = prof_trace_about(trace);
    char text[512];
    int kind, kinds = 0;
    if (!info->complete) {
        snprintf(text, sizeof text,
                 !info->pid ? "the end: the session was not stopped"
                 : tool_is_alive(info)
                     ? "the end: process %llu is alive, and may still be recording"
                 : *info->crash ? "the end: process %llu crashed: %s"
                     : "the end: the session was not stopped; process %llu saved this while it ran, or crashed, was "
                       "killed or left by _exit",
                 (unsigned long long)info->pid, info->crash);
        print_line("missing", text);
        kinds++;
        if (!info->event_count && memory_reason(trace)) {
            snprintf(text, sizeof text, "all events: they were in memory only, because of the file: %.200s",
                     memory_reason(trace));
            print_line("", text);
        }
    }
    for (kind = 0; kind < TOOL_LOSSES; kind++)
        if (tool_loss(trace, kind, text, sizeof text)) print_line(kinds++ ? "" : "missing", text);
    if (!kinds) print_line("missing", "nothing");
    if (!memory_reason(trace) && tool_nothing(trace, text, sizeof text)) print_line("why", text);
}

static int is_whole(const prof_trace *trace)
{
    char text[512];
    int kind;
    for (kind = 0; kind < TOOL_LOSSES; kind++)
        if (tool_loss(trace, kind, text, sizeof text)) return 0;
    return prof_trace_about(trace)->complete;
}

static int report(const prof_trace *trace, const char *path)
{
    const prof_trace_info *info = prof_trace_about(trace);
    prof_open_scope *open = NULL;
    findings all;
    char count[48];
    size_t i, tracks = prof_trace_track_count(trace), open_count = 0, at = 0, end;
    int good = 1;
    memset(&all, 0, sizeof all);
    all.seen = (unsigned char *)calloc(tool_site_count(trace), 1);
    if (!all.seen) good = !tool_fail("out of memory");
    for (i = 0; good && i < tracks; i++) good = look(trace, &all, i);
    for (i = 0; good && i < tool_site_count(trace); i++) all.site_count += all.seen[i];
    if (good && tool_status(prof_open_scopes(trace, &open, &open_count))) good = 0;
    if (good) {
        tool_print_name(tool_shown(path), 0);
        printf("\n");
        print_head(trace);
        print_events(&all);
        print_samples(trace);
        printf("  %-10s%s\n", "tracks", tool_count(count, tracks));
    }
    for (i = 0; good && i < tracks; i++) {
        const prof_track *track = prof_trace_track(trace, i);
        print_track(track);
        for (end = at; end < open_count && open[end].track == i;) end++;
        print_open(open + at, end - at, info->complete || info->alive || track->ended);
        at = end;
    }
    if (good) print_missing(trace);
    if (good) printf("%s\n", is_whole(trace) ? "whole" : "incomplete");
    prof_open_scopes_free(open);
    free(all.seen);
    return !good ? TOOL_ERROR : is_whole(trace) ? TOOL_OK : TOOL_NO;
}

static int run(const tool_args *args)
{
    int i, worst = TOOL_OK, columns, quiet = tool_value(args, "--quiet") != NULL;
    if (!tool_columns(args, &columns)) return TOOL_ERROR;
    if (args->file_count > 1 && !quiet && !hangs_print(args)) return TOOL_ERROR;
    for (i = 0; i < args->file_count; i++) {
        prof_trace *trace = tool_open(args->files[i]);
        int result = TOOL_ERROR;
        if (trace && i && !quiet) printf("\n");
        if (trace && quiet)
            result = is_whole(trace) ? TOOL_OK : TOOL_NO;
        else if (trace)
            result = report(trace, args->files[i]);
        prof_trace_close(trace);
        if (result > worst) worst = result;
    }
    return worst;
}

const tool_command tool_check = {
    "check", "IN ...", "Says what is in a recording, what is missing and why, and what each thread was doing",
    1, 10000, run, options,
    "exit status: 0 whole: the session was stopped, and nothing was lost or overwritten; 1 incomplete; 2 broken: it\n"
    "cannot be read (prof recover may save a part of it). Of several recordings, the highest.\n\n"
    "Scopes that are open at the end lasted until now if the process is alive (on Linux), else at least until the\n"
    "last event of any of its threads. Of several recordings, what their threads were in at the end comes first.\n\n"
    "example: prof check ring.prof\n"};
