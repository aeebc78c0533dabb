// xplane/events: Writes events.
#ifndef PROF__XPLANE_EVENTS_H
#define PROF__XPLANE_EVENTS_H
#include "api/options.h"
#include "api/read.h"
#include "api/types.h"
#include "api/values.h"
#include "ground/hash.h"
#include "ground/out.h"
#include "image/pack.h"
#include "read/log.h"
#include "display/tracks.h"
#include "xplane/bytes.h"
#include "xplane/names.h"
#include "xplane/state.h"
#include "xplane/stats.h"

/*-- events --*/

static int64_t prof__xplane_time(int64_t ns) { return ns < 0 ? 0 : ns; }

/* Returns when the window of a trace ends. */
static int64_t prof__xplane_end(const prof_trace_info *about)
{
    return about->to_ns && about->to_ns < about->duration_ns ? about->to_ns : about->duration_ns;
}

/* Stops keeping the events of the present line, which are then made again when the line is written. */
static void prof__xplane_forget(prof__xplane *x)
{
    x->keeping = 0;
    x->kept.size = x->kept_before;
}

/* Adds an event to the present line. The event ends `shorter` picoseconds before start + duration. If it lasts 0 ns, it
   begins and ends that much earlier. stats: its stats, or NULL. */
static void prof__xplane_emit_shorter(prof__xplane *x, uint32_t id, int64_t start, int64_t duration, uint32_t shorter,
                                      const prof__xplane_bytes *stats)
{
    unsigned char unkept[64], *at = unkept, *to;
    size_t size, extra = stats ? stats->size : 0, length = 1, total;
    start = prof__xplane_time(start - x->from);
    if (PROF__UNLIKELY(duration > PROF__XPLANE_END || x->later > PROF__XPLANE_END ||
                       start > PROF__XPLANE_END - duration - x->later)) {
        x->late += !x->writing;
        return;
    }
    if (x->writing) at = (unsigned char *)prof__out_reserve(&x->out, sizeof unkept);
    if (!x->writing && x->keeping) at = prof__xplane_more(&x->kept, extra + sizeof unkept);
    if (!at) {
        prof__xplane_forget(x);
        at = unkept;
    }
    to = at + 2; /* leaves space for the size, which nearly always has one byte */
    *to++ = PROF__XEVENT_NAME;
    to = prof__pack_integer(to, id);
    *to++ = PROF__XEVENT_OFFSET;
    to = prof__pack_integer(to, (uint64_t)start * 1000 - (duration || !start ? 0 : shorter));
    if (duration) {
        *to++ = PROF__XEVENT_DURATION;
        to = prof__pack_integer(to, (uint64_t)duration * 1000 - shorter);
    }
    size = (size_t)(to - at) - 2;
    *at = PROF__XLINE_EVENT;
    if (PROF__UNLIKELY(size + extra >= 128)) {
        length = prof__xplane_length(size + extra);
        memmove(at + 1 + length, at + 2, size);
    }
    prof__pack_integer(at + 1, size + extra);
    total = 1 + length + size + extra;
    if (!x->writing) {
        x->size += total;
        if (at == unkept) return;
        if (x->kept.size + total > PROF__XPLANE_KEEP) {
            prof__xplane_forget(x);
            return;
        }
        if (extra) memcpy(at + total - extra, stats->data, extra);
        x->kept.size += total;
    } else if (PROF__UNLIKELY(total > x->left)) {
        x->changed = 1;
    } else {
        prof__out_commit(&x->out, total - extra);
        if (extra) prof__out_bytes(&x->out, stats->data, extra);
        x->left -= total;
    }
}

static void prof__xplane_emit(prof__xplane *x, uint32_t id, int64_t start, int64_t duration,
                              const prof__xplane_bytes *stats)
{
    prof__xplane_emit_shorter(x, id, start, duration, 0, stats);
}

/* Returns by how many picoseconds the next scope of a line must be shortened, so that it ends before its parent. XProf
   sorts begins and ends by time; at equal times, it takes the parent's first. So it would lose a scope that ends with
   its parent, and count the scope's time as the parent's own. */
static uint32_t prof__xplane_shorter(prof__xplane *x, int64_t start, int64_t end, uint32_t depth)
{
    prof__xplane_open *all = x->open, *around;
    uint32_t shorter = 0;
    while (x->open_count && (all[x->open_count - 1].depth >= depth || all[x->open_count - 1].end < start))
        x->open_count--;
    around = x->open_count ? &all[x->open_count - 1] : NULL;
    if (around && around->end == end) /* a parent of 0 ns leaves no time for a scope inside */
        shorter = around->shorter + (around->start < end && around->shorter < 999);
    if (!PROF__ROOM(x->open, x->open_capacity, x->open_count)) {
        x->status = PROF_NO_MEMORY;
        return shorter;
    }
    x->open[x->open_count].start = start;
    x->open[x->open_count].end = end;
    x->open[x->open_count].depth = depth;
    x->open[x->open_count++].shorter = shorter;
    return shorter;
}

