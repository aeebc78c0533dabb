// read/log: Formats log messages from their formats and values.
#ifndef PROF__READ_LOG_H
#define PROF__READ_LOG_H
#include "api/read.h"
#include "api/values.h"
#include "ground/numbers.h"
#include "ground/utf8.h"
#include "image/format.h"
#include "image/words.h"
#include "read/records.h"
#include "record/log.h"

/*-- messages --
   A format comes from an image, so it may be damaged or hostile, and is never passed to printf(). Each conversion is
   parsed, compared with its value, and written with a format that is made here. If a conversion and its value do not
   match, the text says so in parentheses. */

#define PROF__LOG_ROOM ((size_t)8192) /* bytes of a message; longer messages are cut */
#define PROF__LOG_WIDE 500            /* largest width or precision */

typedef struct prof__log_text {
    char *to;
    size_t at;
    int cut;
} prof__log_text;

static void prof__log_put(prof__log_text *text, const char *bytes, size_t count)
{
    size_t room = PROF__LOG_ROOM - 1 - text->at;
    if (text->cut) return;
    if (count > room) {
        text->cut = 1;
        count = prof__utf8_cut(bytes, room);
    }
    memcpy(text->to + text->at, bytes, count);
    text->at += count;
}

static void prof__log_fill(prof__log_text *text, int count)
{
    for (; count > 0; count--) prof__log_put(text, " ", 1);
}

static void prof__log_padded(prof__log_text *text, const prof__log_spec *spec, const char *bytes, size_t count)
{
    int space = (size_t)(spec->width > 0 ? spec->width : 0) > count ? spec->width - (int)count : 0;
    int left = strchr(spec->flags, '-') != NULL;
    if (!left) prof__log_fill(text, space);
    prof__log_put(text, bytes, count);
    if (left) prof__log_fill(text, space);
}

/* Writes what is wrong with a conversion, for example "(%5d is missing)". from: the conversion's percent sign. at: its
   end. what: the words "is missing". */
static void prof__log_say(prof__log_text *text, const char *from, const char *at, const char *what)
{
    prof__log_put(text, "(", 1);
    prof__log_put(text, from, (size_t)(at - from) < 20 ? (size_t)(at - from) : 20);
    prof__log_put(text, " ", 1);
    prof__log_put(text, what, strlen(what));
    prof__log_put(text, ")", 1);
}

/* Returns 1 if a value of this type fits the conversion. */
static int prof__log_fits(const prof__log_spec *spec, prof_value_type type)
{
    if (spec->code >= PROF__LOG_TEXT) return type == PROF_VALUE_STRING;
    if (spec->code == PROF__LOG_POINTER) return type == PROF_VALUE_POINTER;
    if (spec->code >= PROF__LOG_DOUBLE) return type == PROF_VALUE_DOUBLE;
    return type == PROF_VALUE_INT || type == PROF_VALUE_UINT;
}

/* Makes a format whose width and precision are arguments. size: such as "ll". */
static void prof__log_make_format(char format[16], const prof__log_spec *spec, const char *size)
{
    size_t at = 0;
    for (format[at++] = '%'; spec->flags[at - 1]; at++) format[at] = spec->flags[at - 1];
    memcpy(format + at, "*.*", 3);
    for (at += 3; *size; size++) format[at++] = *size;
    format[at++] = spec->conversion;
    format[at] = 0;
}

/* Writes a floating-point number. Its width and precision are limited, so the text fits into digits. Replaces the
   decimal separator of any locale by a point. */
static void prof__log_float(prof__log_text *text, const prof__log_spec *spec, double value)
{
    char format[16], digits[PROF__LOG_WIDE * 2 + 400];
    size_t from, at = 0;
    PROF__CALM(); /* the recording program may format messages itself, and some NaNs trap in printf() */
    prof__log_make_format(format, spec, "");
    snprintf(digits, sizeof digits, format, spec->width > 0 ? spec->width : 0, spec->precision, value);
    for (from = 0; digits[from]; from++) {
        int separator = digits[from] == ',' || (unsigned char)digits[from] >= 0x80;
        if (!separator)
            digits[at++] = digits[from];
        else if (at && digits[at - 1] != '.')
            digits[at++] = '.';
    }
    prof__log_put(text, digits, at);
}

