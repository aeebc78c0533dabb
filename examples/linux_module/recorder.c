// SPDX-License-Identifier: MIT-0 OR Unlicense
/*
 * recorder.c - the recorder: states of tasks, rows of what runs and waits, start and stop
 *
 * The only file with PROF_IMPLEMENTATION. Modules that mark up depend on this one through its exported symbols.
 */
#define PROF_IMPLEMENTATION
#include "prof_linux_kernel.h"

#include <linux/fs.h>
#include <linux/hash.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/oom.h>
#include <linux/rcupdate.h>
#include <linux/rcupdate_wait.h>
#include <linux/refcount.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/tracepoint.h>
#include <linux/utsname.h>
#include <linux/vmalloc.h>
#include <trace/events/sched.h>
#ifdef CONFIG_X86
#include <asm/tsc.h>
#endif

static_assert(sizeof(prof__thread) <= PROF_CPU_STATE_SIZE);

/* This file is compiled with -fwhole-program: gcc leaves out what is neither used here nor visible elsewhere. */
#ifdef __GENKSYMS__
#define PROF_LINUX_VISIBLE(symbol)
#else
#define PROF_LINUX_VISIBLE(symbol) extern typeof(symbol) symbol __visible
#endif
#define PROF_LINUX_EXPORT(symbol)   \
	PROF_LINUX_VISIBLE(symbol); \
	EXPORT_SYMBOL_GPL(symbol)

DEFINE_STATIC_KEY_FALSE(prof_linux_on);
PROF_LINUX_EXPORT(prof_linux_on);

/* What macros call. */
PROF_LINUX_EXPORT(prof__config_version);
PROF_LINUX_EXPORT(prof__check);
PROF_LINUX_EXPORT(prof__begin);
PROF_LINUX_EXPORT(prof__begin_text);
PROF_LINUX_EXPORT(prof__begin_format);
PROF_LINUX_EXPORT(prof__begin_number);
PROF_LINUX_EXPORT(prof__begin_unscoped);
PROF_LINUX_EXPORT(prof__end);
PROF_LINUX_EXPORT(prof__end_unscoped);
PROF_LINUX_EXPORT(prof__next);
PROF_LINUX_EXPORT(prof__mark);
PROF_LINUX_EXPORT(prof__mark_text);
PROF_LINUX_EXPORT(prof__mark_format);
PROF_LINUX_EXPORT(prof__frame);
PROF_LINUX_EXPORT(prof__event);
PROF_LINUX_EXPORT(prof__log);
PROF_LINUX_EXPORT(prof__memory);
PROF_LINUX_EXPORT(prof__count_int);
PROF_LINUX_EXPORT(prof__counter_int);
PROF_LINUX_EXPORT(prof__arg_int);
PROF_LINUX_EXPORT(prof__arg_uint);
PROF_LINUX_EXPORT(prof__arg_bool);
PROF_LINUX_EXPORT(prof__arg_pointer);
PROF_LINUX_EXPORT(prof__arg_string);
PROF_LINUX_EXPORT(prof__with);
PROF_LINUX_EXPORT(prof__count_uint);
PROF_LINUX_EXPORT(prof__counter_uint);
PROF_LINUX_EXPORT(prof__begin_part);
PROF_LINUX_EXPORT(prof__mark_part);
PROF_LINUX_EXPORT(prof__arg_part);
PROF_LINUX_EXPORT(prof__arg_part_to);
PROF_LINUX_EXPORT(prof__thread_part);
PROF_LINUX_EXPORT(prof__sync);
PROF_LINUX_EXPORT(prof__end_sync);
PROF_LINUX_EXPORT(prof_flow_new);
PROF_LINUX_EXPORT(prof_set_thread_name);

/* ---- states of tasks */

static unsigned int tasks = 4096;
module_param(tasks, uint, 0444);
MODULE_PARM_DESC(tasks, "how many tasks that use macros may live at the same time; 1.2 KiB each");

