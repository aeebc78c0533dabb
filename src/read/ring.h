// read/ring: Reads the chunks of the ring, and finds out which parts of them are damaged by a power loss.
#ifndef PROF__READ_RING_H
#define PROF__READ_RING_H
#include "api/values.h"
#include "ground/hash.h"
#include "image/format.h"
#include "image/words.h"
#include "session/save.h"
#include "read/chunks.h"
#include "read/segments.h"
#include "read/trace.h"

/*-- chunks of which a page is missing ------------------------------------------------------------------- >>intact --
   A power loss can leave pages of a file empty, or with older contents, which may be those of a different chunk. What
   is read of a chunk is only the part, from its beginning on, that is known to be the chunk's own.
   A page that is empty shows by words after many zeros, because a thread writes a chunk's words one after the other. (A
   thread that died leaves at most one record without its first word.) A page with older contents shows by the marks and
   sums that format.h describes, but not all images have these. Without marks, a missing page at the end of a chunk
   shows only if the next chunk's header was in that page, too. */
#define PROF__PAGE_WORDS 512u

/* Reads the header of a chunk. Fields that an older image lacks become 0. */
static int prof__chunk_get(const prof_trace *trace, uint64_t offset, prof__chunk *chunk)
{
    size_t size = trace->header.chunk_header_size;
    memset(chunk, 0, sizeof *chunk);
    return prof__read_ring_part(trace, offset, chunk, size < sizeof *chunk ? size : sizeof *chunk);
}

/* Returns the first word, from `at` on, at which a page of the file begins. place: where the chunk's first word is, in
   words of the file. */
static size_t prof__read_border(uint64_t place, size_t at)
{
    return at + (size_t)(0 - (place + at)) % PROF__PAGE_WORDS;
}

/* Finds the record that begins before `limit` and reaches beyond it. Returns the index of its end or, if `whole` is 1,
   of its beginning. Returns `limit` if there is no such record. */
static size_t prof__read_record_at(const uint64_t *words, size_t count, size_t limit, int whole)
{
    size_t at = 0, length;
    for (; at < limit && (length = prof__record_length(words[at], count - at)) != 0; at += length)
        if (at + length > limit) return whole ? at : at + length;
    return at < limit ? at : limit;
}

static int prof__read_zero(const uint64_t *words, size_t count)
{
    while (count && !*words) words++, count--;
    return !count;
}

/* Returns 1 if its thread had finished the chunk. */
static int prof__read_sealed(const prof__chunk *chunk) { return chunk->sums[PROF__PARTS - 1] != 0; }

/* Returns 1 if a part of a chunk may be the chunk's own. Its sum shows that; without a sum, its last word does. The
   last word may instead belong to a record that reaches into the next part: then the next part must be good and begun.
   next: 1: the next part is good and begun; 0: it is not; -1: there is none. */
static int prof__read_part_good(const prof__chunk *chunk, size_t part, const uint64_t *words, size_t count,
                                           int next)
{
    uint32_t sum = chunk->sums[part], rest = sum & PROF__SUM_REST;
    if (sum) return rest < count && prof__part_sum(words, count, rest) == sum;
    if (!part || next > 0 || prof__part_state(chunk->sequence, words[count - 1])) return 1;
    return !words[count - 1] && !prof__read_zero(words, count); /* a short scope was removed at the end of the part */
}

/* Returns how many words belong to the chunk, up to the first part that is not the chunk's own. */
static size_t prof__read_own_parts(const prof__chunk *chunk, const uint64_t *words, size_t bytes,
                                               size_t header)
{
    size_t good = (bytes - header) / 8;
    int next = -1;
    for (size_t i = PROF__PARTS; i--;) {
        size_t from = i ? prof__part_end(bytes, header, i - 1) : 0, end = prof__part_end(bytes, header, i);
        if (end <= from) continue;
        int fits = prof__read_part_good(chunk, i, words + from, end - from, next);
        if (!fits) good = from;
        next = fits && (chunk->sums[i] || prof__part_state(chunk->sequence, words[end - 1]) != PROF__PART_EMPTY);
    }
    return good;
}

/* Returns up to where the words of an unfinished chunk can be read. All its pages are its own, but they may be of
   different moments. border: where one part ends; end: where the next part ends. Returns end if both parts are of one
   moment, as far as can be seen. */
static size_t prof__read_border_end(const prof__chunk *chunk, const uint64_t *words, size_t border,
                                               size_t end)
{
    int open = prof__part_state(chunk->sequence, words[border - 1]) != 0;
    int state = prof__part_state(chunk->sequence, words[end - 1]);
    int empty = state && prof__read_zero(words + border, end - 1 - border);
    size_t at;
    if (open == empty) return end;
    at = prof__read_record_at(words, end, border, 1);
    if (!open) return state == PROF__PART_EMPTY ? at : end; /* otherwise a record ends with zeros */
    if (at + 1 == border && end - border > PROF__HOLE_WORDS && state &&
        prof__read_zero(words + border + PROF__HOLE_WORDS, end - 1 - border - PROF__HOLE_WORDS))
        return end; /* a record whose first word the thread had not written yet */
    return at;
}

