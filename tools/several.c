/* several.c - adds up what several recordings have: tables of scopes by thread, process, rank or host, and one CSV. */
#include "several.h"
#include "top.h"
#include <stdlib.h>
#include <string.h>

const char *const several_names[] = {"thread", "process", "rank", "host", "file", NULL};

/*-- names --*/

int several_natural(const char *a, const char *b)
{
    const char *x = a, *y = b;
    while (*x && *y) {
        size_t m = strspn(x, "0123456789"), n = strspn(y, "0123456789");
        if (m && n) { /* numbers, by their value: without zeros before them, the longer one is larger */
            while (m > 1 && *x == '0') x++, m--;
            while (n > 1 && *y == '0') y++, n--;
            if (m != n) return m < n ? -1 : 1;
            if (strncmp(x, y, n)) return strncmp(x, y, n);
            x += n, y += n;
        } else if (*x != *y) {
            return (unsigned char)*x < (unsigned char)*y ? -1 : 1;
        } else {
            x++, y++;
        }
    }
    return *x ? 1 : *y ? -1 : strcmp(a, b);
}

/* Names of scopes that wait for other ranks, or for a message: the collectives and the receives of MPI, NCCL and
   PyTorch. Small letters; "_", "-" and spaces are left out. */
static const char *const collectives[] = {"allreduce", "allgather", "alltoall", "reducescatter", "barrier", "broadcast",
                                          "mpiwait", "mpirecv", "mpireduce", "mpigather", "mpiscatter", "mpibcast",
                                          "mpiprobe", "ncclrecv", "ncclreduce", NULL};

int several_waits(const prof_callsite *site, const char *name)
{
    char plain[64];
    size_t used = 0, i;
    if (site->role == PROF_ROLE_WAIT || tool_same(site->category, "wait")) return 1;
    for (; *name && used + 1 < sizeof plain; name++)
        if (!strchr("_- ", *name)) plain[used++] = (char)(*name >= 'A' && *name <= 'Z' ? *name - 'A' + 'a' : *name);
    plain[used] = 0;
    for (i = 0; collectives[i]; i++)
        if (strstr(plain, collectives[i])) return 1;
    return 0;
}

/* Returns the process id that is shown for a trace: its own, unless an earlier trace has that. */
static uint64_t shown_pid(prof_trace **traces, size_t which)
{
    size_t i;
    for (i = 0; i < which; i++)
        if (prof_trace_about(traces[i])->pid == prof_trace_about(traces[which])->pid) return 1000000000 + which;
    return prof_trace_about(traces[which])->pid;
}

const char *several_process(const prof_trace *trace, size_t count, char *to, size_t size)
{
    const char *rank = tool_said(trace, "rank"), *host = tool_said(trace, "host");
    char program[500];
    tool_program(trace, program, sizeof program);
    if (count < 2)
        snprintf(to, size, "%s", program);
    else if (*rank)
        snprintf(to, size, "%s (rank %.100s%s%.200s)", program, rank, *host ? ", " : "", host);
    else
        snprintf(to, size, "%s (%llu)", program, (unsigned long long)prof_trace_about(trace)->pid);
    return to;
}

/*-- ranks of two jobs --*/

typedef struct several_rank {
    char rank[60], job[200], program[200];
    const char *file;
    uint64_t pid;
    int64_t start_ns, end_ns; /* Unix time */
} several_rank;

