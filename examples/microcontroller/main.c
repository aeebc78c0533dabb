/* main.c - prof.h on a microcontroller: Cortex-M4 or M0, 16 KiB of RAM, no operating system, no heap

   A main loop and a timer interrupt are marked up. The recording is in an array; at the end it goes to a file of the
   host by semihosting, which debuggers (OpenOCD, J-Link, pyOCD) and QEMU understand. Without it, have the debugger dump
   the array `image`, or all of the RAM, in which `prof recover` finds it. "make run" builds it and runs it in QEMU. */
#include <stddef.h>
#include <stdint.h>

/* ---- the machine: vectors, the SysTick timer, semihosting */

#define SYSTICK_CONTROL (*(volatile uint32_t *)0xE000E010)
#define SYSTICK_RELOAD (*(volatile uint32_t *)0xE000E014)
#define SYSTICK_VALUE (*(volatile uint32_t *)0xE000E018)
#define INTERRUPT_STATE (*(volatile uint32_t *)0xE000ED04)
enum { SYSTICK_PENDING = 1 << 26, TICK = CLOCK_HZ / 1000 }; /* an interrupt each millisecond */

static volatile uint32_t ticks;

static inline uint32_t interrupts_off(void)
{
    uint32_t before;
    __asm__ volatile("mrs %0, primask\n cpsid i" : "=r"(before)::"memory");
    return before;
}

static inline void interrupts_restore(uint32_t before) { __asm__ volatile("msr primask, %0" ::"r"(before) : "memory"); }

static inline uint32_t exception_number(void)
{
    uint32_t number;
    __asm__ volatile("mrs %0, ipsr" : "=r"(number));
    return number;
}

/* Counts processor clocks. The timer counts down from TICK - 1; at 0 a millisecond is over, and its interrupt comes, but
   perhaps not yet. */
static uint64_t clock_read(void)
{
    uint32_t before = interrupts_off(), value = SYSTICK_VALUE, count = ticks;
    if (INTERRUPT_STATE & SYSTICK_PENDING) {
        value = SYSTICK_VALUE;
        ++count;
    }
    interrupts_restore(before);
    return (uint64_t)count * TICK + (value ? TICK - value : 0);
}

static intptr_t host(uint32_t call, const void *about)
{
    register intptr_t r0 __asm__("r0") = (intptr_t)call;
    register const void *r1 __asm__("r1") = about;
    __asm__ volatile("bkpt 0xAB" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
}

void *memcpy(void *to, const void *from, size_t size)
{
    for (size_t i = 0; i < size; ++i) ((volatile unsigned char *)to)[i] = ((const unsigned char *)from)[i];
    return to;
}

void *memset(void *to, int value, size_t size)
{
    for (size_t i = 0; i < size; ++i) ((volatile unsigned char *)to)[i] = (unsigned char)value;
    return to;
}

/* ---- what prof.h needs */

/* The processor has no atomic operations on 64 bits, and the Cortex-M0 none that change a word. Compilers call these
   functions then; with interrupts off they are atomic, because there is one processor. */
#define ATOMIC(bits, type)                                                                                            \
    type __atomic_load_##bits(const volatile void *at, int order)                                                     \
    {                                                                                                                 \
        uint32_t before = interrupts_off();                                                                           \
        type value = *(const volatile type *)at;                                                                      \
        (void)order;                                                                                                  \
        interrupts_restore(before);                                                                                   \
        return value;                                                                                                 \
    }                                                                                                                 \
    void __atomic_store_##bits(volatile void *at, type value, int order)                                              \
    {                                                                                                                 \
        uint32_t before = interrupts_off();                                                                           \
        *(volatile type *)at = value;                                                                                 \
        (void)order;                                                                                                  \
        interrupts_restore(before);                                                                                   \
    }                                                                                                                 \
    type __atomic_exchange_##bits(volatile void *at, type value, int order)                                           \
    {                                                                                                                 \
        uint32_t before = interrupts_off();                                                                           \
        type old = *(volatile type *)at;                                                                              \
        *(volatile type *)at = value;                                                                                 \
        (void)order;                                                                                                  \
        interrupts_restore(before);                                                                                   \
        return old;                                                                                                   \
    }                                                                                                                 \
    type __atomic_fetch_add_##bits(volatile void *at, type value, int order)                                          \
    {                                                                                                                 \
        uint32_t before = interrupts_off();                                                                           \
        type old = *(volatile type *)at;                                                                              \
        *(volatile type *)at = old + value;                                                                           \
        (void)order;                                                                                                  \
        interrupts_restore(before);                                                                                   \
        return old;                                                                                                   \
    }                                                                                                                 \
    type __atomic_fetch_sub_##bits(volatile void *at, type value, int order)                                          \
    {                                                                                                                 \
        return __atomic_fetch_add_##bits(at, 0 - value, order);                                                       \
    }                                                                                                                 \
    _Bool __atomic_compare_exchange_##bits(volatile void *at, void *expected, type value, _Bool weak, int order,      \
                                           int failure)                                                               \
    {                                                                                                                 \
        uint32_t before = interrupts_off();                                                                           \
        type old = *(volatile type *)at;                                                                              \
        _Bool same = old == *(type *)expected;                                                                        \
        if (same) *(volatile type *)at = value;                                                                       \
        if (!same) *(type *)expected = old;                                                                           \
        (void)weak, (void)order, (void)failure;                                                                       \
        interrupts_restore(before);                                                                                   \
        return same;                                                                                                  \
    }
