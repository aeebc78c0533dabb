// session/instance: The table of functions of this instance. Comes last in prof.h, because it needs the declarations of
// all.
#ifndef PROF__SESSION_HUB_H
#define PROF__SESSION_HUB_H
#include "api/markup.h"
#include "api/writers.h"
#include "ground/instances.h"
#include "ground/errors.h"
#include "record/args.h"
#include "record/counter.h"
#include "record/device.h"
#include "record/event.h"
#include "record/locks.h"
#include "record/log.h"
#include "record/unscoped.h"
#include "record/mark.h"
#include "record/objects.h"
#include "record/scope.h"
#include "record/value.h"
#include "session/prepare_output.h"
#include "session/control.h"
#include "session/hooks.h"
#include "session/on_demand.h"
#include "session/place.h"
#include "session/state.h"
#include "session/stop.h"

#if defined(PROF__INSTANCES) && !defined(PROF_STATIC)
/*-- the table of this instance, to which other instances in the process may forward: see >>instances --*/

/* Adds an instance of prof that forwards to this one to the list prof__followers. That instance calls this function. */
static void prof__instance_join(prof__instance *follower)
{
    uint32_t write_lock = prof__state_lock();
    follower->next = prof__followers;
    if (follower->config_version != prof__config_version)
        PROF__STORE(follower->config_version, PROF__LOAD(prof__config_version));
    PROF__RELEASE(&prof__followers, follower);
    prof__state_unlock(write_lock);
}

static void prof__instance_leave(prof__instance *follower)
{
    uint32_t write_lock = prof__state_lock();
    for (prof__instance **at = &prof__followers; *at; at = &(*at)->next)
        if (*at == follower) {
            PROF__RELEASE(at, follower->next);
            break;
        }
    prof__state_unlock(write_lock);
}
#elif defined(PROF__INSTANCES)
static void prof__instance_join(prof__instance *follower) { (void)follower; }
static void prof__instance_leave(prof__instance *follower) { (void)follower; }
#endif

#ifdef PROF__INSTANCES
#ifdef PROF_STATIC
#define PROF__LAYOUT 0
#else
/* A checksum of structure sizes. Two instances whose versions or options differ usually differ in one of the sizes, and
   then do not work together. */
#define PROF__LAYOUT                                                                                                 \
    ((uint64_t)PROF_VERSION << 48 ^ (uint64_t)sizeof(prof__instance) << 36 ^ (uint64_t)sizeof(prof_config) << 26 ^   \
     (uint64_t)sizeof(struct prof_fiber) << 4 ^ (uint64_t)(sizeof(prof_writer) + sizeof(struct prof_counter)))
#endif
#define PROF__INSTANCE_ENTRY(name) name,
extern uint32_t prof__config_version[];
PROF__HIDDEN __attribute__((__used__)) prof__instance prof__this_instance = {
    {'p', 'r', 'o', 'f', ' ', 'h', 'u', 'b'}, PROF__LAYOUT, prof__output_told, 0, prof__config_version, NULL,
#if defined(PROF__SHARED) && !defined(PROF_STATIC)
    &prof__leader,
#else
    NULL,
#endif
    PROF__FORWARDED_FUNCTIONS(PROF__INSTANCE_ENTRY)};
#endif

#endif /* PROF__SESSION_HUB_H */
