// watch/follow_spans: How a follower matches the begins and ends of spans, and reads each kind of record.
#ifndef PROF__WATCH_FOLLOW_SPANS_H
#define PROF__WATCH_FOLLOW_SPANS_H
#include "api/markup.h"
#include "api/reports.h"
#include "api/values.h"
#include "ground/hash.h"
#include "image/format.h"
#include "image/pack.h"
#include "image/words.h"
#include "read/records.h"
#include "report/accumulator.h"
#include "watch/follow.h"
#include "watch/follow_scopes.h"

/*-- spans --*/

static uint32_t *prof__follow_half_bucket(prof__follow *f, const prof__follow_half *half)
{
    return &f->half_buckets[prof__mix(half->id + half->name) & (PROF__FOLLOW_BUCKETS - 1)];
}

static prof__follow_half prof__follow_half_remove(prof__follow *f, uint32_t number)
{
    prof__follow_half half = f->halves[number - 1];
    uint32_t *link = prof__follow_half_bucket(f, &half);
    while (*link != number) link = &f->halves[*link - 1].next;
    *link = half.next;
    *(half.newer ? &f->halves[half.newer - 1].older : &f->half_newest) = half.older;
    *(half.older ? &f->halves[half.older - 1].newer : &f->half_oldest) = half.newer;
    f->halves[number - 1].next = f->half_free;
    f->half_free = number;
    return half;
}

/* Counts a begin without an end, or an end without a begin, as a truncated span. Incomplete frames do not count. */
static void prof__follow_half_lone(prof__follow *f, const prof__follow_half *half)
{
    prof__stat_row *row = &prof__follow_at(f, half->row)->sums;
    *(half->end ? &f->begins_missing : &f->ends_missing) += 1;
    if (half->row == 1 || row->type == PROF_EVENT_FRAME) return;
    row->stat.count++;
    row->stat.truncated++;
}

/* Gives up the entry that has waited for longest. The entry becomes the first free one. */
static void prof__follow_half_drop(prof__follow *f)
{
    prof__follow_half given_up = prof__follow_half_remove(f, f->half_oldest);
    prof__follow_half_lone(f, &given_up);
}

static void prof__follow_half_add(prof__follow *f, const prof__follow_half *half)
{
    uint32_t number = f->half_free, *bucket;
    if (!f->half_buckets) f->half_buckets = (uint32_t *)calloc(PROF__FOLLOW_BUCKETS, sizeof *f->half_buckets);
    if (!number && f->half_count < PROF__FOLLOW_HALVES && f->half_buckets &&
        PROF__ROOM(f->halves, f->half_capacity, f->half_count))
        number = (uint32_t)++f->half_count;
    else if (number)
        f->half_free = f->halves[number - 1].next;
    if (!number && f->half_oldest && !half->end) { /* an end more often lost its counterpart */
        prof__follow_half_drop(f);
        number = f->half_free;
        f->half_free = f->halves[number - 1].next;
    }
    if (!number) {
        prof__follow_half_lone(f, half);
        return;
    }
    f->halves[number - 1] = *half;
    bucket = prof__follow_half_bucket(f, half);
    f->halves[number - 1].next = *bucket;
    *bucket = number;
    f->halves[number - 1].older = f->half_newest;
    f->halves[number - 1].newer = 0;
    *(f->half_newest ? &f->halves[f->half_newest - 1].newer : &f->half_oldest) = number;
    f->half_newest = number;
}

/* Returns the matching begin or end that is nearest in time. Returns 0 if none was read yet. */
static uint32_t prof__follow_half_find(prof__follow *f, const prof__follow_half *half)
{
    uint32_t best = 0, number = f->half_buckets ? *prof__follow_half_bucket(f, half) : 0;
    uint64_t nearest = 0;
    for (; number; number = f->halves[number - 1].next) {
        const prof__follow_half *other = &f->halves[number - 1];
        uint64_t ticks = half->end ? half->tick - other->tick : other->tick - half->tick;
        if (other->end == half->end || other->id != half->id || other->name != half->name ||
            other->role != half->role || other->number != half->number || (int64_t)ticks < 0 ||
            (best && ticks >= nearest))
            continue;
        best = number;
        nearest = ticks;
    }
    return best;
}

/* Returns the ticks of a span. For a task that begins and ends on one thread, leaves out the tasks inside it. */
static uint64_t prof__follow_alone(prof__follow_track *t, const prof__follow_half *begin, const prof__follow_half *end)
{
    uint64_t ticks = end->tick - begin->tick;
    if (begin->role != PROF_ROLE_TASK || begin->track != end->track) return ticks;
    if (!t->nested) t->nested = (prof__nested *)calloc(1, sizeof *t->nested);
    return t->nested ? prof__nested_add(t->nested, (int64_t)begin->tick, ticks) : ticks;
}

