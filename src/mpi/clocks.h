// mpi/clocks: How far each rank's clock is from that of rank 0, for the metadata: see >>aligning.
#ifndef PROF__MPI_CLOCKS_H
#define PROF__MPI_CLOCKS_H
#include "ground/errors.h"
#include "mpi/state.h"

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

#endif /* PROF__MPI_CLOCKS_H */
