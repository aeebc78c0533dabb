// ground/numbers: Classifies and compares floating-point numbers by their bits, and isolates prof's arithmetic from the
// host program's floating-point environment.
#ifndef PROF__GROUND_NUMBERS_H
#define PROF__GROUND_NUMBERS_H
#include "ground/base.h"

/*-- NUMBERS ---------------------------------------------------------------------------------------------- >>numbers --
   With -ffast-math a compiler removes comparisons that are true or false for every finite number, such as x != x. And a
   host program may have enabled floating-point traps (feenableexcept), so that a comparison with a NaN or an inexact
   result ends it. So this module looks at numbers of the host as integers, and functions that compute with them use the
   default environment (PROF__CALM). */

#ifndef PROF_FREESTANDING
/* Returns the bits of a number. Volatile, because with -ffast-math the compiler may assume that a double is finite. */
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

/* Returns the text for a number that is infinite or a NaN. */
static const char *prof__not_finite(double value)
{
    uint64_t bits = prof__number_bits(value);
    if (bits << 1 != PROF__INFINITE_BITS << 1) return "nan";
    return bits >> 63 ? "-inf" : "inf";
}

static int prof__is_nan(uint64_t bits) { return bits << 1 > PROF__INFINITE_BITS << 1; }

static int prof__nan(double value) { return prof__is_nan(prof__number_bits(value)); }

/* Returns 1 if a < b. A NaN is greater than every number, and equal to another NaN. */
static int prof__less(double a, double b)
{
    uint64_t x = prof__number_bits(a), y = prof__number_bits(b);
    if (prof__is_nan(x) || prof__is_nan(y)) return !prof__is_nan(x);
    if (!(x << 1 | y << 1)) return 0; /* 0 and -0 */
    if (x >> 63 != y >> 63) return (int)(x >> 63);
    return x >> 63 ? x > y : x < y;
}

/* Returns 1 if a > b. A NaN is less than every number here, so that it sorts last and never is a maximum. */
static int prof__greater(double a, double b)
{
    uint64_t x = prof__number_bits(a), y = prof__number_bits(b);
    return prof__is_nan(x) || prof__is_nan(y) ? !prof__is_nan(x) : prof__less(b, a);
}
#endif

/* PROF__CALM() at the start of a function gives the thread the default floating-point environment until the function
   returns: no traps, rounding to nearest, no flushing of denormal numbers. Then the host's environment is restored,
   exception flags included. This is fenv.h's feholdexcept() without libm. */
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
    PROF__OWN_BEGINS();
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
    PROF__OWN_ENDS();
}
#define PROF__CALM() \
    const prof__fpu prof__calm __attribute__((__cleanup__(prof__calm_leave), __unused__)) = prof__calm_enter()

/* Returns 1 if this thread has any floating-point trap enabled. */
static inline int prof__traps(void)
{
#ifdef __aarch64__
    uint64_t control;
    __asm__ volatile("mrs %0, fpcr" : "=r"(control));
    return (control & 0x9F00) != 0;
#elif defined(__SSE__) && !defined(__i386__)
    uint32_t sse = 0; /* initialised for the memory sanitizer, which ignores assembly */
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
static prof__fpu prof__calm_enter(void)
{
    PROF__OWN_BEGINS();
    return 0;
}
static void prof__calm_leave(const prof__fpu *before)
{
    (void)before;
    PROF__OWN_ENDS();
}
#ifdef PROF__WRAPS_WAITS
#define PROF__CALM() \
    const prof__fpu prof__calm __attribute__((__cleanup__(prof__calm_leave), __unused__)) = prof__calm_enter()
#else
#define PROF__CALM() ((void)0)
#endif
static int prof__traps(void) { return 0; }
#endif

#endif /* PROF__GROUND_NUMBERS_H */
