// waits/wake: Who holds a lock, who waits for it, and arrows from the thread that wakes to the one that is woken.
#ifndef PROF__WAITS_WAKE_H
#define PROF__WAITS_WAKE_H
#include "ground/clock.h"
#include "record/event.h"
#include "record/self.h"
#include "waits/real.h"

#ifdef PROF__WRAPS_WAITS
/*-- WHO WAKES WHOM --
   A thread that begins to wait puts itself into a list, and counts itself in a table by the address of what it waits
   for. A thread that unlocks looks there: as long as nobody waits for an address with the same hash, that is all it
   does. Otherwise it looks for the address in the list. If a thread has waited there for long enough to be recorded, it
   records the begin of an arrow, and leaves the arrow's id in the list before it unlocks. The thread that gets the lock
   takes the id, and records the end of the arrow in its wait. No lock is taken for this, and a signal handler may come
   in between. So an entry may change its owner at any time: each owner begins with an id that no other had, and an id
   is only replaced if it is still the one that was found.
   Locks have a table apart from conditions, because threads may wait for these for hours, and many of them. */

#define PROF__WAITERS 128u      /* further threads that wait at the same time get no arrows */
#define PROF__WAIT_TABLE 1024u
enum { PROF__WAKE_LOCK, PROF__WAKE_SIGNAL };

/* A thread that waits. */
typedef struct prof__waiter {
    uint64_t enough;   /* the time from which on its wait is long enough to be recorded, in ticks */
    uint64_t ticks;    /* how long that is */
    uint32_t counter;  /* 1: the ticks are those of the counter, else those of CLOCK_MONOTONIC */
    uint32_t table;
    uint64_t arrow;    /* id * 4, + 1: for all who wait; or a number that no other had, + 2: none yet */
    uint64_t waker, woke_at; /* the thread of the arrow, and its time */
} prof__waiter;

static prof__waiter prof__waiters[PROF__WAITERS];
/* What each of them waits for; 0: the entry is free; 1: it is being filled. Apart from the rest, because a thread that
   unlocks looks at all of these. */
static uintptr_t prof__waits_for[PROF__WAITERS];
static uint32_t prof__wait_counts[2][PROF__WAIT_TABLE];
static uint64_t prof__wait_serial;

static inline uint32_t *prof__wait_count(uint32_t table, uintptr_t address)
{
    return &prof__wait_counts[table][(uint32_t)(address >> 3) * 0x9E3779B1u >> 22];
}

static uint64_t prof__wait_now(uint32_t counter) { return counter ? prof__counter() : prof__monotonic(); }

static uint32_t prof__wait_thread(void)
{
    if (!prof__waiting_here.thread_id) prof__waiting_here.thread_id = (uint32_t)prof__thread_id();
    return prof__waiting_here.thread_id;
}

/* Returns 1 if the thread must not record now: it runs prof's own code, or this is a signal handler that has
   interrupted a macro, or the thread ends. */
static inline int prof__wait_must_not(const prof__thread *self)
{
    return prof__waiting_here.own || self->impatient || PROF__LOAD(&self->write_lock) == PROF__BUSY;
}

#define PROF__ARROW_NONE 2u
#define PROF__ARROW_FOR_ALL 1u

static void prof__waiter_leave(prof__waiter *waiter)
{
    uint32_t table = waiter->table;
    uintptr_t address = __atomic_exchange_n(&prof__waits_for[waiter - prof__waiters], (uintptr_t)0, __ATOMIC_ACQ_REL);
    prof__waiting_here.waiter = NULL;
    if (address) __atomic_fetch_sub(prof__wait_count(table, address), 1u, __ATOMIC_RELAXED);
}

/* Puts the thread into the list. It may still be there, if a signal handler has left an earlier wait by
   siglongjmp(). */
static void prof__waiter_enter(uint32_t table, uintptr_t address, uint64_t began, uint64_t ticks, uint32_t counter)
{
    prof__waiter *waiter = NULL;
    uint32_t at = prof__wait_thread() % PROF__WAITERS;
    if (prof__waiting_here.waiter) prof__waiter_leave(prof__waiting_here.waiter);
    for (uint32_t i = 0; i < PROF__WAITERS && !waiter; ++i) {
        uintptr_t none = 0;
        if (i) at = (at + 1) % PROF__WAITERS;
        if (PROF__LOAD(&prof__waits_for[at])) continue;
        if (__atomic_compare_exchange_n(&prof__waits_for[at], &none, (uintptr_t)1, 0, __ATOMIC_ACQUIRE,
                                        __ATOMIC_RELAXED))
            waiter = &prof__waiters[at];
    }
    if (!waiter) return;
    waiter->enough = began + ticks;
    waiter->ticks = ticks;
    waiter->counter = counter;
    waiter->table = table;
    waiter->waker = waiter->woke_at = 0;
    PROF__STORE(&waiter->arrow, PROF__ADD(&prof__wait_serial, 4u) + 4 + PROF__ARROW_NONE);
    PROF__RELEASE(&prof__waits_for[at], address);
    prof__waiting_here.waiter = waiter;
    __atomic_fetch_add(prof__wait_count(table, address), 1u, __ATOMIC_SEQ_CST);
}

/* Takes the thread out of the list. Returns the id of the arrow that leads to it, or 0. An arrow that is not for all
   leads to nobody else then. */
