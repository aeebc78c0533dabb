// read/event: Turns the nodes of a cursor into the events that it returns.
#ifndef PROF__READ_EVENT_H
#define PROF__READ_EVENT_H
#include "api/markup.h"
#include "api/read.h"
#include "api/values.h"
#include "ground/hash.h"
#include "ground/numbers.h"
#include "image/device.h"
#include "image/format.h"
#include "image/pack.h"
#include "image/words.h"
#include "read/chunks.h"
#include "read/clock.h"
#include "read/cursor.h"
#include "read/log.h"
#include "read/names.h"
#include "read/records.h"
#include "read/trace.h"

static void prof__read_step(const prof_trace *trace)
{
    PROF__CALM();
    trace->step(trace->step_user, 1 / prof__real(trace->segment_count));
}

/* Makes the keys of all names in the loaded segment that were made at run time. */
static PROF__NOINLINE void prof__read_make_keys(prof_cursor *c)
{
    prof__read_more *more = c->more, *end = more + c->more_count;
    for (; more < end; more++)
        if (more->name) more->key = prof__text_key((const char *)(c->words + more->name + 1));
}

/* Loads the next segment of a track, and turns its records into nodes. */
static PROF__NOINLINE void prof__read_load(prof_cursor *c)
{
    const prof__read_segment *segment = &c->trace->segments[c->track->segment + c->segment++];
    const prof__read_chunk *chunk = &c->trace->chunks[segment->chunk];
    const uint64_t *words = prof__read_words(c->trace, &c->buffer, segment);
    prof__read_node *named = NULL; /* the node of the previous record if a NAME may follow it */
    int takes_data = 0, shown;
    size_t at, length;
    if (c->trace->step) prof__read_step(c->trace);
    c->node = c->node_count = c->more_count = c->arg_count = 0;
    c->words = words;
    /* The matcher has ended all scopes at the gap. */
    if (segment->gap && c->segment > 1) c->depth = c->crossed = c->unseen = 0;
    if (!words) {
        prof__read_skip(c, segment);
        return;
    }
    c->id = chunk->sequence << c->trace->word_bits;
    for (at = segment->first; at < segment->end; at += length) {
        unsigned kind = prof__read_kind(words[at]);
        prof__read_node *node = NULL;
        if (kind == PROF__KIND_BEGIN || kind == PROF__KIND_END) {
            length = prof__read_scopes(c, chunk->tick, at, segment->end) - at;
            if (length) kind = prof__read_kind(words[at + length - 1]);
            if (!length) c->tick = prof__read_tick(chunk->tick, words[at], c->tick);
            if (!length && kind == PROF__KIND_BEGIN)
                prof__read_open_scope(c, prof__read_add_node(c, kind, at));
            else if (!length)
                prof__read_end(c, at);
            length += !length;
            named = kind == PROF__KIND_BEGIN ? &c->nodes[c->node_count - 1] : NULL;
            takes_data = 0;
            continue;
        }
        length = prof__record_words(words[at], segment->end - at);
        if (kind == PROF__KIND_ARG || kind == PROF__KIND_DATA)
            length = prof__read_arg_words(words + at, segment->end - at);
        if (kind == PROF__KIND_FRAME) length = prof__read_frame_words(words + at, segment->end - at);
        if (prof__record_timed(words[at])) c->tick = prof__read_tick(chunk->tick, words[at], c->tick);
        shown = prof__read_shown(words + at);
        if (shown)
            node = prof__read_add_node(c, kind, at);
        else if (kind == PROF__KIND_ARG && prof__read_arg_whole(words + at, length))
            prof__read_scope_arg(c, prof__read_closes(c, at), at);
        else if (kind == PROF__KIND_DATA && takes_data && prof__read_arg_whole(words + at, length))
            prof__read_take_arg(c, (uint32_t)c->node_count, at);
        else if (kind == PROF__KIND_NAME && named && length > 1)
            prof__read_more_of(c, named)->name = (uint32_t)at;
        named = prof__read_takes_name(words + at) ? node : NULL;
        takes_data = prof__read_takes_data(words[at], shown, takes_data);
    }
    if (segment->last && chunk->lost) prof__read_add_node(c, PROF__KIND_LOST, PROF__NONE32);
    for (; c->crossed < c->depth; c->crossed++) {
        const prof__read_cross_segment *crossing = &c->trace->cross_segments[c->cross_segment++];
        prof__read_node *node = &c->nodes[(c->stack[c->crossed] & ~PROF__LATE_BIT) - 1];
        node->end_ns = crossing->end_ns;
        if (crossing->flags) prof__read_more_of(c, node)->flags |= crossing->flags;
        if (crossing->link != PROF__NONE) prof__read_more_of(c, node)->link = crossing->link;
        c->stack[c->crossed] &= PROF__LATE_BIT;
    }
    if (c->keyed) prof__read_make_keys(c);
}

