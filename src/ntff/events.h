// ntff/events: Keeps starts that wait for their stops, and converts times of NeuronCores to the host's.
#ifndef PROF__NTFF_EVENTS_H
#define PROF__NTFF_EVENTS_H
#include "ground/hash.h"
#include "ntff/api.h"
#include "ntff/clock.h"
#include "ntff/json.h"

/*-- EVENTS --------------------------------------------------------------------------------------------- >>events -- */

#define PROF__NTFF_OPEN 65536u                 /* how many starts may wait for stops, and events for sync points */
#define PROF__NTFF_BYTES ((size_t)64 << 20)    /* how much memory each of the two may take */
#define PROF__NTFF_SYNCS 65536u                /* how many sync points are kept */
#define PROF__NTFF_LATE 1024u                  /* how many older ones are searched with those of each piece of JSON */
#define PROF__NTFF_DATA ((size_t)16384)        /* bytes of data that are kept with a start; longer data are left out */
#define PROF__NTFF_CORES 1024                  /* physical cores of a machine; higher numbers count as not known */

/* The fields of a JSON object that is an event, its start or its stop. Times are Unix time; nc_ns is the core's
   time. */
typedef struct prof__ntff_said {
    prof_ntff_event event;
    char name[PROF_MAX_TEXT + 24], instance[64];
    char phase; /* 's': a start, or with `stop` a stop; 'i': an instant; 0: not known */
    int stop, has_time, has_duration, has_nc, has_cpu, has_value, has_source;
    int64_t time, duration, unit, nc_ns, cpu_ns, lnc_idx;
    double percent; /* 0: not known */
} prof__ntff_said;

/* An event that is kept: a start that waits for its stop, or an event in the core's time that waits for a sync point.
   The texts of its name, instance and args follow it in memory. */
typedef struct prof__ntff_open {
    struct prof__ntff_open *next;           /* the next in the same slot of the table */
    struct prof__ntff_open *older, *newer;
    uint32_t hash;
    size_t bytes;
    prof_ntff_event event;
    int raw;                                /* 1: its times are the core's */
    int64_t nc_ns;                          /* its start in the core's time */
    int has_nc;
} prof__ntff_open;

typedef struct prof__ntff_list {
    prof__ntff_open *oldest, *newest;
    size_t count, bytes;
} prof__ntff_list;

typedef struct prof__ntff_sync {
    int64_t nc_ns, cpu_ns;
    uint64_t exec_id;
    int32_t nc_idx, core_idx;
} prof__ntff_sync;

struct prof_ntff_parser {
    prof_ntff_event_fn fn;
    void *user;
    int ended; /* 1: fn has asked to stop */
    prof_ntff_stats stats;
    prof__ntff_open *slots[4096];
    prof__ntff_list starts, raw;
    prof__ntff_sync *syncs;
    size_t sync_count, sync_capacity;
    uint64_t sync_next; /* how many have come; the ring `syncs` overwrites the oldest */
    uint64_t sync_seen; /* sync_next when waiting events were last converted */
    prof__ntff_sync last[64]; /* the newest of each core, for 64 cores */
    size_t last_count;
    prof__ntff_said said;
    prof__json_value value;
};

static int prof__ntff_is_hardware(const char *name)
{
    static const char *const names[] = {"nc_exec_running", "cc_running",      "cc_exec_barrier",      "numerical_err",
                                        "nc_model_switch", "nrt_model_switch", "timestamp_sync_point", "hw_notify"};
    size_t i;
    for (i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(name, names[i])) return 1;
    return 0;
}

/*-- handing over --*/

static void prof__ntff_hand_over(prof_ntff_parser *p, const prof_ntff_event *event)
{
    prof_ntff_stats *stats = &p->stats;
    if (p->ended) return;
    stats->events++;
    stats->instants += event->duration_ns < 0 && !(event->flags & PROF_NTFF_COUNTER);
    stats->counters += (event->flags & PROF_NTFF_COUNTER) != 0;
    stats->unmatched_starts += (event->flags & PROF_NTFF_UNMATCHED_START) != 0;
    stats->unmatched_stops += (event->flags & PROF_NTFF_UNMATCHED_STOP) != 0;
    stats->realigned += (event->flags & PROF_NTFF_REALIGNED) != 0;
    stats->raw_clock += (event->flags & PROF_NTFF_RAW_CLOCK) != 0;
    if (!(event->flags & PROF_NTFF_RAW_CLOCK)) {
        int64_t end = event->start_ns + (event->duration_ns > 0 ? event->duration_ns : 0);
        if (!stats->first_ns || event->start_ns < stats->first_ns) stats->first_ns = event->start_ns;
        if (end > stats->last_ns) stats->last_ns = end;
    }
    if (p->fn && p->fn(p->user, event)) p->ended = 1;
}

