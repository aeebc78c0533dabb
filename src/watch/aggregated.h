// watch/aggregated: Copies the statistics that a follower has counted into a trace.
#ifndef PROF__WATCH_AGGREGATED_H
#define PROF__WATCH_AGGREGATED_H
#include "api/markup.h"
#include "api/read.h"
#include "api/reports.h"
#include "api/values.h"
#include "ground/digits.h"
#include "ground/errors.h"
#include "ground/hash.h"
#include "ground/lock.h"
#include "ground/out.h"
#include "record/locks.h"
#include "record/ring.h"
#include "record/state.h"
#include "read/clock.h"
#include "read/devices.h"
#include "read/names.h"
#include "read/open.h"
#include "read/trace.h"
#include "report/accumulator.h"
#include "watch/follow.h"
#include "watch/follow_passes.h"

/*-- the statistics of PROF_STATS --*/

static void prof__aggregated_free(prof__aggregated *stats)
{
    for (size_t i = 0; stats->texts && i < stats->count; i++) free(stats->texts[i]);
    for (size_t i = 0; stats->rows && i < stats->count; i++) free(stats->rows[i].histogram.steps);
    free(stats->texts);
    free(stats->sites);
    free(stats->rows);
    memset(stats, 0, sizeof *stats);
}

static uint64_t prof__follow_ns(const prof__follow *f, uint64_t ticks)
{
    return prof__ticks_ns(ticks, f->ns_per_tick);
}

/* Completes the copy of a row: converts ticks to nanoseconds, and counts open scopes. Returns 0 without memory. */
static int prof__aggregated_finish(const prof__follow *f, const prof__follow_row *from, prof__stat_row *to)
{
    prof_stat *stat = &to->stat;
    const prof__histogram *h = &from->sums.histogram;
    *to = from->sums;
    if (to->type == PROF_EVENT_COUNTER) return 1;
    to->histogram.steps = (prof__step *)calloc(h->capacity + 1, sizeof *h->steps);
    if (!to->histogram.steps) return 0;
    if (h->capacity) memcpy(to->histogram.steps, h->steps, h->capacity * sizeof *h->steps);
    prof__stat_row_scale(to, f->ns_per_tick);
    prof__stat_row_finish(to);
    stat->mean_ns = to->mean; /* of the sum in ticks, which is not rounded */
    stat->count += from->open;
    stat->truncated += from->open;
    return 1;
}

/* Counts each begin that waits for its end, and each end that waits for its begin, as a truncated span. The follower
   itself goes on waiting. */
static void prof__aggregated_halves(prof__aggregated *stats, const prof__follow *f)
{
    stats->begins_missing = f->begins_missing;
    stats->ends_missing = f->ends_missing;
    for (uint32_t number = f->half_oldest; number; number = f->halves[number - 1].newer) {
        const prof__follow_half *half = &f->halves[number - 1];
        prof__stat_row *row = &stats->rows[half->row - 1];
        *(half->end ? &stats->begins_missing : &stats->ends_missing) += 1;
        if (half->row == 1 || row->type == PROF_EVENT_FRAME) continue;
        row->stat.count++;
        row->stat.truncated++;
    }
}

/* Adds to total_ns the time of calls that have ended inside a call of their own row that is still open. An ended outer
   call would have included their time, but an open one has no time yet. */
static void prof__aggregated_covered(prof__aggregated *stats, const prof__follow *f)
{
    for (uint32_t i = 0; i < f->track_count; i++)
        for (size_t at = 0; at < f->tracks[i].match.depth; at++) {
            const prof__follow_open *open = (const prof__follow_open *)f->tracks[i].match.open + at;
            stats->rows[open->row - 1].stat.total_ns += prof__follow_ns(f, open->covered);
        }
}

static int prof__aggregated_copy(prof__aggregated *stats, const prof__follow *f)
{
    stats->rows = (prof__stat_row *)calloc(f->row_count + 1, sizeof *stats->rows);
    stats->sites = (uint32_t *)calloc(f->row_count + 1, sizeof *stats->sites);
    stats->texts = (char **)calloc(f->row_count + 1, sizeof *stats->texts);
    if (!stats->rows || !stats->sites || !stats->texts) return 0;
    for (size_t i = 0; i < f->row_count; i++, stats->count++) {
        const prof__follow_row *from = &f->rows[i];
        stats->sites[i] = from->site;
        if (from->text && !(stats->texts[i] = prof__text_join(from->text, ""))) return 0;
        if (!prof__aggregated_finish(f, from, &stats->rows[i])) return 0;
        stats->open += from->open;
    }
    prof__aggregated_halves(stats, f);
    prof__aggregated_covered(stats, f);
    stats->events = f->events;
    stats->uses = f->uses;
    stats->unmatched = f->unmatched;
    stats->lost = f->lost;
    stats->newest = f->newest_tick;
    for (size_t i = 0; i < f->active_count; i++)
        if (f->slots[f->active[i]].sequence) stats->lost += PROF__LOAD(&prof__follow_chunk(f, f->active[i])->lost);
    return 1;
}

