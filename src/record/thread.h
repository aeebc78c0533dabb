// record/thread: The recorder's structs for a thread and for a track. One thread at a time uses each. Its write lock
// (write lock) keeps its own signal handlers from writing meanwhile.
#ifndef PROF__RECORD_THREAD_H
#define PROF__RECORD_THREAD_H
#include "image/format.h"

/* PROF_MINIMAL does not number frames: a reader counts those that it finds. */
#ifndef PROF_MINIMAL
#define PROF__FRAME_NAMES 8
#endif

/* The recorder's state of a track. A track belongs to a thread, or to a fiber, which moves from thread to thread. */
struct prof_fiber {
    uint64_t track, serial; /* track: its id in the session; serial: how many TRACK records it has */
    uint64_t reserved_ends; /* words to reserve for ends of scopes that were open when it left its last thread */
    uint32_t session_id;    /* the id of the session that knows the track; 0: none yet */
    uint32_t name_id;       /* the string id of its name; PROF__NAME_NEW: name is not in the image yet */
    uint32_t is_fiber;
    uint32_t unscoped_count, unscoped_turn; /* unscoped_turn: where to look for a slot in a full list */
    uint32_t unscoped_name[32]; /* names of the first unscoped begins that are open */
    uint32_t off_scope_marker; /* its off-scope marker while no thread runs it: see prof__thread */
    uint64_t unscoped[32];
    struct prof__unscoped_block *unscoped_more; /* slots for further unscoped begins */
    char name[64]; /* the program's name for it, for all sessions; "": none */
#ifdef PROF__FRAME_NAMES
    uint64_t frame_count[PROF__FRAME_NAMES]; /* boundaries of each of the session's first names of frames */
    uint32_t frame_name[PROF__FRAME_NAMES];  /* the hashes of these names; 0: free */
#endif
#ifdef PROF__BRIDGED
    struct prof__bridge_stack *bridge; /* the scopes that are open in other tools; NULL: none yet */
#endif
};
#define PROF__OFF_SCOPE_HIDDEN_SHIFT 9 /* in an off-scope marker: see >>off_scope */
#define PROF__NAME_NEW 0xffffffffu
/* Values of unscoped_name that are no name of an open begin. A name has bits 30 and 31 clear. */
#define PROF__UNSCOPED_ENDED 0x80000001u
#define PROF__UNSCOPED_FREE 0x80000002u /* beyond unscoped_count, or not written yet */
#define PROF__UNSCOPED_PASSED 0x40000000u /* a flag of a name: a begin before this one may have ended */
typedef char prof__fiber_fits[sizeof(struct prof_fiber) <= PROF_FIBER_SIZE ? 1 : -1];

