// server/hpack: HPACK: decodes the compressed header fields of HTTP/2.
#ifndef PROF__SERVER_HPACK_H
#define PROF__SERVER_HPACK_H
#include "server/state.h"

/*-- HPACK -------------------------------------------------------------------------------------------------- >>hpack --
   A decoder for RFC 7541. Answers need no encoder with a table: their fields are written as literals. */

static const char *const prof__hpack_static[61][2] = {{":authority", ""},
                                                      {":method", "GET"},
                                                      {":method", "POST"},
                                                      {":path", "/"},
                                                      {":path", "/index.html"},
                                                      {":scheme", "http"},
                                                      {":scheme", "https"},
                                                      {":status", "200"},
                                                      {":status", "204"},
                                                      {":status", "206"},
                                                      {":status", "304"},
                                                      {":status", "400"},
                                                      {":status", "404"},
                                                      {":status", "500"},
                                                      {"accept-charset", ""},
                                                      {"accept-encoding", "gzip, deflate"},
                                                      {"accept-language", ""},
                                                      {"accept-ranges", ""},
                                                      {"accept", ""},
                                                      {"access-control-allow-origin", ""},
                                                      {"age", ""},
                                                      {"allow", ""},
                                                      {"authorization", ""},
                                                      {"cache-control", ""},
                                                      {"content-disposition", ""},
                                                      {"content-encoding", ""},
                                                      {"content-language", ""},
                                                      {"content-length", ""},
                                                      {"content-location", ""},
                                                      {"content-range", ""},
                                                      {"content-type", ""},
                                                      {"cookie", ""},
                                                      {"date", ""},
                                                      {"etag", ""},
                                                      {"expect", ""},
                                                      {"expires", ""},
                                                      {"from", ""},
                                                      {"host", ""},
                                                      {"if-match", ""},
                                                      {"if-modified-since", ""},
                                                      {"if-none-match", ""},
                                                      {"if-range", ""},
                                                      {"if-unmodified-since", ""},
                                                      {"last-modified", ""},
                                                      {"link", ""},
                                                      {"location", ""},
                                                      {"max-forwards", ""},
                                                      {"proxy-authenticate", ""},
                                                      {"proxy-authorization", ""},
                                                      {"range", ""},
                                                      {"referer", ""},
                                                      {"refresh", ""},
                                                      {"retry-after", ""},
                                                      {"server", ""},
                                                      {"set-cookie", ""},
                                                      {"strict-transport-security", ""},
                                                      {"transfer-encoding", ""},
                                                      {"user-agent", ""},
                                                      {"vary", ""},
                                                      {"via", ""},
                                                      {"www-authenticate", ""}};

/* How many bits the Huffman code of each byte, and of the end of a string, has (RFC 7541, appendix B). The lengths give
   the codes: if the symbols are sorted by length and then by value, each code is the previous one plus 1, shifted left
   where the length grows. */
static const unsigned char prof__huffman_bits[257] = {
    13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28,
    28, 28, 28, 6,  10, 10, 12, 13, 6,  8,  11, 10, 10, 8,  11, 8,  6,  6,  6,  5,  5,  5,  6,  6,  6,  6,  6,  6,  6,
    7,  8,  15, 6,  12, 10, 13, 6,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,
    7,  8,  7,  8,  13, 19, 13, 14, 6,  15, 5,  6,  5,  6,  5,  6,  6,  6,  5,  7,  7,  6,  6,  6,  5,  6,  7,  6,  5,
    5,  6,  7,  7,  7,  7,  7,  15, 11, 14, 13, 28, 20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23, 24,
    24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24, 22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22,
    23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23, 26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26,
    27, 27, 26, 24, 25, 19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27, 20, 24, 20, 21, 22, 21, 21, 23,
    22, 22, 25, 25, 24, 24, 26, 23, 26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26, 30};

/* For each length: the first code, the number of codes, and where their symbols begin. */
static struct {
    uint32_t code;
    unsigned short count, first;
} prof__huffman_rows[31];
static unsigned short prof__huffman_symbols[257];

static void prof__huffman_prepare(void)
{
    uint32_t code = 0;
    unsigned at = 0;
    if (prof__huffman_rows[30].count) return;
    for (unsigned bits = 1; bits <= 30; ++bits) {
        prof__huffman_rows[bits].code = code <<= 1;
        prof__huffman_rows[bits].first = (unsigned short)at;
        for (unsigned symbol = 0; symbol < 257; ++symbol)
            if (prof__huffman_bits[symbol] == bits) prof__huffman_symbols[at++] = (unsigned short)symbol;
        prof__huffman_rows[bits].count = (unsigned short)(at - prof__huffman_rows[bits].first);
        code += prof__huffman_rows[bits].count;
    }
}

/* Decodes `size` bytes of Huffman code. Returns 0 if they are invalid, or decode to more than `capacity` bytes. */
static int prof__huffman_decode(const unsigned char *at, size_t size, char *to, size_t capacity, size_t *length)
{
    uint32_t code = 0;
    unsigned bits = 0;
    size_t n = 0;
    prof__huffman_prepare();
    for (size_t i = 0; i < size * 8; ++i) {
        code = code << 1 | ((uint32_t)at[i / 8] >> (7 - i % 8) & 1u);
        if (++bits > 30) return 0;
        uint32_t index = code - prof__huffman_rows[bits].code;
        if (code < prof__huffman_rows[bits].code || index >= prof__huffman_rows[bits].count) continue;
        unsigned symbol = prof__huffman_symbols[prof__huffman_rows[bits].first + index];
        if (symbol == 256 || n == capacity) return 0;
        to[n++] = (char)symbol;
        code = bits = 0;
    }
    *length = n;
    return bits < 8 && code == (1u << bits) - 1; /* padding: ones, the begin of the code for the end */
}

