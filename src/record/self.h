// record/self: The record of the calling thread, and what the system does for it: its end, a signal stack. In a shared
// library records are mapped, without a lock: a thread's first scope may be in a signal handler.
#ifndef PROF__RECORD_SELF_H
#define PROF__RECORD_SELF_H
#include "ground/copies.h"
#include "ground/threads.h"
#include "record/thread.h"

/*-- THE CALLING THREAD ---------------------------------------------------------------------------------------------*/

#ifdef PROF_FREESTANDING
static PROF__INLINED prof__thread *prof__self_get(void) { return (prof__thread *)PROF_CPU_STATE(); }
#define PROF__SELF() prof__self_get()
typedef char prof__cpu_state_fits[sizeof(prof__thread) <= PROF_CPU_STATE_SIZE ? 1 : -1];
static void prof__on_exit_of_thread(prof__thread *self) { (void)self; }
#define PROF__EXIT_WATCHED_UNLOCKED 0
static void prof__signal_stack_take(prof__thread *self) { (void)self; }
#else

/* The loader has little space for fast (initial-exec) thread-local storage of libraries that are loaded later: 1.6 KiB
   for all of them with glibc, none with musl. So a library keeps only a pointer there, to a record that it maps when a
   thread first needs it. A program keeps the record itself there. */
#ifdef PROF__SHARED
#ifdef __GLIBC__
static PROF__PER_THREAD prof__thread *prof__self_here __attribute__((__tls_model__("initial-exec")));
#else
static PROF__PER_THREAD prof__thread *prof__self_here;
#endif
static prof__thread *prof__self_make(void);
#define PROF__SELF() (PROF__LIKELY(prof__self_here != NULL) ? prof__self_here : prof__self_make())
#elif defined(__MINGW32__) && !defined(__clang__)
/* gcc's __thread is memory here that winpthreads frees when a thread of its own ends, and only then does Windows call
   prof__thread_leaves(). So the record is in the section of which Windows itself gives each thread a copy, as __thread
   is with other compilers: Windows frees that last of all. The address is that of the thread's copy, plus the place in
   the section; the C runtime knows where the section begins, and the number of the module. */
extern unsigned long _tls_index;
extern char *_tls_start;
#define PROF__EACH_THREAD __attribute__((__section__(".tls$")))
static PROF__EACH_THREAD union { uint32_t gate; prof__thread record; } prof__self = {PROF__SHUT};
static PROF__INLINED prof__thread *prof__self_get(void)
{
    const uintptr_t *copies; /* of the sections of all modules */
#if defined(__x86_64__)
    __asm__ volatile("movq %%gs:0x58, %0" : "=r"(copies));
#elif defined(__i386__)
    __asm__ volatile("movl %%fs:0x2C, %0" : "=r"(copies));
#else
    copies = ((uintptr_t **)NtCurrentTeb())[11];
#endif
    return (prof__thread *)(copies[_tls_index] + ((uintptr_t)&prof__self - (uintptr_t)&_tls_start));
}
#define PROF__SELF() prof__self_get()
#else
/* A new record has a shut gate, because its generation is 0, and so is that of the process before the first constructor
   and in some children. The union avoids compilers' warnings about members without an initializer. */
static PROF__PER_THREAD union { uint32_t gate; prof__thread record; } prof__self = {PROF__SHUT};
#define PROF__SELF() (&prof__self.record)
#endif

static prof__tss prof__exit_key;
static int prof__exit_key_made;
#ifdef _WIN32
/* The code may be about to be unloaded, and ends of threads must not call it any more. FlsFree() calls it now, for each
   thread that has a record. */
PROF__AT_END(PROF__LAST, prof__exit_key_drop);
static void prof__exit_key_drop(void)
{
    if (!prof__exit_key_made) return;
    prof__exit_key_made = 0;
    FlsFree(prof__exit_key);
}
#endif
static void prof__on_exit_of_thread(prof__thread *self) { prof__tss_set(prof__exit_key, self); }
#ifdef _WIN32
/* FlsSetValue() may take a lock that is held while FLS callbacks run, which wait for the recorder's lock. */
#define PROF__EXIT_WATCHED_UNLOCKED 1
#else
#define PROF__EXIT_WATCHED_UNLOCKED 0
#endif

#if defined(PROF_NO_CRASH)
static void prof__signal_stack_take(prof__thread *self) { (void)self; }
static void prof__signal_stack_give(prof__thread *self) { (void)self; }
#elif defined(_WIN32)
/* Keeps a part of the thread's stack for the report of its overflow. */
static void prof__signal_stack_take(prof__thread *self)
{
    ULONG size = 0, wanted = 64u << 10;
    (void)self;
    if (SetThreadStackGuarantee(&size) && size < wanted) SetThreadStackGuarantee(&wanted);
}
static void prof__signal_stack_give(prof__thread *self) { (void)self; }
#else
/* Gives a thread a stack for signal handlers, so that a stack overflow can be reported, until the thread ends. A thread
   that has such a stack already keeps it. */
