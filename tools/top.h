/* top.h - prof top: what it knows of one period of a program that is running. */
#ifndef PROF_TOP_H
#define PROF_TOP_H
#include "tool.h"

/* The scopes of one call site, or the frames. A call counts in the period in which it ends; its time counts in each
   period as far as it lies in it. */
typedef struct top_row {
    const prof_callsite *site;
    const char *name;            /* that of the site, or text */
    char *text;                  /* owned: a name made at run time; else NULL */
    uint64_t calls;              /* that ended in the period; of frames: boundaries */
    uint64_t timed;              /* those of them whose begin and end are known */
    int64_t self_ns, total_ns;   /* within the period; open calls as well. total: of calls inside a call of the same row
                                    only the outermost */
    int64_t sum_ns, max_ns;      /* of the timed ones, with the time before the period */
    size_t open;                 /* while a track is read: how many of it enclose the next scope */
} top_row;

typedef struct top_rows {
    top_row *items;
    size_t count, capacity;
    size_t *slots, slot_count;   /* a hash table of numbers of rows, from 1; 0: free */
} top_rows;

typedef struct top_period {
    int64_t from_ns, to_ns;      /* since the start of the session */
    int64_t asked_ns;            /* from_ns, had the ring not been overwritten; else the same */
    uint64_t events, lost;       /* of the period */
    size_t tracks, active;       /* threads and fibers; those that recorded in the period */
    int64_t held_ns;             /* what the buffer holds, up to to_ns */
    top_rows scopes, frames;
} top_period;

/* Reads a period of a trace. Changes the window of the trace. The rows are valid until it is closed; top_free() frees
   them, also after a failure. Returns the exit status, with a message. */
int top_read(prof_trace *trace, int64_t from_ns, int64_t to_ns, top_period *period);
void top_free(top_period *period);

enum { TOP_SELF, TOP_TOTAL, TOP_CALLS, TOP_MAX, TOP_SORTS };
void top_sort(top_rows *rows, int by); /* the largest first; no row can be found any more */

#endif
