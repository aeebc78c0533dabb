// system/processors: Rings for processors that are switched on later.
#ifndef PROF__SYSTEM_PROCESSORS_H
#define PROF__SYSTEM_PROCESSORS_H
#include "system/drain.h"
#include "system/perf.h"

#ifdef PROF__SYSTEM_LINUX
/* Says in the metadata what is missing of a processor. */
static void prof__processor_says(const prof__ring *ring, uint64_t processor, const char *why)
{
    char text[PROF__SYSTEM_WHY];
    snprintf(text, sizeof text, "not those of processor %llu, which was switched on later: %.120s",
             (unsigned long long)processor, why);
    prof__beside_says(prof__system.session, ring->samples ? "samples" : "switches", text);
}

/* Records that switches of a processor may be missing so far. */
static void prof__processor_begins(prof__ring *ring)
{
    uint64_t word = prof__switch_word(0, 0, PROF__SWITCH_LOST);
    prof__switches_write(ring->processor | (uint64_t)PROF__SWITCHES_OF << 32, prof__monotonic(), &word, 1);
}

/* Makes a ring for a processor that is on now. The calling thread is prof's. Returns 0, or errno; *what: the call that
   failed. */
static int prof__processor_open(size_t index, const char **what)
{
    prof__ring *ring = &prof__system.rings[index];
    int error = prof__perf_ring(ring, ring->bytes, what);
    if (error) return error;
    if (!prof__perf_keep(ring->file, index)) {
        prof__perf_unmap(ring);
        ring->file = -1;
        return ENOMEM;
    }
    prof__perf_faults((uint32_t)prof__thread_id(), index);
    prof__perf_threads(index, index + 1);
    if (!ring->samples) prof__processor_begins(ring);
    return 0;
}

/* Looks which processors have been switched on, and makes rings for them. Returns 1 if there are new ones. */
static int prof__processors_round(void)
{
    char why[PROF__SYSTEM_WHY];
    const char *what = "";
    uint64_t last;
    int found = 0;
    if (!prof__system_may() || !prof__perf_processors()) return 0;
    prof__system_in_list(prof__system.processors, 0, &last);
    if (last >= prof__system.most_processors)
        prof__processor_says(prof__system.rings, last, "the machine did not have it at the start");
    for (size_t i = 0; i < prof__system.ring_count; ++i) {
        prof__ring *ring = &prof__system.rings[i];
        if (ring->map || !prof__perf_is_on(ring->processor)) continue;
        int error = prof__processor_open(i, &what);
        found |= !error;
        if (!error || error == ENODEV) continue;
        prof__perf_why(what, error, why);
        prof__processor_says(ring, ring->processor, why);
    }
    return found;
}
#endif

#endif /* PROF__SYSTEM_PROCESSORS_H */
