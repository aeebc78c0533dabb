// record/log: Records log messages: parses a format once for each call site, then only copies values.
#ifndef PROF__RECORD_LOG_H
#define PROF__RECORD_LOG_H
#include "api/markup.h"
#include "api/values.h"
#include "ground/instances.h"
#include "ground/numbers.h"
#include "image/format.h"
#include "image/words.h"
#include "record/bridge.h"
#include "record/scope.h"
#include "record/self.h"
#include "record/state.h"
#include "record/thread.h"
#include "record/track.h"
#include "record/value.h"

/*-- messages --
   A format is parsed once for each call site. The result has one code for each value to fetch, so that recording a
   message does not look at the format. The reader parses the format again and assigns the values to its conversions in
   order. */

#define PROF__LOG_VALUES 16
#define PROF__LOG_COUNT 0xFFu      /* in `known`: the number of values + 1 */
#define PROF__LOG_HAS_TEXT 0x100u  /* in `known`: a text is among the values */

enum { /* codes of values: type and size in bits */
    PROF__LOG_NONE = 0,
    PROF__LOG_INT8,
    PROF__LOG_INT16,
    PROF__LOG_INT32,
    PROF__LOG_INT64,
    PROF__LOG_UINT8,
    PROF__LOG_UINT16,
    PROF__LOG_UINT32,
    PROF__LOG_UINT64,
    PROF__LOG_DOUBLE,
    PROF__LOG_LONG_DOUBLE, /* is recorded as a double */
    PROF__LOG_POINTER,
    PROF__LOG_TEXT,
    PROF__LOG_TEXT_STAR, /* the previous value is its precision */
    PROF__LOG_TEXT_PART  /* the next two codes are its precision: low byte, high byte */
};

typedef struct prof__log_spec {
    int width, precision; /* or PROF__LOG_OMITTED, or PROF__LOG_STAR: it is a value of its own */
    char flags[6];        /* those of "-+ #0" that the conversion has, terminated */
    char conversion;
    unsigned char code;
    int supported;        /* 0: the value is not recorded, and the message says so */
} prof__log_spec;

enum { PROF__LOG_OMITTED = -1, PROF__LOG_STAR = -2 };

static const char *prof__log_number(const char *at, int *value)
{
    if (*at == '*') {
        *value = PROF__LOG_STAR;
        return at + 1;
    }
    for (*value = 0; *at >= '0' && *at <= '9'; ++at)
        if (*value < 10000) *value = *value * 10 + (*at - '0');
    return at;
}

/* Parses a length modifier. *size: the bytes of an integer; *is_long: 1 after l (wide text) or L (long double). */
static const char *prof__log_length(const char *at, size_t *size, int *is_long)
{
    *size = sizeof(int);
    *is_long = *at == 'l' || *at == 'L';
    switch (*at) {
    case 'h': *size = at[1] == 'h' ? 1 : sizeof(short); return at + 1 + (at[1] == 'h');
    case 'l': *size = at[1] == 'l' ? 8 : sizeof(long); return at + 1 + (at[1] == 'l');
    case 'L':
    case 'q':
    case 'j': *size = 8; return at + 1;
    case 'z': *size = sizeof(size_t); return at + 1;
    case 't': *size = sizeof(ptrdiff_t); return at + 1;
    case 'I': /* Windows: I64, I32, I */
        *size = at[1] == '6' ? 8 : at[1] == '3' ? 4 : sizeof(size_t);
        return at + ((at[1] == '6' && at[2] == '4') || (at[1] == '3' && at[2] == '2') ? 3 : 1);
    default: return at;
    }
}

static unsigned char prof__log_integer(unsigned char code, size_t size)
{
    return (unsigned char)(code + (size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : 3));
}

/* Parses a conversion whose first character after the % is at `at`. Returns the text after the conversion. Returns NULL
   if it is unknown: then nothing after it can be interpreted. */
