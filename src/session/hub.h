// session/hub: The table of functions of this instance. Comes last in prof.h, because it needs the declarations of all.
#ifndef PROF__SESSION_HUB_H
#define PROF__SESSION_HUB_H
#include "api/markup.h"
#include "api/writers.h"
#include "ground/copies.h"
#include "ground/errors.h"
#include "record/args.h"
#include "record/counter.h"
#include "record/device.h"
#include "record/event.h"
#include "record/locks.h"
#include "record/log.h"
#include "record/loose.h"
#include "record/mark.h"
#include "record/objects.h"
#include "record/scope.h"
#include "record/value.h"
#include "session/alone.h"
#include "session/control.h"
#include "session/hooks.h"
#include "session/on_demand.h"
#include "session/place.h"
#include "session/state.h"
#include "session/stop.h"

#if defined(PROF__HUBS) && !defined(PROF_STATIC)
/*-- the table of this instance, to which other instances in the process may forward: see >>copies --*/

/* Adds an instance of prof that forwards to this one to the list prof__followers. That instance calls this function. */
static void prof__hub_join(prof__hub *follower)
{
    uint32_t gate = prof__state_lock();
    follower->next = prof__followers;
    if (follower->generation != prof__generation) PROF__STORE(follower->generation, PROF__LOAD(prof__generation));
    PROF__RELEASE(&prof__followers, follower);
    prof__state_unlock(gate);
}

static void prof__hub_leave(prof__hub *follower)
{
    uint32_t gate = prof__state_lock();
    for (prof__hub **at = &prof__followers; *at; at = &(*at)->next)
        if (*at == follower) {
            PROF__RELEASE(at, follower->next);
            break;
        }
    prof__state_unlock(gate);
}
#elif defined(PROF__HUBS)
static void prof__hub_join(prof__hub *follower) { (void)follower; }
static void prof__hub_leave(prof__hub *follower) { (void)follower; }
#endif

#ifdef PROF__HUBS
#ifdef PROF_STATIC
#define PROF__LAYOUT 0
#else
/* A checksum of structure sizes. Two instances whose versions or options differ usually differ in one of the sizes, and
   then do not work together. */
#define PROF__LAYOUT                                                                                                 \
    ((uint64_t)PROF_VERSION << 48 ^ (uint64_t)sizeof(prof__hub) << 36 ^ (uint64_t)sizeof(prof_config) << 26 ^        \
     (uint64_t)sizeof(struct prof_fiber) << 4 ^ (uint64_t)(sizeof(prof_writer) + sizeof(struct prof_counter)))
#endif
#define PROF__HUB_ENTRY(name) name,
extern uint32_t prof__generation[];
PROF__HIDDEN __attribute__((__used__)) prof__hub prof__hub_here = {
    {'p', 'r', 'o', 'f', ' ', 'h', 'u', 'b'}, PROF__LAYOUT, prof__output_told, 0, prof__generation, NULL,
#if defined(PROF__SHARED) && !defined(PROF_STATIC)
    &prof__leader,
#else
    NULL,
#endif
    PROF__HUB_FUNCTIONS(PROF__HUB_ENTRY)};
#endif

#endif /* PROF__SESSION_HUB_H */
