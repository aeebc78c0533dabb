/* prof_report.h - prof's reports: those of other profilers, JSON, and text in memory - public domain
                   assembled from src/: change it there, see CONTRIBUTING.md
                   or MIT-0; needs prof.h and nothing else; the licence is at the end of this file

QUICK START

    #define PROF_IMPLEMENTATION            // in exactly one file of the program, C or C++
    #include "prof_report.h"               // includes prof.h

    int main(void)
    {
        prof_start(NULL);
        for (int i = 0; i < 100; ++i) { PROFILE_SCOPE_C("step", "train"); }
        char *text = prof_mxnet_dumps(PROF_REPORT_MXNET, PROF_SORT_TOTAL, 0, 0);
        if (text) puts(text);              // of the running session, at any time
        prof_report_free(text);
        return (int)prof_stop();
    }

For a recording, call prof_trace_open("trace.prof", &trace), then prof_report_write(trace, "report.txt", &options); or
run `prof summary --layout mxnet trace.prof`.

LAYOUTS                                                                                                    >>layouts

    SUMMARY     the table of prof_summary_write()
    PATHS       the same by call path, as a tree
    DOMAINS     a row for the scopes of each category, the domains of other profilers
    HISTOGRAM   for each scope, span and frame, how its durations are distributed
    JSON        the rows of scopes, spans, frames and counters with all their numbers, not rounded; the run; losses
    MXNET       the table of MXNet's profiler.dumps(format='table')
    CNTK        the summary of CNTK's performance profiler
    CNTK_DETAIL the list of events of CNTK's profiler, as CSV

    SUMMARY, PATHS, DOMAINS and HISTOGRAM fit into lines of options.columns characters or, if they are written to a
    terminal, into its lines: names are shortened in the middle, and columns left out, the least important first. The
    layouts of other systems are the same as those systems write.

    Rows are scopes and spans (whose begins and ends may be on different threads), frames, and counters. All call sites
    of the same name and category make one row; in CNTK, which has no categories, all of the same name. A scope, span or
    frame whose begin or end was not recorded adds no time; all layouts but MXNET and CNTK say how many there are.
    Scopes that overlap on one thread each have all of their time; the one that ends later has all of its time as self
    time, and the one that ends earlier loses none of its own. A task of prof_task_create() that starts and stops on one
    thread has the time without the tasks inside it. All other spans have all of their time as self time, because what
    is inside may be on any thread.
    Losses, if there are any, are after each report; JSON always has them, as "Losses". A report without such a line has
    all that was recorded. What was off, paused or removed by min_duration was not recorded, and is no loss. Control
    characters of names become question marks in text. In JSON, those below U+0020 become \u00XX, and invalid UTF-8
    becomes U+FFFD.

    prof_sort determines the order: MXNet's 'total', 'avg', 'min', 'max' and 'count' are PROF_SORT_TOTAL, _MEAN, _MIN,
    _MAX and _CALLS; counters are sorted by their last, mean, lowest and highest value. Equal rows are sorted by name,
    from Z to A, which is MXNet's order (PROF_SORT_NAME: from A to Z). CNTK's own rows are in the order of its table.

WHY                                                                                                            >>why

    prof_why() says why a frame, or a call of a scope, took as long as it did; `prof why trace.prof` prints it.

        prof_why_options options = {0};     // in C++: = {}
        prof_why_report *report;
        options.name = "load_level";       // without a name: frames, or the outermost scopes that differ most
        options.slowest = 5;
        if (!prof_why(trace, &options, &report)) {
            for (size_t i = 0; i < report->count; ++i)
                printf("%llu ns, %llu of them waiting\n", (unsigned long long)report->calls[i].split.wall_ns,
                       (unsigned long long)report->calls[i].split.waiting_ns);
            prof_why_free(report);
        }

    Running, ready, waiting and unknown add up to the wall time; the waits to the waiting; the scopes inside to the wall
    time. What is not recorded is unknown: see prof_system.h for the first three, and PROF_WRAP_WAITS and
    PROFILE_LOCK_WAIT for the reasons of waits.

MXNET                                                                                                        >>mxnet

    The report has the same bytes as dumps() prints (src/profiler/aggregate_stats.cc): categories from A to Z, each with
    its table; times in milliseconds with four decimals, rounded like its floats. In the categories "Device Storage" and
    "Pool Memory" counters are memory: kB of 1000 bytes, without a total. "Device Storage" also has what PROFILE_ALLOC,
    PROFILE_FREE and PROFILE_REALLOC recorded: the live bytes of each pool after each change, as "Memory: POOL", and
    those without a pool as "Memory: cpu/0", as MXNet calls the host's memory. If a counter has such a name already, it
    is shown instead. PROF_STATS keeps no allocations, and so lacks these rows. Frames are in "<category>,frame", those
    without a category in "frame"; everything else without a category is in "event", where MXNet has its Event objects.
    PROF_REPORT_JSON contains dumps(format='json'): {"Time": {category: {name: {"Count", "Total", "Min", "Max",
    "Avg"}}}, "Memory": ..., "Unit": {"Time": "ms", "Memory": "kB"}}. If prof_system.h has recorded what threads did,
    scopes have it, too: "Running", "Ready", "Waiting" and "Unknown", which add up to the time of the outermost calls,
    "Switches" and "Migrations".

    These differ, because MXNet is wrong there: the average of a counter is the mean of its values, not (max - min) / 2;
    its minimum starts with the first value, not with 2147483647; counters other than memory are not divided by 1000:
    they have their own unit, and in JSON an object of their own, "Counter"; JSON has all digits, not four; times are
    rounded from nanoseconds, not from microseconds; names are not cut after 127 bytes; quotes in names do not break the
    JSON.

    MXNet's calls are here: dumps() is prof_mxnet_dumps(); dump() is prof_mxnet_dump(), also after prof_stop(); pause()
    and resume() are prof_mxnet_set_paused(1) and (0), a flag that may be set at any time.

CNTK                                                                                                          >>cntk

    The summary has the same bytes as ProfilerClose() writes (Source/PerformanceProfilerDll): the fixed events in their
    order, from scopes and spans whose names are exactly the labels, such as "_Minibatch Iteration".
    prof_report_options.events replaces that table. A row appears if something was measured; separators always appear. A
    throughput row is made of scopes that say how much data they moved (PROF_ROLE_THROUGHPUT, argument "bytes"): MB/s of
    10^6 bytes, mean over the scopes, and the sum in KiB or MiB, called kB and MB. options.others adds rows for all
    other names, under a line of their own.

    prof_report_cntk() writes both files under CNTK's names, <folder>/2017-05-12_08-13-20_summary_<suffix>.txt and
    ..._detail_<suffix>.csv. The time is that of the recording's end, which is in the summary, too. Like
    ProfilerClose(), prof_stop() writes them itself at the end of a recording with

        config.output = "profiler/"; config.layout = "cntk";  // PROF_OUTPUT=profiler/ PROF_LAYOUT=cntk ./program

    PROF_STATS has no events, so that only the summary is written. That is also so if output is a file ("profiler.txt"),
    which may have any other of these layouts as well.

    These differ, because CNTK is wrong there: 59.9999 s after a minute is 00:02:00.000, not 00:01:60.000; rates are
    computed with all digits, not from whole kB/s; no file is replaced: a second one of the same name gets the process
    id, and a number if needed; a suffix is never empty: the default is the rank, or the process id if no launcher has
    set a rank; quotes in the CSV are doubled (RFC 4180); its times are exact, while a double has 0.2 us of noise:
    milliseconds since 1970 with the six decimals of nanoseconds, and 00; losses are in both files, in the CSV as an
    event "(N events lost)". The CSV has scopes and spans in the order of their ends, like CNTK's.

SINCE THE LAST RESET                                                                                        >>reset

    After prof_mxnet_dumps(..., reset = 1), the next prof_mxnet_dumps() has only what ended after this one: each scope
    is in exactly one of them. Nothing is erased for prof_trace_open_live() and prof_stop(). In PROF_RING the buffer
    must hold what happens between two calls; what was overwritten is counted, but since the start of the session, like
    all losses. In PROF_STATS and PROF_RING_STATS the statistics themselves are reset: also those of
    prof_summary_write() and of an output .txt. They have no call paths, so that DOMAINS counts the time of scopes
    inside others of their category twice. CNTK_DETAIL fails with PROF_INVALID_ARGUMENT in PROF_STATS, and has all
    events of the ring in PROF_RING_STATS.

    A row of a device has the events that end after the last one of the previous report. An event that is reported late,
    after a report that has events that ended later, is in no report.
*/
#include "prof_read.h" /* outside of the include guard, because this may be the inclusion with PROF_IMPLEMENTATION */

#pragma pack(push, 16) /* as in prof.h */
#ifndef PROF_REPORT_H
#define PROF_REPORT_H

