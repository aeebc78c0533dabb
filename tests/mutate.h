/* mutate.h - changes images by what is known of their format, for fuzzers: a field of the header, of a chunk or of a
   call site gets another value, records come, go, change and trade places, chunks are copied, packed into the archive
   and unpacked. What comes out is still an image, or nearly, so that the code behind the first checks is reached.
   Include it after the implementation of prof.h.

     mutate_seed(7);
     size = mutate(image, size, MUTATE_MOST);      image: 8-byte aligned, room for MUTATE_MOST bytes */
#ifndef MUTATE_H
#define MUTATE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { MUTATE_MOST = 4096, MUTATE_WORDS = 1024, MUTATE_BLOCKS = 64 };

static uint64_t mutate_state;

static inline void mutate_seed(uint64_t seed) { mutate_state = seed; }

static inline uint64_t mutate_random(void) /* splitmix64 */
{
    uint64_t x = mutate_state += 0x9E3779B97F4A7C15u;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
    x = (x ^ x >> 27) * 0x94D049BB133111EBu;
    return x ^ x >> 31;
}

/* 0 to limit - 1, and 0 for a limit of 0. */
static inline size_t mutate_below(size_t limit) { return limit ? (size_t)(mutate_random() % limit) : 0; }

/* A value that code may have forgotten, or one close to the old one. */
static inline uint64_t mutate_number(uint64_t old)
{
    static const uint64_t edges[] = {0, 1, 2, 7, 8, 63, 64, 127, 128, 255, 256, 4096, 65535, 65536, PROF__SITE_MASK,
                                     0x7FFFFFFFu, 0x80000000u, 0xFFFFFFFFu, PROF__TICK_MASK, PROF__TICK_MASK + 1,
                                     1000000000u, INT64_MAX, (uint64_t)1 << 63, UINT64_MAX - 7, UINT64_MAX};
    switch (mutate_below(6)) {
    case 0: return edges[mutate_below(sizeof edges / sizeof *edges)];
    case 1: return old + 1 + mutate_below(8);
    case 2: return old - 1 - mutate_below(8);
    case 3: return old ^ (uint64_t)1 << mutate_below(64);
    case 4: return old << 1;
    default: return mutate_random() >> mutate_below(64);
    }
}

/*-- records: the words of a chunk, with zeros behind the last --*/

typedef struct mutate_words {
    uint64_t *at;
    size_t count; /* of the chunk */
} mutate_words;

static inline size_t mutate_records_end(const mutate_words *words)
{
    size_t at = 0, length;
    while (at < words->count && (length = prof__record_words(words->at[at], words->count - at)) != 0) at += length;
    return at;
}

/* The first word of any record, or the end of them. */
static inline size_t mutate_record_any(const mutate_words *words)
{
    size_t at = 0, length, left = mutate_below(1 + words->count / 2);
    size_t end = mutate_records_end(words), records = 0;
    for (at = 0; at < end; at += prof__record_words(words->at[at], words->count - at)) ++records;
    left %= records + 1;
    for (at = 0; left && at < end; at += length, --left) length = prof__record_words(words->at[at], words->count - at);
    return at;
}

static inline void mutate_remove(mutate_words *words, size_t at, size_t length)
{
    memmove(words->at + at, words->at + at + length, (words->count - at - length) * 8);
    memset(words->at + words->count - length, 0, length * 8);
}

/* What finds no room at the end is pushed out of the chunk. */
static inline void mutate_insert(mutate_words *words, size_t at, const uint64_t *record, size_t length)
{
    if (at >= words->count) return;
    if (length > words->count - at) length = words->count - at;
    memmove(words->at + at + length, words->at + at, (words->count - at - length) * 8);
    memcpy(words->at + at, record, length * 8);
}

static inline uint64_t mutate_tick(const mutate_words *words)
{
    size_t at = mutate_record_any(words);
    uint64_t tick = at < words->count ? words->at[at] & PROF__TICK_MASK : 0;
    switch (mutate_below(4)) {
    case 0: return tick;
    case 1: return (tick + mutate_below(64)) & PROF__TICK_MASK;
    case 2: return (tick - mutate_below(64)) & PROF__TICK_MASK;
    default: return mutate_number(tick) & PROF__TICK_MASK;
    }
}

