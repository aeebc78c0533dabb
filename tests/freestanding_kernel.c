/* freestanding_kernel.c - the recorder without an operating system: no libc, a clock, a state and a number for each
   processor that the kernel itself provides, a plain array to record into, interrupts that come at the worst moment.

   A kernel would link this as it is. The test makes a shared library of it, so that the kernel's recorder and the one
   of the program that reads the image, which have the same names, can be in one process; -z defs makes the link fail if
   anything from outside is needed but the compiler's own arithmetic (-lgcc):

     cc -std=gnu99 -I. -O2 -fPIC -ffreestanding -nostdlib -fno-stack-protector -shared -Wl,-z,defs \
         tests/freestanding_kernel.c -o build/tests/libfreestanding_kernel.so -lgcc
     cc -std=gnu99 -I. -O2 tests/test_freestanding.c build/tests/libfreestanding_kernel.so -Wl,-rpath,'$ORIGIN' \
         -o build/tests/test_freestanding -pthread

   tests/compile/freestanding.sh compiles it for other processors, and looks at what it leaves undefined. */
#include "freestanding_kernel.h"

/* ---- what the kernel provides */

static struct kernel_processor {
    unsigned char state[1024] __attribute__((aligned(16)));
} kernel_processors[KERNEL_PROCESSORS];

static unsigned kernel_processor;     /* the one that runs now */
static uint64_t kernel_ticks;         /* moves when it is read */
static int kernel_in_nmi;
static unsigned kernel_waits;
static void (*kernel_pending)(void);  /* the interrupt that comes at the next reading of the clock */
static int kernel_pending_after_read; /* it comes after the counter was read, not before */

static uint64_t kernel_clock(void)
{
    void (*interrupt)(void) = kernel_pending;
    uint64_t now;
    kernel_pending = 0;
    if (interrupt && !kernel_pending_after_read) interrupt();
    now = __atomic_add_fetch(&kernel_ticks, 1, __ATOMIC_RELAXED);
    if (interrupt && kernel_pending_after_read) interrupt();
    return now;
}

/* Compilers call these by themselves, with and without a libc; every kernel has them. */
#define KERNEL_OWN __attribute__((visibility("hidden")))
KERNEL_OWN void *memcpy(void *to, const void *from, size_t size);
KERNEL_OWN void *memset(void *at, int value, size_t size);

KERNEL_OWN void *memcpy(void *to, const void *from, size_t size)
{
    size_t i;
    for (i = 0; i < size; ++i) ((volatile char *)to)[i] = ((const char *)from)[i];
    return to;
}

KERNEL_OWN void *memset(void *at, int value, size_t size)
{
    size_t i;
    for (i = 0; i < size; ++i) ((volatile char *)at)[i] = (char)value;
    return at;
}

KERNEL_OWN int memcmp(const void *a, const void *b, size_t size);
KERNEL_OWN int memcmp(const void *a, const void *b, size_t size)
{
    size_t i;
    for (i = 0; i < size; ++i)
        if (((const volatile char *)a)[i] != ((const char *)b)[i]) return 1;
    return 0;
}

/* Memory for snapshots: all of it is free again when no part is used. */
static uint64_t kernel_memory[((size_t)9 << 19) / 8];
static size_t kernel_memory_used, kernel_memory_parts;

static void *kernel_allocate(size_t size)
{
    void *at = (char *)kernel_memory + kernel_memory_used;
    size = (size + 7) / 8 * 8;
    if (size > sizeof kernel_memory - kernel_memory_used) return 0;
    kernel_memory_used += size;
    ++kernel_memory_parts;
    memset(at, 0, size);
    return at;
}

static void kernel_free(void *at)
{
    if (at && --kernel_memory_parts == 0) kernel_memory_used = 0;
}

#define PROF_DEF KERNEL_OWN /* for the shared library, see above */
#define PROF_FREESTANDING
#define PROF_CLOCK_READ() kernel_clock()
#define PROF_CPU_STATE() kernel_processors[kernel_processor].state
#define PROF_CPU_STATE_SIZE 1024
#define PROF_CPU_ID() kernel_processor
#define PROF_WAIT() ((void)++kernel_waits)
#define PROF_MAY_WAIT() (!kernel_in_nmi)
#define PROF_ALLOCATE(size) kernel_allocate(size)
#define PROF_RELEASE(at) kernel_free(at)
#define PROF_MAX_TEXT 40
#define PROF_IMPLEMENTATION
#include "prof.h"

/* ---- control */

KERNEL_ENTRY int kernel_start(void *memory, size_t size, int fill)
{
    static prof_config config; /* all zero, in C and in C++ */
    config.memory = memory;
    config.memory_size = size;
    config.clock_hz = KERNEL_HZ;
    config.mode = fill ? PROF_FILL : PROF_RING;
    config.categories = "-noise";
    return (int)prof_start(&config);
}

KERNEL_ENTRY int kernel_start_without_memory(void) { return (int)prof_start(0); }
KERNEL_ENTRY int kernel_stop(void) { return (int)prof_stop(); }
KERNEL_ENTRY int kernel_pause(int on) { return (int)(on ? prof_pause() : prof_resume()); }
KERNEL_ENTRY int kernel_enabled(void) { return prof_enabled(); }
KERNEL_ENTRY const char *kernel_error(void) { return prof_error(); }
KERNEL_ENTRY void kernel_run_on(unsigned processor) { kernel_processor = processor; }
KERNEL_ENTRY void kernel_interrupt_soon(void (*handler)(void), int after_read)
{
    kernel_pending = handler;
    kernel_pending_after_read = after_read;
}

