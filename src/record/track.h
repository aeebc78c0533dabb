// record/track: Attaches threads to a session and to chunks, begins their tracks in these, reserves words, and counts
// what is lost.
#ifndef PROF__RECORD_TRACK_H
#define PROF__RECORD_TRACK_H
#include "api/markup.h"
#include "ground/lock.h"
#include "ground/signals.h"
#include "ground/threads.h"
#include "image/format.h"
#include "image/pair.h"
#include "image/words.h"
#include "record/bridge.h"
#include "record/meta.h"
#include "record/unscoped_slots.h"
#include "record/ring.h"
#include "record/self.h"
#include "record/state.h"
#include "record/thread.h"

/* Writes a TRACK record of the present track. The serial is incremented last: if a signal handler interrupts and leaves
   by siglongjmp(), a serial occurs twice, but none is missing. */
static void prof__track_write(prof__thread *self)
{
    prof_fiber *track = prof__track_of(self);
    uint64_t *at = self->cursor, serial = track->serial + 1;
    PROF__STORE(at + 1, serial >> 28 << PROF__TICK_BITS | track->track);
    PROF__STORE(at + 2, self->thread_id);
    prof__store_word(at, (uint64_t)PROF__KIND_TRACK << PROF__KIND_SHIFT | (serial & 0xfffffff) << 32 |
                             (uint64_t)track->is_fiber << 31 | (track->name_id == PROF__NAME_NEW ? 0 : track->name_id));
    PROF__BARRIER();
    track->serial = serial;
#ifdef PROF__FRAME_NAMES
    self->frame.site = NULL;
#endif
    self->cursor = at + 3;
    self->free_words -= 3;
}

/* Returns how many words, reserved for ends of enclosing scopes, the off-scope marker hides behind `end`: see
   >>off_scope. */
static uint32_t prof__off_scope_hidden(const prof__thread *self)
{
    return self->off_scope.marker >> PROF__OFF_SCOPE_HIDDEN_SHIFT;
}

/* Returns how many words are reserved for the ends of open scopes of the present track. */
static uint64_t prof__reserved_ends(const prof__thread *self)
{
    const prof_fiber *track = self->fiber ? self->fiber : &self->own;
    if (self->entered) return (uint64_t)(self->end - self->cursor) - self->free_words + prof__off_scope_hidden(self);
    return track->session_id == PROF__LOAD(&prof__state.session_id) ? track->reserved_ends : 0;
}

/* Gives up a chunk that this thread has filled. In a ring, threads that found no chunk may take it. The newest events
   of the thread's own track are in its next chunk, but those of a fiber may be in this one. */
static void prof__chunk_finish(const prof__thread *self, prof__chunk *chunk)
{
    const prof__session *s = self->session;
#ifdef PROF_WITH_DRAIN /* prof_drain() may not have read it yet */
    int newest = 1;
#else
    int newest = self->fiber != NULL;
#endif
    prof__chunk_give(s, chunk, PROF__CHUNK_FULL, newest);
    if (s->header->mode == PROF_RING) prof__room_changed();
}

/* Returns 1 if the thread's chunk has an event of its own: more than the first TRACK record, and arguments of a scope
   that began in the previous chunk. */
static int prof__chunk_begun(const prof__thread *self)
{
    const uint64_t *at = prof__chunk_first(self->chunk) + 3;
    while (at < self->cursor && *at >> PROF__KIND_SHIFT == PROF__KIND_ARG) at += 1 + (*at & 0xFFFF);
    return at < self->cursor;
}

/* Keeps the chunk that the thread has just filled until its next one is half full. So at least half a chunk of its
   newest events stays: without this, other threads could overtake it by a lap of the ring while it changes chunks, or
   while it sleeps, and overwrite them. Another thread takes the kept chunk only if it has none and finds no other. Only
   a ring reuses chunks that nobody has read. */
static void prof__filled_keep(prof__thread *self)
{
    self->filled = self->chunk;
    PROF__RELEASE(&self->filled->state, (uint32_t)PROF__CHUNK_HELD);
}

