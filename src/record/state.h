// record/state: prof__state, the private record of a session, and the generation, by which call sites notice changes.
// All of it changes under prof__lock_word.
#ifndef PROF__RECORD_STATE_H
#define PROF__RECORD_STATE_H
#include "api/markup.h"
#include "api/reports.h"
#include "ground/clock.h"
#include "ground/copies.h"
#include "image/format.h"

/*-- SESSION STATE --------------------------------------------------------------------------------------------------*/

#define PROF__MAX_RULES PROF__LESS(64, 8)
#define PROF__MAX_LEFT PROF__LESS(256, 16)
#define PROF__LEFT_BUSY 0xffffffffu

#ifndef PROF_FREESTANDING
/* The background threads of a session: see >>service. */
typedef struct prof__service {
    uint32_t word;    /* changes when there is something to do before the next look at the clock */
    uint32_t stop;    /* 1: do a last round and end */
    uint32_t writer_word, writer_stop; /* the same of the writer */
    uint32_t end_due; /* 1: recording has ended by itself: write the output */
    int wanted, wants_writer; /* 1: the configuration needs it */
    int running;      /* 1: it was started and not joined yet; under the control lock */
    uint64_t process; /* the process in which it runs: a child of fork() has none */
    uint64_t shortest_ns, longest_ns; /* time between two looks at the ring */
    uint64_t dump_at; /* monotonic: when to write the output next */
    uint64_t names_at; /* the same, of asking for the names of threads */
#ifdef _WIN32
    HANDLE thread, writer;
#else
    pthread_t thread, writer;
#endif
} prof__service;
#endif

#ifndef PROF_FREESTANDING
/* The file that the image is mapped to, and what PROF_STREAM writes there after the ring: see >>stream. */
typedef struct prof__stream {
#ifdef _WIN32
    HANDLE handle;
#endif
    int file, opened;        /* the mapped file, open for its lock and to write after the mapping */
    uint64_t device, inode;  /* its identity: the program may close descriptors that are not its own */
    uint64_t retry_at, backoff_ns; /* when to try again after a write that failed */
    uint64_t seen;           /* next_chunk when all full chunks had been packed */
    int full;                /* 1: max_file_size is reached, and nothing may be dropped */
    int failing, lost;       /* 1: the last write failed; 1: events were lost during such a time */
    prof__block *block;      /* a buffer to pack a chunk */
    prof__chunk **chunks;    /* space for as many as the ring may have */
    char path[1040];         /* of the file if it is not the output itself, else "" */
} prof__stream;
#endif

enum { PROF__CUT = 1, PROF__CUT_TOLD = 2 };

/* The private data of an image. Freed only when no thread can hold a pointer into the image any more. */
#ifdef PROF_TINY
typedef uintptr_t prof__extent; /* a size in the image: spares arithmetic of 64 bits where there is none */
#else
typedef uint64_t prof__extent;
#endif