/* Returns how many words of a chunk with marks are its own, and removes the marks. */
static size_t prof__read_own(const prof__chunk *chunk, uint64_t *words, size_t bytes, size_t header)
{
    size_t good = prof__read_own_parts(chunk, words, bytes, header);
    for (size_t i = 0; !prof__read_sealed(chunk) && i + 1 < PROF__PARTS; i++) {
        size_t border = prof__part_end(bytes, header, i), end = prof__part_end(bytes, header, i + 1);
        if (!border || end <= border || end > good) continue;
        size_t at = prof__read_border_end(chunk, words, border, end);
        if (at < end) good = at;
    }
    prof__marks_clear(chunk->sequence, words, bytes, header);
    return good;
}

/* Returns how many of the words of a chunk without marks can be read. headless: 1: the next chunk lacks its header. */
static size_t prof__read_unmarked(const prof__read_chunk *chunk, const uint64_t *words, size_t count,
                                             int headless)
{
    size_t used = count, border;
    while (used && !words[used - 1]) used--;
    border = prof__read_border(chunk->place, used);
    if (!used || border >= count) return count;
    if (border - used < PROF__HOLE_WORDS) used = prof__read_record_at(words, count, border, 0);
    if (!headless || used < border || count - border >= PROF__PAGE_WORDS) return count;
    return prof__read_record_at(words, count, border, 1);
}

typedef struct prof__read_ring_chunk {
    prof__read_chunk about; /* must be the first field, because prof__read_chunk_order() compares it */
    prof__chunk header;
    int headless; /* 1: the next chunk lacks its header */
} prof__read_ring_chunk;

/* Returns how many words of a chunk of the ring can be read. *torn: 1 if others are missing. header: bytes of a chunk's
   header. */
static size_t prof__read_intact(const prof__read_ring_chunk *chunk, uint64_t *words, size_t header,
                                           int *torn)
{
    size_t count = chunk->about.words, good = count, hole;
    int marked = prof__chunk_marked(&chunk->header, header);
    if (marked) good = prof__read_own(&chunk->header, words, count * 8 + header, header);
    hole = prof__words_hole(words, good);
    if (hole < good)
        good = prof__read_record_at(words, good, hole, 1);
    else if (!marked)
        good = prof__read_unmarked(&chunk->about, words, count, chunk->headless);
    *torn = good < count;
    return good;
}

/* Returns 1 if a chunk without a sequence number has words, and so lacks its header. A chunk that is being reused has
   no sequence number either, but has a time. bytes: size of the chunk with its header. */
static int prof__read_headless(const prof_trace *trace, const prof__chunk *chunk, uint64_t offset,
                                          uint64_t bytes)
{
    uint64_t part[64], end = offset + bytes;
    if (!prof__chunk_blank(chunk)) return 0;
    for (offset += trace->header.chunk_header_size; offset < end; offset += sizeof part) {
        size_t size = end - offset < sizeof part ? (size_t)(end - offset) : sizeof part;
        if (!prof__read_ring_part(trace, offset, part, size)) return 0;
        for (size_t i = 0; i < size / 8; i++)
            if (part[i]) return 1;
    }
    return 0;
}

/* Returns 1 if this is not a valid header, in a ring whose chunks have marks: the page with the header is of a
   different moment. */
static int prof__read_bad(const prof__chunk *chunk, uint64_t slot, uint64_t at)
{
    prof__chunk copy = *chunk;
    if (!chunk->sequence || chunk->form & PROF__FORM_PLAIN) copy.form |= PROF__FORM_MARKED;
    return !prof__chunk_likely(&copy, slot, at);
}

/*-- the ring --*/

typedef struct prof__read_ring_chunks {
    prof__read_ring_chunk *at;
    size_t count, capacity;
} prof__read_ring_chunks;

/* Returns how many slots of the ring were used. After a power loss the header may be older than the chunks. *marked:
   set to 1 if the chunks have marks. */
static uint64_t prof__read_slots(const prof_trace *trace, int *marked)
{
    const prof__header *h = &trace->header;
    uint64_t next = h->next_chunk && h->next_chunk < h->chunk_count ? h->next_chunk : h->chunk_count, i;
    prof__chunk chunk;
    for (i = 0; i < next && !*marked && prof__chunk_get(trace, h->chunk_offset + i * h->chunk_size, &chunk); i++)
        *marked = chunk.sequence && prof__chunk_likely(&chunk, h->chunk_size, 0);
    while (next < h->chunk_count && prof__chunk_get(trace, h->chunk_offset + next * h->chunk_size, &chunk) &&
           !prof__chunk_blank(&chunk))
        next++;
    return next;
}

