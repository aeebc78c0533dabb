/* x86_64.c - x86, 64 bits: boot by PVH, the other processor by INIT and SIPI, local APIC timer, serial port of a PC

   Addresses are as in memory: tables of pages of 2 MiB map the first 4 GiB to themselves. */
#include "kernel.h"

enum { TICKS_PER_SECOND = 1000, TIMER_VECTOR = 0x40, CALL_VECTOR = 0x80, SPURIOUS_VECTOR = 0xff, VECTORS = 256 };
enum { CODE32 = 0x08, DATA = 0x10, CODE64 = 0x18 };
#define APIC ((volatile uint32_t *)0xfee00000)
enum { APIC_ID = 0x20 / 4, APIC_DONE = 0xb0 / 4, APIC_SPURIOUS = 0xf0 / 4 };
enum { APIC_COMMAND = 0x300 / 4, APIC_COMMAND_TO = 0x310 / 4 };
enum { APIC_TIMER = 0x320 / 4, APIC_COUNT_FROM = 0x380 / 4, APIC_COUNT = 0x390 / 4, APIC_DIVIDE = 0x3e0 / 4 };
enum { APIC_ON = 1 << 8, APIC_MASKED = 1 << 16, APIC_DIVIDE_BY_1 = 11 };
enum { APIC_INIT = 0x4500, APIC_STARTUP = 0x4600, APIC_TO_ITSELF = 0x40000 };
#define HPET ((volatile uint32_t *)0xfed00000) /* QEMU's; ACPI says where it is */
enum { HPET_PERIOD = 4 / 4, HPET_CONTROL = 0x10 / 4, HPET_COUNT = 0xf0 / 4 };
enum { SERIAL = 0x3f8, POWER = 0x604 /* of QEMU's q35; ACPI says it */ };
enum { GS_BASE = 0xc0000101u - 0x100000000, OTHER_GS_BASE = 0xc0000102u - 0x100000000 };
#define TRAMPOLINE 0x8000 /* where the other processor begins: a page below 1 MiB */

/* What trap_entry and the processor put on the stack. */
struct frame {
    uint64_t context, r15, r14, r13, r12, r11, r10, r9, r8, rdi, rsi, rbp, rbx, rdx, rcx, rax;
    uint64_t vector, error;
    uint64_t rip, cs, flags, rsp, ss;
};
enum { FLAGS_INTERRUPTS = 1 << 9 };

unsigned char processor_stacks[PROCESSORS][2][STACK_SIZE] __attribute__((aligned(16)));

/* The first processor begins at _start, with 32 bits and without pages, as the note says. The other one begins at the
   copy of trampoline, with 16 bits. Both have a stack by the number of their APIC. */
