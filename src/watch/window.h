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
#include "watch/sift.h"

/*-- WINDOW ----------------------------------------------------------------------------------------------- >>window --
   A copy of the last seconds of a ring costs what these seconds are, and a look at each older word. A full chunk whose
   records all lie before the window is not copied: it is sifted in place (see >>sift), like any chunk of a running
   recording without a lock: afterwards its number must be the same. Its segments are put together, track by track,
   in the order of their serial numbers, so that a scope whose begin and end are in different chunks goes as well. What
   is left of an old chunk gets a small chunk, of which several share a slot; of most nothing is left. Serial numbers of
   what follows are reduced, so that readers see no gap where nothing is missing. Gaps that the ring really has stay. */

/* A record of an old chunk that may reach into the window. */
typedef struct prof__window_record {
    size_t place; /* in `words` */
    uint32_t length;
    int left; /* 1: it does */
} prof__window_record;

/* A segment of a chunk: the records of one track. */
typedef struct prof__window_segment {
    uint64_t track, serial;
    uint64_t *copied;    /* its TRACK record, if the chunk was copied; else NULL */
    size_t chunk, place; /* else: index in `chunks`; its TRACK record in `words` */
    size_t first, count; /* else: its records in `records` */
    int left;            /* 1: it is part of the copy */
} prof__window_segment;

/* A chunk that was sifted. */
typedef struct prof__window_chunk {
    prof__chunk header;
    uint64_t offset;
    size_t segment, segment_count;
    uint32_t depth; /* how often the slot is halved that its small chunk gets a part of */
} prof__window_chunk;

typedef struct prof__window {
    prof__passing passing; /* the first field: functions get its address */
    prof__session *session;
    const prof__header *header; /* as it was when the copy began */
    uint64_t from;              /* ticks */
    prof__sift sift;
    char **slots; /* for each slot of the ring: its copy, or NULL: it has nothing */
    char *lesser; /* slots with small chunks */
    size_t small_count;
    uint64_t *words;
    prof__window_record *records;
    prof__window_chunk *chunks;
    prof__window_segment *segments;
    size_t word_count, word_capacity, record_count, record_capacity, chunk_count, chunk_capacity;
    size_t segment_count, segment_capacity;
} prof__window;

/* Forgets what was copied and sifted. */
static void prof__window_again(prof__passing *passing)
{
    prof__window *w = (prof__window *)(void *)passing;
    for (uint64_t i = 0; w->slots && i < w->header->chunk_count; i++) {
        free(w->slots[i]);
        w->slots[i] = NULL;
    }
    w->word_count = w->record_count = w->chunk_count = w->segment_count = 0;
}

static void prof__window_free(prof__window *w)
{
    prof__window_again(&w->passing);
    free((void *)w->slots);
    free(w->lesser);
    free(w->words);
    free(w->records);
    free(w->chunks);
    free(w->segments);
    prof__sift_free(&w->sift);
}

static char *prof__window_place(prof__passing *passing, uint64_t offset)
{
    prof__window *w = (prof__window *)(void *)passing;
    uint64_t at = offset - w->header->chunk_offset, slot = at / w->header->chunk_size;
    if (!w->slots[slot]) w->slots[slot] = (char *)calloc(1, w->header->chunk_size);
    return w->slots[slot] ? w->slots[slot] + at % w->header->chunk_size : NULL;
}

/* -- sifting a chunk -- */

/* Adds words of a chunk. Returns their index in `words`, or PROF__NONE if there is no memory. */
static size_t prof__window_words(prof__window *w, const uint64_t *from, size_t count)
{
    size_t place = w->word_count;
    while (w->word_capacity - place < count)
        if (!prof__more_room(&w->words, &w->word_capacity, sizeof *w->words)) return PROF__NONE;
    for (size_t i = 0; i < count; i++) w->words[place + i] = PROF__ACQUIRE(from + i);
    w->word_count += count;
    return place;
}

