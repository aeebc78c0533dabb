// system/delays: Reads for how long threads have been in the run queue, and records that.
#ifndef PROF__SYSTEM_DELAYS_H
#define PROF__SYSTEM_DELAYS_H
#include "system/files.h"
#include "system/timed.h"
#include "system/write.h"

/*-- A thread that has waited in a wrapper of PROF_WRAP_WAITS reads its own count. Prof's thread reads those of threads
     whose switches it has found: so it is known from when on a thread's own readings count and, of threads without
     wrappers, for how long they were ready in about a tenth of a second. --*/

#if defined(PROF__SYSTEM_LINUX) && defined(PROF__SCOPES_TIMED)
static void prof__delays_put(uint64_t ns, const uint64_t *words, uint64_t count)
{
    if (count) prof__system_write(PROF__DEVICE_DELAYS, ns, PROF_VALUE_NONE, words, count);
}

/* A reading takes 2.5 us after a wait, when caches are cold. After waits of this many ns it is 1.3 % of a thread's time
   at most. */
#define PROF__DELAYS_WORTH 200000u

/* The calling thread has waited. In a sandbox that it has entered since the start it reads nothing. */
static void prof__delays_woken(uint64_t ns)
{
    if (ns < PROF__DELAYS_WORTH || !PROF__ACQUIRE(&prof__system.running) || !PROF__LOAD(&prof__system.delays)) return;
    PROF__ERRNO_SAVE();
    PROF__OWN_BEGINS();
    for (int tries = prof__system_may() ? 0 : 3; tries < 3; ++tries) {
        uint64_t now = prof__monotonic(), ready = prof__timed_ready();
        uint64_t word = prof__delay_word(ready, PROF__SELF()->thread_id);
        if (ready == PROF__TIMED_UNKNOWN) break;
        if (prof__monotonic() - now > PROF__DELAY_LATE) continue; /* it was interrupted, or opened its file */
        prof__delays_put(now, &word, 1);
        break;
    }
    PROF__OWN_ENDS();
    PROF__ERRNO_RESTORE();
}

static void prof__delay_shut(prof__delay *delay)
{
    if (delay->file > 0) close(delay->file - 1);
    delay->file = 0;
}

/* Notes that a thread has come to run. It takes the place of another one in the table. */
static void prof__delays_meet(uint32_t thread)
{
    prof__delay *delay = &prof__system.delay[thread % PROF__DELAYS];
    if (delay->thread != thread) prof__delay_shut(delay);
    delay->thread = thread;
    delay->met = 1;
}

/* Closes the files. Async-signal-safe. */
static void prof__delays_close(void)
{
    PROF__STORE(&prof__system.delays, 0);
    for (size_t i = 0; i < PROF__DELAYS; ++i) {
        prof__delay_shut(&prof__system.delay[i]);
        prof__system.delay[i].thread = 0;
        prof__system.delay[i].met = 0;
    }
}

/* Returns the file of a thread, opened if it can be, or -1. file: 0: not opened yet; -1: it cannot be. */
static int prof__delay_file(prof__delay *delay)
{
    char folder[64];
    int file;
    if (delay->file > 0) return delay->file - 1;
    if (delay->file < 0) return -1;
    snprintf(folder, sizeof folder, "/proc/self/task/%u", (unsigned)delay->thread);
    file = prof__system_open_file(folder, "schedstat");
    delay->file = file < 0 ? -1 : file + 1;
    return file;
}

/* Reads the counts of the threads that were met since the last round. If the reading was interrupted, its time is not
   known well enough: then the next round reads again. */
static void prof__delays_round(void)
{
    uint64_t words[PROF__SWITCH_BATCH], count = 0, began = 0, from;
    char text[80];
    if (!PROF__LOAD(&prof__system.delays) || !prof__system_may()) return;
    for (size_t i = 0; i < PROF__DELAYS; ++i) {
        prof__delay *delay = &prof__system.delay[i];
        if (!delay->met) continue;
        from = prof__monotonic();
        int got = prof__system_reread(prof__delay_file(delay), text, sizeof text);
        uint64_t to = prof__monotonic(), ready = got ? prof__timed_count(text) : PROF__TIMED_UNKNOWN;
        if (got && to - from > PROF__DELAY_LATE) continue;
        delay->met = 0;
        if (ready == PROF__TIMED_UNKNOWN) continue; /* it has ended, or files are scarce */
        if (count == PROF__SWITCH_BATCH || (count && to - began > PROF__DELAY_LATE)) {
            prof__delays_put(began, words, count);
            count = 0;
        }
        if (!count) began = from;
        words[count++] = prof__delay_word(ready, delay->thread);
    }
    prof__delays_put(began, words, count);
}
#else
static void prof__delays_woken(uint64_t ns) { (void)ns; }
#ifdef PROF__SYSTEM_LINUX
static void prof__delays_meet(uint32_t thread) { (void)thread; }
static void prof__delays_close(void) {}
static void prof__delays_round(void) {}
#endif
#endif

#endif /* PROF__SYSTEM_DELAYS_H */
