// ntff/api: Events, clocks, Kineto traces and artifacts: declarations.
/*-- EVENTS ------------------------------------------------------------------------------------------------- >>events --
   Two texts tell what NeuronCores, the runtime and a framework did: the JSON of nrt_sys_trace_fetch_events(), which has
   the start and the stop of a thing apart, and system_profile.json of "neuron-explorer view --output-format json". Both
   are read here, of any length, in memory of a few MiB; what is broken in them is left out, and counted.

       prof_ntff_parse_systrace_json(parser, json, size, prof_ntff_record, NULL, &stats);  // onto tracks of the session
       prof_ntff_import("system_profile.json", "host.prof", "both.prof", &stats);          // into a copy of a recording

   Where they go. Events of a NeuronCore N are on a device "NeuronCore N", with a row for each of its physical cores;
   those of the runtime on "Neuron runtime N", those of a framework on "Neuron framework", with a row for each thread;
   memory and load of the host are counters of "Neuron host". Of another process than the one that is recorded, its id
   follows. They are tracks of devices (see >>devices in prof.h): every exporter and report has them.
   An event whose stop is missing ends where it began, marked PROF_TRUNCATED_END; of one whose start is missing the stop
   is an instant. */

typedef enum prof_ntff_source { /* who says so */
    PROF_NTFF_SOURCE_UNKNOWN = 0,
    PROF_NTFF_SOURCE_RUNTIME,   /* neuron_rt: libnrt on the host */
    PROF_NTFF_SOURCE_HARDWARE,  /* neuron_hw: a NeuronCore */
    PROF_NTFF_SOURCE_FRAMEWORK, /* framework: PyTorch, JAX */
    PROF_NTFF_SOURCE_HOST,
    PROF_NTFF_SOURCE_COUNT
} prof_ntff_source;

enum { /* prof_ntff_event.flags */
    PROF_NTFF_UNMATCHED_START = 1, /* its stop was not seen: duration_ns is 0 */
    PROF_NTFF_UNMATCHED_STOP = 2,  /* its start was not seen: so is start_ns the stop's, and duration_ns -1 */
    PROF_NTFF_REALIGNED = 4,       /* put into the host's time here, by a sync point, not by the runtime */
    PROF_NTFF_RAW_CLOCK = 8,       /* in the time of the NeuronCore: no sync point was there. Recorded nowhere */
    PROF_NTFF_COUNTER = 16         /* a value at a time, not a piece of time: value */
};

/* One event, complete, in the host's time. What is not known is -1, of ids 0. Strings are valid during the call only.
   */
typedef struct prof_ntff_event {
    const char *name;
    const char *instance;          /* id of the machine; "": not known */
    prof_ntff_source source;
    int64_t start_ns, duration_ns; /* Unix time; duration_ns -1: an instant */
    int32_t nc_idx, core_idx, worker_gid;
    uint64_t tid, pid, tracking_id, exec_id, nrta_seq;
    double value;                  /* PROF_NTFF_COUNTER */
    const char *args;              /* a JSON object, its "data", or all that Explorer says of it; not terminated */
    size_t args_size;
    unsigned flags;
} prof_ntff_event;

/* Not 0 ends what calls it, with PROF_OK. */
typedef int (*prof_ntff_event_fn)(void *user, const prof_ntff_event *event);

/* What a reader has seen, added to what was there: begin with all zero. */
typedef struct prof_ntff_stats {
    uint64_t events;            /* handed over; of these */
    uint64_t pairs, complete;   /*   made of a start and a stop; told as one */
    uint64_t instants, counters;
    uint64_t unmatched_starts, unmatched_stops; /* the runtime's ring drops what is oldest, and does not say so */
    uint64_t realigned;         /*   with PROF_NTFF_REALIGNED */
    uint64_t raw_clock;         /*   with PROF_NTFF_RAW_CLOCK */
    uint64_t sync_points;
    uint64_t sync_error_ns;     /* the most that one sync point is off what the one before it on its core foretold */
    uint64_t errors;            /* things that are no event, or too large for one */
    int64_t first_ns, last_ns;  /* Unix time of the first start and the last end; 0: none */
    int data_version;           /* of a system trace: 2 is the one that is known; 0: it does not say */
    uint64_t outside;           /* prof_ntff_import(): events before the recording began or after it ended */
    int clock_stepped;          /* the same: Unix time was set while it ran: places are right up to then */
} prof_ntff_stats;

