/* What a trace holds, one fact a line, for scripts to compare. Build: cc -I. facts.c -o facts, run: facts FILE.prof

     trace   NAME VALUE
     track   TRACK EVENTS LOST NAME
     scope   TRACK CALLS TRUNCATED LEAST-DEPTH GREATEST-DEPTH FILE FUNCTION NAME
     inside  TRACK CALLS NAME-OF-THE-SCOPE-AROUND NAME
     frame, mark, counter   TRACK EVENTS NAME
     broken  TRACK what is wrong: events out of order, a scope that reaches out of the one around it, ...

   Columns are separated by tabs. */
#define PROF_IMPLEMENTATION
#include "prof_read.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FACTS = 1 << 16, MAX_DEPTH = 1 << 16 };

/* Events of one call site inside another, on one track. */
typedef struct fact {
    prof_event_type type;
    size_t track;
    const prof_callsite *parent, *site;
    uint64_t count, truncated;
    uint32_t least_depth, greatest_depth;
} fact;

typedef struct scope {
    const prof_callsite *site;
    int64_t end_ns;
} scope;

static fact facts[MAX_FACTS];
static size_t fact_count;
static scope open_scopes[MAX_DEPTH];

static fact *fact_of(prof_event_type type, size_t track, const prof_callsite *parent, const prof_callsite *site)
{
    uint64_t hash = ((uintptr_t)parent * 31 + (uintptr_t)site) * 0x9E3779B97F4A7C15u + (uint64_t)type * 77 + track;
    for (size_t i = (size_t)(hash >> 20);; ++i) {
        fact *f = &facts[i % MAX_FACTS];
        if (!f->site) {
            if (++fact_count == MAX_FACTS) {
                fprintf(stderr, "facts: too many pairs of scopes\n");
                exit(1);
            }
            f->type = type;
            f->track = track;
            f->parent = parent;
            f->site = site;
            f->least_depth = UINT32_MAX;
        }
        if (f->type == type && f->track == track && f->parent == parent && f->site == site) return f;
    }
}

static void broken(size_t track, const prof_event *event, const char *what)
{
    printf("broken\t%zu\t%s: %s at %" PRId64 " ns\n", track, event->name, what, event->start_ns);
}

static void check_scope(size_t track, const prof_event *event, uint32_t depth)
{
    const scope *around = event->depth ? &open_scopes[event->depth - 1] : NULL;
    if (event->depth > depth) broken(track, event, "deeper than one more");
    if (event->duration_ns < 0) broken(track, event, "negative duration");
    if (around && event->start_ns + event->duration_ns > around->end_ns) broken(track, event, "ends after its parent");
}

static int read_track(const prof_trace *trace, size_t track)
{
    prof_cursor *cursor;
    prof_event event;
    uint32_t depth = 0;
    int64_t before = 0;
    uint64_t count = 0;
    if (prof_cursor_open(trace, track, &cursor)) return 0;
    for (; prof_cursor_next(cursor, &event); ++count) {
        const prof_callsite *parent = NULL;
        fact *f;
        if (event.start_ns < before) broken(track, &event, "before the event in front of it");
        before = event.start_ns;
        if (event.depth >= MAX_DEPTH) {
            broken(track, &event, "too deep");
            break;
        }
        if (event.depth > depth) broken(track, &event, "inside a scope that isn't there");
        if (event.type == PROF_EVENT_SCOPE) {
            check_scope(track, &event, depth);
            if (event.depth) parent = open_scopes[event.depth - 1].site;
            open_scopes[event.depth].site = event.site;
            open_scopes[event.depth].end_ns = event.start_ns + event.duration_ns;
            depth = event.depth + 1;
        }
        f = fact_of(event.type, track, parent, event.site);
        ++f->count;
        if (event.depth < f->least_depth) f->least_depth = event.depth;
        if (event.depth > f->greatest_depth) f->greatest_depth = event.depth;
        if (event.type == PROF_EVENT_SCOPE && event.flags) ++f->truncated;
    }
    prof_cursor_close(cursor);
    if (count != prof_trace_track(trace, track)->event_count) printf("broken\t%zu\tevent count\n", track);
    return 1;
}

/* Sums up the calls of a scope over the scopes around it. */
static void print_scope(const fact *first)
{
    uint64_t count = 0, truncated = 0;
    uint32_t least = UINT32_MAX, greatest = 0;
    for (size_t i = 0; i < MAX_FACTS; ++i)
        if (facts[i].site == first->site && facts[i].type == PROF_EVENT_SCOPE && facts[i].track == first->track) {
            if (&facts[i] < first) return; /* printed with that one */
            count += facts[i].count;
            truncated += facts[i].truncated;
            if (facts[i].least_depth < least) least = facts[i].least_depth;
            if (facts[i].greatest_depth > greatest) greatest = facts[i].greatest_depth;
        }
    printf("scope\t%zu\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu32 "\t%" PRIu32 "\t%s\t%s\t%s\n", first->track, count,
           truncated, least, greatest, first->site->file, first->site->function, first->site->name);
}

static void print_fact(const fact *f)
{
    static const char *const words[] = {"inside", "mark", "counter", "frame", "lost"};
    if (f->type == PROF_EVENT_SCOPE)
        printf("inside\t%zu\t%" PRIu64 "\t%s\t%s\n", f->track, f->count, f->parent ? f->parent->name : "",
               f->site->name);
    else
        printf("%s\t%zu\t%" PRIu64 "\t%s\n", words[f->type], f->track, f->count, f->site->name);
}

int main(int count, char **arguments)
{
    prof_trace *trace;
    const prof_trace_info *about;
    if (count != 2 || prof_trace_open(arguments[1], &trace)) {
        fprintf(stderr, "facts: %s\n", count == 2 ? prof_error() : "one file, please");
        return 1;
    }
    about = prof_trace_about(trace);
    printf("trace\tlost\t%" PRIu64 "\ntrace\tunmatched\t%" PRIu64 "\ntrace\tsites_lost\t%" PRIu64
           "\ntrace\toverwritten\t%" PRIu64 "\ntrace\tcomplete\t%d\ntrace\tevents\t%" PRIu64 "\ntrace\tclock\t%s\n",
           about->lost, about->unmatched, about->sites_lost, about->overwritten_chunks, about->complete,
           about->event_count, about->clock);
    for (size_t i = 0; i < prof_trace_track_count(trace); ++i) {
        const prof_track *track = prof_trace_track(trace, i);
        printf("track\t%zu\t%" PRIu64 "\t%" PRIu64 "\t%s\n", i, track->event_count, track->lost, track->name);
        if (!read_track(trace, i)) {
            fprintf(stderr, "facts: %s\n", prof_error());
            return 1;
        }
    }
    for (size_t i = 0; i < MAX_FACTS; ++i) {
        if (!facts[i].site) continue;
        if (facts[i].type == PROF_EVENT_SCOPE) print_scope(&facts[i]);
        print_fact(&facts[i]);
    }
    prof_trace_close(trace);
    return 0;
}
