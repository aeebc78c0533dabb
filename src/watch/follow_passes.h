// watch/follow_passes: A follower's tracks, and its passes: which chunks it reads, how far, and in which order.
#ifndef PROF__WATCH_FOLLOW_PASSES_H
#define PROF__WATCH_FOLLOW_PASSES_H
#include "api/markup.h"
#include "ground/hash.h"
#include "ground/lock.h"
#include "image/format.h"
#include "image/pack.h"
#include "image/pair.h"
#include "image/words.h"
#include "record/ring.h"
#include "record/state.h"
#include "session/file.h"
#include "session/snapshot.h"
#include "read/clock.h"
#include "read/records.h"
#include "watch/follow.h"
#include "watch/follow_scopes.h"
#include "watch/follow_spans.h"

/*-- tracks --*/

static void prof__follow_unlink(prof__follow *f, uint32_t number)
{
    prof__follow_track *t = &f->tracks[number - 1];
    *(t->newer ? &f->tracks[t->newer - 1].older : &f->newest) = t->older;
    *(t->older ? &f->tracks[t->older - 1].newer : &f->oldest) = t->newer;
}

static void prof__follow_link(prof__follow *f, uint32_t number)
{
    prof__follow_track *t = &f->tracks[number - 1];
    t->newer = 0;
    t->older = f->newest;
    *(f->newest ? &f->tracks[f->newest - 1].newer : &f->oldest) = number;
    f->newest = number;
}

static uint32_t *prof__follow_bucket(prof__follow *f, uint64_t id)
{
    return &f->buckets[(uint32_t)prof__mix(id) & f->bucket_mask];
}

static uint32_t prof__follow_find(prof__follow *f, uint64_t id)
{
    uint32_t number = *prof__follow_bucket(f, id);
    while (number && f->tracks[number - 1].id != id) number = f->tracks[number - 1].next;
    return number;
}

static void prof__follow_forget(prof__follow *f, uint32_t number)
{
    prof__follow_track *t = &f->tracks[number - 1];
    uint32_t *link = prof__follow_bucket(f, t->id);
    prof__follow_give_up(f, t);
    while (*link != number) link = &f->tracks[*link - 1].next;
    *link = t->next;
    prof__follow_unlink(f, number);
    f->gaps++; /* if the track goes on, the records up to there may be incomplete */
}

/* Adds a track that is new, or that was dropped before. */
static uint32_t prof__follow_meet(prof__follow *f, uint64_t id)
{
    int partial = f->gaps != 0;
    uint32_t number = f->track_count < f->track_limit ? ++f->track_count : f->oldest;
    prof__follow_track *t = &f->tracks[number - 1];
    if (number == f->oldest && t->id) prof__follow_forget(f, number);
    t->id = id;
    t->number = t->tick = 0;
    t->slot = 0;
    t->match.partial = partial;
    t->next = *prof__follow_bucket(f, id);
    *prof__follow_bucket(f, id) = number;
    prof__follow_link(f, number);
    return number;
}

static prof__follow_track *prof__follow_use(prof__follow *f, uint64_t id)
{
    uint32_t number = prof__follow_find(f, id);
    if (!number) number = prof__follow_meet(f, id);
    if (f->newest != number) {
        prof__follow_unlink(f, number);
        prof__follow_link(f, number);
    }
    return &f->tracks[number - 1];
}

/* Ends the part of a track that is in a slot: no more records of that track follow there. */
static void prof__follow_part_ends(prof__follow *f, uint32_t slot)
{
    uint32_t number = f->slots[slot].track ? prof__follow_find(f, f->slots[slot].track) : 0;
    if (number && f->tracks[number - 1].slot == slot + 1) f->tracks[number - 1].slot = 0;
    f->slots[slot].track = 0;
}

/* Reads a TRACK record, with which the next part of a track begins in a slot. Returns NULL if the track's previous part
   may not have been read yet: then the slot has to wait.
   patient: 1 if the slot has waited already, and no other slot can be read further. Then the previous part is taken as
   complete, although its thread had no space to record the end, or as missing. BEGIN records at the end of a complete
   part are read in the next pass, before this record: once the track has left a slot, nothing removes them. */