#define PROF_LINUX_PROBES 256

static struct prof_linux_record *prof_linux_records;
static unsigned int prof_linux_bits; /* log2 of their number */
static struct prof_linux_record *prof_linux_nobody;
#define PROF_LINUX_ENDED ((struct task_struct *)1) /* of a record that is free again, though a search goes on past it */

DEFINE_PER_CPU(struct prof_linux_record *, prof_linux_here);
static struct prof_linux_cpu __percpu *prof_linux_cpus;

DEFINE_PER_CPU(int, prof_linux_locked);

unsigned long prof_linux_interrupts_off(void)
{
	unsigned long flags;

	local_irq_save(flags);
	this_cpu_inc(prof_linux_locked);
	return flags;
}

void prof_linux_interrupts_restore(unsigned long flags)
{
	this_cpu_dec(prof_linux_locked);
	local_irq_restore(flags);
}

DEFINE_PER_CPU(int, prof_linux_switching);

static enum prof_linux_context prof_linux_context(void)
{
	unsigned long count = preempt_count();

	if (count & NMI_MASK)
		return (count & NMI_MASK) == NMI_OFFSET ? PROF_LINUX_NMI : PROF_LINUX_NMI_NESTED;
	if (count & HARDIRQ_MASK)
		return PROF_LINUX_HARDIRQ;
	return prof_linux_in_softirq() ? PROF_LINUX_SOFTIRQ : PROF_LINUX_TASK;
}

static struct prof_linux_record *prof_linux_row(void)
{
	return &this_cpu_ptr(prof_linux_cpus)->contexts[PROF_LINUX_ROW];
}

static struct prof_linux_record *prof_linux_slot(const struct task_struct *task, unsigned int probe)
{
	unsigned int at = hash_ptr(task, prof_linux_bits) + probe;

	return &prof_linux_records[at & ((1U << prof_linux_bits) - 1)];
}

/* The task's record, or NULL; *vacant: where it could be put. */
static struct prof_linux_record *prof_linux_search(const struct task_struct *task, struct prof_linux_record **vacant)
{
	unsigned int probe;

	*vacant = NULL;
	for (probe = 0; probe < PROF_LINUX_PROBES; probe++) {
		struct prof_linux_record *record = prof_linux_slot(task, probe);
		const struct task_struct *owner = READ_ONCE(record->task);

		if (owner == task)
			return record;
		if ((!owner || owner == PROF_LINUX_ENDED) && !*vacant)
			*vacant = record;
		if (!owner)
			break;
	}
	return NULL;
}

/* Nobody else puts the same task in at the same time: it is current, or is being switched to. */
static struct prof_linux_record *prof_linux_insert(struct task_struct *task)
{
	struct prof_linux_record *record, *vacant;
	struct task_struct *owner;

	do {
		record = prof_linux_search(task, &vacant);
		if (record || !vacant)
			return record;
		owner = READ_ONCE(vacant->task);
		if (owner && owner != PROF_LINUX_ENDED)
			continue;
		record = cmpxchg(&vacant->task, owner, task) == owner ? vacant : NULL;
	} while (!record);
	prof_fiber_init(record->fiber, NULL);
	record->name[0] = 0;
	record->row = 0;
	return record;
}

/* The record of current, which is remembered for this processor. If there is none left, what the task records is lost
 * and counted: nobody's record is always busy.
 */
static struct prof_linux_record *prof_linux_find(struct task_struct *task)
{
	struct prof_linux_record *record = prof_linux_insert(task);

	if (!record)
		return prof_linux_nobody;
	this_cpu_write(prof_linux_here, record); /* also right if the task has just been moved */
	return record;
}

/* A task will never run again: its chunk and its record serve others. */
static void prof_linux_task_free(void *data, struct task_struct *task)
{
	struct prof_linux_record *vacant, *record = prof_linux_search(task, &vacant);

	if (!record)
		return;
	prof_cpu_state_end(record->state);
	smp_store_release(&record->task, PROF_LINUX_ENDED);
}

