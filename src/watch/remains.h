// watch/remains: What is left of chunks that lie before a window: the records of each that may reach into it.
#ifndef PROF__WATCH_REMAINS_H
#define PROF__WATCH_REMAINS_H
#include "api/markup.h"
#include "ground/errors.h"
#include "ground/hash.h"
#include "image/format.h"
#include "image/words.h"
#include "record/state.h"
#include "session/snapshot.h"
#include "read/records.h"
#include "watch/sift.h"

/*-- REMAINS --------------------------------------------------------------------------------------------- >>remains --
   A full chunk whose records all lie before a window is not copied: it is sifted in place (see >>sift), like any chunk
   of a running recording without a lock: afterwards its number must be the same. Its segments are put together, track
   by track, in the order of their serial numbers, so that a scope whose begin and end are in different chunks goes as
   well. This can be done in steps: what is left of some chunks is put together with what is left of others later. */

/* A record of an old chunk that may reach into a window. */
typedef struct prof__remains_record {
    size_t place; /* in `words` */
    uint32_t length;
    int left; /* 1: it does */
} prof__remains_record;

/* A segment of a chunk: the records of one track. It also stands for the segments after it up to the serial number
   `last`, of which nothing is left. */
typedef struct prof__remains_segment {
    uint64_t track, serial, last;
    uint64_t *copied;    /* its TRACK record, if the chunk was copied; else NULL */
    size_t chunk, place; /* else: index in `chunks`; its TRACK record in `words` */
    size_t first, count; /* else: its records in `records` */
    int left;            /* 1: it is part of the copy */
    int within;          /* 1: another segment stands for it */
} prof__remains_segment;

/* A chunk that was sifted. */
typedef struct prof__remains_chunk {
    prof__chunk header;
    uint64_t offset;
    size_t segment, segment_count;
    uint32_t depth; /* how often the slot is halved that its small chunk gets a part of */
} prof__remains_chunk;

typedef struct prof__remains {
    uint64_t *words;
    prof__remains_record *records;
    prof__remains_chunk *chunks;
    prof__remains_segment *segments;
    size_t word_count, word_capacity, record_count, record_capacity, chunk_count, chunk_capacity;
    size_t segment_count, segment_capacity;
    uint64_t lost, taken_back; /* as in the headers of all chunks that were sifted */
    uint64_t newest;           /* the largest tick of their records */
} prof__remains;

/* How many of each there are: a mark to return to. */
typedef struct prof__remains_mark {
    size_t words, records, chunks, segments;
} prof__remains_mark;

static prof__remains_mark prof__remains_now(const prof__remains *r)
{
    prof__remains_mark mark;
    mark.words = r->word_count;
    mark.records = r->record_count;
    mark.chunks = r->chunk_count;
    mark.segments = r->segment_count;
    return mark;
}

static void prof__remains_back(prof__remains *r, const prof__remains_mark *mark)
{
    r->word_count = mark->words;
    r->record_count = mark->records;
    r->chunk_count = mark->chunks;
    r->segment_count = mark->segments;
}

/* Forgets what was sifted; keeps the memory. */
static void prof__remains_clear(prof__remains *r)
{
    r->word_count = r->record_count = r->chunk_count = r->segment_count = 0;
    r->lost = r->taken_back = r->newest = 0;
}

static void prof__remains_free(prof__remains *r)
{
    free(r->words);
    free(r->records);
    free(r->chunks);
    free(r->segments);
    memset(r, 0, sizeof *r);
}

/* -- sifting a chunk -- */

/* Adds words. Returns their index in `words`, or PROF__NONE if there is no memory. */
static size_t prof__remains_words(prof__remains *r, const uint64_t *from, size_t count)
{
    size_t place = r->word_count;
    while (r->word_capacity - place < count)
        if (!prof__more_room(&r->words, &r->word_capacity, sizeof *r->words)) return PROF__NONE;
    for (size_t i = 0; i < count; i++) r->words[place + i] = PROF__ACQUIRE(from + i);
    r->word_count += count;
    return place;
}

/* Adds a record to the last segment. Returns 0 if there is no memory. */
static int prof__remains_record_add(prof__remains *r, const uint64_t *from, size_t length)
{
    size_t place = prof__remains_words(r, from, length);
    prof__remains_record *record = (prof__remains_record *)PROF__MORE(r->records, r->record_capacity, r->record_count);
    if (!record || !length || place == PROF__NONE) return 0;
    record->place = place;
    record->length = (uint32_t)length;
    return 1;
}

