// waits/record: Records a wait when it is over, if it was long enough.
#ifndef PROF__WAITS_RECORD_H
#define PROF__WAITS_RECORD_H
#include "api/markup.h"
#include "ground/clock.h"
#include "image/words.h"
#include "record/args.h"
#include "record/event.h"
#include "record/scope.h"
#include "record/self.h"
#include "record/state.h"
#include "record/track.h"
#include "session/beside.h"
#include "waits/real.h"
#include "waits/wake.h"

#ifdef PROF__WRAPS_WAITS
/* The most words that a wait takes: its begin and end, three arguments, three events. */
#define PROF__WAIT_WORDS 28

/* A wait that is going on. Its begin has a time that is past when it is recorded. So it has its words from the start:
   if the thread has recorded nothing meanwhile, its records stay in order of time. */
typedef struct PROF__SITE_TYPE prof__waited {
    prof_site *site;
    uint64_t began, enough; /* ticks; of CLOCK_MONOTONIC if counter is 0 */
    uint64_t before;        /* ticks that the thread has waited before that: it had no words, and got its first ones */
    uint64_t *cursor;       /* the thread's words; NULL: it had none */
    prof__chunk *chunk;
    uint32_t session_id, counter;
    uint32_t leaves; /* 1: the thread gives its words back after this: see PROF__LEAVES_SOON */
    const char *key; /* what the thread waits for: an argument of the scope. NULL: nothing that has a name */
    prof_value value;
    prof_site *lock; /* the call site of the lock's events; NULL: it is no lock */
    uint64_t holder; /* the thread that has it; 0: not known */
    uint64_t arrow;  /* 0: none */
} prof__waited;

/* In a program that is linked statically the C library's own calls are wrapped as well: sem_wait() may call
   sem_timedwait(). A wait inside of another is not recorded. An outer one that is not further up on the stack has been
   left by siglongjmp(). */
#if PROF_WRAP_WAITS + 0 == 2
static int prof__wait_is_inner(const prof__waited *wait)
{
    return prof__waiting_here.inside && (uintptr_t)wait < prof__waiting_here.inside;
}
static void prof__wait_inside(const prof__waited *wait) { prof__waiting_here.inside = (uintptr_t)wait; }
#else
static inline int prof__wait_is_inner(const prof__waited *wait) { return (void)wait, 0; }
static inline void prof__wait_inside(const prof__waited *wait) { (void)wait; }
#endif

/* Returns 1 if a thread may get words before its call. The child of a fork gets an image with its first event, and a
   call that does not wait is no event. A thread that has no words because there are too few for all, or because it is
   ending, gets some only if it has waited. */
static inline int prof__wait_may_attach(const prof__thread *self)
{
    if (!self->session && (self->borrows || self->exits)) return 0;
    return PROF__LOAD(prof__config_version) && !PROF__LOAD(&prof__state.inherited);
}

static int prof__wait_begin_apart(prof__waited *wait)
{
    prof__wait_inside(wait);
    wait->cursor = NULL;
    wait->counter = 0;
    wait->enough = PROF__LOAD(&prof__waits_least);
    wait->began = prof__monotonic();
    return 1;
}

/* Begins a wait. Returns 0 if it is not to be recorded. */
static int prof__wait_begin(prof__waited *wait, prof_site *site)
{
    prof__thread *self;
    uint64_t head, first[2] = {0, 0};
    if (!prof__on(site) || !PROF__LOAD(&prof__waits_least)) return 0;
    self = PROF__SELF();
    if (prof__wait_must_not(self) || prof__wait_is_inner(wait)) return 0;
    wait->site = site;
    wait->key = NULL;
    wait->lock = NULL;
    wait->holder = wait->arrow = wait->before = 0;
    wait->leaves = 1;
    if (PROF__UNLIKELY(!self->session)) {
        first[0] = prof__monotonic();
        first[1] = prof__counter();
    }
    if (!prof__wait_may_attach(self)) return prof__wait_begin_apart(wait);
    if (!prof__enter_or_lose(self, site, &head, 0)) return 0;
    wait->enough = self->session->waits_ticks;
    wait->counter = self->session->clock != PROF_CLOCK_MONOTONIC;
    wait->session_id = self->session_id;
    wait->began = prof__now(self->session, 0);
    if (PROF__UNLIKELY(first[0])) wait->before = wait->began - first[wait->counter];
    wait->cursor = wait->enough ? prof__reserve_or_lose(self, PROF__WAIT_WORDS, &wait->began, 0) : NULL;
    wait->chunk = self->chunk;
    wait->leaves = PROF__LEAVES_SOON(self) != 0;
    prof__leave(self);
    if (!wait->cursor) {
        if (wait->leaves) prof__last_scope_ended(self);
        return 0;
    }
    prof__wait_inside(wait);
    return 1;
}

