/* prof_mpi.h - what the calls of MPI take, on the time line of the program's scopes, with arrows from rank to rank and
                assembled from src/: change it there, see CONTRIBUTING.md
                clocks that agree - public domain or MIT-0; needs prof.h, mpi.h and libc; the licence is at the end of
                this file

QUICK START

    #define PROF_IMPLEMENTATION            // in exactly one file of the program, C or C++
    #include "prof_mpi.h"                  // includes prof.h and mpi.h

    mpicc -O2 *.c -o train
    PROF_OUTPUT=rank-%r.prof mpirun -n 4 ./train     // with PROF_AUTOSTART, or prof_start() before MPI_Init()
    prof stragglers rank-*.prof
    prof merge rank-*.prof -o all.html

Nothing else is written: MPI lets a program define its functions, and this header does so. Each calls MPI's own, PMPI_.
A program that nobody compiled with it is recorded by a library, which `make mpi` builds with the machine's mpicc:

    PROF_OUTPUT=rank-%r.prof mpirun -n 4 -x LD_PRELOAD=/path/libprof_mpi.so ./program

WHAT IT RECORDS

    Each call is a scope of the category "mpi" with the call's name. Its arguments:
      of messages     peer (the rank in MPI_COMM_WORLD), tag, bytes
      of collectives  bytes (what this rank gives, or gets if it gives nothing), ranks (of the communicator), call (the
                      number of the collective on this communicator: the same for all its ranks), root if there is one,
                      comm (a number of the communicator, but for MPI_COMM_WORLD: the same for all its ranks)
    An arrow leads from each send to its receive: into MPI_Recv, or into the call in which a receive was completed, such
    as MPI_Wait. No message is longer for it: both ranks count the messages of a sender, receiver, tag and communicator,
    which MPI delivers in their order.
    The metadata have rank, ranks (their number), host and MPI's version, and how far the rank's clock is from that of
    rank 0: MPI_Init() and MPI_Finalize() measure it. prof merge and the tables of several ranks use it. A long job, or
    one that may be killed, calls prof_mpi_clocks() now and then.

WHAT HAS NO ARROW

    - Messages of a program in which no rank recorded when it called MPI_Init(), until it calls prof_mpi_clocks(). Until
      then messages are not counted, and a call costs a branch. From then on they are, whatever is recorded.
    - A receive from MPI_ANY_SOURCE or with MPI_ANY_TAG that was waiting when another one was posted or completed that
      the same message would have fitted: only MPI knows which of them got it. A pool of such receives has arrows if
      they are completed in the order in which they were posted.
    - Messages on communicators between groups, and those of MPI_Comm_create_group(), MPI_Comm_idup(), MPI_Comm_spawn().
    - Messages of more than 65,536 pairs of a peer and a tag.
    - From then on all messages of a communicator on which a receive was freed, failed, could not be cancelled in time,
      or could not be followed for want of memory.
    The metadata "mpi" count each of these, at MPI_Finalize() and prof_mpi_clocks(). Two threads of a rank that send
    with the same tag to the same rank at the same time have no order, and their arrows may be exchanged. After a send
    that failed or was cancelled, arrows of its tag come from the message before. One-sided communication has scopes,
    without arrows.
    Fortran's functions are not recorded, nor are those of MPI 4 for collectives of large counts, whose names end in _c.

WHAT IT COSTS

    Off, a branch. A message that is counted, 60 ns for its sender and for its receiver; with the scope, its arguments
    and the arrow, 170 ns each. MPI_Init() and MPI_Finalize() exchange 20 messages with each rank, one rank after the
    other.
*/
#include "prof.h" /* outside of the include guard, because this may be the inclusion with PROF_IMPLEMENTATION */

#pragma pack(push, 16) /* as in prof.h */
#ifndef PROF_MPI_H
#define PROF_MPI_H

