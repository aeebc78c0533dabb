/* ranks.h - what the ranks of a job did in each step: prof steps of several recordings, and prof stragglers. ranks.c
   reads the recordings one after the other and keeps a few numbers of each step, so memory does not grow with the
   recordings; ranks_compare.c compares the ranks, ranks_print.c prints. */
#ifndef PROF_RANKS_H
#define PROF_RANKS_H

#include "several.h"

#define RANKS_NONE ((uint32_t)-1)

/* The self time of a scope in a step. */
typedef struct rank_cell {
    uint32_t scope; /* number of its name in ranks.scopes */
    float ns;
} rank_cell;

typedef struct rank_step {
    int64_t number;            /* that of PROFILE_STEP */
    uint32_t name, turn;       /* turn: of several steps of one number, which one it is, from 0 */
    int64_t start_ns, end_ns;  /* of the rank's recording; ranks_align() makes them times of all */
    int64_t sync_ns;           /* the end of its last collective; without one, its own */
    size_t first, cells;       /* its cells */
    uint32_t flags;            /* as an event's */
} rank_step;

typedef struct rank_one {
    size_t file;               /* its index in args.files */
    int64_t shift_ns;          /* by --offset */
    char *name, *host;         /* "3", or the program and the process id without a rank; owned */
    rank_step *steps;
    size_t count, room;
    rank_cell *cells;
    size_t cell_count, cell_room;
    size_t first;              /* the first step that is compared: steps of other names are before it */
    int complete, alive;
    uint32_t open;             /* of a recording that was not stopped: the innermost open scope of the thread with the
                                  steps; RANKS_NONE: there is none */
    int64_t open_ns;           /* for how long it is known to be open */
    int64_t clock_ns;          /* how far its clock is ahead of the others', as ranks_align() finds; 0: not known */
    int64_t clock_at;          /* when that was */
    double clock_noise;        /* how far a collective's end is from that, as a median */
    double clock_rate;         /* how much faster it runs: 50e-6 is 50 ppm */
} rank_one;

typedef struct ranks {
    rank_one *items;
    size_t count;
    char **scopes;             /* names, owned */
    unsigned char *waits;      /* of each scope: 1: it waits for other ranks */
    size_t scope_count, scope_room;
    size_t *slots, slot_count; /* a hash table of scopes; values: a number plus 1 */
    uint32_t step;             /* the name of the steps that are compared */
    int waiting;               /* 1: some scopes wait for other ranks */
    int cut;                   /* 1: older steps are left out, for want of memory */
    char job[200];
    size_t hosts;
    int64_t *offsets;          /* of each file, see prof_trace_align() */
} ranks;

/* A step in all ranks that have it. */
typedef struct rank_row {
    int64_t number;
    const rank_step **of;      /* for each rank: its step, or NULL */
    size_t present;            /* how many have it as a whole */
    size_t latest;             /* the rank that took longest, without its waits for others */
    double value, median;      /* what it took without waits; the median of all ranks' */
    double median_ns;          /* the median of the steps' durations */
    int64_t longest_ns;
    uint32_t scope;            /* in which scope `latest` took most more than the median; RANKS_NONE: in none */
    double scope_ns, scope_median;
    int64_t skew_begin, skew_end;
} rank_row;

/* What was found of a rank that is late. */
typedef struct rank_late {
    size_t steps, late, latest;   /* steps that were compared; in which it was late; in which it was the last one */
    double lost_ns;               /* how much more than the median it took in these */
    uint32_t scope;               /* in which scope most of that was */
    double ratio;                 /* that scope's time to the median's */
    uint32_t wait;                /* in which scope others waited most; RANKS_NONE: none is known */
    double wait_share, waited_ns; /* of the others' time in that scope */
} rank_late;

/* Reads all recordings. name: of the steps; NULL: the most frequent. Returns the exit status. */
int ranks_read(const tool_args *args, const char *name, ranks *all);
void ranks_free(ranks *all);
/* Puts the times of all ranks on one line, and finds out by the ends of collectives how far their clocks are apart.
   correct: 1: puts that right, too. Returns 0 without memory. */
int ranks_align(ranks *all, int correct);
/* Compares the ranks in each step: calls `each` for all, in order of their numbers, and then finds who is late. late:
   for each rank. Returns 0 without memory. */
int ranks_compare(const ranks *all, void (*each)(void *user, const rank_row *row), void *user, rank_late *late);

/* Moves the traces of args, by prof_trace_set_offset(), so that their collectives end at the same times. Returns the
   exit status. */
int ranks_shift(const tool_args *args, prof_trace **traces);
/* Prints the slowest steps of all ranks, at most so many. Returns the exit status. */
int ranks_steps(const tool_args *args, size_t most);
extern const char *const ranks_alignments[]; /* "clock", "step": of --align */

#endif
