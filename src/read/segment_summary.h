// read/summary: Summarises a segment while it is cut: what the segment changes in the matcher. So the segment's words
// are read only once, and the matcher uses the summary.
#ifndef PROF__READ_SEGMENT_SUMMARY_H
#define PROF__READ_SEGMENT_SUMMARY_H
#include "api/markup.h"
#include "api/values.h"
#include "ground/hash.h"
#include "image/format.h"
#include "read/match.h"
#include "read/names.h"
#include "read/records.h"
#include "read/trace.h"

/*-- segment summaries --*/

#define PROF__SEGMENT_SUMMARY_DEPTH 128 /* largest number of open scopes that began in the segment */
/* Largest number of ENDs whose BEGIN is in an earlier segment, and of BEGINs that stay open. */
#define PROF__SEGMENT_SUMMARY_HALVES 24

/* The state in which a segment is summarised. */
typedef struct prof__segment_summarizer {
    prof__segment_summary sum;
    uint64_t base;  /* tick of the chunk's base; the records' ticks count from it */
    uint64_t ticks; /* largest tick so far, counted from base */
    uint64_t behind;   /* ticks; a tick that is lower than the largest one by more shows that the counter was reset */
    int jumps;      /* 1: the counter was reset */
    int good;       /* 0: a summary is not possible: the matcher must read this segment's words */
    int takes_data;
    uint32_t data;  /* number of DATA records that the previous event has so far */
    size_t next;    /* index of the word after the last argument */
    /* open[0] is no scope */
    prof__read_half ends[PROF__SEGMENT_SUMMARY_HALVES], *top, open[PROF__SEGMENT_SUMMARY_DEPTH + 1];
} prof__segment_summarizer;

static void prof__segment_summary_begin(prof__segment_summarizer *o, uint64_t base)
{
    memset(&o->sum, 0, sizeof o->sum);
    o->base = base;
    o->good = PROF__SEGMENT_SUMMARIES && base <= ~(uint64_t)0 - PROF__TICK_MASK;
    o->ticks = 0;
    o->takes_data = 0;
    o->data = 0;
    o->next = 0;
    o->top = o->open;
    o->top->site = PROF__NONE32; /* no END has this site, so none closes open[0] */
}

/* Updates the greatest depth. high: the innermost scope that was open since the last update. */
static inline void prof__segment_summary_level(prof__segment_summarizer *o, const prof__read_half *high)
{
    int32_t deepest = (int32_t)(high - o->open) - (int32_t)o->sum.ends;
    if (deepest > o->sum.deepest) o->sum.deepest = deepest;
}

/* Notes the END of a scope that did not begin in this segment. Returns 0 if the END may belong to a scope of this
   segment, which a summary cannot show. */
static int prof__segment_summary_half(prof__segment_summarizer *o, uint32_t site, uint64_t ticks,
                                      const prof__read_half *top, const prof__read_half *high)
{
    prof__read_half *end = &o->ends[o->sum.ends];
    if (top != o->open || o->sum.ends == PROF__SEGMENT_SUMMARY_HALVES) return 0;
    prof__segment_summary_level(o, high);
    memset(end, 0, sizeof *end);
    end->site = site;
    end->tick = o->base + ticks;
    o->sum.ends++;
    return 1;
}

/* Summarises the BEGINs and ENDs from this word on, as long as meta has their call sites. Most records are of these
   kinds. Returns the index of the word after them. */
static PROF__NOINLINE size_t prof__segment_summary_scopes(prof__segment_summarizer *o, const prof_trace *trace,
                                                       const uint64_t *words, size_t at, size_t count)
{
    const uint32_t *sites = trace->site_ids;
    size_t site_count = trace->site_id_count;
    prof__read_half *top = o->top, *high = top;
    uint64_t ticks = o->ticks;
    for (; at < count; at++) {
        uint64_t head = words[at], now = head & PROF__TICK_MASK;
        unsigned kind = prof__read_kind(head);
        uint32_t id = prof__read_id(head), site;
        if (kind - PROF__KIND_BEGIN > PROF__KIND_END - PROF__KIND_BEGIN || id >= site_count) break;
        site = sites[id];
        if (site == PROF__NONE32) break;
        if (now > ticks)
            ticks = now;
        else if (PROF__UNLIKELY(ticks - now > o->behind))
            o->jumps = 1;
        if (kind == PROF__KIND_BEGIN) {
            if (PROF__UNLIKELY(top == o->open + PROF__SEGMENT_SUMMARY_DEPTH)) {
                o->good = 0;
                top = o->open;
            }
            o->sum.nodes++;
            ++top;
            top->site = site;
            top->word = (uint32_t)at;
            top->args = 0;
            if (top > high) high = top;
        } else if (PROF__LIKELY(top->site == site)) {
            --top;
        } else {
            o->good &= prof__segment_summary_half(o, site, ticks, top, high);
            top = high = o->open;
        }
    }
    prof__segment_summary_level(o, high);
    o->ticks = ticks;
    o->top = top;
    o->takes_data = 0;
    o->data = 0;
    return at;
}

/* Counts an argument of the innermost scope. Returns 0 if the argument may belong to another scope. */
static int prof__segment_summary_arg(prof__segment_summarizer *o, const prof_trace *trace, const uint64_t *record)
{
    uint32_t target = prof__read_arg_target(record);
    if (o->top == o->open || (target && prof__read_site_of(trace, target) != o->top->site)) return 0;
    o->sum.args++;
    if (++o->top->args > o->sum.most_args) o->sum.most_args = o->top->args;
    return 1;
}