typedef struct prof__session {
    prof__header *header; /* the image; the next fields are addresses and limits inside it */
    char *chunks;
    uint64_t *meta;
    uint32_t chunk_size;
    uint32_t fast; /* 1: a scope needs the inline counter and nothing else; PROF__SHORT: and min_ticks */
    prof__extent meta_words, meta_ready, chunk_words; /* ready: below it meta can be written. chunk_words: of a slot */
    prof__extent text_words; /* the same of the chunks that threads get now, twice at most: see prof__chunk_split() */
    prof__extent chunk_count; /* slots */
    uint64_t min_ticks, ordered_excess;
    uint32_t epoch, clock;
    uint32_t string_count, site_count;
    char *live_path;   /* the file that the image is mapped to: output, or stream.path; NULL: it is in memory */
    void *mapping;     /* NULL: the user's memory */
    size_t mapping_size;
    char output[PROF__PATH(1024)]; /* expanded; "" for none. Offsets up to here fit into a byte of the code */
    uint32_t *index;
    uint32_t index_mask, site_without_room;
#ifdef PROF__SHARED_CHUNKS
    struct { /* chunks that ended threads left partly free */
        uint64_t sequence;
        uint32_t words, chunk; /* chunk: its place in units of 64 bytes, from 1; 0: free; PROF__LEFT_BUSY: a thread is
                                  changing this */
    } left[PROF__MAX_LEFT];
    uint32_t left_count; /* in use */
#endif
    uint32_t attached; /* threads that point into the image, also those that copy it */
    uint32_t readers;  /* threads that copy it */
    size_t image_size;
    char layout[24];   /* config.layout; "" for none */
    char part_path[PROF__PATH(1100)]; /* the name of the file until the start is complete */
    struct prof__session *next;
    uint32_t ready_chunks; /* how many, from the first on, can be written, or PROF__ALL_READY. See >>ring */
    uint32_t claimed_chunks; /* the same with those that a thread is making ready */
    int cut;               /* PROF__CUT...: somebody truncated the file of the image */
    uint64_t chunks_asked; /* how many were wanted if the disk had no room for all, else 0 */
    const char *room_error; /* why it had none */
#ifdef PROF__META_GROWS
    const char *names_error; /* why the disk had no room for a name; NULL: it had */
#endif
    uint32_t all_owned[2]; /* PROF_RING: the value of prof__room_changes when every chunk was owned or held; and when
                              every one was owned. 0: not known */
    int32_t free_chunks;  /* PROF_STREAM, PROF_STATS: chunks that may be taken. Below 0 if the ring had to end sooner */
    uint32_t pieces;      /* chunks in the slots: more than these if some are split */
    uint32_t depth, deepest; /* how often the most split slot was halved, and how often one may be */
    uint32_t spare_chunk; /* 1: one more, for the service, so that its own scopes are not lost */
    uint32_t released;    /* changes with every chunk that the service releases */
    uint32_t waiting;     /* threads that sleep until it releases one */
#ifndef PROF_FREESTANDING
    struct prof__follow *follow; /* see >>follow; NULL if nothing follows the ring */
    prof__service service;
    prof__stream stream;
    uint64_t max_file_size, wait_ns, dump_period_ns;
    uint32_t at_limit;
#endif
    int crash_report;
    char pattern[PROF__PATH(1024)];  /* config.output as an absolute path, for the children of forks */
    char started[16];     /* the time that %t stands for */
    uint64_t start_hz;    /* see PROF__META_RATE; 0: not known */
    uint64_t process;     /* the pid of the process that this record is for */
    int sandbox;          /* that the process was in at the start: see prof__sandbox() */
    int failed;           /* errno if a child's image could not be created */
    uint64_t begin_at, duration_ns, end_at; /* monotonic; end_at: 0 until recording begins. See >>schedule */
    uint64_t warmup_left;
    int held;             /* prof__state.held at the start */
    uint32_t warmup_what, warmup_name; /* PROF__WARMUP_...; the hash of the name that counts; 0: none yet */
#ifdef _WIN32
    int private_memory;   /* 1: the image is in memory, not in a mapped file */
    int to_remove;        /* 1: stream.handle removes the file beside the output when it is closed */
#endif
    int beside;           /* 1: output is written at the end: until then the image is in a file beside it, if possible,
                             else in memory */
    int unnamed;          /* 1: the mapped file has no name yet */
    int apart;            /* 1: the mapping is a copy of its file, which prof_stop() writes: see prof__map_shared() */
    int beside_error;     /* errno if that file could not be created, or no file mapped; else 0 */
    int whole;            /* 1: the file gets all its blocks at the start, because PROF_STREAM uses all of it soon */
    prof_existing existing;
    int number;           /* 1: files with output's name are kept, and this session's gets a number; also in children */
    int named;            /* 1: the names of its files are chosen */
    uint64_t root[2], folder_is[2]; /* device and inode of the root directory at the start, and of the folder */
    int folder;           /* a descriptor + 1 of the folder of an output that is written at the end; 0: none */
    int file_error;       /* errno: this child of a fork could not create its .prof, and records in memory */
    int claimed;          /* 1: this session created an empty file at output, to reserve the name until it is written */
    int taken, replaces;  /* live_path is a new file of this session; or it replaces an existing one, */
    int keeps;            /* which stays under another name */
    int old_file;         /* the descriptor + 1 that locks the replaced file meanwhile; 0: none */
#ifndef PROF_FREESTANDING
    uint64_t look_at;     /* when the service has something to do by the clock; 0: not known */
    int written;          /* 1: output is complete, although prof_stop() was not called yet */
#endif
#ifndef PROF_FREESTANDING
    prof__header like;    /* the header as it was at the start: the model for a child's image */
#endif
} prof__session;

/* Without names of outputs, an image is never in a file beside its output. */
#ifdef PROF_MINIMAL
#define PROF__BESIDE(condition) 0
#else
#define PROF__BESIDE(condition) (condition)
#endif

/* All of this changes under prof__lock_word, as does the generation, which shows that it has changed. */
static struct {
    prof__session *session; /* the running one, or the last one until it is reset */
    prof__session *retired; /* older ones to which threads still point */
    prof__session *inherited; /* running, but without an image, yet or for good: see >>fork */
    int running, paused, level;
    int held;  /* PROF__HELD_...: running, but not begun yet; sites are off */
    int ended; /* 1: it has ended by itself; prof_stop() was not called yet */
    int frozen; /* PROF__FROZEN_...: sites are off; the only field that changes without the lock */
    int no_sync, no_devices;
    uint32_t filter_mask;
    uint32_t epoch;
#ifdef PROF__CATEGORIES
    int rule_count, category_named, category_default;
    struct {
        int on, exact; /* exact: pattern is a name, and * and ? mean nothing */
        char pattern[48];
    } rules[PROF__MAX_RULES];
#endif
} prof__state;

