// api/reports: Statistics, summary, CSV, memory and locks: declarations.
/*-- REPORTS ---------------------------------------------------------------------------------------------- >>reports --
   Each comes as a file (path null or "-" is standard output; a regular file is replaced only when complete) and as a
   stream into your own function. options may be null. */

/* write returns 0, or anything else to stop: the writer then returns PROF_IO. */
typedef struct prof_sink {
    int (*write)(void *user, const void *data, size_t size);
    void *user;
} prof_sink;

typedef enum prof_sort {
    PROF_SORT_TOTAL = 0,
    PROF_SORT_SELF,
    PROF_SORT_CALLS,
    PROF_SORT_MEAN,
    PROF_SORT_MIN,
    PROF_SORT_MAX,
    PROF_SORT_P99,
    PROF_SORT_NAME
} prof_sort;

typedef struct prof_summary_options {
    prof_sort sort;
    int ascending;
    size_t top; /* rows of the scope table; 0: all */
    int by_path, columns; /* by_path: 1: a row for each call path, as a tree; top: the first so many, and what leads to
                             them. columns: characters of a line, from 40 on: names are shortened and columns left out
                             to fit; 0: what standard output has, if it goes there and that is a terminal; else, and
                             for -1, as many as there are */
} prof_summary_options;

/* So many durations with from_ns <= duration < to_ns. */
typedef struct prof_bucket {
    uint64_t from_ns, to_ns, count;
} prof_bucket;

/* One entry of the statistics: a scope name at a call site. Scopes that overlap (begin a, begin b, end a, end b) count
   with all of their time; that of the one that ends later (b) is all its own, and is not taken from the self time of
   what is around it. By call path it is outermost. An end belongs to the innermost open scope of its call site; only if
   none is open, to one that the end of a scope around it has closed. */
typedef struct prof_stat {
    const char *name;                /* the site's; the format of PROFILE_SCOPE_F; the text of PROFILE_SCOPE_S */
    const prof_callsite *site;
    uint64_t count, truncated;       /* truncated scopes count in no figure but this and count */
    uint64_t total_ns, self_ns, min_ns, max_ns;
    uint64_t covered_ns;             /* as total_ns, but a recursion counts once: time with at least one call open */
    double mean_ns, deviation_ns;    /* population */
    uint64_t bytes;                  /* of PROFILE_THROUGHPUT: in all, */
    uint64_t rates;                  /* the calls that took some time; and in each of these, 10^6 bytes a second: */
    double mean_rate, deviation_rate, min_rate, max_rate;
    uint64_t p50_ns, p90_ns, p99_ns, p999_ns;
    size_t parent;                   /* prof_stats_by_path: index of the entry around it, else PROF_NO_PARENT */
    uint32_t depth;                  /* so many entries are around it */
    const prof_bucket *buckets;      /* the distribution of the durations, in order, without what is empty: exact
                                        below */
    size_t bucket_count;             /* 128 ns, then 64 buckets for each power of two. Freed with the entries */
} prof_stat;
#define PROF_NO_PARENT ((size_t)-1)

/* Allocations of one call site, memory scope or pool. What was freed, too, is known only of blocks that the trace saw
   allocated: figures count from its begin, or that of its window. */
typedef struct prof_memory_row {
    const char *pool;               /* the category of its macros; null: of a scope, in whatever pools */
    const char *scope;              /* the names of the open PROFILE_MEMORY_SCOPEs, joined by ':'; "": none was open;
                                       null: of a pool */
    const prof_callsite *site;      /* of the allocation; null: of a pool or scope */
    const prof_callsite *around;    /* of the innermost other scope that was open there; null: none, or of a pool or
                                       scope */
    uint64_t count, bytes;          /* all allocations */
    uint64_t live_count, live_bytes; /* those not freed at the end */
    uint64_t peak_bytes;            /* the most there were at a time, */
    int64_t peak_ns;                /* first reached here */
} prof_memory_row;

typedef struct prof_memory_stats {
    const prof_memory_row *sites, *scopes, *pools; /* those with the most bytes first */
    size_t site_count, scope_count, pool_count;
    uint64_t count, frees;          /* ALLOC and FREE events, of realloc one each */
    uint64_t freed_unknown;         /* frees of blocks that were allocated before the trace, or that nobody allocated */
    uint64_t freed_twice;           /* frees of blocks that were freed already; where events were lost, perhaps of
                                       others */
    uint64_t not_freed;             /* blocks that were allocated again without a free in between: it was lost, or
                                       unmarked */
} prof_memory_stats;