/* Summarises any other record, as prof__read_match_words() would match it. */
static void prof__segment_summary_record(prof__segment_summarizer *o, const prof_trace *trace, const uint64_t *words,
                                      size_t at, size_t count)
{
    unsigned kind = prof__read_kind(words[at]);
    int shown = prof__read_shown(words + at);
    size_t length = prof__read_arg_words(words + at, count - at);
    if (at < o->next) return; /* the record is a value, counted with the key before it */
    o->sum.nodes += (uint32_t)shown;
    switch (kind) {
    case PROF__KIND_EVENT:
        if (prof__is_span((prof_event_type)prof__read_event_type(words + at))) o->sum.spans = 1;
        if (prof__read_event_type(words + at) == PROF_EVENT_LOG) o->sum.logs = 1;
        break;
    case PROF__KIND_NAME:
        if (prof__read_name_values(words[at], prof__record_words(words[at], count - at))) o->sum.logs = 1;
        break;
    case PROF__KIND_LOST: o->sum.lost += words[at] & PROF__TICK_MASK; break;
    case PROF__KIND_FRAME: o->good = 0; break; /* the matcher needs the first frame of each name */
    case PROF__KIND_ARG:
    case PROF__KIND_DATA:
        o->next = at + length;
        if (!prof__read_arg_whole(words + at, length) || (kind == PROF__KIND_DATA && !o->takes_data)) break;
        if (kind == PROF__KIND_ARG) {
            o->good &= prof__segment_summary_arg(o, trace, words + at);
            break;
        }
        o->sum.args++;
        if (++o->data > o->sum.most_args) o->sum.most_args = o->data;
        break;
    default: break;
    }
    o->takes_data = prof__read_takes_data(words[at], shown, o->takes_data);
    if (!prof__record_in(PROF__PARTS_OF_EVENT, words[at])) o->data = 0;
}

/* Stores the summary of a segment that has just ended. Without memory, the segment gets none. */
static void prof__segment_summary_keep(prof_trace *trace, prof__read_segment *segment, prof__segment_summarizer *o)
{
    size_t begins = (size_t)(o->top - o->open), count = o->sum.ends + begins;
    segment->depth = 0;
    if (!o->good || begins > PROF__SEGMENT_SUMMARY_HALVES || segment->record == ~(uint64_t)0) return;
    while (trace->half_capacity - trace->half_count < count)
        if (!prof__more_room(&trace->halves, &trace->half_capacity, sizeof *trace->halves)) return;
    if (trace->segment_summary_count >= INT32_MAX ||
        !PROF__ROOM(trace->segment_summaries, trace->segment_summary_capacity, trace->segment_summary_count))
        return;
    o->sum.half = trace->half_count;
    o->sum.begins = (uint32_t)begins;
    o->sum.tick = o->base + o->ticks;
    if (count) memcpy(trace->halves + trace->half_count, o->ends, o->sum.ends * sizeof *o->ends);
    if (begins) memcpy(trace->halves + trace->half_count + o->sum.ends, o->open + 1, begins * sizeof *o->open);
    trace->half_count += count;
    trace->segment_summaries[trace->segment_summary_count++] = o->sum;
    segment->depth = (int32_t)trace->segment_summary_count;
}

/* Matches a segment by its summary, with the same result as prof__read_match_words(). Returns 0, with nothing changed,
   if the segment has no summary or depends on what came before; -1 if there is no memory. */
static int prof__segment_summary_match(prof__read_matcher *m, uint32_t number)
{
    const prof__read_segment *segment = &m->trace->segments[m->track->segment + number];
    const prof__segment_summary *summary;
    const prof__read_half *half;
    uint32_t i;
    if (segment->depth <= 0 || segment->record < m->tick ||
        !m->track->about.event_count) /* the time of the track's first event is not in the summary */
        return 0;
    summary = &m->trace->segment_summaries[segment->depth - 1];
    if (summary->ends > m->depth) return 0;
    half = summary->ends + summary->begins ? &m->trace->halves[summary->half] : NULL;
    for (i = 0; i < summary->ends; i++)
        if (m->stack[m->depth - 1 - i].site != half[i].site) return 0;
    if ((int64_t)m->track->max_depth < (int64_t)m->depth + summary->deepest)
        m->track->max_depth = (size_t)((int64_t)m->depth + summary->deepest);
    for (i = 0; i < summary->ends; i++, half++) {
        m->tick = half->tick;
        prof__read_pop(m, 0);
    }
    for (i = 0; i < summary->begins; i++, half++) {
        if (!prof__read_push(m, half->site, number, half->word)) return -1;
        m->stack[m->depth - 1].args = half->args;
    }
    m->tick = summary->tick;
    m->nodes = summary->nodes;
    m->args = summary->args;
    m->track->about.event_count += summary->nodes;
    m->track->about.lost += summary->lost;
    if (summary->most_args > m->track->max_event_args) m->track->max_event_args = summary->most_args;
    if (summary->spans) m->trace->has_spans = 1;
    if (summary->logs) m->trace->has_logs = 1;
    return 1;
}

#endif /* PROF__READ_SEGMENT_SUMMARY_H */
