/* request_print.c - prof request: its options, and how a request is printed: as text, or as JSON. */
#include "request.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const tool_option options[] = {
    {"--name", "-s", "NAME", "the span, or the step, with this name; default: the longest that has the number"},
    {"--at", NULL, "TIME", "the one that was going on at this time: 1.5s, 20ms; -2s: 2 s before the end"},
    {"--format", "-f", "KIND", "text (default) or json"},
    TOOL_COLUMNS,
    TOOL_PROGRESS,
    {NULL, NULL, NULL, NULL}};

static const char *const formats[] = {"text", "json", NULL};

#define BAR 40 /* characters of a row's picture */
#define MOST_RELATIVES 20

/*-- text --*/

/* Draws when a row was, beside the whole request: # a scope, = a wait, . a gap. */
static void draw(const request *all, const request_row *row)
{
    char bar[BAR + 1];
    double wall = all->end > all->start ? (double)(all->end - all->start) : 1;
    double from = (double)(row->start - all->start) / wall * BAR, to = (double)(row->end - all->start) / wall * BAR;
    int first = from < 0 ? 0 : from > BAR - 1 ? BAR - 1 : (int)from;
    int end = to > BAR ? BAR : (int)(to + 0.5), i;
    memset(bar, ' ', BAR);
    bar[BAR] = 0;
    for (i = first; i < end || i == first; i++)
        bar[i] = row->kind == REQUEST_GAP ? '.' : row->kind == REQUEST_WAIT ? '=' : '#';
    printf(" |%s| ", bar);
}

static void print_row(const request *all, const request_row *row)
{
    char at[48], time[48], thread[600], line[4000] = "";
    printf("%c%11s %10s", row->critical ? '*' : ' ', tool_ns(at, (double)(row->start - all->start)),
           tool_ns(time, (double)(row->end - row->start)));
    draw(all, row);
    why_thread(all->trace, row->track, 0, thread, sizeof thread);
    if (row->kind == REQUEST_SCOPE)
        why_add(line, sizeof line, "%s: %s", thread, *row->name ? row->name : "(unnamed)");
    else if (row->kind == REQUEST_GAP)
        why_add(line, sizeof line, "%s: %s", row->name, row->why);
    else
        why_add(line, sizeof line, "%*s%s", (int)(row->depth < 30 ? row->depth : 30) * 2, "",
                row->kind == REQUEST_WAIT ? row->why : *row->name ? row->name : "(unnamed)");
    tool_print_wrapped(line, 26 + BAR, 30 + BAR);
    putchar('\n');
}

static void print_relatives(const request *all, int parents)
{
    char time[48], at[48], thread[600];
    size_t i, shown = 0;
    for (i = 0; i < all->relative_count; i++) {
        const request_relative *each = &all->relatives[i];
        if (each->parent != parents) continue;
        if (!shown) printf("\n%s\n", parents ? "parent" : "children");
        if (++shown > MOST_RELATIVES) continue;
        why_say(2, "%s %llu, %s: took %s, from %s on, begun on thread %s", each->name, (unsigned long long)each->id,
                each->how, tool_ns(time, (double)each->wall), tool_ns(at, (double)(each->start - all->start)),
                why_thread(all->trace, each->track, 0, thread, sizeof thread));
    }
    if (shown > MOST_RELATIVES) printf("  and %lu more\n", (unsigned long)(shown - MOST_RELATIVES));
}

/* Names a part of the critical path: "request 371 on thread http 3", "in queue". */
static const char *part_name(const request *all, const request_part *part, char *to, size_t size)
{
    const request_row *row = part->row == REQUEST_NONE ? NULL : &all->rows[part->row];
    char thread[600];
    if (!row || row->kind == REQUEST_GAP)
        snprintf(to, size, "%s", row ? row->name : "on its way");
    else
        snprintf(to, size, "%.1000s on thread %s", row->name,
                 why_thread(all->trace, row->track, 0, thread, sizeof thread));
    return to;
}

/* Returns the longest wait of a part that lies in it, or NULL. */
static const request_row *longest_wait(const request *all, const request_part *part)
{
    const request_row *longest = NULL;
    size_t i;
    for (i = 0; part->row != REQUEST_NONE && i < all->row_count; i++) {
        const request_row *row = &all->rows[i];
        if (row->kind == REQUEST_WAIT && row->part == all->rows[part->row].part && row->start >= part->start &&
            row->end <= part->end && (!longest || row->end - row->start > longest->end - longest->start))
            longest = row;
    }
    return longest;
}

