/* several.c - adds up what several recordings have: tables of scopes by thread, process, rank or host, and one CSV. */
#include "several.h"
#include "top.h"
#include <stdlib.h>
#include <string.h>

const char *const several_names[] = {"thread", "process", "rank", "host", NULL};

/*-- names --*/

static const char *said(const prof_trace *trace, const char *what)
{
    const char *key, *value;
    size_t i;
    for (i = 0; prof_trace_metadata(trace, i, &key, &value); i++)
        if (tool_same(key, what)) return value;
    return "";
}

/* Returns the process id that is shown for a trace: its own, unless an earlier trace has that. */
static uint64_t shown_pid(prof_trace **traces, size_t which)
{
    size_t i;
    for (i = 0; i < which; i++)
        if (prof_trace_about(traces[i])->pid == prof_trace_about(traces[which])->pid) return 1000000000 + which;
    return prof_trace_about(traces[which])->pid;
}

const char *several_process(prof_trace **traces, size_t count, size_t which, char *to, size_t size)
{
    const char *rank = said(traces[which], "rank"), *host = said(traces[which], "host");
    char program[500];
    tool_program(traces[which], program, sizeof program);
    if (count < 2)
        snprintf(to, size, "%s", program);
    else if (*rank)
        snprintf(to, size, "%s (rank %.100s%s%.200s)", program, rank, *host ? ", " : "", host);
    else
        snprintf(to, size, "%s (%llu)", program, (unsigned long long)prof_trace_about(traces[which])->pid);
    return to;
}

/*-- the table: entries, of a scope in a group, are sorted and added up --*/

typedef struct entry {
    char *name;      /* owned */
    size_t group;
    uint64_t calls, total, longest;
} entry;

typedef struct table {
    entry *entries;
    size_t count, room;
    char **groups;   /* their names, owned */
    size_t group_count, group_room;
} table;

/* A scope in all groups: entries first to end. */
typedef struct row {
    size_t first, end, most; /* most: the entry with the greatest total */
    uint64_t calls, total;
    double mean, ratio;      /* of the totals of the groups; ratio: of the greatest one to the mean */
} row;

static char *copy_text(const char *text)
{
    char *copy = (char *)malloc(strlen(text) + 1);
    return copy ? strcpy(copy, text) : NULL;
}

/* Returns the number of a group; (size_t)-1 without memory. same: 1: groups of this name are one. */
static size_t group_of(table *t, const char *name, int same)
{
    size_t i;
    for (i = 0; same && i < t->group_count; i++)
        if (tool_same(t->groups[i], name)) return i;
    if (!tool_room(&t->groups, &t->group_room, t->group_count, sizeof *t->groups)) return (size_t)-1;
    t->groups[t->group_count] = copy_text(name);
    return t->groups[t->group_count] ? t->group_count++ : (size_t)-1;
}

static int put(table *t, const char *name, size_t group, uint64_t calls, uint64_t total, uint64_t longest)
{
    entry *to;
    if (group == (size_t)-1 || !tool_room(&t->entries, &t->room, t->count, sizeof *t->entries)) return 0;
    to = &t->entries[t->count];
    to->name = copy_text(*name ? name : "(unnamed)");
    to->group = group;
    to->calls = calls;
    to->total = total;
    to->longest = longest;
    t->count += to->name != NULL;
    return to->name != NULL;
}

/* Adds the scopes of a process. */
static int add_process(table *t, prof_trace **traces, size_t count, size_t which, several_by by)
{
    const prof_trace *trace = traces[which];
    char name[1100];
    size_t group, rows, i;
    prof_stat *stats;
    int good;
    if (by == SEVERAL_RANK && *said(trace, "rank"))
        snprintf(name, sizeof name, "rank %.200s", said(trace, "rank"));
    else if (by == SEVERAL_HOST && *said(trace, "host"))
        snprintf(name, sizeof name, "%.200s", said(trace, "host"));
    else
        several_process(traces, count, which, name, sizeof name);
    group = group_of(t, name, by != SEVERAL_PROCESS);
    good = group != (size_t)-1;
    if (tool_status(prof_stats(trace, PROF_SORT_TOTAL, 0, &stats, &rows))) return -1;
    for (i = 0; good && i < rows; i++)
        if (stats[i].site->role != PROF_ROLE_WAIT)
            good = put(t, stats[i].name, group, stats[i].count, stats[i].total_ns, stats[i].max_ns);
    prof_stats_free(stats);
    return good;
}

