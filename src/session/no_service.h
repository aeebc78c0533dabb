// session/no_service: PROF_NO_SERVICE: replaces session/service.
#ifndef PROF__SESSION_NO_SERVICE_H
#define PROF__SESSION_NO_SERVICE_H
#include "ground/errors.h"
#include "record/state.h"
#include "session/hooks.h"
#include "session/memory.h"
#include "session/stream.h"

/*-- NO SERVICE -----------------------------------------------------------------------------------------------------
   A configuration that needs the service is an error: see prof__service_configure(). */

static prof_status prof__service_check(const prof_config *config)
{
    return config->delay_ns || config->start_unix_ns || config->duration_ns
               ? prof__left_out("delay, start_unix, duration", "PROF_NO_SERVICE")
               : PROF_OK;
}
static prof_status prof__service_configure(prof__session *s, const prof_config *config)
{
    int fresh = !s->output[0] || s->live_path == s->output; /* nothing to rewrite */
    if (config->dump_period_ns && config->dump_period_ns != PROF__NO_DUMP && !fresh)
        return prof__left_out("dump_period", "PROF_NO_SERVICE");
    if (config->mode == PROF_STREAM) return prof__stream_open(s);
    return prof__reader_table.follow_make(s, config);
}
static prof_status prof__service_start(prof__session *s) { return (void)s, PROF_OK; }
static void prof__service_stop(prof__session *s) { (void)s; }
static void prof__service_wake(prof__session *s) { (void)s; }

#endif /* PROF__SESSION_NO_SERVICE_H */
