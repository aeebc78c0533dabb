// session/beside: What the recorder calls of prof_system.h and prof_cuda.h, which record what the system and GPUs do
// beside the program's own events. Each instance of the recorder has its own tables.
#ifndef PROF__SESSION_BESIDE_H
#define PROF__SESSION_BESIDE_H
#include "api/types.h"
#include "ground/base.h"
#include "record/locks.h"
#include "record/meta.h"
#include "record/state.h"

#define PROF__SAMPLES_MOST 10000 /* a second */

#if defined(PROF_FREESTANDING) || defined(PROF_MINIMAL)
static PROF__UNUSED void prof__beside_woken(uint64_t ns) { (void)ns; }
static void prof__beside_begin(prof__session *s, const prof_config *config) { (void)s, (void)config; }
static int prof__beside_end(int waits) { return (void)waits, 1; }
#ifndef PROF_FREESTANDING
static void prof__beside_child(void) {}
static void prof__beside_child_image(prof__session *s) { (void)s; }
#endif
#else
/* begin: a session has started: for prof_system.h, if its config asks for that. Called under the control lock.
   end: its recording is about to end. waits: 0: does not wait for what is left to be recorded: returns 0 as long as
   something is. So the service can make room for it meanwhile.
   woken: of prof_system.h alone: the calling thread has waited so long. Does not change errno, and is no cancellation
   point.
   child: in a child of fork(). child_image: the child has made its image. Both async-signal-safe. */
typedef struct prof__beside {
    void (*begin)(prof__session *s, const prof_config *config);
    int (*end)(int waits);
    void (*woken)(uint64_t ns);
    void (*child)(void);
    void (*child_image)(prof__session *s);
} prof__beside;

static const prof__beside *prof__beside_now;     /* NULL: this program has no prof_system.h */
static const prof__beside *prof__beside_devices; /* NULL: it has no prof_cuda.h */

/* Puts a line into the metadata of the session, if it still is the present one. */
static void prof__beside_says(prof__session *s, const char *key, const char *text)
{
    uint32_t write_lock = prof__state_lock();
    if (prof__state.session == s) prof__meta_pair(s, key, text);
    prof__state_unlock(write_lock);
}

static void prof__beside_begin(prof__session *s, const prof_config *config)
{
    int all = config->system | config->faults;
    if (prof__beside_devices) prof__beside_devices->begin(s, config);
    if (!config->switches && !config->counters && !config->samples && !all) return;
    if (prof__beside_now)
        prof__beside_now->begin(s, config);
    else
        prof__beside_says(s, config->switches || all ? "switches" : config->counters ? "counters" : "samples",
                          "not recorded: include prof_system.h in the file with PROF_IMPLEMENTATION");
}

static int prof__beside_end(int waits)
{
    int devices = !prof__beside_devices || prof__beside_devices->end(waits);
    return (!prof__beside_now || prof__beside_now->end(waits)) && devices;
}

static PROF__UNUSED void prof__beside_woken(uint64_t ns)
{
    if (prof__beside_now) prof__beside_now->woken(ns);
}

static void prof__beside_child(void)
{
    if (prof__beside_now) prof__beside_now->child();
    if (prof__beside_devices) prof__beside_devices->child();
}

static void prof__beside_child_image(prof__session *s)
{
    if (prof__beside_now) prof__beside_now->child_image(s);
    if (prof__beside_devices) prof__beside_devices->child_image(s);
}
#endif

#endif /* PROF__SESSION_BESIDE_H */
