// session/start: prof_start(): checks the configuration, makes the session and starts it. Under the control lock.
#ifndef PROF__SESSION_START_H
#define PROF__SESSION_START_H
#include "api/control.h"
#include "ground/clock.h"
#include "ground/instances.h"
#include "ground/errors.h"
#include "ground/signals.h"
#include "ground/threads.h"
#include "image/format.h"
#include "record/bridge.h"
#include "record/locks.h"
#include "record/meta.h"
#include "record/ring.h"
#include "record/schedule.h"
#include "record/self.h"
#include "record/state.h"
#include "record/thread.h"
#include "record/track.h"
#include "session/prepare_output.h"
#include "session/beside.h"
#include "session/calibrate.h"
#include "session/costs.h"
#include "session/crash_filter.h"
#include "session/crash_handler.h"
#include "session/crash_session.h"
#include "session/file.h"
#include "session/fork.h"
#include "session/hooks.h"
#include "session/memory.h"
#include "session/names.h"
#include "session/pattern.h"
#include "session/place.h"
#include "session/process.h"
#include "session/rules.h"
#include "session/service.h"
#include "session/state.h"

#ifdef PROF_FREESTANDING
static prof_status prof__memory_publish(prof__session *s)
{
    (void)s;
    return PROF_OK;
}
#elif defined(_WIN32)
static prof_status prof__memory_publish(prof__session *s)
{
    s->file.taken = 0; /* the file stays, even if the start fails now */
    return PROF_OK;
}
#else
/* Gives the image's file its final name. If that fails for a sidecar file, goes on without it. */
static prof_status prof__memory_publish(prof__session *s)
{
    int error = s->file.live_path ? prof__name_publish(s) : 0;
    if (error && PROF__SIDECAR(s->file.sidecar)) {
        prof__file_forget(s, error);
        return PROF_OK;
    }
    return error ? prof__fail(PROF_IO, "%s: cannot be renamed to %s: %s", s->file.part_path, s->file.live_path,
                              strerror(error))
                 : PROF_OK;
}
#endif

/* Sets the reasons why recording does not begin at once: a delay, a start time, a warm-up. Called before the service
   starts, because it reads them. */
static void prof__schedule_configure(prof__session *s, const prof_config *config)
{
#ifdef PROF_MINIMAL
    (void)s, (void)config;
#else
    const prof__pair *now = &s->header->first;
    uint64_t wait = config->delay_ns;
    s->schedule.duration_ns = config->duration_ns;
    s->schedule.warmup_what = config->warmup_steps ? PROF__WARMUP_STEPS : PROF__WARMUP_FRAMES;
    s->schedule.warmup_left = config->warmup_frames ? config->warmup_frames - 1 : config->warmup_steps;
    if (config->start_unix_ns > now->unix_ns && config->start_unix_ns - now->unix_ns > wait)
        wait = config->start_unix_ns - now->unix_ns;
    if (wait) s->schedule.begin_at = now->monotonic_ns + (wait < PROF__CENTURY ? wait : PROF__CENTURY);
    s->schedule.held =
        (wait ? PROF__HELD_TIME : 0) | (config->warmup_steps || config->warmup_frames ? PROF__HELD_WARMUP : 0);
#endif
}

