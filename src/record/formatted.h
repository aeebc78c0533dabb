// record/formatted: Formats the names of the _F macros (printf style) at run time, faster than vsnprintf().
#ifndef PROF__RECORD_FORMATTED_H
#define PROF__RECORD_FORMATTED_H
#include "api/markup.h"
#include "ground/digits.h"
#include "ground/numbers.h"
#include "ground/threads.h"
#include "image/format.h"
#include "image/words.h"
#include "record/bridge.h"
#include "record/log.h"
#include "record/value.h"

/*-- names made by a format --
   vsnprintf() takes about 600 instructions for "job %d", and thousands for a floating-point number. So this module
   makes names itself: integers, texts and characters are written when the name is recorded, with a width and with a
   precision of texts. Conversions that take longer, those of floating-point numbers, of large integers and addresses,
   and those with rare flags, stay as they are in the name, and their values follow it (see PROF__NAME_VALUES): the
   reader formats them. What neither can do, and a long name, is passed to vsnprintf() as a whole. The results are the
   same, but for the decimal separator of a locale. */

#if !defined(PROF_VSNPRINTF) && !defined(PROF_FREESTANDING)
#define PROF_VSNPRINTF vsnprintf
#define PROF__SHORT_NAME (PROF_MAX_TEXT < 200 ? PROF_MAX_TEXT : 200) /* bytes of a name formatted here */
#define PROF__SHORT_ITEM 40 /* the most bytes of a width or a number */

#define PROF__TOO_LONG (~(size_t)0)
#define PROF__LONG_DOUBLE ((size_t)16) /* the size that stands for long double, whatever that has */

/* A parsed conversion: %[flags][width][.precision][size]letter. */
typedef struct prof__conversion {
    const char *flags;  /* among "-+ #0" */
    int flag_count;
    int bytes;          /* of flags, width and precision, as the format has them; -1: some are values */
    int width, precision; /* precision: -1: none, or a value said so */
    size_t size;          /* of an integer, in bytes */
    char fill;            /* '0' or a space */
    char left;            /* 1: spaces follow instead */
    char rare;            /* 1: it has one of the flags "+ #" */
    char letter;
    char valued;          /* 1: the width or the precision is a value */
    char wide;            /* 1: a size was given */
} prof__conversion;

/* A name, and the values that the reader formats. */
typedef struct prof__kept {
    uint32_t count;
    uint32_t escapes; /* 1: there may be a % in the name that belongs to no conversion */
    uint64_t values[PROF__NAME_VALUES];
    uint64_t name[(PROF__SHORT_NAME + 2 * PROF__SHORT_ITEM + 8) / 8 + 1 + PROF__NAME_VALUES]; /* the values once more */
} prof__kept;

static inline const char *prof__conversion_number(const char *at, int *number, prof__conversion *to,
                                                  prof__log_list *list)
{
    if (*at == '*') {
        to->valued = 1;
        *number = va_arg(list->values, int);
        return at + 1;
    }
    for (*number = 0; *at >= '0' && *at <= '9'; ++at)
        if (*number < 10000) *number = *number * 10 + (*at - '0');
    return at;
}

static inline const char *prof__conversion_size(const char *at, prof__conversion *to)
{
    switch (*at) {
    case 'l':
        to->size = at[1] == 'l' ? sizeof(long long) : sizeof(long);
        return at + 1 + (at[1] == 'l');
    case 'h':
        to->size = at[1] == 'h' ? 1 : sizeof(short);
        return at + 1 + (at[1] == 'h');
    case 'z': to->size = sizeof(size_t); return at + 1;
    case 't': to->size = sizeof(ptrdiff_t); return at + 1;
    case 'j': to->size = sizeof(intmax_t); return at + 1;
    case 'L': to->size = PROF__LONG_DOUBLE; return at + 1;
    default: return at;
    }
}

