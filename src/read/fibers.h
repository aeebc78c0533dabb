// read/fibers: Makes the states of fibers: of those of the threads that ran them; those of a kernel's tasks, of their
// segments.
#ifndef PROF__READ_FIBERS_H
#define PROF__READ_FIBERS_H
#include "api/read.h"
#include "ground/hash.h"
#include "image/system.h"
#include "read/clock.h"
#include "read/names.h"
#include "read/trace.h"

/*-- FIBERS ----------------------------------------------------------------------------------------------  >>fibers --
   A segment of a fiber says which thread it was on, but not since when and until when, because a switch of fibers reads
   no clock. The fiber was there from its first record to its last one. It may have been there from the thread's last
   record before the segment to the thread's first one after it. In these times it waits if the thread waits; if the
   thread does anything else, nothing is known, because the track before or after may have had it. At all other times no
   thread has the fiber, so it waits. */

/* Adds a state to the trace, unless it has no duration and says nothing else. Returns 0 if there is no memory. */
static int prof__state_add(prof_trace *trace, int64_t from, int64_t to, int kind, int32_t processor,
                           unsigned char marks)
{
    prof_state *state;
    if (to < from || (to == from && !marks)) return 1;
    if (!PROF__ROOM(trace->states, trace->state_capacity, trace->state_count) ||
        !PROF__ROOM(trace->state_marks, trace->state_mark_capacity, trace->state_count))
        return 0;
    state = &trace->states[trace->state_count];
    state->start_ns = from;
    state->end_ns = to;
    state->kind = (prof_state_kind)kind;
    state->processor = kind == PROF_STATE_RUNNING ? processor : -1;
    trace->state_marks[trace->state_count++] = marks;
    return 1;
}

/* A segment among those of its thread. */
typedef struct prof__fiber_turn {
    uint64_t tick;
    uint32_t thread, chunk, word, segment;
} prof__fiber_turn;

/* Ticks between which the thread may have been on the track of a segment. */
typedef struct prof__fiber_bounds {
    uint64_t from, to;
} prof__fiber_bounds;

/* A part of a fiber's time in which it may not just wait. state: an index in the trace's states, or PROF__NONE: nothing
   is known. */
typedef struct prof__fiber_part {
    int64_t from, to;
    size_t state;
} prof__fiber_part;

typedef struct prof__fiber_walk {
    prof_trace *trace;
    const prof__fiber_bounds *bounds; /* of each segment of the trace */
    const prof__read_states_of *threads;
    size_t thread_count;
    prof__fiber_part *holes; /* when segments of fibers may be missing; in order, apart from each other */
    size_t hole_count, hole_capacity;
    int64_t until_ns; /* later, nothing is known of threads */
    /* How many states of threads may still be looked at: [1] where a fiber was, [0] where it may have been. In a
       damaged image that may be all states, for each fiber. Beyond that nothing is known. */
    size_t budgets[2];
    prof__fiber_part *parts; /* of the present fiber */
    size_t part_count, part_capacity;
    size_t hint;
} prof__fiber_walk;

static int prof__fiber_turn_order(const void *a, const void *b)
{
    const prof__fiber_turn *x = (const prof__fiber_turn *)a, *y = (const prof__fiber_turn *)b;
    if (x->thread != y->thread) return x->thread < y->thread ? -1 : 1;
    if (x->tick != y->tick) return x->tick < y->tick ? -1 : 1;
    if (x->chunk != y->chunk) return x->chunk < y->chunk ? -1 : 1;
    return x->word < y->word ? -1 : x->word > y->word;
}

static int prof__fiber_part_order(const void *a, const void *b)
{
    const prof__fiber_part *x = (const prof__fiber_part *)a, *y = (const prof__fiber_part *)b;
    if (x->from != y->from) return x->from < y->from ? -1 : 1;
    if (x->to != y->to) return x->to < y->to ? -1 : 1;
    return x->state < y->state ? -1 : x->state > y->state;
}

