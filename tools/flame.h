/* flame.h - the call tree of prof flame. flame_tree.c keeps it, flame.c fills it from recordings and writes folded
   stacks, and flame_svg.c draws it. */
#ifndef PROF_FLAME_H
#define PROF_FLAME_H

#include "tool.h"

#define FLAME_NONE ((size_t)-1)
#define FLAME_DEPTH 500 /* levels of the tree; deeper scopes count as self time of the scope around them */

typedef struct flame_node {
    char *name;               /* the name of the scope, thread or process */
    char *category;           /* NULL: a thread, process, or the root */
    size_t parent;
    size_t next, first;       /* next: its next sibling; after flame_finish(), siblings are in the order of drawing */
    size_t chain;             /* the next node in its list of the hash table */
    uint64_t calls, cut;      /* cut: calls whose begin or end the recording or the window lacks */
    uint64_t total_ns, self_ns;
    uint32_t depth;
    uint32_t hash; /* of parent, name and category */
} flame_node;

typedef struct flame {
    flame_node *nodes; /* [0] is the root */
    size_t count, capacity;
    size_t *table; /* a hash table of lists of nodes */
    size_t table_size;
    uint64_t calls, cut, too_deep;
    int failed;          /* 1: memory ran out */
    int tracks;          /* 1: the tree has nodes of threads */
    int samples;         /* 1: calls are samples, and times are processor times */
    char *notes[64];     /* what the recordings lack, one line each */
    size_t note_count;
} flame;

/* The scopes of a thread that are open while its events are read. */
typedef struct flame_stack {
    size_t row, depth; /* row: the node of the thread */
    struct {
        size_t node;
        uint32_t depth;
        int64_t end_ns;
    } open[FLAME_DEPTH];
} flame_stack;

/* How the picture looks. */
typedef struct flame_look {
    int inverted;     /* 1: the root is at the bottom */
    double least;     /* scopes narrower than this share of the whole are drawn together, as "others" */
    const char *title;
} flame_look;

/* Returns the child with this name and category. Adds it if it is new. Returns FLAME_NONE without memory. */
size_t flame_child(flame *tree, size_t parent, const char *name, const char *category);

/* Returns the node of a thread. If threads are merged, that is `top`. */
size_t flame_row(flame *tree, size_t top, const prof_track *track);
/* Closes the scopes that have ended, and opens that of an event. Returns its node; FLAME_NONE: it is too deep, which is
   counted, or there is no memory. */
size_t flame_push(flame *tree, flame_stack *stack, const prof_event *event);
/* Adds a line about what a recording lacks. who: the recording; "": the only one. */
void flame_note(flame *tree, const char *who, const char *text);

/* Computes self times, and the times of threads and processes. Sorts children, the widest first. */
void flame_finish(flame *tree);
void flame_free(flame *tree);
char *flame_text(const char *text); /* returns a copy; NULL without memory */

/* Draws the tree. Returns 0 without memory. */
int flame_write_svg(const flame *tree, const flame_look *look, tool_out *out);

void flame_put(tool_out *out, const char *format, ...) PROF__PRINTF(2, 3); /* writes at most 1000 bytes */
/* Writes a text for XML, at most `max` characters of it. &, <, > and quotes become entities, what XML or UTF-8 does not
   allow becomes U+FFFD, and a control character becomes a space. */
void flame_put_xml(tool_out *out, const char *text, size_t max);
/* Returns how many bytes the character at `text` has, and sets *width to its columns, 1 or 2. Returns 0 if it is no
   printable UTF-8 character. */
size_t flame_character(const char *text, int *width);

#endif
