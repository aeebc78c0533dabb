// api/types: Status codes, prof_config and the sinks of writers.
#ifndef PROF__API_TYPES_H
#define PROF__API_TYPES_H
#include "api/options.h"

/*-- TYPES ------------------------------------------------------------------------------------------------ >>types --*/

/* Every function that can fail returns one of these. prof_status_text() explains a value; prof_error() explains the
   last failure of the calling thread, and names the file, key or value that caused it. */
typedef enum prof_status {
    PROF_OK = 0,
    PROF_DISABLED,         /* not returned any more: with PROF_ENABLE=0 functions return PROF_OK */
    PROF_INVALID_ARGUMENT, /* unknown key, value out of range, NULL where it is not allowed */
    PROF_INVALID_STATE,    /* started twice, stopped before started, nothing recorded yet */
    PROF_UNSUPPORTED,      /* known, but not available on this platform or in this build */
    PROF_NO_MEMORY,
    PROF_IO,               /* open, read, write, map, rename: prof_error() has the system's message */
    PROF_CORRUPT,          /* not an image, or an image that contradicts itself */
    PROF_STATUS_COUNT
} prof_status;

typedef enum prof_mode {
    PROF_RING = 0, /* when the buffer is full, the oldest chunk is reused */
    PROF_FILL,     /* when the buffer is full, recording ends and losses are counted */
    PROF_STREAM,   /* a thread packs full chunks into the file after the buffer: everything is kept */
    PROF_STATS,    /* a thread adds full chunks to statistics, and drops them. It takes a processor at 30 million scopes
                      a second; if it gets none, a thread that records sleeps until a chunk is free, up to wait_ns */
    PROF_RING_STATS /* the same, but the thread leaves them in a ring, in which no chunk is reused before that */
} prof_mode;

typedef enum prof_limit {
    PROF_LIMIT_STOP = 0, /* keeps the oldest events; once the buffer is full, too, further ones are lost and counted */
    PROF_LIMIT_ROTATE    /* keeps the newest events */
} prof_limit;

typedef enum prof_clock {
    PROF_CLOCK_AUTO = 0,  /* the processor's counter where it is invariant, else PROF_CLOCK_MONOTONIC */
    PROF_CLOCK_COUNTER,   /* rdtsc, cntvct, rdtime: prof_start() fails if the machine has none that can be trusted */
    PROF_CLOCK_ORDERED,   /* the counter, read in order at scope ends: exact short scopes (see the manual) */
    PROF_CLOCK_MONOTONIC  /* clock_gettime(CLOCK_MONOTONIC), QueryPerformanceCounter */
} prof_clock;

/* What to do with a file that exists when the session starts. */
typedef enum prof_existing {
    PROF_EXISTING_AUTO = 0, /* NUMBER if the name has %p or %t, and so is meant for one run alone, or if this process
                               wrote the file or another is writing it; else REPLACE */
    PROF_EXISTING_REPLACE,  /* replaces it once the new one is complete */
    PROF_EXISTING_NUMBER,   /* keeps it: the new one is trace.2.json, .3, ..., and no two processes get the same one */
    PROF_EXISTING_REFUSE    /* keeps it: prof_start() fails */
} prof_existing;

#define PROF_SECOND 1000000000ull /* in ns: config.delay_ns = 5 * PROF_SECOND */
#define PROF_NEVER UINT64_MAX     /* of a time whose 0 is the default: what the text 0 means */
#define PROF_LEVEL_NONE (-1)      /* of config.level, whose 0 is the default: what the text 0 means */

/* All zero is the default. Strings are read only during prof_start(), and the caller owns them. The comment of a field
   names its key for prof_config_set() and, in capitals, its environment variable; prof_config_describe() has the same
   as data. */
