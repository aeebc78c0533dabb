// layouts/why_calls: Chooses what prof_why() explains: the name, if none is given, and the slowest of its calls.
#ifndef PROF__LAYOUTS_WHY_CALLS_H
#define PROF__LAYOUTS_WHY_CALLS_H
#include "api/read.h"
#include "api/reports.h"
#include "api/values.h"
#include "ground/errors.h"
#include "ground/hash.h"
#include "ground/text.h"
#include "read/spans.h"
#include "layouts/api.h"
#include "layouts/why_names.h"

/* A call that is explained. */
typedef struct prof__why_call {
    prof_why_call about;
    uint64_t score;  /* the calls with the highest ones are explained */
    char *text;      /* owned: a name that was made at run time; else NULL */
    size_t wait_room, inner_room, ran_room, counter_room, device_room;
    prof_why_wait *waits;
    prof_why_inner *inner;
    size_t *inner_names; /* of each of these: the number of its name, or PROF__NONE */
    size_t inner_name_count, inner_name_room;
    prof__read_index inner_index;
    prof_why_ran *ran;
    struct prof__why_moved *moved; /* of each counter of the recording */
    size_t moved_count, moved_room;
    prof_why_counter *counters;
    prof_why_message *messages;
    prof_why_device *devices;
} prof__why_call;

typedef struct prof__why {
    const prof_trace *trace;
    prof_why_options options;
    prof__why_names names;
    prof__why_sweep sweep;
    size_t wanted; /* the number of the name that is explained; PROF__NONE: any scope that is going on at options.at_ns,
                      or scopes whose run-time name is options.name */
    int spans;     /* 1: some frames or scopes are spans */
    prof__why_call *calls;
    size_t count, room, most;
    prof__why_times all; /* the calls of this name */
    size_t track; /* the present one */
    prof_wait *waits;
    size_t wait_count;
    char **texts; /* of messages and the like */
    size_t text_count, text_room;
    const char **others; /* see prof_why_report */
    struct prof__why_counter *counters;
    size_t counter_count, counter_room;
    prof__read_index counter_index;
} prof__why;

/* Calls step for all events of a track. */
static prof_status prof__why_track(prof__why *why, size_t track, int (*step)(prof__why *why, const prof_event *event))
{
    prof_cursor *cursor;
    prof_event event;
    int good = 1;
    prof_status status = prof_cursor_open(why->trace, track, &cursor), closed;
    if (status) return status;
    why->track = track;
    prof__why_sweep_start(&why->sweep);
    while (good && prof_cursor_next(cursor, &event)) good = step(why, &event);
    closed = prof_cursor_close(cursor);
    good = good && (!why->sweep.ended || prof__why_sweep_to(&why->sweep, INT64_MAX));
    return good ? closed : prof__report_no_memory();
}

static prof_status prof__why_tracks(prof__why *why, int (*step)(prof__why *why, const prof_event *event))
{
    prof_status status = PROF_OK;
    size_t i;
    for (i = 0; !status && i < prof_trace_track_count(why->trace); i++) status = prof__why_track(why, i, step);
    return status;
}

/* Calls step for all frames and scopes that are spans. */
static prof_status prof__why_spans(prof__why *why, int (*step)(prof__why *why, const prof_span *span, int frame))
{
    prof_spans *spans;
    prof_span span;
    int good = 1;
    prof_status status = why->spans ? prof_spans_open(why->trace, &spans) : PROF_OK, closed;
    if (status || !why->spans) return status;
    while (good && prof_spans_next(spans, &span)) {
        int frame = span.site->role == PROF_ROLE_FRAME;
        if (!span.mark && (frame || prof__span_of_scope(span.site))) good = step(why, &span, frame);
    }
    closed = prof_spans_close(spans);
    return good ? closed : prof__report_no_memory();
}

/*-- the first walk: how long do scopes and frames take? --*/

static int prof__why_survey_ended(void *user, const prof__why_open *scope)
{
    prof__why *why = (prof__why *)user;
    return scope->flags || prof__why_time(&why->names.items[scope->name].self, scope->self);
}