static void prof__follow_span_time(prof__follow *f, prof__follow_track *t, const prof__follow_half *begin,
                                   const prof__follow_half *end)
{
    uint32_t number = begin->row;
    uint64_t from = begin->tick, to = end->tick;
    prof__follow_row *row = prof__follow_at(f, number);
    prof_stat *stat = &row->sums.stat;
    if (number == 1) return;
    stat->count++;
    if (row->sums.type != PROF_EVENT_FRAME) stat->self_ns += prof__follow_alone(t, begin, end);
    prof__follow_time(f, row, to, to - from);
}

/* Reads the begin or the end of a span. Records of different threads are not read in order of time. So whichever of the
   two is read first, begin or end, waits for the other. */
static void prof__follow_span(prof__follow *f, prof__follow_track *t, uint32_t id, const uint64_t *record)
{
    const prof__follow_site *site = prof__follow_site_of(f, id);
    unsigned type = prof__read_event_type(record);
    prof__follow_half half;
    uint32_t other;
    if (!site || (type != PROF_EVENT_SPAN_BEGIN && type != PROF_EVENT_SPAN_END)) return;
    /* Without statistics, only rules matter, and frames are the only spans with rules. */
    if (!f->stats && site->role != PROF_ROLE_FRAME) return;
    memset(&half, 0, sizeof half);
    half.id = record[2];
    half.tick = t->tick;
    half.track = (uint32_t)(t - f->tracks);
    half.name = site->name;
    half.role = site->role;
    half.number = site->role == PROF_ROLE_FRAME ? record[1] >> 8 : 0;
    half.end = type == PROF_EVENT_SPAN_END;
    half.row =
        prof__follow_row_of(f, id, half.role == PROF_ROLE_FRAME ? PROF_EVENT_FRAME : PROF_EVENT_SPAN_BEGIN, NULL);
    other = prof__follow_half_find(f, &half);
    if (!other) {
        prof__follow_half_add(f, &half);
        return;
    }
    prof__follow_half found = prof__follow_half_remove(f, other);
    if (half.end)
        prof__follow_span_time(f, t, &found, &half);
    else
        prof__follow_span_time(f, t, &half, &found);
}

/* Counts the use of a name made at run time: with a format, or as a text. */
static void prof__follow_named(prof__follow *f, uint32_t id)
{
    const prof__follow_site *site = prof__follow_site_of(f, id);
    ++*(site && *prof__follow_name(f, site->name) ? &f->uses.formats : &f->uses.texts);
}

/* Reads a record. base: the tick of the chunk; left: how many words of the chunk follow the record's first word. */
static void prof__follow_record(prof__follow *f, prof__follow_track *t, uint64_t base, uint64_t *record, size_t left)
{
    uint64_t head = record[0];
    unsigned kind = prof__read_kind(head);
    uint32_t id = prof__read_id(head);
    const char *text = NULL;
    if (prof__record_timed(head)) t->tick = prof__read_tick(base, head, t->tick);
    if (t->tick > f->newest_tick) f->newest_tick = t->tick;
    int event = prof__read_shown(record);
    f->events += (uint64_t)event;
    int object = event && kind == PROF__KIND_EVENT && prof__read_event_type(record) != PROF_EVENT_LOG;
    f->uses.objects += (uint64_t)object;
    f->uses.marks += (uint64_t)(event && !object && kind != PROF__KIND_BEGIN && kind != PROF__KIND_LOST);
    f->uses.values += kind == PROF__KIND_ARG ? 2 : kind == PROF__KIND_DATA;
    switch (kind) {
    case PROF__KIND_BEGIN:
        if (left && prof__read_kind(record[1]) == PROF__KIND_NAME) {
            size_t words = prof__record_words(record[1], left);
            if (words > 1) ((char *)(record + 1 + words))[-1] = 0;
            if (words > 1) text = (const char *)(record + 2);
        }
        prof__follow_begin(f, t, id, text);
        if (text) prof__follow_named(f, id);
        break;
    case PROF__KIND_END: prof__follow_end(f, t, id); break;
    case PROF__KIND_ARG: prof__follow_arg(f, t, record); break;
    case PROF__KIND_FRAME:
        prof__follow_frame(f, t, id);
        f->uses.values -= prof__read_frame_data(record, left + 1) != NULL; /* a frame's number is no value */
        break;
    case PROF__KIND_COUNTER_INT:
    case PROF__KIND_COUNTER_UINT:
    case PROF__KIND_COUNTER_DOUBLE: prof__follow_counter(f, id, record, t->tick); break;
    case PROF__KIND_EVENT: prof__follow_span(f, t, id, record); break;
    case PROF__KIND_LOST: f->lost += head & PROF__TICK_MASK; break;
    default: break;
    }
}

#endif /* PROF__WATCH_FOLLOW_SPANS_H */
