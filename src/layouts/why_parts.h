// layouts/why_parts: Splits the calls that prof_why() explains: by states, waits, and who ran instead.
#ifndef PROF__LAYOUTS_WHY_PARTS_H
#define PROF__LAYOUTS_WHY_PARTS_H
#include "api/read.h"
#include "api/reports.h"
#include "ground/hash.h"
#include "layouts/api.h"
#include "layouts/why_calls.h"

static int64_t prof__why_end(const prof__why_call *call)
{
    return call->about.start_ns + (int64_t)call->about.split.wall_ns;
}

/*-- waits --*/

static const char *prof__why_kind(const prof_wait *wait)
{
    if (!strcmp(wait->what, "fd") || !strcmp(wait->what, "fds")) return "io";
    if (!strcmp(wait->what, "pid")) return "process";
    if (!strcmp(wait->what, "page")) return "fault";
    return *wait->what ? wait->what : "sleep";
}

/* All pages of one file have a row. */
static int prof__why_same_object(const prof_why_wait *row, const prof_wait *wait)
{
    int pages = *wait->name && !strcmp(wait->what, "page") && !strcmp(row->name, wait->name);
    return pages || row->object == wait->object;
}

static int prof__why_like(const prof_why_wait *row, const prof_wait *wait)
{
    return prof__why_same_object(row, wait) && row->holder == wait->holder && row->holder_track == wait->holder_track &&
           !strcmp(row->call, wait->call) && !strcmp(row->what, wait->what) && !strcmp(row->scope, wait->scope) &&
           !strcmp(row->holder_scope, wait->holder_scope);
}

/* Returns the row of a wait. Adds it if it is new. Returns NULL without memory. */
static prof_why_wait *prof__why_wait_row(prof__why_call *call, const prof_wait *wait)
{
    size_t i;
    prof_why_wait *row;
    for (i = 0; i < call->about.wait_count; i++)
        if (prof__why_like(&call->waits[i], wait)) return &call->waits[i];
    row = (prof_why_wait *)PROF__MORE(call->waits, call->wait_room, call->about.wait_count);
    if (!row) return NULL;
    row->kind = prof__why_kind(wait);
    row->call = wait->call;
    row->name = wait->name;
    row->what = wait->what;
    row->object = wait->object;
    row->scope = wait->scope;
    row->holder = wait->holder;
    row->holder_track = wait->holder_track;
    row->holder_scope = wait->holder_scope;
    row->waker_track = PROF_NO_TRACK;
    row->waker_scope = "";
    return row;
}

/* Adds what a wait has of a call. *until: the end of the waits before it; what they cover does not count again. *ns:
   how long these were: together they are no longer than all that the call waited. */
static int prof__why_wait(prof__why *why, prof__why_call *call, const prof_wait *wait, int64_t *until, uint64_t *ns)
{
    int64_t start = wait->start_ns > *until ? wait->start_ns : *until, end = wait->start_ns + wait->duration_ns;
    prof_why_wait *row;
    prof_split split, *all = &call->about.split;
    uint64_t waited, moved;
    if (end > prof__why_end(call)) end = prof__why_end(call);
    if (end <= start) return 1;
    *until = end;
    prof_track_split(why->trace, call->about.track, start, end - start, &split);
    row = prof__why_wait_row(call, wait);
    if (!row) return 0;
    moved = split.unknown_ns < all->unknown_ns ? split.unknown_ns : all->unknown_ns;
    all->waiting_ns += moved;
    all->unknown_ns -= moved;
    waited = split.waiting_ns + split.unknown_ns;
    if (waited > all->waiting_ns - *ns) waited = all->waiting_ns - *ns;
    *ns += waited;
    row->ns += waited;
    row->count++;
    if (wait->waker_track != PROF_NO_TRACK) {
        row->waker_track = wait->waker_track;
        row->waker_scope = wait->waker_scope;
    }
    return 1;
}

static int prof__why_wait_order(const void *a, const void *b)
{
    const prof_why_wait *x = (const prof_why_wait *)a, *y = (const prof_why_wait *)b;
    if (x->ns != y->ns) return x->ns > y->ns ? -1 : 1;
    return x->object < y->object ? -1 : x->object > y->object;
}

