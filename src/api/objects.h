// api/objects: Domains, tasks, frames, counters and markers made at run time: declarations.
#ifndef PROF__API_OBJECTS_H
#define PROF__API_OBJECTS_H
#include "api/types.h"

/*-- OBJECTS ---------------------------------------------------------------------------------------------- >>objects --
   Objects are for what macros cannot name in advance: names made at run time, and things that live in structures of
   the program. A handle may be created and destroyed at any time, whether a session runs or not, and serves every
   session; its strings are copied. All threads may use it at once; destroy it after its last use. What was recorded
   with it stays. Functions that create return NULL if memory runs out. All others accept a NULL handle and do nothing
   (prof_domain_enable: PROF_INVALID_ARGUMENT); a NULL domain means none. Functions that start, stop, set, add and mark
   are like macros: cheap while off, without a lock or an allocation, and allowed in signal handlers. Not with
   PROF_FREESTANDING. */
#if PROF_ENABLE

/* Creates a domain: a category whose name is known only at run time. The same name gives the same domain. It lives as
   long as the process. */
PROF__API prof_domain *prof_domain_create(const char *name);
PROF__API const char *prof_domain_name(const prof_domain *domain); /* "" for NULL */
/* Turns the category of exactly this name on or off, as the last rule of prof_category_enable() would, but without an
   effect on any other category. */
PROF__API prof_status prof_domain_enable(prof_domain *domain, int on);
/* Lists what prof_category_enable() may turn on and off: the names of all domains, and the categories, on or off, of
   the macros and devices that the program has used so far: up to 128 categories of together 4 KiB. Stores at most
   `capacity` names, which stay valid. Returns how many there are. */
PROF__API size_t prof_domain_list(const char **names, size_t capacity);

/* Creates a task: a span, see PROFILE_SPAN_BEGIN(), with an id of its own. It may start on one thread and stop on
   another, and overlap with others. If it is started again before it stops, it nests in itself: a stop ends the last
   start. For any other overlap create another task. */
PROF__API prof_task *prof_task_create(prof_domain *domain, const char *name);
PROF__API void prof_task_start(prof_task *task);
PROF__API void prof_task_stop(prof_task *task);
PROF__API void prof_task_destroy(prof_task *task);

/* Creates frames that have a begin and an end, with other work between two of them; PROFILE_FRAME() only marks the
   boundary between two frames. They are numbered from 1 on. A handle has one frame at a time: a start ends a frame that
   was not stopped. */
PROF__API prof_frame *prof_frame_create(prof_domain *domain, const char *name);
PROF__API void prof_frame_start(prof_frame *frame);
PROF__API void prof_frame_stop(prof_frame *frame);
PROF__API void prof_frame_destroy(prof_frame *frame);

/* Creates a scope like that of PROFILE_BEGIN(): it stops on the thread where it started, and may overlap with
   others. */
PROF__API prof_range *prof_range_create(const char *name);
PROF__API void prof_range_start(prof_range *range);
PROF__API void prof_range_stop(prof_range *range);
PROF__API void prof_range_destroy(prof_range *range);

/* Creates a counter. It starts at 0 and counts whether a session records or not; each change is a sample. At the end of
   its range (INT64_MIN, INT64_MAX) it saturates instead of wrapping. prof_counter_set_uint() makes it unsigned, with a
   range up to UINT64_MAX, until it is set or falls below 0. The first call of a _double function makes it
   floating-point; no other thread may use the counter during that call. _unit: with a unit, see PROFILE_COUNTER_UNIT();
   it is copied; NULL and "": none. */
PROF__API prof_counter *prof_counter_create(prof_domain *domain, const char *name);
PROF__API prof_counter *prof_counter_create_unit(prof_domain *domain, const char *name, const char *unit);
PROF__API void prof_counter_set(prof_counter *counter, int64_t value);
PROF__API void prof_counter_add(prof_counter *counter, int64_t delta);
PROF__API void prof_counter_sub(prof_counter *counter, int64_t delta);
PROF__API void prof_counter_set_uint(prof_counter *counter, uint64_t value);
PROF__API void prof_counter_set_double(prof_counter *counter, double value);
PROF__API void prof_counter_add_double(prof_counter *counter, double delta);
PROF__API void prof_counter_destroy(prof_counter *counter);

/* Creates a marker, which records an instant each time it is marked. */
PROF__API prof_marker *prof_marker_create(prof_domain *domain, const char *name);
PROF__API void prof_marker_mark(prof_marker *marker, prof_mark_reach reach);
PROF__API void prof_marker_destroy(prof_marker *marker);
#endif

#endif /* PROF__API_OBJECTS_H */
