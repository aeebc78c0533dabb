// ground/lock: Locks, and waiting for a word to change. A macro gives up if it cannot take a lock for long; a control
// function waits. docs/internals/architecture.md has the order of the locks.
#ifndef PROF__GROUND_LOCK_H
#define PROF__GROUND_LOCK_H
#include "ground/signals.h"
#include "ground/threads.h"

/* prof__lock_word guards rare changes of the recorder's state: a new call site, a new thread. A macro that cannot take
   it within some tenths of a second gives up: it loses an event, but does not hang the program. Control functions wait.
   They take prof__change_word first and hold it around prof__lock_word. A fork, which can take long, holds
   prof__change_word: that keeps the state consistent, and macros do not wait for it. */
static int prof__lock_word, prof__control_word;
#ifndef PROF_FREESTANDING
static int prof__change_word;
#endif

#define PROF__PATIENCE 5000 /* attempts, together some tenths of a second */

/* How many attempts a macro makes. In a freestanding build an attempt is short. There a macro makes 1000 times as many
   if interrupts are off while a lock is held, so the owner runs on another processor; and a single one if
   PROF_MAY_WAIT() says that it must not wait. */
#ifdef PROF_FREESTANDING
#ifndef PROF_MAY_WAIT
#define PROF_MAY_WAIT() 1
#endif
static PROF__INLINED int prof__may_wait(void) { return PROF_MAY_WAIT() != 0; }
#ifdef PROF__INTERRUPTS_COME
#define PROF__MACRO_PATIENCE() (prof__may_wait() ? PROF__PATIENCE : 1)
#else
#define PROF__MACRO_PATIENCE() (prof__may_wait() ? 1000 * PROF__PATIENCE : 1)
#endif
#else
#define PROF__MACRO_PATIENCE() PROF__PATIENCE
#endif

/* Tries once to take a lock. Its values: 0 free, 1 taken, 2 taken and threads may be asleep until it is free. A thread
   that has slept takes it with 2, because others may still sleep. */
