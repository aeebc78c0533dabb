// html/writer: Writes traces as a report: their tracks one after the other, then their spans.
/*-- values and arguments --*/

static void prof__html_value(prof__html *h, prof__html_bytes *to, const prof_value *value)
{
    uint64_t bits;
    int i;
    switch (value->type) {
    case PROF_VALUE_INT:
        prof__html_u(to, 1);
        prof__html_u(to, prof__html_zigzag(value->as.i));
        break;
    case PROF_VALUE_UINT:
        prof__html_u(to, 2);
        prof__html_u(to, value->as.u);
        break;
    case PROF_VALUE_DOUBLE:
        prof__html_u(to, 3);
        memcpy(&bits, &value->as.d, sizeof bits);
        for (i = 0; i < 8; ++i) to->at[to->size++] = (unsigned char)(bits >> 8 * i & 255);
        break;
    case PROF_VALUE_BOOL: prof__html_u(to, value->as.u ? 5 : 4); break;
    case PROF_VALUE_POINTER:
        prof__html_u(to, 6);
        prof__html_u(to, value->as.u);
        break;
    case PROF_VALUE_STRING:
        prof__html_u(to, value->cut ? 8 : 7);
        prof__html_u(to, prof__html_string_of(h, value->as.string));
        break;
    default: prof__html_u(to, 0); break;
    }
}

/* How many arguments, and each: at most so many as fit into a block's slack. */
static void prof__html_args(prof__html *h, prof__html_bytes *to, const prof_arg *args, uint32_t count)
{
    if (h->options.no_args) count = 0;
    if (count > PROF__HTML_MOST_ARGS) count = PROF__HTML_MOST_ARGS;
    prof__html_u(to, count);
    for (uint32_t i = 0; i < count; ++i) {
        prof__html_u(to, prof__html_string_of(h, args[i].key));
        prof__html_value(h, to, &args[i].value);
    }
}

/*-- blocks of a track --*/

static void prof__html_scopes_end(prof__html *h)
{
    prof__html_bytes *columns[5] = {&h->starts.heads, &h->starts.rests, &h->ends.heads, &h->ends.rests,
                                    &h->scope_kinds};
    if (!h->scope_kinds.size && !h->ends.heads.size) return;
    if (!h->starts.heads.size) prof__html_u(&h->starts.heads, h->track);
    prof__html_tables(h);
    prof__html_block(h, 'E', columns, 5);
}

static void prof__html_points_end(prof__html *h)
{
    prof__html_bytes *columns[3] = {&h->times, &h->point_kinds, &h->details};
    if (!h->point_kinds.size) return;
    prof__html_tables(h);
    prof__html_block(h, 'Q', columns, 3);
}

static void prof__html_arguments_end(prof__html *h)
{
    if (!h->arguments.size) return;
    prof__html_tables(h);
    prof__html_block1(h, 'A', &h->arguments);
    ++h->argument_blocks;
}

/* Arguments of the present one of a level's scopes, or of the points. which: depth + 1, or 0. */
static void prof__html_arguments(prof__html *h, prof__html_level *level, uint64_t which, const prof_event *event)
{
    if (!event->arg_count || h->options.no_args) return;
    if (!h->arguments.size) prof__html_u(&h->arguments, h->track);
    if (level->block != h->argument_blocks + 1) level->listed = 0; /* nothing of it in this block yet */
    level->block = h->argument_blocks + 1;
    prof__html_u(&h->arguments, which);
    prof__html_u(&h->arguments, level->count - level->listed);
    level->listed = level->count;
    prof__html_args(h, &h->arguments, event->args, event->arg_count);
}

/*-- events --*/

static int prof__html_level_of(prof__html *h, size_t depth)
{
    size_t capacity = h->level_capacity ? h->level_capacity : 64;
    prof__html_level *more;
    if (depth < h->level_capacity) return 1;
    while (capacity <= depth) capacity *= 2;
    more = (prof__html_level *)realloc(h->levels, capacity * sizeof *more);
    if (!more) return 0;
    memset(more + h->level_capacity, 0, (capacity - h->level_capacity) * sizeof *more);
    h->levels = more;
    h->level_capacity = capacity;
    return 1;
}