void *prof_linux_state_slow(void)
{
	enum prof_linux_context context = prof_linux_context();

	if (context != PROF_LINUX_TASK)
		return this_cpu_ptr(prof_linux_cpus)->contexts[context].state;
	return prof_linux_find(current)->state;
}

/* The next two are called with interrupts off. The trace's thread id is a task's pid; of other contexts, a number that
 * no task has.
 */
static enum prof_linux_context prof_linux_track(void)
{
	enum prof_linux_context context = prof_linux_context();

	return context == PROF_LINUX_TASK && this_cpu_read(prof_linux_here) == prof_linux_row() ? PROF_LINUX_ROW : context;
}

u64 prof_linux_id(void)
{
	enum prof_linux_context context = prof_linux_track();

	if (context == PROF_LINUX_TASK && current->pid)
		return current->pid;
	return PID_MAX_LIMIT + raw_smp_processor_id() * (PROF_LINUX_CONTEXTS + 1) + context;
}

void prof_linux_name(char *name, size_t size)
{
	static const char *const names[PROF_LINUX_CONTEXTS] = { "softirqs", "hardirqs", "NMIs", "nested NMIs", "tasks" };
	enum prof_linux_context context = prof_linux_track();

	if (context == PROF_LINUX_TASK)
		strscpy(name, current->comm, size);
	else
		snprintf(name, size, "cpu %d: %s", raw_smp_processor_id(), names[context]);
}

/* ---- rows: a track for each processor that says which task runs, and one for each task: running, ready, waiting */

/* Colors: those that chrome://tracing has names for, thread_state_running and so on */
#define PROF_LINUX_SITE(variable, name, color)                                                                         \
	static prof_site variable = { 0, name, "sched", __FILE__, "", __LINE__, color, 1, PROF__KIND_BEGIN, 0, 0, 0 }
PROF_LINUX_SITE(prof_linux_task_site, "", 0);
PROF_LINUX_SITE(prof_linux_running_site, "running", 0x7ec894);
PROF_LINUX_SITE(prof_linux_ready_site, "ready", 0x85a0d2);
PROF_LINUX_SITE(prof_linux_waiting_site, "waiting", 0xf0f0f0);
PROF_LINUX_SITE(prof_linux_disk_site, "waiting uninterruptible", 0xb67d8f);

static void prof_linux_row_change(u64 *row, prof_site *site)
{
	if (*row)
		prof__end(*row);
	*row = site && prof__on(site) ? prof__begin(site) : 0;
}

static void prof_linux_row_of(struct task_struct *task, prof_site *site)
{
	struct prof_linux_record *record = task->pid ? prof_linux_insert(task) : NULL;

	char name[TASK_COMM_LEN + 24];

	if (!record)
		return;
	if (strncmp(record->name, task->comm, TASK_COMM_LEN)) {
		strscpy(record->name, task->comm, TASK_COMM_LEN);
		snprintf(name, sizeof(name), "%s %d: states", record->name, task->pid);
		prof__track_name((prof_fiber *)record->fiber, name);
	}
	prof_fiber_switch((prof_fiber *)record->fiber);
	prof_linux_row_change(&record->row, site);
}

/* With interrupts off: meanwhile macros of "this task" are those of the processor's row. */
static void prof_linux_switch(void *data, bool preempt, struct task_struct *prev, struct task_struct *next,
			      unsigned int prev_state)
{
	struct prof_linux_record *row = prof_linux_row();
	struct prof_linux_record *here = this_cpu_read(prof_linux_here);
	prof_site *site = &prof_linux_ready_site;

	if (!PROF_ANY_ON())
		return;
	row->task = current;
	this_cpu_write(prof_linux_switching, 1);
	this_cpu_write(prof_linux_here, row);
	prof_linux_row_change(&row->row, NULL);
	if (next->pid && prof__live(&prof_linux_task_site))
		row->row = prof__begin_text(&prof_linux_task_site, next->comm);
	if (!preempt && prev_state)
		site = prev_state & TASK_UNINTERRUPTIBLE ? &prof_linux_disk_site : &prof_linux_waiting_site;
	prof_linux_row_of(prev, prev_state & TASK_DEAD ? NULL : site);
	prof_linux_row_of(next, &prof_linux_running_site);
	prof_fiber_switch(NULL);
	row->task = NULL;
	this_cpu_write(prof_linux_here, here);
	this_cpu_write(prof_linux_switching, 0);
}