static void prof__log_integer_text(prof__log_text *text, const prof__log_spec *spec, const prof_value *value)
{
    char format[16], digits[PROF__LOG_WIDE * 2 + 100];
    int width = spec->width > 0 ? spec->width : 0;
    prof__log_make_format(format, spec, "ll");
    if (spec->conversion == 'd' || spec->conversion == 'i')
        snprintf(digits, sizeof digits, format, width, spec->precision, (long long)value->as.i);
    else
        snprintf(digits, sizeof digits, format, width, spec->precision, (unsigned long long)value->as.u);
    prof__log_put(text, digits, strlen(digits));
}

/* Writes a value that fits its conversion. */
static void prof__log_show(prof__log_text *text, const prof__log_spec *spec, const prof_value *value)
{
    char piece[24];
    size_t length = 0;
    switch (spec->code) {
    case PROF__LOG_TEXT:
    case PROF__LOG_TEXT_STAR:
    case PROF__LOG_TEXT_PART:
        while (value->as.string[length] && (spec->precision < 0 || length < (size_t)spec->precision)) length++;
        if (value->cut && !value->as.string[length]) {
            prof__log_put(text, value->as.string, length);
            prof__log_put(text, "...", 3);
        } else {
            prof__log_padded(text, spec, value->as.string, length);
        }
        break;
    case PROF__LOG_POINTER:
        snprintf(piece, sizeof piece, "0x%llx", (unsigned long long)value->as.u);
        prof__log_padded(text, spec, piece, strlen(piece));
        break;
    case PROF__LOG_DOUBLE:
    case PROF__LOG_LONG_DOUBLE: prof__log_float(text, spec, value->as.d); break;
    default:
        if (spec->conversion == 'c') {
            piece[0] = (char)value->as.i;
            prof__log_padded(text, spec, piece, piece[0] != 0); /* a text cannot contain a zero byte */
        } else {
            prof__log_integer_text(text, spec, value);
        }
        break;
    }
}

/* Limits a width or precision. If it is a star, takes it from the next value first. Returns 0 if that value is missing
   or no int. */
static int prof__log_star(const prof_event *event, uint32_t *next, int *number)
{
    int64_t value = *number;
    if (*number == PROF__LOG_STAR) {
        if (*next >= event->arg_count || event->args[*next].value.type != PROF_VALUE_INT) return 0;
        value = event->args[(*next)++].value.as.i;
        if (value < -PROF__LOG_WIDE) value = -PROF__LOG_WIDE;
    }
    *number = value > PROF__LOG_WIDE ? PROF__LOG_WIDE : (int)value;
    return 1;
}

/* Writes the value of a conversion that has been parsed. */
static void prof__log_convert(prof__log_text *text, prof__log_spec *spec, const char *from, const char *at,
                              const prof_event *event, uint32_t *next)
{
    /* The precision of a text is not limited, because the recorder has cut the text already. */
    const int unlimited = spec->code >= PROF__LOG_TEXT;
    int precision = spec->precision;
    if (!prof__log_star(event, next, &spec->width) || !prof__log_star(event, next, &spec->precision)) {
        prof__log_say(text, from, at, "is missing");
        return;
    }
    if (unlimited && precision > PROF__LOG_WIDE) spec->precision = precision;
    if (unlimited && precision == PROF__LOG_STAR && spec->precision == PROF__LOG_WIDE)
        spec->precision = PROF__LOG_OMITTED;
    if (spec->width < 0) {
        spec->width = -spec->width;
        if (!strchr(spec->flags, '-')) {
            spec->flags[strlen(spec->flags) + 1] = 0;
            spec->flags[strlen(spec->flags)] = '-';
        }
    }
    if (spec->precision < 0) spec->precision = PROF__LOG_OMITTED;
    if (!spec->supported) {
        prof__log_say(text, from, at, "is not supported");
        *next += spec->code != PROF__LOG_NONE;
    } else if (spec->conversion == '%') {
        prof__log_put(text, "%", 1);
    } else if (*next >= event->arg_count) {
        prof__log_say(text, from, at, "is missing");
    } else if (!prof__log_fits(spec, event->args[*next].value.type)) {
        prof__log_say(text, from, at, "has a value of another type");
        ++*next;
    } else {
        prof__log_show(text, spec, &event->args[(*next)++].value);
    }
}

