// ground/numbers: What a floating-point number is, by its bits; and the environment that the host computes in.
#ifndef PROF__GROUND_NUMBERS_H
#define PROF__GROUND_NUMBERS_H
#include "ground/base.h"

/*-- NUMBERS ---------------------------------------------------------------------------------------------- >>numbers --
   -ffast-math takes away comparisons that only numbers that are not finite would fail, and a host may have unmasked
   floating-point exceptions (feenableexcept), so that such a comparison or a rounded result ends it. So numbers of the
   host are classified as integers, and functions that compute with them do so in the default environment. */

#ifndef PROF_FREESTANDING
/* Returns the bits of a number. Volatile: a compiler may conclude from the type of `value` that it is finite. */
static uint64_t prof__number_bits(double value)
{
    volatile double kept = value;
    double read = kept;
    uint64_t bits;
    memcpy(&bits, &read, sizeof bits);
    return bits;
}

#define PROF__INFINITE_BITS ((uint64_t)0x7FF << 52)

/* Returns 1 if a number is neither infinite nor a NaN. */
static int prof__finite(double value)
{
    return (prof__number_bits(value) & PROF__INFINITE_BITS) != PROF__INFINITE_BITS;
}

/* Returns the name of a number that is not finite. */
static const char *prof__not_finite(double value)
{
    uint64_t bits = prof__number_bits(value);
    if (bits << 1 != PROF__INFINITE_BITS << 1) return "nan";
    return bits >> 63 ? "-inf" : "inf";
}

static int prof__is_nan(uint64_t bits) { return bits << 1 > PROF__INFINITE_BITS << 1; }

static int prof__nan(double value) { return prof__is_nan(prof__number_bits(value)); }

/* Returns 1 if a is less than b, or b is a NaN and a is not. */
static int prof__less(double a, double b)
{
    uint64_t x = prof__number_bits(a), y = prof__number_bits(b);
    if (prof__is_nan(x) || prof__is_nan(y)) return !prof__is_nan(x);
    if (!(x << 1 | y << 1)) return 0; /* 0 and -0 */
    if (x >> 63 != y >> 63) return (int)(x >> 63);
    return x >> 63 ? x > y : x < y;
}

/* Returns 1 if a is greater than b, or b is a NaN and a is not. */
static int prof__greater(double a, double b)
{
    uint64_t x = prof__number_bits(a), y = prof__number_bits(b);
    return prof__is_nan(x) || prof__is_nan(y) ? !prof__is_nan(x) : prof__less(b, a);
}
#endif

/* PROF__CALM() at the start of a function: until it returns, the thread computes in the default environment: nothing
   traps, results are rounded to the nearest, denormal numbers are not 0. Then the host has its own environment again,
   flags included. fenv.h would do the same, but needs libm. */
#if defined(__GNUC__) && !defined(PROF_FREESTANDING) && !defined(PROF_MINIMAL) && \
    (defined(__x86_64__) || defined(__i386__) || defined(__aarch64__))
typedef struct prof__fpu {
#ifdef __aarch64__
    uint64_t control, status;
#else
    uint32_t x87[7], sse;
#endif
} prof__fpu;

static prof__fpu prof__calm_enter(void)
{
    prof__fpu before;
#ifdef __aarch64__
    __asm__ volatile("mrs %0, fpcr\n\tmrs %1, fpsr\n\tmsr fpcr, xzr"
                     : "=r"(before.control), "=r"(before.status)::"memory");
#else
    before.sse = 0;
#if defined(__SSE__)
    const uint32_t calm = 0x1F80;
    __asm__ volatile("stmxcsr %0\n\tldmxcsr %1" : "=m"(before.sse) : "m"(calm) : "memory");
#endif
    __asm__ volatile("fnstenv %0\n\tfninit" : "=m"(before.x87)::"memory");
#endif
    return before;
}

static void prof__calm_leave(const prof__fpu *before)
{
#ifdef __aarch64__
    __asm__ volatile("msr fpcr, %0\n\tmsr fpsr, %1" ::"r"(before->control), "r"(before->status) : "memory");
#else
#if defined(__SSE__)
    __asm__ volatile("ldmxcsr %0" ::"m"(before->sse) : "memory");
#endif
    __asm__ volatile("fldenv %0" ::"m"(before->x87) : "memory");
#endif
}
#define PROF__CALM() \
    const prof__fpu prof__calm __attribute__((__cleanup__(prof__calm_leave), __unused__)) = prof__calm_enter()

/* Returns 1 if some floating-point exception of this thread traps. */
static inline int prof__traps(void)
{
#ifdef __aarch64__
    uint64_t control;
    __asm__ volatile("mrs %0, fpcr" : "=r"(control));
    return (control & 0x9F00) != 0;
#elif defined(__SSE__) && !defined(__i386__)
    uint32_t sse = 0; /* the memory sanitizer does not see what instructions write */
    __asm__ volatile("stmxcsr %0" : "=m"(sse));
    return (sse & 0x1F80) != 0x1F80;
#else
    uint16_t control = 0;
    __asm__ volatile("fnstcw %0" : "=m"(control));
    return (control & 0x3F) != 0x3F;
#endif
}
#else
typedef char prof__fpu;
static prof__fpu prof__calm_enter(void) { return 0; }
static void prof__calm_leave(const prof__fpu *before) { (void)before; }
#define PROF__CALM() ((void)0)
static int prof__traps(void) { return 0; }
#endif

#endif /* PROF__GROUND_NUMBERS_H */
