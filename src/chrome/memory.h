// chrome/memory: Writes the live bytes of each pool as a counter and, if asked for, each allocation as an instant.
#ifndef PROF__CHROME_MEMORY_H
#define PROF__CHROME_MEMORY_H
#include "api/read.h"
#include "api/types.h"
#include "api/values.h"
#include "ground/errors.h"
#include "ground/hash.h"
#include "ground/json.h"
#include "ground/out.h"
#include "read/records.h"
#include "report/allocations.h"
#include "report/allocations_walk.h"
#include "chrome/args.h"
#include "chrome/line.h"
#include "chrome/numbers.h"
#include "chrome/state.h"

/*-- memory --*/

/* Writes an allocation or a free as an instant with its address and bytes. */
static void prof__chrome_memory_instant(prof__chrome *c, const prof__chrome_ids *ids, const prof_event *event)
{
    prof__out *out = &c->out;
    prof__chrome_begin(c, ids, event, ",\n{\"ph\":\"i\"", prof__chrome_time(event->start_ns));
    PROF__CHROME_LITERAL(out, ",\"s\":\"t\",\"args\":{\"address\":\"");
    prof__chrome_hex(out, event->object);
    PROF__CHROME_LITERAL(out, "\"");
    if (event->type == PROF_EVENT_ALLOC) {
        PROF__CHROME_LITERAL(out, ",\"bytes\":");
        if (event->detail > (uint64_t)PROF__CHROME_EXACT) PROF__CHROME_LITERAL(out, "\"");
        prof__out_unsigned(out, event->detail);
        if (event->detail > (uint64_t)PROF__CHROME_EXACT) PROF__CHROME_LITERAL(out, "\"");
    }
    PROF__CHROME_LITERAL(out, "}}");
}

/* The live bytes of a pool change with each allocation: more than a viewer can draw, and most of the file. So a
   curve is written in steps of a PROF__CHROME_STEPS-th of the time. Of a step it has the first and the last value, the
   lowest and the highest: a peak is never lost. */
#define PROF__CHROME_STEPS 5000

typedef struct prof__chrome_live {
    int64_t ns;
    uint64_t bytes;
} prof__chrome_live;

typedef struct prof__chrome_curve {
    prof__chrome_live first, low, high, last; /* of the step that is not written yet */
    int64_t end;                               /* of that step */
    int open;                                  /* 1: there is such a step */
} prof__chrome_curve;

typedef struct prof__chrome_curves {
    prof__chrome_curve *items; /* by the row of the pool */
    size_t count, pool;        /* pool: the one whose value at the time ns is not complete yet, or PROF__NONE */
    int64_t ns, step;          /* step 0: each value is written */
} prof__chrome_curves;

/* Writes a sample of the live bytes of a pool. */
static void prof__chrome_pool(prof__chrome *c, const prof__heap *heap, size_t pool, const prof__chrome_live *point)
{
    prof__out *out = &c->out;
    const char *name = heap->rows[pool].about.pool, *what = *name ? "memory: " : "memory";
    prof__chrome_object_line(c, ",\n{\"ph\":\"C\",\"cat\":\"memory\"", what, name);
    prof__chrome_object_time(c, c->pid, point->ns);
    prof__chrome_series(c, what, name);
    prof__out_unsigned(out, point->bytes);
    PROF__CHROME_LITERAL(out, "}}");
}

/* Writes the step of a curve, in order of time. */
static void prof__chrome_curve_write(prof__chrome *c, const prof__heap *heap, size_t pool, prof__chrome_curve *curve)
{
    int low_first = curve->low.ns < curve->high.ns;
    const prof__chrome_live *points[4];
    size_t i;
    if (!curve->open) return;
    points[0] = &curve->first;
    points[1] = low_first ? &curve->low : &curve->high;
    points[2] = low_first ? &curve->high : &curve->low;
    points[3] = &curve->last;
    for (i = 0; i < 4; i++)
        if (!i || points[i]->ns != points[i - 1]->ns) prof__chrome_pool(c, heap, pool, points[i]);
    curve->open = 0;
}

