// api/read: A trace, its tracks, cursors, spans and times: declarations.
#ifndef PROF__API_READ_H
#define PROF__API_READ_H
#include "api/control.h"
#include "api/values.h"

/*-- READING ------------------------------------------------------------------------------------------------- >>read --
   A trace is a private, validated copy: it never changes, and any number of threads may read it, each with its own
   cursors. Two things are not copied: what PROF_STREAM wrote after the buffer, and, except on Windows, the buffer of a
   recording that has ended if it is larger than 32 MiB. For these the trace keeps the file open, and cursors read from
   it. What is overwritten before a cursor reaches it is left out, and counted in lost_blocks. Functions of this part
   and the next may be called from any thread at any time, but not from signal handlers. A function that fails sets its
   result to NULL (0 entries), and returns PROF_INVALID_ARGUMENT for a NULL or an index out of range, PROF_IO if the
   file cannot be read, PROF_CORRUPT if it is no image or damaged, PROF_UNSUPPORTED for an image of another version,
   PROF_INVALID_STATE if nothing was recorded yet, or PROF_NO_MEMORY. With PROF_ENABLE=0 these functions are like those
   of >>control: PROF_OK and a trace without tracks and events, of no entries; a trace is NULL then. prof_image_find()
   finds none. */

typedef struct prof_cursor prof_cursor;
typedef struct prof_timeline prof_timeline;
typedef struct prof_spans prof_spans;

/* A call site. The trace owns the strings, which are never NULL, and valid UTF-8 only if those of the program were. The
   first 1023 bytes of each are read, because every event may carry them. */
typedef struct prof_callsite {
    const char *name, *category, *file, *function;
    uint32_t line, color, level;
    uint32_t kind; /* PROF__KIND_... of the event that the site records */
    uint32_t role; /* PROF_ROLE_... */
    const char *unit; /* of a counter, or of a PROFILE_THROUGHPUT_UNIT; "": none */
} prof_callsite;

enum {
    PROF_TRUNCATED_BEGIN = 1, /* the begin has been overwritten: start_ns is the first time known of the track */
    PROF_TRUNCATED_END = 2    /* no end was recorded: duration_ns reaches to the last time known of the track, or to the
                                 end of the enclosing scope; of a scope that its thread is still in, to now if the
                                 process is alive, else to the last time known of any thread */
};

typedef struct prof_event {
    prof_event_type type;
    uint32_t flags;
    uint32_t depth;               /* of a scope: 0 for the outermost; of other events: the number of open scopes */
    uint32_t arg_count;
    int64_t start_ns;             /* since the session's start; never less than that of the previous event */
    int64_t duration_ns;          /* >= 0; a child never reaches beyond its parent */
    uint64_t id;                  /* unique in the trace and the same each time it is read */
    const char *name;             /* the run-time name if it has one, valid until the cursor moves; else the site's */
    const prof_callsite *site;    /* never NULL */
    const prof_arg *args;         /* valid until the cursor moves; if a key occurs twice, the last one counts */
    prof_value value;
    uint64_t object;              /* an id or an address, depending on the type */
    uint64_t detail;              /* depends on the type */
} prof_event;

/* How the times of a track were converted to the time line of the trace. */
typedef enum prof_alignment {
    PROF_ALIGN_HOST = 0, /* they are the host's times */
    PROF_ALIGN_PAIRS,    /* a device, with two pairs of clocks or more: by straight lines between and beyond them */
    PROF_ALIGN_RATE,     /* one pair, and the rate that prof_device_clock states */
    PROF_ALIGN_GUESS     /* no pair: as if the device's first event had been recorded at its end; or one pair without a
                            rate: a tick counts as 1 ns. Durations may be right, positions are not */
} prof_alignment;
/* A span: begin and end of one id, matched by prof_spans_next(). */
typedef struct prof_span {
    const char *name;             /* valid until the next call */
    const prof_callsite *site;    /* that of the begin or, without a begin, of the end; never NULL */
    uint64_t id;                  /* the id of PROFILE_SPAN_BEGIN(), or that of the object */
    uint64_t number;              /* PROF_ROLE_FRAME: the number of the frame, from 1 on; else 0 */
    uint64_t serial;              /* unique in the trace and the same each time it is read; a mark has that of its span,
                                     or 0 without a span */
    int64_t start_ns, duration_ns;
    uint32_t flags;               /* PROF_TRUNCATED_BEGIN, PROF_TRUNCATED_END */
    int mark;                     /* 1: a PROFILE_SPAN_MARK */
    size_t begin_track, end_track; /* if it is truncated, both are the known track */
    const prof_arg *args;         /* of the begin, then of the end; valid until the next call */
    uint32_t arg_count;
} prof_span;

