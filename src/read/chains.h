// read/chains: Collects the samples of threads, and their chains of frames, from the chunks.
#ifndef PROF__READ_CHAINS_H
#define PROF__READ_CHAINS_H
#include "ground/hash.h"
#include "image/system.h"
#include "image/unpack.h"
#include "image/words.h"
#include "read/records.h"
#include "read/trace.h"

/* The frames of one sample, from the outermost one on, as an EVENT has them. */
typedef struct prof__read_frames {
    uint64_t list[PROF__SAMPLE_DEPTH];
    uint32_t count;
} prof__read_frames;

/* Compares a chain, which is stored from the innermost frame on. */
static int prof__same_chain(const void *owner, size_t item, const void *key)
{
    const prof_trace *trace = (const prof_trace *)owner;
    const prof__read_chain *chain = &trace->chains[item];
    const prof__read_frames *frames = (const prof__read_frames *)key;
    uint32_t i;
    if (chain->count != frames->count) return 0;
    for (i = 0; i < chain->count; i++)
        if (trace->frames[chain->first + i] != frames->list[chain->count - 1 - i]) return 0;
    return 1;
}

/* Returns the number of a chain, which is added if it is new, or PROF__NONE if there is no memory. */
static size_t prof__chain_number(prof_trace *trace, const prof__read_frames *frames)
{
    uint64_t hash = prof__mix(frames->count);
    size_t found, first = trace->frame_count;
    uint32_t i;
    for (i = 0; i < frames->count; i++) hash = prof__scatter(hash ^ frames->list[i]);
    found = prof__read_find(&trace->chain_index, (uint32_t)hash, prof__same_chain, trace, frames);
    if (found != PROF__NONE) return found;
    for (i = frames->count; i; i--) {
        if (!PROF__ROOM(trace->frames, trace->frame_capacity, trace->frame_count)) return PROF__NONE;
        trace->frames[trace->frame_count++] = frames->list[i - 1];
    }
    found = PROF__NEW(trace->chain_index, (uint32_t)hash, trace->chains, trace->chain_capacity, trace->chain_count);
    if (found == PROF__NONE) return PROF__NONE;
    trace->chains[found].first = first;
    trace->chains[found].count = frames->count;
    return found;
}

static uint64_t prof__unpack_signed(prof__unpacker *bytes)
{
    uint64_t value = prof__unpack_integer(bytes);
    return value >> 1 ^ (0 - (value & 1));
}

/* Reads the next sample of an EVENT. Returns 0 if there is none, or what follows is damaged. */
static int prof__sample_read(prof__unpacker *bytes, prof__read_sample *sample, prof__read_frames *frames)
{
    uint64_t count = prof__unpack_integer(bytes), shared, outer, i;
    if (bytes->bad || !count || count > PROF__SAMPLE_DEPTH) return 0;
    shared = prof__unpack_integer(bytes);
    if (shared > count || shared > frames->count) return 0;
    sample->thread += (uint32_t)prof__unpack_signed(bytes);
    sample->ns += prof__unpack_integer(bytes);
    outer = shared ? frames->list[shared - 1] : 0;
    for (i = shared; i < count; i++) frames->list[i] = outer += prof__unpack_signed(bytes);
    frames->count = (uint32_t)count;
    return !bytes->bad;
}

/* Collects the EVENT of PROF__DEVICE_SAMPLES at this word. Returns 0 if there is no memory. */
static int prof__samples_take(prof_trace *trace, const uint64_t *words, size_t at, size_t count)
{
    const uint64_t *record = words + at;
    size_t length = at + 3 < count ? prof__record_length(record[3], count - at - 3) : 0;
    uint64_t period, lost, dropped;
    prof__read_frames frames;
    prof__read_sample sample;
    prof__unpacker bytes;
    if (length < 2 || (record[1] >> 40 & 0xFF) || prof__read_kind(record[3]) != PROF__KIND_DATA ||
        prof__record_holds(record[3]) != PROF_VALUE_STRING)
        return 1;
    memset(&sample, 0, sizeof sample);
    frames.count = 0;
    bytes.at = (const unsigned char *)(record + 4);
    bytes.end = bytes.at + (length - 1) * 8;
    bytes.bad = 0;
    period = prof__unpack_integer(&bytes);
    lost = prof__unpack_integer(&bytes);
    dropped = prof__unpack_integer(&bytes);
    if (bytes.bad || !period || lost > UINT32_MAX || dropped > UINT32_MAX) return 1;
    trace->info.sample_period_ns = period;
    trace->info.samples_lost += lost + dropped;
    trace->info.samples_dropped += dropped;
    sample.ns = record[2];
    sample.processor = (uint32_t)(record[1] >> 8);
    while (prof__sample_read(&bytes, &sample, &frames)) {
        size_t chain = prof__chain_number(trace, &frames);
        if (chain == PROF__NONE ||
            !PROF__ROOM(trace->sample_items, trace->sample_item_capacity, trace->sample_item_count))
            return 0;
        sample.chain = (uint32_t)chain;
        trace->sample_items[trace->sample_item_count++] = sample;
    }
    return 1;
}

#endif /* PROF__READ_CHAINS_H */
