// system/timed: What a thread did during a scope of PROFILE_SCOPE_TIMED, by its own clock and its own time in the run
// queue: without perf events.
#ifndef PROF__SYSTEM_TIMED_H
#define PROF__SYSTEM_TIMED_H
#include "ground/clock.h"
#include "ground/errors.h"
#include "ground/threads.h"
#include "image/system.h"
#include "system/api.h"

#ifdef PROF__SCOPES_TIMED
#include <sys/resource.h>
#include <sys/syscall.h>

static const char prof__timed_path[] = "/proc/thread-self/schedstat";

/* open(), pread() and close() end a thread that was cancelled, which must not happen where the program calls nothing
   that does. */
static int prof__timed_path_open(void)
{
    return (int)syscall(SYS_openat, (long)AT_FDCWD, prof__timed_path, (long)(O_RDONLY | O_CLOEXEC), 0l);
}
static long prof__timed_read(int file, char *to, size_t size)
{
    return syscall(SYS_pread64, (long)file, to, size, 0l, 0l, 0l);
}
static void prof__timed_shut(int file) { syscall(SYS_close, (long)file); }

/* /proc/thread-self is the thread that opened the file, so each thread keeps one. Its number is in the thread's value
   of the key: generation << 13 | file + 1. The generation is that of the process: a child of fork() has its parent's
   files, of the parent's threads. */
#define PROF__TIMED_FILES 4096u
#define PROF__TIMED_AGAIN 8191u /* in place of file + 1: it is opened each time, because files are scarce */
#define PROF__TIMED_NONE 8190u  /* it cannot be opened */
static pthread_key_t prof__timed_key;
static uint32_t prof__timed_made; /* 1: the key is being made; 2: it is there; 3: the system has none left */
static uint32_t prof__timed_generation;
static uint32_t prof__timed_files[PROF__TIMED_FILES / 32]; /* a bit for each that is open */

static void prof__timed_leaves(void *value)
{
    uint32_t bits = (uint32_t)(uintptr_t)value, file = (bits & 8191) - 1;
    if (bits >> 13 != (PROF__LOAD(&prof__timed_generation) & 0x7FFFF) || file >= PROF__TIMED_FILES) return;
    __atomic_fetch_and(&prof__timed_files[file / 32], ~(1u << file % 32), __ATOMIC_ACQ_REL);
    close((int)file);
}

