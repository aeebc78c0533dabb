// mpi/manual: What users read.
/* prof_mpi.h - what the calls of MPI take, on the time line of the program's scopes, with arrows from rank to rank and
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