/* Decodes an argument. key: the record with its key, or NULL if a call site has the key. record: the record with the
   value. */
static prof_arg prof__read_decode(const prof_trace *trace, const uint64_t *key, const uint64_t *record)
{
    prof_arg arg;
    size_t length = (size_t)(*record & 0xFFFF);
    memset(&arg, 0, sizeof arg);
    if (length && *record & PROF__ARG_TO) length--;
    arg.key = prof__read_id(*record) ? trace->sites[prof__read_site_of(trace, prof__read_id(*record))].about.name : "";
    if (key) arg.key = *key & 0xFFFF ? (const char *)(key + 1) : "";
    arg.value.type = (prof_value_type)(*record >> 32 & 0xFF);
    if (arg.value.type > PROF_VALUE_STRING) arg.value.type = PROF_VALUE_NONE;
    if (arg.value.type == PROF_VALUE_STRING) {
        arg.value.cut = (int)(*record >> 31 & 1);
        arg.value.as.string = length ? (const char *)(record + 1) : "";
    } else if (!length) {
        arg.value.type = PROF_VALUE_NONE;
    } else if (arg.value.type != PROF_VALUE_NONE) {
        memcpy(&arg.value.as, record + 1, sizeof *record);
    }
    return arg;
}

/* Decodes a complete ARG or DATA record. */
static prof_arg prof__read_decode_arg(const prof_trace *trace, const uint64_t *record)
{
    size_t length;
    return prof__read_decode(trace, *record & PROF__ARG_KEY ? record : NULL, prof__read_arg_value(record, &length));
}

static void prof__read_args(prof_cursor *c, prof_event *event, uint32_t number, size_t link)
{
    const prof_trace *trace = c->trace;
    for (; number; number = c->segment_args[number - 1].next)
        c->args[event->arg_count++] = prof__read_decode_arg(trace, c->words + c->segment_args[number - 1].word);
    for (; link != PROF__NONE; link = trace->links[link].next)
        c->args[event->arg_count++] = prof__read_decode_arg(trace, trace->kept + trace->links[link].record);
    event->args = c->args;
}

static void prof__read_emit_unmatched_end(prof_cursor *c, prof_event *event)
{
    /* the table has the innermost scope first */
    const prof__read_unmatched_end *orphan =
        &c->trace->unmatched_ends[c->track->unmatched_end + c->track->unmatched_end_count - 1 - c->unmatched_end];
    event->type = PROF_EVENT_SCOPE;
    event->flags = PROF_TRUNCATED_BEGIN;
    event->depth = (uint32_t)c->unmatched_end++;
    event->start_ns = c->track->about.first_ns;
    event->duration_ns = orphan->end_ns - event->start_ns;
    event->id = orphan->id;
    event->site = &c->trace->sites[orphan->site].about;
    event->name = event->site->name;
    prof__read_args(c, event, 0, orphan->link);
}

static int prof__read_same_frame(const void *owner, size_t item, const void *key)
{
    return ((const prof__read_frame *)owner)[item].name == *(const uint32_t *)key;
}

/* Returns the boundary of a frame, with its number and with the time since the previous boundary of the same name (0
   for the first). */
