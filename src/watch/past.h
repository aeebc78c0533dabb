// watch/past: Keeps what is left of the chunks of a running recording, so that a save of the last seconds need not look
// at them.
#ifndef PROF__WATCH_PAST_H
#define PROF__WATCH_PAST_H
#include "api/markup.h"
#include "ground/lock.h"
#include "image/format.h"
#include "record/locks.h"
#include "record/ring.h"
#include "record/state.h"
#include "session/process.h"
#include "watch/remains.h"
#include "watch/sift.h"

/*-- PAST --------------------------------------------------------------------------------------------------- >>past --
   What a window needs of older chunks is little, but to find it each word must be looked at once. So what was found is
   kept from one save to the next, and prof's own thread, if it waits for requests of saves, looks at each chunk soon
   after a thread has left it.
   A stretch is PROF__STRETCH slots of the ring side by side. It has what is left of those of its chunks that it covers,
   put together. A chunk is covered when nobody can write to it any more. It can only change when a thread takes a
   number that leads to its slot, so prof__past_look() looks at the numbers that were taken since, not at the chunks: it
   drops the slot's stretch, because what is left of the other chunks depends on what was in this one.
   A thread may sleep between taking a number and taking the chunk. So a slot is not covered before it has a chunk of
   the last number that led to it. Slots that were split are not covered: there a thread that sleeps for a lap comes to
   another chunk. */

#define PROF__STRETCH 64u
#define PROF__PAST_LEAST 64u  /* slots: prof's thread does not look at a smaller ring, because a save is cheap there */
#define PROF__PAST_SHARE 8u   /* what is kept has at most this part of the ring's size */
#define PROF__PAST_STEP 1024u /* slots that prof's thread looks at in one step */

typedef struct prof__stretch {
    uint64_t covered; /* a bit for each of its slots */
    int folded;       /* 1: what is left of its chunks was put together */
    prof__remains remains;
} prof__stretch;

typedef struct prof__past {
    int lock;
    uint64_t process; /* whose memory this is: not that of its child after a fork */
    const prof__session *session;
    uint32_t session_id;
    prof__sift sift;
    uint64_t slots;   /* as many as the ring had at first */
    uint64_t seen;    /* how many numbers were taken when it last looked */
    uint64_t words;   /* that are kept, in all stretches */
    prof__stretch *stretches;
    uint64_t *expected;     /* for each slot: the last number that led to it */
    unsigned char *listed;  /* 1: the slot is in `active` */
    uint32_t *active;       /* slots that a thread may write to, or that were not looked at yet */
    size_t active_count;
} prof__past;

static prof__past prof__past_kept;

static void prof__past_free(prof__past *past)
{
    for (uint64_t i = 0; past->stretches && i * PROF__STRETCH < past->slots; i++)
        prof__remains_free(&past->stretches[i].remains);
    prof__sift_free(&past->sift);
    free(past->stretches);
    free(past->expected);
    free(past->listed);
    free(past->active);
    memset(&past->sift, 0, sizeof past->sift);
    past->stretches = NULL;
    past->expected = NULL;
    past->listed = NULL;
    past->active = NULL;
    past->active_count = 0;
    past->session = NULL;
    past->slots = past->seen = past->words = 0;
}

/* Begins anew for a session. Returns 0 if there is no memory. */
static int prof__past_make(prof__past *past, const prof__session *s)
{
    prof__past_free(past);
    past->slots = PROF__LOAD(&s->chunk_count);
    size_t slots = (size_t)past->slots, stretches = (slots + PROF__STRETCH - 1) / PROF__STRETCH;
    past->stretches = (prof__stretch *)calloc(stretches + 1, sizeof *past->stretches);
    past->expected = (uint64_t *)calloc(slots + 1, sizeof *past->expected);
    past->listed = (unsigned char *)calloc(slots + 1, 1);
    past->active = (uint32_t *)calloc(slots + 1, sizeof *past->active);
    past->session = s;
    past->session_id = s->session_id;
    int good = past->stretches && past->expected && past->listed && past->active && prof__sift_make(&past->sift, s);
    if (!good) prof__past_free(past);
    return good;
}

