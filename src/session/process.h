// session/process: What a session needs to know of its process: environment, program name, boot id. Creates threads.
#ifndef PROF__SESSION_PROCESS_H
#define PROF__SESSION_PROCESS_H
#include "ground/clock.h"
#include "ground/numbers.h"
#include "ground/signals.h"
#include "ground/windows.h"
#include "image/format.h"
#include "image/pair.h"

/* 1: the environment started the session, so prof prints messages on stderr. */
static PROF__UNUSED int prof__autostarted;
static const char *prof__environment(const char *name)
{
#if defined(PROF__LATE) && defined(__GLIBC__)
    return prof__libc_secure_getenv(name);
#elif defined(__GLIBC__) && defined(_GNU_SOURCE)
    return secure_getenv(name); /* a set-user-id program must not write files because its caller asks for it */
#elif defined(_WIN32)
    return prof__windows_variable(name);
#else
    return getenv(name);
#endif
}

/* Writes the file name of the program, or "program" if it is unknown. */
static void prof__program_name(char *name, size_t size)
{
    char path[1024];
    long n = 0;
#ifdef _WIN32
    WCHAR wide[PROF__WIDE_SIZE];
    /* N is -1 on failure. */
    if (GetModuleFileNameW(NULL, wide, PROF__WIDE_SIZE)) n = prof__narrow(wide, path, sizeof path) - 1;
#elif defined(__linux__)
    n = (long)readlink("/proc/self/exe", path, sizeof path - 1);
#endif
    path[n > 0 ? n : 0] = 0;
    const char *base = path;
    for (const char *c = path; *c; ++c)
        if (*c == '/' || *c == '\\') base = c + 1;
    prof__text_copy(name, size, *base ? base : "program");
}

static void prof__boot_id(char *text, size_t size)
{
    text[0] = 0;
#ifdef __linux__
    int file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    if (file >= 0) {
        ssize_t n = read(file, text, size - 1);
        text[n > 0 ? n : 0] = 0;
        close(file);
    }
    for (char *c = text; *c; ++c)
        if (*c == '\n') *c = 0;
#else
    (void)size;
#endif
}

/* Stores what aligns recordings of one machine. CLOCK_MONOTONIC stops while the machine is suspended, and starts
   elsewhere in a different time namespace. */
static void prof__machine_time(prof__header *h)
{
#if defined(__linux__) && !defined(PROF_MINIMAL)
    struct stat about;
    uint64_t now = prof__clock_ns(CLOCK_BOOTTIME), since = prof__monotonic() - h->first.monotonic_ns;
    if (now > since) h->since_boot_ns = now - since;
    if (!stat("/proc/self/ns/time", &about)) h->time_namespace = (uint64_t)about.st_ino;
#else
    (void)h;
#endif
}

/* Reads a pair of clocks for an image that another process records. Returns 0 if that image was not recorded on this
   machine since its last boot. */
static int prof__pair_now(uint32_t clock, const char *boot_id, prof__pair *out)
{
    char here[40];
    prof__boot_id(here, sizeof here);
    if (!here[0] || !prof__equal(here, boot_id)) return 0;
    if (clock != PROF_CLOCK_MONOTONIC && !prof__counter_usable()) return 0;
    prof__pair_take_well(clock, 0, out);
    return 1;
}

/* Returns the part of a path that messages show: the last 100 bytes. */
static const char *prof__path_end(const char *path)
{
    size_t length = prof__length(path);
    return path + (length > 100 ? length - 100 : 0);
}

#ifndef _WIN32
/* Creates a thread with all signals blocked. Returns 0 or an errno. */
static int prof__thread_create(pthread_t *thread, void *(*main)(void *user), void *user)
{
    PROF__CALM(); /* the new thread inherits this setting and the signal mask */
    prof__signals signals;
    prof__signals_block(&signals);
    int error = pthread_create(thread, NULL, main, user);
    prof__signals_restore(&signals);
    return error;
}
#endif

#ifdef PROF__RENAMES
/* Returns the seccomp mode of the process (Linux); 0: no sandbox. */
static int prof__sandbox(void)
{
#ifdef PR_GET_SECCOMP
    return prctl(PR_GET_SECCOMP, 0, 0, 0, 0);
#else
    return 0;
#endif
}
#else
static int prof__sandbox(void) { return 0; }
#endif

#endif /* PROF__SESSION_PROCESS_H */
