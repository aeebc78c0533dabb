/* prof_ntff.h - v0.1 - AWS Neuron for prof: the runtime's own captures, and NeuronCores on the time line of the host
                        - public domain or MIT-0; needs prof.h and nothing else; the licence is at the end of this file

QUICK START

    (to come)

CONTENTS

    >>loader     the Neuron runtime of the process, if there is one
    >>runtime    its profiling functions, one for one
    >>sessions   captures that libnrt writes: inspect, profiles of models, continuous profiles
    >>systrace   its system trace, in memory
    >>events     what a system trace and Neuron Explorer tell, as events
    >>json       their JSON
    >>clock      Unix time, the host's clock and the NeuronCores'
    >>kineto     trace.json for Neuron Explorer
    >>artifacts  the files of a session
*/
#ifndef PROF_NTFF_H
#define PROF_NTFF_H
#include "prof.h"

#ifdef __cplusplus
extern "C" {
#endif

/*-- EVENTS ------------------------------------------------------------------------------------------------- >>events -- */

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
    PROF_NTFF_UNMATCHED_STOP = 2,  /* its start was not seen: so is start_ns the stop's */
    PROF_NTFF_REALIGNED = 4,       /* put into the host's time here, by a sync point, not by the runtime */
    PROF_NTFF_RAW_CLOCK = 8,       /* in the time of the NeuronCore: no sync point was there */
    PROF_NTFF_COUNTER = 16         /* a value at a time, not a piece of time: value */
};

/* One event, complete, in the host's time. What is not known is -1, of ids 0. Strings are valid during the call only. */
typedef struct prof_ntff_event {
    const char *name;
    prof_ntff_source source;
    int64_t start_ns, duration_ns; /* Unix time; duration_ns -1: an instant */
    int32_t nc_idx, core_idx, worker_gid;
    uint64_t tid, pid, tracking_id, exec_id, nrta_seq;
    double value;                  /* PROF_NTFF_COUNTER */
    const char *args;              /* JSON object: what else it said; not terminated */
    size_t args_size;
    unsigned flags;
} prof_ntff_event;

/* Not 0 ends what calls it, with PROF_OK. */
typedef int (*prof_ntff_event_fn)(void *user, const prof_ntff_event *event);

/* What a reader has seen, summed over calls. */
typedef struct prof_ntff_stats {
    uint64_t events, instants, pairs, unmatched_starts, unmatched_stops, realigned, raw_clock, errors;
    int data_version;
} prof_ntff_stats;

/* Starts whose stops were in no fetch yet, and sync points: from one piece of JSON to the next. */
typedef struct prof_ntff_parser prof_ntff_parser;

#if PROF_ENABLE
PROF_DEF prof_ntff_parser *prof_ntff_parser_create(void);
/* fn: hears of what still waits for its stop, PROF_NTFF_UNMATCHED_START; may be null. parser may be null. */
PROF_DEF void prof_ntff_parser_end(prof_ntff_parser *parser, prof_ntff_event_fn fn, void *user, prof_ntff_stats *stats);
/* The JSON of one nrt_sys_trace_fetch_events(). parser, stats: may be null. */
PROF_DEF prof_status prof_ntff_parse_systrace_json(prof_ntff_parser *parser, const char *json, size_t size,
                                                   prof_ntff_event_fn fn, void *user, prof_ntff_stats *stats);
/* A prof_ntff_event_fn: records it on a track of its NeuronCore, of the running session of prof. user is not used. */
PROF_DEF int prof_ntff_record(void *user, const prof_ntff_event *event);
#else
#endif

/*-- JSON ----------------------------------------------------------------------------------------------------- >>json -- */

/*-- CLOCK --------------------------------------------------------------------------------------------------- >>clock -- */

/*-- KINETO ------------------------------------------------------------------------------------------------- >>kineto -- */

/*-- ARTIFACTS ------------------------------------------------------------------------------------------- >>artifacts -- */

/*-- LOADER ------------------------------------------------------------------------------------------------- >>loader --
   The Neuron runtime is found when it is first needed: the copy that the process has, as a shared library or inside the
   program; else libnrt.so.1 as the dynamic linker finds it, else that of /opt/aws/neuron/lib. PROF_NTFF_LIBNRT=path in the
   environment names another one. It is loaded for good. Any thread; not in signal handlers. */

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
   not asked, because there is none or it lacks the function. */
PROF_DEF unsigned prof_ntff_nrt_status(void);
/* "NRT_SUCCESS", as in nrt_status.h, of numbers that it does not name what the runtime calls them, else
   "NRT_STATUS_<number>". Static or the runtime's. */
PROF_DEF const char *prof_ntff_nrt_status_name(unsigned status);
#endif

/*-- RUNTIME ----------------------------------------------------------------------------------------------- >>runtime --
   The runtime's functions under its names, with prof_ntff_ for nrt_:

       nrt_inspect_config_t *options;                              // prof_ntff.h needs no header of Neuron: without one say
       prof_ntff_inspect_config_allocate(&options);                // struct nrt_inspect_config *options;
       prof_ntff_inspect_config_set_output_dir(options, "./output");

   The same arguments, in the same order. Each returns a prof_status, those that are void there, too: PROF_OK is NRT_SUCCESS,
   prof_ntff_nrt_status() has the runtime's own, and prof_error() says it in words:

     PROF_UNSUPPORTED       no runtime, or one without this function: the text names it and the runtime's version
     PROF_INVALID_ARGUMENT  NRT_INVALID, NRT_INVALID_HANDLE
     PROF_NO_MEMORY         NRT_RESOURCE, NRT_FAIL_HOST_MEM_ALLOC
     PROF_INVALID_STATE     NRT_UNINITIALIZED: before nrt_init(); NRT_CLOSED: after nrt_close(); and, without asking the
                            runtime: a second capture of a kind; a capture that NEURON_RT_INSPECT_ENABLE=1 in the
                            environment has taken already; one of the parent, in the child of a fork();
                            prof_ntff_close() while a capture is open
     PROF_IO                everything else

   What the runtime allocates is freed by its own function for it, never by free(). */

#ifndef PROF_NTFF_NRT_STATUS
#define PROF_NTFF_NRT_STATUS unsigned int /* as compilers take the enum NRT_STATUS */
#endif
#ifdef __cplusplus
typedef bool prof_ntff_bool;
#else
typedef _Bool prof_ntff_bool;
#endif
struct nrt_model; /* what the headers of Neuron call nrt_model_t, and so on */
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