static prof__follow_track *prof__follow_switch(prof__follow *f, uint32_t slot, const uint64_t *record, int patient)
{
    uint64_t id = prof__track_id(record), number = prof__track_serial(record);
    uint32_t known = prof__follow_find(f, id);
    prof__follow_track *t = known ? &f->tracks[known - 1] : NULL;
    uint64_t ahead = number - (t ? t->number : 0); /* serials begin with 1 */
    if (t && t->slot && t->slot != slot + 1) {
        uint64_t *left = &f->slots[t->slot - 1].left;
        if (!*left) *left = f->pass;
        if (!patient || *left == f->pass) return NULL;
    }
    if (!patient && ahead > 1) return NULL;
    t = prof__follow_use(f, id);
    if (ahead > 1) {
        f->gaps++;
        prof__follow_give_up(f, t);
    }
    t->number = number;
    if (f->slots[slot].track != id) prof__follow_part_ends(f, slot);
    f->slots[slot].track = id;
    f->slots[slot].left = 0;
    t->slot = slot + 1;
    return t;
}

/*-- passes --*/

/* Makes the arrays large enough for slots that were halved `depth` times. Returns 0 without memory. */
static int prof__follow_places(prof__follow *f, uint32_t depth)
{
    size_t places = (size_t)f->stride << depth;
    if (places <= f->places) return 1;
    void *slots = realloc(f->slots, places * sizeof *f->slots);
    if (slots) f->slots = (prof__follow_slot *)slots;
    void *active = realloc(f->active, places * sizeof *f->active);
    if (active) f->active = (uint32_t *)active;
    void *order = realloc(f->order, places * sizeof *f->order);
    if (order) f->order = (prof__follow_order *)order;
    if (!slots || !active || !order) return 0;
    memset(f->slots + f->places, 0, (places - f->places) * sizeof *f->slots);
    f->places = places;
    return 1;
}

/* Returns the number of the slot that a chunk is in. Numbers do not change when slots are split: the first chunk of a
   slot keeps its number, and each further part gets a number that is larger by a multiple of f->stride. Laps of a ring
   visit the parts in this order: see prof__chunk_at(). */
static uint32_t prof__follow_place(const prof__follow *f, const prof__chunk *chunk)
{
    uint64_t offset = (uint64_t)((const char *)chunk - f->session->chunks), size = f->session->chunk_size;
    uint64_t place = offset / size, rest = offset % size, round = f->stride;
    for (; rest; round *= 2) {
        size /= 2;
        if (rest < size) continue;
        rest -= size;
        place += round;
    }
    return (uint32_t)place;
}

static prof__chunk *prof__follow_chunk(const prof__follow *f, uint32_t place)
{
    uint64_t size = f->session->chunk_size, offset = place % f->stride * size;
    for (uint64_t rounds = place / f->stride; rounds; rounds /= 2) {
        size /= 2;
        if (rounds % 2) offset += size;
    }
    return (prof__chunk *)(void *)(f->session->chunks + offset);
}

/* Returns up to which word a chunk has whole records that will stay. If the session has a minimum duration, the BEGIN
   records at the end may still be removed, and so do not count. */
static uint32_t prof__follow_limit(const prof__follow *f, uint32_t slot)
{
    const prof__session *s = f->session;
    const uint64_t *words = prof__chunk_first(prof__follow_chunk(f, slot));
    size_t at = f->slots[slot].at, safe = at, length, count = (size_t)prof__words_of(s, prof__follow_chunk(f, slot));
    int keeps = !s->min_ticks || f->slots[slot].ended || PROF__ACQUIRE(&s->header->state) == PROF__STOPPED, begins = 0;
    int left = f->slots[slot].left != 0;
    for (; at < count; at += length) {
        uint64_t head = PROF__ACQUIRE(words + at);
        length = prof__record_words(head, count - at);
        if (!length) break;
        if (prof__read_kind(head) != PROF__KIND_NAME) begins = prof__read_kind(head) == PROF__KIND_BEGIN;
        if (prof__read_kind(head) == PROF__KIND_TRACK) left = 0;
        if (keeps || left || !begins) safe = at + length;
    }
    return (uint32_t)safe;
}

/* Gives up a chunk that was reused before all of it was read. */
static void prof__follow_missed(prof__follow *f, uint32_t slot)
{
    prof__follow_part_ends(f, slot);
    f->slots[slot].sequence = 0;
    f->slots[slot].waits = 0;
    f->gaps++;
}

/* Copies the words of a slot that are to be read to f->words. Returns 0 if the chunk has been reused meanwhile. */
static size_t prof__follow_copy(prof__follow *f, uint32_t slot)
{
    const prof__follow_slot *it = &f->slots[slot];
    prof__chunk *chunk = prof__follow_chunk(f, slot);
    uint64_t *words = prof__chunk_first(chunk) + it->at;
    size_t count = it->limit - it->at;
    prof__memory_read(words, 0, f->words, count * sizeof *words);
    if (f->session->min_ticks) {
        prof__memory_read(words, 0, f->again, count * sizeof *words);
        prof__chunk_cut(f->words, f->again, count);
    }
    return PROF__ACQUIRE(&chunk->sequence) == it->sequence ? count : 0;
}