/* Lists the used chunks of the ring, in order of their sequence numbers. Does not read slots that were never used.
   Returns 0 if there is no memory. */
static int prof__read_ring_list(prof_trace *trace, prof__read_ring_chunks *chunks)
{
    const prof__header *header = &trace->header;
    int marked = 0;
    uint64_t slots = prof__read_slots(trace, &marked), bytes, before = 0; /* where the last listed chunk ends */
    for (uint64_t at = 0; at < slots * header->chunk_size; at += bytes) {
        uint64_t offset = header->chunk_offset + at;
        prof__chunk chunk;
        if (!prof__chunk_get(trace, offset, &chunk)) {
            trace->info.lost_blocks++;
            bytes = prof__form_bytes(header->chunk_size, at, 0);
            continue;
        }
        bytes = prof__form_bytes(header->chunk_size, at, chunk.form);
        trace->info.chunks++;
        if (marked && prof__read_bad(&chunk, header->chunk_size, at)) {
            trace->info.lost_blocks++;
            continue;
        }
        trace->info.taken_back += chunk.taken_back;
        if (!chunk.sequence && prof__read_headless(trace, &chunk, offset, bytes)) {
            trace->info.lost_blocks++;
            if (chunks->count && before == offset) chunks->at[chunks->count - 1].headless = 1;
        }
        if (!chunk.sequence || bytes <= header->chunk_header_size) continue;
        prof__read_ring_chunk *one = PROF__MORE(chunks->at, chunks->capacity, chunks->count)
                                         ? &chunks->at[chunks->count - 1] : NULL;
        if (!one) return 0;
        one->about.sequence = chunk.sequence;
        one->about.tick = chunk.base.tick;
        one->about.lost = chunk.lost;
        one->about.owned = chunk.state == PROF__CHUNK_OWNED;
        one->about.place = (offset + header->chunk_header_size) / 8;
        one->about.words = (uint32_t)(bytes - header->chunk_header_size) / 8;
        one->about.open =
            one->about.owned && prof__chunk_marked(&chunk, header->chunk_header_size) && !prof__read_sealed(&chunk);
        one->header = chunk;
        before = offset + bytes;
    }
    trace->info.chunks += header->chunk_count - slots;
    if (chunks->count > 1) qsort(chunks->at, chunks->count, sizeof *chunks->at, prof__read_chunk_order);
    return 1;
}

/* Adds a chunk of the ring, unless its words went into the archive. next: the chunk with the next sequence number, or
   NULL. Returns 0 if there is no memory. */
static int prof__read_ring_add(prof_trace *trace, prof__read_ring_chunk *chunk, const prof__read_ring_chunk *next)
{
    uint64_t place = chunk->about.place, *words = trace->paged ? trace->buffer.words : trace->image + place;
    int torn = 0;
    trace->buffer.chunk = 0;
    trace->buffer.segment = NULL;
    if (prof__read_known(trace, chunk->about.sequence)) return 1;
    if (trace->paged && !prof__read_ring_part(trace, place * 8, words, (size_t)chunk->about.words * 8)) {
        trace->info.lost_blocks++;
        return 1;
    }
    size_t count = prof__read_intact(chunk, words, trace->header.chunk_header_size, &torn);
    /* Two chunks with one number: one of them has a page of the other. */
    int doubled = next && next->about.sequence == chunk->about.sequence;
    chunk->about.torn = (uint8_t)torn;
    trace->info.lost_blocks += (uint64_t)(torn || doubled);
    if (torn && doubled) return 1;
    return prof__read_add_chunk(trace, &chunk->about, &chunk->header.base, words, count);
}

/* Adds the chunks of the ring. Returns 0 if there is no memory. */
static int prof__read_ring(prof_trace *trace)
{
    prof__read_ring_chunks chunks = {NULL, 0, 0};
    int good = (!trace->paged || prof__read_buffer_make(trace, &trace->buffer)) && prof__read_ring_list(trace, &chunks);
    for (size_t i = 0; good && i < chunks.count; i++)
        good = prof__read_ring_add(trace, &chunks.at[i], i + 1 < chunks.count ? &chunks.at[i + 1] : NULL);
    free(chunks.at);
    return good;
}

static int prof__read_chunks(prof_trace *trace)
{
    const prof__header *header = &trace->header;
    if (!prof__read_archive(trace) || !prof__read_ring(trace)) return 0;
    if (trace->segment_count > 1)
        qsort(trace->segments, trace->segment_count, sizeof *trace->segments, prof__read_segment_order);
    trace->partial =
        header->overwritten || trace->info.lost_blocks ||
        (header->mode != PROF_FILL && header->mode != PROF_STREAM && header->next_chunk > header->chunk_count);
    return 1;
}

#endif /* PROF__READ_RING_H */
