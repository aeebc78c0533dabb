// ntff/systrace: Fetches the runtime's system trace in pieces, without files.
#ifndef PROF__NTFF_SYSTRACE_H
#define PROF__NTFF_SYSTRACE_H
#include "api/macros.h"
#include "ground/errors.h"
#include "ntff/api.h"
#include "ntff/api_runtime.h"
#include "ntff/parser.h"
#include "ntff/sessions.h"
#include "ntff/stripped.h"
#include "ntff/table.h"

/*-- SYSTEM TRACE -------------------------------------------------------------------------------------- >>systrace --*/

#define PROF__NTFF_PIECE 16384u /* events of each core that one piece has: some 5 MB of JSON */
#define PROF__NTFF_PIECES 64     /* pieces that one call fetches at most: enough for a full ring of the default size */
#define PROF__NTFF_FULL (PROF__NTFF_PIECE * 32u) /* bytes of JSON; a piece that has as many is taken for full */

static struct {
    uint64_t phase;
    struct nrt_sys_trace_config *options;
    struct nrt_sys_trace_fetch_options *piece; /* NULL: this runtime has none, and returns all at once */
    prof_ntff_parser *parser;
    prof_ntff_event_fn event;
    void *user;
} prof__ntff_trace;

static void prof__ntff_trace_free(void)
{
    if (prof__ntff_trace.piece) prof_ntff_sys_trace_fetch_options_free(prof__ntff_trace.piece);
    if (prof__ntff_trace.options) prof_ntff_sys_trace_config_free(prof__ntff_trace.options);
    prof__ntff_trace.piece = NULL;
    prof__ntff_trace.options = NULL;
    prof__ntff_trace.parser = NULL;
}

static prof_status prof__ntff_trace_options(const prof_ntff_systrace *config)
{
    prof__ntff_target target = {NULL, NULL};
    prof_status status = prof_ntff_sys_trace_config_allocate(&target.trace);
    prof__ntff_trace.options = status ? NULL : target.trace;
    if (!status && !target.trace)
        status = prof__fail(PROF_NO_MEMORY, "nrt_sys_trace_config_allocate returned no options");
    if (!status) status = prof_ntff_sys_trace_config_set_defaults(target.trace);
    if (!status && config && config->max_events_per_nc)
        status = prof_ntff_sys_trace_config_set_max_events_per_nc(target.trace, config->max_events_per_nc);
    if (!status && config) status = prof__ntff_filter_ncs(&target, config->ncs);
    if (!status && config) status = prof__ntff_filter_types(&target, config->event_types);
    return status;
}

/* Makes the runtime return pieces. Otherwise the JSON of a million events a core would be in memory at once. */
static void prof__ntff_trace_piece(void)
{
    const prof__ntff_api *api = prof__ntff_get();
    struct nrt_sys_trace_fetch_options *piece = NULL;
    if (!api->sys_trace_fetch_options_allocate || !api->sys_trace_fetch_options_free ||
        !api->sys_trace_fetch_options_set_defaults || !api->sys_trace_fetch_options_set_max_events_per_nc)
        return;
    if (prof_ntff_sys_trace_fetch_options_allocate(&piece) || !piece) return;
    prof_ntff_sys_trace_fetch_options_set_defaults(piece);
    prof_ntff_sys_trace_fetch_options_set_max_events_per_nc(piece, PROF__NTFF_PIECE);
    prof__ntff_trace.piece = piece;
}

