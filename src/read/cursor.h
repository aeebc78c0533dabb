// read/cursor: A cursor over a track. It turns one segment at a time into nodes, one for each event.
#ifndef PROF__READ_CURSOR_H
#define PROF__READ_CURSOR_H
#include "api/markup.h"
#include "api/read.h"
#include "api/values.h"
#include "ground/errors.h"
#include "ground/hash.h"
#include "image/format.h"
#include "read/chunks.h"
#include "read/clock.h"
#include "read/log.h"
#include "read/names.h"
#include "read/records.h"
#include "read/trace.h"

/*-- cursors --*/

typedef struct prof__read_node { /* an event of the loaded segment */
    int64_t start_ns, end_ns;
    uint32_t word, site, depth;
    uint32_t more; /* its prof__read_more, from 1; 0: a scope that needs none, as most do */
} prof__read_node;

typedef struct prof__read_more {
    /* Index in links of its arguments in later segments; of the END of an overlapping scope: index in late_ends. */
    size_t link;
    uint32_t kind, flags;
    uint32_t name; /* index of the word of its NAME record; 0: none */
    uint32_t arg, last_arg; /* its first and last argument in segment_args, from 1; 0: none */
    uint64_t key; /* prof__text_key() of its name, if the cursor makes keys; else 0 */
} prof__read_more;

typedef struct prof__read_argument {
    uint32_t word, next;
} prof__read_argument;

typedef struct prof__read_frame {
    uint32_t name;
    int64_t ns; /* time of the newest boundary */
    /* Number of the next boundary; it is larger than the boundaries seen if older ones were overwritten. */
    uint64_t count;
} prof__read_frame;

struct prof_cursor {
    /* The fields that are used most come first, because their offsets fit into one byte of an instruction. */
    const prof_trace *trace;
    const prof__read_track *track;
    size_t segment;  /* number of segments loaded so far */
    size_t exception, late_begin; /* entries used so far */
    const uint64_t *words; /* words of the chunk that has the loaded segment */
    size_t node, node_count, more_count;
    prof__read_node *nodes;
    prof__read_more *more;
    /* Open scopes: number of the node, from 1; 0: the scope began before this segment; PROF__LATE_BIT may be added. */
    uint32_t *stack;
    size_t depth, unseen; /* unseen: open scopes that overlap an enclosing one, and are returned as spans */
    prof_arg *args;
    uint64_t tick;
    prof__read_argument *segment_args;
    size_t crossed;
    size_t unmatched_end; /* unmatched ends returned so far */
    size_t cross_segment, late_end; /* entries used so far */
    size_t arg_count;
    prof__read_buffer buffer;
    prof__read_frame *frames;
    size_t frame_count;
    prof__read_index frame_index;
    size_t device_record; /* events of a device's row returned so far */
    size_t flow;      /* 1: the last event of a device has a flow, which is returned next */
    char *message;    /* text of the last log message or formatted name; NULL: the trace has none */
    uint64_t id;      /* id of the loaded segment's events, without the bits of the word */
    size_t hint;
    prof__read_fast fast;
    int windowed, keyed; /* keyed: 1: makes keys of names that were made at run time */
    uint64_t key;        /* of the name of the last event that has one */
    int64_t from_ns, to_ns; /* window; to_ns is INT64_MAX if it has no end */
};

static void prof__cursor_free(prof_cursor *cursor)
{
    if (!cursor) return;
    free(cursor->nodes);
    free(cursor->more);
    free(cursor->segment_args);
    free(cursor->stack);
    free(cursor->args);
    free(cursor->frames);
    free(cursor->message);
    free(cursor->frame_index.slots);
    prof__read_buffer_free(&cursor->buffer);
    free(cursor);
}

