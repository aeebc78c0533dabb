// watch/window: Copies of the last seconds: the chunks that lie in a window and, of older ones, only what reaches into
// it.
#ifndef PROF__WATCH_WINDOW_H
#define PROF__WATCH_WINDOW_H
#include "api/markup.h"
#include "api/values.h"
#include "ground/errors.h"
#include "ground/hash.h"
#include "image/format.h"
#include "image/pack.h"
#include "image/words.h"
#include "record/locks.h"
#include "record/state.h"
#include "session/snapshot.h"
#include "read/records.h"
#include "watch/past.h"
#include "watch/remains.h"

/*-- WINDOW ----------------------------------------------------------------------------------------------- >>window --
   A copy of the last seconds of a ring costs what these seconds are. Of a chunk that lies before the window it has only
   what is left after sifting: see >>remains. Most such chunks were sifted before: see >>past. What is left of an old
   chunk gets a small chunk, of which several share a slot; of most nothing is left. Serial numbers of what follows are
   reduced, so that readers see no gap where nothing is missing. Gaps that the ring really has stay. */

typedef struct prof__window {
    prof__passing passing; /* the first field: functions get its address */
    prof__session *session;
    const prof__header *header; /* as it was when the copy began */
    uint64_t from;              /* ticks */
    prof__past *past;
    prof__remains old;
    int failed;   /* 1: there was no memory */
    char **slots; /* for each slot of the ring: its copy, or NULL: it has nothing */
    char *lesser; /* slots with small chunks */
    size_t small_count;
} prof__window;

/* Returns 1 if a window needs of a stretch's chunks only what is left of them. */
static int prof__window_takes(const prof__window *w, const prof__stretch *stretch)
{
    return stretch->covered && stretch->remains.newest < w->from;
}

/* Forgets what was copied and sifted, and takes what is left of the chunks that were sifted before. */
static void prof__window_again(prof__passing *passing)
{
    prof__window *w = (prof__window *)(void *)passing;
    prof__past *past = w->past;
    for (uint64_t i = 0; w->slots && i < w->header->chunk_count; i++) {
        free(w->slots[i]);
        w->slots[i] = NULL;
    }
    prof__remains_clear(&w->old);
    prof__past_all(past, w->from);
    for (uint64_t i = 0; i * PROF__STRETCH < past->slots; i++)
        if (prof__window_takes(w, &past->stretches[i]))
            w->failed |= !prof__stretch_fold(past, &past->stretches[i]);
    passing->tick = prof__now(w->session, 0);
    prof__past_look(past);
    passing->newest = past->seen;
    for (uint64_t i = 0; i * PROF__STRETCH < past->slots; i++)
        if (prof__window_takes(w, &past->stretches[i]))
            w->failed |= !prof__remains_take(&w->old, &past->stretches[i].remains);
}

static int prof__window_known(prof__passing *passing, uint64_t slot)
{
    prof__window *w = (prof__window *)(void *)passing;
    return slot < w->past->slots && prof__past_covers(w->past, slot) &&
           prof__window_takes(w, &w->past->stretches[slot / PROF__STRETCH]);
}

static void prof__window_free(prof__window *w)
{
    for (uint64_t i = 0; w->slots && i < w->header->chunk_count; i++) free(w->slots[i]);
    free((void *)w->slots);
    free(w->lesser);
    prof__remains_free(&w->old);
}

static char *prof__window_place(prof__passing *passing, uint64_t offset)
{
    prof__window *w = (prof__window *)(void *)passing;
    uint64_t at = offset - w->header->chunk_offset, slot = at / w->header->chunk_size;
    if (!w->slots[slot]) w->slots[slot] = (char *)calloc(1, w->header->chunk_size);
    return w->slots[slot] ? w->slots[slot] + at % w->header->chunk_size : NULL;
}

/* Sifts a chunk that nobody writes to, if all of it lies before the window. Returns 1 if it was, so that it need not be
   copied. */
static int prof__window_pass(prof__passing *passing, const prof__copied *one)
{
    prof__window *w = (prof__window *)(void *)passing;
    const prof__chunk *chunk = (const prof__chunk *)(const void *)((const char *)w->session->header + one->offset);
    uint32_t state = PROF__LOAD(&chunk->state);
    if (!one->seen || (state != PROF__CHUNK_FULL && state != PROF__CHUNK_FREE)) return 0;
    return prof__remains_add(&w->old, &w->past->sift, w->session, one->offset, one->bytes, one->seen, w->from);
}

/* Notes the segments of a chunk that was copied, and removes its marks, because their serial numbers may change.
   Returns 0 if there is no memory. */
