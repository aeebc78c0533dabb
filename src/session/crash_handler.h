// session/crash_handler: POSIX: the signal handler that writes a crash report, and keeps the program alive if its
// mapped file was truncated. It is installed and removed under the control lock.
#ifndef PROF__SESSION_CRASH_HANDLER_H
#define PROF__SESSION_CRASH_HANDLER_H
#include "ground/threads.h"
#include "image/format.h"
#include "record/ring.h"
#include "record/self.h"
#include "record/state.h"
#include "session/crash.h"
#include "session/crash_posix.h"
#include "session/crash_report.h"
#include "session/crash_windows.h"
#include "session/memory.h"

#ifndef _WIN32
/*-- the image's file was truncated --*/

#ifdef BUS_ADRERR
#define PROF__BUS_ADRERR BUS_ADRERR
#else
#define PROF__BUS_ADRERR 2 /* the value on Linux, macOS and the BSDs; some C standard modes do not declare it */
#endif

static void prof__crash_tell_cut(const prof__session *s)
{
    struct pollfd ready = {2, POLLOUT, 0};
    char text[1200] = "prof: ";
    prof__text_add(text, sizeof text, s->file.live_path);
    prof__text_add(text, sizeof text, ": another program truncated it while it was recorded: the recording ended\n");
    if (poll(&ready, 1, 1000) > 0 && write(2, text, prof__length(text)) < 0) return; /* stderr accepts no more output */
}

/* Handles a SIGBUS for a page of the image that is no longer in its file, because another program truncated the file.
   Returns 1 if memory has replaced that page and all pages after it; then nothing more is recorded, and the program
   goes on. The events that were cut off are lost. If the header was cut off, an image without events remains. */
