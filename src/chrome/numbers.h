// chrome/numbers: Writes times, and durations with which viewers, which compute with doubles, find the same ends as the
// trace has.
#ifndef PROF__CHROME_NUMBERS_H
#define PROF__CHROME_NUMBERS_H
#include "api/options.h"
#include "ground/digits.h"
#include "ground/numbers.h"
#include "ground/out.h"
#include "chrome/state.h"

/*-- numbers --*/

static int64_t prof__chrome_time(int64_t ns)
{
    return ns < 0 ? 0 : ns;
}

#define PROF__CHROME_TEN(ab) \
    "." ab "0." ab "1." ab "2." ab "3." ab "4." ab "5." ab "6." ab "7." ab "8." ab "9"
#define PROF__CHROME_HUNDRED(a) \
    PROF__CHROME_TEN(a "0") PROF__CHROME_TEN(a "1") PROF__CHROME_TEN(a "2") PROF__CHROME_TEN(a "3") \
    PROF__CHROME_TEN(a "4") PROF__CHROME_TEN(a "5") PROF__CHROME_TEN(a "6") PROF__CHROME_TEN(a "7") \
    PROF__CHROME_TEN(a "8") PROF__CHROME_TEN(a "9")
static const char prof__chrome_thousand[] = /* .000.001.002 ...: decimals of 0 to 999 nanoseconds */
    PROF__CHROME_HUNDRED("0") PROF__CHROME_HUNDRED("1") PROF__CHROME_HUNDRED("2") PROF__CHROME_HUNDRED("3")
    PROF__CHROME_HUNDRED("4") PROF__CHROME_HUNDRED("5") PROF__CHROME_HUNDRED("6") PROF__CHROME_HUNDRED("7")
    PROF__CHROME_HUNDRED("8") PROF__CHROME_HUNDRED("9") ".";

/* Writes a number of nanoseconds, not negative, as microseconds: 20 bytes at most. Returns the end of the text, as all
   functions here do that write to `to`. */
static char *prof__chrome_microseconds(char *to, int64_t ns)
{
    uint32_t rest;
    if (PROF__LIKELY(ns < 1000000)) {
        uint32_t left = (uint32_t)ns, whole = left / 1000;
        size_t size = 1 + (size_t)(left >= 10000) + (size_t)(left >= 100000);
        memcpy(to, prof__chrome_thousand + whole * 4 + 4 - size, 4);
        to += size;
        rest = left - whole * 1000;
    } else {
        to += prof__digits(to, (uint64_t)ns / 1000);
        rest = (uint32_t)((uint64_t)ns % 1000);
    }
    memcpy(to, prof__chrome_thousand + rest * 4, 4);
    return to + 4;
}

/* Writes the time of an event as prof__chrome_microseconds() does. Fast if it is in the millisecond of the previous
   time. `to` must have space for 32 bytes. */
static inline char *prof__chrome_stamp(prof__chrome *c, char *to, int64_t ns)
{
    uint64_t upper = (uint64_t)ns / 1000000;
    uint32_t left = (uint32_t)((uint64_t)ns - upper * 1000000), whole = left / 1000;
    if (PROF__UNLIKELY(upper + 1 != c->stamp)) {
        if (!upper) return prof__chrome_microseconds(to, ns);
        c->stamp_size = prof__digits(c->stamp_text, upper);
        c->stamp = upper + 1;
    }
    memcpy(to, c->stamp_text, sizeof c->stamp_text);
    to += c->stamp_size;
    memcpy(to, prof__chrome_thousand + whole * 4 + 1, 4);
    memcpy(to + 3, prof__chrome_thousand + (left - whole * 1000) * 4, 4);
    return to + 7;
}

static void prof__chrome_ns(prof__out *out, int64_t ns)
{
    char *to = prof__out_reserve(out, 24);
    prof__out_commit(out, (size_t)(prof__chrome_microseconds(to, ns) - to));
}

/* Returns the value rounded to a double, which is how viewers read it. This must hold even if the processor computes
   with more precision, or the compiler may rearrange sums. */
static double prof__chrome_double(double value)
{
#if defined(__FLT_EVAL_METHOD__) && __FLT_EVAL_METHOD__ == 0 && !defined(__FAST_MATH__) && !defined(_M_FP_FAST)
    return value;
#else
    volatile double rounded = value;
    return rounded;
#endif
}

/* The numbers of a scope that viewers add up. DevTools counts from the start of the trace, speedscope from the first
   scope of the track. */
typedef struct prof__chrome_sum {
    double start, end, duration; /* microseconds, as a viewer reads them from the file */
    double start2, end2;         /* microseconds from the first scope on */
} prof__chrome_sum;

/* Returns 1 if start + duration equals the end in speedscope, which computes with doubles. both: 1: in DevTools,
   too. */
static int prof__chrome_adds_up(const prof__chrome_sum *sum, double duration, int both)
{
    double a = prof__chrome_double(sum->start + duration) - sum->end;
    double b = prof__chrome_double(sum->start2 + duration) - sum->end2;
    return !(b < 0 || b > 0) && !(both && (a < 0 || a > 0));
}

/* Returns 1 if prof__chrome_adds_up() holds for a duration, and for the next smaller and larger double as well. */
static int prof__chrome_surely_adds_up(const prof__chrome_sum *sum, double duration, int both)
{
    double unit = duration / 4503599627370496.0;
    return prof__chrome_adds_up(sum, prof__chrome_double(duration - unit), both) &&
           prof__chrome_adds_up(sum, prof__chrome_double(duration + unit), both);
}