/* X(result, name without nrt_, parameters, arguments, role): result: status, an NRT_STATUS; nothing; text. role: what it does
   to captures. nrt_inspect_export and nrt_inspect_config_set_device_profile_num_warmup are not here, because their
   prototypes are not published; nrta_* neither, because theirs change.
   set_inspect_device_profile_mode is in no public header, but in public code of AWS: mode 0 off, 1 model, 2 session.
   get_instance_output_dir is in neither, and the only one whose prototype rests on hearsay: nothing here calls it. */
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
    X(status, inspect_config_set_session_id, (struct nrt_inspect_config *options, int session_id), (options, session_id), 0) \
    X(status, inspect_config_set_output_dir, (struct nrt_inspect_config *options, const char *output_dir), \
      (options, output_dir), 0) \
    X(status, inspect_config_set_sys_trace_max_events_per_nc, \
      (struct nrt_inspect_config *options, uint64_t sys_trace_max_events_per_nc), (options, sys_trace_max_events_per_nc), 0) \
    X(status, inspect_config_set_capture_enabled_for_nc, \
      (struct nrt_inspect_config *options, uint32_t nc_idx, prof_ntff_bool enabled), (options, nc_idx, enabled), 0) \
    X(status, inspect_config_set_capture_enabled_for_event_type_string, \
      (struct nrt_inspect_config *options, const char *event_type, prof_ntff_bool enabled), \
      (options, event_type, enabled), 0) \
    X(status, inspect_config_set_enable_inspect, (struct nrt_inspect_config *options, prof_ntff_bool enable_inspect), \
      (options, enable_inspect), 0) \
    X(status, inspect_config_set_enable_inspect_on_fail, \
      (struct nrt_inspect_config *options, prof_ntff_bool enable_inspect_on_fail), (options, enable_inspect_on_fail), 0) \
    X(status, inspect_begin_with_options, (struct nrt_inspect_config *options), (options), PROF_NTFF_BEGINS_OPTIONS) \
    X(status, inspect_config_get_all_activity_types, (const char ***activity_types, size_t *count), \
      (activity_types, count), 0) \
    X(status, inspect_config_get_enabled_activity_types, \
      (struct nrt_inspect_config *options, const char ***activity_types, size_t *count), \
      (options, activity_types, count), 0) \
    X(nothing, inspect_config_free_activity_types, (const char **activity_types, size_t count), (activity_types, count), 0) \
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
    X(nothing, sys_trace_config_set_max_events_per_nc, (struct nrt_sys_trace_config *options, uint64_t max_events_per_nc), \
      (options, max_events_per_nc), 0) \
    X(nothing, sys_trace_config_set_capture_enabled_for_nc, \
      (struct nrt_sys_trace_config *options, uint32_t nc_idx, prof_ntff_bool enabled), (options, nc_idx, enabled), 0) \
    X(status, sys_trace_config_set_capture_enabled_for_event_type, \
      (struct nrt_sys_trace_config *options, const char *event_type, prof_ntff_bool enabled), \
      (options, event_type, enabled), 0) \
    X(status, sys_trace_get_event_types, (const char ***event_types, size_t *count), (event_types, count), 0) \
    X(nothing, sys_trace_free_event_types, (const char **event_types, size_t count), (event_types, count), 0) \
    X(status, sys_trace_config_get_enabled_event_types, \
      (struct nrt_sys_trace_config *options, const char ***event_types, size_t *count), (options, event_types, count), 0) \
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
    X(status, get_instance_info, (struct nrt_instance_info *info, size_t instance_info_len), (info, instance_info_len), 0) \
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

/*-- SESSIONS --------------------------------------------------------------------------------------------- >>sessions --
   A capture from begin to end, set up in the order that AWS's own code has, everything said explicitly. */

enum { /* prof_ntff_config.activities */
    PROF_NTFF_SYSTEM = 1,      /* system_profile: the runtime and when NeuronCores were busy; host memory only */
    PROF_NTFF_DEVICE = 2,      /* device_profile: .ntff; takes some GB of device memory */
    PROF_NTFF_HOST_MEMORY = 4, /* host_memory: host_mem.pb, once a second */
    PROF_NTFF_CPU_UTIL = 8     /* cpu_util: cpu_util.pb, once a second */
};

typedef enum prof_ntff_device_mode {
    PROF_NTFF_DEVICE_SESSION = 0, /* all that runs, in one .ntff */
    PROF_NTFF_DEVICE_MODEL        /* the first execution of each model on each core */
} prof_ntff_device_mode;

typedef enum prof_ntff_on_fail {
    PROF_NTFF_ON_FAIL_NO = 0,
    PROF_NTFF_ON_FAIL_TOO, /* and dumps the device's profile when an execution fails */
    PROF_NTFF_ON_FAIL_ONLY /* captures nothing else */
} prof_ntff_on_fail;

/* All zero is the default. The comment of a field names its key for prof_ntff_config_set() and prof_config_set(), without
   NEURON_RT_INSPECT_. Strings stay the caller's, and are read by prof_ntff_session_begin() only. */
typedef struct prof_ntff_config {
    const char *output_dir;     /* OUTPUT_DIR: default "./output" */
    unsigned activities;        /* SYSTEM_PROFILE, DEVICE_PROFILE, HOST_MEMORY, CPU_UTIL: 0 is PROF_NTFF_SYSTEM */
    prof_ntff_device_mode device_mode; /* DEVICE_PROFILE: "1" or "model", "session" */
    prof_ntff_on_fail on_fail;  /* ON_FAIL: "1" is TOO */
    uint64_t max_events_per_nc; /* SYS_TRACE_MAX_EVENTS_PER_NC: default 0, the runtime's: a million */
    const char *ncs;            /* EVENT_FILTER_NC: "0,2,4-7": NeuronCores of system traces, below 128; default: all */
    const char *event_types;    /* EVENT_FILTER_TYPE: "hardware,nrt_execute,^cc_running": names, hardware, software, and
                                   with ^ what is not to be; default: all */
    int session_id;             /* default 0 is 1; it is in the names of device profiles */
    int no_trace_json;          /* 1: writes no trace.json into the session's folder */
} prof_ntff_config;

#define PROF_NTFF_PATH 1024 /* bytes that every path of these functions has at most */

#if PROF_ENABLE
/* Sets one field from text: key as in Neuron's environment, "NEURON_RT_INSPECT_OUTPUT_DIR". Keeps the pointer of a string.
   Unknown keys and bad values: PROF_INVALID_ARGUMENT. NEURON_RT_INSPECT_ENABLE may be 1. */
PROF_DEF prof_status prof_ntff_config_set(prof_ntff_config *config, const char *key, const char *value);

/* nrt_inspect_begin_with_options(). config null: what prof_config_set() was told with these keys, copied there, since the
   process began. After nrt_init(). A session that cannot begin as told does not begin at all. */
PROF_DEF prof_status prof_ntff_session_begin(const prof_ntff_config *config);
/* nrt_inspect_stop(), which writes the files: before nrt_close(). If they are found, folder (null, or PROF_NTFF_PATH bytes)
   is where, else "". Then writes trace.json there, of what prof has recorded, unless there is one. */
PROF_DEF prof_status prof_ntff_session_end(char *folder);
PROF_DEF int prof_ntff_session_active(void);
#endif

/* A device profile of every execution, none of which is written unless asked for: "save when it was slow". */
typedef struct prof_ntff_continuous {
    const char *output_dir; /* default "./output" */
    uint32_t vnc;           /* for on_save */
    int on_save;            /* 1: whenever prof has saved the last seconds (see prof_config.save, save_over), this core's
                               latest profile is saved, too, by prof's thread, which saves nothing else meanwhile */
} prof_ntff_continuous;

#if PROF_ENABLE
/* nrt_profile_continuous_start(). Needs synchronous execution, and no inspect session with a device profile. */
PROF_DEF prof_status prof_ntff_continuous_begin(const prof_ntff_continuous *config); /* null: all zero */
/* The profile of the latest execution on this core, into a file whose name the runtime chooses. */
PROF_DEF prof_status prof_ntff_continuous_save(uint32_t vnc);
/* The same if it took longer than limit_ns: call it where the scope around the execution ends. 1: saved, 0: not. */
PROF_DEF int prof_ntff_continuous_save_if(uint32_t vnc, uint64_t took_ns, uint64_t limit_ns);
/* nrt_profile_continuous_stop(), before nrt_close(). Waits for a save in progress. */
PROF_DEF prof_status prof_ntff_continuous_end(void);
/* Of this process. */
PROF_DEF uint64_t prof_ntff_continuous_saves(void);
#endif

/*-- SYSTEM TRACE ----------------------------------------------------------------------------------------- >>systrace --
   What the runtime and its NeuronCores did, from memory, onto prof's time line. Not together with an inspect session that
   has a system profile: they share a buffer. */

typedef struct prof_ntff_systrace {
    uint64_t max_events_per_nc; /* of the runtime's ring; 0: its default. The oldest are overwritten, silently */
    const char *ncs;            /* as in prof_ntff_config */
    const char *event_types;
    prof_ntff_event_fn event;   /* null: prof_ntff_record, tracks of the running recording */
    void *user;
} prof_ntff_systrace;

#if PROF_ENABLE
/* After nrt_init(). config null: all zero. */
PROF_DEF prof_status prof_ntff_systrace_start(const prof_ntff_systrace *config);
/* Takes what has come since. Call it now and then, before the ring is full, from any thread, but not from two at once. A
   start may come with one call and its stop with the next. stats: may be null; is added to. */
