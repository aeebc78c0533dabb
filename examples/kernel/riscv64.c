/* riscv64.c - RISC-V, 64 bits, in machine mode, without firmware: harts, CLINT timer and serial port of QEMU's virt */
#include "kernel.h"

enum { HZ = 10000000, TICKS_PER_SECOND = 1000 };
#define SERIAL ((volatile uint8_t *)0x10000000) /* a 16550 */
#define CLINT_TIMER(hart) ((volatile uint64_t *)(0x2004000 + 8 * (uintptr_t)(hart)))
#define POWER ((volatile uint32_t *)0x100000)

enum { STATUS_INTERRUPTS_BEFORE = 1 << 7, STATUS_MACHINE_BEFORE = 3 << 11, ENABLE_TIMER = 1 << 7 };

/* What trap_entry puts on the stack. registers[0], of the zero register, is not used; [2] is the stack pointer. */
struct frame {
    uint64_t registers[32], pc, status;
};
enum { TP = 4, A0 = 10, A1 = 11, FRAME_SIZE = 34 * 8 };
typedef char frame_size_is[sizeof(struct frame) == FRAME_SIZE ? 1 : -1];

unsigned char processor_stacks[PROCESSORS][2][STACK_SIZE] __attribute__((aligned(16)));

/* All harts begin here. The first clears what is zero at first; the others wait, without memory of their own, until it
   says that they may go. mscratch is the stack of the hart's traps, which has the address of their context on it. */
__asm__(".section .text.start, \"ax\"\n"
        ".globl _start\n"
        "_start:\n"
        "    csrw mie, zero\n"
        "    csrci mstatus, 8\n"
        "    csrr s0, mhartid\n"
        "    li t0, 2\n" /* PROCESSORS */
        "    bgeu s0, t0, forever\n"
        "    bnez s0, wait_for_go\n"
        "    la t0, kernel_bss\n"
        "    la t1, kernel_image_end\n"
        "clear:\n"
        "    sd zero, 0(t0)\n"
        "    addi t0, t0, 8\n"
        "    bltu t0, t1, clear\n"
        "    j go\n"
        "wait_for_go:\n"
        "    la t0, others_go\n"
        "    lw t1, 0(t0)\n"
        "    beqz t1, wait_for_go\n"
        "    fence\n"
        "go:\n"
        "    la sp, processor_stacks\n" /* the end of the hart's first stack */
        "    slli t0, s0, 14\n"         /* 2 * STACK_SIZE */
        "    add sp, sp, t0\n"
        "    li t0, 8192\n" /* STACK_SIZE */
        "    add sp, sp, t0\n"
        "    mv a0, s0\n"
        "    call processor_main\n"
        "forever:\n"
        "    wfi\n"
        "    j forever\n"
        ".text\n");
typedef char stacks_are[PROCESSORS == 2 && STACK_SIZE == 8192 ? 1 : -1]; /* what the code above says */

/* x3 to x31, but the stack pointer. */
#define EACH(DO)                                                                                                       \
    DO(1) DO(3) DO(4) DO(5) DO(6) DO(7) DO(8) DO(9) DO(10) DO(11) DO(12) DO(13) DO(14) DO(15) DO(16) DO(17) DO(18)     \
    DO(19) DO(20) DO(21) DO(22) DO(23) DO(24) DO(25) DO(26) DO(27) DO(28) DO(29) DO(30) DO(31)
#define SAVE(n) "    sd x" #n ", " #n "*8(sp)\n"
#define LOAD(n) "    ld x" #n ", " #n "*8(sp)\n"

__asm__(".text\n"
        ".balign 4\n"
        "trap_entry:\n"
        "    addi sp, sp, -34*8\n" EACH(SAVE) "    csrr t0, mepc\n"
        "    csrr t1, mstatus\n"
        "    sd t0, 32*8(sp)\n"
        "    sd t1, 33*8(sp)\n"
        "    mv a0, sp\n"
        "    csrr sp, mscratch\n"
        "    ld tp, 0(sp)\n"
        "    call processor_trap\n"
        "trap_leave:\n"
        "    mv sp, a0\n"
        "    ld t0, 32*8(sp)\n"
        "    ld t1, 33*8(sp)\n"
        "    csrw mepc, t0\n"
        "    csrw mstatus, t1\n" EACH(LOAD) "    addi sp, sp, 34*8\n"
        "    mret\n");