static void print_path(const request *all)
{
    char name[1700], time[48];
    size_t i;
    if (!all->path_count) return;
    printf("\ncritical path, whose parts add up to the whole\n");
    for (i = 0; i < all->path_count; i++) {
        const request_part *part = &all->path[i];
        const request_row *wait = longest_wait(all, part);
        char line[4000];
        snprintf(line, sizeof line, "%s%s%s", part_name(all, part, name, sizeof name), wait ? ": " : "",
                 wait ? wait->why : "");
        printf("%12s %5.1f %%  ", tool_ns(time, (double)(part->end - part->start)),
               (double)(part->end - part->start) * 100 / (double)(all->end > all->start ? all->end - all->start : 1));
        tool_print_wrapped(line, 22, 26);
        putchar('\n');
    }
}

static void print_head(const request *all)
{
    char time[48], at[48], first[600], last[600], text[200], whose[100], number[48];
    uint64_t wall = (uint64_t)(all->end - all->start);
    snprintf(whose, sizeof whose, "the median of %s %s", tool_count(number, all->count_all),
             all->step ? "steps" : "spans");
    why_thread(all->trace, all->begin_track, 0, first, sizeof first);
    why_thread(all->trace, all->end_track, 0, last, sizeof last);
    tool_ns(time, (double)wall);
    tool_ns(at, (double)all->start);
    why_say(0, "%.600s %llu took %s%s%s, at %s%s%s%s%s%s", all->name, (unsigned long long)all->id, time,
            all->flags ? " at least: a part of it was not recorded" : all->count_all > 1 ? ", " : "",
            all->flags || all->count_all < 2 ? "" : why_compared(text, sizeof text, wall, all->median, whose), at,
            all->step ? " on thread " : ", begun on thread ", first, all->step ? "" : ", ended on ",
            all->step ? "" : tool_same(first, last) ? "the same" : "thread ",
            all->step || tool_same(first, last) ? "" : last);
    if (all->same > 1)
        why_say(0, "%s %s of this name have this number; this is the longest, unless --at TIME chose it.",
                tool_count(number, all->same), all->step ? "steps" : "spans");
}

static void print_text(const request *all)
{
    char number[48];
    size_t i;
    print_head(all);
    if (all->row_count)
        printf("\n%12s %10s  %-*s   scopes #, waits =, gaps ., critical path *\n", "from", "took", BAR, "");
    for (i = 0; i < all->row_count; i++) print_row(all, &all->rows[i]);
    if (all->left_out)
        printf("%12s left out, because they are shorter than 1/500 of it: %s scope%s\n", "",
               tool_count(number, all->left_out), all->left_out == 1 ? "" : "s");
    if (!all->row_count)
        why_say(2, "No scope is known to be a part of it: give its number to PROFILE_FLOW_OUT and PROFILE_FLOW_IN, "
                   "to PROFILE_STEP, or to an argument of the scope with the name '%.100s'.", all->name);
    print_relatives(all, 1);
    print_relatives(all, 0);
    print_path(all);
}

/*-- JSON --*/

static void json_time(const char *key, int64_t ns)
{
    printf(",\"%s\":%lld", key, (long long)ns);
}

static void json_thread(const request *all, size_t track)
{
    char thread[600];
    tool_json_text("thread", why_thread(all->trace, track, 0, thread, sizeof thread));
}

static void json_rows(const request *all)
{
    static const char *const kinds[] = {"scope", "inner", "wait", "gap"};
    size_t i;
    printf(",\n\"rows\":[");
    for (i = 0; i < all->row_count; i++) {
        const request_row *row = &all->rows[i];
        printf("%s\n{\"kind\":\"%s\"", i ? "," : "", kinds[row->kind]);
        tool_json_text("name", row->name);
        json_thread(all, row->track);
        json_time("start_ns", row->start);
        json_time("wall_ns", row->end - row->start);
        tool_json_number("depth", row->depth);
        printf(",\"critical\":%s", row->critical ? "true" : "false");
        if (row->why) tool_json_text("why", row->why);
        putchar('}');
    }
    printf("]");
    tool_json_number("left_out", all->left_out);
}

