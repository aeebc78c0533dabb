/* prof_xplane.h - log directories for XProf and TensorBoard, for prof - public domain or MIT-0
                   assembled from src/: change it there, see CONTRIBUTING.md
                   needs prof.h and nothing else, no protobuf; the licence is at the end of this file

QUICK START

    #define PROF_IMPLEMENTATION            // in exactly one file of the program, C or C++
    #include "prof_xplane.h"               // includes prof.h

    int main(void)
    {
        int i;
        prof_xplane_start_trace("logs");
        for (i = 0; i < 100; i++) {
            PROFILE_STEP("train", i);
            { PROFILE_SCOPE("forward"); }
        }
        return (int)prof_xplane_stop_trace(); // pip install xprof; xprof --logdir logs --port 6006
    }

Other ways: PROF_OUTPUT=logs/ ./program. For an image of an earlier run: prof_trace_open("trace.prof", &trace), then
prof_xplane_write(trace, "logs", NULL); or `prof export trace.prof -o logs/` and `prof merge a.prof b.prof -o logs/`.

FILES                                                                                                       >>xplane

    logs/plugins/profile/RUN/HOST.xplane.pb, whatever else is in logs. An output is a log directory if it ends in / or
    is a directory. RUN is the local time when the session (or the window of the trace) began, such as
    2026_11_21_16_05_59; to choose another, give the run's own directory, logs/plugins/profile/RUN/. HOST is this
    computer's name, or the trace's metadata "host", followed by .RANK if the trace has a rank. No file is ever
    replaced, because XProf keeps what it once made of one: if a run already has a file of the host, the next run is
    RUN_2, RUN_3, ... Directories are made as needed.

    Ranks of a job become hosts of one run if their launcher says which job it is (SLURM_JOB_ID, PMIX_NAMESPACE and so
    on): then RUN is job_ID. Otherwise give the run's directory, or merge their traces.

    prof_xplane_trace_options.create_perfetto_trace also writes perfetto_trace.json.gz beside that file, which
    ui.perfetto.dev opens as it is: what prof_chrome.h writes, compressed, with all events. If another host of the run
    has that file already, it is HOST.perfetto_trace.json.gz.

MEMORY PROFILE                                                                                               >>pprof

    Written by prof_xplane_pprof_write(), prof_save("memory.pprof"), PROF_OUTPUT=memory.pprof, or `prof export
    trace.prof -o memory.pprof`: what PROFILE_ALLOC and the like recorded, for `go tool pprof memory.pprof` and other
    readers of pprof's profile.proto, compressed. For each call site: alloc_objects and alloc_space, all allocations;
    inuse_objects and inuse_space, which pprof shows first, those that were not freed by the end. JAX's file has the
    last two. The leaf is the function that has the macro; its parent is the enclosing scope. The labels "pool" and
    "memory scope" can be filtered by (-tagfocus, -tagroot). Blocks that were allocated before the trace are in none of
    the numbers.

WHAT IS WRITTEN                            (plane and line: process and row of the trace viewer)

    From top to bottom: accelerators, the threads, other devices, and the planes named CUSTOM below.

    thread      a line of the plane "/host:CPU". Its number is the system's thread id or, if that is taken, 0 or too
                large, one from 1000000000 on; fibers likewise. Threads without events are left out. The main thread
                is shown with the program's name, "main (server)"
    state of X  a line below that of the thread X, where the recording has states of threads (see prof_system.h): events
                "running", with the stat "on processor", "ready", "waiting", and "not running" where that is all that is
                known. Lines then have other numbers in the trace viewer: twice the thread's, and the next one
    scope       an event. Its arguments are stats of their types: integers signed and unsigned, doubles; a bool is 0 or
                1, a pointer a string. Without a recorded begin or end it has the stat "truncated". Call site and
                category are the stats "source" and "category"
    step        PROFILE_STEP is a step of XProf: overview page and input pipeline analyzer show its times. What is
                inside belongs to it, and what is on other threads if a flow leads there. A step with no scope inside,
                or with something else before its first scope, gets a scope of its own name, because XProf drops steps
                in which nothing was computed
    mark        an event of 0 ns; the scope of a PROFILE_MARK_REACH is the stat "scope". Messages likewise, with their
                text as the name, and the stat "severity"
    counter     the line "_counters_". A value that is no finite number is an event of 0 ns on its thread
    flow        arrows from FLOW_OUT to each later FLOW_STEP and FLOW_IN of its name and id: from the enclosing scope if
                the point comes first in it and has no arguments, else from an event of 0 ns of its own. If an id is
                used again, each FLOW_OUT begins another flow
    frame       the plane "/device:CUSTOM:frames", with a line for each thread and name, and the number as the stat
                "frame"; the 65th and later names of a trace are left out, and a warning says so
    span        the plane "/device:CUSTOM:spans", with a row for each name, the stat "span_id", and arguments; a
                PROFILE_SPAN_MARK is an event of 0 ns. Locks are in "/device:CUSTOM:locks"
    device      the plane "/device:CUSTOM:NAME", with its rows as lines. "(clock not aligned)" after the name says that
                its times are only guessed
    accelerator a device that is called gpu, tpu or NeuronCore, as in "gpu 0" and "GPU:1", or that
                prof_set_metadata("accelerators", "npu 0,npu 1") or the options name: the plane "/device:GPU:0 NAME".
                XProf counts its work as that of its own GPUs: device compute on the overview page, "Framework Op Stats"
                (op: the name; type: the row), "Kernel Stats". Of nested scopes the innermost count. MEMCPYHtoD and the
                like are transfers, nccl... are collectives. Work belongs to the step from which a flow leads to it, or
                else to the step in which it began; steps without any work are then not on the overview page. The
                arguments bytes_accessed, flops, kernel_details ("regs:32 grid:8,1,1 block:256,1,1"), memcpy_details,
                correlation_id, shape, tf_op and others of prof_cuda.h are XProf's stats; work with details other than
                kernel_details is no kernel. Metadata "gpu 0.KEY" are stats of the plane. The line "host steps" has the
                times of steps; there are several if steps of threads overlap. With metadata "gpu 0.device_vendor", as
                of prof_cuda.h, there is none: a step lasts from its first work there to its last, as in XProf's own
                recordings
    allocations MemoryAllocation and MemoryDeallocation for the Memory Profile tool: the pool is the allocator, the
                memory scope or the enclosing scope the op, the call site the shape; and a counter "memory: POOL".
                Allocations of GPUs that prof_cuda.h records are there, too: the allocator is the device
    the run     the plane "Task Environment" has process id, begin and end as Unix time, program, clock, mode, and the
                metadata of prof_set_metadata(). XProf reads the times; no tool shows the others yet
    losses      an event "lost events" where they happened, and warnings on the overview page: what was lost and what to
                do about it, as in the summary; older events that a ring has overwritten, unless the window begins
                later; clocks that are not aligned. Scopes without a recorded begin or end have no warning, as in a
                capture of JAX

    Times are picoseconds since the stat profile_start_time of "Task Environment", up to 106 days. XProf adds them to
    that time to show several hosts side by side. It is the time of prof_start(), or the begin of the window (a capture,
    prof_save_last_ns()); for several traces in one run, that of the first of these. The events of a line are in order
    of time, a parent before its children; spans and locks, which may overlap, are in order of their ends. A scope that
    ends in the same nanosecond as the scope around it is written a picosecond shorter, because XProf would lose it.

    Memory does not grow with the number of events, except by some 50 bytes for each flow, block that is allocated, open
    span, and, if there is an accelerator, step; and by the distinct run-time names, of which a plane keeps 65536;
    further ones get the name of their call site, and the stat "name". In this
    format lengths come first: up to 64 MiB of events wait in memory until their length is known; threads with more, and
    those with flows, are read twice. XProf reads files of less than 2 GiB, some 100 million scopes: a larger one is not
    written (PROF_UNSUPPORTED), but a part of the trace can be.

NAMES

    Strings are valid UTF-8 whatever bytes the program's had: invalid ones become U+FFFD, because a single one would
    make the whole file unreadable. An empty name is written as (unnamed).

    XProf knows stats by their names. An argument whose key is also one of XProf's, such as group_id, id or flow, begins
    with an underscore, or is one of the names above, gets "arg." before its key.

    "Framework Op Stats" lists names of the form op:type. So a scope is named by its name, without colons, and its
    category, or "scope". For names made at run time by a format, the op is the format ("job %d"); for a call site with
    more than 16 other run-time names that were used less than 4 times each on average, it is the function. Other events
    are "mark: NAME" and the like. The trace viewer shows the true name, and this one as "long_name". If a scope's name
    begins in a way that means something to XProf (train, test, Eager, ...), this one has ./ before it. Names of
    counters have no quotation marks, backslashes and control characters, because XProf does not escape them.
*/
#include "prof_read.h" /* each time, because this inclusion may be the one with PROF_IMPLEMENTATION */

#pragma pack(push, 16) /* as in prof.h */
#ifndef PROF_XPLANE_H
#define PROF_XPLANE_H

#ifdef __cplusplus
extern "C" {
#endif

/* All zero is the default: everything. */
typedef struct prof_xplane_options {
    uint64_t min_duration_ns; /* leaves out shorter scopes, and waits for locks and holds of them */
    int64_t from_ns, to_ns;   /* leaves out what lies outside; to_ns 0: no limit. What overlaps is written whole */
    const char *run, *host;   /* RUN and HOST; NULL or "": as described above. Without / \ and : */
    const char *accelerators; /* names of devices, separated by commas; "*": all, "": none. NULL: as the metadata
                                 "accelerators" says, else those called gpu, tpu or NeuronCore */
} prof_xplane_options;

/* The arguments of jax.profiler.start_trace() besides the log directory. All zero is the default. */
typedef struct prof_xplane_trace_options {
    const prof_config *config; /* ProfileOptions: the configuration of the session that the call starts. Its output
                                  must be NULL; its mode PROF_RING (0) means PROF_STREAM, except on Windows. NULL: the
                                  defaults */
    int create_perfetto_trace; /* 1: also writes perfetto_trace.json.gz, see FILES; needs prof_chrome.h */
    int create_perfetto_link;  /* 1: does that, and writes to stderr how to open it. JAX serves the file on port 9001
                                  and waits until a browser has fetched it; prof neither serves it nor waits */
} prof_xplane_trace_options;

#if PROF_ENABLE
/* Writes a trace into a log directory. logdir need not exist; NULL or "": the current directory. options may be NULL.
   Returns PROF_OK, or what failed. */
PROF_DEF prof_status prof_xplane_write(const prof_trace *trace, const char *logdir, const prof_xplane_options *options);
/* Writes the bytes of the file, an XSpace, to a sink. Does not use options->run. */
PROF_DEF prof_status prof_xplane_stream(const prof_trace *trace, prof_sink sink, const prof_xplane_options *options);

/* Writes several traces as the hosts of one run, on the time line of prof_trace_align(): from_ns and to_ns
   count from the first start of all. Hosts that would have the same name get ".PID" after it and, if that is
   not enough, a number. */
PROF_DEF prof_status prof_xplane_merge(const prof_trace *const *traces, size_t count, const char *logdir,
                                       const prof_xplane_options *options);

/* Do the same as jax.profiler.start_trace() and stop_trace(): write to logdir what happens in between. start_trace
   starts a session, which keeps everything (PROF_STREAM, with a file in logdir while it runs); on Windows it is a ring
   of 16 MiB, which keeps the newest events. If a session is running already, stop_trace writes what that has recorded
   in between, and the session goes on. They return PROF_INVALID_STATE if a trace was started already, or none was;
   PROF_INVALID_ARGUMENT if logdir is NULL or empty, or if the running session has the mode PROF_STATS, which keeps no
   events. */
PROF_DEF prof_status prof_xplane_start_trace(const char *logdir);
PROF_DEF prof_status prof_xplane_stop_trace(void);
/* Does the same with JAX's other arguments. options may be NULL. Returns PROF_INVALID_STATE also if options->config is
   given while a session is running, which has a configuration already. The arguments are used only during the call. */
PROF_DEF prof_status prof_xplane_start_trace_with(const char *logdir, const prof_xplane_trace_options *options);

/* Write the memory profile of a trace, as jax.profiler.save_device_memory_profile() does for its devices: see MEMORY
   PROFILE. path: as for prof_csv_write(). */
PROF_DEF prof_status prof_xplane_pprof_write(const prof_trace *trace, const char *path);
PROF_DEF prof_status prof_xplane_pprof_stream(const prof_trace *trace, prof_sink sink);
#else
#define prof_xplane_write(trace, logdir, options) PROF__STRIPPED(PROF_OK, PROF__USE3(trace, logdir, options))
#define prof_xplane_stream(trace, sink, options) PROF__STRIPPED(PROF_OK, PROF__USE3(trace, sink, options))
#define prof_xplane_merge(traces, count, logdir, options) \
    PROF__STRIPPED(PROF_OK, (0 ? (void)(count) : PROF__USE3(traces, logdir, options)))
#define prof_xplane_start_trace(logdir) PROF__STRIPPED(PROF_OK, PROF__USE(logdir))
#define prof_xplane_stop_trace() PROF__STRIPPED(PROF_OK, (void)0)
#define prof_xplane_start_trace_with(logdir, options) PROF__STRIPPED(PROF_OK, PROF__USE2(logdir, options))
#define prof_xplane_pprof_write(trace, path) PROF__STRIPPED(PROF_OK, PROF__USE2(trace, path))
#define prof_xplane_pprof_stream(trace, sink) PROF__STRIPPED(PROF_OK, (0 ? (void)(sink) : PROF__USE(trace)))
#endif

#ifdef __cplusplus
} /* extern "C" */
#endif

/* Does the same as `with jax.profiler.trace(logdir):`. Stands before a block, and traces it however it is left, even by
   an exception:

       PROFILE_TRACE("logs") {
           work();
       }

   If the trace cannot begin or be written, the block runs all the same, and prof_error() says why. `break` and
   `continue` leave the block, but not if the macro is stripped. With neither C++ nor the cleanup attribute, leaving the
   block early leaves the trace running. */
#define PROFILE_TRACE(logdir) PROFILE_TRACE_WITH(logdir, NULL)
#define PROFILE_TRACE_WITH(logdir, options)                                                                \
    PROF__EITHER(PROF__TRACE(PROF_UNIQUE, logdir, options), if (!sizeof(logdir) || !sizeof(options)) {} else)
