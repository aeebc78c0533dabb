// record/self: Finds the calling thread's record, and asks the system for a call at the thread's end and for a signal
// stack. In a shared library records are mapped at first use, without a lock, because a thread's first scope may be in
// a signal handler.
#ifndef PROF__RECORD_SELF_H
#define PROF__RECORD_SELF_H
#include "ground/instances.h"
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

/* The loader has little room for fast (initial-exec) thread-local storage of libraries that are loaded later: 1.6 KiB
   for all of them with glibc, none with musl. So a library keeps only a pointer there, to a record that is mapped when
   the thread first needs it. A program keeps the whole record there. */
#ifdef PROF__SHARED
#ifdef __GLIBC__
static PROF__PER_THREAD prof__thread *prof__self_here __attribute__((__tls_model__("initial-exec")));
#else
static PROF__PER_THREAD prof__thread *prof__self_here;
#endif
static prof__thread *prof__self_make(void);
#define PROF__SELF() (PROF__LIKELY(prof__self_here != NULL) ? prof__self_here : prof__self_make())
#elif defined(__MINGW32__) && !defined(__clang__)
/* With gcc on Windows, winpthreads frees the memory of __thread variables when a thread of its own ends, before Windows
   calls prof__thread_leaves(). So the record is in section .tls$, as __thread variables are with other compilers.
   Windows gives each thread a copy of the section, and frees it last. The address of the record is that of the thread's
   copy plus the offset in the section. The C runtime has the beginning of the section (_tls_start) and the module's
   index (_tls_index). */