/* Adds the scopes of each thread of a process. */
static int add_threads(table *t, prof_trace **traces, size_t count, size_t which)
{
    prof_trace *trace = traces[which];
    char name[1700], process[1100];
    size_t track, i;
    int good = 1;
    several_process(traces, count, which, process, sizeof process);
    for (track = 0; good && track < prof_trace_track_count(trace); track++) {
        const prof_track *about = prof_trace_track(trace, track);
        top_period period;
        size_t group = (size_t)-1;
        if (*about->device) continue;
        snprintf(name, sizeof name, "%.500s%s%s", about->name, count > 1 ? " of " : "", count > 1 ? process : "");
        if (!*about->name)
            snprintf(name, sizeof name, "thread %llu%s%s", (unsigned long long)about->thread_id,
                     count > 1 ? " of " : "", count > 1 ? process : "");
        if (top_read_track(trace, track, &period)) return -1;
        for (i = 0; good && i < period.scopes.count; i++) {
            const top_row *from = &period.scopes.items[i];
            if (from->site->role == PROF_ROLE_WAIT) continue;
            if (group == (size_t)-1) group = group_of(t, name, 0);
            good = put(t, from->name, group, from->calls, (uint64_t)from->total_ns, (uint64_t)from->max_ns);
        }
        top_free(&period);
    }
    return good;
}

static int by_name(const void *left, const void *right)
{
    const entry *a = (const entry *)left, *b = (const entry *)right;
    int names = strcmp(a->name, b->name);
    return names ? names : a->group < b->group ? -1 : a->group > b->group;
}

static int by_total(const void *left, const void *right)
{
    const row *a = (const row *)left, *b = (const row *)right;
    if (a->total != b->total) return a->total > b->total ? -1 : 1;
    return a->first < b->first ? -1 : a->first > b->first;
}

/* Adds up the entries of one name and group, then those of one name. Returns the rows; NULL without memory. */
static row *add_up(table *t, several_by by, size_t *count)
{
    row *rows = (row *)malloc((t->count + 1) * sizeof *rows);
    size_t i, kept = 0;
    *count = 0;
    if (!rows) return NULL;
    if (t->count) qsort(t->entries, t->count, sizeof *t->entries, by_name);
    for (i = 0; i < t->count; i++) {
        entry *from = &t->entries[i], *to = kept ? &t->entries[kept - 1] : NULL;
        if (to && to->group == from->group && tool_same(to->name, from->name)) {
            to->calls += from->calls;
            to->total += from->total;
            if (from->longest > to->longest) to->longest = from->longest;
            free(from->name);
        } else {
            t->entries[kept++] = *from;
        }
    }
    t->count = kept;
    for (i = 0; i < t->count; i++) {
        const entry *each = &t->entries[i];
        row *to = *count ? &rows[*count - 1] : NULL;
        if (!to || !tool_same(t->entries[to->first].name, each->name)) {
            to = &rows[(*count)++];
            memset(to, 0, sizeof *to);
            to->first = to->most = i;
        }
        to->end = i + 1;
        to->calls += each->calls;
        to->total += each->total;
        if (each->total > t->entries[to->most].total) to->most = i;
    }
    for (i = 0; i < *count; i++) { /* a thread that never was in a scope is no part of its mean; a process is */
        size_t groups = by == SEVERAL_THREAD ? rows[i].end - rows[i].first : t->group_count;
        rows[i].mean = groups ? (double)rows[i].total / (double)groups : 0;
        rows[i].ratio = rows[i].mean > 0 ? (double)t->entries[rows[i].most].total / rows[i].mean : 0;
    }
    if (*count) qsort(rows, *count, sizeof *rows, by_total);
    return rows;
}

/*-- output --*/

static void say(tool_out *out, const char *text) { tool_out_bytes(out, text, strlen(text)); }

/* Writes a name in so many columns; 0: as it is. Control characters become question marks. */
static void say_name(tool_out *out, const char *name, int width)
{
    int used = 0, all = tool_characters(name);
    while (*name && (!width || used < width - (all > width ? 3 : 0))) {
        size_t bytes = tool_character(name);
        tool_out_bytes(out, bytes ? name : "?", bytes ? bytes : 1);
        name += bytes ? bytes : 1;
        used++;
    }
    if (*name) say(out, "...");
    if (*name) used += 3;
    for (; used < width; used++) say(out, " ");
}

#define UNEVEN 1.2 /* the greatest is so many times the mean: somebody has to wait */
#define NUMBERS 56 /* columns of a row between the names */

