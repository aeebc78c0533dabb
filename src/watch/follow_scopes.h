// watch/follow_scopes: How a follower counts scopes, frames and counters.
#ifndef PROF__WATCH_FOLLOW_SCOPES_H
#define PROF__WATCH_FOLLOW_SCOPES_H
#include "api/markup.h"
#include "api/reports.h"
#include "api/values.h"
#include "ground/hash.h"
#include "image/format.h"
#include "image/match.h"
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

static prof__follow_open *prof__follow_opened(prof__follow_track *t, size_t at)
{
    return (prof__follow_open *)t->match.open + at;
}

/* Closes the innermost open scope of a track. whole: 1: at its own end; 0: it counts as truncated. */
static void prof__follow_pop(prof__follow *f, prof__follow_track *t, int whole)
{
    size_t i = --t->match.depth;
    const prof__follow_open *open = prof__follow_opened(t, i);
    prof__follow_row *row = prof__follow_at(f, open->row);
    prof_stat *stat = &row->sums.stat;
    uint64_t ticks = t->tick - open->tick, covered = whole ? ticks : open->covered;
    row->open--;
    if (i) prof__follow_opened(t, i - 1)->inside += ticks;
    stat->count++;
    if (!whole) stat->truncated++;
    if (whole) prof__stat_row_alone(&row->sums, (int64_t)(ticks - open->inside));
    if (whole) prof__follow_time(f, row, t->tick, ticks);
    if (whole && open->bytes != PROF__FOLLOW_NO_BYTES)
        prof__stat_row_bytes(&row->sums, open->bytes, (double)ticks * f->ns_per_tick);
    if (row->open) /* an open call of this row may enclose this one, and then covers its time */
        while (i && prof__follow_opened(t, i - 1)->row != open->row) i--;
    if (row->open && i)
        prof__follow_opened(t, i - 1)->covered += covered;
    else
        stat->total_ns += covered;
}

/* Makes room for more open scopes. Without memory, and beyond PROF__FOLLOW_DEPTH, there is none. */
static void prof__follow_deeper(prof__follow_track *t)
{
    size_t wanted = t->match.open_room ? t->match.open_room * 2 : 16;
    void *larger = wanted > PROF__FOLLOW_DEPTH ? NULL : realloc(t->match.open, wanted * sizeof(prof__follow_open));
    if (!larger) return;
    t->match.open = larger;
    t->match.open_room = wanted;
}

static void prof__follow_begin(prof__follow *f, prof__follow_track *t, uint32_t id, const char *text)
{
    const prof__follow_site *site = prof__follow_site_of(f, id);
    if (t->match.depth == t->match.open_room) prof__follow_deeper(t);
    prof__follow_open *open = (prof__follow_open *)(void *)prof__matching_begin(
        &t->match, sizeof(prof__follow_open), id, site ? site->name : 0);
    if (!open) return;
    open->tick = t->tick;
    open->inside = open->covered = 0;
    open->bytes = PROF__FOLLOW_NO_BYTES;
    open->row = prof__follow_row_of(f, id, PROF_EVENT_SCOPE, text);
    prof__follow_at(f, open->row)->open++;
}

/* Reads an argument of the innermost scope. Keeps the bytes of a PROFILE_THROUGHPUT; no other argument is counted. */
static void prof__follow_arg(prof__follow *f, prof__follow_track *t, const uint64_t *record)
{
    prof__follow_open *open =
        t->match.depth && !t->match.beyond ? prof__follow_opened(t, t->match.depth - 1) : NULL;
    const prof__follow_site *site, *key;
    const char *unit;
    if (!open || record[0] & (PROF__ARG_KEY | PROF__ARG_TO)) return;
    site = prof__follow_site_of(f, open->begun.site);
    if (!site || site->role != PROF_ROLE_THROUGHPUT) return;
    if ((record[0] >> 32 & 0xFF) != PROF_VALUE_UINT || !(record[0] & 0xFFFF)) return;
    key = prof__follow_site_of(f, prof__read_id(record[0]));
    unit = site->unit ? prof__follow_name(f, site->unit) : "bytes";
    if (key && !strcmp(prof__follow_name(f, key->name), unit)) open->bytes = record[1];
}

/* Closes the open scopes from `at` on, which the end of an outer scope cuts. enclosing: the row of the outer scope, 0:
   not known. Without memory, their own ends, if they come, are not recognised. */