extern unsigned long _tls_index;
extern char *_tls_start;
#define PROF__EACH_THREAD __attribute__((__section__(".tls$")))
static PROF__EACH_THREAD union { uint32_t write_lock; prof__thread record; } prof__self = {PROF__SHUT};
static PROF__INLINED prof__thread *prof__self_get(void)
{
    const uintptr_t *copies; /* this thread's copies of the modules' sections */
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
/* A new record has the write lock PROF__SHUT, not 0. Its synced version is 0, and so is the config version before the
   first constructor and in some children of forks: a write lock of 0 would open the fast path. The union avoids
   compilers' warnings about members without an initializer. */
static PROF__PER_THREAD union { uint32_t write_lock; prof__thread record; } prof__self = {PROF__SHUT};
#define PROF__SELF() (&prof__self.record)
#endif

static prof__tss prof__exit_key;
static int prof__exit_key_made;
#ifdef _WIN32
/* At exit, or when the DLL is unloaded: threads that end later must not call code that is gone. FlsFree() makes the
   calls now, for each thread that has a record. */
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
/* FlsSetValue() may take a lock that Windows holds while FLS callbacks run, and these wait for the recorder's lock. */
#define PROF__EXIT_WATCHED_UNLOCKED 1
#else
#define PROF__EXIT_WATCHED_UNLOCKED 0
#endif

#if defined(PROF_NO_CRASH)
static void prof__signal_stack_take(prof__thread *self) { (void)self; }
static void prof__signal_stack_give(prof__thread *self) { (void)self; }
#elif defined(_WIN32)
/* Reserves a part of the thread's stack, so that the report of a stack overflow can run. */
static void prof__signal_stack_take(prof__thread *self)
{
    ULONG size = 0, wanted = 64u << 10;
    (void)self;
    if (SetThreadStackGuarantee(&size) && size < wanted) SetThreadStackGuarantee(&wanted);
}
static void prof__signal_stack_give(prof__thread *self) { (void)self; }
#else
/* Gives a thread a stack for signal handlers until it ends, so that a stack overflow can be reported. A thread that has
   such a stack already keeps it. */
static size_t prof__signal_stack_size(void)
{
    size_t size = 64u << 10;
#ifdef _SC_SIGSTKSZ
    long wanted = sysconf(_SC_SIGSTKSZ); /* depends on how many registers the kernel saves there */
    if (wanted > 0 && (size_t)wanted > size) size = (size_t)wanted;
#endif
    return size;
}
static void prof__signal_stack_take(prof__thread *self)
{
    stack_t stack;
    if (sigaltstack(NULL, &stack) || !(stack.ss_flags & SS_DISABLE)) return;
    stack.ss_size = prof__signal_stack_size();
    if (!self->signal_stack) { /* else the return of a handler, in which it was set, has unset it */
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
    /* if the program has set another stack, it may restore this one later: so its memory stays */
    if (ours || none) munmap(self->signal_stack, prof__signal_stack_size());
    self->signal_stack = NULL;
}
#endif

#ifdef PROF__SHARED
/* The records of a library's threads. A record is never freed while the library is loaded; another thread reuses it. No
   lock is taken, because a thread's first scope may be in a signal handler. */
#define PROF__SELF_STRIDE ((sizeof(prof__thread) + 63) & ~(size_t)63)
#define PROF__SELF_MAP ((size_t)16384)
static prof__thread *prof__selves; /* the list of all records */
static uint32_t prof__selves_free; /* how many are free, at least */

/* Returns the record of all threads that cannot have their own, or have none any more. Its write lock is always
   PROF__BUSY, so that what they record is lost. */
static prof__thread *prof__nobody(void)
{
    static prof__thread nobody;
    PROF__STORE(&nobody.write_lock, PROF__BUSY);
    PROF__STORE(&nobody.exits, PROF__EXITS);
    return &nobody;
}

static prof__thread *prof__self_take(void)
{
    for (prof__thread *each = PROF__ACQUIRE(&prof__selves); each && PROF__LOAD(&prof__selves_free);
         each = each->record.next) {
        if (PROF__LOAD(&each->record.taken) || __atomic_exchange_n(&each->record.taken, 1u, __ATOMIC_ACQUIRE)) continue;
        __atomic_fetch_sub(&prof__selves_free, 1u, __ATOMIC_RELAXED);
        prof__clear(each, offsetof(prof__thread, record.next));
        each->write_lock = PROF__SHUT; /* not 0, which the config version may be */
        return each;
    }
    char *map = (char *)mmap(NULL, PROF__SELF_MAP, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == (char *)MAP_FAILED) return NULL;
    prof__thread *first = (prof__thread *)(void *)map, *last = first;
    uint32_t more = 0;
    first->record.taken = first->record.first = 1;
    first->write_lock = PROF__SHUT;
    for (size_t at = PROF__SELF_STRIDE; at + sizeof *first <= PROF__SELF_MAP; at += PROF__SELF_STRIDE, ++more)
        last = last->record.next = (prof__thread *)(void *)(map + at);
    last->record.next = PROF__LOAD(&prof__selves);
    while (
        !__atomic_compare_exchange_n(&prof__selves, &last->record.next, first, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
    }
    __atomic_fetch_add(&prof__selves_free, more, __ATOMIC_RELAXED);
    return first;
}

static void prof__self_free(prof__thread *self)
{
    PROF__RELEASE(&self->record.taken, 0u);
    __atomic_fetch_add(&prof__selves_free, 1u, __ATOMIC_RELAXED);
}

/* Gives the thread a record at its first scope. A signal handler may do so in between. */
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

/* Called at the end of the thread's destructor. The third call releases the record. */
static void prof__self_leaves(prof__thread *self)
{
    if (self->exits < PROF__EXITS) {
        prof__on_exit_of_thread(self);
        return;
    }
    prof__self_here = prof__nobody();
    prof__self_free(self);
}

/* Unmaps all records. Called when the library is unloaded, when no thread can use a record any more. */
static void prof__selves_unmap(void)
{
    prof__thread *each = prof__selves;
    prof__selves = prof__self_here = NULL;
    prof__selves_free = 0;
    while (each) {
        void *map = each;
        for (each = each->record.next; each && !each->record.first;) each = each->record.next;
        munmap(map, PROF__SELF_MAP);
    }
}
#else
static void prof__self_leaves(prof__thread *self) { (void)self; }
#endif
#endif

/* PROF__FORWARD for the fast path: the forwarding costs nothing there, because a thread never has a record in an
   instance that forwards. */
#ifdef PROF__SHARED
#define PROF__SELF_OR(led)                                                                                           \
    prof__thread *self = prof__self_here;                                                                            \
    if (PROF__UNLIKELY(!self)) {                                                                                     \
        led;                                                                                                         \
        self = prof__self_make();                                                                                    \
    }                                                                                                                \
    ((void)0)
#define PROF__SELF_LIVES() (prof__self_here != NULL) /* 1: this instance records the thread, and does not forward */
#else
#define PROF__SELF_OR(led) prof__thread *self = PROF__SELF()
#define PROF__SELF_LIVES() 1
#endif

#endif /* PROF__RECORD_SELF_H */