PROF_DEF prof_status prof_ntff_systrace_fetch(prof_ntff_stats *stats);
/* Fetches once more, and stops: before prof_stop() and nrt_close(). */
PROF_DEF prof_status prof_ntff_systrace_stop(prof_ntff_stats *stats);
#endif

/*-- STRIPPED: PROF_ENABLE=0 --*/
#if !PROF_ENABLE
#define prof_ntff_load(path) PROF__STRIPPED(PROF_DISABLED, PROF__USE(path))
#define prof_ntff_nrt_status_name(status) PROF__STRIPPED("", PROF__USE(status))
#define prof_ntff_capabilities() PROF__STRIPPED(0u, (void)0)
#define prof_ntff_nrt_status() PROF__STRIPPED(0u, (void)0)
#define prof_ntff_runtime_version() PROF__STRIPPED((const char *)0, (void)0)
#define prof_ntff_library() PROF__STRIPPED((const char *)0, (void)0)
#define prof_ntff_config_set(config, key, value) PROF__STRIPPED(PROF_DISABLED, PROF__USE3(config, key, value))
#define prof_ntff_session_begin(config) PROF__STRIPPED(PROF_DISABLED, PROF__USE(config))
#define prof_ntff_session_end(folder) PROF__STRIPPED(PROF_DISABLED, PROF__USE(folder))
#define prof_ntff_session_active() PROF__STRIPPED(0, (void)0)
#define prof_ntff_continuous_begin(config) PROF__STRIPPED(PROF_DISABLED, PROF__USE(config))
#define prof_ntff_continuous_save(vnc) PROF__STRIPPED(PROF_DISABLED, PROF__USE(vnc))
#define prof_ntff_continuous_save_if(vnc, took_ns, limit_ns) PROF__STRIPPED(0, PROF__USE3(vnc, took_ns, limit_ns))
#define prof_ntff_continuous_end() PROF__STRIPPED(PROF_DISABLED, (void)0)
#define prof_ntff_continuous_saves() PROF__STRIPPED((uint64_t)0, (void)0)
#define prof_ntff_systrace_start(config) PROF__STRIPPED(PROF_DISABLED, PROF__USE(config))
#define prof_ntff_systrace_fetch(stats) PROF__STRIPPED(PROF_DISABLED, PROF__USE(stats))
#define prof_ntff_systrace_stop(stats) PROF__STRIPPED(PROF_DISABLED, PROF__USE(stats))
#define prof_ntff_profile_start(model, filename) PROF__STRIPPED(PROF_DISABLED, PROF__USE2(model, filename))
#define prof_ntff_profile_stop(filename) PROF__STRIPPED(PROF_DISABLED, PROF__USE(filename))
#define prof_ntff_profile_continuous_options_allocate(options) PROF__STRIPPED(PROF_DISABLED, PROF__USE(options))
#define prof_ntff_profile_continuous_options_free(options) PROF__STRIPPED(PROF_DISABLED, PROF__USE(options))
#define prof_ntff_profile_continuous_options_set_output_dir(options, output_dir) \
    PROF__STRIPPED(PROF_DISABLED, PROF__USE2(options, output_dir))
#define prof_ntff_profile_continuous_start(options) PROF__STRIPPED(PROF_DISABLED, PROF__USE(options))
#define prof_ntff_profile_continuous_save(vnc, options) PROF__STRIPPED(PROF_DISABLED, PROF__USE2(vnc, options))
#define prof_ntff_profile_continuous_stop() PROF__STRIPPED(PROF_DISABLED, (void)0)
#define prof_ntff_inspect_begin() PROF__STRIPPED(PROF_DISABLED, (void)0)
#define prof_ntff_inspect_stop() PROF__STRIPPED(PROF_DISABLED, (void)0)
#define prof_ntff_inspect_config_allocate(options) PROF__STRIPPED(PROF_DISABLED, PROF__USE(options))
#define prof_ntff_inspect_config_set_defaults(options) PROF__STRIPPED(PROF_DISABLED, PROF__USE(options))
#define prof_ntff_inspect_config_free(options) PROF__STRIPPED(PROF_DISABLED, PROF__USE(options))
#define prof_ntff_inspect_config_set_session_id(options, session_id) \
    PROF__STRIPPED(PROF_DISABLED, PROF__USE2(options, session_id))
#define prof_ntff_inspect_config_set_output_dir(options, output_dir) \
    PROF__STRIPPED(PROF_DISABLED, PROF__USE2(options, output_dir))
#define prof_ntff_inspect_config_set_sys_trace_max_events_per_nc(options, sys_trace_max_events_per_nc) \
    PROF__STRIPPED(PROF_DISABLED, PROF__USE2(options, sys_trace_max_events_per_nc))
#define prof_ntff_inspect_config_set_capture_enabled_for_nc(options, nc_idx, enabled) \
    PROF__STRIPPED(PROF_DISABLED, PROF__USE3(options, nc_idx, enabled))
#define prof_ntff_inspect_config_set_capture_enabled_for_event_type_string(options, event_type, enabled) \
    PROF__STRIPPED(PROF_DISABLED, PROF__USE3(options, event_type, enabled))
#define prof_ntff_inspect_config_set_enable_inspect(options, enable_inspect) \
    PROF__STRIPPED(PROF_DISABLED, PROF__USE2(options, enable_inspect))
#define prof_ntff_inspect_config_set_enable_inspect_on_fail(options, enable_inspect_on_fail) \
    PROF__STRIPPED(PROF_DISABLED, PROF__USE2(options, enable_inspect_on_fail))
#define prof_ntff_inspect_begin_with_options(options) PROF__STRIPPED(PROF_DISABLED, PROF__USE(options))
#define prof_ntff_inspect_config_get_all_activity_types(activity_types, count) \
    PROF__STRIPPED(PROF_DISABLED, PROF__USE2(activity_types, count))
#define prof_ntff_inspect_config_get_enabled_activity_types(options, activity_types, count) \
    PROF__STRIPPED(PROF_DISABLED, PROF__USE3(options, activity_types, count))
#define prof_ntff_inspect_config_free_activity_types(activity_types, count) \
    PROF__STRIPPED(PROF_DISABLED, PROF__USE2(activity_types, count))
#define prof_ntff_inspect_config_set_activity(options, activity_type, enabled) \
    PROF__STRIPPED(PROF_DISABLED, PROF__USE3(options, activity_type, enabled))
#define prof_ntff_inspect_config_set_inspect_device_profile_mode(options, mode) \
    PROF__STRIPPED(PROF_DISABLED, PROF__USE2(options, mode))
#define prof_ntff_inspect_get_instance_output_dir(output_dir, instance_dir, size) \
    PROF__STRIPPED(PROF_DISABLED, PROF__USE3(output_dir, instance_dir, size))
#define prof_ntff_sys_trace_config_allocate(options) PROF__STRIPPED(PROF_DISABLED, PROF__USE(options))
#define prof_ntff_sys_trace_config_set_defaults(options) PROF__STRIPPED(PROF_DISABLED, PROF__USE(options))
#define prof_ntff_sys_trace_config_free(options) PROF__STRIPPED(PROF_DISABLED, PROF__USE(options))
#define prof_ntff_sys_trace_config_set_max_events_per_nc(options, max_events_per_nc) \
    PROF__STRIPPED(PROF_DISABLED, PROF__USE2(options, max_events_per_nc))
#define prof_ntff_sys_trace_config_set_capture_enabled_for_nc(options, nc_idx, enabled) \
    PROF__STRIPPED(PROF_DISABLED, PROF__USE3(options, nc_idx, enabled))
#define prof_ntff_sys_trace_config_set_capture_enabled_for_event_type(options, event_type, enabled) \
    PROF__STRIPPED(PROF_DISABLED, PROF__USE3(options, event_type, enabled))
#define prof_ntff_sys_trace_get_event_types(event_types, count) \
    PROF__STRIPPED(PROF_DISABLED, PROF__USE2(event_types, count))
