// read/trace: How an image becomes a trace, and what a trace keeps.
#ifndef PROF__READ_TRACE_H
#define PROF__READ_TRACE_H
#include "api/read.h"
#include "ground/hash.h"
#include "ground/symbols.h"
#include "image/format.h"

/*-- READER ---------------------------------------------------------------------------------------------- >>reader --
   An image goes through these steps once, in prof__read_parts():
     1. the header is checked, so that meta and chunks lie inside the image and apart from each other;
     2. meta becomes call sites whose equal ones share one address, and equal names one number;
     3. the blocks of the archive and the valid chunks are cut into segments, each the records of one track in one
        chunk. Most are outlined at once: what they do to the matcher, see read/outline;
     4. clock pairs become a piecewise linear map from ticks to nanoseconds;
     5. a matcher runs over each track and remembers only what a single segment cannot show: the ends and arguments of
        scopes that cross into later segments, the ENDs that close another number of scopes than one, and the scopes
        that began before the track's first segment ("orphans": only their ends are left). It reads the words only of
        segments without an outline.
   After that nothing changes any more. A cursor loads one segment at a time.

   The archive may be far larger than memory. So only these tables stay in memory, and prof__read_words() reads a block
   each time its words are needed. The same holds for the segments of a large ring whose recording has ended. Words that
   are no longer there (the file was cut, or a rotating archive overwrote them) are left out and counted; those of their
   scopes that the tables know stay. */

#include <limits.h>
#ifndef _WIN32
#include <sys/ioctl.h>
#endif

#define PROF__TEXT_WORDS 128 /* longer texts of call sites are cut: a viewer's file repeats them in each event */
#define PROF__CHUNK_MAX 1048576 /* bytes; see PROF_CHUNK_SIZE */
#define PROF__CLOSE_MAX PROF__SITE_MASK /* an END can close that many scopes */
#ifndef PROF__READ_WHOLE
#define PROF__READ_WHOLE ((uint64_t)32 << 20) /* bytes; a ring up to this stays in memory */
#endif
#ifndef PROF__OUTLINES
#define PROF__OUTLINES 1 /* 0: the matcher reads all words once more; for tests */
#endif
#define PROF__READ_KEYS 128 /* even */
#define PROF__FAR_NS ((int64_t)1 << 61) /* times saturate here, so that differences never overflow */
#define PROF__CLOSES_LATE (PROF__NONE32 - 1) /* instead of a number: the END of a scope that overlaps */
#define PROF__LATE_END_MAX 65536 /* how many scopes without an end are kept, because a later end makes them overlaps */
#define PROF__LATE_STEPS 64 /* how many of them, of one site, are searched for the right place */
#define PROF__OVERLAPS 8u   /* a node's flag in a cursor: it is the begin of such a scope */
#define PROF__LATE_BIT 0x80000000u /* the same flag in an entry of a cursor's stack */
#define PROF__STILL_OPEN 4u /* an event's flag inside the reader: no enclosing scope has ended, either */

typedef struct prof__read_site {
    prof_callsite about;
    uint32_t name; /* the number of about.name */
} prof__read_site;

/* A call site id that meta does not have. */
typedef struct prof__read_unknown {
    uint32_t id, site;
} prof__read_unknown;

typedef struct prof__read_chunk {
    uint64_t sequence, tick, lost;
    uint64_t mark;        /* of a block: what prof__read_mark() returned for its words, strings terminated */
    uint64_t place;       /* of its first word, in words of the image; of a block, in bytes of the file */
    uint32_t size, words; /* size: of a block, else 0; PROF__NONE32: it has vanished */
    uint8_t owned;        /* 1: a thread still had it */
    uint8_t texts;        /* 1: it may have strings */
    uint8_t jumps;        /* 1: the counter began again in it: see prof__read_mend() */
    uint8_t torn;         /* 1: a part of it is missing, and what is there ends before that */
    uint8_t open;         /* 1: its thread had not left it */
} prof__read_chunk;

struct prof__read_segment;

/* The words of the block, or of the segment, that was asked for last. */
typedef struct prof__read_buffer {
    uint64_t *words;
    char *block;
    size_t chunk; /* the chunk that they are of, from 1; 0: none, or words of a segment */
    const struct prof__read_segment *segment;
} prof__read_buffer;

typedef struct prof__read_segment {
    uint64_t track, serial;
    uint64_t tick;   /* its first known time: when the track took the chunk, else the first record's; or ~0 */
    uint64_t record; /* the first record's; or ~0 */
    uint64_t mark;   /* prof__read_mark() of its words, if it is read when it is wanted */
    uint32_t chunk;
    uint32_t first, end; /* words of the chunk, from the TRACK record on */
    uint32_t name;       /* string id */
    int32_t depth;       /* open scopes at its end, less the orphans that were closed so far; until the matcher knows
                            that: its outline, from 1; 0: none */
    uint8_t fiber;
    uint8_t of_system;   /* 1: so is the name */
    uint8_t last;        /* 1: the chunk has no later segment, so that the chunk's losses belong here */
    uint8_t gap;         /* 1: something is missing before it */
} prof__read_segment;

