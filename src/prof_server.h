// prof_server.h, assembled by src/assemble.sh. See src/prof.h.
#include "server/manual.h"
#include "prof_read.h" /* each time, because the last one may be that of PROF_IMPLEMENTATION */

#pragma pack(push, 16) /* as in prof.h */
#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wpragma-pack" /* macOS's headers end with the default */
#endif
#ifdef __GNUC__
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function" /* what only another header uses, or not this system */
#endif
#ifndef PROF_SERVER_H
#define PROF_SERVER_H

#ifdef __cplusplus
extern "C" {
#endif

#include "server/api.h"

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif /* PROF_SERVER_H */

/*== END OF HEADER ==================================================================================================*/

#if defined(PROF_IMPLEMENTATION) && PROF_ENABLE && !defined(PROF_FREESTANDING) && !defined(PROF__SERVER_IMPLEMENTED)
#define PROF__SERVER_IMPLEMENTED
#ifdef PROF_NO_TEXT
#error "prof_server.h needs keys as text: take PROF_NO_TEXT away"
#endif

#ifdef PROF__WRAPS_MALLOC /* what prof itself allocates is not the program's */
#define malloc(size) __libc_malloc(size)
#define calloc(count, size) __libc_calloc(count, size)
#define realloc(at, size) __libc_realloc(at, size)
#define free(at) __libc_free(at)
#endif

#ifdef __cplusplus
extern "C" {
#endif

#include "server/start.h"

#ifdef PROF__WRAPS_MALLOC
#undef malloc
#undef calloc
#undef realloc
#undef free
#endif

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif /* PROF_IMPLEMENTATION */

#ifdef __GNUC__
#pragma GCC diagnostic pop
#endif
#ifdef __clang__
#pragma clang diagnostic pop
#endif
#pragma pack(pop)

#include "api/licence.h"