__asm__(".section .note.Xen, \"a\", @note\n"
        "    .long 4, 4, 18\n" /* XEN_ELFNOTE_PHYS32_ENTRY */
        "    .asciz \"Xen\"\n"
        "    .long _start\n"
        ".section .data.tables, \"aw\"\n"
        ".balign 4096\n"
        "pages_2m:\n"
        "    .set at, 0\n"
        "    .rept 2048\n"
        "    .quad at + 0x83\n" /* present, writable, 2 MiB */
        "    .set at, at + 0x200000\n"
        "    .endr\n"
        "pages_1g:\n"
        "    .quad pages_2m + 3, pages_2m + 0x1003, pages_2m + 0x2003, pages_2m + 0x3003\n"
        "    .balign 4096\n"
        "pages:\n"
        "    .quad pages_1g + 3\n"
        "    .balign 4096\n"
        "segments:\n"
        "    .quad 0, 0x00cf9a000000ffff, 0x00cf92000000ffff, 0x00af9a000000ffff\n"
        "segments_end:\n"
        "segments_pointer:\n"
        "    .word segments_end - segments - 1\n"
        "    .quad segments\n"
        ".section .text.start, \"ax\"\n"
        ".code32\n"
        ".globl _start\n"
        "_start:\n"
        "    cli\n"
        "    cld\n"
        "    lgdt segments_pointer\n"
        "    ljmp $0x08, $0f\n"
        "0:  mov $0x10, %eax\n"
        "    mov %eax, %ds\n"
        "    mov %eax, %es\n"
        "    mov %eax, %ss\n"
        "    mov %eax, %fs\n"
        "    mov %eax, %gs\n"
        "    mov $pages, %eax\n"
        "    mov %eax, %cr3\n"
        "    mov %cr4, %eax\n"
        "    or $0x20, %eax\n" /* entries of 64 bits */
        "    mov %eax, %cr4\n"
        "    mov $0xc0000080, %ecx\n"
        "    rdmsr\n"
        "    or $0x100, %eax\n" /* long mode */
        "    wrmsr\n"
        "    mov %cr0, %eax\n"
        "    and $0x9fffffff, %eax\n" /* caches on */
        "    or $0x80000001, %eax\n"  /* pages on */
        "    mov %eax, %cr0\n"
        "    ljmp $0x18, $1f\n"
        ".code64\n"
        "1:  mov $0xfee00020, %edi\n"
        "    mov (%rdi), %ebx\n"
        "    shr $24, %ebx\n" /* the number of the processor */
        "    jnz 2f\n"
        "    mov $kernel_bss, %edi\n"
        "    mov $kernel_image_end, %ecx\n"
        "    sub %edi, %ecx\n"
        "    xor %eax, %eax\n"
        "    rep stosb\n"
        "2:  mov %ebx, %eax\n"
        "    shl $14, %eax\n"                         /* 2 * STACK_SIZE */
        "    lea processor_stacks + 8192(%rax), %rsp\n" /* the end of its first stack */
        "    mov %ebx, %edi\n"
        "    call processor_main\n"
        ".code16\n"
        "trampoline:\n"
        "    cli\n"
        "    lgdtl %cs:trampoline_segments - trampoline\n"
        "    mov %cr0, %eax\n"
        "    or $1, %al\n"
        "    mov %eax, %cr0\n"
        "    ljmpl $0x08, $_start\n"
        "trampoline_segments:\n"
        "    .word segments_end - segments - 1\n"
        "    .long segments\n"
        "trampoline_end:\n"
        ".code64\n"
        ".text\n");
typedef char stacks_are[PROCESSORS == 2 && STACK_SIZE == 8192 ? 1 : -1]; /* what the code above says */
extern const char trampoline[], trampoline_end[];

/* Each vector has 16 bytes of code at `vectors`. Some exceptions bring an error code. gs is the address of the present
   context, and swapgs exchanges it for that of the processor's traps, which has the end of their stack. An exception
   that is not a call ends the kernel where it is. */
typedef char stack_end_is[offsetof(struct context, stack_end) == 1032 ? 1 : -1];
__asm__(".text\n"
        ".balign 16\n"
        "vectors:\n"
        "    .set at, 0\n"
        "    .rept 256\n"
        "    .balign 16\n"
        "    .if at != 8 && (at < 10 || at > 14) && at != 17 && at != 21\n"
        "    push $0\n"
        "    .endif\n"
        "    push $at\n"
        "    jmp trap_entry\n"
        "    .set at, at + 1\n"
        "    .endr\n"
        "trap_entry:\n"
        "    cld\n"
        "    push %rax\n    push %rcx\n    push %rdx\n    push %rbx\n    push %rbp\n    push %rsi\n    push %rdi\n"
        "    push %r8\n    push %r9\n    push %r10\n    push %r11\n    push %r12\n    push %r13\n    push %r14\n"
        "    push %r15\n"
        "    mov $0xc0000101, %ecx\n" /* GS_BASE */
        "    rdmsr\n"
        "    shl $32, %rdx\n"
        "    or %rdx, %rax\n"
        "    push %rax\n"
        "    mov %rsp, %rdi\n"
        "    cmpl $32, 16*8(%rsp)\n" /* the vector */
        "    jb processor_exception\n"
        "    swapgs\n"
        "    mov %gs:1032, %rsp\n" /* context.stack_end */
        "    call processor_trap\n"
        "    swapgs\n"
        "    mov %rax, %rsp\n"
        "    pop %rax\n"
        "    mov %rax, %rdx\n"
        "    shr $32, %rdx\n"
        "    mov $0xc0000101, %ecx\n"
        "    wrmsr\n"
        "    pop %r15\n    pop %r14\n    pop %r13\n    pop %r12\n    pop %r11\n    pop %r10\n    pop %r9\n    pop %r8\n"
        "    pop %rdi\n    pop %rsi\n    pop %rbp\n    pop %rbx\n    pop %rdx\n    pop %rcx\n    pop %rax\n"
        "    add $16, %rsp\n"
        "    iretq\n");
