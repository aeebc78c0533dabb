// record/scope: The fast path of every macro, and begin, end and next of scopes. No lock, no atomic read-modify-write,
// no allocation.
#ifndef PROF__RECORD_SCOPE_H
#define PROF__RECORD_SCOPE_H
#include "api/markup.h"
#include "ground/clock.h"
#include "ground/instances.h"
#include "ground/lock.h"
#include "ground/signals.h"
#include "ground/threads.h"
#include "image/format.h"
#include "image/words.h"
#include "record/off_scope_sites.h"
#include "record/bridge.h"
#include "record/off_scope.h"
#include "record/ring.h"
#include "record/schedule.h"
#include "record/self.h"
#include "record/site.h"
#include "record/state.h"
#include "record/thread.h"
#include "record/track.h"

/*-- WRITER ------------------------------------------------------------------------------------------------ >>writer --
   The fast path of every macro: (1) read the counter. (2) Take the thread's write lock, so that a signal handler that
   interrupts from here on does not write. (3) Check that site, thread and config version agree; not earlier, because a
   handler may move the thread to another session until (2). (4) Store the event and move the cursor. (5) Release the
   write lock. */

/* Settles site and thread: updates both to the present config version. Returns 1 if the site is on and the thread has a
   chunk. If the site is on but there is no chunk, counts the loss. site: NULL: only the thread. */
static int prof__resolve_site(prof__thread *self, prof_site *site, uint32_t loss)
{
    uint32_t config_version = PROF__LOAD(prof__config_version), state;
    int recording, in_step;
    if (site && prof__site_off_scope(site)) return 0;
    state = site ? (uint32_t)prof__site_load(site) : config_version; /* read once: another thread may be changing it */
    in_step = self->synced_version == config_version && !((state ^ config_version) & ~PROF__OFF);
    if (in_step && !self->session && prof__room_missing(self)) {
        if (state == config_version) prof__lose_all(self, loss);
        return 0;
    }
    if (!in_step || !self->session) {
        uint32_t room = PROF__ACQUIRE(&prof__room_changes);
        prof__signals signals;
        PROF__ERRNO_SAVE();
        prof__child_check();
        if (!prof__lock_enter(&prof__lock_word, &signals)) {
            prof__lose_busy(self, loss);
            if (loss & PROF__LOSS_EVENT) self->room.missing = PROF__NO_LOCK; /* so its arguments will be lost, too */
            PROF__ERRNO_RESTORE();
            return 0;
        }
        if (PROF__UNLIKELY(PROF__HELD()) && site && prof__schedule_sees(site)) prof__schedule_look(site);
        if (site) prof__site_resolve(site); /* first: this may make the image, and a new config version */
        config_version = PROF__LOAD(prof__config_version);
        prof__session *s = prof__state.running ? prof__state.session : NULL;
        if (self->session && (self->session != s || self->session_id != s->session_id)) prof__detach(self);
        int attached = self->session != NULL;
        recording = s && (!site || (uint32_t)prof__site_load(site) == config_version);
        int missed = !self->session && self->room.missing;
        self->room.missing = 0;
        if (recording && !self->session && !prof__attach(self) && !prof__attach_later(self, s, &signals)) {
            prof__lose_all(self, loss);
            if (prof__state.session == s) prof__lost_collect(s);
            if (prof__state.session == s) prof__stream_loses(self, s);
            self->room.missing = room;
            recording = 0;
        }
        if (self->session && !self->entered) { /* a switch of fibers has left this to the next macro */
            prof__track_know(self);
            prof__track_enter(self);
        }
        if (missed && recording && !(loss & PROF__LOSS_EVENT) && !prof__reserved_ends(self)) {
            prof__lose_all(self, loss); /* the arguments of a lost scope */
            recording = 0;
        }
        self->synced_version = config_version; /* a control call during a wait: the next macro notices it */
        self->open = self->session && PROF__FAST(s) && !PROF__LEAVES_SOON(self) ? config_version : PROF__SHUT;
        prof__lock_leave(&prof__lock_word, &signals);
        /* only when the thread attaches: later it may run a fiber, whose end is not the thread's */
        if (PROF__EXIT_WATCHED_UNLOCKED && self->session && !attached) prof__on_exit_of_thread(self);
        PROF__ERRNO_RESTORE();
        return recording && self->session;
    }
    return state == config_version;
}