/* Takes the lock, and returns what is kept of this session, whose memory the caller keeps. Returns NULL if there is no
   memory or, unless `waits` is 1, if another thread has the lock. */
static prof__past *prof__past_enter(const prof__session *s, int waits)
{
    prof__past *past = &prof__past_kept;
    uint32_t write_lock = prof__state_lock();
    if (past->process != prof__process_id()) { /* a fork may have copied it half changed */
        memset(past, 0, sizeof *past);
        PROF__STORE(&past->process, (uint64_t)prof__process_id());
    }
    prof__state_unlock(write_lock);
    if (waits)
        prof__lock(&past->lock);
    else if (!prof__lock_take(&past->lock, 0))
        return NULL;
    int same = past->session == s && past->session_id == s->session_id;
    if (same && past->sift.sites >= PROF__LOAD(&s->site_count) + 1) return past;
    if (same) { /* there are more call sites now */
        prof__sift_free(&past->sift);
        memset(&past->sift, 0, sizeof past->sift);
        same = prof__sift_make(&past->sift, s);
    }
    if (same || prof__past_make(past, s)) return past;
    prof__past_free(past);
    prof__unlock(&past->lock);
    return NULL;
}

static void prof__past_leave(prof__past *past) { prof__unlock(&past->lock); }

/* Frees what is kept, unless it is of the present session, or in use. Takes no lock of the state, because a child of a
   fork calls this while it has that lock; there it does nothing. */
static void prof__past_drop(void)
{
    prof__past *past = &prof__past_kept;
    if (PROF__LOAD(&past->process) != prof__process_id() || !prof__lock_take(&past->lock, 0)) return;
    if (past->session != PROF__LOAD(&prof__state.session)) prof__past_free(past);
    prof__unlock(&past->lock);
}

static void prof__stretch_drop(prof__past *past, prof__stretch *stretch)
{
    past->words -= stretch->remains.word_count;
    prof__remains_free(&stretch->remains);
    stretch->covered = 0;
    stretch->folded = 0;
}

static int prof__past_covers(const prof__past *past, uint64_t slot)
{
    return (int)(past->stretches[slot / PROF__STRETCH].covered >> slot % PROF__STRETCH & 1);
}

/* Looks which numbers were taken since it last looked, and no longer covers the slots to which they lead. */
static void prof__past_look(prof__past *past)
{
    const prof__session *s = past->session;
    uint64_t next = PROF__ACQUIRE(&s->header->next_chunk), there = prof__chunks_there(s);
    uint64_t count = PROF__LOAD(&s->chunk_count);
    if (next > there && there < count) next = there; /* the system has not given memory for later chunks yet */
    if (count > past->slots) count = past->slots;
    if (next <= past->seen || !count) return;
    for (uint64_t n = next - past->seen > count ? next - count : past->seen; n < next; n++) {
        uint64_t slot = n % count;
        if (prof__past_covers(past, slot)) prof__stretch_drop(past, &past->stretches[slot / PROF__STRETCH]);
        past->expected[slot] = n + 1;
        if (!past->listed[slot]) past->active[past->active_count++] = (uint32_t)slot;
        past->listed[slot] = 1;
    }
    past->seen = next;
}

/* Returns the number of the chunk in this slot if nobody can write to it any more; else 0. */
static uint64_t prof__past_ended(const prof__past *past, uint64_t slot)
{
    const prof__session *s = past->session;
    const prof__chunk *chunk = (const prof__chunk *)(const void *)(s->chunks + slot * s->chunk_size);
    uint64_t sequence = PROF__ACQUIRE(&chunk->sequence);
    uint32_t state = PROF__ACQUIRE(&chunk->state);
    int ended = state == PROF__CHUNK_FREE || (state == PROF__CHUNK_FULL && !prof__chunks_kept(s));
    int whole = !PROF__FORM_DEPTH(PROF__LOAD(&chunk->form));
    return ended && whole && sequence >= past->expected[slot] ? sequence : 0;
}

