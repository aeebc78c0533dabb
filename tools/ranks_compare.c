/* ranks_compare.c - compares ranks step by step: which one was late, in which scope, and who waited for it; and finds
   out by collectives, which end for all at the same time, how far the clocks of the ranks are apart. */
#include "ranks.h"
#include <stdlib.h>
#include <string.h>

#define CLOCK_MOST 0.01 /* no clock is so much too fast */
#define LATE 0.05 /* a rank is late in a step in which it took so much more than the median */

static int by_value(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return a < b ? -1 : a > b;
}

/* Returns the median, the lower one of an even number. Sorts the values. */
static double median_of(double *values, size_t count)
{
    if (count > 1) qsort(values, count, sizeof *values, by_value);
    return count ? values[(count - 1) / 2] : 0;
}

/*-- steps of all ranks --*/

/* Goes through the steps of all ranks by their numbers. */
typedef struct walk {
    const ranks *all;
    size_t *at;              /* of each rank: its next step */
    const rank_step **of;
    double *values;          /* room for one of each rank */
} walk;

static int walk_begin(walk *w, const ranks *all)
{
    size_t i;
    w->all = all;
    w->at = (size_t *)malloc(all->count * sizeof *w->at);
    w->of = (const rank_step **)malloc(all->count * sizeof *w->of);
    w->values = (double *)malloc(all->count * sizeof *w->values);
    for (i = 0; w->at && i < all->count; i++) w->at[i] = all->items[i].first;
    return w->at && w->of && w->values;
}

static void walk_end(walk *w)
{
    free(w->at);
    free(w->of);
    free(w->values);
}

static int before(const rank_step *a, const rank_step *b)
{
    return a->number != b->number ? a->number < b->number : a->turn < b->turn;
}

/* Finds the next step: sets w->of, and *present to how many ranks have all of it. Returns 0 after the last one. */
static int walk_next(walk *w, size_t *present)
{
    const rank_step *least = NULL;
    size_t i;
    *present = 0;
    for (i = 0; i < w->all->count; i++) {
        const rank_one *one = &w->all->items[i];
        w->of[i] = w->at[i] < one->count ? &one->steps[w->at[i]] : NULL;
        if (w->of[i] && (!least || before(w->of[i], least))) least = w->of[i];
    }
    if (!least) return 0;
    for (i = 0; i < w->all->count; i++) {
        if (w->of[i] && before(least, w->of[i])) w->of[i] = NULL;
        if (w->of[i]) w->at[i]++;
        *present += w->of[i] && !w->of[i]->flags;
    }
    return 1;
}

/*-- clocks --*/

/* How far the clock of a rank is ahead of the median, at many times. */
typedef struct deviations {
    double *times, *values, *spare;
    size_t count, room;
} deviations;

static int deviate(deviations *to, double time, double value)
{
    size_t a = to->room, b = to->room;
    if (!tool_room(&to->times, &a, to->count, sizeof *to->times)) return 0;
    if (!tool_room(&to->values, &b, to->count, sizeof *to->values)) return 0;
    if (!tool_room(&to->spare, &to->room, to->count, sizeof *to->spare)) return 0;
    to->times[to->count] = time;
    to->values[to->count++] = value;
    return 1;
}

static double median_part(const deviations *d, const double *from, size_t first, size_t count)
{
    memcpy(d->spare, from + first, count * sizeof *from);
    return median_of(d->spare, count);
}

/* Returns how far values are from a line, as a median. */
static double noise_of(const deviations *d, double from, double begin, double rate)
{
    size_t i;
    for (i = 0; i < d->count; i++) {
        double off = d->values[i] - from - rate * (d->times[i] - begin);
        d->spare[i] = off < 0 ? -off : off;
    }
    return median_of(d->spare, d->count);
}

/* Sets the clock of a rank: a line through the medians of the first and of the last third. It is flat unless these
   differ by far more than single values do. */
