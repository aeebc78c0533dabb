/* hangs.c - shows which scopes threads of several processes were in when their recordings ended, or are in now: where
   they hang, and since when. */
#include "tool.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SHOWN 32 /* lines that are printed, at most */

/* The threads whose innermost open scope has one name. */
typedef struct hang {
    char *name, *first;      /* owned; first: the thread that has been in the scope for longest */
    uint64_t threads;
    uint64_t since, latest;  /* Unix time in ns, when the first and the last of the threads entered the scope */
    int64_t longest_ns;
    int alive;               /* 1: the process of `first` still runs */
} hang;

typedef struct hangs {
    hang *items;
    size_t count, capacity;
} hangs;

static char *copy_text(const char *text)
{
    char *copy = (char *)malloc(strlen(text) + 1);
    return copy ? strcpy(copy, text) : NULL;
}

static hang *find(hangs *all, const char *name)
{
    size_t i;
    for (i = 0; i < all->count; i++)
        if (tool_same(all->items[i].name, name)) return &all->items[i];
    if (all->count == all->capacity) {
        size_t capacity = all->capacity ? all->capacity * 2 : 64;
        hang *items = (hang *)realloc(all->items, capacity * sizeof *items);
        if (!items) return NULL;
        all->items = items;
        all->capacity = capacity;
    }
    memset(&all->items[all->count], 0, sizeof *all->items);
    all->items[all->count].name = copy_text(name);
    return all->items[all->count].name ? &all->items[all->count++] : NULL;
}

/* Adds the innermost open scope of a thread. Returns 0 without memory. */
static int add(hangs *all, const prof_trace *trace, const char *path, const prof_open_scope *scope)
{
    const prof_trace_info *info = prof_trace_about(trace);
    const char *thread = prof_trace_track(trace, scope->track)->name;
    uint64_t since = info->start_unix_ns + (uint64_t)scope->start_ns;
    hang *to = find(all, *scope->name ? scope->name : "(unnamed)");
    char who[600];
    if (!to) return 0;
    if (since > to->latest) to->latest = since;
    if (!to->threads++ || since < to->since) {
        snprintf(who, sizeof who, "%s of %s", *thread ? thread : "a thread", tool_shown(path));
        free(to->first);
        to->first = copy_text(who);
        to->since = since;
        to->longest_ns = scope->duration_ns;
        to->alive = info->alive;
    }
    return to->first != NULL;
}

/* Adds the open scopes of a recording's threads, unless the recording was stopped. */
static int read_hangs(hangs *all, const char *path)
{
    prof_trace *trace;
    prof_open_scope *scopes = NULL;
    size_t count = 0, i;
    int good = 1;
    if (prof_trace_open(path, &trace)) return 1; /* the report prints the reason */
    if (!prof_trace_about(trace)->complete) good = !prof_open_scopes(trace, &scopes, &count);
    for (i = 0; good && i < count; i++)
        if ((i + 1 == count || scopes[i + 1].track != scopes[i].track) &&
            !prof_trace_track(trace, scopes[i].track)->ended)
            good = add(all, trace, path, &scopes[i]);
    if (!good) tool_fail("%s: out of memory", path);
    prof_open_scopes_free(scopes);
    prof_trace_close(trace);
    return good;
}

static int by_time(const void *left, const void *right)
{
    const hang *a = (const hang *)left, *b = (const hang *)right;
    return a->since < b->since ? -1 : a->since > b->since;
}

static const char *clock_text(char *to, size_t size, uint64_t unix_ns)
{
    time_t seconds = (time_t)(unix_ns / 1000000000u);
    const struct tm *utc = gmtime(&seconds);
    size_t length = utc ? strftime(to, size, "%H:%M:%S", utc) : 0;
    snprintf(to + length, size - length, ".%03u", (unsigned)(unix_ns / 1000000u % 1000));
    return to;
}

static void print_hang(const hang *each)
{
    char line[900], time[48], from[32], to[32], count[48];
    const char *latest = clock_text(to, sizeof to, each->latest);
    snprintf(line, sizeof line, " for %s%s, since %s", each->alive ? "" : "at least ",
             tool_ns(time, (double)each->longest_ns), clock_text(from, sizeof from, each->since));
    if (!tool_same(from, latest)) snprintf(line + strlen(line), sizeof line - strlen(line), " to %s", latest);
    if (each->threads > 1)
        snprintf(line + strlen(line), sizeof line - strlen(line), ": %s threads, first",
                 tool_count(count, each->threads));
    snprintf(line + strlen(line), sizeof line - strlen(line), "%s%s", each->threads > 1 ? " " : ": ", each->first);
    printf("  ");
    tool_print_name(each->name, 32);
    tool_print_wrapped(line, 34, 35);
    printf("\n");
}

int hangs_print(const tool_args *args)
{
    hangs all;
    size_t i;
    int good = 1;
    memset(&all, 0, sizeof all);
    for (i = 0; good && i < (size_t)args->file_count; i++)
        if (!tool_same(args->files[i], "-")) good = read_hangs(&all, args->files[i]); /* standard input is gone */
    if (good && all.count) {
        qsort(all.items, all.count, sizeof *all.items, by_time);
        printf("what threads were in at the end, by their innermost scope, UTC, the earliest first:\n");
        for (i = 0; i < all.count && i < SHOWN; i++) print_hang(&all.items[i]);
        if (i < all.count) printf("  ... %lu more ...\n", (unsigned long)(all.count - i));
        printf("\n");
    }
    for (i = 0; i < all.count; i++) {
        free(all.items[i].name);
        free(all.items[i].first);
    }
    free(all.items);
    return good;
}
