// record/event: Allocations and frees.
/* Writes two more words after the head; the head, which is written last, publishes the event. */
static void prof__event_write(uint64_t *at, uint64_t head, uint64_t what, uint64_t object)
{
    PROF__STORE(at + 1, what);
    PROF__STORE(at + 2, object);
    prof__store_word(at, head);
}

PROF__ENTRY void prof__memory(prof_site *site, uint64_t how, uint64_t freed, uint64_t address, uint64_t bytes)
{
    PROF__SELF_OR(PROF__LED_VOID(prof__memory, (site, how, freed, address, bytes)));
    uint64_t head, first = freed ? 3 : 0, words = first + (address ? 3 : 0);
    if (!words || (!address && bytes)) return; /* free(NULL), or an allocation that failed and changed nothing */
    if (bytes > PROF__EVENT_DETAIL_MAX) bytes = PROF__EVENT_DETAIL_MAX;
    if (!prof__enter(self, site, &head)) return;
    uint64_t now = prof__now(self->session, 0), *at = prof__reserve(self, words, &now);
    if (at) {
        head |= now - self->base;
        if (address) prof__event_write(at + first, head, bytes << 8 | PROF_EVENT_ALLOC, address);
        if (freed) prof__event_write(at, head, how << 8 | PROF_EVENT_FREE, freed);
        prof__commit(self, words);
    }
    prof__leave(self);
    if (freed) PROF__BRIDGE_EVENT(site, PROF_EVENT_FREE, how, freed);
    if (address) PROF__BRIDGE_EVENT(site, PROF_EVENT_ALLOC, bytes, address);
}
