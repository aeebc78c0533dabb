// api/devices: Time lines with clocks of their own: declarations.
/*-- DEVICES ---------------------------------------------------------------------------------------------- >>devices --
   What runs beside the processor and says itself when it did what: GPUs, NPUs, DMA engines, network cards. A device is
   a clock; it has rows (a queue, a stream, an engine), and rows have events with times of that clock:

       prof_device *gpu = prof_device_create("gpu 0", NULL);
       prof_device_row *queue = prof_device_track(gpu, "compute");
       prof_device_sync(gpu, gpu_clock_now(), 0);             // now and then: the device's clock, and the host's now
       prof_device_scope(queue, "matmul", begin, end);        // any time later, from any thread, in any order

   Each row is a track behind those of the threads, in order of its own time. Its scopes nest where one lies within the
   other; those that overlap go to further tracks, "compute #2" and so on up to 64, beyond which their ends are cut and
   marked PROF_TRUNCATED_END.

   Time. A pair says what both clocks showed at the same moment. Between pairs time runs along straight lines, so that
   drift is followed; beyond them it goes on as it did in the last second or, if that has no two pairs, in all of them.
   Give one pair at least, before and after the work rather than once, and one a second for long runs.
   prof_track.alignment says what a device had. Pairs outlive sessions: in the next one the device needs none to begin
   with. A clock of fewer bits wraps: then an event is recorded less than 15/16 of its period after its end, and pairs,
   unless hz is given, are less than a period apart. A device whose clock starts anew is another device, with another
   name.

   Category and level. A device's events have its name as their category, for prof_category_enable(), and no level: they
   are there at level 0, too. config.no_devices turns all of them off.
   Costs: some 300 instructions, 48 bytes and the name; an argument 24 bytes, its key and its text. What finds no
   room is counted as lost on the thread that recorded it. They are in a file after a crash as everything is. PROF_STATS
   keeps none. A trace holds some 100 bytes of memory for each event of a device. Not PROF_FREESTANDING. */

typedef struct prof_device prof_device;         /* handles live as long as the process, and serve all its sessions */
typedef struct prof_device_row prof_device_row;

/* All zero: 64 bits that do not wrap, of a rate that pairs will tell. */
typedef struct prof_device_clock {
    uint64_t hz;   /* ticks per second; 0: not known */
    unsigned bits; /* width of the counter, 1 to 64, if it wraps; 0 is 64 */
    int unix_time; /* 1: host_ns of prof_device_sync() is Unix time, not CLOCK_MONOTONIC */
} prof_device_clock;

#define PROF_DEVICE_ARGS 16 /* arguments of an event that are kept */

/* An event with all it can have. All zero but name and times: a scope. */
typedef struct prof_device_event {
    prof_event_type type; /* PROF_EVENT_SCOPE, _MARK or _COUNTER */
    const char *name;     /* copied, up to PROF_MAX_TEXT bytes, as all texts */
    uint64_t start, end;  /* ticks of the device; end: of a scope. An end before the start is one that is not known */
    prof_value value;     /* of a counter: INT or DOUBLE */
    uint64_t flow;        /* 0, or the id of a PROFILE_FLOW_OUT(id) on the host: an arrow leads from there to this
                             event */
    const prof_arg *args;
    uint32_t arg_count;
} prof_device_event;

#if PROF_ENABLE
/* The device of this name; clock (null: all zero) counts when it is made, by the first call. Null without memory, or
   if name is empty or bits above 64. Rows likewise; null of a null device. */
PROF_DEF prof_device *prof_device_create(const char *name, const prof_device_clock *clock);
PROF_DEF prof_device_row *prof_device_track(prof_device *device, const char *name);
/* A pair: ticks of the device and host_ns of CLOCK_MONOTONIC (see prof_device_clock); 0: now. Whether a session runs or
   not. For the best of pairs read prof_host_ns() before and after the device's clock, several times, and give
   the middle of the two that were closest. */
PROF_DEF prof_status prof_device_sync(prof_device *device, uint64_t ticks, uint64_t host_ns);
PROF_DEF uint64_t prof_host_ns(void); /* CLOCK_MONOTONIC, in which prof_trace_info.start_monotonic_ns is, too */
/* As macros: any thread, handlers included, at any time; nothing happens while nothing records, or with a null row. */
PROF_DEF void prof_device_scope(prof_device_row *row, const char *name, uint64_t start, uint64_t end);
PROF_DEF void prof_device_mark(prof_device_row *row, const char *name, uint64_t time);
PROF_DEF void prof_device_counter(prof_device_row *row, const char *name, uint64_t time, int64_t value);
PROF_DEF void prof_device_counter_double(prof_device_row *row, const char *name, uint64_t time, double value);
PROF_DEF void prof_device_record(prof_device_row *row, const prof_device_event *event);
#endif
