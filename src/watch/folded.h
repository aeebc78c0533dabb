// watch/folded: Copies the statistics of a follower to a trace.
/*-- the statistics of PROF_STATS --*/

static PROF__RARE void prof__folded_free(prof__folded *folded)
{
    for (size_t i = 0; folded->texts && i < folded->count; i++) free(folded->texts[i]);
    for (size_t i = 0; folded->figures && i < folded->count; i++) free(folded->figures[i].histogram.steps);
    free(folded->texts);
    free(folded->sites);
    free(folded->figures);
    memset(folded, 0, sizeof *folded);
}

static PROF__COLD uint64_t prof__follow_ns(const prof__follow *f, uint64_t ticks)
{
    double ns = (double)ticks * f->ns_per_tick;
    return ns < 9e18 ? (uint64_t)(ns + 0.5) : (uint64_t)9000000000000000000u;
}

/* Completes the copy of a row. Returns 0 without memory. */
static PROF__RARE int prof__folded_finish(const prof__follow *f, const prof__follow_figure *from, prof__figure *to)
{
    prof_stat *stat = &to->stat;
    const prof__histogram *h = &from->figure.histogram;
    *to = from->figure;
    if (to->type == PROF_EVENT_COUNTER) return 1;
    to->histogram.steps = (prof__step *)calloc(h->capacity + 1, sizeof *h->steps);
    if (!to->histogram.steps) return 0;
    if (h->capacity) memcpy(to->histogram.steps, h->steps, h->capacity * sizeof *h->steps);
    uint64_t count = stat->count - stat->truncated;
    stat->total_ns = prof__follow_ns(f, stat->total_ns);
    stat->self_ns = prof__follow_ns(f, stat->self_ns);
    stat->covered_ns = prof__follow_ns(f, stat->covered_ns);
    stat->min_ns = prof__follow_ns(f, stat->min_ns);
    stat->max_ns = prof__follow_ns(f, stat->max_ns);
    prof__figure_finish(to);
    if (count) stat->mean_ns = (double)from->figure.stat.total_ns * f->ns_per_tick / (double)count;
    stat->count += from->open;
    stat->truncated += from->open;
    return 1;
}

/* Begins and ends that still wait count as truncated so far. */
static PROF__RARE void prof__folded_halves(prof__folded *folded, const prof__follow *f)
{
    folded->begins_missing = f->begins_missing;
    folded->ends_missing = f->ends_missing;
    for (uint32_t number = f->half_oldest; number; number = f->halves[number - 1].newer) {
        const prof__follow_half *half = &f->halves[number - 1];
        prof__figure *figure = &folded->figures[half->figure - 1];
        *(half->end ? &folded->begins_missing : &folded->ends_missing) += 1;
        if (half->figure == 1 || figure->type == PROF_EVENT_FRAME) continue;
        figure->stat.count++;
        figure->stat.truncated++;
    }
}

/* Open scopes have no end so far: time of the same row inside them counts as covered by the inner ones. */
static PROF__RARE void prof__folded_covered(prof__folded *folded, const prof__follow *f)
{
    for (uint32_t i = 0; i < f->track_count; i++)
        for (size_t at = 0; at < f->tracks[i].depth; at++) {
            const prof__follow_open *open = &f->tracks[i].stack[at];
            folded->figures[open->figure - 1].stat.covered_ns += prof__follow_ns(f, open->covered);
        }
}

static PROF__RARE int prof__folded_copy(prof__folded *folded, const prof__follow *f)
{
    folded->figures = (prof__figure *)calloc(f->figure_count + 1, sizeof *folded->figures);
    folded->sites = (uint32_t *)calloc(f->figure_count + 1, sizeof *folded->sites);
    folded->texts = (char **)calloc(f->figure_count + 1, sizeof *folded->texts);
    if (!folded->figures || !folded->sites || !folded->texts) return 0;
    for (size_t i = 0; i < f->figure_count; i++, folded->count++) {
        const prof__follow_figure *from = &f->figures[i];
        folded->sites[i] = from->site;
        if (from->text && !(folded->texts[i] = prof__text_join(from->text, ""))) return 0;
        if (!prof__folded_finish(f, from, &folded->figures[i])) return 0;
        folded->open += from->open;
    }
    prof__folded_halves(folded, f);
    prof__folded_covered(folded, f);
    folded->events = f->events;
    folded->uses = f->uses;
    folded->unmatched = f->unmatched;
    folded->lost = f->lost;
    folded->newest = f->newest_tick;
    for (size_t i = 0; i < f->active_count; i++)
        if (f->slots[f->active[i]].sequence) folded->lost += PROF__LOAD(&prof__follow_chunk(f, f->active[i])->lost);
    return 1;
}

/* Resets the statistics; open scopes count when they end. */
static void prof__follow_reset(prof__follow *f)
{
    for (size_t i = 0; i < f->figure_count; i++) {
        prof__figure *figure = &f->figures[i].figure;
        prof_stat *stat = &figure->stat;
        stat->count = stat->truncated = stat->total_ns = stat->self_ns = stat->covered_ns = 0;
        stat->min_ns = stat->max_ns = stat->bytes = stat->rates = 0;
        stat->mean_rate = stat->min_rate = stat->max_rate = figure->rate_squares = 0;
        figure->mean = figure->squares = figure->low = figure->high = figure->last = 0;
        figure->from = figure->to = 0;
        free(figure->histogram.steps);
        memset(&figure->histogram, 0, sizeof figure->histogram);
    }
}

