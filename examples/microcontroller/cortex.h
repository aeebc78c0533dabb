/* cortex.h - the machine of main.c: Cortex-M, with vectors, the SysTick timer and semihosting */
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

/* Counts processor clocks. The timer counts down from TICK - 1; at 0 a millisecond is over, and its interrupt comes,
   but perhaps not yet. */
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

/* Ends the program, where there is a host. */
static void __attribute__((noreturn)) host_exit(int good)
{
    host(0x18, (const void *)(good ? 0x20026 : 0x20024));
    for (;;) continue;
}

static int in_interrupt(void) { return exception_number() != 0; }

static void timer_start(void)
{
    SYSTICK_RELOAD = TICK - 1;
    SYSTICK_VALUE = 0;
    SYSTICK_CONTROL = 7; /* the processor's clock, an interrupt, on */
}

static void systick(void)
{
    ++ticks;
    timer_interrupt();
}

extern uint32_t data_from[], data_start[], data_end[], bss_start[], bss_end[], stack_end[];

int main(void);
void _start(void)
{
#if defined(__ARM_FP)
    *(volatile uint32_t *)0xE000ED88 |= 0xF << 20; /* floating-point registers may be used, also to copy */
#endif
    for (uint32_t *to = data_start, *from = data_from; to < data_end;) *to++ = *from++;
    for (uint32_t *to = bss_start; to < bss_end;) *to++ = 0;
    main();
}

static void fault(void)
{
    host(4, "fault\n");
    host_exit(0);
}

static const void *const vectors[16] __attribute__((section(".vectors"), used)) = {
    stack_end, (const void *)_start, (const void *)fault, (const void *)fault, [15] = (const void *)systick};