/* A BEGIN without its END in the segment, or an END without its BEGIN. */
typedef struct prof__read_half {
    uint64_t tick;       /* of an END */
    uint32_t site, word; /* word: of a BEGIN */
    uint32_t args;       /* of a BEGIN: those in the segment */
} prof__read_half;

/* What a segment does to the matcher, which then need not read its words. Most segments have one: nothing in them but
   some ENDs concerns earlier segments. */
typedef struct prof__read_outline {
    uint64_t tick, lost; /* tick: of its last record */
    size_t half;         /* its ENDs, then its BEGINs */
    uint32_t ends, begins, nodes, args, most_args;
    int32_t deepest; /* the most open scopes at a time, less those at its beginning; or 0 */
    int spans;
} prof__read_outline;

/* A scope that is open at the end of the segment in which it began. */
typedef struct prof__read_crossing {
    int64_t end_ns;
    size_t link; /* its first argument in a later segment, PROF__NONE */
    uint32_t flags;
    uint32_t segment; /* where it began, counted from the track's first */
} prof__read_crossing;

/* A scope of which only the end is left. */
typedef struct prof__read_orphan {
    int64_t end_ns;
    size_t link; /* its first argument */
    uint64_t id;
    uint32_t site;
} prof__read_orphan;

/* An END that does not close one scope, but none or several; or an ARG whose scope is not the innermost. */
typedef struct prof__read_exception {
    uint32_t segment, word; /* segment: counted from the track's first */
    uint32_t closes; /* of an ARG: how far out, from 1; 0: no scope */
} prof__read_exception;

/* A scope that ended after an enclosing one. Begins and ends are found in different orders, so that a track has a list
   of each. */
typedef struct prof__read_late_begin {
    uint32_t segment, word; /* segment: counted from the track's first */
} prof__read_late_begin;

typedef struct prof__read_late_end {
    uint64_t id; /* of the begin */
} prof__read_late_end;

/* An ARG record that belongs to a scope of an earlier segment. */
typedef struct prof__read_link {
    size_t next;
    size_t record; /* its copy among the kept words */
} prof__read_link;

/* From tick on, time is ns + (t - tick) * factor / 2^shift. */
typedef struct prof__read_line {
    uint64_t tick, factor;
    int64_t ns;
    unsigned shift;
} prof__read_line;

/* An event of a device. prof__device_tracks() sets start_ns to depth. */
typedef struct prof__read_device_record {
    int64_t start_ns, end_ns;
    uint64_t time, number, flow; /* ticks of the device; of a scope its ticks, of a counter its value; 0: no flow */
    uint64_t tick, id;           /* tick: the host's, when it was recorded */
    size_t args;                 /* the first record of its arguments among the kept words */
    uint32_t device, row, subrow, depth;
    uint32_t name, site, arg_count;
    uint8_t type, value, flags;  /* PROF__DEVICE_..., or 0: see prof__device_tracks(); prof_value_type */
} prof__read_device_record;

/* number: its number in records; everywhere else a device or row is an index in the trace's list. */
typedef struct prof__read_device {
    uint32_t number, name;
    int wraps;
    uint64_t mask, hz; /* hz: as stated; 0: not known */
    double rate;       /* ticks per second */
    prof__read_line *lines;
    size_t line_count;
    prof_alignment alignment;
    uint64_t pairs, refused;
    size_t first; /* the event that was recorded first, from 1; 0: none */
} prof__read_device;

typedef struct prof__read_row {
    uint32_t number, name, device;
    uint64_t early;
} prof__read_row;

typedef struct prof__read_pairing {
    uint64_t tick;
    int64_t ns; /* since the session's start */
    uint32_t device;
} prof__read_pairing;

typedef struct prof__read_track {
    prof_track about;
    /* Events of a device: the first, and how many. In its track all other fields but about and max_event_args are 0. */
    size_t device_record, device_record_count;
    uint64_t tick; /* the first time known of the track */
    size_t segment, segment_count;
    size_t crossing, crossing_count;
    size_t exception, exception_count;
    size_t late, late_count; /* in both lists */
    size_t orphan, orphan_count;
    size_t max_nodes, max_args, max_event_args, max_depth, frames; /* the memory that a cursor needs */
    int lives; /* 1: its thread has not ended, so that scopes without an end are open */
} prof__read_track;

struct prof__stat_row;

/* The numbers of events whose cost differs from that of a scope with a constant name. */
typedef struct prof__uses {
    uint64_t texts, formats; /* scopes with a name made at run time, without and with a format */
    uint64_t marks, objects; /* events that are no scopes: without and with an object */
    uint64_t values;         /* arguments; one of a scope, which must be found, counts twice */
} prof__uses;

/* A time in which the counter and the system's clock disagree: the machine slept, was stopped and restored, or the
   counter began again. */