/* Takes the kept full chunk back. Returns NULL if the thread keeps none, or another thread has taken it. */
static prof__chunk *prof__filled_take(prof__thread *self)
{
    prof__chunk *filled = self->filled;
    uint32_t state = PROF__CHUNK_HELD;
    self->filled = NULL;
    if (!filled || !__atomic_compare_exchange_n(&filled->state, &state, PROF__CHUNK_OWNED, 0, __ATOMIC_ACQUIRE,
                                                __ATOMIC_RELAXED))
        return NULL;
    return filled;
}

/* Gives up the kept full chunk, if there still is one. */
static void prof__filled_finish(prof__thread *self)
{
    prof__chunk *filled = prof__filled_take(self);
    if (filled) prof__chunk_finish(self, filled);
}

/* Returns up to which word the thread may use its chunk if it needs so many of its words: to the end of the part in
   which these end, but at most to the middle as long as it keeps its previous chunk. So after a power loss only the
   last part that the thread used has no sum, and that part's last word shows whose it is. */
static uint64_t prof__chunk_limit(const prof__thread *self, uint64_t needed)
{
    const prof__session *s = self->session;
    uint64_t all = prof__words_of(s, self->chunk), limit = self->filled && needed <= all / 2 ? all / 2 : all;
#if PROF__MARKED
    uint64_t step = prof__part_bytes(prof__chunk_bytes(s, self->chunk)) / 8;
    uint64_t last = ((needed + PROF__HEAD_WORDS) / step + 1) * step - PROF__HEAD_WORDS - 1; /* the mark */
    if (last < limit) limit = last;
#endif
    return limit;
}

/* Lets the thread use its chunk up to the word `limit`. used: how many words it has used. */
static void prof__chunk_open(prof__thread *self, uint64_t used, uint64_t limit)
{
    uint64_t all = prof__words_of(self->session, self->chunk);
    prof__chunk_pass(self->session, self->chunk, (size_t)used, (size_t)limit);
    self->soft = (uint32_t)(all - limit);
    self->end = prof__chunk_first(self->chunk) + limit - prof__off_scope_hidden(self);
    if (limit > all / 2) prof__filled_finish(self);
}

/* Forgets the last begin and end, so that no end removes them as too short. */
static void prof__begun_forget(prof__thread *self)
{
    if (!PROF__MINIMAL) self->short_scope.at = self->short_scope.end = NULL;
}

/* Lets the thread use more of its chunk: enough for `words` more words and the ends of its open scopes. Words that have
   a sum stay, even those of a scope that was too short. */
static PROF__COLD void prof__chunk_widen(prof__thread *self, uint64_t words)
{
    uint64_t used = (uint64_t)(self->cursor - prof__chunk_first(self->chunk)),
             reserved_ends = prof__reserved_ends(self);
    uint64_t limit = prof__chunk_limit(self, used + reserved_ends + words);
    prof__chunk_open(self, used, limit);
    self->free_words = limit - used - reserved_ends;
    prof__begun_forget(self);
    self->short_scope.known = self->cursor;
}

/* Stores the sums of the thread's chunk, before the thread leaves it. */
static void prof__chunk_close(const prof__thread *self)
{
    prof__chunk_seal(self->session, self->chunk, (size_t)(self->cursor - prof__chunk_first(self->chunk)));
}

/* Continues the thread's present track in this chunk, after the used words. reserved ends: how many words to reserve
   for ends. */
static void prof__chunk_enter(prof__thread *self, prof__chunk *chunk, uint64_t used, uint64_t reserved_ends)
{
    self->chunk = chunk;
    self->base = chunk->base.tick;
    self->cursor = prof__chunk_first(chunk) + used;
    /* no words are reserved for the marker now */
    if (prof__off_scope_hidden(self) > reserved_ends) self->off_scope.marker = self->off_scope.slot = 0;
    uint64_t limit = prof__chunk_limit(self, used + reserved_ends + 8);
    prof__chunk_open(self, used, limit);
    self->free_words = limit - used - reserved_ends;
    prof__begun_forget(self);
    self->entered = 1;
    prof__track_write(self);
}

/* Returns 1 if no chunk was released since this thread found none: it need not search, nor take the lock, for every
   lost event. Every 1024th time it returns 0 all the same, so that losses of a thread without a chunk get into the
   image. */
static int prof__room_missing(prof__thread *self)
{
    return self->room.missing == PROF__LOAD(&prof__room_changes) && ++self->room.failed_allocs % 1024;
}

