// read/match: The matcher: finds, in one segment after the other, which end belongs to which begin.
#ifndef PROF__READ_MATCH_H
#define PROF__READ_MATCH_H
#include "api/read.h"
#include "api/values.h"
#include "ground/hash.h"
#include "read/chunks.h"
#include "read/clock.h"
#include "read/names.h"
#include "read/records.h"
#include "read/trace.h"

/*-- the matcher --*/

typedef struct prof__read_open {
    /* crossing: its entry in cross segments, PROF__NONE while it is in the segment where it began. last_link: its last
       link, or PROF__NONE. */
    size_t cross_segment, last_link;
    /* outer_site, outer_name: the next outer open scope of the same site or name, from 1; 0: none. */
    uint32_t site, outer_site, outer_name;
    uint32_t args;
    uint32_t segment, word; /* where its BEGIN is; segment: counted from the track's first */
} prof__read_open;

/* A scope that was closed by the end of an outer scope. The scope's own end may still come; then both overlap. */
typedef struct prof__read_late {
    uint64_t older; /* number of the next older such scope of the same site; 0: none */
    uint32_t segment, word;
} prof__read_late;

typedef struct prof__read_top {
    uint32_t track; /* serial of the track that the other fields are valid for */
    uint32_t open;  /* innermost open scope of this name, from 1; 0: none */
    uint32_t stale; /* scopes of this name that another end closed and whose own ends have not come yet */
    uint32_t frame; /* serial of the last track that had a frame of this name */
} prof__read_top;

typedef struct prof__read_matcher {
    prof_trace *trace;
    prof__read_track *track;
    prof__read_open *stack;
    size_t capacity;
    uint32_t depth, crossed; /* crossed: this many scopes, from the outermost on, are in cross segments */
    /* This many scopes, from the outermost on, are in site_tops and name_tops; see prof__read_list(). */
    uint32_t listed;
    uint32_t serial;         /* number of the current track, from 1 */
    uint32_t *site_tops;
    prof__read_top *name_tops;
    size_t pending, pending_last; /* first and last link of the arguments of a scope whose begin is missing */
    uint32_t pending_count;
    uint64_t tick;
    size_t hint;
    uint64_t event_tick; /* tick of the track's first event */
    prof__read_late *late; /* the newest scopes whose own end may still come; late[0] has number late_first */
    size_t late_count, late_capacity;
    /* Scopes with a number below late_floor are of another track, or from before a gap. */
    uint64_t late_first, late_floor;
    uint64_t *site_late;             /* for each site: number of its newest scope in late; 0: none */
    int torn;            /* 1: there was a gap; then an END without a begin does not show when the track began */
    size_t nodes, args;  /* counts of the current segment */
} prof__read_matcher;

static prof__read_top *prof__read_name_top(prof__read_matcher *m, uint32_t site)
{
    prof__read_top *top = &m->name_tops[m->trace->sites[site].name];
    if (top->track != m->serial) {
        top->track = m->serial;
        top->open = top->stale = 0;
    }
    return top;
}

static void prof__read_event(prof__read_matcher *m)
{
    if (!m->track->about.event_count++) m->event_tick = m->tick;
    m->nodes++;
}

static inline int prof__read_push(prof__read_matcher *m, uint32_t site, uint32_t segment, size_t word)
{
    prof__read_open *open;
    if (PROF__UNLIKELY(m->depth >= m->capacity) &&
        (m->depth >= PROF__NONE32 - 1 || !PROF__ROOM(m->stack, m->capacity, m->depth)))
        return 0;
    open = &m->stack[m->depth++];
    open->cross_segment = open->last_link = PROF__NONE;
    open->site = site;
    open->args = 0;
    open->segment = segment;
    open->word = (uint32_t)word;
    if (m->depth > m->track->max_depth) m->track->max_depth = m->depth;
    return 1;
}

/* Enters the open scopes into the lists by site and by name. Nearly every END closes the innermost scope, which needs
   no list. So scopes are entered only when a scope has to be searched for. */
static void prof__read_list(prof__read_matcher *m)
{
    while (m->listed < m->depth) {
        prof__read_open *open = &m->stack[m->listed++];
        prof__read_top *top = prof__read_name_top(m, open->site);
        open->outer_site = m->site_tops[open->site];
        open->outer_name = top->open;
        m->site_tops[open->site] = top->open = m->listed;
    }
}

