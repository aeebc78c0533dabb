// ntff/import: Writes a copy of a recording with the events of a JSON file added.
#ifndef PROF__NTFF_IMPORT_H
#define PROF__NTFF_IMPORT_H
#include "api/devices.h"
#include "ground/errors.h"
#include "ground/hash.h"
#include "ground/numbers.h"
#include "read/import.h"
#include "ntff/api.h"
#include "ntff/clock.h"
#include "ntff/parser.h"
#include "ntff/record.h"

/*-- the copy is made by prof.h, see >>import there. Without a recording, the image has Unix times. --*/

typedef struct prof__ntff_import_state {
    prof__import into;
    prof__ntff_clock clock;
    int is_hosted; /* 1: there is a recording to copy */
    char instance[64];
    int has_instance;
    prof_ntff_stats *stats;
    prof__ntff_args args;
} prof__ntff_import_state;

/* Returns the row for a place. If there are too many rows, returns the one that all other places share. Returns
   PROF__NONE without memory. */
static size_t prof__ntff_row_of(prof__import *into, const prof__ntff_place *place)
{
    size_t row = prof__import_row(into, place->device, place->row, 0);
    return row != PROF__NONE || into->no_memory ? row : prof__import_row(into, "Neuron", "others", 1);
}

static int prof__ntff_import_event(void *user, const prof_ntff_event *event)
{
    prof__ntff_import_state *w = (prof__ntff_import_state *)user;
    prof__ntff_place place;
    prof_device_event e;
    size_t row;
    int64_t start;
    if (event->flags & PROF_NTFF_RAW_CLOCK) return 0;
    start = prof__ntff_clock_host(&w->clock, event->start_ns);
    if (w->is_hosted && (start < w->clock.host - (event->duration_ns > 0 ? event->duration_ns : 0) ||
                         start > (int64_t)w->into.last.monotonic_ns))
        w->stats->outside++;
    if (!w->has_instance && event->instance[0]) {
        w->has_instance = 1;
        snprintf(w->instance, sizeof w->instance, "%s", event->instance);
    }
    prof__ntff_place_of(event, w->into.pid, event->instance[0] ? w->instance : "", &place);
    row = prof__ntff_row_of(&w->into, &place);
    if (row == PROF__NONE) return 1;
    e = prof__ntff_device_event(event, event->start_ns - start, &w->args);
    if (!prof__import_put(&w->into, row, &e)) w->stats->errors++;
    return w->into.status != PROF_OK;
}

static prof_status prof__ntff_import_begin(prof__ntff_import_state *w, const char *json, const char *host,
                                           const char *out)
{
    prof_status status = prof__import_open(&w->into, host, "Neuron", "Unix time");
    if (status != PROF_OK) return status;
    w->is_hosted = host != NULL;
    if (host) prof__ntff_clock_of(&w->clock, &w->into.first, &w->into.last);
    if (host && !w->clock.unix_ns)
        return prof__fail(PROF_UNSUPPORTED, "%s has no Unix time of its start", host);
    w->stats->clock_stepped |= w->clock.stepped;
    if (!strcmp(out, "-")) return prof__fail(PROF_INVALID_ARGUMENT, "prof_ntff_import: out must be a file, not -");
    if (!strcmp(out, json))
        return prof__fail(PROF_INVALID_ARGUMENT, "prof_ntff_import: out must not be %s, which is read", json);
    return prof__import_begin(&w->into, host, out);
}

static prof_status prof__ntff_import_into(prof__ntff_import_state *w, const char *json, const char *host,
                                          const char *out)
{
    prof_status status = prof__ntff_import_begin(w, json, host, out);
    if (status == PROF_OK) {
        status = prof_ntff_read_system_json(json, prof__ntff_import_event, w, w->stats);
        if (status == PROF_OK && w->into.no_memory)
            status = prof__fail(PROF_NO_MEMORY, "%s: no memory for its rows", json);
        if (status == PROF_OK && !w->stats->first_ns)
            status = prof__fail(PROF_CORRUPT, w->stats->events ? "%s: has no events in the host's time, nor sync points"
                                                               : "%s: has no events", json);
    }
    return prof__import_close(&w->into, status, (uint64_t)w->stats->first_ns, (uint64_t)w->stats->last_ns);
}

PROF_DEF prof_status prof_ntff_import(const char *json, const char *host, const char *out, prof_ntff_stats *stats)
{
    PROF__CALM();
    prof__ntff_import_state *w = (prof__ntff_import_state *)calloc(1, sizeof *w);
    prof_ntff_stats own;
    prof_status status;
    if (!w) return prof__fail(PROF_NO_MEMORY, "prof_ntff_import: no memory");
    memset(&own, 0, sizeof own);
    w->stats = &own;
    status = json && out ? prof__ntff_import_into(w, json, host, out)
                         : prof__fail(PROF_INVALID_ARGUMENT, "prof_ntff_import: json or out is null");
    free(w);
    if (stats) {
        stats->outside += own.outside;
        stats->clock_stepped |= own.clock_stepped;
        prof__ntff_stats_add(stats, &own);
    }
    return status;
}

#endif /* PROF__NTFF_IMPORT_H */
