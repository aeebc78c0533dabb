// read/tracks: Makes tracks from segments, and runs the matcher over each track.
#ifndef PROF__READ_TRACKS_H
#define PROF__READ_TRACKS_H
#include "api/markup.h"
#include "api/read.h"
#include "api/values.h"
#include "ground/hash.h"
#include "image/format.h"
#include "image/pack.h"
#include "image/words.h"
#include "read/chunks.h"
#include "read/clock.h"
#include "read/match.h"
#include "read/names.h"
#include "read/segment_summary.h"
#include "read/records.h"
#include "read/trace.h"

/* Matches the BEGINs and ENDs from this word on; most records are of these kinds. Returns the index of the word after
   them, or 0 if there is no memory. */
static size_t prof__read_match_scopes(prof__read_matcher *m, const uint64_t *words, size_t at, size_t end,
                                      uint32_t number, const prof__read_chunk *chunk)
{
    prof_trace *trace = m->trace;
    uint64_t tick = m->tick, base = chunk->tick;
    int good = 1;
    for (; at < end; at++) {
        uint64_t head = words[at];
        unsigned kind = prof__read_kind(head);
        uint32_t site, closes;
        if (kind - PROF__KIND_BEGIN > PROF__KIND_END - PROF__KIND_BEGIN) break;
        m->tick = tick = prof__read_tick(base, head, tick);
        site = (uint32_t)prof__read_site_of(trace, prof__read_id(head));
        if (kind == PROF__KIND_BEGIN) {
            prof__read_event(m);
            good = prof__read_push(m, site, number, at);
        } else if (PROF__LIKELY(m->depth && m->stack[m->depth - 1].site == site)) {
            if (PROF__LIKELY(m->listed < m->depth && m->crossed < m->depth))
                m->depth--; /* the scope is in no list */
            else
                prof__read_pop(m, 0);
        } else {
            closes = prof__read_match(m, site, prof__read_event_id(trace, chunk, at));
            good = closes != PROF__NONE32 && prof__read_except(m, number, at, closes);
        }
        if (PROF__UNLIKELY(!good)) return 0;
    }
    return at;
}

/* Matches the records of a segment one by one. Returns 0 if they can no longer be read, -1 if there is no memory. */
static int prof__read_match_words(prof__read_matcher *m, uint32_t number)
{
    prof_trace *trace = m->trace;
    prof__read_segment *segment = &trace->segments[m->track->segment + number];
    prof__read_chunk *chunk = &trace->chunks[segment->chunk];
    const uint64_t *words = prof__read_words(trace, &trace->buffer, segment);
    size_t at, length;
    uint32_t data = 0; /* number of DATA records that the previous event has so far */
    int takes_data = 0, shown;
    unsigned group = 0;
    if (!words && chunk->size != PROF__NONE32) {
        chunk->size = PROF__NONE32;
        trace->info.lost_blocks++;
        trace->partial = 1;
    }
    if (!words) segment->gap = 1;
    if (!words) prof__read_close_all(m);
    for (at = segment->first; words && at < segment->end; at += length) {
        uint64_t head = words[at];
        unsigned kind = prof__read_kind(head);
        uint32_t site = 0;
        if (kind == PROF__KIND_BEGIN || kind == PROF__KIND_END) {
            size_t next = prof__read_match_scopes(m, words, at, segment->end, number, chunk);
            if (!next) return -1;
            length = next - at;
            data = 0;
            takes_data = 0;
            continue;
        }
        length = prof__record_words(head, segment->end - at);
        if (kind == PROF__KIND_ARG || kind == PROF__KIND_DATA)
            length = prof__read_arg_words(words + at, segment->end - at);
        if (kind == PROF__KIND_FRAME) length = prof__read_frame_words(words + at, segment->end - at);
        if (prof__record_timed(head)) {
            m->tick = prof__read_tick(chunk->tick, head, m->tick);
            site = (uint32_t)prof__read_site_of(trace, prof__read_id(head));
        }
        shown = prof__read_shown(words + at);
        if (kind == PROF__KIND_EVENT) group = prof__event_group(prof__read_event_type(words + at));
        if (shown) prof__read_event(m);
        switch (kind) {
        case PROF__KIND_FRAME:
            if (m->name_tops[trace->sites[site].name].frame != m->serial) {
                m->name_tops[trace->sites[site].name].frame = m->serial;
                m->track->frames++;
            }
            break;
        case PROF__KIND_EVENT:
            if (group == PROF__GROUP_SPAN) trace->has_spans = 1;
            if (group == PROF__GROUP_MESSAGE) trace->has_logs = 1;
            break;
        case PROF__KIND_NAME:
            if (prof__read_name_values(head, length)) trace->has_logs = 1;
            break;
        case PROF__KIND_LOST: m->track->about.lost += head & PROF__TICK_MASK; break;
        case PROF__KIND_ARG:
            if (prof__read_arg_whole(words + at, length) && !prof__read_arg(m, words, at, length, number)) return -1;
            break;
        case PROF__KIND_DATA:
            if (!takes_data || !prof__read_arg_whole(words + at, length)) break;
            m->args++;
            if (++data > m->track->max_event_args) m->track->max_event_args = data;
            break;
        default: break;
        }
        takes_data = prof__read_takes_data(head, shown, takes_data);
        if (!prof__record_in(PROF__PARTS_OF_EVENT, head)) data = 0;
    }
    return words != NULL;
}