/* Fields that are constants with PROF_MINIMAL, and more with PROF_TINY, so that the compiler leaves out what depends on
   them. */
#ifdef PROF_MINIMAL
#define PROF__MIN_TICKS(s) ((void)(s), (uint64_t)0)
#define PROF__HELD() 0
#define PROF__TAKEN_BACK(chunk) ((void)(chunk), (uint64_t)0)
#else
#define PROF__MIN_TICKS(s) ((s)->min_ticks)
#define PROF__HELD() (prof__state.held)
#define PROF__TAKEN_BACK(chunk) PROF__LOAD(&(chunk)->taken_back)
#endif
#ifdef PROF_TINY
#define PROF__BY_COUNTER(s) ((void)(s), 1)
#define PROF__CRASH_REPORT(s) ((void)(s), 0)
#define PROF__FAST(s) ((void)(s), 1)
#else
#define PROF__BY_COUNTER(s) ((s)->clock == PROF_CLOCK_COUNTER)
#define PROF__CRASH_REPORT(s) ((s)->crash_report)
#define PROF__FAST(s) ((s)->fast == 1)
#endif

/* prof_server.h starts a session for the time of a capture if the program has none. The program does not notice: its
   prof_start() calls this function, under the control lock, which ends that session; prof_stop() finds none; children
   of forks inherit none. NULL: the session, if there is one, is the program's. */
#ifdef PROF_FREESTANDING
#define prof__on_demand ((void (*)(void))NULL)
#else
static void (*prof__on_demand)(void);
#endif

/* The generation is the first word. While nothing was started yet, it is 0x80000000, which fits no site and turns off
   the sites that were never used. On Linux it has a page to itself. After a program has started a session, that page is
   0 in each child, whatever call created it: 0 fits no thread and sends each macro to its slow path. So a child of
   _Fork() or clone(), for which no fork handler runs, does not write into its parent's image. Before the first
   constructor it is 0, too. */
#if defined(__linux__) && defined(__GNUC__) && !defined(PROF_FREESTANDING)
#define PROF__GENERATION_PAGE 4096
PROF_DEF uint32_t prof__generation[PROF__GENERATION_PAGE / 4] __attribute__((__aligned__(PROF__GENERATION_PAGE)));
static void (*prof__child_found)(void); /* called by a child that finds 0; NULL until the page is 0 in children */
#else
PROF_DEF uint32_t prof__generation[1] = {PROF__OFF};
#endif
#ifndef PROF__NO_FORK
static void (*prof__inherited_make)(void); /* makes the image of a child of a fork, which has a session only */
#endif
static uint32_t prof__generations; /* how many there were; a child continues this count */
#ifndef PROF_FREESTANDING
static PROF__UNUSED prof_writer *prof__writers;
#endif

/* Call sites of followers compare with this; each function that they call checks it again. */
#if defined(PROF__HUBS) && !defined(PROF_STATIC)
static void prof__hub_tell(uint32_t generation)
{
    for (prof__hub *each = PROF__ACQUIRE(&prof__followers); each; each = PROF__ACQUIRE(&each->next))
        if (each->generation != prof__generation) PROF__STORE(each->generation, generation);
}
#else
static void prof__hub_tell(uint32_t generation) { (void)generation; }
#endif

/* Called before each lock of the state, which other threads of the parent may have held: here a child for which no fork
   handler has run finds out that it is one. */
static void prof__generation_look(void)
{
#ifdef PROF__GENERATION_PAGE
    uint32_t none = 0;
    if (PROF__LIKELY(PROF__LOAD(prof__generation) != 0)) return;
    if (prof__child_found)
        prof__child_found();
    else
        __atomic_compare_exchange_n(prof__generation, &none, PROF__OFF, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
#endif
}

#define PROF__ASKED 0x40000000u /* a flag beside a generation, which is always below it: see >>note */
static void prof__next_generation(void)
{
    uint32_t next = PROF__ADD(&prof__generations, 1u) % (PROF__ASKED / 2 - 1) + 1; /* so PROF__SHORT is clear */
    PROF__RELEASE(prof__generation, next);
    prof__hub_tell(next);
}

static uint64_t prof__now_of(uint32_t clock)
{
#ifdef PROF_FREESTANDING
    (void)clock;
#else
    if (clock == PROF_CLOCK_MONOTONIC) return prof__monotonic();
#endif
    return prof__counter();
}

/* Reads the clock of a session, which need not be the bare counter. */
static uint64_t prof__now(const prof__session *s, int at_end)
{
#ifdef PROF_FREESTANDING
    (void)s, (void)at_end;
#else
    if (s->clock == PROF_CLOCK_MONOTONIC) return prof__monotonic();
    if (s->clock == PROF_CLOCK_ORDERED && at_end) return prof__counter_ordered() - s->ordered_excess;
#endif
    return prof__counter();
}

#endif /* PROF__RECORD_STATE_H */
