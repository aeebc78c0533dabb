// layouts/dumps: Reports of the running session, and what does what MXNet's dump(), pause() and resume() do.
#ifndef PROF__LAYOUTS_DUMPS_H
#define PROF__LAYOUTS_DUMPS_H
#include "api/control.h"
#include "api/options.h"
#include "api/read.h"
#include "api/reports.h"
#include "api/types.h"
#include "api/values.h"
#include "ground/compiler.h"
#include "ground/lock.h"
#include "ground/numbers.h"
#include "session/on_demand.h"
#include "session/place.h"
#include "read/open.h"
#include "read/since.h"
#include "layouts/api.h"
#include "layouts/state.h"
#include "layouts/write.h"

/*-- reports of the running session --*/

static struct {
    int lock;
    uint32_t session_id; /* the id of the session that prof_mxnet_set_paused() has paused; 0: none */
} prof__report_paused;

static struct {
    int lock;
    prof__bounds bounds; /* what the last reset left out */
} prof__report_reset;

#ifndef _WIN32
/* Releases the locks in the child of a fork(), where the thread that held them may not exist. */
static void prof__report_child_of_fork(void) { prof__report_reset.lock = prof__report_paused.lock = 0; }
PROF__AT_START(101, prof__report_forks);
static void prof__report_forks(void)
{
    pthread_atfork(NULL, NULL, prof__report_child_of_fork);
}
#endif

static prof_status prof__report_dumps(const prof_report_options *options, int reset, char **text)
{
    prof_trace *trace = NULL;
    prof_status status = prof__report_check(options);
    if (status == PROF_OK) status = prof__trace_live(&trace, reset);
    if (status != PROF_OK) return status;
    if (!prof__bounds_apply(&prof__report_reset.bounds, trace)) status = prof__report_no_memory();
    if (status == PROF_OK) status = prof_report_text(trace, options, text, NULL);
    if (status == PROF_OK && reset && !prof__bounds_take(&prof__report_reset.bounds, trace))
        status = prof__report_no_memory();
    if (status != PROF_OK) {
        prof_report_free(*text);
        *text = NULL;
    }
    prof_trace_close(trace);
    return status;
}

PROF_DEF char *prof_mxnet_dumps(prof_report_layout layout, prof_sort sort, int ascending, int reset)
{
    PROF__CALM();
    prof_report_options options;
    char *text = NULL;
    int cancel;
    memset(&options, 0, sizeof options);
    options.layout = layout;
    options.sort = sort;
    options.ascending = ascending;
    cancel = prof__lock_steady(&prof__report_reset.lock);
    prof__report_dumps(&options, reset, &text);
    prof__unlock_steady(&prof__report_reset.lock, cancel);
    return text;
}

/*-- MXNet's functions dump(), pause() and resume() --*/

PROF_DEF prof_status prof_mxnet_dump(int finished)
{
    PROF__CALM();
    prof_status status = finished ? prof_stop() : PROF_INVALID_STATE;
    return status == PROF_INVALID_STATE ? prof__output_again("prof_mxnet_dump") : status;
}

/* Returns the id of the running session. Returns 0 if none runs. */
static uint32_t prof__report_session_id(void)
{
    prof__session_status look = prof__session_status_now();
    return !look.on_demand && (look.running || look.ended) ? look.session_id : 0;
}

PROF_DEF prof_status prof_mxnet_set_paused(int paused)
{
    prof_status status = PROF_OK;
    int cancel = prof__lock_steady(&prof__report_paused.lock);
    uint32_t session_id = prof__report_session_id();
    int was = session_id && prof__report_paused.session_id == session_id;
    if (session_id && paused && !was) {
        status = prof_pause();
        if (status == PROF_OK) prof__report_paused.session_id = session_id;
    } else if (!paused && was) {
        status = prof_resume();
        prof__report_paused.session_id = 0;
    }
    prof__unlock_steady(&prof__report_paused.lock, cancel);
    return status;
}

#endif /* PROF__LAYOUTS_DUMPS_H */
