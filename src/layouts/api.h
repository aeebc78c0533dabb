// layouts/api: Declarations.
#ifndef PROF__LAYOUTS_API_H
#define PROF__LAYOUTS_API_H
#include "api/macros.h"
#include "api/options.h"
#include "api/reports.h"
#include "api/types.h"
#include "api/values.h"
#include "api/writers.h"

typedef enum prof_report_layout {
    PROF_REPORT_SUMMARY = 0,
    PROF_REPORT_PATHS,
    PROF_REPORT_DOMAINS,
    PROF_REPORT_HISTOGRAM,
    PROF_REPORT_JSON,
    PROF_REPORT_MXNET,
    PROF_REPORT_CNTK,
    PROF_REPORT_CNTK_DETAIL,
    PROF_REPORT_LAYOUT_COUNT
} prof_report_layout;

typedef enum prof_report_kind {
    PROF_REPORT_TIME = 0,
    PROF_REPORT_THROUGHPUT,
    PROF_REPORT_SEPARATOR /* a line with only its label */
} prof_report_kind;

/* A row of PROF_REPORT_CNTK. */
typedef struct prof_report_event {
    const char *label;
    prof_report_kind kind;
    const char *name; /* the name of its scopes; NULL: the label */
} prof_report_event;

/* A structure of zeros has the defaults. */
typedef struct prof_report_options {
    prof_report_layout layout;
    prof_sort sort;
    int ascending;
    size_t top;                      /* SUMMARY, PATHS, HISTOGRAM: how many scopes are shown; 0: all */
    const prof_report_event *events; /* CNTK: the rows; NULL: CNTK's own */
    size_t event_count;
    int others;                      /* CNTK: 1: also rows for names that are not in events */
    int columns;                     /* SUMMARY, PATHS, DOMAINS, HISTOGRAM: like prof_summary_options.columns */
} prof_report_options;

/* Of what prof_why() explains calls. */
typedef enum prof_why_kind {
    PROF_WHY_ANY = 0,
    PROF_WHY_FRAMES,      /* frames alone */
    PROF_WHY_STEPS        /* scopes of PROFILE_STEP alone */
} prof_why_kind;

/* Which calls prof_why() explains. A structure of zeros asks for the slowest call of what differs most: of the frames,
   if there are any, else of the outermost scopes that are called again and again. */
typedef struct prof_why_options {
    const char *name;     /* of scopes, or of frames; NULL: see above */
    size_t slowest;       /* so many calls, the slowest first; 0: 1 */
    uint64_t frame;       /* the number of a frame, from 1 on; 0: any */
    int at;               /* 1: only calls that were going on at at_ns. Without a name and frames, those scopes of any
                             name that took the most more than their median */
    int64_t at_ns;        /* since the session's start */
    prof_why_kind kind;   /* without a name: of the frames or steps, those that differ most */
    int step;             /* 1: only steps with the number step_number */
    int64_t step_number;
} prof_why_options;

/* What a call waited for: all waits of one kind, for one object. */
typedef struct prof_why_wait {
    const char *kind;     /* "lock", "condition", "semaphore", "futex", "barrier", "thread" (for its end), "process"
                             (likewise), "io", "sleep", "fault" (of a page); "unknown": the waiting that no record
                             explains */
    const char *call;     /* the function of the C library; "": not known */
    const char *name;     /* of the lock in the markup, or of the pages' file; "": none */
    const char *what;     /* as in prof_wait */
    uint64_t object;
    uint64_t ns;          /* those of all kinds add up to the call's waiting_ns */
    uint64_t count;       /* waits */
    const char *scope;    /* the innermost scope that waited */
    uint64_t holder;      /* the id of the thread that had the lock; 0: not known */
    size_t holder_track;  /* its track, or PROF_NO_TRACK */
    const char *holder_scope;
    size_t waker_track;   /* of the thread that ended the last of the waits, or PROF_NO_TRACK */
    const char *waker_scope;
} prof_why_wait;

/* The scopes of one name inside a call, waits in them included. The call itself is one, for its own time; a frame's
   time outside of all scopes has the name "". All of them add up to wall_ns. */
