// record/thread: What a thread and a track are to their writer. Each belongs to one thread at a time; `gate` is how it
// keeps its own signal handlers out.
/* A track as its writer knows it: a thread's own, or one that moves from thread to thread. */
struct prof_fiber {
    uint64_t track, serial; /* in the session of epoch; serial: TRACK records so far */
    uint64_t owed;          /* scopes that were open when it left its last thread: words to set aside for their ends */
    uint32_t epoch;         /* the session it has a track in; 0: none yet */
    uint32_t name_id;       /* PROF__NAME_NEW: name is not in the image yet */
    uint32_t is_fiber;
    uint32_t loose_count, loose_turn; /* turn: where a full list looks for a place */
    uint32_t loose_name[32]; /* PROFILE_BEGINs without their end */
    uint64_t loose[32];
    char name[64]; /* kept from session to session */
#ifdef PROF__BRIDGED
    struct prof__bridge_stack *bridge; /* what other tools see as open; null: nothing yet */
#endif
};
#define PROF__NAME_NEW 0xffffffffu
/* In loose_name, instead of the name of one that is open, whose bits 30 and 31 are clear: */
#define PROF__LOOSE_ENDED 0x80000001u
#define PROF__LOOSE_FREE 0x80000002u   /* beyond the count, or not filled yet */
#define PROF__LOOSE_PASSED 0x40000000u /* with the name: one that was begun before it may have ended since */
#define PROF__ERROR_SIZE 256
typedef char prof__fiber_fits[sizeof(struct prof_fiber) <= PROF_FIBER_SIZE ? 1 : -1];

/* One per thread, or per processor in a kernel. The first line is the fast path's. */
typedef struct prof__thread {
    uint32_t gate;  /* the generation for which the fast path is open; PROF__BUSY, PROF__SHUT */
    uint32_t epoch; /* of the session this thread records into; a token carries it from a begin to its end */
    uint64_t *cursor, *end;
    uint64_t base; /* ticks */
    uint64_t room; /* words that may still be taken: those left in the chunk less one for each scope owed its end */
    uint32_t open; /* value for gate once the thread is in step */
    uint32_t seen; /* generation with which the thread is in step */
    struct prof__session *session;
    prof__chunk *chunk;
    prof__chunk *filled; /* the chunk before, while the present one has no event yet: nobody may reuse it. Or null */
    prof_fiber *fiber; /* the one that runs on this thread; null: none, and what is recorded is the thread's own */
    uint64_t thread_id;
    uint32_t exits;   /* how often the thread has run its destructor: see prof__thread_leaves */
    uint32_t entered; /* 1: the last TRACK record of the chunk is the present track's. 0: cursor is end, room is 0 */
    uint64_t *begun, *begun_end; /* the last begin, where short scopes are taken back */
    prof_fiber own;
    uint32_t waited;    /* a wait for room ended in vain when prof__room_mark() was this */
    uint32_t impatient; /* the service: never waits for room, and has a chunk of its own in reserve */
    uint32_t no_room;   /* there was no chunk for this thread when prof__room_changes was this; 0: there was */
    uint32_t in_vain;   /* events lost for that since */
    uint32_t visiting, visits; /* visiting: 1: it has its chunk for one scope only; how often it had. See prof__visits */
    void *signal_stack; /* see prof__signal_stack_take */
    uint32_t syncing;   /* the hook of prof_set_sync() runs */
    uint32_t forking, fork_holds, fork_gate; /* see >>fork; forks may be inside one another, in their handlers */
#ifdef PROF__BRIDGED
    uint32_t bridging;                       /* 1: in another tool's code */
    uint32_t bridge_named;                   /* 1: it has been told the thread's name */
    prof_fiber *bridge_fiber;                /* whose scopes that tool sees as open on this thread; null: the thread's
                                                own */
    struct prof__bridge_stack *bridge_spare; /* for whoever needs one next */
#endif
#ifdef PROF__SHARED
    char error_text[PROF__ERROR_SIZE];
    struct prof__thread *next; /* see prof__self_make(); these two stay what they are */
    uint32_t taken, first;     /* taken: a thread has it. first: of those that were mapped together */
#endif
} prof__thread;

/* A macro's way into the recorder. Never part of the function around it: a compiler may take it that a function stays
   on one thread, and keep the address of a thread-local variable over a call that switches stacks. */
#define PROF__ENTRY PROF_DEF __attribute__((noinline))

#define PROF__VISITS 100u      /* see prof__visits */
#define PROF__BUSY 0x80000000u /* the thread is writing: a signal handler that finds this must not */
#define PROF__SHUT 0x80000001u /* everything takes the slow path */
#ifdef PROF__SHARED
#define PROF__EXITS 3u /* how often a thread runs its destructor before it is deaf: its record serves another one */
#else
#define PROF__EXITS 0xFFFFFFFFu
#endif