typedef struct prof_track {
    const char *name;             /* that of PROFILE_THREAD, else the system's name of the thread, else "" */
    uint64_t id;                  /* unique in the trace, in order of appearance, from 1 */
    uint64_t thread_id;           /* the system's thread id (gettid); may repeat when threads come and go */
    uint64_t lost;                /* events that could not be recorded on this track */
    uint64_t event_count;         /* the events that a cursor returns; it returns fewer in a window, or if blocks of a
                                     file that is being recorded were overwritten meanwhile */
    int64_t first_ns, last_ns;    /* the first and last time known */
    int64_t kept_ns;              /* since when its events are in the trace: 0, or first_ns if older ones are missing */
    int fiber;                    /* 1: a fiber; thread_id is the first thread that it is known to have run on */
    const char *device;           /* "", or the device whose row this is; thread_id and lost are 0 then: see
                                     >>devices */
    prof_alignment alignment;
    double device_hz;             /* ticks per second of the device's clock, measured or stated; 0: not known */
    uint64_t pairs;               /* pairs of clocks */
    uint64_t pairs_refused;       /* those in which one of the clocks goes backwards */
    uint64_t early;               /* events that ended before the session began, and are left out */
    uint64_t open;                /* scopes without an end at the end of the track: see prof_open_scopes() */
    int ended;                    /* 1: its thread had ended before the session did */
} prof_track;

/* What the operating system did with a thread, if the recording has that: see prof_system.h. */
typedef enum prof_state_kind {
    PROF_STATE_UNKNOWN = 0,       /* not running; whether it waited or could have run is not known */
    PROF_STATE_RUNNING,
    PROF_STATE_READY,             /* it could have run, but another thread did, or its cgroup was throttled */
    PROF_STATE_WAITING,           /* for a lock, for input, to sleep: until it ran again */
    PROF_STATE_COUNT
} prof_state_kind;

typedef struct prof_state {
    int64_t start_ns, end_ns;     /* since the session's start */
    prof_state_kind kind;
    int32_t processor;            /* on which it was running; -1: unknown, or it was not */
} prof_state;

/* A time of a thread, in parts: they add up to wall_ns. */
typedef struct prof_split {
    uint64_t wall_ns, running_ns, ready_ns, waiting_ns, unknown_ns;
    uint64_t switches;            /* how often it ceased to run */
    uint64_t migrations;          /* how often it went on on another processor */
    uint64_t woken_ns;            /* of waiting_ns, so much at most it was ready, after it was woken. That is a sum over
                                     several waits of which not all need be in this time; where it is known of a wait,
                                     it is in ready_ns, and 0 here */
} prof_split;

/* Where a thread was when it had run for one more period, if the recording has that: see prof_system.h. */
#define PROF_SAMPLE_FRAMES 64     /* of a sample, at most: of a deeper one, the outermost frames are missing */
#define PROF_NO_TRACK ((size_t)-1)

typedef struct prof_sample {
    int64_t time_ns;              /* since the session's start */
    const uint64_t *frames;       /* addresses, innermost first: [0] is the instruction that ran, the others are those
                                     to which functions return. Samples with equal frames have one array */
    uint32_t frame_count;         /* at least 1 */
    int32_t processor;
    uint64_t thread_id;           /* the system's thread id */
} prof_sample;

/* A part of the program, or of a library, that has code, and where it was in memory. */
typedef struct prof_module {
    const char *path;             /* of its file; "linux-vdso.so.1" has none */
    const char *build_id;         /* hexadecimal; "": it has none */
    uint64_t start, end;          /* its first address; the first one behind it */
    uint64_t file_offset;         /* where the byte at start is in the file */
    int64_t from_ns;              /* since when it is known to be loaded; 0: from the session's start */
} prof_module;

