// xplane/state: What is known of a file while it is written.
#ifndef PROF__XPLANE_STATE_H
#define PROF__XPLANE_STATE_H
#include "api/read.h"
#include "api/types.h"
#include "api/values.h"
#include "ground/hash.h"
#include "ground/out.h"
#include "xplane/api.h"

#define PROF__XPLANE_NAMES 65536u                   /* names made at run time that a plane may have */
#define PROF__XPLANE_AHEAD 8                        /* so many events before its own a name is looked for */
#define PROF__XPLANE_FRAMES 64                      /* lines for frames that a plane may have */
#define PROF__XPLANE_CUSTOM 300                     /* ids of our custom planes; those above 200 come after the host */
#define PROF__XPLANE_DERIVED ((uint64_t)0xDEADBEEF) /* XProf counts no ops on lines with ids from this one to +7 */
#define PROF__XPLANE_STATE_LINES ((uint64_t)1 << 31) /* ids of lines of states: above those of Linux's threads */
#define PROF__XPLANE_MANY 16                        /* a call site with more names than this has one op ... */
#define PROF__XPLANE_AGAIN 4                        /* ... unless its names were used so often, on average */
#define PROF__XPLANE_GPU_COUNTERS (PROF__XPLANE_DERIVED + 6) /* lines of an accelerator; XProf derives others there */
#define PROF__XPLANE_STEPS ((uint64_t)3 << 33)      /* the first id of flows from steps; has five bytes, too */
#define PROF__XPLANE_END (INT64_MAX / 1000)         /* the latest ns, as XProf counts picoseconds in 63 bits */
#ifndef PROF__XPLANE_KEEP
#define PROF__XPLANE_KEEP ((size_t)64 << 20)        /* bytes of events kept from measuring to writing */
#endif
#ifndef PROF__XPLANE_MOST
#define PROF__XPLANE_MOST ((uint64_t)0x7FFF0000)    /* bytes of all planes; protobuf reads less than 2 GiB */
#endif
#define PROF__XPLANE_NO_GPU 127 /* the number of what is no accelerator; has one byte, as theirs */
#define PROF__XPLANE_FLOW ((uint64_t)1 << 34)       /* the first id of flows, chosen so that each id has five bytes */

/* Tags of protobuf fields: the field's number << 3 | its wire type. */
enum {
    PROF__XSPACE_PLANE = 0x0A, PROF__XSPACE_WARNING = 0x1A, PROF__XSPACE_HOST = 0x22,
    PROF__XPLANE_NUMBER = 0x08, PROF__XPLANE_NAME = 0x12, PROF__XPLANE_LINE = 0x1A, PROF__XPLANE_EVENT_NAME = 0x22,
    PROF__XPLANE_STAT_NAME = 0x2A, PROF__XPLANE_STAT = 0x32,
    PROF__XLINE_NUMBER = 0x08, PROF__XLINE_NAME = 0x12, PROF__XLINE_TIME = 0x18, PROF__XLINE_EVENT = 0x22,
    PROF__XLINE_SHOWN = 0x5A, PROF__XLINE_SHOWN_NUMBER = 0x50,
    PROF__XLINE_FILLER = 0x7A, /* field 15, which the format lacks, so that readers skip it */
    PROF__XEVENT_NAME = 0x08, PROF__XEVENT_OFFSET = 0x10, PROF__XEVENT_DURATION = 0x18, PROF__XEVENT_STAT = 0x22,
    PROF__XSTAT_NAME = 0x08, PROF__XSTAT_DOUBLE = 0x11, PROF__XSTAT_UINT = 0x18, PROF__XSTAT_INT = 0x20,
    PROF__XSTAT_TEXT = 0x2A,
    PROF__XNAME_ID = 0x08, PROF__XNAME_NAME = 0x12, PROF__XNAME_SHOWN = 0x22, PROF__XNAME_STAT = 0x2A,
    PROF__XMAP_KEY = 0x08, PROF__XMAP_VALUE = 0x12
};

/* The stats that this header writes. prof__xplane_stats has their names. The stats of arguments have the ids after
   them. */
enum {
    PROF__STAT_ROOT = 1, PROF__STAT_STEP, PROF__STAT_OUT_TYPE, PROF__STAT_OUT, PROF__STAT_IN_TYPE, PROF__STAT_IN,
    PROF__STAT_ASYNC, PROF__STAT_FLOW, PROF__STAT_SOURCE, PROF__STAT_CATEGORY, PROF__STAT_TRUNCATED, PROF__STAT_SCOPE,
    PROF__STAT_SEVERITY, PROF__STAT_LOST, PROF__STAT_VALUE, PROF__STAT_NAME, PROF__STAT_FRAME, PROF__STAT_SPAN,
    PROF__STAT_ENDED, PROF__STAT_THREAD, PROF__STAT_POINT, PROF__STAT_POOL, PROF__STAT_LIVE, PROF__STAT_PEAK,
    PROF__STAT_ASKED, PROF__STAT_BYTES, PROF__STAT_ADDRESS, PROF__STAT_OP, PROF__STAT_REGION, PROF__STAT_SHAPE,
    PROF__STAT_PID, PROF__STAT_BEGIN, PROF__STAT_END, PROF__STAT_LAUNCH, PROF__STAT_KERNEL, PROF__STAT_PROCESSOR,
    PROF__STAT_LEFT, PROF__STAT_DEVICE, PROF__STAT_COUNT
};

