// session/control: Changes metadata, level, filter mask, categories and the function of PROFILE_SYNC while a session
// runs.
#ifndef PROF__SESSION_CONTROL_H
#define PROF__SESSION_CONTROL_H
#include "api/control.h"
#include "api/markup.h"
#include "api/objects.h"
#include "ground/instances.h"
#include "ground/errors.h"
#include "ground/threads.h"
#include "record/locks.h"
#include "record/meta.h"
#include "record/self.h"
#include "record/state.h"
#include "session/rules.h"

/* Sets one pair of metadata, or removes all metadata if key is NULL. */
static prof_status prof__metadata_change(const char *key, const char *value)
{
    PROF__FORWARD(prof__metadata_change, (key, value));
    uint32_t write_lock = prof__state_lock();
    prof__session *s = prof__state.running ? prof__state.session : NULL;
#ifdef PROF_TINY
    int fits = s != NULL;
#else
    int fits = !key || prof__metadata_put(key, value);
    if (!key) prof__metadata.used = 0;
#endif
    if (fits && s) fits = prof__meta_pair(s, key ? key : "", key ? value : "");
    prof__state_unlock(write_lock);
    return fits ? PROF_OK : prof__fail(PROF_NO_MEMORY, "metadata '%.80s': no space is left for it", key ? key : "");
}

PROF_DEF prof_status prof_set_metadata(const char *key, const char *value)
{
    if (!key || !value || !key[0])
        return prof__fail(PROF_INVALID_ARGUMENT, "prof_set_metadata: key or value is null, or key empty");
    return prof__metadata_change(key, value);
}
PROF_DEF prof_status prof_clear_metadata(void) { return prof__metadata_change(NULL, NULL); }

/* The function that prof_set_sync() set. Threads read it without a lock: version is odd during a change, and a reader
   that sees an odd or a changed version reads again. */
static struct {
    uint32_t version;
    void (*function)(void *user);
    void *user;
} prof__sync_hook;

PROF_DEF prof_status prof_set_sync(void (*sync)(void *user), void *user)
{
    PROF__FORWARD(prof_set_sync, (sync, user));
    uint32_t write_lock = prof__state_lock();
    PROF__STORE(&prof__sync_hook.version, prof__sync_hook.version + 1);
    PROF__FENCE();
    PROF__RELEASE(&prof__sync_hook.function, sync);
    PROF__RELEASE(&prof__sync_hook.user, user);
    PROF__RELEASE(&prof__sync_hook.version, prof__sync_hook.version + 1);
    prof__state_unlock(write_lock);
    return PROF_OK;
}

/* Calls the function that prof_set_sync() set. In a signal handler that interrupted prof_set_sync(), no function is
   called. */
PROF_DEF void prof__sync(void)
{
    PROF__SELF_OR(PROF__FORWARD_VOID(prof__sync, ()));
    for (int i = 0; i < 100; ++i) {
        uint32_t version = PROF__ACQUIRE(&prof__sync_hook.version);
        void (*function)(void *) = PROF__ACQUIRE(&prof__sync_hook.function);
        void *user = PROF__ACQUIRE(&prof__sync_hook.user);
        if (version & 1 || PROF__ACQUIRE(&prof__sync_hook.version) != version) continue;
        if (!function || self->syncing || PROF__LOAD(&prof__state.no_sync)) return;
        PROF__ERRNO_SAVE();
        self->syncing = 1; /* the function may itself contain scopes that wait for the device */
        function(user);
        PROF__SELF()->syncing = 0;
        PROF__ERRNO_RESTORE();
        return;
    }
}

/* Ends a scope after waiting for the device. Does not wait if the scope's session is over. */
PROF_DEF void prof__end_sync(prof__token token)
{
    PROF__FORWARD_VOID(prof__end_sync, (token));
    if ((uint32_t)token == PROF__LOAD(&prof__state.session_id) && PROF__LOAD(&prof__state.running)) prof__sync();
    prof__end(token);
}

PROF_DEF int prof_enabled_at(int level)
{
    PROF__FORWARD(prof_enabled_at, (level));
    uint32_t write_lock = prof__state_lock();
    int enabled = prof__state.running && !prof__state.paused && !prof__state.held && level <= prof__state.level;
    if (prof__state.inherited && prof__state.inherited->failed) enabled = 0;
    prof__state_unlock(write_lock);
    return enabled;
}
PROF_DEF int prof_enabled(void) { return prof_enabled_at(0); }

PROF_DEF prof_status prof_set_level(int level)
{
    PROF__FORWARD(prof_set_level, (level));
    prof_status status = PROF_OK;
    if (level < 0 || level > 255) return prof__fail(PROF_INVALID_ARGUMENT, "level %d: must be 0 to 255", level);
    uint32_t write_lock = prof__state_lock();
    if (prof__state.running || prof__state.ended) {
        prof__state.level = level;
        prof__next_config_version();
    } else {
        status = prof__fail(PROF_INVALID_STATE, "no session is running: set prof_config.level");
    }
    prof__state_unlock(write_lock);
    return status;
}

PROF_DEF prof_status prof_set_filter_mask(uint32_t mask)
{
    PROF__FORWARD(prof_set_filter_mask, (mask));
    prof_status status = PROF_OK;
    uint32_t write_lock = prof__state_lock();
    if (prof__state.running || prof__state.ended) {
        prof__state.filter_mask = mask ? mask : ~0u;
        prof__next_config_version();
    } else {
        status = prof__fail(PROF_INVALID_STATE, "no session is running: set prof_config.filter_mask");
    }
    prof__state_unlock(write_lock);
    return status;
}

static prof_status prof__category_enable(const char *pattern, int on, int exact)
{
    PROF__FORWARD(prof__category_enable, (pattern, on, exact));
    prof_status status;
    uint32_t write_lock = prof__state_lock();
    if (prof__state.running || prof__state.ended) {
        status = prof__rule_add(pattern, prof__length(pattern), on != 0, exact);
        prof__next_config_version();
    } else {
        status = prof__fail(PROF_INVALID_STATE, "no session is running: set prof_config.categories");
    }
    prof__state_unlock(write_lock);
    return status;
}

PROF_DEF prof_status prof_category_enable(const char *pattern, int on)
{
    if (!pattern) return prof__fail(PROF_INVALID_ARGUMENT, "category pattern is null");
    return prof__category_enable(pattern, on, 0);
}

#ifndef PROF_FREESTANDING
PROF_DEF prof_status prof_domain_enable(prof_domain *domain, int on)
{
    if (!domain) return prof__fail(PROF_INVALID_ARGUMENT, "prof_domain_enable: domain is null");
    return prof__category_enable(prof_domain_name(domain), on, 1);
}
#endif

#endif /* PROF__SESSION_CONTROL_H */