typedef struct prof_trace_info {
    const char *program;          /* the name of the program */
    const char *clock;            /* "rdtsc", "rdtsc ordered", "cntvct", "clock_gettime", ... */
    uint64_t pid;
    uint64_t parent_pid;          /* of the process that created this one; 0 if not known */
    uint64_t start_unix_ns;       /* Unix time of start_ns == 0 */
    int64_t duration_ns;          /* from the start to the last event known, or to the end of the open scopes */
    uint64_t event_count;         /* over all tracks */
    uint64_t lost;                /* lost events over all tracks, also of threads that never got a chunk */
    uint64_t lost_args;           /* lost arguments, also those of lost events; 0 in images of older versions */
    uint64_t lost_busy;           /* how many of the lost events were lost although there was room: in a signal handler
                                     or an interrupt that interrupted another macro of the thread; 0 in images of older
                                     versions */
    uint64_t overwritten_chunks;  /* PROF_RING: older chunks that were reused */
    uint64_t lost_blocks;         /* parts of the file, of some thousand events each, that cannot be read: the file was
                                     cut or damaged, or they were overwritten since the trace was opened */
    uint64_t unmatched;           /* ends and arguments without an open scope, which were left out; the scope of an
                                     argument may have begun before the recording, or be lost */
    uint64_t sites_lost;          /* call sites or names that did not fit into the image */
    uint64_t taken_back;          /* scopes that were removed because they were shorter than min_duration */
    uint64_t buffer_size, chunk_size;
    uint64_t chunks;              /* in the buffer: more than of chunk_size fit, if there were many threads */
    prof_mode mode;
    uint64_t tick_hz;             /* rate of the clock, measured */
    double clock_resolution_ns;   /* smallest step of the clock, measured */
    double start_cost_ns;         /* how long prof_start() took; 0: not known */
    double ready_cost_ns;         /* how long threads that recorded made memory and blocks of the file ready, mostly in
                                     the buffer's first lap; 0: not known */
    double scope_cost_ns;         /* cost of a scope, begin and end, as prof_start() measured it on this machine */
    double call_cost_ns;          /* of a call with the hooks of -finstrument-functions, likewise; 0: there are none */
    int complete;                 /* 0: the session was not stopped (it is running, or the process died) */
    int alive;                    /* 1: the process was recording into the file when this was opened */
    uint64_t write_failures;      /* writes that failed while recording (PROF_STREAM, dump_period); they are tried
                                     again */
    const char *write_error;      /* the system's message for the last of them; "" if none */
    int64_t from_ns, to_ns;       /* the window; to_ns 0: to the end. All other fields describe the whole trace */
    uint64_t folded;              /* PROF_STATS: events that are in the statistics; the trace has no events and no
                                     tracks. PROF_RING_STATS: the same for a live trace, which has the newest events */
    uint64_t open;                /* in these modes: scopes that are open, which count as truncated */
    uint64_t lost_deep;           /* how many of the lost events were nested too deep: PROFILE_BEGINs, ranges, calls of
                                     PROF_INSTRUMENT_FUNCTIONS */
    uint64_t unknown;             /* events of types that this version of prof does not know, which are left out */
    uint64_t start_monotonic_ns;  /* CLOCK_MONOTONIC of start_ns == 0 */
    const char *boot_id;          /* traces with equal ids share that clock; "": unknown */
    uint64_t switches;            /* how often threads of the process ceased to run: see prof_track_states() */
    uint64_t switches_lost;       /* how many switches could not be recorded: begins and ends of running */
    uint64_t samples;             /* of all threads: see prof_track_samples() */
    uint64_t samples_lost;        /* how many more there were: the kernel's ring was full, or prof's buffer */
    uint64_t samples_dropped;     /* how many of the lost ones: prof's buffer was full */
    uint64_t sample_period_ns;    /* the time of a processor that each sample stands for; 0: there are none */
    const char *file;             /* the name of the file that it was read from, without folders; "": of none */
    const char *crash;            /* how the process died, if it wrote a crash report: "SIGSEGV at 0x8"; else "" */
} prof_trace_info;

#define PROF_IMAGE_LOOK 4096  /* see prof_image_find() */
#define PROF_SAME_WINDOW (-1) /* see prof_image_copy() */

#if PROF_ENABLE
/* Opens an image (.prof) of this or an earlier run; a program may still record into it. FILE/NAME is an image in a file
   of several, which prof merge or tar has made. */
