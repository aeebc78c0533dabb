// waits/locks: Wrappers of mutexes, read-write locks, condition variables, semaphores and joins.
#ifndef PROF__WAITS_LOCKS_H
#define PROF__WAITS_LOCKS_H
#include "api/markup.h"
#include "record/event.h"
#include "waits/real.h"
#include "waits/record.h"
#include "waits/wake.h"

#ifdef PROF__WRAPS_WAITS
/*-- locks whose acquire was recorded: their release is recorded as well --*/

/* Returns the place of a lock in the list of those, or -1. */
static int prof__held_find(const void *lock)
{
    uint32_t at = prof__waiting_here.held_count;
    while (at--)
        if (prof__waiting_here.held[at].address == (uintptr_t)lock) return (int)at;
    return -1;
}

static void prof__held_add(const void *lock)
{
    prof__waiting *here = &prof__waiting_here;
    int at = prof__held_find(lock);
    if (at < 0) {
        if (here->held_count == sizeof here->held / sizeof *here->held) return; /* the hold has no end then */
        at = (int)here->held_count++;
        here->held[at].address = (uintptr_t)lock;
        here->held[at].depth = 0;
    }
    here->held[at].depth++;
}

/* Called when a lock was free. It may be a recursive one, which the thread had. */
static inline void prof__held_again(const void *lock)
{
    if (PROF__UNLIKELY(prof__waiting_here.held_count) && prof__held_find(lock) >= 0) prof__held_add(lock);
}

/* Called before a lock is released. */
static void prof__held_end(prof_site *site, const void *lock)
{
    prof__waiting *here = &prof__waiting_here;
    int at = prof__held_find(lock);
    if (at < 0 || --here->held[at].depth) return;
    here->held[at] = here->held[--here->held_count];
    if (prof__on(site) && !prof__wait_must_not(PROF__SELF()))
        prof__event(site, PROF_EVENT_LOCK_RELEASE, 0, (uint64_t)(uintptr_t)lock);
}

static inline void prof__unlocks(prof_site *site, const void *lock, uint32_t for_all)
{
    if (PROF__UNLIKELY(prof__waiting_here.held_count)) prof__held_end(site, lock);
    prof__wake(PROF__WAKE_LOCK, lock, for_all);
}

/*-- locks: the wrapper tries the lock, and looks at the clock only if another thread has it --*/

PROF__WAIT_SITE(prof__site_of_mutex, "mutex", EVENT, LOCK);
PROF__WAIT_SITE(prof__site_of_rwlock, "rwlock", EVENT, LOCK);

/* Returns the thread that has a lock which another thread could not get; 0: not known. It may just have taken it, and
   not be noted yet. */
static uint32_t prof__lock_holder(const prof_site *of, const void *lock)
{
    uint32_t holder = 0, self = prof__wait_thread();
    for (int i = 0; i < 100 && (!holder || holder == self); ++i)
        holder = of == &prof__site_of_mutex ? prof__holder_of_mutex(lock) : prof__holder_of_rwlock(lock);
    return holder == self ? 0 : holder;
}

static int prof__lock_begin(prof__waited *wait, prof_site *site, prof_site *of, const void *lock)
{
    if (!prof__wait_begin(wait, site)) return 0;
    prof__wait_for(wait, "lock", PROF_VALUE_POINTER, (uint64_t)(uintptr_t)lock);
    wait->lock = of;
    wait->holder = prof__lock_holder(of, lock);
    prof__waiter_enter(PROF__WAKE_LOCK, (uintptr_t)lock, wait->began, wait->enough, wait->counter);
    return 1;
}

static void prof__lock_end(prof__waited *wait, const void *lock, int result)
{
    int acquired = !result || result == EOWNERDEAD;
    wait->arrow = prof__waiter_woken();
    if (!acquired) wait->arrow = 0;
    if (result == EDEADLK || result == EINVAL || result == EAGAIN) { /* it did not wait, however long this took */
        prof__wait_inside(NULL);
        return;
    }
    if (prof__wait_end(wait, acquired) && acquired) prof__held_add(lock);
}

