/* The arithmetic of prof compare: estimates and intervals of known data; and how often it raises a false alarm and how
   often it misses, over many pairs of recordings made by a generator, whose true shift is known. PROF_TEST_LONG=1:
   1,000 pairs of each kind, which is what docs/guide/compare.md states, and prints the rates; else 40. */
/* run: traces */
#include "../tools/compare.h"
#include "../tools/compare_stats.c"
#include "test.h"

static uint64_t random_state;

static double uniform(void) /* 0 <= u < 1 */
{
    uint64_t z = random_state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return (double)((z ^ z >> 31) >> 11) / 9007199254740992.0;
}

static double normal(void)
{
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += uniform();
    return sum;
}

/* Skewed, with a heavy tail: from 1.0 to 5.9 us, half of them below 1.1. */
static double skewed(void) { return 900 + 100 / (uniform() + 0.02); }

/*-- one side of a pair --*/

#define CALLS_MAX 4000

typedef struct recorded {
    compare_call calls[CALLS_MAX];
    compare_step steps[CALLS_MAX];
    compare_sample sample;
    compare_steps distribution;
    double mean, deviation, p99;
} recorded;

static int by_ns(const void *a, const void *b)
{
    double x = ((const compare_step *)a)->ns, y = ((const compare_step *)b)->ns;
    return x < y ? -1 : x > y;
}

/* As a recording has them: whole nanoseconds. */
static void add(recorded *r, double ns)
{
    size_t at = r->sample.count++;
    r->calls[at].start_ns = (int64_t)at;
    r->calls[at].ns = (double)(int64_t)(ns > 0 ? ns : 0);
}

static void begin(recorded *r)
{
    memset(r, 0, sizeof *r);
    r->sample.calls = r->calls;
    r->distribution.steps = r->steps;
}

static void finish(recorded *r)
{
    double sum = 0, squares = 0, n = (double)r->sample.count;
    for (size_t i = 0; i < r->sample.count; ++i) {
        r->steps[i].ns = r->calls[i].ns;
        r->steps[i].count = 1;
        sum += r->calls[i].ns;
        squares += r->calls[i].ns * r->calls[i].ns;
    }
    qsort(r->steps, r->sample.count, sizeof *r->steps, by_ns);
    r->distribution.count = r->sample.count;
    r->distribution.calls = r->sample.count;
    r->mean = sum / n;
    r->deviation = root_of(squares / n - r->mean * r->mean);
    r->p99 = time_at(&r->distribution, 0.99 * n);
}

/*-- kinds of recordings. after: 1 for the second of a pair --*/

typedef struct kind {
    const char *name;
    double shift; /* 0.1: a typical call takes 10 % longer afterwards */
    size_t calls;
    double (*call)(const struct kind *kind, int after, size_t number);
    /* Limits, percent of the pairs: alarms and misses of a typical call and of p99; -1: not looked at. */
    double call_slower_least, call_slower_most, p99_slower_least, p99_slower_most, faster_most;
} kind;

static double plain(const kind *k, int after, size_t number)
{
    (void)number;
    return skewed() * (after ? 1 + k->shift : 1);
}

/* Three calls of each recording lose the processor for a millisecond. */
static double preempted(const kind *k, int after, size_t number)
{
    return plain(k, after, number) + (number % (k->calls / 3) == 50 ? 1e6 * (1 + 3 * uniform()) : 0);
}

/* A cache that hits every other time. */
static double two_populations(const kind *k, int after, size_t number)
{
    return plain(k, after, number) * (uniform() < 0.5 ? 1 : 20);
}

/* Two calls of a hundred take five times as long afterwards. */
static double tail(const kind *k, int after, size_t number)
{
    return plain(k, after, number) * (after && uniform() < 0.02 ? 5 : 1);
}

/* Another program takes its share now and then: some tenths of a recording are up to half slower. */
static double disturbed(const kind *k, int after, size_t number)
{
    static double factor;
    if (number % (k->calls / TENTHS) == 0) factor = uniform() < 0.3 ? 1 + uniform() / 2 : 1;
    return plain(k, after, number) * factor;
}

/* As a clock of 1 MHz tells it: a few microseconds. */
static double coarse(const kind *k, int after, size_t number)
{
    return (double)(int64_t)(plain(k, after, number) * 5 / 1000 + uniform()) * 1000;
}