/* Closes the innermost scope. flags are stored if the scope is a cross-segment scope. */
static PROF__NOINLINE void prof__read_pop(prof__read_matcher *m, uint32_t flags)
{
    prof__read_open *open = &m->stack[--m->depth];
    if (PROF__UNLIKELY(m->listed > m->depth)) {
        m->listed = m->depth;
        m->site_tops[open->site] = open->outer_site;
        prof__read_name_top(m, open->site)->open = open->outer_name;
    }
    if (flags) prof__read_name_top(m, open->site)->stale++;
    if (PROF__UNLIKELY(open->cross_segment != PROF__NONE)) {
        m->trace->cross_segments[open->cross_segment].end_ns = prof__read_ns(m->trace, m->tick, &m->hint);
        m->trace->cross_segments[open->cross_segment].flags = flags;
    }
    if (m->crossed > m->depth) m->crossed = m->depth;
}

static int prof__read_began_before(uint32_t segment, uint32_t word, const prof__read_late *late)
{
    return segment != late->segment ? segment < late->segment : word < late->word;
}

/* Remembers an open scope that is being closed by another scope's end, because its own end may still come. The list of
   a site is ordered by begin, the latest first. If the list is full, the older half is dropped; without memory, the
   scope is not remembered. Such scopes stay without an end. */
static void prof__read_note_late(prof__read_matcher *m, const prof__read_open *open)
{
    size_t half = m->late_count / 2;
    uint64_t *link = &m->site_late[open->site], first;
    prof__read_late *late;
    int steps = PROF__LATE_STEPS;
    if (m->late_count == PROF__LATE_END_MAX) {
        memmove(m->late, m->late + half, (m->late_count - half) * sizeof *m->late);
        m->late_count -= half;
        m->late_first += half;
    }
    if (!PROF__ROOM(m->late, m->late_capacity, m->late_count)) return;
    first = m->late_first < m->late_floor ? m->late_floor : m->late_first;
    while (*link >= first && steps-- &&
           prof__read_began_before(open->segment, open->word, &m->late[*link - m->late_first]))
        link = &m->late[*link - m->late_first].older;
    late = &m->late[m->late_count];
    late->older = *link;
    late->segment = open->segment;
    late->word = open->word;
    *link = m->late_first + m->late_count++;
}

/* Closes all scopes that are deeper than depth, because the scope at depth ends, or one that began before the first
   record. */
static void prof__read_pop_early(prof__read_matcher *m, uint32_t depth)
{
    uint32_t i;
    for (i = depth; i < m->depth; i++) prof__read_note_late(m, &m->stack[i]);
    while (m->depth > depth) prof__read_pop(m, PROF_TRUNCATED_END);
}

/* Matches an END with a scope that the end of an outer scope has closed: the two scopes overlap. An open scope of the
   same site takes precedence: a scope that was left by longjmp() or an early return must not take the end of an
   enclosing call of the same function. Returns 1 if a scope matches, 0 if none does, -1 if there is no memory. */
static int prof__read_match_late(prof__read_matcher *m, uint32_t site)
{
    prof_trace *trace = m->trace;
    uint64_t number = m->site_late[site];
    const prof__read_late *late;
    prof__read_late_begin *begin;
    prof__read_late_end *end;
    prof__read_top *top = prof__read_name_top(m, site);
    if (m->site_tops[site] || number < m->late_first || number < m->late_floor || !number) return 0;
    late = &m->late[number - m->late_first];
    begin = (prof__read_late_begin *)PROF__MORE(trace->late_begins, trace->late_begin_capacity,
                                                trace->late_begin_count);
    end = (prof__read_late_end *)PROF__MORE(trace->late_ends, trace->late_end_capacity, trace->late_end_count);
    if (!begin || !end) return -1;
    m->site_late[site] = late->older;
    if (top->stale) top->stale--;
    begin->segment = late->segment;
    begin->word = late->word;
    end->id = prof__read_event_id(
        trace, &trace->chunks[trace->segments[m->track->segment + late->segment].chunk], late->word);
    trace->has_spans = 1;
    prof__read_event(m);
    return 1;
}

/* Returns how many scopes an END of this site closes, counting one that began before the track's first record; 0 if no
   scope matches; PROF__CLOSES_LATE for an overlap; PROF__NONE32 if there is no memory. */
