// session/no_costs: PROF_NO_COSTS: replaces session/costs. The cost of a scope is not measured.
#ifndef PROF__SESSION_NO_COSTS_H
#define PROF__SESSION_NO_COSTS_H
#include "record/state.h"
#include "session/calibrate.h"

static void prof__calibrate(prof__session *s)
{
#ifdef PROF_TINY
    (void)s; /* the smallest step of the clock is not known */
#else
    uint64_t step = prof__clock_step(s);
    PROF__STORE(&s->header->resolution_ticks, step == ~0ull ? 0 : step);
#ifndef PROF_FREESTANDING
    PROF__STORE(&s->like.resolution_ticks, s->header->resolution_ticks);
#endif
#endif
}

#endif /* PROF__SESSION_NO_COSTS_H */
