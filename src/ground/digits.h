// ground/digits: Numbers as text: whole, with a point, grouped, with a unit.
#ifndef PROF__GROUND_DIGITS_H
#define PROF__GROUND_DIGITS_H
#include "ground/numbers.h"

#ifndef PROF_FREESTANDING
/* Writes value in decimal to `to`: at most 20 digits, not terminated. Returns how many digits. */
static size_t prof__digits(char *to, uint64_t value)
{
#ifdef PROF_MINIMAL /* small instead of fast */
    size_t size = value >= 10 ? prof__digits(to, value / 10) : 0; /* recurses at most 19 times */
    to[size] = (char)('0' + value % 10);
    return size + 1;
#else
    static const char pairs[] = "00010203040506070809101112131415161718192021222324252627282930313233343536373839"
                                "40414243444546474849505152535455565758596061626364656667686970717273747576777879"
                                "8081828384858687888990919293949596979899";
    uint64_t upper = value / 10000;
    size_t size = upper ? prof__digits(to, upper) : 0; /* recurses at most four times */
    uint32_t left = (uint32_t)(value - upper * 10000), two = left / 100;
    if (upper || left >= 1000) {
        memcpy(to + size, pairs + two * 2, 2);
        size += 2;
    } else if (left >= 100) {
        to[size++] = (char)('0' + two);
    } else if (left < 10) {
        *to = (char)('0' + left);
        return 1;
    }
    memcpy(to + size, pairs + (left - two * 100) * 2, 2);
    return size + 2;
#endif
}

/* Writes value in hexadecimal to `to`: at most 16 digits, not terminated. ten: 'a' or 'A'. Returns how many digits. */
static size_t prof__hex_digits(char *to, uint64_t value, char ten)
{
    size_t size = 0;
    int shift = (63 - __builtin_clzll(value | 1)) & ~3;
    for (; shift >= 0; shift -= 4) {
        char digit = (char)(value >> shift & 15);
        to[size++] = (char)(digit < 10 ? '0' + digit : ten + digit - 10);
    }
    return size;
}

/* Writes a number in decimal, terminated. Async-signal-safe. */
static void prof__number_text(char to[24], uint64_t number)
{
    to[prof__digits(to, number)] = 0;
}

/* Writes value to `to` (32 bytes, terminated) with the fewest significant digits, between least and max, that read back
   as the same number. Returns the length. The decimal separator is a point in every locale. Infinity and NaN are
   written "inf", "-inf", "nan". */
static size_t prof__double_digits(char *to, double value, int least, int max)
{
    char text[48];
    size_t from, at = 0;
    int digits = least;
    if (!prof__finite(value)) {
        strcpy(to, prof__not_finite(value));
        return strlen(to);
    }
    for (;;) {
        double back;
        snprintf(text, sizeof text, "%.*g", digits, value);
        back = strtod(text, NULL);
        if (digits++ >= max || prof__number_bits(back) == prof__number_bits(value)) break;
    }
    for (from = 0; text[from] && at < 31; from++) {
        if ((text[from] >= '0' && text[from] <= '9') || text[from] == '-' || text[from] == '+' || text[from] == 'e')
            to[at++] = text[from];
        else if (at && to[at - 1] != '.') /* a locale's separator may have more than one byte */
            to[at++] = '.';
    }
    to[at] = 0;
    return at;
}

/* Writes value (32 bytes, terminated) so that it reads back as the same double. Returns the length. */
static size_t prof__double_text(char *to, double value)
{
    return prof__double_digits(to, value, 15, 17);
}

/* Writes 1234567 as 1,234,567 to `to` (32 bytes). */
static void prof__grouped(char *to, uint64_t value)
{
    char digits[20];
    size_t length = prof__digits(digits, value), i, at = 0;
    for (i = 0; i < length; i++) {
        if (i && (length - i) % 3 == 0) to[at++] = ',';
        to[at++] = digits[i];
    }
    to[at] = 0;
}

/* Writes a whole number with a decimal point before its last `decimals` digits to `to` (32 bytes, terminated): 1234
   with 3 is "1.234". Returns the length. */
static size_t prof__decimals(char *to, uint64_t value, unsigned decimals)
{
    char digits[24];
    size_t length = prof__digits(digits, value), at = 0, i;
    if (length <= decimals) {
        to[at++] = '0';
    } else {
        memcpy(to, digits, length - decimals);
        at = length - decimals;
    }
    if (decimals) to[at++] = '.';
    for (i = length; i < decimals; i++) to[at++] = '0';
    i = length > decimals ? length - decimals : 0;
    memcpy(to + at, digits + i, length - i);
    at += length - i;
    to[at] = 0;
    return at;
}

