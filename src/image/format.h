// image/format: The layout of an image: header, ring of chunks, records, meta. Its structs and comments are the
// specification.
#ifndef PROF__IMAGE_FORMAT_H
#define PROF__IMAGE_FORMAT_H
#include "ground/base.h"

/*-- IMAGE -------------------------------------------------------------------------------------------------- >>image --
   The format of a recording: the same bytes in memory, in a .prof file and in a core dump. Every field has a fixed
   width and the byte order of the program that writes. docs/format.md is the guide for readers.

     prof__header       at 0
     meta               append-only records: strings, call sites, session key/values; published by their non-zero head
     index              a hash table over meta, private to the recorder; readers ignore it
     chunks             the ring: chunk_count slots of chunk_size bytes. A slot is one chunk: a prof__chunk, then words.
                        Or it was split into chunks of a half, a quarter and so on; each states its own size

   A chunk belongs to one thread at a time. Its words are a sequence of records. The first word of a record is its head.
   The writer stores the head last: its non-zero kind publishes the record. So a reader stops at the first word where a
   head should be and whose kind is 0. Layouts (bits):

       63..60 kind   59..40 call site id   39..0 ticks since the chunk's base     BEGIN END MARK FRAME
                                                                                  COUNTER_*, then 1 word: the value
       63..60 kind   59..40 call site id   39..32 value type   31 cut   15..0 n   ARG, then n words: the value
                     30 key   29 to                                               NAME, the same: a string, site 0
       63..60 kind   59..32 serial, low part   31 fiber   29..0 name (string id)  TRACK, then 2 words:
                     30 the name is the system's
                     63..40 serial, high part   39..0 track id;  63..0 thread id
       63..60 kind   39..0 count                                                  LOST
       63..60 kind   59..40 call site id   39..0 ticks since the chunk's base     EVENT, then 2 words:
                     63..8 detail   7..0 prof_event_type;  63..0 object
       63..60 kind   59..40 call site id   39..32 value type   31 cut   15..0 n   DATA, then n words: the value

   TRACK says to which track the records after it belong, and on which thread they were made. Each chunk begins with
   one. Its serial counts the TRACK records of its track from 1, over all threads and chunks. It orders them, and a
   missing number shows a missing chunk. If bit 30 says that the name is the system's, it is the name that the thread
   had when the track began; a THREAD record of meta has a newer one.
   ARG is an argument of the innermost open scope of its track. If bit 29 is set, the last word of the ARG is the head
   of a BEGIN without its ticks, and the argument belongs to the innermost open scope of that call site.
   DATA is a value of the EVENT, MARK, FRAME or DATA directly before it. Its call site is the value's key, or 0: none.
   An ARG or DATA with bit 30 is a string: the key of the next record, which has the same kind and call site 0.
   A DATA after a FRAME is the number of the frame's boundary, counted from 0 for each name and track. Only some FRAMEs
   have one, but at least the first FRAME of each chunk: a reader counts on from there. If no FRAME has a number, the
   first one is number 0. Other DATA, after the number if there is one, are arguments of the frame that ends there.
   An EVENT whose type is no prof_event_type belongs to a device, not to its track: see >>device.
   NAME is the run-time name of the BEGIN, MARK or EVENT directly before it. If bits 20..16 of its head are not 0, it is
   a format of printf, without sizes such as l, and as many values for it are the last words: each is 8 bytes,
   little-endian, a double or a 64-bit integer as its conversion says.
   An END closes the innermost open scope of its call site. If no scope of that call site is open, it closes the
   innermost one of the same name. Scopes that are open inside the closed one have no end: longjmp() has left them.
   A string ends with at least one zero byte and is padded with zeros to whole words.
   Chunks are in the order of their sequence numbers.
   A power loss can leave some pages of a file as they were at an earlier time: empty, or with words of another chunk
   that had the same place. A reader must not take such words for this chunk's. So a chunk with PROF__FORM_MARKED has
   parts: its pages, or its quarters if it is larger than four pages. Until a record needs the last word of a part, that
   word is a mark, which names this chunk: see prof__part_state(). The last part's last word always is a mark. When the
   thread goes on to another part or leaves the chunk, the header gets a sum of the last words of each part that it
   leaves: see prof__part_sum() and >>intact. */

