// read/states: Makes states of the switches of threads: running, ready, waiting; and splits times by them.
#ifndef PROF__READ_STATES_H
#define PROF__READ_STATES_H
#include "api/read.h"
#include "ground/errors.h"
#include "ground/hash.h"
#include "image/system.h"
#include "read/clock.h"
#include "read/delays.h"
#include "read/fibers.h"
#include "read/switches.h"
#include "read/trace.h"

/*-- STATES ----------------------------------------------------------------------------------------------  >>states --
   Switches lie in EVENTs, one after the other for each processor. Here they are sorted by thread and time, and what a
   thread did between two of them becomes a state. Where switches are missing, nothing is known of the threads that may
   have run on the processor meanwhile. */

static int prof__hole_order(const void *a, const void *b)
{
    const prof__read_hole *x = (const prof__read_hole *)a, *y = (const prof__read_hole *)b;
    return x->from < y->from ? -1 : x->from > y->from;
}

static int prof__switches_order(const void *a, const void *b)
{
    const prof__read_switches *x = (const prof__read_switches *)a, *y = (const prof__read_switches *)b;
    return x->id < y->id ? -1 : x->id > y->id;
}

static int prof__switch_order(const void *a, const void *b)
{
    const prof__read_switch *x = (const prof__read_switch *)a, *y = (const prof__read_switch *)b;
    if (x->thread != y->thread) return x->thread < y->thread ? -1 : 1;
    if (x->ns != y->ns) return x->ns < y->ns ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

#define PROF__HOLES 4096u /* of more, all that comes after them is unknown */
#define PROF__HOLE_PROCESSORS 1024u

static int prof__hole_add(prof__read_knowledge *known, uint64_t from, uint64_t to, uint32_t processor)
{
    if (known->count == PROF__HOLES) {
        known->holes[PROF__HOLES - 1].to = ~(uint64_t)0;
        known->holes[PROF__HOLES - 1].processor = PROF__NONE32;
        return 1;
    }
    if (!PROF__ROOM(known->holes, known->capacity, known->count)) return 0;
    known->holes[known->count].from = from;
    known->holes[known->count].to = to;
    known->holes[known->count++].processor = processor;
    return 1;
}

/* Finds out of which times the switches are known. last: of the first processors: the time of their last switch so far.
   Returns 0 if there is no memory. */
static int prof__switches_known(prof_trace *trace, prof__read_knowledge *known, uint64_t *last)
{
    uint64_t round = 0; /* of the last EVENT that says what is known */
    int missing = trace->switches[0].serial != 0;
    size_t i;
    for (i = 0; i < trace->switches_count; i++) {
        const prof__read_switches *event = &trace->switches[i];
        if (i && event->serial != (uint16_t)(event[-1].serial + 1)) missing = 1;
        if (event->what == PROF__SWITCHES_OF && event->count) {
            const prof__read_switch *first = &trace->switch_items[event->first];
            uint64_t *latest = &last[event->processor % PROF__HOLE_PROCESSORS];
            int here = event->processor < PROF__HOLE_PROCESSORS && *latest > round;
            if ((first->place & 7) == PROF__SWITCH_LOST) {
                trace->info.switches_lost += first->thread;
                if (!prof__hole_add(known, here ? *latest : round, first->ns, event->processor)) return 0;
            }
            *latest = first[event->count - 1].ns;
        }
        if (event->what == PROF__SWITCHES_OF) continue;
        if (missing && !round)
            known->since = event->ns;
        else if (missing && !prof__hole_add(known, round, event->ns, PROF__NONE32))
            return 0;
        missing = 0;
        round = event->ns;
    }
    known->until = round;
    if (known->count) qsort(known->holes, known->count, sizeof *known->holes, prof__hole_order);
    return 1;
}

enum { PROF__STATE_NONE = PROF_STATE_COUNT, PROF__STATE_UNSEEN, PROF__STATE_UNSURE };

/* A thread while its states are made. kind: a prof_state_kind; NONE: nothing is known; UNSEEN: its first switch will
   tell what it does, and without one it runs; UNSURE: likewise, but without one nothing is known. */
typedef struct prof__read_walk {
    prof_trace *trace;
    const prof__read_knowledge *known;
    int kind;
    unsigned char marks;
    uint64_t since;
    int32_t processor, ran_on; /* ran_on: where it ran before, or does; -1: unknown */
    size_t hole;
} prof__read_walk;

/* Ends the present state, if it is known. Returns 0 if there is no memory. */
static int prof__walk_emit(prof__read_walk *walk, uint64_t end)
{
    prof_trace *trace = walk->trace;
    int kind = walk->kind == PROF__STATE_UNSEEN ? (int)PROF_STATE_RUNNING : walk->kind;
    int64_t from = prof__read_since(trace, walk->since), to = prof__read_since(trace, end);
    if (kind >= PROF_STATE_COUNT || end < walk->since || to < 0) return 1;
    return prof__state_add(trace, from < 0 ? 0 : from, to, kind, walk->processor, walk->marks);
}

static void prof__walk_to(prof__read_walk *walk, int kind, uint64_t ns, int32_t processor)
{
    walk->marks = 0;
    if (kind == PROF_STATE_RUNNING) {
        if (walk->ran_on >= 0 && walk->ran_on != processor) walk->marks = PROF__STATE_MOVED;
        walk->ran_on = processor;
    }
    walk->kind = kind;
    walk->since = ns;
    walk->processor = processor;
}

/* Ends what is known of the thread where switches are missing that may have been its own, up to a time. Those of a
   processor are not, while it runs on another. */
static int prof__walk_holes(prof__read_walk *walk, uint64_t ns)
{
    const prof__read_knowledge *known = walk->known;
    size_t i;
    while (walk->hole < known->count && known->holes[walk->hole].to <= walk->since) walk->hole++;
    for (i = walk->hole; i < known->count && known->holes[i].from < ns; i++) {
        const prof__read_hole *hole = &known->holes[i];
        int elsewhere = walk->kind == PROF_STATE_RUNNING && hole->processor != PROF__NONE32 &&
                        (uint32_t)walk->processor != hole->processor;
        if (elsewhere || walk->kind == PROF__STATE_NONE || hole->to <= walk->since) continue;
        if (!prof__walk_emit(walk, hole->from > walk->since ? hole->from : walk->since)) return 0;
        prof__walk_to(walk, PROF__STATE_UNSURE, hole->to < ns ? hole->to : ns, -1);
    }
    return 1;
}

/* A thread that did not run from the last switch on begins to. A second one at the same time: its switches are recorded
   twice. */
static int prof__walk_in(prof__read_walk *walk, uint64_t ns, int32_t processor)
{
    if (walk->kind == PROF_STATE_RUNNING && walk->processor == processor) return 1;
    /* it could have run since it was seen, and did not */
    if (walk->kind == PROF__STATE_UNSEEN) walk->kind = PROF_STATE_READY;
    if (walk->kind == PROF__STATE_UNSURE) walk->kind = PROF_STATE_UNKNOWN;
    if (!prof__walk_emit(walk, ns)) return 0;
    prof__walk_to(walk, PROF_STATE_RUNNING, ns, processor);
    return 1;
}

static int prof__walk_out(prof__read_walk *walk, uint64_t ns, int32_t processor, int kind)
{
    if (walk->kind == PROF__STATE_UNSEEN || walk->kind == PROF__STATE_UNSURE)
        prof__walk_to(walk, PROF_STATE_RUNNING, walk->since, processor);
    int ran = walk->kind == PROF_STATE_RUNNING;
    if (!ran && walk->kind != PROF__STATE_NONE) return 1; /* recorded twice */
    if (!prof__walk_emit(walk, ns)) return 0;
    prof__walk_to(walk, kind, ns, -1);
    walk->trace->info.switches += (uint64_t)ran;
    if (ran) walk->marks = PROF__STATE_SWITCHED;
    return 1;
}

static int prof__walk_step(prof__read_walk *walk, const prof__read_switch *one)
{
    int32_t processor = (int32_t)(one->place >> 3);
    if (!prof__walk_holes(walk, one->ns)) return 0;
    switch (one->place & 7) {
    case PROF__SWITCH_IN: return prof__walk_in(walk, one->ns, processor);
    case PROF__SWITCH_READY: return prof__walk_out(walk, one->ns, processor, PROF_STATE_READY);
    case PROF__SWITCH_OUT: return prof__walk_out(walk, one->ns, processor, PROF_STATE_UNKNOWN);
    case PROF__SWITCH_WAITS: return prof__walk_out(walk, one->ns, processor, PROF_STATE_WAITING);
    case PROF__SWITCH_ENDS:
        if (!prof__walk_emit(walk, one->ns)) return 0;
        prof__walk_to(walk, PROF__STATE_NONE, one->ns, -1);
        return 1;
    case PROF__SWITCH_NEW: prof__walk_to(walk, PROF_STATE_READY, one->ns, -1); return 1;
    case PROF__SWITCH_KNOWN:
        if (walk->kind >= PROF__STATE_NONE) prof__walk_to(walk, PROF__STATE_UNSEEN, one->ns, -1);
        return 1;
    default: return 1;
    }
}

/* Makes the states of one thread. */
static int prof__walk_thread(prof_trace *trace, const prof__read_knowledge *known, const prof__read_switch *items,
                             size_t count)
{
    prof__read_walk walk;
    size_t i;
    memset(&walk, 0, sizeof walk);
    walk.trace = trace;
    walk.known = known;
    walk.ran_on = -1;
    prof__walk_to(&walk, known->since ? PROF__STATE_UNSURE : PROF__STATE_NONE, known->since, -1);
    for (i = 0; i < count && items[i].ns <= known->until; i++)
        if (items[i].ns >= known->since && !prof__walk_step(&walk, &items[i])) return 0;
    if (!prof__walk_holes(&walk, known->until)) return 0;
    return walk.since >= known->until || prof__walk_emit(&walk, known->until);
}

typedef struct prof__read_threads {
    prof__read_states_of *list;
    size_t count, capacity;
} prof__read_threads;

/* A thread's track. */
typedef struct prof__read_owner {
    uint64_t thread;
    int64_t first_ns;
    size_t track;
} prof__read_owner;

static int prof__owner_order(const void *a, const void *b)
{
    const prof__read_owner *x = (const prof__read_owner *)a, *y = (const prof__read_owner *)b;
    if (x->thread != y->thread) return x->thread < y->thread ? -1 : 1;
    if (x->first_ns != y->first_ns) return x->first_ns < y->first_ns ? -1 : 1;
    return x->track < y->track ? -1 : x->track > y->track;
}

/* Lists the tracks of threads by the threads' ids. Returns how many; *owners is NULL without memory. */
static size_t prof__owners_make(const prof_trace *trace, prof__read_owner **owners)
{
    size_t i, count = 0;
    *owners = (prof__read_owner *)malloc((trace->track_count + 1) * sizeof **owners);
    for (i = 0; *owners && i < trace->track_count; i++) {
        const prof_track *about = &trace->tracks[i].about;
        if (about->fiber || *about->device) continue;
        (*owners)[count].thread = about->thread_id;
        (*owners)[count].first_ns = about->first_ns;
        (*owners)[count++].track = i;
    }
    if (count) qsort(*owners, count, sizeof **owners, prof__owner_order);
    return count;
}

/* Gives the states of a thread, which are the trace's last ones, to the tracks with its id. The system gives an id
   again after a thread has ended: then each track has the states from the last event of the one before on, up to the
   first event of the next one. */
static void prof__states_give(prof_trace *trace, const prof__read_owner *owners, size_t count, size_t first)
{
    size_t i;
    for (i = 0; i < count; i++) {
        prof__read_track *track = &trace->tracks[owners[i].track];
        int64_t from = i ? trace->tracks[owners[i - 1].track].about.last_ns : INT64_MIN;
        int64_t to = i + 1 < count ? owners[i + 1].first_ns : INT64_MAX;
        while (i && first < trace->state_count && trace->states[first].end_ns <= from) first++;
        track->state = first;
        for (; first < trace->state_count && trace->states[first].start_ns < to; first++) continue;
        track->state_count = first - track->state;
    }
}

/* Adds a state of the trace to a sum. ns: what is later does not count. */
static void prof__sum_add(const prof_trace *trace, prof__read_sum *sum, size_t i, int64_t ns)
{
    const prof_state *state = &trace->states[i];
    int64_t end = state->end_ns < ns ? state->end_ns : ns;
    if (ns <= state->start_ns) return;
    sum->ns[state->kind] += (uint64_t)(end - state->start_ns);
    sum->switches += trace->state_marks[i] & PROF__STATE_SWITCHED ? 1u : 0;
    sum->migrations += trace->state_marks[i] & PROF__STATE_MOVED ? 1u : 0;
}

static int prof__states_sum(prof_trace *trace)
{
    prof__read_sum sum;
    size_t i;
    memset(&sum, 0, sizeof sum);
    trace->sums = (prof__read_sum *)malloc((trace->state_count / PROF__STATE_STEP + 1) * sizeof *trace->sums);
    if (!trace->sums) return 0;
    for (i = 0; i < trace->state_count; i++) {
        if (i % PROF__STATE_STEP == 0) trace->sums[i / PROF__STATE_STEP] = sum;
        prof__sum_add(trace, &sum, i, INT64_MAX);
    }
    if (i % PROF__STATE_STEP == 0) trace->sums[i / PROF__STATE_STEP] = sum;
    return 1;
}

/* Notes which states a thread has, for fibers. Returns 0 if there is no memory. */
static int prof__states_note(const prof_trace *trace, prof__read_threads *threads, const prof__read_switch *items,
                             size_t count, size_t first)
{
    prof__read_states_of *of = (prof__read_states_of *)PROF__MORE(threads->list, threads->capacity, threads->count);
    if (!of) return 0;
    of->thread = items->thread;
    of->state = first;
    of->state_count = trace->state_count - first;
    of->begin_ns = INT64_MIN;
    of->end_ns = INT64_MAX;
    if ((items[0].place & 7) == PROF__SWITCH_NEW) of->begin_ns = prof__read_since(trace, items[0].ns);
    if ((items[count - 1].place & 7) == PROF__SWITCH_ENDS) of->end_ns = prof__read_since(trace, items[count - 1].ns);
    return 1;
}

/* Makes the states of all threads, of switches that are sorted. threads: receives them; NULL: only those with a track
   are wanted. Returns 0 if there is no memory. */
static int prof__states_walk(prof_trace *trace, const prof__read_knowledge *known, prof__read_threads *threads)
{
    prof__read_owner *owners;
    size_t from, to, owner = 0, end, count = prof__owners_make(trace, &owners), delay = 0, readings;
    int good = owners != NULL;
    if (trace->delay_count) qsort(trace->delays, trace->delay_count, sizeof *trace->delays, prof__delay_order);
    for (from = 0; good && from < trace->switch_count; from = to) {
        size_t first = trace->state_count;
        uint32_t thread = trace->switch_items[from].thread;
        for (to = from + 1; to < trace->switch_count && trace->switch_items[to].thread == thread;) to++;
        good = prof__walk_thread(trace, known, trace->switch_items + from, to - from);
        readings = prof__delays_of(trace, thread, &delay);
        if (readings > 1) /* one alone says nothing */
            good = good && prof__delays_apply(trace, thread, first, trace->delays + delay - readings, readings);
        while (owner < count && owners[owner].thread < thread) owner++;
        for (end = owner; end < count && owners[end].thread == thread;) end++;
        prof__states_give(trace, owners + owner, end - owner, first);
        if (threads)
            good = good && prof__states_note(trace, threads, trace->switch_items + from, to - from, first);
        else if (end == owner)
            trace->state_count = first; /* of a thread without a track: nobody asks for them */
    }
    free(owners);
    return good;
}

static int prof__states_make(prof_trace *trace)
{
    prof__read_knowledge known;
    prof__read_threads threads;
    uint64_t *last;
    int good, fibers = prof__fibers_there(trace);
    memset(&known, 0, sizeof known);
    memset(&threads, 0, sizeof threads);
    if (!trace->switches_count) return !prof__tasks_said(trace) || (prof__tasks_make(trace) && prof__states_sum(trace));
    qsort(trace->switches, trace->switches_count, sizeof *trace->switches, prof__switches_order);
    last = (uint64_t *)calloc(PROF__HOLE_PROCESSORS, sizeof *last);
    good = last && prof__switches_known(trace, &known, last);
    if (trace->switch_count)
        qsort(trace->switch_items, trace->switch_count, sizeof *trace->switch_items, prof__switch_order);
    good = good && prof__states_walk(trace, &known, fibers ? &threads : NULL);
    if (fibers) good = good && prof__fibers_make(trace, &known, threads.list, threads.count);
    good = good && prof__states_sum(trace);
    free(last);
    free(known.holes);
    free(threads.list);
    free(trace->switches);
    free(trace->switch_items);
    free(trace->delays);
    trace->delays = NULL;
    trace->switches = NULL;
    trace->switch_items = NULL;
    return good;
}

PROF_DEF const prof_state *prof_track_states(const prof_trace *trace, size_t track, size_t *count)
{
    if (count) *count = 0;
    if (!trace || !count || track >= trace->track_count || !trace->tracks[track].state_count) return NULL;
    *count = trace->tracks[track].state_count;
    return trace->states + trace->tracks[track].state;
}

/* Sums up the states of a track up to a time, on top of all states of the threads before. */
static void prof__states_until(const prof_trace *trace, const prof__read_track *track, int64_t ns, prof__read_sum *sum)
{
    size_t low = track->state, high = track->state + track->state_count, i;
    while (low < high) { /* the first state that ends later */
        size_t middle = low + (high - low) / 2;
        if (trace->states[middle].end_ns <= ns)
            low = middle + 1;
        else
            high = middle;
    }
    *sum = trace->sums[low / PROF__STATE_STEP];
    for (i = low / PROF__STATE_STEP * PROF__STATE_STEP; i < low; i++) prof__sum_add(trace, sum, i, INT64_MAX);
    if (low < track->state + track->state_count) prof__sum_add(trace, sum, low, ns);
}

/* Returns for how long a thread, of its waiting in a time, may have been ready after it was woken: see >>delays. */
static uint64_t prof__states_woken(const prof_trace *trace, const prof__read_track *track, int64_t start_ns,
                                   int64_t end_ns)
{
    uint32_t thread = (uint32_t)track->about.thread_id;
    size_t low = 0, high = trace->unplaced_count;
    uint64_t all = 0;
    prof__read_sum from, to;
    while (low < high) { /* the first one of the thread that ends later */
        size_t middle = low + (high - low) / 2;
        const prof__read_unplaced *at = &trace->unplaced[middle];
        if (at->thread < thread || (at->thread == thread && at->to <= start_ns))
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < trace->unplaced_count; low++) {
        const prof__read_unplaced *at = &trace->unplaced[low];
        uint64_t waited;
        if (at->thread != thread || at->from >= end_ns) break;
        prof__states_until(trace, track, at->from > start_ns ? at->from : start_ns, &from);
        prof__states_until(trace, track, at->to < end_ns ? at->to : end_ns, &to);
        waited = to.ns[PROF_STATE_WAITING] - from.ns[PROF_STATE_WAITING];
        all += waited < (uint64_t)at->ns ? waited : (uint64_t)at->ns;
    }
    return all;
}

static void prof__states_split(const prof_trace *trace, const prof__read_track *track, int64_t start_ns, int64_t end_ns,
                               prof_split *split)
{
    prof__read_sum from, to;
    memset(split, 0, sizeof *split);
    if (end_ns < start_ns) end_ns = start_ns;
    split->wall_ns = split->unknown_ns = (uint64_t)(end_ns - start_ns);
    if (!track->state_count) return;
    prof__states_until(trace, track, start_ns, &from);
    prof__states_until(trace, track, end_ns, &to);
    split->running_ns = to.ns[PROF_STATE_RUNNING] - from.ns[PROF_STATE_RUNNING];
    split->ready_ns = to.ns[PROF_STATE_READY] - from.ns[PROF_STATE_READY];
    split->waiting_ns = to.ns[PROF_STATE_WAITING] - from.ns[PROF_STATE_WAITING];
    split->unknown_ns -= split->running_ns + split->ready_ns + split->waiting_ns;
    split->switches = to.switches - from.switches;
    split->migrations = to.migrations - from.migrations;
    if (trace->unplaced_count && !track->about.fiber)
        split->woken_ns = prof__states_woken(trace, track, start_ns, end_ns);
}

PROF_DEF prof_status prof_track_split(const prof_trace *trace, size_t track, int64_t start_ns, int64_t duration_ns,
                                      prof_split *split)
{
    if (split) memset(split, 0, sizeof *split);
    if (!trace || !split) return prof__null("prof_track_split", "trace or split");
    if (track >= trace->track_count)
        return prof__fail(PROF_INVALID_ARGUMENT, "prof_track_split: there is no track %lu", (unsigned long)track);
    if (duration_ns < 0 || start_ns > INT64_MAX - duration_ns)
        return prof__fail(PROF_INVALID_ARGUMENT, "prof_track_split: duration_ns must not be negative");
    prof__states_split(trace, &trace->tracks[track], start_ns, start_ns + duration_ns, split);
    return PROF_OK;
}

/* Returns 1 if the parts that a frame says itself are those of this frame: that of the boundary before may be lost. */
static int prof__frame_fits(const uint64_t *parts, uint64_t wall)
{
    uint64_t sum = parts[0] + parts[1] + parts[2], most = wall / 20 > 100000 ? wall / 20 : 100000;
    return (sum > wall ? sum - wall : wall - sum) <= most;
}

/* Replaces a split by what the event's own arguments say: see PROF__KEY_RUNNING. The time that they leave, in which the
   scope or frame measured, the thread ran. */
static void prof__event_timed(const prof_event *event, prof_split *split)
{
    static const char *const keys[] = {PROF__KEY_RUNNING, PROF__KEY_READY, PROF__KEY_WAITING};
    uint64_t parts[3] = {0, 0, 0}, found = 0, wall = split->wall_ns;
    uint32_t i, j;
    for (i = 0; i < event->arg_count; i++) {
        const prof_arg *arg = &event->args[i];
        if (arg->value.type != PROF_VALUE_UINT || arg->key[0] != 'p') continue;
        for (j = 0; j < 3; j++) {
            if (strcmp(arg->key, keys[j])) continue;
            parts[j] = arg->value.as.u;
            found |= 1u << j;
        }
    }
    if (!(found & 1)) return;
    if (event->type == PROF_EVENT_FRAME && found == 7 && !prof__frame_fits(parts, wall)) return;
    if (found == 7) {
        split->ready_ns = parts[1] < wall ? parts[1] : wall;
        split->waiting_ns = parts[2] < wall - split->ready_ns ? parts[2] : wall - split->ready_ns;
        split->running_ns = wall - split->ready_ns - split->waiting_ns;
    } else {
        split->ready_ns = split->waiting_ns = 0;
        split->running_ns = parts[0] < wall ? parts[0] : wall;
    }
    split->unknown_ns = wall - split->running_ns - split->ready_ns - split->waiting_ns;
}

/* Returns when an event began. The time of a frame is that of the boundary that ends it. */
static int64_t prof__event_start(const prof_event *event)
{
    return event->type == PROF_EVENT_FRAME ? event->start_ns - event->duration_ns : event->start_ns;
}

/* Splits an event's time: by the states of its thread or, where they leave something unknown, by its own arguments. */
static void prof__event_split(const prof_trace *trace, const prof__read_track *track, const prof_event *event,
                              prof_split *split)
{
    int64_t start = prof__event_start(event);
    int timed = event->type == PROF_EVENT_SCOPE || event->type == PROF_EVENT_FRAME;
    prof__states_split(trace, track, start, start + event->duration_ns, split);
    if (track->about.fiber && track->state_count) return; /* its arguments say what the thread did */
    if (split->unknown_ns && event->arg_count && timed && !event->flags)
        prof__event_timed(event, split);
}

PROF_DEF prof_status prof_event_split(const prof_trace *trace, size_t track, const prof_event *event, prof_split *split)
{
    prof_status status;
    if (split) memset(split, 0, sizeof *split);
    if (!event) return prof__null("prof_event_split", "event");
    status = prof_track_split(trace, track, prof__event_start(event), event->duration_ns, split);
    if (!status) prof__event_split(trace, &trace->tracks[track], event, split);
    return status;
}

#endif /* PROF__READ_STATES_H */
