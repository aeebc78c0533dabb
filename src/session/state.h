// session/state: Makes and frees sessions. A session is freed only when no thread can point to it any more.
#ifndef PROF__SESSION_STATE_H
#define PROF__SESSION_STATE_H
#include "ground/instances.h"
#include "image/format.h"
#include "image/pair.h"
#include "record/locks.h"
#include "record/ring.h"
#include "record/self.h"
#include "record/state.h"
#include "record/thread.h"
#include "record/track.h"
#include "session/file.h"
#include "session/hooks.h"
#include "session/memory.h"
#include "session/root.h"

/*-- SESSION -------------------------------------------------------------------------------------------- >>session --*/

/* Returns PROF__RUNS if a session runs, PROF__ENDED if one has ended by itself, else 0. The service ends a session
   under the state lock alone. So holding the control lock does not make the answer superfluous. */
enum { PROF__ENDED = 1, PROF__RUNS };
static int prof__session_phase(void)
{
    uint32_t write_lock = prof__state_lock();
    int phase = prof__state.running ? PROF__RUNS : prof__state.ended ? PROF__ENDED : 0;
    prof__state_unlock(write_lock);
    return phase;
}

/* Ends recording and keeps the image. Called under the state lock. */
static void prof__recording_ends(void)
{
    PROF__STORE(&prof__state.running, 0);
    prof__next_config_version();
    if (prof__state.session) {
        prof__header *h = prof__state.session->header;
        prof__pair_take_well(h->clock, h->tick_hz, &h->last);
        prof__lost_collect(prof__state.session);
        PROF__RELEASE(&h->state, (uint32_t)PROF__STOPPED);
    }
}

#ifdef PROF_TINY /* PROF_TINY has no signal handlers to recover from */
static void prof__recover(void) {}
#else
/* Repairs a thread that holds its write lock although it runs ordinary code: a signal handler interrupted a macro and
   left with siglongjmp(). Gives up that macro's event and the thread's chunk. Called while no session runs. */
static void prof__recover(void)
{
    prof__thread *self = PROF__SELF();
    if (self->write_lock != PROF__BUSY || self->exits >= PROF__EXITS) return;
    /* Switches of fibers were ignored meanwhile: the fiber may be destroyed, or run on another thread. */
    self->fiber = NULL;
    prof__track_of(self)->reserved_ends = 0;
    prof__filled_finish(self);
    if (self->chunk) PROF__RELEASE(&self->chunk->state, (uint32_t)PROF__CHUNK_FULL);
    prof__detach(self);
    self->synced_version = 0;
    self->open = PROF__SHUT;
    prof__leave(self);
}
#endif

#ifdef PROF_FREESTANDING
/* There is one image at a time, in the user's memory, and no memory for a second session. */
static prof__session prof__only_session;
static prof__session *prof__session_new(void)
{
    prof__clear(&prof__only_session, sizeof prof__only_session);
    return &prof__only_session;
}
static void prof__session_delete(prof__session *s) { (void)s; }
#else
static prof__session *prof__session_new(void) { return (prof__session *)calloc(1, sizeof(prof__session)); }
static void prof__session_delete(prof__session *s)
{
    prof__stream_close(s);
    prof__folder_drop(s);
    prof__memory_free(s);
    prof__reader()->follow_free(s->follow);
    free(s);
}
#endif

#ifdef PROF_FREESTANDING
/* Ends the one session. Threads notice that by its session id. */
static void prof__sessions_reap(int present)
{
    uint32_t write_lock = prof__state_lock();
    prof__thread *self = PROF__SELF();
    if (present && self->session) prof__detach(self);
    if (present) prof__state.session = NULL;
    prof__state_unlock(write_lock);
}
#else
/* Deletes the sessions that no thread points to any more. present: 1: also retires the current session. Called under
   the control lock. */
static void prof__sessions_reap(int present)
{
    uint32_t write_lock = prof__state_lock();
    prof__thread *self = PROF__SELF();
    prof__session *s = prof__state.session;
    int retire = present && s && !s->readers;
    if (present && s) {
        if (self->session == s) prof__detach(self);
        prof__state.session = NULL;
        s->next = prof__state.retired;
        prof__state.retired = s;
    }
    prof__session *dead = NULL, **link = &prof__state.retired;
    while (*link) {
        prof__session *each = *link;
        if (__atomic_load_n(&each->attached, __ATOMIC_ACQUIRE)) {
            link = &each->next;
        } else {
            *link = each->next;
            each->next = dead;
            dead = each;
        }
    }
    prof__state_unlock(write_lock);
#ifdef PROF__THREAD_SANITIZER /* not with ThreadSanitizer: replacing the pages would be reported as a data race */
    retire = 0;
#endif
    if (retire && prof__state.retired == s) prof__memory_retire(s);
    while (dead) {
        prof__session *next = dead->next;
        prof__session_delete(dead);
        dead = next;
    }
}
#endif

#ifndef PROF_FREESTANDING
/* A function that saves more data when a trigger saves the recording; prof_ntff.h sets it. NULL: none. */
static prof_status (*prof__saved_hook)(void);
static void prof__saved_with(prof_status (*hook)(void))
{
    PROF__FORWARD_VOID(prof__saved_with, (hook));
    PROF__RELEASE(&prof__saved_hook, hook);
}
#endif

#endif /* PROF__SESSION_STATE_H */
