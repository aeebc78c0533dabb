/* kernel.c - a small kernel with two processors, tasks that are preempted, semaphores, and scopes of prof in all of it

       make -C examples/kernel run                              # builds it for RISC-V, and boots it in QEMU
       make -C examples/kernel run PROCESSOR=aarch64
       prof summary build/kernel/riscv64/kernel.prof

   It is a pattern for kernels of your own. What is about prof is in two files: prof_kernel.h, the hooks that prof.h
   asks for, and recorder.c, which starts and stops the recording and sends it out. The rest is the smallest kernel that
   has what such files must cope with. docs/guide/kernels.md says more.

   A trap (a tick of the timer, or a system call) saves the registers on the stack of the task, goes on with the stack
   and the context of the processor, and returns to the task that is to run now. Nothing interrupts a trap. */
#include "prof_kernel.h"

#include <stdarg.h>

/* ---- text */

/* volatile: keeps the compiler from making calls of themselves of these. */
void *memcpy(void *to, const void *from, size_t size)
{
    for (size_t i = 0; i < size; ++i) ((volatile char *)to)[i] = ((const char *)from)[i];
    return to;
}

void *memset(void *at, int value, size_t size)
{
    for (size_t i = 0; i < size; ++i) ((volatile char *)at)[i] = (char)value;
    return at;
}

int memcmp(const void *a, const void *b, size_t size)
{
    const volatile unsigned char *left = a, *right = b;
    for (size_t i = 0; i < size; ++i)
        if (left[i] != right[i]) return left[i] < right[i] ? -1 : 1;
    return 0;
}

static void put_text(const char *text)
{
    while (*text) processor_write(*text++);
}

static void put_number(uint64_t number, unsigned base)
{
    char digits[24];
    unsigned at = sizeof digits - 1;
    digits[at] = 0;
    do digits[--at] = "0123456789abcdef"[number % base];
    while (number /= base);
    put_text(digits + at);
}

void console(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    for (; *format; ++format) {
        if (*format != '%')
            processor_write(*format);
        else if (*++format == 's')
            put_text(va_arg(list, const char *));
        else if (*format == 'u')
            put_number(va_arg(list, unsigned long), 10);
        else
            put_number(va_arg(list, uint64_t), 16);
    }
    va_end(list);
}

void kernel_panic(const char *why, uint64_t a, uint64_t b)
{
    processor_interrupts_off();
    console("kernel: panic: %s: %x %x\n", why, a, b);
    processor_power_off();
}

/* ---- tasks */

struct task {
    struct context context; /* the first member: the context of a task is the task */
    struct frame *frame;    /* while it does not run */
    struct task *next;      /* in a queue */
    void (*work)(void);     /* NULL: free */
    unsigned number;        /* from 0, in the order in which they were made */
    unsigned ticks;
    unsigned char stack[STACK_SIZE] __attribute__((aligned(16)));
};

struct processor {
    struct context traps; /* the first member, as above */
    struct context idle;  /* runs when no task is ready: what booted it goes on as that */
    struct frame *idle_frame;
    struct task *running; /* NULL: idle */
    unsigned number;
    int parked;
};

enum { CALL_YIELD, CALL_WAIT, CALL_POST, CALL_END };

static struct processor processors[PROCESSORS];
static struct task tasks[TASKS];
static struct queue ready;
static unsigned tasks_made, tasks_alive; /* under the lock */
static int lock_word;                    /* of all the above but what belongs to one processor */

struct context *kernel_context(unsigned processor, int of_traps)
{
    return of_traps ? &processors[processor].traps : &processors[processor].idle;
}

static unsigned long lock(void)
{
    unsigned long before = processor_interrupts_off();
    while (__atomic_exchange_n(&lock_word, 1, __ATOMIC_ACQUIRE)) processor_pause();
    return before;
}

static void unlock(unsigned long before)
{
    __atomic_store_n(&lock_word, 0, __ATOMIC_RELEASE);
    processor_interrupts_restore(before);
}

static void queue_put(struct queue *queue, struct task *task)
{
    task->next = NULL;
    if (queue->first)
        queue->last->next = task;
    else
        queue->first = task;
    queue->last = task;
    ++queue->length;
}

static struct task *queue_take(struct queue *queue)
{
    struct task *task = queue->first;
    if (!task) return NULL;
    queue->first = task->next;
    --queue->length;
    return task;
}

/* How many scopes the tasks that have ended had passed. */
static struct {
    char name[NAME_SIZE];
    unsigned long scopes;
} ended[64];
static unsigned ended_count;

static void text_copy(char *to, const char *from, size_t size)
{
    size_t i = 0;
    for (; i + 1 < size && from[i]; ++i) to[i] = from[i];
    to[i] = 0;
}

static void context_count(const struct context *context)
{
    if (ended_count == sizeof ended / sizeof *ended) kernel_panic("too many tasks", ended_count, 0);
    text_copy(ended[ended_count].name, context->name, NAME_SIZE);
    ended[ended_count++].scopes = context->scopes;
}

/* ---- the scheduler: in a trap, with the lock */

static struct frame *switch_away(struct processor *here)
{
    SCOPE("schedule");
    struct task *from = here->running, *to = queue_take(&ready);
    COUNTER("ready tasks", ready.length);
    here->running = to;
    if (to != from) recorder_row(here->number, to ? to->context.name : "idle");
    return to ? to->frame : here->idle_frame;
}

static void frame_keep(struct processor *here, struct frame *frame)
{
    if (here->running)
        here->running->frame = frame;
    else
        here->idle_frame = frame;
}

