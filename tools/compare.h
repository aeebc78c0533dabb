/* compare.h - what the files of prof compare share. compare.c: the command line, pairing, verdicts. compare_read.c:
   what is kept of a recording. compare_stats.c: the arithmetic, which knows nothing of recordings. compare_print.c:
   table, JSON, Markdown. */
#ifndef PROF_COMPARE_H
#define PROF_COMPARE_H

#include <stddef.h>
#include <stdint.h>

/*-- arithmetic --*/

#define COMPARE_Z 2.5758   /* all intervals hold the true value with 99 % */
#define COMPARE_NEVER 1e30 /* a bound that is not known */

/* The ratio of a figure of B to that of A. The 99 % interval is from low to high. */
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

/* A sample of the calls of one scope. */
typedef struct compare_sample {
    compare_call *calls;
    size_t count;
} compare_sample;

/* A distribution: steps in order, none of them empty. */
typedef struct compare_step {
    double ns;
    uint64_t count;
} compare_step;

typedef struct compare_steps {
    compare_step *steps;
    size_t count;
    uint64_t calls;
} compare_steps;

/* SLOWER if the whole interval lies above 1 + threshold, faster if below 1 - threshold, the same if it is at most
   twice as wide as the threshold, else unsure. */
compare_verdict compare_judge(const compare_change *change, double threshold);

/* Compares a typical call by the Hodges-Lehmann estimate, which is the median of the ratios of all pairs of calls. With
   enough calls, the interval is not narrower than what tenths of the recordings differ by. Sorts the samples by time.
   z: Mann-Whitney's, positive if B is slower. Returns 0 without memory. */
int compare_shift(const compare_sample *a, const compare_sample *b, compare_change *change, double *z);
/* Returns only the estimate, of one run against all calls of A. */
double compare_location(const compare_sample *reference, const compare_sample *sample);
/* Compares the quantile `share` (0.99: p99). dispersion >= 1: by how much more the slow calls vary than by chance. */
compare_change compare_quantile(const compare_steps *a, const compare_steps *b, double share, double dispersion);
compare_change compare_max(const compare_steps *a, const compare_steps *b);
/* Compares count * mean. dispersion >= 1: by how much more the mean varies than by chance. */
compare_change compare_total(double count_a, double mean_a, double deviation_a, double count_b, double mean_b,
                             double deviation_b, double dispersion);
/* Compares a figure that each of several runs has: by ranks if both sides have five or more, else by Student's t. Sorts
   the values. */
compare_change compare_runs(double *a, size_t count_a, double *b, size_t count_b);
/* Returns the index of dispersion, at least 1, of the numbers of calls beyond `limit` in tenths of the sample. Sorts
   the sample by time. */
double compare_dispersion(const compare_sample *sample, double limit);
/* Returns that of the mean: the variance of the means of tenths, divided by that of means of independent calls. */
double compare_mean_dispersion(const compare_sample *sample);
/* Returns the two-sided probability that chance makes such a z. */
double compare_chance(double z);

/*-- recordings --*/

typedef struct compare_stat {
    double calls, total_ns, p50_ns, p99_ns, max_ns;
} compare_stat;

/* What is kept of a scope, or call path, of one recording. */
typedef struct compare_entry {
    char *key;     /* lines of "name TAB category TAB function", the outermost scope first; begins with a line feed */
    uint32_t line; /* in the source */
    size_t order;  /* in the recording */
    compare_stat stat;
    double mean_ns, deviation_ns;
    compare_steps steps;
    compare_sample sample;
    size_t capacity;   /* of the sample */
    uint64_t seen; /* calls, also those that are not in the sample */
} compare_entry;

typedef struct compare_recording {
    compare_entry *entries; /* by key, then by line */
    size_t count, at;       /* at: the next one to be paired */
} compare_recording;

/* Reads a recording, and keeps a sample of at most `max` calls of each scope. Returns the exit status, after a message
   if that failed. */
int compare_read(const char *path, int by_path, size_t max, const char *progress, compare_recording *recording);
void compare_read_free(compare_recording *recording);

/*-- rows, and how they are printed --*/

enum { COMPARE_SHIFT, COMPARE_P99, COMPARE_MAX, COMPARE_TOTAL, COMPARE_METRICS };

typedef struct compare_row {
    const char *key;        /* as of its entries */
    uint32_t line;
    size_t runs[2];         /* so many recordings of A and B have it */
    compare_stat of[2];  /* on average of these; the largest max_ns */
    compare_change changes[COMPARE_METRICS];
    compare_verdict verdicts[COMPARE_METRICS]; /* ADDED and GONE: all of them */
    double z;
    double impact; /* nanoseconds by which the total changed, without the sign */
    int failed;    /* it is beyond --fail-over */
} compare_row;

typedef struct compare_result {
    compare_row *rows; /* in the order of printing */
    size_t count, runs[2];
    double threshold, fail_over; /* 0.05: 5 % */
    int by_path, all;
    int gate[COMPARE_METRICS]; /* those that --fail-on names */
} compare_result;

extern const char *const compare_metrics[]; /* "call", "p99", "max", "total", NULL */
extern const char *const compare_verdicts[];
void compare_print_table(const compare_result *result);
void compare_print_json(const compare_result *result);
void compare_print_markdown(const compare_result *result);

#endif
