// ground/deflate: Packs bytes by a small deflate encoder (RFC 1951). A hash table finds matches, and each part has its
// own Huffman codes. The blocks of a page (html/pack) and gzip files use it.
#ifndef PROF__GROUND_DEFLATE_H
#define PROF__GROUND_DEFLATE_H
#include "ground/base.h"

/*-- deflate: raw blocks, without the header of a zlib or gzip file --*/

#define PROF__DEFLATE_WINDOW 32768u
#define PROF__DEFLATE_HASH_BITS 15
#define PROF__DEFLATE_CHAIN 2      /* how many earlier positions with the same hash are compared */
#define PROF__DEFLATE_PATIENCE 4   /* after 2^4 positions without a match, tries every second one, and so on */
#define PROF__DEFLATE_SHORTEST 7u  /* bytes of the shortest match: shorter ones rarely save bits */
#define PROF__DEFLATE_TOKENS 16384 /* how many tokens one pair of Huffman codes is for */
#define PROF__DEFLATE_BOUND(size) (2 * (size) + 1024) /* how many bytes packed ones have, at most */
#define PROF__DEFLATE_LONGEST 258u /* bytes of the longest match */
#define PROF__DEFLATE_MATCH 0x80000000u /* a token is a byte, or this | (length - 3) << 15 | (distance - 1) */

typedef struct prof__deflate_code { /* a Huffman code, and how often each of its symbols occurs */
    uint32_t count[288];
    uint16_t bits[288]; /* the codes, in the order in which their bits are written */
    unsigned char length[288];
} prof__deflate_code;

typedef struct prof__deflate {
    uint32_t head[1 << PROF__DEFLATE_HASH_BITS]; /* of each hash: the last position with it, plus 1; 0: none */
    uint32_t before[PROF__DEFLATE_WINDOW];       /* of each position: the one before it with the same hash */
    uint32_t tokens[PROF__DEFLATE_TOKENS];
    size_t token_count;
    prof__deflate_code letters, distances, lengths;
    unsigned char *to;
    size_t size;
    uint64_t bits;
    unsigned bit_count;
} prof__deflate;

static void prof__deflate_bits(prof__deflate *d, uint32_t bits, unsigned count)
{
    d->bits |= (uint64_t)bits << d->bit_count;
    d->bit_count += count;
    while (d->bit_count >= 8) {
        d->to[d->size++] = (unsigned char)(d->bits & 255);
        d->bits >>= 8;
        d->bit_count -= 8;
    }
}

/* Return the symbol of a length, from 257 on, or of a distance, and in *extra how many extra bits it has. */
static unsigned prof__deflate_length_code(uint32_t length, unsigned *extra)
{
    uint32_t rest = length - 3;
    *extra = 0;
    if (length == PROF__DEFLATE_LONGEST) return 285;
    if (rest < 8) return 257 + rest;
    *extra = prof__log2(rest) - 2;
    return 257 + 4 * (*extra + 1) + (rest >> *extra & 3);
}

static unsigned prof__deflate_distance_code(uint32_t distance, unsigned *extra)
{
    uint32_t rest = distance - 1;
    *extra = 0;
    if (rest < 4) return rest;
    *extra = prof__log2(rest) - 1;
    return 2 * (*extra + 1) + (rest >> *extra & 1);
}

/* Replaces sorted counts of symbols by the lengths of the symbols' codes, in place: the algorithm of Moffat and
   Katajainen. */
