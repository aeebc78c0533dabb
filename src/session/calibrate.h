// session/calibrate: Chooses the session's clock, measures the clock's smallest step, and converts min_duration to
// ticks.
#ifndef PROF__SESSION_CALIBRATE_H
#define PROF__SESSION_CALIBRATE_H
#include "ground/clock.h"
#include "ground/errors.h"
#include "image/format.h"
#include "image/pair.h"
#include "record/state.h"

#ifdef PROF_TINY
static prof_status prof__clock_choose(prof__session *s, const prof_config *config)
{
    s->clock = s->header->clock = PROF_CLOCK_COUNTER;
    s->header->tick_hz = config->clock_hz;
    prof__copy(s->header->clock_name, PROF__COUNTER_NAME, sizeof PROF__COUNTER_NAME);
    prof__pair_take_well(s->clock, s->header->tick_hz, &s->header->first);
    s->header->last = s->header->first;
    return PROF_OK;
}
#else
/* Returns the smallest difference between two reads of the clock, in ticks; ~0 if the clock did not move. */
static uint64_t prof__clock_step(const prof__session *s)
{
    uint64_t step = ~0ull;
    /* A slow counter needs more reads until it advances. */
    for (int i = 0; i < 64 || (step == ~0ull && i < 4096); ++i) {
        uint64_t a = prof__now(s, 0), b = prof__now(s, 0);
        if (b > a && b - a < step) step = b - a;
    }
    return step;
}

/* Returns how many ticks an ordered read of the counter takes beyond a plain read. */
static uint64_t prof__ordered_excess(void)
{
    uint64_t plain = ~0ull, ordered = ~0ull;
    for (int i = 0; i < 1000; ++i) {
        uint64_t a = prof__counter(), b = prof__counter();
        if (b - a < plain) plain = b - a;
        a = prof__counter();
        b = prof__counter_ordered();
        if (b - a < ordered) ordered = b - a;
    }
    return ordered > plain ? ordered - plain : 0;
}

/* Chooses the clock that config asks for, and stores its name, its rate and the first clock pair in the header. Returns
   an error if this machine does not have the clock. */
static prof_status prof__clock_choose(prof__session *s, const prof_config *config)
{
    int usable = prof__counter_usable();
    s->clock = (uint32_t)config->clock;
    if (s->clock == PROF_CLOCK_AUTO) s->clock = usable ? PROF_CLOCK_COUNTER : PROF_CLOCK_MONOTONIC;
    if (s->clock == PROF_CLOCK_COUNTER && !usable)
        return prof__fail(PROF_UNSUPPORTED, "clock: this machine has no counter that can be trusted: use monotonic");
    if (s->clock == PROF_CLOCK_ORDERED && !(usable & 2))
        return prof__fail(PROF_UNSUPPORTED, "clock: this processor cannot read its counter in order: use counter");
    s->header->clock = s->clock;
    s->header->tick_hz = s->clock == PROF_CLOCK_MONOTONIC ? 1000000000u : prof__counter_hz();
#ifdef PROF_FREESTANDING
    s->header->tick_hz = config->clock_hz;
#endif
    if (s->clock == PROF_CLOCK_ORDERED) s->ordered_excess = prof__ordered_excess();
    prof__text_copy(s->header->clock_name, sizeof s->header->clock_name,
                    s->clock == PROF_CLOCK_MONOTONIC ? "clock_gettime"
                    : s->clock == PROF_CLOCK_ORDERED ? PROF__COUNTER_NAME " ordered"
                                                     : PROF__COUNTER_NAME);
    prof__pair_take_well(s->clock, s->header->tick_hz, &s->header->first);
    s->header->last = s->header->first;
    return PROF_OK;
}

/* Returns a threshold of the configuration in ticks. Scopes and waits compare with it from the first one on, so the
   rate of the clock must be known now. If the system does not state the rate, this function measures it for 0.2 ms. */
static uint64_t prof__threshold(const prof__session *s, uint64_t ns)
{
    uint64_t hz = s->header->tick_hz;
#ifndef PROF_FREESTANDING
    if (!hz) {
        prof__pair now;
        do prof__pair_take_well(s->clock, 0, &now);
        while (now.monotonic_ns - s->header->first.monotonic_ns < 200000);
        hz = (now.tick - s->header->first.tick) * 1000000000u / (now.monotonic_ns - s->header->first.monotonic_ns);
    }
#endif
    return ns / 1000000000u * hz + ns % 1000000000u * hz / 1000000000u;
}
#endif

#endif /* PROF__SESSION_CALIBRATE_H */
