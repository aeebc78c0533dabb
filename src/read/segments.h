// read/segments: Cuts the words of chunks and blocks into segments. Each segment has the records of one track. Reads
// the archive.
#ifndef PROF__READ_SEGMENTS_H
#define PROF__READ_SEGMENTS_H
#include "api/markup.h"
#include "api/values.h"
#include "ground/hash.h"
#include "image/format.h"
#include "image/pack.h"
#include "image/words.h"
#include "read/chunks.h"
#include "read/devices.h"
#include "read/epochs.h"
#include "read/names.h"
#include "read/segment_summary.h"
#include "read/records.h"
#include "read/trace.h"

/* Sets a segment's first time, if this is its first record with a time. */
static inline void prof__read_cut_time(const prof_trace *trace, size_t chunk, prof__read_segment *segment,
                                       uint64_t head)
{
    if (!segment || segment->record != ~(uint64_t)0) return;
    segment->record = prof__read_tick(trace->chunks[chunk].tick, head, 0);
    if (segment->tick == ~(uint64_t)0) segment->tick = segment->record;
}

/* Ends a segment before this word. Its strings have been terminated. */
static void prof__read_cut_end(prof_trace *trace, prof__read_segment *segment, const uint64_t *words, size_t at,
                               prof__segment_summarizer *summarizer)
{
    int follows = segment > trace->segments && segment[-1].chunk == segment->chunk;
    segment->end = (uint32_t)at;
    segment->last_tick = prof__read_tick(summarizer->base, summarizer->ticks, follows ? segment[-1].last_tick : 0);
    if (summarizer->jumps) trace->chunks[segment->chunk].jumps = 1;
    summarizer->good &= !summarizer->jumps;
    summarizer->jumps = 0;
    prof__segment_summary_keep(trace, segment, summarizer);
    if (trace->paged && !trace->chunks[segment->chunk].size)
        segment->mark = prof__read_mark(trace, words + segment->first, at - segment->first);
}

/* Cuts the words of a chunk into segments, terminates their strings, and adds their call sites. Returns 0 if there is
   no memory. */
static int prof__read_cut(prof_trace *trace, size_t chunk, uint64_t *words, size_t count)
{
    size_t at, length, segments = trace->segment_count;
    prof__read_segment *segment = NULL;
    prof__segment_summarizer summarizer;
    prof__segment_summary_begin(&summarizer, trace->chunks[chunk].tick);
    summarizer.behind = trace->behind;
    summarizer.jumps = 0;
    for (at = 0; at < count; at += length) {
        unsigned kind = prof__read_kind(words[at]);
        if (kind == PROF__KIND_BEGIN || kind == PROF__KIND_END) {
            prof__read_cut_time(trace, chunk, segment, words[at]);
            length = prof__segment_summary_scopes(&summarizer, trace, words, at, count) - at;
            if (length) continue;
            if (!prof__read_know_site(trace, prof__read_id(words[at]), kind)) return 0;
            summarizer.good = 0;
            length = 1;
            continue;
        }
        length = prof__record_words(words[at], count - at);
        if (!length) break;
        if (prof__read_has_text(words[at])) {
            prof__read_seal_text(words + at, length);
            trace->chunks[chunk].texts = 1;
        }
        if (kind == PROF__KIND_TRACK) {
            if (trace->segment_count > segments)
                prof__read_cut_end(trace, &trace->segments[trace->segment_count - 1], words, at, &summarizer);
            prof__segment_summary_begin(&summarizer, trace->chunks[chunk].tick);
            if (trace->segment_count >= PROF__NONE32) return 0;
            segment = (prof__read_segment *)PROF__MORE(trace->segments, trace->segment_capacity, trace->segment_count);
            if (!segment) return 0;
            segment->track = prof__track_id(words + at);
            segment->serial = prof__track_serial(words + at);
            segment->tick = at ? ~(uint64_t)0 : trace->chunks[chunk].tick;
            segment->record = ~(uint64_t)0;
            segment->chunk = (uint32_t)chunk;
            segment->first = (uint32_t)at;
            segment->thread = (uint32_t)words[at + 2];
            segment->name = (uint32_t)(words[at] & (PROF__NAME_OF_SYSTEM - 1));
            segment->of_system = (words[at] & PROF__NAME_OF_SYSTEM) != 0;
            segment->fiber = words[at] >> 31 & 1;
        } else if (prof__record_in(PROF__SITED, words[at])) {
            if ((prof__record_timed(words[at]) || prof__read_id(words[at])) &&
                !prof__read_know_site(trace, prof__read_id(words[at]), kind))
                return 0;
            if (kind == PROF__KIND_ARG && words[at] & PROF__ARG_TO && length > 1 &&
                !prof__read_know_site(trace, prof__read_id(words[at + length - 1]), PROF__KIND_BEGIN))
                return 0;
            if (prof__record_timed(words[at])) {
                uint64_t now = words[at] & PROF__TICK_MASK;
                prof__read_cut_time(trace, chunk, segment, words[at]);
                summarizer.jumps |= now < summarizer.ticks && summarizer.ticks - now > summarizer.behind;
                if (now > summarizer.ticks) summarizer.ticks = now;
            }
            if (kind == PROF__KIND_EVENT && !prof__read_event_type(words + at) &&
                !prof__device_take(trace, chunk, words, at, count))
                return 0;
        }
        if (summarizer.good) prof__segment_summary_record(&summarizer, trace, words, at, count);
    }
    if (segment) {
        prof__read_cut_end(trace, segment, words, at, &summarizer);
        segment->last = 1;
        if (trace->chunks[chunk].jumps) {
            int kept = !trace->paged && !trace->chunks[chunk].size;
            uint64_t reached = trace->chunks[chunk].tick + prof__read_mend(words, at, trace->behind, kept);
            if (reached > trace->reached) trace->reached = reached;
        }
    } else {
        trace->info.lost += trace->chunks[chunk].lost;
    }
    return 1;
}

