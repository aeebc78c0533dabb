// ntff/api: Declarations for events, clocks, Kineto traces and artifacts.
#ifndef PROF__NTFF_API_H
#define PROF__NTFF_API_H
#include "api/devices.h"
#include "api/reports.h"
#include "ground/base.h"

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

#endif /* PROF__NTFF_API_H */
