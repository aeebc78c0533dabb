/* prof_read.h: the reader of prof's recordings: events, statistics, the summary, CSV, saves of the last seconds
assembled from src/: change it there, see CONTRIBUTING.md

    #define PROF_IMPLEMENTATION            // in exactly one file of the program, C or C++
    #include "prof_read.h"                 // includes prof.h

    prof_trace *trace;
    if (!prof_trace_open("run.prof", &trace)) prof_summary_write(trace, NULL, NULL);
    prof_trace_close(trace);

    prof.h records, into a .prof. This header brings what reads: >>read has traces and cursors, >>reports has tables.
    With it a program also writes .csv and .txt by itself, follows what is recorded (mode stats and ring+stats, save and
    prof_save_last_ns()), and reads what it records: prof_trace_open_live(). prof_chrome.h, prof_html.h, prof_report.h,
    prof_xplane.h, prof_ntff.h and prof_server.h include it.

    Files that only mark up include prof.h, which takes compilers less time. Not with PROF_FREESTANDING or PROF_MINIMAL.
    Where a program and its plugins have copies of prof, the one that records needs this header for such outputs. */
#define PROF__READER 1 /* the reader follows */
#include "prof.h" /* each time, because the last one may be that of PROF_IMPLEMENTATION */
#undef PROF__READER

#pragma pack(push, 16) /* as in prof.h */
#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wpragma-pack" /* macOS's headers end with the default */
#endif
#ifdef __GNUC__
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function" /* what only another header uses, or not this system */
#endif
#ifndef PROF_READ_H
#define PROF_READ_H

#ifdef __cplusplus
extern "C" {
#endif

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

/*-- REPORTS ---------------------------------------------------------------------------------------------- >>reports --
   Each report can be written to a file (a path of NULL or "-" is standard output; a regular file is replaced only when
   the new one is complete) and streamed to your own function. options may be NULL. */

typedef enum prof_sort {
    PROF_SORT_TOTAL = 0,
    PROF_SORT_SELF,
    PROF_SORT_CALLS,
    PROF_SORT_MEAN,
    PROF_SORT_MIN,
    PROF_SORT_MAX,
    PROF_SORT_P99,
    PROF_SORT_NAME
} prof_sort;

#define PROF_NO_LIMIT (-1) /* of columns */

typedef struct prof_summary_options {
    prof_sort sort;
    int ascending;
    size_t top; /* rows of the scope table; 0: all */
    int by_path; /* 1: a row for each call path, as a tree; top: the first rows, and what leads to them */
    int columns; /* characters of a line, from 40 on: names are shortened and columns left out to fit; 0: the width of
                    the terminal if the summary goes there, else no limit; PROF_NO_LIMIT */
} prof_summary_options;

/* The count of durations with from_ns <= duration < to_ns. */
typedef struct prof_bucket {
    uint64_t from_ns, to_ns, count;
} prof_bucket;

/* One entry of the statistics: a scope name at a call site. Scopes that overlap (begin a, begin b, end a, end b) count
   with all of their time. The time of the scope that ends later (b) is all its own self time, and is not subtracted
   from that of the enclosing scopes; by call path it is outermost. An end belongs to the innermost open scope of its
   call site or, only if none is open, to a scope that the end of an outer scope has closed. */
typedef struct prof_stat {
    const char *name;                /* that of the site; the format of PROFILE_SCOPE_F; the text of
                                        PROFILE_SCOPE_DYNAMIC */
    const prof_callsite *site;
    uint64_t count, truncated;       /* truncated scopes count only in these two */
    uint64_t total_ns;               /* inclusive time: of calls inside a call of the same entry, only the outermost */
    uint64_t sum_ns;                 /* the durations of all calls; mean_ns times the calls that are not truncated */
    uint64_t self_ns, min_ns, max_ns;
    double mean_ns, deviation_ns;    /* deviation of the population */
    double share;                    /* inclusive time as a part of the time that the trace, or its window, covers: 0.5
                                        is half of it. Of a thread whose older events were overwritten, the time since
                                        then. Threads add up: 4 that do nothing else make 4. Only of scopes */
    uint64_t threads;                /* of a scope: how many tracks have it, without those where it only overlaps; 0:
                                        not known */
    uint64_t bytes;                  /* PROFILE_THROUGHPUT: the sum of bytes, */
    uint64_t rates;                  /* the calls that took some time, and their rates, 10^6 bytes a second: */
    double mean_rate, deviation_rate, min_rate, max_rate;
    uint64_t p50_ns, p90_ns, p99_ns, p999_ns;
    size_t parent;                   /* prof_stats_by_path: index of the enclosing entry, else PROF_NO_PARENT */
    uint32_t depth;                  /* the number of enclosing entries */
    const prof_bucket *buckets;      /* the distribution of the durations, in order, without empty buckets: exact below
                                        128 ns, then 64 buckets for each power of two. Freed with the entries */
    size_t bucket_count;
    uint64_t running_ns, ready_ns, waiting_ns, unknown_ns; /* of a scope: what its thread did in total_ns, which they
                                        add up to: see prof_track_split(). All unknown without prof_system.h */
    uint64_t switches, migrations;   /* in that time */
} prof_stat;
#define PROF_NO_PARENT ((size_t)-1)

/* Allocations of one call site, memory scope or pool. Only frees of blocks that were allocated in the trace, or its
   window, count: all numbers begin at 0 there. */
typedef struct prof_memory_row {
    const char *pool;               /* the category of its macros; NULL: a row of a scope, in all pools */
    const char *scope;              /* the names of the open PROFILE_MEMORY_SCOPEs, joined by ':'; "": none was open;
                                       NULL: a row of a pool */
    const prof_callsite *site;      /* of the allocation; NULL: a row of a pool or scope */
    const prof_callsite *around;    /* of the innermost other scope that was open there; NULL: none, or a row of a pool
                                       or scope */
    const char *around_name;        /* the name of that scope, also one made at run time; NULL if around is */
    uint64_t count, bytes;          /* all allocations */
    uint64_t live_count, live_bytes; /* those not freed at the end */
    uint64_t peak_bytes;            /* the maximum of live bytes, */
    int64_t peak_ns;                /* and when it was first reached */
} prof_memory_row;

typedef struct prof_memory_stats {
    const prof_memory_row *sites, *scopes, *pools; /* those with the most bytes first */
    size_t site_count, scope_count, pool_count;
    uint64_t count, frees;          /* ALLOC and FREE events; a realloc has one of each */
    uint64_t freed_unknown;         /* frees of blocks that were allocated before the trace, or not at all */
    uint64_t freed_twice;           /* frees of blocks that were already freed; if events were lost, it may have been
                                       another block */
    uint64_t not_freed;             /* blocks that were allocated again without a free in between: the free was lost, or
                                       is not marked up; or more than 256 pools have blocks at the address */
} prof_memory_stats;

/* The locks of one name, or one lock. Only waits and holds that lie in the trace as a whole add to the times. */
typedef struct prof_lock_row {
    const char *name, *category;
    uint64_t address;               /* of the lock; 0: several locks */
    uint64_t locks;                 /* the number of locks */
    uint64_t acquired;
    uint64_t contended;             /* those before which the thread had to wait for another */
    uint64_t wait_ns, wait_max_ns;  /* from LOCK_WAIT to LOCK_ACQUIRE */
    uint64_t hold_ns, hold_max_ns;  /* from LOCK_ACQUIRE to LOCK_RELEASE; of recursive locks from the first to the
                                       last */
    uint64_t waiting_max;           /* the maximum of threads that waited for one lock at the same time */
    uint64_t holding, waiting;      /* threads that hold it, or wait for it, at the end */
    uint64_t abandoned;             /* waits that were not followed by an acquire */
    uint64_t unmatched;             /* acquires without a release, and releases without an acquire */
} prof_lock_row;

/* A wait of a thread: in a call of the C library, which PROF_WRAP_WAITS recorded; or from PROFILE_LOCK_WAIT to
   PROFILE_LOCK_ACQUIRE, if another thread had the lock. */
typedef struct prof_wait {
    const char *call;               /* the function: "pthread_mutex_lock", "read", ...; "futex": syscall(); "page
                                       fault": the thread touched memory; "": none is known */
    const char *name;               /* of the lock in the markup, or of the page's file; "": none */
    const char *what;               /* what object is: "lock", "condition", "semaphore", "futex", "barrier", "thread"
                                       (its pthread_t), "fd", "fds" (how many), "pid" or "page" (of memory, that was
                                       read from a disk: the address that was touched); "": there is none, a sleep */
    uint64_t object;                /* the address, or the number */
    int64_t start_ns, duration_ns;
    uint32_t flags;                 /* as an event's */
    size_t track;                   /* the index of its track */
    const char *scope;              /* the innermost scope that waited; "": none */
    uint64_t holder;                /* the id of the thread that had the lock when the wait began; 0: not known */
    size_t holder_track;            /* its track, or PROF_NO_TRACK: it recorded nothing */
    const char *holder_scope;       /* the innermost scope that it was in then, waits left out; "": none */
    size_t waker_track;             /* of the thread that unlocked, signalled or posted; PROF_NO_TRACK: not known */
    int64_t woken_ns;               /* when it did so */
    const char *waker_scope;        /* the innermost scope that it was in then; "": none */
} prof_wait;
#define PROF_NO_TRACK ((size_t)-1)

#if PROF_ENABLE
/* Write a table for a terminal: scopes, frames, counters, losses, recording cost. Percentiles are exact to 0.8 %. */
PROF__API prof_status prof_summary_write(const prof_trace *trace, const char *path,
                                         const prof_summary_options *options);
PROF__API prof_status prof_summary_stream(const prof_trace *trace, prof_sink sink, const prof_summary_options *options);

/* Write one event a line, by RFC 4180, in integer nanoseconds; the first line names the columns. The column value has
   the number of a counter or a loss, the text of a message, the id of a span or a flow, the address of an allocation or
   a lock. args has key=value, joined by ; with a backslash before each ; = and backslash in keys and values. What is
   not UTF-8 becomes U+FFFD. All else stays as it is: a spreadsheet takes a name that begins with = for a formula.
   If the trace has states of threads, running_ns, ready_ns and waiting_ns follow: see prof_track_split(). */
PROF__API prof_status prof_csv_write(const prof_trace *trace, const char *path);
PROF__API prof_status prof_csv_stream(const prof_trace *trace, prof_sink sink);

/* Computes the statistics of scopes that the summary shows, sorted. Free them with prof_stats_free() before you close
   the trace. */
PROF__API prof_status prof_stats(const prof_trace *trace, prof_sort sort, int ascending, prof_stat **stats,
                                 size_t *count);
/* Computes them with one entry for each call path: a parent before its children, and children of one parent in order.
   In PROF_STATS, which knows no paths, all entries are outermost. */
PROF__API prof_status prof_stats_by_path(const prof_trace *trace, prof_sort sort, int ascending, prof_stat **stats,
                                         size_t *count);
/* A scope that had no end when its track did: what a thread was doing. */
typedef struct prof_open_scope {
    const char *name;
    const prof_callsite *site;
    size_t track;                   /* its index */
    uint32_t depth;                 /* 0 for the outermost; those of a track follow each other, the innermost last */
    int64_t start_ns, duration_ns;  /* duration_ns: as an event's, see PROF_TRUNCATED_END. It is what is known: unless
                                       the process is alive (prof_trace_info.alive), the scope may have lasted longer */
} prof_open_scope;
/* Finds all scopes that had no end when their tracks did. Free them with prof_open_scopes_free() before you close the
   trace. */
PROF__API prof_status prof_open_scopes(const prof_trace *trace, prof_open_scope **scopes, size_t *count);
PROF__API void prof_open_scopes_free(prof_open_scope *scopes);
/* Computes the statistics of spans. total_ns is sum_ns. self_ns is, too, except for a task of prof_task_create() that
   starts and stops on one thread: the tasks inside it are subtracted. Spans of prof_frame_create() are frames, and left
   out. */
PROF__API prof_status prof_span_stats(const prof_trace *trace, prof_sort sort, int ascending, prof_stat **stats,
                                      size_t *count);
PROF__API void prof_stats_free(prof_stat *stats);

/* Computes what PROFILE_ALLOC, PROFILE_FREE and so on recorded, in the trace's window. Takes one pass, and memory for
   the blocks that are live at a time. Free it with prof_memory_free() before you close the trace. */
PROF__API prof_status prof_memory(const prof_trace *trace, prof_memory_stats **stats);
PROF__API void prof_memory_free(prof_memory_stats *stats);
/* Computes what PROFILE_LOCK_WAIT and so on recorded, the locks that threads waited for longest first. by_address: 1: a
   row for each lock instead of each name. Free the rows with prof_locks_free() before you close the trace. */
PROF__API prof_status prof_locks(const prof_trace *trace, int by_address, prof_lock_row **rows, size_t *count);
PROF__API void prof_locks_free(prof_lock_row *rows);
/* Lists the waits of all threads in order of time. Takes one pass. Free them with prof_waits_free() before you close
   the trace. */
PROF__API prof_status prof_waits(const prof_trace *trace, prof_wait **waits, size_t *count);
PROF__API void prof_waits_free(prof_wait *waits);

/* Writes a trace in the format of an extension (".json"), or of that of path if extension is NULL. Not ".prof": a trace
   is what was read from an image; see prof_image_copy(). */
PROF__API prof_status prof_trace_write(const prof_trace *trace, const char *path, const char *extension);
#endif

#if !PROF_ENABLE
PROF__STRIPPED_INLINE const prof_trace_info *prof__stripped_about(void)
{
    static prof_trace_info none;
    none.program = none.clock = none.write_error = none.boot_id = "";
    none.file = none.crash = "";
    return &none;
}
PROF__STRIPPED_INLINE void prof__stripped_memory(prof_memory_stats **stats)
{
    static prof_memory_stats none;
    if (stats) *stats = &none;
}
#define prof_trace_open(path, trace) \
    PROF__STRIPPED((prof__stripped_none(trace, sizeof(void *)), PROF_OK), PROF__USE2(path, trace))
#define prof_trace_open_live(trace) \
    PROF__STRIPPED((prof__stripped_none(trace, sizeof(void *)), PROF_OK), PROF__USE(trace))
#define prof_trace_open_memory(image, size, trace) \
    PROF__STRIPPED((prof__stripped_none(trace, sizeof(void *)), PROF_OK), PROF__USE3(image, size, trace))
#define prof_trace_close(trace) PROF__STRIPPED((void)0, PROF__USE(trace))
#define prof_trace_set_window(trace, from_ns, to_ns) PROF__STRIPPED(PROF_OK, PROF__USE3(trace, from_ns, to_ns))
#define prof_trace_align(traces, count, offsets) \
    PROF__STRIPPED((prof__stripped_none(offsets, (count) * sizeof(int64_t)), (size_t)0), \
                   PROF__USE3(traces, count, offsets))
#define prof_trace_set_offset(trace, ns) PROF__STRIPPED(PROF_OK, PROF__USE2(trace, ns))
#define prof_trace_set_progress(trace, step, user) PROF__STRIPPED((void)0, PROF__USE3(trace, step, user))
#define prof_image_find(bytes, size, image_size) \
    PROF__STRIPPED((prof__stripped_none(image_size, sizeof(uint64_t)), PROF_CORRUPT), \
                   PROF__USE3(bytes, size, image_size))
#define prof_image_shorten(bytes, left, image_size) \
    PROF__STRIPPED((prof__stripped_none(image_size, sizeof(uint64_t)), PROF_CORRUPT), \
                   PROF__USE3(bytes, left, image_size))
#define prof_image_copy(from, to, from_ns, to_ns) PROF__STRIPPED(PROF_OK, PROF__USE4(from, to, from_ns, to_ns))
#define prof_image_set_window(bytes, size, from_ns, to_ns) \
    PROF__STRIPPED(PROF_OK, PROF__USE4(bytes, size, from_ns, to_ns))
#define prof_trace_about(trace) PROF__STRIPPED(prof__stripped_about(), PROF__USE(trace))
#define prof_trace_metadata(trace, index, key, value) PROF__STRIPPED(0, PROF__USE4(trace, index, key, value))
#define prof_trace_track_count(trace) PROF__STRIPPED((size_t)0, PROF__USE(trace))
#define prof_trace_track(trace, index) PROF__STRIPPED((const prof_track *)0, PROF__USE2(trace, index))
#define prof_track_states(trace, track, count) PROF__STRIPPED((const prof_state *)0, PROF__USE3(trace, track, count))
#define prof_track_split(trace, track, start_ns, duration_ns, split) \
    PROF__STRIPPED(PROF_OK, PROF__USE5(trace, track, start_ns, duration_ns, split))
#define prof_event_split(trace, track, event, split) PROF__STRIPPED(PROF_OK, PROF__USE4(trace, track, event, split))
#define prof_track_samples(trace, track, count) PROF__STRIPPED((const prof_sample *)0, PROF__USE3(trace, track, count))
#define prof_trace_modules(trace, count) PROF__STRIPPED((const prof_module *)0, PROF__USE2(trace, count))
#define prof_module_at(trace, address, time_ns) \
    PROF__STRIPPED((const prof_module *)0, PROF__USE3(trace, address, time_ns))
#define prof_cursor_open(trace, track, cursor) \
    PROF__STRIPPED((prof__stripped_none(cursor, sizeof(void *)), PROF_OK), PROF__USE3(trace, track, cursor))
#define prof_cursor_next(cursor, event) PROF__STRIPPED(0, PROF__USE2(cursor, event))
#define prof_cursor_close(cursor) PROF__STRIPPED(PROF_OK, PROF__USE(cursor))
#define prof_timeline_open(trace, timeline) \
    PROF__STRIPPED((prof__stripped_none(timeline, sizeof(void *)), PROF_OK), PROF__USE2(trace, timeline))
#define prof_timeline_next(timeline, event, track) PROF__STRIPPED(0, PROF__USE3(timeline, event, track))
#define prof_timeline_close(timeline) PROF__STRIPPED(PROF_OK, PROF__USE(timeline))
#define prof_spans_open(trace, spans) \
    PROF__STRIPPED((prof__stripped_none(spans, sizeof(void *)), PROF_OK), PROF__USE2(trace, spans))
#define prof_spans_next(spans, span) PROF__STRIPPED(0, PROF__USE2(spans, span))
#define prof_spans_close(spans) PROF__STRIPPED(PROF_OK, PROF__USE(spans))
#define prof_summary_write(trace, path, options) PROF__STRIPPED(PROF_OK, PROF__USE3(trace, path, options))
#define prof_summary_stream(trace, sink, options) PROF__STRIPPED(PROF_OK, PROF__USE3(trace, sink, options))
#define prof_csv_write(trace, path) PROF__STRIPPED(PROF_OK, PROF__USE2(trace, path))
#define prof_csv_stream(trace, sink) PROF__STRIPPED(PROF_OK, PROF__USE2(trace, sink))
#define prof_stats(trace, sort, ascending, stats, count) \
    PROF__STRIPPED((prof__stripped_none(stats, sizeof(void *)), prof__stripped_none(count, sizeof(size_t)), PROF_OK), \
                   PROF__USE5(trace, sort, ascending, stats, count))
#define prof_stats_by_path(trace, sort, ascending, stats, count) \
    PROF__STRIPPED((prof__stripped_none(stats, sizeof(void *)), prof__stripped_none(count, sizeof(size_t)), PROF_OK), \
                   PROF__USE5(trace, sort, ascending, stats, count))
#define prof_open_scopes(trace, scopes, count) \
    PROF__STRIPPED((prof__stripped_none(scopes, sizeof(void *)), prof__stripped_none(count, sizeof(size_t)), PROF_OK), \
                   PROF__USE3(trace, scopes, count))
#define prof_open_scopes_free(scopes) PROF__STRIPPED((void)0, PROF__USE(scopes))
#define prof_span_stats(trace, sort, ascending, stats, count) \
    PROF__STRIPPED((prof__stripped_none(stats, sizeof(void *)), prof__stripped_none(count, sizeof(size_t)), PROF_OK), \
                   PROF__USE5(trace, sort, ascending, stats, count))
#define prof_stats_free(stats) PROF__STRIPPED((void)0, PROF__USE(stats))
#define prof_memory(trace, stats) PROF__STRIPPED((prof__stripped_memory(stats), PROF_OK), PROF__USE2(trace, stats))
#define prof_memory_free(stats) PROF__STRIPPED((void)0, PROF__USE(stats))
#define prof_locks(trace, by_address, rows, count) \
    PROF__STRIPPED((prof__stripped_none(rows, sizeof(void *)), prof__stripped_none(count, sizeof(size_t)), PROF_OK), \
                   PROF__USE4(trace, by_address, rows, count))
#define prof_locks_free(rows) PROF__STRIPPED((void)0, PROF__USE(rows))
#define prof_waits(trace, waits, count) \
    PROF__STRIPPED((prof__stripped_none(waits, sizeof(void *)), prof__stripped_none(count, sizeof(size_t)), PROF_OK), \
                   PROF__USE3(trace, waits, count))
#define prof_waits_free(waits) PROF__STRIPPED((void)0, PROF__USE(waits))
#define prof_trace_write(trace, path, extension) PROF__STRIPPED(PROF_OK, PROF__USE3(trace, path, extension))
#endif

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif /* PROF_READ_H */

/*== END OF HEADER ==================================================================================================*/

#if defined(PROF_IMPLEMENTATION) && PROF_ENABLE && !defined(PROF_FREESTANDING) && !defined(PROF__READ_IMPLEMENTED)
#define PROF__READ_IMPLEMENTED
#ifdef PROF_MINIMAL
#error "prof_read.h needs what PROF_MINIMAL leaves out: include prof.h alone"
#endif

#ifdef __EMSCRIPTEN__ /* see prof__heap_has() */
#define malloc(size) prof__heap_resize(NULL, size)
#define calloc(count, size) prof__heap_clear(count, size)
#define realloc(at, size) prof__heap_resize(at, size)
#endif
#ifdef PROF__WRAPS_MALLOC /* what prof itself allocates is not the program's */
#define malloc(size) __libc_malloc(size)
#define calloc(count, size) __libc_calloc(count, size)
#define realloc(at, size) __libc_realloc(at, size)
#define free(at) __libc_free(at)
#define qsort(at, count, size, order) prof__quiet_sort(at, count, size, order)
#ifdef PROF__NARROW
#define fopen(path, mode) PROF__QUIETLY(FILE *, prof__libc_fopen(path, mode))
#else
#define fopen(path, mode) PROF__QUIETLY(FILE *, fopen(path, mode))
#endif
#define fgets(to, size, file) PROF__QUIETLY(char *, fgets(to, size, file))
#define fclose(file) PROF__QUIETLY(int, fclose(file))
#define fread(to, size, count, file) PROF__QUIETLY(size_t, fread(to, size, count, file))
#define fwrite(from, size, count, file) PROF__QUIETLY(size_t, fwrite(from, size, count, file))
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define PROF__NONE ((size_t)-1)
#define PROF__NONE32 0xFFFFFFFFu

/* A hash index (open addressing, linear probing) from keys to items. It stores item numbers only. The owner keeps the
   items in an array, and compares an item with a key. */
typedef struct prof__read_slot {
    uint32_t hash, item; /* item: its number + 1; 0: a free slot */
} prof__read_slot;

typedef struct prof__read_index {
    prof__read_slot *slots;
    size_t capacity, used; /* capacity: a power of two, or 0 */
} prof__read_index;

typedef int prof__read_equal(const void *owner, size_t item, const void *key);

/* Makes room in an array on the heap for one more element. Returns 0, and leaves the array unchanged, if there is no
   memory. */
#define PROF__ROOM(array, capacity, count) \
    ((count) < (capacity) || prof__more_room(&(array), &(capacity), sizeof *(array)))
static int prof__more_room(void *array, size_t *capacity, size_t element)
{
    size_t wanted = *capacity < 8 ? 16 : *capacity + *capacity / 2;
    void *old;
    if (wanted > (size_t)-1 / 2 / element) return 0;
    memcpy(&old, array, sizeof old); /* array: the address of a pointer to any type of object */
    old = realloc(old, wanted * element);
    if (!old) return 0;
    memcpy(array, &old, sizeof old);
    *capacity = wanted;
    return 1;
}

/* Adds a zeroed element to an array on the heap. Returns the element, or NULL if there is no memory. Slower than
   PROF__ROOM. */
#define PROF__MORE(array, capacity, count) prof__more(&(array), &(capacity), &(count), sizeof *(array))
static void *prof__more(void *array, size_t *capacity, size_t *count, size_t element)
{
    char *items;
    if (*count >= *capacity && !prof__more_room(array, capacity, element)) return NULL;
    memcpy(&items, array, sizeof items);
    return memset(items + (*count)++ * element, 0, element);
}

static uint64_t prof__read_seed_now; /* 0: not chosen yet */

static uint64_t prof__read_seed_make(void)
{
    uint64_t now = 0, made, *seed = &prof__read_seed_now;
    made = (prof__monotonic() ^ PROF__ADDRESS(&made) << 20 ^ PROF__ADDRESS(seed) << 40) * 0x9E3779B97F4A7C15u | 1;
    return __atomic_compare_exchange_n(seed, &now, made, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED) ? made : now;
}

/* Returns a seed for hashes that is random for each process, so that nobody can craft an image whose names all collide.
   Never returns 0. Hashes decide no order, so output does not depend on the seed. */
static uint64_t prof__read_seed(void)
{
    uint64_t seed = PROF__LOAD(&prof__read_seed_now);
    return PROF__LIKELY(seed) ? seed : prof__read_seed_make();
}

/* Makes all bits of a hash depend on each other. */
static uint64_t prof__scatter(uint64_t h)
{
    h = (h ^ h >> 32) * 0x9E3779B97F4A7C15u;
    return h ^ h >> 29;
}

/* Returns a hash of a number, which depends on the process's seed. */
static uint64_t prof__mix(uint64_t h)
{
    return prof__scatter((h ^ prof__read_seed()) * 0x9E3779B97F4A7C15u);
}

/* Returns a hash of a text that is as good as the text itself, because it depends on the process's seed. Takes eight
   bytes at a time: names have 10 to 30. Never returns 0. */
static uint64_t prof__text_key(const char *text)
{
    size_t size = strlen(text);
    uint64_t hash = prof__read_seed() ^ size, word;
    for (; size >= sizeof word; size -= sizeof word, text += sizeof word) {
        memcpy(&word, text, sizeof word);
        hash = prof__scatter(hash ^ word);
    }
    for (word = 0; size; size--) word = word << 8 | (unsigned char)*text++;
    return prof__mix(hash ^ word) | (uint64_t)1 << 63;
}

/* Returns a hash of a number, and of the text that has this prof__text_key(); 0: there is no text. Takes no time for a
   text, whose key is as good as random. */
static inline uint64_t prof__mix_key(uint64_t number, uint64_t key)
{
    return key ? key ^ number * 0x9E3779B97F4A7C15u : prof__mix(number);
}

/* Returns a hash of a text, which depends on the process's seed. */
static uint32_t prof__text_hash(const char *text) { return (uint32_t)prof__text_key(text); }

/* Returns the item that `equal` finds equal to the key, or PROF__NONE. */
static size_t prof__read_find(const prof__read_index *index, uint32_t hash, prof__read_equal *equal, const void *owner,
                              const void *key)
{
    size_t at;
    if (!index->capacity) return PROF__NONE;
    for (at = hash & (index->capacity - 1); index->slots[at].item; at = (at + 1) & (index->capacity - 1))
        if (index->slots[at].hash == hash && equal(owner, index->slots[at].item - 1, key))
            return index->slots[at].item - 1;
    return PROF__NONE;
}

/* An item with this hash is looked for soon: begins to load its place in the table, which takes 30 to 150 ns where the
   table is too large for the processor's caches. */
static inline void prof__read_soon(const prof__read_index *index, uint32_t hash)
{
    if (index->capacity) PROF__SOON(&index->slots[hash & (index->capacity - 1)]);
}

/* Returns the item that prof__read_find() probably returns, without looking at items. */
static inline size_t prof__read_guess(const prof__read_index *index, uint32_t hash)
{
    const prof__read_slot *slot = index->capacity ? &index->slots[hash & (index->capacity - 1)] : NULL;
    return slot && slot->item && slot->hash == hash ? slot->item - 1 : PROF__NONE;
}

/* Adds an item for which there is room. item: its number + 1. */
static void prof__read_put(prof__read_index *index, uint32_t hash, uint32_t item)
{
    size_t at = hash & (index->capacity - 1);
    while (index->slots[at].item) at = (at + 1) & (index->capacity - 1);
    index->slots[at].hash = hash;
    index->slots[at].item = item;
    index->used++;
}

/* Removes all items. count: of the owner's array. */
static void prof__read_forget(prof__read_index *index, size_t *count)
{
    if (index->capacity) memset(index->slots, 0, index->capacity * sizeof *index->slots);
    index->used = *count = 0;
}

/* Makes a larger table with room for count more items. Returns 0, and leaves the table unchanged, if there is no
   memory. */
static int prof__read_grow(prof__read_index *index, size_t count)
{
    prof__read_index larger;
    size_t i;
    memset(&larger, 0, sizeof larger);
    larger.capacity = index->capacity ? index->capacity : 16;
    while (larger.capacity / 4 * 3 < index->used + count) {
        if (larger.capacity > (size_t)-1 / 4 / sizeof *larger.slots) return 0;
        larger.capacity *= 2;
    }
    larger.slots = (prof__read_slot *)calloc(larger.capacity, sizeof *larger.slots);
    if (!larger.slots) return 0;
    for (i = 0; i < index->capacity; i++)
        if (index->slots[i].item) prof__read_put(&larger, index->slots[i].hash, index->slots[i].item);
    free(index->slots);
    *index = larger;
    return 1;
}

/* Makes room for count more items, so that prof__read_put() can follow count times. Returns 0 if there is no memory. */
static int prof__read_reserve(prof__read_index *index, size_t count)
{
    return index->used + count <= index->capacity / 4 * 3 || prof__read_grow(index, count);
}

/* Adds an item. Returns 0 if there is no memory, or too many items. */
static int prof__read_add(prof__read_index *index, uint32_t hash, size_t item)
{
    if (item >= PROF__NONE32 - 1 || !prof__read_reserve(index, 1)) return 0;
    prof__read_put(index, hash, (uint32_t)item + 1);
    return 1;
}

/* Adds a zeroed element to an array on the heap, and to the index of that array under this hash. Returns the number of
   the element, or PROF__NONE if there is no memory. */
#define PROF__NEW(index, hash, array, capacity, count) \
    prof__new_item(&(index), hash, &(array), &(capacity), &(count), sizeof *(array))
static size_t prof__new_item(prof__read_index *index, uint32_t hash, void *array, size_t *capacity, size_t *count,
                             size_t element)
{
    return prof__more(array, capacity, count, element) && prof__read_add(index, hash, *count - 1) ? *count - 1
                                                                                                 : PROF__NONE;
}

/*-- READER ---------------------------------------------------------------------------------------------- >>reader --
   An image becomes a trace in these steps, once, in prof__read_parts():
     1. The header is checked, so that meta and chunks lie inside the image and do not overlap.
     2. Meta becomes a list of call sites and a list of names, each with every distinct one once.
     3. The blocks of the archive and the valid chunks of the ring are cut into segments. A segment has the records of
        one track in one chunk. Most segments get a summary while they are cut, which tells the matcher what it needs
        (see read/segment_summary).
     4. Clock pairs become a piecewise linear function from ticks to nanoseconds.
     5. The matcher runs over each track and finds the begin that each end belongs to. It remembers only what a single
        segment cannot show: the ends and arguments of scopes that continue in later segments, the END records that do
        not close exactly one scope, and the ends of scopes that began before the track's first segment (unmatched
        ends). It reads the words only of segments without a summary.
   Afterwards the trace does not change any more. A cursor loads one segment at a time.
   The archive may be far larger than memory. So only these tables stay in memory, and prof__read_words() reads a block
   each time its words are needed. The same applies to the segments of a large ring whose recording has ended. Words may
   be gone by then, because the file was truncated or a rotating archive has overwritten them. They are left out and
   counted as lost; scopes that the tables know stay. */

#include <limits.h>
#ifndef _WIN32
#include <sys/ioctl.h>
#endif

/* Words; longer texts of call sites are cut, because viewers' files repeat them in each event. */
#define PROF__TEXT_WORDS 128
#define PROF__CHUNK_MAX 1048576 /* bytes; the largest size of a chunk */
#define PROF__CLOSE_MAX PROF__SITE_MASK /* the most scopes that one END can close */
#ifndef PROF__READ_WHOLE
#define PROF__READ_WHOLE ((uint64_t)32 << 20) /* bytes; an image up to this size is read into memory as a whole */
#endif
#ifndef PROF__SEGMENT_SUMMARIES
#define PROF__SEGMENT_SUMMARIES 1 /* 0: no summaries: the matcher reads all words; for tests */
#endif
#define PROF__READ_KEYS 128 /* number of random keys of prof__read_mark(); even */
/* The largest time; later ones become this, so that differences never overflow. */
#define PROF__FAR_NS ((int64_t)1 << 61)
/* In place of a count: this END ends a scope that overlaps its enclosing one. */
#define PROF__CLOSES_LATE (PROF__NONE32 - 1)
/* How many scopes without an end of their own are remembered, because a later end may show that they overlap. */
#define PROF__LATE_END_MAX 65536
#define PROF__LATE_STEPS 64 /* how many remembered scopes of one call site are searched for the place of a new one */
#define PROF__OVERLAPS 8u   /* flag of a node in a cursor: the begin of a scope that overlaps its enclosing one */
#define PROF__LATE_BIT 0x80000000u /* PROF__OVERLAPS as a bit of an entry of a cursor's stack */
/* Flag of an event, inside the reader only: neither the scope nor an enclosing one has ended. */
#define PROF__STILL_OPEN 4u

typedef struct prof__read_site {
    prof_callsite about;
    uint32_t name;   /* index in names of about.name */
    uint32_t caller; /* index in sites of the function that called this one; 0: not known */
} prof__read_site;

/* A call site id that is in records but not in meta, and the site that stands for it. */
typedef struct prof__read_unknown {
    uint32_t id, site;
} prof__read_unknown;

typedef struct prof__read_chunk {
    uint64_t sequence, tick, lost;
    uint64_t mark;        /* of a block: hash of its words, with strings terminated; see prof__read_mark() */
    /* Where its first word is, in words of the image; of a block: where the block is, in bytes of the file. */
    uint64_t place;
    /* size: bytes of a block in the archive, 0 for a chunk of the ring, PROF__NONE32 if the block is gone. */
    uint32_t size, words;
    uint8_t owned;        /* 1: a thread was recording into it */
    uint8_t texts;        /* 1: it may have records with strings */
    uint8_t jumps;        /* 1: the counter was reset in it, so that ticks are corrected whenever its words are read */
    uint8_t torn;         /* 1: a part of the chunk is missing, and only what comes before that part is read */
    uint8_t open;         /* 1: its thread had not finished it */
} prof__read_chunk;

struct prof__read_segment;

/* Holds the words of the block or segment that was read last. */
typedef struct prof__read_buffer {
    uint64_t *words;
    char *block;
    size_t chunk; /* the chunk that the words belong to, from 1; 0: none, or words of a segment */
    const struct prof__read_segment *segment;
} prof__read_buffer;

typedef struct prof__read_segment {
    uint64_t track, serial;
    /* Tick of its first known time: when the track took the chunk, else the first record's; ~0: none. */
    uint64_t tick;
    uint64_t record; /* tick of the first record with a time; ~0: none */
    uint64_t last_tick; /* of the last record with a time in its chunk, up to its end; the chunk's if there is none */
    uint64_t mark;   /* hash of its words if they are read on demand; see prof__read_mark() */
    uint32_t chunk;
    uint32_t first, end; /* its words in the chunk; the first is its TRACK record */
    uint32_t name;       /* id of a string in meta */
    uint32_t thread;     /* id of the thread that recorded it; the low half, which is all that switches have */
    int32_t depth;       /* once matched: open scopes at its end, less the unmatched ends before that; until then: its
                            summary, from 1; 0: none */
    uint8_t fiber;
    uint8_t of_system;   /* 1: the system gave the thread's name */
    uint8_t last;        /* 1: it is the chunk's last segment, and the chunk's lost events are counted here */
    uint8_t gap;         /* 1: records are missing before it */
} prof__read_segment;

/* In the summary of a segment: a BEGIN whose END is not in the segment, or an END whose BEGIN is not. */
typedef struct prof__read_half {
    uint64_t tick;       /* of an END: its tick */
    uint32_t site, word; /* word: of a BEGIN, where it is in the chunk */
    uint32_t args;       /* of a BEGIN: its arguments in this segment */
} prof__read_half;

/* The summary of a segment: what it changes in the matcher, which then need not read the segment's words. Most segments
   have one, because nothing in them but a few ENDs refers to earlier segments. */
typedef struct prof__segment_summary {
    uint64_t tick, lost; /* tick: of the last record; lost: lost events */
    size_t half;         /* index of its first entry in halves: first its unmatched ENDs, then its open BEGINs */
    uint32_t ends, begins, nodes, args, most_args;
    /* The largest number of open scopes in the segment, less the number at its beginning; at least 0. */
    int32_t deepest;
    int spans, logs;
} prof__segment_summary;

/* A scope that is still open at the end of the segment in which it began (a cross-segment scope). */
typedef struct prof__read_cross_segment {
    int64_t end_ns;
    size_t link; /* index in links of its first argument in a later segment, or PROF__NONE */
    uint32_t flags;
    uint32_t segment; /* the segment in which it began, counted from the track's first */
} prof__read_cross_segment;

/* An unmatched end: a scope whose begin is no longer there. */
typedef struct prof__read_unmatched_end {
    int64_t end_ns;
    size_t link; /* index in links of its first argument, or PROF__NONE */
    uint64_t id;
    uint32_t site;
} prof__read_unmatched_end;

/* An END that closes no scope or several, or an ARG whose scope is not the innermost one. */
typedef struct prof__read_exception {
    uint32_t segment, word; /* segment: counted from the track's first */
    /* Of an END: how many scopes it closes; of an ARG: which open scope it belongs to, 1 is the innermost, 0 is
       none. */
    uint32_t closes;
} prof__read_exception;

/* A scope that ended after an enclosing one (an overlap). A track has one list of begins and one of ends, because they
   are found in different orders. */
typedef struct prof__read_late_begin {
    uint32_t segment, word; /* segment: counted from the track's first */
} prof__read_late_begin;

typedef struct prof__read_late_end {
    uint64_t id; /* id of the begin's event */
} prof__read_late_end;

/* An ARG record that belongs to a scope of an earlier segment. */
typedef struct prof__read_link {
    size_t next;
    size_t record; /* index in kept of its copied words */
} prof__read_link;

/* From tick on, the time of a tick t is ns + (t - tick) * factor / 2^shift. */
typedef struct prof__read_line {
    uint64_t tick, factor;
    int64_t ns;
    unsigned shift;
} prof__read_line;

/* An event of a device. prof__device_tracks() sets the fields from start_ns to depth; prof__device_take() sets the
   others. */
typedef struct prof__read_device_record {
    int64_t start_ns, end_ns;
    /* time: in the device's ticks. number: a scope's duration in ticks, or a counter's value. flow: its id, 0: none. */
    uint64_t time, number, flow;
    uint64_t tick, id;           /* tick: of the host, when the event was recorded */
    size_t args;                 /* index in kept of the first record of its arguments */
    uint32_t device, row, subrow, depth;
    uint32_t name, site, arg_count;
    /* type: PROF__DEVICE_..., or 0 for a placeholder (see prof__device_tracks()); value: prof_value_type. */
    uint8_t type, value, flags;
} prof__read_device_record;

/* A device. number is the device's number in records; everywhere else a device or a row is an index in the trace's
   list. */
typedef struct prof__read_device {
    uint32_t number, name;
    int wraps;
    uint64_t mask, hz; /* hz: ticks per second as the device stated it; 0: unknown */
    double rate;       /* ticks per second, measured or stated */
    prof__read_line *lines;
    size_t line_count;
    prof_alignment alignment;
    uint64_t pairs, refused;
    size_t first; /* its event that was recorded first, from 1; 0: none */
} prof__read_device;

typedef struct prof__read_row {
    uint32_t number, name, device;
    uint64_t early;
} prof__read_row;

/* A switch: a word of an EVENT of PROF__DEVICE_SWITCHES. */
typedef struct prof__read_switch {
    uint64_t ns; /* CLOCK_MONOTONIC */
    uint32_t thread;
    uint32_t place; /* processor << 3 | PROF__SWITCH_... */
} prof__read_switch;

/* Such an EVENT. */
typedef struct prof__read_switches {
    uint64_t id, ns; /* id: in order of writing */
    size_t first;    /* in switches */
    uint32_t count, processor;
    uint16_t serial;
    uint8_t what; /* PROF__SWITCHES_... */
} prof__read_switches;

/* A reading of how long a thread was in the run queue, modulo 2^42. */
typedef struct prof__read_delay {
    uint64_t ns; /* CLOCK_MONOTONIC */
    uint64_t delay;
    uint32_t thread;
} prof__read_delay;

/* A page that a thread had waited for. */
typedef struct prof__read_fault {
    int64_t ns; /* CLOCK_MONOTONIC; once the trace is made, since the session's start */
    uint64_t address;
    uint32_t thread;
    uint32_t file; /* the number of its name */
} prof__read_fault;

/* A time in which a thread waited several times, and was ready after some of these waits: for ns in all. */
typedef struct prof__read_unplaced {
    int64_t from, to, ns;
    uint32_t thread;
} prof__read_unplaced;

/* A time in which switches of a processor are missing. */
typedef struct prof__read_hole {
    uint64_t from, to;
    uint32_t processor; /* PROF__NONE32: all */
} prof__read_hole;

typedef struct prof__read_knowledge {
    prof__read_hole *holes; /* in order of `from` */
    size_t count, capacity;
    uint64_t since; /* the image's first switches are missing: what is after this time is known; 0: none are */
    uint64_t until; /* all switches before this time are known, but for holes */
} prof__read_knowledge;

/* What the begin of a state is. */
enum { PROF__STATE_SWITCHED = 1, PROF__STATE_MOVED = 2 };

/* The states of a thread, in the trace's. */
typedef struct prof__read_states_of {
    size_t state, state_count;
    int64_t begin_ns, end_ns; /* when the thread began and ended; INT64_MIN, INT64_MAX: not known */
    uint32_t thread;
} prof__read_states_of;

#define PROF__STATE_STEP 32u /* states of each sum */
typedef struct prof__read_sum {
    uint64_t ns[PROF_STATE_COUNT], switches, migrations;
} prof__read_sum;

/* A sample while the trace is made, and a chain of frames that some samples have. */
typedef struct prof__read_sample {
    uint64_t ns; /* CLOCK_MONOTONIC */
    uint32_t thread, processor, chain;
} prof__read_sample;

typedef struct prof__read_chain {
    size_t first; /* in frames */
    uint32_t count;
} prof__read_chain;

typedef struct prof__read_pairing {
    uint64_t tick;
    int64_t ns; /* time since the session's start */
    uint32_t device;
} prof__read_pairing;

typedef struct prof__read_track {
    prof_track about;
    /* Of a device's row: its first event, and how many. In such a track all other fields but about and max_event_args
       are 0. */
    size_t device_record, device_record_count;
    uint64_t tick; /* the track's first known time */
    size_t segment, segment_count;
    size_t cross_segment, cross_segment_count;
    size_t exception, exception_count;
    size_t late, late_count; /* in late_begins and in late_ends */
    size_t unmatched_end, unmatched_end_count;
    size_t max_nodes, max_args, max_event_args, max_depth, frames; /* how much memory a cursor needs */
    size_t state, state_count; /* in the trace's states */
    size_t sample, sample_count; /* in the trace's samples */
    int lives; /* 1: its thread has not ended, so scopes without an end are still open */
} prof__read_track;

struct prof__stat_row;

/* Counts of the events whose cost differs from that of a scope with a constant name. */
typedef struct prof__uses {
    uint64_t texts, formats; /* scopes whose name was made at run time: a text, or a format */
    uint64_t marks, objects; /* events other than scopes: without and with an object */
    /* Arguments; one that is added to an outer scope counts twice, because finding the scope takes as long. */
    uint64_t values;
} prof__uses;

/* A time in which the counter and the system's clock disagree: the machine slept, was stopped and restored, or the
   counter was reset. */
typedef struct prof__read_gap {
    uint64_t from, to;       /* ticks between which the gap lies */
    uint64_t monotonic_ns;   /* from this time on, times of the trace are later than CLOCK_MONOTONIC... */
    int64_t added_ns;        /* ...by this many ns, because the counter went on while that clock stood still */
    int64_t ns;              /* how long the gap was; at most that long if `restarts` */
    int64_t from_ns, to_ns;  /* times between which the gap lies */
    int restarts;            /* 1: the counter was reset */
} prof__read_gap;

/* What is added to ticks from a time on, because the counter was reset then. */
typedef struct prof__read_epoch {
    uint64_t monotonic_ns, shift;
} prof__read_epoch;

struct prof_trace {
    /* The fields that most functions use come first, because their offsets fit into one byte of an instruction. */
    prof__read_chunk *chunks;
    prof__read_site *sites; /* distinct call sites; [0] stands for lost events */
    prof__read_track *tracks;
    size_t track_count;
    const char **names; /* distinct texts; [0] is "" */
    uint32_t *strings; /* from string id to index in names */
    uint32_t *site_ids; /* from call site id to index in sites, or PROF__NONE32 */
    prof__read_segment *segments;
    prof__read_line *lines;
    size_t line_count;
    prof__read_device_record *device_records;
    uint64_t *image; /* owned */
    FILE *file;      /* owned: the file with the archive; NULL: no archive, or it follows the image in memory */
    uint64_t base;   /* where the image begins in the file */
    int paged;       /* 1: the chunks are not in memory but only in file */
    unsigned word_bits; /* how many low bits of an event's id are the word's number */
    uint64_t size;   /* bytes of the file, or of the memory at image */
    prof__read_cross_segment *cross_segments;
    prof__header header;
    /* Owned; with PROF_STATS: the final statistics, which there are in place of events. */
    struct prof__stat_row *aggregated;
    size_t aggregated_count;
    /* Owned; for each track: statistics count only what ended after this time; NULL: they count everything. */
    int64_t *since;
    prof_trace_info info;
    char file_name[128]; /* what info.file is */
    size_t chunk_words;
    int partial;        /* 1: older chunks are missing */
    uint64_t keys[PROF__READ_KEYS]; /* keys of prof__read_mark() */
    int has_spans;      /* 1: some track has an event of a span */
    int has_logs;       /* 1: some track has a log message, or a name that is a format */
    uint64_t begins_missing, ends_missing; /* with PROF_STATS: spans whose begin or end is missing */
    prof__uses uses;    /* with PROF_STATS */
    int64_t newest_ns;  /* the latest time at which open scopes are known to have been open */
    size_t chunk_count, chunk_capacity;
    prof__read_index sequences; /* from sequence number to chunk */
    prof__read_buffer buffer;   /* only while the trace is made */
    prof__pair *pairs;          /* only while the trace is made: the clock pairs */
    size_t pair_count, pair_capacity;
    uint64_t pair_ns;           /* the minimum distance of kept clock pairs in ns; 0: all are kept */
    uint64_t reached;           /* the largest tick in chunks in which the counter was reset */
    uint64_t behind;               /* ticks of a millisecond; a counter that goes back by more than that was reset */
    /* Ticks per second as the start of the session measured it (PROF__META_RATE); 0: unknown. */
    uint64_t start_hz;
    prof__read_gap *gaps;
    size_t gap_count, gap_capacity;
    prof__read_epoch *epochs;   /* only while the trace is made; [0] is the start of the session */
    size_t epoch_count, epoch_capacity;
    /* Only while the trace is made: the newest clock pair of a chunk, with its corrected tick. */
    prof__pair latest;
    prof__segment_summary *segment_summaries; /* only while the trace is made */
    size_t segment_summary_count, segment_summary_capacity;
    prof__read_half *halves;      /* only while the trace is made */
    size_t half_count, half_capacity;
    size_t name_count, name_capacity;
    prof__read_index name_index;
    size_t string_count;
    struct {
        const char *key, *value; /* names */
    } *metadata;
    size_t metadata_count, metadata_capacity;
    prof__read_index metadata_index;
    struct {
        uint64_t track;
        uint32_t name; /* id of a string in meta */
    } *threads; /* names that the system gave threads after their tracks had begun */
    size_t thread_count, thread_capacity;
    prof__read_index thread_index;
    size_t site_count, site_capacity;
    prof__read_index site_index;
    size_t site_id_count;
    prof__read_unknown *unknown;
    size_t unknown_count, unknown_capacity;
    prof__read_index unknown_index;
    char **texts; /* owned: names made for unknown call sites and for rows of tracks */
    size_t text_count, text_capacity;
    prof__symbols symbols; /* symbols of the modules whose functions were recorded by address */
    size_t segment_count, segment_capacity;
    size_t cross_segment_count, cross_segment_capacity;
    prof__read_exception *exceptions;
    size_t exception_count, exception_capacity;
    prof__read_late_begin *late_begins;
    prof__read_late_end *late_ends;
    size_t late_begin_count, late_begin_capacity, late_end_count, late_end_capacity;
    prof__read_unmatched_end *unmatched_ends;
    size_t unmatched_end_count, unmatched_end_capacity;
    prof__read_link *links;
    size_t link_count, link_capacity;
    uint64_t *kept;
    size_t kept_count, kept_capacity;
    size_t device_record_count, device_record_capacity;
    prof__read_device *devices;
    size_t device_count, device_capacity;
    prof__read_row *rows;
    size_t row_count, row_capacity;
    double clock_rate; /* how much faster the clock runs by which it is aligned: see >>aligning */
    int64_t clock_ahead, shift_ns; /* clock_ahead: of that clock, when the session began */
    int corrected; /* 1: these two are known; 0: they are 0 */
    prof__read_pairing *pairings;
    size_t pairing_count, pairing_capacity;
    prof__read_switches *switches; /* only while the trace is made, as the next ones */
    size_t switches_count, switches_capacity;
    prof__read_switch *switch_items;
    size_t switch_count, switch_capacity;
    prof__read_delay *delays;
    size_t delay_count, delay_capacity;
    prof__read_fault *faults; /* by time */
    size_t fault_count, fault_capacity;
    prof__read_unplaced *unplaced; /* by thread and time */
    size_t unplaced_count, unplaced_capacity;
    prof_state *states; /* of all threads, one after the other */
    unsigned char *state_marks; /* PROF__STATE_SWITCHED, _MOVED: of each state */
    size_t state_count, state_capacity, state_mark_capacity;
    prof__read_sum *sums; /* of all states before each PROF__STATE_STEP-th one */
    prof_sample *samples; /* of threads with a track, by thread and time; then of those without */
    size_t sample_count, trackless; /* trackless: the index of the first one of a thread without a track */
    uint64_t *frames; /* of all chains */
    size_t frame_count, frame_capacity;
    prof__read_chain *chains; /* distinct ones; only while the trace is made, as the next ones */
    size_t chain_count, chain_capacity;
    prof__read_index chain_index;
    prof__read_sample *sample_items;
    size_t sample_item_count, sample_item_capacity;
    prof_module *modules;
    size_t module_count, module_capacity;
    void (*step)(void *user, double share); /* the function of prof_trace_set_progress() */
    void *step_user;
};

/* Converts a count to a double. Not inlined, because most processors have no instruction for it and it takes 40 bytes
   of code; only rare functions use it. */
static double prof__real(uint64_t value) { return (double)value; }

/*-- the clock --*/

/* Sets a line's slope, ns per tick, as factor / 2^shift, rounded down. */
static void prof__read_slope(prof__read_line *line, uint64_t ticks, uint64_t ns)
{
    uint64_t factor = ns / ticks, rest = ns % ticks;
    unsigned shift = 0;
    while (shift < 64 && factor < (uint64_t)1 << 62) {
        int carry = rest >= ticks - rest;
        rest = carry ? rest - (ticks - rest) : rest + rest;
        factor = factor * 2 + (uint64_t)carry;
        shift++;
    }
    line->factor = factor;
    line->shift = shift;
}

/* Returns the lower 64 bits of a * b. *high: the upper 64 bits. */
static inline uint64_t prof__product_of(uint64_t a, uint64_t b, uint64_t *high)
{
#ifdef __SIZEOF_INT128__
    __extension__ typedef unsigned __int128 prof__product;
    prof__product product = (prof__product)a * b;
    *high = (uint64_t)(product >> 64);
    return (uint64_t)product;
#else
    uint64_t upper = a >> 32, lower = a & 0xFFFFFFFFu, c = b >> 32, d = b & 0xFFFFFFFFu;
    uint64_t low = lower * d, middle = upper * d + (low >> 32), cross = lower * c + (middle & 0xFFFFFFFFu);
    *high = upper * c + (middle >> 32) + (cross >> 32);
    return cross << 32 | (low & 0xFFFFFFFFu);
#endif
}

/* Returns value * factor / 2^shift, rounded to the nearest, at most PROF__FAR_NS. */
static inline int64_t prof__read_scale(uint64_t value, uint64_t factor, unsigned shift)
{
#ifdef __SIZEOF_INT128__
    /* A product is at most 2^128 - 2^65 + 1, so adding a half cannot overflow. */
    __extension__ typedef unsigned __int128 prof__product;
    prof__product product = (prof__product)value * factor + (shift ? (uint64_t)1 << (shift - 1) : 0),
                  result = product >> shift;
    return result < (uint64_t)PROF__FAR_NS ? (int64_t)result : PROF__FAR_NS;
#else
    uint64_t high, half = shift ? (uint64_t)1 << (shift - 1) : 0, result;
    uint64_t low = prof__product_of(value, factor, &high) + half;
    high += low < half; /* cannot overflow: a product of two 64-bit numbers is at most 2^128 - 2^65 + 1 */
    if (shift == 64)
        result = high;
    else if (shift == 0)
        result = high ? ~(uint64_t)0 : low;
    else
        result = high >> shift ? ~(uint64_t)0 : high << (64 - shift) | low >> shift;
    return result < (uint64_t)PROF__FAR_NS ? (int64_t)result : PROF__FAR_NS;
#endif
}

/* Returns the index of the last line that begins at or before tick, or of the first line. */
static size_t prof__read_line_of(const prof__read_line *lines, size_t count, uint64_t tick)
{
    size_t low = 0, high = count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (lines[middle].tick <= tick)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Converts a tick to nanoseconds by sorted lines. hint: index of the line that was found last, kept from call to
   call. */
static int64_t prof__read_on_lines(const prof__read_line *lines, size_t count, uint64_t tick, size_t *hint)
{
    const prof__read_line *line = lines + *hint;
    int64_t ns;
    if (PROF__UNLIKELY(tick < line->tick || (*hint + 1 < count && tick >= line[1].tick)))
        line = lines + (*hint = prof__read_line_of(lines, count, tick));
    ns = prof__read_scale(tick >= line->tick ? tick - line->tick : line->tick - tick, line->factor, line->shift);
    ns = PROF__LIKELY(tick >= line->tick) ? line->ns + ns : line->ns - ns;
    return ns < PROF__FAR_NS ? ns : PROF__FAR_NS;
}

/* Returns the nanoseconds from the session's start to a tick, at least 0. */
static PROF__NOINLINE int64_t prof__read_ns(const prof_trace *trace, uint64_t tick, size_t *hint)
{
    int64_t ns = prof__read_on_lines(trace->lines, trace->line_count, tick, hint);
    return ns < 0 ? 0 : ns;
}

/* The line that was found last, prepared for many ticks in order. While tick - from < span, prof__read_fast_ns() gives
   the same result as prof__read_ns() with a single multiplication. All zero at first. */
typedef struct prof__read_fast {
    uint64_t from, span, factor;
    int64_t ns;
    unsigned up;
} prof__read_fast;

/* Returns the result of prof__read_ns(), and prepares the line in *fast. */
static PROF__NOINLINE int64_t prof__read_fast_find(const prof_trace *trace, uint64_t tick, size_t *hint,
                                                   prof__read_fast *fast)
{
    int64_t ns = prof__read_ns(trace, tick, hint);
#ifdef __SIZEOF_INT128__
    /* The factor is below 2^63 and the shift at least 43, so results stay below PROF__FAR_NS. */
    const uint64_t max = (uint64_t)1 << 40;
    const prof__read_line *line = trace->lines + *hint;
    fast->from = line->tick;
    fast->factor = line->factor;
    fast->ns = line->ns;
    fast->up = 64 - line->shift;
    fast->span = (*hint + 1 < trace->line_count ? line[1].tick : ~(uint64_t)0) - line->tick;
    if (fast->span > max) fast->span = max;
    if (line->shift < 43 || line->shift > 64 || line->ns < 0 || line->ns > PROF__FAR_NS / 4) fast->span = 0;
#else
    (void)fast;
#endif
    return ns;
}

/* Returns the result of prof__read_ns(), for a tick inside the span of *fast. */
static inline int64_t prof__read_fast_ns(const prof__read_fast *fast, uint64_t tick)
{
#ifdef __SIZEOF_INT128__
    {
        __extension__ typedef unsigned __int128 prof__product;
        prof__product at = (prof__product)(uint64_t)fast->ns << 64 | (uint64_t)1 << 63; /* adds a half, to round */
        return (int64_t)(uint64_t)((at + (prof__product)((tick - fast->from) << fast->up) * fast->factor) >> 64);
    }
#else
    (void)tick;
    return fast->ns; /* never called, because span is 0 */
#endif
}

/* Converts a duration of the machine's clock to one of the clock by which the trace is aligned: see >>aligning. */
static int64_t prof__read_corrected(const prof_trace *trace, int64_t ns)
{
    return trace->clock_rate > 0 || trace->clock_rate < 0 ? ns + (int64_t)(trace->clock_rate * (double)ns) : ns;
}

/* Returns the nanoseconds from the session's start to a time of CLOCK_MONOTONIC, including the gaps in which that clock
   stood still. */
static int64_t prof__read_since(const prof_trace *trace, uint64_t monotonic_ns)
{
    uint64_t from = trace->header.first.monotonic_ns,
             ns = monotonic_ns >= from ? monotonic_ns - from : from - monotonic_ns;
    int64_t limited = ns < (uint64_t)PROF__FAR_NS ? (int64_t)ns : PROF__FAR_NS;
    size_t i;
    if (monotonic_ns < from) return -prof__read_corrected(trace, limited);
    for (i = 0; i < trace->gap_count; i++)
        if (monotonic_ns >= trace->gaps[i].monotonic_ns && trace->gaps[i].added_ns < PROF__FAR_NS - limited)
            limited += trace->gaps[i].added_ns;
    return prof__read_corrected(trace, limited);
}

static int prof__read_pair_order(const void *a, const void *b)
{
    const prof__pair *x = (const prof__pair *)a, *y = (const prof__pair *)b;
    if (x->tick != y->tick) return x->tick < y->tick ? -1 : 1;
    return x->width < y->width ? -1 : x->width > y->width;
}

static int prof__read_width_order(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Drops clock pairs whose two clocks were read too far apart, because the thread was interrupted in between: more than
   four times as long as usual. Keeps all if fewer than two would be left. Returns how many are left. */
static size_t prof__read_drop_wide(prof__pair *pairs, size_t count, uint64_t *widths)
{
    uint64_t limit;
    size_t i, kept = 0;
    for (i = 0; i < count; i++) widths[i] = pairs[i].width;
    qsort(widths, count, sizeof *widths, prof__read_width_order);
    limit = widths[count / 2] < (uint64_t)1 << 60 ? widths[count / 2] * 4 + 100 : ~(uint64_t)0;
    for (i = 0; i < count; i++) kept += pairs[i].width <= limit;
    if (kept < 2 || kept == count) return count;
    for (i = kept = 0; i < count; i++)
        if (pairs[i].width <= limit) pairs[kept++] = pairs[i];
    return kept;
}

/* Returns 1 if both clocks go forward from a to b, the system's by at least ns nanoseconds. */
static int prof__read_apart(const prof__pair *a, const prof__pair *b, uint64_t ns)
{
    return b->tick > a->tick && b->monotonic_ns > a->monotonic_ns && b->monotonic_ns - a->monotonic_ns >= ns;
}

/* Drops sorted pairs in which a clock does not go forward, or that are less than a millisecond after the previous one:
   over a shorter time, errors of reading are larger than differences of the clocks. Returns how many are left. */
static size_t prof__read_thin(prof__pair *pairs, size_t count)
{
    size_t i, kept = 1;
    for (i = 1; i < count; i++) {
        prof__pair pair = pairs[i];
        if (prof__read_apart(&pairs[kept - 1], &pair, 1000000))
            pairs[kept++] = pair;
        else if (kept > 1 && pair.width < pairs[kept - 1].width && prof__read_apart(&pairs[kept - 2], &pair, 1000000))
            pairs[kept - 1] = pair; /* the pair that was read faster is more exact */
        else if (kept == 1 && i + 1 == count && prof__read_apart(&pairs[0], &pair, 1))
            pairs[kept++] = pair; /* a short session has no better pair */
    }
    return kept;
}

static int prof__read_slope_order(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Returns ticks per second while the machine was not suspended: the median over the intervals between pairs. With few
   pairs, what the start of the session measured is better, or what the processor states. 0: unknown. */
static double prof__read_usual_rate(const prof_trace *trace, const prof__pair *pairs, size_t count)
{
    double *rates = count > 3 ? (double *)malloc(count * sizeof *rates) : NULL, rate = 0;
    size_t i, kept = 0;
    for (i = 1; rates && i < count; i++) {
        uint64_t ns = pairs[i].monotonic_ns - pairs[i - 1].monotonic_ns;
        if (ns >= 10000000) rates[kept++] = prof__real(pairs[i].tick - pairs[i - 1].tick) * 1e9 / prof__real(ns);
    }
    if (kept >= 3) {
        qsort(rates, kept, sizeof *rates, prof__read_slope_order);
        rate = rates[kept / 2];
    }
    free(rates);
    if (rate > 0) return rate;
    return prof__real(trace->start_hz ? trace->start_hz : trace->header.tick_hz);
}

#define PROF__GAPS 256 /* with more gaps, the clock has no usual rate, and none of them is real */
/* Ns; a shorter difference may come from setting the clock, or from a thread that waited. */
#define PROF__GAP_LEAST 20e6

/* Returns 1 and sets *gap if there is a gap between two pairs: the counter and CLOCK_MONOTONIC differ by more than an
   eighth, or the counter and Unix time both differ from CLOCK_MONOTONIC by nearly the same time. Returns 0 if there is
   none. */
static int prof__read_gap_between(const prof__pair *a, const prof__pair *b, double rate, prof__read_gap *gap)
{
    double ns = prof__real(b->monotonic_ns - a->monotonic_ns), wanted = prof__real(b->tick - a->tick) * 1e9 / rate;
    double missing = wanted - ns, more = b->unix_ns > a->unix_ns ? prof__real(b->unix_ns - a->unix_ns) - ns : 0;
    /* An interrupted reading can be wrong by as much as it took. */
    double least = PROF__GAP_LEAST + (prof__real(a->width) + prof__real(b->width)) * 1e9 / rate;
    int agree = more > least && missing > more * 7 / 8 && missing < more * 9 / 8;
    if (!(wanted < 1e18 && ns < 1e18)) return 0; /* more than 30 years: the file is damaged */
    if (!(missing > least + wanted / 8 || -missing > least + ns / 8 || agree)) return 0;
    memset(gap, 0, sizeof *gap);
    gap->from = a->tick;
    gap->to = b->tick;
    gap->monotonic_ns = b->monotonic_ns;
    if (missing > 0) gap->added_ns = (int64_t)(agree ? more : missing);
    gap->ns = missing > 0 ? gap->added_ns : (int64_t)-missing;
    return 1;
}

/* Sets a line's slope to the usual rate if the counter stood still at the end of the interval that the line covers. */
static void prof__read_stopped(const prof_trace *trace, prof__read_line *line, uint64_t ticks, double rate)
{
    double ns = prof__real(ticks) * 1e9 / rate;
    size_t i;
    for (i = 0; i < trace->gap_count; i++)
        if (trace->gaps[i].from == line->tick && !trace->gaps[i].added_ns && !trace->gaps[i].restarts && ns < 1e18)
            prof__read_slope(line, ticks, ns >= 1 ? (uint64_t)ns : 1);
}

/* Makes the lines from pairs that are sorted and thinned out. */
static void prof__read_lines(prof_trace *trace, const prof__pair *pairs, size_t count)
{
    const prof__header *header = &trace->header;
    const prof__pair *first = &pairs[0], *last = &pairs[count - 1];
    uint64_t ns = last->monotonic_ns - first->monotonic_ns;
    uint64_t hz = header->tick_hz && header->tick_hz <= (uint64_t)1 << 50 ? header->tick_hz : 0;
    uint64_t second = (uint64_t)prof__read_corrected(trace, 1000000000);
    double measured, rate = 0;
    size_t i, gaps = trace->gap_count;
    if (header->clock != PROF_CLOCK_MONOTONIC) rate = prof__read_usual_rate(trace, pairs, count);
    for (i = 0; i < count; i++) {
        prof__read_gap gap;
        trace->lines[i].tick = pairs[i].tick;
        if (i && rate > 0 && trace->gap_count < PROF__GAPS &&
            prof__read_gap_between(&pairs[i - 1], &pairs[i], rate, &gap) &&
            PROF__ROOM(trace->gaps, trace->gap_capacity, trace->gap_count))
            trace->gaps[trace->gap_count++] = gap;
        trace->lines[i].ns = prof__read_since(trace, pairs[i].monotonic_ns);
    }
    gaps = trace->gap_count - gaps;
    /* A stated rate is better than one that is measured over less than 10 ms. CLOCK_MONOTONIC has exactly its stated
       rate. */
    if (count < 2 || (hz && ((ns < 10000000 && !gaps) || header->clock == PROF_CLOCK_MONOTONIC))) {
        trace->line_count = 1;
        trace->info.tick_hz = hz;
        prof__read_slope(&trace->lines[0], hz ? hz : 1000000000u, second);
        return;
    }
    trace->line_count = count;
    for (i = 0; i + 1 < count; i++) {
        uint64_t ticks = pairs[i + 1].tick - pairs[i].tick;
        int64_t took = trace->lines[i + 1].ns - trace->lines[i].ns;
        prof__read_slope(&trace->lines[i], ticks, took > 0 ? (uint64_t)took : 1);
        prof__read_stopped(trace, &trace->lines[i], ticks, rate);
    }
    measured = gaps ? rate : prof__real(last->tick - pairs[0].tick) * 1e9 / prof__real(ns);
    trace->info.tick_hz = measured < 1e18 ? (uint64_t)(measured + 0.5) : (uint64_t)1000000000000000000;
    /* Beyond the last pair, the newest slope counts if it covers a second, else the slope of the whole session. */
    if (gaps) {
        prof__read_slope(&trace->lines[count - 1], trace->info.tick_hz ? trace->info.tick_hz : 1, second);
        return;
    }
    if (count > 2 && last->monotonic_ns - pairs[count - 2].monotonic_ns >= 1000000000u)
        first = &pairs[count - 2];
    ns = last->monotonic_ns - first->monotonic_ns;
    if (ns < (uint64_t)PROF__FAR_NS) ns = (uint64_t)prof__read_corrected(trace, (int64_t)ns);
    prof__read_slope(&trace->lines[count - 1], last->tick - first->tick, ns);
}

/* Makes a trace's lines from its clock pairs. now: a pair that the reader has taken from the same clocks, or NULL.
   Returns 0 if there is no memory. */
static int prof__read_clock(prof_trace *trace, const prof__pair *now)
{
    const prof__header *header = &trace->header;
    size_t room = trace->pair_count + 3, count = 0, i;
    prof__pair *pairs = (prof__pair *)malloc(room * sizeof *pairs);
    uint64_t *widths = (uint64_t *)malloc(room * sizeof *widths);
    trace->lines = (prof__read_line *)calloc(room, sizeof *trace->lines);
    if (pairs && widths && trace->lines) {
        pairs[count++] = header->first;
        for (i = 0; i < trace->pair_count; i++) pairs[count++] = trace->pairs[i];
        if (header->last.monotonic_ns > header->first.monotonic_ns) pairs[count++] = header->last;
        if (now) pairs[count++] = *now;
        count = prof__read_drop_wide(pairs, count, widths);
        qsort(pairs, count, sizeof *pairs, prof__read_pair_order);
        count = prof__read_thin(pairs, count);
        prof__read_lines(trace, pairs, count);
    }
    i = pairs && widths && trace->lines;
    free(pairs);
    free(widths);
    free(trace->pairs);
    trace->pairs = NULL;
    trace->pair_count = trace->pair_capacity = 0;
    return (int)i;
}

/*-- names and call sites --*/

static int prof__read_same_name(const void *owner, size_t item, const void *key)
{
    const prof_trace *trace = (const prof_trace *)owner;
    return !strcmp(trace->names[item], (const char *)key);
}

/* Returns the index in names of a text, which must live as long as the trace, or PROF__NONE if there is no memory. */
static size_t prof__read_name(prof_trace *trace, const char *text)
{
    uint32_t hash = prof__text_hash(text);
    size_t item = prof__read_find(&trace->name_index, hash, prof__read_same_name, trace, text);
    if (item != PROF__NONE) return item;
    item = PROF__NEW(trace->name_index, hash, trace->names, trace->name_capacity, trace->name_count);
    if (item != PROF__NONE) trace->names[item] = text;
    return item;
}

static int prof__read_same_site(const void *owner, size_t item, const void *key)
{
    const prof__read_site *site = &((const prof_trace *)owner)->sites[item], *wanted = (const prof__read_site *)key;
    const prof_callsite *a = &site->about, *b = &wanted->about;
    return site->caller == wanted->caller && a->name == b->name && a->category == b->category && a->file == b->file &&
           a->function == b->function && a->line == b->line && a->color == b->color && a->level == b->level &&
           a->kind == b->kind && a->role == b->role && a->unit == b->unit;
}

/* Returns the index in sites of a call site, whose texts are names of the trace, or PROF__NONE if there is no
   memory. */
static size_t prof__read_site_number(prof_trace *trace, const prof__read_site *site)
{
    const prof_callsite *about = &site->about;
    uint64_t texts =
        PROF__ADDRESS(about->file) + 3 * PROF__ADDRESS(about->category) + 5 * PROF__ADDRESS(about->function);
    uint32_t hash = (uint32_t)prof__mix(site->name * 31u + ((uint64_t)about->line << 32) + texts +
                                        about->color * (uint64_t)0x9E3779B1u + about->kind +
                                        site->caller * (uint64_t)0x85EBCA77u);
    size_t item = prof__read_find(&trace->site_index, hash, prof__read_same_site, trace, site);
    if (item != PROF__NONE) return item;
    item = PROF__NEW(trace->site_index, hash, trace->sites, trace->site_capacity, trace->site_count);
    if (item != PROF__NONE) trace->sites[item] = *site;
    return item;
}

static int prof__read_same_unknown(const void *owner, size_t item, const void *key)
{
    return ((const prof_trace *)owner)->unknown[item].id == *(const uint32_t *)key;
}

/* Returns the index of the site that stands for a call site id missing in meta, or PROF__NONE for an id that no record
   had. */
static size_t prof__read_unknown_site(const prof_trace *trace, uint32_t id)
{
    size_t item = prof__read_find(&trace->unknown_index, (uint32_t)prof__mix(id), prof__read_same_unknown, trace, &id);
    return item == PROF__NONE ? PROF__NONE : trace->unknown[item].site;
}

/* Returns the index in sites for a call site id, or PROF__NONE for an id that no record had. */
static inline size_t prof__read_site_of(const prof_trace *trace, uint32_t id)
{
    if (PROF__LIKELY(id < trace->site_id_count && trace->site_ids[id] != PROF__NONE32)) return trace->site_ids[id];
    return prof__read_unknown_site(trace, id);
}

/* Joins two texts to one that lives as long as the trace. Returns NULL if there is no memory. */
static const char *prof__read_text(prof_trace *trace, const char *text, const char *more)
{
    char *copy = prof__text_join(text, more);
    char **kept = copy ? (char **)PROF__MORE(trace->texts, trace->text_capacity, trace->text_count) : NULL;
    if (kept) return *kept = copy;
    free(copy);
    return NULL;
}

/* Makes a call site that has only a name, a copy of text. Returns its index, or PROF__NONE if there is no memory. */
static size_t prof__read_make_site(prof_trace *trace, const char *text, uint32_t kind)
{
    prof__read_site site;
    size_t name;
    text = prof__read_text(trace, text, "");
    name = text ? prof__read_name(trace, text) : PROF__NONE;
    if (name == PROF__NONE) return PROF__NONE;
    memset(&site, 0, sizeof site);
    site.name = (uint32_t)name;
    site.about.name = trace->names[name];
    site.about.category = site.about.file = site.about.function = site.about.unit = trace->names[0];
    site.about.kind = kind;
    return prof__read_site_number(trace, &site);
}

/* Makes a site such as "?site 12" for a call site id missing in meta. Returns 0 if there is no memory. */
static int prof__read_invent_site(prof_trace *trace, uint32_t id, uint32_t kind)
{
    char text[32] = "?site ";
    size_t site, item;
    text[6 + prof__digits(text + 6, id)] = 0;
    site = prof__read_make_site(trace, text, kind);
    if (site == PROF__NONE) return 0;
    item = PROF__NEW(trace->unknown_index, (uint32_t)prof__mix(id), trace->unknown, trace->unknown_capacity,
                     trace->unknown_count);
    if (item == PROF__NONE) return 0;
    trace->unknown[item].id = id;
    trace->unknown[item].site = (uint32_t)site;
    return 1;
}

/* Makes sure that a call site id has a site. Returns 0 if there is no memory. */
static inline int prof__read_know_site(prof_trace *trace, uint32_t id, uint32_t kind)
{
    return prof__read_site_of(trace, id) != PROF__NONE || prof__read_invent_site(trace, id, kind);
}

/* Returns the number of a call site, which is its index in sites, or PROF__NONE if the trace does not have it. */
static inline size_t prof__site_number(const prof_trace *trace, const prof_callsite *site)
{
    size_t number = (size_t)(PROF__ADDRESS(site) - PROF__ADDRESS(trace->sites)) / sizeof *trace->sites;
    return number < trace->site_count ? number : PROF__NONE;
}

static size_t prof__site_count(const prof_trace *trace) { return trace->site_count; }

static size_t prof__read_string_name(const prof_trace *trace, uint64_t id)
{
    return id < trace->string_count ? trace->strings[id] : 0;
}

/* Returns the length in words of the meta record at words[at], or 0 after the last record. A first word with a length
   but no kind belongs to a record that a thread has reserved and not written yet. */
static size_t prof__read_meta_words(const uint64_t *words, size_t at, size_t count)
{
    size_t length;
    if (at >= count) return 0;
    length = (size_t)(words[at] >> 32 & 0xFFFFFF);
    return length <= count - at ? length : 0;
}

/* Names a function that was recorded by its address, if the symbols of its module can be read. Returns 0 if there is no
   memory. */
static int prof__read_symbol(prof_trace *trace, prof__read_site *site)
{
    const prof__symbol *symbol =
        prof__symbol_find(&trace->symbols, site->about.name, site->about.file, site->about.function);
    size_t name, file = 0;
    if (!symbol) return 1;
    name = prof__read_name(trace, symbol->name);
    if (symbol->file) file = prof__read_name(trace, symbol->file);
    if (name == PROF__NONE || file == PROF__NONE) return 0;
    site->name = (uint32_t)name;
    site->about.name = site->about.function = trace->names[name];
    if (symbol->file) site->about.file = trace->names[file];
    return 1;
}

static int prof__read_same_key(const void *owner, size_t item, const void *key)
{
    return ((const prof_trace *)owner)->metadata[item].key == (const char *)key;
}

/* Adds a pair of metadata: a key and, after it, a value, up to end, where the last byte is zero. An empty key removes
   all pairs before it. Returns 0 if there is no memory. */
static int prof__read_metadata(prof_trace *trace, const char *key, const char *end)
{
    const char *value = key + strlen(key) + 1;
    size_t at, names[2];
    uint32_t hash;
    if (!*key) {
        trace->metadata_count = 0;
        free(trace->metadata_index.slots);
        memset(&trace->metadata_index, 0, sizeof trace->metadata_index);
        return 1;
    }
    names[0] = prof__read_name(trace, key);
    names[1] = prof__read_name(trace, value < end ? value : "");
    if (names[0] == PROF__NONE || names[1] == PROF__NONE) return 0;
    key = trace->names[names[0]];
    hash = (uint32_t)prof__mix(PROF__ADDRESS(key));
    at = prof__read_find(&trace->metadata_index, hash, prof__read_same_key, trace, key);
    if (at == PROF__NONE)
        at = PROF__NEW(trace->metadata_index, hash, trace->metadata, trace->metadata_capacity, trace->metadata_count);
    if (at == PROF__NONE) return 0;
    trace->metadata[at].key = key;
    trace->metadata[at].value = trace->names[names[1]];
    return 1;
}

static int prof__trace_pair(const prof_trace *trace, size_t index, const char **key, const char **value)
{
    int there = trace && index < trace->metadata_count;
    if (key) *key = there ? trace->metadata[index].key : NULL;
    if (value) *value = there ? trace->metadata[index].value : NULL;
    return there;
}

static int prof__read_same_thread(const void *owner, size_t item, const void *key)
{
    return ((const prof_trace *)owner)->threads[item].track == *(const uint64_t *)key;
}

/* Returns the string id of the newest name that the system gave the thread of a track, or 0. */
static uint32_t prof__read_thread_name(const prof_trace *trace, uint64_t track)
{
    uint32_t hash = (uint32_t)prof__mix(track);
    size_t at = prof__read_find(&trace->thread_index, hash, prof__read_same_thread, trace, &track);
    return at == PROF__NONE ? 0 : trace->threads[at].name;
}

/* Stores a name that the system gave the thread of a track. Returns 0 if there is no memory. */
static int prof__read_thread(prof_trace *trace, uint64_t track, uint32_t name)
{
    uint32_t hash = (uint32_t)prof__mix(track);
    size_t at = prof__read_find(&trace->thread_index, hash, prof__read_same_thread, trace, &track);
    if (at == PROF__NONE)
        at = PROF__NEW(trace->thread_index, hash, trace->threads, trace->thread_capacity, trace->thread_count);
    if (at == PROF__NONE) return 0;
    trace->threads[at].track = track;
    trace->threads[at].name = name;
    return 1;
}

PROF_DEF int prof_trace_metadata(const prof_trace *trace, size_t index, const char **key, const char **value)
{
    return prof__trace_pair(trace, index, key, value);
}

static const char *prof__trace_said(const prof_trace *trace, const char *what)
{
    const char *key, *value;
    for (size_t i = 0; prof__trace_pair(trace, i, &key, &value); i++)
        if (!strcmp(key, what)) return value;
    return "";
}

/* Terminates a text that takes this many words. Keeps at most its first 1023 bytes, and cuts between UTF-8
   characters. */
static void prof__read_shorten(char *text, size_t words)
{
    size_t most = PROF__TEXT_WORDS * 8 - 1;
    text[words > PROF__TEXT_WORDS ? prof__utf8_cut(text, most) : words * 8 - 1] = 0;
}

/* Counts a lost block if a part of meta is missing from this word on. It is missing if words follow after many zeros,
   or if a recording that has ended states that meta has more. */
static void prof__read_meta_end(prof_trace *trace, const uint64_t *words, size_t at, size_t count)
{
    const prof__header *h = &trace->header;
    size_t used = h->meta_used < h->meta_size ? (size_t)h->meta_used / 8 : count, zeros = 0;
    while (at + zeros < used && !words[at + zeros]) zeros++;
    if (zeros && (at + zeros < used ? zeros >= PROF__HOLE_WORDS : h->state == PROF__STOPPED && !h->copy_tick))
        trace->info.lost_blocks++;
}

/* Adds a module to the list, unless it has no addresses. Returns 0 if there is no memory. */
static int prof__read_module(prof_trace *trace, const uint64_t *field)
{
    if (field[1] <= field[0]) return 1;
    prof_module *module = (prof_module *)PROF__MORE(trace->modules, trace->module_capacity, trace->module_count);
    if (!module) return 0;
    module->start = field[0];
    module->end = field[1];
    module->file_offset = field[2];
    module->from_ns = (int64_t)field[3]; /* as the image has it: see prof__modules_time() */
    module->path = trace->names[prof__read_string_name(trace, field[4] & 0xFFFFFFFFu)];
    module->build_id = trace->names[prof__read_string_name(trace, field[4] >> 32)];
    return 1;
}

/* Returns the index in sites of the call site with an id that was read before, or 0. So no function calls itself. */
static uint32_t prof__read_caller(const prof_trace *trace, uint64_t id)
{
    uint32_t site = id < trace->site_id_count ? trace->site_ids[id] : PROF__NONE32;
    return site == PROF__NONE32 ? 0 : site;
}

/* Returns the call site of the function that called the function of a call site of this trace. NULL: not known. */
static const prof_callsite *prof__site_caller(const prof_trace *trace, const prof_callsite *site)
{
    uint32_t caller = ((const prof__read_site *)(const void *)site)->caller;
    return caller ? &trace->sites[caller].about : NULL;
}

/* Reads meta in three passes: finds the largest ids; reads strings, metadata and names of threads; reads call sites
   and modules, whose strings may come after them. Returns 0 if there is no memory. */
static int prof__read_meta(prof_trace *trace)
{
    uint64_t *words = trace->image + trace->header.meta_offset / 8;
    size_t count = (size_t)(trace->header.meta_size / 8), at, length;
    size_t strings = 0, sites = 0;
    for (at = 0; (length = prof__read_meta_words(words, at, count)) != 0; at += length) {
        size_t id = (size_t)(words[at] & 0xFFFFFFFFu);
        unsigned kind = (unsigned)(words[at] >> 56);
        if (id > count) continue; /* ids count the records, so an id cannot be larger than this */
        if (kind == PROF__META_STRING && length > 1 && id > strings) strings = id;
        if (kind == PROF__META_SITE && length >= PROF__META_SITE_WORDS && id > sites) sites = id;
    }
    prof__read_meta_end(trace, words, at, count);
    trace->string_count = strings + 1;
    trace->site_id_count = sites + 1;
    trace->strings = (uint32_t *)calloc(trace->string_count, sizeof *trace->strings);
    trace->site_ids = (uint32_t *)malloc(trace->site_id_count * sizeof *trace->site_ids);
    if (!trace->strings || !trace->site_ids) return 0;
    memset(trace->site_ids, 0xFF, trace->site_id_count * sizeof *trace->site_ids);
    if (prof__read_name(trace, "") == PROF__NONE || prof__read_make_site(trace, "lost", PROF__KIND_LOST) == PROF__NONE)
        return 0;
    for (at = 0; (length = prof__read_meta_words(words, at, count)) != 0; at += length) {
        size_t id = (size_t)(words[at] & 0xFFFFFFFFu), name;
        if (words[at] >> 56 == PROF__META_SESSION && length > 1) {
            ((char *)(words + at + length))[-1] = 0;
            if (!prof__read_metadata(trace, (const char *)(words + at + 1), (const char *)(words + at + length)))
                return 0;
        }
        if (words[at] >> 56 == PROF__META_RATE && length > 1) trace->start_hz = words[at + 1];
        if (words[at] >> 56 == PROF__META_THREAD && length > 1)
            if (!prof__read_thread(trace, words[at + 1], (uint32_t)id)) return 0;
        if (words[at] >> 56 != PROF__META_STRING || length < 2 || id > strings) continue;
        prof__read_shorten((char *)(words + at + 1), length - 1);
        name = prof__read_name(trace, (const char *)(words + at + 1));
        if (name == PROF__NONE) return 0;
        if (id) trace->strings[id] = (uint32_t)name;
    }
    for (at = 0; (length = prof__read_meta_words(words, at, count)) != 0; at += length) {
        size_t id = (size_t)(words[at] & 0xFFFFFFFFu), number;
        const uint64_t *field = words + at + 1;
        prof__read_site site;
        if (words[at] >> 56 == PROF__META_MODULE && length >= PROF__MODULE_WORDS && !prof__read_module(trace, field))
            return 0;
        if (words[at] >> 56 != PROF__META_SITE || length < PROF__META_SITE_WORDS || id > sites) continue;
        memset(&site, 0, sizeof site);
        site.name = (uint32_t)prof__read_string_name(trace, field[0] & 0xFFFFFFFFu);
        site.about.name = trace->names[site.name];
        site.about.file = trace->names[prof__read_string_name(trace, field[0] >> 32)];
        site.about.function = trace->names[prof__read_string_name(trace, field[1] & 0xFFFFFFFFu)];
        site.about.category = trace->names[prof__read_string_name(trace, field[1] >> 32)];
        site.about.unit =
            trace->names[length > PROF__META_SITE_WORDS ? prof__read_string_name(trace, field[4] & 0xFFFFFFFFu) : 0];
        if (length > PROF__META_SITE_WORDS) site.caller = prof__read_caller(trace, field[4] >> 32);
        site.about.line = (uint32_t)field[2];
        site.about.color = (uint32_t)(field[2] >> 32);
        site.about.level = (uint32_t)field[3];
        site.about.kind = (uint32_t)(field[3] >> 32) & ((1u << PROF__ROLE_SHIFT) - 1);
        site.about.role = (uint32_t)(field[3] >> 32) >> PROF__ROLE_SHIFT;
        if (!prof__read_symbol(trace, &site)) return 0;
        number = prof__read_site_number(trace, &site);
        if (number == PROF__NONE) return 0;
        trace->site_ids[id] = (uint32_t)number;
    }
    return 1;
}

#ifndef PROF_FREESTANDING
/*-- SUMMARY -------------------------------------------------------------------------------------------- >>summary --*/

#define PROF__NAME_MAX ((size_t)48)   /* characters of a name in a table's column */
#define PROF__INDENT_MAX ((size_t)24) /* spaces; deeper call paths are indented by this much */

static void prof__out_spaces(prof__out *out, size_t count)
{
    for (; count > PROF__OUT_RESERVE; count -= PROF__OUT_RESERVE) prof__out_spaces(out, PROF__OUT_RESERVE);
    memset(prof__out_reserve(out, count), ' ', count);
    prof__out_commit(out, count);
}

/* Writes count characters of a text, with "?" for control characters and bytes that are not UTF-8. Returns the text
   after them. */
static const char *prof__out_characters(prof__out *out, const char *text, size_t count)
{
    for (;;) {
        const char *next = text;
        while (count && *next >= ' ' && *next < 127) next++, count--; /* most texts have no others */
        prof__out_bytes(out, text, (size_t)(next - text));
        if (!count) return next;
        text = next;
        next = prof__next_character(text);
        if (prof__is_control(text) || !prof__utf8(text))
            prof__out_bytes(out, "?", 1);
        else
            prof__out_bytes(out, text, (size_t)(next - text));
        text = next;
        count--;
    }
}

/* Writes a text in exactly width characters, padded with spaces. A longer text loses its middle, because names often
   differ at their ends. */
static void prof__out_name(prof__out *out, const char *text, size_t width)
{
    size_t all = prof__characters(text), shown, tail, i;
    if (all <= width) {
        prof__out_characters(out, text, all);
        prof__out_spaces(out, width - all);
        return;
    }
    shown = width > 3 ? width - 3 : 0;
    tail = shown / 2;
    text = prof__out_characters(out, text, shown - tail);
    prof__out_text(out, &"..."[width < 3 ? 3 - width : 0]);
    for (i = all - (shown - tail); i > tail; i--) text = prof__next_character(text);
    prof__out_characters(out, text, tail);
}

/* Writes a whole text, with "?" for control characters. */
static void prof__out_clean(prof__out *out, const char *text)
{
    prof__out_characters(out, text, prof__characters(text));
}

/* Writes a text, wrapped at spaces. at: the column at which it begins; indent: spaces before each further line; limit:
   the width of lines, 0 for no limit. */
static void prof__out_wrapped(prof__out *out, const char *text, size_t at, size_t indent, size_t limit)
{
    for (;;) {
        size_t left = prof__characters(text), fits = 0, i;
        const char *c = text;
        for (i = 0; limit && at + left > limit && i + at <= limit && *c; i++, c = prof__next_character(c))
            if (*c == ' ') fits = i; /* the last space that fits into the line */
        if (!limit || at + left <= limit || !fits) {
            prof__out_characters(out, text, left);
            return;
        }
        text = prof__out_characters(out, text, fits) + 1;
        prof__out_text(out, "\n");
        prof__out_spaces(out, at = indent);
    }
}

static void prof__out_right(prof__out *out, const char *text, size_t width)
{
    size_t length = prof__characters(text);
    if (length < width) prof__out_spaces(out, width - length);
    prof__out_characters(out, text, length);
}

static void prof__out_ns(prof__out *out, double ns, size_t width)
{
    char text[48];
    prof__human_ns(text, ns);
    prof__out_right(out, text, width);
}

static void prof__out_count(prof__out *out, uint64_t count, size_t width)
{
    char text[32];
    prof__grouped(text, count);
    prof__out_right(out, text, width);
}

/* Writes a count and a noun in singular or plural: "1 event", "2 events". */
static void prof__out_many(prof__out *out, uint64_t count, const char *thing)
{
    prof__out_count(out, count, 0);
    prof__out_text(out, " ");
    prof__out_text(out, thing);
    if (count != 1) prof__out_text(out, "s");
}

/* Writes a count, a noun and a text about them, or nothing if count is 0. */
static void prof__out_note(prof__out *out, uint64_t count, const char *thing, const char *text)
{
    if (!count) return;
    prof__out_many(out, count, thing);
    prof__out_text(out, text);
}

/* Writes how many rows of a table were left out, or nothing if count is 0. */
static void prof__out_more(prof__out *out, uint64_t count)
{
    if (!count) return;
    prof__out_text(out, "and ");
    prof__out_count(out, count, 0);
    prof__out_text(out, " more\n");
}
#endif

#define PROF__SET_UNIT 512 /* bytes: headers and files begin at multiples of it */
#define PROF__SET_NAME 101

/* Where an image is: a file, or a part of one. */
typedef struct prof__image_place {
    FILE *file;
    uint64_t base, size; /* of the image with its archive, in the file */
    int in_set;
} prof__image_place;

/* Reads a number: octal, or binary if its first bit is 1. */
static uint64_t prof__set_number(const unsigned char *from, size_t size)
{
    int binary = *from & 0x80, bits = binary ? 8 : 3;
    uint64_t number = binary ? *from & 0x3Fu : 0;
    for (size_t i = (size_t)(binary != 0); i < size; i++) {
        if (!binary && (from[i] == ' ' || !from[i])) continue;
        number = number << bits | (binary ? from[i] : from[i] & 7u);
    }
    return number;
}

/* Returns 1 if these 512 bytes are the header of a file in a tar archive. */
static int prof__set_header(const unsigned char *head)
{
    uint64_t sum = 0;
    for (int i = 0; i < PROF__SET_UNIT; i++) sum += i >= 148 && i < 156 ? ' ' : head[i];
    return !memcmp(head + 257, "ustar", 5) && prof__set_number(head + 148, 8) == sum;
}

static int prof__is_set(FILE *file)
{
    unsigned char head[PROF__SET_UNIT];
    return prof__file_at(file, 0, head, sizeof head) && prof__set_header(head);
}

/* Finds the next recording from *at on, and moves *at behind it. Returns 0 after the last one, -1 where the file is
   damaged, or ends without the zeros that must be at its end. */
static int prof__set_next(FILE *file, uint64_t *at, char name[PROF__SET_NAME], uint64_t *base, uint64_t *size)
{
    unsigned char head[PROF__SET_UNIT];
    while (prof__file_at(file, *at, head, sizeof head)) {
        if (!prof__set_header(head)) {
            for (int i = 0; i < PROF__SET_UNIT; i++)
                if (head[i]) return -1;
            return 0;
        }
        *base = *at + PROF__SET_UNIT;
        *size = prof__set_number(head + 124, 12);
        if (*size >> 62) return -1;
        *at = *base + (*size + PROF__SET_UNIT - 1) / PROF__SET_UNIT * PROF__SET_UNIT;
        memcpy(name, head, PROF__SET_NAME - 1);
        name[PROF__SET_NAME - 1] = 0;
        if (!head[156] || head[156] == '0') return 1;
        if (!strchr("125gxKL", head[156])) return -1; /* a form that is not read here, such as a file with holes */
    }
    return -1;
}

/* Finds the recording that a path names which is no file itself. Returns 0 if no part of the path is a file of several;
   -1, with a message, if the recording is not in it. */
static int prof__set_find(const char *path, prof__image_place *place)
{
    char set[4096], name[PROF__SET_NAME];
    for (const char *end = strchr(path, '/'); end && (size_t)(end - path) < sizeof set; end = strchr(end + 1, '/')) {
        uint64_t at = 0;
        int found = 0;
        if (end == path) continue;
        prof__text_copy(set, (size_t)(end - path) + 1, path);
        FILE *file = prof__file_open(set, "rb");
        if (!file) continue;
        int several = prof__is_set(file);
        while (several && (found = prof__set_next(file, &at, name, &place->base, &place->size)) > 0)
            if (!strcmp(name, end + 1)) break;
        place->file = file;
        place->in_set = found > 0;
        if (found > 0) return 1;
        fclose(file);
        place->file = NULL;
        if (!several) continue;
        prof__fail(PROF_IO, "%s: holds no recording %s%s", set, end + 1, found ? ": it is damaged, or was cut" : "");
        return -1;
    }
    return 0;
}

/* Opens the file that an image is read from. */
static prof_status prof__image_open(const char *path, prof__image_place *place)
{
    memset(place, 0, sizeof *place);
    errno = 0;
    place->file = prof__file_open(path, "rb");
    if (!place->file) {
        int error = errno, found = prof__set_find(path, place);
        errno = error;
        if (!found) return prof__cannot("open", path, NULL);
        if (found < 0) return PROF_IO;
    }
    setvbuf(place->file, NULL, _IONBF, 0); /* unbuffered: reads must see what is in the file at that moment */
    if (place->in_set || !prof__is_set(place->file)) return PROF_OK;
    fclose(place->file);
    place->file = NULL;
    return prof__fail(PROF_INVALID_ARGUMENT, "%s: holds several recordings: name one of them, as in %s/NAME", path,
                      path);
}

/* Returns the end of the image and its archive in the file; place->base is the begin. Returns 0 on errors. */
static int prof__image_size(const prof__image_place *place, uint64_t *size)
{
    uint64_t whole;
    if (!prof__read_size(place->file, &whole)) return 0;
    if (!place->in_set)
        *size = whole;
    else
        *size = whole < place->base ? 0 : whole - place->base < place->size ? whole - place->base : place->size;
    return 1;
}

/*-- images of the other byte order --
   In this module, "turns" means: reverses the bytes of words or fields. An image consists of words, except for texts
   and the bytes of packed blocks, which are the same on all machines. For images in this machine's byte order, the
   module costs one comparison. */

#define PROF__BYTE_ORDER_TURNED 0x04030201u

/* Returns 1 if an image has the other byte order. image: at least its header must be there. */
static int prof__byteswap(const void *image)
{
    uint32_t order;
    memcpy(&order, (const char *)image + offsetof(prof__header, byte_order), sizeof order);
    return order == PROF__BYTE_ORDER_TURNED;
}

static void prof__turn(uint64_t *words, size_t count)
{
    size_t i;
    for (i = 0; i < count; i++) words[i] = PROF__SWAPPED(words[i]);
}

/* Turns the fields of a struct, each of size bytes (4 or 8), from byte `from` up to byte `to`. */
static void prof__turn_fields(void *all, size_t from, size_t to, size_t size)
{
    unsigned char *at = (unsigned char *)all + from, *end = (unsigned char *)all + to, other;
    size_t i;
    for (; at < end; at += size)
        for (i = 0; i < size / 2; i++) {
            other = at[i];
            at[i] = at[size - 1 - i];
            at[size - 1 - i] = other;
        }
}

static void prof__turn_header(prof__header *h)
{
    prof__turn_fields(h, offsetof(prof__header, version), offsetof(prof__header, image_size), 4);
    prof__turn_fields(h, offsetof(prof__header, image_size), offsetof(prof__header, chunk_size), 8);
    prof__turn_fields(h, offsetof(prof__header, chunk_size), offsetof(prof__header, pid), 4);
    prof__turn_fields(h, offsetof(prof__header, pid), offsetof(prof__header, program), 8);
    prof__turn_fields(h, offsetof(prof__header, archive_offset), offsetof(prof__header, write_error), 8);
    prof__turn_fields(h, offsetof(prof__header, window_from), offsetof(prof__header, crash), 8);
}

static void prof__turn_block(prof__block *block)
{
    prof__turn_fields(block, 0, offsetof(prof__block, sequence), 4);
    prof__turn_fields(block, offsetof(prof__block, sequence), offsetof(prof__block, words), 8);
    prof__turn_fields(block, offsetof(prof__block, words), sizeof *block, 4);
}

/* Reads the header of an image of either byte order, and converts it to this machine's. */
static void prof__header_get(const void *image, prof__header *header)
{
    memcpy(header, image, sizeof *header);
    if (prof__byteswap(image)) prof__turn_header(header);
}

/* Writes the header of an image in the byte order that the image has. */
static void prof__header_put(void *image, const prof__header *header)
{
    prof__header changed = *header;
    if (prof__byteswap(image)) prof__turn_header(&changed);
    memcpy(image, &changed, sizeof changed);
}

/* Reads size bytes of a stream at offset. Returns 0 if they cannot all be read. Moves the position of the stream, so
   only one thread may use it. */
static int prof__read_at(FILE *file, uint64_t offset, void *to, size_t size)
{
    if (prof__file_seek(file, offset, SEEK_SET)) return 0;
    return fread(to, 1, size, file) == size;
}

/* Reads size bytes at an offset in an image. */
static int prof__image_at(const prof__image_place *place, uint64_t offset, void *to, size_t size)
{
    return prof__read_at(place->file, place->base + offset, to, size);
}

static void prof__turn_meta(uint64_t *words, size_t count)
{
    size_t at, length;
    for (at = 0; at < count; at += length) {
        prof__turn(words + at, 1);
        length = prof__read_meta_words(words, at, count);
        if (!length) return;
        if (words[at] >> 56 != PROF__META_STRING && words[at] >> 56 != PROF__META_SESSION)
            prof__turn(words + at + 1, length - 1);
    }
}

/* Turns the records of a chunk. What follows the last record is left as it is, because the reader does not use it. */
static void prof__turn_records(uint64_t *words, size_t count)
{
    size_t at, length, texts;
    for (at = 0; at < count; at += length) {
        prof__turn(words + at, 1);
        length = prof__record_length(words[at], count - at);
        if (!length) return;
        texts = prof__record_text_words(words[at], length);
        prof__turn(words + at + 1 + texts, length - 1 - texts);
    }
}

/* Removes the marks that detect a power loss from a chunk, because its sums are those of the words before turning.
   chunk: its header has been turned already. bytes: size of the chunk with its header. */
static void prof__turn_marks(prof__chunk *chunk, size_t bytes, size_t header)
{
    uint64_t *words = (uint64_t *)(void *)((char *)chunk + header), last;
    if (!prof__chunk_marked(chunk, header)) return;
    for (size_t i = 0; i < PROF__PARTS; i++) {
        size_t end = prof__part_end(bytes, header, i);
        if (!end) continue;
        last = words[end - 1];
        prof__turn(&last, 1);
        if (prof__part_state(chunk->sequence, last)) words[end - 1] = 0;
    }
    chunk->form ^= PROF__FORM_MARKED ^ PROF__FORM_PLAIN;
}

/* Turns the headers and records of all chunks of the ring, and removes their marks. */
static void prof__turn_chunks(char *image, const prof__header *h)
{
    uint64_t bytes;
    for (uint64_t at = 0; at < h->chunk_count * h->chunk_size; at += bytes) {
        char *chunk = image + h->chunk_offset + at;
        prof__turn_fields(chunk, 0, offsetof(prof__chunk, state), 8);
        prof__turn_fields(chunk, offsetof(prof__chunk, state), offsetof(prof__chunk, lost), 4);
        prof__turn_fields(chunk, offsetof(prof__chunk, lost), PROF__LEAST_CHUNK, 8);
        bytes = prof__form_bytes(h->chunk_size, at, ((prof__chunk *)(void *)chunk)->form);
        if (bytes > h->chunk_header_size) {
            prof__turn_marks((prof__chunk *)(void *)chunk, (size_t)bytes, h->chunk_header_size);
            prof__turn_records((uint64_t *)(void *)(chunk + h->chunk_header_size),
                               (size_t)(bytes - h->chunk_header_size) / 8);
        }
    }
}

/* Turns the headers of the blocks whose checksum is right. The reader counts other blocks as lost. */
static void prof__turn_archive(char *image, size_t size, const prof__header *h)
{
    uint64_t at = h->archive_offset, max = PROF__BLOCK_BOUND(h->chunk_size / 8), tried = 0;
    while (at && at <= size && size - at >= sizeof(prof__block) && tried / 16 <= size) {
        prof__block block;
        memcpy(&block, image + at, sizeof block);
        prof__turn_block(&block);
        if (block.magic == PROF__BLOCK_MAGIC && block.size >= sizeof block && block.size % 8 == 0 &&
            block.size <= max && block.size <= size - at) {
            if (prof__block_check(&block, image + at + sizeof block) == block.check) {
                memcpy(image + at, &block, sizeof block);
                at += block.size;
                continue;
            }
            tried += block.size; /* limits the work for an image that was made so that everything looks like a block */
        }
        at += 8;
    }
}

/* Converts an image to this machine's byte order. size: bytes of the image with its archive, which are 8-byte aligned.
   h: the header, which prof__read_header() has checked. */
static void prof__turn_image(void *image, size_t size, const prof__header *h)
{
    prof__header raw;
    char *bytes = (char *)image;
    if (!prof__byteswap(image)) return;
    memcpy(&raw, image, sizeof raw);
    prof__turn_header(&raw);
    /* The header of an older version is shorter. */
    memcpy(image, &raw, h->header_size < sizeof raw ? h->header_size : sizeof raw);
    prof__turn_meta((uint64_t *)(void *)(bytes + h->meta_offset), (size_t)(h->meta_size / 8));
    prof__turn_chunks(bytes, h);
    prof__turn_archive(bytes, size, h);
}

/* Reads a whole file, with its archive, whose image has the other byte order, and converts it to this machine's. */
static prof_status prof__byteswap_read(const prof__image_place *place, const char *path, const prof__header *h,
                                      unsigned char **image, uint64_t *size)
{
    if (!h->archive_offset) *size = h->image_size;
    *image = *size < (size_t)-1 ? (unsigned char *)malloc((size_t)*size) : NULL;
    if (!*image) return prof__fail(PROF_NO_MEMORY, "%s: no memory to read %lu bytes", path, (unsigned long)*size);
    errno = 0;
    if (!prof__image_at(place, 0, *image, (size_t)*size) || !prof__byteswap(*image))
        return prof__cannot("read", path, "it changed meanwhile");
    prof__turn_image(*image, (size_t)*size, h);
    return PROF_OK;
}

/*-- ALIGNING ------------------------------------------------------------------------------------------- >>aligning --
   Clocks of different machines differ, and run at different rates. A process that has compared its clock with that of
   another one says so in two keys of its metadata:
     "clock reference"  what that clock is called; traces with the same text are aligned by it
     "clock offset"     "TIME OFFSET", or several of these: when prof_host_ns() was TIME, the other clock showed OFFSET
                        ns more. From the first to the last one, and beyond them, the offset changes linearly
   The trace's times are then times of that other clock. The process whose clock it is has "clock offset" "0 0". */

#define PROF__ALIGN_RATE 0.01 /* clocks that differ by more are no clocks: the second offset is wrong */

/* Reads the next number of a text. Returns 0 if there is none. */
static int prof__align_number(const char **text, int64_t *number)
{
    char *end;
    *number = (int64_t)strtoll(*text, &end, 10);
    if (end == *text) return 0;
    *text = end;
    return 1;
}

/* Finds out how much the clock of a trace differs from the one that its metadata name, and how its rate does. */
static void prof__align_correct(prof_trace *trace)
{
    const char *text = prof__trace_said(trace, "clock offset");
    int64_t time, offset, start = (int64_t)trace->header.first.monotonic_ns, first = 0, first_offset = 0;
    double rate = 0;
    if (!*prof__trace_said(trace, "clock reference")) return;
    while (prof__align_number(&text, &time) && prof__align_number(&text, &offset)) {
        double later = (double)time - (double)first, more = (double)offset - (double)first_offset;
        if (!trace->corrected) first = time, first_offset = offset;
        else if (later > 0) rate = more / later;
        trace->corrected = 1;
    }
    if (!trace->corrected) return;
    if (rate > -PROF__ALIGN_RATE && rate < PROF__ALIGN_RATE) trace->clock_rate = rate;
    trace->clock_ahead = first_offset + (int64_t)(trace->clock_rate * ((double)start - (double)first));
}

/* What aligns a trace with others. */
typedef struct prof__align_clock {
    char name[200];                      /* clocks of one name are one; "": it has none */
    uint64_t monotonic_ns, unix_ns;      /* of the begin */
    uint64_t since_boot_ns, time_namespace;
    int64_t shift_ns;                    /* see prof_trace_set_offset() */
} prof__align_clock;

static void prof__align_of(const prof_trace *trace, prof__align_clock *clock)
{
    const prof__header *h = &trace->header;
    memset(clock, 0, sizeof *clock);
    clock->shift_ns = trace->shift_ns;
    clock->monotonic_ns = h->first.monotonic_ns;
    clock->unix_ns = h->first.unix_ns;
    if (trace->corrected) {
        snprintf(clock->name, sizeof clock->name, "reference %s", prof__trace_said(trace, "clock reference"));
        clock->monotonic_ns += (uint64_t)trace->clock_ahead;
        clock->time_namespace = 1; /* any: it is the same clock, whatever Unix time says */
        return;
    }
    prof__text_copy(clock->name, sizeof clock->name, h->boot_id);
    clock->since_boot_ns = h->since_boot_ns;
    clock->time_namespace = h->time_namespace;
}

/* Returns how much later trace a began than trace b, in ns by the clock of their machine; negative if earlier.
   CLOCK_MONOTONIC stands still during a suspension, so the time since the machine's start is compared, too. That time
   is read a moment after the clock pair: only a difference of a millisecond or more is a suspension. */
static int64_t prof__align_later(const prof__align_clock *a, const prof__align_clock *b)
{
    int64_t later = (int64_t)(a->monotonic_ns - b->monotonic_ns);
    int64_t suspended = (int64_t)(a->since_boot_ns - b->since_boot_ns) - later;
    if (!a->since_boot_ns || (suspended > -1000000 && suspended < 1000000)) return later;
    return later + suspended;
}

/* Returns 1 if two traces have times of the same CLOCK_MONOTONIC. It must be the same machine, and in traces that state
   it the same time namespace. Older traces do not state the namespace: then the difference between Unix time and
   CLOCK_MONOTONIC must be the same within a second, because a different namespace or a suspension in between changes it
   by more. */
static int prof__align_same(const prof__align_clock *a, const prof__align_clock *b)
{
    uint64_t x = a->unix_ns - a->monotonic_ns, y = b->unix_ns - b->monotonic_ns;
    if (strcmp(a->name, b->name)) return 0;
    if (a->time_namespace != b->time_namespace || !a->since_boot_ns != !b->since_boot_ns) return 0;
    if (a->time_namespace || !a->unix_ns || !b->unix_ns) return 1;
    return (x > y ? x - y : y - x) <= 1000000000;
}

/* Returns the index of the trace that began first on the machine of trace `one`. That machine's monotonic clock aligns
   all its traces with this one. */
static size_t prof__align_anchor(const prof__align_clock *clocks, size_t count, size_t one)
{
    size_t anchor = one, i;
    for (i = count; i-- && clocks[one].name[0];)
        if (prof__align_same(&clocks[i], &clocks[one]) && prof__align_later(&clocks[i], &clocks[anchor]) <= 0)
            anchor = i;
    return anchor;
}

/* Adds what prof_trace_set_offset() set. The earliest trace begins at 0. */
static void prof__align_shift(const prof__align_clock *clocks, size_t count, int64_t *offsets)
{
    int64_t least = 0;
    size_t i;
    for (i = 0; i < count; i++) {
        offsets[i] += clocks[i].shift_ns;
        if (!i || offsets[i] < least) least = offsets[i];
    }
    for (i = 0; i < count; i++) offsets[i] -= least;
}

/* Sets offsets to the times, in ns after the earliest, at which the traces begin. Traces of one machine are aligned by
   its monotonic clock, machines by Unix time. Returns the number of machines. */
static size_t prof__align_clocks(const prof__align_clock *clocks, size_t count, int64_t *offsets)
{
    uint64_t earliest = 0;
    size_t groups = 0, i;
    int shifted = 0;
    for (i = 0; i < count; i++) {
        size_t anchor = prof__align_anchor(clocks, count, i);
        uint64_t start = clocks[anchor].unix_ns;
        uint64_t since = (uint64_t)prof__align_later(&clocks[i], &clocks[anchor]);
        offsets[i] = since < (uint64_t)PROF__FAR_NS ? (int64_t)since : PROF__FAR_NS;
        if (!i || start < earliest) earliest = start;
        groups += anchor == i;
        shifted |= clocks[i].shift_ns != 0;
    }
    for (i = 0; i < count; i++) {
        uint64_t later = clocks[prof__align_anchor(clocks, count, i)].unix_ns - earliest;
        offsets[i] = later < (uint64_t)(PROF__FAR_NS - offsets[i]) ? offsets[i] + (int64_t)later : PROF__FAR_NS;
    }
    if (shifted) prof__align_shift(clocks, count, offsets);
    return groups;
}

PROF_DEF size_t prof_trace_align(const prof_trace *const *traces, size_t count, int64_t *offsets)
{
    prof__align_clock *clocks = (prof__align_clock *)malloc((count + 1) * sizeof *clocks);
    size_t i, machines = count;
    if (!clocks) memset(offsets, 0, count * sizeof *offsets); /* without memory all begin at 0 */
    for (i = 0; clocks && i < count; i++) prof__align_of(traces[i], &clocks[i]);
    if (clocks) machines = prof__align_clocks(clocks, count, offsets);
    free(clocks);
    return machines;
}

PROF_DEF prof_status prof_trace_set_offset(prof_trace *trace, int64_t ns)
{
    if (!trace) return prof__null("prof_trace_set_offset", "trace");
    if (ns > PROF__FAR_NS / 4 || ns < -PROF__FAR_NS / 4)
        return prof__fail(PROF_INVALID_ARGUMENT, "prof_trace_set_offset: more than 18 years");
    trace->shift_ns = ns;
    return PROF_OK;
}

#if defined(_WIN32) || defined(__wasi__)
static int prof__process_records(uint64_t pid, const char *boot_id, const char *path)
{
    (void)pid, (void)boot_id, (void)path;
    return 0;
}
#else
/* Returns 1 if the process is a zombie: all its threads have ended, and its parent has not yet read its exit status.
   Always returns 0 outside of Linux. */
static int prof__process_zombie(long pid)
{
    char path[48], line[1024], *rest = NULL, state = 0;
    int threads = 0;
    snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    FILE *file = fopen(path, "r");
    if (!file) return 0;
    /* The fields follow the name, which may have any character. */
    if (fgets(line, sizeof line, file)) rest = strrchr(line, ')');
    fclose(file);
    const char *fields = ") %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %d";
    return rest && sscanf(rest, fields, &state, &threads) == 2 && (state == 'Z' || state == 'X') && threads <= 1;
}

/* Returns 1 if the process has mapped the file at path. The process id alone proves nothing: a process in another
   container may have the same id, or the file may be a copy. Returns 0 where the system does not show mappings. */
static int prof__process_maps(long pid, const char *path)
{
    char maps[48], line[4400];
    struct stat about;
    int found = 0;
    snprintf(maps, sizeof maps, "/proc/%ld/maps", pid);
    FILE *file = stat(path, &about) ? NULL : fopen(maps, "r");
    /* Only inodes are compared: on some file systems the device differs from stat()'s. */
    while (file && !found && fgets(line, sizeof line, file)) {
        unsigned long long inode;
        found = sscanf(line, "%*s %*s %*s %*s %llu", &inode) == 1 && inode == (unsigned long long)about.st_ino;
    }
    if (file) fclose(file);
    return found;
}

/* Returns 1 if this process is alive, as far as this machine can tell. path: the file that it records into; NULL:
   unknown. */
static int prof__process_records(uint64_t pid, const char *boot_id, const char *path)
{
    char here[40];
    prof__boot_id(here, sizeof here);
    if (!here[0] || !prof__equal(here, boot_id) || !pid || pid >= 0x7FFFFFFF) return 0;
    if (kill((pid_t)pid, 0) && errno != EPERM) return 0;
    return !prof__process_zombie((long)pid) && (!path || prof__process_maps((long)pid, path));
}
#endif

/* Extends a trace's duration to the latest time at which scopes are known to have been open. */
static void prof__read_reach(prof_trace *trace)
{
    size_t i;
    for (i = 0; i < trace->track_count && trace->info.duration_ns < trace->newest_ns; i++)
        if (trace->tracks[i].about.open && trace->tracks[i].lives) trace->info.duration_ns = trace->newest_ns;
}

/* Extends a trace's open scopes until now if a live process is recording into the file. */
static void prof__trace_alive(prof_trace *trace, const char *path)
{
    const prof__header *header = &trace->header;
    prof__pair now;
    size_t hint = 0;
    int64_t ns;
    if (trace->info.complete || !prof__process_records(header->pid, header->boot_id, path) ||
        !prof__pair_now(header->clock, header->boot_id, &now))
        return;
    ns = prof__read_ns(trace, now.tick, &hint);
    trace->info.alive = 1;
    if (ns > trace->newest_ns) trace->newest_ns = ns;
    prof__read_reach(trace);
}

typedef struct prof__unpacker {
    const unsigned char *at, *end;
    int bad;
} prof__unpacker;

static uint64_t prof__unpack_integer(prof__unpacker *u)
{
    uint64_t value = 0;
    unsigned shift = 0;
    for (; u->at < u->end && shift < 70; shift += 7) {
        unsigned char byte = *u->at++;
        value |= (uint64_t)(byte & 127) << shift; /* at most 10 groups; bits beyond 64 are dropped */
        if (byte < 128) return value;
    }
    u->bad = 1;
    return 0;
}

static void prof__unpack_bytes(prof__unpacker *u, void *to, size_t size)
{
    if (size > (size_t)(u->end - u->at)) {
        u->bad = 1;
        return;
    }
    memcpy(to, u->at, size);
    u->at += size;
}

static void prof__unpack_words(prof__unpacker *u, uint64_t *to, size_t count)
{
    prof__unpack_bytes(u, to, count * 8);
    if (PROF__LOW_HALF && !u->bad) prof__pack_words(to, u->at - count * 8, count);
}

static uint64_t prof__unpack_new(prof__unpacker *u)
{
    uint64_t site = prof__unpack_integer(u), head;
    head = (site & 15) << PROF__KIND_SHIFT | (site >> 4 & PROF__SITE_MASK) << PROF__TICK_BITS;
    if (!prof__record_timed(head)) head |= prof__unpack_integer(u) & PROF__TICK_MASK;
    return head;
}

static uint64_t prof__unpack_head(prof__packer *p, prof__unpacker *u)
{
    uint64_t first = prof__unpack_integer(u), code, head = 0;
    uint32_t number = p->next[p->before];
    if (!(first & 1)) {
        if (!number) u->bad = 1;
        head = number ? p->symbols[number] : 0;
    } else if ((code = prof__unpack_integer(u)) == PROF__PACK_WHOLE) {
        prof__unpack_words(u, &head, 1);
        prof__pack_learn(p, head, 0);
        return head;
    } else if (code == PROF__PACK_INNER) {
        if (!p->depth) u->bad = 1;
        head = p->depth ? prof__pack_inner(p) : 0;
        number = prof__pack_number(p, head, 1);
    } else if (code == PROF__PACK_NEW) {
        head = prof__unpack_new(u);
        number = prof__pack_number(p, head, 1);
    } else {
        number = code - PROF__PACK_KNOWN < p->count ? (uint32_t)(code - PROF__PACK_KNOWN) + 1 : 0;
        if (!number) u->bad = 1;
        head = number ? p->symbols[number] : 0;
    }
    if (prof__record_timed(head)) {
        if ((first >> 1) > PROF__TICK_MASK - p->tick) u->bad = 1;
        head |= (p->tick + (first >> 1)) & PROF__TICK_MASK;
    }
    prof__pack_learn(p, head, number);
    return head;
}

static void prof__unpack_string(prof__packer *p, prof__unpacker *u, uint64_t *words, size_t at, size_t n)
{
    uint64_t size = prof__unpack_integer(u);
    uint32_t before = p->strings[p->before];
    if (p->before) p->strings[p->before] = (uint32_t)at;
    if (size & 1) {
        if (!p->before || !before)
            u->bad = 1;
        else
            memcpy(words + at, words + before, n * 8);
        return;
    }
    memset(words + at, 0, n * 8);
    if (size >> 1 > n * 8)
        u->bad = 1;
    else
        prof__unpack_bytes(u, words + at, (size_t)(size >> 1));
    if (PROF__LOW_HALF && prof__record_text_words(words[at - 1], n + 1) < n) {
        uint64_t tail = words[at + n - 1];
        prof__pack_words(words + at + n - 1, &tail, 1);
    }
}

static void prof__unpack_payload(prof__packer *p, prof__unpacker *u, uint64_t *words, size_t at, size_t n)
{
    unsigned holds = prof__record_holds(words[at - 1]);
    size_t i;
    if (holds == PROF_VALUE_STRING) {
        prof__unpack_string(p, u, words, at, n);
    } else if (holds == PROF_VALUE_DOUBLE) {
        prof__unpack_words(u, words + at, n);
    } else {
        for (i = at; i < at + n && !u->bad; i++) {
            uint64_t value = prof__unpack_integer(u);
            words[i] = holds == PROF_VALUE_INT ? value >> 1 ^ (0 - (value & 1)) : value;
        }
    }
}

/* Unpacks BEGINs and ENDs as long as they are the expected ones. Returns the index of the first other word. Leaves the
   last 10 bytes, and whatever may be invalid, to prof__unpack_head(). */
static size_t prof__unpack_expected(prof__packer *p, prof__unpacker *u, uint64_t *words, size_t at, size_t count)
{
    const unsigned char *from = u->at;
    uint64_t tick = p->tick;
    uint32_t before = p->before, depth = p->depth;
    for (; at < count && u->end - from >= 10; at++) {
        uint32_t number = p->next[before];
        uint64_t head = p->symbols[number], kind = head >> PROF__KIND_SHIFT, first = *from & 127, next;
        size_t size = 1;
        if (!number || *from & 1 || (kind != PROF__KIND_BEGIN && kind != PROF__KIND_END)) break;
        for (; from[size - 1] >= 128 && size < 8; size++) first |= (uint64_t)(from[size] & 127) << 7 * size;
        next = tick + (first >> 1);
        if (from[size - 1] >= 128 || next > PROF__TICK_MASK) break;
        from += size;
        words[at] = head | next;
        tick = next;
        before = number;
        if (kind == PROF__KIND_BEGIN)
            p->open[depth++ % PROF__PACK_OPEN] = (uint32_t)(head >> PROF__TICK_BITS) & PROF__SITE_MASK;
        else if (depth)
            depth--;
    }
    u->at = from;
    p->tick = tick;
    p->before = before;
    p->depth = depth;
    return at;
}

/* Unpacks size bytes that prof__pack() wrote to at most count words. Returns how many words it wrote, or 0 if the bytes
   are invalid; some words may be written then. Up to 7 bytes of padding may follow the last word's. Any bytes are
   safe. */
static size_t prof__unpack(const unsigned char *from, size_t size, uint64_t *words, size_t count)
{
    prof__packer p;
    prof__unpacker u;
    size_t at = 0, length;
    prof__pack_reset(&p);
    u.at = from;
    u.end = from + size;
    u.bad = 0;
    for (;;) {
        at = prof__unpack_expected(&p, &u, words, at, count);
        if (u.at >= u.end || at >= count) break;
        words[at] = prof__unpack_head(&p, &u);
        length = prof__record_words(words[at], count - at);
        if (!length) length = 1;
        if (length > 1 && !u.bad) prof__unpack_payload(&p, &u, words, at + 1, length - 1);
        if (u.bad) return 0;
        at += length;
    }
    return u.end - u.at < (at == count ? 8 : 1) ? at : 0;
}

static unsigned prof__read_kind(uint64_t head)
{
    return (unsigned)(head >> PROF__KIND_SHIFT);
}

static uint32_t prof__read_id(uint64_t head)
{
    return (uint32_t)(head >> PROF__TICK_BITS) & PROF__SITE_MASK;
}

/* Groups of event types that readers treat alike: see PROF__EVENTS. */
enum {
    PROF__GROUP_SCOPE = 0,
    PROF__GROUP_MARK,
    PROF__GROUP_COUNTER,
    PROF__GROUP_FRAME,
    PROF__GROUP_LOST,
    PROF__GROUP_SPAN,
    PROF__GROUP_FLOW,
    PROF__GROUP_MEMORY,
    PROF__GROUP_LOCK,
    PROF__GROUP_MESSAGE
};

#define PROF__COLUMN_GROUP(name, code, group, ...) PROF__GROUP_##group,
static unsigned prof__event_group(unsigned type)
{
    static const unsigned char groups[] = {PROF__EVENTS(PROF__COLUMN_GROUP)};
    return groups[type];
}

/* Returns the prof_value_type of the object of an event of this type. */
#define PROF__COLUMN_OBJECT(name, code, group, object, ...) PROF_VALUE_##object,
static prof_value_type prof__event_object(unsigned type)
{
    static const unsigned char objects[] = {PROF__EVENTS(PROF__COLUMN_OBJECT)};
    return (prof_value_type)objects[type];
}

/* Returns the name of an event type in CSV. */
#define PROF__COLUMN_TEXT(name, code, group, object, text, ...) text,
static const char *prof__event_text(unsigned type)
{
    static const char *const texts[] = {PROF__EVENTS(PROF__COLUMN_TEXT)};
    return texts[type];
}

/* Returns the name of an event type for people; many: 1: the plural. */
#define PROF__COLUMN_NAMES(name, code, group, object, text, one, many, ...) {one, many},
static const char *prof__event_name(unsigned type, int many)
{
    static const char *const names[][2] = {PROF__EVENTS(PROF__COLUMN_NAMES)};
    return names[type][many];
}

/* Returns the type of an EVENT record, or 0 if readers do not show such events. */
static unsigned prof__read_event_type(const uint64_t *record)
{
    unsigned type = (unsigned)(record[1] & 0xFF);
    return type > PROF_EVENT_LOST && type < PROF_EVENT_TYPE_COUNT ? type : 0;
}

/* Returns the length in words of an ARG or DATA record, together with the record of its value if this one has a key
   made at run time. left: words from this record on. */
static size_t prof__read_arg_words(const uint64_t *words, size_t left)
{
    size_t key = prof__record_words(words[0], left), value;
    if (!key || key == left || !(words[0] & PROF__ARG_KEY)) return key;
    value = prof__record_words(words[key], left - key);
    if (!value || prof__read_kind(words[key]) != prof__read_kind(words[0]) || words[key] & PROF__ARG_KEY) return key;
    return key + value;
}

/* Returns 0 if the argument is a key without a value, which readers leave out. */
static int prof__read_arg_whole(const uint64_t *words, size_t length)
{
    return !(words[0] & PROF__ARG_KEY) || length > 1 + (size_t)(words[0] & 0xFFFF);
}

/* Returns the record with the argument's value; *length: that record's words. */
static const uint64_t *prof__read_arg_value(const uint64_t *words, size_t *length)
{
    if (words[0] & PROF__ARG_KEY) words += 1 + (size_t)(words[0] & 0xFFFF);
    *length = 1 + (size_t)(words[0] & 0xFFFF);
    return words;
}

/* Returns the id of the call site whose scope an ARG record belongs to, or 0 for the innermost scope. */
static uint32_t prof__read_arg_target(const uint64_t *words)
{
    size_t length;
    words = prof__read_arg_value(words, &length);
    return words[0] & PROF__ARG_TO && length > 1 ? prof__read_id(words[length - 1]) : 0;
}

/* Returns the number of a frame's boundary, or NULL if its record has none. left: words from this record on. */
static const uint64_t *prof__read_frame_data(const uint64_t *record, size_t left)
{
    return left > 2 && record[1] == PROF__FRAME_NUMBER ? record + 2 : NULL;
}

/* Returns the length in words of a FRAME record, together with its number. */
static size_t prof__read_frame_words(const uint64_t *record, size_t left)
{
    return prof__read_frame_data(record, left) ? 3 : 1;
}

/* Returns 1 if readers make an event of the record. */
static inline int prof__read_shown(const uint64_t *record)
{
    return prof__record_in(PROF__SHOWN, record[0]) &&
           (prof__read_kind(record[0]) != PROF__KIND_EVENT || prof__read_event_type(record));
}

/* NAME and DATA are parts of the event before them. */
#define PROF__PARTS_OF_EVENT (1u << PROF__KIND_NAME | 1u << PROF__KIND_DATA)

/* Returns 1 if a DATA record after this one would be an argument of an event that is shown. shown: the result of
   prof__read_shown() for this record; before: the result of this function for the previous one. */
static inline int prof__read_takes_data(uint64_t head, int shown, int before)
{
    return shown ? prof__record_in(PROF__VALUED, head) : before & prof__record_in(PROF__PARTS_OF_EVENT, head);
}

static int prof__is_span(prof_event_type type) { return prof__event_group(type) == PROF__GROUP_SPAN; }

static int prof__is_flow(prof_event_type type) { return prof__event_group(type) == PROF__GROUP_FLOW; }

/* Returns 1 if a NAME record after this one would be the name of its event. Flows have no names of their own, because
   exporters keep a flow's name longer than a block of the archive stays in memory. */
static int prof__read_takes_name(const uint64_t *record)
{
    if (!prof__record_in(PROF__NAMED, record[0])) return 0;
    return prof__read_kind(record[0]) != PROF__KIND_EVENT ||
           !prof__is_flow((prof_event_type)prof__read_event_type(record));
}

/* Returns the tick of a record, at least that of the previous record (before). */
static uint64_t prof__read_tick(uint64_t base, uint64_t head, uint64_t before)
{
    uint64_t tick = base + (head & PROF__TICK_MASK);
    if (tick < base) tick = ~(uint64_t)0;
    return tick > before ? tick : before;
}

/* Returns how many values for the reader follow the text of a NAME of this length. */
static size_t prof__read_name_values(uint64_t head, size_t length)
{
    size_t values = prof__read_kind(head) == PROF__KIND_NAME ? (size_t)(head >> PROF__NAME_SHIFT) & 31 : 0;
    return values < length - 1 ? values : 0;
}

/* Terminates the string of a NAME, ARG or DATA record, if it has one, so that callers can use it in place. A key is a
   string, whatever type the record states. */
static void prof__read_seal_text(uint64_t *record, size_t length)
{
    unsigned kind = prof__read_kind(*record);
    int key = kind != PROF__KIND_NAME && *record & PROF__ARG_KEY;
    if (kind == PROF__KIND_ARG && *record & PROF__ARG_TO && !key && length > 1) --length;
    length -= prof__read_name_values(*record, length);
    if (length > 1 && (key || prof__record_holds(*record) == PROF_VALUE_STRING)) ((char *)(record + length))[-1] = 0;
}

/* Returns 1 if the record may be a text, because its length varies. */
static int prof__read_has_text(uint64_t head)
{
    return (PROF__WORDS >> (head >> PROF__KIND_SHIFT << 2) & 15) == PROF__IN_HEAD;
}

static void prof__read_seal(uint64_t *words, size_t count)
{
    size_t at, length;
    for (at = 0; at < count; at += length) {
        length = 1;
        if (prof__read_kind(words[at]) - PROF__KIND_BEGIN <= PROF__KIND_END - PROF__KIND_BEGIN) continue;
        length = prof__record_words(words[at], count - at);
        if (!length) return;
        if (prof__read_has_text(words[at])) prof__read_seal_text(words + at, length);
    }
}

/* Returns the id of an event, which is unique in its trace: the place of its first word. */
static uint64_t prof__read_event_id(const prof_trace *trace, const prof__read_chunk *chunk, size_t word)
{
    return chunk->sequence << trace->word_bits | word;
}

static int prof__read_chunk_order(const void *a, const void *b)
{
    const prof__read_chunk *x = (const prof__read_chunk *)a, *y = (const prof__read_chunk *)b;
    if (x->sequence != y->sequence) return x->sequence < y->sequence ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

static int prof__read_segment_order(const void *a, const void *b)
{
    const prof__read_segment *x = (const prof__read_segment *)a, *y = (const prof__read_segment *)b;
    if (x->track != y->track) return x->track < y->track ? -1 : 1;
    if (x->serial != y->serial) return x->serial < y->serial ? -1 : 1;
    if (x->chunk != y->chunk) return x->chunk < y->chunk ? -1 : 1;
    return x->first < y->first ? -1 : x->first > y->first;
}

/*-- the words of a chunk --*/

/* Reads size bytes at offset, from the trace's file or memory. Returns 0 if they are missing or have gone. */
static int prof__read_part(const prof_trace *trace, uint64_t offset, void *to, size_t size)
{
    if (offset > trace->size || size > trace->size - offset) return 0;
    if (trace->file) return prof__file_at(trace->file, trace->base + offset, to, size);
    memcpy(to, (const char *)trace->image + offset, size);
    return 1;
}

static void prof__read_buffer_free(prof__read_buffer *buffer)
{
    free(buffer->words);
    free(buffer->block);
    memset(buffer, 0, sizeof *buffer);
}

/* Allocates the buffer. Returns 0 if there is no memory. */
static int prof__read_buffer_make(const prof_trace *trace, prof__read_buffer *buffer)
{
    if (buffer->words) return 1;
    buffer->words = (uint64_t *)malloc(trace->chunk_words * 8);
    buffer->block = (char *)malloc(PROF__BLOCK_BOUND(trace->chunk_words));
    if (buffer->words && buffer->block) return 1;
    prof__read_buffer_free(buffer);
    return 0;
}

/* Returns 1 if this may be the header of a block at offset that ends before end. */
static int prof__read_block_likely(const prof_trace *trace, const prof__block *block, uint64_t offset, uint64_t end)
{
    return block->magic == PROF__BLOCK_MAGIC && block->sequence && block->words && block->words <= trace->chunk_words &&
           block->size > sizeof *block && block->size % 8 == 0 &&
           block->size <= PROF__BLOCK_BOUND(trace->chunk_words) && block->size <= end - offset;
}

/* Returns a hash of words, by which the reader recognises whether they have changed. Unlike with the checksum in a
   block, nobody can choose other words with the same hash, because its keys depend on a random seed of this process. */
static uint64_t prof__read_mark(const prof_trace *trace, const uint64_t *words, size_t count)
{
    const uint64_t *keys = trace->keys;
    uint64_t mark = 0;
    size_t i, part;
    for (; count; words += part, count -= part) {
#ifdef __SIZEOF_INT128__
        __extension__ typedef unsigned __int128 prof__product;
        prof__product sum = 0;
        part = count < PROF__READ_KEYS ? count : PROF__READ_KEYS;
        for (i = 0; i + 1 < part; i += 2) sum += (prof__product)(words[i] + keys[i]) * (words[i + 1] + keys[i + 1]);
        if (i < part) sum += (prof__product)(words[i] + keys[i]) * keys[i + 1];
        mark = prof__mix(mark + (uint64_t)sum) + (uint64_t)(sum >> 64);
#else
        uint64_t sum = 0;
        part = count < PROF__READ_KEYS ? count : PROF__READ_KEYS;
        for (i = 0; i < part; i++)
            sum += (uint64_t)(uint32_t)(words[i] + keys[i]) * (uint32_t)((words[i] >> 32) + (keys[i] >> 32));
        mark = prof__mix(mark + sum);
#endif
    }
    return mark;
}

/* Reads and unpacks the block at offset, which must end before end. Its strings are not terminated yet. block: receives
   the block's header. Returns 0 if there is no valid block. */
static int prof__read_block(const prof_trace *trace, prof__read_buffer *buffer, uint64_t offset, uint64_t end,
                            prof__block *block)
{
    char *bytes = buffer->block + sizeof *block;
    buffer->chunk = 0;
    buffer->segment = NULL;
    if (offset > end || end - offset < sizeof *block || !prof__read_part(trace, offset, block, sizeof *block) ||
        !prof__read_block_likely(trace, block, offset, end) ||
        !prof__read_part(trace, offset + sizeof *block, bytes, block->size - sizeof *block) ||
        prof__block_check(block, bytes) != block->check ||
        prof__unpack((const unsigned char *)bytes, block->size - sizeof *block, buffer->words, block->words) !=
            block->words)
        return 0;
    return 1;
}

/* Reads size bytes of the ring, at an offset in the image. Returns 0 if they have gone. */
static int prof__read_ring_part(const prof_trace *trace, uint64_t offset, void *to, size_t size)
{
    if (trace->paged) return prof__file_at(trace->file, trace->base + offset, to, size);
    memcpy(to, (const char *)trace->image + offset, size);
    return 1;
}

/* How many records may be out of order one after the other, because signal handlers interrupt signal handlers. */
#define PROF__LATE_RECORDS 4

/* Returns the index of the first record of a track's next few whose tick is not before this one, or 0 if there is
   none. */
static size_t prof__read_reaches(const uint64_t *words, size_t at, size_t count, uint64_t tick)
{
    size_t length, timed = 0;
    for (; at < count && timed < PROF__LATE_RECORDS; at += length) {
        length = prof__record_length(words[at], count - at);
        if (!length) return 0;
        if (prof__read_kind(words[at]) == PROF__KIND_TRACK) return 0;
        if (prof__record_timed(words[at]) && (words[at] & PROF__TICK_MASK) >= tick) return at;
        timed += prof__record_timed(words[at]) != 0;
    }
    return 0;
}

#define PROF__JUMPS 64 /* most resets of the counter in a chunk; further ones are taken as other errors */

/* Corrects the ticks of records after a reset of the counter, as if the counter had gone on. Must be called whenever
   the words of a chunk with a reset have been read. A lower tick is not a reset if the next few records reach the
   earlier tick again: then signal handlers recorded for long between the reading of a record's clock and its writing.
   behind: see prof_trace. write: 0: changes nothing. Returns the largest tick. */
static uint64_t prof__read_mend(uint64_t *words, size_t count, uint64_t behind, int write)
{
    uint64_t last = 0, more = 0, most = 0;
    size_t at, length, late = 0; /* late: records before this index were written late */
    int jumps = 0;
    for (at = 0; at < count && (length = prof__record_length(words[at], count - at)) != 0; at += length) {
        uint64_t tick = (words[at] & PROF__TICK_MASK) + more;
        if (prof__read_kind(words[at]) == PROF__KIND_TRACK) last = more = 0;
        if (!prof__record_timed(words[at])) continue;
        if (at >= late && tick < last && last - tick > behind && jumps < PROF__JUMPS) {
            late = last >= more ? prof__read_reaches(words, at + length, count, last - more) : 0;
            if (!late) {
                more += last - tick;
                tick = last;
                jumps++;
            }
        }
        if (tick > PROF__TICK_MASK) tick = PROF__TICK_MASK;
        if (tick > last) last = tick;
        if (tick > most) most = tick;
        if (write) words[at] = (words[at] & ~PROF__TICK_MASK) | tick;
    }
    return most;
}

/* Reads a segment of a ring into its place in the buffer. Returns NULL if it has gone or has changed. */
static const uint64_t *prof__read_page(const prof_trace *trace, prof__read_buffer *buffer,
                                       const prof__read_segment *segment)
{
    uint64_t *words = buffer->words + segment->first;
    size_t count = segment->end - segment->first;
    if (buffer->segment == segment) return buffer->words;
    buffer->chunk = 0;
    buffer->segment = NULL;
    if (!prof__read_ring_part(trace, (trace->chunks[segment->chunk].place + segment->first) * 8, words, count * 8))
        return NULL;
    if (trace->chunks[segment->chunk].texts) prof__read_seal(words, count);
    if (prof__read_mark(trace, words, count) != segment->mark) return NULL;
    if (trace->chunks[segment->chunk].jumps) prof__read_mend(words, count, trace->behind, 1);
    buffer->segment = segment;
    return buffer->words;
}

/* Returns the words of a chunk, at least those of this segment: inside the image, or in the buffer until the next call.
   Returns NULL if the words have gone, or have changed so that the tables do not fit them any more. */
static const uint64_t *prof__read_words(const prof_trace *trace, prof__read_buffer *buffer,
                                        const prof__read_segment *segment)
{
    const prof__read_chunk *chunk = &trace->chunks[segment->chunk];
    uint32_t size = PROF__LOAD(&chunk->size);
    prof__block block;
    if (!size && !trace->paged) return trace->image + chunk->place;
    if (!buffer->words) return NULL;
    if (!size) return prof__read_page(trace, buffer, segment);
    if (buffer->chunk == segment->chunk + (size_t)1) return buffer->words;
    if (size == PROF__NONE32 || !prof__read_block(trace, buffer, chunk->place, chunk->place + size, &block) ||
        block.size != size || block.sequence != chunk->sequence || block.words != chunk->words)
        return NULL;
    if (chunk->texts) prof__read_seal(buffer->words, chunk->words);
    if (prof__read_mark(trace, buffer->words, chunk->words) != chunk->mark) return NULL;
    if (chunk->jumps) prof__read_mend(buffer->words, chunk->words, trace->behind, 1);
    buffer->chunk = segment->chunk + (size_t)1;
    return buffer->words;
}

/* Copies words that are needed while their segment is not loaded. Returns the index of the copy in kept, or PROF__NONE
   if there is no memory. */
static size_t prof__read_keep(prof_trace *trace, const uint64_t *words, size_t count)
{
    size_t at = trace->kept_count;
    while (trace->kept_capacity - at < count)
        if (!prof__more_room(&trace->kept, &trace->kept_capacity, sizeof *trace->kept)) return PROF__NONE;
    memcpy(trace->kept + at, words, count * 8);
    trace->kept_count += count;
    return at;
}

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

/* The frames of one sample, from the outermost one on, as an EVENT has them. */
typedef struct prof__read_frames {
    uint64_t list[PROF__SAMPLE_DEPTH];
    uint32_t count;
} prof__read_frames;

/* Compares a chain, which is stored from the innermost frame on. */
static int prof__same_chain(const void *owner, size_t item, const void *key)
{
    const prof_trace *trace = (const prof_trace *)owner;
    const prof__read_chain *chain = &trace->chains[item];
    const prof__read_frames *frames = (const prof__read_frames *)key;
    uint32_t i;
    if (chain->count != frames->count) return 0;
    for (i = 0; i < chain->count; i++)
        if (trace->frames[chain->first + i] != frames->list[chain->count - 1 - i]) return 0;
    return 1;
}

/* Returns the number of a chain, which is added if it is new, or PROF__NONE if there is no memory. */
static size_t prof__chain_number(prof_trace *trace, const prof__read_frames *frames)
{
    uint64_t hash = prof__mix(frames->count);
    size_t found, first = trace->frame_count;
    uint32_t i;
    for (i = 0; i < frames->count; i++) hash = prof__scatter(hash ^ frames->list[i]);
    found = prof__read_find(&trace->chain_index, (uint32_t)hash, prof__same_chain, trace, frames);
    if (found != PROF__NONE) return found;
    for (i = frames->count; i; i--) {
        if (!PROF__ROOM(trace->frames, trace->frame_capacity, trace->frame_count)) return PROF__NONE;
        trace->frames[trace->frame_count++] = frames->list[i - 1];
    }
    found = PROF__NEW(trace->chain_index, (uint32_t)hash, trace->chains, trace->chain_capacity, trace->chain_count);
    if (found == PROF__NONE) return PROF__NONE;
    trace->chains[found].first = first;
    trace->chains[found].count = frames->count;
    return found;
}

static uint64_t prof__unpack_signed(prof__unpacker *bytes)
{
    uint64_t value = prof__unpack_integer(bytes);
    return value >> 1 ^ (0 - (value & 1));
}

/* Reads the next sample of an EVENT. Returns 0 if there is none, or what follows is damaged. */
static int prof__sample_read(prof__unpacker *bytes, prof__read_sample *sample, prof__read_frames *frames)
{
    uint64_t count = prof__unpack_integer(bytes), shared, outer, i;
    if (bytes->bad || !count || count > PROF__SAMPLE_DEPTH) return 0;
    shared = prof__unpack_integer(bytes);
    if (shared > count || shared > frames->count) return 0;
    sample->thread += (uint32_t)prof__unpack_signed(bytes);
    sample->ns += prof__unpack_integer(bytes);
    outer = shared ? frames->list[shared - 1] : 0;
    for (i = shared; i < count; i++) frames->list[i] = outer += prof__unpack_signed(bytes);
    frames->count = (uint32_t)count;
    return !bytes->bad;
}

/* Collects the EVENT of PROF__DEVICE_SAMPLES at this word. Returns 0 if there is no memory. */
static int prof__samples_take(prof_trace *trace, const uint64_t *words, size_t at, size_t count)
{
    const uint64_t *record = words + at;
    size_t length = at + 3 < count ? prof__record_length(record[3], count - at - 3) : 0;
    uint64_t period, lost, dropped;
    prof__read_frames frames;
    prof__read_sample sample;
    prof__unpacker bytes;
    if (length < 2 || (record[1] >> 40 & 0xFF) || prof__read_kind(record[3]) != PROF__KIND_DATA ||
        prof__record_holds(record[3]) != PROF_VALUE_STRING)
        return 1;
    memset(&sample, 0, sizeof sample);
    frames.count = 0;
    bytes.at = (const unsigned char *)(record + 4);
    bytes.end = bytes.at + (length - 1) * 8;
    bytes.bad = 0;
    period = prof__unpack_integer(&bytes);
    lost = prof__unpack_integer(&bytes);
    dropped = prof__unpack_integer(&bytes);
    if (bytes.bad || !period || lost > UINT32_MAX || dropped > UINT32_MAX) return 1;
    trace->info.sample_period_ns = period;
    trace->info.samples_lost += lost + dropped;
    trace->info.samples_dropped += dropped;
    sample.ns = record[2];
    sample.processor = (uint32_t)(record[1] >> 8);
    while (prof__sample_read(&bytes, &sample, &frames)) {
        size_t chain = prof__chain_number(trace, &frames);
        if (chain == PROF__NONE ||
            !PROF__ROOM(trace->sample_items, trace->sample_item_capacity, trace->sample_item_count))
            return 0;
        sample.chain = (uint32_t)chain;
        trace->sample_items[trace->sample_item_count++] = sample;
    }
    return 1;
}

/*-- DELAYS ----------------------------------------------------------------------------------------------  >>delays --
   A thread's switches say when it stopped and when it ran again, but not when it was woken in between. Two readings of
   its time in the run queue say how much of the time between them it was ready; without the times in which it was
   preempted, that is the time after it was woken. If it waited only once between them, or once for much longer than at
   all other times, that is known of this wait, whose end becomes ready. Else only the sum is known: see
   prof_split.woken_ns. */

#define PROF__DELAY_LEAST 1000 /* ns: what is less stays waiting */
#define PROF__DELAY_NOISE 20000 /* ns: such a sum is what it takes to wake a thread */
#define PROF__DELAY_SURE 100000 /* ns: other waits that are no longer than this in all, or a twentieth, do not matter */

static int prof__delays_add(prof_trace *trace, uint64_t ns, uint64_t delay, uint32_t thread)
{
    prof__read_delay *one = (prof__read_delay *)PROF__MORE(trace->delays, trace->delay_capacity, trace->delay_count);
    if (!one) return 0;
    one->ns = ns;
    one->delay = delay;
    one->thread = thread;
    return 1;
}

/* Collects the EVENT of PROF__DEVICE_DELAYS at this word. Returns 0 if there is no memory. */
static int prof__delays_take(prof_trace *trace, const uint64_t *words, size_t at, size_t count)
{
    const uint64_t *record = words + at;
    size_t length = at + 3 < count ? prof__record_length(record[3], count - at - 3) : 0, i;
    if (length < 2 || record[3] >> 16 != (uint64_t)PROF__KIND_DATA << (PROF__KIND_SHIFT - 16)) return 1;
    for (i = 1; i < length; i++)
        if (!prof__delays_add(trace, record[2], prof__delay_ns(record[3 + i]), prof__delay_thread(record[3 + i])))
            return 0;
    return 1;
}

static int prof__delay_order(const void *a, const void *b)
{
    const prof__read_delay *x = (const prof__read_delay *)a, *y = (const prof__read_delay *)b;
    if (x->thread != y->thread) return x->thread < y->thread ? -1 : 1;
    if (x->ns != y->ns) return x->ns < y->ns ? -1 : 1;
    return x->delay < y->delay ? -1 : x->delay > y->delay;
}

/* The end of a wait in which the thread was ready. */
typedef struct prof__read_woken {
    size_t state;
    int64_t ns;
} prof__read_woken;

/* A thread whose waits are looked at, from state to state. */
typedef struct prof__delay_walk {
    prof_trace *trace;
    uint32_t thread;
    size_t state, end;
    prof__read_woken *woken;
    size_t woken_count, woken_capacity;
} prof__delay_walk;

/* What a thread did between two readings. */
typedef struct prof__delay_span {
    int64_t ready, waited, longest;
    size_t longest_state;
    int known; /* 0: a part of it is not */
} prof__delay_span;

/* Adds up the states that end after a reading, up to the next one, and moves behind them. */
static prof__delay_span prof__delay_span_of(prof__delay_walk *walk, int64_t from, int64_t to)
{
    const prof_state *states = walk->trace->states;
    prof__delay_span span;
    memset(&span, 0, sizeof span);
    while (walk->state < walk->end && states[walk->state].end_ns <= from) walk->state++;
    span.known = walk->state < walk->end && states[walk->state].start_ns <= from;
    for (; walk->state < walk->end && states[walk->state].end_ns <= to; walk->state++) {
        const prof_state *state = &states[walk->state];
        int64_t ns = state->end_ns - state->start_ns;
        int stops = state->kind != PROF_STATE_RUNNING; /* then it runs, or what it does is not known */
        if (walk->state + 1 == walk->end || state[1].start_ns != state->end_ns || state->kind == PROF_STATE_UNKNOWN ||
            (stops && state[1].kind != PROF_STATE_RUNNING))
            span.known = 0;
        if (state->kind == PROF_STATE_READY) span.ready += ns;
        if (state->kind != PROF_STATE_WAITING) continue;
        span.waited += ns;
        if (ns <= span.longest) continue;
        span.longest = ns;
        span.longest_state = walk->state;
    }
    return span;
}

/* Leaves out readings so soon after which the thread came to run that they may be of before or after that. Returns how
   many are left. */
static size_t prof__delays_sure(const prof__delay_walk *walk, prof__read_delay *readings, size_t count)
{
    const prof_state *states = walk->trace->states;
    size_t i, kept = 0, at = walk->state;
    for (i = 0; i < count; i++) {
        int64_t ns = prof__read_since(walk->trace, readings[i].ns);
        while (at < walk->end && states[at].end_ns <= ns) at++;
        if (at < walk->end && states[at].kind != PROF_STATE_RUNNING && states[at].end_ns <= ns + PROF__DELAY_LATE)
            continue;
        readings[kept++] = readings[i];
    }
    return kept;
}

/* Notes what two readings say. Returns 0 if there is no memory. */
static int prof__delay_note(prof__delay_walk *walk, const prof__read_delay *from, const prof__read_delay *to)
{
    prof_trace *trace = walk->trace;
    int64_t from_ns = prof__read_since(trace, from->ns), to_ns = prof__read_since(trace, to->ns), all;
    prof__delay_span span = prof__delay_span_of(walk, from_ns, to_ns);
    uint64_t delay = (to->delay - from->delay) & PROF__DELAY_MASK;
    if (!span.known || delay > PROF__DELAY_MASK / 2) return 1;
    all = (int64_t)delay - span.ready;
    if (all > span.waited) all = span.waited;
    if (all < PROF__DELAY_LEAST) return 1;
    if (span.waited - span.longest <= PROF__DELAY_SURE || span.waited - span.longest <= span.longest / 20) {
        prof__read_woken *woken =
            (prof__read_woken *)PROF__MORE(walk->woken, walk->woken_capacity, walk->woken_count);
        if (!woken) return 0;
        woken->state = span.longest_state;
        woken->ns = all < span.longest ? all : span.longest;
    } else if (all >= PROF__DELAY_NOISE) {
        prof__read_unplaced *unplaced = (prof__read_unplaced *)PROF__MORE(trace->unplaced, trace->unplaced_capacity,
                                                                          trace->unplaced_count);
        if (!unplaced) return 0;
        unplaced->thread = walk->thread;
        unplaced->from = from_ns;
        unplaced->to = to_ns;
        unplaced->ns = all;
    }
    return 1;
}

/* Splits the waits that were noted: from the last one on, so that each state is moved once. Returns 0 if there is no
   memory. */
static int prof__delays_split(prof__delay_walk *walk)
{
    prof_trace *trace = walk->trace;
    size_t i, left = walk->woken_count, to;
    for (i = 0; i < left; i++) {
        if (!PROF__ROOM(trace->states, trace->state_capacity, trace->state_count) ||
            !PROF__ROOM(trace->state_marks, trace->state_mark_capacity, trace->state_count))
            return 0;
        trace->state_count++;
    }
    to = trace->state_count;
    for (i = walk->end; left; i--) {
        const prof__read_woken *woken = &walk->woken[left - 1];
        prof_state state = trace->states[i - 1];
        unsigned char marks = trace->state_marks[i - 1];
        if (woken->state == i - 1) {
            trace->states[--to] = state;
            trace->states[to].kind = PROF_STATE_READY;
            trace->states[to].start_ns = state.end_ns - woken->ns;
            trace->state_marks[to] = 0;
            state.end_ns -= woken->ns;
            left--;
        }
        trace->states[--to] = state;
        trace->state_marks[to] = marks;
    }
    return 1;
}

/* Splits the waits of a thread, whose states are the trace's last ones. readings: of this thread, in order. Returns 0
   if there is no memory. */
static int prof__delays_apply(prof_trace *trace, uint32_t thread, size_t first, prof__read_delay *readings,
                              size_t count)
{
    prof__delay_walk walk;
    size_t i;
    int good = 1;
    memset(&walk, 0, sizeof walk);
    walk.trace = trace;
    walk.thread = thread;
    walk.state = first;
    walk.end = trace->state_count;
    count = prof__delays_sure(&walk, readings, count);
    for (i = 0; i + 1 < count && good; i++) good = prof__delay_note(&walk, &readings[i], &readings[i + 1]);
    good = good && prof__delays_split(&walk);
    free(walk.woken);
    return good;
}

/* Finds the readings of a thread. *next: where to look; moves on behind them. Returns how many there are. */
static size_t prof__delays_of(const prof_trace *trace, uint32_t thread, size_t *next)
{
    size_t first;
    while (*next < trace->delay_count && trace->delays[*next].thread < thread) ++*next;
    first = *next;
    while (*next < trace->delay_count && trace->delays[*next].thread == thread) ++*next;
    return *next - first;
}

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

/*-- tracks of devices --
   While chunks are cut into segments, the events of devices are collected from all threads. They stay in memory, and
   are sorted once by device, row and time. Clock pairs become lines from a device's ticks to nanoseconds. The ticks of
   a counter that wraps are first converted to a scale without wraps, which starts in the middle of the 64-bit range. */

#define PROF__DEVICE_SUBROWS 64
#define PROF__DEVICE_MIDDLE ((uint64_t)1 << 63) /* a multiple of the period of every counter */

static int prof__device_add_pair(prof_trace *trace, uint32_t device, uint64_t ticks, uint64_t monotonic_ns)
{
    prof__read_pairing *pair =
        (prof__read_pairing *)PROF__MORE(trace->pairings, trace->pairing_capacity, trace->pairing_count);
    if (!pair) return 0;
    pair->device = device;
    pair->tick = ticks;
    pair->ns = prof__read_since(trace, monotonic_ns);
    return 1;
}

/* Returns the index of a name, which is copied, or PROF__NONE if there is no memory. */
static size_t prof__device_name(prof_trace *trace, const char *text)
{
    size_t name = prof__read_find(&trace->name_index, prof__text_hash(text), prof__read_same_name, trace, text);
    if (name != PROF__NONE) return name;
    text = prof__read_text(trace, text, "");
    return text ? prof__read_name(trace, text) : PROF__NONE;
}

/* Returns the length of the record at this word if it is a part, of this kind, of a device's event, else 0. Also
   terminates the record's string, because the words have been cut only up to here. The flags of other events' arguments
   show that a record is not such a part. */
static size_t prof__device_part(uint64_t *words, size_t at, size_t count, unsigned kind)
{
    size_t length = at < count ? prof__record_length(words[at], count - at) : 0;
    if (!length || prof__read_kind(words[at]) != kind || words[at] & (PROF__ARG_KEY | PROF__ARG_TO)) return 0;
    prof__read_seal_text(words + at, length);
    return length;
}

static int prof__device_is_text(uint64_t head) { return (head >> 32 & 0xFF) == PROF_VALUE_STRING; }

/* Copies the records of an event's arguments to kept, one after the other, and counts them. Returns 0 if there is no
   memory. */
static int prof__device_args(prof_trace *trace, prof__read_device_record *e, uint64_t *words, size_t at, size_t count)
{
    size_t key, value;
    e->args = trace->kept_count;
    for (; (key = prof__device_part(words, at, count, PROF__KIND_DATA)) != 0; at += key + value) {
        value = prof__device_part(words, at + key, count, PROF__KIND_DATA);
        if (!value || !prof__device_is_text(words[at])) break;
        if (prof__read_keep(trace, words + at, key + value) == PROF__NONE) return 0;
        e->arg_count++;
    }
    return 1;
}

/* Collects the event of a device, if the EVENT record at this word is one. Returns 0 if there is no memory. */
static int prof__device_take(prof_trace *trace, size_t chunk, uint64_t *words, size_t at, size_t count)
{
    const uint64_t *record = words + at;
    prof__read_device_record e;
    size_t length, name;
    memset(&e, 0, sizeof e);
    e.type = (uint8_t)(record[1] & 0xFF);
    if (e.type == PROF__DEVICE_SWITCHES) return prof__switches_take(trace, chunk, words, at, count);
    if (e.type == PROF__DEVICE_FAULTS) return prof__faults_take(trace, words, at, count);
    if (e.type == PROF__DEVICE_DELAYS) return prof__delays_take(trace, words, at, count);
    if (e.type == PROF__DEVICE_SAMPLES) return prof__samples_take(trace, words, at, count);
    if (e.type < PROF__DEVICE_SCOPE || e.type > PROF__DEVICE_PAIR) {
        trace->info.unknown++;
        return 1;
    }
    e.row = (uint32_t)(record[1] >> 8);
    e.time = record[2];
    e.tick = prof__read_tick(trace->chunks[chunk].tick, record[0], 0);
    e.id = prof__read_event_id(trace, &trace->chunks[chunk], at);
    e.site = (uint32_t)prof__read_site_of(trace, prof__read_id(record[0]));
    e.name = trace->sites[e.site].name;
    at += 3;
    length = prof__device_part(words, at, count, PROF__KIND_NAME);
    if (length > 1) {
        name = prof__device_name(trace, (const char *)(words + at + 1));
        if (name == PROF__NONE) return 0;
        e.name = (uint32_t)name;
        at += length;
    }
    length = prof__device_part(words, at, count, PROF__KIND_DATA);
    if (length > 1 && !prof__device_is_text(words[at])) {
        e.value = (uint8_t)(words[at] >> 32);
        e.number = words[at + 1];
        if (length > 2) e.flow = words[at + 2];
        at += length;
    }
    if (e.type == PROF__DEVICE_PAIR) return prof__device_add_pair(trace, e.row, e.time, e.number);
    if (!prof__device_args(trace, &e, words, at, count) ||
        !PROF__ROOM(trace->device_records, trace->device_record_capacity, trace->device_record_count))
        return 0;
    trace->device_records[trace->device_record_count++] = e;
    return 1;
}

/*-- devices and rows --*/

static int prof__device_order(const void *a, const void *b)
{
    uint32_t x = ((const prof__read_device *)a)->number, y = ((const prof__read_device *)b)->number;
    return x < y ? -1 : x > y;
}

static int prof__row_order(const void *a, const void *b)
{
    uint32_t x = ((const prof__read_row *)a)->number, y = ((const prof__read_row *)b)->number;
    return x < y ? -1 : x > y;
}

/* Returns the index of the device with this number, or 0: the first device stands for those that meta lacks. */
static uint32_t prof__device_find(const prof_trace *trace, uint32_t number)
{
    prof__read_device key, *found;
    key.number = number;
    found = (prof__read_device *)bsearch(&key, trace->devices, trace->device_count, sizeof key, prof__device_order);
    return found ? (uint32_t)(found - trace->devices) : 0;
}

static uint32_t prof__row_find(const prof_trace *trace, uint32_t number)
{
    prof__read_row key, *found;
    key.number = number;
    found = (prof__read_row *)bsearch(&key, trace->rows, trace->row_count, sizeof key, prof__row_order);
    return found ? (uint32_t)(found - trace->rows) : 0;
}

static int prof__device_add(prof_trace *trace, uint32_t number, size_t name, uint64_t bits, uint64_t hz)
{
    prof__read_device *device =
        (prof__read_device *)PROF__MORE(trace->devices, trace->device_capacity, trace->device_count);
    if (!device) return 0;
    device->number = number;
    device->name = (uint32_t)name;
    device->wraps = bits > 0 && bits < 64;
    device->mask = device->wraps ? ((uint64_t)1 << bits) - 1 : ~(uint64_t)0;
    device->hz = hz <= (uint64_t)1 << 50 ? hz : 0;
    return 1;
}

static int prof__row_add(prof_trace *trace, uint32_t number, size_t name, uint32_t device)
{
    prof__read_row *row = (prof__read_row *)PROF__MORE(trace->rows, trace->row_capacity, trace->row_count);
    if (!row) return 0;
    row->number = number;
    row->name = (uint32_t)name;
    row->device = device;
    return 1;
}

/* Reads the devices and rows in meta, and their clock pairs. Returns 0 if there is no memory. */
static int prof__device_meta(prof_trace *trace)
{
    const uint64_t *words = trace->image + trace->header.meta_offset / 8, *field;
    size_t count = (size_t)(trace->header.meta_size / 8), at, length, slot;
    size_t unnamed = prof__device_name(trace, "?"); /* for devices and rows for which meta had no space */
    if (unnamed == PROF__NONE || !prof__device_add(trace, 0, unnamed, 0, 0) || !prof__row_add(trace, 0, unnamed, 0))
        return 0;
    for (at = 0; (length = prof__read_meta_words(words, at, count)) != 0; at += length) {
        uint32_t id = (uint32_t)words[at];
        field = words + at + 1;
        if (!id) continue;
        if (words[at] >> 56 == PROF__META_DEVICE && length >= PROF__DEVICE_WORDS) {
            if (!prof__device_add(trace, id, prof__read_string_name(trace, field[0] & 0xFFFFFFFFu), field[0] >> 32,
                                  field[1]))
                return 0;
            for (slot = 2; slot + 3 <= PROF__DEVICE_WORDS - 1; slot += 3)
                if (field[slot + 2] == prof__device_check(field[slot], field[slot + 1]) &&
                    !prof__device_add_pair(trace, id, field[slot], field[slot + 1]))
                    return 0;
        } else if (words[at] >> 56 == PROF__META_ROW && length >= PROF__ROW_WORDS) {
            if (!prof__row_add(trace, id, prof__read_string_name(trace, field[0] & 0xFFFFFFFFu),
                               (uint32_t)(field[0] >> 32)))
                return 0;
        }
    }
    qsort(trace->devices, trace->device_count, sizeof *trace->devices, prof__device_order);
    qsort(trace->rows, trace->row_count, sizeof *trace->rows, prof__row_order);
    for (at = 0; at < trace->row_count; at++) trace->rows[at].device = prof__device_find(trace, trace->rows[at].device);
    for (at = 0; at < trace->pairing_count; at++)
        trace->pairings[at].device = prof__device_find(trace, trace->pairings[at].device);
    return 1;
}

/*-- clocks --*/

/* Returns the greatest tick on the scale without wraps that is at most `latest` and has the low bits of ticks. */
static uint64_t prof__device_unwrap(const prof__read_device *device, uint64_t latest, uint64_t ticks)
{
    return latest - ((latest - ticks) & device->mask);
}

/* Returns how many ticks ns nanoseconds are, limited to about 2^63. */
static uint64_t prof__device_ticks(double hz, int64_t ns)
{
    double ticks = (double)ns * (hz / 1e9);
    if (!(ticks < 9e18)) ticks = 9e18;
    if (ticks < -9e18) ticks = -9e18;
    return (uint64_t)(int64_t)ticks;
}

static int prof__pairing_order(const void *a, const void *b)
{
    const prof__read_pairing *x = (const prof__read_pairing *)a, *y = (const prof__read_pairing *)b;
    if (x->device != y->device) return x->device < y->device ? -1 : 1;
    if (x->ns != y->ns) return x->ns < y->ns ? -1 : 1;
    return x->tick < y->tick ? -1 : x->tick > y->tick;
}

/* Keeps those sorted pairs of a device in which both clocks go forward, and converts them to the scale without wraps.
   Returns how many are left. */
static size_t prof__device_pairs(prof__read_device *device, prof__read_pairing *pairs, size_t count)
{
    prof__read_pairing last = pairs[0];
    size_t i, kept = 0;
    for (i = 0; i < count; i++) {
        prof__read_pairing pair = pairs[i], before = pairs[kept ? kept - 1 : 0];
        if (i && pair.ns == last.ns && pair.tick == last.tick) continue; /* the pair is in meta as well as in a chunk */
        last = pair;
        if (device->wraps && !kept)
            pair.tick = PROF__DEVICE_MIDDLE + (pair.tick & device->mask);
        else if (device->wraps)
            pair.tick = prof__device_unwrap(
                device,
                device->hz
                    ? before.tick + device->mask / 2 + prof__device_ticks(prof__real(device->hz), pair.ns - before.ns)
                    : before.tick + device->mask,
                pair.tick);
        if (kept && (pair.tick <= before.tick || pair.ns <= before.ns))
            device->refused++;
        else
            pairs[kept++] = pair;
    }
    return kept;
}

/* Makes a line that begins at pair a and has the slope from pair b to pair c. */
static void prof__device_line(prof__read_line *line, const prof__read_pairing *a, const prof__read_pairing *b,
                              const prof__read_pairing *c)
{
    line->tick = a->tick;
    line->ns = a->ns;
    prof__read_slope(line, c->tick - b->tick, (uint64_t)(c->ns - b->ns));
}

/* Makes a device's lines: one before the first pair, and one from each pair on. Returns 0 if there is no memory. */
static int prof__device_lines(prof__read_device *device, const prof__read_pairing *pairs, size_t count)
{
    const prof__read_pairing *first = pairs, *last = pairs + count - 1;
    /* A stated rate is better than one that is measured over less than 10 ms. */
    int measured = count > 1 && last->ns - first->ns >= 10000000;
    size_t i;
    device->lines = (prof__read_line *)calloc(count + 1, sizeof *device->lines);
    if (!device->lines) return 0;
    device->line_count = count + 1;
    device->rate = device->hz ? prof__real(device->hz) : 1e9;
    if (count > 1 && (measured || !device->hz))
        device->rate = prof__real(last->tick - first->tick) * 1e9 / (double)(last->ns - first->ns);
    for (i = 0; i + 1 < count; i++) prof__device_line(&device->lines[i + 1], &pairs[i], &pairs[i], &pairs[i + 1]);
    if (count > 1 && (measured || !device->hz)) {
        int early = first[1].ns - first->ns >= 1000000000, late = last->ns - last[-1].ns >= 1000000000;
        prof__device_line(&device->lines[0], first, first, early ? first + 1 : last);
        prof__device_line(&device->lines[count], last, late ? last - 1 : first, last);
    } else {
        device->lines[0].tick = first->tick;
        device->lines[0].ns = first->ns;
        prof__read_slope(&device->lines[0], device->hz ? device->hz : 1000000000u, 1000000000u);
        device->lines[count] = device->lines[0];
        device->lines[count].tick = last->tick;
        device->lines[count].ns = last->ns;
    }
    return 1;
}

/* Returns a clock pair for a device that has none, on the assumption that its first recorded event ended when it was
   recorded. */
static prof__read_pairing prof__device_guess(const prof_trace *trace, const prof__read_device *device)
{
    const prof__read_device_record *first = &trace->device_records[device->first - 1];
    prof__read_pairing pair;
    size_t hint = 0;
    pair.device = 0;
    pair.tick = first->time + (first->type == PROF__DEVICE_SCOPE ? first->number : 0);
    if (pair.tick < first->time && !device->wraps) pair.tick = first->time;
    if (device->wraps) pair.tick = PROF__DEVICE_MIDDLE + (pair.tick & device->mask);
    pair.ns = prof__read_ns(trace, first->tick, &hint);
    return pair;
}

/* Makes the lines of each device that has events, from its clock pairs or from a guess. Returns 0 if there is no
   memory. */
static int prof__device_clocks(prof_trace *trace)
{
    size_t i, at = 0, end;
    if (trace->pairing_count > 1)
        qsort(trace->pairings, trace->pairing_count, sizeof *trace->pairings, prof__pairing_order);
    for (i = 0; i < trace->device_count; i++, at = end) {
        prof__read_device *device = &trace->devices[i];
        prof__read_pairing guess, *pairs = trace->pairings ? trace->pairings + at : NULL;
        for (end = at; end < trace->pairing_count && trace->pairings[end].device == i;) end++;
        device->pairs = end > at ? prof__device_pairs(device, pairs, end - at) : 0;
        device->alignment = device->pairs > 1                 ? PROF_ALIGN_PAIRS
                            : device->pairs == 1 && device->hz ? PROF_ALIGN_RATE
                                                               : PROF_ALIGN_GUESS;
        if (!device->first) continue;
        if (!device->pairs) {
            guess = prof__device_guess(trace, device);
            pairs = &guess;
        }
        if (!prof__device_lines(device, pairs, device->pairs ? (size_t)device->pairs : 1)) return 0;
    }
    return 1;
}

/*-- times and tracks --*/

/* Returns the device's tick at a time of the host, on the scale without wraps. */
static uint64_t prof__device_at(const prof__read_device *device, int64_t ns)
{
    size_t low = 0, high = device->line_count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (device->lines[middle].ns <= ns)
            low = middle;
        else
            high = middle;
    }
    return device->lines[low].tick + prof__device_ticks(device->rate, ns - device->lines[low].ns);
}

static int64_t prof__device_ns(const prof__read_device *device, uint64_t tick, size_t *hint)
{
    return prof__read_on_lines(device->lines, device->line_count, tick, hint);
}

/* Converts an event's times from ticks of the device to nanoseconds. Returns 0 if the event ended before the session
   began. */
static int prof__device_place(const prof_trace *trace, prof__read_device_record *e, size_t *host_hint)
{
    const prof__read_device *device = &trace->devices[e->device];
    uint64_t begin = e->time, ticks = e->type == PROF__DEVICE_SCOPE ? e->number & device->mask : 0, end = begin + ticks;
    size_t hint = 0;
    /* An event ends before it is recorded, as far as the clock pairs are exact. That tells how often the counter has
       wrapped. */
    if (device->wraps) {
        uint64_t now = prof__device_at(device, prof__read_ns(trace, e->tick, host_hint));
        end = prof__device_unwrap(device, now + device->mask / 16, end);
        begin = end - ticks;
    } else if (end < begin) {
        end = begin;
        e->flags |= PROF_TRUNCATED_END;
    }
    e->start_ns = prof__device_ns(device, begin, &hint);
    e->end_ns = prof__device_ns(device, end, &hint);
    if (e->start_ns >= 0) return 1;
    if (e->end_ns <= 0) return 0;
    e->start_ns = 0;
    e->flags |= PROF_TRUNCATED_BEGIN;
    return 1;
}

static int prof__device_record_order(const void *a, const void *b)
{
    const prof__read_device_record *x = (const prof__read_device_record *)a, *y = (const prof__read_device_record *)b;
    if (x->device != y->device) return x->device < y->device ? -1 : 1;
    if (x->row != y->row) return x->row < y->row ? -1 : 1;
    if (x->subrow != y->subrow) return x->subrow < y->subrow ? -1 : 1;
    if (x->start_ns != y->start_ns) return x->start_ns < y->start_ns ? -1 : 1;
    /* The longer event first, because it may contain the other. */
    if (x->end_ns != y->end_ns) return x->end_ns > y->end_ns ? -1 : 1;
    if (x->depth != y->depth) return x->depth < y->depth ? -1 : 1;
    if (x->type != y->type) return x->type < y->type ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

/* The ends of the scopes that are open on a subrow, the outermost first. A row whose events overlap without nesting is
   shown as several subrows. */
typedef struct prof__read_subrow {
    int64_t *ends;
    size_t depth, capacity;
} prof__read_subrow;

/* Puts an event on the first subrow in which it nests. Returns 0 if there is no memory. */
static int prof__device_nest(prof__read_subrow *subrows, prof__read_device_record *e)
{
    prof__read_subrow *subrow = NULL;
    int scope = e->type == PROF__DEVICE_SCOPE, fits = 0;
    for (e->subrow = 0; !fits && e->subrow < PROF__DEVICE_SUBROWS; e->subrow += !fits) {
        subrow = &subrows[e->subrow];
        while (subrow->depth && subrow->ends[subrow->depth - 1] <= e->start_ns) subrow->depth--;
        fits = !scope || !subrow->depth || subrow->ends[subrow->depth - 1] >= e->end_ns;
    }
    if (!fits) { /* no subrow is left: the event is cut so that it fits into the last one */
        e->subrow = PROF__DEVICE_SUBROWS - 1;
        e->end_ns = subrow->ends[subrow->depth - 1];
        e->flags |= PROF_TRUNCATED_END;
    }
    e->depth = (uint32_t)subrow->depth;
    if (!scope) return 1;
    if (!PROF__ROOM(subrow->ends, subrow->capacity, subrow->depth)) return 0;
    subrow->ends[subrow->depth++] = e->end_ns;
    return 1;
}

/* Puts all events, which are sorted, on subrows. Returns 1 if each row needed only its first subrow, 0 if not, -1 if
   there is no memory. */
static int prof__device_nest_all(prof_trace *trace)
{
    prof__read_subrow subrows[PROF__DEVICE_SUBROWS];
    size_t i, j;
    int result = 1;
    memset(subrows, 0, sizeof subrows);
    for (i = 0; result >= 0 && i < trace->device_record_count; i++) {
        prof__read_device_record *e = &trace->device_records[i];
        if (i && (e->device != e[-1].device || e->row != e[-1].row))
            for (j = 0; j < PROF__DEVICE_SUBROWS; j++) subrows[j].depth = 0;
        if (!prof__device_nest(subrows, e)) result = -1;
        if (result > 0 && e->subrow) result = 0;
    }
    for (j = 0; j < PROF__DEVICE_SUBROWS; j++) free(subrows[j].ends);
    return result;
}

/* Describes the track of the events from first up to end, which belong to one subrow. Returns 0 if there is no
   memory. */
static int prof__device_track(prof_trace *trace, prof__read_track *track, size_t first, size_t end)
{
    const prof__read_device_record *e = &trace->device_records[first];
    const prof__read_row *row = &trace->rows[e->row];
    const prof__read_device *device = &trace->devices[e->device];
    char number[24] = " #";
    memset(track, 0, sizeof *track);
    track->about.name = trace->names[row->name];
    track->about.device = trace->names[device->name];
    track->about.alignment = device->alignment;
    track->about.device_hz = device->pairs > 1 || device->hz ? device->rate : 0;
    track->about.pairs = device->pairs;
    track->about.pairs_refused = device->refused;
    track->about.early = row->early;
    track->about.id = trace->track_count ? track[-1].about.id + 1 : 1;
    if (e->subrow) {
        number[2 + prof__digits(number + 2, e->subrow + 1)] = 0;
        track->about.name = prof__read_text(trace, track->about.name, number);
        if (!track->about.name) return 0;
    }
    first += !e->type;
    e += !e->type;
    track->device_record = first;
    track->device_record_count = end - first;
    track->about.event_count = end - first;
    if (first < end) track->about.first_ns = e->start_ns;
    for (; first < end; first++, e++) {
        track->about.event_count += e->flow != 0;
        if (e->end_ns > track->about.last_ns) track->about.last_ns = e->end_ns;
        if (e->arg_count > track->max_event_args) track->max_event_args = e->arg_count;
    }
    trace->info.event_count += track->about.event_count;
    if (track->about.last_ns > trace->info.duration_ns) trace->info.duration_ns = track->about.last_ns;
    trace->track_count++;
    return 1;
}

/* Finds the row and the device of each event, and for each device its event that was recorded first. */
static void prof__device_assign(prof_trace *trace)
{
    size_t i;
    for (i = 0; i < trace->device_record_count; i++) {
        prof__read_device_record *e = &trace->device_records[i];
        prof__read_device *device;
        e->row = prof__row_find(trace, e->row);
        e->device = trace->rows[e->row].device;
        device = &trace->devices[e->device];
        if (!device->first || e->tick < trace->device_records[device->first - 1].tick) device->first = i + 1;
    }
}

/* Adds the tracks of devices after those of threads. Returns 0 if there is no memory. */
static int prof__device_tracks(prof_trace *trace)
{
    prof__read_track *tracks;
    size_t i, from, kept = 0, count = 0, hint = 0;
    int nested;
    if (!trace->device_record_count) return 1;
    if (!prof__device_meta(trace)) return 0;
    prof__device_assign(trace);
    if (!prof__device_clocks(trace)) return 0;
    for (i = 0; i < trace->device_record_count; i++) {
        prof__read_device_record e = trace->device_records[i];
        if (!prof__device_place(trace, &e, &hint)) {
            if (trace->rows[e.row].early++) continue;
            /* One placeholder stands for all such events of a row, so that the row has a track, which says how many
               there were. */
            e.type = 0;
            e.start_ns = e.end_ns = -1;
        }
        trace->device_records[kept++] = e;
    }
    trace->device_record_count = kept;
    qsort(trace->device_records, kept, sizeof *trace->device_records, prof__device_record_order);
    nested = prof__device_nest_all(trace);
    if (nested < 0) return 0;
    if (!nested) qsort(trace->device_records, kept, sizeof *trace->device_records, prof__device_record_order);
#define PROF__SAME_TRACK(a, b) ((a).device == (b).device && (a).row == (b).row && (a).subrow == (b).subrow)
    for (i = 0; i < kept; i++) count += !i || !PROF__SAME_TRACK(trace->device_records[i], trace->device_records[i - 1]);
    tracks = (prof__read_track *)realloc(trace->tracks, (trace->track_count + count + 1) * sizeof *tracks);
    if (!tracks) return 0;
    trace->tracks = tracks;
    for (from = 0, i = 1; i <= kept; i++) {
        if (i < kept && PROF__SAME_TRACK(trace->device_records[i], trace->device_records[i - 1])) continue;
        if (!prof__device_track(trace, &trace->tracks[trace->track_count], from, i)) return 0;
        from = i;
    }
    return 1;
}

/*-- a counter that begins again --*/

/* Returns roughly how many ticks a second has: as measured from the session's start to this pair, else as measured at
   the start or as stated. */
static uint64_t prof__read_rate(const prof_trace *trace, const prof__pair *to)
{
    const prof__pair *from = &trace->header.first;
    uint64_t ns = to->monotonic_ns - from->monotonic_ns, ticks = to->tick - from->tick;
    if (to->monotonic_ns > from->monotonic_ns + 10000000 && to->tick > from->tick) {
        double hz = (double)ticks * 1e9 / (double)ns;
        return hz < 1e18 ? (uint64_t)hz + 1 : (uint64_t)1000000000000000000;
    }
    if (trace->start_hz) return trace->start_hz;
    return trace->header.tick_hz ? trace->header.tick_hz : 1000000000u;
}

/* Adds the epoch of the session's start. If the counter is in the upper half of 64 bits, ticks are counted from its
   start, because it may pass 2^64. Returns 0 if there is no memory. */
static int prof__read_epochs_begin(prof_trace *trace)
{
    prof__read_epoch *epoch = (prof__read_epoch *)PROF__MORE(trace->epochs, trace->epoch_capacity, trace->epoch_count);
    if (!epoch) return 0;
    if (trace->header.first.tick >> 63) epoch->shift = ((uint64_t)1 << 41) - trace->header.first.tick;
    trace->header.first.tick += epoch->shift;
    trace->latest = trace->header.first;
    trace->behind = prof__read_rate(trace, &trace->latest) / 1000 + 1;
    return 1;
}

/* Notes that the counter was reset between the newest pair and this one. tick: where the counter would be now without
   the reset. */
static void prof__read_epoch_add(prof_trace *trace, const prof__pair *pair, uint64_t tick)
{
    prof__read_epoch *epoch;
    prof__read_gap *gap;
    if (trace->epoch_count > 100) return;
    epoch = (prof__read_epoch *)PROF__MORE(trace->epochs, trace->epoch_capacity, trace->epoch_count);
    gap = (prof__read_gap *)PROF__MORE(trace->gaps, trace->gap_capacity, trace->gap_count);
    if (!epoch || !gap) return; /* without memory, later ticks are shown at the time of the reset */
    epoch->monotonic_ns = pair->monotonic_ns;
    epoch->shift = tick - pair->tick;
    gap->from = trace->latest.tick;
    gap->to = tick;
    gap->monotonic_ns = pair->monotonic_ns;
    gap->restarts = 1;
}

/* Returns a clock pair with the tick that the counter would have if it had never been reset. To be called for the
   chunks' pairs in nearly their order of time. */
static prof__pair prof__read_unwrap(prof_trace *trace, const prof__pair *pair)
{
    prof__pair now = *pair;
    size_t i = trace->epoch_count;
    while (i > 1 && pair->monotonic_ns < trace->epochs[i - 1].monotonic_ns) i--;
    now.tick += trace->epochs[i - 1].shift;
    if (i < trace->epoch_count) return now;
    uint64_t reached = trace->latest.tick > trace->reached ? trace->latest.tick : trace->reached;
    if (now.tick < reached && now.monotonic_ns > trace->latest.monotonic_ns) {
        uint64_t rate = prof__read_rate(trace, &trace->latest), ns = now.monotonic_ns - trace->latest.monotonic_ns;
        double ticks = (double)ns / 1e9 * (double)rate;
        /* A smaller difference is one between processors. */
        if ((reached - now.tick > trace->behind || ns > 20000000) && ticks < 1e18) {
            now.tick = trace->latest.tick + (uint64_t)ticks;
            if (now.tick < reached) now.tick = reached;
            prof__read_epoch_add(trace, pair, now.tick);
        }
    }
    if (now.tick > trace->latest.tick) trace->latest = now;
    return now;
}

/* Corrects the ticks in the header, and in a pair of the present time if now is not NULL. */
static void prof__read_epochs_end(prof_trace *trace, prof__pair *now)
{
    prof__header *h = &trace->header;
    uint64_t last = h->last.tick;
    if (h->last.monotonic_ns > h->first.monotonic_ns)
        h->last = prof__read_unwrap(trace, &h->last);
    else
        h->last.tick += trace->epochs[0].shift;
    if (h->copy_tick) h->copy_tick += h->last.tick - last;
    if (now) *now = prof__read_unwrap(trace, now);
}

/*-- gaps --*/

static int prof__read_tick_order(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Lists the ticks of all records inside a gap, and returns how many there are. Returns 0 if there are more than four
   million, or no memory. */
static size_t prof__gap_ticks(prof_trace *trace, const prof__read_gap *gap, uint64_t **ticks)
{
    size_t i, at, length, count = 0, capacity = 0;
    if (!prof__read_buffer_make(trace, &trace->buffer)) return 0;
    for (i = 0; i < trace->segment_count; i++) {
        const prof__read_segment *segment = &trace->segments[i];
        const uint64_t *words = prof__read_words(trace, &trace->buffer, segment);
        uint64_t base = trace->chunks[segment->chunk].tick;
        for (at = segment->first; words && base < gap->to && at < segment->end; at += length) {
            length = prof__record_words(words[at], segment->end - at);
            if (!length) break;
            uint64_t tick = base + (words[at] & PROF__TICK_MASK);
            if (!prof__record_timed(words[at]) || tick <= gap->from || tick >= gap->to) continue;
            if (count >= (size_t)1 << 22 || !PROF__ROOM(*ticks, capacity, count)) return 0;
            (*ticks)[count++] = tick;
        }
    }
    return count;
}

/* Narrows a gap. No thread ran during a suspension, so the gap lies where no thread has an event for the longest time.
   After a reset of the counter, the gap lies after the last event before it. */
static void prof__gap_narrow(prof_trace *trace, prof__read_gap *gap)
{
    uint64_t *ticks = NULL, from = gap->from, to = gap->to, before = gap->from;
    /* Only for a few gaps, because each reads all words. */
    size_t i, count = trace->gap_count < 16 ? prof__gap_ticks(trace, gap, &ticks) : 0;
    prof__read_buffer_free(&trace->buffer);
    qsort(ticks ? ticks : &before, ticks ? count : 0, sizeof *ticks, prof__read_tick_order);
    if (count && gap->restarts) from = ticks[count - 1];
    for (i = 0; i <= count && count && gap->added_ns; i++) {
        uint64_t next = i < count ? ticks[i] : gap->to;
        if (!i || next - before > to - from) from = before, to = next;
        before = next;
    }
    gap->from = from;
    gap->to = to;
    free(ticks);
}

static void prof__gap_name(char *to, size_t size, const prof__read_gap *gap)
{
    char length[48];
    prof__human_ns(length, (double)gap->ns);
    snprintf(to, size, "suspended for %s%s", gap->restarts ? "at most " : "", length);
}

static int prof__gap_order(const void *a, const void *b)
{
    const prof__read_gap *x = (const prof__read_gap *)a, *y = (const prof__read_gap *)b;
    return x->from_ns < y->from_ns ? -1 : x->from_ns > y->from_ns;
}

/* Converts the gaps' ticks to times, and sorts the gaps. */
static void prof__gaps_place(prof_trace *trace)
{
    size_t i, hint = 0;
    for (i = 0; i < trace->gap_count; i++) {
        prof__read_gap *gap = &trace->gaps[i];
        prof__gap_narrow(trace, gap);
        gap->from_ns = prof__read_ns(trace, gap->from, &hint);
        gap->to_ns = prof__read_ns(trace, gap->to, &hint);
        if (gap->restarts) gap->ns = gap->to_ns - gap->from_ns;
    }
    qsort(trace->gaps, trace->gap_count, sizeof *trace->gaps, prof__gap_order);
}

/* Adds a track with an instant for each gap; viewers draw these across all tracks. Returns 0 if there is no memory. */
static int prof__gap_track(prof_trace *trace)
{
    prof__read_track *track;
    size_t i, first = trace->device_record_count;
    uint64_t id = 1;
    if (!trace->gap_count) return 1;
    prof__gaps_place(trace);
    track = (prof__read_track *)realloc(trace->tracks, (trace->track_count + 1) * sizeof *track);
    if (!track) return 0;
    trace->tracks = track;
    for (i = 0; i < trace->track_count; i++)
        if (track[i].about.id >= id) id = track[i].about.id + 1;
    track += trace->track_count;
    memset(track, 0, sizeof *track);
    for (i = 0; i < trace->gap_count; i++) {
        prof__read_device_record *e;
        char name[96];
        size_t site;
        prof__gap_name(name, sizeof name, &trace->gaps[i]);
        site = prof__read_make_site(trace, name, PROF__KIND_MARK);
        e = (prof__read_device_record *)PROF__MORE(trace->device_records, trace->device_record_capacity,
                                                   trace->device_record_count);
        if (site == PROF__NONE || !e) return 0;
        trace->sites[site].about.role = PROF_ROLE_MARK_GLOBAL;
        e->type = PROF__DEVICE_MARK;
        e->site = (uint32_t)site;
        e->name = trace->sites[site].name;
        e->start_ns = e->end_ns = trace->gaps[i].from_ns;
        e->id = ~(uint64_t)i;
    }
    track->about.name = prof__read_text(trace, "clock", "");
    if (!track->about.name) return 0;
    track->about.device = trace->names[0];
    track->about.id = id;
    track->about.fiber = 1;
    track->device_record = first;
    track->device_record_count = trace->gap_count;
    track->about.event_count = trace->gap_count;
    track->about.first_ns = trace->gaps[0].from_ns;
    track->about.last_ns = trace->gaps[trace->gap_count - 1].from_ns;
    trace->info.event_count += trace->gap_count;
    if (track->about.last_ns > trace->info.duration_ns) trace->info.duration_ns = track->about.last_ns;
    trace->track_count++;
    return 1;
}

/* Writes a line of text about a gap. Returns 0 after the last gap. */
static int prof__trace_gap(const prof_trace *trace, size_t i, char *to, size_t size)
{
    const prof__read_gap *gap = i < trace->gap_count ? &trace->gaps[i] : NULL;
    char name[96], from[48], until[48];
    if (!gap) return 0;
    prof__gap_name(name, sizeof name, gap);
    prof__human_ns(from, (double)gap->from_ns);
    prof__human_ns(until, (double)gap->to_ns);
    snprintf(to, size, "%s, between %s and %s%s", name, from, until,
             gap->restarts ? ": the counter began again" : gap->added_ns ? "" : ": the counter stood still");
    return 1;
}

/*-- the matcher --*/

typedef struct prof__read_open {
    /* crossing: its entry in cross segments, PROF__NONE while it is in the segment where it began. last_link: its last
       link, or PROF__NONE. */
    size_t cross_segment, last_link;
    /* outer_site, outer_name: the next outer open scope of the same site or name, from 1; 0: none. */
    uint32_t site, outer_site, outer_name;
    uint32_t args;
    uint32_t segment, word; /* where its BEGIN is; segment: counted from the track's first */
} prof__read_open;

/* A scope that was closed by the end of an outer scope. The scope's own end may still come; then both overlap. */
typedef struct prof__read_late {
    uint64_t older; /* number of the next older such scope of the same site; 0: none */
    uint32_t segment, word;
} prof__read_late;

typedef struct prof__read_top {
    uint32_t track; /* serial of the track that the other fields are valid for */
    uint32_t open;  /* innermost open scope of this name, from 1; 0: none */
    uint32_t stale; /* scopes of this name that another end closed and whose own ends have not come yet */
    uint32_t frame; /* serial of the last track that had a frame of this name */
} prof__read_top;

typedef struct prof__read_matcher {
    prof_trace *trace;
    prof__read_track *track;
    prof__read_open *stack;
    size_t capacity;
    uint32_t depth, crossed; /* crossed: this many scopes, from the outermost on, are in cross segments */
    /* This many scopes, from the outermost on, are in site_tops and name_tops; see prof__read_list(). */
    uint32_t listed;
    uint32_t serial;         /* number of the current track, from 1 */
    uint32_t *site_tops;
    prof__read_top *name_tops;
    size_t pending, pending_last; /* first and last link of the arguments of a scope whose begin is missing */
    uint32_t pending_count;
    uint64_t tick;
    size_t hint;
    uint64_t event_tick; /* tick of the track's first event */
    prof__read_late *late; /* the newest scopes whose own end may still come; late[0] has number late_first */
    size_t late_count, late_capacity;
    /* Scopes with a number below late_floor are of another track, or from before a gap. */
    uint64_t late_first, late_floor;
    uint64_t *site_late;             /* for each site: number of its newest scope in late; 0: none */
    int torn;            /* 1: there was a gap; then an END without a begin does not show when the track began */
    size_t nodes, args;  /* counts of the current segment */
} prof__read_matcher;

static prof__read_top *prof__read_name_top(prof__read_matcher *m, uint32_t site)
{
    prof__read_top *top = &m->name_tops[m->trace->sites[site].name];
    if (top->track != m->serial) {
        top->track = m->serial;
        top->open = top->stale = 0;
    }
    return top;
}

static void prof__read_event(prof__read_matcher *m)
{
    if (!m->track->about.event_count++) m->event_tick = m->tick;
    m->nodes++;
}

static inline int prof__read_push(prof__read_matcher *m, uint32_t site, uint32_t segment, size_t word)
{
    prof__read_open *open;
    if (PROF__UNLIKELY(m->depth >= m->capacity) &&
        (m->depth >= PROF__NONE32 - 1 || !PROF__ROOM(m->stack, m->capacity, m->depth)))
        return 0;
    open = &m->stack[m->depth++];
    open->cross_segment = open->last_link = PROF__NONE;
    open->site = site;
    open->args = 0;
    open->segment = segment;
    open->word = (uint32_t)word;
    if (m->depth > m->track->max_depth) m->track->max_depth = m->depth;
    return 1;
}

/* Enters the open scopes into the lists by site and by name. Nearly every END closes the innermost scope, which needs
   no list. So scopes are entered only when a scope has to be searched for. */
static void prof__read_list(prof__read_matcher *m)
{
    while (m->listed < m->depth) {
        prof__read_open *open = &m->stack[m->listed++];
        prof__read_top *top = prof__read_name_top(m, open->site);
        open->outer_site = m->site_tops[open->site];
        open->outer_name = top->open;
        m->site_tops[open->site] = top->open = m->listed;
    }
}

/* Closes the innermost scope. flags are stored if the scope is a cross-segment scope. */
static PROF__NOINLINE void prof__read_pop(prof__read_matcher *m, uint32_t flags)
{
    prof__read_open *open = &m->stack[--m->depth];
    if (PROF__UNLIKELY(m->listed > m->depth)) {
        m->listed = m->depth;
        m->site_tops[open->site] = open->outer_site;
        prof__read_name_top(m, open->site)->open = open->outer_name;
    }
    if (flags) prof__read_name_top(m, open->site)->stale++;
    if (PROF__UNLIKELY(open->cross_segment != PROF__NONE)) {
        m->trace->cross_segments[open->cross_segment].end_ns = prof__read_ns(m->trace, m->tick, &m->hint);
        m->trace->cross_segments[open->cross_segment].flags = flags;
    }
    if (m->crossed > m->depth) m->crossed = m->depth;
}

static int prof__read_began_before(uint32_t segment, uint32_t word, const prof__read_late *late)
{
    return segment != late->segment ? segment < late->segment : word < late->word;
}

/* Remembers an open scope that is being closed by another scope's end, because its own end may still come. The list of
   a site is ordered by begin, the latest first. If the list is full, the older half is dropped; without memory, the
   scope is not remembered. Such scopes stay without an end. */
static void prof__read_note_late(prof__read_matcher *m, const prof__read_open *open)
{
    size_t half = m->late_count / 2;
    uint64_t *link = &m->site_late[open->site], first;
    prof__read_late *late;
    int steps = PROF__LATE_STEPS;
    if (m->late_count == PROF__LATE_END_MAX) {
        memmove(m->late, m->late + half, (m->late_count - half) * sizeof *m->late);
        m->late_count -= half;
        m->late_first += half;
    }
    if (!PROF__ROOM(m->late, m->late_capacity, m->late_count)) return;
    first = m->late_first < m->late_floor ? m->late_floor : m->late_first;
    while (*link >= first && steps-- &&
           prof__read_began_before(open->segment, open->word, &m->late[*link - m->late_first]))
        link = &m->late[*link - m->late_first].older;
    late = &m->late[m->late_count];
    late->older = *link;
    late->segment = open->segment;
    late->word = open->word;
    *link = m->late_first + m->late_count++;
}

/* Closes all scopes that are deeper than depth, because the scope at depth ends, or one that began before the first
   record. */
static void prof__read_pop_early(prof__read_matcher *m, uint32_t depth)
{
    uint32_t i;
    for (i = depth; i < m->depth; i++) prof__read_note_late(m, &m->stack[i]);
    while (m->depth > depth) prof__read_pop(m, PROF_TRUNCATED_END);
}

/* Matches an END with a scope that the end of an outer scope has closed: the two scopes overlap. An open scope of the
   same site takes precedence: a scope that was left by longjmp() or an early return must not take the end of an
   enclosing call of the same function. Returns 1 if a scope matches, 0 if none does, -1 if there is no memory. */
static int prof__read_match_late(prof__read_matcher *m, uint32_t site)
{
    prof_trace *trace = m->trace;
    uint64_t number = m->site_late[site];
    const prof__read_late *late;
    prof__read_late_begin *begin;
    prof__read_late_end *end;
    prof__read_top *top = prof__read_name_top(m, site);
    if (m->site_tops[site] || number < m->late_first || number < m->late_floor || !number) return 0;
    late = &m->late[number - m->late_first];
    begin = (prof__read_late_begin *)PROF__MORE(trace->late_begins, trace->late_begin_capacity,
                                                trace->late_begin_count);
    end = (prof__read_late_end *)PROF__MORE(trace->late_ends, trace->late_end_capacity, trace->late_end_count);
    if (!begin || !end) return -1;
    m->site_late[site] = late->older;
    if (top->stale) top->stale--;
    begin->segment = late->segment;
    begin->word = late->word;
    end->id = prof__read_event_id(
        trace, &trace->chunks[trace->segments[m->track->segment + late->segment].chunk], late->word);
    trace->has_spans = 1;
    prof__read_event(m);
    return 1;
}

/* Returns how many scopes an END of this site closes, counting one that began before the track's first record; 0 if no
   scope matches; PROF__CLOSES_LATE for an overlap; PROF__NONE32 if there is no memory. */
static PROF__NOINLINE uint32_t prof__read_match(prof__read_matcher *m, uint32_t site, uint64_t id)
{
    prof__read_top *top = prof__read_name_top(m, site);
    uint32_t position, closes;
    prof__read_unmatched_end *orphan;
    int late;
    prof__read_list(m);
    late = prof__read_match_late(m, site);
    position = m->site_tops[site] ? m->site_tops[site] : top->open;
    if (late) return late < 0 ? PROF__NONE32 : PROF__CLOSES_LATE;
    if (position) {
        closes = m->depth - position + 1;
        if (closes > PROF__CLOSE_MAX) return 0;
        prof__read_pop_early(m, position);
        prof__read_pop(m, 0);
        return closes;
    }
    if (top->stale) {
        top->stale--;
        return 0;
    }
    closes = m->depth + 1;
    if (!m->trace->partial || m->torn || closes > PROF__CLOSE_MAX) return 0;
    orphan = (prof__read_unmatched_end *)PROF__MORE(m->trace->unmatched_ends, m->trace->unmatched_end_capacity,
                                                    m->trace->unmatched_end_count);
    if (!orphan) return PROF__NONE32;
    prof__read_pop_early(m, 0);
    orphan->end_ns = prof__read_ns(m->trace, m->tick, &m->hint);
    orphan->link = m->pending;
    orphan->id = id;
    orphan->site = site;
    m->track->unmatched_end_count++;
    if (m->pending_count > m->track->max_event_args) m->track->max_event_args = m->pending_count;
    m->pending = m->pending_last = PROF__NONE;
    m->pending_count = 0;
    return closes;
}

/* Notes how many scopes an END closes, if it is not exactly one; or which open scope an ARG belongs to, if it is not
   the innermost, which is 1. 0: none. Returns 0 if there is no memory. */
static int prof__read_except(prof__read_matcher *m, uint32_t segment, size_t word, uint32_t closes)
{
    prof_trace *trace = m->trace;
    prof__read_exception *exception;
    if (closes == 1) return 1;
    if (!closes) trace->info.unmatched++;
    exception = (prof__read_exception *)PROF__MORE(trace->exceptions, trace->exception_capacity,
                                                   trace->exception_count);
    if (!exception) return 0;
    exception->segment = segment;
    exception->word = (uint32_t)word;
    exception->closes = closes;
    return 1;
}

/* Adds the ARG record at this word to its scope. Returns 0 if there is no memory. */
static int prof__read_arg(prof__read_matcher *m, const uint64_t *words, size_t word, size_t length, uint32_t segment)
{
    prof_trace *trace = m->trace;
    uint32_t target = prof__read_arg_target(words + word), position = m->depth;
    prof__read_open *open = NULL;
    prof__read_link *link;
    size_t number = trace->link_count;
    if (target) {
        prof__read_list(m);
        position = m->site_tops[prof__read_site_of(trace, target)];
        if (!prof__read_except(m, segment, word, position ? m->depth - position + 1 : 0)) return 0;
        if (!position) return 1;
    }
    if (position) open = &m->stack[position - 1];
    if (open && ++open->args > m->track->max_event_args) m->track->max_event_args = open->args;
    if (open && open->cross_segment == PROF__NONE) {
        m->args++;
        return 1;
    }
    link = (prof__read_link *)PROF__MORE(trace->links, trace->link_capacity, trace->link_count);
    if (!link) return 0;
    link->next = PROF__NONE;
    link->record = prof__read_keep(trace, words + word, length);
    if (link->record == PROF__NONE) return 0;
    if (open) {
        if (open->last_link == PROF__NONE)
            trace->cross_segments[open->cross_segment].link = number;
        else
            trace->links[open->last_link].next = number;
        open->last_link = number;
    } else {
        if (m->pending_last == PROF__NONE)
            m->pending = number;
        else
            trace->links[m->pending_last].next = number;
        m->pending_last = number;
        m->pending_count++;
    }
    return 1;
}

/* Adds entries to cross segments for the scopes that stay open beyond this segment. Returns 0 if there is no memory. */
static int prof__read_cross(prof__read_matcher *m, uint32_t segment)
{
    prof_trace *trace = m->trace;
    for (; m->crossed < m->depth; m->crossed++) {
        prof__read_cross_segment *crossing = (prof__read_cross_segment *)PROF__MORE(
            trace->cross_segments, trace->cross_segment_capacity, trace->cross_segment_count);
        if (!crossing) return 0;
        crossing->link = PROF__NONE;
        crossing->segment = segment;
        m->stack[m->crossed].cross_segment = trace->cross_segment_count - 1;
    }
    return 1;
}

/* Ends all open scopes at a gap, at the last known time. */
static void prof__read_close_all(prof__read_matcher *m)
{
    while (m->depth) prof__read_pop(m, PROF_TRUNCATED_END);
    m->trace->info.unmatched += m->pending_count;
    m->pending = m->pending_last = PROF__NONE;
    m->pending_count = 0;
    m->torn = 1;
    m->late_floor = m->late_first + m->late_count;
}

/*-- segment summaries --*/

#define PROF__SEGMENT_SUMMARY_DEPTH 128 /* largest number of open scopes that began in the segment */
/* Largest number of ENDs whose BEGIN is in an earlier segment, and of BEGINs that stay open. */
#define PROF__SEGMENT_SUMMARY_HALVES 24

/* The state in which a segment is summarised. */
typedef struct prof__segment_summarizer {
    prof__segment_summary sum;
    uint64_t base;  /* tick of the chunk's base; the records' ticks count from it */
    uint64_t ticks; /* largest tick so far, counted from base */
    uint64_t behind;   /* ticks; a tick that is lower than the largest one by more shows that the counter was reset */
    int jumps;      /* 1: the counter was reset */
    int good;       /* 0: a summary is not possible: the matcher must read this segment's words */
    int takes_data;
    uint32_t data;  /* number of DATA records that the previous event has so far */
    size_t next;    /* index of the word after the last argument */
    /* open[0] is no scope */
    prof__read_half ends[PROF__SEGMENT_SUMMARY_HALVES], *top, open[PROF__SEGMENT_SUMMARY_DEPTH + 1];
} prof__segment_summarizer;

static void prof__segment_summary_begin(prof__segment_summarizer *o, uint64_t base)
{
    memset(&o->sum, 0, sizeof o->sum);
    o->base = base;
    o->good = PROF__SEGMENT_SUMMARIES && base <= ~(uint64_t)0 - PROF__TICK_MASK;
    o->ticks = 0;
    o->takes_data = 0;
    o->data = 0;
    o->next = 0;
    o->top = o->open;
    o->top->site = PROF__NONE32; /* no END has this site, so none closes open[0] */
}

/* Updates the greatest depth. high: the innermost scope that was open since the last update. */
static inline void prof__segment_summary_level(prof__segment_summarizer *o, const prof__read_half *high)
{
    int32_t deepest = (int32_t)(high - o->open) - (int32_t)o->sum.ends;
    if (deepest > o->sum.deepest) o->sum.deepest = deepest;
}

/* Notes the END of a scope that did not begin in this segment. Returns 0 if the END may belong to a scope of this
   segment, which a summary cannot show. */
static int prof__segment_summary_half(prof__segment_summarizer *o, uint32_t site, uint64_t ticks,
                                      const prof__read_half *top, const prof__read_half *high)
{
    prof__read_half *end = &o->ends[o->sum.ends];
    if (top != o->open || o->sum.ends == PROF__SEGMENT_SUMMARY_HALVES) return 0;
    prof__segment_summary_level(o, high);
    memset(end, 0, sizeof *end);
    end->site = site;
    end->tick = o->base + ticks;
    o->sum.ends++;
    return 1;
}

/* Summarises the BEGINs and ENDs from this word on, as long as meta has their call sites. Most records are of these
   kinds. Returns the index of the word after them. */
static PROF__NOINLINE size_t prof__segment_summary_scopes(prof__segment_summarizer *o, const prof_trace *trace,
                                                       const uint64_t *words, size_t at, size_t count)
{
    const uint32_t *sites = trace->site_ids;
    size_t site_count = trace->site_id_count;
    prof__read_half *top = o->top, *high = top;
    uint64_t ticks = o->ticks;
    for (; at < count; at++) {
        uint64_t head = words[at], now = head & PROF__TICK_MASK;
        unsigned kind = prof__read_kind(head);
        uint32_t id = prof__read_id(head), site;
        if (kind - PROF__KIND_BEGIN > PROF__KIND_END - PROF__KIND_BEGIN || id >= site_count) break;
        site = sites[id];
        if (site == PROF__NONE32) break;
        if (now > ticks)
            ticks = now;
        else if (PROF__UNLIKELY(ticks - now > o->behind))
            o->jumps = 1;
        if (kind == PROF__KIND_BEGIN) {
            if (PROF__UNLIKELY(top == o->open + PROF__SEGMENT_SUMMARY_DEPTH)) {
                o->good = 0;
                top = o->open;
            }
            o->sum.nodes++;
            ++top;
            top->site = site;
            top->word = (uint32_t)at;
            top->args = 0;
            if (top > high) high = top;
        } else if (PROF__LIKELY(top->site == site)) {
            --top;
        } else {
            o->good &= prof__segment_summary_half(o, site, ticks, top, high);
            top = high = o->open;
        }
    }
    prof__segment_summary_level(o, high);
    o->ticks = ticks;
    o->top = top;
    o->takes_data = 0;
    o->data = 0;
    return at;
}

/* Counts an argument of the innermost scope. Returns 0 if the argument may belong to another scope. */
static int prof__segment_summary_arg(prof__segment_summarizer *o, const prof_trace *trace, const uint64_t *record)
{
    uint32_t target = prof__read_arg_target(record);
    if (o->top == o->open || (target && prof__read_site_of(trace, target) != o->top->site)) return 0;
    o->sum.args++;
    if (++o->top->args > o->sum.most_args) o->sum.most_args = o->top->args;
    return 1;
}

/* Summarises any other record, as prof__read_match_words() would match it. */
static void prof__segment_summary_record(prof__segment_summarizer *o, const prof_trace *trace, const uint64_t *words,
                                      size_t at, size_t count)
{
    unsigned kind = prof__read_kind(words[at]);
    int shown = prof__read_shown(words + at);
    size_t length = prof__read_arg_words(words + at, count - at);
    if (at < o->next) return; /* the record is a value, counted with the key before it */
    o->sum.nodes += (uint32_t)shown;
    switch (kind) {
    case PROF__KIND_EVENT:
        if (prof__is_span((prof_event_type)prof__read_event_type(words + at))) o->sum.spans = 1;
        if (prof__read_event_type(words + at) == PROF_EVENT_LOG) o->sum.logs = 1;
        break;
    case PROF__KIND_NAME:
        if (prof__read_name_values(words[at], prof__record_words(words[at], count - at))) o->sum.logs = 1;
        break;
    case PROF__KIND_LOST: o->sum.lost += words[at] & PROF__TICK_MASK; break;
    case PROF__KIND_FRAME: o->good = 0; break; /* the matcher needs the first frame of each name */
    case PROF__KIND_ARG:
    case PROF__KIND_DATA:
        o->next = at + length;
        if (!prof__read_arg_whole(words + at, length) || (kind == PROF__KIND_DATA && !o->takes_data)) break;
        if (kind == PROF__KIND_ARG) {
            o->good &= prof__segment_summary_arg(o, trace, words + at);
            break;
        }
        o->sum.args++;
        if (++o->data > o->sum.most_args) o->sum.most_args = o->data;
        break;
    default: break;
    }
    o->takes_data = prof__read_takes_data(words[at], shown, o->takes_data);
    if (!prof__record_in(PROF__PARTS_OF_EVENT, words[at])) o->data = 0;
}

/* Stores the summary of a segment that has just ended. Without memory, the segment gets none. */
static void prof__segment_summary_keep(prof_trace *trace, prof__read_segment *segment, prof__segment_summarizer *o)
{
    size_t begins = (size_t)(o->top - o->open), count = o->sum.ends + begins;
    segment->depth = 0;
    if (!o->good || begins > PROF__SEGMENT_SUMMARY_HALVES || segment->record == ~(uint64_t)0) return;
    while (trace->half_capacity - trace->half_count < count)
        if (!prof__more_room(&trace->halves, &trace->half_capacity, sizeof *trace->halves)) return;
    if (trace->segment_summary_count >= INT32_MAX ||
        !PROF__ROOM(trace->segment_summaries, trace->segment_summary_capacity, trace->segment_summary_count))
        return;
    o->sum.half = trace->half_count;
    o->sum.begins = (uint32_t)begins;
    o->sum.tick = o->base + o->ticks;
    if (count) memcpy(trace->halves + trace->half_count, o->ends, o->sum.ends * sizeof *o->ends);
    if (begins) memcpy(trace->halves + trace->half_count + o->sum.ends, o->open + 1, begins * sizeof *o->open);
    trace->half_count += count;
    trace->segment_summaries[trace->segment_summary_count++] = o->sum;
    segment->depth = (int32_t)trace->segment_summary_count;
}

/* Matches a segment by its summary, with the same result as prof__read_match_words(). Returns 0, with nothing changed,
   if the segment has no summary or depends on what came before; -1 if there is no memory. */
static int prof__segment_summary_match(prof__read_matcher *m, uint32_t number)
{
    const prof__read_segment *segment = &m->trace->segments[m->track->segment + number];
    const prof__segment_summary *summary;
    const prof__read_half *half;
    uint32_t i;
    if (segment->depth <= 0 || segment->record < m->tick ||
        !m->track->about.event_count) /* the time of the track's first event is not in the summary */
        return 0;
    summary = &m->trace->segment_summaries[segment->depth - 1];
    if (summary->ends > m->depth) return 0;
    half = summary->ends + summary->begins ? &m->trace->halves[summary->half] : NULL;
    for (i = 0; i < summary->ends; i++)
        if (m->stack[m->depth - 1 - i].site != half[i].site) return 0;
    if ((int64_t)m->track->max_depth < (int64_t)m->depth + summary->deepest)
        m->track->max_depth = (size_t)((int64_t)m->depth + summary->deepest);
    for (i = 0; i < summary->ends; i++, half++) {
        m->tick = half->tick;
        prof__read_pop(m, 0);
    }
    for (i = 0; i < summary->begins; i++, half++) {
        if (!prof__read_push(m, half->site, number, half->word)) return -1;
        m->stack[m->depth - 1].args = half->args;
    }
    m->tick = summary->tick;
    m->nodes = summary->nodes;
    m->args = summary->args;
    m->track->about.event_count += summary->nodes;
    m->track->about.lost += summary->lost;
    if (summary->most_args > m->track->max_event_args) m->track->max_event_args = summary->most_args;
    if (summary->spans) m->trace->has_spans = 1;
    if (summary->logs) m->trace->has_logs = 1;
    return 1;
}

/* Sets a segment's first time, if this is its first record with a time. */
static inline void prof__read_cut_time(const prof_trace *trace, size_t chunk, prof__read_segment *segment,
                                       uint64_t head)
{
    if (!segment || segment->record != ~(uint64_t)0) return;
    segment->record = prof__read_tick(trace->chunks[chunk].tick, head, 0);
    if (segment->tick == ~(uint64_t)0) segment->tick = segment->record;
}

/* Ends a segment before this word. Its strings have been terminated. */
static void prof__read_cut_end(prof_trace *trace, prof__read_segment *segment, const uint64_t *words, size_t at,
                               prof__segment_summarizer *summarizer)
{
    int follows = segment > trace->segments && segment[-1].chunk == segment->chunk;
    segment->end = (uint32_t)at;
    segment->last_tick = prof__read_tick(summarizer->base, summarizer->ticks, follows ? segment[-1].last_tick : 0);
    if (summarizer->jumps) trace->chunks[segment->chunk].jumps = 1;
    summarizer->good &= !summarizer->jumps;
    summarizer->jumps = 0;
    prof__segment_summary_keep(trace, segment, summarizer);
    if (trace->paged && !trace->chunks[segment->chunk].size)
        segment->mark = prof__read_mark(trace, words + segment->first, at - segment->first);
}

/* Cuts the words of a chunk into segments, terminates their strings, and adds their call sites. Returns 0 if there is
   no memory. */
static int prof__read_cut(prof_trace *trace, size_t chunk, uint64_t *words, size_t count)
{
    size_t at, length, segments = trace->segment_count;
    prof__read_segment *segment = NULL;
    prof__segment_summarizer summarizer;
    prof__segment_summary_begin(&summarizer, trace->chunks[chunk].tick);
    summarizer.behind = trace->behind;
    summarizer.jumps = 0;
    for (at = 0; at < count; at += length) {
        unsigned kind = prof__read_kind(words[at]);
        if (kind == PROF__KIND_BEGIN || kind == PROF__KIND_END) {
            prof__read_cut_time(trace, chunk, segment, words[at]);
            length = prof__segment_summary_scopes(&summarizer, trace, words, at, count) - at;
            if (length) continue;
            if (!prof__read_know_site(trace, prof__read_id(words[at]), kind)) return 0;
            summarizer.good = 0;
            length = 1;
            continue;
        }
        length = prof__record_words(words[at], count - at);
        if (!length) break;
        if (prof__read_has_text(words[at])) {
            prof__read_seal_text(words + at, length);
            trace->chunks[chunk].texts = 1;
        }
        if (kind == PROF__KIND_TRACK) {
            if (trace->segment_count > segments)
                prof__read_cut_end(trace, &trace->segments[trace->segment_count - 1], words, at, &summarizer);
            prof__segment_summary_begin(&summarizer, trace->chunks[chunk].tick);
            if (trace->segment_count >= PROF__NONE32) return 0;
            segment = (prof__read_segment *)PROF__MORE(trace->segments, trace->segment_capacity, trace->segment_count);
            if (!segment) return 0;
            segment->track = prof__track_id(words + at);
            segment->serial = prof__track_serial(words + at);
            segment->tick = at ? ~(uint64_t)0 : trace->chunks[chunk].tick;
            segment->record = ~(uint64_t)0;
            segment->chunk = (uint32_t)chunk;
            segment->first = (uint32_t)at;
            segment->thread = (uint32_t)words[at + 2];
            segment->name = (uint32_t)(words[at] & (PROF__NAME_OF_SYSTEM - 1));
            segment->of_system = (words[at] & PROF__NAME_OF_SYSTEM) != 0;
            segment->fiber = words[at] >> 31 & 1;
        } else if (prof__record_in(PROF__SITED, words[at])) {
            if ((prof__record_timed(words[at]) || prof__read_id(words[at])) &&
                !prof__read_know_site(trace, prof__read_id(words[at]), kind))
                return 0;
            if (kind == PROF__KIND_ARG && words[at] & PROF__ARG_TO && length > 1 &&
                !prof__read_know_site(trace, prof__read_id(words[at + length - 1]), PROF__KIND_BEGIN))
                return 0;
            if (prof__record_timed(words[at])) {
                uint64_t now = words[at] & PROF__TICK_MASK;
                prof__read_cut_time(trace, chunk, segment, words[at]);
                summarizer.jumps |= now < summarizer.ticks && summarizer.ticks - now > summarizer.behind;
                if (now > summarizer.ticks) summarizer.ticks = now;
            }
            if (kind == PROF__KIND_EVENT && !prof__read_event_type(words + at) &&
                !prof__device_take(trace, chunk, words, at, count))
                return 0;
        }
        if (summarizer.good) prof__segment_summary_record(&summarizer, trace, words, at, count);
    }
    if (segment) {
        prof__read_cut_end(trace, segment, words, at, &summarizer);
        segment->last = 1;
        if (trace->chunks[chunk].jumps) {
            int kept = !trace->paged && !trace->chunks[chunk].size;
            uint64_t reached = trace->chunks[chunk].tick + prof__read_mend(words, at, trace->behind, kept);
            if (reached > trace->reached) trace->reached = reached;
        }
    } else {
        trace->info.lost += trace->chunks[chunk].lost;
    }
    return 1;
}

static int prof__read_same_sequence(const void *owner, size_t item, const void *key)
{
    return ((const prof_trace *)owner)->chunks[item].sequence == *(const uint64_t *)key;
}

/* Keeps a clock pair, unless one near it is known already. Keeps at most 65,536: when there are more, doubles the
   distance between kept pairs. Returns 0 if there is no memory. */
static int prof__read_pair(prof_trace *trace, const prof__pair *pair)
{
    size_t i, kept = 1;
    if (pair->monotonic_ns <= trace->header.first.monotonic_ns) return 1;
    if (trace->pair_ns) {
        uint64_t before = trace->pairs[trace->pair_count - 1].monotonic_ns, ns = pair->monotonic_ns;
        if ((ns > before ? ns - before : before - ns) < trace->pair_ns) return 1;
    }
    if (trace->pair_count >= 65536) {
        trace->pair_ns = !trace->pair_ns ? 1000000 : trace->pair_ns >> 62 ? trace->pair_ns : trace->pair_ns * 2;
        for (i = 1; i < trace->pair_count; i++) {
            uint64_t before = trace->pairs[kept - 1].monotonic_ns, ns = trace->pairs[i].monotonic_ns;
            if (ns > before && ns - before >= trace->pair_ns) trace->pairs[kept++] = trace->pairs[i];
        }
        trace->pair_count = kept;
    }
    prof__pair *more = (prof__pair *)PROF__MORE(trace->pairs, trace->pair_capacity, trace->pair_count);
    if (more) *more = *pair;
    return more != NULL;
}

static int prof__read_known(const prof_trace *trace, uint64_t sequence)
{
    return prof__read_find(&trace->sequences, (uint32_t)prof__mix(sequence), prof__read_same_sequence, trace,
                           &sequence) != PROF__NONE;
}

/* Adds a chunk with its words, unless one with the same sequence number is known. Returns 0 if there is no memory. */
static int prof__read_add_chunk(prof_trace *trace, const prof__read_chunk *chunk, const prof__pair *base,
                                uint64_t *words, size_t count)
{
    uint32_t hash = (uint32_t)prof__mix(chunk->sequence);
    size_t item;
    if (prof__read_known(trace, chunk->sequence)) return 1;
    item = PROF__NEW(trace->sequences, hash, trace->chunks, trace->chunk_capacity, trace->chunk_count);
    if (item == PROF__NONE) return 0;
    trace->chunks[item] = *chunk;
    prof__pair pair = prof__read_unwrap(trace, base);
    trace->chunks[item].tick = pair.tick;
    if (!prof__read_pair(trace, &pair) || !prof__read_cut(trace, item, words, count)) return 0;
    if (chunk->size) trace->chunks[item].mark = prof__read_mark(trace, words, count);
    return 1;
}

/* Returns the next offset, from `offset` on and before end, at which a block may begin, or end if there is none. */
static uint64_t prof__read_resume(const prof_trace *trace, uint64_t offset, uint64_t end)
{
    uint64_t words[256], last = end < trace->size ? end : trace->size;
    size_t count, i;
    for (; offset < last && last - offset >= 8; offset += count * 8) {
        uint32_t magic;
        count = (last - offset) / 8 < 256 ? (size_t)((last - offset) / 8) : 256;
        if (!prof__read_part(trace, offset, words, count * 8)) return end;
        for (i = 0; i < count; i++) {
            memcpy(&magic, words + i, sizeof magic);
            if (magic == PROF__BLOCK_MAGIC) return offset + i * 8;
        }
    }
    return end;
}

/* Returns 1 if the archive went back to its beginning at this offset instead of writing a block. */
static int prof__read_lap_ends(const prof_trace *trace, uint64_t offset, uint64_t end)
{
    prof__block block;
    if (end - offset < sizeof block) return 1;
    return prof__read_part(trace, offset, &block, sizeof block) && block.magic == PROF__BLOCK_MAGIC &&
           !block.sequence && block.size == sizeof block && block.check == prof__block_check(&block, NULL);
}

/* Reads the blocks of the archive from offset to end. wraps: 1: there may be unused bytes before end, where the archive
   went back to its beginning. Leaves out damaged blocks and counts them. Returns 0 if there is no memory. */
static int prof__read_blocks(prof_trace *trace, uint64_t offset, uint64_t end, int wraps)
{
    int damaged = 0;
    uint64_t size = end - offset, tried = 0; /* bytes that were tried and are not a block */
    while (offset < end) {
        prof__block block;
        uint64_t step;
        memset(&block, 0, sizeof block);
        if (prof__read_block(trace, &trace->buffer, offset, end, &block)) {
            prof__read_chunk chunk;
            damaged = 0;
            memset(&chunk, 0, sizeof chunk);
            chunk.sequence = block.sequence;
            chunk.tick = block.base.tick;
            chunk.lost = block.lost;
            chunk.place = offset;
            chunk.size = block.size;
            chunk.words = block.words;
            /* A chunk that began after the ring was copied may be in the archive before a chunk that began earlier. */
            if ((trace->header.state == PROF__STOPPED || block.sequence <= trace->header.next_chunk) &&
                !prof__read_add_chunk(trace, &chunk, &block.base, trace->buffer.words, block.words))
                return 0;
            offset += block.size;
            continue;
        }
        if (wraps && prof__read_lap_ends(trace, offset, end)) return 1;
        trace->info.lost_blocks += !damaged;
        damaged = 1;
        step = prof__read_block_likely(trace, &block, offset, end) ? block.size : 8;
        tried += step;
        if (tried / 16 < size) step = 8; /* otherwise the image was made so that everything looks like a block */
        offset = prof__read_resume(trace, offset + step, end);
    }
    return 1;
}

static int prof__read_archive(prof_trace *trace)
{
    const prof__header *h = &trace->header;
    uint64_t limit = h->archive_limit && h->archive_limit < trace->size ? h->archive_limit : trace->size;
    if (!h->archive_offset || h->archive_first == h->archive_next) return 1;
    if (!prof__read_buffer_make(trace, &trace->buffer)) return 0;
    if (h->archive_first < h->archive_next) return prof__read_blocks(trace, h->archive_first, h->archive_next, 0);
    return prof__read_blocks(trace, h->archive_first, limit, 1) &&
           prof__read_blocks(trace, h->archive_offset, h->archive_next, 0);
}

/*-- chunks of which a page is missing ------------------------------------------------------------------- >>intact --
   A power loss can leave pages of a file empty, or with older contents, which may be those of a different chunk. What
   is read of a chunk is only the part, from its beginning on, that is known to be the chunk's own.
   A page that is empty shows by words after many zeros, because a thread writes a chunk's words one after the other. (A
   thread that died leaves at most one record without its first word.) A page with older contents shows by the marks and
   sums that format.h describes, but not all images have these. Without marks, a missing page at the end of a chunk
   shows only if the next chunk's header was in that page, too. */
#define PROF__PAGE_WORDS 512u

/* Reads the header of a chunk. Fields that an older image lacks become 0. */
static int prof__chunk_get(const prof_trace *trace, uint64_t offset, prof__chunk *chunk)
{
    size_t size = trace->header.chunk_header_size;
    memset(chunk, 0, sizeof *chunk);
    return prof__read_ring_part(trace, offset, chunk, size < sizeof *chunk ? size : sizeof *chunk);
}

/* Returns the first word, from `at` on, at which a page of the file begins. place: where the chunk's first word is, in
   words of the file. */
static size_t prof__read_border(uint64_t place, size_t at)
{
    return at + (size_t)(0 - (place + at)) % PROF__PAGE_WORDS;
}

/* Finds the record that begins before `limit` and reaches beyond it. Returns the index of its end or, if `whole` is 1,
   of its beginning. Returns `limit` if there is no such record. */
static size_t prof__read_record_at(const uint64_t *words, size_t count, size_t limit, int whole)
{
    size_t at = 0, length;
    for (; at < limit && (length = prof__record_length(words[at], count - at)) != 0; at += length)
        if (at + length > limit) return whole ? at : at + length;
    return at < limit ? at : limit;
}

static int prof__read_zero(const uint64_t *words, size_t count)
{
    while (count && !*words) words++, count--;
    return !count;
}

/* Returns 1 if its thread had finished the chunk. */
static int prof__read_sealed(const prof__chunk *chunk) { return chunk->sums[PROF__PARTS - 1] != 0; }

/* Returns 1 if a part of a chunk may be the chunk's own. Its sum shows that; without a sum, its last word does. The
   last word may instead belong to a record that reaches into the next part: then the next part must be good and begun.
   next: 1: the next part is good and begun; 0: it is not; -1: there is none. */
static int prof__read_part_good(const prof__chunk *chunk, size_t part, const uint64_t *words, size_t count,
                                           int next)
{
    uint32_t sum = chunk->sums[part], rest = sum & PROF__SUM_REST;
    if (sum) return rest < count && prof__part_sum(words, count, rest) == sum;
    if (!part || next > 0 || prof__part_state(chunk->sequence, words[count - 1])) return 1;
    return !words[count - 1] && !prof__read_zero(words, count); /* a short scope was removed at the end of the part */
}

/* Returns how many words belong to the chunk, up to the first part that is not the chunk's own. */
static size_t prof__read_own_parts(const prof__chunk *chunk, const uint64_t *words, size_t bytes,
                                               size_t header)
{
    size_t good = (bytes - header) / 8;
    int next = -1;
    for (size_t i = PROF__PARTS; i--;) {
        size_t from = i ? prof__part_end(bytes, header, i - 1) : 0, end = prof__part_end(bytes, header, i);
        if (end <= from) continue;
        int fits = prof__read_part_good(chunk, i, words + from, end - from, next);
        if (!fits) good = from;
        next = fits && (chunk->sums[i] || prof__part_state(chunk->sequence, words[end - 1]) != PROF__PART_EMPTY);
    }
    return good;
}

/* Returns up to where the words of an unfinished chunk can be read. All its pages are its own, but they may be of
   different moments. border: where one part ends; end: where the next part ends. Returns end if both parts are of one
   moment, as far as can be seen. */
static size_t prof__read_border_end(const prof__chunk *chunk, const uint64_t *words, size_t border,
                                               size_t end)
{
    int open = prof__part_state(chunk->sequence, words[border - 1]) != 0;
    int state = prof__part_state(chunk->sequence, words[end - 1]);
    int empty = state && prof__read_zero(words + border, end - 1 - border);
    size_t at;
    if (open == empty) return end;
    at = prof__read_record_at(words, end, border, 1);
    if (!open) return state == PROF__PART_EMPTY ? at : end; /* otherwise a record ends with zeros */
    if (at + 1 == border && end - border > PROF__HOLE_WORDS && state &&
        prof__read_zero(words + border + PROF__HOLE_WORDS, end - 1 - border - PROF__HOLE_WORDS))
        return end; /* a record whose first word the thread had not written yet */
    return at;
}

/* Returns how many words of a chunk with marks are its own, and removes the marks. */
static size_t prof__read_own(const prof__chunk *chunk, uint64_t *words, size_t bytes, size_t header)
{
    size_t good = prof__read_own_parts(chunk, words, bytes, header);
    for (size_t i = 0; !prof__read_sealed(chunk) && i + 1 < PROF__PARTS; i++) {
        size_t border = prof__part_end(bytes, header, i), end = prof__part_end(bytes, header, i + 1);
        if (!border || end <= border || end > good) continue;
        size_t at = prof__read_border_end(chunk, words, border, end);
        if (at < end) good = at;
    }
    prof__marks_clear(chunk->sequence, words, bytes, header);
    return good;
}

/* Returns how many of the words of a chunk without marks can be read. headless: 1: the next chunk lacks its header. */
static size_t prof__read_unmarked(const prof__read_chunk *chunk, const uint64_t *words, size_t count,
                                             int headless)
{
    size_t used = count, border;
    while (used && !words[used - 1]) used--;
    border = prof__read_border(chunk->place, used);
    if (!used || border >= count) return count;
    if (border - used < PROF__HOLE_WORDS) used = prof__read_record_at(words, count, border, 0);
    if (!headless || used < border || count - border >= PROF__PAGE_WORDS) return count;
    return prof__read_record_at(words, count, border, 1);
}

typedef struct prof__read_ring_chunk {
    prof__read_chunk about; /* must be the first field, because prof__read_chunk_order() compares it */
    prof__chunk header;
    int headless; /* 1: the next chunk lacks its header */
} prof__read_ring_chunk;

/* Returns how many words of a chunk of the ring can be read. *torn: 1 if others are missing. header: bytes of a chunk's
   header. */
static size_t prof__read_intact(const prof__read_ring_chunk *chunk, uint64_t *words, size_t header,
                                           int *torn)
{
    size_t count = chunk->about.words, good = count, hole;
    int marked = prof__chunk_marked(&chunk->header, header);
    if (marked) good = prof__read_own(&chunk->header, words, count * 8 + header, header);
    hole = prof__words_hole(words, good);
    if (hole < good)
        good = prof__read_record_at(words, good, hole, 1);
    else if (!marked)
        good = prof__read_unmarked(&chunk->about, words, count, chunk->headless);
    *torn = good < count;
    return good;
}

/* Returns 1 if a chunk without a sequence number has words, and so lacks its header. A chunk that is being reused has
   no sequence number either, but has a time. bytes: size of the chunk with its header. */
static int prof__read_headless(const prof_trace *trace, const prof__chunk *chunk, uint64_t offset,
                                          uint64_t bytes)
{
    uint64_t part[64], end = offset + bytes;
    if (!prof__chunk_blank(chunk)) return 0;
    for (offset += trace->header.chunk_header_size; offset < end; offset += sizeof part) {
        size_t size = end - offset < sizeof part ? (size_t)(end - offset) : sizeof part;
        if (!prof__read_ring_part(trace, offset, part, size)) return 0;
        for (size_t i = 0; i < size / 8; i++)
            if (part[i]) return 1;
    }
    return 0;
}

/* Returns 1 if this is not a valid header, in a ring whose chunks have marks: the page with the header is of a
   different moment. */
static int prof__read_bad(const prof__chunk *chunk, uint64_t slot, uint64_t at)
{
    prof__chunk copy = *chunk;
    if (!chunk->sequence || chunk->form & PROF__FORM_PLAIN) copy.form |= PROF__FORM_MARKED;
    return !prof__chunk_likely(&copy, slot, at);
}

/*-- the ring --*/

typedef struct prof__read_ring_chunks {
    prof__read_ring_chunk *at;
    size_t count, capacity;
} prof__read_ring_chunks;

/* Returns how many slots of the ring were used. After a power loss the header may be older than the chunks. *marked:
   set to 1 if the chunks have marks. */
static uint64_t prof__read_slots(const prof_trace *trace, int *marked)
{
    const prof__header *h = &trace->header;
    uint64_t next = h->next_chunk && h->next_chunk < h->chunk_count ? h->next_chunk : h->chunk_count, i;
    prof__chunk chunk;
    for (i = 0; i < next && !*marked && prof__chunk_get(trace, h->chunk_offset + i * h->chunk_size, &chunk); i++)
        *marked = chunk.sequence && prof__chunk_likely(&chunk, h->chunk_size, 0);
    while (next < h->chunk_count && prof__chunk_get(trace, h->chunk_offset + next * h->chunk_size, &chunk) &&
           !prof__chunk_blank(&chunk))
        next++;
    return next;
}

/* Lists the used chunks of the ring, in order of their sequence numbers. Does not read slots that were never used.
   Returns 0 if there is no memory. */
static int prof__read_ring_list(prof_trace *trace, prof__read_ring_chunks *chunks)
{
    const prof__header *header = &trace->header;
    int marked = 0;
    uint64_t slots = prof__read_slots(trace, &marked), bytes, before = 0; /* where the last listed chunk ends */
    for (uint64_t at = 0; at < slots * header->chunk_size; at += bytes) {
        uint64_t offset = header->chunk_offset + at;
        prof__chunk chunk;
        if (!prof__chunk_get(trace, offset, &chunk)) {
            trace->info.lost_blocks++;
            bytes = prof__form_bytes(header->chunk_size, at, 0);
            continue;
        }
        bytes = prof__form_bytes(header->chunk_size, at, chunk.form);
        trace->info.chunks++;
        if (marked && prof__read_bad(&chunk, header->chunk_size, at)) {
            trace->info.lost_blocks++;
            continue;
        }
        trace->info.taken_back += chunk.taken_back;
        if (!chunk.sequence && prof__read_headless(trace, &chunk, offset, bytes)) {
            trace->info.lost_blocks++;
            if (chunks->count && before == offset) chunks->at[chunks->count - 1].headless = 1;
        }
        if (!chunk.sequence || bytes <= header->chunk_header_size) continue;
        prof__read_ring_chunk *one = PROF__MORE(chunks->at, chunks->capacity, chunks->count)
                                         ? &chunks->at[chunks->count - 1] : NULL;
        if (!one) return 0;
        one->about.sequence = chunk.sequence;
        one->about.tick = chunk.base.tick;
        one->about.lost = chunk.lost;
        one->about.owned = chunk.state == PROF__CHUNK_OWNED;
        one->about.place = (offset + header->chunk_header_size) / 8;
        one->about.words = (uint32_t)(bytes - header->chunk_header_size) / 8;
        one->about.open =
            one->about.owned && prof__chunk_marked(&chunk, header->chunk_header_size) && !prof__read_sealed(&chunk);
        one->header = chunk;
        before = offset + bytes;
    }
    trace->info.chunks += header->chunk_count - slots;
    if (chunks->count > 1) qsort(chunks->at, chunks->count, sizeof *chunks->at, prof__read_chunk_order);
    return 1;
}

/* Adds a chunk of the ring, unless its words went into the archive. next: the chunk with the next sequence number, or
   NULL. Returns 0 if there is no memory. */
static int prof__read_ring_add(prof_trace *trace, prof__read_ring_chunk *chunk, const prof__read_ring_chunk *next)
{
    uint64_t place = chunk->about.place, *words = trace->paged ? trace->buffer.words : trace->image + place;
    int torn = 0;
    trace->buffer.chunk = 0;
    trace->buffer.segment = NULL;
    if (prof__read_known(trace, chunk->about.sequence)) return 1;
    if (trace->paged && !prof__read_ring_part(trace, place * 8, words, (size_t)chunk->about.words * 8)) {
        trace->info.lost_blocks++;
        return 1;
    }
    size_t count = prof__read_intact(chunk, words, trace->header.chunk_header_size, &torn);
    /* Two chunks with one number: one of them has a page of the other. */
    int doubled = next && next->about.sequence == chunk->about.sequence;
    chunk->about.torn = (uint8_t)torn;
    trace->info.lost_blocks += (uint64_t)(torn || doubled);
    if (torn && doubled) return 1;
    return prof__read_add_chunk(trace, &chunk->about, &chunk->header.base, words, count);
}

/* Adds the chunks of the ring. Returns 0 if there is no memory. */
static int prof__read_ring(prof_trace *trace)
{
    prof__read_ring_chunks chunks = {NULL, 0, 0};
    int good = (!trace->paged || prof__read_buffer_make(trace, &trace->buffer)) && prof__read_ring_list(trace, &chunks);
    for (size_t i = 0; good && i < chunks.count; i++)
        good = prof__read_ring_add(trace, &chunks.at[i], i + 1 < chunks.count ? &chunks.at[i + 1] : NULL);
    free(chunks.at);
    return good;
}

static int prof__read_chunks(prof_trace *trace)
{
    const prof__header *header = &trace->header;
    if (!prof__read_archive(trace) || !prof__read_ring(trace)) return 0;
    if (trace->segment_count > 1)
        qsort(trace->segments, trace->segment_count, sizeof *trace->segments, prof__read_segment_order);
    trace->partial =
        header->overwritten || trace->info.lost_blocks ||
        (header->mode != PROF_FILL && header->mode != PROF_STREAM && header->next_chunk > header->chunk_count);
    return 1;
}

/*-- FIBERS ----------------------------------------------------------------------------------------------  >>fibers --
   A segment of a fiber says which thread it was on, but not since when and until when, because a switch of fibers reads
   no clock. The fiber was there from its first record to its last one. It may have been there from the thread's last
   record before the segment to the thread's first one after it. In these times it waits if the thread waits; if the
   thread does anything else, nothing is known, because the track before or after may have had it. At all other times no
   thread has the fiber, so it waits. */

/* Adds a state to the trace, unless it has no duration and says nothing else. Returns 0 if there is no memory. */
static int prof__state_add(prof_trace *trace, int64_t from, int64_t to, int kind, int32_t processor,
                           unsigned char marks)
{
    prof_state *state;
    if (to < from || (to == from && !marks)) return 1;
    if (!PROF__ROOM(trace->states, trace->state_capacity, trace->state_count) ||
        !PROF__ROOM(trace->state_marks, trace->state_mark_capacity, trace->state_count))
        return 0;
    state = &trace->states[trace->state_count];
    state->start_ns = from;
    state->end_ns = to;
    state->kind = (prof_state_kind)kind;
    state->processor = kind == PROF_STATE_RUNNING ? processor : -1;
    trace->state_marks[trace->state_count++] = marks;
    return 1;
}

/* A segment among those of its thread. */
typedef struct prof__fiber_turn {
    uint64_t tick;
    uint32_t thread, chunk, word, segment;
} prof__fiber_turn;

/* Ticks between which the thread may have been on the track of a segment. */
typedef struct prof__fiber_bounds {
    uint64_t from, to;
} prof__fiber_bounds;

/* A part of a fiber's time in which it may not just wait. state: an index in the trace's states, or PROF__NONE: nothing
   is known. */
typedef struct prof__fiber_part {
    int64_t from, to;
    size_t state;
} prof__fiber_part;

typedef struct prof__fiber_walk {
    prof_trace *trace;
    const prof__fiber_bounds *bounds; /* of each segment of the trace */
    const prof__read_states_of *threads;
    size_t thread_count;
    prof__fiber_part *holes; /* when segments of fibers may be missing; in order, apart from each other */
    size_t hole_count, hole_capacity;
    int64_t until_ns; /* later, nothing is known of threads */
    /* How many states of threads may still be looked at: [1] where a fiber was, [0] where it may have been. In a
       damaged image that may be all states, for each fiber. Beyond that nothing is known. */
    size_t budgets[2];
    prof__fiber_part *parts; /* of the present fiber */
    size_t part_count, part_capacity;
    size_t hint;
} prof__fiber_walk;

static int prof__fiber_turn_order(const void *a, const void *b)
{
    const prof__fiber_turn *x = (const prof__fiber_turn *)a, *y = (const prof__fiber_turn *)b;
    if (x->thread != y->thread) return x->thread < y->thread ? -1 : 1;
    if (x->tick != y->tick) return x->tick < y->tick ? -1 : 1;
    if (x->chunk != y->chunk) return x->chunk < y->chunk ? -1 : 1;
    return x->word < y->word ? -1 : x->word > y->word;
}

static int prof__fiber_part_order(const void *a, const void *b)
{
    const prof__fiber_part *x = (const prof__fiber_part *)a, *y = (const prof__fiber_part *)b;
    if (x->from != y->from) return x->from < y->from ? -1 : 1;
    if (x->to != y->to) return x->to < y->to ? -1 : 1;
    return x->state < y->state ? -1 : x->state > y->state;
}

/* Returns the bounds of all segments, or NULL if there is no memory. */
static prof__fiber_bounds *prof__fiber_bounds_make(const prof_trace *trace)
{
    size_t i, count = trace->segment_count;
    prof__fiber_turn *turns = (prof__fiber_turn *)malloc((count + 1) * sizeof *turns);
    prof__fiber_bounds *bounds = (prof__fiber_bounds *)malloc((count + 1) * sizeof *bounds);
    for (i = 0; turns && i < count; i++) {
        const prof__read_segment *segment = &trace->segments[i];
        turns[i].tick = segment->tick != ~(uint64_t)0 ? segment->tick : segment->last_tick;
        turns[i].thread = segment->thread;
        turns[i].chunk = segment->chunk;
        turns[i].word = segment->first;
        turns[i].segment = (uint32_t)i;
    }
    if (turns && bounds) {
        uint64_t next = ~(uint64_t)0;
        qsort(turns, count, sizeof *turns, prof__fiber_turn_order);
        for (i = count; i-- > 0;) {
            const prof__read_segment *segment = &trace->segments[turns[i].segment];
            int first = !i || turns[i - 1].thread != turns[i].thread;
            bounds[turns[i].segment].from = first ? 0 : trace->segments[turns[i - 1].segment].last_tick;
            bounds[turns[i].segment].to = next;
            next = first ? ~(uint64_t)0 : segment->tick != ~(uint64_t)0 ? segment->tick : next;
        }
    } else {
        free(bounds);
        bounds = NULL;
    }
    free(turns);
    return bounds;
}

/* Lists the times in which switches of all processors are missing: the recording was paused, or its buffer full, and so
   segments of fibers may be missing, too. Returns 0 if there is no memory. */
static int prof__fiber_holes(prof__fiber_walk *walk, const prof__read_knowledge *known)
{
    size_t i;
    for (i = 0; i < known->count; i++) {
        const prof__read_hole *hole = &known->holes[i];
        int64_t from = prof__read_since(walk->trace, hole->from), to = prof__read_since(walk->trace, hole->to);
        prof__fiber_part *last = walk->hole_count ? &walk->holes[walk->hole_count - 1] : NULL;
        if (hole->processor != PROF__NONE32) continue;
        if (last && from <= last->to) {
            if (to > last->to) last->to = to;
            continue;
        }
        if (!PROF__ROOM(walk->holes, walk->hole_capacity, walk->hole_count)) return 0;
        walk->holes[walk->hole_count].from = from;
        walk->holes[walk->hole_count].state = PROF__NONE;
        walk->holes[walk->hole_count++].to = to;
    }
    return 1;
}

static const prof__read_states_of *prof__fiber_thread(const prof__fiber_walk *walk, uint32_t thread)
{
    size_t low = 0, high = walk->thread_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (walk->threads[middle].thread < thread)
            low = middle + 1;
        else
            high = middle;
    }
    return low < walk->thread_count && walk->threads[low].thread == thread ? &walk->threads[low] : NULL;
}

/* Adds a part. Returns 0 if there is no memory. */
static int prof__fiber_part_add(prof__fiber_walk *walk, int64_t from, int64_t to, size_t state)
{
    prof__fiber_part *part = walk->part_count ? &walk->parts[walk->part_count - 1] : NULL;
    if (to < from || (to == from && state == PROF__NONE)) return 1;
    if (part && state == PROF__NONE && part->state == state && part->from <= from && from <= part->to) {
        if (to > part->to) part->to = to;
        return 1;
    }
    if (!PROF__ROOM(walk->parts, walk->part_capacity, walk->part_count)) return 0;
    part = &walk->parts[walk->part_count++];
    part->from = from;
    part->to = to;
    part->state = state;
    return 1;
}

/* Adds what a thread did from a time to another, during which the fiber was on it or (sure: 0) may have been. Returns 0
   if there is no memory. */
static int prof__fiber_on(prof__fiber_walk *walk, const prof__read_states_of *thread, int64_t from, int64_t to,
                          int sure)
{
    const prof_state *states = walk->trace->states;
    size_t low = thread ? thread->state : 0, end = thread ? low + thread->state_count : 0, high = end;
    if (!sure && thread && from < thread->begin_ns) from = thread->begin_ns;
    if (!sure && thread && to > thread->end_ns) to = thread->end_ns;
    while (low < high) { /* the first state that ends later */
        size_t middle = low + (high - low) / 2;
        if (states[middle].end_ns <= from)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < end && states[low].start_ns < to && walk->budgets[sure]; low++, walk->budgets[sure]--) {
        int64_t start = states[low].start_ns > from ? states[low].start_ns : from;
        int64_t stop = states[low].end_ns < to ? states[low].end_ns : to;
        size_t state = sure ? low : PROF__NONE;
        if (!prof__fiber_part_add(walk, from, start, PROF__NONE)) return 0;
        if ((sure || states[low].kind != PROF_STATE_WAITING) && !prof__fiber_part_add(walk, start, stop, state))
            return 0;
        from = stop;
    }
    return prof__fiber_part_add(walk, from, to, PROF__NONE);
}

/* Lists the parts of a fiber that are not just waiting. Returns 0 if there is no memory. */
static int prof__fiber_parts(prof__fiber_walk *walk, const prof__read_track *track, int64_t reached)
{
    const prof_trace *trace = walk->trace;
    const prof__read_segment *segment = trace->segments + track->segment, *last = segment + track->segment_count - 1,
                             *next = segment;
    const prof__fiber_bounds *before = NULL;
    int64_t limit = reached;
    for (walk->part_count = 0; segment <= last; segment++) {
        const prof__fiber_bounds *bounds = &walk->bounds[segment - trace->segments];
        const prof__read_states_of *thread = prof__fiber_thread(walk, segment->thread);
        int64_t from = prof__read_ns(trace, bounds->from, &walk->hint), to = INT64_MAX;
        /* 1: it came back, and neither it nor another track has an event in between */
        int again = before && segment[-1].thread == segment->thread && before->from == bounds->from &&
                    before->to == bounds->to;
        if (next <= segment) { /* the next time at which the fiber is known to be somewhere */
            for (next = segment + 1; next <= last && next->tick == ~(uint64_t)0;) next++;
            limit = next <= last ? prof__read_ns(trace, next->tick, &walk->hint) : INT64_MAX;
        }
        before = bounds;
        if (bounds->to != ~(uint64_t)0) to = prof__read_ns(trace, bounds->to, &walk->hint);
        if (from < reached) from = reached;
        if (to > limit) to = limit;
        if (segment->tick != ~(uint64_t)0) {
            int64_t start = prof__read_ns(trace, segment->tick, &walk->hint),
                    stop = prof__read_ns(trace, segment->last_tick, &walk->hint);
            if (start < reached) start = reached;
            if (stop < start) stop = start;
            if (!prof__fiber_on(walk, thread, from, start, 0) || !prof__fiber_on(walk, thread, start, stop, 1))
                return 0;
            from = reached = stop;
            again = 0;
        }
        if (!again && !prof__fiber_on(walk, thread, from, to, 0)) return 0;
        if (segment < last && (segment[1].gap || segment[1].serial - segment->serial != 1) &&
            !prof__fiber_part_add(walk, reached, limit, PROF__NONE))
            return 0; /* segments are missing */
    }
    if (walk->part_count) qsort(walk->parts, walk->part_count, sizeof *walk->parts, prof__fiber_part_order);
    return 1;
}

/* Adds states of waiting, but where segments may be missing. Returns 0 if there is no memory. */
static int prof__fiber_waits(prof__fiber_walk *walk, size_t *hole, int64_t from, int64_t to)
{
    while (*hole < walk->hole_count && walk->holes[*hole].to <= from) ++*hole;
    for (; *hole < walk->hole_count && walk->holes[*hole].from < to; ++*hole) {
        if (!prof__state_add(walk->trace, from, walk->holes[*hole].from, PROF_STATE_WAITING, -1, 0)) return 0;
        from = walk->holes[*hole].to;
        if (from >= to) return 1; /* what comes next may lie in this hole, too */
    }
    return prof__state_add(walk->trace, from, to, PROF_STATE_WAITING, -1, 0);
}

/* Makes the states of a fiber, from its first known time on; if it has open scopes, up to the end, else up to its last
   event. waits: 1: it waits while no thread has it. Returns 0 if there is no memory. */
static int prof__fiber_make(prof__fiber_walk *walk, prof__read_track *track, int waits)
{
    prof_trace *trace = walk->trace;
    int64_t at = prof__read_ns(trace, track->tick, &walk->hint), end = walk->until_ns;
    int32_t ran_on = -1;
    size_t i, hole = 0;
    if (!track->about.open && track->about.last_ns < end) end = track->about.last_ns;
    track->state = trace->state_count;
    if (!prof__fiber_parts(walk, track, at)) return 0;
    for (i = 0; i < walk->part_count && walk->parts[i].from < end; i++) {
        const prof__fiber_part *part = &walk->parts[i];
        int64_t from = part->from > at ? part->from : at, to = part->to < end ? part->to : end;
        if (waits && !prof__fiber_waits(walk, &hole, at, from)) return 0;
        if (part->state != PROF__NONE && to >= from) {
            prof_state state = trace->states[part->state];
            unsigned char marks = trace->state_marks[part->state] & PROF__STATE_SWITCHED;
            if (state.start_ns < part->from) marks = 0;
            if (state.processor >= 0 && ran_on >= 0 && state.processor != ran_on) marks |= PROF__STATE_MOVED;
            if (state.processor >= 0) ran_on = state.processor;
            if (!prof__state_add(trace, from, to, (int)state.kind, state.processor, marks)) return 0;
        }
        if (to > at) at = to;
    }
    if (waits && !prof__fiber_waits(walk, &hole, at, end)) return 0;
    track->state_count = trace->state_count - track->state;
    return 1;
}

/* Returns 1 if the track is a fiber's. The tracks of the reader itself have no segments. */
static int prof__is_fiber(const prof__read_track *track) { return track->about.fiber && track->segment_count; }

static int prof__fibers_there(const prof_trace *trace)
{
    size_t i;
    for (i = 0; i < trace->track_count; i++)
        if (prof__is_fiber(&trace->tracks[i])) return 1;
    return 0;
}

/* Makes the states of all fibers. threads: in order of their ids. Returns 0 if there is no memory. */
static int prof__fibers_make(prof_trace *trace, const prof__read_knowledge *known, const prof__read_states_of *threads,
                             size_t thread_count)
{
    prof__fiber_bounds *bounds = prof__fiber_bounds_make(trace);
    prof__fiber_walk walk;
    /* without room for an event, a fiber may have run unseen */
    int good, waits = trace->info.lost <= trace->header.lost_deep + trace->header.lost_busy;
    size_t i;
    memset(&walk, 0, sizeof walk);
    walk.trace = trace;
    walk.bounds = bounds;
    walk.threads = threads;
    walk.thread_count = thread_count;
    walk.until_ns = prof__read_since(trace, known->until);
    walk.budgets[0] = walk.budgets[1] = 4 * (trace->state_count + trace->segment_count) + 4096;
    good = bounds && prof__fiber_holes(&walk, known);
    for (i = 0; good && i < trace->track_count; i++)
        if (prof__is_fiber(&trace->tracks[i])) good = prof__fiber_make(&walk, &trace->tracks[i], waits);
    free(bounds);
    free(walk.holes);
    free(walk.parts);
    return good;
}

/*-- TASKS -----------------------------------------------------------------------------------------------  >>tasks --
   A kernel records no switches of threads. If it says that its fibers are tasks, and that what records a segment is the
   processor that ran the task, then each segment is one turn, because every switch of fibers begins another segment,
   also one after a pause or a loss. From the first record of a turn to the last one, the task ran. Between two turns it
   did not run all the time; whether it waited or could have run is not known. */

static int prof__tasks_said(const prof_trace *trace)
{
    return !strcmp(prof__trace_said(trace, PROF__SAID_TASKS), PROF__SAID_FIBERS);
}

/* Returns 1 if the task surely left its processor before this segment: nothing is missing, and it isn't one that only
   goes on in another chunk. */
static int prof__task_left(const prof__read_segment *segment)
{
    const prof__read_segment *before = segment - 1;
    if (segment->gap || segment->serial - before->serial != 1) return 0;
    return segment->thread != before->thread || segment->chunk == before->chunk || segment->first;
}

/* Makes the states of a task, from its first record to its last one. Returns 0 if there is no memory. */
static int prof__task_make(prof_trace *trace, prof__read_track *track, size_t *hint)
{
    const prof__read_segment *segment = trace->segments + track->segment, *end = segment + track->segment_count;
    const prof__read_segment *turn = NULL; /* the one before */
    unsigned char left = 0;
    int64_t reached = 0;
    track->state = trace->state_count;
    for (; segment < end; segment++) {
        int64_t from, to;
        int moved = turn && turn->thread != segment->thread;
        if (turn && prof__task_left(segment)) left = PROF__STATE_SWITCHED;
        if (segment->record == ~(uint64_t)0) continue;
        from = prof__read_ns(trace, segment->record, hint);
        to = prof__read_ns(trace, segment->last_tick, hint);
        if (turn && from < reached) from = reached;
        if (to < from) to = from;
        if (turn && !prof__state_add(trace, reached, from, PROF_STATE_UNKNOWN, -1, left)) return 0;
        if (!prof__state_add(trace, from, to, PROF_STATE_RUNNING, (int32_t)segment->thread,
                             moved ? PROF__STATE_MOVED : 0))
            return 0;
        turn = segment;
        reached = to;
        left = 0;
    }
    track->state_count = trace->state_count - track->state;
    return 1;
}

/* Makes the states of all tasks. Returns 0 if there is no memory. */
static int prof__tasks_make(prof_trace *trace)
{
    size_t i, hint = 0;
    for (i = 0; i < trace->track_count; i++)
        if (prof__is_fiber(&trace->tracks[i]) && !prof__task_make(trace, &trace->tracks[i], &hint)) return 0;
    return 1;
}

/*-- STATES ----------------------------------------------------------------------------------------------  >>states --
   Switches lie in EVENTs, one after the other for each processor. Here they are sorted by thread and time, and what a
   thread did between two of them becomes a state. Where switches are missing, nothing is known of the threads that may
   have run on the processor meanwhile. */

static int prof__hole_order(const void *a, const void *b)
{
    const prof__read_hole *x = (const prof__read_hole *)a, *y = (const prof__read_hole *)b;
    return x->from < y->from ? -1 : x->from > y->from;
}

static int prof__switches_order(const void *a, const void *b)
{
    const prof__read_switches *x = (const prof__read_switches *)a, *y = (const prof__read_switches *)b;
    return x->id < y->id ? -1 : x->id > y->id;
}

static int prof__switch_order(const void *a, const void *b)
{
    const prof__read_switch *x = (const prof__read_switch *)a, *y = (const prof__read_switch *)b;
    if (x->thread != y->thread) return x->thread < y->thread ? -1 : 1;
    if (x->ns != y->ns) return x->ns < y->ns ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

#define PROF__HOLES 4096u /* of more, all that comes after them is unknown */
#define PROF__HOLE_PROCESSORS 1024u

static int prof__hole_add(prof__read_knowledge *known, uint64_t from, uint64_t to, uint32_t processor)
{
    if (known->count == PROF__HOLES) {
        known->holes[PROF__HOLES - 1].to = ~(uint64_t)0;
        known->holes[PROF__HOLES - 1].processor = PROF__NONE32;
        return 1;
    }
    if (!PROF__ROOM(known->holes, known->capacity, known->count)) return 0;
    known->holes[known->count].from = from;
    known->holes[known->count].to = to;
    known->holes[known->count++].processor = processor;
    return 1;
}

/* Finds out of which times the switches are known. last: of the first processors: the time of their last switch so far.
   Returns 0 if there is no memory. */
static int prof__switches_known(prof_trace *trace, prof__read_knowledge *known, uint64_t *last)
{
    uint64_t round = 0; /* of the last EVENT that says what is known */
    int missing = trace->switches[0].serial != 0;
    size_t i;
    for (i = 0; i < trace->switches_count; i++) {
        const prof__read_switches *event = &trace->switches[i];
        if (i && event->serial != (uint16_t)(event[-1].serial + 1)) missing = 1;
        if (event->what == PROF__SWITCHES_OF && event->count) {
            const prof__read_switch *first = &trace->switch_items[event->first];
            uint64_t *latest = &last[event->processor % PROF__HOLE_PROCESSORS];
            int here = event->processor < PROF__HOLE_PROCESSORS && *latest > round;
            if ((first->place & 7) == PROF__SWITCH_LOST) {
                trace->info.switches_lost += first->thread;
                if (!prof__hole_add(known, here ? *latest : round, first->ns, event->processor)) return 0;
            }
            *latest = first[event->count - 1].ns;
        }
        if (event->what == PROF__SWITCHES_OF) continue;
        if (missing && !round)
            known->since = event->ns;
        else if (missing && !prof__hole_add(known, round, event->ns, PROF__NONE32))
            return 0;
        missing = 0;
        round = event->ns;
    }
    known->until = round;
    if (known->count) qsort(known->holes, known->count, sizeof *known->holes, prof__hole_order);
    return 1;
}

enum { PROF__STATE_NONE = PROF_STATE_COUNT, PROF__STATE_UNSEEN, PROF__STATE_UNSURE };

/* A thread while its states are made. kind: a prof_state_kind; NONE: nothing is known; UNSEEN: its first switch will
   tell what it does, and without one it runs; UNSURE: likewise, but without one nothing is known. */
typedef struct prof__read_walk {
    prof_trace *trace;
    const prof__read_knowledge *known;
    int kind;
    unsigned char marks;
    uint64_t since;
    int32_t processor, ran_on; /* ran_on: where it ran before, or does; -1: unknown */
    size_t hole;
} prof__read_walk;

/* Ends the present state, if it is known. Returns 0 if there is no memory. */
static int prof__walk_emit(prof__read_walk *walk, uint64_t end)
{
    prof_trace *trace = walk->trace;
    int kind = walk->kind == PROF__STATE_UNSEEN ? (int)PROF_STATE_RUNNING : walk->kind;
    int64_t from = prof__read_since(trace, walk->since), to = prof__read_since(trace, end);
    if (kind >= PROF_STATE_COUNT || end < walk->since || to < 0) return 1;
    return prof__state_add(trace, from < 0 ? 0 : from, to, kind, walk->processor, walk->marks);
}

static void prof__walk_to(prof__read_walk *walk, int kind, uint64_t ns, int32_t processor)
{
    walk->marks = 0;
    if (kind == PROF_STATE_RUNNING) {
        if (walk->ran_on >= 0 && walk->ran_on != processor) walk->marks = PROF__STATE_MOVED;
        walk->ran_on = processor;
    }
    walk->kind = kind;
    walk->since = ns;
    walk->processor = processor;
}

/* Ends what is known of the thread where switches are missing that may have been its own, up to a time. Those of a
   processor are not, while it runs on another. */
static int prof__walk_holes(prof__read_walk *walk, uint64_t ns)
{
    const prof__read_knowledge *known = walk->known;
    size_t i;
    while (walk->hole < known->count && known->holes[walk->hole].to <= walk->since) walk->hole++;
    for (i = walk->hole; i < known->count && known->holes[i].from < ns; i++) {
        const prof__read_hole *hole = &known->holes[i];
        int elsewhere = walk->kind == PROF_STATE_RUNNING && hole->processor != PROF__NONE32 &&
                        (uint32_t)walk->processor != hole->processor;
        if (elsewhere || walk->kind == PROF__STATE_NONE || hole->to <= walk->since) continue;
        if (!prof__walk_emit(walk, hole->from > walk->since ? hole->from : walk->since)) return 0;
        prof__walk_to(walk, PROF__STATE_UNSURE, hole->to < ns ? hole->to : ns, -1);
    }
    return 1;
}

/* A thread that did not run from the last switch on begins to. A second one at the same time: its switches are recorded
   twice. */
static int prof__walk_in(prof__read_walk *walk, uint64_t ns, int32_t processor)
{
    if (walk->kind == PROF_STATE_RUNNING && walk->processor == processor) return 1;
    /* it could have run since it was seen, and did not */
    if (walk->kind == PROF__STATE_UNSEEN) walk->kind = PROF_STATE_READY;
    if (walk->kind == PROF__STATE_UNSURE) walk->kind = PROF_STATE_UNKNOWN;
    if (!prof__walk_emit(walk, ns)) return 0;
    prof__walk_to(walk, PROF_STATE_RUNNING, ns, processor);
    return 1;
}

static int prof__walk_out(prof__read_walk *walk, uint64_t ns, int32_t processor, int kind)
{
    if (walk->kind == PROF__STATE_UNSEEN || walk->kind == PROF__STATE_UNSURE)
        prof__walk_to(walk, PROF_STATE_RUNNING, walk->since, processor);
    int ran = walk->kind == PROF_STATE_RUNNING;
    if (!ran && walk->kind != PROF__STATE_NONE) return 1; /* recorded twice */
    if (!prof__walk_emit(walk, ns)) return 0;
    prof__walk_to(walk, kind, ns, -1);
    walk->trace->info.switches += (uint64_t)ran;
    if (ran) walk->marks = PROF__STATE_SWITCHED;
    return 1;
}

static int prof__walk_step(prof__read_walk *walk, const prof__read_switch *one)
{
    int32_t processor = (int32_t)(one->place >> 3);
    if (!prof__walk_holes(walk, one->ns)) return 0;
    switch (one->place & 7) {
    case PROF__SWITCH_IN: return prof__walk_in(walk, one->ns, processor);
    case PROF__SWITCH_READY: return prof__walk_out(walk, one->ns, processor, PROF_STATE_READY);
    case PROF__SWITCH_OUT: return prof__walk_out(walk, one->ns, processor, PROF_STATE_UNKNOWN);
    case PROF__SWITCH_WAITS: return prof__walk_out(walk, one->ns, processor, PROF_STATE_WAITING);
    case PROF__SWITCH_ENDS:
        if (!prof__walk_emit(walk, one->ns)) return 0;
        prof__walk_to(walk, PROF__STATE_NONE, one->ns, -1);
        return 1;
    case PROF__SWITCH_NEW: prof__walk_to(walk, PROF_STATE_READY, one->ns, -1); return 1;
    case PROF__SWITCH_KNOWN:
        if (walk->kind >= PROF__STATE_NONE) prof__walk_to(walk, PROF__STATE_UNSEEN, one->ns, -1);
        return 1;
    default: return 1;
    }
}

/* Makes the states of one thread. */
static int prof__walk_thread(prof_trace *trace, const prof__read_knowledge *known, const prof__read_switch *items,
                             size_t count)
{
    prof__read_walk walk;
    size_t i;
    memset(&walk, 0, sizeof walk);
    walk.trace = trace;
    walk.known = known;
    walk.ran_on = -1;
    prof__walk_to(&walk, known->since ? PROF__STATE_UNSURE : PROF__STATE_NONE, known->since, -1);
    for (i = 0; i < count && items[i].ns <= known->until; i++)
        if (items[i].ns >= known->since && !prof__walk_step(&walk, &items[i])) return 0;
    if (!prof__walk_holes(&walk, known->until)) return 0;
    return walk.since >= known->until || prof__walk_emit(&walk, known->until);
}

typedef struct prof__read_threads {
    prof__read_states_of *list;
    size_t count, capacity;
} prof__read_threads;

/* A thread's track. */
typedef struct prof__read_owner {
    uint64_t thread;
    int64_t first_ns;
    size_t track;
} prof__read_owner;

static int prof__owner_order(const void *a, const void *b)
{
    const prof__read_owner *x = (const prof__read_owner *)a, *y = (const prof__read_owner *)b;
    if (x->thread != y->thread) return x->thread < y->thread ? -1 : 1;
    if (x->first_ns != y->first_ns) return x->first_ns < y->first_ns ? -1 : 1;
    return x->track < y->track ? -1 : x->track > y->track;
}

/* Lists the tracks of threads by the threads' ids. Returns how many; *owners is NULL without memory. */
static size_t prof__owners_make(const prof_trace *trace, prof__read_owner **owners)
{
    size_t i, count = 0;
    *owners = (prof__read_owner *)malloc((trace->track_count + 1) * sizeof **owners);
    for (i = 0; *owners && i < trace->track_count; i++) {
        const prof_track *about = &trace->tracks[i].about;
        if (about->fiber || *about->device) continue;
        (*owners)[count].thread = about->thread_id;
        (*owners)[count].first_ns = about->first_ns;
        (*owners)[count++].track = i;
    }
    if (count) qsort(*owners, count, sizeof **owners, prof__owner_order);
    return count;
}

/* Gives the states of a thread, which are the trace's last ones, to the tracks with its id. The system gives an id
   again after a thread has ended: then each track has the states from the last event of the one before on, up to the
   first event of the next one. */
static void prof__states_give(prof_trace *trace, const prof__read_owner *owners, size_t count, size_t first)
{
    size_t i;
    for (i = 0; i < count; i++) {
        prof__read_track *track = &trace->tracks[owners[i].track];
        int64_t from = i ? trace->tracks[owners[i - 1].track].about.last_ns : INT64_MIN;
        int64_t to = i + 1 < count ? owners[i + 1].first_ns : INT64_MAX;
        while (i && first < trace->state_count && trace->states[first].end_ns <= from) first++;
        track->state = first;
        for (; first < trace->state_count && trace->states[first].start_ns < to; first++) continue;
        track->state_count = first - track->state;
    }
}

/* Adds a state of the trace to a sum. ns: what is later does not count. */
static void prof__sum_add(const prof_trace *trace, prof__read_sum *sum, size_t i, int64_t ns)
{
    const prof_state *state = &trace->states[i];
    int64_t end = state->end_ns < ns ? state->end_ns : ns;
    if (ns <= state->start_ns) return;
    sum->ns[state->kind] += (uint64_t)(end - state->start_ns);
    sum->switches += trace->state_marks[i] & PROF__STATE_SWITCHED ? 1u : 0;
    sum->migrations += trace->state_marks[i] & PROF__STATE_MOVED ? 1u : 0;
}

static int prof__states_sum(prof_trace *trace)
{
    prof__read_sum sum;
    size_t i;
    memset(&sum, 0, sizeof sum);
    trace->sums = (prof__read_sum *)malloc((trace->state_count / PROF__STATE_STEP + 1) * sizeof *trace->sums);
    if (!trace->sums) return 0;
    for (i = 0; i < trace->state_count; i++) {
        if (i % PROF__STATE_STEP == 0) trace->sums[i / PROF__STATE_STEP] = sum;
        prof__sum_add(trace, &sum, i, INT64_MAX);
    }
    if (i % PROF__STATE_STEP == 0) trace->sums[i / PROF__STATE_STEP] = sum;
    return 1;
}

/* Notes which states a thread has, for fibers. Returns 0 if there is no memory. */
static int prof__states_note(const prof_trace *trace, prof__read_threads *threads, const prof__read_switch *items,
                             size_t count, size_t first)
{
    prof__read_states_of *of = (prof__read_states_of *)PROF__MORE(threads->list, threads->capacity, threads->count);
    if (!of) return 0;
    of->thread = items->thread;
    of->state = first;
    of->state_count = trace->state_count - first;
    of->begin_ns = INT64_MIN;
    of->end_ns = INT64_MAX;
    if ((items[0].place & 7) == PROF__SWITCH_NEW) of->begin_ns = prof__read_since(trace, items[0].ns);
    if ((items[count - 1].place & 7) == PROF__SWITCH_ENDS) of->end_ns = prof__read_since(trace, items[count - 1].ns);
    return 1;
}

/* Makes the states of all threads, of switches that are sorted. threads: receives them; NULL: only those with a track
   are wanted. Returns 0 if there is no memory. */
static int prof__states_walk(prof_trace *trace, const prof__read_knowledge *known, prof__read_threads *threads)
{
    prof__read_owner *owners;
    size_t from, to, owner = 0, end, count = prof__owners_make(trace, &owners), delay = 0, readings;
    int good = owners != NULL;
    if (trace->delay_count) qsort(trace->delays, trace->delay_count, sizeof *trace->delays, prof__delay_order);
    for (from = 0; good && from < trace->switch_count; from = to) {
        size_t first = trace->state_count;
        uint32_t thread = trace->switch_items[from].thread;
        for (to = from + 1; to < trace->switch_count && trace->switch_items[to].thread == thread;) to++;
        good = prof__walk_thread(trace, known, trace->switch_items + from, to - from);
        readings = prof__delays_of(trace, thread, &delay);
        if (readings > 1) /* one alone says nothing */
            good = good && prof__delays_apply(trace, thread, first, trace->delays + delay - readings, readings);
        while (owner < count && owners[owner].thread < thread) owner++;
        for (end = owner; end < count && owners[end].thread == thread;) end++;
        prof__states_give(trace, owners + owner, end - owner, first);
        if (threads)
            good = good && prof__states_note(trace, threads, trace->switch_items + from, to - from, first);
        else if (end == owner)
            trace->state_count = first; /* of a thread without a track: nobody asks for them */
    }
    free(owners);
    return good;
}

static int prof__states_make(prof_trace *trace)
{
    prof__read_knowledge known;
    prof__read_threads threads;
    uint64_t *last;
    int good, fibers = prof__fibers_there(trace);
    memset(&known, 0, sizeof known);
    memset(&threads, 0, sizeof threads);
    if (!trace->switches_count) return !prof__tasks_said(trace) || (prof__tasks_make(trace) && prof__states_sum(trace));
    qsort(trace->switches, trace->switches_count, sizeof *trace->switches, prof__switches_order);
    last = (uint64_t *)calloc(PROF__HOLE_PROCESSORS, sizeof *last);
    good = last && prof__switches_known(trace, &known, last);
    if (trace->switch_count)
        qsort(trace->switch_items, trace->switch_count, sizeof *trace->switch_items, prof__switch_order);
    good = good && prof__states_walk(trace, &known, fibers ? &threads : NULL);
    if (fibers) good = good && prof__fibers_make(trace, &known, threads.list, threads.count);
    good = good && prof__states_sum(trace);
    free(last);
    free(known.holes);
    free(threads.list);
    free(trace->switches);
    free(trace->switch_items);
    free(trace->delays);
    trace->delays = NULL;
    trace->switches = NULL;
    trace->switch_items = NULL;
    return good;
}

PROF_DEF const prof_state *prof_track_states(const prof_trace *trace, size_t track, size_t *count)
{
    if (count) *count = 0;
    if (!trace || !count || track >= trace->track_count || !trace->tracks[track].state_count) return NULL;
    *count = trace->tracks[track].state_count;
    return trace->states + trace->tracks[track].state;
}

/* Sums up the states of a track up to a time, on top of all states of the threads before. */
static void prof__states_until(const prof_trace *trace, const prof__read_track *track, int64_t ns, prof__read_sum *sum)
{
    size_t low = track->state, high = track->state + track->state_count, i;
    while (low < high) { /* the first state that ends later */
        size_t middle = low + (high - low) / 2;
        if (trace->states[middle].end_ns <= ns)
            low = middle + 1;
        else
            high = middle;
    }
    *sum = trace->sums[low / PROF__STATE_STEP];
    for (i = low / PROF__STATE_STEP * PROF__STATE_STEP; i < low; i++) prof__sum_add(trace, sum, i, INT64_MAX);
    if (low < track->state + track->state_count) prof__sum_add(trace, sum, low, ns);
}

/* Returns for how long a thread, of its waiting in a time, may have been ready after it was woken: see >>delays. */
static uint64_t prof__states_woken(const prof_trace *trace, const prof__read_track *track, int64_t start_ns,
                                   int64_t end_ns)
{
    uint32_t thread = (uint32_t)track->about.thread_id;
    size_t low = 0, high = trace->unplaced_count;
    uint64_t all = 0;
    prof__read_sum from, to;
    while (low < high) { /* the first one of the thread that ends later */
        size_t middle = low + (high - low) / 2;
        const prof__read_unplaced *at = &trace->unplaced[middle];
        if (at->thread < thread || (at->thread == thread && at->to <= start_ns))
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < trace->unplaced_count; low++) {
        const prof__read_unplaced *at = &trace->unplaced[low];
        uint64_t waited;
        if (at->thread != thread || at->from >= end_ns) break;
        prof__states_until(trace, track, at->from > start_ns ? at->from : start_ns, &from);
        prof__states_until(trace, track, at->to < end_ns ? at->to : end_ns, &to);
        waited = to.ns[PROF_STATE_WAITING] - from.ns[PROF_STATE_WAITING];
        all += waited < (uint64_t)at->ns ? waited : (uint64_t)at->ns;
    }
    return all;
}

static void prof__states_split(const prof_trace *trace, const prof__read_track *track, int64_t start_ns, int64_t end_ns,
                               prof_split *split)
{
    prof__read_sum from, to;
    memset(split, 0, sizeof *split);
    if (end_ns < start_ns) end_ns = start_ns;
    split->wall_ns = split->unknown_ns = (uint64_t)(end_ns - start_ns);
    if (!track->state_count) return;
    prof__states_until(trace, track, start_ns, &from);
    prof__states_until(trace, track, end_ns, &to);
    split->running_ns = to.ns[PROF_STATE_RUNNING] - from.ns[PROF_STATE_RUNNING];
    split->ready_ns = to.ns[PROF_STATE_READY] - from.ns[PROF_STATE_READY];
    split->waiting_ns = to.ns[PROF_STATE_WAITING] - from.ns[PROF_STATE_WAITING];
    split->unknown_ns -= split->running_ns + split->ready_ns + split->waiting_ns;
    split->switches = to.switches - from.switches;
    split->migrations = to.migrations - from.migrations;
    if (trace->unplaced_count && !track->about.fiber)
        split->woken_ns = prof__states_woken(trace, track, start_ns, end_ns);
}

PROF_DEF prof_status prof_track_split(const prof_trace *trace, size_t track, int64_t start_ns, int64_t duration_ns,
                                      prof_split *split)
{
    if (split) memset(split, 0, sizeof *split);
    if (!trace || !split) return prof__null("prof_track_split", "trace or split");
    if (track >= trace->track_count)
        return prof__fail(PROF_INVALID_ARGUMENT, "prof_track_split: there is no track %lu", (unsigned long)track);
    if (duration_ns < 0 || start_ns > INT64_MAX - duration_ns)
        return prof__fail(PROF_INVALID_ARGUMENT, "prof_track_split: duration_ns must not be negative");
    prof__states_split(trace, &trace->tracks[track], start_ns, start_ns + duration_ns, split);
    return PROF_OK;
}

/* Returns 1 if the parts that a frame says itself are those of this frame: that of the boundary before may be lost. */
static int prof__frame_fits(const uint64_t *parts, uint64_t wall)
{
    uint64_t sum = parts[0] + parts[1] + parts[2], most = wall / 20 > 100000 ? wall / 20 : 100000;
    return (sum > wall ? sum - wall : wall - sum) <= most;
}

/* Replaces a split by what the event's own arguments say: see PROF__KEY_RUNNING. The time that they leave, in which the
   scope or frame measured, the thread ran. */
static void prof__event_timed(const prof_event *event, prof_split *split)
{
    static const char *const keys[] = {PROF__KEY_RUNNING, PROF__KEY_READY, PROF__KEY_WAITING};
    uint64_t parts[3] = {0, 0, 0}, found = 0, wall = split->wall_ns;
    uint32_t i, j;
    for (i = 0; i < event->arg_count; i++) {
        const prof_arg *arg = &event->args[i];
        if (arg->value.type != PROF_VALUE_UINT || arg->key[0] != 'p') continue;
        for (j = 0; j < 3; j++) {
            if (strcmp(arg->key, keys[j])) continue;
            parts[j] = arg->value.as.u;
            found |= 1u << j;
        }
    }
    if (!(found & 1)) return;
    if (event->type == PROF_EVENT_FRAME && found == 7 && !prof__frame_fits(parts, wall)) return;
    if (found == 7) {
        split->ready_ns = parts[1] < wall ? parts[1] : wall;
        split->waiting_ns = parts[2] < wall - split->ready_ns ? parts[2] : wall - split->ready_ns;
        split->running_ns = wall - split->ready_ns - split->waiting_ns;
    } else {
        split->ready_ns = split->waiting_ns = 0;
        split->running_ns = parts[0] < wall ? parts[0] : wall;
    }
    split->unknown_ns = wall - split->running_ns - split->ready_ns - split->waiting_ns;
}

/* Returns when an event began. The time of a frame is that of the boundary that ends it. */
static int64_t prof__event_start(const prof_event *event)
{
    return event->type == PROF_EVENT_FRAME ? event->start_ns - event->duration_ns : event->start_ns;
}

/* Splits an event's time: by the states of its thread or, where they leave something unknown, by its own arguments. */
static void prof__event_split(const prof_trace *trace, const prof__read_track *track, const prof_event *event,
                              prof_split *split)
{
    int64_t start = prof__event_start(event);
    int timed = event->type == PROF_EVENT_SCOPE || event->type == PROF_EVENT_FRAME;
    prof__states_split(trace, track, start, start + event->duration_ns, split);
    if (track->about.fiber && track->state_count) return; /* its arguments say what the thread did */
    if (split->unknown_ns && event->arg_count && timed && !event->flags)
        prof__event_timed(event, split);
}

PROF_DEF prof_status prof_event_split(const prof_trace *trace, size_t track, const prof_event *event, prof_split *split)
{
    prof_status status;
    if (split) memset(split, 0, sizeof *split);
    if (!event) return prof__null("prof_event_split", "event");
    status = prof_track_split(trace, track, prof__event_start(event), event->duration_ns, split);
    if (!status) prof__event_split(trace, &trace->tracks[track], event, split);
    return status;
}

static int prof__sample_order(const void *a, const void *b)
{
    const prof__read_sample *x = (const prof__read_sample *)a, *y = (const prof__read_sample *)b;
    if (x->thread != y->thread) return x->thread < y->thread ? -1 : 1;
    if (x->ns != y->ns) return x->ns < y->ns ? -1 : 1;
    if (x->processor != y->processor) return x->processor < y->processor ? -1 : 1;
    return x->chain < y->chain ? -1 : x->chain > y->chain;
}

/* Appends the samples of one thread. */
static void prof__samples_append(prof_trace *trace, const prof__read_sample *items, size_t count)
{
    size_t i;
    for (i = 0; i < count; i++) {
        prof_sample *sample = &trace->samples[trace->sample_count++];
        const prof__read_chain *chain = &trace->chains[items[i].chain];
        int64_t ns = prof__read_since(trace, items[i].ns);
        sample->time_ns = ns < 0 ? 0 : ns;
        sample->frames = trace->frames + chain->first;
        sample->frame_count = chain->count;
        sample->processor = (int32_t)items[i].processor;
        sample->thread_id = items[i].thread;
    }
}

/* Divides the samples of a thread, which are the trace's last ones, among the tracks with its id: each has those up to
   the first event of the next one. */
static void prof__samples_give(prof_trace *trace, const prof__read_owner *owners, size_t count, size_t first)
{
    size_t i;
    for (i = 0; i < count; i++) {
        prof__read_track *track = &trace->tracks[owners[i].track];
        int64_t to = i + 1 < count ? owners[i + 1].first_ns : INT64_MAX;
        track->sample = first;
        for (; first < trace->sample_count && trace->samples[first].time_ns < to; first++) continue;
        track->sample_count = first - track->sample;
    }
}

/* Appends the samples of all threads that have a track, or (tracked: 0) of all that have none. */
static void prof__samples_of(prof_trace *trace, const prof__read_owner *owners, size_t count, int tracked)
{
    size_t from, to, owner = 0, end;
    for (from = 0; from < trace->sample_item_count; from = to) {
        size_t first = trace->sample_count;
        uint32_t thread = trace->sample_items[from].thread;
        for (to = from + 1; to < trace->sample_item_count && trace->sample_items[to].thread == thread;) to++;
        while (owner < count && owners[owner].thread < thread) owner++;
        for (end = owner; end < count && owners[end].thread == thread;) end++;
        if ((end > owner) != tracked) continue;
        prof__samples_append(trace, trace->sample_items + from, to - from);
        if (tracked) prof__samples_give(trace, owners + owner, end - owner, first);
    }
}

/* Converts the times of modules, which are those of the image so far. */
static void prof__modules_time(prof_trace *trace)
{
    size_t i;
    for (i = 0; i < trace->module_count; i++) {
        int64_t ns = prof__read_since(trace, (uint64_t)trace->modules[i].from_ns);
        trace->modules[i].from_ns = ns < 0 ? 0 : ns;
    }
}

/* Makes the samples of all tracks. Returns 0 if there is no memory. */
static int prof__samples_make(prof_trace *trace)
{
    prof__read_owner *owners;
    size_t count;
    prof__modules_time(trace);
    prof__faults_make(trace);
    trace->info.samples = trace->sample_item_count;
    if (!trace->sample_item_count) return 1;
    qsort(trace->sample_items, trace->sample_item_count, sizeof *trace->sample_items, prof__sample_order);
    trace->samples = (prof_sample *)malloc(trace->sample_item_count * sizeof *trace->samples);
    count = prof__owners_make(trace, &owners);
    if (owners && trace->samples) {
        prof__samples_of(trace, owners, count, 1);
        trace->trackless = trace->sample_count;
        prof__samples_of(trace, owners, count, 0);
    }
    free(owners);
    free(trace->chains);
    free(trace->chain_index.slots);
    free(trace->sample_items);
    trace->chains = NULL;
    trace->chain_index.slots = NULL;
    trace->sample_items = NULL;
    return owners && trace->samples;
}

PROF_DEF const prof_sample *prof_track_samples(const prof_trace *trace, size_t track, size_t *count)
{
    size_t first;
    if (count) *count = 0;
    if (!trace || !count || (track >= trace->track_count && track != PROF_NO_TRACK)) return NULL;
    first = track == PROF_NO_TRACK ? trace->trackless : trace->tracks[track].sample;
    *count = track == PROF_NO_TRACK ? trace->sample_count - first : trace->tracks[track].sample_count;
    return *count ? trace->samples + first : NULL;
}

PROF_DEF const prof_module *prof_trace_modules(const prof_trace *trace, size_t *count)
{
    if (count) *count = 0;
    if (!trace || !count || !trace->module_count) return NULL;
    *count = trace->module_count;
    return trace->modules;
}

PROF_DEF const prof_module *prof_module_at(const prof_trace *trace, uint64_t address, int64_t time_ns)
{
    const prof_module *best = NULL;
    size_t i;
    for (i = 0; trace && i < trace->module_count; i++) {
        const prof_module *module = &trace->modules[i];
        if (address < module->start || address >= module->end) continue;
        if (!best || (module->from_ns <= time_ns ? best->from_ns > time_ns || module->from_ns >= best->from_ns
                                                 : module->from_ns < best->from_ns && best->from_ns > time_ns))
            best = module;
    }
    return best;
}

/* Matches the BEGINs and ENDs from this word on; most records are of these kinds. Returns the index of the word after
   them, or 0 if there is no memory. */
static size_t prof__read_match_scopes(prof__read_matcher *m, const uint64_t *words, size_t at, size_t end,
                                      uint32_t number, const prof__read_chunk *chunk)
{
    prof_trace *trace = m->trace;
    uint64_t tick = m->tick, base = chunk->tick;
    int good = 1;
    for (; at < end; at++) {
        uint64_t head = words[at];
        unsigned kind = prof__read_kind(head);
        uint32_t site, closes;
        if (kind - PROF__KIND_BEGIN > PROF__KIND_END - PROF__KIND_BEGIN) break;
        m->tick = tick = prof__read_tick(base, head, tick);
        site = (uint32_t)prof__read_site_of(trace, prof__read_id(head));
        if (kind == PROF__KIND_BEGIN) {
            prof__read_event(m);
            good = prof__read_push(m, site, number, at);
        } else if (PROF__LIKELY(m->depth && m->stack[m->depth - 1].site == site)) {
            if (PROF__LIKELY(m->listed < m->depth && m->crossed < m->depth))
                m->depth--; /* the scope is in no list */
            else
                prof__read_pop(m, 0);
        } else {
            closes = prof__read_match(m, site, prof__read_event_id(trace, chunk, at));
            good = closes != PROF__NONE32 && prof__read_except(m, number, at, closes);
        }
        if (PROF__UNLIKELY(!good)) return 0;
    }
    return at;
}

/* Matches the records of a segment one by one. Returns 0 if they can no longer be read, -1 if there is no memory. */
static int prof__read_match_words(prof__read_matcher *m, uint32_t number)
{
    prof_trace *trace = m->trace;
    prof__read_segment *segment = &trace->segments[m->track->segment + number];
    prof__read_chunk *chunk = &trace->chunks[segment->chunk];
    const uint64_t *words = prof__read_words(trace, &trace->buffer, segment);
    size_t at, length;
    uint32_t data = 0; /* number of DATA records that the previous event has so far */
    int takes_data = 0, shown;
    unsigned group = 0;
    if (!words && chunk->size != PROF__NONE32) {
        chunk->size = PROF__NONE32;
        trace->info.lost_blocks++;
        trace->partial = 1;
    }
    if (!words) segment->gap = 1;
    if (!words) prof__read_close_all(m);
    for (at = segment->first; words && at < segment->end; at += length) {
        uint64_t head = words[at];
        unsigned kind = prof__read_kind(head);
        uint32_t site = 0;
        if (kind == PROF__KIND_BEGIN || kind == PROF__KIND_END) {
            size_t next = prof__read_match_scopes(m, words, at, segment->end, number, chunk);
            if (!next) return -1;
            length = next - at;
            data = 0;
            takes_data = 0;
            continue;
        }
        length = prof__record_words(head, segment->end - at);
        if (kind == PROF__KIND_ARG || kind == PROF__KIND_DATA)
            length = prof__read_arg_words(words + at, segment->end - at);
        if (kind == PROF__KIND_FRAME) length = prof__read_frame_words(words + at, segment->end - at);
        if (prof__record_timed(head)) {
            m->tick = prof__read_tick(chunk->tick, head, m->tick);
            site = (uint32_t)prof__read_site_of(trace, prof__read_id(head));
        }
        shown = prof__read_shown(words + at);
        if (kind == PROF__KIND_EVENT) group = prof__event_group(prof__read_event_type(words + at));
        if (shown) prof__read_event(m);
        switch (kind) {
        case PROF__KIND_FRAME:
            if (m->name_tops[trace->sites[site].name].frame != m->serial) {
                m->name_tops[trace->sites[site].name].frame = m->serial;
                m->track->frames++;
            }
            break;
        case PROF__KIND_EVENT:
            if (group == PROF__GROUP_SPAN) trace->has_spans = 1;
            if (group == PROF__GROUP_MESSAGE) trace->has_logs = 1;
            break;
        case PROF__KIND_NAME:
            if (prof__read_name_values(head, length)) trace->has_logs = 1;
            break;
        case PROF__KIND_LOST: m->track->about.lost += head & PROF__TICK_MASK; break;
        case PROF__KIND_ARG:
            if (prof__read_arg_whole(words + at, length) && !prof__read_arg(m, words, at, length, number)) return -1;
            break;
        case PROF__KIND_DATA:
            if (!takes_data || !prof__read_arg_whole(words + at, length)) break;
            m->args++;
            if (++data > m->track->max_event_args) m->track->max_event_args = data;
            break;
        default: break;
        }
        takes_data = prof__read_takes_data(head, shown, takes_data);
        if (!prof__record_in(PROF__PARTS_OF_EVENT, head)) data = 0;
    }
    return words != NULL;
}

/* Runs the matcher over one segment, by its summary if possible. Returns 0 if there is no memory. */
static int prof__read_match_segment(prof__read_matcher *m, uint32_t number)
{
    prof_trace *trace = m->trace;
    prof__read_segment *segment = &trace->segments[m->track->segment + number];
    const prof__read_chunk *chunk = &trace->chunks[segment->chunk];
    int read;
    m->nodes = m->args = 0;
    if (segment->gap && number) prof__read_close_all(m);
    read = prof__segment_summary_match(m, number);
    if (!read) read = prof__read_match_words(m, number);
    if (read < 0) return 0;
    if (read && segment->last && chunk->lost) {
        prof__read_event(m);
        m->track->about.lost += chunk->lost;
    }
    if (m->nodes > m->track->max_nodes) m->track->max_nodes = m->nodes;
    if (m->args > m->track->max_args) m->track->max_args = m->args;
    segment->depth = (int32_t)m->depth - (int32_t)m->track->unmatched_end_count;
    return prof__read_cross(m, number);
}

/* Returns the first tick in a track from *segment on. *segment: set to the segment with that tick. last: the track's
   last segment. */
static uint64_t prof__read_first_tick(const prof_trace *trace, const prof__read_segment **segment,
                                      const prof__read_segment *last)
{
    while (*segment <= last && (*segment)->tick == ~(uint64_t)0) ++*segment;
    return *segment <= last ? (*segment)->tick : trace->chunks[last->chunk].tick;
}

/* Sets the name, the thread id and the id of a track, which are in its segments and in meta. */
static void prof__read_describe(prof_trace *trace, prof__read_track *track)
{
    size_t i;
    int of_system = 0;
    track->about.name = track->about.device = trace->names[0];
    for (i = 0; i < track->segment_count; i++) {
        const prof__read_segment *segment = &trace->segments[track->segment + i];
        size_t name = prof__read_string_name(trace, segment->name);
        const uint64_t *words = i ? NULL : prof__read_words(trace, &trace->buffer, segment);
        if (words) track->about.thread_id = words[segment->first + 2];
        if (segment->fiber) track->about.fiber = 1;
        if (name) track->about.name = trace->names[name]; /* the newest name is used */
        if (name) of_system = segment->of_system;
    }
    track->about.id = trace->segments[track->segment].track;
    if (of_system && (i = prof__read_string_name(trace, prof__read_thread_name(trace, track->about.id))) != 0)
        track->about.name = trace->names[i];
}

/* Returns 1 if the thread that wrote this segment, the last one of its track, was still recording into its chunk. */
static int prof__read_lives(const prof_trace *trace, const prof__read_segment *segment)
{
    const prof__read_chunk *at = &trace->chunks[segment->chunk];
    return !at->size && segment->last && at->owned && !at->torn;
}

static int prof__read_late_order(const void *a, const void *b)
{
    const prof__read_late_begin *x = (const prof__read_late_begin *)a, *y = (const prof__read_late_begin *)b;
    if (x->segment != y->segment) return x->segment < y->segment ? -1 : 1;
    return x->word < y->word ? -1 : x->word > y->word;
}

/* Runs the matcher over a track, and sets what its cursor will need. Returns 0 if there is no memory. */
static int prof__read_match_track(prof__read_matcher *m)
{
    prof_trace *trace = m->trace;
    prof__read_track *track = m->track;
    const prof__read_segment *first = &trace->segments[track->segment];
    uint32_t i;
    track->cross_segment = trace->cross_segment_count;
    track->exception = trace->exception_count;
    track->unmatched_end = trace->unmatched_end_count;
    track->late = trace->late_end_count;
    m->late_floor = m->late_first + m->late_count;
    track->tick = m->tick = m->event_tick =
        prof__read_first_tick(trace, &first, &trace->segments[track->segment + track->segment_count - 1]);
    m->crossed = 0;
    m->torn = 0;
    m->pending = m->pending_last = PROF__NONE;
    m->pending_count = 0;
    for (i = 0; i < track->segment_count; i++)
        if (!prof__read_match_segment(m, i)) return 0;
    track->lives = track->about.fiber || /* a fiber may be waiting to run again */
                   prof__read_lives(trace, &trace->segments[track->segment + track->segment_count - 1]);
    track->about.open = m->depth;
    track->about.ended = !track->lives;
    while (m->depth) prof__read_pop(m, PROF_TRUNCATED_END | PROF__STILL_OPEN);
    trace->info.unmatched += m->pending_count;
    track->cross_segment_count = trace->cross_segment_count - track->cross_segment;
    track->exception_count = trace->exception_count - track->exception;
    track->late_count = trace->late_end_count - track->late;
    if (track->late_count)
        qsort(trace->late_begins + track->late, track->late_count, sizeof *trace->late_begins, prof__read_late_order);
    track->max_depth += track->unmatched_end_count;
    track->about.event_count += track->unmatched_end_count;
    track->about.first_ns = prof__read_ns(trace, track->unmatched_end_count ? track->tick : m->event_tick, &m->hint);
    track->about.last_ns = prof__read_ns(trace, m->tick, &m->hint);
    if (trace->segments[track->segment].serial > 1) track->about.kept_ns = track->about.first_ns;
    trace->info.event_count += track->about.event_count;
    trace->info.lost += track->about.lost;
    if (track->about.last_ns > trace->info.duration_ns) trace->info.duration_ns = track->about.last_ns;
    return 1;
}

/* Returns 1 if the trace has an archive. Then blocks may be missing in the middle, and dropping all segments before a
   gap would drop too many. */
static int prof__read_archived(const prof_trace *trace)
{
    return trace->header.archive_first != trace->header.archive_next;
}

/* Returns 1 if the chunk of segment b was copied later than the chunk of segment a, which may therefore lack its end. A
   snapshot copies the ring's chunks that are being written from the newest slot on backwards. Blocks of the archive are
   always complete. */
static int prof__read_copied_later(const prof_trace *trace, const prof__read_segment *a, const prof__read_segment *b)
{
    const prof__read_chunk *chunk_a = &trace->chunks[a->chunk], *chunk_b = &trace->chunks[b->chunk];
    const prof__header *h = &trace->header;
    uint64_t count = h->chunk_count, first = count ? h->next_chunk % count + count - 1 : 0;
    if (chunk_a->size || chunk_b->size || !count) return !chunk_a->size;
    uint64_t slot_a = (chunk_a->place * 8 - h->chunk_offset) / h->chunk_size;
    uint64_t slot_b = (chunk_b->place * 8 - h->chunk_offset) / h->chunk_size;
    if (slot_a == slot_b) return chunk_b->place < chunk_a->place;
    return (first - slot_b) % count > (first - slot_a) % count;
}

/* Returns 1 if all records from *segment to the end of the track may be newer than the copy. The time at which a chunk
   was taken does not show this, because a thread may take a chunk, sleep, and run the fiber much later. */
static int prof__read_after_copy(const prof_trace *trace, const prof__read_segment **segment,
                                 const prof__read_segment *last)
{
    uint64_t tick;
    if (!trace->header.copy_tick) return 0;
    tick = prof__read_first_tick(trace, segment, last);
    if (*segment <= last && (*segment)->record != ~(uint64_t)0) tick = (*segment)->record;
    return *segment > last || tick >= trace->header.copy_tick;
}

/* Returns 1 if the end of segment a, which segment b of the same track follows, is missing. A thread finishes its chunk
   before it takes the next one. A fiber is an exception: it may have moved to another thread. */
static int prof__read_torn(prof_trace *trace, const prof__read_segment *a, const prof__read_segment *b)
{
    const prof__read_chunk *chunk = &trace->chunks[a->chunk];
    if (!a->last) return 0;
    if (chunk->torn) return 1;
    if (!chunk->open || a->chunk == b->chunk || a->fiber || trace->header.copy_tick) return 0;
    trace->info.lost_blocks++;
    return 1;
}

/* Chooses which segments of a track are read, from segment i on. A gap is a missing number among the serial numbers of
   segments. If what follows the first gap is newer than the copy, the segments before that gap are read: parts of a
   fiber's work on one thread may be in a copy while earlier parts, on a thread that was copied before, are not.
   Otherwise the segments after the last gap are read, because a ring overwrites the oldest. Returns the index of the
   next track's first segment. */
static size_t prof__read_choose(prof_trace *trace, prof__read_track *track, size_t i)
{
    prof__read_segment *segments = trace->segments;
    const prof__read_segment *timed = &segments[i];
    size_t next = i + 1, last;
    while (next < trace->segment_count && segments[next].track == segments[i].track) next++;
    track->segment = i;
    for (last = next - 1, i++; i < next; i++) {
        int torn = prof__read_torn(trace, &segments[i - 1], &segments[i]);
        /* without a gap, segment i may still be in a chunk that was copied later */
        int gap = torn || segments[i].serial - segments[i - 1].serial > 1;
        if (!gap && !prof__read_copied_later(trace, &segments[i - 1], &segments[i])) continue;
        if (timed < &segments[i]) timed = &segments[i];
        if (prof__read_after_copy(trace, &timed, &segments[last])) break;
        if (!gap) continue;
        trace->partial = 1;
        segments[i].gap = 1;
        if (!prof__read_archived(trace) && !trace->info.lost_blocks) track->segment = i;
    }
    track->segment_count = i - track->segment;
    return next;
}

/* Makes the tracks of all threads and fibers, from segments that are sorted by track. Returns 0 if there is no
   memory. */
static int prof__read_tracks(prof_trace *trace)
{
    prof__read_matcher m;
    size_t i, count = 0;
    int good;
    for (i = 0; i < trace->segment_count; i++)
        count += !i || trace->segments[i].track != trace->segments[i - 1].track;
    memset(&m, 0, sizeof m);
    m.trace = trace;
    m.site_tops = (uint32_t *)calloc(trace->site_count + 1, sizeof *m.site_tops);
    m.name_tops = (prof__read_top *)calloc(trace->name_count + 1, sizeof *m.name_tops);
    m.site_late = (uint64_t *)calloc(trace->site_count + 1, sizeof *m.site_late);
    m.late_first = 1;
    trace->tracks = (prof__read_track *)calloc(count + 1, sizeof *trace->tracks);
    good = m.site_tops && m.name_tops && m.site_late && trace->tracks;
    for (i = 0; good && i < trace->segment_count;) {
        m.track = &trace->tracks[trace->track_count++];
        i = prof__read_choose(trace, m.track, i);
        m.serial++;
        prof__read_describe(trace, m.track);
        good = prof__read_match_track(&m);
    }
    free(m.stack);
    free(m.late);
    free(m.site_tops);
    free(m.name_tops);
    free(m.site_late);
    prof__read_buffer_free(&trace->buffer);
    free(trace->segment_summaries);
    free(trace->halves);
    trace->segment_summaries = NULL;
    trace->halves = NULL;
    return good;
}

/*-- opening --*/

static void prof__read_free(prof_trace *trace)
{
    size_t i;
    if (!trace) return;
    for (i = 0; i < trace->text_count; i++) free(trace->texts[i]);
    free(trace->texts);
    prof__reader()->aggregated_free_rows(trace->aggregated, trace->aggregated_count);
    free(trace->since);
    free(trace->image);
    if (trace->file) fclose(trace->file);
    free(trace->chunks);
    free(trace->sequences.slots);
    prof__read_buffer_free(&trace->buffer);
    free(trace->pairs);
    free(trace->segment_summaries);
    free(trace->halves);
    free((void *)trace->names);
    free(trace->name_index.slots);
    free(trace->strings);
    free(trace->metadata);
    free(trace->metadata_index.slots);
    free(trace->threads);
    free(trace->gaps);
    free(trace->epochs);
    free(trace->thread_index.slots);
    free(trace->sites);
    free(trace->site_index.slots);
    free(trace->site_ids);
    free(trace->unknown);
    prof__symbols_free(&trace->symbols);
    free(trace->unknown_index.slots);
    free(trace->segments);
    free(trace->tracks);
    free(trace->cross_segments);
    free(trace->unmatched_ends);
    free(trace->exceptions);
    free(trace->late_begins);
    free(trace->late_ends);
    free(trace->links);
    free(trace->kept);
    free(trace->lines);
    for (i = 0; i < trace->device_count; i++) free(trace->devices[i].lines);
    free(trace->devices);
    free(trace->device_records);
    free(trace->rows);
    free(trace->pairings);
    free(trace->switches);
    free(trace->switch_items);
    free(trace->delays);
    free(trace->unplaced);
    free(trace->faults);
    free(trace->states);
    free(trace->state_marks);
    free(trace->sums);
    free(trace->samples);
    free(trace->frames);
    free(trace->chains);
    free(trace->chain_index.slots);
    free(trace->sample_items);
    free(trace->modules);
    /* Without the magic, prof recover does not take the freed memory in a core dump for a recording. */
    PROF__RELEASE(trace->header.magic, 0);
    free(trace);
}

static prof_status prof__damaged(const char *what, const char *part)
{
    return prof__fail(PROF_CORRUPT, "%s: damaged header (%s)", what, part);
}

/* Returns 0 if the end of a header, from the archive's offset on, is damaged. */
static int prof__header_end_good(const prof__header *h)
{
    if ((h->taken_back | h->lost_args | h->write_failures) >> 56) return 0;
    return !h->archive_offset ||
           (h->archive_offset % 8 == 0 && h->archive_first % 8 == 0 && h->archive_next % 8 == 0 &&
            h->archive_offset >= h->image_size && h->archive_first >= h->archive_offset &&
            h->archive_next >= h->archive_offset &&
            (!h->archive_limit || (h->archive_first <= h->archive_limit && h->archive_next <= h->archive_limit)));
}

/* Reads and checks the header of an image of either byte order. size: bytes of the image with what follows it. what:
   the image's name in errors. */
static prof_status prof__read_header(const void *image, uint64_t size, const char *what, prof__header *header)
{
    uint32_t order;
    uint64_t chunks;
    if (size < sizeof *header || memcmp(image, PROF__MAGIC, 8)) {
        if (size >= 8 && !memcmp(image, PROF__MAGIC, 8))
            return prof__fail(PROF_CORRUPT, "%s: truncated: only %lu bytes of a prof image are left", what,
                              (unsigned long)size);
        return prof__fail(PROF_CORRUPT, "%s: not a prof image (%s)", what, size ? "bad magic" : "empty");
    }
    prof__header_get(image, header);
    header->program[sizeof header->program - 1] = 0;
    header->clock_name[sizeof header->clock_name - 1] = 0;
    header->write_error[sizeof header->write_error - 1] = 0;
    header->boot_id[sizeof header->boot_id - 1] = 0;
    header->crash[sizeof header->crash - 1] = 0;
    order = header->byte_order;
    if (order != PROF__BYTE_ORDER) return prof__damaged(what, "byte order");
    if (header->version > PROF__IMAGE_VERSION)
        return prof__fail(PROF_UNSUPPORTED, "%s: image version %lu is newer than this reader's %d; use a newer prof.h",
                          what, (unsigned long)header->version, PROF__IMAGE_VERSION);
    if (header->version && header->version < PROF__IMAGE_OLDEST)
        return prof__fail(PROF_UNSUPPORTED,
                          "%s: image version %lu is older than this reader's oldest, %d; use a prof.h of that version",
                          what, (unsigned long)header->version, PROF__IMAGE_OLDEST);
    if (!header->version || header->header_size < PROF__HEADER_LEAST || header->header_size % 8 ||
        header->header_size > header->image_size)
        return prof__damaged(what, "version or size");
    if (header->header_size < sizeof *header) /* fields that an older header lacks are 0 */
        memset((char *)header + header->header_size, 0, sizeof *header - header->header_size);
    if (header->image_size > size)
        return prof__fail(PROF_CORRUPT, "%s: truncated: %lu of %lu bytes are left", what, (unsigned long)size,
                          (unsigned long)header->image_size);
    if (header->meta_offset % 8 || header->meta_size % 8 || header->meta_offset < header->header_size ||
        header->meta_offset > header->image_size || header->meta_size > header->image_size - header->meta_offset)
        return prof__damaged(what, "meta lies outside the image");
    if (header->chunk_header_size < PROF__LEAST_CHUNK || header->chunk_header_size % 8 || header->chunk_size % 8 ||
        header->chunk_size <= header->chunk_header_size || header->chunk_size > PROF__CHUNK_MAX)
        return prof__damaged(what, "chunk size");
    if (header->chunk_offset % 8 || header->chunk_offset < header->header_size ||
        header->chunk_offset > header->image_size || header->chunk_count >= PROF__NONE32 ||
        header->chunk_count > (header->image_size - header->chunk_offset) / header->chunk_size)
        return prof__damaged(what, "chunks lie outside the image");
    chunks = header->chunk_count * header->chunk_size;
    if (chunks && header->meta_size && header->meta_offset < header->chunk_offset + chunks &&
        header->chunk_offset < header->meta_offset + header->meta_size)
        return prof__damaged(what, "meta and chunks overlap");
    if (!prof__header_end_good(header)) /* the chunks can be read without the end of the header */
        memset(&header->archive_offset, 0, sizeof *header - offsetof(prof__header, archive_offset));
    return PROF_OK;
}

/* Returns 1 if the end of the image's header was ignored because it is damaged. */
static uint64_t prof__header_cut(const void *image, const prof__header *header)
{
    prof__header raw;
    prof__header_get(image, &raw);
    return raw.archive_offset != header->archive_offset || raw.write_failures != header->write_failures;
}

/* Fills in prof_trace_info. Called when the rate of the clock is known. */
static void prof__read_about(prof_trace *trace)
{
    const prof__header *header = &trace->header;
    prof_trace_info *info = &trace->info;
    double ns_per_tick = 1e9 / (info->tick_hz ? prof__real(info->tick_hz) : 1e9);
    info->program = header->program;
    info->clock = header->clock_name;
    info->pid = header->pid;
    info->parent_pid = header->parent_pid;
    info->start_unix_ns = header->first.unix_ns;
    info->start_monotonic_ns = header->first.monotonic_ns;
    info->boot_id = header->boot_id;
    info->lost += header->lost;
    info->lost_args = header->lost_args;
    info->overwritten_chunks = header->overwritten;
    info->sites_lost = header->sites_lost;
    info->write_failures = header->write_failures;
    info->write_error = header->write_error;
    info->crash = header->crash;
    info->file = trace->file_name;
    info->buffer_size = (header->ring_count ? header->ring_count : header->chunk_count) * header->chunk_size;
    info->chunk_size = header->chunk_size;
    info->mode = header->mode <= PROF_RING_STATS ? (prof_mode)header->mode : PROF_RING;
    info->complete = header->state == PROF__STOPPED;
    info->clock_resolution_ns = prof__real(header->resolution_ticks) * ns_per_tick;
    info->scope_cost_ns = prof__real(header->cost_ticks_x1000) * ns_per_tick / 1000;
    info->call_cost_ns = prof__real(header->call_x1000) * ns_per_tick / 1000;
    info->taken_back += header->taken_back;
    info->start_cost_ns = prof__real(header->start_ns);
    info->ready_cost_ns = prof__real(header->ready_ticks) * ns_per_tick;
}

/* Reads the window of the image and its newest time. */
static void prof__read_window(prof_trace *trace)
{
    const prof__header *header = &trace->header;
    size_t hint = 0;
    trace->newest_ns = prof__read_ns(trace, header->last.tick, &hint);
    if (header->window_from) trace->info.from_ns = prof__read_ns(trace, header->window_from, &hint);
    if (header->window_to > header->window_from) trace->info.to_ns = prof__read_ns(trace, header->window_to, &hint);
    if (trace->info.to_ns <= trace->info.from_ns) trace->info.to_ns = 0;
}

/* Takes all steps from an image to a trace. Returns 0 if there is no memory. */
static int prof__read_parse(prof_trace *trace)
{
    const prof__header *header = &trace->header;
    prof__pair now;
    uint64_t i;
    int running;
    for (i = 0; i < PROF__READ_KEYS; i++) trace->keys[i] = prof__mix(i);
    trace->chunk_words = (header->chunk_size - header->chunk_header_size) / 8;
    trace->word_bits = 16;
    while (trace->chunk_words >> trace->word_bits) trace->word_bits++;
    running = header->state != PROF__STOPPED && prof__pair_now(header->clock, header->boot_id, &now);
    if (!prof__read_epochs_begin(trace) || !prof__read_meta(trace)) return 0;
    prof__align_correct(trace);
    if (!prof__read_chunks(trace)) return 0;
    prof__read_epochs_end(trace, running ? &now : NULL);
    if (!prof__read_clock(trace, running ? &now : NULL)) return 0;
    prof__read_about(trace);
    prof__read_window(trace);
    if (!prof__read_tracks(trace) || !prof__device_tracks(trace) || !prof__gap_track(trace) ||
        !prof__states_make(trace) || !prof__samples_make(trace))
        return 0;
    uint64_t lost = trace->info.lost; /* all lost events, of which the next two are a part each */
    trace->info.lost_deep = header->lost_deep < lost ? header->lost_deep : lost;
    lost -= trace->info.lost_deep;
    trace->info.lost_busy = header->lost_busy < lost ? header->lost_busy : lost;
    if (trace->newest_ns < trace->info.duration_ns) trace->newest_ns = trace->info.duration_ns;
    prof__read_reach(trace);
    return 1;
}

/* Makes a trace of an image on the heap. The image's archive is in the file; if that is NULL, or size is larger than
   the image, it follows the image in memory, up to size. paged: 1: the chunks are only in file. Takes over image and
   file, and frees them on failure. what: the image's name in errors. */
static prof_status prof__read_parts(void *image, size_t size, const prof__image_place *place, int paged,
                                    const char *what, prof_trace **out)
{
    FILE *file = place->file;
    prof_trace *trace = NULL;
    prof__header header;
    prof_status status = prof__read_header(image, size, what, &header);
    if (file && (status != PROF_OK || size > header.image_size ||
                 (header.archive_first == header.archive_next && !paged))) {
        fclose(file);
        file = NULL;
    }
    if (status == PROF_OK) {
        trace = (prof_trace *)calloc(1, sizeof *trace);
        if (trace) {
            trace->image = (uint64_t *)image;
            trace->header = header;
            trace->info.lost_blocks = prof__header_cut(image, &header);
            trace->file = file;
            trace->paged = paged;
            trace->size = size;
            trace->base = place->base;
            if (file && !prof__image_size(place, &trace->size)) trace->size = 0;
            if (prof__read_parse(trace)) {
                *out = trace;
                return PROF_OK;
            }
        }
        status = prof__fail(PROF_NO_MEMORY, "%s: no memory to read it (%lu bytes, and up to as much again for tables)",
                            what, (unsigned long)size);
    }
    if (trace) {
        prof_trace_close(trace);
    } else {
        free(image);
        if (file) fclose(file);
    }
    return status;
}

static prof_status prof__read_image(void *image, size_t size, FILE *file, const char *what, prof_trace **out)
{
    prof__image_place place = {file, 0, 0, 0};
    return prof__read_parts(image, size, &place, 0, what, out);
}

static int prof__source_file(void *place, uint64_t offset, void *to, size_t size)
{
    return prof__image_at((const prof__image_place *)place, offset, to, size);
}

static PROF__UNUSED uint64_t prof__read_whole = PROF__READ_WHOLE; /* not used on Windows */

/* Returns 1 if the chunks of an image are read on demand only: the image is large, and its recording has ended, so that
   they do not change any more. Not on Windows, where a file that is open cannot be replaced by the next recording. */
static int prof__read_pages(const prof__header *header)
{
#ifdef _WIN32
    (void)header;
    return 0;
#else
    return header->state == PROF__STOPPED && header->image_size > prof__read_whole &&
           header->meta_offset + header->meta_size <= header->chunk_offset && header->chunk_offset >= sizeof *header;
#endif
}

/* Reads the first size bytes of an image. Of a running recording, reads the chunks first and the rest afterwards, so
   that meta has each call site that the chunks name, and the header has the newest clock pair. Returns 0 on errors. */
static int prof__read_all(prof__image_place *place, const prof__header *header, unsigned char *image, size_t size)
{
    uint64_t end = header->chunk_offset + header->chunk_count * header->chunk_size;
    if (header->state == PROF__STOPPED) return prof__image_at(place, 0, image, size);
    prof__source source;
    source.read = prof__source_file;
    source.user = place;
    uint64_t newest = 0, tick = 0;
    prof__pair now = {0, 0, 0, 0};
    int here = prof__pair_now(header->clock, header->boot_id, &now);
    if (!prof__chunks_snapshot(&source, header, (char *)image, &newest, &tick) ||
        !prof__image_at(place, end, image + end, (size_t)(header->image_size - end)) ||
        !prof__image_at(place, 0, image, (size_t)header->chunk_offset))
        return 0;
    prof__header *copy = (prof__header *)(void *)image;
    copy->next_chunk = newest;
    if (here && !copy->copy_tick) copy->copy_tick = tick;
    return 1;
}

/* Reads the image in a file. *image: memory that the caller frees, also after an error. *size: the image's size; for an
   image of the other byte order, with the archive, which follows it in memory. *paged: set to 1 if the chunks were left
   in the file. If paged is NULL, the chunks are always read. */
static prof_status prof__read_file(prof__image_place *place, const char *path, unsigned char **image, uint64_t *size,
                                   int *paged)
{
    prof__header header, again;
    uint64_t memory;
    prof_status status;
    size_t part;
    errno = 0;
    memset(&header, 0, sizeof header);
    part = prof__image_size(place, size) && *size < sizeof header ? (size_t)*size : sizeof header;
    if (errno || (part && !prof__image_at(place, 0, &header, part)))
        return prof__cannot("read", path, "read error");
    again = header;
    status = prof__read_header(&again, *size, path, &header);
    if (status != PROF_OK) return status;
    if (prof__byteswap(&again)) return prof__byteswap_read(place, path, &header, image, size);
    *size = header.image_size;
    if (paged) *paged = prof__read_pages(&header);
    memory = paged && *paged ? header.chunk_offset : *size;
    *image = memory < (size_t)-1 ? (unsigned char *)calloc((size_t)memory, 1) : NULL;
    if (!*image) return prof__fail(PROF_NO_MEMORY, "%s: no memory to read %lu bytes", path, (unsigned long)memory);
    if (!prof__read_all(place, &header, *image, (size_t)memory))
        return prof__cannot("read", path, "it became shorter");
    memcpy(&again, *image, sizeof again);
    if (again.session != header.session || again.pid != header.pid)
        return prof__fail(PROF_IO, "%s: a new session began in it while it was being read; read it again", path);
    return PROF_OK;
}

/* Keeps the name of the file, without its folders: its end, if it is long. */
static void prof__trace_named(prof_trace *trace, const char *path)
{
    const char *name = path, *at;
    for (at = path; *at; ++at)
        if (*at == '/' || *at == '\\') name = at + 1;
    while ((size_t)(at - name) >= sizeof trace->file_name || ((unsigned char)*name & 0xc0) == 0x80) ++name;
    memcpy(trace->file_name, name, (size_t)(at - name));
}

PROF_DEF prof_status prof_trace_open(const char *path, prof_trace **trace)
{
    PROF__CALM();
    unsigned char *image = NULL;
    uint64_t size = 0;
    prof_status status;
    int paged = 0;
    prof__image_place place;
    if (!trace) return prof__null("prof_trace_open", "trace");
    *trace = NULL;
    if (!path) return prof__null("prof_trace_open", "path");
    status = prof__image_open(path, &place);
    if (status != PROF_OK) return status;
    status = prof__read_file(&place, path, &image, &size, &paged);
    if (status != PROF_OK) {
        fclose(place.file);
        free(image);
        return status;
    }
    status = prof__read_parts(image, (size_t)size, &place, paged, path, trace);
    if (status == PROF_OK) {
        if (!place.in_set) prof__trace_alive(*trace, path);
        prof__trace_named(*trace, path);
    }
    return status;
}

/* Makes a trace of an image on the heap without its archive. The chunks in the buffer are read like those of a ring. */
static prof_status prof__read_buffer_only(void *image, const char *what, prof_trace **trace)
{
    prof__header *header = (prof__header *)image;
    if (header->archive_first != header->archive_next && !header->overwritten) header->overwritten = 1;
    header->archive_offset = header->archive_limit = header->archive_first = header->archive_next = 0;
    return prof__read_image(image, (size_t)header->image_size, NULL, what, trace);
}

/* Opens an image without its archive, which may be far larger and takes as long to read. */
static prof_status prof__trace_buffer(const char *path, prof_trace **trace)
{
    unsigned char *image = NULL;
    uint64_t size = 0;
    prof__image_place place;
    *trace = NULL;
    prof_status status = prof__image_open(path, &place);
    if (status != PROF_OK) return status;
    status = prof__read_file(&place, path, &image, &size, NULL);
    fclose(place.file);
    if (status != PROF_OK) {
        free(image);
        return status;
    }
    return prof__read_buffer_only(image, path, trace);
}

PROF_DEF prof_status prof_trace_open_memory(const void *image, size_t size, prof_trace **trace)
{
    PROF__CALM();
    prof__header header;
    prof_status status;
    void *copy;
    if (!trace) return prof__null("prof_trace_open_memory", "trace");
    *trace = NULL;
    if (!image) return prof__null("prof_trace_open_memory", "image");
    status = prof__read_header(image, size, "image", &header);
    if (status != PROF_OK) return status;
    if (!header.archive_offset) size = (size_t)header.image_size;
    copy = malloc(size);
    if (!copy) return prof__fail(PROF_NO_MEMORY, "image: no memory to copy %lu bytes", (unsigned long)size);
    memcpy(copy, image, size);
    prof__turn_image(copy, size, &header);
    return prof__read_image(copy, size, NULL, "image", trace);
}

/* The statistics of a session in mode PROF_STATS, which it has in place of events. */
typedef struct prof__aggregated {
    uint32_t session; /* session id; 0: the session has a different mode */
    struct prof__stat_row *rows;
    uint32_t *sites;  /* call site ids */
    char **texts;     /* run-time names, or NULL */
    size_t count;
    uint64_t events, open, lost, unmatched, newest;
    uint64_t begins_missing, ends_missing; /* spans whose begin or end is missing */
    prof__uses uses;
} prof__aggregated;

/* Makes a copy of the image that is being recorded: see prof__image_copy(). */
typedef prof_status (*prof__copy_make)(void *user, void **image, size_t *size);

static prof_status prof__copy_whole(void *user, void **image, size_t *size)
{
    (void)user;
    return prof__image_copy(image, size);
}

/* Makes a trace of a copy of the current session. reset: 1: resets the statistics of PROF_STATS afterwards. */
static prof_status prof__trace_live_of(prof_trace **trace, int reset, prof__copy_make copy, void *user)
{
    void *image = NULL;
    size_t size = 0;
    prof_status status;
    *trace = NULL;
    prof__aggregated stats;
    memset(&stats, 0, sizeof stats);
    status = prof__reader()->aggregated_take(&stats, reset);
    if (status == PROF_OK) status = copy(user, &image, &size);
    if (status == PROF_OK) {
        FILE *archive = prof__archive_open((const prof__header *)image);
        status = prof__read_image(image, size, archive, "this program's trace", trace);
    }
    if (status == PROF_OK && stats.session) {
        status = prof__reader()->aggregated_give(&stats, *trace);
        if (status != PROF_OK) {
            prof_trace_close(*trace);
            *trace = NULL;
        }
    }
    prof__reader()->aggregated_free(&stats);
    return status;
}

static prof_status prof__trace_live(prof_trace **trace, int reset)
{
    return prof__trace_live_of(trace, reset, prof__copy_whole, NULL);
}

static prof_status prof__trace_live_own(prof_trace **trace) { return prof__trace_live(trace, 0); }

PROF_DEF prof_status prof_trace_open_live(prof_trace **trace)
{
    PROF__CALM();
    if (!trace) return prof__null("prof_trace_open_live", "trace");
    PROF__FORWARD(prof__trace_live_here, (trace));
    return prof__trace_live_own(trace);
}

PROF_DEF void prof_trace_close(prof_trace *trace)
{
    prof__read_free(trace);
}

/* A file that a writer writes, and the first error of writing it. That error is kept because the writer may report a
   different one later. */
typedef struct prof__writing {
    prof__out out;
    char error[PROF__ERROR_SIZE];
} prof__writing;

static int prof__writing_take(void *user, const void *data, size_t size)
{
    prof__writing *w = (prof__writing *)user;
    prof_status before = w->out.status;
    prof__out_bytes(&w->out, data, size);
    if (w->out.status && !before) prof__text_copy(w->error, sizeof w->error, prof_error());
    return w->out.status != PROF_OK;
}

/* Writes a trace to a file with a writer. */
static prof_status prof__write_with(const prof_writer *writer, const prof_trace *trace, const char *path)
{
    prof__writing w;
    prof_sink sink;
    prof_status status;
    if (writer->write_files) return writer->write_files(trace, path);
    status = prof__out_file(&w.out, path);
    if (status) return status;
    sink.write = prof__writing_take;
    sink.user = &w;
    prof__error_set("");
    status = writer->write(writer->user, trace, sink);
    if (w.out.status)
        prof__error_set(w.error);
    else if (status && !*prof_error())
        prof__fail(status, "%s: its writer failed: %s", prof__path_end(path), prof_status_text(status));
    prof__out_fail(&w.out, status);
    return prof__out_close(&w.out);
}

/* Writes what was recorded so far. */
static prof_status prof__live_write(const char *path, const prof_writer *writer)
{
    prof_trace *trace = NULL;
    prof_status status = prof_trace_open_live(&trace);
    if (!status) status = prof__write_with(writer, trace, path);
    prof_trace_close(trace);
    return status;
}

static prof_status prof__trace_write_own(const prof_trace *trace, const char *path, const char *extension)
{
    const prof_writer *writer;
    prof_status status;
    status = prof__writer_find(extension ? extension : path, &writer);
    if (!status && !writer)
        status = prof__fail(PROF_INVALID_ARGUMENT, "%s: a trace cannot become a .prof: use prof_image_copy()", path);
    if (!status) status = prof__writer_fits(path, writer, (uint32_t)prof_trace_about(trace)->mode);
    return status ? status : prof__write_with(writer, trace, path);
}

PROF_DEF prof_status prof_trace_write(const prof_trace *trace, const char *path, const char *extension)
{
    PROF__CALM();
    if (!trace || !path) return prof__null("prof_trace_write", "trace or path");
    PROF__FORWARD(prof__trace_write_here, (trace, path, extension));
    return prof__trace_write_own(trace, path, extension);
}

PROF_DEF void prof_trace_set_progress(prof_trace *trace, void (*step)(void *user, double share), void *user)
{
    if (!trace) return;
    trace->step = step;
    trace->step_user = user;
}

/*-- images inside other files --*/

PROF_DEF prof_status prof_image_find(const void *bytes, size_t size, uint64_t *image_size)
{
    prof__header header;
    prof_status status;
    uint64_t end;
    if (!bytes || !image_size) return prof__null("prof_image_find", "bytes or image_size");
    *image_size = 0;
    if (size < sizeof header) return prof__fail(PROF_CORRUPT, "image: only %lu bytes are left", (unsigned long)size);
    status = prof__read_header(bytes, ~(uint64_t)0, "image", &header);
    if (status != PROF_OK) return status;
    end = header.archive_first > header.archive_next ? header.archive_limit : header.archive_next;
    *image_size = header.archive_offset && end > header.image_size ? end : header.image_size;
    return PROF_OK;
}

/* Changes the header of an image of which only the first `left` bytes are there, so that it can be read. */
static prof_status prof__image_shorten(void *bytes, uint64_t left, uint64_t *image_size)
{
    prof__header header;
    uint64_t size = 0, chunks, used;
    prof_status status = prof_image_find(bytes, PROF_IMAGE_LOOK, &size);
    if (status != PROF_OK) return status;
    prof__header_get(bytes, &header);
    *image_size = left < size ? left : size;
    if (left >= header.image_size) return PROF_OK; /* readers will find the blocks of the archive that are left */
    chunks = left > header.chunk_offset ? (left - header.chunk_offset) / header.chunk_size : 0;
    if (!chunks || left < header.meta_offset + header.meta_size)
        return prof__fail(PROF_CORRUPT, "image: no recorded events are left");
    used = header.next_chunk < header.chunk_count ? header.next_chunk : header.chunk_count;
    if (used > chunks) { /* some of the used chunks are missing */
        header.overwritten += used - chunks;
        header.state = PROF__RUNNING;
    }
    header.chunk_count = chunks;
    header.image_size = *image_size = left / 8 * 8;
    header.archive_offset = header.archive_limit = header.archive_first = header.archive_next = 0;
    prof__header_put(bytes, &header);
    return PROF_OK;
}

PROF_DEF prof_status prof_image_shorten(void *bytes, uint64_t left, uint64_t *image_size)
{
    return prof__image_shorten(bytes, left, image_size);
}

/* Returns the first tick that is not before a time. */
static uint64_t prof__image_tick(const prof_trace *trace, int64_t ns)
{
    uint64_t low = 0, high = ~(uint64_t)0;
    size_t hint = 0;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (prof__read_ns(trace, middle, &hint) < ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Sets the window of an image. trace: a trace of the same session, which is closed. */
static prof_status prof__image_set_window(void *bytes, prof_trace *trace, int64_t from_ns, int64_t to_ns)
{
    prof__header header;
    prof_status status = prof_trace_set_window(trace, from_ns, to_ns);
    if (status == PROF_OK) {
        prof__header_get(bytes, &header);
        header.window_from = from_ns ? prof__image_tick(trace, from_ns) : 0;
        header.window_to = to_ns ? prof__image_tick(trace, to_ns) : 0;
        prof__header_put(bytes, &header);
    }
    prof_trace_close(trace);
    return status;
}

/* Writes an image that prof__image_copy() has made to a sink, with its archive and with the window of the trace. trace:
   a trace of this image, which is closed. */
static prof_status prof__image_stream(void *bytes, size_t size, prof_trace *trace, prof_sink sink)
{
    prof__out out;
    prof_status status = prof__image_set_window(bytes, trace, trace->info.from_ns, trace->info.to_ns);
    if (status != PROF_OK) return status;
    prof__out_sink(&out, sink);
    prof__out_fail(&out, prof__out_live(&out, bytes, size));
    return prof__out_close(&out);
}

static prof_status prof__image_window(void *bytes, size_t size, int64_t from_ns, int64_t to_ns)
{
    prof_trace *trace = NULL;
    prof_status status = prof_trace_open_memory(bytes, size, &trace);
    return status == PROF_OK ? prof__image_set_window(bytes, trace, from_ns, to_ns) : status;
}

PROF_DEF prof_status prof_image_set_window(void *bytes, size_t size, int64_t from_ns, int64_t to_ns)
{
    return prof__image_window(bytes, size, from_ns, to_ns);
}

/* Writes an image that prof__read_file() has read, with its archive. */
static void prof__out_whole(prof__out *out, unsigned char *image, size_t size, const prof__image_place *place)
{
    size_t alone = (size_t)((const prof__header *)(const void *)image)->image_size;
    if (size == alone) {
        prof__header *h = (prof__header *)(void *)image;
        if (h->archive_offset) { /* from here on, offsets in the file */
            h->archive_offset += place->base;
            h->archive_first += place->base;
            h->archive_next += place->base;
            if (h->archive_limit) h->archive_limit += place->base;
        }
        prof__out_image(out, image, size, place->file);
        return;
    }
    prof__out_used(out, image, alone);
    prof__out_bytes(out, image + alone, size - alone);
}

/* Copies an image file with its archive, and sets a window, unless from_ns is PROF_SAME_WINDOW. */
static prof_status prof__image_file_copy(const char *from, const char *to, int64_t from_ns, int64_t to_ns)
{
    unsigned char *image = NULL;
    uint64_t size = 0;
    prof_trace *trace = NULL;
    prof_status status;
    prof__out out;
    prof__image_place place;
    if (!from) return prof__null("prof_image_copy", "from");
    status = prof__image_open(from, &place);
    if (status != PROF_OK) return status;
    status = prof__read_file(&place, from, &image, &size, NULL);
    if (status == PROF_OK && from_ns != PROF_SAME_WINDOW) {
        status = prof_trace_open(from, &trace);
        if (status == PROF_OK) status = prof__image_set_window(image, trace, from_ns, to_ns);
    }
    if (status == PROF_OK) status = prof__out_file(&out, to);
    if (status == PROF_OK) {
        prof__out_whole(&out, image, (size_t)size, &place);
        status = prof__out_close(&out);
    }
    fclose(place.file);
    free(image);
    return status;
}

PROF_DEF prof_status prof_image_copy(const char *from, const char *to, int64_t from_ns, int64_t to_ns)
{
    PROF__CALM();
    return prof__image_file_copy(from, to, from_ns, to_ns);
}

/* Gets the first and the newest clock pair of a trace's session. */
static void prof__trace_pairs(const prof_trace *trace, prof__pair *first, prof__pair *last)
{
    *first = trace->header.first;
    *last = trace->header.last;
}

/* Returns 1 if what has left the ring is in an archive. */
static int prof__trace_archived(const prof_trace *trace) { return trace->header.archive_offset != 0; }

PROF_DEF const prof_trace_info *prof_trace_about(const prof_trace *trace)
{
    return trace ? &trace->info : NULL;
}

PROF_DEF size_t prof_trace_track_count(const prof_trace *trace)
{
    return trace ? trace->track_count : 0;
}

PROF_DEF const prof_track *prof_trace_track(const prof_trace *trace, size_t index)
{
    return trace && index < trace->track_count ? &trace->tracks[index].about : NULL;
}

/*-- IMPORT ----------------------------------------------------------------------------------------------- >>import --
   "The host" means the recording of the host to which the rows are added, if there is one. The new image has the host's
   chunks, then the new chunks, then meta with the names of both. The new chunks have no TRACK record: they have only
   events of devices, whose names and rows are in meta. The ticks of these devices are nanoseconds of the host's
   CLOCK_MONOTONIC or, without a host, of the caller's clock; one clock pair for each device states that.
   These functions must be called by one thread at a time, in this order: prof__import_open(), prof__import_begin(), for
   each event prof__import_row() and prof__import_put(), and at the end prof__import_close(), even if one of them has
   failed. */

#define PROF__IMPORT_CHUNK 65536u /* bytes of a chunk if there is no host */
#define PROF__IMPORT_ROWS 4096u   /* the most rows; one more takes the events of all further rows */

typedef struct prof__import_row_of {
    uint32_t device, number; /* device: index in devices; number: the row's number in the image */
    char *name;
} prof__import_row_of;

typedef struct prof__import_device {
    char *name;
    uint32_t number, site;
} prof__import_device;

typedef struct prof__import {
    /* Public fields: the caller may read them. */
    prof__pair first, last; /* the host's first and last clock pair; all 0 without a host */
    uint64_t pid;
    prof_status status; /* the first write error, or PROF_OK */
    int no_memory;      /* 1: a row could not be added for lack of memory */
    /* Private fields. */
    prof__out out;
    int opened;           /* 1: out is open */
    prof__image_place host; /* the host's file; its file is NULL: there is no host */
    unsigned char *bytes; /* the host's image, as prof__read_file() returns it */
    uint64_t size;        /* size of `bytes` */
    prof__header h;       /* the new image's header */
    uint64_t chunk_words; /* words of a chunk without its header */
    uint64_t *chunk;
    size_t used; /* words used in chunk, with its header; 0: no chunk has begun */
    uint64_t *meta;
    size_t meta_words, meta_room;
    uint32_t strings, sites, device_number, row_number; /* the last ids that were given */
    prof__import_device *devices;
    size_t device_count, device_room;
    prof__import_row_of *rows;
    size_t row_count, row_room;
    prof__read_index index; /* finds rows by their names */
} prof__import;

static int prof__import_meta_room(prof__import *w, size_t words)
{
    while (w->meta_room < w->meta_words + words)
        if (!prof__more_room(&w->meta, &w->meta_room, sizeof *w->meta)) return 0;
    memset(w->meta + w->meta_words, 0, words * sizeof *w->meta);
    return 1;
}

/* Appends a record to meta. Returns 0 if there is no memory. */
static int prof__import_meta(prof__import *w, uint32_t kind, uint32_t id, const uint64_t *words, size_t count)
{
    if (!prof__import_meta_room(w, 1 + count)) return 0;
    w->meta[w->meta_words] = (uint64_t)kind << 56 | (uint64_t)(1 + count) << 32 | id;
    memcpy(w->meta + w->meta_words + 1, words, count * sizeof *words);
    w->meta_words += 1 + count;
    return 1;
}

/* Appends a string to meta. Returns its id; 0, which stands for "", if there is no memory. */
static uint32_t prof__import_string(prof__import *w, const char *text)
{
    size_t length = strlen(text), words = length / 8 + 1;
    if (!prof__import_meta_room(w, 1 + words)) return 0;
    w->meta[w->meta_words] = (uint64_t)PROF__META_STRING << 56 | (uint64_t)(1 + words) << 32 | ++w->strings;
    memcpy(w->meta + w->meta_words + 1, text, length);
    w->meta_words += 1 + words;
    return w->strings;
}

/* Adds a device to meta, with a call site for its events and one clock pair. Returns 0 if there is no memory. */
static int prof__import_device_add(prof__import *w, const char *name)
{
    prof__import_device *device;
    uint64_t words[PROF__DEVICE_WORDS - 1] = {0}, empty, now = w->h.first.monotonic_ns;
    if (!PROF__ROOM(w->devices, w->device_room, w->device_count)) return 0;
    device = &w->devices[w->device_count];
    device->name = prof__text_join(name, "");
    if (!device->name) return 0;
    w->device_count++;
    device->number = ++w->device_number;
    device->site = ++w->sites;
    empty = prof__import_string(w, "");
    words[0] = empty | empty << 32;
    words[1] = empty | (uint64_t)prof__import_string(w, name) << 32; /* the category of the device's events */
    words[3] = 1u | (uint64_t)(PROF__KIND_EVENT | PROF_ROLE_DEVICE << PROF__ROLE_SHIFT) << 32;
    if (!prof__import_meta(w, PROF__META_SITE, device->site, words, PROF__META_SITE_WORDS - 1)) return 0;
    memset(words, 0, sizeof words);
    words[0] = prof__import_string(w, name);
    words[1] = 1000000000;
    prof__device_store(words + 2, now, now);
    return prof__import_meta(w, PROF__META_DEVICE, device->number, words, PROF__DEVICE_WORDS - 1);
}

typedef struct prof__import_key {
    const char *device, *row;
} prof__import_key;

static int prof__import_same(const void *owner, size_t item, const void *key)
{
    const prof__import *w = (const prof__import *)owner;
    const prof__import_key *wanted = (const prof__import_key *)key;
    const prof__import_row_of *row = &w->rows[item];
    return !strcmp(row->name, wanted->row) && !strcmp(w->devices[row->device].name, wanted->device);
}

/* Adds a row to meta, and its device if that is new. Returns 0 if there is no memory. */
static int prof__import_row_add(prof__import *w, const prof__import_key *key, uint32_t hash)
{
    prof__import_row_of *row;
    uint64_t words[PROF__ROW_WORDS - 1 + 1];
    size_t device = 0;
    while (device < w->device_count && strcmp(w->devices[device].name, key->device)) device++;
    if (device == w->device_count && !prof__import_device_add(w, key->device)) return 0;
    if (!PROF__ROOM(w->rows, w->row_room, w->row_count)) return 0;
    row = &w->rows[w->row_count];
    row->device = (uint32_t)device;
    row->name = prof__text_join(key->row, "");
    if (!row->name) return 0;
    w->row_count++;
    row->number = ++w->row_number;
    words[0] = prof__import_string(w, key->row) | (uint64_t)w->devices[device].number << 32;
    return prof__import_meta(w, PROF__META_ROW, row->number, words, PROF__ROW_WORDS - 1) &&
           prof__read_add(&w->index, hash, w->row_count - 1);
}

/* Returns the index of a device's row, found by the names of both. Adds the row if there is none. others: 1: this is
   the row for the events of all further rows, and is always added. Returns PROF__NONE if there are PROF__IMPORT_ROWS
   rows already, or if there is no memory, which also sets no_memory to 1. */
static size_t prof__import_row(prof__import *w, const char *device, const char *row, int others)
{
    prof__import_key key;
    uint32_t hash = prof__text_hash(device) * 31 + prof__text_hash(row);
    size_t found;
    key.device = device;
    key.row = row;
    found = prof__read_find(&w->index, hash, prof__import_same, w, &key);
    if (found != PROF__NONE || (w->row_count >= PROF__IMPORT_ROWS && !others)) return found;
    if (prof__import_row_add(w, &key, hash)) return w->row_count - 1;
    w->no_memory = 1;
    return PROF__NONE;
}

static void prof__import_chunk_end(prof__import *w)
{
    if (!w->used) return;
    memset(w->chunk + w->used, 0, w->h.chunk_size - w->used * 8);
    prof__out_bytes(&w->out, w->chunk, w->h.chunk_size);
    w->used = 0;
}

static void prof__import_chunk_begin(prof__import *w)
{
    prof__chunk chunk;
    memset(w->chunk, 0, w->h.chunk_header_size);
    memset(&chunk, 0, sizeof chunk);
    chunk.sequence = ++w->h.next_chunk;
    chunk.base.tick = w->h.first.tick;
    chunk.state = PROF__CHUNK_FULL;
    chunk.form = PROF__FORM_PLAIN; /* its pages have no marks, though those of the host's chunks may */
    memcpy(w->chunk, &chunk, sizeof chunk);
    w->used = w->h.chunk_header_size / 8;
    w->h.chunk_count++;
}

/* Adds an event as prof_device_record() would, with as many of its arguments as fit into a chunk. row: from
   prof__import_row(). Returns 0 if a chunk has no space for the event, which happens only if the host's chunks are
   smaller than any that prof makes. */
static int prof__import_put(prof__import *w, size_t row, const prof_device_event *event)
{
    prof_device_event e = *event;
    prof__device_parts parts;
    uint64_t type, *at;
    prof__device_measure(w->chunk_words, &e, &parts);
    while (parts.words > w->chunk_words && e.arg_count) {
        e.arg_count--;
        prof__device_measure(w->chunk_words, &e, &parts);
    }
    if (parts.words > w->chunk_words) return 0;
    parts.number = e.type == PROF_EVENT_SCOPE ? e.end - e.start : e.type == PROF_EVENT_COUNTER ? e.value.as.u : 0;
    type = e.type == PROF_EVENT_SCOPE     ? PROF__DEVICE_SCOPE
           : e.type == PROF_EVENT_COUNTER ? PROF__DEVICE_COUNTER
                                          : PROF__DEVICE_MARK;
    if (w->used + parts.words > w->h.chunk_size / 8) prof__import_chunk_end(w);
    if (!w->used) prof__import_chunk_begin(w);
    at = w->chunk + w->used;
    prof__device_fill(at, &parts);
    at[0] = (uint64_t)PROF__KIND_EVENT << PROF__KIND_SHIFT |
            (uint64_t)w->devices[w->rows[row].device].site << PROF__TICK_BITS;
    at[1] = (uint64_t)w->rows[row].number << 8 | type;
    at[2] = e.start;
    w->used += (size_t)parts.words;
    w->status = w->out.status;
    return 1;
}

/* Makes the header of an image without a host. */
static void prof__import_header(prof__header *h, const char *program, const char *clock)
{
    memset(h, 0, sizeof *h);
    memcpy(h->magic, PROF__MAGIC, 8);
    h->version = PROF__IMAGE_VERSION;
    h->byte_order = PROF__BYTE_ORDER;
    h->header_size = sizeof *h;
    h->word_size = sizeof(void *);
    h->chunk_offset = sizeof *h;
    h->chunk_size = PROF__IMPORT_CHUNK;
    h->chunk_header_size = sizeof(prof__chunk);
    h->image_size = sizeof *h;
    h->mode = PROF_FILL;
    h->clock = PROF_CLOCK_MONOTONIC;
    h->state = PROF__STOPPED;
    h->session = 1;
    h->tick_hz = 1000000000;
    h->resolution_ticks = 1;
    prof__text_copy(h->program, sizeof h->program, program);
    prof__text_copy(h->clock_name, sizeof h->clock_name, clock);
}

/* Reads the host's image. host: its path; or NULL, and then program and clock are the names that the new image
   states. */
static prof_status prof__import_open(prof__import *w, const char *host, const char *program, const char *clock)
{
    prof_status status;
    memset(w, 0, sizeof *w);
    prof__import_header(&w->h, program, clock);
    if (!host) return PROF_OK;
    status = prof__image_open(host, &w->host);
    if (status != PROF_OK) return status;
    status = prof__read_file(&w->host, host, &w->bytes, &w->size, NULL);
    if (status != PROF_OK) return status;
    status = prof__read_header(w->bytes, w->size, host, &w->h);
    if (status != PROF_OK) return status;
    if (w->h.mode == PROF_STATS)
        return prof__fail(PROF_UNSUPPORTED, "%s has only statistics: record with another mode", host);
    w->first = w->h.first;
    w->last = w->h.last;
    w->pid = w->h.pid;
    return PROF_OK;
}

/* Copies the host's meta and finds the last ids in it. Returns 0 if there is no memory. */
static int prof__import_host_meta(prof__import *w)
{
    const uint64_t *words = (const uint64_t *)(const void *)(w->bytes + w->h.meta_offset);
    size_t count = (size_t)(w->h.meta_size / 8), at, length;
    for (at = 0; (length = prof__read_meta_words(words, at, count)) != 0; at += length) {
        uint32_t id = (uint32_t)words[at], *last = NULL;
        switch (words[at] >> 56) {
        case PROF__META_STRING: last = &w->strings; break;
        case PROF__META_SITE: last = &w->sites; break;
        case PROF__META_DEVICE: last = &w->device_number; break;
        case PROF__META_ROW: last = &w->row_number; break;
        default: break;
        }
        if (last && id > *last) *last = id;
    }
    if (!prof__import_meta_room(w, at + 1)) return 0;
    memcpy(w->meta, words, at * sizeof *words);
    w->meta_words = at;
    return 1;
}

/* Creates the new image at path, and writes the host's chunks to it. host: as for prof__import_open(); path may be the
   same file. */
static prof_status prof__import_begin(prof__import *w, const char *host, const char *path)
{
    prof_status status;
    if (host && !prof__import_host_meta(w)) return prof__fail(PROF_NO_MEMORY, "%s: no memory for its names", host);
    if (w->sites > PROF__SITE_MASK - PROF__IMPORT_ROWS - 1 || w->strings > 0xFFFF0000u ||
        w->device_number > 0xFFFF0000u || w->row_number > 0xFFFF0000u)
        return prof__fail(PROF_UNSUPPORTED, "%s: too many call sites to add devices", host);
    w->chunk = (uint64_t *)malloc(w->h.chunk_size);
    if (!w->chunk) return prof__fail(PROF_NO_MEMORY, "%s: no memory to write it", path);
    w->chunk_words = (w->h.chunk_size - w->h.chunk_header_size) / 8;
    /* A link or a device would be written in place, and may be the host's file. */
    if (w->host.file && !prof__file_replaceable(path))
        return prof__fail(PROF_INVALID_ARGUMENT, "%s is a link or a device: name a file itself", path);
    status = prof__out_file(&w->out, path);
    if (status != PROF_OK) return status;
    w->opened = 1;
    if (w->bytes) {
        prof__out_bytes(&w->out, w->bytes, w->h.header_size);
        prof__out_bytes(&w->out, w->bytes + w->h.chunk_offset, (size_t)(w->h.chunk_count * w->h.chunk_size));
    } else {
        prof__out_bytes(&w->out, &w->h, sizeof w->h);
    }
    w->h.chunk_offset = w->h.header_size;
    /* Readers look at this many chunks only. */
    if (w->h.next_chunk < w->h.chunk_count) w->h.next_chunk = w->h.chunk_count;
    return PROF_OK;
}

/* Copies the host's archive, which follows the host's image from old_size on. */
static void prof__import_archive(prof__import *w, uint64_t old_size)
{
    char part[PROF__OUT_RESERVE];
    uint64_t by = w->h.image_size - old_size, size;
    size_t got = 1;
    if (!w->h.archive_offset || !prof__image_size(&w->host, &size)) return;
    w->h.archive_offset += by;
    w->h.archive_first += by;
    w->h.archive_next += by;
    if (w->h.archive_limit) w->h.archive_limit += by;
    if (w->size > old_size) { /* the archive was read into memory */
        prof__out_bytes(&w->out, w->bytes + old_size, (size_t)(w->size - old_size));
        return;
    }
    for (; old_size < size && got && w->out.status == PROF_OK; old_size += got) {
        got = size - old_size < sizeof part ? (size_t)(size - old_size) : sizeof part;
        if (!prof__image_at(&w->host, old_size, part, got)) break; /* readers will notice that the rest is missing */
        prof__out_bytes(&w->out, part, got);
    }
}

/* Writes the rest of the new image. first, last: as for prof__import_close(). */
static void prof__import_end(prof__import *w, uint64_t first, uint64_t last)
{
    uint64_t old_size = w->h.image_size;
    prof__import_chunk_end(w);
    w->h.meta_offset = w->h.chunk_offset + w->h.chunk_count * w->h.chunk_size;
    w->h.meta_used = w->meta_words * 8;
    w->h.meta_size = w->h.meta_used + 8; /* a zero word ends meta */
    w->h.index_offset = w->h.index_size = 0;
    w->h.image_size = w->h.meta_offset + w->h.meta_size;
    if (prof__import_meta_room(w, 1)) prof__out_bytes(&w->out, w->meta, (size_t)w->h.meta_size);
    else prof__out_fail(&w->out, PROF_NO_MEMORY);
    if (!w->host.file) {
        w->h.first.tick = w->h.first.monotonic_ns = w->h.first.unix_ns = first;
        w->h.last.tick = w->h.last.monotonic_ns = w->h.last.unix_ns = last;
    } else {
        prof__import_archive(w, old_size);
    }
    prof__out_flush(&w->out);
    if (w->out.status == PROF_OK && prof__file_seek(w->out.file, 0, SEEK_SET))
        w->out.status = prof__cannot("write", w->out.path, NULL);
    /* At most the host's size of a header. */
    prof__out_bytes(&w->out, &w->h, w->h.header_size < sizeof w->h ? w->h.header_size : sizeof w->h);
}

/* Completes the new image if status is PROF_OK, and frees everything. first, last: only without a host: when the first
   event began and the last one ended, in ns. Returns the first error; then no file is left. */
static prof_status prof__import_close(prof__import *w, prof_status status, uint64_t first, uint64_t last)
{
    prof_status closed = PROF_OK;
    size_t i;
    if (w->opened && status == PROF_OK) prof__import_end(w, first, last);
    if (w->opened && status != PROF_OK) prof__out_fail(&w->out, status);
    /* Before the new file is renamed: path may be the host's file, and Windows does not replace an open file. */
    if (w->host.file) fclose(w->host.file);
    if (w->opened) closed = prof__out_close(&w->out);
    for (i = 0; i < w->device_count; i++) free(w->devices[i].name);
    for (i = 0; i < w->row_count; i++) free(w->rows[i].name);
    free(w->devices);
    free(w->rows);
    free(w->index.slots);
    free(w->meta);
    free(w->chunk);
    free(w->bytes);
    memset(w, 0, sizeof *w);
    return status != PROF_OK ? status : closed;
}

/*-- messages --
   A format comes from an image, so it may be damaged or hostile, and is never passed to printf(). Each conversion is
   parsed, compared with its value, and written with a format that is made here. If a conversion and its value do not
   match, the text says so in parentheses. */

#define PROF__LOG_ROOM ((size_t)8192) /* bytes of a message; longer messages are cut */
#define PROF__LOG_WIDE 500            /* largest width or precision */

typedef struct prof__log_text {
    char *to;
    size_t at;
    int cut;
} prof__log_text;

static void prof__log_put(prof__log_text *text, const char *bytes, size_t count)
{
    size_t room = PROF__LOG_ROOM - 1 - text->at;
    if (text->cut) return;
    if (count > room) {
        text->cut = 1;
        count = prof__utf8_cut(bytes, room);
    }
    memcpy(text->to + text->at, bytes, count);
    text->at += count;
}

static void prof__log_fill(prof__log_text *text, int count)
{
    for (; count > 0; count--) prof__log_put(text, " ", 1);
}

static void prof__log_padded(prof__log_text *text, const prof__log_spec *spec, const char *bytes, size_t count)
{
    int space = (size_t)(spec->width > 0 ? spec->width : 0) > count ? spec->width - (int)count : 0;
    int left = strchr(spec->flags, '-') != NULL;
    if (!left) prof__log_fill(text, space);
    prof__log_put(text, bytes, count);
    if (left) prof__log_fill(text, space);
}

/* Writes what is wrong with a conversion, for example "(%5d is missing)". from: the conversion's percent sign. at: its
   end. what: the words "is missing". */
static void prof__log_say(prof__log_text *text, const char *from, const char *at, const char *what)
{
    prof__log_put(text, "(", 1);
    prof__log_put(text, from, (size_t)(at - from) < 20 ? (size_t)(at - from) : 20);
    prof__log_put(text, " ", 1);
    prof__log_put(text, what, strlen(what));
    prof__log_put(text, ")", 1);
}

/* Returns 1 if a value of this type fits the conversion. */
static int prof__log_fits(const prof__log_spec *spec, prof_value_type type)
{
    if (spec->code >= PROF__LOG_TEXT) return type == PROF_VALUE_STRING;
    if (spec->code == PROF__LOG_POINTER) return type == PROF_VALUE_POINTER;
    if (spec->code >= PROF__LOG_DOUBLE) return type == PROF_VALUE_DOUBLE;
    return type == PROF_VALUE_INT || type == PROF_VALUE_UINT;
}

/* Makes a format whose width and precision are arguments. size: such as "ll". */
static void prof__log_make_format(char format[16], const prof__log_spec *spec, const char *size)
{
    size_t at = 0;
    for (format[at++] = '%'; spec->flags[at - 1]; at++) format[at] = spec->flags[at - 1];
    memcpy(format + at, "*.*", 3);
    for (at += 3; *size; size++) format[at++] = *size;
    format[at++] = spec->conversion;
    format[at] = 0;
}

/* Writes a floating-point number. Its width and precision are limited, so the text fits into digits. Replaces the
   decimal separator of any locale by a point. */
static void prof__log_float(prof__log_text *text, const prof__log_spec *spec, double value)
{
    char format[16], digits[PROF__LOG_WIDE * 2 + 400];
    size_t from, at = 0;
    PROF__CALM(); /* the recording program may format messages itself, and some NaNs trap in printf() */
    prof__log_make_format(format, spec, "");
    snprintf(digits, sizeof digits, format, spec->width > 0 ? spec->width : 0, spec->precision, value);
    for (from = 0; digits[from]; from++) {
        int separator = digits[from] == ',' || (unsigned char)digits[from] >= 0x80;
        if (!separator)
            digits[at++] = digits[from];
        else if (at && digits[at - 1] != '.')
            digits[at++] = '.';
    }
    prof__log_put(text, digits, at);
}

static void prof__log_integer_text(prof__log_text *text, const prof__log_spec *spec, const prof_value *value)
{
    char format[16], digits[PROF__LOG_WIDE * 2 + 100];
    int width = spec->width > 0 ? spec->width : 0;
    prof__log_make_format(format, spec, "ll");
    if (spec->conversion == 'd' || spec->conversion == 'i')
        snprintf(digits, sizeof digits, format, width, spec->precision, (long long)value->as.i);
    else
        snprintf(digits, sizeof digits, format, width, spec->precision, (unsigned long long)value->as.u);
    prof__log_put(text, digits, strlen(digits));
}

/* Writes a value that fits its conversion. */
static void prof__log_show(prof__log_text *text, const prof__log_spec *spec, const prof_value *value)
{
    char piece[24];
    size_t length = 0;
    switch (spec->code) {
    case PROF__LOG_TEXT:
    case PROF__LOG_TEXT_STAR:
    case PROF__LOG_TEXT_PART:
        while (value->as.string[length] && (spec->precision < 0 || length < (size_t)spec->precision)) length++;
        if (value->cut && !value->as.string[length]) {
            prof__log_put(text, value->as.string, length);
            prof__log_put(text, "...", 3);
        } else {
            prof__log_padded(text, spec, value->as.string, length);
        }
        break;
    case PROF__LOG_POINTER:
        snprintf(piece, sizeof piece, "0x%llx", (unsigned long long)value->as.u);
        prof__log_padded(text, spec, piece, strlen(piece));
        break;
    case PROF__LOG_DOUBLE:
    case PROF__LOG_LONG_DOUBLE: prof__log_float(text, spec, value->as.d); break;
    default:
        if (spec->conversion == 'c') {
            piece[0] = (char)value->as.i;
            prof__log_padded(text, spec, piece, piece[0] != 0); /* a text cannot contain a zero byte */
        } else {
            prof__log_integer_text(text, spec, value);
        }
        break;
    }
}

/* Limits a width or precision. If it is a star, takes it from the next value first. Returns 0 if that value is missing
   or no int. */
static int prof__log_star(const prof_event *event, uint32_t *next, int *number)
{
    int64_t value = *number;
    if (*number == PROF__LOG_STAR) {
        if (*next >= event->arg_count || event->args[*next].value.type != PROF_VALUE_INT) return 0;
        value = event->args[(*next)++].value.as.i;
        if (value < -PROF__LOG_WIDE) value = -PROF__LOG_WIDE;
    }
    *number = value > PROF__LOG_WIDE ? PROF__LOG_WIDE : (int)value;
    return 1;
}

/* Writes the value of a conversion that has been parsed. */
static void prof__log_convert(prof__log_text *text, prof__log_spec *spec, const char *from, const char *at,
                              const prof_event *event, uint32_t *next)
{
    /* The precision of a text is not limited, because the recorder has cut the text already. */
    const int unlimited = spec->code >= PROF__LOG_TEXT;
    int precision = spec->precision;
    if (!prof__log_star(event, next, &spec->width) || !prof__log_star(event, next, &spec->precision)) {
        prof__log_say(text, from, at, "is missing");
        return;
    }
    if (unlimited && precision > PROF__LOG_WIDE) spec->precision = precision;
    if (unlimited && precision == PROF__LOG_STAR && spec->precision == PROF__LOG_WIDE)
        spec->precision = PROF__LOG_OMITTED;
    if (spec->width < 0) {
        spec->width = -spec->width;
        if (!strchr(spec->flags, '-')) {
            spec->flags[strlen(spec->flags) + 1] = 0;
            spec->flags[strlen(spec->flags)] = '-';
        }
    }
    if (spec->precision < 0) spec->precision = PROF__LOG_OMITTED;
    if (!spec->supported) {
        prof__log_say(text, from, at, "is not supported");
        *next += spec->code != PROF__LOG_NONE;
    } else if (spec->conversion == '%') {
        prof__log_put(text, "%", 1);
    } else if (*next >= event->arg_count) {
        prof__log_say(text, from, at, "is missing");
    } else if (!prof__log_fits(spec, event->args[*next].value.type)) {
        prof__log_say(text, from, at, "has a value of another type");
        ++*next;
    } else {
        prof__log_show(text, spec, &event->args[(*next)++].value);
    }
}

/* Formats the arguments of an event. room: PROF__LOG_ROOM bytes for the text. Returns 1 if the text was cut. */
static int prof__log_write_all(const char *at, const prof_event *event, char *room)
{
    prof__log_text text;
    uint32_t next = 0;
    text.to = room;
    text.at = 0;
    text.cut = 0;
    while (*at && !text.cut) {
        size_t plain = strcspn(at, "%");
        const char *from = at + plain;
        prof__log_spec spec;
        prof__log_put(&text, at, plain);
        if (!*from) break;
        at = prof__log_parse(from + 1, &spec);
        if (!at) { /* what follows cannot be interpreted */
            prof__log_put(&text, from, strlen(from));
            break;
        }
        prof__log_convert(&text, &spec, from, at, event, &next);
    }
    text.to[text.at] = 0;
    return text.cut;
}

/* Formats a log message, and makes the text the value of its event. room: PROF__LOG_ROOM bytes for the text. */
static void prof__log_format_event(prof_event *event, char *room)
{
    event->value.cut = prof__log_write_all(event->site->name, event, room);
    event->value.type = PROF_VALUE_STRING;
    event->value.as.string = room;
}

/* Returns the name that a NAME record has. If it is a format, makes the name in room, of PROF__LOG_ROOM bytes. Without
   room the format stands for all names that it makes. */
static const char *prof__log_name(const uint64_t *record, char *room)
{
    const size_t words = 1 + (size_t)(*record & 0xFFFF), count = prof__read_name_values(*record, words);
    const char *format = (const char *)(record + 1), *at = format;
    prof_arg args[31];
    prof_event values;
    if (!count || !room) return format;
    values.args = args;
    values.arg_count = 0;
    while (values.arg_count < count && at && (at = strchr(at, '%')) != NULL) {
        prof__log_spec spec;
        at = prof__log_parse(at + 1, &spec);
        if (!at || spec.code == PROF__LOG_NONE) continue;
        prof_value *value = &args[values.arg_count].value;
        value->type = spec.code <= PROF__LOG_INT64         ? PROF_VALUE_INT
                      : spec.code <= PROF__LOG_UINT64      ? PROF_VALUE_UINT
                      : spec.code <= PROF__LOG_LONG_DOUBLE ? PROF_VALUE_DOUBLE : PROF_VALUE_NONE;
        value->cut = 0;
        value->as.u = prof__little_endian(record[words - count + values.arg_count++]);
    }
    prof__log_write_all(format, &values, room);
    if (PROF_MAX_TEXT < PROF__LOG_ROOM && memchr(room, 0, PROF_MAX_TEXT + 1) == NULL)
        room[prof__utf8_cut(room, PROF_MAX_TEXT)] = 0;
    return room;
}

/* Returns the name of a severity, which is the detail of a LOG event: "debug", "info", and so on. */
static const char *prof__severity_text(uint64_t severity)
{
    static const char *const names[] = {"debug", "info", "warning", "error", "fatal"};
    return severity <= PROF_LOG_FATAL ? names[severity] : "unknown";
}

/*-- cursors --*/

typedef struct prof__read_node { /* an event of the loaded segment */
    int64_t start_ns, end_ns;
    uint32_t word, site, depth;
    uint32_t more; /* its prof__read_more, from 1; 0: a scope that needs none, as most do */
} prof__read_node;

typedef struct prof__read_more {
    /* Index in links of its arguments in later segments; of the END of an overlapping scope: index in late_ends. */
    size_t link;
    uint32_t kind, flags;
    uint32_t name; /* index of the word of its NAME record; 0: none */
    uint32_t arg, last_arg; /* its first and last argument in segment_args, from 1; 0: none */
    uint64_t key; /* prof__text_key() of its name, if the cursor makes keys; else 0 */
} prof__read_more;

typedef struct prof__read_argument {
    uint32_t word, next;
} prof__read_argument;

typedef struct prof__read_frame {
    uint32_t name;
    int64_t ns; /* time of the newest boundary */
    /* Number of the next boundary; it is larger than the boundaries seen if older ones were overwritten. */
    uint64_t count;
} prof__read_frame;

struct prof_cursor {
    /* The fields that are used most come first, because their offsets fit into one byte of an instruction. */
    const prof_trace *trace;
    const prof__read_track *track;
    size_t segment;  /* number of segments loaded so far */
    size_t exception, late_begin; /* entries used so far */
    const uint64_t *words; /* words of the chunk that has the loaded segment */
    size_t node, node_count, more_count;
    prof__read_node *nodes;
    prof__read_more *more;
    /* Open scopes: number of the node, from 1; 0: the scope began before this segment; PROF__LATE_BIT may be added. */
    uint32_t *stack;
    size_t depth, unseen; /* unseen: open scopes that overlap an enclosing one, and are returned as spans */
    prof_arg *args;
    uint64_t tick;
    prof__read_argument *segment_args;
    size_t crossed;
    size_t unmatched_end; /* unmatched ends returned so far */
    size_t cross_segment, late_end; /* entries used so far */
    size_t arg_count;
    prof__read_buffer buffer;
    prof__read_frame *frames;
    size_t frame_count;
    prof__read_index frame_index;
    size_t device_record; /* events of a device's row returned so far */
    size_t flow;      /* 1: the last event of a device has a flow, which is returned next */
    char *message;    /* text of the last log message or formatted name; NULL: the trace has none */
    uint64_t id;      /* id of the loaded segment's events, without the bits of the word */
    size_t hint;
    prof__read_fast fast;
    int windowed, keyed; /* keyed: 1: makes keys of names that were made at run time */
    uint64_t key;        /* of the name of the last event that has one */
    int64_t from_ns, to_ns; /* window; to_ns is INT64_MAX if it has no end */
};

static void prof__cursor_free(prof_cursor *cursor)
{
    if (!cursor) return;
    free(cursor->nodes);
    free(cursor->more);
    free(cursor->segment_args);
    free(cursor->stack);
    free(cursor->args);
    free(cursor->frames);
    free(cursor->message);
    free(cursor->frame_index.slots);
    prof__read_buffer_free(&cursor->buffer);
    free(cursor);
}

/* Makes a cursor, with all memory that reading its track needs. */
static prof_status prof__cursor_make(const prof_trace *trace, size_t track, prof_cursor **cursor)
{
    const prof__read_track *about;
    prof_cursor *c;
    int archived = 1;
    if (!trace || !cursor) return prof__null("prof_cursor_open", "trace or cursor");
    *cursor = NULL;
    if (track >= trace->track_count)
        return prof__fail(PROF_INVALID_ARGUMENT, "prof_cursor_open: there is no track %lu, only %lu",
                          (unsigned long)track, (unsigned long)trace->track_count);
    about = &trace->tracks[track];
    c = (prof_cursor *)calloc(1, sizeof *c);
    if (c) {
        c->trace = trace;
        c->track = about;
        c->nodes = (prof__read_node *)calloc(about->max_nodes + 1, sizeof *c->nodes);
        c->more = (prof__read_more *)malloc((about->max_nodes + 1) * sizeof *c->more);
        c->segment_args = (prof__read_argument *)calloc(about->max_args + 1, sizeof *c->segment_args);
        c->stack = (uint32_t *)calloc(about->max_depth + 1, sizeof *c->stack);
        c->args = (prof_arg *)calloc(about->max_event_args + 1, sizeof *c->args);
        c->frames = (prof__read_frame *)calloc(about->frames + 1, sizeof *c->frames);
        c->windowed = trace->info.from_ns || trace->info.to_ns;
        c->from_ns = trace->info.from_ns;
        c->to_ns = trace->info.to_ns ? trace->info.to_ns : INT64_MAX;
        c->depth = c->crossed = about->unmatched_end_count;
        c->cross_segment = about->cross_segment;
        c->exception = about->exception;
        c->late_begin = c->late_end = about->late;
        c->tick = about->tick;
        if (trace->has_logs) c->message = (char *)malloc(PROF__LOG_ROOM);
        if (trace->paged || trace->file || trace->size > trace->header.image_size)
            archived = prof__read_buffer_make(trace, &c->buffer);
    }
    if (!c || !c->nodes || !c->more || !c->segment_args || !c->stack || !c->args || !c->frames || !archived ||
        (trace->has_logs && !c->message) ||
        (about->frames && !prof__read_reserve(&c->frame_index, about->frames))) {
        prof__cursor_free(c);
        return prof__fail(PROF_NO_MEMORY, "no memory to read track %lu", (unsigned long)track);
    }
    *cursor = c;
    return PROF_OK;
}

PROF_DEF prof_status prof_cursor_open(const prof_trace *trace, size_t track, prof_cursor **cursor)
{
    return prof__cursor_make(trace, track, cursor);
}

PROF_DEF prof_status prof_cursor_close(prof_cursor *cursor)
{
    prof__cursor_free(cursor);
    return PROF_OK; /* it had all its memory when it was opened */
}

static inline void prof__read_node_set(prof__read_node *node, size_t word, size_t site, size_t depth, int64_t ns)
{
    node->start_ns = node->end_ns = ns;
    node->word = (uint32_t)word;
    node->site = (uint32_t)site;
    node->depth = (uint32_t)depth;
    node->more = 0;
}

/* Returns the additional fields of a node. Adds those of a plain scope if it has none yet. */
static prof__read_more *prof__read_more_of(prof_cursor *c, prof__read_node *node)
{
    prof__read_more *more;
    if (!node->more) {
        node->more = (uint32_t)++c->more_count;
        more = &c->more[node->more - 1];
        more->link = PROF__NONE;
        more->kind = PROF__KIND_BEGIN;
        more->flags = more->name = more->arg = more->last_arg = 0;
        more->key = 0;
    }
    return &c->more[node->more - 1];
}

static prof__read_node *prof__read_add_node(prof_cursor *c, unsigned kind, size_t word)
{
    prof__read_node *node = &c->nodes[c->node_count++];
    size_t site = kind == PROF__KIND_LOST ? 0 : prof__read_site_of(c->trace, prof__read_id(c->words[word]));
    prof__read_node_set(node, word, site, c->depth - c->unseen, prof__read_ns(c->trace, c->tick, &c->hint));
    if (kind != PROF__KIND_BEGIN) prof__read_more_of(c, node)->kind = kind;
    return node;
}

/* Closes the innermost `closes` scopes, as many as the matcher has found for an END. All but the outermost of them had
   no end of their own. */
static void prof__read_close(prof_cursor *c, uint32_t closes)
{
    int64_t ns = prof__read_ns(c->trace, c->tick, &c->hint);
    for (; closes; closes--) {
        uint32_t number = c->stack[--c->depth];
        c->unseen -= number >> 31;
        if (!(number & ~PROF__LATE_BIT)) continue;
        number &= ~PROF__LATE_BIT;
        c->nodes[number - 1].end_ns = ns;
        if (closes > 1) prof__read_more_of(c, &c->nodes[number - 1])->flags |= PROF_TRUNCATED_END;
    }
    if (c->crossed > c->depth) c->crossed = c->depth;
}

/* Adds the argument at this word to a node. number: the node, from 1; 0: the node is in an earlier segment, and the
   matcher has stored a link to the argument. */
static void prof__read_take_arg(prof_cursor *c, uint32_t number, size_t word)
{
    prof__read_argument *arg;
    prof__read_more *more;
    if (!number) return;
    more = prof__read_more_of(c, &c->nodes[number - 1]);
    arg = &c->segment_args[c->arg_count++];
    arg->word = (uint32_t)word;
    arg->next = 0;
    if (more->last_arg)
        c->segment_args[more->last_arg - 1].next = (uint32_t)c->arg_count;
    else
        more->arg = (uint32_t)c->arg_count;
    more->last_arg = (uint32_t)c->arg_count;
}

/* Returns how many scopes the END at this word of the last loaded segment closes, or which open scope an ARG at this
   word belongs to (1 is the innermost). */
static uint32_t prof__read_closes(prof_cursor *c, size_t word)
{
    const prof__read_exception *exception;
    if (c->exception == c->track->exception + c->track->exception_count) return 1; /* the table may be NULL */
    exception = &c->trace->exceptions[c->exception];
    if (exception->segment + 1 != c->segment || exception->word != word) return 1;
    c->exception++;
    return exception->closes;
}

/* Adds the argument at this word to the node of its scope. level: which open scope, 1 is the innermost; 0: none. */
static void prof__read_scope_arg(prof_cursor *c, uint32_t level, size_t word)
{
    if (level && level <= c->depth) prof__read_take_arg(c, c->stack[c->depth - level] & ~PROF__LATE_BIT, word);
}

/* Returns 1 if the track's next overlapping scope begins in the last loaded segment. */
static int prof__read_late_here(const prof_cursor *c)
{
    return c->late_begin != c->track->late + c->track->late_count &&
           c->trace->late_begins[c->late_begin].segment + 1 == c->segment;
}

/* Returns 1 if the BEGIN at this word of the last loaded segment begins an overlapping scope. */
static int prof__read_overlaps(prof_cursor *c, size_t word)
{
    if (!prof__read_late_here(c) || c->trace->late_begins[c->late_begin].word != word) return 0;
    c->late_begin++;
    return 1;
}

static void prof__read_open_scope(prof_cursor *c, prof__read_node *node)
{
    uint32_t number = (uint32_t)c->node_count;
    if (prof__read_overlaps(c, node->word)) {
        prof__read_more_of(c, node)->flags |= PROF__OVERLAPS;
        number |= PROF__LATE_BIT;
        c->unseen++;
    }
    c->stack[c->depth++] = number;
}

/* Passes over a segment whose words can no longer be read. Scopes that are open after it are treated as begun before
   it. */
static void prof__read_skip(prof_cursor *c, const prof__read_segment *segment)
{
    const prof__read_track *track = c->track;
    size_t depth = (size_t)((int64_t)track->unmatched_end_count + segment->depth);
    while (c->depth < depth) c->stack[c->depth++] = 0;
    while (c->depth > depth) c->unseen -= c->stack[--c->depth] >> 31;
    c->crossed = depth;
    while (prof__read_late_here(c)) c->late_begin++;
    while (c->cross_segment < track->cross_segment + track->cross_segment_count &&
           c->trace->cross_segments[c->cross_segment].segment + 1 == c->segment)
        c->cross_segment++;
    while (c->exception < track->exception + track->exception_count &&
           c->trace->exceptions[c->exception].segment + 1 == c->segment)
        c->late_end += c->trace->exceptions[c->exception++].closes == PROF__CLOSES_LATE;
    if (__atomic_exchange_n(&c->trace->chunks[segment->chunk].size, PROF__NONE32, __ATOMIC_RELAXED) != PROF__NONE32)
        PROF__ADD((uint64_t *)&c->trace->info.lost_blocks, 1);
}

/* Handles the END at this word of the last loaded segment. */
static void prof__read_end(prof_cursor *c, size_t word)
{
    uint32_t closes = prof__read_closes(c, word);
    if (closes == PROF__CLOSES_LATE)
        prof__read_more_of(c, prof__read_add_node(c, PROF__KIND_END, word))->link = c->late_end++;
    else
        prof__read_close(c, closes);
}

/* Returns the first word before `end`, in the last loaded segment, whose BEGIN or END needs more than the plain
   handling, because the matcher has an entry for it; else `end`. */
static size_t prof__read_noted(const prof_cursor *c, size_t end)
{
    if (c->exception != c->track->exception + c->track->exception_count) { /* the table may be NULL */
        const prof__read_exception *exception = &c->trace->exceptions[c->exception];
        if (exception->segment + 1 == c->segment && exception->word < end) end = exception->word;
    }
    if (prof__read_late_here(c) && c->trace->late_begins[c->late_begin].word < end)
        end = c->trace->late_begins[c->late_begin].word;
    return end;
}

/* Returns 1 for a BEGIN or an END. */
static int prof__read_bounds(uint64_t head)
{
    unsigned kind = prof__read_kind(head);
    return kind == PROF__KIND_BEGIN || kind == PROF__KIND_END;
}

/* Makes nodes of the BEGINs and ENDs from this word on, as long as meta has their call sites. Most records are of these
   kinds. Returns the index of the word after them. base: the chunk's tick. Ticks are counted from base, and ids from
   the first word of a BEGIN: this takes fewer instructions, and all values fit into the processor's registers. */
static PROF__NOINLINE size_t prof__read_scopes(prof_cursor *c, uint64_t base, size_t at, size_t end)
{
    const prof_trace *trace = c->trace;
    const uint64_t *words = c->words;
    const uint32_t *sites = trace->site_ids;
    size_t site_count = trace->site_id_count, depth = c->depth - c->unseen;
    uint32_t *stack = c->stack + c->unseen, number = (uint32_t)c->node_count;
    prof__read_node *node = c->nodes + number;
    uint64_t ticks = c->tick > base ? c->tick - base : 0;
    prof__read_fast line = c->fast;
    line.from -= base;
    if (base > ~(uint64_t)0 - PROF__TICK_MASK) return at; /* base plus a record's tick could overflow */
    for (end = prof__read_noted(c, end); at < end; at++) {
        uint64_t head = words[at], now = head & PROF__TICK_MASK, id;
        int64_t ns;
        now = now > ticks ? now : ticks;
        if (PROF__UNLIKELY(now - line.from >= line.span)) {
            if (!prof__read_bounds(head)) break; /* what stands there need not be a time */
            ns = prof__read_fast_find(trace, base + now, &c->hint, &c->fast);
            line = c->fast;
            line.from -= base;
        } else {
            ns = prof__read_fast_ns(&line, now);
        }
        id = (head >> PROF__TICK_BITS) - ((uint64_t)PROF__KIND_BEGIN << PROF__SITE_BITS);
        if (id < site_count) {
            if (PROF__UNLIKELY(sites[id] == PROF__NONE32)) break;
            /* end_ns is set by its END, or by prof__read_load() if that END is in a later segment. */
            node->start_ns = ns;
            node->word = (uint32_t)at;
            node->site = sites[id];
            node->depth = (uint32_t)depth;
            node->more = 0;
            node++;
            stack[depth++] = ++number;
        } else if (prof__read_kind(head) == PROF__KIND_END) {
            uint32_t ended = stack[--depth] & ~PROF__LATE_BIT;
            if (PROF__LIKELY(ended))
                c->nodes[ended - 1].end_ns = ns;
            else
                c->crossed = depth + c->unseen; /* the scope began in an earlier segment */
        } else {
            break;
        }
        ticks = now;
    }
    c->tick = base + ticks;
    c->node_count = number;
    c->depth = depth + c->unseen;
    return at;
}

static void prof__read_step(const prof_trace *trace)
{
    PROF__CALM();
    trace->step(trace->step_user, 1 / prof__real(trace->segment_count));
}

/* Makes the keys of all names in the loaded segment that were made at run time. */
static PROF__NOINLINE void prof__read_make_keys(prof_cursor *c)
{
    prof__read_more *more = c->more, *end = more + c->more_count;
    for (; more < end; more++)
        if (more->name) more->key = prof__text_key((const char *)(c->words + more->name + 1));
}

/* Loads the next segment of a track, and turns its records into nodes. */
static PROF__NOINLINE void prof__read_load(prof_cursor *c)
{
    const prof__read_segment *segment = &c->trace->segments[c->track->segment + c->segment++];
    const prof__read_chunk *chunk = &c->trace->chunks[segment->chunk];
    const uint64_t *words = prof__read_words(c->trace, &c->buffer, segment);
    prof__read_node *named = NULL; /* the node of the previous record if a NAME may follow it */
    int takes_data = 0, shown;
    size_t at, length;
    if (c->trace->step) prof__read_step(c->trace);
    c->node = c->node_count = c->more_count = c->arg_count = 0;
    c->words = words;
    /* The matcher has ended all scopes at the gap. */
    if (segment->gap && c->segment > 1) c->depth = c->crossed = c->unseen = 0;
    if (!words) {
        prof__read_skip(c, segment);
        return;
    }
    c->id = chunk->sequence << c->trace->word_bits;
    for (at = segment->first; at < segment->end; at += length) {
        unsigned kind = prof__read_kind(words[at]);
        prof__read_node *node = NULL;
        if (kind == PROF__KIND_BEGIN || kind == PROF__KIND_END) {
            length = prof__read_scopes(c, chunk->tick, at, segment->end) - at;
            if (length) kind = prof__read_kind(words[at + length - 1]);
            if (!length) c->tick = prof__read_tick(chunk->tick, words[at], c->tick);
            if (!length && kind == PROF__KIND_BEGIN)
                prof__read_open_scope(c, prof__read_add_node(c, kind, at));
            else if (!length)
                prof__read_end(c, at);
            length += !length;
            named = kind == PROF__KIND_BEGIN ? &c->nodes[c->node_count - 1] : NULL;
            takes_data = 0;
            continue;
        }
        length = prof__record_words(words[at], segment->end - at);
        if (kind == PROF__KIND_ARG || kind == PROF__KIND_DATA)
            length = prof__read_arg_words(words + at, segment->end - at);
        if (kind == PROF__KIND_FRAME) length = prof__read_frame_words(words + at, segment->end - at);
        if (prof__record_timed(words[at])) c->tick = prof__read_tick(chunk->tick, words[at], c->tick);
        shown = prof__read_shown(words + at);
        if (shown)
            node = prof__read_add_node(c, kind, at);
        else if (kind == PROF__KIND_ARG && prof__read_arg_whole(words + at, length))
            prof__read_scope_arg(c, prof__read_closes(c, at), at);
        else if (kind == PROF__KIND_DATA && takes_data && prof__read_arg_whole(words + at, length))
            prof__read_take_arg(c, (uint32_t)c->node_count, at);
        else if (kind == PROF__KIND_NAME && named && length > 1)
            prof__read_more_of(c, named)->name = (uint32_t)at;
        named = prof__read_takes_name(words + at) ? node : NULL;
        takes_data = prof__read_takes_data(words[at], shown, takes_data);
    }
    if (segment->last && chunk->lost) prof__read_add_node(c, PROF__KIND_LOST, PROF__NONE32);
    for (; c->crossed < c->depth; c->crossed++) {
        const prof__read_cross_segment *crossing = &c->trace->cross_segments[c->cross_segment++];
        prof__read_node *node = &c->nodes[(c->stack[c->crossed] & ~PROF__LATE_BIT) - 1];
        node->end_ns = crossing->end_ns;
        if (crossing->flags) prof__read_more_of(c, node)->flags |= crossing->flags;
        if (crossing->link != PROF__NONE) prof__read_more_of(c, node)->link = crossing->link;
        c->stack[c->crossed] &= PROF__LATE_BIT;
    }
    if (c->keyed) prof__read_make_keys(c);
}

/* Decodes an argument. key: the record with its key, or NULL if a call site has the key. record: the record with the
   value. */
static prof_arg prof__read_decode(const prof_trace *trace, const uint64_t *key, const uint64_t *record)
{
    prof_arg arg;
    size_t length = (size_t)(*record & 0xFFFF);
    memset(&arg, 0, sizeof arg);
    if (length && *record & PROF__ARG_TO) length--;
    arg.key = prof__read_id(*record) ? trace->sites[prof__read_site_of(trace, prof__read_id(*record))].about.name : "";
    if (key) arg.key = *key & 0xFFFF ? (const char *)(key + 1) : "";
    arg.value.type = (prof_value_type)(*record >> 32 & 0xFF);
    if (arg.value.type > PROF_VALUE_STRING) arg.value.type = PROF_VALUE_NONE;
    if (arg.value.type == PROF_VALUE_STRING) {
        arg.value.cut = (int)(*record >> 31 & 1);
        arg.value.as.string = length ? (const char *)(record + 1) : "";
    } else if (!length) {
        arg.value.type = PROF_VALUE_NONE;
    } else if (arg.value.type != PROF_VALUE_NONE) {
        memcpy(&arg.value.as, record + 1, sizeof *record);
    }
    return arg;
}

/* Decodes a complete ARG or DATA record. */
static prof_arg prof__read_decode_arg(const prof_trace *trace, const uint64_t *record)
{
    size_t length;
    return prof__read_decode(trace, *record & PROF__ARG_KEY ? record : NULL, prof__read_arg_value(record, &length));
}

static void prof__read_args(prof_cursor *c, prof_event *event, uint32_t number, size_t link)
{
    const prof_trace *trace = c->trace;
    for (; number; number = c->segment_args[number - 1].next)
        c->args[event->arg_count++] = prof__read_decode_arg(trace, c->words + c->segment_args[number - 1].word);
    for (; link != PROF__NONE; link = trace->links[link].next)
        c->args[event->arg_count++] = prof__read_decode_arg(trace, trace->kept + trace->links[link].record);
    event->args = c->args;
}

static void prof__read_emit_unmatched_end(prof_cursor *c, prof_event *event)
{
    /* the table has the innermost scope first */
    const prof__read_unmatched_end *orphan =
        &c->trace->unmatched_ends[c->track->unmatched_end + c->track->unmatched_end_count - 1 - c->unmatched_end];
    event->type = PROF_EVENT_SCOPE;
    event->flags = PROF_TRUNCATED_BEGIN;
    event->depth = (uint32_t)c->unmatched_end++;
    event->start_ns = c->track->about.first_ns;
    event->duration_ns = orphan->end_ns - event->start_ns;
    event->id = orphan->id;
    event->site = &c->trace->sites[orphan->site].about;
    event->name = event->site->name;
    prof__read_args(c, event, 0, orphan->link);
}

static int prof__read_same_frame(const void *owner, size_t item, const void *key)
{
    return ((const prof__read_frame *)owner)[item].name == *(const uint32_t *)key;
}

/* Returns the boundary of a frame, with its number and with the time since the previous boundary of the same name (0
   for the first). */
static void prof__read_emit_frame(prof_cursor *c, prof_event *event, uint32_t name, uint32_t word)
{
    const prof__read_segment *segment = &c->trace->segments[c->track->segment + c->segment - 1];
    const uint64_t *number = prof__read_frame_data(c->words + word, segment->end - word);
    uint32_t hash = (uint32_t)prof__mix(name);
    size_t item = prof__read_find(&c->frame_index, hash, prof__read_same_frame, c->frames, &name);
    if (item == PROF__NONE) {
        item = c->frame_count++;
        c->frames[item].name = name;
        c->frames[item].ns = event->start_ns;
        c->frames[item].count = 0;
        prof__read_put(&c->frame_index, hash, (uint32_t)item + 1);
    }
    if (number) c->frames[item].count = *number;
    event->type = PROF_EVENT_FRAME;
    event->detail = c->frames[item].count++;
    event->duration_ns = event->start_ns - c->frames[item].ns;
    c->frames[item].ns = event->start_ns;
}

static void prof__read_emit_lost(const prof_cursor *c, prof_event *event, const prof__read_node *node)
{
    const prof_trace *trace = c->trace;
    const prof__read_chunk *chunk = &trace->chunks[trace->segments[c->track->segment + c->segment - 1].chunk];
    event->type = PROF_EVENT_LOST;
    event->value.type = PROF_VALUE_UINT;
    if (node->word == PROF__NONE32) {
        event->value.as.u = chunk->lost;
        event->id = prof__read_event_id(trace, chunk, trace->chunk_words);
    } else {
        event->value.as.u = c->words[node->word] & PROF__TICK_MASK;
        event->id = prof__read_event_id(trace, chunk, node->word);
    }
}

/* Sets a log message's text: formatted, unless its call site is not known. */
static void prof__read_emit_message(prof_cursor *c, prof_event *event)
{
    event->value.type = PROF_VALUE_STRING;
    event->value.as.string = event->name;
    if (event->name == event->site->name && c->message) prof__log_format_event(event, c->message);
}

/* Makes an event of the next node, and moves on. */
static PROF__NOINLINE void prof__read_emit(prof_cursor *c, prof_event *event)
{
    const prof_trace *trace = c->trace;
    prof__read_node *node = &c->nodes[c->node++];
    const prof__read_more *more = prof__read_more_of(c, node);
    const uint64_t *words = c->words;
    const prof__read_site *site = &trace->sites[node->site];
    event->depth = node->depth;
    event->start_ns = node->start_ns;
    if (more->kind == PROF__KIND_LOST)
        prof__read_emit_lost(c, event, node);
    else
        event->id = c->id | node->word;
    c->key = more->key;
    event->site = &site->about;
    event->name = more->name ? prof__log_name(words + more->name, c->message) : site->about.name;
    switch (more->kind) {
    case PROF__KIND_BEGIN:
        event->type = PROF_EVENT_SCOPE;
        event->flags = more->flags;
        event->duration_ns = node->end_ns - node->start_ns;
        prof__read_args(c, event, more->arg, more->link);
        if (!(more->flags & PROF__OVERLAPS)) break;
        event->type = PROF_EVENT_SPAN_BEGIN;
        event->flags = 0;
        event->duration_ns = 0;
        event->object = ~event->id;
        break;
    case PROF__KIND_END: /* of a scope that overlaps an enclosing one */
        event->type = PROF_EVENT_SPAN_END;
        event->object = ~trace->late_ends[more->link].id;
        break;
    case PROF__KIND_MARK:
        event->type = PROF_EVENT_MARK;
        prof__read_args(c, event, more->arg, PROF__NONE);
        break;
    case PROF__KIND_EVENT:
        event->type = (prof_event_type)prof__read_event_type(words + node->word);
        event->detail = words[node->word + 1] >> 8;
        event->object = words[node->word + 2];
        prof__read_args(c, event, more->arg, PROF__NONE);
        if (event->type == PROF_EVENT_LOG) prof__read_emit_message(c, event);
        break;
    case PROF__KIND_FRAME:
        prof__read_emit_frame(c, event, site->name, node->word);
        prof__read_args(c, event, more->arg, PROF__NONE);
        break;
    case PROF__KIND_COUNTER_INT:
    case PROF__KIND_COUNTER_UINT:
    case PROF__KIND_COUNTER_DOUBLE:
        event->type = PROF_EVENT_COUNTER;
        event->value.type = (prof_value_type)prof__record_holds(words[node->word]);
        memcpy(&event->value.as, words + node->word + 1, sizeof *words);
        break;
    default: break;
    }
}

static void prof__read_device_args(prof_cursor *c, prof_event *event, const prof__read_device_record *e)
{
    const uint64_t *record = e->arg_count ? c->trace->kept + e->args : NULL;
    for (; event->arg_count < e->arg_count; event->arg_count++) {
        size_t key = 1 + (size_t)(*record & 0xFFFF);
        c->args[event->arg_count] = prof__read_decode(c->trace, record, record + key);
        record += key + 1 + (size_t)(record[key] & 0xFFFF);
    }
}

/* Returns the next event of a device's row. An event with a flow is followed by the flow's event; if the event is a
   scope, the flow lies inside it. */
static int prof__read_device_event(prof_cursor *c, prof_event *event)
{
    const prof_trace *trace = c->trace;
    const prof__read_device_record *e = trace->device_records + c->track->device_record + c->device_record - c->flow;
    int scope;
    if (!c->flow && c->device_record == c->track->device_record_count) return 0;
    scope = e->type == PROF__DEVICE_SCOPE;
    event->start_ns = e->start_ns;
    event->depth = e->depth;
    event->id = e->id;
    event->site = &trace->sites[e->site].about;
    event->name = trace->names[e->name];
    if (c->flow) {
        c->flow = 0;
        event->type = PROF_EVENT_FLOW_IN;
        event->depth += (uint32_t)scope;
        event->object = e->flow;
        event->name = "flow"; /* PROFILE_FLOW_OUT(id) uses this name, too */
        event->id++; /* the next word is inside the same record, so no other event has this id */
        return 1;
    }
    c->device_record++;
    c->flow = e->flow != 0;
    event->type = scope ? PROF_EVENT_SCOPE : e->type == PROF__DEVICE_MARK ? PROF_EVENT_MARK : PROF_EVENT_COUNTER;
    event->flags = e->flags;
    event->duration_ns = e->end_ns - e->start_ns;
    if (event->type == PROF_EVENT_COUNTER) {
        event->value.type = e->value == PROF_VALUE_DOUBLE ? PROF_VALUE_DOUBLE
                            : e->value == PROF_VALUE_UINT ? PROF_VALUE_UINT : PROF_VALUE_INT;
        memcpy(&event->value.as, &e->number, sizeof e->number);
    }
    prof__read_device_args(c, event, e);
    return 1;
}

/* Clears an event field by field. For a memset() of this size, compilers emit an instruction that takes longer than all
   else in this function. */
static inline void prof__read_event_clear(prof_event *event)
{
    event->type = (prof_event_type)0;
    event->flags = event->depth = event->arg_count = 0;
    event->start_ns = event->duration_ns = 0;
    event->id = event->object = event->detail = 0;
    event->name = NULL;
    event->site = NULL;
    event->args = NULL;
    event->value.type = PROF_VALUE_NONE;
    event->value.cut = 0;
    event->value.as.u = 0;
}

/* Returns 1 if the next event can be made from its node alone: a node is loaded, and the cursor has no window. */
static inline int prof__read_loaded(const prof_cursor *c) { return c->node < c->node_count && !c->windowed; }

/* Returns 1 if the node is a scope without arguments, run-time name or flags, as most are. */
static inline int prof__read_plain(const prof__read_node *node)
{
    return !node->more;
}

/* Returns the node of the next event and moves on, if the event is a plain scope, which its node and its call site
   describe completely. Otherwise returns NULL: the caller uses prof_cursor_next(). */
static inline const prof__read_node *prof__cursor_plain(prof_cursor *c, const prof_callsite **site)
{
    const prof__read_node *node = &c->nodes[c->node];
    if (!prof__read_loaded(c) || !prof__read_plain(node)) return NULL;
    c->node++;
    *site = &c->trace->sites[node->site].about;
    return node;
}

/* Returns the node of the event after `ahead` more, its call site and the key of its name, if the cursor has loaded it
   and its name was made at run time; else returns NULL. */
static inline const prof__read_node *prof__cursor_ahead(const prof_cursor *c, size_t ahead, const prof_callsite **site,
                                                        uint64_t *key)
{
    const prof__read_node *node = &c->nodes[c->node + ahead];
    if (c->node_count <= c->node + ahead || !node->more || !c->more[node->more - 1].key) return NULL;
    *key = c->more[node->more - 1].key;
    *site = &c->trace->sites[node->site].about;
    return node;
}

/* Makes the cursor make keys. Comes before its first event. */
static void prof__cursor_keyed(prof_cursor *c) { c->keyed = 1; }

/* Returns the key of the name of the cursor's last event, which was made at run time, or 0 if there is none. */
static inline uint64_t prof__cursor_key(const prof_cursor *c) { return c->key; }

/* Sets *event to the next node if that is a plain scope, else returns 0. */
static inline int prof__read_emit_scope(prof_cursor *c, prof_event *event)
{
    const prof__read_node *node = &c->nodes[c->node];
    const prof_callsite *site = &c->trace->sites[node->site].about;
    if (!prof__read_plain(node)) return 0;
    c->node++;
    event->type = PROF_EVENT_SCOPE;
    event->flags = event->arg_count = 0;
    event->depth = node->depth;
    event->start_ns = node->start_ns;
    event->duration_ns = node->end_ns - node->start_ns;
    event->id = c->id | node->word;
    event->name = site->name;
    event->site = site;
    event->args = c->args;
    event->value.type = PROF_VALUE_NONE;
    event->value.cut = 0;
    event->value.as.u = event->object = event->detail = 0;
    return 1;
}

/* Returns the track's next event, also outside the window. Returns 0 after the last. */
static int prof__read_next(prof_cursor *cursor, prof_event *event)
{
    prof__read_event_clear(event);
    event->args = cursor->args;
    if (cursor->track->device_record_count) return prof__read_device_event(cursor, event);
    if (cursor->unmatched_end < cursor->track->unmatched_end_count) {
        prof__read_emit_unmatched_end(cursor, event);
        return 1;
    }
    while (cursor->node == cursor->node_count) {
        if (cursor->segment == cursor->track->segment_count) return 0;
        prof__read_load(cursor);
    }
    prof__read_emit(cursor, event);
    return 1;
}

/* Extends a scope that is still open to the latest time at which it is known to have been open. */
static void prof__read_stretch(const prof_cursor *c, prof_event *event)
{
    int64_t newest = c->trace->newest_ns - event->start_ns;
    if (event->flags & PROF__STILL_OPEN && c->track->lives && event->duration_ns < newest) event->duration_ns = newest;
    event->flags &= ~PROF__STILL_OPEN;
}

/* Cuts an event to the window. Returns 0 if it lies outside. A scope that ends exactly where the window begins stays,
   because its children may be in the window. */
static int prof__read_cut_event(const prof_cursor *c, prof_event *event)
{
    int64_t start = event->start_ns, end = start, from = c->from_ns, to = c->to_ns;
    if (event->type == PROF_EVENT_SCOPE) end += event->duration_ns;
    if (start >= to || end < from) return 0;
    if (event->type == PROF_EVENT_FRAME) start -= event->duration_ns;
    if (start < from) {
        start = from;
        event->flags |= PROF_TRUNCATED_BEGIN;
    }
    if (end > to) {
        end = to;
        event->flags |= PROF_TRUNCATED_END;
    }
    event->duration_ns = end - start;
    if (event->type == PROF_EVENT_SCOPE) event->start_ns = start;
    return 1;
}

/* Returns the next event of any kind, inside the window if there is one. Returns 0 after the last. */
static PROF__NOINLINE int prof__read_next_wanted(prof_cursor *cursor, prof_event *event)
{
    while (prof__read_next(cursor, event)) {
        prof__read_stretch(cursor, event);
        if (!cursor->windowed || prof__read_cut_event(cursor, event)) return 1;
        if (event->start_ns >= cursor->to_ns) break; /* later events are behind the window, too */
    }
    memset(event, 0, sizeof *event);
    return 0;
}

PROF_DEF int prof_cursor_next(prof_cursor *cursor, prof_event *event)
{
    if (!cursor || !event) return 0;
    if (PROF__LIKELY(prof__read_loaded(cursor)) && prof__read_emit_scope(cursor, event)) return 1;
    return prof__read_next_wanted(cursor, event);
}

/*-- SINCE ------------------------------------------------------------------------------------------------ >>since --*/

/* How far a track had been read. The moment is stored in ticks, because later clock pairs may change nanoseconds. The
   clock of a device has pairs of its own, so for a device's row the event that ended last is stored as well. */
typedef struct prof__bound {
    uint64_t track, tick; /* track: from prof__bound_track() */
    uint64_t id;          /* id of the row's last event; 0 for threads */
} prof__bound;

/* How far each track of a session had been read; all zero: no track. The caller owns the struct, and frees `bounds`. */
typedef struct prof__bounds {
    uint64_t session, process; /* the session and process that the bounds belong to */
    prof__bound *bounds;       /* sorted by track, then tick */
    size_t count;
} prof__bounds;

/* Returns a number that identifies a track in all traces of a session. The ids of devices' rows follow those of
   threads, and so differ from trace to trace; for a row, its number in the image is used instead. */
static uint64_t prof__bound_track(const prof_trace *trace, const prof__read_track *track)
{
    if (!track->device_record_count || !*track->about.device) return track->about.id;
    return (uint64_t)1 << 63 | trace->rows[trace->device_records[track->device_record].row].number;
}

static int prof__bound_order(const void *a, const void *b)
{
    const prof__bound *x = (const prof__bound *)a, *y = (const prof__bound *)b;
    if (x->track != y->track) return x->track < y->track ? -1 : 1;
    return x->tick < y->tick ? -1 : x->tick > y->tick;
}

/* Returns the latest bound of a track, or NULL if it has none. */
static const prof__bound *prof__bound_of(const prof__bounds *all, uint64_t track)
{
    size_t low = 0, high = all->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (all->bounds[middle].track <= track)
            low = middle + 1;
        else
            high = middle;
    }
    return low && all->bounds[low - 1].track == track ? &all->bounds[low - 1] : NULL;
}

/* Makes the statistics of a trace count only what ended after the bounds, if the bounds belong to the trace's session.
   Does not change statistics that were kept while recording, because prof__trace_live() resets those. Returns 0 if
   there is no memory. */
static int prof__bounds_apply(const prof__bounds *all, prof_trace *trace)
{
    size_t count = trace->track_count, hint = 0, i, j;
    if (trace->aggregated || !all->bounds || all->session != trace->header.session || all->process != trace->header.pid)
        return 1;
    free(trace->since);
    trace->since = (int64_t *)malloc((count + 1) * sizeof *trace->since);
    for (i = 0; trace->since && i < count; i++) {
        const prof__read_track *track = &trace->tracks[i];
        const prof__bound *bound = prof__bound_of(all, prof__bound_track(trace, track));
        trace->since[i] = bound ? prof__read_ns(trace, bound->tick, &hint) : -1;
        for (j = track->device_record; bound && j < track->device_record + track->device_record_count; j++)
            if (trace->device_records[j].id == bound->id) trace->since[i] = trace->device_records[j].end_ns;
    }
    return trace->since != NULL;
}

/* Sets the bounds to the end of a trace, unless the trace has statistics that were kept while recording. A child forked
   at any moment has either the old bounds or the new ones. Returns 0, with the bounds unchanged, if there is no
   memory. */
static int prof__bounds_take(prof__bounds *all, const prof_trace *trace)
{
    size_t count = trace->track_count, i, j;
    prof__bound *bounds, *old = all->bounds;
    if (trace->aggregated) return 1;
    bounds = (prof__bound *)malloc((count + 1) * sizeof *bounds);
    if (!bounds) return 0;
    for (i = 0; i < count; i++) {
        const prof__read_track *track = &trace->tracks[i];
        bounds[i].track = prof__bound_track(trace, track);
        bounds[i].tick = prof__image_tick(trace, track->about.last_ns + 1) - 1;
        bounds[i].id = 0;
        for (j = track->device_record; j < track->device_record + track->device_record_count; j++)
            if (trace->device_records[j].end_ns == track->about.last_ns) bounds[i].id = trace->device_records[j].id;
    }
    qsort(bounds, count, sizeof *bounds, prof__bound_order);
    all->bounds = bounds; /* set before the old bounds are freed */
    all->count = count;
    all->session = trace->header.session;
    all->process = trace->header.pid;
    free(old);
    return 1;
}

/* Returns 1 if the statistics of a trace count what ends at this time on this track. */
static int prof__trace_counts(const prof_trace *trace, size_t track, int64_t ns)
{
    return !trace->since || ns > trace->since[track];
}

/* Returns 1 if prof__bounds_apply() has changed what the statistics count. */
static int prof__trace_bounded(const prof_trace *trace) { return trace->since != NULL; }

/* Returns 1 if the trace has statistics that were kept while recording. */
static int prof__trace_aggregated(const prof_trace *trace) { return trace->aggregated != NULL; }

/*-- all tracks in order of time --*/

typedef struct prof__timeline_source {
    prof_cursor *cursor;
    size_t track;
    prof_event event; /* next event of the cursor */
} prof__timeline_source;

typedef struct prof__timeline_start {
    int64_t ns;
    size_t track;
} prof__timeline_start;

struct prof_timeline {
    const prof_trace *trace;
    /* Tracks in order of their first times; the cursors of the first `started` ones are open. */
    prof__timeline_start *starts;
    size_t start_count, started;
    prof__timeline_source *heap; /* a binary heap; the earliest event is at index 0 */
    size_t count, capacity;
    int given; /* 1: the event at index 0 was returned, so its cursor must move on */
    int whole; /* 1: the window is ignored */
    uint32_t groups; /* bit n: returns events of group n */
    prof_status status;
};

static int prof__timeline_before(const prof__timeline_source *a, const prof__timeline_source *b)
{
    if (a->event.start_ns != b->event.start_ns) return a->event.start_ns < b->event.start_ns;
    return a->track < b->track;
}

static void prof__timeline_swap(prof__timeline_source *a, prof__timeline_source *b)
{
    prof__timeline_source swap = *a;
    *a = *b;
    *b = swap;
}

static void prof__timeline_down(prof_timeline *t)
{
    size_t at = 0, child;
    while ((child = 2 * at + 1) < t->count) {
        if (child + 1 < t->count && prof__timeline_before(&t->heap[child + 1], &t->heap[child])) child++;
        if (!prof__timeline_before(&t->heap[child], &t->heap[at])) return;
        prof__timeline_swap(&t->heap[child], &t->heap[at]);
        at = child;
    }
}

/* Reads the next event of a track that the time line returns. */
static int prof__timeline_read(const prof_timeline *t, prof__timeline_source *source)
{
    while (prof_cursor_next(source->cursor, &source->event))
        if (t->groups >> prof__event_group(source->event.type) & 1) return 1;
    return 0;
}

/* Opens the cursor of the track that begins next. */
static void prof__timeline_begin(prof_timeline *t)
{
    size_t track = t->starts[t->started++].track, at;
    prof__timeline_source *source;
    if (!PROF__ROOM(t->heap, t->capacity, t->count)) {
        t->status =
            prof__fail(PROF_NO_MEMORY, "no memory to read %lu tracks at the same time", (unsigned long)t->count);
        return;
    }
    source = &t->heap[t->count];
    source->track = track;
    t->status = prof_cursor_open(t->trace, track, &source->cursor);
    if (t->status != PROF_OK) return;
    if (t->whole) source->cursor->windowed = 0;
    if (!prof__timeline_read(t, source)) {
        prof_cursor_close(source->cursor);
        return;
    }
    for (at = t->count++; at && prof__timeline_before(&t->heap[at], &t->heap[(at - 1) / 2]); at = (at - 1) / 2)
        prof__timeline_swap(&t->heap[at], &t->heap[(at - 1) / 2]);
}

static int prof__timeline_order(const void *a, const void *b)
{
    const prof__timeline_start *x = (const prof__timeline_start *)a, *y = (const prof__timeline_start *)b;
    if (x->ns != y->ns) return x->ns < y->ns ? -1 : 1;
    return x->track < y->track ? -1 : x->track > y->track;
}

/* Opens a time line: lists the tracks in order of their first times. A track's cursor is opened when its first time is
   reached. */
static prof_status prof__timeline_make(const prof_trace *trace, prof_timeline **timeline)
{
    prof_timeline *t;
    size_t i;
    if (!trace || !timeline) return prof__null("prof_timeline_open", "trace or timeline");
    *timeline = NULL;
    t = (prof_timeline *)calloc(1, sizeof *t);
    if (t) t->starts = (prof__timeline_start *)malloc((trace->track_count + 1) * sizeof *t->starts);
    if (!t || !t->starts) {
        free(t);
        return prof__fail(PROF_NO_MEMORY, "no memory to read %lu tracks", (unsigned long)trace->track_count);
    }
    t->trace = trace;
    t->groups = UINT32_MAX;
    t->start_count = trace->track_count;
    for (i = 0; i < t->start_count; i++) {
        t->starts[i].ns = trace->tracks[i].about.first_ns;
        t->starts[i].track = i;
    }
    qsort(t->starts, t->start_count, sizeof *t->starts, prof__timeline_order);
    *timeline = t;
    return PROF_OK;
}

PROF_DEF prof_status prof_timeline_open(const prof_trace *trace, prof_timeline **timeline)
{
    return prof__timeline_make(trace, timeline);
}

/* Says whether a track has events of a group. */
typedef int prof__has_group(const void *user, size_t track, unsigned group);

/* Opens a time line of the events of two groups. Does not read tracks without events of the first, as has() says; has
   NULL: reads all. */
static prof_status prof__timeline_of(const prof_trace *trace, unsigned group, unsigned also, prof__has_group *has,
                                     const void *user, prof_timeline **timeline)
{
    prof_status status = prof__timeline_make(trace, timeline);
    prof_timeline *t;
    size_t i, kept = 0;
    if (status) return status;
    t = *timeline;
    t->groups = 1u << group | 1u << also;
    for (i = 0; i < t->start_count; i++)
        if (!has || has(user, t->starts[i].track, group)) t->starts[kept++] = t->starts[i];
    t->start_count = kept;
    return PROF_OK;
}

PROF_DEF int prof_timeline_next(prof_timeline *timeline, prof_event *event, size_t *track)
{
    prof_timeline *t = timeline;
    if (!t || !event) return 0;
    if (t->given && !prof__timeline_read(t, &t->heap[0])) {
        prof_cursor_close(t->heap[0].cursor);
        t->heap[0] = t->heap[--t->count];
    }
    if (t->given) prof__timeline_down(t);
    t->given = 0;
    while (t->status == PROF_OK && t->started < t->start_count &&
           (!t->count || t->starts[t->started].ns <= t->heap[0].event.start_ns))
        prof__timeline_begin(t);
    if (t->status != PROF_OK || !t->count) return 0;
    *event = t->heap[0].event;
    if (track) *track = t->heap[0].track;
    return t->given = 1;
}

static prof_status prof__timeline_free(prof_timeline *timeline)
{
    prof_status status;
    if (!timeline) return PROF_OK;
    while (timeline->count) prof_cursor_close(timeline->heap[--timeline->count].cursor);
    status = timeline->status;
    free(timeline->heap);
    free(timeline->starts);
    free(timeline);
    return status;
}
PROF_DEF prof_status prof_timeline_close(prof_timeline *timeline) { return prof__timeline_free(timeline); }

/*-- ALLOCATIONS -------------------------------------------------------------------------------------- >>allocations --
   prof_memory() makes the memory statistics in one walk over the events of all tracks, in order of time. The walk keeps
   a table of the live blocks and of blocks freed recently. The freed ones tell a block that is freed twice from a block
   that was allocated before the trace began. prof_chrome.h walks in this way, too: its memory counters are what each
   step of the walk changes. */

#define PROF__HEAP_LEAST ((size_t)4096)  /* the smallest number of slots of the table of blocks */
#define PROF__HEAP_KEEP ((size_t)262144) /* a table with at most this many slots keeps all freed blocks */
#define PROF__HEAP_DEEP 32               /* at most this many nested memory scopes make up a scope's path */
#define PROF__HEAP_POOLS 256             /* at most this many pools are kept apart at one address */
/* The difference between clocks, in nanoseconds, that the walk tolerates. Threads read the clock without ordering it
   against memory accesses, and on different processors. So when a block passes from one thread to another, the events
   of the second thread may appear up to this much earlier than those of the first. */
#define PROF__ORDER_NS 500

typedef enum prof__heap_state {
    PROF__HEAP_NONE = 0, /* a free slot of the table */
    PROF__HEAP_LIVE,
    PROF__HEAP_FREED,
    PROF__HEAP_UNKNOWN, /* freed while not live, and nothing is known of an earlier free: in freed_unknown */
    PROF__HEAP_TWICE    /* freed again, without an allocation in between: in freed_twice */
} prof__heap_state;

typedef struct prof__heap_block {
    uint64_t address, bytes;
    int64_t ns; /* when the block's last event was; the event is on the track `track` */
    size_t track;
    uint32_t row, pool; /* row: of the call site of the allocation */
    uint32_t owed;      /* how many more frees are expected: allocations seen at this address while it was still live */
    prof__heap_state state;
} prof__heap_block;

typedef enum prof__heap_kind {
    PROF__HEAP_POOL,
    PROF__HEAP_SCOPE,
    PROF__HEAP_SITE,
    PROF__HEAP_NAME /* the run-time name of a scope around allocations; makes no row of the statistics */
} prof__heap_kind;

typedef struct prof__heap_row {
    prof_memory_row about;
    prof__heap_kind kind;
    uint32_t scope, pool; /* rows: of a site: its scope's and pool's; of a scope: scope is the enclosing one's */
    uint32_t around;      /* of a site: the row of the run-time name of the scope around it; 0: that scope has none */
    uint32_t deep;        /* of a scope: how many scopes enclose it */
    char *path;           /* of a scope or a name; owned. A scope's path ends with the scope's own name, */
    size_t name;          /* which begins at this offset */
} prof__heap_row;

/* A memory scope that is open on a track. Allocations count for the innermost one. */
typedef struct prof__heap_enclosing {
    const prof_callsite *site;
    uint32_t scope, name; /* rows of the scope and of its run-time name; name 0: it has the site's name */
} prof__heap_enclosing;

typedef struct prof__heap_stack {
    prof__heap_enclosing *items;
    size_t count, capacity;
} prof__heap_stack;

typedef struct prof__heap {
    prof__heap_block *blocks; /* a hash table; the key is the address */
    size_t capacity, used, live;
    prof__heap_row *rows; /* [0]: allocations outside of all memory scopes */
    size_t row_count, row_capacity;
    prof__read_index index;
    prof__heap_stack *stacks; /* the open memory scopes of each track */
    size_t tracks;
    size_t changed; /* the row of the pool whose live bytes the last step changed, or PROF__NONE; */
    uint64_t bytes; /* and by how many bytes */
    prof_memory_stats stats;
    prof_timeline *timeline;
    prof_status status;
} prof__heap;

/* Returns 1 if the trace has a call site with this role. Without one, callers skip the walk. */
static int prof__has_role(const prof_trace *trace, uint32_t role)
{
    size_t i;
    for (i = 0; i < trace->site_count; i++)
        if (trace->sites[i].about.role == role) return 1;
    return 0;
}

/* Returns 1 if a call site was recorded by its address, so that a function is all that is known of the place. */
static int prof__site_by_address(const prof_callsite *site) { return !site->line && *site->file; }

/* Returns the function that allocates, or "". If the symbols of its module could not be read, that is "module+0x..". */
static const char *prof__memory_function(const prof_callsite *site)
{
    return prof__site_by_address(site) ? site->name : site->function;
}

/*-- rows --*/

typedef struct prof__heap_key {
    prof__heap_kind kind;
    const prof_callsite *site, *around;
    uint32_t scope;
    const char *text; /* of a pool and a name: its name; of a scope: the last part of its name; of a site: the name of
                         the scope around the site, a pointer shared by all rows of that name */
} prof__heap_key;

static int prof__heap_same(const void *owner, size_t item, const void *key)
{
    const prof__heap_row *row = (const prof__heap_row *)owner + item;
    const prof__heap_key *wanted = (const prof__heap_key *)key;
    if (row->kind != wanted->kind) return 0;
    if (row->kind == PROF__HEAP_POOL) return !strcmp(row->about.pool, wanted->text);
    if (row->kind == PROF__HEAP_NAME) return !strcmp(row->path, wanted->text);
    if (row->scope != wanted->scope) return 0;
    if (row->kind == PROF__HEAP_SCOPE) return item && !strcmp(row->path + row->name, wanted->text);
    return row->about.site == wanted->site && row->about.around == wanted->around &&
           row->about.around_name == wanted->text;
}

static char *prof__heap_path(const char *outer, const char *name)
{
    size_t before = strlen(outer);
    char *path = (char *)malloc(before + strlen(name) + 2);
    if (!path) return NULL;
    memcpy(path, outer, before);
    if (before) path[before++] = ':';
    strcpy(path + before, name);
    return path;
}

/* Returns the number of the row with this key. Adds the row if it is new. Returns PROF__NONE without memory. */
static size_t prof__heap_row_of(prof__heap *heap, const prof__heap_key *key)
{
    uint32_t hash = (uint32_t)prof__mix((uint64_t)(uintptr_t)key->site * 31 + (uint64_t)(uintptr_t)key->around * 17 +
                                        key->scope * 5u + (uint64_t)key->kind) +
                    (!key->text                    ? 0
                     : key->kind == PROF__HEAP_SITE ? (uint32_t)prof__mix((uint64_t)(uintptr_t)key->text)
                                                    : prof__text_hash(key->text));
    size_t item = prof__read_find(&heap->index, hash, prof__heap_same, heap->rows, key);
    prof__heap_row *row;
    if (item != PROF__NONE) return item;
    item = PROF__NEW(heap->index, hash, heap->rows, heap->row_capacity, heap->row_count);
    if (item == PROF__NONE) return item;
    row = &heap->rows[item];
    row->kind = key->kind;
    row->about.site = key->site;
    row->about.around = key->around;
    row->scope = key->scope;
    if (key->kind == PROF__HEAP_POOL) row->about.pool = key->text;
    if (key->kind == PROF__HEAP_SITE) row->about.around_name = key->text;
    if (key->kind == PROF__HEAP_NAME) {
        row->path = prof__heap_path("", key->text);
        if (!row->path) return PROF__NONE;
    }
    if (key->kind == PROF__HEAP_SCOPE) {
        const prof__heap_row *outer = &heap->rows[key->scope];
        row->path = prof__heap_path(outer->path, key->text);
        if (!row->path) return PROF__NONE;
        row->name = strlen(row->path) - strlen(key->text);
        row->deep = outer->deep + 1;
    }
    return item;
}

static void prof__heap_row_add(prof__heap_row *row, uint64_t bytes, int64_t ns)
{
    prof_memory_row *about = &row->about;
    about->count++;
    about->bytes += bytes;
    about->live_count++;
    about->live_bytes += bytes;
    if (about->live_bytes <= about->peak_bytes) return;
    about->peak_bytes = about->live_bytes;
    about->peak_ns = ns;
}

static void prof__heap_count(prof__heap *heap, const prof__heap_block *block, int64_t ns)
{
    const prof__heap_row *row = &heap->rows[block->row];
    prof__heap_row_add(&heap->rows[block->row], block->bytes, ns);
    prof__heap_row_add(&heap->rows[row->scope], block->bytes, ns);
    prof__heap_row_add(&heap->rows[row->pool], block->bytes, ns);
    heap->live++;
    heap->changed = row->pool;
    heap->bytes = block->bytes;
}

static void prof__heap_uncount(prof__heap *heap, const prof__heap_block *block)
{
    uint32_t each[3], i;
    each[0] = block->row;
    each[1] = heap->rows[block->row].scope;
    each[2] = heap->rows[block->row].pool;
    for (i = 0; i < 3; i++) {
        heap->rows[each[i]].about.live_count--;
        heap->rows[each[i]].about.live_bytes -= block->bytes;
    }
    heap->live--;
    heap->changed = each[2];
    heap->bytes = block->bytes;
}

/*-- blocks --*/

static size_t prof__heap_slot(const prof__heap *heap, uint64_t address)
{
    return (size_t)prof__mix(address * 0x9E3779B97F4A7C15u) & (heap->capacity - 1);
}

/* Returns the block of `pool` at an address, live or freed. If that pool has no live block there and `any` is 1,
   returns the newest live block of the other pools, if there is one. Returns NULL if the table has no block of the
   address. */
static prof__heap_block *prof__heap_find(const prof__heap *heap, uint64_t address, uint32_t pool, int any)
{
    prof__heap_block *own = NULL, *other = NULL;
    size_t at = prof__heap_slot(heap, address);
    for (; heap->blocks[at].state; at = (at + 1) & (heap->capacity - 1)) {
        prof__heap_block *block = &heap->blocks[at];
        if (block->address != address) continue;
        if (block->pool == pool)
            own = block;
        else if (block->state == PROF__HEAP_LIVE && (!other || other->ns <= block->ns))
            other = block;
    }
    return any && other && (!own || own->state != PROF__HEAP_LIVE) ? other : own;
}

/* Adds a block. An address may have PROF__HEAP_POOLS blocks, because a search visits all blocks of an address. At an
   address with more, the new block replaces one; if that one is live, it counts as not freed. */
static prof__heap_block *prof__heap_put(prof__heap *heap, const prof__heap_block *block)
{
    size_t at = prof__heap_slot(heap, block->address), same = 0;
    for (; heap->blocks[at].state; at = (at + 1) & (heap->capacity - 1))
        if (heap->blocks[at].address == block->address && ++same == PROF__HEAP_POOLS) break;
    heap->used += !heap->blocks[at].state;
    if (heap->blocks[at].state == PROF__HEAP_LIVE) {
        prof__heap_uncount(heap, &heap->blocks[at]);
        heap->stats.not_freed++;
    }
    heap->blocks[at] = *block;
    return &heap->blocks[at];
}

/* Makes the table larger, or copies the live blocks alone to one of equal size. */
static int prof__heap_grow(prof__heap *heap)
{
    prof__heap_block *old = heap->blocks;
    size_t count = heap->capacity, i;
    int all = count < PROF__HEAP_KEEP;
    if (all || heap->live > count / 2) heap->capacity = count ? count * 2 : PROF__HEAP_LEAST;
    heap->blocks = NULL;
    if (heap->capacity <= (size_t)-1 / sizeof *old)
        heap->blocks = (prof__heap_block *)calloc(heap->capacity, sizeof *old);
    if (!heap->blocks) {
        heap->blocks = old;
        heap->capacity = count;
        return 0;
    }
    heap->used = 0;
    for (i = 0; i < count; i++)
        if (old[i].state == PROF__HEAP_LIVE || (all && old[i].state)) prof__heap_put(heap, &old[i]);
    free(old);
    return 1;
}

/* Adds a block for a pool that has none at this address. Returns NULL without memory. */
static prof__heap_block *prof__heap_new(prof__heap *heap, uint64_t address, uint32_t pool)
{
    prof__heap_block block;
    if (heap->used >= heap->capacity / 4 * 3 && !prof__heap_grow(heap)) return NULL;
    memset(&block, 0, sizeof block);
    block.address = address;
    block.pool = pool;
    block.state = PROF__HEAP_FREED;
    return prof__heap_put(heap, &block);
}

/*-- events --*/

/* Returns 1 if the previous event of a block may in truth be later than this one: it is on another track, and the times
   differ by no more than clocks do. */
static int prof__heap_crossed(const prof__heap_block *block, const prof_event *event, size_t track)
{
    return block->track != track && event->start_ns - block->ns <= PROF__ORDER_NS;
}

/* Sets the scope that the allocations that follow belong to. Returns 0 without memory. */
static int prof__heap_around(prof__heap *heap, prof__heap_enclosing *around, const prof_event *event)
{
    size_t row = 0;
    around->site = event->site;
    if (!event->site->name[0]) { /* named at run time: copies the text, which the cursor overwrites when it moves */
        prof__heap_key key = {PROF__HEAP_NAME, NULL, NULL, 0, event->name};
        row = prof__heap_row_of(heap, &key);
    }
    around->name = (uint32_t)row;
    return row != PROF__NONE;
}

static int prof__heap_scope(prof__heap *heap, const prof_event *event, size_t track)
{
    prof__heap_stack *stack = &heap->stacks[track];
    prof__heap_enclosing around = {NULL, 0, 0};
    if (stack->count > event->depth) stack->count = event->depth;
    if (stack->count) around = stack->items[stack->count - 1];
    if (event->site->role != PROF_ROLE_MEMORY) {
        if (!prof__heap_around(heap, &around, event)) return 0;
    } else if (heap->rows[around.scope].deep < PROF__HEAP_DEEP) {
        prof__heap_key key = {PROF__HEAP_SCOPE, NULL, NULL, around.scope, event->name};
        size_t row = prof__heap_row_of(heap, &key);
        if (row == PROF__NONE) return 0;
        around.scope = (uint32_t)row;
    }
    do { /* more than once only if the window lacks the events of enclosing scopes */
        if (!PROF__ROOM(stack->items, stack->capacity, stack->count)) return 0;
        stack->items[stack->count++] = around;
    } while (stack->count <= event->depth);
    return 1;
}

/* Returns the row of the pool that an event names. Returns PROF__NONE without memory. */
static size_t prof__heap_pool(prof__heap *heap, const prof_event *event)
{
    prof__heap_key key = {PROF__HEAP_POOL, NULL, NULL, 0, event->site->category};
    return prof__heap_row_of(heap, &key);
}

/* Returns the row of the call site of an allocation within its enclosing scopes. */
static size_t prof__heap_site(prof__heap *heap, const prof_event *event, size_t track, size_t pool)
{
    const prof__heap_stack *stack = &heap->stacks[track];
    size_t open = stack->count < event->depth ? stack->count : event->depth, row;
    prof__heap_enclosing around = {NULL, 0, 0};
    prof__heap_key key = {PROF__HEAP_SITE, event->site, NULL, 0, NULL};
    if (open) around = stack->items[open - 1];
    key.around = around.site;
    key.scope = around.scope;
    if (around.site) key.text = around.name ? heap->rows[around.name].path : around.site->name;
    row = prof__heap_row_of(heap, &key);
    if (row == PROF__NONE) return row;
    heap->rows[row].pool = (uint32_t)pool;
    heap->rows[row].around = around.name;
    return row;
}

static int prof__heap_alloc(prof__heap *heap, const prof_event *event, size_t track)
{
    size_t pool = prof__heap_pool(heap, event);
    size_t row = pool == PROF__NONE ? PROF__NONE : prof__heap_site(heap, event, track, pool);
    prof__heap_block *block;
    int gone; /* 1: another thread has freed the block already; its clock was behind */
    if (row == PROF__NONE) return 0;
    block = prof__heap_find(heap, event->object, (uint32_t)pool, 0);
    if (!block) block = prof__heap_new(heap, event->object, (uint32_t)pool);
    if (!block) return 0;
    heap->stats.count++;
    gone = block->state > PROF__HEAP_FREED && prof__heap_crossed(block, event, track);
    if (gone && block->state == PROF__HEAP_UNKNOWN) heap->stats.freed_unknown--;
    if (gone && block->state == PROF__HEAP_TWICE) heap->stats.freed_twice--;
    if (block->state == PROF__HEAP_LIVE) {
        prof__heap_uncount(heap, block);
        heap->stats.not_freed++;
        block->owed++;
    }
    block->bytes = event->detail;
    block->row = (uint32_t)row;
    prof__heap_count(heap, block, event->start_ns);
    if (gone) prof__heap_uncount(heap, block);
    block->state = gone ? PROF__HEAP_FREED : PROF__HEAP_LIVE;
    block->ns = event->start_ns;
    block->track = track;
    return 1;
}

static int prof__heap_free(prof__heap *heap, const prof_event *event, size_t track)
{
    size_t pool = prof__heap_pool(heap, event);
    prof__heap_block *block;
    if (pool == PROF__NONE) return 0;
    heap->stats.frees++;
    block = prof__heap_find(heap, event->object, (uint32_t)pool, !(event->detail & PROF__FREE_IN_POOL));
    if (block && block->owed && block->track != track &&
        (event->detail & PROF__FREE_LATE || prof__heap_crossed(block, event, track))) {
        block->owed--; /* this free belongs to the block that was at the address before */
        heap->stats.not_freed--;
        return 1;
    }
    if (block && block->state == PROF__HEAP_LIVE) {
        prof__heap_uncount(heap, block);
        block->state = PROF__HEAP_FREED;
    } else if (block) {
        heap->stats.freed_twice++;
        block->state = PROF__HEAP_TWICE;
    } else {
        block = prof__heap_new(heap, event->object, (uint32_t)pool);
        if (!block) return 0;
        heap->stats.freed_unknown++;
        block->state = PROF__HEAP_UNKNOWN;
    }
    block->ns = event->start_ns;
    block->track = track;
    return 1;
}

/* Begins the walk. has: see prof__timeline_of(). prof__heap_close() must follow in any case. */
static void prof__heap_open(prof__heap *heap, const prof_trace *trace, prof__has_group *has, const void *user)
{
    memset(heap, 0, sizeof *heap);
    heap->tracks = prof_trace_track_count(trace);
    heap->stacks = (prof__heap_stack *)calloc(heap->tracks + 1, sizeof *heap->stacks);
    if (heap->stacks && prof__heap_grow(heap) && PROF__MORE(heap->rows, heap->row_capacity, heap->row_count)) {
        heap->rows[0].kind = PROF__HEAP_SCOPE;
        heap->rows[0].path = prof__heap_path("", "");
    }
    if (heap->row_count && heap->rows[0].path)
        heap->status =
            prof__timeline_of(trace, PROF__GROUP_MEMORY, PROF__GROUP_SCOPE, has, user, &heap->timeline);
    else
        heap->status = prof__no_memory("for the live blocks");
}

/* Reads the next event. The heap stays as it was before that event until prof__heap_step(). */
static int prof__heap_next(prof__heap *heap, prof_event *event, size_t *track)
{
    if (heap->status) return 0;
    if (prof_timeline_next(heap->timeline, event, track)) return 1;
    heap->status = heap->timeline->status;
    return 0;
}

static int prof__heap_step(prof__heap *heap, const prof_event *event, size_t track)
{
    int good = 1;
    heap->changed = PROF__NONE;
    switch ((int)event->type) {
    case PROF_EVENT_SCOPE: good = prof__heap_scope(heap, event, track); break;
    case PROF_EVENT_ALLOC: good = prof__heap_alloc(heap, event, track); break;
    case PROF_EVENT_FREE: good = prof__heap_free(heap, event, track); break;
    default: break;
    }
    if (!good) heap->status = prof__no_memory("for the live blocks");
    return good;
}

static prof_status prof__heap_close(prof__heap *heap)
{
    size_t i;
    prof_timeline_close(heap->timeline);
    for (i = 0; i < heap->row_count; i++) free(heap->rows[i].path);
    for (i = 0; heap->stacks && i < heap->tracks; i++) free(heap->stacks[i].items);
    free(heap->rows);
    free(heap->stacks);
    free(heap->blocks);
    free(heap->index.slots);
    return heap->status;
}

/* Sorts by bytes, the largest first; rows with equal bytes keep their order. */
static int prof__memory_order(const void *a, const void *b)
{
    const prof__heap_row *const *x = (const prof__heap_row *const *)a, *const *y = (const prof__heap_row *const *)b;
    if ((*x)->kind != (*y)->kind) return (*x)->kind < (*y)->kind ? -1 : 1;
    if ((*x)->about.bytes != (*y)->about.bytes) return (*x)->about.bytes > (*y)->about.bytes ? -1 : 1;
    return *x < *y ? -1 : *x > *y;
}

/* Allocates one block with the statistics, their rows and the names of the scopes. Returns NULL without memory. */
static prof_memory_stats *prof__memory_copy(const prof__heap *heap)
{
    const prof__heap_row **order = (const prof__heap_row **)malloc(heap->row_count * sizeof *order);
    size_t size = sizeof(prof_memory_stats) + heap->row_count * sizeof(prof_memory_row), counts[3] = {0, 0, 0}, i;
    prof_memory_stats *stats = NULL;
    prof_memory_row *rows;
    const char **paths = (const char **)malloc(heap->row_count * sizeof *paths);
    char *text;
    for (i = 0; i < heap->row_count; i++)
        if (heap->rows[i].path) size += strlen(heap->rows[i].path) + 1;
    if (order && paths) stats = (prof_memory_stats *)calloc(1, size);
    if (stats) {
        *stats = heap->stats;
        rows = (prof_memory_row *)(stats + 1);
        text = (char *)(rows + heap->row_count);
        for (i = 0; i < heap->row_count; i++) {
            order[i] = &heap->rows[i];
            if (!heap->rows[i].path) continue;
            paths[i] = strcpy(text, heap->rows[i].path);
            text += strlen(text) + 1;
        }
        qsort(order, heap->row_count, sizeof *order, prof__memory_order);
        for (i = 0; i < heap->row_count; i++) {
            if (!order[i]->about.count) continue; /* a pool with frees alone, or a scope without allocations */
            *rows = order[i]->about;
            if (order[i]->kind == PROF__HEAP_SCOPE) rows->scope = paths[order[i] - heap->rows];
            if (order[i]->kind == PROF__HEAP_SITE) {
                rows->scope = paths[order[i]->scope];
                rows->pool = heap->rows[order[i]->pool].about.pool;
                if (order[i]->around) rows->around_name = paths[order[i]->around];
            }
            counts[order[i]->kind]++;
            rows++;
        }
        stats->pools = (const prof_memory_row *)(stats + 1);
        stats->scopes = stats->pools + (stats->pool_count = counts[PROF__HEAP_POOL]);
        stats->sites = stats->scopes + (stats->scope_count = counts[PROF__HEAP_SCOPE]);
        stats->site_count = counts[PROF__HEAP_SITE];
    }
    free(order);
    free(paths);
    return stats;
}

static prof_status prof__memory_stats(const prof_trace *trace, prof_memory_stats **stats)
{
    prof__heap heap;
    prof_event event;
    size_t track;
    if (!trace || !stats) return prof__null("prof_memory", "trace or stats");
    *stats = NULL;
    prof__heap_open(&heap, trace, NULL, NULL);
    while (prof__heap_next(&heap, &event, &track) && prof__heap_step(&heap, &event, track)) continue;
    if (!heap.status) {
        *stats = prof__memory_copy(&heap);
        if (!*stats) heap.status = prof__no_memory("for the statistics of allocations");
    }
    return prof__heap_close(&heap);
}
PROF_DEF prof_status prof_memory(const prof_trace *trace, prof_memory_stats **stats)
{
    PROF__CALM();
    return prof__memory_stats(trace, stats);
}

PROF_DEF void prof_memory_free(prof_memory_stats *stats)
{
    free(stats);
}

/*-- LOCKS -------------------------------------------------------------------------------------------------- >>locks --
   prof_locks() walks over the events of all tracks in order of time, as prof_memory() does. A lock is identified by its
   address, as long as the name at that address stays the same. Waits, acquires and releases are matched within each
   thread, so small differences between the threads' clocks do not matter. */

typedef struct prof__lock_state {
    uint64_t address;
    size_t row;
    uint64_t acquired;        /* how often any thread acquired it */
    uint64_t holders, waiting; /* how many threads hold it, and how many wait for it */
    size_t holder, holder_before; /* the last user to hold it, and the last other one; equal: there was no other */
    int64_t released_ns;
} prof__lock_state;

/* What is known of a lock on one track. */
typedef struct prof__lock_user {
    size_t lock, track;
    uint64_t depth;    /* how many of its acquires have no release yet */
    uint64_t losses;   /* the count of the track's losses when this was last updated */
    uint64_t acquired; /* the lock's `acquired` when this user began to wait */
    int64_t wait_ns, hold_ns; /* when the wait or hold began */
    int waits, contended;
    int scoped; /* 1: the wait is also a scope, made by PROFILE_MUTEX_LOCK */
} prof__lock_user;

typedef enum prof__lock_part {
    PROF__LOCK_NOTHING,
    PROF__LOCK_WAITED,
    PROF__LOCK_HELD
} prof__lock_part;

typedef struct prof__locks {
    prof_lock_row *rows;
    prof__lock_state *locks;
    prof__lock_user *users;
    size_t row_count, row_capacity, lock_count, lock_capacity, user_count, user_capacity;
    prof__read_index row_index, lock_index, user_index;
    uint64_t *losses; /* of each track: how many losses the walk has seen */
    int by_address;
    struct {
        prof__lock_part part;
        size_t user;
        int64_t start, end;
        int shared;    /* of a hold: 1: other threads held the lock at the same time */
        int contended; /* of a wait: 1: another thread had the lock */
    } done; /* the wait or hold that the last step ended */
    prof_timeline *timeline;
    prof_status status;
} prof__locks;

static int prof__same_lock(const void *owner, size_t item, const void *key)
{
    return ((const prof__lock_state *)owner)[item].address == *(const uint64_t *)key;
}

static int prof__same_lock_user(const void *owner, size_t item, const void *key)
{
    const prof__lock_user *user = (const prof__lock_user *)owner + item, *wanted = (const prof__lock_user *)key;
    return user->lock == wanted->lock && user->track == wanted->track;
}

static int prof__same_lock_row(const void *owner, size_t item, const void *key)
{
    const prof_lock_row *row = (const prof_lock_row *)owner + item, *wanted = (const prof_lock_row *)key;
    return row->address == wanted->address && !strcmp(row->name, wanted->name) &&
           !strcmp(row->category, wanted->category);
}

/* Returns the row number of an event's lock. Adds a row if the lock is new. Returns PROF__NONE without memory. */
static size_t prof__lock_row_of(prof__locks *all, const prof_event *event)
{
    prof_lock_row row; /* a key for the search: the other fields are not set */
    uint32_t hash;
    size_t item;
    row.name = event->site->name;
    row.category = event->site->category;
    row.address = all->by_address ? event->object : 0;
    hash = prof__text_hash(row.name) + (uint32_t)prof__mix(row.address);
    item = prof__read_find(&all->row_index, hash, prof__same_lock_row, all->rows, &row);
    if (item != PROF__NONE) return item;
    item = PROF__NEW(all->row_index, hash, all->rows, all->row_capacity, all->row_count);
    if (item == PROF__NONE) return item;
    all->rows[item].name = row.name;
    all->rows[item].category = row.category;
    all->rows[item].address = row.address;
    return item;
}

static size_t prof__lock_of(prof__locks *all, const prof_event *event)
{
    uint32_t hash = (uint32_t)prof__mix(event->object * 0x9E3779B97F4A7C15u);
    size_t item = prof__read_find(&all->lock_index, hash, prof__same_lock, all->locks, &event->object);
    prof__lock_state *lock;
    if (item != PROF__NONE) return item;
    item = PROF__NEW(all->lock_index, hash, all->locks, all->lock_capacity, all->lock_count);
    if (item == PROF__NONE) return item;
    lock = &all->locks[item];
    lock->address = event->object;
    lock->row = PROF__NONE; /* has no row until an event names it */
    lock->holder = PROF__NONE;
    return item;
}

static size_t prof__lock_user_of(prof__locks *all, size_t lock, size_t track)
{
    prof__lock_user user; /* a key for the search: the other fields are not set */
    uint32_t hash = (uint32_t)prof__mix(lock * 0x9E3779B97F4A7C15u + track);
    size_t item;
    user.lock = lock;
    user.track = track;
    item = prof__read_find(&all->user_index, hash, prof__same_lock_user, all->users, &user);
    if (item != PROF__NONE) return item;
    item = PROF__NEW(all->user_index, hash, all->users, all->user_capacity, all->user_count);
    if (item == PROF__NONE) return item;
    all->users[item].lock = lock;
    all->users[item].track = track;
    all->users[item].losses = all->losses[track];
    return item;
}

static void prof__lock_end_wait(prof__locks *all, prof__lock_user *user, int acquired)
{
    prof__lock_state *lock = &all->locks[user->lock];
    if (!user->waits) return;
    user->waits = 0;
    lock->waiting--;
    all->rows[lock->row].waiting--;
    all->rows[lock->row].abandoned += !acquired;
}

static void prof__lock_forget_hold(prof__locks *all, prof__lock_user *user)
{
    prof__lock_state *lock = &all->locks[user->lock];
    if (!user->depth) return;
    user->depth = 0;
    lock->holders--;
    all->rows[lock->row].holding--;
    all->rows[lock->row].unmatched++;
}

static void prof__lock_wait(prof__locks *all, const prof_event *event, size_t number)
{
    prof__lock_user *user = &all->users[number];
    prof__lock_state *lock = &all->locks[user->lock];
    prof_lock_row *row = &all->rows[lock->row];
    prof__lock_end_wait(all, user, 0);
    user->waits = 1;
    user->wait_ns = event->start_ns;
    user->acquired = lock->acquired;
    user->scoped = event->detail & 1;
    user->contended = user->scoped || lock->holders > (user->depth != 0);
    row->waiting++;
    if (++lock->waiting > row->waiting_max) row->waiting_max = lock->waiting;
}

static void prof__lock_acquire(prof__locks *all, const prof_event *event, size_t number)
{
    prof__lock_user *user = &all->users[number];
    prof__lock_state *lock = &all->locks[user->lock];
    prof_lock_row *row = &all->rows[lock->row];
    row->acquired++;
    if (user->waits) {
        uint64_t ns = (uint64_t)(event->start_ns - user->wait_ns);
        int contended = user->contended || lock->acquired != user->acquired;
        row->contended += (uint64_t)contended;
        row->wait_ns += ns;
        if (ns > row->wait_max_ns) row->wait_max_ns = ns;
        prof__lock_end_wait(all, user, 1);
        all->done.part = PROF__LOCK_WAITED;
        all->done.start = user->wait_ns;
        all->done.contended = contended;
        if (contended && user->depth) prof__lock_forget_hold(all, user); /* it waits, so its release was lost */
    }
    lock->acquired++;
    if (user->depth++) return;
    user->hold_ns = event->start_ns;
    if (lock->holder != number) lock->holder_before = lock->holder == PROF__NONE ? number : lock->holder;
    lock->holder = number;
    lock->holders++;
    row->holding++;
}

/* Returns 1 if another thread still holds a lock that was just released, and took it so long ago that the clocks cannot
   be the reason. Then the threads share the lock. */
static int prof__lock_shared(const prof__locks *all, const prof__lock_state *lock, int64_t now)
{
    const prof__lock_user *other;
    if (lock->holders != 1) return lock->holders != 0;
    other = &all->users[lock->holder];
    if (!other->depth) other = &all->users[lock->holder_before];
    return !other->depth || now - other->hold_ns > PROF__ORDER_NS;
}

static void prof__lock_release(prof__locks *all, const prof_event *event, size_t number)
{
    prof__lock_user *user = &all->users[number];
    prof__lock_state *lock = &all->locks[user->lock];
    prof_lock_row *row = &all->rows[lock->row];
    uint64_t ns;
    prof__lock_end_wait(all, user, 0); /* a thread that releases has ended its wait */
    if (!user->depth && lock->holders == 1 && all->users[lock->holder].depth) { /* a semaphore: another thread has it */
        number = lock->holder;
        user = &all->users[number];
    }
    if (!user->depth) {
        row->unmatched++;
        return;
    }
    if (--user->depth) return;
    ns = event->start_ns > user->hold_ns ? (uint64_t)(event->start_ns - user->hold_ns) : 0;
    row->hold_ns += ns;
    if (ns > row->hold_max_ns) row->hold_max_ns = ns;
    lock->holders--;
    row->holding--;
    all->done.part = PROF__LOCK_HELD;
    all->done.user = number;
    all->done.start = user->hold_ns;
    if (lock->released_ns > all->done.start && lock->released_ns - all->done.start <= PROF__ORDER_NS)
        all->done.start = lock->released_ns; /* the clocks of the two threads differ */
    if (all->done.start > event->start_ns) all->done.start = event->start_ns;
    all->done.shared = prof__lock_shared(all, lock, event->start_ns) || lock->released_ns > all->done.start;
    if (event->start_ns > lock->released_ns) lock->released_ns = event->start_ns;
}

/* Handles the next event of a timeline. Returns 0 without memory. */
static int prof__locks_step(prof__locks *all, const prof_event *event, size_t track)
{
    size_t number, user, row;
    prof__lock_state *lock;
    memset(&all->done, 0, sizeof all->done);
    if (event->type == PROF_EVENT_LOST) all->losses[track]++;
    if (event->type != PROF_EVENT_LOCK_WAIT && event->type != PROF_EVENT_LOCK_ACQUIRE &&
        event->type != PROF_EVENT_LOCK_RELEASE)
        return 1;
    number = prof__lock_of(all, event);
    if (number == PROF__NONE) return 0;
    lock = &all->locks[number];
    if (lock->row == PROF__NONE || (event->type != PROF_EVENT_LOCK_RELEASE && !lock->holders && !lock->waiting)) {
        /* the lock had no name, the name of a release, or that of an earlier lock at this address */
        row = prof__lock_row_of(all, event);
        if (row == PROF__NONE) return 0;
        if (row != lock->row) all->rows[row].locks++;
        lock->row = row;
    }
    user = prof__lock_user_of(all, number, track);
    if (user == PROF__NONE) return 0;
    if (all->users[user].losses != all->losses[track]) { /* the lost event may have been the lock's release */
        all->users[user].losses = all->losses[track];
        prof__lock_forget_hold(all, &all->users[user]);
        prof__lock_end_wait(all, &all->users[user], 0);
    }
    all->done.user = user;
    all->done.end = event->start_ns;
    if (event->type == PROF_EVENT_LOCK_WAIT) prof__lock_wait(all, event, user);
    if (event->type == PROF_EVENT_LOCK_ACQUIRE) prof__lock_acquire(all, event, user);
    if (event->type == PROF_EVENT_LOCK_RELEASE) prof__lock_release(all, event, user);
    return 1;
}

/* Begins a walk whose caller reads the events and calls prof__locks_step(). prof__locks_close() must follow in any
   case. */
static void prof__locks_begin(prof__locks *all, const prof_trace *trace, int by_address)
{
    memset(all, 0, sizeof *all);
    all->by_address = by_address;
    all->losses = (uint64_t *)calloc(prof_trace_track_count(trace) + 1, sizeof *all->losses);
    if (!all->losses) all->status = prof__no_memory("for the locks");
}

/* Begins the walk. has: see prof__timeline_of(). prof__locks_close() must follow in any case. */
static void prof__locks_open(prof__locks *all, const prof_trace *trace, int by_address, prof__has_group *has,
                             const void *user)
{
    prof__locks_begin(all, trace, by_address);
    if (!all->status)
        all->status = prof__timeline_of(trace, PROF__GROUP_LOCK, PROF__GROUP_LOST, has, user, &all->timeline);
}

/* Handles the next event. Returns 0 after the last one. */
static int prof__locks_next(prof__locks *all)
{
    prof_event event;
    size_t track;
    if (all->status) return 0;
    if (!prof_timeline_next(all->timeline, &event, &track))
        all->status = all->timeline->status;
    else if (prof__locks_step(all, &event, track))
        return 1;
    else
        all->status = prof__no_memory("for the locks");
    return 0;
}

static prof_status prof__locks_close(prof__locks *all)
{
    prof_timeline_close(all->timeline);
    free(all->rows);
    free(all->locks);
    free(all->users);
    free(all->losses);
    free(all->row_index.slots);
    free(all->lock_index.slots);
    free(all->user_index.slots);
    return all->status;
}

static int prof__lock_order(const void *a, const void *b)
{
    const prof_lock_row *x = (const prof_lock_row *)a, *y = (const prof_lock_row *)b;
    int names;
    if (x->wait_ns != y->wait_ns) return x->wait_ns > y->wait_ns ? -1 : 1;
    if (x->hold_ns != y->hold_ns) return x->hold_ns > y->hold_ns ? -1 : 1;
    names = strcmp(x->name, y->name);
    return names ? names : x->address < y->address ? -1 : x->address > y->address;
}

static prof_status prof__locks_list(const prof_trace *trace, int by_address, prof_lock_row **rows, size_t *count)
{
    prof__locks all;
    size_t i, kept = 0;
    if (!trace || !rows || !count) return prof__null("prof_locks", "trace, rows or count");
    *rows = NULL;
    *count = 0;
    prof__locks_open(&all, trace, by_address != 0, NULL, NULL);
    while (prof__locks_next(&all)) continue;
    for (i = 0; !all.status && i < all.lock_count; i++) /* a row that has one lock shows its address */
        if (all.rows[all.locks[i].row].locks == 1) all.rows[all.locks[i].row].address = all.locks[i].address;
    for (i = 0; i < all.row_count; i++) {
        const prof_lock_row *row = &all.rows[i]; /* leaves out a row without counts: only a release had this name */
        if (row->acquired || row->waiting || row->abandoned || row->unmatched) all.rows[kept++] = *row;
    }
    if (kept) qsort(all.rows, kept, sizeof *all.rows, prof__lock_order);
    if (!all.status && !PROF__ROOM(all.rows, all.row_capacity, kept))
        all.status = prof__no_memory("for the statistics of locks");
    if (!all.status) {
        *rows = all.rows;
        *count = kept;
        all.rows = NULL;
    }
    return prof__locks_close(&all);
}

PROF_DEF prof_status prof_locks(const prof_trace *trace, int by_address, prof_lock_row **rows, size_t *count)
{
    PROF__CALM();
    return prof__locks_list(trace, by_address, rows, count);
}

PROF_DEF void prof_locks_free(prof_lock_row *rows)
{
    free(rows);
}

/*-- WAITS ------------------------------------------------------------------------------------------ >>waits_read --
   prof_waits() walks over the events of all tracks in order of time, and keeps the open scopes of each track. So it
   knows in which scope a thread was when another began to wait for it, or was woken by it. The markup of locks says
   likewise who waits for whom: what prof_locks() counts is followed here, too. A wait that both have becomes one. */

typedef struct prof__waits_scope {
    const char *name;
    char *text; /* owned: the name, if it was made at run time; else NULL */
    int64_t end;
    size_t wait; /* the number of the wait that it is; PROF__WAITS_LOCK; or PROF__NONE */
} prof__waits_scope;
#define PROF__WAITS_LOCK (PROF__NONE - 1) /* a scope of PROFILE_MUTEX_LOCK: the wait comes when it is over */

typedef struct prof__waits_track {
    prof__waits_scope *scopes; /* by depth */
    size_t count, capacity;    /* count: the depth of the last scope + 1 */
    size_t last;               /* the number of the track's last wait + 1; 0: it had none */
    int64_t faulted;           /* when its last page fault ended */
} prof__waits_track;

/* Who had a lock when a thread began to wait for it, by the number of that user of the lock. */
typedef struct prof__waits_holder {
    size_t track;
    const char *scope;
} prof__waits_holder;

typedef struct prof__waits_arrow {
    uint64_t id;
    size_t track;
    int64_t ns;
    const char *scope;
} prof__waits_arrow;

/* What prof_waits() returns, and the names in it that were made at run time, which prof_waits_free() frees. */
typedef struct prof__waits_block {
    char **texts;
    size_t text_count;
    prof_wait waits[1];
} prof__waits_block;

typedef struct prof__waits {
    const prof_trace *trace;
    size_t track_count;
    prof__waits_track *tracks;
    prof_wait *waits;
    prof__waits_arrow *arrows;
    char **texts;
    size_t count, capacity, arrow_count, arrow_capacity, text_count, text_capacity;
    prof__read_index arrow_index;
    prof__locks locks;
    prof__waits_holder *holders;
    size_t holder_count, holder_capacity;
    size_t fault; /* the next of the trace's page faults */
} prof__waits;

static int prof__waits_same_arrow(const void *owner, size_t item, const void *key)
{
    return ((const prof__waits_arrow *)owner)[item].id == *(const uint64_t *)key;
}

/* Returns the innermost scope of a track at a time, which is no wait itself; NULL: none. */
static prof__waits_scope *prof__waits_scope_at(const prof__waits *all, size_t track, int64_t ns)
{
    const prof__waits_track *t = &all->tracks[track];
    for (size_t depth = t->count; depth--;)
        if (t->scopes[depth].end >= ns && t->scopes[depth].wait == PROF__NONE) return &t->scopes[depth];
    return NULL;
}

/* Returns the name of that scope, which lives as long as the result of prof_waits(); "": no scope. NULL without
   memory. */
static const char *prof__waits_name_at(prof__waits *all, size_t track, int64_t ns)
{
    prof__waits_scope *scope = prof__waits_scope_at(all, track, ns);
    char **keep;
    if (!scope) return "";
    if (!scope->text) return scope->name;
    keep = (char **)PROF__MORE(all->texts, all->text_capacity, all->text_count);
    if (keep) *keep = prof__text_join(scope->text, "");
    return keep ? *keep : NULL;
}

/* Returns the track of a thread that was there at a time: of several with this id, which the system may use again, the
   last one that had begun. */
static size_t prof__waits_track_of(const prof__waits *all, uint64_t thread, int64_t ns)
{
    size_t found = PROF_NO_TRACK;
    int64_t first = 0;
    for (size_t i = 0; i < all->track_count; i++) {
        const prof_track *track = prof_trace_track(all->trace, i);
        if (track->fiber || track->device[0] || track->thread_id != thread || track->first_ns > ns) continue;
        if (found != PROF_NO_TRACK && track->first_ns < first) continue;
        found = i;
        first = track->first_ns;
    }
    return found;
}

static void prof__waits_args(prof_wait *wait, const prof_event *event)
{
    for (uint32_t i = 0; i < event->arg_count; i++) {
        const prof_arg *arg = &event->args[i];
        if (!strcmp(arg->key, "holder")) {
            wait->holder = arg->value.as.u;
        } else if (!strcmp(arg->key, "wait_ns")) { /* the scope does not show all of it, but has its end */
            int64_t end = wait->start_ns + wait->duration_ns; /* the wait may have begun before the session */
            wait->duration_ns = (int64_t)(arg->value.as.u < PROF__FAR_NS ? arg->value.as.u : PROF__FAR_NS);
            wait->start_ns = end - wait->duration_ns;
        } else {
            static const char *const keys[] = {"lock", "condition", "semaphore", "futex", "barrier", "thread", "fd",
                                               "fds", "pid"};
            for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
                if (!strcmp(arg->key, keys[k])) wait->what = keys[k];
            wait->object = arg->value.as.u;
        }
    }
}

/* Adds a wait. Returns NULL without memory. */
static prof_wait *prof__waits_more(prof__waits *all, size_t track)
{
    prof_wait *wait = (prof_wait *)PROF__MORE(all->waits, all->capacity, all->count);
    if (!wait) return NULL;
    wait->call = wait->what = wait->name = wait->holder_scope = wait->waker_scope = "";
    wait->track = track;
    wait->holder_track = wait->waker_track = PROF_NO_TRACK;
    all->tracks[track].last = all->count;
    return wait;
}

/* Adds a wait in a call. Returns its number, or PROF__NONE without memory. */
static size_t prof__waits_add(prof__waits *all, const prof_event *event, size_t track)
{
    prof_wait *wait = prof__waits_more(all, track);
    if (!wait) return PROF__NONE;
    wait->call = event->site->name;
    wait->start_ns = event->start_ns;
    wait->duration_ns = event->duration_ns;
    wait->flags = event->flags;
    prof__waits_args(wait, event);
    wait->scope = prof__waits_name_at(all, track, event->start_ns);
    if (wait->holder) wait->holder_track = prof__waits_track_of(all, wait->holder, event->start_ns);
    if (wait->holder_track != PROF_NO_TRACK)
        wait->holder_scope = prof__waits_name_at(all, wait->holder_track, wait->start_ns);
    return wait->scope && wait->holder_scope ? all->count - 1 : PROF__NONE;
}

/* Returns 0 without memory. */
static int prof__waits_scope_begins(prof__waits *all, const prof_event *event, size_t track)
{
    prof__waits_track *t = &all->tracks[track];
    prof__waits_scope *scope;
    size_t wait = PROF__NONE;
    if (t->count > event->depth) t->count = event->depth;
    if (event->site->role == PROF_ROLE_WAIT && (wait = prof__waits_add(all, event, track)) == PROF__NONE) return 0;
    while (t->count <= event->depth) { /* scopes between may lie outside of the window: then they have no name */
        if (!PROF__ROOM(t->scopes, t->capacity, t->count + 1)) return 0;
        scope = &t->scopes[t->count++];
        memset(scope, 0, sizeof *scope);
        scope->name = "";
        scope->end = event->start_ns - 1;
        scope->wait = PROF__NONE;
    }
    scope = &t->scopes[event->depth];
    scope->name = event->name;
    scope->end = event->start_ns + event->duration_ns;
    scope->wait = wait;
    if (event->name != event->site->name && !(scope->text = prof__text_join(event->name, ""))) return 0;
    return 1;
}

static int prof__waits_arrow_begins(prof__waits *all, const prof_event *event, size_t track)
{
    uint32_t hash = (uint32_t)prof__mix(event->object);
    size_t item = PROF__NEW(all->arrow_index, hash, all->arrows, all->arrow_capacity, all->arrow_count);
    prof__waits_arrow *arrow;
    if (item == PROF__NONE) return 0;
    arrow = &all->arrows[item];
    arrow->id = event->object;
    arrow->track = track;
    arrow->ns = event->start_ns;
    arrow->scope = prof__waits_name_at(all, track, event->start_ns);
    return arrow->scope != NULL;
}

static void prof__waits_arrow_ends(prof__waits *all, const prof_event *event, size_t track)
{
    const prof__waits_track *t = &all->tracks[track];
    uint64_t id = event->object;
    size_t item = prof__read_find(&all->arrow_index, (uint32_t)prof__mix(id), prof__waits_same_arrow, all->arrows, &id);
    const prof__waits_scope *scope = t->count ? &t->scopes[t->count - 1] : NULL;
    prof_wait *wait;
    if (item == PROF__NONE || !scope || scope->wait >= PROF__WAITS_LOCK) return;
    wait = &all->waits[scope->wait];
    wait->waker_track = all->arrows[item].track;
    wait->waker_scope = all->arrows[item].scope;
    wait->woken_ns = all->arrows[item].ns;
}

/*-- the markup of locks --*/

/* Notes who has a lock that a thread begins to wait for, and that PROFILE_MUTEX_LOCK's scope is that wait. */
static int prof__waits_lock_begins(prof__waits *all, const prof_event *event, size_t track)
{
    const prof__locks *locks = &all->locks;
    const prof__lock_state *lock = &locks->locks[locks->users[locks->done.user].lock];
    prof__waits_track *t = &all->tracks[track];
    prof__waits_scope *scope = t->count ? &t->scopes[t->count - 1] : NULL;
    size_t user = lock->holder;
    prof__waits_holder *holder;
    if (event->detail & 1 && scope && scope->wait == PROF__NONE && !strncmp(scope->name, "wait for ", 9))
        scope->wait = PROF__WAITS_LOCK;
    while (all->holder_count <= locks->done.user)
        if (!PROF__MORE(all->holders, all->holder_capacity, all->holder_count)) return 0;
    holder = &all->holders[locks->done.user];
    holder->track = PROF_NO_TRACK;
    holder->scope = "";
    if (!lock->holders) return 1;
    if (!locks->users[user].depth || locks->users[user].track == track) user = lock->holder_before;
    if (!locks->users[user].depth || locks->users[user].track == track) return 1;
    holder->track = locks->users[user].track;
    holder->scope = prof__waits_name_at(all, holder->track, event->start_ns);
    return holder->scope != NULL;
}

/* Adds the wait for a lock that has ended. If a call of the C library was that wait, gives it the name of the lock. */
static int prof__waits_lock_ends(prof__waits *all, const prof_event *event, size_t track)
{
    const prof__locks *locks = &all->locks;
    const prof_lock_row *row = &locks->rows[locks->locks[locks->users[locks->done.user].lock].row];
    const char *name = strcmp(row->category, "wait") ? row->name : ""; /* that category: no markup named it */
    const prof__waits_holder *holder = &all->holders[locks->done.user];
    size_t last = all->tracks[track].last;
    prof_wait *wait = last ? &all->waits[last - 1] : NULL;
    if (wait && *wait->call && wait->object == event->object && !strcmp(wait->what, "lock") &&
        wait->start_ns + wait->duration_ns >= locks->done.start) {
        wait->name = name;
        return 1;
    }
    if (!(wait = prof__waits_more(all, track))) return 0;
    wait->what = "lock";
    wait->name = name;
    wait->object = event->object;
    wait->start_ns = locks->done.start;
    wait->duration_ns = event->start_ns - locks->done.start;
    wait->holder_track = holder->track;
    wait->holder_scope = holder->scope;
    if (holder->track != PROF_NO_TRACK) wait->holder = prof_trace_track(all->trace, holder->track)->thread_id;
    wait->scope = prof__waits_name_at(all, track, wait->start_ns);
    return wait->scope != NULL;
}

static int prof__waits_lock(prof__waits *all, const prof_event *event, size_t track)
{
    if (!prof__locks_step(&all->locks, event, track)) return 0;
    if (event->type == PROF_EVENT_LOCK_WAIT) return prof__waits_lock_begins(all, event, track);
    return all->locks.done.part != PROF__LOCK_WAITED || !all->locks.done.contended ||
           prof__waits_lock_ends(all, event, track);
}

/* Adds the page faults before a time. Returns 0 without memory. */
static int prof__waits_faults(prof__waits *all, int64_t until)
{
    const prof_trace *trace = all->trace;
    for (; all->fault < trace->fault_count && trace->faults[all->fault].ns < until; all->fault++) {
        const prof__read_fault *fault = &trace->faults[all->fault];
        size_t track = prof__waits_track_of(all, fault->thread, fault->ns);
        int64_t start = fault->ns, end = fault->ns;
        prof_wait *wait;
        if (track == PROF_NO_TRACK) continue;
        prof__fault_wait(trace, track, fault->ns, all->tracks[track].faulted, &start, &end);
        all->tracks[track].faulted = fault->ns;
        if (start < trace->info.from_ns || (trace->info.to_ns && end > trace->info.to_ns)) continue;
        if (!(wait = prof__waits_more(all, track))) return 0;
        wait->call = "page fault";
        wait->what = "page";
        wait->name = trace->names[fault->file];
        wait->object = fault->address;
        wait->start_ns = start;
        wait->duration_ns = end - start;
        wait->scope = prof__waits_name_at(all, track, start);
        if (!wait->scope) return 0;
    }
    return 1;
}

static int prof__waits_step(prof__waits *all, const prof_event *event, size_t track)
{
    if (!prof__waits_faults(all, event->start_ns)) return 0;
    if (event->type == PROF_EVENT_SCOPE) {
        prof__waits_track *t = &all->tracks[track];
        for (size_t i = event->depth; i < t->count; i++) { /* those at this depth and below have ended */
            free(t->scopes[i].text);
            t->scopes[i].text = NULL;
        }
        return prof__waits_scope_begins(all, event, track);
    }
    if (event->type == PROF_EVENT_LOST || prof__event_group(event->type) == PROF__GROUP_LOCK)
        return prof__waits_lock(all, event, track);
    if (strcmp(event->site->category, "wait")) return 1; /* another flow */
    if (event->type == PROF_EVENT_FLOW_OUT) return prof__waits_arrow_begins(all, event, track);
    if (event->type == PROF_EVENT_FLOW_IN) prof__waits_arrow_ends(all, event, track);
    return 1;
}

static prof_status prof__waits_walk(prof__waits *all)
{
    prof_timeline *timeline = NULL;
    prof_event event;
    size_t track;
    int good = 1;
    prof_status status = prof_timeline_open(all->trace, &timeline), closed;
    while (!status && good && prof_timeline_next(timeline, &event, &track)) good = prof__waits_step(all, &event, track);
    good = good && (status || prof__waits_faults(all, INT64_MAX));
    closed = prof_timeline_close(timeline);
    return status ? status : !good ? prof__no_memory("for the waits") : closed;
}

static int prof__waits_order(const void *a, const void *b)
{
    const prof_wait *x = (const prof_wait *)a, *y = (const prof_wait *)b;
    if (x->start_ns != y->start_ns) return x->start_ns < y->start_ns ? -1 : 1;
    return x->track < y->track ? -1 : x->track > y->track;
}

static prof__waits_block *prof__waits_copy(const prof__waits *all)
{
    size_t size = offsetof(prof__waits_block, waits) + (all->count + 1) * sizeof(prof_wait);
    prof__waits_block *block = (prof__waits_block *)malloc(size);
    if (!block) return NULL;
    if (all->count) memcpy(block->waits, all->waits, all->count * sizeof *all->waits);
    if (all->count) qsort(block->waits, all->count, sizeof *block->waits, prof__waits_order);
    block->texts = all->texts;
    block->text_count = all->text_count;
    return block;
}

static void prof__waits_texts_free(char **texts, size_t count)
{
    while (count--) free(texts[count]);
    free(texts);
}

static void prof__waits_close(prof__waits *all)
{
    for (size_t i = 0; all->tracks && i < all->track_count; i++) {
        for (size_t k = 0; k < all->tracks[i].count; k++) free(all->tracks[i].scopes[k].text);
        free(all->tracks[i].scopes);
    }
    free(all->tracks);
    free(all->waits);
    free(all->arrows);
    free(all->arrow_index.slots);
    free(all->holders);
    prof__locks_close(&all->locks);
}

PROF_DEF prof_status prof_waits(const prof_trace *trace, prof_wait **waits, size_t *count)
{
    PROF__CALM();
    prof__waits all;
    prof__waits_block *block = NULL;
    prof_status status = PROF_OK;
    if (!trace || !waits || !count) return prof__null("prof_waits", "trace, waits or count");
    *waits = NULL;
    *count = 0;
    if (!prof__has_role(trace, PROF_ROLE_WAIT) && !prof__has_role(trace, PROF_ROLE_LOCK) && !trace->fault_count)
        return PROF_OK;
    memset(&all, 0, sizeof all);
    all.trace = trace;
    all.track_count = prof_trace_track_count(trace);
    prof__locks_begin(&all.locks, trace, 1);
    all.tracks = (prof__waits_track *)calloc(all.track_count + 1, sizeof *all.tracks);
    status = all.tracks && !all.locks.status ? prof__waits_walk(&all) : prof__no_memory("for the waits");
    if (!status && all.count && !(block = prof__waits_copy(&all))) status = prof__no_memory("for the waits");
    if (block) {
        *waits = block->waits;
        *count = all.count;
    } else {
        prof__waits_texts_free(all.texts, all.text_count);
    }
    prof__waits_close(&all);
    return status;
}

PROF_DEF void prof_waits_free(prof_wait *waits)
{
    prof__waits_block *block;
    if (!waits) return;
    block = (prof__waits_block *)(void *)((char *)waits - offsetof(prof__waits_block, waits));
    prof__waits_texts_free(block->texts, block->text_count);
    free(block);
}

/*-- OPEN SCOPES ------------------------------------------------------------------------------------ >>open_scopes --*/

typedef struct prof__open {
    prof_open_scope about;
    char *text; /* owned: the name, if it was made at run time; else NULL */
} prof__open;

typedef struct prof__open_list {
    prof__open *items;
    size_t count, capacity;
} prof__open_list;

static void prof__open_list_free(prof__open_list *all)
{
    for (size_t i = 0; i < all->count; i++) free(all->items[i].text);
    free(all->items);
}

/* Keeps a scope that may be open at the end of the recording. Returns 0 without memory. */
static int prof__open_put(prof__open *to, size_t track, const prof_event *event)
{
    free(to->text);
    to->text = event->name == event->site->name ? NULL : prof__text_join(event->name, "");
    to->about.name = event->site->name;
    to->about.site = event->site;
    to->about.track = track;
    to->about.depth = event->depth;
    to->about.start_ns = event->start_ns;
    to->about.duration_ns = event->duration_ns;
    return to->text || event->name == event->site->name;
}

/* Adds the open scopes of a track. At each depth, that is the last scope, if it has no end. */
static prof_status prof__open_track(prof__open_list *all, const prof_trace *trace, size_t track)
{
    size_t first = all->count, open = (size_t)prof_trace_track(trace, track)->open, i;
    prof_cursor *cursor;
    prof_event event;
    int good = 1;
    prof_status status;
    if (!open) return PROF_OK;
    status = prof_cursor_open(trace, track, &cursor);
    if (status != PROF_OK) return status;
    while (good && all->count < first + open) good = PROF__MORE(all->items, all->capacity, all->count) != NULL;
    while (good && prof_cursor_next(cursor, &event))
        if (event.type == PROF_EVENT_SCOPE && event.flags & PROF_TRUNCATED_END && event.depth < open)
            good = prof__open_put(&all->items[first + event.depth], track, &event);
    prof_cursor_close(cursor);
    for (i = first; i < all->count && all->items[i].about.site; i++) { /* the window may lack the scopes further in */
    }
    while (all->count > i) free(all->items[--all->count].text);
    return good ? PROF_OK : prof__no_memory("for the open scopes");
}

/* Allocates one block with the scopes, followed by the names made at run time. Returns NULL without memory. */
static prof_open_scope *prof__open_copy(const prof__open_list *all)
{
    size_t size = (all->count + 1) * sizeof(prof_open_scope), i;
    prof_open_scope *scopes;
    char *text;
    for (i = 0; i < all->count; i++)
        if (all->items[i].text) size += strlen(all->items[i].text) + 1;
    scopes = (prof_open_scope *)malloc(size);
    if (!scopes) return NULL;
    text = (char *)(scopes + all->count + 1);
    for (i = 0; i < all->count; i++) {
        scopes[i] = all->items[i].about;
        if (!all->items[i].text) continue;
        scopes[i].name = strcpy(text, all->items[i].text);
        text += strlen(text) + 1;
    }
    return scopes;
}

PROF_DEF prof_status prof_open_scopes(const prof_trace *trace, prof_open_scope **scopes, size_t *count)
{
    prof__open_list all;
    prof_status status = PROF_OK;
    size_t i;
    if (!trace || !scopes || !count) return prof__null("prof_open_scopes", "trace, scopes or count");
    memset(&all, 0, sizeof all);
    *scopes = NULL;
    for (i = 0; i < prof_trace_track_count(trace) && status == PROF_OK; i++) status = prof__open_track(&all, trace, i);
    if (status == PROF_OK && !(*scopes = prof__open_copy(&all))) status = prof__no_memory("for the open scopes");
    *count = *scopes ? all.count : 0;
    prof__open_list_free(&all);
    return status;
}

PROF_DEF void prof_open_scopes_free(prof_open_scope *scopes)
{
    free(scopes);
}

/*-- HISTOGRAMS ---------------------------------------------------------------------------------------- >>histograms --
   A histogram counts durations in steps. Each step below 128 ns is one nanosecond; above, a power of two has 64 steps.
   So the middle of a step is at most 1/128 off the duration. Memory is taken for those steps alone that have a
   count. */

typedef struct prof__step {
    uint64_t count;
    uint32_t number; /* the number of the step plus 1; 0: a free slot */
} prof__step;

typedef struct prof__histogram {
    prof__step *steps;       /* a hash table; the key is the number */
    size_t capacity, used;   /* capacity: 0 or a power of two */
} prof__histogram;

static uint32_t prof__step_of(uint64_t ns)
{
    unsigned shift = prof__log2(ns | 64) - 6;
    return shift * 64 + (uint32_t)(ns >> shift);
}

/* Returns the duration in the middle of a step. */
static uint64_t prof__step_value(uint32_t step)
{
    unsigned shift;
    if (step < 128) return step;
    shift = (step - 128) / 64 + 1;
    return ((uint64_t)(64 + (step - 128) % 64) << shift) + (((uint64_t)1 << shift) - 1) / 2;
}

/* Returns the range of durations of a step, and its count. */
static prof_bucket prof__step_bucket(const prof__step *step)
{
    uint32_t number = step->number - 1;
    unsigned shift = number < 128 ? 0 : (number - 128) / 64 + 1;
    prof_bucket bucket;
    bucket.from_ns = number < 128 ? number : (uint64_t)(64 + (number - 128) % 64) << shift;
    bucket.to_ns = bucket.from_ns + ((uint64_t)1 << shift);
    if (bucket.to_ns < bucket.from_ns) bucket.to_ns = ~(uint64_t)0;
    bucket.count = step->count;
    return bucket;
}

static prof__step *prof__step_find(const prof__histogram *h, uint32_t step)
{
    size_t at = step & (h->capacity - 1); /* no hash: fewer than 4000 steps exist, mostly adjacent ones */
    while (h->steps[at].number && h->steps[at].number != step + 1) at = (at + 1) & (h->capacity - 1);
    return &h->steps[at];
}

/* Adds to the count of a step, wherever the step is, or adds the step. Returns 0 without memory. */
static PROF__NOINLINE int prof__histogram_any(prof__histogram *h, uint32_t step, uint64_t count)
{
    prof__step *found;
    if (h->used >= h->capacity / 4 * 3) {
        prof__histogram larger;
        size_t i;
        larger.capacity = h->capacity ? h->capacity * 2 : 4;
        larger.used = h->used;
        larger.steps = (prof__step *)calloc(larger.capacity, sizeof *larger.steps);
        if (!larger.steps) return 0;
        for (i = 0; i < h->capacity; i++)
            if (h->steps[i].number) *prof__step_find(&larger, h->steps[i].number - 1) = h->steps[i];
        free(h->steps);
        *h = larger;
    }
    found = prof__step_find(h, step);
    h->used += !found->number;
    found->number = step + 1;
    found->count += count;
    return 1;
}

/* Adds to the count of a step. Fast if the step is in the slot of its hash. Returns 0 without memory. */
static inline int prof__histogram_add(prof__histogram *h, uint32_t step, uint64_t count)
{
    prof__step *found = h->capacity ? &h->steps[step & (h->capacity - 1)] : NULL;
    if (PROF__UNLIKELY(!found || found->number != step + 1)) return prof__histogram_any(h, step, count);
    found->count += count;
    return 1;
}

static int prof__step_order(const void *a, const void *b)
{
    const prof__step *x = (const prof__step *)a, *y = (const prof__step *)b;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* Computes the percentiles. A percentile is the least duration that the given share of all durations does not exceed.
   Sorts the steps. */
static void prof__percentiles(prof__histogram *h, uint64_t total, prof_stat *stat)
{
    static const unsigned thousandths[] = {500, 900, 990, 999};
    uint64_t *to[4], seen = 0;
    size_t i, next = 0;
    to[0] = &stat->p50_ns;
    to[1] = &stat->p90_ns;
    to[2] = &stat->p99_ns;
    to[3] = &stat->p999_ns;
    if (h->capacity) qsort(h->steps, h->capacity, sizeof *h->steps, prof__step_order);
    for (i = 0; i < h->capacity; i++) {
        uint64_t value = h->steps[i].number ? prof__step_value(h->steps[i].number - 1) : 0;
        if (value < stat->min_ns) value = stat->min_ns;
        if (value > stat->max_ns) value = stat->max_ns;
        seen += h->steps[i].count;
        for (; next < 4; next++) { /* seen >= total * share, rounded up; in two parts, so that nothing overflows */
            uint64_t rank = total / 1000 * thousandths[next] + (total % 1000 * thousandths[next] + 999) / 1000;
            if (seen < rank) break;
            *to[next] = value;
        }
    }
}

/*-- ACCUMULATOR -------------------------------------------------------------------------------------- >>accumulator --
   A row has counts, sums, extremes, moments and a histogram. Times are nanoseconds. A follower does not know yet how
   long a tick is: it counts ticks, and prof__stat_row_scale() makes nanoseconds of a copy of the row. */

/* The statistics of one name at one call site. What each scope changes comes first, up to the first fields of stat, and
   lies close together: there may be 100,000 rows. */
typedef struct prof__stat_row {
    uint64_t key; /* of a trace's rows: in place of the name and the parent: see prof__stat_row_find() */
    prof_event_type type; /* SCOPE, FRAME, COUNTER, SPAN_BEGIN */
    uint64_t track;             /* the number of the track of the previous scope or frame, from 1 */
    uint64_t open;              /* scopes: how many calls of this row enclose the present event */
    uint64_t square_low, square_high; /* sum of the squared times, 128 bits, from prof__stat_row_time() */
    prof__histogram histogram;
    prof_stat stat;
    char *text; /* owns stat.name if that was made at run time; else NULL */
    double mean, squares; /* of counters and merged rows: the mean so far, and the sum of squared distances from it */
    uint64_t before_ns;         /* scopes: stat.total_ns when that track began; kept_ns: the time kept of the track */
    double kept_ns;
    double low, high, last;     /* counters: the least, greatest and last value */
    double rate_squares;        /* throughputs: sum of the squared distances from the mean rate */
    int64_t to;                 /* counters: the time of the last value */
    size_t child, sibling, place; /* by path: links of the tree; used while rows are sorted */
} prof__stat_row;

/*-- one more --*/

static void prof__stat_row_moments(prof__stat_row *row, double value, uint64_t count)
{
    double distance = value - row->mean;
    row->mean += distance / (double)count;
    row->squares += distance * (value - row->mean);
}

/* Keeps the value of a counter if it is the latest so far. Samples may come in any order of time. Must be called before
   the sample is counted. */
static void prof__stat_row_last(prof__stat_row *row, double value, int64_t time)
{
    if (row->stat.count && time < row->to) return;
    row->last = value;
    row->to = time;
}

/* Adds one sample of a counter. NaN becomes the lowest or highest value only if all samples are NaN. */
static void prof__stat_row_value(prof__stat_row *row, double value)
{
    if (!row->stat.count++ || prof__less(value, row->low)) row->low = value;
    if (row->stat.count == 1 || prof__greater(value, row->high)) row->high = value;
    prof__stat_row_moments(row, value, row->stat.count);
}

/* Adds the bytes and the rate of one PROFILE_THROUGHPUT. */
static void prof__stat_row_bytes(prof__stat_row *row, uint64_t bytes, double ns)
{
    prof_stat *stat = &row->stat;
    double rate = ns > 0 ? (double)bytes * 1000 / ns : 0, distance = rate - stat->mean_rate;
    stat->bytes = stat->bytes + bytes < bytes ? ~(uint64_t)0 : stat->bytes + bytes;
    if (!(ns > 0)) return;
    if (!stat->rates++ || rate < stat->min_rate) stat->min_rate = rate;
    if (stat->rates == 1 || rate > stat->max_rate) stat->max_rate = rate;
    stat->mean_rate += distance / (double)stat->rates;
    row->rate_squares += distance * (rate - stat->mean_rate);
}

/* Adds the time of a call, which is `ns` in nanoseconds; `time` is the same, or in ticks. The caller has counted the
   call in stat.count. Without memory for a step, the time is missing from the percentiles, and the function returns
   0. */
static PROF__NOINLINE int prof__stat_row_time(prof__stat_row *row, uint64_t time, uint64_t ns)
{
    prof_stat *stat = &row->stat;
    uint64_t high, low = prof__product_of(time, time, &high);
    if (PROF__UNLIKELY(time < stat->min_ns || time > stat->max_ns)) {
        if (time < stat->min_ns || stat->count - stat->truncated == 1) stat->min_ns = time;
        if (time > stat->max_ns) stat->max_ns = time;
    }
    stat->sum_ns = stat->sum_ns + time < time ? ~(uint64_t)0 : stat->sum_ns + time;
    row->square_low += low;
    row->square_high += high + (row->square_low < low);
    return prof__histogram_add(&row->histogram, prof__step_of(ns), 1);
}

/* Adds the self time of a call. */
static inline void prof__stat_row_alone(prof__stat_row *row, int64_t alone)
{
    if (alone > 0) row->stat.self_ns += (uint64_t)alone;
}

/* The tasks of one thread that have ended, while no task that encloses them has. The latest is the last item. */
#define PROF__NESTED 16
typedef struct prof__nested {
    int64_t start[PROF__NESTED];
    uint64_t ticks[PROF__NESTED];
    size_t count;
} prof__nested;

/* Adds a task that ends. Returns its time without the tasks inside it. Only PROF__NESTED tasks are kept: if there are
   more, the oldest two become one. A task that begins between the two gets a time that includes the older one. */
static uint64_t prof__nested_add(prof__nested *all, int64_t start, uint64_t ticks)
{
    uint64_t inside = 0;
    size_t i;
    while (all->count && all->start[all->count - 1] >= start) inside += all->ticks[--all->count];
    if (all->count == PROF__NESTED) {
        all->ticks[0] += all->ticks[1];
        for (i = 2; i < PROF__NESTED; i++) {
            all->start[i - 1] = all->start[i];
            all->ticks[i - 1] = all->ticks[i];
        }
        all->count--;
    }
    all->start[all->count] = start;
    all->ticks[all->count++] = ticks;
    return ticks - inside;
}

/* Adds to the row's share of the covered time what the present track contributes. */
static void prof__stat_row_share(prof__stat_row *row)
{
    if (row->kept_ns > 0) row->stat.share += prof__real(row->stat.total_ns - row->before_ns) / row->kept_ns;
    row->before_ns = row->stat.total_ns;
}

/*-- two rows --*/

/* Adds `count` values to `had` values. Of the added ones, `mean` is the mean and `squares` the sum of the squared
   distances from it; *to and *to_squares are those of the others, and then of all. */
static void prof__stat_row_join(double *to, double *to_squares, uint64_t had, double mean, double squares,
                                uint64_t count)
{
    double distance = mean - *to, all = (double)had + (double)count;
    if (!count) return;
    *to += distance * (double)count / all;
    *to_squares += squares + distance * distance * (double)had * (double)count / all;
}

static uint64_t prof__stat_row_sum(uint64_t a, uint64_t b) { return a + b < a ? ~(uint64_t)0 : a + b; }

/* Adds the rates of scopes that move bytes. */
static void prof__stat_row_add_rates(prof__stat_row *to, const prof__stat_row *from)
{
    prof_stat *stat = &to->stat;
    stat->bytes = prof__stat_row_sum(stat->bytes, from->stat.bytes);
    if (!from->stat.rates) return;
    if (!stat->rates || from->stat.min_rate < stat->min_rate) stat->min_rate = from->stat.min_rate;
    if (!stat->rates || from->stat.max_rate > stat->max_rate) stat->max_rate = from->stat.max_rate;
    prof__stat_row_join(&stat->mean_rate, &to->rate_squares, stat->rates, from->stat.mean_rate, from->rate_squares,
                        from->stat.rates);
    stat->rates += from->stat.rates;
}

/* Adds the times of a scope, span or frame. Returns 0 without memory. */
static int prof__stat_row_add_times(prof__stat_row *to, const prof__stat_row *from)
{
    uint64_t had = to->stat.count - to->stat.truncated, more = from->stat.count - from->stat.truncated;
    const prof__histogram *h = &from->histogram;
    size_t i;
    if (more && (!had || from->stat.min_ns < to->stat.min_ns)) to->stat.min_ns = from->stat.min_ns;
    if (more && from->stat.max_ns > to->stat.max_ns) to->stat.max_ns = from->stat.max_ns;
    prof__stat_row_join(&to->mean, &to->squares, had, from->mean, from->squares, more);
    to->stat.count += from->stat.count;
    to->stat.truncated += from->stat.truncated;
    to->stat.sum_ns = prof__stat_row_sum(to->stat.sum_ns, from->stat.sum_ns);
    to->stat.total_ns = prof__stat_row_sum(to->stat.total_ns, from->stat.total_ns);
    to->stat.self_ns = prof__stat_row_sum(to->stat.self_ns, from->stat.self_ns);
    to->stat.running_ns = prof__stat_row_sum(to->stat.running_ns, from->stat.running_ns);
    to->stat.ready_ns = prof__stat_row_sum(to->stat.ready_ns, from->stat.ready_ns);
    to->stat.waiting_ns = prof__stat_row_sum(to->stat.waiting_ns, from->stat.waiting_ns);
    to->stat.switches += from->stat.switches;
    to->stat.migrations += from->stat.migrations;
    prof__stat_row_add_rates(to, from);
    for (i = 0; i < h->capacity; i++)
        if (h->steps[i].number && !prof__histogram_add(&to->histogram, h->steps[i].number - 1, h->steps[i].count))
            return 0;
    return 1;
}

static void prof__stat_row_add_values(prof__stat_row *to, const prof__stat_row *from)
{
    prof__stat_row_last(to, from->last, from->to);
    if (!to->stat.count || prof__less(from->low, to->low)) to->low = from->low;
    if (!to->stat.count || prof__greater(from->high, to->high)) to->high = from->high;
    prof__stat_row_join(&to->mean, &to->squares, to->stat.count, from->mean, from->squares, from->stat.count);
    to->stat.count += from->stat.count;
}

/* Adds `from` to a row of the same type. The caller has called prof__stat_row_finish() for `from`, and calls it for
   `to` afterwards. Returns 0 without memory. */
static int prof__stat_row_add(prof__stat_row *to, const prof__stat_row *from)
{
    if (from->type != PROF_EVENT_COUNTER) return prof__stat_row_add_times(to, from);
    prof__stat_row_add_values(to, from);
    return 1;
}

/* Counts the times of a row by powers of two: powers[0] is for 0 ns, [1] for 1 ns, [2] for 2 and 3 ns, and so on. */
static void prof__stat_row_powers(const prof__stat_row *row, uint64_t powers[65])
{
    const prof__histogram *h = &row->histogram;
    size_t i;
    memset(powers, 0, 65 * sizeof *powers);
    for (i = 0; i < h->capacity; i++) {
        prof_bucket bucket;
        if (!h->steps[i].number) continue;
        bucket = prof__step_bucket(&h->steps[i]);
        powers[bucket.from_ns ? prof__log2(bucket.from_ns) + 1 : 0] += bucket.count;
    }
}

/*-- the end --*/

/* Computes the square root by Newton's method, so that users need not link libm. */
static double prof__square_root(double value)
{
    double root = value > 1 ? value : 1;
    int i;
    if (!prof__finite(value)) return value;
    if (!(value > 0)) return 0;
    for (i = 0; i < 1100; i++) {
        double next = (root + value / root) / 2;
        if (!(next < root)) break;
        root = next;
    }
    return root;
}

/* Sets the mean and the sum of squared distances from the mean, out of the exact sums of times and of squared times.
   The distances are exact, too: they are taken from m, the mean rounded down: sum(x * x) - m * sum(x) - m * (sum(x) - n
   * m). */
static void prof__stat_row_distances(prof__stat_row *row, uint64_t count)
{
    uint64_t mean = row->stat.sum_ns / count, rest = row->stat.sum_ns % count, parts[2], high, low;
    size_t i;
    parts[0] = row->stat.sum_ns;
    parts[1] = rest;
    for (i = 0; i < 2; i++) {
        low = prof__product_of(mean, parts[i], &high);
        row->square_high -= high + (row->square_low < low);
        row->square_low -= low;
    }
    row->squares = prof__real(row->square_high) * 18446744073709551616.0 + prof__real(row->square_low) -
                   prof__real(rest) * (prof__real(rest) / prof__real(count));
    row->mean = prof__real(row->stat.sum_ns) / prof__real(count);
    row->square_low = row->square_high = 0;
}

static uint64_t prof__ticks_ns(uint64_t ticks, double ns_per_tick)
{
    double ns = (double)ticks * ns_per_tick;
    return ns < 9e18 ? (uint64_t)(ns + 0.5) : (uint64_t)9000000000000000000u;
}

/* Makes nanoseconds of times that were counted in ticks. prof__stat_row_finish() comes next. */
static void prof__stat_row_scale(prof__stat_row *row, double ns_per_tick)
{
    prof_stat *stat = &row->stat;
    uint64_t count = stat->count - stat->truncated;
    if (count) prof__stat_row_distances(row, count);
    row->mean *= ns_per_tick;
    row->squares *= ns_per_tick * ns_per_tick;
    stat->sum_ns = prof__ticks_ns(stat->sum_ns, ns_per_tick);
    stat->self_ns = prof__ticks_ns(stat->self_ns, ns_per_tick);
    stat->total_ns = prof__ticks_ns(stat->total_ns, ns_per_tick);
    stat->min_ns = prof__ticks_ns(stat->min_ns, ns_per_tick);
    stat->max_ns = prof__ticks_ns(stat->max_ns, ns_per_tick);
}

/* Computes what follows from the sums: mean, deviation, percentiles, share. */
static void prof__stat_row_finish(prof__stat_row *row)
{
    prof_stat *stat = &row->stat;
    uint64_t count = stat->count - stat->truncated;
    if (row->type == PROF_EVENT_SCOPE) prof__stat_row_share(row);
    else stat->total_ns = stat->sum_ns;
    if (row->type == PROF_EVENT_SCOPE || row->type == PROF_EVENT_FRAME)
        stat->unknown_ns = stat->total_ns - stat->running_ns - stat->ready_ns - stat->waiting_ns;
    if (!count) return;
    if (stat->rates) stat->deviation_rate = prof__square_root(row->rate_squares / prof__real(stat->rates));
    prof__percentiles(&row->histogram, count, stat);
    if (row->square_low | row->square_high) prof__stat_row_distances(row, count);
    stat->mean_ns = prof__real(stat->sum_ns) / prof__real(count);
    stat->deviation_ns = prof__square_root(row->squares / prof__real(count));
}

/* Begins anew: only the type stays. */
static void prof__stat_row_reset(prof__stat_row *row)
{
    prof_event_type type = row->type;
    free(row->histogram.steps);
    memset(row, 0, sizeof *row);
    row->type = type;
}

/*-- spans --*/

/* The most ends whose begin may still come at the same time; each begin of that time is compared with all of them. */
#define PROF__LATE_MAX 1024

/* The begin or the end of a span. */
typedef struct prof__span_half {
    const char *name;  /* the call site's name, or text */
    char *text;        /* owned: a run-time name */
    prof_arg *copy;    /* owned: a copy of args, because the cursor moves on */
    const prof_arg *args;
    uint32_t arg_count;
    const prof_callsite *site;
    uint64_t id, detail, serial;
    int64_t ns;
    size_t track;
    uint32_t hash;
    size_t next;         /* the next older open begin of the same bucket, or the next free entry; PROF__NONE: none */
    size_t newer, older; /* open begins in order of time */
} prof__span_half;

struct prof_spans {
    const prof_trace *trace;
    prof_timeline *timeline; /* NULL: the trace has no spans */
    prof__span_half *halves; /* begins whose end has not come yet, and free entries */
    size_t count, capacity, free, newest, oldest, open;
    size_t *buckets, bucket_count; /* a power of two, or 0 */
    /* Ends without a begin, all of one time; another track may still have their begins at that time. */
    prof__span_half *late;
    size_t late_count, late_capacity, late_given;
    prof_event event; /* an event that was read and not handled yet */
    size_t track;
    int held;
    char *text; /* name and arguments of the span that was returned last, and the arguments of its begin and its end */
    prof_arg *args, *begin_args, *end_args;
    size_t arg_capacity;
    int64_t first_ns, from_ns, to_ns;
    prof_status status;
};

/* Opens an iterator over the spans of a trace. */
static prof_status prof__spans_make(const prof_trace *trace, prof_spans **spans)
{
    prof_spans *s;
    prof_status status = PROF_OK;
    size_t i;
    if (!trace || !spans) return prof__null("prof_spans_open", "trace or spans");
    *spans = NULL;
    s = (prof_spans *)calloc(1, sizeof *s);
    if (!s) return prof__no_memory("to read spans");
    s->trace = trace;
    s->free = s->newest = s->oldest = PROF__NONE;
    s->from_ns = trace->info.from_ns;
    s->to_ns = trace->info.to_ns ? trace->info.to_ns : INT64_MAX;
    for (i = 0; i < trace->track_count; i++)
        if (!i || trace->tracks[i].about.first_ns < s->first_ns) s->first_ns = trace->tracks[i].about.first_ns;
    if (trace->has_spans) status = prof_timeline_open(trace, &s->timeline);
    if (status != PROF_OK) {
        free(s);
        return status;
    }
    /* Reads outside the window, too, because spans may begin before it and end after it. */
    if (s->timeline) s->timeline->whole = 1;
    *spans = s;
    return PROF_OK;
}

PROF_DEF prof_status prof_spans_open(const prof_trace *trace, prof_spans **spans)
{
    return prof__spans_make(trace, spans);
}

static void prof__spans_fail(prof_spans *s)
{
    s->status = prof__fail(PROF_NO_MEMORY, "no memory for %lu open spans", (unsigned long)s->open);
}

/* Returns 1 if the call site is a scope's: the span is a scope that overlaps an enclosing one. Only its begin has the
   run-time name. */
static int prof__span_of_scope(const prof_callsite *site) { return site->kind == PROF__KIND_BEGIN; }

/* Returns 1 if this begin and this end can be of one span. */
static int prof__span_same(const prof__span_half *a, const prof__span_half *b)
{
    if (a->hash != b->hash || a->id != b->id) return 0;
    if (prof__span_of_scope(a->site) || prof__span_of_scope(b->site)) return a->site == b->site;
    return a->site->role == b->site->role && !strcmp(a->name, b->name);
}

/* Makes a begin or an end from an event, without copying its name. */
static void prof__span_make(const prof_event *event, size_t track, prof__span_half *half)
{
    memset(half, 0, sizeof *half);
    half->name = event->name;
    half->site = event->site;
    half->id = event->object;
    half->detail = event->detail;
    half->args = event->args;
    half->arg_count = event->arg_count;
    half->serial = event->id;
    half->ns = event->start_ns;
    half->track = track;
    half->hash = prof__text_hash(prof__span_of_scope(event->site) ? event->site->name : event->name) +
                 (uint32_t)prof__mix(event->object + event->site->role);
}

static size_t prof__arg_bytes(const prof_arg *arg)
{
    return strlen(arg->key) + 1 + (arg->value.type == PROF_VALUE_STRING ? strlen(arg->value.as.string) + 1 : 0);
}

/* Copies a text to *to, and moves *to behind it. */
static const char *prof__arg_text(char **to, const char *text)
{
    char *copy = *to;
    size_t size = strlen(text) + 1;
    memcpy(copy, text, size);
    *to += size;
    return copy;
}

/* Copies arguments with their texts into one block of memory. Returns NULL if there is no memory. */
static prof_arg *prof__args_copy(const prof_arg *args, uint32_t count)
{
    size_t size = count * sizeof *args;
    prof_arg *copy;
    char *text;
    uint32_t i;
    for (i = 0; i < count; i++) size += prof__arg_bytes(&args[i]);
    copy = (prof_arg *)malloc(size);
    if (!copy) return NULL;
    text = (char *)(copy + count);
    for (i = 0; i < count; i++) {
        copy[i] = args[i];
        copy[i].key = prof__arg_text(&text, args[i].key);
        if (args[i].value.type != PROF_VALUE_STRING) continue;
        copy[i].value.as.string = prof__arg_text(&text, args[i].value.as.string);
    }
    return copy;
}

static void prof__span_free(prof__span_half *half)
{
    free(half->text);
    free(half->copy);
}

/* Copies the texts and arguments that the cursor owns. If there is no memory, copies nothing and returns 0. */
static int prof__span_keep(prof_spans *s, prof__span_half *half)
{
    if (half->name != half->site->name) half->text = prof__text_join(half->name, "");
    if (half->arg_count) half->copy = prof__args_copy(half->args, half->arg_count);
    if ((half->name != half->site->name && !half->text) || (half->arg_count && !half->copy)) {
        prof__span_free(half);
        half->text = NULL;
        half->args = half->copy = NULL;
        half->arg_count = 0;
        half->name = "";
        prof__spans_fail(s);
        return 0;
    }
    if (half->text) half->name = half->text;
    if (half->copy) half->args = half->copy;
    return 1;
}

/* Returns the index of the newest open begin that this end closes, or PROF__NONE. */
static size_t prof__spans_find(const prof_spans *s, const prof__span_half *end)
{
    size_t at = s->bucket_count ? s->buckets[end->hash & (s->bucket_count - 1)] : PROF__NONE;
    while (at != PROF__NONE && !prof__span_same(&s->halves[at], end)) at = s->halves[at].next;
    return at;
}

static int prof__spans_spread(prof_spans *s)
{
    size_t count = s->bucket_count ? s->bucket_count * 2 : 64, at;
    size_t *buckets = (size_t *)malloc(count * sizeof *buckets);
    if (!buckets) return 0;
    for (at = 0; at < count; at++) buckets[at] = PROF__NONE;
    for (at = s->oldest; at != PROF__NONE; at = s->halves[at].newer) {
        s->halves[at].next = buckets[s->halves[at].hash & (count - 1)];
        buckets[s->halves[at].hash & (count - 1)] = at;
    }
    free(s->buckets);
    s->buckets = buckets;
    s->bucket_count = count;
    return 1;
}

/* Adds a begin to the open ones. */
static void prof__spans_add(prof_spans *s, const prof__span_half *begin)
{
    size_t at = s->free, *bucket;
    if ((s->open >= s->bucket_count && !prof__spans_spread(s)) ||
        (at == PROF__NONE && !PROF__ROOM(s->halves, s->capacity, s->count))) {
        prof__spans_fail(s);
        return;
    }
    if (at == PROF__NONE)
        at = s->count++;
    else
        s->free = s->halves[at].next;
    s->halves[at] = *begin;
    prof__span_keep(s, &s->halves[at]);
    bucket = &s->buckets[begin->hash & (s->bucket_count - 1)];
    s->halves[at].next = *bucket;
    *bucket = at;
    s->halves[at].older = s->newest;
    s->halves[at].newer = PROF__NONE;
    *(s->newest == PROF__NONE ? &s->oldest : &s->halves[s->newest].newer) = at;
    s->newest = at;
    s->open++;
}

/* Removes an open begin from the list and returns it. The caller owns its memory afterwards. */
static prof__span_half prof__spans_remove(prof_spans *s, size_t at)
{
    prof__span_half half = s->halves[at];
    size_t *link = &s->buckets[half.hash & (s->bucket_count - 1)];
    while (*link != at) link = &s->halves[*link].next;
    *link = half.next;
    *(half.newer == PROF__NONE ? &s->newest : &s->halves[half.newer].older) = half.older;
    *(half.older == PROF__NONE ? &s->oldest : &s->halves[half.older].newer) = half.newer;
    s->halves[at].next = s->free;
    s->free = at;
    s->open--;
    return half;
}

/* Joins the arguments of a begin and an end, one of which may be NULL. Takes over their memory. */
static void prof__spans_emit_args(prof_spans *s, const prof__span_half *begin, const prof__span_half *end,
                                  prof_span *span)
{
    uint32_t first = begin ? begin->arg_count : 0, count = first + (end ? end->arg_count : 0);
    free(s->begin_args);
    free(s->end_args);
    s->begin_args = begin ? begin->copy : NULL;
    s->end_args = end ? end->copy : NULL;
    while (s->arg_capacity < count)
        if (!prof__more_room(&s->args, &s->arg_capacity, sizeof *s->args)) {
            prof__spans_fail(s);
            return;
        }
    if (first) memcpy(s->args, begin->args, first * sizeof *s->args);
    if (count > first) memcpy(s->args + first, end->args, (count - first) * sizeof *s->args);
    span->args = s->args;
    span->arg_count = count;
}

/* Makes a span from a begin and an end, one of which may be NULL, and cuts it to the window. Returns 0 if it lies
   outside. Takes over their memory. */
static int prof__spans_emit(prof_spans *s, const prof__span_half *begin, const prof__span_half *end, prof_span *span)
{
    const prof__span_half *known = begin ? begin : end;
    int64_t start = begin ? begin->ns : s->first_ns, stop = end ? end->ns : s->trace->newest_ns;
    if (stop < start) stop = start; /* the window and the last known time may be in any order */
    free(s->text);
    s->text = known->text;
    memset(span, 0, sizeof *span);
    prof__spans_emit_args(s, begin, end, span);
    span->name = known->name;
    span->site = known->site;
    span->id = known->id;
    span->number = known->site->role == PROF_ROLE_FRAME ? known->detail : 0;
    span->serial = known->serial;
    span->begin_track = known->track;
    span->end_track = end ? end->track : known->track;
    if (!begin) span->flags = PROF_TRUNCATED_BEGIN;
    if (!end) span->flags |= PROF_TRUNCATED_END;
    if (start >= s->to_ns || stop < s->from_ns) return 0;
    if (start < s->from_ns) span->flags |= PROF_TRUNCATED_BEGIN;
    if (stop > s->to_ns) span->flags |= PROF_TRUNCATED_END;
    span->start_ns = start < s->from_ns ? s->from_ns : start;
    span->duration_ns = (stop > s->to_ns ? s->to_ns : stop) - span->start_ns;
    return 1;
}

/* Handles an event between the begin and the end of a span. Returns 1 if *span was set, 0 if the event is outside the
   window. */
static int prof__spans_mark(prof_spans *s, const prof__span_half *mark, prof_span *span)
{
    size_t around = prof__spans_find(s, mark);
    if (mark->ns < s->from_ns || mark->ns >= s->to_ns) return 0;
    free(s->text);
    s->text = NULL;
    memset(span, 0, sizeof *span);
    prof__spans_emit_args(s, mark, NULL, span);
    span->name = mark->name;
    span->site = mark->site;
    span->id = mark->id;
    span->mark = 1;
    span->serial = around == PROF__NONE ? 0 : s->halves[around].serial;
    span->start_ns = mark->ns;
    span->begin_track = span->end_track = mark->track;
    return 1;
}

/* Handles a begin. Matches it with an end that came before it at the same time; otherwise adds it to the open begins.
   Returns 1 if *span was set. */
static int prof__spans_begin(prof_spans *s, prof__span_half *begin, prof_span *span)
{
    size_t at = s->late_given;
    prof__span_half end, old;
    while (at < s->late_count && !prof__span_same(&s->late[at], begin)) at++;
    if (at < s->late_count) {
        end = s->late[at];
        memmove(&s->late[at], &s->late[at + 1], (--s->late_count - at) * sizeof end);
        begin->text = end.text;
        if (end.text) begin->name = end.text;
        return prof__spans_emit(s, begin, &end, span);
    }
    at = begin->site->role == PROF_ROLE_FRAME ? prof__spans_find(s, begin) : PROF__NONE;
    if (at == PROF__NONE) {
        prof__spans_add(s, begin);
        return 0;
    }
    old = prof__spans_remove(s, at); /* a frame that was not stopped ends where the next one begins */
    prof__spans_add(s, begin);
    begin->arg_count = 0; /* the arguments belong to the frame that begins */
    at = (size_t)prof__spans_emit(s, &old, begin, span);
    span->flags |= PROF_TRUNCATED_END;
    return (int)at;
}

/* Handles an end. Matches it with an open begin; otherwise keeps it, because its begin may follow at the same time.
   Returns 1 if *span was set. */
static int prof__spans_end(prof_spans *s, prof__span_half *end, prof_span *span)
{
    size_t at = prof__spans_find(s, end);
    if (at != PROF__NONE) {
        prof__span_half begin = prof__spans_remove(s, at);
        return prof__spans_emit(s, &begin, end, span);
    }
    if (!PROF__ROOM(s->late, s->late_capacity, s->late_count))
        prof__spans_fail(s);
    else if (prof__span_keep(s, end) && s->late_count - s->late_given == PROF__LATE_MAX)
        return prof__spans_emit(s, NULL, end, span);
    else if (s->status == PROF_OK)
        s->late[s->late_count++] = *end;
    return 0;
}

static int prof__spans_take(prof_spans *s, prof_span *span)
{
    prof__span_half half;
    prof__span_make(&s->event, s->track, &half);
    if (s->event.type == PROF_EVENT_SPAN_BEGIN) return prof__spans_begin(s, &half, span);
    if (s->event.type == PROF_EVENT_SPAN_END) return prof__spans_end(s, &half, span);
    return prof__spans_mark(s, &half, span);
}

PROF_DEF int prof_spans_next(prof_spans *spans, prof_span *span)
{
    prof_spans *s = spans;
    int given;
    if (!s || !span) return 0;
    while (s->status == PROF_OK) {
        if (!s->held) s->held = prof_timeline_next(s->timeline, &s->event, &s->track);
        if (s->late_count && (!s->held || s->event.start_ns > s->late[0].ns)) {
            given = prof__spans_emit(s, NULL, &s->late[s->late_given++], span);
            if (s->late_given == s->late_count) s->late_given = s->late_count = 0;
        } else if (s->held) {
            s->held = 0;
            given = prof__is_span(s->event.type) && prof__spans_take(s, span);
        } else if (s->oldest != PROF__NONE) {
            prof__span_half begin = prof__spans_remove(s, s->oldest);
            given = prof__spans_emit(s, &begin, NULL, span);
        } else {
            break;
        }
        if (given && s->status == PROF_OK) return 1;
    }
    memset(span, 0, sizeof *span);
    return 0;
}

static prof_status prof__spans_free(prof_spans *spans)
{
    prof_status status, read;
    size_t at;
    if (!spans) return PROF_OK;
    read = prof_timeline_close(spans->timeline);
    status = spans->status == PROF_OK ? read : spans->status;
    for (at = spans->oldest; at != PROF__NONE; at = spans->halves[at].newer) prof__span_free(&spans->halves[at]);
    for (at = spans->late_given; at < spans->late_count; at++) prof__span_free(&spans->late[at]);
    free(spans->text);
    free(spans->begin_args);
    free(spans->end_args);
    free(spans->args);
    free(spans->halves);
    free(spans->buckets);
    free(spans->late);
    free(spans);
    return status;
}

PROF_DEF prof_status prof_spans_close(prof_spans *spans) { return prof__spans_free(spans); }

static prof_status prof__trace_window(prof_trace *trace, int64_t from_ns, int64_t to_ns)
{
    if (!trace) return prof__null("prof_trace_set_window", "trace");
    if (from_ns < 0 || to_ns < 0 || (to_ns && to_ns <= from_ns))
        return prof__fail(PROF_INVALID_ARGUMENT, "prof_trace_set_window: to_ns must be later than from_ns, or 0");
    trace->info.from_ns = from_ns;
    trace->info.to_ns = to_ns;
    return PROF_OK;
}

PROF_DEF prof_status prof_trace_set_window(prof_trace *trace, int64_t from_ns, int64_t to_ns)
{
    return prof__trace_window(trace, from_ns, to_ns);
}

/*-- STATISTICS ---------------------------------------------------------------------------------------- >>statistics --
   The statistics of a trace are made in one pass over all tracks. */

/* A scope that encloses the present event. */
typedef struct prof__enclosing {
    size_t row;
    int64_t end, alone; /* end: its time; alone: its duration without its children, in ns */
    uint32_t depth;     /* the depth of its event; depths in between may be missing */
    int counts;         /* 0: a truncated scope, or one before the window: does not count */
} prof__enclosing;

#define PROF__NEWEST_MESSAGES 5

/* A log message of severity PROF_LOG_ERROR or higher. */
typedef struct prof__message {
    int64_t ns;
    uint64_t severity;
    char text[120];
} prof__message;

/* The statistics of a trace. The arrays are the last fields, so that the offsets of the others fit into one byte of an
   instruction. */
typedef struct prof__stat_rows {
    prof__stat_row *items;
    size_t count, capacity;
    prof__read_index index;
    const prof__read_site *sites; /* the sites of the trace; NULL: by_site is not used */
    uint32_t *by_site;            /* of each site: the number of its scopes' row plus 1; 0: not known yet */
    prof__enclosing *stack;
    size_t depth, stack_capacity;
    prof__nested *nested; /* of each track; NULL before the first task */
    uint64_t begins_missing, ends_missing; /* how many spans lack their begin, and their end */
    prof__uses uses;
    int messages_only;
    int by_path;   /* 1: each call path has a row of its own; 0: each call site */
    uint64_t track;  /* the number of the present track, from 1 */
    double kept_ns;  /* how much of that track's time is kept: see prof__stat_kept() */
    const prof_trace *states; /* the trace, if it has states of threads, else NULL */
    int64_t since;   /* events of the present track that ended by then do not count */
    size_t newest_count;
    uint64_t messages[PROF_LOG_FATAL + 1]; /* counts by severity; a severity not known counts as fatal */
    prof__message newest[PROF__NEWEST_MESSAGES]; /* the latest errors, the newest first */
} prof__stat_rows;

typedef struct prof__stat_row_key {
    uint64_t key; /* stands for the name and the parent, too */
    const prof_callsite *site;
    prof_event_type type;
} prof__stat_row_key;

static int prof__same_stat_row(const void *owner, size_t item, const void *key)
{
    const prof__stat_row *row = (const prof__stat_row *)owner + item;
    const prof__stat_row_key *wanted = (const prof__stat_row_key *)key;
    return row->key == wanted->key && row->type == wanted->type && row->stat.site == wanted->site;
}

/* named: the key of a name that was made at run time; 0: of others. */
static uint64_t prof__stat_row_mix(const prof_callsite *site, size_t parent, uint64_t named)
{
    return prof__mix_key(PROF__ADDRESS(site) + parent * 31, named);
}

/* Returns the number of the row that an event belongs to. Adds the row if it is new. Returns PROF__NONE without memory.
   named: prof__cursor_key(), or 0 if that is not known. */
static PROF__NOINLINE size_t prof__stat_row_find(prof__stat_rows *all, const prof_event *event, uint64_t named)
{
    prof__stat_row_key key;
    prof__stat_row *row;
    /* The scopes of a site with a format, as "job %d", share a row. Without a format, each run-time name has a row. */
    const char *name = event->site->name[0] ? event->site->name : event->name;
    int inside = all->by_path && all->depth && event->type == PROF_EVENT_SCOPE;
    size_t item, parent = inside ? all->stack[all->depth - 1].row : PROF_NO_PARENT;
    uint32_t hash;
    if (name == event->site->name) named = 0;
    else if (!named) named = prof__text_key(name);
    key.key = prof__stat_row_mix(event->site, parent, named);
    key.site = event->site;
    key.type = event->type;
    hash = (uint32_t)key.key;
    item = prof__read_find(&all->index, hash, prof__same_stat_row, all->items, &key);
    if (item != PROF__NONE) return item;
    item = PROF__NEW(all->index, hash, all->items, all->capacity, all->count);
    if (item == PROF__NONE) return item;
    row = &all->items[item];
    row->stat.name = name;
    if (name != event->site->name) { /* copies the text, which the cursor overwrites when it moves */
        row->text = prof__text_join(name, "");
        if (!row->text) return PROF__NONE;
        row->stat.name = row->text;
    }
    row->key = key.key;
    row->stat.site = event->site;
    row->stat.parent = parent;
    row->stat.depth = inside ? all->items[parent].stat.depth + 1 : 0;
    row->type = event->type;
    return item;
}

/* Returns the number of an event's row, as prof__stat_row_find() does. Fast for scopes with the name of their site. */
static inline size_t prof__stat_row_of(prof__stat_rows *all, const prof_event *event, uint64_t named)
{
    uint32_t *known;
    size_t item;
    if (!all->sites || event->type != PROF_EVENT_SCOPE || event->name != event->site->name)
        return prof__stat_row_find(all, event, named);
    known = &all->by_site[(const prof__read_site *)(const void *)event->site - all->sites];
    if (PROF__LIKELY(*known)) return *known - 1;
    item = prof__stat_row_find(all, event, 0);
    if (item < PROF__NONE32 - 1 && event->site->role != PROF_ROLE_THROUGHPUT) *known = (uint32_t)item + 1;
    return item;
}

/* Adds one PROFILE_THROUGHPUT. Its last argument with the key "bytes", or the site's unit, says how much it moved. */
static void prof__stat_row_throughput(prof__stat_row *row, const prof_event *event)
{
    const char *key = *event->site->unit ? event->site->unit : "bytes";
    uint32_t i = event->arg_count;
    while (i && strcmp(event->args[i - 1].key, key)) i--;
    if (i && event->args[i - 1].value.type == PROF_VALUE_UINT)
        prof__stat_row_bytes(row, event->args[i - 1].value.as.u, (double)event->duration_ns);
}

/* Begins a track in a row, when the first scope of the row comes on that track. */
static void prof__stat_row_enter_track(const prof__stat_rows *all, prof__stat_row *row)
{
    prof__stat_row_share(row);
    row->track = all->track;
    row->kept_ns = all->kept_ns;
    row->stat.threads++;
}

/* Counts a call of a scope. Must come before row->open is incremented: total_ns leaves out recursive calls. */
static inline void prof__stat_row_call(const prof__stat_rows *all, prof__stat_row *row, int64_t duration)
{
    if (PROF__UNLIKELY(row->track != all->track)) prof__stat_row_enter_track(all, row);
    row->stat.count++;
    if (!row->open) row->stat.total_ns += (uint64_t)duration;
}

/* Adds what the thread did in a time that counts in total_ns. */
static void prof__stat_row_split(prof__stat_row *row, const prof_split *split)
{
    row->stat.running_ns += split->running_ns;
    row->stat.ready_ns += split->ready_ns;
    row->stat.waiting_ns += split->waiting_ns;
    row->stat.switches += split->switches;
    row->stat.migrations += split->migrations;
}

/* Adds what the thread did in a scope or frame: most have neither states nor arguments. */
static void prof__stat_row_states(const prof__stat_rows *all, prof__stat_row *row, const prof_event *event)
{
    prof_split split;
    if (all->states) {
        prof__event_split(all->states, &all->states->tracks[all->track - 1], event, &split);
    } else {
        if (!event->arg_count || event->flags) return;
        memset(&split, 0, sizeof split);
        split.wall_ns = (uint64_t)event->duration_ns;
        prof__event_timed(event, &split);
    }
    prof__stat_row_split(row, &split);
}

/* Returns 1 if an enclosing scope has ended before a scope that begins now at this depth. The depth alone does not say
   it, because events may be missing. */
static inline int prof__stat_left(const prof__enclosing *scope, uint32_t depth, int64_t now)
{
    return scope->depth >= depth || scope->end < now;
}

static inline void prof__stat_rows_pop(prof__stat_rows *all, const prof__enclosing *scope)
{
    prof__stat_row *row = &all->items[scope->row];
    if (!scope->counts) return;
    row->open--;
    prof__stat_row_alone(row, scope->alone);
}

/* Leaves all open scopes that do not enclose a scope that begins now at this depth. */
static void prof__stat_rows_leave(prof__stat_rows *all, uint32_t depth, int64_t now)
{
    while (all->depth && prof__stat_left(&all->stack[all->depth - 1], depth, now))
        prof__stat_rows_pop(all, &all->stack[--all->depth]);
}

static inline void prof__stat_push(prof__enclosing *scope, size_t item, uint32_t depth, int64_t end, int64_t duration,
                                   int counts)
{
    scope->row = item;
    scope->depth = depth;
    scope->end = end;
    scope->alone = duration;
    scope->counts = counts;
}

/* Enters a scope of this row. Returns 0 without memory. */
static int prof__stat_rows_enter(prof__stat_rows *all, const prof_event *event, size_t item)
{
    int64_t end = event->start_ns + event->duration_ns;
    if (all->depth) all->stack[all->depth - 1].alone -= event->duration_ns;
    if (!PROF__ROOM(all->stack, all->stack_capacity, all->depth)) return 0;
    prof__stat_push(&all->stack[all->depth++], item, event->depth, end, event->duration_ns,
                    !event->flags && end > all->since);
    return 1;
}

static int prof__stat_rows_scope(prof__stat_rows *all, const prof_event *event, size_t item)
{
    prof__stat_row *row = &all->items[item];
    if (!prof__stat_rows_enter(all, event, item)) return 0;
    if (event->start_ns + event->duration_ns <= all->since) return 1;
    if (event->name != event->site->name) ++*(event->site->name[0] ? &all->uses.formats : &all->uses.texts);
    if (event->flags) {
        if (row->track != all->track) prof__stat_row_enter_track(all, row);
        row->stat.count++;
        row->stat.truncated++;
        return 1;
    }
    if (event->site->role == PROF_ROLE_THROUGHPUT) prof__stat_row_throughput(row, event);
    if (!row->open) prof__stat_row_states(all, row, event);
    prof__stat_row_call(all, row, event->duration_ns);
    row->open++;
    return prof__stat_row_time(row, (uint64_t)event->duration_ns, (uint64_t)event->duration_ns);
}

/* The row of an event is found in a table, and has a table of durations. prof__stat_rows_soon() begins to load the
   first of these three this many events before the event is counted, the others half and a quarter as many before. */
#define PROF__STAT_AHEAD 12
#define PROF__STAT_NEAR 256 /* so few rows are in the processor's caches anyway */

/* number: of the row, plus 1; 0: not known. */
static inline void prof__stat_row_soon(const prof__stat_rows *all, size_t number)
{
    const prof__stat_row *row = number ? &all->items[number - 1] : NULL;
    if (!row) return;
    PROF__SOON(&row->key);
    PROF__SOON(&row->stat.site);
    PROF__SOON(&row->stat.sum_ns);
}

static inline void prof__stat_steps_soon(const prof__stat_rows *all, size_t number)
{
    if (number) PROF__SOON(all->items[number - 1].histogram.steps);
}

/* Counts the next events of a track as prof__stat_rows_scope() does, as long as they are plain scopes with a known row.
   Most events are. A scope that encloses no other is not put on the stack. Returns 0 without memory. */
static PROF__NOINLINE int prof__stat_rows_plain(prof__stat_rows *all, prof_cursor *cursor)
{
    const prof__read_node *node = cursor->nodes + cursor->node, *end = cursor->nodes + cursor->node_count, *next;
    prof__enclosing *bottom = all->stack, *top, *full;
    int good = 1, beyond = all->count > PROF__STAT_NEAR;
    if (!all->sites || !bottom || cursor->windowed || all->states) return 1;
    top = bottom + all->depth;
    full = bottom + all->stack_capacity;
    for (; good && node < end && prof__read_plain(node); node = next) {
        size_t known = all->by_site[node->site];
        int64_t duration = node->end_ns - node->start_ns;
        prof__stat_row *row;
        if (!known || node->end_ns <= all->since || top == full) break;
        if (beyond && node + PROF__STAT_AHEAD < end) {
            prof__stat_row_soon(all, all->by_site[node[PROF__STAT_AHEAD].site]);
            prof__stat_steps_soon(all, all->by_site[node[PROF__STAT_AHEAD / 2].site]);
        }
        while (top != bottom && prof__stat_left(top - 1, node->depth, node->start_ns)) prof__stat_rows_pop(all, --top);
        if (top != bottom) top[-1].alone -= duration;
        row = &all->items[known - 1];
        prof__stat_row_call(all, row, duration);
        next = node + 1;
        if (next < end && next->depth <= node->depth && prof__read_plain(next)) {
            prof__stat_row_alone(row, duration);
        } else {
            row->open++;
            prof__stat_push(top++, known - 1, node->depth, node->end_ns, duration, 1);
        }
        good = prof__stat_row_time(row, (uint64_t)duration, (uint64_t)duration);
    }
    all->depth = (size_t)(top - bottom);
    cursor->node = (size_t)(node - cursor->nodes);
    return good;
}

/* Counts a log message, and keeps it if it is one of the latest errors. */
static void prof__stat_rows_message(prof__stat_rows *all, const prof_event *event)
{
    uint64_t severity = event->detail < PROF_LOG_FATAL ? event->detail : (uint64_t)PROF_LOG_FATAL;
    size_t at = all->newest_count, length = strlen(event->value.as.string), most = sizeof all->newest[0].text - 1;
    all->messages[severity]++;
    if (severity < PROF_LOG_ERROR) return;
    while (at && all->newest[at - 1].ns <= event->start_ns) at--;
    if (at == PROF__NEWEST_MESSAGES) return;
    if (all->newest_count < PROF__NEWEST_MESSAGES) all->newest_count++;
    memmove(all->newest + at + 1, all->newest + at, (all->newest_count - at - 1) * sizeof *all->newest);
    if (length > most) length = prof__utf8_cut(event->value.as.string, most);
    all->newest[at].ns = event->start_ns;
    all->newest[at].severity = event->detail;
    memcpy(all->newest[at].text, event->value.as.string, length);
    all->newest[at].text[length] = 0;
}

static void prof__stat_rows_use(prof__uses *uses, const prof_event *event)
{
    uses->values += event->arg_count;
    if (event->type >= PROF_EVENT_SPAN_BEGIN && event->type != PROF_EVENT_LOG)
        uses->objects++;
    else if (event->type != PROF_EVENT_LOST)
        uses->marks++;
}

static int prof__stat_rows_other(prof__stat_rows *all, const prof_event *event, uint64_t named)
{
    size_t item;
    prof__stat_row *row;
    double value;
    if (event->type == PROF_EVENT_LOG) prof__stat_rows_message(all, event);
    if (all->messages_only) return 1;
    if (event->start_ns > all->since) prof__stat_rows_use(&all->uses, event);
    if (event->type != PROF_EVENT_FRAME && event->type != PROF_EVENT_COUNTER) return 1;
    item = prof__stat_row_of(all, event, named);
    if (item == PROF__NONE) return 0;
    row = &all->items[item];
    if (event->type == PROF_EVENT_FRAME) { /* the first boundary of a track begins a frame and ends none */
        int begins = row->track != all->track;
        row->track = all->track;
        if (begins || event->start_ns <= all->since) return 1;
        row->stat.count++;
        prof__stat_row_states(all, row, event);
        return prof__stat_row_time(row, (uint64_t)event->duration_ns, (uint64_t)event->duration_ns);
    }
    if (event->start_ns <= all->since) return 1;
    value = event->value.type == PROF_VALUE_INT    ? (double)event->value.as.i
            : event->value.type == PROF_VALUE_UINT ? prof__real(event->value.as.u) : event->value.as.d;
    prof__stat_row_last(row, value, event->start_ns); /* tracks come one after another, so the times jump back */
    prof__stat_row_value(row, value);
    return 1;
}

static inline int prof__stat_rows_event(prof__stat_rows *all, const prof_event *event, uint64_t named)
{
    size_t item;
    if (event->type != PROF_EVENT_SCOPE || all->messages_only) return prof__stat_rows_other(all, event, named);
    if (event->start_ns > all->since) all->uses.values += (uint64_t)event->arg_count * 2;
    prof__stat_rows_leave(all, event->depth, event->start_ns);
    item = prof__stat_row_of(all, event, named);
    return item != PROF__NONE && prof__stat_rows_scope(all, event, item);
}

static void prof__stat_rows_free(prof__stat_rows *all)
{
    size_t i;
    for (i = 0; i < all->count; i++) {
        free(all->items[i].histogram.steps);
        free(all->items[i].text);
    }
    free(all->items);
    free(all->by_site);
    free(all->index.slots);
    free(all->stack);
    free(all->nested);
}

/* Returns when the trace ends, or its window. */
static int64_t prof__trace_end(const prof_trace_info *info)
{
    return info->to_ns && info->to_ns < info->duration_ns ? info->to_ns : info->duration_ns;
}

/* Returns how many nanoseconds the trace covers, or its window. */
static double prof__trace_span(const prof_trace_info *info)
{
    int64_t end = prof__trace_end(info);
    return end > info->from_ns ? (double)(end - info->from_ns) : 0;
}

/* Returns how many nanoseconds of that time are kept of a track. A ring keeps the time since its last overwritten
   event; other buffers keep all. */
static double prof__stat_kept(const prof_trace *trace, size_t track)
{
    const prof_trace_info *info = prof_trace_about(trace);
    int64_t from = info->from_ns, kept = prof_trace_track(trace, track)->kept_ns, to = prof__trace_end(info);
    if (from < kept) from = kept;
    if (trace->since && from < trace->since[track]) from = trace->since[track];
    return to > from ? (double)(to - from) : 0;
}

/* Returns the hash of the row of the event after `ahead` more, if that has a name made at run time, else 0. */
static inline uint32_t prof__stat_hash_ahead(const prof_cursor *cursor, size_t ahead)
{
    uint64_t named;
    const prof_callsite *site;
    if (!prof__cursor_ahead(cursor, ahead, &site, &named) || site->name[0]) return 0;
    return (uint32_t)prof__stat_row_mix(site, PROF_NO_PARENT, named);
}

static inline void prof__stat_rows_soon(const prof__stat_rows *all, const prof_cursor *cursor)
{
    uint32_t hash = prof__stat_hash_ahead(cursor, PROF__STAT_AHEAD);
    if (hash) prof__read_soon(&all->index, hash);
    hash = prof__stat_hash_ahead(cursor, PROF__STAT_AHEAD / 2);
    if (hash) prof__stat_row_soon(all, prof__read_guess(&all->index, hash) + 1); /* PROF__NONE + 1 is 0 */
    hash = prof__stat_hash_ahead(cursor, PROF__STAT_AHEAD / 4);
    if (hash) prof__stat_steps_soon(all, prof__read_guess(&all->index, hash) + 1);
}

static prof_status prof__stat_rows_track(prof__stat_rows *all, const prof_trace *trace, size_t track)
{
    prof_cursor *cursor;
    prof_event event;
    int good;
    prof_status status = prof_cursor_open(trace, track, &cursor);
    if (status != PROF_OK) return status;
    prof__cursor_keyed(cursor);
    all->since = trace->since ? trace->since[track] : INT64_MIN;
    all->states = trace->state_count ? trace : NULL;
    all->track = track + 1;
    all->kept_ns = prof__stat_kept(trace, track);
    while ((good = prof__stat_rows_plain(all, cursor)) != 0 && prof_cursor_next(cursor, &event) &&
           (good = prof__stat_rows_event(all, &event, prof__cursor_key(cursor))) != 0)
        if (!all->by_path) prof__stat_rows_soon(all, cursor);
    prof__stat_rows_leave(all, 0, 0);
    prof_cursor_close(cursor);
    return good ? PROF_OK : prof__no_memory("for the statistics");
}

/* Sets *ns to the span's time; of a task that begins and ends on one thread, to its time without the tasks inside it.
   Returns 0 without memory. */
static int prof__stat_rows_alone(prof__stat_rows *all, const prof_trace *trace, const prof_span *span, uint64_t *ns)
{
    *ns = (uint64_t)span->duration_ns;
    if (span->mark || span->flags || span->begin_track != span->end_track || span->site->role != PROF_ROLE_TASK)
        return 1;
    if (!all->nested) all->nested = (prof__nested *)calloc(prof_trace_track_count(trace), sizeof *all->nested);
    if (!all->nested) return 0;
    *ns = prof__nested_add(&all->nested[span->end_track], span->start_ns, *ns);
    return 1;
}

/* Adds the time of a scope that may overlap others of its thread. */
static void prof__stat_row_overlap(prof__stat_row *row, const prof_span *span, double kept_ns)
{
    prof__stat_row_share(row);
    row->kept_ns = kept_ns;
    row->stat.total_ns += (uint64_t)span->duration_ns;
    prof__stat_row_share(row);
}

static int prof__stat_rows_span(prof__stat_rows *all, const prof_trace *trace, const prof_span *span, uint64_t alone)
{
    prof_event event;
    prof__stat_row *row;
    size_t item;
    int scope = prof__span_of_scope(span->site), frame = !scope && span->site->role == PROF_ROLE_FRAME;
    memset(&event, 0, sizeof event);
    event.type = scope ? PROF_EVENT_SCOPE : frame ? PROF_EVENT_FRAME : PROF_EVENT_SPAN_BEGIN;
    event.name = span->name;
    event.site = span->site;
    item = prof__stat_row_of(all, &event, 0);
    if (item == PROF__NONE) return 0;
    row = &all->items[item];
    if (span->flags) {
        all->begins_missing += !scope && span->flags & PROF_TRUNCATED_BEGIN ? 1 : 0;
        all->ends_missing += !scope && span->flags & PROF_TRUNCATED_END ? 1 : 0;
        row->stat.count += !frame; /* a frame without its begin or end is not counted */
        row->stat.truncated += !frame;
        return 1;
    }
    row->stat.count++;
    if (scope) prof__stat_row_overlap(row, span, prof__stat_kept(trace, span->end_track));
    all->track = span->end_track + 1;
    if ((scope || frame) && all->states) {
        prof_split split;
        prof__states_split(trace, &trace->tracks[span->end_track], span->start_ns, span->start_ns + span->duration_ns,
                           &split);
        prof__stat_row_split(row, &split);
    }
    if (!frame) row->stat.self_ns += alone;
    return prof__stat_row_time(row, (uint64_t)span->duration_ns, (uint64_t)span->duration_ns);
}

static prof_status prof__stat_rows_spans(prof__stat_rows *all, const prof_trace *trace)
{
    prof_spans *spans;
    prof_span span;
    uint64_t alone;
    int good = 1;
    prof_status status = prof_spans_open(trace, &spans);
    if (status != PROF_OK) return status;
    while (good && prof_spans_next(spans, &span)) {
        int old = trace->since && span.start_ns + span.duration_ns <= trace->since[span.end_track];
        good = prof__stat_rows_alone(all, trace, &span, &alone) &&
               (span.mark || old || prof__stat_rows_span(all, trace, &span, alone));
    }
    status = prof_spans_close(spans);
    return good ? status : prof__no_memory("for the statistics");
}

static void prof__aggregated_free_rows(struct prof__stat_row *rows, size_t count)
{
    for (size_t i = 0; rows && i < count; i++) free(rows[i].histogram.steps);
    free(rows);
}

/* Copies the statistics that a recording in the mode PROF_STATS made itself. Returns 0 without memory. */
static int prof__stat_rows_copy(prof__stat_rows *all, const prof_trace *trace)
{
    all->items = (prof__stat_row *)malloc((trace->aggregated_count + 1) * sizeof *all->items);
    if (!all->items) return 0;
    for (; all->count < trace->aggregated_count; all->count++) {
        const prof__histogram *from = &trace->aggregated[all->count].histogram;
        prof__stat_row *to = &all->items[all->count];
        *to = trace->aggregated[all->count];
        to->stat.parent = PROF_NO_PARENT; /* PROF_STATS counts no call paths */
        to->histogram.steps = NULL;
        if (!from->capacity) continue;
        to->histogram.steps = (prof__step *)malloc(from->capacity * sizeof *from->steps);
        if (!to->histogram.steps) return 0;
        memcpy(to->histogram.steps, from->steps, from->capacity * sizeof *from->steps);
    }
    return 1;
}

/* Returns 1 if the statistics counted while recording answer the request: they have no call paths and no windows. */
static int prof__stat_rows_aggregated(const prof_trace *trace, int by_path)
{
    const prof_trace_info *info = prof_trace_about(trace);
    return trace->aggregated && (info->mode == PROF_STATS || (!by_path && !info->from_ns && !info->to_ns));
}

/* Makes the rows. Recording counts neither log messages nor what devices report, so these are counted from the
   events. */
static prof_status prof__stat_rows_take(prof__stat_rows *all, const prof_trace *trace)
{
    prof_status status = PROF_OK;
    double span = prof__trace_span(prof_trace_about(trace));
    if (!prof__stat_rows_copy(all, trace)) return prof__no_memory("for the statistics");
    all->capacity = trace->aggregated_count + 1;
    for (size_t i = 0; i < prof_trace_track_count(trace) && status == PROF_OK; i++) {
        all->messages_only = !*prof_trace_track(trace, i)->device;
        status = prof__stat_rows_track(all, trace, i);
    }
    for (size_t i = 0; i < all->count; i++) {
        prof_stat *stat = &all->items[i].stat;
        if (i >= trace->aggregated_count)
            prof__stat_row_finish(&all->items[i]);
        else if (all->items[i].type == PROF_EVENT_SCOPE && span > 0)
            stat->share = prof__real(stat->total_ns) / span;
    }
    all->begins_missing = trace->begins_missing;
    all->ends_missing = trace->ends_missing;
    all->uses = trace->uses;
    return status;
}

/* Makes the rows of a trace. The caller calls prof__stat_rows_free() afterwards, after a failure, too. */
static prof_status prof__stat_rows_make(const prof_trace *trace, int by_path, prof__stat_rows *all)
{
    prof_status status = PROF_OK;
    size_t i;
    memset(all, 0, sizeof *all);
    if (prof__stat_rows_aggregated(trace, by_path)) return prof__stat_rows_take(all, trace);
    all->by_path = by_path;
    if (!by_path) all->by_site = (uint32_t *)calloc(trace->site_count, sizeof *all->by_site);
    if (all->by_site) all->sites = trace->sites;
    for (i = 0; i < prof_trace_track_count(trace) && status == PROF_OK; i++)
        status = prof__stat_rows_track(all, trace, i);
    if (status == PROF_OK) status = prof__stat_rows_spans(all, trace);
    for (i = 0; i < all->count; i++) prof__stat_row_finish(&all->items[i]);
    return status;
}

/* A row and the value that it is sorted by. */
typedef struct prof__sorted {
    double key;     /* the least first; rows with equal keys by their names */
    uint64_t begin; /* of the name: eight bytes, which compare as the name does, and seldom leave it to the name */
    const char *name;
    const prof_stat *stat; /* of a row of prof__stat_rows.items */
} prof__sorted;

/* Returns the number of a sorted row, which is its index in items. */
static size_t prof__sorted_number(const prof__stat_rows *all, const prof__sorted *row)
{
    return (size_t)(PROF__ADDRESS(row->stat) - PROF__ADDRESS(&all->items->stat)) / sizeof *all->items;
}

static uint64_t prof__sorted_begin(const char *name)
{
    uint64_t begin = 0;
    unsigned i;
    for (i = 0; i < 8 && name[i]; i++) begin |= (uint64_t)(unsigned char)name[i] << (56 - 8 * i);
    return begin;
}

/* A row is shown soon: begins to load it. Sorted rows are all over memory. */
static inline void prof__sorted_soon(const prof__sorted *rows, size_t i, size_t count)
{
    const prof__sorted *row = &rows[i + 8 < count ? i + 8 : i];
    size_t at;
    PROF__SOON(row->name);
    for (at = 0; at < sizeof *row->stat; at += 64) PROF__SOON((const char *)row->stat + at);
}

static int prof__sorted_order(const void *a, const void *b)
{
    const prof__sorted *x = (const prof__sorted *)a, *y = (const prof__sorted *)b;
    int names;
    if (x->key < y->key || x->key > y->key) return x->key < y->key ? -1 : 1;
    if (x->begin != y->begin) return x->begin < y->begin ? -1 : 1;
    names = strcmp(x->name, y->name);
    if (names) return names;
    return x->stat < y->stat ? -1 : x->stat > y->stat;
}

static double prof__sort_key(const prof_stat *stat, prof_sort sort)
{
    switch ((int)sort) {
    case PROF_SORT_SELF: return prof__real(stat->self_ns);
    case PROF_SORT_CALLS: return prof__real(stat->count);
    case PROF_SORT_MEAN: return stat->mean_ns;
    case PROF_SORT_MIN: return prof__real(stat->min_ns);
    case PROF_SORT_MAX: return prof__real(stat->max_ns);
    case PROF_SORT_P99: return prof__real(stat->p99_ns);
    case PROF_SORT_NAME: return 0; /* all keys equal: rows with equal keys are sorted by name, from A to Z */
    default: return prof__real(stat->total_ns);
    }
}

/* Returns 1 for a row of this type that reports show: those of a running program may have none since a reset. */
static int prof__stat_shown(const prof__stat_rows *all, const prof__stat_row *row, prof_event_type type)
{
    return row->type == type && (row->stat.count || type == PROF_EVENT_FRAME || all->by_path);
}

/* Returns the rows of one type, sorted. The caller frees the array, which has at least one element. Returns NULL
   without memory. */
static prof__sorted *prof__sort(const prof__stat_rows *all, prof_event_type type, prof_sort sort, int ascending,
                                size_t *count)
{
    prof__sorted *sorted = (prof__sorted *)calloc(all->count + 1, sizeof *sorted);
    size_t i;
    *count = 0;
    for (i = 0; sorted && i < all->count; i++) {
        if (!prof__stat_shown(all, &all->items[i], type)) continue;
        sorted[*count].key = prof__sort_key(&all->items[i].stat, sort) * (ascending ? 1 : -1);
        sorted[*count].name = all->items[i].stat.name;
        sorted[*count].begin = prof__sorted_begin(sorted[*count].name);
        sorted[*count].stat = &all->items[i].stat;
        ++*count;
    }
    if (sorted) qsort(sorted, *count, sizeof *sorted, prof__sorted_order);
    return sorted;
}

/* Writes the buckets of a finished histogram, whose steps are sorted, to `to`. Returns the end of the buckets. */
static prof_bucket *prof__buckets(const prof__histogram *h, prof_bucket *to)
{
    for (size_t i = 0; i < h->capacity; i++)
        if (h->steps[i].number) *to++ = prof__step_bucket(&h->steps[i]);
    return to;
}

/* Allocates one block with the rows, then their buckets, then the names made at run time. Returns NULL without
   memory. */
static prof_stat *prof__stats_copy(const prof__stat_rows *all, const prof__sorted *sorted, size_t count)
{
    size_t size = (count + 1) * sizeof(prof_stat), buckets = 0, i;
    prof_stat *stats;
    prof_bucket *bucket;
    char *text;
    for (i = 0; i < count; i++) {
        if (sorted[i].stat->name != sorted[i].stat->site->name) size += strlen(sorted[i].stat->name) + 1;
        buckets += all->items[prof__sorted_number(all, &sorted[i])].histogram.used;
    }
    stats = (prof_stat *)calloc(1, size + buckets * sizeof *bucket);
    if (!stats) return NULL;
    bucket = (prof_bucket *)(void *)(stats + count + 1);
    text = (char *)(bucket + buckets);
    for (i = 0; i < count; i++) {
        stats[i] = *sorted[i].stat;
        stats[i].buckets = bucket;
        bucket = prof__buckets(&all->items[prof__sorted_number(all, &sorted[i])].histogram, bucket);
        stats[i].bucket_count = (size_t)(bucket - stats[i].buckets);
        if (stats[i].name == stats[i].site->name) continue;
        strcpy(text, stats[i].name);
        stats[i].name = text;
        text += strlen(text) + 1;
    }
    return stats;
}

/* Puts sorted rows into the order of the tree of calls. Keeps the first `top` rows (0: all) and their parents; moves
   the others behind them. Returns how many are kept. */
static size_t prof__sort_tree(prof__stat_rows *all, prof__sorted *rows, size_t count, size_t top)
{
    size_t i, at, root = PROF__NONE, kept = 0;
    for (i = 0; i < all->count; i++) all->items[i].child = all->items[i].sibling = all->items[i].place = PROF__NONE;
    for (i = 0; i < (top && top < count ? top : count); i++)
        for (at = prof__sorted_number(all, &rows[i]); at != PROF_NO_PARENT && all->items[at].place;
             at = all->items[at].stat.parent)
            all->items[at].place = 0; /* marks the row as kept */
    for (i = count; i--;) { /* from the last row on, because each is put before its siblings */
        prof__stat_row *row = &all->items[prof__sorted_number(all, &rows[i])];
        size_t *first = row->stat.parent == PROF_NO_PARENT ? &root : &all->items[row->stat.parent].child;
        if (row->place) continue;
        row->sibling = *first;
        *first = prof__sorted_number(all, &rows[i]);
    }
    for (at = root; at != PROF__NONE;) {
        prof__stat_row *row = &all->items[at];
        row->place = kept;
        rows[kept++].stat = &row->stat;
        if (row->child != PROF__NONE) {
            at = row->child;
            continue;
        }
        while (at != PROF_NO_PARENT && all->items[at].sibling == PROF__NONE) at = all->items[at].stat.parent;
        if (at != PROF_NO_PARENT) at = all->items[at].sibling;
    }
    for (i = kept, at = 0; i < count; at++) {
        if (all->items[at].type != PROF_EVENT_SCOPE || all->items[at].place != PROF__NONE) continue;
        rows[i++].stat = &all->items[at].stat;
    }
    return kept;
}

static prof_status prof__stats(const prof_trace *trace, prof_event_type type, int by_path, prof_sort sort,
                               int ascending, prof_stat **stats, size_t *count)
{
    prof__stat_rows all;
    prof__sorted *sorted = NULL;
    prof_status status;
    size_t i;
    if (!trace || !stats || !count)
        return prof__null("prof_stats", "trace, stats or count");
    *stats = NULL;
    *count = 0;
    status = prof__stat_rows_make(trace, by_path, &all);
    if (status == PROF_OK) {
        sorted = prof__sort(&all, type, sort, ascending, count);
        if (sorted && by_path) prof__sort_tree(&all, sorted, *count, 0);
        *stats = sorted ? prof__stats_copy(&all, sorted, *count) : NULL;
        if (!*stats) status = prof__no_memory("for the statistics");
    }
    if (status != PROF_OK) *count = 0;
    for (i = 0; i < *count; i++)
        if ((*stats)[i].parent != PROF_NO_PARENT) (*stats)[i].parent = all.items[(*stats)[i].parent].place;
    free(sorted);
    prof__stat_rows_free(&all);
    return status;
}

PROF_DEF prof_status prof_stats(const prof_trace *trace, prof_sort sort, int ascending, prof_stat **stats,
                                size_t *count)
{
    PROF__CALM();
    return prof__stats(trace, PROF_EVENT_SCOPE, 0, sort, ascending, stats, count);
}

PROF_DEF prof_status prof_span_stats(const prof_trace *trace, prof_sort sort, int ascending, prof_stat **stats,
                                     size_t *count)
{
    PROF__CALM();
    return prof__stats(trace, PROF_EVENT_SPAN_BEGIN, 0, sort, ascending, stats, count);
}

PROF_DEF prof_status prof_stats_by_path(const prof_trace *trace, prof_sort sort, int ascending, prof_stat **stats,
                                        size_t *count)
{
    PROF__CALM();
    return prof__stats(trace, PROF_EVENT_SCOPE, 1, sort, ascending, stats, count);
}

PROF_DEF void prof_stats_free(prof_stat *stats)
{
    free(stats);
}

static const char *const prof__byte_units[] = {"B", "kB", "MB", "GB", "TB", "PB", NULL};

#define PROF__MEASURED_UNIT 24 /* a longer unit is cut to this many bytes */

/* Returns how many nanoseconds a unit of time has. Returns 0 for any other unit. */
static double prof__unit_ns(const char *unit)
{
    static const struct { const char *name; double ns; } units[] = {
        {"ns", 1}, {"us", 1e3}, {"\xc2\xb5s", 1e3}, {"\xce\xbcs", 1e3}, {"ms", 1e6}, {"s", 1e9}};
    size_t i;
    for (i = 0; i < sizeof units / sizeof *units; i++)
        if (!strcmp(unit, units[i].name)) return units[i].ns;
    return 0;
}

/* Writes a value of a counter to `to` (96 bytes). Bytes and times get a suitable unit; other values keep theirs. Only
   the unit that the program gave decides; the counter's name is not interpreted. */
static void prof__measured(char *to, double value, const char *unit)
{
    int bytes = !strcmp(unit, "B") || !strcmp(unit, "byte") || !strcmp(unit, "bytes");
    double scale = bytes ? 1 : prof__unit_ns(unit), scaled = prof__finite(value) ? value * scale : 0;
    double size = scaled < 0 ? -scaled : scaled;
    size_t length = 0;
    if (scale > 0 && prof__finite(value) && size < 1e18 && (size >= 0.1 || !(size > 0))) {
        if (bytes)
            prof__human(to, scaled, prof__byte_units);
        else
            prof__human_ns(to, scaled);
        return;
    }
    to += prof__counter_text(to, value);
    if (!*unit) return;
    *to++ = ' ';
    while (unit[length] && length < PROF__MEASURED_UNIT) length++;
    if (unit[length]) length = prof__utf8_cut(unit, length);
    memcpy(to, unit, length);
    to[length] = 0;
}

/*-- A table has a column of names, columns of numbers, and a note at the end of each row. The caller produces all rows
     twice: in the first pass they are measured, in the second they are written. If a table is too wide for a line, it
     first loses the space between columns, then columns in the order of prof__column.order; then names are cut. --*/

#define PROF__TABLE_COLUMNS 13
#define PROF__TABLE_TIME ((size_t)8) /* characters of 1.234 us: no time below 999 s has more */
#define PROF__TABLE_LEAST ((size_t)40)       /* characters; a table does not become narrower than this */
#define PROF__TABLE_NAME_LEAST ((size_t)24)  /* characters; names stay as wide as this while a column can be left out */

typedef struct prof__column {
    const char *title;
    size_t order; /* when the column is left out: 1: first, 2: next, and so on; 0: never */
    size_t width; /* characters, if the line has space; 0: 14 for the first column, 11 for the others */
} prof__column;

typedef struct prof__table {
    prof__out *out;
    size_t limit; /* characters of a line: from prof__out_columns() */
    const char *title, *note_title;
    const prof__column *columns;
    size_t count;                       /* the number of columns */
    size_t name, max, note;            /* characters: of names, the limit for names, of notes */
    size_t note_order;                  /* when notes are left out, 1 first; 0: never: they get lines of their own */
    size_t rows, at, line;              /* at: the present column; line: characters written of the present note */
    int writing, below;                 /* writing: 1 in the second pass; below: 1: notes are on lines of their own */
    size_t widths[PROF__TABLE_COLUMNS]; /* characters of each column; 0: left out */
    double most[PROF__TABLE_COLUMNS];   /* of numbers that are the longer the larger they are: the largest measured */
} prof__table;

/* Begins a table. The last element of `columns` has the title NULL. note_title is NULL for a table without notes. */
static void prof__table_begin(prof__table *t, prof__out *out, size_t limit, const char *title,
                              const prof__column *columns, const char *note_title, size_t note_order)
{
    memset(t, 0, sizeof *t);
    t->out = out;
    t->limit = limit;
    t->title = title;
    t->columns = columns;
    t->note_title = note_title;
    t->note_order = note_order;
    t->name = prof__characters(title);
    t->max = PROF__NAME_MAX;
    if (note_title) t->note = prof__characters(note_title) + 2;
    for (; columns[t->count].title; t->count++) {
        t->widths[t->count] = prof__characters(columns[t->count].title);
        t->most[t->count] = -1;
    }
}

static void prof__table_row(prof__table *t, const char *name, size_t depth)
{
    if (!*name) name = "(unnamed)"; /* made at run time, and overwritten by the ring with the scope's begin */
    size_t indent = 2 * (depth < PROF__INDENT_MAX ? depth : PROF__INDENT_MAX), length;
    t->at = t->line = 0;
    t->rows++;
    if (!t->writing && depth) t->max = PROF__NAME_MAX + 2 * PROF__INDENT_MAX;
    if (!t->writing && strlen(name) + indent <= t->name) return;
    length = prof__characters(name) + indent;
    if (!t->writing) {
        if (length > t->name) t->name = length;
        return;
    }
    if (length > t->name && indent > t->name / 2) indent = t->name / 2;
    prof__out_spaces(t->out, indent);
    prof__out_name(t->out, name, t->name - indent);
}

/* Adds the next number of the row. */
static void prof__table_text(prof__table *t, const char *text)
{
    size_t length = prof__characters(text), at = t->at++;
    if (!t->writing && length > t->widths[at]) t->widths[at] = length;
    if (t->writing && t->widths[at]) prof__out_right(t->out, text, t->widths[at]);
}

/* Returns 1 if a number is not written, and cannot make its column wider: one as large has been measured. */
static int prof__table_measured(prof__table *t, double value)
{
    if (t->writing || !(value <= t->most[t->at])) {
        if (value > t->most[t->at]) t->most[t->at] = value;
        return 0;
    }
    t->at++;
    return 1;
}

static void prof__table_ns(prof__table *t, double ns)
{
    char text[48];
    if (!t->writing && t->widths[t->at] >= PROF__TABLE_TIME && ns < 999e9) {
        t->at++;
        return;
    }
    prof__human_ns(text, ns);
    prof__table_text(t, text);
}

static void prof__table_time(prof__table *t, uint64_t ns) { prof__table_ns(t, prof__real(ns)); }

static void prof__table_count(prof__table *t, uint64_t count)
{
    char text[32];
    if (count >> 53 == 0 && prof__table_measured(t, (double)count)) return;
    prof__grouped(text, count);
    prof__table_text(t, text);
}

static void prof__table_percent(prof__table *t, double part, double whole)
{
    char text[48] = "-";
    if (whole > 0 && prof__table_measured(t, part / whole)) return;
    if (whole > 0) strcpy(text + prof__fixed(text, part / whole * 100, 1), " %");
    prof__table_text(t, text);
}

static void prof__table_size(prof__table *t, uint64_t bytes)
{
    char text[48];
    prof__human(text, prof__real(bytes), prof__byte_units);
    prof__table_text(t, text);
}

/* Adds a rate in units of 10^6 bytes a second, formatted with a suitable unit. */
static void prof__table_rate(prof__table *t, double rate)
{
    static const char *const units[] = {"B/s", "kB/s", "MB/s", "GB/s", "TB/s", NULL};
    char text[48];
    prof__human(text, rate * 1e6, units);
    prof__table_text(t, text);
}

/* Leaves the rest of the row's columns without numbers. */
static void prof__table_dashes(prof__table *t)
{
    while (t->at < t->count) prof__table_text(t, "-");
}

/* Adds text to the row's note. */
static void prof__table_note(prof__table *t, const char *text)
{
    if (t->writing && t->below && *text && !t->line) prof__out_text(t->out, "\n  ");
    t->line += prof__characters(text);
    if (t->writing && t->note) prof__out_clean(t->out, text);
}

static void prof__table_note_many(prof__table *t, uint64_t count, const char *thing, const char *end)
{
    char text[160];
    prof__grouped(text, count);
    snprintf(text + strlen(text), sizeof text - strlen(text), " %s%s%s", thing, count == 1 ? "" : "s", end);
    prof__table_note(t, text);
}

static void prof__table_end(prof__table *t)
{
    if (t->writing)
        prof__out_text(t->out, "\n");
    else if (t->line > t->note)
        t->note = t->line;
}

static size_t prof__table_width(const prof__table *t)
{
    size_t width = t->note_order ? t->note : 0, i;
    for (i = 0; i < t->count; i++) width += t->widths[i];
    return width;
}

/* Leaves out the columns, or the notes, that are next in order. Returns 0 if none can be left out. */
static int prof__table_leave_out(prof__table *t)
{
    size_t next = t->note ? t->note_order : 0, i;
    for (i = 0; i < t->count; i++)
        if (t->widths[i] && t->columns[i].order && (!next || t->columns[i].order < next)) next = t->columns[i].order;
    for (i = 0; i < t->count; i++)
        if (next && t->columns[i].order == next) t->widths[i] = 0;
    if (t->note_order == next) t->note = 0;
    return next != 0;
}

static void prof__table_fit(prof__table *t)
{
    size_t wide[PROF__TABLE_COLUMNS], all = 0, least, i;
    if (t->name > t->max) t->name = t->max;
    for (i = 0; i < t->count; i++) {
        wide[i] = t->columns[i].width ? t->columns[i].width : i ? 11 : 14;
        if (t->widths[i] >= wide[i]) wide[i] = t->widths[i] + 1; /* two columns never touch */
        all += wide[i];
        t->widths[i] += 2;
    }
    least = prof__table_width(t) + (t->note_order ? 0 : t->note);
    t->below = t->limit && !t->note_order && t->name + least > t->limit;
    if (!t->limit || t->name + all + (t->below ? 0 : t->note) <= t->limit) {
        memcpy(t->widths, wide, sizeof wide);
        return;
    }
    least = t->name < PROF__TABLE_NAME_LEAST ? t->name : PROF__TABLE_NAME_LEAST;
    while (least + prof__table_width(t) > t->limit && prof__table_leave_out(t)) {}
    all = prof__table_width(t);
    least = all + 8 < t->limit ? t->limit - all : 8;
    if (t->name > least) t->name = least;
}

/* Ends a pass. Returns 1 after the first one: the caller then produces all rows again, and they are written. A table
   without rows gets no title. */
static int prof__table_again(prof__table *t)
{
    size_t i;
    if (t->writing || !t->rows) return 0;
    prof__table_fit(t);
    t->writing = 1;
    prof__out_name(t->out, t->title, t->name);
    for (i = 0; i < t->count; i++)
        if (t->widths[i]) prof__out_right(t->out, t->columns[i].title, t->widths[i]);
    if (t->note_title && t->note) {
        prof__out_text(t->out, "  ");
        prof__out_text(t->out, t->note_title);
    }
    prof__out_text(t->out, "\n");
    return 1;
}

/* Writes the call site as file and line, without the folders of the file. */
static void prof__table_place(prof__table *t, const prof_callsite *site)
{
    const char *base = site->file, *c;
    char line[24] = ":";
    if (site->role == PROF_ROLE_DEVICE) { /* the name of a device's event tells more than a line of code */
        prof__table_note(t, "  ");
        prof__table_note(t, site->category);
    }
    if (!*base) return;
    for (c = base; *c; c++)
        if (*c == '/' || *c == '\\') base = c + 1;
    prof__table_note(t, "  ");
    prof__table_note(t, base);
    if (!site->line) return; /* only the symbol is known */
    line[1 + prof__digits(line + 1, site->line)] = 0;
    prof__table_note(t, line);
}

/* The columns of the tables of scopes, spans and frames. The number says when a column is left out: 1 first. */
#define PROF__SUMMARY_TIMES                                                                                     \
    {"mean", 9, 0}, {"min", 2, 0}, {"p50", 5, 0}, {"p90", 3, 0}, {"p99", 8, 0}, {"max", 6, 0}, {"stddev", 1, 0}
#define PROF__SUMMARY_WHERE 4
static void prof__summary_times(prof__table *t, const prof_stat *stat)
{
    prof__table_ns(t, stat->mean_ns);
    prof__table_time(t, stat->min_ns);
    prof__table_time(t, stat->p50_ns);
    prof__table_time(t, stat->p90_ns);
    prof__table_time(t, stat->p99_ns);
    prof__table_time(t, stat->max_ns);
    prof__table_ns(t, stat->deviation_ns);
}

/* Writes how long a scope ran, divided by `calls`: "> " if it may have been longer by more than a hundredth, "-" if
   nothing is known. */
static void prof__summary_running(prof__table *t, const prof_stat *stat, uint64_t calls)
{
    char text[64] = "-", *at = text;
    if (stat->unknown_ns < stat->total_ns) {
        if (stat->unknown_ns > stat->total_ns / 100) *at++ = '>', *at++ = ' ';
        prof__human_ns(at, prof__real(stat->running_ns) / prof__real(calls));
    }
    prof__table_text(t, text);
}

/* Writes the numbers of a scope. threads, running: 1: the table has such a column. */
static void prof__summary_scope(prof__table *t, const prof_stat *stat, int threads, int running)
{
    prof__table_row(t, stat->name, stat->depth);
    prof__table_count(t, stat->count);
    if (stat->count > stat->truncated) {
        prof__table_time(t, stat->total_ns);
        if (running) prof__summary_running(t, stat, 1);
        prof__table_time(t, stat->self_ns);
        prof__table_percent(t, stat->share, 1);
        if (threads) prof__table_count(t, stat->threads);
        prof__summary_times(t, stat);
    } else {
        prof__table_dashes(t);
    }
    prof__table_place(t, stat->site);
    prof__table_end(t);
}

/* Says why a recording has no events. Returns 0 if it has some. */
static int prof__nothing_text(const prof_trace *trace, char *to, size_t size)
{
    const prof_trace_info *info = prof_trace_about(trace);
    char count[32];
    if (info->event_count || info->folded || info->lost) return 0;
    prof__grouped(count, info->taken_back);
    if (info->taken_back)
        snprintf(to, size, "Nothing was recorded. %s scopes were shorter than PROF_MIN_DURATION, and left out: set "
                 "it to 0.", count);
    else
        snprintf(to, size, "Nothing was recorded. No macro ran while the session did, or all that ran was off. Is each "
                 "file compiled without PROF_ENABLE=0? Do PROF_CATEGORIES or PROF_LEVEL turn all off? Was recording "
                 "paused, or did it end before the work began? prof config says more of the settings.");
    return 1;
}

/* Measures the table of scopes. If it has all rows, takes them in the order of memory: sorted ones are all over it. */
static void prof__summary_measure(prof__table *t, const prof__stat_rows *all, const prof__sorted *rows, size_t count,
                                  size_t shown, int threads, int running)
{
    size_t i;
    for (i = 0; shown == count && i < all->count; i++) {
        if (i + 8 < all->count) PROF__SOON(all->items[i + 8].stat.name);
        if (prof__stat_shown(all, &all->items[i], PROF_EVENT_SCOPE))
            prof__summary_scope(t, &all->items[i].stat, threads, running);
    }
    for (i = 0; shown < count && i < shown; i++) prof__summary_scope(t, rows[i].stat, threads, running);
    prof__table_again(t);
}

static void prof__summary_scopes(prof__out *out, const prof_trace *trace, prof__stat_rows *all, prof__sorted *rows,
                                 size_t count, const prof_summary_options *options, size_t limit)
{
    static const size_t sorted[] = {1, 2, 0, 4, 5, 9, 8, 0}; /* by prof_sort: its column, which is never left out */
    static const prof__column threads = {"threads", 7, 0}; /* explains shares of more than 100 % of the run */
    static const prof__column ran = {"running", 12, 0};
    prof__column columns[PROF__TABLE_COLUMNS + 1] = {{"calls", 0, 0},    {"total", 11, 0},    {"self", 10, 0},
                                                     {"% of run", 7, 0}, PROF__SUMMARY_TIMES, {NULL, 0, 0}};
    size_t top = options->top, shown = top && top < count ? top : count, i;
    prof__table t;
    uint64_t truncated = 0;
    int several = 0, above = 0, running = trace->state_count != 0;
    char why[512];
    prof__out_text(out, "\n");
    if (!count) {
        prof__out_text(out, "no scopes\n");
        if (prof__nothing_text(trace, why, sizeof why)) {
            prof__out_text(out, why);
            prof__out_text(out, "\n");
        }
        return;
    }
    if ((size_t)options->sort < sizeof sorted / sizeof *sorted) columns[sorted[options->sort]].order = 0;
    for (i = 0; i < all->count; i++) {
        const prof_stat *stat = &all->items[i].stat;
        if (!prof__stat_shown(all, &all->items[i], PROF_EVENT_SCOPE)) continue;
        truncated += stat->truncated;
        several |= stat->threads > 1;
        above |= stat->share > 1.0005;
        running |= stat->unknown_ns < stat->total_ns;
    }
    if (several) {
        memmove(columns + 5, columns + 4, (PROF__TABLE_COLUMNS - 4) * sizeof *columns);
        columns[4] = threads;
    }
    if (running) {
        memmove(columns + 3, columns + 2, (PROF__TABLE_COLUMNS - 2) * sizeof *columns);
        columns[2] = ran;
    }
    if (all->by_path) shown = prof__sort_tree(all, rows, count, top);
    prof__table_begin(&t, out, limit, all->by_path ? "call path" : "scope", columns, "where", PROF__SUMMARY_WHERE);
    prof__summary_measure(&t, all, rows, count, shown, several, running);
    for (i = 0; i < shown; i++) {
        prof__sorted_soon(rows, i, shown);
        prof__summary_scope(&t, rows[i].stat, several, running);
    }
    prof__out_more(out, count - shown);
    if (above && !several) prof__out_text(out, "more than 100 % of the run: on several threads at once\n");
    prof__out_note(out, truncated, "call", " of unknown begin or end: counted as calls, but in no time\n");
    prof__out_note(out, prof_trace_about(trace)->open, "call", " of these still open\n");
}

/* Adds an amount, or a rate, of what a PROFILE_THROUGHPUT_UNIT moved: "913.4 samples/s". */
static void prof__summary_amount(prof__table *t, double value, const char *unit, const char *per)
{
    char with[PROF__MEASURED_UNIT + 4], text[96];
    const char *const units[] = {with, NULL};
    prof__text_copy(with, PROF__MEASURED_UNIT, unit);
    strcat(with, per);
    prof__human(text, prof__less(value, 1e18) ? value : 1e18, units);
    prof__table_text(t, text);
}

static void prof__summary_rate(prof__table *t, const prof_stat *stat, double rate)
{
    if (*stat->site->unit)
        prof__summary_amount(t, rate * 1e6, stat->site->unit, "/s");
    else
        prof__table_rate(t, rate);
}

static void prof__summary_throughput(prof__out *out, const prof_trace *trace, const prof__sorted *rows, size_t count,
                                     size_t limit)
{
    prof__column columns[] = {{"calls", 0, 0}, {"bytes", 4, 0}, {"mean", 0, 0}, {"min", 2, 0},
                              {"max", 3, 0},   {"stddev", 1, 0}, {NULL, 0, 0}};
    size_t i, shown = 0;
    prof__table t;
    if (!prof__has_role(trace, PROF_ROLE_THROUGHPUT)) return;
    for (i = 0; i < count; i++) {
        if (rows[i].stat->site->role != PROF_ROLE_THROUGHPUT) continue;
        if (*rows[i].stat->site->unit) columns[1].title = "moved";
        shown++;
    }
    if (!shown) return;
    prof__out_text(out, "\n");
    prof__table_begin(&t, out, limit, "throughput", columns, NULL, 0);
    do
        for (i = 0; i < count; i++) {
            const prof_stat *stat = rows[i].stat;
            if (stat->site->role != PROF_ROLE_THROUGHPUT) continue;
            prof__table_row(&t, stat->name, 0);
            prof__table_count(&t, stat->count);
            if (*stat->site->unit)
                prof__summary_amount(&t, prof__real(stat->bytes), stat->site->unit, "");
            else
                prof__table_size(&t, stat->bytes);
            prof__summary_rate(&t, stat, stat->mean_rate);
            prof__summary_rate(&t, stat, stat->min_rate);
            prof__summary_rate(&t, stat, stat->max_rate);
            prof__summary_rate(&t, stat, stat->deviation_rate);
            prof__table_end(&t);
        }
    while (prof__table_again(&t));
}

/* Writes the number of log messages of each severity, and the latest errors. */
static void prof__summary_messages(prof__out *out, const prof__stat_rows *all)
{
    size_t i = PROF_LOG_FATAL + 1, shown = 0;
    while (i-- > 0) {
        if (!all->messages[i]) continue;
        prof__out_text(out, shown++ ? ", " : "\nmessages  ");
        prof__out_count(out, all->messages[i], 0);
        prof__out_text(out, " ");
        prof__out_text(out, prof__severity_text(i));
    }
    if (shown) prof__out_text(out, "\n");
    for (i = all->newest_count; i-- > 0;) {
        prof__out_text(out, "  ");
        prof__out_ns(out, (double)all->newest[i].ns, 0);
        prof__out_text(out, " ");
        prof__out_text(out, prof__severity_text(all->newest[i].severity));
        prof__out_text(out, ": ");
        prof__out_clean(out, all->newest[i].text);
        prof__out_text(out, "\n");
    }
}

static void prof__summary_span_row(prof__table *t, const prof_stat *stat)
{
    prof__table_row(t, stat->name, 0);
    prof__table_count(t, stat->count);
    if (stat->count > stat->truncated) {
        prof__table_time(t, stat->total_ns);
        prof__summary_times(t, stat);
    } else {
        prof__table_dashes(t);
    }
    prof__table_place(t, stat->site);
    prof__table_end(t);
}

static void prof__summary_spans(prof__out *out, const prof__stat_rows *all, const prof__sorted *rows, size_t count,
                                size_t limit)
{
    static const prof__column columns[] = {{"spans", 0, 0}, {"total", 11, 0}, PROF__SUMMARY_TIMES, {NULL, 0, 0}};
    prof__table t;
    size_t i;
    if (count) prof__out_text(out, "\n");
    prof__table_begin(&t, out, limit, "span", columns, "where", PROF__SUMMARY_WHERE);
    do
        for (i = 0; i < count; i++) prof__summary_span_row(&t, rows[i].stat);
    while (prof__table_again(&t));
    prof__out_note(out, all->begins_missing, "span", " ended, but with no begin: counted, but in no time\n");
    prof__out_note(out, all->ends_missing, "span", " began, but with no end: counted, but in no time\n");
}

static void prof__summary_frame(prof__table *t, const prof_stat *stat, int running)
{
    char rate[48] = "-", low[48] = "-";
    /* Both rates count the time within frames alone. Frames of prof_frame_create() may leave gaps, and gaps belong to
       no frame. low: the rate that 99 % of the frames reach, unless the mean is lower, which a single slow frame can
       make it. */
    double mean = stat->mean_ns, slow = prof__real(stat->p99_ns);
    if (slow < mean) slow = mean;
    if (mean > 0) prof__human_hz(rate, 1e9 / mean);
    if (slow > 0) prof__human_hz(low, 1e9 / slow);
    prof__table_row(t, stat->name, 0);
    prof__table_count(t, stat->count);
    if (stat->count) {
        prof__table_text(t, rate);
        prof__table_text(t, low);
        if (running) prof__summary_running(t, stat, stat->count);
        prof__summary_times(t, stat);
    } else {
        prof__table_dashes(t); /* there is one boundary, and so no complete frame */
    }
    prof__table_end(t);
}

static void prof__summary_frames(prof__out *out, const prof__sorted *rows, size_t count, size_t limit)
{
    /* running: of a frame, on average */
    static const prof__column columns[] = {{"frames", 0, 0},    {"rate", 12, 0},     {"1 % low", 11, 0},
                                           {"running", 10, 0},  PROF__SUMMARY_TIMES, {NULL, 0, 0}};
    static const prof__column plain[] = {{"frames", 0, 0}, {"rate", 12, 0},     {"1 % low", 11, 0},
                                         PROF__SUMMARY_TIMES, {NULL, 0, 0}};
    prof__table t;
    int running = 0;
    size_t i;
    if (!count) return;
    for (i = 0; i < count; i++) running |= rows[i].stat->unknown_ns < rows[i].stat->total_ns;
    prof__out_text(out, "\n");
    prof__table_begin(&t, out, limit, "frame", running ? columns : plain, NULL, 0);
    do
        for (i = 0; i < count; i++) prof__summary_frame(&t, rows[i].stat, running);
    while (prof__table_again(&t));
}

static void prof__summary_counters(prof__out *out, const prof__stat_rows *all, const prof__sorted *rows, size_t count,
                                   size_t limit)
{
    prof__column columns[] = {{"samples", 1, 0}, {"min", 3, 14}, {"mean", 2, 14}, {"max", 4, 14}, {"last", 0, 14},
                              {NULL, 0, 0}};
    prof__table t;
    size_t i, j;
    char text[96];
    if (!count) return;
    for (i = 0; i < count; i++) {
        const prof__stat_row *row = &all->items[prof__sorted_number(all, &rows[i])];
        const double values[] = {row->low, row->mean, row->high, row->last};
        for (j = 0; j < 4; j++) {
            size_t length;
            prof__measured(text, values[j], row->stat.site->unit);
            length = prof__characters(text);
            if (length >= columns[1].width) columns[1].width = length + 1;
        }
    }
    for (j = 2; j <= 4; j++) columns[j].width = columns[1].width; /* all are as wide as the widest */
    prof__out_text(out, "\n");
    prof__table_begin(&t, out, limit, "counter", columns, NULL, 0);
    do
        for (i = 0; i < count; i++) {
            const prof__stat_row *row = &all->items[prof__sorted_number(all, &rows[i])];
            const double values[] = {row->low, row->mean, row->high, row->last};
            prof__table_row(&t, row->stat.name, 0);
            prof__table_count(&t, row->stat.count);
            for (j = 0; j < 4; j++) {
                prof__measured(text, values[j], row->stat.site->unit);
                prof__table_text(&t, text);
            }
            prof__table_end(&t);
        }
    while (prof__table_again(&t));
}

/* Writes the row of the device whose first track has the index `first`. Returns how many tracks the device has. */
static size_t prof__summary_device(prof__table *t, const prof_trace *trace, size_t first)
{
    static const char *const notes[] = {"", "", "",
                                        "  no two pairs of clocks, or one and the rate: times are guesses"};
    const prof_track *track = prof_trace_track(trace, first);
    size_t tracks = prof_trace_track_count(trace), rows = 0;
    uint64_t events = 0, early = 0;
    char rate[48] = "-";
    for (; first + rows < tracks && prof_trace_track(trace, first + rows)->device == track->device; rows++) {
        events += prof_trace_track(trace, first + rows)->event_count;
        early += prof_trace_track(trace, first + rows)->early;
    }
    if (track->device_hz > 0) prof__human_hz(rate, track->device_hz);
    prof__table_row(t, track->device, 0);
    prof__table_count(t, rows);
    prof__table_count(t, events);
    prof__table_text(t, rate);
    prof__table_count(t, track->pairs);
    prof__table_note(t, notes[track->alignment]);
    if (track->pairs_refused) {
        prof__table_note(t, "  ");
        prof__table_note_many(t, track->pairs_refused, "pair", " refused: a clock went backwards");
    }
    if (early) {
        prof__table_note(t, "  ");
        prof__table_note_many(t, early, "event", " from before the session left out");
    }
    prof__table_end(t);
    return rows;
}

/* Writes the table of devices, and how exactly their times match the host's. */
static void prof__summary_devices(prof__out *out, const prof_trace *trace, size_t limit)
{
    static const prof__column columns[] = {{"tracks", 1, 0}, {"events", 0, 0}, {"rate", 3, 0}, {"pairs", 2, 0},
                                           {NULL, 0, 0}};
    size_t tracks = prof_trace_track_count(trace), first = 0, i;
    prof__table t;
    while (first < tracks && !*prof_trace_track(trace, first)->device) first++;
    if (first == tracks) return;
    prof__out_text(out, "\n");
    prof__table_begin(&t, out, limit, "device", columns, NULL, 0);
    do
        for (i = first; i < tracks;) i += prof__summary_device(&t, trace, i);
    while (prof__table_again(&t));
}

/* Writes to `to` (32 bytes) a value for PROF_BUFFER that holds what was recorded and `more` times as much besides: a
   size that is a power of two. Writes "" if that exceeds `max`, or if the buffer is that large already. */
static void prof__buffer_wanted(char *to, const prof_trace *trace, double more, uint64_t max)
{
    static const char units[] = {0, 'K', 'M', 'G'};
    uint64_t had = trace->header.image_size + 2 * (uint64_t)trace->header.chunk_size, wanted = PROF__MIN_BUFFER;
    int unit;
    *to = 0;
    while (wanted <= max && (wanted <= had || prof__real(wanted) < prof__real(trace->header.image_size) * (1 + more)))
        wanted *= 2;
    if (wanted <= had || wanted > max) return;
    for (unit = 0; wanted >= 1024 && unit < 3; unit++) wanted /= 1024;
    snprintf(to, 32, " to %llu%.1s", (unsigned long long)wanted, &units[unit]);
}

/* Returns 1 if a ring may have overwritten events recorded at `from` or later. `from` is in nanoseconds since the
   start. A ring overwrites the oldest events first. So a thread without events may have lost what is older than the
   ends of other threads' events, and no more. */
static int prof__ring_lacks(const prof_trace *trace, int64_t from)
{
    int64_t ended = INT64_MAX;
    uint64_t last = 0, threads = 0;
    size_t i;
    if (!prof_trace_about(trace)->overwritten_chunks) return 0;
    if (from <= 0) return 1;
    for (i = 0; i < prof_trace_track_count(trace); i++) {
        const prof_track *track = prof_trace_track(trace, i);
        if (*track->device) continue;
        if (track->kept_ns > from) return 1;
        if (track->ended && track->last_ns < ended) ended = track->last_ns;
        if (track->id > last) last = track->id;
        threads++;
    }
    return last > threads && ended > from;
}

#define PROF__LOSSES 11

/* Writes to `to` what a kind of loss has removed from the trace, and how to avoid it. Returns 0 if this kind did not
   occur. */
static int prof__loss_text(const prof_trace *trace, int kind, char *to, size_t size)
{
    const prof_trace_info *info = prof_trace_about(trace);
    static const char *const things[] = {"event", "older chunk", "write",    "item",
                                         "name",  "part",        "argument", "event", "event", "event",
                                         "sample"};
    uint64_t chunks = trace->info.chunks;
    uint64_t kept = trace->aggregated ? info->folded : info->event_count;
    uint64_t counts[PROF__LOSSES];
    char count[32], wanted[32];
    double more = 0;
    if (kind <= 2) kind = (kind + 2) % 3; /* failed writes first, because they may be the cause of lost events */
    counts[0] = info->lost - info->lost_busy - info->lost_deep;
    counts[1] = prof__ring_lacks(trace, info->from_ns) ? info->overwritten_chunks : 0;
    counts[2] = info->write_failures;
    counts[3] = info->unmatched;
    counts[4] = info->sites_lost;
    counts[5] = info->lost_blocks;
    counts[6] = info->lost_args;
    counts[7] = info->lost_busy;
    counts[8] = info->lost_deep;
    counts[9] = info->unknown;
    counts[10] = info->samples_lost;
    if (!counts[kind]) return 0;
    if (kind == 4) {
        more = prof__real(info->sites_lost) / (prof__real(trace->site_count) + 1);
    } else {
        if (info->mode != PROF_STREAM && chunks) more = prof__real(info->overwritten_chunks) / prof__real(chunks);
        more += prof__real(counts[0] > counts[6] ? counts[0] : counts[6]) / (prof__real(kept) + 1);
    }
    /* A larger buffer gives names no more space, and for events beyond 1 GiB a file is the better answer. */
    prof__buffer_wanted(wanted, trace, more, kind == 4 ? (uint64_t)128 << 20 : (uint64_t)1 << 30);
    prof__grouped(count, counts[kind]);
    snprintf(to, size, "%s %s%s ", count, things[kind], counts[kind] == 1 ? "" : "s");
    size -= strlen(to);
    to += strlen(to);
    switch (kind) {
    case 0:
    case 6:
    case 7:
        if (kind == 7 || (info->lost_busy && !counts[0])) /* arguments are lost with events, or if the buffer is full */
            snprintf(to, size, "lost in signal handlers or interrupts that came while a macro was at work");
        else if (info->mode == PROF_STREAM && !strcmp(info->write_error, PROF__LIMIT_REACHED))
            snprintf(to, size, "lost because the file has its largest size: enlarge PROF_MAX_FILE_SIZE, or set "
                               "PROF_AT_LIMIT=rotate to keep the newest");
        else if (info->mode == PROF_STREAM && *info->write_error)
            snprintf(to, size, "lost because the file could not be written: see the failed writes");
        else
            snprintf(to, size, "lost in a full buffer: enlarge PROF_BUFFER%s",
                     *wanted ? wanted : ", or write to a file: PROF_MODE=stream");
        break;
    case 1:
        if (info->mode == PROF_RING_STATS && trace->aggregated)
            snprintf(to, size, "overwritten in the ring: they are in the statistics only");
        else if (info->mode == PROF_STREAM)
            snprintf(to, size, "made room in the file: enlarge PROF_MAX_FILE_SIZE to see further back");
        else
            snprintf(to, size, *wanted ? "overwritten in the ring: enlarge PROF_BUFFER%s to see them all"
                                       : "overwritten in the ring: PROF_MODE=stream keeps them all, in a file%s",
                     wanted);
        break;
    case 2: snprintf(to, size, "failed while recording: %s", info->write_error); break;
    case 3: snprintf(to, size, "left out: ends or arguments without an open scope"); break;
    case 4:
        snprintf(to, size,
                 *wanted ? "did not fit: enlarge PROF_BUFFER%s" : "did not fit, and a larger buffer does not help%s",
                 wanted);
        break;
    case 8:
        snprintf(to, size, "lost because too many PROFILE_BEGINs, ranges or calls were open on a thread: is each one "
                           "ended? A larger buffer does not help; for calls PROF_INSTRUMENT_DEPTH does");
        break;
    case 9:
        snprintf(to, size, "left out, of kinds that this version does not know: read the file with a newer one");
        break;
    case 10:
        prof__grouped(count, info->samples_dropped);
        if (info->samples_dropped == info->samples_lost)
            snprintf(to, size, "lost in a full buffer: enlarge PROF_BUFFER");
        else
            snprintf(to, size, "lost in a full ring of the kernel: ask for fewer (PROF_SAMPLES)%s%s%s",
                     info->samples_dropped ? "; of these " : "", info->samples_dropped ? count : "",
                     info->samples_dropped ? " in a full buffer" : "");
        break;
    default: snprintf(to, size, "of the file missing: it was cut, damaged, or overwritten while it was read"); break;
    }
    return 1;
}

/* Writes to `to` the text of prof__loss_text() for a viewer that draws events from the time `from` on. Returns what
   kind of thing was dropped, or NULL if nothing needs a warning. No warning is needed for ends and arguments of scopes
   that began before the recording, for writes that succeeded later, and for what a ring has overwritten before
   `from`. */
static const char *prof__dropped(const prof_trace *trace, int kind, int64_t from, char *to, size_t size)
{
    static const char *const dropped[PROF__LOSSES] = {"events", "events",    "events", NULL,    "names",
                                                      "events", "arguments", "events", "events", "events",
                                                      NULL};
    if ((kind == 0 && !prof_trace_about(trace)->lost) || (kind == 2 && !prof__ring_lacks(trace, from))) return NULL;
    return prof__loss_text(trace, kind, to, size) ? dropped[kind] : NULL;
}

static void prof__summary_losses(prof__out *out, const prof_trace *trace, size_t limit)
{
    char text[512];
    int kind, kinds = 0;
    prof__out_text(out, "\n");
    for (kind = 0; kind < PROF__LOSSES; kind++) {
        if (!prof__loss_text(trace, kind, text, sizeof text)) continue;
        prof__out_wrapped(out, text, 0, 2, limit);
        prof__out_text(out, "\n");
        kinds++;
    }
    if (!kinds) prof__out_text(out, "nothing lost\n");
}

/* What other events cost, as a multiple of a scope, which reads the clock twice. BENCHMARKS.md has the measurements. */
#define PROF__MARK_COST 0.7
#define PROF__OBJECT_COST 0.9 /* an event of three words: head, object, detail */
#define PROF__VALUE_COST 0.175

/* How much of the program's time recording took. */
typedef struct prof__cost {
    uint64_t scopes, calls; /* calls: function calls recorded by hooks; scopes does not include them */
    uint64_t others, taken_back;
    double ns;
    double start_ns, ready_ns; /* the times of prof_start(), and of preparing the buffer */
    int about; /* 1: the cost is partly an estimate */
} prof__cost;

/* Estimates the cost of the events that a ring has overwritten from the events that it has kept. */
static double prof__cost_overwritten(const prof_trace *trace)
{
    const prof_trace_info *info = prof_trace_about(trace);
    uint64_t left = trace->info.chunks;
    if ((info->mode != PROF_RING && info->mode != PROF_RING_STATS) || trace->aggregated) return 1;
    if (!left || info->from_ns || info->to_ns) return 1;
    return 1 + prof__real(info->overwritten_chunks) / prof__real(left);
}

static prof__cost prof__cost_of(const prof_trace *trace, const prof__stat_rows *all)
{
    const prof_trace_info *info = prof_trace_about(trace);
    const prof__header *h = &trace->header;
    double ns_per_tick = h->cost_ticks_x1000 ? info->scope_cost_ns / prof__real(h->cost_ticks_x1000) : 0, more, window;
    double scope = info->scope_cost_ns, call = info->call_cost_ns > 0 ? info->call_cost_ns : scope;
    double text = h->text_x1000 ? prof__real(h->text_x1000) * ns_per_tick : scope;
    double format = h->format_x1000 ? prof__real(h->format_x1000) * ns_per_tick : scope;
    prof__cost cost;
    memset(&cost, 0, sizeof cost);
    for (size_t i = 0; i < all->count; i++) {
        const prof_stat *stat = &all->items[i].stat;
        int called = info->call_cost_ns > 0 && !strcmp(stat->site->category, "function");
        if (all->items[i].type == PROF_EVENT_SCOPE) *(called ? &cost.calls : &cost.scopes) += stat->count;
    }
    more = prof__cost_overwritten(trace);
    window = info->duration_ns > 0 ? prof__trace_span(info) / (double)info->duration_ns : 1;
    cost.others = all->uses.marks + all->uses.objects;
    cost.taken_back = window < 1 ? (uint64_t)(prof__real(info->taken_back) * window) : info->taken_back;
    cost.about = more > 1 || window < 1;
    cost.ns = more * (scope * (prof__real(cost.scopes) + PROF__MARK_COST * prof__real(all->uses.marks) +
                               PROF__OBJECT_COST * prof__real(all->uses.objects) +
                               PROF__VALUE_COST * prof__real(all->uses.values)) +
                      call * prof__real(cost.calls) + (text - scope) * prof__real(all->uses.texts) +
                      (format - scope) * prof__real(all->uses.formats));
    cost.start_ns = window < 1 ? 0 : info->start_cost_ns;
    cost.ready_ns = window < 1 ? 0 : info->ready_cost_ns;
    cost.ns += (cost.calls || !cost.scopes ? call : scope) * prof__real(cost.taken_back);
    return cost;
}

/* Appends a count to `to`, as in "3 scopes, 20 calls". Appends nothing if the count is 0. */
static void prof__cost_count(char *to, size_t size, uint64_t count, const char *one, const char *many)
{
    size_t used = strlen(to);
    char number[32];
    if (!count) return;
    prof__grouped(number, count);
    snprintf(to + used, size - used, "%s%s %s", used ? ", " : "", number, count == 1 ? one : many);
}

static void prof__summary_cost(prof__out *out, const prof_trace *trace, const prof__stat_rows *all, size_t limit)
{
    const prof_trace_info *info = prof_trace_about(trace);
    prof__cost cost = prof__cost_of(trace, all);
    double span = prof__trace_span(info);
    char text[640], things[256] = "", each[48], call[48], ns[48], share[32] = "", start[48] = "", ready[48] = "";
    if (!(info->scope_cost_ns > 0)) return;
    if (!cost.scopes && !cost.calls && !cost.others && !cost.taken_back)
        prof__text_copy(things, sizeof things, "0 scopes");
    prof__cost_count(things, sizeof things, cost.scopes, "scope", "scopes");
    prof__cost_count(things, sizeof things, cost.calls, "call", "calls");
    prof__cost_count(things, sizeof things, cost.others, "other event", "other events");
    prof__cost_count(things, sizeof things, cost.taken_back, "removed by min_duration", "removed by min_duration");
    prof__human_ns(each, info->scope_cost_ns);
    prof__human_ns(call, info->call_cost_ns);
    prof__human_ns(ns, cost.ns);
    if (cost.start_ns > 0) prof__human_ns(start, cost.start_ns);
    if (cost.ready_ns > 0) prof__human_ns(ready, cost.ready_ns);
    if (info->duration_ns > 0)
        prof__fixed(share, span > 0 ? (cost.ns + cost.start_ns + cost.ready_ns) / (span + cost.start_ns) * 100 : 0, 1);
    snprintf(text, sizeof text, "recording cost %s a scope%s%s%s, %s%s for %s%s%s%s%s%s%s%s%s", each,
             cost.calls ? ", " : "", cost.calls ? call : "", cost.calls ? " a call" : "", cost.about ? "about " : "",
             ns, things, cost.about && prof__cost_overwritten(trace) > 1 ? " and what was overwritten" : "",
             *start ? ", " : "", start, *start ? " for the start" : "", *ready ? ", " : "", ready,
             *ready ? " for memory" : "", *share ? ", " : "");
    snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", span > 0 ? share : *share ? "-" : "",
             *share ? span > 0 ? " % of the run" : " of the run" : "");
    prof__out_wrapped(out, text, 0, 2, limit);
    prof__out_text(out, "\n");
}

/* Writes one line of the head: "  what      text". */
static void prof__summary_line(prof__out *out, const char *what, const char *text, size_t limit)
{
    size_t length = prof__characters(what);
    prof__out_text(out, "  ");
    prof__out_clean(out, what);
    prof__out_spaces(out, length < 10 ? 10 - length : 2);
    prof__out_wrapped(out, text, length < 10 ? 12 : length + 4, 12, limit);
    prof__out_text(out, "\n");
}

static void prof__summary_head(prof__out *out, const prof_trace *trace, size_t limit)
{
    static const char *const modes[] = {"reused as a ring", "filled once", "emptied into the file",
                                        "emptied into statistics", "reused as a ring, statistics of everything"};
    const prof_trace_info *info = prof_trace_about(trace);
    uint64_t events = trace->aggregated ? info->folded : info->event_count;
    uint64_t tracks = trace->aggregated ? trace->header.tracks : prof_trace_track_count(trace);
    char text[512], a[48], b[48], c[48];
    size_t i;
    prof__out_clean(out, *info->program ? info->program : "program");
    prof__out_text(out, ", process ");
    prof__out_unsigned(out, info->pid);
    prof__out_text(out, "\n");
    prof__human_ns(a, (double)info->duration_ns);
    prof__grouped(b, events);
    prof__grouped(c, tracks);
    snprintf(text, sizeof text, "%s, %s event%s on %s track%s%s", a, b, events == 1 ? "" : "s",
             c, tracks == 1 ? "" : "s",
             info->complete ? "" : "; the recording was not stopped: a save, still running, or a crash");
    prof__summary_line(out, "recorded", text, limit);
    if (info->from_ns || info->to_ns) {
        prof__human_ns(a, (double)info->from_ns);
        prof__human_ns(b, prof__trace_span(info));
        snprintf(text, sizeof text, "from %s on, for %s: the tables show nothing else", a, b);
        prof__summary_line(out, "window", text, limit);
    }
    for (i = 0; i < trace->metadata_count; i++)
        prof__summary_line(out, trace->metadata[i].key, trace->metadata[i].value, limit);
    if (info->switches || info->switches_lost) {
        prof__grouped(a, info->switches);
        prof__grouped(b, info->switches_lost);
        snprintf(text, sizeof text, "%s, when threads ceased to run%s%s%s", a, info->switches_lost ? "; " : "",
                 info->switches_lost ? b : "", info->switches_lost ? " begins and ends of running are missing" : "");
        prof__summary_line(out, "switches", text, limit);
    }
    if (info->samples || info->samples_lost) {
        prof__grouped(a, info->samples);
        prof__human_ns(b, prof__real(info->sample_period_ns));
        prof__grouped(c, info->samples_lost);
        snprintf(text, sizeof text, "%s, one for each %s that a thread ran%s%s%s", a, b, info->samples_lost ? "; " : "",
                 info->samples_lost ? c : "", info->samples_lost ? " are missing" : "");
        prof__summary_line(out, "samples", text, limit);
    }
    prof__human_hz(a, prof__real(info->tick_hz));
    prof__human_ns(b, info->clock_resolution_ns);
    snprintf(text, sizeof text, "%s, %s%s%s%s", *info->clock ? info->clock : "unnamed",
             info->tick_hz ? "" : "of unknown rate: a tick counts as 1 ns", info->tick_hz ? a : "",
             info->clock_resolution_ns > 0 ? ", smallest step " : "", info->clock_resolution_ns > 0 ? b : "");
    prof__summary_line(out, "clock", text, limit);
    for (i = 0; prof__trace_gap(trace, i, text, sizeof text); i++) prof__summary_line(out, "", text, limit);
    prof__grouped(a, info->buffer_size);
    int only_ring = info->mode == PROF_RING_STATS && !trace->aggregated; /* from a file, which holds no statistics */
    prof__grouped(b, info->chunks);
    int split = info->chunk_size && info->chunks > info->buffer_size / info->chunk_size;
    snprintf(text, sizeof text, "%s bytes%s%s%s, %s", a, split ? ", split into " : "", split ? b : "",
             split ? " chunks for many threads" : "", modes[only_ring ? PROF_RING : info->mode]);
    prof__summary_line(out, "buffer", text, limit);
}

typedef struct prof__stack_node {
    const struct prof__stack_node *caller; /* NULL: of the outermost function that was recorded */
    uint64_t weight;                       /* by which nodes with the same caller are sorted: bytes, or unfreed bytes */
    uint32_t depth;
    prof_memory_row sum; /* site: the function's; peak_bytes: not known, as peaks do not add up */
} prof__stack_node;

typedef struct prof__stacks {
    prof__stack_node *nodes; /* of each call site of the trace, by its number; sum.count 0: it allocated nothing */
    const prof__stack_node **order;
    size_t count, left; /* nodes in order, and those left out */
} prof__stacks;

/* Sorts nodes by weight, callers before those that they called: a part of this order is a tree of its own. */
static int prof__stack_weights(const void *a, const void *b)
{
    const prof__stack_node *x = *(const prof__stack_node *const *)a, *y = *(const prof__stack_node *const *)b;
    if (x->weight != y->weight) return x->weight > y->weight ? -1 : 1;
    return x < y ? -1 : x > y;
}

/* Sorts nodes as a tree is printed: each one before those that it called. */
static int prof__stack_places(const void *a, const void *b)
{
    const prof__stack_node *x = *(const prof__stack_node *const *)a, *y = *(const prof__stack_node *const *)b;
    uint32_t x_depth = x->depth, y_depth = y->depth;
    while (x->depth > y_depth) x = x->caller;
    while (y->depth > x_depth) y = y->caller;
    if (x == y) return x_depth < y_depth ? -1 : x_depth > y_depth;
    for (; x->caller != y->caller; y = y->caller) x = x->caller;
    return prof__stack_weights(&x, &y);
}

/* Adds what a row has to a function and to those that called it. Returns the function's node. */
static prof__stack_node *prof__stack_add(prof__stacks *all, const prof_trace *trace, const prof_memory_row *row,
                                         const prof_callsite *site)
{
    prof__stack_node *node = &all->nodes[prof__site_number(trace, site)];
    const prof_callsite *caller = prof__site_caller(trace, site);
    if (caller) {
        node->caller = prof__stack_add(all, trace, row, caller);
        node->depth = node->caller->depth + 1;
    }
    if (!node->sum.count) all->order[all->count++] = node;
    node->sum.site = site;
    node->sum.count += row->count;
    node->sum.bytes += row->bytes;
    node->sum.live_count += row->live_count;
    node->sum.live_bytes += row->live_bytes;
    return node;
}

/* Makes the tree of all allocations, of which order has the `top` heaviest nodes, 0: all. by_live: by what was not
   freed, which leaves out all else. Free it in any case. */
static prof_status prof__stacks_make(prof__stacks *all, const prof_trace *trace, const prof_memory_stats *stats,
                                     size_t top, int by_live)
{
    size_t sites = prof__site_count(trace), i, kept = 0;
    memset(all, 0, sizeof *all);
    all->nodes = (prof__stack_node *)calloc(sites, sizeof *all->nodes);
    all->order = (const prof__stack_node **)malloc(sites * sizeof *all->order);
    if (!all->nodes || !all->order) return prof__no_memory("for the stacks of allocations");
    for (i = 0; i < stats->site_count; i++) prof__stack_add(all, trace, &stats->sites[i], stats->sites[i].site);
    for (i = 0; i < sites; i++)
        all->nodes[i].weight = by_live ? all->nodes[i].sum.live_bytes : all->nodes[i].sum.bytes;
    for (i = 0; i < all->count; i++)
        if (!by_live || all->order[i]->sum.live_count) all->order[kept++] = all->order[i];
    all->count = kept;
    qsort(all->order, all->count, sizeof *all->order, prof__stack_weights);
    if (top && top < all->count) {
        all->left = all->count - top;
        all->count = top;
    }
    qsort(all->order, all->count, sizeof *all->order, prof__stack_places);
    return PROF_OK;
}

static void prof__stacks_free(prof__stacks *all)
{
    free(all->nodes);
    free(all->order);
}

/*-- memory and locks --*/

#define PROF__MEMORY_TOP 20 /* rows of call sites, unless the caller asks for more */

/* Returns the name for the row of an allocation. A memory scope tells more than the function around the macro. */
static const char *prof__memory_name(const prof_memory_row *row)
{
    if (!row->site) return row->pool ? (*row->pool ? row->pool : "(no name)") : *row->scope ? row->scope : "(outside)";
    if (row->around) return row->around_name;
    return *prof__memory_function(row->site) ? prof__memory_function(row->site) : row->site->name;
}

/* caller: of the function that allocates; NULL: not known. */
static void prof__summary_memory_row(prof__table *t, const prof_memory_row *row, const prof_callsite *caller)
{
    prof__table_row(t, prof__memory_name(row), 0);
    prof__table_count(t, row->count);
    prof__table_size(t, row->bytes);
    prof__table_size(t, row->count ? row->bytes / row->count : 0);
    prof__table_size(t, row->peak_bytes);
    prof__table_count(t, row->live_count);
    prof__table_size(t, row->live_bytes);
    if (row->site) {
        if (row->around && prof__site_by_address(row->site)) {
            prof__table_note(t, "  by ");
            prof__table_note(t, prof__memory_function(row->site));
        }
        if (caller) prof__table_note(t, "  from ");
        if (caller) prof__table_note(t, caller->name);
        prof__table_place(t, *row->site->file || !row->around ? row->site : row->around);
        if (*row->pool) prof__table_note(t, "  in ");
        prof__table_note(t, row->pool);
        if (*row->scope) prof__table_note(t, "  for ");
        prof__table_note(t, row->scope);
    }
    prof__table_end(t);
}

static void prof__summary_memory_rows(prof__out *out, const prof_trace *trace, const char *title,
                                      const prof_memory_row *rows, size_t count, size_t top, size_t limit)
{
    static const prof__column columns[] = {{"allocations", 4, 0}, {"bytes", 0, 0}, {"mean", 1, 0}, {"peak", 3, 0},
                                           {"unfreed", 2, 0},     {"bytes", 0, 0}, {NULL, 0, 0}};
    size_t shown = top && top < count ? top : count, i;
    prof__table t;
    prof__out_text(out, "\n");
    prof__table_begin(&t, out, limit, title, columns, NULL, 0);
    do
        for (i = 0; i < shown; i++)
            prof__summary_memory_row(&t, &rows[i], rows[i].site ? prof__site_caller(trace, rows[i].site) : NULL);
    while (prof__table_again(&t));
    prof__out_more(out, count - shown);
}

static int prof__memory_live_order(const void *a, const void *b)
{
    const prof_memory_row *x = (const prof_memory_row *)a, *y = (const prof_memory_row *)b;
    if (x->live_bytes != y->live_bytes) return x->live_bytes > y->live_bytes ? -1 : 1;
    return x->live_count > y->live_count ? -1 : x->live_count < y->live_count;
}

/* Writes the call sites with blocks that were not freed, unless the table of call sites has shown all of them. */
static prof_status prof__summary_unfreed(prof__out *out, const prof_trace *trace, const prof_memory_stats *stats,
                                         size_t top, size_t limit)
{
    prof_memory_row *rows;
    size_t count = 0, i;
    if (!top || stats->site_count <= top) return PROF_OK;
    rows = (prof_memory_row *)malloc(stats->site_count * sizeof *rows);
    if (!rows) return prof__no_memory("for the summary");
    for (i = 0; i < stats->site_count; i++)
        if (stats->sites[i].live_count) rows[count++] = stats->sites[i];
    if (count) {
        qsort(rows, count, sizeof *rows, prof__memory_live_order);
        prof__summary_memory_rows(out, trace, "most unfreed", rows, count, top, limit);
    }
    free(rows);
    return PROF_OK;
}

/* Returns 1 if some allocation was recorded with functions around the one that called malloc(). */
static int prof__memory_stacked(const prof_trace *trace, const prof_memory_stats *stats)
{
    size_t i;
    for (i = 0; i < stats->site_count; i++)
        if (prof__site_caller(trace, stats->sites[i].site)) return 1;
    return 0;
}

static void prof__summary_stack(prof__table *t, const prof__stack_node *node)
{
    const char *name = prof__memory_function(node->sum.site);
    prof__table_row(t, *name ? name : node->sum.site->name, node->depth);
    prof__table_count(t, node->sum.count);
    prof__table_size(t, node->sum.bytes);
    prof__table_count(t, node->sum.live_count);
    prof__table_size(t, node->sum.live_bytes);
    prof__table_place(t, node->sum.site);
    prof__table_end(t);
}

/* Writes the call tree of allocations. by_live: of those that were not freed. Returns in *left how many functions are
   not shown. */
static prof_status prof__summary_stacks(prof__out *out, const prof_trace *trace, const prof_memory_stats *stats,
                                        size_t top, size_t limit, int by_live, size_t *left)
{
    static const prof__column columns[] = {{"allocations", 2, 0}, {"bytes", 0, 0}, {"unfreed", 1, 0}, {"bytes", 0, 0},
                                           {NULL, 0, 0}};
    prof__stacks all;
    prof__table t;
    size_t i;
    prof_status status = prof__stacks_make(&all, trace, stats, top, by_live);
    if (!status) {
        prof__out_text(out, "\n");
        prof__table_begin(&t, out, limit, by_live ? "not freed, by stack" : "allocated, by stack", columns, NULL, 0);
        do
            for (i = 0; i < all.count; i++) prof__summary_stack(&t, all.order[i]);
        while (prof__table_again(&t));
        prof__out_more(out, all.left);
        *left = all.left;
    }
    prof__stacks_free(&all);
    return status;
}

static void prof__summary_memory_notes(prof__out *out, const prof_trace *trace, const prof_memory_stats *stats)
{
    const prof_trace_info *info = prof_trace_about(trace);
    int gaps = info->lost || info->overwritten_chunks || info->lost_blocks;
    prof__out_note(out, stats->freed_unknown, "block",
                   " freed that had been allocated before the trace, or by nobody\n");
    prof__out_note(out, stats->freed_twice, "block",
                   gaps ? " freed twice, unless what is missing here allocated them again\n" : " freed twice\n");
    prof__out_note(out, stats->not_freed, "block",
                   " allocated again without a free in between: such frees are not marked, or lost\n");
}

static prof_status prof__summary_memory(prof__out *out, const prof_trace *trace, size_t top, size_t limit)
{
    prof_memory_stats *stats;
    prof_status status;
    if (!prof__has_role(trace, PROF_ROLE_MEMORY)) return PROF_OK;
    if (!top) top = PROF__MEMORY_TOP;
    status = prof_memory(trace, &stats);
    if (status != PROF_OK) return status;
    if (stats->count) {
        int named = stats->scope_count > 1 || (stats->scope_count && *stats->scopes[0].scope);
        prof__summary_memory_rows(out, trace, "memory", stats->pools, stats->pool_count, 0, limit);
        if (named) prof__summary_memory_rows(out, trace, "memory scope", stats->scopes, stats->scope_count, top, limit);
        prof__summary_memory_rows(out, trace, "allocated by", stats->sites, stats->site_count, top, limit);
        status = prof__summary_unfreed(out, trace, stats, top, limit);
        if (!status && prof__memory_stacked(trace, stats)) {
            size_t left = 0;
            status = prof__summary_stacks(out, trace, stats, top, limit, 0, &left);
            if (!status && left) status = prof__summary_stacks(out, trace, stats, top, limit, 1, &left);
        }
    }
    if (stats->freed_unknown || stats->freed_twice || stats->not_freed) {
        if (!stats->count) prof__out_text(out, "\n");
        prof__summary_memory_notes(out, trace, stats);
    }
    prof_memory_free(stats);
    return status;
}

static void prof__summary_lock(prof__table *t, const prof_lock_row *row)
{
    char waiting[48];
    prof__table_row(t, row->name, 0);
    prof__table_count(t, row->locks);
    prof__table_count(t, row->acquired);
    prof__table_count(t, row->contended);
    prof__table_percent(t, prof__real(row->contended), prof__real(row->acquired));
    prof__table_time(t, row->wait_ns);
    prof__table_time(t, row->wait_max_ns);
    prof__table_time(t, row->hold_ns);
    prof__table_time(t, row->hold_max_ns);
    prof__table_count(t, row->waiting_max);
    if (row->holding || row->waiting) {
        prof__table_note(t, "  at the end held by ");
        prof__table_note_many(t, row->holding, "thread", "");
        prof__table_note(t, ", ");
        prof__grouped(waiting, row->waiting);
        prof__table_note(t, waiting);
        prof__table_note(t, " waiting");
    }
    prof__table_end(t);
}

static prof_status prof__summary_locks(prof__out *out, const prof_trace *trace, size_t top, size_t limit)
{
    static const prof__column columns[] = {{"locks", 3, 0}, {"acquired", 6, 0}, {"contended", 0, 0},
                                           {"share", 2, 0}, {"waited", 0, 0},   {"longest", 7, 0},
                                           {"held", 5, 0},  {"longest", 4, 0},  {"most wait", 1, 0},
                                           {NULL, 0, 0}};
    prof__table t;
    prof_lock_row *rows;
    size_t count, shown, i;
    uint64_t unmatched = 0, abandoned = 0;
    prof_status status = PROF_OK;
    if (!prof__has_role(trace, PROF_ROLE_LOCK)) return PROF_OK;
    status = prof_locks(trace, 0, &rows, &count);
    if (status != PROF_OK) return status;
    for (i = 0; i < count; i++) {
        unmatched += rows[i].unmatched;
        abandoned += rows[i].abandoned;
    }
    shown = top && top < count ? top : count;
    if (count) prof__out_text(out, "\n");
    prof__table_begin(&t, out, limit, "lock", columns, NULL, 0);
    do
        for (i = 0; i < shown; i++) prof__summary_lock(&t, &rows[i]);
    while (prof__table_again(&t));
    prof__out_more(out, count - shown);
    prof__out_note(out, abandoned, "wait", " given up\n");
    prof__out_note(out, unmatched, "acquire or release", " without the other\n");
    prof_locks_free(rows);
    return status;
}

#define PROF__OPEN_TOP 10 /* threads that are shown, unless the caller asks for more */

/* The open scopes of a thread, from the outermost to the innermost. */
typedef struct prof__open_stack {
    const prof_open_scope *scopes;
    size_t count;
} prof__open_stack;

static const prof_open_scope *prof__open_innermost(const prof__open_stack *stack)
{
    return &stack->scopes[stack->count - 1];
}

/* Sorts by the time spent in the innermost scope, the longest first; then by track. */
static int prof__open_order(const void *a, const void *b)
{
    const prof_open_scope *x = prof__open_innermost((const prof__open_stack *)a);
    const prof_open_scope *y = prof__open_innermost((const prof__open_stack *)b);
    if (x->duration_ns != y->duration_ns) return x->duration_ns > y->duration_ns ? -1 : 1;
    return x->track < y->track ? -1 : x->track > y->track;
}

static void prof__summary_open_stack(prof__table *t, const prof_trace *trace, const prof__open_stack *stack)
{
    for (size_t i = 0; i < stack->count; i++) {
        const prof_track *track = prof_trace_track(trace, stack->scopes[i].track);
        prof__table_row(t, stack->scopes[i].name, i);
        prof__table_ns(t, (double)stack->scopes[i].duration_ns);
        if (!i) prof__table_note(t, "  ");
        if (!i) prof__table_note(t, *track->name ? track->name : "(unnamed)");
        prof__table_end(t);
    }
}

/* Writes what each thread was doing when a recording ended without prof_stop(). Threads that have been in their
   innermost scope for longest come first, because they may hang. */
static prof_status prof__summary_open(prof__out *out, const prof_trace *trace, size_t top, size_t limit)
{
    static const prof__column columns[] = {{"for", 0, 0}, {NULL, 0, 0}};
    const prof_trace_info *info = prof_trace_about(trace);
    prof_open_scope *scopes = NULL;
    prof__open_stack *stacks;
    size_t count = 0, threads = 0, i;
    prof_status status = info->complete ? PROF_OK : prof_open_scopes(trace, &scopes, &count);
    if (!count) {
        prof_open_scopes_free(scopes);
        return status;
    }
    stacks = (prof__open_stack *)calloc(count, sizeof *stacks);
    for (i = 0; stacks && i < count; i++) {
        if (prof_trace_track(trace, scopes[i].track)->ended) continue;
        if (!scopes[i].depth) stacks[threads++].scopes = &scopes[i];
        if (threads) stacks[threads - 1].count++;
    }
    if (threads) {
        prof__table t;
        size_t shown = top ? top : PROF__OPEN_TOP;
        qsort(stacks, threads, sizeof *stacks, prof__open_order);
        if (shown > threads) shown = threads;
        prof__out_text(out, "\n");
        prof__table_begin(&t, out, limit, info->alive ? "open now" : "open at the end", columns, "thread", 1);
        do
            for (i = 0; i < shown; i++) prof__summary_open_stack(&t, trace, &stacks[i]);
        while (prof__table_again(&t));
        prof__out_note(out, threads - shown, "thread", " more, which were in their innermost scope for less long\n");
        if (!info->alive) prof__out_text(out, "at least: nothing is known of the process after its last event\n");
    }
    free(stacks);
    prof_open_scopes_free(scopes);
    return stacks ? PROF_OK : prof__no_memory("for the open scopes");
}

/* Returns the width of standard output in characters: COLUMNS, or what the terminal reports. Returns 0 if standard
   output is no terminal. */
static int prof__terminal_columns(void)
{
    const char *text = getenv("COLUMNS");
    long columns = text ? strtol(text, NULL, 10) : 0;
#ifdef _WIN32
    CONSOLE_SCREEN_BUFFER_INFO info;
    if (!GetConsoleScreenBufferInfo(GetStdHandle(STD_OUTPUT_HANDLE), &info)) return 0;
    if (columns <= 0) columns = info.srWindow.Right - info.srWindow.Left + 1;
#else
    if (!isatty(1)) return 0;
#ifdef TIOCGWINSZ
    struct winsize size;
    if (columns <= 0 && !ioctl(1, TIOCGWINSZ, &size)) columns = size.ws_col;
#endif
#endif
    return columns > 0 && columns < 100000 ? (int)columns : 0;
}

/* Converts the option `columns` to the number of characters of a line of this output. Returns 0 for no limit. */
static size_t prof__out_columns(const prof__out *out, int columns)
{
    if (!columns && out->file && out->file == stdout) columns = prof__terminal_columns();
    return columns <= 0 ? 0 : (size_t)columns < PROF__TABLE_LEAST ? PROF__TABLE_LEAST : (size_t)columns;
}

static void prof__summary(const prof_trace *trace, prof__out *out, const prof_summary_options *options)
{
    static const prof_summary_options defaults = {PROF_SORT_TOTAL, 0, 0, 0, 0};
    size_t limit = prof__out_columns(out, options ? options->columns : 0);
    prof__stat_rows all;
    prof__sorted *scopes = NULL, *spans = NULL, *frames = NULL, *counters = NULL;
    size_t scope_count = 0, span_count = 0, frame_count = 0, counter_count = 0;
    prof_status status = prof__stat_rows_make(trace, options ? options->by_path : 0, &all);
    if (!options) options = &defaults;
    if (status == PROF_OK) {
        scopes = prof__sort(&all, PROF_EVENT_SCOPE, options->sort, options->ascending, &scope_count);
        spans = prof__sort(&all, PROF_EVENT_SPAN_BEGIN, options->sort, options->ascending, &span_count);
        frames = prof__sort(&all, PROF_EVENT_FRAME, PROF_SORT_NAME, 1, &frame_count);
        counters = prof__sort(&all, PROF_EVENT_COUNTER, PROF_SORT_NAME, 1, &counter_count);
        if (!scopes || !spans || !frames || !counters) status = prof__no_memory("for the summary");
    }
    if (status == PROF_OK) {
        prof__summary_head(out, trace, limit);
        prof__summary_scopes(out, trace, &all, scopes, scope_count, options, limit);
        status = prof__summary_open(out, trace, options->top, limit);
        prof__summary_throughput(out, trace, scopes, scope_count, limit);
        prof__summary_spans(out, &all, spans, span_count, limit);
        prof__summary_frames(out, frames, frame_count, limit);
        prof__summary_counters(out, &all, counters, counter_count, limit);
        prof__summary_devices(out, trace, limit);
        prof__summary_messages(out, &all);
        if (status == PROF_OK) status = prof__summary_memory(out, trace, options->top, limit);
        if (status == PROF_OK) status = prof__summary_locks(out, trace, options->top, limit);
        prof__summary_losses(out, trace, limit);
        prof__summary_cost(out, trace, &all, limit);
    }
    if (status != PROF_OK) prof__out_fail(out, status);
    free(scopes);
    free(spans);
    free(frames);
    free(counters);
    prof__stat_rows_free(&all);
}

/* Writes to the file `path`, or to `sink` if that is not NULL. */
static prof_status prof__summary_to(const prof_trace *trace, const char *path, const prof_sink *sink,
                                    const prof_summary_options *options)
{
    prof__out out;
    prof_status status;
    if (!trace) return prof__null(sink ? "prof_summary_stream" : "prof_summary_write", "trace");
    status = prof__out_to(&out, path, sink);
    if (status != PROF_OK) return status;
    prof__summary(trace, &out, options);
    return prof__out_close(&out);
}

PROF_DEF prof_status prof_summary_write(const prof_trace *trace, const char *path, const prof_summary_options *options)
{
    PROF__CALM();
    return prof__summary_to(trace, path, NULL, options);
}

PROF_DEF prof_status prof_summary_stream(const prof_trace *trace, prof_sink sink, const prof_summary_options *options)
{
    PROF__CALM();
    return prof__summary_to(trace, NULL, &sink, options);
}

/* Writes the summary to a file, with the default options: the writer of paths that end in .txt. */
static prof_status prof__summary_default(const prof_trace *trace, const char *path)
{
    return prof_summary_write(trace, path, NULL);
}

/*-- Texts are found by the number of the call site, so no number of call sites makes them slower. They lie close
     together: those of 10,000 call sites fit into the second cache of a processor. --*/

#define PROF__SITE_TEXT 240 /* bytes of a text that is kept; a longer one is made anew for each event */
#define PROF__SITE_COPY 64  /* bytes that are copied of a kept text at a time */

/* Where a text is. Behind its end, PROF__SITE_COPY bytes may be read. */
typedef struct prof__site_text {
    uint32_t at; /* in texts, plus 1; 0: not made yet; PROF__NONE32: too long */
    unsigned char size, rest, head; /* the writer says what begins at rest and at head */
} prof__site_text;

typedef struct prof__site_texts {
    const prof_trace *trace;
    prof__site_text *items; /* of each call site; NULL: no memory for it: slower, with equal output */
    char *texts;
    size_t size, capacity;
} prof__site_texts;

static void prof__site_texts_free(prof__site_texts *t)
{
    free(t->items);
    free(t->texts);
    memset(t, 0, sizeof *t);
}

/* Begins anew, with the call sites of this trace. The first time, all fields are 0. */
static void prof__site_texts_open(prof__site_texts *t, const prof_trace *trace)
{
    prof__site_texts_free(t);
    t->trace = trace;
    t->items = (prof__site_text *)calloc(prof__site_count(trace), sizeof *t->items);
}

/* Returns the place of a call site's text, or NULL if the trace does not have the call site. */
static inline prof__site_text *prof__site_text_of(const prof__site_texts *t, const prof_callsite *site)
{
    size_t number = t->items ? prof__site_number(t->trace, site) : PROF__NONE;
    return number == PROF__NONE ? NULL : &t->items[number];
}

static inline int prof__site_text_kept(const prof__site_text *kept) { return kept && kept->at - 1 < PROF__NONE32 - 1; }

/* Returns where the writer makes the text of a call site, in the output's buffer, or NULL if it would be too long. */
static char *prof__site_text_begin(prof__site_text *kept, const prof_callsite *site, prof__out *out)
{
    if (!kept || kept->at) return NULL;
    if (strlen(site->name) + strlen(site->category) + strlen(site->file) + strlen(site->function) < PROF__SITE_TEXT)
        return prof__out_reserve(out, PROF__OUT_RESERVE); /* so the text stays in the buffer, even if all is escaped */
    kept->at = PROF__NONE32;
    return NULL;
}

/* Takes the text from `start` on back out of the output, and keeps it. rest, head: offsets in the text. Returns 0 if it
   is too long or if there is no memory. */
static int prof__site_text_end(prof__site_texts *t, prof__site_text *kept, prof__out *out, char *start, size_t rest,
                               size_t head)
{
    size_t size = (size_t)(out->cursor - start);
    out->cursor = start;
    kept->at = PROF__NONE32;
    if (size > PROF__SITE_TEXT || t->size > PROF__NONE32 / 2) return 0;
    while (t->capacity < t->size + size + PROF__SITE_COPY)
        if (!prof__more_room(&t->texts, &t->capacity, 1)) return 0;
    memcpy(t->texts + t->size, start, size);
    memset(t->texts + t->size + size, 0, PROF__SITE_COPY);
    kept->at = (uint32_t)t->size + 1;
    kept->size = (unsigned char)size;
    kept->rest = (unsigned char)rest;
    kept->head = (unsigned char)head;
    t->size += size;
    return 1;
}

/* Copies `size` bytes of a text. Writes up to PROF__SITE_COPY bytes more. Returns the end of the copy. */
static inline char *prof__site_text_copy(char *to, const char *from, size_t size)
{
    size_t at = 0;
    do {
        memcpy(to + at, from + at, PROF__SITE_COPY);
        at += PROF__SITE_COPY;
    } while (PROF__UNLIKELY(at < size));
    return to + size;
}

static inline const char *prof__site_text_at(const prof__site_texts *t, const prof__site_text *kept)
{
    return t->texts + kept->at - 1;
}

/*-- CSV ------------------------------------------------------------------------------------------------------ >>csv --
   Writes a trace as RFC 4180 says: a header line, then a line for each event, with CRLF. The output is valid UTF-8
   whatever bytes the names hold. The field args joins "key=value" pairs with ';'. In keys and texts, a backslash stands
   before each ';', '=' and backslash. Where the trace has states of threads, three columns more say what a scope's
   thread did meanwhile; what they leave of the duration is unknown. */

static void prof__csv_byte(prof__out *out, char byte)
{
    *prof__out_reserve(out, 1) = byte;
    prof__out_commit(out, 1);
}

static int prof__csv_plain(const char *text)
{
    return text[strcspn(text, ",\"\r\n")] == 0 && text[0] != ' ' && (!text[0] || text[strlen(text) - 1] != ' ');
}

/* Writes size bytes of a text. */
static void prof__csv_text(prof__out *out, const char *text, size_t size)
{
    size_t run = 0;
    while (run < size) {
        int length = prof__utf8_length(text + run);
        if (length > 0) {
            run += (size_t)length;
            continue;
        }
        prof__out_bytes(out, text, run);
        prof__out_bytes(out, PROF__UTF8_REPLACED, sizeof PROF__UTF8_REPLACED - 1);
        text += run + (size_t)-length;
        size -= run + (size_t)-length;
        run = 0;
    }
    prof__out_bytes(out, text, run);
}

/* Writes the inside of a quoted field. `special` lists the characters that need an escape: the quote, which is doubled,
   and the characters that get a backslash. */
static void prof__csv_quoted(prof__out *out, const char *text, const char *special)
{
    for (;;) {
        size_t plain = strcspn(text, special);
        prof__csv_text(out, text, plain);
        text += plain;
        if (!*text) return;
        prof__csv_byte(out, *text == '"' ? '"' : '\\');
        prof__csv_byte(out, *text++);
    }
}

/* Returns the length of a field that is written as it is, as most are: a few printable characters of ASCII. Returns 0
   for other fields. */
static size_t prof__csv_simple(const char *text)
{
    size_t size = 0;
    while (text[size] >= ' ' && text[size] < 127 && text[size] != ',' && text[size] != '"') size++;
    return text[size] || !size || size > PROF__OUT_RESERVE / 2 || text[0] == ' ' || text[size - 1] == ' ' ? 0 : size;
}

/* Writes a comma and a field. */
static PROF__NOINLINE void prof__csv_field(prof__out *out, const char *text)
{
    size_t simple = prof__csv_simple(text);
    prof__csv_byte(out, ',');
    if (simple) {
        prof__out_bytes(out, text, simple);
    } else if (prof__csv_plain(text)) {
        prof__csv_text(out, text, strlen(text));
    } else {
        prof__csv_byte(out, '"');
        prof__csv_quoted(out, text, "\"");
        prof__csv_byte(out, '"');
    }
}

static void prof__csv_value(prof__out *out, const prof_value *value)
{
    char digits[16];
    int i;
    switch ((int)value->type) {
    case PROF_VALUE_INT: prof__out_signed(out, value->as.i); break;
    case PROF_VALUE_UINT: prof__out_unsigned(out, value->as.u); break;
    case PROF_VALUE_DOUBLE: prof__out_double(out, value->as.d); break;
    case PROF_VALUE_BOOL: prof__out_text(out, value->as.u ? "true" : "false"); break;
    case PROF_VALUE_POINTER:
        for (i = 0; i < 16; i++) digits[i] = "0123456789abcdef"[value->as.u >> (60 - 4 * i) & 15];
        for (i = 0; i < 15 && digits[i] == '0';) i++;
        prof__out_text(out, "0x");
        prof__out_bytes(out, digits + i, (size_t)(16 - i));
        break;
    case PROF_VALUE_STRING:
        prof__csv_quoted(out, value->as.string, "\";=\\");
        if (value->cut) prof__out_text(out, "...");
        break;
    default: break;
    }
}

static void prof__csv_args(prof__out *out, const prof_event *event)
{
    uint32_t i;
    prof__csv_byte(out, ',');
    if (!event->arg_count) return;
    prof__csv_byte(out, '"');
    for (i = 0; i < event->arg_count; i++) {
        if (i) prof__csv_byte(out, ';');
        prof__csv_quoted(out, event->args[i].key, "\";=\\");
        prof__csv_byte(out, '=');
        prof__csv_value(out, &event->args[i].value);
    }
    prof__csv_byte(out, '"');
}

/* Writes the fields value and args of a message: its text and its severity. */
static void prof__csv_message(prof__out *out, const prof_event *event)
{
    prof__csv_field(out, event->value.as.string);
    prof__out_text(out, ",severity=");
    prof__out_text(out, prof__severity_text(event->detail));
}

/* Writes the field value. For an event with an object, the value is the object's id or address. */
static void prof__csv_object(prof__out *out, const prof_event *event)
{
    prof_value value = event->value;
    if (prof__event_object(event->type)) {
        value.type = prof__event_object(event->type);
        value.as.u = event->object;
    }
    prof__csv_value(out, &value);
}

/* Writes the fields that all events of a track have in common. */
static PROF__NOINLINE void prof__csv_track(prof__out *out, const prof_track *track)
{
    prof__out_unsigned(out, track->id);
    prof__csv_byte(out, ',');
    prof__out_unsigned(out, track->thread_id);
    prof__csv_field(out, track->name);
}

static PROF__NOINLINE void prof__csv_head(prof__out *out, const prof_event *event)
{
    prof__csv_field(out, prof__event_text(event->type));
    prof__csv_field(out, event->name);
    prof__csv_field(out, event->site->category);
    prof__csv_byte(out, ',');
}

/* line_end: what comes behind it; "" if the states do. */
static PROF__NOINLINE void prof__csv_tail(prof__out *out, const prof_callsite *site, const char *line_end)
{
    prof__csv_field(out, site->file);
    prof__csv_byte(out, ',');
    if (site->line) prof__out_unsigned(out, site->line);
    prof__csv_field(out, site->function);
    prof__out_text(out, line_end);
}

static void prof__csv_event(prof__out *out, const prof_track *track, const prof_event *event, const char *line_end)
{
    static const char *const flags[] = {"", "truncated_begin", "truncated_end", "truncated_begin truncated_end"};
    prof__csv_track(out, track);
    prof__csv_head(out, event);
    prof__out_signed(out, event->start_ns);
    prof__csv_byte(out, ',');
    prof__out_signed(out, event->duration_ns);
    prof__csv_byte(out, ',');
    prof__out_unsigned(out, event->depth);
    prof__csv_field(out, flags[event->flags & 3]);
    if (event->type == PROF_EVENT_LOG) {
        prof__csv_message(out, event);
    } else {
        prof__csv_byte(out, ',');
        prof__csv_object(out, event);
        if (event->type == PROF_EVENT_ALLOC) {
            prof__out_text(out, ",bytes=");
            prof__out_unsigned(out, event->detail);
        } else if (*event->site->unit) {
            prof__out_text(out, ",\"unit=");
            prof__csv_quoted(out, event->site->unit, "\";=\\");
            prof__csv_byte(out, '"');
        } else {
            prof__csv_args(out, event);
        }
    }
    prof__csv_tail(out, event->site, line_end);
}

#define PROF__CSV_TYPE 6 /* bytes of ,scope */

/* What the lines of plain scopes are made of: the text of the present track, and that of each call site: the type, the
   name, at `rest` the category, at `head` what follows the three numbers. */
typedef struct prof__csv_texts {
    prof__site_texts sites;
    size_t size; /* of the track's text; 0: it is too long */
    char track[PROF__SITE_TEXT + PROF__SITE_COPY];
} prof__csv_texts;

/* Makes the text of a track. */
static void prof__csv_enter(prof__out *out, prof__csv_texts *texts, const prof_track *track)
{
    char *start = prof__out_reserve(out, PROF__OUT_RESERVE); /* the text stays in the buffer */
    texts->size = 0;
    if (strlen(track->name) >= PROF__SITE_TEXT) return;
    prof__csv_track(out, track);
    texts->size = (size_t)(out->cursor - start);
    out->cursor = start;
    if (texts->size > PROF__SITE_TEXT) texts->size = 0;
    memcpy(texts->track, start, texts->size);
}

/* Makes the text of a call site. Returns 0 if the text is too long, or without memory. */
static int prof__csv_keep(prof__out *out, prof__csv_texts *texts, prof__site_text *kept, const prof_callsite *site,
                          const char *line_end)
{
    char *start = prof__site_text_begin(kept, site, out);
    size_t rest, head;
    if (!start) return 0;
    prof__csv_field(out, prof__event_text(PROF_EVENT_SCOPE));
    prof__csv_field(out, site->name);
    rest = (size_t)(out->cursor - start);
    prof__csv_field(out, site->category);
    prof__csv_byte(out, ',');
    head = (size_t)(out->cursor - start);
    prof__out_text(out, ",,,");
    prof__csv_tail(out, site, line_end);
    return prof__site_text_end(&texts->sites, kept, out, start, rest, head);
}

/* Writes a plain scope, the most frequent kind of event. All of its line but three numbers, and a name that was made at
   run time, depends on the track and the call site alone. Returns 0 if the event is no plain scope. */
static int prof__csv_scope(prof__out *out, prof__csv_texts *texts, const prof_event *event, const char *line_end)
{
    prof__site_text *kept;
    const char *from;
    size_t head;
    char *to;
    if (event->type != PROF_EVENT_SCOPE || (event->arg_count | event->flags) || !texts->size || event->start_ns < 0 ||
        event->duration_ns < 0)
        return 0;
    kept = prof__site_text_of(&texts->sites, event->site);
    if (PROF__UNLIKELY(!prof__site_text_kept(kept)) && !prof__csv_keep(out, texts, kept, event->site, line_end))
        return 0;
    from = prof__site_text_at(&texts->sites, kept);
    head = kept->head;
    to = prof__out_reserve(out, 3 * (PROF__SITE_TEXT + PROF__SITE_COPY) + 64);
    to = prof__site_text_copy(to, texts->track, texts->size);
    if (PROF__UNLIKELY(event->name != event->site->name)) {
        memcpy(to, from, PROF__CSV_TYPE);
        out->cursor = to + PROF__CSV_TYPE;
        prof__csv_field(out, event->name);
        to = prof__out_reserve(out, 2 * (PROF__SITE_TEXT + PROF__SITE_COPY) + 64);
        from += kept->rest;
        head -= kept->rest;
    }
    to = prof__site_text_copy(to, from, head);
    to += prof__digits(to, (uint64_t)event->start_ns);
    *to++ = ',';
    to += prof__digits(to, (uint64_t)event->duration_ns);
    *to++ = ',';
    to += prof__digits(to, event->depth);
    out->cursor = prof__site_text_copy(to, from + head, kept->size - kept->head);
    return 1;
}

/* Returns the field "thread" of a device's row: the device and the row, as in "gpu 0/compute". Returns NULL without
   memory; then the caller writes the row's name alone. */
static char *prof__csv_row(const prof_track *track)
{
    char *device = prof__text_join(track->device, "/"), *name = device ? prof__text_join(device, track->name) : NULL;
    free(device);
    return name;
}

/* Writes what a scope's thread did meanwhile, and the end of the line. */
static void prof__csv_states(prof__out *out, const prof_trace *trace, size_t track, const prof_event *event)
{
    prof_split split;
    size_t count;
    prof_track_states(trace, track, &count);
    if (event->type != PROF_EVENT_SCOPE || prof_event_split(trace, track, event, &split) ||
        (!count && split.unknown_ns == split.wall_ns)) {
        prof__out_text(out, ",,,\r\n");
        return;
    }
    prof__csv_byte(out, ',');
    prof__out_unsigned(out, split.running_ns);
    prof__csv_byte(out, ',');
    prof__out_unsigned(out, split.ready_ns);
    prof__csv_byte(out, ',');
    prof__out_unsigned(out, split.waiting_ns);
    prof__out_text(out, "\r\n");
}

/* Writes a trace, and closes the output. */
static prof_status prof__csv(const prof_trace *trace, prof__out *out)
{
    size_t i;
    int states = trace->state_count != 0;
    const char *line_end = states ? "" : "\r\n";
    prof__csv_texts texts;
    memset(&texts, 0, sizeof texts);
    prof__site_texts_open(&texts.sites, trace);
    prof__out_text(out, "track_id,thread_id,thread,type,name,category,start_ns,duration_ns,depth,flags,value,args,"
                        "file,line,function");
    prof__out_text(out, states ? ",running_ns,ready_ns,waiting_ns\r\n" : line_end);
    for (i = 0; i < prof_trace_track_count(trace) && out->status == PROF_OK; i++) {
        prof_track track = *prof_trace_track(trace, i);
        char *name = *track.device ? prof__csv_row(&track) : NULL;
        prof_cursor *cursor;
        prof_event event;
        prof_status status = prof_cursor_open(trace, i, &cursor);
        if (name) track.name = name;
        if (status != PROF_OK) prof__out_fail(out, status);
        prof__csv_enter(out, &texts, &track);
        while (out->status == PROF_OK && prof_cursor_next(cursor, &event)) {
            if (!prof__csv_scope(out, &texts, &event, line_end)) prof__csv_event(out, &track, &event, line_end);
            if (states) prof__csv_states(out, trace, i, &event);
        }
        prof_cursor_close(cursor);
        free(name);
    }
    prof__site_texts_free(&texts.sites);
    return prof__out_close(out);
}

/* Writes to the file `path`, or to `sink` if that is not NULL. */
static prof_status prof__csv_to(const prof_trace *trace, const char *path, const prof_sink *sink)
{
    prof__out out;
    prof_status status;
    if (!trace) return prof__null(sink ? "prof_csv_stream" : "prof_csv_write", "trace");
    status = prof__out_to(&out, path, sink);
    return status == PROF_OK ? prof__csv(trace, &out) : status;
}

static prof_status prof__csv_default(const prof_trace *trace, const char *path)
{
    return prof_csv_write(trace, path);
}

PROF_DEF prof_status prof_csv_write(const prof_trace *trace, const char *path)
{
    PROF__CALM();
    return prof__csv_to(trace, path, NULL);
}

PROF_DEF prof_status prof_csv_stream(const prof_trace *trace, prof_sink sink)
{
    PROF__CALM();
    return prof__csv_to(trace, NULL, &sink);
}

/*-- ids of threads --*/

#define PROF__DISPLAY_ID 1000000000u /* the first of our own ids, which the system does not give */

typedef struct prof__display_id {
    uint64_t id;
    size_t track; /* counted over all traces */
} prof__display_id;

static int prof__display_id_order(const void *a, const void *b)
{
    const prof__display_id *x = (const prof__display_id *)a, *y = (const prof__display_id *)b;
    if (x->id != y->id) return x->id < y->id ? -1 : 1;
    return x->track < y->track ? -1 : x->track > y->track;
}

/* Gives each track an id that no other has: the system's thread id, or, if that is 0, too large or taken, *next, which
   it counts up. ids: has space for the tracks of all traces. Returns 0 without memory. */
static int prof__display_ids(const prof_trace *const *traces, size_t count, size_t tracks, uint32_t *ids,
                             uint32_t *next)
{
    size_t i, j, at = 0;
    prof__display_id *sorted = (prof__display_id *)malloc((tracks + 1) * sizeof *sorted);
    if (!sorted) return 0;
    for (i = 0; i < count; i++)
        for (j = 0; j < prof_trace_track_count(traces[i]); j++, at++) {
            const prof_track *track = prof_trace_track(traces[i], j);
            /* the thread of a fiber has a track of its own */
            sorted[at].id = track->fiber || *track->device ? UINT64_MAX : track->thread_id;
            sorted[at].track = at;
        }
    qsort(sorted, tracks, sizeof *sorted, prof__display_id_order);
    for (i = 0; i < tracks; i++) {
        int fine = sorted[i].id < PROF__DISPLAY_ID && (!i || sorted[i].id != sorted[i - 1].id);
        ids[sorted[i].track] = fine ? (uint32_t)sorted[i].id : 0;
    }
    for (i = 0; i < tracks; i++)
        if (!ids[i]) ids[i] = (*next)++;
    free(sorted);
    return 1;
}

/*-- windows: from `from` on, before `to`; to 0: without an end --*/

static int prof__display_in(int64_t start, int64_t end, int64_t from, int64_t to)
{
    return end >= from && (!to || start < to);
}

/* Returns 1 if an event lies in a window, at least in part. offset: is added to its times. */
static int prof__display_wanted(const prof_event *event, int64_t offset, int64_t from, int64_t to)
{
    int64_t start = event->start_ns + offset, end = start;
    if (event->type == PROF_EVENT_SCOPE) end += event->duration_ns;
    if (event->type == PROF_EVENT_FRAME) start -= event->duration_ns;
    return prof__display_in(start, end, from, to);
}

/* Returns 1 if a name is in a sorted list. */
static int prof__display_listed(const char *const *list, size_t count, const char *name)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = (unsigned char)*name - (unsigned char)*list[middle]; /* decides mostly */
        if (!order) order = strcmp(name, list[middle]);
        if (!order) return 1;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return 0;
}

/*-- flows --*/

typedef struct prof__flow { /* begins each item */
    const char *name; /* not made at run time, so it lives as long as the trace */
    uint64_t id;
} prof__flow;

typedef struct prof__flows {
    void *items;
    size_t element, count, capacity; /* element: bytes of an item */
    prof__read_index index;
} prof__flows;

static prof__flow *prof__flow_at(const prof__flows *flows, size_t item)
{
    return (prof__flow *)((char *)flows->items + item * flows->element);
}

static int prof__flow_same(const void *owner, size_t item, const void *key)
{
    const prof__flow *flow = prof__flow_at((const prof__flows *)owner, item);
    const prof_event *event = (const prof_event *)key;
    return flow->id == event->object && !strcmp(flow->name, event->name);
}

/* Returns the flow of a point. Adds it, zeroed behind its name and id, if it is new. Returns NULL without memory. */
static prof__flow *prof__flow_of(prof__flows *flows, const prof_event *event)
{
    uint32_t hash = (uint32_t)prof__mix(event->object) + prof__text_hash(event->name);
    size_t item = prof__read_find(&flows->index, hash, prof__flow_same, flows, event);
    prof__flow *flow;
    if (item != PROF__NONE) return prof__flow_at(flows, item);
    item = prof__new_item(&flows->index, hash, &flows->items, &flows->capacity, &flows->count, flows->element);
    if (item == PROF__NONE) return NULL;
    flow = prof__flow_at(flows, item);
    flow->name = event->name;
    flow->id = event->object;
    return flow;
}

static void prof__flows_free(prof__flows *flows)
{
    free(flows->items);
    free(flows->index.slots);
}

/*-- waits for locks, and holds --*/

typedef struct prof__lock_span {
    const char *name;
    uint64_t lock;   /* the address */
    uint64_t number; /* from 1; counts those spans, too, that are left out */
    size_t track;
    int64_t start, end;
    int held;   /* 1: a hold; 0: a wait */
    int shared; /* 1: other threads may have held the lock at the same time */
    int open;   /* 1: no end was recorded: it ends with the trace */
} prof__lock_span;

typedef struct prof__lock_spans {
    prof__locks all;
    int64_t end;     /* of the trace */
    uint64_t number; /* of the last span */
    size_t rest;     /* after the last event: how many waits and holds were looked at; each user may have one of both */
} prof__lock_spans;

/* has: see prof__timeline_of(). prof__lock_spans_close() must follow in any case. */
static void prof__lock_spans_open(prof__lock_spans *spans, const prof_trace *trace, prof__has_group *has,
                                  const void *user)
{
    const prof_trace_info *about = prof_trace_about(trace);
    spans->end = about->to_ns && about->to_ns < about->duration_ns ? about->to_ns : about->duration_ns;
    spans->number = spans->rest = 0;
    prof__locks_open(&spans->all, trace, 0, has, user);
}

/* Makes a span. Returns 0 for a wait that is shown as a scope, because PROFILE_MUTEX_LOCK has made one. */
static int prof__lock_span_make(prof__lock_spans *spans, prof__lock_span *span, const prof__lock_user *user, int held)
{
    const prof__locks *all = &spans->all;
    span->name = all->rows[all->locks[user->lock].row].name;
    span->lock = all->locks[user->lock].address;
    span->number = ++spans->number;
    span->track = user->track;
    span->held = held;
    return held || !user->scoped;
}

/* Makes the span that the last step ended. Returns 0 if it ended none. */
static int prof__lock_span_done(prof__lock_spans *spans, prof__lock_span *span)
{
    const prof__locks *all = &spans->all;
    if (all->done.part == PROF__LOCK_NOTHING) return 0;
    span->start = all->done.start;
    span->end = all->done.end;
    span->shared = all->done.shared;
    span->open = 0;
    return prof__lock_span_make(spans, span, &all->users[all->done.user], all->done.part == PROF__LOCK_HELD);
}

/* Makes the next span that has no end. Returns 0 if there is none. */
static int prof__lock_span_open(prof__lock_spans *spans, prof__lock_span *span)
{
    const prof__locks *all = &spans->all;
    while (spans->rest < 2 * all->user_count) {
        const prof__lock_user *user = &all->users[spans->rest / 2];
        int held = !(spans->rest++ & 1);
        span->start = held ? user->hold_ns : user->wait_ns;
        span->end = spans->end;
        span->shared = span->open = 1;
        if ((held ? user->depth != 0 : user->waits) && span->start <= span->end &&
            prof__lock_span_make(spans, span, user, held))
            return 1;
    }
    return 0;
}

static int prof__lock_spans_next(prof__lock_spans *spans, prof__lock_span *span)
{
    while (prof__locks_next(&spans->all))
        if (prof__lock_span_done(spans, span)) return 1;
    return !spans->all.status && prof__lock_span_open(spans, span);
}

static prof_status prof__lock_spans_close(prof__lock_spans *spans) { return prof__locks_close(&spans->all); }

/*-- SIFT --------------------------------------------------------------------------------------------------- >>sift --
   Reads the records of one track in order, and keeps two lists. In `scopes` are BEGINs with their names and arguments;
   an END takes all from its BEGIN on out again. That is certain only if the END belongs to the innermost open scope: by
   its call site or, for a PROFILE_END, whose call site never begins a scope, by its name. Any other END stays in the
   list, and nothing before it is taken out any more: readers will find out what it ends (docs/format.md).
   In `others` are spans, losses and events of devices, and of counters and frames the last of each call site. Instants,
   flows, allocations and locks matter only where they are.
   The same code sifts the words of a chunk that threads may overwrite, and once more what was left of all chunks. So it
   believes nothing that it reads: an element of a list is a copy of a record's kind and call site, and says where the
   record is (`at`) in the place of its ticks. An element of kind 0 is no record. */

typedef struct prof__sift {
    const prof__session *session;
    uint64_t *scopes, *others;
    size_t scope_count, other_count, room; /* room: of each list. scopes[0] is no record */
    int barred;       /* 1: an END may belong to a scope that is not in the list */
    int keeps;        /* which list has the record before this one, and so gets its name and values */
    uint32_t sites;   /* call sites that the tables have place for, from 0 on */
    uint32_t *newest; /* for each: its last counter or frame in `others`, from 1, if rounds[] is this round */
    uint32_t *rounds, round;
    uint32_t *names;  /* for each: the string id of its name, and PROF__SIFT_ENDS. NULL: not read yet */
} prof__sift;

enum { PROF__SIFT_NOTHING = 0, PROF__SIFT_SCOPES, PROF__SIFT_OTHERS };
#define PROF__SIFT_ENDS (1u << 31)          /* the call site is of a PROFILE_END */

static void prof__sift_free(prof__sift *sift)
{
    free(sift->scopes);
    free(sift->others);
    free(sift->newest);
    free(sift->rounds);
    free(sift->names);
}

static int prof__sift_make(prof__sift *sift, const prof__session *s)
{
    uint32_t write_lock = prof__state_lock();
    sift->sites = PROF__LOAD(&s->site_count) + 1; /* all that a full chunk can name; later ones are not known */
    prof__state_unlock(write_lock);
    sift->session = s;
    sift->newest = (uint32_t *)calloc(sift->sites, sizeof *sift->newest);
    sift->rounds = (uint32_t *)calloc(sift->sites, sizeof *sift->rounds);
    return sift->newest && sift->rounds;
}

/* Makes room for this many records. Returns 0 if there is no memory. */
static int prof__sift_room(prof__sift *sift, size_t count)
{
    if (count * 2 + 1 < sift->room) return 1; /* twice: an END may need an element of kind 0 as well */
    if (count >= PROF__NONE32 / 4) return 0;
    free(sift->scopes);
    free(sift->others);
    sift->room = count * 2 + 2;
    sift->scopes = (uint64_t *)malloc(sift->room * sizeof *sift->scopes);
    sift->others = (uint64_t *)malloc(sift->room * sizeof *sift->others);
    if (sift->scopes && sift->others) return 1;
    sift->room = 0;
    return 0;
}

/* Begins with empty lists. barred: 0: nothing comes before the first record, or it is lost. */
static void prof__sift_begin(prof__sift *sift, int barred)
{
    sift->scopes[0] = 0;
    sift->scope_count = 1;
    sift->other_count = 0;
    sift->barred = barred;
    sift->keeps = PROF__SIFT_NOTHING;
    sift->round++;
}

/* From now on, an END may belong to a scope that is not in the list. */
static void prof__sift_bar(prof__sift *sift)
{
    sift->barred = 1;
    sift->scopes[sift->scope_count++] = 0;
}

/* Reads the names of call sites, when the first is needed. Returns 0 if there is no memory. */
static int prof__sift_names(prof__sift *sift)
{
    const prof__session *s = sift->session;
    if (sift->names) return 1;
    sift->names = (uint32_t *)calloc(sift->sites, sizeof *sift->names);
    if (!sift->names) return 0;
    uint32_t write_lock = prof__state_lock();
    uint64_t used = s->header->meta_used / 8, words;
    prof__state_unlock(write_lock);
    for (uint64_t at = 0; at < used; at += words) {
        uint64_t head = PROF__ACQUIRE(&s->meta[at]);
        words = head >> 32 & 0xffffff;
        if (!words) break;
        if (head >> 56 != PROF__META_SITE || (head & PROF__SITE_MASK) >= sift->sites) continue;
        int ends = (s->meta[at + 4] >> 32 & ((1u << PROF__ROLE_SHIFT) - 1)) == PROF__KIND_END;
        sift->names[head & PROF__SITE_MASK] = (uint32_t)s->meta[at + 1] | (ends ? PROF__SIFT_ENDS : 0);
    }
    return 1;
}

/* Returns 1 if this is the call site of a PROFILE_END with the name of that call site. */
static int prof__sift_named(prof__sift *sift, uint32_t site, uint32_t begin)
{
    if (site >= sift->sites || begin >= sift->sites || !prof__sift_names(sift)) return 0;
    return sift->names[begin] && sift->names[site] == (sift->names[begin] | PROF__SIFT_ENDS);
}

static void prof__sift_add(prof__sift *sift, int list, uint64_t head, size_t at)
{
    uint64_t element = (head & ~PROF__TICK_MASK) | at;
    if (list == PROF__SIFT_SCOPES)
        sift->scopes[sift->scope_count++] = element;
    else
        sift->others[sift->other_count++] = element;
    sift->keeps = list;
}

#define PROF__SIFT_INNER (1u << PROF__KIND_NAME | 1u << PROF__KIND_ARG)

static void prof__sift_end(prof__sift *sift, uint64_t head, size_t at)
{
    size_t i = sift->scope_count;
    while (prof__record_in(PROF__SIFT_INNER, sift->scopes[i - 1])) i--;
    uint64_t scope = sift->scopes[i - 1];
    int begun = prof__read_kind(scope) == PROF__KIND_BEGIN;
    sift->keeps = PROF__SIFT_NOTHING;
    if (begun && (prof__read_id(scope) == prof__read_id(head) ||
                  prof__sift_named(sift, prof__read_id(head), prof__read_id(scope)))) {
        sift->scope_count = i - 1;
    } else if (!begun && !sift->barred) { /* it ends what began before the first record, and has its arguments */
        sift->scope_count = i;
    } else {
        sift->barred = 1;
        prof__sift_add(sift, PROF__SIFT_SCOPES, head, at);
    }
}

/* Returns the largest tick of the last few records of a run. A record whose time is later than the last one's was made
   by a signal handler, which interrupted the thread between its reading of the clock and its writing. */
static uint64_t prof__sift_latest(const uint64_t *words, size_t first, size_t end, uint64_t last)
{
    if (end - first > 16) first = end - 16;
    for (; first < end; first++) {
        uint64_t tick = PROF__ACQUIRE(words + first) & PROF__TICK_MASK;
        if (tick > last) last = tick;
    }
    return last;
}

/* Sifts the BEGINs and ENDs of a chunk from this word on, as long as an END belongs to the scope that is the last
   element. Most records are of these kinds. Returns the index of the word after them. No branch depends on which of the
   two kinds a record has, because that cannot be predicted. */
static PROF__NOINLINE size_t prof__sift_scopes(prof__sift *sift, const uint64_t *words, size_t first, size_t count,
                                               uint64_t *last)
{
    const uint64_t begin = (uint64_t)PROF__KIND_BEGIN << PROF__KIND_SHIFT;
    const uint64_t end = (uint64_t)PROF__KIND_END << PROF__KIND_SHIFT;
    uint64_t *top = sift->scopes + sift->scope_count - 1;
    size_t at = first;
    for (; at < count; at++) {
        uint64_t head = PROF__ACQUIRE(words + at), ends = 0 - (head >> (PROF__KIND_SHIFT + 1) & 1);
        if (PROF__UNLIKELY(head - begin >= end)) break; /* is neither: these are the kinds 1 and 2 */
        if (PROF__UNLIKELY((*top ^ head ^ begin ^ end) & ends & ~PROF__TICK_MASK)) break;
        top[1] = (head & ~PROF__TICK_MASK) | at;
        top += 1 + 2 * (ptrdiff_t)(int64_t)ends; /* BEGIN: one more, END: one less */
    }
    if (at == first) return at;
    int begun = prof__read_kind(PROF__ACQUIRE(words + at - 1)) == PROF__KIND_BEGIN;
    sift->keeps = begun ? PROF__SIFT_SCOPES : PROF__SIFT_NOTHING;
    sift->scope_count = (size_t)(top - sift->scopes) + 1;
    *last = prof__sift_latest(words, first, at, *last);
    return at;
}

/* Adds a counter or a FRAME, and leaves out the one before of the same call site, with its values. */
static void prof__sift_newest(prof__sift *sift, uint64_t head, size_t at)
{
    uint32_t site = prof__read_id(head);
    if (site < sift->sites) {
        size_t i = sift->rounds[site] == sift->round ? sift->newest[site] : 0;
        if (i) sift->others[i - 1] = 0;
        for (; i && i < sift->other_count && prof__record_in(PROF__PARTS_OF_EVENT, sift->others[i]); i++)
            sift->others[i] = 0;
        sift->rounds[site] = sift->round;
        sift->newest[site] = (uint32_t)sift->other_count + 1;
    }
    prof__sift_add(sift, PROF__SIFT_OTHERS, head, at);
}

/* Sifts an argument of the innermost scope, or of the one of the call site that it names. */
static void prof__sift_arg(prof__sift *sift, const uint64_t *record, uint32_t length, size_t at)
{
    uint64_t head = PROF__ACQUIRE(record);
    int to = length > 1 && head & PROF__ARG_TO && !(head & PROF__ARG_KEY);
    uint32_t site = to ? prof__read_id(PROF__ACQUIRE(record + length - 1)) : 0;
    size_t i = sift->scope_count;
    while (prof__record_in(PROF__SIFT_INNER, sift->scopes[i - 1])) i--;
    prof__sift_add(sift, PROF__SIFT_SCOPES, head, at);
    sift->keeps = PROF__SIFT_NOTHING;
    if (to && (prof__read_kind(sift->scopes[i - 1]) != PROF__KIND_BEGIN || prof__read_id(sift->scopes[i - 1]) != site))
        prof__sift_bar(sift);
}

/* Returns the list for an EVENT of this type. Readers do not show types between ours and those of devices. */
static int prof__sift_list(unsigned type)
{
    int reaches = type >= PROF_EVENT_TYPE_COUNT || prof__event_group(type) == PROF__GROUP_SPAN;
    return reaches ? PROF__SIFT_OTHERS : PROF__SIFT_NOTHING;
}

/* Sifts any record but a TRACK. */
static void prof__sift_record(prof__sift *sift, const uint64_t *record, uint32_t length, size_t at)
{
    uint64_t head = PROF__ACQUIRE(record);
    int list = PROF__SIFT_NOTHING;
    switch (prof__read_kind(head)) {
    case PROF__KIND_BEGIN: list = PROF__SIFT_SCOPES; break;
    case PROF__KIND_END: prof__sift_end(sift, head, at); return;
    case PROF__KIND_NAME: list = sift->keeps; break;
    case PROF__KIND_DATA: list = sift->keeps == PROF__SIFT_OTHERS ? sift->keeps : list; break;
    case PROF__KIND_ARG: prof__sift_arg(sift, record, length, at); return;
    case PROF__KIND_COUNTER_INT:
    case PROF__KIND_COUNTER_DOUBLE:
    case PROF__KIND_COUNTER_UINT:
    case PROF__KIND_FRAME: prof__sift_newest(sift, head, at); return;
    case PROF__KIND_EVENT: list = prof__sift_list((unsigned)(PROF__ACQUIRE(record + 1) & 0xFF)); break;
    case PROF__KIND_LOST: list = PROF__SIFT_OTHERS; break;
    default: break;
    }
    sift->keeps = list;
    if (list) prof__sift_add(sift, list, head, at);
}

/*-- REMAINS --------------------------------------------------------------------------------------------- >>remains --
   A full chunk whose records all lie before a window is not copied: it is sifted in place (see >>sift), like any chunk
   of a running recording without a lock: afterwards its number must be the same. Its segments are put together, track
   by track, in the order of their serial numbers, so that a scope whose begin and end are in different chunks goes as
   well. This can be done in steps: what is left of some chunks is put together with what is left of others later. */

/* A record of an old chunk that may reach into a window. */
typedef struct prof__remains_record {
    size_t place; /* in `words` */
    uint32_t length;
    int left; /* 1: it does */
} prof__remains_record;

/* A segment of a chunk: the records of one track. It also stands for the segments after it up to the serial number
   `last`, of which nothing is left. */
typedef struct prof__remains_segment {
    uint64_t track, serial, last;
    uint64_t *copied;    /* its TRACK record, if the chunk was copied; else NULL */
    size_t chunk, place; /* else: index in `chunks`; its TRACK record in `words` */
    size_t first, count; /* else: its records in `records` */
    int left;            /* 1: it is part of the copy */
    int within;          /* 1: another segment stands for it */
} prof__remains_segment;

/* A chunk that was sifted. */
typedef struct prof__remains_chunk {
    prof__chunk header;
    uint64_t offset;
    size_t segment, segment_count;
    uint32_t depth; /* how often the slot is halved that its small chunk gets a part of */
} prof__remains_chunk;

typedef struct prof__remains {
    uint64_t *words;
    prof__remains_record *records;
    prof__remains_chunk *chunks;
    prof__remains_segment *segments;
    size_t word_count, word_capacity, record_count, record_capacity, chunk_count, chunk_capacity;
    size_t segment_count, segment_capacity;
    uint64_t lost, taken_back; /* as in the headers of all chunks that were sifted */
    uint64_t newest;           /* the largest tick of their records */
} prof__remains;

/* How many of each there are: a mark to return to. */
typedef struct prof__remains_mark {
    size_t words, records, chunks, segments;
} prof__remains_mark;

static prof__remains_mark prof__remains_now(const prof__remains *r)
{
    prof__remains_mark mark;
    mark.words = r->word_count;
    mark.records = r->record_count;
    mark.chunks = r->chunk_count;
    mark.segments = r->segment_count;
    return mark;
}

static void prof__remains_back(prof__remains *r, const prof__remains_mark *mark)
{
    r->word_count = mark->words;
    r->record_count = mark->records;
    r->chunk_count = mark->chunks;
    r->segment_count = mark->segments;
}

/* Forgets what was sifted; keeps the memory. */
static void prof__remains_clear(prof__remains *r)
{
    r->word_count = r->record_count = r->chunk_count = r->segment_count = 0;
    r->lost = r->taken_back = r->newest = 0;
}

static void prof__remains_free(prof__remains *r)
{
    free(r->words);
    free(r->records);
    free(r->chunks);
    free(r->segments);
    memset(r, 0, sizeof *r);
}

/* -- sifting a chunk -- */

/* Adds words. Returns their index in `words`, or PROF__NONE if there is no memory. */
static size_t prof__remains_words(prof__remains *r, const uint64_t *from, size_t count)
{
    size_t place = r->word_count;
    while (r->word_capacity - place < count)
        if (!prof__more_room(&r->words, &r->word_capacity, sizeof *r->words)) return PROF__NONE;
    for (size_t i = 0; i < count; i++) r->words[place + i] = PROF__ACQUIRE(from + i);
    r->word_count += count;
    return place;
}

/* Adds a record to the last segment. Returns 0 if there is no memory. */
static int prof__remains_record_add(prof__remains *r, const uint64_t *from, size_t length)
{
    size_t place = prof__remains_words(r, from, length);
    prof__remains_record *record = (prof__remains_record *)PROF__MORE(r->records, r->record_capacity, r->record_count);
    if (!record || !length || place == PROF__NONE) return 0;
    record->place = place;
    record->length = (uint32_t)length;
    return 1;
}

/* Adds what was sifted of a chunk's last segment, in order. Returns 0 if there is no memory. */
static int prof__remains_keep(prof__remains *r, const prof__sift *sift, const uint64_t *words, size_t count)
{
    prof__remains_segment *segment = &r->segments[r->segment_count - 1];
    size_t i = 1, j = 0; /* the first element of scopes is no record */
    segment->first = r->record_count;
    while (i < sift->scope_count || j < sift->other_count) {
        uint64_t scope = i < sift->scope_count ? sift->scopes[i] : ~(uint64_t)0;
        uint64_t other = j < sift->other_count ? sift->others[j] : ~(uint64_t)0;
        int first = !(scope >> PROF__KIND_SHIFT) ||
                    (other >> PROF__KIND_SHIFT && (scope & PROF__TICK_MASK) < (other & PROF__TICK_MASK));
        uint64_t element = first ? scope : other;
        size_t at = (size_t)(element & PROF__TICK_MASK);
        first ? i++ : j++;
        if (!(element >> PROF__KIND_SHIFT)) continue;
        if (!prof__remains_record_add(r, words + at, prof__record_words(PROF__ACQUIRE(words + at), count - at)))
            return 0;
    }
    segment->count = r->record_count - segment->first;
    return 1;
}

/* Adds a segment with its TRACK record. Returns NULL if there is no memory. */
static prof__remains_segment *prof__remains_segment_add(prof__remains *r, const uint64_t *record)
{
    prof__remains_segment *segment =
        (prof__remains_segment *)PROF__MORE(r->segments, r->segment_capacity, r->segment_count);
    size_t place = prof__remains_words(r, record, 3);
    if (!segment || place == PROF__NONE) return NULL;
    segment->chunk = r->chunk_count;
    segment->place = place;
    segment->first = r->record_count;
    segment->track = prof__track_id(r->words + place);
    segment->serial = segment->last = prof__track_serial(r->words + place);
    return segment;
}

/* Sifts the words of a chunk. *last: set to the largest tick. Returns 0 if they cannot be sifted. */
static int prof__remains_sift(prof__remains *r, prof__sift *sift, const uint64_t *words, size_t count, uint64_t *last)
{
    size_t at = 0, length, first = r->segment_count;
    if (!prof__sift_room(sift, count)) return 0;
    for (; at < count; at += length) {
        uint64_t head = PROF__ACQUIRE(words + at);
        unsigned kind = prof__read_kind(head);
        length = prof__record_words(head, count - at);
        if (!kind || !length) break;
        if (kind == PROF__KIND_TRACK) {
            if (r->segment_count > first && !prof__remains_keep(r, sift, words, count)) return 0;
            if (!prof__remains_segment_add(r, words + at)) return 0;
            prof__sift_begin(sift, 1);
            continue;
        }
        if (r->segment_count == first) return 0;
        size_t next = prof__sift_scopes(sift, words, at, count, last);
        if (next > at) {
            length = next - at;
            continue;
        }
        if (prof__record_timed(head)) *last = prof__sift_latest(words, at, at + 1, *last);
        prof__sift_record(sift, words + at, (uint32_t)length, at);
    }
    int whole = at == count || !(PROF__ACQUIRE(words + at) >> PROF__KIND_SHIFT);
    return whole && r->segment_count > first && prof__remains_keep(r, sift, words, count);
}

/* Adds what is left of a chunk of this many bytes that nobody writes to, if its number is `sequence` and all of it lies
   before the tick `from`. Returns 1 if it was added. */
static int prof__remains_add(prof__remains *r, prof__sift *sift, const prof__session *s, uint64_t offset, size_t bytes,
                             uint64_t sequence, uint64_t from)
{
    const prof__chunk *chunk = (const prof__chunk *)(const void *)((const char *)s->header + offset);
    prof__remains_mark mark = prof__remains_now(r);
    uint64_t last = 0;
    if (PROF__ACQUIRE(&chunk->sequence) != sequence) return 0;
    prof__remains_chunk *old = (prof__remains_chunk *)PROF__MORE(r->chunks, r->chunk_capacity, r->chunk_count);
    if (!old) return 0;
    r->chunk_count--;
    prof__memory_read(s->header, offset, &old->header, sizeof old->header);
    old->offset = offset;
    old->segment = mark.segments;
    if (old->header.base.tick < from &&
        prof__remains_sift(r, sift, (const uint64_t *)(const void *)(chunk + 1), (bytes - sizeof *chunk) / 8, &last) &&
        old->header.base.tick + last < from && PROF__ACQUIRE(&chunk->sequence) == sequence) {
        old->segment_count = r->segment_count - old->segment;
        r->chunk_count++;
        r->lost += old->header.lost;
        r->taken_back += old->header.taken_back;
        if (old->header.base.tick + last > r->newest) r->newest = old->header.base.tick + last;
        return 1;
    }
    prof__remains_back(r, &mark);
    return 0;
}

/* -- putting segments together -- */

static int prof__remains_order(const void *a, const void *b)
{
    const prof__remains_segment *x = *(prof__remains_segment *const *)a, *y = *(prof__remains_segment *const *)b;
    if (x->track != y->track) return x->track < y->track ? -1 : 1;
    return x->serial < y->serial ? -1 : x->serial > y->serial;
}

/* Finds the records of a track's segments that reach into a window. barred: 0: nothing comes before the first segment,
   or it is lost. Returns 0 if there is no memory. */
static int prof__remains_join(prof__remains *r, prof__sift *sift, prof__remains_segment **of, size_t count, int barred)
{
    size_t records = count, i, k;
    for (i = 0; i < count; i++) {
        records += of[i]->count;
        of[i]->left = of[i]->copied != NULL;
        for (k = of[i]->first; k < of[i]->first + of[i]->count; k++) r->records[k].left = 0;
    }
    if (!prof__sift_room(sift, records)) return 0;
    prof__sift_begin(sift, barred);
    for (i = 0; i < count; i++) {
        /* Scopes may have begun or ended in a segment that was copied, or in one that is missing. */
        if (of[i]->copied || (i && of[i]->serial != of[i - 1]->last + 1)) prof__sift_bar(sift);
        for (k = of[i]->first; k < of[i]->first + of[i]->count; k++)
            prof__sift_record(sift, r->words + r->records[k].place, r->records[k].length, k);
    }
    for (i = 1; i < sift->scope_count; i++)
        if (sift->scopes[i]) r->records[sift->scopes[i] & PROF__TICK_MASK].left = 1;
    for (i = 0; i < sift->other_count; i++)
        if (sift->others[i]) r->records[sift->others[i] & PROF__TICK_MASK].left = 1;
    for (i = 0; i < count; i++)
        for (k = of[i]->first; k < of[i]->first + of[i]->count; k++) of[i]->left |= r->records[k].left;
    return 1;
}

static void prof__remains_serial_set(uint64_t *record, uint64_t serial)
{
    record[0] = (record[0] & ~(0xFFFFFFFull << 32)) | (serial & 0xFFFFFFF) << 32;
    record[1] = (record[1] & PROF__TICK_MASK) | serial >> 28 << PROF__TICK_BITS;
}

/* Numbers the segments of a track that are left. If the oldest was sifted, nothing of the window is missing, and the
   first gets number 1. */
static void prof__remains_number(prof__remains *r, prof__remains_segment **of, size_t count)
{
    uint64_t serial = 0, missing = 0;
    for (size_t i = 0; i < count; i++) {
        if (serial && of[i]->serial > of[i - 1]->last) missing += of[i]->serial - of[i - 1]->last - 1;
        if (!of[i]->left) continue;
        if (serial)
            serial += missing + 1;
        else
            serial = of[0]->copied ? of[i]->serial : 1;
        missing = 0;
        prof__remains_serial_set(of[i]->copied ? of[i]->copied : r->words + of[i]->place, serial);
    }
}

/* Lets segments of a track stand for those directly after them of which nothing is left. */
static void prof__remains_merge(prof__remains_segment **of, size_t count)
{
    prof__remains_segment *before = NULL;
    for (size_t i = 0; i < count; i++) {
        of[i]->within = before && !of[i]->left && of[i]->serial == before->last + 1;
        if (of[i]->within)
            before->last = of[i]->last;
        else
            before = of[i];
    }
}

/* Finds out what is left. complete: 1: these are all segments there are, so they are numbered; 0: others will be put
   together with them. Returns 0 if there is no memory. */
static int prof__remains_tracks(prof__remains *r, prof__sift *sift, int complete)
{
    size_t count = r->segment_count, i, next;
    prof__remains_segment **order = (prof__remains_segment **)malloc((count + 1) * sizeof *order);
    int good = order != NULL;
    for (i = 0; good && i < count; i++) order[i] = &r->segments[i];
    if (good && count > 1) qsort((void *)order, count, sizeof *order, prof__remains_order);
    for (i = 0; good && i < count; i = next) {
        for (next = i + 1; next < count && order[next]->track == order[i]->track;) next++;
        good = prof__remains_join(r, sift, order + i, next - i, !complete);
        if (good && complete) prof__remains_number(r, order + i, next - i);
        if (good && !complete) prof__remains_merge(order + i, next - i);
    }
    free((void *)order);
    return good;
}

/* -- in steps -- */

/* Adds one segment of `from` to `to`, with its records if it is left. Returns 0 if there is no memory. */
static int prof__remains_segment_take(prof__remains *to, const prof__remains *from, const prof__remains_segment *one)
{
    prof__remains_segment *segment = prof__remains_segment_add(to, from->words + one->place);
    if (!segment) return 0;
    segment->last = one->last;
    for (size_t k = one->first; k < one->first + one->count; k++) {
        const prof__remains_record *record = &from->records[k];
        if (record->left && !prof__remains_record_add(to, from->words + record->place, record->length)) return 0;
    }
    segment->count = to->record_count - segment->first;
    return 1;
}

/* Adds what is left of `from` after prof__remains_tracks(). Returns 0 if there is no memory. */
static int prof__remains_take(prof__remains *to, const prof__remains *from)
{
    size_t i, k;
    for (i = 0; i < from->chunk_count; i++) {
        const prof__remains_chunk *old = &from->chunks[i];
        size_t first = to->segment_count;
        for (k = old->segment; k < old->segment + old->segment_count; k++)
            if (from->segments[k].left && !prof__remains_segment_take(to, from, &from->segments[k])) return 0;
        if (to->segment_count == first) continue;
        prof__remains_chunk *chunk = (prof__remains_chunk *)PROF__MORE(to->chunks, to->chunk_capacity, to->chunk_count);
        if (!chunk) return 0;
        *chunk = *old;
        chunk->segment = first;
        chunk->segment_count = to->segment_count - first;
    }
    for (k = 0; k < from->segment_count; k++) { /* of these nothing is left, but they are not missing */
        const prof__remains_segment *one = &from->segments[k];
        if (!one->left && !one->within && !prof__remains_segment_take(to, from, one)) return 0;
    }
    to->lost += from->lost;
    to->taken_back += from->taken_back;
    if (from->newest > to->newest) to->newest = from->newest;
    return 1;
}

/* Puts together what is left so far. Returns 0 if there is no memory; then all is as before. */
static int prof__remains_fold(prof__remains *r, prof__sift *sift)
{
    prof__remains less;
    memset(&less, 0, sizeof less);
    int good = prof__remains_tracks(r, sift, 0) && prof__remains_take(&less, r);
    if (good) {
        prof__remains_free(r);
        *r = less;
        for (size_t i = 0; i < r->segment_count; i++) r->segments[i].left = r->segments[i].count != 0;
        for (size_t k = 0; k < r->record_count; k++) r->records[k].left = 1;
    } else {
        prof__remains_free(&less);
    }
    return good;
}

/* Returns how many words are left of an old chunk. to: NULL, or where they are written to. */
static size_t prof__remains_of(const prof__remains *r, const prof__remains_chunk *old, uint64_t *to)
{
    size_t count = 0;
    for (size_t i = old->segment; i < old->segment + old->segment_count; i++) {
        const prof__remains_segment *segment = &r->segments[i];
        if (!segment->left) continue;
        if (to) memcpy(to + count, r->words + segment->place, 3 * sizeof *to);
        count += 3;
        for (size_t k = segment->first; k < segment->first + segment->count; k++) {
            const prof__remains_record *record = &r->records[k];
            if (!record->left) continue;
            if (to) memcpy(to + count, r->words + record->place, record->length * sizeof *to);
            count += record->length;
        }
    }
    return count;
}

/*-- PAST --------------------------------------------------------------------------------------------------- >>past --
   What a window needs of older chunks is little, but to find it each word must be looked at once. So what was found is
   kept from one save to the next, and prof's own thread, if it waits for requests of saves, looks at each chunk soon
   after a thread has left it.
   A stretch is PROF__STRETCH slots of the ring side by side. It has what is left of those of its chunks that it covers,
   put together. A chunk is covered when nobody can write to it any more. It can only change when a thread takes a
   number that leads to its slot, so prof__past_look() looks at the numbers that were taken since, not at the chunks: it
   drops the slot's stretch, because what is left of the other chunks depends on what was in this one.
   A thread may sleep between taking a number and taking the chunk. So a slot is not covered before it has a chunk of
   the last number that led to it. Slots that were split are not covered: there a thread that sleeps for a lap comes to
   another chunk. */

#define PROF__STRETCH 64u
#define PROF__PAST_LEAST 64u  /* slots: prof's thread does not look at a smaller ring, because a save is cheap there */
#define PROF__PAST_SHARE 8u   /* what is kept has at most this part of the ring's size */
#define PROF__PAST_STEP 1024u /* slots that prof's thread looks at in one step */

typedef struct prof__stretch {
    uint64_t covered; /* a bit for each of its slots */
    int folded;       /* 1: what is left of its chunks was put together */
    prof__remains remains;
} prof__stretch;

typedef struct prof__past {
    int lock;
    uint64_t process; /* whose memory this is: not that of its child after a fork */
    const prof__session *session;
    uint32_t session_id;
    prof__sift sift;
    uint64_t slots;   /* as many as the ring had at first */
    uint64_t seen;    /* how many numbers were taken when it last looked */
    uint64_t words;   /* that are kept, in all stretches */
    prof__stretch *stretches;
    uint64_t *expected;     /* for each slot: the last number that led to it */
    unsigned char *listed;  /* 1: the slot is in `active` */
    uint32_t *active;       /* slots that a thread may write to, or that were not looked at yet */
    size_t active_count;
} prof__past;

static prof__past prof__past_kept;

static void prof__past_free(prof__past *past)
{
    for (uint64_t i = 0; past->stretches && i * PROF__STRETCH < past->slots; i++)
        prof__remains_free(&past->stretches[i].remains);
    prof__sift_free(&past->sift);
    free(past->stretches);
    free(past->expected);
    free(past->listed);
    free(past->active);
    memset(&past->sift, 0, sizeof past->sift);
    past->stretches = NULL;
    past->expected = NULL;
    past->listed = NULL;
    past->active = NULL;
    past->active_count = 0;
    past->session = NULL;
    past->slots = past->seen = past->words = 0;
}

/* Begins anew for a session. Returns 0 if there is no memory. */
static int prof__past_make(prof__past *past, const prof__session *s)
{
    prof__past_free(past);
    past->slots = PROF__LOAD(&s->chunk_count);
    size_t slots = (size_t)past->slots, stretches = (slots + PROF__STRETCH - 1) / PROF__STRETCH;
    past->stretches = (prof__stretch *)calloc(stretches + 1, sizeof *past->stretches);
    past->expected = (uint64_t *)calloc(slots + 1, sizeof *past->expected);
    past->listed = (unsigned char *)calloc(slots + 1, 1);
    past->active = (uint32_t *)calloc(slots + 1, sizeof *past->active);
    past->session = s;
    past->session_id = s->session_id;
    int good = past->stretches && past->expected && past->listed && past->active && prof__sift_make(&past->sift, s);
    if (!good) prof__past_free(past);
    return good;
}

/* Takes the lock, and returns what is kept of this session, whose memory the caller keeps. Returns NULL if there is no
   memory or, unless `waits` is 1, if another thread has the lock. */
static prof__past *prof__past_enter(const prof__session *s, int waits)
{
    prof__past *past = &prof__past_kept;
    uint32_t write_lock = prof__state_lock();
    if (past->process != prof__process_id()) { /* a fork may have copied it half changed */
        memset(past, 0, sizeof *past);
        PROF__STORE(&past->process, (uint64_t)prof__process_id());
    }
    prof__state_unlock(write_lock);
    if (waits)
        prof__lock(&past->lock);
    else if (!prof__lock_take(&past->lock, 0))
        return NULL;
    int same = past->session == s && past->session_id == s->session_id;
    if (same && past->sift.sites >= PROF__LOAD(&s->site_count) + 1) return past;
    if (same) { /* there are more call sites now */
        prof__sift_free(&past->sift);
        memset(&past->sift, 0, sizeof past->sift);
        same = prof__sift_make(&past->sift, s);
    }
    if (same || prof__past_make(past, s)) return past;
    prof__past_free(past);
    prof__unlock(&past->lock);
    return NULL;
}

static void prof__past_leave(prof__past *past) { prof__unlock(&past->lock); }

/* Frees what is kept, unless it is of the present session, or in use. Takes no lock of the state, because a child of a
   fork calls this while it has that lock; there it does nothing. */
static void prof__past_drop(void)
{
    prof__past *past = &prof__past_kept;
    if (PROF__LOAD(&past->process) != prof__process_id() || !prof__lock_take(&past->lock, 0)) return;
    if (past->session != PROF__LOAD(&prof__state.session)) prof__past_free(past);
    prof__unlock(&past->lock);
}

static void prof__stretch_drop(prof__past *past, prof__stretch *stretch)
{
    past->words -= stretch->remains.word_count;
    prof__remains_free(&stretch->remains);
    stretch->covered = 0;
    stretch->folded = 0;
}

static int prof__past_covers(const prof__past *past, uint64_t slot)
{
    return (int)(past->stretches[slot / PROF__STRETCH].covered >> slot % PROF__STRETCH & 1);
}

/* Looks which numbers were taken since it last looked, and no longer covers the slots to which they lead. */
static void prof__past_look(prof__past *past)
{
    const prof__session *s = past->session;
    uint64_t next = PROF__ACQUIRE(&s->header->next_chunk), there = prof__chunks_there(s);
    uint64_t count = PROF__LOAD(&s->chunk_count);
    if (next > there && there < count) next = there; /* the system has not given memory for later chunks yet */
    if (count > past->slots) count = past->slots;
    if (next <= past->seen || !count) return;
    for (uint64_t n = next - past->seen > count ? next - count : past->seen; n < next; n++) {
        uint64_t slot = n % count;
        if (prof__past_covers(past, slot)) prof__stretch_drop(past, &past->stretches[slot / PROF__STRETCH]);
        past->expected[slot] = n + 1;
        if (!past->listed[slot]) past->active[past->active_count++] = (uint32_t)slot;
        past->listed[slot] = 1;
    }
    past->seen = next;
}

/* Returns the number of the chunk in this slot if nobody can write to it any more; else 0. */
static uint64_t prof__past_ended(const prof__past *past, uint64_t slot)
{
    const prof__session *s = past->session;
    const prof__chunk *chunk = (const prof__chunk *)(const void *)(s->chunks + slot * s->chunk_size);
    uint64_t sequence = PROF__ACQUIRE(&chunk->sequence);
    uint32_t state = PROF__ACQUIRE(&chunk->state);
    int ended = state == PROF__CHUNK_FREE || (state == PROF__CHUNK_FULL && !prof__chunks_kept(s));
    int whole = !PROF__FORM_DEPTH(PROF__LOAD(&chunk->form));
    return ended && whole && sequence >= past->expected[slot] ? sequence : 0;
}

/* Covers a slot, if its chunk has ended. Returns 1 if it has. */
static int prof__past_cover(prof__past *past, uint64_t slot)
{
    const prof__session *s = past->session;
    prof__stretch *stretch = &past->stretches[slot / PROF__STRETCH];
    prof__remains *r = &stretch->remains;
    uint64_t sequence = prof__past_ended(past, slot), before = r->word_count;
    prof__remains_mark mark = prof__remains_now(r);
    if (!sequence) return 0;
    uint64_t offset = s->header->chunk_offset + slot * s->chunk_size, lost = r->lost, taken_back = r->taken_back;
    if (!prof__remains_add(r, &past->sift, s, offset, s->chunk_size, sequence, ~(uint64_t)0)) return 1;
    if ((past->words + r->word_count - before) * 8 > s->chunk_count * s->chunk_size / PROF__PAST_SHARE) {
        prof__remains_back(r, &mark);
        r->lost = lost;
        r->taken_back = taken_back;
        return 1;
    }
    past->words += r->word_count - before;
    stretch->covered |= (uint64_t)1 << slot % PROF__STRETCH;
    stretch->folded = 0;
    return 1;
}

/* Puts together what is left of a stretch's chunks. Returns 0 if there is no memory. */
static int prof__stretch_fold(prof__past *past, prof__stretch *stretch)
{
    if (stretch->folded) return 1;
    past->words -= stretch->remains.word_count;
    stretch->folded = prof__remains_fold(&stretch->remains, &past->sift);
    past->words += stretch->remains.word_count;
    return stretch->folded;
}

/* Looks at most at `most` slots that threads have left since. Returns how many it has covered. */
static size_t prof__past_step(prof__past *past, size_t most)
{
    size_t left = 0, covered = 0;
    prof__past_look(past);
    for (size_t i = 0; i < past->active_count; i++) {
        uint32_t slot = past->active[i];
        if (prof__past_covers(past, slot)) {
            past->listed[slot] = 0;
        } else if (covered < most && prof__past_cover(past, slot)) {
            prof__stretch *stretch = &past->stretches[slot / PROF__STRETCH];
            past->listed[slot] = 0;
            covered++;
            if (stretch->covered == ~(uint64_t)0) prof__stretch_fold(past, stretch);
        } else {
            past->active[left++] = slot;
        }
    }
    past->active_count = left;
    return covered;
}

/* Looks at all slots, also those whose stretch was dropped, but not at chunks that begin in the window. Then looks for
   numbers that were taken meanwhile. from: the window's first tick. */
static void prof__past_all(prof__past *past, uint64_t from)
{
    const prof__session *s = past->session;
    prof__past_look(past);
    uint64_t there = past->seen < past->slots ? past->seen : past->slots;
    for (uint64_t slot = 0; slot < there; slot++) {
        if (prof__past_covers(past, slot)) continue;
        const prof__chunk *chunk = (const prof__chunk *)(const void *)(s->chunks + slot * s->chunk_size);
        if (PROF__LOAD(&chunk->base.tick) < from) prof__past_cover(past, slot);
    }
    prof__past_look(past);
}

/* What prof's thread does for sessions that save on demand. Returns 1 if there was work. */
static int prof__past_work(const prof__session *s)
{
    if (PROF__LOAD(&s->chunk_count) < PROF__PAST_LEAST || PROF__LOAD(&s->header->archive_offset)) return 0;
    prof__past *past = prof__past_enter(s, 0);
    if (!past) return 0;
    int work = prof__past_step(past, PROF__PAST_STEP) == PROF__PAST_STEP;
    prof__past_leave(past);
    return work;
}

/*-- WINDOW ----------------------------------------------------------------------------------------------- >>window --
   A copy of the last seconds of a ring costs what these seconds are. Of a chunk that lies before the window it has only
   what is left after sifting: see >>remains. Most such chunks were sifted before: see >>past. What is left of an old
   chunk gets a small chunk, of which several share a slot; of most nothing is left. Serial numbers of what follows are
   reduced, so that readers see no gap where nothing is missing. Gaps that the ring really has stay. */

typedef struct prof__window {
    prof__passing passing; /* the first field: functions get its address */
    prof__session *session;
    const prof__header *header; /* as it was when the copy began */
    uint64_t from;              /* ticks */
    prof__past *past;
    prof__remains old;
    int failed;   /* 1: there was no memory */
    char **slots; /* for each slot of the ring: its copy, or NULL: it has nothing */
    char *lesser; /* slots with small chunks */
    size_t small_count;
} prof__window;

/* Returns 1 if a window needs of a stretch's chunks only what is left of them. */
static int prof__window_takes(const prof__window *w, const prof__stretch *stretch)
{
    return stretch->covered && stretch->remains.newest < w->from;
}

/* Forgets what was copied and sifted, and takes what is left of the chunks that were sifted before. */
static void prof__window_again(prof__passing *passing)
{
    prof__window *w = (prof__window *)(void *)passing;
    prof__past *past = w->past;
    for (uint64_t i = 0; w->slots && i < w->header->chunk_count; i++) {
        free(w->slots[i]);
        w->slots[i] = NULL;
    }
    prof__remains_clear(&w->old);
    prof__past_all(past, w->from);
    for (uint64_t i = 0; i * PROF__STRETCH < past->slots; i++)
        if (prof__window_takes(w, &past->stretches[i]))
            w->failed |= !prof__stretch_fold(past, &past->stretches[i]);
    passing->tick = prof__now(w->session, 0);
    prof__past_look(past);
    passing->newest = past->seen;
    for (uint64_t i = 0; i * PROF__STRETCH < past->slots; i++)
        if (prof__window_takes(w, &past->stretches[i]))
            w->failed |= !prof__remains_take(&w->old, &past->stretches[i].remains);
}

static int prof__window_known(prof__passing *passing, uint64_t slot)
{
    prof__window *w = (prof__window *)(void *)passing;
    return slot < w->past->slots && prof__past_covers(w->past, slot) &&
           prof__window_takes(w, &w->past->stretches[slot / PROF__STRETCH]);
}

static void prof__window_free(prof__window *w)
{
    for (uint64_t i = 0; w->slots && i < w->header->chunk_count; i++) free(w->slots[i]);
    free((void *)w->slots);
    free(w->lesser);
    prof__remains_free(&w->old);
}

static char *prof__window_place(prof__passing *passing, uint64_t offset)
{
    prof__window *w = (prof__window *)(void *)passing;
    uint64_t at = offset - w->header->chunk_offset, slot = at / w->header->chunk_size;
    if (!w->slots[slot]) w->slots[slot] = (char *)calloc(1, w->header->chunk_size);
    return w->slots[slot] ? w->slots[slot] + at % w->header->chunk_size : NULL;
}

/* Sifts a chunk that nobody writes to, if all of it lies before the window. Returns 1 if it was, so that it need not be
   copied. */
static int prof__window_pass(prof__passing *passing, const prof__copied *one)
{
    prof__window *w = (prof__window *)(void *)passing;
    const prof__chunk *chunk = (const prof__chunk *)(const void *)((const char *)w->session->header + one->offset);
    uint32_t state = PROF__LOAD(&chunk->state);
    if (!one->seen || (state != PROF__CHUNK_FULL && state != PROF__CHUNK_FREE)) return 0;
    return prof__remains_add(&w->old, &w->past->sift, w->session, one->offset, one->bytes, one->seen, w->from);
}

/* Notes the segments of a chunk that was copied, and removes its marks, because their serial numbers may change.
   Returns 0 if there is no memory. */
static int prof__window_copied(prof__window *w, const prof__copied *one)
{
    prof__chunk *chunk = (prof__chunk *)(void *)prof__window_place(&w->passing, one->offset);
    if (!chunk) return 0;
    uint64_t *words = (uint64_t *)(void *)(chunk + 1);
    size_t count = (one->bytes - sizeof *chunk) / 8, length;
    if (!chunk->sequence) return 1;
    prof__chunk_unmark(chunk, words, one->bytes, sizeof *chunk);
    for (size_t at = 0; at < count && words[at] >> PROF__KIND_SHIFT; at += length) {
        length = prof__record_words(words[at], count - at);
        if (!length) break;
        if (prof__read_kind(words[at]) != PROF__KIND_TRACK) continue;
        prof__remains *r = &w->old;
        prof__remains_segment *segment =
            (prof__remains_segment *)PROF__MORE(r->segments, r->segment_capacity, r->segment_count);
        if (!segment) return 0;
        segment->track = prof__track_id(words + at);
        segment->serial = segment->last = prof__track_serial(words + at);
        segment->copied = words + at;
        segment->left = 1;
    }
    return 1;
}

/* -- the copy -- */

static int prof__window_larger(const void *a, const void *b)
{
    const prof__remains_chunk *x = *(prof__remains_chunk *const *)a, *y = *(prof__remains_chunk *const *)b;
    if (x->depth != y->depth) return x->depth < y->depth ? -1 : 1;
    return x->header.sequence < y->header.sequence ? -1 : x->header.sequence > y->header.sequence;
}

/* Writes small chunks into slots, the largest first, so that each begins at a multiple of its size. Empty ones fill the
   last slot. Returns 0 if there is no memory. */
static int prof__window_small(prof__window *w, prof__remains_chunk **chunks, size_t count)
{
    uint64_t slot = w->header->chunk_size, bytes = 0, at = 0;
    if (!count) return 1;
    if (count > 1) qsort((void *)chunks, count, sizeof *chunks, prof__window_larger);
    for (size_t i = 0; i < count; i++) bytes += slot >> chunks[i]->depth;
    w->small_count = (size_t)((bytes + slot - 1) / slot);
    w->lesser = (char *)calloc(w->small_count, (size_t)slot);
    if (!w->lesser) return 0;
    for (size_t i = 0; at < w->small_count * slot; i++) {
        const prof__remains_chunk *old = chunks[i < count ? i : count - 1];
        prof__chunk *chunk = (prof__chunk *)(void *)(w->lesser + at);
        chunk->form = old->depth << PROF__FORM_SHIFT;
        at += slot >> old->depth;
        if (i >= count) continue;
        chunk->sequence = old->header.sequence;
        chunk->base = old->header.base;
        chunk->state = PROF__CHUNK_FULL;
        chunk->form |= PROF__FORM_PLAIN;
        prof__remains_of(&w->old, old, (uint64_t *)(void *)(chunk + 1));
    }
    return 1;
}

/* Makes small chunks of what is left of old ones. Returns 0 if there is no memory. */
static int prof__window_write(prof__window *w)
{
    uint64_t slot = w->header->chunk_size;
    prof__remains_chunk **chunks = (prof__remains_chunk **)malloc((w->old.chunk_count + 1) * sizeof *chunks);
    size_t count = 0;
    for (size_t i = 0; chunks && i < w->old.chunk_count; i++) {
        prof__remains_chunk *old = &w->old.chunks[i];
        size_t words = prof__remains_of(&w->old, old, NULL), bytes = sizeof(prof__chunk) + words * 8;
        if (!words) continue;
        for (old->depth = 0; old->depth < 15 && slot >> (old->depth + 1) >= bytes &&
                             slot >> (old->depth + 1) >= PROF__FORM_LEAST && !(slot >> old->depth & 15);)
            old->depth++;
        chunks[count++] = old;
    }
    int good = chunks && prof__window_small(w, chunks, count);
    free((void *)chunks);
    return good;
}

/* Notes the size of an old chunk, so that readers find the next one of its slot. */
static void prof__window_left_out(prof__window *w, const prof__remains_chunk *old)
{
    uint64_t at = old->offset - w->header->chunk_offset;
    char *slot = w->slots[at / w->header->chunk_size];
    if (!slot) return;
    prof__chunk *chunk = (prof__chunk *)(void *)(slot + at % w->header->chunk_size);
    chunk->form |= old->header.form & (15u << PROF__FORM_SHIFT);
}

/* Returns how many slots the copy has; at least one. */
static uint64_t prof__window_used(const prof__window *w)
{
    uint64_t used = w->small_count;
    for (uint64_t i = 0; i < w->header->chunk_count; i++) used += w->slots[i] != NULL;
    return used ? used : 1;
}

/* Makes an empty image with room for the slots and for so many bytes of names. Returns NULL if there is no memory. */
static prof__header *prof__window_image(const prof__window *w, uint64_t meta, size_t *size)
{
    uint64_t chunks = (w->header->meta_offset + meta + PROF__PAGE_BYTES - 1) / PROF__PAGE_BYTES * PROF__PAGE_BYTES;
    *size = (size_t)(chunks + prof__window_used(w) * w->header->chunk_size);
    return (prof__header *)calloc(1, *size);
}

/* Copies the slots into the image, whose header is that of the session, and changes the header accordingly: the small
   chunks, then the others in their cyclic order. The newest is the last, because readers of fibers know by that what
   was copied later. newest: the highest number of a chunk. */
static void prof__window_fill(prof__window *w, prof__header *h, size_t size, uint64_t newest)
{
    uint64_t slots = w->header->chunk_count, bytes = h->chunk_size, used = prof__window_used(w);
    char *to = (char *)h + (size - used * bytes);
    h->image_size = size;
    h->index_offset = h->chunk_offset = size - used * bytes;
    h->index_size = 0;
    h->meta_size = h->chunk_offset - h->meta_offset;
    h->chunk_count = used;
    h->ring_count = slots;
    h->next_chunk = newest > slots ? used + newest / used * used : used; /* a multiple: the last slot is the newest */
    if (w->small_count) memcpy(to, w->lesser, w->small_count * (size_t)bytes);
    to += w->small_count * bytes;
    for (uint64_t i = 0, at = newest % slots; i < slots; i++, at = at + 1 < slots ? at + 1 : 0) {
        const char *slot = w->slots[at];
        if (!slot) continue;
        memcpy(to, slot, (size_t)bytes);
        to += bytes;
    }
}

#define PROF__WINDOW_NAMES 4096u /* bytes for names that come meanwhile, and for metadata about the save */

/* Makes the image of a window that was copied. Returns NULL if there is no memory. */
static void *prof__window_finish(prof__window *w, const prof__copying *c, uint64_t taken_back, size_t *size)
{
    size_t i;
    int good = !w->failed;
    prof__header *h = NULL;
    for (i = 0; good && i < c->count; i++) good = c->chunks[i].passed || prof__window_copied(w, &c->chunks[i]);
    good = good && prof__remains_tracks(&w->old, &w->past->sift, 1) && prof__window_write(w);
    for (uint64_t meta = 0; good && !h;) {
        uint32_t write_lock = prof__state_lock();
        uint64_t needed = w->session->header->meta_used;
        prof__state_unlock(write_lock);
        meta = needed + PROF__WINDOW_NAMES;
        h = prof__window_image(w, meta, size);
        if (!h) return NULL;
        write_lock = prof__state_lock();
        int fits = w->session->header->meta_used + PROF__WINDOW_NAMES / 2 <= meta;
        if (fits) prof__copy_header(w->session, (char *)h, w->header, c->newest, c->tick, taken_back);
        prof__state_unlock(write_lock);
        if (fits) break;
        free(h);
        h = NULL;
    }
    for (i = 0; h && i < w->old.chunk_count; i++) prof__window_left_out(w, &w->old.chunks[i]);
    if (!h) return NULL;
    h->lost += w->old.lost;
    h->taken_back += w->old.taken_back;
    prof__window_fill(w, h, *size, c->newest);
    return h;
}

/* Copies the window that begins at the tick w->from of a session for which prof__copy_begin() was called. h: the
   session's header, as it was then. Returns NULL if there is no memory. */
static void *prof__window_copy(prof__window *w, prof__session *s, const prof__header *h, uint64_t taken_back,
                               size_t *size)
{
    prof__copying c;
    void *image = NULL;
    memset(&c, 0, sizeof c);
    prof__source source = PROF__SOURCE(prof__session_read, s);
    w->passing.again = prof__window_again;
    w->passing.pass = prof__window_pass;
    w->passing.place = prof__window_place;
    w->passing.known = prof__window_known;
    w->session = s;
    w->header = h;
    w->slots = (char **)calloc((size_t)h->chunk_count + 1, sizeof *w->slots);
    c.passing = &w->passing;
    w->past = prof__past_enter(s, 1);
    if (w->slots && w->past && prof__chunks_snapshot_of(&c, &source, h))
        image = prof__window_finish(w, &c, taken_back, size);
    if (w->past) prof__past_leave(w->past);
    free(c.chunks);
    prof__window_free(w);
    return image;
}

/*-- THE LAST SECONDS ---------------------------------------------------------------------------------------- >>last --
   Saves a copy of the newest part of the image, marked as the window that readers show, with what reaches into it: see
   >>window. Of a stream, whose older events are in the file's archive, saves a copy of everything. */

/* Returns the tick that is this many seconds before the newest one. Returns 0 if the session is not that old. */
static uint64_t prof__last_tick(const prof__header *h, double seconds)
{
    double ns = seconds * 1e9, age = prof__real(h->last.monotonic_ns - h->first.monotonic_ns);
    if (h->last.monotonic_ns <= h->first.monotonic_ns || !(ns < age)) return 0;
    return h->last.tick - (uint64_t)(ns / age * prof__real(h->last.tick - h->first.tick));
}

/* Sets the window of a trace to its last seconds. Leaves a trace that is shorter as it is. */
static void prof__trace_last(prof_trace *trace, double seconds)
{
    uint64_t tick = prof__last_tick(&trace->header, seconds);
    size_t hint = 0;
    int64_t from = tick ? prof__read_ns(trace, tick, &hint) : 0;
    if (from > 0) prof_trace_set_window(trace, from, 0);
}

/* Why the last seconds are saved. */
typedef struct prof__cause {
    uint64_t from, to; /* begin and end, in ticks, of what took too long; 0: a call or signal asked for the save */
    char text[160];
} prof__cause;

/* A save that prof_save_request_ns() has asked for, on the heap. */
typedef struct prof__asked {
    struct prof__asked *next;
    uint64_t tick; /* when it was asked for */
    double seconds;
    char pattern[1024]; /* the path, with its %-fields */
} prof__asked;

/* Returns the tick at which the window begins: this many seconds before the end of the cause, but not after the begin
   of the cause. Returns 0 for a window from the start on. */
static uint64_t prof__last_from(const prof__header *h, double seconds, const prof__cause *cause)
{
    uint64_t from = prof__last_tick(h, seconds), late;
    if (!cause || !cause->from || !from) return from;
    late = h->last.tick > cause->to ? h->last.tick - cause->to : 0;
    from -= late < from - h->first.tick ? late : from - h->first.tick;
    return from < cause->from ? from : cause->from < h->first.tick ? h->first.tick : cause->from;
}

/* Returns the tick from which on a ring holds every event. Returns 0 if the ring has overwritten nothing. Chunks of
   threads that record nothing for long may be older, but do not count. */
static uint64_t prof__last_held(const prof__session *s)
{
    const prof__header *h = s->header;
    uint64_t first = ~(uint64_t)0, tick = 0, newest = PROF__LOAD(&h->next_chunk), count = PROF__LOAD(&h->chunk_count);
    uint64_t bytes;
    if ((h->mode != PROF_RING && h->mode != PROF_RING_STATS) || !PROF__LOAD(&h->overwritten)) return 0;
    for (uint64_t n = newest - count; !PROF__LOAD(&s->ring.depth) && n < newest; n++) { /* the oldest number first */
        const prof__chunk *chunk = (const prof__chunk *)(const void *)(s->chunks + n % count * s->chunk_size);
        if (PROF__ACQUIRE(&chunk->sequence) == n + 1) return PROF__LOAD(&chunk->base.tick);
    }
    for (uint64_t at = 0; at < count * h->chunk_size; at += bytes) {
        const prof__chunk *chunk = (const prof__chunk *)(const void *)((const char *)h + h->chunk_offset + at);
        uint32_t form = PROF__ACQUIRE(&chunk->form);
        uint64_t sequence = PROF__ACQUIRE(&chunk->sequence), lap = count << PROF__FORM_DEPTH(form);
        bytes = prof__form_bytes(h->chunk_size, at, form);
        if (!sequence || sequence + lap <= newest || sequence >= first) continue;
        first = sequence;
        tick = PROF__LOAD(&chunk->base.tick);
    }
    return tick;
}

/* Returns how many nanoseconds a tick takes. The header must have both pairs of clocks; if it does not, returns 1. */
static double prof__last_rate(const prof__header *h)
{
    if (h->last.tick <= h->first.tick || h->last.monotonic_ns <= h->first.monotonic_ns) return 1;
    return prof__real(h->last.monotonic_ns - h->first.monotonic_ns) / prof__real(h->last.tick - h->first.tick);
}

/* Writes to `to` the cause of a save. Adds what the image no longer holds of the cause, or of the seconds asked for.
   held: see prof__last_held(). newest: the last tick of the image. Returns `to`. */
static char *prof__last_note(char *to, size_t size, const prof__header *h, uint64_t held, uint64_t newest,
                             double ns_per_tick, double seconds, const prof__cause *cause)
{
    uint64_t ticks = newest - h->first.tick;
    double had = held && newest > held ? prof__real(newest - held) * ns_per_tick : 0, wanted = seconds * 1e9;
    char part[48], asked[48], since[48];
    size_t at;
    prof__text_copy(to, size, cause->text);
    at = strlen(to);
    if (prof__real(ticks) * ns_per_tick < wanted) wanted = prof__real(ticks) * ns_per_tick;
    if (!held || had >= wanted) return to;
    prof__human_ns(part, had);
    prof__human_ns(asked, seconds * 1e9);
    prof__human_ns(since, cause->from < held ? prof__real(held - cause->from) * ns_per_tick : 0);
    snprintf(to + at, size - at, "; asked for %s, the buffer held %s%s%s%s", asked, part,
             cause->from && cause->from < held ? ": its begin is gone by " : "",
             cause->from && cause->from < held ? since : "",
             cause->to && cause->to < held ? ", and its end, too" : "");
    return to;
}

/* Adds a key and a value to the metadata of an image in memory. Does nothing if the image has no space for them. */
static void prof__image_note(prof__header *h, const char *key, const char *value)
{
    size_t k = strlen(key) + 1, v = strlen(value) + 1;
    uint64_t words = 1 + (k + v + 7) / 8, used = h->meta_used / 8,
             head = (uint64_t)PROF__META_SESSION << 56 | words << 32;
    uint64_t *record = (uint64_t *)(void *)((char *)h + h->meta_offset) + used;
    if (used + words > h->meta_size / 8) return;
    memset(record, 0, (size_t)words * 8);
    memcpy(record + 1, key, k);
    memcpy((char *)(record + 1) + k, value, v);
    memcpy(record, &head, sizeof head);
    h->meta_used += words * 8;
}

/* Which seconds are saved, where to, and why. */
typedef struct prof__last {
    const char *path; /* the path, after %-fields are expanded */
    double seconds;
    const prof__cause *cause; /* NULL: a call of prof_save_last_ns() */
    uint64_t from, held;      /* ticks: the begin of the window; see prof__last_held() */
} prof__last;

/* Makes a copy of the last seconds: of a ring, only of them. */
static prof_status prof__last_copy(void *user, void **image, size_t *size)
{
    prof__last *last = (prof__last *)user;
    prof__session *s;
    prof__header h;
    uint64_t taken_back;
    *image = NULL;
    prof_status status = prof__copy_begin(&s, &h, &taken_back);
    if (status) return status;
    last->from = prof__last_from(&h, last->seconds, last->cause);
    last->held = last->cause ? prof__last_held(s) : 0;
    int whole = !last->from || !h.chunk_count || h.archive_offset;
    if (!whole) {
        prof__window window;
        memset(&window, 0, sizeof window);
        window.from = last->from;
        *image = prof__window_copy(&window, s, &h, taken_back, size);
        if (!*image) status = prof__no_memory("to save the last seconds");
    }
    prof__copy_end(s);
    if (whole) status = prof__image_copy(image, size);
    if (!status) ((prof__header *)*image)->window_from = last->from;
    return status;
}

/* Saves the last seconds as an image. */
static prof_status prof__last_image(prof__last *last)
{
    void *image;
    size_t size;
    char note[320];
    prof_status status = prof__last_copy(last, &image, &size);
    if (status) return status;
    prof__header *h = (prof__header *)image;
    if (last->cause)
        prof__image_note(h, "save",
                         prof__last_note(note, sizeof note, h, last->held, h->last.tick, prof__last_rate(h),
                                         last->seconds, last->cause));
    status = prof__image_write(last->path, image, size);
    free(image);
    return status;
}

/* Completes a trace of the last seconds: statistics cover the whole run, and the cause becomes metadata. */
static prof_status prof__last_complete(prof_trace *trace, const prof__last *last)
{
    const prof__header *h = &trace->header;
    char note[328] = "save";
    if (trace->info.mode == PROF_STATS) trace->info.from_ns = 0;
    if (!last->cause) return PROF_OK;
    prof__last_note(note + 5, sizeof note - 5, h, last->held, h->last.tick, prof__last_rate(h), last->seconds,
                    last->cause);
    if (prof__device_name(trace, note) == PROF__NONE || prof__device_name(trace, note + 5) == PROF__NONE ||
        !prof__read_metadata(trace, note, note + sizeof note)) /* keeps the copies, not note */
        return prof__fail(PROF_NO_MEMORY, "no memory to save %s", last->path);
    return PROF_OK;
}

/* Saves the last seconds in another format. */
static prof_status prof__last_trace(prof__last *last, const prof_writer *writer)
{
    prof_trace *trace = NULL;
    prof_status status = prof__trace_live_of(&trace, 0, prof__last_copy, last);
    if (!status) status = prof__last_complete(trace, last);
    if (!status) status = prof__write_with(writer, trace, last->path);
    prof_trace_close(trace);
    return status;
}

/* Saves the last seconds in the format that the extension of `path` names. %-fields of `path` are expanded already. */
static prof_status prof__last_save(const char *path, double seconds, const prof__cause *cause)
{
    prof__last last;
    const prof_writer *writer;
    prof_status status = prof__writer_for(path, prof__live_mode(), &writer);
    if (status) return status;
    memset(&last, 0, sizeof last);
    last.path = path;
    last.seconds = seconds;
    last.cause = cause;
    return writer ? prof__last_trace(&last, writer) : prof__last_image(&last);
}

/* Checks the arguments of a function that saves, and expands the path into `expanded`, which has 1024 bytes. */
static prof_status prof__last_asked(const char *function, const char *path, uint64_t last_ns, char *expanded)
{
    if (!path) return prof__null(function, "path");
    if (!last_ns || last_ns > INT64_MAX)
        return prof__fail(PROF_INVALID_ARGUMENT, "%s: last_ns must be more than 0, and below 2^63", function);
    return prof__expand(path, expanded, 1024);
}

/* prof_save_last_ns() */
static prof_status prof__save_last(const char *path, uint64_t last_ns)
{
    PROF__CALM();
    char expanded[1024];
    prof_status status = prof__last_asked("prof_save_last_ns", path, last_ns, expanded);
    if (!status) status = prof__last_save(expanded, (double)last_ns / 1e9, NULL);
    return status ? status : prof__stream_told(expanded);
}
#ifdef PROF_NO_THREAD
/*-- NO STATISTICS --------------------------------------------------------------------------------------------------*/

static prof_status prof__follow_make(prof__session *s, const prof_config *config)
{
    (void)s;
    if (prof__mode_counts((uint32_t)config->mode)) return prof__left_out("mode stats", "PROF_NO_THREAD");
    if (config->save || config->save_over || config->save_signal) return prof__left_out("save", "PROF_NO_THREAD");
    return PROF_OK;
}
static int prof__follow_step(prof__session *s) { return (void)s, 0; }
static void prof__follow_free(struct prof__follow *f)
{
    (void)f;
    prof__past_drop();
}
static prof_status prof__save_arm(const prof__session *s) { return (void)s, PROF_OK; }
static int prof__save_step(prof__session *s) { return (void)s, 0; }
static void prof__save_disarm(void) {}
static prof_status prof__save_asked(void) { return prof__left_out("prof_save_request", "PROF_NO_THREAD"); }
static prof_status prof__save_later(const char *path, uint64_t last_ns)
{
    (void)path, (void)last_ns;
    return prof__left_out("prof_save_request_ns", "PROF_NO_THREAD");
}

/* Called by functions of the reader. They do nothing, because no session of this build has statistics. */
struct prof__aggregated;
static prof_status prof__aggregated_take(struct prof__aggregated *stats, int reset)
{
    (void)stats, (void)reset;
    return PROF_OK;
}
static prof_status prof__aggregated_give(struct prof__aggregated *stats, prof_trace *trace)
{
    (void)stats, (void)trace;
    return PROF_OK;
}
static void prof__aggregated_free(struct prof__aggregated *stats) { (void)stats; }
#else
/*-- FOLLOWER --------------------------------------------------------------------------------------------- >>follow --
   A follower reads, again and again, what threads have recorded since it last looked, while they go on recording. Two
   features need it: PROF_STATS, which keeps statistics but no events, and the triggers that save a trace when a scope
   takes too long. The service's thread runs the follower, and so does prof_trace_open_live(), both under a lock.

   Each pass of a follower has two steps. First it notes how far each chunk has been written, from the newest chunk to
   the oldest. Then it reads the chunks up to there, from the oldest to the newest. So the records that it reads of a
   thread are those that the thread wrote first, without a gap, as in a snapshot.

   A track may move from one thread to another. Then the follower may find the track in a new chunk before it has read
   the end of the track's previous part. The new chunk waits for the next pass, which sees all that was written before.
   If the previous part is still missing then, the chunk also waits for other waiting chunks with earlier records. If
   the part is missing even so, its chunk was reused before it was read: the scopes that were open are given up, and
   count as truncated.

   Scopes are matched by the rules of the reader. These limits bound the memory:
   - PROF__FOLLOW_ROWS names. All others count together, as "(more scopes)".
   - PROF__FOLLOW_DEPTH nested scopes. Deeper scopes are ignored.
   - Twice as many tracks as there are chunks, but at least 256 and at most 65536. The track that was silent for longest
     is dropped first, and its open scopes count as truncated.
   - PROF__FOLLOW_HALVES begins and ends of spans that wait for their counterparts.
   - PROF__FOLLOW_LATE scopes of a track that were closed by the end of an outer scope. If the own end of such a scope
     comes later, the two scopes overlap. */

#define PROF__FOLLOW_ROWS 4096
#define PROF__FOLLOW_DEPTH 4096
#define PROF__FOLLOW_LATE 256  /* must be even: half of them are dropped at once */
#define PROF__FOLLOW_FRAMES 16 /* call sites of PROFILE_FRAME that are followed on one track */
#define PROF__FOLLOW_RULES 16
#define PROF__FOLLOW_NO_BYTES (~(uint64_t)0)
#define PROF__FOLLOW_HALVES 65536 /* begins and ends of spans that wait */
#define PROF__FOLLOW_BUCKETS 8192 /* of the hash table that finds them; a power of two */

typedef struct prof__follow_rule {
    uint64_t ns;
    int frame;
    char pattern[48];
} prof__follow_rule;

typedef struct prof__follow_open {
    prof__begun begun;
    uint64_t bytes; /* of a PROFILE_THROUGHPUT, or PROF__FOLLOW_NO_BYTES */
    uint64_t tick, inside, covered; /* when it began; ticks in scopes inside it; ticks in those of its own row */
    uint32_t row;
} prof__follow_open;

/* A scope that was cut by the end of an outer scope, and so counts as truncated, but whose own end may still come.
   Scopes that one end has cut are adjacent, the outermost first. */
typedef struct prof__follow_late {
    prof__begun begun;
    uint64_t tick, bytes;
    uint64_t shared;       /* ticks that the self time of the enclosing scope gains if the end comes */
    uint32_t row;
    uint32_t enclosing;    /* of the outermost: the row of the scope that ended, 0: not known; else PROF__NONE32 */
} prof__follow_late;

typedef struct prof__follow_boundary {
    uint64_t tick;
    uint32_t row, name;
} prof__follow_boundary;

typedef struct prof__follow_track {
    uint64_t id, number, tick; /* number: the serial of its newest TRACK record; tick: of its newest record */
    uint32_t next;             /* the next with its hash. Numbers of tracks, slots and rows count from 1; 0: none */
    uint32_t newer, older;
    uint32_t slot;             /* the slot to which a thread may still be adding records of this track */
    prof__matching match;         /* of prof__follow_open and prof__follow_late */
    prof__follow_boundary *frames;
    size_t frame_count;
    prof__nested *nested; /* NULL before the first task */
} prof__follow_track;

/* What is known of the chunk in one slot of the ring. prof__follow_place() numbers the slots. */
typedef struct prof__follow_slot {
    uint64_t sequence, done; /* chunks: the one being read, 0: none; the last one read to its end */
    uint64_t expected;       /* the newest chunk that a thread has taken here */
    uint64_t base, track;    /* base: the chunk's first tick; track: the id of the present track, 0: none yet */
    uint64_t waits, tick;    /* waits: the pass in which the wait began, 0: none; tick: of the record that comes next */
    uint64_t left;           /* the pass that first saw the track of the next words go on in another slot; from then
                                on nothing removes these words. 0: no pass has */
    uint32_t at, limit;
    unsigned char active, ended;
} prof__follow_slot;

typedef struct prof__follow_order {
    uint64_t sequence;
    uint32_t slot;
} prof__follow_order;

typedef struct prof__follow_site {
    uint32_t name;   /* the id of a string */
    uint32_t row;
    uint32_t role, unit; /* unit: the id of a string; 0: none */
} prof__follow_site;

/* A begin or an end of a span that waits for its counterpart. Numbers of entries count from 1; 0: none. */
typedef struct prof__follow_half {
    uint64_t id, number, tick; /* number: of a frame; 0: of other spans */
    uint32_t name, role;       /* name: the id of a string */
    uint32_t row;              /* the row of the span, 1: it has none */
    uint32_t track;
    uint32_t next;             /* the next older one in its bucket; of a free entry, the next free one */
    uint32_t newer, older;
    int end;                   /* 1: an end; 0: a begin */
} prof__follow_half;

typedef struct prof__follow_row {
    prof__stat_row sums;  /* times are in ticks, but those of the histogram in nanoseconds */
    char *text;           /* owned: the name, if it was made at run time; else NULL */
    uint32_t site, open;
    const prof__follow_rule *rule;
} prof__follow_row;

typedef struct prof__follow {
    /* Fields that are used most come first, so that their offsets fit into one byte of an instruction. */
    prof__session *session;
    prof__follow_track *tracks;
    prof__follow_slot *slots;
    prof__follow_row *rows; /* the first one counts all that find no space for a row */
    prof__follow_site *sites;
    size_t site_count;
    prof__follow_half *halves;
    uint64_t events;
    uint32_t *active;
    size_t active_count;
    prof__follow_order *order;
    size_t places;         /* the number of elements of slots, active and order */
    uint64_t stride;       /* the number of slots that the ring had at the start */
    double ns_per_tick;
    uint64_t gaps;         /* how many times records were missed */
    int lock, stats;
    uint64_t pass;
    size_t row_count;
    uint64_t seen;         /* how many chunks had been taken when the last pass looked */
    uint64_t process;      /* the process that may use and free this; not its child after a fork */
    uint64_t *words, *again;
    uint32_t *buckets, bucket_mask, track_count, track_limit, newest, oldest;
    size_t meta_at;        /* how many words of the metadata were read */
    uint32_t *strings;     /* of each string id: where the string is in the metadata, in words */
    size_t string_count, string_capacity;
    size_t site_capacity, row_capacity;
    prof__read_index row_index;
    size_t half_count, half_capacity;
    uint32_t *half_buckets, half_free, half_newest, half_oldest;
    uint64_t begins_missing, ends_missing; /* of spans that no longer wait */
    uint64_t lost, unmatched, newest_tick;
    prof__uses uses;
    prof__follow_rule rules[PROF__FOLLOW_RULES];
    size_t rule_count;
    char save[1024];       /* a copy of config.save */
    double last_seconds;
    uint64_t every_ns, saved_at;
    uint64_t saves;
    int triggered, signal;
    prof__cause cause;     /* why a save is due; an empty text: none is */
    int saves_here;        /* 1: prof's thread keeps up with the recording and saves it; see prof__config_saves() */
    prof__asked *asked;    /* what prof_save_request_ns() asked for, the newest first; under the lock of the state */
} prof__follow;

/*-- names and rows --*/

/* Reads the metadata that were added since the last call: strings and call sites. Returns 0 without memory. */
static int prof__follow_meta(prof__follow *f)
{
    const prof__session *s = f->session;
    for (;;) {
        const uint64_t *record = s->meta + f->meta_at;
        uint64_t head = f->meta_at < s->meta_words ? PROF__ACQUIRE(record) : 0;
        uint32_t id = (uint32_t)head, words = (uint32_t)(head >> 32 & 0xFFFFFF);
        if (!(head >> 56) || !words || words > s->meta_words - f->meta_at) return 1;
        if (head >> 56 == PROF__META_STRING) {
            while (f->string_count <= id)
                if (!PROF__MORE(f->strings, f->string_capacity, f->string_count)) return 0;
            f->strings[id] = (uint32_t)f->meta_at + 1;
        } else if (head >> 56 == PROF__META_SITE) {
            while (f->site_count <= id)
                if (!PROF__MORE(f->sites, f->site_capacity, f->site_count)) return 0;
            f->sites[id].name = (uint32_t)record[1];
            if (words > 4) f->sites[id].role = (uint32_t)(record[4] >> 32) >> PROF__ROLE_SHIFT;
            if (words > 5) f->sites[id].unit = (uint32_t)record[5];
        }
        f->meta_at += words;
    }
}

/* Returns a call site whose metadata have not been read yet: reads them first. Returns NULL if there is none. */
static prof__follow_site *prof__follow_site_new(prof__follow *f, uint32_t id)
{
    return prof__follow_meta(f) && id < f->site_count ? &f->sites[id] : NULL;
}

/* Returns a call site. Returns NULL if it is not known. */
static prof__follow_site *prof__follow_site_of(prof__follow *f, uint32_t id)
{
    if (PROF__UNLIKELY(id >= f->site_count)) return prof__follow_site_new(f, id);
    return &f->sites[id];
}

static const char *prof__follow_name(const prof__follow *f, uint32_t id)
{
    return id && id < f->string_count && f->strings[id] ? (const char *)(f->session->meta + f->strings[id]) : "";
}

/* Returns the rule with the shortest time that applies to a scope, or frame, of this name. Returns NULL if none
   does. */
static const prof__follow_rule *prof__follow_rule_of(const prof__follow *f, int frame, const char *name)
{
    const prof__follow_rule *found = NULL;
    for (size_t i = 0; i < f->rule_count; i++)
        if (f->rules[i].frame == frame && prof__match(f->rules[i].pattern, name) &&
            (!found || f->rules[i].ns < found->ns))
            found = &f->rules[i];
    return found;
}

/* Adds a row, and returns its number. Returns 1 if there is no space. text: the name, if made at run time; else
   NULL. */
static uint32_t prof__follow_add(prof__follow *f, uint32_t site, prof_event_type type, const char *name,
                                 const char *text)
{
    if (f->row_count >= PROF__FOLLOW_ROWS) return 1;
    char *copy = text ? prof__text_join(text, "") : NULL;
    prof__follow_row *row =
        text && !copy ? NULL : (prof__follow_row *)PROF__MORE(f->rows, f->row_capacity, f->row_count);
    if (!row) {
        free(copy);
        return 1;
    }
    row->sums.type = type;
    row->site = site;
    row->text = copy;
    if (type == PROF_EVENT_SCOPE || type == PROF_EVENT_FRAME)
        row->rule = prof__follow_rule_of(f, type == PROF_EVENT_FRAME, text ? text : name);
    return (uint32_t)f->row_count;
}

typedef struct prof__follow_key {
    const char *text;
    uint32_t site;
} prof__follow_key;

static int prof__follow_same(const void *owner, size_t item, const void *key)
{
    const prof__follow_row *row = (const prof__follow_row *)owner + item;
    const prof__follow_key *wanted = (const prof__follow_key *)key;
    return row->site == wanted->site && !strcmp(row->text, wanted->text);
}

static uint32_t prof__follow_row_named(prof__follow *f, uint32_t id, prof_event_type type, const char *text)
{
    prof__follow_key key;
    key.text = text;
    key.site = id;
    uint32_t hash = prof__text_hash(text) + (uint32_t)prof__mix(id);
    size_t item = prof__read_find(&f->row_index, hash, prof__follow_same, f->rows, &key);
    if (item != PROF__NONE) return (uint32_t)item + 1;
    if (!prof__read_reserve(&f->row_index, 1)) return 1;
    uint32_t number = prof__follow_add(f, id, type, "", text);
    if (number > 1) prof__read_put(&f->row_index, hash, number);
    return number;
}

/* Returns the row of a call site. A site without a name has a row for each name made at run time, which is `text`. */
static uint32_t prof__follow_row_of(prof__follow *f, uint32_t id, prof_event_type type, const char *text)
{
    prof__follow_site *site = prof__follow_site_of(f, id);
    const char *name = site ? prof__follow_name(f, site->name) : "";
    if (!site) return 1;
    if (!name[0] && text) return prof__follow_row_named(f, id, type, text);
    if (!site->row) site->row = prof__follow_add(f, id, type, name, NULL);
    return site->row;
}

/*-- triggers --*/

/* Writes a time as in "16.7 ms", without trailing zeros. */
static void prof__follow_ns_text(char *to, double ns)
{
    prof__human_ns(to, ns);
    char *unit = strchr(to, ' '), *end = unit;
    if (!strchr(to, '.')) return;
    while (end[-1] == '0') end--;
    if (end[-1] == '.') end--;
    memmove(end, unit, strlen(unit) + 1);
}

/* Sets the cause of a save: a scope or frame took longer than its rule allows. */
static void prof__follow_over(prof__follow *f, const prof__follow_row *row, double ns, uint64_t from, uint64_t to)
{
    const prof__follow_site *site = prof__follow_site_of(f, row->site);
    char took[48], limit[48];
    uint64_t now = prof__monotonic();
    if (f->cause.text[0] || (f->triggered && (!f->every_ns || now - f->saved_at < f->every_ns))) return;
    f->triggered = 1;
    f->saved_at = now;
    prof__follow_ns_text(took, ns);
    prof__follow_ns_text(limit, (double)row->rule->ns);
    f->cause.from = from;
    f->cause.to = to;
    snprintf(f->cause.text, sizeof f->cause.text, "%.60s %s > %s",
             row->text ? row->text
             : site    ? prof__follow_name(f, site->name)
                       : "",
             took, limit);
}

/*-- scopes --*/

static prof__follow_row *prof__follow_at(prof__follow *f, uint32_t number) { return &f->rows[number - 1]; }

/* Adds a duration that ended at the tick `to`, and checks it against the row's rule. */
static void prof__follow_time(prof__follow *f, prof__follow_row *row, uint64_t to, uint64_t ticks)
{
    double ns = (double)ticks * f->ns_per_tick;
    if (row->rule && ns > (double)row->rule->ns) prof__follow_over(f, row, ns, to - ticks, to);
    if (f->stats) prof__stat_row_time(&row->sums, ticks, (uint64_t)(ns + 0.5));
}

static prof__follow_open *prof__follow_opened(prof__follow_track *t, size_t at)
{
    return (prof__follow_open *)t->match.open + at;
}

/* Closes the innermost open scope of a track. whole: 1: at its own end; 0: it counts as truncated. */
static void prof__follow_pop(prof__follow *f, prof__follow_track *t, int whole)
{
    size_t i = --t->match.depth;
    const prof__follow_open *open = prof__follow_opened(t, i);
    prof__follow_row *row = prof__follow_at(f, open->row);
    prof_stat *stat = &row->sums.stat;
    uint64_t ticks = t->tick - open->tick, covered = whole ? ticks : open->covered;
    row->open--;
    if (i) prof__follow_opened(t, i - 1)->inside += ticks;
    stat->count++;
    if (!whole) stat->truncated++;
    if (whole) prof__stat_row_alone(&row->sums, (int64_t)(ticks - open->inside));
    if (whole) prof__follow_time(f, row, t->tick, ticks);
    if (whole && open->bytes != PROF__FOLLOW_NO_BYTES)
        prof__stat_row_bytes(&row->sums, open->bytes, (double)ticks * f->ns_per_tick);
    if (row->open) /* an open call of this row may enclose this one, and then covers its time */
        while (i && prof__follow_opened(t, i - 1)->row != open->row) i--;
    if (row->open && i)
        prof__follow_opened(t, i - 1)->covered += covered;
    else
        stat->total_ns += covered;
}

/* Makes room for more open scopes. Without memory, and beyond PROF__FOLLOW_DEPTH, there is none. */
static void prof__follow_deeper(prof__follow_track *t)
{
    size_t wanted = t->match.open_room ? t->match.open_room * 2 : 16;
    void *larger = wanted > PROF__FOLLOW_DEPTH ? NULL : realloc(t->match.open, wanted * sizeof(prof__follow_open));
    if (!larger) return;
    t->match.open = larger;
    t->match.open_room = wanted;
}

static void prof__follow_begin(prof__follow *f, prof__follow_track *t, uint32_t id, const char *text)
{
    const prof__follow_site *site = prof__follow_site_of(f, id);
    if (t->match.depth == t->match.open_room) prof__follow_deeper(t);
    prof__follow_open *open = (prof__follow_open *)(void *)prof__matching_begin(
        &t->match, sizeof(prof__follow_open), id, site ? site->name : 0);
    if (!open) return;
    open->tick = t->tick;
    open->inside = open->covered = 0;
    open->bytes = PROF__FOLLOW_NO_BYTES;
    open->row = prof__follow_row_of(f, id, PROF_EVENT_SCOPE, text);
    prof__follow_at(f, open->row)->open++;
}

/* Reads an argument of the innermost scope. Keeps the bytes of a PROFILE_THROUGHPUT; no other argument is counted. */
static void prof__follow_arg(prof__follow *f, prof__follow_track *t, const uint64_t *record)
{
    prof__follow_open *open =
        t->match.depth && !t->match.beyond ? prof__follow_opened(t, t->match.depth - 1) : NULL;
    const prof__follow_site *site, *key;
    const char *unit;
    if (!open || record[0] & (PROF__ARG_KEY | PROF__ARG_TO)) return;
    site = prof__follow_site_of(f, open->begun.site);
    if (!site || site->role != PROF_ROLE_THROUGHPUT) return;
    if ((record[0] >> 32 & 0xFF) != PROF_VALUE_UINT || !(record[0] & 0xFFFF)) return;
    key = prof__follow_site_of(f, prof__read_id(record[0]));
    unit = site->unit ? prof__follow_name(f, site->unit) : "bytes";
    if (key && !strcmp(prof__follow_name(f, key->name), unit)) open->bytes = record[1];
}

/* Closes the open scopes from `at` on, which the end of an outer scope cuts. enclosing: the row of the outer scope, 0:
   not known. Without memory, their own ends, if they come, are not recognised. */
static void prof__follow_cut(prof__follow *f, prof__follow_track *t, size_t at, uint32_t enclosing)
{
    size_t i, first;
    if (!t->match.cut) {
        t->match.cut = calloc(PROF__FOLLOW_LATE, sizeof(prof__follow_late));
        t->match.cut_room = PROF__FOLLOW_LATE;
    }
    first = prof__matching_cut(&t->match, sizeof(prof__follow_open), sizeof(prof__follow_late), at);
    for (i = at; first + (i - at) < t->match.cut_count; i++) {
        prof__follow_late *late = (prof__follow_late *)t->match.cut + first + (i - at);
        const prof__follow_open *open = prof__follow_opened(t, i);
        uint64_t inside = open->inside;
        if (i + 1 < t->match.depth) inside += t->tick - open[1].tick; /* as of now, when it is closed */
        late->tick = open->tick;
        late->bytes = open->bytes;
        late->shared = t->tick - late->tick > inside ? t->tick - late->tick - inside : 0;
        late->row = open->row;
        late->enclosing = i == at ? enclosing : PROF__NONE32;
    }
    while (t->match.depth > at) prof__follow_pop(f, t, 0);
}

/* Adds the time for which a scope has overlapped another one to the self time of the scope that encloses both. */
static void prof__follow_share(prof__follow *f, prof__follow_late *late, size_t at)
{
    uint64_t shared = late[at].shared;
    while (at && late[at].enclosing == PROF__NONE32)
        if (late[--at].begun.site != PROF__NONE32) { /* passes the time on if its own end comes */
            late[at].shared += shared;
            return;
        }
    if (late[at].enclosing && late[at].enclosing != PROF__NONE32)
        prof__follow_at(f, late[at].enclosing)->sums.stat.self_ns += shared;
}

/* Ends a scope that the end of an outer scope had cut. */
static void prof__follow_end_late(prof__follow *f, prof__follow_track *t, size_t at)
{
    prof__follow_late *late = (prof__follow_late *)t->match.cut + at;
    prof__follow_row *row = prof__follow_at(f, late->row);
    prof_stat *stat = &row->sums.stat;
    uint64_t ticks = t->tick - late->tick;
    f->events++; /* the reader makes two events of an overlapping scope */
    if (stat->truncated)
        stat->truncated--;
    else
        stat->count++; /* it counted as truncated before a reset */
    stat->self_ns += ticks;
    stat->total_ns += ticks;
    prof__follow_time(f, row, t->tick, ticks);
    if (late->bytes != PROF__FOLLOW_NO_BYTES)
        prof__stat_row_bytes(&row->sums, late->bytes, (double)ticks * f->ns_per_tick);
    prof__follow_share(f, (prof__follow_late *)t->match.cut, at);
    prof__matching_took(&t->match, sizeof(prof__follow_late), at);
}

/* Ends a scope that began before the records that are left, and so enclosed all that is open. */
static void prof__follow_end_before(prof__follow *f, prof__follow_track *t, uint32_t id)
{
    prof_stat *stat = &prof__follow_at(f, prof__follow_row_of(f, id, PROF_EVENT_SCOPE, NULL))->sums.stat;
    if (t->match.depth) prof__follow_cut(f, t, 0, 0);
    stat->count++;
    stat->truncated++;
    f->events++;
}

/* Handles an END whose site has neither an open scope nor one that was cut: its name may have an open one. */
static prof__ending prof__follow_end_named(prof__follow *f, prof__follow_track *t, uint32_t id, prof__ending ending,
                                           size_t *at)
{
    const prof__follow_site *site = prof__follow_site_of(f, id);
    int named = site && prof__matching_named(&t->match, sizeof(prof__follow_open), site->name, at);
    return named ? PROF__ENDS_OPEN : ending;
}

static void prof__follow_end(prof__follow *f, prof__follow_track *t, uint32_t id)
{
    size_t at = 0;
    prof__ending ending =
        prof__matching_end(&t->match, sizeof(prof__follow_open), sizeof(prof__follow_late), id, &at);
    if (PROF__UNLIKELY(ending == PROF__ENDS_NOTHING || ending == PROF__ENDS_BEFORE))
        ending = prof__follow_end_named(f, t, id, ending, &at);
    switch (ending) {
    case PROF__ENDS_OPEN:
        if (PROF__UNLIKELY(at + 1 < t->match.depth)) prof__follow_cut(f, t, at + 1, prof__follow_opened(t, at)->row);
        prof__follow_pop(f, t, 1);
        break;
    case PROF__ENDS_CUT: prof__follow_end_late(f, t, at); break;
    case PROF__ENDS_BEFORE: prof__follow_end_before(f, t, id); break;
    case PROF__ENDS_NOTHING: f->unmatched++; break;
    case PROF__ENDS_BEYOND:
    default: break;
    }
}

/* Closes all open scopes of a track, because the records with their ends are missing. */
static void prof__follow_give_up(prof__follow *f, prof__follow_track *t)
{
    while (t->match.depth) prof__follow_pop(f, t, 0);
    t->match.beyond = t->match.cut_count = t->frame_count = 0;
    if (t->nested) t->nested->count = 0;
    t->match.partial = 1;
}

/* Handles the boundary of a frame. A frame is the time since the previous boundary with that name, on any call site of
   the track. The first boundary of a call site only begins a frame. */
static void prof__follow_frame(prof__follow *f, prof__follow_track *t, uint32_t id)
{
    const prof__follow_site *site = prof__follow_site_of(f, id);
    uint32_t number = prof__follow_row_of(f, id, PROF_EVENT_FRAME, NULL), name = site ? site->name : 0;
    prof__follow_boundary *own = NULL, *before = NULL;
    if (number == 1) return;
    for (size_t i = 0; i < t->frame_count; i++) {
        if (t->frames[i].row == number) own = &t->frames[i];
        if (t->frames[i].name == name && (!before || t->frames[i].tick >= before->tick)) before = &t->frames[i];
    }
    if (own) {
        prof__follow_row *row = prof__follow_at(f, number);
        row->sums.stat.count++;
        prof__follow_time(f, row, t->tick, t->tick - before->tick);
    } else {
        if (!t->frames) t->frames = (prof__follow_boundary *)calloc(PROF__FOLLOW_FRAMES, sizeof *t->frames);
        if (!t->frames || t->frame_count == PROF__FOLLOW_FRAMES) return;
        own = &t->frames[t->frame_count++];
        own->row = number;
        own->name = name;
    }
    own->tick = t->tick;
}

static void prof__follow_counter(prof__follow *f, uint32_t id, const uint64_t *record, uint64_t tick)
{
    uint32_t number = f->stats ? prof__follow_row_of(f, id, PROF_EVENT_COUNTER, NULL) : 1;
    prof__stat_row *row = &prof__follow_at(f, number)->sums;
    unsigned type = prof__record_holds(record[0]);
    double value = type == PROF_VALUE_UINT ? prof__real(record[1]) : (double)(int64_t)record[1];
    if (number == 1) return;
    if (type == PROF_VALUE_DOUBLE) memcpy(&value, &record[1], sizeof value);
    prof__stat_row_last(row, value, (int64_t)tick);
    prof__stat_row_value(row, value);
}

/*-- spans --*/

static uint32_t *prof__follow_half_bucket(prof__follow *f, const prof__follow_half *half)
{
    return &f->half_buckets[prof__mix(half->id + half->name) & (PROF__FOLLOW_BUCKETS - 1)];
}

static prof__follow_half prof__follow_half_remove(prof__follow *f, uint32_t number)
{
    prof__follow_half half = f->halves[number - 1];
    uint32_t *link = prof__follow_half_bucket(f, &half);
    while (*link != number) link = &f->halves[*link - 1].next;
    *link = half.next;
    *(half.newer ? &f->halves[half.newer - 1].older : &f->half_newest) = half.older;
    *(half.older ? &f->halves[half.older - 1].newer : &f->half_oldest) = half.newer;
    f->halves[number - 1].next = f->half_free;
    f->half_free = number;
    return half;
}

/* Counts a begin without an end, or an end without a begin, as a truncated span. Incomplete frames do not count. */
static void prof__follow_half_lone(prof__follow *f, const prof__follow_half *half)
{
    prof__stat_row *row = &prof__follow_at(f, half->row)->sums;
    *(half->end ? &f->begins_missing : &f->ends_missing) += 1;
    if (half->row == 1 || row->type == PROF_EVENT_FRAME) return;
    row->stat.count++;
    row->stat.truncated++;
}

/* Gives up the entry that has waited for longest. The entry becomes the first free one. */
static void prof__follow_half_drop(prof__follow *f)
{
    prof__follow_half given_up = prof__follow_half_remove(f, f->half_oldest);
    prof__follow_half_lone(f, &given_up);
}

static void prof__follow_half_add(prof__follow *f, const prof__follow_half *half)
{
    uint32_t number = f->half_free, *bucket;
    if (!f->half_buckets) f->half_buckets = (uint32_t *)calloc(PROF__FOLLOW_BUCKETS, sizeof *f->half_buckets);
    if (!number && f->half_count < PROF__FOLLOW_HALVES && f->half_buckets &&
        PROF__ROOM(f->halves, f->half_capacity, f->half_count))
        number = (uint32_t)++f->half_count;
    else if (number)
        f->half_free = f->halves[number - 1].next;
    if (!number && f->half_oldest && !half->end) { /* an end more often lost its counterpart */
        prof__follow_half_drop(f);
        number = f->half_free;
        f->half_free = f->halves[number - 1].next;
    }
    if (!number) {
        prof__follow_half_lone(f, half);
        return;
    }
    f->halves[number - 1] = *half;
    bucket = prof__follow_half_bucket(f, half);
    f->halves[number - 1].next = *bucket;
    *bucket = number;
    f->halves[number - 1].older = f->half_newest;
    f->halves[number - 1].newer = 0;
    *(f->half_newest ? &f->halves[f->half_newest - 1].newer : &f->half_oldest) = number;
    f->half_newest = number;
}

/* Returns the matching begin or end that is nearest in time. Returns 0 if none was read yet. */
static uint32_t prof__follow_half_find(prof__follow *f, const prof__follow_half *half)
{
    uint32_t best = 0, number = f->half_buckets ? *prof__follow_half_bucket(f, half) : 0;
    uint64_t nearest = 0;
    for (; number; number = f->halves[number - 1].next) {
        const prof__follow_half *other = &f->halves[number - 1];
        uint64_t ticks = half->end ? half->tick - other->tick : other->tick - half->tick;
        if (other->end == half->end || other->id != half->id || other->name != half->name ||
            other->role != half->role || other->number != half->number || (int64_t)ticks < 0 ||
            (best && ticks >= nearest))
            continue;
        best = number;
        nearest = ticks;
    }
    return best;
}

/* Returns the ticks of a span. For a task that begins and ends on one thread, leaves out the tasks inside it. */
static uint64_t prof__follow_alone(prof__follow_track *t, const prof__follow_half *begin, const prof__follow_half *end)
{
    uint64_t ticks = end->tick - begin->tick;
    if (begin->role != PROF_ROLE_TASK || begin->track != end->track) return ticks;
    if (!t->nested) t->nested = (prof__nested *)calloc(1, sizeof *t->nested);
    return t->nested ? prof__nested_add(t->nested, (int64_t)begin->tick, ticks) : ticks;
}

static void prof__follow_span_time(prof__follow *f, prof__follow_track *t, const prof__follow_half *begin,
                                   const prof__follow_half *end)
{
    uint32_t number = begin->row;
    uint64_t from = begin->tick, to = end->tick;
    prof__follow_row *row = prof__follow_at(f, number);
    prof_stat *stat = &row->sums.stat;
    if (number == 1) return;
    stat->count++;
    if (row->sums.type != PROF_EVENT_FRAME) stat->self_ns += prof__follow_alone(t, begin, end);
    prof__follow_time(f, row, to, to - from);
}

/* Reads the begin or the end of a span. Records of different threads are not read in order of time. So whichever of the
   two is read first, begin or end, waits for the other. */
static void prof__follow_span(prof__follow *f, prof__follow_track *t, uint32_t id, const uint64_t *record)
{
    const prof__follow_site *site = prof__follow_site_of(f, id);
    unsigned type = prof__read_event_type(record);
    prof__follow_half half;
    uint32_t other;
    if (!site || (type != PROF_EVENT_SPAN_BEGIN && type != PROF_EVENT_SPAN_END)) return;
    /* Without statistics, only rules matter, and frames are the only spans with rules. */
    if (!f->stats && site->role != PROF_ROLE_FRAME) return;
    memset(&half, 0, sizeof half);
    half.id = record[2];
    half.tick = t->tick;
    half.track = (uint32_t)(t - f->tracks);
    half.name = site->name;
    half.role = site->role;
    half.number = site->role == PROF_ROLE_FRAME ? record[1] >> 8 : 0;
    half.end = type == PROF_EVENT_SPAN_END;
    half.row =
        prof__follow_row_of(f, id, half.role == PROF_ROLE_FRAME ? PROF_EVENT_FRAME : PROF_EVENT_SPAN_BEGIN, NULL);
    other = prof__follow_half_find(f, &half);
    if (!other) {
        prof__follow_half_add(f, &half);
        return;
    }
    prof__follow_half found = prof__follow_half_remove(f, other);
    if (half.end)
        prof__follow_span_time(f, t, &found, &half);
    else
        prof__follow_span_time(f, t, &half, &found);
}

/* Counts the use of a name made at run time: with a format, or as a text. */
static void prof__follow_named(prof__follow *f, uint32_t id)
{
    const prof__follow_site *site = prof__follow_site_of(f, id);
    ++*(site && *prof__follow_name(f, site->name) ? &f->uses.formats : &f->uses.texts);
}

/* Reads a record. base: the tick of the chunk; left: how many words of the chunk follow the record's first word. */
static void prof__follow_record(prof__follow *f, prof__follow_track *t, uint64_t base, uint64_t *record, size_t left)
{
    uint64_t head = record[0];
    unsigned kind = prof__read_kind(head);
    uint32_t id = prof__read_id(head);
    const char *text = NULL;
    if (prof__record_timed(head)) t->tick = prof__read_tick(base, head, t->tick);
    if (t->tick > f->newest_tick) f->newest_tick = t->tick;
    int event = prof__read_shown(record);
    f->events += (uint64_t)event;
    int object = event && kind == PROF__KIND_EVENT && prof__read_event_type(record) != PROF_EVENT_LOG;
    f->uses.objects += (uint64_t)object;
    f->uses.marks += (uint64_t)(event && !object && kind != PROF__KIND_BEGIN && kind != PROF__KIND_LOST);
    f->uses.values += kind == PROF__KIND_ARG ? 2 : kind == PROF__KIND_DATA;
    switch (kind) {
    case PROF__KIND_BEGIN:
        if (left && prof__read_kind(record[1]) == PROF__KIND_NAME) {
            size_t words = prof__record_words(record[1], left);
            if (words > 1) ((char *)(record + 1 + words))[-1] = 0;
            if (words > 1) text = (const char *)(record + 2);
        }
        prof__follow_begin(f, t, id, text);
        if (text) prof__follow_named(f, id);
        break;
    case PROF__KIND_END: prof__follow_end(f, t, id); break;
    case PROF__KIND_ARG: prof__follow_arg(f, t, record); break;
    case PROF__KIND_FRAME:
        prof__follow_frame(f, t, id);
        f->uses.values -= prof__read_frame_data(record, left + 1) != NULL; /* a frame's number is no value */
        break;
    case PROF__KIND_COUNTER_INT:
    case PROF__KIND_COUNTER_UINT:
    case PROF__KIND_COUNTER_DOUBLE: prof__follow_counter(f, id, record, t->tick); break;
    case PROF__KIND_EVENT: prof__follow_span(f, t, id, record); break;
    case PROF__KIND_LOST: f->lost += head & PROF__TICK_MASK; break;
    default: break;
    }
}

/*-- tracks --*/

static void prof__follow_unlink(prof__follow *f, uint32_t number)
{
    prof__follow_track *t = &f->tracks[number - 1];
    *(t->newer ? &f->tracks[t->newer - 1].older : &f->newest) = t->older;
    *(t->older ? &f->tracks[t->older - 1].newer : &f->oldest) = t->newer;
}

static void prof__follow_link(prof__follow *f, uint32_t number)
{
    prof__follow_track *t = &f->tracks[number - 1];
    t->newer = 0;
    t->older = f->newest;
    *(f->newest ? &f->tracks[f->newest - 1].newer : &f->oldest) = number;
    f->newest = number;
}

static uint32_t *prof__follow_bucket(prof__follow *f, uint64_t id)
{
    return &f->buckets[(uint32_t)prof__mix(id) & f->bucket_mask];
}

static uint32_t prof__follow_find(prof__follow *f, uint64_t id)
{
    uint32_t number = *prof__follow_bucket(f, id);
    while (number && f->tracks[number - 1].id != id) number = f->tracks[number - 1].next;
    return number;
}

static void prof__follow_forget(prof__follow *f, uint32_t number)
{
    prof__follow_track *t = &f->tracks[number - 1];
    uint32_t *link = prof__follow_bucket(f, t->id);
    prof__follow_give_up(f, t);
    while (*link != number) link = &f->tracks[*link - 1].next;
    *link = t->next;
    prof__follow_unlink(f, number);
    f->gaps++; /* if the track goes on, the records up to there may be incomplete */
}

/* Adds a track that is new, or that was dropped before. */
static uint32_t prof__follow_meet(prof__follow *f, uint64_t id)
{
    int partial = f->gaps != 0;
    uint32_t number = f->track_count < f->track_limit ? ++f->track_count : f->oldest;
    prof__follow_track *t = &f->tracks[number - 1];
    if (number == f->oldest && t->id) prof__follow_forget(f, number);
    t->id = id;
    t->number = t->tick = 0;
    t->slot = 0;
    t->match.partial = partial;
    t->next = *prof__follow_bucket(f, id);
    *prof__follow_bucket(f, id) = number;
    prof__follow_link(f, number);
    return number;
}

static prof__follow_track *prof__follow_use(prof__follow *f, uint64_t id)
{
    uint32_t number = prof__follow_find(f, id);
    if (!number) number = prof__follow_meet(f, id);
    if (f->newest != number) {
        prof__follow_unlink(f, number);
        prof__follow_link(f, number);
    }
    return &f->tracks[number - 1];
}

/* Ends the part of a track that is in a slot: no more records of that track follow there. */
static void prof__follow_part_ends(prof__follow *f, uint32_t slot)
{
    uint32_t number = f->slots[slot].track ? prof__follow_find(f, f->slots[slot].track) : 0;
    if (number && f->tracks[number - 1].slot == slot + 1) f->tracks[number - 1].slot = 0;
    f->slots[slot].track = 0;
}

/* Reads a TRACK record, with which the next part of a track begins in a slot. Returns NULL if the track's previous part
   may not have been read yet: then the slot has to wait.
   patient: 1 if the slot has waited already, and no other slot can be read further. Then the previous part is taken as
   complete, although its thread had no space to record the end, or as missing. BEGIN records at the end of a complete
   part are read in the next pass, before this record: once the track has left a slot, nothing removes them. */
static prof__follow_track *prof__follow_switch(prof__follow *f, uint32_t slot, const uint64_t *record, int patient)
{
    uint64_t id = prof__track_id(record), number = prof__track_serial(record);
    uint32_t known = prof__follow_find(f, id);
    prof__follow_track *t = known ? &f->tracks[known - 1] : NULL;
    uint64_t ahead = number - (t ? t->number : 0); /* serials begin with 1 */
    if (t && t->slot && t->slot != slot + 1) {
        uint64_t *left = &f->slots[t->slot - 1].left;
        if (!*left) *left = f->pass;
        if (!patient || *left == f->pass) return NULL;
    }
    if (!patient && ahead > 1) return NULL;
    t = prof__follow_use(f, id);
    if (ahead > 1) {
        f->gaps++;
        prof__follow_give_up(f, t);
    }
    t->number = number;
    if (f->slots[slot].track != id) prof__follow_part_ends(f, slot);
    f->slots[slot].track = id;
    f->slots[slot].left = 0;
    t->slot = slot + 1;
    return t;
}

/*-- passes --*/

/* Makes the arrays large enough for slots that were halved `depth` times. Returns 0 without memory. */
static int prof__follow_places(prof__follow *f, uint32_t depth)
{
    size_t places = (size_t)f->stride << depth;
    if (places <= f->places) return 1;
    void *slots = realloc(f->slots, places * sizeof *f->slots);
    if (slots) f->slots = (prof__follow_slot *)slots;
    void *active = realloc(f->active, places * sizeof *f->active);
    if (active) f->active = (uint32_t *)active;
    void *order = realloc(f->order, places * sizeof *f->order);
    if (order) f->order = (prof__follow_order *)order;
    if (!slots || !active || !order) return 0;
    memset(f->slots + f->places, 0, (places - f->places) * sizeof *f->slots);
    f->places = places;
    return 1;
}

/* Returns the number of the slot that a chunk is in. Numbers do not change when slots are split: the first chunk of a
   slot keeps its number, and each further part gets a number that is larger by a multiple of f->stride. Laps of a ring
   visit the parts in this order: see prof__chunk_at(). */
static uint32_t prof__follow_place(const prof__follow *f, const prof__chunk *chunk)
{
    uint64_t offset = (uint64_t)((const char *)chunk - f->session->chunks), size = f->session->chunk_size;
    uint64_t place = offset / size, rest = offset % size, round = f->stride;
    for (; rest; round *= 2) {
        size /= 2;
        if (rest < size) continue;
        rest -= size;
        place += round;
    }
    return (uint32_t)place;
}

static prof__chunk *prof__follow_chunk(const prof__follow *f, uint32_t place)
{
    uint64_t size = f->session->chunk_size, offset = place % f->stride * size;
    for (uint64_t rounds = place / f->stride; rounds; rounds /= 2) {
        size /= 2;
        if (rounds % 2) offset += size;
    }
    return (prof__chunk *)(void *)(f->session->chunks + offset);
}

/* Returns up to which word a chunk has whole records that will stay. If the session has a minimum duration, the BEGIN
   records at the end may still be removed, and so do not count. */
static uint32_t prof__follow_limit(const prof__follow *f, uint32_t slot)
{
    const prof__session *s = f->session;
    const uint64_t *words = prof__chunk_first(prof__follow_chunk(f, slot));
    size_t at = f->slots[slot].at, safe = at, length, count = (size_t)prof__words_of(s, prof__follow_chunk(f, slot));
    int keeps = !s->min_ticks || f->slots[slot].ended || PROF__ACQUIRE(&s->header->state) == PROF__STOPPED, begins = 0;
    int left = f->slots[slot].left != 0;
    for (; at < count; at += length) {
        uint64_t head = PROF__ACQUIRE(words + at);
        length = prof__record_words(head, count - at);
        if (!length) break;
        if (prof__read_kind(head) != PROF__KIND_NAME) begins = prof__read_kind(head) == PROF__KIND_BEGIN;
        if (prof__read_kind(head) == PROF__KIND_TRACK) left = 0;
        if (keeps || left || !begins) safe = at + length;
    }
    return (uint32_t)safe;
}

/* Gives up a chunk that was reused before all of it was read. */
static void prof__follow_missed(prof__follow *f, uint32_t slot)
{
    prof__follow_part_ends(f, slot);
    f->slots[slot].sequence = 0;
    f->slots[slot].waits = 0;
    f->gaps++;
}

/* Copies the words of a slot that are to be read to f->words. Returns 0 if the chunk has been reused meanwhile. */
static size_t prof__follow_copy(prof__follow *f, uint32_t slot)
{
    const prof__follow_slot *it = &f->slots[slot];
    prof__chunk *chunk = prof__follow_chunk(f, slot);
    uint64_t *words = prof__chunk_first(chunk) + it->at;
    size_t count = it->limit - it->at;
    prof__memory_read(words, 0, f->words, count * sizeof *words);
    if (f->session->min_ticks) {
        prof__memory_read(words, 0, f->again, count * sizeof *words);
        prof__chunk_cut(f->words, f->again, count);
    }
    return PROF__ACQUIRE(&chunk->sequence) == it->sequence ? count : 0;
}

/* Returns the time of the first record that has one. Returns ~0 if none has. */
static uint64_t prof__follow_tick_at(uint64_t base, const uint64_t *words, size_t count)
{
    size_t at, length;
    for (at = 0; at < count && (length = prof__record_length(words[at], count - at)) != 0; at += length)
        if (prof__record_timed(words[at])) return prof__read_tick(base, words[at], 0);
    return ~(uint64_t)0;
}

/* Reads a slot up to its limit, or up to a TRACK record for which it has to wait. Returns 1 if it read something.
   patient: see prof__follow_switch(). */
static int prof__follow_read(prof__follow *f, uint32_t slot, int patient)
{
    prof__follow_slot *it = &f->slots[slot];
    size_t count, at = 0, length;
    if (it->at == it->limit) return 0;
    count = prof__follow_copy(f, slot);
    if (!count) {
        prof__follow_missed(f, slot);
        return 1;
    }
    prof__follow_track *t = it->track ? prof__follow_use(f, it->track) : NULL;
    for (; at < count; at += length) {
        length = prof__record_words(f->words[at], count - at);
        if (!length) break;
        if (prof__read_kind(f->words[at]) == PROF__KIND_TRACK) {
            prof__follow_track *now = prof__follow_switch(f, slot, f->words + at, patient);
            if (!now) {
                if (!it->waits || at) it->waits = f->pass;
                it->tick = prof__follow_tick_at(it->base, f->words + at, count - at);
                break;
            }
            t = now;
            patient = 0;
            it->waits = 0;
        } else if (t) {
            prof__follow_record(f, t, it->base, f->words + at, count - at - 1);
        }
    }
    it->at += (uint32_t)at;
    return at != 0;
}

/* Finishes a chunk that was read to its end and that no thread writes to any more. With statistics, first releases the
   chunk, so that threads can take it again. Does nothing if a thread has taken it back meanwhile. */
static void prof__follow_leave(prof__follow *f, uint32_t slot)
{
    prof__follow_slot *it = &f->slots[slot];
    prof__chunk *chunk = prof__follow_chunk(f, slot);
    uint64_t lost = PROF__LOAD(&chunk->lost);
    if (!it->sequence || !it->ended || it->at != it->limit) return;
    if (f->stats && !prof__chunk_release(f->session, chunk, PROF__CHUNK_FULL)) return;
    prof__follow_part_ends(f, slot);
    it->done = it->sequence;
    it->sequence = 0;
    if (f->stats) f->lost += lost;
}

static int prof__follow_newer(const void *a, const void *b)
{
    const prof__follow_order *x = (const prof__follow_order *)a, *y = (const prof__follow_order *)b;
    return x->sequence < y->sequence ? 1 : -1;
}

/* Makes f->order a list of the slots with something to read, the newest chunk first. Returns how many there are. */
static size_t prof__follow_gather(prof__follow *f)
{
    const prof__session *s = f->session;
    uint64_t next = PROF__ACQUIRE(&s->header->next_chunk), there = prof__chunks_there(s);
    uint64_t count = PROF__LOAD(&s->chunk_count);
    size_t found = 0;
    if (next > there && there < count) next = there; /* the system has not given memory for later chunks yet */
    uint64_t lap = PROF__SEARCH(s, count);
    for (uint64_t n = next - f->seen > lap ? next - lap : f->seen; n < next; n++) {
        uint32_t slot = prof__follow_place(f, prof__chunk_at(s, count, n));
        if (slot >= f->places && !prof__follow_places(f, PROF__LOAD(&s->ring.depth))) continue;
        f->slots[slot].expected = n + 1;
        if (!f->slots[slot].active) f->active[f->active_count++] = slot;
        f->slots[slot].active = 1;
    }
    f->seen = next;
    for (size_t i = 0; i < f->active_count; i++) {
        prof__follow_slot *it = &f->slots[f->active[i]];
        prof__chunk *chunk = prof__follow_chunk(f, f->active[i]);
        uint64_t sequence = PROF__ACQUIRE(&chunk->sequence);
        if (it->sequence && it->sequence != sequence) prof__follow_missed(f, f->active[i]);
        if (!it->sequence && sequence > it->done && sequence <= next) {
            it->sequence = sequence;
            it->base = PROF__LOAD(&chunk->base.tick);
            it->track = 0;
            it->at = it->limit = 0;
            it->waits = 0;
            it->left = 0;
        }
        if (!it->sequence) continue;
        f->order[found].sequence = it->sequence;
        f->order[found++].slot = f->active[i];
    }
    if (found > 1) qsort(f->order, found, sizeof *f->order, prof__follow_newer);
    return found;
}

/* Makes a partial chunk, which a thread left when it ended, complete if few free chunks remain. So no other thread goes
   on in it, and the follower can free it. */
static void prof__follow_scarce(prof__follow *f, prof__chunk *chunk, uint32_t state)
{
    const prof__session *s = f->session;
    if (f->stats && state == PROF__CHUNK_PARTIAL &&
        PROF__LOAD(&s->ring.free_chunks) < (int32_t)(PROF__LOAD(&s->ring.pieces) / 4))
        __atomic_compare_exchange_n(&chunk->state, &state, (uint32_t)PROF__CHUNK_FULL, 0, __ATOMIC_ACQUIRE,
                                    __ATOMIC_RELAXED);
}

static void prof__follow_limits(prof__follow *f, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t slot = f->order[i].slot;
        prof__chunk *chunk = prof__follow_chunk(f, slot);
        prof__follow_scarce(f, chunk, PROF__LOAD(&chunk->state));
        uint32_t state = PROF__ACQUIRE(&chunk->state);
        f->slots[slot].ended = state == PROF__CHUNK_FULL || state == PROF__CHUNK_FREE;
        f->slots[slot].limit = prof__follow_limit(f, slot);
    }
}

static void prof__follow_rate(prof__follow *f)
{
    const prof__session *s = f->session;
    const prof__pair *first = &s->header->first;
    prof__pair now;
    prof__pair_take(s->clock, s->header->tick_hz, &now);
    uint64_t ns = now.monotonic_ns - first->monotonic_ns, ticks = now.tick - first->tick, hz = s->header->tick_hz;
    if (now.tick > first->tick && now.monotonic_ns > first->monotonic_ns) /* prof__read_lines() does so, too */
        f->ns_per_tick = hz && ns < 10000000 ? 1e9 / prof__real(hz) : prof__real(ns) / prof__real(ticks);
    if (s->clock == PROF_CLOCK_MONOTONIC) f->ns_per_tick = 1;
}

/* Reads the waiting slots as far as possible. If none can go on, the slot with the earliest record waits no longer.
   Returns 1 if it read something. */
static int prof__follow_retry(prof__follow *f, size_t count)
{
    const prof__follow_slot *earliest = NULL;
    uint32_t slot, chosen = 0;
    int progress = 0;
    for (size_t i = count; i-- > 0;) {
        const prof__follow_slot *it = &f->slots[slot = f->order[i].slot];
        if (!it->sequence || !it->waits) continue;
        progress |= prof__follow_read(f, slot, 0);
        prof__follow_leave(f, slot);
        if (!it->sequence || !it->waits || (earliest && it->tick >= earliest->tick)) continue;
        earliest = it;
        chosen = slot;
    }
    if (progress || !earliest || earliest->tick == ~(uint64_t)0 || earliest->waits == f->pass) return progress;
    progress = prof__follow_read(f, chosen, 1); /* no slot has the part that this one waits for */
    prof__follow_leave(f, chosen);
    return progress;
}

/* Reads what has been recorded so far. Returns 1 if threads have taken new chunks meanwhile. The caller holds
   f->lock. */
static int prof__follow_pass(prof__follow *f)
{
    uint64_t seen = f->seen;
    f->pass++;
    prof__follow_rate(f);
    size_t count = prof__follow_gather(f), active = 0;
    prof__follow_limits(f, count);
    for (size_t i = count; i-- > 0;) {
        prof__follow_read(f, f->order[i].slot, 0);
        prof__follow_leave(f, f->order[i].slot);
    }
    while (prof__follow_retry(f, count)) {
    }
    for (size_t i = 0; i < f->active_count; i++) {
        prof__follow_slot *it = &f->slots[f->active[i]];
        it->active = it->sequence || it->done < it->expected;
        if (it->active) f->active[active++] = f->active[i];
    }
    f->active_count = active;
    return f->seen != seen;
}

/* Reads everything that was recorded so far. Repeats passes while slots wait, at most 100 times. */
static void prof__follow_all(prof__follow *f)
{
    int waiting = 1;
    prof__follow_pass(f);
    for (int i = 0; i < 100 && waiting; i++) {
        waiting = 0;
        for (size_t j = 0; j < f->active_count; j++) waiting |= f->slots[f->active[j]].waits != 0;
        if (waiting) prof__follow_pass(f);
    }
}

static int prof__follow_step(prof__session *s)
{
    prof__follow *f = s->follow;
    int work;
    if (!f || (!f->stats && !f->rule_count)) return 0;
    prof__lock(&f->lock);
    work = prof__follow_pass(f);
    prof__unlock(&f->lock);
    return work;
}

/*-- the statistics of PROF_STATS --*/

static void prof__aggregated_free(prof__aggregated *stats)
{
    for (size_t i = 0; stats->texts && i < stats->count; i++) free(stats->texts[i]);
    for (size_t i = 0; stats->rows && i < stats->count; i++) free(stats->rows[i].histogram.steps);
    free(stats->texts);
    free(stats->sites);
    free(stats->rows);
    memset(stats, 0, sizeof *stats);
}

static uint64_t prof__follow_ns(const prof__follow *f, uint64_t ticks)
{
    return prof__ticks_ns(ticks, f->ns_per_tick);
}

/* Completes the copy of a row: converts ticks to nanoseconds, and counts open scopes. Returns 0 without memory. */
static int prof__aggregated_finish(const prof__follow *f, const prof__follow_row *from, prof__stat_row *to)
{
    prof_stat *stat = &to->stat;
    const prof__histogram *h = &from->sums.histogram;
    *to = from->sums;
    if (to->type == PROF_EVENT_COUNTER) return 1;
    to->histogram.steps = (prof__step *)calloc(h->capacity + 1, sizeof *h->steps);
    if (!to->histogram.steps) return 0;
    if (h->capacity) memcpy(to->histogram.steps, h->steps, h->capacity * sizeof *h->steps);
    prof__stat_row_scale(to, f->ns_per_tick);
    prof__stat_row_finish(to);
    stat->mean_ns = to->mean; /* of the sum in ticks, which is not rounded */
    stat->count += from->open;
    stat->truncated += from->open;
    return 1;
}

/* Counts each begin that waits for its end, and each end that waits for its begin, as a truncated span. The follower
   itself goes on waiting. */
static void prof__aggregated_halves(prof__aggregated *stats, const prof__follow *f)
{
    stats->begins_missing = f->begins_missing;
    stats->ends_missing = f->ends_missing;
    for (uint32_t number = f->half_oldest; number; number = f->halves[number - 1].newer) {
        const prof__follow_half *half = &f->halves[number - 1];
        prof__stat_row *row = &stats->rows[half->row - 1];
        *(half->end ? &stats->begins_missing : &stats->ends_missing) += 1;
        if (half->row == 1 || row->type == PROF_EVENT_FRAME) continue;
        row->stat.count++;
        row->stat.truncated++;
    }
}

/* Adds to total_ns the time of calls that have ended inside a call of their own row that is still open. An ended outer
   call would have included their time, but an open one has no time yet. */
static void prof__aggregated_covered(prof__aggregated *stats, const prof__follow *f)
{
    for (uint32_t i = 0; i < f->track_count; i++)
        for (size_t at = 0; at < f->tracks[i].match.depth; at++) {
            const prof__follow_open *open = (const prof__follow_open *)f->tracks[i].match.open + at;
            stats->rows[open->row - 1].stat.total_ns += prof__follow_ns(f, open->covered);
        }
}

static int prof__aggregated_copy(prof__aggregated *stats, const prof__follow *f)
{
    stats->rows = (prof__stat_row *)calloc(f->row_count + 1, sizeof *stats->rows);
    stats->sites = (uint32_t *)calloc(f->row_count + 1, sizeof *stats->sites);
    stats->texts = (char **)calloc(f->row_count + 1, sizeof *stats->texts);
    if (!stats->rows || !stats->sites || !stats->texts) return 0;
    for (size_t i = 0; i < f->row_count; i++, stats->count++) {
        const prof__follow_row *from = &f->rows[i];
        stats->sites[i] = from->site;
        if (from->text && !(stats->texts[i] = prof__text_join(from->text, ""))) return 0;
        if (!prof__aggregated_finish(f, from, &stats->rows[i])) return 0;
        stats->open += from->open;
    }
    prof__aggregated_halves(stats, f);
    prof__aggregated_covered(stats, f);
    stats->events = f->events;
    stats->uses = f->uses;
    stats->unmatched = f->unmatched;
    stats->lost = f->lost;
    stats->newest = f->newest_tick;
    for (size_t i = 0; i < f->active_count; i++)
        if (f->slots[f->active[i]].sequence) stats->lost += PROF__LOAD(&prof__follow_chunk(f, f->active[i])->lost);
    return 1;
}

/* Sets the statistics to zero. A scope that is open now counts when it ends. */
static void prof__follow_reset(prof__follow *f)
{
    for (size_t i = 0; i < f->row_count; i++) prof__stat_row_reset(&f->rows[i].sums);
}

/* Brings the statistics up to date, and copies them. If `reset` is 1, sets them to zero afterwards. Does nothing if the
   present session has a mode without statistics. */
static prof_status prof__aggregated_take(prof__aggregated *stats, int reset)
{
    prof_status status = PROF_OK;
    memset(stats, 0, sizeof *stats);
    uint32_t write_lock = prof__state_lock();
    prof__session *s = prof__state.session;
    prof__follow *f = s && prof__mode_counts(s->header->mode) ? s->follow : NULL;
    if (f) {
        stats->session = s->header->session;
        s->readers++;
        __atomic_fetch_add(&s->attached, 1, __ATOMIC_RELAXED); /* keeps the session's memory from being freed */
    }
    prof__state_unlock(write_lock);
    if (!f) return PROF_OK;
    prof__lock(&f->lock);
    prof__follow_all(f);
    if (!prof__aggregated_copy(stats, f))
        status = prof__no_memory("for the statistics");
    else if (reset)
        prof__follow_reset(f);
    prof__unlock(&f->lock);
    write_lock = prof__state_lock();
    s->readers--;
    __atomic_fetch_sub(&s->attached, 1, __ATOMIC_RELEASE);
    prof__state_unlock(write_lock);
    return status;
}

/* Adds metadata to a trace that says: its statistics cover the whole run, but its events only the newest part. */
static prof_status prof__aggregated_note(prof_trace *trace)
{
    const prof_trace_info *info = prof_trace_about(trace);
    char note[192] = "events", kept[32], all[32], from[48];
    int64_t first = INT64_MAX;
    for (size_t i = 0; i < trace->track_count; i++)
        if (trace->tracks[i].about.event_count && trace->tracks[i].about.first_ns < first)
            first = trace->tracks[i].about.first_ns;
    if (!info->overwritten_chunks || first == INT64_MAX) return PROF_OK;
    prof__grouped(kept, info->event_count);
    prof__grouped(all, info->folded);
    prof__human_ns(from, (double)first);
    snprintf(note + 7, sizeof note - 7, "the newest %s of %s, from %s on; statistics are of all", kept, all, from);
    if (prof__device_name(trace, note) == PROF__NONE || prof__device_name(trace, note + 7) == PROF__NONE ||
        !prof__read_metadata(trace, note, note + sizeof note)) /* keeps the copies, not note */
        return prof__no_memory("for the statistics");
    return PROF_OK;
}

/* Gives the statistics to a trace, which owns the rows afterwards. */
static prof_status prof__aggregated_give(prof__aggregated *stats, prof_trace *trace)
{
    prof_status status = PROF_OK;
    size_t hint = 0, i, count = 0;
    int64_t newest = prof__read_ns(trace, stats->newest, &hint);
    if (trace->header.session != stats->session)
        return prof__fail(PROF_INVALID_STATE, "a new session began while the old one was being read");
    for (i = 0; i < stats->count && !status; i++) {
        prof__stat_row *row = &stats->rows[i];
        size_t site = i ? prof__read_site_of(trace, stats->sites[i]) : PROF__NONE;
        if (!row->stat.count) {
            free(row->histogram.steps);
            memset(&row->histogram, 0, sizeof row->histogram);
            continue;
        }
        if (site == PROF__NONE) site = prof__read_make_site(trace, i ? "?" : "(more scopes)", PROF__KIND_BEGIN);
        if (site == PROF__NONE) return prof__no_memory("for the statistics");
        /* the trace's array of sites may still be moved: keep numbers until all sites are there */
        stats->sites[count] = (uint32_t)site;
        stats->rows[count] = *row;
        if (count != i) memset(&row->histogram, 0, sizeof row->histogram); /* the other row owns it now */
        stats->rows[count].stat.name = NULL;
        if (stats->texts[i]) {
            if (!PROF__ROOM(trace->texts, trace->text_capacity, trace->text_count))
                return prof__no_memory("for the statistics");
            stats->rows[count].stat.name = trace->texts[trace->text_count++] = stats->texts[i];
            stats->texts[i] = NULL;
        }
        count++;
    }
    for (i = 0; i < count; i++) {
        prof_stat *stat = &stats->rows[i].stat;
        stat->site = &trace->sites[stats->sites[i]].about;
        stat->parent = PROF_NO_PARENT; /* a follower counts no call paths */
        if (!stat->name) stat->name = stat->site->name;
    }
    trace->aggregated = stats->rows;
    trace->aggregated_count = count;
    stats->rows = NULL;
    trace->begins_missing = stats->begins_missing;
    trace->uses = stats->uses;
    trace->ends_missing = stats->ends_missing;
    trace->info.folded = stats->events;
    trace->info.open = stats->open;
    if (trace->info.mode == PROF_RING_STATS) { /* reading the ring has counted a part of the losses already */
        trace->info.lost = trace->header.lost;
        trace->info.unmatched = 0;
        status = prof__aggregated_note(trace);
    }
    trace->info.lost += stats->lost;
    trace->info.unmatched += stats->unmatched;
    if (newest > trace->info.duration_ns) trace->info.duration_ns = newest;
    return status;
}

/*-- making and freeing --*/

/* Parses rules such as "frame>16.7ms,scope:net.*>2ms". A time must have a unit, because frame>16 is likely to mean
   milliseconds. */
static prof_status prof__follow_rules(prof__follow *f, const char *list)
{
    static const prof__unit times[] = {{"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}, {NULL, 0}};
    while (list && *list) {
        prof__follow_rule *rule = &f->rules[f->rule_count];
        size_t length = strcspn(list, ","), name = 0;
        char text[128], *limit;
        if (f->rule_count == PROF__FOLLOW_RULES)
            return prof__fail(PROF_INVALID_ARGUMENT, "save_over: at most %d limits are possible", PROF__FOLLOW_RULES);
        snprintf(text, sizeof text, "%.*s", (int)(length < 127 ? length : 127), list);
        limit = strrchr(text, '>');
        if (limit) *limit++ = 0;
        rule->frame = !strncmp(text, "frame", 5) && (!text[5] || text[5] == ':');
        if (rule->frame) name = text[5] ? 6 : 5;
        if (!strncmp(text, "scope:", 6)) name = 6;
        if (length > 127 || !limit || !name || (!text[name] && name == 6) ||
            strlen(text + name) >= sizeof rule->pattern || !prof__parse_number(limit, times, &rule->ns))
            return prof__fail(PROF_INVALID_ARGUMENT,
                              "save_over '%.100s': must be frame>16.7ms, frame:NAME>16.7ms or scope:NAME>2ms, joined "
                              "by commas", list);
        prof__text_copy(rule->pattern, sizeof rule->pattern, text[name] ? text + name : "*");
        f->rule_count++;
        list += length;
        if (*list) list++;
    }
    return PROF_OK;
}

/* A time of the configuration: the field in ns or, if that is 0, the deprecated one in seconds. */
static uint64_t prof__save_time(uint64_t ns, double seconds) { return ns ? ns : (uint64_t)(seconds * 1e9); }

static prof_status prof__save_check(prof__follow *f, const prof_config *config)
{
    const prof_writer *writer;
    char expanded[1024];
    int named = config->save && config->save[0];
    if (!named && (config->save_over || config->save_signal))
        return prof__fail(PROF_INVALID_ARGUMENT,
                          "save_over, save_signal: need the name of a file in save, for example slow-%%c.json");
    f->saves_here = prof__config_saves(config);
    if (!f->saves_here) return PROF_OK;
    if (!(config->save_last >= 0 && config->save_last < 1e9) || !(config->save_every >= 0 && config->save_every < 1e9))
        return prof__fail(PROF_INVALID_ARGUMENT, "save_last, save_every: must be 0 or more seconds");
    if (config->save_last_ns > PROF__CENTURY || config->save_every_ns > PROF__CENTURY)
        return prof__must_be("save_last, save_every", "at most 100 years");
    if (!named) return PROF_OK;
    if (strlen(config->save) >= sizeof f->save) return prof__fail(PROF_INVALID_ARGUMENT, "save: path too long");
    if (config->save_signal < 0 || config->save_signal > 64)
        return prof__fail(PROF_INVALID_ARGUMENT, "save_signal %d: must be 1 to 64", config->save_signal);
    prof_status status = prof__expand_counted(config->save, 1, expanded, sizeof expanded);
    if (!status) status = prof__writer_for(expanded, (uint32_t)config->mode, &writer);
    if (!status) status = prof__output_check(expanded);
    if (!status) status = prof__follow_rules(f, config->save_over);
    prof__pattern_absolute(config->save, f->save, sizeof f->save);
    f->last_seconds = (double)prof__save_time(config->save_last_ns, config->save_last) / 1e9;
    if (!(f->last_seconds > 0)) f->last_seconds = 10;
    f->every_ns = prof__save_time(config->save_every_ns, config->save_every);
    f->signal = config->save_signal;
    return status;
}

static int prof__follow_tables(prof__follow *f)
{
    const prof__session *s = f->session;
    uint64_t tracks = s->chunk_count * 2 < 256 ? 256 : s->chunk_count * 2 > 65536 ? 65536 : s->chunk_count * 2;
    uint32_t buckets = 256;
    while (buckets < tracks) buckets *= 2;
    f->track_limit = (uint32_t)tracks;
    f->bucket_mask = buckets - 1;
    f->tracks = (prof__follow_track *)calloc((size_t)tracks, sizeof *f->tracks);
    f->buckets = (uint32_t *)calloc(buckets, sizeof *f->buckets);
    f->stride = s->chunk_count;
    f->words = (uint64_t *)calloc((size_t)s->chunk_words, sizeof *f->words);
    f->again = (uint64_t *)calloc((size_t)s->chunk_words, sizeof *f->again);
    if (!f->tracks || !f->buckets || !prof__follow_places(f, 0) || !f->words || !f->again) return 0;
    return PROF__ROOM(f->rows, f->row_capacity, 0) && prof__follow_add(f, 0, PROF_EVENT_SCOPE, "", NULL) == 1;
}

/* Makes a follower for a session whose configuration needs one. The caller holds the control lock. */
static prof_status prof__follow_make(prof__session *s, const prof_config *config)
{
    prof_status status;
    if (!prof__mode_counts((uint32_t)config->mode) && !prof__config_saves(config) && !config->save_over &&
        !config->save_signal)
        return PROF_OK;
    prof__follow *f = (prof__follow *)calloc(1, sizeof *f);
    if (!f) return prof__no_memory("to follow what is recorded");
    s->follow = f; /* the session owns it, also after a failure */
    f->session = s;
    f->process = prof__process_id();
    f->stats = prof__mode_counts((uint32_t)config->mode);
    f->ns_per_tick = 1;
    status = prof__save_check(f, config);
    if (!status && !prof__follow_tables(f)) status = prof__no_memory("to follow what is recorded");
    return status;
}

static void prof__follow_free(prof__follow *f)
{
    prof__past_drop(); /* the session is gone; or this is the child of a fork */
    if (!f || f->process != prof__process_id()) return; /* a fork may have copied it half changed */
    while (f->asked) {
        prof__asked *asked = f->asked;
        f->asked = asked->next;
        free(asked);
    }
    for (size_t i = 0; f->tracks && i < f->track_limit; i++) {
        free(f->tracks[i].match.open);
        free(f->tracks[i].frames);
        free(f->tracks[i].match.cut);
        free(f->tracks[i].nested);
    }
    for (size_t i = 0; i < f->row_count; i++) {
        free(f->rows[i].text);
        free(f->rows[i].sums.histogram.steps);
    }
    free(f->halves);
    free(f->half_buckets);
    free(f->tracks);
    free(f->buckets);
    free(f->slots);
    free(f->active);
    free(f->order);
    free(f->words);
    free(f->again);
    free(f->strings);
    free(f->sites);
    free(f->rows);
    free(f->row_index.slots);
    free(f);
}

/*-- SAVES ON DEMAND ----------------------------------------------------------------------------------------- >>save --
   A call or a signal sets a flag, a call with a path adds to a list, and a trigger leaves its cause. The service's
   thread does the saving, so that the program's threads do not wait for it. */

static uint32_t prof__save_wanted; /* who asked for a save: PROF__SAVE_CALL or PROF__SAVE_SIGNAL; 0: nobody */
static uint32_t prof__save_armed;  /* 1: the session can save, and the service looks at prof__save_wanted */
enum { PROF__SAVE_CALL = 1, PROF__SAVE_SIGNAL };

/* prof_save_request() */
static prof_status prof__save_asked(void)
{
    if (!PROF__LOAD(&prof__save_armed)) return PROF_INVALID_STATE;
    PROF__STORE(&prof__save_wanted, (uint32_t)PROF__SAVE_CALL);
    return PROF_OK;
}

/* prof_save_request_ns() */
static prof_status prof__save_later(const char *path, uint64_t last_ns)
{
    PROF__CALM();
    const prof_writer *writer;
    char expanded[1024];
    prof_status status = prof__last_asked("prof_save_request_ns", path, last_ns, expanded);
    if (!status) status = prof__writer_for(expanded, prof__live_mode(), &writer);
    if (!status) status = prof__output_check(expanded);
    if (status) return status;
    prof__asked *asked = (prof__asked *)calloc(1, sizeof *asked);
    if (!asked) return prof__no_memory("to ask for a save");
    asked->seconds = (double)last_ns / 1e9;
    prof__pattern_absolute(path, asked->pattern, sizeof asked->pattern);
    uint32_t write_lock = prof__state_lock();
    prof__session *s = prof__state.running ? prof__state.session : NULL;
    prof__follow *f = s ? s->follow : NULL;
    int armed = f && f->saves_here && f->process == prof__process_id();
    if (armed) {
        asked->tick = prof__now(s, 0);
        asked->next = f->asked;
        f->asked = asked;
    }
    prof__state_unlock(write_lock);
    if (armed) return PROF_OK;
    free(asked);
    return prof__fail(PROF_INVALID_STATE, "prof_save_request_ns: no session with save or save_last_ns in its "
                      "configuration is running");
}

static int prof__save_present(const prof__session *s)
{
    uint32_t write_lock = prof__state_lock();
    int present = prof__state.session == s;
    prof__state_unlock(write_lock);
    return present;
}

#ifdef _WIN32
/* Windows has no signals for this; any program of the same desktop can set this event instead. It is made once, and
   lasts until the process ends. */
static HANDLE prof__save_event;
static uint32_t prof__save_listens;

static void prof__save_look(void)
{
    if (PROF__LOAD(&prof__save_listens) && WaitForSingleObject(prof__save_event, 0) == WAIT_OBJECT_0)
        PROF__STORE(&prof__save_wanted, (uint32_t)PROF__SAVE_SIGNAL);
}
#else
#define prof__save_look() ((void)0)
#endif

/* Marks why the last seconds are saved, with what of them the buffer holds. */
static void prof__save_mark(double seconds, const prof__cause *cause)
{
    prof__session *s;
    prof__header h; /* with both pairs of clocks as they are now */
    uint64_t taken_back;
    char note[320];
    if (prof__copy_begin(&s, &h, &taken_back)) return;
    prof__last_note(note, sizeof note, &h, prof__last_held(s), h.last.tick, prof__last_rate(&h), seconds, cause);
    prof__copy_end(s);
    PROFILE_MARK_F("save: %s", note);
}

/* Saves the last seconds to a file whose %-fields are expanded. status: if not PROF_OK, why there is no such name. */
static void prof__save_file(prof__session *s, const char *path, double seconds, const prof__cause *cause,
                            prof_status status)
{
    uint64_t began = prof__now(s, 0);
    prof__save_mark(seconds, cause);
    if (!status) status = prof__last_save(path, seconds, cause);
    if (status) prof__background_failed(s, prof_error());
    prof_status (*hook)(void) = PROF__ACQUIRE(&prof__saved_hook);
    if (hook && hook()) prof__background_failed(s, prof_error());
    PROF__SITE(site, PROF__KIND_BEGIN, "save", "prof", 2);
    prof__service_scope(s, &site, began);
}

/* Carries out what prof_save_request_ns() has asked for, the oldest first. Returns 1 if there was work. */
static int prof__save_all(prof__session *s)
{
    uint32_t write_lock = prof__state_lock();
    prof__asked *newest = s->follow->asked, *first = NULL;
    s->follow->asked = NULL;
    prof__state_unlock(write_lock);
    int work = newest != NULL;
    for (prof__asked *asked; (asked = newest) != NULL; first = asked) {
        newest = asked->next;
        asked->next = first;
    }
    for (prof__asked *asked; (asked = first) != NULL; free(asked)) {
        prof__cause cause = {asked->tick, asked->tick, "request"};
        char path[1024];
        first = asked->next;
        prof_status status = prof__expand(asked->pattern, path, sizeof path);
        prof__save_file(s, path, asked->seconds, &cause, status);
    }
    return work;
}

/* Keeps up with what is recorded, and carries out what was asked for, and one more save, if one is due. Returns 1 if
   there was work. */
static int prof__save_step(prof__session *s)
{
    prof__follow *f = s->follow;
    char path[1024];
    prof__cause cause;
    prof__save_look();
    if (!f || !f->saves_here || !prof__save_present(s)) return 0;
    int work = prof__past_work(s) | prof__save_all(s);
    prof__lock(&f->lock); /* the service may set the cause while the writer's thread saves */
    cause = f->cause;
    f->cause.text[0] = 0;
    prof__unlock(&f->lock);
    if (!cause.text[0]) {
        uint32_t wanted = __atomic_exchange_n(&prof__save_wanted, 0, __ATOMIC_RELAXED);
        if (!wanted) return work;
        prof__text_copy(cause.text, sizeof cause.text, wanted == PROF__SAVE_SIGNAL ? "signal" : "request");
        cause.from = cause.to = 0;
    }
    prof_status status = prof__expand_counted(f->save, ++f->saves, path, sizeof path);
    prof__save_file(s, path, f->last_seconds, &cause, status);
    return 1;
}

#ifdef _WIN32
static prof_status prof__save_arm(const prof__session *s)
{
    char name[48];
    PROF__STORE(&prof__save_wanted, 0u);
    PROF__STORE(&prof__save_armed, (uint32_t)(s->follow && s->follow->save[0]));
    if (!s->follow || !s->follow->signal) return PROF_OK;
    snprintf(name, sizeof name, "Local\\prof-save-%lu", (unsigned long)GetCurrentProcessId());
    if (!prof__save_event) prof__save_event = CreateEventA(NULL, FALSE, FALSE, name);
    if (!prof__save_event)
        return prof__fail(PROF_IO, "save_signal: cannot make the event %s: error %lu", name, GetLastError());
    ResetEvent(prof__save_event); /* drops requests from before the start */
    PROF__RELEASE(&prof__save_listens, 1u);
    return PROF_OK;
}
static void prof__save_disarm(void)
{
    PROF__STORE(&prof__save_listens, 0u);
    PROF__STORE(&prof__save_armed, 0u);
}
#else
/* For each signal that was ever used: what the program did with it before. Never freed, because a handler that the
   program installed later may call prof__save_handler() at any time. */
static struct sigaction *prof__save_before[65];
static int prof__save_installed[65];
static int prof__save_number;

static void prof__save_handler(int number, siginfo_t *info, void *context)
{
    const struct sigaction *before = prof__save_before[number];
    if (PROF__LOAD(&prof__save_number) == number) PROF__STORE(&prof__save_wanted, (uint32_t)PROF__SAVE_SIGNAL);
    if (before->sa_flags & SA_SIGINFO)
        before->sa_sigaction(number, info, context);
    else if (before->sa_handler != SIG_DFL && before->sa_handler != SIG_IGN)
        before->sa_handler(number);
}

static int prof__save_is_ours(int number)
{
    struct sigaction now;
    return !sigaction(number, NULL, &now) && (now.sa_flags & SA_SIGINFO) && now.sa_sigaction == prof__save_handler;
}

/* Installs the handler of the signal before a session starts. The caller holds the control lock. */
static prof_status prof__save_arm(const prof__session *s)
{
    int number = s->follow ? s->follow->signal : 0;
    struct sigaction action, before;
    PROF__STORE(&prof__save_wanted, 0u);
    PROF__STORE(&prof__save_number, number);
    PROF__STORE(&prof__save_armed, (uint32_t)(s->follow && s->follow->save[0]));
    if (!number) return PROF_OK;
    if (!prof__save_before[number]) prof__save_before[number] = (struct sigaction *)calloc(1, sizeof before);
    if (!prof__save_before[number]) return prof__fail(PROF_NO_MEMORY, "save_signal %d: no memory for it", number);
    int failed = sigaction(number, NULL, &before);
    if (!failed && prof__save_installed[number] && (before.sa_flags & SA_SIGINFO || before.sa_handler != SIG_DFL))
        return PROF_OK; /* still installed: the program's present handler calls ours */
    memset(&action, 0, sizeof action);
    action.sa_sigaction = prof__save_handler;
    action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    if (!failed) *prof__save_before[number] = before;
    if (failed || sigaction(number, &action, NULL)) {
        PROF__STORE(&prof__save_number, 0);
        return prof__fail(PROF_INVALID_ARGUMENT, "save_signal %d: %s", number, strerror(errno));
    }
    prof__save_installed[number] = 1;
    return PROF_OK;
}

/* Removes the handler. If the program has installed another one since, leaves it, because that one may call ours at any
   time. Async-signal-safe. */
static void prof__save_disarm(void)
{
    int number = PROF__LOAD(&prof__save_number);
    PROF__STORE(&prof__save_number, 0);
    PROF__STORE(&prof__save_armed, 0u);
    if (!number || !prof__save_is_ours(number)) return;
    sigaction(number, prof__save_before[number], NULL);
    prof__save_installed[number] = 0;
}
#endif
#endif
#ifndef PROF_FREESTANDING
/* Writes what stands for the character at text, which is not the end, to `to` (8 bytes). Sets *size to the bytes of it.
   Returns the bytes of the text that it stands for. */
static size_t prof__json_character(const char *text, char *to, size_t *size)
{
    int length = prof__utf8_length(text);
    unsigned char c = (unsigned char)*text;
    if (length < 0) {
        *size = sizeof PROF__UTF8_REPLACED - 1;
        memcpy(to, PROF__UTF8_REPLACED, *size);
        return (size_t)-length;
    }
    *size = (size_t)length;
    if (c == '"' || (c == '\\' && text[1])) {
        to[0] = '\\';
        to[1] = (char)c;
        *size = 2;
    } else if (c < 0x20 || c == '\\') { /* a backslash at the end, too: Perfetto 52 does not read \\" as the end */
        memcpy(to, "\\u00", 4);
        to[4] = (char)('0' + (c >> 4));
        to[5] = "0123456789abcdef"[c & 15];
        *size = 6;
    } else {
        memcpy(to, text, (size_t)length);
    }
    return (size_t)length;
}

static int prof__json_unchanged(unsigned char c) { return c >= 0x20 && c < 0x80 && c != '"' && c != '\\'; }

/* Writes the inside of a JSON string. */
static void prof__out_json(prof__out *out, const char *text)
{
    while (*text) {
        const char *run = text;
        char piece[8];
        size_t size;
        while (prof__json_unchanged((unsigned char)*text)) text++;
        if (text != run) prof__out_bytes(out, run, (size_t)(text - run));
        if (!*text) break;
        text += prof__json_character(text, piece, &size);
        prof__out_bytes(out, piece, size);
    }
}
#endif

#ifndef PROF__READER_KNOWN
static const prof_writer prof__csv_writer = {".csv", NULL, NULL, prof__csv_default, NULL};
static const prof_writer prof__summary_writer = {".txt", NULL, NULL, prof__summary_default, NULL};
static const prof__reader_hooks prof__reader_table = {
    prof__live_write,      &prof__csv_writer,       &prof__summary_writer,  prof__follow_make,
    prof__follow_step,     prof__follow_free,       prof__save_arm,         prof__save_step,
    prof__save_disarm,     prof__save_asked,        prof__save_last,
    prof__save_later,      prof__trace_live_own,
    prof__trace_write_own, prof__aggregated_take,   prof__aggregated_give,  prof__aggregated_free,
    prof__aggregated_free_rows,
};
PROF__AT_START(101, prof__reader_comes);
static void prof__reader_comes(void) { prof__reader_now = &prof__reader_table; }
#endif

/*-- deflate: raw blocks, without the header of a zlib or gzip file --*/

#define PROF__DEFLATE_WINDOW 32768u
#define PROF__DEFLATE_HASH_BITS 15
#define PROF__DEFLATE_CHAIN 2      /* how many earlier positions with the same hash are compared */
#define PROF__DEFLATE_PATIENCE 4   /* after 2^4 positions without a match, tries every second one, and so on */
#define PROF__DEFLATE_SHORTEST 7u  /* bytes of the shortest match: shorter ones rarely save bits */
#define PROF__DEFLATE_TOKENS 16384 /* how many tokens one pair of Huffman codes is for */
#define PROF__DEFLATE_BOUND(size) (2 * (size) + 1024) /* how many bytes packed ones have, at most */
#define PROF__DEFLATE_LONGEST 258u /* bytes of the longest match */
#define PROF__DEFLATE_MATCH 0x80000000u /* a token is a byte, or this | (length - 3) << 15 | (distance - 1) */

typedef struct prof__deflate_code { /* a Huffman code, and how often each of its symbols occurs */
    uint32_t count[288];
    uint16_t bits[288]; /* the codes, in the order in which their bits are written */
    unsigned char length[288];
} prof__deflate_code;

typedef struct prof__deflate {
    uint32_t head[1 << PROF__DEFLATE_HASH_BITS]; /* of each hash: the last position with it, plus 1; 0: none */
    uint32_t before[PROF__DEFLATE_WINDOW];       /* of each position: the one before it with the same hash */
    uint32_t tokens[PROF__DEFLATE_TOKENS];
    size_t token_count;
    prof__deflate_code letters, distances, lengths;
    unsigned char *to;
    size_t size;
    uint64_t bits;
    unsigned bit_count;
} prof__deflate;

static void prof__deflate_bits(prof__deflate *d, uint32_t bits, unsigned count)
{
    d->bits |= (uint64_t)bits << d->bit_count;
    d->bit_count += count;
    while (d->bit_count >= 8) {
        d->to[d->size++] = (unsigned char)(d->bits & 255);
        d->bits >>= 8;
        d->bit_count -= 8;
    }
}

/* Return the symbol of a length, from 257 on, or of a distance, and in *extra how many extra bits it has. */
static unsigned prof__deflate_length_code(uint32_t length, unsigned *extra)
{
    uint32_t rest = length - 3;
    *extra = 0;
    if (length == PROF__DEFLATE_LONGEST) return 285;
    if (rest < 8) return 257 + rest;
    *extra = prof__log2(rest) - 2;
    return 257 + 4 * (*extra + 1) + (rest >> *extra & 3);
}

static unsigned prof__deflate_distance_code(uint32_t distance, unsigned *extra)
{
    uint32_t rest = distance - 1;
    *extra = 0;
    if (rest < 4) return rest;
    *extra = prof__log2(rest) - 1;
    return 2 * (*extra + 1) + (rest >> *extra & 1);
}

/* Replaces sorted counts of symbols by the lengths of the symbols' codes, in place: the algorithm of Moffat and
   Katajainen. */
static void prof__deflate_depths(uint32_t *a, int n)
{
    int root = 0, leaf = 2, next, free_nodes = 1, used, depth;
    if (n == 1) a[0] = 1;
    if (n < 2) return;
    a[0] += a[1];
    for (next = 1; next < n - 1; ++next) {
        if (leaf >= n || a[root] < a[leaf]) {
            a[next] = a[root];
            a[root++] = (uint32_t)next;
        } else {
            a[next] = a[leaf++];
        }
        if (leaf >= n || (root < next && a[root] < a[leaf])) {
            a[next] += a[root];
            a[root++] = (uint32_t)next;
        } else {
            a[next] += a[leaf++];
        }
    }
    a[n - 2] = 0;
    for (next = n - 3; next >= 0; --next) a[next] = a[a[next]] + 1;
    root = n - 2;
    next = n - 1;
    for (depth = used = 0; free_nodes > 0; ++depth) {
        while (root >= 0 && (int)a[root] == depth) {
            ++used;
            --root;
        }
        while (free_nodes > used) {
            a[next--] = (uint32_t)depth;
            --free_nodes;
        }
        free_nodes = 2 * used;
        used = 0;
    }
}

/* Changes how many codes have each length, so that no code is longer than `longest`. */
static void prof__deflate_limit(uint32_t *number, int longest)
{
    uint32_t total = 0, i;
    for (i = (uint32_t)longest + 1; i < 33; ++i) number[longest] += number[i];
    for (i = (uint32_t)longest; i > 0; --i) total += number[i] << ((uint32_t)longest - i);
    for (; total > 1u << longest; --total) {
        --number[longest];
        for (i = (uint32_t)longest - 1; i > 0 && !number[i]; --i) continue;
        --number[i];
        number[i + 1] += 2;
    }
}

/* Makes the Huffman code for the counts of its symbols. */
static void prof__deflate_code_make(prof__deflate_code *code, int symbols, int longest)
{
    uint16_t order[288];
    uint32_t sorted[288], number[33], next[17], start = 0;
    int n = 0, i, j, at;
    for (i = 0; i < symbols; ++i) {
        code->length[i] = 0;
        if (!code->count[i]) continue;
        for (j = n++; j > 0 && code->count[order[j - 1]] > code->count[i]; --j) order[j] = order[j - 1];
        order[j] = (uint16_t)i;
    }
    for (i = 0; i < n; ++i) sorted[i] = code->count[order[i]];
    prof__deflate_depths(sorted, n);
    memset(number, 0, sizeof number);
    for (i = 0; i < n; ++i) ++number[sorted[i] < 32 ? sorted[i] : 32];
    prof__deflate_limit(number, longest);
    for (at = n, i = 1; i <= longest; ++i) /* gives the shortest codes to the most frequent symbols */
        for (j = (int)number[i]; j > 0; --j) code->length[order[--at]] = (unsigned char)i;
    next[1] = 0;
    for (i = 2; i <= longest; ++i) next[i] = start = (start + number[i - 1]) << 1;
    for (i = 0; i < symbols; ++i) {
        unsigned length = code->length[i];
        uint32_t bits = length ? next[length]++ : 0, turned = 0, k;
        for (k = 0; k < length; ++k) turned |= (bits >> k & 1) << (length - 1 - k);
        code->bits[i] = (uint16_t)turned;
    }
}

static void prof__deflate_symbol(prof__deflate *d, const prof__deflate_code *code, unsigned symbol)
{
    prof__deflate_bits(d, code->bits[symbol], code->length[symbol]);
}

/* Counts the symbols that describe the lengths of both codes, where runs of equal lengths are one symbol. If write is
   1, writes these symbols instead. */
static void prof__deflate_lengths(prof__deflate *d, const unsigned char *all, unsigned count, int write)
{
    unsigned i = 0;
    while (i < count) {
        unsigned run = 1, symbol = all[i], extra = 0, bits = 0;
        while (i + run < count && all[i + run] == symbol && run < 138) ++run;
        if (!symbol && run >= 3) {
            symbol = run < 11 ? 17 : 18;
            extra = run < 11 ? run - 3 : run - 11;
            bits = run < 11 ? 3 : 7;
        } else if (i && all[i - 1] == symbol && run >= 3) {
            if (run > 6) run = 6;
            symbol = 16;
            extra = run - 3;
            bits = 2;
        } else {
            run = 1;
        }
        if (write) {
            prof__deflate_symbol(d, &d->lengths, symbol);
            prof__deflate_bits(d, extra, bits);
        } else {
            ++d->lengths.count[symbol];
        }
        i += run;
    }
}

/* Writes the descriptions of both codes. */
static void prof__deflate_codes(prof__deflate *d)
{
    static const unsigned char order[19] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
    unsigned char all[318];
    unsigned letters = 286, distances = 30, lengths = 19, i;
    while (letters > 257 && !d->letters.length[letters - 1]) --letters;
    while (distances > 1 && !d->distances.length[distances - 1]) --distances;
    memcpy(all, d->letters.length, letters);
    memcpy(all + letters, d->distances.length, distances);
    memset(d->lengths.count, 0, sizeof d->lengths.count);
    prof__deflate_lengths(d, all, letters + distances, 0);
    prof__deflate_code_make(&d->lengths, 19, 7);
    while (lengths > 4 && !d->lengths.length[order[lengths - 1]]) --lengths;
    prof__deflate_bits(d, letters - 257, 5);
    prof__deflate_bits(d, distances - 1, 5);
    prof__deflate_bits(d, lengths - 4, 4);
    for (i = 0; i < lengths; ++i) prof__deflate_bits(d, d->lengths.length[order[i]], 3);
    prof__deflate_lengths(d, all, letters + distances, 1);
}

/* Writes the collected tokens as a block. last: 1: the final one. */
static void prof__deflate_emit(prof__deflate *d, int last)
{
    size_t i;
    unsigned extra;
    memset(d->letters.count, 0, sizeof d->letters.count);
    memset(d->distances.count, 0, sizeof d->distances.count);
    d->letters.count[256] = 1;
    d->distances.count[0] = 1; /* a code for distances must have a symbol, */
    d->distances.count[1] = 1; /* and some decoders refuse a code with fewer than two */
    for (i = 0; i < d->token_count; ++i) {
        uint32_t token = d->tokens[i];
        if (token & PROF__DEFLATE_MATCH) {
            ++d->letters.count[prof__deflate_length_code((token >> 15 & 255) + 3, &extra)];
            ++d->distances.count[prof__deflate_distance_code((token & 32767) + 1, &extra)];
        } else {
            ++d->letters.count[token];
        }
    }
    prof__deflate_code_make(&d->letters, 286, 15);
    prof__deflate_code_make(&d->distances, 30, 15);
    prof__deflate_bits(d, last ? 5 : 4, 3);
    prof__deflate_codes(d);
    for (i = 0; i < d->token_count; ++i) {
        uint32_t token = d->tokens[i], length = (token >> 15 & 255) + 3, distance = (token & 32767) + 1;
        if (!(token & PROF__DEFLATE_MATCH)) {
            prof__deflate_symbol(d, &d->letters, token);
            continue;
        }
        prof__deflate_symbol(d, &d->letters, prof__deflate_length_code(length, &extra));
        prof__deflate_bits(d, extra ? (length - 3) & ((1u << extra) - 1) : 0, extra);
        prof__deflate_symbol(d, &d->distances, prof__deflate_distance_code(distance, &extra));
        prof__deflate_bits(d, extra ? (distance - 1) & ((1u << extra) - 1) : 0, extra);
    }
    prof__deflate_symbol(d, &d->letters, 256);
    d->token_count = 0;
}

/* Returns a hash of the next 7 bytes, which is how long a match is at least. */
static uint32_t prof__deflate_hash_at(const unsigned char *at)
{
    uint64_t bytes;
    memcpy(&bytes, at, 8);
    return (uint32_t)((bytes << 8) * 0x9E3779B97F4A7C15u >> (64 - PROF__DEFLATE_HASH_BITS));
}

static void prof__deflate_remember(prof__deflate *d, uint32_t hash, size_t at)
{
    d->before[at % PROF__DEFLATE_WINDOW] = d->head[hash];
    d->head[hash] = (uint32_t)at + 1;
}

/* Returns the length of the longest match of the bytes at `at` with earlier ones. Returns 0 if there is none. */
static uint32_t prof__deflate_match(const prof__deflate *d, const unsigned char *from, size_t at, size_t end,
                                 uint32_t hash, uint32_t *distance)
{
    uint32_t best = PROF__DEFLATE_SHORTEST - 1, place = d->head[hash];
    uint32_t max = (uint32_t)(end - at < PROF__DEFLATE_LONGEST ? end - at : PROF__DEFLATE_LONGEST);
    int left = PROF__DEFLATE_CHAIN;
    for (; place && place <= at && at - (place - 1) <= PROF__DEFLATE_WINDOW && left--;
         place = d->before[(place - 1) % PROF__DEFLATE_WINDOW]) {
        const unsigned char *then = from + place - 1;
        uint32_t length = 0;
        if (then[best] != from[at + best]) continue;
        while (length < max && then[length] == from[at + length]) ++length;
        if (length <= best) continue;
        best = length;
        *distance = (uint32_t)(at - (place - 1));
        if (best >= 64 || best == max) break;
    }
    return best < PROF__DEFLATE_SHORTEST ? 0 : best;
}

/* Begins anew: nothing that follows refers to bytes of before. Bits that do not fill a byte yet stay. */
static void prof__deflate_start(prof__deflate *d, unsigned char *to)
{
    memset(d->head, 0, sizeof d->head);
    d->to = to;
    d->size = d->token_count = 0;
}

/* Packs the bytes between two positions, with Huffman codes of their own. from: all bytes since the start, of which
   there are `size`. last: 1: no part follows. */
static void prof__deflate_part(prof__deflate *d, const unsigned char *from, size_t at, size_t end, size_t size,
                               int last)
{
    size_t look = at; /* the next position that is tried for a match */
    uint32_t missed = 0;
    while (at < end) {
        uint32_t distance = 0, length = 0, i;
        if (at >= look && at + 8 <= end) {
            uint32_t hash = prof__deflate_hash_at(from + at);
            length = prof__deflate_match(d, from, at, end, hash, &distance);
            prof__deflate_remember(d, hash, at);
            look = at + 1 + (missed++ >> PROF__DEFLATE_PATIENCE);
        }
        if (length) {
            d->tokens[d->token_count++] = PROF__DEFLATE_MATCH | (length - 3) << 15 | (distance - 1);
            for (i = 1; i < length && i < 16 && at + i + 8 <= size; ++i)
                prof__deflate_remember(d, prof__deflate_hash_at(from + at + i), at + i);
            look = at += length;
            missed = 0;
        } else {
            d->tokens[d->token_count++] = from[at++];
        }
        if (d->token_count == PROF__DEFLATE_TOKENS) prof__deflate_emit(d, 0);
    }
    if (d->token_count || last) prof__deflate_emit(d, last);
}

/* Fills up the last byte with zeros. */
static void prof__deflate_end(prof__deflate *d)
{
    if (d->bit_count) prof__deflate_bits(d, 0, 8 - d->bit_count);
}

/* Packs bytes in parts, which end at ends[]. `to` must have space for PROF__DEFLATE_BOUND(ends[parts - 1]). Returns how
   many bytes it wrote. */
static size_t prof__deflate_all(prof__deflate *d, const unsigned char *from, const size_t *ends, size_t parts,
                                unsigned char *to)
{
    size_t part;
    prof__deflate_start(d, to);
    for (part = 0; part < parts; ++part)
        prof__deflate_part(d, from, part ? ends[part - 1] : 0, ends[part], ends[parts - 1], part + 1 == parts);
    prof__deflate_end(d);
    return d->size;
}

/*-- INNER ------------------------------------------------------------------------------------------------ >>inner --
   All that prof_chrome.h, prof_html.h, prof_xplane.h, prof_report.h, prof_ntff.h, prof_server.h and the tool use of
   prof.h beyond what any program may use. It changes with every version. What is said at a function's definition is not
   said again.

   Sizes are bytes, times nanoseconds; text ends with a zero. An int is 1 for yes, or for done, and 0 for no, or for no
   memory, where nothing else is said; functions that return a prof_status leave a text for prof_error(). One thread at
   a time uses an object; locks, and functions of the process and of its session, are for any thread. Signal handlers
   use none of this.

   Of the compiler and the system: PROF__AT_START PROF__AT_END PROF__PER_THREAD, see >>compiler; PROF__PRINTF PROF__COLD
   PROF__LIKELY PROF__UNLIKELY PROF__SOON PROF__UNUSED PROF__UNTRACED, PROF__ONE_PER_PROCESS, of a variable
   that copies of the code share; PROF__SHARED: this is in a library that may be unloaded; PROF__AUTOSTARTS:
   constructors can start what the environment asks for; PROF__LATE: functions of Linux have to be declared;
   PROF__WRAPS_MALLOC: malloc() and so on are the program's, prof__quiet_sort() is qsort() without them;
   PROF__QUIETLY(type, call): a call of the C library whose allocations are not the program's. PROF__LOAD PROF__STORE
   (relaxed) PROF__ACQUIRE PROF__RELEASE. PROF__ERRNO_SAVE PROF__ERRNO_RESTORE.
   PROF__OWN_BEGINS(), PROF__OWN_ENDS(): what this thread waits for in between is not the program's: see >>waits.
   PROF__CALM: begins each public function that computes with numbers of floating point; prof__finite() prof__nan()
   classify these by their bits: see >>numbers.
   Of declarations: PROF__STRIPPED PROF__STRIPPED_OBJECT PROF__STRIPPED_INLINE prof__stripped_none prof__stripped_text
   PROF__EITHER PROF__USE PROF__USE2 PROF__USE3, see >>stripped; PROF__AGAIN; PROF__BLOCK: PROFILE_BLOCK() with a
   category and a level.
   PROF__CENTURY: ns. */

static int prof__interrupted(int *tries); /* a call that has failed is to be made again */
static prof_status prof__fail(prof_status status, const char *format, ...); /* sets prof_error(); returns status */

/*-- output: a file, which takes its name when it is complete, or a sink. The first error sticks (status), and all that
   follows is thrown away. At most 4096 bytes can be reserved; only what is committed counts -- */
/* type: prof__out */
static prof_status prof__out_file(prof__out *out, const char *path); /* path null or "-": standard output */
static void prof__out_sink(prof__out *out, prof_sink sink);
static prof_status prof__out_close(prof__out *out); /* returns the first error; not after prof__out_file() failed */
static void prof__out_fail(prof__out *out, prof_status status);
static void prof__out_bytes(prof__out *out, const void *data, size_t size);
static void prof__out_zeros(prof__out *out, uint64_t size);
static void prof__out_text(prof__out *out, const char *text);
static void prof__out_unsigned(prof__out *out, uint64_t value);
static void prof__out_signed(prof__out *out, int64_t value);
static void prof__out_double(prof__out *out, double value);
static void prof__out_json(prof__out *out, const char *text); /* the inside of a string */
static char *prof__out_reserve(prof__out *out, size_t size); /* never null */
static void prof__out_commit(prof__out *out, size_t size);

/*-- output for people: in columns of width characters, or in lines of so many (0: of any length). No control character
   of a name reaches the terminal -- */
static size_t prof__out_columns(const prof__out *out, int columns); /* what the option of that name means here */
static void prof__out_name(prof__out *out, const char *text, size_t width); /* shortened in the middle */
static void prof__out_right(prof__out *out, const char *text, size_t width);
static void prof__out_count(prof__out *out, uint64_t count, size_t width);
static void prof__out_ns(prof__out *out, double ns, size_t width);
static void prof__out_clean(prof__out *out, const char *text);
static void prof__out_wrapped(prof__out *out, const char *text, size_t at, size_t indent, size_t limit);
static int prof__terminal_columns(void); /* 0: standard output is none */

/*-- text. Where a buffer has no size, 32 bytes do -- */
/* "U+FFFD" in UTF-8: PROF__UTF8_REPLACED */
static void prof__text_copy(char *to, size_t size, const char *from); /* cut where it does not fit */
static int prof__text_add(char *to, size_t size, const char *from);
static char *prof__text_join(const char *a, const char *b); /* for free() */
static char *prof__out_part(const char *path); /* a new name beside a file, for free() */
static size_t prof__utf8(const char *text); /* bytes of the character; 0: it is none */
static int prof__utf8_length(const char *text); /* the same; less than 0: so many bytes for one U+FFFD */
static size_t prof__utf8_write(char *to, unsigned code); /* to: 4 bytes; returns how many it has written */
static int prof__utf8_inner(char byte); /* it is not the first one of a character */
static size_t prof__utf8_cut(const char *text, size_t most); /* so many of a longer text's bytes are whole characters */
static int prof__is_control(const char *text);
static size_t prof__json_character(const char *text, char *to, size_t *size); /* to: 8 bytes */
static const char *prof__next_character(const char *text);
static size_t prof__characters(const char *text);
static size_t prof__digits(char *to, uint64_t value); /* 20 at most, without a zero; returns how many */
static size_t prof__double_text(char *to, double value); /* which reads back as the same */
static size_t prof__decimals(char *to, uint64_t value, unsigned decimals); /* 1234 with 3 is 1.234 */
static size_t prof__fixed(char *to, double value, unsigned decimals); /* value 0 or more, decimals up to 3 */
static void prof__grouped(char *to, uint64_t value); /* 1,234,567 */
static void prof__human_ns(char *to, double ns); /* 1.23 ms */
static void prof__human_hz(char *to, double hz); /* 24.00 MHz */
static void prof__measured(char *to, double value, const char *unit); /* of a counter: 2.196 GB; to: 96 bytes */
static void prof__csv_quoted(prof__out *out, const char *text, const char *special);
static unsigned char *prof__pack_integer(unsigned char *to, uint64_t value); /* LEB128; returns its end */
/* Packing: type prof__deflate, PROF__DEFLATE_BOUND(size), prof__deflate_start() prof__deflate_part()
   prof__deflate_end() prof__deflate_all() */
static int prof__parse_whole(const char *text, uint64_t *out);
#ifndef PROF_NO_TEXT
/* its place among them, or -1; the last is null */
static int prof__parse_name(const char *text, const char *const *names);
static int prof__parse_seconds(const char *text, uint64_t *ns); /* 5, 1.5s, 20ms */
#endif
/* prof__switch_names: 0, 1, off, on, ...: odd places are on. prof__mode_names: of prof_mode */

/*-- arrays that grow, PROF__ROOM(array, capacity, count): 0: no memory for one more; PROF__MORE(array, capacity,
   count): one more, of zeros, or null; and an index of them by hash, all zero when it is empty, its slots for free();
   PROF__NEW(index, hash, array, capacity, count): one more of both, its number or PROF__NONE -- */
/* type: prof__read_index. PROF__NONE: no item */
static size_t prof__read_find(const prof__read_index *index, uint32_t hash, prof__read_equal *equal, const void *owner,
                              const void *key);
static int prof__read_add(prof__read_index *index, uint32_t hash, size_t item);
static inline void prof__read_soon(const prof__read_index *index, uint32_t hash); /* begins to load its place */
static inline size_t prof__read_guess(const prof__read_index *index, uint32_t hash); /* what is probably found */
static void prof__read_forget(prof__read_index *index, size_t *count); /* count: of the array: 0 afterwards */
static uint32_t prof__text_hash(const char *text); /* of this process only */
static uint64_t prof__text_key(const char *text); /* likewise; in place of the text itself */
static uint64_t prof__mix(uint64_t h);
static inline uint64_t prof__mix_key(uint64_t number, uint64_t key);
/* The same in all processes: */
static uint64_t prof__texts_hash(uint64_t hash, const char *text); /* the first text: with PROF__TEXTS_START */
static uint32_t prof__hash_add(uint32_t hash, const void *bytes, size_t size);

/*-- files -- */
/* prof__file_open: fopen(); paths are UTF-8 on Windows, too. prof__about, prof__stat: struct stat and stat(), also of
   files of more than 2 GiB where off_t has 32 bits. Not on Windows. */
static int prof__is_slash(char c);
static int prof__is_folder(const char *path); /* it is one, or is called like one */
static prof_status prof__folder_make(const char *path); /* with those around it */
static int prof__folder_for(const char *path); /* makes that of a file; returns 0 or an errno */
static int prof__path_claim(const char *path); /* a new, empty file; returns 0 or an errno */
static int prof__file_replaceable(const char *path);
static int prof__file_rename(const char *from, const char *to); /* returns 0 if it did, as rename() does */
static int prof__read_size(FILE *file, uint64_t *size);
static int prof__read_at(FILE *file, uint64_t offset, void *to, size_t size);
static prof_status prof__expand(const char *path, char *to, size_t size); /* %p and the like */
struct tm;
static int prof__local_time(uint64_t seconds, struct tm *here); /* of a Unix time; 0: the system cannot */

/*-- the process -- */
static const char *prof__environment(const char *name); /* null: not set, or not to be trusted */
static uint64_t prof__process_id(void);
static int prof__process_records(uint64_t pid, const char *boot_id, const char *path); /* it is alive */
static void prof__program_name(char *name, size_t size);
static void prof__host_name(char *name, size_t size);
static uint64_t prof__unix_time(void);
static int prof__is_whole(void); /* 0: another copy of prof records for this process */
#ifndef _WIN32
static int prof__thread_create(pthread_t *thread, void *(*main)(void *user), void *user);
#endif

/*-- locks: an int, 0 at first. Steady: the holder is not cancelled; what the first returns is for the second -- */
static void prof__lock(int *lock);
static int prof__lock_take(int *lock, int slept);
static int prof__lock_try(int *lock);
static void prof__unlock(int *lock);
static int prof__lock_steady(int *lock);
static void prof__unlock_steady(int *lock, int before);

/*-- the session of the process: see >>on_demand. While the control lock is held none begins or ends -- */
/* types: prof__session_status, prof__on_demand_options */
static void prof__control_lock(void);
static void prof__control_unlock(void);
static prof__session_status prof__session_status_now(void);
static prof_status prof__config_check(const prof_config *c);
static int prof__level_of(const prof_config *config); /* as a number from 0 on */
static prof_status prof__on_demand_begin(const prof_config *config, const prof__on_demand_options *wish);
static int prof__on_demand_stop(void);
static void prof__on_demand_free(void);
static prof_status prof__output_again(const char *what);
static void prof__saved_with(prof_status (*hook)(void)); /* called after each save of a trigger; null: no more */

/*-- images and writers -- */
static prof_status prof__image_copy(void **bytes, size_t *size); /* of what is recorded, for free() */
static prof_status prof__image_stream(void *bytes, size_t size, prof_trace *trace, prof_sink sink);
static int prof__trace_gap(const prof_trace *trace, size_t i, char *to, size_t size); /* a line about a suspension */
static prof_status prof__read_image(void *image, size_t size, FILE *file, const char *what, prof_trace **out);
static int prof__is_set(FILE *file); /* it holds several recordings */
static int prof__set_next(FILE *file, uint64_t *at, char name[PROF__SET_NAME], uint64_t *base, uint64_t *size);
static prof_status prof__trace_buffer(const char *path, prof_trace **trace); /* only what the buffer still has */
static prof_status prof__read_buffer_only(void *image, const char *what, prof_trace **trace); /* takes the image */
static prof_status prof__trace_live(prof_trace **trace, int reset); /* reset: statistics of PROF_STATS begin anew */
static uint32_t prof__live_mode(void);
static prof_status prof__writer_for(const char *path, uint32_t mode, const prof_writer **writer);
static prof_status prof__writer_fits(const char *path, const prof_writer *writer, uint32_t mode);

/*-- devices, and an image written anew with rows of devices: see >>import -- */
static int64_t prof__device_on_host(prof_device *device); /* what to take from a Unix time; see there */
/* type: prof__import */
static prof_status prof__import_open(prof__import *w, const char *host, const char *program, const char *clock);
static prof_status prof__import_begin(prof__import *w, const char *host, const char *path);
static size_t prof__import_row(prof__import *w, const char *device, const char *row, int others);
static int prof__import_put(prof__import *w, size_t row, const prof_device_event *event);
static prof_status prof__import_close(prof__import *w, prof_status status, uint64_t first, uint64_t last);

/*-- what a trace knows beyond its public functions -- */
/* type: prof__pair, one moment on all clocks */
static void prof__trace_pairs(const prof_trace *trace, prof__pair *first, prof__pair *last);
static void prof__trace_last(prof_trace *trace, double seconds);
static uint64_t prof__image_tick(const prof_trace *trace, int64_t ns); /* the first that is not before that time */
static int64_t prof__read_ns(const prof_trace *trace, uint64_t tick, size_t *hint); /* *hint: 0 at first */
/* type: prof__read_node: start_ns, end_ns, depth of a scope */
static inline const prof__read_node *prof__cursor_plain(prof_cursor *c, const prof_callsite **site);
static size_t prof__site_count(const prof_trace *trace); /* of call sites, which are numbered from 0 on */
static inline size_t prof__site_number(const prof_trace *trace, const prof_callsite *site); /* PROF__NONE: not its */
static const prof_callsite *prof__site_caller(const prof_trace *trace, const prof_callsite *site);
/* Names made at run time, by their prof__text_key(), before their events come: */
static void prof__cursor_keyed(prof_cursor *c); /* first of all */
static inline const prof__read_node *prof__cursor_ahead(const prof_cursor *c, size_t ahead, const prof_callsite **site,
                                                        uint64_t *key);
static inline uint64_t prof__cursor_key(const prof_cursor *c); /* of the last event's name, if its site has none */
static int prof__trace_archived(const prof_trace *trace);
/* type: prof__align_clock, what aligns a trace with others */
static void prof__align_of(const prof_trace *trace, prof__align_clock *clock);
static size_t prof__align_clocks(const prof__align_clock *clocks, size_t count, int64_t *offsets);
/* prof__read_whole: an image up to so many bytes is in memory as a whole, of a larger one only what it takes to find
   the rest; a program that opens many at once makes it less */
static const char *prof__trace_said(const prof_trace *trace, const char *what); /* a value of its metadata, or "" */
static int prof__trace_aggregated(const prof_trace *trace);
static int prof__has_role(const prof_trace *trace, uint32_t role); /* prof_role: some call site has it */
static int prof__is_flow(prof_event_type type);
/* Groups of event types: PROF__GROUP_SCOPE PROF__GROUP_MARK PROF__GROUP_COUNTER PROF__GROUP_FRAME PROF__GROUP_LOST
   PROF__GROUP_SPAN PROF__GROUP_FLOW PROF__GROUP_MEMORY PROF__GROUP_LOCK PROF__GROUP_MESSAGE */
static unsigned prof__event_group(unsigned type);
static const char *prof__event_name(unsigned type, int many); /* for people; many: 1: the plural */
static int prof__span_of_scope(const prof_callsite *site);
static const char *prof__severity_text(uint64_t severity); /* of a message: "debug" ... */
static int prof__nothing_text(const prof_trace *trace, char *to, size_t size); /* why there are no events */
static int prof__loss_text(const prof_trace *trace, int kind, char *to, size_t size); /* kind: below PROF__LOSSES */
static const char *prof__dropped(const prof_trace *trace, int kind, int64_t from, char *to, size_t size);

/*-- resets: see >>since. The caller's, all zero at first -- */
/* type: prof__bounds */
static int prof__bounds_apply(const prof__bounds *all, prof_trace *trace);
static int prof__bounds_take(prof__bounds *all, const prof_trace *trace);
static int prof__trace_bounded(const prof_trace *trace);
static int prof__trace_counts(const prof_trace *trace, size_t track, int64_t ns);

/*-- time lines of two groups of events. has(user, track, group): whether a track has events of the first; null: any
   may -- */
static prof_status prof__timeline_of(const prof_trace *trace, unsigned group, unsigned also, prof__has_group *has,
                                     const void *user, prof_timeline **timeline);

/*-- the heap as the events of a walk change it; closed also after a failure -- */
/* types: prof__heap, prof__heap_row (PROF__HEAP_POOL: a pool's), prof__heap_block */
static void prof__heap_open(prof__heap *heap, const prof_trace *trace, prof__has_group *has, const void *user);
static int prof__heap_next(prof__heap *heap, prof_event *event, size_t *track);
static int prof__heap_step(prof__heap *heap, const prof_event *event, size_t track);
static prof_status prof__heap_close(prof__heap *heap);
static const char *prof__memory_function(const prof_callsite *site);
static prof__heap_block *prof__heap_find(const prof__heap *heap, uint64_t address, uint32_t pool, int any);

/*-- display: what exporters show, once for all of them -- */
/* types: prof__lock_spans, prof__lock_span; closed also after a failure */
static void prof__lock_spans_open(prof__lock_spans *spans, const prof_trace *trace, prof__has_group *has,
                                  const void *user);
static int prof__lock_spans_next(prof__lock_spans *spans, prof__lock_span *span);
static prof_status prof__lock_spans_close(prof__lock_spans *spans);
/* types: prof__flows, zeroed but for the size of its elements; prof__flow, with which an element begins */
static prof__flow *prof__flow_of(prof__flows *flows, const prof_event *event); /* null: no memory */
static prof__flow *prof__flow_at(const prof__flows *flows, size_t item);
static void prof__flows_free(prof__flows *flows);
/* PROF__DISPLAY_ID: the first id that the system does not give */
static int prof__display_ids(const prof_trace *const *traces, size_t count, size_t tracks, uint32_t *ids,
                             uint32_t *next);
static int prof__display_in(int64_t start, int64_t end, int64_t from, int64_t to); /* to 0: no end */
static int prof__display_wanted(const prof_event *event, int64_t offset, int64_t from, int64_t to);
static int prof__display_listed(const char *const *list, size_t count, const char *name); /* sorted */

/*-- statistics: rows as prof_stats() has them, with what it takes to merge them; freed also after a failure -- */
/* types: prof__stat_rows, prof__stat_row */
static prof_status prof__stat_rows_make(const prof_trace *trace, int by_path, prof__stat_rows *all);
static int prof__stat_rows_aggregated(const prof_trace *trace, int by_path);
static void prof__stat_rows_free(prof__stat_rows *all);
static int prof__stat_row_add(prof__stat_row *to, const prof__stat_row *from);
static void prof__stat_row_finish(prof__stat_row *row); /* mean, deviation, percentiles */
static void prof__stat_row_powers(const prof__stat_row *row, uint64_t powers[65]);
static uint64_t prof__stat_row_sum(uint64_t a, uint64_t b); /* the largest number where it is larger */
static double prof__sort_key(const prof_stat *stat, prof_sort sort);
static double prof__square_root(double value);
static double prof__real(uint64_t value);
/* type: prof__histogram, all zero when it is empty, its steps for free() */
static inline int prof__histogram_add(prof__histogram *h, uint32_t step, uint64_t count);
static uint32_t prof__step_of(uint64_t ns);
static void prof__percentiles(prof__histogram *h, uint64_t total, prof_stat *stat); /* clamped to its least and most */

/*-- texts of call sites, which a writer makes once: the type prof__site_texts, of a trace; prof__site_text, of a call
     site, has the fields size, rest and head -- */
/* PROF__SITE_TEXT: bytes of a text, at most; PROF__SITE_COPY: what a copy may write behind it */
static void prof__site_texts_open(prof__site_texts *t, const prof_trace *trace); /* all zero at first */
static void prof__site_texts_free(prof__site_texts *t);
static inline prof__site_text *prof__site_text_of(const prof__site_texts *t, const prof_callsite *site);
static inline int prof__site_text_kept(const prof__site_text *kept);
static char *prof__site_text_begin(prof__site_text *kept, const prof_callsite *site, prof__out *out); /* null: no */
static int prof__site_text_end(prof__site_texts *t, prof__site_text *kept, prof__out *out, char *start, size_t rest,
                               size_t head);
static inline const char *prof__site_text_at(const prof__site_texts *t, const prof__site_text *kept);
static inline char *prof__site_text_copy(char *to, const char *from, size_t size);

/*-- tables: rows are given twice, as long as prof__table_again() says so -- */
/* types: prof__table; prof__column, the last one with a null title */
static void prof__summary(const prof_trace *trace, prof__out *out, const prof_summary_options *options);
static void prof__summary_losses(prof__out *out, const prof_trace *trace, size_t limit);
static void prof__table_begin(prof__table *t, prof__out *out, size_t limit, const char *title,
                              const prof__column *columns, const char *note_title, size_t note_order);
static void prof__table_row(prof__table *t, const char *name, size_t depth);
static void prof__table_count(prof__table *t, uint64_t count);
static void prof__table_ns(prof__table *t, double ns);
static void prof__table_percent(prof__table *t, double part, double whole);
static void prof__table_end(prof__table *t); /* of the row */
static int prof__table_again(prof__table *t);

/*-- for prof_bridge.h alone. It is a part of the recorder, included in the middle of it (PROF__BRIDGE_HERE), and runs
   inside macros, in signal handlers, too --
   prof__thread PROF__SELF() prof__thread_id(): the calling thread, busy meanwhile; prof__token, of a scope;
   prof__track_of(): the fiber or thread that it records for, whose prof__bridge_stack is the bridge's; prof__state:
   whether a session runs; prof__live(): whether a call site is on; PROF__ROLE_SHIFT, PROF__KIND_UNIT: of a site's
   kind; prof__log_list: the values of a message. prof__lock_enter() prof__lock_leave() prof__signals: a lock with all
   signals blocked.
   prof__length() prof__copy() prof__equal(): of text, safe in handlers. PROF__BARRIER PROF__HIDDEN. */

/*-- for prof_receive.h alone, which records as macros do, by call sites that it makes --
   PROF__SITE_TYPE PROF__NO_SITE PROF__KIND_MARK prof__on() prof__begin_text() prof__mark() prof__mark_text()
   prof__made_int() prof__made_uint() prof__made_double() prof__arg_part_to(): what macros use. */

/*-- for prof_system.h alone, which is above the recorder and records by itself --
   prof__beside prof__beside_now prof__beside_says(): how the recorder calls it, and what it says in the metadata.
   prof__session prof__state_lock() prof__state_unlock() PROF__HELD prof__meta_pair() prof__sandbox(): the session.
   prof__enter_write() prof__enter_slow() prof__leave() prof__reserve_or_lose() prof__commit() prof__store_word()
   prof__now() prof__monotonic(): a record of words of its own. prof__word_wait() prof__word_wake() prof__exits: its
   thread. PROF__KIND_SHIFT PROF__KIND_EVENT PROF__KIND_DATA
   PROF__DEVICE_SWITCHES PROF__SWITCHES_OF PROF__SWITCHES_BEGIN PROF__SWITCHES_UNTIL prof__switch_word()
   PROF__SWITCH_IN PROF__SWITCH_WAITS PROF__SWITCH_READY PROF__SWITCH_OUT PROF__SWITCH_ENDS PROF__SWITCH_NEW
   PROF__SWITCH_KNOWN PROF__SWITCH_LOST PROF__SWITCH_THREADS PROF__SWITCH_SPAN: see >>system. PROF__DEVICE_DELAYS
   PROF__DELAY_LATE prof__delay_word(): see >>delays. PROF__DEVICE_FAULTS PROF__FAULT_WORDS: see >>faults.
   PROF__DEVICE_SAMPLES
   PROF__SAMPLE_DEPTH PROF__SAMPLE_WORDS prof__pack_integer() PROF__META_MODULE PROF__MODULE_WORDS prof__meta_string()
   prof__meta_intern(): see >>samples. prof__loaded prof__loaded_each() prof__segment prof__elf prof__build_id_text()
   prof__loaded_path() PROF__MAX_BUILD_ID PROF__LOW_HALF: of modules. PROF__API PROF__LAST.
   PROF__SITE_AT PROF__AT PROF__BEGIN PROF__BEGIN_WITH PROF__TO PROF__GUARD_TYPE PROF__RECORDED PROF__KIND_BEGIN
   PROF__KIND_ARG prof__begin_number() prof__end() prof__with() prof__clock_ns() PROF__STATEMENT PROF__HERE
   PROF__KIND_FRAME: scopes and frames that read clocks of their own, and record them with PROF__KEY_RUNNING
   PROF__KEY_READY PROF__KEY_WAITING. */

/*-- for headers that are above the recorder and record what a GPU says, such as prof_vulkan.h --
   prof__device_live(): the device's events are recorded now. prof__null(): sets prof_error() for an argument that is
   null. prof__equal(), of text. PROF__ADD, atomic and relaxed. PROF__API PROF__GONE PROF__GUARD_TYPE PROF__TEXT
   PROF__USE4: of declarations. */

/*-- for prof_openmp.h alone: names of functions, for call sites that it makes --
   PROF__INSTANCES: modules can be walked. prof__module_of() prof__module_symbols prof__symbols: see >>symbols.
   PROF__SITE_TYPE: of a type with a site. prof__on() prof__config_version PROF__OFF: whether a site may be on. */

/*-- for prof_cuda.h alone, which is above the recorder, and uses of the above what prof_system.h does --
   prof__beside_devices: how the recorder calls it. prof__begin() prof__event() prof__arg_uint(): for sites that it
   makes. prof__ones prof__parse_number(): values of keys. prof__wait() PROF__OWN_ENDS(): a short sleep. */

#ifdef __EMSCRIPTEN__
#undef malloc
#undef calloc
#undef realloc
#endif
#ifdef PROF__WRAPS_MALLOC
#undef malloc
#undef calloc
#undef realloc
#undef free
#undef qsort
#undef fopen
#undef fgets
#undef fclose
#undef fread
#undef fwrite
#endif

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif /* PROF_IMPLEMENTATION */

#ifdef __GNUC__
#pragma GCC diagnostic pop
#endif
#ifdef __clang__
#pragma clang diagnostic pop
#endif
#pragma pack(pop)

/* This software is available under two licences: choose the one you prefer.

ALTERNATIVE A - MIT No Attribution (MIT-0)

Copyright 2026 the prof authors

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated
documentation files (the "Software"), to deal in the Software without restriction, including without limitation the
rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit
persons to whom the Software is furnished to do so.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR
OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.

ALTERNATIVE B - public domain (www.unlicense.org)

This is free and unencumbered software released into the public domain.

Anyone is free to copy, modify, publish, use, compile, sell, or distribute this software, either in source code form or
as a compiled binary, for any purpose, commercial or non-commercial, and by any means.

In jurisdictions that recognize copyright laws, the author or authors of this software dedicate any and all copyright
interest in the software to the public domain. We make this dedication for the benefit of the public at large and to the
detriment of our heirs and successors. We intend this dedication to be an overt act of relinquishment in perpetuity of
all present and future rights to this software under copyright law.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS BE
LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT
OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE. */
