// receive/sites: Call sites that are made at run time, one for each name, and the ranges that are open on a thread.
#ifndef PROF__RECEIVE_SITES_H
#define PROF__RECEIVE_SITES_H
#include "api/control.h"
#include "api/macros.h"
#include "api/markup.h"
#include "ground/base.h"
#include "ground/threads.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define PROF__RECEIVE_SITES 4096
#define PROF__RECEIVE_RECENT 256
#define PROF__RECEIVE_DEEPEST 65536

typedef void (*prof__receive_function)(void);

/* Puts something at the head of a list that only grows. Lock-free. */
#define PROF__RECEIVE_ADD(list, item)                                                                                \
    do {                                                                                                             \
        (item)->next = PROF__ACQUIRE(list);                                                                          \
        while (!__atomic_compare_exchange_n(list, &(item)->next, item, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))       \
            continue;                                                                                                \
    } while (0)

/* Says in the metadata that one of some kinds of calls occurred, and leaves no trace. Writes it once for each. */
static PROF__COLD void prof__receive_miss(const char *key, const char *const *kinds, int count, uint32_t *missed,
                                          int kind)
{
    char text[256] = "";
    uint32_t all;
    if (PROF__LOAD(missed) >> kind & 1) return;
    all = __atomic_or_fetch(missed, 1u << kind, __ATOMIC_RELAXED);
    for (int i = 0; i < count; ++i) {
        if (!(all >> i & 1)) continue;
        if (*text) strcat(text, ", ");
        strcat(text, kinds[i]);
    }
    prof_set_metadata(key, text);
}

/* What makes a call site: a name in a group of names, and how it looks. kind: as of prof_site. */
typedef struct prof__received {
    const char *text, *category;
    const void *group;
    uint32_t number, color;
    uint16_t kind;
} prof__received;

/* A call site that is never freed. In a tree by the next bit of its hash; by the first child once all bits are used. */
typedef struct PROF__SITE_TYPE prof__receive_site {
    prof_site site;
    const void *group;
    uint32_t number, index; /* number: of the category; index: in the list of all */
    struct prof__receive_site *below[2];
} prof__receive_site;

static struct {
    prof__receive_site *tree, *all[PROF__RECEIVE_SITES];
    prof__receive_site *recent[PROF__RECEIVE_RECENT]; /* by the text's address, which saves its hash */
    uint32_t count;
} prof__receive_sites;

static int prof__receive_is(const prof__receive_site *node, const prof__received *what)
{
    return node->group == what->group && node->number == what->number && node->site.color == what->color &&
           node->site.kind == what->kind && !strcmp(node->site.name, what->text);
}

/* Makes a call site, and puts it into the list of all. Returns NULL if there are too many, or no memory. */
static PROF__COLD prof__receive_site *prof__receive_make(const prof__received *what)
{
    size_t name = strlen(what->text) + 1, category = strlen(what->category) + 1;
    uint32_t index = PROF__LOAD(&prof__receive_sites.count);
    prof__receive_site *node = index < PROF__RECEIVE_SITES
                                   ? (prof__receive_site *)calloc(1, sizeof *node + name + category) : NULL;
    if (!node) return NULL;
    index = PROF__ADD(&prof__receive_sites.count, 1u);
    if (index >= PROF__RECEIVE_SITES) {
        PROF__STORE(&prof__receive_sites.count, (uint32_t)PROF__RECEIVE_SITES);
        free(node);
        return NULL;
    }
    memcpy(node + 1, what->text, name);
    memcpy((char *)(node + 1) + name, what->category, category);
    node->site.name = (const char *)(node + 1);
    node->site.category = node->site.name + name;
    node->site.file = node->site.function = "";
    node->site.color = what->color;
    node->site.level = 1;
    node->site.kind = what->kind;
    node->group = what->group;
    node->number = what->number;
    node->index = index;
    __atomic_store_n(&prof__receive_sites.all[index], node, __ATOMIC_RELEASE);
    return node;
}

