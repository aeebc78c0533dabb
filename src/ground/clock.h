// ground/clock: Reads the processor's cycle or time counter, and the system's monotonic and wall clocks.
#ifndef PROF__GROUND_CLOCK_H
#define PROF__GROUND_CLOCK_H
#include "ground/base.h"

/*-- CLOCK -------------------------------------------------------------------------------------------------- >>clock --
   An event's time stamp is a raw reading of the clock, in ticks. A reader converts ticks to nanoseconds with the pairs
   (counter, system clock) that the image contains. */

#if defined(PROF_FREESTANDING)
#define PROF__COUNTER_NAME "user"
static inline uint64_t prof__counter(void) { return (uint64_t)(PROF_CLOCK_READ()); }
#ifndef PROF_TINY
static uint64_t prof__counter_ordered(void) { return prof__counter(); }
static int prof__counter_usable(void) { return 1; }
static uint64_t prof__counter_hz(void) { return 0; }
#endif
#elif defined(PROF__SIMULATED_HZ) /* for tests/clocks.sh: a counter with a chosen rate */
#define PROF__COUNTER_NAME "simulated"
static inline uint64_t prof__counter(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * (PROF__SIMULATED_HZ) + (uint64_t)t.tv_nsec * (PROF__SIMULATED_HZ) / 1000000000u;
}
static uint64_t prof__counter_ordered(void) { return prof__counter(); }
static int prof__counter_usable(void) { return 3; }
static uint64_t prof__counter_hz(void) { return 0; } /* 0: unknown, as on many machines */
#elif defined(__x86_64__) || defined(__i386__) || defined(_M_X64) || defined(_M_IX86)
#define PROF__COUNTER_NAME "rdtsc"
#ifdef __GNUC__
#include <cpuid.h>
static inline uint64_t prof__counter(void) { return __builtin_ia32_rdtsc(); }
static uint64_t prof__counter_ordered(void)
{
    unsigned a, d, c;
    __asm__ volatile("rdtscp" : "=a"(a), "=d"(d), "=c"(c)::"memory");
    return (uint64_t)d << 32 | a;
}
#define PROF__CPUID(leaf, to) __get_cpuid(leaf, &(to)[0], &(to)[1], &(to)[2], &(to)[3])
#else
static inline uint64_t prof__counter(void) { return __rdtsc(); }
static uint64_t prof__counter_ordered(void)
{
    unsigned processor;
    return __rdtscp(&processor);
}
static int prof__cpuid(unsigned leaf, unsigned to[4]) /* like gcc's __get_cpuid(): 0 if there is no such leaf */
{
    __cpuid((int *)to, (int)(leaf & 0x80000000u));
    if (to[0] < leaf) return 0;
    __cpuid((int *)to, (int)leaf);
    return 1;
}
#define PROF__CPUID(leaf, to) prof__cpuid(leaf, to)
#endif
/* Bit 0: the rate is constant and all processors agree; bit 1: prof__counter_ordered() works */
static int prof__counter_usable(void)
{
    unsigned got[4], usable = 0;
    if (PROF__CPUID(0x80000007u, got) && (got[3] & 1u << 8)) usable |= 1;
    int ordered = PROF__CPUID(0x80000001u, got) && (got[3] & 1u << 27) ? 2 : 0; /* rdtscp */
#ifdef __linux__
    { /* the kernel compares the counters of all processors, and switches to another clock source if they drift apart */
        char text[16] = {0};
        int file = open("/sys/devices/system/clocksource/clocksource0/current_clocksource", O_RDONLY | O_CLOEXEC);
        if (file >= 0) {
            if (read(file, text, sizeof text - 1) > 0 && (text[0] == 'h' || text[0] == 'a' || text[0] == 'j'))
                usable = 0; /* hpet, acpi_pm, jiffies */
            if (text[0] == 't') usable = 1; /* tsc: a virtual machine may hide the CPUID bit */
            close(file);
        }
    }
#endif
    return usable ? (int)usable | ordered : 0;
}
static uint64_t prof__counter_hz(void)
{
    unsigned got[4];
    if (PROF__CPUID(0x15u, got) && got[0] && got[1] && got[2]) return (uint64_t)got[2] * got[1] / got[0];
    return 0;
}
#elif defined(_M_ARM64) && !defined(__GNUC__)
#define PROF__COUNTER_NAME "cntvct"
static inline uint64_t prof__counter(void) { return (uint64_t)_ReadStatusReg(0x5f02); } /* CNTVCT_EL0 */
static uint64_t prof__counter_ordered(void)
{
    __isb(15);
    return prof__counter();
}
static int prof__counter_usable(void) { return 3; }
static uint64_t prof__counter_hz(void) { return (uint64_t)_ReadStatusReg(0x5f00); } /* CNTFRQ_EL0 */
#elif defined(__aarch64__)
#define PROF__COUNTER_NAME "cntvct"
static inline uint64_t prof__counter(void)
{
    uint64_t tick;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(tick));
    return tick;
}
static uint64_t prof__counter_ordered(void)
{
    uint64_t tick;
    __asm__ volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(tick)::"memory");
    return tick;
}
static int prof__counter_usable(void) { return 3; }
static uint64_t prof__counter_hz(void)
{
    uint64_t hz;
    __asm__ volatile("mrs %0, cntfrq_el0" : "=r"(hz));
    return hz;
}
#elif defined(__riscv) && __riscv_xlen == 64
#define PROF__COUNTER_NAME "rdtime"
static inline uint64_t prof__counter(void)
{
    uint64_t tick;
    __asm__ volatile("rdtime %0" : "=r"(tick));
    return tick;
}
static uint64_t prof__counter_ordered(void)
{
    uint64_t tick;
    __asm__ volatile("fence\n\trdtime %0" : "=r"(tick)::"memory");
    return tick;
}
static int prof__counter_usable(void) { return 3; }
static uint64_t prof__counter_hz(void) { return 0; }
#else
#define PROF__COUNTER_NAME "none"
static inline uint64_t prof__counter(void) { return 0; }
static uint64_t prof__counter_ordered(void) { return 0; }
static int prof__counter_usable(void) { return 0; }
static uint64_t prof__counter_hz(void) { return 0; }
#endif

#ifndef PROF_FREESTANDING
#ifdef _WIN32
static uint64_t prof__monotonic(void)
{
    LARGE_INTEGER count, hz;
    QueryPerformanceCounter(&count);
    QueryPerformanceFrequency(&hz);
    return (uint64_t)count.QuadPart / (uint64_t)hz.QuadPart * 1000000000u +
           (uint64_t)count.QuadPart % (uint64_t)hz.QuadPart * 1000000000u / (uint64_t)hz.QuadPart;
}
static uint64_t prof__unix_time(void)
{
    FILETIME time;
    GetSystemTimeAsFileTime(&time);
    return (((uint64_t)time.dwHighDateTime << 32 | time.dwLowDateTime) - 116444736000000000u) * 100;
}
#else
static uint64_t prof__clock_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}
static uint64_t prof__monotonic(void) { return prof__clock_ns(CLOCK_MONOTONIC); }
static uint64_t prof__unix_time(void) { return prof__clock_ns(CLOCK_REALTIME); }
#endif
#endif

#ifdef PROF_MONOTONIC_NS
#ifndef PROF_UNIX_NS
#define PROF_UNIX_NS() 0
#endif
static uint64_t prof__monotonic(void) { return (uint64_t)(PROF_MONOTONIC_NS()); }
static uint64_t prof__unix_time(void) { return (uint64_t)(PROF_UNIX_NS()); }
#endif

#endif /* PROF__GROUND_CLOCK_H */
