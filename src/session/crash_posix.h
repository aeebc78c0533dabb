// session/crash_posix: POSIX: what a crash report needs of the system: stderr, the file, signals. Async-signal-safe.
#ifndef PROF__SESSION_CRASH_POSIX_H
#define PROF__SESSION_CRASH_POSIX_H
#include "ground/threads.h"

#ifndef _WIN32
/*-- CRASH ------------------------------------------------------------------------------------------------- >>crash --
   config.crash_report installs a handler for the signals that bugs raise. The handler says on stderr what the threads
   were doing, and writes the image to a file unless the image is mapped to one. It then restores the signal actions
   that it found and lets the signal happen again, so that the exit status, the core dump, sanitizers and the program's
   own handlers are as without prof.
   The program may have died in malloc(), in the recorder, or of a stack overflow. So a report allocates nothing, takes
   no locks, and calls only functions that are async-signal-safe (and, of libc, errno, setjmp() and
   pthread_setcancelstate()). prof_start() has reserved all memory. A second crash, inside the report, ends only that
   part of the report.
   Other threads run on during the report. All call sites are off meanwhile, or the threads would overwrite what led to
   the crash. A thread still finishes the record that it has begun, so chunks are copied as in a snapshot. Scopes that
   end during the report are shown as open. */

#include <poll.h>
#include <setjmp.h>

#define PROF__CRASH_SETJMP(at) setjmp(at)
#define PROF__CRASHED() prof__thread_id()
#define PROF__CRASH_NAP() poll(NULL, 0, 10)

static const struct {
    int number;
    char name[8];
} prof__crash_signals[] = {
    {SIGSEGV, "SIGSEGV"}, {SIGBUS, "SIGBUS"}, {SIGFPE, "SIGFPE"}, {SIGILL, "SIGILL"}, {SIGABRT, "SIGABRT"}};
#define PROF__CRASH_SIGNALS (sizeof prof__crash_signals / sizeof *prof__crash_signals)

typedef struct prof__crash_system {
    int file;      /* descriptor of the report's file; -1: none is open */
    sigset_t mask; /* the handler's signal mask, which is restored after a crash inside the report */
    struct sigaction quiet[2], idle[2];
    int cancel;
} prof__crash_system;

static const char *prof__crash_cause(int signal)
{
    for (size_t i = 0; i < PROF__CRASH_SIGNALS; ++i)
        if (prof__crash_signals[i].number == signal) return prof__crash_signals[i].name;
    return "";
}

/* Writes to stderr. Returns the number of bytes written; 0 or less if stderr accepts none within a second, for example
   a full pipe that nobody reads. */
static ssize_t prof__crash_say(const char *text, size_t size)
{
    struct pollfd ready = {2, POLLOUT, 0};
    return poll(&ready, 1, 1000) > 0 ? write(2, text, size) : -1;
}

/*-- the file --*/

static void prof__crash_names(prof__crash_system *of, const char *part, const char *path)
{
    (void)of;
    (void)part;
    (void)path;
}

static int prof__crash_create(prof__crash_system *of, const char *part)
{
    unlink(part);
    of->file = open(part, O_WRONLY | O_CREAT | O_EXCL | PROF__O_FILE, PROF__FILE_MODE);
    return of->file >= 0;
}

static int prof__crash_write(prof__crash_system *of, uint64_t offset, const void *bytes, size_t size)
{
    if (prof__lseek(of->file, (prof__offset)offset, SEEK_SET) < 0) return 0;
    for (size_t at = 0; at < size;) {
        ssize_t n = write(of->file, (const char *)bytes + at, size - at);
        if (n <= 0) return 0;
        at += (size_t)n;
    }
    return 1;
}

static int prof__crash_resize(prof__crash_system *of, uint64_t size)
{
    return !ftruncate(of->file, (prof__offset)size);
}

/* Renames a complete file to its final path, and removes an incomplete one. Returns 1 if the file is at its path. */
static int prof__crash_finish(prof__crash_system *of, int good, const char *part, const char *path)
{
    if (of->file >= 0 && close(of->file)) good = 0;
    of->file = -1;
    if (good && !rename(part, path)) return 1;
    unlink(part);
    return 0;
}

/*-- before and after --*/

/* Signals that writing the report may raise. They are ignored meanwhile, because they would end the process in place of
   the crash. */
static const int prof__crash_quiet[] = {SIGPIPE, SIGXFSZ};

static void prof__crash_ignore(struct sigaction *old)
{
    struct sigaction ignore;
    memset(&ignore, 0, sizeof ignore);
    ignore.sa_handler = SIG_IGN;
    for (size_t i = 0; i < 2; ++i) sigaction(prof__crash_quiet[i], &ignore, &old[i]);
}

static void prof__crash_before(prof__crash_system *of)
{
    prof__crash_ignore(of->quiet);
#ifndef __ANDROID__
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &of->cancel); /* write() is a cancellation point */
#endif
    of->file = -1;
    pthread_sigmask(SIG_SETMASK, NULL, &of->mask);
}

static void prof__crash_after(prof__crash_system *of)
{
#ifndef __ANDROID__
    pthread_setcancelstate(of->cancel, &of->cancel);
#endif
    prof__crash_ignore(of->idle); /* ignoring a signal once more discards a pending one */
    for (size_t i = 0; i < 2; ++i) sigaction(prof__crash_quiet[i], &of->quiet[i], NULL);
}
#endif

#endif /* PROF__SESSION_CRASH_POSIX_H */
