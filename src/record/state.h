// record/state: prof__state, the private record of a session, and the config version, by which call sites notice
// changes. All of it changes under prof__lock_word.
#ifndef PROF__RECORD_STATE_H
#define PROF__RECORD_STATE_H
#include "api/markup.h"
#include "api/writers.h"
#include "ground/clock.h"
#include "ground/instances.h"
#include "image/format.h"

/*-- SESSION STATE --------------------------------------------------------------------------------------------------*/

#define PROF__MAX_RULES PROF__LESS(64, 8)
#define PROF__MAX_PARTIAL PROF__LESS(256, 16)
#define PROF__PARTIAL_BUSY 0xffffffffu

#ifndef PROF_FREESTANDING
/* The background threads of a session, the service and the writer of files: see >>service. */
typedef struct prof__service {
    uint32_t word;    /* changes to wake the service before its next look at the clock */
    uint32_t stop;    /* 1: the service must do a last round and end */
    uint32_t writer_word, writer_stop; /* the same two for the writer of files */
    uint32_t end_due; /* 1: recording has ended by itself; the output must be written */
    int wanted, wants_writer; /* 1: the configuration needs the service; and the writer */
    int running;      /* 1: the service was started and not joined yet; under the control lock */
    uint64_t process; /* the process in which the service runs: a child of fork() has none */
    uint64_t shortest_ns, longest_ns; /* bounds of the time between two looks at the ring */
    uint64_t dump_at; /* when to write the output next (CLOCK_MONOTONIC) */
    uint64_t names_at; /* when to ask for the names of threads next */
#ifdef _WIN32
    HANDLE thread, writer;
#else
    pthread_t thread, writer;
#endif
} prof__service;
#endif

#ifndef PROF_FREESTANDING
/* The file to which the image is mapped, and the archive that PROF_STREAM writes there after the ring: see >>stream. */
typedef struct prof__stream {
#ifdef _WIN32
    HANDLE handle;
#endif
    int file, opened;        /* file: the mapped file, open for its lock and the archive; opened: 1: it is */
    uint64_t device, inode;  /* the file's identity: a program may close descriptors of others */
    uint64_t retry_at, backoff_ns; /* when, and after which time, to repeat a failed write */
    uint64_t sign;           /* offset of a word in the file that is not 0 unless another program truncates the file; 0:
                                none */
    uint64_t seen;           /* the value of next_chunk when all full chunks had been packed */
    int full;                /* 1: max_file_size is reached, and no old block may be dropped */
    int failing, lost;       /* failing: 1: the last write failed; lost: 1: events were lost meanwhile */
    prof__block *block;      /* a buffer for the block of a packed chunk */
    prof__chunk **chunks;    /* room for pointers to all chunks of the ring */
    char path[1040];         /* the file's path if it is not the output itself, else "" */
} prof__stream;
#endif

/* Another program has truncated the image's file; and a thread has touched what is gone, so recording is over. */
enum { PROF__CUT = 1, PROF__CUT_OVER = 2 };

/* prof__session is the private data of an image. It is freed only when no thread can hold a pointer into the image any
   more. */
#ifdef PROF_TINY
typedef uintptr_t prof__extent; /* a size in the image; 32 bits spare 64-bit arithmetic */
#else
typedef uint64_t prof__extent;
#endif

/* The ring of chunks of a session. */
typedef struct prof__session_ring {
#ifdef PROF__SHARED_CHUNKS
    struct { /* partial chunks, which threads have left */
        uint64_t sequence;
        uint32_t words, chunk; /* chunk: its place in units of 64 bytes, from 1; 0: this entry is free;
                                  PROF__PARTIAL_BUSY: a thread is changing the entry */
    } partial_chunks[PROF__MAX_PARTIAL];
    uint32_t partial_count; /* entries in use */
#endif
    uint32_t ready_chunks; /* chunks from the first on that are writable, or PROF__ALL_READY: see >>ring */
    uint32_t claimed_chunks; /* ready_chunks, and those that a thread is making ready */
    uint64_t chunks_asked; /* chunks wanted, if the disk had no room for all; else 0 */
    const char *room_error; /* why the disk had no room */
    uint32_t all_owned[2]; /* PROF_RING: the value of prof__room_changes when each chunk was owned or held (0), and when
                              each was owned (1). 0: unknown */
    int32_t free_chunks;  /* if the service empties chunks: how many are free; < 0 after the ring was cut */
    uint32_t pieces;      /* chunks in all slots: more than slots if some are split */
    uint32_t depth, deepest; /* how often the most split slot was halved; how often one may be */
    uint32_t spare_chunk; /* 1: one more is free, for the service's own scopes */
    uint32_t released;    /* changes with each chunk that the service releases */
    uint32_t waiting;     /* threads that sleep until the service releases a chunk */
} prof__session_ring;

