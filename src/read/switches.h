// read/switches: Collects the switches of threads from the chunks.
#ifndef PROF__READ_SWITCHES_H
#define PROF__READ_SWITCHES_H
#include "ground/hash.h"
#include "image/system.h"
#include "image/words.h"
#include "read/delays.h"
#include "read/records.h"
#include "read/trace.h"

/* Collects the EVENT of PROF__DEVICE_SWITCHES at this word. Returns 0 if there is no memory. */
static int prof__switches_take(prof_trace *trace, size_t chunk, const uint64_t *words, size_t at, size_t count)
{
    const uint64_t *record = words + at;
    uint64_t ns = record[2];
    size_t length = at + 3 < count ? prof__record_length(record[3], count - at - 3) : 0, i;
    prof__read_switches *event = (prof__read_switches *)PROF__MORE(trace->switches, trace->switches_capacity,
                                                                   trace->switches_count);
    if (!event) return 0;
    event->id = prof__read_event_id(trace, &trace->chunks[chunk], at);
    event->ns = ns;
    event->first = trace->switch_count;
    event->processor = (uint32_t)(record[1] >> 8);
    event->what = (uint8_t)(record[1] >> 40);
    event->serial = (uint16_t)(record[1] >> 48);
    if (event->what == PROF__SWITCHES_UNTIL || length < 2 ||
        record[3] >> 16 != (uint64_t)PROF__KIND_DATA << (PROF__KIND_SHIFT - 16))
        return 1;
    for (i = 1; i < length; i++) {
        prof__read_switch *one;
        if (!PROF__ROOM(trace->switch_items, trace->switch_capacity, trace->switch_count)) return 0;
        one = &trace->switch_items[trace->switch_count++];
        ns += prof__switch_ns(record[3 + i]);
        one->ns = ns;
        one->thread = prof__switch_thread(record[3 + i]);
        one->place = event->processor << 3 | prof__switch_what(record[3 + i]);
        if ((one->place & 7) == PROF__SWITCH_NEW && !prof__delays_add(trace, ns, 0, one->thread)) return 0;
    }
    event->count = (uint32_t)(length - 1);
    return 1;
}

#endif /* PROF__READ_SWITCHES_H */
