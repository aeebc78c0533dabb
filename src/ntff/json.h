// ntff/json: A pull parser for JSON, whose memory does not grow with the text.
#ifndef PROF__NTFF_JSON_H
#define PROF__NTFF_JSON_H
#include "ground/errors.h"
#include "ground/numbers.h"
#include "ground/utf8.h"
#include "ground/windows.h"

/*-- JSON ---------------------------------------------------------------------------------------------------- >>json --
   A pull parser: the caller asks for one value after another. It reads files through a buffer, so its memory does not
   grow with the file. To parse an element of a long array, the parser first skips all of it, to find its end, and then
   parses it in memory. A number stays a text until the caller asks for an integer, so 64-bit integers are exact. */

#define PROF__JSON_BUFFER ((size_t)65536)
#define PROF__JSON_DEPTH 64               /* how deep brackets may be nested */
#define PROF__JSON_MAX ((size_t)1 << 20) /* how many bytes an element of a file may have */

typedef struct prof__json {
    const char *at, *end;
    const char *begin;  /* the first byte in memory */
    uint64_t passed;    /* how many bytes of the text came before `begin` */
    FILE *file;         /* the file with the rest of the text; NULL: there is no rest */
    char *buffer;       /* holds a part of the file */
    const char *from;   /* while an element is skipped: the first byte that `copy` does not have; else NULL */
    char *copy;
    size_t copied, capacity;
    int over;           /* 1: the element is larger than PROF__JSON_MAX */
    const char *error;  /* what is wrong with the text; NULL: nothing */
    int unread;         /* the errno of a read that failed; 0: none did */
} prof__json;

/* A part of the text, in memory. */
typedef struct prof__slice {
    const char *bytes;
    size_t size;
} prof__slice;

/* A decoded number, literal or string. */
typedef struct prof__json_value {
    char type; /* '"', '0', 't', 'f', 'n', or the bracket of a value that was skipped; 0: an error */
    char text[PROF_MAX_TEXT + 24];
} prof__json_value;

static void prof__json_memory(prof__json *j, const char *bytes, size_t size)
{
    memset(j, 0, sizeof *j);
    j->begin = j->at = bytes;
    j->end = bytes + size;
}

static prof_status prof__json_open(prof__json *j, const char *path)
{
    memset(j, 0, sizeof *j);
    j->file = prof__file_open(path, "rb");
    if (!j->file) return prof__fail(PROF_IO, "cannot open %s: %s", path, strerror(errno));
    j->buffer = (char *)malloc(PROF__JSON_BUFFER);
    j->begin = j->at = j->end = j->buffer;
    if (j->buffer) return PROF_OK;
    fclose(j->file);
    return prof__fail(PROF_NO_MEMORY, "%s: no memory to read it", path);
}

static void prof__json_close(prof__json *j)
{
    if (j->file) fclose(j->file);
    free(j->buffer);
    free(j->copy);
}

static int prof__json_fail(prof__json *j, const char *why)
{
    if (!j->error) j->error = why;
    return 0;
}

static uint64_t prof__json_offset(const prof__json *j) { return j->passed + (uint64_t)(j->at - j->begin); }

static void prof__json_keep(prof__json *j)
{
    size_t size = (size_t)(j->at - j->from), capacity = j->capacity ? j->capacity : 4096;
    char *more;
    if (j->over || size > PROF__JSON_MAX - j->copied) {
        j->over = 1;
        return;
    }
    while (capacity < j->copied + size) capacity *= 2;
    if (capacity > j->capacity) {
        more = (char *)realloc(j->copy, capacity);
        if (!more) {
            j->over = 1;
            return;
        }
        j->copy = more;
        j->capacity = capacity;
    }
    if (size) memcpy(j->copy + j->copied, j->from, size);
    j->copied += size;
}

static int prof__json_refill(prof__json *j)
{
    size_t got;
    if (!j->file || j->error) return 0;
    if (j->from) prof__json_keep(j);
    j->passed += (uint64_t)(j->end - j->begin);
    errno = 0;
    got = fread(j->buffer, 1, PROF__JSON_BUFFER, j->file);
    j->begin = j->at = j->buffer;
    j->end = j->buffer + got;
    if (j->from) j->from = j->buffer;
    if (!got && ferror(j->file)) {
        j->unread = errno ? errno : EIO;
        prof__json_fail(j, "cannot be read");
    }
    return got != 0;
}