/* Runs the matcher over one segment, by its summary if possible. Returns 0 if there is no memory. */
static int prof__read_match_segment(prof__read_matcher *m, uint32_t number)
{
    prof_trace *trace = m->trace;
    prof__read_segment *segment = &trace->segments[m->track->segment + number];
    const prof__read_chunk *chunk = &trace->chunks[segment->chunk];
    int read;
    m->nodes = m->args = 0;
    if (segment->gap && number) prof__read_close_all(m);
    read = prof__segment_summary_match(m, number);
    if (!read) read = prof__read_match_words(m, number);
    if (read < 0) return 0;
    if (read && segment->last && chunk->lost) {
        prof__read_event(m);
        m->track->about.lost += chunk->lost;
    }
    if (m->nodes > m->track->max_nodes) m->track->max_nodes = m->nodes;
    if (m->args > m->track->max_args) m->track->max_args = m->args;
    segment->depth = (int32_t)m->depth - (int32_t)m->track->unmatched_end_count;
    return prof__read_cross(m, number);
}

/* Returns the first tick in a track from *segment on. *segment: set to the segment with that tick. last: the track's
   last segment. */
static uint64_t prof__read_first_tick(const prof_trace *trace, const prof__read_segment **segment,
                                      const prof__read_segment *last)
{
    while (*segment <= last && (*segment)->tick == ~(uint64_t)0) ++*segment;
    return *segment <= last ? (*segment)->tick : trace->chunks[last->chunk].tick;
}

/* Sets the name, the thread id and the id of a track, which are in its segments and in meta. */
static void prof__read_describe(prof_trace *trace, prof__read_track *track)
{
    size_t i;
    int of_system = 0;
    track->about.name = track->about.device = trace->names[0];
    for (i = 0; i < track->segment_count; i++) {
        const prof__read_segment *segment = &trace->segments[track->segment + i];
        size_t name = prof__read_string_name(trace, segment->name);
        const uint64_t *words = i ? NULL : prof__read_words(trace, &trace->buffer, segment);
        if (words) track->about.thread_id = words[segment->first + 2];
        if (segment->fiber) track->about.fiber = 1;
        if (name) track->about.name = trace->names[name]; /* the newest name is used */
        if (name) of_system = segment->of_system;
    }
    track->about.id = trace->segments[track->segment].track;
    if (of_system && (i = prof__read_string_name(trace, prof__read_thread_name(trace, track->about.id))) != 0)
        track->about.name = trace->names[i];
}

/* Returns 1 if the thread that wrote this segment, the last one of its track, was still recording into its chunk. */
static int prof__read_lives(const prof_trace *trace, const prof__read_segment *segment)
{
    const prof__read_chunk *at = &trace->chunks[segment->chunk];
    return !at->size && segment->last && at->owned && !at->torn;
}