#pragma GCC diagnostic ignored "-Wbuiltin-declaration-mismatch"
ATOMIC(8, uint64_t)
#if !defined(__ARM_FEATURE_LDREX)
ATOMIC(4, uint32_t)
#endif

/* The main loop has a state, and interrupts have one: here they do not interrupt each other. */
static unsigned char states[2][STATE_SIZE] __attribute__((aligned(16)));
static unsigned char image[IMAGE_SIZE] __attribute__((aligned(64)));

#define PROF_FREESTANDING
#define PROF_MINIMAL
#define PROF_NO_DOUBLE
#define PROF_CHUNK_SIZE 1024
#define PROF_MAX_TEXT 60
#define PROF_CLOCK_READ() clock_read()
#define PROF_CPU_STATE() states[exception_number() != 0]
#define PROF_CPU_STATE_SIZE STATE_SIZE
#define PROF_CPU_ID() (exception_number() ? 2u : 1u)
#define PROF_CPU_NAME(text, size) name_track(text, size)
#define PROF_INTERRUPTS_OFF() interrupts_off()
#define PROF_INTERRUPTS_RESTORE(before) interrupts_restore((uint32_t)(before))

static void name_track(char *text, size_t size);

#define PROF_IMPLEMENTATION
#include "prof.h"

static void name_track(char *text, size_t size)
{
    const char *name = exception_number() ? "interrupts" : "main";
    size_t i = 0;
    for (; i + 1 < size && name[i]; ++i) text[i] = name[i];
    text[i] = 0;
}

/* ---- the program: it counts by itself what it records, for tests/microcontroller.sh to compare */

static volatile uint32_t counted_ticks, counted_loops, filtered;

static void timer_interrupt(void)
{
    ++ticks;
    if (!prof_enabled()) return;
    PROFILE_SCOPE("timer interrupt");
    ++counted_ticks;
}

static void __attribute__((noinline)) sample(uint32_t i)
{
    PROFILE_SCOPE("sample");
    filtered = (filtered * 7 + i * 2654435761u) >> 3;
}

static void __attribute__((noinline)) control(void)
{
    PROFILE_SCOPE("control");
    for (volatile uint32_t wait = 0; wait < 1000; ++wait) continue;
    PROFILE_COUNTER("filtered", filtered);
}

static void say(const char *what, uint32_t number)
{
    char digits[12];
    char *at = digits + 11;
    *at = 0;
    do *--at = (char)('0' + number % 10);
    while (number /= 10);
    host(4, what);
    host(4, at);
    host(4, "\n");
}

static int send(const char *name, const void *data, size_t size)
{
    uintptr_t open[] = {(uintptr_t)name, 5, prof__length(name)};
    intptr_t file = host(1, open);
    if (file == -1) return 0;
    uintptr_t write[] = {(uintptr_t)file, (uintptr_t)data, size}, close[] = {(uintptr_t)file};
    intptr_t left = host(5, write); /* how many bytes were not written */
    return !host(2, close) && !left;
}

/* Records loops passes of the main loop, and sends the image. */
static void record(const char *name, uint32_t loops)
{
    prof_config config = {0};
    config.memory = image;
    config.memory_size = sizeof image;
    config.clock_hz = CLOCK_HZ;
    counted_ticks = counted_loops = 0;
    if (prof_start(&config)) {
        host(4, prof_error());
        host(4, "\n");
        return;
    }
    for (uint32_t i = 0; i < loops; ++i) {
        PROFILE_SCOPE("loop");
        sample(i);
        control();
        ++counted_loops;
    }
    prof_stop();
    host(4, name);
    host(4, "\n");
    say("  loops ", counted_loops);
    say("  timer interrupts ", counted_ticks);
    if (!send(name, image, sizeof image)) host(4, "  cannot be written\n");
}

int main(void)
{
    SYSTICK_RELOAD = TICK - 1;
    SYSTICK_VALUE = 0;
    SYSTICK_CONTROL = 7; /* the processor's clock, an interrupt, on */
    record("whole.prof", 20);
    record("newest.prof", 3000); /* the ring keeps the newest events */
    host(4, "done\n");
    host(0x18, (const void *)0x20026);
    for (;;) continue;
}

/* ---- the start */

extern uint32_t data_from[], data_start[], data_end[], bss_start[], bss_end[], stack_end[];

void _start(void)
{
    for (uint32_t *to = data_start, *from = data_from; to < data_end;) *to++ = *from++;
    for (uint32_t *to = bss_start; to < bss_end;) *to++ = 0;
    main();
}

static void fault(void)
{
    host(4, "fault\n");
    host(0x18, (const void *)0x20024);
    for (;;) continue;
}

static const void *const vectors[16] __attribute__((section(".vectors"), used)) = {
    stack_end, (const void *)_start, (const void *)fault, (const void *)fault, [15] = (const void *)timer_interrupt};
