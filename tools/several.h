/* several.h - what several recordings have together: tables in which processes are added up, and one CSV. */
#ifndef PROF_SEVERAL_H
#define PROF_SEVERAL_H

#include "tool.h"

/* By what prof summary --by compares the scopes. */
typedef enum several_by { SEVERAL_THREAD, SEVERAL_PROCESS, SEVERAL_RANK, SEVERAL_HOST, SEVERAL_FILE } several_by;
extern const char *const several_names[]; /* "thread" and so on */

/* How the table looks. */
typedef struct several_look {
    several_by by;
    size_t top;   /* rows; 0: all */
    int columns;  /* of a line; PROF_NO_LIMIT */
    int json, colours;
    int matrix;   /* of ranks: the total in each; 0: least, median and greatest one */
    prof_sort sort;
    int ascending;
} several_look;

/* Writes a row for each scope: its time in all groups together, in a group on average and at most, and in which. traces
   NULL: opens the files one after the other, so that memory does not grow with them. Returns the exit status. */
int several_summary(char **files, prof_trace **traces, size_t count, const several_look *look, tool_out *out);
/* Writes one CSV of all events, whose first two columns are process_id and process, on one time line. */
int several_csv(prof_trace **traces, size_t count, tool_out *out);
/* Writes "train (rank 3, host)", or "train (1234)" for a process without a rank. */
const char *several_process(const prof_trace *trace, size_t count, char *to, size_t size);
/* Ranks that were read, so that those of two jobs are not added up. several_apart() notes the rank of a trace; it
   returns 0, with a message, if another job had that rank: one with another id, or an earlier or later run of the same
   program. Other processes of a rank, such as its children, are added to it. */
typedef struct several_seen {
    struct several_rank *items;
    size_t count, room;
} several_seen;
int several_apart(several_seen *seen, const prof_trace *trace, const char *file);
void several_seen_free(several_seen *seen);
/* Compares names as people count: rank-2 comes before rank-10. */
int several_natural(const char *a, const char *b);
/* 1: the scope waits for other ranks: a collective or a receive, by its name; its category is "wait"; or it is a wait
   that PROF_WRAP_WAITS recorded. */
int several_waits(const prof_callsite *site, const char *name);

#endif