static void find_clock(rank_one *one, const deviations *d)
{
    size_t third = d->count / 3;
    double rate, noise, from, to, begin;
    if (!d->count) return;
    one->clock_at = (int64_t)d->times[0];
    from = median_part(d, d->values, 0, d->count);
    one->clock_ns = (int64_t)from;
    one->clock_noise = noise_of(d, from, 0, 0);
    if (third < 4) return;
    begin = median_part(d, d->times, 0, third);
    from = median_part(d, d->values, 0, third);
    to = median_part(d, d->values, d->count - third, third);
    rate = (to - from) / (median_part(d, d->times, d->count - third, third) - begin);
    if (rate > CLOCK_MOST || rate < -CLOCK_MOST) {
        one->clock_noise = (double)INT64_MAX; /* the ranks do not wait for each other */
        return;
    }
    noise = noise_of(d, from, begin, rate);
    if (to - from < 4 * noise + 1000 && from - to < 4 * noise + 1000) return;
    one->clock_rate = rate;
    one->clock_noise = noise;
    one->clock_ns = (int64_t)(from + rate * (d->times[0] - begin));
}

/* Collects how far the ends of collectives are from their median over the ranks. */
static int find_clocks(ranks *all, deviations *of)
{
    walk w;
    size_t present, i, used;
    int good = walk_begin(&w, all);
    while (good && walk_next(&w, &present)) {
        double middle;
        if (present < 2) continue;
        for (i = used = 0; i < all->count; i++)
            if (w.of[i] && !w.of[i]->flags) w.values[used++] = (double)w.of[i]->sync_ns;
        middle = median_of(w.values, used);
        for (i = 0; good && i < all->count; i++)
            if (w.of[i] && !w.of[i]->flags) good = deviate(&of[i], middle, (double)w.of[i]->sync_ns - middle);
    }
    walk_end(&w);
    for (i = 0; good && i < all->count; i++) find_clock(&all->items[i], &of[i]);
    return good;
}

static int64_t corrected(const rank_one *one, int64_t ns)
{
    return ns - one->clock_ns - (int64_t)(one->clock_rate * (double)(ns - one->clock_at));
}

int ranks_align(ranks *all, int correct)
{
    deviations *of = (deviations *)calloc(all->count, sizeof *of);
    size_t i, k;
    int good = of != NULL;
    for (i = 0; i < all->count; i++)
        for (k = 0; k < all->items[i].count; k++) {
            rank_step *step = &all->items[i].steps[k];
            step->start_ns += all->offsets[all->items[i].file];
            step->end_ns += all->offsets[all->items[i].file];
            step->sync_ns += all->offsets[all->items[i].file];
        }
    if (good && all->waiting) good = find_clocks(all, of);
    for (i = 0; good && i < all->count; i++) {
        rank_one *one = &all->items[i];
        for (k = 0; correct && k < one->count; k++) {
            one->steps[k].start_ns = corrected(one, one->steps[k].start_ns);
            one->steps[k].end_ns = corrected(one, one->steps[k].end_ns);
            one->steps[k].sync_ns = corrected(one, one->steps[k].sync_ns);
        }
        free(of[i].times);
        free(of[i].values);
        free(of[i].spare);
    }
    free(of);
    return good;
}

/*-- who is late --*/

/* What is added up of a rank that is late. */
typedef struct sums {
    double *more, *own, *median; /* of each scope: how much more than the median it took; both; NULL: never late */
    double *waited;              /* of each scope: how long others waited in it for this rank */
} sums;

typedef struct comparing {
    const ranks *all;
    walk w;
    double *row;             /* of one scope: its time in each rank */
    float *matrix;           /* of the step: for each scope its time in each rank */
    double *in_waits;        /* of each scope: all its time, in all steps */
    double **own_waits;      /* of each rank */
    sums *of;
    rank_late *late;
} comparing;

static double value_of(const ranks *all, const rank_one *one, const rank_step *step)
{
    double value = (double)(step->end_ns - step->start_ns);
    size_t i;
    for (i = step->first; i < step->first + step->cells; i++)
        if (all->waits[one->cells[i].scope]) value -= one->cells[i].ns;
    return value;
}

static void fill_matrix(comparing *c)
{
    size_t ranks_count = c->all->count, i, k;
    memset(c->matrix, 0, c->all->scope_count * ranks_count * sizeof *c->matrix);
    for (i = 0; i < ranks_count; i++) {
        const rank_one *one = &c->all->items[i];
        const rank_step *step = c->w.of[i];
        for (k = 0; step && !step->flags && k < step->cells; k++)
            c->matrix[one->cells[step->first + k].scope * ranks_count + i] = one->cells[step->first + k].ns;
    }
}