int several_apart(several_seen *seen, const prof_trace *trace, const char *file)
{
    const prof_trace_info *about = prof_trace_about(trace);
    several_rank *to;
    size_t i;
    if (!*tool_said(trace, "rank")) return 1;
    if (!tool_room(&seen->items, &seen->room, seen->count, sizeof *seen->items))
        return tool_fail("out of memory"), 0;
    to = &seen->items[seen->count++];
    snprintf(to->rank, sizeof to->rank, "%.59s", tool_said(trace, "rank"));
    snprintf(to->job, sizeof to->job, "%.199s", tool_said(trace, "job"));
    snprintf(to->program, sizeof to->program, "%.199s", about->program);
    to->file = file;
    to->pid = about->pid;
    to->start_ns = (int64_t)about->start_unix_ns;
    to->end_ns = to->start_ns + about->duration_ns;
    for (i = 0; i + 1 < seen->count; i++) {
        const several_rank *other = &seen->items[i];
        if (!tool_same(other->rank, to->rank)) continue;
        if (other->pid == about->pid && other->start_ns == to->start_ns)
            return tool_fail("%s and %s are the same recording", other->file, file), 0;
        if (!tool_same(other->job, to->job))
            return tool_fail("%s and %s are both rank %s, of the jobs %s and %s: prof compare A... -- B... compares "
                             "two jobs",
                             other->file, file, to->rank, *other->job ? other->job : "(none)",
                             *to->job ? to->job : "(none)"),
                   0;
        if (tool_same(other->program, to->program) &&
            (other->start_ns > to->end_ns || to->start_ns > other->end_ns))
            return tool_fail("%s and %s are both rank %s, at different times: prof compare A... -- B... compares two "
                             "runs",
                             other->file, file, to->rank),
                   0;
    }
    return 1;
}

void several_seen_free(several_seen *seen) { free(seen->items); }

/*-- the table: entries, of a scope in a group, are sorted and added up --*/

typedef struct entry {
    char *name;      /* owned */
    size_t group;
    uint64_t calls, total, longest, self;
    uint64_t split, waiting; /* split: so much of the total is known to be running, ready or waiting */
    int waits;               /* 1: it waits for other ranks: see several_waits() */
} entry;

typedef struct table {
    entry *entries;
    size_t count, room;
    char **groups;   /* their names, owned */
    size_t group_count, group_room;
    char job[200];   /* of the ranks; "": they have none, or several */
    char **hosts;    /* each once, owned */
    size_t host_count, host_room;
} table;

/* A scope in all groups: entries first to end. */
typedef struct row {
    size_t first, end, most; /* most: the entry with the greatest total */
    uint64_t calls, total, self;
    uint64_t least, median;  /* of the totals of the groups, as are */
    double mean, ratio;      /* ratio: of the greatest one to the mean */
    double waiting;          /* the part of the total in which it waited; below 0: not known */
} row;

static char *copy_text(const char *text)
{
    char *copy = (char *)malloc(strlen(text) + 1);
    return copy ? strcpy(copy, text) : NULL;
}

/* Returns the number of a text in a list; puts it in if it is new, or if `same` is 0. (size_t)-1: no memory. */
static size_t number_of(char ***list, size_t *count, size_t *room, const char *text, int same)
{
    size_t i;
    for (i = *count; same && i-- > 0;) /* the newest ones first: files of one group come one after the other */
        if (tool_same((*list)[i], text)) return i;
    if (!tool_room(list, room, *count, sizeof **list)) return (size_t)-1;
    (*list)[*count] = copy_text(text);
    return (*list)[*count] ? (*count)++ : (size_t)-1;
}

static size_t group_of(table *t, const char *name, int same)
{
    return number_of(&t->groups, &t->group_count, &t->group_room, name, same);
}

/* Adds an entry, of which the caller sets the figures. Returns NULL without memory. */
static entry *put(table *t, const char *name, size_t group)
{
    entry *to;
    if (group == (size_t)-1 || !tool_room(&t->entries, &t->room, t->count, sizeof *t->entries)) return NULL;
    to = &t->entries[t->count];
    memset(to, 0, sizeof *to);
    to->name = copy_text(*name ? name : "(unnamed)");
    to->group = group;
    t->count += to->name != NULL;
    return to->name ? to : NULL;
}

static int put_stat(table *t, size_t group, const prof_stat *from)
{
    entry *to = put(t, from->name, group);
    if (!to) return 0;
    to->calls = from->count;
    to->total = from->total_ns;
    to->longest = from->max_ns;
    to->self = from->self_ns;
    to->split = from->running_ns + from->ready_ns + from->waiting_ns;
    to->waiting = from->waiting_ns;
    to->waits = several_waits(from->site, from->name);
    return 1;
}