/* Sets prof_error() after an error: what is wrong, and where. then: what follows from it, or "". */
static prof_status prof__json_say(const prof__json *j, const char *what, const char *then)
{
    if (j->unread) return prof__fail(PROF_IO, "cannot read %s: %s%s", what, strerror(j->unread), then);
    return prof__fail(PROF_CORRUPT, "%s: %s (byte %llu)%s", what, j->error, (unsigned long long)prof__json_offset(j),
                      then);
}

/* Reads more of the file if no byte is left in memory. Returns 0 at the end of the text. */
static inline int prof__json_fill(prof__json *j) { return j->at < j->end || prof__json_refill(j); }

/* Skips spaces. Returns the next byte, which stays unread. Returns -1 at the end. */
static int prof__json_peek(prof__json *j)
{
    for (; prof__json_fill(j); j->at++)
        if (*j->at != ' ' && *j->at != '\n' && *j->at != '\r' && *j->at != '\t') return (unsigned char)*j->at;
    return -1;
}

static int prof__json_expect(prof__json *j, char c, const char *otherwise)
{
    int next = prof__json_peek(j);
    if (next != c) return prof__json_fail(j, next < 0 ? "ends too early" : otherwise);
    j->at++;
    return 1;
}

/* Skips the string that begins here. */
static int prof__json_pass_string(prof__json *j)
{
    j->at++;
    while (prof__json_fill(j)) {
        const char *at = j->at;
        while (at < j->end && *at != '"' && *at != '\\') at++;
        j->at = at;
        if (at == j->end) continue;
        j->at++;
        if (*at == '"') return 1;
        if (!prof__json_fill(j)) break;
        j->at++;
    }
    return prof__json_fail(j, "ends inside a string");
}

static int prof__json_plain(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '+' ||
           c == '.';
}

/* Skips a value. Only checks that brackets match; the rest is checked when the value is parsed. */
static int prof__json_pass(prof__json *j)
{
    char close[PROF__JSON_DEPTH];
    unsigned depth = 0;
    do {
        int c = prof__json_peek(j);
        if (c < 0) return prof__json_fail(j, "ends too early");
        if (c == '"') {
            if (!prof__json_pass_string(j)) return 0;
        } else if (c == '{' || c == '[') {
            if (depth == PROF__JSON_DEPTH) return prof__json_fail(j, "is nested too deeply");
            close[depth++] = c == '{' ? '}' : ']';
            j->at++;
        } else if (depth && c == close[depth - 1]) {
            depth--;
            j->at++;
        } else if (depth && (c == ',' || c == ':')) {
            j->at++;
        } else if (prof__json_plain((char)c)) {
            while (prof__json_fill(j) && prof__json_plain(*j->at)) j->at++;
        } else {
            return prof__json_fail(j, "is not JSON");
        }
    } while (depth);
    return 1;
}

/* Skips a value, and sets `slice` to its bytes, which stay valid until the next call. Returns 0 after an error. */
static int prof__json_slice(prof__json *j, prof__slice *slice)
{
    const char *begin;
    int good;
    if (prof__json_peek(j) < 0) return prof__json_fail(j, "ends too early");
    begin = j->at;
    if (!j->file) {
        good = prof__json_pass(j);
        slice->bytes = begin;
        slice->size = (size_t)(j->at - begin);
        return good;
    }
    j->copied = 0;
    j->over = 0;
    j->from = begin;
    good = prof__json_pass(j);
    if (good && !j->copied && !j->over) { /* all of it is still in the buffer */
        slice->bytes = j->from;
        slice->size = (size_t)(j->at - j->from);
    } else if (good) {
        prof__json_keep(j);
        slice->bytes = j->copy;
        slice->size = j->over ? 0 : j->copied;
    }
    j->from = NULL;
    return good;
}

/* Returns 1 if another element comes before the closing bracket. The caller sets *first to 1 before the first call. */
static int prof__json_more(prof__json *j, char close, int *first)
{
    int c = prof__json_peek(j), begins = *first;
    *first = 0;
    if (c == close) {
        j->at++;
        return 0;
    }
    if (!begins && !prof__json_expect(j, ',', "lacks a comma")) return 0;
    if (begins && c < 0) return prof__json_fail(j, "ends too early");
    return 1;
}

