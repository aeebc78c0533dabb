// prof_receive.h, assembled by src/assemble.sh. See src/prof.h.
#include "receive/manual.h"
#include "prof.h" /* outside of the include guard, because this may be the inclusion with PROF_IMPLEMENTATION */

/*== END OF HEADER ==================================================================================================*/

#if defined(PROF_RECEIVE_NVTX) && defined(PROF_WITH_NVTX)
#error "prof_receive.h: PROF_RECEIVE_NVTX would receive what PROF_WITH_NVTX sends: define one of them"
#endif
#if defined(PROF_RECEIVE_ITT) && defined(PROF_WITH_ITT)
#error "prof_receive.h: PROF_RECEIVE_ITT would receive what PROF_WITH_ITT sends: define one of them"
#endif

#if defined(PROF_IMPLEMENTATION) && PROF_ENABLE && !defined(PROF_FREESTANDING) && \
    (defined(PROF_RECEIVE_NVTX) || defined(PROF_RECEIVE_ITT)) && \
    !defined(PROF__RECEIVE_IMPLEMENTED) && defined(__GNUC__) && !defined(_WIN32) && !defined(__wasi__) && \
    !defined(__EMSCRIPTEN__)
#define PROF__RECEIVE_IMPLEMENTED

#ifdef PROF__WRAPS_MALLOC /* so that prof's own allocations are not recorded as the program's */
#define malloc(size) __libc_malloc(size)
#define calloc(count, size) __libc_calloc(count, size)
#define realloc(at, size) __libc_realloc(at, size)
#define free(at) __libc_free(at)
#endif

#ifdef __cplusplus
extern "C" {
#endif

#include "receive/sites.h"
#include "receive/nvtx.h"
#include "receive/itt.h"

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

#include "api/licence.h"