static int prof__timed_has_key(void)
{
    uint32_t made = PROF__ACQUIRE(&prof__timed_made);
    if (PROF__LIKELY(made == 2)) return 1;
    if (made || !__atomic_compare_exchange_n(&prof__timed_made, &made, 1u, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return 0;
    made = pthread_key_create(&prof__timed_key, prof__timed_leaves) ? 3 : 2;
    PROF__RELEASE(&prof__timed_made, made);
    return made == 2;
}

/* Opens the thread's file to keep it. Returns what the thread notes. Half of the files are the program's. */
static uint32_t prof__timed_open(void)
{
    struct rlimit limit;
    uint64_t most = getrlimit(RLIMIT_NOFILE, &limit) ? 0 : (uint64_t)limit.rlim_cur / 2;
    int file = prof__timed_path_open();
    if (file < 0) return errno == EMFILE || errno == ENFILE ? PROF__TIMED_AGAIN : PROF__TIMED_NONE;
    if ((uint64_t)file < most && (uint32_t)file < PROF__TIMED_FILES - 2) {
        __atomic_fetch_or(&prof__timed_files[file / 32], 1u << file % 32, __ATOMIC_ACQ_REL);
        return (uint32_t)file + 1;
    }
    prof__timed_shut(file);
    return PROF__TIMED_AGAIN;
}

/* Reads the line into text. Returns 0 if the system does not give it. */
static int prof__timed_line(char *text, size_t size)
{
    uint32_t generation = PROF__LOAD(&prof__timed_generation) & 0x7FFFF, note = PROF__TIMED_AGAIN;
    if (prof__timed_has_key()) {
        uint32_t bits = (uint32_t)(uintptr_t)pthread_getspecific(prof__timed_key);
        note = bits & 8191;
        if (!note || bits >> 13 != generation) {
            note = prof__timed_open();
            pthread_setspecific(prof__timed_key, (void *)(uintptr_t)(generation << 13 | note));
        }
    }
    if (note == PROF__TIMED_NONE) return 0;
    int file = note == PROF__TIMED_AGAIN ? prof__timed_path_open() : (int)note - 1;
    long got = file < 0 ? -1 : prof__timed_read(file, text, size - 1);
    if (file >= 0 && note == PROF__TIMED_AGAIN) prof__timed_shut(file);
    text[got > 0 ? got : 0] = 0;
    return got > 0;
}

/* Returns for how long a thread was in the run queue, in ns, of the line that was read; PROF__TIMED_UNKNOWN: not known.
   A kernel that does not count says 0 for all. */
static uint64_t prof__timed_count(const char *text)
{
    char *end;
    uint64_t ran = strtoull(text, &end, 10), ready = strtoull(end, &end, 10), slices = strtoull(end, NULL, 10);
    return ran || slices ? ready : PROF__TIMED_UNKNOWN;
}

/* The same of the calling thread. */
static uint64_t prof__timed_ready(void)
{
    char text[80];
    return prof__timed_line(text, sizeof text) ? prof__timed_count(text) : PROF__TIMED_UNKNOWN;
}

PROF_DEF prof__timed prof__timed_begin(prof__token token)
{
    prof__timed timed;
    memset(&timed, 0, sizeof timed);
    timed.token = token;
    if (!PROF__RECORDED(token)) return timed;
    PROF__ERRNO_SAVE();
    timed.thread = (uint64_t)(uintptr_t)pthread_self();
    timed.ready_ns = prof__timed_ready();
    timed.cpu_ns = prof__clock_ns(CLOCK_THREAD_CPUTIME_ID);
    timed.ns = prof__monotonic();
    PROF__ERRNO_RESTORE();
    return timed;
}

static void prof__timed_arg(prof_arg *arg, const char *key, uint64_t ns)
{
    memset(arg, 0, sizeof *arg);
    arg->key = key;
    arg->value.type = PROF_VALUE_UINT;
    arg->value.as.u = ns;
}

/* Makes arguments of what the thread did from a time to another. Returns how many. */
static uint32_t prof__timed_parts(prof_arg *args, const prof__timed *from, const prof__timed *to)
{
    uint64_t wall = to->ns - from->ns, running = to->cpu_ns - from->cpu_ns, ready = to->ready_ns - from->ready_ns;
    if (running > wall) running = wall;
    if (ready > wall - running) ready = wall - running;
    prof__timed_arg(&args[0], PROF__KEY_RUNNING, running);
    prof__timed_arg(&args[1], PROF__KEY_READY, ready);
    prof__timed_arg(&args[2], PROF__KEY_WAITING, wall - running - ready);
    return from->ready_ns == PROF__TIMED_UNKNOWN || to->ready_ns == PROF__TIMED_UNKNOWN ? 1 : 3;
}

/* Records what the thread did since the begin. A coroutine that another thread goes on with has no such times. */
PROF_DEF void prof__timed_end(const prof__timed *timed)
{
    if (PROF__RECORDED(timed->token) && timed->thread == (uint64_t)(uintptr_t)pthread_self()) {
        prof_arg args[3];
        prof__timed now;
        PROF__ERRNO_SAVE();
        now.ns = prof__monotonic();
        now.cpu_ns = prof__clock_ns(CLOCK_THREAD_CPUTIME_ID);
        now.ready_ns = timed->ready_ns == PROF__TIMED_UNKNOWN ? PROF__TIMED_UNKNOWN : prof__timed_ready();
        prof__with(NULL, PROF_EVENT_SCOPE, timed->token, args, prof__timed_parts(args, timed, &now));
        PROF__ERRNO_RESTORE();
    }
    prof__end(timed->token);
}

/* Records the boundary of a frame, and what the thread did in the frame that it ends. last: of the boundary before, by
   this thread at this call site; whether that is the frame's, the reader sees by its duration. */
PROF_DEF void prof__timed_frame(prof_site *site, prof__timed *last)
{
    prof_arg args[3];
    prof__timed now;
    PROF__ERRNO_SAVE();
    memset(&now, 0, sizeof now);
    now.ready_ns = prof__timed_ready();
    now.cpu_ns = prof__clock_ns(CLOCK_THREAD_CPUTIME_ID);
    now.ns = prof__monotonic();
    prof__with(site, PROF_EVENT_FRAME, 0, args, last->ns ? prof__timed_parts(args, last, &now) : 0);
    *last = now;
    PROF__ERRNO_RESTORE();
}

PROF_DEF prof_status prof_timed_status(void)
{
    char text[80];
    PROF__ERRNO_SAVE();
    errno = 0;
    int read = prof__timed_line(text, sizeof text), error = errno, known = prof__timed_ready() != PROF__TIMED_UNKNOWN;
    PROF__ERRNO_RESTORE();
    if (known) return PROF_OK;
    return prof__fail(PROF_UNSUPPORTED, "only running is known, not ready and waiting: %s: %s", prof__timed_path,
                      read ? "the kernel does not count (CONFIG_SCHEDSTATS)" : strerror(error ? error : ENOENT));
}

static void prof__timed_close(void)
{
    for (uint32_t file = 0; file < PROF__TIMED_FILES; ++file) {
        uint32_t bit = 1u << file % 32;
        if (__atomic_fetch_and(&prof__timed_files[file / 32], ~bit, __ATOMIC_ACQ_REL) & bit) close((int)file);
    }
}

/* In a child of fork(): closes the files of the parent's threads. Async-signal-safe. */
static void prof__timed_child(void)
{
    PROF__STORE(&prof__timed_generation, prof__timed_generation + 1);
    prof__timed_close();
}

#ifdef PROF__SHARED
/* The code of this library may be unloaded next. */
static void prof__timed_end_all(void)
{
    uint32_t made = 2;
    if (!__atomic_compare_exchange_n(&prof__timed_made, &made, 3u, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) return;
    pthread_key_delete(prof__timed_key);
    prof__timed_close();
}
#endif
#else
#ifdef PROF_FREESTANDING
#define PROF__TIMED_NOT "freestanding"
#elif defined(_WIN32)
#define PROF__TIMED_NOT "on Windows"
#elif defined(__APPLE__)
#define PROF__TIMED_NOT "on macOS"
#else
#define PROF__TIMED_NOT "on this system"
#endif
PROF_DEF prof_status prof_timed_status(void)
{
    return prof__fail(PROF_UNSUPPORTED, "PROFILE_SCOPE_TIMED is PROFILE_SCOPE " PROF__TIMED_NOT ": it needs Linux");
}
#endif

#endif /* PROF__SYSTEM_TIMED_H */
