// record/locks: The locks of control functions: the state's lock, which macros take as well, and the control lock,
// which covers a whole start or stop.
#ifndef PROF__RECORD_LOCKS_H
#define PROF__RECORD_LOCKS_H
#include "ground/lock.h"
#include "ground/numbers.h"
#include "ground/signals.h"
#include "record/self.h"
#include "record/state.h"
#include "record/thread.h"

/* prof__state_lock() also takes the thread's write lock: a signal handler with a scope then gives up at once, instead
   of waiting for a lock that its own thread holds. */
#ifdef PROF_FREESTANDING
static prof__signals prof__state_interrupts; /* changes under prof__lock_word */

/* Keeps interrupts off while the lock is held: an interrupt has a state of its own, and would wait for the lock that it
   interrupted. Takes no write lock: without PROF_INTERRUPTS_OFF() the caller may be moved to another processor
   meanwhile, which has another write lock, and the processor that it left may be in a macro. Then macros of an
   interrupt give up after PROF__PATIENCE. */
static uint32_t prof__state_lock(void)
{
    prof__signals signals;
    prof__signals_block(&signals);
    prof__lock(&prof__lock_word);
    prof__state_interrupts = signals;
    return PROF__BUSY;
}

static void prof__state_unlock(uint32_t write_lock)
{
    prof__signals signals = prof__state_interrupts;
    (void)write_lock;
    prof__unlock(&prof__lock_word);
    prof__signals_restore(&signals);
}
#else
static uint32_t prof__state_lock(void)
{
    uint32_t write_lock = prof__enter_write(PROF__SELF());
    prof__child_check();
    prof__lock(&prof__change_word);
    prof__lock(&prof__lock_word);
    return write_lock;
}

static void prof__state_unlock(uint32_t write_lock)
{
    prof__unlock(&prof__lock_word);
    prof__unlock(&prof__change_word);
    prof__leave_write(PROF__SELF(), write_lock);
}
#endif

/* The control lock: one control function at a time. */
static int prof__control_cancel; /* under the control lock: the thread's cancel state before */
static prof__fpu prof__control_before; /* under it, too: the thread's floating-point environment before */
static void prof__control_lock(void)
{
    prof__child_check();
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
