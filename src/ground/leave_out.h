// ground/leave_out: Which switches come with others. What each leaves out is named in the list of rooms, src/prof.h.
#ifndef PROF__GROUND_LEAVE_OUT_H
#define PROF__GROUND_LEAVE_OUT_H
#include "api/types.h"

/*-- WHAT IS LEFT OUT: see PROF_MINIMAL in >>options ----------------------------------------------------------------*/
#if defined(PROF_MINIMAL) && !defined(PROF_NO_NAMES)
#define PROF_NO_NAMES
#endif
#if defined(PROF_MINIMAL) && !defined(PROF_NO_COPIES)
#define PROF_NO_COPIES
#endif
#if defined(PROF_MINIMAL) && !defined(PROF_NO_CONFIG_TEXT)
#define PROF_NO_CONFIG_TEXT
#endif
#if defined(PROF_MINIMAL) && !defined(PROF_NO_DEVICES)
#define PROF_NO_DEVICES
#endif
#if defined(PROF_MINIMAL) && !defined(PROF_NO_COSTS)
#define PROF_NO_COSTS
#endif
#if defined(PROF_MINIMAL) && !defined(PROF_NO_OFF_SCOPES)
#define PROF_NO_OFF_SCOPES
#endif
#if defined(PROF_MINIMAL) && !defined(PROF_NO_OBJECTS)
#define PROF_NO_OBJECTS
#endif
#if defined(PROF__NO_DOUBLE) && !defined(PROF_NO_CONFIG_TEXT) /* some keys are in seconds */
#define PROF_NO_CONFIG_TEXT
#endif
#if defined(PROF_NO_CONFIG_TEXT) && !defined(PROF_NO_AUTOSTART)
#define PROF_NO_AUTOSTART
#endif
#if defined(PROF_NO_NAMES) && !defined(PROF_NO_SAVE)
#define PROF_NO_SAVE
#endif
#if defined(PROF_NO_NAMES) && !defined(PROF_NO_SERVICE)
#define PROF_NO_SERVICE
#endif
#if defined(__wasi__) && !defined(PROF_NO_SERVICE) /* it has neither threads nor signals */
#define PROF_NO_SERVICE
#endif
#if (defined(__wasi__) || defined(__EMSCRIPTEN__)) && !defined(PROF_NO_CRASH) /* neither system sends signals */
#define PROF_NO_CRASH
#endif
#if defined(PROF_NO_SERVICE) && !defined(PROF_NO_STREAM)
#define PROF_NO_STREAM
#endif
#if defined(PROF_NO_SAVE) && !defined(PROF_NO_CRASH)
#define PROF_NO_CRASH
#endif
#if defined(PROF_NO_SAVE) && !defined(PROF_NO_READER)
#define PROF_NO_READER
#endif
#if (defined(PROF_NO_READER) || defined(PROF_NO_SERVICE)) && !defined(PROF_NO_STATS)
#define PROF_NO_STATS
#endif
#if defined(PROF_FREESTANDING) || defined(_WIN32) || defined(__wasi__)
#define PROF__NO_FORK 1
#define PROF__NO_SIGNALS 1
#endif
#if defined(PROF_FREESTANDING) || defined(PROF_NO_SERVICE)
#define PROF__ALONE 1 /* there is no thread behind a session */
#endif
#if defined(PROF_FREESTANDING) ? defined(PROF_ALLOCATE) : !defined(PROF_NO_SAVE)
#define PROF__SNAPSHOTS 1
#endif
#if !defined(PROF_FREESTANDING) && !defined(PROF_MINIMAL)
#define PROF__RENAMES 1 /* names that threads get from the system after their first event are recorded, too */
#endif
#if defined(PROF_TINY) && !(defined(PROF_FREESTANDING) && defined(PROF_MINIMAL))
#error "PROF_TINY is for PROF_FREESTANDING with PROF_MINIMAL"
#endif
#if !defined(PROF_TINY) || defined(PROF_WITH_CATEGORIES)
#define PROF__CATEGORIES 1
#endif
#if !defined(PROF_TINY) || defined(PROF_WITH_SHARED_CHUNKS)
#define PROF__SHARED_CHUNKS 1
#endif
/* The sizes of tables in static data. */
#if defined(PROF_FREESTANDING) && defined(PROF_MINIMAL)
#define PROF__LESS(max, least) least
#else
#define PROF__LESS(max, least) max
#endif
#ifdef PROF_FREESTANDING
#define PROF__PATH(size) 8 /* there are no files */
#else
#define PROF__PATH(size) size
#endif

#endif /* PROF__GROUND_LEAVE_OUT_H */
