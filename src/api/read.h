// api/read: A trace, its tracks, cursors, spans and times: declarations.
/*-- READING ------------------------------------------------------------------------------------------------- >>read --
   A trace is a private, validated copy: it never changes, and any number of threads may read one, each with its own
   cursors. Only of what PROF_STREAM wrote behind the buffer, and of the buffer of a recording that has ended if it is
   larger than 32 MiB, it keeps no copy, but the file, open, in which cursors read on: what vanishes from there before they
   come by is left out, and counted in lost_blocks. (On Windows, where a file that is open cannot be replaced, only the
   former.) Functions of this part and
   the next may be called from any thread at any time, but not from signal handlers. A function that fails leaves null
   (0 entries) in what it should have made: PROF_IO, the file cannot be read; PROF_CORRUPT, it is no image, or damaged;
   PROF_UNSUPPORTED, an image of another version or of the other byte order; PROF_INVALID_STATE, nothing was recorded
   yet; PROF_NO_MEMORY. With PROF_ENABLE=0 they are as those of >>control are: PROF_DISABLED, no trace, no event. */

typedef struct prof_trace prof_trace; typedef struct prof_cursor prof_cursor;
typedef struct prof_timeline prof_timeline; typedef struct prof_spans prof_spans;

/* What a call site is. Strings belong to the trace, are valid UTF-8 only if the program's were, and never null. Of each
   the first 1023 bytes are read, because every event may carry them. */
typedef struct prof_callsite {
    const char *name, *category, *file, *function;
    uint32_t line, color, level;
    uint32_t kind; /* PROF__KIND_... of the event that the site records */
    uint32_t role; /* PROF_ROLE_... */
} prof_callsite;

/* What else is known of what a call site records. */
typedef enum prof_role {
    PROF_ROLE_NONE = 0,
    PROF_ROLE_STEP,         /* a scope that is one step of a loop: its argument "step_num" counts */
    PROF_ROLE_THROUGHPUT,   /* a scope that moved so many "bytes", its argument */
    PROF_ROLE_SYNC,         /* a scope that waits for a device before it ends */
    PROF_ROLE_MARK_GLOBAL,  /* an instant that concerns all processes, */
    PROF_ROLE_MARK_PROCESS, /* this process, */
    PROF_ROLE_MARK_TASK,    /* a task, */
    PROF_ROLE_MARK_MARKER,  /* the point alone; one without a role concerns its thread */
    PROF_ROLE_TASK,         /* a span, or scope, of prof_task_create() */
    PROF_ROLE_DEVICE,       /* events of a device, whose name is the category: see >>devices */
    PROF_ROLE_FRAME,        /* a span of prof_frame_create() */
    PROF_ROLE_MEMORY,       /* a scope whose name the allocations inside go by; of ALLOC and FREE themselves */
    PROF_ROLE_LOCK,         /* of LOCK_WAIT, _ACQUIRE and _RELEASE */
    PROF_ROLE_RANGE,        /* a scope of prof_range_create() */
    PROF_ROLE_COUNT
} prof_role;

typedef enum prof_value_type {
    PROF_VALUE_NONE = 0,
    PROF_VALUE_INT,
    PROF_VALUE_UINT,
    PROF_VALUE_DOUBLE,
    PROF_VALUE_BOOL,
    PROF_VALUE_POINTER,
    PROF_VALUE_STRING
} prof_value_type;

typedef struct prof_value {
    prof_value_type type;
    int cut; /* 1: the string was longer than PROF_MAX_TEXT and its end is missing */
    union {
        int64_t i;          /* INT */
        uint64_t u;         /* UINT, BOOL, POINTER */
        double d;           /* DOUBLE */
        const char *string; /* STRING, terminated, valid until the cursor moves */
    } as;
} prof_value;

typedef struct prof_arg {
    const char *key; /* valid until the cursor moves */
    prof_value value;
} prof_arg; typedef uint64_t prof_scope; /* see PROFILE_SCOPE_AS(); 0: it is off */

