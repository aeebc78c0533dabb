// chrome/api: Declarations.
#ifndef PROF__CHROME_API_H
#define PROF__CHROME_API_H
#include "api/macros.h"
#include "api/options.h"
#include "api/types.h"
#include "api/values.h"
#include "api/writers.h"

/* Where file and line of a call site are written. */
typedef enum prof_chrome_source {
    PROF_CHROME_SOURCE_LOC = 0, /* "loc" of the event: Tracy shows it, the others ignore it */
    PROF_CHROME_SOURCE_ARGS,    /* and the arguments "source" and "function": every viewer shows them, speedscope as
                                   part of the name */
    PROF_CHROME_SOURCE_NONE     /* left out: about a quarter less to write and to load */
} prof_chrome_source;

/* All zero is the default: everything but single allocations. */
typedef struct prof_chrome_options {
    uint64_t min_duration_ns; /* leaves out shorter scopes */
    int64_t from_ns, to_ns;   /* leaves out what lies outside; to_ns 0: no limit. What overlaps is written whole */
    prof_chrome_source source;
    int no_spans;             /* 1: leaves out spans, which Tracy shows as scopes of their thread */
    int no_args;              /* 1: leaves out the arguments of scopes, which speedscope makes part of their names */
    int allocations;          /* 1: writes each allocation and each free, as instants, and each change of live bytes;
                                 0: the curve of live bytes alone, in 5000 steps, with their peaks and lows */
    int tracy;                /* 1: for Tracy's importer: without spans, and the series of a counter has the counter's
                                 name, because Tracy would draw all counters without one as one plot */
} prof_chrome_options;

#if PROF_ENABLE
/* Writes a trace. path: as for prof_csv_write(). options may be NULL. Returns PROF_OK, or what failed. */
PROF_DEF prof_status prof_chrome_write(const prof_trace *trace, const char *path, const prof_chrome_options *options);
PROF_DEF prof_status prof_chrome_stream(const prof_trace *trace, prof_sink sink, const prof_chrome_options *options);

/* Writes several traces as the processes of one file, on the time line of prof_trace_align(): times, from_ns and to_ns
   count from the first start of all. A process id that comes twice is replaced by a number from 1000000000 on. The keys
   of otherData end in the process id. Spans, flows, counters and locks of two processes are never joined, whatever
   their ids, but for the flows of PROFILE_FLOW_OUT_SHARED. */
PROF_DEF prof_status prof_chrome_merge(const prof_trace *const *traces, size_t count, const char *path,
                                       const prof_chrome_options *options);
PROF_DEF prof_status prof_chrome_merge_stream(const prof_trace *const *traces, size_t count, prof_sink sink,
                                              const prof_chrome_options *options);
#else
#define prof_chrome_write(trace, path, options) PROF__STRIPPED(PROF_OK, PROF__USE3(trace, path, options))
#define prof_chrome_stream(trace, sink, options) PROF__STRIPPED(PROF_OK, PROF__USE3(trace, sink, options))
#define prof_chrome_merge(traces, count, path, options) \
    PROF__STRIPPED(PROF_OK, (0 ? (void)(count) : PROF__USE3(traces, path, options)))
#define prof_chrome_merge_stream(traces, count, sink, options) \
    PROF__STRIPPED(PROF_OK, (0 ? (void)(count) : PROF__USE3(traces, sink, options)))
#endif

#endif /* PROF__CHROME_API_H */
