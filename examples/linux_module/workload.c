// SPDX-License-Identifier: MIT-0 OR Unlicense
/*
 * workload.c - a second module that marks up: scopes in tasks, softirqs, hardirqs, a kprobe and NMIs, all at once
 *
 * Loading it runs the work; reading /sys/kernel/debug/prof_workload waits until it is done, and says how often each
 * scope was passed: what the trace must have.
 */
#include "prof_linux_kernel.h"

#include <linux/atomic.h>
#include <linux/completion.h>
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/irq_work.h>
#include <linux/kprobes.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/timer.h>
#ifdef CONFIG_X86_LOCAL_APIC
#include <asm/apic.h>
#include <asm/nmi.h>
#endif

static unsigned int rounds = 300;
module_param(rounds, uint, 0444);
MODULE_PARM_DESC(rounds, "of each thread");

static unsigned int threads = 4;
module_param(threads, uint, 0444);
MODULE_PARM_DESC(threads, "for each processor; they move between processors");

enum { TASK, INNER, PREEMPTED, SHORT, TIMER, TASKLET, HRTIMER, IRQ_WORK, KPROBE, NMI, COUNTS };

static const char *const count_names[COUNTS] = {
	"round", "inner", "long", "short-lived task", "timer", "tasklet", "hrtimer", "irq work", "kprobe", "nmi",
};
static atomic_t counts[COUNTS];
static atomic_t running;
static bool ending;
static DECLARE_COMPLETION(done);
static DEFINE_MUTEX(shared);

#define DONE(what) atomic_inc(&counts[what])

/* ---- interrupts */

static noinline void work_a_little(unsigned int amount)
{
	while (amount--)
		cpu_relax();
}

static struct timer_list softirq_timer;
static struct tasklet_struct tasklet;
static struct irq_work irq_work;
static struct hrtimer hard_timer;

static void on_timer(struct timer_list *timer)
{
	PROFILE_SCOPE_C("timer", "softirq");
	DONE(TIMER);
	if (!READ_ONCE(ending))
		mod_timer(timer, jiffies + 1);
}

static void on_tasklet(struct tasklet_struct *unused)
{
	PROFILE_SCOPE_C("tasklet", "softirq");
	DONE(TASKLET);
	work_a_little(50);
}

static void on_irq_work(struct irq_work *unused)
{
	PROFILE_SCOPE_C("irq work", "hardirq");
	DONE(IRQ_WORK);
}

#ifdef CONFIG_X86_LOCAL_APIC
static bool nmi_wanted; /* our own, and nobody else's */

static int on_nmi(unsigned int type, struct pt_regs *registers)
{
	if (!xchg(&nmi_wanted, false))
		return NMI_DONE;
	PROFILE_SCOPE_C("nmi", "nmi");
	PROFILE_ARG_I("cpu", raw_smp_processor_id());
	DONE(NMI);
	return NMI_HANDLED;
}

static void send_nmi(void)
{
	static unsigned int last;

	if (xchg(&nmi_wanted, true)) /* the one before is still on its way */
		return;
	last = cpumask_next(last, cpu_online_mask);
	if (last >= nr_cpu_ids)
		last = cpumask_first(cpu_online_mask);
	apic->send_IPI(last, NMI_VECTOR);
}

static int nmi_add(void)
{
	return register_nmi_handler(NMI_LOCAL, on_nmi, 0, "prof_workload");
}

static void nmi_remove(void)
{
	unregister_nmi_handler(NMI_LOCAL, "prof_workload");
}
#else
static void send_nmi(void) {}
static int nmi_add(void) { return 0; }
static void nmi_remove(void) {}
#endif

static enum hrtimer_restart on_hrtimer(struct hrtimer *timer)
{
	PROFILE_SCOPE_C("hrtimer", "hardirq");
	DONE(HRTIMER);
	tasklet_schedule(&tasklet);
	irq_work_queue(&irq_work);
	send_nmi();
	if (READ_ONCE(ending))
		return HRTIMER_NORESTART;
	hrtimer_forward_now(timer, ns_to_ktime(500 * NSEC_PER_USEC));
	return HRTIMER_RESTART;
}

/* ---- a kprobe; a handler after the instruction makes it a trap, which counts as an NMI */

static noinline int probed(int value)
{
	work_a_little(1);
	return value + 1;
}

static int on_probe(struct kprobe *probe, struct pt_regs *registers)
{
	PROFILE_SCOPE_C("kprobe", "kprobe");
	DONE(KPROBE);
	return 0;
}

static void after_probe(struct kprobe *probe, struct pt_regs *registers, unsigned long flags)
{
	PROFILE_MARK_C("after the probe", "kprobe");
}

static struct kprobe probe = {
	.pre_handler = on_probe,
	.post_handler = after_probe,
};