static int prof__why_survey(prof__why *why, const prof_event *event)
{
    int frame = event->type == PROF_EVENT_FRAME;
    size_t name;
    if (event->type == PROF_EVENT_SPAN_BEGIN &&
        (event->site->role == PROF_ROLE_FRAME || prof__span_of_scope(event->site)))
        why->spans = 1;
    if (event->type != PROF_EVENT_SCOPE && !(frame && event->duration_ns)) return 1;
    if (event->site->role == PROF_ROLE_WAIT) return 1;
    name = prof__why_name_of(&why->names, event->site, event->name, frame);
    if (name == PROF__NONE) return 0;
    if (!event->flags && !prof__why_time(&why->names.items[name].wall, (uint64_t)event->duration_ns)) return 0;
    return frame || prof__why_sweep_into(&why->sweep, event, name);
}

static int prof__why_survey_span(prof__why *why, const prof_span *span, int frame)
{
    size_t name = prof__why_name_of(&why->names, span->site, span->name, frame);
    if (name == PROF__NONE) return 0;
    return span->flags || prof__why_time(&why->names.items[name].wall, (uint64_t)span->duration_ns);
}

/*-- the choice --*/

/* Returns the number of the frames, or steps, that differ most, or PROF__NONE. */
static size_t prof__why_choose_frames(const prof__why_names *names, int steps)
{
    size_t best = PROF__NONE, i;
    for (i = 0; i < names->count; i++) {
        const prof__why_name *name = &names->items[i], *other = best == PROF__NONE ? NULL : &names->items[best];
        if (!(steps ? name->step : name->frame) || !name->wall.count) continue;
        if (!other || name->wall.most - name->wall_median > other->wall.most - other->wall_median) best = i;
    }
    return best;
}

/* Returns 1 if a row of statistics is of a scope that threads do again and again, and none around it is. */
static int prof__why_again(const prof_stat *stats, size_t i)
{
    uint64_t calls = stats[i].count - stats[i].truncated;
    size_t at;
    if (calls < 2 || calls <= stats[i].threads) return 0;
    for (at = stats[i].parent; at != PROF_NO_PARENT; at = stats[at].parent)
        if (stats[at].count - stats[at].truncated > stats[at].threads) return 0;
    return 1;
}

/* Chooses among the outermost scopes that are called again and again the one whose slowest call differs most from its
   median; without any, the outermost scope that took longest. */
static prof_status prof__why_choose_scopes(prof__why *why)
{
    prof_stat *stats;
    const char *best = NULL;
    uint64_t most = 0;
    size_t count, i;
    int again;
    prof_status status = prof_stats_by_path(why->trace, PROF_SORT_TOTAL, 0, &stats, &count);
    if (status) return status;
    for (again = 1; again >= 0 && !best; again--)
        for (i = 0; i < count; i++) {
            uint64_t score = again ? stats[i].max_ns - stats[i].p50_ns : stats[i].max_ns;
            int fits = again ? prof__why_again(stats, i) : stats[i].parent == PROF_NO_PARENT;
            if (!fits || stats[i].site->role == PROF_ROLE_WAIT || stats[i].site->role == PROF_ROLE_DEVICE) continue;
            if (best && score <= most) continue;
            best = stats[i].name;
            most = score;
        }
    if (best) why->wanted = prof__why_find(&why->names, best, 0);
    prof_stats_free(stats);
    return status;
}

/* Returns PROF_OK if the recording has the frames, or steps, that are asked for. */
static prof_status prof__why_has(const prof__why *why)
{
    if ((why->options.frame || why->options.kind == PROF_WHY_FRAMES) &&
        prof__why_choose_frames(&why->names, 0) == PROF__NONE)
        return prof__fail(PROF_INVALID_ARGUMENT, "the recording has no frames: PROFILE_FRAME(name) marks them");
    if ((why->options.step || why->options.kind == PROF_WHY_STEPS) &&
        prof__why_choose_frames(&why->names, 1) == PROF__NONE)
        return prof__fail(PROF_INVALID_ARGUMENT, "the recording has no steps: PROFILE_STEP(name, number) marks them");
    return PROF_OK;
}

