// api/reports: Statistics, summary, CSV, memory and locks: declarations.
#ifndef PROF__API_REPORTS_H
#define PROF__API_REPORTS_H
#include "api/read.h"
#include "api/writers.h"

/*-- REPORTS ---------------------------------------------------------------------------------------------- >>reports --
   Each report can be written to a file (a path of NULL or "-" is standard output; a regular file is replaced only when
   the new one is complete) and streamed to your own function. options may be NULL. */

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

#define PROF_NO_LIMIT (-1) /* of columns */

typedef struct prof_summary_options {
    prof_sort sort;
    int ascending;
    size_t top; /* rows of the scope table; 0: all */
    int by_path; /* 1: a row for each call path, as a tree; top: the first rows, and what leads to them */
    int columns; /* characters of a line, from 40 on: names are shortened and columns left out to fit; 0: the width of
                    the terminal if the summary goes there, else no limit; PROF_NO_LIMIT */
} prof_summary_options;

/* The count of durations with from_ns <= duration < to_ns. */
typedef struct prof_bucket {
    uint64_t from_ns, to_ns, count;
} prof_bucket;

/* One entry of the statistics: a scope name at a call site. Scopes that overlap (begin a, begin b, end a, end b) count
   with all of their time. The time of the scope that ends later (b) is all its own self time, and is not subtracted
   from that of the enclosing scopes; by call path it is outermost. An end belongs to the innermost open scope of its
   call site or, only if none is open, to a scope that the end of an outer scope has closed. */
typedef struct prof_stat {
    const char *name;                /* that of the site; the format of PROFILE_SCOPE_F; the text of
                                        PROFILE_SCOPE_DYNAMIC */
    const prof_callsite *site;
    uint64_t count, truncated;       /* truncated scopes count only in these two */
    uint64_t total_ns;               /* inclusive time: of calls inside a call of the same entry, only the outermost */
    uint64_t sum_ns;                 /* the durations of all calls; mean_ns times the calls that are not truncated */
    uint64_t self_ns, min_ns, max_ns;
    double mean_ns, deviation_ns;    /* deviation of the population */
    double share;                    /* inclusive time as a part of the time that the trace, or its window, covers: 0.5
                                        is half of it. Of a thread whose older events were overwritten, the time since
                                        then. Threads add up: 4 that do nothing else make 4. Only of scopes */
    uint64_t threads;                /* of a scope: how many tracks have it, without those where it only overlaps; 0:
                                        not known */
    uint64_t bytes;                  /* PROFILE_THROUGHPUT: the sum of bytes, */
    uint64_t rates;                  /* the calls that took some time, and their rates, 10^6 bytes a second: */
    double mean_rate, deviation_rate, min_rate, max_rate;
    uint64_t p50_ns, p90_ns, p99_ns, p999_ns;
    size_t parent;                   /* prof_stats_by_path: index of the enclosing entry, else PROF_NO_PARENT */
    uint32_t depth;                  /* the number of enclosing entries */
    const prof_bucket *buckets;      /* the distribution of the durations, in order, without empty buckets: exact below
                                        128 ns, then 64 buckets for each power of two. Freed with the entries */
    size_t bucket_count;
    uint64_t running_ns, ready_ns, waiting_ns, unknown_ns; /* of a scope: what its thread did in total_ns, which they
                                        add up to: see prof_track_split(). All unknown without prof_system.h */
    uint64_t switches, migrations;   /* in that time */
} prof_stat;
#define PROF_NO_PARENT ((size_t)-1)

/* Allocations of one call site, memory scope or pool. Only frees of blocks that were allocated in the trace, or its
   window, count: all numbers begin at 0 there. */
