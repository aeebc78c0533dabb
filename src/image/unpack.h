// image/unpack: Unpacks the records of a block: what image/pack has packed. Only the reader needs it.
#ifndef PROF__IMAGE_UNPACK_H
#define PROF__IMAGE_UNPACK_H
#include "api/values.h"
#include "image/format.h"
#include "image/pack.h"
#include "image/words.h"

typedef struct prof__unpacker {
    const unsigned char *at, *end;
    int bad;
} prof__unpacker;

static uint64_t prof__unpack_integer(prof__unpacker *u)
{
    uint64_t value = 0;
    unsigned shift = 0;
    for (; u->at < u->end && shift < 70; shift += 7) {
        unsigned char byte = *u->at++;
        value |= (uint64_t)(byte & 127) << shift; /* at most 10 groups; bits beyond 64 are dropped */
        if (byte < 128) return value;
    }
    u->bad = 1;
    return 0;
}

static void prof__unpack_bytes(prof__unpacker *u, void *to, size_t size)
{
    if (size > (size_t)(u->end - u->at)) {
        u->bad = 1;
        return;
    }
    memcpy(to, u->at, size);
    u->at += size;
}

static void prof__unpack_words(prof__unpacker *u, uint64_t *to, size_t count)
{
    prof__unpack_bytes(u, to, count * 8);
    if (PROF__LOW_HALF && !u->bad) prof__pack_words(to, u->at - count * 8, count);
}

static uint64_t prof__unpack_new(prof__unpacker *u)
{
    uint64_t site = prof__unpack_integer(u), head;
    head = (site & 15) << PROF__KIND_SHIFT | (site >> 4 & PROF__SITE_MASK) << PROF__TICK_BITS;
    if (!prof__record_timed(head)) head |= prof__unpack_integer(u) & PROF__TICK_MASK;
    return head;
}

static uint64_t prof__unpack_head(prof__packer *p, prof__unpacker *u)
{
    uint64_t first = prof__unpack_integer(u), code, head = 0;
    uint32_t number = p->next[p->before];
    if (!(first & 1)) {
        if (!number) u->bad = 1;
        head = number ? p->symbols[number] : 0;
    } else if ((code = prof__unpack_integer(u)) == PROF__PACK_WHOLE) {
        prof__unpack_words(u, &head, 1);
        prof__pack_learn(p, head, 0);
        return head;
    } else if (code == PROF__PACK_INNER) {
        if (!p->depth) u->bad = 1;
        head = p->depth ? prof__pack_inner(p) : 0;
        number = prof__pack_number(p, head, 1);
    } else if (code == PROF__PACK_NEW) {
        head = prof__unpack_new(u);
        number = prof__pack_number(p, head, 1);
    } else {
        number = code - PROF__PACK_KNOWN < p->count ? (uint32_t)(code - PROF__PACK_KNOWN) + 1 : 0;
        if (!number) u->bad = 1;
        head = number ? p->symbols[number] : 0;
    }
    if (prof__record_timed(head)) {
        if ((first >> 1) > PROF__TICK_MASK - p->tick) u->bad = 1;
        head |= (p->tick + (first >> 1)) & PROF__TICK_MASK;
    }
    prof__pack_learn(p, head, number);
    return head;
}

static void prof__unpack_string(prof__packer *p, prof__unpacker *u, uint64_t *words, size_t at, size_t n)
{
    uint64_t size = prof__unpack_integer(u);
    uint32_t before = p->strings[p->before];
    if (p->before) p->strings[p->before] = (uint32_t)at;
    if (size & 1) {
        if (!p->before || !before)
            u->bad = 1;
        else
            memcpy(words + at, words + before, n * 8);
        return;
    }
    memset(words + at, 0, n * 8);
    if (size >> 1 > n * 8)
        u->bad = 1;
    else
        prof__unpack_bytes(u, words + at, (size_t)(size >> 1));
    if (PROF__LOW_HALF && prof__record_text_words(words[at - 1], n + 1) < n) {
        uint64_t tail = words[at + n - 1];
        prof__pack_words(words + at + n - 1, &tail, 1);
    }
}

static void prof__unpack_payload(prof__packer *p, prof__unpacker *u, uint64_t *words, size_t at, size_t n)
{
    unsigned holds = prof__record_holds(words[at - 1]);
    size_t i;
    if (holds == PROF_VALUE_STRING) {
        prof__unpack_string(p, u, words, at, n);
    } else if (holds == PROF_VALUE_DOUBLE) {
        prof__unpack_words(u, words + at, n);
    } else {
        for (i = at; i < at + n && !u->bad; i++) {
            uint64_t value = prof__unpack_integer(u);
            words[i] = holds == PROF_VALUE_INT ? value >> 1 ^ (0 - (value & 1)) : value;
        }
    }
}

/* Unpacks BEGINs and ENDs as long as they are the expected ones. Returns the index of the first other word. Leaves the
   last 10 bytes, and whatever may be invalid, to prof__unpack_head(). */
static size_t prof__unpack_expected(prof__packer *p, prof__unpacker *u, uint64_t *words, size_t at, size_t count)
{
    const unsigned char *from = u->at;
    uint64_t tick = p->tick;
    uint32_t before = p->before, depth = p->depth;
    for (; at < count && u->end - from >= 10; at++) {
        uint32_t number = p->next[before];
        uint64_t head = p->symbols[number], kind = head >> PROF__KIND_SHIFT, first = *from & 127, next;
        size_t size = 1;
        if (!number || *from & 1 || (kind != PROF__KIND_BEGIN && kind != PROF__KIND_END)) break;
        for (; from[size - 1] >= 128 && size < 8; size++) first |= (uint64_t)(from[size] & 127) << 7 * size;
        next = tick + (first >> 1);
        if (from[size - 1] >= 128 || next > PROF__TICK_MASK) break;
        from += size;
        words[at] = head | next;
        tick = next;
        before = number;
        if (kind == PROF__KIND_BEGIN)
            p->open[depth++ % PROF__PACK_OPEN] = (uint32_t)(head >> PROF__TICK_BITS) & PROF__SITE_MASK;
        else if (depth)
            depth--;
    }
    u->at = from;
    p->tick = tick;
    p->before = before;
    p->depth = depth;
    return at;
}

/* Unpacks size bytes that prof__pack() wrote to at most count words. Returns how many words it wrote, or 0 if the bytes
   are invalid; some words may be written then. Up to 7 bytes of padding may follow the last word's. Any bytes are
   safe. */
static size_t prof__unpack(const unsigned char *from, size_t size, uint64_t *words, size_t count)
{
    prof__packer p;
    prof__unpacker u;
    size_t at = 0, length;
    prof__pack_reset(&p);
    u.at = from;
    u.end = from + size;
    u.bad = 0;
    for (;;) {
        at = prof__unpack_expected(&p, &u, words, at, count);
        if (u.at >= u.end || at >= count) break;
        words[at] = prof__unpack_head(&p, &u);
        length = prof__record_words(words[at], count - at);
        if (!length) length = 1;
        if (length > 1 && !u.bad) prof__unpack_payload(&p, &u, words, at + 1, length - 1);
        if (u.bad) return 0;
        at += length;
    }
    return u.end - u.at < (at == count ? 8 : 1) ? at : 0;
}

#endif /* PROF__IMAGE_UNPACK_H */
