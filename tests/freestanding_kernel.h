/* freestanding_kernel.h - the entry points of freestanding_kernel.c, for the test that boots it. */
#ifndef FREESTANDING_KERNEL_H
#define FREESTANDING_KERNEL_H

#include <stddef.h>
#include <stdint.h>

#define KERNEL_PROCESSORS 3
#define KERNEL_HZ 1000000u
#define KERNEL_ENTRY __attribute__((visibility("default")))

KERNEL_ENTRY int kernel_start(void *memory, size_t size, int fill); /* these return a prof_status */
KERNEL_ENTRY int kernel_start_without_memory(void);
KERNEL_ENTRY int kernel_stop(void);
KERNEL_ENTRY int kernel_pause(int on);
KERNEL_ENTRY int kernel_enabled(void);
KERNEL_ENTRY const char *kernel_error(void);
KERNEL_ENTRY void kernel_run_on(unsigned processor);
KERNEL_ENTRY void kernel_interrupt_soon(void (*handler)(void), int after_read); /* at the next reading of the clock */

KERNEL_ENTRY void kernel_boot(void);
KERNEL_ENTRY void kernel_work(unsigned count);
KERNEL_ENTRY void kernel_nap(uint64_t ticks); /* a scope that takes so long */
KERNEL_ENTRY void kernel_one_scope(void);
KERNEL_ENTRY void kernel_one_mark(void);
KERNEL_ENTRY void kernel_one_counter(void);
KERNEL_ENTRY void kernel_one_text(void);
KERNEL_ENTRY void kernel_one_message(void);
KERNEL_ENTRY void kernel_one_step(void);
KERNEL_ENTRY void kernel_notes(void);
KERNEL_ENTRY void kernel_interrupt(void);
KERNEL_ENTRY void kernel_nmi(void);                   /* a scope on processor 2, which must not wait for a lock */
KERNEL_ENTRY unsigned kernel_waited(void);            /* how often a macro or a control function waited for a lock */
KERNEL_ENTRY void kernel_processor_end(unsigned processor);
KERNEL_ENTRY int kernel_snapshot(void **image, size_t *size); /* one at a time; valid until the next */

#define KERNEL_THREADS 4 /* which move between the processors */
KERNEL_ENTRY void kernel_threads_make(void);
KERNEL_ENTRY void kernel_switch_to(unsigned thread); /* on the processor that runs now; KERNEL_THREADS: none */
KERNEL_ENTRY void kernel_threads_are_tasks(void);    /* once recording has started: asks for their states */
KERNEL_ENTRY void kernel_pass(uint64_t ticks);       /* time passes */
KERNEL_ENTRY void kernel_enter(void);                /* begins a scope of the thread that runs now */
KERNEL_ENTRY void kernel_exit(void);
#endif
