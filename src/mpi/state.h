// mpi/state: The wrappers' state, communicators that all their ranks number alike, and counts of messages.
#ifndef PROF__MPI_STATE_H
#define PROF__MPI_STATE_H
#include "api/control.h"
#include "api/devices.h"
#include "ground/base.h"

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

#endif /* PROF__MPI_STATE_H */
