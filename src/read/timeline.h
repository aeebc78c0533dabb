// read/timeline: Merges the events of all tracks into one sequence, in order of time.
#ifndef PROF__READ_TIMELINE_H
#define PROF__READ_TIMELINE_H
#include "api/read.h"
#include "api/values.h"
#include "ground/errors.h"
#include "ground/hash.h"
#include "read/cursor.h"
#include "read/records.h"
#include "read/trace.h"

/*-- all tracks in order of time --*/

typedef struct prof__timeline_source {
    prof_cursor *cursor;
    size_t track;
    prof_event event; /* next event of the cursor */
} prof__timeline_source;

typedef struct prof__timeline_start {
    int64_t ns;
    size_t track;
} prof__timeline_start;

struct prof_timeline {
    const prof_trace *trace;
    /* Tracks in order of their first times; the cursors of the first `started` ones are open. */
    prof__timeline_start *starts;
    size_t start_count, started;
    prof__timeline_source *heap; /* a binary heap; the earliest event is at index 0 */
    size_t count, capacity;
    int given; /* 1: the event at index 0 was returned, so its cursor must move on */
    int whole; /* 1: the window is ignored */
    uint32_t groups; /* bit n: returns events of group n */
    prof_status status;
};

static int prof__timeline_before(const prof__timeline_source *a, const prof__timeline_source *b)
{
    if (a->event.start_ns != b->event.start_ns) return a->event.start_ns < b->event.start_ns;
    return a->track < b->track;
}

static void prof__timeline_swap(prof__timeline_source *a, prof__timeline_source *b)
{
    prof__timeline_source swap = *a;
    *a = *b;
    *b = swap;
}

static void prof__timeline_down(prof_timeline *t)
{
    size_t at = 0, child;
    while ((child = 2 * at + 1) < t->count) {
        if (child + 1 < t->count && prof__timeline_before(&t->heap[child + 1], &t->heap[child])) child++;
        if (!prof__timeline_before(&t->heap[child], &t->heap[at])) return;
        prof__timeline_swap(&t->heap[child], &t->heap[at]);
        at = child;
    }
}

/* Reads the next event of a track that the time line returns. */
static int prof__timeline_read(const prof_timeline *t, prof__timeline_source *source)
{
    while (prof_cursor_next(source->cursor, &source->event))
        if (t->groups >> prof__event_group(source->event.type) & 1) return 1;
    return 0;
}

/* Opens the cursor of the track that begins next. */
static void prof__timeline_begin(prof_timeline *t)
{
    size_t track = t->starts[t->started++].track, at;
    prof__timeline_source *source;
    if (!PROF__ROOM(t->heap, t->capacity, t->count)) {
        t->status =
            prof__fail(PROF_NO_MEMORY, "no memory to read %lu tracks at the same time", (unsigned long)t->count);
        return;
    }
    source = &t->heap[t->count];
    source->track = track;
    t->status = prof_cursor_open(t->trace, track, &source->cursor);
    if (t->status != PROF_OK) return;
    if (t->whole) source->cursor->windowed = 0;
    if (!prof__timeline_read(t, source)) {
        prof_cursor_close(source->cursor);
        return;
    }
    for (at = t->count++; at && prof__timeline_before(&t->heap[at], &t->heap[(at - 1) / 2]); at = (at - 1) / 2)
        prof__timeline_swap(&t->heap[at], &t->heap[(at - 1) / 2]);
}

static int prof__timeline_order(const void *a, const void *b)
{
    const prof__timeline_start *x = (const prof__timeline_start *)a, *y = (const prof__timeline_start *)b;
    if (x->ns != y->ns) return x->ns < y->ns ? -1 : 1;
    return x->track < y->track ? -1 : x->track > y->track;
}

/* Opens a time line: lists the tracks in order of their first times. A track's cursor is opened when its first time is
   reached. */
static prof_status prof__timeline_make(const prof_trace *trace, prof_timeline **timeline)
{
    prof_timeline *t;
    size_t i;
    if (!trace || !timeline) return prof__null("prof_timeline_open", "trace or timeline");
    *timeline = NULL;
    t = (prof_timeline *)calloc(1, sizeof *t);
    if (t) t->starts = (prof__timeline_start *)malloc((trace->track_count + 1) * sizeof *t->starts);
    if (!t || !t->starts) {
        free(t);
        return prof__fail(PROF_NO_MEMORY, "no memory to read %lu tracks", (unsigned long)trace->track_count);
    }
    t->trace = trace;
    t->groups = UINT32_MAX;
    t->start_count = trace->track_count;
    for (i = 0; i < t->start_count; i++) {
        t->starts[i].ns = trace->tracks[i].about.first_ns;
        t->starts[i].track = i;
    }
    qsort(t->starts, t->start_count, sizeof *t->starts, prof__timeline_order);
    *timeline = t;
    return PROF_OK;
}

PROF_DEF prof_status prof_timeline_open(const prof_trace *trace, prof_timeline **timeline)
{
    return prof__timeline_make(trace, timeline);
}

/* Says whether a track has events of a group. */
typedef int prof__has_group(const void *user, size_t track, unsigned group);

/* Opens a time line of the events of two groups. Does not read tracks without events of the first, as has() says; has
   NULL: reads all. */
static prof_status prof__timeline_of(const prof_trace *trace, unsigned group, unsigned also, prof__has_group *has,
                                     const void *user, prof_timeline **timeline)
{
    prof_status status = prof__timeline_make(trace, timeline);
    prof_timeline *t;
    size_t i, kept = 0;
    if (status) return status;
    t = *timeline;
    t->groups = 1u << group | 1u << also;
    for (i = 0; i < t->start_count; i++)
        if (!has || has(user, t->starts[i].track, group)) t->starts[kept++] = t->starts[i];
    t->start_count = kept;
    return PROF_OK;
}

PROF_DEF int prof_timeline_next(prof_timeline *timeline, prof_event *event, size_t *track)
{
    prof_timeline *t = timeline;
    if (!t || !event) return 0;
    if (t->given && !prof__timeline_read(t, &t->heap[0])) {
        prof_cursor_close(t->heap[0].cursor);
        t->heap[0] = t->heap[--t->count];
    }
    if (t->given) prof__timeline_down(t);
    t->given = 0;
    while (t->status == PROF_OK && t->started < t->start_count &&
           (!t->count || t->starts[t->started].ns <= t->heap[0].event.start_ns))
        prof__timeline_begin(t);
    if (t->status != PROF_OK || !t->count) return 0;
    *event = t->heap[0].event;
    if (track) *track = t->heap[0].track;
    return t->given = 1;
}

static prof_status prof__timeline_free(prof_timeline *timeline)
{
    prof_status status;
    if (!timeline) return PROF_OK;
    while (timeline->count) prof_cursor_close(timeline->heap[--timeline->count].cursor);
    status = timeline->status;
    free(timeline->heap);
    free(timeline->starts);
    free(timeline);
    return status;
}
PROF_DEF prof_status prof_timeline_close(prof_timeline *timeline) { return prof__timeline_free(timeline); }

#endif /* PROF__READ_TIMELINE_H */