/* Returns the time of the first record that has one. Returns ~0 if none has. */
static uint64_t prof__follow_tick_at(uint64_t base, const uint64_t *words, size_t count)
{
    size_t at, length;
    for (at = 0; at < count && (length = prof__record_length(words[at], count - at)) != 0; at += length)
        if (prof__record_timed(words[at])) return prof__read_tick(base, words[at], 0);
    return ~(uint64_t)0;
}

/* Reads a slot up to its limit, or up to a TRACK record for which it has to wait. Returns 1 if it read something.
   patient: see prof__follow_switch(). */
static int prof__follow_read(prof__follow *f, uint32_t slot, int patient)
{
    prof__follow_slot *it = &f->slots[slot];
    size_t count, at = 0, length;
    if (it->at == it->limit) return 0;
    count = prof__follow_copy(f, slot);
    if (!count) {
        prof__follow_missed(f, slot);
        return 1;
    }
    prof__follow_track *t = it->track ? prof__follow_use(f, it->track) : NULL;
    for (; at < count; at += length) {
        length = prof__record_words(f->words[at], count - at);
        if (!length) break;
        if (prof__read_kind(f->words[at]) == PROF__KIND_TRACK) {
            prof__follow_track *now = prof__follow_switch(f, slot, f->words + at, patient);
            if (!now) {
                if (!it->waits || at) it->waits = f->pass;
                it->tick = prof__follow_tick_at(it->base, f->words + at, count - at);
                break;
            }
            t = now;
            patient = 0;
            it->waits = 0;
        } else if (t) {
            prof__follow_record(f, t, it->base, f->words + at, count - at - 1);
        }
    }
    it->at += (uint32_t)at;
    return at != 0;
}

/* Finishes a chunk that was read to its end and that no thread writes to any more. With statistics, first releases the
   chunk, so that threads can take it again. Does nothing if a thread has taken it back meanwhile. */
static void prof__follow_leave(prof__follow *f, uint32_t slot)
{
    prof__follow_slot *it = &f->slots[slot];
    prof__chunk *chunk = prof__follow_chunk(f, slot);
    uint64_t lost = PROF__LOAD(&chunk->lost);
    if (!it->sequence || !it->ended || it->at != it->limit) return;
    if (f->stats && !prof__chunk_release(f->session, chunk, PROF__CHUNK_FULL)) return;
    prof__follow_part_ends(f, slot);
    it->done = it->sequence;
    it->sequence = 0;
    if (f->stats) f->lost += lost;
}

static int prof__follow_newer(const void *a, const void *b)
{
    const prof__follow_order *x = (const prof__follow_order *)a, *y = (const prof__follow_order *)b;
    return x->sequence < y->sequence ? 1 : -1;
}

/* Makes f->order a list of the slots with something to read, the newest chunk first. Returns how many there are. */
static size_t prof__follow_gather(prof__follow *f)
{
    const prof__session *s = f->session;
    uint64_t next = PROF__ACQUIRE(&s->header->next_chunk), there = prof__chunks_there(s);
    uint64_t count = PROF__LOAD(&s->chunk_count);
    size_t found = 0;
    if (next > there && there < count) next = there; /* the system has not given memory for later chunks yet */
    uint64_t lap = PROF__SEARCH(s, count);
    for (uint64_t n = next - f->seen > lap ? next - lap : f->seen; n < next; n++) {
        uint32_t slot = prof__follow_place(f, prof__chunk_at(s, count, n));
        if (slot >= f->places && !prof__follow_places(f, PROF__LOAD(&s->ring.depth))) continue;
        f->slots[slot].expected = n + 1;
        if (!f->slots[slot].active) f->active[f->active_count++] = slot;
        f->slots[slot].active = 1;
    }
    f->seen = next;
    for (size_t i = 0; i < f->active_count; i++) {
        prof__follow_slot *it = &f->slots[f->active[i]];
        prof__chunk *chunk = prof__follow_chunk(f, f->active[i]);
        uint64_t sequence = PROF__ACQUIRE(&chunk->sequence);
        if (it->sequence && it->sequence != sequence) prof__follow_missed(f, f->active[i]);
        if (!it->sequence && sequence > it->done && sequence <= next) {
            it->sequence = sequence;
            it->base = PROF__LOAD(&chunk->base.tick);
            it->track = 0;
            it->at = it->limit = 0;
            it->waits = 0;
            it->left = 0;
        }
        if (!it->sequence) continue;
        f->order[found].sequence = it->sequence;
        f->order[found++].slot = f->active[i];
    }
    if (found > 1) qsort(f->order, found, sizeof *f->order, prof__follow_newer);
    return found;
}