/* A write lock with PROF__SHORT implies that the last word is a begin or an end. Notes this for the slow paths, unless
   the thread has changed its session since. */
static PROF__COLD void prof__short_passes(prof__thread *self, uint32_t write_lock)
{
    if (write_lock != (self->synced_version ^ PROF__SHORT) || !self->cursor) return;
    self->short_scope.at = self->cursor - 1;
    self->short_scope.end = self->cursor;
}

/* Called after a prof__enter_write() that found the fast path closed. Returns 1 if the thread may write for this site
   or, if site is NULL, is attached. In a signal handler that interrupted a macro, counts what is lost. */
static PROF__COLD int prof__enter_slow(prof__thread *self, prof_site *site, uint32_t write_lock, uint32_t loss)
{
    if (PROF__UNLIKELY(write_lock & PROF__SHORT)) prof__short_passes(self, write_lock);
    if (write_lock == PROF__BUSY)
        prof__lose_busy(self, loss);
    else if (prof__resolve_site(self, site, loss))
        return 1;
    prof__leave_write(self, write_lock);
    return 0;
}

/* Returns 1 if a site is on. Called before the arguments of a macro are evaluated. */
PROF_DEF int prof__check(prof_site *site)
{
    PROF__SELF_OR(PROF__FORWARD(prof__check, (site)));
    if (prof__site_off_scope(site)) return 0;
    uint32_t write_lock = prof__enter_write(self);
    if (write_lock == PROF__BUSY) return 1; /* so the macro counts the loss, with its arguments */
    prof__signals signals;
    PROF__ERRNO_SAVE();
    prof__child_check();
    if (prof__lock_enter(&prof__lock_word, &signals)) {
        prof__site_resolve(site);
        prof__lock_leave(&prof__lock_word, &signals);
    }
    PROF__ERRNO_RESTORE();
    prof__leave_write(self, write_lock);
    return prof__on(site) && !prof__site_off_scope(site);
}

static uint64_t prof__site_head(const prof_site *site)
{
    return prof__site_load(site) >> PROF__TICK_BITS << PROF__TICK_BITS;
}

/* Takes the thread's write lock to write for a site. Returns 1 if it may write. Otherwise releases the lock and, if the
   site is on, counts the loss. */
static inline int prof__enter_or_lose(prof__thread *self, prof_site *site, uint64_t *head, uint32_t loss)
{
    uint32_t write_lock = prof__enter_write(self), config_version = PROF__LOAD(prof__config_version);
    *head = prof__site_load(site) ^ config_version;
    if (PROF__LIKELY(!((uint32_t)*head | (write_lock ^ config_version)))) return 1;
    if (!prof__enter_slow(self, site, write_lock, loss)) return 0;
    *head = prof__site_head(site);
    return 1;
}

/* Takes the thread's write lock for an event without arguments: see prof__enter_or_lose(). */
static inline int prof__enter(prof__thread *self, prof_site *site, uint64_t *head)
{
    return prof__enter_or_lose(self, site, head, PROF__LOSS_EVENT);
}

/* Room for an event. at: its words, NULL if there is no room. head: its first word, which is to be stored last; 0 if
   the event is off or came while the thread was writing. */
typedef struct prof__slot {
    uint64_t *at;
    uint64_t head;
} prof__slot;

static PROF__COLD prof__slot prof__slot_slow(prof__thread *self, prof_site *site, uint64_t words, uint32_t write_lock)
{
    prof__slot place = {NULL, 0};
    if (!prof__enter_slow(self, site, write_lock, PROF__LOSS_EVENT)) return place;
    uint64_t now = prof__now(self->session, 0);
    place.at = prof__reserve(self, words, &now);
    place.head = prof__site_head(site) | (now - self->base);
    if (!place.at) prof__leave(self);
    return place;
}