#ifdef __cplusplus
extern "C" {
#endif

#if PROF_ENABLE
/* Measures how far the clock of each rank is from that of rank 0, counts messages from here on, so that they have
   arrows, and says in the metadata which have none. All ranks of MPI_COMM_WORLD must call it, between MPI_Init() and
   MPI_Finalize(), while no message is on its way. Returns PROF_INVALID_STATE outside of these, or if MPI fails:
   prof_error() says what MPI said. */
PROF__API prof_status prof_mpi_clocks(void);
#else
#define prof_mpi_clocks() PROF__STRIPPED(PROF_OK, (void)0)
#endif

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif /* PROF_MPI_H */

/*== END OF HEADER ==================================================================================================*/

#if defined(PROF_IMPLEMENTATION) && PROF_ENABLE && !defined(PROF_FREESTANDING) && !defined(PROF__MPI_IMPLEMENTED)
#define PROF__MPI_IMPLEMENTED

#include <mpi.h> /* outside of extern "C": it may have classes */
#include <pthread.h>

#ifdef PROF__WRAPS_MALLOC /* so that prof's own allocations are not recorded as the program's */
#define malloc(size) __libc_malloc(size)
#define calloc(count, size) __libc_calloc(count, size)
#define realloc(at, size) __libc_realloc(at, size)
#define free(at) __libc_free(at)
#endif

/* Arguments and arrows of the calls are of their category. */
#pragma push_macro("PROF_CATEGORY")
#undef PROF_CATEGORY
#define PROF_CATEGORY "mpi"

#ifdef __cplusplus
extern "C" {
#endif

#include <mpi.h>
#include <pthread.h>

#define PROF__MPI_MOST_KEYS 65536

/* A communicator. The lock protects all but what is written once. */
typedef struct prof__mpi_comm {
    uint64_t id;    /* the same for all its ranks; 0: unknown, its messages have no arrows */
    int size;       /* of the group that peers are numbered in */
    int *world;     /* peers' ranks in MPI_COMM_WORLD, MPI_UNDEFINED if they are not in it; NULL: peers' own numbers */
    uint64_t made;  /* communicators made of it so far */
    uint64_t calls; /* collectives on it so far */
    int lost;       /* 1: its receives cannot be counted any more */
    int references; /* itself, and receives under way */
    struct prof__mpi_receive *open, *newest; /* receives that match several senders or tags, in the order of posting */
} prof__mpi_comm;

/* How many messages there were between two ranks, in one direction, of one tag and communicator. */
typedef struct prof__mpi_key {
    uint64_t comm;
    int peer, tag, sends; /* sends: 1, or 0 for receives */
    uint64_t count;       /* the next message's number, from 1 on; 0: this place of the table is free */
} prof__mpi_key;

/* Why messages have no arrows. */
enum { PROF__MPI_OPEN, PROF__MPI_UNKNOWN, PROF__MPI_KEYS, PROF__MPI_LOST, PROF__MPI_CAUSES };
static const char *const prof__mpi_causes[PROF__MPI_CAUSES] = {
    "from any source or of any tag, beside another receive that the message would have fitted",
    "on communicators whose ranks are not known to each other", "because there were too many different tags",
    "because a receive before was cancelled, freed or failed, or memory ran out"};

static struct {
    pthread_mutex_t lock, making; /* making: a communicator's attribute is made */
    int counts;                   /* 1: messages are counted; read without the lock */
    int ready;                    /* 1: between MPI_Init() and MPI_Finalize() */
    int key, rank, size;          /* key: of the communicators' attribute */
    uint64_t tracked;             /* requests and matched messages in the table; read without the lock */
    prof__mpi_key *keys;
    size_t key_count, key_room; /* key_room: a power of two */
    uint64_t missing[PROF__MPI_CAUSES], told;
    char clock[400];    /* the metadata "clock offset": the first measurement, then the latest */
    size_t clock_first; /* bytes of the first one */
} prof__mpi = {PTHREAD_MUTEX_INITIALIZER,
               PTHREAD_MUTEX_INITIALIZER,
               0,
               0,
               MPI_KEYVAL_INVALID,
               0,
               0,
               0,
               NULL,
               0,
               0,
               {0, 0, 0, 0},
               0,
               {0},
               0};

static int prof__mpi_counts(void) { return __atomic_load_n(&prof__mpi.counts, __ATOMIC_RELAXED); }
static void prof__mpi_lock(void) { pthread_mutex_lock(&prof__mpi.lock); }
static void prof__mpi_unlock(void) { pthread_mutex_unlock(&prof__mpi.lock); }

static uint64_t prof__mpi_mix(uint64_t a, uint64_t b) /* murmur3's finaliser of both */
{
    uint64_t x = a * 0x9E3779B97F4A7C15u + b;
    x = (x ^ x >> 33) * 0xFF51AFD7ED558CCDu;
    x = (x ^ x >> 33) * 0xC4CEB9FE1A85EC53u;
    return x ^ x >> 33;
}

/*-- communicators: each has an attribute that points to a prof__mpi_comm --*/

static void prof__mpi_comm_leave(prof__mpi_comm *comm) /* with the lock */
{
    if (--comm->references) return;
    free(comm->world);
    free(comm);
}

static int prof__mpi_comm_freed(MPI_Comm handle, int key, void *value, void *extra)
{
    (void)handle;
    (void)key;
    (void)extra;
    prof__mpi_lock();
    prof__mpi_comm_leave((prof__mpi_comm *)value);
    prof__mpi_unlock();
    return MPI_SUCCESS;
}

/* Fills in the ranks in MPI_COMM_WORLD of a communicator's peers. Returns 0 if that fails. */
static int prof__mpi_comm_peers(prof__mpi_comm *comm, MPI_Comm handle)
{
    MPI_Group group = MPI_GROUP_NULL, world = MPI_GROUP_NULL;
    int *own = NULL, between = 0, good;
    if (PMPI_Comm_test_inter(handle, &between)) return 0;
    good = !(between ? PMPI_Comm_remote_group(handle, &group) : PMPI_Comm_group(handle, &group)) &&
           !PMPI_Group_size(group, &comm->size) && !PMPI_Comm_group(MPI_COMM_WORLD, &world);
    if (good) {
        own = (int *)malloc((size_t)(comm->size + 1) * sizeof *own);
        comm->world = (int *)malloc((size_t)(comm->size + 1) * sizeof *own);
        for (int i = 0; own && i < comm->size; ++i) own[i] = i;
        good = own && comm->world && !PMPI_Group_translate_ranks(group, comm->size, own, world, comm->world);
    }
    free(own);
    if (group != MPI_GROUP_NULL) PMPI_Group_free(&group);
    if (world != MPI_GROUP_NULL) PMPI_Group_free(&world);
    return good;
}

/* Gives a communicator its attribute. Returns NULL without memory, or if MPI refuses. */
static prof__mpi_comm *prof__mpi_comm_new(MPI_Comm handle, uint64_t id)
{
    prof__mpi_comm *comm = (prof__mpi_comm *)calloc(1, sizeof *comm);
    if (!comm) return NULL;
    comm->id = id;
    comm->references = 1;
    if (prof__mpi_comm_peers(comm, handle) && !PMPI_Comm_set_attr(handle, prof__mpi.key, comm)) return comm;
    free(comm->world);
    free(comm);
    return NULL;
}

static prof__mpi_comm *prof__mpi_comm_known(MPI_Comm handle)
{
    void *value = NULL;
    int known = 0;
    return PMPI_Comm_get_attr(handle, prof__mpi.key, (void *)&value, &known) || !known ? NULL : (prof__mpi_comm *)value;
}

/* Returns what is known of a communicator; NULL for none, without memory, or outside of MPI_Init(), MPI_Finalize(). */
static prof__mpi_comm *prof__mpi_comm_of(MPI_Comm handle)
{
    prof__mpi_comm *comm;
    if (!prof__mpi.ready || handle == MPI_COMM_NULL) return NULL;
    if ((comm = prof__mpi_comm_known(handle)) != NULL) return comm;
    pthread_mutex_lock(&prof__mpi.making);
    if ((comm = prof__mpi_comm_known(handle)) == NULL) comm = prof__mpi_comm_new(handle, 0);
    pthread_mutex_unlock(&prof__mpi.making);
    return comm;
}

/* Returns a peer's rank in MPI_COMM_WORLD; a peer that is not in it has a negative number. */
static int prof__mpi_peer(const prof__mpi_comm *comm, int rank)
{
    return comm && rank >= 0 && rank < comm->size ? comm->world[rank] : rank;
}

/* Numbers a communicator that all ranks of another one have made at once, also those that are not in it: of the members
   of one that was split, the first tells them apart. */
static void prof__mpi_comm_made(MPI_Comm of, MPI_Comm made)
{
    prof__mpi_comm *from = prof__mpi_comm_of(of), *comm;
    uint64_t number;
    if (!from) return;
    prof__mpi_lock();
    number = ++from->made;
    prof__mpi_unlock();
    if (made == MPI_COMM_NULL || !from->id || !(comm = prof__mpi_comm_new(made, 0))) return;
    if (comm->size > 0) comm->id = prof__mpi_mix(prof__mpi_mix(from->id, number), (uint64_t)comm->world[0]) | 1;
}

/*-- messages --*/

static prof__mpi_key *prof__mpi_key_find(uint64_t comm, int peer, int tag, int sends)
{
    uint64_t place = prof__mpi_mix(prof__mpi_mix(comm, (uint32_t)peer), (uint64_t)(uint32_t)tag << 1 | (uint64_t)sends);
    for (;; ++place) {
        prof__mpi_key *key = &prof__mpi.keys[place & (prof__mpi.key_room - 1)];
        if (!key->count || (key->comm == comm && key->peer == peer && key->tag == tag && key->sends == sends))
            return key;
    }
}

/* Makes room for one more key. Returns 0 if there is none. */
static int prof__mpi_keys_grow(void)
{
    prof__mpi_key *old = prof__mpi.keys;
    size_t room = prof__mpi.key_room, more = room ? room * 2 : 256;
    if (prof__mpi.key_count < room / 2) return 1;
    if (prof__mpi.key_count >= PROF__MPI_MOST_KEYS) return 0;
    prof__mpi_key *keys = (prof__mpi_key *)calloc(more, sizeof *keys);
    if (!keys) return 0;
    prof__mpi.keys = keys;
    prof__mpi.key_room = more;
    for (size_t i = 0; i < room; ++i)
        if (old[i].count) *prof__mpi_key_find(old[i].comm, old[i].peer, old[i].tag, old[i].sends) = old[i];
    free(old);
    return 1;
}

/* Returns the key of messages with a peer, which is in the table then; NULL: there is no room. With the lock. */
static prof__mpi_key *prof__mpi_key_of(const prof__mpi_comm *comm, int peer, int tag, int sends)
{
    prof__mpi_key *key = prof__mpi.keys ? prof__mpi_key_find(comm->id, peer, tag, sends) : NULL;
    if (key && key->count) return key;
    if (!prof__mpi_keys_grow()) return NULL;
    key = prof__mpi_key_find(comm->id, peer, tag, sends);
    key->comm = comm->id;
    key->peer = peer;
    key->tag = tag;
    key->sends = sends;
    key->count = 1;
    ++prof__mpi.key_count;
    return key;
}

/* Returns the id of a message's arrow: the same for the sender and the receiver. */
static uint64_t prof__mpi_arrow(uint64_t comm, int from, int to, int tag, uint64_t number)
{
    uint64_t ranks = (uint64_t)(uint32_t)from << 32 | (uint32_t)to;
    uint64_t id = prof__mpi_mix(prof__mpi_mix(prof__mpi_mix(comm, ranks), (uint32_t)tag), number);
    return id ? id : 1;
}

/* Counts a message without an arrow. With the lock. */
static void prof__mpi_missing(int cause) { ++prof__mpi.missing[cause]; }

/* Says in the metadata which messages have no arrows. */
static void prof__mpi_tell(void)
{
    char text[600];
    uint64_t all = 0;
    size_t at = 0;
    prof__mpi_lock();
    for (int i = 0; i < PROF__MPI_CAUSES; ++i) all += prof__mpi.missing[i];
    int tells = all != prof__mpi.told;
    prof__mpi.told = all;
    for (int i = 0; tells && i < PROF__MPI_CAUSES; ++i) {
        if (!prof__mpi.missing[i] || at >= sizeof text) continue;
        int size = snprintf(text + at, sizeof text - at, "%s%llu messages without an arrow: %s", at ? "; " : "",
                            (unsigned long long)prof__mpi.missing[i], prof__mpi_causes[i]);
        if (size > 0) at += (size_t)size;
    }
    prof__mpi_unlock();
    if (tells) prof_set_metadata("mpi", text);
}

/* A receive from its posting until it is complete. MPI gives a message to the oldest receive that it fits. So a receive
   of one sender and one tag has its number when it is posted; one of any sender or tag when it is complete, and is in
   its communicator's list until then. Where the order of posting does not tell which of two got a message, neither has
   an arrow. The count of messages is right all the same, as soon as both are complete. */
typedef struct prof__mpi_receive {
    prof__mpi_comm *comm;        /* NULL: it is not followed */
    int source, tag, open, sure; /* source: a rank of comm; open: any source or tag; sure: 0: it has no arrow */
    uint64_t number;
    struct prof__mpi_receive *before, *next; /* of the list */
} prof__mpi_receive;

/* What the table holds for a request, or for the handle of a matched message. */
typedef struct prof__mpi_request {
    prof__mpi_receive receive; /* first: an element of the table is its receive */
    uint64_t handle;
    int matched;           /* 1: of MPI_Mprobe(): a message, no request */
    int persistent, sends; /* sends: a persistent send */
    MPI_Comm to;           /* these are of a persistent request */
    int peer, peer_tag;
    int64_t bytes;
    struct prof__mpi_request *later; /* of the same place in the table */
} prof__mpi_request;

enum { PROF__MPI_PLACES = 4096 };
static prof__mpi_request *prof__mpi_requests[PROF__MPI_PLACES]; /* the oldest of a handle first: see take() */

static int prof__mpi_fits(const prof__mpi_receive *open, const prof__mpi_receive *other)
{
    return (open->source == MPI_ANY_SOURCE || other->source == MPI_ANY_SOURCE || open->source == other->source) &&
           (open->tag == MPI_ANY_TAG || other->tag == MPI_ANY_TAG || open->tag == other->tag);
}

/* Numbers a message that is received. With the lock. */
static void prof__mpi_number(prof__mpi_receive *receive)
{
    prof__mpi_key *key = prof__mpi_key_of(receive->comm, receive->comm->world[receive->source], receive->tag, 0);
    if (key)
        receive->number = key->count++;
    else
        receive->number = 0;
}

static void prof__mpi_unlink(prof__mpi_receive *receive)
{
    prof__mpi_comm *comm = receive->comm;
    *(receive->before ? &receive->before->next : &comm->open) = receive->next;
    *(receive->next ? &receive->next->before : &comm->newest) = receive->before;
}

/* Notes a receive that is posted. */
static void prof__mpi_post(prof__mpi_receive *receive, int source, int tag, MPI_Comm handle)
{
    prof__mpi_comm *comm = NULL;
    memset(receive, 0, sizeof *receive);
    if (!prof__mpi_counts() || source == MPI_PROC_NULL || !(comm = prof__mpi_comm_of(handle))) return;
    prof__mpi_lock();
    if (comm->id && (source == MPI_ANY_SOURCE || (source >= 0 && source < comm->size))) {
        receive->comm = comm;
        receive->source = source;
        receive->tag = tag;
        receive->sure = 1;
        receive->open = source == MPI_ANY_SOURCE || tag == MPI_ANY_TAG;
        ++comm->references;
        if (receive->open) {
            receive->before = comm->newest;
            *(comm->newest ? &comm->newest->next : &comm->open) = receive;
            comm->newest = receive;
        } else {
            for (prof__mpi_receive *open = comm->open; open; open = open->next)
                if (prof__mpi_fits(open, receive)) open->sure = receive->sure = 0;
            prof__mpi_number(receive);
        }
    } else if (!comm->id) {
        prof__mpi_missing(PROF__MPI_UNKNOWN);
    }
    prof__mpi_unlock();
}

/* Takes back a number that no message has got. With the lock. */
static void prof__mpi_take_back(prof__mpi_receive *receive)
{
    prof__mpi_key *key;
    if (receive->open || !receive->number) return;
    key = prof__mpi_key_of(receive->comm, receive->comm->world[receive->source], receive->tag, 0);
    if (key && key->count == receive->number + 1)
        key->count = receive->number;
    else
        receive->comm->lost = 1;
}

/* Ends a receive of which nobody knows whether it got a message, or one that failed. */
static void prof__mpi_abandon(prof__mpi_receive *receive)
{
    if (!receive->comm) return;
    prof__mpi_lock();
    if (receive->open) prof__mpi_unlink(receive);
    receive->comm->lost = 1;
    prof__mpi_missing(PROF__MPI_LOST);
    prof__mpi_comm_leave(receive->comm);
    prof__mpi_unlock();
    receive->comm = NULL;
}

/* Resolves a receive that got the message of this source and tag. */
static void prof__mpi_resolve(prof__mpi_receive *receive, int source, int tag)
{
    prof__mpi_comm *comm = receive->comm;
    if (!comm || !receive->open) return;
    prof__mpi_lock();
    receive->source = source;
    receive->tag = tag;
    for (prof__mpi_receive *open = receive->before; open;
         open = open->before) /* posted earlier, and not complete yet */
        if (prof__mpi_fits(open, receive)) open->sure = receive->sure = 0;
    prof__mpi_unlink(receive);
    receive->open = 0;
    if (source >= 0 && source < comm->size) prof__mpi_number(receive);
    prof__mpi_unlock();
}

/* Ends a receive that is complete, and sets its sender's rank in MPI_COMM_WORLD. Returns the id of the arrow that it
   ends; 0: none. */
static uint64_t prof__mpi_received(prof__mpi_receive *receive, const MPI_Status *status, int *peer)
{
    prof__mpi_comm *comm = receive->comm;
    uint64_t arrow = 0;
    int cancelled = 0;
    *peer = status->MPI_SOURCE;
    if (!comm) return 0;
    if (PMPI_Test_cancelled(status, &cancelled)) cancelled = 0;
    if (!cancelled) prof__mpi_resolve(receive, status->MPI_SOURCE, status->MPI_TAG);
    prof__mpi_lock();
    *peer = prof__mpi_peer(comm, receive->source);
    if (cancelled) {
        if (receive->open) prof__mpi_unlink(receive);
        prof__mpi_take_back(receive);
    } else if (receive->source < 0) { /* MPI_PROC_NULL: it was no message */
    } else if (!receive->sure) {
        prof__mpi_missing(PROF__MPI_OPEN);
    } else if (!receive->number) {
        prof__mpi_missing(PROF__MPI_KEYS);
    } else if (comm->lost) {
        prof__mpi_missing(PROF__MPI_LOST);
    } else {
        arrow = prof__mpi_arrow(comm->id, *peer, prof__mpi.rank, receive->tag, receive->number);
    }
    prof__mpi_comm_leave(comm);
    prof__mpi_unlock();
    receive->comm = NULL;
    return arrow;
}

/* Counts a message that is sent. Returns the id of the arrow that it begins; 0: none. */
static uint64_t prof__mpi_sent(prof__mpi_comm *comm, int peer, int tag)
{
    uint64_t arrow = 0;
    if (!comm || !prof__mpi_counts()) return 0;
    prof__mpi_lock();
    prof__mpi_key *key = comm->id ? prof__mpi_key_of(comm, peer, tag, 1) : NULL;
    if (key)
        arrow = prof__mpi_arrow(comm->id, prof__mpi.rank, peer, tag, key->count++);
    else
        prof__mpi_missing(comm->id ? PROF__MPI_KEYS : PROF__MPI_UNKNOWN);
    prof__mpi_unlock();
    return arrow;
}

/*-- requests, and messages of MPI_Mprobe() --*/

/* A handle is a pointer or a number. Two requests may have the same handle for a moment: one is complete, but its
   wrapper has not taken it out yet, and another thread has got its handle. The older one is taken first. */
static uint64_t prof__mpi_bits(const void *handle, size_t size)
{
    uint64_t bits = 0;
    memcpy(&bits, handle, size < sizeof bits ? size : sizeof bits);
    return bits;
}

static prof__mpi_request **prof__mpi_place(uint64_t handle)
{
    return &prof__mpi_requests[prof__mpi_mix(handle, 0) % PROF__MPI_PLACES];
}

static void prof__mpi_insert(prof__mpi_request *entry, uint64_t handle, int matched)
{
    entry->handle = handle;
    entry->matched = matched;
    entry->later = NULL;
    prof__mpi_lock();
    prof__mpi_request **at = prof__mpi_place(handle);
    while (*at) at = &(*at)->later;
    *at = entry;
    __atomic_add_fetch(&prof__mpi.tracked, 1, __ATOMIC_RELAXED);
    prof__mpi_unlock();
}

/* Returns what the table has for a handle, or NULL. Takes it out, unless it is persistent and stays. */
static prof__mpi_request *prof__mpi_take(uint64_t handle, int matched, int stays)
{
    if (!__atomic_load_n(&prof__mpi.tracked, __ATOMIC_RELAXED)) return NULL;
    prof__mpi_lock();
    prof__mpi_request **at = prof__mpi_place(handle), *found;
    while (*at && ((*at)->handle != handle || (*at)->matched != matched)) at = &(*at)->later;
    found = *at;
    if (found && !(stays && found->persistent)) {
        *at = found->later;
        __atomic_sub_fetch(&prof__mpi.tracked, 1, __ATOMIC_RELAXED);
    }
    prof__mpi_unlock();
    return found;
}

/* Returns a new entry; NULL without memory: the communicator's receives cannot be counted then. */
static prof__mpi_request *prof__mpi_request_new(MPI_Comm handle)
{
    prof__mpi_request *entry = (prof__mpi_request *)calloc(1, sizeof *entry);
    prof__mpi_comm *comm = entry ? NULL : prof__mpi_comm_of(handle);
    if (comm) {
        prof__mpi_lock();
        comm->lost = 1;
        prof__mpi_unlock();
    }
    return entry;
}

#ifndef PROF__MPI_NOW /* tests have clocks of their own */
#define PROF__MPI_NOW() prof_host_ns()
#endif

enum { PROF__MPI_ROUNDS = 20, PROF__MPI_PING = 1 };

/* Answers a rank: with this clock, as often as it asks. */
static int prof__mpi_clock_answer(int rank, MPI_Comm comm)
{
    int error = 0;
    for (int i = 0; i < PROF__MPI_ROUNDS && !error; ++i) {
        int64_t now = 0;
        error = PMPI_Recv(&now, 1, MPI_INT64_T, rank, PROF__MPI_PING, comm, MPI_STATUS_IGNORE);
        now = (int64_t)PROF__MPI_NOW();
        if (!error) error = PMPI_Send(&now, 1, MPI_INT64_T, rank, PROF__MPI_PING, comm);
    }
    return error;
}

/* Asks rank 0. Of the answers the quickest counts: the clock there was read in the middle of the time that it took,
   give or take half of that. */
static int prof__mpi_clock_ask(MPI_Comm comm, int64_t *time, int64_t *offset, int64_t *within)
{
    int error = 0;
    *within = INT64_MAX;
    for (int i = 0; i < PROF__MPI_ROUNDS && !error; ++i) {
        int64_t before = (int64_t)PROF__MPI_NOW(), there = 0, half;
        error = PMPI_Send(&there, 1, MPI_INT64_T, 0, PROF__MPI_PING, comm);
        if (!error) error = PMPI_Recv(&there, 1, MPI_INT64_T, 0, PROF__MPI_PING, comm, MPI_STATUS_IGNORE);
        half = ((int64_t)PROF__MPI_NOW() - before) / 2;
        if (error || half >= *within) continue;
        *within = half;
        *time = before + half;
        *offset = there - *time;
    }
    return error;
}

/* Keeps the first measurement and the latest. */
static void prof__mpi_clock_note(int64_t time, int64_t offset)
{
    char *text = prof__mpi.clock;
    size_t first = prof__mpi.clock_first;
    int size = snprintf(text + first, sizeof prof__mpi.clock - first, "%s%lld %lld", first ? " " : "", (long long)time,
                        (long long)offset);
    if (!first && size > 0) prof__mpi.clock_first = (size_t)size;
    prof_set_metadata("clock offset", text);
}

/* Measures, and writes the metadata. Processes on rank 0's machine have its clock. Returns MPI's error. */
static int prof__mpi_clocks_measure(void)
{
    char name[MPI_MAX_PROCESSOR_NAME + 1], clock[MPI_MAX_PROCESSOR_NAME + 64]; /* of this machine; rank 0's */
    int64_t time = 0, offset = 0, within = 0;
    MPI_Comm comm = MPI_COMM_NULL;
    int length = 0, error;
    memset(name, 0, sizeof name);
    memset(clock, 0, sizeof clock);
    error = PMPI_Get_processor_name(name, &length);
    if (!error) error = PMPI_Comm_dup(MPI_COMM_WORLD, &comm);
    if (error) return error;
    snprintf(clock, sizeof clock, "%s %llu", name, (unsigned long long)PROF__MPI_NOW());
    error = PMPI_Bcast(clock, (int)sizeof clock, MPI_CHAR, 0, comm);
    for (int rank = 1; rank < prof__mpi.size && !error; ++rank) {
        if (!prof__mpi.rank)
            error = prof__mpi_clock_answer(rank, comm);
        else if (rank == prof__mpi.rank)
            error = prof__mpi_clock_ask(comm, &time, &offset, &within);
    }
    PMPI_Comm_free(&comm);
    if (error) return error;
    size_t size = strlen(name);
    int same = !strncmp(name, clock, size) && clock[size] == ' ';
    if (same && offset <= within && offset >= -within) offset = 0;
    if (!prof__mpi.clock_first) prof_set_metadata("clock reference", clock);
    prof__mpi_clock_note(time, offset);
    return MPI_SUCCESS;
}

/* Begins to count messages: all ranks at once, with none on its way. */
static int prof__mpi_count(void)
{
    int error = PMPI_Barrier(MPI_COMM_WORLD);
    if (!error) __atomic_store_n(&prof__mpi.counts, 1, __ATOMIC_RELAXED);
    return error ? error : PMPI_Barrier(MPI_COMM_WORLD);
}

PROF_DEF prof_status prof_mpi_clocks(void)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0, error;
    if (!prof__mpi.ready)
        return prof__fail(PROF_INVALID_STATE, "prof_mpi_clocks: call it between MPI_Init() and MPI_Finalize()");
    error = prof__mpi_clocks_measure();
    if (!error && !prof__mpi_counts()) error = prof__mpi_count();
    prof__mpi_tell();
    if (!error) return PROF_OK;
    PMPI_Error_string(error, text, &length);
    return prof__fail(PROF_INVALID_STATE, "prof_mpi_clocks: MPI says: %s", text);
}

/* The scope of a call; prof__mpi_call is 0 while it is off. */
#define PROF__MPI_SCOPE(name) PROFILE_SCOPE_AS_C(prof__mpi_call, name, "mpi")

static int64_t prof__mpi_bytes(int64_t count, MPI_Datatype type)
{
    MPI_Count size = 0;
    return PMPI_Type_size_x(type, &size) || size < 0 ? 0 : count * (int64_t)size;
}

/*-- messages --*/

/* Records what a call sends, before it does. */
static void prof__mpi_send(prof_scope call, int64_t bytes, int peer, int tag, MPI_Comm handle)
{
    if ((!call && !prof__mpi_counts()) || peer == MPI_PROC_NULL) return;
    prof__mpi_comm *comm = prof__mpi_comm_of(handle);
    peer = prof__mpi_peer(comm, peer);
    uint64_t arrow = prof__mpi_sent(comm, peer, tag);
    if (!call) return;
    PROFILE_ARGS_TO(call, PROF_ARG_I("peer", peer), PROF_ARG_I("tag", tag), PROF_ARG_I("bytes", bytes));
    if (arrow) PROFILE_FLOW_OUT_SHARED(arrow);
}

/* Records what a call has received. Arguments are of calls that can have only one message. */
static void prof__mpi_receive_end(prof_scope call, prof__mpi_receive *receive, const MPI_Status *status, int arguments,
                                  MPI_Comm handle)
{
    int peer, was = receive->comm != NULL;
    MPI_Count bytes = 0;
    uint64_t arrow = prof__mpi_received(receive, status, &peer);
    if (!call || status->MPI_SOURCE == MPI_PROC_NULL) return;
    if (arguments) {
        if (!was) peer = prof__mpi_peer(prof__mpi_comm_of(handle), peer);
        if (PMPI_Get_elements_x(status, MPI_BYTE, &bytes) || bytes < 0) bytes = 0;
        PROFILE_ARGS_TO(call, PROF_ARG_I("peer", peer), PROF_ARG_I("tag", status->MPI_TAG),
                        PROF_ARG_I("bytes", (int64_t)bytes));
    }
    if (arrow) PROFILE_FLOW_IN_SHARED(arrow);
}

/* Ends a call that receives one message; one that sends one, too, has the arguments of that. */
static int prof__mpi_receives(prof_scope call, prof__mpi_receive *receive, const MPI_Status *status, MPI_Comm handle,
                              int arguments, int error)
{
    if (error)
        prof__mpi_abandon(receive);
    else if (call || receive->comm)
        prof__mpi_receive_end(call, receive, status, arguments, handle);
    return error;
}

/* A receive whose request is followed. Takes the entry, which may be NULL. */
static int prof__mpi_requested(prof__mpi_request *entry, const MPI_Request *request, int error)
{
    if (entry && error) prof__mpi_abandon(&entry->receive);
    if (entry && (error || (!entry->receive.comm && !entry->persistent))) {
        free(entry);
        entry = NULL;
    }
    if (entry) prof__mpi_insert(entry, prof__mpi_bits(request, sizeof *request), 0);
    return error;
}

static prof__mpi_request *prof__mpi_posts(prof_scope call, int64_t count, MPI_Datatype type, int source, int tag,
                                          MPI_Comm comm)
{
    prof__mpi_request *entry = prof__mpi_counts() ? prof__mpi_request_new(comm) : NULL;
    if (entry) prof__mpi_post(&entry->receive, source, tag, comm);
    if (call && source != MPI_PROC_NULL)
        PROFILE_ARGS_TO(
            call, PROF_ARG_I("peer", source == MPI_ANY_SOURCE ? -1 : prof__mpi_peer(prof__mpi_comm_of(comm), source)),
            PROF_ARG_I("tag", tag == MPI_ANY_TAG ? -1 : tag), PROF_ARG_I("bytes", prof__mpi_bytes(count, type)));
    return entry;
}

/* A message that MPI_Mprobe() or MPI_Improbe() has found belongs to its handle: no other receive gets it. */
static void prof__mpi_matched(const MPI_Message *message, const MPI_Status *status, MPI_Comm comm)
{
    prof__mpi_request *entry = prof__mpi_counts() ? prof__mpi_request_new(comm) : NULL;
    if (!entry) return;
    prof__mpi_post(&entry->receive, status->MPI_SOURCE, status->MPI_TAG, comm);
    if (entry->receive.comm)
        prof__mpi_insert(entry, prof__mpi_bits(message, sizeof *message), 1);
    else
        free(entry);
}

static void prof__mpi_matched_take(MPI_Message message, prof__mpi_receive *receive)
{
    prof__mpi_request *entry = prof__mpi_take(prof__mpi_bits(&message, sizeof message), 1, 0);
    memset(receive, 0, sizeof *receive);
    if (entry) *receive = entry->receive;
    free(entry);
}

#define PROF__MPI_SENDS(name, suffix, count_type)                                                                      \
    int MPI_##name##suffix(const void *at, count_type count, MPI_Datatype type, int peer, int tag, MPI_Comm comm)      \
    {                                                                                                                  \
        PROF__MPI_SCOPE("MPI_" #name);                                                                                 \
        prof__mpi_send(prof__mpi_call, prof__mpi_call ? prof__mpi_bytes((int64_t)count, type) : 0, peer, tag, comm);   \
        return PMPI_##name##suffix(at, count, type, peer, tag, comm);                                                  \
    }
#define PROF__MPI_ISENDS(name, suffix, count_type)                                                                     \
    int MPI_##name##suffix(const void *at, count_type count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,      \
                           MPI_Request *request)                                                                       \
    {                                                                                                                  \
        PROF__MPI_SCOPE("MPI_" #name);                                                                                 \
        prof__mpi_send(prof__mpi_call, prof__mpi_call ? prof__mpi_bytes((int64_t)count, type) : 0, peer, tag, comm);   \
        return PMPI_##name##suffix(at, count, type, peer, tag, comm, request);                                         \
    }
/* A persistent request: its messages begin with MPI_Start(). */
#define PROF__MPI_INITS(name, constant, suffix, count_type, sends_)                                                    \
    int MPI_##name##suffix(constant void *at, count_type count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,   \
                           MPI_Request *request)                                                                       \
    {                                                                                                                  \
        prof__mpi_request *entry = prof__mpi_request_new(comm);                                                        \
        int error = PMPI_##name##suffix(at, count, type, peer, tag, comm, request);                                    \
        if (entry) {                                                                                                   \
            entry->persistent = 1;                                                                                     \
            entry->sends = sends_;                                                                                     \
            entry->to = comm;                                                                                          \
            entry->peer = peer;                                                                                        \
            entry->peer_tag = tag;                                                                                     \
            entry->bytes = prof__mpi_bytes((int64_t)count, type);                                                      \
        }                                                                                                              \
        return prof__mpi_requested(entry, request, error);                                                             \
    }
#define PROF__MPI_MESSAGES(suffix, count_type)                                                                         \
    PROF__MPI_SENDS(Send, suffix, count_type)                                                                          \
    PROF__MPI_SENDS(Bsend, suffix, count_type)                                                                         \
    PROF__MPI_SENDS(Ssend, suffix, count_type)                                                                         \
    PROF__MPI_SENDS(Rsend, suffix, count_type)                                                                         \
    PROF__MPI_ISENDS(Isend, suffix, count_type)                                                                        \
    PROF__MPI_ISENDS(Ibsend, suffix, count_type)                                                                       \
    PROF__MPI_ISENDS(Issend, suffix, count_type)                                                                       \
    PROF__MPI_ISENDS(Irsend, suffix, count_type)                                                                       \
    PROF__MPI_INITS(Send_init, const, suffix, count_type, 1)                                                           \
    PROF__MPI_INITS(Bsend_init, const, suffix, count_type, 1)                                                          \
    PROF__MPI_INITS(Ssend_init, const, suffix, count_type, 1)                                                          \
    PROF__MPI_INITS(Rsend_init, const, suffix, count_type, 1)                                                          \
    PROF__MPI_INITS(Recv_init, , suffix, count_type, 0)                                                                \
    int MPI_Recv##suffix(void *at, count_type count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,              \
                         MPI_Status *status)                                                                           \
    {                                                                                                                  \
        PROF__MPI_SCOPE("MPI_Recv");                                                                                   \
        MPI_Status own;                                                                                                \
        prof__mpi_receive receive;                                                                                     \
        prof__mpi_post(&receive, peer, tag, comm);                                                                     \
        if (status == MPI_STATUS_IGNORE) status = &own;                                                                \
        int error = PMPI_Recv##suffix(at, count, type, peer, tag, comm, status);                                       \
        return prof__mpi_receives(prof__mpi_call, &receive, status, comm, 1, error);                                   \
    }                                                                                                                  \
    int MPI_Irecv##suffix(void *at, count_type count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,             \
                          MPI_Request *request)                                                                        \
    {                                                                                                                  \
        PROF__MPI_SCOPE("MPI_Irecv");                                                                                  \
        prof__mpi_request *entry = prof__mpi_posts(prof__mpi_call, (int64_t)count, type, peer, tag, comm);             \
        int error = PMPI_Irecv##suffix(at, count, type, peer, tag, comm, request);                                     \
        return prof__mpi_requested(entry, request, error);                                                             \
    }                                                                                                                  \
    int MPI_Sendrecv##suffix(const void *from, count_type count, MPI_Datatype type, int peer, int tag, void *to,       \
                             count_type most, MPI_Datatype to_type, int source, int to_tag, MPI_Comm comm,             \
                             MPI_Status *status)                                                                       \
    {                                                                                                                  \
        PROF__MPI_SCOPE("MPI_Sendrecv");                                                                               \
        MPI_Status own;                                                                                                \
        prof__mpi_receive receive;                                                                                     \
        prof__mpi_send(prof__mpi_call, prof__mpi_call ? prof__mpi_bytes((int64_t)count, type) : 0, peer, tag, comm);   \
        prof__mpi_post(&receive, source, to_tag, comm);                                                                \
        if (status == MPI_STATUS_IGNORE) status = &own;                                                                \
        int error =                                                                                                    \
            PMPI_Sendrecv##suffix(from, count, type, peer, tag, to, most, to_type, source, to_tag, comm, status);      \
        return prof__mpi_receives(prof__mpi_call, &receive, status, comm, 0, error);                                   \
    }                                                                                                                  \
    int MPI_Sendrecv_replace##suffix(void *at, count_type count, MPI_Datatype type, int peer, int tag, int source,     \
                                     int to_tag, MPI_Comm comm, MPI_Status *status)                                    \
    {                                                                                                                  \
        PROF__MPI_SCOPE("MPI_Sendrecv_replace");                                                                       \
        MPI_Status own;                                                                                                \
        prof__mpi_receive receive;                                                                                     \
        prof__mpi_send(prof__mpi_call, prof__mpi_call ? prof__mpi_bytes((int64_t)count, type) : 0, peer, tag, comm);   \
        prof__mpi_post(&receive, source, to_tag, comm);                                                                \
        if (status == MPI_STATUS_IGNORE) status = &own;                                                                \
        int error = PMPI_Sendrecv_replace##suffix(at, count, type, peer, tag, source, to_tag, comm, status);           \
        return prof__mpi_receives(prof__mpi_call, &receive, status, comm, 0, error);                                   \
    }                                                                                                                  \
    int MPI_Mrecv##suffix(void *at, count_type count, MPI_Datatype type, MPI_Message *message, MPI_Status *status)     \
    {                                                                                                                  \
        PROF__MPI_SCOPE("MPI_Mrecv");                                                                                  \
        MPI_Status own;                                                                                                \
        prof__mpi_receive receive;                                                                                     \
        prof__mpi_matched_take(*message, &receive);                                                                    \
        if (status == MPI_STATUS_IGNORE) status = &own;                                                                \
        int error = PMPI_Mrecv##suffix(at, count, type, message, status);                                              \
        return prof__mpi_receives(prof__mpi_call, &receive, status, MPI_COMM_NULL, 1, error);                          \
    }                                                                                                                  \
    int MPI_Imrecv##suffix(void *at, count_type count, MPI_Datatype type, MPI_Message *message, MPI_Request *request)  \
    {                                                                                                                  \
        PROF__MPI_SCOPE("MPI_Imrecv");                                                                                 \
        prof__mpi_request *entry = prof__mpi_take(prof__mpi_bits(message, sizeof *message), 1, 0);                     \
        return prof__mpi_requested(entry, request, PMPI_Imrecv##suffix(at, count, type, message, request));            \
    }

PROF__MPI_MESSAGES(, int)
#if MPI_VERSION >= 4
PROF__MPI_MESSAGES(_c, MPI_Count)
#endif

int MPI_Probe(int peer, int tag, MPI_Comm comm, MPI_Status *status)
{
    PROF__MPI_SCOPE("MPI_Probe");
    return PMPI_Probe(peer, tag, comm, status);
}

int MPI_Iprobe(int peer, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
{
    PROF__MPI_SCOPE("MPI_Iprobe");
    return PMPI_Iprobe(peer, tag, comm, flag, status);
}

int MPI_Mprobe(int peer, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status)
{
    PROF__MPI_SCOPE("MPI_Mprobe");
    MPI_Status own;
    if (status == MPI_STATUS_IGNORE) status = &own;
    int error = PMPI_Mprobe(peer, tag, comm, message, status);
    if (!error) prof__mpi_matched(message, status, comm);
    return error;
}

int MPI_Improbe(int peer, int tag, MPI_Comm comm, int *flag, MPI_Message *message, MPI_Status *status)
{
    PROF__MPI_SCOPE("MPI_Improbe");
    MPI_Status own;
    if (status == MPI_STATUS_IGNORE) status = &own;
    int error = PMPI_Improbe(peer, tag, comm, flag, message, status);
    if (!error && *flag) prof__mpi_matched(message, status, comm);
    return error;
}

/*-- requests --*/

static void prof__mpi_start(prof_scope call, MPI_Request request)
{
    prof__mpi_request *entry = prof__mpi_take(prof__mpi_bits(&request, sizeof request), 0, 1);
    if (!entry || !entry->persistent) return;
    if (entry->sends)
        prof__mpi_send(call, entry->bytes, entry->peer, entry->peer_tag, entry->to);
    else
        prof__mpi_post(&entry->receive, entry->peer, entry->peer_tag, entry->to);
}

int MPI_Start(MPI_Request *request)
{
    PROF__MPI_SCOPE("MPI_Start");
    prof__mpi_start(prof__mpi_call, *request);
    return PMPI_Start(request);
}

int MPI_Startall(int count, MPI_Request *requests)
{
    PROF__MPI_SCOPE("MPI_Startall");
    for (int i = 0; i < count; ++i) prof__mpi_start(prof__mpi_call, requests[i]);
    return PMPI_Startall(count, requests);
}

int MPI_Request_free(MPI_Request *request)
{
    prof__mpi_request *entry = prof__mpi_take(prof__mpi_bits(request, sizeof *request), 0, 0);
    if (entry) prof__mpi_abandon(&entry->receive);
    free(entry);
    return PMPI_Request_free(request);
}

/* Requests as they were before a call: it sets those that are complete to MPI_REQUEST_NULL. */
typedef struct prof__mpi_some {
    uint64_t *handles;    /* NULL: none is followed */
    MPI_Status *statuses; /* the program's, or own ones where it ignores them */
    void *memory;
    uint64_t few[16];
    MPI_Status few_statuses[16];
} prof__mpi_some;

/* ignored: 1: statuses are MPI_STATUSES_IGNORE. Returns 0 if no request can be followed. */
static int prof__mpi_some_begin(prof__mpi_some *some, int count, const MPI_Request *requests, MPI_Status *statuses,
                                int ignored)
{
    size_t most = count > 0 ? (size_t)count : 0;
    some->handles = NULL;
    some->memory = NULL;
    some->statuses = statuses;
    if (!__atomic_load_n(&prof__mpi.tracked, __ATOMIC_RELAXED) || !most) return 0;
    if (most <= sizeof some->few / sizeof *some->few) {
        some->handles = some->few;
        if (ignored) some->statuses = some->few_statuses;
    } else {
        some->memory = malloc(most * (sizeof(uint64_t) + sizeof(MPI_Status)));
        if (!some->memory) return 0; /* their entries stay in the table: handles that come again have an older one */
        some->handles = (uint64_t *)((MPI_Status *)some->memory + most);
        if (ignored) some->statuses = (MPI_Status *)some->memory;
    }
    for (size_t i = 0; i < most; ++i) some->handles[i] = prof__mpi_bits(&requests[i], sizeof requests[i]);
    return 1;
}

/* Ends a request that is complete. */
static void prof__mpi_some_done(prof_scope call, const prof__mpi_some *some, int which, const MPI_Status *status,
                                int error)
{
    prof__mpi_request *entry = some->handles ? prof__mpi_take(some->handles[which], 0, 1) : NULL;
    if (!entry) return;
    if (entry->receive.comm) {
        if (error)
            prof__mpi_abandon(&entry->receive);
        else
            prof__mpi_receive_end(call, &entry->receive, status, 0, MPI_COMM_NULL);
    }
    if (!entry->persistent) free(entry);
}

/* The error of one of several requests; MPI_ERR_PENDING: it is not complete. */
static int prof__mpi_error_of(int error, const MPI_Status *status)
{
    return error == MPI_ERR_IN_STATUS ? status->MPI_ERROR : error;
}

int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    PROF__MPI_SCOPE("MPI_Wait");
    prof__mpi_some some;
    prof__mpi_some_begin(&some, 1, request, status, status == MPI_STATUS_IGNORE);
    int error = PMPI_Wait(request, some.statuses);
    prof__mpi_some_done(prof__mpi_call, &some, 0, some.statuses, error);
    return error;
}

int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    PROF__MPI_SCOPE("MPI_Test");
    prof__mpi_some some;
    prof__mpi_some_begin(&some, 1, request, status, status == MPI_STATUS_IGNORE);
    int error = PMPI_Test(request, flag, some.statuses);
    if (error || *flag) prof__mpi_some_done(prof__mpi_call, &some, 0, some.statuses, error);
    return error;
}

