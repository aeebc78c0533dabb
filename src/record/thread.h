// record/thread: The records of a thread and of a track. Each belongs to one thread at a time, which keeps its own
// signal handlers out with `gate`.
#ifndef PROF__RECORD_THREAD_H
#define PROF__RECORD_THREAD_H
#include "image/format.h"

/* Small code does not number frames: a reader counts those that are left. */
#ifndef PROF_MINIMAL
#define PROF__FRAME_NAMES 8
#endif

/* The recorder's state of a track: a thread's own track, or one that moves from thread to thread. */
struct prof_fiber {
    uint64_t track, serial; /* in the session of epoch; serial: the number of TRACK records so far */
    uint64_t owed;          /* scopes that were open when it left its last thread: words to reserve for their ends */
    uint32_t epoch;         /* the session in which it has a track; 0: none yet */
    uint32_t name_id;       /* PROF__NAME_NEW: name is not in the image yet */
    uint32_t is_fiber;
    uint32_t loose_count, loose_turn; /* turn: where to look for a place in a full list */
    uint32_t loose_name[32]; /* open PROFILE_BEGINs: the first of them */
    uint32_t note;          /* its note while it runs on no thread: see prof__thread */
    uint64_t loose[32];
    struct prof__loose_block *loose_more; /* the places of further ones */
    char name[64]; /* kept from session to session */
#ifdef PROF__FRAME_NAMES
    uint64_t frame_count[PROF__FRAME_NAMES]; /* boundaries of the session's first names of frames: see prof__frame */
    uint32_t frame_name[PROF__FRAME_NAMES];  /* their hashes; 0: free */
#endif
#ifdef PROF__BRIDGED
    struct prof__bridge_stack *bridge; /* the scopes that other tools see as open; NULL: none yet */
#endif
};
#define PROF__NOTE_HIDDEN_SHIFT 9 /* of a note: see >>note */
#define PROF__NAME_NEW 0xffffffffu
/* Values of loose_name instead of the name of an open one, whose bits 30 and 31 are clear: */
#define PROF__LOOSE_ENDED 0x80000001u
#define PROF__LOOSE_FREE 0x80000002u   /* beyond the count, or not written yet */
#define PROF__LOOSE_PASSED 0x40000000u /* a flag of the name: one that began before it may have ended since */
typedef char prof__fiber_fits[sizeof(struct prof_fiber) <= PROF_FIBER_SIZE ? 1 : -1];

/* One for each thread, or in a kernel for each processor. The fast path uses the first cache line. */
typedef struct prof__thread {
    uint32_t gate;  /* the generation for which the fast path is open, or PROF__BUSY or PROF__SHUT */
    uint32_t epoch; /* of the session that this thread records into; a token carries it from a begin to its end */
    uint64_t *cursor, *end;
    uint64_t base; /* ticks */
    uint64_t free_words; /* those of the chunk that may still be taken, less one for the end of each open scope */
    uint32_t open; /* value for gate once the thread is in step */
    uint32_t seen; /* generation with which the thread is in step */
    struct prof__session *session;
    prof__chunk *chunk;
    prof__chunk *filled; /* the previous chunk while the present one is less than half full: it is HELD. Or NULL */
    prof_fiber *fiber; /* the fiber that runs on this thread; NULL: none, events go to the thread's own track */
    uint64_t thread_id;
    uint32_t exits;   /* how often the thread has run its destructor: see prof__thread_leaves */
    uint32_t entered; /* 1: the last TRACK record of the chunk is the present track's. 0: cursor is end, free_words 0 */
    uint64_t *begun, *begun_end; /* the last begin or end, if short scopes are removed; if begun_end is the cursor */
    uint64_t *known; /* from here to begun are begins and ends; the first may also be a word that looks like neither */
    prof_fiber own;
    uint32_t note;      /* of the innermost scope that is off: see >>note; 0: none */
    uint32_t soft;      /* words of the chunk that are not to be used as long as there is a filled one */
    uint32_t note_place; /* its place in prof__asked.with_args, plus 1; 0: only its token knows */
    uint32_t waited;    /* the value of prof__room_mark() when a wait for a chunk ended in vain */
    uint32_t impatient; /* 1: the service, which never waits for a chunk, and has one in reserve */
    uint32_t no_room;   /* the value of prof__room_changes when there was no chunk for this thread; 0: there was one */
    uint32_t in_vain;   /* events lost since because of that */
    uint32_t visiting, visits; /* 1: it has its chunk for one scope only; how often it had. See prof__visits */
    void *signal_stack; /* see prof__signal_stack_take */
#ifdef PROF__FRAME_NAMES
    const void *framed; /* the call site of the last frame, if its track has not left the chunk since, (as a pointer to
                           anything: this type is visible, that of call sites is hidden in C++) */
    uint64_t *frames;   /* and where its name is counted */
#endif
    uint32_t syncing;   /* 1: the function of prof_set_sync() runs */
    uint32_t forking, fork_holds, fork_gate; /* see >>fork; handlers of a fork may fork again */
#ifdef PROF__BRIDGED
    uint32_t bridging;                       /* 1: in another tool's code */
    uint32_t bridge_named;                   /* 1: that tool knows the thread's name */
    prof_fiber *bridge_fiber;                /* the fiber whose scopes that tool sees as open on this thread; NULL: the
                                                thread's own */
    struct prof__bridge_stack *bridge_spare; /* the next free one */
#endif
#ifdef PROF__SHARED
    struct prof__thread *next; /* see prof__self_make(); these two do not change */
    uint32_t taken, first;     /* taken: 1: a thread has it. first: 1: the first of those mapped together */
#endif
} prof__thread;

/* Returns the track that the thread records on. */
static prof_fiber *prof__track_of(prof__thread *self) { return self->fiber ? self->fiber : &self->own; }

/* Not 0: the thread may have its chunk for this scope only. In a kernel, threads keep theirs. */
#ifdef PROF_FREESTANDING
#define PROF__LEAVES_SOON(self) ((void)(self), 0)
#else
#define PROF__LEAVES_SOON(self) ((self)->exits | (self)->visiting)
#endif
#define PROF__VISITS 100u      /* see prof__visits */
#define PROF__BUSY 0x80000000u /* the thread is writing: a signal handler that finds this must not write */
#define PROF__SHUT 0x80000001u /* all macros take the slow path */
/* A gate that differs from the generation in this bit is open to begins and ends only: a session with min_duration,
   where no word of another event is last, or none that an end could take for its begin. Small code has no such gate. */
#if defined(PROF_MINIMAL) || defined(PROF_FREESTANDING)
#define PROF__SHORT 0u
#else
#define PROF__SHORT 0x20000000u
#endif
#ifdef PROF__SHARED
#define PROF__EXITS 3u /* how often a thread runs its destructor; after that it records no more */
#else
#define PROF__EXITS 0xFFFFFFFFu
#endif

/* Makes the thread busy: from here on no handler writes, or moves the thread to another session. Returns the argument
   for prof__untake(). */
static inline uint32_t prof__take(prof__thread *self)
{
    uint32_t gate = self->gate;
    self->gate = PROF__BUSY;
    PROF__BARRIER();
    return gate;
}

/* Undoes prof__take(), if nothing was recorded. A thread that was already busy was interrupted by this handler, and
   stays busy. */
static inline void prof__untake(prof__thread *self, uint32_t gate)
{
    PROF__BARRIER();
    self->gate = gate;
}

/* Ends what prof__take() began, once the thread is in step. */
static inline void prof__leave(prof__thread *self)
{
    PROF__BARRIER();
    self->gate = self->open;
}

#endif /* PROF__RECORD_THREAD_H */
