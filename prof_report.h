/* prof_report.h - prof's reports: those of other profilers, JSON, and text in memory - public domain
                   assembled from src/: change it there, see CONTRIBUTING.md
                   or MIT-0; needs prof.h and nothing else; the licence is at the end of this file

QUICK START

    #define PROF_IMPLEMENTATION            // in exactly one file of the program, C or C++
    #include "prof_report.h"               // includes prof.h

    int main(void)
    {
        prof_start(NULL);
        for (int i = 0; i < 100; ++i) { PROFILE_SCOPE_C("step", "train"); }
        char *text = prof_mxnet_dumps(PROF_REPORT_MXNET, PROF_SORT_TOTAL, 0, 0);
        if (text) puts(text);              // of the running session, at any time
        prof_report_free(text);
        return (int)prof_stop();
    }

For a recording, call prof_trace_open("trace.prof", &trace), then prof_report_write(trace, "report.txt", &options); or
run `prof summary --layout mxnet trace.prof`.

LAYOUTS                                                                                                    >>layouts

    SUMMARY     the table of prof_summary_write()
    PATHS       the same by call path, as a tree
    DOMAINS     a row for the scopes of each category, the domains of other profilers
    HISTOGRAM   for each scope, span and frame, how its durations are distributed
    JSON        the rows of scopes, spans, frames and counters with all their numbers, not rounded; the run; losses
    MXNET       the table of MXNet's profiler.dumps(format='table')
    CNTK        the summary of CNTK's performance profiler
    CNTK_DETAIL the list of events of CNTK's profiler, as CSV

    SUMMARY, PATHS, DOMAINS and HISTOGRAM fit into lines of options.columns characters or, if they are written to a
    terminal, into its lines: names are shortened in the middle, and columns left out, the least important first. The
    layouts of other systems are the same as those systems write.

    Rows are scopes and spans (whose begins and ends may be on different threads), frames, and counters. All call sites
    of the same name and category make one row; in CNTK, which has no categories, all of the same name. A scope, span or
    frame whose begin or end was not recorded adds no time; all layouts but MXNET and CNTK say how many there are.
    Scopes that overlap on one thread each have all of their time; the one that ends later has all of its time as self
    time, and the one that ends earlier loses none of its own. A task of prof_task_create() that starts and stops on one
    thread has the time without the tasks inside it. All other spans have all of their time as self time, because what
    is inside may be on any thread.
    Losses, if there are any, are after each report; JSON always has them, as "Losses". A report without such a line has
    all that was recorded. What was off, paused or removed by min_duration was not recorded, and is no loss. Control
    characters of names become question marks in text. In JSON, those below U+0020 become \u00XX, and invalid UTF-8
    becomes U+FFFD.

    prof_sort determines the order: MXNet's 'total', 'avg', 'min', 'max' and 'count' are PROF_SORT_TOTAL, _MEAN, _MIN,
    _MAX and _CALLS; counters are sorted by their last, mean, lowest and highest value. Equal rows are sorted by name,
    from Z to A, which is MXNet's order (PROF_SORT_NAME: from A to Z). CNTK's own rows are in the order of its table.

MXNET                                                                                                        >>mxnet

    The report has the same bytes as dumps() prints (src/profiler/aggregate_stats.cc): categories from A to Z, each with
    its table; times in milliseconds with four decimals, rounded like its floats. In the categories "Device Storage" and
    "Pool Memory" counters are memory: kB of 1000 bytes, without a total. "Device Storage" also has what PROFILE_ALLOC,
    PROFILE_FREE and PROFILE_REALLOC recorded: the live bytes of each pool after each change, as "Memory: POOL", and
    those without a pool as "Memory: cpu/0", as MXNet calls the host's memory. If a counter has such a name already, it
    is shown instead. PROF_STATS keeps no allocations, and so lacks these rows. Frames are in "<category>,frame", those
    without a category in "frame"; everything else without a category is in "event", where MXNet has its Event objects.
    PROF_REPORT_JSON contains dumps(format='json'): {"Time": {category: {name: {"Count", "Total", "Min", "Max",
    "Avg"}}}, "Memory": ..., "Unit": {"Time": "ms", "Memory": "kB"}}. If prof_system.h has recorded what threads did,
    scopes have it, too: "Running", "Ready", "Waiting" and "Unknown", which add up to the time of the outermost calls,
    "Switches" and "Migrations".

    These differ, because MXNet is wrong there: the average of a counter is the mean of its values, not (max - min) / 2;
    its minimum starts with the first value, not with 2147483647; counters other than memory are not divided by 1000:
    they have their own unit, and in JSON an object of their own, "Counter"; JSON has all digits, not four; times are
    rounded from nanoseconds, not from microseconds; names are not cut after 127 bytes; quotes in names do not break the
    JSON.

    MXNet's calls are here: dumps() is prof_mxnet_dumps(); dump() is prof_mxnet_dump(), also after prof_stop(); pause()
    and resume() are prof_mxnet_set_paused(1) and (0), a flag that may be set at any time.

CNTK                                                                                                          >>cntk

    The summary has the same bytes as ProfilerClose() writes (Source/PerformanceProfilerDll): the fixed events in their
    order, from scopes and spans whose names are exactly the labels, such as "_Minibatch Iteration".
    prof_report_options.events replaces that table. A row appears if something was measured; separators always appear. A
    throughput row is made of scopes that say how much data they moved (PROF_ROLE_THROUGHPUT, argument "bytes"): MB/s of
    10^6 bytes, mean over the scopes, and the sum in KiB or MiB, called kB and MB. options.others adds rows for all
    other names, under a line of their own.

    prof_report_cntk() writes both files under CNTK's names, <folder>/2017-05-12_08-13-20_summary_<suffix>.txt and
    ..._detail_<suffix>.csv. The time is that of the recording's end, which is in the summary, too. Like
    ProfilerClose(), prof_stop() writes them itself at the end of a recording with

        config.output = "profiler/"; config.layout = "cntk";  // PROF_OUTPUT=profiler/ PROF_LAYOUT=cntk ./program

    PROF_STATS has no events, so that only the summary is written. That is also so if output is a file ("profiler.txt"),
    which may have any other of these layouts as well.

    These differ, because CNTK is wrong there: 59.9999 s after a minute is 00:02:00.000, not 00:01:60.000; rates are
    computed with all digits, not from whole kB/s; no file is replaced: a second one of the same name gets the process
    id, and a number if needed; a suffix is never empty: the default is the rank, or the process id if no launcher has
    set a rank; quotes in the CSV are doubled (RFC 4180); its times are exact, while a double has 0.2 us of noise:
    milliseconds since 1970 with the six decimals of nanoseconds, and 00; losses are in both files, in the CSV as an
    event "(N events lost)". The CSV has scopes and spans in the order of their ends, like CNTK's.

SINCE THE LAST RESET                                                                                        >>reset

    After prof_mxnet_dumps(..., reset = 1), the next prof_mxnet_dumps() has only what ended after this one: each scope
    is in exactly one of them. Nothing is erased for prof_trace_open_live() and prof_stop(). In PROF_RING the buffer
    must hold what happens between two calls; what was overwritten is counted, but since the start of the session, like
    all losses. In PROF_STATS and PROF_RING_STATS the statistics themselves are reset: also those of
    prof_summary_write() and of an output .txt. They have no call paths, so that DOMAINS counts the time of scopes
    inside others of their category twice. CNTK_DETAIL fails with PROF_INVALID_ARGUMENT in PROF_STATS, and has all
    events of the ring in PROF_RING_STATS.

    A row of a device has the events that end after the last one of the previous report. An event that is reported late,
    after a report that has events that ended later, is in no report.
*/
#include "prof_read.h" /* outside of the include guard, because this may be the inclusion with PROF_IMPLEMENTATION */

#pragma pack(push, 16) /* as in prof.h */
#ifndef PROF_REPORT_H
#define PROF_REPORT_H