/* Takes the thread's write lock and room for an event of the site at the present time. Reads the counter: an open fast
   path implies that the counter is the session's clock. */
static inline prof__slot prof__slot_take(prof__thread *self, prof_site *site, uint64_t words)
{
    uint32_t write_lock = prof__enter_write(self), config_version = PROF__LOAD(prof__config_version);
    prof__slot place;
    place.head = prof__site_load(site) ^ config_version;
    if (PROF__UNLIKELY((uint32_t)place.head | (write_lock ^ config_version)))
        return prof__slot_slow(self, site, words, write_lock);
    uint64_t elapsed = prof__counter() - self->base;
    if (PROF__UNLIKELY((self->free_words < words) | (elapsed >> PROF__TICK_BITS != 0)))
        return prof__slot_slow(self, site, words, write_lock);
    place.at = self->cursor;
    place.head |= elapsed;
    return place;
}

/* Counts the words of an event as written, and releases the write lock. */
static inline void prof__slot_leave(prof__thread *self, prof__slot place, uint64_t words)
{
    self->cursor = place.at + words;
    self->free_words -= words;
    prof__leave(self);
}

#define PROF__END_OF_BEGIN ((uint64_t)(PROF__KIND_BEGIN ^ PROF__KIND_END) << PROF__KIND_SHIFT)

/* Begins the off-scope marker of a scope that is off or was lost: see >>off_scope. In a signal handler that interrupted
   a macro there is no marker, and the scope's arguments are lost. */
static PROF__COLD prof__token prof__begin_off(prof__thread *self, prof_site *site, uint32_t write_lock, uint32_t lost)
{
    prof__token token = write_lock == PROF__BUSY ? 0 : prof__off_scope_begin(self, site, lost);
    if (write_lock & PROF__SHORT) {
        prof__short_passes(self, write_lock);
        write_lock = PROF__SHUT; /* an end must look at markers */
    }
    prof__leave_write(self, write_lock);
    return token;
}

/* Begins the off-scope marker of a scope that was lost for want of room, see >>off_scope. Begins none if there will be
   no room for its arguments either. */
static prof__token prof__begin_lost(prof__thread *self, prof_site *site)
{
    if (!PROF__OFF_SCOPE_LOST || !site || (self->free_words < 2 && self->session->header->mode == PROF_FILL)) return 0;
    return prof__off_scope_begin(self, site, PROF__OFF_SCOPE_LOST);
}

/* With min_duration: notes a begin or an end that was just written, so that an end finds the scope that it may
   remove. */
static PROF__COLD void prof__begun_note(prof__thread *self, uint64_t *at)
{
    if (*at >> PROF__KIND_SHIFT == PROF__KIND_END)
        self->short_scope.known = at;
    else if (self->short_scope.end != at || self->short_scope.at + 1 != at)
        self->short_scope.known = at[-1] >> PROF__KIND_SHIFT == PROF__KIND_BEGIN ? at : at - 1;
    self->short_scope.at = at;
    self->short_scope.end = self->cursor;
}

/* The slow paths of begin and end. The thread holds its write lock before and after. site: NULL: the scope gets no
   arguments. */
static prof__token prof__begin_at(prof__thread *self, prof_site *site, uint64_t head, uint64_t now)
{
    uint64_t *at = prof__reserve(self, 2, &now);
    if (!at) return prof__begin_lost(self, site);
    prof__store_word(at, head | (now - self->base));
    prof__commit(self, 1);
    self->free_words -= 1; /* reserved for the end */
    if (PROF__MIN_TICKS(self->session)) prof__begun_note(self, at);
    return head | self->session_id;
}

static void prof__count_taken_back(prof__chunk *chunk)
{
    PROF__STORE(&chunk->taken_back, PROF__LOAD(&chunk->taken_back) + 1);
}

/* Removes a scope that was too short, and its run-time name, if nothing else was recorded since its begin, or all of it
   was removed. Clears the scope's head first, so that a reader never sees a part. */
