// mpi/calls: MPI's functions, as a program calls them.
#ifndef PROF__MPI_CALLS_H
#define PROF__MPI_CALLS_H
#include "api/macros.h"
#include "mpi/clocks.h"
#include "mpi/receive.h"

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

#endif /* PROF__MPI_CALLS_H */
