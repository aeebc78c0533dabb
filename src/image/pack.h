// image/pack: Compresses the records of a chunk to a block of the archive; image/unpack decompresses them. Both are
// pure functions on words.
#ifndef PROF__IMAGE_PACK_H
#define PROF__IMAGE_PACK_H
#include "api/markup.h"
#include "api/values.h"
#include "image/format.h"
#include "image/words.h"

/*-- PACK --------------------------------------------------------------------------------------------------- >>pack --
   The archive, which follows the ring in a file, consists of blocks of packed records. A record is packed as its
   symbol, its ticks and its payload. The symbol is the head without the ticks, or the whole head if the record has no
   time. Programs repeat themselves: the packer expects that a symbol is followed by the one that followed it last time.
   So most records become a single number:

     number   ticks since the previous record with a time << 1 | 1 if the symbol is not the expected one, when a code
              follows:
     code     0: an END of the innermost open call site; 1: the whole head follows, 8 bytes; 2: a new symbol follows,
              as the number kind | site << 4 and, if it has no time, bits 39..0 of the head as another; 3 and above:
              3 + the index of a known symbol, in order of first appearance
     payload  integers as zigzag numbers; doubles as 8 bytes; other words as numbers. A string that equals the previous
              string of its symbol is the number 1; another is its length << 1, without the zeros at its end, and its
              bytes

   A number is stored in groups of 7 bits, low groups first; each byte but the last has its eighth bit set. Heads,
   doubles, and the head after a string (PROF__ARG_TO) are 8 bytes, little-endian. So packed bytes are the same on every
   machine. The table of symbols is bounded: a symbol that finds no room in it is written as new each time. A block can
   be unpacked without any other block. Any words are restored exactly: a word that is no record, or a time that runs
   backwards, is packed with code 1. */

#define PROF__PACK_SYMBOLS 500u
#define PROF__PACK_SLOTS 2048u /* a power of two */
#define PROF__PACK_OPEN 64u
#define PROF__PACK_BOUND(count) ((size_t)(count) * 12 + 16) /* bytes that always suffice for count words */
#define PROF__BLOCK_BOUND(count) (sizeof(prof__block) + (PROF__PACK_BOUND(count) + 7) / 8 * 8)

enum { PROF__PACK_INNER = 0, PROF__PACK_WHOLE, PROF__PACK_NEW, PROF__PACK_KNOWN };

/* What packer and unpacker both learn from the records so far. Symbols are numbered from 1. */
typedef struct prof__packer {
    uint64_t tick;
    uint32_t count, before, depth;
    uint64_t symbols[PROF__PACK_SYMBOLS + 1];
    uint32_t strings[PROF__PACK_SYMBOLS + 1]; /* index of the first word of its last string; 0: none */
    uint16_t next[PROF__PACK_SYMBOLS + 1];    /* the symbol that followed this one last; 0: none yet */
    uint16_t slots[PROF__PACK_SLOTS];         /* hash table over symbols */
    uint32_t open[PROF__PACK_OPEN];           /* call sites of the innermost open scopes, as a ring */
} prof__packer;

/* Returns 1 if the head is a BEGIN or END: one word with a time. Most records are of these kinds. */
static inline int prof__record_scope(uint64_t head)
{
    return (head >> PROF__KIND_SHIFT) - PROF__KIND_BEGIN <= PROF__KIND_END - PROF__KIND_BEGIN;
}

/* What the words after a head are, four bits for each kind: a prof_value_type, or PROF__HOLDS_TYPED. */
enum {
    PROF__HOLDS_NONE = PROF_VALUE_NONE,
    PROF__HOLDS_INT = PROF_VALUE_INT,
    PROF__HOLDS_UINT = PROF_VALUE_UINT,
    PROF__HOLDS_DOUBLE = PROF_VALUE_DOUBLE,
    PROF__HOLDS_STRING = PROF_VALUE_STRING,
    PROF__HOLDS_TYPED = 15
};
#define PROF__COLUMN_HOLDS(name, code, words, timed, sited, shown, named, valued, holds, ...) \
    | (uint64_t)PROF__HOLDS_##holds << 4 * (code)
#define PROF__HOLDS (0u PROF__KINDS(PROF__COLUMN_HOLDS))