/* Writes a LOST record of the events that this thread has lost on its present track, if there is a free word. */
static void prof__lost_write(prof__thread *self)
{
    uint64_t lost = self->cursor < self->end ? __atomic_exchange_n(&self->chunk->lost, 0, __ATOMIC_RELAXED) : 0;
    if (!lost) return;
    prof__store_word(self->cursor, (uint64_t)PROF__KIND_LOST << PROF__KIND_SHIFT | (lost & PROF__TICK_MASK));
    self->cursor++;
}

/* Leaves the present track. Nothing can be written until prof__track_enter(), for this track or another one. */
static void prof__track_leave(prof__thread *self)
{
    if (!self->entered) return;
    prof__track_of(self)->reserved_ends = prof__reserved_ends(self);
    if (PROF__UNLIKELY(PROF__LOAD(&self->chunk->lost))) prof__lost_write(self);
    self->entered = 0;
    self->end = self->cursor;
    self->free_words = self->soft = 0;
    prof__begun_forget(self);
}

/* Moves the thread to a new chunk; it may have an old one. The words reserved for ends move along. They may be too
   many, because a longjmp() over scopes leaves their words reserved for ever. If they exceed three quarters of a
   chunk (1500 scopes), none are reserved any more, and an end takes a free word, or a new chunk. Returns 0 if chunk
   is NULL. */
static int prof__chunk_change(prof__thread *self, prof__chunk *chunk)
{
    uint64_t reserved_ends = prof__reserved_ends(self);
    prof__session *s = self->session;
    prof__chunk *old = self->chunk != chunk ? self->chunk : NULL;
    if (!chunk) return 0;
    if (old) prof__chunk_close(self);
    if (self->filled && prof__chunk_begun(self)) prof__filled_finish(self);
    if (old && !self->filled && s->header->mode == PROF_RING) {
        prof__filled_keep(self);
        old = NULL;
    }
    prof__chunk_enter(self, chunk, 0, reserved_ends > prof__words_of(s, chunk) / 4 * 3 ? 0 : reserved_ends);
    if (old) prof__chunk_finish(self, old); /* if the chunk before it is still held, this one has no event of its own */
    return 1;
}

/* Takes the one of the thread's own chunks in a ring that has the older events, to use it anew. */
static prof__chunk *prof__chunk_own(prof__thread *self)
{
    prof__chunk *filled = self->filled && prof__chunk_begun(self) ? prof__filled_take(self) : NULL;
    return prof__chunk_again(self->session, filled ? filled : self->chunk);
}

#ifndef PROF__ALONE
/* Waits for a chunk. Meanwhile the thread gives up its full chunk, because the service may need it to make room. If the
   thread has waited in vain, it takes the full chunk back unless another has it: words in it are reserved for ends of
   open scopes. */
static prof__chunk *prof__chunk_await(prof__thread *self, uint64_t least)
{
    prof__session *s = self->session;
    prof__thread before = *self;
    prof__chunk *full = self->chunk, *chunk = NULL;
    uint64_t sequence = full ? full->sequence : 0;
    uint32_t state = PROF__CHUNK_FULL;
    if (!prof__room_waits(self, s)) return NULL;
    if (full) {
        prof__chunk_close(self);
        prof__track_of(self)->reserved_ends = prof__reserved_ends(self);
        self->entered = 0;
        self->free_words = self->soft = 0;
        self->chunk = NULL;
        self->cursor = self->end = self->short_scope.at = self->short_scope.end = NULL;
        prof__chunk_finish(self, full);
    }
    while (!chunk && prof__room_wait(self, s)) chunk = prof__chunk_take_of(s, self->impatient != 0, least, 0);
    if (chunk || !full || !__atomic_compare_exchange_n(&full->state, &state, PROF__CHUNK_OWNED, 0, __ATOMIC_ACQUIRE,
                                                       __ATOMIC_RELAXED))
        return chunk;
    if (full->sequence != sequence) { /* another thread has used it since */
        PROF__RELEASE(&full->state, state);
        return NULL;
    }
    prof__chunk_unseal(s, full, (size_t)(before.cursor - prof__chunk_first(full)));
    self->chunk = full;
    self->soft = before.soft;
    self->cursor = before.cursor;
    self->end = before.end;
    self->free_words = before.free_words;
    self->entered = before.entered;
    return NULL;
}
#endif

