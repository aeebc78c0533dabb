// api/control: Starts, stops, pauses, saves: declarations.
#ifndef PROF__API_CONTROL_H
#define PROF__API_CONTROL_H
#include "api/types.h"

/*-- CONTROL ---------------------------------------------------------------------------------------------- >>control --
   Any thread may call these functions at any time; in a signal handler, only prof_save_request() may be called.
   Pauses, level, mask and categories belong to the session: without one these functions return PROF_INVALID_STATE, and
   each session begins with those of its config. With PROF_ENABLE=0 each function succeeds and does
   nothing, so that the program runs on: it is the constant PROF_OK, evaluates no argument and needs no implementation
   to link. Questions get the answer that nothing was recorded: prof_enabled() is 0, texts are "". What is created is
   not NULL, and means nothing. */
#if PROF_ENABLE

/* Starts a session. config may be NULL. Discards what an earlier session left in memory. Returns PROF_INVALID_STATE if
   a session is running, also one that PROF_OUTPUT started, or has ended by itself and prof_stop() was not called yet:
   if two threads call it at once, the second gets this. Returns PROF_INVALID_ARGUMENT or PROF_UNSUPPORTED for a wrong
   field of config, PROF_IO or PROF_NO_MEMORY if there is no file or memory for the buffer. */
PROF__API prof_status prof_start(const prof_config *config);

/* Ends the session and writes config.output. Scopes that are still open are marked as truncated. The recorded events
   stay readable with prof_trace_open_live() and prof_save() until the next prof_start(). Returns PROF_INVALID_STATE
   without a session, and what failed if output could not be written, or if a full disk has cost events: the session has
   ended all the same. */
PROF__API prof_status prof_stop(void);

/* Pause and resume recording. They nest: recording goes on after as many resumes as pauses; one more resume is
   PROF_INVALID_STATE. Scopes that are open at a pause get their ends. */
PROF__API prof_status prof_pause(void);
PROF__API prof_status prof_resume(void);

/* Returns 1 while a session records: it runs, is not paused, has begun (delay, warm-up), and has not ended by itself
   (duration). prof_enabled_at() also requires that the session's level includes this one. */
PROF__API int prof_enabled(void);
PROF__API int prof_enabled_at(int level);

/* Turns off all call sites with a level above this. 0 turns all sites off, 255 none. */
PROF__API prof_status prof_set_level(int level);

/* Turns off PROFILE_SCOPE_MASK sites whose mask has none of these bits. 0 means all bits, as in prof_config. */
PROF__API prof_status prof_set_filter_mask(uint32_t mask);

/* Turns on or off the categories that match pattern: a name in which * stands for any text and ? for one character. The
   last call that matches decides; "*" discards all earlier calls. Categories that no call matches are on, unless the
   first call turns something on: then they are off. Sites without a category have the category "".
   PROFILE_ALLOC and the like also have the category "memory", which decides if no call matches their own: "-memory"
   turns all of them off. Up to 64 rules of up
   to 47 bytes; one more is PROF_NO_MEMORY. */
PROF__API prof_status prof_category_enable(const char *pattern, int on);

/* Sets one field of config from text. key: see prof_config. If the field is a string, keeps the pointer value, not a
   copy. Returns PROF_INVALID_ARGUMENT for an unknown key or an invalid value: prof_error() names the nearest known key,
   or the valid values. */
PROF__API prof_status prof_config_set(prof_config *config, const char *key, const char *value);

/* Sets the fields that PROF_ variables of the environment name; prof_start() itself reads none of them. Returns
   PROF_INVALID_ARGUMENT for a wrong value and for a variable that looks like a misspelt key; prof_error() names it. Not
   with PROF_FREESTANDING. */
PROF__API prof_status prof_config_from_env(prof_config *config);

/* Describes the key with this index, prof's own keys first, then those of other systems. Returns 0 after the last. */
PROF__API int prof_config_describe(size_t index, prof_option *option);

/* Passes keys that begin with prefix, and are not prof's own, to claim(), for example those of a device ("gpu_").
   prof_config_set() returns what claim() returns; prof_error() then has the text of a function of prof that failed in
   claim(), if there was one. The longest prefix decides. claim NULL: ends this. prefix: up to 31 bytes, copied; up to
   16 prefixes at a time. */
PROF__API prof_status prof_config_claim(
    const char *prefix, prof_status (*claim)(void *user, const char *key, const char *value), void *user);
/* Adds a fact about the run to the trace: host, version, parameters. Facts stay for later sessions, too, until
   prof_clear_metadata(). Copies both. A key has one value, the latest. All have up to 4096 bytes; more is
   PROF_NO_MEMORY. The summary and exporters show them. "role" is a part of the process's name where several processes
   are shown. */