#define prof_ntff_sys_trace_free_event_types(event_types, count) \
    PROF__STRIPPED(PROF_DISABLED, PROF__USE2(event_types, count))
#define prof_ntff_sys_trace_config_get_enabled_event_types(options, event_types, count) \
    PROF__STRIPPED(PROF_DISABLED, PROF__USE3(options, event_types, count))
#define prof_ntff_sys_trace_start(options) PROF__STRIPPED(PROF_DISABLED, PROF__USE(options))
#define prof_ntff_sys_trace_stop() PROF__STRIPPED(PROF_DISABLED, (void)0)
#define prof_ntff_sys_trace_fetch_options_allocate(options) PROF__STRIPPED(PROF_DISABLED, PROF__USE(options))
#define prof_ntff_sys_trace_fetch_options_set_defaults(options) PROF__STRIPPED(PROF_DISABLED, PROF__USE(options))
#define prof_ntff_sys_trace_fetch_options_free(options) PROF__STRIPPED(PROF_DISABLED, PROF__USE(options))
#define prof_ntff_sys_trace_fetch_options_set_max_events_per_nc(options, max_events_per_nc) \
    PROF__STRIPPED(PROF_DISABLED, PROF__USE2(options, max_events_per_nc))
#define prof_ntff_sys_trace_fetch_options_set_nc_idx(options, nc_idx) \
    PROF__STRIPPED(PROF_DISABLED, PROF__USE2(options, nc_idx))
#define prof_ntff_sys_trace_fetch_events(buffer, written_size, options) \
    PROF__STRIPPED(PROF_DISABLED, PROF__USE3(buffer, written_size, options))
#define prof_ntff_sys_trace_buffer_free(buffer) PROF__STRIPPED(PROF_DISABLED, PROF__USE(buffer))
#define prof_ntff_trace_start(trace_mem) PROF__STRIPPED(PROF_DISABLED, PROF__USE(trace_mem))
#define prof_ntff_trace_stop(filename) PROF__STRIPPED(PROF_DISABLED, PROF__USE(filename))
#define prof_ntff_debug_client_connect(logical_nc_idx, stream_fd) \
    PROF__STRIPPED(PROF_DISABLED, PROF__USE2(logical_nc_idx, stream_fd))
#define prof_ntff_debug_client_connect_close(stream_fd) PROF__STRIPPED(PROF_DISABLED, PROF__USE(stream_fd))
#define prof_ntff_debug_client_read_one_event(stream_fd, header, payload) \
    PROF__STRIPPED(PROF_DISABLED, PROF__USE3(stream_fd, header, payload))
#define prof_ntff_register_async_exec_callback(callback, params) \
    PROF__STRIPPED(PROF_DISABLED, PROF__USE2(callback, params))
#define prof_ntff_async_drain_queued_execs(vnc) PROF__STRIPPED(PROF_DISABLED, PROF__USE(vnc))
#define prof_ntff_get_model_info(model, info, info_size_in, info_size_out) \
    PROF__STRIPPED(PROF_DISABLED, (0 ? (void)(model) : PROF__USE3(info, info_size_in, info_size_out)))
#define prof_ntff_get_version(version, size) PROF__STRIPPED(PROF_DISABLED, PROF__USE2(version, size))
#define prof_ntff_get_instance_info(info, instance_info_len) \
    PROF__STRIPPED(PROF_DISABLED, PROF__USE2(info, instance_info_len))
#define prof_ntff_get_visible_vnc_count(vnc_count) PROF__STRIPPED(PROF_DISABLED, PROF__USE(vnc_count))
#define prof_ntff_get_visible_nc_count(vnc_count) PROF__STRIPPED(PROF_DISABLED, PROF__USE(vnc_count))
#define prof_ntff_get_total_vnc_count(vnc_count) PROF__STRIPPED(PROF_DISABLED, PROF__USE(vnc_count))
#define prof_ntff_get_total_nc_count(vnc_count) PROF__STRIPPED(PROF_DISABLED, PROF__USE(vnc_count))
#define prof_ntff_init(framework, fw_version, fal_version) \
    PROF__STRIPPED(PROF_DISABLED, PROF__USE3(framework, fw_version, fal_version))
#define prof_ntff_close() PROF__STRIPPED(PROF_DISABLED, (void)0)
#define prof_ntff_get_status_as_str(status) PROF__STRIPPED("", PROF__USE(status))
#endif

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif /* PROF_NTFF_H */

/*== END OF HEADER ==================================================================================================*/

#if defined(PROF_IMPLEMENTATION) && PROF_ENABLE && !defined(PROF_FREESTANDING) && !defined(PROF__NTFF_IMPLEMENTED)
#define PROF__NTFF_IMPLEMENTED

#ifdef PROF__WRAPS_MALLOC /* what prof itself allocates is not the program's */
#define malloc(size) __libc_malloc(size)
#define calloc(count, size) __libc_calloc(count, size)
#define realloc(at, size) __libc_realloc(at, size)
#define free(at) __libc_free(at)
#define qsort(at, count, size, order) prof__quiet_sort(at, count, size, order)
#endif