static prof_status prof__session_make(prof__session *s, const prof_config *config)
{
    prof_status status;
    void *memory = config->memory;
#ifdef PROF_FREESTANDING
    prof__extent size = (prof__extent)config->memory_size;
#else
    uint64_t size = memory ? config->memory_size : config->buffer_size ? config->buffer_size : PROF__DEFAULT_BUFFER;
#endif
#ifndef PROF_FREESTANDING
    int several;
    if ((status = prof__rank_find(config->rank, &several)) != PROF_OK) return status;
    prof__host[0] = 0;
    if (!PROF__MINIMAL && prof__rank[0]) prof__host_name(prof__host, sizeof prof__host);
    if (config->output && config->output[0] && (status = prof__output_prepare(s, config, several)) != PROF_OK)
        return status;
#endif
    if (!PROF__MINIMAL && config->layout && config->layout[0] && !s->file.output[0])
        return prof__fail(PROF_INVALID_ARGUMENT, "layout '%.20s': needs an output: set config.output", config->layout);
    if (memory) {
        uint32_t skip = (uint32_t)(0 - (uintptr_t)memory) & 63;
        if (s->file.live_path)
            return prof__fail(PROF_INVALID_ARGUMENT,
                              "output %s: a .prof is recorded into its file: set config.memory to NULL",
                              s->file.live_path);
        if (size < PROF__MIN_IMAGE + skip)
            return prof__fail(PROF_INVALID_ARGUMENT, "memory_size: must be at least %d", (int)PROF__MIN_IMAGE + 64);
        memory = (char *)memory + skip;
        size -= skip;
        prof__clear(memory, (size_t)(size / 8 * 8));
    } else {
#ifdef PROF_FREESTANDING
        return prof__fail(PROF_INVALID_ARGUMENT, "PROF_FREESTANDING: set config.memory and config.memory_size");
#else
        size = prof__round(size, 4096);
        prof__file_signal signal;
        prof__file_signal_hold(&signal);
        status = prof__memory_take(s, (size_t)size);
        prof__file_signal_drop(&signal);
        if (status) return status;
        memory = s->file.mapping;
#endif
    }
    status = prof__layout(s, memory, size);
    if (!status) status = prof__clock_choose(s, config);
    if (status) return status;
    prof__schedule_configure(s, config);
    s->crash_report = config->crash_report != 0;
    prof__header *h = s->header;
    h->mode = (uint32_t)config->mode;
    h->pid = s->process = prof__process_id();
#ifndef PROF_FREESTANDING
    s->sandbox = prof__sandbox();
#endif
#ifndef PROF_FREESTANDING
    h->parent_pid = prof__parent_id();
    prof__program_name(h->program, sizeof h->program);
    prof__boot_id(h->boot_id, sizeof h->boot_id);
    prof__machine_time(h);
    status = prof__service_configure(s, config);
    if (status) return status;
#endif
#ifndef PROF_MINIMAL
    if (config->min_duration_ns) s->min_ticks = prof__threshold(s, config->min_duration_ns);
#endif
#ifdef PROF__WRAPS_WAITS
    s->waits_ns = config->waits_ns == PROF_NEVER ? 0 : config->waits_ns ? config->waits_ns : PROF__WAITS_NS;
    PROF__STORE(&prof__waits_least, s->waits_ns);
    s->waits_hz = s->waits_ns ? prof__threshold(s, 1000000000u) : 0;
    s->waits_ticks = s->waits_ns ? prof__threshold(s, s->waits_ns) : 0;
#endif
    s->fast = s->clock != PROF_CLOCK_COUNTER ? 0 : PROF__MIN_TICKS(s) ? PROF__SHORT : 1;
    prof__image_begin(s);
#ifndef PROF_FREESTANDING
    if (!s->file.named) status = prof__output_name(s);
#endif
    return status || !PROF__CRASH_REPORT(s) ? status : prof__crash_prepare(s);
}

/* 1: the configuration asks for waits (a time, neither 0 nor PROF_NEVER), and nothing records them. */
#ifdef PROF_WRAP_WAITS
#define PROF__WAITS_IN_VAIN(config) ((void)(config), 0)
#else
#define PROF__WAITS_IN_VAIN(config) ((config)->waits_ns + 1 > 1)
#endif

