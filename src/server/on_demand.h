// server/on_demand: The on-demand session: what captures record with if the program does not record itself.
#ifndef PROF__SERVER_ON_DEMAND_H
#define PROF__SERVER_ON_DEMAND_H
#include "api/control.h"
#include "api/devices.h"
#include "ground/errors.h"
#include "ground/lock.h"
#include "record/locks.h"
#include "session/memory.h"
#include "session/on_demand.h"
#include "session/snapshot.h"
#include "server/state.h"

/*-- WHAT IS RECORDED ----------------------------------------------------------------------------------- >>on_demand --
   A capture uses the session of the program. If the program has none, the capture uses the on-demand session, which
   starts with its first user and ends with the last one. */

/* Keeps the image of the on-demand session for its captures, because the program is starting a session, which ends it.
   The caller holds the control lock. */
static void prof__server_keep(void *image, size_t size)
{
    prof__lock(&prof__server_kept);
    free(prof__server_state.kept);
    prof__server_state.kept = image;
    prof__server_state.kept_size = size;
    prof__unlock(&prof__server_kept);
}

static int prof__server_was_sent_away(prof__server *v)
{
    prof__lock(&prof__server_kept);
    int kept = v->kept != NULL;
    prof__unlock(&prof__server_kept);
    return kept;
}

/* Removes a user from the on-demand session. Unless bytes is NULL, sets *bytes to the image, which the caller frees. */
static prof_status prof__server_on_demand_leave(prof__server *v, void **bytes, size_t *size)
{
    prof_status status = PROF_OK;
    int last = v->on_demand_users == 1;
    prof__control_lock();
    int was_on_demand = last && prof__on_demand_stop();
    prof__lock(&prof__server_kept);
    if (v->kept && bytes) {
        *size = v->kept_size;
        *bytes = malloc(v->kept_size);
        if (*bytes)
            memcpy(*bytes, v->kept, v->kept_size);
        else
            status = prof__fail(PROF_NO_MEMORY, "no memory for a copy of the image");
    }
    if (last) {
        free(v->kept);
        v->kept = NULL;
    }
    prof__unlock(&prof__server_kept);
    if (bytes && !*bytes && !status) status = prof__image_copy(bytes, size);
    if (was_on_demand) prof__on_demand_free();
    prof__control_unlock();
    v->on_demand_users--;
    return status;
}

/* Adds a user to the on-demand session, and starts the session for the first one. Returns PROF_INVALID_STATE if the
   program has started a session meanwhile. */
static prof_status prof__server_on_demand_join(prof__server *v, prof__server_capture *capture, int running)
{
    int level = capture->quiet ? 0 : prof__level_of(&capture->config);
    if (!running) {
        prof__on_demand_options wish = {capture->quiet, capture->no_devices, prof__server_keep};
        prof_status status = prof__on_demand_begin(&capture->config, &wish);
        if (status) return status;
        v->on_demand_level = level;
    } else if (level > v->on_demand_level) {
        prof_set_level(v->on_demand_level = level);
    }
    if (running && capture->configured)
        prof__server_note(capture, "another capture already records: its buffer and categories are used");
    capture->on_demand = 1;
    v->on_demand_users++;
    return PROF_OK;
}

/*-- recordings from /start to /stop --*/

/* Copies a capture. Its pointers into the texts of `from` become pointers into the texts of `to`. */
static void prof__server_capture_copy(prof__server_capture *to, const prof__server_capture *from)
{
    const char *own = from->config.categories;
    *to = *from;
    if (own >= from->texts && own < from->texts + sizeof from->texts)
        to->config.categories = to->texts + (own - from->texts);
}

static void prof__server_remote_drop(prof__server *v)
{
    free(v->stopped);
    v->stopped = NULL;
}

/* Ends the recording that /start has begun, and keeps its image for /dump. */
static prof_status prof__server_remote_stop(prof__server *v)
{
    void *bytes = NULL;
    size_t size = 0;
    prof_status status = prof__server_on_demand_leave(v, &bytes, &size);
    v->remote = 0;
    v->remote_to = prof_host_ns();
    free(v->stopped);
    v->stopped = status ? NULL : bytes;
    v->stopped_size = size;
    return status;
}

/* Copies what the recording of /start has so far, also if a prof_start() of the program has ended it. */
static prof_status prof__server_remote_copy(prof__server *v, void **bytes, size_t *size)
{
    const void *from = v->stopped;
    prof_status status = PROF_OK;
    prof__control_lock();
    prof__lock(&prof__server_kept);
    *size = v->stopped_size;
    if (!from && v->kept) {
        from = v->kept;
        *size = v->kept_size;
    }
    if (from) {
        *bytes = malloc(*size);
        if (*bytes)
            memcpy(*bytes, from, *size);
        else
            status = prof__fail(PROF_NO_MEMORY, "no memory for a copy of the image");
    }
    prof__unlock(&prof__server_kept);
    if (!from) status = prof__image_copy(bytes, size);
    prof__control_unlock();
    return status;
}

/* Gives /dump the image: that of an ended recording, or a copy of the running one. */
static prof_status prof__server_remote_take(prof__server *v, prof__server_capture *capture, void **bytes, size_t *size)
{
    prof_status status = PROF_OK;
    if (v->remote && capture->dump == 2) status = prof__server_remote_stop(v);
    if (!status && !v->remote && !v->stopped)
        status = prof__fail(PROF_INVALID_STATE, "nothing was recorded: POST /start first");
    capture->from = v->remote_from;
    capture->end_at = v->remote ? prof_host_ns() : v->remote_to;
    return status ? status : prof__server_remote_copy(v, bytes, size);
}

#endif /* PROF__SERVER_ON_DEMAND_H */
