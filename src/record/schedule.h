// record/schedule: Sessions that begin to record later than they start: after a delay, or after steps of warm-up.
// Settles call sites.
#ifndef PROF__RECORD_SCHEDULE_H
#define PROF__RECORD_SCHEDULE_H
#include "api/markup.h"
#include "api/values.h"
#include "ground/clock.h"
#include "ground/lock.h"
#include "image/format.h"
#include "image/pair.h"
#include "record/off_scope_sites.h"
#include "record/meta.h"
#include "record/ring.h"
#include "record/site.h"
#include "record/state.h"

/*-- SCHEDULE -------------------------------------------------------------------------------------------- >>schedule --
   A session may begin to record later than it starts. Until then all sites are off, as in a pause, and cost as little.
   The service looks at the clock (prof__schedule_step). During a warm-up, the sites of the steps or frames that count
   are not off but out of date: each use of them, and of no other site, takes the slow path, where it is counted under
   the lock. The child of a fork has no service, so during a delay all its sites are out of date in this way. */

#define PROF__CENTURY (100ull * 366 * 86400 * 1000000000) /* in ns */
enum { PROF__HELD_TIME = 1, PROF__HELD_WARMUP = 2 };
enum { PROF__WARMUP_STEPS = 1, PROF__WARMUP_FRAMES };

static prof__session *prof__state_session(void)
{
    return prof__state.session ? prof__state.session : prof__state.inherited;
}

#ifdef PROF_MINIMAL /* sessions record at once */
static int prof__schedule_sees(const prof_site *site)
{
    (void)site;
    return 0;
}
static void prof__schedule_look(const prof_site *site) { (void)site; }
static void prof__schedule_release(prof__session *s, int held)
{
    (void)s, (void)held;
    prof__next_config_version();
}
#else
/* Returns 1 if the session begins after a delay but has no service: only macros notice when the delay is over. */
static int prof__schedule_alone(const prof__session *s)
{
#ifdef PROF__ALONE
    (void)s;
    return 0;
#else
    return prof__state.held & PROF__HELD_TIME && s == prof__state.inherited;
#endif
}

static int prof__warmup_counts(const prof__session *s, const prof_site *site)
{
    if (s->schedule.warmup_what == PROF__WARMUP_FRAMES)
        return (site->kind & ((1u << PROF__ROLE_SHIFT) - 1)) == PROF__KIND_FRAME;
    return site->kind >> PROF__ROLE_SHIFT == PROF_ROLE_STEP;
}

/* Returns 1 if the session waits for its beginning, and every use of this site must take the slow path. Under the
   lock. */
static int prof__schedule_sees(const prof_site *site)
{
    const prof__session *s = prof__state_session();
    if (!prof__state.held || !prof__state.running || prof__state.paused || !s) return 0;
    return prof__schedule_alone(s) || (prof__state.held == PROF__HELD_WARMUP && prof__warmup_counts(s, site));
}

/* Removes one reason to wait, PROF__HELD_TIME or PROF__HELD_WARMUP. After the last one, recording begins, and with it
   the session's time. Under the lock. */
static void prof__schedule_release(prof__session *s, int held)
{
    prof__state.held &= ~held;
    prof__next_config_version();
    if (prof__state.held) return;
    if (held && s->header) {
        prof__pair_take_well(s->clock, s->header->tick_hz, &s->header->first);
        s->header->last = s->header->first;
    }
#ifndef PROF__ALONE
    if (s->schedule.duration_ns && s->header)
        PROF__STORE(&s->schedule.end_at, s->header->first.monotonic_ns + s->schedule.duration_ns);
    prof__word_wake(&s->service.word);
#endif
}

/* Called at each use of a site for which prof__schedule_sees() returns 1. Under the lock. */
static void prof__schedule_look(const prof_site *site)
{
    prof__session *s = prof__state_session();
#ifndef PROF__ALONE
    if (prof__schedule_alone(s) && prof__monotonic() >= s->schedule.begin_at)
        prof__schedule_release(s, PROF__HELD_TIME);
#endif
    if (prof__state.held != PROF__HELD_WARMUP || !prof__warmup_counts(s, site)) return;
    uint32_t name = prof__hash(site->name, prof__length(site->name)) | 1;
    if (!s->schedule.warmup_name) s->schedule.warmup_name = name;
    if (s->schedule.warmup_name != name) return;
    if (s->schedule.warmup_left)
        s->schedule.warmup_left--;
    else
        prof__schedule_release(s, PROF__HELD_WARMUP);
}
#endif

/* Returns 1 if all sites but those of ends are off: in a pause, during a crash report, or because the image's file was
   truncated. The pause changes under the lock only. */
static int prof__sites_rest(void)
{
#ifndef PROF_NO_CRASH
    const prof__session *s = prof__state.session;
    if (PROF__LOAD(&prof__state.frozen) || (s && PROF__LOAD(&s->file.cut) & PROF__CUT_OVER)) return 1;
#endif
    return PROF__LOAD(&prof__state.paused);
}

/* Returns 1 if the configuration records this site. Sites of devices have no level: level 0 turns off the host's
   events, no_devices those of devices. */
static int prof__site_wanted(const prof_site *site)
{
    int device = site->kind >> PROF__ROLE_SHIFT == PROF_ROLE_DEVICE;
    return !prof__sites_rest() && !PROF__HELD() &&
           (device ? !prof__state.no_devices : (int)site->level <= prof__state.level) &&
           (~site->unmask & prof__state.filter_mask) && prof__category_on(prof__category_of(site));
}

/* Settles a site: sets its state for the present config version. Under the lock. The thread holds its write lock. */
static void prof__site_resolve(prof_site *site)
{
    uint32_t config_version = PROF__ACQUIRE(prof__config_version); /* acquire: also of prof__state.frozen */
    if (PROF__HELD() && prof__schedule_sees(site)) return;
#ifndef PROF__NO_FORK
    if (prof__state.running && prof__state.inherited) {
        if (prof__site_kind(site) == PROF__KIND_END) return; /* its begin was in the parent: needs no image */
        if (prof__site_wanted(site)) prof__inherited_make();
    }
#endif
    prof__session *s = prof__state.session;
    if (!prof__state.running || !s) {
        prof__category_note(site->category);
        prof__site_store(site, config_version ^ PROF__OFF);
        return;
    }
    uint64_t head = prof__site_load(site) >> PROF__TICK_BITS << PROF__TICK_BITS;
    if (site->private_session != s->session_id || !head) {
        uint32_t id = prof__meta_site(s, site);
        if (!id) id = s->site_without_room;
        prof__category_note(site->category);
        head = prof__site_kind(site) << PROF__KIND_SHIFT | (uint64_t)id << PROF__TICK_BITS;
        site->private_session = s->session_id;
        prof__off_scopes_clear(s->session_id);
        prof__pair_take(s->clock, s->header->tick_hz, &s->header->last);
        prof__lost_collect(s);
    }
    int on = prof__site_kind(site) == PROF__KIND_END || prof__site_wanted(site);
    if (on && prof__site_kind(site) == PROF__KIND_ARG && prof__site_late(site)) { /* all sites must call once more */
        prof__next_config_version();
        config_version = PROF__LOAD(prof__config_version);
    }
    if (on)
        prof__site_store(site, head | config_version);
    else if (prof__sites_rest() || PROF__HELD())
        prof__site_store(site, head | (config_version ^ PROF__OFF));
    else
        prof__site_store(site, prof__site_off(site, head, config_version));
}

#endif /* PROF__RECORD_SCHEDULE_H */