#ifdef PROF_TINY
static prof_status prof__config_check(const prof_config *c)
{
    if ((unsigned)c->mode > PROF_FILL || c->level < -1 || c->level > 255) return PROF_INVALID_ARGUMENT;
    return c->save || c->crash_report || c->min_duration_ns || c->delay_ns || c->duration_ns || c->start_unix_ns ||
                   c->warmup_steps || c->warmup_frames || c->clock > PROF_CLOCK_COUNTER
               ? PROF_UNSUPPORTED
               : PROF_OK;
}
#else
static prof_status prof__config_check(const prof_config *c)
{
    if ((unsigned)c->mode > PROF_RING_STATS)
        return prof__must_be("mode", "ring, fill, stream, stats or ring+stats");
#ifdef PROF_FREESTANDING
    if (c->mode > PROF_FILL) return prof__fail(PROF_UNSUPPORTED, "mode: must be ring or fill with PROF_FREESTANDING");
    if (c->save) return prof__fail(PROF_UNSUPPORTED, "save: not supported with PROF_FREESTANDING");
#endif
    if ((unsigned)c->clock > PROF_CLOCK_MONOTONIC)
        return prof__must_be("clock", "auto, counter, ordered or monotonic");
    if (c->level < -1 || c->level > 255)
        return prof__fail(PROF_INVALID_ARGUMENT, "level %d: must be 1 to 255, or -1", c->level);
    if (PROF__MINIMAL && ((c->min_duration_ns | c->warmup_steps | c->warmup_frames) || c->rank ||
                          (c->layout && c->layout[0]) || (unsigned)c->existing > PROF_EXISTING_REPLACE ||
                          (c->switches | c->counters | c->system | c->samples | c->faults) || PROF__WAITS_IN_VAIN(c)))
        return prof__left_out("min_duration, warmup, rank, layout, existing, system, waits", "PROF_MINIMAL");
    if (!PROF__MINIMAL && (c->samples < 0 || c->samples > PROF__SAMPLES_MOST))
        return prof__fail(PROF_INVALID_ARGUMENT, "samples %d: must be 0 to 10000", c->samples);
    if (!PROF__MINIMAL && PROF__WAITS_IN_VAIN(c))
        return prof__fail(PROF_UNSUPPORTED, "waits: define PROF_WRAP_WAITS before the implementation");
    if (c->warmup_steps && c->warmup_frames)
        return prof__fail(PROF_INVALID_ARGUMENT, "warmup_steps, warmup_frames: only one of them can be set");
    if (!PROF__MINIMAL && (unsigned)c->existing > PROF_EXISTING_REFUSE)
        return prof__must_be("existing", "auto, replace, number or refuse");
#ifdef PROF_FREESTANDING
    if (c->delay_ns || c->start_unix_ns || c->duration_ns)
        return prof__fail(PROF_UNSUPPORTED,
                          "delay, start_unix, duration: not supported with PROF_FREESTANDING");
#endif
    if (!c->memory && c->buffer_size && (c->buffer_size < PROF__MIN_BUFFER || (uint64_t)c->buffer_size >> 30 > 64))
        return prof__must_be("buffer_size", "128K to 64G");
#ifdef PROF_FREESTANDING
    return PROF_OK;
#else
    return prof__service_check(c);
#endif
}
#endif

/* What prof_server.h passes to start an on-demand session. */
typedef struct prof__on_demand_start {
    void (*yield)(void);       /* called when the program starts a session of its own; ends this one */
    void (*limit)(void *user); /* called under the state lock before anything is recorded; restricts what is recorded */
    void *user;
} prof__on_demand_start;

#if defined(PROF_MINIMAL) || defined(PROF_FREESTANDING)
#define PROF__START_CLOCK() 0
static void prof__start_took(prof__session *s, uint64_t began) { (void)s, (void)began; }
#else
#define PROF__START_CLOCK() prof__monotonic()
/* Stores how long the start took. That time includes making the first pages ready, so the time for those is set to
   0. */
static void prof__start_took(prof__session *s, uint64_t began)
{
    const uint64_t took = prof__monotonic() - began;
    PROF__STORE(&s->header->start_ns, took); /* stored atomically, because the service may read it by now */
    PROF__STORE(&s->like.start_ns, took);
    PROF__STORE(&s->header->ready_ticks, 0u);
}
#endif

