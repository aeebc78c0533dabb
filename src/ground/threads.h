// ground/threads: The system's threads: id, name, thread-specific data with a function that runs at the thread's end,
// cancellation.
#ifndef PROF__GROUND_THREADS_H
#define PROF__GROUND_THREADS_H
#include "ground/base.h"

#ifdef PROF_FREESTANDING
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
/* The parameters have prefixed names, because the user's macros expand inside this function and could otherwise pick up
   a parameter instead of a variable of the program. */
static void prof__system_name(char *prof__to, size_t prof__size)
{
    (void)prof__size;
    prof__to[0] = 0;
#ifdef PROF_CPU_NAME
    PROF_CPU_NAME(prof__to, prof__size);
#endif
}
static uint64_t prof__process_id(void) { return 0; }
#else

#if defined(__ELF__) && !defined(PROF_STATIC)
#define PROF__ONE_PER_PROCESS PROF_DEF
#else
#define PROF__ONE_PER_PROCESS static
#endif
static int prof__exits_watched;

/* A macro must leave errno as it was. */
#define PROF__ERRNO_SAVE() int prof__errno = errno
#define PROF__ERRNO_RESTORE() (void)(errno = prof__errno)

#ifdef _WIN32
static void prof__wait(void) { Sleep(0); }
static uint64_t prof__thread_id(void) { return GetCurrentThreadId(); }
static uint64_t prof__process_id(void) { return GetCurrentProcessId(); }
static uint64_t prof__parent_id(void) { return 0; }
/* A thread of Windows ends with the loader's lock held, and then waits for the recorder's lock. So code that holds the
   recorder's lock must not take the loader's, as GetModuleHandle() does: this function is called before. */
static FARPROC prof__thread_describe;
static void prof__system_ask(void)
{
    HMODULE kernel = GetModuleHandleA("kernel32");
    if (kernel) prof__thread_describe = GetProcAddress(kernel, "GetThreadDescription");
}
/* Writes the name that SetThreadDescription() gave a thread, or "". Windows 10 and later have such names. */
static void prof__description(HANDLE thread, char *name, size_t size)
{
    typedef HRESULT(WINAPI * describe)(HANDLE, PWSTR *);
    union { FARPROC any; describe of; } get;
    PWSTR wide = NULL;
    name[0] = 0;
    get.any = prof__thread_describe;
    if (!get.any || get.of(thread, &wide) < 0 || !wide) return;
    if (!WideCharToMultiByte(CP_UTF8, 0, wide, -1, name, (int)size, NULL, NULL)) name[size - 1] = 0;
    LocalFree(wide);
}
static void prof__system_name(char *name, size_t size) { prof__description(GetCurrentThread(), name, size); }
#ifdef PROF__RENAMES
/* Writes the name of the thread with this id, or "". */
static void prof__system_name_of(uint64_t id, char *name, size_t size)
{
    HANDLE thread = OpenThread(0x0800 /* THREAD_QUERY_LIMITED_INFORMATION */, FALSE, (DWORD)id);
    name[0] = 0;
    if (!thread) return;
    prof__description(thread, name, size);
    CloseHandle(thread);
}
#endif
/* A key for one pointer for each thread, or fiber of Windows. The system passes the pointer to `end` when the thread
   ends. */
typedef DWORD prof__tss;
#define PROF__TSS_END WINAPI
static int prof__tss_make(prof__tss *key, void(PROF__TSS_END *end)(void *))
{
    prof__system_ask();
    return (*key = FlsAlloc(end)) != FLS_OUT_OF_INDEXES;
}
static int prof__tss_set(prof__tss key, void *pointer) { return FlsSetValue(key, pointer) != 0; }
static void prof__exits_watch(void) {}
#else
/* A thread can not be cancelled inside a macro, nor while it holds a lock of the recorder. */
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
static void prof__wait(void) /* sleeps 20 us: a thread of lower priority, which may have the lock, can run */
{
    struct timespec moment = {0, 20000};
    int cancel = prof__cancel_disable();
    PROF__OWN_BEGINS();
    nanosleep(&moment, NULL);
    PROF__OWN_ENDS();
    prof__cancel_restore(cancel);
}
#ifdef __wasi__ /* WASI has no processes */
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
#if defined(__APPLE__) && (!defined(_POSIX_C_SOURCE) || defined(_DARWIN_C_SOURCE)) /* else not declared */
#define PROF__PTHREAD_NAME(thread, name, size) (void)pthread_getname_np(thread, name, size)
#else
#define PROF__PTHREAD_NAME(thread, name, size) (void)(size)
#endif
static void prof__system_name(char *name, size_t size) /* size: at least 16 */
{
    memset(name, 0, size); /* prctl() may fail; and the memory sanitizer does not see that it writes */
#ifdef __linux__
    prctl(PR_GET_NAME, name, 0, 0, 0);
#else
    PROF__PTHREAD_NAME(pthread_self(), name, size);
#endif
}
#ifdef PROF__RENAMES
/* Writes the name of the thread with this id, or "". */
static void prof__system_name_of(uint64_t id, char *name, size_t size)
{
    name[0] = 0;
#ifdef __linux__
    char path[64];
    int cancel = prof__cancel_disable(), file = -1;
    if (id == prof__thread_id())
        prof__system_name(name, size); /* works in a sandbox without /proc */
    else if (snprintf(path, sizeof path, "/proc/self/task/%llu/comm", (unsigned long long)id) > 0)
        file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = file >= 0 ? read(file, name, size - 1) : 0;
    if (file >= 0) close(file);
    if (file >= 0) name[got > 0 ? got - (name[got - 1] == '\n') : 0] = 0;
    prof__cancel_restore(cancel);
#else
    PROF__PTHREAD_NAME((pthread_t)(uintptr_t)id, name, size);
    (void)id;
#endif
}
#endif
/* A key for one pointer for each thread. The system passes the pointer to `end` when the thread ends. */
typedef pthread_key_t prof__tss;
#define PROF__TSS_END
static int prof__tss_make(prof__tss *key, void (*end)(void *)) { return !pthread_key_create(key, end); }
static void *prof__tss_get(prof__tss key) { return pthread_getspecific(key); }
static int prof__tss_set(prof__tss key, void *pointer) { return !pthread_setspecific(key, pointer); }
#ifdef PROF__SHARED
static int prof__exits;
static void prof__exit_begins(void) { prof__exits = 1; } /* before destructors at exit, after them in dlclose() */
#endif
static void prof__exits_watch(void)
{
#ifdef PROF__SHARED
    atexit(prof__exit_begins);
#endif
}
#endif
#endif

#endif /* PROF__GROUND_THREADS_H */