/* The locks of one name, or one lock. Times of waits and holds that the trace saw whole. */
typedef struct prof_lock_row {
    const char *name, *category;
    uint64_t address;               /* of the lock; 0: of several */
    uint64_t locks;                 /* so many of them */
    uint64_t acquired;
    uint64_t contended;             /* of these, those for which the thread had to wait for another */
    uint64_t wait_ns, wait_max_ns;  /* from LOCK_WAIT to LOCK_ACQUIRE */
    uint64_t hold_ns, hold_max_ns;  /* from LOCK_ACQUIRE to LOCK_RELEASE, of recursive locks from the first to the
                                       last */
    uint64_t waiting_max;           /* threads that waited for one lock at the same time */
    uint64_t holding, waiting;      /* threads that did so at the end */
    uint64_t abandoned;             /* waits that were not followed by an acquire */
    uint64_t unmatched;             /* acquires without their release, and the other way round */
} prof_lock_row;

/* How prof_stop() and prof_save() find the writer of an extension. A header with a writer registers it before main. */
typedef struct prof_writer {
    const char *extension; /* ".json" */
    prof_status (*write)(const prof_trace *trace, const char *path);
    struct prof_writer *next;
} prof_writer;

#if PROF_ENABLE
/* A table for a terminal: scopes, frames, counters, losses, the recorder's own cost. Percentiles are exact to 0.8 %. */
PROF_DEF prof_status prof_summary_write(const prof_trace *trace, const char *path, const prof_summary_options *options);
PROF_DEF prof_status prof_summary_stream(const prof_trace *trace, prof_sink sink, const prof_summary_options *options);

/* One event a line, RFC 4180, integer nanoseconds; the first line names the columns. value: of a counter and a loss, the
   number; of a message, its text; of a span and a flow, the id; of allocations and locks, the address. args: key=value
   joined by ; with \\ in front of ; = and \\ in either. What is not UTF-8 becomes U+FFFD. */
PROF_DEF prof_status prof_csv_write(const prof_trace *trace, const char *path);
PROF_DEF prof_status prof_csv_stream(const prof_trace *trace, prof_sink sink);

/* The figures of the summary's scopes as data, sorted as asked. Free with prof_stats_free() before the trace. */
PROF_DEF prof_status prof_stats(const prof_trace *trace, prof_sort sort, int ascending, prof_stat **stats, size_t *count);
/* The same, one entry per call path: a parent before what it called, and what has the same parent in order. Of
   PROF_STATS, which knows no paths, all are outermost. */
PROF_DEF prof_status prof_stats_by_path(const prof_trace *trace, prof_sort sort, int ascending, prof_stat **stats,
                                        size_t *count);
/* The same of spans: covered_ns is 0, self_ns is total_ns, but a task of prof_task_create() that starts and stops on one
   thread is without the tasks inside it. The spans of prof_frame_create() are frames, and not here. */
PROF_DEF prof_status prof_span_stats(const prof_trace *trace, prof_sort sort, int ascending, prof_stat **stats,
                                     size_t *count);
PROF_DEF void prof_stats_free(prof_stat *stats);

/* What PROFILE_ALLOC and its kind recorded, in the trace's window. One pass; memory for the blocks that are live at a
   time. Free with prof_memory_free() before the trace. */
PROF_DEF prof_status prof_memory(const prof_trace *trace, prof_memory_stats **stats);
PROF_DEF void prof_memory_free(prof_memory_stats *stats);
/* The same for PROFILE_LOCK_WAIT and its kind, those first for which threads waited longest. by_address: a row for each
   lock instead of each name. Free with prof_locks_free() before the trace. */
PROF_DEF prof_status prof_locks(const prof_trace *trace, int by_address, prof_lock_row **rows, size_t *count);
PROF_DEF void prof_locks_free(prof_lock_row *rows);

/* writer must stay; it belongs to the list from here on. Not for two threads at once. */
PROF_DEF void prof_writer_register(prof_writer *writer);
/* Writes a trace as an extension says (".json"), or as path's does if extension is null. Not ".prof": a trace is what
   was read of an image. */
PROF_DEF prof_status prof_trace_write(const prof_trace *trace, const char *path, const char *extension);
/* Before a library is unloaded that has the writer's code. Waits for a prof_stop() in progress. */
PROF_DEF void prof_writer_unregister(prof_writer *writer);
#endif