static const char *const prof__xplane_stats[PROF__STAT_COUNT] = {
    "", "_r", "step_num", "_pt", "_p", "_ct", "_c", "_a", "flow", "source", "category", "truncated", "scope",
    "severity", "lost", "value", "name", "frame", "span_id", "ended on thread", "thread", "flow_id", "allocator_name",
    "bytes_allocated", "peak_bytes_in_use", "requested_bytes", "allocation_bytes", "addr", "tf_op", "region_type",
    "shape", "process_id", "profile_start_time", "profile_stop_time", "correlation_id", "kernel_details",
    "on processor", "bytes_available", "device_id"};

/* What an event's name is about. XProf counts each name of the form name:type as an op. So scopes have names of that
   form, and nothing else has. */
typedef enum prof__xplane_what {
    PROF__XPLANE_SCOPE = 0, /* "forward:nn": the name and the category */
    PROF__XPLANE_STEP,      /* "./train:step": a scope that is added inside a step without scopes */
    PROF__XPLANE_MARK,      /* "mark: saved", and the following ones alike */
    PROF__XPLANE_MESSAGE,
    PROF__XPLANE_POINT,
    PROF__XPLANE_FRAME,
    PROF__XPLANE_SPAN,
    PROF__XPLANE_LOCK,
    PROF__XPLANE_ROOT,    /* a step; not changed: XProf makes "train 5" of it */
    PROF__XPLANE_KERNEL,  /* work of an accelerator; not changed: XProf knows names such as MEMCPYHtoD */
    PROF__XPLANE_COUNTER, /* not changed, but for characters that XProf does not escape; its first stat is the value */
    PROF__XPLANE_PLAIN    /* not changed */
} prof__xplane_what;

typedef enum prof__xplane_kind {
    PROF__XPLANE_THREAD = 0,
    PROF__XPLANE_COUNTERS,
    PROF__XPLANE_MEMORY,
    PROF__XPLANE_DEVICE_MEMORY,
    PROF__XPLANE_POOLS, /* the live bytes of pools, as counters */
    PROF__XPLANE_FRAMES_OF,
    PROF__XPLANE_HANDLE,
    PROF__XPLANE_SPANS,
    PROF__XPLANE_LOCKS,
    PROF__XPLANE_STEP_TIMES, /* the times of steps, for an accelerator */
    PROF__XPLANE_STATES_OF   /* what the system did with a thread */
} prof__xplane_kind;

typedef struct prof__xplane_bytes {
    unsigned char *data;
    size_t size, capacity;
    int failed; /* 1: memory ran out */
} prof__xplane_bytes;

/* The metadata of events with one name. The id is the index plus 1. */
typedef struct prof__xplane_name {
    const prof_callsite *site; /* NULL: the name belongs to no call site */
    char *text;                /* owned: a name made at run time; NULL: the call site's name */
    uint64_t key;              /* prof__text_key() of text, which says whether two texts are equal; 0: no text */
    prof__xplane_what what;
    uint64_t uses;             /* how often a name made at run time occurs; counted while lines are measured */
} prof__xplane_name;

/* The name that events of a call site have had last, without one made at run time. */
typedef struct prof__xplane_site_name {
    prof__xplane_what what;
    uint32_t id; /* 0: none */
} prof__xplane_site_name;

/* The names that a call site has made at run time. */
typedef struct prof__xplane_group {
    const prof_callsite *site;
    uint64_t names, uses;
} prof__xplane_group;

/* The metadata of stats for an argument with one key. The id is PROF__STAT_COUNT plus the index. */
typedef struct prof__xplane_key {
    char *text;  /* owned */
    size_t last; /* the index of the last argument with this key in the present event */
} prof__xplane_key;

typedef struct prof__xplane_line {
    prof__xplane_kind kind;
    size_t track;
    const char *name; /* the name of the frames on the line */
    uint64_t id;      /* of HANDLE: the frame object's id; of STEP_TIMES: the row of the steps; else 0 */
    uint64_t size;    /* bytes of all its events */
    size_t kept;      /* offset of its events in prof__xplane.kept, plus 1; 0: they are not kept, but made again */
} prof__xplane_line;

