// record/mark: Instants, frames, and the wait for a mutex.
#if !defined(_WIN32) && !defined(PROF_FREESTANDING)
/* A free lock records no wait; a lock that is not free records the wait as a scope. */
PROF__ENTRY int prof__mutex_lock(prof_site *wait, prof_site *event, void *mutex)
{
    int result = pthread_mutex_trylock((pthread_mutex_t *)mutex);
    if (result == EBUSY) {
        prof__token token = prof__on(wait) ? prof__begin(wait) : 0;
        prof__event(event, PROF_EVENT_LOCK_WAIT, 1, (uint64_t)(uintptr_t)mutex);
        result = pthread_mutex_lock((pthread_mutex_t *)mutex);
        if (!result || result == EOWNERDEAD) prof__event(event, PROF_EVENT_LOCK_ACQUIRE, 0, (uint64_t)(uintptr_t)mutex);
        if (token) prof__end(token);
    } else if (!result || result == EOWNERDEAD) {
        prof__event(event, PROF_EVENT_LOCK_ACQUIRE, 0, (uint64_t)(uintptr_t)mutex);
    }
    return result;
}
#endif

/* Records an instant of one word, its head. */
static void prof__instant(prof_site *site)
{
    PROF__SELF_OR(PROF__LED_VOID(prof__instant, (site)));
    prof__place place = prof__place_take(self, site, 1);
    if (!place.at) return;
    prof__store_word(place.at, place.head);
    prof__place_leave(self, place, 1);
}
PROF__ENTRY void prof__mark(prof_site *site)
{
    prof__instant(site);
    PROF__BRIDGE_MARK(site, NULL);
}
PROF__ENTRY void prof__frame(prof_site *site)
{
    prof__instant(site);
    PROF__BRIDGE_FRAME(site);
}
