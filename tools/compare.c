/* compare.c - prof compare: says what became slower or faster between two recordings, or two sets of them, and whether
   chance explains it. */
#include "tool.h"
#include "compare.h"
#include <stdlib.h>
#include <string.h>

static const tool_option options[] = {
    {"--threshold", "-t", "PERCENT", "how much slower is too much; default 5"},
    {"--fail-over", NULL, "PERCENT", "the threshold for the exit status; default: that of --threshold"},
    {"--fail-on", NULL, "LIST", "what sets the exit status: call,p99,max,total; default call,p99"},
    {"--by-path", "-p", NULL, "compares call paths instead of scopes"},
    {"--all", "-a", NULL, "also prints what did not change"},
    {"--format", "-f", "KIND", "table (default), json, or markdown for a pull request"},
    TOOL_PROGRESS,
    {NULL, NULL, NULL, NULL}};

#define SAMPLE 10000 /* calls of a scope that are kept for a side: enough for all but the tail */
#define SAMPLE_LEAST 1000 /* calls that are kept for each recording if a side has many */

const char *const compare_metrics[] = {"call", "p99", "max", "total", NULL};
const char *const compare_verdicts[] = {"same", "SLOWER", "faster", "unsure", "new", "gone"};

typedef struct side {
    compare_recording *recordings;
    size_t count;
} side;

/* The entries that make up a row: one for each recording of a side, NULL if the recording has none. */
typedef struct group {
    const compare_entry **entries;
    size_t count;
} group;

/*-- sides --*/

static int make_side(side *s, char **paths, size_t count, const tool_args *args)
{
    size_t max = SAMPLE / count > SAMPLE_LEAST ? SAMPLE / count : SAMPLE_LEAST;
    s->recordings = (compare_recording *)calloc(count, sizeof *s->recordings);
    if (!s->recordings) return tool_fail("out of memory");
    for (s->count = 0; s->count < count; s->count++) {
        int by_path = tool_value(args, "--by-path") != NULL;
        if (compare_read(paths[s->count], by_path, max, tool_value(args, "--progress"), &s->recordings[s->count])) {
            s->count++;
            return TOOL_ERROR;
        }
    }
    return TOOL_OK;
}

static void free_side(side *s)
{
    size_t i;
    for (i = 0; i < s->count; i++) compare_read_free(&s->recordings[i]);
    free(s->recordings);
}

/*-- pairing --*/

static const compare_entry *next_entry(const compare_recording *r)
{
    return r->at < r->count ? &r->entries[r->at] : NULL;
}

/* Returns the smallest key that is not paired yet. Returns NULL at the end. */
static const char *next_key(const side *sides)
{
    const char *key = NULL;
    size_t s, i;
    for (s = 0; s < 2; s++)
        for (i = 0; i < sides[s].count; i++) {
            const compare_entry *e = next_entry(&sides[s].recordings[i]);
            if (e && (!key || strcmp(e->key, key) < 0)) key = e->key;
        }
    return key;
}

/* Takes the next entry with this key from each recording of a side. */
static void take(side *s, const char *key, group *g)
{
    for (g->count = 0; g->count < s->count; g->count++) {
        compare_recording *r = &s->recordings[g->count];
        const compare_entry *e = next_entry(r);
        g->entries[g->count] = e && !strcmp(e->key, key) ? e : NULL;
        if (g->entries[g->count]) r->at++;
    }
}

/*-- all recordings of a side as one --*/

