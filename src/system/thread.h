// system/thread: The thread that drains the kernel's rings.
#ifndef PROF__SYSTEM_THREAD_H
#define PROF__SYSTEM_THREAD_H
#include "system/counters.h"
#include "system/drain.h"
#include "system/processors.h"
#include "system/sample.h"

#ifdef PROF__SYSTEM_LINUX
#include <poll.h>

/* Says why switches are not recorded, or no longer. */
static void prof__system_says(const char *why)
{
    uint32_t write_lock = prof__state_lock();
    prof__text_copy(prof__system.why, sizeof prof__system.why, why);
    prof__state_unlock(write_lock);
    prof__beside_says(prof__system.session, "switches", why);
}

/* Sleeps until a ring is half full, or a tenth of a second. In a sandbox that the program has entered since the start,
   poll() may be forbidden: there it sleeps as all of prof's threads do, and more briefly, so that no ring overflows. */
static void prof__system_sleep(struct pollfd *files, size_t count)
{
    if (prof__sandbox() != prof__system.sandbox || poll(files, (nfds_t)count, 100) < 0)
        prof__word_wait(&prof__system.stop, 0, 20000000);
    else
        for (size_t i = 0; i + 1 < count; ++i) /* when all its threads have ended, an event is always ready */
            if (files[i].revents & (POLLHUP | POLLERR | POLLNVAL)) files[i].fd = -1;
}

/* Records the switches so far. Returns 0 if they have become too many. */
static int prof__switches_round(struct pollfd *files, size_t count)
{
    prof__switches_drain();
    prof__delays_round();
    if (prof__budget()) return 1;
    prof__switches_finish(prof__system_may());
    prof__delays_close();
    prof__system_says("recording them ended: more than 50,000 a second over ten seconds cost too much");
    for (size_t i = 0; i < prof__system.switch_rings && i < count; ++i) files[i].fd = -1;
    return 0;
}

/* Fills in the files that prof's thread waits for. switches: 0: they are not recorded, or no longer. */
static void prof__system_files(struct pollfd *files, size_t count, int switches)
{
    for (size_t i = 0; i < count; ++i) {
        files[i].fd = i < prof__system.switch_rings && !switches ? -1 : prof__system.rings[i].file;
        files[i].events = POLLIN;
    }
}

static void prof__system_run(void)
{
    struct pollfd wake, *files = (struct pollfd *)calloc(prof__system.ring_count + 1, sizeof *files);
    size_t count = files ? prof__system.ring_count : 0;
    int switches = prof__system.switch_rings != 0, samples = prof__system.switch_rings < prof__system.ring_count;
    prof_set_thread_name("prof system");
    wake.fd = prof__system.wake;
    wake.events = POLLIN;
    wake.revents = 0;
    if (!files) files = &wake;
    files[count] = wake;
    prof__system_files(files, count, switches);
    while (!PROF__ACQUIRE(&prof__system.stop)) {
        prof__counters_round(prof__system.session, 0);
        prof__system_sleep(files, count + 1);
        if (PROF__ACQUIRE(&prof__system.stop)) break;
        if ((switches || samples) && prof__processors_round()) prof__system_files(files, count, switches);
        if (switches) switches = prof__switches_round(files, count);
        if (samples) prof__samples_round();
    }
    prof__counters_round(prof__system.session, 1);
    if (switches) prof__switches_drain();
    prof__delays_round(); /* before the last switches: readings of after these say nothing */
    if (switches) prof__switches_finish(prof__system_may());
    prof__delays_close();
    if (samples) prof__samples_finish(prof__system_may());
    PROF__RELEASE(&prof__system.done, 1u);
    if (files != &wake) free(files);
}

static void *prof__system_main(void *user)
{
    (void)user;
    PROF__OWN_BEGINS(); /* for as long as the thread lives */
    prctl(PR_SET_NAME, "prof system", 0, 0, 0);
    prof__system_run();
    return NULL;
}
#endif

#endif /* PROF__SYSTEM_THREAD_H */