/* Returns the bounds of all segments, or NULL if there is no memory. */
static prof__fiber_bounds *prof__fiber_bounds_make(const prof_trace *trace)
{
    size_t i, count = trace->segment_count;
    prof__fiber_turn *turns = (prof__fiber_turn *)malloc((count + 1) * sizeof *turns);
    prof__fiber_bounds *bounds = (prof__fiber_bounds *)malloc((count + 1) * sizeof *bounds);
    for (i = 0; turns && i < count; i++) {
        const prof__read_segment *segment = &trace->segments[i];
        turns[i].tick = segment->tick != ~(uint64_t)0 ? segment->tick : segment->last_tick;
        turns[i].thread = segment->thread;
        turns[i].chunk = segment->chunk;
        turns[i].word = segment->first;
        turns[i].segment = (uint32_t)i;
    }
    if (turns && bounds) {
        uint64_t next = ~(uint64_t)0;
        qsort(turns, count, sizeof *turns, prof__fiber_turn_order);
        for (i = count; i-- > 0;) {
            const prof__read_segment *segment = &trace->segments[turns[i].segment];
            int first = !i || turns[i - 1].thread != turns[i].thread;
            bounds[turns[i].segment].from = first ? 0 : trace->segments[turns[i - 1].segment].last_tick;
            bounds[turns[i].segment].to = next;
            next = first ? ~(uint64_t)0 : segment->tick != ~(uint64_t)0 ? segment->tick : next;
        }
    } else {
        free(bounds);
        bounds = NULL;
    }
    free(turns);
    return bounds;
}

/* Lists the times in which switches of all processors are missing: the recording was paused, or its buffer full, and so
   segments of fibers may be missing, too. Returns 0 if there is no memory. */
static int prof__fiber_holes(prof__fiber_walk *walk, const prof__read_knowledge *known)
{
    size_t i;
    for (i = 0; i < known->count; i++) {
        const prof__read_hole *hole = &known->holes[i];
        int64_t from = prof__read_since(walk->trace, hole->from), to = prof__read_since(walk->trace, hole->to);
        prof__fiber_part *last = walk->hole_count ? &walk->holes[walk->hole_count - 1] : NULL;
        if (hole->processor != PROF__NONE32) continue;
        if (last && from <= last->to) {
            if (to > last->to) last->to = to;
            continue;
        }
        if (!PROF__ROOM(walk->holes, walk->hole_capacity, walk->hole_count)) return 0;
        walk->holes[walk->hole_count].from = from;
        walk->holes[walk->hole_count].state = PROF__NONE;
        walk->holes[walk->hole_count++].to = to;
    }
    return 1;
}

static const prof__read_states_of *prof__fiber_thread(const prof__fiber_walk *walk, uint32_t thread)
{
    size_t low = 0, high = walk->thread_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (walk->threads[middle].thread < thread)
            low = middle + 1;
        else
            high = middle;
    }
    return low < walk->thread_count && walk->threads[low].thread == thread ? &walk->threads[low] : NULL;
}

/* Adds a part. Returns 0 if there is no memory. */
static int prof__fiber_part_add(prof__fiber_walk *walk, int64_t from, int64_t to, size_t state)
{
    prof__fiber_part *part = walk->part_count ? &walk->parts[walk->part_count - 1] : NULL;
    if (to < from || (to == from && state == PROF__NONE)) return 1;
    if (part && state == PROF__NONE && part->state == state && part->from <= from && from <= part->to) {
        if (to > part->to) part->to = to;
        return 1;
    }
    if (!PROF__ROOM(walk->parts, walk->part_capacity, walk->part_count)) return 0;
    part = &walk->parts[walk->part_count++];
    part->from = from;
    part->to = to;
    part->state = state;
    return 1;
}

/* Adds what a thread did from a time to another, during which the fiber was on it or (sure: 0) may have been. Returns 0
   if there is no memory. */
static int prof__fiber_on(prof__fiber_walk *walk, const prof__read_states_of *thread, int64_t from, int64_t to,
                          int sure)
{
    const prof_state *states = walk->trace->states;
    size_t low = thread ? thread->state : 0, end = thread ? low + thread->state_count : 0, high = end;
    if (!sure && thread && from < thread->begin_ns) from = thread->begin_ns;
    if (!sure && thread && to > thread->end_ns) to = thread->end_ns;
    while (low < high) { /* the first state that ends later */
        size_t middle = low + (high - low) / 2;
        if (states[middle].end_ns <= from)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < end && states[low].start_ns < to && walk->budgets[sure]; low++, walk->budgets[sure]--) {
        int64_t start = states[low].start_ns > from ? states[low].start_ns : from;
        int64_t stop = states[low].end_ns < to ? states[low].end_ns : to;
        size_t state = sure ? low : PROF__NONE;
        if (!prof__fiber_part_add(walk, from, start, PROF__NONE)) return 0;
        if ((sure || states[low].kind != PROF_STATE_WAITING) && !prof__fiber_part_add(walk, start, stop, state))
            return 0;
        from = stop;
    }
    return prof__fiber_part_add(walk, from, to, PROF__NONE);
}

