/* flame.h - the call tree (flame_tree.c) that prof flame reads and writes as folded stacks (flame.c), or as a picture
   (flame_svg.c). */
#ifndef PROF_FLAME_H
#define PROF_FLAME_H

#include "tool.h"

#define FLAME_NONE ((size_t)-1)
#define FLAME_DEPTH 500 /* levels of the tree; scopes that are deeper count as self time of the scope around them */

typedef struct flame_node {
    char *name;               /* of a scope, thread or process */
    char *category;           /* NULL: a thread, process, or the root */
    size_t parent;
    size_t next, first;       /* next: of the same parent; after flame_finish() in the order in which they are drawn */
    size_t chain;             /* the next node in the same list of the hash table */
    uint64_t calls, cut;      /* cut: calls whose begin or end is not in the recording, or not in the window */
    uint64_t total_ns, self_ns;
    uint32_t depth;
    uint32_t hash; /* of parent, name and category */
} flame_node;

typedef struct flame {
    flame_node *nodes; /* [0] is the root */
    size_t count, capacity;
    size_t *table; /* heads of the lists of nodes */
    size_t table_size;
    uint64_t calls, cut, too_deep;
    int failed;          /* no memory */
    int tracks;          /* nodes of threads are in the tree */
    char *notes[64];     /* what the recordings lack, one line each */
    size_t note_count;
} flame;

/* How the picture is drawn. */
typedef struct flame_look {
    int inverted;     /* the root at the bottom */
    double least;     /* scopes that are narrower than this share of the whole are drawn together, as "others" */
    const char *title;
} flame_look;

/* Returns the child with this name and category, which it adds if there is none, or FLAME_NONE without memory. */
size_t flame_child(flame *tree, size_t parent, const char *name, const char *category);

/* Computes self times, and the times of rows that are no scopes, and sorts children: wider ones first. */
void flame_finish(flame *tree);
void flame_free(flame *tree);
char *flame_text(const char *text); /* a copy; NULL without memory */

/* Returns 0 without memory. */
int flame_write_svg(const flame *tree, const flame_look *look, tool_out *out);

void flame_put(tool_out *out, const char *format, ...) PROF__PRINTF(2, 3); /* at most 1000 bytes */
/* Writes at most `max` characters of a text, with &, <, > and quotes as entities, U+FFFD for what XML or UTF-8 does not
   allow, and a space for control characters. */
void flame_put_xml(tool_out *out, const char *text, size_t max);
/* Returns how many bytes the character at text has, and how wide it is (1 or 2); 0 if it is not a printable character
   of UTF-8. */
size_t flame_character(const char *text, int *width);

#endif
