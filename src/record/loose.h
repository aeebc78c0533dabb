// record/loose: PROFILE_BEGIN and PROFILE_END: scopes without a block.
#define PROF__LOOSE_MAX (sizeof((prof_fiber *)0)->loose / sizeof *((prof_fiber *)0)->loose)

/* Takes a place of a full list: that of a begin that has ended, else of one that was passed, which means that a scope
   around it has ended, so that its own end may never come. They take turns: a begin that gets such a place counts as
   passed, too, because it is among older ones. Returns PROF__LOOSE_MAX if there is none. */
static uint32_t prof__loose_place(prof_fiber *track)
{
    for (uint32_t i = 0; i < 2 * PROF__LOOSE_MAX; ++i) {
        uint32_t at = (track->loose_turn + i) % PROF__LOOSE_MAX, name = PROF__LOAD(&track->loose_name[at]);
        if (i < PROF__LOOSE_MAX ? name != PROF__LOOSE_ENDED : !(name & PROF__LOOSE_PASSED)) continue;
        if (!__atomic_compare_exchange_n(&track->loose_name[at], &name, PROF__LOOSE_FREE, 0, __ATOMIC_RELAXED,
                                         __ATOMIC_RELAXED))
            continue;
        track->loose_turn = at + 1;
        return at;
    }
    return PROF__LOOSE_MAX;
}

/* Called when the list of PROFILE_BEGINs is full. The list may be of an earlier session. */
static PROF__COLD void prof__begin_loose_full(prof__thread *self, prof_fiber *track, prof_site *site)
{
    uint64_t head;
    uint32_t at;
    if (prof__site_asked(site) || !prof__enter(self, site, &head)) return;
    if (track->loose_count < PROF__LOOSE_MAX) {
        prof__leave(self);
        prof__begin_loose(site);
        return;
    }
    at = prof__loose_place(track);
    if (at == PROF__LOOSE_MAX) prof__lose(self, 1);
    prof__leave(self);
    if (at == PROF__LOOSE_MAX) return;
    track->loose[at] = prof__begin(site);
    PROF__BARRIER();
    PROF__STORE(&track->loose_name[at],
                track->loose[at] ? PROF__LOAD(&site->private_name) | PROF__LOOSE_PASSED : PROF__LOOSE_ENDED);
    if (track->loose[at]) PROF__BRIDGE_LOOSE(track, track->loose[at]);
}

/* Returns the place of the last begin without a name, plus 1; 0: there is none. A site that did not get the lock has
   none yet: the begin is only noted, see >>note. */
static PROF__COLD uint32_t prof__loose_nameless(const prof_fiber *track)
{
    uint32_t at = track->loose_count;
    while (at && track->loose_name[at - 1] & ~PROF__LOOSE_PASSED) --at;
    return at;
}

PROF__ENTRY void prof__begin_loose(prof_site *site)
{
    PROF__SELF_OR(PROF__LED_VOID(prof__begin_loose, (site)));
    prof_fiber *track = prof__track_of(self);
    if (PROF__UNLIKELY(track->loose_count >= PROF__LOOSE_MAX)) {
        prof__begin_loose_full(self, track, site);
        return;
    }
    prof__token token = prof__begin(site);
    if (!token) return;
    uint32_t at = track->loose_count;
    if (PROF__UNLIKELY(at >= PROF__LOOSE_MAX)) { /* a handler has taken the last place */
        prof__end(token);
        return;
    }
    track->loose_count = at + 1; /* before the place is written: a handler that interrupts here takes the next one */
    PROF__BARRIER();
    track->loose_name[at] = PROF__LOAD(&site->private_name);
    track->loose[at] = token;
    PROF__BRIDGE_LOOSE(track, token);
}

/* Notes that the begin before this place has ended, and that it has passed those from this place on, which began inside
   it. Places never move, because a handler may be using them. */
static PROF__COLD void prof__loose_pass(prof_fiber *track, uint32_t at)
{
    PROF__STORE(&track->loose_name[at - 1], PROF__LOOSE_ENDED);
    for (; at < track->loose_count; ++at) {
        uint32_t name = PROF__LOAD(&track->loose_name[at]);
        if (!(name & 0x80000000u))
            __atomic_compare_exchange_n(&track->loose_name[at], &name, name | PROF__LOOSE_PASSED, 0, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED);
    }
}

/* Removes begins at the end of the list that have ended. */
static PROF__COLD void prof__loose_shrink(prof_fiber *track)
{
    uint32_t at = track->loose_count;
    while (at && track->loose_name[at - 1] == PROF__LOOSE_ENDED) track->loose_name[--at] = PROF__LOOSE_FREE;
    PROF__BARRIER();
    track->loose_count = at;
}

PROF__ENTRY void prof__end_loose(prof_site *site)
{
    PROF__SELF_OR(PROF__LED_VOID(prof__end_loose, (site)));
    prof_fiber *track = prof__track_of(self);
    uint64_t head;
    if (!track->loose_count) return;
    /* The name of a new site is not known yet. An end whose begin was lost to an interrupted macro is lost as well. */
    if (PROF__UNLIKELY(((uint32_t)prof__site_load(site) ^ PROF__LOAD(prof__generation)) || self->gate == PROF__BUSY)) {
        if (!prof__enter(self, site, &head)) return;
        prof__leave(self);
    }
    uint32_t name = PROF__LOAD(&site->private_name), at = track->loose_count;
    while (at && (track->loose_name[at - 1] & ~PROF__LOOSE_PASSED) != name) --at;
    if (!at && !(PROF__NOTE_LOST && (at = prof__loose_nameless(track)) != 0)) return;
    prof__token token = track->loose[at - 1];
    if (PROF__UNLIKELY(at < track->loose_count)) {
        prof__loose_pass(track, at);
    } else {
        track->loose_name[--at] = PROF__LOOSE_FREE;
        PROF__BARRIER();
        track->loose_count = at;
        if (PROF__UNLIKELY(at && track->loose_name[at - 1] == PROF__LOOSE_ENDED)) prof__loose_shrink(track);
    }
    prof__end(token);
}
