// record/fiber: Names of threads; and fibers, whose tracks move from thread to thread.
#ifndef PROF__RECORD_FIBER_H
#define PROF__RECORD_FIBER_H
#include "api/control.h"
#include "api/markup.h"
#include "ground/instances.h"
#include "ground/lock.h"
#include "ground/signals.h"
#include "ground/threads.h"
#include "record/bridge.h"
#include "record/locks.h"
#include "record/unscoped_slots.h"
#include "record/ring.h"
#include "record/schedule.h"
#include "record/scope.h"
#include "record/self.h"
#include "record/state.h"
#include "record/thread.h"
#include "record/track.h"

/* Sets the name of a track. A long name is cut between UTF-8 characters. NULL counts as "". */
static void prof__track_name(prof_fiber *track, const char *name)
{
    size_t length = name ? prof__length(name) : 0;
    if (length > sizeof track->name - 1) {
        length = sizeof track->name - 1;
        while (length && ((unsigned char)name[length] & 0xc0) == 0x80) --length;
    }
    if (name) prof__copy(track->name, name, length);
    track->name[length] = 0;
    track->name_id = PROF__NAME_NEW;
}

PROF_DEF void prof_set_thread_name(const char *name)
{
    PROF__SELF_OR(PROF__FORWARD_VOID(prof_set_thread_name, (name)));
    prof__track_name(&self->own, name);
    PROF__BRIDGE_THREAD(name);
    if (self->fiber || !self->session || !prof__enter_slow(self, NULL, prof__enter_write(self), PROF__LOSS_EVENT))
        return;
    if (self->own.name_id != PROF__NAME_NEW) { /* the session did not know the track: it has the new name now */
        prof__leave(self);
        return;
    }
    prof__signals signals;
    PROF__ERRNO_SAVE();
    if (prof__lock_enter(&prof__lock_word, &signals)) {
        prof__track_know(self);
        prof__lock_leave(&prof__lock_word, &signals);
        if (self->soft && self->free_words < 3 + 2) prof__chunk_widen(self, 3 + 2);
        if (self->free_words >= 3 + 2)
            prof__track_write(self);
        else
            prof__chunk_next(self, 3); /* a new chunk begins with a TRACK record */
    } else {
        prof__lose_busy(self, PROF__LOSS_EVENT);
    }
    PROF__ERRNO_RESTORE();
    prof__leave(self);
}

#ifdef PROF_FREESTANDING
PROF_DEF void prof_cpu_state_end(void *state)
{
    prof__thread *self = (prof__thread *)state;
    uint32_t write_lock = prof__state_lock();
    const prof__session *s = prof__state.session;
    if (s && self->session && self->session_id == s->session_id) prof__give_back(self);
    prof__clear(self, sizeof *self / 8 * 8);
    prof__state_unlock(write_lock);
}
#endif

/*-- fibers --*/

PROF_DEF prof_fiber *prof_fiber_init(void *memory, const char *name)
{
    prof_fiber *fiber = (prof_fiber *)memory;
    if (!fiber) return NULL;
    prof__clear(fiber, sizeof *fiber);
    fiber->is_fiber = 1;
    prof__track_name(fiber, name);
    return fiber;
}

#ifndef PROF_FREESTANDING
PROF_DEF prof_fiber *prof_fiber_create(const char *name)
{
    return prof_fiber_init(malloc(sizeof(prof_fiber)), name);
}

PROF_DEF void prof_fiber_destroy(prof_fiber *fiber)
{
    PROF__FORWARD_VOID(prof_fiber_destroy, (fiber));
    if (fiber && PROF__SELF()->fiber == fiber) prof_fiber_switch(NULL);
    PROF__BRIDGE_FORGET(PROF__SELF(), fiber);
    if (fiber) prof__unscoped_release(fiber);
    free(fiber);
}
#endif

/* Moves the off-scope markers to the thread's new track, see >>off_scope: those of the old track stay with it. */
static PROF__COLD void prof__off_scope_switch(prof__thread *self, prof_fiber *to)
{
    prof__track_of(self)->off_scope_marker = self->off_scope.marker;
    self->off_scope.marker = to->session_id == PROF__LOAD(&prof__state.session_id) ? to->off_scope_marker : 0;
    self->off_scope.slot = to->off_scope_marker = 0;
}

static inline void prof__off_scope_move(prof__thread *self, prof_fiber *to)
{
    if (!PROF__MINIMAL && PROF__UNLIKELY(self->off_scope.marker | to->off_scope_marker))
        prof__off_scope_switch(self, to);
}

/* Makes a thread record on the track of a fiber, or on its own track if fiber is NULL. If the thread is not synced to
   the config version, or the session does not know the track, only closes the fast path: the next macro enters the
   track, in prof__resolve_site(). During a pause it always does this, so that no record is written in vain. Does
   nothing in a signal handler that interrupted a macro. */
PROF_DEF void prof_fiber_switch(prof_fiber *fiber)
{
    PROF__SELF_OR(PROF__FORWARD_VOID(prof_fiber_switch, (fiber)));
    if (fiber == self->fiber || prof__enter_write(self) == PROF__BUSY) return;
    if (prof__stale(self)) self->entered = 0;
    prof__track_leave(self);
    prof_fiber *to = fiber ? fiber : &self->own;
    prof__off_scope_move(self, to);
    self->fiber = fiber;
    if (PROF__LIKELY(self->session && self->synced_version == PROF__LOAD(prof__config_version) &&
                     prof__track_known(self, to) && !prof__sites_rest())) {
        prof__track_enter(self);
    } else {
        self->synced_version = 0;
        self->open = PROF__SHUT;
    }
    PROF__BARRIER();
    self->write_lock = self->open;
    PROF__BRIDGE_SWITCH(self);
}

#endif /* PROF__RECORD_FIBER_H */