static inline const char *prof__conversion_prefix(const char *at, prof__conversion *to, prof__log_list *list)
{
    for (; *at == '0' || *at == '-' || *at == '+' || *at == ' ' || *at == '#'; ++at) {
        if (*at == '0')
            to->fill = '0';
        else if (*at == '-')
            to->left = 1;
        else
            to->rare = 1;
    }
    to->flag_count = (int)(at - to->flags);
    if (*at == '*' || (*at >= '1' && *at <= '9')) at = prof__conversion_number(at, &to->width, to, list);
    if (to->width < 0) {
        to->left = 1;
        to->width = to->width < -10000 ? 10000 : -to->width;
    }
    if (*at == '.') at = prof__conversion_number(at + 1, &to->precision, to, list);
    return at;
}

/* Parses a conversion whose first character after the % is at `at`. Returns the address of its letter. */
static inline const char *prof__conversion_parse(const char *at, prof__conversion *to, prof__log_list *list)
{
    to->width = 0;
    to->precision = -1;
    to->fill = ' ';
    to->left = to->rare = to->valued = 0;
    to->size = sizeof(int);
    to->flags = at;
    to->flag_count = 0;
    if (*at < 'A') at = prof__conversion_prefix(at, to, list); /* else a size or the letter */
    const char *size = at;
    to->bytes = to->valued ? -1 : (int)(at - to->flags);
    at = prof__conversion_size(at, to);
    to->wide = at != size;
    to->letter = *at;
    return at;
}

/* Fetches the integer of a conversion. If it is negative, sets *sign to '-' and returns the absolute value; else sets
   *sign to 0. */
static inline uint64_t prof__conversion_fetch(const prof__conversion *how, prof__log_list *list, char *sign)
{
    uint64_t value;
    int high_bits = how->size < sizeof value ? 64 - 8 * (int)how->size : 0; /* that it does not have */
    *sign = 0;
    if (how->size > sizeof(int))
        value = va_arg(list->values, unsigned long long);
    else
        value = va_arg(list->values, unsigned);
    value = value << high_bits;
    if (how->letter != 'd' && how->letter != 'i') return value >> high_bits;
    value = (uint64_t)((int64_t)value >> high_bits);
    if ((int64_t)value >= 0) return value;
    *sign = '-';
    return 0 - value;
}

/* Writes `fill` characters, more than are needed: a known number takes few instructions. */
static inline void prof__fill(char *to, char fill) { memset(to, fill, PROF__SHORT_ITEM); }

/* Widens the number from `from` to `to` to PROF__SHORT_ITEM characters at most: with `fill` characters before it or, if
   `left` is 1, spaces after it. Returns the new end of the text. */
static inline char *prof__widen(char *from, char *to, int width, char fill, int left)
{
    char number[24];
    if (left) {
        prof__fill(to, ' ');
    } else {
        memcpy(number, from, sizeof number);
        prof__fill(from, fill);
        memcpy(from + width - (to - from), number, sizeof number);
    }
    return from + width;
}

/* Doubles each % of a text. Returns its new end, or NULL if it does not fit. */
static char *prof__conversion_escape(char *from, char *to, const char *end)
{
    size_t more = 0;
    const char *at = (const char *)memchr(from, '%', (size_t)(to - from));
    if (PROF__LIKELY(!at)) return to;
    for (; at < to; ++at) more += *at == '%';
    if (to > end || more > (size_t)(end - to)) return NULL;
    char *last = to + more;
    for (char *put = last; put > from;) {
        *--put = *--to;
        if (*put == '%') *--put = '%';
    }
    return last;
}

/* The functions prof__conversion_...() write a conversion at `to`. They return the end of what they wrote, or NULL if
   vsnprintf() must format the whole name. */

/* Before a conversion stays in the name. */
static inline char *prof__conversion_first(char *to, const char *end, prof__kept *kept)
{
    return kept->count || PROF__LIKELY(!kept->escapes) ? to : prof__conversion_escape((char *)kept->name, to, end);
}