static int prof__read_same_sequence(const void *owner, size_t item, const void *key)
{
    return ((const prof_trace *)owner)->chunks[item].sequence == *(const uint64_t *)key;
}

/* Keeps a clock pair, unless one near it is known already. Keeps at most 65,536: when there are more, doubles the
   distance between kept pairs. Returns 0 if there is no memory. */
static int prof__read_pair(prof_trace *trace, const prof__pair *pair)
{
    size_t i, kept = 1;
    if (pair->monotonic_ns <= trace->header.first.monotonic_ns) return 1;
    if (trace->pair_ns) {
        uint64_t before = trace->pairs[trace->pair_count - 1].monotonic_ns, ns = pair->monotonic_ns;
        if ((ns > before ? ns - before : before - ns) < trace->pair_ns) return 1;
    }
    if (trace->pair_count >= 65536) {
        trace->pair_ns = !trace->pair_ns ? 1000000 : trace->pair_ns >> 62 ? trace->pair_ns : trace->pair_ns * 2;
        for (i = 1; i < trace->pair_count; i++) {
            uint64_t before = trace->pairs[kept - 1].monotonic_ns, ns = trace->pairs[i].monotonic_ns;
            if (ns > before && ns - before >= trace->pair_ns) trace->pairs[kept++] = trace->pairs[i];
        }
        trace->pair_count = kept;
    }
    prof__pair *more = (prof__pair *)PROF__MORE(trace->pairs, trace->pair_capacity, trace->pair_count);
    if (more) *more = *pair;
    return more != NULL;
}

static int prof__read_known(const prof_trace *trace, uint64_t sequence)
{
    return prof__read_find(&trace->sequences, (uint32_t)prof__mix(sequence), prof__read_same_sequence, trace,
                           &sequence) != PROF__NONE;
}

/* Adds a chunk with its words, unless one with the same sequence number is known. Returns 0 if there is no memory. */
static int prof__read_add_chunk(prof_trace *trace, const prof__read_chunk *chunk, const prof__pair *base,
                                uint64_t *words, size_t count)
{
    uint32_t hash = (uint32_t)prof__mix(chunk->sequence);
    size_t item;
    if (prof__read_known(trace, chunk->sequence)) return 1;
    item = PROF__NEW(trace->sequences, hash, trace->chunks, trace->chunk_capacity, trace->chunk_count);
    if (item == PROF__NONE) return 0;
    trace->chunks[item] = *chunk;
    prof__pair pair = prof__read_unwrap(trace, base);
    trace->chunks[item].tick = pair.tick;
    if (!prof__read_pair(trace, &pair) || !prof__read_cut(trace, item, words, count)) return 0;
    if (chunk->size) trace->chunks[item].mark = prof__read_mark(trace, words, count);
    return 1;
}

