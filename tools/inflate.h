/* inflate.h - an inflater, by RFC 1951, slow and simple. It is for compressed sections of ELF files, and for tests. */
#ifndef INFLATE_H
#define INFLATE_H
#include <stddef.h>
#include <string.h>

typedef struct inflater {
    const unsigned char *from, *end;
    unsigned bits, count;
    unsigned char *to;
    size_t size, room;
    int bad;
} inflater;

static unsigned inflate_bits(inflater *s, unsigned count)
{
    unsigned value;
    while (s->count < count) {
        if (s->from == s->end) {
            s->bad = 1;
            return 0;
        }
        s->bits |= (unsigned)*s->from++ << s->count;
        s->count += 8;
    }
    value = s->bits & ((1u << count) - 1);
    s->bits >>= count;
    s->count -= count;
    return value;
}

typedef struct inflate_huffman {
    unsigned short count[16], symbol[288];
} inflate_huffman;

/* Returns 0 if the lengths make no complete code. */
static int inflate_code(inflate_huffman *code, const unsigned char *lengths, int n)
{
    unsigned short offset[16];
    int left = 1, used = 0;
    memset(code->count, 0, sizeof code->count);
    for (int i = 0; i < n; ++i) ++code->count[lengths[i]];
    used = n - code->count[0];
    code->count[0] = 0;
    for (int i = 1; i < 16; ++i) left = left * 2 - code->count[i];
    offset[1] = 0;
    for (int i = 1; i < 15; ++i) offset[i + 1] = (unsigned short)(offset[i] + code->count[i]);
    for (int i = 0; i < n; ++i)
        if (lengths[i]) code->symbol[offset[lengths[i]]++] = (unsigned short)i;
    return left == 0 || (used == 1 && code->count[1] == 1);
}

static int inflate_symbol(inflater *s, const inflate_huffman *code)
{
    int value = 0, first = 0, at = 0;
    for (int length = 1; length < 16 && !s->bad; ++length) {
        value |= (int)inflate_bits(s, 1);
        if (value - code->count[length] < first) return code->symbol[at + value - first];
        at += code->count[length];
        first = (first + code->count[length]) << 1;
        value <<= 1;
    }
    s->bad = 1;
    return 0;
}

static void inflate_codes(inflater *s, inflate_huffman *letters, inflate_huffman *distances)
{
    static const unsigned char order[19] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
    unsigned char lengths[320];
    unsigned n = inflate_bits(s, 5) + 257, m = inflate_bits(s, 5) + 1, k = inflate_bits(s, 4) + 4, at = 0;
    memset(lengths, 0, sizeof lengths);
    for (unsigned i = 0; i < k; ++i) lengths[order[i]] = (unsigned char)inflate_bits(s, 3);
    if (!inflate_code(letters, lengths, 19)) s->bad = 1;
    while (at < n + m && !s->bad) {
        int what = inflate_symbol(s, letters);
        unsigned char again = what == 16 && at ? lengths[at - 1] : 0;
        unsigned times = what < 16    ? 1
                         : what == 16 ? 3 + inflate_bits(s, 2)
                         : what == 17 ? 3 + inflate_bits(s, 3) : 11 + inflate_bits(s, 7);
        if (at + times > n + m || (what == 16 && !at)) {
            s->bad = 1;
            return;
        }
        /* lengths of the code for lengths are not needed any more once letters has them */
        while (times--) lengths[at++] = what < 16 ? (unsigned char)what : again;
    }
    if (!inflate_code(distances, lengths + n, (int)m) || !inflate_code(letters, lengths, (int)n)) s->bad = 1;
}

/* The codes of a block that states none. */
static void inflate_fixed(inflate_huffman *letters, inflate_huffman *distances)
{
    unsigned char lengths[288];
    for (int i = 0; i < 288; ++i) lengths[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
    inflate_code(letters, lengths, 288);
    memset(lengths, 5, 30);
    inflate_code(distances, lengths, 30);
}

static void inflate_stored(inflater *s)
{
    unsigned size;
    s->from -= s->count / 8; /* whole bytes that were taken too early */
    s->bits = s->count = 0;
    size = inflate_bits(s, 16);
    if (s->bad || (inflate_bits(s, 16) ^ size) != 0xFFFF || size > (size_t)(s->end - s->from) ||
        size > s->room - s->size) {
        s->bad = 1;
        return;
    }
    if (size) memcpy(s->to + s->size, s->from, size);
    s->from += size;
    s->size += size;
}

static void inflate_all(inflater *s)
{
    unsigned last = 0;
    while (!last && !s->bad) {
        inflate_huffman letters, distances;
        unsigned kind;
        last = inflate_bits(s, 1);
        kind = inflate_bits(s, 2);
        if (kind == 0) {
            inflate_stored(s);
            continue;
        }
        if (kind == 1) inflate_fixed(&letters, &distances);
        else if (kind == 2) inflate_codes(s, &letters, &distances);
        else s->bad = 1;
        while (!s->bad) {
            int what = inflate_symbol(s, &letters);
            unsigned extra, length, distance;
            if (what == 256) break;
            if (what < 256) {
                if (s->size == s->room) s->bad = 1;
                else s->to[s->size++] = (unsigned char)what;
                continue;
            }
            what -= 257;
            extra = what < 8 || what == 28 ? 0 : (unsigned)what / 4 - 1;
            length = what == 28 ? 258 : what < 8 ? (unsigned)what + 3 : ((4u + (unsigned)what % 4) << extra) + 3;
            length += inflate_bits(s, extra);
            what = inflate_symbol(s, &distances);
            extra = what < 4 ? 0 : (unsigned)what / 2 - 1;
            distance = what < 4 ? (unsigned)what + 1 : ((2u + (unsigned)what % 2) << extra) + 1;
            distance += inflate_bits(s, extra);
            if (distance > s->size || length > s->room - s->size) {
                s->bad = 1;
                return;
            }
            for (; length; --length, ++s->size) s->to[s->size] = s->to[s->size - distance];
        }
    }
}

/* Unpacks what has `wanted` bytes. Returns where the packed bytes end, or null if they are invalid. */
static const unsigned char *inflate_to(const unsigned char *from, size_t size, unsigned char *to, size_t wanted)
{
    inflater s;
    memset(&s, 0, sizeof s);
    s.from = from;
    s.end = from + size;
    s.to = to;
    s.room = wanted;
    inflate_all(&s);
    return s.bad || s.size != wanted ? NULL : s.from;
}

#endif