/* Leaves a conversion in the name, and keeps its value for the reader. */
static char *prof__conversion_keep(char *to, const char *end, const prof__conversion *how, prof__kept *kept,
                                   uint64_t value)
{
    if (how->flag_count > 5 || how->bytes > 12 || how->width > PROF__NAME_WIDE || how->precision > PROF__NAME_WIDE ||
        kept->count == PROF__NAME_VALUES)
        return NULL;
    to = prof__conversion_first(to, end, kept);
    if (!to || to >= end) return NULL;
    *to++ = '%';
    for (int i = 0, count = how->bytes < 0 ? how->flag_count : how->bytes; i < count; ++i) *to++ = how->flags[i];
    if (how->bytes < 0) {
        if (how->left) *to++ = '-'; /* the width was negative */
        if (how->width) to += prof__digits(to, (uint64_t)how->width);
        if (how->precision >= 0) *to++ = '.';
        if (how->precision >= 0) to += prof__digits(to, (uint64_t)how->precision);
    }
    *to++ = how->letter;
    kept->values[kept->count++] = value;
    return to;
}

static inline char *prof__conversion_integer(char *to, const char *end, const prof__conversion *how, prof__kept *kept,
                                             prof__log_list *list)
{
    char *from = to, sign;
    uint64_t value = prof__conversion_fetch(how, list, &sign);
    if (PROF__UNLIKELY(how->precision >= 0 || how->rare || how->letter == 'o' || how->width > PROF__SHORT_ITEM ||
                       value >> 32)) /* many digits take longer */
        return prof__conversion_keep(to, end, how, kept, sign ? 0 - value : value);
    if (sign) *to++ = sign;
    char *digits = to;
    if (how->letter == 'x' || how->letter == 'X')
        to += prof__hex_digits(to, value, how->letter == 'x' ? 'a' : 'A');
    else
        to += prof__digits(to, value);
    if (PROF__LIKELY(to - from >= how->width)) return to;
    if (how->left || how->fill != '0') return prof__widen(from, to, how->width, ' ', how->left);
    return prof__widen(digits, to, how->width - (int)(digits - from), '0', 0);
}

#ifndef PROF__NO_DOUBLE
/* Returns a long double as the bits of a double. Sets *exact to 0 if a double does not print like it. */
static uint64_t prof__conversion_long_double(const prof__conversion *how, prof__log_list *list, int *exact)
{
    const long double value = va_arg(list->values, long double);
    *exact = how->letter != 'a' && how->letter != 'A';
#if defined(__LDBL_MANT_DIG__) && __LDBL_MANT_DIG__ == 64 && (defined(__x86_64__) || defined(__i386__))
    uint64_t digits;
    uint16_t high; /* the sign and the power of two */
    memcpy(&digits, &value, sizeof digits);
    memcpy(&high, (const char *)&value + sizeof digits, sizeof high);
    uint64_t sign = (uint64_t)(high >> 15) << 63, power = (high & 0x7FFFu) - (16383u - 1023u);
    if (!digits && !(high & 0x7FFF)) return sign;
    *exact &= digits >> 63 && !(digits & 0x7FF) && power - 1 < 2046;
    return sign | power << 52 | (digits << 1 >> 12);
#else
    PROF__CALM(); /* it may exceed the range of double */
    double narrow = (double)value;
    *exact &= narrow <= value && narrow >= value; /* no NaN */
    return prof__double_bits(narrow);
#endif
}

static char *prof__conversion_double(char *to, const char *end, const prof__conversion *how, prof__kept *kept,
                                     prof__log_list *list)
{
    int exact = how->size != PROF__LONG_DOUBLE;
    uint64_t value = exact ? prof__double_bits(va_arg(list->values, double))
                           : prof__conversion_long_double(how, list, &exact);
    return exact ? prof__conversion_keep(to, end, how, kept, value) : NULL;
}
#endif

/* Returns how many bytes of a text a conversion writes, at most `most`. PROF__TOO_LONG: vsnprintf() has to write
   them. */
static inline size_t prof__conversion_length(const char *text, size_t most, int precision)
{
    int part = precision >= 0 && (size_t)precision < most; /* else a longer text goes to vsnprintf() */
    const char *zero;
    if (part) most = (size_t)precision;
    zero = text ? (const char *)memchr(text, 0, most) : NULL;
    return zero ? (size_t)(zero - text) : part && text ? most : PROF__TOO_LONG;
}

