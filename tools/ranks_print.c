/* ranks_print.c - prof stragglers: which rank of a job is late, where, and who waits for it; which one has ended or
   hangs; whose clock is off. prof steps of several recordings: the slowest steps, which rank was last, and why. */
#include "ranks.h"
#include "why.h"
#include <stdlib.h>
#include <string.h>

static const tool_option options[] = {
    {"--name", "-s", "NAME", "the steps with this name; default: the most frequent"},
    {"--format", "-f", "KIND", "text (default) or json"},
    TOOL_OFFSET,
    {"--align", NULL, "HOW", "clock (default): by clocks and their offsets; step: also by the ends of collectives"},
    TOOL_COLUMNS,
    TOOL_PROGRESS,
    {NULL, NULL, NULL, NULL}};

static const char *const formats[] = {"text", "json", NULL};
const char *const ranks_alignments[] = {"clock", "step", NULL};

#define OFTEN 0.1            /* a rank is a straggler if it was late in so many of its steps */
#define CLOCK_OFF 1000000.0  /* a clock is off by a millisecond, if that is also */
#define CLOCK_STEPS 0.05     /* a part of a step */
#define CLOCK_NOISE 0.01     /* collectives end at the same time, up to this part of a step */
#define CLOCK_RATE 2e-6      /* or if it runs by so much too fast */
#define HANGS 3              /* a rank hangs if it is in a scope for so many steps */

/*-- what both commands have --*/

/* "8 ranks of job 4711 on 2 hosts" */
static void print_head(const ranks *all, size_t steps, double median_ns)
{
    char number[48], time[48], line[600];
    snprintf(line, sizeof line, "%lu ranks", (unsigned long)all->count);
    if (*all->job) why_add(line, sizeof line, " of job %s", all->job);
    if (all->hosts) why_add(line, sizeof line, " on %lu host%s", (unsigned long)all->hosts, all->hosts > 1 ? "s" : "");
    why_add(line, sizeof line, "; %s: %s step%s, median %s", all->scopes[all->step], tool_count(number, steps),
            steps == 1 ? "" : "s", tool_ns(time, median_ns));
    why_say(0, "%s", line);
    if (all->cut) why_say(0, "Only the newest steps are compared: there are too many.");
}

static const char *rank_of(const ranks *all, size_t rank, char *to, size_t size)
{
    const rank_one *one = &all->items[rank];
    int is_rank = one->name[0] >= '0' && one->name[0] <= '9';
    snprintf(to, size, "%s%.300s", is_rank ? "rank " : "", one->name);
    if (*one->host && is_rank) why_add(to, size, " (%s)", one->host);
    return to;
}

static int clock_is_off(const ranks *all, size_t rank, double median_ns)
{
    const rank_one *one = &all->items[rank];
    double off = one->clock_ns < 0 ? -(double)one->clock_ns : (double)one->clock_ns;
    double rate = one->clock_rate < 0 ? -one->clock_rate : one->clock_rate;
    if (one->clock_noise > CLOCK_NOISE * median_ns) return 0; /* the ranks do not wait for each other */
    return (off > CLOCK_OFF && off > CLOCK_STEPS * median_ns) || rate > CLOCK_RATE;
}

static void add_time(char *to, size_t size, int64_t ns)
{
    char time[48];
    why_add(to, size, "%s", tool_ns(time, ns < 0 ? -(double)ns : (double)ns));
}

/* "its clock is 3.015 s behind and runs 50.0 ppm fast" */
static void say_clock(const rank_one *one, char *to, size_t size)
{
    double ppm = one->clock_rate * 1e6;
    *to = 0;
    if (one->clock_ns) {
        why_add(to, size, "its clock is ");
        add_time(to, size, one->clock_ns);
        why_add(to, size, " %s", one->clock_ns < 0 ? "behind" : "ahead");
    }
    if (ppm > CLOCK_RATE * 1e6 || ppm < -CLOCK_RATE * 1e6)
        why_add(to, size, "%s runs %.1f ppm %s", *to ? " and" : "its clock", ppm < 0 ? -ppm : ppm,
                ppm < 0 ? "slow" : "fast");
}

