// mpi/api: Declarations.
#ifndef PROF__MPI_API_H
#define PROF__MPI_API_H
#include "api/types.h"

#if PROF_ENABLE
/* Measures how far the clock of each rank is from that of rank 0, counts messages from here on, so that they have
   arrows, and says in the metadata which have none. All ranks of MPI_COMM_WORLD must call it, between MPI_Init() and
   MPI_Finalize(), while no message is on its way. Returns PROF_INVALID_STATE outside of these, or if MPI fails:
   prof_error() says what MPI said. */
PROF__API prof_status prof_mpi_clocks(void);
#else
#define prof_mpi_clocks() PROF__STRIPPED(PROF_OK, (void)0)
#endif

#endif /* PROF__MPI_API_H */
