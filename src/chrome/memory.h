// chrome/memory: Writes allocations, and the live bytes of each pool as a counter.
#ifndef PROF__CHROME_MEMORY_H
#define PROF__CHROME_MEMORY_H
#include "api/read.h"
#include "api/types.h"
#include "api/values.h"
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

/* Writes a sample of the live bytes of a pool, at the time ns. */
static void prof__chrome_pool(prof__chrome *c, const prof__heap *heap, size_t pool, int64_t ns)
{
    prof__out *out = &c->out;
    const char *name = heap->rows[pool].about.pool, *what = *name ? "memory: " : "memory";
    if (!prof__chrome_in_window(c, ns, ns)) return;
    prof__chrome_object_line(c, ",\n{\"ph\":\"C\",\"cat\":\"memory\"", what, name);
    prof__chrome_object_time(c, c->pid, ns);
    PROF__CHROME_LITERAL(out, ",\"args\":{\"");
    prof__out_text(out, what);
    prof__out_json(out, name);
    PROF__CHROME_LITERAL(out, "\":");
    prof__out_unsigned(out, heap->rows[pool].about.live_bytes);
    PROF__CHROME_LITERAL(out, "}}");
}

/* Writes the live bytes of each pool at the begin of the file. */
static void prof__chrome_pools(prof__chrome *c, const prof__heap *heap)
{
    size_t i;
    for (i = 0; i < heap->row_count; i++)
        if (heap->rows[i].kind == PROF__HEAP_POOL) prof__chrome_pool(c, heap, i, c->options.from_ns);
}

/* Writes one sample for each time at which the live bytes of a pool change. There may be several changes at one time: a
   realloc() is a free and an allocation. */
static void prof__chrome_memory_walk(prof__chrome *c, prof__heap *heap)
{
    prof_event event;
    size_t track, waiting = PROF__NONE; /* waiting: the pool whose sample is due, */
    int64_t at = 0;                     /* and the sample's time */
    int begun = c->options.from_ns <= 0;
    while (c->out.status == PROF_OK && prof__heap_next(heap, &event, &track)) {
        int64_t now = event.start_ns + c->offset;
        if (waiting != PROF__NONE && now != at) {
            prof__chrome_pool(c, heap, waiting, at);
            waiting = PROF__NONE;
        }
        if (!begun && now >= c->options.from_ns) {
            prof__chrome_pools(c, heap);
            begun = 1;
        }
        if (!prof__heap_step(heap, &event, track) || heap->changed == PROF__NONE) continue;
        if (waiting != PROF__NONE && waiting != heap->changed) prof__chrome_pool(c, heap, waiting, at);
        waiting = heap->changed;
        at = now;
    }
    if (waiting != PROF__NONE) prof__chrome_pool(c, heap, waiting, at);
    if (!begun) prof__chrome_pools(c, heap);
}

static void prof__chrome_memory(prof__chrome *c)
{
    prof__heap heap;
    prof_status status;
    if (!prof__chrome_any(c, PROF__GROUP_MEMORY)) return;
    prof__heap_open(&heap, c->trace, prof__chrome_has, c);
    prof__chrome_memory_walk(c, &heap);
    status = prof__heap_close(&heap);
    if (status) prof__out_fail(&c->out, status);
}

#endif /* PROF__CHROME_MEMORY_H */