static uint64_t prof__waiter_woken(void)
{
    prof__waiter *waiter = prof__waiting_here.waiter;
    if (!waiter) return 0;
    uintptr_t address = PROF__LOAD(&prof__waits_for[waiter - prof__waiters]);
    uint64_t arrow = PROF__LOAD(&waiter->arrow);
    prof__waiter_leave(waiter);
    if (arrow & PROF__ARROW_NONE) return 0;
    for (uint32_t i = 0; i < PROF__WAITERS && !(arrow & PROF__ARROW_FOR_ALL); ++i) {
        uint64_t same = arrow;
        if (PROF__LOAD(&prof__waits_for[i]) == address && PROF__LOAD(&prof__waiters[i].arrow) == arrow)
            __atomic_compare_exchange_n(&prof__waiters[i].arrow, &same, PROF__ADD(&prof__wait_serial, 4u) + 4 +
                                        PROF__ARROW_NONE, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    }
    return arrow / 4;
}

PROF__WAIT_SITE(prof__wait_arrow, "wake", EVENT, NONE);

/* Leaves an arrow for an entry of the list. *id: of the arrow, 0 until it is needed. A thread that unlocks again and
   again, while another does not get the lock, records an arrow only as often as a wait would be long enough. */
static void prof__wake_one(uint32_t at, uintptr_t address, uint64_t *id, uint32_t for_all)
{
    prof__waiter *waiter = &prof__waiters[at];
    uint64_t found = PROF__LOAD(&waiter->arrow), now = prof__wait_now(waiter->counter);
    uint64_t self = prof__wait_thread();
    if (PROF__ACQUIRE(&prof__waits_for[at]) != address || (int64_t)(now - waiter->enough) < 0) return;
    if (!(found & PROF__ARROW_NONE) && waiter->waker == self && now - waiter->woke_at < waiter->ticks) return;
    if (!*id) {
        *id = prof_flow_new();
        prof__event(&prof__wait_arrow, PROF_EVENT_FLOW_OUT, 0, *id);
    }
    if (!__atomic_compare_exchange_n(&waiter->arrow, &found, *id * 4 | for_all, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
        return;
    waiter->waker = self;
    waiter->woke_at = now;
}

static void prof__wake_slow(uintptr_t address, uint32_t for_all)
{
    uint64_t id = 0;
    if (!prof__on(&prof__wait_arrow) || prof__wait_must_not(PROF__SELF()) || !prof__live(&prof__wait_arrow)) return;
    for (uint32_t i = 0; i < PROF__WAITERS; ++i)
        if (PROF__LOAD(&prof__waits_for[i]) == address) prof__wake_one(i, address, &id, for_all);
}

/* Called before a thread unlocks, signals or posts. */
static inline void prof__wake(uint32_t table, const void *address, uint32_t for_all)
{
    if (PROF__UNLIKELY(PROF__LOAD(prof__wait_count(table, (uintptr_t)address))))
        prof__wake_slow((uintptr_t)address, for_all);
}

/* A child of fork() has only the thread that forked, and that one does not wait. */
static void prof__waits_child(void)
{
    prof__clear(prof__waits_for, sizeof prof__waits_for);
    prof__clear(prof__wait_counts, sizeof prof__wait_counts);
    prof__waiting_here.waiter = NULL;
    prof__waiting_here.thread_id = 0;
}
PROF__AT_START(102, prof__waits_watch);
static void prof__waits_watch(void) { pthread_atfork(NULL, NULL, prof__waits_child); }

/*-- who holds a lock --
   glibc keeps the thread's id in the lock. musl does not for most mutexes, so a table by address has it there, in which
   each entry has a cache line, or threads with locks of their own would slow each other down. Two locks with the same
   hash replace each other: then the holder is not known. */

#ifdef __GLIBC__
static inline void prof__holder_note(const void *lock) { (void)lock; }

static uint32_t prof__holder_of_mutex(const void *lock)
{
    return (uint32_t)PROF__LOAD(&((const pthread_mutex_t *)lock)->__data.__owner);
}
static uint32_t prof__holder_of_rwlock(const void *lock) /* 0 if readers have it */
{
#ifdef PROF__LATE_POSIX /* its type may not be declared */
    return (void)lock, 0u;
#else
    return (uint32_t)PROF__LOAD(&((const pthread_rwlock_t *)lock)->__data.__cur_writer);
#endif
}
#else
#define PROF__HOLDERS 256u
typedef struct prof__holder {
    uintptr_t lock;
    uint32_t thread;
    char rest[64 - sizeof(uintptr_t) - 4]; /* a cache line for each */
} prof__holder;
static prof__holder prof__holders[PROF__HOLDERS];

static inline uint32_t prof__holder_place(const void *lock)
{
    return (uint32_t)((uintptr_t)lock >> 3) * 0x9E3779B1u >> 24;
}
static inline void prof__holder_note(const void *lock)
{
    uint32_t at = prof__holder_place(lock);
    PROF__STORE(&prof__holders[at].thread, prof__wait_thread());
    PROF__STORE(&prof__holders[at].lock, (uintptr_t)lock);
}
static uint32_t prof__holder_of_mutex(const void *lock)
{
    uint32_t at = prof__holder_place(lock);
    return PROF__LOAD(&prof__holders[at].lock) == (uintptr_t)lock ? PROF__LOAD(&prof__holders[at].thread) : 0;
}
static uint32_t prof__holder_of_rwlock(const void *lock) { return prof__holder_of_mutex(lock); }
#endif
#endif /* PROF__WRAPS_WAITS */

#endif /* PROF__WAITS_WAKE_H */