/* Makes a partial chunk, which a thread left when it ended, complete if few free chunks remain. So no other thread goes
   on in it, and the follower can free it. */
static void prof__follow_scarce(prof__follow *f, prof__chunk *chunk, uint32_t state)
{
    const prof__session *s = f->session;
    if (f->stats && state == PROF__CHUNK_PARTIAL &&
        PROF__LOAD(&s->ring.free_chunks) < (int32_t)(PROF__LOAD(&s->ring.pieces) / 4))
        __atomic_compare_exchange_n(&chunk->state, &state, (uint32_t)PROF__CHUNK_FULL, 0, __ATOMIC_ACQUIRE,
                                    __ATOMIC_RELAXED);
}

static void prof__follow_limits(prof__follow *f, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t slot = f->order[i].slot;
        prof__chunk *chunk = prof__follow_chunk(f, slot);
        prof__follow_scarce(f, chunk, PROF__LOAD(&chunk->state));
        uint32_t state = PROF__ACQUIRE(&chunk->state);
        f->slots[slot].ended = state == PROF__CHUNK_FULL || state == PROF__CHUNK_FREE;
        f->slots[slot].limit = prof__follow_limit(f, slot);
    }
}

static void prof__follow_rate(prof__follow *f)
{
    const prof__session *s = f->session;
    const prof__pair *first = &s->header->first;
    prof__pair now;
    prof__pair_take(s->clock, s->header->tick_hz, &now);
    uint64_t ns = now.monotonic_ns - first->monotonic_ns, ticks = now.tick - first->tick, hz = s->header->tick_hz;
    if (now.tick > first->tick && now.monotonic_ns > first->monotonic_ns) /* prof__read_lines() does so, too */
        f->ns_per_tick = hz && ns < 10000000 ? 1e9 / prof__real(hz) : prof__real(ns) / prof__real(ticks);
    if (s->clock == PROF_CLOCK_MONOTONIC) f->ns_per_tick = 1;
}

/* Reads the waiting slots as far as possible. If none can go on, the slot with the earliest record waits no longer.
   Returns 1 if it read something. */
static int prof__follow_retry(prof__follow *f, size_t count)
{
    const prof__follow_slot *earliest = NULL;
    uint32_t slot, chosen = 0;
    int progress = 0;
    for (size_t i = count; i-- > 0;) {
        const prof__follow_slot *it = &f->slots[slot = f->order[i].slot];
        if (!it->sequence || !it->waits) continue;
        progress |= prof__follow_read(f, slot, 0);
        prof__follow_leave(f, slot);
        if (!it->sequence || !it->waits || (earliest && it->tick >= earliest->tick)) continue;
        earliest = it;
        chosen = slot;
    }
    if (progress || !earliest || earliest->tick == ~(uint64_t)0 || earliest->waits == f->pass) return progress;
    progress = prof__follow_read(f, chosen, 1); /* no slot has the part that this one waits for */
    prof__follow_leave(f, chosen);
    return progress;
}

/* Reads what has been recorded so far. Returns 1 if threads have taken new chunks meanwhile. The caller holds
   f->lock. */
static int prof__follow_pass(prof__follow *f)
{
    uint64_t seen = f->seen;
    f->pass++;
    prof__follow_rate(f);
    size_t count = prof__follow_gather(f), active = 0;
    prof__follow_limits(f, count);
    for (size_t i = count; i-- > 0;) {
        prof__follow_read(f, f->order[i].slot, 0);
        prof__follow_leave(f, f->order[i].slot);
    }
    while (prof__follow_retry(f, count)) {
    }
    for (size_t i = 0; i < f->active_count; i++) {
        prof__follow_slot *it = &f->slots[f->active[i]];
        it->active = it->sequence || it->done < it->expected;
        if (it->active) f->active[active++] = f->active[i];
    }
    f->active_count = active;
    return f->seen != seen;
}

/* Reads everything that was recorded so far. Repeats passes while slots wait, at most 100 times. */
static void prof__follow_all(prof__follow *f)
{
    int waiting = 1;
    prof__follow_pass(f);
    for (int i = 0; i < 100 && waiting; i++) {
        waiting = 0;
        for (size_t j = 0; j < f->active_count; j++) waiting |= f->slots[f->active[j]].waits != 0;
        if (waiting) prof__follow_pass(f);
    }
}

static int prof__follow_step(prof__session *s)
{
    prof__follow *f = s->follow;
    int work;
    if (!f || (!f->stats && !f->rule_count)) return 0;
    prof__lock(&f->lock);
    work = prof__follow_pass(f);
    prof__unlock(&f->lock);
    return work;
}

#endif /* PROF__WATCH_FOLLOW_PASSES_H */