static void prof__deflate_depths(uint32_t *a, int n)
{
    int root = 0, leaf = 2, next, free_nodes = 1, used, depth;
    if (n == 1) a[0] = 1;
    if (n < 2) return;
    a[0] += a[1];
    for (next = 1; next < n - 1; ++next) {
        if (leaf >= n || a[root] < a[leaf]) {
            a[next] = a[root];
            a[root++] = (uint32_t)next;
        } else {
            a[next] = a[leaf++];
        }
        if (leaf >= n || (root < next && a[root] < a[leaf])) {
            a[next] += a[root];
            a[root++] = (uint32_t)next;
        } else {
            a[next] += a[leaf++];
        }
    }
    a[n - 2] = 0;
    for (next = n - 3; next >= 0; --next) a[next] = a[a[next]] + 1;
    root = n - 2;
    next = n - 1;
    for (depth = used = 0; free_nodes > 0; ++depth) {
        while (root >= 0 && (int)a[root] == depth) {
            ++used;
            --root;
        }
        while (free_nodes > used) {
            a[next--] = (uint32_t)depth;
            --free_nodes;
        }
        free_nodes = 2 * used;
        used = 0;
    }
}

/* Changes how many codes have each length, so that no code is longer than `longest`. */
static void prof__deflate_limit(uint32_t *number, int longest)
{
    uint32_t total = 0, i;
    for (i = (uint32_t)longest + 1; i < 33; ++i) number[longest] += number[i];
    for (i = (uint32_t)longest; i > 0; --i) total += number[i] << ((uint32_t)longest - i);
    for (; total > 1u << longest; --total) {
        --number[longest];
        for (i = (uint32_t)longest - 1; i > 0 && !number[i]; --i) continue;
        --number[i];
        number[i + 1] += 2;
    }
}

/* Makes the Huffman code for the counts of its symbols. */
static void prof__deflate_code_make(prof__deflate_code *code, int symbols, int longest)
{
    uint16_t order[288];
    uint32_t sorted[288], number[33], next[17], start = 0;
    int n = 0, i, j, at;
    for (i = 0; i < symbols; ++i) {
        code->length[i] = 0;
        if (!code->count[i]) continue;
        for (j = n++; j > 0 && code->count[order[j - 1]] > code->count[i]; --j) order[j] = order[j - 1];
        order[j] = (uint16_t)i;
    }
    for (i = 0; i < n; ++i) sorted[i] = code->count[order[i]];
    prof__deflate_depths(sorted, n);
    memset(number, 0, sizeof number);
    for (i = 0; i < n; ++i) ++number[sorted[i] < 32 ? sorted[i] : 32];
    prof__deflate_limit(number, longest);
    for (at = n, i = 1; i <= longest; ++i) /* gives the shortest codes to the most frequent symbols */
        for (j = (int)number[i]; j > 0; --j) code->length[order[--at]] = (unsigned char)i;
    next[1] = 0;
    for (i = 2; i <= longest; ++i) next[i] = start = (start + number[i - 1]) << 1;
    for (i = 0; i < symbols; ++i) {
        unsigned length = code->length[i];
        uint32_t bits = length ? next[length]++ : 0, turned = 0, k;
        for (k = 0; k < length; ++k) turned |= (bits >> k & 1) << (length - 1 - k);
        code->bits[i] = (uint16_t)turned;
    }
}

static void prof__deflate_symbol(prof__deflate *d, const prof__deflate_code *code, unsigned symbol)
{
    prof__deflate_bits(d, code->bits[symbol], code->length[symbol]);
}

/* Counts the symbols that describe the lengths of both codes, where runs of equal lengths are one symbol. If write is
   1, writes these symbols instead. */
static void prof__deflate_lengths(prof__deflate *d, const unsigned char *all, unsigned count, int write)
{
    unsigned i = 0;
    while (i < count) {
        unsigned run = 1, symbol = all[i], extra = 0, bits = 0;
        while (i + run < count && all[i + run] == symbol && run < 138) ++run;
        if (!symbol && run >= 3) {
            symbol = run < 11 ? 17 : 18;
            extra = run < 11 ? run - 3 : run - 11;
            bits = run < 11 ? 3 : 7;
        } else if (i && all[i - 1] == symbol && run >= 3) {
            if (run > 6) run = 6;
            symbol = 16;
            extra = run - 3;
            bits = 2;
        } else {
            run = 1;
        }
        if (write) {
            prof__deflate_symbol(d, &d->lengths, symbol);
            prof__deflate_bits(d, extra, bits);
        } else {
            ++d->lengths.count[symbol];
        }
        i += run;
    }
}