PROF__API prof_status prof_trace_open(const char *path, prof_trace **trace);
/* Opens the running session as it is now, or the last one. */
PROF__API prof_status prof_trace_open_live(prof_trace **trace);
/* Opens a copy of an image in memory, for example from PROF_FREESTANDING or a dump. */
PROF__API prof_status prof_trace_open_memory(const void *image, size_t size, prof_trace **trace);
PROF__API void prof_trace_close(prof_trace *trace); /* trace may be NULL */

/* Sets the window of a trace: cursors that are opened from now on, and so all reports and exporters, only return what
   is in from_ns <= time < to_ns (to_ns 0: to the end; both 0: everything again). Scopes that reach into it are cut to
   it and marked PROF_TRUNCATED_BEGIN or _END, so that they add to no statistics of durations; so is a scope that was
   open all the time, even if it is still open and its thread has recorded nothing since. Frames count where they end,
   and are cut likewise. Tracks and prof_trace_info still describe the whole trace: a cursor may return fewer events
   than event_count. Returns PROF_INVALID_ARGUMENT if to_ns is neither 0 nor later than from_ns. No other thread may
   read the trace during this call. */
PROF__API prof_status prof_trace_set_window(prof_trace *trace, int64_t from_ns, int64_t to_ns);

/* Computes what puts traces on one time line: add offsets[i] >= 0 to the times of traces[i]. Traces of one machine
   since its last start are aligned by CLOCK_MONOTONIC, to some 100 ns; others by Unix time, as exactly as their clocks
   were set, unless they recorded how far their clocks are apart, in the metadata "clock reference" and "clock offset":
   see >>aligning. Returns how many clocks there are: 1 means that all are aligned exactly. */
PROF__API size_t prof_trace_align(const prof_trace *const *traces, size_t count, int64_t *offsets);
/* Makes prof_trace_align(), and so all that shows several traces, put a trace later by ns, or earlier if ns is
   negative. */
PROF__API prof_status prof_trace_set_offset(prof_trace *trace, int64_t ns);

/* Calls step after each part of the trace that a cursor has read, about every 1000 events, with the part's share of the
   whole. The shares of a report add up to 1, or a little more. step NULL ends this. Not for traces that several threads
   read. */
PROF__API void prof_trace_set_progress(prof_trace *trace, void (*step)(void *user, double share), void *user);

/* Looks for an image inside another file: a core dump, a copy of memory, a damaged image. Returns PROF_OK if an image
   begins at bytes, of which `size` were read (PROF_IMAGE_LOOK or more, or all that are left). *image_size: the bytes of
   the whole image, or the maximum if its archive has wrapped around. */
PROF__API prof_status prof_image_find(const void *bytes, size_t size, uint64_t *image_size);
/* Makes a valid image of the first `left` bytes of one whose other bytes are missing: changes its first PROF_IMAGE_LOOK
   bytes. *image_size: the bytes of the new image. Returns PROF_CORRUPT if no events are left. */
PROF__API prof_status prof_image_shorten(void *bytes, uint64_t left, uint64_t *image_size);
/* Writes a consistent copy of an image to another file, also while a program records into it. from_ns, to_ns: the
   window with which the copy opens, see prof_trace_set_window(); from_ns PROF_SAME_WINDOW: that
   of the original. */
PROF__API prof_status prof_image_copy(const char *from, const char *to, int64_t from_ns, int64_t to_ns);
/* Sets the window of an image in memory. */
PROF__API prof_status prof_image_set_window(void *bytes, size_t size, int64_t from_ns, int64_t to_ns);

PROF__API const prof_trace_info *prof_trace_about(const prof_trace *trace); /* the trace owns it */
/* Returns one key and value of the metadata: those of prof_set_metadata(), in the order in which the keys were first
   set; and, if there is a rank, "rank" and, unless it was set, "host", the name of the machine. Returns 0 after the
   last. */
PROF__API int prof_trace_metadata(const prof_trace *trace, size_t index, const char **key, const char **value);
PROF__API size_t prof_trace_track_count(const prof_trace *trace);
PROF__API const prof_track *prof_trace_track(const prof_trace *trace, size_t index); /* NULL after the last */