static const kind kinds[] = {
    {"the same", 0, 300, plain, 0, 0.1, 0, 0.5, 0.1},
    {"3 % slower", 0.03, 300, plain, 0, 1, 0, 0.5, 0.1},
    {"10 % slower", 0.1, 300, plain, 88, 100, 0, 100, 0},
    {"30 % slower", 0.3, 300, plain, 100, 100, 0, 100, 0},
    {"preempted, the same", 0, 300, preempted, 0, 0.1, 0, 0.5, 0.1},
    {"preempted, 30 % slower", 0.3, 300, preempted, 100, 100, 0, 100, 0},
    {"two populations, the same", 0, 300, two_populations, 0, 1, 0, 1, 1},
    {"two populations, 30 % slower", 0.3, 300, two_populations, 90, 100, 0, 100, 0},
    {"tail, the same", 0, 3000, plain, 0, 0.1, 0, 1, 1},
    {"slower tail only", 0, 3000, tail, 0, 0.1, 92, 100, 0.1},
    {"disturbed, the same", 0, 1000, disturbed, 0, 1, 0, 1.5, 1},
    {"disturbed, 30 % slower", 0.3, 1000, disturbed, 60, 100, 0, 100, 0.1},
    {"coarse clock, the same", 0, 300, coarse, 0, 0.5, 0, 1, 0.5},
    {"coarse clock, 30 % slower", 0.3, 300, coarse, 99, 100, 0, 100, 0},
};

static int pairs(void)
{
    const char *text = getenv("PROF_TEST_LONG");
    return text && *text && strcmp(text, "0") ? 1000 : 40;
}

static void make(const kind *k, int after, recorded *r)
{
    begin(r);
    for (size_t i = 0; i < k->calls; ++i) add(r, k->call(k, after, i));
    finish(r);
}

/* How many of so many pairs got which verdict. */
typedef struct tally {
    int verdicts[COMPARE_METRICS][COMPARE_GONE + 1];
    int outside; /* intervals of a typical call that miss the true shift */
} tally;

static void compare_pair(const kind *k, tally *t)
{
    static recorded a, b;
    compare_change changes[COMPARE_METRICS];
    double z, da, db, ma, mb;
    make(k, 0, &a);
    make(k, 1, &b);
    CHECK(compare_shift(&a.sample, &b.sample, &changes[COMPARE_SHIFT], &z));
    da = compare_dispersion(&a.sample, a.p99);
    db = compare_dispersion(&b.sample, b.p99);
    changes[COMPARE_P99] = compare_quantile(&a.distribution, &b.distribution, 0.99, da > db ? da : db);
    changes[COMPARE_MAX] = compare_max(&a.distribution, &b.distribution);
    ma = compare_mean_dispersion(&a.sample);
    mb = compare_mean_dispersion(&b.sample);
    changes[COMPARE_TOTAL] = compare_total((double)k->calls, a.mean, a.deviation, (double)k->calls, b.mean, b.deviation,
                                           ma > mb ? ma : mb);
    for (int metric = 0; metric < COMPARE_METRICS; ++metric) ++t->verdicts[metric][compare_judge(&changes[metric], 0.05)];
    t->outside += changes[COMPARE_SHIFT].low > 1 + k->shift || changes[COMPARE_SHIFT].high < 1 + k->shift;
}

static void check_rate(const kind *k, const char *what, int count, double least, double most)
{
    double percent = 100.0 * count / pairs(), slack = pairs() < 1000 ? 300.0 / pairs() : 0; /* three pairs */
    if (percent + slack >= least && percent - slack <= most) return;
    ++test_failures;
    printf("%s: %s in %.1f %% of the pairs, not %.1f to %.1f\n", k->name, what, percent, least, most);
}