static size_t prof__signal_stack_size(void)
{
    size_t size = 64u << 10;
#ifdef _SC_SIGSTKSZ
    long wanted = sysconf(_SC_SIGSTKSZ); /* depends on the processor, whose registers the kernel saves there */
    if (wanted > 0 && (size_t)wanted > size) size = (size_t)wanted;
#endif
    return size;
}
static void prof__signal_stack_take(prof__thread *self)
{
    stack_t stack;
    if (sigaltstack(NULL, &stack) || !(stack.ss_flags & SS_DISABLE)) return;
    stack.ss_size = prof__signal_stack_size();
    if (!self->signal_stack) { /* else it was installed in a handler, whose return uninstalled it */
        void *memory = mmap(NULL, stack.ss_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) return;
        self->signal_stack = memory;
    }
    stack.ss_sp = self->signal_stack;
    stack.ss_flags = 0;
    sigaltstack(&stack, NULL);
}
static void prof__signal_stack_give(prof__thread *self)
{
    stack_t stack;
    if (!self->signal_stack || sigaltstack(NULL, &stack)) return;
    int none = stack.ss_flags & SS_DISABLE, ours = !none && stack.ss_sp == self->signal_stack;
    stack.ss_flags = SS_DISABLE;
    if (ours && sigaltstack(&stack, NULL)) return;
    /* if the program has installed another one, it may restore this one later */
    if (ours || none) munmap(self->signal_stack, prof__signal_stack_size());
    self->signal_stack = NULL;
}
#endif

#ifdef PROF__SHARED
/* Records of a library's threads. They are never freed while the library is loaded, but reused by other threads. No
   lock is taken, because a thread's first scope may be in a signal handler. */
#define PROF__SELF_STRIDE ((sizeof(prof__thread) + 63) & ~(size_t)63)
#define PROF__SELF_MAP ((size_t)16384)
static prof__thread *prof__selves; /* all records */
static uint32_t prof__selves_free; /* how many there are, at least */

/* The record of all threads that cannot have one, or have none any more. It is always busy, so that what they record is
   lost. */
static prof__thread *prof__nobody(void)
{
    static prof__thread nobody;
    PROF__STORE(&nobody.gate, PROF__BUSY);
    PROF__STORE(&nobody.exits, PROF__EXITS);
    return &nobody;
}

static prof__thread *prof__self_take(void)
{
    for (prof__thread *each = PROF__ACQUIRE(&prof__selves); each && PROF__LOAD(&prof__selves_free); each = each->next) {
        if (PROF__LOAD(&each->taken) || __atomic_exchange_n(&each->taken, 1u, __ATOMIC_ACQUIRE)) continue;
        __atomic_fetch_sub(&prof__selves_free, 1u, __ATOMIC_RELAXED);
        prof__clear(each, offsetof(prof__thread, next));
        each->gate = PROF__SHUT; /* the generation may be 0: see prof__generation */
        return each;
    }
    char *map = (char *)mmap(NULL, PROF__SELF_MAP, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == (char *)MAP_FAILED) return NULL;
    prof__thread *first = (prof__thread *)(void *)map, *last = first;
    uint32_t more = 0;
    first->taken = first->first = 1;
    first->gate = PROF__SHUT;
    for (size_t at = PROF__SELF_STRIDE; at + sizeof *first <= PROF__SELF_MAP; at += PROF__SELF_STRIDE, ++more)
        last = last->next = (prof__thread *)(void *)(map + at);
    last->next = PROF__LOAD(&prof__selves);
    while (!__atomic_compare_exchange_n(&prof__selves, &last->next, first, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
    }
    __atomic_fetch_add(&prof__selves_free, more, __ATOMIC_RELAXED);
    return first;
}

static void prof__self_free(prof__thread *self)
{
    PROF__RELEASE(&self->taken, 0u);
    __atomic_fetch_add(&prof__selves_free, 1u, __ATOMIC_RELAXED);
}

/* Gives the thread a record, at its first scope, or at that of a signal handler which interrupts it. */
static PROF__COLD prof__thread *prof__self_make(void)
{
    prof__thread *none = NULL, *self;
    if (!prof__is_whole()) return prof__nobody();
    PROF__ERRNO_SAVE();
    self = prof__self_take();
    if (self && !__atomic_compare_exchange_n(&prof__self_here, &none, self, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
        prof__self_free(self);
        self = none;
    } else if (self && prof__exit_key_made) {
        prof__on_exit_of_thread(self);
    }
    PROF__ERRNO_RESTORE();
    return self ? self : prof__nobody();
}

/* Called at the end of a destructor of the thread. The third one releases the record. */
static void prof__self_leaves(prof__thread *self)
{
    if (self->exits < PROF__EXITS) {
        prof__on_exit_of_thread(self);
        return;
    }
    prof__self_here = prof__nobody();
    prof__self_free(self);
}

/* The library is unloaded: no thread has a record any more. */
static void prof__selves_unmap(void)
{
    prof__thread *each = prof__selves;
    prof__selves = prof__self_here = NULL;
    prof__selves_free = 0;
    while (each) {
        void *map = each;
        for (each = each->next; each && !each->first;) each = each->next;
        munmap(map, PROF__SELF_MAP);
    }
}
#else
static void prof__self_leaves(prof__thread *self) { (void)self; }
#endif
#endif

/* As PROF__LED, for the fast path: a thread never has a record in a copy that forwards. */
#ifdef PROF__SHARED
#define PROF__SELF_OR(led)                                                                                           \
    prof__thread *self = prof__self_here;                                                                            \
    if (PROF__UNLIKELY(!self)) {                                                                                     \
        led;                                                                                                         \
        self = prof__self_make();                                                                                    \
    }                                                                                                                \
    ((void)0)
#else
#define PROF__SELF_OR(led) prof__thread *self = PROF__SELF()
#endif

#endif /* PROF__RECORD_SELF_H */