/* Writes ns nanoseconds plus `steps` steps, of which `one` make a nanosecond. `one` is 10^digits. */
static char *prof__chrome_long_duration(char *to, int64_t ns, int64_t steps, int digits, int64_t one)
{
    char text[20];
    size_t length = prof__digits(text, (uint64_t)(steps < 0 ? one + steps : steps));
    int i;
    to = prof__chrome_microseconds(to, ns - (steps < 0));
    for (i = (int)length; i < digits; i++) *to++ = '0';
    memcpy(to, text, length);
    return to + length;
}

/* Writes a number as prof__double_text() does, with 15 to 17 digits. From 0.0001 to a million, does so faster, with
   integers, which are exact in this range. */
static char *prof__chrome_exact_number(char *to, double value)
{
#ifdef __SIZEOF_INT128__
    __extension__ typedef unsigned __int128 wide;
    const uint64_t one = (uint64_t)1 << 52;
    uint64_t bits, fives = 1, step, number, away;
    size_t decimals = 11, digits;
    double least = 1e5;
    char text[20];
    wide scaled;
    int shift;
    memcpy(&bits, &value, sizeof bits);
    if (!(value >= 1e-4 && value < 1e6) || !(bits & (one - 1))) return to + prof__double_text(to, value);
    for (; value < least; least /= 10) decimals++;
    for (digits = 0; digits < decimals; digits++) fives *= 5;
    scaled = (wide)((bits & (one - 1)) | one) * fives; /* 2^shift * the value without its point, 17 digits */
    shift = 1075 - (int)(bits >> 52) - (int)decimals;
    for (step = 100;; step /= 10) {
        uint64_t rest;
        number = (uint64_t)(scaled >> shift) / step;
        rest = (uint64_t)(scaled - ((wide)(number * step) << shift)); /* what is cut off: below step * 2^shift */
        away = (step << shift) - rest;
        if (rest > away || (rest == away && number & 1))
            number++;
        else
            away = rest;
        if (step == 1 || 2 * away < fives) break; /* the text is nearer to the value than half a unit of its last bit */
    }
    for (; step > 1; step /= 10) decimals--;
    for (; decimals && number % 10 == 0; number /= 10) decimals--;
    digits = prof__digits(text, number);
    if (digits <= decimals) {
        memcpy(to, "0.000000", 8);
        to += 2 + decimals - digits;
        memcpy(to, text, sizeof text);
        return to + digits;
    }
    memcpy(to, text, digits - decimals);
    to += digits - decimals;
    if (!decimals) return to;
    *to = '.';
    memcpy(to + 1, text + digits - decimals, decimals);
    return to + 1 + decimals;
#else
    return to + prof__double_text(to, value);
#endif
}

/* Writes the duration with more than three decimals, as few as make the viewers' sums right. Returns NULL if none
   do. */
static char *prof__chrome_odd_duration(char *to, const prof__chrome_sum *sum, int64_t ns, int both)
{
    double wanted = sum->end2 - sum->start2; /* for speedscope; for both viewers, the mean of the durations they want */
    double missing, reach = sum->end / 1125899906842624.0, power = 1e3;
    int64_t one = 1000;
    int digits;
    if (both) {
        double middle = prof__chrome_double((wanted + (sum->end - sum->start)) / 2);
        reach += middle < wanted ? wanted - middle : middle - wanted;
        wanted = middle;
    }
    missing = (wanted - sum->duration) * 1e3;
    if (!(missing > -0.4 && missing < 0.4)) return NULL; /* from 2^43 us on, doubles cannot tell nanoseconds */
    reach *= 1e3; /* in ns: a duration farther off cannot give the right sum */
    for (digits = 3; digits <= 12; digits++, one *= 10, power *= 10) {
        double units = missing * power, off;
        int64_t steps;
        if (units > -0.5 && units < 0.5) continue;
        steps = (int64_t)(units < 0 ? units - 0.5 : units + 0.5);
        off = units - (double)steps;
        if (off > reach * power || off < -reach * power) continue;
        if (!prof__chrome_surely_adds_up(sum, sum->duration + (double)steps / (1e3 * power), both)) continue;
        return prof__chrome_long_duration(to, ns, steps, digits, one);
    }
    if (!prof__chrome_adds_up(sum, wanted, both)) return NULL; /* none exists: only in the first milliseconds */
    if (wanted < sum->duration || wanted > sum->duration) return prof__chrome_exact_number(to, wanted);
    return prof__chrome_microseconds(to, ns);
}

/* Writes a duration that makes the sums right. zero: when the first scope begins, in microseconds. */
static char *prof__chrome_exact_duration(char *to, int64_t start, int64_t duration, double zero)
{
    prof__chrome_sum sum;
    char *end = NULL;
    sum.start = (double)start / 1e3;
    sum.end = (double)(start + duration) / 1e3;
    sum.duration = (double)duration / 1e3;
    sum.start2 = prof__chrome_double(sum.start - zero);
    sum.end2 = prof__chrome_double(sum.end - zero);
    if (PROF__UNLIKELY(!prof__chrome_adds_up(&sum, sum.duration, 1))) {
        end = prof__chrome_odd_duration(to, &sum, duration, 1);
        if (!end) end = prof__chrome_odd_duration(to, &sum, duration, 0);
    }
    return end ? end : prof__chrome_microseconds(to, duration);
}

static void prof__chrome_number(prof__out *out, double value)
{
    if (prof__finite(value) && value > -1e15 && value < 1e15 &&
        !(value < (double)(int64_t)value) && !(value > (double)(int64_t)value))
        prof__out_signed(out, (int64_t)value);
    else
        prof__out_double(out, value);
}

#endif /* PROF__CHROME_NUMBERS_H */