/* Adds the waiting that no record explains, and leaves out calls that ran all the time. */
static int prof__why_waits_rest(prof__why_call *call)
{
    uint64_t rest = call->about.split.waiting_ns;
    prof_why_wait *row;
    size_t i, kept = 0;
    for (i = 0; i < call->about.wait_count; i++) {
        rest -= call->waits[i].ns;
        if (call->waits[i].ns) call->waits[kept++] = call->waits[i];
    }
    call->about.wait_count = kept;
    if (rest) {
        row = (prof_why_wait *)PROF__MORE(call->waits, call->wait_room, call->about.wait_count);
        if (!row) return 0;
        row->kind = "unknown";
        row->call = row->name = row->what = row->scope = row->holder_scope = row->waker_scope = "";
        row->holder_track = row->waker_track = PROF_NO_TRACK;
        row->ns = rest;
    }
    if (call->about.wait_count)
        qsort(call->waits, call->about.wait_count, sizeof *call->waits, prof__why_wait_order);
    return 1;
}

static int prof__why_waits(prof__why *why, prof__why_call *call)
{
    int64_t until = call->about.start_ns;
    uint64_t ns = 0;
    size_t i;
    for (i = 0; i < why->wait_count && why->waits[i].start_ns < prof__why_end(call); i++)
        if (why->waits[i].track == call->about.track && !prof__why_wait(why, call, &why->waits[i], &until, &ns))
            return 0;
    return prof__why_waits_rest(call);
}

/*-- who ran instead --*/

/* Returns the first state that ends after a time. */
static size_t prof__why_state(const prof_state *states, size_t count, int64_t ns)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (states[middle].end_ns <= ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Returns how long a track's thread ran on a processor in a time. */
static uint64_t prof__why_ran_on(const prof_trace *trace, size_t track, int32_t processor, int64_t from, int64_t to)
{
    size_t count, i;
    const prof_state *states = prof_track_states(trace, track, &count);
    uint64_t ns = 0;
    for (i = prof__why_state(states, count, from); i < count && states[i].start_ns < to; i++) {
        int64_t start = states[i].start_ns > from ? states[i].start_ns : from;
        int64_t end = states[i].end_ns < to ? states[i].end_ns : to;
        if (states[i].kind == PROF_STATE_RUNNING && states[i].processor == processor) ns += (uint64_t)(end - start);
    }
    return ns;
}

/* Adds the threads that ran on a processor in a time. What fibers did is a part of what their threads did. */
static int prof__why_ran_in(prof__why *why, prof__why_call *call, int32_t processor, int64_t from, int64_t to)
{
    size_t track, i;
    for (track = 0; track < prof_trace_track_count(why->trace); track++) {
        int other = track != call->about.track && !prof_trace_track(why->trace, track)->fiber;
        uint64_t ns = other ? prof__why_ran_on(why->trace, track, processor, from, to) : 0;
        if (!ns) continue;
        for (i = 0; i < call->about.ran_count && call->ran[i].track != track;) i++;
        if (i == call->about.ran_count && !PROF__MORE(call->ran, call->ran_room, call->about.ran_count)) return 0;
        call->ran[i].track = track;
        call->ran[i].ns += ns;
    }
    return 1;
}

static int prof__why_ran_order(const void *a, const void *b)
{
    const prof_why_ran *x = (const prof_why_ran *)a, *y = (const prof_why_ran *)b;
    if (x->ns != y->ns) return x->ns > y->ns ? -1 : 1;
    return x->track < y->track ? -1 : x->track > y->track;
}

/* A thread that is ready waits for the processor on which it ran before; a new one, for that on which it runs first. */
static int prof__why_ran(prof__why *why, prof__why_call *call)
{
    size_t count, i;
    const prof_state *states = prof_track_states(why->trace, call->about.track, &count);
    int64_t from = call->about.start_ns, to = prof__why_end(call);
    for (i = prof__why_state(states, count, from); i < count && states[i].start_ns < to; i++) {
        int32_t processor = i ? states[i - 1].processor : -1;
        if (states[i].kind != PROF_STATE_READY) continue;
        if (processor < 0 && i + 1 < count) processor = states[i + 1].processor;
        if (processor >= 0 &&
            !prof__why_ran_in(why, call, processor, states[i].start_ns > from ? states[i].start_ns : from,
                              states[i].end_ns < to ? states[i].end_ns : to))
            return 0;
    }
    if (call->about.ran_count) qsort(call->ran, call->about.ran_count, sizeof *call->ran, prof__why_ran_order);
    return 1;
}

/* Splits waiting and ready further. Returns 0 without memory. */
static int prof__why_split(prof__why *why, prof__why_call *call)
{
    return prof__why_waits(why, call) && prof__why_ran(why, call);
}

#endif /* PROF__LAYOUTS_WHY_PARTS_H */