/* Makes a cursor, with all memory that reading its track needs. */
static prof_status prof__cursor_make(const prof_trace *trace, size_t track, prof_cursor **cursor)
{
    const prof__read_track *about;
    prof_cursor *c;
    int archived = 1;
    if (!trace || !cursor) return prof__null("prof_cursor_open", "trace or cursor");
    *cursor = NULL;
    if (track >= trace->track_count)
        return prof__fail(PROF_INVALID_ARGUMENT, "prof_cursor_open: there is no track %lu, only %lu",
                          (unsigned long)track, (unsigned long)trace->track_count);
    about = &trace->tracks[track];
    c = (prof_cursor *)calloc(1, sizeof *c);
    if (c) {
        c->trace = trace;
        c->track = about;
        c->nodes = (prof__read_node *)calloc(about->max_nodes + 1, sizeof *c->nodes);
        c->more = (prof__read_more *)malloc((about->max_nodes + 1) * sizeof *c->more);
        c->segment_args = (prof__read_argument *)calloc(about->max_args + 1, sizeof *c->segment_args);
        c->stack = (uint32_t *)calloc(about->max_depth + 1, sizeof *c->stack);
        c->args = (prof_arg *)calloc(about->max_event_args + 1, sizeof *c->args);
        c->frames = (prof__read_frame *)calloc(about->frames + 1, sizeof *c->frames);
        c->windowed = trace->info.from_ns || trace->info.to_ns;
        c->from_ns = trace->info.from_ns;
        c->to_ns = trace->info.to_ns ? trace->info.to_ns : INT64_MAX;
        c->depth = c->crossed = about->unmatched_end_count;
        c->cross_segment = about->cross_segment;
        c->exception = about->exception;
        c->late_begin = c->late_end = about->late;
        c->tick = about->tick;
        if (trace->has_logs) c->message = (char *)malloc(PROF__LOG_ROOM);
        if (trace->paged || trace->file || trace->size > trace->header.image_size)
            archived = prof__read_buffer_make(trace, &c->buffer);
    }
    if (!c || !c->nodes || !c->more || !c->segment_args || !c->stack || !c->args || !c->frames || !archived ||
        (trace->has_logs && !c->message) ||
        (about->frames && !prof__read_reserve(&c->frame_index, about->frames))) {
        prof__cursor_free(c);
        return prof__fail(PROF_NO_MEMORY, "no memory to read track %lu", (unsigned long)track);
    }
    *cursor = c;
    return PROF_OK;
}

PROF_DEF prof_status prof_cursor_open(const prof_trace *trace, size_t track, prof_cursor **cursor)
{
    return prof__cursor_make(trace, track, cursor);
}

PROF_DEF prof_status prof_cursor_close(prof_cursor *cursor)
{
    prof__cursor_free(cursor);
    return PROF_OK; /* it had all its memory when it was opened */
}

static inline void prof__read_node_set(prof__read_node *node, size_t word, size_t site, size_t depth, int64_t ns)
{
    node->start_ns = node->end_ns = ns;
    node->word = (uint32_t)word;
    node->site = (uint32_t)site;
    node->depth = (uint32_t)depth;
    node->more = 0;
}

/* Returns the additional fields of a node. Adds those of a plain scope if it has none yet. */
static prof__read_more *prof__read_more_of(prof_cursor *c, prof__read_node *node)
{
    prof__read_more *more;
    if (!node->more) {
        node->more = (uint32_t)++c->more_count;
        more = &c->more[node->more - 1];
        more->link = PROF__NONE;
        more->kind = PROF__KIND_BEGIN;
        more->flags = more->name = more->arg = more->last_arg = 0;
        more->key = 0;
    }
    return &c->more[node->more - 1];
}

static prof__read_node *prof__read_add_node(prof_cursor *c, unsigned kind, size_t word)
{
    prof__read_node *node = &c->nodes[c->node_count++];
    size_t site = kind == PROF__KIND_LOST ? 0 : prof__read_site_of(c->trace, prof__read_id(c->words[word]));
    prof__read_node_set(node, word, site, c->depth - c->unseen, prof__read_ns(c->trace, c->tick, &c->hint));
    if (kind != PROF__KIND_BEGIN) prof__read_more_of(c, node)->kind = kind;
    return node;
}

/* Closes the innermost `closes` scopes, as many as the matcher has found for an END. All but the outermost of them had
   no end of their own. */