/* A record as the recorder might have written it, or one of a type that no reader knows. Returns its words. */
static inline size_t mutate_record_make(const mutate_words *words, uint64_t record[8])
{
#define MUTATE_EVENT(name, code, ...) code,
    static const uint8_t types[] = {PROF__EVENTS(MUTATE_EVENT) PROF__DEVICE_EVENTS(MUTATE_EVENT) 199, 255};
    uint64_t kind = 1 + mutate_below(PROF__KIND_LAST), site = mutate_below(10);
    uint64_t head = kind << PROF__KIND_SHIFT;
    size_t i, length = (size_t)(PROF__WORDS >> 4 * kind & 15);
    memset(record, 0, 64);
    if (length == PROF__IN_HEAD) {
        length = 1 + mutate_below(4);
        head |= (kind == PROF__KIND_NAME ? 0 : site) << PROF__TICK_BITS | (uint64_t)(length - 1);
        head |= (uint64_t)(kind == PROF__KIND_NAME ? PROF_VALUE_STRING : mutate_below(PROF_VALUE_STRING + 2)) << 32;
        for (i = 29; i < 32; ++i) head |= (uint64_t)(mutate_below(8) == 0) << i; /* cut, key, target */
        for (i = 1; i < length; ++i) record[i] = mutate_below(2) ? 0x6261626162616261u : mutate_number(record[i - 1]);
    } else {
        if (prof__record_timed(head)) head |= site << PROF__TICK_BITS | mutate_tick(words);
        for (i = 1; i < length; ++i) record[i] = mutate_number(5);
    }
    switch (kind) {
    case PROF__KIND_TRACK:
        head |= (uint64_t)mutate_below(6) << 32 | (uint64_t)(mutate_below(4) == 0) << 31 | mutate_below(8);
        record[1] = 1 + mutate_below(4);
        record[2] = 1 + mutate_below(4);
        break;
    case PROF__KIND_LOST: head |= mutate_number(3) & PROF__TICK_MASK; break;
    case PROF__KIND_EVENT:
        record[1] = (uint64_t)(1 + mutate_below(5)) << 8 | types[mutate_below(sizeof types)];
        record[2] = mutate_below(2) ? 1 + mutate_below(4) : mutate_tick(words);
        break;
    default: break;
    }
    record[0] = head;
    return length;
}

/* A device's event with its parts, each of them as it should be or nearly. Returns its words, at most 32. */
static inline size_t mutate_device_make(const mutate_words *words, uint64_t event[32])
{
    uint64_t record[8];
    size_t at, length, parts = mutate_below(5);
    do at = mutate_record_make(words, event);
    while (event[0] >> PROF__KIND_SHIFT != PROF__KIND_EVENT);
    event[1] = (event[1] & ~(uint64_t)0xFF) | (PROF__DEVICE_SCOPE + mutate_below(4));
    while (parts--) {
        do length = mutate_record_make(words, record);
        while (record[0] >> PROF__KIND_SHIFT != PROF__KIND_DATA && record[0] >> PROF__KIND_SHIFT != PROF__KIND_NAME);
        if (mutate_below(2)) record[0] = (record[0] & ~((uint64_t)0xFF << 32)) | (uint64_t)PROF_VALUE_STRING << 32;
        memcpy(event + at, record, length * 8);
        at += length;
    }
    return at;
}

static inline void mutate_record_change(mutate_words *words, size_t at)
{
    uint64_t head = words->at[at], record[8];
    size_t length = prof__record_words(head, words->count - at);
    switch (mutate_below(8)) {
    case 7: head ^= (uint64_t)1 << (29 + mutate_below(3)); break; /* cut, key, target */
    case 0: head = (head & ~((uint64_t)15 << PROF__KIND_SHIFT)) | (uint64_t)mutate_below(16) << PROF__KIND_SHIFT; break;
    case 1:
        head = (head & ~((uint64_t)PROF__SITE_MASK << PROF__TICK_BITS)) |
               (uint64_t)(mutate_below(4) ? mutate_below(10) : mutate_number(8) & PROF__SITE_MASK) << PROF__TICK_BITS;
        break;
    case 2: head = (head & ~PROF__TICK_MASK) | mutate_tick(words); break;
    case 3: head = (head & ~(uint64_t)0xFFFF) | (mutate_number(head) & 0xFFFF); break;             /* words of payload */
    case 4: head = (head & ~((uint64_t)0xFF << 32)) | (uint64_t)mutate_below(PROF_VALUE_STRING + 3) << 32; break;
    case 5:
        if (length > 1) at += 1 + mutate_below(length - 1);
        head = mutate_number(words->at[at]);
        break;
    default:
        length = mutate_record_make(words, record);
        head = record[0];
        break;
    }
    words->at[at] = head;
}