static void print_clocks(const ranks *all, double median_ns, int corrected)
{
    char who[400], line[300];
    size_t i, off = 0;
    for (i = 0; i < all->count; i++) {
        if (!clock_is_off(all, i, median_ns)) continue;
        off++;
        say_clock(&all->items[i], line, sizeof line);
        why_say(0, "%s: %s, by the ends of collectives", rank_of(all, i, who, sizeof who), line);
    }
    if (off && !corrected) why_say(0, "--align step puts that right; so does --offset, in prof merge, too.");
}

static void json_clocks(const ranks *all, double median_ns)
{
    size_t i, shown = 0;
    printf("],\n\"clocks\":[");
    for (i = 0; i < all->count; i++) {
        if (!clock_is_off(all, i, median_ns)) continue;
        printf("%s\n{\"rank\":", shown++ ? "," : "");
        tool_print_json(all->items[i].name, strlen(all->items[i].name));
        printf(",\"ahead_ns\":%lld,\"ppm\":%.2f}", (long long)all->items[i].clock_ns, all->items[i].clock_rate * 1e6);
    }
    printf("]}\n");
}

/* Reads the recordings and puts their times on one line. Returns the exit status. */
static int read_all(const tool_args *args, ranks *all, int *json, int *correct)
{
    int choice, columns, result;
    memset(all, 0, sizeof *all);
    if (!tool_choice("--format", tool_value(args, "--format"), formats, json)) return TOOL_ERROR;
    if (!tool_choice("--align", tool_value(args, "--align"), ranks_alignments, correct)) return TOOL_ERROR;
    if (!tool_choice("--progress", tool_value(args, "--progress"), tool_progress_choices, &choice)) return TOOL_ERROR;
    if (!tool_columns(args, &columns)) return TOOL_ERROR;
    tool_progress_begin(args->command->name, tool_value(args, "--progress"));
    result = ranks_read(args, tool_value(args, "--name"), all);
    if (result == TOOL_OK && !tool_shift_done(args)) result = TOOL_ERROR;
    if (result == TOOL_OK && !ranks_align(all, *correct)) result = tool_fail("out of memory");
    tool_progress_end();
    return result;
}

/* The durations of all steps. */
typedef struct durations {
    double *items;
    size_t count, room;
    int good;
} durations;

static void add_duration(durations *to, const rank_row *row)
{
    if (!tool_room(&to->items, &to->room, to->count, sizeof *to->items)) {
        to->good = 0;
        return;
    }
    to->items[to->count++] = row->median_ns;
}

static int by_value(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return a < b ? -1 : a > b;
}

static double median_duration(durations *all)
{
    if (all->count > 1) qsort(all->items, all->count, sizeof *all->items, by_value);
    return all->count ? all->items[(all->count - 1) / 2] : 0;
}

/*-- stragglers --*/

static void each_duration(void *user, const rank_row *row) { add_duration((durations *)user, row); }

static int is_straggler(const rank_late *late)
{
    return late->late >= 2 && (double)late->late >= OFTEN * (double)late->steps;
}

/* The order in which stragglers are named: that which costs most first. */
static size_t next_straggler(const rank_late *late, size_t count, size_t after, int first)
{
    size_t best = count, i;
    for (i = 0; i < count; i++) {
        if (!is_straggler(&late[i])) continue;
        if (!first && (late[i].lost_ns > late[after].lost_ns || (late[i].lost_ns >= late[after].lost_ns && i <= after)))
            continue;
        if (best == count || late[i].lost_ns > late[best].lost_ns) best = i;
    }
    return best;
}

static void print_straggler(const ranks *all, const rank_late *late, size_t rank)
{
    char who[400], line[1500], a[48], b[48];
    snprintf(line, sizeof line, "%s is late in %s of %s steps", rank_of(all, rank, who, sizeof who),
             tool_count(a, late->late), tool_count(b, late->steps));
    if (late->scope != RANKS_NONE) {
        why_add(line, sizeof line, ": %s takes ", all->scopes[late->scope]);
        if (late->ratio > 0) why_add(line, sizeof line, "%.1f times the median", late->ratio);
        else why_add(line, sizeof line, "%s more than in the others", tool_ns(a, late->lost_ns / (double)late->late));
    }
    if (late->wait != RANKS_NONE)
        why_add(line, sizeof line, "; the others wait %.0f %% of %s for it, %s in all", late->wait_share * 100,
                all->scopes[late->wait], tool_ns(a, late->waited_ns));
    else
        why_add(line, sizeof line, "; %s in all", tool_ns(a, late->lost_ns));
    why_say(0, "%s", line);
}