/* Starts whose stops were in no fetch yet, and sync points: from one piece of JSON to the next. 65536 starts at most,
   of 64 MiB: then the oldest is given up. For one thread at a time. */
typedef struct prof_ntff_parser prof_ntff_parser;

#if PROF_ENABLE
PROF_DEF prof_ntff_parser *prof_ntff_parser_create(void); /* null without memory */
/* fn: hears of what still waits for its stop, PROF_NTFF_UNMATCHED_START, or for a sync point; may be null. parser may
   be null. Frees it. */
PROF_DEF void prof_ntff_parser_end(prof_ntff_parser *parser, prof_ntff_event_fn fn, void *user, prof_ntff_stats *stats);
/* The JSON of one nrt_sys_trace_fetch_events(). parser null: it is all there is. stats may be null. PROF_CORRUPT: it
   ends too early, or is no JSON; what could be read has been handed over. */
PROF_DEF prof_status prof_ntff_parse_systrace_json(prof_ntff_parser *parser, const char *json, size_t size,
                                                   prof_ntff_event_fn fn, void *user, prof_ntff_stats *stats);
/* A file of Neuron Explorer's, or with the JSON of a system trace. stats may be null. */
PROF_DEF prof_status prof_ntff_read_system_json(const char *path, prof_ntff_event_fn fn, void *user,
                                                prof_ntff_stats *stats);
/* A prof_ntff_event_fn: records it on a track of its NeuronCore, of the running session of prof. user is not used. */
PROF_DEF int prof_ntff_record(void *user, const prof_ntff_event *event);
/* Writes the image `out`: a copy of the recording `host` (.prof) with the events of such a file in it, which may be
   host's own name, but no link; or, if host is null, one with nothing but them, for prof_chrome_merge() ("prof merge").
   */
PROF_DEF prof_status prof_ntff_import(const char *json, const char *host, const char *out, prof_ntff_stats *stats);
#else
#define prof_ntff_parser_create() PROF__STRIPPED((prof_ntff_parser *)0, (void)0)
#define prof_ntff_parser_end(parser, fn, user, stats) \
    PROF__STRIPPED((void)0, (0 ? (void)(fn) : PROF__USE3(parser, user, stats)))
#define prof_ntff_parse_systrace_json(parser, json, size, fn, user, stats) \
    PROF__STRIPPED(PROF_DISABLED, (0 ? (void)(fn), (void)(size), (void)(json) : PROF__USE3(parser, user, stats)))
#define prof_ntff_read_system_json(path, fn, user, stats) \
    PROF__STRIPPED(PROF_DISABLED, (0 ? (void)(fn) : PROF__USE3(path, user, stats)))
static inline int prof_ntff_record(void *user, const prof_ntff_event *event) /* also the argument of others */
{
    PROF__USE2(user, event);
    return 0;
}
#define prof_ntff_import(json, host, out, stats) \
    PROF__STRIPPED(PROF_DISABLED, (0 ? (void)(stats) : PROF__USE3(json, host, out)))
#endif

/*-- CLOCK --------------------------------------------------------------------------------------------------- >>clock --
   All that Neuron tells of, files and fetches, is in Unix time (CLOCK_REALTIME); prof's traces are in CLOCK_MONOTONIC,
   and say where their begin and end are in Unix time. Between these two moments the clocks are taken to go straight, at
   one rate unless they are 50 us apart at the end; if it is more than 0.5 per mille somebody set the clock, and only
   the first counts. Times of NeuronCores are put into the host's by the runtime, with a sync point after each
   execution. Where they were not, because a time equals the core's own, it is done here: by the sync point of the same
   NeuronCore, physical core and execution, or by the last one before. What has neither is counted, as raw_clock, and
   left out. */