static int prof__lock_take(int *lock, int slept)
{
    int taken = 0;
    if (slept) return !__atomic_exchange_n(lock, 2, __ATOMIC_ACQUIRE);
    return __atomic_compare_exchange_n(lock, &taken, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

#ifdef PROF__FUTEX
static uint32_t prof__lock_turns; /* counts releases of all locks; if it does not change, an owner may be stuck */

/* Sleeps while the lock is 2, at most a tenth of a second: a thread that was woken may leave by siglongjmp() from a
   signal handler before it takes the lock, and then nobody wakes the next one. Returns how many attempts of
   PROF__PATIENCE the sleep counts as. These are few if a lock was released meanwhile: then the owners make progress,
   and only the machine is overloaded. (Polling instead of sleeping is not an option: thousands of threads that looked
   every 20 us kept two processors from all other work.) */
static int prof__lock_sleep(int *lock, int spent)
{
    uint32_t turns = PROF__LOAD(&prof__lock_turns);
    (void)spent;
    struct { long seconds, ns; } time = {0, 100000000}; /* the kernel's timespec */
    PROF__ERRNO_SAVE();
    int late = syscall(SYS_futex, lock, 0 | 128, 2, &time, NULL, 0) && errno == ETIMEDOUT; /* FUTEX_WAIT, private */
    PROF__ERRNO_RESTORE();
    return !late ? 1 : PROF__LOAD(&prof__lock_turns) == turns ? PROF__PATIENCE / 5 : PROF__PATIENCE / 50;
}
static void prof__unlock(int *lock)
{
    __atomic_store_n(&prof__lock_turns, PROF__LOAD(&prof__lock_turns) + 1, __ATOMIC_RELAXED);
    if (__atomic_exchange_n(lock, 0, __ATOMIC_RELEASE) == 2)
        syscall(SYS_futex, lock, 1 | 128, 1, NULL, NULL, 0); /* FUTEX_WAKE, private */
}
#else
/* Without a futex a thread polls. On Windows prof__wait() returns at once if no other thread is ready to run, and never
   lets a thread of lower priority run. So after 1000 attempts the thread sleeps for a millisecond, which counts as
   20. */
static int prof__lock_sleep(int *lock, int spent)
{
    (void)lock;
#if defined(_WIN32) && !defined(PROF_FREESTANDING)
    if (spent > 1000) {
        Sleep(1);
        return 20;
    }
#else
    (void)spent;
#endif
    prof__wait();
    return 1;
}
static void prof__unlock(int *lock) { __atomic_store_n(lock, 0, __ATOMIC_RELEASE); }
#endif

/* Takes a lock. Returns 0 after PROF__PATIENCE attempts. */
static int prof__lock_try(int *lock)
{
    for (int spent = 0; spent < PROF__PATIENCE;) {
        int slept = spent > 100;
        if (prof__lock_take(lock, slept)) return 1;
        spent += slept ? prof__lock_sleep(lock, spent) : 1;
    }
    return 0;
}

static void prof__lock(int *lock)
{
    while (!prof__lock_try(lock)) {
    }
}

/* Takes a lock for a macro, or returns 0 after PROF__MACRO_PATIENCE() attempts. Blocks signals until
   prof__lock_leave(): a handler could otherwise leave by siglongjmp() and keep the lock for ever. */
static int prof__lock_enter(int *lock, prof__signals *old)
{
    for (int spent = 0, patience = PROF__MACRO_PATIENCE(); spent < patience;) {
        int slept = spent > 100;
        if (slept || !PROF__LOAD(lock)) { /* no system calls to block signals while another thread has the lock */
            prof__signals_block(old);
            if (prof__lock_take(lock, slept)) return 1;
            prof__signals_restore(old);
        }
        spent += slept ? prof__lock_sleep(lock, spent) : 1;
    }
    return 0;
}

static void prof__lock_leave(int *lock, const prof__signals *old)
{
    prof__unlock(lock);
    prof__signals_restore(old);
}

/* Takes a lock around file input and output, and disables cancellation of the thread meanwhile. What the thread waits
   for until it releases the lock is not the program's (PROF_WRAP_WAITS). Pass the result of prof__lock_steady() to
   prof__unlock_steady(). */
#if defined(PROF_FREESTANDING) || defined(_WIN32)
static int prof__lock_steady(int *lock)
{
    prof__lock(lock);
    return 0;
}
static void prof__unlock_steady(int *lock, int before)
{
    (void)before;
    prof__unlock(lock);
}
#else
static int prof__lock_steady(int *lock)
{
    int before = prof__cancel_disable();
    PROF__OWN_BEGINS();
    prof__lock(lock);
    return before;
}
static void prof__unlock_steady(int *lock, int before)
{
    prof__unlock(lock);
    PROF__OWN_ENDS();
    prof__cancel_restore(before);
}
#endif

#ifndef PROF_FREESTANDING
/* Sleeps until *word differs from value, at most ns nanoseconds. May return early without a reason. */
static void prof__word_wait(uint32_t *word, uint32_t value, uint64_t ns)
{
#ifdef PROF__FUTEX
    /* the kernel's own layout */
    struct { long seconds, ns; } time = {(long)(ns / 1000000000u), (long)(ns % 1000000000u)};
    syscall(SYS_futex, word, 0 | 128, value, &time, NULL, 0); /* FUTEX_WAIT, private */
#else
    for (uint64_t slept = 0; slept < ns && PROF__ACQUIRE(word) == value; slept += 5000000) {
        uint64_t slice = ns - slept < 5000000 ? ns - slept : 5000000;
#ifdef _WIN32
        Sleep((DWORD)((slice + 999999) / 1000000));
#else
        struct timespec moment = {0, (long)slice};
        nanosleep(&moment, NULL);
#endif
    }
#endif
}

/* Adds 1 to *word and wakes at most count threads that wait for its change. Async-signal-safe. */
static void prof__word_wake_some(uint32_t *word, int count)
{
    __atomic_fetch_add(word, 1, __ATOMIC_RELEASE);
#ifdef PROF__FUTEX
    PROF__ERRNO_SAVE();
    syscall(SYS_futex, word, 1 | 128, count, NULL, NULL, 0); /* FUTEX_WAKE, private */
    PROF__ERRNO_RESTORE();
#else
    (void)count;
#endif
}
static void prof__word_wake(uint32_t *word) { prof__word_wake_some(word, 0x7fffffff); }
#endif

#endif /* PROF__GROUND_LOCK_H */