/* Returns the prof_value_type of the words after the head; PROF_VALUE_NONE: other numbers. */
static unsigned prof__record_holds(uint64_t head)
{
    unsigned holds = (unsigned)(PROF__HOLDS >> (head >> PROF__KIND_SHIFT << 2)) & 15;
    return holds == PROF__HOLDS_TYPED ? (unsigned)(head >> 32 & 0xFF) : holds;
}

/* Returns how many words after the head are a string. Others are numbers, or the head of a scope. */
static size_t prof__record_text_words(uint64_t head, size_t words)
{
    if (prof__record_holds(head) != PROF_VALUE_STRING) return 0;
    return words - 1 - (head >> PROF__KIND_SHIFT == PROF__KIND_ARG && head & PROF__ARG_TO && words > 1);
}

/* Returns the symbol of a head. */
static uint64_t prof__pack_symbol(uint64_t head)
{
    return prof__record_timed(head) ? head & ~PROF__TICK_MASK : head;
}

/* Returns the number of a symbol; adds a new symbol if add is 1. Returns 0 if a new symbol is not added or finds no
   room. */
static uint32_t prof__pack_number(prof__packer *p, uint64_t symbol, int add)
{
    uint32_t slot = (uint32_t)(symbol * 0x9E3779B97F4A7C15u >> 40) & (PROF__PACK_SLOTS - 1);
    for (; p->slots[slot]; slot = (slot + 1) & (PROF__PACK_SLOTS - 1))
        if (p->symbols[p->slots[slot]] == symbol) return p->slots[slot];
    if (!add || p->count == PROF__PACK_SYMBOLS) return 0;
    p->symbols[++p->count] = symbol;
    p->slots[slot] = (uint16_t)p->count;
    p->strings[p->count] = p->next[p->count] = 0;
    return p->count;
}

static void prof__pack_reset(prof__packer *p)
{
    p->tick = 0;
    p->count = p->before = p->depth = 0;
    p->next[0] = 0;
    p->symbols[0] = 0;
    p->strings[0] = 0;
    memset(p->slots, 0, sizeof p->slots);
}

/* Returns the symbol of an END of the innermost open call site. */
static uint64_t prof__pack_inner(const prof__packer *p)
{
    return (uint64_t)PROF__KIND_END << PROF__KIND_SHIFT |
           (uint64_t)p->open[(p->depth - 1) % PROF__PACK_OPEN] << PROF__TICK_BITS;
}

/* Updates the packer with a record that was just packed or unpacked. number: that of the head's symbol; 0: it has
   none. */
static void prof__pack_learn(prof__packer *p, uint64_t head, uint32_t number)
{
    unsigned kind = (unsigned)(head >> PROF__KIND_SHIFT);
    p->next[p->before] = (uint16_t)number;
    p->before = number;
    if (prof__record_timed(head)) p->tick = head & PROF__TICK_MASK;
    if (kind == PROF__KIND_BEGIN)
        p->open[p->depth++ % PROF__PACK_OPEN] = (uint32_t)(head >> PROF__TICK_BITS) & PROF__SITE_MASK;
    else if (kind == PROF__KIND_END && p->depth)
        p->depth--;
}

static unsigned char *prof__pack_integer(unsigned char *to, uint64_t value)
{
    for (; value >= 128; value >>= 7) *to++ = (unsigned char)(value | 128);
    *to++ = (unsigned char)value;
    return to;
}

/* Copies count words and converts them between this machine's byte order and little-endian. */
static void prof__pack_words(void *to, const void *from, size_t count)
{
    memcpy(to, from, count * 8);
#if PROF__LOW_HALF
    unsigned char *at = (unsigned char *)to, other;
    for (; count; --count, at += 8)
        for (int i = 0; i < 4; ++i) {
            other = at[i];
            at[i] = at[7 - i];
            at[7 - i] = other;
        }
#endif
}

