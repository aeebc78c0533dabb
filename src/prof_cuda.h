// prof_cuda.h, assembled by src/assemble.sh. See src/prof.h.
#include "cuda/manual.h"
#include "prof.h" /* outside of the include guard, because this may be the inclusion with PROF_IMPLEMENTATION */

#pragma pack(push, 16) /* as in prof.h */
#ifndef PROF_CUDA_H
#define PROF_CUDA_H

#ifdef __cplusplus
extern "C" {
#endif

#include "cuda/api.h"

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif /* PROF_CUDA_H */

/*== END OF HEADER ==================================================================================================*/

#if defined(PROF_IMPLEMENTATION) && PROF_ENABLE && !defined(PROF_FREESTANDING) && !defined(PROF__CUDA_IMPLEMENTED)
#define PROF__CUDA_IMPLEMENTED
#ifdef PROF_MINIMAL
#error "prof_cuda.h needs what PROF_MINIMAL leaves out: include prof.h alone"
#endif

#ifdef PROF__WRAPS_MALLOC /* so that prof's own allocations are not recorded as the program's */
#define malloc(size) __libc_malloc(size)
#define calloc(count, size) __libc_calloc(count, size)
#define realloc(at, size) __libc_realloc(at, size)
#define free(at) __libc_free(at)
#endif

#ifdef __cplusplus
extern "C" {
#endif

#include "cuda/session.h"

#ifdef __cplusplus
} /* extern "C" */
#endif

#ifdef PROF__WRAPS_MALLOC
#undef malloc
#undef calloc
#undef realloc
#undef free
#endif
#endif /* PROF_IMPLEMENTATION */

#pragma pack(pop)

#include "api/licence.h"