PROF_DEF prof_status prof_ntff_systrace_start(const prof_ntff_systrace *config)
{
    prof__ntff_trouble trouble = {PROF_OK, 0, ""};
    prof_status status = prof__ntff_phase(&prof__ntff_trace.phase, PROF__NTFF_NONE, "prof_ntff_systrace_start");
    if (status) return status;
    status = prof__ntff_trace_options(config);
    if (!status) {
        prof__ntff_trace.parser = prof_ntff_parser_create();
        prof__ntff_trace.event = config && config->event ? config->event : prof_ntff_record;
        prof__ntff_trace.user = config ? config->user : NULL;
        prof__ntff_trace_piece();
        if (!prof__ntff_trace.parser) status = prof__fail(PROF_NO_MEMORY, "prof_ntff_systrace_start: no memory");
    }
    if (!status) status = prof_ntff_sys_trace_start(prof__ntff_trace.options);
    prof__ntff_note(&trouble, status);
    if (status) {
        if (prof__ntff_trace.parser) prof_ntff_parser_destroy(prof__ntff_trace.parser, NULL, NULL, NULL);
        prof__ntff_trace_free();
    }
    prof__ntff_phase_set(&prof__ntff_trace.phase, status ? PROF__NTFF_NONE : PROF__NTFF_BEGUN);
    return prof__ntff_say(&trouble);
}

/* Fetches a piece, and sets *size to the bytes of its JSON. */
static prof_status prof__ntff_fetch_piece(prof_ntff_stats *stats, size_t *size)
{
    char *json = NULL;
    prof__ntff_trouble trouble = {PROF_OK, 0, ""};
    *size = 0;
    prof__ntff_note(&trouble, prof_ntff_sys_trace_fetch_events(&json, size, prof__ntff_trace.piece));
    if (!json) return prof__ntff_say(&trouble);
    if (!trouble.status)
        prof__ntff_note(&trouble, prof_ntff_parse_systrace_json(prof__ntff_trace.parser, json, *size,
                                                                prof__ntff_trace.event, prof__ntff_trace.user, stats));
    prof_ntff_sys_trace_buffer_free(json);
    return prof__ntff_say(&trouble);
}

/* Fetches pieces until one is not full, or the user's function has asked to stop. Fetches PROF__NTFF_PIECES at most,
   because new events may come all the time. */
static prof_status prof__ntff_fetch_pieces(prof_ntff_stats *stats)
{
    size_t size = 0;
    prof_status status;
    int pieces = 0;
    prof__ntff_trace.parser->ended = 0; /* the previous call may have been asked to stop */
    do status = prof__ntff_fetch_piece(stats, &size);
    while (!status && !prof__ntff_trace.parser->ended && prof__ntff_trace.piece && size >= PROF__NTFF_FULL &&
           ++pieces < PROF__NTFF_PIECES);
    return status;
}

static prof_status prof__ntff_fetch(prof_ntff_stats *stats)
{
    prof_status status = PROF_OK;
    PROF__BLOCK(PROF_UNIQUE, "prof_ntff_systrace_fetch", "prof", 2) status = prof__ntff_fetch_pieces(stats);
    return status;
}

PROF_DEF prof_status prof_ntff_systrace_fetch(prof_ntff_stats *stats)
{
    prof_status status = prof__ntff_phase(&prof__ntff_trace.phase, PROF__NTFF_BEGUN, "prof_ntff_systrace_fetch");
    if (status) return status;
    status = prof__ntff_fetch(stats);
    prof__ntff_phase_set(&prof__ntff_trace.phase, PROF__NTFF_BEGUN);
    return status;
}

PROF_DEF prof_status prof_ntff_systrace_stop(prof_ntff_stats *stats)
{
    prof__ntff_trouble trouble = {PROF_OK, 0, ""};
    prof_status status = prof__ntff_phase(&prof__ntff_trace.phase, PROF__NTFF_BEGUN, "prof_ntff_systrace_stop");
    if (status) return status;
    prof__ntff_note(&trouble, prof__ntff_fetch(stats));
    prof__ntff_note(&trouble, prof_ntff_sys_trace_stop());
    prof__ntff_parser_close(prof__ntff_trace.parser, prof__ntff_trace.event, prof__ntff_trace.user, stats);
    prof__ntff_trace_free();
    prof__ntff_phase_set(&prof__ntff_trace.phase, PROF__NTFF_NONE);
    return prof__ntff_say(&trouble);
}

#endif /* PROF__NTFF_SYSTRACE_H */
