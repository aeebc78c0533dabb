/* main.c - prof.h on a microcontroller: Cortex-M4 or M0, or RISC-V with 32 bits, 16 KiB of RAM, no heap

   A main loop and a timer interrupt are marked up. The recording is in an array; at the end it goes to a file of the
   host by semihosting, which debuggers (OpenOCD, J-Link, pyOCD) and QEMU understand. Without it, have the debugger dump
   the array `image`, or all of the RAM, in which `prof recover` finds it. A recording that is longer than the array
   goes to a file while it is made: stream(). "make run" builds it and runs it in QEMU. "make RTT=1" builds it without
   semihosting: a debug probe takes the recording out of a buffer in memory, see rtt.h. */
#include <stddef.h>
#include <stdint.h>

static void timer_interrupt(void);

#if defined(__riscv)
#include "riscv32.h"
#else
#include "cortex.h"
#endif

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
#if !defined(__ARM_FEATURE_LDREX) && !defined(__riscv_atomic)
ATOMIC(4, uint32_t)
#endif

/* The main loop has a state, and interrupts have one: here they do not interrupt each other. */
static unsigned char states[2][STATE_SIZE] __attribute__((aligned(16)));
static unsigned char image[IMAGE_SIZE] __attribute__((aligned(64)));

#define PROF_FREESTANDING
#define PROF_MINIMAL
#define PROF_TINY
#define PROF_WITH_DRAIN
#define PROF_NO_DOUBLE
#define PROF_CHUNK_SIZE 1024
#define PROF_MAX_TEXT 60
#define PROF_CLOCK_READ() clock_read()
#define PROF_CPU_STATE() states[in_interrupt()]
#define PROF_CPU_STATE_SIZE STATE_SIZE
#define PROF_CPU_ID() (in_interrupt() ? 2u : 1u)
#define PROF_CPU_NAME(text, size) name_track(text, size)
#define PROF_INTERRUPTS_OFF() interrupts_off()
#define PROF_INTERRUPTS_RESTORE(before) interrupts_restore((uint32_t)(before))

static void name_track(char *text, size_t size);

#define PROF_IMPLEMENTATION
#include "prof.h"

static void name_track(char *text, size_t size)
{
    const char *name = in_interrupt() ? "interrupts" : "main";
    size_t i = 0;
    for (; i + 1 < size && name[i]; ++i) text[i] = name[i];
    text[i] = 0;
}

/* ---- the program: it counts by itself what it records, for tests/microcontroller.sh to compare */

static volatile uint32_t counted_ticks, counted_loops, filtered, waits;

static void timer_interrupt(void)
{
    if (!prof_enabled() || waits) return;
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

#ifdef RTT
#include "rtt.h"
#define print(text) rtt_print(text)
#else
#define print(text) host(4, text)
#endif

static void say(const char *what, uint32_t number)
{
    char digits[12];
    char *at = digits + 11;
    *at = 0;
    do *--at = (char)('0' + number % 10);
    while (number /= 10);
    print(what);
    print(at);
    print("\n");
}

/* Starts recording into the first `size` bytes of the image. */
static int start(const char *name, size_t size)
{
    prof_config config = {0};
    config.memory = image;
    config.memory_size = size;
    config.clock_hz = CLOCK_HZ;
    counted_ticks = counted_loops = 0;
    print(name);
    print("\n");
    if (!prof_start(&config)) return 1;
    print("  cannot start\n");
    return 0;
}

static void pass(uint32_t i)
{
    PROFILE_SCOPE("loop");
    sample(i);
    control();
    ++counted_loops;
}

static void report(int good)
{
    say("  loops ", counted_loops);
    say("  timer interrupts ", counted_ticks);
    if (!good) print("  cannot be written\n");
}

#ifdef RTT
/* Waits until the probe has taken what there is; interrupts would fill the ring meanwhile. A program that can't wait
   calls prof_drain() once, whatever it returns: what the ring then overwrites is counted. */
static void send(void)
{
    waits = 1;
    while (prof_drain(rtt_piece, NULL)) continue;
    waits = 0;
}

static void stream(const char *name, uint32_t loops, size_t size)
{
    if (!start(name, size)) return;
    for (uint32_t i = 0; i < loops; ++i) {
        pass(i);
        if (i % 4 == 3) send();
    }
    prof_stop();
    send();
    report(1);
}

int main(void)
{
    rtt_start();
    timer_start();
    stream("rtt", 1000, sizeof image);
    print("done\n");
    for (;;) continue;
}
#else
static intptr_t file_open(const char *name)
{
    uintptr_t open[] = {(uintptr_t)name, 5, prof__length(name)};
    return host(1, open);
}

static int file_close(intptr_t file)
{
    uintptr_t close[] = {(uintptr_t)file};
    return !host(2, close);
}

/* For prof_drain(): a piece of the file. Without a host: rtt.h, or send place, size and bytes by SWO or a serial port. */
static prof_status file_put(void *file, uint64_t offset, const void *data, size_t size)
{
    uintptr_t seek[] = {(uintptr_t)file, (uintptr_t)offset}, write[] = {(uintptr_t)file, (uintptr_t)data, size};
    return host(10, seek) || host(5, write) ? PROF_IO : PROF_OK; /* 5 returns how many bytes were not written */
}

/* Records loops passes of the main loop, and sends the image. */
static void record(const char *name, uint32_t loops, size_t size)
{
    if (!start(name, size)) return;
    for (uint32_t i = 0; i < loops; ++i) pass(i);
    prof_stop();
    intptr_t file = file_open(name);
    report(file != -1 && !file_put((void *)file, 0, image, size) && file_close(file));
}

/* Sends what it records meanwhile, so that it may be longer than the memory. */
static void stream(const char *name, uint32_t loops, size_t size)
{
    intptr_t file = file_open(name);
    int good = file != -1;
    if (!start(name, size)) return;
    for (uint32_t i = 0; i < loops; ++i) {
        pass(i);
        good &= !prof_drain(file_put, (void *)file);
    }
    prof_stop();
    report(!prof_drain(file_put, (void *)file) && file_close(file) && good);
}

int main(void)
{
    timer_start();
    record("whole.prof", 20, sizeof image);
    record("newest.prof", 3000, sizeof image); /* the ring keeps the newest events */
    record("small.prof", 100, 2048);
    stream("stream.prof", 1000, 4096);
    print("done\n");
    host_exit(1);
}
#endif