static inline char *prof__conversion_text(char *to, const char *end, const prof__conversion *how, const char *text,
                                          const prof__kept *kept)
{
    size_t room = (size_t)(end - to) + 1, length = prof__conversion_length(text, room, how->precision);
    size_t width = (size_t)how->width, spaces = length < width ? width - length : 0, before = how->left ? 0 : spaces;
    if (length == PROF__TOO_LONG || how->wide || how->fill == '0' || width >= room) return NULL;
    if (spaces > PROF__SHORT_ITEM) memset(before ? to : to + length, ' ', spaces);
    if (spaces) prof__fill(before ? to : to + length, ' ');
    memcpy(to + before, text, length);
    return kept->count ? prof__conversion_escape(to, to + length + spaces, end) : to + length + spaces;
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
static PROF__NOINLINE prof__format_place prof__format_one(prof__format_place at, const char *end, prof__kept *kept,
                                                          prof__log_list *list)
{
    prof__conversion how;
    char letter[2];
    at.format = prof__conversion_parse(at.format, &how, list);
    kept->escapes |= how.letter == 's' || how.letter == 'c';
    switch (how.letter) {
    case 'd':
    case 'i':
    case 'u':
    case 'x':
    case 'X':
    case 'o': at.to = prof__conversion_integer(at.to, end, &how, kept, list); break;
#ifndef PROF__NO_DOUBLE
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G':
    case 'a':
    case 'A': at.to = prof__conversion_double(at.to, end, &how, kept, list); break;
#endif
    case 's':
        at.to = prof__conversion_text(at.to, end, &how, va_arg(list->values, const char *), kept);
        break;
    case 'c':
        letter[0] = (char)va_arg(list->values, int);
        letter[1] = 0;
        if (*letter && *letter != '%' && at.format == how.flags)
            *at.to++ = *letter;
        else
            at.to = *letter && how.precision < 0 ? prof__conversion_text(at.to, end, &how, letter, kept)
                                                 : NULL;
        break;
#ifdef __GLIBC__ /* others write addresses in other ways */
    case 'p': {
        uint64_t address = PROF__ADDRESS(va_arg(list->values, void *));
        int usual = address && how.flag_count <= how.left && how.precision < 0;
        how.flags = "#";
        how.flag_count = 1;
        how.bytes = -1;
        how.letter = 'x';
        at.to = usual ? prof__conversion_keep(at.to, end, &how, kept, address) : NULL;
        break;
    }
#endif
    default: at.to = NULL; break;
    }
    ++at.format;
    return at;
}

/* Leaves a common conversion of a double in the name: one letter, perhaps with a precision of one digit. Returns 0 if
   it is another one. */
static inline int prof__conversion_common(prof__format_place *at, const char *end, prof__kept *kept,
                                          prof__log_list *list)
{
#ifndef PROF__NO_DOUBLE
    int size = *at->format == '.' && at->format[1] >= '0' && at->format[1] <= '9' ? 2 : 0;
    char letter = at->format[size];
    if ((letter | 32) < 'e' || (letter | 32) > 'g' || kept->count == PROF__NAME_VALUES) return 0;
    char *to = prof__conversion_first(at->to, end, kept);
    kept->values[kept->count++] = prof__double_bits(va_arg(list->values, double));
    at->to = NULL;
    if (!to) return 1;
    *to++ = '%';
    for (int i = 0; i < size; ++i) *to++ = at->format[i];
    *to = letter;
    at->to = to + 1;
    at->format += size + 1;
    return 1;
#else
    (void)at, (void)end, (void)kept, (void)list;
    return 0;
#endif
}

static void prof__kept_append(prof__kept *kept, size_t word)
{
    for (uint32_t i = 0; i < kept->count; ++i) kept->name[word + i] = prof__little_endian(kept->values[i]);
}

/* Formats a name. Appends zeros up to the end of the last word, and the values that the reader formats. Returns the
   name's length, or PROF__TOO_LONG if vsnprintf() must format the name. */
static PROF__NOINLINE size_t prof__format_short(prof__kept *kept, const char *format, prof__log_list *list)
{
    char *const text = (char *)kept->name, *const end = text + PROF__SHORT_NAME;
    prof__format_place at = {text, format};
    for (unsigned char c;;) {
        for (; (c = (unsigned char)*at.format) > '%' && at.to < end; ++at.format) *at.to++ = (char)c;
        ++at.format;
        if (!c) break;
        if (at.to >= end) return PROF__TOO_LONG;
        if (c != '%') {
            *at.to++ = (char)c;
        } else if (*at.format == 'd') {
            int value = va_arg(list->values, int);
            unsigned number = (unsigned)value;
            if (value < 0) {
                *at.to++ = '-';
                number = 0 - number;
            }
            at.to = number < 10000 ? prof__four_digits(at.to, number) : at.to + prof__digits(at.to, number);
            ++at.format;
        } else if (*at.format == 's' && !kept->count) {
            const char *value = va_arg(list->values, const char *);
            size_t length = prof__conversion_length(value, (size_t)(end - at.to) + 1, -1);
            if (length == PROF__TOO_LONG) return PROF__TOO_LONG;
            memcpy(at.to, value, length);
            at.to += length;
            kept->escapes = 1;
            ++at.format;
        } else if (*at.format == '%') {
            *at.to = *at.format++;
            at.to[1] = '%';
            at.to += 1 + (kept->count != 0);
            kept->escapes = 1;
        } else if (prof__conversion_common(&at, end, kept, list)) {
            if (!at.to) return PROF__TOO_LONG;
        } else {
            at = prof__format_one(at, end, kept, list);
            if (!at.to) return PROF__TOO_LONG;
        }
    }
    if (at.to > end) return PROF__TOO_LONG;
    memset(at.to, 0, 8);
    if (PROF__UNLIKELY(kept->count)) prof__kept_append(kept, (size_t)(at.to - text) / 8 + 1);
    return (size_t)(at.to - text);
}

/* Records a name that prof__format_short() can make. Returns 0 if it cannot, or if others need the whole text at once:
   other tools, or the copy of the recorder that this one forwards to. *token: what prof__named() returns. */
static PROF__INLINED int prof__named_short(prof_site *site, const char *format, prof__log_list *list, int owes_end,
                                    prof__token *token)
{
    prof__kept kept;
    kept.count = kept.escapes = 0;
    size_t length = prof__format_short(&kept, format, list);
    if (PROF__UNLIKELY(length == PROF__TOO_LONG)) return 0;
    if (PROF__UNLIKELY(kept.count) && !PROF__SELF_LIVES()) return 0;
    if (kept.count) PROF__BRIDGE_WHOLE(return 0);
    prof__text text = {(const char *)kept.name, length, length / 8 + 1 + kept.count, 0, kept.count};
    if (!owes_end) PROF__BRIDGE_MARK(site, text.bytes);
    *token = prof__named_text(site, &text, 1, owes_end);
    return 1;
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
    prof__token token = 0;
#ifdef PROF__SHORT_NAME
    va_start(list.values, format);
    int made = prof__named_short(site, format, &list, 1, &token);
    va_end(list.values);
    if (PROF__LIKELY(made)) return token;
#endif
    va_start(list.values, format);
    token = prof__format_long(site, format, &list, 1);
    va_end(list.values);
    return token;
}

PROF_DEF void prof__mark_format(prof_site *site, const char *format, ...)
{
    prof__log_list list;
#ifdef PROF__SHORT_NAME
    prof__token token = 0;
    va_start(list.values, format);
    int made = prof__named_short(site, format, &list, 0, &token);
    va_end(list.values);
    if (PROF__LIKELY(made)) return;
#endif
    va_start(list.values, format);
    prof__format_long(site, format, &list, 0);
    va_end(list.values);
}

#endif /* PROF__RECORD_FORMATTED_H */
