// image/format: The image: header, chunks, records, meta. Structs that are the specification; no code.
#ifndef PROF__IMAGE_FORMAT_H
#define PROF__IMAGE_FORMAT_H
#include "ground/base.h"

/*-- IMAGE -------------------------------------------------------------------------------------------------- >>image --
   The same bytes in memory, in a .prof file, in a core dump. All fields have fixed width and the writer's byte order.
   docs/format.md says what a reader makes of them.

     prof__header       at 0
     meta               append-only records: strings, call sites, session key/values; published by their non-zero head
     index              a hash table over meta, private to the recorder; readers ignore it
     chunks             chunk_count slots of chunk_size bytes. A slot is one chunk, a prof__chunk followed by words; or
                        it is split into chunks of a half, a quarter and so on of it, each of which says its size

   A chunk belongs to one thread at a time; its words are a sequence of records, head first, published by the head's
   non-zero kind: a reader stops at the first word that has none. Heads:

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

   TRACK says which track the next records belong to, and on which thread; it comes first in each chunk. serial counts
   the TRACK records of its track from 1 on, over all threads and chunks: it puts them in order, and shows what is
   missing. A name of the system's is the one that the thread had when the track began; a THREAD record of meta has a
   newer one. ARG belongs to the innermost open scope of its track.
   DATA is a value, with its key's call site or 0, of the EVENT, MARK or DATA directly before it. After a FRAME it is
   the number of its boundary, which its name and track count from 0 on; only now and then, because a reader can count
   on: at least in the first FRAME of each chunk. Without any, the first that is there is number 0.
   An ARG or DATA with bit 30 is a string, the key of the next record, which is of the same kind and has call site 0. An
   ARG with bit 29 has as its last word the head of a BEGIN without its ticks, and belongs to the innermost open scope
   of that call site.
   An EVENT whose type is no prof_event_type belongs to a device, not to its track: see >>device.
   NAME is the run-time name of the BEGIN, MARK or EVENT directly before it. An END closes the innermost open scope with
   the same call site or, failing that, of the same name; scopes inside that one were left without an end (longjmp).
   Strings end with at least one zero byte and are padded to whole words. Chunks are in order of their sequence
   number.
   A power loss leaves some pages of a file as they were earlier: empty, or with words of another chunk that had this
   place. Such words must not be taken for this chunk's. So a chunk with PROF__FORM_MARKED consists of parts that are
   pages, or of four quarters if it is larger than four pages. The last word of each part is a mark of this chunk, see
   prof__part_state(), until a record needs it, that of the last part always. When its thread goes on to another part,
   or leaves the chunk, a part gets a sum of its last words. See >>intact. */

#define PROF__MAGIC "prof.img"
#define PROF__IMAGE_VERSION 4
#define PROF__IMAGE_OLDEST 3 /* that readers accept: there, no slot was split */
#define PROF__BYTE_ORDER 0x01020304u
#define PROF__TICK_BITS 40
#define PROF__TICK_MASK ((1ull << PROF__TICK_BITS) - 1)
#define PROF__SITE_BITS 20
#define PROF__SITE_MASK ((1u << PROF__SITE_BITS) - 1)
#define PROF__KIND_SHIFT 60
#define PROF__NAME_OF_SYSTEM (1u << 30) /* of TRACK */
#define PROF__ARG_KEY (1u << 30) /* of ARG and DATA: the key of the next record */
#define PROF__ARG_TO (1u << 29)  /* of ARG: the last word says which scope it belongs to */

/* One moment on two clocks. Ticks are those of the session's clock; width is how many ticks passed during the reading:
   the smaller, the better the pair. */
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
    uint32_t state;       /* PROF__RUNNING, PROF__STOPPED */
    uint32_t session;     /* counts the sessions of the process */
    uint64_t pid;
    uint64_t tick_hz;     /* if the processor or the user states it, else 0: then only the pairs show it */
    uint64_t resolution_ticks, cost_ticks_x1000; /* of the clock; of one scope */
    prof__pair first, last;                      /* the session's start; the newest known */
    uint64_t next_chunk;  /* the ring's position: counts chunks tried so far */
    uint64_t overwritten; /* chunks that were reused and so lost their older words */
    uint64_t meta_used;   /* bytes */
    uint64_t lost;        /* events lost on threads without a chunk; the others' are in their chunks */
    uint64_t sites_lost;  /* call sites and names that did not fit into meta */
    uint64_t tracks;      /* track ids given out, at most 2^40 - 1 */
    uint64_t parent_pid;  /* the process that created this one, by fork or otherwise; 0: not known */
    char program[64], clock_name[24], boot_id[40]; /* boot_id: shows whether this machine's counter is still the same */
    /* PROF_STREAM, file offsets: the archive's region, and in it the oldest block and the place of the next one */
    uint64_t archive_offset, archive_limit, archive_first, archive_next;
    uint64_t write_failures; /* writes in the background that failed and were tried again */
    char write_error[64];    /* why the last of them did, or why the file does not grow any more */
    uint64_t window_from, window_to; /* ticks: the window that a reader shows; 0: no limit */
    uint64_t copy_tick; /* in a copy of a running image: when it began. Later events may be incomplete. 0: no
                           copy */
    /* Older images end here: see prof__read_header(). */
    uint64_t taken_back;    /* scopes removed as too short, in reused chunks; other chunks have their own count */
    uint64_t call_x1000;    /* ticks: as cost_ticks_x1000, of a call with the hooks of functions; 0: there are none */
    uint64_t text_x1000, format_x1000; /* of a scope whose name is made at run time, without and with a format */
    uint64_t lost_args;     /* lost arguments, which are no events, of all threads; not in older images */
    uint64_t lost_busy;     /* of all lost events: those for which there was room: see prof__lose_busy() */
    uint64_t lost_deep;     /* of all lost events: PROFILE_BEGINs for which there was no place (see >>places), and calls
                               nested deeper than PROF_INSTRUMENT_DEPTH */
    uint64_t time_namespace; /* Linux: which one it is; 0: not known */
    uint64_t since_boot_ns; /* at the first pair, with the time in which the machine was suspended; 0: not known */
    uint64_t start_ns;      /* how long prof_start() took, before anything was recorded */
    uint64_t ready_ticks;   /* how long threads were busy with making memory and blocks of the file ready */
} prof__header;

