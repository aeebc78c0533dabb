// session/crash_handler: The signal handler; installed and removed under prof__control_word.
/*-- the handler --*/

static void prof__crash_handler(int signal, siginfo_t *info, void *context);

static PROF__RARE int prof__crash_is_ours(const struct sigaction *action)
{
    return (action->sa_flags & SA_SIGINFO) && action->sa_sigaction == prof__crash_handler;
}

/* Restores the previous action, unless somebody else has installed one since. */
static PROF__RARE void prof__crash_restore(size_t i)
{
    struct sigaction now;
    if (!prof__crash.installed[i] || sigaction(prof__crash_signals[i].number, NULL, &now) || !prof__crash_is_ours(&now))
        return;
    sigaction(prof__crash_signals[i].number, &prof__crash.old[i], NULL);
    prof__crash.installed[i] = 0;
}

/* Returns 1 if returning from the handler executes the instruction again, which raises the signal again; 0 if somebody
   sent the signal. */
static PROF__RARE int prof__crash_repeats(int signal, const siginfo_t *info)
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
static PROF__RARE void prof__crash_pass_on(int signal, siginfo_t *info)
{
    for (size_t i = 0; i < PROF__CRASH_SIGNALS; ++i) {
        /* the child of vfork() changes nothing here */
        if (prof__process_id() == prof__crash.process) prof__crash_restore(i);
        if (prof__crash_signals[i].number == signal) sigaction(signal, &prof__crash.old[i], NULL);
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

static PROF__RARE void prof__crash_handler(int signal, siginfo_t *info, void *context)
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
                pthread_sigmask(SIG_SETMASK, &prof__crash.work->mask, NULL);
                longjmp(prof__crash.work->escape, 1);
            }
        } else { /* the signal of this thread must not end the process while another thread reports */
            for (int i = 0; i < 1000 && PROF__ACQUIRE(&prof__crash.reporter) > PROF__CRASH_READY; ++i)
                poll(NULL, 0, 10);
        }
    }
    prof__crash_pass_on(signal, info);
    PROF__ERRNO_RESTORE();
}

/*-- on and off; under the control lock --*/

static PROF__RARE prof_status prof__crash_prepare(prof__session *s)
{
    prof__crash_work *w = prof__crash.work;
    if (!w) w = (prof__crash_work *)calloc(1, sizeof *w);
    if (!w) return prof__fail(PROF_NO_MEMORY, "no memory for crash_report");
    prof__crash.work = w;
    if (s->output[0])
        prof__output_beside(s, w->path, sizeof w->path);
    else
        prof__expand_absolute("%n.%p.prof", w->path, sizeof w->path);
    snprintf(w->part, sizeof w->part, "%s.%llu.part", w->path, (unsigned long long)prof__process_id());
    return s->live_path ? PROF_OK : prof__output_check(w->path);
}

/* A signal that the program ignores stays ignored. */
static PROF__RARE void prof__crash_install(prof__session *s)
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
        if (prof__crash.installed[i] && !(plain && now.sa_handler == SIG_DFL)) continue; /* a later one calls ours */
        prof__crash.old[i] = now;
        prof__crash.installed[i] = 1;
        sigaction(prof__crash_signals[i].number, &ours, NULL);
    }
}

/* Also called in the child of a fork, where no report is written. */
static PROF__RARE void prof__crash_forget(void)
{
    PROF__RELEASE(&prof__crash.reporter, (uintptr_t)PROF__CRASH_OFF);
    if (PROF__LOAD(&prof__state.frozen)) prof__crash_thaw(PROF__FROZEN_REPORT | PROF__FROZEN_CUT);
    prof__crash.session = NULL;
    for (size_t i = 0; i < PROF__CRASH_SIGNALS; ++i) prof__crash_restore(i);
}

static PROF__RARE void prof__crash_remove(void)
{
    if (!prof__crash.session) return;
    for (int i = 0; i < 1000; ++i) { /* a report that is being written needs the session */
        uintptr_t reporter = PROF__CRASH_READY;
        if (__atomic_compare_exchange_n(&prof__crash.reporter, &reporter, (uintptr_t)PROF__CRASH_OFF, 0,
                                        __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE) ||
            reporter == PROF__CRASH_OFF)
            break;
        poll(NULL, 0, 10);
    }
    prof__crash_forget();
}

/* The code of the handler may be about to be unloaded. */
static void __attribute__((destructor)) prof__crash_leave(void) { prof__crash_remove(); }