static int prof__mpi_all(prof_scope call, const prof__mpi_some *some, int count, int error)
{
    for (int i = 0; some->handles && i < count; ++i) {
        int each = prof__mpi_error_of(error, &some->statuses[i]);
        if (each != MPI_ERR_PENDING) prof__mpi_some_done(call, some, i, &some->statuses[i], each);
    }
    free(some->memory);
    return error;
}

int MPI_Waitall(int count, MPI_Request *requests, MPI_Status *statuses)
{
    PROF__MPI_SCOPE("MPI_Waitall");
    prof__mpi_some some;
    prof__mpi_some_begin(&some, count, requests, statuses, statuses == MPI_STATUSES_IGNORE);
    return prof__mpi_all(prof__mpi_call, &some, count, PMPI_Waitall(count, requests, some.statuses));
}

int MPI_Testall(int count, MPI_Request *requests, int *flag, MPI_Status *statuses)
{
    PROF__MPI_SCOPE("MPI_Testall");
    prof__mpi_some some;
    prof__mpi_some_begin(&some, count, requests, statuses, statuses == MPI_STATUSES_IGNORE);
    int error = PMPI_Testall(count, requests, flag, some.statuses);
    return prof__mpi_all(prof__mpi_call, &some, error || *flag ? count : 0, error);
}

