/* compare.c - prof compare: what became slower or faster between two recordings, and whether that can be chance. */
#include "tool.h"
#include <stdlib.h>
#include <string.h>

static const tool_option options[] = {
    {"--threshold", "-t", "PERCENT", "how much slower is too much; default 5"},
    {"--by-path", "-p", NULL, "compares call paths instead of scopes"},
    {"--all", "-a", NULL, "prints what did not change, too"},
    TOOL_PROGRESS,
    {NULL, NULL, NULL, NULL}};

typedef enum verdict { SAME, SLOWER, FASTER, UNSURE, ADDED, GONE } verdict;
static const char *const verdicts[] = {"same", "SLOWER", "faster", "unsure", "new", "gone"};

/* One scope, or call path, of both recordings. */
typedef struct row {
    char *key; /* what makes it the same in both */
    const prof_stat *a, *b;
    double change, margin; /* of the mean, percent of a's; the true one is within the margin with 99 % */
    double impact;         /* nanoseconds by which the total grew or shrank, without its sign */
    verdict verdict;
} row;

typedef struct side {
    prof_trace *trace;
    prof_stat *stats;
    row *rows; /* one for each of stats, with a set */
    size_t count;
} side;

/* No libm: the tool links with what prof.h needs. */
static double square_root(double value)
{
    double root = value > 1 ? value : 1;
    int i;
    if (!(value > 0)) return 0;
    for (i = 0; i < 1100; i++) {
        double next = (root + value / root) / 2;
        if (!(next < root)) break;
        root = next;
    }
    return root;
}

/* Student's t for 99 % on both sides. Between the values of the table the larger one, which is the careful one. */
static double student(double freedom)
{
    static const double table[][2] = {{1, 63.657}, {2, 9.925}, {3, 5.841}, {4, 4.604}, {5, 4.032}, {6, 3.707},
                                      {7, 3.499}, {8, 3.355}, {9, 3.250}, {10, 3.169}, {12, 3.055}, {15, 2.947},
                                      {20, 2.845}, {30, 2.750}, {60, 2.660}, {120, 2.617}, {1e9, 2.576}};
    double t = table[0][1];
    size_t i;
    for (i = 0; i < sizeof table / sizeof *table && table[i][0] <= freedom; i++) t = table[i][1];
    return t;
}

static uint64_t timed(const prof_stat *stat) { return stat->count - stat->truncated; }

/* Welch's interval for the difference of two means. */
static void judge(row *r, double threshold)
{
    double na = (double)timed(r->a), nb = (double)timed(r->b), va, vb, error, freedom, difference, margin;
    if (na < 2 || nb < 2) {
        r->verdict = UNSURE;
        return;
    }
    va = r->a->deviation_ns * r->a->deviation_ns / (na - 1); /* of the mean: the deviations are those of populations */
    vb = r->b->deviation_ns * r->b->deviation_ns / (nb - 1);
    error = square_root(va + vb);
    freedom = va + vb > 0 ? (va + vb) * (va + vb) / (va * va / (na - 1) + vb * vb / (nb - 1)) : 1e9;
    difference = r->b->mean_ns - r->a->mean_ns;
    margin = student(freedom) * error;
    if (r->a->mean_ns > 0) {
        r->change = difference / r->a->mean_ns * 100;
        r->margin = margin / r->a->mean_ns * 100;
    }
    if (difference - margin > threshold / 100 * r->a->mean_ns)
        r->verdict = SLOWER;
    else if (difference + margin < -threshold / 100 * r->a->mean_ns)
        r->verdict = FASTER;
    else if (margin > threshold / 100 * r->a->mean_ns)
        r->verdict = UNSURE;
    else
        r->verdict = SAME;
}

/*-- pairing --*/

static char *join(const char *before, const char *name, const prof_callsite *site)
{
    size_t size = strlen(before) + strlen(name) + strlen(site->category) + strlen(site->function) + 4;
    char *key = (char *)malloc(size);
    if (key) snprintf(key, size, "%s\n%s\t%s\t%s", before, name, site->category, site->function);
    return key;
}

static int by_key(const void *a, const void *b)
{
    const row *x = (const row *)a, *y = (const row *)b;
    int order = strcmp(x->key, y->key);
    if (order) return order;
    if (x->a->site->line != y->a->site->line) return x->a->site->line < y->a->site->line ? -1 : 1;
    return x->a < y->a ? -1 : x->a > y->a;
}