static unsigned char *prof__pack_head(prof__packer *p, uint64_t head, unsigned char *to)
{
    uint64_t symbol = prof__pack_symbol(head);
    int timed = prof__record_timed(head), backwards = timed && (head & PROF__TICK_MASK) < p->tick;
    uint64_t ticks = timed && !backwards ? (head & PROF__TICK_MASK) - p->tick : 0;
    uint32_t number = p->next[p->before];
    if (PROF__LIKELY(number && p->symbols[number] == symbol && !backwards)) {
        to = prof__pack_integer(to, ticks << 1);
        prof__pack_learn(p, head, number);
        return to;
    }
    to = prof__pack_integer(to, ticks << 1 | 1);
    number = backwards ? 0 : prof__pack_number(p, symbol, 0);
    if (backwards || !(head >> PROF__KIND_SHIFT) || head >> PROF__KIND_SHIFT > PROF__KIND_LAST) {
        *to++ = PROF__PACK_WHOLE;
        prof__pack_words(to, &head, 1);
        to += 8;
    } else if (p->depth && symbol == prof__pack_inner(p)) {
        *to++ = PROF__PACK_INNER;
        number = prof__pack_number(p, symbol, 1);
    } else if (number) {
        to = prof__pack_integer(to, PROF__PACK_KNOWN + number - 1);
    } else {
        *to++ = PROF__PACK_NEW;
        to = prof__pack_integer(to, head >> PROF__KIND_SHIFT | (head >> PROF__TICK_BITS & PROF__SITE_MASK) << 4);
        if (!timed) to = prof__pack_integer(to, head & PROF__TICK_MASK);
        number = prof__pack_number(p, symbol, 1);
    }
    prof__pack_learn(p, head, number);
    return to;
}

/* Writes the n words of a string. headed: 1: the last word is no text, but the head of a scope (PROF__ARG_TO). */
static unsigned char *prof__pack_string(const uint64_t *words, size_t n, int headed, unsigned char *to)
{
    const unsigned char *bytes = (const unsigned char *)words;
    size_t size = n * 8, before = size - 8;
    unsigned char last[8];
    memcpy(last, bytes + before, 8);
    if (headed) prof__pack_words(last, bytes + before, 1);
    while (size > before && !last[size - before - 1]) --size;
    while (size <= before && size && !bytes[size - 1]) --size;
    to = prof__pack_integer(to, (uint64_t)size << 1);
    if (size > before) memcpy(to + before, last, size - before);
    memcpy(to, bytes, size < before ? size : before);
    return to + size;
}

/* Packs n words of payload. at: the index in words of the first one; the record's head is before it. */
static unsigned char *prof__pack_payload(prof__packer *p, const uint64_t *words, size_t at, size_t n, unsigned char *to)
{
    size_t i;
    uint32_t before;
    switch (prof__record_holds(words[at - 1])) {
    case PROF_VALUE_STRING:
        before = p->strings[p->before]; /* the previous string of the same symbol has as many words */
        if (p->before) p->strings[p->before] = (uint32_t)at;
        if (p->before && before && !memcmp(words + before, words + at, n * 8)) return prof__pack_integer(to, 1);
        return prof__pack_string(words + at, n, prof__record_text_words(words[at - 1], n + 1) < n, to);
    case PROF_VALUE_DOUBLE: prof__pack_words(to, words + at, n); return to + n * 8;
    case PROF_VALUE_INT:
        for (i = 0; i < n; i++) to = prof__pack_integer(to, words[at + i] << 1 ^ (0 - (words[at + i] >> 63)));
        return to;
    default:
        for (i = 0; i < n; i++) to = prof__pack_integer(to, words[at + i]);
        return to;
    }
}

/* Writes a number below 2^28 without branches: lengths vary too much for the processor to predict them. Writes 4 bytes
   and returns how many of them count. */
static inline size_t prof__pack_small(unsigned char *to, uint32_t value)
{
    uint32_t groups = (value & 0x7F) | (value & 0x3F80) << 1 | (value & 0x1FC000) << 2 | (value & 0xFE00000) << 3;
    uint32_t more = (uint32_t)(value >= 1u << 7) + (value >= 1u << 14) + (value >= 1u << 21);
    groups |= 0x808080u & ((1u << 8 * more) - 1);
#if PROF__LOW_HALF
    groups = __builtin_bswap32(groups);
#endif
    memcpy(to, &groups, 4);
    return more + 1;
}

/* Packs BEGINs and ENDs from words[at] on, as long as they are the expected ones. Returns the index of the first other
   record. A large or backward time also ends the run: prof__pack_head() packs that record. to: needs 4 bytes a word,
   and 4 more. */
