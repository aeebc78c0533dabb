// read/delays: Tells ready from waiting at wake-ups, by readings of the time that threads were in the run queue.
#ifndef PROF__READ_DELAYS_H
#define PROF__READ_DELAYS_H
#include "api/read.h"
#include "ground/hash.h"
#include "image/system.h"
#include "image/words.h"
#include "read/clock.h"
#include "read/records.h"
#include "read/trace.h"

/*-- DELAYS ----------------------------------------------------------------------------------------------  >>delays --
   A thread's switches say when it stopped and when it ran again, but not when it was woken in between. Two readings of
   its time in the run queue say how much of the time between them it was ready; without the times in which it was
   preempted, that is the time after it was woken. If it waited only once between them, or once for much longer than at
   all other times, that is known of this wait, whose end becomes ready. Else only the sum is known: see
   prof_split.woken_ns. */

#define PROF__DELAY_LEAST 1000 /* ns: what is less stays waiting */
#define PROF__DELAY_NOISE 20000 /* ns: such a sum is what it takes to wake a thread */
#define PROF__DELAY_SURE 100000 /* ns: other waits that are no longer than this in all, or a twentieth, do not matter */

static int prof__delays_add(prof_trace *trace, uint64_t ns, uint64_t delay, uint32_t thread)
{
    prof__read_delay *one = (prof__read_delay *)PROF__MORE(trace->delays, trace->delay_capacity, trace->delay_count);
    if (!one) return 0;
    one->ns = ns;
    one->delay = delay;
    one->thread = thread;
    return 1;
}

/* Collects the EVENT of PROF__DEVICE_DELAYS at this word. Returns 0 if there is no memory. */
static int prof__delays_take(prof_trace *trace, const uint64_t *words, size_t at, size_t count)
{
    const uint64_t *record = words + at;
    size_t length = at + 3 < count ? prof__record_length(record[3], count - at - 3) : 0, i;
    if (length < 2 || record[3] >> 16 != (uint64_t)PROF__KIND_DATA << (PROF__KIND_SHIFT - 16)) return 1;
    for (i = 1; i < length; i++)
        if (!prof__delays_add(trace, record[2], prof__delay_ns(record[3 + i]), prof__delay_thread(record[3 + i])))
            return 0;
    return 1;
}

static int prof__delay_order(const void *a, const void *b)
{
    const prof__read_delay *x = (const prof__read_delay *)a, *y = (const prof__read_delay *)b;
    if (x->thread != y->thread) return x->thread < y->thread ? -1 : 1;
    if (x->ns != y->ns) return x->ns < y->ns ? -1 : 1;
    return x->delay < y->delay ? -1 : x->delay > y->delay;
}

/* The end of a wait in which the thread was ready. */
typedef struct prof__read_woken {
    size_t state;
    int64_t ns;
} prof__read_woken;

/* A thread whose waits are looked at, from state to state. */
typedef struct prof__delay_walk {
    prof_trace *trace;
    uint32_t thread;
    size_t state, end;
    prof__read_woken *woken;
    size_t woken_count, woken_capacity;
} prof__delay_walk;

/* What a thread did between two readings. */
typedef struct prof__delay_span {
    int64_t ready, waited, longest;
    size_t longest_state;
    int known; /* 0: a part of it is not */
} prof__delay_span;

/* Adds up the states that end after a reading, up to the next one, and moves behind them. */
static prof__delay_span prof__delay_span_of(prof__delay_walk *walk, int64_t from, int64_t to)
{
    const prof_state *states = walk->trace->states;
    prof__delay_span span;
    memset(&span, 0, sizeof span);
    while (walk->state < walk->end && states[walk->state].end_ns <= from) walk->state++;
    span.known = walk->state < walk->end && states[walk->state].start_ns <= from;
    for (; walk->state < walk->end && states[walk->state].end_ns <= to; walk->state++) {
        const prof_state *state = &states[walk->state];
        int64_t ns = state->end_ns - state->start_ns;
        int stops = state->kind != PROF_STATE_RUNNING; /* then it runs, or what it does is not known */
        if (walk->state + 1 == walk->end || state[1].start_ns != state->end_ns || state->kind == PROF_STATE_UNKNOWN ||
            (stops && state[1].kind != PROF_STATE_RUNNING))
            span.known = 0;
        if (state->kind == PROF_STATE_READY) span.ready += ns;
        if (state->kind != PROF_STATE_WAITING) continue;
        span.waited += ns;
        if (ns <= span.longest) continue;
        span.longest = ns;
        span.longest_state = walk->state;
    }
    return span;
}

/* Leaves out readings so soon after which the thread came to run that they may be of before or after that. Returns how
   many are left. */