/* Ends the scopes at this depth and below. Where a scope ends is counted from what happened last, the begin of the
   scope itself or the end of one in it: most such numbers are small. */
static void prof__html_close(prof__html *h, size_t depth)
{
    while (h->open_levels > depth) {
        prof__html_level *level = &h->levels[--h->open_levels];
        if (!level->is_open) continue;
        level->is_open = 0;
        if (level->end >= h->last_time) {
            prof__html_number(&h->ends, (uint64_t)(level->end - h->last_time) + 1);
        } else { /* does not happen: what is in a scope ends before it */
            prof__html_number(&h->ends, 0);
            prof__html_number(&h->ends, (uint64_t)(level->end - level->start));
        }
        h->last_time = level->end;
        if (h->ends.heads.size >= PROF__HTML_COLUMN || h->ends.rests.size >= PROF__HTML_COLUMN)
            prof__html_scopes_end(h);
    }
}

static void prof__html_scope(prof__html *h, const prof_event *event, int64_t start)
{
    uint32_t depth = event->depth, type = PROF_EVENT_SCOPE | (event->flags & 3) << 8;
    prof__html_level *level;
    int64_t from;
    if (!prof__html_level_of(h, depth)) {
        prof__out_fail(&h->out, prof__fail(PROF_NO_MEMORY, "no memory for scopes of depth %lu", (unsigned long)depth));
        return;
    }
    level = &h->levels[depth];
    from = depth < h->open_levels ? level->end : h->last_scope;
    if (start < from) { /* does not happen: a scope begins when the one before it on its level has ended */
        type |= PROF__HTML_FROM_LAST;
        from = h->last_scope;
        if (start < from) start = from;
    }
    prof__html_close(h, depth);
    if (!h->starts.heads.size) prof__html_u(&h->starts.heads, h->track);
    prof__html_number(&h->starts, (uint64_t)(start - from));
    prof__html_u(&h->scope_kinds, prof__html_kind_of(h, event->site, event->name, depth, type));
    prof__html_arguments(h, level, (uint64_t)depth + 1, event);
    level->start = h->last_scope = h->last_time = start;
    level->end = start + event->duration_ns;
    level->is_open = 1;
    ++level->count;
    h->open_levels = (size_t)depth + 1;
    ++h->scopes;
    if (h->starts.heads.size >= PROF__HTML_COLUMN || h->starts.rests.size >= PROF__HTML_COLUMN ||
        h->scope_kinds.size >= PROF__HTML_COLUMN)
        prof__html_scopes_end(h);
}

static void prof__html_detail(prof__html *h, const prof_event *event)
{
    prof__html_bytes *to = &h->details;
    switch (event->type) {
    case PROF_EVENT_MARK: break;
    case PROF_EVENT_COUNTER: prof__html_value(h, to, &event->value); break;
    case PROF_EVENT_FRAME: prof__html_u(to, (uint64_t)event->duration_ns); break;
    case PROF_EVENT_LOST: prof__html_u(to, event->value.as.u); break;
    case PROF_EVENT_LOG:
        prof__html_u(to, event->detail);
        prof__html_u(to, prof__html_string_of(h, event->value.type == PROF_VALUE_STRING ? event->value.as.string : ""));
        break;
    default:
        prof__html_u(to, event->object);
        prof__html_u(to, event->detail);
        break;
    }
}

static void prof__html_point(prof__html *h, const prof_event *event, int64_t start)
{
    uint32_t type = (uint32_t)event->type;
    if (!h->point_kinds.size) prof__html_u(&h->times, h->track);
    prof__html_u(&h->times, (uint64_t)(start - h->last_point));
    prof__html_u(&h->point_kinds, prof__html_kind_of(h, event->site, event->name, event->depth, type));
    prof__html_detail(h, event);
    if (event->type != PROF_EVENT_LOG) prof__html_arguments(h, &h->listed_points, 0, event); /* they are in its text */
    ++h->listed_points.count;
    h->last_point = start;
    ++h->points;
    if (h->times.size >= PROF__HTML_COLUMN || h->point_kinds.size >= PROF__HTML_COLUMN ||
        h->details.size >= PROF__HTML_COLUMN)
        prof__html_points_end(h);
}