static void sum_stats(const group *g, compare_row *row, int which)
{
    compare_stat *sum = &row->of[which];
    double n;
    size_t i;
    int state;
    for (i = 0; i < g->count; i++) {
        const compare_entry *e = g->entries[i];
        if (!e) continue;
        row->runs[which]++;
        row->line = e->line;
        sum->calls += e->stat.calls;
        sum->total_ns += e->stat.total_ns;
        for (state = 0; state < COMPARE_STATES; state++) sum->states_ns[state] += e->stat.states_ns[state];
        sum->p50_ns += e->stat.p50_ns;
        sum->p99_ns += e->stat.p99_ns;
        if (e->stat.max_ns > sum->max_ns) sum->max_ns = e->stat.max_ns;
    }
    n = row->runs[which] ? (double)row->runs[which] : 1;
    sum->calls /= n;
    sum->total_ns /= n;
    for (state = 0; state < COMPARE_STATES; state++) sum->states_ns[state] /= n;
    sum->p50_ns /= n;
    sum->p99_ns /= n;
}

/* Joins the samples of a side. The caller frees the result. Returns 0 without memory. */
static int pool(const group *g, compare_sample *all)
{
    size_t i, count = 0;
    all->count = 0;
    for (i = 0; i < g->count; i++) count += g->entries[i] ? g->entries[i]->sample.count : 0;
    all->calls = (compare_call *)malloc((count + 1) * sizeof *all->calls);
    for (i = 0; all->calls && i < g->count; i++) {
        const compare_entry *e = g->entries[i];
        if (!e || !e->sample.count) continue;
        memcpy(all->calls + all->count, e->sample.calls, e->sample.count * sizeof *all->calls);
        all->count += e->sample.count;
    }
    return all->calls != NULL;
}

/*-- verdicts --*/

static double larger(double a, double b) { return a > b ? a : b; }

/* Compares two recordings, by the calls of a scope. */
static void change_calls(const compare_entry *a, const compare_entry *b, compare_row *row)
{
    double dispersion = larger(compare_dispersion(&a->sample, a->stat.p99_ns),
                               compare_dispersion(&b->sample, b->stat.p99_ns));
    double of_mean = larger(compare_mean_dispersion(&a->sample), compare_mean_dispersion(&b->sample));
    row->changes[COMPARE_P99] = compare_quantile(&a->steps, &b->steps, 0.99, dispersion);
    row->changes[COMPARE_MAX] = compare_max(&a->steps, &b->steps);
    row->changes[COMPARE_TOTAL] = compare_total(a->stat.calls, a->mean_ns, a->deviation_ns, b->stat.calls,
                                                b->mean_ns, b->deviation_ns, of_mean);
}

/* Takes one figure from each run of a side. For a typical call, that is its ratio to all calls of A. */
static size_t values_of(const group *g, int metric, const compare_sample *reference, double *to)
{
    size_t i, count = 0;
    for (i = 0; i < g->count; i++) {
        const compare_entry *e = g->entries[i];
        if (!e || e->stat.calls < 1) continue;
        to[count++] = metric == COMPARE_SHIFT ? compare_location(reference, &e->sample)
                    : metric == COMPARE_P99   ? e->stat.p99_ns
                    : metric == COMPARE_MAX   ? e->stat.max_ns
                                              : e->stat.total_ns;
    }
    return count;
}

/* Compares sides of several recordings, by how much the recordings vary. Returns 0 without memory. */
static int change_runs(const group *g, const compare_sample *reference, compare_row *row)
{
    double *values = (double *)malloc((g[0].count + g[1].count) * sizeof *values);
    compare_change calls = row->changes[COMPARE_SHIFT], *shift = &row->changes[COMPARE_SHIFT];
    int metric;
    if (!values) return 0;
    for (metric = 0; metric < COMPARE_METRICS; metric++) {
        size_t a = values_of(&g[0], metric, reference, values), b = values_of(&g[1], metric, reference, values + a);
        row->changes[metric] = compare_runs(values, a, values + a, b);
    }
    free(values);
    if (calls.low < shift->low) shift->low = calls.low; /* at least as wide as for the calls */
    if (calls.high > shift->high) shift->high = calls.high;
    return 1;
}