typedef struct prof_config {
    const char *output;       /* output PROF_OUTPUT: file written by prof_stop(); the extension picks the writer: .json
                                 .csv .txt, or .prof, which maps the buffer itself to the file, so that everything
                                 recorded survives even SIGKILL. %p is the process id, %n the program's name, %t the
                                 local time, %h the host's name, %r the rank, %j the cluster's job, %% a percent sign.
                                 If a rank is given, or known to be one of several, and the name has neither %r nor
                                 %p, the rank is put before the extension. Missing directories are created. A
                                 directory, or a name that ends in /, is a log directory for XProf: see
                                 prof_xplane.h. Default: none, the trace stays in memory */
    size_t buffer_size;       /* buffer PROF_BUFFER: bytes, or "64M" as text; 128 KiB to 64 GiB; default 16 MiB,
                                 with Emscripten 4. From Linux 5.14 on, memory and disk are taken as they are used.
                                 prof_start() fails with PROF_IO if the disk has no room for all of a .prof */
    prof_mode mode;           /* mode PROF_MODE: "ring", "fill", "stream", "stats" or "ring+stats". stream needs an
                                 output; that of stats is a .txt */
    prof_clock clock;         /* clock PROF_CLOCK: "auto", "counter", "ordered" or "monotonic" */
    int level;                /* level PROF_LEVEL: call sites of a higher level are off; 1 to 255; default 2.
                                 PROF_LEVEL_NONE (as text 0): all are off until prof_set_level(); devices still
                                 record, see no_devices */
    const char *categories;   /* categories PROF_CATEGORIES: "net,render*,-audio": see prof_category_enable */
    uint64_t min_duration_ns; /* min_duration PROF_MIN_DURATION: a scope that is shorter and has nothing inside is
                                 removed; nanoseconds, or "2us" "1.5ms" as text; default 0, keep all */
    void *memory;             /* record here instead of in memory from the system. prof_start() clears it: no thread may
                                 then still be in a macro of an earlier session there. It must stay as long as a thread
                                 lives that recorded in it. Not with a .prof output */
    size_t memory_size;       /* bytes at memory, instead of buffer_size: from 2 KiB, the first 64-byte boundary on */
    uint64_t clock_hz;        /* PROF_FREESTANDING: ticks per second of PROF_CLOCK_READ() */
    uint64_t max_file_size;   /* max_file_size PROF_MAX_FILE_SIZE: PROF_STREAM: the maximum size of the file in bytes,
                                 buffer included: at least the buffer and 512 KiB; default 0, no limit */
    prof_limit at_limit;      /* at_limit PROF_AT_LIMIT: what happens at that size: "stop" or "rotate" */
    uint64_t wait_ns;         /* wait PROF_WAIT: how long a thread sleeps for a free chunk before its events are lost;
                                 up to 10s. Default 0: PROF_STATS and PROF_RING_STATS 10 s, PROF_STREAM not at all.
                                 PROF_NEVER (as text 0): not at all */
    uint64_t dump_period_ns;  /* dump_period PROF_DUMP_PERIOD: writes output this often, and not only in prof_stop(), so
                                 that a program that is killed leaves a file at most that old; from 10ms; default 0.
                                 A .prof output and PROF_STREAM are always up to date, and don't need it. As text, a
                                 number without a unit is seconds. PROF_NEVER: not, even if it is set later */
    const char *save;         /* save PROF_SAVE: saves the last seconds to this file whenever one of the following, or
                                 prof_save_request(), asks for it. A name like output's, in which %c counts the files:
                                 "slow-%c.json"; without %c each file replaces the one before */
    uint64_t save_last_ns;    /* save_last PROF_SAVE_LAST: how much a save holds; as text seconds, or "500ms"; default
                                 10 s. Without save, too, it starts the thread that makes prof_save_last_ns() cheap and
                                 that prof_save_request_ns() asks */
    const char *save_over;    /* save_over PROF_SAVE_OVER: what must not take longer: "frame>16.7ms,scope:net.*>2ms":
                                 up to 16 of frame, frame:NAME and scope:NAME; in a NAME * stands for any text and ? for
                                 any letter. Needs save */
    uint64_t save_every_ns;   /* save_every PROF_SAVE_EVERY: from one save for save_over to the next, at least; as text
                                 seconds, or "500ms"; default 0, only one save */
    int save_signal;          /* save_signal PROF_SAVE_SIGNAL: a signal that saves; as text also a name, "USR1". An
                                 earlier handler is still called. Needs save. Windows: 1: an event, see the manual */
    int crash_report;         /* crash_report PROF_CRASH_REPORT: 1: when the process dies of a bug, say on stderr what
                                 its threads were doing, and write the image to output with .prof appended: see the
                                 manual */
    uint64_t delay_ns;        /* delay PROF_DELAY: recording begins that long after prof_start(); until then, sites are
                                 off. As text with its unit, "5s"; default 0, at once. This and the next two: not with
                                 PROF_FREESTANDING */
    uint64_t start_unix_ns;   /* start_unix PROF_START_UNIX: recording begins at this Unix time, so that processes begin
                                 together; at once if it has passed. Nanoseconds, or "1767225600s" as text */
    uint64_t duration_ns;     /* duration PROF_DURATION: recording ends that long after it began, and output is written
                                 then; as text with its unit, "10s"; default 0: it ends with prof_stop() */
    uint64_t warmup_steps;    /* warmup_steps PROF_WARMUP_STEPS: recording begins with the step after that many
                                 PROFILE_STEPs */
    uint64_t warmup_frames;   /* warmup_frames PROF_WARMUP_FRAMES: recording begins with the PROFILE_FRAME of this
                                 number, from 1 on. Set only one of the two. Steps or frames with the name that comes
                                 first count, on all threads, from the end of the delay on */
    const char *rank;         /* rank PROF_RANK: what %r stands for, up to 63 bytes; default: the number of the process
                                 that its launcher (MPI, Slurm, torchrun, ...) has put into the environment, else 0 */
    prof_existing existing;   /* existing PROF_EXISTING: what happens to an older file of output's name: "auto",
                                 "replace", "number" or "refuse" */
    int no_sync;              /* no_sync PROF_NO_SYNC: 1: PROFILE_SYNC and PROFILE_SCOPE_SYNC do not wait */
    uint32_t filter_mask;     /* filter_mask PROF_FILTER_MASK: PROFILE_SCOPE_MASK(name, mask) is on if its mask has one
                                 of these bits; as text also "0xff"; default 0, all of them */
    int no_devices;           /* no_devices PROF_NO_DEVICES: 1: what devices report is not recorded */
    const char *layout;       /* layout PROF_LAYOUT: output is this report of prof_report.h, whatever its extension:
                                 "mxnet", "json", "cntk", "cntk-detail", "domains", "histogram" or "paths"; "cntk" and a
                                 directory, "profiler/": both of CNTK's files; PROF_LAYOUT=cntk alone starts a recording
                                 to that one. Default: the extension decides */
    uint64_t waits_ns;        /* waits PROF_WAITS: with PROF_WRAP_WAITS, and in libprof.so: the shortest wait that is
                                 recorded; "10us" as text; default 10 us. PROF_NEVER (as text 0): no waits */
    uint32_t private_keys;    /* what keys of other systems have asked for, so that a later one can undo it */
    double save_last;         /* deprecated: seconds, for save_last_ns, which wins */
    double save_every;        /* deprecated: seconds, for save_every_ns, which wins */
    int switches;             /* switches PROF_SWITCHES: 1: records when the system ran each thread of the process, and
                                 when it did not: see prof_system.h, which the program must include */
    int system;               /* system PROF_SYSTEM: 1: all of prof_system.h that is cheap: switches and counters, and
                                 samples at their default rate */
    int counters;             /* counters PROF_COUNTERS: 1: records ten times a second what the system counts: loads,
                                 memory, page faults, what a container's limits did: see prof_system.h */
    int samples;              /* samples PROF_SAMPLES: how often in a second of its own running time each thread says
                                 where it is, up to 10000; 1: the default rate, 500; 0: not. See prof_system.h */
    int faults;               /* faults PROF_FAULTS: 1: records for which pages threads waited until they were read from
                                 a disk, and when the system ran each thread: see prof_system.h */
    const char *ranks;        /* ranks PROF_RANKS: which ranks of a job are recorded as mode says, "0,3,8-15". All
                                 others have mode stats and a table as output: rank-4.txt where output is
                                 rank-%r.prof. Default: all ranks. A process without a rank is rank 0 */
} prof_config;