static PROF__HOT void prof__html_event(prof__html *h, const prof_event *event)
{
    int64_t start = event->start_ns + h->offset;
    if (event->type == PROF_EVENT_SPAN_BEGIN || event->type == PROF_EVENT_SPAN_MARK ||
        event->type == PROF_EVENT_SPAN_END)
        h->has_spans = 1; /* later, when it is known what belongs together */
    else if (event->type == PROF_EVENT_SCOPE)
        prof__html_scope(h, event, start);
    else
        prof__html_point(h, event, start);
    if (h->arguments.size >= PROF__HTML_COLUMN) prof__html_arguments_end(h);
}

static PROF__HOT void prof__html_track(prof__html *h, size_t index)
{
    prof_cursor *cursor;
    prof_event event;
    prof_status status = prof_cursor_open(h->trace, index, &cursor);
    if (status) {
        prof__out_fail(&h->out, status);
        return;
    }
    h->track = h->first_track + index;
    h->last_scope = h->last_point = h->last_time = 0;
    h->open_levels = 0;
    if (h->levels) memset(h->levels, 0, h->level_capacity * sizeof *h->levels);
    memset(&h->listed_points, 0, sizeof h->listed_points);
    while (h->out.status == PROF_OK && prof_cursor_next(cursor, &event)) prof__html_event(h, &event);
    prof_cursor_close(cursor);
    prof__html_close(h, 0);
    prof__html_scopes_end(h);
    prof__html_points_end(h);
    prof__html_arguments_end(h);
}

/*-- spans --*/

static void prof__html_rows_end(prof__html *h, char kind)
{
    if (!h->rows.size) return;
    prof__html_tables(h);
    prof__html_block1(h, kind, &h->rows);
}

static void prof__html_span(prof__html *h, const prof_span *span)
{
    prof__html_bytes *to = &h->rows;
    int64_t start = span->start_ns + h->offset;
    uint32_t type = PROF_EVENT_SPAN_BEGIN | (span->flags & 3) << 8;
    if (span->mark) type = PROF_EVENT_SPAN_MARK;
    prof__html_u(to, prof__html_kind_of(h, span->site, span->name, 0, type));
    prof__html_u(to, prof__html_zigzag(start - h->last_span));
    prof__html_u(to, (uint64_t)span->duration_ns);
    prof__html_u(to, h->first_track + span->begin_track);
    prof__html_u(to, h->first_track + span->end_track);
    prof__html_u(to, span->id);
    prof__html_u(to, span->number);
    prof__html_args(h, to, span->args, span->arg_count);
    h->last_span = start;
    ++h->spans;
    if (to->size >= PROF__HTML_COLUMN) {
        prof__html_rows_end(h, 'N');
        h->last_span = 0;
    }
}

static PROF__RARE void prof__html_spans(prof__html *h)
{
    prof_spans *spans = NULL;
    prof_span span;
    prof_status status = prof_spans_open(h->trace, &spans), closed;
    h->last_span = 0;
    while (h->out.status == PROF_OK && prof_spans_next(spans, &span)) prof__html_span(h, &span);
    closed = prof_spans_close(spans);
    if (status || closed) prof__out_fail(&h->out, status ? status : closed);
    prof__html_rows_end(h, 'N');
}

/*-- processes and tracks --*/

static PROF__RARE void prof__html_about(prof__html *h, const char *key, const char *value)
{
    if (h->rows.size >= PROF__HTML_COLUMN) prof__html_block1(h, 'P', &h->rows);
    prof__html_text(&h->rows, key);
    prof__html_text(&h->rows, value);
}