typedef struct prof_memory_row {
    const char *pool;               /* the category of its macros; NULL: a row of a scope, in all pools */
    const char *scope;              /* the names of the open PROFILE_MEMORY_SCOPEs, joined by ':'; "": none was open;
                                       NULL: a row of a pool */
    const prof_callsite *site;      /* of the allocation; NULL: a row of a pool or scope */
    const prof_callsite *around;    /* of the innermost other scope that was open there; NULL: none, or a row of a pool
                                       or scope */
    const char *around_name;        /* the name of that scope, also one made at run time; NULL if around is */
    uint64_t count, bytes;          /* all allocations */
    uint64_t live_count, live_bytes; /* those not freed at the end */
    uint64_t peak_bytes;            /* the maximum of live bytes, */
    int64_t peak_ns;                /* and when it was first reached */
} prof_memory_row;

typedef struct prof_memory_stats {
    const prof_memory_row *sites, *scopes, *pools; /* those with the most bytes first */
    size_t site_count, scope_count, pool_count;
    uint64_t count, frees;          /* ALLOC and FREE events; a realloc has one of each */
    uint64_t freed_unknown;         /* frees of blocks that were allocated before the trace, or not at all */
    uint64_t freed_twice;           /* frees of blocks that were already freed; if events were lost, it may have been
                                       another block */
    uint64_t not_freed;             /* blocks that were allocated again without a free in between: the free was lost, or
                                       is not marked up; or more than 256 pools have blocks at the address */
} prof_memory_stats;

/* The locks of one name, or one lock. Only waits and holds that lie in the trace as a whole add to the times. */
typedef struct prof_lock_row {
    const char *name, *category;
    uint64_t address;               /* of the lock; 0: several locks */
    uint64_t locks;                 /* the number of locks */
    uint64_t acquired;
    uint64_t contended;             /* those before which the thread had to wait for another */
    uint64_t wait_ns, wait_max_ns;  /* from LOCK_WAIT to LOCK_ACQUIRE */
    uint64_t hold_ns, hold_max_ns;  /* from LOCK_ACQUIRE to LOCK_RELEASE; of recursive locks from the first to the
                                       last */
    uint64_t waiting_max;           /* the maximum of threads that waited for one lock at the same time */
    uint64_t holding, waiting;      /* threads that hold it, or wait for it, at the end */
    uint64_t abandoned;             /* waits that were not followed by an acquire */
    uint64_t unmatched;             /* acquires without a release, and releases without an acquire */
} prof_lock_row;

/* A wait of a thread: in a call of the C library, which PROF_WRAP_WAITS recorded; or from PROFILE_LOCK_WAIT to
   PROFILE_LOCK_ACQUIRE, if another thread had the lock. */
typedef struct prof_wait {
    const char *call;               /* the function: "pthread_mutex_lock", "read", ...; "futex": syscall(); "page
                                       fault": the thread touched memory; "": none is known */
    const char *name;               /* of the lock in the markup, or of the page's file; "": none */
    const char *what;               /* what object is: "lock", "condition", "semaphore", "futex", "barrier", "thread"
                                       (its pthread_t), "fd", "fds" (how many), "pid" or "page" (of memory, that was
                                       read from a disk: the address that was touched); "": there is none, a sleep */
    uint64_t object;                /* the address, or the number */
    int64_t start_ns, duration_ns;
    uint32_t flags;                 /* as an event's */
    size_t track;                   /* the index of its track */
    const char *scope;              /* the innermost scope that waited; "": none */
    uint64_t holder;                /* the id of the thread that had the lock when the wait began; 0: not known */
    size_t holder_track;            /* its track, or PROF_NO_TRACK: it recorded nothing */
    const char *holder_scope;       /* the innermost scope that it was in then, waits left out; "": none */
    size_t waker_track;             /* of the thread that unlocked, signalled or posted; PROF_NO_TRACK: not known */
    int64_t woken_ns;               /* when it did so */
    const char *waker_scope;        /* the innermost scope that it was in then; "": none */
} prof_wait;
#define PROF_NO_TRACK ((size_t)-1)

#if PROF_ENABLE
/* Write a table for a terminal: scopes, frames, counters, losses, recording cost. Percentiles are exact to 0.8 %. */
PROF__API prof_status prof_summary_write(const prof_trace *trace, const char *path,
                                         const prof_summary_options *options);