static inline void prof__wait_for(prof__waited *wait, const char *key, prof_value_type type, uint64_t value)
{
    wait->key = key;
    wait->value.type = type;
    wait->value.as.u = value;
}

static void prof__wait_arg(prof_arg *args, uint32_t *count, const char *key, prof_value_type type, uint64_t value)
{
    prof_arg *arg = &args[(*count)++];
    arg->key = key;
    arg->value.type = type;
    arg->value.cut = 0;
    arg->value.as.u = value;
}

/* Writes an EVENT of another call site, if that is on. The thread holds its write lock. */
static void prof__wait_event(prof__thread *self, const prof_site *site, uint64_t type, uint64_t object, uint64_t now)
{
    uint64_t *at, detail = type == PROF_EVENT_LOCK_WAIT;
    if ((uint32_t)prof__site_load(site) != PROF__LOAD(prof__config_version)) return;
    at = prof__reserve_or_lose(self, 3, &now, PROF__LOSS_EVENT);
    if (!at) return;
    prof__event_write(at, prof__site_head(site) | (now - self->base), detail << 8 | type, object);
    prof__commit(self, 3);
}

static uint64_t prof__wait_ns(const prof__session *s, const prof__waited *wait, uint64_t ticks)
{
    uint64_t hz = wait->counter ? s->waits_hz : 1000000000u, all = ticks + wait->before;
    return all / hz * 1000000000u + all % hz * 1000000000u / hz;
}

/* Writes the wait. If the thread has recorded something since its begin, in a signal handler, or has no words from
   before, the scope begins where it ends, and an argument says how long the wait was: no record may have a time before
   that of the record before it. So it is with the time before the thread's first words. */
static void prof__wait_write(prof__thread *self, const prof__waited *wait, uint64_t head, uint64_t ticks, int acquired)
{
    const prof__session *s = self->session;
    uint64_t now = prof__now(s, 1), began = now;
    int whole = self->cursor == wait->cursor && self->chunk == wait->chunk;
    prof__with_list list;
    prof_arg args[3];
    uint32_t count = 0;
    if (wait->cursor && self->session_id != wait->session_id) return; /* begun in another session, as a scope */
    if (whole) began = wait->began;
    if (wait->key) prof__wait_arg(args, &count, wait->key, wait->value.type, wait->value.as.u);
    if (wait->holder) prof__wait_arg(args, &count, "holder", PROF_VALUE_UINT, wait->holder);
    if (!whole || wait->before) prof__wait_arg(args, &count, "wait_ns", PROF_VALUE_UINT, prof__wait_ns(s, wait, ticks));
    if (!prof__begin_at(self, NULL, head, began)) return;
    list.args = args;
    list.to = 0;
    if (count) prof__with_scope(self, &list, count);
    if (wait->lock) prof__wait_event(self, wait->lock, PROF_EVENT_LOCK_WAIT, wait->value.as.u, began);
    if (wait->arrow) prof__wait_event(self, &prof__wait_arrow, PROF_EVENT_FLOW_IN, wait->arrow, now);
    if (wait->lock && acquired) prof__wait_event(self, wait->lock, PROF_EVENT_LOCK_ACQUIRE, wait->value.as.u, now);
    prof__end_at(self, head, now);
}

static int prof__wait_end_slow(prof__waited *wait, uint64_t ticks, int acquired)
{
    prof__thread *self = PROF__SELF();
    uint64_t head, ns;
    if (prof__wait_must_not(self)) return 0;
    if (wait->lock) prof__live(wait->lock);
    if (wait->arrow) prof__live(&prof__wait_arrow);
    if (!prof__enter(self, wait->site, &head)) return 0;
    prof__wait_write(self, wait, head, ticks, acquired);
    ns = prof__wait_ns(self->session, wait, ticks);
    prof__leave(self);
    prof__beside_woken(ns);
    return 1;
}

/* Ends a wait, and records it if it was long enough. Returns 1 then. acquired: the thread has the lock now. Does not
   change errno. */
static inline int prof__wait_end(prof__waited *wait, int acquired)
{
    uint64_t ticks = prof__wait_now(wait->counter) - wait->began;
    prof__wait_inside(NULL);
    int recorded = 0, enough = (int64_t)ticks >= (int64_t)wait->enough;
    if (PROF__LIKELY(!enough && !wait->leaves)) return 0;
    PROF__ERRNO_SAVE();
    if (enough) recorded = prof__wait_end_slow(wait, ticks, acquired);
    if (wait->leaves && PROF__LEAVES_SOON(PROF__SELF())) prof__last_scope_ended(PROF__SELF());
    PROF__ERRNO_RESTORE();
    return recorded;
}
#endif /* PROF__WRAPS_WAITS */

#endif /* PROF__WAITS_RECORD_H */
