// server/live: Answers /live: tells a client what the program does, period by period, until the client leaves.
#ifndef PROF__SERVER_LIVE_H
#define PROF__SERVER_LIVE_H
#include "api/devices.h"
#include "api/macros.h"
#include "api/objects.h"
#include "api/read.h"
#include "api/values.h"
#include "api/writers.h"
#include "ground/digits.h"
#include "ground/errors.h"
#include "session/on_demand.h"
#include "session/process.h"
#include "session/snapshot.h"
#include "read/clock.h"
#include "read/find.h"
#include "read/open.h"
#include "server/capture.h"
#include "server/on_demand.h"
#include "server/state.h"

/*-- LIVE -------------------------------------------------------------------------------------------------- >>live --
   The answer to /live has no end: it is a sequence of messages, as prof_html.h describes them, until the connection
   closes. Each message says how the recording is, and has the events since the previous message. Scopes that cross the
   begin or end of that period are cut there. While the client has not read a message, no further one is made. The next
   message then covers several periods or, if that is too much, only the last part of them. */

#ifdef PROF_HTML_H
static unsigned prof__server_watchers(const prof__server *v)
{
    unsigned count = 0;
    for (int i = 0; i < PROF__SERVER_CLIENTS; ++i)
        count += v->clients[i] && v->clients[i]->asks[0].phase == PROF__ASK_LIVE;
    return count;
}

/* Returns how many periods the present clients of /live have missed because they read too slowly. */
static uint64_t prof__server_unread(const prof__server *v)
{
    uint64_t count = 0;
    for (int i = 0; i < PROF__SERVER_CLIENTS; ++i)
        if (v->clients[i] && v->clients[i]->asks[0].phase == PROF__ASK_LIVE)
            count += v->clients[i]->asks[0].live->skipped;
    return count;
}

/* The keys and values of a message, as a list that ends with NULL. Beyond PROF__SERVER_PAIRS, pairs are left out. */
#define PROF__SERVER_PAIRS 20
typedef struct prof__server_pairs {
    size_t count, used;
    const char *at[2 * PROF__SERVER_PAIRS + 1];
    char texts[PROF__SERVER_PAIRS * 24];
} prof__server_pairs;

static void prof__server_pair(prof__server_pairs *pairs, const char *key, const char *value)
{
    if (pairs->count == 2 * PROF__SERVER_PAIRS) return;
    pairs->at[pairs->count++] = key;
    pairs->at[pairs->count++] = value;
}

static void prof__server_pair_number(prof__server_pairs *pairs, const char *key, uint64_t value)
{
    char *text = pairs->texts + pairs->used;
    if (pairs->used + 24 > sizeof pairs->texts) return;
    size_t size = prof__digits(text, value);
    text[size] = 0;
    pairs->used += size + 1;
    prof__server_pair(pairs, key, text);
}

/* Returns how many nanoseconds a message covers at most. A client that reads late misses what was before. */
static int64_t prof__server_live_most(const prof__server_live *live)
{
    return live->period > 1500000000u ? 2 * (int64_t)live->period : 3000000000;
}

/* Sets the window of the trace to the next period. Returns 0 if the period is empty. end: the end of the period, in ns
   since the start. Sets *from to the begin, and *joins to 1 if the period follows the previous one without a gap. */
static int prof__server_live_window(prof__server_live *live, prof_trace *trace, int64_t end, int64_t *from, int *joins)
{
    int64_t max = prof__server_live_most(live), oldest = INT64_MAX;
    size_t hint = 0;
    *joins = live->tick != 0;
    *from = live->tick ? prof__read_ns(trace, live->tick, &hint) : 0;
    if (end <= *from) return 0;
    if (end - *from > max) {
        if (*joins) live->skipped_ns += (uint64_t)(end - *from - max);
        *from = end - max;
        *joins = 0;
    }
    for (size_t i = 0; i < prof_trace_track_count(trace); ++i) {
        const prof_track *track = prof_trace_track(trace, i);
        if (!track->device[0] && track->event_count && track->first_ns < oldest) oldest = track->first_ns;
    }
    if (*joins && prof_trace_about(trace)->overwritten_chunks && oldest != INT64_MAX && oldest > *from)
        live->overwritten_ns += (uint64_t)((oldest < end ? oldest : end) - *from);
    live->tick = prof__image_tick(trace, end);
    return prof_trace_set_window(trace, *from, end) == PROF_OK;
}

/* How long ago switches may have been packed last, at most: longer ago, they are no longer recorded. */
#define PROF__SERVER_STATES_NS 400000000

/* Returns until when it is known what the system did with the threads, if that is recorded and a little before the end;
   else the end. */
static int64_t prof__server_live_known(const prof_trace *trace, int64_t end)
{
    int64_t known = 0;
    for (size_t i = 0; i < prof_trace_track_count(trace); ++i) {
        size_t count;
        const prof_state *states = prof_track_states(trace, i, &count);
        if (count && states[count - 1].end_ns > known) known = states[count - 1].end_ns;
    }
    return known < end && end - known <= PROF__SERVER_STATES_NS ? known : end;
}

