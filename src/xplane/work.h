// xplane/work: Writes the work of accelerators as XProf counts it, and assigns it to steps.
#ifndef PROF__XPLANE_WORK_H
#define PROF__XPLANE_WORK_H
#include "api/read.h"
#include "api/types.h"
#include "api/values.h"
#include "ground/hash.h"
#include "ground/out.h"
#include "xplane/bytes.h"
#include "xplane/events.h"
#include "xplane/names.h"
#include "xplane/state.h"
#include "xplane/stats.h"

/*-- accelerators: their work is written like that of XProf's own GPUs, so that XProf counts it. XProf only counts work
     that belongs to a step. So work to which no flow leads is assigned to the step during which it began. --*/

static int prof__xplane_by_start(const void *a, const void *b)
{
    const prof__xplane_step *x = (const prof__xplane_step *)a, *y = (const prof__xplane_step *)b;
    if (x->start != y->start) return x->start < y->start ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* Returns the step that was open at this moment; of several, the last to begin. Returns NULL if there is none. */
static const prof__xplane_step *prof__xplane_step_at(const prof__xplane *x, int64_t moment)
{
    size_t low = 0, high = x->step_count, tries;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (x->steps[middle].start <= moment)
            low = middle + 1;
        else
            high = middle;
    }
    for (tries = 0; low && tries < PROF__XPLANE_FRAMES; tries++)
        if (x->steps[--low].end > moment) return &x->steps[low];
    return NULL;
}

/* Makes the step that is held back the producer of a flow, whose consumer is the work of an accelerator. */
static void prof__xplane_producer(prof__xplane *x)
{
    prof__xplane_track *track = &x->tracks[x->track];
    size_t number = track->step_first + track->step_next++;
    if (!x->writing) {
        const char *text = x->held.id ? x->names[x->held.id - 1].text : NULL;
        char *copy = text ? prof__text_join(text, "") : NULL;
        if ((text && !copy) || !PROF__ROOM(x->steps, x->step_capacity, x->step_count)) {
            free(copy);
            x->status = PROF_NO_MEMORY;
            return;
        }
        x->steps[x->step_count].start = x->held.start;
        x->steps[x->step_count].end = x->held.start + x->held.duration;
        x->steps[x->step_count].site = x->held.site;
        x->steps[x->step_count].track = x->track;
        x->steps[x->step_count].text = copy;
        x->steps[x->step_count++].number = number;
    }
    x->held.flow = 1;
    prof__xplane_put_int(x, &x->stats, PROF__STAT_OUT_TYPE, 0);
    prof__xplane_put_uint(x, &x->stats, PROF__STAT_OUT, PROF__XPLANE_STEPS + number);
}

static void prof__xplane_consumer(prof__xplane *x, prof__xplane_bytes *stats, const prof__xplane_step *step)
{
    prof__xplane_put_int(x, stats, PROF__STAT_IN_TYPE, 0);
    prof__xplane_put_uint(x, stats, PROF__STAT_IN, PROF__XPLANE_STEPS + step->number);
}

/* Adds to the work that is held back the stats by which XProf counts it. outer: 1: other work inside counts instead. */
static void prof__xplane_work(prof__xplane *x, int outer)
{
    const prof__xplane_held *held = &x->held;
    const prof__xplane_name *name = held->id ? &x->names[held->id - 1] : NULL;
    const char *row = prof_trace_track(x->trace, x->track)->name;
    const prof__xplane_step *step = held->flow ? NULL : prof__xplane_step_at(x, held->start);
    if (step) prof__xplane_consumer(x, &x->stats, step);
    if (outer) return;
    if (!held->launch) /* unlike that of other work */
        prof__xplane_put_uint(x, &x->stats, PROF__STAT_LAUNCH, (uint64_t)held->start + 1);
    if (!held->details) prof__xplane_stat_text(x, &x->stats, PROF__XEVENT_STAT, PROF__STAT_KERNEL, "not recorded");
    if (held->op || !name) return;
    x->text.size = 0;
    prof__xplane_spelled(x, name->text ? name->text : name->site->name);
    if (!x->text.size) prof__xplane_letters(&x->text, "(unnamed)");
    prof__xplane_add(&x->text, ":", 1);
    prof__xplane_type(&x->text, *row ? row : "row");
    prof__xplane_stat_letters(x, &x->stats, PROF__XEVENT_STAT, PROF__STAT_OP);
}

/* Sorts the steps, and gives each a row where it overlaps with no other. A step inside another step of its thread gets
   none. */