static int judge(const group *g, compare_row *row, const compare_result *result)
{
    compare_sample all[2];
    int good, metric;
    all[1].calls = NULL;
    good = pool(&g[0], &all[0]) && pool(&g[1], &all[1]) &&
           compare_shift(&all[0], &all[1], &row->changes[COMPARE_SHIFT], &row->z);
    if (good && (g[0].count > 1 || g[1].count > 1))
        good = change_runs(g, &all[0], row);
    else if (good)
        change_calls(g[0].entries[0], g[1].entries[0], row);
    free(all[0].calls);
    free(all[1].calls);
    for (metric = 0; metric < COMPARE_METRICS; metric++) {
        row->verdicts[metric] = compare_judge(&row->changes[metric], result->threshold);
        row->failed |= result->gate[metric] && row->changes[metric].low > 1 + result->fail_over;
    }
    return good;
}

static int make_row(const group *g, compare_row *row, const compare_result *result)
{
    int metric;
    sum_stats(&g[0], row, 0);
    sum_stats(&g[1], row, 1);
    row->impact = row->of[1].total_ns - row->of[0].total_ns;
    if (row->impact < 0) row->impact = -row->impact;
    if (row->runs[0] && row->runs[1]) return judge(g, row, result);
    for (metric = 0; metric < COMPARE_METRICS; metric++)
        row->verdicts[metric] = row->runs[0] ? COMPARE_GONE : COMPARE_ADDED;
    return 1;
}

/*-- all rows --*/

static int slower(const compare_row *row)
{
    int metric, rank = 0;
    for (metric = 0; metric < COMPARE_METRICS; metric++)
        rank = rank * 2 + (row->verdicts[metric] == COMPARE_SLOWER);
    return rank;
}

static int by_impact(const void *a, const void *b)
{
    const compare_row *x = (const compare_row *)a, *y = (const compare_row *)b;
    if (slower(x) != slower(y)) return slower(x) > slower(y) ? -1 : 1;
    if (x->impact < y->impact || x->impact > y->impact) return x->impact > y->impact ? -1 : 1;
    return strcmp(x->key, y->key);
}

static int make_rows(side *sides, compare_result *result)
{
    group groups[2];
    const char *key;
    size_t s, i, max = 1;
    int good;
    for (s = 0; s < 2; s++)
        for (i = 0; i < sides[s].count; i++) max += sides[s].recordings[i].count;
    result->rows = (compare_row *)calloc(max, sizeof *result->rows);
    groups[0].entries = (const compare_entry **)calloc(sides[0].count + sides[1].count, sizeof *groups[0].entries);
    groups[1].entries = groups[0].entries ? groups[0].entries + sides[0].count : NULL;
    good = result->rows && groups[0].entries;
    while (good && (key = next_key(sides)) != NULL) {
        compare_row *row = &result->rows[result->count++];
        row->key = key;
        take(&sides[0], key, &groups[0]);
        take(&sides[1], key, &groups[1]);
        good = make_row(groups, row, result);
    }
    free(groups[0].entries);
    if (!good) return tool_fail("out of memory");
    qsort(result->rows, result->count, sizeof *result->rows, by_impact);
    return TOOL_OK;
}

/*-- the command line --*/

/* Reads a share such as "5" or "5%", which is 0.05. Prints a message and returns 0 for anything else. */
static int take_percent(const char *option, const char *text, double *share)
{
    char number[32];
    size_t length = text ? strlen(text) : 0;
    if (!text) return 1;
    snprintf(number, sizeof number, "%.*s", (int)(length && text[length - 1] == '%' ? length - 1 : length), text);
    if (!tool_number(option, length < sizeof number ? number : text, 0, 1e6, share)) return 0;
    *share /= 100;
    return 1;
}

/* Reads a list of metrics such as "call,p99". Prints a message and returns 0 for anything else. */
static int take_gate(const char *text, int *gate)
{
    while (*text) {
        char name[16];
        size_t length = strcspn(text, ",");
        int metric;
        snprintf(name, sizeof name, "%.*s", (int)(length < 15 ? length : 15), text);
        if (!tool_choice("--fail-on", name, compare_metrics, &metric)) return 0;
        gate[metric] = 1;
        text += length + (text[length] == ',');
    }
    return 1;
}