/* A scope is the same in both recordings if path, name, category and function are; of several such in one function the
   first is paired with the first, and so on, whatever their lines. */
static int make_keys(side *s)
{
    size_t i;
    for (i = 0; i < s->count; i++) { /* parents come first */
        const prof_stat *stat = &s->stats[i];
        s->rows[i].a = stat;
        s->rows[i].key = join(stat->parent == PROF_NO_PARENT ? "" : s->rows[stat->parent].key, stat->name, stat->site);
        if (!s->rows[i].key) return 0;
    }
    qsort(s->rows, s->count, sizeof *s->rows, by_key);
    return 1;
}

static int make_side(side *s, const char *path, int by_path, const char *when)
{
    prof_status status;
    s->trace = tool_open(path);
    if (!s->trace) return 0;
    tool_progress_begin("compare", when);
    prof_trace_watch(s->trace, tool_progress_step, NULL);
    status = by_path ? prof_stats_by_path(s->trace, PROF_SORT_NAME, 1, &s->stats, &s->count)
                     : prof_stats(s->trace, PROF_SORT_NAME, 1, &s->stats, &s->count);
    tool_progress_end();
    if (tool_status(status)) return 0;
    s->rows = (row *)calloc(s->count + 1, sizeof *s->rows);
    if (s->rows && make_keys(s)) return 1;
    tool_fail("out of memory");
    return 0;
}

static void free_side(side *s)
{
    size_t i;
    for (i = 0; s->rows && i < s->count; i++) free(s->rows[i].key);
    free(s->rows);
    prof_stats_free(s->stats);
    prof_trace_close(s->trace);
}

static double total(const prof_stat *stat) { return stat ? (double)stat->total_ns : 0; }

/* The rows of both, by their keys. Returns how many there are. */
static size_t pair(const side *a, const side *b, row *rows, double threshold)
{
    size_t i = 0, j = 0, count = 0;
    while (i < a->count || j < b->count) {
        int order = i == a->count ? 1 : j == b->count ? -1 : strcmp(a->rows[i].key, b->rows[j].key);
        row *r = &rows[count++];
        memset(r, 0, sizeof *r);
        r->key = order <= 0 ? a->rows[i].key : b->rows[j].key;
        if (order <= 0) r->a = a->rows[i++].a;
        if (order >= 0) r->b = b->rows[j++].a;
        r->impact = total(r->b) - total(r->a);
        if (r->impact < 0) r->impact = -r->impact;
        if (r->a && r->b)
            judge(r, threshold);
        else
            r->verdict = r->a ? GONE : ADDED;
    }
    return count;
}

/*-- printing --*/

static int by_impact(const void *a, const void *b)
{
    const row *x = (const row *)a, *y = (const row *)b;
    if ((x->verdict == SLOWER) != (y->verdict == SLOWER)) return x->verdict == SLOWER ? -1 : 1;
    if (x->impact < y->impact || x->impact > y->impact) return x->impact > y->impact ? -1 : 1;
    return strcmp(x->key, y->key);
}

/* "outer > inner" of a key, whose lines are the names on the path. */
static void path_text(const char *key, char *to, size_t size)
{
    size_t at = 0;
    while (*key && at + 4 < size) {
        size_t length = strcspn(++key, "\t\n");
        if (at) at += (size_t)snprintf(to + at, size - at, " > ");
        if (length > size - at - 1) length = size - at - 1;
        memcpy(to + at, key, length);
        at += length;
        key += strcspn(key, "\n");
    }
    to[at] = 0;
}

static void print_pair(const row *r, double a, double b)
{
    char text[48];
    printf(" %10s", r->a && timed(r->a) ? tool_ns(text, a) : "-");
    printf(" %10s", r->b && timed(r->b) ? tool_ns(text, b) : "-");
}