/*-- what waits --*/

static uint32_t prof__ntff_hash(const prof_ntff_event *event)
{
    uint64_t key = prof__mix(event->tracking_id + 0x9E3779B97F4A7C15u * ((uint32_t)event->nc_idx + 1u));
    return (uint32_t)prof__mix(key ^ prof__text_hash(event->name));
}

/* Returns 1 if a start and a stop may belong together. If two physical cores run one program, both may use one tracking
   id. Then only the number of the core tells them apart, if both events have it. */
static int prof__ntff_same(const prof_ntff_event *a, const prof_ntff_event *b)
{
    return a->tracking_id == b->tracking_id && a->nc_idx == b->nc_idx &&
           (a->core_idx < 0 || b->core_idx < 0 || a->core_idx == b->core_idx) && !strcmp(a->name, b->name);
}

/* Returns a copy of an event, with its texts, on the heap. Returns NULL without memory. */
static prof__ntff_open *prof__ntff_keep(const prof__ntff_said *said)
{
    const prof_ntff_event *event = &said->event;
    size_t name = strlen(event->name) + 1, instance = strlen(event->instance) + 1;
    size_t args = event->args_size <= PROF__NTFF_DATA ? event->args_size : 0;
    size_t bytes = sizeof(prof__ntff_open) + name + instance + args;
    prof__ntff_open *kept = (prof__ntff_open *)malloc(bytes);
    char *text = (char *)(kept + 1);
    if (!kept) return NULL;
    memset(kept, 0, sizeof *kept);
    kept->event = *event;
    kept->bytes = bytes;
    kept->has_nc = said->has_nc;
    kept->nc_ns = said->nc_ns;
    kept->event.name = (char *)memcpy(text, event->name, name);
    kept->event.instance = (char *)memcpy(text + name, event->instance, instance);
    kept->event.args = args ? (char *)memcpy(text + name + instance, event->args, args) : NULL;
    kept->event.args_size = args;
    return kept;
}

static void prof__ntff_append(prof__ntff_list *list, prof__ntff_open *kept)
{
    kept->older = list->newest;
    kept->newer = NULL;
    if (list->newest)
        list->newest->newer = kept;
    else
        list->oldest = kept;
    list->newest = kept;
    list->count++;
    list->bytes += kept->bytes;
}

static void prof__ntff_unlink(prof__ntff_list *list, prof__ntff_open *kept)
{
    if (kept->older)
        kept->older->newer = kept->newer;
    else
        list->oldest = kept->newer;
    if (kept->newer)
        kept->newer->older = kept->older;
    else
        list->newest = kept->older;
    list->count--;
    list->bytes -= kept->bytes;
}

/* Removes from the table the start that an event ends: the start of a stop or, for a start, an earlier start that has
   lost its stop. If there are several, that is the oldest. Returns NULL if there is none. */
static prof__ntff_open *prof__ntff_claim(prof_ntff_parser *p, const prof_ntff_event *event)
{
    uint32_t hash = prof__ntff_hash(event);
    prof__ntff_open **at = &p->slots[hash % (sizeof p->slots / sizeof *p->slots)], **oldest = NULL, *found;
    for (; *at; at = &(*at)->next)
        if ((*at)->hash == hash && prof__ntff_same(&(*at)->event, event)) oldest = at;
    if (!oldest) return NULL;
    found = *oldest;
    *oldest = found->next;
    prof__ntff_unlink(&p->starts, found);
    return found;
}

/*-- the clocks of cores --*/

static int prof__sync_order(const void *a, const void *b)
{
    const prof__ntff_sync *x = (const prof__ntff_sync *)a, *y = (const prof__ntff_sync *)b;
    if (x->nc_idx != y->nc_idx) return x->nc_idx < y->nc_idx ? -1 : 1;
    if (x->exec_id != y->exec_id) return x->exec_id < y->exec_id ? -1 : 1;
    return x->nc_ns < y->nc_ns ? -1 : x->nc_ns > y->nc_ns;
}

