// prof_html.h, assembled by src/assemble.sh. See src/prof.h. A line with the name of a page stands for it, as strings.
#include "html/manual.h"
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
#ifndef PROF_HTML_H
#define PROF_HTML_H

#ifdef __cplusplus
extern "C" {
#endif

#include "html/api.h"

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif /* PROF_HTML_H */

/*== END OF HEADER ==================================================================================================*/

#if defined(PROF_IMPLEMENTATION) && PROF_ENABLE && !defined(PROF_FREESTANDING) && !defined(PROF__HTML_IMPLEMENTED)
#define PROF__HTML_IMPLEMENTED

#ifdef PROF__WRAPS_MALLOC /* what prof itself allocates is not the program's */
#define malloc(size) __libc_malloc(size)
#define calloc(count, size) __libc_calloc(count, size)
#define realloc(at, size) __libc_realloc(at, size)
#define free(at) __libc_free(at)
#define qsort(at, count, size, order) prof__quiet_sort(at, count, size, order)
#define fclose(file) PROF__QUIETLY(int, fclose(file))
#define fgetc(file) PROF__QUIETLY(int, fgetc(file))
#endif

#ifdef __cplusplus
extern "C" {
#endif

#include "html/live.h"
#include "html/register.h"

#ifdef PROF__WRAPS_MALLOC
#undef malloc
#undef calloc
#undef realloc
#undef free
#undef qsort
#undef fclose
#undef fgetc
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
