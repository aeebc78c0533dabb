// prof_xplane.h, assembled by src/assemble.sh. See src/prof.h.
#include "xplane/manual.h"
#include "prof_read.h" /* each time, because this inclusion may be the one with PROF_IMPLEMENTATION */

#pragma pack(push, 16) /* as in prof.h */
#ifndef PROF_XPLANE_H
#define PROF_XPLANE_H

#ifdef __cplusplus
extern "C" {
#endif

#include "xplane/api.h"

#ifdef __cplusplus
} /* extern "C" */
#endif

#include "xplane/trace_block.h"

#endif /* PROF_XPLANE_H */

/*== END OF HEADER ==================================================================================================*/

#if defined(PROF_IMPLEMENTATION) && PROF_ENABLE && !defined(PROF_FREESTANDING) && !defined(PROF__XPLANE_IMPLEMENTED)
#define PROF__XPLANE_IMPLEMENTED

#include <time.h>

#ifdef PROF__WRAPS_MALLOC /* so that prof's own allocations are not recorded as the program's */
#define malloc(size) __libc_malloc(size)
#define calloc(count, size) __libc_calloc(count, size)
#define realloc(at, size) __libc_realloc(at, size)
#define free(at) __libc_free(at)
#define qsort(at, count, size, order) prof__quiet_sort(at, count, size, order)
#define fclose(file) PROF__QUIETLY(int, fclose(file))
#define fread(to, size, count, file) PROF__QUIETLY(size_t, fread(to, size, count, file))
#endif

#ifdef __cplusplus
extern "C" {
#endif

#include "xplane/register.h"

#ifdef PROF__WRAPS_MALLOC
#undef malloc
#undef calloc
#undef realloc
#undef free
#undef qsort
#undef fclose
#undef fread
#endif

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif /* PROF_IMPLEMENTATION */

#pragma pack(pop)

#include "api/licence.h"
