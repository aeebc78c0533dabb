// read/gaps: Gaps, which are times in which the machine was suspended or the counter was reset: where they are and how
// long; a track that shows them.
#ifndef PROF__READ_GAPS_H
#define PROF__READ_GAPS_H
#include "api/markup.h"
#include "api/values.h"
#include "ground/digits.h"
#include "ground/hash.h"
#include "image/device.h"
#include "image/format.h"
#include "image/pack.h"
#include "image/words.h"
#include "read/chunks.h"
#include "read/clock.h"
#include "read/names.h"
#include "read/trace.h"

/*-- gaps --*/

static int prof__read_tick_order(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Lists the ticks of all records inside a gap, and returns how many there are. Returns 0 if there are more than four
   million, or no memory. */
static size_t prof__gap_ticks(prof_trace *trace, const prof__read_gap *gap, uint64_t **ticks)
{
    size_t i, at, length, count = 0, capacity = 0;
    if (!prof__read_buffer_make(trace, &trace->buffer)) return 0;
    for (i = 0; i < trace->segment_count; i++) {
        const prof__read_segment *segment = &trace->segments[i];
        const uint64_t *words = prof__read_words(trace, &trace->buffer, segment);
        uint64_t base = trace->chunks[segment->chunk].tick;
        for (at = segment->first; words && base < gap->to && at < segment->end; at += length) {
            length = prof__record_words(words[at], segment->end - at);
            if (!length) break;
            uint64_t tick = base + (words[at] & PROF__TICK_MASK);
            if (!prof__record_timed(words[at]) || tick <= gap->from || tick >= gap->to) continue;
            if (count >= (size_t)1 << 22 || !PROF__ROOM(*ticks, capacity, count)) return 0;
            (*ticks)[count++] = tick;
        }
    }
    return count;
}

/* Narrows a gap. No thread ran during a suspension, so the gap lies where no thread has an event for the longest time.
   After a reset of the counter, the gap lies after the last event before it. */
static void prof__gap_narrow(prof_trace *trace, prof__read_gap *gap)
{
    uint64_t *ticks = NULL, from = gap->from, to = gap->to, before = gap->from;
    /* Only for a few gaps, because each reads all words. */
    size_t i, count = trace->gap_count < 16 ? prof__gap_ticks(trace, gap, &ticks) : 0;
    prof__read_buffer_free(&trace->buffer);
    qsort(ticks ? ticks : &before, ticks ? count : 0, sizeof *ticks, prof__read_tick_order);
    if (count && gap->restarts) from = ticks[count - 1];
    for (i = 0; i <= count && count && gap->added_ns; i++) {
        uint64_t next = i < count ? ticks[i] : gap->to;
        if (!i || next - before > to - from) from = before, to = next;
        before = next;
    }
    gap->from = from;
    gap->to = to;
    free(ticks);
}

static void prof__gap_name(char *to, size_t size, const prof__read_gap *gap)
{
    char length[48];
    prof__human_ns(length, (double)gap->ns);
    snprintf(to, size, "suspended for %s%s", gap->restarts ? "at most " : "", length);
}

static int prof__gap_order(const void *a, const void *b)
{
    const prof__read_gap *x = (const prof__read_gap *)a, *y = (const prof__read_gap *)b;
    return x->from_ns < y->from_ns ? -1 : x->from_ns > y->from_ns;
}

/* Converts the gaps' ticks to times, and sorts the gaps. */
static void prof__gaps_place(prof_trace *trace)
{
    size_t i, hint = 0;
    for (i = 0; i < trace->gap_count; i++) {
        prof__read_gap *gap = &trace->gaps[i];
        prof__gap_narrow(trace, gap);
        gap->from_ns = prof__read_ns(trace, gap->from, &hint);
        gap->to_ns = prof__read_ns(trace, gap->to, &hint);
        if (gap->restarts) gap->ns = gap->to_ns - gap->from_ns;
    }
    qsort(trace->gaps, trace->gap_count, sizeof *trace->gaps, prof__gap_order);
}

/* Adds a track with an instant for each gap; viewers draw these across all tracks. Returns 0 if there is no memory. */
static int prof__gap_track(prof_trace *trace)
{
    prof__read_track *track;
    size_t i, first = trace->device_record_count;
    uint64_t id = 1;
    if (!trace->gap_count) return 1;
    prof__gaps_place(trace);
    track = (prof__read_track *)realloc(trace->tracks, (trace->track_count + 1) * sizeof *track);
    if (!track) return 0;
    trace->tracks = track;
    for (i = 0; i < trace->track_count; i++)
        if (track[i].about.id >= id) id = track[i].about.id + 1;
    track += trace->track_count;
    memset(track, 0, sizeof *track);
    for (i = 0; i < trace->gap_count; i++) {
        prof__read_device_record *e;
        char name[96];
        size_t site;
        prof__gap_name(name, sizeof name, &trace->gaps[i]);
        site = prof__read_make_site(trace, name, PROF__KIND_MARK);
        e = (prof__read_device_record *)PROF__MORE(trace->device_records, trace->device_record_capacity,
                                                   trace->device_record_count);
        if (site == PROF__NONE || !e) return 0;
        trace->sites[site].about.role = PROF_ROLE_MARK_GLOBAL;
        e->type = PROF__DEVICE_MARK;
        e->site = (uint32_t)site;
        e->name = trace->sites[site].name;
        e->start_ns = e->end_ns = trace->gaps[i].from_ns;
        e->id = ~(uint64_t)i;
    }
    track->about.name = prof__read_text(trace, "clock", "");
    if (!track->about.name) return 0;
    track->about.device = trace->names[0];
    track->about.id = id;
    track->about.fiber = 1;
    track->device_record = first;
    track->device_record_count = trace->gap_count;
    track->about.event_count = trace->gap_count;
    track->about.first_ns = trace->gaps[0].from_ns;
    track->about.last_ns = trace->gaps[trace->gap_count - 1].from_ns;
    trace->info.event_count += trace->gap_count;
    if (track->about.last_ns > trace->info.duration_ns) trace->info.duration_ns = track->about.last_ns;
    trace->track_count++;
    return 1;
}

/* Writes a line of text about a gap. Returns 0 after the last gap. */
static int prof__trace_gap(const prof_trace *trace, size_t i, char *to, size_t size)
{
    const prof__read_gap *gap = i < trace->gap_count ? &trace->gaps[i] : NULL;
    char name[96], from[48], until[48];
    if (!gap) return 0;
    prof__gap_name(name, sizeof name, gap);
    prof__human_ns(from, (double)gap->from_ns);
    prof__human_ns(until, (double)gap->to_ns);
    snprintf(to, size, "%s, between %s and %s%s", name, from, until,
             gap->restarts ? ": the counter began again" : gap->added_ns ? "" : ": the counter stood still");
    return 1;
}

#endif /* PROF__READ_GAPS_H */