/* One key of prof_config_set(). All texts are static. */
typedef struct prof_option {
    const char *key;
    const char *type;       /* "text", "size", "choice", "number", "time", "signal", "switch" or "mask" */
    const char *values;     /* the valid values */
    const char *standard;   /* the default; "": none */
    const char *meaning;
    const char *system;     /* "": prof's own; or "CNTK", "MXNet", "TensorFlow", "JAX", "Neuron" */
    const char *native_key; /* for a key of another system: the key of prof that it sets; "": none */
    char environment[40];   /* "PROF_BUFFER"; "": none */
} prof_option;

/* A call site: one static record for each use of a macro. Fields that begin with private_ belong to the recorder, the
   others are constant. In C++ all modules share the static variables of an inline function, which would keep a plugin
   with such a function from being unloaded, unless the type of the variables is hidden. */
#ifdef __cplusplus
#define PROF__SITE_TYPE PROF__HIDDEN
#else
#define PROF__SITE_TYPE
#endif
typedef struct PROF__SITE_TYPE prof_site {
    uint64_t private_state;
    const char *name, *category, *file, *function;
    uint32_t line, color; /* color: 0xRRGGBB, 0 for the viewer's choice */
    uint16_t level, kind;
    uint32_t private_session, private_name;
    uint32_t unmask; /* the bits that the mask of PROFILE_SCOPE_MASK lacks; 0: it has all, as for every other macro */
} prof_site;

typedef struct prof_fiber prof_fiber; /* a track of its own: see prof_fiber_create() */
#define PROF_FIBER_SIZE 640           /* bytes */

/* see >>objects */
typedef struct prof_domain prof_domain;
typedef struct prof_task prof_task;
typedef struct prof_frame prof_frame;
typedef struct prof_range prof_range;
typedef struct prof_counter prof_counter;
typedef struct prof_marker prof_marker;

typedef enum prof_mark_reach { /* what an instant is about */
    PROF_MARK_THREAD = 0,      /* its thread */
    PROF_MARK_GLOBAL,          /* all processes */
    PROF_MARK_PROCESS,
    PROF_MARK_TASK,
    PROF_MARK_MARKER,          /* the point alone */
    PROF_MARK_REACH_COUNT
} prof_mark_reach;

#endif /* PROF__API_TYPES_H */