void trap_entry(void);

/* ---- what kernel.c calls */

uint64_t processor_clock_hz(void) { return HZ; } /* QEMU's; a device tree says it */

unsigned long processor_interrupts_off(void)
{
    unsigned long before;
    __asm__ volatile("csrrci %0, mstatus, 8" : "=r"(before)::"memory");
    return before >> 3 & 1;
}

void processor_interrupts_restore(unsigned long before)
{
    __asm__ volatile("csrs mstatus, %0" ::"r"(before << 3) : "memory");
}

/* Long enough that prof's patience outlasts the time for which an emulator takes the other processor's thread away. */
void processor_pause(void)
{
    for (int i = 0; i < 100; ++i) __asm__ volatile("nop" ::: "memory");
}

void processor_wait(void) { __asm__ volatile("wfi" ::: "memory"); }

static unsigned hart_here(void)
{
    unsigned long hart;
    __asm__ volatile("csrr %0, mhartid" : "=r"(hart));
    return (unsigned)hart;
}

void processor_timer_next(void) { *CLINT_TIMER(hart_here()) = processor_clock() + HZ / TICKS_PER_SECOND; }
void processor_timer_stop(void) { *CLINT_TIMER(hart_here()) = ~(uint64_t)0; }

void processor_write(char byte)
{
    while (!(SERIAL[5] & 0x20)) {
    }
    SERIAL[0] = (uint8_t)byte;
}

void processor_power_off(void)
{
    *POWER = 0x5555;
    for (;;) processor_wait();
}

/* The two shifts say that the breakpoint between them is a call of the host. They must be in one page. */
long processor_host(long operation, const void *arguments)
{
    register long a0 __asm__("a0") = operation;
    register const void *a1 __asm__("a1") = arguments;
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

void processor_call(unsigned long call, void *argument)
{
    register unsigned long a0 __asm__("a0") = call;
    register void *a1 __asm__("a1") = argument;
    __asm__ volatile("ecall" ::"r"(a0), "r"(a1) : "memory");
}

struct frame *processor_frame(void *stack_end, void (*entry)(void), struct context *context)
{
    struct frame *frame = (struct frame *)stack_end - 1;
    for (int i = 0; i < 32; ++i) frame->registers[i] = 0;
    frame->registers[TP] = (uintptr_t)context;
    frame->pc = (uintptr_t)entry;
    frame->status = STATUS_MACHINE_BEFORE | STATUS_INTERRUPTS_BEFORE;
    return frame;
}

/* ---- what calls kernel.c */

int others_go __attribute__((section(".data"))); /* not in what is cleared */

void processor_start_others(void) { __atomic_store_n(&others_go, 1, __ATOMIC_RELEASE); }

void processor_main(unsigned hart);
void processor_main(unsigned hart)
{
    void **stack_end = (void **)(void *)&processor_stacks[hart][1][STACK_SIZE - 16];
    *stack_end = kernel_context(hart, 1);
    __asm__ volatile("mv tp, %0" ::"r"(kernel_context(hart, 0)) : "memory");
    __asm__ volatile("csrw mscratch, %0" ::"r"(stack_end));
    __asm__ volatile("csrw mtvec, %0" ::"r"(trap_entry));
    __asm__ volatile("csrw mie, %0" ::"r"((unsigned long)ENABLE_TIMER));
    kernel_main(hart);
}

struct frame *processor_trap(struct frame *frame);
struct frame *processor_trap(struct frame *frame)
{
    enum { TIMER = 7, BREAKPOINT = 3, CALL = 11 };
    unsigned long cause;
    __asm__ volatile("csrr %0, mcause" : "=r"(cause));
    if (cause == (1ul << 63 | TIMER)) return kernel_timer(frame);
    frame->pc += 4;
    if (cause == CALL) return kernel_call(frame, frame->registers[A0], (void *)(uintptr_t)frame->registers[A1]);
    if (cause != BREAKPOINT) kernel_panic("trap", cause, frame->pc - 4);
    frame->registers[A0] = ~(uint64_t)0; /* no host */
    return frame;
}