static prof__receive_site *prof__receive_find(const prof__received *what)
{
    prof__receive_site **at = &prof__receive_sites.tree, *node, *made = NULL;
    uint32_t hash = prof__hash_add(what->number * 0x9e3779b1u ^ what->color ^ what->kind, what->text,
                                   strlen(what->text));
    for (;; at = &node->below[hash >> 31], hash <<= 1) {
        node = PROF__ACQUIRE(at);
        if (!node) {
            if (!made && !(made = prof__receive_make(what))) return NULL;
            if (__atomic_compare_exchange_n(at, &node, made, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) return made;
        }
        if (prof__receive_is(node, what)) break;
    }
    if (made) { /* another thread was first */
        __atomic_store_n(&prof__receive_sites.all[made->index], (prof__receive_site *)NULL, __ATOMIC_RELEASE);
        free(made);
    }
    return node;
}

/* Returns the call site of a name, made at the first call. Returns NULL for a new name if there are too many, or no
   memory. Lock-free. */
static prof__receive_site *prof__receive_site_of(const prof__received *what)
{
    uintptr_t key = (uintptr_t)what->text >> 2 ^ (uintptr_t)what->group >> 4 ^ what->kind;
    prof__receive_site **recent = &prof__receive_sites.recent[key % PROF__RECEIVE_RECENT];
    prof__receive_site *node = PROF__ACQUIRE(recent);
    if (node && prof__receive_is(node, what)) return node;
    node = prof__receive_find(what);
    if (node) PROF__RELEASE(recent, node);
    return node;
}

/*-- the ranges that are open on a thread --*/

typedef struct prof__receive_range {
    const void *group; /* whose pop ends it */
    prof__token token; /* 0: it is not recorded */
    int level;         /* how many of its group were open before */
} prof__receive_range;

typedef struct prof__receive_ranges {
    uint32_t count, room;
    prof__receive_range open[1]; /* really: room of them */
} prof__receive_ranges;

static PROF__PER_THREAD prof__receive_ranges *prof__receive_open;
static pthread_key_t prof__receive_key;
static pthread_once_t prof__receive_once = PTHREAD_ONCE_INIT;

static void prof__receive_key_make(void)
{
    (void)pthread_key_create(&prof__receive_key, free);
}

/* Makes room for another range. Returns 0 if there are too many, or no memory. */
static PROF__COLD int prof__receive_grow(void)
{
    prof__receive_ranges *before = prof__receive_open, *more;
    uint32_t room = before ? 2 * before->room : 32;
    if (room > PROF__RECEIVE_DEEPEST) return 0;
    more = (prof__receive_ranges *)realloc(before, sizeof *more + room * sizeof more->open[0]);
    if (!more) return 0;
    if (!before) more->count = 0;
    more->room = room;
    pthread_once(&prof__receive_once, prof__receive_key_make);
    (void)pthread_setspecific(prof__receive_key, more);
    prof__receive_open = more;
    return 1;
}

/* Returns the index + 1 of the newest range of a group; 0: none is open. */
static uint32_t prof__receive_newest(const prof__receive_ranges *ranges, const void *group)
{
    uint32_t at = ranges ? ranges->count : 0;
    while (at && ranges->open[at - 1].group != group) --at;
    return at;
}

/* Opens a range. Returns how many of its group were open before; -1 if there is no room. */
static int prof__receive_push(const void *group, prof__token token)
{
    prof__receive_ranges *ranges = prof__receive_open;
    prof__receive_range *range;
    uint32_t outer;
    if ((!ranges || ranges->count == ranges->room) && !prof__receive_grow()) {
        if (token) prof__end(token);
        return -1;
    }
    ranges = prof__receive_open;
    outer = prof__receive_newest(ranges, group);
    range = &ranges->open[ranges->count];
    range->group = group;
    range->token = token;
    range->level = outer ? ranges->open[outer - 1].level + 1 : 0;
    ++ranges->count;
    return range->level;
}

/* Returns that of the newest range of a group; 0: none is open, or it is not recorded. */
static prof__token prof__receive_token(const void *group)
{
    uint32_t at = prof__receive_newest(prof__receive_open, group);
    return at ? prof__receive_open->open[at - 1].token : 0;
}

/* Ends the newest range of a group. Returns its level; -1 if none was open. */
static int prof__receive_pop(const void *group)
{
    prof__receive_ranges *ranges = prof__receive_open;
    uint32_t at = prof__receive_newest(ranges, group);
    prof__receive_range range;
    if (!at) return -1;
    range = ranges->open[--at];
    memmove(ranges->open + at, ranges->open + at + 1, (--ranges->count - at) * sizeof range);
    if (range.token) prof__end(range.token);
    return range.level;
}

#endif /* PROF__RECEIVE_SITES_H */
