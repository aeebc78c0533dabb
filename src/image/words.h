// image/words: Sizes of records, chunks and their parts, for readers of a chunk that may still be written; marks and
// sums that show after a power loss which words are a chunk's own; the store that publishes a record.
#ifndef PROF__IMAGE_WORDS_H
#define PROF__IMAGE_WORDS_H
#include "api/markup.h"
#include "image/format.h"
#include "image/kinds.h"

/* Columns of PROF__KINDS as constants, four bits or one bit for each kind: a table in a number replaces a branch for
   each record. */
#define PROF__COLUMN_WORDS(name, code, words, ...) | (uint64_t)(words) << 4 * (code)
#define PROF__COLUMN_TIMED(name, code, words, timed, ...) | (unsigned)(timed) << (code)
#define PROF__COLUMN_SITED(name, code, words, timed, sited, ...) | (unsigned)(sited) << (code)
#define PROF__COLUMN_SHOWN(name, code, words, timed, sited, shown, ...) | (unsigned)(shown) << (code)
#define PROF__COLUMN_NAMED(name, code, words, timed, sited, shown, named, ...) | (unsigned)(named) << (code)
#define PROF__COLUMN_VALUED(name, code, words, timed, sited, shown, named, valued, ...) | (unsigned)(valued) << (code)
#define PROF__WORDS (0u PROF__KINDS(PROF__COLUMN_WORDS))
#define PROF__TIMED (0u PROF__KINDS(PROF__COLUMN_TIMED))
#define PROF__SITED (0u PROF__KINDS(PROF__COLUMN_SITED))
#define PROF__SHOWN (0u PROF__KINDS(PROF__COLUMN_SHOWN))
#define PROF__NAMED (0u PROF__KINDS(PROF__COLUMN_NAMED))
#define PROF__VALUED (0u PROF__KINDS(PROF__COLUMN_VALUED))
#define PROF__KIND_LAST (0 PROF__KINDS(PROF__COLUMN_COUNT) - 1)
#define PROF__COLUMN_COUNT(...) + 1

/* Returns 1 if the kind of a record is in a set such as PROF__TIMED. */
static inline int prof__record_in(unsigned kinds, uint64_t head)
{
    return (int)(kinds >> (head >> PROF__KIND_SHIFT) & 1);
}

/* Returns 1 if bits 39..0 of the head are ticks. */
static inline int prof__record_timed(uint64_t head) { return prof__record_in(PROF__TIMED, head); }

/* Converts a word between the byte order of this machine and little-endian. */
static inline uint64_t prof__little_endian(uint64_t word)
{
#if PROF__LOW_HALF
    word = __builtin_bswap64(word);
#endif
    return word;
}

/* Returns how many words the record with this head has, or 0 if the head is no record's, or more than `left` words. */
static inline size_t prof__record_words(uint64_t head, size_t left)
{
    size_t words = (size_t)(PROF__WORDS >> (head >> PROF__KIND_SHIFT << 2)) & 15;
    if (words == PROF__IN_HEAD) words = 1 + (size_t)(head & 0xFFFF);
    return words <= left ? words : 0;
}

/* Like prof__record_words(), but not inline, for code that runs seldom. */
static size_t prof__record_length(uint64_t head, size_t left)
{
    return prof__record_words(head, left);
}

#define PROF__HOLE_WORDS 64u

/* Returns the index of the first hole: PROF__HOLE_WORDS or more zero words with other words after them. Returns count
   if there is none. Looks at every 32nd word only. */
static size_t prof__words_hole(const uint64_t *words, size_t count)
{
    size_t at = 0, first, end, all = count;
    while (count && !words[count - 1]) --count;
    for (; at < count; at += PROF__HOLE_WORDS / 2) {
        if (words[at]) continue;
        for (first = at; first && !words[first - 1];) --first;
        for (end = at; !words[end];) ++end;
        if (end - first >= PROF__HOLE_WORDS) return first;
    }
    return all;
}

#define PROF__PAGE_BYTES 4096u

/* Returns 1 if a chunk of this form can begin at byte `at` of the ring. slot: bytes of a slot. */
static int prof__form_likely(uint64_t slot, uint64_t at, uint32_t form)
{
    uint64_t bytes = slot >> PROF__FORM_DEPTH(form);
    if (bytes != slot && (bytes < PROF__FORM_LEAST || bytes % 8)) return 0;
    return !(form & ~PROF__FORM_KNOWN) && at % slot % bytes == 0;
}

/* Returns how many bytes the chunk of this form at byte `at` of the ring has. In a damaged image the form may be
   impossible: then the next chunk is assumed to begin at the next page. */
static uint64_t prof__form_bytes(uint64_t slot, uint64_t at, uint32_t form)
{
    uint64_t rest = slot - at % slot, bytes = slot >> PROF__FORM_DEPTH(form);
    if (!prof__form_likely(slot, at, form)) bytes = PROF__PAGE_BYTES - at % PROF__PAGE_BYTES;
    return bytes > rest ? rest : bytes;
}

/* -- which parts of a chunk are its own after a power loss: see format.h -- */

/* Returns the mark that the last word of a part has until a record needs the word. Its kind is 0, and its bits differ
   from chunk to chunk, so no record looks like it by chance. */
static uint64_t prof__empty_word(uint64_t sequence) { return (sequence * 0x9E3779B97F4A7C15u | 1) >> 4; }

#define PROF__BEGUN_BIT (1ull << 59)
enum { PROF__PART_EMPTY = 1, PROF__PART_BEGUN };

