/* request.h - what prof request finds of a request: request.c finds it, request_rows.c makes the waterfall and the
   critical path, request_print.c prints it. */
#ifndef PROF_REQUEST_H
#define PROF_REQUEST_H

#include "why.h"

#define REQUEST_NONE ((size_t)-1)

/* A scope that is a part of a request, or of another one. */
typedef struct request_scope {
    char *name;          /* owned */
    size_t track;
    int64_t start, end;
    uint32_t depth;
    size_t parent;       /* the scope around it, or REQUEST_NONE */
    int step, numbered;  /* step: a PROFILE_STEP with this number; numbered: it is known whose scope it is, */
    int64_t number;
    uint64_t owner;      /* the id of this request, or of another */
    int shared;          /* 1: points of another request are in it */
    int own;             /* 1: a part of this request, and no scope around it is */
} request_scope;

/* A point of a span or a flow. */
typedef struct request_point {
    int64_t ns;
    size_t track, scope; /* scope: the innermost one, or REQUEST_NONE */
    const char *name;    /* of a flow: it lives as long as the trace. NULL: of the span */
    uint64_t id;
    int out;             /* 1: a flow leads from here */
    int followed;        /* 1: its scope is a part of the request */
} request_point;

/* Another span that belongs to it: its parent, or a child. */
typedef struct request_relative {
    char *name;
    uint64_t id;
    int parent;
    int64_t start, wall;
    size_t track;
    const char *how;     /* why it is one */
} request_relative;

typedef enum request_kind { REQUEST_SCOPE, REQUEST_INNER, REQUEST_WAIT, REQUEST_GAP } request_kind;

/* A row of the waterfall. */
typedef struct request_row {
    request_kind kind;
    char *name;          /* owned */
    char *why;           /* owned; of a wait or a gap: for what; NULL: nothing is known */
    size_t track;        /* of a gap: the thread that went on */
    int64_t start, end;
    uint32_t depth;      /* below the request's own scope */
    size_t part;         /* the number of this own scope; of a gap, of the next one */
    int critical;        /* 1: it is on the critical path */
} request_row;

/* A part of the critical path. */
typedef struct request_part {
    size_t row;          /* of the waterfall, or REQUEST_NONE */
    int64_t start, end;
} request_part;

typedef struct request {
    const prof_trace *trace;
    const char *wanted;  /* the name that was asked for, or NULL */
    uint64_t id;
    char *name;          /* owned: of the span or step */
    int step;            /* 1: there is no such span, but a step */
    int64_t start, end;
    uint32_t flags;
    size_t begin_track, end_track;
    size_t same;         /* spans with this name and id */
    uint64_t count_all, median;
    uint64_t *ids;       /* of all spans, or steps, of this name, in order */
    size_t id_count, id_room;
    char **keys;         /* names of steps with this number: scopes whose arguments of this name are the id are parts */
    size_t key_count, key_room;
    request_scope *scopes;
    size_t scope_count, scope_room;
    request_point *points;
    size_t point_count, point_room;
    request_relative *relatives;
    size_t relative_count, relative_room;
    request_row *rows;
    size_t row_count, row_room;
    uint64_t left_out;   /* scopes that are too short for a row */
    request_part *path;  /* in order of time */
    size_t path_count, path_room;
    prof_wait *waits;
    size_t wait_count;
} request;

/* Finds a request. at: NULL, or a time during it. Returns the exit status, after a message. */
int request_find(request *all, const int64_t *at);
void request_free(request *all);

/*-- what request.c and request_rows.c share --*/

/* Makes the rows and the critical path. Returns 0 without memory. */
int request_rows(request *all, prof_status *status);
/* Adds a zeroed item to an array. Returns it; NULL without memory. */
void *request_item(void *array, size_t *room, size_t *count, size_t size);
char *request_text(const char *text); /* a copy; NULL without memory */
/* Calls look for all events of all tracks, until it returns 0. Returns what it returned last. */
typedef int request_look(request *all, size_t track, const prof_event *event, void *user);
int request_each(request *all, prof_status *status, request_look *look, void *user);
/* Returns the number of a step, in *number; 0: it is none. */
int request_step(const prof_event *event, int64_t *number);
int request_overlaps(const request *all, int64_t start, int64_t end);
/* Returns 1 + the number of the own scope that a scope is in, or is; 0: none. */
size_t request_part_of(const request *all, size_t row);
/* Does a flow lead from one point to another? */
int request_leads(const request_point *from, const request_point *to);

#endif
