// html/large: PROF_HTML_LARGE: reports of traces with more events than a page can show. Such a report has all events of
// a window, and an outline of the rest. The time of the trace is divided into 64 to 4096 parts. Outside of the window,
// a scope that is as long as a part is written as usual. Shorter scopes that follow each other become a group for each
// depth. A group reaches from its first scope to its last one, has the name of the longest, and says how many scopes
// there are and how long they took. So the size of an outline does not depend on the length of the trace.
#ifndef PROF__HTML_LARGE_H
#define PROF__HTML_LARGE_H
#include "api/read.h"
#include "api/reports.h"
#include "api/values.h"
#include "ground/errors.h"
#include "ground/out.h"
#include "html/events.h"
#include "html/pack.h"
#include "read/records.h"

#ifdef PROF_HTML_LARGE
/*-- outlines of large traces --*/

#define PROF__HTML_MOST_EVENTS 50000000u
#define PROF__HTML_GROUP 4u /* a flag of kinds, next to PROF_TRUNCATED_BEGIN and _END */

/* Returns a time such that `most` events, or a few less, come between it and `end`. */
static int64_t prof__html_last(prof__html *h, int64_t end, uint64_t most)
{
    int64_t from = 0, to = end + 1; /* the time to be found lies between these */
    uint64_t *counts = h->counts, later = 0, in_part = 0;
    for (int round = 0; round < 5; ++round) {
        int64_t width = (to - from) / PROF__HTML_PARTS + 1;
        prof_event event;
        size_t part = PROF__HTML_PARTS;
        memset(counts, 0, sizeof h->counts);
        for (size_t i = 0; prof_trace_track(h->trace, i) && h->out.status == PROF_OK; ++i) {
            prof_cursor *cursor;
            prof_status status = prof_cursor_open(h->trace, i, &cursor);
            if (status) prof__out_fail(&h->out, status);
            else {
                while (prof_cursor_next(cursor, &event))
                    if (event.start_ns >= from && event.start_ns < to) ++counts[(event.start_ns - from) / width];
                prof_cursor_close(cursor);
            }
        }
        while (part && later + counts[part - 1] <= most) later += counts[--part];
        if (!part) return from;
        in_part = counts[part - 1];
        to = from + (int64_t)part * width < to ? from + (int64_t)part * width : to;
        from += (int64_t)(part - 1) * width;
        if (in_part <= most / 8 + 1 || width == 1) break; /* exact enough */
    }
    return to;
}

/* Chooses the window and the length of a part. With limits.events 0, the whole trace is written. */
static void prof__html_choose(prof__html *h)
{
    const prof_trace_info *about = prof_trace_about(h->trace);
    int64_t end = about->duration_ns < 0 ? 0 : about->duration_ns;
    size_t tracks = prof_trace_track_count(h->trace), parts = PROF__HTML_PARTS;
    if (!h->limits.events) return;
    h->outlined = 1;
    h->window_from = h->limits.from_ns;
    h->window_to = h->limits.to_ns > 0 ? h->limits.to_ns : end + 1;
    if (h->limits.to_ns <= 0 && !h->limits.from_ns) h->window_from = prof__html_last(h, end, h->limits.events / 2);
    /* a track has some ten depths, and each depth may have a group in each part */
    while (parts > 64 && (uint64_t)parts * tracks * 20 > h->limits.events) parts /= 2;
    h->part = end / (int64_t)parts + 1;
    h->window_from += h->offset;
    h->window_to += h->offset;
    prof__html_about_number(h, "window_from_ns", (uint64_t)h->window_from);
    prof__html_about_number(h, "window_to_ns", (uint64_t)h->window_to);
    prof__html_about_number(h, "part_ns", (uint64_t)h->part);
}

/* Writes the groups that are open, the outermost first, and closes them. */
static void prof__html_groups_end(prof__html *h)
{
    int no_args = h->options.no_args;
    size_t depths = h->group_depths;
    h->group_depths = 0;
    h->options.no_args = 0; /* a group's arguments are ours, not the program's, so they stay */
    for (size_t i = 0; i < depths; ++i) {
        prof__html_group group = h->levels[h->group_first + i].group;
        prof_event event;
        prof_arg args[2];
        if (!group.count) continue;
        memset(&event, 0, sizeof event);
        memset(args, 0, sizeof args);
        args[0].key = "calls";
        args[0].value.as.u = group.count;
        args[1].key = "busy_ns";
        args[1].value.as.u = group.busy;
        args[0].value.type = args[1].value.type = PROF_VALUE_UINT;
        event.site = group.site;
        event.name = group.site->name;
        event.depth = (uint32_t)(h->group_first + i);
        event.flags = group.count > 1 ? PROF__HTML_GROUP : 0;
        event.duration_ns = group.end - group.start;
        event.args = args;
        event.arg_count = group.count > 1 ? 2 : 0;
        prof__html_scope(h, &event, group.start);
    }
    h->options.no_args = no_args;
}

/* Adds a scope to the group of its depth. The outermost group ends at the end of a part of the trace, and the groups
   inside it end with it. */
