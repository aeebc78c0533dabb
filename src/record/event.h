// record/event: Records events that concern an object: flows, locks, allocations and frees. Each has three words.
#ifndef PROF__RECORD_EVENT_H
#define PROF__RECORD_EVENT_H
#include "api/markup.h"
#include "api/values.h"
#include "ground/instances.h"
#include "image/words.h"
#include "record/bridge.h"
#include "record/scope.h"
#include "record/self.h"

static uint64_t prof__flow_last;

PROF_DEF uint64_t prof_flow_new(void)
{
    PROF__FORWARD(prof_flow_new, ());
    return PROF__ADD(&prof__flow_last, 1) + 1;
}

/* Writes an EVENT: the two words after its head first, then the head, which publishes the event. */
static void prof__event_write(uint64_t *at, uint64_t head, uint64_t what, uint64_t object)
{
    PROF__STORE(at + 1, what);
    PROF__STORE(at + 2, object);
    prof__store_word(at, head);
}

PROF_DEF void prof__event(prof_site *site, uint64_t type, uint64_t detail, uint64_t object)
{
    PROF__SELF_OR(PROF__FORWARD_VOID(prof__event, (site, type, detail, object)));
    prof__slot place = prof__slot_take(self, site, 3);
    if (place.at) {
        prof__event_write(place.at, place.head, detail << 8 | type, object);
        prof__slot_leave(self, place, 3);
    } else if (!place.head) {
        return;
    }
    PROF__BRIDGE_EVENT(site, type, detail, object);
}

PROF_DEF void prof__memory(prof_site *site, uint64_t how, uint64_t freed, uint64_t address, uint64_t bytes)
{
    PROF__SELF_OR(PROF__FORWARD_VOID(prof__memory, (site, how, freed, address, bytes)));
    uint64_t first = freed ? 3 : 0, words = first + (address ? 3 : 0);
    if (!words || (!address && bytes)) return; /* free(NULL), or a failed allocation */
    if (bytes > PROF__EVENT_DETAIL_MAX) bytes = PROF__EVENT_DETAIL_MAX;
    prof__slot place = prof__slot_take(self, site, words);
    if (place.at) {
        if (address) prof__event_write(place.at + first, place.head, bytes << 8 | PROF_EVENT_ALLOC, address);
        if (freed) prof__event_write(place.at, place.head, how << 8 | PROF_EVENT_FREE, freed);
        prof__slot_leave(self, place, words);
    } else if (!place.head) {
        return;
    }
    if (freed) PROF__BRIDGE_EVENT(site, PROF_EVENT_FREE, how, freed);
    if (address) PROF__BRIDGE_EVENT(site, PROF_EVENT_ALLOC, bytes, address);
}

#if !defined(_WIN32) && !defined(PROF_FREESTANDING)
/* Locks a mutex and records that. If the mutex is taken, also records the wait for it as a scope. */
PROF_DEF int prof__mutex_lock(prof_site *wait, prof_site *event, void *mutex)
{
    int result = pthread_mutex_trylock((pthread_mutex_t *)mutex);
    if (result == EBUSY) {
        prof__token token = prof__on(wait) ? prof__begin(wait) : 0;
        prof__event(event, PROF_EVENT_LOCK_WAIT, 1, (uint64_t)(uintptr_t)mutex);
        PROF__OWN_BEGINS(); /* PROF_WRAP_WAITS need not record this wait again */
        result = pthread_mutex_lock((pthread_mutex_t *)mutex);
        PROF__OWN_ENDS();
        if (!result || result == EOWNERDEAD) prof__event(event, PROF_EVENT_LOCK_ACQUIRE, 0, (uint64_t)(uintptr_t)mutex);
        if (token) prof__end(token);
    } else if (!result || result == EOWNERDEAD) {
        prof__event(event, PROF_EVENT_LOCK_ACQUIRE, 0, (uint64_t)(uintptr_t)mutex);
    }
    return result;
}
#endif

#endif /* PROF__RECORD_EVENT_H */