extern const char vectors[];

/* ---- what kernel.c calls */

static inline void out8(uint16_t port, uint8_t byte) { __asm__ volatile("outb %0, %1" ::"a"(byte), "Nd"(port)); }
static inline void out16(uint16_t port, uint16_t word) { __asm__ volatile("outw %0, %1" ::"a"(word), "Nd"(port)); }

static inline uint8_t in8(uint16_t port)
{
    uint8_t byte;
    __asm__ volatile("inb %1, %0" : "=a"(byte) : "Nd"(port));
    return byte;
}

static void register_write(uint32_t number, uint64_t value)
{
    __asm__ volatile("wrmsr" ::"c"(number), "a"((uint32_t)value), "d"((uint32_t)(value >> 32)) : "memory");
}

static uint64_t clock_hz, apic_hz; /* measured */

uint64_t processor_clock_hz(void) { return clock_hz; }

unsigned long processor_interrupts_off(void)
{
    uint64_t flags;
    __asm__ volatile("pushfq\n pop %0\n cli" : "=r"(flags)::"memory");
    return !!(flags & FLAGS_INTERRUPTS);
}

void processor_interrupts_restore(unsigned long before)
{
    if (before) __asm__ volatile("sti" ::: "memory");
}

/* Long enough that prof's patience outlasts the time for which an emulator takes the other processor's thread away. */
void processor_pause(void)
{
    for (int i = 0; i < 100; ++i) __asm__ volatile("pause" ::: "memory");
}

/* This processor does not wait for an interrupt that it may not take. So it takes the timer's, which does nothing then,
   and sends it to itself again, for when interrupts are on. */
static volatile int waits[PROCESSORS];

static int timer_runs(void) { return !(APIC[APIC_TIMER] & APIC_MASKED); }

void processor_wait(void)
{
    volatile int *here = &waits[APIC[APIC_ID] >> 24];
    *here = 1;
    __asm__ volatile("sti\n hlt\n cli" ::: "memory");
    *here = 0;
    if (timer_runs()) APIC[APIC_COMMAND] = APIC_TO_ITSELF | TIMER_VECTOR;
}

void processor_timer_next(void)
{
    APIC[APIC_TIMER] = TIMER_VECTOR;
    APIC[APIC_COUNT_FROM] = (uint32_t)(apic_hz / TICKS_PER_SECOND);
}

void processor_timer_stop(void) { APIC[APIC_TIMER] = APIC_MASKED | TIMER_VECTOR; }

void processor_write(char byte)
{
    while (!(in8(SERIAL + 5) & 0x20)) {
    }
    out8(SERIAL, (uint8_t)byte);
}

void processor_power_off(void)
{
    out16(POWER, 0x2000);
    for (;;) processor_wait();
}

long processor_host(long operation, const void *arguments) /* emulators have no semihosting for this processor */
{
    (void)operation, (void)arguments;
    return -1;
}

void processor_call(unsigned long call, void *argument)
{
    __asm__ volatile("int $0x80" ::"D"(call), "S"(argument) : "memory");
}

struct frame *processor_frame(void *stack_end, void (*entry)(void), struct context *context)
{
    uint64_t *stack = (uint64_t *)stack_end - 1; /* as after a call */
    struct frame *frame = (struct frame *)(stack - 1) - 1;
    memset(frame, 0, sizeof *frame);
    context->self = context;
    frame->context = (uintptr_t)context;
    frame->rip = (uintptr_t)entry;
    frame->cs = CODE64;
    frame->flags = FLAGS_INTERRUPTS;
    frame->rsp = (uintptr_t)stack;
    frame->ss = DATA;
    return frame;
}

/* ---- what calls kernel.c */

static uint64_t hpet_hz(void) { return UINT64_C(1000000000000000) / HPET[HPET_PERIOD]; } /* the period in 10^-15 s */

/* Reads the other clocks at one time, as near as they can be: an emulator may take a processor away in between. */
static void clocks_read(uint32_t *hpet, uint64_t *clock, uint32_t *apic)
{
    uint64_t shortest = ~UINT64_C(0);
    for (int i = 0; i < 20; ++i) {
        uint64_t before = processor_clock();
        uint32_t hpet_now = HPET[HPET_COUNT], apic_now = APIC[APIC_COUNT];
        uint64_t after = processor_clock();
        if (after - before >= shortest) continue;
        shortest = after - before;
        *hpet = hpet_now;
        *apic = apic_now;
        *clock = before + (after - before) / 2;
    }
}

