// layouts/why_names: What prof_why() knows of the scopes and frames of each name: how long they take as a rule.
#ifndef PROF__LAYOUTS_WHY_NAMES_H
#define PROF__LAYOUTS_WHY_NAMES_H
#include "api/read.h"
#include "api/reports.h"
#include "api/values.h"
#include "ground/hash.h"
#include "ground/text.h"
#include "report/percentiles.h"
#include "layouts/state.h"

/*-- WHY ------------------------------------------------------------------------------------------------------ >>why --
   prof_why() walks over the tracks three times, and prof_waits() once. The first walk finds how long the scopes of each
   name take as a rule; then it is known which name to explain. The second one finds the calls of that name. The third
   one splits these. */

/* Durations of scopes, or their self times. */
typedef struct prof__why_times {
    prof__histogram histogram;
    uint64_t count, least, most;
} prof__why_times;

static int prof__why_time(prof__why_times *times, uint64_t ns)
{
    if (!times->count++ || ns < times->least) times->least = ns;
    if (ns > times->most) times->most = ns;
    return prof__histogram_add(&times->histogram, prof__step_of(ns), 1);
}

/* Returns the median, exact to 0.8 %. */
static uint64_t prof__why_median(prof__why_times *times)
{
    prof_stat stat;
    memset(&stat, 0, sizeof stat);
    stat.min_ns = times->least;
    stat.max_ns = times->most;
    prof__percentiles(&times->histogram, times->count, &stat);
    return stat.p50_ns;
}

typedef struct prof__why_name {
    char *text; /* owned */
    int frame;  /* 1: frames, not scopes */
    int step;   /* 1: scopes of which some are steps */
    prof__why_times wall, self;
    uint64_t wall_median, self_median; /* after the first walk */
} prof__why_name;

#define PROF__WHY_SEEN 256u
typedef struct prof__why_names {
    prof__why_name *items;
    size_t count, capacity;
    prof__read_index index;
    struct {
        const prof_callsite *site;
        size_t item;
    } seen[PROF__WHY_SEEN]; /* the last call sites whose names were looked up, by their addresses */
} prof__why_names;

typedef struct prof__why_key {
    const char *text;
    int frame;
} prof__why_key;

static int prof__why_same(const void *owner, size_t item, const void *key)
{
    const prof__why_name *name = (const prof__why_name *)owner + item;
    const prof__why_key *wanted = (const prof__why_key *)key;
    return name->frame == wanted->frame && !strcmp(name->text, wanted->text);
}

/* Returns the number of a name, or PROF__NONE: there is none. */
static size_t prof__why_find(const prof__why_names *names, const char *text, int frame)
{
    prof__why_key key;
    key.text = text;
    key.frame = frame;
    return prof__read_find(&names->index, prof__text_hash(text), prof__why_same, names->items, &key);
}

/* Returns the number of the name of a scope or frame. Adds the name if it is new. Scopes of a site with a format share
   one, as in prof_stats(). Returns PROF__NONE without memory. */
static size_t prof__why_name_of(prof__why_names *names, const prof_callsite *site, const char *own, int frame)
{
    const char *text = site->name[0] ? site->name : own;
    size_t at = (size_t)((uintptr_t)site / sizeof(void *) % PROF__WHY_SEEN), item;
    if (names->seen[at].site == site && site->name[0] && names->items[names->seen[at].item].frame == frame)
        return names->seen[at].item;
    item = prof__why_find(names, text, frame);
    if (item == PROF__NONE) {
        item = PROF__NEW(names->index, prof__text_hash(text), names->items, names->capacity, names->count);
        if (item == PROF__NONE) return item;
        names->items[item].frame = frame;
        names->items[item].text = prof__text_join(text, "");
        if (!names->items[item].text) return PROF__NONE;
    }
    if (site->role == PROF_ROLE_STEP) names->items[item].step = 1;
    names->seen[at].site = site;
    names->seen[at].item = item;
    return item;
}