/* Adds what was sifted of a chunk's last segment, in order. Returns 0 if there is no memory. */
static int prof__remains_keep(prof__remains *r, const prof__sift *sift, const uint64_t *words, size_t count)
{
    prof__remains_segment *segment = &r->segments[r->segment_count - 1];
    size_t i = 1, j = 0; /* the first element of scopes is no record */
    segment->first = r->record_count;
    while (i < sift->scope_count || j < sift->other_count) {
        uint64_t scope = i < sift->scope_count ? sift->scopes[i] : ~(uint64_t)0;
        uint64_t other = j < sift->other_count ? sift->others[j] : ~(uint64_t)0;
        int first = !(scope >> PROF__KIND_SHIFT) ||
                    (other >> PROF__KIND_SHIFT && (scope & PROF__TICK_MASK) < (other & PROF__TICK_MASK));
        uint64_t element = first ? scope : other;
        size_t at = (size_t)(element & PROF__TICK_MASK);
        first ? i++ : j++;
        if (!(element >> PROF__KIND_SHIFT)) continue;
        if (!prof__remains_record_add(r, words + at, prof__record_words(PROF__ACQUIRE(words + at), count - at)))
            return 0;
    }
    segment->count = r->record_count - segment->first;
    return 1;
}

/* Adds a segment with its TRACK record. Returns NULL if there is no memory. */
static prof__remains_segment *prof__remains_segment_add(prof__remains *r, const uint64_t *record)
{
    prof__remains_segment *segment =
        (prof__remains_segment *)PROF__MORE(r->segments, r->segment_capacity, r->segment_count);
    size_t place = prof__remains_words(r, record, 3);
    if (!segment || place == PROF__NONE) return NULL;
    segment->chunk = r->chunk_count;
    segment->place = place;
    segment->first = r->record_count;
    segment->track = prof__track_id(r->words + place);
    segment->serial = segment->last = prof__track_serial(r->words + place);
    return segment;
}

/* Sifts the words of a chunk. *last: set to the largest tick. Returns 0 if they cannot be sifted. */
static int prof__remains_sift(prof__remains *r, prof__sift *sift, const uint64_t *words, size_t count, uint64_t *last)
{
    size_t at = 0, length, first = r->segment_count;
    if (!prof__sift_room(sift, count)) return 0;
    for (; at < count; at += length) {
        uint64_t head = PROF__ACQUIRE(words + at);
        unsigned kind = prof__read_kind(head);
        length = prof__record_words(head, count - at);
        if (!kind || !length) break;
        if (kind == PROF__KIND_TRACK) {
            if (r->segment_count > first && !prof__remains_keep(r, sift, words, count)) return 0;
            if (!prof__remains_segment_add(r, words + at)) return 0;
            prof__sift_begin(sift, 1);
            continue;
        }
        if (r->segment_count == first) return 0;
        size_t next = prof__sift_scopes(sift, words, at, count, last);
        if (next > at) {
            length = next - at;
            continue;
        }
        if (prof__record_timed(head)) *last = prof__sift_latest(words, at, at + 1, *last);
        prof__sift_record(sift, words + at, (uint32_t)length, at);
    }
    int whole = at == count || !(PROF__ACQUIRE(words + at) >> PROF__KIND_SHIFT);
    return whole && r->segment_count > first && prof__remains_keep(r, sift, words, count);
}

/* Adds what is left of a chunk of this many bytes that nobody writes to, if its number is `sequence` and all of it lies
   before the tick `from`. Returns 1 if it was added. */
