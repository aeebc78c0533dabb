/* compare.h - what the files of prof compare share. compare.c has the command line, pairs scopes, and decides on
   verdicts. compare_read.c reads a recording. compare_stats.c has the arithmetic, on plain numbers. compare_print.c
   prints a table, JSON or Markdown. */
#ifndef PROF_COMPARE_H
#define PROF_COMPARE_H

#include <stddef.h>
#include <stdint.h>

/*-- arithmetic --*/

#define COMPARE_Z 2.5758   /* deviations to each side of an interval that holds the true value with 99 % */
#define COMPARE_NEVER 1e30 /* stands for a bound that is not known */

/* The ratio of a figure of B to the same figure of A. Its 99 % interval reaches from low to high. */
typedef struct compare_change {
    double ratio, low, high;
} compare_change;

typedef enum compare_verdict {
    COMPARE_SAME,
    COMPARE_SLOWER,
    COMPARE_FASTER,
    COMPARE_UNSURE,
    COMPARE_ADDED,
    COMPARE_GONE
} compare_verdict;

typedef struct compare_call {
    int64_t start_ns;
    double ns;
} compare_call;

/* A sample of a scope's calls. */
typedef struct compare_sample {
    compare_call *calls;
    size_t count;
} compare_sample;

/* A distribution of durations, as steps in ascending order. No step is empty. */
typedef struct compare_step {
    double ns;
    uint64_t count;
} compare_step;

typedef struct compare_steps {
    compare_step *steps;
    size_t count;
    uint64_t calls;
} compare_steps;

/* Returns the verdict on a change. SLOWER: the whole interval is above 1 + threshold. FASTER: it is below 1 -
   threshold. SAME: otherwise, if it is at most twice as wide as the threshold. UNSURE: otherwise. */
compare_verdict compare_judge(const compare_change *change, double threshold);

/* Compares a typical call by the estimate of Hodges and Lehmann: the median of the ratios of all pairs of calls. With
   enough calls, the interval is at least as wide as the tenths of the recordings differ. Sorts the samples by time.
   Sets *z to the z of Mann and Whitney's test, positive if B is slower. Returns 0 without memory. */
int compare_shift(const compare_sample *a, const compare_sample *b, compare_change *change, double *z);
/* Returns only the estimate of compare_shift(), for one run against all calls of A. */
double compare_location(const compare_sample *reference, const compare_sample *sample);
/* Compares a quantile; share 0.99 is p99. dispersion: how much more slow calls vary than by chance, at least 1. */
compare_change compare_quantile(const compare_steps *a, const compare_steps *b, double share, double dispersion);
compare_change compare_max(const compare_steps *a, const compare_steps *b);
/* Compares totals, count * mean. dispersion: how much more the mean varies than by chance, at least 1. */
compare_change compare_total(double count_a, double mean_a, double deviation_a, double count_b, double mean_b,
                             double deviation_b, double dispersion);
/* Compares a figure of several runs. With five or more runs on each side, compares ranks; otherwise uses Student's t.
   Sorts the values. */
compare_change compare_runs(double *a, size_t count_a, double *b, size_t count_b);
/* Returns how much more the numbers of calls longer than `limit` vary between tenths of the sample than by chance (the
   index of dispersion); at least 1. Sorts the sample by time. */
double compare_dispersion(const compare_sample *sample, double limit);
/* Returns how much more the means of tenths vary than means of independent calls would; at least 1. */
double compare_mean_dispersion(const compare_sample *sample);
/* Returns the probability, two-sided, that chance alone makes a z as large as this. */
double compare_chance(double z);

/*-- recordings --*/

#define COMPARE_STATES 4 /* by prof_state_kind */

typedef struct compare_stat {
    double calls, total_ns, p50_ns, p99_ns, max_ns;
    double states_ns[COMPARE_STATES]; /* what threads did in total_ns, which they add up to */
} compare_stat;

/* What is kept of a scope, or of a call path, of one recording. */
typedef struct compare_entry {
    char *key;     /* lines of "name TAB category TAB function", the outermost scope first; begins with a line feed */
    uint32_t line; /* of the call site, in its source file */
    size_t order;  /* the position in the recording's order */
    compare_stat stat;
    double mean_ns, deviation_ns;
    compare_steps steps;
    compare_sample sample;
    size_t capacity;   /* calls that the sample has space for */
    uint64_t seen; /* how many calls there are, with those that are not in the sample */
} compare_entry;

typedef struct compare_recording {
    compare_entry *entries; /* sorted by key, and then by line */
    size_t count, at;       /* at: the next one to pair */
} compare_recording;

/* Reads a recording. Keeps a sample of at most `max` calls of each scope. Returns the exit status; prints a message
   after a failure. */
int compare_read(const char *path, int by_path, size_t max, const char *progress, compare_recording *recording);
void compare_read_free(compare_recording *recording);

/*-- rows, and how they are printed --*/

enum { COMPARE_SHIFT, COMPARE_P99, COMPARE_MAX, COMPARE_TOTAL, COMPARE_METRICS };

typedef struct compare_row {
    const char *key;        /* the key of its entries */
    uint32_t line;
    size_t runs[2];         /* how many recordings of A, and of B, have it */
    compare_stat of[2];  /* the means over these recordings; max_ns is the largest */
    compare_change changes[COMPARE_METRICS];
    compare_verdict verdicts[COMPARE_METRICS]; /* if one is ADDED or GONE, all are */
    double z;
    double impact; /* by how many nanoseconds the total changed, without the sign */
    int failed;    /* 1: it makes --fail-over fail */
} compare_row;

typedef struct compare_result {
    compare_row *rows; /* in the order in which they are printed */
    size_t count, runs[2];
    char **files[2]; /* the recordings of A, and of B: as many as runs says */
    double threshold, fail_over; /* 0.05: 5 % */
    int by_path, all;
    int gate[COMPARE_METRICS]; /* 1: --fail-on names the metric */
} compare_result;

extern const char *const compare_metrics[]; /* "call", "p99", "max", "total", NULL */
extern const char *const compare_verdicts[];
void compare_print_table(const compare_result *result);
void compare_print_json(const compare_result *result);
void compare_print_markdown(const compare_result *result);

#endif