static void prof__follow_cut(prof__follow *f, prof__follow_track *t, size_t at, uint32_t enclosing)
{
    size_t i, first;
    if (!t->match.cut) {
        t->match.cut = calloc(PROF__FOLLOW_LATE, sizeof(prof__follow_late));
        t->match.cut_room = PROF__FOLLOW_LATE;
    }
    first = prof__matching_cut(&t->match, sizeof(prof__follow_open), sizeof(prof__follow_late), at);
    for (i = at; first + (i - at) < t->match.cut_count; i++) {
        prof__follow_late *late = (prof__follow_late *)t->match.cut + first + (i - at);
        const prof__follow_open *open = prof__follow_opened(t, i);
        uint64_t inside = open->inside;
        if (i + 1 < t->match.depth) inside += t->tick - open[1].tick; /* as of now, when it is closed */
        late->tick = open->tick;
        late->bytes = open->bytes;
        late->shared = t->tick - late->tick > inside ? t->tick - late->tick - inside : 0;
        late->row = open->row;
        late->enclosing = i == at ? enclosing : PROF__NONE32;
    }
    while (t->match.depth > at) prof__follow_pop(f, t, 0);
}

/* Adds the time for which a scope has overlapped another one to the self time of the scope that encloses both. */
static void prof__follow_share(prof__follow *f, prof__follow_late *late, size_t at)
{
    uint64_t shared = late[at].shared;
    while (at && late[at].enclosing == PROF__NONE32)
        if (late[--at].begun.site != PROF__NONE32) { /* passes the time on if its own end comes */
            late[at].shared += shared;
            return;
        }
    if (late[at].enclosing && late[at].enclosing != PROF__NONE32)
        prof__follow_at(f, late[at].enclosing)->sums.stat.self_ns += shared;
}

/* Ends a scope that the end of an outer scope had cut. */
static void prof__follow_end_late(prof__follow *f, prof__follow_track *t, size_t at)
{
    prof__follow_late *late = (prof__follow_late *)t->match.cut + at;
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
    prof__follow_share(f, (prof__follow_late *)t->match.cut, at);
    prof__matching_took(&t->match, sizeof(prof__follow_late), at);
}

/* Ends a scope that began before the records that are left, and so enclosed all that is open. */
static void prof__follow_end_before(prof__follow *f, prof__follow_track *t, uint32_t id)
{
    prof_stat *stat = &prof__follow_at(f, prof__follow_row_of(f, id, PROF_EVENT_SCOPE, NULL))->sums.stat;
    if (t->match.depth) prof__follow_cut(f, t, 0, 0);
    stat->count++;
    stat->truncated++;
    f->events++;
}

/* Handles an END whose site has neither an open scope nor one that was cut: its name may have an open one. */
static prof__ending prof__follow_end_named(prof__follow *f, prof__follow_track *t, uint32_t id, prof__ending ending,
                                           size_t *at)
{
    const prof__follow_site *site = prof__follow_site_of(f, id);
    int named = site && prof__matching_named(&t->match, sizeof(prof__follow_open), site->name, at);
    return named ? PROF__ENDS_OPEN : ending;
}

static void prof__follow_end(prof__follow *f, prof__follow_track *t, uint32_t id)
{
    size_t at = 0;
    prof__ending ending =
        prof__matching_end(&t->match, sizeof(prof__follow_open), sizeof(prof__follow_late), id, &at);
    if (PROF__UNLIKELY(ending == PROF__ENDS_NOTHING || ending == PROF__ENDS_BEFORE))
        ending = prof__follow_end_named(f, t, id, ending, &at);
    switch (ending) {
    case PROF__ENDS_OPEN:
        if (PROF__UNLIKELY(at + 1 < t->match.depth)) prof__follow_cut(f, t, at + 1, prof__follow_opened(t, at)->row);
        prof__follow_pop(f, t, 1);
        break;
    case PROF__ENDS_CUT: prof__follow_end_late(f, t, at); break;
    case PROF__ENDS_BEFORE: prof__follow_end_before(f, t, id); break;
    case PROF__ENDS_NOTHING: f->unmatched++; break;
    case PROF__ENDS_BEYOND:
    default: break;
    }
}

/* Closes all open scopes of a track, because the records with their ends are missing. */
static void prof__follow_give_up(prof__follow *f, prof__follow_track *t)
{
    while (t->match.depth) prof__follow_pop(f, t, 0);
    t->match.beyond = t->match.cut_count = t->frame_count = 0;
    if (t->nested) t->nested->count = 0;
    t->match.partial = 1;
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
