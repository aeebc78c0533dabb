// session/stop: prof_stop(), prof_reset(), prof_pause() and prof_resume().
#ifndef PROF__SESSION_STOP_H
#define PROF__SESSION_STOP_H
#include "api/control.h"
#include "ground/instances.h"
#include "ground/errors.h"
#include "ground/lock.h"
#include "ground/numbers.h"
#include "record/bridge.h"
#include "record/locks.h"
#include "record/state.h"
#include "session/beside.h"
#include "session/crash_session.h"
#include "session/file.h"
#include "session/fork.h"
#include "session/hooks.h"
#include "session/names.h"
#include "session/place.h"
#include "session/renamed.h"
#include "session/root.h"
#include "session/service.h"
#include "session/state.h"
#include "session/stream.h"

/* Stops recording. on_demand: 1: stops only a session that prof_server.h has started; 0: only one of the program.
   Called under the control lock. */
static prof_status prof__stop_recording(int on_demand)
{
    if (prof__state.session && PROF__LOAD(&prof__state.running)) prof__names_look(prof__state.session);
    if (!prof__on_demand == !on_demand) prof__beside_end(1); /* also after the service has ended the recording */
    uint32_t write_lock = prof__state_lock();
    int running = !prof__on_demand == !on_demand && (prof__state.running || prof__state.ended);
#ifndef PROF_FREESTANDING
    if (on_demand) PROF__STORE(&prof__on_demand, NULL);
#endif
    if (running && prof__state.running) prof__recording_ends();
    if (running) prof__state.ended = 0;
    prof__state_unlock(write_lock);
    return running ? PROF_OK : prof__fail(PROF_INVALID_STATE, "no session is running");
}

/* Does the work of prof_stop(). Called under the control lock. */
static prof_status prof__stop_locked(void)
{
    prof_status status = prof__stop_recording(0);
#ifdef PROF_FREESTANDING
    if (!status) prof__crash_remove();
#else
    int stopped = !status;
    if (stopped) status = prof__inherited_end();
    prof__session *s = status ? NULL : prof__state.session;
    if (s) prof__service_stop(s); /* before the next line: its threads may touch what another program truncated */
    if (stopped) prof__crash_remove();
    if (s) prof__reader()->save_disarm();
    if (s && s->file.output[0] && PROF__SIDECAR(s->file.live_path != s->file.output) && !s->file.written)
        status = prof__output_write(s);
    if (s && PROF__SIDECAR(s->file.live_path && s->file.live_path != s->file.output))
        status = prof__in_folder(s, prof__file_finish, status);
    else if (s && s->file.live_path)
        status = prof__file_finish(s, status);
    if (s && s->file.live_path && !status) status = prof__stream_told(s->file.output);
    if (s && status) prof__path_unclaim(s);
#endif
    PROF__BRIDGE_STOP();
    return status;
}

PROF_DEF prof_status prof_stop(void)
{
    PROF__FORWARD(prof_stop, ());
    prof__control_lock();
    prof_status status = prof__stop_locked();
    prof__control_unlock();
    return status;
}

#ifndef PROF_FREESTANDING
/* Writes the output if the program ends without prof_stop(). Runs after the destructors of the program's own objects,
   which may have scopes or call prof_stop(), and before the writers are removed. Does nothing if another thread is
   inside a control function, rather than wait for it. */
PROF__AT_END(102, prof__exit_stop);
static void prof__exit_stop(void)
{
    PROF__CALM();
    prof__child_check();
    if (!prof__is_whole() || !prof__lock_try(&prof__control_word)) return;
    const prof__session *s = NULL;
    if (!prof__on_demand && prof__session_phase())
        s = prof__state.session ? prof__state.session : prof__state.inherited;
    if (s && s->file.output[0] && prof__stop_locked()) fprintf(stderr, "prof: %s\n", prof_error());
    prof__unlock(&prof__control_word);
}
#endif

PROF_DEF prof_status prof_reset(void)
{
    PROF__FORWARD(prof_reset, ());
    prof__control_lock();
    prof_status status = PROF_OK;
    if (!prof__on_demand && prof__session_phase())
        status = prof__fail(PROF_INVALID_STATE, "the session is running: call prof_stop() first");
    else
        prof__sessions_reap(!prof__on_demand);
    prof__control_unlock();
    return status;
}

/* Adds step to the number of pauses: 1 pauses, -1 resumes. Recording goes on when no pause is left. */
static prof_status prof__pause_by(int step)
{
    PROF__FORWARD(prof__pause_by, (step));
    prof_status status = PROF_OK;
    uint32_t write_lock = prof__state_lock();
    if (!prof__state.running && !prof__state.ended) {
        status = prof__fail(PROF_INVALID_STATE, "no session is running");
    } else if (prof__state.paused + step < 0) {
        status = prof__fail(PROF_INVALID_STATE, "prof_resume() was called more often than prof_pause()");
    } else {
        PROF__STORE(&prof__state.paused, prof__state.paused + step);
        prof__next_config_version();
    }
    prof__state_unlock(write_lock);
    PROF__BRIDGE_PAUSE();
    return status;
}
PROF_DEF prof_status prof_pause(void) { return prof__pause_by(1); }
PROF_DEF prof_status prof_resume(void) { return prof__pause_by(-1); }

#endif /* PROF__SESSION_STOP_H */
