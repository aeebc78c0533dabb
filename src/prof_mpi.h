// prof_mpi.h, assembled by src/assemble.sh. See src/prof.h.
#include "mpi/manual.h"
#include "prof.h" /* outside of the include guard, because this may be the inclusion with PROF_IMPLEMENTATION */

#pragma pack(push, 16) /* as in prof.h */
#ifndef PROF_MPI_H
#define PROF_MPI_H

#ifdef __cplusplus
extern "C" {
#endif

#include "mpi/api.h"

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

#include "mpi/state.h"
#include "mpi/receive.h"
#include "mpi/clocks.h"
#include "mpi/calls.h"
#include "mpi/collectives.h"

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

#include "api/licence.h"