static int prof__read_late_order(const void *a, const void *b)
{
    const prof__read_late_begin *x = (const prof__read_late_begin *)a, *y = (const prof__read_late_begin *)b;
    if (x->segment != y->segment) return x->segment < y->segment ? -1 : 1;
    return x->word < y->word ? -1 : x->word > y->word;
}

/* Runs the matcher over a track, and sets what its cursor will need. Returns 0 if there is no memory. */
static int prof__read_match_track(prof__read_matcher *m)
{
    prof_trace *trace = m->trace;
    prof__read_track *track = m->track;
    const prof__read_segment *first = &trace->segments[track->segment];
    uint32_t i;
    track->cross_segment = trace->cross_segment_count;
    track->exception = trace->exception_count;
    track->unmatched_end = trace->unmatched_end_count;
    track->late = trace->late_end_count;
    m->late_floor = m->late_first + m->late_count;
    track->tick = m->tick = m->event_tick =
        prof__read_first_tick(trace, &first, &trace->segments[track->segment + track->segment_count - 1]);
    m->crossed = 0;
    m->torn = 0;
    m->pending = m->pending_last = PROF__NONE;
    m->pending_count = 0;
    for (i = 0; i < track->segment_count; i++)
        if (!prof__read_match_segment(m, i)) return 0;
    track->lives = track->about.fiber || /* a fiber may be waiting to run again */
                   prof__read_lives(trace, &trace->segments[track->segment + track->segment_count - 1]);
    track->about.open = m->depth;
    track->about.ended = !track->lives;
    while (m->depth) prof__read_pop(m, PROF_TRUNCATED_END | PROF__STILL_OPEN);
    trace->info.unmatched += m->pending_count;
    track->cross_segment_count = trace->cross_segment_count - track->cross_segment;
    track->exception_count = trace->exception_count - track->exception;
    track->late_count = trace->late_end_count - track->late;
    if (track->late_count)
        qsort(trace->late_begins + track->late, track->late_count, sizeof *trace->late_begins, prof__read_late_order);
    track->max_depth += track->unmatched_end_count;
    track->about.event_count += track->unmatched_end_count;
    track->about.first_ns = prof__read_ns(trace, track->unmatched_end_count ? track->tick : m->event_tick, &m->hint);
    track->about.last_ns = prof__read_ns(trace, m->tick, &m->hint);
    if (trace->segments[track->segment].serial > 1) track->about.kept_ns = track->about.first_ns;
    trace->info.event_count += track->about.event_count;
    trace->info.lost += track->about.lost;
    if (track->about.last_ns > trace->info.duration_ns) trace->info.duration_ns = track->about.last_ns;
    return 1;
}

/* Returns 1 if the trace has an archive. Then blocks may be missing in the middle, and dropping all segments before a
   gap would drop too many. */
static int prof__read_archived(const prof_trace *trace)
{
    return trace->header.archive_first != trace->header.archive_next;
}

/* Returns 1 if the chunk of segment b was copied later than the chunk of segment a, which may therefore lack its end. A
   snapshot copies the ring's chunks that are being written from the newest slot on backwards. Blocks of the archive are
   always complete. */
static int prof__read_copied_later(const prof_trace *trace, const prof__read_segment *a, const prof__read_segment *b)
{
    const prof__read_chunk *chunk_a = &trace->chunks[a->chunk], *chunk_b = &trace->chunks[b->chunk];
    const prof__header *h = &trace->header;
    uint64_t count = h->chunk_count, first = count ? h->next_chunk % count + count - 1 : 0;
    if (chunk_a->size || chunk_b->size || !count) return !chunk_a->size;
    uint64_t slot_a = (chunk_a->place * 8 - h->chunk_offset) / h->chunk_size;
    uint64_t slot_b = (chunk_b->place * 8 - h->chunk_offset) / h->chunk_size;
    if (slot_a == slot_b) return chunk_b->place < chunk_a->place;
    return (first - slot_b) % count > (first - slot_a) % count;
}

/* Returns 1 if all records from *segment to the end of the track may be newer than the copy. The time at which a chunk
   was taken does not show this, because a thread may take a chunk, sleep, and run the fiber much later. */
