// session/crash_name: Writes the run-time names of a crash report, among them those that are formats.
// Async-signal-safe.
#ifndef PROF__SESSION_CRASH_NAME_H
#define PROF__SESSION_CRASH_NAME_H
#include "api/markup.h"
#include "ground/digits.h"
#include "image/format.h"
#include "image/words.h"
#include "session/crash.h"

/* Appends a double to a text, with three digits that are cut, not rounded. Returns the new end. Computes with integers,
   because the program may have made floating-point exceptions signals. Returns `to` if the number has no such form. */
static char *prof__crash_double(char *to, uint64_t bits)
{
    int power = (int)(bits >> 52 & 0x7FF) - 1023;
    uint64_t one = 1ull << 52, digits = (bits & (one - 1)) | one, whole, part;
    if (power > 62) return to;
    whole = power >= 52 ? digits << (power - 52) : power >= 0 ? digits >> (52 - power) : 0;
    part = power >= 52 || power < -20 ? 0 : power >= 0 ? digits << power & (one - 1) : digits >> -power;
    if (bits >> 63) *to++ = '-';
    to += prof__digits(to, whole);
    to += prof__digits(to, 1000 + (part * 1000 >> 52)); /* below 2^62 */
    to[-4] = '.';
    return to;
}

/* Appends a value in a short form of its conversion. Returns the new end, or `to` if it has none. */
static char *prof__crash_value(char *to, char letter, uint64_t value)
{
    static const char conversions[] = "diuoxX";
    if (!strchr(conversions, letter)) return prof__crash_double(to, value);
    if ((letter | 32) == 'x') {
        *to++ = '0';
        *to++ = 'x';
        return to + prof__hex_digits(to, value, 'a');
    }
    if ((letter == 'd' || letter == 'i') && value >> 63) {
        *to++ = '-';
        value = 0 - value;
    }
    return to + prof__digits(to, value);
}

/* Writes a run-time name. head: that of the record. If the name is a format, the values have a short form, not that of
   their conversions: printf() is not async-signal-safe. */
static void prof__crash_put_run_time_name(prof__crash_work *w, const uint64_t *name, uint64_t head)
{
    size_t words = (size_t)(head & 0xFFFF), count = (size_t)(head >> PROF__NAME_SHIFT) & 31;
    char text[PROF__CRASH_NAME + 64], *to = text;
    if (!count || count >= words) {
        prof__crash_put_name(w, (const char *)(name + 1), words * 8);
        return;
    }
    const char *from = (const char *)(name + 1), *end = from + (words - count) * 8;
    const uint64_t *value = (const uint64_t *)(const void *)end;
    while (from < end && *from && to < text + PROF__CRASH_NAME) {
        const char *at = from + 1; /* behind the flags, width and precision */
        char *made = to;
        if (*from != '%') {
            *to++ = *from++;
            continue;
        }
        while (at < end && *at && *at != '%' && (unsigned)(*at | 32) - 'a' > 25) ++at;
        if (at == end || !*at) break;
        if (*at == '%')
            *made++ = '%';
        else if (count-- > 0)
            made = prof__crash_value(to, *at, prof__little_endian(PROF__LOAD(value++)));
        if (made == to)
            while (from <= at && made < text + PROF__CRASH_NAME) *made++ = *from++;
        to = made;
        from = at + 1;
    }
    *to = 0;
    prof__crash_put_name(w, text, sizeof text);
}

#endif /* PROF__SESSION_CRASH_NAME_H */