static PROF__NOINLINE uint32_t prof__read_match(prof__read_matcher *m, uint32_t site, uint64_t id)
{
    prof__read_top *top = prof__read_name_top(m, site);
    uint32_t position, closes;
    prof__read_unmatched_end *orphan;
    int late;
    prof__read_list(m);
    late = prof__read_match_late(m, site);
    position = m->site_tops[site] ? m->site_tops[site] : top->open;
    if (late) return late < 0 ? PROF__NONE32 : PROF__CLOSES_LATE;
    if (position) {
        closes = m->depth - position + 1;
        if (closes > PROF__CLOSE_MAX) return 0;
        prof__read_pop_early(m, position);
        prof__read_pop(m, 0);
        return closes;
    }
    if (top->stale) {
        top->stale--;
        return 0;
    }
    closes = m->depth + 1;
    if (!m->trace->partial || m->torn || closes > PROF__CLOSE_MAX) return 0;
    orphan = (prof__read_unmatched_end *)PROF__MORE(m->trace->unmatched_ends, m->trace->unmatched_end_capacity,
                                                    m->trace->unmatched_end_count);
    if (!orphan) return PROF__NONE32;
    prof__read_pop_early(m, 0);
    orphan->end_ns = prof__read_ns(m->trace, m->tick, &m->hint);
    orphan->link = m->pending;
    orphan->id = id;
    orphan->site = site;
    m->track->unmatched_end_count++;
    if (m->pending_count > m->track->max_event_args) m->track->max_event_args = m->pending_count;
    m->pending = m->pending_last = PROF__NONE;
    m->pending_count = 0;
    return closes;
}

/* Notes how many scopes an END closes, if it is not exactly one; or which open scope an ARG belongs to, if it is not
   the innermost, which is 1. 0: none. Returns 0 if there is no memory. */
static int prof__read_except(prof__read_matcher *m, uint32_t segment, size_t word, uint32_t closes)
{
    prof_trace *trace = m->trace;
    prof__read_exception *exception;
    if (closes == 1) return 1;
    if (!closes) trace->info.unmatched++;
    exception = (prof__read_exception *)PROF__MORE(trace->exceptions, trace->exception_capacity,
                                                   trace->exception_count);
    if (!exception) return 0;
    exception->segment = segment;
    exception->word = (uint32_t)word;
    exception->closes = closes;
    return 1;
}

/* Adds the ARG record at this word to its scope. Returns 0 if there is no memory. */
static int prof__read_arg(prof__read_matcher *m, const uint64_t *words, size_t word, size_t length, uint32_t segment)
{
    prof_trace *trace = m->trace;
    uint32_t target = prof__read_arg_target(words + word), position = m->depth;
    prof__read_open *open = NULL;
    prof__read_link *link;
    size_t number = trace->link_count;
    if (target) {
        prof__read_list(m);
        position = m->site_tops[prof__read_site_of(trace, target)];
        if (!prof__read_except(m, segment, word, position ? m->depth - position + 1 : 0)) return 0;
        if (!position) return 1;
    }
    if (position) open = &m->stack[position - 1];
    if (open && ++open->args > m->track->max_event_args) m->track->max_event_args = open->args;
    if (open && open->cross_segment == PROF__NONE) {
        m->args++;
        return 1;
    }
    link = (prof__read_link *)PROF__MORE(trace->links, trace->link_capacity, trace->link_count);
    if (!link) return 0;
    link->next = PROF__NONE;
    link->record = prof__read_keep(trace, words + word, length);
    if (link->record == PROF__NONE) return 0;
    if (open) {
        if (open->last_link == PROF__NONE)
            trace->cross_segments[open->cross_segment].link = number;
        else
            trace->links[open->last_link].next = number;
        open->last_link = number;
    } else {
        if (m->pending_last == PROF__NONE)
            m->pending = number;
        else
            trace->links[m->pending_last].next = number;
        m->pending_last = number;
        m->pending_count++;
    }
    return 1;
}

/* Adds entries to cross segments for the scopes that stay open beyond this segment. Returns 0 if there is no memory. */
static int prof__read_cross(prof__read_matcher *m, uint32_t segment)
{
    prof_trace *trace = m->trace;
    for (; m->crossed < m->depth; m->crossed++) {
        prof__read_cross_segment *crossing = (prof__read_cross_segment *)PROF__MORE(
            trace->cross_segments, trace->cross_segment_capacity, trace->cross_segment_count);
        if (!crossing) return 0;
        crossing->link = PROF__NONE;
        crossing->segment = segment;
        m->stack[m->crossed].cross_segment = trace->cross_segment_count - 1;
    }
    return 1;
}

/* Ends all open scopes at a gap, at the last known time. */
static void prof__read_close_all(prof__read_matcher *m)
{
    while (m->depth) prof__read_pop(m, PROF_TRUNCATED_END);
    m->trace->info.unmatched += m->pending_count;
    m->pending = m->pending_last = PROF__NONE;
    m->pending_count = 0;
    m->torn = 1;
    m->late_floor = m->late_first + m->late_count;
}

#endif /* PROF__READ_MATCH_H */