static inline void mutate_records(mutate_words *words)
{
    uint64_t record[32] = {0}, kept[MUTATE_WORDS];
    size_t at = mutate_record_any(words), end = mutate_records_end(words), length, to;
    length = at < end ? prof__record_words(words->at[at], words->count - at) : 0;
    switch (mutate_below(length ? 8 : 1)) {
    case 7: /* again and again, to the last word of the chunk, behind which no zero ends a text */
        memcpy(kept, words->at + at, length * 8);
        for (; end < words->count; end += length) mutate_insert(words, end, kept, length);
        break;
    case 6:
        length = mutate_device_make(words, record);
        mutate_insert(words, at, record, length);
        break;
    case 0:
    case 1:
        length = mutate_record_make(words, record);
        mutate_insert(words, at, record, length);
        break;
    case 2: mutate_remove(words, at, length); break;
    case 3: /* another one like it, elsewhere */
    case 4: /* it goes elsewhere */
        memcpy(kept, words->at + at, length * 8);
        if (mutate_below(2)) mutate_remove(words, at, length);
        to = mutate_record_any(words);
        mutate_insert(words, to, kept, length);
        break;
    default: mutate_record_change(words, at); break;
    }
}

/*-- header, chunks, call sites --*/

typedef struct mutate_field {
    size_t offset, size;
} mutate_field;

#define MUTATE_FIELD(type, field) {offsetof(type, field), sizeof(((type *)0)->field)}

static inline void mutate_field_change(void *base, const mutate_field *field)
{
    uint64_t value = 0;
    uint32_t half;
    char *at = (char *)base + field->offset;
    if (field->size == 4) {
        memcpy(&half, at, 4);
        half = (uint32_t)mutate_number(half);
        memcpy(at, &half, 4);
    } else if (field->size == 8) {
        memcpy(&value, at, 8);
        value = mutate_number(value);
        memcpy(at, &value, 8);
    } else {
        at[mutate_below(field->size)] = (char)mutate_random(); /* a text */
    }
}

static inline void mutate_header(void *image)
{
    /* The first row decides whether it is an image at all, and so comes seldom. */
    static const mutate_field layout[] = {
        MUTATE_FIELD(prof__header, version),      MUTATE_FIELD(prof__header, byte_order),
        MUTATE_FIELD(prof__header, header_size),  MUTATE_FIELD(prof__header, word_size),
        MUTATE_FIELD(prof__header, image_size),   MUTATE_FIELD(prof__header, meta_offset),
        MUTATE_FIELD(prof__header, meta_size),    MUTATE_FIELD(prof__header, index_offset),
        MUTATE_FIELD(prof__header, index_size),   MUTATE_FIELD(prof__header, chunk_offset),
        MUTATE_FIELD(prof__header, chunk_count),  MUTATE_FIELD(prof__header, chunk_size),
        MUTATE_FIELD(prof__header, chunk_header_size)};
    static const mutate_field fields[] = {
        MUTATE_FIELD(prof__header, mode),             MUTATE_FIELD(prof__header, clock),
        MUTATE_FIELD(prof__header, state),            MUTATE_FIELD(prof__header, session),
        MUTATE_FIELD(prof__header, pid),              MUTATE_FIELD(prof__header, tick_hz),
        MUTATE_FIELD(prof__header, resolution_ticks), MUTATE_FIELD(prof__header, cost_ticks_x1000),
        MUTATE_FIELD(prof__header, first.tick),       MUTATE_FIELD(prof__header, first.monotonic_ns),
        MUTATE_FIELD(prof__header, first.unix_ns),    MUTATE_FIELD(prof__header, first.width),
        MUTATE_FIELD(prof__header, last.tick),        MUTATE_FIELD(prof__header, last.monotonic_ns),
        MUTATE_FIELD(prof__header, last.unix_ns),     MUTATE_FIELD(prof__header, last.width),
        MUTATE_FIELD(prof__header, next_chunk),       MUTATE_FIELD(prof__header, overwritten),
        MUTATE_FIELD(prof__header, meta_used),        MUTATE_FIELD(prof__header, lost),
        MUTATE_FIELD(prof__header, sites_lost),       MUTATE_FIELD(prof__header, tracks),
        MUTATE_FIELD(prof__header, program),          MUTATE_FIELD(prof__header, clock_name),
        MUTATE_FIELD(prof__header, boot_id),          MUTATE_FIELD(prof__header, archive_offset),
        MUTATE_FIELD(prof__header, archive_limit),    MUTATE_FIELD(prof__header, archive_first),
        MUTATE_FIELD(prof__header, archive_next),     MUTATE_FIELD(prof__header, write_error),
        MUTATE_FIELD(prof__header, window_from),      MUTATE_FIELD(prof__header, window_to),
        MUTATE_FIELD(prof__header, copy_tick),        MUTATE_FIELD(prof__header, taken_back),
        MUTATE_FIELD(prof__header, lost_args),        MUTATE_FIELD(prof__header, lost_busy),
        MUTATE_FIELD(prof__header, lost_deep)};
    if (mutate_below(32))
        mutate_field_change(image, &fields[mutate_below(sizeof fields / sizeof *fields)]);
    else
        mutate_field_change(image, &layout[mutate_below(sizeof layout / sizeof *layout)]);
}