/* Gives the thread another chunk with room for `words` words, or a smaller one if none is so large. Returns 0 if there
   is none. In a ring that nobody empties the thread then uses its own chunk anew: a thread that records keeps its
   newest events, whatever other threads do. */
static PROF__COLD int prof__chunk_next(prof__thread *self, uint64_t words)
{
    prof__session *s = self->session;
    int service = self->impatient != 0, again = s->header->mode == PROF_RING;
    uint64_t reserved_ends = prof__reserved_ends(self);
    if (!again && prof__room_missing(self)) return 0;
    uint32_t room = PROF__ACQUIRE(&prof__room_changes);
    uint64_t least = words + 8 + (reserved_ends > s->chunk_words / 4 * 3 ? 0 : reserved_ends + reserved_ends / 2);
    if (least > s->chunk_words) least = s->chunk_words;
    prof__chunk *chunk = prof__chunk_take_of(s, service, least, 0);
    if (!chunk && again) chunk = prof__chunk_own(self);
#ifndef PROF__ALONE
    if (!chunk) chunk = prof__chunk_await(self, least);
#endif
    self->room.missing = chunk ? 0 : room;
    if (!chunk) prof__stream_loses(self, s);
    return prof__chunk_change(self, chunk);
}

/* Continues the present track in the rest of the thread's chunk. If the rest is too small, the next write takes a new
   chunk, and may wait for it. That is not done here, because the caller may hold the lock, and because a chunk without
   an event is of no use. */
static void prof__track_enter(prof__thread *self)
{
    if (!self->chunk) return;
    uint64_t used = (uint64_t)(self->cursor - prof__chunk_first(self->chunk)),
             reserved_ends = prof__track_of(self)->reserved_ends;
    if (used + 3 + reserved_ends + 2 <= prof__words_of(self->session, self->chunk))
        prof__chunk_enter(self, self->chunk, used, reserved_ends);
}

/* Returns 1 if the session knows this track and its name, so that it can be entered without the lock. */
static int prof__track_known(const prof__thread *self, const prof_fiber *track)
{
    return track->session_id == self->session_id && track->name_id != PROF__NAME_NEW;
}

/* Asks the system again for the name of a thread that the program has not named. The thread's next TRACK record has the
   name. If the thread ends (ends is 1), writes that record now. Under the lock. */
static void prof__thread_rename(prof__thread *self, int ends)
{
#ifdef PROF__RENAMES
    prof_fiber *own = &self->own;
    char name[sizeof own->name];
    uint32_t known = own->name_id & ~PROF__NAME_OF_SYSTEM;
    if (own->session_id != self->session->session_id || own->name[0] || own->name_id == PROF__NAME_NEW) return;
    prof__system_name(name, sizeof name);
    uint32_t id = prof__meta_string(self->session, name);
    if (!id) return;
    own->name_id = id | PROF__NAME_OF_SYSTEM;
    int room = self->entered && !self->fiber && self->free_words >= 3;
    if (ends && id != known && room) prof__track_write(self);
    prof__meta_thread(self->session, own->track, id, ends && id != known && !room);
#else
    (void)self, (void)ends;
#endif
}

/* Gives the present track an id and a name in the thread's session, if it has none there. Under the lock. */
static void prof__track_know(prof__thread *self)
{
    prof_fiber *track = prof__track_of(self);
    prof__session *s = self->session;
    if (track->session_id != s->session_id) {
        track->track = PROF__ADD(&s->header->tracks, 1) + 1;
        track->serial = track->reserved_ends = 0;
        track->unscoped_count = 0;
#ifdef PROF__FRAME_NAMES
        for (uint32_t at = 0; at < PROF__FRAME_NAMES; ++at) track->frame_name[at] = 0;
#endif
        for (uint32_t at = 0; at < sizeof track->unscoped_name / sizeof *track->unscoped_name; ++at)
            track->unscoped_name[at] = PROF__UNSCOPED_FREE;
        prof__unscoped_clear(track);
        track->name_id = PROF__NAME_NEW;
        track->session_id = s->session_id;
    }
    if (track->name_id != PROF__NAME_NEW) {
        if (!track->is_fiber) prof__thread_rename(self, 0);
        return;
    }
    char name[sizeof track->name];
    prof__copy(name, track->name, sizeof name);
    uint32_t of_system = name[0] || track->is_fiber ? 0 : PROF__NAME_OF_SYSTEM;
    if (of_system) prof__system_name(name, sizeof name);
    track->name_id = prof__meta_string(s, name);
    if (track->name_id) track->name_id |= of_system;
}