/* Adds what was sifted of a chunk's last segment, in order. Returns 0 if there is no memory. */
static int prof__window_keep(prof__window *w, const uint64_t *words, size_t count)
{
    prof__window_segment *segment = &w->segments[w->segment_count - 1];
    const prof__sift *sift = &w->sift;
    size_t i = 1, j = 0; /* the first element of scopes is no record */
    segment->first = w->record_count;
    while (i < sift->scope_count || j < sift->other_count) {
        uint64_t scope = i < sift->scope_count ? sift->scopes[i] : ~(uint64_t)0;
        uint64_t other = j < sift->other_count ? sift->others[j] : ~(uint64_t)0;
        int first = !(scope >> PROF__KIND_SHIFT) ||
                    (other >> PROF__KIND_SHIFT && (scope & PROF__TICK_MASK) < (other & PROF__TICK_MASK));
        uint64_t element = first ? scope : other;
        size_t at = (size_t)(element & PROF__TICK_MASK);
        first ? i++ : j++;
        if (!(element >> PROF__KIND_SHIFT)) continue;
        size_t length = prof__record_words(PROF__ACQUIRE(words + at), count - at);
        size_t place = prof__window_words(w, words + at, length);
        prof__window_record *record =
            (prof__window_record *)PROF__MORE(w->records, w->record_capacity, w->record_count);
        if (!record || !length || place == PROF__NONE) return 0;
        record->place = place;
        record->length = (uint32_t)length;
    }
    segment->count = w->record_count - segment->first;
    return 1;
}

/* Begins a segment of a chunk that is sifted. Returns 0 if there is no memory. */
static int prof__window_segment_begin(prof__window *w, const uint64_t *record)
{
    prof__window_segment *segment =
        (prof__window_segment *)PROF__MORE(w->segments, w->segment_capacity, w->segment_count);
    size_t place = prof__window_words(w, record, 3);
    if (!segment || place == PROF__NONE) return 0;
    segment->chunk = w->chunk_count;
    segment->place = place;
    segment->track = prof__track_id(w->words + place);
    segment->serial = prof__track_serial(w->words + place);
    prof__sift_begin(&w->sift, 1);
    return 1;
}

/* Sifts the words of a chunk. *last: set to the largest tick. Returns 0 if they cannot be sifted. */
static int prof__window_sift(prof__window *w, const uint64_t *words, size_t count, uint64_t *last)
{
    size_t at = 0, length, first = w->segment_count;
    if (!prof__sift_room(&w->sift, count)) return 0;
    for (; at < count; at += length) {
        uint64_t head = PROF__ACQUIRE(words + at);
        unsigned kind = prof__read_kind(head);
        length = prof__record_words(head, count - at);
        if (!kind || !length) break;
        if (kind == PROF__KIND_TRACK) {
            if (w->segment_count > first && !prof__window_keep(w, words, count)) return 0;
            if (!prof__window_segment_begin(w, words + at)) return 0;
            continue;
        }
        if (w->segment_count == first) return 0;
        size_t next = prof__sift_scopes(&w->sift, words, at, count, last);
        if (next > at) {
            length = next - at;
            continue;
        }
        if (prof__record_timed(head)) *last = prof__sift_latest(words, at, at + 1, *last);
        prof__sift_record(&w->sift, words + at, (uint32_t)length, at);
    }
    int whole = at == count || !(PROF__ACQUIRE(words + at) >> PROF__KIND_SHIFT);
    return whole && w->segment_count > first && prof__window_keep(w, words, count);
}

/* Sifts a chunk that nobody writes to, if all of it lies before the window. Returns 1 if it was, so that it need not be
   copied. */
static int prof__window_pass(prof__passing *passing, const prof__copied *one)
{
    prof__window *w = (prof__window *)(void *)passing;
    const prof__chunk *chunk = (const prof__chunk *)(const void *)((const char *)w->session->header + one->offset);
    size_t words = w->word_count, records = w->record_count, segments = w->segment_count;
    uint64_t last = 0;
    uint32_t state = PROF__LOAD(&chunk->state);
    if (!one->seen || PROF__ACQUIRE(&chunk->sequence) != one->seen) return 0;
    if (state != PROF__CHUNK_FULL && state != PROF__CHUNK_FREE) return 0;
    prof__window_chunk *old = (prof__window_chunk *)PROF__MORE(w->chunks, w->chunk_capacity, w->chunk_count);
    if (!old) return 0;
    w->chunk_count--;
    prof__memory_read(w->session->header, one->offset, &old->header, sizeof old->header);
    old->offset = one->offset;
    old->segment = segments;
    if (old->header.base.tick < w->from &&
        prof__window_sift(w, (const uint64_t *)(const void *)(chunk + 1), (one->bytes - sizeof *chunk) / 8, &last) &&
        old->header.base.tick + last < w->from && PROF__ACQUIRE(&chunk->sequence) == one->seen) {
        old->segment_count = w->segment_count - segments;
        w->chunk_count++;
        return 1;
    }
    w->word_count = words;
    w->record_count = records;
    w->segment_count = segments;
    return 0;
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
        prof__window_segment *segment =
            (prof__window_segment *)PROF__MORE(w->segments, w->segment_capacity, w->segment_count);
        if (!segment) return 0;
        segment->track = prof__track_id(words + at);
        segment->serial = prof__track_serial(words + at);
        segment->copied = words + at;
        segment->left = 1;
    }
    return 1;
}

