// prof_gl.h, assembled by src/assemble.sh. See src/prof.h.
#include "gl/manual.h"
#include "prof.h" /* outside of the include guard, because this may be the inclusion with PROF_IMPLEMENTATION */

#pragma pack(push, 16) /* as in prof.h */
#ifndef PROF_GL_H
#define PROF_GL_H

#ifdef __cplusplus
extern "C" {
#endif

#include "gl/api.h"

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif /* PROF_GL_H */

/*== END OF HEADER ==================================================================================================*/

#if defined(PROF_IMPLEMENTATION) && PROF_ENABLE && !defined(PROF_FREESTANDING) && !defined(PROF__GL_IMPLEMENTED)
#define PROF__GL_IMPLEMENTED

#ifdef PROF__WRAPS_MALLOC /* so that prof's own allocations are not recorded as the program's */
#define malloc(size) __libc_malloc(size)
#define calloc(count, size) __libc_calloc(count, size)
#define realloc(at, size) __libc_realloc(at, size)
#define free(at) __libc_free(at)
#endif

#ifdef __cplusplus
extern "C" {
#endif

#ifndef PROF__GPU_SHARED /* other collectors have it, too */
#define PROF__GPU_SHARED
#include "gpu/shared.h"
#endif

#include "gl/scopes.h"

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
