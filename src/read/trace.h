// read/trace: The tables of a trace, and the steps that make them from an image.
#ifndef PROF__READ_TRACE_H
#define PROF__READ_TRACE_H
#include "api/read.h"
#include "ground/hash.h"
#include "ground/symbols.h"
#include "image/format.h"

/*-- READER ---------------------------------------------------------------------------------------------- >>reader --
   An image becomes a trace in these steps, once, in prof__read_parts():
     1. The header is checked, so that meta and chunks lie inside the image and do not overlap.
     2. Meta becomes a list of call sites and a list of names, each with every distinct one once.
     3. The blocks of the archive and the valid chunks of the ring are cut into segments. A segment has the records of
        one track in one chunk. Most segments get a summary while they are cut, which tells the matcher what it needs
        (see read/segment_summary).
     4. Clock pairs become a piecewise linear function from ticks to nanoseconds.
     5. The matcher runs over each track and finds the begin that each end belongs to. It remembers only what a single
        segment cannot show: the ends and arguments of scopes that continue in later segments, the END records that do
        not close exactly one scope, and the ends of scopes that began before the track's first segment (unmatched
        ends). It reads the words only of segments without a summary.
   Afterwards the trace does not change any more. A cursor loads one segment at a time.
   The archive may be far larger than memory. So only these tables stay in memory, and prof__read_words() reads a block
   each time its words are needed. The same applies to the segments of a large ring whose recording has ended. Words may
   be gone by then, because the file was truncated or a rotating archive has overwritten them. They are left out and
   counted as lost; scopes that the tables know stay. */

#include <limits.h>
#ifndef _WIN32
#include <sys/ioctl.h>
#endif

/* Words; longer texts of call sites are cut, because viewers' files repeat them in each event. */
#define PROF__TEXT_WORDS 128
#define PROF__CHUNK_MAX 1048576 /* bytes; the largest size of a chunk */
#define PROF__CLOSE_MAX PROF__SITE_MASK /* the most scopes that one END can close */
#ifndef PROF__READ_WHOLE
#define PROF__READ_WHOLE ((uint64_t)32 << 20) /* bytes; an image up to this size is read into memory as a whole */
#endif
#ifndef PROF__SEGMENT_SUMMARIES
#define PROF__SEGMENT_SUMMARIES 1 /* 0: no summaries: the matcher reads all words; for tests */
#endif
#define PROF__READ_KEYS 128 /* number of random keys of prof__read_mark(); even */
/* The largest time; later ones become this, so that differences never overflow. */
#define PROF__FAR_NS ((int64_t)1 << 61)
/* In place of a count: this END ends a scope that overlaps its enclosing one. */
#define PROF__CLOSES_LATE (PROF__NONE32 - 1)
/* How many scopes without an end of their own are remembered, because a later end may show that they overlap. */
#define PROF__LATE_END_MAX 65536
#define PROF__LATE_STEPS 64 /* how many remembered scopes of one call site are searched for the place of a new one */
#define PROF__OVERLAPS 8u   /* flag of a node in a cursor: the begin of a scope that overlaps its enclosing one */
#define PROF__LATE_BIT 0x80000000u /* PROF__OVERLAPS as a bit of an entry of a cursor's stack */
/* Flag of an event, inside the reader only: neither the scope nor an enclosing one has ended. */
#define PROF__STILL_OPEN 4u

typedef struct prof__read_site {
    prof_callsite about;
    uint32_t name;   /* index in names of about.name */
    uint32_t caller; /* index in sites of the function that called this one; 0: not known */
} prof__read_site;

/* A call site id that is in records but not in meta, and the site that stands for it. */
typedef struct prof__read_unknown {
    uint32_t id, site;
} prof__read_unknown;

typedef struct prof__read_chunk {
    uint64_t sequence, tick, lost;
    uint64_t mark;        /* of a block: hash of its words, with strings terminated; see prof__read_mark() */
    /* Where its first word is, in words of the image; of a block: where the block is, in bytes of the file. */
    uint64_t place;
    /* size: bytes of a block in the archive, 0 for a chunk of the ring, PROF__NONE32 if the block is gone. */
    uint32_t size, words;
    uint8_t owned;        /* 1: a thread was recording into it */
    uint8_t texts;        /* 1: it may have records with strings */
    uint8_t jumps;        /* 1: the counter was reset in it, so that ticks are corrected whenever its words are read */
    uint8_t torn;         /* 1: a part of the chunk is missing, and only what comes before that part is read */
    uint8_t open;         /* 1: its thread had not finished it */
} prof__read_chunk;