#if PROF_ENABLE
/* The Unix time of a time of a trace. */
PROF_DEF int64_t prof_ntff_unix_ns(const prof_trace *trace, int64_t ns);
#else
#define prof_ntff_unix_ns(trace, ns) PROF__STRIPPED((int64_t)0, PROF__USE2(trace, ns))
#endif

/*-- KINETO ------------------------------------------------------------------------------------------------- >>kineto --
   Neuron Explorer shows the host's side of a session if there is a trace.json in the shape of PyTorch's profiler
   (Kineto) in the folder with trace_info.pb. That place is documented; which fields it wants is not, and what it makes
   of a file that PyTorch did not write has not been seen by us on hardware.

   Scopes become "X" events of the category user_annotation, on threads with the system's ids, as the runtime's events
   have them; times are Unix time, microseconds with three decimals after "baseTimeNanoseconds", exact to the
   nanosecond. A scope without its begin or end has the argument "truncated". Nothing else of a trace is written unless
   asked for: a strict reader might refuse it. A file that is not prof's is never replaced, nor is one that a link leads
   to. */

/* All zero is the default. */
typedef struct prof_ntff_trace_options {
    const char *category; /* null: "user_annotation"; "cpu_op" is the other that viewers know */
    uint64_t pid;         /* 0: the trace's */
    int source_names;     /* 1: scopes are called "file.c(12): name", which Neuron Explorer makes a link */
    int instants;         /* 1: marks, too, as "i" */
    int counters;         /* 1: counters, too, as "C" */
    int append;           /* 1: into a trace.json of somebody else's, behind its events */
} prof_ntff_trace_options;

#if PROF_ENABLE
/* options may be null. PROF_INVALID_STATE: there is such a file, and it is not prof's. */
PROF_DEF prof_status prof_ntff_trace_json(const prof_trace *trace, const char *path,
                                          const prof_ntff_trace_options *options);
PROF_DEF prof_status prof_ntff_trace_json_stream(const prof_trace *trace, prof_sink sink,
                                                 const prof_ntff_trace_options *options);
#else
#define prof_ntff_trace_json(trace, path, options) PROF__STRIPPED(PROF_DISABLED, PROF__USE3(trace, path, options))
#define prof_ntff_trace_json_stream(trace, sink, options) PROF__STRIPPED(PROF_DISABLED, PROF__USE3(trace, sink, options))
#endif

/*-- ARTIFACTS ------------------------------------------------------------------------------------------- >>artifacts --
   What the runtime leaves, by names and sizes alone: the contents of .ntff, .neff and .pb are its own.

       OUTPUT_DIR/INSTANCE_pid_PID/[UNIX_NS/]    profile_nc_0_session_1.ntff or HASH_instid_0_vnc_0.ntff, neff_HASH.neff,
                                                 ntrace.pb, trace_info.pb, cpu_util.pb, host_mem.pb, trace.json */

typedef enum prof_ntff_kind {
    PROF_NTFF_NTFF = 0,  /* a device profile */
    PROF_NTFF_NEFF,      /* the model that it needs to be read */
    PROF_NTFF_NTRACE,    /* ntrace.pb: the system profile */
    PROF_NTFF_TRACE_INFO, /* trace_info.pb: what marks a session's folder */
    PROF_NTFF_CPU_UTIL_PB,
    PROF_NTFF_HOST_MEM_PB,
    PROF_NTFF_TRACE_JSON, /* trace.json: of a framework, or of prof */
    PROF_NTFF_STRAY_JSON, /* neuron_framework_trace_rank_N.json, which no tool looks for by that name */
    PROF_NTFF_KIND_COUNT
} prof_ntff_kind;