/* The slow path of prof__reserve_or_lose(), if too few words are free or the chunk is too old to express the time.
   Returns NULL, and counts the loss, if there is no chunk. */
static PROF__COLD uint64_t *prof__reserve_slow(prof__thread *self, uint64_t words, uint64_t *now, uint32_t loss)
{
    if ((int64_t)(*now - self->base) < 0 && (int64_t)(prof__now(self->session, 0) - self->base) >= 0) {
        *now = self->base; /* a handler took this chunk after the clock was read; otherwise the counter restarted */
        if (self->free_words >= words) return self->cursor;
    }
    int late = (*now - self->base) >> PROF__TICK_BITS != 0;
    if (self->soft && !late && self->free_words < words) prof__chunk_widen(self, words);
    if ((late || self->free_words < words) && prof__chunk_next(self, words) && self->free_words < words && self->soft)
        prof__chunk_widen(self, words); /* the event is long */
    if (self->free_words < words || (*now > self->base && (*now - self->base) >> PROF__TICK_BITS)) {
        if (self->chunk) /* the last word has a sum now, but may still be removed as a scope that was too short */
            prof__chunk_unseal(self->session, self->chunk, (size_t)(self->cursor - prof__chunk_first(self->chunk)) - 1);
        prof__lose_all(self, loss);
        return NULL;
    }
    if ((int64_t)(*now - self->base) < 0) *now = self->base; /* the counter may have wrapped */
    return self->cursor;
}

/* Returns room for `words` words at the cursor, in a chunk that can express the time *now (ticks since its base, 40
   bits). Returns NULL, and counts the loss, if there is none. */
static inline uint64_t *prof__reserve_or_lose(prof__thread *self, uint64_t words, uint64_t *now, uint32_t loss)
{
    if (PROF__UNLIKELY(self->free_words < words || (*now - self->base) >> PROF__TICK_BITS))
        return prof__reserve_slow(self, words, now, loss);
    return self->cursor;
}

/* Reserves words for an event without arguments: see prof__reserve_or_lose(). */
static inline uint64_t *prof__reserve(prof__thread *self, uint64_t words, uint64_t *now)
{
    return prof__reserve_or_lose(self, words, now, PROF__LOSS_EVENT);
}

static void prof__commit(prof__thread *self, uint64_t words)
{
    self->cursor += words;
    self->free_words -= words;
}

/* Detaches the thread from its session. The session's image may be unmapped as soon as `attached` is decremented. */
static void prof__detach(prof__thread *self)
{
    prof__session *s = self->session;
    self->entered = 0;
    self->session = NULL;
    self->chunk = self->filled = NULL;
    self->cursor = self->end = NULL;
    prof__begun_forget(self);
    self->free_words = self->soft = 0;
    self->session_id = self->off_scope.marker = 0;
    if (s) __atomic_fetch_sub(&s->attached, 1, __ATOMIC_RELEASE);
}