static void prof__read_emit_frame(prof_cursor *c, prof_event *event, uint32_t name, uint32_t word)
{
    const prof__read_segment *segment = &c->trace->segments[c->track->segment + c->segment - 1];
    const uint64_t *number = prof__read_frame_data(c->words + word, segment->end - word);
    uint32_t hash = (uint32_t)prof__mix(name);
    size_t item = prof__read_find(&c->frame_index, hash, prof__read_same_frame, c->frames, &name);
    if (item == PROF__NONE) {
        item = c->frame_count++;
        c->frames[item].name = name;
        c->frames[item].ns = event->start_ns;
        c->frames[item].count = 0;
        prof__read_put(&c->frame_index, hash, (uint32_t)item + 1);
    }
    if (number) c->frames[item].count = *number;
    event->type = PROF_EVENT_FRAME;
    event->detail = c->frames[item].count++;
    event->duration_ns = event->start_ns - c->frames[item].ns;
    c->frames[item].ns = event->start_ns;
}

static void prof__read_emit_lost(const prof_cursor *c, prof_event *event, const prof__read_node *node)
{
    const prof_trace *trace = c->trace;
    const prof__read_chunk *chunk = &trace->chunks[trace->segments[c->track->segment + c->segment - 1].chunk];
    event->type = PROF_EVENT_LOST;
    event->value.type = PROF_VALUE_UINT;
    if (node->word == PROF__NONE32) {
        event->value.as.u = chunk->lost;
        event->id = prof__read_event_id(trace, chunk, trace->chunk_words);
    } else {
        event->value.as.u = c->words[node->word] & PROF__TICK_MASK;
        event->id = prof__read_event_id(trace, chunk, node->word);
    }
}

/* Sets a log message's text: formatted, unless its call site is not known. */
static void prof__read_emit_message(prof_cursor *c, prof_event *event)
{
    event->value.type = PROF_VALUE_STRING;
    event->value.as.string = event->name;
    if (event->name == event->site->name && c->message) prof__log_format_event(event, c->message);
}

/* Makes an event of the next node, and moves on. */
static PROF__NOINLINE void prof__read_emit(prof_cursor *c, prof_event *event)
{
    const prof_trace *trace = c->trace;
    prof__read_node *node = &c->nodes[c->node++];
    const prof__read_more *more = prof__read_more_of(c, node);
    const uint64_t *words = c->words;
    const prof__read_site *site = &trace->sites[node->site];
    event->depth = node->depth;
    event->start_ns = node->start_ns;
    if (more->kind == PROF__KIND_LOST)
        prof__read_emit_lost(c, event, node);
    else
        event->id = c->id | node->word;
    c->key = more->key;
    event->site = &site->about;
    event->name = more->name ? prof__log_name(words + more->name, c->message) : site->about.name;
    switch (more->kind) {
    case PROF__KIND_BEGIN:
        event->type = PROF_EVENT_SCOPE;
        event->flags = more->flags;
        event->duration_ns = node->end_ns - node->start_ns;
        prof__read_args(c, event, more->arg, more->link);
        if (!(more->flags & PROF__OVERLAPS)) break;
        event->type = PROF_EVENT_SPAN_BEGIN;
        event->flags = 0;
        event->duration_ns = 0;
        event->object = ~event->id;
        break;
    case PROF__KIND_END: /* of a scope that overlaps an enclosing one */
        event->type = PROF_EVENT_SPAN_END;
        event->object = ~trace->late_ends[more->link].id;
        break;
    case PROF__KIND_MARK:
        event->type = PROF_EVENT_MARK;
        prof__read_args(c, event, more->arg, PROF__NONE);
        break;
    case PROF__KIND_EVENT:
        event->type = (prof_event_type)prof__read_event_type(words + node->word);
        event->detail = words[node->word + 1] >> 8;
        event->object = words[node->word + 2];
        prof__read_args(c, event, more->arg, PROF__NONE);
        if (event->type == PROF_EVENT_LOG) prof__read_emit_message(c, event);
        break;
    case PROF__KIND_FRAME:
        prof__read_emit_frame(c, event, site->name, node->word);
        prof__read_args(c, event, more->arg, PROF__NONE);
        break;
    case PROF__KIND_COUNTER_INT:
    case PROF__KIND_COUNTER_UINT:
    case PROF__KIND_COUNTER_DOUBLE:
        event->type = PROF_EVENT_COUNTER;
        event->value.type = (prof_value_type)prof__record_holds(words[node->word]);
        memcpy(&event->value.as, words + node->word + 1, sizeof *words);
        break;
    default: break;
    }
}