/* Reads what was recorded since the last period. Sets *trace to NULL if the period is empty. */
static prof_status prof__server_live_take(prof__server_live *live, const prof__session_status *look, prof_trace **trace,
                                          int64_t *from, int *joins)
{
    void *bytes = NULL;
    size_t size = 0;
    uint64_t now = prof_host_ns();
    prof_status status = prof__image_copy(&bytes, &size);
    *trace = NULL;
    if (!status) status = prof__read_buffer_only(bytes, "what is recorded", trace);
    if (status) return status;
    const prof_trace_info *about = prof_trace_about(*trace);
    int64_t end = (int64_t)(now - about->start_monotonic_ns) - (int64_t)PROF__SERVER_LAG_NS;
    if (look->running) {
        end = prof__server_live_known(*trace, end);
    } else {
        end = about->duration_ns + 1;
        live->ended = 1;
    }
    if (prof__server_live_window(live, *trace, end, from, joins)) return PROF_OK;
    prof_trace_close(*trace);
    *trace = NULL;
    return PROF_OK;
}

static const char *prof__server_live_state(const prof__session_status *look)
{
    if (look->ended) return "ended";
    if (!look->running) return look->session_id ? "stopped" : "none";
    if (look->held) return "waiting";
    if (look->mode == PROF_STATS) return "stats";
    return look->paused ? "paused" : "recording";
}

/* Lists the names of categories, domains and devices, one a line. Leaves out names that do not fit. */
static void prof__server_category_names(char *to, size_t size)
{
    const char *names[256];
    size_t count = prof_domain_list(names, sizeof names / sizeof *names), used = 0;
    for (size_t i = 0; i < count && i < sizeof names / sizeof *names; ++i) {
        size_t length = strlen(names[i]);
        if (used + length + 2 > size) continue;
        memcpy(to + used, names[i], length);
        to[used += length] = '\n';
        ++used;
    }
    to[used] = 0;
}

static prof_status prof__server_live_send(prof__server *v, prof__server_ask *ask, const prof__session_status *look,
                                          const prof_trace *trace, int64_t from, int joins)
{
    prof__server_live *live = ask->live;
    prof_sink sink = {prof__server_sink, &ask->answer};
    prof__server_pairs pairs;
    char categories[2048];
    prof__server_category_names(categories, sizeof categories);
    memset(&pairs, 0, sizeof pairs);
    prof__server_pair(&pairs, "state", live->over ? "over" : prof__server_live_state(look));
    prof__server_pair(&pairs, "categories", categories);
    prof__server_pair_number(&pairs, "session", live->session_id);
    prof__server_pair_number(&pairs, "level", (uint64_t)look->level);
    prof__server_pair_number(&pairs, "on_demand", (uint64_t)look->on_demand);
    prof__server_pair_number(&pairs, "read_only", (uint64_t)v->read_only);
    prof__server_pair_number(&pairs, "buffer", look->buffer);
    prof__server_pair_number(&pairs, "streamed", look->mode == PROF_STREAM);
    prof__server_pair_number(&pairs, "period_ns", live->period);
    prof__server_pair_number(&pairs, "took_ns", live->took);
    prof__server_pair_number(&pairs, "skipped", live->skipped);
    prof__server_pair_number(&pairs, "skipped_ns", live->skipped_ns);
    prof__server_pair_number(&pairs, "overwritten_ns", live->overwritten_ns);
    if (trace) prof__server_pair_number(&pairs, "from_ns", (uint64_t)from);
    if (trace) prof__server_pair_number(&pairs, "joins", (uint64_t)joins);
    ask->answer.first = ask->answer.size = 0;
    return prof__html_live_message(sink, pairs.at, trace);
}

/* Makes the next message, and sets when the one after it is due. */
static void prof__server_live_make(prof__server *v, prof__server_ask *ask)
{
    prof__server_live *live = ask->live;
    prof__session_status look = prof__session_status_now();
    prof_trace *trace = NULL;
    uint64_t began = prof_host_ns();
    int64_t from = 0;
    int joins = 0;
    if (ask->capture.on_demand && prof__server_was_sent_away(v)) { /* the program started a session */
        prof__server_on_demand_leave(v, NULL, NULL);
        ask->capture.on_demand = 0;
        look = prof__session_status_now();
    }
    if (look.session_id != live->session_id && (look.running || !live->session_id)) {
        live->session_id = look.session_id;
        live->tick = 0;
        live->ended = 0;
    }
    prof_status status = PROF_OK;
    if (look.running) live->ended = 0;
    if (look.session_id && look.session_id == live->session_id && !live->ended && look.mode != PROF_STATS)
        status = prof__server_live_take(live, &look, &trace, &from, &joins);
    if (!status) status = prof__server_live_send(v, ask, &look, trace, from, joins);
    if (status && trace) { /* the message exceeds max_answer, or there is no memory */
        live->skipped++;
        live->skipped_ns += (uint64_t)(prof_trace_about(trace)->to_ns - from);
        live->tick = 0;
    }
    if (status) status = prof__server_live_send(v, ask, &look, NULL, 0, 0);
    if (status) live->over = 1;
    prof_trace_close(trace);
    live->took = prof_host_ns() - began;
    live->period = live->took > 500000000u ? 5000000000u : 10 * live->took;
    if (live->period < PROF__SERVER_PERIOD_NS) live->period = PROF__SERVER_PERIOD_NS;
    live->next_at = began + live->period;
    live->messages++;
    ask->since = prof_host_ns();
}