static void print_rows(const table *t, const row *rows, size_t count, const several_look *look, tool_out *out)
{
    char line[400], calls[48], total[48], mean[48], most[48];
    int width = 5, last = 7;
    size_t i, shown = look->top && look->top < count ? look->top : count;
    for (i = 0; i < shown; i++) {
        int name = tool_characters(t->entries[rows[i].first].name);
        int group = tool_characters(t->groups[t->entries[rows[i].most].group]);
        if (name > width) width = name;
        if (group > last) last = group;
    }
    if (last > 40) last = 40;
    if (look->columns > 0 && width > look->columns - NUMBERS - last - 2) width = look->columns - NUMBERS - last - 2;
    if (width < 12) width = 12;
    if (width > 80) width = 80;
    snprintf(line, sizeof line, "%lu %s%s%s\n\n", (unsigned long)t->group_count, several_names[look->by],
             t->group_count == 1 ? "" : look->by == SEVERAL_PROCESS ? "es" : "s",
             look->by == SEVERAL_THREAD ? " with scopes; a mean is of those that have the scope" : "");
    say(out, line);
    say_name(out, "scope", width);
    snprintf(line, sizeof line, " %11s %10s %10s %10s %9s  most in\n", "calls", "total", "mean", "max", "max/mean");
    say(out, line);
    for (i = 0; i < shown; i++) {
        const entry *top = &t->entries[rows[i].most];
        int red = look->colours && rows[i].ratio >= UNEVEN;
        say_name(out, top->name, width);
        snprintf(line, sizeof line, " %11s %10s %10s %10s %s%9.2f  ", tool_count(calls, rows[i].calls),
                 tool_ns(total, (double)rows[i].total), tool_ns(mean, rows[i].mean), tool_ns(most, (double)top->total),
                 red ? "\033[31m" : "", rows[i].ratio);
        say(out, line);
        say_name(out, t->groups[top->group], look->columns > 0 ? last : 0);
        say(out, red ? "\033[m\n" : "\n");
    }
    if (shown < count) {
        snprintf(line, sizeof line, "%lu more\n", (unsigned long)(count - shown));
        say(out, line);
    }
}

static void say_text(tool_out *out, const char *text)
{
    size_t i, size = strlen(text);
    say(out, "\"");
    for (i = 0; i < size;) {
        char piece[8];
        size_t length;
        i += tool_json_character(text + i, piece, &length);
        tool_out_bytes(out, piece, length);
    }
    say(out, "\"");
}

static void print_json(const table *t, const row *rows, size_t count, const several_look *look, tool_out *out)
{
    char line[300];
    size_t i, k;
    say(out, "{\"by\":\"");
    say(out, several_names[look->by]);
    say(out, "\",\"groups\":[");
    for (i = 0; i < t->group_count; i++) {
        if (i) say(out, ",");
        say_text(out, t->groups[i]);
    }
    say(out, "],\"scopes\":[");
    for (i = 0; i < count && (!look->top || i < look->top); i++) {
        say(out, i ? ",\n{\"name\":" : "\n{\"name\":");
        say_text(out, t->entries[rows[i].first].name);
        snprintf(line, sizeof line, ",\"calls\":%llu,\"total_ns\":%llu,\"mean_ns\":%.1f,\"max_mean\":%.4f,\"most_in\":",
                 (unsigned long long)rows[i].calls, (unsigned long long)rows[i].total, rows[i].mean, rows[i].ratio);
        say(out, line);
        say_text(out, t->groups[t->entries[rows[i].most].group]);
        say(out, ",\"each\":[");
        for (k = rows[i].first; k < rows[i].end; k++) {
            const entry *each = &t->entries[k];
            snprintf(line, sizeof line,
                     "%s{\"group\":%lu,\"calls\":%llu,\"total_ns\":%llu,\"longest_ns\":%llu,\"share\":%.4f}",
                     k > rows[i].first ? "," : "", (unsigned long)each->group, (unsigned long long)each->calls,
                     (unsigned long long)each->total, (unsigned long long)each->longest,
                     rows[i].total ? (double)each->total / (double)rows[i].total : 0);
            say(out, line);
        }
        say(out, "]}");
    }
    say(out, "\n]}\n");
}

static void table_free(table *t)
{
    size_t i;
    for (i = 0; i < t->count; i++) free(t->entries[i].name);
    for (i = 0; i < t->group_count; i++) free(t->groups[i]);
    free(t->entries);
    free(t->groups);
}