static void prof__read_device_args(prof_cursor *c, prof_event *event, const prof__read_device_record *e)
{
    const uint64_t *record = e->arg_count ? c->trace->kept + e->args : NULL;
    for (; event->arg_count < e->arg_count; event->arg_count++) {
        size_t key = 1 + (size_t)(*record & 0xFFFF);
        c->args[event->arg_count] = prof__read_decode(c->trace, record, record + key);
        record += key + 1 + (size_t)(record[key] & 0xFFFF);
    }
}

/* Returns the next event of a device's row. An event with a flow is followed by the flow's event; if the event is a
   scope, the flow lies inside it. */
static int prof__read_device_event(prof_cursor *c, prof_event *event)
{
    const prof_trace *trace = c->trace;
    const prof__read_device_record *e = trace->device_records + c->track->device_record + c->device_record - c->flow;
    int scope;
    if (!c->flow && c->device_record == c->track->device_record_count) return 0;
    scope = e->type == PROF__DEVICE_SCOPE;
    event->start_ns = e->start_ns;
    event->depth = e->depth;
    event->id = e->id;
    event->site = &trace->sites[e->site].about;
    event->name = trace->names[e->name];
    if (c->flow) {
        c->flow = 0;
        event->type = PROF_EVENT_FLOW_IN;
        event->depth += (uint32_t)scope;
        event->object = e->flow;
        event->name = "flow"; /* PROFILE_FLOW_OUT(id) uses this name, too */
        event->id++; /* the next word is inside the same record, so no other event has this id */
        return 1;
    }
    c->device_record++;
    c->flow = e->flow != 0;
    event->type = scope ? PROF_EVENT_SCOPE : e->type == PROF__DEVICE_MARK ? PROF_EVENT_MARK : PROF_EVENT_COUNTER;
    event->flags = e->flags;
    event->duration_ns = e->end_ns - e->start_ns;
    if (event->type == PROF_EVENT_COUNTER) {
        event->value.type = e->value == PROF_VALUE_DOUBLE ? PROF_VALUE_DOUBLE
                            : e->value == PROF_VALUE_UINT ? PROF_VALUE_UINT : PROF_VALUE_INT;
        memcpy(&event->value.as, &e->number, sizeof e->number);
    }
    prof__read_device_args(c, event, e);
    return 1;
}

/* Clears an event field by field. For a memset() of this size, compilers emit an instruction that takes longer than all
   else in this function. */
static inline void prof__read_event_clear(prof_event *event)
{
    event->type = (prof_event_type)0;
    event->flags = event->depth = event->arg_count = 0;
    event->start_ns = event->duration_ns = 0;
    event->id = event->object = event->detail = 0;
    event->name = NULL;
    event->site = NULL;
    event->args = NULL;
    event->value.type = PROF_VALUE_NONE;
    event->value.cut = 0;
    event->value.as.u = 0;
}

/* Returns 1 if the next event can be made from its node alone: a node is loaded, and the cursor has no window. */
static inline int prof__read_loaded(const prof_cursor *c) { return c->node < c->node_count && !c->windowed; }

/* Returns 1 if the node is a scope without arguments, run-time name or flags, as most are. */
static inline int prof__read_plain(const prof__read_node *node)
{
    return !node->more;
}

/* Returns the node of the next event and moves on, if the event is a plain scope, which its node and its call site
   describe completely. Otherwise returns NULL: the caller uses prof_cursor_next(). */
static inline const prof__read_node *prof__cursor_plain(prof_cursor *c, const prof_callsite **site)
{
    const prof__read_node *node = &c->nodes[c->node];
    if (!prof__read_loaded(c) || !prof__read_plain(node)) return NULL;
    c->node++;
    *site = &c->trace->sites[node->site].about;
    return node;
}

/* Returns the node of the event after `ahead` more, its call site and the key of its name, if the cursor has loaded it
   and its name was made at run time; else returns NULL. */
static inline const prof__read_node *prof__cursor_ahead(const prof_cursor *c, size_t ahead, const prof_callsite **site,
                                                        uint64_t *key)
{
    const prof__read_node *node = &c->nodes[c->node + ahead];
    if (c->node_count <= c->node + ahead || !node->more || !c->more[node->more - 1].key) return NULL;
    *key = c->more[node->more - 1].key;
    *site = &c->trace->sites[node->site].about;
    return node;
}