#if PROF_ENABLE
#define PROF__TRACE(...) PROF__AGAIN(PROF__TRACE_(__VA_ARGS__))
#if defined(__cplusplus)
struct prof__trace_guard {
    int started, more;
    ~prof__trace_guard() { if (started) prof_xplane_stop_trace(); }
};
#define PROF__TRACE_(id, logdir, options)                                                                  \
    for (prof__trace_guard prof__trace_##id = {prof_xplane_start_trace_with(logdir, options) == PROF_OK, 1}; \
         prof__trace_##id.more; prof__trace_##id.more = 0)
#elif defined(__GNUC__)
static inline PROF__UNTRACED void prof__trace_leave(const int *started)
{
    if (*started) prof_xplane_stop_trace();
}
#define PROF__TRACE_(id, logdir, options)                                                                  \
    for (int prof__trace_##id __attribute__((__cleanup__(prof__trace_leave), __unused__)) =                        \
             prof_xplane_start_trace_with(logdir, options) == PROF_OK,                                     \
             prof__more_##id = 1;                                                                          \
         prof__more_##id; prof__more_##id = 0)
#else
#define PROF__TRACE_(id, logdir, options)                                                                  \
    for (int prof__trace_##id = prof_xplane_start_trace_with(logdir, options) == PROF_OK, prof__more_##id = 1; \
         prof__more_##id; prof__more_##id = 0, prof__trace_##id ? (int)prof_xplane_stop_trace() : 0)
#endif
#endif

#endif /* PROF_XPLANE_H */

/*== END OF HEADER ==================================================================================================*/

#if defined(PROF_IMPLEMENTATION) && PROF_ENABLE && !defined(PROF_FREESTANDING) && !defined(PROF__XPLANE_IMPLEMENTED)
#define PROF__XPLANE_IMPLEMENTED

#include <time.h>

#ifdef PROF__WRAPS_MALLOC /* so that prof's own allocations are not recorded as the program's */
#define malloc(size) __libc_malloc(size)
#define calloc(count, size) __libc_calloc(count, size)
#define realloc(at, size) __libc_realloc(at, size)
#define free(at) __libc_free(at)
#define qsort(at, count, size, order) prof__quiet_sort(at, count, size, order)
#define fclose(file) PROF__QUIETLY(int, fclose(file))
#define fread(to, size, count, file) PROF__QUIETLY(size_t, fread(to, size, count, file))
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define PROF__XPLANE_NAMES 65536u                   /* names made at run time that a plane may have */
#define PROF__XPLANE_AHEAD 8                        /* so many events before its own a name is looked for */
#define PROF__XPLANE_FRAMES 64                      /* lines for frames that a plane may have */
#define PROF__XPLANE_CUSTOM 300                     /* ids of our custom planes; those above 200 come after the host */
#define PROF__XPLANE_DERIVED ((uint64_t)0xDEADBEEF) /* XProf counts no ops on lines with ids from this one to +7 */
#define PROF__XPLANE_STATE_LINES ((uint64_t)1 << 31) /* ids of lines of states: above those of Linux's threads */
#define PROF__XPLANE_MANY 16                        /* a call site with more names than this has one op ... */
#define PROF__XPLANE_AGAIN 4                        /* ... unless its names were used so often, on average */
#define PROF__XPLANE_GPU_COUNTERS (PROF__XPLANE_DERIVED + 6) /* lines of an accelerator; XProf derives others there */
#define PROF__XPLANE_STEPS ((uint64_t)3 << 33)      /* the first id of flows from steps; has five bytes, too */
#define PROF__XPLANE_END (INT64_MAX / 1000)         /* the latest ns, as XProf counts picoseconds in 63 bits */
#ifndef PROF__XPLANE_KEEP
#define PROF__XPLANE_KEEP ((size_t)64 << 20)        /* bytes of events kept from measuring to writing */
#endif
#ifndef PROF__XPLANE_MOST
#define PROF__XPLANE_MOST ((uint64_t)0x7FFF0000)    /* bytes of all planes; protobuf reads less than 2 GiB */
#endif
#define PROF__XPLANE_NO_GPU 127 /* the number of what is no accelerator; has one byte, as theirs */
#define PROF__XPLANE_FLOW ((uint64_t)1 << 34)       /* the first id of flows, chosen so that each id has five bytes */

/* Tags of protobuf fields: the field's number << 3 | its wire type. */
enum {
    PROF__XSPACE_PLANE = 0x0A, PROF__XSPACE_WARNING = 0x1A, PROF__XSPACE_HOST = 0x22,
    PROF__XPLANE_NUMBER = 0x08, PROF__XPLANE_NAME = 0x12, PROF__XPLANE_LINE = 0x1A, PROF__XPLANE_EVENT_NAME = 0x22,
    PROF__XPLANE_STAT_NAME = 0x2A, PROF__XPLANE_STAT = 0x32,
    PROF__XLINE_NUMBER = 0x08, PROF__XLINE_NAME = 0x12, PROF__XLINE_TIME = 0x18, PROF__XLINE_EVENT = 0x22,
    PROF__XLINE_SHOWN = 0x5A, PROF__XLINE_SHOWN_NUMBER = 0x50,
    PROF__XLINE_FILLER = 0x7A, /* field 15, which the format lacks, so that readers skip it */
    PROF__XEVENT_NAME = 0x08, PROF__XEVENT_OFFSET = 0x10, PROF__XEVENT_DURATION = 0x18, PROF__XEVENT_STAT = 0x22,
    PROF__XSTAT_NAME = 0x08, PROF__XSTAT_DOUBLE = 0x11, PROF__XSTAT_UINT = 0x18, PROF__XSTAT_INT = 0x20,
    PROF__XSTAT_TEXT = 0x2A,
    PROF__XNAME_ID = 0x08, PROF__XNAME_NAME = 0x12, PROF__XNAME_SHOWN = 0x22, PROF__XNAME_STAT = 0x2A,
    PROF__XMAP_KEY = 0x08, PROF__XMAP_VALUE = 0x12
};

/* The stats that this header writes. prof__xplane_stats has their names. The stats of arguments have the ids after
   them. */
enum {
    PROF__STAT_ROOT = 1, PROF__STAT_STEP, PROF__STAT_OUT_TYPE, PROF__STAT_OUT, PROF__STAT_IN_TYPE, PROF__STAT_IN,
    PROF__STAT_ASYNC, PROF__STAT_FLOW, PROF__STAT_SOURCE, PROF__STAT_CATEGORY, PROF__STAT_TRUNCATED, PROF__STAT_SCOPE,
    PROF__STAT_SEVERITY, PROF__STAT_LOST, PROF__STAT_VALUE, PROF__STAT_NAME, PROF__STAT_FRAME, PROF__STAT_SPAN,
    PROF__STAT_ENDED, PROF__STAT_THREAD, PROF__STAT_POINT, PROF__STAT_POOL, PROF__STAT_LIVE, PROF__STAT_PEAK,
    PROF__STAT_ASKED, PROF__STAT_BYTES, PROF__STAT_ADDRESS, PROF__STAT_OP, PROF__STAT_REGION, PROF__STAT_SHAPE,
    PROF__STAT_PID, PROF__STAT_BEGIN, PROF__STAT_END, PROF__STAT_LAUNCH, PROF__STAT_KERNEL, PROF__STAT_PROCESSOR,
    PROF__STAT_LEFT, PROF__STAT_DEVICE, PROF__STAT_COUNT
};

static const char *const prof__xplane_stats[PROF__STAT_COUNT] = {
    "", "_r", "step_num", "_pt", "_p", "_ct", "_c", "_a", "flow", "source", "category", "truncated", "scope",
    "severity", "lost", "value", "name", "frame", "span_id", "ended on thread", "thread", "flow_id", "allocator_name",
    "bytes_allocated", "peak_bytes_in_use", "requested_bytes", "allocation_bytes", "addr", "tf_op", "region_type",
    "shape", "process_id", "profile_start_time", "profile_stop_time", "correlation_id", "kernel_details",
    "on processor", "bytes_available", "device_id"};

/* What an event's name is about. XProf counts each name of the form name:type as an op. So scopes have names of that
   form, and nothing else has. */
typedef enum prof__xplane_what {
    PROF__XPLANE_SCOPE = 0, /* "forward:nn": the name and the category */
    PROF__XPLANE_STEP,      /* "./train:step": a scope that is added inside a step without scopes */
    PROF__XPLANE_MARK,      /* "mark: saved", and the following ones alike */
    PROF__XPLANE_MESSAGE,
    PROF__XPLANE_POINT,
    PROF__XPLANE_FRAME,
    PROF__XPLANE_SPAN,
    PROF__XPLANE_LOCK,
    PROF__XPLANE_ROOT,    /* a step; not changed: XProf makes "train 5" of it */
    PROF__XPLANE_KERNEL,  /* work of an accelerator; not changed: XProf knows names such as MEMCPYHtoD */
    PROF__XPLANE_COUNTER, /* not changed, but for characters that XProf does not escape; its first stat is the value */
    PROF__XPLANE_PLAIN    /* not changed */
} prof__xplane_what;

typedef enum prof__xplane_kind {
    PROF__XPLANE_THREAD = 0,
    PROF__XPLANE_COUNTERS,
    PROF__XPLANE_MEMORY,
    PROF__XPLANE_DEVICE_MEMORY,
    PROF__XPLANE_POOLS, /* the live bytes of pools, as counters */
    PROF__XPLANE_FRAMES_OF,
    PROF__XPLANE_HANDLE,
    PROF__XPLANE_SPANS,
    PROF__XPLANE_LOCKS,
    PROF__XPLANE_STEP_TIMES, /* the times of steps, for an accelerator */
    PROF__XPLANE_STATES_OF   /* what the system did with a thread */
} prof__xplane_kind;

typedef struct prof__xplane_bytes {
    unsigned char *data;
    size_t size, capacity;
    int failed; /* 1: memory ran out */
} prof__xplane_bytes;

/* The metadata of events with one name. The id is the index plus 1. */
typedef struct prof__xplane_name {
    const prof_callsite *site; /* NULL: the name belongs to no call site */
    char *text;                /* owned: a name made at run time; NULL: the call site's name */
    uint64_t key;              /* prof__text_key() of text, which says whether two texts are equal; 0: no text */
    prof__xplane_what what;
    uint64_t uses;             /* how often a name made at run time occurs; counted while lines are measured */
} prof__xplane_name;

/* The name that events of a call site have had last, without one made at run time. */
typedef struct prof__xplane_site_name {
    prof__xplane_what what;
    uint32_t id; /* 0: none */
} prof__xplane_site_name;

/* The names that a call site has made at run time. */
typedef struct prof__xplane_group {
    const prof_callsite *site;
    uint64_t names, uses;
} prof__xplane_group;

/* The metadata of stats for an argument with one key. The id is PROF__STAT_COUNT plus the index. */
typedef struct prof__xplane_key {
    char *text;  /* owned */
    size_t last; /* the index of the last argument with this key in the present event */
} prof__xplane_key;

typedef struct prof__xplane_line {
    prof__xplane_kind kind;
    size_t track;
    const char *name; /* the name of the frames on the line */
    uint64_t id;      /* of HANDLE: the frame object's id; of STEP_TIMES: the row of the steps; else 0 */
    uint64_t size;    /* bytes of all its events */
    size_t kept;      /* offset of its events in prof__xplane.kept, plus 1; 0: they are not kept, but made again */
} prof__xplane_line;

typedef struct prof__xplane_track {
    uint32_t id;
    uint32_t groups; /* bit n: the track has events of group n */
    uint32_t *flows; /* of each of its points of flows, in order: the number of the flow */
    size_t flow_count, flow_capacity, flow_next;
    uint8_t gpu; /* the number of its accelerator, or PROF__XPLANE_NO_GPU */
    size_t step_first, step_next; /* indices in prof__xplane.steps: its first step, and how many were met */
    int64_t step_end;             /* the end of its last step that has a row, plus 1; 0: none has */
} prof__xplane_track;

/* A step, to which work of accelerators may be assigned. */
typedef struct prof__xplane_step {
    int64_t start, end;
    size_t number, track;
    uint64_t row; /* the row for steps on accelerators' lines, from 1; 0: none, as another step encloses it */
    const prof_callsite *site;
    char *text;   /* owned: the name, if it was made at run time; else NULL */
} prof__xplane_step;

/* A scope that is held back until the next event is known, which may be a point of a flow or the first scope in a
   step. */
typedef struct prof__xplane_held {
    int held, step, flow; /* flow: 1: a point of a flow was added to it */
    int op, details, launch; /* 1: its arguments have tf_op; details of its kind; correlation_id */
    uint32_t id, depth, shorter; /* shorter: in picoseconds: see prof__xplane_shorter() */
    int64_t start, duration;
    const prof_callsite *site;
} prof__xplane_held;

/* A scope on the present line that may enclose the next one. */
typedef struct prof__xplane_open {
    int64_t start, end;
    uint32_t depth, shorter;
} prof__xplane_open;

typedef struct prof__xplane {
    prof__out out;
    const prof_trace *trace;
    const prof_trace_info *about;
    prof_xplane_options options;
    int64_t offset; /* what is added to the trace's times to get those of the run */
    int64_t from;   /* when the trace's window begins, in its own time; times of events count from there */
    int64_t later;  /* that moment in the run's time, which begins with the earliest window */
    uint64_t start_unix_ns; /* the Unix time at which the run's time begins: the stat profile_start_time */
    prof__xplane_track *tracks;
    int writing;          /* 0: measures: only adds up sizes; 1: writes */
    uint64_t left;        /* how many more bytes the line may have */
    uint64_t size;        /* how many bytes of the present line were measured */
    uint64_t total;       /* how many bytes the planes have so far */
    int changed;          /* 1: a line was written with another size than was measured */
    prof_status status;
    /* what was found while the lines of threads were measured */
    int flows_done;
    uint32_t flow_serial;
    uint8_t *flow_gpus; /* of each flow: the number of the accelerator that it leads to */
    size_t flow_gpu_capacity;
    uint64_t late;
    uint64_t frames_out; /* how many names of frames got no line */
    int accelerators;    /* how many rows belong to accelerators */
    prof__xplane_step *steps; /* if there are accelerators: the host's steps, in the end sorted by their begins */
    size_t step_count, step_capacity, step_rows;
    prof__xplane_open *open;
    size_t open_count, open_capacity;
    size_t track;        /* the track that is being read */
    uint64_t key;        /* prof__cursor_key() of its present event; 0: not known */
    /* fields of the present plane */
    int custom; /* how many custom planes there are so far */
    int gpus;   /* how many planes of accelerators there are so far */
    int gpu;    /* 1: this plane is one of an accelerator */
    uint64_t room; /* bytes of the device whose allocations are written; 0: not known */
    int states; /* 1: lines of threads have lines of states beside them */
    const char *device; /* the device whose counters it has; NULL: the counters of threads */
    prof__xplane_line *lines;
    size_t line_count, line_capacity, measured;
    prof__xplane_name *names;
    size_t name_count, name_capacity, text_count;
    prof__read_index name_index;
    prof__xplane_group *groups;
    size_t group_count, group_capacity;
    prof__read_index group_index;
    prof__xplane_key *keys;
    size_t key_count, key_capacity;
    prof__read_index key_index;
    uint64_t used; /* bit n: stat n is used */
    prof__xplane_site_name *sites; /* of each call site of the trace; NULL: no memory for it: slower */
    prof__xplane_line frames[PROF__XPLANE_FRAMES];
    size_t frame_count;
    prof__xplane_held held;
    prof__xplane_bytes stats;  /* the stats of the event that is being made or held back */
    prof__xplane_bytes point;  /* the stats of an event that is no scope */
    prof__xplane_bytes meta;   /* the plane without its lines */
    prof__xplane_bytes kept;   /* events of measured lines, until they are written */
    size_t kept_before;        /* the size of `kept` before the present line */
    int keeping;
    prof__xplane_bytes part, entry, text, joined;
} prof__xplane;

#define PROF__XPLANE_STATS_MAX 64 /* how many bits `used` has */
typedef char prof__xplane_stats_fit[PROF__STAT_COUNT <= PROF__XPLANE_STATS_MAX ? 1 : -1];

/*-- messages --*/

/* Makes space for `size` more bytes, and returns it. Returns NULL without memory. */
static unsigned char *prof__xplane_more(prof__xplane_bytes *bytes, size_t size)
{
    if (size > bytes->capacity - bytes->size || !bytes->data) {
        size_t wanted = (bytes->size + size) * 2 + 64;
        unsigned char *data = size > (size_t)-1 / 8 ? NULL : (unsigned char *)realloc(bytes->data, wanted);
        if (!data) {
            bytes->failed = 1;
            return NULL;
        }
        bytes->data = data;
        bytes->capacity = wanted;
    }
    return bytes->data + bytes->size;
}

static void prof__xplane_add(prof__xplane_bytes *bytes, const void *data, size_t size)
{
    unsigned char *to = size ? prof__xplane_more(bytes, size) : NULL;
    if (!to) return;
    memcpy(to, data, size);
    bytes->size += size;
}

static size_t prof__xplane_length(uint64_t value)
{
    size_t length = 1;
    for (; value >= 128; value >>= 7) length++;
    return length;
}

static void prof__xplane_number(prof__xplane_bytes *bytes, unsigned tag, uint64_t value)
{
    unsigned char *to = prof__xplane_more(bytes, 11);
    if (!to) return;
    *to++ = (unsigned char)tag;
    bytes->size = (size_t)(prof__pack_integer(to, value) - bytes->data);
}

static void prof__xplane_message(prof__xplane_bytes *bytes, unsigned tag, const void *data, size_t size)
{
    prof__xplane_number(bytes, tag, size);
    prof__xplane_add(bytes, data, size);
}

/* Appends a text, as valid UTF-8, without a tag. */
static void prof__xplane_letters(prof__xplane_bytes *bytes, const char *text)
{
    while (*text) {
        const char *run = text;
        int length = 0;
        while (*text && (length = prof__utf8_length(text)) > 0) text += length;
        prof__xplane_add(bytes, run, (size_t)(text - run));
        if (*text) {
            prof__xplane_add(bytes, PROF__UTF8_REPLACED, sizeof PROF__UTF8_REPLACED - 1);
            text -= length;
        }
    }
}

static void prof__xplane_text(prof__xplane *x, prof__xplane_bytes *bytes, unsigned tag, const char *text)
{
    x->text.size = 0;
    prof__xplane_letters(&x->text, *text ? text : "(unnamed)");
    prof__xplane_message(bytes, tag, x->text.data, x->text.size);
}

/*-- stats. bytes: the message that gets a stat; tag: the tag of a stat in that message --*/

static void prof__xplane_stat_number(prof__xplane *x, prof__xplane_bytes *bytes, unsigned tag, size_t stat,
                                     unsigned type, uint64_t value)
{
    unsigned char body[24], *to = body;
    if (stat < PROF__STAT_COUNT) x->used |= (uint64_t)1 << stat;
    *to++ = PROF__XSTAT_NAME;
    to = prof__pack_integer(to, stat);
    *to++ = (unsigned char)type;
    to = prof__pack_integer(to, value);
    prof__xplane_message(bytes, tag, body, (size_t)(to - body));
}

static void prof__xplane_stat_double(prof__xplane *x, prof__xplane_bytes *bytes, unsigned tag, size_t stat,
                                     double value)
{
    unsigned char body[24], *to = body;
    uint64_t bits;
    int i;
    if (stat < PROF__STAT_COUNT) x->used |= (uint64_t)1 << stat;
    memcpy(&bits, &value, sizeof bits);
    *to++ = PROF__XSTAT_NAME;
    to = prof__pack_integer(to, stat);
    *to++ = PROF__XSTAT_DOUBLE;
    for (i = 0; i < 64; i += 8) *to++ = (unsigned char)(bits >> i);
    prof__xplane_message(bytes, tag, body, (size_t)(to - body));
}

/* Appends a stat with the value x->text. */
static void prof__xplane_stat_letters(prof__xplane *x, prof__xplane_bytes *bytes, unsigned tag, size_t stat)
{
    if (stat < PROF__STAT_COUNT) x->used |= (uint64_t)1 << stat;
    prof__xplane_number(bytes, tag, 2 + prof__xplane_length(stat) + prof__xplane_length(x->text.size) + x->text.size);
    prof__xplane_number(bytes, PROF__XSTAT_NAME, stat);
    prof__xplane_message(bytes, PROF__XSTAT_TEXT, x->text.data, x->text.size);
}

static void prof__xplane_stat_text(prof__xplane *x, prof__xplane_bytes *bytes, unsigned tag, size_t stat,
                                   const char *text)
{
    x->text.size = 0;
    prof__xplane_letters(&x->text, text);
    prof__xplane_stat_letters(x, bytes, tag, stat);
}

static void prof__xplane_stat_hex(prof__xplane *x, prof__xplane_bytes *bytes, size_t stat, uint64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "0x%llx", (unsigned long long)value);
    prof__xplane_stat_text(x, bytes, PROF__XEVENT_STAT, stat, text);
}

static void prof__xplane_stat_source(prof__xplane *x, prof__xplane_bytes *bytes, unsigned tag, size_t stat,
                                     const prof_callsite *site)
{
    char line[24];
    if (!*site->file) return;
    snprintf(line, sizeof line, ":%lu", (unsigned long)site->line);
    x->text.size = 0;
    prof__xplane_letters(&x->text, site->file);
    prof__xplane_add(&x->text, line, strlen(line));
    prof__xplane_stat_letters(x, bytes, tag, stat);
}

static void prof__xplane_value(prof__xplane *x, prof__xplane_bytes *bytes, size_t stat, const prof_value *value)
{
    const unsigned tag = PROF__XEVENT_STAT;
    switch ((int)value->type) {
    case PROF_VALUE_INT: prof__xplane_stat_number(x, bytes, tag, stat, PROF__XSTAT_INT, (uint64_t)value->as.i); break;
    case PROF_VALUE_UINT: prof__xplane_stat_number(x, bytes, tag, stat, PROF__XSTAT_UINT, value->as.u); break;
    case PROF_VALUE_BOOL: prof__xplane_stat_number(x, bytes, tag, stat, PROF__XSTAT_INT, value->as.u != 0); break;
    case PROF_VALUE_DOUBLE: prof__xplane_stat_double(x, bytes, tag, stat, value->as.d); break;
    case PROF_VALUE_POINTER: prof__xplane_stat_hex(x, bytes, stat, value->as.u); break;
    case PROF_VALUE_STRING:
        x->text.size = 0;
        prof__xplane_letters(&x->text, value->as.string);
        if (value->cut) prof__xplane_add(&x->text, "\xE2\x80\xA6", 3); /* U+2026, an ellipsis */
        prof__xplane_stat_letters(x, bytes, tag, stat);
        break;
    default: prof__xplane_stat_text(x, bytes, tag, stat, ""); break;
    }
}

/*-- names --*/

/* Returns 1 if XProf interprets a key as a stat (xplane_schema.cc lists these), or if this header uses the key. The
   list must be sorted. */
static int prof__xplane_taken(const char *key)
{
    static const char *const taken[] = {
        "EdgeTPU MLIR", "EdgeTPU Model Profile information", "EdgeTPU Model information", "Hlo Proto",
        "MemFree_details", "MemoryResidency_details", "Memset_details", "Raw Value", "Scaled Value", "Thread Id",
        "Time Scale Multiplier", "UnknownStatType", "action_duration_ns", "action_index", "action_inputs",
        "action_type", "activation_to_network_receive_duration_us", "addr", "all_reduce_id", "all_reduce_unique_id",
        "allocation_bytes", "allocator_name", "batch_size_after_padding", "batching_input_task_size", "buffer_size",
        "buffer_sizes", "bytes_accessed", "bytes_allocated", "bytes_available", "bytes_reserved", "bytes_transferred",
        "category", "chip_ordinal", "chunk", "clock_rate", "collective_type", "compute_cap_major", "compute_cap_minor",
        "compute_operation", "context_id", "core_count", "core_details", "core_type", "correlation_id", "counter_value",
        "cuda_driver_version", "cuda_graph_exec_id", "cuda_graph_id", "cuda_graph_map_id", "cuda_graph_map_value_id",
        "cuda_graph_node_id", "cuda_graph_node_map_id", "cuda_graph_orig_id", "cuda_graph_orig_node_id",
        "cuda_orig_graph_id", "cuda_runtime_version", "cuda_version", "data_type", "dcn_chunk", "dcn_collective_info",
        "dcn_destination_per_slice_device_id", "dcn_destination_slice_id", "dcn_label", "dcn_loop_index",
        "dcn_source_per_slice_device_id", "dcn_source_slice_id", "dcn_topology_level", "deduplicated_name",
        "delay_budget_us", "device_duration_ps", "device_id", "device_offset_ps", "device_ordinal", "device_type",
        "device_type_string", "device_vendor", "dma_stall_duration_ps", "dropped_traces", "duration_us", "element_id",
        "ended on thread", "equation", "flops", "flow", "flow_id", "fragmentation", "frame", "global_chip_id",
        "gpu_device_name", "graph_key", "graph_metadata_line_id", "graph_protos", "graph_type", "group_id",
        "has_megacore", "has_merged_vmem", "hbm_energy_nj", "hbm_power_events", "hbm_utilization_percent",
        "hlo_category", "hlo_module", "hlo_op", "id", "index_on_host", "input_size", "is_eager", "is_func", "iter_num",
        "kernel_details", "key", "kpi_name", "kpi_value", "launch_id", "layout", "libtpu_version", "llo_proto",
        "local_device_id", "long_name", "loop_iteration", "lost", "marker_payload", "matrix_unit_utilization_percent",
        "max_iteration_num", "memalloc_details", "memcpy_details", "memory_access_breakdown", "memory_bandwidth",
        "memory_size", "min_duration_ps", "mlir_program", "model_flops", "model_id", "model_name", "model_version",
        "multi_slice_topology", "name", "nan_counter_events", "network_transport_latency_us", "node_ordinal",
        "num_actions", "nvtx_range", "occupancy_min_grid_size", "occupancy_suggested_block_size", "offload_core_id",
        "offload_execution_index", "on processor", "padding_amount", "parent_id", "payload_size_bytes",
        "peak_bytes_in_use", "peak_cmem_rd_bw_gigabytes_per_second", "peak_cmem_wr_bw_gigabytes_per_second",
        "peak_hbm_bw_gigabytes_per_second", "peak_sram_rd_bw_gigabytes_per_second",
        "peak_sram_wr_bw_gigabytes_per_second", "peak_teraflops_per_second", "peak_vmem_rd_bw_gigabytes_per_second",
        "peak_vmem_wr_bw_gigabytes_per_second", "performance_counter_description", "performance_counter_id",
        "performance_counter_sets", "process_id", "profile_options", "profile_start_time", "profile_stop_time",
        "program_counter", "program_id", "queue", "queue_addr", "queue_id", "raw_bytes_accessed", "recv_channel_id",
        "region_type", "replica_id", "request_id", "requested_bytes", "run_id", "scope", "scope_range_id",
        "self_duration_ps", "send_channel_id", "severity", "shape", "shape_with_layout", "slack_us", "source",
        "source_stack", "span_id", "start_end_type", "step_idle_time_ps", "step_name", "step_num", "stream",
        "symbol_id", "tc_offload_start_id", "tf_function_call", "tf_op", "tf_op_name", "theoretical_occupancy_pct",
        "thread", "total_profile_duration_ps", "tracing_count", "transaction_with_chip_core_id",
        "transfer_destinations", "transfer_source", "transfers", "transmission_budget_us", "truncated", "uses_megacore",
        "value", "vdd_core_energy_nj", "vdd_core_power_events"};
    return *key == '_' || prof__display_listed(taken, sizeof taken / sizeof *taken, key);
}

static int prof__xplane_same_key(const void *owner, size_t item, const void *key)
{
    return !strcmp(((const prof__xplane_key *)owner)[item].text, (const char *)key);
}

/* Returns the index of an argument's key. Adds the key if it is new. Returns PROF__NONE without memory. */
static size_t prof__xplane_key_of(prof__xplane *x, const char *key)
{
    uint32_t hash = prof__text_hash(key);
    size_t item = prof__read_find(&x->key_index, hash, prof__xplane_same_key, x->keys, key);
    if (item != PROF__NONE) return item;
    item = x->key_count;
    if (!PROF__ROOM(x->keys, x->key_capacity, item)) return PROF__NONE;
    x->keys[item].last = 0;
    x->keys[item].text = prof__text_join(key, "");
    if (!x->keys[item].text) return PROF__NONE;
    if (!prof__read_add(&x->key_index, hash, item)) {
        free(x->keys[item].text);
        return PROF__NONE;
    }
    x->key_count++;
    return item;
}

typedef struct prof__xplane_name_key {
    const prof_callsite *site;
    const char *text;
    uint64_t text_key; /* prof__text_key() of text */
    prof__xplane_what what;
} prof__xplane_name_key;

static int prof__xplane_same_name(const void *owner, size_t item, const void *key)
{
    const prof__xplane_name *name = (const prof__xplane_name *)owner + item;
    const prof__xplane_name_key *wanted = (const prof__xplane_name_key *)key;
    return name->site == wanted->site && name->what == wanted->what && name->key == wanted->text_key;
}

/* Adds a name. Returns its id, or 0 as prof__xplane_name_find() does. */
static uint32_t prof__xplane_name_add(prof__xplane *x, const prof__xplane_name_key *key, uint32_t hash)
{
    prof__xplane_name name;
    name.site = key->site;
    name.what = key->what;
    name.key = key->text_key;
    name.uses = 1;
    name.text = NULL;
    if (key->text && key->site && x->text_count >= PROF__XPLANE_NAMES) return 0;
    if (key->text && !(name.text = prof__text_join(key->text, ""))) return 0;
    if (!PROF__ROOM(x->names, x->name_capacity, x->name_count) ||
        !prof__read_add(&x->name_index, hash, x->name_count)) {
        free(name.text);
        return 0;
    }
    x->names[x->name_count++] = name;
    x->text_count += name.text != NULL;
    return (uint32_t)x->name_count;
}

static uint32_t prof__xplane_name_hash(const prof_callsite *site, prof__xplane_what what, uint64_t text)
{
    return (uint32_t)prof__mix_key((uint64_t)(uintptr_t)site + (uint64_t)what, text);
}

/* Begins to find the name of a scope that comes soon, if that name was made at run time. */
static void prof__xplane_name_soon(const prof__xplane *x, const prof_cursor *cursor)
{
    const prof_callsite *site;
    uint64_t text;
    size_t item;
    if (prof__cursor_ahead(cursor, PROF__XPLANE_AHEAD, &site, &text))
        prof__read_soon(&x->name_index, prof__xplane_name_hash(site, PROF__XPLANE_SCOPE, text));
    if (!prof__cursor_ahead(cursor, PROF__XPLANE_AHEAD / 2, &site, &text)) return;
    item = prof__read_guess(&x->name_index, prof__xplane_name_hash(site, PROF__XPLANE_SCOPE, text));
    if (item != PROF__NONE) PROF__SOON(&x->names[item]);
}

/* Returns the id of a name. text: the name, if it was made at run time; NULL: the site's name. text_key: its
   prof__text_key(). Returns 0 without memory, or for a new run-time name if there are too many. */
static uint32_t prof__xplane_name_find(prof__xplane *x, const prof_callsite *site, const char *text, uint64_t text_key,
                                       prof__xplane_what what)
{
    prof__xplane_name_key key;
    uint32_t hash = prof__xplane_name_hash(site, what, text_key);
    size_t item;
    key.site = site;
    key.text = text;
    key.text_key = text_key;
    key.what = what;
    item = prof__read_find(&x->name_index, hash, prof__xplane_same_name, x->names, &key);
    if (item == PROF__NONE) return prof__xplane_name_add(x, &key, hash);
    x->names[item].uses += !x->writing;
    return (uint32_t)item + 1;
}

/* Returns the id of a call site's own name. */
static uint32_t prof__xplane_site(prof__xplane *x, const prof_callsite *site, prof__xplane_what what)
{
    size_t number = x->sites ? prof__site_number(x->trace, site) : PROF__NONE;
    uint32_t id;
    if (PROF__LIKELY(number != PROF__NONE && x->sites[number].id && x->sites[number].what == what))
        return x->sites[number].id;
    id = prof__xplane_name_find(x, site, NULL, 0, what);
    if (!id) x->status = PROF_NO_MEMORY;
    if (number == PROF__NONE) return id;
    x->sites[number].id = id;
    x->sites[number].what = what;
    return id;
}

/* Returns the id of a name made at run time, which has this prof__text_key(). If there are too many such names, returns
   the id of the call site's name, and adds the run-time name as a stat. */
static uint32_t prof__xplane_keyed(prof__xplane *x, prof__xplane_bytes *stats, const prof_callsite *site,
                                   const char *text, uint64_t text_key, prof__xplane_what what)
{
    uint32_t id = prof__xplane_name_find(x, site, text, text_key, what);
    if (!id && site && x->text_count >= PROF__XPLANE_NAMES) {
        if (stats) prof__xplane_stat_text(x, stats, PROF__XEVENT_STAT, PROF__STAT_NAME, text);
        return prof__xplane_site(x, site, what);
    }
    if (!id) x->status = PROF_NO_MEMORY;
    return id;
}

static uint32_t prof__xplane_named(prof__xplane *x, prof__xplane_bytes *stats, const prof_callsite *site,
                                   const char *text, prof__xplane_what what)
{
    return prof__xplane_keyed(x, stats, site, text, prof__text_key(text), what);
}

static uint32_t prof__xplane_name_of(prof__xplane *x, prof__xplane_bytes *stats, const prof_event *event,
                                     prof__xplane_what what)
{
    if (PROF__LIKELY(event->name == event->site->name)) return prof__xplane_site(x, event->site, what);
    if (!x->key || *event->site->name) return prof__xplane_named(x, stats, event->site, event->name, what);
    return prof__xplane_keyed(x, stats, event->site, event->name, x->key, what);
}

/* Returns 1 if XProf interprets names with this begin: as a step, an input, a transfer or the like. */
static int prof__xplane_meant(const char *name)
{
    static const char *const meant[] = {"train", "test", "TraceContext", "Eager", "FunctionRun", "ExecutorState",
                                        "Iterator", "MEMCPY", "memcpy", "Memcpy", "nccl", "NCCL"};
    size_t i, n;
    for (i = 0; i < sizeof meant / sizeof *meant; i++) {
        n = strlen(meant[i]);
        if (!strncmp(name, meant[i], n)) return 1;
    }
    return 0;
}

/* Appends a type made of a category, or of a row's name without " #2" at its end. XProf takes [a-z][a-z0-9_]* for a
   type. */
static void prof__xplane_type(prof__xplane_bytes *bytes, const char *c)
{
    char letter;
    if (!((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z'))) prof__xplane_add(bytes, "c_", 2);
    for (; *c && strncmp(c, " #", 2); c++) {
        letter = *c >= 'A' && *c <= 'Z' ? (char)(*c + 32) : *c;
        if (!((letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9'))) letter = '_';
        prof__xplane_add(bytes, &letter, 1);
    }
}

/* Appends a text to x->text without its colons, because XProf takes what follows a colon for a type. */
static void prof__xplane_spelled(prof__xplane *x, const char *text)
{
    const char *end;
    for (; *text; text = end) {
        size_t before = x->joined.size = 0;
        for (end = text; *end && *end != ':'; end++) before++;
        prof__xplane_add(&x->joined, text, before);
        prof__xplane_add(&x->joined, "", 1);
        if (x->joined.failed) return;
        prof__xplane_letters(&x->text, (const char *)x->joined.data);
        if (*end == ':') prof__xplane_add(&x->text, "/", 1);
        while (*end == ':') end++;
    }
}

/* Sets x->text to an event's name: NAME:TYPE for a scope, so that XProf counts it as an op; for others, with a
   prefix. */
static void prof__xplane_op(prof__xplane *x, const prof__xplane_name *name, const char *text)
{
    static const char *const prefixes[] = {"", "", "mark: ", "message: ", "flow: ", "frame: ", "span: ", "lock: "};
    x->text.size = 0;
    if (name->what >= PROF__XPLANE_MARK) {
        prof__xplane_letters(&x->text, prefixes[name->what]);
        prof__xplane_letters(&x->text, text);
        return;
    }
    /* XProf leaves out calls whose names begin with "cu" where it counts launches. */
    int call = name->site && !strcmp(name->site->category, "CUDA");
    if (call || prof__xplane_meant(text)) prof__xplane_add(&x->text, "./", 2);
    prof__xplane_spelled(x, text);
    prof__xplane_add(&x->text, ":", 1);
    prof__xplane_type(&x->text, name->what == PROF__XPLANE_STEP              ? "step"
                                : name->site && *name->site->category ? name->site->category
                                                                      : "scope");
}

/* Replaces the characters that must be escaped in JSON, for texts that XProf does not escape. */
static void prof__xplane_harmless(prof__xplane_bytes *bytes)
{
    size_t i;
    for (i = 0; i < bytes->size; i++) {
        if (bytes->data[i] == '"') bytes->data[i] = '\'';
        if (bytes->data[i] == '\\') bytes->data[i] = '/';
        if (bytes->data[i] < 32) bytes->data[i] = ' ';
    }
}

/* Appends an entry to a protobuf map. Its key is `id`, its value x->entry. */
static void prof__xplane_map(prof__xplane *x, unsigned tag, uint64_t id)
{
    x->part.size = 0;
    prof__xplane_number(&x->part, PROF__XMAP_KEY, id);
    prof__xplane_message(&x->part, PROF__XMAP_VALUE, x->entry.data, x->entry.size);
    prof__xplane_message(&x->meta, tag, x->part.data, x->part.size);
}

static int prof__xplane_same_group(const void *owner, size_t item, const void *key)
{
    return ((const prof__xplane_group *)owner)[item].site == (const prof_callsite *)key;
}

/* Returns the group of names that a call site has made. Returns NULL without memory. */
static prof__xplane_group *prof__xplane_group_of(prof__xplane *x, const prof_callsite *site)
{
    uint32_t hash = (uint32_t)prof__mix((uint64_t)(uintptr_t)site);
    size_t item = prof__read_find(&x->group_index, hash, prof__xplane_same_group, x->groups, site);
    if (item != PROF__NONE) return &x->groups[item];
    item = x->group_count;
    if (!PROF__ROOM(x->groups, x->group_capacity, item) || !prof__read_add(&x->group_index, hash, item)) {
        x->status = PROF_NO_MEMORY;
        return NULL;
    }
    memset(&x->groups[item], 0, sizeof x->groups[item]);
    x->groups[item].site = site;
    x->group_count++;
    return &x->groups[item];
}

static int prof__xplane_made_at_run_time(const prof__xplane_name *name)
{
    return name->text && name->site && name->what == PROF__XPLANE_SCOPE;
}

static void prof__xplane_group_names(prof__xplane *x)
{
    size_t i;
    for (i = 0; i < x->name_count; i++) {
        const prof__xplane_name *name = &x->names[i];
        prof__xplane_group *group = prof__xplane_made_at_run_time(name) ? prof__xplane_group_of(x, name->site) : NULL;
        if (!group) continue;
        group->names++;
        group->uses += name->uses;
    }
}

/* Returns the text that counts as the op of a name. For a name made by a format, that is the format. A call site may
   have made many names that are seldom used again, as names of requests are, but names of functions are not: then it is
   the function that contains the call site. For other names, it is the name. */
static const char *prof__xplane_op_text(prof__xplane *x, const prof__xplane_name *name, const char *text)
{
    const prof__xplane_group *group;
    if (!prof__xplane_made_at_run_time(name)) return text;
    if (*name->site->name && strcmp(name->site->name, "%s")) return name->site->name;
    group = prof__xplane_group_of(x, name->site);
    if (!group || group->names <= PROF__XPLANE_MANY || group->uses >= group->names * PROF__XPLANE_AGAIN) return text;
    return *name->site->function ? name->site->function : text;
}

static void prof__xplane_event_name(prof__xplane *x, size_t index)
{
    const prof__xplane_name *name = &x->names[index];
    const char *text = name->text ? name->text : name->site ? name->site->name : "";
    prof__xplane_bytes *entry = &x->entry;
    if (!*text) text = "(unnamed)";
    entry->size = 0;
    prof__xplane_number(entry, PROF__XNAME_ID, index + 1);
    if (name->what >= PROF__XPLANE_ROOT) {
        x->text.size = 0;
        prof__xplane_letters(&x->text, text);
        if (name->what == PROF__XPLANE_COUNTER) prof__xplane_harmless(&x->text);
        prof__xplane_message(entry, PROF__XNAME_NAME, x->text.data, x->text.size);
    } else {
        prof__xplane_op(x, name, prof__xplane_op_text(x, name, text));
        prof__xplane_message(entry, PROF__XNAME_NAME, x->text.data, x->text.size);
        prof__xplane_text(x, entry, PROF__XNAME_SHOWN, text);
    }
    if (name->site && *name->site->category && name->what < PROF__XPLANE_COUNTER)
        prof__xplane_stat_text(x, entry, PROF__XNAME_STAT, PROF__STAT_CATEGORY, name->site->category);
    if (name->site && name->what < PROF__XPLANE_COUNTER)
        prof__xplane_stat_source(x, entry, PROF__XNAME_STAT, PROF__STAT_SOURCE, name->site);
    prof__xplane_map(x, PROF__XPLANE_EVENT_NAME, index + 1);
}

static void prof__xplane_stat_name(prof__xplane *x, size_t id, const char *prefix, const char *text)
{
    prof__xplane_bytes *entry = &x->entry;
    entry->size = 0;
    prof__xplane_number(entry, PROF__XNAME_ID, id);
    x->text.size = 0;
    prof__xplane_letters(&x->text, prefix);
    prof__xplane_letters(&x->text, *text ? text : "(unnamed)");
    prof__xplane_message(entry, PROF__XNAME_NAME, x->text.data, x->text.size);
    prof__xplane_map(x, PROF__XPLANE_STAT_NAME, id);
}

/* Returns 1 if an argument of an accelerator's work becomes the stat of that name that XProf has for its own
   devices. */
static int prof__xplane_own_stat(const char *key)
{
    static const char *const own[] = {
        "bytes_accessed", "clock_rate", "compute_cap_major", "compute_cap_minor", "context_id", "core_count",
        "correlation_id", "cuda_graph_id", "cuda_graph_node_id", "device_vendor", "flops", "gpu_device_name",
        "kernel_details", "memalloc_details", "memcpy_details", "memory_bandwidth", "memory_size", "nvtx_range",
        "occupancy_min_grid_size", "occupancy_suggested_block_size", "shape", "tf_op", "theoretical_occupancy_pct"};
    size_t i;
    for (i = 0; i < sizeof own / sizeof *own; i++)
        if (!strcmp(key, own[i])) return 1;
    return 0;
}

/* Returns the prefix for an argument's key: "arg." if XProf would interpret the key otherwise, else "". A scope that
   launches work of an accelerator has the correlation_id of that work. */
static const char *prof__xplane_prefix(const prof__xplane *x, const char *key)
{
    int own = x->gpu ? prof__xplane_own_stat(key) : x->accelerators && !strcmp(key, "correlation_id");
    return prof__xplane_taken(key) && !own ? "arg." : "";
}

static void prof__xplane_names(prof__xplane *x)
{
    size_t i;
    prof__xplane_group_names(x);
    for (i = 0; i < x->name_count; i++) prof__xplane_event_name(x, i);
    for (i = 1; i < PROF__STAT_COUNT; i++)
        if (x->used >> i & 1) prof__xplane_stat_name(x, i, "", prof__xplane_stats[i]);
    for (i = 0; i < x->key_count; i++)
        prof__xplane_stat_name(x, PROF__STAT_COUNT + i, prof__xplane_prefix(x, x->keys[i].text), x->keys[i].text);
}

static void prof__xplane_names_clear(prof__xplane *x)
{
    size_t i;
    for (i = 0; i < x->name_count; i++) free(x->names[i].text);
    for (i = 0; i < x->key_count; i++) free(x->keys[i].text);
    free(x->name_index.slots);
    free(x->key_index.slots);
    free(x->group_index.slots);
    memset(&x->group_index, 0, sizeof x->group_index);
    memset(&x->name_index, 0, sizeof x->name_index);
    memset(&x->key_index, 0, sizeof x->key_index);
    if (x->sites) memset(x->sites, 0, prof__site_count(x->trace) * sizeof *x->sites);
    x->name_count = x->key_count = x->text_count = x->group_count = 0;
    x->used = 0;
}

/*-- events --*/

static int64_t prof__xplane_time(int64_t ns) { return ns < 0 ? 0 : ns; }

/* Returns when the window of a trace ends. */
static int64_t prof__xplane_end(const prof_trace_info *about)
{
    return about->to_ns && about->to_ns < about->duration_ns ? about->to_ns : about->duration_ns;
}

/* Stops keeping the events of the present line, which are then made again when the line is written. */
static void prof__xplane_forget(prof__xplane *x)
{
    x->keeping = 0;
    x->kept.size = x->kept_before;
}

/* Adds an event to the present line. The event ends `shorter` picoseconds before start + duration. If it lasts 0 ns, it
   begins and ends that much earlier. stats: its stats, or NULL. */
static void prof__xplane_emit_shorter(prof__xplane *x, uint32_t id, int64_t start, int64_t duration, uint32_t shorter,
                                      const prof__xplane_bytes *stats)
{
    unsigned char unkept[64], *at = unkept, *to;
    size_t size, extra = stats ? stats->size : 0, length = 1, total;
    start = prof__xplane_time(start - x->from);
    if (PROF__UNLIKELY(duration > PROF__XPLANE_END || x->later > PROF__XPLANE_END ||
                       start > PROF__XPLANE_END - duration - x->later)) {
        x->late += !x->writing;
        return;
    }
    if (x->writing) at = (unsigned char *)prof__out_reserve(&x->out, sizeof unkept);
    if (!x->writing && x->keeping) at = prof__xplane_more(&x->kept, extra + sizeof unkept);
    if (!at) {
        prof__xplane_forget(x);
        at = unkept;
    }
    to = at + 2; /* leaves space for the size, which nearly always has one byte */
    *to++ = PROF__XEVENT_NAME;
    to = prof__pack_integer(to, id);
    *to++ = PROF__XEVENT_OFFSET;
    to = prof__pack_integer(to, (uint64_t)start * 1000 - (duration || !start ? 0 : shorter));
    if (duration) {
        *to++ = PROF__XEVENT_DURATION;
        to = prof__pack_integer(to, (uint64_t)duration * 1000 - shorter);
    }
    size = (size_t)(to - at) - 2;
    *at = PROF__XLINE_EVENT;
    if (PROF__UNLIKELY(size + extra >= 128)) {
        length = prof__xplane_length(size + extra);
        memmove(at + 1 + length, at + 2, size);
    }
    prof__pack_integer(at + 1, size + extra);
    total = 1 + length + size + extra;
    if (!x->writing) {
        x->size += total;
        if (at == unkept) return;
        if (x->kept.size + total > PROF__XPLANE_KEEP) {
            prof__xplane_forget(x);
            return;
        }
        if (extra) memcpy(at + total - extra, stats->data, extra);
        x->kept.size += total;
    } else if (PROF__UNLIKELY(total > x->left)) {
        x->changed = 1;
    } else {
        prof__out_commit(&x->out, total - extra);
        if (extra) prof__out_bytes(&x->out, stats->data, extra);
        x->left -= total;
    }
}

static void prof__xplane_emit(prof__xplane *x, uint32_t id, int64_t start, int64_t duration,
                              const prof__xplane_bytes *stats)
{
    prof__xplane_emit_shorter(x, id, start, duration, 0, stats);
}

/* Returns by how many picoseconds the next scope of a line must be shortened, so that it ends before its parent. XProf
   sorts begins and ends by time; at equal times, it takes the parent's first. So it would lose a scope that ends with
   its parent, and count the scope's time as the parent's own. */
static uint32_t prof__xplane_shorter(prof__xplane *x, int64_t start, int64_t end, uint32_t depth)
{
    prof__xplane_open *all = x->open, *around;
    uint32_t shorter = 0;
    while (x->open_count && (all[x->open_count - 1].depth >= depth || all[x->open_count - 1].end < start))
        x->open_count--;
    around = x->open_count ? &all[x->open_count - 1] : NULL;
    if (around && around->end == end) /* a parent of 0 ns leaves no time for a scope inside */
        shorter = around->shorter + (around->start < end && around->shorter < 999);
    if (!PROF__ROOM(x->open, x->open_capacity, x->open_count)) {
        x->status = PROF_NO_MEMORY;
        return shorter;
    }
    x->open[x->open_count].start = start;
    x->open[x->open_count].end = end;
    x->open[x->open_count].depth = depth;
    x->open[x->open_count++].shorter = shorter;
    return shorter;
}

/* Returns 1 if an event lies in the window of the options, at least in part. */
static int prof__xplane_in_window(const prof__xplane *x, int64_t start, int64_t end)
{
    return prof__display_in(start + x->offset, end + x->offset, x->options.from_ns, x->options.to_ns);
}

static int prof__xplane_wanted(const prof__xplane *x, const prof_event *event)
{
    return prof__display_wanted(event, x->offset, x->options.from_ns, x->options.to_ns);
}

/* Adds arguments as stats. Of several with one key, adds the last. */
static void prof__xplane_arg_list(prof__xplane *x, prof__xplane_bytes *stats, const prof_arg *args, uint32_t count,
                                  int step)
{
    uint32_t i;
    for (i = 0; i < count; i++) {
        size_t key = prof__xplane_key_of(x, args[i].key);
        if (key == PROF__NONE) {
            x->status = PROF_NO_MEMORY;
            return;
        }
        x->keys[key].last = i;
    }
    for (i = 0; i < count; i++) {
        size_t key = prof__xplane_key_of(x, args[i].key), stat = PROF__STAT_COUNT + key;
        if (x->keys[key].last != i) continue;
        if (step && args[i].value.type == PROF_VALUE_INT && !strcmp(args[i].key, "step_num")) stat = PROF__STAT_STEP;
        prof__xplane_value(x, stats, stat, &args[i].value);
    }
}

static void prof__xplane_args(prof__xplane *x, prof__xplane_bytes *stats, const prof_event *event)
{
    prof__xplane_arg_list(x, stats, event->args, event->arg_count, event->site->role == PROF_ROLE_STEP);
}

static void prof__xplane_truncated(prof__xplane *x, prof__xplane_bytes *stats, uint32_t flags)
{
    if (!(flags & (PROF_TRUNCATED_BEGIN | PROF_TRUNCATED_END))) return;
    prof__xplane_stat_text(x, stats, PROF__XEVENT_STAT, PROF__STAT_TRUNCATED,
                           !(flags & PROF_TRUNCATED_BEGIN) ? "end"
                           : flags & PROF_TRUNCATED_END    ? "begin and end"
                                                           : "begin");
}

static void prof__xplane_put_int(prof__xplane *x, prof__xplane_bytes *stats, size_t stat, int64_t value)
{
    prof__xplane_stat_number(x, stats, PROF__XEVENT_STAT, stat, PROF__XSTAT_INT, (uint64_t)value);
}

static void prof__xplane_put_uint(prof__xplane *x, prof__xplane_bytes *stats, size_t stat, uint64_t value)
{
    prof__xplane_stat_number(x, stats, PROF__XEVENT_STAT, stat, PROF__XSTAT_UINT, value);
}

/* Adds an instant, as an event that lasts 0 ns. */
static void prof__xplane_instant(prof__xplane *x, const prof_event *event, prof__xplane_what what)
{
    static const char *const scopes[] = {"global", "process", "task", "marker"};
    uint32_t role = event->site->role, id;
    prof__xplane_bytes *stats = &x->point;
    stats->size = 0;
    id = prof__xplane_name_of(x, stats, event, what);
    prof__xplane_args(x, stats, event);
    if (role >= PROF_ROLE_MARK_GLOBAL && role <= PROF_ROLE_MARK_MARKER)
        prof__xplane_stat_text(x, stats, PROF__XEVENT_STAT, PROF__STAT_SCOPE, scopes[role - PROF_ROLE_MARK_GLOBAL]);
    if (event->type == PROF_EVENT_COUNTER) prof__xplane_value(x, stats, PROF__STAT_VALUE, &event->value);
    prof__xplane_emit(x, id, prof__xplane_time(event->start_ns), 0, stats);
}

static void prof__xplane_log(prof__xplane *x, const prof_event *event)
{
    prof__xplane_bytes *stats = &x->point;
    uint32_t id;
    stats->size = 0;
    id = prof__xplane_named(x, stats, event->site, event->value.as.string, PROF__XPLANE_MESSAGE);
    prof__xplane_stat_text(x, stats, PROF__XEVENT_STAT, PROF__STAT_SEVERITY, prof__severity_text(event->detail));
    prof__xplane_emit(x, id, prof__xplane_time(event->start_ns), 0, stats);
}

static void prof__xplane_lost(prof__xplane *x, const prof_event *event)
{
    prof__xplane_bytes *stats = &x->point;
    stats->size = 0;
    prof__xplane_put_uint(x, stats, PROF__STAT_LOST, event->value.as.u);
    prof__xplane_emit(x, prof__xplane_named(x, stats, NULL, "lost events", PROF__XPLANE_MARK),
                      prof__xplane_time(event->start_ns), 0, stats);
}

/*-- gzip, for Perfetto and pprof: RFC 1952, in independent blocks of 64 KiB --*/

#define PROF__GZIP_BLOCK 65536u

typedef struct prof__gzip {
    prof__out *out;
    uint64_t size;
    uint32_t check;
    size_t used;
    unsigned char data[PROF__GZIP_BLOCK], packing[PROF__DEFLATE_BOUND(PROF__GZIP_BLOCK)];
    prof__deflate deflate;
} prof__gzip;

static void prof__gzip_block(prof__gzip *z, int last)
{
    prof__deflate_start(&z->deflate, z->packing);
    prof__deflate_part(&z->deflate, z->data, 0, z->used, z->used, last);
    if (last) prof__deflate_end(&z->deflate);
    prof__out_bytes(z->out, z->packing, z->deflate.size);
    z->used = 0;
}

/* z: zeroed. */
static void prof__gzip_begin(prof__gzip *z, prof__out *out)
{
    static const unsigned char head[10] = {0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 255};
    z->out = out;
    z->check = ~0u;
    prof__out_bytes(out, head, sizeof head);
}

static void prof__gzip_add(prof__gzip *z, const unsigned char *data, size_t size)
{
    static const uint32_t crc[16] = {0,          0x1DB71064, 0x3B6E20C8, 0x26D930AC, 0x76DC4190, 0x6B6B51F4,
                                     0x4DB26158, 0x5005713C, 0xEDB88320, 0xF00F9344, 0xD6D6A3E8, 0xCB61B38C,
                                     0x9B64C2B0, 0x86D3D2D4, 0xA00AE278, 0xBDBDF21C};
    size_t i;
    for (i = 0; i < size; i++) {
        z->check ^= data[i];
        z->check = z->check >> 4 ^ crc[z->check & 15];
        z->check = z->check >> 4 ^ crc[z->check & 15];
        if (z->used == PROF__GZIP_BLOCK) prof__gzip_block(z, 0);
        z->data[z->used++] = data[i];
    }
    z->size += size;
}

static void prof__gzip_end(prof__gzip *z)
{
    unsigned char tail[8];
    int i;
    prof__gzip_block(z, 1);
    for (i = 0; i < 4; i++) {
        tail[i] = (unsigned char)(~z->check >> 8 * i & 255);
        tail[4 + i] = (unsigned char)(z->size >> 8 * i & 255);
    }
    prof__out_bytes(z->out, tail, sizeof tail);
}

/*-- memory profile: google/pprof's proto/profile.proto --*/

/* Tags of protobuf fields: the field's number << 3 | its wire type. */
enum {
    PROF__PPROF_TYPE = 0x0A, PROF__PPROF_SAMPLE = 0x12, PROF__PPROF_MAPPING = 0x1A, PROF__PPROF_LOCATION = 0x22,
    PROF__PPROF_FUNCTION = 0x2A, PROF__PPROF_STRING = 0x32, PROF__PPROF_TIME = 0x48, PROF__PPROF_DURATION = 0x50,
    PROF__PPROF_PERIOD_TYPE = 0x5A, PROF__PPROF_PERIOD = 0x60, PROF__PPROF_COMMENT = 0x68, PROF__PPROF_DEFAULT = 0x70,
    PROF__PPROF_FIRST = 0x08, PROF__PPROF_SECOND = 0x10 /* fields 1 and 2 of smaller messages, if they are numbers */
};

/* A location: a call site and a name, which is the one that statistics have. */
typedef struct prof__pprof_at {
    const prof_callsite *site;
    const char *name;
} prof__pprof_at;

typedef struct prof__pprof {
    prof__xplane_bytes all, part, inner, text;
    const char **strings; /* the texts belong to the trace, or are literals */
    size_t string_count, string_capacity;
    prof__read_index string_index;
    prof__pprof_at *places; /* the id of a location, and of its function, is the index plus 1 */
    size_t place_count, place_capacity;
    prof__read_index place_index;
    int failed;
} prof__pprof;

static int prof__pprof_same_string(const void *owner, size_t item, const void *key)
{
    return !strcmp(((const char *const *)owner)[item], (const char *)key);
}

/* Returns the number of a text in the table of strings. The first string is "". */
static uint64_t prof__pprof_string(prof__pprof *p, const char *text)
{
    uint32_t hash = prof__text_hash(text);
    size_t item = prof__read_find(&p->string_index, hash, prof__pprof_same_string, p->strings, text);
    if (item != PROF__NONE) return item;
    if (!PROF__ROOM(p->strings, p->string_capacity, p->string_count) ||
        !prof__read_add(&p->string_index, hash, p->string_count)) {
        p->failed = 1;
        return 0;
    }
    p->text.size = 0;
    prof__xplane_letters(&p->text, text);
    prof__xplane_message(&p->all, PROF__PPROF_STRING, p->text.data, p->text.size);
    p->strings[p->string_count] = text;
    return p->string_count++;
}

/* Appends fields 1, 2 and so on with these values. */
static void prof__pprof_fields(prof__xplane_bytes *bytes, const uint64_t *values, unsigned count)
{
    unsigned i;
    for (i = 0; i < count; i++)
        if (values[i]) prof__xplane_number(bytes, PROF__PPROF_FIRST + i * 8, values[i]);
}

/* Appends a message ValueType. */
static void prof__pprof_type(prof__pprof *p, unsigned tag, const char *type, const char *unit)
{
    uint64_t values[2];
    values[0] = prof__pprof_string(p, type);
    values[1] = prof__pprof_string(p, unit);
    p->part.size = 0;
    prof__pprof_fields(&p->part, values, 2);
    prof__xplane_message(&p->all, tag, p->part.data, p->part.size);
}

static int prof__pprof_same_place(const void *owner, size_t item, const void *key)
{
    const prof__pprof_at *place = (const prof__pprof_at *)owner + item, *wanted = (const prof__pprof_at *)key;
    return place->site == wanted->site && !strcmp(place->name, wanted->name);
}

/* Returns the id of the location of a call site. name: what statistics call it. */
static uint64_t prof__pprof_place(prof__pprof *p, const prof_callsite *site, const char *name)
{
    prof__pprof_at place = {site, name};
    uint32_t hash = (uint32_t)prof__mix((uint64_t)(uintptr_t)site) + prof__text_hash(name);
    size_t item = prof__read_find(&p->place_index, hash, prof__pprof_same_place, p->places, &place);
    uint64_t values[5];
    if (item != PROF__NONE) return item + 1;
    if (!PROF__ROOM(p->places, p->place_capacity, p->place_count) ||
        !prof__read_add(&p->place_index, hash, p->place_count)) {
        p->failed = 1;
        return 0;
    }
    p->places[p->place_count++] = place;
    values[0] = p->place_count; /* the fields of Function: id, name, system_name, filename, start_line */
    values[1] = values[2] = prof__pprof_string(p, name);
    values[3] = prof__pprof_string(p, site->file);
    values[4] = 0;
    p->part.size = 0;
    prof__pprof_fields(&p->part, values, 5);
    prof__xplane_message(&p->all, PROF__PPROF_FUNCTION, p->part.data, p->part.size);
    values[1] = site->line; /* the fields of Line: function_id, line */
    p->inner.size = 0;
    prof__pprof_fields(&p->inner, values, 2);
    values[1] = 1; /* the fields of Location: id, mapping_id, address, line */
    p->part.size = 0;
    prof__pprof_fields(&p->part, values, 2);
    prof__xplane_message(&p->part, 0x22, p->inner.data, p->inner.size);
    prof__xplane_message(&p->all, PROF__PPROF_LOCATION, p->part.data, p->part.size);
    return p->place_count;
}

static void prof__pprof_label(prof__pprof *p, const char *key, const char *text)
{
    uint64_t values[2];
    if (!text || !*text) return;
    values[0] = prof__pprof_string(p, key);
    values[1] = prof__pprof_string(p, text);
    p->inner.size = 0;
    prof__pprof_fields(&p->inner, values, 2);
    prof__xplane_message(&p->part, 0x1A, p->inner.data, p->inner.size);
}

#define PROF__PPROF_DEEP 64 /* places of a stack, at most */

/* Appends numbers as a packed field. */
static void prof__pprof_packed(prof__pprof *p, unsigned tag, const uint64_t *values, unsigned count)
{
    unsigned char body[10 * PROF__PPROF_DEEP], *to = body;
    unsigned i;
    for (i = 0; i < count; i++) to = prof__pack_integer(to, values[i]);
    prof__xplane_message(&p->part, tag, body, (size_t)(to - body));
}

/* The stack of an allocation, the innermost function first. The scope around it comes last: it is not known between
   which functions it began. */
static void prof__pprof_sample(prof__pprof *p, const prof_trace *trace, const prof_memory_row *row)
{
    const prof_callsite *site = row->site, *around = row->around;
    uint64_t places[PROF__PPROF_DEEP], values[4];
    unsigned depth = 0;
    do {
        const char *function = prof__memory_function(site);
        places[depth++] = prof__pprof_place(p, site, *function ? function : "(unknown function)");
        site = prof__site_caller(trace, site);
    } while (site && depth < PROF__PPROF_DEEP - 1);
    if (around) places[depth++] = prof__pprof_place(p, around, *row->around_name ? row->around_name : around->function);
    values[0] = row->count;
    values[1] = row->bytes;
    values[2] = row->live_count;
    values[3] = row->live_bytes;
    p->part.size = 0;
    prof__pprof_packed(p, 0x0A, places, depth);
    prof__pprof_packed(p, 0x12, values, 4);
    prof__pprof_label(p, "pool", row->pool);
    prof__pprof_label(p, "memory scope", row->scope);
    prof__xplane_message(&p->all, PROF__PPROF_SAMPLE, p->part.data, p->part.size);
}

/* Appends a mapping that claims to have names. Without it, pprof looks for symbols in the program's file. */
static void prof__pprof_mapping(prof__pprof *p, const prof_trace_info *about)
{
    static const char yes[] = {0x38, 1, 0x40, 1, 0x48, 1}; /* has_functions, has_filenames, has_line_numbers */
    p->part.size = 0;
    prof__xplane_number(&p->part, PROF__PPROF_FIRST, 1);
    prof__xplane_number(&p->part, 0x28, prof__pprof_string(p, *about->program ? about->program : "program"));
    prof__xplane_add(&p->part, yes, sizeof yes);
    prof__xplane_message(&p->all, PROF__PPROF_MAPPING, p->part.data, p->part.size);
}

static void prof__pprof_comment(prof__pprof *p, uint64_t count, const char *text)
{
    if (count) prof__xplane_number(&p->all, PROF__PPROF_COMMENT, prof__pprof_string(p, text));
}

static void prof__pprof_make(prof__pprof *p, const prof_trace *trace, const prof_memory_stats *memory)
{
    const prof_trace_info *about = prof_trace_about(trace);
    int64_t end = prof__xplane_end(about);
    size_t i;
    prof__pprof_string(p, "");
    prof__pprof_type(p, PROF__PPROF_TYPE, "alloc_objects", "count");
    prof__pprof_type(p, PROF__PPROF_TYPE, "alloc_space", "bytes");
    prof__pprof_type(p, PROF__PPROF_TYPE, "inuse_objects", "count");
    prof__pprof_type(p, PROF__PPROF_TYPE, "inuse_space", "bytes");
    prof__pprof_mapping(p, about);
    for (i = 0; i < memory->site_count; i++) prof__pprof_sample(p, trace, &memory->sites[i]);
    prof__xplane_number(&p->all, PROF__PPROF_TIME, about->start_unix_ns + (uint64_t)prof__xplane_time(end));
    prof__xplane_number(&p->all, PROF__PPROF_DURATION, (uint64_t)prof__xplane_time(end - about->from_ns));
    prof__pprof_type(p, PROF__PPROF_PERIOD_TYPE, "space", "bytes");
    prof__xplane_number(&p->all, PROF__PPROF_PERIOD, 1);
    prof__xplane_number(&p->all, PROF__PPROF_DEFAULT, prof__pprof_string(p, "inuse_space"));
    prof__pprof_comment(p, about->lost + about->lost_blocks,
                        "events were lost: allocations may be missing, or count as live");
    prof__pprof_comment(p, memory->freed_unknown, "blocks were freed that had been allocated before the trace");
    p->failed |= p->all.failed | p->part.failed | p->inner.failed | p->text.failed;
}

/* Writes the memory profile of a trace, and closes the output. */
static prof_status prof__pprof_put(const prof_trace *trace, prof__out *out)
{
    prof_memory_stats *memory = NULL;
    prof_status status = prof_memory(trace, &memory);
    prof__gzip *z = (prof__gzip *)calloc(1, sizeof *z);
    prof__pprof p;
    memset(&p, 0, sizeof p);
    if (!status) prof__pprof_make(&p, trace, memory);
    if (!status && (p.failed || !z)) status = prof__fail(PROF_NO_MEMORY, "no memory for the memory profile");
    if (!status) {
        prof__gzip_begin(z, out);
        prof__gzip_add(z, p.all.data, p.all.size);
        prof__gzip_end(z);
    }
    if (status) prof__out_fail(out, status);
    free(z);
    free(p.all.data);
    free(p.part.data);
    free(p.inner.data);
    free(p.text.data);
    free(p.strings);
    free(p.places);
    free(p.string_index.slots);
    free(p.place_index.slots);
    prof_memory_free(memory);
    return prof__out_close(out);
}

PROF_DEF prof_status prof_xplane_pprof_write(const prof_trace *trace, const char *path)
{
    PROF__CALM();
    prof__out out;
    prof_status status;
    if (!trace) return prof__fail(PROF_INVALID_ARGUMENT, "prof_xplane_pprof_write: trace is null");
    status = prof__out_file(&out, path);
    return status ? status : prof__pprof_put(trace, &out);
}

PROF_DEF prof_status prof_xplane_pprof_stream(const prof_trace *trace, prof_sink sink)
{
    PROF__CALM();
    prof__out out;
    if (!trace) return prof__fail(PROF_INVALID_ARGUMENT, "prof_xplane_pprof_stream: trace is null");
    prof__out_sink(&out, sink);
    return prof__pprof_put(trace, &out);
}

/*-- accelerators: their work is written like that of XProf's own GPUs, so that XProf counts it. XProf only counts work
     that belongs to a step. So work to which no flow leads is assigned to the step during which it began. --*/

static int prof__xplane_by_start(const void *a, const void *b)
{
    const prof__xplane_step *x = (const prof__xplane_step *)a, *y = (const prof__xplane_step *)b;
    if (x->start != y->start) return x->start < y->start ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* Returns the step that was open at this moment; of several, the last to begin. Returns NULL if there is none. */
static const prof__xplane_step *prof__xplane_step_at(const prof__xplane *x, int64_t moment)
{
    size_t low = 0, high = x->step_count, tries;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (x->steps[middle].start <= moment)
            low = middle + 1;
        else
            high = middle;
    }
    for (tries = 0; low && tries < PROF__XPLANE_FRAMES; tries++)
        if (x->steps[--low].end > moment) return &x->steps[low];
    return NULL;
}

/* Makes the step that is held back the producer of a flow, whose consumer is the work of an accelerator. */
static void prof__xplane_producer(prof__xplane *x)
{
    prof__xplane_track *track = &x->tracks[x->track];
    size_t number = track->step_first + track->step_next++;
    if (!x->writing) {
        const char *text = x->held.id ? x->names[x->held.id - 1].text : NULL;
        char *copy = text ? prof__text_join(text, "") : NULL;
        if ((text && !copy) || !PROF__ROOM(x->steps, x->step_capacity, x->step_count)) {
            free(copy);
            x->status = PROF_NO_MEMORY;
            return;
        }
        x->steps[x->step_count].start = x->held.start;
        x->steps[x->step_count].end = x->held.start + x->held.duration;
        x->steps[x->step_count].site = x->held.site;
        x->steps[x->step_count].track = x->track;
        x->steps[x->step_count].text = copy;
        x->steps[x->step_count++].number = number;
    }
    x->held.flow = 1;
    prof__xplane_put_int(x, &x->stats, PROF__STAT_OUT_TYPE, 0);
    prof__xplane_put_uint(x, &x->stats, PROF__STAT_OUT, PROF__XPLANE_STEPS + number);
}

static void prof__xplane_consumer(prof__xplane *x, prof__xplane_bytes *stats, const prof__xplane_step *step)
{
    prof__xplane_put_int(x, stats, PROF__STAT_IN_TYPE, 0);
    prof__xplane_put_uint(x, stats, PROF__STAT_IN, PROF__XPLANE_STEPS + step->number);
}

/* Adds to the work that is held back the stats by which XProf counts it. outer: 1: other work inside counts instead. */
static void prof__xplane_work(prof__xplane *x, int outer)
{
    const prof__xplane_held *held = &x->held;
    const prof__xplane_name *name = held->id ? &x->names[held->id - 1] : NULL;
    const char *row = prof_trace_track(x->trace, x->track)->name;
    const prof__xplane_step *step = held->flow ? NULL : prof__xplane_step_at(x, held->start);
    if (step) prof__xplane_consumer(x, &x->stats, step);
    if (outer) return;
    if (!held->launch) /* unlike that of other work */
        prof__xplane_put_uint(x, &x->stats, PROF__STAT_LAUNCH, (uint64_t)held->start + 1);
    if (!held->details) prof__xplane_stat_text(x, &x->stats, PROF__XEVENT_STAT, PROF__STAT_KERNEL, "not recorded");
    if (held->op || !name) return;
    x->text.size = 0;
    prof__xplane_spelled(x, name->text ? name->text : name->site->name);
    if (!x->text.size) prof__xplane_letters(&x->text, "(unnamed)");
    prof__xplane_add(&x->text, ":", 1);
    prof__xplane_type(&x->text, *row ? row : "row");
    prof__xplane_stat_letters(x, &x->stats, PROF__XEVENT_STAT, PROF__STAT_OP);
}

/* Sorts the steps, and gives each a row where it overlaps with no other. A step inside another step of its thread gets
   none. */
static void prof__xplane_step_places(prof__xplane *x)
{
    int64_t ends[PROF__XPLANE_FRAMES];
    size_t i, row;
    if (x->step_count) qsort(x->steps, x->step_count, sizeof *x->steps, prof__xplane_by_start);
    for (i = 0; i < x->step_count; i++) {
        prof__xplane_step *step = &x->steps[i];
        prof__xplane_track *track = &x->tracks[step->track];
        step->row = 0;
        if (step->end < track->step_end) continue;
        track->step_end = step->end + 1;
        for (row = 0; row < x->step_rows && ends[row] > step->start; row++) {
        }
        if (row == PROF__XPLANE_FRAMES) row--; /* too many at once: the last row has overlapping ones */
        if (row == x->step_rows) x->step_rows++;
        ends[row] = step->end;
        step->row = row + 1;
    }
}

/* Writes the host's steps on a line of an accelerator. XProf reads the times of steps from devices only. */
static void prof__xplane_walk_steps(prof__xplane *x, const prof__xplane_line *line)
{
    size_t i;
    for (i = 0; i < x->step_count; i++) {
        const prof__xplane_step *step = &x->steps[i];
        if (step->row != line->id) continue;
        x->point.size = 0;
        prof__xplane_consumer(x, &x->point, step);
        prof__xplane_emit(x, step->text ? prof__xplane_named(x, NULL, step->site, step->text, PROF__XPLANE_ROOT)
                                        : prof__xplane_site(x, step->site, PROF__XPLANE_ROOT),
                          step->start, step->end - step->start, &x->point);
    }
}

/* Writes the scope that was held back. If it is a step without a scope inside, adds one, because XProf would find no
   work in the step; a step inside it is no work. next: the event that follows, or NULL. */
static void prof__xplane_release(prof__xplane *x, const prof_event *next)
{
    prof__xplane_held *held = &x->held;
    const char *text;
    if (!held->held) return;
    held->held = 0;
    if (x->gpu) prof__xplane_work(x, next && next->type == PROF_EVENT_SCOPE && next->depth > held->depth);
    prof__xplane_emit_shorter(x, held->id, held->start, held->duration, held->shorter, &x->stats);
    if (!held->step) return;
    if (next && next->type == PROF_EVENT_SCOPE && next->depth > held->depth && next->duration_ns > 0 &&
        next->site->role != PROF_ROLE_STEP)
        return;
    text = held->id ? x->names[held->id - 1].text : NULL; /* the name of a step, if it was made at run time */
    prof__xplane_emit_shorter(x, text ? prof__xplane_named(x, NULL, held->site, text, PROF__XPLANE_STEP)
                                      : prof__xplane_site(x, held->site, PROF__XPLANE_STEP),
                              held->start, held->duration, held->shorter + (held->shorter < 999), NULL);
}

/* Holds a scope back until the next event is known: see prof__xplane_release(). */
static inline void prof__xplane_hold(prof__xplane *x, const prof_callsite *site, int64_t start, int64_t duration,
                                     uint32_t depth)
{
    prof__xplane_held *held = &x->held;
    held->held = 1;
    held->step = site->role == PROF_ROLE_STEP;
    held->flow = held->op = held->details = held->launch = 0;
    held->site = site;
    held->depth = depth;
    held->start = prof__xplane_time(start);
    held->duration = duration;
    held->shorter = prof__xplane_shorter(x, start, start + duration, depth);
    x->stats.size = 0;
}

/* Notes what the arguments of an accelerator's work say of it. Work with details of another kind is no kernel. */
static void prof__xplane_known(prof__xplane_held *held, const char *key)
{
    size_t length = strlen(key);
    int details = length > 8 && !strcmp(key + length - 8, "_details"), kernel = !strcmp(key, "kernel_details");
    held->launch |= !strcmp(key, "correlation_id");
    held->details |= details;
    held->op |= (details && !kernel) || !strcmp(key, "tf_op");
}

static void prof__xplane_scope(prof__xplane *x, const prof_event *event)
{
    prof__xplane_held *held = &x->held;
    uint32_t i;
    prof__xplane_hold(x, event->site, event->start_ns, event->duration_ns, event->depth);
    held->id = prof__xplane_name_of(x, &x->stats, event, held->step ? PROF__XPLANE_ROOT
                                                         : x->gpu   ? PROF__XPLANE_KERNEL
                                                                    : PROF__XPLANE_SCOPE);
    if (!(event->arg_count | event->flags | (uint32_t)held->step)) return;
    if (held->step) prof__xplane_put_int(x, &x->stats, PROF__STAT_ROOT, 1);
    if (held->step && x->accelerators) prof__xplane_producer(x);
    prof__xplane_args(x, &x->stats, event);
    for (i = 0; i < event->arg_count; i++) prof__xplane_known(held, event->args[i].key);
    prof__xplane_truncated(x, &x->stats, event->flags);
}

/*-- flows --
   XProf joins all producers with an id to all consumers with it. A program may use an id again. So each FLOW_OUT gets a
   number that no other has, and the later points of its flow get that number, too, on any thread. */

typedef struct prof__xplane_flow {
    prof__flow of;
    uint32_t serial;
} prof__xplane_flow;

static int prof__xplane_flow_number(prof__xplane *x, prof__flows *flows, const prof_event *event, size_t track)
{
    prof__xplane_track *of = &x->tracks[track];
    prof__xplane_flow *flow = (prof__xplane_flow *)prof__flow_of(flows, event);
    if (!flow || !PROF__ROOM(of->flows, of->flow_capacity, of->flow_count)) return 0;
    if (event->type == PROF_EVENT_FLOW_OUT || !flow->serial) {
        if (!PROF__ROOM(x->flow_gpus, x->flow_gpu_capacity, (size_t)x->flow_serial)) return 0;
        x->flow_gpus[x->flow_serial] = PROF__XPLANE_NO_GPU;
        flow->serial = ++x->flow_serial;
    }
    if (of->gpu != PROF__XPLANE_NO_GPU) x->flow_gpus[flow->serial - 1] = of->gpu;
    of->flows[of->flow_count++] = flow->serial;
    return 1;
}

static void prof__xplane_number_flows(prof__xplane *x)
{
    prof__flows flows;
    prof_timeline *timeline = NULL;
    prof_event event;
    size_t track;
    prof_status status = prof__timeline_of(x->trace, PROF__GROUP_FLOW, PROF__GROUP_FLOW, NULL, NULL, &timeline), closed;
    int good = 1;
    memset(&flows, 0, sizeof flows);
    flows.element = sizeof(prof__xplane_flow);
    while (good && !status && prof_timeline_next(timeline, &event, &track))
        good = prof__xplane_flow_number(x, &flows, &event, track);
    closed = prof_timeline_close(timeline);
    if (!good) status = PROF_NO_MEMORY;
    if (!status) status = closed;
    if (status) x->status = status;
    prof__flows_free(&flows);
    x->flows_done = 1;
}

/* Adds the next point of a flow that a track has. */
static void prof__xplane_point(prof__xplane *x, size_t index, const prof_event *event)
{
    prof__xplane_track *track = &x->tracks[index];
    prof__xplane_held *held = &x->held;
    int out = event->type == PROF_EVENT_FLOW_OUT;
    int inside = held->held && !held->flow && event->depth == held->depth + 1 && !event->arg_count;
    prof__xplane_bytes *stats = inside ? &x->stats : &x->point;
    uint64_t serial = track->flow_next < track->flow_count ? track->flows[track->flow_next++] : 0;
    if (!x->writing && x->keeping) prof__xplane_forget(x); /* the flows have no numbers yet */
    if (!prof__xplane_wanted(x, event)) return;
    if (!inside) {
        prof__xplane_release(x, event);
        stats->size = 0;
    }
    prof__xplane_put_int(x, stats, out ? PROF__STAT_OUT_TYPE : PROF__STAT_IN_TYPE, 0);
    prof__xplane_put_uint(x, stats, out ? PROF__STAT_OUT : PROF__STAT_IN, PROF__XPLANE_FLOW + serial);
    prof__xplane_stat_hex(x, stats, PROF__STAT_POINT, event->object);
    /* By this XProf's Launch Stats count a call of CUDA as a launch. */
    if (inside && out && x->accelerators && !strcmp(held->site->category, "CUDA"))
        prof__xplane_put_uint(x, stats, PROF__STAT_DEVICE, serial ? x->flow_gpus[serial - 1] : 0);
    if (!inside) prof__xplane_args(x, stats, event);
    if (inside)
        held->flow = 1;
    else
        prof__xplane_emit(x, prof__xplane_name_of(x, stats, event, PROF__XPLANE_POINT),
                          prof__xplane_time(event->start_ns), 0, stats);
}

/*-- lines of threads and rows --*/

static int prof__xplane_finite(const prof_value *value)
{
    return value->type != PROF_VALUE_DOUBLE || prof__finite(value->as.d);
}

/* Adds a line for frames of this name, unless there is one. Each name has a line on each thread, or for each frame
   object. */
static void prof__xplane_frame_met(prof__xplane *x, prof__xplane_kind kind, size_t track, const char *name,
                                   uint64_t handle)
{
    size_t i;
    if (x->writing) return;
    for (i = x->frame_count; i--;) {
        const prof__xplane_line *line = &x->frames[i];
        if (line->kind == kind && line->track == track && line->id == handle && (kind == PROF__XPLANE_HANDLE ||
                                                                                !strcmp(line->name, name)))
            return;
    }
    if (x->frame_count == PROF__XPLANE_FRAMES) {
        x->frames_out++;
        return;
    }
    memset(&x->frames[x->frame_count], 0, sizeof x->frames[0]);
    x->frames[x->frame_count].kind = kind;
    x->frames[x->frame_count].track = track;
    x->frames[x->frame_count].name = name;
    x->frames[x->frame_count++].id = handle;
}

/* Returns 1 for an instant that is shown on the line of its thread. */
static int prof__xplane_shown(const prof_event *event)
{
    unsigned group = prof__event_group(event->type);
    return group == PROF__GROUP_MARK || group == PROF__GROUP_MESSAGE || group == PROF__GROUP_LOST ||
           (group == PROF__GROUP_COUNTER && !prof__xplane_finite(&event->value));
}

static void prof__xplane_event(prof__xplane *x, size_t index, const prof_event *event)
{
    x->tracks[index].groups |= 1u << prof__event_group(event->type);
    if (prof__is_flow(event->type)) {
        prof__xplane_point(x, index, event);
        return;
    }
    if (event->type == PROF_EVENT_FRAME && event->duration_ns)
        prof__xplane_frame_met(x, PROF__XPLANE_FRAMES_OF, index, event->site->name, 0);
    if (!prof__xplane_wanted(x, event)) return;
    if (event->type == PROF_EVENT_SCOPE && (uint64_t)event->duration_ns < x->options.min_duration_ns) {
        if (event->depth <= x->held.depth) prof__xplane_release(x, event); /* the event is not inside the held scope */
        return;
    }
    if (event->type != PROF_EVENT_SCOPE && !prof__xplane_shown(event)) return;
    prof__xplane_release(x, event);
    switch ((int)event->type) {
    case PROF_EVENT_SCOPE: prof__xplane_scope(x, event); break;
    case PROF_EVENT_LOG: prof__xplane_log(x, event); break;
    case PROF_EVENT_LOST: prof__xplane_lost(x, event); break;
    default: prof__xplane_instant(x, event, PROF__XPLANE_MARK); break;
    }
}

/* Adds the next scopes of a track, as long as they are plain: without arguments and the like. Holds the last one
   back. */
static void prof__xplane_plain(prof__xplane *x, prof_cursor *cursor)
{
    prof__xplane_held *held = &x->held;
    const prof_callsite *site;
    const prof__read_node *node;
    while (!(held->held && held->step) && x->status == PROF_OK && x->out.status == PROF_OK &&
           (node = prof__cursor_plain(cursor, &site)) != NULL) {
        if (PROF__UNLIKELY(site->role == PROF_ROLE_STEP)) {
            prof_event event;
            memset(&event, 0, sizeof event);
            event.type = PROF_EVENT_SCOPE;
            event.depth = node->depth;
            event.start_ns = node->start_ns;
            event.duration_ns = node->end_ns - node->start_ns;
            event.name = site->name;
            event.site = site;
            prof__xplane_event(x, x->track, &event);
            continue;
        }
        if (!prof__xplane_in_window(x, node->start_ns, node->end_ns)) continue;
        if (held->held)
            prof__xplane_emit_shorter(x, held->id, held->start, held->duration, held->shorter, &x->stats);
        prof__xplane_hold(x, site, node->start_ns, node->end_ns - node->start_ns, node->depth);
        held->id = prof__xplane_site(x, site, PROF__XPLANE_SCOPE);
    }
}

static void prof__xplane_walk_track(prof__xplane *x, size_t index)
{
    prof_cursor *cursor;
    prof_event event;
    prof_status status = prof_cursor_open(x->trace, index, &cursor);
    if (status) {
        x->status = status;
        return;
    }
    prof__cursor_keyed(cursor);
    x->held.held = 0;
    x->open_count = 0;
    x->track = index;
    x->tracks[index].flow_next = x->tracks[index].step_next = 0;
    if (!x->writing) x->tracks[index].step_first = x->step_count;
    while (x->status == PROF_OK && x->out.status == PROF_OK && prof_cursor_next(cursor, &event)) {
        prof__xplane_name_soon(x, cursor);
        x->key = prof__cursor_key(cursor);
        prof__xplane_event(x, index, &event);
        if (!x->gpu && !x->options.min_duration_ns) prof__xplane_plain(x, cursor);
    }
    x->key = 0;
    prof__xplane_release(x, NULL);
    prof_cursor_close(cursor);
}

/* Writes the frames of one name on one thread, as a line. */
static void prof__xplane_walk_frames(prof__xplane *x, const prof__xplane_line *line)
{
    prof_cursor *cursor;
    prof_event event;
    prof_status status = prof_cursor_open(x->trace, line->track, &cursor);
    if (status) x->status = status;
    while (x->status == PROF_OK && x->out.status == PROF_OK && prof_cursor_next(cursor, &event)) {
        int64_t start = prof__xplane_time(event.start_ns - event.duration_ns);
        if (event.type != PROF_EVENT_FRAME || !event.duration_ns || strcmp(event.site->name, line->name)) continue;
        if (!prof__xplane_wanted(x, &event) || event.start_ns < start) continue;
        x->point.size = 0;
        prof__xplane_put_uint(x, &x->point, PROF__STAT_FRAME, event.detail);
        prof__xplane_truncated(x, &x->point, event.flags);
        prof__xplane_emit(x, prof__xplane_site(x, event.site, PROF__XPLANE_FRAME), start, event.start_ns - start,
                          &x->point);
    }
    prof_cursor_close(cursor);
}

/*-- lines of several threads --*/

/* Returns 1 if a track has events of a group. Of counters, only those of the present plane matter. */
static int prof__xplane_has(const void *xplane, size_t track, unsigned group)
{
    const prof__xplane *x = (const prof__xplane *)xplane;
    const char *device = prof_trace_track(x->trace, track)->device;
    if (group == PROF__GROUP_COUNTER && (x->device ? device != x->device : *device)) return 0;
    return x->tracks[track].groups >> group & 1;
}

static int prof__xplane_any(const prof__xplane *x, unsigned group)
{
    size_t i, tracks = prof_trace_track_count(x->trace);
    for (i = 0; i < tracks; i++)
        if (prof__xplane_has(x, i, group)) return 1;
    return 0;
}

/* Writes the counters of all threads, or of all rows of a device, in order of time. */
static void prof__xplane_walk_counters(prof__xplane *x)
{
    prof_timeline *timeline = NULL;
    prof_event event;
    prof_status closed, status = prof__timeline_of(x->trace, PROF__GROUP_COUNTER, PROF__GROUP_COUNTER, prof__xplane_has,
                                                   x, &timeline);
    while (status == PROF_OK && x->status == PROF_OK && x->out.status == PROF_OK &&
           prof_timeline_next(timeline, &event, NULL)) {
        uint32_t id;
        if (!prof__xplane_wanted(x, &event) || !prof__xplane_finite(&event.value)) continue;
        x->point.size = 0;
        prof__xplane_value(x, &x->point, PROF__STAT_VALUE, &event.value); /* XProf wants the value first */
        id = prof__xplane_name_of(x, &x->point, &event, PROF__XPLANE_COUNTER);
        prof__xplane_emit(x, id, prof__xplane_time(event.start_ns), 0, &x->point);
    }
    closed = prof_timeline_close(timeline);
    if (status || closed) x->status = status ? status : closed;
}

/*-- allocations --*/

/* Returns the op of an allocation in XProf's Memory Profile: the memory scopes around it, else the scope that encloses
   it. */
static const char *prof__xplane_op_of(const prof__heap *heap, const prof__heap_row *row)
{
    const char *path = heap->rows[row->scope].path;
    if (path && *path) return path;
    return row->about.around ? row->about.around_name : row->about.site->function;
}

static void prof__xplane_allocation(prof__xplane *x, const prof__heap *heap, const prof_event *event)
{
    const prof_memory_row *pool = &heap->rows[heap->changed].about;
    prof__xplane_bytes *stats = &x->point;
    const unsigned tag = PROF__XEVENT_STAT;
    int alloc = event->type == PROF_EVENT_ALLOC;
    const prof__heap_block *block =
        alloc ? prof__heap_find(heap, event->object, (uint32_t)heap->changed, 0) : NULL;
    uint32_t id;
    stats->size = 0;
    prof__xplane_stat_text(x, stats, tag, PROF__STAT_POOL, *pool->pool ? pool->pool : "memory");
    prof__xplane_put_int(x, stats, PROF__STAT_LIVE, (int64_t)pool->live_bytes);
    prof__xplane_put_int(x, stats, PROF__STAT_PEAK, (int64_t)pool->peak_bytes);
    if (x->room > pool->live_bytes)
        prof__xplane_put_int(x, stats, PROF__STAT_LEFT, (int64_t)(x->room - pool->live_bytes));
    prof__xplane_put_int(x, stats, PROF__STAT_ASKED, (int64_t)heap->bytes);
    prof__xplane_put_int(x, stats, PROF__STAT_BYTES, (int64_t)heap->bytes);
    prof__xplane_put_int(x, stats, PROF__STAT_ADDRESS, (int64_t)event->object);
    if (block) {
        const prof__heap_row *row = &heap->rows[block->row];
        prof__xplane_stat_text(x, stats, tag, PROF__STAT_OP, prof__xplane_op_of(heap, row));
        prof__xplane_stat_text(x, stats, tag, PROF__STAT_REGION, "heap");
        prof__xplane_stat_source(x, stats, tag, PROF__STAT_SHAPE, row->about.site);
    }
    id = prof__xplane_named(x, NULL, NULL, alloc ? "MemoryAllocation" : "MemoryDeallocation", PROF__XPLANE_PLAIN);
    prof__xplane_emit(x, id, prof__xplane_time(event->start_ns), 0, stats);
}

/* Writes a sample of a pool's live bytes. */
static void prof__xplane_pool(prof__xplane *x, const prof__heap *heap, const prof_event *event)
{
    const prof_memory_row *pool = &heap->rows[heap->changed].about;
    x->joined.size = 0;
    prof__xplane_add(&x->joined, *pool->pool ? "memory: " : "memory", *pool->pool ? 8 : 6);
    prof__xplane_add(&x->joined, pool->pool, strlen(pool->pool) + 1);
    if (x->joined.failed) return;
    x->point.size = 0;
    prof__xplane_put_uint(x, &x->point, PROF__STAT_VALUE, pool->live_bytes);
    prof__xplane_emit(x, prof__xplane_named(x, NULL, NULL, (const char *)x->joined.data, PROF__XPLANE_COUNTER),
                      prof__xplane_time(event->start_ns), 0, &x->point);
}

/*-- memory of GPUs: allocations are events of the device, as prof_cuda.h records them. XProf looks for them among the
     host's --*/

static const char *prof__xplane_arg_text(const prof_event *event, const char *key)
{
    for (uint32_t i = 0; i < event->arg_count; i++)
        if (!strcmp(event->args[i].key, key) && event->args[i].value.type == PROF_VALUE_STRING)
            return event->args[i].value.as.string;
    return "";
}

/* Makes an allocation, or the end of one, of an event of a device. Returns 0 if it is none, or one of the host's
   memory, which the device only reaches. */
static int prof__xplane_device_block(const prof_event *event, prof_event *block, const prof_callsite *site)
{
    int alloc = !strcmp(event->name, "MemoryAlloc");
    const char *details = prof__xplane_arg_text(event, alloc ? "memalloc_details" : "MemFree_details");
    const char *size = strstr(details, " num_bytes:");
    if (event->type != PROF_EVENT_MARK || !size) return 0;
    if (!strncmp(details, "kind:pinned ", 12) || !strncmp(details, "kind:pageable ", 14)) return 0;
    memset(block, 0, sizeof *block);
    block->type = alloc ? PROF_EVENT_ALLOC : PROF_EVENT_FREE;
    block->name = site->name;
    block->site = site;
    block->start_ns = event->start_ns;
    block->detail = alloc ? strtoull(size + 11, NULL, 10) : 0;
    for (uint32_t i = 0; i < event->arg_count; i++)
        if (!strcmp(event->args[i].key, "address")) block->object = event->args[i].value.as.u;
    return 1;
}

static int prof__xplane_has_nothing(const void *xplane, size_t track, unsigned group)
{
    (void)xplane, (void)track, (void)group;
    return 0;
}

/* Returns how much memory a row's device has, as its metadata says; 0: not known. */
static uint64_t prof__xplane_room(const prof__xplane *x, size_t track)
{
    const char *key, *value, *device = prof_trace_track(x->trace, track)->device;
    size_t i, length = strlen(device);
    uint64_t bytes;
    for (i = 0; prof_trace_metadata(x->trace, i, &key, &value); i++)
        if (!strncmp(key, device, length) && !strcmp(key + length, ".memory_size") && prof__parse_whole(value, &bytes))
            return bytes;
    return 0;
}

/* Writes the allocations on a row of a device. */
static void prof__xplane_walk_device_memory(prof__xplane *x, size_t track)
{
    prof__heap heap;
    prof_callsite site;
    prof_event event, block;
    prof_cursor *cursor = NULL;
    x->room = prof__xplane_room(x, track);
    memset(&site, 0, sizeof site);
    site.name = site.file = "";
    site.category = prof_trace_track(x->trace, track)->device;
    site.function = "device memory";
    prof__heap_open(&heap, x->trace, prof__xplane_has_nothing, x);
    if (!heap.status) heap.status = prof_cursor_open(x->trace, track, &cursor);
    while (!heap.status && x->status == PROF_OK && x->out.status == PROF_OK && prof_cursor_next(cursor, &event))
        if (prof__xplane_device_block(&event, &block, &site) && prof__heap_step(&heap, &block, track) &&
            heap.changed != PROF__NONE && prof__xplane_wanted(x, &event))
            prof__xplane_allocation(x, &heap, &block);
    x->room = 0;
    prof_cursor_close(cursor);
    prof_status status = prof__heap_close(&heap);
    if (status) x->status = status;
}

static void prof__xplane_walk_memory(prof__xplane *x, int counters)
{
    prof__heap heap;
    prof_event event;
    size_t track;
    prof_status status;
    prof__heap_open(&heap, x->trace, prof__xplane_has, x);
    while (x->status == PROF_OK && x->out.status == PROF_OK && prof__heap_next(&heap, &event, &track)) {
        if (!prof__heap_step(&heap, &event, track) || heap.changed == PROF__NONE ||
            !prof__xplane_wanted(x, &event))
            continue;
        if (counters)
            prof__xplane_pool(x, &heap, &event);
        else
            prof__xplane_allocation(x, &heap, &event);
    }
    status = prof__heap_close(&heap);
    if (status) x->status = status;
}

/*-- spans and locks, as XProf's asynchronous events: these have ids, and may overlap --*/

static void prof__xplane_async(prof__xplane *x, prof__xplane_kind kind, uint64_t number)
{
    uint64_t id = ((uint64_t)kind << 48 | (number & 0xFFFFFFFFFFFFu)) & 0xFFFFFFFFFFFFFFu; /* 56 bits */
    prof__xplane_put_int(x, &x->point, PROF__STAT_ASYNC, 1);
    prof__xplane_put_uint(x, &x->point, PROF__STAT_FLOW, id << 2 | 3); /* 3: the flow begins and ends here */
}

static void prof__xplane_span(prof__xplane *x, const prof_span *span, uint64_t number)
{
    prof__xplane_bytes *stats = &x->point;
    const char *name = span->name ? span->name : span->site->name;
    uint32_t id;
    stats->size = 0;
    id = name == span->site->name ? prof__xplane_site(x, span->site, PROF__XPLANE_SPAN)
                                  : prof__xplane_named(x, stats, span->site, name, PROF__XPLANE_SPAN);
    prof__xplane_async(x, PROF__XPLANE_SPANS, number);
    prof__xplane_stat_hex(x, stats, PROF__STAT_SPAN, span->id);
    prof__xplane_arg_list(x, stats, span->args, span->arg_count, 0);
    prof__xplane_truncated(x, stats, span->flags);
    if (span->end_track != span->begin_track)
        prof__xplane_put_uint(x, stats, PROF__STAT_ENDED, x->tracks[span->end_track].id);
    prof__xplane_emit(x, id, prof__xplane_time(span->start_ns), span->duration_ns, stats);
}

static void prof__xplane_handle_frame(prof__xplane *x, const prof_span *span)
{
    prof__xplane_bytes *stats = &x->point;
    stats->size = 0;
    prof__xplane_put_uint(x, stats, PROF__STAT_FRAME, span->number);
    prof__xplane_truncated(x, stats, span->flags);
    prof__xplane_emit(x, prof__xplane_site(x, span->site, PROF__XPLANE_FRAME), prof__xplane_time(span->start_ns),
                      span->duration_ns, stats);
}

static void prof__xplane_walk_spans(prof__xplane *x, const prof__xplane_line *line)
{
    prof_spans *spans = NULL;
    prof_span span;
    uint64_t number = 0;
    prof_status status = prof_spans_open(x->trace, &spans), closed;
    while (status == PROF_OK && x->status == PROF_OK && x->out.status == PROF_OK && prof_spans_next(spans, &span)) {
        int wanted = prof__xplane_in_window(x, span.start_ns, span.start_ns + span.duration_ns);
        number++;
        if (span.number && span.duration_ns && line->kind == PROF__XPLANE_SPANS)
            prof__xplane_frame_met(x, PROF__XPLANE_HANDLE, 0, span.site->name, span.id);
        if (!wanted) continue;
        if (line->kind == PROF__XPLANE_SPANS && !span.number) prof__xplane_span(x, &span, number);
        if (line->kind == PROF__XPLANE_HANDLE && span.number && span.duration_ns && span.id == line->id)
            prof__xplane_handle_frame(x, &span);
    }
    closed = prof_spans_close(spans);
    if (status || closed) x->status = status ? status : closed;
}

/* Writes a wait for a lock, or a hold of it. */
static void prof__xplane_lock(prof__xplane *x, const prof__lock_span *span)
{
    const char *thread = prof_trace_track(x->trace, span->track)->name, *what = span->held ? "lock " : "wait for ";
    prof__xplane_bytes *stats = &x->point;
    if (!prof__xplane_in_window(x, span->start, span->end) ||
        (uint64_t)(span->end - span->start) < x->options.min_duration_ns)
        return;
    x->joined.size = 0;
    prof__xplane_add(&x->joined, what, strlen(what));
    prof__xplane_add(&x->joined, span->name, strlen(span->name) + 1);
    if (x->joined.failed) return;
    stats->size = 0;
    prof__xplane_async(x, PROF__XPLANE_LOCKS, span->number);
    if (*thread)
        prof__xplane_stat_text(x, stats, PROF__XEVENT_STAT, PROF__STAT_THREAD, thread);
    else
        prof__xplane_put_uint(x, stats, PROF__STAT_THREAD, x->tracks[span->track].id);
    if (span->open) prof__xplane_truncated(x, stats, PROF_TRUNCATED_END);
    prof__xplane_emit(x, prof__xplane_named(x, NULL, NULL, (const char *)x->joined.data, PROF__XPLANE_LOCK),
                      prof__xplane_time(span->start), span->end - span->start, stats);
}

static void prof__xplane_walk_locks(prof__xplane *x)
{
    prof__lock_spans spans;
    prof__lock_span span;
    prof_status status;
    prof__lock_spans_open(&spans, x->trace, prof__xplane_has, x);
    while (x->status == PROF_OK && x->out.status == PROF_OK && prof__lock_spans_next(&spans, &span))
        prof__xplane_lock(x, &span);
    status = prof__lock_spans_close(&spans);
    if (status) x->status = status;
}

static int prof__xplane_has_states(const prof__xplane *x, size_t track)
{
    size_t count;
    return prof_track_states(x->trace, track, &count) != NULL;
}

/* Writes a state, as far as it lies in the trace's window. Its name has no colon, so that XProf counts no op. */
static void prof__xplane_thread_state(prof__xplane *x, const prof_state *state)
{
    static const char *const names[PROF_STATE_COUNT] = {"not running", "running", "ready", "waiting"};
    int64_t start = state->start_ns, end = state->end_ns;
    if (start < x->about->from_ns) start = x->about->from_ns;
    if (x->about->to_ns && end > x->about->to_ns) end = x->about->to_ns;
    if (end <= start || (uint64_t)(end - start) < x->options.min_duration_ns) return;
    if (!prof__xplane_in_window(x, start, end)) return;
    x->point.size = 0;
    if (state->processor >= 0) prof__xplane_put_uint(x, &x->point, PROF__STAT_PROCESSOR, (uint64_t)state->processor);
    prof__xplane_emit(x, prof__xplane_named(x, NULL, NULL, names[state->kind], PROF__XPLANE_PLAIN),
                      prof__xplane_time(start), end - start, &x->point);
}

static void prof__xplane_walk_states(prof__xplane *x, size_t track)
{
    size_t count;
    const prof_state *state = prof_track_states(x->trace, track, &count);
    for (; count && x->status == PROF_OK && x->out.status == PROF_OK; count--, state++)
        prof__xplane_thread_state(x, state);
}

/*-- planes --*/

static void prof__xplane_walk(prof__xplane *x, const prof__xplane_line *line)
{
    switch ((int)line->kind) {
    case PROF__XPLANE_THREAD: prof__xplane_walk_track(x, line->track); break;
    case PROF__XPLANE_STATES_OF: prof__xplane_walk_states(x, line->track); break;
    case PROF__XPLANE_COUNTERS: prof__xplane_walk_counters(x); break;
    case PROF__XPLANE_MEMORY: prof__xplane_walk_memory(x, 0); break;
    case PROF__XPLANE_DEVICE_MEMORY: prof__xplane_walk_device_memory(x, line->track); break;
    case PROF__XPLANE_POOLS: prof__xplane_walk_memory(x, 1); break;
    case PROF__XPLANE_FRAMES_OF: prof__xplane_walk_frames(x, line); break;
    case PROF__XPLANE_LOCKS: prof__xplane_walk_locks(x); break;
    case PROF__XPLANE_STEP_TIMES: prof__xplane_walk_steps(x, line); break;
    default: prof__xplane_walk_spans(x, line); break;
    }
}

static prof__xplane_line *prof__xplane_line_add(prof__xplane *x, prof__xplane_kind kind)
{
    prof__xplane_line *line;
    if (!PROF__ROOM(x->lines, x->line_capacity, x->line_count)) {
        x->status = PROF_NO_MEMORY;
        return NULL;
    }
    line = &x->lines[x->line_count++];
    memset(line, 0, sizeof *line);
    line->kind = kind;
    return line;
}

/* Measures the lines whose sizes are not known yet. */
static void prof__xplane_measure(prof__xplane *x)
{
    x->writing = 0;
    for (; x->measured < x->line_count && x->status == PROF_OK; x->measured++) {
        prof__xplane_line line = x->lines[x->measured];
        x->size = 0;
        x->keeping = line.kind != PROF__XPLANE_THREAD || /* 1: 10 bytes an event fit */
                     prof_trace_track(x->trace, line.track)->event_count < PROF__XPLANE_KEEP / 10;
        x->kept_before = x->kept.size;
        prof__xplane_walk(x, &line);
        x->lines[x->measured].size = x->size;
        x->lines[x->measured].kept = x->keeping ? x->kept_before + 1 : 0;
    }
}

/* Returns 1 if a line also gets the program's name: the line of the thread of main(), unless the thread is already
   called that. */
static int prof__xplane_is_main(const prof__xplane *x, const prof_track *track)
{
    const char *program = x->about->program;
    size_t length = strlen(track->name);
    if (track->fiber || *track->device || track->thread_id != x->about->pid || !*program) return 0;
    return !length || strncmp(track->name, program, length); /* the system cuts thread names to 15 bytes */
}

static void prof__xplane_line_name(prof__xplane *x, const prof__xplane_line *line)
{
    const prof_track *track = prof_trace_track(x->trace, line->track);
    char number[40];
    switch ((int)line->kind) {
    case PROF__XPLANE_COUNTERS:
    case PROF__XPLANE_POOLS:
    case PROF__XPLANE_DEVICE_MEMORY:
    case PROF__XPLANE_MEMORY: /* under this name, the trace viewer leaves out the line, which has no events for it */
        prof__xplane_text(x, &x->entry, PROF__XLINE_NAME, "_counters_");
        return;
    case PROF__XPLANE_SPANS: prof__xplane_text(x, &x->entry, PROF__XLINE_NAME, "spans"); return;
    case PROF__XPLANE_STEP_TIMES: prof__xplane_text(x, &x->entry, PROF__XLINE_NAME, "host steps"); return;
    case PROF__XPLANE_LOCKS: prof__xplane_text(x, &x->entry, PROF__XLINE_NAME, "locks"); return;
    case PROF__XPLANE_HANDLE: prof__xplane_text(x, &x->entry, PROF__XLINE_NAME, line->name); return;
    default: break;
    }
    x->text.size = 0;
    if (line->kind == PROF__XPLANE_FRAMES_OF) {
        prof__xplane_letters(&x->text, *line->name ? line->name : "(unnamed)");
        prof__xplane_letters(&x->text, " of ");
    }
    if (line->kind == PROF__XPLANE_STATES_OF) prof__xplane_letters(&x->text, "state of ");
    snprintf(number, sizeof number, "%s %lu", track->fiber ? "fiber" : *track->device ? "row" : "thread",
             (unsigned long)x->tracks[line->track].id);
    prof__xplane_letters(&x->text, *track->name ? track->name : number);
    /* A thread with this name is told apart from the line that XProf reads counters from. */
    if (!strcmp(track->name, "_counters_")) prof__xplane_letters(&x->text, " ");
    prof__xplane_message(&x->entry, PROF__XLINE_NAME, x->text.data, x->text.size);
    if (line->kind != PROF__XPLANE_THREAD || !prof__xplane_is_main(x, track)) return;
    prof__xplane_letters(&x->text, " (");
    prof__xplane_letters(&x->text, x->about->program);
    prof__xplane_letters(&x->text, ")");
    prof__xplane_message(&x->entry, PROF__XLINE_SHOWN, x->text.data, x->text.size);
}

/* Sets x->entry to the begin of a line, up to its events. */
static void prof__xplane_line_head(prof__xplane *x, size_t index)
{
    const prof__xplane_line *line = &x->lines[index];
    uint64_t id = line->kind == PROF__XPLANE_THREAD     ? x->tracks[line->track].id
                  : line->kind == PROF__XPLANE_STATES_OF ? PROF__XPLANE_STATE_LINES + line->track
                  : line->kind == PROF__XPLANE_COUNTERS ? (x->gpu ? PROF__XPLANE_GPU_COUNTERS : PROF__XPLANE_DERIVED)
                  : line->kind == PROF__XPLANE_MEMORY   ? PROF__XPLANE_DERIVED + 1
                  : line->kind == PROF__XPLANE_POOLS    ? PROF__XPLANE_DERIVED + 2
                  : line->kind == PROF__XPLANE_DEVICE_MEMORY ? PROF__XPLANE_DERIVED + 3
                                                        : index + 1;
    x->entry.size = 0;
    prof__xplane_number(&x->entry, PROF__XLINE_NUMBER, id);
    prof__xplane_line_name(x, line);
    /* The trace viewer sorts lines by this number. */
    if (x->states && (line->kind == PROF__XPLANE_THREAD || line->kind == PROF__XPLANE_STATES_OF))
        prof__xplane_number(&x->entry, PROF__XLINE_SHOWN_NUMBER,
                            2 * (uint64_t)x->tracks[line->track].id + (line->kind == PROF__XPLANE_STATES_OF));
    if (x->later) prof__xplane_number(&x->entry, PROF__XLINE_TIME, (uint64_t)x->later);
}

static uint64_t prof__xplane_line_size(prof__xplane *x, size_t index)
{
    uint64_t size;
    if (!x->lines[index].size) return 0;
    prof__xplane_line_head(x, index);
    size = x->entry.size + x->lines[index].size;
    return 1 + prof__xplane_length(size) + size;
}

static void prof__xplane_put_head(prof__xplane *x, unsigned tag, uint64_t size)
{
    unsigned char *to = (unsigned char *)prof__out_reserve(&x->out, 16);
    *to = (unsigned char)tag;
    prof__out_commit(&x->out, (size_t)(prof__pack_integer(to + 1, size) - to));
}

/* Fills up a line that has become shorter since it was measured. That happens if blocks of a file vanish while it is
   read. */
static void prof__xplane_fill(prof__xplane *x)
{
    static const char zeros[64] = {0};
    uint64_t body;
    unsigned char *to;
    if (!x->left || x->out.status != PROF_OK || x->status != PROF_OK) return;
    x->changed = 1;
    if (x->left == 1) {
        x->status = prof__fail(PROF_IO, "the recording was overwritten while it was read: try again");
        return;
    }
    body = x->left - 2 < 128 ? x->left - 2 : x->left - 11;
    to = (unsigned char *)prof__out_reserve(&x->out, 16);
    *to++ = PROF__XLINE_FILLER;
    if (x->left - 2 < 128) {
        *to = (unsigned char)body;
        prof__out_commit(&x->out, 2);
    } else { /* writes the length in ten bytes, whatever it is */
        int i;
        for (i = 0; i < 9; i++) to[i] = (unsigned char)(body >> 7 * i | 128);
        to[9] = 0;
        prof__out_commit(&x->out, 11);
    }
    for (; body; body -= body < sizeof zeros ? body : sizeof zeros)
        prof__out_bytes(&x->out, zeros, body < sizeof zeros ? (size_t)body : sizeof zeros);
    x->left = 0;
}

static void prof__xplane_put_line(prof__xplane *x, size_t index)
{
    prof__xplane_line line = x->lines[index];
    if (!line.size) return;
    prof__xplane_line_head(x, index);
    prof__xplane_put_head(x, PROF__XPLANE_LINE, x->entry.size + line.size);
    prof__out_bytes(&x->out, x->entry.data, x->entry.size);
    if (line.kept) {
        prof__out_bytes(&x->out, x->kept.data + line.kept - 1, (size_t)line.size);
        return;
    }
    x->writing = 1;
    x->left = line.size;
    prof__xplane_walk(x, &line);
    prof__xplane_fill(x);
}

static int prof__xplane_sound(const prof__xplane *x)
{
    int failed = x->stats.failed | x->point.failed | x->meta.failed | x->part.failed | x->entry.failed |
                 x->text.failed | x->joined.failed;
    return x->status == PROF_OK && x->out.status == PROF_OK && !failed;
}

/* Returns the name of the file for error messages. */
static const char *prof__xplane_file_name(const prof__xplane *x) { return x->out.path ? x->out.path : "the XSpace"; }

/* Writes a plane. Leaves out one without events, unless plain is 1: then the plane is about its stats. */

static void prof__xplane_put_plane(prof__xplane *x, const char *prefix, const char *name, const char *behind, int plain)
{
    char number[16];
    uint64_t size = 0;
    size_t i;
    if (!x->flows_done && prof__xplane_any(x, PROF__GROUP_FLOW)) prof__xplane_number_flows(x);
    for (i = 0; i < x->line_count; i++) size += prof__xplane_line_size(x, i);
    if (!prof__xplane_sound(x) || (!size && !plain)) return;
    if (strcmp(prefix, "/host:CPU") && !x->gpu) x->custom++;
    x->meta.size = 0;
    if (x->gpu) {
        prof__xplane_number(&x->meta, PROF__XPLANE_NUMBER, (uint64_t)x->gpus);
    } else if (x->custom && !plain) {
        prof__xplane_number(&x->meta, PROF__XPLANE_NUMBER, (uint64_t)(PROF__XPLANE_CUSTOM + x->custom));
    }
    x->text.size = 0;
    prof__xplane_letters(&x->text, prefix);
    if (x->gpu) {
        snprintf(number, sizeof number, "%d ", x->gpus);
        prof__xplane_letters(&x->text, number);
    }
    prof__xplane_letters(&x->text, name);
    prof__xplane_letters(&x->text, behind);
    prof__xplane_message(&x->meta, PROF__XPLANE_NAME, x->text.data, x->text.size);
    prof__xplane_stat_number(x, &x->meta, PROF__XPLANE_STAT, PROF__STAT_PID, PROF__XSTAT_INT, x->about->pid);
    if (plain || x->gpu) prof__xplane_add(&x->meta, x->stats.data, x->stats.size);
    prof__xplane_names(x);
    size += x->meta.size;
    x->total += size;
    if (x->total > PROF__XPLANE_MOST)
        x->status = prof__fail(PROF_UNSUPPORTED,
                               "%s would have more than 2 GiB, which XProf cannot read: write a part of the trace "
                               "(from_ns, to_ns), or leave out short scopes (min_duration_ns)",
                               prof__xplane_file_name(x));
    if (!prof__xplane_sound(x)) return;
    prof__xplane_put_head(x, PROF__XSPACE_PLANE, size);
    prof__out_bytes(&x->out, x->meta.data, x->meta.size);
    for (i = 0; i < x->line_count && prof__xplane_sound(x); i++) prof__xplane_put_line(x, i);
}

static const char *prof__xplane_metadata(const prof_trace *trace, const char *wanted) /* NULL: it has none */
{
    const char *said = prof__trace_said(trace, wanted);
    return *said ? said : NULL;
}

/* Returns 1 for names such as "gpu", "GPU 0", "tpu:1" and "NeuronCore 2", but not for "gpus". */
static int prof__xplane_called_accelerator(const char *device)
{
    static const char *const kinds[] = {"gpu", "tpu", "neuroncore"};
    size_t i, at;
    for (i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        for (at = 0; kinds[i][at] && (device[at] | 32) == kinds[i][at]; at++) {
        }
        if (!kinds[i][at]) return !((device[at] | 32) >= 'a' && (device[at] | 32) <= 'z');
    }
    return 0;
}

/* Returns 1 if a device is an accelerator, as prof_xplane_options defines it. */
static int prof__xplane_is_accelerator(const prof__xplane *x, const char *device)
{
    const char *list = x->options.accelerators, *end;
    size_t length = strlen(device);
    if (!list) list = prof__xplane_metadata(x->trace, "accelerators");
    if (!list) return prof__xplane_called_accelerator(device);
    if (!strcmp(list, "*")) return 1;
    for (; *list; list = *end ? end + 1 : end) {
        while (*list == ' ') list++;
        for (end = list; *end && *end != ','; end++) {
        }
        if ((size_t)(end - list) == length && !memcmp(list, device, length)) return 1;
    }
    return 0;
}

static void prof__xplane_new_plane(prof__xplane *x, const char *device)
{
    prof__xplane_names_clear(x);
    x->line_count = x->measured = 0;
    x->states = 0;
    x->kept.size = 0;
    x->device = device;
    x->gpu = device && prof__xplane_is_accelerator(x, device);
}

static void prof__xplane_line_of(prof__xplane *x, prof__xplane_kind kind, size_t track)
{
    prof__xplane_line *line = prof__xplane_line_add(x, kind);
    if (line) line->track = track;
}

static void prof__xplane_host_plane(prof__xplane *x)
{
    size_t i, tracks = prof_trace_track_count(x->trace);
    prof__xplane_new_plane(x, NULL);
    for (i = 0; i < tracks; i++) {
        if (!*prof_trace_track(x->trace, i)->device) prof__xplane_line_of(x, PROF__XPLANE_THREAD, i);
        if (!prof__xplane_has_states(x, i)) continue;
        prof__xplane_line_of(x, PROF__XPLANE_STATES_OF, i);
        x->states = 1;
    }
    prof__xplane_measure(x);
    if (prof__xplane_any(x, PROF__GROUP_COUNTER)) prof__xplane_line_of(x, PROF__XPLANE_COUNTERS, 0);
    if (prof__xplane_any(x, PROF__GROUP_MEMORY)) {
        prof__xplane_line_of(x, PROF__XPLANE_MEMORY, 0);
        prof__xplane_line_of(x, PROF__XPLANE_POOLS, 0);
    }
    for (i = 0; i < tracks; i++) {
        const prof_track *track = prof_trace_track(x->trace, i);
        if (*track->device && !strcmp(track->name, "memory") && prof__xplane_is_accelerator(x, track->device))
            prof__xplane_line_of(x, PROF__XPLANE_DEVICE_MEMORY, i);
    }
    prof__xplane_measure(x);
    prof__xplane_put_plane(x, "/host:CPU", "", "", 0);
}

/* Puts what the metadata says about the device, under "DEVICE.KEY", into x->stats. */
static void prof__xplane_device_facts(prof__xplane *x)
{
    const char *key, *value;
    size_t i, item, length = strlen(x->device);
    uint64_t number;
    x->stats.size = 0;
    for (i = 0; x->gpu && prof_trace_metadata(x->trace, i, &key, &value); i++) {
        if (strncmp(key, x->device, length) || key[length] != '.') continue;
        item = prof__xplane_key_of(x, key + length + 1);
        if (item == PROF__NONE)
            x->status = PROF_NO_MEMORY;
        else if (prof__parse_whole(value, &number))
            prof__xplane_stat_number(x, &x->stats, PROF__XPLANE_STAT, PROF__STAT_COUNT + item, PROF__XSTAT_UINT,
                                     number);
        else
            prof__xplane_stat_text(x, &x->stats, PROF__XPLANE_STAT, PROF__STAT_COUNT + item, value);
    }
}

/* Returns the rows of the host's steps that this device's plane needs: XProf reads the times of steps from devices
   only. None if the device says who made it, as those of prof_cuda.h do, whose work XProf can assign by its launches: a
   step then lasts from its first work there to its last, as in recordings of XProf's own, even if the host is ahead. */
static size_t prof__xplane_step_rows(const prof__xplane *x)
{
    const char *key, *value;
    size_t length = strlen(x->device);
    for (size_t i = 0; x->gpu && prof_trace_metadata(x->trace, i, &key, &value); i++)
        if (!strncmp(key, x->device, length) && !strcmp(key + length, ".device_vendor")) return 0;
    return x->gpu ? x->step_rows : 0;
}

/* Writes the rows of a device, beginning with track `first`. Returns the track after them. */
static size_t prof__xplane_device_plane(prof__xplane *x, size_t first)
{
    const prof_track *track = prof_trace_track(x->trace, first);
    size_t i = first, row, rows, tracks = prof_trace_track_count(x->trace);
    prof__xplane_new_plane(x, track->device);
    rows = prof__xplane_step_rows(x);
    for (row = 1; row <= rows; row++) {
        prof__xplane_line_of(x, PROF__XPLANE_STEP_TIMES, first);
        if (x->line_count) x->lines[x->line_count - 1].id = row;
    }
    for (; i < tracks && prof_trace_track(x->trace, i)->device == track->device; i++)
        prof__xplane_line_of(x, PROF__XPLANE_THREAD, i);
    prof__xplane_measure(x);
    if (prof__xplane_any(x, PROF__GROUP_COUNTER)) prof__xplane_line_of(x, PROF__XPLANE_COUNTERS, first);
    prof__xplane_measure(x);
    prof__xplane_device_facts(x);
    prof__xplane_put_plane(x, x->gpu ? "/device:GPU:" : "/device:CUSTOM:", track->device,
                           track->alignment == PROF_ALIGN_GUESS ? " (clock not aligned)" : "", 0);
    x->gpus += x->gpu;
    x->gpu = 0;
    return i;
}

static void prof__xplane_frames_plane(prof__xplane *x)
{
    size_t i;
    prof__xplane_new_plane(x, NULL);
    for (i = 0; i < x->frame_count; i++) {
        prof__xplane_line *line = prof__xplane_line_add(x, x->frames[i].kind);
        if (line) *line = x->frames[i];
    }
    prof__xplane_measure(x);
    prof__xplane_put_plane(x, "/device:CUSTOM:", "frames", "", 0);
}

/* Writes a plane with a line of spans or locks. group: of the events that the line shows. */
static void prof__xplane_async_plane(prof__xplane *x, prof__xplane_kind kind, const char *name, unsigned group)
{
    if (!prof__xplane_sound(x) || !prof__xplane_any(x, group)) return;
    prof__xplane_new_plane(x, NULL);
    prof__xplane_line_of(x, kind, 0);
    prof__xplane_measure(x);
    prof__xplane_put_plane(x, "/device:CUSTOM:", name, "", 0);
}

static void prof__xplane_env_text(prof__xplane *x, const char *prefix, const char *key, const char *text)
{
    size_t item;
    x->joined.size = 0;
    prof__xplane_add(&x->joined, prefix, strlen(prefix));
    prof__xplane_add(&x->joined, key, strlen(key) + 1);
    if (x->joined.failed) return;
    item = prof__xplane_key_of(x, (const char *)x->joined.data);
    if (item == PROF__NONE)
        x->status = PROF_NO_MEMORY;
    else
        prof__xplane_stat_text(x, &x->stats, PROF__XPLANE_STAT, PROF__STAT_COUNT + item, text);
}

/* Writes the plane with the window in Unix time, and with facts about the run. XProf adds the times of events to
   profile_start_time, so that is the time from which they count. */
static void prof__xplane_env_plane(prof__xplane *x)
{
    const prof_trace_info *about = x->about;
    const char *key, *value;
    char text[40];
    size_t i;
    int64_t end = prof__xplane_end(about);
    prof__xplane_new_plane(x, NULL);
    x->stats.size = 0;
    prof__xplane_stat_number(x, &x->stats, PROF__XPLANE_STAT, PROF__STAT_BEGIN, PROF__XSTAT_UINT,
                             x->start_unix_ns);
    prof__xplane_stat_number(x, &x->stats, PROF__XPLANE_STAT, PROF__STAT_END, PROF__XSTAT_UINT,
                             x->start_unix_ns + (uint64_t)x->later + (uint64_t)prof__xplane_time(end - x->from));
    snprintf(text, sizeof text, "prof %d.%d.%d", PROF_VERSION / 10000, PROF_VERSION / 100 % 100, PROF_VERSION % 100);
    prof__xplane_env_text(x, "", "recorder", text);
    prof__xplane_env_text(x, "", "program", about->program);
    prof__xplane_env_text(x, "", "clock", about->clock);
    prof__xplane_env_text(x, "", "mode", prof__mode_names[about->mode]);
    for (i = 0; prof_trace_metadata(x->trace, i, &key, &value); i++) prof__xplane_env_text(x, "metadata.", key, value);
    prof__xplane_put_plane(x, "Task Environment", "", "", 1);
}

/* Writes a string field of the file. */
static void prof__xplane_put_text(prof__xplane *x, unsigned tag, const char *text)
{
    size_t size;
    x->text.size = 0;
    prof__xplane_letters(&x->text, text);
    size = x->text.size;
    prof__xplane_put_head(x, tag, size);
    prof__out_bytes(&x->out, x->text.data, size);
}

/* Writes a warning for the overview page, in the words of XProf's own recorder of GPUs. */
static void prof__xplane_warning(prof__xplane *x, const char *host, const char *what, const char *why)
{
    char text[1024];
    snprintf(text, sizeof text, "Detected %s on %s: %s", what, host, why);
    prof__xplane_put_text(x, PROF__XSPACE_WARNING, text);
}

static void prof__xplane_warning_of(prof__xplane *x, const char *host, const char *what, uint64_t count,
                                    const char *why)
{
    char text[160];
    if (!count) return;
    snprintf(text, sizeof text, "%llu %s", (unsigned long long)count, why);
    prof__xplane_warning(x, host, what, text);
}

/* Writes warnings of what the file lacks. Like XProf's own recorders, does not warn of scopes that began before the
   recording or the window, or that go on after it. */
static void prof__xplane_warnings(prof__xplane *x, const char *host)
{
    int64_t from = x->options.from_ns - x->offset;
    uint64_t unaligned = 0;
    char why[512], what[32];
    const char *key, *value;
    size_t i;
    int kind;
    if (from < x->about->from_ns) from = x->about->from_ns;
    for (kind = 0; kind < PROF__LOSSES; kind++) {
        const char *things = prof__dropped(x->trace, kind, from, why, sizeof why);
        if (!things) continue;
        snprintf(what, sizeof what, "%s dropped", things);
        prof__xplane_warning(x, host, what, why);
    }
    for (i = 0; i < prof_trace_track_count(x->trace); i++)
        unaligned += prof_trace_track(x->trace, i)->alignment == PROF_ALIGN_GUESS;
    prof__xplane_warning_of(x, host, "clocks not aligned", unaligned, "rows of devices have places that are guessed");
    prof__xplane_warning_of(x, host, "frames dropped", x->frames_out,
                            "frames of the 65th and later names are left out");
    prof__xplane_warning_of(x, host, "events dropped", x->late,
                            "events after 106 days are left out: XProf's times end there");
    for (i = 0; prof_trace_metadata(x->trace, i, &key, &value); i++) /* of prof_cuda.h */
        if (!strncmp(key, "CUDA ", 5) && strstr(key, " dropped")) prof__xplane_warning(x, host, key, value);
    if (x->changed)
        prof__xplane_warning(x, host, "events dropped",
                             "the recording changed while this was written, and a part of it may be missing");
}

static void prof__xplane_space(prof__xplane *x, const char *host)
{
    size_t i, tracks = prof_trace_track_count(x->trace), gpus = 0;
    const char *last = NULL; /* the accelerator whose rows these are */
    for (i = 0; i < tracks; i++) {
        const char *device = prof_trace_track(x->trace, i)->device;
        int is = *device && prof__xplane_is_accelerator(x, device);
        x->accelerators += is;
        gpus += is && device != last;
        if (is) last = device;
        x->tracks[i].gpu = is && gpus <= PROF__XPLANE_NO_GPU ? (uint8_t)(gpus - 1) : PROF__XPLANE_NO_GPU;
    }
    prof__xplane_host_plane(x);
    prof__xplane_step_places(x);
    for (i = 0; i < tracks && prof__xplane_sound(x);) {
        if (*prof_trace_track(x->trace, i)->device)
            i = prof__xplane_device_plane(x, i);
        else
            i++;
    }
    prof__xplane_async_plane(x, PROF__XPLANE_SPANS, "spans", PROF__GROUP_SPAN);
    if (x->frame_count && prof__xplane_sound(x)) prof__xplane_frames_plane(x);
    prof__xplane_async_plane(x, PROF__XPLANE_LOCKS, "locks", PROF__GROUP_LOCK);
    if (prof__xplane_sound(x)) prof__xplane_env_plane(x);
    if (!prof__xplane_sound(x)) return;
    prof__xplane_warnings(x, host);
    prof__xplane_put_text(x, PROF__XSPACE_HOST, host);
}

/*-- ids of threads --*/

/* Gives each track an id that no other has. Returns 0 without memory. */
static int prof__xplane_number_tracks(prof__xplane *x)
{
    size_t i, tracks = prof_trace_track_count(x->trace);
    uint32_t next = PROF__DISPLAY_ID, *ids = (uint32_t *)malloc((tracks + 1) * sizeof *ids);
    int good;
    x->tracks = (prof__xplane_track *)calloc(tracks + 1, sizeof *x->tracks);
    good = ids && x->tracks && prof__display_ids(&x->trace, 1, tracks, ids, &next);
    for (i = 0; good && i < tracks; i++) x->tracks[i].id = ids[i];
    free(ids);
    return good;
}

/* Returns when the window of a trace begins, in the time of all traces. */
static int64_t prof__xplane_begin(const prof_trace *trace, int64_t offset)
{
    return prof__xplane_time(prof_trace_about(trace)->from_ns) + offset;
}

/* Writes a trace to x->out, and closes it. first: the trace whose window is the earliest. */
static prof_status prof__xplane_trace(prof__xplane *x, const prof_trace *trace, int64_t offset, const prof_trace *first,
                                      int64_t first_offset, const char *host)
{
    size_t i;
    prof__xplane_bytes *const bytes[] = {&x->stats, &x->point, &x->meta, &x->kept,
                                         &x->part,  &x->entry, &x->text, &x->joined};
    x->trace = trace;
    x->sites = (prof__xplane_site_name *)calloc(prof__site_count(trace), sizeof *x->sites);
    x->about = prof_trace_about(trace);
    x->offset = offset;
    x->from = prof__xplane_time(x->about->from_ns);
    x->later = prof__xplane_begin(trace, offset) - prof__xplane_begin(first, first_offset);
    x->start_unix_ns = prof_trace_about(first)->start_unix_ns + (uint64_t)prof__xplane_begin(first, 0);
    if (!prof__xplane_number_tracks(x))
        x->status = PROF_NO_MEMORY;
    else if (x->out.status == PROF_OK)
        prof__xplane_space(x, host);
    if (x->status == PROF_OK && x->out.status == PROF_OK && !prof__xplane_sound(x)) x->status = PROF_NO_MEMORY;
    if (x->status == PROF_NO_MEMORY) prof__fail(PROF_NO_MEMORY, "no memory to write %s", prof__xplane_file_name(x));
    if (x->status) prof__out_fail(&x->out, x->status);
    prof__xplane_names_clear(x);
    for (i = 0; x->tracks && i < prof_trace_track_count(trace); i++) free(x->tracks[i].flows);
    free(x->flow_gpus);
    for (i = 0; i < sizeof bytes / sizeof *bytes; i++) free(bytes[i]->data);
    for (i = 0; i < x->step_count; i++) free(x->steps[i].text);
    free(x->tracks);
    free(x->lines);
    free(x->names);
    free(x->sites);
    free(x->groups);
    free(x->steps);
    free(x->open);
    free(x->keys);
    return prof__out_close(&x->out);
}

static prof_status prof__xplane_check(const prof_xplane_options *options)
{
    if (options && options->to_ns && options->to_ns <= options->from_ns)
        return prof__fail(PROF_INVALID_ARGUMENT, "to_ns must be later than from_ns");
    return PROF_OK;
}

/* Returns a new state. Returns NULL without memory, and then sets prof_error(). */
static prof__xplane *prof__xplane_new(const prof_xplane_options *options)
{
    prof__xplane *x = (prof__xplane *)calloc(1, sizeof *x);
    if (!x) prof__fail(PROF_NO_MEMORY, "no memory to write an XSpace");
    if (x && options) x->options = *options;
    return x;
}

/*-- the log directory --*/

/* Returns the id of the job that this process is a rank of, from the launcher's environment variables. Returns NULL if
   there is none. */
static const char *prof__xplane_job(void)
{
    static const char *const keys[] = {"SLURM_JOB_ID", "PMIX_NAMESPACE", "PBS_JOBID", "LSB_JOBID", "FLUX_JOB_ID",
                                       "TORCHELASTIC_RUN_ID", "PMI_JOBID"};
    size_t i;
    for (i = 0; i < sizeof keys / sizeof *keys; i++) {
        const char *value = getenv(keys[i]);
        if (value && *value && strcmp(value, "none")) return value; /* "none" is torchrun's default */
    }
    return NULL;
}

/* Copies a text. Replaces characters that a file name cannot have, and colons, because XProf takes what follows for a
   port. */
static void prof__xplane_name_text(char *to, size_t size, const char *text)
{
    char *c;
    prof__text_copy(to, size, text);
    for (c = to; *c; c++)
        if (*c == '/' || *c == '\\' || *c == ':' || (unsigned char)*c < 32) *c = '_';
}

/* Makes the name of a host. size: the bytes of `to`, at least 64. */
static void prof__xplane_host(char *to, size_t size, const prof_trace *trace, const prof_xplane_options *options)
{
    char own[256], text[400];
    const char *host =
        options && options->host && *options->host ? options->host : prof__xplane_metadata(trace, "host");
    const char *rank = prof__xplane_metadata(trace, "rank");
    if (!host) {
        prof__host_name(own, sizeof own);
        host = own;
    }
    snprintf(text, sizeof text, rank ? "%.250s.%.64s" : "%.250s", host, rank ? rank : "");
    prof__xplane_name_text(to, size, text);
}

static void prof__xplane_run_name(char *to, size_t size, const prof_trace *trace, const prof_xplane_options *options)
{
    const prof_trace_info *about = prof_trace_about(trace);
    uint64_t begin = (about->start_unix_ns + (uint64_t)prof__xplane_time(about->from_ns)) / 1000000000u;
    const char *job =
        about->pid == prof__process_id() && prof__xplane_metadata(trace, "rank") ? prof__xplane_job() : NULL;
    struct tm here;
    if (options && options->run && *options->run) {
        prof__xplane_name_text(to, size, options->run);
        return;
    }
    if (job) {
        char text[200];
        snprintf(text, sizeof text, "job_%.180s", job);
        prof__xplane_name_text(to, size, text);
        return;
    }
    if (!prof__local_time(begin, &here)) memset(&here, 0, sizeof here);
    if (!strftime(to, size, "%Y_%m_%d_%H_%M_%S", &here)) prof__text_copy(to, size, "run");
}

/* Makes the path of the directory of runs, "logs/plugins/profile/". If `path` is the directory of a run, sets `run` to
   the run's name. Returns 0 if the path is too long. */
static int prof__xplane_base(const char *path, char *base, size_t base_size, char *run, size_t run_size)
{
    static const char middle[] = "plugins/profile/";
    size_t length = path ? strlen(path) : 0, at, i;
    while (length > 1 && prof__is_slash(path[length - 1])) length--;
    for (at = length; at && !prof__is_slash(path[at - 1]); at--) {
    }
    if (length + sizeof middle + 1 >= base_size || length - at >= run_size) return 0;
    if (length) memcpy(base, path, length);
    base[length] = 0;
    if (at < length && at >= sizeof middle - 1) {
        for (i = 0; i + 1 < sizeof middle; i++) {
            char c = path[at - sizeof middle + 1 + i];
            if (c != middle[i] && !(prof__is_slash(c) && middle[i] == '/')) break;
        }
        if (i + 1 == sizeof middle && (at == sizeof middle - 1 || prof__is_slash(path[at - sizeof middle]))) {
            memcpy(run, path + at, length - at);
            run[length - at] = 0;
            base[at] = 0;
            return 1;
        }
    }
    if (length && !prof__is_slash(base[length - 1])) base[length++] = '/';
    memcpy(base + length, middle, sizeof middle);
    return 1;
}

#define PROF__XPLANE_HOST 280 /* bytes of a host's name, with a number that may follow it */

/* A file of a run. Each trace has one. */
typedef struct prof__xplane_file {
    char host[PROF__XPLANE_HOST + 40], path[1600];
    unsigned long number; /* the last number that was put behind this name */
    int claimed, shared;  /* claimed: 1: the name is reserved; shared: 1: several traces are of this host */
    int made;             /* of the first file: 1: the directory of the run was made for it */
} prof__xplane_file;

/* Removes files that were reserved. Also removes the directory made for them, which XProf would show as a run, if it
   has no other files. */
static void prof__xplane_unclaim(prof__xplane_file *files, size_t count)
{
    char *folder = files[0].path, *end = strrchr(folder, '/');
    size_t i;
    for (i = 0; i < count; i++)
        if (files[i].claimed) remove(files[i].path);
    for (i = 0; i < count; i++) files[i].claimed = 0;
    if (!files[0].made || !end) return;
    *end = 0;
    remove(folder);
    files[0].made = 0;
}

/* Reserves the names of the files in the first of the directories RUN, RUN_2 and so on that has none of them. */
static prof_status prof__xplane_claim(prof__xplane_file *files, size_t count, const char *base, const char *run)
{
    char folder[1200];
    unsigned number;
    size_t i;
    for (number = 1; number < 100000; number++) {
        prof_status status;
        int made, error = 0;
        int length = number == 1 ? snprintf(folder, sizeof folder, "%s%s", base, run)
                                 : snprintf(folder, sizeof folder, "%s%s_%u", base, run, number);
        if (length < 0 || (size_t)length >= sizeof folder) break;
        made = !prof__is_folder(folder);
        status = prof__folder_make(folder);
        if (status) return status;
        files[0].made = made;
        for (i = 0; i < count && !error; i++) {
            length = snprintf(files[i].path, sizeof files[i].path, "%s/%s.xplane.pb", folder, files[i].host);
            error =
                length < 0 || (size_t)length >= sizeof files[i].path ? ENAMETOOLONG : prof__path_claim(files[i].path);
            files[i].claimed = !error;
        }
        if (!error) return PROF_OK;
        if (error != EEXIST) {
            status = prof__fail(PROF_IO, "cannot create %s: %s", files[i - 1].path, strerror(error));
            prof__xplane_unclaim(files, count);
            return status;
        }
        prof__xplane_unclaim(files, count);
    }
    return prof__fail(PROF_INVALID_ARGUMENT, "path too long: %.80s...", base);
}

static int prof__xplane_same_host(const void *owner, size_t item, const void *key)
{
    return !strcmp(((const prof__xplane_file *)owner)[item].host, (const char *)key);
}

/* Returns the file in the index that is for the same host name as file `own`. If there is none, adds file `own`, and
   returns it. Returns NULL without memory. */
static prof__xplane_file *prof__xplane_host_file(prof__read_index *index, prof__xplane_file *files, size_t own)
{
    uint32_t hash = prof__text_hash(files[own].host);
    size_t item = prof__read_find(index, hash, prof__xplane_same_host, files, files[own].host);
    if (item != PROF__NONE) return &files[item];
    return prof__read_add(index, hash, own) ? &files[own] : NULL;
}

/* Gives each file a host name that no other has: HOST.RANK, or HOST.PID if several would have one name, with a number
   if that is not enough. Returns 0 without memory. */
static int prof__xplane_hosts(prof__xplane_file *files, const prof_trace *const *traces, size_t count,
                              const prof_xplane_options *options)
{
    prof__read_index hosts, names;
    prof__xplane_file *first, *same = files;
    size_t i;
    memset(&hosts, 0, sizeof hosts);
    memset(&names, 0, sizeof names);
    for (i = 0; i < count && same; i++) {
        files[i].number = 1;
        prof__xplane_host(files[i].host, PROF__XPLANE_HOST, traces[i], options);
        same = prof__xplane_host_file(&hosts, files, i);
        if (same && same != &files[i]) same->shared = files[i].shared = 1;
    }
    free(hosts.slots);
    for (i = 0; i < count && same; i++) {
        char *end = files[i].host + strlen(files[i].host);
        size_t room = (size_t)(files[i].host + PROF__XPLANE_HOST - end);
        if (files[i].shared) snprintf(end, room, ".%lu", (unsigned long)prof_trace_about(traces[i])->pid);
        end += strlen(end);
        room = (size_t)(files[i].host + sizeof files[i].host - end);
        first = same = prof__xplane_host_file(&names, files, i);
        while (same && same != &files[i]) {
            snprintf(end, room, "_%lu", ++first->number);
            same = prof__xplane_host_file(&names, files, i);
        }
    }
    free(names.slots);
    return same != NULL;
}

static prof_status prof__xplane_files(prof__xplane_file *files, const prof_trace *const *traces, const int64_t *offsets,
                                      size_t count, const prof_xplane_options *options)
{
    prof_status status = PROF_OK;
    size_t i, first = 0;
    for (i = 1; i < count; i++)
        if (prof__xplane_begin(traces[i], offsets[i]) < prof__xplane_begin(traces[first], offsets[first])) first = i;
    for (i = 0; i < count && !status; i++) {
        prof__xplane *x = prof__xplane_new(options);
        if (!x) return PROF_NO_MEMORY;
        status = prof__out_file(&x->out, files[i].path);
        if (!status)
            status = prof__xplane_trace(x, traces[i], offsets[i], traces[first], offsets[first], files[i].host);
        free(x);
    }
    return status;
}

/* Writes traces as the hosts of one run. where: if not NULL, gets the path of the first trace's file, in `size`
   bytes. */
static prof_status prof__xplane_merge(const prof_trace *const *traces, size_t count, const char *logdir,
                                      const prof_xplane_options *options, char *where, size_t size)
{
    prof__xplane_file *files;
    int64_t *offsets;
    char base[1024], run[256];
    prof_status status = PROF_OK;
    size_t i;
    if (!traces || !count) return prof__fail(PROF_INVALID_ARGUMENT, "no trace to write");
    for (i = 0; i < count; i++)
        if (!traces[i]) return prof__fail(PROF_INVALID_ARGUMENT, "no trace to write");
    status = prof__xplane_check(options);
    if (status) return status;
    prof__xplane_run_name(run, sizeof run, traces[0], options);
    if (!prof__xplane_base(logdir, base, sizeof base, run, sizeof run))
        return prof__fail(PROF_INVALID_ARGUMENT, "path too long: %.80s...", logdir);
    offsets = (int64_t *)calloc(count, sizeof *offsets);
    files = (prof__xplane_file *)calloc(count, sizeof *files);
    if (!offsets || !files) {
        status = prof__fail(PROF_NO_MEMORY, "no memory to write %lu traces", (unsigned long)count);
    } else {
        prof_trace_align(traces, count, offsets);
        if (!prof__xplane_hosts(files, traces, count, options))
            status = prof__fail(PROF_NO_MEMORY, "no memory to write %lu traces", (unsigned long)count);
        if (!status) status = prof__xplane_claim(files, count, base, run);
        if (!status) status = prof__xplane_files(files, traces, offsets, count, options);
        if (status) prof__xplane_unclaim(files, count);
        if (where) prof__text_copy(where, size, files[0].path);
    }
    free(offsets);
    free(files);
    return status;
}

PROF_DEF prof_status prof_xplane_merge(const prof_trace *const *traces, size_t count, const char *logdir,
                                       const prof_xplane_options *options)
{
    PROF__CALM();
    return prof__xplane_merge(traces, count, logdir, options, NULL, 0);
}

PROF_DEF prof_status prof_xplane_write(const prof_trace *trace, const char *logdir, const prof_xplane_options *options)
{
    PROF__CALM();
    return prof_xplane_merge(&trace, 1, logdir, options);
}

PROF_DEF prof_status prof_xplane_stream(const prof_trace *trace, prof_sink sink, const prof_xplane_options *options)
{
    PROF__CALM();
    prof__xplane *x;
    prof_status status;
    char host[280];
    if (!trace) return prof__fail(PROF_INVALID_ARGUMENT, "no trace to write");
    status = prof__xplane_check(options);
    if (status) return status;
    x = prof__xplane_new(options);
    if (!x) return PROF_NO_MEMORY;
    prof__xplane_host(host, sizeof host, trace, options);
    prof__out_sink(&x->out, sink);
    status = prof__xplane_trace(x, trace, 0, trace, 0, host);
    free(x);
    return status;
}

/*-- perfetto_trace.json.gz --*/

/* Compresses a file. */
static prof_status prof__gzip_file(const char *from, const char *to)
{
    FILE *file = prof__file_open(from, "rb");
    prof__gzip *z = (prof__gzip *)calloc(1, sizeof *z);
    prof__out out;
    prof_status status = PROF_OK;
    if (!file)
        status = prof__fail(PROF_IO, "cannot read %s: %s", from, strerror(errno));
    else if (!z)
        status = prof__fail(PROF_NO_MEMORY, "no memory to compress %s", from);
    if (!status) status = prof__out_file(&out, to);
    if (!status) {
        unsigned char bytes[4096];
        size_t size;
        prof__gzip_begin(z, &out);
        while ((size = fread(bytes, 1, sizeof bytes, file)) > 0) prof__gzip_add(z, bytes, size);
        prof__gzip_end(z);
        if (ferror(file)) prof__out_fail(&out, prof__fail(PROF_IO, "cannot read %s: %s", from, strerror(errno)));
        status = prof__out_close(&out);
    }
    if (file) fclose(file);
    free(z);
    return status;
}

/* Writes perfetto_trace.json.gz into the directory of HOST.xplane.pb, whose path is `where`. If another host of the run
   has that file, the name is HOST.perfetto_trace.json.gz. link: 1: writes to stderr how to open it. */
static prof_status prof__xplane_perfetto(const prof_trace *trace, const char *where, int link)
{
    char path[1700], json[1720];
    prof_status status;
    int error;
    size_t host = strlen(where) - strlen(".xplane.pb"), folder = host;
    while (folder && !prof__is_slash(where[folder - 1])) folder--;
    snprintf(path, sizeof path, "%.*sperfetto_trace.json.gz", (int)folder, where);
    error = prof__path_claim(path);
    if (error == EEXIST) {
        snprintf(path, sizeof path, "%.*s.perfetto_trace.json.gz", (int)host, where);
        error = prof__path_claim(path);
    }
    if (error) return prof__fail(PROF_IO, "cannot create %s: %s", path, strerror(error));
    snprintf(json, sizeof json, "%s.part.json", path);
    status = prof_trace_write(trace, json, ".json");
    if (!status) status = prof__gzip_file(json, path);
    remove(json);
    if (status)
        remove(path);
    else if (link)
        fprintf(stderr, "prof: to see the trace, open https://ui.perfetto.dev and drop %s on the page\n", path);
    return status;
}

/*-- start and stop --*/

static struct {
    int word;      /* the lock of the fields below */
    int running;   /* 1: start_trace has started the session; 2: it uses another session */
    int perfetto;  /* 1: also writes perfetto_trace.json.gz; 2: and says how to open it */
    uint64_t begin_ns; /* CLOCK_MONOTONIC at start_trace */
    char logdir[1024];
} prof__xplane_session;

/* What prof_stop() needs to know to write the directory of a session that start_trace has started. */
static struct {
    int word; /* the lock of the fields below */
    int perfetto;
    char logdir[1024];
} prof__xplane_wish;

#ifndef _WIN32
/* Releases the locks in the child of a fork(), where the thread that held them may not exist. */
static void prof__xplane_child_of_fork(void) { prof__xplane_session.word = prof__xplane_wish.word = 0; }
PROF__AT_START(101, prof__xplane_forks);
static void prof__xplane_forks(void)
{
    pthread_atfork(NULL, NULL, prof__xplane_child_of_fork);
}
#endif

static void prof__xplane_wish_set(int perfetto, const char *logdir)
{
    int cancel = prof__lock_steady(&prof__xplane_wish.word);
    prof__xplane_wish.perfetto = perfetto;
    prof__text_copy(prof__xplane_wish.logdir, sizeof prof__xplane_wish.logdir, logdir);
    prof__unlock_steady(&prof__xplane_wish.word, cancel);
}

/* Returns `perfetto` of this output. The path may have become absolute since start_trace. */
static int prof__xplane_wished(const char *path)
{
    int cancel = prof__lock_steady(&prof__xplane_wish.word), perfetto = 0;
    size_t length = strlen(path), own = strlen(prof__xplane_wish.logdir);
    if (own <= length && !strcmp(path + length - own, prof__xplane_wish.logdir) &&
        (own == length || prof__is_slash(path[length - own - 1])))
        perfetto = prof__xplane_wish.perfetto;
    prof__unlock_steady(&prof__xplane_wish.word, cancel);
    return perfetto;
}

static prof_status prof__xplane_write_all(const prof_trace *trace, const char *logdir, int perfetto)
{
    char where[1600];
    prof_status status = prof__xplane_merge(&trace, 1, logdir, NULL, where, sizeof where);
    return status || !perfetto ? status : prof__xplane_perfetto(trace, where, perfetto > 1);
}

/* Makes the configuration of a session that start_trace starts. */
static prof_status prof__xplane_config(prof_config *config, const prof_xplane_trace_options *options,
                                       const char *pattern)
{
    const prof_writer *writer;
    memset(config, 0, sizeof *config);
    if (options && options->config) *config = *options->config;
    if (config->output)
        return prof__fail(PROF_INVALID_ARGUMENT,
                          "prof_xplane_start_trace: the output is logdir: config.output must be null");
    config->output = pattern;
#ifndef _WIN32
    if (config->mode == PROF_RING) config->mode = PROF_STREAM;
#endif
    if (options && (options->create_perfetto_trace || options->create_perfetto_link))
        return prof__writer_for(".json", PROF_RING, &writer);
    return PROF_OK;
}

/* Starts a session, or uses the one that runs. The caller holds the lock. */
static prof_status prof__xplane_begin_trace(const char *pattern, const prof_config *config, int own)
{
    prof_status status = prof__expand(pattern, prof__xplane_session.logdir, sizeof prof__xplane_session.logdir);
    prof__xplane_session.begin_ns = prof_host_ns();
    prof__xplane_session.running = 2;
    if (status) return status;
    /* no session, or one on demand, which prof_start() ends */
    if (!prof_enabled() || prof__session_status_now().on_demand) {
        prof__xplane_wish_set(prof__xplane_session.perfetto, prof__xplane_session.logdir);
        status = prof_start(config);
        if (status) prof__xplane_wish_set(0, "");
        if (!status) prof__xplane_session.running = 1;
        if (status == PROF_INVALID_STATE) status = PROF_OK;
    }
    if (status || prof__xplane_session.running == 1) return status;
    if (own)
        return prof__fail(PROF_INVALID_STATE,
                          "prof_xplane_start_trace: a session is running, which has a configuration already: start the "
                          "trace without config");
    return prof__writer_fits(prof__xplane_session.logdir, NULL, prof__live_mode());
}

PROF_DEF prof_status prof_xplane_start_trace_with(const char *logdir, const prof_xplane_trace_options *options)
{
    PROF__CALM();
    prof_config config;
    prof_status status;
    char pattern[1024];
    int cancel;
    size_t length = logdir ? strlen(logdir) : 0;
    if (!length) return prof__fail(PROF_INVALID_ARGUMENT, "prof_xplane_start_trace: logdir is null or empty");
    if (length + 2 > sizeof pattern) return prof__fail(PROF_INVALID_ARGUMENT, "path too long: %.80s...", logdir);
    memcpy(pattern, logdir, length + 1);
    if (!prof__is_slash(pattern[length - 1])) strcpy(pattern + length, "/");
    status = prof__xplane_config(&config, options, pattern);
    if (status) return status;
    cancel = prof__lock_steady(&prof__xplane_session.word);
    if (prof__xplane_session.running) {
        status = prof__fail(PROF_INVALID_STATE, "prof_xplane_start_trace: a trace has been started already");
    } else {
        prof__xplane_session.perfetto =
            !options ? 0 : options->create_perfetto_link ? 2 : options->create_perfetto_trace ? 1 : 0;
        status = prof__xplane_begin_trace(pattern, &config, options && options->config);
        if (status) prof__xplane_session.running = 0;
    }
    prof__unlock_steady(&prof__xplane_session.word, cancel);
    return status;
}

PROF_DEF prof_status prof_xplane_start_trace(const char *logdir) { return prof_xplane_start_trace_with(logdir, NULL); }

/* Writes what the running session has recorded from begin_ns on. */
static prof_status prof__xplane_part(uint64_t begin_ns, const char *logdir, int perfetto)
{
    prof_trace *trace = NULL;
    uint64_t end_ns = prof_host_ns(), start;
    prof_status status = prof_trace_open_live(&trace);
    if (!status) status = prof__writer_fits(logdir, NULL, (uint32_t)prof_trace_about(trace)->mode);
    if (!status) {
        start = prof_trace_about(trace)->start_monotonic_ns;
        status = prof_trace_set_window(trace, begin_ns > start ? (int64_t)(begin_ns - start) : 0,
                                       end_ns > start ? (int64_t)(end_ns - start) : 1);
    }
    if (!status) status = prof__xplane_write_all(trace, logdir, perfetto);
    prof_trace_close(trace);
    return status;
}

PROF_DEF prof_status prof_xplane_stop_trace(void)
{
    PROF__CALM();
    prof_status status;
    int running, cancel = prof__lock_steady(&prof__xplane_session.word);
    running = prof__xplane_session.running;
    prof__xplane_session.running = 0;
    if (!running)
        status = prof__fail(PROF_INVALID_STATE, "prof_xplane_stop_trace: no trace has been started");
    else if (running == 1)
        status = prof_stop();
    else
        status = prof__xplane_part(prof__xplane_session.begin_ns, prof__xplane_session.logdir,
                                   prof__xplane_session.perfetto);
    if (running == 1) prof__xplane_wish_set(0, "");
    prof__unlock_steady(&prof__xplane_session.word, cancel);
    return status;
}

static prof_status prof__xplane_default(const prof_trace *trace, const char *path)
{
    return prof__xplane_write_all(trace, path, prof__xplane_wished(path));
}

static prof_writer prof__xplane_writer = {"/", NULL, NULL, prof__xplane_default, NULL};
static prof_writer prof__pprof_writer = {".pprof", NULL, NULL, prof_xplane_pprof_write, NULL};
PROF__AT_START(101, prof__xplane_register);
static void prof__xplane_register(void)
{
    prof_writer_register(&prof__xplane_writer);
    prof_writer_register(&prof__pprof_writer);
}
#ifdef PROF__SHARED
PROF__AT_END(101, prof__xplane_unregister);
static void prof__xplane_unregister(void)
{
    prof_writer_unregister(&prof__pprof_writer);
    prof_writer_unregister(&prof__xplane_writer);
}
#endif

#ifdef PROF__WRAPS_MALLOC
#undef malloc
#undef calloc
#undef realloc
#undef free
#undef qsort
#undef fclose
#undef fread
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