static PROF__COLD int prof__begin_undo(prof__thread *self, uint64_t head, uint64_t now)
{
    uint64_t *at = self->short_scope.at, *end = self->cursor, tick;
    if (self->short_scope.end != end || (tick = *at ^ head) >> PROF__TICK_BITS) return 0;
    if (now - self->base - tick >= PROF__MIN_TICKS(self->session)) return 0;
    prof__store_word(at, 0);
    prof__clear(at, (size_t)(end - at) * 8);
    self->free_words += (uint64_t)(end - at) + 1;
    self->cursor = at;
    self->short_scope.end = at > self->short_scope.known ? at : NULL;
    self->short_scope.at = at - 1;
    prof__count_taken_back(self->chunk);
    return 1;
}

static void prof__end_at(prof__thread *self, uint64_t head, uint64_t now)
{
    prof__session *s = self->session;
    if (PROF__UNLIKELY(self->off_scope.marker) && prof__off_scope_is_innermost(self)) prof__off_scope_forget(self);
    if (PROF__MIN_TICKS(s) && prof__begin_undo(self, head, now)) return;
    if (self->soft && self->cursor == self->end) prof__chunk_widen(self, 1);
    int full = self->cursor == self->end || (int64_t)(now - self->base) >> PROF__TICK_BITS > 0;
    if (full && !prof__chunk_next(self, 1)) {
        prof__lose(self, 1);
        return;
    }
    if ((uint64_t)(self->end - self->cursor) <= self->free_words) self->free_words--; /* its reserved word is gone */
    if ((int64_t)(now - self->base) < 0) now = self->base;
    prof__store_word(self->cursor, (head ^ PROF__END_OF_BEGIN) | (now - self->base));
    self->cursor++;
    if (PROF__MIN_TICKS(s)) prof__begun_note(self, self->cursor - 1);
}

/* Called for a scope that prof__enter() refused, because it is off, because the lock was taken for long, or because it
   cannot have a marker. Begins an off-scope marker if it can. */
static prof__token prof__begin_refused(prof__thread *self, prof_site *site)
{
    uint32_t lost = prof__site_off_scope(site) ? 0 : PROF__OFF_SCOPE_LOST;
    if (!PROF__OFF_SCOPE_LOST || (lost && self->room.missing != PROF__NO_LOCK)) return 0;
    return prof__begin_off(self, site, prof__enter_write(self), lost);
}

/* The attribute of slow paths that every scope takes in a session whose clock is not the bare counter. */
#define PROF__SLOW PROF__NOINLINE

/* Returns the time on a slow path. read: what the fast path has read; 0: nothing. Returns that if it is of the
   session's clock and the thread was synced (was_in_step), so that it has not waited since. Otherwise reads the
   clock. */
static uint64_t prof__now_again(const prof__session *s, uint64_t read, int was_in_step, int at_end)
{
    return read && was_in_step && PROF__BY_COUNTER(s) ? read : prof__now(s, at_end);
}
static int prof__in_step(const prof__thread *self)
{
    return self->session && self->synced_version == PROF__LOAD(prof__config_version);
}

/* Returns the next value of the write lock with min_duration: open to begins and ends only, unless one of these could
   take a word of another event for its begin. */
static PROF__COLD uint32_t prof__write_lock_short(const prof__thread *self, uint32_t write_lock)
{
    int open = self->cursor && self->short_scope.end == self->cursor &&
               *self->short_scope.known >> PROF__KIND_SHIFT != PROF__KIND_BEGIN &&
               !self->off_scope.marker && !PROF__LEAVES_SOON(self);
    return open ? self->synced_version ^ PROF__SHORT : write_lock;
}

/* Releases the write lock after the slow path of a begin or an end. From then on a signal handler may move the thread
   to another session, or to none. */
static void prof__leave_scope(prof__thread *self)
{
    uint32_t write_lock = self->open;
    if (PROF__SHORT && PROF__UNLIKELY(self->session->fast == PROF__SHORT))
        write_lock = prof__write_lock_short(self, write_lock);
    PROF__BARRIER();
    self->write_lock = write_lock;
}