typedef struct prof_why_inner {
    const char *name;
    uint64_t self_ns;     /* without the scopes inside them */
    uint64_t calls;       /* that began and ended in it */
    uint64_t longest_ns;  /* the longest self time of one of these */
    uint64_t median_ns;   /* the median self time of one, in the whole recording */
    uint64_t count_all;   /* and how many there are in it */
} prof_why_inner;

typedef struct prof_why_counter {
    const char *name, *unit;
    double first, last;
    int around;           /* 1: prof_system.h sampled it before the call and after it, but not inside */
} prof_why_counter;

typedef struct prof_why_ran {
    size_t track;
    uint64_t ns;
} prof_why_ran;

/* The scopes of one name that a device, such as a GPU, did during a call. */
typedef struct prof_why_device {
    const char *name;
    size_t track;         /* the device's */
    uint64_t ns;          /* without the scopes inside them */
    uint64_t waited_ns;   /* of that, how long the call's thread waited for what no record names: as it seems, for
                             this */
} prof_why_device;

typedef struct prof_why_message {
    int64_t ns;
    uint64_t severity;    /* prof_severity */
    const char *text;
} prof_why_message;

typedef struct prof_why_call {
    const char *name;
    uint64_t number;      /* of a frame; of others 0 */
    size_t track;
    int64_t start_ns;
    uint32_t flags;       /* as an event's */
    prof_split split;     /* its parts add up to split.wall_ns. Waits that are recorded count as waiting where nothing
                             else is known of the time */
    const prof_why_wait *waits;       /* the longest first, as all of these */
    const prof_why_inner *inner;
    const prof_why_ran *ran_instead;  /* threads that ran on its processor while it was ready */
    const prof_why_counter *counters; /* those that moved, in order of their names */
    const prof_why_message *messages; /* of its thread, in order of time: the first 20 */
    const prof_why_device *devices;   /* what devices did meanwhile */
    size_t wait_count, inner_count, ran_count, counter_count, message_count, device_count;
    uint64_t allocations, bytes, frees; /* of its thread */
    uint64_t lost;        /* events of its thread that could not be recorded in it */
    int states;           /* 1: it is known what the system did with its thread, but for unknown_ns */
    int step;             /* 1: it is a step, with the number step_number */
    int64_t step_number;
} prof_why_call;

typedef struct prof_why_report {
    const char *name;     /* the scopes or frames of which these are calls; "": those going on at at_ns */
    int frames;           /* 1: they are frames */
    int steps;            /* 1: they are steps */
    uint64_t count_all, median_ns; /* all calls of that name, and their median duration */
    int waits;            /* 1: the recording has waits */
    const prof_why_call *calls;
    size_t count;
    const char *const *others; /* what other frames or steps are called, if it has frames or steps */
    size_t other_count;
} prof_why_report;

#if PROF_ENABLE
/* Explains why calls of a scope, or frames, took as long as they did. options may be NULL. Takes four passes, and
   memory for the waits. Returns PROF_INVALID_ARGUMENT if there is no such scope, frame or time, with the nearest name
   in prof_error(); PROF_UNSUPPORTED for statistics without events. Free it with prof_why_free() before you close the
   trace. */
PROF_DEF prof_status prof_why(const prof_trace *trace, const prof_why_options *options, prof_why_report **report);
PROF_DEF void prof_why_free(prof_why_report *report); /* report may be NULL */

/* Writes a report. path: as for prof_csv_write(). options may be NULL, here and below. */
PROF_DEF prof_status prof_report_write(const prof_trace *trace, const char *path, const prof_report_options *options);
PROF_DEF prof_status prof_report_stream(const prof_trace *trace, prof_sink sink, const prof_report_options *options);
/* Sets *text to a terminated string, which the caller frees with prof_report_free(), or to NULL after an error. Sets
   *size to its length; size may be NULL. */
PROF_DEF prof_status prof_report_text(const prof_trace *trace, const prof_report_options *options, char **text,
                                      size_t *size);
PROF_DEF void prof_report_free(char *text); /* text may be NULL */

