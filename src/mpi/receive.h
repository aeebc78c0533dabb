// mpi/receive: Which message each receive gets: numbers it as its sender does. Requests and matched messages.
#ifndef PROF__MPI_RECEIVE_H
#define PROF__MPI_RECEIVE_H
#include "api/macros.h"
#include "mpi/state.h"

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

#endif /* PROF__MPI_RECEIVE_H */
