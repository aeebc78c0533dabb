// watch/follow_scopes: How a follower counts scopes, frames and counters.
#ifndef PROF__WATCH_FOLLOW_SCOPES_H
#define PROF__WATCH_FOLLOW_SCOPES_H
#include "api/markup.h"
#include "api/reports.h"
#include "api/values.h"
#include "ground/hash.h"
#include "image/format.h"
#include "read/clock.h"
#include "read/records.h"
#include "report/accumulator.h"
#include "watch/follow.h"

/*-- scopes --*/

static prof__follow_row *prof__follow_at(prof__follow *f, uint32_t number) { return &f->rows[number - 1]; }

/* Adds a duration that ended at the tick `to`, and checks it against the row's rule. */
static void prof__follow_time(prof__follow *f, prof__follow_row *row, uint64_t to, uint64_t ticks)
{
    double ns = (double)ticks * f->ns_per_tick;
    if (row->rule && ns > (double)row->rule->ns) prof__follow_over(f, row, ns, to - ticks, to);
    if (f->stats) prof__stat_row_time(&row->sums, ticks, (uint64_t)(ns + 0.5));
}

/* Closes the innermost open scope of a track. whole: 1: at its own end; 0: it counts as truncated. */
static void prof__follow_pop(prof__follow *f, prof__follow_track *t, int whole)
{
    const prof__follow_open *open = &t->stack[--t->depth];
    prof__follow_row *row = prof__follow_at(f, open->row);
    prof_stat *stat = &row->sums.stat;
    uint64_t ticks = t->tick - open->tick, covered = whole ? ticks : open->covered;
    size_t i = t->depth;
    row->open--;
    if (t->depth) t->stack[t->depth - 1].inside += ticks;
    stat->count++;
    if (!whole) stat->truncated++;
    if (whole) prof__stat_row_alone(&row->sums, (int64_t)(ticks - open->inside));
    if (whole) prof__follow_time(f, row, t->tick, ticks);
    if (whole && open->bytes != PROF__FOLLOW_NO_BYTES)
        prof__stat_row_bytes(&row->sums, open->bytes, (double)ticks * f->ns_per_tick);
    if (row->open) /* an open call of this row may enclose this one, and then covers its time */
        while (i && t->stack[i - 1].row != open->row) i--;
    if (row->open && i)
        t->stack[i - 1].covered += covered;
    else
        stat->total_ns += covered;
}

static void prof__follow_begin(prof__follow *f, prof__follow_track *t, uint32_t id, const char *text)
{
    if (t->depth == t->capacity) {
        size_t wanted = t->capacity ? t->capacity * 2 : 16;
        prof__follow_open *larger =
            wanted > PROF__FOLLOW_DEPTH ? NULL : (prof__follow_open *)realloc(t->stack, wanted * sizeof *larger);
        if (!larger) {
            t->beyond++;
            return;
        }
        t->stack = larger;
        t->capacity = wanted;
    }
    prof__follow_open *open = &t->stack[t->depth++];
    const prof__follow_site *site = prof__follow_site_of(f, id);
    open->tick = t->tick;
    open->inside = open->covered = 0;
    open->bytes = PROF__FOLLOW_NO_BYTES;
    open->number = ++t->begins;
    open->site = id;
    open->name = site ? site->name : 0;
    open->row = prof__follow_row_of(f, id, PROF_EVENT_SCOPE, text);
    prof__follow_at(f, open->row)->open++;
}