static void print_row(const row *r, int by_path, int width)
{
    static const prof_stat none;
    const prof_stat *a = r->a ? r->a : &none, *b = r->b ? r->b : &none;
    char text[1000], change[64] = "-";
    if (by_path)
        path_text(r->key, text, sizeof text);
    else
        snprintf(text, sizeof text, "%s", r->a ? a->name : b->name);
    tool_print_name(text, width);
    printf(" %-6s", verdicts[r->verdict]);
    if (r->a && r->b && timed(a) > 1 && timed(b) > 1)
        snprintf(change, sizeof change, "%+.1f %% +- %.1f", r->change, r->margin);
    printf(" %18s", change);
    print_pair(r, a->mean_ns, b->mean_ns);
    print_pair(r, (double)a->p50_ns, (double)b->p50_ns);
    print_pair(r, (double)a->p99_ns, (double)b->p99_ns);
    printf(" %12s", tool_count(text, a->count));
    printf(" %12s\n", tool_count(text, b->count));
}

static int print_rows(row *rows, size_t count, const tool_args *args)
{
    static const char *const columns[] = {"mean A", "mean B", "p50 A", "p50 B", "p99 A", "p99 B"};
    int by_path = tool_value(args, "--by-path") != NULL, all = tool_value(args, "--all") != NULL;
    size_t kinds[GONE + 1] = {0}, i;
    int width = by_path ? 60 : 32;
    qsort(rows, count, sizeof *rows, by_impact);
    for (i = 0; i < count; i++) kinds[rows[i].verdict]++;
    if (all || kinds[SAME] + kinds[UNSURE] < count) {
        printf("%-*s %-6s %18s", width, by_path ? "call path" : "scope", "", "change of mean");
        for (i = 0; i < sizeof columns / sizeof *columns; i++) printf(" %10s", columns[i]);
        printf(" %12s %12s\n", "calls A", "calls B");
    }
    for (i = 0; i < count; i++)
        if (all || (rows[i].verdict != SAME && rows[i].verdict != UNSURE)) print_row(&rows[i], by_path, width);
    printf("%lu slower, %lu faster, %lu the same, %lu unsure, %lu new, %lu gone\n", (unsigned long)kinds[SLOWER],
           (unsigned long)kinds[FASTER], (unsigned long)kinds[SAME], (unsigned long)kinds[UNSURE],
           (unsigned long)kinds[ADDED], (unsigned long)kinds[GONE]);
    return kinds[SLOWER] ? TOOL_NO : TOOL_OK;
}

static int run(const tool_args *args)
{
    const char *limit = tool_value(args, "--threshold"), *when = tool_value(args, "--progress");
    int by_path = tool_value(args, "--by-path") != NULL, choice, result = TOOL_ERROR;
    double threshold = 5;
    row *rows = NULL;
    side a, b;
    if (limit && !tool_number("--threshold", limit, 0, 1e6, &threshold)) return TOOL_ERROR;
    if (!tool_choice("--progress", when, tool_progress_choices, &choice)) return TOOL_ERROR;
    memset(&a, 0, sizeof a);
    memset(&b, 0, sizeof b);
    if (make_side(&a, args->files[0], by_path, when) && make_side(&b, args->files[1], by_path, when)) {
        rows = (row *)calloc(a.count + b.count + 1, sizeof *rows);
        result = rows ? print_rows(rows, pair(&a, &b, rows, threshold), args) : tool_fail("out of memory");
    }
    free(rows);
    free_side(&a);
    free_side(&b);
    return result;
}

const tool_command tool_compare = {
    "compare", "A B", "Says which scopes became slower or faster from A to B", 2, 2, run, options,
    "SLOWER: the mean of B is larger than that of A by more than the threshold, and not by chance: the 99 % interval of\n"
    "the difference (Welch's t, unequal variances) lies above it. faster: the same the other way round. same: the interval\n"
    "is narrower than the threshold and does not lie beyond it. unsure: too few calls, or they vary too much, to tell.\n"
    "The interval is about the calls within these two recordings. What differs between any two runs (frequency of the\n"
    "processor, other programs, layout of memory) looks like a change, too: for a gate, compare longer runs on a quiet\n"
    "machine and choose a threshold above what two runs of the same program differ by.\n"
    "A scope is the same in both if name, category and function are, and with --by-path those around it. Slower ones come\n"
    "first, then by the change of the total time.\n\n"
    "exit status: 0 nothing slower, 1 something became slower, 2 error.\n\n"
    "example: prof compare before.prof after.prof --threshold 10\n"};