/* Notes the job and the host of a rank. Returns 0 without memory. */
static int put_place(table *t, const prof_trace *trace)
{
    const char *job = tool_said(trace, "job"), *host = tool_said(trace, "host");
    if (t->group_count == 1) snprintf(t->job, sizeof t->job, "%s", job);
    if (!tool_same(t->job, job)) t->job[0] = 0;
    return !*host || number_of(&t->hosts, &t->host_count, &t->host_room, host, 1) != (size_t)-1;
}

/* Adds the scopes of a process. */
static int add_process(table *t, const prof_trace *trace, size_t count, several_by by)
{
    char name[1100];
    size_t group, rows, i;
    prof_stat *stats;
    int good;
    if (by == SEVERAL_RANK && *tool_said(trace, "rank"))
        snprintf(name, sizeof name, "rank %.200s", tool_said(trace, "rank"));
    else if (by == SEVERAL_HOST && *tool_said(trace, "host"))
        snprintf(name, sizeof name, "%.200s", tool_said(trace, "host"));
    else
        several_process(trace, count, name, sizeof name);
    group = group_of(t, name, by != SEVERAL_PROCESS);
    good = group != (size_t)-1 && put_place(t, trace);
    if (tool_status(prof_stats(trace, PROF_SORT_TOTAL, 0, &stats, &rows))) return -1;
    for (i = 0; good && i < rows; i++)
        if (stats[i].site->role != PROF_ROLE_WAIT) good = put_stat(t, group, &stats[i]);
    prof_stats_free(stats);
    return good;
}