typedef struct prof__xplane_track {
    uint32_t id;
    uint32_t groups; /* bit n: the track has events of group n */
    uint32_t *flows; /* of each of its points of flows, in order: the number of the flow */
    size_t flow_count, flow_capacity, flow_next;
    uint8_t gpu; /* the number of its accelerator, or PROF__XPLANE_NO_GPU */
    size_t step_first, step_next; /* indices in prof__xplane.steps: its first step, and how many were met */
    int64_t step_end;             /* the end of its last step that has a row, plus 1; 0: none has */
} prof__xplane_track;

/* A step, to which work of accelerators may be assigned. */
typedef struct prof__xplane_step {
    int64_t start, end;
    size_t number, track;
    uint64_t row; /* the row for steps on accelerators' lines, from 1; 0: none, as another step encloses it */
    const prof_callsite *site;
    char *text;   /* owned: the name, if it was made at run time; else NULL */
} prof__xplane_step;

/* A scope that is held back until the next event is known, which may be a point of a flow or the first scope in a
   step. */
typedef struct prof__xplane_held {
    int held, step, flow; /* flow: 1: a point of a flow was added to it */
    int op, details, launch; /* 1: its arguments have tf_op; details of its kind; correlation_id */
    uint32_t id, depth, shorter; /* shorter: in picoseconds: see prof__xplane_shorter() */
    int64_t start, duration;
    const prof_callsite *site;
} prof__xplane_held;

/* A scope on the present line that may enclose the next one. */
typedef struct prof__xplane_open {
    int64_t start, end;
    uint32_t depth, shorter;
} prof__xplane_open;

typedef struct prof__xplane {
    prof__out out;
    const prof_trace *trace;
    const prof_trace_info *about;
    prof_xplane_options options;
    int64_t offset; /* what is added to the trace's times to get those of the run */
    int64_t from;   /* when the trace's window begins, in its own time; times of events count from there */
    int64_t later;  /* that moment in the run's time, which begins with the earliest window */
    uint64_t start_unix_ns; /* the Unix time at which the run's time begins: the stat profile_start_time */
    prof__xplane_track *tracks;
    int writing;          /* 0: measures: only adds up sizes; 1: writes */
    uint64_t left;        /* how many more bytes the line may have */
    uint64_t size;        /* how many bytes of the present line were measured */
    uint64_t total;       /* how many bytes the planes have so far */
    int changed;          /* 1: a line was written with another size than was measured */
    prof_status status;
    /* what was found while the lines of threads were measured */
    int flows_done;
    uint32_t flow_serial;
    uint8_t *flow_gpus; /* of each flow: the number of the accelerator that it leads to */
    size_t flow_gpu_capacity;
    uint64_t late;
    uint64_t frames_out; /* how many names of frames got no line */
    int accelerators;    /* how many rows belong to accelerators */
    prof__xplane_step *steps; /* if there are accelerators: the host's steps, in the end sorted by their begins */
    size_t step_count, step_capacity, step_rows;
    prof__xplane_open *open;
    size_t open_count, open_capacity;
    size_t track;        /* the track that is being read */
    uint64_t key;        /* prof__cursor_key() of its present event; 0: not known */
    /* fields of the present plane */
    int custom; /* how many custom planes there are so far */
    int gpus;   /* how many planes of accelerators there are so far */
    int gpu;    /* 1: this plane is one of an accelerator */
    uint64_t room; /* bytes of the device whose allocations are written; 0: not known */
    int states; /* 1: lines of threads have lines of states beside them */
    const char *device; /* the device whose counters it has; NULL: the counters of threads */
    prof__xplane_line *lines;
    size_t line_count, line_capacity, measured;
    prof__xplane_name *names;
    size_t name_count, name_capacity, text_count;
    prof__read_index name_index;
    prof__xplane_group *groups;
    size_t group_count, group_capacity;
    prof__read_index group_index;
    prof__xplane_key *keys;
    size_t key_count, key_capacity;
    prof__read_index key_index;
    uint64_t used; /* bit n: stat n is used */
    prof__xplane_site_name *sites; /* of each call site of the trace; NULL: no memory for it: slower */
    prof__xplane_line frames[PROF__XPLANE_FRAMES];
    size_t frame_count;
    prof__xplane_held held;
    prof__xplane_bytes stats;  /* the stats of the event that is being made or held back */
    prof__xplane_bytes point;  /* the stats of an event that is no scope */
    prof__xplane_bytes meta;   /* the plane without its lines */
    prof__xplane_bytes kept;   /* events of measured lines, until they are written */
    size_t kept_before;        /* the size of `kept` before the present line */
    int keeping;
    prof__xplane_bytes part, entry, text, joined;
} prof__xplane;

#define PROF__XPLANE_STATS_MAX 64 /* how many bits `used` has */
typedef char prof__xplane_stats_fit[PROF__STAT_COUNT <= PROF__XPLANE_STATS_MAX ? 1 : -1];

#endif /* PROF__XPLANE_STATE_H */