static void prof__html_group_add(prof__html *h, const prof_event *event, int64_t start)
{
    size_t depth = event->depth;
    prof__html_group *group;
    if (h->group_depths && (depth < h->group_first || (depth == h->group_first && start >= h->group_until)))
        prof__html_groups_end(h);
    if (!prof__html_level_of(h, depth)) {
        prof__out_fail(&h->out, prof__fail(PROF_NO_MEMORY, "no memory for scopes of depth %lu", (unsigned long)depth));
        return;
    }
    if (!h->group_depths) {
        h->group_first = depth;
        h->group_until = (start / h->part + 1) * h->part;
    }
    for (; h->group_first + h->group_depths <= depth; ++h->group_depths)
        memset(&h->levels[h->group_first + h->group_depths].group, 0, sizeof *group);
    group = &h->levels[depth].group;
    if (!group->count++) group->start = start;
    group->end = start + event->duration_ns;
    group->busy += (uint64_t)event->duration_ns;
    if (group->site && event->duration_ns <= group->longest) return;
    group->longest = event->duration_ns;
    group->site = event->site;
}

/* Returns 1 for the first event of its kind in a part of the trace, such as a counter sample, mark or message, and for
   a frame that is at least 1/64 of a part long. Returns 0 for others, and for events such as allocations that only mean
   something all together. */
static int prof__html_sparse(prof__html *h, const prof_event *event, int64_t start)
{
    unsigned group = prof__event_group(event->type);
    uint64_t *last, part = (h->track + 1) * 65536 + (uint64_t)(start / h->part);
    if (event->type == PROF_EVENT_FRAME && event->duration_ns >= h->part / 64) return 1;
    if (group != PROF__GROUP_FRAME && group != PROF__GROUP_MARK && group != PROF__GROUP_COUNTER &&
        group != PROF__GROUP_LOST && group != PROF__GROUP_MESSAGE)
        return 0;
    last = &h->last_parts[prof__html_kind_of(h, event->site, event->name, event->depth,
                                            (uint32_t)event->type | (event->flags & 3) << 8) %
                          PROF__HTML_PARTS];
    if (*last == part) return 0;
    *last = part;
    return 1;
}

/* Returns 1 if an event is to be written as it is. Else leaves it out, or adds it to a group, and returns 0. */
static int prof__html_outlined(prof__html *h, const prof_event *event, int64_t start)
{
    int scope = event->type == PROF_EVENT_SCOPE, in_group = h->group_depths && event->depth > h->group_first;
    int64_t end = scope ? start + event->duration_ns : start;
    if (start < h->window_to && end >= h->window_from) {
        if (scope) prof__html_groups_end(h);
        return 1;
    }
    if (!scope) return prof__html_sparse(h, event, start);
    if (event->duration_ns < h->part || in_group) {
        prof__html_group_add(h, event, start);
        return 0;
    }
    prof__html_groups_end(h);
    return 1;
}

/* Returns 1 if a span reaches into the window, or is at least as long as a part of the trace. */
static int prof__html_span_wanted(prof__html *h, const prof_span *span)
{
    int64_t start = span->start_ns + h->offset, end = start + span->duration_ns;
    return (start < h->window_to && end >= h->window_from) || (!span->mark && span->duration_ns >= h->part);
}

/* Writes what threads did in the calls of each path, as blocks of the kind R: a row for each row of G, if any is
   known. */
static void prof__html_splits(prof__html *h, const prof_stat *stats, size_t count)
{
    size_t i;
    int any = 0;
    for (i = 0; i < count; ++i) any |= stats[i].unknown_ns < stats[i].total_ns;
    for (i = 0; any && i < count; ++i) {
        prof__html_u(&h->rows, stats[i].running_ns);
        prof__html_u(&h->rows, stats[i].ready_ns);
        prof__html_u(&h->rows, stats[i].waiting_ns);
        if (h->rows.size >= PROF__HTML_COLUMN) prof__html_block1(h, 'R', &h->rows);
    }
    prof__html_block1(h, 'R', &h->rows);
}

/* Writes the statistics of all scopes by call path, as blocks of the kind G. So the page has figures of the scopes that
   an outline leaves out. */
static void prof__html_statistics(prof__html *h)
{
    prof__html_bytes *to = &h->rows;
    prof_stat *stats = NULL;
    size_t count = 0;
    prof_status status = prof_stats_by_path(h->trace, PROF_SORT_TOTAL, 0, &stats, &count);
    if (status) prof__out_fail(&h->out, status);
    for (size_t i = 0; i < count; ++i) {
        const prof_stat *stat = &stats[i];
        uint64_t last = 0;
        prof__html_u(to, stat->parent == PROF_NO_PARENT ? 0 : stat->parent + 1);
        prof__html_u(to, prof__html_kind_of(h, stat->site, stat->name, 0, PROF_EVENT_SCOPE));
        prof__html_u(to, stat->count);
        prof__html_u(to, stat->truncated);
        prof__html_u(to, stat->total_ns);
        prof__html_u(to, stat->self_ns);
        prof__html_u(to, (uint64_t)(stat->share * 1e9 + 0.5));
        prof__html_u(to, stat->min_ns);
        prof__html_u(to, stat->max_ns);
        prof__html_u(to, stat->bucket_count);
        for (size_t k = 0; k < stat->bucket_count; ++k) {
            prof__html_u(to, stat->buckets[k].from_ns - last);
            prof__html_u(to, stat->buckets[k].count);
            last = stat->buckets[k].from_ns;
        }
        if (to->size >= PROF__HTML_COLUMN) prof__html_rows_end(h, 'G');
    }
    prof__html_rows_end(h, 'G');
    prof__html_splits(h, stats, count);
    prof_stats_free(stats);
}
#endif

#endif /* PROF__HTML_LARGE_H */
