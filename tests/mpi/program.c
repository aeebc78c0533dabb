/* Messages of every kind, for tests/mpi.sh, which starts it with four ranks. Each message carries a number that no other
   one has. The scope "sends" around each send has it as an argument, and so has the scope "gets" around each call that
   completes a receive: so each arrow must lead from a number to the same number.

   usage: mpirun -n 4 program [quiet|late|clocks|messages N]    quiet: recording begins after MPI_Init(), and arrows with
                                                               prof_mpi_clocks(); late: rank 1 sends late, rank 3
                                                               receives late; clocks: as CLOCK_AHEAD has it; messages: N to
                                                               oneself, and says how long one took */
#ifdef CLOCK_AHEAD /* rank 3's clock is 3 s ahead, and 50 ppm fast */
#include <stdint.h>
static uint64_t test_clock(void);
#define PROF__MPI_NOW() test_clock()
#endif
#ifndef PRELOADED
#define PROF_IMPLEMENTATION
#include "prof_mpi.h"
#else
#include "prof.h"
#include <mpi.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHECK(call) \
    do { \
        if ((call) != MPI_SUCCESS) { \
            fprintf(stderr, "%s failed\n", #call); \
            MPI_Abort(MPI_COMM_WORLD, 1); \
        } \
    } while (0)

static int rank, size;
static MPI_Comm world; /* MPI_COMM_WORLD, or another communicator of all */

#ifdef CLOCK_AHEAD
static uint64_t test_clock(void)
{
    const char *own = getenv("OMPI_COMM_WORLD_RANK") ? getenv("OMPI_COMM_WORLD_RANK") : getenv("PMI_RANK");
    uint64_t now = prof_host_ns();
    return own && *own == '3' ? now + 3000000000u + now / 20000 : now;
}
#endif

static int64_t next_number(void)
{
    static int64_t count;
    return rank * 1000000 + ++count;
}

static int64_t send_to(int peer, int tag)
{
    int64_t number = next_number();
    PROFILE_SCOPE("sends");
    PROFILE_ARG_I("number", number);
    CHECK(MPI_Send(&number, 1, MPI_INT64_T, peer, tag, world));
    return number;
}

static void get_from(int peer, int tag)
{
    int64_t number = 0;
    PROFILE_SCOPE("gets");
    CHECK(MPI_Recv(&number, 1, MPI_INT64_T, peer, tag, world, MPI_STATUS_IGNORE));
    PROFILE_ARG_I("number", number);
}

static void complete(MPI_Request *request, const int64_t *number)
{
    PROFILE_SCOPE("gets");
    CHECK(MPI_Wait(request, MPI_STATUS_IGNORE));
    PROFILE_ARG_I("number", *number);
}

/* Several tags, received in another order than they were sent in, by calls that wait and by requests. */
static void tags(void)
{
    int64_t numbers[6];
    MPI_Request requests[6];
    if (rank == 0) {
        for (int i = 0; i < 6; ++i) send_to(1, i % 3);
        for (int i = 0; i < 6; ++i) send_to(1, 10 + i % 2);
    } else if (rank == 1) {
        for (int i = 0; i < 6; ++i) get_from(0, 2 - i % 3);
        for (int i = 0; i < 6; ++i) CHECK(MPI_Irecv(&numbers[i], 1, MPI_INT64_T, 0, 10 + i % 2, world, &requests[i]));
        for (int i = 6; i-- > 0;) complete(&requests[i], &numbers[i]); /* the last one first */
    }
}

/* Any source: the calls that wait have arrows, and so has a pool that is completed in its order. */
static void any_source(void)
{
    enum { EACH = 5 };
    int64_t numbers[3 * EACH];
    MPI_Request requests[3 * EACH];
    if (rank) {
        for (int i = 0; i < EACH; ++i) send_to(0, 20);
        CHECK(MPI_Barrier(world));
        for (int i = 0; i < EACH; ++i) send_to(0, 21 + i % 2);
    } else {
        for (int i = 0; i < 3 * EACH; ++i) get_from(MPI_ANY_SOURCE, 20);
        for (int i = 0; i < 3 * EACH; ++i)
            CHECK(MPI_Irecv(&numbers[i], 1, MPI_INT64_T, MPI_ANY_SOURCE, MPI_ANY_TAG, world, &requests[i]));
        CHECK(MPI_Barrier(world));
        for (int i = 0; i < 3 * EACH; ++i) complete(&requests[i], &numbers[i]);
    }
}

/* A receive of any tag beside one that names it: nobody knows which got the message, so there may be no wrong arrow. Those
   that follow have theirs. */
static void in_doubt(void)
{
    int64_t numbers[3];
    MPI_Request requests[3];
    if (rank == 2) {
        for (int i = 0; i < 3; ++i) send_to(0, 30);
        send_to(0, 30);
    } else if (rank == 0) {
        CHECK(MPI_Irecv(&numbers[0], 1, MPI_INT64_T, 2, 30, world, &requests[0]));
        CHECK(MPI_Irecv(&numbers[1], 1, MPI_INT64_T, 2, MPI_ANY_TAG, world, &requests[1]));
        CHECK(MPI_Irecv(&numbers[2], 1, MPI_INT64_T, 2, 30, world, &requests[2]));
        for (int i = 3; i-- > 0;) complete(&requests[i], &numbers[i]);
        get_from(2, 30);
    }
}

static void persistent(void)
{
    int64_t number = 0;
    MPI_Request request;
    if (rank == 3) CHECK(MPI_Send_init(&number, 1, MPI_INT64_T, 1, 40, world, &request));
    else if (rank == 1) CHECK(MPI_Recv_init(&number, 1, MPI_INT64_T, 3, 40, world, &request));
    else return;
    for (int i = 0; i < 4; ++i) {
        if (rank == 3) {
            number = next_number();
            PROFILE_SCOPE("sends");
            PROFILE_ARG_I("number", number);
            CHECK(MPI_Start(&request));
            CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        } else {
            CHECK(MPI_Start(&request));
            complete(&request, &number);
        }
    }
    CHECK(MPI_Request_free(&request));
}

/* Probed and matched messages, exchanges, MPI_Waitany, MPI_Testsome, a receive that is cancelled. */
static void others(void)
{
    int64_t own = next_number(), numbers[4];
    int peer = rank ^ 1, which, done, places[4];
    MPI_Message message;
    MPI_Request requests[4];
    {
        PROFILE_SCOPE("sends");
        PROFILE_ARG_I("number", own);
        PROFILE_SCOPE("gets");
        CHECK(MPI_Sendrecv(&own, 1, MPI_INT64_T, peer, 50, numbers, 1, MPI_INT64_T, peer, 50, world, MPI_STATUS_IGNORE));
        PROFILE_ARG_I("number", numbers[0]);
    }
    if (rank == 0)
        for (int i = 0; i < 4; ++i) send_to(2, 51);
    if (rank == 2) {
        for (int i = 0; i < 2; ++i) {
            CHECK(MPI_Mprobe(MPI_ANY_SOURCE, 51, world, &message, MPI_STATUS_IGNORE));
            PROFILE_SCOPE("gets");
            CHECK(MPI_Mrecv(numbers, 1, MPI_INT64_T, &message, MPI_STATUS_IGNORE));
            PROFILE_ARG_I("number", numbers[0]);
        }
        CHECK(MPI_Mprobe(0, 51, world, &message, MPI_STATUS_IGNORE));
        CHECK(MPI_Imrecv(&numbers[0], 1, MPI_INT64_T, &message, &requests[0]));
        complete(&requests[0], &numbers[0]);
        do CHECK(MPI_Improbe(0, 51, world, &which, &message, MPI_STATUS_IGNORE));
        while (!which);
        PROFILE_SCOPE("gets");
        CHECK(MPI_Mrecv(numbers, 1, MPI_INT64_T, &message, MPI_STATUS_IGNORE));
        PROFILE_ARG_I("number", numbers[0]);
    }
    if (rank == 3)
        for (int i = 0; i < 8; ++i) send_to(0, 60 + i % 4);
    if (rank == 0) {
        for (int i = 0; i < 4; ++i) CHECK(MPI_Irecv(&numbers[i], 1, MPI_INT64_T, 3, 60 + i, world, &requests[i]));
        for (int i = 0; i < 4; ++i) {
            PROFILE_SCOPE("gets");
            CHECK(MPI_Waitany(4, requests, &which, MPI_STATUS_IGNORE));
            PROFILE_ARG_I("number", numbers[which]);
        }
        for (int i = 0; i < 4; ++i) CHECK(MPI_Irecv(&numbers[i], 1, MPI_INT64_T, 3, 60 + i, world, &requests[i]));
        for (int left = 4; left;) {
            PROFILE_SCOPE("gets");
            CHECK(MPI_Testsome(4, requests, &done, places, MPI_STATUSES_IGNORE));
            for (int i = 0; i < done; ++i) PROFILE_ARG_I("number", numbers[places[i]]);
            left -= done;
        }
        CHECK(MPI_Irecv(&numbers[0], 1, MPI_INT64_T, 1, 70, world, &requests[0]));
        CHECK(MPI_Cancel(&requests[0]));
        CHECK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    }
    CHECK(MPI_Barrier(world));
    if (rank == 1) send_to(0, 70);
    if (rank == 0) get_from(1, 70);
}

/* The same messages in communicators that have other ranks. */
static void communicators(void)
{
    MPI_Comm copy, reversed, half;
    int own, all;
    CHECK(MPI_Comm_dup(MPI_COMM_WORLD, &copy));
    CHECK(MPI_Comm_split(copy, 0, -rank, &reversed));
    world = reversed;
    if (rank == 0) send_to(0, 80); /* to rank 3 of MPI_COMM_WORLD */
    world = copy;
    if (rank == 0) send_to(3, 80);
    if (rank == 3) get_from(0, 80); /* received in the other order */
    world = reversed;
    if (rank == 3) get_from(3, 80);
    CHECK(MPI_Comm_split(MPI_COMM_WORLD, rank / 2, 0, &half));
    world = half;
    CHECK(MPI_Comm_rank(half, &own));
    if (own) send_to(0, 80);
    else get_from(1, 80);
    CHECK(MPI_Allreduce(&own, &all, 1, MPI_INT, MPI_SUM, half));
    CHECK(MPI_Comm_free(&copy));
    CHECK(MPI_Comm_free(&reversed));
    CHECK(MPI_Comm_free(&half));
    world = MPI_COMM_WORLD;
}

static void everything(void)
{
    tags();
    any_source();
    CHECK(MPI_Barrier(world));
    in_doubt();
    persistent();
    others();
    communicators();
}

static void late(void)
{
    static char block[1 << 20]; /* so long that MPI_Send() waits for the receiver */
    CHECK(MPI_Barrier(world));
    if (rank == 1) usleep(300000);
    if (rank == 1) CHECK(MPI_Send(block, 1, MPI_CHAR, 0, 1, world));
    if (rank == 0) CHECK(MPI_Recv(block, 1, MPI_CHAR, 1, 1, world, MPI_STATUS_IGNORE));
    if (rank == 2) CHECK(MPI_Send(block, sizeof block, MPI_CHAR, 3, 1, world));
    if (rank == 3) usleep(300000);
    if (rank == 3) CHECK(MPI_Recv(block, sizeof block, MPI_CHAR, 2, 1, world, MPI_STATUS_IGNORE));
}

static void messages(int count)
{
    int64_t number = 0, got = 0;
    double began = MPI_Wtime();
    for (int i = 0; i < count; ++i)
        CHECK(MPI_Sendrecv(&number, 1, MPI_INT64_T, rank, 1, &got, 1, MPI_INT64_T, rank, 1, world, MPI_STATUS_IGNORE));
    if (!rank) printf("%.1f ns\n", (MPI_Wtime() - began) / count * 1e9);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    int quiet = !strcmp(what, "quiet");
    prof_config config;
    memset(&config, 0, sizeof config);
    config.output = getenv("LATE_OUTPUT"); /* PROF_OUTPUT begins a recording before main() */
    CHECK(MPI_Init(&argc, &argv));
    CHECK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    CHECK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    world = MPI_COMM_WORLD;
    if (quiet) {
        everything(); /* not counted */
        if (prof_start(&config) != PROF_OK) return fprintf(stderr, "%s\n", prof_error()), 1;
#ifndef PRELOADED
        if (prof_mpi_clocks() != PROF_OK) return fprintf(stderr, "%s\n", prof_error()), 1;
#endif
    }
    if (!strcmp(what, "late")) late();
    else if (!strcmp(what, "messages")) messages(atoi(argv[2]));
    else everything();
    CHECK(MPI_Finalize());
    if (prof_enabled() && prof_stop() != PROF_OK) return fprintf(stderr, "%s\n", prof_error()), 1;
    return 0;
}
