// image/match: Which scope an END ends, for those that read each record once, as it comes, in memory of a fixed size:
// followers and crash reports. Async-signal-safe.
#ifndef PROF__IMAGE_MATCH_H
#define PROF__IMAGE_MATCH_H
#include "ground/base.h"

/*-- MATCHING -------------------------------------------------------------------------------------------- >>match --
   docs/format.md has the rules by which an END finds its scope. read/match applies them to a whole trace, with indexes
   and memory in proportion to it, and notes what cursors need. This matcher has a stack of open scopes, and a list of
   scopes that the END of an outer scope has cut, because their own ENDs may still come: then the two have overlapped.
   Its owner gives it the memory, and keeps more of each scope: elements begin with a prof__begun. Functions are told
   the elements' size, which compilers then know. What has no space is only counted (open scopes), or stays without its
   END (cut ones). */

typedef struct prof__begun {
    uint64_t number;     /* counts the begins of the track, from 1 */
    uint32_t site, name; /* name: the id of the site's name; 0: not known. site of a cut scope that has ended: ~0 */
} prof__begun;

typedef struct prof__matching {
    void *open, *cut;         /* arrays; cut: may be NULL */
    size_t depth, open_room;  /* open scopes, and how many the array has space for */
    size_t beyond;            /* open scopes for which there was no space; they are inside all others */
    size_t cut_count, cut_room;
    uint64_t begins;
    int partial;              /* 1: begins before the first record are missing, but none after it, and no cut scope was
                                 forgotten: so an END without a begin ends a scope around all others */
} prof__matching;

/* What an END does. */
typedef enum prof__ending {
    PROF__ENDS_NOTHING, /* its begin is missing, and so is nothing else: leave it out */
    PROF__ENDS_OPEN,    /* it ends an open scope; those inside are cut */
    PROF__ENDS_CUT,     /* it ends a scope that was cut */
    PROF__ENDS_BEFORE,  /* it ends a scope that began before the first record: all that are open are cut */
    PROF__ENDS_BEYOND   /* it ends a scope for which there was no space */
} prof__ending;

static inline prof__begun *prof__matching_at(void *items, size_t size, size_t at)
{
    return (prof__begun *)(void *)((char *)items + at * size);
}

/* Forgets all scopes. */
static void prof__matching_reset(prof__matching *m)
{
    m->depth = m->beyond = m->cut_count = 0;
    m->begins = 0;
}

/* Opens a scope. Returns its element, or NULL if there is no space for it. */
static inline prof__begun *prof__matching_begin(prof__matching *m, size_t open_size, uint32_t site, uint32_t name)
{
    prof__begun *begun;
    if (PROF__UNLIKELY(m->depth == m->open_room || m->beyond)) {
        m->beyond++;
        return NULL;
    }
    begun = prof__matching_at(m->open, open_size, m->depth++);
    begun->number = ++m->begins;
    begun->site = site;
    begun->name = name;
    return begun;
}

/* Returns the index of the cut scope of a site that began last, or m->cut_count if there is none. */
static size_t prof__matching_late(const prof__matching *m, size_t cut_size, uint32_t site)
{
    size_t at, found = m->cut_count;
    uint64_t latest = 0;
    for (at = 0; at < m->cut_count; at++) {
        const prof__begun *cut = prof__matching_at(m->cut, cut_size, at);
        if (cut->site != site || cut->number <= latest) continue;
        latest = cut->number;
        found = at;
    }
    return found;
}

/* Finds what an END does, and changes nothing but m->beyond. *at: the index of the scope that ends. */
static inline prof__ending prof__matching_end(prof__matching *m, size_t open_size, size_t cut_size, uint32_t site,
                                              size_t *at)
{
    size_t i = m->depth;
    if (PROF__UNLIKELY(m->beyond)) {
        m->beyond--;
        return PROF__ENDS_BEYOND;
    }
    while (i && prof__matching_at(m->open, open_size, i - 1)->site != site) i--;
    *at = i - 1;
    if (PROF__LIKELY(i)) return PROF__ENDS_OPEN;
    *at = prof__matching_late(m, cut_size, site);
    return *at < m->cut_count ? PROF__ENDS_CUT : m->partial ? PROF__ENDS_BEFORE : PROF__ENDS_NOTHING;
}

/* Finds the innermost open scope of a name, for an END that has no begin of its site. Returns 0 if there is none. */
static int prof__matching_named(const prof__matching *m, size_t open_size, uint32_t name, size_t *at)
{
    size_t i = m->depth;
    while (i && prof__matching_at(m->open, open_size, i - 1)->name != name) i--;
    *at = i - 1;
    return i != 0;
}

/* Puts the open scopes from `from` on into the list of those that are cut; the caller takes them off the stack. Returns
   the index of the first of them in the list, the outermost; m->cut_count if there is no space for so many. If the list
   is full, its older half is forgotten. */
static size_t prof__matching_cut(prof__matching *m, size_t open_size, size_t cut_size, size_t from)
{
    size_t half = m->cut_room / 2, count = m->depth - from, first, i;
    if (!count) return m->cut_count;
    if (!m->cut || count > half) {
        m->partial = 0;
        return m->cut_count;
    }
    if (m->cut_count + count > m->cut_room) {
        m->partial = 0;
        first = m->cut_count > half ? m->cut_count - half : 0;
        memmove(m->cut, prof__matching_at(m->cut, cut_size, m->cut_count - first), first * cut_size);
        m->cut_count = first;
    }
    first = m->cut_count;
    for (i = from; i < m->depth; i++)
        *prof__matching_at(m->cut, cut_size, m->cut_count++) = *prof__matching_at(m->open, open_size, i);
    return first;
}

/* Notes that a cut scope has ended. */
static void prof__matching_took(prof__matching *m, size_t cut_size, size_t at)
{
    prof__matching_at(m->cut, cut_size, at)->site = ~0u;
    while (m->cut_count && prof__matching_at(m->cut, cut_size, m->cut_count - 1)->site == ~0u) m->cut_count--;
}

#endif /* PROF__IMAGE_MATCH_H */
