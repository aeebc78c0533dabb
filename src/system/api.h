// system/api: Declarations.
#ifndef PROF__SYSTEM_API_H
#define PROF__SYSTEM_API_H
#include "api/macros.h"
#include "api/options.h"
#include "api/types.h"

#if PROF_ENABLE
/* Returns PROF_OK if the running session records what its configuration asked for with config.switches,
   config.counters (those that the system tells) or config.system; else, with the reason in prof_error(),
   PROF_UNSUPPORTED if the system refuses it, or PROF_INVALID_STATE if no session runs or it asked for nothing. Any
   thread may call it. */
PROF__API prof_status prof_system_status(void);

/* Returns PROF_OK if PROFILE_SCOPE_TIMED, PROFILE_STEP_TIMED and PROFILE_FRAME_TIMED tell running, ready and waiting
   here; else PROF_UNSUPPORTED, with the reason in prof_error(). It needs no session. */
PROF__API prof_status prof_timed_status(void);
#else
#define prof_system_status() PROF__STRIPPED(PROF_OK, (void)0)
#define prof_timed_status() PROF__STRIPPED(PROF_OK, (void)0)
#endif

/*-- PROFILE_SCOPE_TIMED --------------------------------------------------------------------------------- >>timed --
     PROFILE_SCOPE_TIMED(name)       PROFILE_SCOPE(name) that says how long its thread ran, could have run, and waited:
                                     its arguments prof.running_ns, prof.ready_ns and prof.waiting_ns, which prof_stat
                                     and prof_event_split() use where switches are not known. min_duration does not
                                     remove it
     PROFILE_STEP_TIMED(name, number)   likewise, of PROFILE_STEP(name, number)
     PROFILE_FRAME_TIMED(name)       likewise, of PROFILE_FRAME(name): what the thread did since the boundary before, in
                                     the loop that has this macro */
#if PROF_ENABLE && defined(__linux__) && !defined(PROF_FREESTANDING) && (defined(__cplusplus) || defined(__GNUC__))
#define PROF__SCOPES_TIMED 1
#define PROF__TIMED_UNKNOWN (~PROF__TO(uint64_t, 0))
/* What is known at the begin. thread: 0: the scope is not recorded. ready_ns may be PROF__TIMED_UNKNOWN. */
typedef struct prof__timed {
    prof__token token;
    uint64_t thread, ns, cpu_ns, ready_ns;
} prof__timed;
PROF__API prof__timed prof__timed_begin(prof__token token);
PROF__API void prof__timed_end(const prof__timed *timed);
PROF__API void prof__timed_frame(prof_site *site, prof__timed *last);
#ifdef __cplusplus
extern "C++" {
struct PROF__GUARD_TYPE prof__guard_timed {
    prof__timed timed;
    PROF__UNTRACED ~prof__guard_timed() { if (timed.token) prof__timed_end(&timed); }
};
PROF__HIDDEN PROF__UNTRACED inline prof__timed prof__timed_of(prof__token token)
{
    prof__timed timed = {0, 0, 0, 0, 0};
    return token ? prof__timed_begin(token) : timed;
}
}
#define PROF__GUARD_TIMED(variable, token) prof__guard_timed variable = {prof__timed_of(token)}
#else
static inline PROF__UNTRACED void prof__guard_timed(const prof__timed *timed)
{
    if (timed->token) prof__timed_end(timed);
}
static inline PROF__UNTRACED prof__timed prof__timed_of(prof__token token)
{
    prof__timed timed = {0, 0, 0, 0, 0};
    return token ? prof__timed_begin(token) : timed;
}
#define PROF__GUARD_TIMED(variable, token)                                                                 \
    __extension__ __attribute__((__cleanup__(prof__guard_timed), __unused__))                              \
    prof__timed variable = prof__timed_of(token)
#endif
#define PROF__SCOPE_TIMED(...) PROF__AGAIN(PROF__SCOPE_TIMED_(__VA_ARGS__))
#define PROF__SCOPE_TIMED_(id, name)                                                                       \
    PROF__SITE_AT(prof__site_##id, PROF__KIND_BEGIN, name, PROF_CATEGORY, PROF_SITE_LEVEL, 0, 0)           \
    PROF__GUARD_TIMED(prof__scope_##id, PROF__BEGIN(PROF__AT(prof__site_##id), PROF_SITE_LEVEL))
#define PROF__STEP_TIMED(...) PROF__AGAIN(PROF__STEP_TIMED_(__VA_ARGS__))
#define PROF__STEP_TIMED_(id, name, number)                                                                \
    PROF__SITE_AT(prof__site_##id, PROF__KIND_BEGIN | PROF_ROLE_STEP << PROF__ROLE_SHIFT, name, PROF_CATEGORY, \
                   PROF_SITE_LEVEL, 0, 0)                                                                  \
    PROF__SITE_AT(prof__key_##id, PROF__KIND_ARG, "step_num", PROF_CATEGORY, PROF_SITE_LEVEL, 0, 0)        \
    PROF__GUARD_TIMED(prof__scope_##id,                                                                    \
                      PROF__BEGIN_WITH(                                                                    \
                          PROF__AT(prof__site_##id), PROF_SITE_LEVEL,                                      \
                          prof__begin_number(&PROF__AT(prof__site_##id), &PROF__AT(prof__key_##id),        \
                                             PROF_VALUE_INT, PROF__TO(uint64_t, PROF__TO(int64_t, number)))))
#define PROFILE_SCOPE_TIMED(name) PROF__SCOPE_TIMED(PROF_UNIQUE, name)
#define PROFILE_STEP_TIMED(name, number) PROF__STEP_TIMED(PROF_UNIQUE, name, number)
#define PROF__TIMED_FRAME(site)                     \
    do {                                            \
        static __thread prof__timed prof__timed_last; \
        prof__timed_frame(site, &prof__timed_last); \
    } while (0)
#define PROFILE_FRAME_TIMED(name) \
    PROF__STATEMENT(PROF__KIND_FRAME, name, PROF_CATEGORY, PROF_SITE_LEVEL, PROF__TIMED_FRAME(&PROF__HERE))
#else
#define PROFILE_SCOPE_TIMED(name) PROFILE_SCOPE(name)
#define PROFILE_STEP_TIMED(name, number) PROFILE_STEP(name, number)
#define PROFILE_FRAME_TIMED(name) PROFILE_FRAME(name)
#endif

#endif /* PROF__SYSTEM_API_H */