static void json_relatives(const request *all, const char *key, int parents)
{
    size_t i, shown = 0;
    printf(",\n\"%s\":[", key);
    for (i = 0; i < all->relative_count; i++) {
        const request_relative *each = &all->relatives[i];
        if (each->parent != parents) continue;
        printf("%s{\"name\":", shown++ ? ",\n" : "");
        tool_print_json(each->name, strlen(each->name));
        tool_json_number("id", each->id);
        json_time("start_ns", each->start);
        json_time("wall_ns", each->wall);
        json_thread(all, each->track);
        tool_json_text("how", each->how);
        putchar('}');
    }
    printf("]");
}

static void print_json(const request *all)
{
    char name[1700];
    size_t i;
    printf("{\"name\":");
    tool_print_json(all->name, strlen(all->name));
    tool_json_number("id", all->id);
    tool_json_text("kind", all->step ? "step" : "span");
    json_time("start_ns", all->start);
    json_time("wall_ns", all->end - all->start);
    printf(",\"truncated\":%s", all->flags ? "true" : "false");
    tool_json_number("count", all->count_all);
    tool_json_number("median_ns", all->median);
    tool_json_number("same_id", all->same);
    json_thread(all, all->begin_track);
    json_rows(all);
    json_relatives(all, "parents", 1);
    json_relatives(all, "children", 0);
    printf(",\n\"critical_path\":[");
    for (i = 0; i < all->path_count; i++) {
        const request_part *part = &all->path[i];
        const request_row *wait = longest_wait(all, part);
        printf("%s\n{\"name\":", i ? "," : "");
        part_name(all, part, name, sizeof name);
        tool_print_json(name, strlen(name));
        json_time("start_ns", part->start);
        json_time("wall_ns", part->end - part->start);
        if (wait) tool_json_text("waited", wait->why);
        putchar('}');
    }
    printf("]}\n");
}

/*-- the command --*/

/* Reads an id, which may be hexadecimal. */
static int read_id(const char *text, uint64_t *id)
{
    char *end;
    errno = 0;
    *id = strtoull(text, &end, strncmp(text, "0x", 2) ? 10 : 16);
    if (*text >= '0' && *text <= '9' && !*end && !errno) return 1;
    tool_fail("request: '%s': must be the number of a span or a step, such as 371 or 0x173", text);
    return 0;
}

static int show(const tool_args *args, prof_trace *trace, uint64_t id, int json)
{
    const char *at = tool_value(args, "--at");
    request all;
    int64_t when = 0;
    int result;
    memset(&all, 0, sizeof all);
    all.trace = trace;
    all.id = id;
    all.wanted = tool_value(args, "--name");
    if (at && !tool_time("--at", at, prof_trace_about(trace)->duration_ns, &when)) return TOOL_ERROR;
    tool_progress_begin("request", tool_value(args, "--progress"));
    result = request_find(&all, at ? &when : NULL);
    tool_progress_end();
    if (result == TOOL_OK && json) print_json(&all);
    if (result == TOOL_OK && !json) print_text(&all);
    request_free(&all);
    return result;
}

static int run(const tool_args *args)
{
    prof_trace *trace;
    uint64_t id;
    int choice, json, columns, result;
    if (!tool_choice("--format", tool_value(args, "--format"), formats, &json)) return TOOL_ERROR;
    if (!tool_choice("--progress", tool_value(args, "--progress"), tool_progress_choices, &choice)) return TOOL_ERROR;
    if (!tool_columns(args, &columns) || !read_id(args->files[1], &id)) return TOOL_ERROR;
    trace = tool_open(args->files[0]);
    if (!trace) return TOOL_ERROR;
    result = show(args, trace, id, json);
    prof_trace_close(trace);
    return result;
}

const tool_command tool_request = {
    "request", "IN NUMBER", "Shows where a request, a span or a step, was and waited", 2, 2, run, options,
    "NUMBER is the id of a span or, if no span has it, the number of a step. Its scopes are those that something\n"
    "connects with it: begin, end and marks of the span; flows with this id, and those that begin in its scopes;\n"
    "steps with this number; arguments of the span's or step's name that have it, such as request=371 or\n"
    "request_id=371. Times in which none of them was open are gaps: in queue, if another thread went on, with what\n"
    "that thread did meanwhile. Waits say who held the lock, and for which request. Children and the parent are\n"
    "spans that name it in an argument parent, parent_id, parent_span or parent_span_id, or share its id. The\n"
    "critical path goes back from the end: from each part to the one by whose flow it began, or that it waited\n"
    "for.\n\n"
    "example: prof request server.prof 371\n"};