typedef enum prof_event_type {
    PROF_EVENT_SCOPE,   /* duration_ns, depth, flags, args */
    PROF_EVENT_MARK,    /* an instant; args */
    PROF_EVENT_COUNTER, /* value */
    PROF_EVENT_FRAME,   /* the boundary between two frames; duration_ns: since the boundary before, 0 for the first */
    PROF_EVENT_LOST,    /* value.as.u scopes or other events could not be recorded before this point */
    /* Below: instants of their thread's track that carry an object. Images hold these numbers: they never change. */
    PROF_EVENT_SPAN_BEGIN,   /* object: the span's id, by which begin and end, on whatever threads, belong together.
                                Also of a scope that ended after one around it (begin a, begin b, end a, end b: b): of
                                these site->kind is PROF__KIND_BEGIN, and they stand among the scopes in statistics.
                                Spans, their marks and flows have args */
    PROF_EVENT_SPAN_MARK,
    PROF_EVENT_SPAN_END,
    PROF_EVENT_FLOW_OUT,     /* object: the flow's id; an arrow from the scope around this event ... */
    PROF_EVENT_FLOW_STEP,
    PROF_EVENT_FLOW_IN,      /* ... to the one around this */
    PROF_EVENT_ALLOC,        /* object: address; detail: bytes */
    PROF_EVENT_FREE,         /* object: address; detail: PROF__FREE_... */
    PROF_EVENT_LOCK_WAIT,    /* object: the lock's address; detail 1: it was found taken */
    PROF_EVENT_LOCK_ACQUIRE,
    PROF_EVENT_LOCK_RELEASE,
    PROF_EVENT_LOG,          /* detail: prof_severity; value: the message; args: what it was made of, without keys */
    PROF_EVENT_TYPE_COUNT
} prof_event_type;

/* Of a message. Images hold these numbers. */
typedef enum prof_severity {
    PROF_LOG_DEBUG = 0, /* has level 3: not recorded unless asked for */
    PROF_LOG_INFO,      /* level 2 */
    PROF_LOG_WARNING,   /* level 1, as the next two */
    PROF_LOG_ERROR,
    PROF_LOG_FATAL      /* it is only recorded: nothing ends */
} prof_severity;

enum {
    PROF_TRUNCATED_BEGIN = 1, /* the begin is older than the buffer: start_ns is the first thing known of the track */
    PROF_TRUNCATED_END = 2    /* no end was recorded: duration_ns reaches to the last thing known of the track, or to
                                 the end of the scope around it */
};

typedef struct prof_event {
    prof_event_type type;
    uint32_t flags;
    uint32_t depth;               /* of a scope: 0 for the outermost; of others: the number of open scopes */
    uint32_t arg_count;
    int64_t start_ns;             /* since the session's start; never before the event in front of it */
    int64_t duration_ns;          /* >= 0; a child never reaches beyond its parent */
    uint64_t id;                  /* unique in the trace and the same each time it is read */
    const char *name;             /* the run-time name if it has one, valid until the cursor moves; else the site's */
    const prof_callsite *site;    /* never null */
    const prof_arg *args;         /* valid until the cursor moves; the last one counts if a key comes twice */
    prof_value value;
    uint64_t object;              /* what the event is about: an id or an address, as its type says */
    uint64_t detail;              /* as its type says */
} prof_event;

/* How the times of a track came onto the time line of the trace. */
typedef enum prof_alignment {
    PROF_ALIGN_HOST = 0, /* they are the host's own */
    PROF_ALIGN_PAIRS,    /* a device: straight lines between two pairs of clocks or more, and on beyond them */
    PROF_ALIGN_RATE,     /* one pair, and the rate that the clock is said to have */
    PROF_ALIGN_GUESS     /* no pair: as if the device's first event had been recorded when it ended; or one, but the
                            rate is not known: a tick counts as 1 ns. Durations of such a clock may be right, places are
                            not */
} prof_alignment;
/* Begin and end of one id, put together by prof_spans_next(). */
typedef struct prof_span {
    const char *name;             /* valid until the next call */
    const prof_callsite *site;    /* of the begin; without one, of the end; never null */
    uint64_t id;                  /* what PROFILE_SPAN_BEGIN() was given; of a handle: its own */
    uint64_t number;              /* PROF_ROLE_FRAME: of the frame, from 1 on; else 0 */
    uint64_t serial;              /* unique in the trace and the same each time; a mark has that of its span, 0
                                     without */
    int64_t start_ns, duration_ns;
    uint32_t flags;               /* PROF_TRUNCATED_BEGIN, PROF_TRUNCATED_END */
    int mark;                     /* 1: a PROFILE_SPAN_MARK */
    size_t begin_track, end_track; /* of a truncated one the track that is known, in both */
    const prof_arg *args; uint32_t arg_count; /* of the begin, then of the end; valid until the next call */
} prof_span;