/* Writes the descriptions of both codes. */
static void prof__deflate_codes(prof__deflate *d)
{
    static const unsigned char order[19] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
    unsigned char all[318];
    unsigned letters = 286, distances = 30, lengths = 19, i;
    while (letters > 257 && !d->letters.length[letters - 1]) --letters;
    while (distances > 1 && !d->distances.length[distances - 1]) --distances;
    memcpy(all, d->letters.length, letters);
    memcpy(all + letters, d->distances.length, distances);
    memset(d->lengths.count, 0, sizeof d->lengths.count);
    prof__deflate_lengths(d, all, letters + distances, 0);
    prof__deflate_code_make(&d->lengths, 19, 7);
    while (lengths > 4 && !d->lengths.length[order[lengths - 1]]) --lengths;
    prof__deflate_bits(d, letters - 257, 5);
    prof__deflate_bits(d, distances - 1, 5);
    prof__deflate_bits(d, lengths - 4, 4);
    for (i = 0; i < lengths; ++i) prof__deflate_bits(d, d->lengths.length[order[i]], 3);
    prof__deflate_lengths(d, all, letters + distances, 1);
}

/* Writes the collected tokens as a block. last: 1: the final one. */
static void prof__deflate_emit(prof__deflate *d, int last)
{
    size_t i;
    unsigned extra;
    memset(d->letters.count, 0, sizeof d->letters.count);
    memset(d->distances.count, 0, sizeof d->distances.count);
    d->letters.count[256] = 1;
    d->distances.count[0] = 1; /* a code for distances must have a symbol, */
    d->distances.count[1] = 1; /* and some decoders refuse a code with fewer than two */
    for (i = 0; i < d->token_count; ++i) {
        uint32_t token = d->tokens[i];
        if (token & PROF__DEFLATE_MATCH) {
            ++d->letters.count[prof__deflate_length_code((token >> 15 & 255) + 3, &extra)];
            ++d->distances.count[prof__deflate_distance_code((token & 32767) + 1, &extra)];
        } else {
            ++d->letters.count[token];
        }
    }
    prof__deflate_code_make(&d->letters, 286, 15);
    prof__deflate_code_make(&d->distances, 30, 15);
    prof__deflate_bits(d, last ? 5 : 4, 3);
    prof__deflate_codes(d);
    for (i = 0; i < d->token_count; ++i) {
        uint32_t token = d->tokens[i], length = (token >> 15 & 255) + 3, distance = (token & 32767) + 1;
        if (!(token & PROF__DEFLATE_MATCH)) {
            prof__deflate_symbol(d, &d->letters, token);
            continue;
        }
        prof__deflate_symbol(d, &d->letters, prof__deflate_length_code(length, &extra));
        prof__deflate_bits(d, extra ? (length - 3) & ((1u << extra) - 1) : 0, extra);
        prof__deflate_symbol(d, &d->distances, prof__deflate_distance_code(distance, &extra));
        prof__deflate_bits(d, extra ? (distance - 1) & ((1u << extra) - 1) : 0, extra);
    }
    prof__deflate_symbol(d, &d->letters, 256);
    d->token_count = 0;
}

/* Returns a hash of the next 7 bytes, which is how long a match is at least. */
static uint32_t prof__deflate_hash_at(const unsigned char *at)
{
    uint64_t bytes;
    memcpy(&bytes, at, 8);
    return (uint32_t)((bytes << 8) * 0x9E3779B97F4A7C15u >> (64 - PROF__DEFLATE_HASH_BITS));
}