static void prof__xplane_step_places(prof__xplane *x)
{
    int64_t ends[PROF__XPLANE_FRAMES];
    size_t i, row;
    if (x->step_count) qsort(x->steps, x->step_count, sizeof *x->steps, prof__xplane_by_start);
    for (i = 0; i < x->step_count; i++) {
        prof__xplane_step *step = &x->steps[i];
        prof__xplane_track *track = &x->tracks[step->track];
        step->row = 0;
        if (step->end < track->step_end) continue;
        track->step_end = step->end + 1;
        for (row = 0; row < x->step_rows && ends[row] > step->start; row++) {
        }
        if (row == PROF__XPLANE_FRAMES) row--; /* too many at once: the last row has overlapping ones */
        if (row == x->step_rows) x->step_rows++;
        ends[row] = step->end;
        step->row = row + 1;
    }
}

/* Writes the host's steps on a line of an accelerator. XProf reads the times of steps from devices only. */
static void prof__xplane_walk_steps(prof__xplane *x, const prof__xplane_line *line)
{
    size_t i;
    for (i = 0; i < x->step_count; i++) {
        const prof__xplane_step *step = &x->steps[i];
        if (step->row != line->id) continue;
        x->point.size = 0;
        prof__xplane_consumer(x, &x->point, step);
        prof__xplane_emit(x, step->text ? prof__xplane_named(x, NULL, step->site, step->text, PROF__XPLANE_ROOT)
                                        : prof__xplane_site(x, step->site, PROF__XPLANE_ROOT),
                          step->start, step->end - step->start, &x->point);
    }
}

/* Writes the scope that was held back. If it is a step without a scope inside, adds one, because XProf would find no
   work in the step; a step inside it is no work. next: the event that follows, or NULL. */
static void prof__xplane_release(prof__xplane *x, const prof_event *next)
{
    prof__xplane_held *held = &x->held;
    const char *text;
    if (!held->held) return;
    held->held = 0;
    if (x->gpu) prof__xplane_work(x, next && next->type == PROF_EVENT_SCOPE && next->depth > held->depth);
    prof__xplane_emit_shorter(x, held->id, held->start, held->duration, held->shorter, &x->stats);
    if (!held->step) return;
    if (next && next->type == PROF_EVENT_SCOPE && next->depth > held->depth && next->duration_ns > 0 &&
        next->site->role != PROF_ROLE_STEP)
        return;
    text = held->id ? x->names[held->id - 1].text : NULL; /* the name of a step, if it was made at run time */
    prof__xplane_emit_shorter(x, text ? prof__xplane_named(x, NULL, held->site, text, PROF__XPLANE_STEP)
                                      : prof__xplane_site(x, held->site, PROF__XPLANE_STEP),
                              held->start, held->duration, held->shorter + (held->shorter < 999), NULL);
}

/* Holds a scope back until the next event is known: see prof__xplane_release(). */
static inline void prof__xplane_hold(prof__xplane *x, const prof_callsite *site, int64_t start, int64_t duration,
                                     uint32_t depth)
{
    prof__xplane_held *held = &x->held;
    held->held = 1;
    held->step = site->role == PROF_ROLE_STEP;
    held->flow = held->op = held->details = held->launch = 0;
    held->site = site;
    held->depth = depth;
    held->start = prof__xplane_time(start);
    held->duration = duration;
    held->shorter = prof__xplane_shorter(x, start, start + duration, depth);
    x->stats.size = 0;
}

/* Notes what the arguments of an accelerator's work say of it. Work with details of another kind is no kernel. */
static void prof__xplane_known(prof__xplane_held *held, const char *key)
{
    size_t length = strlen(key);
    int details = length > 8 && !strcmp(key + length - 8, "_details"), kernel = !strcmp(key, "kernel_details");
    held->launch |= !strcmp(key, "correlation_id");
    held->details |= details;
    held->op |= (details && !kernel) || !strcmp(key, "tf_op");
}

static void prof__xplane_scope(prof__xplane *x, const prof_event *event)
{
    prof__xplane_held *held = &x->held;
    uint32_t i;
    prof__xplane_hold(x, event->site, event->start_ns, event->duration_ns, event->depth);
    held->id = prof__xplane_name_of(x, &x->stats, event, held->step ? PROF__XPLANE_ROOT
                                                         : x->gpu   ? PROF__XPLANE_KERNEL
                                                                    : PROF__XPLANE_SCOPE);
    if (!(event->arg_count | event->flags | (uint32_t)held->step)) return;
    if (held->step) prof__xplane_put_int(x, &x->stats, PROF__STAT_ROOT, 1);
    if (held->step && x->accelerators) prof__xplane_producer(x);
    prof__xplane_args(x, &x->stats, event);
    for (i = 0; i < event->arg_count; i++) prof__xplane_known(held, event->args[i].key);
    prof__xplane_truncated(x, &x->stats, event->flags);
}

#endif /* PROF__XPLANE_WORK_H */
