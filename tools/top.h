/* top.h - prof top: the figures of one period of a running program. */
#ifndef PROF_TOP_H
#define PROF_TOP_H
#include "tool.h"

/* The scopes of a call site, or its frames. A call counts in the period in which it ends. Its time counts in each
   period, as far as it lies there. */
typedef struct top_row {
    const prof_callsite *site;
    const char *name;            /* the name of the call site, or `text` */
    char *text;                  /* owned: a name made at run time; else NULL */
    uint64_t calls;              /* how many calls ended in the period; of frames: how many boundaries */
    uint64_t timed;              /* how many of these calls have a known begin and end */
    int64_t self_ns, total_ns;   /* within the period, with open calls; total: without calls inside one of this row */
    int64_t sum_ns, max_ns;      /* of timed calls, with their time before the period */
    size_t open;                 /* while a track is read: how many calls of the row are open */
} top_row;

typedef struct top_rows {
    top_row *items;
    size_t count, capacity;
    size_t *slots, slot_count;   /* a hash table; values: index of a row plus 1; 0: free */
} top_rows;

typedef struct top_period {
    int64_t from_ns, to_ns;      /* since the start of the session */
    int64_t asked_ns;            /* what from_ns would be if the ring had not been overwritten */
    uint64_t events, lost;       /* in the period */
    size_t tracks, active;       /* tracks: threads and fibers; active: those that recorded in the period */
    int64_t held_ns;             /* how much time up to to_ns the buffer holds */
    top_rows scopes, frames;
} top_period;

/* Reads a period of a trace. Changes the trace's window. The rows are valid until the trace is closed. The caller calls
   top_free(), also after a failure. Returns the exit status; prints a message after a failure. */
int top_read(prof_trace *trace, int64_t from_ns, int64_t to_ns, top_period *period);
/* Reads all of one track, likewise. Calls whose begin or end is missing count with the time that is known. */
int top_read_track(prof_trace *trace, size_t track, top_period *period);
/* Adds rows to rows that are told apart by their names alone. Returns 0 without memory. */
int top_add(top_rows *to, const top_rows *from);
void top_free(top_period *period);

enum { TOP_SELF, TOP_TOTAL, TOP_CALLS, TOP_MAX, TOP_SORTS };
void top_sort(top_rows *rows, int by); /* the largest first; afterwards rows cannot be searched */

#endif
