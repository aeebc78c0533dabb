// image/device: How an image stores what devices (such as a GPU) report: events in chunks, devices and rows in meta.
#ifndef PROF__IMAGE_DEVICE_H
#define PROF__IMAGE_DEVICE_H
#include "ground/base.h"

/*-- DEVICES ----------------------------------------------------------------------------------------------- >>device --
   A device's event has a time of its own, by the device's clock. It is stored in the chunk of the thread that reports
   it. Its type is no prof_event_type, so the thread's track does not show it. The writer reserves the words of all its
   records in one piece, and stores the head of the EVENT last, which publishes them together:

     EVENT  call site: the device's   detail: number of the row (of a pair: of the device)   object: ticks of the device
     NAME   unless it is empty
     DATA   without a key. Type NONE: a scope's duration in ticks, or the CLOCK_MONOTONIC of a pair; INT or DOUBLE: a
            counter's value. A second word is the id of the event's flow, if it has one
     DATA   two for each argument: its key (a STRING), its value

   A ring may overwrite all events that are pairs of clocks. So the device's record in meta also has the first pair and
   the last seven that the process knows. Each has three words: ticks, CLOCK_MONOTONIC, and a check word, which is wrong
   while the pair is being replaced. */

enum { /* the types of EVENTs of devices: src/kinds.sh makes these lines */
    PROF__DEVICE_SCOPE = 200, /* a scope */
    PROF__DEVICE_MARK,        /* an instant */
    PROF__DEVICE_COUNTER,     /* a counter */
    PROF__DEVICE_PAIR,        /* a pair of clocks */
    PROF__DEVICE_SWITCHES,    /* threads that a processor began or ceased to run */
    PROF__DEVICE_SAMPLES,     /* what threads were in the middle of */
    PROF__DEVICE_DELAYS,      /* how long threads had been ready so far */
    PROF__DEVICE_FAULTS       /* pages that threads had waited for */
};
#define PROF__DEVICE_PAIRS 8
#define PROF__DEVICE_WORDS (3 + 3 * PROF__DEVICE_PAIRS) /* words of a DEVICE record in meta, head included */
#define PROF__ROW_WORDS 2

/* Returns the check word of a pair. Never 0, which marks a pair that is being replaced. */
static uint64_t prof__device_check(uint64_t ticks, uint64_t ns)
{
    return (ticks ^ ns * 0x9E3779B97F4A7C15u) | 1;
}

#endif /* PROF__IMAGE_DEVICE_H */