static int prof__window_copied(prof__window *w, const prof__copied *one)
{
    prof__chunk *chunk = (prof__chunk *)(void *)prof__window_place(&w->passing, one->offset);
    if (!chunk) return 0;
    uint64_t *words = (uint64_t *)(void *)(chunk + 1);
    size_t count = (one->bytes - sizeof *chunk) / 8, length;
    if (!chunk->sequence) return 1;
    prof__chunk_unmark(chunk, words, one->bytes, sizeof *chunk);
    for (size_t at = 0; at < count && words[at] >> PROF__KIND_SHIFT; at += length) {
        length = prof__record_words(words[at], count - at);
        if (!length) break;
        if (prof__read_kind(words[at]) != PROF__KIND_TRACK) continue;
        prof__remains *r = &w->old;
        prof__remains_segment *segment =
            (prof__remains_segment *)PROF__MORE(r->segments, r->segment_capacity, r->segment_count);
        if (!segment) return 0;
        segment->track = prof__track_id(words + at);
        segment->serial = segment->last = prof__track_serial(words + at);
        segment->copied = words + at;
        segment->left = 1;
    }
    return 1;
}

/* -- the copy -- */

static int prof__window_larger(const void *a, const void *b)
{
    const prof__remains_chunk *x = *(prof__remains_chunk *const *)a, *y = *(prof__remains_chunk *const *)b;
    if (x->depth != y->depth) return x->depth < y->depth ? -1 : 1;
    return x->header.sequence < y->header.sequence ? -1 : x->header.sequence > y->header.sequence;
}

/* Writes small chunks into slots, the largest first, so that each begins at a multiple of its size. Empty ones fill the
   last slot. Returns 0 if there is no memory. */
static int prof__window_small(prof__window *w, prof__remains_chunk **chunks, size_t count)
{
    uint64_t slot = w->header->chunk_size, bytes = 0, at = 0;
    if (!count) return 1;
    if (count > 1) qsort((void *)chunks, count, sizeof *chunks, prof__window_larger);
    for (size_t i = 0; i < count; i++) bytes += slot >> chunks[i]->depth;
    w->small_count = (size_t)((bytes + slot - 1) / slot);
    w->lesser = (char *)calloc(w->small_count, (size_t)slot);
    if (!w->lesser) return 0;
    for (size_t i = 0; at < w->small_count * slot; i++) {
        const prof__remains_chunk *old = chunks[i < count ? i : count - 1];
        prof__chunk *chunk = (prof__chunk *)(void *)(w->lesser + at);
        chunk->form = old->depth << PROF__FORM_SHIFT;
        at += slot >> old->depth;
        if (i >= count) continue;
        chunk->sequence = old->header.sequence;
        chunk->base = old->header.base;
        chunk->state = PROF__CHUNK_FULL;
        chunk->form |= PROF__FORM_PLAIN;
        prof__remains_of(&w->old, old, (uint64_t *)(void *)(chunk + 1));
    }
    return 1;
}

/* Makes small chunks of what is left of old ones. Returns 0 if there is no memory. */
static int prof__window_write(prof__window *w)
{
    uint64_t slot = w->header->chunk_size;
    prof__remains_chunk **chunks = (prof__remains_chunk **)malloc((w->old.chunk_count + 1) * sizeof *chunks);
    size_t count = 0;
    for (size_t i = 0; chunks && i < w->old.chunk_count; i++) {
        prof__remains_chunk *old = &w->old.chunks[i];
        size_t words = prof__remains_of(&w->old, old, NULL), bytes = sizeof(prof__chunk) + words * 8;
        if (!words) continue;
        for (old->depth = 0; old->depth < 15 && slot >> (old->depth + 1) >= bytes &&
                             slot >> (old->depth + 1) >= PROF__FORM_LEAST && !(slot >> old->depth & 15);)
            old->depth++;
        chunks[count++] = old;
    }
    int good = chunks && prof__window_small(w, chunks, count);
    free((void *)chunks);
    return good;
}

/* Notes the size of an old chunk, so that readers find the next one of its slot. */
static void prof__window_left_out(prof__window *w, const prof__remains_chunk *old)
{
    uint64_t at = old->offset - w->header->chunk_offset;
    char *slot = w->slots[at / w->header->chunk_size];
    if (!slot) return;
    prof__chunk *chunk = (prof__chunk *)(void *)(slot + at % w->header->chunk_size);
    chunk->form |= old->header.form & (15u << PROF__FORM_SHIFT);
}

/* Returns how many slots the copy has; at least one. */
static uint64_t prof__window_used(const prof__window *w)
{
    uint64_t used = w->small_count;
    for (uint64_t i = 0; i < w->header->chunk_count; i++) used += w->slots[i] != NULL;
    return used ? used : 1;
}