static PROF__SLOW prof__token prof__begin_slow(prof__thread *self, prof_site *site, uint32_t write_lock, uint64_t read)
{
    int in_step = prof__in_step(self), ready = in_step && write_lock != PROF__BUSY;
    if (!ready || (uint32_t)prof__site_load(site) != self->synced_version) {
        if (prof__site_off_scope(site)) return prof__begin_off(self, site, write_lock, 0);
        ready = prof__enter_slow(self, site, write_lock, PROF__LOSS_EVENT);
        in_step = 0; /* this may have waited for the lock */
    }
    if (!ready) return prof__begin_refused(self, site);
    if (PROF__UNLIKELY(write_lock & PROF__SHORT)) prof__short_passes(self, write_lock);
    prof__token token =
        prof__begin_at(self, site, prof__site_head(site), prof__now_again(self->session, read, in_step, 0));
    prof__leave_scope(self);
    PROF__BRIDGE_BEGIN(site, NULL, token);
    return token;
}

PROF_DEF prof__token prof__begin(prof_site *site)
{
    PROF__SELF_OR(PROF__FORWARD(prof__begin, (site)));
    uint64_t now = prof__counter();
    uint32_t write_lock = prof__enter_write(self), config_version = PROF__LOAD(prof__config_version);
    uint64_t head = prof__site_load(site) ^ config_version;
    uint32_t differs = (uint32_t)head | (write_lock ^ config_version);
    if (PROF__UNLIKELY(differs) && differs != PROF__SHORT) {
        return prof__begin_slow(self, site, write_lock, now);
    }
    uint64_t *at = self->cursor, left = self->free_words, elapsed = now - self->base;
    if (PROF__UNLIKELY((left < 2) | (elapsed >> PROF__TICK_BITS != 0))) {
        return prof__begin_slow(self, site, write_lock, 0);
    }
    prof__store_word(at, head | elapsed);
    self->cursor = at + 1;
    self->free_words = left - 2;
    prof__token token = head | self->session_id;
    PROF__BARRIER();
    self->write_lock = write_lock;
    PROF__BRIDGE_BEGIN(site, NULL, token);
    return token;
}

static PROF__SLOW void prof__end_slow(prof__thread *self, prof__token token, uint32_t write_lock, uint64_t read)
{
    int in_step = prof__in_step(self);
    if (token & PROF__OFF_SCOPE) {
        if (write_lock != PROF__BUSY) prof__off_scope_end(self, token);
        prof__leave_write(self, write_lock);
        return;
    }
    if ((uint32_t)token != PROF__LOAD(&prof__state.session_id)) { /* begun in another session, where it stays open */
        prof__leave_write(self, write_lock);
    } else if ((in_step && write_lock != PROF__BUSY) || prof__enter_slow(self, NULL, write_lock, PROF__LOSS_EVENT)) {
        if (PROF__UNLIKELY(write_lock & PROF__SHORT)) prof__short_passes(self, write_lock);
        if ((uint32_t)token == self->session_id)
            prof__end_at(self, token ^ self->session_id, prof__now_again(self->session, read, in_step, 1));
        prof__leave_scope(self);
    }
    PROF__BRIDGE_END(self, token);
#ifndef PROF_FREESTANDING
    if (PROF__UNLIKELY(PROF__LEAVES_SOON(self))) prof__last_scope_ended(self);
#endif
}

/* Ends a scope while the write lock says that the last word is a begin or an end. Returns 1 if that word is the scope's
   begin and the scope was too short: removes it. */
static inline int prof__end_short(prof__thread *self, uint64_t head, uint64_t elapsed)
{
    uint64_t *at = self->cursor - 1, tick = *at ^ head;
    if (tick >> PROF__TICK_BITS || elapsed - tick >= PROF__MIN_TICKS(self->session)) return 0;
    prof__store_word(at, 0);
    self->free_words += 2;
    self->cursor = at;
    prof__count_taken_back(self->chunk);
    return 1;
}

