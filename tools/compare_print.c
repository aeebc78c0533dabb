/* compare_print.c - prints what prof compare found: as a table for a terminal, JSON for programs, or Markdown for a
   pull request. */
#include "tool.h"
#include "compare.h"
#include <string.h>

enum { NAME_WIDTH = 16 };

/*-- texts --*/

/* Writes the path of a key as "outer > inner". The lines of a key begin with the names. */
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

/* Writes a ratio as "+5.2 %" or "x2.31". digits: how many follow the point, 0 or 1. */
static const char *percent_text(char *to, double ratio, int digits)
{
    double percent = (ratio - 1) * 100;
    if (ratio >= 1.995)
        snprintf(to, 48, ratio >= 9.95 ? ratio >= 999.5 ? ">x999" : "x%.0f" : digits ? "x%.2f" : "x%.1f", ratio);
    else
        snprintf(to, 48, digits ? "%+.1f %%" : "%+.0f%%", percent > -0.05 && percent < 0.05 ? 0 : percent);
    return to;
}

static const char *margin_text(char *to, const compare_change *change)
{
    double up = change->high - change->ratio, down = change->ratio - change->low;
    double margin = (up > down ? up : down) * 100;
    if (margin < 999.5)
        snprintf(to, 48, margin < 99.95 ? "+-%.1f" : "+-%.0f", margin);
    else
        strcpy(to, "+-?");
    return to;
}

static int both(const compare_row *row) { return row->of[0].calls > 0 && row->of[1].calls > 0; }

/* Writes the change of a metric, as in "+31%!". The sign ! marks a verdict. */
static const char *cell_text(char *to, const compare_row *row, int metric)
{
    static const char marks[] = {' ', '!', '*', '?', ' ', ' '};
    strcpy(to, "- ");
    if (!both(row)) return to;
    percent_text(to, row->changes[metric].ratio, 0);
    to[strlen(to) + 1] = 0;
    to[strlen(to)] = marks[row->verdicts[metric]];
    return to;
}

/* Returns 1 if the row has a verdict other than "same" and "unsure". */
static int speaks(const compare_row *row)
{
    int metric;
    for (metric = 0; metric < COMPARE_METRICS; metric++)
        if (row->verdicts[metric] != COMPARE_SAME && row->verdicts[metric] != COMPARE_UNSURE) return 1;
    return 0;
}

/*-- what grew --*/

static const char *const states[] = {"unknown", "running", "ready", "waiting"};

/* Returns 1 if it was recorded what threads did in the calls of a side. */
static int has_states(const compare_stat *f) { return f->states_ns[PROF_STATE_UNKNOWN] < f->total_ns; }

/* Returns by how much a mean call is longer in B, as far as its thread was in this state. */
static double growth_of(const compare_row *row, int state)
{
    return row->of[1].states_ns[state] / row->of[1].calls - row->of[0].states_ns[state] / row->of[0].calls;
}

static double without_sign(double value) { return value < 0 ? -value : value; }

/* Returns the state other than `but` of which a mean call has changed most. */
static int most_changed(const compare_row *row, int but)
{
    int state, most = but == PROF_STATE_RUNNING ? PROF_STATE_WAITING : PROF_STATE_RUNNING;
    for (state = 0; state < COMPARE_STATES; state++)
        if (state != but && without_sign(growth_of(row, state)) > without_sign(growth_of(row, most))) most = state;
    return most;
}

/* Writes what of a mean call changed: "4.100 ms -> 9.300 ms: waiting +5.000 ms, running +200.0 us". The second is left
   out if it changed by less than a tenth of the first. Returns 0 if it is not known, or if nothing changed. */
static int growth_text(char *to, size_t size, const compare_row *row)
{
    char text[3][48];
    int most = most_changed(row, -1), next = most_changed(row, most), at;
    double by = growth_of(row, most), more = growth_of(row, next);
    if (!both(row) || (!speaks(row) && row->verdicts[COMPARE_SHIFT] == COMPARE_SAME)) return 0;
    if (!has_states(&row->of[0]) || !has_states(&row->of[1])) return 0;
    at = snprintf(to, size, "%s -> %s: %s %s%s", tool_ns(text[0], row->of[0].total_ns / row->of[0].calls),
                  tool_ns(text[1], row->of[1].total_ns / row->of[1].calls), states[most], by > 0 ? "+" : "",
                  tool_ns(text[2], by));
    if (without_sign(more) > without_sign(by) / 10)
        snprintf(to + at, size - (size_t)at, ", %s %s%s", states[next], more > 0 ? "+" : "", tool_ns(text[0], more));
    return 1;
}

static size_t count_shown(const compare_result *result)
{
    size_t i, shown = 0;
    for (i = 0; i < result->count; i++) shown += result->all || speaks(&result->rows[i]);
    return shown;
}

