// read/device_tracks: Makes tracks of the events that devices have reported.
#ifndef PROF__READ_DEVICE_TRACKS_H
#define PROF__READ_DEVICE_TRACKS_H
#include "api/read.h"
#include "api/values.h"
#include "ground/digits.h"
#include "ground/hash.h"
#include "image/device.h"
#include "read/clock.h"
#include "read/devices.h"
#include "read/names.h"
#include "read/trace.h"

/*-- times and tracks --*/

/* Returns the device's tick at a time of the host, on the scale without wraps. */
static uint64_t prof__device_at(const prof__read_device *device, int64_t ns)
{
    size_t low = 0, high = device->line_count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (device->lines[middle].ns <= ns)
            low = middle;
        else
            high = middle;
    }
    return device->lines[low].tick + prof__device_ticks(device->rate, ns - device->lines[low].ns);
}

static int64_t prof__device_ns(const prof__read_device *device, uint64_t tick, size_t *hint)
{
    return prof__read_on_lines(device->lines, device->line_count, tick, hint);
}

/* Converts an event's times from ticks of the device to nanoseconds. Returns 0 if the event ended before the session
   began. */
static int prof__device_place(const prof_trace *trace, prof__read_device_record *e, size_t *host_hint)
{
    const prof__read_device *device = &trace->devices[e->device];
    uint64_t begin = e->time, ticks = e->type == PROF__DEVICE_SCOPE ? e->number & device->mask : 0, end = begin + ticks;
    size_t hint = 0;
    /* An event ends before it is recorded, as far as the clock pairs are exact. That tells how often the counter has
       wrapped. */
    if (device->wraps) {
        uint64_t now = prof__device_at(device, prof__read_ns(trace, e->tick, host_hint));
        end = prof__device_unwrap(device, now + device->mask / 16, end);
        begin = end - ticks;
    } else if (end < begin) {
        end = begin;
        e->flags |= PROF_TRUNCATED_END;
    }
    e->start_ns = prof__device_ns(device, begin, &hint);
    e->end_ns = prof__device_ns(device, end, &hint);
    if (e->start_ns >= 0) return 1;
    if (e->end_ns <= 0) return 0;
    e->start_ns = 0;
    e->flags |= PROF_TRUNCATED_BEGIN;
    return 1;
}

