// layouts/api: Declarations.
#ifndef PROF__LAYOUTS_API_H
#define PROF__LAYOUTS_API_H
#include "api/macros.h"
#include "api/options.h"
#include "api/reports.h"
#include "api/types.h"
#include "api/values.h"
#include "api/writers.h"

typedef enum prof_report_layout {
    PROF_REPORT_SUMMARY = 0,
    PROF_REPORT_PATHS,
    PROF_REPORT_DOMAINS,
    PROF_REPORT_HISTOGRAM,
    PROF_REPORT_JSON,
    PROF_REPORT_MXNET,
    PROF_REPORT_CNTK,
    PROF_REPORT_CNTK_DETAIL,
    PROF_REPORT_LAYOUT_COUNT
} prof_report_layout;

typedef enum prof_report_kind {
    PROF_REPORT_TIME = 0,
    PROF_REPORT_THROUGHPUT,
    PROF_REPORT_SEPARATOR /* a line with only its label */
} prof_report_kind;

/* A row of PROF_REPORT_CNTK. */
typedef struct prof_report_event {
    const char *label;
    prof_report_kind kind;
    const char *name; /* the name of its scopes; NULL: the label */
} prof_report_event;

/* A structure of zeros has the defaults. */
typedef struct prof_report_options {
    prof_report_layout layout;
    prof_sort sort;
    int ascending;
    size_t top;                      /* SUMMARY, PATHS, HISTOGRAM: how many scopes are shown; 0: all */
    const prof_report_event *events; /* CNTK: the rows; NULL: CNTK's own */
    size_t event_count;
    int others;                      /* CNTK: 1: also rows for names that are not in events */
    int columns;                     /* SUMMARY, PATHS, DOMAINS, HISTOGRAM: like prof_summary_options.columns */
} prof_report_options;

#if PROF_ENABLE
/* Writes a report. path: as for prof_csv_write(). options may be NULL, here and below. */
PROF_DEF prof_status prof_report_write(const prof_trace *trace, const char *path, const prof_report_options *options);
PROF_DEF prof_status prof_report_stream(const prof_trace *trace, prof_sink sink, const prof_report_options *options);
/* Sets *text to a terminated string, which the caller frees with prof_report_free(), or to NULL after an error. Sets
   *size to its length; size may be NULL. */
PROF_DEF prof_status prof_report_text(const prof_trace *trace, const prof_report_options *options, char **text,
                                      size_t *size);
PROF_DEF void prof_report_free(char *text); /* text may be NULL */

/* Writes a report for each of several traces. If path has %p, the process id, each is a file of its own. Else all are
   in one file: each after a line "== PROGRAM, process ID ==", JSON as {"Processes": [...]}; this is not possible for
   CNTK_DETAIL. path may also have %n, the program, with _ for slashes (that of the first trace, if there is one file),
   and %%, a percent sign. A process id that comes twice is replaced by a number from 1000000000 on. */
PROF_DEF prof_status prof_report_each(const prof_trace *const *traces, size_t count, const char *path,
                                      const prof_report_options *options);
PROF_DEF prof_status prof_report_each_stream(const prof_trace *const *traces, size_t count, prof_sink sink,
                                             const prof_report_options *options);

/* Writes CNTK's two files to a folder (NULL: the present one), which is created with its parents if it does not exist.
   suffix: %r in it is the rank of the recording ("0" if it has none), %p the process id, %% a percent sign; NULL or "":
   the rank, or the process id if there is none. Never replaces a file. Of options, only events and others are used. */
PROF_DEF prof_status prof_report_cntk(const prof_trace *trace, const char *folder, const char *suffix,
                                      const prof_report_options *options);

/* Does what MXNet's dump(finished) does. 1: ends the session, which writes its output. 0: writes the output of what was
   recorded so far, and goes on; a .prof is always up to date. After prof_stop() writes the output again if it was
   removed, and returns PROF_OK. Returns PROF_INVALID_STATE if nothing was recorded, or the session has no output: see
   prof_save(). Any thread may call it. */
PROF_DEF prof_status prof_mxnet_dump(int finished);

/* Does what MXNet's pause() (1) and resume() (0) do: sets a flag, no matter how often. It is independent of
   prof_pause(), which counts. Without a session it returns PROF_OK, and has no effect on the next one: a session begins
   unpaused, as with set_state('run'). Any thread may call it. */
PROF_DEF prof_status prof_mxnet_set_paused(int paused);

/* Returns a report of the running session, or the last one, as MXNet's dumps() does: a text that the caller frees with
   prof_report_free(), or NULL after an error, see prof_error(). reset: see >>reset. Any thread may call it. */
PROF_DEF char *prof_mxnet_dumps(prof_report_layout layout, prof_sort sort, int ascending, int reset);
#else
#define prof_report_write(trace, path, options) PROF__STRIPPED(PROF_OK, PROF__USE3(trace, path, options))
#define prof_report_stream(trace, sink, options) PROF__STRIPPED(PROF_OK, PROF__USE3(trace, sink, options))
#define prof_report_text(trace, options, text, size) \
    PROF__STRIPPED((prof__stripped_none(size, sizeof(size_t)), prof__stripped_text(text), PROF_OK), \
                   PROF__USE2(trace, options))
#define prof_report_free(text) PROF__STRIPPED((void)0, PROF__USE(text))
#define prof_report_each(traces, count, path, options) \
    PROF__STRIPPED(PROF_OK, (0 ? (void)(count) : PROF__USE3(traces, path, options)))
#define prof_report_each_stream(traces, count, sink, options) \
    PROF__STRIPPED(PROF_OK, (0 ? (void)(count) : PROF__USE3(traces, sink, options)))
#define prof_report_cntk(trace, folder, suffix, options) \
    PROF__STRIPPED(PROF_OK, (0 ? (void)(folder) : PROF__USE3(trace, suffix, options)))
#define prof_mxnet_dump(finished) PROF__STRIPPED(PROF_OK, PROF__USE(finished))
#define prof_mxnet_set_paused(paused) PROF__STRIPPED(PROF_OK, PROF__USE(paused))
#define prof_mxnet_dumps(layout, sort, ascending, reset) \
    PROF__STRIPPED(prof__stripped_text(NULL), (0 ? (void)(layout) : PROF__USE3(sort, ascending, reset)))
#endif

#endif /* PROF__LAYOUTS_API_H */