/* Returns the last step of a rank that is compared; NULL: it has none. */
static const rank_step *last_step(const rank_one *one)
{
    return one->count > one->first ? &one->steps[one->count - 1] : NULL;
}

/* Returns how many steps others did after the last one of a rank. */
static size_t steps_behind(const ranks *all, size_t rank)
{
    const rank_step *last = last_step(&all->items[rank]);
    size_t most = 0, i, k;
    for (i = 0; i < all->count; i++) {
        const rank_one *one = &all->items[i];
        for (k = one->count; k > one->first && last && one->steps[k - 1].number > last->number;) k--;
        if (one->count - k > most) most = one->count - k;
    }
    return most;
}

static int hangs(const rank_one *one, double median_ns)
{
    return one->open != RANKS_NONE && (double)one->open_ns > HANGS * median_ns;
}

/* A rank whose recording was not stopped, though it is not running any more; or that runs and hangs. */
static int has_ended(const ranks *all, size_t rank, double median_ns)
{
    const rank_one *one = &all->items[rank];
    return !one->complete && (!one->alive || hangs(one, median_ns));
}

static void print_ended(const ranks *all, size_t rank, double median_ns)
{
    const rank_one *one = &all->items[rank];
    const rank_step *last = last_step(one);
    char who[400], line[1000], time[48];
    size_t behind = steps_behind(all, rank);
    rank_of(all, rank, who, sizeof who);
    if (hangs(one, median_ns))
        snprintf(line, sizeof line, "%s hangs in %.300s, for at least %s", who, all->scopes[one->open],
                 tool_ns(time, (double)one->open_ns));
    else
        snprintf(line, sizeof line, "%s was killed, or crashed%s%.300s", who, one->open == RANKS_NONE ? "" : ", in ",
                 one->open == RANKS_NONE ? "" : all->scopes[one->open]);
    if (last) why_add(line, sizeof line, ", in step %lld", (long long)last->number);
    if (behind) why_add(line, sizeof line, "; others went on for %lu steps", (unsigned long)behind);
    why_say(0, "%s", line);
}

static void print_stragglers(const ranks *all, const rank_late *late, size_t steps, double median_ns, int correct)
{
    size_t i, found = 0, at;
    print_head(all, steps, median_ns);
    putchar('\n');
    for (at = next_straggler(late, all->count, 0, 1); at < all->count; at = next_straggler(late, all->count, at, 0)) {
        print_straggler(all, &late[at], at);
        found++;
    }
    for (i = 0; i < all->count; i++) {
        if (!has_ended(all, i, median_ns)) continue;
        print_ended(all, i, median_ns);
        found++;
    }
    if (!found) why_say(0, "No rank is often late, and none has ended before the others.");
    print_clocks(all, median_ns, correct);
}

static void json_scope(const ranks *all, const char *key, uint32_t scope)
{
    if (scope != RANKS_NONE) tool_json_text(key, all->scopes[scope]);
}