/* ---- tasks */

/* Never returns, so that this module cannot be unloaded under it: no scope may be open here. */
static int leave(void)
{
	if (atomic_dec_and_test(&running))
		complete(&done);
	module_put_and_kthread_exit(0);
	return 0;
}

static void one_short(void)
{
	PROFILE_THREAD("a short task");
	PROFILE_SCOPE_C("short-lived task", "task");
	DONE(SHORT);
}

static int short_task(void *unused)
{
	one_short();
	return leave();
}

static void one_round(unsigned int number)
{
	int value = 0, i;

	PROFILE_SCOPE_C("round", "task");
	PROFILE_ARG_U("number", number);
	DONE(TASK);
	for (i = 0; i < 10; i++) {
		PROFILE_SCOPE_C("inner", "task");
		DONE(INNER);
		value = probed(value);
	}
	PROFILE_COUNTER("rounds", atomic_read(&counts[TASK]));
	PROFILE_BLOCK_C("long", "task")
	{
		DONE(PREEMPTED);
		work_a_little(2000); /* is interrupted, and preempted by threads that wake up */
	}
	if (number % 8 == 0) {
		PROFILE_LOCK_WAIT(&shared, "shared");
		mutex_lock(&shared);
		PROFILE_LOCK_ACQUIRE(&shared, "shared");
		PROFILE_MARK_C("has the lock", "task");
		PROFILE_LOCK_RELEASE(&shared, "shared");
		mutex_unlock(&shared);
	}
	if (number % 16 == 0)
		usleep_range(200, 400);
}

static int long_task(void *unused)
{
	unsigned int number;

	for (number = 0; number < rounds; number++)
		one_round(number);
	return leave();
}

static int run(int (*function)(void *), const char *name, unsigned int number)
{
	struct task_struct *task;

	atomic_inc(&running);
	__module_get(THIS_MODULE);
	task = kthread_run(function, NULL, "%s/%u", name, number);
	if (!IS_ERR(task))
		return 0;
	atomic_dec(&running);
	module_put(THIS_MODULE);
	return PTR_ERR(task);
}

static void make_tasks(void)
{
	unsigned int i, count = threads * num_online_cpus();

	PROFILE_SCOPE("all");
	for (i = 0; i < count; i++) {
		PROFILE_BLOCK("make")
			run(long_task, "work", i);
	}
	for (i = 0; i < 100; i++) {
		run(short_task, "short", i);
		if (i % 10 == 0)
			usleep_range(1000, 2000);
	}
}

static int all(void *unused)
{
	make_tasks();
	return leave();
}

static void interrupts_start(void)
{
	timer_setup(&softirq_timer, on_timer, 0);
	tasklet_setup(&tasklet, on_tasklet);
	init_irq_work(&irq_work, on_irq_work);
	hrtimer_init(&hard_timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_HARD);
	hard_timer.function = on_hrtimer;
	mod_timer(&softirq_timer, jiffies + 1);
	hrtimer_start(&hard_timer, ns_to_ktime(500 * NSEC_PER_USEC), HRTIMER_MODE_REL_HARD);
}

static void interrupts_stop(void)
{
	WRITE_ONCE(ending, true);
	del_timer_sync(&softirq_timer);
	hrtimer_cancel(&hard_timer);
	irq_work_sync(&irq_work);
	tasklet_kill(&tasklet);
}

/* ---- what was done */

static int report_show(struct seq_file *file, void *unused)
{
	int i;

	wait_for_completion(&done);
	complete_all(&done); /* the next one need not wait */
	interrupts_stop();
	msleep(20); /* the last NMI */
	for (i = 0; i < COUNTS; i++)
		seq_printf(file, "%s: %d\n", count_names[i], atomic_read(&counts[i]));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(report);

static struct dentry *report_file;

static void remove_all(void)
{
	debugfs_remove(report_file);
	interrupts_stop();
	unregister_kprobe(&probe);
	nmi_remove();
}

static int __init workload_load(void)
{
	int error = nmi_add();

	if (error)
		return error;
	probe.addr = (kprobe_opcode_t *)probed;
	error = register_kprobe(&probe);
	if (error) {
		nmi_remove();
		return error;
	}
	report_file = debugfs_create_file("prof_workload", 0400, NULL, NULL, &report_fops);
	interrupts_start();
	error = run(all, "all", 0);
	if (error)
		remove_all();
	return error;
}

static void __exit workload_unload(void)
{
	wait_for_completion(&done);
	remove_all();
}

module_init(workload_load);
module_exit(workload_unload);
MODULE_LICENSE("Dual MIT/GPL");
MODULE_DESCRIPTION("Marks up tasks, softirqs, hardirqs, a kprobe and NMIs");