/* Sets the statistics to zero. A scope that is open now counts when it ends. */
static void prof__follow_reset(prof__follow *f)
{
    for (size_t i = 0; i < f->row_count; i++) prof__stat_row_reset(&f->rows[i].sums);
}

/* Brings the statistics up to date, and copies them. If `reset` is 1, sets them to zero afterwards. Does nothing if the
   present session has a mode without statistics. */
static prof_status prof__aggregated_take(prof__aggregated *stats, int reset)
{
    prof_status status = PROF_OK;
    memset(stats, 0, sizeof *stats);
    uint32_t write_lock = prof__state_lock();
    prof__session *s = prof__state.session;
    prof__follow *f = s && prof__mode_counts(s->header->mode) ? s->follow : NULL;
    if (f) {
        stats->session = s->header->session;
        s->readers++;
        __atomic_fetch_add(&s->attached, 1, __ATOMIC_RELAXED); /* keeps the session's memory from being freed */
    }
    prof__state_unlock(write_lock);
    if (!f) return PROF_OK;
    prof__lock(&f->lock);
    prof__follow_all(f);
    if (!prof__aggregated_copy(stats, f))
        status = prof__no_memory("for the statistics");
    else if (reset)
        prof__follow_reset(f);
    prof__unlock(&f->lock);
    write_lock = prof__state_lock();
    s->readers--;
    __atomic_fetch_sub(&s->attached, 1, __ATOMIC_RELEASE);
    prof__state_unlock(write_lock);
    return status;
}

/* Adds metadata to a trace that says: its statistics cover the whole run, but its events only the newest part. */
static prof_status prof__aggregated_note(prof_trace *trace)
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
        !prof__read_metadata(trace, note, note + sizeof note)) /* keeps the copies, not note */
        return prof__no_memory("for the statistics");
    return PROF_OK;
}

/* Gives the statistics to a trace, which owns the rows afterwards. */
static prof_status prof__aggregated_give(prof__aggregated *stats, prof_trace *trace)
{
    prof_status status = PROF_OK;
    size_t hint = 0, i, count = 0;
    int64_t newest = prof__read_ns(trace, stats->newest, &hint);
    if (trace->header.session != stats->session)
        return prof__fail(PROF_INVALID_STATE, "a new session began while the old one was being read");
    for (i = 0; i < stats->count && !status; i++) {
        prof__stat_row *row = &stats->rows[i];
        size_t site = i ? prof__read_site_of(trace, stats->sites[i]) : PROF__NONE;
        if (!row->stat.count) {
            free(row->histogram.steps);
            memset(&row->histogram, 0, sizeof row->histogram);
            continue;
        }
        if (site == PROF__NONE) site = prof__read_make_site(trace, i ? "?" : "(more scopes)", PROF__KIND_BEGIN);
        if (site == PROF__NONE) return prof__no_memory("for the statistics");
        /* the trace's array of sites may still be moved: keep numbers until all sites are there */
        stats->sites[count] = (uint32_t)site;
        stats->rows[count] = *row;
        if (count != i) memset(&row->histogram, 0, sizeof row->histogram); /* the other row owns it now */
        stats->rows[count].stat.name = NULL;
        if (stats->texts[i]) {
            if (!PROF__ROOM(trace->texts, trace->text_capacity, trace->text_count))
                return prof__no_memory("for the statistics");
            stats->rows[count].stat.name = trace->texts[trace->text_count++] = stats->texts[i];
            stats->texts[i] = NULL;
        }
        count++;
    }
    for (i = 0; i < count; i++) {
        prof_stat *stat = &stats->rows[i].stat;
        stat->site = &trace->sites[stats->sites[i]].about;
        stat->parent = PROF_NO_PARENT; /* a follower counts no call paths */
        if (!stat->name) stat->name = stat->site->name;
    }
    trace->aggregated = stats->rows;
    trace->aggregated_count = count;
    stats->rows = NULL;
    trace->begins_missing = stats->begins_missing;
    trace->uses = stats->uses;
    trace->ends_missing = stats->ends_missing;
    trace->info.folded = stats->events;
    trace->info.open = stats->open;
    if (trace->info.mode == PROF_RING_STATS) { /* reading the ring has counted a part of the losses already */
        trace->info.lost = trace->header.lost;
        trace->info.unmatched = 0;
        status = prof__aggregated_note(trace);
    }
    trace->info.lost += stats->lost;
    trace->info.unmatched += stats->unmatched;
    if (newest > trace->info.duration_ns) trace->info.duration_ns = newest;
    return status;
}

#endif /* PROF__WATCH_AGGREGATED_H */
