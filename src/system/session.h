// system/session: What the recorder calls: begins and ends recording switches with a session, and leaves them in a
// child of fork().
#ifndef PROF__SYSTEM_SESSION_H
#define PROF__SYSTEM_SESSION_H
#include "api/control.h"
#include "ground/instances.h"
#include "record/locks.h"
#include "session/beside.h"
#include "session/process.h"
#include "system/api.h"
#include "system/delays.h"
#include "system/thread.h"
#include "system/timed.h"

static int prof__system_asks(const prof_config *config)
{
    return (config->switches || config->system || config->faults ? PROF__SYSTEM_SWITCHES : 0) |
           (config->faults ? PROF__SYSTEM_FAULTS : 0) |
           (config->counters || config->system ? PROF__SYSTEM_COUNTERS : 0) |
           (config->samples || config->system ? PROF__SYSTEM_SAMPLES : 0);
}

static void prof__system_meta(prof__session *s, const char *key, const char *text) { prof__meta_pair(s, key, text); }

/* Says in the metadata why something that was asked for is not recorded. */
static void prof__system_say(prof__session *s, void (*says)(prof__session *, const char *, const char *))
{
    if (prof__system.asked & PROF__SYSTEM_SWITCHES && prof__system.why[0]) says(s, "switches", prof__system.why);
    if (prof__system.asked & PROF__SYSTEM_COUNTERS && prof__system.counters_why[0])
        says(s, "counters", prof__system.counters_why);
    if (prof__system.asked & PROF__SYSTEM_SAMPLES && prof__system.samples_why[0])
        says(s, "samples", prof__system.samples_why);
}

#ifdef PROF__SYSTEM_LINUX
#include <sys/eventfd.h>
#include <sys/utsname.h>

/* Returns 1 if the kernel says whether a thread that stops waits, or was preempted: since 4.17. */
static int prof__system_tells(void)
{
    struct utsname name;
    char *end;
    if (uname(&name)) return 0;
    long major = strtol(name.release, &end, 10), minor = *end == '.' ? strtol(end + 1, NULL, 10) : 0;
    return major > 4 || (major == 4 && minor >= 17);
}

/* Returns 1 if a thread sleeps. */
static int prof__system_sleeps(uint32_t thread)
{
    char path[64], text[256];
    snprintf(path, sizeof path, "/proc/self/task/%u/stat", (unsigned)thread);
    if (!prof__system_read(path, text, sizeof text)) return 0;
    const char *name_end = strrchr(text, ')');
    return name_end && name_end[1] == ' ' && (name_end[2] == 'S' || name_end[2] == 'D' || name_end[2] == 'I');
}

/* Records which threads there are: the kernel tells nothing about a thread until its next switch. */
static void prof__system_threads(void)
{
    uint64_t words[PROF__SWITCH_BATCH], began = prof__monotonic(), last = began;
    size_t count = 0;
    for (size_t i = 0; i < prof__system.thread_count; ++i) {
        uint64_t now = prof__monotonic();
        prof__delays_meet(prof__system.threads[i]);
        unsigned what = prof__system_sleeps(prof__system.threads[i]) ? PROF__SWITCH_WAITS : PROF__SWITCH_KNOWN;
        words[count++] = prof__switch_word(now - last, prof__system.threads[i] & (PROF__SWITCH_THREADS - 1), what);
        last = now;
        if (count < PROF__SWITCH_BATCH && i + 1 < prof__system.thread_count) continue;
        prof__switches_write((uint64_t)PROF__SWITCHES_BEGIN << 32, began, words, count);
        began = last;
        count = 0;
    }
}

/* Notes why nothing is recorded that needs perf events. */
static void prof__system_none(const char *why)
{
    prof__text_copy(prof__system.why, sizeof prof__system.why, why);
    prof__text_copy(prof__system.samples_why, sizeof prof__system.samples_why, why);
}