/* Reads an integer of which the first byte holds `bits` bits. Returns 0 if it is invalid or too large. */
static int prof__hpack_integer(const unsigned char **at, const unsigned char *end, unsigned bits, uint32_t *value)
{
    uint32_t max = (1u << bits) - 1;
    if (*at == end) return 0;
    *value = *(*at)++ & max;
    if (*value < max) return 1;
    for (unsigned shift = 0; shift < 28 && *at < end; shift += 7) {
        unsigned char c = *(*at)++;
        *value += (uint32_t)(c & 127) << shift;
        if (!(c & 128)) return 1;
    }
    return 0;
}

static int prof__hpack_string(const unsigned char **at, const unsigned char *end, char *to, size_t capacity,
                              size_t *size)
{
    uint32_t length;
    int coded = *at < end && **at & 128;
    if (!prof__hpack_integer(at, end, 7, &length) || length > (size_t)(end - *at)) return 0;
    const unsigned char *from = *at;
    *at += length;
    if (coded) return prof__huffman_decode(from, length, to, capacity, size);
    if (length > capacity) return 0;
    memcpy(to, from, length);
    *size = length;
    return 1;
}

static size_t prof__hpack_size(const prof__hpack *h) { return h->used + 32 * h->count; }

/* Drops the oldest entries until the table has space for `bytes` more, in the RFC's count: each entry has 32 extra. */
static void prof__hpack_evict(prof__hpack *h, size_t bytes)
{
    size_t gone = 0, text = 0;
    while (gone < h->count && prof__hpack_size(h) - text - 32 * gone + bytes > h->limit) {
        text += (size_t)h->entry[gone].name + h->entry[gone].value;
        ++gone;
    }
    if (!gone) return;
    memmove(h->text, h->text + text, h->used - text);
    memmove(h->entry, h->entry + gone, (h->count - gone) * sizeof *h->entry);
    h->used -= text;
    h->count -= gone;
}

static void prof__hpack_insert(prof__hpack *h, const char *name, size_t name_size, const char *value, size_t size)
{
    prof__hpack_evict(h, name_size + size + 32);
    if (name_size + size + 32 > h->limit) return; /* larger than the table, which is now empty */
    memcpy(h->text + h->used, name, name_size);
    memcpy(h->text + h->used + name_size, value, size);
    h->entry[h->count].name = (unsigned short)name_size;
    h->entry[h->count++].value = (unsigned short)size;
    h->used += name_size + size;
}

/* Copies the name and value with this index. Returns 0 if there is no such entry, or if it is too long. */
static int prof__hpack_lookup(const prof__hpack *h, uint32_t index, char *name, size_t *name_size, char *value,
                              size_t *size, size_t capacity)
{
    const char *from, *text;
    if (!index) return 0;
    if (index <= 61) {
        from = prof__hpack_static[index - 1][0];
        text = prof__hpack_static[index - 1][1];
        *name_size = strlen(from);
        *size = strlen(text);
    } else {
        size_t entry = h->count - (index - 61), at = 0;
        if (index - 61 > h->count) return 0;
        for (size_t i = 0; i < entry; ++i) at += (size_t)h->entry[i].name + h->entry[i].value;
        from = h->text + at;
        *name_size = h->entry[entry].name;
        text = from + *name_size;
        *size = h->entry[entry].value;
    }
    if (*name_size > capacity || *size > capacity) return 0;
    memcpy(name, from, *name_size);
    if (value) memcpy(value, text, *size);
    return 1;
}

#define PROF__HPACK_TEXT 8192 /* the limit for a name, and for a value, in bytes */

/* Decodes a header block, and calls `field` for each header field. max: the table size that our SETTINGS announced.
   Returns 0 if the block is invalid or too large. */
static int prof__hpack_block(prof__hpack *h, size_t max, const unsigned char *at, size_t block,
                             void (*field)(void *user, const char *name, size_t name_size, const char *value,
                                           size_t size),
                             void *user)
{
    char name[PROF__HPACK_TEXT], value[PROF__HPACK_TEXT];
    const unsigned char *end = at + block;
    size_t total = 0, name_size = 0, size = 0;
    int fields = 0;
    while (at < end) {
        unsigned char c = *at;
        uint32_t index;
        unsigned bits = c & 0x80 ? 7 : c & 0x40 ? 6 : c & 0x20 ? 5 : 4;
        if (!prof__hpack_integer(&at, end, bits, &index)) return 0;
        if (bits == 5) { /* sets the table's size; only allowed before the first field */
            if (index > max || fields) return 0;
            h->limit = index;
            prof__hpack_evict(h, 0);
            continue;
        }
        fields = 1;
        if (bits == 7) {
            if (!prof__hpack_lookup(h, index, name, &name_size, value, &size, sizeof name)) return 0;
        } else {
            if (index ? !prof__hpack_lookup(h, index, name, &name_size, NULL, &size, sizeof name)
                      : !prof__hpack_string(&at, end, name, sizeof name, &name_size))
                return 0;
            if (!prof__hpack_string(&at, end, value, sizeof value, &size)) return 0;
            if (bits == 6) prof__hpack_insert(h, name, name_size, value, size);
        }
        if ((total += name_size + size + 32) > 65536) return 0;
        field(user, name, name_size, value, size);
    }
    return 1;
}

#endif /* PROF__SERVER_HPACK_H */