/* Lists the parts of a fiber that are not just waiting. Returns 0 if there is no memory. */
static int prof__fiber_parts(prof__fiber_walk *walk, const prof__read_track *track, int64_t reached)
{
    const prof_trace *trace = walk->trace;
    const prof__read_segment *segment = trace->segments + track->segment, *last = segment + track->segment_count - 1,
                             *next = segment;
    const prof__fiber_bounds *before = NULL;
    int64_t limit = reached;
    for (walk->part_count = 0; segment <= last; segment++) {
        const prof__fiber_bounds *bounds = &walk->bounds[segment - trace->segments];
        const prof__read_states_of *thread = prof__fiber_thread(walk, segment->thread);
        int64_t from = prof__read_ns(trace, bounds->from, &walk->hint), to = INT64_MAX;
        /* 1: it came back, and neither it nor another track has an event in between */
        int again = before && segment[-1].thread == segment->thread && before->from == bounds->from &&
                    before->to == bounds->to;
        if (next <= segment) { /* the next time at which the fiber is known to be somewhere */
            for (next = segment + 1; next <= last && next->tick == ~(uint64_t)0;) next++;
            limit = next <= last ? prof__read_ns(trace, next->tick, &walk->hint) : INT64_MAX;
        }
        before = bounds;
        if (bounds->to != ~(uint64_t)0) to = prof__read_ns(trace, bounds->to, &walk->hint);
        if (from < reached) from = reached;
        if (to > limit) to = limit;
        if (segment->tick != ~(uint64_t)0) {
            int64_t start = prof__read_ns(trace, segment->tick, &walk->hint),
                    stop = prof__read_ns(trace, segment->last_tick, &walk->hint);
            if (start < reached) start = reached;
            if (stop < start) stop = start;
            if (!prof__fiber_on(walk, thread, from, start, 0) || !prof__fiber_on(walk, thread, start, stop, 1))
                return 0;
            from = reached = stop;
            again = 0;
        }
        if (!again && !prof__fiber_on(walk, thread, from, to, 0)) return 0;
        if (segment < last && (segment[1].gap || segment[1].serial - segment->serial != 1) &&
            !prof__fiber_part_add(walk, reached, limit, PROF__NONE))
            return 0; /* segments are missing */
    }
    if (walk->part_count) qsort(walk->parts, walk->part_count, sizeof *walk->parts, prof__fiber_part_order);
    return 1;
}

/* Adds states of waiting, but where segments may be missing. Returns 0 if there is no memory. */
static int prof__fiber_waits(prof__fiber_walk *walk, size_t *hole, int64_t from, int64_t to)
{
    while (*hole < walk->hole_count && walk->holes[*hole].to <= from) ++*hole;
    for (; *hole < walk->hole_count && walk->holes[*hole].from < to; ++*hole) {
        if (!prof__state_add(walk->trace, from, walk->holes[*hole].from, PROF_STATE_WAITING, -1, 0)) return 0;
        from = walk->holes[*hole].to;
        if (from >= to) return 1; /* what comes next may lie in this hole, too */
    }
    return prof__state_add(walk->trace, from, to, PROF_STATE_WAITING, -1, 0);
}

/* Makes the states of a fiber, from its first known time on; if it has open scopes, up to the end, else up to its last
   event. waits: 1: it waits while no thread has it. Returns 0 if there is no memory. */
static int prof__fiber_make(prof__fiber_walk *walk, prof__read_track *track, int waits)
{
    prof_trace *trace = walk->trace;
    int64_t at = prof__read_ns(trace, track->tick, &walk->hint), end = walk->until_ns;
    int32_t ran_on = -1;
    size_t i, hole = 0;
    if (!track->about.open && track->about.last_ns < end) end = track->about.last_ns;
    track->state = trace->state_count;
    if (!prof__fiber_parts(walk, track, at)) return 0;
    for (i = 0; i < walk->part_count && walk->parts[i].from < end; i++) {
        const prof__fiber_part *part = &walk->parts[i];
        int64_t from = part->from > at ? part->from : at, to = part->to < end ? part->to : end;
        if (waits && !prof__fiber_waits(walk, &hole, at, from)) return 0;
        if (part->state != PROF__NONE && to >= from) {
            prof_state state = trace->states[part->state];
            unsigned char marks = trace->state_marks[part->state] & PROF__STATE_SWITCHED;
            if (state.start_ns < part->from) marks = 0;
            if (state.processor >= 0 && ran_on >= 0 && state.processor != ran_on) marks |= PROF__STATE_MOVED;
            if (state.processor >= 0) ran_on = state.processor;
            if (!prof__state_add(trace, from, to, (int)state.kind, state.processor, marks)) return 0;
        }
        if (to > at) at = to;
    }
    if (waits && !prof__fiber_waits(walk, &hole, at, end)) return 0;
    track->state_count = trace->state_count - track->state;
    return 1;
}

