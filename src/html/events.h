// html/events: Writes the events of a track into the columns of blocks.
#ifndef PROF__HTML_EVENTS_H
#define PROF__HTML_EVENTS_H
#include "api/read.h"
#include "api/values.h"
#include "ground/errors.h"
#include "ground/out.h"
#include "html/pack.h"

/*-- values and arguments --*/

static void prof__html_value(prof__html *h, prof__html_bytes *to, const prof_value *value)
{
    uint64_t bits;
    int i;
    switch ((int)value->type) {
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

/* Writes the number of arguments, and then as many arguments as fit into PROF__HTML_SLACK. Without arguments (no_args),
   a step keeps its first one, which is its number. */
static void prof__html_args(prof__html *h, prof__html_bytes *to, const prof_arg *args, uint32_t count)
{
    if (h->options.no_args) count = count && !strcmp(args[0].key, "step_num");
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

/* Writes the arguments of the latest scope of a level, or of the latest point. which: the scope's depth plus 1; 0: a
   point. */
static void prof__html_arguments(prof__html *h, prof__html_level *level, uint64_t which, const prof_event *event)
{
    if (!event->arg_count || (h->options.no_args && event->site->role != PROF_ROLE_STEP)) return;
    if (!h->arguments.size) prof__html_u(&h->arguments, h->track);
    if (level->block != h->argument_blocks + 1) level->listed = 0; /* the first arguments of this level in the block */
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

/* Ends the open scopes at this depth and deeper. The end of a scope is written as the time since the previous begin or
   end on the track, which is the scope's own begin or the end of the last scope inside it. Most of these numbers are
   small. */
static void prof__html_close(prof__html *h, size_t depth)
{
    while (h->open_levels > depth) {
        prof__html_level *level = &h->levels[--h->open_levels];
        if (!level->is_open) continue;
        level->is_open = 0;
        if (level->end >= h->last_time) {
            prof__html_number(&h->ends, (uint64_t)(level->end - h->last_time) + 1);
        } else { /* not reached: scopes inside a scope end before it */
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
    uint32_t depth = event->depth, type = PROF_EVENT_SCOPE | (event->flags & 7) << 8;
    prof__html_level *level;
    int64_t from;
    if (!prof__html_level_of(h, depth)) {
        prof__out_fail(&h->out, prof__fail(PROF_NO_MEMORY, "no memory for scopes of depth %lu", (unsigned long)depth));
        return;
    }
    level = &h->levels[depth];
    from = depth < h->open_levels ? level->end : h->last_scope;
    if (start < from) { /* not reached: the previous scope of the level ended before */
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
    switch ((int)event->type) {
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

/* Writes the number of a frame, unless it is one more than that of the previous frame of its kind. */
static void prof__html_frame_number(prof__html *h, const prof_event *event, uint32_t kind)
{
    prof__html_numbered *known = &h->frames[kind % PROF__HTML_FRAMES];
    uint64_t expected = known->kind == (uint64_t)kind + 1 ? known->number + 1 : event->duration_ns > 0;
    known->kind = (uint64_t)kind + 1;
    known->number = event->detail;
    if (event->detail == expected) return;
    if (!h->numbers.size) {
        prof__html_u(&h->numbers, h->track);
        h->numbered = 0;
    }
    prof__html_u(&h->numbers, h->listed_points.count - h->numbered);
    prof__html_u(&h->numbers, event->detail);
    h->numbered = h->listed_points.count;
    if (h->numbers.size >= PROF__HTML_COLUMN) prof__html_block1(h, 'B', &h->numbers);
}

static void prof__html_point(prof__html *h, const prof_event *event, int64_t start)
{
    uint32_t kind, type = (uint32_t)event->type | (event->flags & 3) << 8;
    if (!h->point_kinds.size) prof__html_u(&h->times, h->track);
    prof__html_u(&h->times, (uint64_t)(start - h->last_point));
    kind = prof__html_kind_of(h, event->site, event->name, event->depth, type);
    prof__html_u(&h->point_kinds, kind);
    prof__html_detail(h, event);
    if (event->type == PROF_EVENT_FRAME) prof__html_frame_number(h, event, kind);
    if (event->type != PROF_EVENT_LOG) /* a log message is written with its arguments */
        prof__html_arguments(h, &h->listed_points, 0, event);
    ++h->listed_points.count;
    h->last_point = start;
    ++h->points;
    if (h->times.size >= PROF__HTML_COLUMN || h->point_kinds.size >= PROF__HTML_COLUMN ||
        h->details.size >= PROF__HTML_COLUMN)
        prof__html_points_end(h);
}

static void prof__html_rows_end(prof__html *h, char kind)
{
    if (!h->rows.size) return;
    prof__html_tables(h);
    prof__html_block1(h, kind, &h->rows);
}

#endif /* PROF__HTML_EVENTS_H */
