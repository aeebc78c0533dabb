// read/faults: Collects page faults.
#ifndef PROF__READ_FAULTS_H
#define PROF__READ_FAULTS_H
#include "api/read.h"
#include "ground/hash.h"
#include "image/system.h"
#include "image/words.h"
#include "read/clock.h"
#include "read/names.h"
#include "read/records.h"
#include "read/trace.h"

/* Collects the EVENT of PROF__DEVICE_FAULTS at this word. Returns 0 if there is no memory. */
static int prof__faults_take(prof_trace *trace, const uint64_t *words, size_t at, size_t count)
{
    const uint64_t *record = words + at;
    size_t length = at + 3 < count ? prof__record_length(record[3], count - at - 3) : 0, i;
    if (length < 2 || record[3] >> 16 != (uint64_t)PROF__KIND_DATA << (PROF__KIND_SHIFT - 16)) return 1;
    for (i = 4; i + PROF__FAULT_WORDS <= 3 + length; i += PROF__FAULT_WORDS) {
        prof__read_fault *fault =
            (prof__read_fault *)PROF__MORE(trace->faults, trace->fault_capacity, trace->fault_count);
        if (!fault) return 0;
        fault->ns = (int64_t)(record[2] + prof__delay_ns(record[i]));
        fault->thread = prof__delay_thread(record[i]);
        fault->address = record[i + 1];
        fault->file = (uint32_t)prof__read_string_name(trace, record[i + 2] & 0xFFFFFFFFu);
    }
    return 1;
}

static int prof__fault_order(const void *a, const void *b)
{
    const prof__read_fault *x = (const prof__read_fault *)a, *y = (const prof__read_fault *)b;
    if (x->ns != y->ns) return x->ns < y->ns ? -1 : 1;
    if (x->thread != y->thread) return x->thread < y->thread ? -1 : 1;
    return x->address < y->address ? -1 : x->address > y->address;
}

/* Converts the times of faults, and sorts them. */
static void prof__faults_make(prof_trace *trace)
{
    size_t i;
    for (i = 0; i < trace->fault_count; i++)
        trace->faults[i].ns = prof__read_since(trace, (uint64_t)trace->faults[i].ns);
    if (trace->fault_count) qsort(trace->faults, trace->fault_count, sizeof *trace->faults, prof__fault_order);
}

#define PROF__FAULT_GOES_ON 50000 /* ns: so soon after it has waited, a thread goes on from a fault */

/* Finds the wait of a track's thread that a fault ended. from: it did not begin before this. Returns 0 if there is
   none, or nothing is known of it. */
static int prof__fault_wait(const prof_trace *trace, size_t track, int64_t ns, int64_t from, int64_t *start,
                            int64_t *end)
{
    size_t count, low = 0, high;
    const prof_state *states = prof_track_states(trace, track, &count);
    high = count;
    while (low < high) { /* the first state that begins later */
        size_t middle = low + (high - low) / 2;
        if (states[middle].start_ns <= ns)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < 2 || states[low - 1].kind != PROF_STATE_RUNNING) return 0;
    *end = states[low - 1].start_ns;
    if (ns - *end > PROF__FAULT_GOES_ON) return 0;
    for (low--; low && states[low - 1].kind == PROF_STATE_READY && states[low - 1].end_ns == states[low].start_ns;)
        low--;
    if (!low || states[low - 1].kind != PROF_STATE_WAITING || states[low - 1].end_ns != states[low].start_ns) return 0;
    *start = states[low - 1].start_ns;
    return *start >= from;
}

#endif /* PROF__READ_FAULTS_H */
