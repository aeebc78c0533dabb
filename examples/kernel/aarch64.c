/* aarch64.c - ARM, 64 bits, at EL1: the processors (by PSCI), virtual timer, GICv2 and serial port of QEMU's virt

   The processor's caches and memory management stay off, which an emulator does not mind. A processor needs them on for
   the atomic instructions that locks are made of: switch them on before prof_start(). */
#include "kernel.h"

enum { TICKS_PER_SECOND = 1000, TIMER_INTERRUPT = 27 };
#define SERIAL ((volatile uint32_t *)0x09000000) /* a PL011 */
#define GIC_DISTRIBUTOR ((volatile uint32_t *)0x08000000)
#define GIC_INTERFACE ((volatile uint32_t *)0x08010000)
enum { SERIAL_FLAGS = 0x18 / 4, SERIAL_FULL = 1 << 5 };
enum { GIC_CONTROL = 0, GIC_ENABLE = 0x100 / 4, GIC_PRIORITY = 0x400 }; /* the last in bytes */
enum { GIC_MASK = 4 / 4, GIC_TAKE = 0xc / 4, GIC_DONE = 0x10 / 4 };
#define PSCI_CPU_ON 0xc4000003u
#define PSCI_SYSTEM_OFF 0x84000008u

/* What trap_entry puts on the stack. */
struct frame {
    uint64_t registers[31], pc, status, context;
};
typedef char frame_size_is[sizeof(struct frame) == 34 * 8 ? 1 : -1];
enum { STATUS_EL1 = 5, SYNCHRONOUS = 0, INTERRUPT = 1 };

unsigned char processor_stacks[PROCESSORS][2][STACK_SIZE] __attribute__((aligned(16)));

/* The first processor begins here, and clears what is zero at first; the others begin at others_start. tpidrro_el0 is
   the stack of the processor's traps, which has the address of their context on it. */
__asm__(".section .text.start, \"ax\"\n"
        ".globl _start\n"
        "_start:\n"
        "    msr daifset, #15\n"
        "    adrp x0, kernel_bss\n"
        "    add x0, x0, :lo12:kernel_bss\n"
        "    adrp x1, kernel_image_end\n"
        "    add x1, x1, :lo12:kernel_image_end\n"
        "0:  str xzr, [x0], #8\n"
        "    cmp x0, x1\n"
        "    b.lo 0b\n"
        "    mov x0, #0\n"
        "others_start:\n" /* x0: the number of the processor */
        "    msr daifset, #15\n"
        "    msr spsel, #1\n"
        "    adrp x1, processor_stacks\n" /* the end of its first stack */
        "    add x1, x1, :lo12:processor_stacks\n"
        "    add x1, x1, x0, lsl #14\n" /* 2 * STACK_SIZE */
        "    add x1, x1, #8192\n"       /* STACK_SIZE */
        "    mov sp, x1\n"
        "    bl processor_main\n"
        ".text\n");
typedef char stacks_are[PROCESSORS == 2 && STACK_SIZE == 8192 ? 1 : -1]; /* what the code above says */
void others_start(void);

#define PAIRS(DO) /* but the first */                                                                                  \
    DO(2, 3) DO(4, 5) DO(6, 7) DO(8, 9) DO(10, 11) DO(12, 13) DO(14, 15) DO(16, 17) DO(18, 19) DO(20, 21)     \
    DO(22, 23) DO(24, 25) DO(26, 27) DO(28, 29)
#define SAVE(a, b) "    stp x" #a ", x" #b ", [sp, #" #a "*8]\n"
#define LOAD(a, b) "    ldp x" #a ", x" #b ", [sp, #" #a "*8]\n"

/* The table of vectors has 16 entries of 128 bytes: what comes while we run on our own stack pointer, synchronous or an
   interrupt, is the fifth and the sixth. */
__asm__(".text\n"
        ".macro vector kind\n"
        "    .balign 128\n"
        "    sub sp, sp, #34*8\n"
        "    stp x0, x1, [sp]\n"
        "    mov x1, #\\kind\n"
        "    b trap_entry\n"
        ".endm\n"
        ".balign 2048\n"
        "vectors:\n"
        "    vector 2\n vector 2\n vector 2\n vector 2\n"
        "    vector 0\n vector 1\n vector 2\n vector 2\n"
        "    vector 2\n vector 2\n vector 2\n vector 2\n"
        "    vector 2\n vector 2\n vector 2\n vector 2\n"
        "trap_entry:\n"
        "    str x30, [sp, #30*8]\n" PAIRS(SAVE) "    mrs x2, elr_el1\n"
        "    mrs x3, spsr_el1\n"
        "    mrs x4, tpidr_el1\n"
        "    stp x2, x3, [sp, #31*8]\n"
        "    str x4, [sp, #33*8]\n"
        "    mov x0, sp\n"
        "    mrs x2, tpidrro_el0\n"
        "    mov sp, x2\n"
        "    ldr x3, [sp]\n"
        "    msr tpidr_el1, x3\n"
        "    bl processor_trap\n"
        "    mov sp, x0\n"
        "    ldp x2, x3, [sp, #31*8]\n"
        "    ldr x4, [sp, #33*8]\n"
        "    msr elr_el1, x2\n"
        "    msr spsr_el1, x3\n"
        "    msr tpidr_el1, x4\n" PAIRS(LOAD) "    ldp x0, x1, [sp]\n"
        "    ldr x30, [sp, #30*8]\n"
        "    add sp, sp, #34*8\n"
        "    eret\n");
extern char vectors[];

/* ---- what kernel.c calls */

