// ground/utf8: Steps through UTF-8 characters, cuts texts between them, and finds invalid bytes.
#ifndef PROF__GROUND_UTF8_H
#define PROF__GROUND_UTF8_H
#include "ground/base.h"

#ifndef PROF_FREESTANDING
#define PROF__UTF8_REPLACED "\xEF\xBF\xBD" /* U+FFFD, written for bytes that are not UTF-8 */

/* Returns how many bytes the UTF-8 character at text has. If the bytes there are invalid, returns minus the number of
   bytes that one U+FFFD replaces. */
static int prof__utf8_length(const char *text)
{
    const unsigned char *s = (const unsigned char *)text;
    unsigned low = 0x80, high = 0xBF;
    int length, i;
    if (*s < 0x80) return 1;
    if (*s < 0xC2 || *s > 0xF4) return -1;
    length = *s < 0xE0 ? 2 : *s < 0xF0 ? 3 : 4;
    if (*s == 0xE0) low = 0xA0;  /* else overlong */
    if (*s == 0xED) high = 0x9F; /* else a surrogate */
    if (*s == 0xF0) low = 0x90;  /* else overlong */
    if (*s == 0xF4) high = 0x8F; /* else beyond U+10FFFF */
    for (i = 1; i < length; i++) {
        if (s[i] < low || s[i] > high) return -i;
        low = 0x80;
        high = 0xBF;
    }
    return length;
}

/* Returns how many bytes the UTF-8 character at text has, or 0 if the bytes there are invalid. */
static size_t prof__utf8(const char *text)
{
    int length = prof__utf8_length(text);
    return length > 0 ? (size_t)length : 0;
}

/* Writes a character, which has up to 4 bytes. Returns how many. */
static size_t prof__utf8_write(char *to, unsigned code)
{
    size_t count = 0;
    if (code < 0x80) {
        to[count++] = (char)code;
    } else if (code < 0x800) {
        to[count++] = (char)(0xC0 | code >> 6);
    } else if (code < 0x10000) {
        to[count++] = (char)(0xE0 | code >> 12);
        to[count++] = (char)(0x80 | (code >> 6 & 63));
    } else {
        to[count++] = (char)(0xF0 | code >> 18);
        to[count++] = (char)(0x80 | (code >> 12 & 63));
        to[count++] = (char)(0x80 | (code >> 6 & 63));
    }
    if (code >= 0x80) to[count++] = (char)(0x80 | (code & 63));
    return count;
}

/* Returns 1 for a control character of Unicode: a terminal may obey it. */
static int prof__is_control(const char *text)
{
    unsigned char first = (unsigned char)text[0];
    return first < 0x20 || first == 0x7F || (first == 0xC2 && (unsigned char)text[1] < 0xA0);
}

/* Returns the text after its first character. An invalid byte counts as a character. */
static const char *prof__next_character(const char *text)
{
    size_t length = prof__utf8(text);
    return text + (length ? length : 1);
}

/* Returns 1 for a byte that is not the first one of its character. */
static int prof__utf8_inner(char byte) { return ((unsigned char)byte & 0xC0) == 0x80; }

/* Returns how many of a text's first `most` bytes to keep, so that the cut is not inside a character. The text has more
   bytes than that. Bytes that are not UTF-8 do not make the rest shorter. */
static size_t prof__utf8_cut(const char *text, size_t most)
{
    size_t back = 0;
    while (back < 4 && back < most && prof__utf8_inner(text[most - back])) back++;
    return back < 4 ? most - back : most;
}

static size_t prof__characters(const char *text)
{
    size_t count = 0;
    for (; *text; count++) text = (unsigned char)*text < 0x80 ? text + 1 : prof__next_character(text);
    return count;
}
#endif

#endif /* PROF__GROUND_UTF8_H */
