// xplane/trace_block: PROFILE_TRACE: a block that is traced.
#ifndef PROF__XPLANE_TRACE_BLOCK_H
#define PROF__XPLANE_TRACE_BLOCK_H
#include "api/macros.h"
#include "api/options.h"
#include "api/types.h"
#include "xplane/api.h"

/* Does the same as `with jax.profiler.trace(logdir):`. Stands before a block, and traces it however it is left, even by
   an exception:

       PROFILE_TRACE("logs") {
           work();
       }

   If the trace cannot begin or be written, the block runs all the same, and prof_error() says why. `break` and
   `continue` leave the block, but not if the macro is stripped. With neither C++ nor the cleanup attribute, leaving the
   block early leaves the trace running. */
#define PROFILE_TRACE(logdir) PROFILE_TRACE_WITH(logdir, NULL)
#define PROFILE_TRACE_WITH(logdir, options)                                                                \
    PROF__EITHER(PROF__TRACE(PROF_UNIQUE, logdir, options), if (!sizeof(logdir) || !sizeof(options)) {} else)
#if PROF_ENABLE
#define PROF__TRACE(...) PROF__AGAIN(PROF__TRACE_(__VA_ARGS__))
#if defined(__cplusplus)
struct prof__trace_guard {
    int started, more;
    ~prof__trace_guard() { if (started) prof_xplane_stop_trace(); }
};
#define PROF__TRACE_(id, logdir, options)                                                                  \
    for (prof__trace_guard prof__trace_##id = {prof_xplane_start_trace_with(logdir, options) == PROF_OK, 1}; \
         prof__trace_##id.more; prof__trace_##id.more = 0)
#elif defined(__GNUC__)
static inline PROF__UNTRACED void prof__trace_leave(const int *started)
{
    if (*started) prof_xplane_stop_trace();
}
#define PROF__TRACE_(id, logdir, options)                                                                  \
    for (int prof__trace_##id __attribute__((__cleanup__(prof__trace_leave), __unused__)) =                        \
             prof_xplane_start_trace_with(logdir, options) == PROF_OK,                                     \
             prof__more_##id = 1;                                                                          \
         prof__more_##id; prof__more_##id = 0)
#else
#define PROF__TRACE_(id, logdir, options)                                                                  \
    for (int prof__trace_##id = prof_xplane_start_trace_with(logdir, options) == PROF_OK, prof__more_##id = 1; \
         prof__more_##id; prof__more_##id = 0, prof__trace_##id ? (int)prof_xplane_stop_trace() : 0)
#endif
#endif

#endif /* PROF__XPLANE_TRACE_BLOCK_H */