/* ---- tracepoints: not exported by name, but found in the list of all */

struct prof_linux_probe {
	const char *name;
	void *function;
	struct tracepoint *tracepoint;
	bool registered;
};

static struct prof_linux_probe prof_linux_free_probe = { "sched_process_free", prof_linux_task_free, NULL, false };
static struct prof_linux_probe prof_linux_switch_probe = { "sched_switch", prof_linux_switch, NULL, false };

static void prof_linux_probe_match(struct tracepoint *tracepoint, void *data)
{
	struct prof_linux_probe *probe = data;

	if (!strcmp(tracepoint->name, probe->name))
		probe->tracepoint = tracepoint;
}

static int prof_linux_probe_add(struct prof_linux_probe *probe)
{
	int error;

	for_each_kernel_tracepoint(prof_linux_probe_match, probe);
	if (!probe->tracepoint)
		return -ENOENT;
	error = tracepoint_probe_register(probe->tracepoint, probe->function, NULL);
	probe->registered = !error;
	return error;
}

static void prof_linux_probe_remove(struct prof_linux_probe *probe)
{
	if (probe->registered)
		tracepoint_probe_unregister(probe->tracepoint, probe->function, NULL);
	probe->registered = false;
}

/* Macros have the types of these; the compiler checks that the kernel's are the same. */
static void __maybe_unused prof_linux_probes_check(void)
{
	check_trace_callback_type_sched_switch(prof_linux_switch);
	check_trace_callback_type_sched_process_free(prof_linux_task_free);
}

/* ---- memory */

/* An image. Files that read it keep it, also when the next session has begun. */
struct prof_linux_memory {
	refcount_t users;
	char *bytes;
};

static struct prof_linux_memory *prof_linux_memory;

/* Returns NULL rather than take what the rest of the machine needs: one sixteenth of all memory stays available. If
 * that was wrong meanwhile, the process that asked for the buffer is the first one to go.
 */
static void *prof_linux_allocate(size_t size, gfp_t more)
{
	long spare = si_mem_available() - (long)(totalram_pages() / 16);
	void *bytes;

	if (spare < 0 || size >> PAGE_SHIFT >= (size_t)spare)
		return NULL;
	set_current_oom_origin();
	bytes = __vmalloc(size, GFP_KERNEL | __GFP_RETRY_MAYFAIL | __GFP_NOWARN | more);
	clear_current_oom_origin();
	return bytes;
}

static void prof_linux_memory_put(struct prof_linux_memory *memory)
{
	if (!memory || !refcount_dec_and_test(&memory->users))
		return;
	vfree(memory->bytes);
	kfree(memory);
}

static struct prof_linux_memory *prof_linux_memory_make(size_t size)
{
	struct prof_linux_memory *memory = kmalloc(sizeof(*memory), GFP_KERNEL);

	if (!memory)
		return NULL;
	refcount_set(&memory->users, 1);
	memory->bytes = prof_linux_allocate(size, 0);
	if (memory->bytes)
		return memory;
	prof_linux_memory_put(memory);
	return NULL;
}

/* ---- start and stop */

static DEFINE_MUTEX(prof_linux_mutex);
static bool prof_linux_runs;

PROF_LINUX_VISIBLE(prof_linux_start);
PROF_LINUX_VISIBLE(prof_linux_stop);
PROF_LINUX_VISIBLE(prof_linux_running);
PROF_LINUX_VISIBLE(prof_linux_view_open);
PROF_LINUX_VISIBLE(prof_linux_view_piece);
PROF_LINUX_VISIBLE(prof_linux_view_close);

