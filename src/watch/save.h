// watch/save: Saves the last seconds when a call, a signal or a trigger asks for it.
#ifndef PROF__WATCH_SAVE_H
#define PROF__WATCH_SAVE_H
#include "api/control.h"
#include "api/macros.h"
#include "api/markup.h"
#include "ground/errors.h"
#include "ground/lock.h"
#include "record/locks.h"
#include "record/ring.h"
#include "record/scope.h"
#include "record/state.h"
#include "session/pattern.h"
#include "session/state.h"
#include "watch/follow.h"
#include "watch/last.h"
#include "watch/past.h"

/*-- SAVES ON DEMAND ----------------------------------------------------------------------------------------- >>save --
   A call or a signal sets a flag, a call with a path adds to a list, and a trigger leaves its cause. The service's
   thread does the saving, so that the program's threads do not wait for it. */

static uint32_t prof__save_wanted; /* who asked for a save: PROF__SAVE_CALL or PROF__SAVE_SIGNAL; 0: nobody */
static uint32_t prof__save_armed;  /* 1: the session can save, and the service looks at prof__save_wanted */
enum { PROF__SAVE_CALL = 1, PROF__SAVE_SIGNAL };

/* prof_save_request() */
static prof_status prof__save_asked(void)
{
    if (!PROF__LOAD(&prof__save_armed)) return PROF_INVALID_STATE;
    PROF__STORE(&prof__save_wanted, (uint32_t)PROF__SAVE_CALL);
    return PROF_OK;
}

/* prof_save_request_ns() */
static prof_status prof__save_later(const char *path, uint64_t last_ns)
{
    PROF__CALM();
    const prof_writer *writer;
    char expanded[1024];
    prof_status status = prof__last_asked("prof_save_request_ns", path, last_ns, expanded);
    if (!status) status = prof__writer_for(expanded, prof__live_mode(), &writer);
    if (!status) status = prof__output_check(expanded);
    if (status) return status;
    prof__asked *asked = (prof__asked *)calloc(1, sizeof *asked);
    if (!asked) return prof__no_memory("to ask for a save");
    asked->seconds = (double)last_ns / 1e9;
    prof__pattern_absolute(path, asked->pattern, sizeof asked->pattern);
    uint32_t write_lock = prof__state_lock();
    prof__session *s = prof__state.running ? prof__state.session : NULL;
    prof__follow *f = s ? s->follow : NULL;
    int armed = f && f->saves_here && f->process == prof__process_id();
    if (armed) {
        asked->tick = prof__now(s, 0);
        asked->next = f->asked;
        f->asked = asked;
    }
    prof__state_unlock(write_lock);
    if (armed) return PROF_OK;
    free(asked);
    return prof__fail(PROF_INVALID_STATE, "prof_save_request_ns: no session with save or save_last_ns in its "
                      "configuration is running");
}

static int prof__save_present(const prof__session *s)
{
    uint32_t write_lock = prof__state_lock();
    int present = prof__state.session == s;
    prof__state_unlock(write_lock);
    return present;
}

#ifdef _WIN32
/* Windows has no signals for this; any program of the same desktop can set this event instead. It is made once, and
   lasts until the process ends. */
static HANDLE prof__save_event;
static uint32_t prof__save_listens;

static void prof__save_look(void)
{
    if (PROF__LOAD(&prof__save_listens) && WaitForSingleObject(prof__save_event, 0) == WAIT_OBJECT_0)
        PROF__STORE(&prof__save_wanted, (uint32_t)PROF__SAVE_SIGNAL);
}
#else
#define prof__save_look() ((void)0)
#endif

/* Marks why the last seconds are saved, with what of them the buffer holds. */
static void prof__save_mark(double seconds, const prof__cause *cause)
{
    prof__session *s;
    prof__header h; /* with both pairs of clocks as they are now */
    uint64_t taken_back;
    char note[320];
    if (prof__copy_begin(&s, &h, &taken_back)) return;
    prof__last_note(note, sizeof note, &h, prof__last_held(s), h.last.tick, prof__last_rate(&h), seconds, cause);
    prof__copy_end(s);
    PROFILE_MARK_F("save: %s", note);
}

/* Saves the last seconds to a file whose %-fields are expanded. status: if not PROF_OK, why there is no such name. */
static void prof__save_file(prof__session *s, const char *path, double seconds, const prof__cause *cause,
                            prof_status status)
{
    uint64_t began = prof__now(s, 0);
    prof__save_mark(seconds, cause);
    if (!status) status = prof__last_save(path, seconds, cause);
    if (status) prof__background_failed(s, prof_error());
    prof_status (*hook)(void) = PROF__ACQUIRE(&prof__saved_hook);
    if (hook && hook()) prof__background_failed(s, prof_error());
    PROF__SITE(site, PROF__KIND_BEGIN, "save", "prof", 2);
    prof__service_scope(s, &site, began);
}

/* Carries out what prof_save_request_ns() has asked for, the oldest first. Returns 1 if there was work. */
static int prof__save_all(prof__session *s)
{
    uint32_t write_lock = prof__state_lock();
    prof__asked *newest = s->follow->asked, *first = NULL;
    s->follow->asked = NULL;
    prof__state_unlock(write_lock);
    int work = newest != NULL;
    for (prof__asked *asked; (asked = newest) != NULL; first = asked) {
        newest = asked->next;
        asked->next = first;
    }
    for (prof__asked *asked; (asked = first) != NULL; free(asked)) {
        prof__cause cause = {asked->tick, asked->tick, "request"};
        char path[1024];
        first = asked->next;
        prof_status status = prof__expand(asked->pattern, path, sizeof path);
        prof__save_file(s, path, asked->seconds, &cause, status);
    }
    return work;
}