int MPI_Waitany(int count, MPI_Request *requests, int *which, MPI_Status *status)
{
    PROF__MPI_SCOPE("MPI_Waitany");
    MPI_Status own;
    prof__mpi_some some;
    if (status == MPI_STATUS_IGNORE) status = &own;
    prof__mpi_some_begin(&some, count, requests, status, 0);
    int error = PMPI_Waitany(count, requests, which, status);
    if (*which != MPI_UNDEFINED) prof__mpi_some_done(prof__mpi_call, &some, *which, status, error);
    free(some.memory);
    return error;
}

int MPI_Testany(int count, MPI_Request *requests, int *which, int *flag, MPI_Status *status)
{
    PROF__MPI_SCOPE("MPI_Testany");
    MPI_Status own;
    prof__mpi_some some;
    if (status == MPI_STATUS_IGNORE) status = &own;
    prof__mpi_some_begin(&some, count, requests, status, 0);
    int error = PMPI_Testany(count, requests, which, flag, status);
    if ((error || *flag) && *which != MPI_UNDEFINED) prof__mpi_some_done(prof__mpi_call, &some, *which, status, error);
    free(some.memory);
    return error;
}

static int prof__mpi_those(prof_scope call, const prof__mpi_some *some, int done, const int *which, int error)
{
    for (int i = 0; some->handles && done != MPI_UNDEFINED && i < done; ++i)
        prof__mpi_some_done(call, some, which[i], &some->statuses[i], prof__mpi_error_of(error, &some->statuses[i]));
    free(some->memory);
    return error;
}

