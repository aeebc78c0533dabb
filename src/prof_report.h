// prof_report.h, assembled by src/assemble.sh. See src/prof.h.
#include "layouts/manual.h"
#include "prof_read.h" /* outside of the include guard, because this may be the inclusion with PROF_IMPLEMENTATION */

#pragma pack(push, 16) /* as in prof.h */
#ifndef PROF_REPORT_H
#define PROF_REPORT_H

#ifdef __cplusplus
extern "C" {
#endif

#include "layouts/api.h"

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif /* PROF_REPORT_H */

/*== END OF HEADER ==================================================================================================*/

#if defined(PROF_IMPLEMENTATION) && PROF_ENABLE && !defined(PROF_FREESTANDING) && !defined(PROF__REPORT_IMPLEMENTED)
#define PROF__REPORT_IMPLEMENTED

#include <time.h>

#ifdef PROF__WRAPS_MALLOC /* so that prof's own allocations are not recorded as the program's */
#define malloc(size) __libc_malloc(size)
#define calloc(count, size) __libc_calloc(count, size)
#define realloc(at, size) __libc_realloc(at, size)
#define free(at) __libc_free(at)
#define qsort(at, count, size, order) prof__quiet_sort(at, count, size, order)
#endif

#ifdef __cplusplus
extern "C" {
#endif

#include "layouts/several.h"
#include "layouts/register.h"
#include "layouts/dumps.h"
#include "layouts/why.h"

#ifdef PROF__WRAPS_MALLOC
#undef malloc
#undef calloc
#undef realloc
#undef free
#undef qsort
#endif

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif /* PROF_IMPLEMENTATION */

#pragma pack(pop)

#include "api/licence.h"