/* Writes a report for each of several traces. If path has %p, the process id, each is a file of its own. Else all are
   in one file: each after a line "== PROGRAM, process ID ==", JSON as {"Processes": [...]}; this is not possible for
   CNTK_DETAIL. path may also have %n, the program, with _ for slashes (that of the first trace, if there is one file),
   and %%, a percent sign. A process id that comes twice is replaced by a number from 1000000000 on. */
PROF_DEF prof_status prof_report_each(const prof_trace *const *traces, size_t count, const char *path,
                                      const prof_report_options *options);
PROF_DEF prof_status prof_report_each_stream(const prof_trace *const *traces, size_t count, prof_sink sink,
                                             const prof_report_options *options);

/* Writes CNTK's two files to a folder (NULL: the present one), which is created with its parents if it does not exist.
   suffix: %r in it is the rank of the recording ("0" if it has none), %p the process id, %% a percent sign; NULL or "":
   the rank, or the process id if there is none. Never replaces a file. Of options, only events and others are used. */
PROF_DEF prof_status prof_report_cntk(const prof_trace *trace, const char *folder, const char *suffix,
                                      const prof_report_options *options);

/* Does what MXNet's dump(finished) does. 1: ends the session, which writes its output. 0: writes the output of what was
   recorded so far, and goes on; a .prof is always up to date. After prof_stop() writes the output again if it was
   removed, and returns PROF_OK. Returns PROF_INVALID_STATE if nothing was recorded, or the session has no output: see
   prof_save(). Any thread may call it. */
PROF_DEF prof_status prof_mxnet_dump(int finished);

/* Does what MXNet's pause() (1) and resume() (0) do: sets a flag, no matter how often. It is independent of
   prof_pause(), which counts. Without a session it returns PROF_OK, and has no effect on the next one: a session begins
   unpaused, as with set_state('run'). Any thread may call it. */
PROF_DEF prof_status prof_mxnet_set_paused(int paused);

/* Returns a report of the running session, or the last one, as MXNet's dumps() does: a text that the caller frees with
   prof_report_free(), or NULL after an error, see prof_error(). reset: see >>reset. Any thread may call it. */
PROF_DEF char *prof_mxnet_dumps(prof_report_layout layout, prof_sort sort, int ascending, int reset);
#else
#define prof_why(trace, options, report) \
    PROF__STRIPPED((prof__stripped_none(report, sizeof(void *)), PROF_OK), PROF__USE2(trace, options))
#define prof_why_free(report) PROF__STRIPPED((void)0, PROF__USE(report))
#define prof_report_write(trace, path, options) PROF__STRIPPED(PROF_OK, PROF__USE3(trace, path, options))
#define prof_report_stream(trace, sink, options) PROF__STRIPPED(PROF_OK, PROF__USE3(trace, sink, options))
#define prof_report_text(trace, options, text, size) \
    PROF__STRIPPED((prof__stripped_none(size, sizeof(size_t)), prof__stripped_text(text), PROF_OK), \
                   PROF__USE2(trace, options))
#define prof_report_free(text) PROF__STRIPPED((void)0, PROF__USE(text))
#define prof_report_each(traces, count, path, options) \
    PROF__STRIPPED(PROF_OK, (0 ? (void)(count) : PROF__USE3(traces, path, options)))
#define prof_report_each_stream(traces, count, sink, options) \
    PROF__STRIPPED(PROF_OK, (0 ? (void)(count) : PROF__USE3(traces, sink, options)))
#define prof_report_cntk(trace, folder, suffix, options) \
    PROF__STRIPPED(PROF_OK, (0 ? (void)(folder) : PROF__USE3(trace, suffix, options)))
#define prof_mxnet_dump(finished) PROF__STRIPPED(PROF_OK, PROF__USE(finished))
#define prof_mxnet_set_paused(paused) PROF__STRIPPED(PROF_OK, PROF__USE(paused))
#define prof_mxnet_dumps(layout, sort, ascending, reset) \
    PROF__STRIPPED(prof__stripped_text(NULL), (0 ? (void)(layout) : PROF__USE3(sort, ascending, reset)))
#endif

#endif /* PROF__LAYOUTS_API_H */
