// api/objects: Domains, tasks, frames, counters and markers made at run time: declarations.
/*-- OBJECTS ---------------------------------------------------------------------------------------------- >>objects --
   What macros cannot name in advance: names made at run time, things that live in structures of the program. A handle
   may be made and destroyed at any time, whether a session runs or not, and serves every session; its strings are
   copied. It is valid in all threads at once; only its destruction must come after its last use. What was recorded with
   it stays. Functions that create return null without memory. All others take a null handle, or a null domain, and do
   nothing, or belong to no domain. What starts, stops, sets, adds and marks is as a macro is: cheap while off, no lock,
   no allocation, fit for signal handlers. Not PROF_FREESTANDING. */
#if PROF_ENABLE

/* A category whose name is known at run time only. The same name is the same domain. Lives as long as the process. */
PROF_DEF prof_domain *prof_domain_create(const char *name);
PROF_DEF const char *prof_domain_name(const prof_domain *domain);
/* Turns the category of exactly this name on or off, as the last of the rules of prof_category_enable(), but without an
   effect on any other category. */
PROF_DEF prof_status prof_domain_enable(prof_domain *domain, int on);
/* The names of all domains, and the categories of macros and devices that the program has come by so far, on or off
   (128 of these, 4 KiB): what prof_category_enable() may turn on and off. Stores at most room of them, which stay valid.
   Returns how many there are. */
PROF_DEF size_t prof_domain_list(const char **names, size_t room);

/* A span, see PROFILE_SPAN_BEGIN(), with an id of its own: starts on one thread, may stop on another, and overlaps with
   whatever it likes. Started again before it stops it is a task within itself: a stop ends the last start. What
   overlaps in any other way is a task of its own. */
PROF_DEF prof_task *prof_task_create(prof_domain *domain, const char *name);
PROF_DEF void prof_task_start(prof_task *task);
PROF_DEF void prof_task_stop(prof_task *task);
PROF_DEF void prof_task_destroy(prof_task *task);

/* Frames with a beginning and an end, and perhaps something in between, where PROFILE_FRAME() knows only what is
   between two of them. Numbered from 1 on; not more than one of a handle at a time: a start ends what was not
   stopped. */
PROF_DEF prof_frame *prof_frame_create(prof_domain *domain, const char *name);
PROF_DEF void prof_frame_start(prof_frame *frame);
PROF_DEF void prof_frame_stop(prof_frame *frame);
PROF_DEF void prof_frame_destroy(prof_frame *frame);

/* A scope of the thread, as PROFILE_BEGIN(): stops on the thread where it started, and may overlap with others. */
PROF_DEF prof_range *prof_range_create(const char *name);
PROF_DEF void prof_range_start(prof_range *range);
PROF_DEF void prof_range_stop(prof_range *range);
PROF_DEF void prof_range_destroy(prof_range *range);

/* A number that counts whether it is being recorded or not, from 0; each change is a sample. It stays at the end of its
   range (INT64_MIN, INT64_MAX) instead of going round. One to which a _double function was applied is floating-point
   from there on; that change is not for several threads at the same time. */
PROF_DEF prof_counter *prof_counter_create(prof_domain *domain, const char *name);
PROF_DEF void prof_counter_set(prof_counter *counter, int64_t value);
PROF_DEF void prof_counter_add(prof_counter *counter, int64_t delta);
PROF_DEF void prof_counter_sub(prof_counter *counter, int64_t delta);
PROF_DEF void prof_counter_set_double(prof_counter *counter, double value);
PROF_DEF void prof_counter_add_double(prof_counter *counter, double delta);
PROF_DEF void prof_counter_destroy(prof_counter *counter);

/* An instant. */
PROF_DEF prof_marker *prof_marker_create(prof_domain *domain, const char *name);
PROF_DEF void prof_marker_mark(prof_marker *marker, prof_mark_scope scope);
PROF_DEF void prof_marker_destroy(prof_marker *marker);
#endif