PROF__API prof_status prof_summary_stream(const prof_trace *trace, prof_sink sink, const prof_summary_options *options);

/* Write one event a line, by RFC 4180, in integer nanoseconds; the first line names the columns. The column value has
   the number of a counter or a loss, the text of a message, the id of a span or a flow, the address of an allocation or
   a lock. args has key=value, joined by ; with a backslash before each ; = and backslash in keys and values. What is
   not UTF-8 becomes U+FFFD. All else stays as it is: a spreadsheet takes a name that begins with = for a formula.
   If the trace has states of threads, running_ns, ready_ns and waiting_ns follow: see prof_track_split(). */
PROF__API prof_status prof_csv_write(const prof_trace *trace, const char *path);
PROF__API prof_status prof_csv_stream(const prof_trace *trace, prof_sink sink);

/* Computes the statistics of scopes that the summary shows, sorted. Free them with prof_stats_free() before you close
   the trace. */
PROF__API prof_status prof_stats(const prof_trace *trace, prof_sort sort, int ascending, prof_stat **stats,
                                 size_t *count);
/* Computes them with one entry for each call path: a parent before its children, and children of one parent in order.
   In PROF_STATS, which knows no paths, all entries are outermost. */
PROF__API prof_status prof_stats_by_path(const prof_trace *trace, prof_sort sort, int ascending, prof_stat **stats,
                                         size_t *count);
/* A scope that had no end when its track did: what a thread was doing. */
typedef struct prof_open_scope {
    const char *name;
    const prof_callsite *site;
    size_t track;                   /* its index */
    uint32_t depth;                 /* 0 for the outermost; those of a track follow each other, the innermost last */
    int64_t start_ns, duration_ns;  /* duration_ns: as an event's, see PROF_TRUNCATED_END. It is what is known: unless
                                       the process is alive (prof_trace_info.alive), the scope may have lasted longer */
} prof_open_scope;
/* Finds all scopes that had no end when their tracks did. Free them with prof_open_scopes_free() before you close the
   trace. */
PROF__API prof_status prof_open_scopes(const prof_trace *trace, prof_open_scope **scopes, size_t *count);
PROF__API void prof_open_scopes_free(prof_open_scope *scopes);
/* Computes the statistics of spans. total_ns is sum_ns. self_ns is, too, except for a task of prof_task_create() that
   starts and stops on one thread: the tasks inside it are subtracted. Spans of prof_frame_create() are frames, and left
   out. */
PROF__API prof_status prof_span_stats(const prof_trace *trace, prof_sort sort, int ascending, prof_stat **stats,
                                      size_t *count);
PROF__API void prof_stats_free(prof_stat *stats);

/* Computes what PROFILE_ALLOC, PROFILE_FREE and so on recorded, in the trace's window. Takes one pass, and memory for
   the blocks that are live at a time. Free it with prof_memory_free() before you close the trace. */
PROF__API prof_status prof_memory(const prof_trace *trace, prof_memory_stats **stats);
PROF__API void prof_memory_free(prof_memory_stats *stats);
/* Computes what PROFILE_LOCK_WAIT and so on recorded, the locks that threads waited for longest first. by_address: 1: a
   row for each lock instead of each name. Free the rows with prof_locks_free() before you close the trace. */
PROF__API prof_status prof_locks(const prof_trace *trace, int by_address, prof_lock_row **rows, size_t *count);
PROF__API void prof_locks_free(prof_lock_row *rows);
/* Lists the waits of all threads in order of time. Takes one pass. Free them with prof_waits_free() before you close
   the trace. */
PROF__API prof_status prof_waits(const prof_trace *trace, prof_wait **waits, size_t *count);
PROF__API void prof_waits_free(prof_wait *waits);

/* Writes a trace in the format of an extension (".json"), or of that of path if extension is NULL. Not ".prof": a trace
   is what was read from an image; see prof_image_copy(). */
PROF__API prof_status prof_trace_write(const prof_trace *trace, const char *path, const char *extension);
#endif

#endif /* PROF__API_REPORTS_H */
