/* kernel.h - what the parts of this kernel know of each other

   kernel.c is the same for all processors; riscv64.c, aarch64.c and x86_64.c are what differs. */
#ifndef KERNEL_H
#define KERNEL_H

#include <stddef.h>
#include <stdint.h>

enum { PROCESSORS = 2, TASKS = 12, STACK_SIZE = 8192, NAME_SIZE = 24, CONTEXT_STATE_SIZE = 1024 };

/* Compilers call these by themselves, and prof.h for snapshots. */
void *memcpy(void *to, const void *from, size_t size);
void *memset(void *at, int value, size_t size);
int memcmp(const void *a, const void *b, size_t size);

/* ---- contexts

   A context is what macros of prof belong to: a task, or the traps (interrupts and system calls) of one processor. The
   processor has the address of the present one in a register. It is among the registers that a trap saves and restores,
   so it stays right if a task is preempted and moved to another processor at any instruction. */

struct context {
    unsigned char state[CONTEXT_STATE_SIZE] __attribute__((aligned(16))); /* prof's: zero at first */
#if defined(__x86_64__)
    struct context *self; /* one load takes it from %gs */
    void *stack_end;      /* of the processor's traps */
#endif
    char name[NAME_SIZE];
    unsigned id;
    unsigned long scopes; /* how many it has passed: to compare with the recording */
};

static inline struct context *context_here(void)
{
    struct context *here;
#if defined(__riscv)
    __asm__("mv %0, tp" : "=r"(here));
#elif defined(__aarch64__)
    __asm__("mrs %0, tpidr_el1" : "=r"(here));
#elif defined(__x86_64__)
    __asm__ volatile("mov %%gs:%c1, %0" : "=r"(here) : "i"(CONTEXT_STATE_SIZE));
#else
#error "this kernel knows RISC-V, AArch64 and x86-64"
#endif
    return here;
}

/* ---- what a processor's file has */

struct frame; /* the registers of what was interrupted, on its stack */

static inline uint64_t processor_clock(void) /* counts the same on all processors */
{
    uint64_t now;
#if defined(__riscv)
    __asm__ volatile("rdtime %0" : "=r"(now));
#elif defined(__x86_64__)
    uint32_t low, high;
    __asm__ volatile("lfence\n rdtsc" : "=a"(low), "=d"(high)::"memory");
    now = (uint64_t)high << 32 | low;
#else
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(now));
#endif
    return now;
}

uint64_t processor_clock_hz(void);
unsigned long processor_interrupts_off(void); /* returns 1 if they were on, else 0 */
void processor_interrupts_restore(unsigned long before);
void processor_pause(void);           /* while another processor has a lock */
void processor_wait(void);            /* until an interrupt is pending, also with interrupts off */
void processor_timer_next(void);      /* the next tick of this processor */
void processor_timer_stop(void);
void processor_start_others(void);    /* they call kernel_main() */
void processor_write(char byte);      /* to the serial port */
void processor_power_off(void) __attribute__((noreturn));
long processor_host(long operation, const void *arguments); /* semihosting; -1 where there is none */
void processor_call(unsigned long call, void *argument);    /* a system call: see kernel_call() */
struct frame *processor_frame(void *stack_end, void (*entry)(void), struct context *context); /* of a new task */

extern unsigned char processor_stacks[PROCESSORS][2][STACK_SIZE]; /* to boot and idle on, and of traps */
extern char kernel_image_start[], kernel_image_end[];             /* kernel.ld: the program in memory */

/* ---- what it calls: with interrupts off, the last two on the stack and in the context of the processor's traps. They
        return the frame of what is to run now. */

void kernel_main(unsigned processor) __attribute__((noreturn));
struct context *kernel_context(unsigned processor, int of_traps);
struct frame *kernel_timer(struct frame *frame);
struct frame *kernel_call(struct frame *frame, unsigned long call, void *argument);
void kernel_panic(const char *why, uint64_t a, uint64_t b) __attribute__((noreturn));

/* ---- for tasks */

struct task;
struct queue {
    struct task *first, *last;
    unsigned length;
};
struct semaphore {
    unsigned count;
    struct queue waiters;
};

int task_new(const char *name, void (*work)(void)); /* returns 0 if there are TASKS already */
unsigned task_ticks(void);                          /* how often a tick has interrupted this task */
unsigned task_number(void);
void semaphore_wait(struct semaphore *semaphore);
void semaphore_post(struct semaphore *semaphore);
void task_yield(void);
void tasks_begin(void); /* tasks.c: makes the first ones */

void console(const char *format, ...); /* %s, %u (unsigned long) and %x (uint64_t) */

/* ---- recorder.c */

void recorder_start(void);
void recorder_row(unsigned processor, const char *name); /* what runs there now; NULL: nothing any more */
void recorder_context_end(struct context *context);
void recorder_snapshot(void); /* keeps one */
void recorder_stop(void);
int recorder_send(void); /* to files of the host, or through the serial port; returns 1 if there are files */

#endif