static inline void mutate_chunk_header(prof__chunk *chunk)
{
    static const mutate_field fields[] = {
        MUTATE_FIELD(prof__chunk, sequence),          MUTATE_FIELD(prof__chunk, base.tick),
        MUTATE_FIELD(prof__chunk, base.monotonic_ns), MUTATE_FIELD(prof__chunk, base.unix_ns),
        MUTATE_FIELD(prof__chunk, base.width),        MUTATE_FIELD(prof__chunk, state),
        MUTATE_FIELD(prof__chunk, lost)};
    mutate_field_change(chunk, &fields[mutate_below(sizeof fields / sizeof *fields)]);
}

/* An image that is whole enough to be changed in detail. */
typedef struct mutate_image {
    prof__header *header;
    char *bytes;
    size_t size, most; /* of the bytes; what they may grow to */
} mutate_image;

static inline int mutate_is_whole(const mutate_image *image)
{
    const prof__header *h = image->header;
    return image->size >= sizeof *h && !memcmp(h->magic, PROF__MAGIC, 8) && h->image_size <= image->size &&
           h->chunk_header_size >= PROF__LEAST_CHUNK && h->chunk_header_size % 8 == 0 && h->chunk_size % 8 == 0 &&
           h->chunk_size > h->chunk_header_size && h->chunk_size <= MUTATE_WORDS * 8 && h->chunk_offset % 8 == 0 &&
           h->chunk_offset >= PROF__HEADER_LEAST && h->chunk_offset <= h->image_size && h->chunk_count &&
           h->chunk_count <= (h->image_size - h->chunk_offset) / h->chunk_size && h->meta_offset % 8 == 0 &&
           h->meta_offset >= PROF__HEADER_LEAST && h->meta_offset <= h->image_size && h->meta_size % 8 == 0 &&
           h->meta_size <= h->image_size - h->meta_offset &&
           (!h->archive_offset ||
            (h->archive_offset % 8 == 0 && h->archive_offset >= h->image_size && h->archive_offset <= image->size));
}

static inline prof__chunk *mutate_chunk(const mutate_image *image, size_t number)
{
    const prof__header *h = image->header;
    return (prof__chunk *)(void *)(image->bytes + h->chunk_offset + number * h->chunk_size);
}

static inline mutate_words mutate_chunk_words(const mutate_image *image, size_t number)
{
    mutate_words words;
    words.at = (uint64_t *)(void *)((char *)mutate_chunk(image, number) + image->header->chunk_header_size);
    words.count = (image->header->chunk_size - image->header->chunk_header_size) / 8;
    return words;
}

static inline void mutate_chunks(mutate_image *image)
{
    size_t count = (size_t)image->header->chunk_count, a = mutate_below(count), b = mutate_below(count);
    prof__chunk *one = mutate_chunk(image, a), *other = mutate_chunk(image, b);
    uint64_t sequence = one->sequence;
    switch (mutate_below(5)) {
    case 0: /* in another order */
        one->sequence = other->sequence;
        other->sequence = sequence;
        break;
    case 1: /* the same again, later or at the same time */
        if (a == b) break;
        memcpy(other, one, image->header->chunk_size);
        if (mutate_below(4)) other->sequence = sequence + 1 + mutate_below(count);
        break;
    case 2: one->base.tick = other->base.tick + mutate_below(64); break;
    case 3: one->sequence = 0; break;
    default: mutate_chunk_header(one); break;
    }
}

