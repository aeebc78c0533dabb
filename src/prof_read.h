// prof_read.h, assembled by src/assemble.sh. See src/prof.h.
#include "read/manual.h"
#define PROF__READER 1 /* the reader follows */
#include "prof.h" /* each time, because the last one may be that of PROF_IMPLEMENTATION */
#undef PROF__READER

#pragma pack(push, 16) /* as in prof.h */
#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wpragma-pack" /* macOS's headers end with the default */
#endif
#ifdef __GNUC__
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function" /* what only another header uses, or not this system */
#endif
#ifndef PROF_READ_H
#define PROF_READ_H

#ifdef __cplusplus
extern "C" {
#endif

#include "api/read.h"
#include "api/reports.h"
#include "api/stripped_read.h"

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif /* PROF_READ_H */

/*== END OF HEADER ==================================================================================================*/

#if defined(PROF_IMPLEMENTATION) && PROF_ENABLE && !defined(PROF_FREESTANDING) && !defined(PROF__READ_IMPLEMENTED)
#define PROF__READ_IMPLEMENTED
#ifdef PROF_MINIMAL
#error "prof_read.h needs what PROF_MINIMAL leaves out: include prof.h alone"
#endif

#ifdef __EMSCRIPTEN__ /* see prof__heap_has() */
#define malloc(size) prof__heap_resize(NULL, size)
#define calloc(count, size) prof__heap_clear(count, size)
#define realloc(at, size) prof__heap_resize(at, size)
#endif
#ifdef PROF__WRAPS_MALLOC /* what prof itself allocates is not the program's */
#define malloc(size) __libc_malloc(size)
#define calloc(count, size) __libc_calloc(count, size)
#define realloc(at, size) __libc_realloc(at, size)
#define free(at) __libc_free(at)
#define qsort(at, count, size, order) prof__quiet_sort(at, count, size, order)
#ifdef PROF__NARROW
#define fopen(path, mode) PROF__QUIETLY(FILE *, prof__libc_fopen(path, mode))
#else
#define fopen(path, mode) PROF__QUIETLY(FILE *, fopen(path, mode))
#endif
#define fgets(to, size, file) PROF__QUIETLY(char *, fgets(to, size, file))
#define fclose(file) PROF__QUIETLY(int, fclose(file))
#define fread(to, size, count, file) PROF__QUIETLY(size_t, fread(to, size, count, file))
#define fwrite(from, size, count, file) PROF__QUIETLY(size_t, fwrite(from, size, count, file))
#endif

#ifdef __cplusplus
extern "C" {
#endif

#include "read/find.h"
#include "read/import.h"
#include "read/event.h"
#include "read/since.h"
#include "report/allocations_walk.h"
#include "report/locks.h"
#include "report/waits.h"
#include "report/open_scopes.h"
#include "report/summary_write.h"
#include "report/csv.h"
#include "display/tracks.h"
#include "display/names.h"
#include "display/flows.h"
#include "display/locks.h"
#include "watch/last.h"
#ifdef PROF_NO_THREAD
#include "watch/no_stats.h"
#else
#include "watch/follow_passes.h"
#include "watch/aggregated.h"
#include "watch/follow_make.h"
#include "watch/save.h"
#endif
#include "ground/json.h"
#include "watch/late.h"
#include "api/inner.h"

#ifdef __EMSCRIPTEN__
#undef malloc
#undef calloc
#undef realloc
#endif
#ifdef PROF__WRAPS_MALLOC
#undef malloc
#undef calloc
#undef realloc
#undef free
#undef qsort
#undef fopen
#undef fgets
#undef fclose
#undef fread
#undef fwrite
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
