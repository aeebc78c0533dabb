// session/no_thread: PROF_NO_THREAD: replaces session/service and session/stream, whose threads do not exist then.
#ifndef PROF__SESSION_NO_THREAD_H
#define PROF__SESSION_NO_THREAD_H
#include "ground/errors.h"
#include "record/state.h"
#include "session/hooks.h"
#include "session/memory.h"

/*-- NO THREAD ------------------------------------------------------------------------------------------------------
   prof__service_configure() refuses a configuration that needs the service thread. */

static int prof__stream_step(prof__session *s) { return (void)s, 0; }
static prof_status prof__stream_told(const char *written) { return (void)written, PROF_OK; }
static prof_status prof__service_check(const prof_config *config)
{
    return config->delay_ns || config->start_unix_ns || config->duration_ns
               ? prof__left_out("delay, start_unix, duration", "PROF_NO_THREAD")
               : PROF_OK;
}
static prof_status prof__service_configure(prof__session *s, const prof_config *config)
{
    int fresh = !s->file.output[0] || s->file.live_path == s->file.output; /* no output needs to be rewritten */
    if (config->dump_period_ns && config->dump_period_ns != PROF_NEVER && !fresh)
        return prof__left_out("dump_period", "PROF_NO_THREAD");
    if (config->mode == PROF_STREAM) return prof__left_out("mode stream", "PROF_NO_THREAD");
    return prof__reader()->follow_make(s, config);
}
static prof_status prof__service_start(prof__session *s) { return (void)s, PROF_OK; }
static void prof__service_stop(prof__session *s) { (void)s; }
static void prof__service_wake(prof__session *s) { (void)s; }

#endif /* PROF__SESSION_NO_THREAD_H */