/* When a session records: see >>schedule. */
typedef struct prof__session_schedule {
    uint64_t begin_at, duration_ns, end_at; /* CLOCK_MONOTONIC; end_at: 0 until recording begins. See >>schedule */
    uint64_t warmup_left;
    int held;             /* the value of prof__state.held at the start */
    uint32_t warmup_what, warmup_name; /* PROF__WARMUP_...; hash of the name whose steps count, 0: not known yet */
} prof__session_schedule;

/* The files of a session: the one that the image is mapped to, and the output. */
typedef struct prof__session_file {
    char *live_path;   /* the file to which the image is mapped: output, or stream.path; NULL: none */
    void *mapping;     /* NULL: the image is in the user's memory */
    size_t mapping_size;
    char output[PROF__PATH(1024)]; /* expanded; "": none */
    char layout[24];   /* the configuration's layout; "": none */
    char part_path[PROF__PATH(1100)]; /* the file's temporary name until the start is complete */
    int cut;               /* PROF__CUT... */
#ifndef PROF_FREESTANDING
    uint64_t max_file_size;
    uint32_t at_limit;
    int written;          /* 1: output is complete, but prof_stop() was not called yet */
#endif
    char pattern[PROF__PATH(1024)];  /* the configuration's output as an absolute path, for children of forks */
    char started[16];     /* the time that %t means */
#ifdef _WIN32
    int private_memory;   /* 1: the image is in memory, not in a mapped file */
    int to_remove;        /* 1: closing stream.handle removes the sidecar file */
#endif
    int sidecar;          /* 1: output is written at the end. Until then the image is in a sidecar file beside it or, if
                             that cannot be created, in memory */
    int unnamed;          /* 1: the mapped file has no name yet */
    int apart;            /* 1: the mapping is private; prof_stop() writes it to the file: see prof__map_shared() */
    int sidecar_error;    /* the errno if the sidecar file could not be created or mapped; else 0 */
    prof_existing existing;
    int number;           /* 1: older files of this name are kept, and this session's gets a number; also in children */
    int named;            /* 1: the names of the session's files are chosen */
    uint64_t root[2], folder_is[2]; /* device and inode: of the root directory at the start; of the output's folder */
    int folder;           /* the descriptor + 1 of the folder of an output that is written at the end; 0: none */
    int error;            /* this child of a fork could not create its file, for this errno, and records in memory */
    int claimed;          /* 1: the session has created an empty file at output, which reserves the name */
    int taken, replaces;  /* taken: 1: live_path is a new file of this session; replaces: 1: of an older file */
    int keeps;            /* 1: the older file stays under another name */
    int old_file;         /* the descriptor + 1 that locks the older file meanwhile; 0: none */
} prof__session_file;

#ifdef PROF__WRAPS_WAITS
static uint64_t prof__waits_least; /* waits_ns of the last session, for threads that have none */
#endif

typedef struct prof__session {
    prof__header *header; /* the image; the next fields are places and sizes inside it */
    char *chunks;
    uint64_t *meta;
    uint32_t chunk_size;
    uint32_t fast; /* 1: a scope needs the inline counter only; PROF__SHORT: and min_ticks */
    prof__extent meta_words, meta_ready, chunk_words; /* meta_ready: what is writable; chunk_words: of a whole slot */
    prof__extent text_words; /* of the chunks that threads get now, times 2 at most: see prof__chunk_split() */
    prof__extent chunk_count; /* how many slots the ring has */
    uint64_t min_ticks, ordered_excess;
    uint32_t session_id, clock;
    uint32_t string_count, site_count;
    prof__session_file file; /* fields up to its output are reached with short instructions */
    uint32_t *index;
    uint32_t index_mask, site_without_room;
    uint32_t attached; /* threads that hold pointers into the image, readers included */
    uint32_t readers;  /* threads that copy the image */
    size_t image_size;
    struct prof__session *next;
    prof__session_ring ring;
    prof__session_schedule schedule;
#ifdef PROF__META_GROWS
    const char *names_error; /* why the disk had no room for names; NULL: it had room */
#endif
#ifndef PROF_FREESTANDING
    struct prof__follow *follow; /* what follows the ring, see >>follow; NULL: nothing */
    prof__service service;
    prof__stream stream;
    uint64_t wait_ns, dump_period_ns;
#endif
#ifdef PROF__WRAPS_WAITS
    uint64_t waits_ns, waits_ticks; /* the shortest wait that is recorded; 0: none is */
    uint64_t waits_hz;              /* ticks per second */
#endif
    int crash_report;
    uint64_t start_hz;    /* see PROF__META_RATE; 0: unknown */
    uint64_t process;     /* the pid of the process to which this record belongs */
    int sandbox;          /* the sandbox at the start: see prof__sandbox() */
    int failed;           /* the errno if a child's image could not be created; else 0 */
#ifndef PROF_FREESTANDING
    uint64_t look_at;     /* when the service is next due by the clock; 0: unknown */
#endif
#ifndef PROF_FREESTANDING
    prof__header like;    /* the header as at the start: the model for a child's image */
#endif
} prof__session;