/* Returns 1 if an event lies in the window of the options, at least in part. */
static int prof__xplane_in_window(const prof__xplane *x, int64_t start, int64_t end)
{
    return prof__display_in(start + x->offset, end + x->offset, x->options.from_ns, x->options.to_ns);
}

static int prof__xplane_wanted(const prof__xplane *x, const prof_event *event)
{
    return prof__display_wanted(event, x->offset, x->options.from_ns, x->options.to_ns);
}

/* Adds arguments as stats. Of several with one key, adds the last. */
static void prof__xplane_arg_list(prof__xplane *x, prof__xplane_bytes *stats, const prof_arg *args, uint32_t count,
                                  int step)
{
    uint32_t i;
    for (i = 0; i < count; i++) {
        size_t key = prof__xplane_key_of(x, args[i].key);
        if (key == PROF__NONE) {
            x->status = PROF_NO_MEMORY;
            return;
        }
        x->keys[key].last = i;
    }
    for (i = 0; i < count; i++) {
        size_t key = prof__xplane_key_of(x, args[i].key), stat = PROF__STAT_COUNT + key;
        if (x->keys[key].last != i) continue;
        if (step && args[i].value.type == PROF_VALUE_INT && !strcmp(args[i].key, "step_num")) stat = PROF__STAT_STEP;
        prof__xplane_value(x, stats, stat, &args[i].value);
    }
}

static void prof__xplane_args(prof__xplane *x, prof__xplane_bytes *stats, const prof_event *event)
{
    prof__xplane_arg_list(x, stats, event->args, event->arg_count, event->site->role == PROF_ROLE_STEP);
}

static void prof__xplane_truncated(prof__xplane *x, prof__xplane_bytes *stats, uint32_t flags)
{
    if (!(flags & (PROF_TRUNCATED_BEGIN | PROF_TRUNCATED_END))) return;
    prof__xplane_stat_text(x, stats, PROF__XEVENT_STAT, PROF__STAT_TRUNCATED,
                           !(flags & PROF_TRUNCATED_BEGIN) ? "end"
                           : flags & PROF_TRUNCATED_END    ? "begin and end"
                                                           : "begin");
}

static void prof__xplane_put_int(prof__xplane *x, prof__xplane_bytes *stats, size_t stat, int64_t value)
{
    prof__xplane_stat_number(x, stats, PROF__XEVENT_STAT, stat, PROF__XSTAT_INT, (uint64_t)value);
}

static void prof__xplane_put_uint(prof__xplane *x, prof__xplane_bytes *stats, size_t stat, uint64_t value)
{
    prof__xplane_stat_number(x, stats, PROF__XEVENT_STAT, stat, PROF__XSTAT_UINT, value);
}

/* Adds an instant, as an event that lasts 0 ns. */
static void prof__xplane_instant(prof__xplane *x, const prof_event *event, prof__xplane_what what)
{
    static const char *const scopes[] = {"global", "process", "task", "marker"};
    uint32_t role = event->site->role, id;
    prof__xplane_bytes *stats = &x->point;
    stats->size = 0;
    id = prof__xplane_name_of(x, stats, event, what);
    prof__xplane_args(x, stats, event);
    if (role >= PROF_ROLE_MARK_GLOBAL && role <= PROF_ROLE_MARK_MARKER)
        prof__xplane_stat_text(x, stats, PROF__XEVENT_STAT, PROF__STAT_SCOPE, scopes[role - PROF_ROLE_MARK_GLOBAL]);
    if (event->type == PROF_EVENT_COUNTER) prof__xplane_value(x, stats, PROF__STAT_VALUE, &event->value);
    prof__xplane_emit(x, id, prof__xplane_time(event->start_ns), 0, stats);
}

static void prof__xplane_log(prof__xplane *x, const prof_event *event)
{
    prof__xplane_bytes *stats = &x->point;
    uint32_t id;
    stats->size = 0;
    id = prof__xplane_named(x, stats, event->site, event->value.as.string, PROF__XPLANE_MESSAGE);
    prof__xplane_stat_text(x, stats, PROF__XEVENT_STAT, PROF__STAT_SEVERITY, prof__severity_text(event->detail));
    prof__xplane_emit(x, id, prof__xplane_time(event->start_ns), 0, stats);
}

static void prof__xplane_lost(prof__xplane *x, const prof_event *event)
{
    prof__xplane_bytes *stats = &x->point;
    stats->size = 0;
    prof__xplane_put_uint(x, stats, PROF__STAT_LOST, event->value.as.u);
    prof__xplane_emit(x, prof__xplane_named(x, stats, NULL, "lost events", PROF__XPLANE_MARK),
                      prof__xplane_time(event->start_ns), 0, stats);
}

#endif /* PROF__XPLANE_EVENTS_H */