static void prof__why_names_free(prof__why_names *names)
{
    while (names->count) {
        free(names->items[--names->count].text);
        free(names->items[names->count].wall.histogram.steps);
        free(names->items[names->count].self.histogram.steps);
    }
    free(names->items);
    free(names->index.slots);
}

/* Returns how many characters must be inserted, deleted or replaced to turn a into b. */
static size_t prof__report_distance(const char *a, const char *b)
{
    size_t row[64], n = strlen(b), i, j;
    if (n > 60) return 99;
    for (j = 0; j <= n; j++) row[j] = j;
    for (i = 0; a[i]; i++) {
        size_t diagonal = row[0];
        row[0] = i + 1;
        for (j = 1; j <= n; j++) {
            size_t up = row[j], best = diagonal + (a[i] != b[j - 1]);
            if (up + 1 < best) best = up + 1;
            if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
            row[j] = best;
            diagonal = up;
        }
    }
    return row[n];
}

/* Returns the name that is nearest to a text; NULL: there are none. frames, steps: 1: only names of these count. */
static const char *prof__why_nearest(const prof__why_names *names, const char *text, int frames, int steps)
{
    const char *nearest = NULL;
    size_t least = 0, i;
    for (i = 0; i < names->count; i++) {
        size_t distance = prof__report_distance(text, names->items[i].text);
        if ((frames && !names->items[i].frame) || (steps && !names->items[i].step)) continue;
        if (nearest && distance >= least) continue;
        nearest = names->items[i].text;
        least = distance;
    }
    return nearest;
}

/*-- self times --*/

/* A scope that is open at the present time of a sweep. */
typedef struct prof__why_open {
    size_t name;
    int64_t start, end;
    uint64_t self;
    uint32_t flags;
} prof__why_open;

/* Goes through the scopes of one track, and tells in which scope each time was spent. Waits are no scopes: their time
   is that of the scope that waited. */
typedef struct prof__why_sweep {
    prof__why_open *open;
    size_t depth, capacity;
    int64_t now;
    /* name: that of the innermost scope, or PROF__NONE. Both return 0 without memory. */
    int (*spent)(void *user, size_t name, int64_t from, int64_t to);
    int (*ended)(void *user, const prof__why_open *scope);
    void *user;
} prof__why_sweep;

static void prof__why_sweep_start(prof__why_sweep *sweep)
{
    sweep->depth = 0;
    sweep->now = INT64_MIN;
}

static int prof__why_spend(prof__why_sweep *sweep, int64_t to)
{
    prof__why_open *top = sweep->depth ? &sweep->open[sweep->depth - 1] : NULL;
    int64_t from = sweep->now;
    if (to <= from) return 1;
    sweep->now = to;
    if (top) top->self += (uint64_t)to - (uint64_t)from;
    return !sweep->spent || sweep->spent(sweep->user, top ? top->name : PROF__NONE, from, to);
}

/* Goes on to a time. Scopes that have ended by then are left. */
static int prof__why_sweep_to(prof__why_sweep *sweep, int64_t ns)
{
    while (sweep->depth && sweep->open[sweep->depth - 1].end <= ns) {
        if (!prof__why_spend(sweep, sweep->open[sweep->depth - 1].end)) return 0;
        sweep->depth--;
        if (!sweep->ended(sweep->user, &sweep->open[sweep->depth])) return 0;
    }
    return prof__why_spend(sweep, ns);
}

static int prof__why_sweep_into(prof__why_sweep *sweep, const prof_event *event, size_t name)
{
    prof__why_open *scope;
    if (!prof__why_sweep_to(sweep, event->start_ns)) return 0;
    if (!PROF__ROOM(sweep->open, sweep->capacity, sweep->depth)) return 0;
    scope = &sweep->open[sweep->depth++];
    scope->name = name;
    scope->start = event->start_ns;
    scope->end = event->start_ns + event->duration_ns;
    scope->self = 0;
    scope->flags = event->flags;
    return 1;
}

#endif /* PROF__LAYOUTS_WHY_NAMES_H */