int MPI_Waitsome(int count, MPI_Request *requests, int *done, int *which, MPI_Status *statuses)
{
    PROF__MPI_SCOPE("MPI_Waitsome");
    prof__mpi_some some;
    prof__mpi_some_begin(&some, count, requests, statuses, statuses == MPI_STATUSES_IGNORE);
    int error = PMPI_Waitsome(count, requests, done, which, some.statuses);
    return prof__mpi_those(prof__mpi_call, &some, *done, which, error);
}

int MPI_Testsome(int count, MPI_Request *requests, int *done, int *which, MPI_Status *statuses)
{
    PROF__MPI_SCOPE("MPI_Testsome");
    prof__mpi_some some;
    prof__mpi_some_begin(&some, count, requests, statuses, statuses == MPI_STATUSES_IGNORE);
    int error = PMPI_Testsome(count, requests, done, which, some.statuses);
    return prof__mpi_those(prof__mpi_call, &some, *done, which, error);
}

/*-- collectives --*/

enum { PROF__MPI_NO_ROOT = -1000 };

/* Numbers a collective, and records what it is. bytes: see the manual. */
static void prof__mpi_collective(prof_scope call, int64_t bytes, int root, MPI_Comm handle)
{
    prof__mpi_comm *comm = prof__mpi_comm_of(handle);
    if (!comm) return;
    prof__mpi_lock();
    uint64_t number = ++comm->calls;
    prof__mpi_unlock();
    if (!call) return;
    PROFILE_ARGS_TO(call, PROF_ARG_I("bytes", bytes), PROF_ARG_I("ranks", comm->size), PROF_ARG_U("call", number));
    if (root >= 0) PROFILE_ARGS_TO(call, PROF_ARG_I("root", prof__mpi_peer(comm, root)));
    if (comm->id > 1) PROFILE_ARGS_TO(call, PROF_ARG_U("comm", comm->id));
}