#define PROF__MAGIC "prof.img"
#define PROF__IMAGE_VERSION 4
#define PROF__IMAGE_OLDEST 3 /* the oldest version that readers accept; its slots are never split */
#define PROF__BYTE_ORDER 0x01020304u
#define PROF__TICK_BITS 40
#define PROF__TICK_MASK ((1ull << PROF__TICK_BITS) - 1)
#define PROF__SITE_BITS 20
#define PROF__SITE_MASK ((1u << PROF__SITE_BITS) - 1)
#define PROF__KIND_SHIFT 60
#define PROF__NAME_OF_SYSTEM (1u << 30) /* in TRACK: the name is the system's */
/* The head of the DATA with the number of a frame's boundary. */
#define PROF__FRAME_NUMBER ((uint64_t)PROF__KIND_DATA << PROF__KIND_SHIFT | (uint64_t)PROF_VALUE_UINT << 32 | 1)
#define PROF__ARG_KEY (1u << 30) /* in ARG and DATA: this is the key of the next record */
#define PROF__ARG_TO (1u << 29)  /* in ARG: the last word says to which scope it belongs */
#define PROF__NAME_SHIFT 16  /* in NAME: how many values follow the text */
#define PROF__NAME_VALUES 15 /* the most of them */
#define PROF__NAME_WIDE 500  /* the largest width or precision of their conversions */
#define PROF__NAME_HEAD(values) ((uint64_t)PROF__KIND_NAME << PROF__KIND_SHIFT | (uint64_t)(values) << PROF__NAME_SHIFT)

/* One moment on the session's clock (tick) and on the system's clocks. width: ticks that passed while CLOCK_MONOTONIC
   was read; the smaller, the more exact the pair. */
typedef struct prof__pair {
    uint64_t tick, monotonic_ns, unix_ns, width;
} prof__pair;

typedef struct prof__header {
    char magic[8];
    uint32_t version, byte_order, header_size, word_size; /* word_size: bytes of a pointer of the recording program */
    uint64_t image_size;
    uint64_t meta_offset, meta_size, index_offset, index_size;
    uint64_t chunk_offset, chunk_count;
    uint32_t chunk_size, chunk_header_size;
    uint32_t mode, clock; /* prof_mode, prof_clock */
    uint32_t state;       /* PROF__RUNNING or PROF__STOPPED */
    uint32_t session;     /* the session's number in its process, from 1 */
    uint64_t pid;
    uint64_t tick_hz;     /* as the processor or the user states it; 0: compute it from the pairs */
    uint64_t resolution_ticks, cost_ticks_x1000; /* the clock's resolution; what one scope costs */
    prof__pair first, last;                      /* at the session's start; the newest one known */
    uint64_t next_chunk;  /* counts chunks that were tried: the ring's position */
    uint64_t overwritten; /* chunks whose older words were lost by reuse */
    uint64_t meta_used;   /* bytes */
    uint64_t lost;        /* events lost on threads without a chunk; a chunk counts those of its thread */
    uint64_t sites_lost;  /* call sites and names that did not fit into meta */
    uint64_t tracks;      /* how many track ids are in use, at most 2^40 - 1 */
    uint64_t parent_pid;  /* the process that created this one; 0: unknown */
    char program[64], clock_name[24], boot_id[40]; /* boot_id: tells whether the processor's counter has restarted */
    /* PROF_STREAM: file offsets of the archive: where its region begins and ends, its oldest block, where its next
       block goes */
    uint64_t archive_offset, archive_limit, archive_first, archive_next;
    uint64_t write_failures; /* failed writes in the background, each of which is tried again */
    char write_error[64];    /* why the last one failed, or why the file stopped growing */
    uint64_t window_from, window_to; /* ticks: readers show this window only; 0: no limit */
    uint64_t copy_tick; /* in a copy of a running image: when the copy began; later events may be missing.
                           0: this is no copy */
    /* The header of an older image may end here: prof__read_header() sets the rest to 0. */
    uint64_t taken_back;    /* scopes removed as too short, in chunks reused since; other chunks count theirs */
    uint64_t call_x1000;    /* ticks: the cost of a call traced by the compiler's hooks; 0: no hooks */
    uint64_t text_x1000, format_x1000; /* ticks: the cost of a scope with a run-time name; and with a formatted one */
    uint64_t lost_args;     /* lost arguments of all threads; arguments are no events */
    uint64_t lost_busy;     /* of the lost events: those that had room: see prof__lose_busy() */
    uint64_t lost_deep;     /* of the lost events: PROFILE_BEGINs beyond what can be open (record/unscoped_slots.h), and
                               calls nested deeper than PROF_INSTRUMENT_DEPTH */
    uint64_t time_namespace; /* Linux: the id of the process's time namespace; 0: unknown */
    uint64_t since_boot_ns; /* time since boot at the first pair, suspended time included; 0: unknown */
    uint64_t start_ns;      /* duration of prof_start() */
    uint64_t ready_ticks;   /* time that threads spent on mapping pages and reserving blocks of the file */
    uint64_t ring_count;    /* in a saved window: chunk_count of the ring; the image has only the slots that the window
                               needs. 0: it has all */
    char crash[32];         /* what a crash report says of the end, such as "SIGSEGV at 0x8"; "" if there was none */
} prof__header;