/* Finds the name that is explained. */
static prof_status prof__why_choose(prof__why *why)
{
    const char *name = why->options.name;
    int frames = why->options.frame || why->options.kind == PROF_WHY_FRAMES;
    int steps = why->options.step || why->options.kind == PROF_WHY_STEPS;
    size_t i;
    prof_status status;
    why->wanted = PROF__NONE;
    for (i = 0; i < why->names.count; i++) {
        why->names.items[i].wall_median = prof__why_median(&why->names.items[i].wall);
        why->names.items[i].self_median = prof__why_median(&why->names.items[i].self);
    }
    status = prof__why_has(why);
    if (status) return status;
    if (name) {
        if (!frames) why->wanted = prof__why_find(&why->names, name, 0);
        if (steps && why->wanted != PROF__NONE && !why->names.items[why->wanted].step) why->wanted = PROF__NONE;
        if (why->wanted == PROF__NONE && !steps) why->wanted = prof__why_find(&why->names, name, 1);
        return PROF_OK;
    }
    why->wanted = prof__why_choose_frames(&why->names, steps);
    if (why->wanted != PROF__NONE || why->options.at) return PROF_OK;
    return prof__why_choose_scopes(why);
}

/*-- the second walk: the calls --*/

/* Puts a call among those that are explained, if its score is high enough. Of equal ones the first comes first. Returns
   0 without memory. */
static int prof__why_put(prof__why *why, const prof__why_call *call, const char *text)
{
    size_t at = why->count;
    char *own = NULL;
    if (at == why->most && why->calls[at - 1].score >= call->score) return 1;
    if (text && !(own = prof__text_join(text, ""))) return 0;
    if (at == why->most)
        free(why->calls[--why->count].text);
    else if (!PROF__ROOM(why->calls, why->room, at)) {
        free(own);
        return 0;
    }
    for (at = why->count++; at && why->calls[at - 1].score < call->score; at--) why->calls[at] = why->calls[at - 1];
    why->calls[at] = *call;
    why->calls[at].text = own;
    if (own) why->calls[at].about.name = own;
    return 1;
}

/* Looks at a call of a name: is it to be explained? own: its name at run time; number: that of a frame; event: NULL
   for a span. */
static int prof__why_offer(prof__why *why, size_t name, const prof_callsite *site, const char *own, uint64_t number,
                           const prof__why_call *call, const prof_event *event)
{
    prof__why_call offered = *call;
    int64_t end = call->about.start_ns + (int64_t)call->about.split.wall_ns;
    uint64_t wall = call->about.split.wall_ns, usual = why->names.items[name].wall_median;
    int steps = why->options.step || why->options.kind == PROF_WHY_STEPS;
    if (why->wanted != PROF__NONE ? name != why->wanted
                                  : why->options.frame || why->options.kind != PROF_WHY_ANY || steps ||
                                        (why->options.name && strcmp(own, why->options.name)))
        return 1;
    if (steps && !call->about.step) return 1;
    if (!call->about.flags && !prof__why_time(&why->all, wall)) return 0;
    if (why->options.frame && number != why->options.frame) return 1;
    if (why->options.step && call->about.step_number != why->options.step_number) return 1;
    if (why->options.at && (call->about.start_ns > why->options.at_ns || end <= why->options.at_ns)) return 1;
    if (event)
        prof_event_split(why->trace, why->track, event, &offered.about.split);
    else
        prof_track_split(why->trace, call->about.track, call->about.start_ns, end - call->about.start_ns,
                         &offered.about.split);
    offered.about.states = offered.about.split.unknown_ns < wall;
    offered.about.number = number;
    offered.about.name = why->names.items[name].text;
    offered.score = wall;
    if (why->wanted == PROF__NONE && !why->options.name) { /* what is called once is as long as its median */
        offered.score = why->names.items[name].wall.count < 2 ? 0 : wall > usual ? wall - usual + 1 : 1;
        if (offered.score) offered.score += usual / 128; /* medians are so exact: the outer one of two comes first */
    }
    return prof__why_put(why, &offered, own != site->name ? own : NULL);
}

/* Reads the number of a step from its arguments. */
static void prof__why_step_of(prof__why_call *call, const prof_callsite *site, const prof_arg *args, size_t count)
{
    if (site->role != PROF_ROLE_STEP) return;
    while (count) { /* the last of its kind counts */
        const prof_arg *arg = &args[--count];
        if (arg->value.type != PROF_VALUE_INT || strcmp(arg->key, "step_num")) continue;
        call->about.step = 1;
        call->about.step_number = arg->value.as.i;
        return;
    }
}