/* Reads an argument of the innermost scope. Keeps the bytes of a PROFILE_THROUGHPUT; no other argument is counted. */
static void prof__follow_arg(prof__follow *f, prof__follow_track *t, const uint64_t *record)
{
    prof__follow_open *open = t->depth && !t->beyond ? &t->stack[t->depth - 1] : NULL;
    const prof__follow_site *site, *key;
    if (!open || record[0] & (PROF__ARG_KEY | PROF__ARG_TO)) return;
    site = prof__follow_site_of(f, open->site);
    if (!site || site->role != PROF_ROLE_THROUGHPUT) return;
    if ((record[0] >> 32 & 0xFF) != PROF_VALUE_UINT || !(record[0] & 0xFFFF)) return;
    key = prof__follow_site_of(f, prof__read_id(record[0]));
    if (key && !strcmp(prof__follow_name(f, key->name), "bytes")) open->bytes = record[1];
}

/* Keeps the scopes of the stack from `at` on, which the end of an outer scope closes, in case their own ends come
   later. enclosing: the row of the outer scope, 0: not known. Without memory, they stay without an end. */
static void prof__follow_note_late(prof__follow_track *t, size_t at, uint32_t enclosing)
{
    size_t half = PROF__FOLLOW_LATE / 2, i;
    if (t->depth - at > half) return;
    if (!t->late) t->late = (prof__follow_late *)calloc(PROF__FOLLOW_LATE, sizeof *t->late);
    if (!t->late) return;
    if (t->late_count + (t->depth - at) > PROF__FOLLOW_LATE) {
        memmove(t->late, t->late + half, half * sizeof *t->late);
        t->late_count = t->late_count > half ? t->late_count - half : 0;
    }
    for (i = at; i < t->depth; i++) {
        prof__follow_late *late = &t->late[t->late_count++];
        uint64_t inside = t->stack[i].inside;
        if (i + 1 < t->depth) inside += t->tick - t->stack[i + 1].tick; /* as of now, when it is closed */
        late->tick = t->stack[i].tick;
        late->bytes = t->stack[i].bytes;
        late->number = t->stack[i].number;
        late->shared = t->tick - late->tick > inside ? t->tick - late->tick - inside : 0;
        late->row = t->stack[i].row;
        late->site = t->stack[i].site;
        late->enclosing = i == at ? enclosing : PROF__NONE32;
    }
}

/* Adds the time for which a scope has overlapped another one to the self time of the scope that encloses both. */
static void prof__follow_share(prof__follow *f, prof__follow_track *t, size_t at)
{
    uint64_t shared = t->late[at].shared;
    while (at && t->late[at].enclosing == PROF__NONE32)
        if (t->late[--at].site != PROF__NONE32) { /* passes the time on if its own end comes */
            t->late[at].shared += shared;
            return;
        }
    if (t->late[at].enclosing && t->late[at].enclosing != PROF__NONE32)
        prof__follow_at(f, t->late[at].enclosing)->sums.stat.self_ns += shared;
}

/* Ends the newest scope of a call site that the end of an outer scope had closed. Returns 0 if there is none. Only for
   an end whose call site has no open scope. */
static int prof__follow_end_late(prof__follow *f, prof__follow_track *t, uint32_t id)
{
    size_t at, newest = 0;
    for (at = 1; at <= t->late_count; at++)
        if (t->late[at - 1].site == id && (!newest || t->late[at - 1].number > t->late[newest - 1].number)) newest = at;
    at = newest;
    if (!at) return 0;
    prof__follow_late *late = &t->late[at - 1];
    prof__follow_row *row = prof__follow_at(f, late->row);
    prof_stat *stat = &row->sums.stat;
    uint64_t ticks = t->tick - late->tick;
    f->events++; /* the reader makes two events of an overlapping scope */
    if (stat->truncated)
        stat->truncated--;
    else
        stat->count++; /* it counted as truncated before a reset */
    stat->self_ns += ticks;
    stat->total_ns += ticks;
    prof__follow_time(f, row, t->tick, ticks);
    if (late->bytes != PROF__FOLLOW_NO_BYTES)
        prof__stat_row_bytes(&row->sums, late->bytes, (double)ticks * f->ns_per_tick);
    late->site = PROF__NONE32;
    prof__follow_share(f, t, at - 1);
    while (t->late_count && t->late[t->late_count - 1].site == PROF__NONE32) t->late_count--;
    return 1;
}

