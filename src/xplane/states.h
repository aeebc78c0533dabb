// xplane/states: Writes a line of states beside the line of each thread: when the system ran it, and when it did not.
#ifndef PROF__XPLANE_STATES_H
#define PROF__XPLANE_STATES_H
#include "api/read.h"
#include "xplane/events.h"
#include "xplane/names.h"
#include "xplane/state.h"

static int prof__xplane_has_states(const prof__xplane *x, size_t track)
{
    size_t count;
    return prof_track_states(x->trace, track, &count) != NULL;
}

/* Writes a state, as far as it lies in the trace's window. Its name has no colon, so that XProf counts no op. */
static void prof__xplane_thread_state(prof__xplane *x, const prof_state *state)
{
    static const char *const names[PROF_STATE_COUNT] = {"not running", "running", "ready", "waiting"};
    int64_t start = state->start_ns, end = state->end_ns;
    if (start < x->about->from_ns) start = x->about->from_ns;
    if (x->about->to_ns && end > x->about->to_ns) end = x->about->to_ns;
    if (end <= start || (uint64_t)(end - start) < x->options.min_duration_ns) return;
    if (!prof__xplane_in_window(x, start, end)) return;
    x->point.size = 0;
    if (state->processor >= 0) prof__xplane_put_uint(x, &x->point, PROF__STAT_PROCESSOR, (uint64_t)state->processor);
    prof__xplane_emit(x, prof__xplane_named(x, NULL, NULL, names[state->kind], PROF__XPLANE_PLAIN),
                      prof__xplane_time(start), end - start, &x->point);
}

static void prof__xplane_walk_states(prof__xplane *x, size_t track)
{
    size_t count;
    const prof_state *state = prof_track_states(x->trace, track, &count);
    for (; count && x->status == PROF_OK && x->out.status == PROF_OK; count--, state++)
        prof__xplane_thread_state(x, state);
}

#endif /* PROF__XPLANE_STATES_H */