static int prof__sync_time_order(const void *a, const void *b)
{
    const prof__ntff_sync *x = (const prof__ntff_sync *)a, *y = (const prof__ntff_sync *)b;
    if (x->nc_idx != y->nc_idx) return x->nc_idx < y->nc_idx ? -1 : 1;
    return x->nc_ns < y->nc_ns ? -1 : x->nc_ns > y->nc_ns;
}

/* Returns 1 if a sync point is one of the event's core. Each physical core of a NeuronCore has its own clock. An event
   that does not name its physical core fits all of them. */
static int prof__sync_fits(const prof__ntff_sync *sync, const prof_ntff_event *event)
{
    return sync->nc_idx == event->nc_idx &&
           (sync->core_idx < 0 || event->core_idx < 0 || sync->core_idx == event->core_idx);
}

/* Returns the index of the first sorted sync point that is not before `key`. */
static size_t prof__sync_find(const prof__ntff_sync *syncs, size_t count, const prof__ntff_sync *key,
                              int (*order)(const void *, const void *))
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (order(&syncs[middle], key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Returns the sync point that was taken after an event's execution. Returns NULL if there is none. Looks at 64
   candidates at most, so that a hostile file cannot make each search slow. */
static const prof__ntff_sync *prof__sync_of_execution(const prof__ntff_sync *syncs, size_t count,
                                                      const prof_ntff_event *event, int64_t nc_ns)
{
    prof__ntff_sync key;
    size_t first, i;
    key.nc_idx = event->nc_idx;
    key.exec_id = event->exec_id;
    key.nc_ns = nc_ns;
    first = prof__sync_find(syncs, count, &key, prof__sync_order);
    for (i = first;
         i < count && i < first + 32 && syncs[i].exec_id == event->exec_id && syncs[i].nc_idx == event->nc_idx; i++)
        if (prof__sync_fits(&syncs[i], event)) return &syncs[i];
    for (i = first; i > 0 && i + 32 > first && syncs[i - 1].exec_id == event->exec_id &&
                    syncs[i - 1].nc_idx == event->nc_idx; i--)
        if (prof__sync_fits(&syncs[i - 1], event)) return &syncs[i - 1];
    return NULL;
}

static const prof__ntff_sync *prof__sync_before(const prof__ntff_sync *syncs, size_t count,
                                                const prof_ntff_event *event, int64_t nc_ns)
{
    prof__ntff_sync key;
    size_t first, i;
    key.nc_idx = event->nc_idx;
    key.nc_ns = nc_ns;
    first = prof__sync_find(syncs, count, &key, prof__sync_time_order);
    for (i = first; i > 0 && i + 64 > first && syncs[i - 1].nc_idx == event->nc_idx; i--)
        if (prof__sync_fits(&syncs[i - 1], event)) return &syncs[i - 1];
    return NULL;
}

/* Converts an event from the core's time to the host's, by a sync point, as the runtime does. Returns 0 if the result
   cannot be a time. */
static int prof__ntff_shift(prof__ntff_open *kept, const prof__ntff_sync *sync)
{
    int64_t since = prof__ntff_minus(kept->nc_ns, sync->nc_ns), to;
    if (since == INT64_MIN) return 0;
    to = prof__ntff_minus(sync->cpu_ns, -since);
    if (to <= 0 || to >= PROF__NTFF_FAR) return 0;
    kept->event.start_ns = to;
    kept->event.flags |= PROF_NTFF_REALIGNED;
    return 1;
}

/* Returns a copy of the newest `count` sync points, sorted. Returns NULL if count is 0, or without memory. */
static prof__ntff_sync *prof__syncs_sorted(const prof_ntff_parser *p, size_t count,
                                           int (*order)(const void *, const void *))
{
    prof__ntff_sync *copy = count ? (prof__ntff_sync *)malloc(count * sizeof *copy) : NULL;
    if (!copy) return NULL;
    for (size_t i = 0; i < count; i++) copy[i] = p->syncs[(p->sync_next - count + i) % PROF__NTFF_SYNCS];
    qsort(copy, count, sizeof *copy, order);
    return copy;
}

/* Calls fn for the waiting events that now have a sync point. last: 1: also calls fn for all others, whose times stay
   the core's. Otherwise searches only the sync points since the previous call and PROF__NTFF_LATE before them, because
   to sort all of them for each small piece of JSON would take most of the time. */
static void prof__ntff_resolve(prof_ntff_parser *p, int last)
{
    prof__ntff_sync *syncs, *by_time;
    prof__ntff_open *kept, *newer;
    size_t count = p->sync_count;
    if (!p->raw.count) return;
    if (!last && p->sync_next - p->sync_seen + PROF__NTFF_LATE < count)
        count = (size_t)(p->sync_next - p->sync_seen) + PROF__NTFF_LATE;
    p->sync_seen = p->sync_next;
    syncs = prof__syncs_sorted(p, count, prof__sync_order);
    by_time = last ? prof__syncs_sorted(p, count, prof__sync_time_order) : NULL;
    for (kept = p->raw.oldest; kept; kept = newer) {
        const prof__ntff_sync *sync = NULL;
        newer = kept->newer;
        if (syncs) sync = prof__sync_of_execution(syncs, count, &kept->event, kept->nc_ns);
        if (!sync && by_time) sync = prof__sync_before(by_time, count, &kept->event, kept->nc_ns);
        if (!last && !sync) continue;
        if (!sync || !prof__ntff_shift(kept, sync)) kept->event.flags |= PROF_NTFF_RAW_CLOCK;
        prof__ntff_hand_over(p, &kept->event);
        prof__ntff_unlink(&p->raw, kept);
        free(kept);
    }
    free(syncs);
    free(by_time);
}

static void prof__ntff_sync_point(prof_ntff_parser *p, const prof__ntff_said *said)
{
    prof__ntff_sync sync;
    size_t i;
    sync.nc_idx = said->event.nc_idx;
    sync.core_idx = said->event.core_idx;
    sync.exec_id = said->event.exec_id;
    sync.nc_ns = said->nc_ns;
    sync.cpu_ns = said->cpu_ns;
    p->stats.sync_points++;
    for (i = 0; i < p->last_count; i++)
        if (p->last[i].nc_idx == sync.nc_idx && p->last[i].core_idx == sync.core_idx) break;
    if (i < p->last_count) {
        int64_t off = prof__ntff_minus(prof__ntff_minus(sync.cpu_ns, p->last[i].cpu_ns),
                                       prof__ntff_minus(sync.nc_ns, p->last[i].nc_ns));
        uint64_t much = off < 0 ? 0 - (uint64_t)off : (uint64_t)off;
        if (much > p->stats.sync_error_ns) p->stats.sync_error_ns = much;
    }
    if (i < sizeof p->last / sizeof *p->last) {
        p->last[i] = sync;
        if (i == p->last_count) p->last_count++;
    }
    if (p->sync_count < PROF__NTFF_SYNCS) {
        if (!PROF__ROOM(p->syncs, p->sync_capacity, p->sync_count)) return;
        p->sync_count++;
    }
    p->syncs[p->sync_next++ % PROF__NTFF_SYNCS] = sync;
}

/* Returns 1 if an event's time is still the core's, because the runtime has not converted it. */
static int prof__ntff_is_raw(const prof__ntff_said *said)
{
    return said->has_nc && said->time == said->nc_ns && said->event.source == PROF_NTFF_SOURCE_HARDWARE;
}

/* Calls fn for an event, or lets the event wait for a sync point if its time is the core's. Takes ownership of
   `kept`. */
static void prof__ntff_finish(prof_ntff_parser *p, prof__ntff_open *kept)
{
    if (!kept->raw) {
        prof__ntff_hand_over(p, &kept->event);
        free(kept);
        return;
    }
    if (p->raw.count >= PROF__NTFF_OPEN || p->raw.bytes >= PROF__NTFF_BYTES) {
        prof__ntff_resolve(p, 0);
        if (p->raw.count >= PROF__NTFF_OPEN / 2 || p->raw.bytes >= PROF__NTFF_BYTES / 2) prof__ntff_resolve(p, 1);
    }
    prof__ntff_append(&p->raw, kept);
}

#endif /* PROF__NTFF_EVENTS_H */