/* Does the work of prof_start(). Called under the control lock. */
static prof_status prof__start_locked(const prof_config *config, const prof__on_demand_start *on_demand)
{
    uint64_t began = PROF__START_CLOCK();
    if (prof__on_demand) prof__on_demand();
    int phase = prof__session_phase();
    if (!PROF__MINIMAL && phase == PROF__ENDED)
        return prof__fail(PROF_INVALID_STATE, "the previous session has ended by itself: call prof_stop() first");
    if (phase == PROF__RUNS)
        return prof__fail(PROF_INVALID_STATE, "a session is running already: call prof_stop() first%s",
                          !PROF__MINIMAL && prof__state_session()->file.output[0]
                              ? ", or leave PROF_OUTPUT out of the environment" : "");
#if !defined(PROF_MINIMAL) && !defined(PROF_FREESTANDING)
    prof_config own;
    char output[PROF__PATH(1024)];
    config = prof__rank_config(config, &own, output, sizeof output);
    if (!config) return PROF_INVALID_ARGUMENT; /* of which prof_error() has the text */
#endif
    prof_status status = prof__config_check(config);
    if (status) return status;
    prof__recover();
    if (config->memory) prof__sessions_reap(1);
    prof__session *s = prof__session_new();
    if (!s) return prof__fail(PROF_NO_MEMORY, "no memory for a session");
#ifndef PROF_FREESTANDING
    prof__start_note[0] = 0;
#endif
    status = prof__session_make(s, config);
    if (status) {
#ifndef PROF_FREESTANDING
        prof__path_unclaim(s);
#endif
        prof__session_delete(s);
        return status;
    }
    prof__sessions_reap(1);
#ifndef PROF_FREESTANDING
    status = prof__service_start(s); /* the service has nothing to do until the session runs */
    if (!status) status = prof__reader()->save_arm(s);
#endif
#ifdef PROF__CONFIG_VERSION_PAGE
    prof__children_watch();
#endif
    uint32_t write_lock = prof__state_lock();
    if (!status) status = prof__rules_set(config->categories);
    if (!status) status = prof__memory_publish(s);
    if (!status) {
        s->session_id = prof__state.session_id + 1 ? prof__state.session_id + 1 : 1;
        PROF__STORE(&prof__state.session_id, s->session_id); /* ends of scopes compare their session id with it without
                                                                a lock */
        s->header->session = s->session_id;
        prof__metadata_write(s);
#ifndef PROF_FREESTANDING
        if (s->file.sidecar_error) prof__meta_pair(s, "in memory only", strerror(s->file.sidecar_error));
#endif
#ifndef PROF_FREESTANDING
        s->like = *s->header;
        /* Without the magic, so that a search for images in a core dump does not find this copy. */
        s->like.magic[0] = 0;
#endif
        prof__state.session = s;
        prof__state.level = prof__level_of(config);
        prof__state.filter_mask = config->filter_mask ? config->filter_mask : ~0u;
        if (on_demand) on_demand->limit(on_demand->user);
        PROF__STORE(&prof__state.paused, 0);
        prof__state.held = s->schedule.held;
        PROF__STORE(&prof__state.no_sync, config->no_sync);
        prof__state.no_devices = config->no_devices;
        PROF__STORE(&prof__state.running, 1);
        PROF__STORE(&prof__lost_without_chunk, 0u);
        PROF__STORE(&prof__lost_args_without_chunk, 0u);
        PROF__STORE(&prof__lost_busy_without_chunk, 0u);
        if (PROF__HELD())
            prof__next_config_version();
        else
            prof__schedule_release(s, 0);
    }
    prof__state_unlock(write_lock);
    if (status) {
#ifndef PROF_FREESTANDING
        prof__reader()->save_disarm();
        prof__service_stop(s);
        prof__path_unclaim(s);
#endif
        prof__session_delete(s);
        return status;
    }
#ifndef PROF_FREESTANDING
    prof__file_head(s);
#endif
    if (PROF__CRASH_REPORT(s)) prof__crash_install(s);
    prof__calibrate(s);
    prof__beside_begin(s, config);
    prof__start_took(s, began);
    return PROF_OK;
}

/* Starts a session. on_demand is NULL for the program's own session. */
static prof_status prof__start_as(const prof_config *config, const prof__on_demand_start *on_demand)
{
    prof_status status = PROF_OK;
    prof__control_lock();
#ifndef PROF_FREESTANDING
    if (!prof__exits_watched) prof__exits_watch();
    prof__exits_watched = 1;
    prof__exit_key_make();
    if (!prof__exit_key_made)
        status = prof__fail(PROF_NO_MEMORY, "the program has used up the system's keys of thread-local storage");
#endif
    if (!status) {
        PROF__BRIDGE_START();
        status = prof__start_locked(config, on_demand);
#ifndef PROF_FREESTANDING
        if (!status) PROF__STORE(&prof__on_demand, on_demand ? on_demand->yield : NULL);
#endif
        PROF__BRIDGE_STARTED();
    }
    prof__control_unlock();
    return status;
}

PROF_DEF prof_status prof_start(const prof_config *config)
{
    PROF__FORWARD(prof_start, (config));
    prof_config defaults;
    prof__clear(&defaults, sizeof defaults);
    return prof__start_as(config ? config : &defaults, NULL);
}

#endif /* PROF__SESSION_START_H */