static int prof__crash_survives(int signal, const siginfo_t *info)
{
    prof__session *s = prof__crash.session;
    if (signal != SIGBUS || info->si_code != PROF__BUS_ADRERR || !s || !s->file.live_path || !s->file.mapping) return 0;
    size_t page = (size_t)sysconf(_SC_PAGESIZE), from = (size_t)((uintptr_t)info->si_addr - (uintptr_t)s->file.mapping);
    prof__about about;
    if (from >= s->file.mapping_size) return 0;
    size_t end = (from = from / page * page) + page;
    if (prof__stream_file_about(s, &about) && (uint64_t)about.st_size <= from) {
        from = (size_t)prof__round((uint64_t)about.st_size, page);
        end = s->file.mapping_size;
    }
    if (mmap((char *)s->file.mapping + from, end - from, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
        return 0;
    if (!from) {
        *s->header = s->like;
        s->header->meta_used = 0;
        prof__copy(s->header->magic, PROF__MAGIC, sizeof s->header->magic);
    }
    int was = __atomic_fetch_or(&s->file.cut, PROF__CUT | PROF__CUT_OVER, __ATOMIC_RELAXED);
    prof__next_config_version();
    if (!(was & PROF__CUT_OVER)) prof__crash_tell_cut(s);
    return 1;
}

/*-- the handler --*/

static struct {
    int installed[PROF__CRASH_SIGNALS];
    struct sigaction old[PROF__CRASH_SIGNALS];
} prof__crash_was;

static void prof__crash_handler(int signal, siginfo_t *info, void *context);

static int prof__crash_is_ours(const struct sigaction *action)
{
    return (action->sa_flags & SA_SIGINFO) && action->sa_sigaction == prof__crash_handler;
}

/* Restores the action of before prof, unless the program has installed another one since. */
static void prof__crash_restore(size_t i)
{
    struct sigaction now;
    if (!prof__crash_was.installed[i] || sigaction(prof__crash_signals[i].number, NULL, &now) ||
        !prof__crash_is_ours(&now))
        return;
    sigaction(prof__crash_signals[i].number, &prof__crash_was.old[i], NULL);
    prof__crash_was.installed[i] = 0;
}

/* Returns 1 if returning from the handler executes the faulting instruction again, and so raises the signal again; 0 if
   a process sent the signal, or if the hardware reported the fault later than the instruction. */
static int prof__crash_repeats(int signal, const siginfo_t *info)
{
#ifdef BUS_MCEERR_AO
    if (signal == SIGBUS && info->si_code == BUS_MCEERR_AO) return 0;
#endif
#ifdef SEGV_MTEAERR
    if (signal == SIGSEGV && info->si_code == SEGV_MTEAERR) return 0;
#endif
    return signal != SIGABRT && info->si_code > 0;
}

/* Lets the signal happen as it would without prof. The signal is delivered after the handler has returned, so that a
   debugger or a core dump finds the thread where it crashed. If a handler that was installed later called this one as
   its predecessor, the action of before prof follows, too. */
static void prof__crash_pass_on(int signal, siginfo_t *info)
{
    for (size_t i = 0; i < PROF__CRASH_SIGNALS; ++i) {
        /* the child of vfork() shares its parent's memory, so it changes nothing here */
        if (prof__process_id() == prof__crash.process) prof__crash_restore(i);
        if (prof__crash_signals[i].number == signal) sigaction(signal, &prof__crash_was.old[i], NULL);
    }
    if (prof__crash_repeats(signal, info)) return;
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, signal);
    pthread_sigmask(SIG_BLOCK, &one, NULL); /* blocked until the handler returns */
#ifdef SYS_rt_tgsigqueueinfo
    /* passes on who sent the signal */
    if (!syscall(SYS_rt_tgsigqueueinfo, getpid(), (pid_t)prof__thread_id(), signal, info)) return;
#endif
    raise(signal);
}

/* Handles the signals of bugs: survives a truncated file, else writes a report once and passes the signal on. In a
   child of vfork() it only passes the signal on. */
static void prof__crash_handler(int signal, siginfo_t *info, void *context)
{
    PROF__ERRNO_SAVE();
    uintptr_t self = (uintptr_t)PROF__SELF(), reporter = PROF__CRASH_READY;
    (void)context;
    int ours = prof__process_id() == prof__crash.process;
    if (ours && prof__crash_survives(signal, info)) {
        PROF__ERRNO_RESTORE();
        return;
    }
    if (ours) {
        if (__atomic_compare_exchange_n(&prof__crash.reporter, &reporter, self, 0, __ATOMIC_ACQUIRE,
                                        __ATOMIC_ACQUIRE)) {
            prof__crash.has_address = signal != SIGABRT && info->si_code > 0;
            prof__crash.address = (uintptr_t)info->si_addr;
            prof__crash_report(prof__crash.work, prof__crash.session, signal);
            PROF__RELEASE(&prof__crash.reporter, (uintptr_t)PROF__CRASH_OFF);
        } else if (reporter == self) {
            if (prof__crash.work->guarded) {
                pthread_sigmask(SIG_SETMASK, &prof__crash.work->system.mask, NULL);
                longjmp(prof__crash.work->escape, 1);
            }
        } else { /* This thread's signal must not end the process while another thread writes the report. */
            for (int i = 0; i < 1000 && PROF__ACQUIRE(&prof__crash.reporter) > PROF__CRASH_READY; ++i)
                PROF__CRASH_NAP();
        }
    }
    prof__crash_pass_on(signal, info);
    PROF__ERRNO_RESTORE();
}

/*-- on and off; under the control lock --*/

/* Installs the handler for each signal, unless the program ignores that signal. */
static void prof__crash_install(prof__session *s)
{
    struct sigaction ours;
    memset(&ours, 0, sizeof ours);
    ours.sa_sigaction = prof__crash_handler;
    /* SA_NODEFER: a crash inside the report must reach the handler. */
    ours.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    sigfillset(&ours.sa_mask);
    for (size_t i = 0; i < PROF__CRASH_SIGNALS; ++i) sigdelset(&ours.sa_mask, prof__crash_signals[i].number);
    prof__crash.session = s;
    prof__crash.process = prof__process_id();
    PROF__RELEASE(&prof__crash.reporter, (uintptr_t)PROF__CRASH_READY);
    for (size_t i = 0; i < PROF__CRASH_SIGNALS; ++i) {
        struct sigaction now;
        if (sigaction(prof__crash_signals[i].number, NULL, &now)) continue;
        int plain = !(now.sa_flags & SA_SIGINFO);
        if ((plain && now.sa_handler == SIG_IGN) || prof__crash_is_ours(&now)) continue;
        /* The program's own handler may call prof's. */
        if (prof__crash_was.installed[i] && !(plain && now.sa_handler == SIG_DFL)) continue;
        prof__crash_was.old[i] = now;
        prof__crash_was.installed[i] = 1;
        sigaction(prof__crash_signals[i].number, &ours, NULL);
    }
}

/* Removes the handlers. Also called in a child of fork(), which writes no reports. */
static void prof__crash_forget(void)
{
    PROF__RELEASE(&prof__crash.reporter, (uintptr_t)PROF__CRASH_OFF);
    if (PROF__LOAD(&prof__state.frozen)) prof__crash_freeze(0);
    prof__crash.session = NULL;
    for (size_t i = 0; i < PROF__CRASH_SIGNALS; ++i) prof__crash_restore(i);
}
#endif

#endif /* PROF__SESSION_CRASH_HANDLER_H */
