// html/api: Declarations.
#ifndef PROF__HTML_API_H
#define PROF__HTML_API_H
#include "api/reports.h"
#include "ground/base.h"

/* Options of a report. A structure of zeros has the defaults, with which the report has everything. */
typedef struct prof_html_options {
    const char *title; /* of the page; NULL: the program's name */
    int no_args;       /* 1: leaves out all arguments but the numbers of steps */
    const char *sources; /* a folder: the report has lines around the call sites of scopes, from files below it; NULL:
                            it has no source code */
} prof_html_options;

#ifdef PROF_HTML_LARGE
typedef struct prof_html_limits {
    uint64_t events;        /* a whole report has so many events at most; more make an outline; 0: 50 million */
    int64_t from_ns, to_ns; /* the window; both 0: the last events, half as many as `events`; to_ns 0: the end */
} prof_html_limits;
#endif

#if PROF_ENABLE
/* Write a report. path is that of prof_csv_write(). options may be NULL. These functions take some 2 MB of memory,
   however long the trace is, and return what failed, as prof_csv_write() does. */
PROF_DEF prof_status prof_html_write(const prof_trace *trace, const char *path, const prof_html_options *options);
PROF_DEF prof_status prof_html_stream(const prof_trace *trace, prof_sink sink, const prof_html_options *options);

/* Writes several traces as the processes of one report, on the time line of prof_trace_align(). If one had ended before
   another began, each begins at 0, so that they can be compared. */
PROF_DEF prof_status prof_html_merge(const prof_trace *const *traces, size_t count, const char *path,
                                     const prof_html_options *options);
#ifdef PROF_HTML_LARGE
/* Writes an outline, and all events of a window, if the traces have more events than a page can show or limits has a
   window; otherwise a whole report, as prof_html_merge() does. Its memory does not grow with the traces. limits may be
   NULL. */
PROF_DEF prof_status prof_html_outline(const prof_trace *const *traces, size_t count, const char *path,
                                       const prof_html_options *options, const prof_html_limits *limits);
#endif
#else
#define prof_html_write(trace, path, options) PROF__STRIPPED(PROF_OK, PROF__USE3(trace, path, options))
#define prof_html_stream(trace, sink, options) PROF__STRIPPED(PROF_OK, PROF__USE3(trace, sink, options))
#define prof_html_merge(traces, count, path, options) \
    PROF__STRIPPED(PROF_OK, (0 ? (void)(count) : PROF__USE3(traces, path, options)))
#define prof_html_outline(traces, count, path, options, limits) \
    PROF__STRIPPED(PROF_OK, (0 ? (void)(count), (void)(limits) : PROF__USE3(traces, path, options)))
#endif

#endif /* PROF__HTML_API_H */