/* Adds the scopes of each thread of a process. */
static int add_threads(table *t, prof_trace *trace, size_t count)
{
    char name[1700], process[1100];
    size_t track, i;
    int good = 1;
    several_process(trace, count, process, sizeof process);
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
            entry *to;
            if (from->site->role == PROF_ROLE_WAIT) continue;
            if (group == (size_t)-1) group = group_of(t, name, 0);
            to = put(t, from->name, group);
            good = to != NULL;
            if (!to) break;
            to->calls = from->calls;
            to->total = (uint64_t)from->total_ns;
            to->longest = (uint64_t)from->max_ns;
            to->self = (uint64_t)from->self_ns;
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

static prof_sort sort_key; /* of by_key(), which qsort() calls */
static int sort_ascending;

static int by_key(const void *left, const void *right)
{
    const row *a = (const row *)left, *b = (const row *)right;
    double x = (double)a->total, y = (double)b->total;
    int order;
    if (sort_key == PROF_SORT_SELF) x = (double)a->self, y = (double)b->self;
    if (sort_key == PROF_SORT_CALLS) x = (double)a->calls, y = (double)b->calls;
    if (sort_key == PROF_SORT_MIN) x = (double)a->least, y = (double)b->least;
    if (sort_key == PROF_SORT_MAX) x = a->ratio * a->mean, y = b->ratio * b->mean; /* the greatest total */
    if (sort_key == PROF_SORT_MEAN) x = a->calls ? x / (double)a->calls : 0, y = b->calls ? y / (double)b->calls : 0;
    order = x > y ? -1 : x < y;
    if (sort_key == PROF_SORT_NAME || !order) order = a->first < b->first ? -1 : a->first > b->first; /* by name */
    return sort_ascending ? -order : order;
}

static int by_number(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return a < b ? -1 : a > b;
}

/* Sets the least total of the groups, and their median; groups without the scope have 0. */
static void spread(const table *t, row *to, uint64_t *totals)
{
    size_t i, groups = t->group_count;
    memset(totals, 0, groups * sizeof *totals);
    for (i = to->first; i < to->end; i++) totals[i - to->first] = t->entries[i].total;
    if (groups > 1) qsort(totals, groups, sizeof *totals, by_number);
    to->least = totals[0];
    to->median = totals[(groups - 1) / 2];
}

/* Sets how much of a scope was waiting. What waits for other ranks does so for as long as it takes longer than where it
   is shortest. Of other scopes the recording may know it. */
static void share_waiting(const table *t, row *to)
{
    double shortest = -1, waited = 0, known = 0, calls;
    size_t i;
    int waits = 1;
    for (i = to->first; i < to->end; i++) {
        const entry *each = &t->entries[i];
        double mean = each->calls ? (double)each->total / (double)each->calls : 0;
        waits &= each->waits;
        waited += (double)each->waiting;
        known += (double)each->split;
        if (each->calls && (shortest < 0 || mean < shortest)) shortest = mean;
    }
    calls = (double)to->calls;
    to->waiting = -1;
    if (!to->total) return;
    if (waits && to->end - to->first > 1)
        to->waiting = ((double)to->total - shortest * calls) / (double)to->total;
    else if (known > (double)to->total / 2)
        to->waiting = waited / known;
}

/* Adds up the entries of one group and name. */
static void add_same(table *t)
{
    size_t i, kept = 0;
    for (i = 0; i < t->count; i++) {
        entry *from = &t->entries[i], *to = kept ? &t->entries[kept - 1] : NULL;
        if (to && to->group == from->group && tool_same(to->name, from->name)) {
            to->calls += from->calls;
            to->total += from->total;
            to->self += from->self;
            to->split += from->split;
            to->waiting += from->waiting;
            to->waits &= from->waits;
            if (from->longest > to->longest) to->longest = from->longest;
            free(from->name);
        } else {
            t->entries[kept++] = *from;
        }
    }
    t->count = kept;
}

static const table *ordered; /* of natural_order(), which qsort() calls */

static int natural_order(const void *left, const void *right)
{
    size_t a = *(const size_t *)left, b = *(const size_t *)right;
    int order = several_natural(ordered->groups[a], ordered->groups[b]);
    return order ? order : a < b ? -1 : a > b;
}

/* Puts the groups into the natural order of their names: rank 2 before rank 10. Returns 0 without memory. */
static int order_groups(table *t)
{
    size_t *order = (size_t *)malloc((t->group_count + 1) * sizeof *order), i;
    size_t *place = (size_t *)malloc((t->group_count + 1) * sizeof *place);
    char **groups = (char **)malloc((t->group_count + 1) * sizeof *groups);
    int good = order && place && groups;
    for (i = 0; good && i < t->group_count; i++) order[i] = i;
    ordered = t;
    if (good && t->group_count > 1) qsort(order, t->group_count, sizeof *order, natural_order);
    for (i = 0; good && i < t->group_count; i++) place[order[i]] = i, groups[i] = t->groups[order[i]];
    for (i = 0; good && i < t->group_count; i++) t->groups[i] = groups[i];
    for (i = 0; good && i < t->count; i++) t->entries[i].group = place[t->entries[i].group];
    free(order);
    free(place);
    free(groups);
    return good;
}

/* Adds up the entries of one name and group, then those of one name. Returns the rows; NULL without memory. */
static row *add_up(table *t, const several_look *look, size_t *count)
{
    row *rows = (row *)malloc((t->count + 1) * sizeof *rows);
    uint64_t *totals = (uint64_t *)malloc((t->group_count + 1) * sizeof *totals);
    size_t i;
    *count = 0;
    if (!rows || !totals || (look->by == SEVERAL_RANK && !order_groups(t))) {
        free(rows);
        free(totals);
        return NULL;
    }
    if (t->count) qsort(t->entries, t->count, sizeof *t->entries, by_name);
    add_same(t);
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
        to->self += each->self;
        if (each->total > t->entries[to->most].total) to->most = i;
    }
    for (i = 0; i < *count; i++) { /* a thread that never was in a scope is no part of its mean; a process is */
        size_t groups = look->by == SEVERAL_THREAD ? rows[i].end - rows[i].first : t->group_count;
        rows[i].mean = groups ? (double)rows[i].total / (double)groups : 0;
        rows[i].ratio = rows[i].mean > 0 ? (double)t->entries[rows[i].most].total / rows[i].mean : 0;
        spread(t, &rows[i], totals);
        share_waiting(t, &rows[i]);
    }
    free(totals);
    sort_key = look->sort;
    sort_ascending = look->ascending;
    if (*count) qsort(rows, *count, sizeof *rows, by_key);
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

/* Says which ranks they are: "8 ranks of job 4711 on 2 hosts". */
static void print_ranks(const table *t, tool_out *out)
{
    char line[700];
    snprintf(line, sizeof line, "%lu rank%s", (unsigned long)t->group_count, t->group_count == 1 ? "" : "s");
    say(out, line);
    if (*t->job) {
        say(out, " of job ");
        say_name(out, t->job, 0);
    }
    if (t->host_count) {
        snprintf(line, sizeof line, " on %lu host%s", (unsigned long)t->host_count, t->host_count == 1 ? "" : "s");
        say(out, line);
    }
}

/* Writes "rank 3" as "3" below the title rank; another process as it is. */
static const char *rank_name(const char *group) { return strncmp(group, "rank ", 5) ? group : group + 5; }

/* Returns how wide the names of the rows may be, if `used` columns are taken. */
static int name_width(const table *t, const row *rows, size_t shown, const several_look *look, int used)
{
    int width = 5;
    size_t i;
    for (i = 0; i < shown; i++) {
        int name = tool_characters(t->entries[rows[i].first].name);
        if (name > width) width = name;
    }
    if (look->columns > 0 && width > look->columns - used) width = look->columns - used;
    return width < 12 ? 12 : width > 80 ? 80 : width;
}

static void print_more(size_t more, tool_out *out)
{
    char line[64], count[48];
    if (!more) return;
    snprintf(line, sizeof line, "%s more\n", tool_count(count, more));
    say(out, line);
}

#define SPREAD_NUMBERS 85 /* columns of a row behind the name */

/* Writes a row for each scope, with how its total differs between ranks. */
static void print_spread(const table *t, const row *rows, size_t count, const several_look *look, tool_out *out)
{
    char line[400], calls[48], mean[48], least[48], median[48], most[48], waiting[16];
    size_t i, shown = look->top && look->top < count ? look->top : count;
    int width = name_width(t, rows, shown, look, SPREAD_NUMBERS);
    print_ranks(t, out);
    say(out, "; mean: of a call; min, median, max: of a rank's total\n\n");
    say_name(out, "scope", width);
    snprintf(line, sizeof line, " %11s %10s %10s %10s %10s %6s %9s %9s\n", "calls", "mean", "min", "median", "max",
             "rank", "max/mean", "waiting");
    say(out, line);
    for (i = 0; i < shown; i++) {
        const entry *top = &t->entries[rows[i].most];
        double of_call = rows[i].calls ? (double)rows[i].total / (double)rows[i].calls : 0;
        int red = look->colours && rows[i].ratio >= UNEVEN;
        snprintf(waiting, sizeof waiting, rows[i].waiting < 0 ? "" : " %7.1f %%", rows[i].waiting * 100);
        say_name(out, top->name, width);
        snprintf(line, sizeof line, " %11s %10s %10s %10s %s%10s %6.40s %9.2f%s%s\n",
                 tool_count(calls, rows[i].calls), tool_ns(mean, of_call), tool_ns(least, (double)rows[i].least),
                 tool_ns(median, (double)rows[i].median), red ? "\033[31m" : "", tool_ns(most, (double)top->total),
                 rank_name(t->groups[top->group]), rows[i].ratio, red ? "\033[m" : "",
                 waiting);
        say(out, line);
    }
    print_more(count - shown, out);
}

#define CELL 11 /* columns of a number in the matrix */

/* Writes the total of each scope in each rank: as many ranks beside each other as fit into a line, then the next
   ones. */
static void print_matrix(const table *t, const row *rows, size_t count, const several_look *look, tool_out *out)
{
    char line[400], number[48];
    size_t i, from, shown = look->top && look->top < count ? look->top : count, fit = t->group_count;
    int width = name_width(t, rows, shown, look, 2 * CELL);
    if (look->columns > 0) fit = look->columns > width + CELL ? (size_t)(look->columns - width) / CELL : 1;
    if (!fit) fit = 1;
    print_ranks(t, out);
    say(out, "; the total of each\n");
    for (from = 0; from < t->group_count; from += fit) {
        size_t end = t->group_count - from < fit ? t->group_count : from + fit, rank, at;
        say(out, "\n");
        say_name(out, "scope", width);
        for (rank = from; rank < end; rank++) {
            snprintf(line, sizeof line, " %10.40s", t->groups[rank]);
            say(out, line);
        }
        say(out, "\n");
        for (i = 0; i < shown; i++) {
            say_name(out, t->entries[rows[i].first].name, width);
            for (rank = from, at = rows[i].first; rank < end; rank++) {
                int red;
                uint64_t total;
                while (at < rows[i].end && t->entries[at].group < rank) at++;
                total = at < rows[i].end && t->entries[at].group == rank ? t->entries[at].total : 0;
                red = look->colours && (double)total >= UNEVEN * rows[i].mean;
                snprintf(line, sizeof line, " %s%10s%s", red ? "\033[31m" : "", tool_ns(number, (double)total),
                         red ? "\033[m" : "");
                say(out, line);
            }
            say(out, "\n");
        }
    }
    print_more(count - shown, out);
}

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
    print_more(count - shown, out);
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
        snprintf(line, sizeof line, ",\"calls\":%llu,\"total_ns\":%llu,\"mean_ns\":%.1f,\"max_mean\":%.4f,",
                 (unsigned long long)rows[i].calls, (unsigned long long)rows[i].total, rows[i].mean, rows[i].ratio);
        say(out, line);
        if (look->by == SEVERAL_RANK) {
            snprintf(line, sizeof line, "\"min_ns\":%llu,\"median_ns\":%llu,\"max_ns\":%llu,",
                     (unsigned long long)rows[i].least, (unsigned long long)rows[i].median,
                     (unsigned long long)t->entries[rows[i].most].total);
            say(out, line);
            if (rows[i].waiting >= 0) snprintf(line, sizeof line, "\"waiting\":%.4f,", rows[i].waiting);
            if (rows[i].waiting >= 0) say(out, line);
        }
        say(out, "\"most_in\":");
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
    for (i = 0; i < t->host_count; i++) free(t->hosts[i]);
    free(t->entries);
    free(t->groups);
    free(t->hosts);
}