/* Makes the cursor make keys. Comes before its first event. */
static void prof__cursor_keyed(prof_cursor *c) { c->keyed = 1; }

/* Returns the key of the name of the cursor's last event, which was made at run time, or 0 if there is none. */
static inline uint64_t prof__cursor_key(const prof_cursor *c) { return c->key; }

/* Sets *event to the next node if that is a plain scope, else returns 0. */
static inline int prof__read_emit_scope(prof_cursor *c, prof_event *event)
{
    const prof__read_node *node = &c->nodes[c->node];
    const prof_callsite *site = &c->trace->sites[node->site].about;
    if (!prof__read_plain(node)) return 0;
    c->node++;
    event->type = PROF_EVENT_SCOPE;
    event->flags = event->arg_count = 0;
    event->depth = node->depth;
    event->start_ns = node->start_ns;
    event->duration_ns = node->end_ns - node->start_ns;
    event->id = c->id | node->word;
    event->name = site->name;
    event->site = site;
    event->args = c->args;
    event->value.type = PROF_VALUE_NONE;
    event->value.cut = 0;
    event->value.as.u = event->object = event->detail = 0;
    return 1;
}

/* Returns the track's next event, also outside the window. Returns 0 after the last. */
static int prof__read_next(prof_cursor *cursor, prof_event *event)
{
    prof__read_event_clear(event);
    event->args = cursor->args;
    if (cursor->track->device_record_count) return prof__read_device_event(cursor, event);
    if (cursor->unmatched_end < cursor->track->unmatched_end_count) {
        prof__read_emit_unmatched_end(cursor, event);
        return 1;
    }
    while (cursor->node == cursor->node_count) {
        if (cursor->segment == cursor->track->segment_count) return 0;
        prof__read_load(cursor);
    }
    prof__read_emit(cursor, event);
    return 1;
}

/* Extends a scope that is still open to the latest time at which it is known to have been open. */
static void prof__read_stretch(const prof_cursor *c, prof_event *event)
{
    int64_t newest = c->trace->newest_ns - event->start_ns;
    if (event->flags & PROF__STILL_OPEN && c->track->lives && event->duration_ns < newest) event->duration_ns = newest;
    event->flags &= ~PROF__STILL_OPEN;
}

/* Cuts an event to the window. Returns 0 if it lies outside. A scope that ends exactly where the window begins stays,
   because its children may be in the window. */
static int prof__read_cut_event(const prof_cursor *c, prof_event *event)
{
    int64_t start = event->start_ns, end = start, from = c->from_ns, to = c->to_ns;
    if (event->type == PROF_EVENT_SCOPE) end += event->duration_ns;
    if (start >= to || end < from) return 0;
    if (event->type == PROF_EVENT_FRAME) start -= event->duration_ns;
    if (start < from) {
        start = from;
        event->flags |= PROF_TRUNCATED_BEGIN;
    }
    if (end > to) {
        end = to;
        event->flags |= PROF_TRUNCATED_END;
    }
    event->duration_ns = end - start;
    if (event->type == PROF_EVENT_SCOPE) event->start_ns = start;
    return 1;
}

/* Returns the next event of any kind, inside the window if there is one. Returns 0 after the last. */
static PROF__NOINLINE int prof__read_next_wanted(prof_cursor *cursor, prof_event *event)
{
    while (prof__read_next(cursor, event)) {
        prof__read_stretch(cursor, event);
        if (!cursor->windowed || prof__read_cut_event(cursor, event)) return 1;
        if (event->start_ns >= cursor->to_ns) break; /* later events are behind the window, too */
    }
    memset(event, 0, sizeof *event);
    return 0;
}

PROF_DEF int prof_cursor_next(prof_cursor *cursor, prof_event *event)
{
    if (!cursor || !event) return 0;
    if (PROF__LIKELY(prof__read_loaded(cursor)) && prof__read_emit_scope(cursor, event)) return 1;
    return prof__read_next_wanted(cursor, event);
}

#endif /* PROF__READ_EVENT_H */
