// ground/signals: Blocks signals: all of them while a lock is held, or those that a failed write would send.
#ifndef PROF__GROUND_SIGNALS_H
#define PROF__GROUND_SIGNALS_H
#include "ground/base.h"

#ifdef PROF_FREESTANDING
#ifndef PROF_INTERRUPTS_OFF
#define PROF__INTERRUPTS_COME 1 /* interrupts can come on this processor while a lock is held */
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
/* Returns 1 if a system call was interrupted by a signal and must be repeated. tries: counts interruptions in a row,
   from 0. Gives up after 1000, because a sandbox may fail a call with EINTR for ever. */
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
/* Blocks all signals but faults: the kernel kills a thread with a blocked fault, without calling the handler */
static void prof__signals_block(prof__signals *old)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
    sigset_t all;
    sigfillset(&all);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; ++i) sigdelset(&all, faults[i]);
    pthread_sigmask(SIG_BLOCK, &all, old);
}
static void prof__signals_restore(const prof__signals *old) { pthread_sigmask(SIG_SETMASK, old, NULL); }

/* A write beyond RLIMIT_FSIZE, or to a pipe without a reader, fails and also sends the thread a signal, which ends the
   program by default. Between prof__file_signal_hold() and prof__file_signal_drop() the write only fails. Neither
   function changes errno. */
static const int prof__file_signals[] = {SIGXFSZ, SIGPIPE};

typedef struct prof__file_signal {
    sigset_t before, waited; /* waited: signals of the program's own, pending before the hold */
    int count;               /* how many of prof__file_signals are blocked */
} prof__file_signal;

/* Blocks these signals. For standard output SIGPIPE is not blocked: if nobody reads the output, the program ends, as it
   would without prof. */
static void prof__file_signal_hold_for(prof__file_signal *signal, int standard_output)
{
    sigset_t set;
    int i;
    signal->count = standard_output ? 1 : 2;
    sigemptyset(&set);
    for (i = 0; i < signal->count; ++i) sigaddset(&set, prof__file_signals[i]);
    pthread_sigmask(SIG_BLOCK, &set, &signal->before);
    if (sigpending(&signal->waited)) sigemptyset(&signal->waited); /* a sandbox may refuse sigpending() */
}

static void prof__file_signal_hold(prof__file_signal *signal) { prof__file_signal_hold_for(signal, 0); }

/* Removes a pending, blocked signal of this number, if there is one. Does not wait. */
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