static size_t prof__delays_sure(const prof__delay_walk *walk, prof__read_delay *readings, size_t count)
{
    const prof_state *states = walk->trace->states;
    size_t i, kept = 0, at = walk->state;
    for (i = 0; i < count; i++) {
        int64_t ns = prof__read_since(walk->trace, readings[i].ns);
        while (at < walk->end && states[at].end_ns <= ns) at++;
        if (at < walk->end && states[at].kind != PROF_STATE_RUNNING && states[at].end_ns <= ns + PROF__DELAY_LATE)
            continue;
        readings[kept++] = readings[i];
    }
    return kept;
}

/* Notes what two readings say. Returns 0 if there is no memory. */
static int prof__delay_note(prof__delay_walk *walk, const prof__read_delay *from, const prof__read_delay *to)
{
    prof_trace *trace = walk->trace;
    int64_t from_ns = prof__read_since(trace, from->ns), to_ns = prof__read_since(trace, to->ns), all;
    prof__delay_span span = prof__delay_span_of(walk, from_ns, to_ns);
    uint64_t delay = (to->delay - from->delay) & PROF__DELAY_MASK;
    if (!span.known || delay > PROF__DELAY_MASK / 2) return 1;
    all = (int64_t)delay - span.ready;
    if (all > span.waited) all = span.waited;
    if (all < PROF__DELAY_LEAST) return 1;
    if (span.waited - span.longest <= PROF__DELAY_SURE || span.waited - span.longest <= span.longest / 20) {
        prof__read_woken *woken =
            (prof__read_woken *)PROF__MORE(walk->woken, walk->woken_capacity, walk->woken_count);
        if (!woken) return 0;
        woken->state = span.longest_state;
        woken->ns = all < span.longest ? all : span.longest;
    } else if (all >= PROF__DELAY_NOISE) {
        prof__read_unplaced *unplaced = (prof__read_unplaced *)PROF__MORE(trace->unplaced, trace->unplaced_capacity,
                                                                          trace->unplaced_count);
        if (!unplaced) return 0;
        unplaced->thread = walk->thread;
        unplaced->from = from_ns;
        unplaced->to = to_ns;
        unplaced->ns = all;
    }
    return 1;
}

/* Splits the waits that were noted: from the last one on, so that each state is moved once. Returns 0 if there is no
   memory. */
static int prof__delays_split(prof__delay_walk *walk)
{
    prof_trace *trace = walk->trace;
    size_t i, left = walk->woken_count, to;
    for (i = 0; i < left; i++) {
        if (!PROF__ROOM(trace->states, trace->state_capacity, trace->state_count) ||
            !PROF__ROOM(trace->state_marks, trace->state_mark_capacity, trace->state_count))
            return 0;
        trace->state_count++;
    }
    to = trace->state_count;
    for (i = walk->end; left; i--) {
        const prof__read_woken *woken = &walk->woken[left - 1];
        prof_state state = trace->states[i - 1];
        unsigned char marks = trace->state_marks[i - 1];
        if (woken->state == i - 1) {
            trace->states[--to] = state;
            trace->states[to].kind = PROF_STATE_READY;
            trace->states[to].start_ns = state.end_ns - woken->ns;
            trace->state_marks[to] = 0;
            state.end_ns -= woken->ns;
            left--;
        }
        trace->states[--to] = state;
        trace->state_marks[to] = marks;
    }
    return 1;
}

/* Splits the waits of a thread, whose states are the trace's last ones. readings: of this thread, in order. Returns 0
   if there is no memory. */
static int prof__delays_apply(prof_trace *trace, uint32_t thread, size_t first, prof__read_delay *readings,
                              size_t count)
{
    prof__delay_walk walk;
    size_t i;
    int good = 1;
    memset(&walk, 0, sizeof walk);
    walk.trace = trace;
    walk.thread = thread;
    walk.state = first;
    walk.end = trace->state_count;
    count = prof__delays_sure(&walk, readings, count);
    for (i = 0; i + 1 < count && good; i++) good = prof__delay_note(&walk, &readings[i], &readings[i + 1]);
    good = good && prof__delays_split(&walk);
    free(walk.woken);
    return good;
}

/* Finds the readings of a thread. *next: where to look; moves on behind them. Returns how many there are. */
static size_t prof__delays_of(const prof_trace *trace, uint32_t thread, size_t *next)
{
    size_t first;
    while (*next < trace->delay_count && trace->delays[*next].thread < thread) ++*next;
    first = *next;
    while (*next < trace->delay_count && trace->delays[*next].thread == thread) ++*next;
    return *next - first;
}

#endif /* PROF__READ_DELAYS_H */