/* -- putting segments together -- */

static int prof__window_order(const void *a, const void *b)
{
    const prof__window_segment *x = *(prof__window_segment *const *)a, *y = *(prof__window_segment *const *)b;
    if (x->track != y->track) return x->track < y->track ? -1 : 1;
    return x->serial < y->serial ? -1 : x->serial > y->serial;
}

/* Finds the records of a track's old segments that reach into the window. Returns 0 if there is no memory. */
static int prof__window_join(prof__window *w, prof__window_segment **of, size_t count)
{
    prof__sift *sift = &w->sift;
    size_t records = count, i, k;
    for (i = 0; i < count; i++) records += of[i]->count;
    if (!prof__sift_room(sift, records)) return 0;
    prof__sift_begin(sift, 0);
    for (i = 0; i < count; i++) {
        /* Scopes may have begun or ended in a segment that was copied, or in one that is missing. */
        if (of[i]->copied || (i && of[i]->serial != of[i - 1]->serial + 1)) prof__sift_bar(sift);
        for (k = of[i]->first; k < of[i]->first + of[i]->count; k++)
            prof__sift_record(sift, w->words + w->records[k].place, w->records[k].length, k);
    }
    for (i = 1; i < sift->scope_count; i++)
        if (sift->scopes[i]) w->records[sift->scopes[i] & PROF__TICK_MASK].left = 1;
    for (i = 0; i < sift->other_count; i++)
        if (sift->others[i]) w->records[sift->others[i] & PROF__TICK_MASK].left = 1;
    for (i = 0; i < count; i++)
        for (k = of[i]->first; k < of[i]->first + of[i]->count; k++) of[i]->left |= w->records[k].left;
    return 1;
}

static void prof__window_serial_set(uint64_t *record, uint64_t serial)
{
    record[0] = (record[0] & ~(0xFFFFFFFull << 32)) | (serial & 0xFFFFFFF) << 32;
    record[1] = (record[1] & PROF__TICK_MASK) | serial >> 28 << PROF__TICK_BITS;
}

/* Numbers the segments of a track that are left. If the oldest was sifted, nothing of the window is missing, and the
   first gets number 1. */
static void prof__window_numbers(prof__window *w, prof__window_segment **of, size_t count)
{
    uint64_t serial = 0, missing = 0;
    for (size_t i = 0; i < count; i++) {
        if (serial && of[i]->serial > of[i - 1]->serial) missing += of[i]->serial - of[i - 1]->serial - 1;
        if (!of[i]->left) continue;
        if (serial)
            serial += missing + 1;
        else
            serial = of[0]->copied ? of[i]->serial : 1;
        missing = 0;
        prof__window_serial_set(of[i]->copied ? of[i]->copied : w->words + of[i]->place, serial);
    }
}

/* Finds out what is left of the old chunks, and numbers the segments. Returns 0 if there is no memory. */
static int prof__window_tracks(prof__window *w)
{
    size_t count = w->segment_count, i, next;
    prof__window_segment **order = (prof__window_segment **)malloc((count + 1) * sizeof *order);
    int good = order != NULL;
    for (i = 0; good && i < count; i++) order[i] = &w->segments[i];
    if (good && count > 1) qsort((void *)order, count, sizeof *order, prof__window_order);
    for (i = 0; good && i < count; i = next) {
        for (next = i + 1; next < count && order[next]->track == order[i]->track;) next++;
        good = prof__window_join(w, order + i, next - i);
        if (good) prof__window_numbers(w, order + i, next - i);
    }
    free((void *)order);
    return good;
}

/* -- the copy -- */