static int prof__device_record_order(const void *a, const void *b)
{
    const prof__read_device_record *x = (const prof__read_device_record *)a, *y = (const prof__read_device_record *)b;
    if (x->device != y->device) return x->device < y->device ? -1 : 1;
    if (x->row != y->row) return x->row < y->row ? -1 : 1;
    if (x->subrow != y->subrow) return x->subrow < y->subrow ? -1 : 1;
    if (x->start_ns != y->start_ns) return x->start_ns < y->start_ns ? -1 : 1;
    /* The longer event first, because it may contain the other. */
    if (x->end_ns != y->end_ns) return x->end_ns > y->end_ns ? -1 : 1;
    if (x->depth != y->depth) return x->depth < y->depth ? -1 : 1;
    if (x->type != y->type) return x->type < y->type ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

/* The ends of the scopes that are open on a subrow, the outermost first. A row whose events overlap without nesting is
   shown as several subrows. */
typedef struct prof__read_subrow {
    int64_t *ends;
    size_t depth, capacity;
} prof__read_subrow;

/* Puts an event on the first subrow in which it nests. Returns 0 if there is no memory. */
static int prof__device_nest(prof__read_subrow *subrows, prof__read_device_record *e)
{
    prof__read_subrow *subrow = NULL;
    int scope = e->type == PROF__DEVICE_SCOPE, fits = 0;
    for (e->subrow = 0; !fits && e->subrow < PROF__DEVICE_SUBROWS; e->subrow += !fits) {
        subrow = &subrows[e->subrow];
        while (subrow->depth && subrow->ends[subrow->depth - 1] <= e->start_ns) subrow->depth--;
        fits = !scope || !subrow->depth || subrow->ends[subrow->depth - 1] >= e->end_ns;
    }
    if (!fits) { /* no subrow is left: the event is cut so that it fits into the last one */
        e->subrow = PROF__DEVICE_SUBROWS - 1;
        e->end_ns = subrow->ends[subrow->depth - 1];
        e->flags |= PROF_TRUNCATED_END;
    }
    e->depth = (uint32_t)subrow->depth;
    if (!scope) return 1;
    if (!PROF__ROOM(subrow->ends, subrow->capacity, subrow->depth)) return 0;
    subrow->ends[subrow->depth++] = e->end_ns;
    return 1;
}

/* Puts all events, which are sorted, on subrows. Returns 1 if each row needed only its first subrow, 0 if not, -1 if
   there is no memory. */
static int prof__device_nest_all(prof_trace *trace)
{
    prof__read_subrow subrows[PROF__DEVICE_SUBROWS];
    size_t i, j;
    int result = 1;
    memset(subrows, 0, sizeof subrows);
    for (i = 0; result >= 0 && i < trace->device_record_count; i++) {
        prof__read_device_record *e = &trace->device_records[i];
        if (i && (e->device != e[-1].device || e->row != e[-1].row))
            for (j = 0; j < PROF__DEVICE_SUBROWS; j++) subrows[j].depth = 0;
        if (!prof__device_nest(subrows, e)) result = -1;
        if (result > 0 && e->subrow) result = 0;
    }
    for (j = 0; j < PROF__DEVICE_SUBROWS; j++) free(subrows[j].ends);
    return result;
}

/* Describes the track of the events from first up to end, which belong to one subrow. Returns 0 if there is no
   memory. */
static int prof__device_track(prof_trace *trace, prof__read_track *track, size_t first, size_t end)
{
    const prof__read_device_record *e = &trace->device_records[first];
    const prof__read_row *row = &trace->rows[e->row];
    const prof__read_device *device = &trace->devices[e->device];
    char number[24] = " #";
    memset(track, 0, sizeof *track);
    track->about.name = trace->names[row->name];
    track->about.device = trace->names[device->name];
    track->about.alignment = device->alignment;
    track->about.device_hz = device->pairs > 1 || device->hz ? device->rate : 0;
    track->about.pairs = device->pairs;
    track->about.pairs_refused = device->refused;
    track->about.early = row->early;
    track->about.id = trace->track_count ? track[-1].about.id + 1 : 1;
    if (e->subrow) {
        number[2 + prof__digits(number + 2, e->subrow + 1)] = 0;
        track->about.name = prof__read_text(trace, track->about.name, number);
        if (!track->about.name) return 0;
    }
    first += !e->type;
    e += !e->type;
    track->device_record = first;
    track->device_record_count = end - first;
    track->about.event_count = end - first;
    if (first < end) track->about.first_ns = e->start_ns;
    for (; first < end; first++, e++) {
        track->about.event_count += e->flow != 0;
        if (e->end_ns > track->about.last_ns) track->about.last_ns = e->end_ns;
        if (e->arg_count > track->max_event_args) track->max_event_args = e->arg_count;
    }
    trace->info.event_count += track->about.event_count;
    if (track->about.last_ns > trace->info.duration_ns) trace->info.duration_ns = track->about.last_ns;
    trace->track_count++;
    return 1;
}

/* Finds the row and the device of each event, and for each device its event that was recorded first. */
static void prof__device_assign(prof_trace *trace)
{
    size_t i;
    for (i = 0; i < trace->device_record_count; i++) {
        prof__read_device_record *e = &trace->device_records[i];
        prof__read_device *device;
        e->row = prof__row_find(trace, e->row);
        e->device = trace->rows[e->row].device;
        device = &trace->devices[e->device];
        if (!device->first || e->tick < trace->device_records[device->first - 1].tick) device->first = i + 1;
    }
}

/* Adds the tracks of devices after those of threads. Returns 0 if there is no memory. */
static int prof__device_tracks(prof_trace *trace)
{
    prof__read_track *tracks;
    size_t i, from, kept = 0, count = 0, hint = 0;
    int nested;
    if (!trace->device_record_count) return 1;
    if (!prof__device_meta(trace)) return 0;
    prof__device_assign(trace);
    if (!prof__device_clocks(trace)) return 0;
    for (i = 0; i < trace->device_record_count; i++) {
        prof__read_device_record e = trace->device_records[i];
        if (!prof__device_place(trace, &e, &hint)) {
            if (trace->rows[e.row].early++) continue;
            /* One placeholder stands for all such events of a row, so that the row has a track, which says how many
               there were. */
            e.type = 0;
            e.start_ns = e.end_ns = -1;
        }
        trace->device_records[kept++] = e;
    }
    trace->device_record_count = kept;
    qsort(trace->device_records, kept, sizeof *trace->device_records, prof__device_record_order);
    nested = prof__device_nest_all(trace);
    if (nested < 0) return 0;
    if (!nested) qsort(trace->device_records, kept, sizeof *trace->device_records, prof__device_record_order);
#define PROF__SAME_TRACK(a, b) ((a).device == (b).device && (a).row == (b).row && (a).subrow == (b).subrow)
    for (i = 0; i < kept; i++) count += !i || !PROF__SAME_TRACK(trace->device_records[i], trace->device_records[i - 1]);
    tracks = (prof__read_track *)realloc(trace->tracks, (trace->track_count + count + 1) * sizeof *tracks);
    if (!tracks) return 0;
    trace->tracks = tracks;
    for (from = 0, i = 1; i <= kept; i++) {
        if (i < kept && PROF__SAME_TRACK(trace->device_records[i], trace->device_records[i - 1])) continue;
        if (!prof__device_track(trace, &trace->tracks[trace->track_count], from, i)) return 0;
        from = i;
    }
    return 1;
}

#endif /* PROF__READ_DEVICE_TRACKS_H */