static inline void mutate_meta(mutate_image *image)
{
    prof__header *h = image->header;
    uint64_t *words = (uint64_t *)(void *)(image->bytes + h->meta_offset);
    size_t count = (size_t)h->meta_size / 8, places[256], records = 0, at = 0, length, field;
    for (; at < count && records < 256; at += length) {
        length = (size_t)(words[at] >> 32 & 0xFFFFFF);
        if (!words[at] || !length || length > count - at) break;
        places[records++] = at;
    }
    if (!records) return;
    at = places[mutate_below(records)];
    length = (size_t)(words[at] >> 32 & 0xFFFFFF);
    switch (mutate_below(6)) {
    case 0: words[at] = (words[at] & ~((uint64_t)0xFF << 56)) | (uint64_t)mutate_below(7) << 56; break;
    case 1: words[at] = (words[at] & ~(uint64_t)0xFFFFFFFFu) | (uint32_t)mutate_number((uint32_t)words[at]); break;
    case 2:
        words[at] = (words[at] & ~((uint64_t)0xFFFFFF << 32)) | (mutate_number(length) & 0xFFFFFF) << 32;
        break;
    case 3: words[at + mutate_below(length)] = mutate_number(words[at]); break;
    case 4: ((char *)(words + at))[mutate_below(length * 8)] = (char)mutate_random(); break;
    default: /* another name, line, color, level, kind or role */
        field = at + 1 + mutate_below(4);
        if (words[at] >> 56 != PROF__META_SITE || length < PROF__META_SITE_WORDS) break;
        words[field] = (uint64_t)mutate_below(mutate_below(8) ? 256 : 16) << (mutate_below(2) ? 32 : 0) |
                       (mutate_below(2) ? words[field] & 0xFFFFFFFFu : 0);
        break;
    }
}

/*-- archive --*/

/* The blocks that stand one behind the other from the archive's beginning on. */
static inline size_t mutate_blocks(const mutate_image *image, size_t places[MUTATE_BLOCKS])
{
    size_t at = (size_t)image->header->archive_offset, count = 0;
    while (at && image->size - at >= sizeof(prof__block) && count < MUTATE_BLOCKS) {
        const prof__block *block = (const prof__block *)(const void *)(image->bytes + at);
        if (block->magic != PROF__BLOCK_MAGIC || block->size < sizeof *block || block->size % 8 ||
            block->size > image->size - at)
            break;
        places[count++] = at;
        at += block->size;
    }
    return count;
}

/* Makes the size bytes at a place, at most the rest of the image, to other ones. 0: there is no room for them. */
static inline int mutate_replace(mutate_image *image, size_t at, size_t size, const void *with, size_t with_size)
{
    prof__header *h = image->header;
    size_t rest = image->size - at - size;
    if (with_size > size && with_size - size > image->most - image->size) return 0;
    memmove(image->bytes + at + with_size, image->bytes + at + size, rest);
    memcpy(image->bytes + at, with, with_size);
    image->size = at + with_size + rest;
    if (h->archive_next >= at + size) h->archive_next += with_size - size;
    if (h->archive_limit >= at + size) h->archive_limit += with_size - size;
    if (h->archive_first >= at + size) h->archive_first += with_size - size;
    return 1;
}

/* A chunk of the ring goes into the archive, or is there as well. */
static inline void mutate_archive(mutate_image *image)
{
    static uint64_t packed[(PROF__BLOCK_BOUND(MUTATE_WORDS) + 7) / 8];
    prof__header *h = image->header;
    prof__block *block = (prof__block *)(void *)packed;
    size_t number = mutate_below((size_t)h->chunk_count), end;
    mutate_words words = mutate_chunk_words(image, number);
    prof__chunk *chunk = mutate_chunk(image, number);
    size_t count = mutate_records_end(&words);
    if (!count || !chunk->sequence) return;
    if (!h->archive_offset) h->archive_offset = h->archive_first = h->archive_next = image->size / 8 * 8;
    end = (size_t)h->archive_next;
    if (end < h->archive_offset || end > image->size) return;
    if (!mutate_replace(image, end, 0, block, prof__block_pack(chunk, words.at, count, block))) return;
    if (h->archive_next == end) h->archive_next = image->size;
    h->mode = PROF_STREAM;
    if (mutate_below(2)) chunk->sequence = 0;
}