/* Returns 1 if the track is a fiber's. The tracks of the reader itself have no segments. */
static int prof__is_fiber(const prof__read_track *track) { return track->about.fiber && track->segment_count; }

static int prof__fibers_there(const prof_trace *trace)
{
    size_t i;
    for (i = 0; i < trace->track_count; i++)
        if (prof__is_fiber(&trace->tracks[i])) return 1;
    return 0;
}

/* Makes the states of all fibers. threads: in order of their ids. Returns 0 if there is no memory. */
static int prof__fibers_make(prof_trace *trace, const prof__read_knowledge *known, const prof__read_states_of *threads,
                             size_t thread_count)
{
    prof__fiber_bounds *bounds = prof__fiber_bounds_make(trace);
    prof__fiber_walk walk;
    /* without room for an event, a fiber may have run unseen */
    int good, waits = trace->info.lost <= trace->header.lost_deep + trace->header.lost_busy;
    size_t i;
    memset(&walk, 0, sizeof walk);
    walk.trace = trace;
    walk.bounds = bounds;
    walk.threads = threads;
    walk.thread_count = thread_count;
    walk.until_ns = prof__read_since(trace, known->until);
    walk.budgets[0] = walk.budgets[1] = 4 * (trace->state_count + trace->segment_count) + 4096;
    good = bounds && prof__fiber_holes(&walk, known);
    for (i = 0; good && i < trace->track_count; i++)
        if (prof__is_fiber(&trace->tracks[i])) good = prof__fiber_make(&walk, &trace->tracks[i], waits);
    free(bounds);
    free(walk.holes);
    free(walk.parts);
    return good;
}

/*-- TASKS -----------------------------------------------------------------------------------------------  >>tasks --
   A kernel records no switches of threads. If it says that its fibers are tasks, and that what records a segment is the
   processor that ran the task, then each segment is one turn, because every switch of fibers begins another segment,
   also one after a pause or a loss. From the first record of a turn to the last one, the task ran. Between two turns it
   did not run all the time; whether it waited or could have run is not known. */

static int prof__tasks_said(const prof_trace *trace)
{
    return !strcmp(prof__trace_said(trace, PROF__SAID_TASKS), PROF__SAID_FIBERS);
}

/* Returns 1 if the task surely left its processor before this segment: nothing is missing, and it isn't one that only
   goes on in another chunk. */
static int prof__task_left(const prof__read_segment *segment)
{
    const prof__read_segment *before = segment - 1;
    if (segment->gap || segment->serial - before->serial != 1) return 0;
    return segment->thread != before->thread || segment->chunk == before->chunk || segment->first;
}

/* Makes the states of a task, from its first record to its last one. Returns 0 if there is no memory. */
static int prof__task_make(prof_trace *trace, prof__read_track *track, size_t *hint)
{
    const prof__read_segment *segment = trace->segments + track->segment, *end = segment + track->segment_count;
    const prof__read_segment *turn = NULL; /* the one before */
    unsigned char left = 0;
    int64_t reached = 0;
    track->state = trace->state_count;
    for (; segment < end; segment++) {
        int64_t from, to;
        int moved = turn && turn->thread != segment->thread;
        if (turn && prof__task_left(segment)) left = PROF__STATE_SWITCHED;
        if (segment->record == ~(uint64_t)0) continue;
        from = prof__read_ns(trace, segment->record, hint);
        to = prof__read_ns(trace, segment->last_tick, hint);
        if (turn && from < reached) from = reached;
        if (to < from) to = from;
        if (turn && !prof__state_add(trace, reached, from, PROF_STATE_UNKNOWN, -1, left)) return 0;
        if (!prof__state_add(trace, from, to, PROF_STATE_RUNNING, (int32_t)segment->thread,
                             moved ? PROF__STATE_MOVED : 0))
            return 0;
        turn = segment;
        reached = to;
        left = 0;
    }
    track->state_count = trace->state_count - track->state;
    return 1;
}

/* Makes the states of all tasks. Returns 0 if there is no memory. */
static int prof__tasks_make(prof_trace *trace)
{
    size_t i, hint = 0;
    for (i = 0; i < trace->track_count; i++)
        if (prof__is_fiber(&trace->tracks[i]) && !prof__task_make(trace, &trace->tracks[i], &hint)) return 0;
    return 1;
}

#endif /* PROF__READ_FIBERS_H */