struct prof__read_segment;

/* Holds the words of the block or segment that was read last. */
typedef struct prof__read_buffer {
    uint64_t *words;
    char *block;
    size_t chunk; /* the chunk that the words belong to, from 1; 0: none, or words of a segment */
    const struct prof__read_segment *segment;
} prof__read_buffer;

typedef struct prof__read_segment {
    uint64_t track, serial;
    /* Tick of its first known time: when the track took the chunk, else the first record's; ~0: none. */
    uint64_t tick;
    uint64_t record; /* tick of the first record with a time; ~0: none */
    uint64_t last_tick; /* of the last record with a time in its chunk, up to its end; the chunk's if there is none */
    uint64_t mark;   /* hash of its words if they are read on demand; see prof__read_mark() */
    uint32_t chunk;
    uint32_t first, end; /* its words in the chunk; the first is its TRACK record */
    uint32_t name;       /* id of a string in meta */
    uint32_t thread;     /* id of the thread that recorded it; the low half, which is all that switches have */
    int32_t depth;       /* once matched: open scopes at its end, less the unmatched ends before that; until then: its
                            summary, from 1; 0: none */
    uint8_t fiber;
    uint8_t of_system;   /* 1: the system gave the thread's name */
    uint8_t last;        /* 1: it is the chunk's last segment, and the chunk's lost events are counted here */
    uint8_t gap;         /* 1: records are missing before it */
} prof__read_segment;

/* In the summary of a segment: a BEGIN whose END is not in the segment, or an END whose BEGIN is not. */
typedef struct prof__read_half {
    uint64_t tick;       /* of an END: its tick */
    uint32_t site, word; /* word: of a BEGIN, where it is in the chunk */
    uint32_t args;       /* of a BEGIN: its arguments in this segment */
} prof__read_half;

/* The summary of a segment: what it changes in the matcher, which then need not read the segment's words. Most segments
   have one, because nothing in them but a few ENDs refers to earlier segments. */
typedef struct prof__segment_summary {
    uint64_t tick, lost; /* tick: of the last record; lost: lost events */
    size_t half;         /* index of its first entry in halves: first its unmatched ENDs, then its open BEGINs */
    uint32_t ends, begins, nodes, args, most_args;
    /* The largest number of open scopes in the segment, less the number at its beginning; at least 0. */
    int32_t deepest;
    int spans, logs;
} prof__segment_summary;

/* A scope that is still open at the end of the segment in which it began (a cross-segment scope). */
typedef struct prof__read_cross_segment {
    int64_t end_ns;
    size_t link; /* index in links of its first argument in a later segment, or PROF__NONE */
    uint32_t flags;
    uint32_t segment; /* the segment in which it began, counted from the track's first */
} prof__read_cross_segment;

/* An unmatched end: a scope whose begin is no longer there. */
typedef struct prof__read_unmatched_end {
    int64_t end_ns;
    size_t link; /* index in links of its first argument, or PROF__NONE */
    uint64_t id;
    uint32_t site;
} prof__read_unmatched_end;

/* An END that closes no scope or several, or an ARG whose scope is not the innermost one. */
typedef struct prof__read_exception {
    uint32_t segment, word; /* segment: counted from the track's first */
    /* Of an END: how many scopes it closes; of an ARG: which open scope it belongs to, 1 is the innermost, 0 is
       none. */
    uint32_t closes;
} prof__read_exception;

/* A scope that ended after an enclosing one (an overlap). A track has one list of begins and one of ends, because they
   are found in different orders. */
typedef struct prof__read_late_begin {
    uint32_t segment, word; /* segment: counted from the track's first */
} prof__read_late_begin;

typedef struct prof__read_late_end {
    uint64_t id; /* id of the begin's event */
} prof__read_late_end;

/* An ARG record that belongs to a scope of an earlier segment. */
typedef struct prof__read_link {
    size_t next;
    size_t record; /* index in kept of its copied words */
} prof__read_link;