static void json_stragglers(const ranks *all, const rank_late *late, size_t steps, double median_ns)
{
    size_t i, at, shown = 0;
    printf("{\"ranks\":%lu", (unsigned long)all->count);
    if (*all->job) tool_json_text("job", all->job);
    tool_json_text("name", all->scopes[all->step]);
    tool_json_number("steps", steps);
    printf(",\"median_ns\":%.0f,\n\"stragglers\":[", median_ns);
    for (at = next_straggler(late, all->count, 0, 1); at < all->count; at = next_straggler(late, all->count, at, 0)) {
        const rank_late *one = &late[at];
        printf("%s\n{\"rank\":", shown++ ? "," : "");
        tool_print_json(all->items[at].name, strlen(all->items[at].name));
        tool_json_text("host", all->items[at].host);
        tool_json_number("late", one->late);
        tool_json_number("last", one->latest);
        tool_json_number("steps", one->steps);
        printf(",\"lost_ns\":%.0f", one->lost_ns);
        json_scope(all, "scope", one->scope);
        if (one->ratio > 0) printf(",\"ratio\":%.3f", one->ratio);
        json_scope(all, "wait", one->wait);
        if (one->wait != RANKS_NONE)
            printf(",\"wait_share\":%.4f,\"waited_ns\":%.0f", one->wait_share, one->waited_ns);
        putchar('}');
    }
    printf("],\n\"ended\":[");
    for (i = shown = 0; i < all->count; i++) {
        const rank_step *last = last_step(&all->items[i]);
        if (!has_ended(all, i, median_ns)) continue;
        printf("%s\n{\"rank\":", shown++ ? "," : "");
        tool_print_json(all->items[i].name, strlen(all->items[i].name));
        tool_json_text("host", all->items[i].host);
        printf(",\"hangs\":%s", hangs(&all->items[i], median_ns) ? "true" : "false");
        json_scope(all, "scope", all->items[i].open);
        if (all->items[i].open != RANKS_NONE) tool_json_number("open_ns", (uint64_t)all->items[i].open_ns);
        if (last) printf(",\"step\":%lld", (long long)last->number);
        printf(",\"behind\":%lu}", (unsigned long)steps_behind(all, i));
    }
    json_clocks(all, median_ns);
}

static int run(const tool_args *args)
{
    ranks all;
    durations lasted = {NULL, 0, 0, 1};
    rank_late *late = NULL;
    double median_ns;
    int json, correct, result = read_all(args, &all, &json, &correct);
    if (result == TOOL_OK) {
        late = (rank_late *)calloc(all.count, sizeof *late);
        if (!late || !ranks_compare(&all, each_duration, &lasted, late) || !lasted.good)
            result = tool_fail("out of memory");
    }
    if (result == TOOL_OK) {
        size_t steps = lasted.count;
        median_ns = median_duration(&lasted);
        if (json) json_stragglers(&all, late, steps, median_ns);
        else print_stragglers(&all, late, steps, median_ns, correct);
    }
    free(late);
    free(lasted.items);
    ranks_free(&all);
    return result;
}

const tool_command tool_stragglers = {
    "stragglers", "IN IN ...", "Says which rank of a job is late, in which scope, who waits for it, which one hangs",
    2, 10000, run, options,
    "Compares the steps of PROFILE_STEP by their numbers. A rank is late in a step if it took 5 % more than the\n"
    "median of all ranks, without the collectives and receives in which it waited itself; a straggler is late in a\n"
    "tenth of its steps or more. Named is the scope in which most of that time was. The others wait for it as long as\n"
    "their collectives take longer than the shortest one. Scopes that wait are known by their names (MPI_Allreduce,\n"
    "all_reduce, ncclAllGather, MPI_Recv, ...), by the category \"wait\", or by PROF_WRAP_WAITS. Also named: ranks\n"
    "whose recordings were not stopped, with the scope in which they were killed, or hang; and clocks that are off,\n"
    "because collectives end at the same time in all ranks.\n\n"
    "example: prof stragglers rank-*.prof\n"};

/*-- steps --*/

typedef struct kept {
    int64_t number, longest_ns, skew_begin, skew_end;
    double value, median, scope_ns, scope_median;
    size_t latest, present;
    uint32_t scope;
} kept;

typedef struct slowest {
    durations lasted;
    kept *items;
    size_t count, most;
} slowest;

/* Keeps the slowest steps, the slowest one first. */
static void each_step(void *user, const rank_row *row)
{
    slowest *to = (slowest *)user;
    size_t at = to->count;
    kept *one;
    add_duration(&to->lasted, row);
    while (at && to->items[at - 1].longest_ns < row->longest_ns) at--;
    if (at == to->most) return;
    if (to->count < to->most) to->count++;
    memmove(&to->items[at + 1], &to->items[at], (to->count - at - 1) * sizeof *to->items);
    one = &to->items[at];
    one->number = row->number;
    one->longest_ns = row->longest_ns;
    one->skew_begin = row->skew_begin;
    one->skew_end = row->skew_end;
    one->value = row->value;
    one->median = row->median;
    one->scope_ns = row->scope_ns;
    one->scope_median = row->scope_median;
    one->latest = row->latest;
    one->present = row->present;
    one->scope = row->scope;
}