#ifdef __cplusplus
extern "C" {
#endif

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

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif /* PROF_REPORT_H */

/*== END OF HEADER ==================================================================================================*/

#if defined(PROF_IMPLEMENTATION) && PROF_ENABLE && !defined(PROF_FREESTANDING) && !defined(PROF__REPORT_IMPLEMENTED)
#define PROF__REPORT_IMPLEMENTED

#include <time.h>

#ifdef PROF__WRAPS_MALLOC /* so that prof's own allocations are not recorded as the program's */
#define malloc(size) __libc_malloc(size)
#define calloc(count, size) __libc_calloc(count, size)
#define realloc(at, size) __libc_realloc(at, size)
#define free(at) __libc_free(at)
#define qsort(at, count, size, order) prof__quiet_sort(at, count, size, order)
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* A row of a report: the sums of the scopes and spans of a name, of its frames, or of its counters. */
typedef struct prof__report_row {
    prof__stat_row sums; /* its `text` is the name, and owned */
    const char *category;
    double key;      /* the value that rows are sorted by */
    prof_sort sort;
    int ascending, listed; /* listed: 1: CNTK's table of events has it */
} prof__report_row;

typedef struct prof__report {
    const prof_trace *trace;
    prof_report_options options;
    prof__report_row *rows;
    size_t count, capacity;
    prof__read_index index;
    prof__out *out;
    uint64_t pid; /* the process id in the report */
} prof__report;

#define PROF__REPORT_LITERAL(out, literal) prof__out_bytes(out, literal, sizeof(literal) - 1)

static prof_status prof__report_no_memory(void)
{
    return prof__fail(PROF_NO_MEMORY, "no memory for the report");
}

/*-- parts that several layouts use --*/

/* Writes value / unit as "%*.*f" does, but alike in every locale. Rounds halves away from 0. Writes numbers from 9e15 /
   10^decimals on with an exponent. */
static void prof__report_fixed(prof__out *out, double value, double unit, unsigned decimals, size_t width)
{
    static const double scales[] = {1, 10, 100, 1000, 10000};
    char text[48];
    double scaled = (value < 0 ? -value : value) * scales[decimals] / unit + 0.5; /* adding 0.5 keeps a half exact */
    if (prof__finite(value) && scaled < 9e15) {
        text[0] = '-';
        prof__decimals(text + 1, (uint64_t)scaled, decimals);
        prof__out_right(out, text + !(value < 0), width);
    } else {
        prof__double_text(text, value / unit);
        prof__out_right(out, text, width);
    }
}

static int prof__report_lossy(const prof_trace_info *info)
{
    return info->lost || info->lost_args || info->overwritten_chunks || info->unmatched || info->sites_lost ||
           info->lost_blocks || info->write_failures;
}

/* Returns how many characters a line may have: see prof__out_columns(). Returns 0, no limit, for layouts of other
   systems. */
static size_t prof__report_limit(const prof__report *r)
{
    prof_report_layout layout = r->options.layout;
    return layout == PROF_REPORT_MXNET || layout == PROF_REPORT_CNTK ? 0
                                                                     : prof__out_columns(r->out, r->options.columns);
}

/* Writes the losses, if there are any. */
static void prof__report_losses(prof__report *r)
{
    if (prof__report_lossy(prof_trace_about(r->trace))) prof__summary_losses(r->out, r->trace, prof__report_limit(r));
}

/* Returns the Unix time at which the recording ended. */
static uint64_t prof__report_end_ns(const prof_trace *trace)
{
    const prof_trace_info *info = prof_trace_about(trace);
    return info->start_unix_ns + (uint64_t)info->duration_ns;
}

static void prof__report_time(const prof_trace *trace, const char *format, char *to, size_t size)
{
    struct tm here;
    if (!prof__local_time(prof__report_end_ns(trace) / 1000000000, &here) || !strftime(to, size, format, &here))
        to[0] = 0;
}

/*-- rows --*/

typedef struct prof__report_key {
    const char *name, *category;
    prof_event_type type;
} prof__report_key;

static int prof__report_same(const void *owner, size_t item, const void *key)
{
    const prof__report_row *row = (const prof__report_row *)owner + item;
    const prof__report_key *wanted = (const prof__report_key *)key;
    return row->sums.type == wanted->type && !strcmp(row->sums.stat.name, wanted->name) &&
           !strcmp(row->category, wanted->category);
}

/* Returns the row of a name and category. Adds it if it is new. Returns NULL without memory. */
static prof__report_row *prof__report_row_of(prof__report *r, prof_event_type type, const char *category,
                                             const char *name)
{
    prof__report_key key;
    uint32_t hash = prof__text_hash(name) + 31 * prof__text_hash(category) + (uint32_t)type;
    prof__report_row *row;
    size_t item;
    key.name = name;
    key.category = category;
    key.type = type;
    item = prof__read_find(&r->index, hash, prof__report_same, r->rows, &key);
    if (item != PROF__NONE) return &r->rows[item];
    if (!PROF__ROOM(r->rows, r->capacity, r->count)) return NULL;
    row = &r->rows[r->count];
    memset(row, 0, sizeof *row);
    row->sums.text = prof__text_join(name, "");
    if (!row->sums.text || !prof__read_add(&r->index, hash, r->count)) {
        free(row->sums.text);
        return NULL;
    }
    row->sums.stat.name = row->sums.text;
    row->sums.type = type;
    row->category = category;
    r->count++;
    return row;
}

/* Returns the category of a row. In MXNet's layouts, each category has a table, and rows without a category are in the
   table "event". So the category "event" counts as none there. */
static const char *prof__report_category(const prof__report *r, const prof_callsite *site, prof_event_type type)
{
    int by_domain = r->options.layout == PROF_REPORT_MXNET || r->options.layout == PROF_REPORT_JSON;
    if (r->options.layout == PROF_REPORT_CNTK) return "";
    return by_domain && type != PROF_EVENT_FRAME && !strcmp(site->category, "event") ? "" : site->category;
}

/* Returns 1 for call sites of prof itself, whose functions alone begin with prof_. The profilers of MXNet and CNTK
   leave themselves out, so the reports in their layouts leave out prof. */
static int prof__report_is_prof(const prof__report *r, const prof_callsite *site)
{
    int theirs = r->options.layout == PROF_REPORT_MXNET || r->options.layout == PROF_REPORT_JSON ||
                 r->options.layout == PROF_REPORT_CNTK || r->options.layout == PROF_REPORT_CNTK_DETAIL;
    return theirs && (!strncmp(site->function, "prof__", 6) ||
                      (!strcmp(site->category, "prof") && !strncmp(site->function, "prof_", 5)));
}

static prof_status prof__report_stat_rows(prof__report *r)
{
    prof__stat_rows all;
    prof_status status = prof__stat_rows_make(r->trace, 0, &all);
    size_t i;
    for (i = 0; i < all.count && status == PROF_OK; i++) {
        const prof__stat_row *from = &all.items[i];
        prof_event_type type = from->type == PROF_EVENT_SPAN_BEGIN ? PROF_EVENT_SCOPE : from->type;
        prof__report_row *row;
        if (!from->stat.count || prof__report_is_prof(r, from->stat.site)) continue;
        row = prof__report_row_of(r, type, prof__report_category(r, from->stat.site, type), from->stat.name);
        if (!row || !prof__stat_row_add(&row->sums, from)) status = prof__report_no_memory();
        else if (!row->sums.stat.site) row->sums.stat.site = from->stat.site; /* has the unit of what was moved */
    }
    prof__stat_rows_free(&all);
    return status;
}

static int prof__report_after(const prof__report *r, size_t track, int64_t ns)
{
    return prof__trace_counts(r->trace, track, ns);
}

/*-- live bytes of pools, as in MXNet's table "Device Storage" --*/

enum { PROF__REPORT_POOL_NEW = 0, PROF__REPORT_POOL_TAKEN, PROF__REPORT_POOL_ROW }; /* TAKEN: the name is a counter's */

/* Adds a sample of a pool's live bytes. *state: one of the values above. Returns 0 without memory. */
static int prof__report_pool_sample(prof__report *r, const prof_memory_row *pool, int64_t ns, unsigned char *state)
{
    char *name = prof__text_join("Memory: ", *pool->pool ? pool->pool : "cpu/0");
    prof__report_row *row = name ? prof__report_row_of(r, PROF_EVENT_COUNTER, "Device Storage", name) : NULL;
    prof__stat_row sample;
    free(name);
    if (!row) return 0;
    if (*state == PROF__REPORT_POOL_NEW)
        *state = row->sums.stat.count ? PROF__REPORT_POOL_TAKEN : PROF__REPORT_POOL_ROW;
    if (*state == PROF__REPORT_POOL_TAKEN) return 1;
    memset(&sample, 0, sizeof sample);
    sample.type = PROF_EVENT_COUNTER;
    sample.stat.count = 1;
    sample.low = sample.high = sample.last = sample.mean = (double)pool->live_bytes;
    sample.to = ns;
    return prof__stat_row_add(&row->sums, &sample);
}

/* Adds a sample for each change of live bytes since the last reset. Returns 0 without memory. */
static int prof__report_pools_walk(prof__report *r, prof__heap *heap)
{
    unsigned char *states = NULL;
    size_t track, had = 0, capacity = 0;
    prof_event event;
    int good = 1;
    while (good && prof__heap_next(heap, &event, &track)) {
        if (!prof__heap_step(heap, &event, track) || heap->changed == PROF__NONE ||
            !prof__report_after(r, track, event.start_ns))
            continue;
        for (; good && had <= heap->changed; had++) {
            good = PROF__ROOM(states, capacity, had);
            if (good) states[had] = PROF__REPORT_POOL_NEW;
        }
        if (good)
            good = prof__report_pool_sample(r, &heap->rows[heap->changed].about, event.start_ns,
                                            &states[heap->changed]);
    }
    free(states);
    return good;
}

static prof_status prof__report_pools(prof__report *r)
{
    prof__heap heap;
    prof_status status;
    int good;
    if (r->options.layout != PROF_REPORT_MXNET && r->options.layout != PROF_REPORT_JSON) return PROF_OK;
    if (prof__trace_aggregated(r->trace) || !prof__has_role(r->trace, PROF_ROLE_MEMORY)) return PROF_OK;
    prof__heap_open(&heap, r->trace, NULL, NULL);
    good = prof__report_pools_walk(r, &heap);
    status = prof__heap_close(&heap);
    return good ? status : prof__report_no_memory();
}

/*-- making, sorting, freeing --*/

/* Returns the value that a row is sorted by. Times are in microseconds, because MXNet compares them with values of
   counters. NaN becomes a value below all others. */
static double prof__report_sort_key(const prof__report_row *row, prof_sort sort)
{
    const prof__stat_row *sums = &row->sums;
    double key, least = -1.7976931348623157e308;
    if (sums->type != PROF_EVENT_COUNTER)
        return prof__sort_key(&sums->stat, sort) / (sort == PROF_SORT_CALLS ? 1 : 1e3);
    switch ((int)sort) {
    case PROF_SORT_CALLS: return (double)sums->stat.count;
    case PROF_SORT_MEAN: key = sums->mean; break;
    case PROF_SORT_MIN: key = sums->low; break;
    case PROF_SORT_MAX:
    case PROF_SORT_P99: key = sums->high; break;
    case PROF_SORT_NAME: return 0;
    default: key = sums->last; break;
    }
    return prof__nan(key) ? least : key;
}

/* Returns the begin of the category's name in MXNet, and sets *more to the rest of it. */
static const char *prof__report_domain(const prof__report_row *row, const char **more)
{
    int frame = row->sums.type == PROF_EVENT_FRAME;
    *more = !frame ? "" : row->category[0] ? ",frame" : "frame";
    return row->category[0] || frame ? row->category : "event";
}

/* Compares two names, each of which has two parts: a followed by a2, and b followed by b2. */
static int prof__report_joined_order(const char *a, const char *a2, const char *b, const char *b2)
{
    for (;; a++, b++) {
        if (!*a && *a2) a = a2, a2 = "";
        if (!*b && *b2) b = b2, b2 = "";
        if (*a != *b || !*a) return (unsigned char)*a - (unsigned char)*b;
    }
}

static int prof__report_domain_order(const prof__report_row *x, const prof__report_row *y)
{
    const char *more_x, *more_y, *a = prof__report_domain(x, &more_x), *b = prof__report_domain(y, &more_y);
    return prof__report_joined_order(a, more_x, b, more_y);
}

/* Orders rows by key, and then by name. Ignores categories. */
static int prof__report_order(const void *a, const void *b)
{
    const prof__report_row *x = (const prof__report_row *)a, *y = (const prof__report_row *)b;
    int names = strcmp(x->sums.stat.name, y->sums.stat.name);
    if (x->key < y->key || x->key > y->key) return (x->key < y->key) == x->ascending ? -1 : 1;
    if (!names) names = prof__report_domain_order(x, y);
    if (!names) names = (int)x->sums.type - (int)y->sums.type;
    return x->sort == PROF_SORT_NAME ? names : -names;
}

static int prof__report_table_order(const void *a, const void *b)
{
    int domains = prof__report_domain_order((const prof__report_row *)a, (const prof__report_row *)b);
    return domains ? domains : prof__report_order(a, b);
}

static prof_status prof__report_rows(prof__report *r)
{
    prof_status status = prof__report_stat_rows(r);
    size_t i;
    if (status == PROF_OK) status = prof__report_pools(r);
    for (i = 0; i < r->count; i++) {
        prof__report_row *row = &r->rows[i];
        if (row->sums.type != PROF_EVENT_COUNTER) prof__stat_row_finish(&row->sums);
        row->key = prof__report_sort_key(row, r->options.sort);
        row->sort = r->options.sort;
        row->ascending = !!r->options.ascending;
    }
    return status;
}

static void prof__report_sort(prof__report *r, int (*order)(const void *, const void *))
{
    if (r->count) qsort(r->rows, r->count, sizeof *r->rows, order);
}

static void prof__report_clear(prof__report *r)
{
    size_t i;
    for (i = 0; i < r->count; i++) {
        free(r->rows[i].sums.text);
        free(r->rows[i].sums.histogram.steps);
    }
    free(r->rows);
    free(r->index.slots);
}

/* Returns how many calls of a row have a known duration. */
static uint64_t prof__report_measured(const prof__report_row *row)
{
    return row->sums.stat.count - row->sums.stat.truncated;
}

/*-- the layout of CNTK's summary --*/

/* The rows that CNTK's PerformanceProfiler.h lists. No row here moves bytes. */
static const prof_report_event prof__report_cntk_events[] = {
    {"Main Thread", PROF_REPORT_SEPARATOR, NULL},
    {"", PROF_REPORT_SEPARATOR, NULL},
    {"Epoch", PROF_REPORT_TIME, NULL},
    {"_Minibatch Iteration", PROF_REPORT_TIME, NULL},
    {"__Get Minibatch", PROF_REPORT_TIME, NULL},
    {"__Forward + Backward", PROF_REPORT_TIME, NULL},
    {"__Gradient Aggregation", PROF_REPORT_TIME, NULL},
    {"__Weight Update", PROF_REPORT_TIME, NULL},
    {"__Post Processing", PROF_REPORT_TIME, NULL},
    {"", PROF_REPORT_SEPARATOR, NULL},
    {"Data Reader", PROF_REPORT_SEPARATOR, NULL},
    {"", PROF_REPORT_SEPARATOR, NULL},
    {"Prefetch Minibatch", PROF_REPORT_TIME, NULL}};

/* Writes a time as CNTK does: "      136.605 ms" up to a minute, "    00:02:16.600" beyond. */
static void prof__report_cntk_time(prof__out *out, double ns)
{
    char text[64], part[24];
    uint64_t ms;
    size_t at = 0;
    if (ns < 60e9) {
        prof__report_fixed(out, ns, 1e6, 3, 13);
        PROF__REPORT_LITERAL(out, " ms");
        return;
    }
    ms = ns < 1.8e19 ? (uint64_t)(ns / 1e6 + 0.5) : (uint64_t)18000000000000;
    if (ms / 3600000 < 10) text[at++] = '0';
    at += prof__digits(text + at, ms / 3600000);
    prof__digits(part, 1000000000 + ms / 60000 % 60 * 10000000 + ms % 60000 * 100); /* 1 0MM SSsss 00 */
    text[at++] = ':';
    memcpy(text + at, part + 1, 2);
    at += 2;
    text[at++] = ':';
    memcpy(text + at, part + 3, 2);
    at += 2;
    text[at++] = '.';
    memcpy(text + at, part + 5, 3);
    text[at + 3] = 0;
    PROF__REPORT_LITERAL(out, "    ");
    prof__out_text(out, text);
}

static void prof__report_cntk_rate(prof__out *out, double megabytes)
{
    prof__report_fixed(out, megabytes, 1, 3, 11);
    PROF__REPORT_LITERAL(out, " MBps");
}

/* Writes a label, padded to at least 26 characters, and a space. */
static void prof__report_cntk_label(prof__out *out, const char *label)
{
    size_t length = prof__characters(label);
    prof__out_name(out, label, length > 26 ? length : 26);
    PROF__REPORT_LITERAL(out, ": ");
}

static void prof__report_cntk_count(prof__out *out, uint64_t count)
{
    char text[24];
    text[prof__digits(text, count)] = 0;
    prof__out_right(out, text, 16);
    PROF__REPORT_LITERAL(out, " ");
}

static void prof__report_cntk_time_row(prof__out *out, const char *label, const prof__report_row *row)
{
    const prof_stat *stat = &row->sums.stat;
    prof__report_cntk_label(out, label);
    prof__report_cntk_time(out, stat->mean_ns);
    PROF__REPORT_LITERAL(out, " ");
    prof__report_cntk_time(out, stat->deviation_ns);
    PROF__REPORT_LITERAL(out, " ");
    prof__report_cntk_time(out, (double)stat->min_ns);
    PROF__REPORT_LITERAL(out, " ");
    prof__report_cntk_time(out, (double)stat->max_ns);
    PROF__REPORT_LITERAL(out, " ");
    prof__report_cntk_count(out, prof__report_measured(row));
    prof__report_cntk_time(out, (double)stat->sum_ns);
    PROF__REPORT_LITERAL(out, "\n");
}

static void prof__report_cntk_rate_row(prof__out *out, const char *label, const prof__report_row *row)
{
    const prof_stat *stat = &row->sums.stat;
    int few = stat->bytes < 1048576;
    char text[24];
    prof__report_cntk_label(out, label);
    prof__report_cntk_rate(out, stat->mean_rate);
    PROF__REPORT_LITERAL(out, " ");
    prof__report_cntk_rate(out, stat->deviation_rate);
    PROF__REPORT_LITERAL(out, " ");
    prof__report_cntk_rate(out, stat->min_rate);
    PROF__REPORT_LITERAL(out, " ");
    prof__report_cntk_rate(out, stat->max_rate);
    PROF__REPORT_LITERAL(out, " ");
    prof__report_cntk_count(out, stat->rates);
    text[prof__digits(text, stat->bytes >> (few ? 10 : 20))] = 0;
    prof__out_right(out, text, 13);
    prof__out_text(out, few ? " kB\n" : " MB\n");
}

/* Rows of PROFILE_THROUGHPUT_UNIT are times here: the table has megabytes. */
static int prof__report_moves_bytes(const prof__report_row *row)
{
    return row->sums.stat.rates && !(row->sums.stat.site && *row->sums.stat.site->unit);
}

static void prof__report_cntk_row(prof__out *out, const char *label, prof_report_kind kind, const prof__report_row *row)
{
    if (kind == PROF_REPORT_THROUGHPUT && prof__report_moves_bytes(row)) prof__report_cntk_rate_row(out, label, row);
    if (kind == PROF_REPORT_TIME && prof__report_measured(row)) prof__report_cntk_time_row(out, label, row);
}

static void prof__report_cntk_event(prof__report *r, const prof_report_event *event)
{
    const char *name = event->name ? event->name : event->label;
    size_t i;
    if (event->kind == PROF_REPORT_SEPARATOR) {
        prof__out_clean(r->out, event->label);
        PROF__REPORT_LITERAL(r->out, "\n");
        return;
    }
    for (i = 0; i < r->count; i++) {
        if (r->rows[i].sums.type != PROF_EVENT_SCOPE || strcmp(r->rows[i].sums.stat.name, name)) continue;
        r->rows[i].listed = 1;
        prof__report_cntk_row(r->out, event->label, event->kind, &r->rows[i]);
    }
}

static void prof__report_cntk_others(prof__report *r)
{
    size_t i, count = 0;
    for (i = 0; i < r->count; i++) {
        const prof__report_row *row = &r->rows[i];
        if (row->listed || row->sums.type != PROF_EVENT_SCOPE || !prof__report_measured(row)) continue;
        if (!count++) PROF__REPORT_LITERAL(r->out, "\nOther Events\n\n");
        prof__report_cntk_row(r->out, row->sums.stat.name,
                              prof__report_moves_bytes(row) ? PROF_REPORT_THROUGHPUT : PROF_REPORT_TIME, row);
    }
}

static void prof__report_cntk(prof__report *r)
{
    const prof_report_event *events = r->options.events;
    size_t i, count = r->options.event_count;
    char time[48];
    if (!events) {
        events = prof__report_cntk_events;
        count = sizeof prof__report_cntk_events / sizeof *prof__report_cntk_events;
    }
    prof__report_sort(r, prof__report_order);
    prof__report_time(r->trace, "%Y/%m/%d %H:%M:%S", time, sizeof time);
    PROF__REPORT_LITERAL(r->out, "CNTK Performance Profiler Summary Report\n\nTime Stamp: ");
    prof__out_text(r->out, time);
    PROF__REPORT_LITERAL(r->out, "\n\nDescription................ ............Mean ..........StdDev .............Min "
                                 ".............Max ...........Count ...........Total\n\n");
    for (i = 0; i < count; i++) prof__report_cntk_event(r, &events[i]);
    if (r->options.others) prof__report_cntk_others(r);
    prof__report_losses(r);
}

/*-- the layout of CNTK's detail, a list of events --*/

/* A line that waits to be written, because lines are written in the order of their ends. */
typedef struct prof__report_line {
    int64_t start_ns, end_ns;
    uint64_t order; /* of two that end together, the inner one goes first: it began later, or was read later */
    const prof_callsite *site;
    char *text; /* owned: the name, if it was made at run time; else NULL */
    size_t track;
    uint32_t depth;
} prof__report_line;

typedef struct prof__report_lines {
    prof__report_line *heap; /* a heap: the line to write next is at index 0 */
    size_t count, capacity;
    uint64_t order, truncated, lost;
} prof__report_lines;

static int prof__report_line_before(const prof__report_line *a, const prof__report_line *b)
{
    if (a->end_ns != b->end_ns) return a->end_ns < b->end_ns;
    return a->start_ns != b->start_ns ? a->start_ns > b->start_ns : a->order > b->order;
}

static void prof__report_line_swap(prof__report_line *a, prof__report_line *b)
{
    prof__report_line swap = *a;
    *a = *b;
    *b = swap;
}

/* Adds a line. Takes ownership of `text`, also after a failure. Returns 0 without memory. */
static int prof__report_line_push(prof__report_lines *lines, const prof_callsite *site, uint32_t depth, size_t track,
                                  int64_t start_ns, int64_t end_ns, char *text)
{
    prof__report_line *line;
    size_t at;
    if (!PROF__ROOM(lines->heap, lines->capacity, lines->count)) {
        free(text);
        return 0;
    }
    line = &lines->heap[lines->count];
    line->start_ns = start_ns;
    line->end_ns = end_ns;
    line->order = lines->order++;
    line->site = site;
    line->text = text;
    line->track = track;
    line->depth = depth;
    for (at = lines->count++; at && prof__report_line_before(&lines->heap[at], &lines->heap[(at - 1) / 2]);
         at = (at - 1) / 2)
        prof__report_line_swap(&lines->heap[at], &lines->heap[(at - 1) / 2]);
    return 1;
}

static void prof__report_line_pop(prof__report_lines *lines)
{
    size_t at = 0, child;
    free(lines->heap[0].text);
    lines->heap[0] = lines->heap[--lines->count];
    while ((child = 2 * at + 1) < lines->count) {
        if (child + 1 < lines->count && prof__report_line_before(&lines->heap[child + 1], &lines->heap[child])) child++;
        if (!prof__report_line_before(&lines->heap[child], &lines->heap[at])) return;
        prof__report_line_swap(&lines->heap[child], &lines->heap[at]);
        at = child;
    }
}

/* Writes a time as milliseconds since 1970, with eight decimals. */
static void prof__report_detail_time(prof__out *out, const prof_trace *trace, int64_t ns)
{
    char text[40];
    size_t length = prof__decimals(text, prof_trace_about(trace)->start_unix_ns + (uint64_t)ns, 6);
    PROF__REPORT_LITERAL(out, ",");
    prof__out_bytes(out, text, length);
    PROF__REPORT_LITERAL(out, "00");
}

static void prof__report_detail_line(prof__report *r, const char *name, uint64_t thread, int64_t start_ns,
                                     int64_t end_ns)
{
    PROF__REPORT_LITERAL(r->out, "\"");
    prof__csv_quoted(r->out, name, "\"");
    PROF__REPORT_LITERAL(r->out, "\",");
    prof__out_unsigned(r->out, thread);
    prof__report_detail_time(r->out, r->trace, start_ns);
    prof__report_detail_time(r->out, r->trace, end_ns);
    PROF__REPORT_LITERAL(r->out, "\n");
}

/* Writes the lines that end before this event. event: NULL: writes all. */
static void prof__report_detail_due(prof__report *r, prof__report_lines *lines, const prof_event *event, size_t track)
{
    while (lines->count) {
        const prof__report_line *line = &lines->heap[0];
        if (event && line->end_ns > event->start_ns) return;
        if (event && line->end_ns == event->start_ns && line->track == track && line->depth < event->depth) return;
        prof__report_detail_line(r, line->text ? line->text : line->site->name,
                                 prof_trace_track(r->trace, line->track)->thread_id, line->start_ns, line->end_ns);
        prof__report_line_pop(lines);
    }
}

/* Returns a text such as "(5 events lost)", which the caller frees. Returns NULL without memory. */
static char *prof__report_loss_text(uint64_t count, const char *what)
{
    char text[80] = "(";
    size_t length = 1 + prof__digits(text + 1, count);
    snprintf(text + length, sizeof text - length, " %s)", what);
    return prof__text_join(text, "");
}

static int prof__report_detail_event(prof__report *r, prof__report_lines *lines, const prof_event *event, size_t track)
{
    int64_t end = event->start_ns + event->duration_ns;
    char *text = NULL;
    if ((event->type != PROF_EVENT_SCOPE && event->type != PROF_EVENT_LOST) || !prof__report_after(r, track, end) ||
        prof__report_is_prof(r, event->site))
        return 1;
    if (event->flags) {
        lines->truncated++;
        return 1;
    }
    if (event->type == PROF_EVENT_LOST) {
        lines->lost += event->value.as.u;
        text = prof__report_loss_text(event->value.as.u, "events lost");
    } else if (event->name != event->site->name) {
        text = prof__text_join(event->name, "");
    }
    if (!text && (event->type == PROF_EVENT_LOST || event->name != event->site->name)) return 0;
    return prof__report_line_push(lines, event->site, event->depth, track, event->start_ns, end, text);
}

/* Adds the spans that end up to this time. Spans come in the order of their ends; *span is the next one. Returns 0
   without memory. */
static int prof__report_detail_spans(prof__report *r, prof__report_lines *lines, prof_spans *spans, prof_span *span,
                                     int64_t until_ns)
{
    while (span->site && span->start_ns + span->duration_ns <= until_ns) {
        int64_t end = span->start_ns + span->duration_ns;
        int wanted = !span->mark && prof__report_after(r, span->end_track, end);
        char *text = NULL;
        if (wanted && span->flags) lines->truncated++;
        if (wanted && !span->flags) {
            if (span->name != span->site->name && !(text = prof__text_join(span->name, ""))) return 0;
            if (!prof__report_line_push(lines, span->site, 0, span->end_track, span->start_ns, end, text)) return 0;
        }
        prof_spans_next(spans, span); /* after the last span, *span is all zero */
    }
    return 1;
}

static void prof__report_detail_losses(prof__report *r, uint64_t truncated, uint64_t lost)
{
    const prof_trace_info *info = prof_trace_about(r->trace);
    struct {
        uint64_t count;
        const char *what;
    } losses[8];
    size_t i;
    losses[0].count = truncated;
    losses[0].what = "scopes or spans without begin or end";
    losses[1].count = info->lost > lost && !prof__trace_bounded(r->trace) ? info->lost - lost : 0;
    losses[1].what = "events lost";
    losses[2].count = info->overwritten_chunks;
    losses[2].what = "older chunks overwritten";
    losses[3].count = info->unmatched;
    losses[3].what = "ends or arguments without an open scope";
    losses[4].count = info->sites_lost;
    losses[4].what = "names that did not fit";
    losses[5].count = info->lost_blocks;
    losses[5].what = "parts of the file missing";
    losses[6].count = info->write_failures;
    losses[6].what = "writes failed while recording";
    losses[7].count = info->lost_args;
    losses[7].what = "arguments lost";
    for (i = 0; i < 8; i++) {
        char *text = losses[i].count ? prof__report_loss_text(losses[i].count, losses[i].what) : NULL;
        if (text) prof__report_detail_line(r, text, 0, info->duration_ns, info->duration_ns);
        free(text);
    }
}

static prof_status prof__report_detail(prof__report *r)
{
    prof_timeline *timeline = NULL;
    prof_spans *spans = NULL;
    prof__report_lines lines;
    prof_event event;
    prof_span span;
    size_t track = 0;
    int good = 1;
    prof_status more, status = prof_timeline_open(r->trace, &timeline);
    if (status == PROF_OK) status = prof_spans_open(r->trace, &spans);
    if (status != PROF_OK) {
        prof_timeline_close(timeline);
        return status;
    }
    memset(&lines, 0, sizeof lines);
    prof_spans_next(spans, &span);
    PROF__REPORT_LITERAL(r->out, "EventDescription,ThreadId,BeginTimeStamp(ms),EndTimeStamp(ms)\n");
    while (good && r->out->status == PROF_OK && prof_timeline_next(timeline, &event, &track)) {
        good = prof__report_detail_spans(r, &lines, spans, &span, event.start_ns);
        prof__report_detail_due(r, &lines, &event, track);
        good = good && prof__report_detail_event(r, &lines, &event, track);
    }
    good = good && prof__report_detail_spans(r, &lines, spans, &span, INT64_MAX);
    if (good) prof__report_detail_due(r, &lines, NULL, 0);
    while (lines.count) prof__report_line_pop(&lines);
    free(lines.heap);
    if (good) prof__report_detail_losses(r, lines.truncated, lines.lost);
    status = prof_timeline_close(timeline);
    more = prof_spans_close(spans);
    if (status == PROF_OK) status = more;
    return good ? status : prof__report_no_memory();
}

/*-- the layout by domain --*/

/* Links the call paths as a tree, and sets sums.place of each to the row of its category. */
static prof_status prof__report_domain_tree(prof__report *r, prof__stat_rows *all, size_t *root)
{
    size_t i;
    *root = PROF__NONE;
    for (i = 0; i < all->count; i++) all->items[i].child = all->items[i].sibling = PROF__NONE;
    for (i = all->count; i--;) {
        prof__stat_row *sums = &all->items[i];
        const prof__report_row *row;
        size_t *first = sums->stat.parent == PROF_NO_PARENT ? root : &all->items[sums->stat.parent].child;
        if (sums->type != PROF_EVENT_SCOPE) continue;
        row = prof__report_row_of(r, PROF_EVENT_SCOPE, "", sums->stat.site->category);
        if (!row) return prof__report_no_memory();
        sums->place = (size_t)(row - r->rows);
        sums->sibling = *first;
        *first = i;
    }
    return PROF_OK;
}

/* Adds a path to the sums of its category. inside: 1: a scope of that category is around it, and has the path's time
   already. */
static void prof__report_domain_add(prof_stat *to, const prof__stat_row *sums, int inside)
{
    const prof_stat *from = &sums->stat;
    to->count += from->count;
    to->truncated += from->truncated;
    to->self_ns = prof__stat_row_sum(to->self_ns, from->self_ns);
    if (!inside) to->total_ns = prof__stat_row_sum(to->total_ns, from->total_ns);
    if (to->count > to->truncated) to->mean_ns = (double)to->total_ns / (double)(to->count - to->truncated);
    if (to->max_ns < from->max_ns) to->max_ns = from->max_ns;
}

static prof_status prof__report_domain_totals(prof__report *r)
{
    prof__stat_rows all;
    prof_status status = prof__stat_rows_make(r->trace, !prof__stat_rows_aggregated(r->trace, 0), &all);
    size_t at = PROF__NONE;
    if (status == PROF_OK) status = prof__report_domain_tree(r, &all, &at);
    /* Visits the children of a path, then its siblings. In a category's row, sums.open counts the enclosing scopes of
       it. */
    while (status == PROF_OK && at != PROF__NONE) {
        const prof__stat_row *sums = &all.items[at];
        prof__stat_row *to = &r->rows[sums->place].sums;
        prof__report_domain_add(&to->stat, sums, to->open != 0);
        to->open += sums->stat.count > sums->stat.truncated;
        if (sums->child != PROF__NONE) {
            at = sums->child;
            continue;
        }
        for (;; at = sums->stat.parent) {
            sums = &all.items[at];
            r->rows[sums->place].sums.open -= sums->stat.count > sums->stat.truncated;
            if (sums->sibling != PROF__NONE || sums->stat.parent == PROF_NO_PARENT) break;
        }
        at = sums->sibling;
    }
    prof__stat_rows_free(&all);
    return status;
}

static void prof__report_domain_row(prof__table *t, const prof__report_row *row, double all)
{
    const prof_stat *stat = &row->sums.stat;
    prof__table_row(t, *stat->name ? stat->name : "(none)", 0);
    prof__table_count(t, stat->count);
    prof__table_ns(t, (double)stat->total_ns);
    prof__table_ns(t, (double)stat->self_ns);
    prof__table_percent(t, (double)stat->self_ns, all);
    prof__table_ns(t, (double)stat->max_ns);
    prof__table_count(t, stat->truncated);
    prof__table_end(t);
}

static prof_status prof__report_domains(prof__report *r)
{
    static const prof__column columns[] = {{"calls", 0, 0},   {"total", 4, 0},     {"self", 0, 0}, {"% of self", 3, 0},
                                           {"longest", 2, 0}, {"truncated", 1, 0}, {NULL, 0, 0}};
    prof_status status = prof__report_domain_totals(r);
    prof__table t;
    size_t i, shown = 0;
    double all = 0;
    for (i = 0; i < r->count; i++) {
        r->rows[i].key = prof__sort_key(&r->rows[i].sums.stat, r->options.sort);
        r->rows[i].sort = r->options.sort;
        r->rows[i].ascending = !!r->options.ascending;
        all += (double)r->rows[i].sums.stat.self_ns;
        shown += r->rows[i].sums.stat.count != 0;
    }
    prof__report_sort(r, prof__report_order);
    if (status == PROF_OK && !shown) PROF__REPORT_LITERAL(r->out, "no scopes\n");
    prof__table_begin(&t, r->out, prof__report_limit(r), "domain", columns, NULL, 0);
    do
        for (i = 0; i < r->count; i++)
            if (r->rows[i].sums.stat.count) prof__report_domain_row(&t, &r->rows[i], all);
    while (prof__table_again(&t));
    prof__report_losses(r);
    return status;
}

/*-- the layout of histograms --*/

#define PROF__REPORT_BAR ((size_t)40)         /* characters of the longest bar */
#define PROF__REPORT_BEFORE_BAR ((size_t)61)  /* how many characters come before a bar */
#define PROF__REPORT_BAR_LEAST ((size_t)10)

static void prof__report_bar(prof__out *out, uint64_t count, uint64_t max, size_t widest)
{
    double share = (double)count / (double)max * (double)widest;
    int length = (int)(share + 0.5), i;
    PROF__REPORT_LITERAL(out, "  |");
    for (i = 0; i < length; i++) PROF__REPORT_LITERAL(out, "#");
    if (count && !length) PROF__REPORT_LITERAL(out, ".");
    PROF__REPORT_LITERAL(out, "\n");
}

static void prof__report_percent(prof__out *out, double part, double whole, size_t width)
{
    char text[48] = "-";
    if (whole > 0) strcpy(text + prof__fixed(text, part / whole * 100, 1), " %");
    prof__out_right(out, text, width);
}

static void prof__report_bars(prof__out *out, const prof__stat_row *sums, uint64_t all, size_t limit)
{
    size_t widest =
        limit && limit < PROF__REPORT_BEFORE_BAR + PROF__REPORT_BAR ? PROF__REPORT_BAR_LEAST : PROF__REPORT_BAR;
    uint64_t powers[65], max = 0, seen = 0;
    unsigned i, first = 65, last = 0;
    if (widest < PROF__REPORT_BAR && limit > PROF__REPORT_BEFORE_BAR + widest) widest = limit - PROF__REPORT_BEFORE_BAR;
    prof__stat_row_powers(sums, powers);
    for (i = 0; i < 65; i++) {
        if (!powers[i]) continue;
        if (first == 65) first = i;
        last = i;
        if (powers[i] > max) max = powers[i];
    }
    for (i = first; i <= last && i < 65; i++) {
        seen += powers[i];
        prof__out_ns(out, i ? (double)((uint64_t)1 << (i - 1)) : 0, 12);
        prof__out_ns(out, i < 64 ? (double)((uint64_t)1 << i) : 18446744073709551616.0, 12);
        prof__out_count(out, powers[i], 14);
        prof__report_percent(out, (double)powers[i], (double)all, 10);
        prof__report_percent(out, (double)seen, (double)all, 10);
        prof__report_bar(out, powers[i], max, widest);
    }
}

static void prof__report_histogram(prof__out *out, const prof__report_row *row, size_t limit)
{
    const prof_stat *stat = &row->sums.stat;
    const char *more, *domain = prof__report_domain(row, &more);
    uint64_t all = prof__report_measured(row);
    char text[320], count[32], unknown[64] = "", total[48], mean[48], p50[48], p99[48];
    size_t length = prof__characters(stat->name), at;
    if (limit && length > limit / 2) length = limit / 2;
    at = length;
    PROF__REPORT_LITERAL(out, "\n");
    prof__out_name(out, stat->name, length);
    if (row->category[0] || *more) {
        PROF__REPORT_LITERAL(out, " [");
        prof__out_clean(out, domain);
        prof__out_text(out, more);
        PROF__REPORT_LITERAL(out, "]");
        at += prof__characters(domain) + strlen(more) + 3;
    }
    prof__grouped(count, stat->truncated);
    if (stat->truncated) snprintf(unknown, sizeof unknown, " and %s of unknown begin or end", count);
    prof__grouped(count, all);
    prof__human_ns(total, (double)stat->total_ns);
    prof__human_ns(mean, stat->mean_ns);
    prof__human_ns(p50, (double)stat->p50_ns);
    prof__human_ns(p99, (double)stat->p99_ns);
    snprintf(text, sizeof text, ": %s %s%s%s", count, row->sums.type == PROF_EVENT_FRAME ? "frame" : "call",
             all == 1 ? "" : "s", unknown);
    if (all)
        snprintf(text + strlen(text), sizeof text - strlen(text), ", total %s, mean %s, p50 %s, p99 %s", total, mean,
                 p50, p99);
    prof__out_wrapped(out, text, at, 4, limit);
    PROF__REPORT_LITERAL(out, "\n");
    if (!all) return;
    PROF__REPORT_LITERAL(out, "        from       below         count     share    so far\n");
    prof__report_bars(out, &row->sums, all, limit);
}

static void prof__report_histograms(prof__report *r)
{
    size_t i, shown = 0;
    prof__report_sort(r, prof__report_order);
    for (i = 0; i < r->count; i++) {
        if (r->rows[i].sums.type == PROF_EVENT_COUNTER || !r->rows[i].sums.stat.count) continue;
        if (r->options.top && shown == r->options.top) break;
        prof__report_histogram(r->out, &r->rows[i], prof__report_limit(r));
        shown++;
    }
    if (!shown) PROF__REPORT_LITERAL(r->out, "\nno scopes\n");
    prof__report_losses(r);
}

/*-- the layout of MXNet's table --*/

static int prof__report_memory(const prof__report_row *row)
{
    return row->sums.type == PROF_EVENT_COUNTER &&
           (!strcmp(row->category, "Device Storage") || !strcmp(row->category, "Pool Memory"));
}

static void prof__report_mxnet_head(prof__out *out, const prof__report_row *row, int memory)
{
    const char *more, *domain = prof__report_domain(row, &more);
    prof__out_clean(out, domain);
    prof__out_text(out, more);
    PROF__REPORT_LITERAL(out, "\n=================\n");
    if (memory)
        PROF__REPORT_LITERAL(
            out, "Name                          Total Count    Min Use  (kB)    Max Use  (kB)    Avg Use  (kB)\n"
                 "----                          -----------    -------------    -------------    -------------\n");
    else
        PROF__REPORT_LITERAL(out, "Name                          Total Count        Time (ms)    Min Time (ms)    Max "
                                  "Time (ms)    Avg Time (ms)\n"
                                  "----                          -----------        ---------    -------------    "
                                  "-------------    -------------\n");
}

/* Writes a float as "%16.4f" does, but alike in every locale. MXNet's numbers are floats. A float times 10^4 is exact
   as a double, so exact halves are recognised, and rounded to even. */
static void prof__report_mxnet_float(prof__out *out, float value)
{
    char text[48];
    double scaled = (value < 0 ? -(double)value : (double)value) * 10000, rest;
    uint64_t whole;
    PROF__REPORT_LITERAL(out, " ");
    if (!prof__finite(value) || !(scaled < 9e15)) {
        prof__double_text(text, (double)value);
        prof__out_right(out, text, 16);
        return;
    }
    whole = (uint64_t)scaled;
    rest = scaled - (double)whole;
    if (rest > 0.5 || (!(rest < 0.5) && whole % 2)) whole++;
    text[0] = '-';
    prof__decimals(text + 1, whole, 4);
    prof__out_right(out, text + !(value < 0), 16);
}

/* Writes a number of MXNet's table. unit: 1: a counter, written with all its digits; 1e6: a time in ns; 1e3: bytes. */
static void prof__report_mxnet_number(prof__out *out, double value, double unit)
{
    if (unit < 1e3) {
        PROF__REPORT_LITERAL(out, " ");
        prof__report_fixed(out, value, unit, 4, 16);
    } else {
        prof__report_mxnet_float(out, (float)(unit > 1e3 ? value / 1e3 / 1e3 : value / 1e3)); /* in whole us first */
    }
}

static void prof__report_mxnet_row(prof__out *out, const prof__report_row *row)
{
    const prof__stat_row *sums = &row->sums;
    size_t length = prof__characters(sums->stat.name);
    int memory = prof__report_memory(row), counter = sums->type == PROF_EVENT_COUNTER;
    double unit = memory ? 1e3 : counter ? 1 : 1e6;
    char count[24];
    prof__out_name(out, sums->stat.name, length > 25 ? length : 25);
    count[prof__digits(count, prof__report_measured(row))] = 0;
    prof__out_right(out, count, 16);
    if (!memory) prof__report_mxnet_number(out, counter ? sums->last : (double)sums->stat.sum_ns, unit);
    prof__report_mxnet_number(out, counter ? sums->low : (double)sums->stat.min_ns, unit);
    prof__report_mxnet_number(out, counter ? sums->high : (double)sums->stat.max_ns, unit);
    prof__report_mxnet_number(out, counter ? sums->mean : sums->stat.mean_ns, unit);
    PROF__REPORT_LITERAL(out, "\n");
}

/* Writes the rows of one category: those about memory, or the others. */
static void prof__report_mxnet_table(prof__report *r, size_t from, size_t to, int memory)
{
    size_t i, count = 0;
    for (i = from; i < to; i++) {
        if (!prof__report_measured(&r->rows[i]) || prof__report_memory(&r->rows[i]) != memory) continue;
        if (!count++) prof__report_mxnet_head(r->out, &r->rows[i], memory);
        prof__report_mxnet_row(r->out, &r->rows[i]);
    }
    if (count) PROF__REPORT_LITERAL(r->out, "\n");
}

/* Returns the index of the first row of the next category. */
static size_t prof__report_next_domain(const prof__report *r, size_t from)
{
    size_t to = from;
    while (to < r->count && !prof__report_domain_order(&r->rows[from], &r->rows[to])) to++;
    return to;
}

static void prof__report_mxnet(prof__report *r)
{
    size_t from, to;
    prof__report_sort(r, prof__report_table_order);
    PROF__REPORT_LITERAL(r->out, "\nProfile Statistics:\n\tNote the difference in units for different entries.\n");
    for (from = 0; from < r->count; from = to) {
        to = prof__report_next_domain(r, from);
        prof__report_mxnet_table(r, from, to, 1);
        prof__report_mxnet_table(r, from, to, 0);
    }
    prof__report_losses(r);
}

/*-- the JSON layout --*/

static void prof__report_string(prof__out *out, const char *text)
{
    PROF__REPORT_LITERAL(out, "\"");
    prof__out_json(out, text);
    PROF__REPORT_LITERAL(out, "\"");
}

static void prof__report_key_text(prof__out *out, const char *key)
{
    PROF__REPORT_LITERAL(out, ",\"");
    prof__out_text(out, key);
    PROF__REPORT_LITERAL(out, "\":");
}

/* Writes a key and a time in milliseconds, with all digits of the time. */
static void prof__report_ms(prof__out *out, const char *key, uint64_t ns)
{
    char text[32];
    size_t length = prof__decimals(text, ns, 6);
    while (text[length - 1] == '0') length--;
    if (text[length - 1] == '.') length--;
    prof__report_key_text(out, key);
    prof__out_bytes(out, text, length);
}

static void prof__report_double(prof__out *out, const char *key, double value)
{
    prof__report_key_text(out, key);
    if (prof__finite(value))
        prof__out_double(out, value);
    else
        PROF__REPORT_LITERAL(out, "null"); /* JSON has no infinity */
}

static void prof__report_whole(prof__out *out, const char *key, uint64_t value)
{
    prof__report_key_text(out, key);
    prof__out_unsigned(out, value);
}

static void prof__report_json_times(prof__out *out, const prof__report_row *row)
{
    const prof_stat *stat = &row->sums.stat;
    if (prof__report_measured(row)) {
        prof__report_ms(out, "Total", stat->sum_ns);
        prof__report_ms(out, "Min", stat->min_ns);
        prof__report_ms(out, "Max", stat->max_ns);
        prof__report_double(out, "Avg", stat->mean_ns / 1e6);
        prof__report_double(out, "StdDev", stat->deviation_ns / 1e6);
        if (row->sums.type == PROF_EVENT_SCOPE) prof__report_ms(out, "Self", stat->self_ns);
        prof__report_ms(out, "P50", stat->p50_ns);
        prof__report_ms(out, "P90", stat->p90_ns);
        prof__report_ms(out, "P99", stat->p99_ns);
        prof__report_ms(out, "P99.9", stat->p999_ns);
    }
    if (row->sums.type == PROF_EVENT_SCOPE && stat->unknown_ns < stat->total_ns) {
        prof__report_ms(out, "Running", stat->running_ns);
        prof__report_ms(out, "Ready", stat->ready_ns);
        prof__report_ms(out, "Waiting", stat->waiting_ns);
        prof__report_ms(out, "Unknown", stat->unknown_ns);
        prof__report_whole(out, "Switches", stat->switches);
        prof__report_whole(out, "Migrations", stat->migrations);
    }
    if (stat->truncated) prof__report_whole(out, "Truncated", stat->truncated);
    if ((stat->bytes || stat->rates) && *stat->site->unit) {
        prof__report_whole(out, "Moved", stat->bytes);
        prof__report_key_text(out, "Unit");
        PROF__REPORT_LITERAL(out, "\"");
        prof__out_json(out, stat->site->unit);
        PROF__REPORT_LITERAL(out, "\"");
        prof__report_double(out, "AvgPerSecond", stat->mean_rate * 1e6);
        prof__report_double(out, "MinPerSecond", stat->min_rate * 1e6);
        prof__report_double(out, "MaxPerSecond", stat->max_rate * 1e6);
        prof__report_double(out, "StdDevPerSecond", stat->deviation_rate * 1e6);
        return;
    }
    if (stat->bytes || stat->rates) prof__report_whole(out, "Bytes", stat->bytes);
    if (!stat->rates) return;
    prof__report_double(out, "AvgMBps", stat->mean_rate);
    prof__report_double(out, "MinMBps", stat->min_rate);
    prof__report_double(out, "MaxMBps", stat->max_rate);
    prof__report_double(out, "StdDevMBps", stat->deviation_rate);
}

static void prof__report_json_values(prof__out *out, const prof__report_row *row)
{
    const prof__stat_row *sums = &row->sums;
    double scale = prof__report_memory(row) ? 1e3 : 1;
    prof__report_double(out, "Min", sums->low / scale);
    prof__report_double(out, "Max", sums->high / scale);
    prof__report_double(out, "Avg", sums->mean / scale);
    prof__report_double(out, "Last", sums->last / scale);
    prof__report_double(out, "StdDev", prof__square_root(sums->squares / (double)sums->stat.count) / scale);
}

static void prof__report_json_row(prof__out *out, const prof__report_row *row)
{
    prof__report_string(out, row->sums.stat.name);
    PROF__REPORT_LITERAL(out, ":{\"Count\":");
    prof__out_unsigned(out, prof__report_measured(row));
    if (row->sums.type == PROF_EVENT_COUNTER)
        prof__report_json_values(out, row);
    else
        prof__report_json_times(out, row);
    PROF__REPORT_LITERAL(out, "}");
}

static const char *prof__report_section(const prof__report_row *row)
{
    return prof__report_memory(row) ? "Memory" : row->sums.type == PROF_EVENT_COUNTER ? "Counter" : "Time";
}

/* Writes a section, "Time":{category:{name:{...}}}, and a comma. */
static void prof__report_json_section(prof__report *r, const char *section)
{
    size_t from, to, i, domains = 0;
    prof__report_string(r->out, section);
    PROF__REPORT_LITERAL(r->out, ":{");
    for (from = 0; from < r->count; from = to) {
        size_t rows = 0;
        to = prof__report_next_domain(r, from);
        for (i = from; i < to; i++) {
            const char *more, *domain = prof__report_domain(&r->rows[i], &more);
            if (strcmp(prof__report_section(&r->rows[i]), section) || !r->rows[i].sums.stat.count) continue;
            if (!rows++) {
                prof__out_text(r->out, domains++ ? ",\n\"" : "\n\"");
                prof__out_json(r->out, domain);
                prof__out_json(r->out, more);
                PROF__REPORT_LITERAL(r->out, "\":{\n");
            } else {
                PROF__REPORT_LITERAL(r->out, ",\n");
            }
            prof__report_json_row(r->out, &r->rows[i]);
        }
        if (rows) PROF__REPORT_LITERAL(r->out, "}");
    }
    PROF__REPORT_LITERAL(r->out, "},\n");
}

static void prof__report_json(prof__report *r)
{
    const prof_trace_info *info = prof_trace_about(r->trace);
    prof__out *out = r->out;
    prof__report_sort(r, prof__report_table_order);
    PROF__REPORT_LITERAL(out, "{");
    prof__report_json_section(r, "Time");
    prof__report_json_section(r, "Memory");
    prof__report_json_section(r, "Counter");
    PROF__REPORT_LITERAL(out, "\"Unit\":{\"Time\":\"ms\",\"Memory\":\"kB\"},\n\"Process\":{\"Program\":");
    prof__report_string(out, info->program);
    prof__report_whole(out, "Pid", r->pid);
    prof__report_whole(out, "StartUnixNs", info->start_unix_ns);
    prof__report_ms(out, "Duration", (uint64_t)info->duration_ns);
    prof__out_text(out, info->complete ? ",\"Complete\":true},\n" : ",\"Complete\":false},\n");
    PROF__REPORT_LITERAL(out, "\"Losses\":{\"Events\":");
    prof__out_unsigned(out, info->lost);
    prof__report_whole(out, "Arguments", info->lost_args);
    prof__report_whole(out, "InHandlers", info->lost_busy);
    prof__report_whole(out, "OverwrittenChunks", info->overwritten_chunks);
    prof__report_whole(out, "UnmatchedEnds", info->unmatched);
    prof__report_whole(out, "CallSites", info->sites_lost);
    prof__report_whole(out, "MissingParts", info->lost_blocks);
    prof__report_whole(out, "FailedWrites", info->write_failures);
    PROF__REPORT_LITERAL(out, "}}");
}

/*-- a report --*/

static prof_status prof__report_check(const prof_report_options *options)
{
    size_t i;
    if (!options) return PROF_OK;
    if ((unsigned)options->layout >= PROF_REPORT_LAYOUT_COUNT)
        return prof__fail(PROF_INVALID_ARGUMENT, "prof_report: layout %d is not one of prof_report_layout",
                          (int)options->layout);
    if ((unsigned)options->sort > PROF_SORT_NAME)
        return prof__fail(PROF_INVALID_ARGUMENT, "prof_report: sort %d is not one of prof_sort", (int)options->sort);
    if (!options->events && options->event_count)
        return prof__fail(PROF_INVALID_ARGUMENT, "prof_report: events is null, but event_count is not 0");
    for (i = 0; i < options->event_count; i++)
        if (!options->events[i].label || (unsigned)options->events[i].kind > PROF_REPORT_SEPARATOR)
            return prof__fail(PROF_INVALID_ARGUMENT, "prof_report: events[%lu] has no label or no valid kind",
                              (unsigned long)i);
    return PROF_OK;
}

/* Returns PROF_OK if the trace has what the layout shows. CNTK_DETAIL lists events, and PROF_STATS keeps none. */
static prof_status prof__report_fits(const prof_trace *trace, const prof_report_options *options)
{
    if (!options || options->layout != PROF_REPORT_CNTK_DETAIL || prof_trace_about(trace)->mode != PROF_STATS)
        return PROF_OK;
    return prof__fail(PROF_INVALID_ARGUMENT, "prof_report: CNTK's detail needs events, and mode stats keeps none");
}

static void prof__report_own(prof__report *r)
{
    prof_summary_options options;
    options.sort = r->options.sort;
    options.ascending = r->options.ascending;
    options.top = r->options.top;
    options.by_path = r->options.layout == PROF_REPORT_PATHS;
    options.columns = r->options.columns;
    prof__summary(r->trace, r->out, &options);
}

static prof_status prof__report_put(prof__report *r)
{
    prof_status status;
    switch ((int)r->options.layout) {
    case PROF_REPORT_SUMMARY:
    case PROF_REPORT_PATHS: prof__report_own(r); return PROF_OK;
    case PROF_REPORT_DOMAINS: return prof__report_domains(r);
    case PROF_REPORT_CNTK_DETAIL: return prof__report_detail(r);
    default: break;
    }
    status = prof__report_rows(r);
    if (status != PROF_OK) return status;
    switch ((int)r->options.layout) {
    case PROF_REPORT_MXNET: prof__report_mxnet(r); break;
    case PROF_REPORT_CNTK: prof__report_cntk(r); break;
    case PROF_REPORT_HISTOGRAM: prof__report_histograms(r); break;
    default: prof__report_json(r); break;
    }
    return PROF_OK;
}

/* Writes the report of one trace. options: NULL, or values that were checked. */
static void prof__report_one(const prof_trace *trace, uint64_t pid, prof__out *out, const prof_report_options *options)
{
    prof__report r;
    prof_status status;
    memset(&r, 0, sizeof r);
    r.trace = trace;
    r.pid = pid;
    r.out = out;
    if (options) r.options = *options;
    status = prof__report_put(&r);
    if (status != PROF_OK) prof__out_fail(out, status);
    prof__report_clear(&r);
}

/* Writes the report of one trace, and closes the output. */
static prof_status prof__report_close(const prof_trace *trace, uint64_t pid, prof__out *out,
                                      const prof_report_options *options)
{
    prof__report_one(trace, pid, out, options);
    if (options && options->layout == PROF_REPORT_JSON) PROF__REPORT_LITERAL(out, "\n");
    return prof__out_close(out);
}

PROF_DEF prof_status prof_report_write(const prof_trace *trace, const char *path, const prof_report_options *options)
{
    PROF__CALM();
    prof__out out;
    prof_status status = prof__report_check(options);
    if (!trace) return prof__fail(PROF_INVALID_ARGUMENT, "prof_report_write: trace is null");
    if (status == PROF_OK) status = prof__report_fits(trace, options);
    if (status == PROF_OK) status = prof__out_file(&out, path);
    return status == PROF_OK ? prof__report_close(trace, prof_trace_about(trace)->pid, &out, options) : status;
}

PROF_DEF prof_status prof_report_stream(const prof_trace *trace, prof_sink sink, const prof_report_options *options)
{
    PROF__CALM();
    prof__out out;
    prof_status status = prof__report_check(options);
    if (!trace) return prof__fail(PROF_INVALID_ARGUMENT, "prof_report_stream: trace is null");
    if (status == PROF_OK) status = prof__report_fits(trace, options);
    if (status != PROF_OK) return status;
    prof__out_sink(&out, sink);
    return prof__report_close(trace, prof_trace_about(trace)->pid, &out, options);
}

typedef struct prof__report_buffer {
    char *text;
    size_t size, capacity;
} prof__report_buffer;

static int prof__report_buffer_write(void *user, const void *data, size_t size)
{
    prof__report_buffer *buffer = (prof__report_buffer *)user;
    if (size >= buffer->capacity - buffer->size) {
        size_t wanted = buffer->capacity * 2 + size + 256;
        char *text = wanted > size ? (char *)realloc(buffer->text, wanted) : NULL;
        if (!text) return 1;
        buffer->text = text;
        buffer->capacity = wanted;
    }
    memcpy(buffer->text + buffer->size, data, size);
    buffer->size += size;
    buffer->text[buffer->size] = 0;
    return 0;
}

PROF_DEF prof_status prof_report_text(const prof_trace *trace, const prof_report_options *options, char **text,
                                      size_t *size)
{
    PROF__CALM();
    prof__report_buffer buffer = {NULL, 0, 0};
    prof_sink sink;
    prof_status status;
    if (!text) return prof__fail(PROF_INVALID_ARGUMENT, "prof_report_text: text is null");
    *text = NULL;
    if (size) *size = 0;
    sink.write = prof__report_buffer_write;
    sink.user = &buffer;
    status = prof_report_stream(trace, sink, options);
    if (status == PROF_IO) status = prof__report_no_memory(); /* a sink in memory fails for no other reason */
    if (status == PROF_OK) {
        *text = buffer.text;
        if (size) *size = buffer.size;
    } else {
        free(buffer.text);
    }
    return status;
}

PROF_DEF void prof_report_free(char *text)
{
    free(text);
}

/*-- several processes --*/

/* Returns the process id that the report shows for trace `which`: its own, unless an earlier trace has that. */
static uint64_t prof__report_pid(const prof_trace *const *traces, size_t which)
{
    uint64_t pid = prof_trace_about(traces[which])->pid;
    size_t i;
    for (i = 0; i < which; i++)
        if (prof_trace_about(traces[i])->pid == pid) return 1000000000 + which;
    return pid;
}

/* Returns 1 if the path has %p, and 0 if not. Returns -1 if a percent sign is no part of %p, %n or %%. */
static int prof__report_pattern(const char *path)
{
    int found = 0;
    for (; *path; path++) {
        if (*path != '%') continue;
        path++;
        if (*path != 'p' && *path != 'n' && *path != '%') return -1;
        found |= *path == 'p';
    }
    return found;
}

/* Returns the path with %p, %n and %% replaced; the caller frees it. Returns NULL without memory. `program` may come
   from an untrusted file: its slashes become _, so that it names no folder. */
static char *prof__report_path(const char *path, const char *program, uint64_t pid)
{
    size_t room = strlen(path) + 1, at = 0;
    const char *c;
    char digits[24], *to;
    digits[prof__digits(digits, pid)] = 0;
    for (c = path; *c; c++)
        if (*c == '%' && *++c != '%') room += *c == 'p' ? strlen(digits) : strlen(program);
    to = (char *)malloc(room);
    for (c = path; to && *c; c++) {
        const char *piece = *c != '%' || *++c == '%' ? NULL : *c == 'p' ? digits : program;
        if (piece) {
            for (; *piece; piece++) to[at++] = strchr("/\\:", *piece) || (unsigned char)*piece < 32 ? '_' : *piece;
        } else {
            to[at++] = *c;
        }
    }
    if (to) to[at] = 0;
    return to;
}

static prof_status prof__report_files(const prof_trace *const *traces, size_t count, const char *path,
                                      const prof_report_options *options)
{
    prof_status status = PROF_OK;
    size_t i;
    for (i = 0; i < count && status == PROF_OK; i++) {
        uint64_t pid = prof__report_pid(traces, i);
        char *own = prof__report_path(path, prof_trace_about(traces[i])->program, pid);
        prof__out out;
        status = own ? prof__out_file(&out, own) : prof__report_no_memory();
        if (status == PROF_OK) status = prof__report_close(traces[i], pid, &out, options);
        free(own);
    }
    return status;
}

/* Writes "train, rank 3 of job 4711 on node0", as far as it is known, or "train, process 1234" without a rank. */
static void prof__report_process(const prof_trace *trace, uint64_t pid, prof__out *out)
{
    static const char *const keys[] = {"rank", "job", "host"}, *const before[] = {", rank ", " of job ", " on "};
    const prof_trace_info *info = prof_trace_about(trace);
    size_t i;
    prof__out_clean(out, *info->program ? info->program : "program");
    if (!*prof__trace_said(trace, "rank")) {
        PROF__REPORT_LITERAL(out, ", process ");
        prof__out_unsigned(out, pid);
        return;
    }
    for (i = 0; i < sizeof keys / sizeof *keys; i++) {
        const char *value = prof__trace_said(trace, keys[i]);
        if (!*value) continue;
        prof__out_text(out, before[i]);
        prof__out_clean(out, value);
    }
}

/* Writes the reports of several traces, and closes the output. */
static prof_status prof__report_together(const prof_trace *const *traces, size_t count, prof__out *out,
                                         const prof_report_options *options)
{
    int json = options && options->layout == PROF_REPORT_JSON;
    size_t i;
    if (json) PROF__REPORT_LITERAL(out, "{\"Processes\":[\n");
    for (i = 0; i < count; i++) {
        uint64_t pid = prof__report_pid(traces, i);
        if (json) {
            if (i) PROF__REPORT_LITERAL(out, ",\n");
        } else {
            prof__out_text(out, i ? "\n== " : "== ");
            prof__report_process(traces[i], pid, out);
            PROF__REPORT_LITERAL(out, " ==\n");
        }
        prof__report_one(traces[i], pid, out, options);
    }
    if (json) PROF__REPORT_LITERAL(out, "\n]}\n");
    return prof__out_close(out);
}

static prof_status prof__report_each_check(const prof_trace *const *traces, size_t count, int files,
                                           const prof_report_options *options)
{
    prof_status status = prof__report_check(options);
    size_t i;
    if (!traces && count) return prof__fail(PROF_INVALID_ARGUMENT, "prof_report_each: traces is null");
    for (i = 0; i < count; i++)
        if (!traces[i])
            return prof__fail(PROF_INVALID_ARGUMENT, "prof_report_each: trace %lu is null", (unsigned long)i);
    if (status == PROF_OK && !files && options && options->layout == PROF_REPORT_CNTK_DETAIL)
        status = prof__fail(PROF_INVALID_ARGUMENT,
                            "prof_report_each: the CSV has no column for processes: give a path with %%p");
    for (i = 0; i < count && status == PROF_OK; i++) status = prof__report_fits(traces[i], options);
    return status;
}

PROF_DEF prof_status prof_report_each(const prof_trace *const *traces, size_t count, const char *path,
                                      const prof_report_options *options)
{
    PROF__CALM();
    int files = path ? prof__report_pattern(path) : 0;
    prof_status status = prof__report_each_check(traces, count, files, options);
    char *own = NULL;
    prof__out out;
    if (status != PROF_OK) return status;
    if (files < 0)
        return prof__fail(PROF_INVALID_ARGUMENT, "%s: unknown %%: use %%p, %%n or %%%%", path);
    if (files) return prof__report_files(traces, count, path, options);
    if (path && !(own = prof__report_path(path, count ? prof_trace_about(traces[0])->program : "", 0)))
        return prof__report_no_memory();
    status = prof__out_file(&out, own);
    free(own);
    return status == PROF_OK ? prof__report_together(traces, count, &out, options) : status;
}

PROF_DEF prof_status prof_report_each_stream(const prof_trace *const *traces, size_t count, prof_sink sink,
                                             const prof_report_options *options)
{
    PROF__CALM();
    prof_status status = prof__report_each_check(traces, count, 0, options);
    prof__out out;
    if (status != PROF_OK) return status;
    prof__out_sink(&out, sink);
    return prof__report_together(traces, count, &out, options);
}

/*-- the two files of CNTK --*/

/* Makes the end of the files' names: the suffix with %r, %p and %% replaced. */
static prof_status prof__report_suffix(const prof_trace *trace, const char *suffix, char *to, size_t size)
{
    const char *rank = prof__trace_said(trace, "rank");
    char pid[24];
    snprintf(pid, sizeof pid, "%llu", (unsigned long long)prof_trace_about(trace)->pid);
    if (!suffix || !*suffix) suffix = *rank ? "%r" : "%p";
    for (*to = 0; *suffix; suffix++) {
        char piece[2] = {*suffix, 0};
        const char *text = piece;
        if (*suffix == '%') {
            suffix++;
            if (!*suffix || !strchr("rp%", *suffix))
                return prof__fail(PROF_INVALID_ARGUMENT, "prof_report_cntk: suffix: use %%r, %%p or %%%%");
            text = *suffix == 'r' ? (*rank ? rank : "0") : *suffix == 'p' ? pid : "%";
        }
        if (!prof__text_add(to, size, text))
            return prof__fail(PROF_INVALID_ARGUMENT, "prof_report_cntk: folder and suffix are too long");
    }
    if (to[strcspn(to, "/\\")])
        return prof__fail(PROF_INVALID_ARGUMENT, "prof_report_cntk: a suffix must not contain a slash: %s", to);
    return PROF_OK;
}

/* Reserves the name of a file of this kind, and writes it to `to`. */
static prof_status prof__report_cntk_path(const prof_trace *trace, const char *folder, const char *suffix,
                                          const char *kind, const char *extension, char *to, size_t size)
{
    char time[32];
    unsigned long long pid = (unsigned long long)prof_trace_about(trace)->pid;
    unsigned i;
    const char *slash = *folder && prof__is_slash(folder[strlen(folder) - 1]) ? "" : "/";
    prof__report_time(trace, "%Y-%m-%d_%H-%M-%S", time, sizeof time);
    for (i = 0; i < 100000; i++) {
        char unique[64] = "";
        int length, error;
        if (i == 1) snprintf(unique, sizeof unique, "_%llu", pid);
        if (i > 1) snprintf(unique, sizeof unique, "_%llu_%u", pid, i);
        length = snprintf(to, size, "%s%s%s_%s_%s%s%s", folder, slash, time, kind, suffix, unique, extension);
        if (length < 0 || (size_t)length >= size)
            return prof__fail(PROF_INVALID_ARGUMENT, "prof_report_cntk: folder and suffix are too long");
        error = prof__path_claim(to);
        if (!error) return PROF_OK;
        if (error != EEXIST) return prof__fail(PROF_IO, "cannot create %s: %s", to, strerror(error));
    }
    return prof__fail(PROF_IO, "cannot create %s: too many files of that name", to);
}

static prof_status prof__report_cntk_file(const prof_trace *trace, const char *folder, const char *suffix,
                                          const prof_report_options *options, const char *kind, const char *extension)
{
    char path[1024];
    prof_status status = prof__report_cntk_path(trace, folder, suffix, kind, extension, path, sizeof path);
    if (status != PROF_OK) return status;
    status = prof_report_write(trace, path, options);
    if (status != PROF_OK) remove(path);
    return status;
}

static prof_status prof__report_cntk_files(const prof_trace *trace, const char *folder, const char *suffix,
                                           prof_report_options how, int detail)
{
    char own[300];
    prof_status status = prof__report_suffix(trace, suffix, own, sizeof own);
    if (status == PROF_OK) status = prof__folder_make(folder);
    if (status != PROF_OK) return status;
    how.layout = PROF_REPORT_CNTK;
    status = prof__report_cntk_file(trace, folder, own, &how, "summary", ".txt");
    how.layout = PROF_REPORT_CNTK_DETAIL;
    if (status == PROF_OK && detail) status = prof__report_cntk_file(trace, folder, own, &how, "detail", ".csv");
    return status;
}

PROF_DEF prof_status prof_report_cntk(const prof_trace *trace, const char *folder, const char *suffix,
                                      const prof_report_options *options)
{
    PROF__CALM();
    prof_report_options how;
    prof_status status = prof__report_check(options);
    memset(&how, 0, sizeof how);
    if (options) how = *options;
    if (!trace) return prof__fail(PROF_INVALID_ARGUMENT, "prof_report_cntk: trace is null");
    how.layout = PROF_REPORT_CNTK_DETAIL;
    if (status == PROF_OK) status = prof__report_fits(trace, &how);
    return status == PROF_OK ? prof__report_cntk_files(trace, folder && *folder ? folder : ".", suffix, how, 1)
                             : status;
}

/*-- writers for the layouts of config.layout --*/

static prof_status prof__report_as(const prof_trace *trace, const char *path, prof_report_layout layout)
{
    prof_report_options how;
    memset(&how, 0, sizeof how);
    how.layout = layout;
    return prof_report_write(trace, path, &how);
}

static prof_status prof__report_cntk_both(const prof_trace *trace, const char *path)
{
    prof_report_options how;
    memset(&how, 0, sizeof how);
    return prof__report_cntk_files(trace, path, NULL, how, prof_trace_about(trace)->mode != PROF_STATS);
}

#define PROF__REPORT_LAYOUTS(X)                                                                                    \
    X(PATHS, "paths") X(DOMAINS, "domains") X(HISTOGRAM, "histogram") X(JSON, "json") X(MXNET, "mxnet")            \
    X(CNTK, "cntk") X(CNTK_DETAIL, "cntk-detail")
#define PROF__REPORT_WRITE(layout, name)                                               \
    static prof_status prof__report_as_##layout(const prof_trace *trace, const char *path) \
    {                                                                                  \
        return prof__report_as(trace, path, PROF_REPORT_##layout);                     \
    }
PROF__REPORT_LAYOUTS(PROF__REPORT_WRITE)
#define PROF__REPORT_WRITER(layout, name) {"layout:" name, NULL, NULL, prof__report_as_##layout, NULL},
static prof_writer prof__report_writers[] = {
    PROF__REPORT_LAYOUTS(PROF__REPORT_WRITER){"layout:cntk/", NULL, NULL, prof__report_cntk_both, NULL}};

PROF__AT_START(101, prof__report_register);
static void prof__report_register(void)
{
    size_t i = sizeof prof__report_writers / sizeof *prof__report_writers;
    while (i--) prof_writer_register(&prof__report_writers[i]); /* registering puts each before the others */
}
#ifdef PROF__SHARED
PROF__AT_END(101, prof__report_unregister);
static void prof__report_unregister(void)
{
    size_t i = sizeof prof__report_writers / sizeof *prof__report_writers;
    while (i--) prof_writer_unregister(&prof__report_writers[i]);
}
#endif

/*-- reports of the running session --*/

static struct {
    int lock;
    uint32_t session_id; /* the id of the session that prof_mxnet_set_paused() has paused; 0: none */
} prof__report_paused;

static struct {
    int lock;
    prof__bounds bounds; /* what the last reset left out */
} prof__report_reset;

#ifndef _WIN32
/* Releases the locks in the child of a fork(), where the thread that held them may not exist. */
static void prof__report_child_of_fork(void) { prof__report_reset.lock = prof__report_paused.lock = 0; }
PROF__AT_START(101, prof__report_forks);
static void prof__report_forks(void)
{
    pthread_atfork(NULL, NULL, prof__report_child_of_fork);
}
#endif

static prof_status prof__report_dumps(const prof_report_options *options, int reset, char **text)
{
    prof_trace *trace = NULL;
    prof_status status = prof__report_check(options);
    if (status == PROF_OK) status = prof__trace_live(&trace, reset);
    if (status != PROF_OK) return status;
    if (!prof__bounds_apply(&prof__report_reset.bounds, trace)) status = prof__report_no_memory();
    if (status == PROF_OK) status = prof_report_text(trace, options, text, NULL);
    if (status == PROF_OK && reset && !prof__bounds_take(&prof__report_reset.bounds, trace))
        status = prof__report_no_memory();
    if (status != PROF_OK) {
        prof_report_free(*text);
        *text = NULL;
    }
    prof_trace_close(trace);
    return status;
}

PROF_DEF char *prof_mxnet_dumps(prof_report_layout layout, prof_sort sort, int ascending, int reset)
{
    PROF__CALM();
    prof_report_options options;
    char *text = NULL;
    int cancel;
    memset(&options, 0, sizeof options);
    options.layout = layout;
    options.sort = sort;
    options.ascending = ascending;
    cancel = prof__lock_steady(&prof__report_reset.lock);
    prof__report_dumps(&options, reset, &text);
    prof__unlock_steady(&prof__report_reset.lock, cancel);
    return text;
}

/*-- MXNet's functions dump(), pause() and resume() --*/

PROF_DEF prof_status prof_mxnet_dump(int finished)
{
    PROF__CALM();
    prof_status status = finished ? prof_stop() : PROF_INVALID_STATE;
    return status == PROF_INVALID_STATE ? prof__output_again("prof_mxnet_dump") : status;
}

/* Returns the id of the running session. Returns 0 if none runs. */
static uint32_t prof__report_session_id(void)
{
    prof__session_status look = prof__session_status_now();
    return !look.on_demand && (look.running || look.ended) ? look.session_id : 0;
}

PROF_DEF prof_status prof_mxnet_set_paused(int paused)
{
    prof_status status = PROF_OK;
    int cancel = prof__lock_steady(&prof__report_paused.lock);
    uint32_t session_id = prof__report_session_id();
    int was = session_id && prof__report_paused.session_id == session_id;
    if (session_id && paused && !was) {
        status = prof_pause();
        if (status == PROF_OK) prof__report_paused.session_id = session_id;
    } else if (!paused && was) {
        status = prof_resume();
        prof__report_paused.session_id = 0;
    }
    prof__unlock_steady(&prof__report_paused.lock, cancel);
    return status;
}

/*-- WHY ------------------------------------------------------------------------------------------------------ >>why --
   prof_why() walks over the tracks three times, and prof_waits() once. The first walk finds how long the scopes of each
   name take as a rule; then it is known which name to explain. The second one finds the calls of that name. The third
   one splits these. */

/* Durations of scopes, or their self times. */
typedef struct prof__why_times {
    prof__histogram histogram;
    uint64_t count, least, most;
} prof__why_times;

static int prof__why_time(prof__why_times *times, uint64_t ns)
{
    if (!times->count++ || ns < times->least) times->least = ns;
    if (ns > times->most) times->most = ns;
    return prof__histogram_add(&times->histogram, prof__step_of(ns), 1);
}

/* Returns the median, exact to 0.8 %. */
static uint64_t prof__why_median(prof__why_times *times)
{
    prof_stat stat;
    memset(&stat, 0, sizeof stat);
    stat.min_ns = times->least;
    stat.max_ns = times->most;
    prof__percentiles(&times->histogram, times->count, &stat);
    return stat.p50_ns;
}

typedef struct prof__why_name {
    char *text; /* owned */
    int frame;  /* 1: frames, not scopes */
    int step;   /* 1: scopes of which some are steps */
    prof__why_times wall, self;
    uint64_t wall_median, self_median; /* after the first walk */
} prof__why_name;

#define PROF__WHY_SEEN 256u
typedef struct prof__why_names {
    prof__why_name *items;
    size_t count, capacity;
    prof__read_index index;
    struct {
        const prof_callsite *site;
        size_t item;
    } seen[PROF__WHY_SEEN]; /* the last call sites whose names were looked up, by their addresses */
} prof__why_names;

typedef struct prof__why_key {
    const char *text;
    int frame;
} prof__why_key;

static int prof__why_same(const void *owner, size_t item, const void *key)
{
    const prof__why_name *name = (const prof__why_name *)owner + item;
    const prof__why_key *wanted = (const prof__why_key *)key;
    return name->frame == wanted->frame && !strcmp(name->text, wanted->text);
}

/* Returns the number of a name, or PROF__NONE: there is none. */
static size_t prof__why_find(const prof__why_names *names, const char *text, int frame)
{
    prof__why_key key;
    key.text = text;
    key.frame = frame;
    return prof__read_find(&names->index, prof__text_hash(text), prof__why_same, names->items, &key);
}

/* Returns the number of the name of a scope or frame. Adds the name if it is new. Scopes of a site with a format share
   one, as in prof_stats(). Returns PROF__NONE without memory. */
static size_t prof__why_name_of(prof__why_names *names, const prof_callsite *site, const char *own, int frame)
{
    const char *text = site->name[0] ? site->name : own;
    size_t at = (size_t)((uintptr_t)site / sizeof(void *) % PROF__WHY_SEEN), item;
    if (names->seen[at].site == site && site->name[0] && names->items[names->seen[at].item].frame == frame)
        return names->seen[at].item;
    item = prof__why_find(names, text, frame);
    if (item == PROF__NONE) {
        item = PROF__NEW(names->index, prof__text_hash(text), names->items, names->capacity, names->count);
        if (item == PROF__NONE) return item;
        names->items[item].frame = frame;
        names->items[item].text = prof__text_join(text, "");
        if (!names->items[item].text) return PROF__NONE;
    }
    if (site->role == PROF_ROLE_STEP) names->items[item].step = 1;
    names->seen[at].site = site;
    names->seen[at].item = item;
    return item;
}

static void prof__why_names_free(prof__why_names *names)
{
    while (names->count) {
        free(names->items[--names->count].text);
        free(names->items[names->count].wall.histogram.steps);
        free(names->items[names->count].self.histogram.steps);
    }
    free(names->items);
    free(names->index.slots);
}

/* Returns how many characters must be inserted, deleted or replaced to turn a into b. */
static size_t prof__report_distance(const char *a, const char *b)
{
    size_t row[64], n = strlen(b), i, j;
    if (n > 60) return 99;
    for (j = 0; j <= n; j++) row[j] = j;
    for (i = 0; a[i]; i++) {
        size_t diagonal = row[0];
        row[0] = i + 1;
        for (j = 1; j <= n; j++) {
            size_t up = row[j], best = diagonal + (a[i] != b[j - 1]);
            if (up + 1 < best) best = up + 1;
            if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
            row[j] = best;
            diagonal = up;
        }
    }
    return row[n];
}

/* Returns the name that is nearest to a text; NULL: there are none. frames, steps: 1: only names of these count. */
static const char *prof__why_nearest(const prof__why_names *names, const char *text, int frames, int steps)
{
    const char *nearest = NULL;
    size_t least = 0, i;
    for (i = 0; i < names->count; i++) {
        size_t distance = prof__report_distance(text, names->items[i].text);
        if ((frames && !names->items[i].frame) || (steps && !names->items[i].step)) continue;
        if (nearest && distance >= least) continue;
        nearest = names->items[i].text;
        least = distance;
    }
    return nearest;
}

/*-- self times --*/

/* A scope that is open at the present time of a sweep. */
typedef struct prof__why_open {
    size_t name;
    int64_t start, end;
    uint64_t self;
    uint32_t flags;
} prof__why_open;

/* Goes through the scopes of one track, and tells in which scope each time was spent. Waits are no scopes: their time
   is that of the scope that waited. */
typedef struct prof__why_sweep {
    prof__why_open *open;
    size_t depth, capacity;
    int64_t now;
    /* name: that of the innermost scope, or PROF__NONE. Both return 0 without memory. */
    int (*spent)(void *user, size_t name, int64_t from, int64_t to);
    int (*ended)(void *user, const prof__why_open *scope);
    void *user;
} prof__why_sweep;

static void prof__why_sweep_start(prof__why_sweep *sweep)
{
    sweep->depth = 0;
    sweep->now = INT64_MIN;
}

static int prof__why_spend(prof__why_sweep *sweep, int64_t to)
{
    prof__why_open *top = sweep->depth ? &sweep->open[sweep->depth - 1] : NULL;
    int64_t from = sweep->now;
    if (to <= from) return 1;
    sweep->now = to;
    if (top) top->self += (uint64_t)to - (uint64_t)from;
    return !sweep->spent || sweep->spent(sweep->user, top ? top->name : PROF__NONE, from, to);
}

/* Goes on to a time. Scopes that have ended by then are left. */
static int prof__why_sweep_to(prof__why_sweep *sweep, int64_t ns)
{
    while (sweep->depth && sweep->open[sweep->depth - 1].end <= ns) {
        if (!prof__why_spend(sweep, sweep->open[sweep->depth - 1].end)) return 0;
        sweep->depth--;
        if (!sweep->ended(sweep->user, &sweep->open[sweep->depth])) return 0;
    }
    return prof__why_spend(sweep, ns);
}

static int prof__why_sweep_into(prof__why_sweep *sweep, const prof_event *event, size_t name)
{
    prof__why_open *scope;
    if (!prof__why_sweep_to(sweep, event->start_ns)) return 0;
    if (!PROF__ROOM(sweep->open, sweep->capacity, sweep->depth)) return 0;
    scope = &sweep->open[sweep->depth++];
    scope->name = name;
    scope->start = event->start_ns;
    scope->end = event->start_ns + event->duration_ns;
    scope->self = 0;
    scope->flags = event->flags;
    return 1;
}

/* A call that is explained. */
typedef struct prof__why_call {
    prof_why_call about;
    uint64_t score;  /* the calls with the highest ones are explained */
    char *text;      /* owned: a name that was made at run time; else NULL */
    size_t wait_room, inner_room, ran_room, counter_room, device_room;
    prof_why_wait *waits;
    prof_why_inner *inner;
    size_t *inner_names; /* of each of these: the number of its name, or PROF__NONE */
    size_t inner_name_count, inner_name_room;
    prof__read_index inner_index;
    prof_why_ran *ran;
    struct prof__why_moved *moved; /* of each counter of the recording */
    size_t moved_count, moved_room;
    prof_why_counter *counters;
    prof_why_message *messages;
    prof_why_device *devices;
} prof__why_call;

typedef struct prof__why {
    const prof_trace *trace;
    prof_why_options options;
    prof__why_names names;
    prof__why_sweep sweep;
    size_t wanted; /* the number of the name that is explained; PROF__NONE: any scope that is going on at options.at_ns,
                      or scopes whose run-time name is options.name */
    int spans;     /* 1: some frames or scopes are spans */
    prof__why_call *calls;
    size_t count, room, most;
    prof__why_times all; /* the calls of this name */
    size_t track; /* the present one */
    prof_wait *waits;
    size_t wait_count;
    char **texts; /* of messages and the like */
    size_t text_count, text_room;
    const char **others; /* see prof_why_report */
    struct prof__why_counter *counters;
    size_t counter_count, counter_room;
    prof__read_index counter_index;
} prof__why;

/* Calls step for all events of a track. */
static prof_status prof__why_track(prof__why *why, size_t track, int (*step)(prof__why *why, const prof_event *event))
{
    prof_cursor *cursor;
    prof_event event;
    int good = 1;
    prof_status status = prof_cursor_open(why->trace, track, &cursor), closed;
    if (status) return status;
    why->track = track;
    prof__why_sweep_start(&why->sweep);
    while (good && prof_cursor_next(cursor, &event)) good = step(why, &event);
    closed = prof_cursor_close(cursor);
    good = good && (!why->sweep.ended || prof__why_sweep_to(&why->sweep, INT64_MAX));
    return good ? closed : prof__report_no_memory();
}

static prof_status prof__why_tracks(prof__why *why, int (*step)(prof__why *why, const prof_event *event))
{
    prof_status status = PROF_OK;
    size_t i;
    for (i = 0; !status && i < prof_trace_track_count(why->trace); i++) status = prof__why_track(why, i, step);
    return status;
}

/* Calls step for all frames and scopes that are spans. */
static prof_status prof__why_spans(prof__why *why, int (*step)(prof__why *why, const prof_span *span, int frame))
{
    prof_spans *spans;
    prof_span span;
    int good = 1;
    prof_status status = why->spans ? prof_spans_open(why->trace, &spans) : PROF_OK, closed;
    if (status || !why->spans) return status;
    while (good && prof_spans_next(spans, &span)) {
        int frame = span.site->role == PROF_ROLE_FRAME;
        if (!span.mark && (frame || prof__span_of_scope(span.site))) good = step(why, &span, frame);
    }
    closed = prof_spans_close(spans);
    return good ? closed : prof__report_no_memory();
}

/*-- the first walk: how long do scopes and frames take? --*/

static int prof__why_survey_ended(void *user, const prof__why_open *scope)
{
    prof__why *why = (prof__why *)user;
    return scope->flags || prof__why_time(&why->names.items[scope->name].self, scope->self);
}

static int prof__why_survey(prof__why *why, const prof_event *event)
{
    int frame = event->type == PROF_EVENT_FRAME;
    size_t name;
    if (event->type == PROF_EVENT_SPAN_BEGIN &&
        (event->site->role == PROF_ROLE_FRAME || prof__span_of_scope(event->site)))
        why->spans = 1;
    if (event->type != PROF_EVENT_SCOPE && !(frame && event->duration_ns)) return 1;
    if (event->site->role == PROF_ROLE_WAIT) return 1;
    name = prof__why_name_of(&why->names, event->site, event->name, frame);
    if (name == PROF__NONE) return 0;
    if (!event->flags && !prof__why_time(&why->names.items[name].wall, (uint64_t)event->duration_ns)) return 0;
    return frame || prof__why_sweep_into(&why->sweep, event, name);
}

static int prof__why_survey_span(prof__why *why, const prof_span *span, int frame)
{
    size_t name = prof__why_name_of(&why->names, span->site, span->name, frame);
    if (name == PROF__NONE) return 0;
    return span->flags || prof__why_time(&why->names.items[name].wall, (uint64_t)span->duration_ns);
}

/*-- the choice --*/

/* Returns the number of the frames, or steps, that differ most, or PROF__NONE. */
static size_t prof__why_choose_frames(const prof__why_names *names, int steps)
{
    size_t best = PROF__NONE, i;
    for (i = 0; i < names->count; i++) {
        const prof__why_name *name = &names->items[i], *other = best == PROF__NONE ? NULL : &names->items[best];
        if (!(steps ? name->step : name->frame) || !name->wall.count) continue;
        if (!other || name->wall.most - name->wall_median > other->wall.most - other->wall_median) best = i;
    }
    return best;
}

/* Returns 1 if a row of statistics is of a scope that threads do again and again, and none around it is. */
static int prof__why_again(const prof_stat *stats, size_t i)
{
    uint64_t calls = stats[i].count - stats[i].truncated;
    size_t at;
    if (calls < 2 || calls <= stats[i].threads) return 0;
    for (at = stats[i].parent; at != PROF_NO_PARENT; at = stats[at].parent)
        if (stats[at].count - stats[at].truncated > stats[at].threads) return 0;
    return 1;
}

/* Chooses among the outermost scopes that are called again and again the one whose slowest call differs most from its
   median; without any, the outermost scope that took longest. */
static prof_status prof__why_choose_scopes(prof__why *why)
{
    prof_stat *stats;
    const char *best = NULL;
    uint64_t most = 0;
    size_t count, i;
    int again;
    prof_status status = prof_stats_by_path(why->trace, PROF_SORT_TOTAL, 0, &stats, &count);
    if (status) return status;
    for (again = 1; again >= 0 && !best; again--)
        for (i = 0; i < count; i++) {
            uint64_t score = again ? stats[i].max_ns - stats[i].p50_ns : stats[i].max_ns;
            int fits = again ? prof__why_again(stats, i) : stats[i].parent == PROF_NO_PARENT;
            if (!fits || stats[i].site->role == PROF_ROLE_WAIT || stats[i].site->role == PROF_ROLE_DEVICE) continue;
            if (best && score <= most) continue;
            best = stats[i].name;
            most = score;
        }
    if (best) why->wanted = prof__why_find(&why->names, best, 0);
    prof_stats_free(stats);
    return status;
}

/* Returns PROF_OK if the recording has the frames, or steps, that are asked for. */
static prof_status prof__why_has(const prof__why *why)
{
    if ((why->options.frame || why->options.kind == PROF_WHY_FRAMES) &&
        prof__why_choose_frames(&why->names, 0) == PROF__NONE)
        return prof__fail(PROF_INVALID_ARGUMENT, "the recording has no frames: PROFILE_FRAME(name) marks them");
    if ((why->options.step || why->options.kind == PROF_WHY_STEPS) &&
        prof__why_choose_frames(&why->names, 1) == PROF__NONE)
        return prof__fail(PROF_INVALID_ARGUMENT, "the recording has no steps: PROFILE_STEP(name, number) marks them");
    return PROF_OK;
}

/* Finds the name that is explained. */
static prof_status prof__why_choose(prof__why *why)
{
    const char *name = why->options.name;
    int frames = why->options.frame || why->options.kind == PROF_WHY_FRAMES;
    int steps = why->options.step || why->options.kind == PROF_WHY_STEPS;
    size_t i;
    prof_status status;
    why->wanted = PROF__NONE;
    for (i = 0; i < why->names.count; i++) {
        why->names.items[i].wall_median = prof__why_median(&why->names.items[i].wall);
        why->names.items[i].self_median = prof__why_median(&why->names.items[i].self);
    }
    status = prof__why_has(why);
    if (status) return status;
    if (name) {
        if (!frames) why->wanted = prof__why_find(&why->names, name, 0);
        if (steps && why->wanted != PROF__NONE && !why->names.items[why->wanted].step) why->wanted = PROF__NONE;
        if (why->wanted == PROF__NONE && !steps) why->wanted = prof__why_find(&why->names, name, 1);
        return PROF_OK;
    }
    why->wanted = prof__why_choose_frames(&why->names, steps);
    if (why->wanted != PROF__NONE || why->options.at) return PROF_OK;
    return prof__why_choose_scopes(why);
}

/*-- the second walk: the calls --*/

/* Puts a call among those that are explained, if its score is high enough. Of equal ones the first comes first. Returns
   0 without memory. */
static int prof__why_put(prof__why *why, const prof__why_call *call, const char *text)
{
    size_t at = why->count;
    char *own = NULL;
    if (at == why->most && why->calls[at - 1].score >= call->score) return 1;
    if (text && !(own = prof__text_join(text, ""))) return 0;
    if (at == why->most)
        free(why->calls[--why->count].text);
    else if (!PROF__ROOM(why->calls, why->room, at)) {
        free(own);
        return 0;
    }
    for (at = why->count++; at && why->calls[at - 1].score < call->score; at--) why->calls[at] = why->calls[at - 1];
    why->calls[at] = *call;
    why->calls[at].text = own;
    if (own) why->calls[at].about.name = own;
    return 1;
}

/* Looks at a call of a name: is it to be explained? own: its name at run time; number: that of a frame; event: NULL
   for a span. */
static int prof__why_offer(prof__why *why, size_t name, const prof_callsite *site, const char *own, uint64_t number,
                           const prof__why_call *call, const prof_event *event)
{
    prof__why_call offered = *call;
    int64_t end = call->about.start_ns + (int64_t)call->about.split.wall_ns;
    uint64_t wall = call->about.split.wall_ns, usual = why->names.items[name].wall_median;
    int steps = why->options.step || why->options.kind == PROF_WHY_STEPS;
    if (why->wanted != PROF__NONE ? name != why->wanted
                                  : why->options.frame || why->options.kind != PROF_WHY_ANY || steps ||
                                        (why->options.name && strcmp(own, why->options.name)))
        return 1;
    if (steps && !call->about.step) return 1;
    if (!call->about.flags && !prof__why_time(&why->all, wall)) return 0;
    if (why->options.frame && number != why->options.frame) return 1;
    if (why->options.step && call->about.step_number != why->options.step_number) return 1;
    if (why->options.at && (call->about.start_ns > why->options.at_ns || end <= why->options.at_ns)) return 1;
    if (event)
        prof_event_split(why->trace, why->track, event, &offered.about.split);
    else
        prof_track_split(why->trace, call->about.track, call->about.start_ns, end - call->about.start_ns,
                         &offered.about.split);
    offered.about.states = offered.about.split.unknown_ns < wall;
    offered.about.number = number;
    offered.about.name = why->names.items[name].text;
    offered.score = wall;
    if (why->wanted == PROF__NONE && !why->options.name) { /* what is called once is as long as its median */
        offered.score = why->names.items[name].wall.count < 2 ? 0 : wall > usual ? wall - usual + 1 : 1;
        if (offered.score) offered.score += usual / 128; /* medians are so exact: the outer one of two comes first */
    }
    return prof__why_put(why, &offered, own != site->name ? own : NULL);
}

/* Reads the number of a step from its arguments. */
static void prof__why_step_of(prof__why_call *call, const prof_callsite *site, const prof_arg *args, size_t count)
{
    if (site->role != PROF_ROLE_STEP) return;
    while (count) { /* the last of its kind counts */
        const prof_arg *arg = &args[--count];
        if (arg->value.type != PROF_VALUE_INT || strcmp(arg->key, "step_num")) continue;
        call->about.step = 1;
        call->about.step_number = arg->value.as.i;
        return;
    }
}

static int prof__why_gather(prof__why *why, const prof_event *event)
{
    int frame = event->type == PROF_EVENT_FRAME;
    prof__why_call call;
    size_t name;
    if (event->type != PROF_EVENT_SCOPE && !(frame && event->duration_ns)) return 1;
    if (event->site->role == PROF_ROLE_WAIT) return 1;
    name = prof__why_name_of(&why->names, event->site, event->name, frame);
    if (name == PROF__NONE) return 0;
    memset(&call, 0, sizeof call);
    call.about.track = why->track;
    call.about.flags = event->flags;
    call.about.start_ns = frame ? event->start_ns - event->duration_ns : event->start_ns;
    call.about.split.wall_ns = (uint64_t)event->duration_ns;
    prof__why_step_of(&call, event->site, event->args, event->arg_count);
    return prof__why_offer(why, name, event->site, event->name, frame ? event->detail : 0, &call, event);
}

static int prof__why_gather_span(prof__why *why, const prof_span *span, int frame)
{
    size_t name = prof__why_name_of(&why->names, span->site, span->name, frame);
    prof__why_call call;
    if (name == PROF__NONE) return 0;
    memset(&call, 0, sizeof call);
    call.about.track = span->end_track;
    call.about.flags = span->flags;
    call.about.start_ns = span->start_ns;
    call.about.split.wall_ns = (uint64_t)span->duration_ns;
    prof__why_step_of(&call, span->site, span->args, span->arg_count);
    return prof__why_offer(why, name, span->site, span->name, span->number, &call, NULL);
}

/* Says what was asked for and is not there. */
static prof_status prof__why_none(const prof__why *why)
{
    const prof_why_options *options = &why->options;
    int frames = options->frame || options->kind == PROF_WHY_FRAMES;
    int steps = options->step || options->kind == PROF_WHY_STEPS;
    const char *what = frames ? "frame" : steps ? "step" : "scope or frame";
    const char *nearest = options->name ? prof__why_nearest(&why->names, options->name, frames, steps) : NULL;
    const char *name = why->wanted == PROF__NONE ? "scope" : why->names.items[why->wanted].text;
    if (options->name && !why->all.count && why->wanted == PROF__NONE)
        return nearest ? prof__fail(PROF_INVALID_ARGUMENT, "no %s is called '%.60s': did you mean '%.60s'?", what,
                                    options->name, nearest)
                       : prof__fail(PROF_INVALID_ARGUMENT, "no %s is called '%.60s': there are none", what,
                                    options->name);
    if (options->frame)
        return prof__fail(PROF_INVALID_ARGUMENT, "there is no frame %llu of '%.60s'%s",
                          (unsigned long long)options->frame, name,
                          options->at ? " at this time" : ": it was not recorded, or is overwritten");
    if (options->step)
        return prof__fail(PROF_INVALID_ARGUMENT, "there is no step %lld of '%.60s'%s", (long long)options->step_number,
                          name, options->at ? " at this time" : ": it was not recorded, or is overwritten");
    if (options->at)
        return prof__fail(PROF_INVALID_ARGUMENT, "no %.60s was going on at %.3f ms: the recording has %.3f ms", name,
                          (double)options->at_ns / 1e6, (double)prof_trace_about(why->trace)->duration_ns / 1e6);
    return prof__fail(PROF_INVALID_ARGUMENT, "the recording has no scopes and no frames");
}

/* Finds the calls that are explained. */
static prof_status prof__why_calls(prof__why *why)
{
    prof_status status;
    why->sweep.user = why;
    why->sweep.ended = prof__why_survey_ended;
    status = prof__why_tracks(why, prof__why_survey);
    if (!status) status = prof__why_spans(why, prof__why_survey_span);
    if (!status) status = prof__why_choose(why);
    why->sweep.ended = NULL;
    if (!status) status = prof__why_tracks(why, prof__why_gather);
    if (!status) status = prof__why_spans(why, prof__why_gather_span);
    return status || why->count ? status : prof__why_none(why);
}

static int64_t prof__why_end(const prof__why_call *call)
{
    return call->about.start_ns + (int64_t)call->about.split.wall_ns;
}

/*-- waits --*/

static const char *prof__why_kind(const prof_wait *wait)
{
    if (!strcmp(wait->what, "fd") || !strcmp(wait->what, "fds")) return "io";
    if (!strcmp(wait->what, "pid")) return "process";
    if (!strcmp(wait->what, "page")) return "fault";
    return *wait->what ? wait->what : "sleep";
}

/* All pages of one file have a row. */
static int prof__why_same_object(const prof_why_wait *row, const prof_wait *wait)
{
    int pages = *wait->name && !strcmp(wait->what, "page") && !strcmp(row->name, wait->name);
    return pages || row->object == wait->object;
}

static int prof__why_like(const prof_why_wait *row, const prof_wait *wait)
{
    return prof__why_same_object(row, wait) && row->holder == wait->holder && row->holder_track == wait->holder_track &&
           !strcmp(row->call, wait->call) && !strcmp(row->what, wait->what) && !strcmp(row->scope, wait->scope) &&
           !strcmp(row->holder_scope, wait->holder_scope);
}

/* Returns the row of a wait. Adds it if it is new. Returns NULL without memory. */
static prof_why_wait *prof__why_wait_row(prof__why_call *call, const prof_wait *wait)
{
    size_t i;
    prof_why_wait *row;
    for (i = 0; i < call->about.wait_count; i++)
        if (prof__why_like(&call->waits[i], wait)) return &call->waits[i];
    row = (prof_why_wait *)PROF__MORE(call->waits, call->wait_room, call->about.wait_count);
    if (!row) return NULL;
    row->kind = prof__why_kind(wait);
    row->call = wait->call;
    row->name = wait->name;
    row->what = wait->what;
    row->object = wait->object;
    row->scope = wait->scope;
    row->holder = wait->holder;
    row->holder_track = wait->holder_track;
    row->holder_scope = wait->holder_scope;
    row->waker_track = PROF_NO_TRACK;
    row->waker_scope = "";
    return row;
}

/* Adds what a wait has of a call. *until: the end of the waits before it; what they cover does not count again. *ns:
   how long these were: together they are no longer than all that the call waited. */
static int prof__why_wait(prof__why *why, prof__why_call *call, const prof_wait *wait, int64_t *until, uint64_t *ns)
{
    int64_t start = wait->start_ns > *until ? wait->start_ns : *until, end = wait->start_ns + wait->duration_ns;
    prof_why_wait *row;
    prof_split split, *all = &call->about.split;
    uint64_t waited, moved;
    if (end > prof__why_end(call)) end = prof__why_end(call);
    if (end <= start) return 1;
    *until = end;
    prof_track_split(why->trace, call->about.track, start, end - start, &split);
    row = prof__why_wait_row(call, wait);
    if (!row) return 0;
    moved = split.unknown_ns < all->unknown_ns ? split.unknown_ns : all->unknown_ns;
    all->waiting_ns += moved;
    all->unknown_ns -= moved;
    waited = split.waiting_ns + split.unknown_ns;
    if (waited > all->waiting_ns - *ns) waited = all->waiting_ns - *ns;
    *ns += waited;
    row->ns += waited;
    row->count++;
    if (wait->waker_track != PROF_NO_TRACK) {
        row->waker_track = wait->waker_track;
        row->waker_scope = wait->waker_scope;
    }
    return 1;
}

static int prof__why_wait_order(const void *a, const void *b)
{
    const prof_why_wait *x = (const prof_why_wait *)a, *y = (const prof_why_wait *)b;
    if (x->ns != y->ns) return x->ns > y->ns ? -1 : 1;
    return x->object < y->object ? -1 : x->object > y->object;
}

/* Adds the waiting that no record explains, and leaves out calls that ran all the time. */
static int prof__why_waits_rest(prof__why_call *call)
{
    uint64_t rest = call->about.split.waiting_ns;
    prof_why_wait *row;
    size_t i, kept = 0;
    for (i = 0; i < call->about.wait_count; i++) {
        rest -= call->waits[i].ns;
        if (call->waits[i].ns) call->waits[kept++] = call->waits[i];
    }
    call->about.wait_count = kept;
    if (rest) {
        row = (prof_why_wait *)PROF__MORE(call->waits, call->wait_room, call->about.wait_count);
        if (!row) return 0;
        row->kind = "unknown";
        row->call = row->name = row->what = row->scope = row->holder_scope = row->waker_scope = "";
        row->holder_track = row->waker_track = PROF_NO_TRACK;
        row->ns = rest;
    }
    if (call->about.wait_count)
        qsort(call->waits, call->about.wait_count, sizeof *call->waits, prof__why_wait_order);
    return 1;
}

static int prof__why_waits(prof__why *why, prof__why_call *call)
{
    int64_t until = call->about.start_ns;
    uint64_t ns = 0;
    size_t i;
    for (i = 0; i < why->wait_count && why->waits[i].start_ns < prof__why_end(call); i++)
        if (why->waits[i].track == call->about.track && !prof__why_wait(why, call, &why->waits[i], &until, &ns))
            return 0;
    return prof__why_waits_rest(call);
}

/*-- who ran instead --*/

/* Returns the first state that ends after a time. */
static size_t prof__why_state(const prof_state *states, size_t count, int64_t ns)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (states[middle].end_ns <= ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Returns how long a track's thread ran on a processor in a time. */
static uint64_t prof__why_ran_on(const prof_trace *trace, size_t track, int32_t processor, int64_t from, int64_t to)
{
    size_t count, i;
    const prof_state *states = prof_track_states(trace, track, &count);
    uint64_t ns = 0;
    for (i = prof__why_state(states, count, from); i < count && states[i].start_ns < to; i++) {
        int64_t start = states[i].start_ns > from ? states[i].start_ns : from;
        int64_t end = states[i].end_ns < to ? states[i].end_ns : to;
        if (states[i].kind == PROF_STATE_RUNNING && states[i].processor == processor) ns += (uint64_t)(end - start);
    }
    return ns;
}

/* Adds the threads that ran on a processor in a time. What fibers did is a part of what their threads did. */
static int prof__why_ran_in(prof__why *why, prof__why_call *call, int32_t processor, int64_t from, int64_t to)
{
    size_t track, i;
    for (track = 0; track < prof_trace_track_count(why->trace); track++) {
        int other = track != call->about.track && !prof_trace_track(why->trace, track)->fiber;
        uint64_t ns = other ? prof__why_ran_on(why->trace, track, processor, from, to) : 0;
        if (!ns) continue;
        for (i = 0; i < call->about.ran_count && call->ran[i].track != track;) i++;
        if (i == call->about.ran_count && !PROF__MORE(call->ran, call->ran_room, call->about.ran_count)) return 0;
        call->ran[i].track = track;
        call->ran[i].ns += ns;
    }
    return 1;
}

static int prof__why_ran_order(const void *a, const void *b)
{
    const prof_why_ran *x = (const prof_why_ran *)a, *y = (const prof_why_ran *)b;
    if (x->ns != y->ns) return x->ns > y->ns ? -1 : 1;
    return x->track < y->track ? -1 : x->track > y->track;
}

/* A thread that is ready waits for the processor on which it ran before; a new one, for that on which it runs first. */
static int prof__why_ran(prof__why *why, prof__why_call *call)
{
    size_t count, i;
    const prof_state *states = prof_track_states(why->trace, call->about.track, &count);
    int64_t from = call->about.start_ns, to = prof__why_end(call);
    for (i = prof__why_state(states, count, from); i < count && states[i].start_ns < to; i++) {
        int32_t processor = i ? states[i - 1].processor : -1;
        if (states[i].kind != PROF_STATE_READY) continue;
        if (processor < 0 && i + 1 < count) processor = states[i + 1].processor;
        if (processor >= 0 &&
            !prof__why_ran_in(why, call, processor, states[i].start_ns > from ? states[i].start_ns : from,
                              states[i].end_ns < to ? states[i].end_ns : to))
            return 0;
    }
    if (call->about.ran_count) qsort(call->ran, call->about.ran_count, sizeof *call->ran, prof__why_ran_order);
    return 1;
}

/* Splits waiting and ready further. Returns 0 without memory. */
static int prof__why_split(prof__why *why, prof__why_call *call)
{
    return prof__why_waits(why, call) && prof__why_ran(why, call);
}

static int prof__why_of_device(const prof__why *why, size_t track)
{
    return *prof_trace_track(why->trace, track)->device != 0;
}

/* Returns 1 if a track has work of a device. prof_cuda.h's devices CUDA and NVTX have what threads of the host did:
   their calls that wait, what tracing cost, and ranges. */
static int prof__why_works(const prof__why *why, size_t track)
{
    const char *device = prof_trace_track(why->trace, track)->device;
    return *device && strcmp(device, "CUDA") != 0 && strcmp(device, "NVTX") != 0;
}

/* Returns the row of a device's scopes of this name. Adds it if it is new. Returns NULL without memory. */
static prof_why_device *prof__why_device_row(prof__why_call *call, size_t track, const char *name)
{
    size_t i;
    prof_why_device *row;
    for (i = 0; i < call->about.device_count; i++)
        if (call->devices[i].track == track && !strcmp(call->devices[i].name, name)) return &call->devices[i];
    row = (prof_why_device *)PROF__MORE(call->devices, call->device_room, call->about.device_count);
    if (!row) return NULL;
    row->name = name;
    row->track = track;
    return row;
}

/* Returns how long the thread of a call waited in a time, without the waits that are recorded. */
static uint64_t prof__why_unexplained(const prof__why *why, const prof__why_call *call, int64_t from, int64_t to)
{
    prof_split split;
    size_t low = 0, high = why->wait_count;
    uint64_t explained = 0;
    prof_track_split(why->trace, call->about.track, from, to - from, &split);
    while (split.waiting_ns && low < high) { /* the first wait in the call */
        size_t middle = low + (high - low) / 2;
        if (why->waits[middle].start_ns < call->about.start_ns)
            low = middle + 1;
        else
            high = middle;
    }
    for (; split.waiting_ns && low < why->wait_count && why->waits[low].start_ns < to; low++) {
        const prof_wait *wait = &why->waits[low];
        int64_t start = wait->start_ns > from ? wait->start_ns : from;
        int64_t end = wait->start_ns + wait->duration_ns < to ? wait->start_ns + wait->duration_ns : to;
        prof_split known;
        if (wait->track != call->about.track || end <= start) continue;
        prof_track_split(why->trace, call->about.track, start, end - start, &known);
        explained += known.waiting_ns;
        from = end;
    }
    return split.waiting_ns > explained ? split.waiting_ns - explained : 0;
}

/* Adds a time in which a device's scope was the innermost one to the calls of threads at that time. */
static int prof__why_device_spent(prof__why *why, size_t name, int64_t from, int64_t to)
{
    size_t i;
    if (name == PROF__NONE || !prof__why_works(why, why->track)) return 1;
    for (i = 0; i < why->count; i++) {
        prof__why_call *call = &why->calls[i];
        int64_t start = from > call->about.start_ns ? from : call->about.start_ns;
        int64_t end = to < prof__why_end(call) ? to : prof__why_end(call);
        prof_why_device *row;
        if (end <= start || prof__why_of_device(why, call->about.track)) continue;
        row = prof__why_device_row(call, why->track, why->names.items[name].text);
        if (!row) return 0;
        row->ns += (uint64_t)(end - start);
        row->waited_ns += prof__why_unexplained(why, call, start, end);
    }
    return 1;
}

static int prof__why_device_order(const void *a, const void *b)
{
    const prof_why_device *x = (const prof_why_device *)a, *y = (const prof_why_device *)b;
    if (x->ns != y->ns) return x->ns > y->ns ? -1 : 1;
    if (x->track != y->track) return x->track < y->track ? -1 : 1;
    return strcmp(x->name, y->name);
}

/*-- the third walk: scopes --*/

static int prof__why_same_inner(const void *owner, size_t item, const void *key)
{
    return ((const size_t *)owner)[item] == *(const size_t *)key;
}

/* Returns the row of a name inside a call. Adds it if it is new. Returns NULL without memory. */
static prof_why_inner *prof__why_inner(prof__why *why, prof__why_call *call, size_t name)
{
    uint32_t hash = (uint32_t)prof__mix(name);
    size_t item = prof__read_find(&call->inner_index, hash, prof__why_same_inner, call->inner_names, &name);
    prof_why_inner *row;
    if (item != PROF__NONE) return &call->inner[item];
    row = (prof_why_inner *)PROF__MORE(call->inner, call->inner_room, call->about.inner_count);
    item = PROF__NEW(call->inner_index, hash, call->inner_names, call->inner_name_room, call->inner_name_count);
    if (!row || item == PROF__NONE) return NULL;
    call->inner_names[item] = name;
    row->name = name == PROF__NONE ? "" : why->names.items[name].text;
    row->median_ns = name == PROF__NONE ? 0 : why->names.items[name].self_median;
    row->count_all = name == PROF__NONE ? 0 : why->names.items[name].self.count;
    return row;
}

static int prof__why_spent(void *user, size_t name, int64_t from, int64_t to)
{
    prof__why *why = (prof__why *)user;
    prof_why_inner *row;
    size_t i;
    for (i = 0; i < why->count; i++) {
        prof__why_call *call = &why->calls[i];
        int64_t start = from > call->about.start_ns ? from : call->about.start_ns;
        int64_t end = to < prof__why_end(call) ? to : prof__why_end(call);
        if (call->about.track != why->track || end <= start) continue;
        row = prof__why_inner(why, call, name);
        if (!row) return 0;
        row->self_ns += (uint64_t)(end - start);
    }
    return prof__why_device_spent(why, name, from, to);
}

static int prof__why_ended(void *user, const prof__why_open *scope)
{
    prof__why *why = (prof__why *)user;
    prof_why_inner *row;
    size_t i;
    for (i = 0; i < why->count; i++) {
        prof__why_call *call = &why->calls[i];
        if (call->about.track != why->track || scope->start < call->about.start_ns || scope->end > prof__why_end(call))
            continue;
        row = prof__why_inner(why, call, scope->name);
        if (!row) return 0;
        row->calls++;
        if (scope->self > row->longest_ns) row->longest_ns = scope->self;
    }
    return 1;
}

static int prof__why_inner_order(const void *a, const void *b)
{
    const prof_why_inner *x = (const prof_why_inner *)a, *y = (const prof_why_inner *)b;
    if (x->self_ns != y->self_ns) return x->self_ns > y->self_ns ? -1 : 1;
    return strcmp(x->name, y->name);
}

/*-- counters --*/

typedef struct prof__why_counter {
    const char *name, *unit;
    int sampled; /* 1: prof_system.h samples it: it may have moved at any time between two samples */
} prof__why_counter;

typedef struct prof__why_value {
    int64_t ns;
    double value;
    int known;
} prof__why_value;

/* The values of a counter next to the ends of a call: the last one before it, the first and the last one in it, the
   first one after it. */
typedef struct prof__why_moved {
    prof__why_value before, first, last, after;
} prof__why_moved;

static int prof__why_same_counter(const void *owner, size_t item, const void *key)
{
    const prof__why_counter *counter = (const prof__why_counter *)owner + item;
    const prof__why_counter *wanted = (const prof__why_counter *)key;
    return counter->sampled == wanted->sampled && !strcmp(counter->name, wanted->name);
}

static void prof__why_value_put(prof__why_value *to, int64_t ns, double value, int latest)
{
    if (to->known && (latest ? ns < to->ns : ns >= to->ns)) return;
    to->known = 1;
    to->ns = ns;
    to->value = value;
}

static double prof__why_number(const prof_value *value)
{
    return value->type == PROF_VALUE_INT    ? (double)value->as.i
           : value->type == PROF_VALUE_UINT ? prof__real(value->as.u) : value->as.d;
}

static int prof__why_counted(prof__why *why, const prof_event *event)
{
    uint32_t hash = prof__text_hash(event->name);
    double value = prof__why_number(&event->value);
    prof__why_counter key;
    size_t item, i;
    char **keep;
    key.name = event->name;
    key.sampled = !strcmp(event->site->category, "system");
    item = prof__read_find(&why->counter_index, hash, prof__why_same_counter, why->counters, &key);
    if (item == PROF__NONE) {
        item = PROF__NEW(why->counter_index, hash, why->counters, why->counter_room, why->counter_count);
        keep = item == PROF__NONE ? NULL : (char **)PROF__MORE(why->texts, why->text_room, why->text_count);
        if (!keep || !(*keep = prof__text_join(event->name, ""))) return 0;
        why->counters[item].name = *keep;
        why->counters[item].unit = event->site->unit;
        why->counters[item].sampled = key.sampled;
    }
    for (i = 0; i < why->count; i++) {
        prof__why_call *call = &why->calls[i];
        int64_t ns = event->start_ns, from = call->about.start_ns, to = prof__why_end(call);
        prof__why_moved *moved;
        while (call->moved_count <= item)
            if (!PROF__MORE(call->moved, call->moved_room, call->moved_count)) return 0;
        moved = &call->moved[item];
        if (ns < from) {
            prof__why_value_put(&moved->before, ns, value, 1);
        } else if (ns <= to) {
            prof__why_value_put(&moved->first, ns, value, 0);
            prof__why_value_put(&moved->last, ns, value, 1);
        } else {
            prof__why_value_put(&moved->after, ns, value, 0);
        }
    }
    return 1;
}

static int prof__why_counter_order(const void *a, const void *b)
{
    return strcmp(((const prof_why_counter *)a)->name, ((const prof_why_counter *)b)->name);
}

/* Lists the counters that moved in a call. */
static int prof__why_counters(prof__why *why, prof__why_call *call)
{
    size_t i;
    for (i = 0; i < call->moved_count; i++) {
        const prof__why_moved *moved = &call->moved[i];
        const prof__why_value *first = moved->before.known ? &moved->before : &moved->first;
        const prof__why_value *last = why->counters[i].sampled && !moved->last.known ? &moved->after : &moved->last;
        prof_why_counter *counter;
        if (!first->known || !last->known || !memcmp(&first->value, &last->value, sizeof first->value)) continue;
        counter = (prof_why_counter *)PROF__MORE(call->counters, call->counter_room, call->about.counter_count);
        if (!counter) return 0;
        counter->name = why->counters[i].name;
        counter->unit = why->counters[i].unit;
        counter->first = first->value;
        counter->last = last->value;
        counter->around = !moved->last.known;
    }
    if (call->about.counter_count)
        qsort(call->counters, call->about.counter_count, sizeof *call->counters, prof__why_counter_order);
    return 1;
}

/*-- allocations, messages, losses --*/

#define PROF__WHY_MESSAGES 20u

static int prof__why_message(prof__why *why, prof__why_call *call, const prof_event *event)
{
    prof_why_message *message;
    char **keep;
    if (call->about.message_count == PROF__WHY_MESSAGES) return 1;
    if (!call->messages) call->messages = (prof_why_message *)calloc(PROF__WHY_MESSAGES, sizeof *call->messages);
    keep = (char **)PROF__MORE(why->texts, why->text_room, why->text_count);
    if (!call->messages || !keep || !(*keep = prof__text_join(event->value.as.string, ""))) return 0;
    message = &call->messages[call->about.message_count++];
    message->ns = event->start_ns;
    message->severity = event->detail;
    message->text = *keep;
    return 1;
}

static int prof__why_happened(prof__why *why, const prof_event *event)
{
    size_t i;
    for (i = 0; i < why->count; i++) {
        prof__why_call *call = &why->calls[i];
        if (call->about.track != why->track || event->start_ns < call->about.start_ns ||
            event->start_ns > prof__why_end(call))
            continue;
        if (event->type == PROF_EVENT_ALLOC) call->about.bytes += event->detail;
        call->about.allocations += event->type == PROF_EVENT_ALLOC;
        call->about.frees += event->type == PROF_EVENT_FREE;
        if (event->type == PROF_EVENT_LOST) call->about.lost += event->value.as.u;
        if (event->type == PROF_EVENT_LOG && !prof__why_message(why, call, event)) return 0;
    }
    return 1;
}

static int prof__why_inside_step(prof__why *why, const prof_event *event)
{
    size_t name;
    switch ((int)event->type) {
    case PROF_EVENT_COUNTER: return prof__why_counted(why, event);
    case PROF_EVENT_ALLOC:
    case PROF_EVENT_FREE:
    case PROF_EVENT_LOST:
    case PROF_EVENT_LOG: return prof__why_happened(why, event);
    case PROF_EVENT_SCOPE: break;
    default: return 1;
    }
    if (event->site->role == PROF_ROLE_WAIT) return 1;
    name = prof__why_name_of(&why->names, event->site, event->name, 0);
    return name != PROF__NONE && prof__why_sweep_into(&why->sweep, event, name);
}

/* Finds what happened in the calls. */
static prof_status prof__why_inside(prof__why *why)
{
    prof_status status;
    size_t i;
    why->sweep.spent = prof__why_spent;
    why->sweep.ended = prof__why_ended;
    status = prof__why_tracks(why, prof__why_inside_step);
    for (i = 0; !status && i < why->count; i++) {
        prof__why_call *call = &why->calls[i];
        if (call->about.inner_count)
            qsort(call->inner, call->about.inner_count, sizeof *call->inner, prof__why_inner_order);
        if (call->about.device_count)
            qsort(call->devices, call->about.device_count, sizeof *call->devices, prof__why_device_order);
        if (!prof__why_split(why, call) || !prof__why_counters(why, call)) status = prof__report_no_memory();
    }
    return status;
}

/* The report, and what its pointers lead to. */
typedef struct prof__why_block {
    prof_why_report about;
    prof__why why;
    prof_why_call calls[1];
} prof__why_block;

static void prof__why_close(prof__why *why)
{
    while (why->count) {
        prof__why_call *call = &why->calls[--why->count];
        free(call->text);
        free(call->waits);
        free(call->inner);
        free(call->inner_names);
        free(call->inner_index.slots);
        free(call->ran);
        free(call->moved);
        free(call->counters);
        free(call->messages);
        free(call->devices);
    }
    while (why->text_count) free(why->texts[--why->text_count]);
    free(why->texts);
    free(why->others);
    free(why->calls);
    free(why->counters);
    free(why->counter_index.slots);
    free(why->sweep.open);
    free(why->all.histogram.steps);
    prof_waits_free(why->waits);
    prof__why_names_free(&why->names);
}

/* Lists the names of the other frames or steps. Returns 0 without memory. */
static int prof__why_others(prof__why *why, prof_why_report *about)
{
    size_t i;
    if (!about->frames && !about->steps) return 1;
    why->others = (const char **)calloc(why->names.count, sizeof *why->others);
    for (i = 0; why->others && i < why->names.count; i++) {
        const prof__why_name *name = &why->names.items[i];
        if (i != why->wanted && (about->steps ? name->step : name->frame) && name->wall.count)
            why->others[about->other_count++] = name->text;
    }
    about->others = why->others;
    return why->others != NULL;
}

/* Makes the report, which takes over all that *why owns. Returns NULL without memory. */
static prof_why_report *prof__why_report(prof__why *why)
{
    prof__why_block *block = (prof__why_block *)calloc(1, sizeof *block + why->count * sizeof *block->calls);
    size_t i;
    if (!block) return NULL;
    block->about.name = why->wanted != PROF__NONE ? why->names.items[why->wanted].text
                        : why->options.name       ? why->calls[0].about.name : "";
    block->about.frames = why->wanted != PROF__NONE && why->names.items[why->wanted].frame;
    block->about.steps = why->options.step || why->options.kind == PROF_WHY_STEPS;
    block->about.count_all = why->all.count;
    block->about.median_ns = prof__why_median(&why->all);
    block->about.waits = why->wait_count != 0;
    block->about.calls = block->calls;
    block->about.count = why->count;
    for (i = 0; i < why->count; i++) {
        const prof__why_call *from = &why->calls[i];
        block->calls[i] = from->about;
        block->calls[i].waits = from->waits;
        block->calls[i].inner = from->inner;
        block->calls[i].ran_instead = from->ran;
        block->calls[i].counters = from->counters;
        block->calls[i].messages = from->messages;
        block->calls[i].devices = from->devices;
    }
    if (!prof__why_others(why, &block->about)) {
        free(block);
        return NULL;
    }
    block->why = *why;
    return &block->about;
}

PROF_DEF prof_status prof_why(const prof_trace *trace, const prof_why_options *options, prof_why_report **report)
{
    PROF__CALM();
    prof__why why;
    prof_status status;
    if (report) *report = NULL;
    if (!trace || !report) return prof__fail(PROF_INVALID_ARGUMENT, "prof_why: trace or report is null");
    if (prof_trace_about(trace)->mode == PROF_STATS)
        return prof__fail(PROF_UNSUPPORTED, "statistics have no calls to explain: record with another mode than stats");
    memset(&why, 0, sizeof why);
    why.trace = trace;
    if (options) why.options = *options;
    why.most = why.options.slowest ? why.options.slowest : 1;
    status = prof__why_calls(&why);
    if (!status) status = prof_waits(trace, &why.waits, &why.wait_count);
    if (!status) status = prof__why_inside(&why);
    if (!status && !(*report = prof__why_report(&why))) status = prof__report_no_memory();
    if (status) prof__why_close(&why);
    return status;
}

PROF_DEF void prof_why_free(prof_why_report *report)
{
    prof__why_block *block = (prof__why_block *)(void *)report;
    if (!block) return;
    prof__why_close(&block->why);
    free(block);
}

#ifdef PROF__WRAPS_MALLOC
#undef malloc
#undef calloc
#undef realloc
#undef free
#undef qsort
#endif

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif /* PROF_IMPLEMENTATION */

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