static int prof__json_hex(prof__json *j, unsigned *code)
{
    int i;
    *code = 0;
    for (i = 0; i < 4; i++) {
        unsigned char c;
        if (!prof__json_fill(j)) return prof__json_fail(j, "ends inside a string");
        c = (unsigned char)*j->at++;
        if (c >= '0' && c <= '9')
            *code = *code * 16 + (c - '0');
        else if ((c | 32) >= 'a' && (c | 32) <= 'f')
            *code = *code * 16 + ((c | 32u) - 'a' + 10);
        else
            return prof__json_fail(j, "has an invalid \\u in a string");
    }
    return 1;
}

/* Appends a character. If the space is too small for the whole character, appends nothing, then or later. */
static void prof__json_put(char *to, size_t size, size_t *used, unsigned code)
{
    char bytes[4];
    size_t count = prof__utf8_write(bytes, code);
    if (*used + count >= size) {
        to[*used] = 0;
        *used = size;
        return;
    }
    memcpy(to + *used, bytes, count);
    *used += count;
}

/* Reads the escape after a backslash. Zeros, and halves of surrogate pairs without the other half, become U+FFFD. */
static int prof__json_escape(prof__json *j, unsigned *code)
{
    static const char escapes[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    const char *found;
    unsigned low = 0;
    char c;
    if (!prof__json_fill(j)) return prof__json_fail(j, "ends inside a string");
    c = *j->at++;
    found = c ? strchr(escapes, c) : NULL;
    if (found) {
        *code = (unsigned char)meant[found - escapes];
        return 1;
    }
    if (c != 'u') return prof__json_fail(j, "has an unknown escape in a string");
    if (!prof__json_hex(j, code)) return 0;
    if (*code >= 0xD800 && *code < 0xDC00 && prof__json_fill(j) && *j->at == '\\') {
        j->at++;
        if (!prof__json_fill(j) || *j->at++ != 'u') return prof__json_fail(j, "has half a surrogate pair in a string");
        if (!prof__json_hex(j, &low)) return 0;
        *code = low >= 0xDC00 && low < 0xE000 ? 0x10000 + ((*code & 0x3FF) << 10) + (low & 0x3FF) : 0xFFFD;
    }
    if (!*code || (*code >= 0xD800 && *code < 0xE000)) *code = 0xFFFD;
    return 1;
}

/* Reads and decodes the string that begins here. Cuts it to `size` bytes, and terminates it. */
static int prof__json_string(prof__json *j, char *to, size_t size)
{
    size_t used = 0;
    unsigned code;
    to[0] = 0;
    if (!prof__json_expect(j, '"', "has no string where one should be")) return 0;
    while (prof__json_fill(j)) {
        const char *at = j->at;
        size_t run;
        char c;
        while (at < j->end && *at != '"' && *at != '\\' && *at) at++;
        run = (size_t)(at - j->at);
        if (used < size && run > size - 1 - used) run = size - 1 - used;
        if (run) { /* copies a run at once: byte by byte, each search for its end would be as long as the run */
            if (used < size) {
                memcpy(to + used, j->at, run);
                used += run;
            }
            j->at += run;
            continue;
        }
        c = *j->at++;
        if (c == '"') {
            if (used < size) to[used] = 0;
            return 1;
        }
        if (c == '\\') {
            if (!prof__json_escape(j, &code)) return 0;
            if (used < size) prof__json_put(to, size, &used, code);
        } else if (used + 1 < size) {
            to[used++] = c ? c : '?';
        } else if (used < size) { /* cuts the text, but not inside a character */
            while (used && prof__utf8_inner(c)) c = to[--used];
            to[used] = 0;
            used = size;
        }
    }
    return prof__json_fail(j, "ends inside a string");
}

static int prof__json_key(prof__json *j, char *key, size_t size)
{
    return prof__json_string(j, key, size) && prof__json_expect(j, ':', "has no colon after a key");
}

/* Reads a value. Copies the text of a number, literal or string; skips arrays and objects. */
static int prof__json_take(prof__json *j, prof__json_value *value)
{
    int c = prof__json_peek(j);
    size_t used = 0;
    value->type = 0;
    value->text[0] = 0;
    if (c == '{' || c == '[') {
        value->type = (char)c;
        return prof__json_pass(j);
    }
    if (c == '"') {
        value->type = '"';
        return prof__json_string(j, value->text, sizeof value->text);
    }
    while (prof__json_fill(j) && prof__json_plain(*j->at)) {
        if (used + 1 < sizeof value->text) value->text[used++] = *j->at;
        j->at++;
    }
    value->text[used] = 0;
    if (!used) return prof__json_fail(j, c < 0 ? "ends too early" : "is not JSON");
    value->type = c == 't' || c == 'f' || c == 'n' ? (char)c : '0';
    return 1;
}

/* Reads an integer in any of these notations: 12, "12", 12.0, 1.2e1. Drops decimals. Returns 0 if the text is no
   number, or has more than 64 bits. */
static int prof__json_whole(const char *text, int *negative, uint64_t *number)
{
    uint64_t value = 0;
    int point = 0, full = 0, digits = 0, down = 0;
    long shift = 0, exponent = 0;
    *negative = *text == '-';
    text += *negative;
    for (; (*text >= '0' && *text <= '9') || (*text == '.' && !point); text++) {
        uint64_t digit = (uint64_t)(*text - '0');
        if (*text == '.') {
            point = 1;
            continue;
        }
        digits++;
        if (full || value > (~(uint64_t)0 - digit) / 10) {
            if (!point) return 0;
            full = 1;
            continue;
        }
        value = value * 10 + digit;
        shift -= point;
    }
    if (!digits) return 0;
    if (*text == 'e' || *text == 'E') {
        down = *++text == '-';
        if (*text == '-' || *text == '+') text++;
        if (!*text) return 0;
        for (; *text >= '0' && *text <= '9'; text++)
            exponent = exponent < 10000 ? exponent * 10 + (*text - '0') : exponent;
        shift += down ? -exponent : exponent;
    }
    if (*text) return 0;
    for (; shift > 0 && value; shift--) {
        if (value > ~(uint64_t)0 / 10) return 0;
        value *= 10;
    }
    for (; shift < 0 && value; shift++) value /= 10;
    *number = value;
    return 1;
}

static int prof__json_unsigned(const prof__json_value *value, uint64_t *number)
{
    uint64_t whole;
    int negative;
    if ((value->type != '0' && value->type != '"') || !prof__json_whole(value->text, &negative, &whole)) return 0;
    if (negative && whole) return 0;
    *number = whole;
    return 1;
}

static int prof__json_signed(const prof__json_value *value, int64_t *number)
{
    uint64_t whole;
    int negative;
    if ((value->type != '0' && value->type != '"') || !prof__json_whole(value->text, &negative, &whole)) return 0;
    if (whole > (uint64_t)INT64_MAX + (uint64_t)negative) return 0;
    *number = negative ? (int64_t)(0 - whole) : (int64_t)whole;
    return 1;
}

/* Reads a floating-point number. Works alike in every locale. Numbers of up to 15 digits and 22 decimals are exact.
   Returns 0 if the value is no number. */
static int prof__json_double(const prof__json_value *value, double *number)
{
    const char *text = value->text;
    int negative = *text == '-', point = 0, digits = 0, down = 0;
    double mantissa = 0, scale = 1;
    long shift = 0, exponent = 0;
    if (value->type != '0' && value->type != '"') return 0;
    for (text += negative; (*text >= '0' && *text <= '9') || (*text == '.' && !point); text++) {
        if (*text == '.') {
            point = 1;
        } else {
            digits++;
            if (mantissa < 9e14) {
                mantissa = mantissa * 10 + (*text - '0');
                shift -= point;
            } else {
                shift += !point;
            }
        }
    }
    if (!digits) return 0;
    if (*text == 'e' || *text == 'E') {
        down = *++text == '-';
        if (*text == '-' || *text == '+') text++;
        if (!*text) return 0;
        for (; *text >= '0' && *text <= '9'; text++)
            exponent = exponent < 10000 ? exponent * 10 + (*text - '0') : exponent;
        shift += down ? -exponent : exponent;
    }
    if (*text) return 0;
    down = shift < 0;
    if (down) shift = -shift;
    if (shift > 700) shift = 700;
    for (; shift && mantissa > 0; shift--) {
        if (scale > 1e21) {
            mantissa = down ? mantissa / scale : mantissa * scale;
            scale = 1;
        }
        scale *= 10;
    }
    mantissa = down ? mantissa / scale : mantissa * scale;
    if (!prof__finite(mantissa)) return 0;
    *number = negative ? -mantissa : mantissa;
    return 1;
}

#endif /* PROF__NTFF_JSON_H */
