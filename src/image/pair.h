// image/pair: Reads pairs: the session's clock and the system's clocks at the same moment.
#ifndef PROF__IMAGE_PAIR_H
#define PROF__IMAGE_PAIR_H
#include "ground/clock.h"
#include "image/format.h"

#if defined(PROF_FREESTANDING) && !defined(PROF_MONOTONIC_NS)
static void prof__pair_take(uint32_t clock, uint64_t hz, prof__pair *pair)
{
    (void)clock;
    pair->tick = prof__counter();
    pair->monotonic_ns = hz ? pair->tick / hz * 1000000000u + pair->tick % hz * 1000000000u / hz : pair->tick;
    pair->unix_ns = 0;
    pair->width = 0;
}
#else
#define PROF__PAIR_LONG 100000 /* ticks, about 30 us; reading both system clocks takes much less */

/* Reads a pair. Its tick is the middle between the readings before and after CLOCK_MONOTONIC was read. Returns 0 if the
   thread was probably preempted meanwhile: the two system clocks usually take about the same time to read, so it
   suspects a pair where one took far longer than the other, or both took long. */
static int prof__pair_read(uint32_t clock, prof__pair *pair)
{
    uint64_t before, between, second;
    if (clock == PROF_CLOCK_MONOTONIC) {
        pair->tick = pair->monotonic_ns = prof__monotonic();
        pair->unix_ns = prof__unix_time();
        pair->width = 0;
        return prof__monotonic() - pair->tick < 10000;
    }
    before = prof__counter();
    pair->monotonic_ns = prof__monotonic();
    between = prof__counter();
    pair->unix_ns = prof__unix_time();
    second = prof__counter() - between;
    pair->width = between - before;
    pair->tick = before + pair->width / 2;
    return second <= pair->width * 8 + 200 && pair->width <= second * 8 + 200 && pair->width + second < PROF__PAIR_LONG;
}

static void prof__pair_take(uint32_t clock, uint64_t hz, prof__pair *pair)
{
    (void)hz;
    for (int i = 0; i < 4 && !prof__pair_read(clock, pair); ++i) {}
}
#endif

static void prof__pair_store(prof__pair *to, const prof__pair *pair) /* word by word: a reader may be reading it */
{
    PROF__STORE(&to->tick, pair->tick);
    PROF__STORE(&to->monotonic_ns, pair->monotonic_ns);
    PROF__STORE(&to->unix_ns, pair->unix_ns);
    PROF__STORE(&to->width, pair->width);
}

/* Takes nine pairs and keeps the most exact one. For the start and the end of a session, when time does not matter. */
static void prof__pair_take_well(uint32_t clock, uint64_t hz, prof__pair *pair)
{
    prof__pair_take(clock, hz, pair);
    for (int i = 0; i < 8; ++i) {
        prof__pair again;
        prof__pair_take(clock, hz, &again);
        if (again.width <= pair->width) *pair = again;
    }
}

#endif /* PROF__IMAGE_PAIR_H */