/* Returns what the last word of a part says: PROF__PART_EMPTY, PROF__PART_BEGUN (the thread may have written to the
   part), or 0 if the word is not a mark of this chunk. */
static int prof__part_state(uint64_t sequence, uint64_t last)
{
    uint64_t empty = prof__empty_word(sequence);
    return last == empty ? PROF__PART_EMPTY : (last ^ empty) == PROF__BEGUN_BIT ? PROF__PART_BEGUN : 0;
}

/* Returns how many bytes a part of a chunk has: a page, or a quarter of a chunk that is larger than four pages. */
static size_t prof__part_bytes(size_t bytes)
{
    size_t quarter = bytes / PROF__PARTS / 8 * 8;
    return quarter > PROF__PAGE_BYTES ? quarter : PROF__PAGE_BYTES;
}

/* Returns how many words of a chunk lie before the end of part 0, 1, 2 or 3. bytes: the size of the chunk. A small
   chunk has fewer parts; the others have no words. */
static size_t prof__part_end(size_t bytes, size_t header, size_t part)
{
    size_t step = prof__part_bytes(bytes), end = bytes / step > part + 1 ? step * (part + 1) : bytes;
    if (part + 1 == PROF__PARTS) end = bytes;
    return end > header ? (end - header) / 8 : 0;
}

#define PROF__SUM_REST 511u
#define PROF__SUM_WORDS 64u

/* Returns a sum of the last words of a part, without the unused `rest` words at its end; the low bits of the sum are
   that number. Never 0. A thread only appends to a part. So after a power loss a page of the part has words of an
   earlier chunk, or only the first words of this one. The last words and their number tell which, because their times
   differ from chunk to chunk. The sum need not resist attacks: power losses happen by chance. */
static uint32_t prof__part_sum(const uint64_t *words, size_t count, uint32_t rest)
{
    uint64_t a = 0, b = 0;
    const uint64_t *end = words + (count - rest);
    if (count - rest > PROF__SUM_WORDS) words = end - PROF__SUM_WORDS;
    for (; end - words >= 8; words += 8) {
        a += words[0], b += words[1], a += words[2], b += words[3];
        a += words[4], b += words[5], a += words[6], b += words[7];
    }
    while (words < end) a += *words++;
    a = (a + b * 3) * 0x9E3779B97F4A7C15u;
    uint32_t sum = (uint32_t)(a >> 32) & ~PROF__SUM_REST;
    return (sum ? sum : PROF__SUM_REST + 1) | rest;
}

/* Returns 1 if a chunk was never used: its header is zero except for the chunk's size. Looks only at fields that all
   versions have. */
static int prof__chunk_blank(const prof__chunk *chunk)
{
    const unsigned char *bytes = (const unsigned char *)chunk;
    size_t i = 0;
    if (chunk->form >> PROF__FORM_SHIFT) return !chunk->sequence && chunk->state == PROF__CHUNK_FREE;
    while (i < PROF__LEAST_CHUNK && !bytes[i]) ++i;
    return i == PROF__LEAST_CHUNK;
}

/* Returns 1 if this can be the header of a chunk with marks at byte `at` of the ring. slot: bytes of a slot. */
static int prof__chunk_likely(const prof__chunk *chunk, uint64_t slot, uint64_t at)
{
    return chunk->form & PROF__FORM_MARKED && chunk->state <= PROF__CHUNK_HELD &&
           prof__form_likely(slot, at, chunk->form);
}

/* Returns 1 if a chunk has marks and sums. header: bytes of a chunk's header in this image; that of version 3 has
   none. */
static int prof__chunk_marked(const prof__chunk *chunk, size_t header)
{
    return chunk->form & PROF__FORM_MARKED && header >= sizeof *chunk;
}

static void prof__marks_clear(uint64_t sequence, uint64_t *words, size_t bytes, size_t header)
{
    for (size_t i = 0; i < PROF__PARTS; ++i) {
        size_t end = prof__part_end(bytes, header, i);
        if (end && prof__part_state(sequence, words[end - 1])) words[end - 1] = 0;
    }
}

/* Removes the marks of a chunk when nobody needs to check its parts any more. bytes: the size of the chunk, header
   included. */
static void prof__chunk_unmark(prof__chunk *chunk, uint64_t *words, size_t bytes, size_t header)
{
    if (!prof__chunk_marked(chunk, header)) return;
    prof__marks_clear(chunk->sequence, words, bytes, header);
    chunk->form ^= PROF__FORM_MARKED ^ PROF__FORM_PLAIN;
}

/* Stores a word of a chunk with release order. The head of a record is stored last, which publishes the record. */
static void prof__store_word(uint64_t *at, uint64_t word)
{
#if PROF__WIDE
    PROF__RELEASE(at, word);
#else
    prof__half *half = (prof__half *)at;
    PROF__STORE(half + PROF__LOW_HALF, (uint32_t)word);
    PROF__RELEASE(half + !PROF__LOW_HALF, (uint32_t)(word >> 32)); /* the half with the kind: publishes the word */
#endif
}

/* Returns the id of the track of a TRACK record. */
static uint64_t prof__track_id(const uint64_t *record) { return record[1] & PROF__TICK_MASK; }

/* Returns the serial number of a TRACK record within its track. */
static uint64_t prof__track_serial(const uint64_t *record)
{
    return record[1] >> PROF__TICK_BITS << 28 | (record[0] >> 32 & 0xFFFFFFF);
}

#endif /* PROF__IMAGE_WORDS_H */