/* From tick on, the time of a tick t is ns + (t - tick) * factor / 2^shift. */
typedef struct prof__read_line {
    uint64_t tick, factor;
    int64_t ns;
    unsigned shift;
} prof__read_line;

/* An event of a device. prof__device_tracks() sets the fields from start_ns to depth; prof__device_take() sets the
   others. */
typedef struct prof__read_device_record {
    int64_t start_ns, end_ns;
    /* time: in the device's ticks. number: a scope's duration in ticks, or a counter's value. flow: its id, 0: none. */
    uint64_t time, number, flow;
    uint64_t tick, id;           /* tick: of the host, when the event was recorded */
    size_t args;                 /* index in kept of the first record of its arguments */
    uint32_t device, row, subrow, depth;
    uint32_t name, site, arg_count;
    /* type: PROF__DEVICE_..., or 0 for a placeholder (see prof__device_tracks()); value: prof_value_type. */
    uint8_t type, value, flags;
} prof__read_device_record;

/* A device. number is the device's number in records; everywhere else a device or a row is an index in the trace's
   list. */
typedef struct prof__read_device {
    uint32_t number, name;
    int wraps;
    uint64_t mask, hz; /* hz: ticks per second as the device stated it; 0: unknown */
    double rate;       /* ticks per second, measured or stated */
    prof__read_line *lines;
    size_t line_count;
    prof_alignment alignment;
    uint64_t pairs, refused;
    size_t first; /* its event that was recorded first, from 1; 0: none */
} prof__read_device;

typedef struct prof__read_row {
    uint32_t number, name, device;
    uint64_t early;
} prof__read_row;

/* A switch: a word of an EVENT of PROF__DEVICE_SWITCHES. */
typedef struct prof__read_switch {
    uint64_t ns; /* CLOCK_MONOTONIC */
    uint32_t thread;
    uint32_t place; /* processor << 3 | PROF__SWITCH_... */
} prof__read_switch;

/* Such an EVENT. */
typedef struct prof__read_switches {
    uint64_t id, ns; /* id: in order of writing */
    size_t first;    /* in switches */
    uint32_t count, processor;
    uint16_t serial;
    uint8_t what; /* PROF__SWITCHES_... */
} prof__read_switches;

/* A reading of how long a thread was in the run queue, modulo 2^42. */
typedef struct prof__read_delay {
    uint64_t ns; /* CLOCK_MONOTONIC */
    uint64_t delay;
    uint32_t thread;
} prof__read_delay;

/* A page that a thread had waited for. */
typedef struct prof__read_fault {
    int64_t ns; /* CLOCK_MONOTONIC; once the trace is made, since the session's start */
    uint64_t address;
    uint32_t thread;
    uint32_t file; /* the number of its name */
} prof__read_fault;

/* A time in which a thread waited several times, and was ready after some of these waits: for ns in all. */
typedef struct prof__read_unplaced {
    int64_t from, to, ns;
    uint32_t thread;
} prof__read_unplaced;

/* A time in which switches of a processor are missing. */
typedef struct prof__read_hole {
    uint64_t from, to;
    uint32_t processor; /* PROF__NONE32: all */
} prof__read_hole;

typedef struct prof__read_knowledge {
    prof__read_hole *holes; /* in order of `from` */
    size_t count, capacity;
    uint64_t since; /* the image's first switches are missing: what is after this time is known; 0: none are */
    uint64_t until; /* all switches before this time are known, but for holes */
} prof__read_knowledge;

/* What the begin of a state is. */
enum { PROF__STATE_SWITCHED = 1, PROF__STATE_MOVED = 2 };

/* The states of a thread, in the trace's. */
typedef struct prof__read_states_of {
    size_t state, state_count;
    int64_t begin_ns, end_ns; /* when the thread began and ended; INT64_MIN, INT64_MAX: not known */
    uint32_t thread;
} prof__read_states_of;

#define PROF__STATE_STEP 32u /* states of each sum */
typedef struct prof__read_sum {
    uint64_t ns[PROF_STATE_COUNT], switches, migrations;
} prof__read_sum;

/* A sample while the trace is made, and a chain of frames that some samples have. */
typedef struct prof__read_sample {
    uint64_t ns; /* CLOCK_MONOTONIC */
    uint32_t thread, processor, chain;
} prof__read_sample;

typedef struct prof__read_chain {
    size_t first; /* in frames */
    uint32_t count;
} prof__read_chain;