typedef struct prof_track {
    const char *name;             /* PROFILE_THREAD's, else the system's name of the thread, else "" */
    uint64_t id;                  /* unique in the trace, in order of appearance, from 1 */
    uint64_t thread_id;           /* the system's thread id (gettid); may repeat when threads come and go */
    uint64_t lost;                /* events that could not be recorded on this track */
    uint64_t event_count;         /* what a cursor will yield; less in a window, or where blocks of a file that is being
                                     recorded were overwritten meanwhile */
    int64_t first_ns, last_ns;    /* of what is retained */
    int fiber;                    /* 1: of prof_fiber_create(); thread_id is the first thread known that it was on */
    const char *device;           /* "", or the device whose row this is; thread_id and lost are 0 then: see
                                     >>devices */
    prof_alignment alignment;
    double device_hz;             /* ticks per second of the device's clock, as measured or as said; 0: not known */
    uint64_t pairs, pairs_refused; /* of clocks; refused: those on which one of both goes backwards */
    uint64_t early;               /* events that ended before the session began; they are left out */
} prof_track;

typedef struct prof_trace_info {
    const char *program;          /* its name */
    const char *clock;            /* "rdtsc", "rdtsc ordered", "cntvct", "clock_gettime", ... */
    uint64_t pid, parent_pid;     /* parent_pid: of the process that made this one; 0 if not known */
    uint64_t start_unix_ns;       /* Unix time of start_ns == 0 */
    int64_t duration_ns;          /* from the start to the last event known */
    uint64_t event_count;         /* over all tracks */
    uint64_t lost, lost_args;     /* events, over all tracks, those included that never got a chunk; and by themselves
                                     arguments, those of lost events among them. Both found no room, or interrupted
                                     another macro of their thread */
    uint64_t overwritten_chunks;  /* PROF_RING: older chunks that were reused */
    uint64_t lost_blocks;         /* parts of the file, of some thousand events each, that cannot be read: the file was
                                     cut or damaged, or they were overwritten since the trace was opened */
    uint64_t unmatched;           /* ends, and arguments, that fit no open scope and were left out; an argument's scope
                                     may have begun before the recording, or be lost */
    uint64_t sites_lost, taken_back; /* call sites or names for which the image had no room; scopes that were shorter
                                     than min_duration */
    uint64_t buffer_size, chunk_size;
    prof_mode mode;
    uint64_t tick_hz;             /* of the clock, as measured */
    double clock_resolution_ns;   /* smallest step seen */
    double scope_cost_ns, call_cost_ns; /* of one scope, begin and end, measured by prof_start on this machine; of one
                                     call of a function with the hooks of -finstrument-functions, 0: it has none */
    int complete;                 /* 0: the session was not stopped (running, or the process died) */
    uint64_t write_failures;      /* writes that failed while recording (PROF_STREAM, dump_period); they are tried
                                     again */
    const char *write_error;      /* why the last of them did, in the system's words; "" if none */
    int64_t from_ns, to_ns;       /* the window; to_ns 0: to the end. All other figures are those of the whole trace */
    uint64_t folded, open;        /* PROF_STATS: events that are in the statistics, and scopes that are open, which
                                     count as truncated; the trace has no events and no tracks. PROF_RING_STATS: of a
                                     live trace, likewise, but it has the newest */
    uint64_t start_monotonic_ns;  /* CLOCK_MONOTONIC of start_ns == 0 */
    const char *boot_id;          /* traces of equal ids share that clock; "": unknown */
} prof_trace_info;

#define PROF_IMAGE_LOOK 4096 /* see prof_image_find() */

#if PROF_ENABLE
/* path: an image (.prof) of this or an earlier run; it may still be recorded into. */
PROF_DEF prof_status prof_trace_open(const char *path, prof_trace **trace);
/* The running session as it is now, or the last one. */
PROF_DEF prof_status prof_trace_live(prof_trace **trace);
/* An image in memory, for example from PROF_FREESTANDING or a dump. Copies it. */
PROF_DEF prof_status prof_trace_memory(const void *image, size_t size, prof_trace **trace);
PROF_DEF void prof_trace_close(prof_trace *trace); /* null is fine */

/* Limits what cursors that are opened from now on yield, and so all reports and exporters, to from_ns <= time < to_ns
   (0: to the end; both 0: everything again). Scopes that reach in are cut to it and marked PROF_TRUNCATED_BEGIN or
   _END, so that they count in no statistics of durations; one that was open all the time is there, too, even if it is
   still open and its thread has recorded nothing since. Frames count where they end, and are cut likewise. Tracks and
   prof_trace_info go on describing the whole trace: a cursor may yield less than event_count. Not while another thread
   reads the trace. */
