// image/device: The records of what devices report, in chunks and in meta.
#ifndef PROF__IMAGE_DEVICE_H
#define PROF__IMAGE_DEVICE_H
#include "ground/base.h"

/*-- DEVICES ----------------------------------------------------------------------------------------------- >>device --
   Events with times of their own, in the chunk of the thread that reports them. Tracks of threads do not show them,
   because their types are no prof_event_type. An event is reserved in one piece, and published by its head, the last
   word to be written:

     EVENT  call site: the device's   detail: number of the row (of a pair: of the device)   object: ticks of the device
     NAME   unless it is empty
     DATA   without a key, of type NONE, for a counter INT or DOUBLE: the scope's ticks from begin to end, the counter's
            value, or the pair's CLOCK_MONOTONIC; and then, if there is one, the id of the flow
     DATA   two for each argument: a STRING, its key; the value

   A device's record in meta has, for a ring that has overwritten all others, the first pair and the last seven that the
   process knows: ticks, CLOCK_MONOTONIC, and a check, because a reader may come while one is being replaced. */

enum { PROF__DEVICE_SCOPE = 200, PROF__DEVICE_MARK, PROF__DEVICE_COUNTER, PROF__DEVICE_PAIR };
#define PROF__DEVICE_PAIRS 8
#define PROF__DEVICE_WORDS (3 + 3 * PROF__DEVICE_PAIRS) /* of the record in meta, head included */
#define PROF__ROW_WORDS 2

static uint64_t prof__device_check(uint64_t ticks, uint64_t ns)
{
    return (ticks ^ ns * 0x9E3779B97F4A7C15u) | 1;
}

#endif /* PROF__IMAGE_DEVICE_H */
