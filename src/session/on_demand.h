// session/on_demand: Reports what the session is doing. Starts and ends on-demand sessions, for prof_server.h.
#ifndef PROF__SESSION_ON_DEMAND_H
#define PROF__SESSION_ON_DEMAND_H
#include "api/devices.h"
#include "ground/instances.h"
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

/* A session's status at one moment. */
typedef struct prof__session_status {
    int running, paused;
    int ended;     /* 1: the session has ended by itself, and prof_stop() has not been called yet */
    int held;      /* 1: the session has started, but recording has not begun yet */
    int on_demand; /* 1: prof_server.h has started the session, not the program */
    int level;     /* current level; 0: no session runs */
    prof_mode mode;
    uint32_t session_id;            /* session id, unique in the process; 0: there is no session */
    /* buffer: its size in bytes; chunks: how many it has; taken: chunks that threads took since the session began. */
    uint64_t buffer, chunks, taken;
} prof__session_status;

/* Adds the status of this process's session to a status that is all zero. */
static void prof__session_status_take(prof__session_status *look)
{
    PROF__FORWARD_VOID(prof__session_status_take, (look));
    uint32_t write_lock = prof__state_lock();
    const prof__session *s = prof__state_session();
    look->running = prof__state.running;
    look->ended = prof__state.ended;
    look->paused = prof__state.paused != 0;
    look->held = prof__state.held != 0;
    look->level = prof__state.running ? prof__state.level : 0;
    look->on_demand = PROF__LOAD(&prof__on_demand) != NULL;
    if (s) {
        look->session_id = s->session_id;
        look->mode = (prof_mode)(s->header ? s->header->mode : s->like.mode);
        look->buffer = s->file.mapping_size ? s->file.mapping_size : s->image_size;
        look->chunks = PROF__LOAD(&s->chunk_count);
        if (s->header) look->taken = PROF__LOAD(&s->header->next_chunk);
    }
    prof__state_unlock(write_lock);
}

/* Returns the session's present status. Any thread may call this function. */
static prof__session_status prof__session_status_now(void)
{
    prof__session_status look;
    memset(&look, 0, sizeof look);
    prof__session_status_take(&look);
    return look;
}

/* What an on-demand session records, and what happens to its image when the program starts a session of its own. */
typedef struct prof__on_demand_options {
    int no_scopes, no_devices;
    void (*keep)(void *image, size_t size); /* Called under the control lock when the program starts a session. Gets a
                                               copy of the image, which it must free; image is NULL if there was no
                                               memory for a copy */
} prof__on_demand_options;

static void (*prof__on_demand_keep)(void *image, size_t size);

/* Ends the on-demand session and keeps its image. Returns 0 if there is no such session. Called under the control
   lock. */
static int prof__on_demand_stop(void)
{
    if (!prof__on_demand) return 0;
    prof__stop_recording(1);
    PROF__BRIDGE_STOP();
    return 1;
}

/* Frees the image of an on-demand session that has ended. Called under the control lock. */
static void prof__on_demand_free(void) { prof__sessions_reap(1); }

/* Ends the on-demand session and hands out its image, because the program starts a session of its own. Called under the
   control lock. */
static void prof__on_demand_yield(void)
{
    void *image = NULL;
    size_t size = 0;
    prof__on_demand_stop();
    if (prof__image_copy(&image, &size)) size = 0;
    prof__on_demand_keep(image, size);
}

/* Restricts an on-demand session to what its options ask for. Called under the state lock. */
static void prof__on_demand_limit(void *user)
{
    const prof__on_demand_options *wish = (const prof__on_demand_options *)user;
    prof__on_demand_keep = wish->keep;
    if (wish->no_scopes) prof__state.level = 0;
    if (wish->no_devices)
        for (const prof_device *device = prof__devices; device; device = device->next)
            prof__rule_add(device->name, prof__length(device->name), 0, 1);
}

/* Starts an on-demand session, which the program does not notice: the program can still start its own at any time,
   which ends this one. Returns PROF_INVALID_STATE if there is a session already. */
static prof_status prof__on_demand_begin(const prof_config *config, const prof__on_demand_options *wish)
{
    prof__on_demand_options own = *wish;
    prof__on_demand_start on_demand = {prof__on_demand_yield, prof__on_demand_limit, &own};
    return prof__start_as(config, &on_demand);
}

#endif /* PROF__SESSION_ON_DEMAND_H */