/* Makes an empty image with room for the slots and for so many bytes of names. Returns NULL if there is no memory. */
static prof__header *prof__window_image(const prof__window *w, uint64_t meta, size_t *size)
{
    uint64_t chunks = (w->header->meta_offset + meta + PROF__PAGE_BYTES - 1) / PROF__PAGE_BYTES * PROF__PAGE_BYTES;
    *size = (size_t)(chunks + prof__window_used(w) * w->header->chunk_size);
    return (prof__header *)calloc(1, *size);
}

/* Copies the slots into the image, whose header is that of the session, and changes the header accordingly: the small
   chunks, then the others in their cyclic order. The newest is the last, because readers of fibers know by that what
   was copied later. newest: the highest number of a chunk. */
static void prof__window_fill(prof__window *w, prof__header *h, size_t size, uint64_t newest)
{
    uint64_t slots = w->header->chunk_count, bytes = h->chunk_size, used = prof__window_used(w);
    char *to = (char *)h + (size - used * bytes);
    h->image_size = size;
    h->index_offset = h->chunk_offset = size - used * bytes;
    h->index_size = 0;
    h->meta_size = h->chunk_offset - h->meta_offset;
    h->chunk_count = used;
    h->ring_count = slots;
    h->next_chunk = newest > slots ? used + newest / used * used : used; /* a multiple: the last slot is the newest */
    if (w->small_count) memcpy(to, w->lesser, w->small_count * (size_t)bytes);
    to += w->small_count * bytes;
    for (uint64_t i = 0, at = newest % slots; i < slots; i++, at = at + 1 < slots ? at + 1 : 0) {
        const char *slot = w->slots[at];
        if (!slot) continue;
        memcpy(to, slot, (size_t)bytes);
        to += bytes;
    }
}

#define PROF__WINDOW_NAMES 4096u /* bytes for names that come meanwhile, and for metadata about the save */

/* Makes the image of a window that was copied. Returns NULL if there is no memory. */
static void *prof__window_finish(prof__window *w, const prof__copying *c, uint64_t taken_back, size_t *size)
{
    size_t i;
    int good = !w->failed;
    prof__header *h = NULL;
    for (i = 0; good && i < c->count; i++) good = c->chunks[i].passed || prof__window_copied(w, &c->chunks[i]);
    good = good && prof__remains_tracks(&w->old, &w->past->sift, 1) && prof__window_write(w);
    for (uint64_t meta = 0; good && !h;) {
        uint32_t write_lock = prof__state_lock();
        uint64_t needed = w->session->header->meta_used;
        prof__state_unlock(write_lock);
        meta = needed + PROF__WINDOW_NAMES;
        h = prof__window_image(w, meta, size);
        if (!h) return NULL;
        write_lock = prof__state_lock();
        int fits = w->session->header->meta_used + PROF__WINDOW_NAMES / 2 <= meta;
        if (fits) prof__copy_header(w->session, (char *)h, w->header, c->newest, c->tick, taken_back);
        prof__state_unlock(write_lock);
        if (fits) break;
        free(h);
        h = NULL;
    }
    for (i = 0; h && i < w->old.chunk_count; i++) prof__window_left_out(w, &w->old.chunks[i]);
    if (!h) return NULL;
    h->lost += w->old.lost;
    h->taken_back += w->old.taken_back;
    prof__window_fill(w, h, *size, c->newest);
    return h;
}

/* Copies the window that begins at the tick w->from of a session for which prof__copy_begin() was called. h: the
   session's header, as it was then. Returns NULL if there is no memory. */
static void *prof__window_copy(prof__window *w, prof__session *s, const prof__header *h, uint64_t taken_back,
                               size_t *size)
{
    prof__copying c;
    void *image = NULL;
    memset(&c, 0, sizeof c);
    prof__source source = PROF__SOURCE(prof__session_read, s);
    w->passing.again = prof__window_again;
    w->passing.pass = prof__window_pass;
    w->passing.place = prof__window_place;
    w->passing.known = prof__window_known;
    w->session = s;
    w->header = h;
    w->slots = (char **)calloc((size_t)h->chunk_count + 1, sizeof *w->slots);
    c.passing = &w->passing;
    w->past = prof__past_enter(s, 1);
    if (w->slots && w->past && prof__chunks_snapshot_of(&c, &source, h))
        image = prof__window_finish(w, &c, taken_back, size);
    if (w->past) prof__past_leave(w->past);
    free(c.chunks);
    prof__window_free(w);
    return image;
}

#endif /* PROF__WATCH_WINDOW_H */