TEST(rates_of_alarms_and_misses)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i) {
        const kind *k = &kinds[i];
        tally t;
        memset(&t, 0, sizeof t);
        random_state = 1000003 * (i + 1);
        for (int pair = 0; pair < pairs(); ++pair) compare_pair(k, &t);
        if (pairs() == 1000)
            printf("| %s | %zu | %.1f | %.1f | %.1f | %.1f | %.1f | %.1f |\n", k->name, k->calls,
                   t.verdicts[COMPARE_SHIFT][COMPARE_SLOWER] / 10.0, t.verdicts[COMPARE_SHIFT][COMPARE_FASTER] / 10.0,
                   t.verdicts[COMPARE_P99][COMPARE_SLOWER] / 10.0, t.verdicts[COMPARE_MAX][COMPARE_SLOWER] / 10.0,
                   t.verdicts[COMPARE_TOTAL][COMPARE_SLOWER] / 10.0, t.outside / 10.0);
        check_rate(k, "slower", t.verdicts[COMPARE_SHIFT][COMPARE_SLOWER], k->call_slower_least, k->call_slower_most);
        check_rate(k, "faster", t.verdicts[COMPARE_SHIFT][COMPARE_FASTER], 0, k->faster_most);
        if (!(k->shift > 0) && k->call != tail)
            check_rate(k, "total slower", t.verdicts[COMPARE_TOTAL][COMPARE_SLOWER], 0, 2);
        check_rate(k, "max slower", t.verdicts[COMPARE_MAX][COMPARE_SLOWER], k->call == tail ? 98 : 0,
                   k->shift > 0 || k->call == tail ? 100 : 0.5);
        check_rate(k, "p99 slower", t.verdicts[COMPARE_P99][COMPARE_SLOWER], k->p99_slower_least, k->p99_slower_most);
    }
}

/*-- several runs a side, each of which is slower or faster by something of its own --*/

typedef struct runs_kind {
    const char *name;
    double shift, between; /* deviation of the runs' own factors */
    size_t runs;
    double least, most; /* slower, percent of the pairs */
} runs_kind;

static const runs_kind runs_kinds[] = {
    {"2 runs, the same", 0, 0.05, 2, 0, 1},     {"3 runs, the same", 0, 0.05, 3, 0, 1},
    {"5 runs, the same", 0, 0.05, 5, 0, 1},     {"10 runs, the same", 0, 0.05, 10, 0, 1},
    {"3 runs, 30 % slower", 0.3, 0.05, 3, 28, 100}, {"5 runs, 10 % slower", 0.1, 0.02, 5, 40, 100},
    {"5 runs, 30 % slower", 0.3, 0.05, 5, 95, 100}, {"10 runs, 30 % slower", 0.3, 0.05, 10, 99, 100},
};

/* Their typical calls, each to those of a run without a factor. */
static void make_runs(const runs_kind *k, int after, const recorded *reference, double *figures)
{
    static const kind calls = {"", 0, 300, preempted, 0, 0, 0, 0, 0};
    static recorded r;
    for (size_t run = 0; run < k->runs; ++run) {
        double factor = (1 + k->between * normal()) * (after ? 1 + k->shift : 1);
        begin(&r);
        for (size_t i = 0; i < calls.calls; ++i) add(&r, calls.call(&calls, 0, i) * factor);
        finish(&r);
        figures[run] = compare_location(&reference->sample, &r.sample);
    }
}

TEST(rates_of_several_runs)
{
    static const kind calls = {"", 0, 300, preempted, 0, 0, 0, 0, 0};
    static recorded reference;
    random_state = 77;
    make(&calls, 0, &reference);
    for (size_t i = 0; i < sizeof runs_kinds / sizeof *runs_kinds; ++i) {
        const runs_kind *k = &runs_kinds[i];
        kind named = {k->name, 0, 0, NULL, 0, 0, 0, 0, 0};
        int slower = 0, faster = 0;
        for (int pair = 0; pair < pairs(); ++pair) {
            double a[10], b[10];
            compare_change change;
            make_runs(k, 0, &reference, a);
            make_runs(k, 1, &reference, b);
            change = compare_runs(a, k->runs, b, k->runs);
            slower += compare_judge(&change, 0.05) == COMPARE_SLOWER;
            faster += compare_judge(&change, 0.05) == COMPARE_FASTER;
        }
        if (pairs() == 1000) printf("| %s | %.1f | %.1f |\n", k->name, slower / 10.0, faster / 10.0);
        check_rate(&named, "slower", slower, k->least, k->most);
        check_rate(&named, "faster", faster, 0, k->shift > 0 ? 0 : 1);
    }
}

/*-- known figures --*/

static int near(double a, double b) { return a - b < 1e-3 * b && b - a < 1e-3 * b; }

TEST(hodges_lehmann_of_known_data)
{
    static const double a[] = {1, 2, 4}, b[] = {3, 6, 12}; /* ratios .75 1.5 1.5 3 3 3 6 6 12 */
    CHECK(near(hodges_lehmann(a, 3, b, 3), 3));
    CHECK(near(ratio_at(a, 3, b, 3, 1), 0.75));
    CHECK(near(ratio_at(a, 3, b, 3, 2), 1.5));
    CHECK(near(ratio_at(a, 3, b, 3, 9), 12));
    CHECK(rank_change(a, 3, b, 3).high >= COMPARE_NEVER); /* too few */
}

