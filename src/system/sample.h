// system/sample: Takes samples out of the kernel's rings, packs them, and records them.
#ifndef PROF__SYSTEM_SAMPLE_H
#define PROF__SYSTEM_SAMPLE_H
#include "image/pack.h"
#include "system/drain.h"
#include "system/modules.h"

#ifdef PROF__SYSTEM_LINUX
#define PROF__SAMPLES_STANDARD 500 /* a second */

/* Returns the time between two samples of a thread, in ns of its running time; 0: they are not asked for. It is 4.5 %
   longer than the rate says, so that a program with rounds of a millisecond is not met at the same place of each. */
static uint64_t prof__sample_period(const prof_config *config)
{
    int rate = config->samples > 1 ? config->samples : config->samples || config->system ? PROF__SAMPLES_STANDARD : 0;
    return rate ? 1045100000u / (uint64_t)rate : 0;
}

#define PROF__SAMPLE_BYTES (PROF__SAMPLE_WORDS * 8 - 1) /* and a zero */
#define PROF__SAMPLE_BOUND ((PROF__SAMPLE_DEPTH + 4) * 10) /* bytes of one sample, at most */

/* A sample as the kernel tells it, its frames from the outermost one on. */
typedef struct prof__sample {
    uint64_t ns;
    uint32_t thread, count;
    uint64_t frames[PROF__SAMPLE_DEPTH];
} prof__sample;

/* Samples of one processor that are to become an EVENT. */
typedef struct prof__sample_batch {
    prof__ring *ring;
    uint64_t base;
    size_t size, count;
    prof__sample last;
    uint64_t words[PROF__SAMPLE_WORDS + (PROF__SAMPLE_BOUND + 7) / 8];
} prof__sample_batch;

static uint64_t prof__zigzag(uint64_t difference) { return difference << 1 ^ (0 - (difference >> 63)); }

/* Begins a batch with the period, and with what is missing. */
static void prof__samples_begin(prof__sample_batch *batch)
{
    unsigned char *bytes = (unsigned char *)batch->words, *at = bytes;
    at = prof__pack_integer(at, prof__system.period);
    at = prof__pack_integer(at, batch->ring->untold);
    at = prof__pack_integer(at, batch->ring->dropped);
    batch->size = (size_t)(at - bytes);
    batch->count = 0;
    batch->last.count = batch->last.thread = 0;
}

/* Records a batch, if it says anything. If that fails, a later batch says how many samples are missing; but while
   recording is paused, none are wanted. */
static void prof__samples_flush(prof__sample_batch *batch)
{
    prof__ring *ring = batch->ring;
    if (!batch->count && !ring->untold && !ring->dropped) return;
    memset((char *)batch->words + batch->size, 0, 8);
    if (!batch->count) batch->base = prof__monotonic();
    if (prof__system_write((uint64_t)ring->processor << 8 | PROF__DEVICE_SAMPLES, batch->base, PROF_VALUE_STRING,
                           batch->words, batch->size / 8 + 1))
        ring->untold = ring->dropped = 0;
    else if (!PROF__LOAD(&prof__state.paused) && !PROF__HELD())
        ring->dropped += batch->count;
    prof__samples_begin(batch);
}

/* Packs a sample behind those of the batch. Returns the bytes that the batch has then. */
static size_t prof__sample_pack(const prof__sample_batch *batch, const prof__sample *sample, unsigned char *at)
{
    const prof__sample *last = &batch->last;
    const unsigned char *from = at;
    uint64_t ns = batch->count ? last->ns : sample->ns, outer;
    uint32_t shared = 0;
    while (shared < sample->count && shared < last->count && sample->frames[shared] == last->frames[shared]) ++shared;
    at = prof__pack_integer(at, sample->count);
    at = prof__pack_integer(at, shared);
    at = prof__pack_integer(at, prof__zigzag((uint64_t)sample->thread - last->thread));
    at = prof__pack_integer(at, sample->ns > ns ? sample->ns - ns : 0);
    outer = shared ? sample->frames[shared - 1] : 0;
    for (uint32_t i = shared; i < sample->count; outer = sample->frames[i++])
        at = prof__pack_integer(at, prof__zigzag(sample->frames[i] - outer));
    return batch->size + (size_t)(at - from);
}