static void prof__follow_end(prof__follow *f, prof__follow_track *t, uint32_t id)
{
    size_t at = t->depth;
    if (t->beyond) { /* more scopes are open than the stack holds: ends the innermost, which is not on it */
        t->beyond--;
        return;
    }
    while (at && t->stack[at - 1].site != id) at--;
    if (!at && t->late_count && prof__follow_end_late(f, t, id)) return;
    if (!at) {
        const prof__follow_site *site = prof__follow_site_of(f, id);
        for (at = t->depth; at && (!site || t->stack[at - 1].name != site->name);) at--;
    }
    if (at && at < t->depth) prof__follow_note_late(t, at, t->stack[at - 1].row);
    if (at) {
        while (t->depth > at) prof__follow_pop(f, t, 0);
        prof__follow_pop(f, t, 1);
    } else if (t->partial) { /* the scope began before the records that are left, and so enclosed all that is open */
        if (t->depth) prof__follow_note_late(t, 0, 0);
        while (t->depth) prof__follow_pop(f, t, 0);
        prof_stat *stat = &prof__follow_at(f, prof__follow_row_of(f, id, PROF_EVENT_SCOPE, NULL))->sums.stat;
        stat->count++;
        stat->truncated++;
        f->events++;
    } else {
        f->unmatched++;
    }
}

/* Closes all open scopes of a track, because the records with their ends are missing. */
static void prof__follow_give_up(prof__follow *f, prof__follow_track *t)
{
    while (t->depth) prof__follow_pop(f, t, 0);
    t->beyond = t->frame_count = t->late_count = 0;
    if (t->nested) t->nested->count = 0;
    t->partial = 1;
}

/* Handles the boundary of a frame. A frame is the time since the previous boundary with that name, on any call site of
   the track. The first boundary of a call site only begins a frame. */
static void prof__follow_frame(prof__follow *f, prof__follow_track *t, uint32_t id)
{
    const prof__follow_site *site = prof__follow_site_of(f, id);
    uint32_t number = prof__follow_row_of(f, id, PROF_EVENT_FRAME, NULL), name = site ? site->name : 0;
    prof__follow_boundary *own = NULL, *before = NULL;
    if (number == 1) return;
    for (size_t i = 0; i < t->frame_count; i++) {
        if (t->frames[i].row == number) own = &t->frames[i];
        if (t->frames[i].name == name && (!before || t->frames[i].tick >= before->tick)) before = &t->frames[i];
    }
    if (own) {
        prof__follow_row *row = prof__follow_at(f, number);
        row->sums.stat.count++;
        prof__follow_time(f, row, t->tick, t->tick - before->tick);
    } else {
        if (!t->frames) t->frames = (prof__follow_boundary *)calloc(PROF__FOLLOW_FRAMES, sizeof *t->frames);
        if (!t->frames || t->frame_count == PROF__FOLLOW_FRAMES) return;
        own = &t->frames[t->frame_count++];
        own->row = number;
        own->name = name;
    }
    own->tick = t->tick;
}

static void prof__follow_counter(prof__follow *f, uint32_t id, const uint64_t *record, uint64_t tick)
{
    uint32_t number = f->stats ? prof__follow_row_of(f, id, PROF_EVENT_COUNTER, NULL) : 1;
    prof__stat_row *row = &prof__follow_at(f, number)->sums;
    unsigned type = prof__record_holds(record[0]);
    double value = type == PROF_VALUE_UINT ? prof__real(record[1]) : (double)(int64_t)record[1];
    if (number == 1) return;
    if (type == PROF_VALUE_DOUBLE) memcpy(&value, &record[1], sizeof value);
    prof__stat_row_last(row, value, (int64_t)tick);
    prof__stat_row_value(row, value);
}

#endif /* PROF__WATCH_FOLLOW_SCOPES_H */