/* Adds everything recorded so far to the statistics, and copies them; with reset, resets them then. Does nothing if the
   present session keeps events. */
static prof_status prof__folded_take(prof__folded *folded, int reset)
{
    prof_status status = PROF_OK;
    memset(folded, 0, sizeof *folded);
    uint32_t gate = prof__state_lock();
    prof__session *s = prof__state.session;
    prof__follow *f = s && prof__mode_counts(s->header->mode) ? s->follow : NULL;
    if (f) {
        folded->session = s->header->session;
        s->readers++;
        __atomic_fetch_add(&s->attached, 1, __ATOMIC_RELAXED); /* keeps all of it */
    }
    prof__state_unlock(gate);
    if (!f) return PROF_OK;
    prof__lock(&f->lock);
    prof__follow_all(f);
    if (!prof__folded_copy(folded, f)) status = prof__fail(PROF_NO_MEMORY, "no memory for the statistics");
    else if (reset) prof__follow_reset(f);
    prof__unlock(&f->lock);
    gate = prof__state_lock();
    s->readers--;
    __atomic_fetch_sub(&s->attached, 1, __ATOMIC_RELEASE);
    prof__state_unlock(gate);
    return status;
}

/* Makes the metadata of a trace that has statistics of everything, but only the newest events. */
static prof_status prof__folded_note(prof_trace *trace)
{
    const prof_trace_info *info = prof_trace_about(trace);
    char note[192] = "events", kept[32], all[32], from[48];
    int64_t first = INT64_MAX;
    for (size_t i = 0; i < trace->track_count; i++)
        if (trace->tracks[i].about.event_count && trace->tracks[i].about.first_ns < first)
            first = trace->tracks[i].about.first_ns;
    if (!info->overwritten_chunks || first == INT64_MAX) return PROF_OK;
    prof__grouped(kept, info->event_count);
    prof__grouped(all, info->folded);
    prof__human_ns(from, (double)first);
    snprintf(note + 7, sizeof note - 7, "the newest %s of %s, from %s on; statistics are of all", kept, all, from);
    if (prof__device_name(trace, note) == PROF__NONE || prof__device_name(trace, note + 7) == PROF__NONE ||
        !prof__read_metadata(trace, note, note + sizeof note)) /* it finds these copies */
        return prof__fail(PROF_NO_MEMORY, "no memory for the statistics");
    return PROF_OK;
}

/* Adds the statistics to a trace. */
static prof_status prof__folded_give(prof__folded *folded, prof_trace *trace)
{
    prof_status status = PROF_OK;
    size_t hint = 0, i, count = 0;
    int64_t newest = prof__read_ns(trace, folded->newest, &hint);
    if (trace->header.session != folded->session)
        return prof__fail(PROF_INVALID_STATE, "a new session began while the old one was being read");
    for (i = 0; i < folded->count && !status; i++) {
        prof__figure *figure = &folded->figures[i];
        size_t site = i ? prof__read_site_of(trace, folded->sites[i]) : PROF__NONE;
        if (!figure->stat.count) {
            free(figure->histogram.steps);
            memset(&figure->histogram, 0, sizeof figure->histogram);
            continue;
        }
        if (site == PROF__NONE) site = prof__read_make_site(trace, i ? "?" : "(more scopes)", PROF__KIND_BEGIN);
        if (site == PROF__NONE) return prof__fail(PROF_NO_MEMORY, "no memory for the statistics");
        /* sites may still move: refer to them by number for now */
        folded->sites[count] = (uint32_t)site;
        folded->figures[count] = *figure;
        if (count != i) memset(&figure->histogram, 0, sizeof figure->histogram); /* it has moved */
        folded->figures[count].stat.name = NULL;
        if (folded->texts[i]) {
            if (!PROF__ROOM(trace->texts, trace->text_capacity, trace->text_count))
                return prof__fail(PROF_NO_MEMORY, "no memory for the statistics");
            folded->figures[count].stat.name = trace->texts[trace->text_count++] = folded->texts[i];
            folded->texts[i] = NULL;
        }
        count++;
    }
    for (i = 0; i < count; i++) {
        prof_stat *stat = &folded->figures[i].stat;
        stat->site = &trace->sites[folded->sites[i]].about;
        stat->parent = PROF_NO_PARENT; /* there are no call paths */
        if (!stat->name) stat->name = stat->site->name;
    }
    trace->folded = folded->figures;
    trace->folded_count = count;
    folded->figures = NULL;
    trace->begins_missing = folded->begins_missing;
    trace->uses = folded->uses;
    trace->ends_missing = folded->ends_missing;
    trace->info.folded = folded->events;
    trace->info.open = folded->open;
    if (trace->info.mode == PROF_RING_STATS) { /* the trace has already counted a part of these */
        trace->info.lost = trace->header.lost;
        trace->info.unmatched = 0;
        status = prof__folded_note(trace);
    }
    trace->info.lost += folded->lost;
    trace->info.unmatched += folded->unmatched;
    if (newest > trace->info.duration_ns) trace->info.duration_ns = newest;
    return status;
}
