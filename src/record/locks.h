// record/locks: The locks of control functions: of the state, which macros take, too, and of a whole start or stop.
#ifndef PROF__RECORD_LOCKS_H
#define PROF__RECORD_LOCKS_H
#include "ground/lock.h"
#include "ground/numbers.h"
#include "ground/signals.h"
#include "record/self.h"
#include "record/state.h"
#include "record/thread.h"

/* Makes the thread of a control function busy while it holds the lock, so that a signal handler with a scope in it does
   not wait for the lock. */
#ifdef PROF_FREESTANDING
static prof__signals prof__state_interrupts; /* under the lock */

/* Keeps interrupts off while the lock is held: they have states of their own, and would wait for the lock that they
   interrupt. No gate is closed: without PROF_INTERRUPTS_OFF() the caller may be moved to another processor meanwhile,
   whose gate is not ours, and the one that it left may be in a macro. The macros of an interrupt then give up after
   PROF__PATIENCE. */
static uint32_t prof__state_lock(void)
{
    prof__signals signals;
    prof__signals_block(&signals);
    prof__lock(&prof__lock_word);
    prof__state_interrupts = signals;
    return PROF__BUSY;
}

static void prof__state_unlock(uint32_t gate)
{
    prof__signals signals = prof__state_interrupts;
    (void)gate;
    prof__unlock(&prof__lock_word);
    prof__signals_restore(&signals);
}
#else
static uint32_t prof__state_lock(void)
{
    uint32_t gate = prof__take(PROF__SELF());
    prof__generation_look();
    prof__lock(&prof__change_word);
    prof__lock(&prof__lock_word);
    return gate;
}

static void prof__state_unlock(uint32_t gate)
{
    prof__unlock(&prof__lock_word);
    prof__unlock(&prof__change_word);
    prof__untake(PROF__SELF(), gate);
}
#endif

/* The lock of the control functions. */
static int prof__control_cancel; /* under this lock: the cancelability to restore */
static prof__fpu prof__control_before; /* and how the thread computed: see prof__calm_enter() */
static void prof__control_lock(void)
{
    prof__generation_look();
    int before = prof__lock_steady(&prof__control_word);
    prof__control_cancel = before;
    prof__control_before = prof__calm_enter();
}
static void prof__control_unlock(void)
{
    prof__calm_leave(&prof__control_before);
    prof__unlock_steady(&prof__control_word, prof__control_cancel);
}

#endif /* PROF__RECORD_LOCKS_H */
