/* prof_ntff.h - AWS Neuron for prof: the runtime's own captures, and NeuronCores on the time line of the host
                 assembled from src/: change it there, see CONTRIBUTING.md
                 - public domain or MIT-0; needs prof.h and nothing else; the licence is at the end of this file

QUICK START

    #define PROF_IMPLEMENTATION            // in exactly one file of the program, C or C++
    #include "prof_ntff.h"                 // includes prof.h
    #include "prof_chrome.h"               // the writer of .json

    int main(void)
    {
        prof_config config = {0};           // in C++: = {}
        config.output = "timeline.json";
        // ... nrt_init(), or the first operation of the framework
        prof_start(&config);
        prof_ntff_systrace_start(NULL);    // what the runtime and its NeuronCores do, from memory
        for (int i = 0; i < 100; ++i) {
            PROFILE_STEP("train", i);
            // ... nrt_execute()
        }
        prof_ntff_systrace_stop(NULL);     // before prof_stop() and nrt_close()
        return (int)prof_stop();           // steps, scopes and executions on one time line: ui.perfetto.dev
    }

The runtime's own profile, for Neuron Explorer, with the program's scopes in it:

        char folder[PROF_NTFF_PATH];
        prof_ntff_config session = {0};     // in C++: = {}
        session.activities = PROF_NTFF_SYSTEM | PROF_NTFF_DEVICE;
        prof_ntff_session_begin(&session);
        // ... what is to be profiled
        prof_ntff_session_end(folder);     // has written .ntff, .neff, ntrace.pb, trace_info.pb and trace.json there

examples/neuron.c does the first without a device. Link with -ldl if the C library needs that.

WHAT IT IS, AND WHAT IT IS NOT

    This header connects prof with the profiler of AWS Neuron. It (1) starts and stops the captures of libnrt, the
    runtime in the process, which write .ntff, .neff and .pb; (2) reads the JSON of the runtime and of Neuron Explorer,
    and puts its events on prof's time line, and so into every exporter; (3) writes the program's scopes as trace.json
    beside the runtime's files, in the format of PyTorch's profiler; (4) finds these files, and says what is wrong with
    them. Only the runtime writes NTFF files: their format is not public, so this header neither writes nor reads them.
    Compiling and linking need nothing of Neuron, and (2) to (4) work on any machine. Without a runtime, the functions
    that need one return PROF_UNSUPPORTED.

WHAT WAS VERIFIED, AND HOW

    Compilers have checked 60 of the 62 prototypes against AWS's public headers (SDK 2.32); tests/compile/neuron.sh does
    so with the headers of any version. The other two are in no header: nrt_inspect_config_set_inspect_device_profile_
    mode, whose values are known from public code of AWS, and nrt_inspect_get_instance_output_dir, which nothing here
    calls.
    Everything else was tested with a fake runtime that was made from the documentation (tests/fake_nrt.c). That shows
    the order of this header's calls, that it frees what it gets, and how it handles errors and JSON. It does not show
    that a real runtime does what its documentation says. Nothing has run on a machine with NeuronCores yet.
    tools/check_on_trn.sh FILE.neff is the missing test for such a machine: it executes the NEFF, captures it in every
    way, and checks that executions lie within the scopes around them, and that Neuron Explorer reads the sessions.
    Until then it is not known whether Explorer shows a trace.json that PyTorch has not written, whether timestamp_ns is
    in the host's time in every version (if not, this header notices, and converts it by the sync points), and how each
    version names the folders of sessions.

WHAT GOES WRONG MOST OFTEN

    Two captures. The runtime can have one capture of each kind, whoever began it. NEURON_RT_INSPECT_ENABLE=1 in the
    environment, the profiler of PyTorch or JAX, and this header exclude one another. So do a system trace and an
    inspect session with the system profile, and a continuous profile and an inspect session with the device profile.
    If this header knows of the other capture, it returns PROF_INVALID_STATE, and prof_error() has the reason. Else the
    runtime refuses the second one, and prof_error() says what the other may be.
    Order. nrt_init() - prof_ntff_..._begin, _start - work - _end, _stop - nrt_close(). After nrt_close() a capture
    is lost.
    No files. A session writes its files in prof_ntff_session_end(): a process that is killed writes none.
    A full ring. The runtime's ring drops its oldest events without a notice: call prof_ntff_systrace_fetch() often, and
    look at unmatched_stops of its stats.
    Memory. Device profiles reserve gigabytes of the device's memory. PROF_NTFF_SYSTEM alone takes host memory only.
    fork(). A child has its parent's captures, but not its runtime: functions that concern them return
    PROF_INVALID_STATE there.
    Threads. Any thread may call these functions at any time, but not in signal handlers. If two threads begin the same
    capture at once, one of them succeeds. libnrt itself catches SIGTERM and SIGINT while an inspect session is open.
    Keys. NEURON_RT_INSPECT_OUTPUT_DIR and the others can be given to prof_config_set() (or on a command line that is
    passed to it), and say how prof_ntff_session_begin(NULL) begins. The variables of the environment are for the
    runtime: this header reads them only to find out whether a capture is open.

CONTENTS

    >>loader     the Neuron runtime of the process, if there is one
    >>runtime    its profiling functions, under their own names
    >>sessions   captures that libnrt writes to files: inspect, profiles of models, continuous profiles
    >>systrace   its system trace, in memory
    >>events     the events of a system trace and of Neuron Explorer
    >>json       reads their JSON
    >>clock      Unix time, the host's clock and the NeuronCores' clocks
    >>kineto     trace.json for Neuron Explorer
    >>artifacts  the files of a session
*/
#include "prof_read.h" /* outside of the include guard, because this may be the inclusion with PROF_IMPLEMENTATION */

#pragma pack(push, 16) /* as in prof.h */
#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wpragma-pack" /* macOS's headers end with the default */
#endif
#ifndef PROF_NTFF_H
#define PROF_NTFF_H