/* Returns the median of a scope over the ranks that have the step. */
static double scope_median(comparing *c, uint32_t scope)
{
    size_t i, used = 0;
    for (i = 0; i < c->all->count; i++)
        if (c->w.of[i] && !c->w.of[i]->flags) c->row[used++] = c->matrix[scope * c->all->count + i];
    return median_of(c->row, used);
}

static int sums_begin(comparing *c, size_t rank)
{
    sums *s = &c->of[rank];
    size_t count = c->all->scope_count;
    if (s->more) return 1;
    s->more = (double *)calloc(count, sizeof *s->more);
    s->own = (double *)calloc(count, sizeof *s->own);
    s->median = (double *)calloc(count, sizeof *s->median);
    s->waited = (double *)calloc(count, sizeof *s->waited);
    return s->more && s->own && s->median && s->waited;
}

/* Finds the scope of a rank that took most more than the median. add: 1: adds to the sums of the rank. */
static int find_scope(comparing *c, rank_row *row, size_t rank, int add)
{
    const rank_one *one = &c->all->items[rank];
    const rank_step *step = c->w.of[rank];
    size_t i;
    double most = 0;
    if (add && !sums_begin(c, rank)) return 0;
    row->scope = RANKS_NONE;
    for (i = step->first; i < step->first + step->cells; i++) {
        uint32_t scope = one->cells[i].scope;
        double own = one->cells[i].ns, median, more;
        if (c->all->waits[scope]) continue;
        median = scope_median(c, scope);
        more = own - median;
        if (more > most) most = more, row->scope = scope, row->scope_ns = own, row->scope_median = median;
        if (!add) continue;
        c->of[rank].more[scope] += more;
        c->of[rank].own[scope] += own;
        c->of[rank].median[scope] += median;
    }
    return 1;
}

/* Adds how long the others waited for a rank: for as long as they were in a collective longer than the shortest. */
static void add_waits(comparing *c, size_t rank)
{
    size_t count = c->all->count, i;
    uint32_t scope;
    for (scope = 0; scope < c->all->scope_count; scope++) {
        const float *row = c->matrix + scope * count;
        double shortest = -1;
        if (!c->all->waits[scope]) continue;
        for (i = 0; i < count; i++)
            if (c->w.of[i] && !c->w.of[i]->flags && (shortest < 0 || row[i] < shortest)) shortest = row[i];
        for (i = 0; i < count; i++)
            if (i != rank && c->w.of[i] && !c->w.of[i]->flags) c->of[rank].waited[scope] += row[i] - shortest;
    }
}

/* Adds up the time in collectives. */
static int count_waits(comparing *c)
{
    size_t count = c->all->count, i;
    uint32_t scope;
    for (i = 0; i < count; i++)
        if (!c->own_waits[i] && !(c->own_waits[i] = (double *)calloc(c->all->scope_count, sizeof(double)))) return 0;
    for (scope = 0; scope < c->all->scope_count; scope++)
        for (i = 0; c->all->waits[scope] && i < count; i++) {
            c->in_waits[scope] += c->matrix[scope * count + i];
            c->own_waits[i][scope] += c->matrix[scope * count + i];
        }
    return 1;
}

/* Fills in the row of a step that several ranks have. */
static void measure(comparing *c, rank_row *row)
{
    int64_t begins[2] = {INT64_MAX, INT64_MIN}, ends[2] = {INT64_MAX, INT64_MIN};
    size_t i, used = 0;
    row->value = -1;
    row->longest_ns = 0;
    for (i = 0; i < c->all->count; i++) {
        const rank_step *step = c->w.of[i];
        double value;
        if (!step || step->flags) continue;
        value = value_of(c->all, &c->all->items[i], step);
        if (value > row->value) row->value = value, row->latest = i;
        if (step->end_ns - step->start_ns > row->longest_ns) row->longest_ns = step->end_ns - step->start_ns;
        c->w.values[used++] = value;
        if (step->start_ns < begins[0]) begins[0] = step->start_ns;
        if (step->start_ns > begins[1]) begins[1] = step->start_ns;
        if (step->end_ns < ends[0]) ends[0] = step->end_ns;
        if (step->end_ns > ends[1]) ends[1] = step->end_ns;
    }
    row->median = median_of(c->w.values, used);
    for (i = used = 0; i < c->all->count; i++)
        if (c->w.of[i] && !c->w.of[i]->flags)
            c->w.values[used++] = (double)(c->w.of[i]->end_ns - c->w.of[i]->start_ns);
    row->median_ns = median_of(c->w.values, used);
    row->skew_begin = begins[1] - begins[0];
    row->skew_end = ends[1] - ends[0];
}

