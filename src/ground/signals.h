// ground/signals: Blocks signals: all of them, or those that a failing write sends.
#ifndef PROF__GROUND_SIGNALS_H
#define PROF__GROUND_SIGNALS_H
#include "ground/base.h"

#ifdef PROF_FREESTANDING
#ifndef PROF_INTERRUPTS_OFF
#define PROF__INTERRUPTS_COME 1 /* while a lock is held, on the same processor */
#define PROF_INTERRUPTS_OFF() 0
#define PROF_INTERRUPTS_RESTORE(before) ((void)(before))
#endif
typedef uintptr_t prof__signals;
static void prof__signals_block(prof__signals *prof__old) { *prof__old = (uintptr_t)(PROF_INTERRUPTS_OFF()); }
static void prof__signals_restore(const prof__signals *prof__old) { PROF_INTERRUPTS_RESTORE(*prof__old); }
#elif defined(_WIN32) || defined(__wasi__)
typedef int prof__signals;
static void prof__signals_block(prof__signals *old) { *old = 0; }
static void prof__signals_restore(const prof__signals *old) { (void)old; }
#endif
#ifdef PROF_FREESTANDING /* no files */
#else
/* Returns 1 if a call that has failed is to be made again, because a signal interrupted it. tries: how often that was
   in a row: a sandbox may refuse a call in this way for ever. */
static int prof__interrupted(int *tries) { return errno == EINTR && ++*tries < 1000; }
#endif
#ifdef PROF_FREESTANDING
#elif defined(PROF__NO_SIGNALS)
typedef int prof__file_signal;
static void prof__file_signal_hold_for(prof__file_signal *signal, int standard_output) { *signal = standard_output; }
static void prof__file_signal_hold(prof__file_signal *signal) { prof__file_signal_hold_for(signal, 0); }
static void prof__file_signal_drop(const prof__file_signal *signal) { (void)signal; }
#else
typedef sigset_t prof__signals;
static void prof__signals_block(prof__signals *old) /* except faults: a blocked one kills without calling a handler */
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
    sigset_t all;
    sigfillset(&all);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; ++i) sigdelset(&all, faults[i]);
    pthread_sigmask(SIG_BLOCK, &all, old);
}
static void prof__signals_restore(const prof__signals *old) { pthread_sigmask(SIG_SETMASK, old, NULL); }

/* A write beyond RLIMIT_FSIZE, or to a pipe that nobody reads, fails and also sends the thread a signal, which would
   end the program. Between prof__file_signal_hold() and _drop() it only fails. They do not change errno. */
static const int prof__file_signals[] = {SIGXFSZ, SIGPIPE};

typedef struct prof__file_signal {
    sigset_t before, waited; /* waited: the program's own, which were pending already */
    int count;               /* how many of them are held */
} prof__file_signal;

/* For standard output, SIGPIPE is not held: if nobody reads it, the program ends as it would without prof. */
static void prof__file_signal_hold_for(prof__file_signal *signal, int standard_output)
{
    sigset_t set;
    int i;
    signal->count = standard_output ? 1 : 2;
    sigemptyset(&set);
    for (i = 0; i < signal->count; ++i) sigaddset(&set, prof__file_signals[i]);
    pthread_sigmask(SIG_BLOCK, &set, &signal->before);
    if (sigpending(&signal->waited)) sigemptyset(&signal->waited); /* a sandbox may refuse it */
}

static void prof__file_signal_hold(prof__file_signal *signal) { prof__file_signal_hold_for(signal, 0); }

/* Takes a blocked signal away if there is one, and never waits for it. */
static void prof__signal_take(int number)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, number);
#if defined(__APPLE__) || defined(__OpenBSD__)
    sigset_t pending;
    if (!sigpending(&pending) && sigismember(&pending, number)) sigwait(&set, &number);
#else
    static const struct timespec at_once = {0, 0};
    sigtimedwait(&set, NULL, &at_once);
#endif
}

static void prof__file_signal_drop(const prof__file_signal *signal)
{
    int error = errno, i;
    sigset_t pending;
    int known = !sigpending(&pending);
    for (i = 0; i < signal->count; ++i) {
        int number = prof__file_signals[i];
        if (sigismember(&signal->waited, number)) continue;
        if (!known || sigismember(&pending, number)) prof__signal_take(number);
    }
    pthread_sigmask(SIG_SETMASK, &signal->before, NULL);
    errno = error;
}
#endif

#endif /* PROF__GROUND_SIGNALS_H */