static void prof__sample_put(prof__sample_batch *batch, prof__sample *sample)
{
    unsigned char *bytes = (unsigned char *)batch->words;
    size_t size = prof__sample_pack(batch, sample, bytes + batch->size);
    if (size > PROF__SAMPLE_BYTES && batch->count) {
        prof__samples_flush(batch);
        size = prof__sample_pack(batch, sample, bytes + batch->size);
    }
    while (size > PROF__SAMPLE_BYTES) { /* far and random addresses: keeps the innermost frames */
        uint32_t less = sample->count / 2;
        sample->count -= less;
        memmove(sample->frames, sample->frames + less, sample->count * sizeof *sample->frames);
        size = prof__sample_pack(batch, sample, bytes + batch->size);
    }
    if (!batch->count) batch->base = sample->ns;
    if (batch->count && sample->ns < batch->last.ns) sample->ns = batch->last.ns;
    batch->size = size;
    batch->last = *sample;
    ++batch->count;
}

#define PROF__PERF_THROTTLE 5u
#define PROF__PERF_FAR ((uint64_t)1 << 57) /* no program has addresses from here on */

/* Takes one record of a ring. */
static void prof__sample_take(prof__sample_batch *batch, prof__perf_head head)
{
    prof__ring *ring = batch->ring;
    uint64_t frames[PROF__SAMPLE_DEPTH], at = ring->tail, end = at + head.bytes, count;
    prof__sample sample;
    uint32_t who[2]; /* process and thread */
    if (head.type == PROF__PERF_THROTTLE) ++prof__system.held_back;
    if (head.type == PROF__PERF_LOST && head.bytes >= 24) {
        prof__samples_flush(batch);
        ring->lost += prof__ring_word(ring, at + 16);
        ring->untold += prof__ring_word(ring, at + 16);
        prof__samples_begin(batch);
    }
    if (head.type != PROF__PERF_SAMPLE || head.bytes < 40) return;
    uint64_t word = prof__ring_word(ring, at + 8);
    memcpy(who, &word, sizeof who);
    sample.thread = who[1];
    sample.ns = prof__ring_word(ring, at + 16);
    sample.count = 0;
    count = prof__ring_word(ring, at + 24);
    for (at += 32; at + 8 <= end && count && sample.count < PROF__SAMPLE_DEPTH; at += 8, --count) {
        word = prof__ring_word(ring, at);
        if (word >= (uint64_t)-4095) continue; /* says whose frames follow */
        if (!word || word >= PROF__PERF_FAR) break; /* code without frame pointers */
        frames[sample.count++] = word;
    }
    for (uint32_t i = 0; i < sample.count; ++i) sample.frames[i] = frames[sample.count - 1 - i];
    if (sample.count && who[0] == prof__system.session->process) prof__sample_put(batch, &sample);
}

/* Takes what the kernel has written, a ring at a time. */
static void prof__samples_drain(void)
{
    prof__sample_batch batch;
    for (size_t i = prof__system.switch_rings; i < prof__system.ring_count; ++i) {
        prof__ring *ring = batch.ring = &prof__system.rings[i];
        prof__samples_begin(&batch);
        prof__ring_look(ring);
        while (ring->tail < ring->head) {
            prof__perf_head head = prof__ring_record(ring);
            if (head.bytes < 8) head.bytes = (uint16_t)(ring->head - ring->tail); /* the kernel writes no such record */
            prof__sample_take(&batch, head);
            ring->tail += head.bytes;
            prof__ring_done(ring);
        }
        prof__samples_flush(&batch);
    }
}

static void prof__samples_round(void)
{
    prof__modules_look(prof__system_may());
    prof__samples_drain();
}

/* Says in the metadata what is missing, and has no place elsewhere. */
static void prof__samples_tell(void)
{
    char text[PROF__SYSTEM_WHY];
    uint64_t missing = 0;
    for (size_t i = prof__system.switch_rings; i < prof__system.ring_count; ++i)
        missing += prof__system.rings[i].untold + prof__system.rings[i].dropped;
    if (missing)
        snprintf(text, sizeof text, "the last %llu are missing: the buffer was full",
                 (unsigned long long)missing);
    else if (prof__system.held_back)
        snprintf(text, sizeof text, "the kernel held back some, %llu times: kernel.perf_event_max_sample_rate or "
                 "perf_cpu_time_max_percent is too low", (unsigned long long)prof__system.held_back);
    else if (prof__system.modules_missing)
        snprintf(text, sizeof text, "some libraries are not listed, for want of room: enlarge PROF_BUFFER");
    else
        return;
    prof__beside_says(prof__system.session, "samples", text);
}

/* The last round. may: see prof__switches_finish(). */
static void prof__samples_finish(int may)
{
    if (may) prof__perf_disable(prof__system.switch_rings, prof__system.ring_count);
    prof__modules_look(may);
    prof__samples_drain();
    if (!may) return;
    for (size_t i = prof__system.switch_rings; i < prof__system.ring_count; ++i) prof__ring_lost(i);
    prof__samples_drain(); /* records what they have told */
    prof__samples_tell();
}
#endif

#endif /* PROF__SYSTEM_SAMPLE_H */