#define PROF__HEADER_LEAST offsetof(prof__header, taken_back)

enum { PROF__RUNNING = 1, PROF__STOPPED = 2 };

#define PROF__PARTS 4
typedef struct prof__chunk {
    uint64_t sequence; /* the chunk's number, from 1; 0: empty or being reused */
    prof__pair base;
    uint32_t state;    /* one of PROF__CHUNK_... */
    uint32_t form;     /* flags PROF__FORM_...; bits 8 to 11: how often the slot was halved */
    uint64_t lost;     /* events that the chunk's last thread lost since its last LOST record */
    uint64_t taken_back; /* scopes that were removed from this chunk because they were too short */
    /* The chunk header of version 3 ends here: see prof__chunk_get(). */
    uint32_t sums[PROF__PARTS]; /* prof__part_sum() of each part that the thread has left; 0: none yet */
} prof__chunk;

#define PROF__LEAST_CHUNK offsetof(prof__chunk, sums)

#define PROF__FORM_SECOND_CHANCE 1u /* the ring skips the chunk once (second chance): see prof__chunk_give() */
#define PROF__FORM_MARKED 4u /* its parts have marks and sums */
#define PROF__FORM_PLAIN 8u /* in a copy: the marks were removed, as a thread was writing */
#define PROF__FORM_SHIFT 8
#define PROF__FORM_DEPTH(form) ((form) >> PROF__FORM_SHIFT & 15)
#define PROF__FORM_KNOWN 0xF0Du
#define PROF__FORM_LEAST 256u /* bytes of the smallest chunk */

/* LEFT: a partial chunk, which its thread no longer uses. HELD: full, but kept by its thread as long as the thread's
   next chunk has few events. A ring reuses every chunk that is not OWNED, HELD ones last. */
enum { PROF__CHUNK_FREE = 0, PROF__CHUNK_OWNED, PROF__CHUNK_FULL, PROF__CHUNK_PARTIAL, PROF__CHUNK_HELD };

/* The archive (PROF_STREAM) holds chunks that were packed (see >>pack) and removed from the ring, as blocks in the
   region that begins at archive_offset. Blocks are in the order of time from archive_first to archive_next. A block
   that does not fit before archive_limit goes to archive_offset again. The rest of the region that it leaves free has a
   header with sequence 0, or is smaller than a header (64 bytes). The 8 bytes before archive_offset are the recorder's
   own (see prof__stream_cut()); readers ignore them. */
typedef struct prof__block {
    uint32_t magic, size; /* size: bytes, this header included; a multiple of 8 */
    uint64_t sequence;    /* sequence, base and lost are copied from the chunk */
    prof__pair base;
    uint64_t lost;
    uint32_t words;       /* of the chunk that are packed here */
    uint32_t check;       /* prof__block_check(): wrong while the block is incomplete or overwritten */
} prof__block;

/* Files rely on these sizes, whatever packing of structs the program asks its compiler for. */
typedef char prof__layout_is_fixed[sizeof(prof__header) == 640 && sizeof(prof__chunk) == 80 && sizeof(prof__block) == 64
                                       ? 1 : -1];

#define PROF__BLOCK_MAGIC 0x6B6C6270u

/* The records of meta. The head of each is kind << 56 | words << 32 | id; words counts the head, too. Each kind counts
   its ids from 1. A SITE has: name | file << 32, function | category << 32 (string ids, 0 is ""), line | color << 32,
   level | kind << 32; and only for a counter with a unit, or a function of a stack, one word more: unit (string id) |
   caller << 32 (site id of the function that called this one, 0: not known). */
enum { /* the kinds of records of meta: src/kinds.sh makes these lines */
    PROF__META_STRING = 1,
    PROF__META_SITE,
    PROF__META_SESSION,
    PROF__META_DEVICE,
    PROF__META_ROW,
    PROF__META_THREAD,
    PROF__META_RATE,
    PROF__META_MODULE
};
#define PROF__META_SITE_WORDS 5 /* words without the unit and the caller */

#endif /* PROF__IMAGE_FORMAT_H */