/* Returns the states of a track's thread, in order of time, and sets *count to their number. The trace owns them.
   Between two of them there may be times of which nothing is known. A fiber has the states of the thread that runs it,
   and waits while none does; at a switch of fibers, the time between the events of both is not known. If a kernel says
   that its fibers are tasks, each of them runs from the first to the last event of each of its turns. Returns NULL, and
   0 as *count, if the recording has none of this track: prof_system.h was not asked for them, or it is a device's. The
   window does not matter here. count must not be NULL. */
PROF__API const prof_state *prof_track_states(const prof_trace *trace, size_t track, size_t *count);
/* Splits a time of a track, for example that of a scope, into what its thread did. What is not known is in unknown_ns:
   all of it, if the recording has no states. */
PROF__API prof_status prof_track_split(const prof_trace *trace, size_t track, int64_t start_ns, int64_t duration_ns,
                                       prof_split *split);
/* Splits the time of an event of a track likewise; that of a frame's boundary is the frame that it ends. Where the
   states leave something unknown, a scope of PROFILE_SCOPE_TIMED, or a frame of PROFILE_FRAME_TIMED, says it itself. */
PROF__API prof_status prof_event_split(const prof_trace *trace, size_t track, const prof_event *event,
                                       prof_split *split);

/* Returns the samples of a track's thread, in order of time, and sets *count to their number. The trace owns them. The
   scope that was open at a sample's time is what it ran for. Returns NULL, and 0 as *count, if there are none. track
   PROF_NO_TRACK: the samples of all threads that have no track, in order of their thread ids. Where a system's id was
   used again, each track has those from its first event on. The window does not matter here. count must not be NULL. */
PROF__API const prof_sample *prof_track_samples(const prof_trace *trace, size_t track, size_t *count);
/* Returns the modules that the program had, in the order in which they became known, and sets *count to their number.
   There are none without samples. The trace owns them. count must not be NULL. */
PROF__API const prof_module *prof_trace_modules(const prof_trace *trace, size_t *count);
/* Returns the module to which an address belonged at a time, or NULL. A library may have been unloaded, and another one
   have its place: the newest one that was known then counts, else the first one that became known later. */
PROF__API const prof_module *prof_module_at(const prof_trace *trace, uint64_t address, int64_t time_ns);

/* A cursor, a time line and spans are read alike: open, next until it returns 0, close. next returns 1 and an entry; 0
   at the end, or if it cannot go on, as without memory. close says which: it returns PROF_OK, or what failed. It takes
   NULL, for which it returns PROF_OK. */

/* Reads the events of one track in order of time, a parent before its children. Takes memory for one chunk and the open
   scopes, all of it when it is opened, so that next and close do not fail. */
PROF__API prof_status prof_cursor_open(const prof_trace *trace, size_t track, prof_cursor **cursor);
PROF__API int prof_cursor_next(prof_cursor *cursor, prof_event *event);
PROF__API prof_status prof_cursor_close(prof_cursor *cursor);

/* Reads the events of all tracks in order of time; those of one track in the order of its cursor, those of the same
   time in the order of the tracks. Takes memory for a cursor for each track that has begun and not ended at the present
   time. */
PROF__API prof_status prof_timeline_open(const prof_trace *trace, prof_timeline **timeline);
/* *track: the index of the event's track for prof_trace_track(); track may be NULL. */
PROF__API int prof_timeline_next(prof_timeline *timeline, prof_event *event, size_t *track);
PROF__API prof_status prof_timeline_close(prof_timeline *timeline);

/* Reads spans in the order of their ends, with their marks in between; then those still open, in the order of their
   begins. An end belongs to the newest open span of its name and id; an end of a task or frame, to its own object.
   Nothing is dropped: an end without a begin is a span from the first time known of the trace on, a begin without an
   end reaches to the last time; both are flagged, as are spans that reach beyond the window. Events of several tracks
   at the same time are taken in the order of the tracks, but an end without an open span waits for a begin of the same
   time. Takes the memory of prof_timeline, and for the open spans. */
PROF__API prof_status prof_spans_open(const prof_trace *trace, prof_spans **spans);
PROF__API int prof_spans_next(prof_spans *spans, prof_span *span);
PROF__API prof_status prof_spans_close(prof_spans *spans);
#endif

#endif /* PROF__API_READ_H */
