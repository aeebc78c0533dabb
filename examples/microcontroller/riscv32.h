/* riscv32.h - the machine of main.c: RISC-V, 32 bits, in machine mode, with the CLINT timer and semihosting */
#define TIME ((volatile uint32_t *)0x0200BFF8) /* counts CLOCK_HZ; two words */
#define TIME_COMPARE ((volatile uint32_t *)0x02004000)
enum { STATUS_INTERRUPTS = 8, ENABLE_TIMER = 1 << 7, TICK = CLOCK_HZ / 1000 }; /* an interrupt each millisecond */

static volatile int inside; /* an interrupt; they do not interrupt each other */

static inline uint32_t interrupts_off(void)
{
    uint32_t before;
    __asm__ volatile("csrrci %0, mstatus, 8" : "=r"(before)::"memory");
    return before & STATUS_INTERRUPTS;
}

static inline void interrupts_restore(uint32_t before)
{
    __asm__ volatile("csrs mstatus, %0" ::"r"(before) : "memory");
}

static int in_interrupt(void) { return inside; }

static uint64_t clock_read(void)
{
    uint32_t high, low;
    do {
        high = TIME[1];
        low = TIME[0];
    } while (TIME[1] != high);
    return (uint64_t)high << 32 | low;
}

/* The two shifts say that the breakpoint between them is a call of the host. */
static __attribute__((noinline)) intptr_t host(uint32_t call, const void *about)
{
    register intptr_t a0 __asm__("a0") = (intptr_t)call;
    register const void *a1 __asm__("a1") = about;
    __asm__ volatile(".balign 16\n"
                     ".option push\n"
                     ".option norvc\n"
                     "slli zero, zero, 0x1f\n"
                     "ebreak\n"
                     "srai zero, zero, 7\n"
                     ".option pop\n"
                     : "+r"(a0)
                     : "r"(a1)
                     : "memory");
    return a0;
}

/* Ends the program, where there is a host. */
static void __attribute__((noreturn)) host_exit(int good)
{
    host(0x18, (const void *)(good ? 0x20026 : 0x20024));
    for (;;) continue;
}

static void timer_next(uint64_t at)
{
    TIME_COMPARE[1] = ~0u; /* not now, while half of it is written */
    TIME_COMPARE[0] = (uint32_t)at;
    TIME_COMPARE[1] = (uint32_t)(at >> 32);
}

static uint64_t next_tick;

static void __attribute__((interrupt("machine"), aligned(4))) trap(void)
{
    uint32_t cause;
    __asm__ volatile("csrr %0, mcause" : "=r"(cause));
    if (cause != (1u << 31 | 7)) {
        host(4, "fault\n");
        host_exit(0);
    }
    inside = 1;
    timer_next(next_tick += TICK);
    timer_interrupt();
    inside = 0;
}

static void timer_start(void)
{
    timer_next(next_tick = clock_read() + TICK);
    __asm__ volatile("csrw mtvec, %0" ::"r"(trap));
    __asm__ volatile("csrw mie, %0" ::"r"(ENABLE_TIMER));
    interrupts_restore(STATUS_INTERRUPTS);
}

/* Shifts and divisions of 64 bits, which are in the compiler's library where it has one for 32 bits. */
typedef union {
    uint64_t whole;
    uint32_t half[2]; /* the low one first */
} wide;

uint64_t __lshrdi3(uint64_t value, int by);
uint64_t __lshrdi3(uint64_t value, int by)
{
    wide from = {value}, to;
    to.half[1] = by < 32 ? from.half[1] >> by : 0;
    to.half[0] = by >= 32 ? from.half[1] >> (by - 32) : from.half[0] >> by | (by ? from.half[1] << (32 - by) : 0);
    return to.whole;
}

uint64_t __ashldi3(uint64_t value, int by);
uint64_t __ashldi3(uint64_t value, int by)
{
    wide from = {value}, to;
    to.half[0] = by < 32 ? from.half[0] << by : 0;
    to.half[1] = by >= 32 ? from.half[0] << (by - 32) : from.half[1] << by | (by ? from.half[0] >> (32 - by) : 0);
    return to.whole;
}

static uint64_t divide(uint64_t value, uint64_t by, uint64_t *rest)
{
    uint64_t result = 0;
    *rest = 0;
    for (int bit = 0; bit < 64; ++bit, value <<= 1) {
        *rest = *rest << 1 | value >> 63;
        result = result << 1 | (*rest >= by);
        if (*rest >= by) *rest -= by;
    }
    return result;
}

uint64_t __udivdi3(uint64_t value, uint64_t by);
uint64_t __udivdi3(uint64_t value, uint64_t by)
{
    uint64_t rest;
    return divide(value, by, &rest);
}
uint64_t __umoddi3(uint64_t value, uint64_t by);
uint64_t __umoddi3(uint64_t value, uint64_t by)
{
    uint64_t rest;
    divide(value, by, &rest);
    return rest;
}

int main(void);
extern uint32_t data_from[], data_start[], data_end[], bss_start[], bss_end[];

void start_c(void);
void start_c(void)
{
    for (uint32_t *to = data_start, *from = data_from; to < data_end;) *to++ = *from++;
    for (uint32_t *to = bss_start; to < bss_end;) *to++ = 0;
    main();
}

__asm__(".section .vectors, \"ax\"\n"
        ".globl _start\n"
        "_start:\n"
        ".option push\n"
        ".option norelax\n" /* or this would be gp itself */
        "    la gp, __global_pointer$\n"
        ".option pop\n"
        "    la sp, stack_end\n"
        "    j start_c\n"
        ".text\n");
