// api/control: Starts, stops, pauses, saves: declarations.
/*-- CONTROL ---------------------------------------------------------------------------------------------- >>control --
   Any thread, at any time; none of these but prof_save_request() is for signal handlers. Pauses, level, mask and
   categories belong to the session: without one PROF_INVALID_STATE, and each begins with those of its config. With
   PROF_ENABLE=0 each is the constant PROF_DISABLED (prof_enabled: 0, texts: ""), evaluates no argument and needs no
   implementation to link. */
#if PROF_ENABLE

/* Starts a session. config may be null. Discards what an earlier session left in memory.
   PROF_INVALID_STATE if one is running, which may be PROF_OUTPUT's, or has ended by itself and prof_stop() is still to
   come; of two threads that race, one starts and the other gets this. */
PROF_DEF prof_status prof_start(const prof_config *config);

/* Ends the session and writes config.output. Scopes still open end as truncated. The recorded events stay readable
   with prof_trace_live() and prof_save() until the next prof_start(). */
PROF_DEF prof_status prof_stop(void);

/* Nested: recording goes on after as many resumes as pauses; one more is PROF_INVALID_STATE. Scopes open at the pause
   get their end. */
PROF_DEF prof_status prof_pause(void);
PROF_DEF prof_status prof_resume(void);

/* 1 while a session records: runs, is not paused, has begun (delay, warm-up), and not ended by itself (duration). _at:
   and sites of this level are on, as far as the level decides. */
PROF_DEF int prof_enabled(void), prof_enabled_at(int level);

/* Sites with a level above this are off. 0 turns all sites off, 255 none. */
PROF_DEF prof_status prof_set_level(int level);

/* PROFILE_SCOPE_M sites whose mask has none of these bits are off. 0 is as in prof_config: all bits. */
PROF_DEF prof_status prof_set_filter_mask(uint32_t mask);

/* Turns on or off the categories that match pattern: a name in which * stands for any text and ? for one character.
   The last call that matches decides; "*" forgets all earlier calls. Categories nobody named are on, unless the first
   rule turns something on: then only what is named is on. Uncategorised sites have the category "". Up to 64 rules of
   up to 47 bytes; one more is PROF_NO_MEMORY. */
PROF_DEF prof_status prof_category_enable(const char *pattern, int on);

/* Sets one field of config from text. key: see prof_config. Keeps the pointer value, not a copy, where the field is a
   string. PROF_INVALID_ARGUMENT names the nearest known key, or the values that would do. */
PROF_DEF prof_status prof_config_set(prof_config *config, const char *key, const char *value);

/* Sets what PROF_ variables say, for a program that wants to be told so; prof_start() itself reads none of them. Also
   not one that looks like a misspelt key: PROF_INVALID_ARGUMENT names the variable. Not PROF_FREESTANDING. */
PROF_DEF prof_status prof_config_from_env(prof_config *config);

/* All keys, prof's own first, then those of other systems. 0 beyond the last. */
PROF_DEF int prof_config_describe(size_t index, prof_option *option);

/* Has keys that begin with prefix, and are not prof's own, handed to claim(), for example those of a device ("gpu_"):
   what it returns is what prof_config_set() returns. The longest prefix decides.
   claim null: no more. prefix: up to 31 bytes, copied; up to 16 at a time. */
PROF_DEF prof_status prof_config_claim(const char *prefix, prof_status (*claim)(void *user, const char *key, const char *value),
                                       void *user);
/* What the session is about, for whoever reads the trace: host, version, parameters. Stays for later sessions, too; one
   key, one value. Together up to 4096 bytes. Shown by summary and exporters. */
PROF_DEF prof_status prof_set_metadata(const char *key, const char *value);
PROF_DEF prof_status prof_clear_metadata(void);

/* The function that waits until a device has done what it was told, for PROFILE_SYNC() and PROFILE_SCOPE_SYNC(): they
   call it, on their thread, while they record. It may have scopes of its own. Null: none. Must stay until no thread is
   in it. */
PROF_DEF prof_status prof_set_sync(void (*sync)(void *user), void *user);

/* Writes what is recorded now to path, as its extension says (.prof: the image itself), without stopping anybody. Makes
   the directories of path. */
PROF_DEF prof_status prof_save(const char *path);

/* The same, of the last seconds only: see prof_trace_window(). A .prof file is as large as that of prof_save(), and
   opens with its window set: scopes that were open all the time began long before. */
PROF_DEF prof_status prof_save_last(const char *path, double seconds);

/* Has config.save done soon (in 10 ms or so), by another thread. Only sets a flag: signal handlers may call it.
   Requests that come faster than files can be written become one. PROF_INVALID_STATE, without a text in prof_error():
   no session with config.save is running. */
PROF_DEF prof_status prof_save_request(void);

/* Frees the memory of a stopped session. Not needed before a new prof_start or at exit. */
PROF_DEF prof_status prof_reset(void);

/* A track of its own for what takes turns on threads: a coroutine, a job, a task, a kernel's thread; see Fibers in the
   manual. name: copied, up to 63 bytes; may be null. Null without memory. */
PROF_DEF prof_fiber *prof_fiber_create(const char *name); /* not PROF_FREESTANDING */

/* The same in memory of yours: PROF_FIBER_SIZE bytes, 8-byte aligned, that stay until the fiber runs no more. */
PROF_DEF prof_fiber *prof_fiber_init(void *memory, const char *name);

/* What the calling thread records from here on belongs to this fiber, or, if it is null, to the thread's own track. */
PROF_DEF void prof_fiber_switch(prof_fiber *fiber);

/* Frees what prof_fiber_create() made, when it runs no more and is on no other thread. Null is fine. Its scopes still
   open end as truncated. Not PROF_FREESTANDING. */
PROF_DEF void prof_fiber_destroy(prof_fiber *fiber);

PROF_DEF const char *prof_status_text(prof_status status);
/* The last failure of the calling thread in one line, for example "unknown key 'bufer': did you mean 'buffer'?".
   Valid until the thread's next failing call; "" if there was none. */
PROF_DEF const char *prof_error(void);
#endif