/* What is not in its name is -1. Strings are valid during the call only. */
typedef struct prof_ntff_artifact {
    const char *path, *folder, *name;
    prof_ntff_kind kind;
    uint64_t size;
    char hash[72];   /* "": none in its name */
    int32_t nc, session;
    int blank;       /* 1: not empty, but its first bytes are all zero */
    int paired;      /* of .ntff: the models of its hash, or of its folder if it has none; of .neff: the profiles */
} prof_ntff_artifact;

typedef int (*prof_ntff_artifact_fn)(void *user, const prof_ntff_artifact *artifact); /* not 0: enough */

typedef enum prof_ntff_word {
    PROF_NTFF_FOLDER = 0, /* a folder, and what is in it; what follows is about that */
    PROF_NTFF_REMARK,
    PROF_NTFF_PROBLEM     /* something is missing or wrong */
} prof_ntff_word;
typedef void (*prof_ntff_say_fn)(void *user, prof_ntff_word word, const char *text);

#if PROF_ENABLE
/* Where a process (pid 0: any) left its newest session, begun not before that Unix time (0: any). PROF_IO: output_dir
   cannot be read; PROF_INVALID_STATE: there is none. folder: size bytes; "" then. */
PROF_DEF prof_status prof_ntff_find_session(const char *output_dir, uint64_t pid, uint64_t not_before_unix_ns,
                                            char *folder, size_t size);
/* All of them below dir, up to four folders deep, in order of folder and name; but for folders that cannot be read. */
PROF_DEF prof_status prof_ntff_list(const char *dir, prof_ntff_artifact_fn fn, void *user);
/* What is wrong with what is below dir, and what to do, line by line. *problems: how many; may be null. */
PROF_DEF prof_status prof_ntff_check(const char *dir, prof_ntff_say_fn say, void *user, int *problems);
#else
#define prof_ntff_find_session(output_dir, pid, not_before_unix_ns, folder, size) \
    PROF__STRIPPED(PROF_DISABLED, (0 ? (void)(pid), (void)(not_before_unix_ns) : PROF__USE3(output_dir, folder, size)))
#define prof_ntff_list(dir, fn, user) PROF__STRIPPED(PROF_DISABLED, PROF__USE3(dir, fn, user))
#define prof_ntff_check(dir, say, user, problems) \
    PROF__STRIPPED(PROF_DISABLED, (0 ? (void)(problems) : PROF__USE3(dir, say, user)))
#endif

/*-- LOADER ------------------------------------------------------------------------------------------------- >>loader --
   The Neuron runtime is found when it is first needed: the copy that the process has, as a shared library or inside the
   program; else libnrt.so.1 as the dynamic linker finds it, else that of /opt/aws/neuron/lib. PROF_NTFF_LIBNRT=path in
   the environment names another one. It is loaded for good. Any thread; not in signal handlers. */

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
/* Finds the runtime now. path: of a library; null: as above. PROF_UNSUPPORTED: there is none, or path is none.
   PROF_INVALID_STATE: the process has another one already. Need not be called: what needs the runtime does it. */
PROF_DEF prof_status prof_ntff_load(const char *path);
/* PROF_NTFF_CAN_..., 0 without a runtime. */
PROF_DEF unsigned prof_ntff_capabilities(void);
/* "2.34.10.0", or "unknown" of a runtime that does not say; null without one. Static. */
PROF_DEF const char *prof_ntff_runtime_version(void);
/* The file it was loaded from; null without one. Static. */
PROF_DEF const char *prof_ntff_library(void);
/* What the runtime returned to the calling thread's last call of a function below: an NRT_STATUS. 0 as well if it was
   not asked, because there is none, it lacks the function, or the call was refused beforehand. */
PROF_DEF unsigned prof_ntff_nrt_status(void);
/* "NRT_SUCCESS", as in nrt_status.h, of numbers that it does not name what the runtime calls them, else
   "NRT_STATUS_<number>", which is the thread's until the next. */
PROF_DEF const char *prof_ntff_nrt_status_name(unsigned status);
#endif