#ifdef __cplusplus
extern "C" {
#endif

/*-- JSON ----------------------------------------------------------------------------------------------------- >>json -- */

/*-- CLOCK --------------------------------------------------------------------------------------------------- >>clock -- */

/*-- EVENTS ------------------------------------------------------------------------------------------------- >>events -- */

/*-- KINETO ------------------------------------------------------------------------------------------------- >>kineto -- */

/*-- ARTIFACTS ------------------------------------------------------------------------------------------- >>artifacts -- */

/*-- LOADER ------------------------------------------------------------------------------------------------- >>loader --
   The functions found, published whole and never changed: so wrappers need no lock, and a fork() finds none held. */

#ifdef __linux__
#include <dlfcn.h>
#endif

#define PROF__NTFF_ABI_status PROF_NTFF_NRT_STATUS
#define PROF__NTFF_ABI_nothing void
#define PROF__NTFF_ABI_text const char *
#define PROF__NTFF_FIELD(result, name, parameters, arguments, role) PROF__NTFF_ABI_##result(*name) parameters;
typedef struct prof__ntff_api {
    PROF_NTFF_TABLE(PROF__NTFF_FIELD)
    void *handle;
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
static __thread unsigned prof__ntff_status; /* of the thread's last call */

/* A function of the table, as data: null if the runtime lacks it. */
static void *prof__ntff_symbol(const prof__ntff_api *api, size_t field)
{
    void *symbol;
    memcpy(&symbol, (const char *)api + field, sizeof symbol);
    return symbol;
}
#define PROF__NTFF_HAS(api, name) (prof__ntff_symbol(api, offsetof(prof__ntff_api, name)) != NULL)

#ifdef __linux__
/* What nrt_get_version() fills in: nrt_version.h. */
typedef struct prof__ntff_version {
    uint64_t major, minor, patch, maintenance;
    char detail[128], git_hash[64];
} prof__ntff_version;

static void prof__ntff_describe(prof__ntff_api *api)
{
    prof__ntff_version version;
    Dl_info where;
    memset(&version, 0, sizeof version);
    snprintf(api->version, sizeof api->version, "unknown");
    if (api->get_version && !api->get_version((struct nrt_version *)(void *)&version, sizeof version))
        snprintf(api->version, sizeof api->version, "%llu.%llu.%llu.%llu", (unsigned long long)version.major,
                 (unsigned long long)version.minor, (unsigned long long)version.patch,
                 (unsigned long long)version.maintenance);
    if (dladdr(prof__ntff_symbol(api, offsetof(prof__ntff_api, init)), &where) && where.dli_fname)
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

/* A library that is in the process already, and nothing else. */
static void *prof__ntff_present(const char *name) { return dlopen(name, RTLD_NOW | RTLD_NOLOAD); }

static void *prof__ntff_any(void)
{
    static const char *const names[] = {"libnrt.so.1", "/opt/aws/neuron/lib/libnrt.so.1", "/opt/aws/neuron/lib/libnrt.so"};
    void *program = dlopen(NULL, RTLD_NOW), *handle = NULL;
    if (program && dlsym(program, "nrt_init")) return program; /* linked into it, or loaded for all to see */
    if (program) dlclose(program);
    for (size_t i = 0; !handle && i < sizeof names / sizeof *names; i++) handle = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    return handle;
}

/* Two runtimes in one process would fight for the device: the one that is there is the one. */
static void *prof__ntff_open_library(const char *path, prof_status *status)
{
    void *present = prof__ntff_present("libnrt.so.1"), *handle;
    if (!present) present = prof__ntff_present("libnrt.so");
    if (!path) path = prof__environment("PROF_NTFF_LIBNRT");
    if (!path || !*path) {
        handle = present ? present : prof__ntff_any();
        if (!handle)
            *status = prof__fail(PROF_UNSUPPORTED, "no libnrt.so.1: is aws-neuronx-runtime-lib installed? Else name it in "
                                                   "PROF_NTFF_LIBNRT");
        return handle;
    }
    handle = prof__ntff_present(path);
    if (!handle && !present) {
        handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (!handle) *status = prof__fail(PROF_UNSUPPORTED, "no Neuron runtime: %.200s", dlerror());
    } else if (!handle) {
        *status = prof__fail(PROF_INVALID_STATE, "%.100s: the process has another libnrt already, and can't have two", path);
    }
    if (present) dlclose(present); /* handle has its own reference */
    return handle;
}

static prof__ntff_api *prof__ntff_find(const char *path, prof_status *status)
{
    void *handle = prof__ntff_open_library(path, status);
    prof__ntff_api *api = handle ? (prof__ntff_api *)calloc(1, sizeof *api) : NULL;
    if (handle && !api) *status = prof__fail(PROF_NO_MEMORY, "no memory for the functions of libnrt");
    for (size_t i = 0; api && i < sizeof prof__ntff_symbols / sizeof *prof__ntff_symbols; i++) {
        void *symbol = dlsym(handle, prof__ntff_symbols[i].name);
        memcpy((char *)api + prof__ntff_symbols[i].field, &symbol, sizeof symbol);
    }
    if (api && !api->init) {
        *status = prof__fail(PROF_UNSUPPORTED, "%.150s: has no nrt_init, so it is no Neuron runtime", path ? path : "libnrt.so.1");
        free(api);
        api = NULL;
    }
    if (handle && !api) dlclose(handle);
    if (!api) return NULL;
    api->handle = handle;
    prof__ntff_describe(api);
    return api;
}

/* There is one already: is it this? */
static prof_status prof__ntff_same(const prof__ntff_api *api, const char *path)
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
    if (api) return prof__ntff_same(api, path);
    prof__ntff_api *found = prof__ntff_find(path, &status);
    if (!found) return status;
    if (__atomic_compare_exchange_n(&prof__ntff_api_now, &none, found, 0, __ATOMIC_RELEASE, __ATOMIC_ACQUIRE)) return PROF_OK;
    dlclose(found->handle); /* another thread was faster */
    free(found);
    return prof__ntff_same(none, path);
}
#else
PROF_DEF prof_status prof_ntff_load(const char *path)
{
    (void)path;
    return prof__fail(PROF_UNSUPPORTED, "the Neuron runtime is for Linux only");
}
#endif

static const prof__ntff_api *prof__ntff_get(void)
{
    const prof__ntff_api *api = PROF__ACQUIRE(&prof__ntff_api_now);
    if (!api && !prof_ntff_load(NULL)) api = PROF__ACQUIRE(&prof__ntff_api_now);
    return api;
}

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

/* nrt_status.h; 8 and 12 are not in use. */
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
    static __thread char number[32];
    const prof__ntff_api *api = PROF__ACQUIRE(&prof__ntff_api_now);
    const char *text;
    for (size_t i = 0; i < sizeof prof__ntff_statuses / sizeof *prof__ntff_statuses; i++)
        if (prof__ntff_statuses[i].status == status) return prof__ntff_statuses[i].name;
    text = api && api->get_status_as_str ? api->get_status_as_str((PROF_NTFF_NRT_STATUS)status) : NULL;
    if (text && prof__begins(text, "NRT_")) return text;
    snprintf(number, sizeof number, "NRT_STATUS_%u", status);
    return number;
}

PROF_DEF const char *prof_ntff_get_status_as_str(PROF_NTFF_NRT_STATUS status)
{
    return prof_ntff_nrt_status_name((unsigned)status);
}

/*-- RUNTIME ----------------------------------------------------------------------------------------------- >>runtime --
   Which captures are open is one word, with the process that opened them: a child of a fork() has them from its parent, but
   not its runtime's threads. Whoever begins one sets its bit first. */

enum {
    PROF__NTFF_INSPECT = 1,
    PROF__NTFF_CONTINUOUS = 2,
    PROF__NTFF_SYS_TRACE = 4,
    PROF__NTFF_TRACE = 8,
    PROF__NTFF_WITH_SYSTEM = 16, /* the inspect session is known to have a system profile, */
    PROF__NTFF_WITH_DEVICE = 32  /* a device profile */
};
static uint64_t prof__ntff_captures; /* process << 32 | bits */

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

/* A switch of Neuron's environment, as the runtime reads it at nrt_init(): from anybody, set-user-id or not. */
static int prof__ntff_env_on(const char *name, int standard)
{
    const char *text = getenv(name);
    return text && *text ? strcmp(text, "0") != 0 : standard;
}

/* NEURON_RT_INSPECT_ENABLE=1 captures from nrt_init() on, and there is one subscriber only. */
static prof_status prof__ntff_env_check(const char *name, int role)
{
    int taken = prof__ntff_env_on("NEURON_RT_INSPECT_ENABLE", 0);
    if (role == PROF_NTFF_BEGINS_SYS_TRACE) taken = taken && prof__ntff_env_on("NEURON_RT_INSPECT_SYSTEM_PROFILE", 1);
    if (role == PROF_NTFF_BEGINS_CONTINUOUS) taken = taken && prof__ntff_env_on("NEURON_RT_INSPECT_DEVICE_PROFILE", 0);
    if (!taken || (role != PROF_NTFF_BEGINS_OPTIONS && role != PROF_NTFF_BEGINS_SYS_TRACE && role != PROF_NTFF_BEGINS_CONTINUOUS))
        return PROF_OK;
    return prof__fail(PROF_INVALID_STATE, "%s: NEURON_RT_INSPECT_ENABLE=1 in the environment captures already: unset it, or "
                                          "leave the capture to it", name);
}

/* What else there is that it can't go together with; open: the bits of what is. */
static prof_status prof__ntff_begin_check(const char *name, int role, unsigned open)
{
    unsigned bit = prof__ntff_bit(role);
    if (open & bit)
        return prof__fail(PROF_INVALID_STATE, "%s: %s is open already: end it first", name, prof__ntff_capture_name(bit));
    if (bit == PROF__NTFF_SYS_TRACE && open & PROF__NTFF_WITH_SYSTEM)
        return prof__fail(PROF_INVALID_STATE, "%s: the inspect session has the system profile: one at a time", name);
    if (bit == PROF__NTFF_CONTINUOUS && open & PROF__NTFF_WITH_DEVICE)
        return prof__fail(PROF_INVALID_STATE, "%s: the inspect session has the device profile: one at a time", name);
    return prof__ntff_env_check(name, role);
}

/* Before a function that has to do with captures. */
static PROF__COLD prof_status prof__ntff_role(const char *name, int role)
{
    uint64_t now = PROF__ACQUIRE(&prof__ntff_captures), process = prof__process_id() & 0xFFFFFFFFu;
    prof_status status = PROF_OK;
    do {
        unsigned open = (unsigned)now;
        if (open && now >> 32 != process)
            return prof__fail(PROF_INVALID_STATE, "%s: %s is open in process %u, this is a child of its fork()", name,
                              prof__ntff_capture_name(open), (unsigned)(now >> 32));
        if (role == PROF_NTFF_CLOSES && open)
            return prof__fail(PROF_INVALID_STATE, "%s: %s is open: end it first, or it is lost", name,
                              prof__ntff_capture_name(open));
        if (!prof__ntff_begins(role)) return PROF_OK;
        status = prof__ntff_begin_check(name, role, open);
        if (status) return status;
    } while (!__atomic_compare_exchange_n(&prof__ntff_captures, &now, process << 32 | (unsigned)now | prof__ntff_bit(role), 0,
                                          __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
    return PROF_OK;
}

/* The function's table, or why it can't be called. */
static prof_status prof__ntff_enter(const char *name, size_t field, int role, const prof__ntff_api **api)
{
    prof__ntff_status = 0;
    *api = prof__ntff_get();
    if (!*api) return PROF_UNSUPPORTED; /* prof_error() says which way */
    if (!prof__ntff_symbol(*api, field))
        return prof__fail(PROF_UNSUPPORTED, "%s: not in this runtime, %s, %.100s", name, (*api)->version, (*api)->path);
    return role ? prof__ntff_role(name, role) : PROF_OK;
}

static const char *prof__ntff_hint(unsigned status, int role)
{
    if (status == 13) return ": call nrt_init() first, or run one operation of the framework, which does";
    if (status == 14) return prof__ntff_ends(role) ? ": too late, captures end before nrt_close()" : ": not after nrt_close()";
    if (status == 4 || status == 11) return "";
    switch (role) {
    case PROF_NTFF_BEGINS_INSPECT:
    case PROF_NTFF_BEGINS_OPTIONS:
        return ": is another capture open, of the framework's profiler, the environment, or a system trace?";
    case PROF_NTFF_BEGINS_SYS_TRACE: return ": is a system profile open, of the framework's profiler or the environment?";
    case PROF_NTFF_BEGINS_CONTINUOUS: return ": not with a device profile of an inspect session, nor with asynchronous execution";
    default: return "";
    }
}

static prof_status prof__ntff_leave(const char *name, int role, unsigned status)
{
    prof__ntff_status = status;
    if (prof__ntff_begins(role) && status) prof__ntff_captures_change(0, prof__ntff_bit(role));
    if (prof__ntff_ends(role)) /* whatever it says: what is still open after a failure nobody can tell */
        prof__ntff_captures_change(0, role == PROF_NTFF_ENDS_INSPECT
                                          ? PROF__NTFF_INSPECT | PROF__NTFF_WITH_SYSTEM | PROF__NTFF_WITH_DEVICE
                                          : prof__ntff_bit(role));
    if (!status) return PROF_OK;
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
#define PROF__NTFF_DEFINE_text(result, name, parameters, arguments, role) /* above */
#define PROF__NTFF_DEFINE_ANY(result, name, parameters, arguments, role) \
    PROF__NTFF_DEFINE_##result(result, name, parameters, arguments, role)
PROF_NTFF_TABLE(PROF__NTFF_DEFINE_ANY)

/*-- SESSIONS --------------------------------------------------------------------------------------------- >>sessions --*/

/* What is begun and ended here is in a phase, with the process it is of. No lock: the runtime may take seconds, and a
   fork() of another thread would leave it locked. */
enum { PROF__NTFF_NONE, PROF__NTFF_OPEN, PROF__NTFF_BUSY };

static void prof__ntff_phase_set(uint64_t *word, unsigned phase)
{
    PROF__RELEASE(word, phase ? prof__process_id() << 8 | phase : 0);
}

static prof_status prof__ntff_phase(uint64_t *word, unsigned from, const char *name)
{
    uint64_t process = prof__process_id(), now = from ? process << 8 | from : 0;
    if (__atomic_compare_exchange_n(word, &now, process << 8 | PROF__NTFF_BUSY, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return PROF_OK;
    if (now && now >> 8 != process)
        return prof__fail(PROF_INVALID_STATE, "%s: it is process %u's, this is a child of its fork()", name, (unsigned)(now >> 8));
    if ((now & 255) == PROF__NTFF_BUSY) return prof__fail(PROF_INVALID_STATE, "%s: another thread is at it", name);
    return prof__fail(PROF_INVALID_STATE, "%s: %s", name, from ? "none was begun" : "one is open already: end it first");
}

/*-- filters --*/

#define PROF__NTFF_NCS 128 /* as many as the documentation's own example turns off */

/* "0,2,4-7" as a set. 0: it is none. */
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

static int prof__ntff_is_hardware(const char *type)
{
    static const char *const names[] = {"nc_exec_running", "cc_running",           "cc_exec_barrier", "numerical_err",
                                        "nc_model_switch", "nrt_model_switch", "timestamp_sync_point", "hw_notify"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(type, names[i])) return 1;
    return 0;
}

static int prof__ntff_type_matches(const char *item, size_t size, const char *type)
{
    if (size == 8 && !memcmp(item, "hardware", 8)) return prof__ntff_is_hardware(type);
    if (size == 8 && !memcmp(item, "software", 8)) return !prof__ntff_is_hardware(type);
    return strlen(type) == size && !memcmp(item, type, size);
}

/* Does "hardware,nrt_execute,^cc_running" let this one through? The last item that matches decides. */
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
        if (!found && size - without != 8)
            return prof__fail(PROF_INVALID_ARGUMENT, "event_types '%.*s': hardware, software, or what nrt_sys_trace_get_event_types() "
                                                     "lists", size > 60 ? 60 : (int)size, filter);
        filter += size;
        if (*filter) filter++;
    }
    return PROF_OK;
}

/* An options object of either family. */
typedef struct prof__ntff_target {
    struct nrt_inspect_config *inspect; /* one of both */
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

/* Cores that the machine does not have may be refused when they are turned off, not when they are turned on. */
static prof_status prof__ntff_filter_ncs(const prof__ntff_target *to, const char *ncs)
{
    unsigned char set[PROF__NTFF_NCS];
    prof_status status = PROF_OK;
    if (!ncs) return PROF_OK;
    if (!prof__ntff_parse_ncs(ncs, set))
        return prof__fail(PROF_INVALID_ARGUMENT, "ncs '%.60s': numbers below %d, for example 0,2,4-7", ncs, PROF__NTFF_NCS);
    for (uint32_t i = 0; i < PROF__NTFF_NCS && !status; i++) {
        prof_status each = prof__ntff_set_nc(to, i, set[i]);
        if (set[i] || each == PROF_UNSUPPORTED) status = each;
    }
    return status;
}

static prof_status prof__ntff_filter_types(const prof__ntff_target *to, const char *filter)
{
    const char **types = NULL;
    size_t count = 0;
    if (!filter || !*filter) return PROF_OK;
    prof_status status = prof_ntff_sys_trace_get_event_types(&types, &count);
    if (status) return status;
    status = prof__ntff_types_check(filter, types, count);
    for (size_t i = 0; i < count && !status; i++)
        if (types[i]) status = prof__ntff_set_type(to, types[i], prof__ntff_type_on(filter, types[i]));
    if (types) prof_ntff_sys_trace_free_event_types(types, count);
    return status;
}

/*-- keys --*/

#define PROF__NTFF_PREFIX "NEURON_RT_INSPECT_"
#define PROF__NTFF_CHOSEN 0x80000000u /* in activities: even if there is none */

static void prof__ntff_choose(prof_ntff_config *config, unsigned activity, int on)
{
    unsigned now = config->activities ? config->activities : (unsigned)PROF_NTFF_SYSTEM;
    config->activities = (on ? now | activity : now & ~activity) | PROF__NTFF_CHOSEN;
}

static prof_status prof__ntff_bad(const char *key, const char *value, const char *values)
{
    return prof__fail(PROF_INVALID_ARGUMENT, "%s '%.60s': %s", key, value, values);
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
        return prof__fail(PROF_UNSUPPORTED, "%s '%.60s': prof_ntff_session_begin() is what enables", key, value);
    return PROF_OK;
}

PROF_DEF prof_status prof_ntff_config_set(prof_ntff_config *config, const char *key, const char *value)
{
    static const char *const switches[] = {"SYSTEM_PROFILE", "DEVICE_PROFILE", "HOST_MEMORY", "CPU_UTIL", "ON_FAIL", "ENABLE", NULL};
    static const prof__unit ones[] = {{"", 1}, {NULL, 0}};
    unsigned char set[PROF__NTFF_NCS];
    if (!config || !key || !value) return prof__fail(PROF_INVALID_ARGUMENT, "prof_ntff_config_set: null argument");
    const char *name = prof__begins(key, PROF__NTFF_PREFIX) ? key + sizeof PROF__NTFF_PREFIX - 1 : "";
    if (prof__parse_name(name, switches) >= 0) return prof__ntff_set_switch(config, key, name, value);
    if (!strcmp(name, "OUTPUT_DIR")) {
        if (!*value || strlen(value) >= PROF_NTFF_PATH) return prof__ntff_bad(key, value, "a folder");
        config->output_dir = value;
    } else if (!strcmp(name, "EVENT_FILTER_NC")) {
        if (!prof__ntff_parse_ncs(value, set)) return prof__ntff_bad(key, value, "NeuronCores below 128, for example 0,2,4-7");
        config->ncs = value;
    } else if (!strcmp(name, "EVENT_FILTER_TYPE")) {
        config->event_types = value;
    } else if (!strcmp(name, "SYS_TRACE_MAX_EVENTS_PER_NC")) {
        if (!prof__parse_number(value, ones, &config->max_events_per_nc)) return prof__ntff_bad(key, value, "a number");
    } else if (!strcmp(name, "DEVICE_PROFILE_NUM_WARMUP") || !strcmp(name, "PRECACHE_ENABLE")) {
        return prof__fail(PROF_UNSUPPORTED, "%s: the runtime has no public function for it, set it in the environment", key);
    } else {
        return prof__fail(PROF_INVALID_ARGUMENT, "unknown key '%.60s': those of Neuron begin with " PROF__NTFF_PREFIX, key);
    }
    return PROF_OK;
}

/* What prof_config_set() was told, with copies of the strings. Under the lock. */
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

static prof_status prof__ntff_claim(void *user, const char *key, const char *value)
{
    (void)user;
    if (strlen(value) >= PROF_NTFF_PATH) return prof__ntff_bad(key, value, "too long");
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

#if defined(__GNUC__) || defined(__TINYC__)
static void __attribute__((constructor(101))) prof__ntff_claims(void)
{
    prof_config_claim(PROF__NTFF_PREFIX, prof__ntff_claim, NULL);
}
#ifdef PROF__SHARED
static void __attribute__((destructor(101))) prof__ntff_claims_no_more(void) { prof_config_claim(PROF__NTFF_PREFIX, NULL, NULL); }
#endif
#endif

/*-- inspect --*/

static struct {
    uint64_t phase;
    struct nrt_inspect_config *options;
    uint64_t began; /* Unix time */
    int no_trace_json;
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

/* A runtime of before the modes has the model's, and no function to say so. */
static prof_status prof__ntff_set_device_mode(struct nrt_inspect_config *options, const prof_ntff_config *config)
{
    int on = (prof__ntff_activities(config) & PROF_NTFF_DEVICE) != 0, model = config->device_mode == PROF_NTFF_DEVICE_MODEL;
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
    if (!status) status = prof_ntff_inspect_config_set_output_dir(options, config->output_dir ? config->output_dir : "./output");
    if (!status && config->max_events_per_nc)
        status = prof_ntff_inspect_config_set_sys_trace_max_events_per_nc(options, config->max_events_per_nc);
    if (!status) status = prof__ntff_filter_ncs(&target, config->ncs);
    if (!status) status = prof__ntff_filter_types(&target, config->event_types);
    return status;
}

static prof_status prof__ntff_config_check(const prof_ntff_config *config)
{
    const char *folder = config->output_dir;
    if (folder && (!*folder || strlen(folder) >= PROF_NTFF_PATH))
        return prof__fail(PROF_INVALID_ARGUMENT, "output_dir: 1 to %d bytes", PROF_NTFF_PATH - 1);
    if (prof__ntff_activities(config) & ~15u || (unsigned)config->device_mode > PROF_NTFF_DEVICE_MODEL ||
        (unsigned)config->on_fail > PROF_NTFF_ON_FAIL_ONLY)
        return prof__fail(PROF_INVALID_ARGUMENT, "prof_ntff_config: activities, device_mode or on_fail out of range");
    if (!prof__ntff_activities(config) && !config->on_fail)
        return prof__fail(PROF_INVALID_ARGUMENT, "prof_ntff_config: no activity: nothing would be captured");
    return PROF_OK;
}

/* The phase is busy. */
static prof_status prof__ntff_session_open(const prof_ntff_config *config)
{
    struct nrt_inspect_config *options = NULL;
    unsigned activities = prof__ntff_activities(config);
    prof_status status = prof__ntff_config_check(config);
    if (!status && activities & PROF_NTFF_SYSTEM && PROF__LOAD(&prof__ntff_captures) & PROF__NTFF_SYS_TRACE)
        status = prof__fail(PROF_INVALID_STATE, "prof_ntff_session_begin: a system trace is open: one at a time");
    if (!status && activities & PROF_NTFF_DEVICE && PROF__LOAD(&prof__ntff_captures) & PROF__NTFF_CONTINUOUS)
        status = prof__fail(PROF_INVALID_STATE, "prof_ntff_session_begin: a continuous profile is open: one at a time");
    if (!status) status = prof_ntff_inspect_config_allocate(&options);
    if (!status && !options) status = prof__fail(PROF_NO_MEMORY, "nrt_inspect_config_allocate: no options");
    if (!status) status = prof__ntff_set_options(options, config);
    prof__ntff_session.began = prof__unix_time();
    prof__text_copy(prof__ntff_session.output_dir, PROF_NTFF_PATH, config->output_dir ? config->output_dir : "./output");
    prof__ntff_session.no_trace_json = config->no_trace_json;
    if (!status) status = prof_ntff_inspect_begin_with_options(options);
    if (!status)
        prof__ntff_captures_change((activities & PROF_NTFF_SYSTEM) * PROF__NTFF_WITH_SYSTEM |
                                       (activities & PROF_NTFF_DEVICE) / PROF_NTFF_DEVICE * PROF__NTFF_WITH_DEVICE, 0);
    prof__ntff_session.options = status ? NULL : options;
    if (status && options) {
        char why[256];
        prof__text_copy(why, sizeof why, prof_error());
        prof_ntff_inspect_config_free(options);
        prof__fail(status, "%s", why);
    }
    return status;
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
    prof__ntff_phase_set(&prof__ntff_session.phase, status ? PROF__NTFF_NONE : PROF__NTFF_OPEN);
    return status;
}

PROF_DEF prof_status prof_ntff_session_end(char *folder)
{
    char found[PROF_NTFF_PATH] = "", why[256];
    if (folder) *folder = 0;
    prof_status status = prof__ntff_phase(&prof__ntff_session.phase, PROF__NTFF_OPEN, "prof_ntff_session_end");
    if (status) return status;
    status = prof_ntff_inspect_stop();
    prof__text_copy(why, sizeof why, status ? prof_error() : "");
    prof_ntff_inspect_config_free(prof__ntff_session.options);
    prof__ntff_session.options = NULL;
    if (folder) memcpy(folder, found, sizeof found);
    prof__ntff_phase_set(&prof__ntff_session.phase, PROF__NTFF_NONE);
    return status ? prof__fail(status, "%s", why) : PROF_OK;
}

static int prof__ntff_is_open(const uint64_t *word)
{
    return PROF__ACQUIRE(word) == (prof__process_id() << 8 | PROF__NTFF_OPEN);
}

PROF_DEF int prof_ntff_session_active(void) { return prof__ntff_is_open(&prof__ntff_session.phase); }

/*-- continuous --*/

static struct {
    uint64_t phase, saves;
    struct nrt_profile_continuous_options *options;
    uint32_t vnc;
    int word; /* a save, or the end; phase was seen to be open, in this process, before it is waited for */
} prof__ntff_continuous;

static prof_status prof__ntff_continuous_on_save(void) { return prof_ntff_continuous_save(prof__ntff_continuous.vnc); }

PROF_DEF prof_status prof_ntff_continuous_begin(const prof_ntff_continuous *config)
{
    struct nrt_profile_continuous_options *options = NULL;
    const char *folder = config && config->output_dir ? config->output_dir : "./output";
    prof_status status = prof__ntff_phase(&prof__ntff_continuous.phase, PROF__NTFF_NONE, "prof_ntff_continuous_begin");
    if (status) return status;
    status = prof_ntff_profile_continuous_options_allocate(&options);
    if (!status && !options) status = prof__fail(PROF_NO_MEMORY, "nrt_profile_continuous_options_allocate: no options");
    if (!status) status = prof_ntff_profile_continuous_options_set_output_dir(options, folder);
    if (!status) status = prof_ntff_profile_continuous_start(options);
    if (status && options) {
        char why[256];
        prof__text_copy(why, sizeof why, prof_error());
        prof_ntff_profile_continuous_options_free(options);
        prof__fail(status, "%s", why);
    }
    prof__ntff_continuous.options = status ? NULL : options;
    prof__ntff_continuous.vnc = config ? config->vnc : 0;
    prof__ntff_phase_set(&prof__ntff_continuous.phase, status ? PROF__NTFF_NONE : PROF__NTFF_OPEN);
    if (!status && config && config->on_save) PROF__RELEASE(&prof__saved_hook, &prof__ntff_continuous_on_save);
    return status;
}

PROF_DEF prof_status prof_ntff_continuous_save(uint32_t vnc)
{
    prof_status status = PROF_OK;
    uint64_t phase = PROF__ACQUIRE(&prof__ntff_continuous.phase), process = prof__process_id();
    if (phase && phase >> 8 != process)
        return prof__fail(PROF_INVALID_STATE, "prof_ntff_continuous_save: it is process %u's, this is a child of its fork()",
                          (unsigned)(phase >> 8));
    if (!prof__ntff_is_open(&prof__ntff_continuous.phase))
        return prof__fail(PROF_INVALID_STATE, "prof_ntff_continuous_save: none was begun");
    prof__lock(&prof__ntff_continuous.word);
    if (prof__ntff_continuous.options)
        status = prof_ntff_profile_continuous_save(vnc, prof__ntff_continuous.options);
    else
        status = prof__fail(PROF_INVALID_STATE, "prof_ntff_continuous_save: it was ended meanwhile");
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
    prof_status status = prof__ntff_phase(&prof__ntff_continuous.phase, PROF__NTFF_OPEN, "prof_ntff_continuous_end");
    char why[256];
    if (status) return status;
    PROF__RELEASE(&prof__saved_hook, (prof_status(*)(void))NULL);
    prof__lock(&prof__ntff_continuous.word);
    status = prof_ntff_profile_continuous_stop();
    prof__text_copy(why, sizeof why, status ? prof_error() : "");
    prof_ntff_profile_continuous_options_free(prof__ntff_continuous.options);
    prof__ntff_continuous.options = NULL;
    prof__unlock(&prof__ntff_continuous.word);
    prof__ntff_phase_set(&prof__ntff_continuous.phase, PROF__NTFF_NONE);
    return status ? prof__fail(status, "%s", why) : PROF_OK;
}

PROF_DEF uint64_t prof_ntff_continuous_saves(void) { return PROF__LOAD(&prof__ntff_continuous.saves); }

/*-- SYSTEM TRACE ----------------------------------------------------------------------------------------- >>systrace --*/

#define PROF__NTFF_PIECE 16384u /* events of each core that are fetched at once: some 5 MB of JSON */

static struct {
    uint64_t phase;
    struct nrt_sys_trace_config *options;
    struct nrt_sys_trace_fetch_options *piece; /* null: the runtime has no such options, and gives all at once */
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
    if (!status && !target.trace) status = prof__fail(PROF_NO_MEMORY, "nrt_sys_trace_config_allocate: no options");
    if (!status) status = prof_ntff_sys_trace_config_set_defaults(target.trace);
    if (!status && config && config->max_events_per_nc)
        status = prof_ntff_sys_trace_config_set_max_events_per_nc(target.trace, config->max_events_per_nc);
    if (!status && config) status = prof__ntff_filter_ncs(&target, config->ncs);
    if (!status && config) status = prof__ntff_filter_types(&target, config->event_types);
    return status;
}

/* So that the JSON of a million events of each core is not in memory at once. */
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
    if (status) {
        char why[256];
        prof__text_copy(why, sizeof why, prof_error());
        if (prof__ntff_trace.parser) prof_ntff_parser_end(prof__ntff_trace.parser, NULL, NULL, NULL);
        prof__ntff_trace_free();
        prof__fail(status, "%s", why);
    }
    prof__ntff_phase_set(&prof__ntff_trace.phase, status ? PROF__NTFF_NONE : PROF__NTFF_OPEN);
    return status;
}

/* One piece; count: of its events. */
static prof_status prof__ntff_fetch_piece(prof_ntff_stats *stats, uint64_t *count)
{
    char *json = NULL;
    size_t size = 0;
    uint64_t before = stats->events;
    prof_status status = prof_ntff_sys_trace_fetch_events(&json, &size, prof__ntff_trace.piece);
    if (!status && json)
        status = prof_ntff_parse_systrace_json(prof__ntff_trace.parser, json, size, prof__ntff_trace.event,
                                               prof__ntff_trace.user, stats);
    if (json) {
        char why[256];
        unsigned nrt = prof__ntff_status;
        prof__text_copy(why, sizeof why, status ? prof_error() : "");
        prof_ntff_sys_trace_buffer_free(json);
        prof__ntff_status = nrt;
        if (status) prof__fail(status, "%s", why);
    }
    *count = stats->events - before;
    return status;
}

/* Until a piece is not full: what comes meanwhile may go on for ever. */
static prof_status prof__ntff_fetch(prof_ntff_stats *stats)
{
    prof_ntff_stats own;
    uint64_t count = 0;
    prof_status status;
    memset(&own, 0, sizeof own);
    PROFILE_SCOPE_CL("prof_ntff_systrace_fetch", "prof", 2);
    do status = prof__ntff_fetch_piece(stats ? stats : &own, &count);
    while (!status && prof__ntff_trace.piece && count >= PROF__NTFF_PIECE);
    return status;
}

PROF_DEF prof_status prof_ntff_systrace_fetch(prof_ntff_stats *stats)
{
    prof_status status = prof__ntff_phase(&prof__ntff_trace.phase, PROF__NTFF_OPEN, "prof_ntff_systrace_fetch");
    if (status) return status;
    status = prof__ntff_fetch(stats);
    prof__ntff_phase_set(&prof__ntff_trace.phase, PROF__NTFF_OPEN);
    return status;
}

PROF_DEF prof_status prof_ntff_systrace_stop(prof_ntff_stats *stats)
{
    char why[256];
    prof_status status = prof__ntff_phase(&prof__ntff_trace.phase, PROF__NTFF_OPEN, "prof_ntff_systrace_stop"), stopped;
    if (status) return status;
    status = prof__ntff_fetch(stats);
    prof__text_copy(why, sizeof why, status ? prof_error() : "");
    stopped = prof_ntff_sys_trace_stop();
    if (!status && stopped) prof__text_copy(why, sizeof why, prof_error());
    if (!status) status = stopped;
    prof_ntff_parser_end(prof__ntff_trace.parser, prof__ntff_trace.event, prof__ntff_trace.user, stats);
    prof__ntff_trace_free();
    prof__ntff_phase_set(&prof__ntff_trace.phase, PROF__NTFF_NONE);
    return status ? prof__fail(status, "%s", why) : PROF_OK;
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