/* Opens the events of switches and samples. Returns 0 if there are none, with the reasons in prof__system. */
static int prof__system_events(prof__session *s)
{
    int switches = prof__system.asked & PROF__SYSTEM_SWITCHES, samples = prof__system.asked & PROF__SYSTEM_SAMPLES;
    int both = switches && samples; /* then they share what an unprivileged user has */
    if (s->header->mode == PROF_STATS) {
        prof__system_none("not recorded: mode stats keeps no events");
        return 0;
    }
    prof__system.online = prof__system_open_file("/sys/devices/system/cpu", "online");
    prof__perf_processors();
    prof__system.faults = prof__system.asked & PROF__SYSTEM_FAULTS ? 1 : 0;
    if (switches) switches = prof__perf_rings(0, PROF__PERF_BYTES >> both, prof__system.why);
    prof__system.switch_rings = prof__system.ring_count;
    if (samples) samples = prof__perf_rings(1, PROF__PERF_BYTES >> 2 * both, prof__system.samples_why);
    if (!switches && !samples) return 0;
    prof__system.told = prof__system_tells();
    prof__perf_threads(0, prof__system.ring_count);
    if (switches) prof__system_threads();
    PROF__STORE(&prof__system.delays, switches);
    prof__delays_round(); /* from here on, what threads read says something */
    if (samples) prof__modules_begin();
    prof__system.window_from = prof__monotonic();
    if (switches && prof__system.faults_refused)
        prof__beside_says(s, "faults", "not recorded, or not all: the system refused to open some of their events");
    if (prof__system.refused) {
        char text[PROF__SYSTEM_WHY];
        snprintf(text, sizeof text, "not those of %llu threads that there were at the start: too many open files: "
                 "raise RLIMIT_NOFILE (ulimit -n)", (unsigned long long)prof__system.refused);
        if (switches) prof__beside_says(s, "switches", text);
        if (samples) prof__beside_says(s, "samples", text);
    }
    return 1;
}

/* Starts the thread that records. Returns 0 if the system refuses it. */
static int prof__system_thread(void)
{
    int error;
    prof__system.wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    error = prof__system.wake < 0 ? errno : prof__thread_create(&prof__system.thread, prof__system_main, NULL);
    if (!error) return 1;
    prof__perf_why("a thread of prof", error, prof__system.counters_why);
    prof__system_none(prof__system.counters_why);
    return 0;
}

/* Opens what was asked for, and starts the thread. Returns 0 if nothing is recorded, with the reasons. */
static int prof__system_open(prof__session *s)
{
    int events = prof__system.asked & (PROF__SYSTEM_SWITCHES | PROF__SYSTEM_SAMPLES) && prof__system_events(s);
    int counters = prof__system.asked & PROF__SYSTEM_COUNTERS && prof__counters_open(s);
    if (prof__system.asked & PROF__SYSTEM_COUNTERS && !counters)
        prof__text_copy(prof__system.counters_why, sizeof prof__system.counters_why, "not recorded: no memory");
    return (events || counters) && prof__system_thread();
}

/* Does the work of prof__system_end(), under prof__system.ending. */
static int prof__system_end_locked(int waits)
{
    uint64_t one = 1;
    if (!PROF__ACQUIRE(&prof__system.running)) return 1;
    PROF__ERRNO_SAVE();
    /* the thread looks ten times a second, even if this fails */
    if (!PROF__LOAD(&prof__system.stop)) {
        PROF__RELEASE(&prof__system.stop, 1u);
        prof__word_wake(&prof__system.stop);
        if (write(prof__system.wake, &one, sizeof one) < 0) one = 0;
    }
    int good = waits || PROF__ACQUIRE(&prof__system.done);
    if (good) {
        pthread_join(prof__system.thread, NULL);
        prof__perf_close(0);
        prof__counters_close();
        prof__counters_free();
        PROF__STORE(&prof__system.running, 0);
    }
    PROF__ERRNO_RESTORE();
    return good;
}

/* Has what is left recorded, and ends the thread. Returns 0 if that takes longer, and the caller, the service, does not
   wait: a control function that has the lock may wait for the service to make room. */
static int prof__system_end(int waits)
{
    if (waits)
        prof__lock(&prof__system.ending);
    else if (!prof__lock_take(&prof__system.ending, 0))
        return 0;
    int good = prof__system_end_locked(waits);
    prof__unlock(&prof__system.ending);
    return good;
}

static void prof__system_begin(prof__session *s, const prof_config *config)
{
    PROF__ERRNO_SAVE();
    prof__system_end(1); /* of a session that ended while it began */
    prof__counters_free(); /* of the parent of this child */
    prof__system.session = s;
    prof__system.asked = prof__system_asks(config);
    prof__system.period = prof__sample_period(config);
    prof__system.why[0] = prof__system.counters_why[0] = prof__system.samples_why[0] = 0;
    prof__system.stop = prof__system.done = 0;
    prof__system.events_written = prof__system.switches = prof__system.window_switches = prof__system.refused = 0;
    prof__system.held_back = prof__system.faults_refused = 0;
    prof__system.fault_count = 0;
    prof__system.sandbox = prof__sandbox();
    prof__system.wake = prof__system.online = -1;
    prof__system.processors[0] = 0;
    free(prof__system.rings);
    prof__system.rings = NULL;
    if (prof__system_open(s)) {
        PROF__RELEASE(&prof__system.running, 1);
    } else {
        prof__delays_close();
        prof__perf_close(0);
        prof__counters_close();
        prof__counters_free();
    }
    prof__system_say(s, prof__beside_says);
    PROF__ERRNO_RESTORE();
}