static int prof__remains_add(prof__remains *r, prof__sift *sift, const prof__session *s, uint64_t offset, size_t bytes,
                             uint64_t sequence, uint64_t from)
{
    const prof__chunk *chunk = (const prof__chunk *)(const void *)((const char *)s->header + offset);
    prof__remains_mark mark = prof__remains_now(r);
    uint64_t last = 0;
    if (PROF__ACQUIRE(&chunk->sequence) != sequence) return 0;
    prof__remains_chunk *old = (prof__remains_chunk *)PROF__MORE(r->chunks, r->chunk_capacity, r->chunk_count);
    if (!old) return 0;
    r->chunk_count--;
    prof__memory_read(s->header, offset, &old->header, sizeof old->header);
    old->offset = offset;
    old->segment = mark.segments;
    if (old->header.base.tick < from &&
        prof__remains_sift(r, sift, (const uint64_t *)(const void *)(chunk + 1), (bytes - sizeof *chunk) / 8, &last) &&
        old->header.base.tick + last < from && PROF__ACQUIRE(&chunk->sequence) == sequence) {
        old->segment_count = r->segment_count - old->segment;
        r->chunk_count++;
        r->lost += old->header.lost;
        r->taken_back += old->header.taken_back;
        if (old->header.base.tick + last > r->newest) r->newest = old->header.base.tick + last;
        return 1;
    }
    prof__remains_back(r, &mark);
    return 0;
}

/* -- putting segments together -- */

static int prof__remains_order(const void *a, const void *b)
{
    const prof__remains_segment *x = *(prof__remains_segment *const *)a, *y = *(prof__remains_segment *const *)b;
    if (x->track != y->track) return x->track < y->track ? -1 : 1;
    return x->serial < y->serial ? -1 : x->serial > y->serial;
}

/* Finds the records of a track's segments that reach into a window. barred: 0: nothing comes before the first segment,
   or it is lost. Returns 0 if there is no memory. */
static int prof__remains_join(prof__remains *r, prof__sift *sift, prof__remains_segment **of, size_t count, int barred)
{
    size_t records = count, i, k;
    for (i = 0; i < count; i++) {
        records += of[i]->count;
        of[i]->left = of[i]->copied != NULL;
        for (k = of[i]->first; k < of[i]->first + of[i]->count; k++) r->records[k].left = 0;
    }
    if (!prof__sift_room(sift, records)) return 0;
    prof__sift_begin(sift, barred);
    for (i = 0; i < count; i++) {
        /* Scopes may have begun or ended in a segment that was copied, or in one that is missing. */
        if (of[i]->copied || (i && of[i]->serial != of[i - 1]->last + 1)) prof__sift_bar(sift);
        for (k = of[i]->first; k < of[i]->first + of[i]->count; k++)
            prof__sift_record(sift, r->words + r->records[k].place, r->records[k].length, k);
    }
    for (i = 1; i < sift->scope_count; i++)
        if (sift->scopes[i]) r->records[sift->scopes[i] & PROF__TICK_MASK].left = 1;
    for (i = 0; i < sift->other_count; i++)
        if (sift->others[i]) r->records[sift->others[i] & PROF__TICK_MASK].left = 1;
    for (i = 0; i < count; i++)
        for (k = of[i]->first; k < of[i]->first + of[i]->count; k++) of[i]->left |= r->records[k].left;
    return 1;
}

static void prof__remains_serial_set(uint64_t *record, uint64_t serial)
{
    record[0] = (record[0] & ~(0xFFFFFFFull << 32)) | (serial & 0xFFFFFFF) << 32;
    record[1] = (record[1] & PROF__TICK_MASK) | serial >> 28 << PROF__TICK_BITS;
}

/* Numbers the segments of a track that are left. If the oldest was sifted, nothing of the window is missing, and the
   first gets number 1. */
static void prof__remains_number(prof__remains *r, prof__remains_segment **of, size_t count)
{
    uint64_t serial = 0, missing = 0;
    for (size_t i = 0; i < count; i++) {
        if (serial && of[i]->serial > of[i - 1]->last) missing += of[i]->serial - of[i - 1]->last - 1;
        if (!of[i]->left) continue;
        if (serial)
            serial += missing + 1;
        else
            serial = of[0]->copied ? of[i]->serial : 1;
        missing = 0;
        prof__remains_serial_set(of[i]->copied ? of[i]->copied : r->words + of[i]->place, serial);
    }
}

/* Lets segments of a track stand for those directly after them of which nothing is left. */
static void prof__remains_merge(prof__remains_segment **of, size_t count)
{
    prof__remains_segment *before = NULL;
    for (size_t i = 0; i < count; i++) {
        of[i]->within = before && !of[i]->left && of[i]->serial == before->last + 1;
        if (of[i]->within)
            before->last = of[i]->last;
        else
            before = of[i];
    }
}

/* Finds out what is left. complete: 1: these are all segments there are, so they are numbered; 0: others will be put
   together with them. Returns 0 if there is no memory. */