static int take_options(const tool_args *args, compare_result *result, int *format)
{
    static const char *const formats[] = {"table", "json", "markdown", NULL};
    const char *gate = tool_value(args, "--fail-on");
    int choice;
    result->by_path = tool_value(args, "--by-path") != NULL;
    result->all = tool_value(args, "--all") != NULL;
    result->threshold = 0.05;
    if (!take_percent("--threshold", tool_value(args, "--threshold"), &result->threshold)) return 0;
    result->fail_over = result->threshold;
    return take_percent("--fail-over", tool_value(args, "--fail-over"), &result->fail_over) &&
           take_gate(gate ? gate : "call,p99", result->gate) &&
           tool_choice("--format", tool_value(args, "--format"), formats, format) &&
           tool_choice("--progress", tool_value(args, "--progress"), tool_progress_choices, &choice);
}

/* Returns how many of the files belong to side A. Prints a message and returns 0 if that is not clear. */
static int split(const tool_args *args)
{
    if (args->separator > 0 && args->separator < args->file_count) return args->separator;
    if (args->file_count == 2) return 1;
    tool_fail("compare: with several recordings a side, put -- between A and B: prof compare A1 A2 -- B1 B2");
    return 0;
}

static int run(const tool_args *args)
{
    static void (*const print[])(const compare_result *) = {compare_print_table, compare_print_json,
                                                            compare_print_markdown};
    compare_result result;
    side sides[2];
    int format = 0, status = TOOL_ERROR, of_a = split(args);
    size_t i;
    memset(&result, 0, sizeof result);
    memset(sides, 0, sizeof sides);
    if (!of_a || !take_options(args, &result, &format)) return TOOL_ERROR;
    result.runs[0] = (size_t)of_a;
    result.runs[1] = (size_t)(args->file_count - of_a);
    result.files[0] = args->files;
    result.files[1] = args->files + of_a;
    if (make_side(&sides[0], args->files, result.runs[0], args) == TOOL_OK &&
        make_side(&sides[1], args->files + of_a, result.runs[1], args) == TOOL_OK)
        status = make_rows(sides, &result);
    if (status == TOOL_OK) print[format](&result);
    for (i = 0; i < result.count && status == TOOL_OK; i++)
        if (result.rows[i].failed) status = TOOL_NO;
    free(result.rows);
    free_side(&sides[0]);
    free_side(&sides[1]);
    return status;
}

const tool_command tool_compare = {
    "compare", "A B | A... -- B...", "Says which scopes became slower or faster from A to B", 2, 10000, run, options,
    "call is a typical call. It is compared by ranks, so that a few disturbed calls do not matter: by the\n"
    "Hodges-Lehmann estimate, which is the median of the ratios of all pairs of calls, and its 99 % interval. p50\n"
    "is only shown. p99, max and total have verdicts of their own: slower (!) or faster (*) if the whole 99 %\n"
    "interval lies beyond the threshold, same if it is at most twice as wide as the threshold, else unsure (?).\n"
    "With one recording a side, the interval covers how the calls, and the tenths of the recording, vary. Two runs\n"
    "vary more: by the frequency of the processor, other programs, the layout of memory. A gate should compare five\n"
    "runs a side or more, each of which counts as one observation:\n"
    "  prof compare before*.prof -- after*.prof\n"
    "Where both sides know what threads did (PROF_SWITCHES=1), a line below a slower or faster scope says what of its\n"
    "mean call grew: running, ready, waiting.\n"
    "Scopes are paired by name, category and function, and with --by-path by the scopes around them, too. Slower\n"
    "scopes are printed first, then those whose total time changed most.\n\n"
    "exit status: 0 nothing is slower, 1 something that --fail-on names is slower by more than --fail-over, 2\n"
    "error.\n\n"
    "example: prof compare before.prof after.prof --fail-over 10%\n"};
