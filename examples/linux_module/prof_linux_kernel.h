/* SPDX-License-Identifier: MIT-0 OR Unlicense */
/*
 * prof_linux_kernel.h - prof.h in the Linux kernel
 *
 * Every marked-up file of a module includes this instead of prof.h. One file of one module, which others then depend
 * on, defines PROF_IMPLEMENTATION before it; recorder.c shows what else it does.
 *
 * A macro may be used in any context: tasks, softirqs, hardirqs, kprobes, NMIs, with interrupts or preemption on or
 * off, while any lock is held. (Not in code that is noinstr: a macro is a call. objtool says so.) Each task has a state
 * of its own, and each processor one for softirqs, hardirqs, and the first and the deeper levels of NMIs. So no macro
 * ever finds another one in the middle of its work on the same state, but in an NMI within an NMI within an NMI, where
 * the event is lost and counted; and preemption and migration change nothing, because the state goes with the task.
 *
 * While nothing records, a macro is a static branch: a nop.
 */
#ifndef PROF_LINUX_KERNEL_H
#define PROF_LINUX_KERNEL_H

#include <linux/jump_label.h>
#include <linux/types.h>

#ifdef PROF_IMPLEMENTATION
#include <linux/hardirq.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/timekeeping.h>
#include <linux/timex.h>
#endif

#define PROF_FREESTANDING
#ifndef PROF_MINIMAL
#define PROF_MINIMAL
#endif
/* What the module does not need is left out: the texts of errors, warm-up, thresholds, other clocks. */
#define PROF_TINY
#define PROF_WITH_CATEGORIES
#define PROF_WITH_SHARED_CHUNKS /* tasks may be many and short */

DECLARE_STATIC_KEY_FALSE(prof_linux_on);
#define PROF_ANY_ON() static_branch_unlikely(&prof_linux_on)

/* Call sites are together, apart from the data of the module. */
#define PROF_SITE_PLACE __section("prof_sites")

#ifdef PROF_IMPLEMENTATION

#define PROF_CHUNK_SIZE 8192 /* each task has one while it lives, and each context of a processor */
#define PROF_MAX_TEXT 120    /* _F macros format on the stack */
#define PROF_VSNPRINTF vsnprintf

/* The clock: what user programs read as well. Pairs with the kernel's clocks say what a tick is. */
#define PROF_CLOCK_READ() get_cycles()
#define PROF_MONOTONIC_NS() ktime_get_mono_fast_ns() /* also in NMIs */
#define PROF_UNIX_NS() ktime_get_real_fast_ns()

/* The lock of a new call site or a new thread is held with interrupts off, and for some instructions. An NMI waits for
 * it only if it is not this processor that has it.
 */
DECLARE_PER_CPU(int, prof_linux_locked);
unsigned long prof_linux_interrupts_off(void);
void prof_linux_interrupts_restore(unsigned long flags);

#define PROF_INTERRUPTS_OFF() prof_linux_interrupts_off()
#define PROF_INTERRUPTS_RESTORE(flags) prof_linux_interrupts_restore(flags)
#define PROF_MAY_WAIT() (!in_nmi() || !this_cpu_read(prof_linux_locked))
#define PROF_WAIT() cpu_relax()

/* Snapshots. */
#define PROF_ALLOCATE(size) kvzalloc(size, GFP_KERNEL)
#define PROF_RELEASE(at) kvfree(at)

/* States. A record belongs to the task that it names. Records are found by hashing, without a lock; each processor
 * remembers the one that it found last. The record that has task == current is right whoever looks, and however often
 * the task was moved meanwhile.
 */
#define PROF_CPU_STATE_SIZE 704

struct prof_linux_record {
	struct task_struct *task; /* NULL: was never used */
	u64 row;		  /* the open scope in its row: running or waiting */
	char name[TASK_COMM_LEN]; /* that the row has; a task is renamed after it was made */
	u64 fiber[640 / 8];	  /* the row's track; see PROF_FIBER_SIZE */
	u8 state[PROF_CPU_STATE_SIZE] __aligned(16);
};

enum prof_linux_context {
	PROF_LINUX_SOFTIRQ,
	PROF_LINUX_HARDIRQ,
	PROF_LINUX_NMI,
	PROF_LINUX_NMI_NESTED, /* an NMI in a kprobe's trap, or the other way round */
	PROF_LINUX_ROW,	       /* which task runs: written by the scheduler's tracepoint */
	PROF_LINUX_TASK,
	PROF_LINUX_CONTEXTS = PROF_LINUX_TASK
};

struct prof_linux_cpu {
	struct prof_linux_record contexts[PROF_LINUX_CONTEXTS];
};

DECLARE_PER_CPU(struct prof_linux_record *, prof_linux_here);
void *prof_linux_state_slow(void);

/* With PREEMPT_RT a softirq can be preempted: then the scheduler's tracepoint runs in it, but records in its row. */
DECLARE_PER_CPU(int, prof_linux_switching);
static __always_inline bool prof_linux_in_softirq(void)
{
	return in_serving_softirq() && !(IS_ENABLED(CONFIG_PREEMPT_RT) && this_cpu_read(prof_linux_switching));
}

/* Returns the state of a task. In other contexts, or if the processor remembers another task, asks recorder.c. */
static __always_inline void *prof_linux_state(void)
{
	struct prof_linux_record *record = this_cpu_read(prof_linux_here);

	if (likely(!(preempt_count() & (NMI_MASK | HARDIRQ_MASK)) && !prof_linux_in_softirq() && record->task == current))
		return record->state;
	return prof_linux_state_slow();
}

u64 prof_linux_id(void);
void prof_linux_name(char *name, size_t size);

#define PROF_CPU_STATE() prof_linux_state()
#define PROF_CPU_ID() prof_linux_id()
#define PROF_CPU_NAME(name, size) prof_linux_name(name, size)

#endif /* PROF_IMPLEMENTATION */

#include "prof.h"

/* What recorder.c has for the other files of its module. They may sleep. */
int prof_linux_start(const prof_config *config); /* 0 or a negative errno */
int prof_linux_stop(void);
int prof_linux_running(void);
/* The image as it is when it is opened, while it records or after it. _piece() sets *piece to what is at this offset
 * and returns how much that is; 0: the end. The piece is there until the next call.
 */
struct prof_linux_view;
struct prof_linux_view *prof_linux_view_open(void); /* or ERR_PTR() */
size_t prof_linux_view_piece(struct prof_linux_view *view, u64 at, const char **piece);
void prof_linux_view_close(struct prof_linux_view *view);
int prof_control_init(void);
void prof_control_exit(void);

#endif /* PROF_LINUX_KERNEL_H */