typedef struct prof__read_pairing {
    uint64_t tick;
    int64_t ns; /* time since the session's start */
    uint32_t device;
} prof__read_pairing;

typedef struct prof__read_track {
    prof_track about;
    /* Of a device's row: its first event, and how many. In such a track all other fields but about and max_event_args
       are 0. */
    size_t device_record, device_record_count;
    uint64_t tick; /* the track's first known time */
    size_t segment, segment_count;
    size_t cross_segment, cross_segment_count;
    size_t exception, exception_count;
    size_t late, late_count; /* in late_begins and in late_ends */
    size_t unmatched_end, unmatched_end_count;
    size_t max_nodes, max_args, max_event_args, max_depth, frames; /* how much memory a cursor needs */
    size_t state, state_count; /* in the trace's states */
    size_t sample, sample_count; /* in the trace's samples */
    int lives; /* 1: its thread has not ended, so scopes without an end are still open */
} prof__read_track;

struct prof__stat_row;

/* Counts of the events whose cost differs from that of a scope with a constant name. */
typedef struct prof__uses {
    uint64_t texts, formats; /* scopes whose name was made at run time: a text, or a format */
    uint64_t marks, objects; /* events other than scopes: without and with an object */
    /* Arguments; one that is added to an outer scope counts twice, because finding the scope takes as long. */
    uint64_t values;
} prof__uses;

/* A time in which the counter and the system's clock disagree: the machine slept, was stopped and restored, or the
   counter was reset. */
typedef struct prof__read_gap {
    uint64_t from, to;       /* ticks between which the gap lies */
    uint64_t monotonic_ns;   /* from this time on, times of the trace are later than CLOCK_MONOTONIC... */
    int64_t added_ns;        /* ...by this many ns, because the counter went on while that clock stood still */
    int64_t ns;              /* how long the gap was; at most that long if `restarts` */
    int64_t from_ns, to_ns;  /* times between which the gap lies */
    int restarts;            /* 1: the counter was reset */
} prof__read_gap;

/* What is added to ticks from a time on, because the counter was reset then. */
typedef struct prof__read_epoch {
    uint64_t monotonic_ns, shift;
} prof__read_epoch;