static int prof__read_after_copy(const prof_trace *trace, const prof__read_segment **segment,
                                 const prof__read_segment *last)
{
    uint64_t tick;
    if (!trace->header.copy_tick) return 0;
    tick = prof__read_first_tick(trace, segment, last);
    if (*segment <= last && (*segment)->record != ~(uint64_t)0) tick = (*segment)->record;
    return *segment > last || tick >= trace->header.copy_tick;
}

/* Returns 1 if the end of segment a, which segment b of the same track follows, is missing. A thread finishes its chunk
   before it takes the next one. A fiber is an exception: it may have moved to another thread. */
static int prof__read_torn(prof_trace *trace, const prof__read_segment *a, const prof__read_segment *b)
{
    const prof__read_chunk *chunk = &trace->chunks[a->chunk];
    if (!a->last) return 0;
    if (chunk->torn) return 1;
    if (!chunk->open || a->chunk == b->chunk || a->fiber || trace->header.copy_tick) return 0;
    trace->info.lost_blocks++;
    return 1;
}

/* Chooses which segments of a track are read, from segment i on. A gap is a missing number among the serial numbers of
   segments. If what follows the first gap is newer than the copy, the segments before that gap are read: parts of a
   fiber's work on one thread may be in a copy while earlier parts, on a thread that was copied before, are not.
   Otherwise the segments after the last gap are read, because a ring overwrites the oldest. Returns the index of the
   next track's first segment. */
static size_t prof__read_choose(prof_trace *trace, prof__read_track *track, size_t i)
{
    prof__read_segment *segments = trace->segments;
    const prof__read_segment *timed = &segments[i];
    size_t next = i + 1, last;
    while (next < trace->segment_count && segments[next].track == segments[i].track) next++;
    track->segment = i;
    for (last = next - 1, i++; i < next; i++) {
        int torn = prof__read_torn(trace, &segments[i - 1], &segments[i]);
        /* without a gap, segment i may still be in a chunk that was copied later */
        int gap = torn || segments[i].serial - segments[i - 1].serial > 1;
        if (!gap && !prof__read_copied_later(trace, &segments[i - 1], &segments[i])) continue;
        if (timed < &segments[i]) timed = &segments[i];
        if (prof__read_after_copy(trace, &timed, &segments[last])) break;
        if (!gap) continue;
        trace->partial = 1;
        segments[i].gap = 1;
        if (!prof__read_archived(trace) && !trace->info.lost_blocks) track->segment = i;
    }
    track->segment_count = i - track->segment;
    return next;
}

/* Makes the tracks of all threads and fibers, from segments that are sorted by track. Returns 0 if there is no
   memory. */
static int prof__read_tracks(prof_trace *trace)
{
    prof__read_matcher m;
    size_t i, count = 0;
    int good;
    for (i = 0; i < trace->segment_count; i++)
        count += !i || trace->segments[i].track != trace->segments[i - 1].track;
    memset(&m, 0, sizeof m);
    m.trace = trace;
    m.site_tops = (uint32_t *)calloc(trace->site_count + 1, sizeof *m.site_tops);
    m.name_tops = (prof__read_top *)calloc(trace->name_count + 1, sizeof *m.name_tops);
    m.site_late = (uint64_t *)calloc(trace->site_count + 1, sizeof *m.site_late);
    m.late_first = 1;
    trace->tracks = (prof__read_track *)calloc(count + 1, sizeof *trace->tracks);
    good = m.site_tops && m.name_tops && m.site_late && trace->tracks;
    for (i = 0; good && i < trace->segment_count;) {
        m.track = &trace->tracks[trace->track_count++];
        i = prof__read_choose(trace, m.track, i);
        m.serial++;
        prof__read_describe(trace, m.track);
        good = prof__read_match_track(&m);
    }
    free(m.stack);
    free(m.late);
    free(m.site_tops);
    free(m.name_tops);
    free(m.site_late);
    prof__read_buffer_free(&trace->buffer);
    free(trace->segment_summaries);
    free(trace->halves);
    trace->segment_summaries = NULL;
    trace->halves = NULL;
    return good;
}

#endif /* PROF__READ_TRACKS_H */