/* Formats the arguments of an event. room: PROF__LOG_ROOM bytes for the text. Returns 1 if the text was cut. */
static int prof__log_write_all(const char *at, const prof_event *event, char *room)
{
    prof__log_text text;
    uint32_t next = 0;
    text.to = room;
    text.at = 0;
    text.cut = 0;
    while (*at && !text.cut) {
        size_t plain = strcspn(at, "%");
        const char *from = at + plain;
        prof__log_spec spec;
        prof__log_put(&text, at, plain);
        if (!*from) break;
        at = prof__log_parse(from + 1, &spec);
        if (!at) { /* what follows cannot be interpreted */
            prof__log_put(&text, from, strlen(from));
            break;
        }
        prof__log_convert(&text, &spec, from, at, event, &next);
    }
    text.to[text.at] = 0;
    return text.cut;
}

/* Formats a log message, and makes the text the value of its event. room: PROF__LOG_ROOM bytes for the text. */
static void prof__log_format_event(prof_event *event, char *room)
{
    event->value.cut = prof__log_write_all(event->site->name, event, room);
    event->value.type = PROF_VALUE_STRING;
    event->value.as.string = room;
}

/* Returns the name that a NAME record has. If it is a format, makes the name in room, of PROF__LOG_ROOM bytes. Without
   room the format stands for all names that it makes. */
static const char *prof__log_name(const uint64_t *record, char *room)
{
    const size_t words = 1 + (size_t)(*record & 0xFFFF), count = prof__read_name_values(*record, words);
    const char *format = (const char *)(record + 1), *at = format;
    prof_arg args[31];
    prof_event values;
    if (!count || !room) return format;
    values.args = args;
    values.arg_count = 0;
    while (values.arg_count < count && at && (at = strchr(at, '%')) != NULL) {
        prof__log_spec spec;
        at = prof__log_parse(at + 1, &spec);
        if (!at || spec.code == PROF__LOG_NONE) continue;
        prof_value *value = &args[values.arg_count].value;
        value->type = spec.code <= PROF__LOG_INT64         ? PROF_VALUE_INT
                      : spec.code <= PROF__LOG_UINT64      ? PROF_VALUE_UINT
                      : spec.code <= PROF__LOG_LONG_DOUBLE ? PROF_VALUE_DOUBLE : PROF_VALUE_NONE;
        value->cut = 0;
        value->as.u = prof__little_endian(record[words - count + values.arg_count++]);
    }
    prof__log_write_all(format, &values, room);
    if (PROF_MAX_TEXT < PROF__LOG_ROOM && memchr(room, 0, PROF_MAX_TEXT + 1) == NULL)
        room[prof__utf8_cut(room, PROF_MAX_TEXT)] = 0;
    return room;
}

/* Returns the name of a severity, which is the detail of a LOG event: "debug", "info", and so on. */
static const char *prof__severity_text(uint64_t severity)
{
    static const char *const names[] = {"debug", "info", "warning", "error", "fatal"};
    return severity <= PROF_LOG_FATAL ? names[severity] : "unknown";
}

#endif /* PROF__READ_LOG_H */
