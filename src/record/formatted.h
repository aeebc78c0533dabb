// record/formatted: Formats the names of the _F macros (printf style) at run time, faster than vsnprintf().
#ifndef PROF__RECORD_FORMATTED_H
#define PROF__RECORD_FORMATTED_H
#include "api/markup.h"
#include "ground/digits.h"
#include "ground/threads.h"
#include "record/bridge.h"
#include "record/log.h"
#include "record/value.h"

/*-- names made by a format --
   vsnprintf() takes about 600 instructions for "job %d". So this module formats the usual conversions itself: %d %i %u
   %x %X of int, long, long long and size_t, %c, %s and %%, with a width and a leading 0, and %s with a precision. A
   format with any other conversion, and a long name, is passed to vsnprintf() as a whole. The results are the same. */

#if !defined(PROF_VSNPRINTF) && !defined(PROF_FREESTANDING)
#define PROF_VSNPRINTF vsnprintf
#define PROF__SHORT_NAME (PROF_MAX_TEXT < 200 ? PROF_MAX_TEXT : 200) /* bytes of a name formatted here */
#define PROF__SHORT_ITEM 40                                          /* the most bytes of a width or a number */

/* A parsed conversion: %[0][width][.precision][size]letter. */
typedef struct prof__conversion {
    int width, precision; /* precision: -1: none */
    size_t size;          /* of an integer, in bytes */
    char fill;            /* '0' or a space */
    char letter;
    char wide;            /* 1: a size was given */
} prof__conversion;

static inline const char *prof__conversion_number(const char *at, int *number)
{
    for (*number = 0; *at >= '0' && *at <= '9'; ++at)
        if (*number < 10000) *number = *number * 10 + (*at - '0');
    return at;
}

/* Parses a conversion whose first character after the % is at `at`. Returns the address of its letter. */
static inline const char *prof__conversion_parse(const char *at, prof__conversion *to, prof__log_list *list)
{
    to->width = 0;
    to->precision = -1;
    to->fill = ' ';
    to->size = sizeof(int);
    if (*at == '0') to->fill = *at++;
    if (*at >= '1' && *at <= '9') at = prof__conversion_number(at, &to->width);
    if (PROF__UNLIKELY(*at == '.')) {
        if (*++at == '*') {
            to->precision = va_arg(list->values, int);
            ++at;
        } else {
            at = prof__conversion_number(at, &to->precision);
        }
    }
    const char *size = at;
    if (*at == 'z') {
        to->size = sizeof(size_t);
        ++at;
    } else if (*at == 'l') {
        to->size = *++at == 'l' ? sizeof(long long) : sizeof(long);
        at += *at == 'l';
    }
    to->wide = at != size;
    to->letter = *at;
    return at;
}

/* Fetches the integer of a conversion. If it is negative, sets *sign to '-' and returns the absolute value; else sets
   *sign to 0. */
static inline uint64_t prof__conversion_fetch(const prof__conversion *how, prof__log_list *list, char *sign)
{
    uint64_t value;
    *sign = 0;
    if (how->size > sizeof(int))
        value = va_arg(list->values, unsigned long long);
    else
        value = va_arg(list->values, unsigned);
    if (how->letter != 'd' && how->letter != 'i') return value;
    if (how->size == sizeof(int)) value = (uint64_t)(int)value;
    if ((int64_t)value >= 0) return value;
    *sign = '-';
    return 0 - value;
}

static size_t prof__hex_digits(char *to, uint64_t value, char ten)
{
    size_t size = 0;
    int shift = 60;
    while (shift && !(value >> shift)) shift -= 4;
    for (; shift >= 0; shift -= 4) {
        char digit = (char)(value >> shift & 15);
        to[size++] = (char)(digit < 10 ? '0' + digit : ten + digit - 10);
    }
    return size;
}

/* Inserts count `fill` characters before the text from `from` to `to`. Returns the new end of the text. */
static char *prof__widen(char *from, char *to, int count, char fill)
{
    memmove(from + count, from, (size_t)(to - from));
    memset(from, fill, (size_t)count);
    return to + count;
}

/* prof__conversion_integer() and prof__conversion_text() write a conversion at `to`. They return the end of what they
   wrote, or NULL if vsnprintf() must format the whole name. */
static inline char *prof__conversion_integer(char *to, const prof__conversion *how, prof__log_list *list)
{
    char *from = to, sign;
    if (how->precision >= 0) return NULL;
    uint64_t value = prof__conversion_fetch(how, list, &sign);
    if (sign) *to++ = sign;
    char *digits = to;
    if (how->letter == 'x' || how->letter == 'X')
        to += prof__hex_digits(to, value, how->letter == 'x' ? 'a' : 'A');
    else
        to += prof__digits(to, value);
    if (PROF__UNLIKELY(to - from < how->width))
        to = prof__widen(how->fill == '0' ? digits : from, to, how->width - (int)(to - from), how->fill);
    return to;
}

static inline char *prof__conversion_text(char *to, const char *end, const prof__conversion *how, const char *text)
{
    size_t max = (size_t)(end - to) + 1, length;
    int part = how->precision >= 0 && (size_t)how->precision < max; /* else a longer text goes to vsnprintf() */
    if (!text || how->wide || how->fill == '0' || how->width > PROF__SHORT_ITEM) return NULL;
    if (part) max = (size_t)how->precision;
    const char *zero = (const char *)memchr(text, 0, max);
    if (!zero && !part) return NULL;
    length = zero ? (size_t)(zero - text) : max;
    memcpy(to, text, length);
    to += length;
    if (PROF__LIKELY(length >= (size_t)how->width)) return to;
    return prof__widen(to - length, to, how->width - (int)length, ' ');
}