/* Returns how many words are left of an old chunk. to: NULL, or where they are written to. */
static size_t prof__window_left(const prof__window *w, const prof__window_chunk *old, uint64_t *to)
{
    size_t count = 0;
    for (size_t i = old->segment; i < old->segment + old->segment_count; i++) {
        const prof__window_segment *segment = &w->segments[i];
        if (!segment->left) continue;
        if (to) memcpy(to + count, w->words + segment->place, 3 * sizeof *to);
        count += 3;
        for (size_t k = segment->first; k < segment->first + segment->count; k++) {
            const prof__window_record *record = &w->records[k];
            if (!record->left) continue;
            if (to) memcpy(to + count, w->words + record->place, record->length * sizeof *to);
            count += record->length;
        }
    }
    return count;
}

static int prof__window_larger(const void *a, const void *b)
{
    const prof__window_chunk *x = *(prof__window_chunk *const *)a, *y = *(prof__window_chunk *const *)b;
    if (x->depth != y->depth) return x->depth < y->depth ? -1 : 1;
    return x->header.sequence < y->header.sequence ? -1 : x->header.sequence > y->header.sequence;
}

/* Writes small chunks into slots, the largest first, so that each begins at a multiple of its size. Empty ones fill the
   last slot. Returns 0 if there is no memory. */
static int prof__window_small(prof__window *w, prof__window_chunk **chunks, size_t count)
{
    uint64_t slot = w->header->chunk_size, bytes = 0, at = 0;
    if (!count) return 1;
    if (count > 1) qsort((void *)chunks, count, sizeof *chunks, prof__window_larger);
    for (size_t i = 0; i < count; i++) bytes += slot >> chunks[i]->depth;
    w->small_count = (size_t)((bytes + slot - 1) / slot);
    w->lesser = (char *)calloc(w->small_count, (size_t)slot);
    if (!w->lesser) return 0;
    for (size_t i = 0; at < w->small_count * slot; i++) {
        const prof__window_chunk *old = chunks[i < count ? i : count - 1];
        prof__chunk *chunk = (prof__chunk *)(void *)(w->lesser + at);
        chunk->form = old->depth << PROF__FORM_SHIFT;
        at += slot >> old->depth;
        if (i >= count) continue;
        chunk->sequence = old->header.sequence;
        chunk->base = old->header.base;
        chunk->state = PROF__CHUNK_FULL;
        chunk->form |= PROF__FORM_PLAIN;
        prof__window_left(w, old, (uint64_t *)(void *)(chunk + 1));
    }
    return 1;
}

/* Makes small chunks of what is left of old ones. Returns 0 if there is no memory. */
static int prof__window_write(prof__window *w)
{
    uint64_t slot = w->header->chunk_size;
    prof__window_chunk **chunks = (prof__window_chunk **)malloc((w->chunk_count + 1) * sizeof *chunks);
    size_t count = 0;
    for (size_t i = 0; chunks && i < w->chunk_count; i++) {
        prof__window_chunk *old = &w->chunks[i];
        size_t words = prof__window_left(w, old, NULL), bytes = sizeof(prof__chunk) + words * 8;
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

/* Notes the size of an old chunk, so that readers find the next one of its slot, and adds its losses to the header. */
static void prof__window_left_out(prof__window *w, const prof__window_chunk *old, prof__header *h)
{
    uint64_t at = old->offset - w->header->chunk_offset;
    char *slot = w->slots[at / w->header->chunk_size];
    h->lost += old->header.lost;
    h->taken_back += old->header.taken_back;
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
    for (uint64_t i = 0; i < slots; i++) {
        const char *slot = w->slots[(newest + i) % slots];
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
    int good = 1;
    prof__header *h = NULL;
    for (i = 0; good && i < c->count; i++) good = c->chunks[i].passed || prof__window_copied(w, &c->chunks[i]);
    good = good && prof__window_tracks(w) && prof__window_write(w);
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
    for (i = 0; h && i < w->chunk_count; i++) prof__window_left_out(w, &w->chunks[i], h);
    if (h) prof__window_fill(w, h, *size, c->newest);
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
    w->session = s;
    w->header = h;
    w->slots = (char **)calloc((size_t)h->chunk_count + 1, sizeof *w->slots);
    c.passing = &w->passing;
    if (w->slots && prof__sift_make(&w->sift, s) && prof__chunks_snapshot_of(&c, &source, h))
        image = prof__window_finish(w, &c, taken_back, size);
    free(c.chunks);
    prof__window_free(w);
    return image;
}

#endif /* PROF__WATCH_WINDOW_H */