static PROF__COLD const char *prof__log_parse(const char *at, prof__log_spec *spec)
{
    size_t size, flags = 0;
    int is_long;
    spec->supported = 1;
    spec->code = PROF__LOG_NONE;
    spec->precision = PROF__LOG_OMITTED;
    for (;; ++at) {
        if (*at == '\'') continue;
        if (*at != '-' && *at != '+' && *at != ' ' && *at != '#' && *at != '0') break;
#ifndef PROF_FREESTANDING /* only readers need flags */
        size_t i = 0;
        while (i < flags && spec->flags[i] != *at) ++i;
        if (i == flags) spec->flags[flags++] = *at;
#endif
    }
    spec->flags[flags] = 0;
    at = prof__log_number(at, &spec->width);
    if (*at == '.') at = prof__log_number(at + 1, &spec->precision);
    at = prof__log_length(at, &size, &is_long);
    spec->conversion = *at;
    switch (*at) {
    case '%': return at + 1;
    case 'd':
    case 'i': spec->code = prof__log_integer(PROF__LOG_INT8, size); return at + 1;
    case 'u':
    case 'o':
    case 'x':
    case 'X': spec->code = prof__log_integer(PROF__LOG_UINT8, size); return at + 1;
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G':
    case 'a':
    case 'A': spec->code = at[-1] == 'L' ? PROF__LOG_LONG_DOUBLE : PROF__LOG_DOUBLE; return at + 1;
    case 'p': spec->code = PROF__LOG_POINTER; return at + 1;
    case 'C':
    case 'c':
        spec->code = PROF__LOG_INT32;
        spec->supported = *at == 'c' && !is_long;
        return at + 1;
    case 'S':
    case 's':
        spec->supported = *at == 's' && !is_long;
        spec->code = !spec->supported                          ? PROF__LOG_POINTER
                     : spec->precision == PROF__LOG_OMITTED ? PROF__LOG_TEXT
                     : spec->precision == PROF__LOG_STAR    ? PROF__LOG_TEXT_STAR
                                                               : PROF__LOG_TEXT_PART;
        return at + 1;
    case 'n': /* the target of %n is not changed */
        spec->code = PROF__LOG_POINTER;
        spec->supported = 0;
        return at + 1;
    case 'm': /* %m has no value */
        spec->supported = 0;
        return at + 1;
    default: return NULL;
    }
}

/* Parses a call site's format. Several threads may do so at the same time, because all store the same values. */
static PROF__COLD void prof__log_learn(prof__log_format *known, const char *format)
{
    size_t at = 0;
    uint32_t values = 0, has_text = 0;
    while (format && *format) {
        unsigned char codes[5];
        uint32_t count = 0, more;
        prof__log_spec spec;
        if (*format++ != '%') continue;
        format = prof__log_parse(format, &spec);
        if (!format) break;
#ifdef PROF_FREESTANDING
        if (spec.code == PROF__LOG_LONG_DOUBLE) break; /* converting it to double may need a library */
#endif
#ifdef PROF__NO_DOUBLE
        if (spec.code == PROF__LOG_DOUBLE) break; /* without double no caller can pass one */
#endif
        if (spec.width == PROF__LOG_STAR) codes[count++] = PROF__LOG_INT32;
        if (spec.precision == PROF__LOG_STAR) codes[count++] = PROF__LOG_INT32;
        if (spec.code) codes[count++] = spec.code;
        more = count;
        if (spec.code == PROF__LOG_TEXT_PART) {
            codes[count++] = (unsigned char)(spec.precision & 255);
            codes[count++] = (unsigned char)(spec.precision >> 8);
        }
        if (values + more > PROF__LOG_VALUES || at + count >= sizeof known->codes) break;
        values += more;
        if (spec.code >= PROF__LOG_TEXT) has_text = PROF__LOG_HAS_TEXT;
        for (uint32_t i = 0; i < count; ++i) PROF__STORE(&known->codes[at + i], codes[i]);
        at += count;
    }
    PROF__STORE(&known->codes[at], (unsigned char)PROF__LOG_NONE);
    PROF__RELEASE(&known->known, (values + 1) | has_text);
}

/* A va_list in a struct, to pass its address: on some platforms va_list is an array. */
typedef struct prof__log_list {
    va_list values;
} prof__log_list;

#ifndef PROF_FREESTANDING
static uint64_t prof__log_long_double(prof__log_list *list)
{
    PROF__CALM(); /* it may exceed the range of double */
    return prof__double_bits((double)va_arg(list->values, long double));
}
#endif

/* Fetches the next value. code: below PROF__LOG_TEXT. */
static inline uint64_t prof__log_fetch(unsigned code, prof__log_list *list)
{
    if (PROF__UNLIKELY(code > PROF__LOG_UINT32 || code == PROF__LOG_INT64)) {
#ifndef PROF__NO_DOUBLE
        if (code == PROF__LOG_DOUBLE) return prof__double_bits(va_arg(list->values, double));
#endif
#ifndef PROF_FREESTANDING
        if (code == PROF__LOG_LONG_DOUBLE) return prof__log_long_double(list);
#endif
        if (!PROF__WIDE && code == PROF__LOG_POINTER) return (uint64_t)(uintptr_t)va_arg(list->values, void *);
        return va_arg(list->values, unsigned long long);
    }
    int value = va_arg(list->values, int); /* shorter types are passed as an int */
    if (code == PROF__LOG_INT32) return (uint64_t)value;
    int shift = 32 - (8 << (code - 1) % 4);
    return code < PROF__LOG_INT64 ? (uint64_t)((int32_t)((uint32_t)value << shift) >> shift)
                                  : (uint32_t)value << shift >> shift;
}

/* Returns the head of a value's record; of a text without its size. */
static inline uint64_t prof__log_head(unsigned code)
{
    unsigned type = code <= PROF__LOG_INT64         ? PROF_VALUE_INT
                    : code <= PROF__LOG_UINT64      ? PROF_VALUE_UINT
                    : code <= PROF__LOG_LONG_DOUBLE ? PROF_VALUE_DOUBLE
                                                    : PROF_VALUE_POINTER;
    return (uint64_t)PROF__KIND_DATA << PROF__KIND_SHIFT | (uint64_t)type << 32 | 1;
}