static PROF__RARE void prof__html_about_number(prof__html *h, const char *key, uint64_t value)
{
    char text[32];
    text[prof__digits(text, value)] = 0;
    prof__html_about(h, key, text);
}

static PROF__RARE void prof__html_about_double(prof__html *h, const char *key, double value)
{
    char text[48];
    text[prof__double_text(text, value)] = 0;
    prof__html_about(h, key, text);
}

/* The first block of a trace has pairs of texts; see docs/html.md. */
static PROF__RARE void prof__html_process(prof__html *h)
{
    const prof_trace_info *about = prof_trace_about(h->trace);
    const char *key, *value;
    char text[512];
    prof__html_about(h, "program", about->program);
    prof__html_about_number(h, "pid", about->pid);
    prof__html_about_number(h, "parent_pid", about->parent_pid);
    prof__html_about(h, "clock", about->clock);
    prof__html_about_number(h, "tick_hz", about->tick_hz);
    prof__html_about_double(h, "clock_resolution_ns", about->clock_resolution_ns);
    prof__html_about_double(h, "scope_cost_ns", about->scope_cost_ns);
    prof__html_about_double(h, "call_cost_ns", about->call_cost_ns);
    prof__html_about_number(h, "start_unix_ns", about->start_unix_ns);
    prof__html_about_number(h, "duration_ns", (uint64_t)(about->duration_ns < 0 ? 0 : about->duration_ns));
    prof__html_about_number(h, "offset_ns", (uint64_t)h->offset);
    prof__html_about_number(h, "together", (uint64_t)h->together);
    prof__html_about_number(h, "from_ns", (uint64_t)about->from_ns);
    prof__html_about_number(h, "to_ns", (uint64_t)about->to_ns);
    prof__html_about_number(h, "events", about->event_count);
    prof__html_about_number(h, "aggregated", about->folded);
    prof__html_about_number(h, "lost", about->lost);
    prof__html_about_number(h, "taken_back", about->taken_back);
    prof__html_about_number(h, "tracks", prof_trace_track_count(h->trace));
    prof__html_about(h, "mode", prof__mode_names[about->mode]);
    prof__html_about_number(h, "complete", (uint64_t)about->complete);
    prof__html_about(h, "write_error", about->write_error);
    for (int kind = 0; kind < 7; ++kind)
        if (prof__loss_text(h->trace, kind, text, sizeof text)) prof__html_about(h, "loss", text);
    for (size_t i = 0; prof_trace_metadata(h->trace, i, &key, &value); ++i) {
        snprintf(text, sizeof text, "metadata.%s", key);
        prof__html_about(h, text, value);
    }
    prof__html_block1(h, 'P', &h->rows);
}

static PROF__RARE void prof__html_tracks(prof__html *h)
{
    prof__html_bytes *to = &h->rows;
    const prof_track *track;
    for (size_t i = 0; (track = prof_trace_track(h->trace, i)) != NULL; ++i) {
        prof__html_text(to, track->name);
        prof__html_text(to, track->device);
        prof__html_u(to, track->thread_id);
        prof__html_u(to, (uint64_t)(track->fiber != 0));
        prof__html_u(to, (uint64_t)track->alignment);
        prof__html_u(to, track->lost);
        prof__html_u(to, track->event_count);
        if (to->size >= PROF__HTML_COLUMN) prof__html_block1(h, 'T', to);
    }
    prof__html_block1(h, 'T', to);
}

/*-- the file --*/

static PROF__RARE void prof__html_trace(prof__html *h, const prof_trace *trace, int64_t offset)
{
    size_t tracks = prof_trace_track_count(trace);
    h->trace = trace;
    h->offset = offset;
    h->has_spans = 0;
    prof__html_process(h);
    prof__html_tracks(h);
    for (size_t i = 0; i < tracks && h->out.status == PROF_OK; ++i) prof__html_track(h, i);
    if (h->has_spans && h->out.status == PROF_OK) prof__html_spans(h);
    h->first_track += tracks;
}