/* Covers a slot, if its chunk has ended. Returns 1 if it has. */
static int prof__past_cover(prof__past *past, uint64_t slot)
{
    const prof__session *s = past->session;
    prof__stretch *stretch = &past->stretches[slot / PROF__STRETCH];
    prof__remains *r = &stretch->remains;
    uint64_t sequence = prof__past_ended(past, slot), before = r->word_count;
    prof__remains_mark mark = prof__remains_now(r);
    if (!sequence) return 0;
    uint64_t offset = s->header->chunk_offset + slot * s->chunk_size, lost = r->lost, taken_back = r->taken_back;
    if (!prof__remains_add(r, &past->sift, s, offset, s->chunk_size, sequence, ~(uint64_t)0)) return 1;
    if ((past->words + r->word_count - before) * 8 > s->chunk_count * s->chunk_size / PROF__PAST_SHARE) {
        prof__remains_back(r, &mark);
        r->lost = lost;
        r->taken_back = taken_back;
        return 1;
    }
    past->words += r->word_count - before;
    stretch->covered |= (uint64_t)1 << slot % PROF__STRETCH;
    stretch->folded = 0;
    return 1;
}

/* Puts together what is left of a stretch's chunks. Returns 0 if there is no memory. */
static int prof__stretch_fold(prof__past *past, prof__stretch *stretch)
{
    if (stretch->folded) return 1;
    past->words -= stretch->remains.word_count;
    stretch->folded = prof__remains_fold(&stretch->remains, &past->sift);
    past->words += stretch->remains.word_count;
    return stretch->folded;
}

/* Looks at most at `most` slots that threads have left since. Returns how many it has covered. */
static size_t prof__past_step(prof__past *past, size_t most)
{
    size_t left = 0, covered = 0;
    prof__past_look(past);
    for (size_t i = 0; i < past->active_count; i++) {
        uint32_t slot = past->active[i];
        if (prof__past_covers(past, slot)) {
            past->listed[slot] = 0;
        } else if (covered < most && prof__past_cover(past, slot)) {
            prof__stretch *stretch = &past->stretches[slot / PROF__STRETCH];
            past->listed[slot] = 0;
            covered++;
            if (stretch->covered == ~(uint64_t)0) prof__stretch_fold(past, stretch);
        } else {
            past->active[left++] = slot;
        }
    }
    past->active_count = left;
    return covered;
}

/* Looks at all slots, also those whose stretch was dropped, but not at chunks that begin in the window. Then looks for
   numbers that were taken meanwhile. from: the window's first tick. */
static void prof__past_all(prof__past *past, uint64_t from)
{
    const prof__session *s = past->session;
    prof__past_look(past);
    uint64_t there = past->seen < past->slots ? past->seen : past->slots;
    for (uint64_t slot = 0; slot < there; slot++) {
        if (prof__past_covers(past, slot)) continue;
        const prof__chunk *chunk = (const prof__chunk *)(const void *)(s->chunks + slot * s->chunk_size);
        if (PROF__LOAD(&chunk->base.tick) < from) prof__past_cover(past, slot);
    }
    prof__past_look(past);
}

/* What prof's thread does for sessions that save on demand. Returns 1 if there was work. */
static int prof__past_work(const prof__session *s)
{
    if (PROF__LOAD(&s->chunk_count) < PROF__PAST_LEAST || PROF__LOAD(&s->header->archive_offset)) return 0;
    prof__past *past = prof__past_enter(s, 0);
    if (!past) return 0;
    int work = prof__past_step(past, PROF__PAST_STEP) == PROF__PAST_STEP;
    prof__past_leave(past);
    return work;
}

#endif /* PROF__WATCH_PAST_H */
