// ground/leave_out: Derives the switches that follow from others, for example from PROF_MINIMAL. The list of modules in
// src/prof.h shows which modules each switch leaves out.
#ifndef PROF__GROUND_LEAVE_OUT_H
#define PROF__GROUND_LEAVE_OUT_H
#include "api/types.h"

/*-- WHAT IS LEFT OUT: see PROF_MINIMAL in >>options ----------------------------------------------------------------*/
#if defined(PROF_NO_SERVICE) || defined(PROF_NO_STREAM) || defined(PROF_NO_STATS)
#error "prof.h: PROF_NO_SERVICE, PROF_NO_STREAM and PROF_NO_STATS are one switch now: define PROF_NO_THREAD"
#endif
#if defined(PROF_NO_CONFIG_TEXT) || defined(PROF_NO_AUTOSTART)
#error "prof.h: PROF_NO_CONFIG_TEXT and PROF_NO_AUTOSTART are PROF_NO_TEXT now; PROF_STATIC does without autostart, too"
#endif
#if defined(PROF_NO_COPIES) || defined(PROF_NO_COSTS) || defined(PROF_NO_DEVICES) || defined(PROF_NO_NAMES) || \
    defined(PROF_NO_OBJECTS) || defined(PROF_NO_OFF_SCOPES) || defined(PROF_NO_SAVE)
#error "prof.h: PROF_NO_COPIES, _COSTS, _DEVICES, _NAMES, _OBJECTS, _OFF_SCOPES and _SAVE are gone: define PROF_MINIMAL"
#endif
#ifdef PROF_NO_READER
#error "prof.h: PROF_NO_READER is gone: prof.h alone has no reader; include prof_read.h instead where you want one"
#endif
#ifdef PROF_MINIMAL
#define PROF__MINIMAL 1 /* a constant for plain if statements: the compiler removes the dead branch */
#else
#define PROF__MINIMAL 0
#endif
/* WASI has no threads and no signals, Emscripten has no signals. PROF_NO_TEXT follows from the absence of double,
   because some values in the text of a configuration are fractions of seconds. */
#if !defined(PROF_NO_THREAD) && (defined(PROF_MINIMAL) || defined(__wasi__))
#define PROF_NO_THREAD
#endif
#if !defined(PROF_NO_CRASH) && (defined(PROF_MINIMAL) || defined(__wasi__) || defined(__EMSCRIPTEN__))
#define PROF_NO_CRASH
#endif
#if !defined(PROF_NO_TEXT) && (defined(PROF_MINIMAL) || defined(PROF__NO_DOUBLE))
#define PROF_NO_TEXT
#endif
#if defined(PROF_FREESTANDING) || defined(_WIN32) || defined(__wasi__)
#define PROF__NO_FORK 1
#define PROF__NO_SIGNALS 1
#endif
#if defined(PROF_FREESTANDING) || defined(PROF_NO_THREAD)
#define PROF__ALONE 1 /* sessions have no background thread */
#endif
#if defined(PROF_FREESTANDING) ? defined(PROF_ALLOCATE) : !defined(PROF_MINIMAL)
#define PROF__SNAPSHOTS 1
#endif
#if !defined(PROF_FREESTANDING) && !defined(PROF_MINIMAL)
#define PROF__RENAMES 1 /* also record a name that a thread sets after its first event */
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
/* The sizes of tables in static data: the smallest in a freestanding PROF_MINIMAL build, whose program may have little
   memory. */
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