/* Measures the processor's clock and its timer for 20 ms of the HPET, whose rate is known. */
static void clocks_measure(void)
{
    uint32_t hpet[2], apic[2], passed;
    uint64_t clock[2];
    HPET[HPET_CONTROL] |= 1;
    APIC[APIC_TIMER] = APIC_MASKED | TIMER_VECTOR;
    APIC[APIC_COUNT_FROM] = ~0u;
    clocks_read(&hpet[0], &clock[0], &apic[0]);
    while (HPET[HPET_COUNT] - hpet[0] < hpet_hz() / 50) processor_pause();
    clocks_read(&hpet[1], &clock[1], &apic[1]);
    passed = hpet[1] - hpet[0];
    clock_hz = (clock[1] - clock[0]) * hpet_hz() / passed;
    apic_hz = (apic[0] - apic[1]) * hpet_hz() / passed;
}

static void sleep_us(uint64_t us)
{
    uint64_t from = processor_clock();
    while (processor_clock() - from < us * clock_hz / 1000000) processor_pause();
}

static void apic_command(uint32_t to, uint32_t command)
{
    APIC[APIC_COMMAND_TO] = to << 24;
    APIC[APIC_COMMAND] = command;
}

void processor_start_others(void)
{
    memcpy((void *)TRAMPOLINE, trampoline, (size_t)(trampoline_end - trampoline));
    for (uint32_t i = 1; i < PROCESSORS; ++i) {
        apic_command(i, APIC_INIT);
        sleep_us(10000);
        apic_command(i, APIC_STARTUP | TRAMPOLINE >> 12);
        sleep_us(200);
    }
}

static struct {
    uint16_t low, segment, kind, middle;
    uint32_t high, zero;
} gates[VECTORS];

static void vectors_make(void)
{
    enum { INTERRUPT_GATE = 0x8e00 };
    for (unsigned i = 0; i < VECTORS; ++i) {
        uintptr_t at = (uintptr_t)vectors + 16 * i;
        gates[i].low = (uint16_t)at;
        gates[i].segment = CODE64;
        gates[i].kind = INTERRUPT_GATE;
        gates[i].middle = (uint16_t)(at >> 16);
        gates[i].high = (uint32_t)(at >> 32);
    }
}

void processor_main(unsigned processor);
void processor_main(unsigned processor)
{
    struct {
        uint16_t size;
        uint64_t at;
    } __attribute__((packed)) table = {sizeof gates - 1, (uintptr_t)gates};
    for (int of_traps = 0; of_traps < 2; ++of_traps) {
        struct context *context = kernel_context(processor, of_traps);
        context->self = context;
        context->stack_end = &processor_stacks[processor][1][STACK_SIZE];
        register_write(of_traps ? OTHER_GS_BASE : GS_BASE, (uintptr_t)context);
    }
    if (!processor) {
        vectors_make();
        out8(0x21, 0xff); /* no interrupts of the old controllers */
        out8(0xa1, 0xff);
    }
    __asm__ volatile("lidt %0" ::"m"(table));
    APIC[APIC_SPURIOUS] = APIC_ON | SPURIOUS_VECTOR;
    APIC[APIC_DIVIDE] = APIC_DIVIDE_BY_1;
    if (!processor) clocks_measure();
    kernel_main(processor);
}

void processor_exception(struct frame *frame) __attribute__((noreturn));
void processor_exception(struct frame *frame)
{
    console("kernel: exception %u\n", frame->vector);
    kernel_panic("trap", frame->error, frame->rip);
}

struct frame *processor_trap(struct frame *frame);
struct frame *processor_trap(struct frame *frame)
{
    if (frame->vector == CALL_VECTOR) return kernel_call(frame, frame->rdi, (void *)frame->rsi);
    if (frame->vector == SPURIOUS_VECTOR) return frame;
    if (frame->vector != TIMER_VECTOR) kernel_panic("interrupt", frame->vector, frame->rip);
    if (timer_runs() && !waits[APIC[APIC_ID] >> 24]) frame = kernel_timer(frame); /* else it came before the stop */
    APIC[APIC_DONE] = 0;
    return frame;
}