/* PROF_MINIMAL has no names of outputs, so no sidecar file. */
#ifdef PROF_MINIMAL
#define PROF__SIDECAR(condition) 0
#else
#define PROF__SIDECAR(condition) (condition)
#endif

/* The recorder's state. It changes under prof__lock_word, together with the config version, which shows that something
   has changed. */
static struct {
    prof__session *session; /* the running session, or the last one until it is reset */
    prof__session *retired; /* a list of older sessions to which threads still point */
    prof__session *inherited; /* a child's running session that has no image yet, or never will: see >>fork */
    int running, paused, level;
    int held;  /* PROF__HELD_...: running, but recording has not begun; sites are off */
    int ended; /* 1: the session ended by itself; prof_stop() was not called yet */
    int frozen; /* 1: a crash is being reported, so sites are off. The only field that changes without the lock */
    int no_sync, no_devices;
    uint32_t filter_mask;
    uint32_t session_id;
#ifdef PROF__CATEGORIES
    int rule_count, category_named, category_default;
    struct {
        int on, exact; /* exact: 1: pattern is a plain name, without * and ? */
        char pattern[48];
    } rules[PROF__MAX_RULES];
#endif
} prof__state;

/* These are constants with PROF_MINIMAL, and more of them with PROF_TINY: the compiler then leaves out what depends on
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

/* prof_server.h starts a session for a capture if the program has none. The program must not notice. So its
   prof_start() calls this function, under the control lock, which ends the server's session; its prof_stop() finds no
   session; and children of forks inherit none. NULL: if there is a session, it is the program's. */
#ifdef PROF_FREESTANDING
#define prof__on_demand ((void (*)(void))NULL)
#else
static void (*prof__on_demand)(void);
#endif

/* The first word is the config version. Until something is started it is 0x80000000, which equals no site's state and
   turns off the sites that were never used. On Linux the config version has a page to itself. Once a program has
   started a session, that page is 0 in every child process, whatever call created the child. 0 equals no thread's
   synced version, so it sends each macro to its slow path. So even a child of _Fork() or clone(), for which no fork
   handler runs, does not write to its parent's image. Before the first constructor the config version is 0, too. */
#if defined(__linux__) && defined(__GNUC__) && !defined(PROF_FREESTANDING)
#define PROF__CONFIG_VERSION_PAGE 4096
PROF_DEF uint32_t prof__config_version[PROF__CONFIG_VERSION_PAGE / 4]
    __attribute__((__aligned__(PROF__CONFIG_VERSION_PAGE)));
static void (*prof__child_found)(void); /* called by a child that finds 0; NULL before that page exists */
#else
PROF_DEF uint32_t prof__config_version[1] = {PROF__OFF};
#endif
#ifndef PROF__NO_FORK
static void (*prof__inherited_make)(void); /* makes the image of a child of a fork that has inherited its session */
#endif
static uint32_t prof__config_version_count; /* how many config versions there were; a child continues the count */
#ifndef PROF_FREESTANDING
static PROF__UNUSED prof_writer *prof__writers;
#endif

/* The call sites of followers compare with a config version of their own, which this updates; the functions that they
   call check the leader's again. */
#if defined(PROF__INSTANCES) && !defined(PROF_STATIC)
static void prof__instances_tell(uint32_t config_version)
{
    for (prof__instance *each = PROF__ACQUIRE(&prof__followers); each; each = PROF__ACQUIRE(&each->next))
        if (each->config_version != prof__config_version) PROF__STORE(each->config_version, config_version);
}
#else
static void prof__instances_tell(uint32_t config_version) { (void)config_version; }
#endif

/* Called before each lock of the state is taken. A child for which no fork handler has run finds out here that it is
   one: other threads of its parent may have held the lock, and do not exist in it. */
static void prof__child_check(void)
{
#ifdef PROF__CONFIG_VERSION_PAGE
    uint32_t none = 0;
    if (PROF__LIKELY(PROF__LOAD(prof__config_version) != 0)) return;
    if (prof__child_found)
        prof__child_found();
    else
        __atomic_compare_exchange_n(prof__config_version, &none, PROF__OFF, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
#endif
}

#define PROF__OFF_SCOPE_ASKED 0x40000000u /* a flag in a site's state; config versions are below it. See >>off_scope */
static void prof__next_config_version(void)
{
    /* keeps the bit PROF__SHORT clear */
    uint32_t next = PROF__ADD(&prof__config_version_count, 1u) % (PROF__OFF_SCOPE_ASKED / 2 - 1) + 1;
    PROF__RELEASE(prof__config_version, next);
    prof__instances_tell(next);
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

/* Reads the clock of a session. at_end: 1: for the end of a scope, where PROF_CLOCK_ORDERED waits for earlier
   instructions. */
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