static void prof__system_child(void)
{
    static const char why[] = "not recorded: in a child of fork() prof has no thread for it";
    prof__timed_child();
    prof__system.ending = 0;
    if (!__atomic_exchange_n(&prof__system.running, 0, __ATOMIC_ACQ_REL)) return;
    PROF__ERRNO_SAVE();
    prof__delays_close();
    prof__perf_close(1);
    prof__counters_close();
    prof__system_none(why);
    prof__text_copy(prof__system.counters_why, sizeof prof__system.counters_why, why);
    PROF__ERRNO_RESTORE();
}
#else
#ifdef _WIN32
#define PROF__SYSTEM_NONE "not recorded: on Windows prof_system.h records nothing yet"
#elif defined(__APPLE__)
#define PROF__SYSTEM_NONE "not recorded: on macOS prof_system.h records nothing yet"
#elif defined(__linux__) && defined(PROF_NO_THREAD)
#define PROF__SYSTEM_NONE "not recorded: needs a thread, which PROF_NO_THREAD leaves out"
#else
#define PROF__SYSTEM_NONE "not recorded: on this system prof_system.h records nothing: it needs Linux"
#endif
static void prof__system_begin(prof__session *s, const prof_config *config)
{
    prof__system.asked = prof__system_asks(config);
    prof__system.session = s;
    prof__text_copy(prof__system.why, sizeof prof__system.why, PROF__SYSTEM_NONE);
    prof__text_copy(prof__system.counters_why, sizeof prof__system.counters_why, PROF__SYSTEM_NONE);
    prof__text_copy(prof__system.samples_why, sizeof prof__system.samples_why, PROF__SYSTEM_NONE);
    prof__system_say(s, prof__beside_says);
}
static int prof__system_end(int waits) { return (void)waits, 1; }
static void prof__system_child(void)
{
#ifdef PROF__SCOPES_TIMED
    prof__timed_child();
#endif
}
#endif

static void prof__system_child_image(prof__session *s)
{
    if (prof__system.asked && prof__system.session == s) prof__system_say(s, prof__system_meta);
}

PROF_DEF prof_status prof_system_status(void)
{
    char why[PROF__SYSTEM_WHY] = "", counters_why[PROF__SYSTEM_WHY] = "", samples_why[PROF__SYSTEM_WHY] = "";
    uint32_t write_lock = prof__state_lock();
    int runs = prof__state.running && prof__system.asked &&
               (prof__state.session ? prof__state.session : prof__state.inherited) == prof__system.session;
    if (prof__system.asked & PROF__SYSTEM_SWITCHES) prof__copy(why, prof__system.why, sizeof why);
    if (prof__system.asked & PROF__SYSTEM_COUNTERS) prof__copy(counters_why, prof__system.counters_why, sizeof why);
    if (prof__system.asked & PROF__SYSTEM_SAMPLES) prof__copy(samples_why, prof__system.samples_why, sizeof why);
    prof__state_unlock(write_lock);
    if (!runs)
        return prof__fail(PROF_INVALID_STATE, "prof_system_status: no session that asks for switches, samples or "
                                              "counters runs");
    if (why[0]) return prof__fail(PROF_UNSUPPORTED, "switches: %s", why);
    if (samples_why[0]) return prof__fail(PROF_UNSUPPORTED, "samples: %s", samples_why);
    return counters_why[0] ? prof__fail(PROF_UNSUPPORTED, "counters: %s", counters_why) : PROF_OK;
}

static const prof__beside prof__system_table = {prof__system_begin, prof__system_end, prof__delays_woken,
                                                prof__system_child, prof__system_child_image};
PROF__AT_START(101, prof__system_comes);
static void prof__system_comes(void) { prof__beside_now = &prof__system_table; }

/* Ends the thread at exit and at an unload, because its code may be unloaded next. */
PROF__AT_END(PROF__LAST, prof__system_leaves);
static void prof__system_leaves(void)
{
#ifdef PROF__SYSTEM_LINUX
    if (!prof__lock_try(&prof__system.ending)) return; /* exit() in a signal handler that interrupted prof_stop() */
    prof__system_end_locked(1);
    prof__unlock(&prof__system.ending);
#endif
#if defined(PROF__SYSTEM_LINUX) && defined(PROF__SHARED)
    if (prof__exits) return; /* other threads may still record */
    prof__timed_end_all();
    free(prof__system.rings);
    free(prof__system.events);
    free(prof__system.threads);
    free(prof__system.modules);
    memset(&prof__system, 0, sizeof prof__system);
#endif
}

#endif /* PROF__SYSTEM_SESSION_H */
