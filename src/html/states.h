// html/states: Writes what the operating system did with the thread of a track: its states, one after the other.
#ifndef PROF__HTML_STATES_H
#define PROF__HTML_STATES_H
#include "api/read.h"
#include "html/events.h"
#include "html/pack.h"

#define PROF__HTML_MOVED 4u /* a bit next to the kind of a state: it runs on another processor than before */

static void prof__html_states_end(prof__html *h)
{
    prof__html_bytes *columns[4] = {&h->rows, &h->point_kinds, &h->ends.heads, &h->ends.rests};
    if (h->point_kinds.size) prof__html_block(h, 'W', columns, 4);
}

/* Writes a state, which begins where the last one ended. A block begins with the track, and with how long after the
   last state its first one begins. */
static void prof__html_state(prof__html *h, const prof_state *state, uint64_t after, uint64_t duration, int32_t *on)
{
    int moved = state->kind == PROF_STATE_RUNNING && state->processor != *on;
    if (!h->point_kinds.size) {
        prof__html_u(&h->rows, h->track);
        prof__html_u(&h->rows, after);
    }
    if (moved) prof__html_u(&h->rows, (uint64_t)((*on = state->processor) + 1));
    h->point_kinds.at[h->point_kinds.size++] = (unsigned char)((unsigned)state->kind | (moved ? PROF__HTML_MOVED : 0u));
    prof__html_number(&h->ends, duration);
    if (h->point_kinds.size >= PROF__HTML_COLUMN || h->ends.rests.size >= PROF__HTML_COLUMN ||
        h->rows.size >= PROF__HTML_COLUMN)
        prof__html_states_end(h);
}

/* Writes the states of a track, as far as they lie in the trace's window and, in an outline, in that of the outline.
   Times between them of which nothing is known become states. */
static void prof__html_states(prof__html *h, size_t index)
{
    static const prof_state nothing = {0, 0, PROF_STATE_UNKNOWN, -1};
    const prof_trace_info *about = prof_trace_about(h->trace);
    int64_t from = about->from_ns, to = about->to_ns ? about->to_ns : INT64_MAX, last = -h->offset;
    int32_t on = -1;
    int any = 0;
    size_t count;
    const prof_state *state = prof_track_states(h->trace, index, &count);
#ifdef PROF_HTML_LARGE
    if (h->outlined && from < h->window_from - h->offset) from = h->window_from - h->offset;
    if (h->outlined && to > h->window_to - h->offset) to = h->window_to - h->offset;
#endif
    if (from < last) from = last;
    for (; count && h->out.status == PROF_OK; --count, ++state) {
        int64_t start = state->start_ns < from ? from : state->start_ns, end = state->end_ns > to ? to : state->end_ns;
        if (end <= start) continue;
        if (any && start > last) prof__html_state(h, &nothing, 0, (uint64_t)(start - last), &on);
        prof__html_state(h, state, any ? 0 : (uint64_t)(start - last), (uint64_t)(end - start), &on);
        last = end;
        any = 1;
    }
    prof__html_states_end(h);
}

#endif /* PROF__HTML_STATES_H */
