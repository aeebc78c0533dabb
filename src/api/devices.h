// api/devices: Time lines with clocks of their own: declarations.
#ifndef PROF__API_DEVICES_H
#define PROF__API_DEVICES_H
#include "api/values.h"

/*-- DEVICES ---------------------------------------------------------------------------------------------- >>devices --
   A device is a GPU, an NPU, a DMA engine or a network card, which works beside the processor and reports the times
   of its events itself. It has a clock and rows (a queue, a stream, an engine), and rows have events with times of that
   clock:

       prof_device *gpu = prof_device_create("gpu 0", NULL);
       prof_device_row *queue = prof_device_row_create(gpu, "compute");
       prof_device_sync(gpu, gpu_clock_now(), 0);             // now and then: the device's clock, and the host's now
       prof_device_scope(queue, "matmul", begin, end);        // any time later, from any thread, in any order

   Each row is a track after those of the threads, in order of the device's time. Scopes of a row nest if one lies
   within the other. Scopes that overlap go to further tracks, "compute #2" and so on up to 64; beyond that their ends
   are cut and marked PROF_TRUNCATED_END.

   Time. A pair holds what both clocks showed at the same moment. Between pairs time is interpolated along straight
   lines, so that drift is followed; beyond them it is extrapolated from the last second or, if that has no two pairs,
   from all pairs. Give one pair at least; better one before and one after the work, and one a second for long runs.
   prof_track.alignment says what a device had. Pairs outlive sessions: in the next session the device needs none to
   begin with. If the clock has fewer bits and wraps, record an event less than 15/16 of its period after the event's
   end, and give pairs less than a period apart, unless hz is given. A device whose clock is reset is another device,
   with another name.

   Category and level. The events of a device have its name as their category, for prof_category_enable(). They have no
   level: they are recorded at level 0, too. config.no_devices turns all of them off.
   Costs. An event takes some 300 instructions, 48 bytes and the name; an argument 24 bytes, its key and its text. If
   the buffer is full, the event counts as lost on the thread that recorded it. After a crash the events are in the file
   like all others. PROF_STATS keeps none. A trace takes some 100 bytes of memory for each event of a device. Not with
   PROF_FREESTANDING. */

typedef struct prof_device prof_device;         /* handles live as long as the process, and serve all its sessions */
typedef struct prof_device_row prof_device_row;

/* All zero means 64 bits that do not wrap, and a rate that pairs determine. */
typedef struct prof_device_clock {
    uint64_t hz;   /* ticks per second; 0: not known */
    unsigned bits; /* width of the counter, 1 to 64, if it wraps; 0 is 64 */
    int unix_time; /* 1: host_ns of prof_device_sync() is Unix time, not CLOCK_MONOTONIC */
} prof_device_clock;

#define PROF_DEVICE_ARGS 16 /* how many arguments of an event are kept */

/* An event with everything that it can have. Only name and times are needed for a scope; the rest may be zero. */
typedef struct prof_device_event {
    prof_event_type type; /* PROF_EVENT_SCOPE, _MARK or _COUNTER */
    const char *name;     /* copied, up to PROF_MAX_TEXT bytes, like all texts */
    uint64_t start, end;  /* ticks of the device; end: only of a scope. An end before the start means not known */
    prof_value value;     /* of a counter: INT or DOUBLE */
    uint64_t flow;        /* 0, or the id of a PROFILE_FLOW_OUT(id) on the host: an arrow leads from there to this
                             event */
    const prof_arg *args;
    uint32_t arg_count;
} prof_device_event;

#if PROF_ENABLE
/* Return the device of this name, or the row of this name. The first call with a name creates it, with this clock
   (NULL: all zero). They return NULL if memory runs out, name is NULL or empty, device is NULL, or bits is above 64.
   Any thread may call them, but no signal handler. */
PROF__API prof_device *prof_device_create(const char *name, const prof_device_clock *clock);
PROF__API prof_device_row *prof_device_row_create(prof_device *device, const char *name);
/* Adds a pair: ticks of the device, and host_ns of CLOCK_MONOTONIC (see prof_device_clock), 0: now; from any thread,
   whether a session runs or not. For the best pair read prof_host_ns() before and after the device's clock, several
   times, and give the middle of the two that were closest. */
PROF__API prof_status prof_device_sync(prof_device *device, uint64_t ticks, uint64_t host_ns);
PROF__API uint64_t prof_host_ns(void); /* CLOCK_MONOTONIC, like prof_trace_info.start_monotonic_ns */
/* Record an event of a row. Like macros, for any thread and signal handlers, at any time. Do nothing while nothing
   records, or with a NULL row. */
PROF__API void prof_device_scope(prof_device_row *row, const char *name, uint64_t start, uint64_t end);
PROF__API void prof_device_mark(prof_device_row *row, const char *name, uint64_t time);
PROF__API void prof_device_counter(prof_device_row *row, const char *name, uint64_t time, int64_t value);
PROF__API void prof_device_counter_double(prof_device_row *row, const char *name, uint64_t time, double value);
PROF__API void prof_device_record(prof_device_row *row, const prof_device_event *event);
#endif

#endif /* PROF__API_DEVICES_H */