/* Adds the present value of a pool to its curve. */
static void prof__chrome_curve_add(prof__chrome *c, const prof__heap *heap, prof__chrome_curves *curves, size_t pool,
                                   int64_t ns)
{
    prof__chrome_live point;
    prof__chrome_curve *curve;
    if (!prof__chrome_in_window(c, ns, ns)) return;
    if (pool >= curves->count) {
        prof__chrome_curve *items =
            (prof__chrome_curve *)realloc(curves->items, heap->row_capacity * sizeof *curves->items);
        if (!items) {
            prof__out_fail(&c->out, prof__fail(PROF_NO_MEMORY, "no memory for the curves of live bytes"));
            return;
        }
        memset(items + curves->count, 0, (heap->row_capacity - curves->count) * sizeof *items);
        curves->items = items;
        curves->count = heap->row_capacity;
    }
    point.ns = ns;
    point.bytes = heap->rows[pool].about.live_bytes;
    curve = &curves->items[pool];
    if (curve->open && ns >= curve->end) prof__chrome_curve_write(c, heap, pool, curve);
    if (!curve->open) {
        curve->first = curve->low = curve->high = point;
        curve->end = ns + curves->step;
        curve->open = 1;
    }
    if (point.bytes < curve->low.bytes) curve->low = point;
    if (point.bytes > curve->high.bytes) curve->high = point;
    curve->last = point;
}

/* Adds the live bytes of each pool at the begin of the file. */
static void prof__chrome_pools(prof__chrome *c, const prof__heap *heap, prof__chrome_curves *curves)
{
    size_t i;
    for (i = 0; i < heap->row_count; i++)
        if (heap->rows[i].kind == PROF__HEAP_POOL) prof__chrome_curve_add(c, heap, curves, i, c->options.from_ns);
}

/* Adds the value that is complete by the time ns, if there is one: a realloc() is a free and an allocation at one
   time. */
static void prof__chrome_complete(prof__chrome *c, const prof__heap *heap, prof__chrome_curves *curves)
{
    if (curves->pool != PROF__NONE) prof__chrome_curve_add(c, heap, curves, curves->pool, curves->ns);
    curves->pool = PROF__NONE;
}

/* Writes how the live bytes of each pool change. */
static void prof__chrome_memory_walk(prof__chrome *c, prof__heap *heap, prof__chrome_curves *curves)
{
    prof_event event;
    size_t track, i;
    int begun = c->options.from_ns <= 0;
    while (c->out.status == PROF_OK && prof__heap_next(heap, &event, &track)) {
        int64_t now = event.start_ns + c->offset;
        if (now != curves->ns) prof__chrome_complete(c, heap, curves);
        if (!begun && now >= c->options.from_ns) {
            prof__chrome_pools(c, heap, curves);
            begun = 1;
        }
        if (!prof__heap_step(heap, &event, track) || heap->changed == PROF__NONE) continue;
        if (curves->pool != heap->changed) prof__chrome_complete(c, heap, curves);
        curves->pool = heap->changed;
        curves->ns = now;
    }
    prof__chrome_complete(c, heap, curves);
    if (!begun) prof__chrome_pools(c, heap, curves);
    for (i = 0; i < curves->count; i++) prof__chrome_curve_write(c, heap, i, &curves->items[i]);
}

static int64_t prof__chrome_curve_step(const prof__chrome *c)
{
    int64_t end = c->options.to_ns ? c->options.to_ns : c->about->duration_ns + c->offset;
    return c->options.allocations || end <= c->options.from_ns ? 0 : (end - c->options.from_ns) / PROF__CHROME_STEPS;
}

static void prof__chrome_memory(prof__chrome *c)
{
    prof__heap heap;
    prof__chrome_curves curves;
    prof_status status;
    if (!prof__chrome_any(c, PROF__GROUP_MEMORY)) return;
    memset(&curves, 0, sizeof curves);
    curves.pool = PROF__NONE;
    curves.step = prof__chrome_curve_step(c);
    prof__heap_open(&heap, c->trace, prof__chrome_has, c);
    prof__chrome_memory_walk(c, &heap, &curves);
    free(curves.items);
    status = prof__heap_close(&heap);
    if (status) prof__out_fail(&c->out, status);
}

#endif /* PROF__CHROME_MEMORY_H */
