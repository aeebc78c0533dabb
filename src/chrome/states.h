// chrome/states: Writes a thin row below each thread: when the system ran it, and when it did not.
#ifndef PROF__CHROME_STATES_H
#define PROF__CHROME_STATES_H
#include "api/read.h"
#include "ground/out.h"
#include "chrome/line.h"
#include "chrome/numbers.h"
#include "chrome/state.h"

/* Returns 1 if the trace has states of a thread: then places of threads leave room for rows. */
static int prof__chrome_has_states(const prof__chrome *c)
{
    size_t i, count = 0;
    for (i = 0; !count && i < prof_trace_track_count(c->trace); i++) prof_track_states(c->trace, i, &count);
    return count != 0;
}

/* Writes one state. Chrome gives these colours to the states of threads; other viewers choose by the name. */
static void prof__chrome_thread_state(prof__chrome *c, uint32_t tid, const prof_state *state)
{
    static const char *const starts[PROF_STATE_COUNT] = {
        ",\n{\"ph\":\"X\",\"name\":\"not running\",\"cname\":\"thread_state_unknown\",\"cat\":\"state\",\"pid\":",
        ",\n{\"ph\":\"X\",\"name\":\"running\",\"cname\":\"thread_state_running\",\"cat\":\"state\",\"pid\":",
        ",\n{\"ph\":\"X\",\"name\":\"ready\",\"cname\":\"thread_state_runnable\",\"cat\":\"state\",\"pid\":",
        ",\n{\"ph\":\"X\",\"name\":\"waiting\",\"cname\":\"thread_state_sleeping\",\"cat\":\"state\",\"pid\":"};
    prof__out *out = &c->out;
    int64_t start = state->start_ns, end = state->end_ns;
    if (start < c->about->from_ns) start = c->about->from_ns;
    if (c->about->to_ns && end > c->about->to_ns) end = c->about->to_ns;
    if (end < start || (uint64_t)(end - start) < c->options.min_duration_ns) return;
    start += c->offset;
    end += c->offset;
    if (!prof__chrome_in_window(c, start, end)) return;
    prof__out_text(out, starts[state->kind]);
    prof__out_unsigned(out, c->pid);
    PROF__CHROME_LITERAL(out, ",\"tid\":");
    prof__out_unsigned(out, tid);
    PROF__CHROME_LITERAL(out, ",\"ts\":");
    prof__chrome_ns(out, prof__chrome_time(start));
    PROF__CHROME_LITERAL(out, ",\"dur\":");
    prof__chrome_ns(out, end > start ? end - start : 0);
    if (state->processor >= 0) {
        PROF__CHROME_LITERAL(out, ",\"args\":{\"processor\":");
        prof__out_signed(out, state->processor);
        PROF__CHROME_LITERAL(out, "}");
    }
    PROF__CHROME_LITERAL(out, "}");
}

/* Writes the row of a track, if the trace knows what its thread did. */
static void prof__chrome_states(prof__chrome *c, size_t index, int64_t place)
{
    size_t count, i;
    const prof_state *states = prof_track_states(c->trace, index, &count);
    const char *name = prof_trace_track(c->trace, index)->name;
    uint32_t tid;
    if (!count) return;
    prof__chrome_enter(c, index);
    tid = prof__chrome_new_id(c);
    prof__chrome_thread_name(c, tid, "state of ", *name ? name : "thread");
    prof__chrome_sort_index(c, tid, place);
    for (i = 0; i < count && c->out.status == PROF_OK; i++) prof__chrome_thread_state(c, tid, &states[i]);
}

#endif /* PROF__CHROME_STATES_H */