/* Changes the records of a block, its header, or how it is packed. */
static inline void mutate_block(mutate_image *image)
{
    static uint64_t unpacked[MUTATE_WORDS], packed[(PROF__BLOCK_BOUND(MUTATE_WORDS) + 7) / 8];
    size_t places[MUTATE_BLOCKS], count = mutate_blocks(image, places), at;
    prof__block *block, *with = (prof__block *)(void *)packed;
    prof__chunk chunk;
    mutate_words words;
    if (!count) {
        mutate_archive(image);
        return;
    }
    at = places[mutate_below(count)];
    block = (prof__block *)(void *)(image->bytes + at);
    memset(&chunk, 0, sizeof chunk);
    chunk.sequence = block->sequence;
    chunk.base = block->base;
    chunk.lost = block->lost;
    words.at = unpacked;
    words.count = (image->header->chunk_size - image->header->chunk_header_size) / 8;
    memset(unpacked, 0, words.count * 8);
    switch (mutate_below(4)) {
    case 0: /* the check is made right by the fuzzer */
        ((char *)block)[sizeof *block + mutate_below(block->size - sizeof *block)] = (char)mutate_random();
        return;
    case 1: mutate_chunk_header(&chunk); break;
    case 2: /* not asked for */
        block->words = (uint32_t)mutate_number(block->words);
        return;
    default: break;
    }
    if (!block->words || block->words > words.count ||
        !prof__unpack((unsigned char *)(block + 1), block->size - sizeof *block, words.at, block->words))
        return;
    mutate_records(&words);
    mutate_replace(image, at, block->size, with,
                   prof__block_pack(&chunk, words.at, mutate_records_end(&words), with));
}

/*-- the whole --*/

/* The ring gets one chunk more. */
static inline void mutate_grow(mutate_image *image)
{
    prof__header *h = image->header;
    size_t size = h->chunk_size, end = (size_t)(h->chunk_offset + h->chunk_count * size);
    uint64_t copy[MUTATE_WORDS];
    prof__chunk *chunk = (prof__chunk *)(void *)copy;
    if (end != h->image_size || h->meta_offset > h->chunk_offset || image->most - image->size < size) return;
    memcpy(copy, mutate_chunk(image, mutate_below((size_t)h->chunk_count)), size);
    chunk->sequence += 1 + mutate_below((size_t)h->chunk_count);
    mutate_replace(image, end, 0, copy, size);
    if (h->archive_offset) h->archive_offset += size;
    h->image_size += size;
    ++h->chunk_count;
}

/* Moments that something depends on come near those of chunks. */
static inline void mutate_moment(mutate_image *image)
{
    prof__header *h = image->header;
    uint64_t *const moments[] = {&h->window_from, &h->window_to, &h->copy_tick, &h->last.tick, &h->first.tick};
    size_t number = mutate_below((size_t)h->chunk_count);
    mutate_words words = mutate_chunk_words(image, number);
    *moments[mutate_below(sizeof moments / sizeof *moments)] = mutate_chunk(image, number)->base.tick + mutate_tick(&words);
}

/* A part of the image is empty, as after a loss of power. */
static inline void mutate_empty(const mutate_image *image)
{
    size_t words = image->size / 8, count = 64 + mutate_below(512), at = mutate_below(words);
    if (at < sizeof(prof__header) / 8) at = sizeof(prof__header) / 8;
    if (at < words) memset(image->bytes + at * 8, 0, (count < words - at ? count : words - at) * 8);
}

static inline void mutate_once(mutate_image *image)
{
    mutate_words words;
    if (!mutate_is_whole(image)) {
        if (image->size) image->bytes[mutate_below(image->size)] ^= (char)(1 << mutate_below(8));
        return;
    }
    switch (mutate_below(32)) {
    case 0: mutate_header(image->bytes); break;
    case 1: mutate_moment(image); break;
    case 2: mutate_grow(image); break;
    case 3: mutate_archive(image); break;
    case 4:
        if (!mutate_below(4)) image->size -= mutate_below(mutate_below(image->size));
        break;
    case 5:
    case 6: mutate_chunks(image); break;
    case 7:
    case 8:
    case 9: mutate_meta(image); break;
    case 10:
    case 11:
    case 12:
    case 13: mutate_block(image); break;
    case 14: mutate_empty(image); break;
    default:
        words = mutate_chunk_words(image, mutate_below((size_t)image->header->chunk_count));
        mutate_records(&words);
        break;
    }
}

/* Changes an image a little, and returns its new size. */
static inline size_t mutate(void *image, size_t size, size_t most)
{
    mutate_image view;
    size_t times = 1 + mutate_below(1 + mutate_below(6));
    view.header = (prof__header *)image;
    view.bytes = (char *)image;
    view.size = size;
    view.most = most;
    while (times--) mutate_once(&view);
    return view.size;
}
#endif