static void say_scope(const ranks *all, const kept *one, char *to, size_t size)
{
    char time[48];
    *to = 0;
    if (one->value <= one->median * 1.01 || one->scope == RANKS_NONE) return;
    why_add(to, size, "%s took %s", all->scopes[one->scope], tool_ns(time, one->scope_ns));
    if (one->scope_median > 0) why_add(to, size, ", %.1f times the median", one->scope_ns / one->scope_median);
}

static void print_steps(const ranks *all, const slowest *found, double median_ns, int correct)
{
    char took[48], begin[48], end[48], times[32], why[700];
    size_t i;
    print_head(all, found->lasted.count, median_ns);
    printf("\n%10s %11s %8s %10s %10s  %-8s  %s\n", "number", "took", "x median", "skew begin", "skew end", "slowest",
           "why");
    for (i = 0; i < found->count; i++) {
        const kept *one = &found->items[i];
        snprintf(times, sizeof times, "%.2f", median_ns > 0 ? (double)one->longest_ns / median_ns : 0);
        printf("%10lld %11s %8s %10s %10s  ", (long long)one->number, tool_ns(took, (double)one->longest_ns), times,
               tool_ns(begin, (double)one->skew_begin), tool_ns(end, (double)one->skew_end));
        tool_print_name(all->items[one->latest].name, 8);
        printf("  ");
        say_scope(all, one, why, sizeof why);
        tool_print_wrapped(why, 64, 66);
        putchar('\n');
    }
    putchar('\n');
    print_clocks(all, median_ns, correct);
    why_say(0, "prof stragglers says which rank is late most often.");
}

static void json_steps(const ranks *all, const slowest *found, double median_ns)
{
    size_t i;
    printf("{\"ranks\":%lu", (unsigned long)all->count);
    tool_json_text("name", all->scopes[all->step]);
    tool_json_text("kind", "step");
    tool_json_number("count", found->lasted.count);
    printf(",\"median_ns\":%.0f,\n\"slowest\":[", median_ns);
    for (i = 0; i < found->count; i++) {
        const kept *one = &found->items[i];
        printf("%s\n{\"number\":%lld,\"wall_ns\":%lld,\"ranks\":%lu", i ? "," : "", (long long)one->number,
               (long long)one->longest_ns, (unsigned long)one->present);
        tool_json_text("rank", all->items[one->latest].name);
        printf(",\"skew_begin_ns\":%lld,\"skew_end_ns\":%lld", (long long)one->skew_begin, (long long)one->skew_end);
        json_scope(all, "scope", one->scope);
        if (one->scope != RANKS_NONE)
            printf(",\"scope_ns\":%.0f,\"scope_median_ns\":%.0f", one->scope_ns, one->scope_median);
        putchar('}');
    }
    json_clocks(all, median_ns);
}

int ranks_steps(const tool_args *args, size_t most)
{
    ranks all;
    slowest found;
    rank_late *late = NULL;
    int json, correct, result = read_all(args, &all, &json, &correct);
    memset(&found, 0, sizeof found);
    found.most = most;
    found.lasted.good = 1;
    if (result == TOOL_OK) {
        late = (rank_late *)calloc(all.count, sizeof *late);
        found.items = (kept *)calloc(most + 1, sizeof *found.items);
        if (!late || !found.items || !ranks_compare(&all, each_step, &found, late) || !found.lasted.good)
            result = tool_fail("out of memory");
    }
    if (result == TOOL_OK) {
        double median_ns = median_duration(&found.lasted);
        if (json) json_steps(&all, &found, median_ns);
        else print_steps(&all, &found, median_ns, correct);
    }
    free(late);
    free(found.items);
    free(found.lasted.items);
    ranks_free(&all);
    return result;
}