TEST(five_a_side_are_enough)
{
    double a[] = {100, 101, 102, 103, 104}, b[] = {130, 131, 132, 133, 134};
    compare_change change = compare_runs(a, 5, b, 5);
    CHECK(near(change.low, 1.25) && near(change.high, 1.34));
    CHECK_EQUAL(compare_judge(&change, 0.05), COMPARE_SLOWER);
    change = compare_runs(a, 4, b, 4); /* Student's t, 6 degrees of freedom */
    CHECK(change.low > 1.25 && change.high < 1.35);
    change = compare_runs(a, 1, b, 1);
    CHECK_EQUAL(compare_judge(&change, 0.05), COMPARE_UNSURE);
}

/* 1 2 2 3 against 2 3 3 4: U = 13; ties 3 and 3; variance 16 / 12 * (9 - 48 / 56). */
TEST(mann_whitney_with_ties)
{
    static const double a[] = {1, 2, 2, 3}, b[] = {2, 3, 3, 4};
    double wanted = (13.0 - 8) / root_of(16.0 / 12 * (9 - 48.0 / 56));
    CHECK(near(mann_whitney(a, 4, b, 4), wanted));
    CHECK(near(-mann_whitney(b, 4, a, 4), wanted));
    CHECK(mann_whitney(a, 0, b, 4) == 0 && mann_whitney(a, 1, a, 1) == 0);
    CHECK(near(compare_chance(1.96), 0.05) && near(compare_chance(-2.5758), 0.01));
    CHECK(compare_chance(0) > 0.999 && compare_chance(40) < 1e-100);
}

/* 300 calls each, 30 % slower, three of each disturbed: means say nothing. */
TEST(a_few_disturbed_calls_hide_nothing)
{
    static recorded a, b;
    compare_change shift, total;
    double z;
    random_state = 5;
    begin(&a);
    begin(&b);
    for (size_t i = 0; i < 300; ++i) {
        add(&a, 1000 + 100 * uniform() + (i % 100 == 7 ? 1e6 : 0));
        add(&b, 1300 + 130 * uniform());
    }
    finish(&a);
    finish(&b);
    CHECK(compare_shift(&a.sample, &b.sample, &shift, &z));
    total = compare_total(300, a.mean, a.deviation, 300, b.mean, b.deviation, 1);
    CHECK_EQUAL(compare_judge(&shift, 0.05), COMPARE_SLOWER);
    CHECK(shift.ratio > 1.28 && shift.ratio < 1.32 && z > 18);
    CHECK(compare_judge(&total, 0.05) != COMPARE_SLOWER);
}

TEST(nothing_and_next_to_nothing)
{
    static recorded a, b;
    compare_change change;
    double z, one = 5, none = 0;
    begin(&a);
    begin(&b);
    CHECK(compare_shift(&a.sample, &b.sample, &change, &z));
    CHECK_EQUAL(compare_judge(&change, 0.05), COMPARE_UNSURE);
    change = compare_quantile(&a.distribution, &b.distribution, 0.99, 1);
    CHECK_EQUAL(compare_judge(&change, 0.05), COMPARE_UNSURE);
    change = compare_max(&a.distribution, &b.distribution);
    CHECK_EQUAL(compare_judge(&change, 0.05), COMPARE_UNSURE);
    change = compare_runs(&one, 0, &none, 1);
    CHECK_EQUAL(compare_judge(&change, 0.05), COMPARE_UNSURE);
    for (size_t i = 0; i < 200; ++i) { /* all take no time at all */
        add(&a, 0);
        add(&b, 0);
    }
    finish(&a);
    finish(&b);
    CHECK(compare_shift(&a.sample, &b.sample, &change, &z) && z == 0);
    CHECK(compare_judge(&change, 0.5) != COMPARE_SLOWER && compare_judge(&change, 0.5) != COMPARE_FASTER);
    change = compare_quantile(&a.distribution, &b.distribution, 0.99, 1);
    CHECK(compare_judge(&change, 0.05) != COMPARE_SLOWER);
    change = compare_total(200, 0, 0, 200, 0, 0, 1);
    CHECK(compare_judge(&change, 0.05) != COMPARE_SLOWER);
}

TEST_MAIN