/* Copies numbers from the caller's registers to the chunk at `at`. Returns how many words they take. */
static inline uint64_t prof__log_numbers(uint64_t *at, const prof__log_format *known, uint32_t values,
                                         prof__log_list *list)
{
    for (uint32_t i = 0; i < values; ++i, at += 2) {
        unsigned code = PROF__LOAD(&known->codes[i]);
        PROF__STORE(at + 1, prof__log_fetch(code, list));
        prof__store_word(at, prof__log_head(code));
    }
    return 2 * (uint64_t)values;
}

typedef struct prof__log_value {
    uint64_t head, number;
    prof__text text; /* bytes is NULL for a number */
} prof__log_value;

/* Fetches as many values as fit into `room` words. Sets *words to the words that they take. Returns how many. */
static uint32_t prof__log_collect(const prof__log_format *known, uint32_t values, prof__log_list *list, uint64_t room,
                                  prof__log_value *to, uint64_t *words)
{
    const unsigned char *code = known->codes;
    uint64_t used = 0;
    uint32_t count = 0;
    for (; count < values && used + 2 <= room; ++count, ++code) {
        unsigned kind = PROF__LOAD(code);
        uint64_t given = ~(uint64_t)0, kept = used + 2 * (values - count); /* leaves two words for each of the rest */
        prof__log_value *value = &to[count];
        value->text.bytes = NULL;
        value->text.words = 1;
        if (kind < PROF__LOG_TEXT) {
            value->head = prof__log_head(kind);
            value->number = prof__log_fetch(kind, list);
        } else {
            if (kind == PROF__LOG_TEXT_STAR && (int64_t)to[count - 1].number >= 0) given = to[count - 1].number;
            if (kind == PROF__LOG_TEXT_PART) {
                given = (uint64_t)PROF__LOAD(code + 1) | (uint64_t)PROF__LOAD(code + 2) << 8;
                code += 2;
            }
            value->text = prof__measure_part(va_arg(list->values, const char *),
                                             (kept < room ? (room - kept) * 8 : 0) + 7, given);
        }
        used += 1 + value->text.words;
    }
    *words = used;
    return count;
}

/* Reserves words for a message and writes its values, if some are texts, which must be measured first. Returns what
   prof__reserve() returns. */
static uint64_t *prof__log_mixed(prof__thread *self, const prof__log_format *known, uint32_t values,
                                 prof__log_list *list, uint64_t *now, uint64_t *words)
{
    prof__log_value fetched[PROF__LOG_VALUES];
    uint32_t count = prof__log_collect(known, values, list, PROF__LOAD(&self->session->text_words) / 4, fetched, words);
    uint64_t *at = prof__reserve(self, 3 + *words, now), *to = at ? at + 3 : NULL;
    for (uint32_t i = 0; at && i < count; to += 1 + fetched[i++].text.words) {
        if (fetched[i].text.bytes) {
            prof__text_write(to, (uint64_t)PROF__KIND_DATA << PROF__KIND_SHIFT, &fetched[i].text);
        } else {
            PROF__STORE(to + 1, fetched[i].number);
            prof__store_word(to, fetched[i].head);
        }
    }
    return at;
}

static inline void prof__log_write(prof_site *site, prof__log_format *known, uint64_t severity, const char *format,
                                   prof__log_list *list)
{
    PROF__SELF_OR(PROF__FORWARD_VOID(prof__log_write, (site, known, severity, format, list)));
    uint64_t head, words, *at;
    if (!prof__enter(self, site, &head)) return;
    uint64_t now = prof__now(self->session, 0);
    if (PROF__UNLIKELY(!PROF__ACQUIRE(&known->known))) prof__log_learn(known, format);
    uint32_t values = (PROF__LOAD(&known->known) & PROF__LOG_COUNT) - 1;
    PROF__BRIDGE_LOG_KEEP(list);
    if (PROF__LOAD(&known->known) & PROF__LOG_HAS_TEXT ||
        PROF__LOAD(&self->session->text_words) < 8 * PROF__LOG_VALUES) {
        at = prof__log_mixed(self, known, values, list, &now, &words);
    } else {
        at = prof__reserve(self, 3 + 2 * (uint64_t)values, &now);
        words = at ? prof__log_numbers(at + 3, known, values, list) : 0;
    }
    if (at) {
        PROF__STORE(at + 1, (severity & 0xFF) << 8 | PROF_EVENT_LOG);
        PROF__STORE(at + 2, (uint64_t)0);
        prof__store_word(at, head | (now - self->base));
        prof__commit(self, 3 + words);
    }
    prof__leave(self);
    PROF__BRIDGE_LOG(site, severity, format);
}

PROF_DEF void prof__log(prof_site *site, prof__log_format *known, uint64_t severity, const char *format, ...)
{
    prof__log_list list;
    va_start(list.values, format);
    prof__log_write(site, known, severity, format, &list);
    va_end(list.values);
}

#endif /* PROF__RECORD_LOG_H */