/* ---- what is recorded */

KERNEL_ENTRY void kernel_boot(void)
{
    PROFILE_THREAD("boot processor");
    PROFILE_FUNCTION();
    PROFILE_SCOPE("boot");
    PROFILE_ARG_I("memory", -1);
    PROFILE_ARG_U("pages", 18446744073709551615ull);
    PROFILE_ARG_S("command line", "root=/dev/ram0 quiet");
    PROFILE_ARG_B("secure", 1);
    PROFILE_ARG_D("load", 0.5);
    PROFILE_BLOCK("drivers") {
        PROFILE_MARK("probed");
        PROFILE_MARK_DYNAMIC("a name made at run time, longer than what is kept of one");
    }
    PROFILE_MARK_C("not wanted", "noise");
    PROFILE_COUNTER("pages free", 1000);
    PROFILE_COUNTER("temperature", 36.5);
    PROFILE_FRAME("tick");
    PROFILE_BEGIN("loose");
    {
        PROFILE_STAGE("stage 1");
        PROFILE_NEXT("stage 2");
    }
    PROFILE_END("loose");
    PROFILE_SCOPE_F("%d is not formatted here", 1);
}

KERNEL_ENTRY void kernel_work(unsigned count)
{
    unsigned i;
    for (i = 0; i < count; ++i) {
        PROFILE_SCOPE("work");
        PROFILE_BLOCK("inner work") PROFILE_ARG_U("i", i);
    }
}

KERNEL_ENTRY void kernel_nap(uint64_t ticks)
{
    PROFILE_SCOPE("nap");
    __atomic_add_fetch(&kernel_ticks, ticks, __ATOMIC_RELAXED);
}

/* Annotations: nothing of them needs a libc, messages least of all, which are formatted elsewhere. */
KERNEL_ENTRY void kernel_notes(void)
{
    int i;
    PROFILE_SCOPE_MASK("masked", 6);
    for (i = 0; i < 2; ++i) {
        PROFILE_STEP("step", i);
        PROFILE_THROUGHPUT("copy", 4096u * 16);
        PROFILE_FLOW_OUT((uint64_t)i + 1);
        PROFILE_LOG(PROF_LOG_WARNING, "page %d of %s: %5.1f %% at %p, %.*s|%lld", i, "memory", 12.5, (void *)0x1000, 3, "abcdef",
                    -1ll);
    }
    PROFILE_LOG(PROF_LOG_DEBUG, "not on");
}

/* One macro at a time, for an interrupt to come in the middle of. */
KERNEL_ENTRY void kernel_one_scope(void) { PROFILE_SCOPE("interrupted scope"); }
KERNEL_ENTRY void kernel_one_mark(void) { PROFILE_MARK("interrupted mark"); }
KERNEL_ENTRY void kernel_one_counter(void) { PROFILE_COUNTER("interrupted counter", 1); }
KERNEL_ENTRY void kernel_one_text(void) { PROFILE_MARK_DYNAMIC("interrupted text"); }
KERNEL_ENTRY void kernel_one_message(void) { PROFILE_LOG(PROF_LOG_INFO, "interrupted %s %d", "message", 1); }
KERNEL_ENTRY void kernel_one_step(void) { PROFILE_STEP("interrupted step", 1); }

KERNEL_ENTRY void kernel_interrupt(void)
{
    PROFILE_SCOPE("interrupt");
    PROFILE_MARK("interrupt mark");
}

KERNEL_ENTRY void kernel_nmi(void)
{
    unsigned interrupted = kernel_processor;
    kernel_processor = 2;
    kernel_in_nmi = 1;
    {
        PROFILE_SCOPE("nmi");
        PROFILE_ARG_I("of processor", (int)interrupted);
    }
    kernel_in_nmi = 0;
    kernel_processor = interrupted;
}

KERNEL_ENTRY unsigned kernel_waited(void) { return kernel_waits; }
KERNEL_ENTRY void kernel_processor_end(unsigned processor) { prof_cpu_state_end(kernel_processors[processor].state); }

KERNEL_ENTRY int kernel_snapshot(void **image, size_t *size)
{
    static void *last;
    kernel_free(last);
    last = 0;
    prof_status status = prof_snapshot(image, size);
    if (!status) last = *image;
    return (int)status;
}

/* ---- threads, each with a track of its own */

static uint64_t kernel_fibers[KERNEL_THREADS][PROF_FIBER_SIZE / 8];

KERNEL_ENTRY void kernel_threads_make(void)
{
    static const char *const names[KERNEL_THREADS] = {"init", "shell", "network", "idle"};
    unsigned i;
    for (i = 0; i < KERNEL_THREADS; ++i) prof_fiber_init(kernel_fibers[i], names[i]);
}

KERNEL_ENTRY void kernel_switch_to(unsigned thread)
{
    prof_fiber_switch(thread < KERNEL_THREADS ? (prof_fiber *)kernel_fibers[thread] : 0);
}

KERNEL_ENTRY void kernel_threads_are_tasks(void) { prof_set_metadata("prof.tasks", "fibers"); }
KERNEL_ENTRY void kernel_pass(uint64_t ticks) { __atomic_add_fetch(&kernel_ticks, ticks, __ATOMIC_RELAXED); }
KERNEL_ENTRY void kernel_enter(void) { PROFILE_BEGIN("system call"); }
KERNEL_ENTRY void kernel_exit(void) { PROFILE_END("system call"); }