static size_t prof__pack_expected(prof__packer *p, const uint64_t *words, size_t at, size_t count, unsigned char **to)
{
    unsigned char *out = *to;
    uint64_t tick = p->tick;
    uint32_t before = p->before, depth = p->depth;
    for (; at < count; at++) {
        uint64_t head = words[at], ticks = (head & PROF__TICK_MASK) - tick;
        uint32_t number = p->next[before];
        if ((p->symbols[number] ^ head) >> PROF__TICK_BITS || !prof__record_scope(head) || ticks >= 1u << 27) break;
        if (ticks < 64) /* always so in a tight loop */
            *out++ = (unsigned char)(ticks << 1);
        else
            out += prof__pack_small(out, (uint32_t)ticks << 1);
        tick += ticks;
        before = number;
        if (head >> PROF__KIND_SHIFT == PROF__KIND_BEGIN)
            p->open[depth++ % PROF__PACK_OPEN] = (uint32_t)(head >> PROF__TICK_BITS) & PROF__SITE_MASK;
        else if (depth)
            depth--;
    }
    p->tick = tick;
    p->before = before;
    p->depth = depth;
    *to = out;
    return at;
}

/* Packs count words (below 2^32) into at most size bytes. Returns how many bytes it wrote, or 0 if size might not
   suffice; PROF__PACK_BOUND(count) always suffices. end: if it is not NULL, packing ends at the first word that is no
   record, and *end is set to the index of that word. */
static size_t prof__pack(const uint64_t *words, size_t count, unsigned char *to, size_t size, size_t *end)
{
    prof__packer p;
    unsigned char *out = to;
    size_t at, length;
    prof__pack_reset(&p);
    for (at = 0;; at += length) {
        size_t rest = (size - (size_t)(out - to)) / 4;
        at = prof__pack_expected(&p, words, at, count - at < rest ? count : at + (rest ? rest - 1 : 0), &out);
        if (at == count) break;
        length = prof__record_words(words[at], count - at);
        if (!length && end) break;
        if (!length) length = 1;
        if (size - (size_t)(out - to) < PROF__PACK_BOUND(length)) return 0;
        out = prof__pack_head(&p, words[at], out);
        if (length > 1) out = prof__pack_payload(&p, words, at + 1, length - 1, out);
    }
    if (end) *end = at;
    return (size_t)(out - to);
}

static uint64_t prof__block_hash(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
    return hash ^ hash >> 29;
}

/* Returns the value that block->check must have, the same on every machine. bytes: the packed bytes after the
   header. */
static uint32_t prof__block_check(const prof__block *block, const void *bytes)
{
    const unsigned char *at = (const unsigned char *)bytes;
    uint64_t hash = 0xCBF29CE484222325u, word;
    uint32_t i;
    hash = prof__block_hash(hash, (uint64_t)block->size << 32 | block->magic);
    hash = prof__block_hash(hash, block->sequence);
    hash = prof__block_hash(hash, block->base.tick);
    hash = prof__block_hash(hash, block->base.monotonic_ns);
    hash = prof__block_hash(hash, block->base.unix_ns);
    hash = prof__block_hash(hash, block->base.width);
    hash = prof__block_hash(hash, block->lost);
    hash = prof__block_hash(hash, block->words);
    for (i = 0; i < (block->size - (uint32_t)sizeof *block) / 8; i++) {
        prof__pack_words(&word, at + (size_t)i * 8, 1);
        hash = prof__block_hash(hash, word);
    }
    return (uint32_t)(hash ^ hash >> 32);
}

/* Makes a block from a chunk and the records in its first count words. Returns the size of the block in bytes. block:
   8-byte aligned, with PROF__BLOCK_BOUND(count) bytes. */
static uint32_t prof__block_pack(const prof__chunk *chunk, const uint64_t *words, size_t count, prof__block *block)
{
    unsigned char *bytes = (unsigned char *)(block + 1);
    size_t end, size = prof__pack(words, count, bytes, PROF__PACK_BOUND(count), &end);
    while (size % 8) bytes[size++] = 0;
    memset(block, 0, sizeof *block);
    block->magic = PROF__BLOCK_MAGIC;
    block->size = (uint32_t)(sizeof *block + size);
    block->sequence = chunk->sequence;
    block->base = chunk->base;
    block->lost = chunk->lost;
    block->words = (uint32_t)end;
    block->check = prof__block_check(block, bytes);
    return block->size;
}

#endif /* PROF__IMAGE_PACK_H */