/* Returns the next offset, from `offset` on and before end, at which a block may begin, or end if there is none. */
static uint64_t prof__read_resume(const prof_trace *trace, uint64_t offset, uint64_t end)
{
    uint64_t words[256], last = end < trace->size ? end : trace->size;
    size_t count, i;
    for (; offset < last && last - offset >= 8; offset += count * 8) {
        uint32_t magic;
        count = (last - offset) / 8 < 256 ? (size_t)((last - offset) / 8) : 256;
        if (!prof__read_part(trace, offset, words, count * 8)) return end;
        for (i = 0; i < count; i++) {
            memcpy(&magic, words + i, sizeof magic);
            if (magic == PROF__BLOCK_MAGIC) return offset + i * 8;
        }
    }
    return end;
}

/* Returns 1 if the archive went back to its beginning at this offset instead of writing a block. */
static int prof__read_lap_ends(const prof_trace *trace, uint64_t offset, uint64_t end)
{
    prof__block block;
    if (end - offset < sizeof block) return 1;
    return prof__read_part(trace, offset, &block, sizeof block) && block.magic == PROF__BLOCK_MAGIC &&
           !block.sequence && block.size == sizeof block && block.check == prof__block_check(&block, NULL);
}

/* Reads the blocks of the archive from offset to end. wraps: 1: there may be unused bytes before end, where the archive
   went back to its beginning. Leaves out damaged blocks and counts them. Returns 0 if there is no memory. */
static int prof__read_blocks(prof_trace *trace, uint64_t offset, uint64_t end, int wraps)
{
    int damaged = 0;
    uint64_t size = end - offset, tried = 0; /* bytes that were tried and are not a block */
    while (offset < end) {
        prof__block block;
        uint64_t step;
        memset(&block, 0, sizeof block);
        if (prof__read_block(trace, &trace->buffer, offset, end, &block)) {
            prof__read_chunk chunk;
            damaged = 0;
            memset(&chunk, 0, sizeof chunk);
            chunk.sequence = block.sequence;
            chunk.tick = block.base.tick;
            chunk.lost = block.lost;
            chunk.place = offset;
            chunk.size = block.size;
            chunk.words = block.words;
            /* A chunk that began after the ring was copied may be in the archive before a chunk that began earlier. */
            if ((trace->header.state == PROF__STOPPED || block.sequence <= trace->header.next_chunk) &&
                !prof__read_add_chunk(trace, &chunk, &block.base, trace->buffer.words, block.words))
                return 0;
            offset += block.size;
            continue;
        }
        if (wraps && prof__read_lap_ends(trace, offset, end)) return 1;
        trace->info.lost_blocks += !damaged;
        damaged = 1;
        step = prof__read_block_likely(trace, &block, offset, end) ? block.size : 8;
        tried += step;
        if (tried / 16 < size) step = 8; /* otherwise the image was made so that everything looks like a block */
        offset = prof__read_resume(trace, offset + step, end);
    }
    return 1;
}

static int prof__read_archive(prof_trace *trace)
{
    const prof__header *h = &trace->header;
    uint64_t limit = h->archive_limit && h->archive_limit < trace->size ? h->archive_limit : trace->size;
    if (!h->archive_offset || h->archive_first == h->archive_next) return 1;
    if (!prof__read_buffer_make(trace, &trace->buffer)) return 0;
    if (h->archive_first < h->archive_next) return prof__read_blocks(trace, h->archive_first, h->archive_next, 0);
    return prof__read_blocks(trace, h->archive_first, limit, 1) &&
           prof__read_blocks(trace, h->archive_offset, h->archive_next, 0);
}

#endif /* PROF__READ_SEGMENTS_H */