#ifdef __cplusplus
extern "C" {
#endif

/*-- EVENTS ------------------------------------------------------------------------------------------------ >>events --
   Two kinds of JSON say what NeuronCores, the runtime and a framework did: that of nrt_sys_trace_fetch_events(), in
   which start and stop are separate, and system_profile.json of "neuron-explorer view --output-format json". These
   functions read both, of any length, in a few MiB of memory, and at most 64 MiB more for starts that wait for their
   stops, and as much for events that wait for a sync point. What is invalid is left out, and counted.

       prof_ntff_parse_systrace_json(parser, json, size, prof_ntff_record, NULL, &stats);  // to tracks of the session
       prof_ntff_import("system_profile.json", "host.prof", "both.prof", &stats);          // to a copy of a recording

   Events of NeuronCore N are on the device "NeuronCore N", with a row for each of its physical cores; those of the
   runtime on "Neuron runtime N"; those of a framework on "Neuron framework", with a row for each thread. Memory and
   load of the host are counters of "Neuron host". If they are of another process than the recorded one, its id follows
   the name. They are tracks of devices (see >>devices in prof.h), which every exporter and report has.
   An event whose stop is missing ends at its start, marked PROF_TRUNCATED_END. If the start is missing, the stop is an
   instant. */

typedef enum prof_ntff_source { /* where an event comes from */
    PROF_NTFF_SOURCE_UNKNOWN = 0,
    PROF_NTFF_SOURCE_RUNTIME,   /* neuron_rt: libnrt on the host */
    PROF_NTFF_SOURCE_HARDWARE,  /* neuron_hw: a NeuronCore */
    PROF_NTFF_SOURCE_FRAMEWORK, /* framework: PyTorch, JAX */
    PROF_NTFF_SOURCE_HOST,
    PROF_NTFF_SOURCE_COUNT
} prof_ntff_source;

enum { /* prof_ntff_event.flags */
    PROF_NTFF_UNMATCHED_START = 1, /* its stop was not seen: duration_ns is 0 */
    PROF_NTFF_UNMATCHED_STOP = 2,  /* its start was not seen: start_ns is when it stopped, duration_ns is -1 */
    PROF_NTFF_REALIGNED = 4,       /* its times were the core's; this header has converted them by a sync point */
    PROF_NTFF_RAW_CLOCK = 8,       /* its times are the core's, because there is no sync point; it is not recorded */
    PROF_NTFF_COUNTER = 16         /* a sample of a number: see value */
};

/* A complete event, in the host's time. Numbers that are not known are -1, ids 0. Strings are valid during the call
   only. */
typedef struct prof_ntff_event {
    const char *name;
    const char *instance;          /* id of the machine; "": not known */
    prof_ntff_source source;
    int64_t start_ns, duration_ns; /* Unix time; duration_ns -1: an instant */
    int32_t nc_idx, core_idx, worker_gid;
    uint64_t tid, pid, tracking_id, exec_id, nrta_seq;
    double value;                  /* PROF_NTFF_COUNTER */
    const char *args;              /* a JSON object: its "data", or all that Explorer has of it; not terminated */
    size_t args_size;
    unsigned flags;
} prof_ntff_event;

/* Called for each event. If it does not return 0, its caller stops, and returns PROF_OK. */
typedef int (*prof_ntff_event_fn)(void *user, const prof_ntff_event *event);

/* What was read. Functions add to these fields: set them to zero before the first call. */
typedef struct prof_ntff_stats {
    uint64_t events;            /* events for which the function was called; of these: */
    uint64_t pairs, complete;   /*   made of a start and a stop; that were complete in the JSON */
    uint64_t instants, counters;
    uint64_t unmatched_starts, unmatched_stops; /* the runtime's ring drops its oldest events without a notice */
    uint64_t realigned;         /*   with PROF_NTFF_REALIGNED */
    uint64_t raw_clock;         /*   with PROF_NTFF_RAW_CLOCK */
    uint64_t sync_points;
    uint64_t sync_error_ns;     /* the largest error of predicting a sync point from its core's previous one */
    uint64_t errors;            /* entries that are not events, or are too large */
    int64_t first_ns, last_ns;  /* Unix time of the first start and the last end; 0: none */
    int data_version;           /* of a system trace: only 2 is known; 0: it has none */
    uint64_t outside;           /* prof_ntff_import(): events before the recording began or after it ended */
    int clock_stepped;          /* prof_ntff_import(): 1: Unix time was set during the recording, and later events may
                                   be misplaced */
} prof_ntff_stats;

/* A parser keeps, from one piece of JSON to the next, sync points and starts whose stops were not read yet. It keeps at
   most 65536 starts, of 64 MiB in all; then it gives up the oldest. One thread at a time may use a parser. */
typedef struct prof_ntff_parser prof_ntff_parser;

#if PROF_ENABLE
PROF_DEF prof_ntff_parser *prof_ntff_parser_create(void); /* returns NULL if memory runs out */
/* Frees the parser, which may be NULL. First calls fn, unless that is NULL, for starts without a stop
   (PROF_NTFF_UNMATCHED_START) and for events that wait for a sync point. */
PROF_DEF void prof_ntff_parser_destroy(prof_ntff_parser *parser, prof_ntff_event_fn fn, void *user,
                                       prof_ntff_stats *stats);
/* Reads the JSON of one nrt_sys_trace_fetch_events(). parser may be NULL if there is no other. stats may be NULL.
   Returns PROF_CORRUPT if it ends too early or is not JSON; fn was called for what could be read. */
PROF_DEF prof_status prof_ntff_parse_systrace_json(prof_ntff_parser *parser, const char *json, size_t size,
                                                   prof_ntff_event_fn fn, void *user, prof_ntff_stats *stats);
/* Reads a file of Neuron Explorer, or one with the JSON of a system trace. stats may be NULL. Returns PROF_IO if it
   cannot be read, PROF_CORRUPT if it is not JSON; fn was called for what could be read. */
PROF_DEF prof_status prof_ntff_read_system_json(const char *path, prof_ntff_event_fn fn, void *user,
                                                prof_ntff_stats *stats);
/* A prof_ntff_event_fn that records the event in the running session of prof, on a track of its device. Ignores
   user. */
PROF_DEF int prof_ntff_record(void *user, const prof_ntff_event *event);
/* Writes the image `out`: a copy of the recording `host` (.prof) with the events of the file `json` added. out may be
   the same file as host, but not a link, nor json. If host is NULL, the image has only those events, for
   prof_chrome_merge() ("prof merge"). stats may be NULL. Returns PROF_CORRUPT if the file has no events, or none in the
   host's time, PROF_UNSUPPORTED if host has only statistics. */
PROF_DEF prof_status prof_ntff_import(const char *json, const char *host, const char *out, prof_ntff_stats *stats);
#else
#define prof_ntff_parser_create() PROF__STRIPPED(PROF__STRIPPED_OBJECT(prof_ntff_parser *), (void)0)
#define prof_ntff_parser_destroy(parser, fn, user, stats) \
    PROF__STRIPPED((void)0, (0 ? (void)(fn) : PROF__USE3(parser, user, stats)))
#define prof_ntff_parse_systrace_json(parser, json, size, fn, user, stats) \
    PROF__STRIPPED(PROF_OK, (0 ? (void)(fn), (void)(size), (void)(json) : PROF__USE3(parser, user, stats)))
#define prof_ntff_read_system_json(path, fn, user, stats) \
    PROF__STRIPPED(PROF_OK, (0 ? (void)(fn) : PROF__USE3(path, user, stats)))
static inline int prof_ntff_record(void *user, const prof_ntff_event *event) /* programs pass it to functions */
{
    PROF__USE2(user, event);
    return 0;
}
#define prof_ntff_import(json, host, out, stats) \
    PROF__STRIPPED(PROF_OK, (0 ? (void)(stats) : PROF__USE3(json, host, out)))
#endif

/*-- CLOCK -------------------------------------------------------------------------------------------------- >>clock --
   The files and fetches of Neuron have Unix time (CLOCK_REALTIME). prof's traces have CLOCK_MONOTONIC, and the Unix
   time of their begin and end. In between, times are converted linearly, at the same rate unless the clocks differ by
   50 us at the end. If they differ by more than 0.5 per mille, somebody has set the clock, and only the begin is used.
   The runtime converts times of NeuronCores to the host's time, with a sync point after each execution. If it has not,
   because a time equals that of the core, this header does: with the sync point of the same NeuronCore, physical core
   and execution, or with the previous one. An event without either is left out, and counted as raw_clock. */
#if PROF_ENABLE
/* Returns the Unix time, in ns, of a time of a trace. */
PROF_DEF int64_t prof_ntff_unix_ns(const prof_trace *trace, int64_t ns);
#else
#define prof_ntff_unix_ns(trace, ns) PROF__STRIPPED((int64_t)0, PROF__USE2(trace, ns))
#endif

/*-- KINETO ------------------------------------------------------------------------------------------------ >>kineto --
   Neuron Explorer shows the host's side of a session if the folder with trace_info.pb has a trace.json in the format of
   PyTorch's profiler (Kineto). That place is documented, but not which fields it needs. Whether it shows a file that
   PyTorch did not write was not tested on hardware.

   Scopes become "X" events of the category user_annotation, on threads with the system's ids, like the runtime's
   events. Times are microseconds with three decimals since "baseTimeNanoseconds", which is Unix time; they are exact to
   the nanosecond. A scope without its begin or end has the argument "truncated". Other parts of a trace are only
   written if an option asks for them, because a strict reader might refuse them. A file that prof did not write is
   never replaced, nor is a file that a link leads to. */

/* A structure of zeros has the defaults. */
typedef struct prof_ntff_trace_options {
    const char *category; /* NULL: "user_annotation"; "cpu_op" is the other one that viewers know */
    uint64_t pid;         /* 0: that of the trace */
    int source_names;     /* 1: names scopes "file.c(12): name", of which Neuron Explorer makes a link */
    int instants;         /* 1: also writes marks, as "i" */
    int counters;         /* 1: also writes counters, as "C" */
    int append;           /* 1: appends to a trace.json of another program, after its events */
} prof_ntff_trace_options;

#if PROF_ENABLE
/* Writes trace.json to path. options may be NULL. Returns PROF_INVALID_STATE if path is a file that prof did not
   write. */
PROF_DEF prof_status prof_ntff_trace_json(const prof_trace *trace, const char *path,
                                          const prof_ntff_trace_options *options);
PROF_DEF prof_status prof_ntff_trace_json_stream(const prof_trace *trace, prof_sink sink,
                                                 const prof_ntff_trace_options *options);
#else
#define prof_ntff_trace_json(trace, path, options) PROF__STRIPPED(PROF_OK, PROF__USE3(trace, path, options))
#define prof_ntff_trace_json_stream(trace, sink, options) \
    PROF__STRIPPED(PROF_OK, PROF__USE3(trace, sink, options))
#endif

/*-- ARTIFACTS ------------------------------------------------------------------------------------------ >>artifacts --
   Finds the files that the runtime writes, and checks their names and sizes. The formats of .ntff, .neff and .pb are
   not public.

       OUTPUT_DIR/INSTANCE_pid_PID/[UNIX_NS/]    profile_nc_0_session_1.ntff or HASH_instid_0_vnc_0.ntff,
                                                 neff_HASH.neff, ntrace.pb, trace_info.pb, cpu_util.pb, host_mem.pb,
                                                 trace.json */

typedef enum prof_ntff_kind {
    PROF_NTFF_NTFF = 0,  /* a device profile */
    PROF_NTFF_NEFF,      /* the model that is needed to read a profile */
    PROF_NTFF_NTRACE,    /* ntrace.pb: the system profile */
    PROF_NTFF_TRACE_INFO, /* trace_info.pb: marks the folder of a session */
    PROF_NTFF_CPU_UTIL_PB,
    PROF_NTFF_HOST_MEM_PB,
    PROF_NTFF_TRACE_JSON, /* trace.json: of a framework, or of prof */
    PROF_NTFF_STRAY_JSON, /* neuron_framework_trace_rank_N.json, which no tool looks for by that name */
    PROF_NTFF_KIND_COUNT
} prof_ntff_kind;

/* A file. Numbers that its name does not have are -1. Strings are valid during the call only. */
typedef struct prof_ntff_artifact {
    const char *path, *folder, *name;
    prof_ntff_kind kind;
    uint64_t size;
    char hash[72];   /* "": none in its name */
    int32_t nc, session;
    int blank;       /* 1: not empty, but its first bytes are all zero */
    int paired;      /* .ntff: how many models have its hash or, if it has none, are in its folder; .neff: profiles */
} prof_ntff_artifact;

typedef int (*prof_ntff_artifact_fn)(void *user, const prof_ntff_artifact *artifact); /* not 0: stops */

typedef enum prof_ntff_word {
    PROF_NTFF_FOLDER = 0, /* a folder, and what is in it; the next lines are about that folder */
    PROF_NTFF_REMARK,
    PROF_NTFF_PROBLEM     /* something is missing or wrong */
} prof_ntff_word;
typedef void (*prof_ntff_say_fn)(void *user, prof_ntff_word word, const char *text);

#if PROF_ENABLE
/* Finds the folder of the newest session of a process (pid 0: of any) that did not begin before that Unix time (0: at
   any time), and writes its path to folder (size bytes). Returns PROF_IO if output_dir cannot be read and
   PROF_INVALID_STATE if there is no session; folder is "" then. */
PROF_DEF prof_status prof_ntff_find_session(const char *output_dir, uint64_t pid, uint64_t not_before_unix_ns,
                                            char *folder, size_t size);
/* Calls fn for all such files below dir, up to four folders deep, in order of folder and name. Folders that cannot be
   read are left out. */
PROF_DEF prof_status prof_ntff_list(const char *dir, prof_ntff_artifact_fn fn, void *user);
/* Says, line by line, what is wrong with the files below dir, and what to do. Sets *problems to how many problems there
   are; it may be NULL. */
PROF_DEF prof_status prof_ntff_check(const char *dir, prof_ntff_say_fn say, void *user, int *problems);
#else
#define prof_ntff_find_session(output_dir, pid, not_before_unix_ns, folder, size) \
    PROF__STRIPPED((prof__stripped_none(folder, (size) != 0), PROF_OK), \
                   PROF__USE3(output_dir, pid, not_before_unix_ns))
#define prof_ntff_list(dir, fn, user) PROF__STRIPPED(PROF_OK, PROF__USE3(dir, fn, user))
#define prof_ntff_check(dir, say, user, problems) \
    PROF__STRIPPED((prof__stripped_none(problems, sizeof(int)), PROF_OK), PROF__USE3(dir, say, user))
#endif

/*-- LOADER ------------------------------------------------------------------------------------------------ >>loader --
   The Neuron runtime is loaded when it is first needed: the one that is in the process already, as a shared library or
   inside the program; else libnrt.so.1 as the dynamic linker finds it; else that of /opt/aws/neuron/lib.
   PROF_NTFF_LIBNRT=path in the environment names another one. It is never unloaded. Functions may be called from any
   thread, but not in signal handlers. */

enum { /* what a runtime has; see prof_ntff_capabilities() */
    PROF_NTFF_CAN_INSPECT = 1,       /* nrt_inspect_begin_with_options and its options */
    PROF_NTFF_CAN_DEVICE_MODE = 2,   /* nrt_inspect_config_set_inspect_device_profile_mode */
    PROF_NTFF_CAN_PROFILE = 4,       /* nrt_profile_start, _stop */
    PROF_NTFF_CAN_CONTINUOUS = 8,    /* nrt_profile_continuous_* */
    PROF_NTFF_CAN_SYS_TRACE = 16,    /* nrt_sys_trace_* */
    PROF_NTFF_CAN_TRACE = 32,        /* nrt_trace_start, _stop */
    PROF_NTFF_CAN_DEBUG_STREAM = 64  /* nrt_debug_client_* */
};

#if PROF_ENABLE
/* Loads the runtime now: the library at path or, if path is NULL, the one described above. Functions that need the
   runtime load it by themselves. Returns PROF_UNSUPPORTED if there is no runtime, or path is not one, and
   PROF_INVALID_STATE if the process already has another one. */
PROF_DEF prof_status prof_ntff_load(const char *path);
/* Returns PROF_NTFF_CAN_... flags, or 0 without a runtime. */
PROF_DEF unsigned prof_ntff_capabilities(void);
/* Returns "2.34.10.0", "unknown" if the runtime does not say, or NULL without a runtime. The string stays valid. */
PROF_DEF const char *prof_ntff_runtime_version(void);
/* Returns the file that the runtime was loaded from, or NULL without a runtime. The string stays valid. */
PROF_DEF const char *prof_ntff_library(void);
/* Returns the NRT_STATUS that the runtime returned to the calling thread's last call of a function below. Also returns
   0 if the runtime was not called: because there is none, it lacks the function, or this header refused the call. */
PROF_DEF unsigned prof_ntff_nrt_status(void);
/* Returns "NRT_SUCCESS" and so on, as in nrt_status.h. For numbers that are not named there, returns the runtime's name
   or "NRT_STATUS_<number>", which is valid until the thread's next call. */
PROF_DEF const char *prof_ntff_nrt_status_name(unsigned status);
#endif

/*-- RUNTIME ---------------------------------------------------------------------------------------------- >>runtime --
   The runtime's functions under its names, with prof_ntff_ for nrt_:

       nrt_inspect_config_t *options;                   // without Neuron's headers: struct nrt_inspect_config *options;
       prof_ntff_inspect_config_allocate(&options);
       prof_ntff_inspect_config_set_output_dir(options, "./output");

   They take the same arguments in the same order. Each returns a prof_status, also those that are void in the runtime:
   PROF_OK for NRT_SUCCESS, else one of these. prof_ntff_nrt_status() has the runtime's own status, prof_error() a text.

     PROF_UNSUPPORTED       no runtime, or one without this function: the text names it and the runtime's version
     PROF_INVALID_ARGUMENT  NRT_INVALID, NRT_INVALID_HANDLE
     PROF_NO_MEMORY         NRT_RESOURCE, NRT_FAIL_HOST_MEM_ALLOC
     PROF_INVALID_STATE     NRT_UNINITIALIZED: before nrt_init(); NRT_CLOSED: after nrt_close(). Without a call of the
                            runtime: for a second capture of a kind; for a system trace or a continuous profile if
                            NEURON_RT_INSPECT_ENABLE=1 in the environment has begun it already; for a capture of the
                            parent in the child of a fork(); for prof_ntff_close() while a capture is open
     PROF_IO                everything else

   Options that are NULL are the runtime's defaults, with which a session captures everything: for
   inspect_begin_with_options, sys_trace_start, profile_continuous_start and _save. Options that the program allocates
   enable nothing until inspect_config_set_enable_inspect() or _on_fail() does.

   Free what the runtime allocates with its own function for it, never with free(). */

#ifndef PROF_NTFF_NRT_STATUS
#define PROF_NTFF_NRT_STATUS unsigned int /* the type that compilers choose for the enum NRT_STATUS */
#endif
#ifdef __cplusplus
typedef bool prof_ntff_bool;
#else
typedef _Bool prof_ntff_bool;
#endif
struct nrt_model; /* nrt_model_t in the headers of Neuron, and so on */
struct nrt_model_info;
struct nrt_version;
struct nrt_instance_info;
struct nrt_inspect_config;
struct nrt_profile_continuous_options;
struct nrt_sys_trace_config;
struct nrt_sys_trace_fetch_options;
struct ndebug_stream_event_header;
typedef void (*prof_ntff_exec_callback)(void *params, uint32_t model_id, uint32_t vnc, uint64_t job_id,
                                        PROF_NTFF_NRT_STATUS status);

/* X(result, name without nrt_, parameters, arguments, role). result: status (an NRT_STATUS), nothing or text. role:
   what the function does to captures. The table lacks nrt_inspect_export and
   nrt_inspect_config_set_device_profile_num_warmup, whose prototypes are not published, and nrta_*, whose prototypes
   change. set_inspect_device_profile_mode is in no public header, but in public code of AWS: mode 0 is off, 1 model, 2
   session. get_instance_output_dir is in neither, and its prototype is not certain, so nothing here calls it. */
#define PROF_NTFF_TABLE(X) \
    X(status, profile_start, (struct nrt_model *model, const char *filename), (model, filename), 0) \
    X(status, profile_stop, (const char *filename), (filename), 0) \
    X(status, profile_continuous_options_allocate, (struct nrt_profile_continuous_options **options), (options), 0) \
    X(status, profile_continuous_options_free, (struct nrt_profile_continuous_options *options), (options), 0) \
    X(status, profile_continuous_options_set_output_dir, \
      (struct nrt_profile_continuous_options *options, const char *output_dir), (options, output_dir), 0) \
    X(status, profile_continuous_start, (struct nrt_profile_continuous_options *options), (options), \
      PROF_NTFF_BEGINS_CONTINUOUS) \
    X(status, profile_continuous_save, (uint32_t vnc, struct nrt_profile_continuous_options *options), (vnc, options), \
      PROF_NTFF_IN_CAPTURE) \
    X(status, profile_continuous_stop, (void), (), PROF_NTFF_ENDS_CONTINUOUS) \
    X(status, inspect_begin, (void), (), PROF_NTFF_BEGINS_INSPECT) \
    X(status, inspect_stop, (void), (), PROF_NTFF_ENDS_INSPECT) \
    X(status, inspect_config_allocate, (struct nrt_inspect_config **options), (options), 0) \
    X(status, inspect_config_set_defaults, (struct nrt_inspect_config *options), (options), 0) \
    X(status, inspect_config_free, (struct nrt_inspect_config *options), (options), 0) \
    X(status, inspect_config_set_session_id, (struct nrt_inspect_config *options, int session_id), \
      (options, session_id), 0) \
    X(status, inspect_config_set_output_dir, (struct nrt_inspect_config *options, const char *output_dir), \
      (options, output_dir), 0) \
    X(status, inspect_config_set_sys_trace_max_events_per_nc, \
      (struct nrt_inspect_config *options, uint64_t sys_trace_max_events_per_nc), \
      (options, sys_trace_max_events_per_nc), 0) \
    X(status, inspect_config_set_capture_enabled_for_nc, \
      (struct nrt_inspect_config *options, uint32_t nc_idx, prof_ntff_bool enabled), (options, nc_idx, enabled), 0) \
    X(status, inspect_config_set_capture_enabled_for_event_type_string, \
      (struct nrt_inspect_config *options, const char *event_type, prof_ntff_bool enabled), \
      (options, event_type, enabled), 0) \
    X(status, inspect_config_set_enable_inspect, (struct nrt_inspect_config *options, prof_ntff_bool enable_inspect), \
      (options, enable_inspect), 0) \
    X(status, inspect_config_set_enable_inspect_on_fail, \
      (struct nrt_inspect_config *options, prof_ntff_bool enable_inspect_on_fail), \
      (options, enable_inspect_on_fail), 0) \
    X(status, inspect_begin_with_options, (struct nrt_inspect_config *options), (options), PROF_NTFF_BEGINS_OPTIONS) \
    X(status, inspect_config_get_all_activity_types, (const char ***activity_types, size_t *count), \
      (activity_types, count), 0) \
    X(status, inspect_config_get_enabled_activity_types, \
      (struct nrt_inspect_config *options, const char ***activity_types, size_t *count), \
      (options, activity_types, count), 0) \
    X(nothing, inspect_config_free_activity_types, (const char **activity_types, size_t count), \
      (activity_types, count), 0) \
    X(status, inspect_config_set_activity, \
      (struct nrt_inspect_config *options, const char *activity_type, prof_ntff_bool enabled), \
      (options, activity_type, enabled), 0) \
    X(status, inspect_config_set_inspect_device_profile_mode, (struct nrt_inspect_config *options, unsigned mode), \
      (options, mode), 0) \
    X(status, inspect_get_instance_output_dir, (const char *output_dir, char *instance_dir, size_t size), \
      (output_dir, instance_dir, size), 0) \
    X(status, sys_trace_config_allocate, (struct nrt_sys_trace_config **options), (options), 0) \
    X(nothing, sys_trace_config_set_defaults, (struct nrt_sys_trace_config *options), (options), 0) \
    X(nothing, sys_trace_config_free, (struct nrt_sys_trace_config *options), (options), 0) \
    X(nothing, sys_trace_config_set_max_events_per_nc, \
      (struct nrt_sys_trace_config *options, uint64_t max_events_per_nc), \
      (options, max_events_per_nc), 0) \
    X(nothing, sys_trace_config_set_capture_enabled_for_nc, \
      (struct nrt_sys_trace_config *options, uint32_t nc_idx, prof_ntff_bool enabled), (options, nc_idx, enabled), 0) \
    X(status, sys_trace_config_set_capture_enabled_for_event_type, \
      (struct nrt_sys_trace_config *options, const char *event_type, prof_ntff_bool enabled), \
      (options, event_type, enabled), 0) \
    X(status, sys_trace_get_event_types, (const char ***event_types, size_t *count), (event_types, count), 0) \
    X(nothing, sys_trace_free_event_types, (const char **event_types, size_t count), (event_types, count), 0) \
    X(status, sys_trace_config_get_enabled_event_types, \
      (struct nrt_sys_trace_config *options, const char ***event_types, size_t *count), \
      (options, event_types, count), 0) \
    X(status, sys_trace_start, (struct nrt_sys_trace_config *options), (options), PROF_NTFF_BEGINS_SYS_TRACE) \
    X(status, sys_trace_stop, (void), (), PROF_NTFF_ENDS_SYS_TRACE) \
    X(status, sys_trace_fetch_options_allocate, (struct nrt_sys_trace_fetch_options **options), (options), 0) \
    X(nothing, sys_trace_fetch_options_set_defaults, (struct nrt_sys_trace_fetch_options *options), (options), 0) \
    X(nothing, sys_trace_fetch_options_free, (struct nrt_sys_trace_fetch_options *options), (options), 0) \
    X(nothing, sys_trace_fetch_options_set_max_events_per_nc, \
      (struct nrt_sys_trace_fetch_options *options, uint64_t max_events_per_nc), (options, max_events_per_nc), 0) \
    X(nothing, sys_trace_fetch_options_set_nc_idx, (struct nrt_sys_trace_fetch_options *options, uint64_t nc_idx), \
      (options, nc_idx), 0) \
    X(status, sys_trace_fetch_events, \
      (char **buffer, size_t *written_size, const struct nrt_sys_trace_fetch_options *options), \
      (buffer, written_size, options), PROF_NTFF_IN_CAPTURE) \
    X(nothing, sys_trace_buffer_free, (char *buffer), (buffer), 0) \
    X(status, trace_start, (prof_ntff_bool trace_mem), (trace_mem), PROF_NTFF_BEGINS_TRACE) \
    X(status, trace_stop, (const char *filename), (filename), PROF_NTFF_ENDS_TRACE) \
    X(status, debug_client_connect, (int logical_nc_idx, int *stream_fd), (logical_nc_idx, stream_fd), 0) \
    X(nothing, debug_client_connect_close, (int stream_fd), (stream_fd), 0) \
    X(status, debug_client_read_one_event, \
      (int stream_fd, struct ndebug_stream_event_header *header, void **payload), (stream_fd, header, payload), 0) \
    X(status, register_async_exec_callback, (prof_ntff_exec_callback callback, void *params), (callback, params), 0) \
    X(status, async_drain_queued_execs, (int32_t vnc), (vnc), 0) \
    X(status, get_model_info, \
      (const struct nrt_model *model, struct nrt_model_info *info, size_t info_size_in, size_t *info_size_out), \
      (model, info, info_size_in, info_size_out), 0) \
    X(status, get_version, (struct nrt_version *version, size_t size), (version, size), 0) \
    X(status, get_instance_info, (struct nrt_instance_info *info, size_t instance_info_len), \
      (info, instance_info_len), 0) \
    X(status, get_visible_vnc_count, (uint32_t *vnc_count), (vnc_count), 0) \
    X(status, get_visible_nc_count, (uint32_t *vnc_count), (vnc_count), 0) \
    X(status, get_total_vnc_count, (uint32_t *vnc_count), (vnc_count), 0) \
    X(status, get_total_nc_count, (uint32_t *vnc_count), (vnc_count), 0) \
    X(status, init, (unsigned framework, const char *fw_version, const char *fal_version), \
      (framework, fw_version, fal_version), PROF_NTFF_INITIALISES) \
    X(nothing, close, (void), (), PROF_NTFF_CLOSES) \
    X(text, get_status_as_str, (PROF_NTFF_NRT_STATUS status), (status), 0)

enum { /* roles */
    PROF_NTFF_IN_CAPTURE = 1,
    PROF_NTFF_BEGINS_INSPECT,
    PROF_NTFF_BEGINS_OPTIONS,
    PROF_NTFF_BEGINS_CONTINUOUS,
    PROF_NTFF_BEGINS_SYS_TRACE,
    PROF_NTFF_BEGINS_TRACE,
    PROF_NTFF_ENDS_INSPECT,
    PROF_NTFF_ENDS_CONTINUOUS,
    PROF_NTFF_ENDS_SYS_TRACE,
    PROF_NTFF_ENDS_TRACE,
    PROF_NTFF_INITIALISES,
    PROF_NTFF_CLOSES
};

#if PROF_ENABLE
#define PROF__NTFF_TYPE_status prof_status
#define PROF__NTFF_TYPE_nothing prof_status
#define PROF__NTFF_TYPE_text const char *
#define PROF__NTFF_DECLARE(result, name, parameters, arguments, role) \
    PROF_DEF PROF__NTFF_TYPE_##result prof_ntff_##name parameters;
PROF_NTFF_TABLE(PROF__NTFF_DECLARE)
#endif

/*-- SESSIONS -------------------------------------------------------------------------------------------- >>sessions --
   A capture from begin to end. It makes the same calls in the same order as AWS's own code, and sets every option. */

enum { /* prof_ntff_config.activities */
    PROF_NTFF_SYSTEM = 1,      /* system_profile: the runtime, and when NeuronCores were busy; takes host memory only */
    PROF_NTFF_DEVICE = 2,      /* device_profile: .ntff; takes some GB of device memory */
    PROF_NTFF_HOST_MEMORY = 4, /* host_memory: host_mem.pb, once a second */
    PROF_NTFF_CPU_UTIL = 8     /* cpu_util: cpu_util.pb, once a second */
};

typedef enum prof_ntff_device_mode {
    PROF_NTFF_DEVICE_SESSION = 0, /* all executions, in one .ntff */
    PROF_NTFF_DEVICE_MODEL        /* the first execution of each model on each core */
} prof_ntff_device_mode;

typedef enum prof_ntff_on_fail {
    PROF_NTFF_ON_FAIL_NO = 0,
    PROF_NTFF_ON_FAIL_TOO, /* also dumps the device's profile when an execution fails */
    PROF_NTFF_ON_FAIL_ONLY /* only does that, and captures nothing else */
} prof_ntff_on_fail;

/* A structure of zeros has the defaults. The comment of a field begins with its key for prof_ntff_config_set() and
   prof_config_set(), without NEURON_RT_INSPECT_. The caller owns the strings; only prof_ntff_session_begin() reads
   them. */
typedef struct prof_ntff_config {
    const char *output_dir;     /* OUTPUT_DIR: default "./output"; created if it does not exist */
    unsigned activities;        /* SYSTEM_PROFILE, DEVICE_PROFILE, HOST_MEMORY, CPU_UTIL: 0 is PROF_NTFF_SYSTEM */
    prof_ntff_device_mode device_mode; /* DEVICE_PROFILE: "1" or "model", "session" */
    prof_ntff_on_fail on_fail;  /* ON_FAIL: "1" is TOO */
    uint64_t max_events_per_nc; /* SYS_TRACE_MAX_EVENTS_PER_NC: default 0, which is the runtime's: a million */
    const char *ncs;            /* EVENT_FILTER_NC: "0,2,4-7": NeuronCores of system traces, below 128; default: all */
    const char *event_types;    /* EVENT_FILTER_TYPE: "hardware,nrt_execute,^cc_running": names, hardware or software;
                                   ^ excludes; default: all */
    int session_id;             /* the number in the names of device profiles; default 0, which means 1 */
    int no_trace_json;          /* 1: writes no trace.json into the session's folder */
} prof_ntff_config;

#define PROF_NTFF_PATH 1024 /* bytes of the longest path of these functions, with its zero */

#if PROF_ENABLE
/* Sets a field from text. key is a variable of Neuron's environment, such as "NEURON_RT_INSPECT_OUTPUT_DIR". Keeps the
   pointer to a string. Returns PROF_INVALID_ARGUMENT for unknown keys and invalid values. Accepts
   NEURON_RT_INSPECT_ENABLE=1. */
PROF_DEF prof_status prof_ntff_config_set(prof_ntff_config *config, const char *key, const char *value);

/* Begins a session with nrt_inspect_begin_with_options(), after nrt_init(). If config is NULL, uses the values that
   prof_config_set() has got for these keys so far, which it copied. If an option cannot be set, does not begin a
   session, and returns an error. */
PROF_DEF prof_status prof_ntff_session_begin(const prof_ntff_config *config);
/* Ends the session with nrt_inspect_stop(), which writes the files; must come before nrt_close(). Writes their folder
   to `folder` (NULL, or PROF_NTFF_PATH bytes), or "" after an error. Then writes what prof has recorded as trace.json
   there, unless there is one. Returns PROF_IO if the runtime has written nothing; with PROF_NTFF_ON_FAIL_ONLY that is
   PROF_OK, and folder is "". */
PROF_DEF prof_status prof_ntff_session_end(char *folder);
PROF_DEF int prof_ntff_session_active(void); /* returns 1 while a session of this header is open, else 0 */
#endif

/* Captures a device profile of every execution, and writes one only if asked to: for "save when it was slow". */
typedef struct prof_ntff_continuous {
    const char *output_dir; /* default "./output" */
    uint32_t vnc;           /* for on_save */
    int on_save;            /* 1: whenever prof saves the last seconds (see prof_config.save, save_over), its thread
                               also saves this core's latest profile, and saves nothing else meanwhile */
} prof_ntff_continuous;

#if PROF_ENABLE
/* Calls nrt_profile_continuous_start(), which needs synchronous execution, and no inspect session with a device
   profile. */
PROF_DEF prof_status prof_ntff_continuous_begin(const prof_ntff_continuous *config); /* NULL: all zero */
/* Saves the profile of the latest execution on this core to a file whose name the runtime chooses. */
PROF_DEF prof_status prof_ntff_continuous_save(uint32_t vnc);
/* Calls prof_ntff_continuous_save() if took_ns is more than limit_ns. Call it at the end of the scope that encloses the
   execution. Returns 1 if it has saved the profile, else 0. */
PROF_DEF int prof_ntff_continuous_save_if(uint32_t vnc, uint64_t took_ns, uint64_t limit_ns);
/* Calls nrt_profile_continuous_stop(); must come before nrt_close(). Waits for a save in progress. */
PROF_DEF prof_status prof_ntff_continuous_end(void);
/* Returns how many profiles were saved. The child of a fork() continues its parent's number. */
PROF_DEF uint64_t prof_ntff_continuous_saves(void);
#endif

/*-- SYSTEM TRACE ---------------------------------------------------------------------------------------- >>systrace --
   Puts what the runtime and its NeuronCores did on prof's time line, without files. Excludes an inspect session with a
   system profile, because they share a buffer. */

typedef struct prof_ntff_systrace {
    uint64_t max_events_per_nc; /* of the runtime's ring, which drops its oldest events without a notice; 0: default */
    const char *ncs;            /* as in prof_ntff_config */
    const char *event_types;
    prof_ntff_event_fn event;   /* NULL: prof_ntff_record, which records on tracks of the running session */
    void *user;
} prof_ntff_systrace;

#if PROF_ENABLE
/* Starts the system trace, after nrt_init(). config may be NULL: all zero. */
PROF_DEF prof_status prof_ntff_systrace_start(const prof_ntff_systrace *config);
/* Fetches the events since the previous call. Call it often enough that the ring does not get full, from any thread,
   but not from two at once. A start and its stop may come with different calls. Adds to stats, which may be NULL. */
PROF_DEF prof_status prof_ntff_systrace_fetch(prof_ntff_stats *stats);
/* Fetches once more, and stops the trace; must come before prof_stop() and nrt_close(). */
PROF_DEF prof_status prof_ntff_systrace_stop(prof_ntff_stats *stats);
#endif

/*-- STRIPPED: PROF_ENABLE=0 --*/
#if !PROF_ENABLE
#define PROF__NTFF_NO_LIST(list, count) \
    (prof__stripped_none(list, sizeof(void *)), prof__stripped_none(count, sizeof(size_t)), PROF_OK)
PROF__STRIPPED_INLINE void prof__ntff_no_stream(int *stream)
{
    if (stream) *stream = -1;
}
#define prof_ntff_load(path) PROF__STRIPPED(PROF_OK, PROF__USE(path))
#define prof_ntff_nrt_status_name(status) PROF__STRIPPED("", PROF__USE(status))
#define prof_ntff_capabilities() PROF__STRIPPED(0u, (void)0)
#define prof_ntff_nrt_status() PROF__STRIPPED(0u, (void)0)
#define prof_ntff_runtime_version() PROF__STRIPPED((const char *)0, (void)0)
#define prof_ntff_library() PROF__STRIPPED((const char *)0, (void)0)
#define prof_ntff_config_set(config, key, value) PROF__STRIPPED(PROF_OK, PROF__USE3(config, key, value))
#define prof_ntff_session_begin(config) PROF__STRIPPED(PROF_OK, PROF__USE(config))
#define prof_ntff_session_end(folder) PROF__STRIPPED((prof__stripped_none(folder, 1), PROF_OK), PROF__USE(folder))
#define prof_ntff_session_active() PROF__STRIPPED(0, (void)0)
#define prof_ntff_continuous_begin(config) PROF__STRIPPED(PROF_OK, PROF__USE(config))
#define prof_ntff_continuous_save(vnc) PROF__STRIPPED(PROF_OK, PROF__USE(vnc))
#define prof_ntff_continuous_save_if(vnc, took_ns, limit_ns) PROF__STRIPPED(0, PROF__USE3(vnc, took_ns, limit_ns))
#define prof_ntff_continuous_end() PROF__STRIPPED(PROF_OK, (void)0)
#define prof_ntff_continuous_saves() PROF__STRIPPED((uint64_t)0, (void)0)
#define prof_ntff_systrace_start(config) PROF__STRIPPED(PROF_OK, PROF__USE(config))
#define prof_ntff_systrace_fetch(stats) PROF__STRIPPED(PROF_OK, PROF__USE(stats))
#define prof_ntff_systrace_stop(stats) PROF__STRIPPED(PROF_OK, PROF__USE(stats))
#define prof_ntff_profile_start(model, filename) PROF__STRIPPED(PROF_OK, PROF__USE2(model, filename))
#define prof_ntff_profile_stop(filename) PROF__STRIPPED(PROF_OK, PROF__USE(filename))
#define prof_ntff_profile_continuous_options_allocate(options) \
    PROF__STRIPPED((prof__stripped_none(options, sizeof(void *)), PROF_OK), PROF__USE(options))
#define prof_ntff_profile_continuous_options_free(options) PROF__STRIPPED(PROF_OK, PROF__USE(options))
#define prof_ntff_profile_continuous_options_set_output_dir(options, output_dir) \
    PROF__STRIPPED(PROF_OK, PROF__USE2(options, output_dir))
#define prof_ntff_profile_continuous_start(options) PROF__STRIPPED(PROF_OK, PROF__USE(options))
#define prof_ntff_profile_continuous_save(vnc, options) PROF__STRIPPED(PROF_OK, PROF__USE2(vnc, options))
#define prof_ntff_profile_continuous_stop() PROF__STRIPPED(PROF_OK, (void)0)
#define prof_ntff_inspect_begin() PROF__STRIPPED(PROF_OK, (void)0)
#define prof_ntff_inspect_stop() PROF__STRIPPED(PROF_OK, (void)0)
#define prof_ntff_inspect_config_allocate(options) \
    PROF__STRIPPED((prof__stripped_none(options, sizeof(void *)), PROF_OK), PROF__USE(options))
#define prof_ntff_inspect_config_set_defaults(options) PROF__STRIPPED(PROF_OK, PROF__USE(options))
#define prof_ntff_inspect_config_free(options) PROF__STRIPPED(PROF_OK, PROF__USE(options))
#define prof_ntff_inspect_config_set_session_id(options, session_id) \
    PROF__STRIPPED(PROF_OK, PROF__USE2(options, session_id))
#define prof_ntff_inspect_config_set_output_dir(options, output_dir) \
    PROF__STRIPPED(PROF_OK, PROF__USE2(options, output_dir))
#define prof_ntff_inspect_config_set_sys_trace_max_events_per_nc(options, sys_trace_max_events_per_nc) \
    PROF__STRIPPED(PROF_OK, PROF__USE2(options, sys_trace_max_events_per_nc))
#define prof_ntff_inspect_config_set_capture_enabled_for_nc(options, nc_idx, enabled) \
    PROF__STRIPPED(PROF_OK, PROF__USE3(options, nc_idx, enabled))
#define prof_ntff_inspect_config_set_capture_enabled_for_event_type_string(options, event_type, enabled) \
    PROF__STRIPPED(PROF_OK, PROF__USE3(options, event_type, enabled))
#define prof_ntff_inspect_config_set_enable_inspect(options, enable_inspect) \
    PROF__STRIPPED(PROF_OK, PROF__USE2(options, enable_inspect))
#define prof_ntff_inspect_config_set_enable_inspect_on_fail(options, enable_inspect_on_fail) \
    PROF__STRIPPED(PROF_OK, PROF__USE2(options, enable_inspect_on_fail))
#define prof_ntff_inspect_begin_with_options(options) PROF__STRIPPED(PROF_OK, PROF__USE(options))
#define prof_ntff_inspect_config_get_all_activity_types(activity_types, count) \
    PROF__STRIPPED(PROF__NTFF_NO_LIST(activity_types, count), \
                   PROF__USE2(activity_types, count))
#define prof_ntff_inspect_config_get_enabled_activity_types(options, activity_types, count) \
    PROF__STRIPPED(PROF__NTFF_NO_LIST(activity_types, count), \
                   PROF__USE3(options, activity_types, count))
#define prof_ntff_inspect_config_free_activity_types(activity_types, count) \
    PROF__STRIPPED(PROF_OK, PROF__USE2(activity_types, count))
#define prof_ntff_inspect_config_set_activity(options, activity_type, enabled) \
    PROF__STRIPPED(PROF_OK, PROF__USE3(options, activity_type, enabled))
#define prof_ntff_inspect_config_set_inspect_device_profile_mode(options, mode) \
    PROF__STRIPPED(PROF_OK, PROF__USE2(options, mode))
#define prof_ntff_inspect_get_instance_output_dir(output_dir, instance_dir, size) \
    PROF__STRIPPED((prof__stripped_none(instance_dir, (size) != 0), PROF_OK), \
                   PROF__USE3(output_dir, instance_dir, size))
#define prof_ntff_sys_trace_config_allocate(options) \
    PROF__STRIPPED((prof__stripped_none(options, sizeof(void *)), PROF_OK), PROF__USE(options))
#define prof_ntff_sys_trace_config_set_defaults(options) PROF__STRIPPED(PROF_OK, PROF__USE(options))
#define prof_ntff_sys_trace_config_free(options) PROF__STRIPPED(PROF_OK, PROF__USE(options))
#define prof_ntff_sys_trace_config_set_max_events_per_nc(options, max_events_per_nc) \
    PROF__STRIPPED(PROF_OK, PROF__USE2(options, max_events_per_nc))
#define prof_ntff_sys_trace_config_set_capture_enabled_for_nc(options, nc_idx, enabled) \
    PROF__STRIPPED(PROF_OK, PROF__USE3(options, nc_idx, enabled))
#define prof_ntff_sys_trace_config_set_capture_enabled_for_event_type(options, event_type, enabled) \
    PROF__STRIPPED(PROF_OK, PROF__USE3(options, event_type, enabled))
#define prof_ntff_sys_trace_get_event_types(event_types, count) \
    PROF__STRIPPED(PROF__NTFF_NO_LIST(event_types, count), \
                   PROF__USE2(event_types, count))
#define prof_ntff_sys_trace_free_event_types(event_types, count) PROF__STRIPPED(PROF_OK, PROF__USE2(event_types, count))
#define prof_ntff_sys_trace_config_get_enabled_event_types(options, event_types, count) \
    PROF__STRIPPED(PROF__NTFF_NO_LIST(event_types, count), \
                   PROF__USE3(options, event_types, count))
#define prof_ntff_sys_trace_start(options) PROF__STRIPPED(PROF_OK, PROF__USE(options))
#define prof_ntff_sys_trace_stop() PROF__STRIPPED(PROF_OK, (void)0)
#define prof_ntff_sys_trace_fetch_options_allocate(options) \
    PROF__STRIPPED((prof__stripped_none(options, sizeof(void *)), PROF_OK), PROF__USE(options))
#define prof_ntff_sys_trace_fetch_options_set_defaults(options) PROF__STRIPPED(PROF_OK, PROF__USE(options))
#define prof_ntff_sys_trace_fetch_options_free(options) PROF__STRIPPED(PROF_OK, PROF__USE(options))
#define prof_ntff_sys_trace_fetch_options_set_max_events_per_nc(options, max_events_per_nc) \
    PROF__STRIPPED(PROF_OK, PROF__USE2(options, max_events_per_nc))
#define prof_ntff_sys_trace_fetch_options_set_nc_idx(options, nc_idx) \
    PROF__STRIPPED(PROF_OK, PROF__USE2(options, nc_idx))
#define prof_ntff_sys_trace_fetch_events(buffer, written_size, options) \
    PROF__STRIPPED(PROF__NTFF_NO_LIST(buffer, written_size), \
                   PROF__USE3(buffer, written_size, options))
#define prof_ntff_sys_trace_buffer_free(buffer) PROF__STRIPPED(PROF_OK, PROF__USE(buffer))
#define prof_ntff_trace_start(trace_mem) PROF__STRIPPED(PROF_OK, PROF__USE(trace_mem))
#define prof_ntff_trace_stop(filename) PROF__STRIPPED(PROF_OK, PROF__USE(filename))
#define prof_ntff_debug_client_connect(logical_nc_idx, stream_fd) \
    PROF__STRIPPED((prof__ntff_no_stream(stream_fd), PROF_OK), PROF__USE2(logical_nc_idx, stream_fd))
#define prof_ntff_debug_client_connect_close(stream_fd) PROF__STRIPPED(PROF_OK, PROF__USE(stream_fd))
#define prof_ntff_debug_client_read_one_event(stream_fd, header, payload) \
    PROF__STRIPPED((prof__stripped_none(payload, sizeof(void *)), PROF_OK), PROF__USE3(stream_fd, header, payload))
#define prof_ntff_register_async_exec_callback(callback, params) PROF__STRIPPED(PROF_OK, PROF__USE2(callback, params))
#define prof_ntff_async_drain_queued_execs(vnc) PROF__STRIPPED(PROF_OK, PROF__USE(vnc))
#define prof_ntff_get_model_info(model, info, info_size_in, info_size_out) \
    PROF__STRIPPED((prof__stripped_none(info, info_size_in), PROF__NTFF_NO_LIST(NULL, info_size_out)), \
                   (0 ? (void)(model) : PROF__USE3(info, info_size_in, info_size_out)))
#define prof_ntff_get_version(version, size) \
    PROF__STRIPPED((prof__stripped_none(version, size), PROF_OK), PROF__USE2(version, size))
#define prof_ntff_get_instance_info(info, instance_info_len) \
    PROF__STRIPPED((prof__stripped_none(info, instance_info_len), PROF_OK), PROF__USE2(info, instance_info_len))
#define prof_ntff_get_visible_vnc_count(vnc_count) \
    PROF__STRIPPED((prof__stripped_none(vnc_count, sizeof(uint32_t)), PROF_OK), PROF__USE(vnc_count))
#define prof_ntff_get_visible_nc_count(vnc_count) \
    PROF__STRIPPED((prof__stripped_none(vnc_count, sizeof(uint32_t)), PROF_OK), PROF__USE(vnc_count))
#define prof_ntff_get_total_vnc_count(vnc_count) \
    PROF__STRIPPED((prof__stripped_none(vnc_count, sizeof(uint32_t)), PROF_OK), PROF__USE(vnc_count))
#define prof_ntff_get_total_nc_count(vnc_count) \
    PROF__STRIPPED((prof__stripped_none(vnc_count, sizeof(uint32_t)), PROF_OK), PROF__USE(vnc_count))
#define prof_ntff_init(framework, fw_version, fal_version) \
    PROF__STRIPPED(PROF_OK, PROF__USE3(framework, fw_version, fal_version))
#define prof_ntff_close() PROF__STRIPPED(PROF_OK, (void)0)
#define prof_ntff_get_status_as_str(status) PROF__STRIPPED("", PROF__USE(status))
#endif

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif /* PROF_NTFF_H */

/*== END OF HEADER ==================================================================================================*/

#if defined(PROF_IMPLEMENTATION) && PROF_ENABLE && !defined(PROF_FREESTANDING) && !defined(PROF__NTFF_IMPLEMENTED)
#define PROF__NTFF_IMPLEMENTED
#ifdef PROF_NO_TEXT
#error "prof_ntff.h needs keys as text: take PROF_NO_TEXT away"
#endif

#ifdef PROF__WRAPS_MALLOC /* what prof itself allocates is not the program's */
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

/*-- CLOCK ----------------------------------------------------------------------------------------------- >>clock -- */

#define PROF__NTFF_NOISE 50000 /* ns between readings of two clocks, at most, if they are read one after the other */
#define PROF__NTFF_FAR ((int64_t)1 << 62) /* ns: later than any time that can be true */

static int64_t prof__ntff_minus(int64_t a, int64_t b) /* saturates at the limits of the type */
{
    if (b < 0 ? a > INT64_MAX + b : a < INT64_MIN + b) return b < 0 ? INT64_MAX : INT64_MIN;
    return a - b;
}

/* Two moments, each on both clocks of a host: CLOCK_MONOTONIC and Unix time. Linux adjusts both clocks alike, so they
   have one rate, apart from noise. */
typedef struct prof__ntff_clock {
    int64_t host, unix_ns; /* the first moment on each clock */
    int64_t span, off;     /* span: from there to the second, in host time; off: how much longer in Unix time */
    int stepped;           /* 1: Unix time was set in between, so `off` is not used */
} prof__ntff_clock;

/* Makes a clock from two pairs. Sets all to zero if there is no Unix time, or if a time is a century or more, which
   cannot be true. */
static void prof__ntff_clock_of(prof__ntff_clock *clock, const prof__pair *first, const prof__pair *last)
{
    int64_t much;
    memset(clock, 0, sizeof *clock);
    if (first->unix_ns >= (uint64_t)PROF__NTFF_FAR || first->monotonic_ns >= (uint64_t)PROF__NTFF_FAR / 2) return;
    clock->host = (int64_t)first->monotonic_ns;
    clock->unix_ns = (int64_t)first->unix_ns;
    if (last->monotonic_ns <= first->monotonic_ns || !last->unix_ns) return;
    if (last->monotonic_ns - first->monotonic_ns > (uint64_t)1 << 60 || last->unix_ns > (uint64_t)INT64_MAX)
        return;
    clock->span = (int64_t)(last->monotonic_ns - first->monotonic_ns);
    clock->off = (int64_t)(last->unix_ns - first->unix_ns) - clock->span;
    much = clock->off < 0 ? -clock->off : clock->off;
    clock->stepped = much > PROF__NTFF_NOISE + clock->span / 2000;
    if (clock->stepped || much <= PROF__NTFF_NOISE || much > clock->span / 1000) clock->span = clock->off = 0;
}

/* Returns how much more Unix time than host time passes in the time `since`. At most 0.5 per mille, so a double is
   exact enough. span: the whole time between the two moments, on the clock of `since`. */
static int64_t prof__ntff_clock_part(const prof__ntff_clock *clock, int64_t since, int64_t span)
{
    double off = clock->span ? (double)since * ((double)clock->off / (double)span) : 0;
    if (off > 1e15) off = 1e15;
    if (off < -1e15) off = -1e15;
    return (int64_t)(off < 0 ? off - 0.5 : off + 0.5);
}

static int64_t prof__ntff_clock_off(const prof__ntff_clock *clock, int64_t since)
{
    return prof__ntff_clock_part(clock, since, clock->span);
}

/* Converts a time since the first moment, on the host's clock, to Unix time. */
static int64_t prof__ntff_clock_unix(const prof__ntff_clock *clock, int64_t since)
{
    return prof__ntff_minus(since, -(clock->unix_ns + prof__ntff_clock_off(clock, since)));
}

/* Converts a Unix time, 0 to 2^62 ns, to the host's clock. */
static int64_t prof__ntff_clock_host(const prof__ntff_clock *clock, int64_t unix_ns)
{
    int64_t since = unix_ns - clock->unix_ns;
    return clock->host + since - prof__ntff_clock_part(clock, since, clock->span + clock->off);
}

static void prof__ntff_clock_of_trace(prof__ntff_clock *clock, const prof_trace *trace)
{
    prof__pair first, last;
    prof__trace_pairs(trace, &first, &last);
    prof__ntff_clock_of(clock, &first, &last);
}

PROF_DEF int64_t prof_ntff_unix_ns(const prof_trace *trace, int64_t ns)
{
    prof__ntff_clock clock;
    if (!trace) return 0;
    prof__ntff_clock_of_trace(&clock, trace);
    return prof__ntff_clock_unix(&clock, ns);
}

/*-- JSON ---------------------------------------------------------------------------------------------------- >>json --
   A pull parser: the caller asks for one value after another. It reads files through a buffer, so its memory does not
   grow with the file. To parse an element of a long array, the parser first skips all of it, to find its end, and then
   parses it in memory. A number stays a text until the caller asks for an integer, so 64-bit integers are exact. */

#define PROF__JSON_BUFFER ((size_t)65536)
#define PROF__JSON_DEPTH 64               /* how deep brackets may be nested */
#define PROF__JSON_MAX ((size_t)1 << 20) /* how many bytes an element of a file may have */

typedef struct prof__json {
    const char *at, *end;
    const char *begin;  /* the first byte in memory */
    uint64_t passed;    /* how many bytes of the text came before `begin` */
    FILE *file;         /* the file with the rest of the text; NULL: there is no rest */
    char *buffer;       /* holds a part of the file */
    const char *from;   /* while an element is skipped: the first byte that `copy` does not have; else NULL */
    char *copy;
    size_t copied, capacity;
    int over;           /* 1: the element is larger than PROF__JSON_MAX */
    const char *error;  /* what is wrong with the text; NULL: nothing */
    int unread;         /* the errno of a read that failed; 0: none did */
} prof__json;

/* A part of the text, in memory. */
typedef struct prof__slice {
    const char *bytes;
    size_t size;
} prof__slice;

/* A decoded number, literal or string. */
typedef struct prof__json_value {
    char type; /* '"', '0', 't', 'f', 'n', or the bracket of a value that was skipped; 0: an error */
    char text[PROF_MAX_TEXT + 24];
} prof__json_value;

static void prof__json_memory(prof__json *j, const char *bytes, size_t size)
{
    memset(j, 0, sizeof *j);
    j->begin = j->at = bytes;
    j->end = bytes + size;
}

static prof_status prof__json_open(prof__json *j, const char *path)
{
    memset(j, 0, sizeof *j);
    j->file = prof__file_open(path, "rb");
    if (!j->file) return prof__fail(PROF_IO, "cannot open %s: %s", path, strerror(errno));
    j->buffer = (char *)malloc(PROF__JSON_BUFFER);
    j->begin = j->at = j->end = j->buffer;
    if (j->buffer) return PROF_OK;
    fclose(j->file);
    return prof__fail(PROF_NO_MEMORY, "%s: no memory to read it", path);
}

static void prof__json_close(prof__json *j)
{
    if (j->file) fclose(j->file);
    free(j->buffer);
    free(j->copy);
}

static int prof__json_fail(prof__json *j, const char *why)
{
    if (!j->error) j->error = why;
    return 0;
}

static uint64_t prof__json_offset(const prof__json *j) { return j->passed + (uint64_t)(j->at - j->begin); }

static void prof__json_keep(prof__json *j)
{
    size_t size = (size_t)(j->at - j->from), capacity = j->capacity ? j->capacity : 4096;
    char *more;
    if (j->over || size > PROF__JSON_MAX - j->copied) {
        j->over = 1;
        return;
    }
    while (capacity < j->copied + size) capacity *= 2;
    if (capacity > j->capacity) {
        more = (char *)realloc(j->copy, capacity);
        if (!more) {
            j->over = 1;
            return;
        }
        j->copy = more;
        j->capacity = capacity;
    }
    if (size) memcpy(j->copy + j->copied, j->from, size);
    j->copied += size;
}

static int prof__json_refill(prof__json *j)
{
    size_t got;
    if (!j->file || j->error) return 0;
    if (j->from) prof__json_keep(j);
    j->passed += (uint64_t)(j->end - j->begin);
    errno = 0;
    got = fread(j->buffer, 1, PROF__JSON_BUFFER, j->file);
    j->begin = j->at = j->buffer;
    j->end = j->buffer + got;
    if (j->from) j->from = j->buffer;
    if (!got && ferror(j->file)) {
        j->unread = errno ? errno : EIO;
        prof__json_fail(j, "cannot be read");
    }
    return got != 0;
}

/* Sets prof_error() after an error: what is wrong, and where. then: what follows from it, or "". */
static prof_status prof__json_say(const prof__json *j, const char *what, const char *then)
{
    if (j->unread) return prof__fail(PROF_IO, "cannot read %s: %s%s", what, strerror(j->unread), then);
    return prof__fail(PROF_CORRUPT, "%s: %s (byte %llu)%s", what, j->error, (unsigned long long)prof__json_offset(j),
                      then);
}

/* Reads more of the file if no byte is left in memory. Returns 0 at the end of the text. */
static inline int prof__json_fill(prof__json *j) { return j->at < j->end || prof__json_refill(j); }

/* Skips spaces. Returns the next byte, which stays unread. Returns -1 at the end. */
static int prof__json_peek(prof__json *j)
{
    for (; prof__json_fill(j); j->at++)
        if (*j->at != ' ' && *j->at != '\n' && *j->at != '\r' && *j->at != '\t') return (unsigned char)*j->at;
    return -1;
}

static int prof__json_expect(prof__json *j, char c, const char *otherwise)
{
    int next = prof__json_peek(j);
    if (next != c) return prof__json_fail(j, next < 0 ? "ends too early" : otherwise);
    j->at++;
    return 1;
}

/* Skips the string that begins here. */
static int prof__json_pass_string(prof__json *j)
{
    j->at++;
    while (prof__json_fill(j)) {
        const char *at = j->at;
        while (at < j->end && *at != '"' && *at != '\\') at++;
        j->at = at;
        if (at == j->end) continue;
        j->at++;
        if (*at == '"') return 1;
        if (!prof__json_fill(j)) break;
        j->at++;
    }
    return prof__json_fail(j, "ends inside a string");
}

static int prof__json_plain(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '+' ||
           c == '.';
}

/* Skips a value. Only checks that brackets match; the rest is checked when the value is parsed. */
static int prof__json_pass(prof__json *j)
{
    char close[PROF__JSON_DEPTH];
    unsigned depth = 0;
    do {
        int c = prof__json_peek(j);
        if (c < 0) return prof__json_fail(j, "ends too early");
        if (c == '"') {
            if (!prof__json_pass_string(j)) return 0;
        } else if (c == '{' || c == '[') {
            if (depth == PROF__JSON_DEPTH) return prof__json_fail(j, "is nested too deeply");
            close[depth++] = c == '{' ? '}' : ']';
            j->at++;
        } else if (depth && c == close[depth - 1]) {
            depth--;
            j->at++;
        } else if (depth && (c == ',' || c == ':')) {
            j->at++;
        } else if (prof__json_plain((char)c)) {
            while (prof__json_fill(j) && prof__json_plain(*j->at)) j->at++;
        } else {
            return prof__json_fail(j, "is not JSON");
        }
    } while (depth);
    return 1;
}

/* Skips a value, and sets `slice` to its bytes, which stay valid until the next call. Returns 0 after an error. */
static int prof__json_slice(prof__json *j, prof__slice *slice)
{
    const char *begin;
    int good;
    if (prof__json_peek(j) < 0) return prof__json_fail(j, "ends too early");
    begin = j->at;
    if (!j->file) {
        good = prof__json_pass(j);
        slice->bytes = begin;
        slice->size = (size_t)(j->at - begin);
        return good;
    }
    j->copied = 0;
    j->over = 0;
    j->from = begin;
    good = prof__json_pass(j);
    if (good && !j->copied && !j->over) { /* all of it is still in the buffer */
        slice->bytes = j->from;
        slice->size = (size_t)(j->at - j->from);
    } else if (good) {
        prof__json_keep(j);
        slice->bytes = j->copy;
        slice->size = j->over ? 0 : j->copied;
    }
    j->from = NULL;
    return good;
}

/* Returns 1 if another element comes before the closing bracket. The caller sets *first to 1 before the first call. */
static int prof__json_more(prof__json *j, char close, int *first)
{
    int c = prof__json_peek(j), begins = *first;
    *first = 0;
    if (c == close) {
        j->at++;
        return 0;
    }
    if (!begins && !prof__json_expect(j, ',', "lacks a comma")) return 0;
    if (begins && c < 0) return prof__json_fail(j, "ends too early");
    return 1;
}

static int prof__json_hex(prof__json *j, unsigned *code)
{
    int i;
    *code = 0;
    for (i = 0; i < 4; i++) {
        unsigned char c;
        if (!prof__json_fill(j)) return prof__json_fail(j, "ends inside a string");
        c = (unsigned char)*j->at++;
        if (c >= '0' && c <= '9')
            *code = *code * 16 + (c - '0');
        else if ((c | 32) >= 'a' && (c | 32) <= 'f')
            *code = *code * 16 + ((c | 32u) - 'a' + 10);
        else
            return prof__json_fail(j, "has an invalid \\u in a string");
    }
    return 1;
}

/* Appends a character. If the space is too small for the whole character, appends nothing, then or later. */
static void prof__json_put(char *to, size_t size, size_t *used, unsigned code)
{
    char bytes[4];
    size_t count = prof__utf8_write(bytes, code);
    if (*used + count >= size) {
        to[*used] = 0;
        *used = size;
        return;
    }
    memcpy(to + *used, bytes, count);
    *used += count;
}

/* Reads the escape after a backslash. Zeros, and halves of surrogate pairs without the other half, become U+FFFD. */
static int prof__json_escape(prof__json *j, unsigned *code)
{
    static const char escapes[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    const char *found;
    unsigned low = 0;
    char c;
    if (!prof__json_fill(j)) return prof__json_fail(j, "ends inside a string");
    c = *j->at++;
    found = c ? strchr(escapes, c) : NULL;
    if (found) {
        *code = (unsigned char)meant[found - escapes];
        return 1;
    }
    if (c != 'u') return prof__json_fail(j, "has an unknown escape in a string");
    if (!prof__json_hex(j, code)) return 0;
    if (*code >= 0xD800 && *code < 0xDC00 && prof__json_fill(j) && *j->at == '\\') {
        j->at++;
        if (!prof__json_fill(j) || *j->at++ != 'u') return prof__json_fail(j, "has half a surrogate pair in a string");
        if (!prof__json_hex(j, &low)) return 0;
        *code = low >= 0xDC00 && low < 0xE000 ? 0x10000 + ((*code & 0x3FF) << 10) + (low & 0x3FF) : 0xFFFD;
    }
    if (!*code || (*code >= 0xD800 && *code < 0xE000)) *code = 0xFFFD;
    return 1;
}

/* Reads and decodes the string that begins here. Cuts it to `size` bytes, and terminates it. */
static int prof__json_string(prof__json *j, char *to, size_t size)
{
    size_t used = 0;
    unsigned code;
    to[0] = 0;
    if (!prof__json_expect(j, '"', "has no string where one should be")) return 0;
    while (prof__json_fill(j)) {
        const char *at = j->at;
        size_t run;
        char c;
        while (at < j->end && *at != '"' && *at != '\\' && *at) at++;
        run = (size_t)(at - j->at);
        if (used < size && run > size - 1 - used) run = size - 1 - used;
        if (run) { /* copies a run at once: byte by byte, each search for its end would be as long as the run */
            if (used < size) {
                memcpy(to + used, j->at, run);
                used += run;
            }
            j->at += run;
            continue;
        }
        c = *j->at++;
        if (c == '"') {
            if (used < size) to[used] = 0;
            return 1;
        }
        if (c == '\\') {
            if (!prof__json_escape(j, &code)) return 0;
            if (used < size) prof__json_put(to, size, &used, code);
        } else if (used + 1 < size) {
            to[used++] = c ? c : '?';
        } else if (used < size) { /* cuts the text, but not inside a character */
            while (used && prof__utf8_inner(c)) c = to[--used];
            to[used] = 0;
            used = size;
        }
    }
    return prof__json_fail(j, "ends inside a string");
}

static int prof__json_key(prof__json *j, char *key, size_t size)
{
    return prof__json_string(j, key, size) && prof__json_expect(j, ':', "has no colon after a key");
}

/* Reads a value. Copies the text of a number, literal or string; skips arrays and objects. */
static int prof__json_take(prof__json *j, prof__json_value *value)
{
    int c = prof__json_peek(j);
    size_t used = 0;
    value->type = 0;
    value->text[0] = 0;
    if (c == '{' || c == '[') {
        value->type = (char)c;
        return prof__json_pass(j);
    }
    if (c == '"') {
        value->type = '"';
        return prof__json_string(j, value->text, sizeof value->text);
    }
    while (prof__json_fill(j) && prof__json_plain(*j->at)) {
        if (used + 1 < sizeof value->text) value->text[used++] = *j->at;
        j->at++;
    }
    value->text[used] = 0;
    if (!used) return prof__json_fail(j, c < 0 ? "ends too early" : "is not JSON");
    value->type = c == 't' || c == 'f' || c == 'n' ? (char)c : '0';
    return 1;
}

/* Reads an integer in any of these notations: 12, "12", 12.0, 1.2e1. Drops decimals. Returns 0 if the text is no
   number, or has more than 64 bits. */
static int prof__json_whole(const char *text, int *negative, uint64_t *number)
{
    uint64_t value = 0;
    int point = 0, full = 0, digits = 0, down = 0;
    long shift = 0, exponent = 0;
    *negative = *text == '-';
    text += *negative;
    for (; (*text >= '0' && *text <= '9') || (*text == '.' && !point); text++) {
        uint64_t digit = (uint64_t)(*text - '0');
        if (*text == '.') {
            point = 1;
            continue;
        }
        digits++;
        if (full || value > (~(uint64_t)0 - digit) / 10) {
            if (!point) return 0;
            full = 1;
            continue;
        }
        value = value * 10 + digit;
        shift -= point;
    }
    if (!digits) return 0;
    if (*text == 'e' || *text == 'E') {
        down = *++text == '-';
        if (*text == '-' || *text == '+') text++;
        if (!*text) return 0;
        for (; *text >= '0' && *text <= '9'; text++)
            exponent = exponent < 10000 ? exponent * 10 + (*text - '0') : exponent;
        shift += down ? -exponent : exponent;
    }
    if (*text) return 0;
    for (; shift > 0 && value; shift--) {
        if (value > ~(uint64_t)0 / 10) return 0;
        value *= 10;
    }
    for (; shift < 0 && value; shift++) value /= 10;
    *number = value;
    return 1;
}

static int prof__json_unsigned(const prof__json_value *value, uint64_t *number)
{
    uint64_t whole;
    int negative;
    if ((value->type != '0' && value->type != '"') || !prof__json_whole(value->text, &negative, &whole)) return 0;
    if (negative && whole) return 0;
    *number = whole;
    return 1;
}

static int prof__json_signed(const prof__json_value *value, int64_t *number)
{
    uint64_t whole;
    int negative;
    if ((value->type != '0' && value->type != '"') || !prof__json_whole(value->text, &negative, &whole)) return 0;
    if (whole > (uint64_t)INT64_MAX + (uint64_t)negative) return 0;
    *number = negative ? (int64_t)(0 - whole) : (int64_t)whole;
    return 1;
}

/* Reads a floating-point number. Works alike in every locale. Numbers of up to 15 digits and 22 decimals are exact.
   Returns 0 if the value is no number. */
static int prof__json_double(const prof__json_value *value, double *number)
{
    const char *text = value->text;
    int negative = *text == '-', point = 0, digits = 0, down = 0;
    double mantissa = 0, scale = 1;
    long shift = 0, exponent = 0;
    if (value->type != '0' && value->type != '"') return 0;
    for (text += negative; (*text >= '0' && *text <= '9') || (*text == '.' && !point); text++) {
        if (*text == '.') {
            point = 1;
        } else {
            digits++;
            if (mantissa < 9e14) {
                mantissa = mantissa * 10 + (*text - '0');
                shift -= point;
            } else {
                shift += !point;
            }
        }
    }
    if (!digits) return 0;
    if (*text == 'e' || *text == 'E') {
        down = *++text == '-';
        if (*text == '-' || *text == '+') text++;
        if (!*text) return 0;
        for (; *text >= '0' && *text <= '9'; text++)
            exponent = exponent < 10000 ? exponent * 10 + (*text - '0') : exponent;
        shift += down ? -exponent : exponent;
    }
    if (*text) return 0;
    down = shift < 0;
    if (down) shift = -shift;
    if (shift > 700) shift = 700;
    for (; shift && mantissa > 0; shift--) {
        if (scale > 1e21) {
            mantissa = down ? mantissa / scale : mantissa * scale;
            scale = 1;
        }
        scale *= 10;
    }
    mantissa = down ? mantissa / scale : mantissa * scale;
    if (!prof__finite(mantissa)) return 0;
    *number = negative ? -mantissa : mantissa;
    return 1;
}

/*-- EVENTS --------------------------------------------------------------------------------------------- >>events -- */

#define PROF__NTFF_OPEN 65536u                 /* how many starts may wait for stops, and events for sync points */
#define PROF__NTFF_BYTES ((size_t)64 << 20)    /* how much memory each of the two may take */
#define PROF__NTFF_SYNCS 65536u                /* how many sync points are kept */
#define PROF__NTFF_LATE 1024u                  /* how many older ones are searched with those of each piece of JSON */
#define PROF__NTFF_DATA ((size_t)16384)        /* bytes of data that are kept with a start; longer data are left out */
#define PROF__NTFF_CORES 1024                  /* physical cores of a machine; higher numbers count as not known */

/* The fields of a JSON object that is an event, its start or its stop. Times are Unix time; nc_ns is the core's
   time. */
typedef struct prof__ntff_said {
    prof_ntff_event event;
    char name[PROF_MAX_TEXT + 24], instance[64];
    char phase; /* 's': a start, or with `stop` a stop; 'i': an instant; 0: not known */
    int stop, has_time, has_duration, has_nc, has_cpu, has_value, has_source;
    int64_t time, duration, unit, nc_ns, cpu_ns, lnc_idx;
    double percent; /* 0: not known */
} prof__ntff_said;

/* An event that is kept: a start that waits for its stop, or an event in the core's time that waits for a sync point.
   The texts of its name, instance and args follow it in memory. */
typedef struct prof__ntff_open {
    struct prof__ntff_open *next;           /* the next in the same slot of the table */
    struct prof__ntff_open *older, *newer;
    uint32_t hash;
    size_t bytes;
    prof_ntff_event event;
    int raw;                                /* 1: its times are the core's */
    int64_t nc_ns;                          /* its start in the core's time */
    int has_nc;
} prof__ntff_open;

typedef struct prof__ntff_list {
    prof__ntff_open *oldest, *newest;
    size_t count, bytes;
} prof__ntff_list;

typedef struct prof__ntff_sync {
    int64_t nc_ns, cpu_ns;
    uint64_t exec_id;
    int32_t nc_idx, core_idx;
} prof__ntff_sync;

struct prof_ntff_parser {
    prof_ntff_event_fn fn;
    void *user;
    int ended; /* 1: fn has asked to stop */
    prof_ntff_stats stats;
    prof__ntff_open *slots[4096];
    prof__ntff_list starts, raw;
    prof__ntff_sync *syncs;
    size_t sync_count, sync_capacity;
    uint64_t sync_next; /* how many have come; the ring `syncs` overwrites the oldest */
    uint64_t sync_seen; /* sync_next when waiting events were last converted */
    prof__ntff_sync last[64]; /* the newest of each core, for 64 cores */
    size_t last_count;
    prof__ntff_said said;
    prof__json_value value;
};

static int prof__ntff_is_hardware(const char *name)
{
    static const char *const names[] = {"nc_exec_running", "cc_running",      "cc_exec_barrier",      "numerical_err",
                                        "nc_model_switch", "nrt_model_switch", "timestamp_sync_point", "hw_notify"};
    size_t i;
    for (i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(name, names[i])) return 1;
    return 0;
}

/*-- handing over --*/

static void prof__ntff_hand_over(prof_ntff_parser *p, const prof_ntff_event *event)
{
    prof_ntff_stats *stats = &p->stats;
    if (p->ended) return;
    stats->events++;
    stats->instants += event->duration_ns < 0 && !(event->flags & PROF_NTFF_COUNTER);
    stats->counters += (event->flags & PROF_NTFF_COUNTER) != 0;
    stats->unmatched_starts += (event->flags & PROF_NTFF_UNMATCHED_START) != 0;
    stats->unmatched_stops += (event->flags & PROF_NTFF_UNMATCHED_STOP) != 0;
    stats->realigned += (event->flags & PROF_NTFF_REALIGNED) != 0;
    stats->raw_clock += (event->flags & PROF_NTFF_RAW_CLOCK) != 0;
    if (!(event->flags & PROF_NTFF_RAW_CLOCK)) {
        int64_t end = event->start_ns + (event->duration_ns > 0 ? event->duration_ns : 0);
        if (!stats->first_ns || event->start_ns < stats->first_ns) stats->first_ns = event->start_ns;
        if (end > stats->last_ns) stats->last_ns = end;
    }
    if (p->fn && p->fn(p->user, event)) p->ended = 1;
}

/*-- what waits --*/

static uint32_t prof__ntff_hash(const prof_ntff_event *event)
{
    uint64_t key = prof__mix(event->tracking_id + 0x9E3779B97F4A7C15u * ((uint32_t)event->nc_idx + 1u));
    return (uint32_t)prof__mix(key ^ prof__text_hash(event->name));
}

/* Returns 1 if a start and a stop may belong together. If two physical cores run one program, both may use one tracking
   id. Then only the number of the core tells them apart, if both events have it. */
static int prof__ntff_same(const prof_ntff_event *a, const prof_ntff_event *b)
{
    return a->tracking_id == b->tracking_id && a->nc_idx == b->nc_idx &&
           (a->core_idx < 0 || b->core_idx < 0 || a->core_idx == b->core_idx) && !strcmp(a->name, b->name);
}

/* Returns a copy of an event, with its texts, on the heap. Returns NULL without memory. */
static prof__ntff_open *prof__ntff_keep(const prof__ntff_said *said)
{
    const prof_ntff_event *event = &said->event;
    size_t name = strlen(event->name) + 1, instance = strlen(event->instance) + 1;
    size_t args = event->args_size <= PROF__NTFF_DATA ? event->args_size : 0;
    size_t bytes = sizeof(prof__ntff_open) + name + instance + args;
    prof__ntff_open *kept = (prof__ntff_open *)malloc(bytes);
    char *text = (char *)(kept + 1);
    if (!kept) return NULL;
    memset(kept, 0, sizeof *kept);
    kept->event = *event;
    kept->bytes = bytes;
    kept->has_nc = said->has_nc;
    kept->nc_ns = said->nc_ns;
    kept->event.name = (char *)memcpy(text, event->name, name);
    kept->event.instance = (char *)memcpy(text + name, event->instance, instance);
    kept->event.args = args ? (char *)memcpy(text + name + instance, event->args, args) : NULL;
    kept->event.args_size = args;
    return kept;
}

static void prof__ntff_append(prof__ntff_list *list, prof__ntff_open *kept)
{
    kept->older = list->newest;
    kept->newer = NULL;
    if (list->newest)
        list->newest->newer = kept;
    else
        list->oldest = kept;
    list->newest = kept;
    list->count++;
    list->bytes += kept->bytes;
}

static void prof__ntff_unlink(prof__ntff_list *list, prof__ntff_open *kept)
{
    if (kept->older)
        kept->older->newer = kept->newer;
    else
        list->oldest = kept->newer;
    if (kept->newer)
        kept->newer->older = kept->older;
    else
        list->newest = kept->older;
    list->count--;
    list->bytes -= kept->bytes;
}

/* Removes from the table the start that an event ends: the start of a stop or, for a start, an earlier start that has
   lost its stop. If there are several, that is the oldest. Returns NULL if there is none. */
static prof__ntff_open *prof__ntff_claim(prof_ntff_parser *p, const prof_ntff_event *event)
{
    uint32_t hash = prof__ntff_hash(event);
    prof__ntff_open **at = &p->slots[hash % (sizeof p->slots / sizeof *p->slots)], **oldest = NULL, *found;
    for (; *at; at = &(*at)->next)
        if ((*at)->hash == hash && prof__ntff_same(&(*at)->event, event)) oldest = at;
    if (!oldest) return NULL;
    found = *oldest;
    *oldest = found->next;
    prof__ntff_unlink(&p->starts, found);
    return found;
}

/*-- the clocks of cores --*/

static int prof__sync_order(const void *a, const void *b)
{
    const prof__ntff_sync *x = (const prof__ntff_sync *)a, *y = (const prof__ntff_sync *)b;
    if (x->nc_idx != y->nc_idx) return x->nc_idx < y->nc_idx ? -1 : 1;
    if (x->exec_id != y->exec_id) return x->exec_id < y->exec_id ? -1 : 1;
    return x->nc_ns < y->nc_ns ? -1 : x->nc_ns > y->nc_ns;
}

static int prof__sync_time_order(const void *a, const void *b)
{
    const prof__ntff_sync *x = (const prof__ntff_sync *)a, *y = (const prof__ntff_sync *)b;
    if (x->nc_idx != y->nc_idx) return x->nc_idx < y->nc_idx ? -1 : 1;
    return x->nc_ns < y->nc_ns ? -1 : x->nc_ns > y->nc_ns;
}

/* Returns 1 if a sync point is one of the event's core. Each physical core of a NeuronCore has its own clock. An event
   that does not name its physical core fits all of them. */
static int prof__sync_fits(const prof__ntff_sync *sync, const prof_ntff_event *event)
{
    return sync->nc_idx == event->nc_idx &&
           (sync->core_idx < 0 || event->core_idx < 0 || sync->core_idx == event->core_idx);
}

/* Returns the index of the first sorted sync point that is not before `key`. */
static size_t prof__sync_find(const prof__ntff_sync *syncs, size_t count, const prof__ntff_sync *key,
                              int (*order)(const void *, const void *))
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (order(&syncs[middle], key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Returns the sync point that was taken after an event's execution. Returns NULL if there is none. Looks at 64
   candidates at most, so that a hostile file cannot make each search slow. */
static const prof__ntff_sync *prof__sync_of_execution(const prof__ntff_sync *syncs, size_t count,
                                                      const prof_ntff_event *event, int64_t nc_ns)
{
    prof__ntff_sync key;
    size_t first, i;
    key.nc_idx = event->nc_idx;
    key.exec_id = event->exec_id;
    key.nc_ns = nc_ns;
    first = prof__sync_find(syncs, count, &key, prof__sync_order);
    for (i = first;
         i < count && i < first + 32 && syncs[i].exec_id == event->exec_id && syncs[i].nc_idx == event->nc_idx; i++)
        if (prof__sync_fits(&syncs[i], event)) return &syncs[i];
    for (i = first; i > 0 && i + 32 > first && syncs[i - 1].exec_id == event->exec_id &&
                    syncs[i - 1].nc_idx == event->nc_idx; i--)
        if (prof__sync_fits(&syncs[i - 1], event)) return &syncs[i - 1];
    return NULL;
}

static const prof__ntff_sync *prof__sync_before(const prof__ntff_sync *syncs, size_t count,
                                                const prof_ntff_event *event, int64_t nc_ns)
{
    prof__ntff_sync key;
    size_t first, i;
    key.nc_idx = event->nc_idx;
    key.nc_ns = nc_ns;
    first = prof__sync_find(syncs, count, &key, prof__sync_time_order);
    for (i = first; i > 0 && i + 64 > first && syncs[i - 1].nc_idx == event->nc_idx; i--)
        if (prof__sync_fits(&syncs[i - 1], event)) return &syncs[i - 1];
    return NULL;
}

/* Converts an event from the core's time to the host's, by a sync point, as the runtime does. Returns 0 if the result
   cannot be a time. */
static int prof__ntff_shift(prof__ntff_open *kept, const prof__ntff_sync *sync)
{
    int64_t since = prof__ntff_minus(kept->nc_ns, sync->nc_ns), to;
    if (since == INT64_MIN) return 0;
    to = prof__ntff_minus(sync->cpu_ns, -since);
    if (to <= 0 || to >= PROF__NTFF_FAR) return 0;
    kept->event.start_ns = to;
    kept->event.flags |= PROF_NTFF_REALIGNED;
    return 1;
}

/* Returns a copy of the newest `count` sync points, sorted. Returns NULL if count is 0, or without memory. */
static prof__ntff_sync *prof__syncs_sorted(const prof_ntff_parser *p, size_t count,
                                           int (*order)(const void *, const void *))
{
    prof__ntff_sync *copy = count ? (prof__ntff_sync *)malloc(count * sizeof *copy) : NULL;
    if (!copy) return NULL;
    for (size_t i = 0; i < count; i++) copy[i] = p->syncs[(p->sync_next - count + i) % PROF__NTFF_SYNCS];
    qsort(copy, count, sizeof *copy, order);
    return copy;
}

/* Calls fn for the waiting events that now have a sync point. last: 1: also calls fn for all others, whose times stay
   the core's. Otherwise searches only the sync points since the previous call and PROF__NTFF_LATE before them, because
   to sort all of them for each small piece of JSON would take most of the time. */
static void prof__ntff_resolve(prof_ntff_parser *p, int last)
{
    prof__ntff_sync *syncs, *by_time;
    prof__ntff_open *kept, *newer;
    size_t count = p->sync_count;
    if (!p->raw.count) return;
    if (!last && p->sync_next - p->sync_seen + PROF__NTFF_LATE < count)
        count = (size_t)(p->sync_next - p->sync_seen) + PROF__NTFF_LATE;
    p->sync_seen = p->sync_next;
    syncs = prof__syncs_sorted(p, count, prof__sync_order);
    by_time = last ? prof__syncs_sorted(p, count, prof__sync_time_order) : NULL;
    for (kept = p->raw.oldest; kept; kept = newer) {
        const prof__ntff_sync *sync = NULL;
        newer = kept->newer;
        if (syncs) sync = prof__sync_of_execution(syncs, count, &kept->event, kept->nc_ns);
        if (!sync && by_time) sync = prof__sync_before(by_time, count, &kept->event, kept->nc_ns);
        if (!last && !sync) continue;
        if (!sync || !prof__ntff_shift(kept, sync)) kept->event.flags |= PROF_NTFF_RAW_CLOCK;
        prof__ntff_hand_over(p, &kept->event);
        prof__ntff_unlink(&p->raw, kept);
        free(kept);
    }
    free(syncs);
    free(by_time);
}

static void prof__ntff_sync_point(prof_ntff_parser *p, const prof__ntff_said *said)
{
    prof__ntff_sync sync;
    size_t i;
    sync.nc_idx = said->event.nc_idx;
    sync.core_idx = said->event.core_idx;
    sync.exec_id = said->event.exec_id;
    sync.nc_ns = said->nc_ns;
    sync.cpu_ns = said->cpu_ns;
    p->stats.sync_points++;
    for (i = 0; i < p->last_count; i++)
        if (p->last[i].nc_idx == sync.nc_idx && p->last[i].core_idx == sync.core_idx) break;
    if (i < p->last_count) {
        int64_t off = prof__ntff_minus(prof__ntff_minus(sync.cpu_ns, p->last[i].cpu_ns),
                                       prof__ntff_minus(sync.nc_ns, p->last[i].nc_ns));
        uint64_t much = off < 0 ? 0 - (uint64_t)off : (uint64_t)off;
        if (much > p->stats.sync_error_ns) p->stats.sync_error_ns = much;
    }
    if (i < sizeof p->last / sizeof *p->last) {
        p->last[i] = sync;
        if (i == p->last_count) p->last_count++;
    }
    if (p->sync_count < PROF__NTFF_SYNCS) {
        if (!PROF__ROOM(p->syncs, p->sync_capacity, p->sync_count)) return;
        p->sync_count++;
    }
    p->syncs[p->sync_next++ % PROF__NTFF_SYNCS] = sync;
}

/* Returns 1 if an event's time is still the core's, because the runtime has not converted it. */
static int prof__ntff_is_raw(const prof__ntff_said *said)
{
    return said->has_nc && said->time == said->nc_ns && said->event.source == PROF_NTFF_SOURCE_HARDWARE;
}

/* Calls fn for an event, or lets the event wait for a sync point if its time is the core's. Takes ownership of
   `kept`. */
static void prof__ntff_finish(prof_ntff_parser *p, prof__ntff_open *kept)
{
    if (!kept->raw) {
        prof__ntff_hand_over(p, &kept->event);
        free(kept);
        return;
    }
    if (p->raw.count >= PROF__NTFF_OPEN || p->raw.bytes >= PROF__NTFF_BYTES) {
        prof__ntff_resolve(p, 0);
        if (p->raw.count >= PROF__NTFF_OPEN / 2 || p->raw.bytes >= PROF__NTFF_BYTES / 2) prof__ntff_resolve(p, 1);
    }
    prof__ntff_append(&p->raw, kept);
}

/*-- pairs --*/

static void prof__ntff_give_up(prof_ntff_parser *p, prof__ntff_open *start)
{
    start->event.flags |= PROF_NTFF_UNMATCHED_START;
    prof__ntff_finish(p, start);
}

static void prof__ntff_start(prof_ntff_parser *p, const prof__ntff_said *said)
{
    prof__ntff_open *start = prof__ntff_claim(p, &said->event);
    prof__ntff_open **slot;
    if (start) prof__ntff_give_up(p, start); /* a new start: the earlier one has lost its stop */
    while (p->starts.count >= PROF__NTFF_OPEN || p->starts.bytes >= PROF__NTFF_BYTES)
        prof__ntff_give_up(p, prof__ntff_claim(p, &p->starts.oldest->event));
    start = prof__ntff_keep(said);
    if (!start) {
        p->stats.errors++;
        return;
    }
    start->raw = prof__ntff_is_raw(said);
    start->hash = prof__ntff_hash(&start->event);
    slot = &p->slots[start->hash % (sizeof p->slots / sizeof *p->slots)];
    start->next = *slot;
    *slot = start;
    prof__ntff_append(&p->starts, start);
}

static void prof__ntff_single(prof_ntff_parser *p, prof__ntff_said *said)
{
    prof__ntff_open *kept;
    if (!prof__ntff_is_raw(said)) {
        prof__ntff_hand_over(p, &said->event);
        return;
    }
    kept = prof__ntff_keep(said);
    if (!kept) {
        p->stats.errors++;
        return;
    }
    kept->raw = 1;
    prof__ntff_finish(p, kept);
}

static void prof__ntff_lone_stop(prof_ntff_parser *p, prof__ntff_said *said)
{
    said->event.flags |= PROF_NTFF_UNMATCHED_STOP;
    said->event.duration_ns = -1;
    prof__ntff_single(p, said);
}

static void prof__ntff_stop(prof_ntff_parser *p, prof__ntff_said *said)
{
    prof__ntff_open *start = prof__ntff_claim(p, &said->event);
    int64_t ns = -1;
    int raw;
    if (!start) {
        prof__ntff_lone_stop(p, said);
        return;
    }
    raw = start->raw || prof__ntff_is_raw(said); /* both have the core's time if one has */
    if (!raw)
        ns = said->time - start->event.start_ns;
    else if (start->has_nc && said->has_nc)
        ns = prof__ntff_minus(said->nc_ns, start->nc_ns);
    start->raw = raw && start->has_nc; /* without the core's start, its time cannot be converted */
    if (ns < 0 || ns >= PROF__NTFF_FAR) { /* it cannot be the stop of this start */
        prof__ntff_give_up(p, start);
        prof__ntff_lone_stop(p, said);
        return;
    }
    start->event.duration_ns = ns;
    if (start->event.core_idx < 0) start->event.core_idx = said->event.core_idx;
    p->stats.pairs++;
    prof__ntff_finish(p, start);
}

/*-- objects --*/

enum {
    PROF__NTFF_NAME = 1, PROF__NTFF_PHASE, PROF__NTFF_TIME, PROF__NTFF_DURATION, PROF__NTFF_UNIT, PROF__NTFF_NC,
    PROF__NTFF_LNC, PROF__NTFF_CORE, PROF__NTFF_WORKER, PROF__NTFF_TID, PROF__NTFF_PID, PROF__NTFF_TRACKING,
    PROF__NTFF_EXEC, PROF__NTFF_SEQ, PROF__NTFF_DATA_OBJECT, PROF__NTFF_NC_TIME, PROF__NTFF_CPU_TIME, PROF__NTFF_GROUP,
    PROF__NTFF_SOURCE, PROF__NTFF_INSTANCE, PROF__NTFF_VALUE, PROF__NTFF_PERCENT, PROF__NTFF_CPU, PROF__NTFF_OTHER
};

/* Returns the meaning of a key of either kind of file. OTHER: a key that is not used here. */
static int prof__ntff_key(const char *key)
{
    static const struct {
        const char *name;
        unsigned char length, field;
    } keys[] = {
#define PROF__NTFF_KEY(name, field) {name, sizeof(name) - 1, field}
        PROF__NTFF_KEY("event_type", PROF__NTFF_NAME), PROF__NTFF_KEY("name", PROF__NTFF_NAME),
        PROF__NTFF_KEY("phase", PROF__NTFF_PHASE), PROF__NTFF_KEY("timestamp_ns", PROF__NTFF_TIME),
        PROF__NTFF_KEY("timestamp", PROF__NTFF_TIME), PROF__NTFF_KEY("duration", PROF__NTFF_DURATION),
        PROF__NTFF_KEY("timestamp_unit", PROF__NTFF_UNIT), PROF__NTFF_KEY("nc_idx", PROF__NTFF_NC),
        PROF__NTFF_KEY("lnc_idx", PROF__NTFF_LNC), PROF__NTFF_KEY("device_core_idx", PROF__NTFF_CORE),
        PROF__NTFF_KEY("pcore_idx", PROF__NTFF_CORE), PROF__NTFF_KEY("worker_gid", PROF__NTFF_WORKER),
        PROF__NTFF_KEY("thread_id", PROF__NTFF_TID), PROF__NTFF_KEY("process_id", PROF__NTFF_PID),
        PROF__NTFF_KEY("tracking_id", PROF__NTFF_TRACKING), PROF__NTFF_KEY("exec_id", PROF__NTFF_EXEC),
        PROF__NTFF_KEY("nrta_seq_id", PROF__NTFF_SEQ), PROF__NTFF_KEY("data", PROF__NTFF_DATA_OBJECT),
        PROF__NTFF_KEY("nc_timestamp_ns", PROF__NTFF_NC_TIME), PROF__NTFF_KEY("cpu_timestamp_ns", PROF__NTFF_CPU_TIME),
        PROF__NTFF_KEY("group", PROF__NTFF_GROUP), PROF__NTFF_KEY("trace_event_source", PROF__NTFF_SOURCE),
        PROF__NTFF_KEY("instance_id", PROF__NTFF_INSTANCE), PROF__NTFF_KEY("usage", PROF__NTFF_VALUE),
        PROF__NTFF_KEY("util", PROF__NTFF_VALUE), PROF__NTFF_KEY("percent_usage", PROF__NTFF_PERCENT),
        PROF__NTFF_KEY("cpu_id", PROF__NTFF_CPU), PROF__NTFF_KEY("id", PROF__NTFF_OTHER),
        PROF__NTFF_KEY("parent_id", PROF__NTFF_OTHER), PROF__NTFF_KEY("type", PROF__NTFF_OTHER)};
#undef PROF__NTFF_KEY
    size_t i, length = strlen(key);
    for (i = 0; i < sizeof keys / sizeof *keys; i++)
        if (keys[i].length == length && !memcmp(keys[i].name, key, length)) return keys[i].field;
    return 0;
}

static void prof__ntff_index(int32_t *index, const prof__json_value *value, int64_t max)
{
    int64_t number;
    if (prof__json_signed(value, &number) && number >= 0 && number <= max) *index = (int32_t)number;
}

static void prof__ntff_group(prof__ntff_said *said, const char *group)
{
    if (!strncmp(group, "framework", 9) && !said->has_source) said->event.source = PROF_NTFF_SOURCE_FRAMEWORK;
    if (!strncmp(group, "nrt-nc-", 7) && said->lnc_idx < 0) {
        int negative;
        uint64_t number;
        if (prof__json_whole(group + 7, &negative, &number) && !negative && number <= INT32_MAX)
            said->lnc_idx = (int64_t)number;
    }
}

static void prof__ntff_from(prof__ntff_said *said, const char *source)
{
    said->event.source = !strcmp(source, "neuron_rt")   ? PROF_NTFF_SOURCE_RUNTIME
                         : !strcmp(source, "neuron_hw") ? PROF_NTFF_SOURCE_HARDWARE
                         : !strcmp(source, "framework") ? PROF_NTFF_SOURCE_FRAMEWORK
                                                        : PROF_NTFF_SOURCE_UNKNOWN;
    said->has_source = said->event.source != PROF_NTFF_SOURCE_UNKNOWN;
}

/* Returns how many ns a unit has. Returns 0 for an unknown unit, because a guess would put the event anywhere. */
static int64_t prof__ntff_unit(const char *text)
{
    static const char *const units[] = {"ns", "us", "ms", "s"};
    int64_t ns = 1;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++, ns *= 1000)
        if (!strcmp(text, units[i])) return ns;
    return 0;
}

static void prof__ntff_text(char *to, size_t size, const prof__json_value *value)
{
    size_t length = strlen(value->text);
    if (length >= size) length = size - 1;
    memcpy(to, value->text, length);
    to[length] = 0;
}

static void prof__ntff_field(prof__ntff_said *said, int field, const prof__json_value *value)
{
    prof_ntff_event *event = &said->event;
    switch (field) {
    case PROF__NTFF_NAME: prof__ntff_text(said->name, sizeof said->name, value); break;
    case PROF__NTFF_PHASE:
        said->phase = value->text[0] == 's' ? 's' : 'i';
        said->stop = !strcmp(value->text, "stop");
        break;
    case PROF__NTFF_TIME: said->has_time = prof__json_signed(value, &said->time); break;
    case PROF__NTFF_DURATION: said->has_duration = prof__json_signed(value, &said->duration); break;
    case PROF__NTFF_UNIT: said->unit = prof__ntff_unit(value->text); break;
    case PROF__NTFF_NC: prof__ntff_index(&event->nc_idx, value, INT32_MAX); break;
    case PROF__NTFF_LNC: (void)prof__json_signed(value, &said->lnc_idx); break;
    case PROF__NTFF_CORE: prof__ntff_index(&event->core_idx, value, PROF__NTFF_CORES - 1); break;
    case PROF__NTFF_WORKER: prof__ntff_index(&event->worker_gid, value, INT32_MAX); break;
    case PROF__NTFF_TID: (void)prof__json_unsigned(value, &event->tid); break;
    case PROF__NTFF_PID: (void)prof__json_unsigned(value, &event->pid); break;
    case PROF__NTFF_TRACKING: (void)prof__json_unsigned(value, &event->tracking_id); break;
    case PROF__NTFF_EXEC: (void)prof__json_unsigned(value, &event->exec_id); break;
    case PROF__NTFF_SEQ: (void)prof__json_unsigned(value, &event->nrta_seq); break;
    case PROF__NTFF_NC_TIME: said->has_nc = prof__json_signed(value, &said->nc_ns); break;
    case PROF__NTFF_CPU_TIME: said->has_cpu = prof__json_signed(value, &said->cpu_ns); break;
    case PROF__NTFF_GROUP: prof__ntff_group(said, value->text); break;
    case PROF__NTFF_SOURCE: prof__ntff_from(said, value->text); break;
    case PROF__NTFF_INSTANCE: prof__ntff_text(said->instance, sizeof said->instance, value); break;
    case PROF__NTFF_VALUE: said->has_value = prof__json_double(value, &event->value); break;
    case PROF__NTFF_PERCENT: (void)prof__json_double(value, &said->percent); break;
    case PROF__NTFF_CPU: prof__ntff_text(said->name, 64, value); break;
    default: break;
    }
}

/* Parses an object, and the object "data" inside it. Returns 0 if it is not an object. */
static int prof__ntff_object(prof_ntff_parser *p, prof__json *j, int inner)
{
    char key[24];
    int first = 1, field;
    prof__slice data;
    prof__json within;
    if (!prof__json_expect(j, '{', "is not an object")) return 0;
    while (prof__json_more(j, '}', &first)) {
        if (!prof__json_key(j, key, sizeof key)) return 0;
        field = prof__ntff_key(key);
        if (field == PROF__NTFF_DATA_OBJECT && !inner && prof__json_peek(j) == '{') {
            if (!prof__json_slice(j, &data)) return 0;
            prof__json_memory(&within, data.bytes, data.size);
            if (!prof__ntff_object(p, &within, 1)) return 0;
            p->said.event.args = data.bytes;
            p->said.event.args_size = data.size;
        } else if (!prof__json_take(j, &p->value)) {
            return 0;
        } else if (field && (!inner || field == PROF__NTFF_EXEC || field == PROF__NTFF_CORE ||
                             field == PROF__NTFF_NC_TIME || field == PROF__NTFF_CPU_TIME)) {
            prof__ntff_field(&p->said, field, &p->value);
        }
    }
    return !j->error;
}

/* Makes an event, a start or a stop from the fields of an object. Returns 0 if the fields are none of these. */
static int prof__ntff_complete(prof__ntff_said *said)
{
    prof_ntff_event *event = &said->event;
    int64_t max = said->unit ? PROF__NTFF_FAR / said->unit : 0;
    if (!said->has_time || said->time <= 0 || said->time >= max) return 0;
    said->time *= said->unit;
    event->start_ns = said->time;
    event->duration_ns = said->phase == 's' ? 0 : -1;
    if (said->has_duration && !said->phase) {
        if (said->duration < 0 || said->duration >= max || said->duration * said->unit > PROF__NTFF_FAR - said->time)
            return 0;
        event->duration_ns = said->duration * said->unit;
    }
    if (event->nc_idx < 0 && said->lnc_idx >= 0 && said->lnc_idx <= INT32_MAX) event->nc_idx = (int32_t)said->lnc_idx;
    if (!said->has_source && prof__ntff_is_hardware(said->name)) event->source = PROF_NTFF_SOURCE_HARDWARE;
    if (event->source == PROF_NTFF_SOURCE_UNKNOWN) event->source = PROF_NTFF_SOURCE_RUNTIME;
    return 1;
}

static void prof__ntff_event_of(prof_ntff_parser *p, const prof__slice *whole)
{
    prof__ntff_said *said = &p->said;
    if (!said->name[0] || !prof__ntff_complete(said)) {
        p->stats.errors++;
        return;
    }
    if (!said->phase) { /* an event of Neuron Explorer, which is complete */
        said->event.args = whole->bytes;
        said->event.args_size = whole->size;
        p->stats.complete += said->event.duration_ns >= 0;
    }
    if (said->phase == 's' && said->stop) {
        prof__ntff_stop(p, said);
    } else if (said->phase == 's') {
        prof__ntff_start(p, said);
    } else {
        if (said->has_nc && said->has_cpu && said->cpu_ns > 0 && said->cpu_ns < PROF__NTFF_FAR) {
            prof__ntff_sync_point(p, said);
            if (prof__ntff_is_raw(said)) said->time = said->event.start_ns = said->cpu_ns;
        }
        prof__ntff_single(p, said);
    }
}

enum { PROF__NTFF_EVENTS = 1, PROF__NTFF_MEMORY, PROF__NTFF_LOAD };

static void prof__ntff_counter(prof_ntff_parser *p, int kind)
{
    prof__ntff_said *said = &p->said;
    char cpu[64];
    if (!said->has_value || !prof__ntff_complete(said)) {
        p->stats.errors++;
        return;
    }
    memcpy(cpu, said->name, sizeof cpu);
    cpu[sizeof cpu - 1] = 0;
    if (kind == PROF__NTFF_MEMORY)
        snprintf(said->name, sizeof said->name, "memory used (bytes)");
    else
        snprintf(said->name, sizeof said->name, cpu[0] ? "cpu %s (%%)" : "cpu (%%)", cpu);
    said->event.source = PROF_NTFF_SOURCE_HOST;
    said->event.duration_ns = -1;
    said->event.flags = PROF_NTFF_COUNTER;
    prof__ntff_hand_over(p, &said->event);
    if (kind != PROF__NTFF_MEMORY || !(said->percent > 0)) return;
    snprintf(said->name, sizeof said->name, "memory used (%%)");
    said->event.value = said->percent;
    prof__ntff_hand_over(p, &said->event);
}

static void prof__ntff_clear(prof__ntff_said *said)
{
    prof_ntff_event *event = &said->event;
    memset(event, 0, sizeof *event);
    event->name = said->name;
    event->instance = said->instance;
    event->nc_idx = event->core_idx = event->worker_gid = -1;
    said->name[0] = said->instance[0] = said->phase = 0;
    said->stop = said->has_time = said->has_duration = said->has_nc = said->has_cpu = said->has_value =
        said->has_source = 0;
    said->unit = 1;
    said->lnc_idx = -1;
    said->percent = 0;
}

/* Reads an element of an array. Returns 0 if nothing can be read after it. */
static int prof__ntff_element(prof_ntff_parser *p, prof__json *j, int kind)
{
    prof__slice whole;
    prof__json inside;
    if (!prof__json_slice(j, &whole)) return 0;
    prof__json_memory(&inside, whole.bytes, whole.size);
    prof__ntff_clear(&p->said);
    if (!whole.size || !prof__ntff_object(p, &inside, 0))
        p->stats.errors++;
    else if (kind == PROF__NTFF_EVENTS)
        prof__ntff_event_of(p, &whole);
    else
        prof__ntff_counter(p, kind);
    return !p->ended;
}

/* Reads an array of objects, or an object whose members are objects or arrays of objects. */
static int prof__ntff_elements(prof_ntff_parser *p, prof__json *j, int kind, int inner)
{
    int first = 1, bracket = prof__json_peek(j);
    char key[8], close = bracket == '[' ? ']' : '}';
    if (bracket != '[' && bracket != '{') return prof__json_pass(j);
    j->at++;
    while (prof__json_more(j, close, &first)) {
        if (close == '}' && !prof__json_key(j, key, sizeof key)) return 0;
        if (close == '}' && !inner && prof__json_peek(j) == '[') {
            if (!prof__ntff_elements(p, j, kind, 1)) return 0;
        } else if (!prof__ntff_element(p, j, kind)) {
            return 0;
        }
    }
    return !j->error;
}

static int prof__ntff_document(prof_ntff_parser *p, prof__json *j)
{
    static const struct {
        const char *key;
        int kind;
    } arrays[] = {{"events", PROF__NTFF_EVENTS},
                  {"trace_event", PROF__NTFF_EVENTS},
                  {"trace_events", PROF__NTFF_EVENTS},
                  {"mem_usage", PROF__NTFF_MEMORY},
                  {"cpu_util", PROF__NTFF_LOAD}};
    int first = 1, known = 0, good = 1;
    char key[32];
    size_t i;
    if (prof__json_peek(j) == 0x1F) return prof__json_fail(j, "is compressed: decompress it with gunzip");
    if (j->end - j->at >= 3 && !memcmp(j->at, "\xEF\xBB\xBF", 3)) j->at += 3;
    if (!prof__json_expect(j, '{', "is not a JSON object")) return 0;
    while (good && prof__json_more(j, '}', &first)) {
        if (!prof__json_key(j, key, sizeof key)) return 0;
        for (i = 0; i < sizeof arrays / sizeof *arrays && strcmp(arrays[i].key, key); i++) continue;
        if (i < sizeof arrays / sizeof *arrays) {
            known = 1;
            good = prof__ntff_elements(p, j, arrays[i].kind, 0);
        } else if (!strcmp(key, "data_version")) {
            int64_t version = 0;
            good = prof__json_take(j, &p->value);
            if (good && prof__json_signed(&p->value, &version) && version > 0 && version < 1000000)
                p->stats.data_version = (int)version;
        } else {
            good = prof__json_pass(j);
        }
    }
    if (j->error || p->ended) return 0;
    return known || prof__json_fail(j, "has no events: neither \"trace_event\" of Neuron Explorer nor \"events\" of a "
                                       "system trace");
}

static prof_status prof__ntff_read(prof_ntff_parser *p, prof__json *j, const char *what)
{
    prof__ntff_document(p, j);
    prof__ntff_resolve(p, 0);
    if (!j->error || p->ended) return PROF_OK;
    return prof__json_say(j, what, "");
}

static void prof__ntff_stats_add(prof_ntff_stats *to, prof_ntff_stats *from)
{
    if (to) {
        to->events += from->events;
        to->pairs += from->pairs;
        to->complete += from->complete;
        to->instants += from->instants;
        to->counters += from->counters;
        to->unmatched_starts += from->unmatched_starts;
        to->unmatched_stops += from->unmatched_stops;
        to->realigned += from->realigned;
        to->raw_clock += from->raw_clock;
        to->sync_points += from->sync_points;
        to->errors += from->errors;
        if (from->sync_error_ns > to->sync_error_ns) to->sync_error_ns = from->sync_error_ns;
        if (from->first_ns && (!to->first_ns || from->first_ns < to->first_ns)) to->first_ns = from->first_ns;
        if (from->last_ns > to->last_ns) to->last_ns = from->last_ns;
        if (from->data_version) to->data_version = from->data_version;
    }
    memset(from, 0, sizeof *from);
}

PROF_DEF prof_ntff_parser *prof_ntff_parser_create(void)
{
    prof_ntff_parser *parser = (prof_ntff_parser *)calloc(1, sizeof *parser);
    if (!parser) prof__fail(PROF_NO_MEMORY, "prof_ntff_parser_create: no memory");
    return parser;
}

PROF_DEF void prof_ntff_parser_destroy(prof_ntff_parser *parser, prof_ntff_event_fn fn, void *user,
                                       prof_ntff_stats *stats)
{
    prof__ntff_open *kept;
    if (!parser) return;
    parser->fn = fn;
    parser->user = user;
    parser->ended = 0;
    while ((kept = parser->starts.oldest) != NULL) prof__ntff_give_up(parser, prof__ntff_claim(parser, &kept->event));
    prof__ntff_resolve(parser, 1);
    prof__ntff_stats_add(stats, &parser->stats);
    free(parser->syncs);
    free(parser);
}

/* Frees the parser, as prof_ntff_parser_destroy() does. Once fn has asked to stop, what still waits is neither passed
   to fn nor counted. */
static void prof__ntff_parser_close(prof_ntff_parser *p, prof_ntff_event_fn fn, void *user, prof_ntff_stats *stats)
{
    int ended = p->ended;
    prof_ntff_parser_destroy(p, ended ? NULL : fn, user, ended ? NULL : stats);
}

PROF_DEF prof_status prof_ntff_parse_systrace_json(prof_ntff_parser *parser, const char *json, size_t size,
                                                   prof_ntff_event_fn fn, void *user, prof_ntff_stats *stats)
{
    PROF__CALM();
    prof_ntff_parser *p = parser ? parser : prof_ntff_parser_create();
    prof_status status;
    prof__json j;
    if (!p) return PROF_NO_MEMORY;
    if (!json) size = 0;
    while (size && !json[size - 1]) size--; /* the runtime may count the terminating zero */
    prof__json_memory(&j, json ? json : "", size);
    p->fn = fn;
    p->user = user;
    p->ended = 0;
    status = prof__ntff_read(p, &j, "system trace");
    prof__ntff_stats_add(stats, &p->stats);
    if (!parser) prof__ntff_parser_close(p, fn, user, stats);
    return status;
}

PROF_DEF prof_status prof_ntff_read_system_json(const char *path, prof_ntff_event_fn fn, void *user,
                                                prof_ntff_stats *stats)
{
    PROF__CALM();
    prof_ntff_parser *p;
    prof__json j;
    prof_status status;
    if (!path) return prof__fail(PROF_INVALID_ARGUMENT, "prof_ntff_read_system_json: path is null");
    status = prof__json_open(&j, path);
    if (status != PROF_OK) return status;
    p = prof_ntff_parser_create();
    if (p) {
        p->fn = fn;
        p->user = user;
        status = prof__ntff_read(p, &j, path);
        prof__ntff_stats_add(stats, &p->stats);
        prof__ntff_parser_close(p, fn, user, stats);
    }
    prof__json_close(&j);
    return p ? status : PROF_NO_MEMORY;
}

/*-- tracks of devices --*/

typedef struct prof__ntff_place {
    char device[64 + 64 + 32], row[64];
} prof__ntff_place;

/* Finds the device and row of an event. home, instance: this process and machine, whose names the device leaves out. */
static void prof__ntff_place_of(const prof_ntff_event *event, uint64_t home, const char *instance,
                                prof__ntff_place *place)
{
    static const char *const kinds[PROF_NTFF_SOURCE_COUNT] = {"Neuron", "Neuron runtime", "NeuronCore",
                                                              "Neuron framework", "Neuron host"};
    int source = (unsigned)event->source < PROF_NTFF_SOURCE_COUNT ? (int)event->source : 0;
    int used = snprintf(place->device, sizeof place->device, "%s", kinds[source]);
    if (event->nc_idx >= 0 && (source == PROF_NTFF_SOURCE_RUNTIME || source == PROF_NTFF_SOURCE_HARDWARE))
        used += snprintf(place->device + used, sizeof place->device - (size_t)used, " %d", (int)event->nc_idx);
    if (event->pid && event->pid != home)
        used += snprintf(place->device + used, sizeof place->device - (size_t)used, " of process %llu",
                         (unsigned long long)event->pid);
    if (event->instance && strcmp(event->instance, instance))
        snprintf(place->device + used, sizeof place->device - (size_t)used, " on %.63s", event->instance);
    if (event->flags & PROF_NTFF_COUNTER)
        snprintf(place->row, sizeof place->row, "%s", strncmp(event->name, "cpu", 3) ? "memory" : "load");
    else if (source == PROF_NTFF_SOURCE_HARDWARE && event->core_idx >= 0)
        snprintf(place->row, sizeof place->row, "core %d", (int)event->core_idx);
    else if (source == PROF_NTFF_SOURCE_HARDWARE)
        snprintf(place->row, sizeof place->row, "core");
    else if (event->tid)
        snprintf(place->row, sizeof place->row, "thread %llu", (unsigned long long)event->tid);
    else
        snprintf(place->row, sizeof place->row, "events");
}

/* The arguments of an event, and the texts that they point to. */
typedef struct prof__ntff_args {
    prof_arg list[PROF_DEVICE_ARGS];
    uint32_t count;
    size_t used;
    char texts[8192];
    prof__json_value value;
} prof__ntff_args;

static char *prof__ntff_args_keep(prof__ntff_args *args, const char *bytes, size_t length)
{
    char *to = args->texts + args->used;
    if (length >= sizeof args->texts - args->used) return NULL;
    memcpy(to, bytes, length);
    to[length] = 0;
    args->used += length + 1;
    return to;
}

static void prof__ntff_args_add(prof__ntff_args *args, const char *key, prof_value_type type, uint64_t number)
{
    prof_arg *arg = &args->list[args->count];
    if (args->count == PROF_DEVICE_ARGS) return;
    args->count++;
    memset(arg, 0, sizeof *arg);
    arg->key = key;
    arg->value.type = type;
    arg->value.as.u = number;
}

static void prof__ntff_args_text(prof__ntff_args *args, const char *key, const char *bytes, size_t length)
{
    const char *text = prof__ntff_args_keep(args, bytes, length);
    if (!text || args->count == PROF_DEVICE_ARGS) return;
    prof__ntff_args_add(args, key, PROF_VALUE_STRING, 0);
    args->list[args->count - 1].value.as.string = text;
}

static void prof__ntff_args_value(prof__ntff_args *args, const char *key, const prof__slice *raw)
{
    const prof__json_value *value = &args->value;
    int64_t whole;
    uint64_t more;
    double number;
    if (value->type == '{' || value->type == '[') {
        prof__ntff_args_text(args, key, raw->bytes, raw->size < PROF_MAX_TEXT ? raw->size : PROF_MAX_TEXT);
    } else if (value->type == '"') {
        prof__ntff_args_text(args, key, value->text, strlen(value->text));
    } else if (value->type == 't' || value->type == 'f') {
        prof__ntff_args_add(args, key, PROF_VALUE_BOOL, value->type == 't');
    } else if (value->type == '0' && !strpbrk(value->text, ".eE") && prof__json_signed(value, &whole)) {
        prof__ntff_args_add(args, key, PROF_VALUE_INT, (uint64_t)whole);
    } else if (value->type == '0' && !strpbrk(value->text, ".eE") && prof__json_unsigned(value, &more)) {
        prof__ntff_args_add(args, key, PROF_VALUE_UINT, more);
    } else if (prof__json_double(value, &number)) {
        memcpy(&more, &number, sizeof more);
        prof__ntff_args_add(args, key, PROF_VALUE_DOUBLE, more);
    }
}

/* Collects as arguments all that the event's device and row do not show. */
static void prof__ntff_args_of(const prof_ntff_event *event, prof__ntff_args *args)
{
    char key[64];
    int first = 1;
    prof__json j;
    prof__slice raw;
    args->count = 0;
    args->used = 0;
    if (event->flags & PROF_NTFF_UNMATCHED_STOP) prof__ntff_args_text(args, "truncated", "begin", 5);
    if (event->flags & PROF_NTFF_REALIGNED) prof__ntff_args_add(args, "realigned", PROF_VALUE_BOOL, 1);
    if (event->tracking_id) prof__ntff_args_add(args, "tracking_id", PROF_VALUE_UINT, event->tracking_id);
    if (event->nrta_seq) prof__ntff_args_add(args, "nrta_seq_id", PROF_VALUE_UINT, event->nrta_seq);
    prof__json_memory(&j, event->args ? event->args : "", event->args ? event->args_size : 0);
    if (!event->args || !prof__json_expect(&j, '{', "is not an object")) return;
    while (args->count < PROF_DEVICE_ARGS && prof__json_more(&j, '}', &first)) {
        int field;
        char *kept;
        if (!prof__json_key(&j, key, sizeof key)) return;
        field = prof__ntff_key(key);
        if (field && field != PROF__NTFF_EXEC && field != PROF__NTFF_VALUE && field != PROF__NTFF_CPU) {
            if (!prof__json_pass(&j)) return;
            continue;
        }
        (void)prof__json_peek(&j);
        raw.bytes = j.at;
        if (!prof__json_take(&j, &args->value)) return;
        raw.size = (size_t)(j.at - raw.bytes);
        kept = prof__ntff_args_keep(args, key, strlen(key));
        if (!kept) return;
        prof__ntff_args_value(args, kept, &raw);
    }
}

/* Returns 1 if a number is an integer, and small enough that a double holds it exactly. */
static int prof__ntff_whole(double value)
{
    if (!prof__finite(value) || value < -9e15 || value > 9e15) return 0;
    double rest = value - (double)(int64_t)value;
    return !(rest < 0) && !(rest > 0);
}

/* Makes an event for prof_device_record(). offset: Unix time minus the device's time. An event from before the host was
   started gets the time 0, which readers leave out as before the session. */
static prof_device_event prof__ntff_device_event(const prof_ntff_event *event, int64_t offset, prof__ntff_args *args)
{
    prof_device_event e;
    int64_t start = prof__ntff_minus(event->start_ns, offset);
    int64_t end = prof__ntff_minus(start, event->duration_ns > 0 ? -event->duration_ns : 0);
    memset(&e, 0, sizeof e);
    e.name = event->name;
    e.start = start > 0 ? (uint64_t)start : 0;
    if (event->flags & PROF_NTFF_COUNTER) {
        e.type = PROF_EVENT_COUNTER;
        e.value.type = PROF_VALUE_DOUBLE;
        e.value.as.d = event->value;
        if (prof__ntff_whole(event->value)) {
            e.value.type = PROF_VALUE_INT;
            e.value.as.i = (int64_t)event->value;
        }
        return e;
    }
    prof__ntff_args_of(event, args);
    e.args = args->list;
    e.arg_count = args->count;
    e.type = event->duration_ns < 0 ? PROF_EVENT_MARK : PROF_EVENT_SCOPE;
    e.end = end > 0 ? (uint64_t)end : 0;
    if (event->flags & PROF_NTFF_UNMATCHED_START && e.end) e.end = e.start - 1; /* end < start: not known */
    return e;
}

PROF_DEF int prof_ntff_record(void *user, const prof_ntff_event *event)
{
    PROF__CALM();
    static const prof_device_clock clock = {1000000000, 0, 0};
    prof__ntff_place place;
    prof__ntff_args args;
    prof_device *device;
    prof_device_row *row;
    prof_device_event e;
    (void)user;
    if (!event || !event->name || (event->flags & PROF_NTFF_RAW_CLOCK) || !prof_enabled()) return 0;
    prof__ntff_place_of(event, prof__process_id(), event->instance ? event->instance : "", &place);
    device = prof_device_create(place.device, &clock);
    row = prof_device_row_create(device, place.row);
    if (!row) return 0;
    e = prof__ntff_device_event(event, prof__device_on_host(device), &args);
    prof_device_record(row, &e);
    return 0;
}

/*-- the copy is made by prof.h, see >>import there. Without a recording, the image has Unix times. --*/

typedef struct prof__ntff_import_state {
    prof__import into;
    prof__ntff_clock clock;
    int is_hosted; /* 1: there is a recording to copy */
    char instance[64];
    int has_instance;
    prof_ntff_stats *stats;
    prof__ntff_args args;
} prof__ntff_import_state;

/* Returns the row for a place. If there are too many rows, returns the one that all other places share. Returns
   PROF__NONE without memory. */
static size_t prof__ntff_row_of(prof__import *into, const prof__ntff_place *place)
{
    size_t row = prof__import_row(into, place->device, place->row, 0);
    return row != PROF__NONE || into->no_memory ? row : prof__import_row(into, "Neuron", "others", 1);
}

static int prof__ntff_import_event(void *user, const prof_ntff_event *event)
{
    prof__ntff_import_state *w = (prof__ntff_import_state *)user;
    prof__ntff_place place;
    prof_device_event e;
    size_t row;
    int64_t start;
    if (event->flags & PROF_NTFF_RAW_CLOCK) return 0;
    start = prof__ntff_clock_host(&w->clock, event->start_ns);
    if (w->is_hosted && (start < w->clock.host - (event->duration_ns > 0 ? event->duration_ns : 0) ||
                         start > (int64_t)w->into.last.monotonic_ns))
        w->stats->outside++;
    if (!w->has_instance && event->instance[0]) {
        w->has_instance = 1;
        snprintf(w->instance, sizeof w->instance, "%s", event->instance);
    }
    prof__ntff_place_of(event, w->into.pid, event->instance[0] ? w->instance : "", &place);
    row = prof__ntff_row_of(&w->into, &place);
    if (row == PROF__NONE) return 1;
    e = prof__ntff_device_event(event, event->start_ns - start, &w->args);
    if (!prof__import_put(&w->into, row, &e)) w->stats->errors++;
    return w->into.status != PROF_OK;
}

static prof_status prof__ntff_import_begin(prof__ntff_import_state *w, const char *json, const char *host,
                                           const char *out)
{
    prof_status status = prof__import_open(&w->into, host, "Neuron", "Unix time");
    if (status != PROF_OK) return status;
    w->is_hosted = host != NULL;
    if (host) prof__ntff_clock_of(&w->clock, &w->into.first, &w->into.last);
    if (host && !w->clock.unix_ns)
        return prof__fail(PROF_UNSUPPORTED, "%s has no Unix time of its start", host);
    w->stats->clock_stepped |= w->clock.stepped;
    if (!strcmp(out, "-")) return prof__fail(PROF_INVALID_ARGUMENT, "prof_ntff_import: out must be a file, not -");
    if (!strcmp(out, json))
        return prof__fail(PROF_INVALID_ARGUMENT, "prof_ntff_import: out must not be %s, which is read", json);
    return prof__import_begin(&w->into, host, out);
}

static prof_status prof__ntff_import_into(prof__ntff_import_state *w, const char *json, const char *host,
                                          const char *out)
{
    prof_status status = prof__ntff_import_begin(w, json, host, out);
    if (status == PROF_OK) {
        status = prof_ntff_read_system_json(json, prof__ntff_import_event, w, w->stats);
        if (status == PROF_OK && w->into.no_memory)
            status = prof__fail(PROF_NO_MEMORY, "%s: no memory for its rows", json);
        if (status == PROF_OK && !w->stats->first_ns)
            status = prof__fail(PROF_CORRUPT, w->stats->events ? "%s: has no events in the host's time, nor sync points"
                                                               : "%s: has no events", json);
    }
    return prof__import_close(&w->into, status, (uint64_t)w->stats->first_ns, (uint64_t)w->stats->last_ns);
}

PROF_DEF prof_status prof_ntff_import(const char *json, const char *host, const char *out, prof_ntff_stats *stats)
{
    PROF__CALM();
    prof__ntff_import_state *w = (prof__ntff_import_state *)calloc(1, sizeof *w);
    prof_ntff_stats own;
    prof_status status;
    if (!w) return prof__fail(PROF_NO_MEMORY, "prof_ntff_import: no memory");
    memset(&own, 0, sizeof own);
    w->stats = &own;
    status = json && out ? prof__ntff_import_into(w, json, host, out)
                         : prof__fail(PROF_INVALID_ARGUMENT, "prof_ntff_import: json or out is null");
    free(w);
    if (stats) {
        stats->outside += own.outside;
        stats->clock_stepped |= own.clock_stepped;
        prof__ntff_stats_add(stats, &own);
    }
    return status;
}

/*-- KINETO --------------------------------------------------------------------------------------------- >>kineto -- */

#define PROF__KINETO_PERIOD 7889238           /* a quarter of a year, in s; Kineto's base time is a multiple */
#define PROF__KINETO_ID 1000000000u           /* the first of our own thread ids, which the system does not give */
#define PROF__KINETO_OURS "\"traceName\": \"prof: " /* is in files that prof has written */

typedef struct prof__kineto {
    prof__out out;
    const prof_trace *trace;
    prof_ntff_trace_options options;
    prof__ntff_clock clock;
    int64_t base;       /* the Unix time, in ns, that times count from */
    uint64_t pid, next; /* next: the External id of the next event */
    int lines;          /* 1: there is a line before, so a comma is due */
} prof__kineto;

static void prof__kineto_literal(prof__kineto *k, const char *text) { prof__out_text(&k->out, text); }

static void prof__kineto_string(prof__kineto *k, const char *text)
{
    prof__kineto_literal(k, "\"");
    prof__out_json(&k->out, text);
    prof__kineto_literal(k, "\"");
}

/* Writes nanoseconds as microseconds with three decimals. */
static void prof__kineto_us(prof__kineto *k, int64_t ns)
{
    uint64_t value = ns > 0 ? (uint64_t)ns : 0;
    prof__out_commit(&k->out, prof__decimals(prof__out_reserve(&k->out, 32), value, 3));
}

static int64_t prof__kineto_since(const prof__kineto *k, int64_t ns)
{
    return prof__ntff_minus(prof__ntff_clock_unix(&k->clock, ns), k->base);
}

static void prof__kineto_line(prof__kineto *k, const char *begin)
{
    prof__kineto_literal(k, k->lines ? ",\n" : "\n");
    k->lines = 1;
    prof__kineto_literal(k, begin);
}

static void prof__kineto_ids(prof__kineto *k, uint64_t tid)
{
    prof__kineto_literal(k, ",\"pid\":");
    prof__out_unsigned(&k->out, k->pid);
    prof__kineto_literal(k, ",\"tid\":");
    prof__out_unsigned(&k->out, tid);
}

/* Writes a line of metadata about a process or thread. The argument is `text` or, if that is NULL, `number`. */
static void prof__kineto_about(prof__kineto *k, const char *what, uint64_t tid, const char *key, const char *text,
                               uint64_t number)
{
    prof__kineto_line(k, "{\"ph\":\"M\",\"name\":\"");
    prof__kineto_literal(k, what);
    prof__kineto_literal(k, "\",\"ts\":");
    prof__kineto_us(k, prof__kineto_since(k, 0));
    prof__kineto_ids(k, tid);
    prof__kineto_literal(k, ",\"args\":{\"");
    prof__kineto_literal(k, key);
    prof__kineto_literal(k, "\":");
    if (text)
        prof__kineto_string(k, text);
    else
        prof__out_unsigned(&k->out, number);
    prof__kineto_literal(k, "}}");
}

static void prof__kineto_value(prof__kineto *k, const prof_value *value)
{
    const uint64_t exact = (uint64_t)1 << 53;
    char number[32] = "0x";
    switch ((int)value->type) {
    case PROF_VALUE_INT:
        if (value->as.i <= (int64_t)exact && value->as.i >= -(int64_t)exact) {
            prof__out_signed(&k->out, value->as.i);
        } else {
            prof__kineto_literal(k, "\"");
            prof__out_signed(&k->out, value->as.i);
            prof__kineto_literal(k, "\"");
        }
        break;
    case PROF_VALUE_UINT:
        if (value->as.u > exact) prof__kineto_literal(k, "\"");
        prof__out_unsigned(&k->out, value->as.u);
        if (value->as.u > exact) prof__kineto_literal(k, "\"");
        break;
    case PROF_VALUE_DOUBLE:
        if (prof__finite(value->as.d)) {
            prof__out_double(&k->out, value->as.d);
        } else {
            prof__double_text(number, value->as.d);
            prof__kineto_string(k, number);
        }
        break;
    case PROF_VALUE_BOOL: prof__kineto_literal(k, value->as.u ? "true" : "false"); break;
    case PROF_VALUE_POINTER:
        snprintf(number, sizeof number, "0x%llx", (unsigned long long)value->as.u);
        prof__kineto_string(k, number);
        break;
    case PROF_VALUE_STRING: prof__kineto_string(k, value->as.string ? value->as.string : ""); break;
    default: prof__kineto_literal(k, "null");
    }
}

static int prof__kineto_same_key(const void *args, size_t item, const void *key)
{
    return !strcmp(((const prof_arg *)args)[item].key, (const char *)key);
}

/* Returns a list that has, for each argument of an event, 1 if no later argument has its key. The caller frees the
   list. Returns NULL without memory. */
static unsigned char *prof__kineto_last_args(const prof_event *event)
{
    unsigned char *last = (unsigned char *)calloc(event->arg_count, 1);
    prof__read_index index;
    uint32_t i;
    int good = last != NULL;
    memset(&index, 0, sizeof index);
    for (i = event->arg_count; good && i-- > 0;) {
        const char *key = event->args[i].key;
        uint32_t hash = prof__text_hash(key);
        if (prof__read_find(&index, hash, prof__kineto_same_key, event->args, key) != PROF__NONE) continue;
        good = prof__read_add(&index, hash, i);
        last[i] = 1;
    }
    free(index.slots);
    if (good) return last;
    free(last);
    return NULL;
}

/* Writes the arguments that the program gave. If a key comes twice, writes the last one only. */
static void prof__kineto_args(prof__kineto *k, const prof_event *event)
{
    unsigned char *last = event->arg_count ? prof__kineto_last_args(event) : NULL;
    uint32_t i;
    if (event->arg_count && !last)
        prof__out_fail(&k->out, prof__fail(PROF_NO_MEMORY, "no memory for an event with %lu arguments",
                                           (unsigned long)event->arg_count));
    for (i = 0; last && i < event->arg_count; i++) {
        const char *key = event->args[i].key;
        if (!last[i]) continue;
        prof__kineto_literal(k, ",\"");
        prof__out_json(&k->out, key);
        if (!strcmp(key, "External id") || !strcmp(key, "truncated")) prof__kineto_literal(k, " ");
        prof__kineto_literal(k, "\":");
        prof__kineto_value(k, &event->args[i].value);
    }
    free(last);
}

static void prof__kineto_name(prof__kineto *k, const prof_event *event)
{
    prof__kineto_literal(k, "\"");
    if (k->options.source_names && event->site->file[0]) {
        prof__out_json(&k->out, event->site->file);
        prof__kineto_literal(k, "(");
        prof__out_unsigned(&k->out, event->site->line);
        prof__kineto_literal(k, "): ");
    }
    prof__out_json(&k->out, event->name);
    prof__kineto_literal(k, "\"");
}

static void prof__kineto_scope(prof__kineto *k, const prof_event *event, uint64_t tid)
{
    static const char *const cut[] = {"", ",\"truncated\":\"begin\"", ",\"truncated\":\"end\"",
                                      ",\"truncated\":\"begin and end\""};
    int64_t start = prof__kineto_since(k, event->start_ns),
            end = prof__kineto_since(k, event->start_ns + event->duration_ns);
    prof__kineto_line(k, "{\"ph\":\"X\",\"cat\":");
    prof__kineto_string(k, k->options.category ? k->options.category : "user_annotation");
    prof__kineto_literal(k, ",\"name\":");
    prof__kineto_name(k, event);
    prof__kineto_ids(k, tid);
    prof__kineto_literal(k, ",\"ts\":");
    prof__kineto_us(k, start);
    prof__kineto_literal(k, ",\"dur\":");
    prof__kineto_us(k, end - (start > 0 ? start : 0));
    prof__kineto_literal(k, ",\"args\":{\"External id\":");
    prof__out_unsigned(&k->out, ++k->next);
    prof__kineto_literal(k, cut[event->flags & 3]);
    prof__kineto_args(k, event);
    prof__kineto_literal(k, "}}");
}

static void prof__kineto_point(prof__kineto *k, const prof_event *event, uint64_t tid)
{
    int counter = event->type == PROF_EVENT_COUNTER;
    prof__kineto_line(k, counter ? "{\"ph\":\"C\",\"name\":" : "{\"ph\":\"i\",\"s\":\"t\",\"name\":");
    prof__kineto_string(k, event->name);
    prof__kineto_ids(k, tid);
    prof__kineto_literal(k, ",\"ts\":");
    prof__kineto_us(k, prof__kineto_since(k, event->start_ns));
    if (counter) {
        prof__kineto_literal(k, ",\"args\":{");
        prof__kineto_string(k, event->name);
        prof__kineto_literal(k, ":");
        prof__kineto_value(k, &event->value);
        prof__kineto_literal(k, "}");
    }
    prof__kineto_literal(k, "}");
}

/* Returns the kernel's id of a track's thread. Returns an id of our own if there is none, or if several tracks share
   the kernel's id, as fibers do. */
static uint64_t prof__kineto_tid(const prof_track *track, size_t number)
{
    return track->thread_id && track->thread_id <= 0x7FFFFFFF && !track->fiber ? track->thread_id
                                                                               : PROF__KINETO_ID + number;
}

static void prof__kineto_track(prof__kineto *k, size_t number)
{
    const prof_track *track = prof_trace_track(k->trace, number);
    uint64_t tid = prof__kineto_tid(track, number);
    prof_cursor *cursor = NULL;
    prof_event event;
    char name[160];
    prof_status status;
    if (*track->device) return;
    snprintf(name, sizeof name, *track->name ? "thread %llu (%.100s)" : "thread %llu", (unsigned long long)tid,
             track->name);
    prof__kineto_about(k, "thread_name", tid, "name", name, 0);
    prof__kineto_about(k, "thread_sort_index", tid, "sort_index", NULL, tid);
    status = prof_cursor_open(k->trace, number, &cursor);
    if (status != PROF_OK) prof__out_fail(&k->out, status);
    while (k->out.status == PROF_OK && cursor && prof_cursor_next(cursor, &event)) {
        if (event.type == PROF_EVENT_SCOPE)
            prof__kineto_scope(k, &event, tid);
        else if (event.type == PROF_EVENT_MARK && k->options.instants)
            prof__kineto_point(k, &event, tid);
        else if (event.type == PROF_EVENT_COUNTER && k->options.counters)
            prof__kineto_point(k, &event, tid);
    }
    prof_cursor_close(cursor);
}

static void prof__kineto_events(prof__kineto *k)
{
    const prof_trace_info *about = prof_trace_about(k->trace);
    size_t i;
    prof__kineto_about(k, "process_name", 0, "name", about->program, 0);
    prof__kineto_about(k, "process_labels", 0, "labels", "CPU", 0);
    prof__kineto_about(k, "process_sort_index", 0, "sort_index", NULL, k->pid);
    for (i = 0; i < prof_trace_track_count(k->trace); i++) prof__kineto_track(k, i);
}

static void prof__kineto_document(prof__kineto *k)
{
    prof__kineto_literal(k, "{\n\"schemaVersion\": 1,\n\"deviceProperties\": [],\n\"displayTimeUnit\": \"ms\",\n"
                            "\"baseTimeNanoseconds\": ");
    prof__out_signed(&k->out, k->base);
    prof__kineto_literal(k, ",\n\"traceEvents\": [");
    prof__kineto_events(k);
    prof__kineto_literal(k, "\n],\n" PROF__KINETO_OURS);
    prof__out_json(&k->out, prof_trace_about(k->trace)->program);
    prof__kineto_literal(k, "\"\n}\n");
}

/* Allocates the state, without an output. Returns NULL if `trace` is NULL, or without memory. */
static prof__kineto *prof__kineto_make(const prof_trace *trace, const prof_ntff_trace_options *options)
{
    prof__kineto *k = trace ? (prof__kineto *)calloc(1, sizeof *k) : NULL;
    if (!k) {
        prof__fail(trace ? PROF_NO_MEMORY : PROF_INVALID_ARGUMENT, "prof_ntff_trace_json: %s",
                   trace ? "no memory" : "trace is null");
        return NULL;
    }
    k->trace = trace;
    if (options) k->options = *options;
    prof__ntff_clock_of_trace(&k->clock, trace);
    k->base = k->clock.unix_ns / 1000000000 / PROF__KINETO_PERIOD * PROF__KINETO_PERIOD * 1000000000;
    k->pid = k->options.pid ? k->options.pid : prof_trace_about(trace)->pid;
    return k;
}

PROF_DEF prof_status prof_ntff_trace_json_stream(const prof_trace *trace, prof_sink sink,
                                                 const prof_ntff_trace_options *options)
{
    PROF__CALM();
    prof__kineto *k = prof__kineto_make(trace, options);
    prof_status status;
    if (!k) return trace ? PROF_NO_MEMORY : PROF_INVALID_ARGUMENT;
    prof__out_sink(&k->out, sink);
    prof__kineto_document(k);
    status = prof__out_close(&k->out);
    free(k);
    return status;
}

/*-- beside other files --*/

/* Returns 1 for a file, 2 for a folder, and 0 for anything else or nothing. Follows links. */
static int prof__path_kind(const char *path, uint64_t *size, uint64_t *changed_ns)
{
#ifdef _WIN32
    struct _stat64 about; /* sizes of struct stat have 32 bits only */
    if (_stat64(path, &about)) return 0;
#else
    prof__about about;
    if (prof__stat(path, &about)) return 0;
#endif
    *size = (uint64_t)about.st_size;
    *changed_ns = (uint64_t)about.st_mtime * 1000000000u;
    unsigned kind = (unsigned)about.st_mode & 0170000u; /* S_IFMT, S_IFREG and S_IFDIR, which some headers lack */
    return kind == 0100000u ? 1 : kind == 0040000u ? 2 : 0;
}

enum { PROF__KINETO_NONE, PROF__KINETO_PROFS, PROF__KINETO_OTHERS };

/* Returns who has written a file: prof, another program, or nobody. prof's own files say so near their end. Follows
   links. Standard output, pipes and devices have no writer. Neither has an empty file behind a link, because
   /dev/stdout may be such a link. */
static int prof__kineto_whose(const char *path)
{
    char tail[513];
    uint64_t size = 0, changed;
    size_t got = 0;
    FILE *file;
    if (!strcmp(path, "-")) return PROF__KINETO_NONE;
    if (!prof__file_replaceable(path) && (prof__path_kind(path, &size, &changed) != 1 || !size))
        return PROF__KINETO_NONE;
    file = prof__file_open(path, "rb");
    if (!file) return errno == ENOENT ? PROF__KINETO_NONE : PROF__KINETO_OTHERS;
    if (prof__read_size(file, &size)) {
        got = size < sizeof tail - 1 ? (size_t)size : sizeof tail - 1;
        if (!prof__read_at(file, size - got, tail, got)) got = 0;
    }
    tail[got] = 0;
    fclose(file);
    return strstr(tail, PROF__KINETO_OURS) ? PROF__KINETO_PROFS : PROF__KINETO_OTHERS;
}

/* Where the events of another program's file end, and the base time of that file. */
typedef struct prof__kineto_other {
    uint64_t end;  /* offset of the end of the last event; without events, of the opening bracket's end */
    int64_t base;
    int events;
} prof__kineto_other;

static int prof__kineto_scan(prof__json *j, prof__kineto_other *other, prof__json_value *value)
{
    int first = 1, inner, found = 0;
    char key[32];
    if (!prof__json_expect(j, '{', "is not a JSON object")) return 0;
    while (prof__json_more(j, '}', &first)) {
        if (!prof__json_key(j, key, sizeof key)) return 0;
        if (!strcmp(key, "baseTimeNanoseconds")) {
            if (!prof__json_take(j, value)) return 0;
            if (!prof__json_signed(value, &other->base) || other->base < 0)
                return prof__json_fail(j, "has an invalid baseTimeNanoseconds");
        } else if (!strcmp(key, "traceEvents") && prof__json_peek(j) == '[') {
            if (found) return prof__json_fail(j, "has two traceEvents");
            found = inner = 1;
            j->at++;
            other->end = prof__json_offset(j);
            while (prof__json_more(j, ']', &inner)) {
                if (!prof__json_pass(j)) return 0;
                other->end = prof__json_offset(j);
                other->events = 1;
            }
        } else if (!prof__json_pass(j)) {
            return 0;
        }
    }
    if (j->error) return 0;
    return found || prof__json_fail(j, "has no traceEvents");
}

static void prof__kineto_copy(prof__kineto *k, FILE *from, uint64_t at, uint64_t end)
{
    char part[4096];
    while (at < end && k->out.status == PROF_OK) {
        size_t size = end - at < sizeof part ? (size_t)(end - at) : sizeof part;
        if (!prof__read_at(from, at, part, size)) {
            k->out.status = prof__fail(PROF_IO, "cannot read %s: it became shorter", k->out.path);
            return;
        }
        prof__out_bytes(&k->out, part, size);
        at += size;
    }
}

/* Writes another program's file anew with our events after that program's own. Every byte of the file is kept. */
static prof_status prof__kineto_append(prof__kineto *k, const char *path)
{
    prof__kineto_other other;
    prof__json_value *value = (prof__json_value *)malloc(sizeof *value);
    prof__json j;
    uint64_t size = 0;
    int opened = 0;
    prof_status status = !prof__file_replaceable(path)
                             ? prof__fail(PROF_INVALID_ARGUMENT, "%s is a link: append to the file itself", path)
                         : value ? prof__json_open(&j, path)
                                 : prof__fail(PROF_NO_MEMORY, "%s: no memory to read it", path);
    if (status == PROF_OK) {
        memset(&other, 0, sizeof other);
        if (!prof__kineto_scan(&j, &other, value))
            status = prof__json_say(&j, path, ": nothing was appended");
        if (status == PROF_OK && !prof__read_size(j.file, &size)) status = prof__fail(PROF_IO, "cannot read %s", path);
        if (status == PROF_OK) status = prof__out_file(&k->out, path);
        opened = status == PROF_OK;
        if (opened) {
            k->base = other.base;
            k->lines = other.events;
            k->next = PROF__KINETO_ID; /* the other program's ids count from 1, and link its kernels */
            prof__kineto_copy(k, j.file, 0, other.end);
            prof__kineto_events(k);
            prof__kineto_copy(k, j.file, other.end, size);
        }
        prof__json_close(&j); /* before the file is replaced: Windows does not replace open files */
        if (opened) status = prof__out_close(&k->out);
    }
    free(value);
    return status;
}

/* Gives a complete file its final name. Fails if another program has created a file of that name meanwhile. */
static prof_status prof__kineto_publish(const char *part, const char *path, int replace)
{
    int failed;
#ifdef _WIN32
    failed = replace ? prof__file_rename(part, path) : rename(part, path); /* rename() of Windows replaces nothing */
#else
    failed = replace ? rename(part, path) : link(part, path);
    /* the file system may have no hard links */
    if (failed && !replace && errno != EEXIST && access(path, F_OK)) failed = rename(part, path);
#endif
    if (failed) {
        prof_status status = errno == EEXIST
                                 ? prof__fail(PROF_INVALID_STATE,
                                              "%s: another program has just changed it: nothing was appended", path)
                                 : prof__fail(PROF_IO, "cannot write %s: %s", path, strerror(errno));
        remove(part);
        return status;
    }
    if (!replace) remove(part);
    return PROF_OK;
}

static prof_status prof__kineto_new(prof__kineto *k, const char *path, int replace)
{
    char *part;
    prof_status status;
    if (!strcmp(path, "-") || !prof__file_replaceable(path)) { /* standard output, a pipe or a device */
        status = prof__out_file(&k->out, path);
        if (status != PROF_OK) return status;
        prof__kineto_document(k);
        return prof__out_close(&k->out);
    }
    part = prof__out_part(path);
    if (!part) return prof__fail(PROF_NO_MEMORY, "%s: no memory to write it", path);
    status = prof__out_file(&k->out, part);
    if (status == PROF_OK) {
        prof__kineto_document(k);
        status = prof__out_close(&k->out);
        if (status == PROF_OK) status = prof__kineto_publish(part, path, replace);
    }
    free(part);
    return status;
}

PROF_DEF prof_status prof_ntff_trace_json(const prof_trace *trace, const char *path,
                                          const prof_ntff_trace_options *options)
{
    PROF__CALM();
    prof__kineto *k;
    prof_status status;
    int whose;
    if (!path) return prof__fail(PROF_INVALID_ARGUMENT, "prof_ntff_trace_json: path is null");
    k = prof__kineto_make(trace, options);
    if (!k) return trace ? PROF_NO_MEMORY : PROF_INVALID_ARGUMENT;
    whose = prof__kineto_whose(path);
    if (whose != PROF__KINETO_OTHERS)
        status = prof__kineto_new(k, path, whose == PROF__KINETO_PROFS);
    else if (k->options.append)
        status = prof__kineto_append(k, path);
    else
        status = prof__fail(PROF_INVALID_STATE,
                            "%s was not written by prof, but perhaps by PyTorch: append to it, or write another file",
                            path);
    free(k);
    return status;
}

/*-- ARTIFACTS --------------------------------------------------------------------------------------- >>artifacts -- */

#ifndef _WIN32
#include <dirent.h>
#ifdef PROF__WRAPS_MALLOC
#define opendir(path) PROF__QUIETLY(DIR *, opendir(path))
#define closedir(folder) PROF__QUIETLY(int, closedir(folder))
#endif
#endif

#define PROF__ARTIFACTS_DEPTH 4
#define PROF__ARTIFACTS_MAX 100000u              /* files; a folder with more is not one of captures */
#define PROF__ARTIFACTS_NTFF ((uint64_t)5 << 30) /* bytes; Neuron Explorer fails with larger files, as documented */

/* Gets each entry of a folder. If it does not return 0, the search stops. */
typedef int prof__entry_fn(void *user, const char *folder, const char *name);

/* Calls fn for each entry of a folder. Returns 0 if the folder cannot be read. */
static int prof__entries(const char *folder, prof__entry_fn *fn, void *user)
{
#ifdef _WIN32
    WIN32_FIND_DATAA entry;
    char *pattern = prof__text_join(folder, "\\*");
    HANDLE find = pattern ? FindFirstFileA(pattern, &entry) : INVALID_HANDLE_VALUE;
    free(pattern);
    if (find == INVALID_HANDLE_VALUE) return 0;
    do {
        if (strcmp(entry.cFileName, ".") && strcmp(entry.cFileName, "..") && fn(user, folder, entry.cFileName)) break;
    } while (FindNextFileA(find, &entry));
    FindClose(find);
#else
    DIR *find = opendir(folder);
    const struct dirent *entry;
    if (!find) return 0;
    while ((entry = readdir(find)) != NULL)
        if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..") && fn(user, folder, entry->d_name)) break;
    closedir(find);
#endif
    return 1;
}

static char *prof__path_join(const char *folder, const char *name)
{
    size_t a = strlen(folder), b = strlen(name);
    char *path = (char *)malloc(a + b + 2);
    if (!path) return NULL;
    memcpy(path, folder, a);
    path[a] = '/';
    memcpy(path + a + 1, name, b + 1);
    return path;
}

/*-- names --*/

/* Reads a number at *text, and moves *text behind it. Returns 0 if there is none. */
static int prof__name_number(const char **text, int32_t *number)
{
    const char *c = *text;
    int64_t value = 0;
    for (; *c >= '0' && *c <= '9'; c++) value = value < 0x7FFFFFFF ? value * 10 + (*c - '0') : value;
    if (c == *text || value > 0x7FFFFFFF) return 0;
    *number = (int32_t)value;
    *text = c;
    return 1;
}

static int prof__name_ends(const char *name, const char *end)
{
    size_t a = strlen(name), b = strlen(end);
    return a > b && !strcmp(name + a - b, end);
}

/* Copies the hexadecimal digits at `name`, which end before `end`. Returns 0 if there are none. */
static int prof__name_hash(const char *name, const char *end, char *hash)
{
    size_t length = 0;
    while ((name[length] >= '0' && name[length] <= '9') || (name[length] >= 'a' && name[length] <= 'f')) length++;
    if (!length || length > 71 || strncmp(name + length, end, strlen(end))) return 0;
    memcpy(hash, name, length);
    hash[length] = 0;
    return 1;
}

static void prof__name_after(const char *name, const char *word, int32_t *number)
{
    const char *at = strstr(name, word);
    if (at && (at += strlen(word), prof__name_number(&at, number))) return;
}

/* Finds out from the name of a file what it is. Returns 0 if it is not a file of Neuron. */
static int prof__artifact_name(const char *name, prof_ntff_artifact *a)
{
    static const struct {
        const char *name;
        prof_ntff_kind kind;
    } names[] = {{"ntrace.pb", PROF_NTFF_NTRACE},         {"trace_info.pb", PROF_NTFF_TRACE_INFO},
                 {"cpu_util.pb", PROF_NTFF_CPU_UTIL_PB},  {"host_mem.pb", PROF_NTFF_HOST_MEM_PB},
                 {"trace.json", PROF_NTFF_TRACE_JSON}};
    size_t i;
    memset(a, 0, sizeof *a);
    a->nc = a->session = -1;
    for (i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(name, names[i].name)) {
            a->kind = names[i].kind;
            return 1;
        }
    if (!strncmp(name, "neuron_framework_trace_rank_", 28) && prof__name_ends(name, ".json")) {
        a->kind = PROF_NTFF_STRAY_JSON;
    } else if (prof__name_ends(name, ".neff")) {
        a->kind = PROF_NTFF_NEFF;
        prof__name_after(name, "_vnc_", &a->nc);
        if (!strncmp(name, "neff_", 5) && !prof__name_hash(name + 5, "_vnc_", a->hash))
            (void)prof__name_hash(name + 5, ".neff", a->hash);
        if (!strncmp(name, "graph_", 6)) (void)prof__name_hash(name + 6, ".neff", a->hash);
    } else if (prof__name_ends(name, ".ntff")) {
        a->kind = PROF_NTFF_NTFF;
        if (!strncmp(name, "profile_nc_", 11)) {
            prof__name_after(name, "profile_nc_", &a->nc);
            prof__name_after(name, "_session_", &a->session);
        } else {
            prof__name_after(name, "_vnc_", &a->nc);
            (void)prof__name_hash(name, "_instid_", a->hash);
        }
    } else {
        return 0;
    }
    return 1;
}

/* Returns 1 if two hashes are equal. The first may be decimal, the second is hexadecimal. */
static int prof__hash_same(const char *a, const char *b)
{
    uint64_t decimal = 0, hex = 0;
    const char *c;
    if (!strcmp(a, b)) return 1;
    if (strlen(a) > 20 || strlen(b) > 16) return 0;
    for (c = a; *c; c++) {
        if (*c > '9') return 0;
        decimal = decimal * 10 + (uint64_t)(*c - '0');
    }
    for (c = b; *c; c++) hex = hex * 16 + (uint64_t)(*c <= '9' ? *c - '0' : *c - 'a' + 10);
    return decimal == hex;
}

/*-- a tree --*/

typedef struct prof__tree {
    prof_ntff_artifact *list;
    size_t count, capacity;
    char **texts;
    size_t text_count, text_capacity;
    const char **closed; /* the folders that could not be read */
    size_t closed_count, closed_capacity;
    int depth, no_memory;
    uint32_t seen;
} prof__tree;

/* Takes ownership of a text on the heap, and returns it. Returns NULL without memory. */
static char *prof__tree_keep(prof__tree *tree, char *text)
{
    if (text && PROF__ROOM(tree->texts, tree->text_capacity, tree->text_count))
        return tree->texts[tree->text_count++] = text;
    free(text);
    tree->no_memory = 1;
    return NULL;
}

static int prof__tree_blank(const char *path)
{
    unsigned char bytes[64];
    size_t got = 0, i;
    FILE *file = prof__file_open(path, "rb");
    if (file) {
        got = fread(bytes, 1, sizeof bytes, file);
        fclose(file);
    }
    for (i = 0; i < got; i++)
        if (bytes[i]) return 0;
    return got > 0;
}

static int prof__tree_add(void *user, const char *folder, const char *name)
{
    prof__tree *tree = (prof__tree *)user;
    prof_ntff_artifact a;
    uint64_t size = 0, changed;
    char *path = prof__path_join(folder, name);
    int kind = path ? prof__path_kind(path, &size, &changed) : 0, known = kind == 1 && prof__artifact_name(name, &a);
    if (!path) tree->no_memory = 1;
    if (++tree->seen > PROF__ARTIFACTS_MAX || tree->no_memory || (kind != 2 && !known) ||
        (kind == 2 && tree->depth == PROF__ARTIFACTS_DEPTH)) {
        free(path);
        return tree->no_memory || tree->seen > PROF__ARTIFACTS_MAX;
    }
    path = prof__tree_keep(tree, path);
    if (!path) return 1;
    if (kind == 2) {
        tree->depth++;
        if (!prof__entries(path, prof__tree_add, tree)) {
            if (PROF__ROOM(tree->closed, tree->closed_capacity, tree->closed_count))
                tree->closed[tree->closed_count++] = path;
            else
                tree->no_memory = 1;
        }
        tree->depth--;
        return tree->no_memory;
    }
    a.path = path;
    a.folder = folder;
    a.name = path + strlen(folder) + 1;
    a.size = size;
    a.blank = a.kind != PROF_NTFF_TRACE_JSON && prof__tree_blank(path);
    if (!PROF__ROOM(tree->list, tree->capacity, tree->count)) return tree->no_memory = 1;
    tree->list[tree->count++] = a;
    return 0;
}

static int prof__artifact_order(const void *a, const void *b)
{
    const prof_ntff_artifact *x = (const prof_ntff_artifact *)a, *y = (const prof_ntff_artifact *)b;
    int order = strcmp(x->folder, y->folder);
    return order ? order : strcmp(x->name, y->name);
}

/* Returns 1 if `path` is `dir` or below it. */
static int prof__path_below(const char *path, const char *dir)
{
    size_t length = strlen(dir);
    return !strncmp(path, dir, length) && (!path[length] || path[length] == '/');
}

/* Returns 1 if a model belongs to a profile. If both names have a hash, these must be equal, and one file's folder must
   be the other's or below it. If a name has no hash, the two must be in one folder. */
static int prof__artifact_pair(const prof_ntff_artifact *ntff, const prof_ntff_artifact *neff)
{
    if (ntff->hash[0] && neff->hash[0])
        return prof__hash_same(ntff->hash, neff->hash) &&
               (prof__path_below(neff->folder, ntff->folder) || prof__path_below(ntff->folder, neff->folder));
    if (!prof__path_below(neff->folder, ntff->folder)) return 0;
    const char *below = neff->folder + strlen(ntff->folder);
    return !*below || !strcmp(below, "/neffs");
}

/* Compares each model with each profile, and counts the pairs. Models are few; profiles are many, one a NeuronCore. */
static void prof__tree_pair(prof__tree *tree)
{
    size_t i, j;
    for (j = 0; j < tree->count; j++) {
        for (i = 0; i < tree->count && tree->list[j].kind == PROF_NTFF_NEFF; i++) {
            if (tree->list[i].kind != PROF_NTFF_NTFF || !prof__artifact_pair(&tree->list[i], &tree->list[j])) continue;
            tree->list[i].paired++;
            tree->list[j].paired++;
        }
    }
}

static void prof__tree_free(prof__tree *tree)
{
    size_t i;
    for (i = 0; i < tree->text_count; i++) free(tree->texts[i]);
    free(tree->texts);
    free(tree->closed);
    free(tree->list);
}

static prof_status prof__tree_read(prof__tree *tree, const char *dir)
{
    size_t length;
    char *root;
    memset(tree, 0, sizeof *tree);
    if (!dir || !*dir) return prof__fail(PROF_INVALID_ARGUMENT, "folder is null or empty");
    root = prof__tree_keep(tree, prof__text_join(dir, ""));
    for (length = root ? strlen(root) : 0; length > 1 && root[length - 1] == '/'; length--) root[length - 1] = 0;
    if (root && !prof__entries(root, prof__tree_add, tree))
        return prof__fail(PROF_IO, "cannot read %s: %s", dir, strerror(errno));
    if (tree->no_memory) return prof__fail(PROF_NO_MEMORY, "%s: no memory to list it", dir);
    if (tree->seen > PROF__ARTIFACTS_MAX)
        return prof__fail(PROF_UNSUPPORTED,
                          "%s holds more than %u files and folders: name a folder that the Neuron runtime wrote",
                          dir, PROF__ARTIFACTS_MAX);
    if (tree->count > 1) qsort(tree->list, tree->count, sizeof *tree->list, prof__artifact_order);
    prof__tree_pair(tree);
    return PROF_OK;
}

PROF_DEF prof_status prof_ntff_list(const char *dir, prof_ntff_artifact_fn fn, void *user)
{
    prof__tree tree;
    prof_status status = prof__tree_read(&tree, dir);
    size_t i;
    for (i = 0; status == PROF_OK && fn && i < tree.count && !fn(user, &tree.list[i]); i++) continue;
    prof__tree_free(&tree);
    return status;
}

/*-- the newest session --*/

typedef struct prof__session_search {
    char ends[2][32]; /* how the process's folder may end; "": as it likes */
    uint64_t not_before, newest;
    int level;        /* of the folder that is searched: 0: OUTPUT_DIR; 1: the folder of a process */
    int best;         /* 2: `found` has a trace_info.pb; 1: it has none; 0: nothing was found */
    int no_memory;
    char *found;
} prof__session_search;

/* Returns the Unix time that the name of a folder is, in s, ms, us or ns. Returns 0 for other names, such as dates. */
static uint64_t prof__folder_time(const char *name)
{
    int negative;
    uint64_t time;
    size_t length = strlen(name);
    if (length < 10 || length > 19 || length % 3 != 1 || *name == '0' || length != strspn(name, "0123456789") ||
        !prof__json_whole(name, &negative, &time))
        return 0;
    for (; length < 19; length += 3) time *= 1000;
    return time;
}

static void prof__session_offer(prof__session_search *search, const char *path, uint64_t time)
{
    char *info = prof__path_join(path, "trace_info.pb");
    uint64_t size, changed = 0;
    int good = info && prof__path_kind(info, &size, &changed) == 1 ? 2 : 1;
    if (!info) search->no_memory = 1;
    free(info);
    if (!time) time = changed;
    if (!time && prof__path_kind(path, &size, &changed) == 2) time = changed;
    if (time + 2000000000u < search->not_before || good < search->best ||
        (good == search->best && time < search->newest))
        return;
    info = prof__text_join(path, "");
    if (!info) search->no_memory = 1;
    free(search->found);
    search->found = info;
    search->best = good;
    search->newest = time;
}

static int prof__session_look(void *user, const char *folder, const char *name)
{
    prof__session_search *search = (prof__session_search *)user;
    char *path;
    uint64_t size, changed, time = prof__folder_time(name);
    int fits = search->level ? time != 0
                             : (search->ends[0][0]
                                    ? prof__name_ends(name, search->ends[0]) || prof__name_ends(name, search->ends[1])
                                    : strstr(name, "_pid_") != NULL || strncmp(name, "i-", 2) == 0);
    if (!fits) return 0;
    path = prof__path_join(folder, name);
    if (!path) search->no_memory = 1;
    if (path && prof__path_kind(path, &size, &changed) == 2) {
        prof__session_offer(search, path, search->level ? time : 0);
        if (!search->level) {
            search->level = 1;
            prof__entries(path, prof__session_look, search);
            search->level = 0;
        }
    }
    free(path);
    return search->no_memory;
}

PROF_DEF prof_status prof_ntff_find_session(const char *output_dir, uint64_t pid, uint64_t not_before_unix_ns,
                                            char *folder, size_t size)
{
    prof__session_search search;
    prof_status status = PROF_OK;
    if (!output_dir || !*output_dir || !folder || !size)
        return prof__fail(PROF_INVALID_ARGUMENT,
                          "prof_ntff_find_session: output_dir is null or empty, or folder is null");
    folder[0] = 0;
    memset(&search, 0, sizeof search);
    search.not_before = not_before_unix_ns;
    if (pid) {
        snprintf(search.ends[0], sizeof search.ends[0], "_pid_%llu", (unsigned long long)pid);
        snprintf(search.ends[1], sizeof search.ends[1], "-%llu", (unsigned long long)pid);
    }
    if (!prof__entries(output_dir, prof__session_look, &search))
        status = prof__fail(PROF_IO, "cannot read %s: %s", output_dir, strerror(errno));
    else if (search.no_memory)
        status = prof__fail(PROF_NO_MEMORY, "%s: no memory to search it", output_dir);
    else if (!search.found)
        status = prof__fail(PROF_INVALID_STATE, "%s: no session%s: neither INSTANCE_pid_PID nor INSTANCE-PID",
                            output_dir, pid ? " of this process" : "");
    else if (strlen(search.found) >= size)
        status = prof__fail(PROF_INVALID_ARGUMENT, "%s: its name is too long", search.found);
    else
        memcpy(folder, search.found, strlen(search.found) + 1);
    free(search.found);
    return status;
}

/*-- what is wrong --*/

typedef struct prof__checkup {
    prof_ntff_say_fn say;
    void *user;
    int problems;
    const prof__tree *tree;
    size_t counts[PROF_NTFF_KIND_COUNT]; /* how many files of each kind the present folder has */
} prof__checkup;

static void prof__checkup_say(prof__checkup *c, prof_ntff_word word, const char *format, ...) PROF__PRINTF(3, 4);
static void prof__checkup_say(prof__checkup *c, prof_ntff_word word, const char *format, ...)
{
    char text[2048];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    c->problems += word == PROF_NTFF_PROBLEM;
    if (c->say) c->say(c->user, word, text);
}

static void prof__checkup_profile(prof__checkup *c, const prof_ntff_artifact *a)
{
    if (a->size > PROF__ARTIFACTS_NTFF)
        prof__checkup_say(c, PROF_NTFF_PROBLEM,
                          "%s has %.1f GB: Neuron Explorer fails beyond 5 GB; capture fewer executions", a->name,
                          (double)a->size / 1e9);
    if (a->paired || !a->size) return;
    if (a->hash[0])
        prof__checkup_say(c, PROF_NTFF_PROBLEM,
                          "%s: its model, neff_%s.neff, is missing, and without it a profile cannot "
                          "be read: copy it from the compiler's cache of the machine that ran it",
                          a->name, a->hash);
    else
        prof__checkup_say(c, PROF_NTFF_PROBLEM,
                          "%s: no model (.neff) is beside it, and without one a profile cannot be read: "
                          "copy it from the compiler's cache, or set TORCH_NEURONX_NEFF_CACHE_DIR",
                          a->name);
}

static void prof__checkup_file(prof__checkup *c, const prof_ntff_artifact *a)
{
    if (!a->size && a->kind == PROF_NTFF_NTFF)
        prof__checkup_say(c, PROF_NTFF_PROBLEM,
                          "%s has 0 bytes: nothing ran on that NeuronCore while the session was open; begin "
                          "it before the first execution, and end it after the last is done",
                          a->name);
    else if (!a->size)
        prof__checkup_say(c, PROF_NTFF_PROBLEM, "%s has 0 bytes: the process was stopped before it was written",
                          a->name);
    else if (a->blank)
        prof__checkup_say(c, PROF_NTFF_PROBLEM, "%s begins with zeros: it was not written to the end", a->name);
    if (a->kind == PROF_NTFF_NTFF) prof__checkup_profile(c, a);
    if (a->kind == PROF_NTFF_STRAY_JSON)
        prof__checkup_say(c, PROF_NTFF_PROBLEM,
                          "%s: no tool looks for that name: call it trace.json, in the folder of the same "
                          "process that has trace_info.pb",
                          a->name);
}

/* Checks a trace.json: its place, and whether it has a base time. */
static void prof__checkup_json(prof__checkup *c, const prof_ntff_artifact *a)
{
    char head[4097];
    size_t got = 0, i;
    const prof_ntff_artifact *info = NULL;
    FILE *file = prof__file_open(a->path, "rb");
    if (file) {
        got = fread(head, 1, sizeof head - 1, file);
        fclose(file);
    }
    head[got] = 0;
    if (a->size && !strstr(head, "baseTimeNanoseconds"))
        prof__checkup_say(c, PROF_NTFF_PROBLEM,
                          "%s has no baseTimeNanoseconds where PyTorch writes it: its times may not match "
                          "those of the NeuronCores",
                          a->name);
    for (i = 0; i < c->tree->count; i++) {
        if (c->tree->list[i].kind != PROF_NTFF_TRACE_INFO) continue;
        if (!strcmp(c->tree->list[i].folder, a->folder)) return;
        if (prof__path_below(c->tree->list[i].folder, a->folder)) info = &c->tree->list[i];
    }
    if (info)
        prof__checkup_say(c, PROF_NTFF_PROBLEM,
                          "%s: Neuron Explorer looks for it beside trace_info.pb: move it into %s", a->name,
                          info->folder);
    else
        prof__checkup_say(c, PROF_NTFF_PROBLEM,
                          "%s: no trace_info.pb is beside it, where Neuron Explorer would look for it", a->name);
}

/* Writes a count, such as "2 device profiles, ", at *to, and moves *to behind it. There must be space before `end`. */
static void prof__checkup_count(char **to, const char *end, size_t count, const char *one)
{
    if (!count) return;
    *to += snprintf(*to, (size_t)(end - *to), "%lu %s%s, ", (unsigned long)count, one, count > 1 ? "s" : "");
}

/* Tells the user which files a folder has. */
static void prof__checkup_folder(prof__checkup *c, const char *folder)
{
    static const char *const names[PROF_NTFF_KIND_COUNT] = {
        "device profile",         "model",      "system profile",      "", "list of CPU samples",
        "list of memory samples", "host trace", "misnamed host trace"};
    char text[512], *to = text;
    int i;
    for (i = 0; i < PROF_NTFF_KIND_COUNT; i++)
        if (i != PROF_NTFF_TRACE_INFO) prof__checkup_count(&to, text + sizeof text, c->counts[i], names[i]);
    if (to > text) to -= 2;
    *to = 0;
    prof__checkup_say(c, PROF_NTFF_FOLDER, "%s: %s%s%s", folder,
                      c->counts[PROF_NTFF_TRACE_INFO] ? "a session" : "no session", to > text ? ": " : "", text);
}

/* Checks that the folder of a session has all files that it should have. */
static void prof__checkup_session(prof__checkup *c)
{
    const size_t *n = c->counts;
    if (!n[PROF_NTFF_TRACE_INFO] && (n[PROF_NTFF_NTRACE] || n[PROF_NTFF_CPU_UTIL_PB] || n[PROF_NTFF_HOST_MEM_PB]))
        prof__checkup_say(c, PROF_NTFF_PROBLEM,
                          "trace_info.pb is missing, without which Neuron Explorer opens no folder: the "
                          "session was not ended. Call nrt_inspect_stop() or prof_ntff_session_end() before "
                          "nrt_close(), and do not kill the process before that is done");
    if (!n[PROF_NTFF_TRACE_INFO]) return;
    if (!n[PROF_NTFF_NTRACE])
        prof__checkup_say(c, PROF_NTFF_PROBLEM,
                          "ntrace.pb is missing, without which Neuron Explorer opens no folder: the activity "
                          "system_profile was off (NEURON_RT_INSPECT_SYSTEM_PROFILE)");
    if (!n[PROF_NTFF_NTFF])
        prof__checkup_say(c, PROF_NTFF_REMARK,
                          "no device profile (.ntff): there is none unless asked for "
                          "(NEURON_RT_INSPECT_DEVICE_PROFILE=session, or the activity device_profile)");
    if (!n[PROF_NTFF_TRACE_JSON])
        prof__checkup_say(c, PROF_NTFF_REMARK,
                          "no trace.json: Neuron Explorer shows nothing of the host's scopes (prof neuron place)");
}

/* Checks the files of one folder, which are those from `first` up to `end`. */
static void prof__checkup_files(prof__checkup *c, size_t first, size_t end)
{
    const char *folder = c->tree->list[first].folder;
    size_t i;
    int bad = 0;
    memset(c->counts, 0, sizeof c->counts);
    for (i = first; i < end; i++) {
        c->counts[c->tree->list[i].kind]++;
        bad |= !c->tree->list[i].size || c->tree->list[i].blank;
    }
    if (c->counts[PROF_NTFF_NEFF] == end - first && !bad) return; /* only models: they belong to the session above */
    for (i = 0; i < c->tree->count; i++)
        c->counts[PROF_NTFF_NEFF] += c->tree->list[i].kind == PROF_NTFF_NEFF &&
                                     prof__path_below(c->tree->list[i].folder, folder) &&
                                     !strcmp(c->tree->list[i].folder + strlen(folder), "/neffs");
    prof__checkup_folder(c, folder);
    prof__checkup_session(c);
    for (i = first; i < end; i++) {
        prof__checkup_file(c, &c->tree->list[i]);
        if (c->tree->list[i].kind == PROF_NTFF_TRACE_JSON) prof__checkup_json(c, &c->tree->list[i]);
    }
}

static void prof__checkup_all(prof__checkup *c, const char *dir)
{
    size_t first, end, count = c->tree->count, models = 0;
    for (first = 0; first < count; first = end) {
        for (end = first + 1; end < count && !strcmp(c->tree->list[end].folder, c->tree->list[first].folder);) end++;
        prof__checkup_files(c, first, end);
    }
    for (first = 0; first < count; first++) models += c->tree->list[first].kind == PROF_NTFF_NEFF;
    for (first = 0; first < c->tree->closed_count; first++) {
        prof__checkup_say(c, PROF_NTFF_FOLDER, "%s: cannot be read", c->tree->closed[first]);
        prof__checkup_say(c, PROF_NTFF_PROBLEM,
                          "its files were not checked: run this as the user who ran the program");
    }
    if (models < count || c->tree->closed_count) return;
    memset(c->counts, 0, sizeof c->counts);
    c->counts[PROF_NTFF_NEFF] = models;
    prof__checkup_folder(c, dir);
    prof__checkup_say(c, PROF_NTFF_PROBLEM,
                      "nothing was captured here. If the program ran on a NeuronCore: either "
                      "NEURON_RT_INSPECT_ENABLE=1 is set before it calls nrt_init(), or a session is begun "
                      "after that, or PyTorch's or JAX's profiler is used, but only one of them; and the folder "
                      "is NEURON_RT_INSPECT_OUTPUT_DIR, or ./output where it was started");
}

PROF_DEF prof_status prof_ntff_check(const char *dir, prof_ntff_say_fn say, void *user, int *problems)
{
    prof__tree tree;
    prof__checkup c;
    prof_status status = prof__tree_read(&tree, dir);
    memset(&c, 0, sizeof c);
    c.say = say;
    c.user = user;
    c.tree = &tree;
    if (status == PROF_OK) prof__checkup_all(&c, dir);
    prof__tree_free(&tree);
    if (problems) *problems = c.problems;
    return status;
}

#define PROF__NTFF_ABI_status PROF_NTFF_NRT_STATUS
#define PROF__NTFF_ABI_nothing void
#define PROF__NTFF_ABI_text const char *
#define PROF__NTFF_FIELD(result, name, parameters, arguments, role) PROF__NTFF_ABI_##result(*name) parameters;
typedef struct prof__ntff_api {
    PROF_NTFF_TABLE(PROF__NTFF_FIELD)
    void *handle;
    struct prof__ntff_api *front; /* a copy with some functions replaced: see prof__ntff_front() */
    unsigned can;
    char version[96], path[PROF_NTFF_PATH];
} prof__ntff_api;

static const struct {
    const char *name;
    size_t field;
} prof__ntff_symbols[] = {
#define PROF__NTFF_SYMBOL(result, name, parameters, arguments, role) {"nrt_" #name, offsetof(prof__ntff_api, name)},
    PROF_NTFF_TABLE(PROF__NTFF_SYMBOL)
};

static const prof__ntff_api *prof__ntff_api_now;
static PROF__PER_THREAD unsigned prof__ntff_status; /* the NRT_STATUS of this thread's last call of the runtime */

/* Returns a function of the table, as a pointer to data. Returns NULL if the runtime lacks it. */
static void *prof__ntff_symbol(const prof__ntff_api *api, size_t field)
{
    void *symbol;
    memcpy(&symbol, (const char *)api + field, sizeof symbol);
    return symbol;
}
#define PROF__NTFF_HAS(api, name) (prof__ntff_symbol(api, offsetof(prof__ntff_api, name)) != NULL)

/* Returns the table, which the first call fills. Returns NULL if there is no runtime. */
static const prof__ntff_api *prof__ntff_get(void)
{
    const prof__ntff_api *api = PROF__ACQUIRE(&prof__ntff_api_now);
    if (!api && !prof_ntff_load(NULL)) api = PROF__ACQUIRE(&prof__ntff_api_now);
    return api;
}

/*-- options that are NULL, or enable nothing --*/

#ifdef __linux__
/* Options objects that have a flag set. The options that the runtime allocates have none, and so capture nothing. */
static struct {
    const void *options;
    unsigned flags; /* 1: enable_inspect, 2: enable_inspect_on_fail */
} prof__ntff_enabled[32];
static int prof__ntff_enabled_word;             /* the lock of prof__ntff_enabled */
static PROF__PER_THREAD int prof__ntff_nothing; /* 1: the options of this thread's last session enable nothing */

/* Sets a flag of an options object to `on`. flag 0: clears all flags, or with `on` only reads them. Returns the flags.
   Returns 3 if the object has no entry because the table is full: then anything may be enabled. */
static unsigned prof__ntff_flag(const void *options, unsigned flag, int on)
{
    size_t count = sizeof prof__ntff_enabled / sizeof *prof__ntff_enabled, at = count, empty = count;
    unsigned flags = 0;
    prof__lock(&prof__ntff_enabled_word);
    for (size_t i = 0; i < count; i++) {
        if (prof__ntff_enabled[i].options == options) at = i;
        if (!prof__ntff_enabled[i].flags) empty = i;
    }
    if (at == count) at = empty;
    if (at < count) {
        flags = prof__ntff_enabled[at].options == options ? prof__ntff_enabled[at].flags : 0;
        flags = !flag ? (on ? flags : 0u) : on ? flags | flag : flags & ~flag;
        prof__ntff_enabled[at].options = options;
        prof__ntff_enabled[at].flags = flags;
    } else {
        flags = 3;
    }
    prof__unlock(&prof__ntff_enabled_word);
    return flags;
}

static PROF_NTFF_NRT_STATUS prof__ntff_allocate(struct nrt_inspect_config **options)
{
    const prof__ntff_api *api = prof__ntff_get();
    PROF_NTFF_NRT_STATUS status = api->inspect_config_allocate(options);
    if (!status && options) prof__ntff_flag(*options, 0, 0); /* freed options may have had this address */
    return status;
}
static PROF_NTFF_NRT_STATUS prof__ntff_enable(struct nrt_inspect_config *options, prof_ntff_bool on)
{
    const prof__ntff_api *api = prof__ntff_get();
    PROF_NTFF_NRT_STATUS status = api->inspect_config_set_enable_inspect(options, on);
    if (!status) prof__ntff_flag(options, 1, on);
    return status;
}
static PROF_NTFF_NRT_STATUS prof__ntff_enable_on_fail(struct nrt_inspect_config *options, prof_ntff_bool on)
{
    const prof__ntff_api *api = prof__ntff_get();
    PROF_NTFF_NRT_STATUS status = api->inspect_config_set_enable_inspect_on_fail(options, on);
    if (!status) prof__ntff_flag(options, 2, on);
    return status;
}

/* Begins a session. Without options, it captures all that the runtime's defaults name. */
static PROF_NTFF_NRT_STATUS prof__ntff_begin_with(struct nrt_inspect_config *options)
{
    const prof__ntff_api *api = prof__ntff_get();
    struct nrt_inspect_config *own = NULL;
    prof__ntff_nothing = options && !prof__ntff_flag(options, 0, 1);
    if (options || !api->inspect_config_set_defaults || !api->inspect_config_free)
        return api->inspect_begin_with_options(options);
    PROF_NTFF_NRT_STATUS status = api->inspect_config_allocate(&own);
    if (!status) status = api->inspect_config_set_defaults(own);
    if (!status) status = api->inspect_config_set_enable_inspect(own, 1);
    if (!status) status = api->inspect_begin_with_options(own);
    if (own) (void)api->inspect_config_free(own);
    return status;
}
static PROF_NTFF_NRT_STATUS prof__ntff_trace_with(struct nrt_sys_trace_config *options)
{
    const prof__ntff_api *api = prof__ntff_get();
    struct nrt_sys_trace_config *own = NULL;
    if (options || !api->sys_trace_config_set_defaults || !api->sys_trace_config_free)
        return api->sys_trace_start(options);
    PROF_NTFF_NRT_STATUS status = api->sys_trace_config_allocate(&own);
    if (!status) api->sys_trace_config_set_defaults(own);
    if (!status) status = api->sys_trace_start(own);
    if (own) api->sys_trace_config_free(own);
    return status;
}
static PROF_NTFF_NRT_STATUS prof__ntff_profile_with(struct nrt_profile_continuous_options *options)
{
    const prof__ntff_api *api = prof__ntff_get();
    struct nrt_profile_continuous_options *own = NULL;
    if (options || !api->profile_continuous_options_free) return api->profile_continuous_start(options);
    PROF_NTFF_NRT_STATUS status = api->profile_continuous_options_allocate(&own);
    if (!status) status = api->profile_continuous_start(own);
    if (own) (void)api->profile_continuous_options_free(own);
    return status;
}
static PROF_NTFF_NRT_STATUS prof__ntff_save_with(uint32_t vnc, struct nrt_profile_continuous_options *options)
{
    const prof__ntff_api *api = prof__ntff_get();
    struct nrt_profile_continuous_options *own = NULL;
    if (options || !api->profile_continuous_options_free) return api->profile_continuous_save(vnc, options);
    PROF_NTFF_NRT_STATUS status = api->profile_continuous_options_allocate(&own);
    if (!status) status = api->profile_continuous_save(vnc, own);
    if (own) (void)api->profile_continuous_options_free(own);
    return status;
}

/* Replaces functions in a copy of the runtime's table by those above. */
static void prof__ntff_front(prof__ntff_api *api)
{
    if (api->can & PROF_NTFF_CAN_INSPECT) {
        api->inspect_config_allocate = prof__ntff_allocate;
        api->inspect_config_set_enable_inspect = prof__ntff_enable;
        if (api->inspect_config_set_enable_inspect_on_fail)
            api->inspect_config_set_enable_inspect_on_fail = prof__ntff_enable_on_fail;
        api->inspect_begin_with_options = prof__ntff_begin_with;
    }
    if (api->can & PROF_NTFF_CAN_SYS_TRACE) api->sys_trace_start = prof__ntff_trace_with;
    if (api->can & PROF_NTFF_CAN_CONTINUOUS) {
        api->profile_continuous_start = prof__ntff_profile_with;
        api->profile_continuous_save = prof__ntff_save_with;
    }
}
#else
static PROF__PER_THREAD int prof__ntff_nothing;
#endif

/*-- LOADER ------------------------------------------------------------------------------------------------ >>loader --
   The table of the runtime's functions is published when it is complete, and does not change afterwards. So wrappers
   take no lock, and a fork() cannot leave one locked. */

#ifdef __linux__
#include <dlfcn.h>
#ifdef PROF__LATE /* what dlfcn.h declares with _GNU_SOURCE only: see prof.h, >>platform */
typedef struct prof__ntff_symbol_info {
    const char *dli_fname;
    void *dli_fbase;
    const char *dli_sname;
    void *dli_saddr;
} prof__ntff_symbol_info;
extern int prof__libc_dladdr(const void *address, prof__ntff_symbol_info *info) __asm__("dladdr");
#else
typedef Dl_info prof__ntff_symbol_info;
#define prof__libc_dladdr dladdr
#endif
#endif

#ifdef __linux__
/* What nrt_get_version() fills in; the layout is that of nrt_version.h. */
typedef struct prof__ntff_version {
    uint64_t major, minor, patch, maintenance;
    char detail[128], git_hash[64];
} prof__ntff_version;

static void prof__ntff_describe(prof__ntff_api *api)
{
    prof__ntff_version version;
    prof__ntff_symbol_info where;
    memset(&version, 0, sizeof version);
    snprintf(api->version, sizeof api->version, "unknown");
    if (api->get_version && !api->get_version((struct nrt_version *)(void *)&version, sizeof version))
        snprintf(api->version, sizeof api->version, "%llu.%llu.%llu.%llu", (unsigned long long)version.major,
                 (unsigned long long)version.minor, (unsigned long long)version.patch,
                 (unsigned long long)version.maintenance);
    if (prof__libc_dladdr(prof__ntff_symbol(api, offsetof(prof__ntff_api, init)), &where) && where.dli_fname)
        prof__text_copy(api->path, sizeof api->path, where.dli_fname);
    if (api->inspect_begin_with_options && api->inspect_stop && api->inspect_config_allocate &&
        api->inspect_config_free && api->inspect_config_set_activity && api->inspect_config_set_enable_inspect)
        api->can |= PROF_NTFF_CAN_INSPECT;
    if (api->inspect_config_set_inspect_device_profile_mode) api->can |= PROF_NTFF_CAN_DEVICE_MODE;
    if (api->profile_start && api->profile_stop) api->can |= PROF_NTFF_CAN_PROFILE;
    if (api->profile_continuous_options_allocate && api->profile_continuous_options_free &&
        api->profile_continuous_start && api->profile_continuous_save && api->profile_continuous_stop)
        api->can |= PROF_NTFF_CAN_CONTINUOUS;
    if (api->sys_trace_config_allocate && api->sys_trace_config_free && api->sys_trace_start && api->sys_trace_stop &&
        api->sys_trace_fetch_events && api->sys_trace_buffer_free)
        api->can |= PROF_NTFF_CAN_SYS_TRACE;
    if (api->trace_start && api->trace_stop) api->can |= PROF_NTFF_CAN_TRACE;
    if (api->debug_client_connect && api->debug_client_connect_close && api->debug_client_read_one_event)
        api->can |= PROF_NTFF_CAN_DEBUG_STREAM;
}

/* Returns a library that is in the process already. Does not load it. */
static void *prof__ntff_present(const char *name) { return dlopen(name, RTLD_NOW | RTLD_NOLOAD); }

/* Returns the runtime that is in the process already. Returns NULL if there is none. */
static void *prof__ntff_present_any(void)
{
    void *handle = prof__ntff_present("libnrt.so.1");
    if (!handle) handle = prof__ntff_present("libnrt.so");
    if (handle) return handle;
    handle = dlopen(NULL, RTLD_NOW);
    if (handle && dlsym(handle, "nrt_init")) return handle; /* a part of the program, or loaded with RTLD_GLOBAL */
    if (handle) dlclose(handle);
    return NULL;
}

static void *prof__ntff_installed(void)
{
    static const char *const names[] = {"libnrt.so.1", "/opt/aws/neuron/lib/libnrt.so.1",
                                        "/opt/aws/neuron/lib/libnrt.so"};
    void *handle = NULL;
    for (size_t i = 0; !handle && i < sizeof names / sizeof *names; i++)
        handle = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    return handle;
}

/* Opens the runtime at `path`; if path is NULL, any runtime. If the process has one already, loads no other, because
   two runtimes would conflict over the device. */
static void *prof__ntff_open_library(const char *path, prof_status *status)
{
    void *present = prof__ntff_present_any(), *handle;
    if (!path) {
        handle = present ? present : prof__ntff_installed();
        if (!handle)
            *status = prof__fail(PROF_UNSUPPORTED, "cannot find libnrt.so.1: install aws-neuronx-runtime-lib, or set "
                                                   "PROF_NTFF_LIBNRT");
        return handle;
    }
    handle = prof__ntff_present(path);
    if (!handle && !present) {
        handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (!handle) *status = prof__fail(PROF_UNSUPPORTED, "cannot load the Neuron runtime: %.200s", dlerror());
    } else if (!handle) {
        *status = prof__fail(PROF_INVALID_STATE, "%.100s: the process has loaded another libnrt, and cannot have two",
                             path);
    }
    if (present) dlclose(present); /* `handle` holds its own reference */
    return handle;
}

static prof__ntff_api *prof__ntff_find(const char *path, prof_status *status)
{
    if (!path) path = prof__environment("PROF_NTFF_LIBNRT");
    if (path && !*path) path = NULL;
    void *handle = prof__ntff_open_library(path, status);
    prof__ntff_api *api = handle ? (prof__ntff_api *)calloc(1, sizeof *api) : NULL;
    if (handle && !api) *status = prof__fail(PROF_NO_MEMORY, "no memory for the functions of libnrt");
    for (size_t i = 0; api && i < sizeof prof__ntff_symbols / sizeof *prof__ntff_symbols; i++) {
        void *symbol = dlsym(handle, prof__ntff_symbols[i].name);
        memcpy((char *)api + prof__ntff_symbols[i].field, &symbol, sizeof symbol);
    }
    if (api && !api->init) {
        *status = prof__fail(PROF_UNSUPPORTED, "%.150s is not a Neuron runtime: it has no nrt_init",
                             path ? path : "libnrt.so.1");
        free(api);
        api = NULL;
    }
    prof__ntff_api *front = api ? (prof__ntff_api *)calloc(1, sizeof *front) : NULL;
    if (api && !front) {
        *status = prof__fail(PROF_NO_MEMORY, "no memory for the functions of libnrt");
        free(api);
        api = NULL;
    }
    if (handle && !api) dlclose(handle);
    if (!api) return NULL;
    api->handle = handle;
    api->front = front;
    prof__ntff_describe(api);
    *front = *api;
    prof__ntff_front(front);
    return api;
}

/* Checks that the runtime that is loaded already is the one at `path`. */
static prof_status prof__ntff_same_library(const prof__ntff_api *api, const char *path)
{
    void *handle = path ? prof__ntff_present(path) : api->handle;
    if (path && handle) dlclose(handle);
    if (handle == api->handle) return PROF_OK;
    return prof__fail(PROF_INVALID_STATE, "prof_ntff_load: %.90s is in use already, not %.90s", api->path, path);
}

PROF_DEF prof_status prof_ntff_load(const char *path)
{
    const prof__ntff_api *api = PROF__ACQUIRE(&prof__ntff_api_now), *none = NULL;
    prof_status status = PROF_OK;
    if (api) return prof__ntff_same_library(api, path);
    prof__ntff_api *found = prof__ntff_find(path, &status);
    if (!found) return status;
    if (__atomic_compare_exchange_n(&prof__ntff_api_now, &none, found, 0, __ATOMIC_RELEASE, __ATOMIC_ACQUIRE))
        return PROF_OK;
    dlclose(found->handle); /* another thread has published its table first */
    free(found->front);
    free(found);
    return prof__ntff_same_library(none, path);
}
#else
PROF_DEF prof_status prof_ntff_load(const char *path)
{
    (void)path;
    return prof__fail(PROF_UNSUPPORTED, "the Neuron runtime exists for Linux only");
}
#endif

PROF_DEF unsigned prof_ntff_capabilities(void)
{
    const prof__ntff_api *api = prof__ntff_get();
    return api ? api->can : 0;
}

PROF_DEF const char *prof_ntff_runtime_version(void)
{
    const prof__ntff_api *api = prof__ntff_get();
    return api ? api->version : NULL;
}

PROF_DEF const char *prof_ntff_library(void)
{
    const prof__ntff_api *api = prof__ntff_get();
    return api ? api->path : NULL;
}

PROF_DEF unsigned prof_ntff_nrt_status(void) { return prof__ntff_status; }

/* The status codes of nrt_status.h. 8 and 12 are not used there. */
static const struct {
    unsigned status;
    const char *name;
} prof__ntff_statuses[] = {
    {0, "NRT_SUCCESS"},
    {1, "NRT_FAILURE"},
    {2, "NRT_INVALID"},
    {3, "NRT_INVALID_HANDLE"},
    {4, "NRT_RESOURCE"},
    {5, "NRT_TIMEOUT"},
    {6, "NRT_HW_ERROR"},
    {7, "NRT_QUEUE_FULL"},
    {9, "NRT_LOAD_NOT_ENOUGH_NC"},
    {10, "NRT_UNSUPPORTED_NEFF_VERSION"},
    {11, "NRT_FAIL_HOST_MEM_ALLOC"},
    {13, "NRT_UNINITIALIZED"},
    {14, "NRT_CLOSED"},
    {15, "NRT_QUEUE_EMPTY"},
    {101, "NRT_EXEC_UNIT_UNRECOVERABLE"},
    {1002, "NRT_EXEC_BAD_INPUT"},
    {1003, "NRT_EXEC_COMPLETED_WITH_NUM_ERR"},
    {1004, "NRT_EXEC_COMPLETED_WITH_ERR"},
    {1005, "NRT_EXEC_NC_BUSY"},
    {1006, "NRT_EXEC_OOB"},
    {1100, "NRT_COLL_PENDING"},
    {1200, "NRT_EXEC_HW_ERR_COLLECTIVES"},
    {1201, "NRT_EXEC_HW_ERR_HBM_UE"},
    {1202, "NRT_EXEC_HW_ERR_NC_UE"},
    {1203, "NRT_EXEC_HW_ERR_DMA_ABORT"},
    {1204, "NRT_EXEC_SW_NQ_OVERFLOW"},
    {1205, "NRT_EXEC_HW_ERR_REPAIRABLE_HBM_UE"},
    {1206, "NRT_NETWORK_PROXY_FAILURE"},
};

PROF_DEF const char *prof_ntff_nrt_status_name(unsigned status)
{
    static PROF__PER_THREAD char number[32];
    const prof__ntff_api *api = PROF__ACQUIRE(&prof__ntff_api_now);
    const char *text;
    for (size_t i = 0; i < sizeof prof__ntff_statuses / sizeof *prof__ntff_statuses; i++)
        if (prof__ntff_statuses[i].status == status) return prof__ntff_statuses[i].name;
    text = api && api->get_status_as_str ? api->get_status_as_str((PROF_NTFF_NRT_STATUS)status) : NULL;
    if (text && !strncmp(text, "NRT_", 4)) return text;
    snprintf(number, sizeof number, "NRT_STATUS_%u", status);
    return number;
}

PROF_DEF const char *prof_ntff_get_status_as_str(PROF_NTFF_NRT_STATUS status)
{
    return prof_ntff_nrt_status_name((unsigned)status);
}

/*-- SESSIONS ------------------------------------------------------------------------------------------ >>sessions --*/

/* Each kind of capture has a word with its phase and the id of its process. The word takes the place of a lock: calls
   of the runtime may take seconds, and a fork() of another thread meanwhile would leave a lock locked for ever. */
enum { PROF__NTFF_NONE, PROF__NTFF_BEGUN, PROF__NTFF_BUSY };

static void prof__ntff_phase_set(uint64_t *word, unsigned phase)
{
    PROF__RELEASE(word, phase ? prof__process_id() << 8 | phase : 0);
}

static prof_status prof__ntff_phase(uint64_t *word, unsigned from, const char *name)
{
    uint64_t process = prof__process_id(), now = from ? process << 8 | from : 0;
    prof__ntff_status = 0; /* no call of the runtime has failed yet */
    if (__atomic_compare_exchange_n(word, &now, process << 8 | PROF__NTFF_BUSY, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return PROF_OK;
    if (now && now >> 8 != process)
        return prof__fail(PROF_INVALID_STATE,
                          "%s: the capture belongs to process %u, and this is a child of its fork()", name,
                          (unsigned)(now >> 8));
    if ((now & 255) == PROF__NTFF_BUSY)
        return prof__fail(PROF_INVALID_STATE, "%s: another thread is using the capture", name);
    return prof__fail(PROF_INVALID_STATE, "%s: %s", name,
                      from ? "no capture was begun" : "a capture is open already: end it first");
}

/* Keeps the first failure of several calls. The calls that clean up after it may set another status and text. */
typedef struct prof__ntff_trouble {
    prof_status status;
    unsigned nrt;
    char text[256];
} prof__ntff_trouble;

static void prof__ntff_note(prof__ntff_trouble *first, prof_status status)
{
    if (first->status || !status) return;
    first->status = status;
    first->nrt = prof__ntff_status;
    prof__text_copy(first->text, sizeof first->text, prof_error());
}

static prof_status prof__ntff_say(const prof__ntff_trouble *first)
{
    prof__ntff_status = first->status ? first->nrt : 0;
    return first->status ? prof__fail(first->status, "%s", first->text) : PROF_OK;
}

/*-- filters --*/

#define PROF__NTFF_NCS 128 /* NeuronCores that a filter may name: as many as in the documentation's example */

/* Parses a list such as "0,2,4-7" into a set. Returns 0 if it is invalid. */
static int prof__ntff_parse_ncs(const char *text, unsigned char *set)
{
    memset(set, 0, PROF__NTFF_NCS);
    for (;;) {
        unsigned long from = 0, to;
        const char *at = text;
        while (*at >= '0' && *at <= '9' && from < PROF__NTFF_NCS) from = from * 10 + (unsigned long)(*at++ - '0');
        if (at == text || from >= PROF__NTFF_NCS) return 0;
        to = from;
        if (*at == '-') {
            text = ++at;
            for (to = 0; *at >= '0' && *at <= '9' && to < PROF__NTFF_NCS;) to = to * 10 + (unsigned long)(*at++ - '0');
            if (at == text || to >= PROF__NTFF_NCS || to < from) return 0;
        }
        for (; from <= to; from++) set[from] = 1;
        if (!*at) return 1;
        if (*at != ',') return 0;
        text = at + 1;
    }
}

/* Returns 1 for "hardware" and 0 for "software", which name all event types of a kind. Returns -1 for other items. */
static int prof__ntff_type_kind(const char *item, size_t size)
{
    if (size != 8) return -1;
    return !memcmp(item, "hardware", 8) ? 1 : !memcmp(item, "software", 8) ? 0 : -1;
}

static int prof__ntff_type_matches(const char *item, size_t size, const char *type)
{
    int kind = prof__ntff_type_kind(item, size);
    if (kind >= 0) return prof__ntff_is_hardware(type) == kind;
    return strlen(type) == size && !memcmp(item, type, size);
}

/* Returns 1 if a filter such as "hardware,nrt_execute,^cc_running" accepts an event type. The last item that matches
   the type decides. */
static int prof__ntff_type_on(const char *filter, const char *type)
{
    int on = *filter == '^';
    while (*filter) {
        size_t size = strcspn(filter, ",");
        int without = *filter == '^';
        if (prof__ntff_type_matches(filter + without, size - (size_t)without, type)) on = !without;
        filter += size;
        if (*filter) filter++;
    }
    return on;
}

static prof_status prof__ntff_types_check(const char *filter, const char **types, size_t count)
{
    while (*filter) {
        size_t size = strcspn(filter, ","), without = *filter == '^', found = 0;
        for (size_t i = 0; i < count; i++)
            found += types[i] && prof__ntff_type_matches(filter + without, size - without, types[i]) != 0;
        if (!found && prof__ntff_type_kind(filter + without, size - without) < 0)
            return prof__fail(PROF_INVALID_ARGUMENT,
                              "event_types '%.*s': must be hardware, software, or a type that "
                              "nrt_sys_trace_get_event_types() lists",
                              size > 60 ? 60 : (int)size, filter);
        filter += size;
        if (*filter) filter++;
    }
    return PROF_OK;
}

/* The options that a filter is applied to: those of a session, or those of a system trace. */
typedef struct prof__ntff_target {
    struct nrt_inspect_config *inspect; /* one of these two is NULL */
    struct nrt_sys_trace_config *trace;
} prof__ntff_target;

static prof_status prof__ntff_set_nc(const prof__ntff_target *to, uint32_t nc, int on)
{
    return to->inspect ? prof_ntff_inspect_config_set_capture_enabled_for_nc(to->inspect, nc, on != 0)
                       : prof_ntff_sys_trace_config_set_capture_enabled_for_nc(to->trace, nc, on != 0);
}

static prof_status prof__ntff_set_type(const prof__ntff_target *to, const char *type, int on)
{
    return to->inspect ? prof_ntff_inspect_config_set_capture_enabled_for_event_type_string(to->inspect, type, on != 0)
                       : prof_ntff_sys_trace_config_set_capture_enabled_for_event_type(to->trace, type, on != 0);
}

/* Turns the NeuronCores of `ncs` on, and all others off. If the runtime refuses to turn a core off, the machine does
   not have that core, and this is no error. */
static prof_status prof__ntff_filter_ncs(const prof__ntff_target *to, const char *ncs)
{
    unsigned char set[PROF__NTFF_NCS];
    prof_status status = PROF_OK;
    if (!ncs) return PROF_OK;
    if (!prof__ntff_parse_ncs(ncs, set))
        return prof__fail(PROF_INVALID_ARGUMENT, "ncs '%.60s': must be numbers below %d, for example 0,2,4-7", ncs,
                          PROF__NTFF_NCS);
    for (uint32_t i = 0; i < PROF__NTFF_NCS && !status; i++) {
        prof_status each = prof__ntff_set_nc(to, i, set[i]);
        if (set[i] || each == PROF_UNSUPPORTED) status = each;
    }
    return status;
}

static prof_status prof__ntff_filter_types(const prof__ntff_target *to, const char *filter)
{
    prof__ntff_trouble trouble = {PROF_OK, 0, ""};
    const char **types = NULL;
    size_t count = 0;
    if (!filter || !*filter) return PROF_OK;
    prof_status status = prof_ntff_sys_trace_get_event_types(&types, &count);
    if (status) return status;
    prof__ntff_note(&trouble, prof__ntff_types_check(filter, types, count));
    for (size_t i = 0; i < count && !trouble.status; i++)
        if (types[i])
            prof__ntff_note(&trouble, prof__ntff_set_type(to, types[i], prof__ntff_type_on(filter, types[i])));
    if (types) prof_ntff_sys_trace_free_event_types(types, count);
    return prof__ntff_say(&trouble);
}

/*-- keys --*/

#define PROF__NTFF_PREFIX "NEURON_RT_INSPECT_"
#define PROF__NTFF_CHOSEN 0x80000000u /* a bit of `activities`: keys have set them, even if all are off */

static void prof__ntff_choose(prof_ntff_config *config, unsigned activity, int on)
{
    unsigned now = config->activities ? config->activities : (unsigned)PROF_NTFF_SYSTEM;
    config->activities = (on ? now | activity : now & ~activity) | PROF__NTFF_CHOSEN;
}

static prof_status prof__ntff_bad(const char *key, const char *value, const char *values)
{
    return prof__fail(PROF_INVALID_ARGUMENT, "%s '%.60s': must be %s", key, value, values);
}

static prof_status prof__ntff_set_switch(prof_ntff_config *config, const char *key, const char *name, const char *value)
{
    int on = prof__parse_name(value, prof__switch_names);
    if (!strcmp(name, "DEVICE_PROFILE") && (!strcmp(value, "model") || !strcmp(value, "session"))) on = 1;
    if (on < 0) return prof__ntff_bad(key, value, strcmp(name, "DEVICE_PROFILE") ? "0 or 1" : "0, 1, model or session");
    on &= 1;
    if (!strcmp(name, "SYSTEM_PROFILE")) prof__ntff_choose(config, PROF_NTFF_SYSTEM, on);
    if (!strcmp(name, "HOST_MEMORY")) prof__ntff_choose(config, PROF_NTFF_HOST_MEMORY, on);
    if (!strcmp(name, "CPU_UTIL")) prof__ntff_choose(config, PROF_NTFF_CPU_UTIL, on);
    if (!strcmp(name, "ON_FAIL")) config->on_fail = on ? PROF_NTFF_ON_FAIL_TOO : PROF_NTFF_ON_FAIL_NO;
    if (!strcmp(name, "DEVICE_PROFILE")) {
        prof__ntff_choose(config, PROF_NTFF_DEVICE, on);
        config->device_mode = strcmp(value, "session") ? PROF_NTFF_DEVICE_MODEL : PROF_NTFF_DEVICE_SESSION;
    }
    if (!strcmp(name, "ENABLE") && !on)
        return prof__fail(PROF_UNSUPPORTED, "%s '%.60s': not possible here: call prof_ntff_session_begin()",
                          key, value);
    return PROF_OK;
}

PROF_DEF prof_status prof_ntff_config_set(prof_ntff_config *config, const char *key, const char *value)
{
    static const char *const switches[] = {"SYSTEM_PROFILE", "DEVICE_PROFILE", "HOST_MEMORY", "CPU_UTIL",
                                           "ON_FAIL",        "ENABLE",         NULL};
    unsigned char set[PROF__NTFF_NCS];
    if (!config || !key || !value) return prof__fail(PROF_INVALID_ARGUMENT, "prof_ntff_config_set: null argument");
    const size_t prefix = sizeof PROF__NTFF_PREFIX - 1;
    const char *name = strncmp(key, PROF__NTFF_PREFIX, prefix) ? "" : key + prefix;
    if (prof__parse_name(name, switches) >= 0) return prof__ntff_set_switch(config, key, name, value);
    if (!strcmp(name, "OUTPUT_DIR")) {
        if (!*value || strlen(value) >= PROF_NTFF_PATH) return prof__ntff_bad(key, value, "a folder");
        config->output_dir = value;
    } else if (!strcmp(name, "EVENT_FILTER_NC")) {
        if (!prof__ntff_parse_ncs(value, set))
            return prof__ntff_bad(key, value, "NeuronCores below 128, for example 0,2,4-7");
        config->ncs = value;
    } else if (!strcmp(name, "EVENT_FILTER_TYPE")) {
        config->event_types = value;
    } else if (!strcmp(name, "SYS_TRACE_MAX_EVENTS_PER_NC")) {
        if (!prof__parse_whole(value, &config->max_events_per_nc)) return prof__ntff_bad(key, value, "a number");
    } else if (!strcmp(name, "DEVICE_PROFILE_NUM_WARMUP") || !strcmp(name, "PRECACHE_ENABLE")) {
        return prof__fail(PROF_UNSUPPORTED, "%s: the runtime has no public function for it: set it in the environment",
                          key);
    } else {
        return prof__fail(PROF_INVALID_ARGUMENT,
                          "unknown key '%.50s': must be " PROF__NTFF_PREFIX "OUTPUT_DIR, _ENABLE, _SYSTEM_PROFILE, "
                          "_DEVICE_PROFILE, _HOST_MEMORY, _CPU_UTIL, _ON_FAIL, _EVENT_FILTER_NC, _EVENT_FILTER_TYPE or "
                          "_SYS_TRACE_MAX_EVENTS_PER_NC", key);
    }
    return PROF_OK;
}

/* What prof_config_set() has set, with copies of the strings. The lock is prof__ntff_wish_word. */
typedef struct prof__ntff_wish {
    prof_ntff_config config;
    char texts[3][PROF_NTFF_PATH];
} prof__ntff_wish;
static prof__ntff_wish prof__ntff_wished;
static int prof__ntff_wish_word;

static void prof__ntff_wish_keep(prof__ntff_wish *wish)
{
    const char **texts[3];
    texts[0] = &wish->config.output_dir;
    texts[1] = &wish->config.ncs;
    texts[2] = &wish->config.event_types;
    for (int i = 0; i < 3; i++) {
        if (!*texts[i]) continue;
        if (*texts[i] != wish->texts[i]) prof__text_copy(wish->texts[i], PROF_NTFF_PATH, *texts[i]);
        *texts[i] = wish->texts[i];
    }
}

static prof_status prof__ntff_claim_key(void *user, const char *key, const char *value)
{
    (void)user;
    if (strlen(value) >= PROF_NTFF_PATH) return prof__ntff_bad(key, value, "shorter than 1024 bytes");
    prof__lock(&prof__ntff_wish_word);
    prof_ntff_config config = prof__ntff_wished.config;
    prof_status status = prof_ntff_config_set(&config, key, value);
    if (!status) {
        prof__ntff_wished.config = config;
        prof__ntff_wish_keep(&prof__ntff_wished);
    }
    prof__unlock(&prof__ntff_wish_word);
    return status;
}

/* Several plugins may have copies of this code. The loader directs all of them to one variable, and only the copy whose
   address it holds handles the keys. */
PROF__ONE_PER_PROCESS const void *prof__ntff_owner = &prof__ntff_wished;

PROF__AT_START(101, prof__ntff_claims);
static void prof__ntff_claims(void)
{
    if (prof__ntff_owner == &prof__ntff_wished) prof_config_claim(PROF__NTFF_PREFIX, prof__ntff_claim_key, NULL);
}
#ifdef PROF__SHARED
PROF__AT_END(101, prof__ntff_claims_no_more);
static void prof__ntff_claims_no_more(void)
{
    if (prof__ntff_owner == &prof__ntff_wished) prof_config_claim(PROF__NTFF_PREFIX, NULL, NULL);
}
#endif

/*-- SYSTEM TRACE -------------------------------------------------------------------------------------- >>systrace --*/

#define PROF__NTFF_PIECE 16384u /* events of each core that one piece has: some 5 MB of JSON */
#define PROF__NTFF_PIECES 64     /* pieces that one call fetches at most: enough for a full ring of the default size */
#define PROF__NTFF_FULL (PROF__NTFF_PIECE * 32u) /* bytes of JSON; a piece that has as many is taken for full */

static struct {
    uint64_t phase;
    struct nrt_sys_trace_config *options;
    struct nrt_sys_trace_fetch_options *piece; /* NULL: this runtime has none, and returns all at once */
    prof_ntff_parser *parser;
    prof_ntff_event_fn event;
    void *user;
} prof__ntff_trace;

static void prof__ntff_trace_free(void)
{
    if (prof__ntff_trace.piece) prof_ntff_sys_trace_fetch_options_free(prof__ntff_trace.piece);
    if (prof__ntff_trace.options) prof_ntff_sys_trace_config_free(prof__ntff_trace.options);
    prof__ntff_trace.piece = NULL;
    prof__ntff_trace.options = NULL;
    prof__ntff_trace.parser = NULL;
}

static prof_status prof__ntff_trace_options(const prof_ntff_systrace *config)
{
    prof__ntff_target target = {NULL, NULL};
    prof_status status = prof_ntff_sys_trace_config_allocate(&target.trace);
    prof__ntff_trace.options = status ? NULL : target.trace;
    if (!status && !target.trace)
        status = prof__fail(PROF_NO_MEMORY, "nrt_sys_trace_config_allocate returned no options");
    if (!status) status = prof_ntff_sys_trace_config_set_defaults(target.trace);
    if (!status && config && config->max_events_per_nc)
        status = prof_ntff_sys_trace_config_set_max_events_per_nc(target.trace, config->max_events_per_nc);
    if (!status && config) status = prof__ntff_filter_ncs(&target, config->ncs);
    if (!status && config) status = prof__ntff_filter_types(&target, config->event_types);
    return status;
}

/* Makes the runtime return pieces. Otherwise the JSON of a million events a core would be in memory at once. */
static void prof__ntff_trace_piece(void)
{
    const prof__ntff_api *api = prof__ntff_get();
    struct nrt_sys_trace_fetch_options *piece = NULL;
    if (!api->sys_trace_fetch_options_allocate || !api->sys_trace_fetch_options_free ||
        !api->sys_trace_fetch_options_set_defaults || !api->sys_trace_fetch_options_set_max_events_per_nc)
        return;
    if (prof_ntff_sys_trace_fetch_options_allocate(&piece) || !piece) return;
    prof_ntff_sys_trace_fetch_options_set_defaults(piece);
    prof_ntff_sys_trace_fetch_options_set_max_events_per_nc(piece, PROF__NTFF_PIECE);
    prof__ntff_trace.piece = piece;
}

PROF_DEF prof_status prof_ntff_systrace_start(const prof_ntff_systrace *config)
{
    prof__ntff_trouble trouble = {PROF_OK, 0, ""};
    prof_status status = prof__ntff_phase(&prof__ntff_trace.phase, PROF__NTFF_NONE, "prof_ntff_systrace_start");
    if (status) return status;
    status = prof__ntff_trace_options(config);
    if (!status) {
        prof__ntff_trace.parser = prof_ntff_parser_create();
        prof__ntff_trace.event = config && config->event ? config->event : prof_ntff_record;
        prof__ntff_trace.user = config ? config->user : NULL;
        prof__ntff_trace_piece();
        if (!prof__ntff_trace.parser) status = prof__fail(PROF_NO_MEMORY, "prof_ntff_systrace_start: no memory");
    }
    if (!status) status = prof_ntff_sys_trace_start(prof__ntff_trace.options);
    prof__ntff_note(&trouble, status);
    if (status) {
        if (prof__ntff_trace.parser) prof_ntff_parser_destroy(prof__ntff_trace.parser, NULL, NULL, NULL);
        prof__ntff_trace_free();
    }
    prof__ntff_phase_set(&prof__ntff_trace.phase, status ? PROF__NTFF_NONE : PROF__NTFF_BEGUN);
    return prof__ntff_say(&trouble);
}

/* Fetches a piece, and sets *size to the bytes of its JSON. */
static prof_status prof__ntff_fetch_piece(prof_ntff_stats *stats, size_t *size)
{
    char *json = NULL;
    prof__ntff_trouble trouble = {PROF_OK, 0, ""};
    *size = 0;
    prof__ntff_note(&trouble, prof_ntff_sys_trace_fetch_events(&json, size, prof__ntff_trace.piece));
    if (!json) return prof__ntff_say(&trouble);
    if (!trouble.status)
        prof__ntff_note(&trouble, prof_ntff_parse_systrace_json(prof__ntff_trace.parser, json, *size,
                                                                prof__ntff_trace.event, prof__ntff_trace.user, stats));
    prof_ntff_sys_trace_buffer_free(json);
    return prof__ntff_say(&trouble);
}

/* Fetches pieces until one is not full, or the user's function has asked to stop. Fetches PROF__NTFF_PIECES at most,
   because new events may come all the time. */
static prof_status prof__ntff_fetch_pieces(prof_ntff_stats *stats)
{
    size_t size = 0;
    prof_status status;
    int pieces = 0;
    prof__ntff_trace.parser->ended = 0; /* the previous call may have been asked to stop */
    do status = prof__ntff_fetch_piece(stats, &size);
    while (!status && !prof__ntff_trace.parser->ended && prof__ntff_trace.piece && size >= PROF__NTFF_FULL &&
           ++pieces < PROF__NTFF_PIECES);
    return status;
}

static prof_status prof__ntff_fetch(prof_ntff_stats *stats)
{
    prof_status status = PROF_OK;
    PROF__BLOCK(PROF_UNIQUE, "prof_ntff_systrace_fetch", "prof", 2) status = prof__ntff_fetch_pieces(stats);
    return status;
}

PROF_DEF prof_status prof_ntff_systrace_fetch(prof_ntff_stats *stats)
{
    prof_status status = prof__ntff_phase(&prof__ntff_trace.phase, PROF__NTFF_BEGUN, "prof_ntff_systrace_fetch");
    if (status) return status;
    status = prof__ntff_fetch(stats);
    prof__ntff_phase_set(&prof__ntff_trace.phase, PROF__NTFF_BEGUN);
    return status;
}

PROF_DEF prof_status prof_ntff_systrace_stop(prof_ntff_stats *stats)
{
    prof__ntff_trouble trouble = {PROF_OK, 0, ""};
    prof_status status = prof__ntff_phase(&prof__ntff_trace.phase, PROF__NTFF_BEGUN, "prof_ntff_systrace_stop");
    if (status) return status;
    prof__ntff_note(&trouble, prof__ntff_fetch(stats));
    prof__ntff_note(&trouble, prof_ntff_sys_trace_stop());
    prof__ntff_parser_close(prof__ntff_trace.parser, prof__ntff_trace.event, prof__ntff_trace.user, stats);
    prof__ntff_trace_free();
    prof__ntff_phase_set(&prof__ntff_trace.phase, PROF__NTFF_NONE);
    return prof__ntff_say(&trouble);
}

/*-- RUNTIME ---------------------------------------------------------------------------------------------- >>runtime --
   The word prof__ntff_captures says which captures are open, and in which process. The process matters because the
   child of a fork() inherits the word, but not the runtime's threads. A function that begins a capture sets the
   capture's bit before it calls the runtime. */

enum {
    PROF__NTFF_INSPECT = 1,
    PROF__NTFF_CONTINUOUS = 2,
    PROF__NTFF_SYS_TRACE = 4,
    PROF__NTFF_TRACE = 8,
    PROF__NTFF_WITH_SYSTEM = 16, /* the inspect session has a system profile */
    PROF__NTFF_WITH_DEVICE = 32  /* the inspect session has a device profile */
};
static uint64_t prof__ntff_captures; /* the id of the process << 32 | bits of the captures */

static const char *prof__ntff_capture_name(unsigned bit)
{
    return bit & PROF__NTFF_INSPECT      ? "an inspect session"
           : bit & PROF__NTFF_CONTINUOUS ? "a continuous profile"
           : bit & PROF__NTFF_SYS_TRACE  ? "a system trace"
                                         : "a trace";
}

static unsigned prof__ntff_bit(int role)
{
    switch (role) {
    case PROF_NTFF_BEGINS_INSPECT:
    case PROF_NTFF_BEGINS_OPTIONS:
    case PROF_NTFF_ENDS_INSPECT: return PROF__NTFF_INSPECT;
    case PROF_NTFF_BEGINS_CONTINUOUS:
    case PROF_NTFF_ENDS_CONTINUOUS: return PROF__NTFF_CONTINUOUS;
    case PROF_NTFF_BEGINS_SYS_TRACE:
    case PROF_NTFF_ENDS_SYS_TRACE: return PROF__NTFF_SYS_TRACE;
    case PROF_NTFF_BEGINS_TRACE:
    case PROF_NTFF_ENDS_TRACE: return PROF__NTFF_TRACE;
    default: return 0;
    }
}

static int prof__ntff_begins(int role) { return role >= PROF_NTFF_BEGINS_INSPECT && role <= PROF_NTFF_BEGINS_TRACE; }
static int prof__ntff_ends(int role) { return role >= PROF_NTFF_ENDS_INSPECT && role <= PROF_NTFF_ENDS_TRACE; }

static void prof__ntff_captures_change(unsigned set, unsigned clear)
{
    uint64_t now = PROF__LOAD(&prof__ntff_captures), next;
    do {
        next = (now & 0xFFFFFFFFu & ~(uint64_t)clear) | set;
        if (next) next |= prof__process_id() << 32;
    } while (!__atomic_compare_exchange_n(&prof__ntff_captures, &now, next, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
}

/* Reads a switch of Neuron from the environment. As the runtime does in nrt_init(), reads it in set-user-id programs,
   too. */
static int prof__ntff_env_on(const char *name, int standard)
{
    const char *text = getenv(name);
    return text && *text ? strcmp(text, "0") != 0 : standard;
}

static prof_status prof__ntff_env_taken(const char *name)
{
    return prof__fail(PROF_INVALID_STATE,
                      "%s: NEURON_RT_INSPECT_ENABLE=1 in the environment already captures: unset it, or "
                                          "leave the capture to it", name);
}

/* Refuses captures that NEURON_RT_INSPECT_ENABLE=1 excludes. With it, the runtime captures from nrt_init() on, and
   allows no second capture of that kind. */
static prof_status prof__ntff_env_check(const char *name, int role)
{
    int taken = prof__ntff_env_on("NEURON_RT_INSPECT_ENABLE", 0);
    /* AWS documents that nrt_inspect_begin() follows the environment, and that the function with options ignores it. So
       neither is refused here; the runtime refuses what it cannot begin. */
    if (role == PROF_NTFF_BEGINS_INSPECT || role == PROF_NTFF_BEGINS_OPTIONS || role == PROF_NTFF_BEGINS_TRACE)
        return PROF_OK;
    if (role == PROF_NTFF_BEGINS_SYS_TRACE) taken = taken && prof__ntff_env_on("NEURON_RT_INSPECT_SYSTEM_PROFILE", 1);
    if (role == PROF_NTFF_BEGINS_CONTINUOUS) taken = taken && prof__ntff_env_on("NEURON_RT_INSPECT_DEVICE_PROFILE", 0);
    return taken ? prof__ntff_env_taken(name) : PROF_OK;
}

/* Refuses a capture that excludes an open one. open: bits of the open captures. */
static prof_status prof__ntff_begin_check(const char *name, int role, unsigned open)
{
    unsigned bit = prof__ntff_bit(role);
    if (open & bit)
        return prof__fail(PROF_INVALID_STATE, "%s: %s is open already: end it first", name,
                          prof__ntff_capture_name(bit));
    if (bit == PROF__NTFF_SYS_TRACE && open & PROF__NTFF_WITH_SYSTEM)
        return prof__fail(PROF_INVALID_STATE, "%s: the inspect session captures the system profile: end it first",
                          name);
    if (bit == PROF__NTFF_CONTINUOUS && open & PROF__NTFF_WITH_DEVICE)
        return prof__fail(PROF_INVALID_STATE, "%s: the inspect session captures the device profile: end it first",
                          name);
    return prof__ntff_env_check(name, role);
}

/* Checks whether a function that concerns captures may be called now, and sets the bit of a capture that it begins. */
static prof_status prof__ntff_role(const char *name, int role)
{
    uint64_t now = PROF__ACQUIRE(&prof__ntff_captures), process = prof__process_id() & 0xFFFFFFFFu;
    prof_status status = PROF_OK;
    do {
        unsigned open = (unsigned)now;
        if (open && now >> 32 != process)
            return prof__fail(PROF_INVALID_STATE, "%s: %s is open in process %u, and this is a child of its fork()",
                              name,
                              prof__ntff_capture_name(open), (unsigned)(now >> 32));
        if (role == PROF_NTFF_CLOSES && open)
            return prof__fail(PROF_INVALID_STATE, "%s: %s is open: end it first, or it is lost", name,
                              prof__ntff_capture_name(open));
        if (!prof__ntff_begins(role)) return PROF_OK;
        status = prof__ntff_begin_check(name, role, open);
        if (status) return status;
    } while (!__atomic_compare_exchange_n(&prof__ntff_captures, &now,
                                          process << 32 | (unsigned)now | prof__ntff_bit(role), 0, __ATOMIC_ACQ_REL,
                                          __ATOMIC_ACQUIRE));
    return PROF_OK;
}

/* Gets the table of functions. Returns an error if the runtime lacks the function, or the call must be refused. */
static prof_status prof__ntff_enter(const char *name, size_t field, int role, const prof__ntff_api **api)
{
    prof__ntff_status = 0;
    *api = prof__ntff_get();
    if (!*api) return PROF_UNSUPPORTED; /* prof__ntff_get() has set prof_error() */
    if (!prof__ntff_symbol(*api, field))
        return prof__fail(PROF_UNSUPPORTED, "%s: this runtime does not have it (%s, %.100s)",
                          name, (*api)->version, (*api)->path);
    *api = (*api)->front;
    return role ? prof__ntff_role(name, role) : PROF_OK;
}

static const char *prof__ntff_hint(unsigned status, int role)
{
    if (status == 13) return ": call nrt_init() first, or run one operation of the framework, which does";
    if (status == 14)
        return prof__ntff_ends(role) ? ": too late, captures end before nrt_close()" : ": not after nrt_close()";
    if (status == 4 || status == 11) return "";
    switch (role) {
    case PROF_NTFF_BEGINS_OPTIONS:
        if (prof__ntff_nothing)
            return ": the options enable nothing: call nrt_inspect_config_set_enable_inspect(options, true)";
        if (status == 2) return ": an option is not valid";
        return prof__ntff_hint(status, PROF_NTFF_BEGINS_INSPECT);
    case PROF_NTFF_BEGINS_INSPECT:
        if (status == 2 && !prof__ntff_env_on("NEURON_RT_INSPECT_ENABLE", 0))
            return ": it takes its options from the environment, where NEURON_RT_INSPECT_ENABLE is not 1";
        return ": is another capture open, of the framework's profiler, the environment, or a system trace?";
    case PROF_NTFF_BEGINS_SYS_TRACE:
        return ": is a system profile open, of the framework's profiler or the environment?";
    case PROF_NTFF_BEGINS_CONTINUOUS:
        return ": not with an inspect session's device profile, nor asynchronous execution";
    default: return "";
    }
}

static prof_status prof__ntff_leave(const char *name, int role, unsigned status)
{
    prof__ntff_status = status;
    if (prof__ntff_begins(role) && status) prof__ntff_captures_change(0, prof__ntff_bit(role));
    if (prof__ntff_ends(role)) /* after a failure, too, because nothing tells what is still open */
        prof__ntff_captures_change(0, role == PROF_NTFF_ENDS_INSPECT
                                          ? PROF__NTFF_INSPECT | PROF__NTFF_WITH_SYSTEM | PROF__NTFF_WITH_DEVICE
                                          : prof__ntff_bit(role));
    if (!status) return PROF_OK;
    if (status == 1 && role == PROF_NTFF_BEGINS_OPTIONS && prof__ntff_env_on("NEURON_RT_INSPECT_ENABLE", 0))
        return prof__ntff_env_taken(name);
    return prof__fail(status == 2 || status == 3      ? PROF_INVALID_ARGUMENT
                      : status == 4 || status == 11   ? PROF_NO_MEMORY
                      : status == 13 || status == 14  ? PROF_INVALID_STATE
                                                      : PROF_IO,
                      "%s: %s (%u)%s", name, prof_ntff_nrt_status_name(status), status, prof__ntff_hint(status, role));
}

#define PROF__NTFF_CALL_status(name, call, role) return prof__ntff_leave(name, role, (unsigned)(call));
#define PROF__NTFF_CALL_nothing(name, call, role) \
    call;                                      \
    return prof__ntff_leave(name, role, 0);
#define PROF__NTFF_DEFINE(result, name, parameters, arguments, role)                                           \
    PROF_DEF prof_status prof_ntff_##name parameters                                                           \
    {                                                                                                          \
        const prof__ntff_api *api;                                                                             \
        prof_status status = prof__ntff_enter("nrt_" #name, offsetof(prof__ntff_api, name), role, &api);       \
        if (status) return status;                                                                             \
        PROF__NTFF_CALL_##result("nrt_" #name, api->name arguments, role)                                      \
    }
#define PROF__NTFF_DEFINE_status PROF__NTFF_DEFINE
#define PROF__NTFF_DEFINE_nothing PROF__NTFF_DEFINE
#define PROF__NTFF_DEFINE_text(result, name, parameters, arguments, role) /* defined above */
#define PROF__NTFF_DEFINE_ANY(result, name, parameters, arguments, role) \
    PROF__NTFF_DEFINE_##result(result, name, parameters, arguments, role)
PROF_NTFF_TABLE(PROF__NTFF_DEFINE_ANY)

/*-- inspect --*/

static struct {
    uint64_t phase;
    struct nrt_inspect_config *options;
    uint64_t began; /* Unix time */
    int no_trace_json, may_be_empty;
    char output_dir[PROF_NTFF_PATH];
} prof__ntff_session;

static unsigned prof__ntff_activities(const prof_ntff_config *config)
{
    return config->activities ? config->activities & ~PROF__NTFF_CHOSEN : (unsigned)PROF_NTFF_SYSTEM;
}

static prof_status prof__ntff_set_activities(struct nrt_inspect_config *options, unsigned activities)
{
    static const char *const names[] = {"system_profile", "device_profile", "host_memory", "cpu_util"};
    prof_status status = prof_ntff_inspect_config_set_activity(options, "all", 0);
    for (unsigned i = 0; i < 4 && !status; i++)
        if (activities >> i & 1) status = prof_ntff_inspect_config_set_activity(options, names[i], 1);
    return status;
}

/* Sets the mode of the device profile. A runtime that lacks the function is older, and always uses the mode `model`. */
static prof_status prof__ntff_set_device_mode(struct nrt_inspect_config *options, const prof_ntff_config *config)
{
    int on = (prof__ntff_activities(config) & PROF_NTFF_DEVICE) != 0,
        model = config->device_mode == PROF_NTFF_DEVICE_MODEL;
    if ((!on || model) && !(prof_ntff_capabilities() & PROF_NTFF_CAN_DEVICE_MODE)) return PROF_OK;
    return prof_ntff_inspect_config_set_inspect_device_profile_mode(options, !on ? 0u : model ? 1u : 2u);
}

static prof_status prof__ntff_set_on_fail(struct nrt_inspect_config *options, prof_ntff_on_fail on_fail)
{
    prof_status status = prof_ntff_inspect_config_set_enable_inspect(options, on_fail != PROF_NTFF_ON_FAIL_ONLY);
    const prof__ntff_api *api = prof__ntff_get();
    if (status || !api || (!on_fail && !api->inspect_config_set_enable_inspect_on_fail)) return status;
    return prof_ntff_inspect_config_set_enable_inspect_on_fail(options, on_fail != PROF_NTFF_ON_FAIL_NO);
}

static prof_status prof__ntff_set_options(struct nrt_inspect_config *options, const prof_ntff_config *config)
{
    prof__ntff_target target = {NULL, NULL};
    target.inspect = options;
    prof_status status = prof_ntff_inspect_config_set_defaults(options);
    if (!status) status = prof__ntff_set_on_fail(options, config->on_fail);
    if (!status) status = prof__ntff_set_activities(options, prof__ntff_activities(config));
    if (!status) status = prof__ntff_set_device_mode(options, config);
    if (!status) status = prof_ntff_inspect_config_set_session_id(options, config->session_id ? config->session_id : 1);
    if (!status)
        status = prof_ntff_inspect_config_set_output_dir(options, config->output_dir ? config->output_dir : "./output");
    if (!status && config->max_events_per_nc)
        status = prof_ntff_inspect_config_set_sys_trace_max_events_per_nc(options, config->max_events_per_nc);
    if (!status) status = prof__ntff_filter_ncs(&target, config->ncs);
    if (!status) status = prof__ntff_filter_types(&target, config->event_types);
    return status;
}

/* Refuses a folder without a name, which versions of the runtime handle differently, and a name that is too long. */
static prof_status prof__ntff_folder_check(const char *folder)
{
    if (!folder || (*folder && strlen(folder) < PROF_NTFF_PATH)) return PROF_OK;
    return prof__fail(PROF_INVALID_ARGUMENT, "output_dir: must have 1 to %d bytes; NULL means \"./output\"",
                      PROF_NTFF_PATH - 1);
}

static prof_status prof__ntff_config_check(const prof_ntff_config *config)
{
    prof_status status = prof__ntff_folder_check(config->output_dir);
    if (status) return status;
    if (prof__ntff_activities(config) & ~15u || (unsigned)config->device_mode > PROF_NTFF_DEVICE_MODEL ||
        (unsigned)config->on_fail > PROF_NTFF_ON_FAIL_ONLY)
        return prof__fail(PROF_INVALID_ARGUMENT,
                          "prof_ntff_config: activities, device_mode or on_fail is out of range");
    if (!prof__ntff_activities(config) && !config->on_fail)
        return prof__fail(PROF_INVALID_ARGUMENT, "prof_ntff_config: no activity: nothing would be captured");
    return PROF_OK;
}

/* Begins a session. The caller has set the phase to busy. */
static prof_status prof__ntff_session_open(const prof_ntff_config *config)
{
    struct nrt_inspect_config *options = NULL;
    unsigned activities = prof__ntff_activities(config);
    prof__ntff_trouble trouble = {PROF_OK, 0, ""};
    prof_status status = prof__ntff_config_check(config);
    if (!status && activities & PROF_NTFF_SYSTEM && PROF__LOAD(&prof__ntff_captures) & PROF__NTFF_SYS_TRACE)
        status = prof__fail(PROF_INVALID_STATE, "prof_ntff_session_begin: a system trace is open: end it first");
    if (!status && activities & PROF_NTFF_DEVICE && PROF__LOAD(&prof__ntff_captures) & PROF__NTFF_CONTINUOUS)
        status = prof__fail(PROF_INVALID_STATE, "prof_ntff_session_begin: a continuous profile is open: end it first");
    if (!status) status = prof_ntff_inspect_config_allocate(&options);
    if (!status && !options) status = prof__fail(PROF_NO_MEMORY, "nrt_inspect_config_allocate returned no options");
    if (!status) status = prof__ntff_set_options(options, config);
    prof__ntff_session.began = prof__unix_time();
    prof__text_copy(prof__ntff_session.output_dir, PROF_NTFF_PATH,
                    config->output_dir ? config->output_dir : "./output");
    prof__ntff_session.no_trace_json = config->no_trace_json;
    prof__ntff_session.may_be_empty = config->on_fail == PROF_NTFF_ON_FAIL_ONLY;
    /* some runtimes create only the last folder of a path */
    if (!status && config->output_dir) status = prof__folder_make(config->output_dir);
    if (!status) status = prof_ntff_inspect_begin_with_options(options);
    if (!status)
        prof__ntff_captures_change((activities & PROF_NTFF_SYSTEM) * PROF__NTFF_WITH_SYSTEM |
                                       (activities & PROF_NTFF_DEVICE) / PROF_NTFF_DEVICE * PROF__NTFF_WITH_DEVICE, 0);
    prof__ntff_session.options = status ? NULL : options;
    prof__ntff_note(&trouble, status);
    if (status && options) prof_ntff_inspect_config_free(options);
    return prof__ntff_say(&trouble);
}

PROF_DEF prof_status prof_ntff_session_begin(const prof_ntff_config *config)
{
    prof__ntff_wish wish;
    prof_status status = prof__ntff_phase(&prof__ntff_session.phase, PROF__NTFF_NONE, "prof_ntff_session_begin");
    if (status) return status;
    if (!config) {
        prof__lock(&prof__ntff_wish_word);
        wish = prof__ntff_wished;
        prof__ntff_wish_keep(&wish);
        prof__unlock(&prof__ntff_wish_word);
        config = &wish.config;
    }
    status = prof__ntff_session_open(config);
    prof__ntff_phase_set(&prof__ntff_session.phase, status ? PROF__NTFF_NONE : PROF__NTFF_BEGUN);
    return status;
}

/* Writes what prof has recorded since the session began into the session's folder, as trace.json. Writes nothing if
   nothing was recorded, or if a framework has written its own trace.json. */
static prof_status prof__ntff_session_scopes(const char *folder)
{
    char path[PROF_NTFF_PATH + 16];
    prof_trace *trace = NULL;
    prof_status status = prof_trace_open_live(&trace);
    if (status) return status == PROF_INVALID_STATE ? PROF_OK : status;
    uint64_t start = prof_trace_about(trace)->start_unix_ns, began = prof__ntff_session.began;
    status = prof_trace_set_window(trace, began > start ? (int64_t)(began - start) : 0, 0);
    snprintf(path, sizeof path, "%s/trace.json", folder);
    if (!status) status = prof_ntff_trace_json(trace, path, NULL);
    prof_trace_close(trace);
    return status == PROF_INVALID_STATE ? PROF_OK : status;
}

static int prof__ntff_session_file(void *user, const prof_ntff_artifact *artifact)
{
    int *written = (int *)user;
    *written = artifact->size && artifact->kind != PROF_NTFF_TRACE_JSON && artifact->kind != PROF_NTFF_STRAY_JSON;
    return *written;
}

/* Finds the folder with the session's files. Fails if there is none. */
static prof_status prof__ntff_session_files(char *found, size_t size)
{
    const char *folder = prof__ntff_session.output_dir;
    int written = 0;
    prof_status status = prof_ntff_find_session(folder, prof__process_id(), prof__ntff_session.began, found, size);
    if (!status) status = prof_ntff_list(found, prof__ntff_session_file, &written);
    if (!status && written) return PROF_OK;
    *found = 0;
    if (prof__ntff_session.may_be_empty) return PROF_OK;
    if (status && status != PROF_IO && status != PROF_INVALID_STATE) return status;
    return prof__fail(PROF_IO, "prof_ntff_session_end: the runtime has written no files of this session below %.400s: "
                               "was a model executed between begin and end?", folder);
}

PROF_DEF prof_status prof_ntff_session_end(char *folder)
{
    char found[PROF_NTFF_PATH] = "";
    prof__ntff_trouble trouble = {PROF_OK, 0, ""};
    if (folder) *folder = 0;
    prof_status status = prof__ntff_phase(&prof__ntff_session.phase, PROF__NTFF_BEGUN, "prof_ntff_session_end");
    if (status) return status;
    prof__ntff_note(&trouble, prof_ntff_inspect_stop());
    prof_ntff_inspect_config_free(prof__ntff_session.options);
    prof__ntff_session.options = NULL;
    if (!trouble.status) prof__ntff_note(&trouble, prof__ntff_session_files(found, sizeof found));
    if (*found && !prof__ntff_session.no_trace_json) prof__ntff_note(&trouble, prof__ntff_session_scopes(found));
    if (folder) prof__text_copy(folder, PROF_NTFF_PATH, found);
    prof__ntff_phase_set(&prof__ntff_session.phase, PROF__NTFF_NONE);
    return prof__ntff_say(&trouble);
}

static int prof__ntff_is_open(const uint64_t *word)
{
    return PROF__ACQUIRE(word) == (prof__process_id() << 8 | PROF__NTFF_BEGUN);
}

PROF_DEF int prof_ntff_session_active(void) { return prof__ntff_is_open(&prof__ntff_session.phase); }

/*-- continuous --*/

static struct {
    uint64_t phase, saves;
    struct nrt_profile_continuous_options *options;
    uint32_t vnc;
    int word; /* the lock of `options`; only taken while this process has a capture */
} prof__ntff_continuous;

/* Saves a profile when prof saves the last seconds; runs on prof's thread. Returns PROF_OK also if the capture begins
   or ends meanwhile, or belongs to the parent of this process: that is no failure of the recording. */
static prof_status prof__ntff_continuous_on_save(void)
{
    const uint64_t *phase = &prof__ntff_continuous.phase;
    uint32_t vnc = PROF__LOAD(&prof__ntff_continuous.vnc);
    prof_status status = prof__ntff_is_open(phase) ? prof_ntff_continuous_save(vnc) : PROF_OK;
    return prof__ntff_is_open(phase) ? status : PROF_OK;
}

PROF_DEF prof_status prof_ntff_continuous_begin(const prof_ntff_continuous *config)
{
    struct nrt_profile_continuous_options *options = NULL;
    const char *folder = config && config->output_dir ? config->output_dir : "./output";
    prof__ntff_trouble trouble = {PROF_OK, 0, ""};
    prof_status status = prof__ntff_phase(&prof__ntff_continuous.phase, PROF__NTFF_NONE, "prof_ntff_continuous_begin");
    if (status) return status;
    status = prof__ntff_folder_check(folder);
    if (!status) status = prof_ntff_profile_continuous_options_allocate(&options);
    if (!status && !options)
        status = prof__fail(PROF_NO_MEMORY, "nrt_profile_continuous_options_allocate returned no options");
    if (!status) status = prof_ntff_profile_continuous_options_set_output_dir(options, folder);
    if (!status && config && config->output_dir) status = prof__folder_make(folder);
    if (!status) status = prof_ntff_profile_continuous_start(options);
    prof__ntff_note(&trouble, status);
    if (status && options) prof_ntff_profile_continuous_options_free(options);
    prof__lock(&prof__ntff_continuous.word); /* another thread may still be saving the previous capture */
    prof__ntff_continuous.options = status ? NULL : options;
    prof__unlock(&prof__ntff_continuous.word);
    PROF__STORE(&prof__ntff_continuous.vnc, config ? config->vnc : 0);
    /* must come before the phase is set: from then on, another thread may end the capture */
    if (!status && config && config->on_save) prof__saved_with(prof__ntff_continuous_on_save);
    prof__ntff_phase_set(&prof__ntff_continuous.phase, status ? PROF__NTFF_NONE : PROF__NTFF_BEGUN);
    return prof__ntff_say(&trouble);
}

PROF_DEF prof_status prof_ntff_continuous_save(uint32_t vnc)
{
    prof_status status = PROF_OK;
    uint64_t phase = PROF__ACQUIRE(&prof__ntff_continuous.phase), process = prof__process_id();
    prof__ntff_status = 0;
    if (phase && phase >> 8 != process)
        return prof__fail(PROF_INVALID_STATE,
                          "prof_ntff_continuous_save: the capture belongs to process %u, and this is a child of its "
                          "fork()",
                          (unsigned)(phase >> 8));
    if (!prof__ntff_is_open(&prof__ntff_continuous.phase))
        return prof__fail(PROF_INVALID_STATE, "prof_ntff_continuous_save: no capture was begun");
    prof__lock(&prof__ntff_continuous.word);
    if (prof__ntff_continuous.options)
        status = prof_ntff_profile_continuous_save(vnc, prof__ntff_continuous.options);
    else
        status = prof__fail(PROF_INVALID_STATE,
                            "prof_ntff_continuous_save: the continuous profile was ended meanwhile");
    if (!status) PROF__STORE(&prof__ntff_continuous.saves, PROF__LOAD(&prof__ntff_continuous.saves) + 1);
    prof__unlock(&prof__ntff_continuous.word);
    return status;
}

PROF_DEF int prof_ntff_continuous_save_if(uint32_t vnc, uint64_t took_ns, uint64_t limit_ns)
{
    return took_ns > limit_ns && !prof_ntff_continuous_save(vnc);
}

PROF_DEF prof_status prof_ntff_continuous_end(void)
{
    prof_status status = prof__ntff_phase(&prof__ntff_continuous.phase, PROF__NTFF_BEGUN, "prof_ntff_continuous_end");
    prof__ntff_trouble trouble = {PROF_OK, 0, ""};
    if (status) return status;
    prof__saved_with(NULL);
    prof__lock(&prof__ntff_continuous.word);
    prof__ntff_note(&trouble, prof_ntff_profile_continuous_stop());
    prof_ntff_profile_continuous_options_free(prof__ntff_continuous.options);
    prof__ntff_continuous.options = NULL;
    prof__unlock(&prof__ntff_continuous.word);
    prof__ntff_phase_set(&prof__ntff_continuous.phase, PROF__NTFF_NONE);
    return prof__ntff_say(&trouble);
}

PROF_DEF uint64_t prof_ntff_continuous_saves(void) { return PROF__LOAD(&prof__ntff_continuous.saves); }

#ifdef PROF__WRAPS_MALLOC
#undef malloc
#undef calloc
#undef realloc
#undef free
#undef qsort
#undef fclose
#undef fread
#undef opendir
#undef closedir
#endif

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif /* PROF_IMPLEMENTATION */

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