/* Adds what is in one recording. traces NULL: opens it, and closes it again. */
static int add_recording(table *t, several_seen *seen, char **files, prof_trace **traces, size_t count, size_t which,
                         several_by by)
{
    prof_trace *trace = traces ? traces[which] : tool_open(files[which]);
    int good;
    if (!trace) return -1;
    if ((by == SEVERAL_RANK || by == SEVERAL_HOST) && !several_apart(seen, trace, files[which]))
        good = -1;
    else
        good = by == SEVERAL_THREAD ? add_threads(t, trace, count) : add_process(t, trace, count, by);
    if (!traces) prof_trace_close(trace);
    return good;
}

int several_summary(char **files, prof_trace **traces, size_t count, const several_look *look, tool_out *out)
{
    table t;
    several_seen seen;
    row *rows = NULL;
    size_t i, shown = 0;
    int good = 1;
    memset(&t, 0, sizeof t);
    memset(&seen, 0, sizeof seen);
    for (i = 0; good > 0 && i < count; i++) {
        good = add_recording(&t, &seen, files, traces, count, i, look->by);
        if (!traces) tool_progress(1.0 / (double)count);
    }
    if (good > 0) rows = add_up(&t, look, &shown);
    if (good > 0 && !rows) good = 0;
    if (good > 0 && look->json)
        print_json(&t, rows, shown, look, out);
    else if (good > 0 && look->by == SEVERAL_RANK)
        (look->matrix ? print_matrix : print_spread)(&t, rows, shown, look, out);
    else if (good > 0)
        print_rows(&t, rows, shown, look, out);
    free(rows);
    several_seen_free(&seen);
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
    several_process(traces[which], count, name, sizeof name);
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