typedef struct prof__read_gap {
    uint64_t from, to;       /* ticks between which it lies */
    uint64_t monotonic_ns;   /* from then on times are later than CLOCK_MONOTONIC says... */
    int64_t added_ns;        /* ...by this much: the counter went on, and that clock did not */
    int64_t ns;              /* how long it was, at most if `restarts` */
    int64_t from_ns, to_ns;  /* between which times it lies */
    int restarts;            /* 1: the counter began again */
} prof__read_gap;

/* From a time on, what is added to ticks, because the counter began again. */
typedef struct prof__read_epoch {
    uint64_t monotonic_ns, shift;
} prof__read_epoch;

struct prof_trace {
    /* What most functions use comes first: its offsets fit into a byte of the code. */
    prof__read_chunk *chunks;
    prof__read_site *sites; /* distinct call sites; [0] stands for losses */
    prof__read_track *tracks;
    size_t track_count;
    const char **names; /* distinct texts; [0] is "" */
    uint32_t *strings; /* string id -> name */
    uint32_t *site_ids; /* call site id -> site, PROF__NONE32 */
    prof__read_segment *segments;
    prof__read_line *lines;
    size_t line_count;
    prof__read_device_record *device_records;
    uint64_t *image; /* owned */
    FILE *file;      /* owned: has the archive; NULL: no archive, or it is in memory after the image */
    int paged;       /* 1: image ends before the chunks, which are in file */
    unsigned word_bits; /* of an event's id */
    uint64_t size;   /* bytes of the file, or at image */
    prof__read_crossing *crossings;
    prof__header header;
    struct prof__stat_row *aggregated; /* PROF_STATS: the final statistics, instead of events; owned */
    size_t aggregated_count;
    int64_t *since; /* owned. For each track: statistics count only what ended later; NULL: everything */
    prof_trace_info info;
    size_t chunk_words;
    int partial;        /* older chunks are missing */
    uint64_t keys[PROF__READ_KEYS]; /* of prof__read_mark() */
    int has_spans;      /* 1: some track has an event of a span */
    uint64_t begins_missing, ends_missing; /* PROF_STATS: of spans */
    prof__uses uses;    /* PROF_STATS */
    int64_t newest_ns;  /* the last time at which open scopes are known to have been open */
    size_t chunk_count, chunk_capacity;
    prof__read_index sequences; /* of the chunks */
    prof__read_buffer buffer;   /* while the trace is made */
    prof__pair *pairs;          /* while the trace is made: the pairs for the clock */
    size_t pair_count, pair_capacity;
    uint64_t pair_ns;           /* their minimum distance */
    uint64_t reached;           /* the largest tick in chunks in which the counter began again */
    uint64_t behind;               /* ticks of a millisecond: a counter that is behind by more has begun again */
    uint64_t start_hz;          /* see PROF__META_RATE; 0: not known */
    prof__read_gap *gaps;
    size_t gap_count, gap_capacity;
    prof__read_epoch *epochs;   /* while the trace is made; [0] is that of the start */
    size_t epoch_count, epoch_capacity;
    prof__pair latest;          /* while the trace is made: the newest of a chunk, with its shifted tick */
    prof__read_outline *outlines; /* while the trace is made */
    size_t outline_count, outline_capacity;
    prof__read_half *halves;      /* while the trace is made */
    size_t half_count, half_capacity;
    size_t name_count, name_capacity;
    prof__read_index name_index;
    size_t string_count;
    struct {
        const char *key, *value; /* names */
    } *metadata;
    size_t metadata_count, metadata_capacity;
    prof__read_index metadata_index;
    struct {
        uint64_t track;
        uint32_t name; /* string id */
    } *threads; /* names that the system has had for threads since their tracks began */
    size_t thread_count, thread_capacity;
    prof__read_index thread_index;
    size_t site_count, site_capacity;
    prof__read_index site_index;
    size_t site_id_count;
    prof__read_unknown *unknown;
    size_t unknown_count, unknown_capacity;
    prof__read_index unknown_index;
    char **texts; /* owned: names invented for unknown sites */
    size_t text_count, text_capacity;
    prof__symbols symbols; /* of the modules of traced functions */
    size_t segment_count, segment_capacity;
    size_t crossing_count, crossing_capacity;
    prof__read_exception *exceptions;
    size_t exception_count, exception_capacity;
    prof__read_late_begin *late_begins;
    prof__read_late_end *late_ends;
    size_t late_begin_count, late_begin_capacity, late_end_count, late_end_capacity;
    prof__read_orphan *orphans;
    size_t orphan_count, orphan_capacity;
    prof__read_link *links;
    size_t link_count, link_capacity;
    uint64_t *kept;
    size_t kept_count, kept_capacity;
    size_t device_record_count, device_record_capacity;
    prof__read_device *devices;
    size_t device_count, device_capacity;
    prof__read_row *rows;
    size_t row_count, row_capacity;
    prof__read_pairing *pairings;
    size_t pairing_count, pairing_capacity;
    void (*step)(void *user, double share); /* of prof_trace_watch() */
    void *step_user;
};

#endif /* PROF__READ_TRACE_H */