static int prof_linux_failed(prof_status status)
{
	return status == PROF_NO_MEMORY ? -ENOMEM : status == PROF_INVALID_STATE ? -EBUSY : -EINVAL;
}

/* Waits until no macro is in the middle of its work that began before: tasks may have been preempted there. */
static void prof_linux_synchronize(void)
{
#ifdef CONFIG_TASKS_RCU
	synchronize_rcu_tasks();
#endif
	tracepoint_synchronize_unregister(); /* and handlers of interrupts */
}

/* Says which boot this is, so that programs of the same one can be merged with it. */
static void prof_linux_about(prof__header *header)
{
	struct file *file = filp_open("/proc/sys/kernel/random/boot_id", O_RDONLY, 0);
	char text[40] = "";
	loff_t at = 0;

	if (!IS_ERR(file)) {
		if (kernel_read(file, text, sizeof(text) - 1, &at) < 36)
			text[0] = 0;
		filp_close(file, NULL);
	}
	text[36] = 0;
	strscpy(header->boot_id, text, sizeof(header->boot_id));
	strscpy(header->program, "linux", sizeof(header->program));
}

static int prof_linux_start_locked(const prof_config *config)
{
	prof_config own = *config;
	prof_status status;
	struct prof_linux_memory *memory;
	int error;

	if (prof_linux_runs)
		return -EBUSY;
	memory = prof_linux_memory_make(own.memory_size);
	if (!memory)
		return -ENOMEM;
	own.memory = memory->bytes;
#ifdef CONFIG_X86
	own.clock_hz = tsc_khz * 1000ULL;
#endif
	status = prof_start(&own); /* nobody is in the old memory: see prof_linux_stop() */
	if (status) {
		prof_linux_memory_put(memory);
		return prof_linux_failed(status);
	}
	if (prof_linux_memory)
		prof_linux_synchronize(); /* a macro that lost its event may just be counting it in the old image */
	prof_linux_memory_put(prof_linux_memory);
	prof_linux_memory = memory;
	prof_linux_about(prof__state.session->header);
	prof_set_metadata("kernel", init_utsname()->release);
	prof_linux_runs = true;
	static_branch_enable(&prof_linux_on);
	error = prof_linux_probe_add(&prof_linux_switch_probe);
	if (error)
		pr_warn("prof: no rows of what runs and waits: sched_switch: %d\n", error);
	return 0;
}

static int prof_linux_stop_locked(void)
{
	prof_status status;

	if (!prof_linux_runs)
		return -EINVAL;
	prof_linux_probe_remove(&prof_linux_switch_probe);
	status = prof_stop();
	static_branch_disable(&prof_linux_on);
	prof_linux_runs = false;
	prof_linux_synchronize(); /* from here on no macro has an address in the image */
	return status ? prof_linux_failed(status) : 0;
}

int prof_linux_start(const prof_config *config)
{
	int error;

	mutex_lock(&prof_linux_mutex);
	error = prof_linux_start_locked(config);
	mutex_unlock(&prof_linux_mutex);
	return error;
}

int prof_linux_stop(void)
{
	int error;

	mutex_lock(&prof_linux_mutex);
	error = prof_linux_stop_locked();
	mutex_unlock(&prof_linux_mutex);
	return error;
}

int prof_linux_running(void)
{
	return READ_ONCE(prof_linux_runs);
}

/* ---- reading */

/* An image as it was when it was opened, which is read in pieces: a copy of a large one might find no memory. Noted are
 * the header, and of each chunk its sequence number and how much of it was written. What is recorded later is not a
 * part of it; chunks that were reused meanwhile are empty.
 */
struct prof_linux_view {
	struct prof_linux_memory *memory;
	prof__header header; /* without its magic: in a dump of the machine's memory it would look like an image */
	u64 *sequences;
	u32 *sizes;
	char *piece; /* of chunk_size bytes */
};