/* The last block says how much there is, so that the page can tell a report that was cut. */
static PROF__RARE void prof__html_end(prof__html *h)
{
    prof__html_u(&h->rows, h->scopes);
    prof__html_u(&h->rows, h->points);
    prof__html_u(&h->rows, h->spans);
    prof__html_block1(h, 'Z', &h->rows);
    prof__html_piece_end(h);
}

/* Runs of which one had ended before another began are there to be compared: all begin at 0 then. Returns 1 if so. */
static PROF__RARE int prof__html_together(const prof_trace *const *traces, size_t count, int64_t *offsets)
{
    for (size_t i = 0; i < count; ++i) {
        size_t j, others = 0;
        int64_t end = offsets[i] + prof_trace_about(traces[i])->duration_ns;
        for (j = 0; j < count; ++j) {
            int64_t its_end = offsets[j] + prof_trace_about(traces[j])->duration_ns;
            others += j != i && offsets[j] <= end && offsets[i] <= its_end;
        }
        if (others || count == 1) continue;
        memset(offsets, 0, count * sizeof *offsets);
        return 1;
    }
    return 0;
}

static PROF__RARE void prof__html_all(prof__html *h, const prof_trace *const *traces, size_t count)
{
    int64_t *offsets = (int64_t *)calloc(count + 1, sizeof *offsets);
    size_t i, machines;
    if (!offsets) {
        prof__out_fail(&h->out, prof__fail(PROF_NO_MEMORY, "no memory to write %lu traces", (unsigned long)count));
        return;
    }
    machines = prof_trace_align(traces, count, offsets);
    h->together = prof__html_together(traces, count, offsets);
    for (i = 0; prof__html_page[i]; ++i) prof__out_text(&h->out, prof__html_page[i]);
    prof__html_u(&h->rows, PROF__HTML_VERSION);
    prof__html_u(&h->rows, machines);
    prof__html_text(&h->rows, h->options.title ? h->options.title : "");
    prof__html_block1(h, 'H', &h->rows);
    for (i = 0; i < count && h->out.status == PROF_OK; ++i) prof__html_trace(h, traces[i], offsets[i]);
    if (h->options.sources) prof__html_sources(h);
    prof__html_end(h);
    prof__out_text(&h->out, "</body>\n</html>\n");
    free(offsets);
}

static PROF__RARE prof_status prof__html_make(prof__html **h, const prof_trace *const *traces, size_t count,
                                   const prof_html_options *options)
{
    *h = NULL;
    if (!traces || !count) return prof__fail(PROF_INVALID_ARGUMENT, "no trace to write");
    for (size_t i = 0; i < count; ++i)
        if (!traces[i]) return prof__fail(PROF_INVALID_ARGUMENT, "no trace to write");
    *h = (prof__html *)calloc(1, sizeof **h);
    if (!*h) return prof__fail(PROF_NO_MEMORY, "no memory to write a report");
    if (options) (*h)->options = *options;
    return PROF_OK;
}

static PROF__RARE prof_status prof__html_done(prof__html *h)
{
    prof_status status = prof__out_close(&h->out);
    free(h->levels);
    free(h);
    return status;
}

PROF_DEF prof_status prof_html_merge(const prof_trace *const *traces, size_t count, const char *path,
                                     const prof_html_options *options)
{
    prof__html *h;
    prof_status status = prof__html_make(&h, traces, count, options);
    if (status) return status;
    status = prof__out_file(&h->out, path);
    if (status) {
        free(h);
        return status;
    }
    prof__html_all(h, traces, count);
    return prof__html_done(h);
}

PROF_DEF prof_status prof_html_stream(const prof_trace *trace, prof_sink sink, const prof_html_options *options)
{
    prof__html *h;
    prof_status status = prof__html_make(&h, &trace, 1, options);
    if (status) return status;
    prof__out_sink(&h->out, sink);
    prof__html_all(h, &trace, 1);
    return prof__html_done(h);
}

PROF_DEF prof_status prof_html_write(const prof_trace *trace, const char *path, const prof_html_options *options)
{
    return prof_html_merge(&trace, 1, path, options);
}