/* Keeps up with what is recorded, and carries out what was asked for, and one more save, if one is due. Returns 1 if
   there was work. */
static int prof__save_step(prof__session *s)
{
    prof__follow *f = s->follow;
    char path[1024];
    prof__cause cause;
    prof__save_look();
    if (!f || !f->saves_here || !prof__save_present(s)) return 0;
    int work = prof__past_work(s) | prof__save_all(s);
    prof__lock(&f->lock); /* the service may set the cause while the writer's thread saves */
    cause = f->cause;
    f->cause.text[0] = 0;
    prof__unlock(&f->lock);
    if (!cause.text[0]) {
        uint32_t wanted = __atomic_exchange_n(&prof__save_wanted, 0, __ATOMIC_RELAXED);
        if (!wanted) return work;
        prof__text_copy(cause.text, sizeof cause.text, wanted == PROF__SAVE_SIGNAL ? "signal" : "request");
        cause.from = cause.to = 0;
    }
    prof_status status = prof__expand_counted(f->save, ++f->saves, path, sizeof path);
    prof__save_file(s, path, f->last_seconds, &cause, status);
    return 1;
}

#ifdef _WIN32
static prof_status prof__save_arm(const prof__session *s)
{
    char name[48];
    PROF__STORE(&prof__save_wanted, 0u);
    PROF__STORE(&prof__save_armed, (uint32_t)(s->follow && s->follow->save[0]));
    if (!s->follow || !s->follow->signal) return PROF_OK;
    snprintf(name, sizeof name, "Local\\prof-save-%lu", (unsigned long)GetCurrentProcessId());
    if (!prof__save_event) prof__save_event = CreateEventA(NULL, FALSE, FALSE, name);
    if (!prof__save_event)
        return prof__fail(PROF_IO, "save_signal: cannot make the event %s: error %lu", name, GetLastError());
    ResetEvent(prof__save_event); /* drops requests from before the start */
    PROF__RELEASE(&prof__save_listens, 1u);
    return PROF_OK;
}
static void prof__save_disarm(void)
{
    PROF__STORE(&prof__save_listens, 0u);
    PROF__STORE(&prof__save_armed, 0u);
}
#else
/* For each signal that was ever used: what the program did with it before. Never freed, because a handler that the
   program installed later may call prof__save_handler() at any time. */
static struct sigaction *prof__save_before[65];
static int prof__save_installed[65];
static int prof__save_number;

static void prof__save_handler(int number, siginfo_t *info, void *context)
{
    const struct sigaction *before = prof__save_before[number];
    if (PROF__LOAD(&prof__save_number) == number) PROF__STORE(&prof__save_wanted, (uint32_t)PROF__SAVE_SIGNAL);
    if (before->sa_flags & SA_SIGINFO)
        before->sa_sigaction(number, info, context);
    else if (before->sa_handler != SIG_DFL && before->sa_handler != SIG_IGN)
        before->sa_handler(number);
}

static int prof__save_is_ours(int number)
{
    struct sigaction now;
    return !sigaction(number, NULL, &now) && (now.sa_flags & SA_SIGINFO) && now.sa_sigaction == prof__save_handler;
}

/* Installs the handler of the signal before a session starts. The caller holds the control lock. */
static prof_status prof__save_arm(const prof__session *s)
{
    int number = s->follow ? s->follow->signal : 0;
    struct sigaction action, before;
    PROF__STORE(&prof__save_wanted, 0u);
    PROF__STORE(&prof__save_number, number);
    PROF__STORE(&prof__save_armed, (uint32_t)(s->follow && s->follow->save[0]));
    if (!number) return PROF_OK;
    if (!prof__save_before[number]) prof__save_before[number] = (struct sigaction *)calloc(1, sizeof before);
    if (!prof__save_before[number]) return prof__fail(PROF_NO_MEMORY, "save_signal %d: no memory for it", number);
    int failed = sigaction(number, NULL, &before);
    if (!failed && prof__save_installed[number] && (before.sa_flags & SA_SIGINFO || before.sa_handler != SIG_DFL))
        return PROF_OK; /* still installed: the program's present handler calls ours */
    memset(&action, 0, sizeof action);
    action.sa_sigaction = prof__save_handler;
    action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    if (!failed) *prof__save_before[number] = before;
    if (failed || sigaction(number, &action, NULL)) {
        PROF__STORE(&prof__save_number, 0);
        return prof__fail(PROF_INVALID_ARGUMENT, "save_signal %d: %s", number, strerror(errno));
    }
    prof__save_installed[number] = 1;
    return PROF_OK;
}

/* Removes the handler. If the program has installed another one since, leaves it, because that one may call ours at any
   time. Async-signal-safe. */
static void prof__save_disarm(void)
{
    int number = PROF__LOAD(&prof__save_number);
    PROF__STORE(&prof__save_number, 0);
    PROF__STORE(&prof__save_armed, 0u);
    if (!number || !prof__save_is_ours(number)) return;
    sigaction(number, prof__save_before[number], NULL);
    prof__save_installed[number] = 0;
}
#endif

#endif /* PROF__WATCH_SAVE_H */
