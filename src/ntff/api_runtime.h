// ntff/api_runtime: Declarations for the runtime's functions, sessions and the system trace.
#ifndef PROF__NTFF_API_RUNTIME_H
#define PROF__NTFF_API_RUNTIME_H
#include "ntff/api.h"

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

#endif /* PROF__NTFF_API_RUNTIME_H */
