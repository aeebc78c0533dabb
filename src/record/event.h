// record/event: Allocations and frees.
PROF_DEF void prof__memory(prof_site *site, uint64_t how, uint64_t freed, uint64_t address, uint64_t bytes)
{
    PROF__SELF_OR(PROF__LED_VOID(prof__memory, (site, how, freed, address, bytes)));
    uint64_t first = freed ? 3 : 0, words = first + (address ? 3 : 0);
    if (!words || (!address && bytes)) return; /* free(NULL), or an allocation that failed and changed nothing */
    if (bytes > PROF__EVENT_DETAIL_MAX) bytes = PROF__EVENT_DETAIL_MAX;
    prof__place place = prof__place_take(self, site, words);
    if (place.at) {
        if (address) prof__event_write(place.at + first, place.head, bytes << 8 | PROF_EVENT_ALLOC, address);
        if (freed) prof__event_write(place.at, place.head, how << 8 | PROF_EVENT_FREE, freed);
        prof__place_leave(self, place, words);
    } else if (!place.head) {
        return;
    }
    if (freed) PROF__BRIDGE_EVENT(site, PROF_EVENT_FREE, how, freed);
    if (address) PROF__BRIDGE_EVENT(site, PROF_EVENT_ALLOC, bytes, address);
}