/* Writes a number below 10000. */
static inline char *prof__four_digits(char *to, unsigned number)
{
    unsigned upper = number / 100, lower = number % 100;
    if (upper >= 10) *to++ = (char)('0' + upper / 10);
    if (upper) *to++ = (char)('0' + upper % 10);
    if (number >= 10) *to++ = (char)('0' + lower / 10);
    *to = (char)('0' + lower % 10);
    return to + 1;
}

typedef struct prof__format_place {
    char *to;           /* NULL: vsnprintf() must format the whole name */
    const char *format; /* the rest of the format */
} prof__format_place;

/* Writes a conversion. at.format: its first character after the %. */
static PROF__NOINLINE prof__format_place prof__format_one(prof__format_place at, const char *end, prof__log_list *list)
{
    prof__conversion how;
    at.format = prof__conversion_parse(at.format, &how, list);
    switch (how.letter) {
    case 'd':
    case 'i':
    case 'u':
    case 'x':
    case 'X':
        at.to = how.width <= PROF__SHORT_ITEM ? prof__conversion_integer(at.to, &how, list) : NULL;
        break;
    case 's': at.to = prof__conversion_text(at.to, end, &how, va_arg(list->values, const char *)); break;
    case 'c':
        *at.to = (char)va_arg(list->values, int);
        at.to = *at.to && !how.wide && !how.width && how.precision < 0 && how.fill != '0' ? at.to + 1 : NULL;
        break;
    case '%':
        *at.to = '%';
        at.to = at.format[-1] == '%' ? at.to + 1 : NULL;
        break;
    default: at.to = NULL; break;
    }
    ++at.format;
    return at;
}

/* Formats a name, and appends zeros up to the end of the last word. Returns the name's length, or -1 if vsnprintf()
   must format the name. text: room for PROF__SHORT_NAME + PROF__SHORT_ITEM + 8 bytes. */
static PROF__NOINLINE int prof__format_short(char *text, const char *format, prof__log_list *list)
{
    char *const end = text + PROF__SHORT_NAME;
    prof__format_place at = {text, format};
    for (char c; (c = *at.format++) != 0;) {
        if (at.to >= end) return -1;
        if (c != '%') {
            *at.to++ = c;
        } else if (*at.format == 'd') {
            int value = va_arg(list->values, int);
            unsigned number = (unsigned)value;
            if (value < 0) {
                *at.to++ = '-';
                number = 0 - number;
            }
            at.to = number < 10000 ? prof__four_digits(at.to, number) : at.to + prof__digits(at.to, number);
            ++at.format;
        } else {
            at = prof__format_one(at, end, list);
            if (!at.to) return -1;
        }
    }
    if (at.to > end) return -1;
    memset(at.to, 0, 8);
    return (int)(at.to - text);
}
#endif

static PROF__COLD prof__token prof__format_long(prof_site *site, const char *format, prof__log_list *list,
                                                int owes_end) PROF__PRINTF(2, 0);
static PROF__COLD prof__token prof__format_long(prof_site *site, const char *format, prof__log_list *list,
                                                int owes_end)
{
#ifdef PROF_VSNPRINTF
    char text[PROF_MAX_TEXT + 2];
    PROF__ERRNO_SAVE();
    /* vsnprintf() fails, for example, if the value of %lc is no character. Then the name is the format itself. */
    const char *name = PROF_VSNPRINTF(text, (int)sizeof text, format, list->values) < 0 ? format : text;
    PROF__ERRNO_RESTORE();
    if (!owes_end) PROF__BRIDGE_MARK(site, name);
    return prof__named(site, name, owes_end);
#else
    (void)list;
    return prof__named(site, format, owes_end);
#endif
}

PROF_DEF prof__token prof__begin_format(prof_site *site, const char *format, ...)
{
    prof__log_list list;
#ifdef PROF__SHORT_NAME
    uint64_t name[(PROF__SHORT_NAME + PROF__SHORT_ITEM + 8) / 8 + 1];
    va_start(list.values, format);
    int length = prof__format_short((char *)name, format, &list);
    va_end(list.values);
    if (PROF__LIKELY(length >= 0)) {
        prof__text text = {(const char *)name, (uint64_t)length, (uint64_t)length / 8 + 1, 0};
        return prof__named_text(site, &text, 1, 1);
    }
#endif
    va_start(list.values, format);
    prof__token token = prof__format_long(site, format, &list, 1);
    va_end(list.values);
    return token;
}

PROF_DEF void prof__mark_format(prof_site *site, const char *format, ...)
{
    prof__log_list list;
#ifdef PROF__SHORT_NAME
    uint64_t name[(PROF__SHORT_NAME + PROF__SHORT_ITEM + 8) / 8 + 1];
    va_start(list.values, format);
    int length = prof__format_short((char *)name, format, &list);
    va_end(list.values);
    if (PROF__LIKELY(length >= 0)) {
        PROF__BRIDGE_MARK(site, (const char *)name);
        prof__named(site, (const char *)name, 0);
        return;
    }
#endif
    va_start(list.values, format);
    prof__format_long(site, format, &list, 0);
    va_end(list.values);
}

#endif /* PROF__RECORD_FORMATTED_H */
