// ground/json: Text inside a JSON string.
#ifndef PROF__GROUND_JSON_H
#define PROF__GROUND_JSON_H
#include "ground/out.h"
#include "ground/utf8.h"

#ifndef PROF_FREESTANDING
/* Writes what stands for the character at text, which is not the end, to `to` (8 bytes). Sets *size to the bytes of it.
   Returns the bytes of the text that it stands for. */
static size_t prof__json_character(const char *text, char *to, size_t *size)
{
    int length = prof__utf8_length(text);
    unsigned char c = (unsigned char)*text;
    if (length < 0) {
        *size = sizeof PROF__UTF8_REPLACED - 1;
        memcpy(to, PROF__UTF8_REPLACED, *size);
        return (size_t)-length;
    }
    *size = (size_t)length;
    if (c == '"' || (c == '\\' && text[1])) {
        to[0] = '\\';
        to[1] = (char)c;
        *size = 2;
    } else if (c < 0x20 || c == '\\') { /* a backslash at the end, too: Perfetto 52 does not read \\" as the end */
        memcpy(to, "\\u00", 4);
        to[4] = (char)('0' + (c >> 4));
        to[5] = "0123456789abcdef"[c & 15];
        *size = 6;
    } else {
        memcpy(to, text, (size_t)length);
    }
    return (size_t)length;
}

static int prof__json_unchanged(unsigned char c) { return c >= 0x20 && c < 0x80 && c != '"' && c != '\\'; }

/* Writes the inside of a JSON string. */
static void prof__out_json(prof__out *out, const char *text)
{
    while (*text) {
        const char *run = text;
        char piece[8];
        size_t size;
        while (prof__json_unchanged((unsigned char)*text)) text++;
        if (text != run) prof__out_bytes(out, run, (size_t)(text - run));
        if (!*text) break;
        text += prof__json_character(text, piece, &size);
        prof__out_bytes(out, piece, size);
    }
}
#endif

#endif /* PROF__GROUND_JSON_H */
