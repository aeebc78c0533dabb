/* libprof_mpi.so: libprof.so with prof_mpi.h, for programs that nobody compiled with it: `make mpi` builds it with the
   machine's mpicc, so for that MPI. Preload it instead of libprof.so. */
#include "libprof.c"
#include "prof_mpi.h"