static int prof__remains_tracks(prof__remains *r, prof__sift *sift, int complete)
{
    size_t count = r->segment_count, i, next;
    prof__remains_segment **order = (prof__remains_segment **)malloc((count + 1) * sizeof *order);
    int good = order != NULL;
    for (i = 0; good && i < count; i++) order[i] = &r->segments[i];
    if (good && count > 1) qsort((void *)order, count, sizeof *order, prof__remains_order);
    for (i = 0; good && i < count; i = next) {
        for (next = i + 1; next < count && order[next]->track == order[i]->track;) next++;
        good = prof__remains_join(r, sift, order + i, next - i, !complete);
        if (good && complete) prof__remains_number(r, order + i, next - i);
        if (good && !complete) prof__remains_merge(order + i, next - i);
    }
    free((void *)order);
    return good;
}

/* -- in steps -- */

/* Adds one segment of `from` to `to`, with its records if it is left. Returns 0 if there is no memory. */
static int prof__remains_segment_take(prof__remains *to, const prof__remains *from, const prof__remains_segment *one)
{
    prof__remains_segment *segment = prof__remains_segment_add(to, from->words + one->place);
    if (!segment) return 0;
    segment->last = one->last;
    for (size_t k = one->first; k < one->first + one->count; k++) {
        const prof__remains_record *record = &from->records[k];
        if (record->left && !prof__remains_record_add(to, from->words + record->place, record->length)) return 0;
    }
    segment->count = to->record_count - segment->first;
    return 1;
}

/* Adds what is left of `from` after prof__remains_tracks(). Returns 0 if there is no memory. */
static int prof__remains_take(prof__remains *to, const prof__remains *from)
{
    size_t i, k;
    for (i = 0; i < from->chunk_count; i++) {
        const prof__remains_chunk *old = &from->chunks[i];
        size_t first = to->segment_count;
        for (k = old->segment; k < old->segment + old->segment_count; k++)
            if (from->segments[k].left && !prof__remains_segment_take(to, from, &from->segments[k])) return 0;
        if (to->segment_count == first) continue;
        prof__remains_chunk *chunk = (prof__remains_chunk *)PROF__MORE(to->chunks, to->chunk_capacity, to->chunk_count);
        if (!chunk) return 0;
        *chunk = *old;
        chunk->segment = first;
        chunk->segment_count = to->segment_count - first;
    }
    for (k = 0; k < from->segment_count; k++) { /* of these nothing is left, but they are not missing */
        const prof__remains_segment *one = &from->segments[k];
        if (!one->left && !one->within && !prof__remains_segment_take(to, from, one)) return 0;
    }
    to->lost += from->lost;
    to->taken_back += from->taken_back;
    if (from->newest > to->newest) to->newest = from->newest;
    return 1;
}

/* Puts together what is left so far. Returns 0 if there is no memory; then all is as before. */
static int prof__remains_fold(prof__remains *r, prof__sift *sift)
{
    prof__remains less;
    memset(&less, 0, sizeof less);
    int good = prof__remains_tracks(r, sift, 0) && prof__remains_take(&less, r);
    if (good) {
        prof__remains_free(r);
        *r = less;
        for (size_t i = 0; i < r->segment_count; i++) r->segments[i].left = r->segments[i].count != 0;
        for (size_t k = 0; k < r->record_count; k++) r->records[k].left = 1;
    } else {
        prof__remains_free(&less);
    }
    return good;
}

/* Returns how many words are left of an old chunk. to: NULL, or where they are written to. */
static size_t prof__remains_of(const prof__remains *r, const prof__remains_chunk *old, uint64_t *to)
{
    size_t count = 0;
    for (size_t i = old->segment; i < old->segment + old->segment_count; i++) {
        const prof__remains_segment *segment = &r->segments[i];
        if (!segment->left) continue;
        if (to) memcpy(to + count, r->words + segment->place, 3 * sizeof *to);
        count += 3;
        for (size_t k = segment->first; k < segment->first + segment->count; k++) {
            const prof__remains_record *record = &r->records[k];
            if (!record->left) continue;
            if (to) memcpy(to + count, r->words + record->place, record->length * sizeof *to);
            count += record->length;
        }
    }
    return count;
}

#endif /* PROF__WATCH_REMAINS_H */