static const prof__chunk *prof_linux_chunk(const struct prof_linux_view *view, u64 slot)
{
	return (void *)(view->memory->bytes + view->header.chunk_offset + slot * view->header.chunk_size);
}

/* How many bytes of a chunk are complete records. */
static u32 prof_linux_chunk_used(const struct prof_linux_view *view, const prof__chunk *chunk)
{
	const u64 *words = (const u64 *)(chunk + 1);
	size_t at = 0, length = 1, count = (view->header.chunk_size - sizeof(*chunk)) / 8;

	if (PROF__ACQUIRE(&chunk->state) == PROF__CHUNK_FULL)
		return view->header.chunk_size;
	for (; at < count && length; at += length) {
		u64 head = PROF__ACQUIRE(words + at);

		length = head >> PROF__KIND_SHIFT ? prof__record_length(head, count - at) : 0;
	}
	return sizeof(*chunk) + at * 8;
}

/* Each thread has its events up to some moment after the first line. Meta is last: it names what they are. */
static void prof_linux_view_note(struct prof_linux_view *view, prof__session *s)
{
	u64 tick = prof__now_of(s->clock), newest = PROF__ACQUIRE(&s->header->next_chunk), slot;
	u32 write_lock;

	for (slot = 0; slot < view->header.chunk_count; slot++) {
		const prof__chunk *chunk = prof_linux_chunk(view, slot);
		u64 sequence = PROF__ACQUIRE(&chunk->sequence);

		view->sizes[slot] = sequence ? prof_linux_chunk_used(view, chunk) : 0;
		view->sequences[slot] = sequence <= newest && PROF__LOAD(&chunk->sequence) == sequence ? sequence : 0;
	}
	write_lock = prof__state_lock();
	view->header = *s->header;
	prof__state_unlock(write_lock);
	memset(view->header.magic, 0, sizeof(view->header.magic));
	view->header.next_chunk = newest;
	view->header.copy_tick = prof_linux_runs ? tick : 0;
}

static int prof_linux_view_begin(struct prof_linux_view *view)
{
	prof__session *s;
	u32 write_lock = prof__state_lock();

	s = prof__state.session;
	if (s && prof__state.running)
		prof__pair_take_well(s->clock, s->header->tick_hz, &s->header->last);
	if (s)
		prof__lost_collect(s);
	prof__state_unlock(write_lock);
	if (!s)
		return -EBUSY;
	view->header = *s->header;
	memset(view->header.magic, 0, sizeof(view->header.magic));
	view->piece = kmalloc(view->header.chunk_size, GFP_KERNEL);
	view->sequences = prof_linux_allocate(view->header.chunk_count * sizeof(*view->sequences), 0);
	view->sizes = prof_linux_allocate(view->header.chunk_count * sizeof(*view->sizes), 0);
	if (!view->piece || !view->sequences || !view->sizes)
		return -ENOMEM;
	refcount_inc(&prof_linux_memory->users);
	view->memory = prof_linux_memory;
	prof_linux_view_note(view, s);
	return 0;
}

void prof_linux_view_close(struct prof_linux_view *view)
{
	prof_linux_memory_put(view->memory);
	vfree(view->sizes);
	vfree(view->sequences);
	kfree(view->piece);
	kfree(view);
}

struct prof_linux_view *prof_linux_view_open(void)
{
	struct prof_linux_view *view = kzalloc(sizeof(*view), GFP_KERNEL);
	int error;

	if (!view)
		return ERR_PTR(-ENOMEM);
	mutex_lock(&prof_linux_mutex);
	error = prof_linux_view_begin(view);
	mutex_unlock(&prof_linux_mutex);
	if (!error)
		return view;
	prof_linux_view_close(view);
	return ERR_PTR(error);
}