#define PROF__HEADER_LEAST offsetof(prof__header, taken_back)

enum { PROF__RUNNING = 1, PROF__STOPPED = 2 };

#define PROF__PARTS 4
typedef struct prof__chunk {
    uint64_t sequence; /* from 1; 0: empty or being reused */
    prof__pair base;
    uint32_t state;    /* PROF__CHUNK_... */
    uint32_t form;     /* PROF__FORM_... Bits 8 to 11: how often the slot was halved to make it */
    uint64_t lost;     /* events that the last thread in this chunk could not record since its last LOST record */
    uint64_t taken_back; /* scopes that were recorded here and removed, because they were too short */
    /* Images of version 3 end here: see prof__chunk_get(). */
    uint32_t sums[PROF__PARTS]; /* prof__part_sum() of each part that its thread has left; 0: not yet */
} prof__chunk;

#define PROF__LEAST_CHUNK offsetof(prof__chunk, sums)

#define PROF__FORM_LATE 1u  /* the ring leaves it out once: see prof__chunk_give() */
#define PROF__FORM_MARKED 4u /* its parts show whose they are */
#define PROF__FORM_PLAIN 8u /* in a copy: the marks were removed, because a thread was writing in it */
#define PROF__FORM_SHIFT 8
#define PROF__FORM_DEPTH(form) ((form) >> PROF__FORM_SHIFT & 15)
#define PROF__FORM_KNOWN 0xF0Du
#define PROF__FORM_LEAST 256u /* bytes: no smaller chunk is made */

/* HELD: full, and kept by its thread, whose next chunk has little yet. */
enum { PROF__CHUNK_FREE = 0, PROF__CHUNK_OWNED, PROF__CHUNK_FULL, PROF__CHUNK_LEFT, PROF__CHUNK_HELD };

/* The archive: chunks that were packed (see >>pack) and removed from the ring, as blocks from archive_offset on. Blocks
   are in order of time from archive_first to archive_next. A block that does not fit before archive_limit is at
   archive_offset again; the space that it left free has a header with sequence 0, or fewer than 64 bytes. */
typedef struct prof__block {
    uint32_t magic, size; /* size: bytes, these 64 included, a multiple of 8 */
    uint64_t sequence;    /* sequence, base, lost: the chunk's */
    prof__pair base;
    uint64_t lost;
    uint32_t words;       /* of the chunk, before packing */
    uint32_t check;       /* prof__block_check(): fails for a block that is being overwritten, or is incomplete */
} prof__block;

/* Files depend on it, whatever the compiler packs. */
typedef char prof__layout_is_fixed[sizeof(prof__header) == 600 && sizeof(prof__chunk) == 80 && sizeof(prof__block) == 64
                                       ? 1 : -1];

#define PROF__BLOCK_MAGIC 0x6B6C6270u

/* Meta records: head = kind << 56 | words << 32 | id, words counting the head. Ids count from 1 for each kind.
     STRING   the text, zero-terminated, padded to whole words
     SITE     name | file << 32, function | category << 32 (string ids, 0 is ""), line | color << 32, level | kind << 32
              and, of a counter that has a unit, one word more: unit (string id)
     SESSION  key and value, both zero-terminated; id 0
     DEVICE   name (string id) | bits << 32, ticks per second, then pairs of clocks, see >>device
     ROW      name (string id) | device << 32
     THREAD   track; the id is not counted, but that of the string that the system calls the track's thread by now
     RATE     ticks per second as measured during the start, to 1 %: shows whether the clocks agree later
*/
enum {
    PROF__META_STRING = 1, PROF__META_SITE, PROF__META_SESSION, PROF__META_DEVICE, PROF__META_ROW, PROF__META_THREAD,
    PROF__META_RATE
};
#define PROF__META_SITE_WORDS 5 /* without a unit */

#endif /* PROF__IMAGE_FORMAT_H */