struct prof_trace {
    /* The fields that most functions use come first, because their offsets fit into one byte of an instruction. */
    prof__read_chunk *chunks;
    prof__read_site *sites; /* distinct call sites; [0] stands for lost events */
    prof__read_track *tracks;
    size_t track_count;
    const char **names; /* distinct texts; [0] is "" */
    uint32_t *strings; /* from string id to index in names */
    uint32_t *site_ids; /* from call site id to index in sites, or PROF__NONE32 */
    prof__read_segment *segments;
    prof__read_line *lines;
    size_t line_count;
    prof__read_device_record *device_records;
    uint64_t *image; /* owned */
    FILE *file;      /* owned: the file with the archive; NULL: no archive, or it follows the image in memory */
    uint64_t base;   /* where the image begins in the file */
    int paged;       /* 1: the chunks are not in memory but only in file */
    unsigned word_bits; /* how many low bits of an event's id are the word's number */
    uint64_t size;   /* bytes of the file, or of the memory at image */
    prof__read_cross_segment *cross_segments;
    prof__header header;
    /* Owned; with PROF_STATS: the final statistics, which there are in place of events. */
    struct prof__stat_row *aggregated;
    size_t aggregated_count;
    /* Owned; for each track: statistics count only what ended after this time; NULL: they count everything. */
    int64_t *since;
    prof_trace_info info;
    char file_name[128]; /* what info.file is */
    size_t chunk_words;
    int partial;        /* 1: older chunks are missing */
    uint64_t keys[PROF__READ_KEYS]; /* keys of prof__read_mark() */
    int has_spans;      /* 1: some track has an event of a span */
    int has_logs;       /* 1: some track has a log message, or a name that is a format */
    uint64_t begins_missing, ends_missing; /* with PROF_STATS: spans whose begin or end is missing */
    prof__uses uses;    /* with PROF_STATS */
    int64_t newest_ns;  /* the latest time at which open scopes are known to have been open */
    size_t chunk_count, chunk_capacity;
    prof__read_index sequences; /* from sequence number to chunk */
    prof__read_buffer buffer;   /* only while the trace is made */
    prof__pair *pairs;          /* only while the trace is made: the clock pairs */
    size_t pair_count, pair_capacity;
    uint64_t pair_ns;           /* the minimum distance of kept clock pairs in ns; 0: all are kept */
    uint64_t reached;           /* the largest tick in chunks in which the counter was reset */
    uint64_t behind;               /* ticks of a millisecond; a counter that goes back by more than that was reset */
    /* Ticks per second as the start of the session measured it (PROF__META_RATE); 0: unknown. */
    uint64_t start_hz;
    prof__read_gap *gaps;
    size_t gap_count, gap_capacity;
    prof__read_epoch *epochs;   /* only while the trace is made; [0] is the start of the session */
    size_t epoch_count, epoch_capacity;
    /* Only while the trace is made: the newest clock pair of a chunk, with its corrected tick. */
    prof__pair latest;
    prof__segment_summary *segment_summaries; /* only while the trace is made */
    size_t segment_summary_count, segment_summary_capacity;
    prof__read_half *halves;      /* only while the trace is made */
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
        uint32_t name; /* id of a string in meta */
    } *threads; /* names that the system gave threads after their tracks had begun */
    size_t thread_count, thread_capacity;
    prof__read_index thread_index;
    size_t site_count, site_capacity;
    prof__read_index site_index;
    size_t site_id_count;
    prof__read_unknown *unknown;
    size_t unknown_count, unknown_capacity;
    prof__read_index unknown_index;
    char **texts; /* owned: names made for unknown call sites and for rows of tracks */
    size_t text_count, text_capacity;
    prof__symbols symbols; /* symbols of the modules whose functions were recorded by address */
    size_t segment_count, segment_capacity;
    size_t cross_segment_count, cross_segment_capacity;
    prof__read_exception *exceptions;
    size_t exception_count, exception_capacity;
    prof__read_late_begin *late_begins;
    prof__read_late_end *late_ends;
    size_t late_begin_count, late_begin_capacity, late_end_count, late_end_capacity;
    prof__read_unmatched_end *unmatched_ends;
    size_t unmatched_end_count, unmatched_end_capacity;
    prof__read_link *links;
    size_t link_count, link_capacity;
    uint64_t *kept;
    size_t kept_count, kept_capacity;
    size_t device_record_count, device_record_capacity;
    prof__read_device *devices;
    size_t device_count, device_capacity;
    prof__read_row *rows;
    size_t row_count, row_capacity;
    double clock_rate; /* how much faster the clock runs by which it is aligned: see >>aligning */
    int64_t clock_ahead, shift_ns; /* clock_ahead: of that clock, when the session began */
    int corrected; /* 1: these two are known; 0: they are 0 */
    prof__read_pairing *pairings;
    size_t pairing_count, pairing_capacity;
    prof__read_switches *switches; /* only while the trace is made, as the next ones */
    size_t switches_count, switches_capacity;
    prof__read_switch *switch_items;
    size_t switch_count, switch_capacity;
    prof__read_delay *delays;
    size_t delay_count, delay_capacity;
    prof__read_fault *faults; /* by time */
    size_t fault_count, fault_capacity;
    prof__read_unplaced *unplaced; /* by thread and time */
    size_t unplaced_count, unplaced_capacity;
    prof_state *states; /* of all threads, one after the other */
    unsigned char *state_marks; /* PROF__STATE_SWITCHED, _MOVED: of each state */
    size_t state_count, state_capacity, state_mark_capacity;
    prof__read_sum *sums; /* of all states before each PROF__STATE_STEP-th one */
    prof_sample *samples; /* of threads with a track, by thread and time; then of those without */
    size_t sample_count, trackless; /* trackless: the index of the first one of a thread without a track */
    uint64_t *frames; /* of all chains */
    size_t frame_count, frame_capacity;
    prof__read_chain *chains; /* distinct ones; only while the trace is made, as the next ones */
    size_t chain_count, chain_capacity;
    prof__read_index chain_index;
    prof__read_sample *sample_items;
    size_t sample_item_count, sample_item_capacity;
    prof_module *modules;
    size_t module_count, module_capacity;
    void (*step)(void *user, double share); /* the function of prof_trace_set_progress() */
    void *step_user;
};

#endif /* PROF__READ_TRACE_H */