struct frame *kernel_timer(struct frame *frame)
{
    SCOPE("timer interrupt");
    struct processor *here = (struct processor *)context_here();
    unsigned long before = lock();
    processor_timer_next();
    frame_keep(here, frame);
    if (here->running) {
        __atomic_fetch_add(&here->running->ticks, 1, __ATOMIC_RELAXED);
        queue_put(&ready, here->running);
    }
    frame = switch_away(here);
    unlock(before);
    return frame;
}

static void task_end(struct task *task)
{
    SCOPE("task end");
    recorder_context_end(&task->context); /* it runs no more: this is the processor's context */
    context_count(&task->context);
    task->work = NULL;
    --tasks_alive;
}

/* Does what a task asks for. Returns 1 if the task cannot go on now. */
static int call_do(struct task *task, unsigned long call, struct semaphore *semaphore)
{
    struct task *waiter;
    switch (call) {
    case CALL_YIELD: queue_put(&ready, task); return 1;
    case CALL_WAIT:
        if (!semaphore->count) {
            queue_put(&semaphore->waiters, task);
            return 1;
        }
        --semaphore->count;
        return 0;
    case CALL_POST:
        waiter = queue_take(&semaphore->waiters);
        if (waiter)
            queue_put(&ready, waiter);
        else
            ++semaphore->count;
        return 0;
    case CALL_END: task_end(task); return 1;
    default: kernel_panic("system call", call, 0);
    }
}

struct frame *kernel_call(struct frame *frame, unsigned long call, void *argument)
{
    SCOPE("system call");
    PROFILE_ARG_U("number", call);
    struct processor *here = (struct processor *)context_here();
    unsigned long before = lock();
    frame_keep(here, frame);
    if (call_do(here->running, call, argument)) frame = switch_away(here);
    unlock(before);
    return frame;
}

/* ---- for tasks */

static struct task *task_here(void) { return (struct task *)context_here(); }
unsigned task_number(void) { return task_here()->number; }
unsigned task_ticks(void) { return __atomic_load_n(&task_here()->ticks, __ATOMIC_RELAXED); }
void task_yield(void) { processor_call(CALL_YIELD, NULL); }
void semaphore_wait(struct semaphore *semaphore) { processor_call(CALL_WAIT, semaphore); }
void semaphore_post(struct semaphore *semaphore) { processor_call(CALL_POST, semaphore); }

static void task_entry(void)
{
    task_here()->work();
    processor_call(CALL_END, NULL);
}

int task_new(const char *name, void (*work)(void))
{
    SCOPE("task new");
    struct task *task = tasks;
    unsigned long before = lock();
    while (task < tasks + TASKS && task->work) ++task;
    if (task == tasks + TASKS) {
        unlock(before);
        return 0;
    }
    text_copy(task->context.name, name, NAME_SIZE);
    task->number = tasks_made++;
    task->context.id = 100 + task->number;
    task->context.scopes = 0;
    task->work = work;
    task->ticks = 0;
    task->frame = processor_frame(task->stack + STACK_SIZE, task_entry, &task->context);
    ++tasks_alive;
    queue_put(&ready, task);
    unlock(before);
    return 1;
}

/* ---- boot, idle, end */

static void context_name(struct context *context, unsigned id, unsigned processor, const char *what)
{
    context->id = id;
    text_copy(context->name, "cpu 0: ", NAME_SIZE);
    context->name[4] = (char)('0' + processor);
    text_copy(context->name + 7, what, NAME_SIZE - 7);
}

/* Waits until there are no tasks any more. A tick that comes meanwhile is taken where interrupts are on. */
static void idle(void)
{
    for (;;) {
        unsigned long before = lock();
        unsigned alive = tasks_alive;
        unlock(before);
        if (!alive) return;
        {
            SCOPE("idle");
            processor_wait();
        }
        processor_interrupts_restore(1);
        processor_interrupts_off();
    }
}

static void report(void)
{
    extern struct counted counted_start[], counted_end[]; /* kernel.ld */
    for (unsigned i = 0; i < PROCESSORS; ++i) {
        context_count(&processors[i].traps);
        context_count(&processors[i].idle);
    }
    for (const struct counted *at = counted_start; at < counted_end; ++at)
        console("count: %s: %s: %u\n", at->kind, at->name, at->count);
    for (unsigned i = 0; i < ended_count; ++i) console("count: track: %s: %u\n", ended[i].name, ended[i].scopes);
    console("image: %x %x\n", (uint64_t)(uintptr_t)kernel_image_start,
            (uint64_t)(kernel_image_end - kernel_image_start));
}

/* Each processor comes here, with interrupts off. All but the first end in wait; the first ends the recording once the
   others record no more, so that no macro is in the middle of its work. */
void kernel_main(unsigned number)
{
    struct processor *here = &processors[number];
    here->number = number;
    context_name(&here->traps, number, number, "traps");
    context_name(&here->idle, PROCESSORS + number, number, "idle");
    if (!number) {
        console("kernel: boots\n");
        recorder_start();
        tasks_begin();
        processor_start_others();
    }
    recorder_row(number, "idle");
    processor_timer_next();
    idle();
    processor_timer_stop();
    recorder_row(number, NULL);
    __atomic_store_n(&here->parked, 1, __ATOMIC_RELEASE);
    while (number) processor_wait();
    for (unsigned i = 1; i < PROCESSORS; ++i)
        while (!__atomic_load_n(&processors[i].parked, __ATOMIC_ACQUIRE)) processor_pause();
    recorder_stop();
    report();
    int has_files = recorder_send();
    console("kernel: done\n");
    if (has_files) processor_power_off();
    for (;;) processor_wait(); /* a debugger or the emulator can still save the memory */
}