/* What is before the chunks: the header, meta as far as it is used, zeros. */
static size_t prof_linux_view_head(struct prof_linux_view *view, u64 at)
{
	const prof__header *h = &view->header;
	size_t size = min_t(u64, h->chunk_offset - at, h->chunk_size);
	u64 end = h->meta_offset + h->meta_used, from = max_t(u64, at, h->meta_offset);

	memset(view->piece, 0, size);
	if (from < at + size && from < end)
		memcpy(view->piece + (from - at), view->memory->bytes + from, min_t(u64, at + size, end) - from);
	if (at < sizeof(*h)) {
		size = sizeof(*h) - at;
		memcpy(view->piece, (const char *)h + at, size);
		if (at < sizeof(h->magic))
			memcpy(view->piece, PROF__MAGIC + at, sizeof(h->magic) - at);
	}
	return size;
}

static void prof_linux_view_chunk(struct prof_linux_view *view, u64 slot)
{
	const prof__chunk *chunk = prof_linux_chunk(view, slot);
	u32 size = view->sequences[slot] ? view->sizes[slot] : 0;

	memset(view->piece, 0, view->header.chunk_size);
	if (!size || PROF__ACQUIRE(&chunk->sequence) != view->sequences[slot])
		return;
	memcpy(view->piece, chunk, size);
	smp_rmb(); /* a thread that takes the chunk changes its number before anything else */
	if (PROF__LOAD(&chunk->sequence) != view->sequences[slot])
		memset(view->piece, 0, size);
}

size_t prof_linux_view_piece(struct prof_linux_view *view, u64 at, const char **piece)
{
	const prof__header *h = &view->header;
	u32 begin;

	*piece = view->piece;
	if (at < h->chunk_offset)
		return prof_linux_view_head(view, at);
	at -= h->chunk_offset;
	if (at >= h->chunk_count * h->chunk_size)
		return 0;
	begin = at % h->chunk_size;
	prof_linux_view_chunk(view, at / h->chunk_size);
	*piece += begin;
	return h->chunk_size - begin;
}

/* ---- the module */

/* Modules that mark up are gone by now: they depend on this one. */
static void prof_linux_exit(void)
{
	if (prof_linux_running())
		prof_linux_stop();
	prof_linux_probe_remove(&prof_linux_free_probe);
	prof_linux_synchronize();
	free_percpu(prof_linux_cpus);
	vfree(prof_linux_records);
	prof_linux_memory_put(prof_linux_memory);
}

static int __init prof_linux_init(void)
{
	int error = -ENOMEM, cpu;

	prof_linux_bits = order_base_2(clamp(tasks, 64U, 1U << 22));
	prof_linux_records = prof_linux_allocate(((size_t)1 + (1U << prof_linux_bits)) * sizeof(*prof_linux_records),
						 __GFP_ZERO);
	prof_linux_cpus = alloc_percpu(struct prof_linux_cpu);
	if (prof_linux_records && prof_linux_cpus) {
		prof_linux_nobody = prof_linux_records + (1U << prof_linux_bits);
		((prof__thread *)prof_linux_nobody->state)->write_lock = PROF__BUSY;
		for_each_possible_cpu(cpu)
			per_cpu(prof_linux_here, cpu) = prof_linux_nobody;
		error = prof_linux_probe_add(&prof_linux_free_probe);
	}
	if (error)
		prof_linux_exit();
	return error;
}

static int __init prof_linux_load(void)
{
	int error = prof_linux_init();

	if (error)
		return error;
	error = prof_control_init();
	if (error)
		prof_linux_exit();
	return error;
}

static void __exit prof_linux_unload(void)
{
	prof_control_exit();
	prof_linux_exit();
}

module_init(prof_linux_load);
module_exit(prof_linux_unload);
PROF_LINUX_VISIBLE(init_module);
PROF_LINUX_VISIBLE(cleanup_module);
MODULE_LICENSE("Dual MIT/GPL");
MODULE_DESCRIPTION("Records scopes of tasks and interrupts into an image for the prof tool");