static void print_counts(const compare_result *result)
{
    unsigned long kinds[COMPARE_GONE + 1] = {0};
    size_t i;
    for (i = 0; i < result->count; i++) kinds[result->rows[i].verdicts[COMPARE_SHIFT]]++;
    printf("%lu slower, %lu faster, %lu the same, %lu unsure, %lu new, %lu gone\n", kinds[COMPARE_SLOWER],
           kinds[COMPARE_FASTER], kinds[COMPARE_SAME], kinds[COMPARE_UNSURE], kinds[COMPARE_ADDED],
           kinds[COMPARE_GONE]);
}

/*-- which file is which --*/

/* Returns how many bytes of two paths are folders that both are in. */
static size_t shared_folders(const char *a, const char *b)
{
    size_t i, end = 0;
    for (i = 0; a[i] && a[i] == b[i]; i++)
        if (a[i] == '/' || a[i] == '\\') end = i + 1;
    return end;
}

static void print_file(const char *name) { tool_print_name(name, 0); }

/* Prints a text as code in Markdown, where only bars and backticks have a meaning. */
static void print_code(const char *text)
{
    printf("`");
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '|')
            printf("\\|");
        else
            putchar(c == '`' ? '\'' : c < 0x20 || c == 0x7F ? '?' : c);
    }
    printf("`");
}

/* Prints the name of a side's first recording, from where it differs from that of the other side. */
static void print_side(const compare_result *result, int side, void (*print)(const char *name))
{
    const char *path = result->files[side][0];
    char more[48];
    printf("%c: ", "AB"[side]);
    print(tool_shown(path + shared_folders(path, result->files[!side][0])));
    if (result->runs[side] > 1) printf(" and %s more", tool_count(more, result->runs[side] - 1));
}

/*-- table --*/

/* Prints a name. A name that is too long gets a line of its own. */
static void print_name(const compare_row *row)
{
    char text[1000];
    path_text(row->key, text, sizeof text);
    if (tool_characters(text) <= NAME_WIDTH) {
        tool_print_name(text, NAME_WIDTH);
        return;
    }
    tool_print_name(text, 0);
    printf("\n%*s", NAME_WIDTH, "");
}

static void print_row(const compare_row *row)
{
    char text[48], growth[300];
    int side, metric;
    print_name(row);
    printf(" %-6s", compare_verdicts[row->verdicts[COMPARE_SHIFT]]);
    printf(" %7s", both(row) ? percent_text(text, row->changes[COMPARE_SHIFT].ratio, 1) : "-");
    printf(" %-7s", both(row) ? margin_text(text, &row->changes[COMPARE_SHIFT]) : "");
    for (side = 0; side < 2; side++)
        printf(" %9s", row->of[side].calls > 0 ? tool_ns(text, row->of[side].p50_ns) : "-");
    for (metric = COMPARE_P99; metric < COMPARE_METRICS; metric++) printf(" %6s", cell_text(text, row, metric));
    printf("\n");
    if (growth_text(growth, sizeof growth, row)) printf("  a mean call: %s\n", growth);
}

void compare_print_table(const compare_result *result)
{
    size_t i, shown = count_shown(result);
    int side;
    for (side = 0; shown && side < 2; side++) {
        print_side(result, side, print_file);
        printf("\n");
    }
    if (result->runs[0] > 1 || result->runs[1] > 1)
        printf("%lu recordings against %lu\n", (unsigned long)result->runs[0], (unsigned long)result->runs[1]);
    if (shown)
        printf("%-*s %-22s %9s %9s %6s %6s %6s\n", NAME_WIDTH, result->by_path ? "call path" : "scope", "a call",
               "p50 A", "p50 B", "p99 ", "max ", "total ");
    for (i = 0; i < result->count; i++)
        if (result->all || speaks(&result->rows[i])) print_row(&result->rows[i]);
    print_counts(result);
    if (shown) printf("p99, max, total: ! slower, * faster, ? unsure\n");
}

/*-- JSON --*/

/* Prints the names of a path, and then name, category and function of the innermost scope. */
static void print_names(const char *key)
{
    const char *last = key, *next;
    size_t length;
    printf("\"path\":[");
    while (*key) {
        last = ++key;
        tool_print_json(key, strcspn(key, "\t\n"));
        key += strcspn(key, "\n");
        if (*key) printf(",");
    }
    printf("],\"name\":");
    for (next = last, length = 0; length < 3; length++, next += *next == '\t') {
        static const char *const before[] = {"", ",\"category\":", ",\"function\":"};
        printf("%s", before[length]);
        tool_print_json(next, strcspn(next, "\t\n"));
        next += strcspn(next, "\t\n");
    }
}