/* Compares the ranks in the step that the walk has reached. */
static int compare_step(comparing *c, rank_row *row)
{
    const ranks *all = c->all;
    rank_row other = *row;
    size_t i;
    measure(c, row);
    fill_matrix(c);
    if (!count_waits(c)) return 0;
    for (i = 0; i < all->count; i++) {
        rank_late *late = &c->late[i];
        double value, more;
        if (!c->w.of[i] || c->w.of[i]->flags) continue;
        late->steps++;
        value = value_of(all, &all->items[i], c->w.of[i]);
        more = value - row->median;
        if (more <= row->median * LATE) continue;
        late->late++;
        late->lost_ns += more;
        if (!find_scope(c, &other, i, 1)) return 0;
        if (i != row->latest) continue;
        late->latest++;
        add_waits(c, i);
    }
    return find_scope(c, row, row->latest, 0);
}

/* Says in which scope a rank was late, and who waited for it. */
static void conclude(comparing *c, size_t rank)
{
    rank_late *late = &c->late[rank];
    const sums *s = &c->of[rank];
    double most = 0;
    uint32_t scope;
    late->scope = late->wait = RANKS_NONE;
    for (scope = 0; s->more && scope < c->all->scope_count; scope++) {
        double others = c->in_waits[scope] - (c->own_waits[rank] ? c->own_waits[rank][scope] : 0);
        if (s->more[scope] > most) most = s->more[scope], late->scope = scope;
        if (s->waited[scope] > late->waited_ns) {
            late->waited_ns = s->waited[scope];
            late->wait = scope;
            late->wait_share = others > 0 ? s->waited[scope] / others : 0;
        }
    }
    if (late->scope != RANKS_NONE && s->median[late->scope] > 0)
        late->ratio = s->own[late->scope] / s->median[late->scope];
}

static int compare_all(comparing *c, void (*each)(void *user, const rank_row *row), void *user)
{
    rank_row row;
    size_t present;
    while (walk_next(&c->w, &present)) {
        size_t i = 0;
        memset(&row, 0, sizeof row);
        while (!c->w.of[i]) i++;
        row.number = c->w.of[i]->number;
        row.of = c->w.of;
        row.present = present;
        row.scope = RANKS_NONE;
        if (present < 2) continue;
        if (!compare_step(c, &row)) return 0;
        if (each) each(user, &row);
    }
    return 1;
}

int ranks_compare(const ranks *all, void (*each)(void *user, const rank_row *row), void *user, rank_late *late)
{
    comparing c;
    size_t i, cells = all->scope_count * all->count;
    int good;
    memset(&c, 0, sizeof c);
    c.all = all;
    c.late = late;
    c.row = (double *)malloc((all->count + 1) * sizeof *c.row);
    c.matrix = (float *)malloc((cells + 1) * sizeof *c.matrix);
    c.in_waits = (double *)calloc(all->scope_count + 1, sizeof *c.in_waits);
    c.own_waits = (double **)calloc(all->count, sizeof *c.own_waits);
    c.of = (sums *)calloc(all->count, sizeof *c.of);
    good = walk_begin(&c.w, all) && c.row && c.matrix && c.in_waits && c.own_waits && c.of;
    good = good && compare_all(&c, each, user);
    for (i = 0; good && i < all->count; i++) conclude(&c, i);
    for (i = 0; i < all->count; i++) {
        if (c.own_waits) free(c.own_waits[i]);
        if (!c.of) continue;
        free(c.of[i].more);
        free(c.of[i].own);
        free(c.of[i].median);
        free(c.of[i].waited);
    }
    walk_end(&c.w);
    free(c.row);
    free(c.matrix);
    free(c.in_waits);
    free(c.own_waits);
    free(c.of);
    return good;
}
