// mpi/collectives: Collective calls, communicators, files and windows, MPI_Init and MPI_Finalize.
#ifndef PROF__MPI_COLLECTIVES_H
#define PROF__MPI_COLLECTIVES_H
#include "mpi/calls.h"

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

#endif /* PROF__MPI_COLLECTIVES_H */