#ifdef __cplusplus
extern "C" {
#endif

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

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif /* PROF_REPORT_H */

/*== END OF HEADER ==================================================================================================*/

#if defined(PROF_IMPLEMENTATION) && PROF_ENABLE && !defined(PROF_FREESTANDING) && !defined(PROF__REPORT_IMPLEMENTED)
#define PROF__REPORT_IMPLEMENTED

#include <time.h>

#ifdef PROF__WRAPS_MALLOC /* so that prof's own allocations are not recorded as the program's */
#define malloc(size) __libc_malloc(size)
#define calloc(count, size) __libc_calloc(count, size)
#define realloc(at, size) __libc_realloc(at, size)
#define free(at) __libc_free(at)
#define qsort(at, count, size, order) prof__quiet_sort(at, count, size, order)
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* A row of a report: the sums of the scopes and spans of a name, of its frames, or of its counters. */
typedef struct prof__report_row {
    prof__stat_row sums; /* its `text` is the name, and owned */
    const char *category;
    double key;      /* the value that rows are sorted by */
    prof_sort sort;
    int ascending, listed; /* listed: 1: CNTK's table of events has it */
} prof__report_row;

typedef struct prof__report {
    const prof_trace *trace;
    prof_report_options options;
    prof__report_row *rows;
    size_t count, capacity;
    prof__read_index index;
    prof__out *out;
    uint64_t pid; /* the process id in the report */
} prof__report;

#define PROF__REPORT_LITERAL(out, literal) prof__out_bytes(out, literal, sizeof(literal) - 1)

static prof_status prof__report_no_memory(void)
{
    return prof__fail(PROF_NO_MEMORY, "no memory for the report");
}

/*-- parts that several layouts use --*/

/* Writes value / unit as "%*.*f" does, but alike in every locale. Rounds halves away from 0. Writes numbers from 9e15 /
   10^decimals on with an exponent. */
static void prof__report_fixed(prof__out *out, double value, double unit, unsigned decimals, size_t width)
{
    static const double scales[] = {1, 10, 100, 1000, 10000};
    char text[48];
    double scaled = (value < 0 ? -value : value) * scales[decimals] / unit + 0.5; /* adding 0.5 keeps a half exact */
    if (prof__finite(value) && scaled < 9e15) {
        text[0] = '-';
        prof__decimals(text + 1, (uint64_t)scaled, decimals);
        prof__out_right(out, text + !(value < 0), width);
    } else {
        prof__double_text(text, value / unit);
        prof__out_right(out, text, width);
    }
}

static int prof__report_lossy(const prof_trace_info *info)
{
    return info->lost || info->lost_args || info->overwritten_chunks || info->unmatched || info->sites_lost ||
           info->lost_blocks || info->write_failures;
}

/* Returns how many characters a line may have: see prof__out_columns(). Returns 0, no limit, for layouts of other
   systems. */
static size_t prof__report_limit(const prof__report *r)
{
    prof_report_layout layout = r->options.layout;
    return layout == PROF_REPORT_MXNET || layout == PROF_REPORT_CNTK ? 0
                                                                     : prof__out_columns(r->out, r->options.columns);
}

/* Writes the losses, if there are any. */
static void prof__report_losses(prof__report *r)
{
    if (prof__report_lossy(prof_trace_about(r->trace))) prof__summary_losses(r->out, r->trace, prof__report_limit(r));
}

/* Returns the Unix time at which the recording ended. */
static uint64_t prof__report_end_ns(const prof_trace *trace)
{
    const prof_trace_info *info = prof_trace_about(trace);
    return info->start_unix_ns + (uint64_t)info->duration_ns;
}

static void prof__report_time(const prof_trace *trace, const char *format, char *to, size_t size)
{
    struct tm here;
    if (!prof__local_time(prof__report_end_ns(trace) / 1000000000, &here) || !strftime(to, size, format, &here))
        to[0] = 0;
}

/*-- rows --*/

typedef struct prof__report_key {
    const char *name, *category;
    prof_event_type type;
} prof__report_key;

static int prof__report_same(const void *owner, size_t item, const void *key)
{
    const prof__report_row *row = (const prof__report_row *)owner + item;
    const prof__report_key *wanted = (const prof__report_key *)key;
    return row->sums.type == wanted->type && !strcmp(row->sums.stat.name, wanted->name) &&
           !strcmp(row->category, wanted->category);
}

/* Returns the row of a name and category. Adds it if it is new. Returns NULL without memory. */
static prof__report_row *prof__report_row_of(prof__report *r, prof_event_type type, const char *category,
                                             const char *name)
{
    prof__report_key key;
    uint32_t hash = prof__text_hash(name) + 31 * prof__text_hash(category) + (uint32_t)type;
    prof__report_row *row;
    size_t item;
    key.name = name;
    key.category = category;
    key.type = type;
    item = prof__read_find(&r->index, hash, prof__report_same, r->rows, &key);
    if (item != PROF__NONE) return &r->rows[item];
    if (!PROF__ROOM(r->rows, r->capacity, r->count)) return NULL;
    row = &r->rows[r->count];
    memset(row, 0, sizeof *row);
    row->sums.text = prof__text_join(name, "");
    if (!row->sums.text || !prof__read_add(&r->index, hash, r->count)) {
        free(row->sums.text);
        return NULL;
    }
    row->sums.stat.name = row->sums.text;
    row->sums.type = type;
    row->category = category;
    r->count++;
    return row;
}

/* Returns the category of a row. In MXNet's layouts, each category has a table, and rows without a category are in the
   table "event". So the category "event" counts as none there. */
static const char *prof__report_category(const prof__report *r, const prof_callsite *site, prof_event_type type)
{
    int by_domain = r->options.layout == PROF_REPORT_MXNET || r->options.layout == PROF_REPORT_JSON;
    if (r->options.layout == PROF_REPORT_CNTK) return "";
    return by_domain && type != PROF_EVENT_FRAME && !strcmp(site->category, "event") ? "" : site->category;
}

/* Returns 1 for call sites of prof itself, whose functions alone begin with prof_. The profilers of MXNet and CNTK
   leave themselves out, so the reports in their layouts leave out prof. */
static int prof__report_is_prof(const prof__report *r, const prof_callsite *site)
{
    int theirs = r->options.layout == PROF_REPORT_MXNET || r->options.layout == PROF_REPORT_JSON ||
                 r->options.layout == PROF_REPORT_CNTK || r->options.layout == PROF_REPORT_CNTK_DETAIL;
    return theirs && (!strncmp(site->function, "prof__", 6) ||
                      (!strcmp(site->category, "prof") && !strncmp(site->function, "prof_", 5)));
}

static prof_status prof__report_stat_rows(prof__report *r)
{
    prof__stat_rows all;
    prof_status status = prof__stat_rows_make(r->trace, 0, &all);
    size_t i;
    for (i = 0; i < all.count && status == PROF_OK; i++) {
        const prof__stat_row *from = &all.items[i];
        prof_event_type type = from->type == PROF_EVENT_SPAN_BEGIN ? PROF_EVENT_SCOPE : from->type;
        prof__report_row *row;
        if (!from->stat.count || prof__report_is_prof(r, from->stat.site)) continue;
        row = prof__report_row_of(r, type, prof__report_category(r, from->stat.site, type), from->stat.name);
        if (!row || !prof__stat_row_add(&row->sums, from)) status = prof__report_no_memory();
    }
    prof__stat_rows_free(&all);
    return status;
}

static int prof__report_after(const prof__report *r, size_t track, int64_t ns)
{
    return prof__trace_counts(r->trace, track, ns);
}

/*-- live bytes of pools, as in MXNet's table "Device Storage" --*/

enum { PROF__REPORT_POOL_NEW = 0, PROF__REPORT_POOL_TAKEN, PROF__REPORT_POOL_ROW }; /* TAKEN: the name is a counter's */

/* Adds a sample of a pool's live bytes. *state: one of the values above. Returns 0 without memory. */
static int prof__report_pool_sample(prof__report *r, const prof_memory_row *pool, int64_t ns, unsigned char *state)
{
    char *name = prof__text_join("Memory: ", *pool->pool ? pool->pool : "cpu/0");
    prof__report_row *row = name ? prof__report_row_of(r, PROF_EVENT_COUNTER, "Device Storage", name) : NULL;
    prof__stat_row sample;
    free(name);
    if (!row) return 0;
    if (*state == PROF__REPORT_POOL_NEW)
        *state = row->sums.stat.count ? PROF__REPORT_POOL_TAKEN : PROF__REPORT_POOL_ROW;
    if (*state == PROF__REPORT_POOL_TAKEN) return 1;
    memset(&sample, 0, sizeof sample);
    sample.type = PROF_EVENT_COUNTER;
    sample.stat.count = 1;
    sample.low = sample.high = sample.last = sample.mean = (double)pool->live_bytes;
    sample.to = ns;
    return prof__stat_row_add(&row->sums, &sample);
}

/* Adds a sample for each change of live bytes since the last reset. Returns 0 without memory. */
static int prof__report_pools_walk(prof__report *r, prof__heap *heap)
{
    unsigned char *states = NULL;
    size_t track, had = 0, capacity = 0;
    prof_event event;
    int good = 1;
    while (good && prof__heap_next(heap, &event, &track)) {
        if (!prof__heap_step(heap, &event, track) || heap->changed == PROF__NONE ||
            !prof__report_after(r, track, event.start_ns))
            continue;
        for (; good && had <= heap->changed; had++) {
            good = PROF__ROOM(states, capacity, had);
            if (good) states[had] = PROF__REPORT_POOL_NEW;
        }
        if (good)
            good = prof__report_pool_sample(r, &heap->rows[heap->changed].about, event.start_ns,
                                            &states[heap->changed]);
    }
    free(states);
    return good;
}

static prof_status prof__report_pools(prof__report *r)
{
    prof__heap heap;
    prof_status status;
    int good;
    if (r->options.layout != PROF_REPORT_MXNET && r->options.layout != PROF_REPORT_JSON) return PROF_OK;
    if (prof__trace_aggregated(r->trace) || !prof__has_role(r->trace, PROF_ROLE_MEMORY)) return PROF_OK;
    prof__heap_open(&heap, r->trace, NULL, NULL);
    good = prof__report_pools_walk(r, &heap);
    status = prof__heap_close(&heap);
    return good ? status : prof__report_no_memory();
}

/*-- making, sorting, freeing --*/

/* Returns the value that a row is sorted by. Times are in microseconds, because MXNet compares them with values of
   counters. NaN becomes a value below all others. */
static double prof__report_sort_key(const prof__report_row *row, prof_sort sort)
{
    const prof__stat_row *sums = &row->sums;
    double key, least = -1.7976931348623157e308;
    if (sums->type != PROF_EVENT_COUNTER)
        return prof__sort_key(&sums->stat, sort) / (sort == PROF_SORT_CALLS ? 1 : 1e3);
    switch ((int)sort) {
    case PROF_SORT_CALLS: return (double)sums->stat.count;
    case PROF_SORT_MEAN: key = sums->mean; break;
    case PROF_SORT_MIN: key = sums->low; break;
    case PROF_SORT_MAX:
    case PROF_SORT_P99: key = sums->high; break;
    case PROF_SORT_NAME: return 0;
    default: key = sums->last; break;
    }
    return prof__nan(key) ? least : key;
}

/* Returns the begin of the category's name in MXNet, and sets *more to the rest of it. */
static const char *prof__report_domain(const prof__report_row *row, const char **more)
{
    int frame = row->sums.type == PROF_EVENT_FRAME;
    *more = !frame ? "" : row->category[0] ? ",frame" : "frame";
    return row->category[0] || frame ? row->category : "event";
}

/* Compares two names, each of which has two parts: a followed by a2, and b followed by b2. */
static int prof__report_joined_order(const char *a, const char *a2, const char *b, const char *b2)
{
    for (;; a++, b++) {
        if (!*a && *a2) a = a2, a2 = "";
        if (!*b && *b2) b = b2, b2 = "";
        if (*a != *b || !*a) return (unsigned char)*a - (unsigned char)*b;
    }
}

static int prof__report_domain_order(const prof__report_row *x, const prof__report_row *y)
{
    const char *more_x, *more_y, *a = prof__report_domain(x, &more_x), *b = prof__report_domain(y, &more_y);
    return prof__report_joined_order(a, more_x, b, more_y);
}

/* Orders rows by key, and then by name. Ignores categories. */
static int prof__report_order(const void *a, const void *b)
{
    const prof__report_row *x = (const prof__report_row *)a, *y = (const prof__report_row *)b;
    int names = strcmp(x->sums.stat.name, y->sums.stat.name);
    if (x->key < y->key || x->key > y->key) return (x->key < y->key) == x->ascending ? -1 : 1;
    if (!names) names = prof__report_domain_order(x, y);
    if (!names) names = (int)x->sums.type - (int)y->sums.type;
    return x->sort == PROF_SORT_NAME ? names : -names;
}

static int prof__report_table_order(const void *a, const void *b)
{
    int domains = prof__report_domain_order((const prof__report_row *)a, (const prof__report_row *)b);
    return domains ? domains : prof__report_order(a, b);
}

static prof_status prof__report_rows(prof__report *r)
{
    prof_status status = prof__report_stat_rows(r);
    size_t i;
    if (status == PROF_OK) status = prof__report_pools(r);
    for (i = 0; i < r->count; i++) {
        prof__report_row *row = &r->rows[i];
        if (row->sums.type != PROF_EVENT_COUNTER) prof__stat_row_finish(&row->sums);
        row->key = prof__report_sort_key(row, r->options.sort);
        row->sort = r->options.sort;
        row->ascending = !!r->options.ascending;
    }
    return status;
}

static void prof__report_sort(prof__report *r, int (*order)(const void *, const void *))
{
    if (r->count) qsort(r->rows, r->count, sizeof *r->rows, order);
}

static void prof__report_clear(prof__report *r)
{
    size_t i;
    for (i = 0; i < r->count; i++) {
        free(r->rows[i].sums.text);
        free(r->rows[i].sums.histogram.steps);
    }
    free(r->rows);
    free(r->index.slots);
}

/* Returns how many calls of a row have a known duration. */
static uint64_t prof__report_measured(const prof__report_row *row)
{
    return row->sums.stat.count - row->sums.stat.truncated;
}

/*-- the layout of CNTK's summary --*/

/* The rows that CNTK's PerformanceProfiler.h lists. No row here moves bytes. */
static const prof_report_event prof__report_cntk_events[] = {
    {"Main Thread", PROF_REPORT_SEPARATOR, NULL},
    {"", PROF_REPORT_SEPARATOR, NULL},
    {"Epoch", PROF_REPORT_TIME, NULL},
    {"_Minibatch Iteration", PROF_REPORT_TIME, NULL},
    {"__Get Minibatch", PROF_REPORT_TIME, NULL},
    {"__Forward + Backward", PROF_REPORT_TIME, NULL},
    {"__Gradient Aggregation", PROF_REPORT_TIME, NULL},
    {"__Weight Update", PROF_REPORT_TIME, NULL},
    {"__Post Processing", PROF_REPORT_TIME, NULL},
    {"", PROF_REPORT_SEPARATOR, NULL},
    {"Data Reader", PROF_REPORT_SEPARATOR, NULL},
    {"", PROF_REPORT_SEPARATOR, NULL},
    {"Prefetch Minibatch", PROF_REPORT_TIME, NULL}};

/* Writes a time as CNTK does: "      136.605 ms" up to a minute, "    00:02:16.600" beyond. */
static void prof__report_cntk_time(prof__out *out, double ns)
{
    char text[64], part[24];
    uint64_t ms;
    size_t at = 0;
    if (ns < 60e9) {
        prof__report_fixed(out, ns, 1e6, 3, 13);
        PROF__REPORT_LITERAL(out, " ms");
        return;
    }
    ms = ns < 1.8e19 ? (uint64_t)(ns / 1e6 + 0.5) : (uint64_t)18000000000000;
    if (ms / 3600000 < 10) text[at++] = '0';
    at += prof__digits(text + at, ms / 3600000);
    prof__digits(part, 1000000000 + ms / 60000 % 60 * 10000000 + ms % 60000 * 100); /* 1 0MM SSsss 00 */
    text[at++] = ':';
    memcpy(text + at, part + 1, 2);
    at += 2;
    text[at++] = ':';
    memcpy(text + at, part + 3, 2);
    at += 2;
    text[at++] = '.';
    memcpy(text + at, part + 5, 3);
    text[at + 3] = 0;
    PROF__REPORT_LITERAL(out, "    ");
    prof__out_text(out, text);
}

static void prof__report_cntk_rate(prof__out *out, double megabytes)
{
    prof__report_fixed(out, megabytes, 1, 3, 11);
    PROF__REPORT_LITERAL(out, " MBps");
}

/* Writes a label, padded to at least 26 characters, and a space. */
static void prof__report_cntk_label(prof__out *out, const char *label)
{
    size_t length = prof__characters(label);
    prof__out_name(out, label, length > 26 ? length : 26);
    PROF__REPORT_LITERAL(out, ": ");
}

static void prof__report_cntk_count(prof__out *out, uint64_t count)
{
    char text[24];
    text[prof__digits(text, count)] = 0;
    prof__out_right(out, text, 16);
    PROF__REPORT_LITERAL(out, " ");
}

static void prof__report_cntk_time_row(prof__out *out, const char *label, const prof__report_row *row)
{
    const prof_stat *stat = &row->sums.stat;
    prof__report_cntk_label(out, label);
    prof__report_cntk_time(out, stat->mean_ns);
    PROF__REPORT_LITERAL(out, " ");
    prof__report_cntk_time(out, stat->deviation_ns);
    PROF__REPORT_LITERAL(out, " ");
    prof__report_cntk_time(out, (double)stat->min_ns);
    PROF__REPORT_LITERAL(out, " ");
    prof__report_cntk_time(out, (double)stat->max_ns);
    PROF__REPORT_LITERAL(out, " ");
    prof__report_cntk_count(out, prof__report_measured(row));
    prof__report_cntk_time(out, (double)stat->sum_ns);
    PROF__REPORT_LITERAL(out, "\n");
}

static void prof__report_cntk_rate_row(prof__out *out, const char *label, const prof__report_row *row)
{
    const prof_stat *stat = &row->sums.stat;
    int few = stat->bytes < 1048576;
    char text[24];
    prof__report_cntk_label(out, label);
    prof__report_cntk_rate(out, stat->mean_rate);
    PROF__REPORT_LITERAL(out, " ");
    prof__report_cntk_rate(out, stat->deviation_rate);
    PROF__REPORT_LITERAL(out, " ");
    prof__report_cntk_rate(out, stat->min_rate);
    PROF__REPORT_LITERAL(out, " ");
    prof__report_cntk_rate(out, stat->max_rate);
    PROF__REPORT_LITERAL(out, " ");
    prof__report_cntk_count(out, stat->rates);
    text[prof__digits(text, stat->bytes >> (few ? 10 : 20))] = 0;
    prof__out_right(out, text, 13);
    prof__out_text(out, few ? " kB\n" : " MB\n");
}

static void prof__report_cntk_row(prof__out *out, const char *label, prof_report_kind kind, const prof__report_row *row)
{
    if (kind == PROF_REPORT_THROUGHPUT && row->sums.stat.rates) prof__report_cntk_rate_row(out, label, row);
    if (kind == PROF_REPORT_TIME && prof__report_measured(row)) prof__report_cntk_time_row(out, label, row);
}

static void prof__report_cntk_event(prof__report *r, const prof_report_event *event)
{
    const char *name = event->name ? event->name : event->label;
    size_t i;
    if (event->kind == PROF_REPORT_SEPARATOR) {
        prof__out_clean(r->out, event->label);
        PROF__REPORT_LITERAL(r->out, "\n");
        return;
    }
    for (i = 0; i < r->count; i++) {
        if (r->rows[i].sums.type != PROF_EVENT_SCOPE || strcmp(r->rows[i].sums.stat.name, name)) continue;
        r->rows[i].listed = 1;
        prof__report_cntk_row(r->out, event->label, event->kind, &r->rows[i]);
    }
}

static void prof__report_cntk_others(prof__report *r)
{
    size_t i, count = 0;
    for (i = 0; i < r->count; i++) {
        const prof__report_row *row = &r->rows[i];
        if (row->listed || row->sums.type != PROF_EVENT_SCOPE || !prof__report_measured(row)) continue;
        if (!count++) PROF__REPORT_LITERAL(r->out, "\nOther Events\n\n");
        prof__report_cntk_row(r->out, row->sums.stat.name,
                              row->sums.stat.rates ? PROF_REPORT_THROUGHPUT : PROF_REPORT_TIME, row);
    }
}

static void prof__report_cntk(prof__report *r)
{
    const prof_report_event *events = r->options.events;
    size_t i, count = r->options.event_count;
    char time[48];
    if (!events) {
        events = prof__report_cntk_events;
        count = sizeof prof__report_cntk_events / sizeof *prof__report_cntk_events;
    }
    prof__report_sort(r, prof__report_order);
    prof__report_time(r->trace, "%Y/%m/%d %H:%M:%S", time, sizeof time);
    PROF__REPORT_LITERAL(r->out, "CNTK Performance Profiler Summary Report\n\nTime Stamp: ");
    prof__out_text(r->out, time);
    PROF__REPORT_LITERAL(r->out, "\n\nDescription................ ............Mean ..........StdDev .............Min "
                                 ".............Max ...........Count ...........Total\n\n");
    for (i = 0; i < count; i++) prof__report_cntk_event(r, &events[i]);
    if (r->options.others) prof__report_cntk_others(r);
    prof__report_losses(r);
}

/*-- the layout of CNTK's detail, a list of events --*/

/* A line that waits to be written, because lines are written in the order of their ends. */
typedef struct prof__report_line {
    int64_t start_ns, end_ns;
    uint64_t order; /* of two that end together, the inner one goes first: it began later, or was read later */
    const prof_callsite *site;
    char *text; /* owned: the name, if it was made at run time; else NULL */
    size_t track;
    uint32_t depth;
} prof__report_line;

typedef struct prof__report_lines {
    prof__report_line *heap; /* a heap: the line to write next is at index 0 */
    size_t count, capacity;
    uint64_t order, truncated, lost;
} prof__report_lines;

static int prof__report_line_before(const prof__report_line *a, const prof__report_line *b)
{
    if (a->end_ns != b->end_ns) return a->end_ns < b->end_ns;
    return a->start_ns != b->start_ns ? a->start_ns > b->start_ns : a->order > b->order;
}

static void prof__report_line_swap(prof__report_line *a, prof__report_line *b)
{
    prof__report_line swap = *a;
    *a = *b;
    *b = swap;
}

/* Adds a line. Takes ownership of `text`, also after a failure. Returns 0 without memory. */
static int prof__report_line_push(prof__report_lines *lines, const prof_callsite *site, uint32_t depth, size_t track,
                                  int64_t start_ns, int64_t end_ns, char *text)
{
    prof__report_line *line;
    size_t at;
    if (!PROF__ROOM(lines->heap, lines->capacity, lines->count)) {
        free(text);
        return 0;
    }
    line = &lines->heap[lines->count];
    line->start_ns = start_ns;
    line->end_ns = end_ns;
    line->order = lines->order++;
    line->site = site;
    line->text = text;
    line->track = track;
    line->depth = depth;
    for (at = lines->count++; at && prof__report_line_before(&lines->heap[at], &lines->heap[(at - 1) / 2]);
         at = (at - 1) / 2)
        prof__report_line_swap(&lines->heap[at], &lines->heap[(at - 1) / 2]);
    return 1;
}

static void prof__report_line_pop(prof__report_lines *lines)
{
    size_t at = 0, child;
    free(lines->heap[0].text);
    lines->heap[0] = lines->heap[--lines->count];
    while ((child = 2 * at + 1) < lines->count) {
        if (child + 1 < lines->count && prof__report_line_before(&lines->heap[child + 1], &lines->heap[child])) child++;
        if (!prof__report_line_before(&lines->heap[child], &lines->heap[at])) return;
        prof__report_line_swap(&lines->heap[child], &lines->heap[at]);
        at = child;
    }
}

/* Writes a time as milliseconds since 1970, with eight decimals. */
static void prof__report_detail_time(prof__out *out, const prof_trace *trace, int64_t ns)
{
    char text[40];
    size_t length = prof__decimals(text, prof_trace_about(trace)->start_unix_ns + (uint64_t)ns, 6);
    PROF__REPORT_LITERAL(out, ",");
    prof__out_bytes(out, text, length);
    PROF__REPORT_LITERAL(out, "00");
}

static void prof__report_detail_line(prof__report *r, const char *name, uint64_t thread, int64_t start_ns,
                                     int64_t end_ns)
{
    PROF__REPORT_LITERAL(r->out, "\"");
    prof__csv_quoted(r->out, name, "\"");
    PROF__REPORT_LITERAL(r->out, "\",");
    prof__out_unsigned(r->out, thread);
    prof__report_detail_time(r->out, r->trace, start_ns);
    prof__report_detail_time(r->out, r->trace, end_ns);
    PROF__REPORT_LITERAL(r->out, "\n");
}

/* Writes the lines that end before this event. event: NULL: writes all. */
static void prof__report_detail_due(prof__report *r, prof__report_lines *lines, const prof_event *event, size_t track)
{
    while (lines->count) {
        const prof__report_line *line = &lines->heap[0];
        if (event && line->end_ns > event->start_ns) return;
        if (event && line->end_ns == event->start_ns && line->track == track && line->depth < event->depth) return;
        prof__report_detail_line(r, line->text ? line->text : line->site->name,
                                 prof_trace_track(r->trace, line->track)->thread_id, line->start_ns, line->end_ns);
        prof__report_line_pop(lines);
    }
}

/* Returns a text such as "(5 events lost)", which the caller frees. Returns NULL without memory. */
static char *prof__report_loss_text(uint64_t count, const char *what)
{
    char text[80] = "(";
    size_t length = 1 + prof__digits(text + 1, count);
    snprintf(text + length, sizeof text - length, " %s)", what);
    return prof__text_join(text, "");
}

static int prof__report_detail_event(prof__report *r, prof__report_lines *lines, const prof_event *event, size_t track)
{
    int64_t end = event->start_ns + event->duration_ns;
    char *text = NULL;
    if ((event->type != PROF_EVENT_SCOPE && event->type != PROF_EVENT_LOST) || !prof__report_after(r, track, end) ||
        prof__report_is_prof(r, event->site))
        return 1;
    if (event->flags) {
        lines->truncated++;
        return 1;
    }
    if (event->type == PROF_EVENT_LOST) {
        lines->lost += event->value.as.u;
        text = prof__report_loss_text(event->value.as.u, "events lost");
    } else if (event->name != event->site->name) {
        text = prof__text_join(event->name, "");
    }
    if (!text && (event->type == PROF_EVENT_LOST || event->name != event->site->name)) return 0;
    return prof__report_line_push(lines, event->site, event->depth, track, event->start_ns, end, text);
}

/* Adds the spans that end up to this time. Spans come in the order of their ends; *span is the next one. Returns 0
   without memory. */
static int prof__report_detail_spans(prof__report *r, prof__report_lines *lines, prof_spans *spans, prof_span *span,
                                     int64_t until_ns)
{
    while (span->site && span->start_ns + span->duration_ns <= until_ns) {
        int64_t end = span->start_ns + span->duration_ns;
        int wanted = !span->mark && prof__report_after(r, span->end_track, end);
        char *text = NULL;
        if (wanted && span->flags) lines->truncated++;
        if (wanted && !span->flags) {
            if (span->name != span->site->name && !(text = prof__text_join(span->name, ""))) return 0;
            if (!prof__report_line_push(lines, span->site, 0, span->end_track, span->start_ns, end, text)) return 0;
        }
        prof_spans_next(spans, span); /* after the last span, *span is all zero */
    }
    return 1;
}

static void prof__report_detail_losses(prof__report *r, uint64_t truncated, uint64_t lost)
{
    const prof_trace_info *info = prof_trace_about(r->trace);
    struct {
        uint64_t count;
        const char *what;
    } losses[8];
    size_t i;
    losses[0].count = truncated;
    losses[0].what = "scopes or spans without begin or end";
    losses[1].count = info->lost > lost && !prof__trace_bounded(r->trace) ? info->lost - lost : 0;
    losses[1].what = "events lost";
    losses[2].count = info->overwritten_chunks;
    losses[2].what = "older chunks overwritten";
    losses[3].count = info->unmatched;
    losses[3].what = "ends or arguments without an open scope";
    losses[4].count = info->sites_lost;
    losses[4].what = "names that did not fit";
    losses[5].count = info->lost_blocks;
    losses[5].what = "parts of the file missing";
    losses[6].count = info->write_failures;
    losses[6].what = "writes failed while recording";
    losses[7].count = info->lost_args;
    losses[7].what = "arguments lost";
    for (i = 0; i < 8; i++) {
        char *text = losses[i].count ? prof__report_loss_text(losses[i].count, losses[i].what) : NULL;
        if (text) prof__report_detail_line(r, text, 0, info->duration_ns, info->duration_ns);
        free(text);
    }
}

static prof_status prof__report_detail(prof__report *r)
{
    prof_timeline *timeline = NULL;
    prof_spans *spans = NULL;
    prof__report_lines lines;
    prof_event event;
    prof_span span;
    size_t track = 0;
    int good = 1;
    prof_status more, status = prof_timeline_open(r->trace, &timeline);
    if (status == PROF_OK) status = prof_spans_open(r->trace, &spans);
    if (status != PROF_OK) {
        prof_timeline_close(timeline);
        return status;
    }
    memset(&lines, 0, sizeof lines);
    prof_spans_next(spans, &span);
    PROF__REPORT_LITERAL(r->out, "EventDescription,ThreadId,BeginTimeStamp(ms),EndTimeStamp(ms)\n");
    while (good && r->out->status == PROF_OK && prof_timeline_next(timeline, &event, &track)) {
        good = prof__report_detail_spans(r, &lines, spans, &span, event.start_ns);
        prof__report_detail_due(r, &lines, &event, track);
        good = good && prof__report_detail_event(r, &lines, &event, track);
    }
    good = good && prof__report_detail_spans(r, &lines, spans, &span, INT64_MAX);
    if (good) prof__report_detail_due(r, &lines, NULL, 0);
    while (lines.count) prof__report_line_pop(&lines);
    free(lines.heap);
    if (good) prof__report_detail_losses(r, lines.truncated, lines.lost);
    status = prof_timeline_close(timeline);
    more = prof_spans_close(spans);
    if (status == PROF_OK) status = more;
    return good ? status : prof__report_no_memory();
}

/*-- the layout by domain --*/

/* Links the call paths as a tree, and sets sums.place of each to the row of its category. */
static prof_status prof__report_domain_tree(prof__report *r, prof__stat_rows *all, size_t *root)
{
    size_t i;
    *root = PROF__NONE;
    for (i = 0; i < all->count; i++) all->items[i].child = all->items[i].sibling = PROF__NONE;
    for (i = all->count; i--;) {
        prof__stat_row *sums = &all->items[i];
        const prof__report_row *row;
        size_t *first = sums->stat.parent == PROF_NO_PARENT ? root : &all->items[sums->stat.parent].child;
        if (sums->type != PROF_EVENT_SCOPE) continue;
        row = prof__report_row_of(r, PROF_EVENT_SCOPE, "", sums->stat.site->category);
        if (!row) return prof__report_no_memory();
        sums->place = (size_t)(row - r->rows);
        sums->sibling = *first;
        *first = i;
    }
    return PROF_OK;
}

/* Adds a path to the sums of its category. inside: 1: a scope of that category is around it, and has the path's time
   already. */
static void prof__report_domain_add(prof_stat *to, const prof__stat_row *sums, int inside)
{
    const prof_stat *from = &sums->stat;
    to->count += from->count;
    to->truncated += from->truncated;
    to->self_ns = prof__stat_row_sum(to->self_ns, from->self_ns);
    if (!inside) to->total_ns = prof__stat_row_sum(to->total_ns, from->total_ns);
    if (to->count > to->truncated) to->mean_ns = (double)to->total_ns / (double)(to->count - to->truncated);
    if (to->max_ns < from->max_ns) to->max_ns = from->max_ns;
}

static prof_status prof__report_domain_totals(prof__report *r)
{
    prof__stat_rows all;
    prof_status status = prof__stat_rows_make(r->trace, !prof__stat_rows_aggregated(r->trace, 0), &all);
    size_t at = PROF__NONE;
    if (status == PROF_OK) status = prof__report_domain_tree(r, &all, &at);
    /* Visits the children of a path, then its siblings. In a category's row, sums.open counts the enclosing scopes of
       it. */
    while (status == PROF_OK && at != PROF__NONE) {
        const prof__stat_row *sums = &all.items[at];
        prof__stat_row *to = &r->rows[sums->place].sums;
        prof__report_domain_add(&to->stat, sums, to->open != 0);
        to->open += sums->stat.count > sums->stat.truncated;
        if (sums->child != PROF__NONE) {
            at = sums->child;
            continue;
        }
        for (;; at = sums->stat.parent) {
            sums = &all.items[at];
            r->rows[sums->place].sums.open -= sums->stat.count > sums->stat.truncated;
            if (sums->sibling != PROF__NONE || sums->stat.parent == PROF_NO_PARENT) break;
        }
        at = sums->sibling;
    }
    prof__stat_rows_free(&all);
    return status;
}

static void prof__report_domain_row(prof__table *t, const prof__report_row *row, double all)
{
    const prof_stat *stat = &row->sums.stat;
    prof__table_row(t, *stat->name ? stat->name : "(none)", 0);
    prof__table_count(t, stat->count);
    prof__table_ns(t, (double)stat->total_ns);
    prof__table_ns(t, (double)stat->self_ns);
    prof__table_percent(t, (double)stat->self_ns, all);
    prof__table_ns(t, (double)stat->max_ns);
    prof__table_count(t, stat->truncated);
    prof__table_end(t);
}

static prof_status prof__report_domains(prof__report *r)
{
    static const prof__column columns[] = {{"calls", 0, 0},   {"total", 4, 0},     {"self", 0, 0}, {"% of self", 3, 0},
                                           {"longest", 2, 0}, {"truncated", 1, 0}, {NULL, 0, 0}};
    prof_status status = prof__report_domain_totals(r);
    prof__table t;
    size_t i, shown = 0;
    double all = 0;
    for (i = 0; i < r->count; i++) {
        r->rows[i].key = prof__sort_key(&r->rows[i].sums.stat, r->options.sort);
        r->rows[i].sort = r->options.sort;
        r->rows[i].ascending = !!r->options.ascending;
        all += (double)r->rows[i].sums.stat.self_ns;
        shown += r->rows[i].sums.stat.count != 0;
    }
    prof__report_sort(r, prof__report_order);
    if (status == PROF_OK && !shown) PROF__REPORT_LITERAL(r->out, "no scopes\n");
    prof__table_begin(&t, r->out, prof__report_limit(r), "domain", columns, NULL, 0);
    do
        for (i = 0; i < r->count; i++)
            if (r->rows[i].sums.stat.count) prof__report_domain_row(&t, &r->rows[i], all);
    while (prof__table_again(&t));
    prof__report_losses(r);
    return status;
}

/*-- the layout of histograms --*/

#define PROF__REPORT_BAR ((size_t)40)         /* characters of the longest bar */
#define PROF__REPORT_BEFORE_BAR ((size_t)61)  /* how many characters come before a bar */
#define PROF__REPORT_BAR_LEAST ((size_t)10)

static void prof__report_bar(prof__out *out, uint64_t count, uint64_t max, size_t widest)
{
    double share = (double)count / (double)max * (double)widest;
    int length = (int)(share + 0.5), i;
    PROF__REPORT_LITERAL(out, "  |");
    for (i = 0; i < length; i++) PROF__REPORT_LITERAL(out, "#");
    if (count && !length) PROF__REPORT_LITERAL(out, ".");
    PROF__REPORT_LITERAL(out, "\n");
}

static void prof__report_percent(prof__out *out, double part, double whole, size_t width)
{
    char text[48] = "-";
    if (whole > 0) strcpy(text + prof__fixed(text, part / whole * 100, 1), " %");
    prof__out_right(out, text, width);
}

static void prof__report_bars(prof__out *out, const prof__stat_row *sums, uint64_t all, size_t limit)
{
    size_t widest =
        limit && limit < PROF__REPORT_BEFORE_BAR + PROF__REPORT_BAR ? PROF__REPORT_BAR_LEAST : PROF__REPORT_BAR;
    uint64_t powers[65], max = 0, seen = 0;
    unsigned i, first = 65, last = 0;
    if (widest < PROF__REPORT_BAR && limit > PROF__REPORT_BEFORE_BAR + widest) widest = limit - PROF__REPORT_BEFORE_BAR;
    prof__stat_row_powers(sums, powers);
    for (i = 0; i < 65; i++) {
        if (!powers[i]) continue;
        if (first == 65) first = i;
        last = i;
        if (powers[i] > max) max = powers[i];
    }
    for (i = first; i <= last && i < 65; i++) {
        seen += powers[i];
        prof__out_ns(out, i ? (double)((uint64_t)1 << (i - 1)) : 0, 12);
        prof__out_ns(out, i < 64 ? (double)((uint64_t)1 << i) : 18446744073709551616.0, 12);
        prof__out_count(out, powers[i], 14);
        prof__report_percent(out, (double)powers[i], (double)all, 10);
        prof__report_percent(out, (double)seen, (double)all, 10);
        prof__report_bar(out, powers[i], max, widest);
    }
}

static void prof__report_histogram(prof__out *out, const prof__report_row *row, size_t limit)
{
    const prof_stat *stat = &row->sums.stat;
    const char *more, *domain = prof__report_domain(row, &more);
    uint64_t all = prof__report_measured(row);
    char text[320], count[32], unknown[64] = "", total[48], mean[48], p50[48], p99[48];
    size_t length = prof__characters(stat->name), at;
    if (limit && length > limit / 2) length = limit / 2;
    at = length;
    PROF__REPORT_LITERAL(out, "\n");
    prof__out_name(out, stat->name, length);
    if (row->category[0] || *more) {
        PROF__REPORT_LITERAL(out, " [");
        prof__out_clean(out, domain);
        prof__out_text(out, more);
        PROF__REPORT_LITERAL(out, "]");
        at += prof__characters(domain) + strlen(more) + 3;
    }
    prof__grouped(count, stat->truncated);
    if (stat->truncated) snprintf(unknown, sizeof unknown, " and %s of unknown begin or end", count);
    prof__grouped(count, all);
    prof__human_ns(total, (double)stat->total_ns);
    prof__human_ns(mean, stat->mean_ns);
    prof__human_ns(p50, (double)stat->p50_ns);
    prof__human_ns(p99, (double)stat->p99_ns);
    snprintf(text, sizeof text, ": %s %s%s%s", count, row->sums.type == PROF_EVENT_FRAME ? "frame" : "call",
             all == 1 ? "" : "s", unknown);
    if (all)
        snprintf(text + strlen(text), sizeof text - strlen(text), ", total %s, mean %s, p50 %s, p99 %s", total, mean,
                 p50, p99);
    prof__out_wrapped(out, text, at, 4, limit);
    PROF__REPORT_LITERAL(out, "\n");
    if (!all) return;
    PROF__REPORT_LITERAL(out, "        from       below         count     share    so far\n");
    prof__report_bars(out, &row->sums, all, limit);
}

static void prof__report_histograms(prof__report *r)
{
    size_t i, shown = 0;
    prof__report_sort(r, prof__report_order);
    for (i = 0; i < r->count; i++) {
        if (r->rows[i].sums.type == PROF_EVENT_COUNTER || !r->rows[i].sums.stat.count) continue;
        if (r->options.top && shown == r->options.top) break;
        prof__report_histogram(r->out, &r->rows[i], prof__report_limit(r));
        shown++;
    }
    if (!shown) PROF__REPORT_LITERAL(r->out, "\nno scopes\n");
    prof__report_losses(r);
}

/*-- the layout of MXNet's table --*/

static int prof__report_memory(const prof__report_row *row)
{
    return row->sums.type == PROF_EVENT_COUNTER &&
           (!strcmp(row->category, "Device Storage") || !strcmp(row->category, "Pool Memory"));
}

static void prof__report_mxnet_head(prof__out *out, const prof__report_row *row, int memory)
{
    const char *more, *domain = prof__report_domain(row, &more);
    prof__out_clean(out, domain);
    prof__out_text(out, more);
    PROF__REPORT_LITERAL(out, "\n=================\n");
    if (memory)
        PROF__REPORT_LITERAL(
            out, "Name                          Total Count    Min Use  (kB)    Max Use  (kB)    Avg Use  (kB)\n"
                 "----                          -----------    -------------    -------------    -------------\n");
    else
        PROF__REPORT_LITERAL(out, "Name                          Total Count        Time (ms)    Min Time (ms)    Max "
                                  "Time (ms)    Avg Time (ms)\n"
                                  "----                          -----------        ---------    -------------    "
                                  "-------------    -------------\n");
}

/* Writes a float as "%16.4f" does, but alike in every locale. MXNet's numbers are floats. A float times 10^4 is exact
   as a double, so exact halves are recognised, and rounded to even. */
static void prof__report_mxnet_float(prof__out *out, float value)
{
    char text[48];
    double scaled = (value < 0 ? -(double)value : (double)value) * 10000, rest;
    uint64_t whole;
    PROF__REPORT_LITERAL(out, " ");
    if (!prof__finite(value) || !(scaled < 9e15)) {
        prof__double_text(text, (double)value);
        prof__out_right(out, text, 16);
        return;
    }
    whole = (uint64_t)scaled;
    rest = scaled - (double)whole;
    if (rest > 0.5 || (!(rest < 0.5) && whole % 2)) whole++;
    text[0] = '-';
    prof__decimals(text + 1, whole, 4);
    prof__out_right(out, text + !(value < 0), 16);
}

/* Writes a number of MXNet's table. unit: 1: a counter, written with all its digits; 1e6: a time in ns; 1e3: bytes. */
static void prof__report_mxnet_number(prof__out *out, double value, double unit)
{
    if (unit < 1e3) {
        PROF__REPORT_LITERAL(out, " ");
        prof__report_fixed(out, value, unit, 4, 16);
    } else {
        prof__report_mxnet_float(out, (float)(unit > 1e3 ? value / 1e3 / 1e3 : value / 1e3)); /* in whole us first */
    }
}

static void prof__report_mxnet_row(prof__out *out, const prof__report_row *row)
{
    const prof__stat_row *sums = &row->sums;
    size_t length = prof__characters(sums->stat.name);
    int memory = prof__report_memory(row), counter = sums->type == PROF_EVENT_COUNTER;
    double unit = memory ? 1e3 : counter ? 1 : 1e6;
    char count[24];
    prof__out_name(out, sums->stat.name, length > 25 ? length : 25);
    count[prof__digits(count, prof__report_measured(row))] = 0;
    prof__out_right(out, count, 16);
    if (!memory) prof__report_mxnet_number(out, counter ? sums->last : (double)sums->stat.sum_ns, unit);
    prof__report_mxnet_number(out, counter ? sums->low : (double)sums->stat.min_ns, unit);
    prof__report_mxnet_number(out, counter ? sums->high : (double)sums->stat.max_ns, unit);
    prof__report_mxnet_number(out, counter ? sums->mean : sums->stat.mean_ns, unit);
    PROF__REPORT_LITERAL(out, "\n");
}

/* Writes the rows of one category: those about memory, or the others. */
static void prof__report_mxnet_table(prof__report *r, size_t from, size_t to, int memory)
{
    size_t i, count = 0;
    for (i = from; i < to; i++) {
        if (!prof__report_measured(&r->rows[i]) || prof__report_memory(&r->rows[i]) != memory) continue;
        if (!count++) prof__report_mxnet_head(r->out, &r->rows[i], memory);
        prof__report_mxnet_row(r->out, &r->rows[i]);
    }
    if (count) PROF__REPORT_LITERAL(r->out, "\n");
}

/* Returns the index of the first row of the next category. */
static size_t prof__report_next_domain(const prof__report *r, size_t from)
{
    size_t to = from;
    while (to < r->count && !prof__report_domain_order(&r->rows[from], &r->rows[to])) to++;
    return to;
}

static void prof__report_mxnet(prof__report *r)
{
    size_t from, to;
    prof__report_sort(r, prof__report_table_order);
    PROF__REPORT_LITERAL(r->out, "\nProfile Statistics:\n\tNote the difference in units for different entries.\n");
    for (from = 0; from < r->count; from = to) {
        to = prof__report_next_domain(r, from);
        prof__report_mxnet_table(r, from, to, 1);
        prof__report_mxnet_table(r, from, to, 0);
    }
    prof__report_losses(r);
}

/*-- the JSON layout --*/

static void prof__report_string(prof__out *out, const char *text)
{
    PROF__REPORT_LITERAL(out, "\"");
    prof__out_json(out, text);
    PROF__REPORT_LITERAL(out, "\"");
}

static void prof__report_key_text(prof__out *out, const char *key)
{
    PROF__REPORT_LITERAL(out, ",\"");
    prof__out_text(out, key);
    PROF__REPORT_LITERAL(out, "\":");
}

/* Writes a key and a time in milliseconds, with all digits of the time. */
static void prof__report_ms(prof__out *out, const char *key, uint64_t ns)
{
    char text[32];
    size_t length = prof__decimals(text, ns, 6);
    while (text[length - 1] == '0') length--;
    if (text[length - 1] == '.') length--;
    prof__report_key_text(out, key);
    prof__out_bytes(out, text, length);
}

static void prof__report_double(prof__out *out, const char *key, double value)
{
    prof__report_key_text(out, key);
    if (prof__finite(value))
        prof__out_double(out, value);
    else
        PROF__REPORT_LITERAL(out, "null"); /* JSON has no infinity */
}

static void prof__report_whole(prof__out *out, const char *key, uint64_t value)
{
    prof__report_key_text(out, key);
    prof__out_unsigned(out, value);
}

static void prof__report_json_times(prof__out *out, const prof__report_row *row)
{
    const prof_stat *stat = &row->sums.stat;
    if (prof__report_measured(row)) {
        prof__report_ms(out, "Total", stat->sum_ns);
        prof__report_ms(out, "Min", stat->min_ns);
        prof__report_ms(out, "Max", stat->max_ns);
        prof__report_double(out, "Avg", stat->mean_ns / 1e6);
        prof__report_double(out, "StdDev", stat->deviation_ns / 1e6);
        if (row->sums.type == PROF_EVENT_SCOPE) prof__report_ms(out, "Self", stat->self_ns);
        prof__report_ms(out, "P50", stat->p50_ns);
        prof__report_ms(out, "P90", stat->p90_ns);
        prof__report_ms(out, "P99", stat->p99_ns);
        prof__report_ms(out, "P99.9", stat->p999_ns);
    }
    if (row->sums.type == PROF_EVENT_SCOPE && stat->unknown_ns < stat->total_ns) {
        prof__report_ms(out, "Running", stat->running_ns);
        prof__report_ms(out, "Ready", stat->ready_ns);
        prof__report_ms(out, "Waiting", stat->waiting_ns);
        prof__report_ms(out, "Unknown", stat->unknown_ns);
        prof__report_whole(out, "Switches", stat->switches);
        prof__report_whole(out, "Migrations", stat->migrations);
    }
    if (stat->truncated) prof__report_whole(out, "Truncated", stat->truncated);
    if (stat->bytes || stat->rates) prof__report_whole(out, "Bytes", stat->bytes);
    if (!stat->rates) return;
    prof__report_double(out, "AvgMBps", stat->mean_rate);
    prof__report_double(out, "MinMBps", stat->min_rate);
    prof__report_double(out, "MaxMBps", stat->max_rate);
    prof__report_double(out, "StdDevMBps", stat->deviation_rate);
}

static void prof__report_json_values(prof__out *out, const prof__report_row *row)
{
    const prof__stat_row *sums = &row->sums;
    double scale = prof__report_memory(row) ? 1e3 : 1;
    prof__report_double(out, "Min", sums->low / scale);
    prof__report_double(out, "Max", sums->high / scale);
    prof__report_double(out, "Avg", sums->mean / scale);
    prof__report_double(out, "Last", sums->last / scale);
    prof__report_double(out, "StdDev", prof__square_root(sums->squares / (double)sums->stat.count) / scale);
}

static void prof__report_json_row(prof__out *out, const prof__report_row *row)
{
    prof__report_string(out, row->sums.stat.name);
    PROF__REPORT_LITERAL(out, ":{\"Count\":");
    prof__out_unsigned(out, prof__report_measured(row));
    if (row->sums.type == PROF_EVENT_COUNTER)
        prof__report_json_values(out, row);
    else
        prof__report_json_times(out, row);
    PROF__REPORT_LITERAL(out, "}");
}

static const char *prof__report_section(const prof__report_row *row)
{
    return prof__report_memory(row) ? "Memory" : row->sums.type == PROF_EVENT_COUNTER ? "Counter" : "Time";
}

/* Writes a section, "Time":{category:{name:{...}}}, and a comma. */
static void prof__report_json_section(prof__report *r, const char *section)
{
    size_t from, to, i, domains = 0;
    prof__report_string(r->out, section);
    PROF__REPORT_LITERAL(r->out, ":{");
    for (from = 0; from < r->count; from = to) {
        size_t rows = 0;
        to = prof__report_next_domain(r, from);
        for (i = from; i < to; i++) {
            const char *more, *domain = prof__report_domain(&r->rows[i], &more);
            if (strcmp(prof__report_section(&r->rows[i]), section) || !r->rows[i].sums.stat.count) continue;
            if (!rows++) {
                prof__out_text(r->out, domains++ ? ",\n\"" : "\n\"");
                prof__out_json(r->out, domain);
                prof__out_json(r->out, more);
                PROF__REPORT_LITERAL(r->out, "\":{\n");
            } else {
                PROF__REPORT_LITERAL(r->out, ",\n");
            }
            prof__report_json_row(r->out, &r->rows[i]);
        }
        if (rows) PROF__REPORT_LITERAL(r->out, "}");
    }
    PROF__REPORT_LITERAL(r->out, "},\n");
}

static void prof__report_json(prof__report *r)
{
    const prof_trace_info *info = prof_trace_about(r->trace);
    prof__out *out = r->out;
    prof__report_sort(r, prof__report_table_order);
    PROF__REPORT_LITERAL(out, "{");
    prof__report_json_section(r, "Time");
    prof__report_json_section(r, "Memory");
    prof__report_json_section(r, "Counter");
    PROF__REPORT_LITERAL(out, "\"Unit\":{\"Time\":\"ms\",\"Memory\":\"kB\"},\n\"Process\":{\"Program\":");
    prof__report_string(out, info->program);
    prof__report_whole(out, "Pid", r->pid);
    prof__report_whole(out, "StartUnixNs", info->start_unix_ns);
    prof__report_ms(out, "Duration", (uint64_t)info->duration_ns);
    prof__out_text(out, info->complete ? ",\"Complete\":true},\n" : ",\"Complete\":false},\n");
    PROF__REPORT_LITERAL(out, "\"Losses\":{\"Events\":");
    prof__out_unsigned(out, info->lost);
    prof__report_whole(out, "Arguments", info->lost_args);
    prof__report_whole(out, "InHandlers", info->lost_busy);
    prof__report_whole(out, "OverwrittenChunks", info->overwritten_chunks);
    prof__report_whole(out, "UnmatchedEnds", info->unmatched);
    prof__report_whole(out, "CallSites", info->sites_lost);
    prof__report_whole(out, "MissingParts", info->lost_blocks);
    prof__report_whole(out, "FailedWrites", info->write_failures);
    PROF__REPORT_LITERAL(out, "}}");
}

/*-- a report --*/

static prof_status prof__report_check(const prof_report_options *options)
{
    size_t i;
    if (!options) return PROF_OK;
    if ((unsigned)options->layout >= PROF_REPORT_LAYOUT_COUNT)
        return prof__fail(PROF_INVALID_ARGUMENT, "prof_report: layout %d is not one of prof_report_layout",
                          (int)options->layout);
    if ((unsigned)options->sort > PROF_SORT_NAME)
        return prof__fail(PROF_INVALID_ARGUMENT, "prof_report: sort %d is not one of prof_sort", (int)options->sort);
    if (!options->events && options->event_count)
        return prof__fail(PROF_INVALID_ARGUMENT, "prof_report: events is null, but event_count is not 0");
    for (i = 0; i < options->event_count; i++)
        if (!options->events[i].label || (unsigned)options->events[i].kind > PROF_REPORT_SEPARATOR)
            return prof__fail(PROF_INVALID_ARGUMENT, "prof_report: events[%lu] has no label or no valid kind",
                              (unsigned long)i);
    return PROF_OK;
}

/* Returns PROF_OK if the trace has what the layout shows. CNTK_DETAIL lists events, and PROF_STATS keeps none. */
static prof_status prof__report_fits(const prof_trace *trace, const prof_report_options *options)
{
    if (!options || options->layout != PROF_REPORT_CNTK_DETAIL || prof_trace_about(trace)->mode != PROF_STATS)
        return PROF_OK;
    return prof__fail(PROF_INVALID_ARGUMENT, "prof_report: CNTK's detail needs events, and mode stats keeps none");
}

static void prof__report_own(prof__report *r)
{
    prof_summary_options options;
    options.sort = r->options.sort;
    options.ascending = r->options.ascending;
    options.top = r->options.top;
    options.by_path = r->options.layout == PROF_REPORT_PATHS;
    options.columns = r->options.columns;
    prof__summary(r->trace, r->out, &options);
}

static prof_status prof__report_put(prof__report *r)
{
    prof_status status;
    switch ((int)r->options.layout) {
    case PROF_REPORT_SUMMARY:
    case PROF_REPORT_PATHS: prof__report_own(r); return PROF_OK;
    case PROF_REPORT_DOMAINS: return prof__report_domains(r);
    case PROF_REPORT_CNTK_DETAIL: return prof__report_detail(r);
    default: break;
    }
    status = prof__report_rows(r);
    if (status != PROF_OK) return status;
    switch ((int)r->options.layout) {
    case PROF_REPORT_MXNET: prof__report_mxnet(r); break;
    case PROF_REPORT_CNTK: prof__report_cntk(r); break;
    case PROF_REPORT_HISTOGRAM: prof__report_histograms(r); break;
    default: prof__report_json(r); break;
    }
    return PROF_OK;
}

/* Writes the report of one trace. options: NULL, or values that were checked. */
static void prof__report_one(const prof_trace *trace, uint64_t pid, prof__out *out, const prof_report_options *options)
{
    prof__report r;
    prof_status status;
    memset(&r, 0, sizeof r);
    r.trace = trace;
    r.pid = pid;
    r.out = out;
    if (options) r.options = *options;
    status = prof__report_put(&r);
    if (status != PROF_OK) prof__out_fail(out, status);
    prof__report_clear(&r);
}

/* Writes the report of one trace, and closes the output. */
static prof_status prof__report_close(const prof_trace *trace, uint64_t pid, prof__out *out,
                                      const prof_report_options *options)
{
    prof__report_one(trace, pid, out, options);
    if (options && options->layout == PROF_REPORT_JSON) PROF__REPORT_LITERAL(out, "\n");
    return prof__out_close(out);
}

PROF_DEF prof_status prof_report_write(const prof_trace *trace, const char *path, const prof_report_options *options)
{
    PROF__CALM();
    prof__out out;
    prof_status status = prof__report_check(options);
    if (!trace) return prof__fail(PROF_INVALID_ARGUMENT, "prof_report_write: trace is null");
    if (status == PROF_OK) status = prof__report_fits(trace, options);
    if (status == PROF_OK) status = prof__out_file(&out, path);
    return status == PROF_OK ? prof__report_close(trace, prof_trace_about(trace)->pid, &out, options) : status;
}

PROF_DEF prof_status prof_report_stream(const prof_trace *trace, prof_sink sink, const prof_report_options *options)
{
    PROF__CALM();
    prof__out out;
    prof_status status = prof__report_check(options);
    if (!trace) return prof__fail(PROF_INVALID_ARGUMENT, "prof_report_stream: trace is null");
    if (status == PROF_OK) status = prof__report_fits(trace, options);
    if (status != PROF_OK) return status;
    prof__out_sink(&out, sink);
    return prof__report_close(trace, prof_trace_about(trace)->pid, &out, options);
}

typedef struct prof__report_buffer {
    char *text;
    size_t size, capacity;
} prof__report_buffer;

static int prof__report_buffer_write(void *user, const void *data, size_t size)
{
    prof__report_buffer *buffer = (prof__report_buffer *)user;
    if (size >= buffer->capacity - buffer->size) {
        size_t wanted = buffer->capacity * 2 + size + 256;
        char *text = wanted > size ? (char *)realloc(buffer->text, wanted) : NULL;
        if (!text) return 1;
        buffer->text = text;
        buffer->capacity = wanted;
    }
    memcpy(buffer->text + buffer->size, data, size);
    buffer->size += size;
    buffer->text[buffer->size] = 0;
    return 0;
}

PROF_DEF prof_status prof_report_text(const prof_trace *trace, const prof_report_options *options, char **text,
                                      size_t *size)
{
    PROF__CALM();
    prof__report_buffer buffer = {NULL, 0, 0};
    prof_sink sink;
    prof_status status;
    if (!text) return prof__fail(PROF_INVALID_ARGUMENT, "prof_report_text: text is null");
    *text = NULL;
    if (size) *size = 0;
    sink.write = prof__report_buffer_write;
    sink.user = &buffer;
    status = prof_report_stream(trace, sink, options);
    if (status == PROF_IO) status = prof__report_no_memory(); /* a sink in memory fails for no other reason */
    if (status == PROF_OK) {
        *text = buffer.text;
        if (size) *size = buffer.size;
    } else {
        free(buffer.text);
    }
    return status;
}

PROF_DEF void prof_report_free(char *text)
{
    free(text);
}

/*-- several processes --*/

/* Returns the process id that the report shows for trace `which`: its own, unless an earlier trace has that. */
static uint64_t prof__report_pid(const prof_trace *const *traces, size_t which)
{
    uint64_t pid = prof_trace_about(traces[which])->pid;
    size_t i;
    for (i = 0; i < which; i++)
        if (prof_trace_about(traces[i])->pid == pid) return 1000000000 + which;
    return pid;
}

/* Returns 1 if the path has %p, and 0 if not. Returns -1 if a percent sign is no part of %p, %n or %%. */
static int prof__report_pattern(const char *path)
{
    int found = 0;
    for (; *path; path++) {
        if (*path != '%') continue;
        path++;
        if (*path != 'p' && *path != 'n' && *path != '%') return -1;
        found |= *path == 'p';
    }
    return found;
}

/* Returns the path with %p, %n and %% replaced; the caller frees it. Returns NULL without memory. `program` may come
   from an untrusted file: its slashes become _, so that it names no folder. */
static char *prof__report_path(const char *path, const char *program, uint64_t pid)
{
    size_t room = strlen(path) + 1, at = 0;
    const char *c;
    char digits[24], *to;
    digits[prof__digits(digits, pid)] = 0;
    for (c = path; *c; c++)
        if (*c == '%' && *++c != '%') room += *c == 'p' ? strlen(digits) : strlen(program);
    to = (char *)malloc(room);
    for (c = path; to && *c; c++) {
        const char *piece = *c != '%' || *++c == '%' ? NULL : *c == 'p' ? digits : program;
        if (piece) {
            for (; *piece; piece++) to[at++] = strchr("/\\:", *piece) || (unsigned char)*piece < 32 ? '_' : *piece;
        } else {
            to[at++] = *c;
        }
    }
    if (to) to[at] = 0;
    return to;
}

static prof_status prof__report_files(const prof_trace *const *traces, size_t count, const char *path,
                                      const prof_report_options *options)
{
    prof_status status = PROF_OK;
    size_t i;
    for (i = 0; i < count && status == PROF_OK; i++) {
        uint64_t pid = prof__report_pid(traces, i);
        char *own = prof__report_path(path, prof_trace_about(traces[i])->program, pid);
        prof__out out;
        status = own ? prof__out_file(&out, own) : prof__report_no_memory();
        if (status == PROF_OK) status = prof__report_close(traces[i], pid, &out, options);
        free(own);
    }
    return status;
}

/* Writes the reports of several traces, and closes the output. */
static prof_status prof__report_together(const prof_trace *const *traces, size_t count, prof__out *out,
                                         const prof_report_options *options)
{
    int json = options && options->layout == PROF_REPORT_JSON;
    size_t i;
    if (json) PROF__REPORT_LITERAL(out, "{\"Processes\":[\n");
    for (i = 0; i < count; i++) {
        const prof_trace_info *info = prof_trace_about(traces[i]);
        uint64_t pid = prof__report_pid(traces, i);
        if (json) {
            if (i) PROF__REPORT_LITERAL(out, ",\n");
        } else {
            prof__out_text(out, i ? "\n== " : "== ");
            prof__out_clean(out, *info->program ? info->program : "program");
            PROF__REPORT_LITERAL(out, ", process ");
            prof__out_unsigned(out, pid);
            PROF__REPORT_LITERAL(out, " ==\n");
        }
        prof__report_one(traces[i], pid, out, options);
    }
    if (json) PROF__REPORT_LITERAL(out, "\n]}\n");
    return prof__out_close(out);
}

static prof_status prof__report_each_check(const prof_trace *const *traces, size_t count, int files,
                                           const prof_report_options *options)
{
    prof_status status = prof__report_check(options);
    size_t i;
    if (!traces && count) return prof__fail(PROF_INVALID_ARGUMENT, "prof_report_each: traces is null");
    for (i = 0; i < count; i++)
        if (!traces[i])
            return prof__fail(PROF_INVALID_ARGUMENT, "prof_report_each: trace %lu is null", (unsigned long)i);
    if (status == PROF_OK && !files && options && options->layout == PROF_REPORT_CNTK_DETAIL)
        status = prof__fail(PROF_INVALID_ARGUMENT,
                            "prof_report_each: the CSV has no column for processes: give a path with %%p");
    for (i = 0; i < count && status == PROF_OK; i++) status = prof__report_fits(traces[i], options);
    return status;
}

PROF_DEF prof_status prof_report_each(const prof_trace *const *traces, size_t count, const char *path,
                                      const prof_report_options *options)
{
    PROF__CALM();
    int files = path ? prof__report_pattern(path) : 0;
    prof_status status = prof__report_each_check(traces, count, files, options);
    char *own = NULL;
    prof__out out;
    if (status != PROF_OK) return status;
    if (files < 0)
        return prof__fail(PROF_INVALID_ARGUMENT, "%s: unknown %%: use %%p, %%n or %%%%", path);
    if (files) return prof__report_files(traces, count, path, options);
    if (path && !(own = prof__report_path(path, count ? prof_trace_about(traces[0])->program : "", 0)))
        return prof__report_no_memory();
    status = prof__out_file(&out, own);
    free(own);
    return status == PROF_OK ? prof__report_together(traces, count, &out, options) : status;
}

PROF_DEF prof_status prof_report_each_stream(const prof_trace *const *traces, size_t count, prof_sink sink,
                                             const prof_report_options *options)
{
    PROF__CALM();
    prof_status status = prof__report_each_check(traces, count, 0, options);
    prof__out out;
    if (status != PROF_OK) return status;
    prof__out_sink(&out, sink);
    return prof__report_together(traces, count, &out, options);
}

/*-- the two files of CNTK --*/

static const char *prof__report_rank(const prof_trace *trace) /* NULL if there is none */
{
    const char *key, *value;
    size_t i;
    for (i = 0; prof_trace_metadata(trace, i, &key, &value); i++)
        if (!strcmp(key, "rank") && *value) return value;
    return NULL;
}

/* Makes the end of the files' names: the suffix with %r, %p and %% replaced. */
static prof_status prof__report_suffix(const prof_trace *trace, const char *suffix, char *to, size_t size)
{
    const char *rank = prof__report_rank(trace);
    char pid[24];
    snprintf(pid, sizeof pid, "%llu", (unsigned long long)prof_trace_about(trace)->pid);
    if (!suffix || !*suffix) suffix = rank ? "%r" : "%p";
    for (*to = 0; *suffix; suffix++) {
        char piece[2] = {*suffix, 0};
        const char *text = piece;
        if (*suffix == '%') {
            suffix++;
            if (!*suffix || !strchr("rp%", *suffix))
                return prof__fail(PROF_INVALID_ARGUMENT, "prof_report_cntk: suffix: use %%r, %%p or %%%%");
            text = *suffix == 'r' ? (rank ? rank : "0") : *suffix == 'p' ? pid : "%";
        }
        if (!prof__text_add(to, size, text))
            return prof__fail(PROF_INVALID_ARGUMENT, "prof_report_cntk: folder and suffix are too long");
    }
    if (to[strcspn(to, "/\\")])
        return prof__fail(PROF_INVALID_ARGUMENT, "prof_report_cntk: a suffix must not contain a slash: %s", to);
    return PROF_OK;
}

/* Reserves the name of a file of this kind, and writes it to `to`. */
static prof_status prof__report_cntk_path(const prof_trace *trace, const char *folder, const char *suffix,
                                          const char *kind, const char *extension, char *to, size_t size)
{
    char time[32];
    unsigned long long pid = (unsigned long long)prof_trace_about(trace)->pid;
    unsigned i;
    const char *slash = *folder && prof__is_slash(folder[strlen(folder) - 1]) ? "" : "/";
    prof__report_time(trace, "%Y-%m-%d_%H-%M-%S", time, sizeof time);
    for (i = 0; i < 100000; i++) {
        char unique[64] = "";
        int length, error;
        if (i == 1) snprintf(unique, sizeof unique, "_%llu", pid);
        if (i > 1) snprintf(unique, sizeof unique, "_%llu_%u", pid, i);
        length = snprintf(to, size, "%s%s%s_%s_%s%s%s", folder, slash, time, kind, suffix, unique, extension);
        if (length < 0 || (size_t)length >= size)
            return prof__fail(PROF_INVALID_ARGUMENT, "prof_report_cntk: folder and suffix are too long");
        error = prof__path_claim(to);
        if (!error) return PROF_OK;
        if (error != EEXIST) return prof__fail(PROF_IO, "cannot create %s: %s", to, strerror(error));
    }
    return prof__fail(PROF_IO, "cannot create %s: too many files of that name", to);
}

static prof_status prof__report_cntk_file(const prof_trace *trace, const char *folder, const char *suffix,
                                          const prof_report_options *options, const char *kind, const char *extension)
{
    char path[1024];
    prof_status status = prof__report_cntk_path(trace, folder, suffix, kind, extension, path, sizeof path);
    if (status != PROF_OK) return status;
    status = prof_report_write(trace, path, options);
    if (status != PROF_OK) remove(path);
    return status;
}

static prof_status prof__report_cntk_files(const prof_trace *trace, const char *folder, const char *suffix,
                                           prof_report_options how, int detail)
{
    char own[300];
    prof_status status = prof__report_suffix(trace, suffix, own, sizeof own);
    if (status == PROF_OK) status = prof__folder_make(folder);
    if (status != PROF_OK) return status;
    how.layout = PROF_REPORT_CNTK;
    status = prof__report_cntk_file(trace, folder, own, &how, "summary", ".txt");
    how.layout = PROF_REPORT_CNTK_DETAIL;
    if (status == PROF_OK && detail) status = prof__report_cntk_file(trace, folder, own, &how, "detail", ".csv");
    return status;
}

PROF_DEF prof_status prof_report_cntk(const prof_trace *trace, const char *folder, const char *suffix,
                                      const prof_report_options *options)
{
    PROF__CALM();
    prof_report_options how;
    prof_status status = prof__report_check(options);
    memset(&how, 0, sizeof how);
    if (options) how = *options;
    if (!trace) return prof__fail(PROF_INVALID_ARGUMENT, "prof_report_cntk: trace is null");
    how.layout = PROF_REPORT_CNTK_DETAIL;
    if (status == PROF_OK) status = prof__report_fits(trace, &how);
    return status == PROF_OK ? prof__report_cntk_files(trace, folder && *folder ? folder : ".", suffix, how, 1)
                             : status;
}

/*-- writers for the layouts of config.layout --*/

static prof_status prof__report_as(const prof_trace *trace, const char *path, prof_report_layout layout)
{
    prof_report_options how;
    memset(&how, 0, sizeof how);
    how.layout = layout;
    return prof_report_write(trace, path, &how);
}

static prof_status prof__report_cntk_both(const prof_trace *trace, const char *path)
{
    prof_report_options how;
    memset(&how, 0, sizeof how);
    return prof__report_cntk_files(trace, path, NULL, how, prof_trace_about(trace)->mode != PROF_STATS);
}

#define PROF__REPORT_LAYOUTS(X)                                                                                    \
    X(PATHS, "paths") X(DOMAINS, "domains") X(HISTOGRAM, "histogram") X(JSON, "json") X(MXNET, "mxnet")            \
    X(CNTK, "cntk") X(CNTK_DETAIL, "cntk-detail")
#define PROF__REPORT_WRITE(layout, name)                                               \
    static prof_status prof__report_as_##layout(const prof_trace *trace, const char *path) \
    {                                                                                  \
        return prof__report_as(trace, path, PROF_REPORT_##layout);                     \
    }
PROF__REPORT_LAYOUTS(PROF__REPORT_WRITE)
#define PROF__REPORT_WRITER(layout, name) {"layout:" name, NULL, NULL, prof__report_as_##layout, NULL},
static prof_writer prof__report_writers[] = {
    PROF__REPORT_LAYOUTS(PROF__REPORT_WRITER){"layout:cntk/", NULL, NULL, prof__report_cntk_both, NULL}};

PROF__AT_START(101, prof__report_register);
static void prof__report_register(void)
{
    size_t i = sizeof prof__report_writers / sizeof *prof__report_writers;
    while (i--) prof_writer_register(&prof__report_writers[i]); /* registering puts each before the others */
}
#ifdef PROF__SHARED
PROF__AT_END(101, prof__report_unregister);
static void prof__report_unregister(void)
{
    size_t i = sizeof prof__report_writers / sizeof *prof__report_writers;
    while (i--) prof_writer_unregister(&prof__report_writers[i]);
}
#endif

/*-- reports of the running session --*/

static struct {
    int lock;
    uint32_t session_id; /* the id of the session that prof_mxnet_set_paused() has paused; 0: none */
} prof__report_paused;

static struct {
    int lock;
    prof__bounds bounds; /* what the last reset left out */
} prof__report_reset;

#ifndef _WIN32
/* Releases the locks in the child of a fork(), where the thread that held them may not exist. */
static void prof__report_child_of_fork(void) { prof__report_reset.lock = prof__report_paused.lock = 0; }
PROF__AT_START(101, prof__report_forks);
static void prof__report_forks(void)
{
    pthread_atfork(NULL, NULL, prof__report_child_of_fork);
}
#endif

static prof_status prof__report_dumps(const prof_report_options *options, int reset, char **text)
{
    prof_trace *trace = NULL;
    prof_status status = prof__report_check(options);
    if (status == PROF_OK) status = prof__trace_live(&trace, reset);
    if (status != PROF_OK) return status;
    if (!prof__bounds_apply(&prof__report_reset.bounds, trace)) status = prof__report_no_memory();
    if (status == PROF_OK) status = prof_report_text(trace, options, text, NULL);
    if (status == PROF_OK && reset && !prof__bounds_take(&prof__report_reset.bounds, trace))
        status = prof__report_no_memory();
    if (status != PROF_OK) {
        prof_report_free(*text);
        *text = NULL;
    }
    prof_trace_close(trace);
    return status;
}

PROF_DEF char *prof_mxnet_dumps(prof_report_layout layout, prof_sort sort, int ascending, int reset)
{
    PROF__CALM();
    prof_report_options options;
    char *text = NULL;
    int cancel;
    memset(&options, 0, sizeof options);
    options.layout = layout;
    options.sort = sort;
    options.ascending = ascending;
    cancel = prof__lock_steady(&prof__report_reset.lock);
    prof__report_dumps(&options, reset, &text);
    prof__unlock_steady(&prof__report_reset.lock, cancel);
    return text;
}

/*-- MXNet's functions dump(), pause() and resume() --*/

PROF_DEF prof_status prof_mxnet_dump(int finished)
{
    PROF__CALM();
    prof_status status = finished ? prof_stop() : PROF_INVALID_STATE;
    return status == PROF_INVALID_STATE ? prof__output_again("prof_mxnet_dump") : status;
}

/* Returns the id of the running session. Returns 0 if none runs. */
static uint32_t prof__report_session_id(void)
{
    prof__session_status look = prof__session_status_now();
    return !look.on_demand && (look.running || look.ended) ? look.session_id : 0;
}

PROF_DEF prof_status prof_mxnet_set_paused(int paused)
{
    prof_status status = PROF_OK;
    int cancel = prof__lock_steady(&prof__report_paused.lock);
    uint32_t session_id = prof__report_session_id();
    int was = session_id && prof__report_paused.session_id == session_id;
    if (session_id && paused && !was) {
        status = prof_pause();
        if (status == PROF_OK) prof__report_paused.session_id = session_id;
    } else if (!paused && was) {
        status = prof_resume();
        prof__report_paused.session_id = 0;
    }
    prof__unlock_steady(&prof__report_paused.lock, cancel);
    return status;
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