/* Returns the bytes of all that goes to, or comes from, each rank. counts may be null: they matter only at the root. */
static int64_t prof__mpi_sum(const int *counts, MPI_Datatype type, MPI_Comm handle)
{
    prof__mpi_comm *comm = prof__mpi_comm_of(handle);
    int64_t sum = 0;
    for (int i = 0; comm && counts && i < comm->size; ++i) sum += counts[i];
    return prof__mpi_bytes(sum, type);
}

static int64_t prof__mpi_each(int count, MPI_Datatype type, MPI_Comm handle) /* bytes of as much for each rank */
{
    prof__mpi_comm *comm = prof__mpi_comm_of(handle);
    return comm ? comm->size * prof__mpi_bytes(count, type) : 0;
}

static int prof__mpi_is(int root, MPI_Comm handle) /* 1: this rank is the root */
{
    int rank = -1;
    return root == MPI_ROOT || (!PMPI_Comm_rank(handle, &rank) && rank == root);
}

/* IN_PLACE: what is given lies where the result comes. */
#define PROF__MPI_GIVEN(count, type, count_in_place, type_in_place)                                                    \
    (from == MPI_IN_PLACE ? prof__mpi_bytes(count_in_place, type_in_place) : prof__mpi_bytes(count, type))

/* A collective, and the one that does not wait, whose name has an I in front. */
#define PROF__MPI_PAIR(name, iname, root, bytes, parameters, arguments)                                                \
    int MPI_##name(PROF__MPI_LIST parameters, MPI_Comm comm)                                                           \
    {                                                                                                                  \
        PROF__MPI_SCOPE("MPI_" #name);                                                                                 \
        if (prof__mpi_call || prof__mpi_counts())                                                                      \
            prof__mpi_collective(prof__mpi_call, prof__mpi_call ? bytes : 0, root, comm);                              \
        return PMPI_##name(PROF__MPI_LIST arguments, comm);                                                            \
    }                                                                                                                  \
    int MPI_##iname(PROF__MPI_LIST parameters, MPI_Comm comm, MPI_Request *request)                                    \
    {                                                                                                                  \
        PROF__MPI_SCOPE("MPI_" #iname);                                                                                \
        if (prof__mpi_call || prof__mpi_counts())                                                                      \
            prof__mpi_collective(prof__mpi_call, prof__mpi_call ? bytes : 0, root, comm);                              \
        return PMPI_##iname(PROF__MPI_LIST arguments, comm, request);                                                  \
    }
#define PROF__MPI_LIST(...) __VA_ARGS__

PROF__MPI_PAIR(Bcast, Ibcast, root, prof__mpi_bytes(count, type), (void *at, int count, MPI_Datatype type, int root),
               (at, count, type, root))
PROF__MPI_PAIR(Gather, Igather, root, PROF__MPI_GIVEN(count, type, most, to_type),
               (const void *from, int count, MPI_Datatype type, void *to, int most, MPI_Datatype to_type, int root),
               (from, count, type, to, most, to_type, root))
PROF__MPI_PAIR(Gatherv, Igatherv, root, from == MPI_IN_PLACE ? 0 : prof__mpi_bytes(count, type),
               (const void *from, int count, MPI_Datatype type, void *to, const int counts[], const int places[],
                MPI_Datatype to_type, int root),
               (from, count, type, to, counts, places, to_type, root))
PROF__MPI_PAIR(Scatter, Iscatter, root,
               prof__mpi_is(root, comm) ? prof__mpi_each(count, type, comm) : prof__mpi_bytes(most, to_type),
               (const void *from, int count, MPI_Datatype type, void *to, int most, MPI_Datatype to_type, int root),
               (from, count, type, to, most, to_type, root))
PROF__MPI_PAIR(Scatterv, Iscatterv, root,
               prof__mpi_is(root, comm) ? prof__mpi_sum(counts, type, comm) : prof__mpi_bytes(most, to_type),
               (const void *from, const int counts[], const int places[], MPI_Datatype type, void *to, int most,
                MPI_Datatype to_type, int root),
               (from, counts, places, type, to, most, to_type, root))
PROF__MPI_PAIR(Allgather, Iallgather, PROF__MPI_NO_ROOT, PROF__MPI_GIVEN(count, type, most, to_type),
               (const void *from, int count, MPI_Datatype type, void *to, int most, MPI_Datatype to_type),
               (from, count, type, to, most, to_type))
PROF__MPI_PAIR(Allgatherv, Iallgatherv, PROF__MPI_NO_ROOT, from == MPI_IN_PLACE ? 0 : prof__mpi_bytes(count, type),
               (const void *from, int count, MPI_Datatype type, void *to, const int counts[], const int places[],
                MPI_Datatype to_type),
               (from, count, type, to, counts, places, to_type))
PROF__MPI_PAIR(Alltoall, Ialltoall, PROF__MPI_NO_ROOT,
               from == MPI_IN_PLACE ? prof__mpi_each(most, to_type, comm) : prof__mpi_each(count, type, comm),
               (const void *from, int count, MPI_Datatype type, void *to, int most, MPI_Datatype to_type),
               (from, count, type, to, most, to_type))
PROF__MPI_PAIR(Alltoallv, Ialltoallv, PROF__MPI_NO_ROOT,
               from == MPI_IN_PLACE ? prof__mpi_sum(to_counts, to_type, comm) : prof__mpi_sum(counts, type, comm),
               (const void *from, const int counts[], const int places[], MPI_Datatype type, void *to,
                const int to_counts[], const int to_places[], MPI_Datatype to_type),
               (from, counts, places, type, to, to_counts, to_places, to_type))
PROF__MPI_PAIR(Alltoallw, Ialltoallw, PROF__MPI_NO_ROOT, 0,
               (const void *from, const int counts[], const int places[], const MPI_Datatype types[], void *to,
                const int to_counts[], const int to_places[], const MPI_Datatype to_types[]),
               (from, counts, places, types, to, to_counts, to_places, to_types))
PROF__MPI_PAIR(Reduce, Ireduce, root, prof__mpi_bytes(count, type),
               (const void *from, void *to, int count, MPI_Datatype type, MPI_Op op, int root),
               (from, to, count, type, op, root))
PROF__MPI_PAIR(Allreduce, Iallreduce, PROF__MPI_NO_ROOT, prof__mpi_bytes(count, type),
               (const void *from, void *to, int count, MPI_Datatype type, MPI_Op op), (from, to, count, type, op))
PROF__MPI_PAIR(Reduce_scatter, Ireduce_scatter, PROF__MPI_NO_ROOT, prof__mpi_sum(counts, type, comm),
               (const void *from, void *to, const int counts[], MPI_Datatype type, MPI_Op op),
               (from, to, counts, type, op))
PROF__MPI_PAIR(Reduce_scatter_block, Ireduce_scatter_block, PROF__MPI_NO_ROOT, prof__mpi_bytes(count, type),
               (const void *from, void *to, int count, MPI_Datatype type, MPI_Op op), (from, to, count, type, op))
PROF__MPI_PAIR(Scan, Iscan, PROF__MPI_NO_ROOT, prof__mpi_bytes(count, type),
               (const void *from, void *to, int count, MPI_Datatype type, MPI_Op op), (from, to, count, type, op))
PROF__MPI_PAIR(Exscan, Iexscan, PROF__MPI_NO_ROOT, prof__mpi_bytes(count, type),
               (const void *from, void *to, int count, MPI_Datatype type, MPI_Op op), (from, to, count, type, op))

int MPI_Barrier(MPI_Comm comm)
{
    PROF__MPI_SCOPE("MPI_Barrier");
    if (prof__mpi_call || prof__mpi_counts()) prof__mpi_collective(prof__mpi_call, 0, PROF__MPI_NO_ROOT, comm);
    return PMPI_Barrier(comm);
}

int MPI_Ibarrier(MPI_Comm comm, MPI_Request *request)
{
    PROF__MPI_SCOPE("MPI_Ibarrier");
    if (prof__mpi_call || prof__mpi_counts()) prof__mpi_collective(prof__mpi_call, 0, PROF__MPI_NO_ROOT, comm);
    return PMPI_Ibarrier(comm, request);
}

/*-- communicators --*/

/* A call in which all ranks of a communicator make another one. */
#define PROF__MPI_MAKES(name, parameters, arguments)                                                                   \
    int MPI_##name(MPI_Comm comm, PROF__MPI_LIST parameters, MPI_Comm *made)                                           \
    {                                                                                                                  \
        PROF__MPI_SCOPE("MPI_" #name);                                                                                 \
        int error = PMPI_##name(comm, PROF__MPI_LIST arguments, made);                                                 \
        prof__mpi_comm_made(comm, error ? MPI_COMM_NULL : *made);                                                      \
        return error;                                                                                                  \
    }
PROF__MPI_MAKES(Comm_split, (int color, int key), (color, key))
PROF__MPI_MAKES(Comm_split_type, (int type, int key, MPI_Info info), (type, key, info))
PROF__MPI_MAKES(Comm_create, (MPI_Group group), (group))
PROF__MPI_MAKES(Comm_dup_with_info, (MPI_Info info), (info))
PROF__MPI_MAKES(Cart_create, (int dimensions, const int sizes[], const int periods[], int reorder),
                (dimensions, sizes, periods, reorder))
PROF__MPI_MAKES(Cart_sub, (const int remains[]), (remains))
PROF__MPI_MAKES(Graph_create, (int nodes, const int index[], const int edges[], int reorder),
                (nodes, index, edges, reorder))
PROF__MPI_MAKES(Dist_graph_create,
                (int n, const int sources[], const int degrees[], const int destinations[], const int weights[],
                 MPI_Info info, int reorder),
                (n, sources, degrees, destinations, weights, info, reorder))
PROF__MPI_MAKES(Dist_graph_create_adjacent,
                (int in, const int sources[], const int source_weights[], int out, const int destinations[],
                 const int destination_weights[], MPI_Info info, int reorder),
                (in, sources, source_weights, out, destinations, destination_weights, info, reorder))

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm *made)
{
    PROF__MPI_SCOPE("MPI_Comm_dup");
    int error = PMPI_Comm_dup(comm, made);
    prof__mpi_comm_made(comm, error ? MPI_COMM_NULL : *made);
    return error;
}

/*-- one-sided communication and files: scopes --*/

#define PROF__MPI_PLAIN(name, bytes, parameters, arguments)                                                            \
    int MPI_##name(PROF__MPI_LIST parameters)                                                                          \
    {                                                                                                                  \
        PROF__MPI_SCOPE("MPI_" #name);                                                                                 \
        if (prof__mpi_call && (bytes) >= 0) PROFILE_ARGS_TO(prof__mpi_call, PROF_ARG_I("bytes", bytes));               \
        return PMPI_##name(PROF__MPI_LIST arguments);                                                                  \
    }
#define PROF__MPI_REMOTE(name, constant)                                                                               \
    PROF__MPI_PLAIN(name, prof__mpi_bytes(count, type),                                                                \
                    (constant void *at, int count, MPI_Datatype type, int rank, MPI_Aint place, int there_count,       \
                     MPI_Datatype there_type, MPI_Win window),                                                         \
                    (at, count, type, rank, place, there_count, there_type, window))
#define PROF__MPI_WINDOW(name) PROF__MPI_PLAIN(name, -1, (MPI_Win window), (window))
#define PROF__MPI_WINDOW_RANK(name) PROF__MPI_PLAIN(name, -1, (int rank, MPI_Win window), (rank, window))
#define PROF__MPI_WINDOW_GROUP(name)                                                                                   \
    PROF__MPI_PLAIN(name, -1, (MPI_Group group, int promise, MPI_Win window), (group, promise, window))
#define PROF__MPI_FILE(name, constant)                                                                                 \
    PROF__MPI_PLAIN(name, prof__mpi_bytes(count, type),                                                                \
                    (MPI_File file, constant void *at, int count, MPI_Datatype type, MPI_Status *status),              \
                    (file, at, count, type, status))
#define PROF__MPI_FILE_AT(name, constant)                                                                              \
    PROF__MPI_PLAIN(                                                                                                   \
        name, prof__mpi_bytes(count, type),                                                                            \
        (MPI_File file, MPI_Offset place, constant void *at, int count, MPI_Datatype type, MPI_Status *status),        \
        (file, place, at, count, type, status))

PROF__MPI_REMOTE(Put, const)
PROF__MPI_REMOTE(Get, )
PROF__MPI_PLAIN(Accumulate, prof__mpi_bytes(count, type),
                (const void *at, int count, MPI_Datatype type, int rank, MPI_Aint place, int there_count,
                 MPI_Datatype there_type, MPI_Op op, MPI_Win window),
                (at, count, type, rank, place, there_count, there_type, op, window))
PROF__MPI_PLAIN(Fetch_and_op, prof__mpi_bytes(1, type),
                (const void *at, void *result, MPI_Datatype type, int rank, MPI_Aint place, MPI_Op op, MPI_Win window),
                (at, result, type, rank, place, op, window))
PROF__MPI_PLAIN(Win_fence, -1, (int promise, MPI_Win window), (promise, window))
PROF__MPI_PLAIN(Win_lock, -1, (int kind, int rank, int promise, MPI_Win window), (kind, rank, promise, window))
PROF__MPI_PLAIN(Win_lock_all, -1, (int promise, MPI_Win window), (promise, window))
PROF__MPI_WINDOW_RANK(Win_unlock)
PROF__MPI_WINDOW(Win_unlock_all)
PROF__MPI_WINDOW_RANK(Win_flush)
PROF__MPI_WINDOW(Win_flush_all)
PROF__MPI_WINDOW_GROUP(Win_start)
PROF__MPI_WINDOW(Win_complete)
PROF__MPI_WINDOW_GROUP(Win_post)
PROF__MPI_WINDOW(Win_wait)
PROF__MPI_PLAIN(File_open, -1, (MPI_Comm comm, const char *name, int mode, MPI_Info info, MPI_File *file),
                (comm, name, mode, info, file))
PROF__MPI_PLAIN(File_close, -1, (MPI_File * file), (file))
PROF__MPI_PLAIN(File_sync, -1, (MPI_File file), (file))
PROF__MPI_FILE(File_read, )
PROF__MPI_FILE(File_read_all, )
PROF__MPI_FILE(File_write, const)
PROF__MPI_FILE(File_write_all, const)
PROF__MPI_FILE_AT(File_read_at, )
PROF__MPI_FILE_AT(File_read_at_all, )
PROF__MPI_FILE_AT(File_write_at, const)
PROF__MPI_FILE_AT(File_write_at_all, const)

/*-- begin and end --*/

/* Says what the process is in the job, if no launcher has said it. */
static void prof__mpi_metadata(void)
{
    char name[MPI_MAX_PROCESSOR_NAME + 1] = "", text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;
    snprintf(text, 24, "%d", prof__mpi.rank);
    prof_set_metadata("rank", text);
    snprintf(text, 24, "%d", prof__mpi.size);
    prof_set_metadata("ranks", text);
    if (!PMPI_Get_processor_name(name, &length)) prof_set_metadata("host", name);
    if (PMPI_Get_library_version(text, &length)) return;
    text[strcspn(text, "\n")] = 0;
    text[100] = 0;
    prof_set_metadata("MPI", text);
}

/* Begins after MPI_Init(): the communicators that are there, the metadata, the clock. Says what fails. */
static void prof__mpi_begin(void)
{
    if (PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, prof__mpi_comm_freed, &prof__mpi.key, NULL) ||
        PMPI_Comm_rank(MPI_COMM_WORLD, &prof__mpi.rank) || PMPI_Comm_size(MPI_COMM_WORLD, &prof__mpi.size) ||
        !prof__mpi_comm_new(MPI_COMM_WORLD, 1) ||
        !prof__mpi_comm_new(MPI_COMM_SELF, prof__mpi_mix(2, (uint64_t)prof__mpi.rank) | 1)) {
        prof_set_metadata("mpi", "nothing is known of communicators: memory ran out, or MPI failed");
        return;
    }
    prof__mpi.ready = 1;
    prof__mpi_metadata();
    int all = prof_enabled(), any = 0; /* a rank that records no details counts as well, for those that do */
    if (PMPI_Allreduce(&all, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD) || !any) return;
    prof_mpi_clocks();
}

int MPI_Init(int *argc, char ***argv)
{
    PROF__MPI_SCOPE("MPI_Init");
    int error = PMPI_Init(argc, argv);
    if (!error) prof__mpi_begin();
    return error;
}

int MPI_Init_thread(int *argc, char ***argv, int wanted, int *given)
{
    PROF__MPI_SCOPE("MPI_Init_thread");
    int error = PMPI_Init_thread(argc, argv, wanted, given);
    if (!error) prof__mpi_begin();
    return error;
}

int MPI_Finalize(void)
{
    PROF__MPI_SCOPE("MPI_Finalize");
    if (prof__mpi.ready) {
        if (prof__mpi_counts()) prof__mpi_clocks_measure();
        prof__mpi_tell();
        prof__mpi.ready = 0;
    }
    return PMPI_Finalize();
}

#ifdef __cplusplus
} /* extern "C" */
#endif

#pragma pop_macro("PROF_CATEGORY")

#ifdef PROF__WRAPS_MALLOC
#undef malloc
#undef calloc
#undef realloc
#undef free
#endif
#endif /* PROF_IMPLEMENTATION */

#pragma pack(pop)

/* This software is available under two licences: choose the one you prefer.

ALTERNATIVE A - MIT No Attribution (MIT-0)

Copyright 2026 the prof authors

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated
documentation files (the "Software"), to deal in the Software without restriction, including without limitation the
rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit
persons to whom the Software is furnished to do so.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR
OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.

ALTERNATIVE B - public domain (www.unlicense.org)

This is free and unencumbered software released into the public domain.

Anyone is free to copy, modify, publish, use, compile, sell, or distribute this software, either in source code form or
as a compiled binary, for any purpose, commercial or non-commercial, and by any means.

In jurisdictions that recognize copyright laws, the author or authors of this software dedicate any and all copyright
interest in the software to the public domain. We make this dedication for the benefit of the public at large and to the
detriment of our heirs and successors. We intend this dedication to be an overt act of relinquishment in perpetuity of
all present and future rights to this software under copyright law.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS BE
LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT
OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE. */