/* Writes value (>= 0) with `decimals` digits (0 to 3) after the point to `to` (32 bytes, terminated). Returns the
   length. */
static size_t prof__fixed(char *to, double value, unsigned decimals)
{
    static const unsigned scales[] = {1, 10, 100, 1000};
    uint64_t scaled = value < 1e15 ? (uint64_t)(value * scales[decimals] + 0.5) : (uint64_t)1000000000000000000;
    return prof__decimals(to, scaled, decimals);
}

/* Writes a value of 0 or more to `to`, in six significant digits, as 1.5e+20, or 1e-5. */
static void prof__with_exponent(char *to, double value)
{
    char text[32];
    size_t point = 1, end, exponent = 0;
    snprintf(text, sizeof text, "%.5e", value);
    while (text[point] < '0' || text[point] > '9') point++; /* a locale's separator may have more than one byte */
    while (text[exponent] != 'e') exponent++;
    for (end = exponent; end > point && text[end - 1] == '0';) end--;
    *to++ = *text;
    if (end > point) *to++ = '.';
    memcpy(to, text + point, end - point);
    to += end - point;
    *to++ = 'e';
    *to++ = text[++exponent];
    while (text[++exponent] == '0') {}
    strcpy(to, text + exponent);
}

/* Writes value to `to` (48 bytes, terminated) with four digits and a unit. units: names of units, each 1000 of the one
   before, then NULL. Chooses the largest unit that leaves the value above 1. A whole number below 1000 of the first
   unit has no decimals. The page's human() in src/html/text.js does the same; tests/html compares them. */
static void prof__human(char *to, double value, const char *const *units)
{
    int scaled = 0;
    if (!prof__finite(value)) {
        to += strlen(strcpy(to, prof__not_finite(value)));
    } else {
        if (value < 0) {
            *to++ = '-';
            value = -value;
        }
        for (; value >= 999.95 && units[1]; units++, scaled = 1) value /= 1000;
        if (value >= 1e15) {
            prof__with_exponent(to, value);
            to += strlen(to);
        } else if (value >= 999.95 || (!scaled && !((double)(uint64_t)value < value))) {
            prof__grouped(to, (uint64_t)(value + 0.5));
            to += strlen(to);
        } else {
            to += prof__fixed(to, value, value < 9.9995 ? 3 : value < 99.995 ? 2 : 1);
        }
    }
    *to++ = ' ';
    strcpy(to, *units);
}

static void prof__human_ns(char *to, double ns)
{
    static const char *const units[] = {"ns", "us", "ms", "s", NULL};
    prof__human(to, ns, units);
}

static void prof__human_hz(char *to, double hz)
{
    static const char *const units[] = {"Hz", "kHz", "MHz", "GHz", NULL};
    prof__human(to, hz, units);
}

/* Writes the value of a counter to `to` (32 bytes, terminated): whole numbers up to 2^53 exactly, with their digits in
   groups; others with six significant digits, or all those before the point; infinities and NaNs as inf, -inf, nan. The
   page's shown() in src/html/text.js does the same. Returns the length. */
static size_t prof__counter_text(char *to, double value)
{
    const double max = 9007199254740992.0;
    char *at = to;
    double unit;
    uint64_t scale = 1, scaled;
    if (!prof__finite(value)) return strlen(strcpy(to, prof__not_finite(value)));
    if (value < 0) {
        *at++ = '-';
        value = -value;
    }
    if (value > max || (value > 0 && value < 1e-4)) {
        prof__with_exponent(at, value);
        return strlen(to);
    }
    scaled = (uint64_t)value;
    if ((double)scaled < value) {
        for (unit = 1e5; value < unit; unit /= 10) scale *= 10;
        scaled = (uint64_t)(value * (double)scale + 0.5);
    }
    prof__grouped(at, scaled / scale);
    at += strlen(at);
    for (scaled %= scale; scaled && scaled % 10 == 0; scaled /= 10) scale /= 10;
    if (scaled) { /* the 1 before the decimals becomes the point */
        prof__number_text(at, scaled + scale);
        *at = '.';
    }
    return strlen(to);
}
#endif

#endif /* PROF__GROUND_DIGITS_H */
