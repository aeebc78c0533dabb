// session/crash_handler: The signal handler; installed and removed under prof__control_word.
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
/*-- the file that somebody truncated --*/

#ifdef BUS_ADRERR
#define PROF__BUS_ADRERR BUS_ADRERR
#else
#define PROF__BUS_ADRERR 2 /* its value on Linux, macOS and the BSDs, for standards that do not declare it */
#endif

static void prof__crash_tell_cut(const prof__session *s)
{
    struct pollfd ready = {2, POLLOUT, 0};
    char text[1200] = "prof: ";
    prof__text_add(text, sizeof text, s->live_path);
    prof__text_add(text, sizeof text, ": another program truncated it while it was recorded: the recording ended\n");
    if (poll(&ready, 1, 1000) > 0 && write(2, text, prof__length(text)) < 0) return; /* stderr takes no more */
}

/* Called if a page of the image is no longer in its file. Returns 1 if memory has replaced it and all pages after it,
   and nothing more is recorded. What was cut off is lost; if that is the header, an image without events is left. */
static int prof__crash_survives(int signal, const siginfo_t *info)
{
    prof__session *s = prof__crash.session;
    if (signal != SIGBUS || info->si_code != PROF__BUS_ADRERR || !s || !s->live_path || !s->mapping) return 0;
    size_t page = (size_t)sysconf(_SC_PAGESIZE), from = (size_t)((uintptr_t)info->si_addr - (uintptr_t)s->mapping);
    prof__about about;
    if (from >= s->mapping_size) return 0;
    size_t end = (from = from / page * page) + page;
    if (prof__stream_file_about(s, &about) && (uint64_t)about.st_size <= from) {
        from = (size_t)prof__round((uint64_t)about.st_size, page);
        end = s->mapping_size;
    }
    if (mmap((char *)s->mapping + from, end - from, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
             0) == MAP_FAILED)
        return 0;
    if (!from) {
        *s->header = s->like;
        s->header->meta_used = 0;
        prof__copy(s->header->magic, PROF__MAGIC, sizeof s->header->magic);
    }
    prof__crash_freeze(PROF__FROZEN_CUT);
    if (!(__atomic_fetch_or(&s->cut, PROF__CUT | PROF__CUT_TOLD, __ATOMIC_RELAXED) & PROF__CUT_TOLD))
        prof__crash_tell_cut(s);
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

/* Restores the previous action, unless somebody else has installed one since. */
static void prof__crash_restore(size_t i)
{
    struct sigaction now;
    if (!prof__crash_was.installed[i] || sigaction(prof__crash_signals[i].number, NULL, &now) ||
        !prof__crash_is_ours(&now))
        return;
    sigaction(prof__crash_signals[i].number, &prof__crash_was.old[i], NULL);
    prof__crash_was.installed[i] = 0;
}

/* Returns 1 if returning from the handler executes the instruction again, which raises the signal again; 0 if somebody
   sent the signal. */
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

/* Lets the signal happen as without prof. It comes after the handler has returned, and so finds the thread where it
   was. If a later handler called this one as its predecessor, that predecessor's action follows, too. */
static void prof__crash_pass_on(int signal, siginfo_t *info)
{
    for (size_t i = 0; i < PROF__CRASH_SIGNALS; ++i) {
        /* the child of vfork() changes nothing here */
        if (prof__process_id() == prof__crash.process) prof__crash_restore(i);
        if (prof__crash_signals[i].number == signal) sigaction(signal, &prof__crash_was.old[i], NULL);
    }
    if (prof__crash_repeats(signal, info)) return;
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, signal);
    pthread_sigmask(SIG_BLOCK, &one, NULL); /* until the handler returns */
#ifdef SYS_rt_tgsigqueueinfo
    /* says who sent it */
    if (!syscall(SYS_rt_tgsigqueueinfo, getpid(), (pid_t)prof__thread_id(), signal, info)) return;
#endif
    raise(signal);
}

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
            prof__crash_report(prof__crash.work, prof__crash.session, signal);
            PROF__RELEASE(&prof__crash.reporter, (uintptr_t)PROF__CRASH_OFF);
        } else if (reporter == self) {
            if (prof__crash.work->guarded) {
                pthread_sigmask(SIG_SETMASK, &prof__crash.work->system.mask, NULL);
                longjmp(prof__crash.work->escape, 1);
            }
        } else { /* the signal of this thread must not end the process while another thread reports */
            for (int i = 0; i < 1000 && PROF__ACQUIRE(&prof__crash.reporter) > PROF__CRASH_READY; ++i)
                PROF__CRASH_NAP();
        }
    }
    prof__crash_pass_on(signal, info);
    PROF__ERRNO_RESTORE();
}

/*-- on and off; under the control lock --*/

/* A signal that the program ignores stays ignored. */
static void prof__crash_install(prof__session *s)
{
    struct sigaction ours;
    memset(&ours, 0, sizeof ours);
    ours.sa_sigaction = prof__crash_handler;
    ours.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER; /* not deferred: for a crash in the report */
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
        if (prof__crash_was.installed[i] && !(plain && now.sa_handler == SIG_DFL)) continue; /* one above calls ours */
        prof__crash_was.old[i] = now;
        prof__crash_was.installed[i] = 1;
        sigaction(prof__crash_signals[i].number, &ours, NULL);
    }
}

/* Also called in the child of a fork, where no report is written. */
static void prof__crash_forget(void)
{
    PROF__RELEASE(&prof__crash.reporter, (uintptr_t)PROF__CRASH_OFF);
    if (PROF__LOAD(&prof__state.frozen)) prof__crash_thaw(PROF__FROZEN_REPORT | PROF__FROZEN_CUT);
    prof__crash.session = NULL;
    for (size_t i = 0; i < PROF__CRASH_SIGNALS; ++i) prof__crash_restore(i);
}
#endif

#endif /* PROF__SESSION_CRASH_HANDLER_H */
