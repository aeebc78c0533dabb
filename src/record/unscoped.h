// record/unscoped: PROFILE_BEGIN and PROFILE_END: unscoped begins, which no block ends.
#ifndef PROF__RECORD_UNSCOPED_H
#define PROF__RECORD_UNSCOPED_H
#include "api/markup.h"
#include "ground/instances.h"
#include "record/off_scope_sites.h"
#include "record/bridge.h"
#include "record/off_scope.h"
#include "record/unscoped_slots.h"
#include "record/ring.h"
#include "record/scope.h"
#include "record/self.h"
#include "record/site.h"
#include "record/thread.h"

#define PROF__UNSCOPED_NONE 0xffffffffu /* unscoped_turn: no slot can be reused before a begin ends */

/* Finds a slot to reuse in a full list of unscoped begins: one whose begin has ended, else one whose begin was passed:
   a scope around it has ended, so its own end may never come. Looks round robin from unscoped_turn. A begin that gets
   such a slot is marked as passed, too, as it stands among older begins. Returns null pointers if there is none. */
static PROF__COLD prof__unscoped_slot prof__unscoped_take(prof_fiber *track)
{
    prof__unscoped_slot place = {NULL, NULL};
    uint32_t count = track->unscoped_count, turn = track->unscoped_turn;
    if (turn == PROF__UNSCOPED_NONE) return place;
    for (uint32_t i = 0; i < 2 * count; ++i) {
        uint32_t at = (turn + i) % count, name;
        place = prof__unscoped_at(track, at);
        if (!place.name) break;
        name = PROF__LOAD(place.name);
        if (i < count ? name != PROF__UNSCOPED_ENDED : !(name & PROF__UNSCOPED_PASSED)) continue;
        if (!__atomic_compare_exchange_n(place.name, &name, PROF__UNSCOPED_FREE, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            continue;
        track->unscoped_turn = at + 1;
        return place;
    }
    track->unscoped_turn = PROF__UNSCOPED_NONE;
    place.name = NULL;
    return place;
}

/* Begins a scope when the list of unscoped begins is full. The list may still be that of an earlier session. */
static PROF__COLD void prof__begin_unscoped_full(prof__thread *self, prof_fiber *track, prof_site *site)
{
    uint64_t head;
    prof__unscoped_slot place = {NULL, NULL};
    if (prof__site_off_scope(site) || !prof__enter(self, site, &head)) return;
    int full = !prof__unscoped_at(track, track->unscoped_count).name;
    if (full) {
        place = prof__unscoped_take(track);
        if (!place.name && prof__unscoped_grow(track)) full = 0;
        if (full && !place.name) prof__lose_deep(self);
    }
    prof__leave(self);
    if (!full) {
        prof__begin_unscoped(site);
        return;
    }
    if (!place.name) return;
    *place.token = prof__begin(site);
    PROF__BARRIER();
    PROF__STORE(place.name,
                *place.token ? PROF__LOAD(&site->private_name) | PROF__UNSCOPED_PASSED : PROF__UNSCOPED_ENDED);
    if (*place.token) PROF__BRIDGE_UNSCOPED(track, *place.token);
}

/* Returns the index + 1 of the last begin in the list whose name is not known, or 0 if there is none. A site that could
   not get the lock has no name yet: its begin is only an off-scope marker, see >>off_scope. */
static PROF__COLD uint32_t prof__unscoped_nameless(prof_fiber *track)
{
    uint32_t at = track->unscoped_count;
    while (at && prof__unscoped_name(track, at - 1) & ~PROF__UNSCOPED_PASSED) --at;
    return at;
}

PROF_DEF void prof__begin_unscoped(prof_site *site)
{
    PROF__SELF_OR(PROF__FORWARD_VOID(prof__begin_unscoped, (site)));
    prof_fiber *track = prof__track_of(self);
    if (PROF__UNLIKELY(track->unscoped_count >= PROF__UNSCOPED_OWN) &&
        !prof__unscoped_at(track, track->unscoped_count).name) {
        prof__begin_unscoped_full(self, track, site);
        return;
    }
    prof__token token = prof__begin(site);
    if (!token) return;
    uint32_t at = track->unscoped_count;
    prof__unscoped_slot place = prof__unscoped_at(track, at);
    if (PROF__UNLIKELY(!place.name)) { /* a signal handler has taken the last slot */
        prof__end(token);
        return;
    }
    /* Before the slot is written: a signal handler that interrupts here takes the next slot. */
    track->unscoped_count = at + 1;
    PROF__BARRIER();
    *place.name = PROF__LOAD(&site->private_name);
    *place.token = token;
    PROF__BRIDGE_UNSCOPED(track, token);
}

/* Marks the begin at index at - 1 as ended, and those from index `at` on, which began inside it, as passed. No slot
   moves, because a signal handler may be using it. */
static PROF__COLD void prof__unscoped_pass(prof_fiber *track, uint32_t at)
{
    prof__unscoped_slot place = prof__unscoped_at(track, at - 1);
    if (place.name) PROF__STORE(place.name, PROF__UNSCOPED_ENDED);
    for (; at < track->unscoped_count && (place = prof__unscoped_at(track, at)).name; ++at) {
        uint32_t name = PROF__LOAD(place.name);
        if (!(name & 0x80000000u))
            __atomic_compare_exchange_n(place.name, &name, name | PROF__UNSCOPED_PASSED, 0, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED);
    }
    if (track->unscoped_turn == PROF__UNSCOPED_NONE) track->unscoped_turn = 0;
}

/* Removes ended begins from the end of the list. */
static PROF__COLD void prof__unscoped_shrink(prof_fiber *track)
{
    uint32_t at = track->unscoped_count;
    while (at && prof__unscoped_name(track, at - 1) == PROF__UNSCOPED_ENDED)
        *prof__unscoped_at(track, --at).name = PROF__UNSCOPED_FREE;
    PROF__BARRIER();
    track->unscoped_count = at;
}

PROF_DEF void prof__end_unscoped(prof_site *site)
{
    PROF__SELF_OR(PROF__FORWARD_VOID(prof__end_unscoped, (site)));
    prof_fiber *track = prof__track_of(self);
    uint64_t head;
    if (!track->unscoped_count) return;
    /* Settles a new site first, whose name is not known yet. If the begin was lost because this handler interrupted a
       macro, the end is lost as well. */
    if (PROF__UNLIKELY(((uint32_t)prof__site_load(site) ^ PROF__LOAD(prof__config_version)) ||
                       self->write_lock == PROF__BUSY)) {
        if (!prof__enter(self, site, &head)) return;
        prof__leave(self);
    }
    uint32_t name = PROF__LOAD(&site->private_name), at = track->unscoped_count;
    while (at && (prof__unscoped_name(track, at - 1) & ~PROF__UNSCOPED_PASSED) != name) --at;
    if (!at && !(PROF__OFF_SCOPE_LOST && (at = prof__unscoped_nameless(track)) != 0)) return;
    prof__unscoped_slot place = prof__unscoped_at(track, at - 1);
    prof__token token = *place.token;
    if (PROF__UNLIKELY(at < track->unscoped_count)) {
        prof__unscoped_pass(track, at);
    } else {
        *place.name = PROF__UNSCOPED_FREE;
        PROF__BARRIER();
        track->unscoped_count = --at;
        if (PROF__UNLIKELY(at && prof__unscoped_name(track, at - 1) == PROF__UNSCOPED_ENDED))
            prof__unscoped_shrink(track);
    }
    prof__end(token);
}

#endif /* PROF__RECORD_UNSCOPED_H */
