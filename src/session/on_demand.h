// session/on_demand: What a session is doing; on-demand sessions, for prof_server.h.
#ifndef PROF__SESSION_ON_DEMAND_H
#define PROF__SESSION_ON_DEMAND_H
#include "api/devices.h"
#include "ground/copies.h"
#include "record/bridge.h"
#include "record/device.h"
#include "record/locks.h"
#include "record/schedule.h"
#include "record/state.h"
#include "session/rules.h"
#include "session/snapshot.h"
#include "session/start.h"
#include "session/state.h"
#include "session/stop.h"

/*-- ON DEMAND --------------------------------------------------------------------------------------- >>on_demand --*/

/* What the session of the process is doing, at one moment. */
typedef struct prof__look {
    int running, paused;
    int ended;     /* 1: it has ended by itself, and prof_stop() was not called yet */
    int held;      /* 1: it runs, but recording has not begun yet */
    int on_demand; /* 1: it is not the program's session, but on demand: one that prof_server.h has started */
    int level;     /* 0: no session runs */
    prof_mode mode;
    uint32_t epoch;                 /* distinguishes the sessions of the process; 0: there is none */
    uint64_t buffer, chunks, taken; /* buffer: bytes; taken: chunks that threads took since the session began */
} prof__look;

static void prof__look_take(prof__look *look)
{
    PROF__LED_VOID(prof__look_take, (look));
    uint32_t gate = prof__state_lock();
    const prof__session *s = prof__state_session();
    look->running = prof__state.running;
    look->ended = prof__state.ended;
    look->paused = prof__state.paused != 0;
    look->held = prof__state.held != 0;
    look->level = prof__state.running ? prof__state.level : 0;
    look->on_demand = PROF__LOAD(&prof__on_demand) != NULL;
    if (s) {
        look->epoch = s->epoch;
        look->mode = (prof_mode)(s->header ? s->header->mode : s->like.mode);
        look->buffer = s->mapping_size ? s->mapping_size : s->image_size;
        look->chunks = PROF__LOAD(&s->chunk_count);
        if (s->header) look->taken = PROF__LOAD(&s->header->next_chunk);
    }
    prof__state_unlock(gate);
}

/* Returns the present state. Any thread may call it. */
static prof__look prof__look_now(void)
{
    prof__look look;
    memset(&look, 0, sizeof look);
    prof__look_take(&look);
    return look;
}

/* What an on-demand session records, and whom to call when the program starts a session of its own. */
typedef struct prof__on_demand_options {
    int no_scopes, no_devices;
    void (*keep)(void *image, size_t size); /* gets what was recorded, and must free it; image is NULL without memory.
                                               Called under the control lock */
} prof__on_demand_options;

static void (*prof__on_demand_keep)(void *image, size_t size);

/* Ends the on-demand session; its image stays. Returns 0 if there is none. Under the control lock. */
static int prof__on_demand_stop(void)
{
    if (!prof__on_demand) return 0;
    prof__stop_recording(1);
    PROF__BRIDGE_STOP();
    return 1;
}

/* Frees the image of an on-demand session that was stopped. Under the control lock. */
static void prof__on_demand_free(void) { prof__sessions_reap(1); }

static void prof__on_demand_yield(void)
{
    void *image = NULL;
    size_t size = 0;
    prof__on_demand_stop();
    if (prof__image_copy(&image, &size)) size = 0;
    prof__on_demand_keep(image, size);
}

static void prof__on_demand_limit(void *user)
{
    const prof__on_demand_options *wish = (const prof__on_demand_options *)user;
    prof__on_demand_keep = wish->keep;
    if (wish->no_scopes) prof__state.level = 0;
    if (wish->no_devices)
        for (const prof_device *device = prof__devices; device; device = device->next)
            prof__rule_add(device->name, prof__length(device->name), 0, 1);
}

/* Starts a session that the program does not notice: see prof__on_demand. Returns PROF_INVALID_STATE if there already
   is a session. */
static prof_status prof__on_demand_begin(const prof_config *config, const prof__on_demand_options *wish)
{
    prof__on_demand_options own = *wish;
    prof__on_demand_start on_demand = {prof__on_demand_yield, prof__on_demand_limit, &own};
    return prof__start_as(config, &on_demand);
}

#endif /* PROF__SESSION_ON_DEMAND_H */