int several_summary(prof_trace **traces, size_t count, const several_look *look, tool_out *out)
{
    table t;
    row *rows = NULL;
    size_t i, shown;
    int good = 1;
    memset(&t, 0, sizeof t);
    for (i = 0; good > 0 && i < count; i++)
        good = look->by == SEVERAL_THREAD ? add_threads(&t, traces, count, i)
                                          : add_process(&t, traces, count, i, look->by);
    if (good > 0) rows = add_up(&t, look->by, &shown);
    if (good > 0 && !rows) good = 0;
    if (good > 0 && look->json) print_json(&t, rows, shown, look, out);
    if (good > 0 && !look->json) print_rows(&t, rows, shown, look, out);
    free(rows);
    table_free(&t);
    return good > 0 ? TOOL_OK : good ? TOOL_ERROR : tool_fail("out of memory");
}

/*-- the CSV --*/

/* Where in the CSV of one recording the next byte is. */
typedef struct splitter {
    tool_out *out;
    char head[1700];      /* what begins each line */
    int quoted, header;   /* header: 1: in the first line */
    int field, begins;    /* begins: 1: at the begin of a line */
    int64_t offset, time; /* of the column start_ns */
    int negative, pad;    /* pad: 1: columns of others are missing in this one */
    int keep_header;
} splitter;

#define START_COLUMN 6 /* start_ns */

static void csv_byte(splitter *s, char c)
{
    char number[32];
    int shown = !s->header || s->keep_header;
    if (s->begins && shown) say(s->out, s->header ? "process_id,process," : s->head);
    s->begins = 0;
    if (c == '"') s->quoted = !s->quoted;
    if (!s->quoted && !s->header && s->field == START_COLUMN && c != ',') {
        if (c == '-')
            s->negative = 1;
        else
            s->time = s->time * 10 + (c - '0');
        return;
    }
    if (!s->quoted && c == ',') {
        if (!s->header && s->field == START_COLUMN) {
            snprintf(number, sizeof number, "%lld", (long long)((s->negative ? -s->time : s->time) + s->offset));
            say(s->out, number);
        }
        s->field++;
    }
    if (!s->quoted && c == '\r' && s->pad && shown) say(s->out, s->header ? ",running_ns,ready_ns,waiting_ns" : ",,,");
    if (shown) tool_out_bytes(s->out, &c, 1);
    if (s->quoted || c != '\n') return;
    s->header = s->field = s->negative = 0;
    s->time = 0;
    s->begins = 1;
}

static int csv_write(void *user, const void *data, size_t size)
{
    const char *bytes = (const char *)data;
    size_t i;
    for (i = 0; i < size; i++) csv_byte((splitter *)user, bytes[i]);
    return 0;
}

/* Does a recording have the columns of states? */
static int has_states(const prof_trace *trace)
{
    size_t i, count;
    for (i = 0; i < prof_trace_track_count(trace); i++) {
        prof_track_states(trace, i, &count);
        if (count) return 1;
    }
    return 0;
}

/* Begins each line with the id and the name of the process. */
static void csv_head(splitter *s, prof_trace **traces, size_t count, size_t which)
{
    char name[1100];
    const char *c;
    size_t at;
    several_process(traces, count, which, name, sizeof name);
    at = (size_t)snprintf(s->head, sizeof s->head, "%llu,\"", (unsigned long long)shown_pid(traces, which));
    for (c = name; *c && at < sizeof s->head - 8; c++) {
        if (*c == '"') s->head[at++] = '"';
        s->head[at++] = (char)((unsigned char)*c < 32 ? ' ' : *c);
    }
    memcpy(s->head + at, "\",", 3);
}

int several_csv(prof_trace **traces, size_t count, tool_out *out)
{
    int64_t *offsets = (int64_t *)calloc(count, sizeof *offsets);
    splitter s;
    size_t i;
    int any = 0, result = TOOL_OK;
    if (!offsets) return tool_fail("out of memory");
    prof_trace_align((const prof_trace *const *)traces, count, offsets);
    for (i = 0; i < count; i++) any |= has_states(traces[i]);
    for (i = 0; i < count && result == TOOL_OK; i++) {
        prof_sink sink;
        memset(&s, 0, sizeof s);
        s.out = out;
        s.begins = s.header = 1;
        s.keep_header = !i;
        s.offset = offsets[i];
        s.pad = any && !has_states(traces[i]);
        csv_head(&s, traces, count, i);
        sink.write = csv_write;
        sink.user = &s;
        result = tool_status(prof_csv_stream(traces[i], sink));
    }
    free(offsets);
    return result;
}
