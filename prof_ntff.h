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

/* X(result, name without nrt_, parameters, arguments, role): result: STATUS, an NRT_STATUS, VOID or TEXT. role: what it does
   to captures. nrt_inspect_export and nrt_inspect_config_set_device_profile_num_warmup are not here, because their
   prototypes are not published; nrta_* neither, because theirs change.
   set_inspect_device_profile_mode is in no public header, but in public code of AWS: mode 0 off, 1 model, 2 session.
   get_instance_output_dir is in neither, and the only one whose prototype rests on hearsay: nothing here calls it. */
#define PROF_NTFF_TABLE(X) \
    X(STATUS, profile_start, (struct nrt_model *model, const char *filename), (model, filename), 0) \
    X(STATUS, profile_stop, (const char *filename), (filename), 0) \
    X(STATUS, profile_continuous_options_allocate, (struct nrt_profile_continuous_options **options), (options), 0) \
    X(STATUS, profile_continuous_options_free, (struct nrt_profile_continuous_options *options), (options), 0) \
    X(STATUS, profile_continuous_options_set_output_dir, \
      (struct nrt_profile_continuous_options *options, const char *output_dir), (options, output_dir), 0) \
    X(STATUS, profile_continuous_start, (struct nrt_profile_continuous_options *options), (options), \
      PROF_NTFF_BEGINS_CONTINUOUS) \
    X(STATUS, profile_continuous_save, (uint32_t vnc, struct nrt_profile_continuous_options *options), (vnc, options), \
      PROF_NTFF_IN_CAPTURE) \
    X(STATUS, profile_continuous_stop, (void), (), PROF_NTFF_ENDS_CONTINUOUS) \
    X(STATUS, inspect_begin, (void), (), PROF_NTFF_BEGINS_INSPECT) \
    X(STATUS, inspect_stop, (void), (), PROF_NTFF_ENDS_INSPECT) \
    X(STATUS, inspect_config_allocate, (struct nrt_inspect_config **options), (options), 0) \
    X(STATUS, inspect_config_set_defaults, (struct nrt_inspect_config *options), (options), 0) \
    X(STATUS, inspect_config_free, (struct nrt_inspect_config *options), (options), 0) \
    X(STATUS, inspect_config_set_session_id, (struct nrt_inspect_config *options, int session_id), (options, session_id), 0) \
    X(STATUS, inspect_config_set_output_dir, (struct nrt_inspect_config *options, const char *output_dir), \
      (options, output_dir), 0) \
    X(STATUS, inspect_config_set_sys_trace_max_events_per_nc, \
      (struct nrt_inspect_config *options, uint64_t sys_trace_max_events_per_nc), (options, sys_trace_max_events_per_nc), 0) \
    X(STATUS, inspect_config_set_capture_enabled_for_nc, \
      (struct nrt_inspect_config *options, uint32_t nc_idx, prof_ntff_bool enabled), (options, nc_idx, enabled), 0) \
    X(STATUS, inspect_config_set_capture_enabled_for_event_type_string, \
      (struct nrt_inspect_config *options, const char *event_type, prof_ntff_bool enabled), \
      (options, event_type, enabled), 0) \
    X(STATUS, inspect_config_set_enable_inspect, (struct nrt_inspect_config *options, prof_ntff_bool enable_inspect), \
      (options, enable_inspect), 0) \
    X(STATUS, inspect_config_set_enable_inspect_on_fail, \
      (struct nrt_inspect_config *options, prof_ntff_bool enable_inspect_on_fail), (options, enable_inspect_on_fail), 0) \
    X(STATUS, inspect_begin_with_options, (struct nrt_inspect_config *options), (options), PROF_NTFF_BEGINS_OPTIONS) \
    X(STATUS, inspect_config_get_all_activity_types, (const char ***activity_types, size_t *count), \
      (activity_types, count), 0) \
    X(STATUS, inspect_config_get_enabled_activity_types, \
      (struct nrt_inspect_config *options, const char ***activity_types, size_t *count), \
      (options, activity_types, count), 0) \
    X(VOID, inspect_config_free_activity_types, (const char **activity_types, size_t count), (activity_types, count), 0) \
    X(STATUS, inspect_config_set_activity, \
      (struct nrt_inspect_config *options, const char *activity_type, prof_ntff_bool enabled), \
      (options, activity_type, enabled), 0) \
    X(STATUS, inspect_config_set_inspect_device_profile_mode, (struct nrt_inspect_config *options, unsigned mode), \
      (options, mode), 0) \
    X(STATUS, inspect_get_instance_output_dir, (const char *output_dir, char *instance_dir, size_t size), \
      (output_dir, instance_dir, size), 0) \
    X(STATUS, sys_trace_config_allocate, (struct nrt_sys_trace_config **options), (options), 0) \
    X(VOID, sys_trace_config_set_defaults, (struct nrt_sys_trace_config *options), (options), 0) \
    X(VOID, sys_trace_config_free, (struct nrt_sys_trace_config *options), (options), 0) \
    X(VOID, sys_trace_config_set_max_events_per_nc, (struct nrt_sys_trace_config *options, uint64_t max_events_per_nc), \
      (options, max_events_per_nc), 0) \
    X(VOID, sys_trace_config_set_capture_enabled_for_nc, \
      (struct nrt_sys_trace_config *options, uint32_t nc_idx, prof_ntff_bool enabled), (options, nc_idx, enabled), 0) \
    X(STATUS, sys_trace_config_set_capture_enabled_for_event_type, \
      (struct nrt_sys_trace_config *options, const char *event_type, prof_ntff_bool enabled), \
      (options, event_type, enabled), 0) \
    X(STATUS, sys_trace_get_event_types, (const char ***event_types, size_t *count), (event_types, count), 0) \
    X(VOID, sys_trace_free_event_types, (const char **event_types, size_t count), (event_types, count), 0) \
    X(STATUS, sys_trace_config_get_enabled_event_types, \
      (struct nrt_sys_trace_config *options, const char ***event_types, size_t *count), (options, event_types, count), 0) \
    X(STATUS, sys_trace_start, (struct nrt_sys_trace_config *options), (options), PROF_NTFF_BEGINS_SYS_TRACE) \
    X(STATUS, sys_trace_stop, (void), (), PROF_NTFF_ENDS_SYS_TRACE) \
    X(STATUS, sys_trace_fetch_options_allocate, (struct nrt_sys_trace_fetch_options **options), (options), 0) \
    X(VOID, sys_trace_fetch_options_set_defaults, (struct nrt_sys_trace_fetch_options *options), (options), 0) \
    X(VOID, sys_trace_fetch_options_free, (struct nrt_sys_trace_fetch_options *options), (options), 0) \
    X(VOID, sys_trace_fetch_options_set_max_events_per_nc, \
      (struct nrt_sys_trace_fetch_options *options, uint64_t max_events_per_nc), (options, max_events_per_nc), 0) \
    X(VOID, sys_trace_fetch_options_set_nc_idx, (struct nrt_sys_trace_fetch_options *options, uint64_t nc_idx), \
      (options, nc_idx), 0) \
    X(STATUS, sys_trace_fetch_events, \
      (char **buffer, size_t *written_size, const struct nrt_sys_trace_fetch_options *options), \
      (buffer, written_size, options), PROF_NTFF_IN_CAPTURE) \
    X(VOID, sys_trace_buffer_free, (char *buffer), (buffer), 0) \
    X(STATUS, trace_start, (prof_ntff_bool trace_mem), (trace_mem), PROF_NTFF_BEGINS_TRACE) \
    X(STATUS, trace_stop, (const char *filename), (filename), PROF_NTFF_ENDS_TRACE) \
    X(STATUS, debug_client_connect, (int logical_nc_idx, int *stream_fd), (logical_nc_idx, stream_fd), 0) \
    X(VOID, debug_client_connect_close, (int stream_fd), (stream_fd), 0) \
    X(STATUS, debug_client_read_one_event, \
      (int stream_fd, struct ndebug_stream_event_header *header, void **payload), (stream_fd, header, payload), 0) \
    X(STATUS, register_async_exec_callback, (prof_ntff_exec_callback callback, void *params), (callback, params), 0) \
    X(STATUS, async_drain_queued_execs, (int32_t vnc), (vnc), 0) \
    X(STATUS, get_model_info, \
      (const struct nrt_model *model, struct nrt_model_info *info, size_t info_size_in, size_t *info_size_out), \
      (model, info, info_size_in, info_size_out), 0) \
    X(STATUS, get_version, (struct nrt_version *version, size_t size), (version, size), 0) \
    X(STATUS, get_instance_info, (struct nrt_instance_info *info, size_t instance_info_len), (info, instance_info_len), 0) \
    X(STATUS, get_visible_vnc_count, (uint32_t *vnc_count), (vnc_count), 0) \
    X(STATUS, get_visible_nc_count, (uint32_t *vnc_count), (vnc_count), 0) \
    X(STATUS, get_total_vnc_count, (uint32_t *vnc_count), (vnc_count), 0) \
    X(STATUS, get_total_nc_count, (uint32_t *vnc_count), (vnc_count), 0) \
    X(STATUS, init, (unsigned framework, const char *fw_version, const char *fal_version), \
      (framework, fw_version, fal_version), PROF_NTFF_INITIALISES) \
    X(VOID, close, (void), (), PROF_NTFF_CLOSES) \
    X(TEXT, get_status_as_str, (PROF_NTFF_NRT_STATUS status), (status), 0)

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
#define PROF__NTFF_TYPE_STATUS prof_status
#define PROF__NTFF_TYPE_VOID prof_status
#define PROF__NTFF_TYPE_TEXT const char *
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

/*-- LOADER ------------------------------------------------------------------------------------------------- >>loader -- */

/*-- RUNTIME ----------------------------------------------------------------------------------------------- >>runtime -- */

/*-- SESSIONS --------------------------------------------------------------------------------------------- >>sessions -- */

/*-- SYSTEM TRACE ----------------------------------------------------------------------------------------- >>systrace -- */

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