static void prof__read_close(prof_cursor *c, uint32_t closes)
{
    int64_t ns = prof__read_ns(c->trace, c->tick, &c->hint);
    for (; closes; closes--) {
        uint32_t number = c->stack[--c->depth];
        c->unseen -= number >> 31;
        if (!(number & ~PROF__LATE_BIT)) continue;
        number &= ~PROF__LATE_BIT;
        c->nodes[number - 1].end_ns = ns;
        if (closes > 1) prof__read_more_of(c, &c->nodes[number - 1])->flags |= PROF_TRUNCATED_END;
    }
    if (c->crossed > c->depth) c->crossed = c->depth;
}

/* Adds the argument at this word to a node. number: the node, from 1; 0: the node is in an earlier segment, and the
   matcher has stored a link to the argument. */
static void prof__read_take_arg(prof_cursor *c, uint32_t number, size_t word)
{
    prof__read_argument *arg;
    prof__read_more *more;
    if (!number) return;
    more = prof__read_more_of(c, &c->nodes[number - 1]);
    arg = &c->segment_args[c->arg_count++];
    arg->word = (uint32_t)word;
    arg->next = 0;
    if (more->last_arg)
        c->segment_args[more->last_arg - 1].next = (uint32_t)c->arg_count;
    else
        more->arg = (uint32_t)c->arg_count;
    more->last_arg = (uint32_t)c->arg_count;
}

/* Returns how many scopes the END at this word of the last loaded segment closes, or which open scope an ARG at this
   word belongs to (1 is the innermost). */
static uint32_t prof__read_closes(prof_cursor *c, size_t word)
{
    const prof__read_exception *exception;
    if (c->exception == c->track->exception + c->track->exception_count) return 1; /* the table may be NULL */
    exception = &c->trace->exceptions[c->exception];
    if (exception->segment + 1 != c->segment || exception->word != word) return 1;
    c->exception++;
    return exception->closes;
}

/* Adds the argument at this word to the node of its scope. level: which open scope, 1 is the innermost; 0: none. */
static void prof__read_scope_arg(prof_cursor *c, uint32_t level, size_t word)
{
    if (level && level <= c->depth) prof__read_take_arg(c, c->stack[c->depth - level] & ~PROF__LATE_BIT, word);
}

/* Returns 1 if the track's next overlapping scope begins in the last loaded segment. */
static int prof__read_late_here(const prof_cursor *c)
{
    return c->late_begin != c->track->late + c->track->late_count &&
           c->trace->late_begins[c->late_begin].segment + 1 == c->segment;
}

/* Returns 1 if the BEGIN at this word of the last loaded segment begins an overlapping scope. */
static int prof__read_overlaps(prof_cursor *c, size_t word)
{
    if (!prof__read_late_here(c) || c->trace->late_begins[c->late_begin].word != word) return 0;
    c->late_begin++;
    return 1;
}

static void prof__read_open_scope(prof_cursor *c, prof__read_node *node)
{
    uint32_t number = (uint32_t)c->node_count;
    if (prof__read_overlaps(c, node->word)) {
        prof__read_more_of(c, node)->flags |= PROF__OVERLAPS;
        number |= PROF__LATE_BIT;
        c->unseen++;
    }
    c->stack[c->depth++] = number;
}

/* Passes over a segment whose words can no longer be read. Scopes that are open after it are treated as begun before
   it. */
static void prof__read_skip(prof_cursor *c, const prof__read_segment *segment)
{
    const prof__read_track *track = c->track;
    size_t depth = (size_t)((int64_t)track->unmatched_end_count + segment->depth);
    while (c->depth < depth) c->stack[c->depth++] = 0;
    while (c->depth > depth) c->unseen -= c->stack[--c->depth] >> 31;
    c->crossed = depth;
    while (prof__read_late_here(c)) c->late_begin++;
    while (c->cross_segment < track->cross_segment + track->cross_segment_count &&
           c->trace->cross_segments[c->cross_segment].segment + 1 == c->segment)
        c->cross_segment++;
    while (c->exception < track->exception + track->exception_count &&
           c->trace->exceptions[c->exception].segment + 1 == c->segment)
        c->late_end += c->trace->exceptions[c->exception++].closes == PROF__CLOSES_LATE;
    if (__atomic_exchange_n(&c->trace->chunks[segment->chunk].size, PROF__NONE32, __ATOMIC_RELAXED) != PROF__NONE32)
        PROF__ADD((uint64_t *)&c->trace->info.lost_blocks, 1);
}