static void prof__deflate_remember(prof__deflate *d, uint32_t hash, size_t at)
{
    d->before[at % PROF__DEFLATE_WINDOW] = d->head[hash];
    d->head[hash] = (uint32_t)at + 1;
}

/* Returns the length of the longest match of the bytes at `at` with earlier ones. Returns 0 if there is none. */
static uint32_t prof__deflate_match(const prof__deflate *d, const unsigned char *from, size_t at, size_t end,
                                 uint32_t hash, uint32_t *distance)
{
    uint32_t best = PROF__DEFLATE_SHORTEST - 1, place = d->head[hash];
    uint32_t max = (uint32_t)(end - at < PROF__DEFLATE_LONGEST ? end - at : PROF__DEFLATE_LONGEST);
    int left = PROF__DEFLATE_CHAIN;
    for (; place && place <= at && at - (place - 1) <= PROF__DEFLATE_WINDOW && left--;
         place = d->before[(place - 1) % PROF__DEFLATE_WINDOW]) {
        const unsigned char *then = from + place - 1;
        uint32_t length = 0;
        if (then[best] != from[at + best]) continue;
        while (length < max && then[length] == from[at + length]) ++length;
        if (length <= best) continue;
        best = length;
        *distance = (uint32_t)(at - (place - 1));
        if (best >= 64 || best == max) break;
    }
    return best < PROF__DEFLATE_SHORTEST ? 0 : best;
}

/* Begins anew: nothing that follows refers to bytes of before. Bits that do not fill a byte yet stay. */
static void prof__deflate_start(prof__deflate *d, unsigned char *to)
{
    memset(d->head, 0, sizeof d->head);
    d->to = to;
    d->size = d->token_count = 0;
}

/* Packs the bytes between two positions, with Huffman codes of their own. from: all bytes since the start, of which
   there are `size`. last: 1: no part follows. */
static void prof__deflate_part(prof__deflate *d, const unsigned char *from, size_t at, size_t end, size_t size,
                               int last)
{
    size_t look = at; /* the next position that is tried for a match */
    uint32_t missed = 0;
    while (at < end) {
        uint32_t distance = 0, length = 0, i;
        if (at >= look && at + 8 <= end) {
            uint32_t hash = prof__deflate_hash_at(from + at);
            length = prof__deflate_match(d, from, at, end, hash, &distance);
            prof__deflate_remember(d, hash, at);
            look = at + 1 + (missed++ >> PROF__DEFLATE_PATIENCE);
        }
        if (length) {
            d->tokens[d->token_count++] = PROF__DEFLATE_MATCH | (length - 3) << 15 | (distance - 1);
            for (i = 1; i < length && i < 16 && at + i + 8 <= size; ++i)
                prof__deflate_remember(d, prof__deflate_hash_at(from + at + i), at + i);
            look = at += length;
            missed = 0;
        } else {
            d->tokens[d->token_count++] = from[at++];
        }
        if (d->token_count == PROF__DEFLATE_TOKENS) prof__deflate_emit(d, 0);
    }
    if (d->token_count || last) prof__deflate_emit(d, last);
}

/* Fills up the last byte with zeros. */
static void prof__deflate_end(prof__deflate *d)
{
    if (d->bit_count) prof__deflate_bits(d, 0, 8 - d->bit_count);
}

/* Packs bytes in parts, which end at ends[]. `to` must have space for PROF__DEFLATE_BOUND(ends[parts - 1]). Returns how
   many bytes it wrote. */
static size_t prof__deflate_all(prof__deflate *d, const unsigned char *from, const size_t *ends, size_t parts,
                                unsigned char *to)
{
    size_t part;
    prof__deflate_start(d, to);
    for (part = 0; part < parts; ++part)
        prof__deflate_part(d, from, part ? ends[part - 1] : 0, ends[part], ends[parts - 1], part + 1 == parts);
    prof__deflate_end(d);
    return d->size;
}

#endif /* PROF__GROUND_DEFLATE_H */