static int prof__why_gather(prof__why *why, const prof_event *event)
{
    int frame = event->type == PROF_EVENT_FRAME;
    prof__why_call call;
    size_t name;
    if (event->type != PROF_EVENT_SCOPE && !(frame && event->duration_ns)) return 1;
    if (event->site->role == PROF_ROLE_WAIT) return 1;
    name = prof__why_name_of(&why->names, event->site, event->name, frame);
    if (name == PROF__NONE) return 0;
    memset(&call, 0, sizeof call);
    call.about.track = why->track;
    call.about.flags = event->flags;
    call.about.start_ns = frame ? event->start_ns - event->duration_ns : event->start_ns;
    call.about.split.wall_ns = (uint64_t)event->duration_ns;
    prof__why_step_of(&call, event->site, event->args, event->arg_count);
    return prof__why_offer(why, name, event->site, event->name, frame ? event->detail : 0, &call, event);
}

static int prof__why_gather_span(prof__why *why, const prof_span *span, int frame)
{
    size_t name = prof__why_name_of(&why->names, span->site, span->name, frame);
    prof__why_call call;
    if (name == PROF__NONE) return 0;
    memset(&call, 0, sizeof call);
    call.about.track = span->end_track;
    call.about.flags = span->flags;
    call.about.start_ns = span->start_ns;
    call.about.split.wall_ns = (uint64_t)span->duration_ns;
    prof__why_step_of(&call, span->site, span->args, span->arg_count);
    return prof__why_offer(why, name, span->site, span->name, span->number, &call, NULL);
}

/* Says what was asked for and is not there. */
static prof_status prof__why_none(const prof__why *why)
{
    const prof_why_options *options = &why->options;
    int frames = options->frame || options->kind == PROF_WHY_FRAMES;
    int steps = options->step || options->kind == PROF_WHY_STEPS;
    const char *what = frames ? "frame" : steps ? "step" : "scope or frame";
    const char *nearest = options->name ? prof__why_nearest(&why->names, options->name, frames, steps) : NULL;
    const char *name = why->wanted == PROF__NONE ? "scope" : why->names.items[why->wanted].text;
    if (options->name && !why->all.count && why->wanted == PROF__NONE)
        return nearest ? prof__fail(PROF_INVALID_ARGUMENT, "no %s is called '%.60s': did you mean '%.60s'?", what,
                                    options->name, nearest)
                       : prof__fail(PROF_INVALID_ARGUMENT, "no %s is called '%.60s': there are none", what,
                                    options->name);
    if (options->frame)
        return prof__fail(PROF_INVALID_ARGUMENT, "there is no frame %llu of '%.60s'%s",
                          (unsigned long long)options->frame, name,
                          options->at ? " at this time" : ": it was not recorded, or is overwritten");
    if (options->step)
        return prof__fail(PROF_INVALID_ARGUMENT, "there is no step %lld of '%.60s'%s", (long long)options->step_number,
                          name, options->at ? " at this time" : ": it was not recorded, or is overwritten");
    if (options->at)
        return prof__fail(PROF_INVALID_ARGUMENT, "no %.60s was going on at %.3f ms: the recording has %.3f ms", name,
                          (double)options->at_ns / 1e6, (double)prof_trace_about(why->trace)->duration_ns / 1e6);
    return prof__fail(PROF_INVALID_ARGUMENT, "the recording has no scopes and no frames");
}

/* Finds the calls that are explained. */
static prof_status prof__why_calls(prof__why *why)
{
    prof_status status;
    why->sweep.user = why;
    why->sweep.ended = prof__why_survey_ended;
    status = prof__why_tracks(why, prof__why_survey);
    if (!status) status = prof__why_spans(why, prof__why_survey_span);
    if (!status) status = prof__why_choose(why);
    why->sweep.ended = NULL;
    if (!status) status = prof__why_tracks(why, prof__why_gather);
    if (!status) status = prof__why_spans(why, prof__why_gather_span);
    return status || why->count ? status : prof__why_none(why);
}

#endif /* PROF__LAYOUTS_WHY_CALLS_H */