/* Begins the answer. If nothing records, starts an on-demand session. Not if a session of the program has ended,
   because that session's buffer would be discarded. */
static prof_status prof__server_live_begin(prof__server *v, prof__server_ask *ask)
{
    prof__session_status look = prof__session_status_now();
    prof_status status = PROF_OK;
    if (!look.ended && (!look.running || look.on_demand))
        status = prof__server_on_demand_join(v, &ask->capture, look.running);
    /* the program has started one */
    if (status == PROF_INVALID_STATE && prof__session_status_now().running) status = PROF_OK;
    if (status) return status;
    ask->head[0] = 0;
    ask->head_sent = 0;
    ask->keep = 0;
    ask->status = 200;
    prof__server_head(ask, "content-type: application/octet-stream\r\n");
    prof__server_guard(ask, "");
    return PROF_OK;
}

/* Makes a message for a client of /live if one is due. Returns when to call again. all: 1: the server stops, so the
   last message is due. */
static uint64_t prof__server_live_due(prof__server *v, prof__server_client *c, uint64_t now, int all)
{
    prof__server_ask *ask = &c->asks[0];
    prof__server_live *live = ask->live;
    int unread = ask->answer.first < ask->answer.size || (c->out_size && !all);
    if (ask->phase != PROF__ASK_LIVE || live->over) return UINT64_MAX;
    if (!live->messages) {
        prof_status status = prof__server_live_begin(v, ask);
        if (status) {
            prof__server_refuse(v, ask, status);
            return UINT64_MAX;
        }
    }
    if (now < live->next_at && !(all && !unread)) return live->next_at;
    if (unread) {
        live->skipped++;
        live->next_at = now + live->period;
        return live->next_at;
    }
    if (all) live->over = 1;
    PROF__BLOCK(PROF_UNIQUE, "live", "prof", 2) prof__server_live_make(v, ask);
    return live->over ? UINT64_MAX : live->next_at;
}

/* Handles a request for /live. */
static void prof__server_watch(prof__server *v, prof__server_ask *ask)
{
    prof_status status = prof__server_capture_check(v, &ask->capture);
    size_t *buffer = &ask->capture.config.buffer_size;
    if (!v->sized && *buffer == v->capture.buffer_size && *buffer > PROF__SERVER_LIVE_BUFFER)
        *buffer = PROF__SERVER_LIVE_BUFFER;
    if (!status && ask->stream)
        status = prof__fail(PROF_UNSUPPORTED, "/live needs HTTP/1.1");
    if (!status && prof__server_watchers(v) >= PROF__SERVER_WATCHERS)
        status = prof__fail(PROF_NO_MEMORY, "%d clients are watching already: close one of the pages",
                            PROF__SERVER_WATCHERS);
    if (!status && (ask->live = (prof__server_live *)calloc(1, sizeof *ask->live)) == NULL)
        status = prof__fail(PROF_NO_MEMORY, "no memory to watch");
    if (status) {
        prof__server_refuse(v, ask, status);
        return;
    }
    ask->live->period = PROF__SERVER_PERIOD_NS;
    ask->since = prof_host_ns();
    ask->phase = PROF__ASK_LIVE;
}

/* Answers with the page that shows /live. */
static void prof__server_page(prof__server *v, prof__server_ask *ask)
{
    prof_sink sink = {prof__server_sink, &ask->answer};
    char name[64];
    prof__program_name(name, sizeof name);
    prof__server_begin_answer(v, ask);
    prof_status status = prof__html_live_page(sink, name);
    if (status) {
        prof__server_refuse(v, ask, status);
        return;
    }
    ask->html = 2;
    prof__server_end_answer(ask, 200, "text/html; charset=utf-8");
}
#else
static unsigned prof__server_watchers(const prof__server *v)
{
    (void)v;
    return 0;
}

static uint64_t prof__server_unread(const prof__server *v)
{
    (void)v;
    return 0;
}

static uint64_t prof__server_live_due(prof__server *v, prof__server_client *c, uint64_t now, int all)
{
    (void)v, (void)c, (void)now, (void)all;
    return UINT64_MAX;
}

static void prof__server_watch(prof__server *v, prof__server_ask *ask)
{
    prof__server_lacks(v, ask, PROF__SERVE_HTML);
}
#endif

#endif /* PROF__SERVER_LIVE_H */