/* name, try_name: the function that waits for a lock, and the one that does not, which returns `busy`. */
#define PROF__WAIT_LOCK(name, try_name, busy, of, params, args)                                                        \
    PROF__WAIT_WRAPPER(int, name, params)                                                                              \
    {                                                                                                                  \
        int result = prof__real_##try_name()(lock);                                                                    \
        if (PROF__LIKELY(result != (busy))) {                                                                          \
            if (!result) prof__holder_note(lock);                                                                      \
            prof__held_again(lock);                                                                                    \
            return result;                                                                                             \
        }                                                                                                              \
        PROF__WAIT_SITE(site, #name, BEGIN, WAIT);                                                                     \
        prof__waited wait;                                                                                             \
        int begun = prof__lock_begin(&wait, &site, of, lock);                                                          \
        result = prof__real_##name() args;                                                                             \
        if (!result) prof__holder_note(lock);                                                                          \
        if (begun) prof__lock_end(&wait, lock, result);                                                                \
        return result;                                                                                                 \
    }
#define PROF__WAIT_UNLOCK(name, of, for_all)                                                                           \
    PROF__WAIT_WRAPPER(int, name, (void *lock))                                                                        \
    {                                                                                                                  \
        prof__unlocks(of, lock, for_all);                                                                              \
        return prof__real_##name()(lock);                                                                              \
    }
#if defined(__GLIBC__) && PROF_WRAP_WAITS + 0 != 2
#define PROF__WAIT_TRY(name) PROF__WAIT_PLAIN(int, name, (void *lock)) /* the holder need not be noted */
#else
#define PROF__WAIT_TRY(name)                                                                                           \
    PROF__WAIT_WRAPPER(int, name, (void *lock))                                                                        \
    {                                                                                                                  \
        int result = prof__real_##name()(lock);                                                                        \
        if (!result) prof__holder_note(lock);                                                                          \
        return result;                                                                                                 \
    }
#endif
#if PROF__GLIBC >= 230
#define PROF__WAIT_CLOCKS 1 /* functions that wait by a given clock */
#endif

PROF__WAIT_TRY(pthread_mutex_trylock)
PROF__WAIT_LOCK(pthread_mutex_lock, pthread_mutex_trylock, EBUSY, &prof__site_of_mutex, (void *lock), (lock))
PROF__WAIT_LOCK(pthread_mutex_timedlock, pthread_mutex_trylock, EBUSY, &prof__site_of_mutex,
                (void *lock, const void *time), (lock, time))
PROF__WAIT_UNLOCK(pthread_mutex_unlock, &prof__site_of_mutex, 0)

PROF__WAIT_TRY(pthread_rwlock_tryrdlock)
PROF__WAIT_TRY(pthread_rwlock_trywrlock)
PROF__WAIT_LOCK(pthread_rwlock_rdlock, pthread_rwlock_tryrdlock, EBUSY, &prof__site_of_rwlock, (void *lock), (lock))
PROF__WAIT_LOCK(pthread_rwlock_wrlock, pthread_rwlock_trywrlock, EBUSY, &prof__site_of_rwlock, (void *lock), (lock))
PROF__WAIT_LOCK(pthread_rwlock_timedrdlock, pthread_rwlock_tryrdlock, EBUSY, &prof__site_of_rwlock,
                (void *lock, const void *time), (lock, time))
PROF__WAIT_LOCK(pthread_rwlock_timedwrlock, pthread_rwlock_trywrlock, EBUSY, &prof__site_of_rwlock,
                (void *lock, const void *time), (lock, time))
PROF__WAIT_UNLOCK(pthread_rwlock_unlock, &prof__site_of_rwlock, PROF__ARROW_FOR_ALL)

#ifdef PROF__WAIT_CLOCKS
PROF__WAIT_LOCK(pthread_mutex_clocklock, pthread_mutex_trylock, EBUSY, &prof__site_of_mutex,
                (void *lock, int clock, const void *time), (lock, clock, time))
PROF__WAIT_LOCK(pthread_rwlock_clockrdlock, pthread_rwlock_tryrdlock, EBUSY, &prof__site_of_rwlock,
                (void *lock, int clock, const void *time), (lock, clock, time))
PROF__WAIT_LOCK(pthread_rwlock_clockwrlock, pthread_rwlock_trywrlock, EBUSY, &prof__site_of_rwlock,
                (void *lock, int clock, const void *time), (lock, clock, time))
#endif

/* The mutexes of C11. */
#if !PROF__GLIBC || PROF__GLIBC >= 228
#define PROF__WAIT_C11 1
#define PROF__C11_BUSY 1 /* thrd_busy */
PROF__WAIT_TRY(mtx_trylock)
PROF__WAIT_LOCK(mtx_lock, mtx_trylock, PROF__C11_BUSY, &prof__site_of_mutex, (void *lock), (lock))
PROF__WAIT_LOCK(mtx_timedlock, mtx_trylock, PROF__C11_BUSY, &prof__site_of_mutex, (void *lock, const void *time),
                (lock, time))
PROF__WAIT_UNLOCK(mtx_unlock, &prof__site_of_mutex, 0)
#endif

/*-- conditions and semaphores: these calls wait nearly always --*/

static int prof__signal_begin(prof__waited *wait, prof_site *site, const char *key, const void *object)
{
    if (!prof__wait_begin(wait, site)) return 0;
    prof__wait_for(wait, key, PROF_VALUE_POINTER, (uint64_t)(uintptr_t)object);
    prof__waiter_enter(PROF__WAKE_SIGNAL, (uintptr_t)object, wait->began, wait->enough, wait->counter);
    return 1;
}

static void prof__signal_end(prof__waited *wait, int woken)
{
    wait->arrow = prof__waiter_woken();
    if (!woken) wait->arrow = 0;
    prof__wait_end(wait, 0);
}

/* The thread is cancelled in the call. */
static void prof__signal_cancelled(void *wait) { prof__signal_end((prof__waited *)wait, 0); }

/* Calls the function, between begin and end of the wait. */
#define PROF__WAIT_SIGNAL(result, name, args)                                                                          \
    pthread_cleanup_push(prof__signal_cancelled, &wait);                                                               \
    result = prof__real_##name() args;                                                                                 \
    pthread_cleanup_pop(0);                                                                                            \
    prof__signal_end(&wait, !result)

#define PROF__WAIT_CONDITION(name, params, args)                                                                       \
    PROF__WAIT_WRAPPER(int, name, params)                                                                              \
    {                                                                                                                  \
        PROF__WAIT_SITE(site, #name, BEGIN, WAIT);                                                                     \
        prof__waited wait;                                                                                             \
        prof__unlocks(&prof__site_of_mutex, lock, 0); /* the condition does this */                                    \
        int result;                                                                                                    \
        if (prof__signal_begin(&wait, &site, "condition", condition)) {                                                \
            PROF__WAIT_SIGNAL(result, name, args);                                                                     \
        } else {                                                                                                       \
            result = prof__real_##name() args;                                                                         \
        }                                                                                                              \
        prof__holder_note(lock);                                                                                       \
        return result;                                                                                                 \
    }
#define PROF__WAIT_WAKER(name, for_all)                                                                                \
    PROF__WAIT_WRAPPER(int, name, (void *object))                                                                      \
    {                                                                                                                  \
        prof__wake(PROF__WAKE_SIGNAL, object, for_all);                                                                \
        return prof__real_##name()(object);                                                                            \
    }

PROF__WAIT_CONDITION(pthread_cond_wait, (void *condition, void *lock), (condition, lock))
PROF__WAIT_CONDITION(pthread_cond_timedwait, (void *condition, void *lock, const void *time), (condition, lock, time))
#ifdef PROF__WAIT_CLOCKS
PROF__WAIT_CONDITION(pthread_cond_clockwait, (void *condition, void *lock, int clock, const void *time),
                     (condition, lock, clock, time))
#endif
PROF__WAIT_WAKER(pthread_cond_signal, 0)
PROF__WAIT_WAKER(pthread_cond_broadcast, PROF__ARROW_FOR_ALL)
#ifdef PROF__WAIT_C11
PROF__WAIT_CONDITION(cnd_wait, (void *condition, void *lock), (condition, lock))
PROF__WAIT_CONDITION(cnd_timedwait, (void *condition, void *lock, const void *time), (condition, lock, time))
PROF__WAIT_WAKER(cnd_signal, 0)
PROF__WAIT_WAKER(cnd_broadcast, PROF__ARROW_FOR_ALL)
#endif

/* A semaphore that is above 0 is not tried first, because the call is a cancellation point even then. */
PROF__WAIT_PLAIN(int, sem_getvalue, (void *semaphore, int *value))
#define PROF__WAIT_SEMAPHORE(name, params, args)                                                                       \
    PROF__WAIT_WRAPPER(int, name, params)                                                                              \
    {                                                                                                                  \
        PROF__WAIT_SITE(site, #name, BEGIN, WAIT);                                                                     \
        prof__waited wait;                                                                                             \
        int value = 0, result;                                                                                         \
        prof__real_sem_getvalue()(semaphore, &value);                                                                  \
        if (value > 0 || !prof__signal_begin(&wait, &site, "semaphore", semaphore)) return prof__real_##name() args;   \
        PROF__WAIT_SIGNAL(result, name, args);                                                                         \
        return result;                                                                                                 \
    }
PROF__WAIT_SEMAPHORE(sem_wait, (void *semaphore), (semaphore))
PROF__WAIT_SEMAPHORE(sem_timedwait, (void *semaphore, const void *time), (semaphore, time))
#ifdef PROF__WAIT_CLOCKS
PROF__WAIT_SEMAPHORE(sem_clockwait, (void *semaphore, int clock, const void *time), (semaphore, clock, time))
#endif
PROF__WAIT_WAKER(sem_post, 0)
#endif /* PROF__WRAPS_WAITS */

#endif /* PROF__WAITS_LOCKS_H */
