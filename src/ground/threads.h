// ground/threads: What the system knows of a thread: id, name, end, cancellation, signal stack.
#ifdef PROF_FREESTANDING
#define PROF__SELF() ((prof__thread *)PROF_CPU_STATE())
typedef char prof__cpu_state_fits[sizeof(prof__thread) <= PROF_CPU_STATE_SIZE ? 1 : -1];
#ifndef PROF_WAIT
#if defined(__x86_64__) || defined(__i386__)
#define PROF_WAIT() __asm__ volatile("pause" ::: "memory")
#elif defined(__aarch64__)
#define PROF_WAIT() __asm__ volatile("yield" ::: "memory")
#else
#define PROF_WAIT() PROF__BARRIER()
#endif
#endif
static void prof__wait(void) { PROF_WAIT(); }
#define PROF__ERRNO_SAVE() ((void)0)
#define PROF__ERRNO_RESTORE() ((void)0)
static uint64_t prof__thread_id(void)
{
#ifdef PROF_CPU_ID
    return (uint64_t)(PROF_CPU_ID());
#else
    return 0;
#endif
}
static void prof__system_name(char *name, size_t size)
{
    (void)size;
    name[0] = 0;
#ifdef PROF_CPU_NAME
    PROF_CPU_NAME(name, size);
#endif
}
static uint64_t prof__process_id(void) { return 0; }
static void prof__on_exit_of_thread(prof__thread *self) { (void)self; }
static void prof__signal_stack_take(prof__thread *self) { (void)self; }
#else

/* The loader has little space for fast (initial-exec) thread-local storage of libraries that are loaded later: 1.6 KiB
   for all of them with glibc, none with musl. So a library keeps only a pointer there, to a record that it maps when a
   thread first needs it. A program keeps the record itself there. */
#ifdef PROF__SHARED
#ifdef __GLIBC__
static __thread prof__thread *prof__self_here __attribute__((tls_model("initial-exec")));
#else
static __thread prof__thread *prof__self_here;
#endif
static prof__thread *prof__self_make(void);
#define PROF__SELF() (PROF__LIKELY(prof__self_here != NULL) ? prof__self_here : prof__self_make())
#else
/* A new record has a shut gate, because its generation is 0, and so is that of the process before the first constructor
   and in some children. The union avoids compilers' warnings about members without an initializer. */
static __thread union { uint32_t gate; prof__thread record; } prof__self = {PROF__SHUT};
#define PROF__SELF() (&prof__self.record)
#endif
#if defined(__ELF__) && !defined(PROF_STATIC)
#define PROF__ONE_PER_PROCESS PROF_DEF
#else
#define PROF__ONE_PER_PROCESS static
#endif
static void prof__thread_leaves(void *self);
static int prof__exit_key_made, prof__exits_watched;

/* Macros do not change errno. */
#define PROF__ERRNO_SAVE() int prof__errno = errno
#define PROF__ERRNO_RESTORE() (void)(errno = prof__errno)

#ifdef _WIN32
static void prof__wait(void) { Sleep(0); }
static uint64_t prof__thread_id(void) { return GetCurrentThreadId(); }
static uint64_t prof__process_id(void) { return GetCurrentProcessId(); }
static uint64_t prof__parent_id(void) { return 0; }
static void prof__system_name(char *name, size_t size)
{
    (void)size;
    name[0] = 0;
}
static VOID WINAPI prof__fiber_leaves(PVOID self)
{
    if (self) prof__thread_leaves(self);
}
static DWORD prof__exit_key;
static void prof__exit_key_make(void)
{
    if (!prof__exit_key_made)
        prof__exit_key_made = (prof__exit_key = FlsAlloc(prof__fiber_leaves)) != FLS_OUT_OF_INDEXES;
}
static void prof__exits_watch(void) {}
static void prof__on_exit_of_thread(prof__thread *self) { FlsSetValue(prof__exit_key, self); }
static void prof__signal_stack_take(prof__thread *self) { (void)self; }
static void prof__signal_stack_give(prof__thread *self) { (void)self; }
#else
/* No macro is a cancellation point, and no thread is cancelled while it holds a lock of the recorder. */
#ifdef PTHREAD_CANCEL_DISABLE
static int prof__cancel_disable(void)
{
    int before;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    return before;
}
static void prof__cancel_restore(int before) { pthread_setcancelstate(before, &before); }
#else
static int prof__cancel_disable(void) { return 0; }
static void prof__cancel_restore(int before) { (void)before; }
#endif
static PROF__UNUSED void prof__wait(void) /* sleeps, because the thread it waits for may have a lower priority */
{
    struct timespec moment = {0, 20000};
    int cancel = prof__cancel_disable();
    nanosleep(&moment, NULL);
    prof__cancel_restore(cancel);
}
#ifdef __wasi__ /* it has no processes */
static uint64_t prof__process_id(void) { return 1; }
static uint64_t prof__parent_id(void) { return 0; }
#else
static uint64_t prof__process_id(void) { return (uint64_t)getpid(); }
static uint64_t prof__parent_id(void) { return (uint64_t)getppid(); }
#endif
static uint64_t prof__thread_id(void)
{
#ifdef __linux__
    return (uint64_t)syscall(SYS_gettid);
#else
    return (uint64_t)(uintptr_t)pthread_self();
#endif
}
static void prof__system_name(char *name, size_t size) /* size >= 16 */
{
    (void)size;
    name[0] = 0;
#ifdef __linux__
    prctl(PR_GET_NAME, name, 0, 0, 0);
#endif
}
static pthread_key_t prof__exit_key;
#ifdef PROF__SHARED
static int prof__exits;
static void prof__exit_begins(void) { prof__exits = 1; } /* runs before destructors, but after them in a dlclose() */
#endif
static void prof__exits_watch(void)
{
#ifdef PROF__SHARED
    atexit(prof__exit_begins);
#endif
}
static void prof__exit_key_make(void)
{
    if (!prof__exit_key_made) prof__exit_key_made = !pthread_key_create(&prof__exit_key, prof__thread_leaves);
}
static void prof__on_exit_of_thread(prof__thread *self) { pthread_setspecific(prof__exit_key, self); }

#ifdef PROF_NO_CRASH
static void prof__signal_stack_take(prof__thread *self) { (void)self; }
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
static PROF__RARE void prof__signal_stack_give(prof__thread *self)
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
#endif
#endif
