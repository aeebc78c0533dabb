// gl/api: Declarations.
#ifndef PROF__GL_API_H
#define PROF__GL_API_H
#include "api/macros.h"
#include "api/options.h"
#include "api/types.h"

typedef struct prof_gl prof_gl;                          /* a context of OpenGL and its ring of queries */
typedef uint32_t prof_gl_scope;                          /* an open scope; 0: none */
typedef void (*prof_gl_function)(void);
typedef prof_gl_function prof_gl_load(const char *name); /* returns a function of OpenGL, or null */

/* All zero is the default. prof_gl_create() copies the texts. */
typedef struct prof_gl_options {
    const char *device;    /* what contexts of one GPU share; NULL: "OpenGL ", and what OpenGL calls the GPU */
    const char *row;       /* the context's track; NULL: "context 1", ... */
    uint32_t scopes;       /* how many may be on their way to the GPU and back, up to 65536; 0: 1024 */
    uint32_t calibrate_ms; /* how often prof_gl_collect() reads both clocks; 0: 1000; UINT32_MAX: never */
    int no_arrows;         /* 1: no arrows from the scopes of the host */
} prof_gl_options;

/* How many scopes a context had so far. */
typedef struct prof_gl_info {
    uint64_t recorded;  /* their times were read, whether a session ran then or not */
    uint64_t pending;   /* open, or on their way */
    uint64_t full;      /* lost: the ring was full */
    uint64_t disjoint;  /* lost: the GPU's clock changed */
    uint64_t unanswered;/* lost: OpenGL did not answer: the context is lost, or not current */
    uint64_t destroyed; /* lost: prof_gl_destroy() came before they were collected */
} prof_gl_info;

#if PROF_ENABLE
/* Makes the queries of the context that is current on this thread. load may be NULL. Returns NULL, and prof_error()
   says why, if OpenGL lacks something, no context is current, an option is out of range or memory runs out. */
PROF__API prof_gl *prof_gl_create(prof_gl_load *load, const prof_gl_options *options);
/* Frees the queries. The context is current, or lost. Returns what prof_gl_collect() does. */
PROF__API prof_status prof_gl_destroy(prof_gl *context);
/* Records the scopes whose times are there, without waiting for others: call it once a frame. Returns
   PROF_INVALID_STATE if scopes were lost since the last call: prof_error() says how many and why. */
PROF__API prof_status prof_gl_collect(prof_gl *context);
/* Waits until the GPU has done all scopes that have ended, and records them. Returns what prof_gl_collect() does. */
PROF__API prof_status prof_gl_finish(prof_gl *context);
PROF__API prof_status prof_gl_get_info(const prof_gl *context, prof_gl_info *info);
/* What PROFILE_GL_SCOPE calls. name is copied, up to 95 bytes. Scopes need not nest. A scope of 0 is ignored. */
PROF__API prof_gl_scope prof_gl_begin(prof_gl *context, const char *name);
PROF__API void prof_gl_end(prof_gl *context, prof_gl_scope scope);
#else
#define prof_gl_create(load, options) PROF__STRIPPED(PROF__STRIPPED_OBJECT(prof_gl *), PROF__USE2(load, options))
#define prof_gl_destroy(context) PROF__STRIPPED(PROF_OK, PROF__USE(context))
#define prof_gl_collect(context) PROF__STRIPPED(PROF_OK, PROF__USE(context))
#define prof_gl_finish(context) PROF__STRIPPED(PROF_OK, PROF__USE(context))
#define prof_gl_get_info(context, info) \
    PROF__STRIPPED((prof__stripped_none(info, sizeof(prof_gl_info)), PROF_OK), PROF__USE(context))
#define prof_gl_begin(context, name) PROF__STRIPPED(PROF__TO(prof_gl_scope, 0), PROF__USE2(context, name))
#define prof_gl_end(context, scope) PROF__STRIPPED((void)0, PROF__USE2(context, scope))
#endif

#if PROF_ENABLE
#if defined(__cplusplus)
extern "C++" {
struct PROF__GUARD_TYPE prof__guard_gl {
    prof_gl *context;
    prof_gl_scope scope;
    PROF__UNTRACED prof__guard_gl(prof_gl *of, const char *name) : context(of), scope(prof_gl_begin(of, name)) {}
    PROF__UNTRACED ~prof__guard_gl() { if (scope) prof_gl_end(context, scope); }
};
}
#define PROF__GUARD_GL(variable, context, ...) prof__guard_gl variable(context, PROF__TEXT(__VA_ARGS__))
#elif defined(__GNUC__)
typedef struct prof__guard_gl {
    prof_gl *context;
    prof_gl_scope scope;
} prof__guard_gl;
static inline PROF__UNTRACED void prof__guard_gl_end(const prof__guard_gl *guard)
{
    if (guard->scope) prof_gl_end(guard->context, guard->scope);
}
static inline PROF__UNTRACED prof__guard_gl prof__guard_gl_begin(prof_gl *context, const char *name)
{
    prof__guard_gl guard = {context, prof_gl_begin(context, name)};
    return guard;
}
#define PROF__GUARD_GL(variable, context, ...)                                                             \
    __extension__ __attribute__((__cleanup__(prof__guard_gl_end), __unused__))                             \
    prof__guard_gl variable = prof__guard_gl_begin(context, __VA_ARGS__)
#else
#define PROF__GUARD_GL(variable, context, ...) prof__this_compiler_has_only_prof_gl_begin
#endif
#endif
#define PROF__GL_SCOPE(...) PROF__AGAIN(PROF__GL_SCOPE_(__VA_ARGS__))
#define PROF__GL_SCOPE_(id, context, ...) PROF__GUARD_GL(prof__gl_##id, context, __VA_ARGS__)
/* A scope of what the GPU does from here to the end of the block, on every way out of it. name may be made at run time.
   A scope is a declaration: `if (x) PROFILE_GL_SCOPE(gpu, "a");` needs braces. */
#define PROFILE_GL_SCOPE(context, ...)                                                                     \
    PROF__EITHER(PROF__GL_SCOPE(PROF_UNIQUE, context, __VA_ARGS__),                                        \
                 PROF__GONE(PROF_UNIQUE, sizeof(context) + sizeof(__VA_ARGS__)))

#endif /* PROF__GL_API_H */
