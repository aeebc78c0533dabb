// xplane/api: Declarations.
#ifndef PROF__XPLANE_API_H
#define PROF__XPLANE_API_H
#include "api/macros.h"
#include "api/options.h"
#include "api/types.h"
#include "api/values.h"
#include "api/writers.h"

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

#endif /* PROF__XPLANE_API_H */