PROF__API prof_status prof_set_metadata(const char *key, const char *value);
PROF__API prof_status prof_clear_metadata(void);

/* Sets the function that waits until a device has done its work. PROFILE_SYNC() and PROFILE_SCOPE_SYNC() call it, on
   their thread, while they record. It may have scopes of its own. NULL removes it. The function must stay in memory
   until no thread runs it. */
PROF__API prof_status prof_set_sync(void (*sync)(void *user), void *user);

/* Writes what has been recorded so far to path, in the format of its extension (.prof: the image itself). Recording
   goes on meanwhile. Creates the directories of path, which may have %p and so on as output. Returns
   PROF_INVALID_ARGUMENT if no writer has the extension, PROF_INVALID_STATE if nothing was recorded, PROF_IO if path
   cannot be written, or if PROF_STREAM has lost events to a full disk: then path has what was kept. */
PROF__API prof_status prof_save(const char *path);

/* Writes only the last nanoseconds (more than 0), 5 * PROF_SECOND for example: see prof_trace_set_window(). A .prof
   file opens with its window set. It has what lies in the window or reaches into it: scopes that were open all the
   time, spans. Of PROF_STREAM it has everything. The calling thread writes the file, which is there when this returns
   PROF_OK. With config.save_last_ns or config.save it takes as long as these nanoseconds need, 2 ms for 1 ms; else the
   first call looks at all of the buffer: some 15 ms for 64 MiB. */
PROF__API prof_status prof_save_last_ns(const char *path, uint64_t last_ns);

/* Asks prof's thread for the same, up to this moment, and returns after some 30 us: the file comes within 10 ms or
   so, and before prof_stop() returns; reports tell of a write that fails. Every request gets its file. Not for signal
   handlers. Returns PROF_INVALID_STATE if no session with config.save_last_ns or config.save is running. */
PROF__API prof_status prof_save_request_ns(const char *path, uint64_t last_ns);

/* Asks prof's thread to do what config.save says, within 10 ms or so. It only sets a flag, so that signal handlers may
   call it. Requests that come faster than files can be written become one. Returns PROF_INVALID_STATE, without a text
   in prof_error(), if no session with config.save is running. */
PROF__API prof_status prof_save_request(void);

/* Frees the memory of a stopped session. Not needed before a new prof_start() or at exit. Returns PROF_INVALID_STATE
   while a session runs. */
PROF__API prof_status prof_reset(void);

/* Creates a fiber: a track of its own for a coroutine, a job, a task, or a thread of a kernel, which runs on changing
   threads. See Fibers in the manual. name: copied, up to 63 bytes; may be NULL. Returns NULL if memory runs out. */
PROF__API prof_fiber *prof_fiber_create(const char *name); /* not PROF_FREESTANDING */

/* Creates a fiber in memory of yours: PROF_FIBER_SIZE bytes, 8-byte aligned, that stay until the fiber runs no more. */
PROF__API prof_fiber *prof_fiber_init(void *memory, const char *name);

/* Switches the calling thread to the track of this fiber, or, if it is NULL, to the thread's own track. */
PROF__API void prof_fiber_switch(prof_fiber *fiber);

/* Frees a fiber of prof_fiber_create(), which must not run on any thread any more. Does nothing for NULL. Scopes that
   are still open are marked as truncated. Not with PROF_FREESTANDING. */
PROF__API void prof_fiber_destroy(prof_fiber *fiber);

#ifdef PROF_FREESTANDING
/* Lets others use the part of the buffer that the state of an ended thread still has, and clears the state. Call it
   after the thread has ended, and not where PROF_MAY_WAIT() is 0. */
PROF__API void prof_cpu_state_end(void *state);
/* Copies the image while recording goes on; macros never wait for it. Free *image with PROF_RELEASE(). Needs
   PROF_ALLOCATE(): see the manual. */
PROF__API prof_status prof_snapshot(void **image, size_t *size);
/* With PROF_WITH_DRAIN: hands out what was recorded since the last call, while recording goes on. These are pieces of a
   .prof, each with its place in it; the memory need not hold the whole recording. write() returns PROF_OK, or why it
   failed: then prof_drain() returns that, and the next call tries again. Macros cannot use a chunk while it is handed
   out. Call it once more after prof_stop(), for the chunks that were in use until then. */
typedef prof_status prof_drain_write(void *user, uint64_t offset, const void *data, size_t size);
PROF__API prof_status prof_drain(prof_drain_write *write, void *user);
#endif

/* Explains a status in a few words; never NULL. The text is static. */
PROF__API const char *prof_status_text(prof_status status);
/* Returns the last failure of the calling thread in one line, for example "unknown key 'bufer': did you mean
   'buffer'?", or "" if there was none. Valid until the next call of the thread that fails. */
PROF__API const char *prof_error(void);
#endif

#endif /* PROF__API_CONTROL_H */
