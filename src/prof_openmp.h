// prof_openmp.h, assembled by src/assemble.sh. See src/prof.h.
#include "openmp/manual.h"
#include "prof.h" /* outside of the include guard, because this may be the inclusion with PROF_IMPLEMENTATION */

#pragma pack(push, 16) /* as in prof.h */
#if defined(PROF_IMPLEMENTATION) && PROF_ENABLE && !defined(PROF_FREESTANDING) && !defined(PROF__OPENMP_IMPLEMENTED)
#define PROF__OPENMP_IMPLEMENTED

#if defined(__GNUC__) && defined(__ELF__) /* a runtime finds tools by name there */
#ifdef PROF__WRAPS_MALLOC /* so that prof's own allocations are not recorded as the program's */
#define malloc(size) __libc_malloc(size)
#define calloc(count, size) __libc_calloc(count, size)
#define realloc(at, size) __libc_realloc(at, size)
#define free(at) __libc_free(at)
#endif

#ifdef __cplusplus
extern "C" {
#endif

#include "openmp/events.h"

#ifdef __cplusplus
} /* extern "C" */
#endif

#ifdef PROF__WRAPS_MALLOC
#undef malloc
#undef calloc
#undef realloc
#undef free
#endif
#endif
#endif /* PROF_IMPLEMENTATION */

#pragma pack(pop)

#include "api/licence.h"
