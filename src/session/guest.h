// session/guest: What a session is doing, and sessions that are not the program's: for prof_server.h and prof_report.h.
/*-- GUEST ------------------------------------------------------------------------------------------------ >>guest --*/

/* What the session of the process is doing, at one moment. */
typedef struct prof__look {
    int running, paused;
    int ended; /* by itself, and prof_stop() is still to come */
    int held;  /* running, but recording has not begun yet */
    int guest; /* not the program's session, but a guest's */
    int level; /* 0: none is running */
    prof_mode mode;
    uint32_t epoch;                 /* tells the sessions of the process from each other; 0: there is none */
    uint64_t buffer, chunks, taken; /* buffer: bytes; taken: chunks, since the session began */
} prof__look;

static PROF__RARE void prof__look_take(prof__look *look)
{
    PROF__LED_VOID(prof__look_take, (look));
    uint32_t gate = prof__state_lock();
    const prof__session *s = prof__state_session();
    look->running = prof__state.running;
    look->ended = prof__state.ended;
    look->paused = prof__state.paused != 0;
    look->held = prof__state.held != 0;
    look->level = prof__state.running ? prof__state.level : 0;
    look->guest = PROF__LOAD(&prof__guest) != NULL;
    if (s) {
        look->epoch = s->epoch;
        look->mode = (prof_mode)(s->header ? s->header->mode : s->like.mode);
        look->buffer = s->mapping_size ? s->mapping_size : s->image_size;
        look->chunks = s->chunk_count;
        if (s->header) look->taken = PROF__LOAD(&s->header->next_chunk);
    }
    prof__state_unlock(gate);
}

/* Any thread. */
static PROF__UNUSED PROF__RARE prof__look prof__look_now(void)
{
    prof__look look;
    memset(&look, 0, sizeof look);
    prof__look_take(&look);
    return look;
}

/* What a guest records, and whom it tells that the program starts a session of its own. */
typedef struct prof__guest_wish {
    int no_scopes, no_devices;
    void (*keep)(void *image, size_t size); /* what was recorded, for the guest to free; null: no memory. Under the
                                               control lock */
} prof__guest_wish;

static void (*prof__guest_keep)(void *image, size_t size);

/* Under the control lock. Ends the guest's session, whose image stays. 0: there is none. */
static PROF__RARE int prof__guest_stop(void)
{
    if (!prof__guest) return 0;
    prof__stop_recording(1);
    PROF__BRIDGE_STOP();
    return 1;
}

/* Under the control lock. Frees the image of a guest's session that was stopped. */
static PROF__UNUSED PROF__RARE void prof__guest_free(void) { prof__sessions_reap(1); }

static PROF__RARE void prof__guest_yield(void)
{
    void *image = NULL;
    size_t size = 0;
    prof__guest_stop();
    if (prof__image_copy(&image, &size)) size = 0;
    prof__guest_keep(image, size);
}

static PROF__RARE void prof__guest_limit(void *user)
{
    const prof__guest_wish *wish = (const prof__guest_wish *)user;
    prof__guest_keep = wish->keep;
    if (wish->no_scopes) prof__state.level = 0;
#ifndef PROF_NO_DEVICES
    if (wish->no_devices)
        for (const prof_device *device = prof__devices; device; device = device->next)
            prof__rule_add(device->name, prof__length(device->name), 0, 1);
#endif
}

/* Starts a session of which the program does not notice: see prof__guest. PROF_INVALID_STATE: one is there already. */
static PROF__UNUSED PROF__RARE prof_status prof__guest_begin(const prof_config *config, const prof__guest_wish *wish)
{
    prof__guest_wish own = *wish;
    prof__guest_start guest = {prof__guest_yield, prof__guest_limit, &own};
    return prof__start_as(config, &guest);
}