#define READ(name, to) __asm__ volatile("mrs %0, " name : "=r"(to)::"memory")
#define WRITE(name, value) __asm__ volatile("msr " name ", %0\nisb" ::"r"((uint64_t)(value)) : "memory")

uint64_t processor_clock_hz(void)
{
    uint64_t hz;
    READ("cntfrq_el0", hz);
    return hz;
}

unsigned long processor_interrupts_off(void)
{
    uint64_t masks;
    READ("daif", masks);
    __asm__ volatile("msr daifset, #2" ::: "memory");
    return !(masks & 1 << 7);
}

void processor_interrupts_restore(unsigned long before)
{
    if (before) __asm__ volatile("msr daifclr, #2\nisb" ::: "memory");
}

/* Long enough that prof's patience outlasts the time for which an emulator takes the other processor's thread away. */
void processor_pause(void)
{
    for (int i = 0; i < 100; ++i) __asm__ volatile("nop" ::: "memory");
}

void processor_wait(void) { __asm__ volatile("wfi" ::: "memory"); }

void processor_timer_next(void)
{
    WRITE("cntv_tval_el0", processor_clock_hz() / TICKS_PER_SECOND);
    WRITE("cntv_ctl_el0", 1);
}

void processor_timer_stop(void) { WRITE("cntv_ctl_el0", 0); }

void processor_write(char byte)
{
    while (SERIAL[SERIAL_FLAGS] & SERIAL_FULL) {
    }
    SERIAL[0] = (uint8_t)byte;
}

static long firmware(uint64_t function, uint64_t a, uint64_t b, uint64_t c)
{
    register uint64_t x0 __asm__("x0") = function, x1 __asm__("x1") = a, x2 __asm__("x2") = b, x3 __asm__("x3") = c;
    __asm__ volatile("hvc #0" : "+r"(x0), "+r"(x1), "+r"(x2), "+r"(x3)::"memory");
    return (long)x0;
}

void processor_power_off(void)
{
    firmware(PSCI_SYSTEM_OFF, 0, 0, 0);
    for (;;) processor_wait();
}

long processor_host(long operation, const void *arguments)
{
    register long x0 __asm__("x0") = operation;
    register const void *x1 __asm__("x1") = arguments;
    __asm__ volatile("hlt #0xf000" : "+r"(x0) : "r"(x1) : "memory");
    return x0;
}

void processor_call(unsigned long call, void *argument)
{
    register unsigned long x0 __asm__("x0") = call;
    register void *x1 __asm__("x1") = argument;
    __asm__ volatile("svc #0" ::"r"(x0), "r"(x1) : "memory");
}

struct frame *processor_frame(void *stack_end, void (*entry)(void), struct context *context)
{
    struct frame *frame = (struct frame *)stack_end - 1;
    for (int i = 0; i < 31; ++i) frame->registers[i] = 0;
    frame->pc = (uintptr_t)entry;
    frame->status = STATUS_EL1; /* interrupts are on */
    frame->context = (uintptr_t)context;
    return frame;
}

/* ---- what calls kernel.c */

void processor_start_others(void)
{
    for (unsigned i = 1; i < PROCESSORS; ++i) {
        long failed = firmware(PSCI_CPU_ON, i, (uintptr_t)others_start, i);
        if (failed) kernel_panic("PSCI: the processor does not start", i, (uint64_t)failed);
    }
}

void processor_main(unsigned processor);
void processor_main(unsigned processor)
{
    void **stack_end = (void **)(void *)&processor_stacks[processor][1][STACK_SIZE - 16];
    *stack_end = kernel_context(processor, 1);
    WRITE("tpidr_el1", (uintptr_t)kernel_context(processor, 0));
    WRITE("tpidrro_el0", (uintptr_t)stack_end);
    WRITE("vbar_el1", (uintptr_t)vectors);
    if (!processor) GIC_DISTRIBUTOR[GIC_CONTROL] = 1;
    GIC_DISTRIBUTOR[GIC_ENABLE] = 1u << TIMER_INTERRUPT; /* each processor has a register of its own there */
    ((volatile uint8_t *)GIC_DISTRIBUTOR)[GIC_PRIORITY + TIMER_INTERRUPT] = 0x80;
    GIC_INTERFACE[GIC_MASK] = 0xff;
    GIC_INTERFACE[GIC_CONTROL] = 1;
    kernel_main(processor);
}

static struct frame *interrupt(struct frame *frame)
{
    uint32_t number = GIC_INTERFACE[GIC_TAKE];
    if ((number & 1023) == 1023) return frame; /* it has gone away */
    if ((number & 1023) != TIMER_INTERRUPT) kernel_panic("interrupt", number, 0);
    frame = kernel_timer(frame); /* which sets the next one, so that this one has ended */
    GIC_INTERFACE[GIC_DONE] = number;
    return frame;
}

struct frame *processor_trap(struct frame *frame, unsigned kind);
struct frame *processor_trap(struct frame *frame, unsigned kind)
{
    enum { UNKNOWN = 0, CALL = 0x15 };
    uint64_t why, *registers = frame->registers;
    READ("esr_el1", why);
    if (kind == INTERRUPT) return interrupt(frame);
    if (kind == SYNCHRONOUS && why >> 26 == CALL)
        return kernel_call(frame, registers[0], (void *)(uintptr_t)registers[1]);
    if (kind != SYNCHRONOUS || why >> 26 != UNKNOWN || *(uint32_t *)(uintptr_t)frame->pc != 0xd45e0000u)
        kernel_panic("trap", why, frame->pc);
    frame->pc += 4; /* of processor_host(): there is no host */
    registers[0] = ~(uint64_t)0;
    return frame;
}
