// prof_ntff.h, assembled by src/assemble.sh. See src/prof.h.
#include "ntff/manual.h"
#include "prof_read.h" /* outside of the include guard, because this may be the inclusion with PROF_IMPLEMENTATION */

#pragma pack(push, 16) /* as in prof.h */
#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wpragma-pack" /* macOS's headers end with the default */
#endif
#ifndef PROF_NTFF_H
#define PROF_NTFF_H

#ifdef __cplusplus
extern "C" {
#endif

#include "ntff/api.h"
#include "ntff/api_runtime.h"
#include "ntff/stripped.h"

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif /* PROF_NTFF_H */

/*== END OF HEADER ==================================================================================================*/

#if defined(PROF_IMPLEMENTATION) && PROF_ENABLE && !defined(PROF_FREESTANDING) && !defined(PROF__NTFF_IMPLEMENTED)
#define PROF__NTFF_IMPLEMENTED
#ifdef PROF_NO_TEXT
#error "prof_ntff.h needs keys as text: take PROF_NO_TEXT away"
#endif

#ifdef PROF__WRAPS_MALLOC /* what prof itself allocates is not the program's */
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

#include "ntff/import.h"
#include "ntff/checkup.h"
#include "ntff/loader.h"
#include "ntff/systrace.h"
#include "ntff/inspect.h"

#ifdef PROF__WRAPS_MALLOC
#undef malloc
#undef calloc
#undef realloc
#undef free
#undef qsort
#undef fclose
#undef fread
#undef opendir
#undef closedir
#endif

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif /* PROF_IMPLEMENTATION */

#ifdef __clang__
#pragma clang diagnostic pop
#endif
#pragma pack(pop)

#include "api/licence.h"