static void print_change(const compare_row *row, int metric)
{
    const compare_change *change = &row->changes[metric];
    static const char *const words[] = {"same", "slower", "faster", "unsure", "new", "gone"};
    printf(",\"%s\":{\"verdict\":\"%s\"", compare_metrics[metric], words[row->verdicts[metric]]);
    if (both(row)) {
        printf(",\"ratio\":%.6g", change->ratio);
        if (change->low > 0) printf(",\"low\":%.6g", change->low);
        if (change->high < COMPARE_NEVER) printf(",\"high\":%.6g", change->high);
        if (metric == COMPARE_SHIFT) printf(",\"z\":%.3f,\"chance\":%.3g", row->z, compare_chance(row->z));
    }
    printf("}");
}

static void print_stat(const compare_row *row, int side)
{
    const compare_stat *f = &row->of[side];
    int state;
    printf(",\"%c\":{\"recordings\":%lu,\"calls\":%.1f,\"p50_ns\":%.0f,\"p99_ns\":%.0f,\"max_ns\":%.0f,"
           "\"total_ns\":%.0f",
           "ab"[side], (unsigned long)row->runs[side], f->calls, f->p50_ns, f->p99_ns, f->max_ns, f->total_ns);
    for (state = 0; state < COMPARE_STATES && has_states(f); state++)
        printf(",\"%s_ns\":%.0f", states[state], f->states_ns[state]);
    printf("}");
}

static int failed(const compare_result *result)
{
    size_t i;
    for (i = 0; i < result->count; i++)
        if (result->rows[i].failed) return 1;
    return 0;
}

/* Prints all rows, with or without --all, because programs can choose themselves. */
void compare_print_json(const compare_result *result)
{
    size_t i;
    int metric;
    printf("{\"recordings_a\":%lu,\"recordings_b\":%lu,\"threshold_percent\":%.6g,\"fail_over_percent\":%.6g,\n"
           "\"failed\":%s,\"%s\":[",
           (unsigned long)result->runs[0], (unsigned long)result->runs[1], result->threshold * 100,
           result->fail_over * 100, failed(result) ? "true" : "false", result->by_path ? "paths" : "scopes");
    for (i = 0; i < result->count; i++) {
        const compare_row *row = &result->rows[i];
        printf("%s\n{", i ? "," : "");
        print_names(row->key);
        printf(",\"line\":%lu,\"failed\":%s", (unsigned long)row->line, row->failed ? "true" : "false");
        print_stat(row, 0);
        print_stat(row, 1);
        for (metric = 0; metric < COMPARE_METRICS; metric++) print_change(row, metric);
        printf("}");
    }
    printf("\n]}\n");
}

/*-- Markdown --*/

static void print_markdown_row(const compare_row *row)
{
    char text[1000];
    int side, metric;
    path_text(row->key, text, sizeof text);
    printf("| ");
    print_code(text);
    printf(" | %s%s%s |", row->failed ? "**" : "", compare_verdicts[row->verdicts[COMPARE_SHIFT]],
           row->failed ? "**" : "");
    printf(" %s", both(row) ? percent_text(text, row->changes[COMPARE_SHIFT].ratio, 1) : "-");
    printf(" %s |", both(row) ? margin_text(text, &row->changes[COMPARE_SHIFT]) : "");
    for (side = 0; side < 2; side++)
        printf(" %s |", row->of[side].calls > 0 ? tool_ns(text, row->of[side].p50_ns) : "-");
    for (metric = COMPARE_P99; metric < COMPARE_METRICS; metric++) {
        static const char *const words[] = {"", " SLOWER", " faster", " ?", "", ""};
        printf(" %s%s |", both(row) ? percent_text(text, row->changes[metric].ratio, 0) : "-",
               both(row) ? words[row->verdicts[metric]] : "");
    }
    printf(" %.0f | %.0f |\n", row->of[0].calls, row->of[1].calls);
}

/* Prints a line of a list, which begins after an empty line. */
static void print_markdown_growth(const compare_row *row)
{
    char text[1000], growth[300];
    if (!growth_text(growth, sizeof growth, row)) return;
    path_text(row->key, text, sizeof text);
    printf("\n- a mean call of ");
    print_code(text);
    printf(": %s\n", growth);
}

void compare_print_markdown(const compare_result *result)
{
    size_t i;
    printf("**prof compare**: ");
    print_counts(result);
    if (result->runs[0] > 1 || result->runs[1] > 1)
        printf("(%lu recordings against %lu)\n", (unsigned long)result->runs[0], (unsigned long)result->runs[1]);
    if (count_shown(result)) {
        printf("\n");
        print_side(result, 0, print_code);
        printf("; ");
        print_side(result, 1, print_code);
        printf("\n\n| %s | | a call | p50 A | p50 B | p99 | max | total | calls A | calls B |\n"
               "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|\n",
               result->by_path ? "call path" : "scope");
    }
    for (i = 0; i < result->count; i++)
        if (result->all || speaks(&result->rows[i])) print_markdown_row(&result->rows[i]);
    for (i = 0; i < result->count; i++)
        if (result->all || speaks(&result->rows[i])) print_markdown_growth(&result->rows[i]);
}