/* One for each thread; in a kernel, one for each processor. The fast path uses only the first cache line. */
typedef struct prof__thread {
    uint32_t write_lock; /* the config version for which the fast path is open, or PROF__BUSY or PROF__SHUT */
    uint32_t session_id; /* the id of the session that it records into; tokens carry it from begin to end */
    uint64_t *cursor, *end;
    uint64_t base; /* ticks */
    uint64_t free_words; /* words of the chunk that may be written, less those reserved for ends of open scopes */
    uint32_t open; /* the value of write_lock when the thread is synced and not writing */
    uint32_t synced_version; /* the config version that the thread has applied */
    struct prof__session *session;
    prof__chunk *chunk;
    prof__chunk *filled; /* its previous chunk while the present one is less than half full, then HELD; or NULL */
    prof_fiber *fiber; /* the fiber that runs on this thread; NULL: none, events go to `own` */
    uint64_t thread_id;
    uint32_t exits;   /* how often its destructor has run: see prof__thread_leaves */
    uint32_t entered; /* 1: the chunk's last TRACK record is the present track's; 0: cursor is end, free_words 0 */
    struct {                  /* with min_duration: whether the next end may remove its begin */
        uint64_t *at, *end;   /* the last begin or end, and the word after it; valid if `end` is the cursor */
        uint64_t *known;      /* from here to `at` all words are begins and ends; the first one may instead be a
                                 word of another event whose bits look like neither */
    } short_scope;
    prof_fiber own;
    struct {
        uint32_t marker; /* of the innermost scope that is off: see >>off_scope; 0: none */
        uint32_t slot;   /* index + 1 in prof__off_scopes.with_args of its site; 0: only its token knows */
    } off_scope;
    uint32_t soft;      /* words at the chunk's end not to be used as long as `filled` is kept */
    uint32_t impatient; /* 1: this is the service, which never waits for a chunk and has a spare one */
    struct {                    /* when it last found no chunk */
        uint32_t waited;        /* the value of prof__room_mark() when it last waited for one in vain */
        uint32_t missing;       /* the value of prof__room_changes when it found none; 0: it found one */
        uint32_t failed_allocs; /* events that it has lost since */
    } room;
    /* borrowed_chunk: 1: its chunk is borrowed for one scope. borrows: how often it has borrowed one: see
       prof__borrows_chunk. */
    uint32_t borrowed_chunk, borrows;
    void *signal_stack; /* see prof__signal_stack_take */
#ifdef PROF__FRAME_NAMES
    struct {              /* the last frame boundary, unless its track has left the chunk since */
        const void *site; /* (void: this struct is visible in C++, and prof_site is hidden there) */
        uint64_t *count;  /* of boundaries of that frame's name */
    } frame;
#endif
    uint32_t syncing;   /* 1: it is in the function of prof_set_sync() */
    struct {
        uint32_t forking;    /* how many fork() are going on: fork handlers may fork again. See >>fork */
        uint32_t holds;      /* 1: it has taken prof__change_word for them */
        uint32_t write_lock; /* the write lock's value before the first */
    } fork;
#ifdef PROF__BRIDGED
    struct {
        uint32_t busy;                    /* 1: the thread runs another tool's code */
        uint32_t named;                   /* 1: that tool knows its name */
        prof_fiber *fiber;                /* whose scopes are open on it as that tool sees it; NULL: its own */
        struct prof__bridge_stack *spare; /* a free one, for the next fiber */
    } bridge;
#endif
#ifdef PROF__SHARED
    struct {
        struct prof__thread *next; /* of all: see prof__self_make(); does not change */
        uint32_t taken, first;     /* taken: 1: a thread has it; first: 1: the first record of its mapping */
    } record;
#endif
} prof__thread;

/* Returns the track on which the thread records. */
static prof_fiber *prof__track_of(prof__thread *self) { return self->fiber ? self->fiber : &self->own; }

/* Not 0 if the thread gives its chunk back after this scope: it is a borrowed chunk, or the thread is ending.
   Freestanding threads keep their chunks. */
#ifdef PROF_FREESTANDING
#define PROF__LEAVES_SOON(self) ((void)(self), 0)
#else
#define PROF__LEAVES_SOON(self) ((self)->exits | (self)->borrowed_chunk)
#endif
#define PROF__BORROWS 100u     /* see prof__borrows_chunk */
#define PROF__BUSY 0x80000000u /* the thread is writing: a signal handler that finds this must not write */
#define PROF__SHUT 0x80000001u /* all macros take the slow path */
/* A write lock that differs from the config version in this bit is open to begins and ends only. A session with
   min_duration uses it when the last word is a begin or an end, and no end could take a word of another event for its
   begin. Small builds have no such state. */
#if defined(PROF_MINIMAL) || defined(PROF_FREESTANDING)
#define PROF__SHORT 0u
#else
#define PROF__SHORT 0x20000000u
#endif
#ifdef PROF__SHARED
#define PROF__EXITS 3u /* how often a thread's destructor may run; then it records no more */
#else
#define PROF__EXITS 0xFFFFFFFFu
#endif

/* Takes the thread's write lock: from here on no signal handler writes, or moves the thread to another session. Returns
   the lock's old value, for prof__leave_write(). */
static inline uint32_t prof__enter_write(prof__thread *self)
{
    uint32_t write_lock = self->write_lock;
    self->write_lock = PROF__BUSY;
    PROF__BARRIER();
    return write_lock;
}

/* Gives the write lock its old value back, when nothing was recorded. If a signal handler interrupted a thread that was
   writing, the lock stays PROF__BUSY. */
static inline void prof__leave_write(prof__thread *self, uint32_t write_lock)
{
    PROF__BARRIER();
    self->write_lock = write_lock;
}

/* Releases the write lock of a thread that is synced. */
static inline void prof__leave(prof__thread *self)
{
    PROF__BARRIER();
    self->write_lock = self->open;
}

#endif /* PROF__RECORD_THREAD_H */