#ifndef PROF__SHARED_CHUNKS /* no partial chunks: a chunk serves one thread only */
static prof__chunk *prof__partial_take(prof__session *s, uint64_t *used)
{
    (void)s, (void)used;
    return NULL;
}
static int prof__partial_put(prof__session *s, prof__chunk *chunk, uint32_t words)
{
    (void)s, (void)chunk, (void)words;
    return 0;
}
#else
/* Takes a partial chunk, which another thread has left. *used: set to its used words. Returns NULL if there is none. */
static prof__chunk *prof__partial_take(prof__session *s, uint64_t *used)
{
    for (uint32_t i = 0; i < PROF__MAX_PARTIAL && PROF__LOAD(&s->ring.partial_count); ++i) {
        uint32_t number = PROF__LOAD(&s->ring.partial_chunks[i].chunk), state = PROF__CHUNK_PARTIAL;
        if (!number || number == PROF__PARTIAL_BUSY ||
            !__atomic_compare_exchange_n(&s->ring.partial_chunks[i].chunk, &number, PROF__PARTIAL_BUSY, 0,
                                         __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
            continue;
        prof__chunk *chunk = (prof__chunk *)(void *)(s->chunks + (uint64_t)(number - 1) * 64);
        uint64_t sequence = s->ring.partial_chunks[i].sequence;
        *used = s->ring.partial_chunks[i].words;
        PROF__RELEASE(&s->ring.partial_chunks[i].chunk, 0u);
        __atomic_fetch_sub(&s->ring.partial_count, 1, __ATOMIC_RELAXED);
        if (!__atomic_compare_exchange_n(&chunk->state, &state, PROF__CHUNK_OWNED, 0, __ATOMIC_ACQUIRE,
                                         __ATOMIC_RELAXED))
            continue; /* the ring has reused the chunk */
        if (chunk->sequence == sequence) return chunk;
        /* reused by the ring, and partial again, with another entry */
        PROF__RELEASE(&chunk->state, PROF__CHUNK_PARTIAL);
    }
    return NULL;
}

/* Adds a chunk to the list of partial chunks. words: how many are used. Returns 0 if the list is full. */
static int prof__partial_put(prof__session *s, prof__chunk *chunk, uint32_t words)
{
    for (uint32_t i = 0; i < PROF__MAX_PARTIAL; ++i) {
        uint32_t none = 0;
        if (PROF__LOAD(&s->ring.partial_chunks[i].chunk) ||
            !__atomic_compare_exchange_n(&s->ring.partial_chunks[i].chunk, &none, PROF__PARTIAL_BUSY, 0,
                                         __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
            continue;
        s->ring.partial_chunks[i].sequence = chunk->sequence;
        s->ring.partial_chunks[i].words = words;
        prof__chunk_give(s, chunk, PROF__CHUNK_PARTIAL, 1);
        PROF__RELEASE(&s->ring.partial_chunks[i].chunk, (uint32_t)((uint64_t)((char *)chunk - s->chunks) / 64) + 1);
        __atomic_fetch_add(&s->ring.partial_count, 1, __ATOMIC_RELAXED);
        return 1;
    }
    return 0;
}
#endif

/* Returns 1 if the thread must borrow its chunk for one scope at a time. If there are nearly as many threads as there
   can be chunks, the threads that come last share the rest in this way. A thread that has borrowed often keeps its
   chunk, as long as some are left to share. */
static int prof__borrows_chunk(const prof__thread *self, const prof__session *s)
{
#ifdef PROF_FREESTANDING
    (void)self;
    (void)s;
    return 0;
#else
    uint64_t owned = (uint64_t)PROF__LOAD(&s->attached) * 32, all = PROF__LOAD(&s->chunk_count);
    if (s->header->mode != PROF_FILL) all <<= s->ring.deepest;
    return owned >= all * (self->borrows < PROF__BORROWS ? 24 : 31);
#endif
}

/* Attaches the thread to the session: gives it a chunk, preferably a partial one, and gives its track an id. Returns 0
   if there is no chunk. Under the lock. */
static int prof__attach(prof__thread *self)
{
    prof__session *s = prof__state.session;
    prof__chunk *chunk = NULL;
    uint64_t used = 0;
    self->room.missing = 0; /* the value may be of an earlier session */
    while (!chunk && (chunk = prof__partial_take(s, &used)) != NULL) {
        if ((prof__now(s, 0) - chunk->base.tick) >> (PROF__TICK_BITS - 1)) { /* too old to express the next times */
            PROF__RELEASE(&chunk->state, PROF__CHUNK_FULL);
            prof__room_changed(); /* other threads have seen it taken */
            chunk = NULL;
        }
    }
    if (!chunk) {
        used = 0;
        chunk = prof__chunk_take(s, self->impatient != 0);
        if (!chunk) return 0;
    }
    self->session = s;
    self->session_id = s->session_id;
    self->borrowed_chunk = (uint32_t)prof__borrows_chunk(self, s);
    self->borrows += self->borrowed_chunk;
    __atomic_fetch_add(&s->attached, 1, __ATOMIC_RELAXED);
    self->thread_id = prof__thread_id();
    if (used) prof__chunk_unseal(s, chunk, (size_t)used);
    self->chunk = chunk;
    self->base = chunk->base.tick;
    self->cursor = self->end = prof__chunk_first(chunk) + used;
    prof__track_know(self);
    prof__track_enter(self);
    prof__pair_take(s->clock, s->header->tick_hz, &s->header->last);
    if (!PROF__EXIT_WATCHED_UNLOCKED) prof__on_exit_of_thread(self);
    if (PROF__CRASH_REPORT(s)) prof__signal_stack_take(self);
    return 1;
}

/* Waits until a chunk is released and attaches the thread to the session. Other threads may be faster: then waits
   again. The thread sleeps without the lock, and keeps the session's memory. Returns 0 if it has waited in vain. */
static int prof__attach_later(prof__thread *self, prof__session *s, prof__signals *signals)
{
    int found;
    if (!prof__room_waits(self, s)) return 0;
    do {
        __atomic_fetch_add(&s->attached, 1, __ATOMIC_RELAXED);
        prof__lock_leave(&prof__lock_word, signals);
        found = prof__room_wait(self, s);
        while (!prof__lock_enter(&prof__lock_word, signals)) {
        }
        __atomic_fetch_sub(&s->attached, 1, __ATOMIC_RELEASE);
        found = found && prof__state.running && prof__state.session == s;
    } while (found && !prof__attach(self));
    return found;
}

/* Gives the thread's chunk back when the thread ends or has borrowed it. The unused rest becomes a partial chunk for
   another thread. */
static void prof__give_back(prof__thread *self)
{
    prof__session *s = self->session;
    prof__chunk *chunk = self->chunk;
    prof__track_leave(self);
    prof__filled_finish(self);
    if (!chunk) return; /* given up: see prof__chunk_await() */
    uint64_t words = (uint64_t)(self->cursor - prof__chunk_first(chunk));
    prof__chunk_close(self);
    if (PROF__LOAD(&chunk->lost) || words + 16 > prof__words_of(s, chunk) ||
        !prof__partial_put(s, chunk, (uint32_t)words))
        prof__chunk_give(s, chunk, PROF__CHUNK_FULL, 1);
    prof__room_changed();
}

#ifndef PROF_FREESTANDING
/* Gives the thread's chunk back and detaches the thread from its session. The thread holds its write lock. */
static void prof__thread_detach(prof__thread *self)
{
    if (!self->session) return;
    if (self->session == PROF__LOAD(&prof__state.session)) prof__give_back(self);
    prof__detach(self);
}

/* The destructor of thread-specific data: runs when a thread ends. Later destructors may have scopes, too; these attach
   the thread again, see prof__last_scope_ended(). In a shared library, where records are allocated, this runs in up to
   three rounds. Then the record serves another thread, and this one records no more. */
static void PROF__TSS_END prof__thread_leaves(void *pointer)
{
    prof__thread *self = (prof__thread *)pointer;
    if (!self) return;
    self->write_lock = PROF__BUSY;
    PROF__BARRIER();
    prof__child_check();
    prof__lock(&prof__lock_word);
    if (self->session && self->session == prof__state.session) prof__thread_rename(self, 1);
    if (self->session) self->own.session_id = 0; /* what the thread still records goes to a new track */
    prof__thread_detach(self);
    prof__unlock(&prof__lock_word);
    prof__unscoped_release(&self->own);
    prof__signal_stack_give(self);
    PROF__BRIDGE_FORGET(self, &self->own);
    PROF__BARRIER();
    self->synced_version = 0;
    if (++self->exits < PROF__EXITS) self->write_lock = PROF__SHUT;
    prof__self_leaves(self);
}

/* Called when a scope has ended on a thread with a borrowed chunk, or on one whose destructor has run. Gives the chunk
   back, unless an outer scope is open: nothing may come later that could. */
static PROF__COLD void prof__last_scope_ended(prof__thread *self)
{
    uint32_t write_lock = self->write_lock;
    if (write_lock == PROF__BUSY || !self->session || prof__reserved_ends(self)) return;
    self->write_lock = PROF__BUSY;
    PROF__BARRIER();
    prof__thread_detach(self);
    if (self->exits) {
        PROF__ERRNO_SAVE();
        prof__signal_stack_give(self);
        PROF__BRIDGE_FORGET(self, &self->own);
        PROF__ERRNO_RESTORE();
    }
    PROF__BARRIER();
    self->write_lock = write_lock;
}

static void prof__exit_key_make(void)
{
    if (!prof__exit_key_made) prof__exit_key_made = prof__tss_make(&prof__exit_key, prof__thread_leaves);
}
#endif

#endif /* PROF__RECORD_TRACK_H */