PROF_DEF prof_status prof_trace_window(prof_trace *trace, int64_t from_ns, int64_t to_ns);

/* Puts traces on one timeline: offsets[i] >= 0 is to be added to the times of traces[i]. Those recorded since the same
   start of a machine are aligned by CLOCK_MONOTONIC, exact to some 100 ns; others by Unix time, as right as their
   clocks were. Returns how many machine starts there are: 1 means that all are aligned exactly. */
PROF_DEF size_t prof_trace_align(const prof_trace *const *traces, size_t count, int64_t *offsets);

/* Calls step for each part of the trace that a cursor has read, which is to say about every 1000 events, with its share
   of the whole. A report reads everything once, some more. Not for traces that several threads read. */
PROF_DEF void prof_trace_watch(prof_trace *trace, void (*step)(void *user, double share), void *user);

/* Images inside other files: core dumps, copies of memory, damaged images. PROF_OK if one begins at bytes, of which
   `size` are there (PROF_IMAGE_LOOK or more, or all that are left); *image_size: bytes of the whole, or the most that
   there can be if its archive has wrapped round. */
PROF_DEF prof_status prof_image_find(const void *bytes, size_t size, uint64_t *image_size);
/* Changes the first PROF_IMAGE_LOOK bytes of an image of which only `left` bytes exist, so that these are an image by
   themselves; *image_size: its bytes. PROF_CORRUPT if nothing recorded is among them. */
PROF_DEF prof_status prof_image_shorten(void *bytes, uint64_t left, uint64_t *image_size);
/* A consistent copy of an image as another file, also if it is being recorded into. from_ns, to_ns: the window with
   which it opens, see prof_trace_window(); from_ns -1: as it was. */
PROF_DEF prof_status prof_image_copy(const char *from, const char *to, int64_t from_ns, int64_t to_ns);
/* Gives an image in memory such a window. */
PROF_DEF prof_status prof_image_window(void *bytes, size_t size, int64_t from_ns, int64_t to_ns);

PROF_DEF const prof_trace_info *prof_trace_about(const prof_trace *trace);
/* What prof_set_metadata() had set, in the order of the keys' first setting; and if there is a rank "rank", and "host",
   the machine's name, unless that was set. 0 beyond the last. */
PROF_DEF int prof_trace_metadata(const prof_trace *trace, size_t index, const char **key, const char **value);
PROF_DEF size_t prof_trace_track_count(const prof_trace *trace);
PROF_DEF const prof_track *prof_trace_track(const prof_trace *trace, size_t index); /* null beyond the last */

/* The events of one track in order of time, a parent before its children. Memory: one chunk and the open scopes. */
PROF_DEF prof_status prof_cursor_open(const prof_trace *trace, size_t track, prof_cursor **cursor);
PROF_DEF int prof_cursor_next(prof_cursor *cursor, prof_event *event); /* 0 at the end */
PROF_DEF void prof_cursor_close(prof_cursor *cursor);                  /* null is fine */

/* The events of all tracks in order of time, those of one track as its cursor gives them; what has the same time, in
   the order of the tracks. Memory: a cursor for each track that has begun and not ended at the moment that has been
   reached. */
PROF_DEF prof_status prof_timeline_open(const prof_trace *trace, prof_timeline **timeline);
/* track: whose event it is, as in prof_trace_track(); may be null. 0 at the end, or without memory for a cursor. */
PROF_DEF int prof_timeline_next(prof_timeline *timeline, prof_event *event, size_t *track);
PROF_DEF prof_status prof_timeline_close(prof_timeline *timeline); /* how it went; null is fine */

/* Spans in the order of their ends, and marks between them; then those still open, in the order of their begins. An end
   belongs to the newest open span of its name and id; tasks and frames of handles keep to themselves. Nothing is
   dropped: an end without a begin is a span from the first thing known of the trace on, a begin without an end reaches
   to the last, both flagged, as are those that reach beyond the window. What has the same time on several tracks is
   taken in the order of the tracks, but that an end which finds no open span waits for a begin of that very time.
   Memory: prof_timeline's, and the open spans. */
PROF_DEF prof_status prof_spans_open(const prof_trace *trace, prof_spans **spans);
PROF_DEF int prof_spans_next(prof_spans *spans, prof_span *span); /* 0 at the end, or without memory */
PROF_DEF prof_status prof_spans_close(prof_spans *spans);         /* how it went; null is fine */
#endif