/* Handles the END at this word of the last loaded segment. */
static void prof__read_end(prof_cursor *c, size_t word)
{
    uint32_t closes = prof__read_closes(c, word);
    if (closes == PROF__CLOSES_LATE)
        prof__read_more_of(c, prof__read_add_node(c, PROF__KIND_END, word))->link = c->late_end++;
    else
        prof__read_close(c, closes);
}

/* Returns the first word before `end`, in the last loaded segment, whose BEGIN or END needs more than the plain
   handling, because the matcher has an entry for it; else `end`. */
static size_t prof__read_noted(const prof_cursor *c, size_t end)
{
    if (c->exception != c->track->exception + c->track->exception_count) { /* the table may be NULL */
        const prof__read_exception *exception = &c->trace->exceptions[c->exception];
        if (exception->segment + 1 == c->segment && exception->word < end) end = exception->word;
    }
    if (prof__read_late_here(c) && c->trace->late_begins[c->late_begin].word < end)
        end = c->trace->late_begins[c->late_begin].word;
    return end;
}

/* Returns 1 for a BEGIN or an END. */
static int prof__read_bounds(uint64_t head)
{
    unsigned kind = prof__read_kind(head);
    return kind == PROF__KIND_BEGIN || kind == PROF__KIND_END;
}

/* Makes nodes of the BEGINs and ENDs from this word on, as long as meta has their call sites. Most records are of these
   kinds. Returns the index of the word after them. base: the chunk's tick. Ticks are counted from base, and ids from
   the first word of a BEGIN: this takes fewer instructions, and all values fit into the processor's registers. */
static PROF__NOINLINE size_t prof__read_scopes(prof_cursor *c, uint64_t base, size_t at, size_t end)
{
    const prof_trace *trace = c->trace;
    const uint64_t *words = c->words;
    const uint32_t *sites = trace->site_ids;
    size_t site_count = trace->site_id_count, depth = c->depth - c->unseen;
    uint32_t *stack = c->stack + c->unseen, number = (uint32_t)c->node_count;
    prof__read_node *node = c->nodes + number;
    uint64_t ticks = c->tick > base ? c->tick - base : 0;
    prof__read_fast line = c->fast;
    line.from -= base;
    if (base > ~(uint64_t)0 - PROF__TICK_MASK) return at; /* base plus a record's tick could overflow */
    for (end = prof__read_noted(c, end); at < end; at++) {
        uint64_t head = words[at], now = head & PROF__TICK_MASK, id;
        int64_t ns;
        now = now > ticks ? now : ticks;
        if (PROF__UNLIKELY(now - line.from >= line.span)) {
            if (!prof__read_bounds(head)) break; /* what stands there need not be a time */
            ns = prof__read_fast_find(trace, base + now, &c->hint, &c->fast);
            line = c->fast;
            line.from -= base;
        } else {
            ns = prof__read_fast_ns(&line, now);
        }
        id = (head >> PROF__TICK_BITS) - ((uint64_t)PROF__KIND_BEGIN << PROF__SITE_BITS);
        if (id < site_count) {
            if (PROF__UNLIKELY(sites[id] == PROF__NONE32)) break;
            /* end_ns is set by its END, or by prof__read_load() if that END is in a later segment. */
            node->start_ns = ns;
            node->word = (uint32_t)at;
            node->site = sites[id];
            node->depth = (uint32_t)depth;
            node->more = 0;
            node++;
            stack[depth++] = ++number;
        } else if (prof__read_kind(head) == PROF__KIND_END) {
            uint32_t ended = stack[--depth] & ~PROF__LATE_BIT;
            if (PROF__LIKELY(ended))
                c->nodes[ended - 1].end_ns = ns;
            else
                c->crossed = depth + c->unseen; /* the scope began in an earlier segment */
        } else {
            break;
        }
        ticks = now;
    }
    c->tick = base + ticks;
    c->node_count = number;
    c->depth = depth + c->unseen;
    return at;
}

#endif /* PROF__READ_CURSOR_H */
