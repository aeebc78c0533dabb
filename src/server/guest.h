// server/guest: The session of a capture, the program's or one of its own.
/*-- WHAT IS RECORDED --------------------------------------------------------------------------------------- >>guest --
   A capture takes part in the program's session or, if there is none, in a guest session, which starts with the first
   and ends with the last of its users. */

typedef struct prof__server_look {
    int running, ended, paused, held, level, guest;
    prof_mode mode;
    uint32_t epoch;
    uint64_t buffer, chunks, taken; /* taken: chunks, since the session began */
} prof__server_look;

static prof__server_look prof__server_looks(void)
{
    prof__server_look look;
    memset(&look, 0, sizeof look);
    uint32_t gate = prof__state_lock();
    const prof__session *s = prof__state_session();
    look.running = prof__state.running;
    look.ended = prof__state.ended;
    look.paused = prof__state.paused != 0;
    look.held = prof__state.held != 0;
    look.level = prof__state.running ? prof__state.level : 0;
    look.guest = PROF__LOAD(&prof__guest) != NULL;
    if (s) {
        look.epoch = s->epoch;
        look.mode = (prof_mode)(s->header ? s->header->mode : s->like.mode);
        look.buffer = s->mapping_size ? s->mapping_size : s->image_size;
        look.chunks = s->chunk_count;
        if (s->header) look.taken = PROF__LOAD(&s->header->next_chunk);
    }
    prof__state_unlock(gate);
    return look;
}

/* The program starts a session of its own: the captures keep what they have so far. Under the control lock. */
static void prof__server_yield(void)
{
    void *bytes = NULL;
    size_t size = 0;
    prof__stop_recording(1);
    PROF__BRIDGE_STOP();
    if (prof__image_copy(&bytes, &size)) size = 0;
    prof__lock(&prof__server_kept);
    free(prof__server_state.kept);
    prof__server_state.kept = bytes;
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

/* Ends the guest session, and frees its memory. Under the control lock. */
static void prof__server_end_guest(void)
{
    if (!prof__guest) return;
    prof__stop_recording(1);
    PROF__BRIDGE_STOP();
}

/* One user less, who wants the image (bytes not null) or not. */
static prof_status prof__server_guest_leaves(prof__server *v, void **bytes, size_t *size)
{
    prof_status status = PROF_OK;
    int last = v->guests == 1, was_guest;
    prof__control_lock();
    was_guest = prof__guest != NULL;
    if (last) prof__server_end_guest();
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
    if (last && was_guest) prof__sessions_reap(1);
    prof__control_unlock();
    v->guests--;
    return status;
}

static void prof__server_guest_limit(void *user)
{
    const prof__server_capture *capture = (const prof__server_capture *)user;
    if (capture->quiet) prof__state.level = 0;
    if (capture->no_devices)
        for (const prof_device *device = prof__devices; device; device = device->next)
            prof__rule_add(device->name, prof__length(device->name), 0, 1);
}

/* Starts the guest session, or takes part in it. PROF_INVALID_STATE: there is one of the program's by now. */
static prof_status prof__server_guest_comes(prof__server *v, prof__server_capture *capture, int running)
{
    int level = capture->quiet ? 0 : prof__level_of(&capture->config);
    if (!running) {
        prof__guest_start guest = {prof__server_yield, prof__server_guest_limit, capture};
        prof_status status = prof__start_as(&capture->config, &guest);
        if (status) return status;
        v->guest_level = level;
    } else if (level > v->guest_level) {
        prof_set_level(v->guest_level = level);
    }
    if (running && capture->configured)
        prof__server_note(capture, "another capture records already: its buffer and categories are used");
    capture->guest = 1;
    v->guests++;
    return PROF_OK;
}

/*-- recordings from /start to /stop --*/

/* from may be of another ask: what points into its texts points into to's. */
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

/* Ends what /start began, and keeps its image. */
static prof_status prof__server_remote_stop(prof__server *v)
{
    void *bytes = NULL;
    size_t size = 0;
    prof_status status = prof__server_guest_leaves(v, &bytes, &size);
    v->remote = 0;
    v->remote_to = prof__monotonic();
    free(v->stopped);
    v->stopped = status ? NULL : bytes;
    v->stopped_size = size;
    return status;
}

/* A copy of what it has recorded so far, which a prof_start() of the program may have ended meanwhile. */
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

/* What /dump is of. */
static prof_status prof__server_remote_take(prof__server *v, prof__server_capture *capture, void **bytes, size_t *size)
{
    prof_status status = PROF_OK;
    if (v->remote && capture->dump == 2) status = prof__server_remote_stop(v);
    if (!status && !v->remote && !v->stopped)
        status = prof__fail(PROF_INVALID_STATE, "nothing was recorded: POST /start first");
    capture->from = v->remote_from;
    capture->end_at = v->remote ? prof__monotonic() : v->remote_to;
    return status ? status : prof__server_remote_copy(v, bytes, size);
}