PROF_DEF void prof__end(prof__token token)
{
    PROF__SELF_OR(PROF__FORWARD_VOID(prof__end, (token)));
    uint64_t now = prof__counter();
    uint32_t write_lock = prof__enter_write(self), config_version = PROF__LOAD(prof__config_version);
    uint64_t head = token ^ self->session_id;
    uint32_t differs = (uint32_t)head | (write_lock ^ config_version);
    if (PROF__UNLIKELY(differs)) {
        int open = differs == PROF__SHORT;
        if (open && prof__end_short(self, head, now - self->base)) {
            PROF__BARRIER();
            self->write_lock = write_lock;
            PROF__BRIDGE_END(self, token);
            return;
        }
        if (!open) {
            prof__end_slow(self, token, write_lock, now);
            return;
        }
    }
    uint64_t *at = self->cursor, elapsed = now - self->base;
    if (PROF__UNLIKELY(((uint64_t)(self->end - at) <= self->free_words) | (elapsed >> PROF__TICK_BITS != 0))) {
        prof__end_slow(self, token, write_lock, 0);
        return;
    }
    prof__store_word(at, (head ^ PROF__END_OF_BEGIN) | elapsed);
    self->cursor = at + 1;
    PROF__BARRIER();
    self->write_lock = write_lock;
    PROF__BRIDGE_END(self, token);
}

#ifndef PROF_FREESTANDING
/* Records a scope of the service that began at `began` and ends now. Begin and end are written together: an open scope
   at the end of a recording would look as if the program had hung there. */
static void prof__service_scope(const prof__session *s, prof_site *site, uint64_t began)
{
    prof__thread *self = PROF__SELF();
    uint64_t head;
    if (site->level > PROF_MAX_LEVEL || !prof__enter(self, site, &head)) return;
    if (self->session == s) {
        prof__token token = prof__begin_at(self, NULL, head, began);
        if (token) prof__end_at(self, head, prof__now(s, 1));
    }
    prof__leave(self);
}
#endif

/* The slow path of prof__next(): ends one stage and begins the next one at the same time. So it gets a chunk with room
   for both before it reads the clock. */
static PROF__COLD prof__token prof__next_slow(prof__thread *self, prof_site *site, prof__token token,
                                              uint32_t write_lock)
{
    uint64_t head;
    prof__leave_write(self, write_lock);
    if (token & PROF__OFF_SCOPE) {
        prof__end(token);
        token = 0;
    }
    if (!prof__live(site) || !prof__enter(self, site, &head)) {
        if (token) prof__end(token);
        return prof__begin_refused(self, site);
    }
    uint64_t now = prof__now(self->session, 1);
    int fits = prof__reserve(self, 2, &now) != NULL;
    if (token && (uint32_t)token == self->session_id) prof__end_at(self, token ^ self->session_id, now);
    prof__token next = fits ? prof__begin_at(self, site, head, now) : prof__begin_lost(self, site);
    prof__leave(self);
    PROF__BRIDGE_END(self, token);
    PROF__BRIDGE_BEGIN(site, NULL, next);
    return next;
}

PROF_DEF prof__token prof__next(prof_site *site, prof__token token)
{
    PROF__SELF_OR(PROF__FORWARD(prof__next, (site, token)));
    uint64_t now = prof__counter();
    uint32_t write_lock = prof__enter_write(self), config_version = PROF__LOAD(prof__config_version);
    uint64_t head = prof__site_load(site) ^ config_version, old = token ^ self->session_id;
    if (PROF__UNLIKELY((uint32_t)head | (uint32_t)old | (write_lock ^ config_version)))
        return prof__next_slow(self, site, token, write_lock);
    uint64_t *at = self->cursor, left = self->free_words, elapsed = now - self->base;
    if (PROF__UNLIKELY((left < 2) | ((uint64_t)(self->end - at) <= left) | (elapsed >> PROF__TICK_BITS != 0)))
        return prof__next_slow(self, site, token, write_lock);
    prof__store_word(at, (old ^ PROF__END_OF_BEGIN) | elapsed);
    prof__store_word(at + 1, head | elapsed);
    self->cursor = at + 2;
    self->free_words = left - 2;
    prof__token next = head | self->session_id;
    PROF__BARRIER();
    self->write_lock = config_version;
    PROF__BRIDGE_END(self, token);
    PROF__BRIDGE_BEGIN(site, NULL, next);
    return next;
}

#endif /* PROF__RECORD_SCOPE_H */
