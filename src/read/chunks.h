// read/chunks: Reads the words of chunks and blocks, and checks that they have not changed since the tables were made.
#ifndef PROF__READ_CHUNKS_H
#define PROF__READ_CHUNKS_H
#include "api/markup.h"
#include "api/values.h"
#include "ground/hash.h"
#include "image/format.h"
#include "image/unpack.h"
#include "image/words.h"
#include "session/save.h"
#include "read/records.h"
#include "read/trace.h"

static int prof__read_chunk_order(const void *a, const void *b)
{
    const prof__read_chunk *x = (const prof__read_chunk *)a, *y = (const prof__read_chunk *)b;
    if (x->sequence != y->sequence) return x->sequence < y->sequence ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

static int prof__read_segment_order(const void *a, const void *b)
{
    const prof__read_segment *x = (const prof__read_segment *)a, *y = (const prof__read_segment *)b;
    if (x->track != y->track) return x->track < y->track ? -1 : 1;
    if (x->serial != y->serial) return x->serial < y->serial ? -1 : 1;
    if (x->chunk != y->chunk) return x->chunk < y->chunk ? -1 : 1;
    return x->first < y->first ? -1 : x->first > y->first;
}

/*-- the words of a chunk --*/

/* Reads size bytes at offset, from the trace's file or memory. Returns 0 if they are missing or have gone. */
static int prof__read_part(const prof_trace *trace, uint64_t offset, void *to, size_t size)
{
    if (offset > trace->size || size > trace->size - offset) return 0;
    if (trace->file) return prof__file_at(trace->file, trace->base + offset, to, size);
    memcpy(to, (const char *)trace->image + offset, size);
    return 1;
}

static void prof__read_buffer_free(prof__read_buffer *buffer)
{
    free(buffer->words);
    free(buffer->block);
    memset(buffer, 0, sizeof *buffer);
}

/* Allocates the buffer. Returns 0 if there is no memory. */
static int prof__read_buffer_make(const prof_trace *trace, prof__read_buffer *buffer)
{
    if (buffer->words) return 1;
    buffer->words = (uint64_t *)malloc(trace->chunk_words * 8);
    buffer->block = (char *)malloc(PROF__BLOCK_BOUND(trace->chunk_words));
    if (buffer->words && buffer->block) return 1;
    prof__read_buffer_free(buffer);
    return 0;
}

/* Returns 1 if this may be the header of a block at offset that ends before end. */
static int prof__read_block_likely(const prof_trace *trace, const prof__block *block, uint64_t offset, uint64_t end)
{
    return block->magic == PROF__BLOCK_MAGIC && block->sequence && block->words && block->words <= trace->chunk_words &&
           block->size > sizeof *block && block->size % 8 == 0 &&
           block->size <= PROF__BLOCK_BOUND(trace->chunk_words) && block->size <= end - offset;
}

/* Returns a hash of words, by which the reader recognises whether they have changed. Unlike with the checksum in a
   block, nobody can choose other words with the same hash, because its keys depend on a random seed of this process. */
static uint64_t prof__read_mark(const prof_trace *trace, const uint64_t *words, size_t count)
{
    const uint64_t *keys = trace->keys;
    uint64_t mark = 0;
    size_t i, part;
    for (; count; words += part, count -= part) {
#ifdef __SIZEOF_INT128__
        __extension__ typedef unsigned __int128 prof__product;
        prof__product sum = 0;
        part = count < PROF__READ_KEYS ? count : PROF__READ_KEYS;
        for (i = 0; i + 1 < part; i += 2) sum += (prof__product)(words[i] + keys[i]) * (words[i + 1] + keys[i + 1]);
        if (i < part) sum += (prof__product)(words[i] + keys[i]) * keys[i + 1];
        mark = prof__mix(mark + (uint64_t)sum) + (uint64_t)(sum >> 64);
#else
        uint64_t sum = 0;
        part = count < PROF__READ_KEYS ? count : PROF__READ_KEYS;
        for (i = 0; i < part; i++)
            sum += (uint64_t)(uint32_t)(words[i] + keys[i]) * (uint32_t)((words[i] >> 32) + (keys[i] >> 32));
        mark = prof__mix(mark + sum);
#endif
    }
    return mark;
}

/* Reads and unpacks the block at offset, which must end before end. Its strings are not terminated yet. block: receives
   the block's header. Returns 0 if there is no valid block. */
static int prof__read_block(const prof_trace *trace, prof__read_buffer *buffer, uint64_t offset, uint64_t end,
                            prof__block *block)
{
    char *bytes = buffer->block + sizeof *block;
    buffer->chunk = 0;
    buffer->segment = NULL;
    if (offset > end || end - offset < sizeof *block || !prof__read_part(trace, offset, block, sizeof *block) ||
        !prof__read_block_likely(trace, block, offset, end) ||
        !prof__read_part(trace, offset + sizeof *block, bytes, block->size - sizeof *block) ||
        prof__block_check(block, bytes) != block->check ||
        prof__unpack((const unsigned char *)bytes, block->size - sizeof *block, buffer->words, block->words) !=
            block->words)
        return 0;
    return 1;
}

/* Reads size bytes of the ring, at an offset in the image. Returns 0 if they have gone. */
static int prof__read_ring_part(const prof_trace *trace, uint64_t offset, void *to, size_t size)
{
    if (trace->paged) return prof__file_at(trace->file, trace->base + offset, to, size);
    memcpy(to, (const char *)trace->image + offset, size);
    return 1;
}

/* How many records may be out of order one after the other, because signal handlers interrupt signal handlers. */
#define PROF__LATE_RECORDS 4

/* Returns the index of the first record of a track's next few whose tick is not before this one, or 0 if there is
   none. */
static size_t prof__read_reaches(const uint64_t *words, size_t at, size_t count, uint64_t tick)
{
    size_t length, timed = 0;
    for (; at < count && timed < PROF__LATE_RECORDS; at += length) {
        length = prof__record_length(words[at], count - at);
        if (!length) return 0;
        if (prof__read_kind(words[at]) == PROF__KIND_TRACK) return 0;
        if (prof__record_timed(words[at]) && (words[at] & PROF__TICK_MASK) >= tick) return at;
        timed += prof__record_timed(words[at]) != 0;
    }
    return 0;
}

#define PROF__JUMPS 64 /* most resets of the counter in a chunk; further ones are taken as other errors */

/* Corrects the ticks of records after a reset of the counter, as if the counter had gone on. Must be called whenever
   the words of a chunk with a reset have been read. A lower tick is not a reset if the next few records reach the
   earlier tick again: then signal handlers recorded for long between the reading of a record's clock and its writing.
   behind: see prof_trace. write: 0: changes nothing. Returns the largest tick. */
static uint64_t prof__read_mend(uint64_t *words, size_t count, uint64_t behind, int write)
{
    uint64_t last = 0, more = 0, most = 0;
    size_t at, length, late = 0; /* late: records before this index were written late */
    int jumps = 0;
    for (at = 0; at < count && (length = prof__record_length(words[at], count - at)) != 0; at += length) {
        uint64_t tick = (words[at] & PROF__TICK_MASK) + more;
        if (prof__read_kind(words[at]) == PROF__KIND_TRACK) last = more = 0;
        if (!prof__record_timed(words[at])) continue;
        if (at >= late && tick < last && last - tick > behind && jumps < PROF__JUMPS) {
            late = last >= more ? prof__read_reaches(words, at + length, count, last - more) : 0;
            if (!late) {
                more += last - tick;
                tick = last;
                jumps++;
            }
        }
        if (tick > PROF__TICK_MASK) tick = PROF__TICK_MASK;
        if (tick > last) last = tick;
        if (tick > most) most = tick;
        if (write) words[at] = (words[at] & ~PROF__TICK_MASK) | tick;
    }
    return most;
}

/* Reads a segment of a ring into its place in the buffer. Returns NULL if it has gone or has changed. */
static const uint64_t *prof__read_page(const prof_trace *trace, prof__read_buffer *buffer,
                                       const prof__read_segment *segment)
{
    uint64_t *words = buffer->words + segment->first;
    size_t count = segment->end - segment->first;
    if (buffer->segment == segment) return buffer->words;
    buffer->chunk = 0;
    buffer->segment = NULL;
    if (!prof__read_ring_part(trace, (trace->chunks[segment->chunk].place + segment->first) * 8, words, count * 8))
        return NULL;
    if (trace->chunks[segment->chunk].texts) prof__read_seal(words, count);
    if (prof__read_mark(trace, words, count) != segment->mark) return NULL;
    if (trace->chunks[segment->chunk].jumps) prof__read_mend(words, count, trace->behind, 1);
    buffer->segment = segment;
    return buffer->words;
}

/* Returns the words of a chunk, at least those of this segment: inside the image, or in the buffer until the next call.
   Returns NULL if the words have gone, or have changed so that the tables do not fit them any more. */
static const uint64_t *prof__read_words(const prof_trace *trace, prof__read_buffer *buffer,
                                        const prof__read_segment *segment)
{
    const prof__read_chunk *chunk = &trace->chunks[segment->chunk];
    uint32_t size = PROF__LOAD(&chunk->size);
    prof__block block;
    if (!size && !trace->paged) return trace->image + chunk->place;
    if (!buffer->words) return NULL;
    if (!size) return prof__read_page(trace, buffer, segment);
    if (buffer->chunk == segment->chunk + (size_t)1) return buffer->words;
    if (size == PROF__NONE32 || !prof__read_block(trace, buffer, chunk->place, chunk->place + size, &block) ||
        block.size != size || block.sequence != chunk->sequence || block.words != chunk->words)
        return NULL;
    if (chunk->texts) prof__read_seal(buffer->words, chunk->words);
    if (prof__read_mark(trace, buffer->words, chunk->words) != chunk->mark) return NULL;
    if (chunk->jumps) prof__read_mend(buffer->words, chunk->words, trace->behind, 1);
    buffer->chunk = segment->chunk + (size_t)1;
    return buffer->words;
}

/* Copies words that are needed while their segment is not loaded. Returns the index of the copy in kept, or PROF__NONE
   if there is no memory. */
static size_t prof__read_keep(prof_trace *trace, const uint64_t *words, size_t count)
{
    size_t at = trace->kept_count;
    while (trace->kept_capacity - at < count)
        if (!prof__more_room(&trace->kept, &trace->kept_capacity, sizeof *trace->kept)) return PROF__NONE;
    memcpy(trace->kept + at, words, count * 8);
    trace->kept_count += count;
    return at;
}

#endif /* PROF__READ_CHUNKS_H */
