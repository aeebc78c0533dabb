// server/capture: Begins and ends captures, and writes what they recorded as the answer, in the format asked for.
#ifndef PROF__SERVER_CAPTURE_H
#define PROF__SERVER_CAPTURE_H
#include "api/control.h"
#include "api/devices.h"
#include "api/macros.h"
#include "api/read.h"
#include "api/reports.h"
#include "api/values.h"
#include "api/writers.h"
#include "ground/errors.h"
#include "ground/threads.h"
#include "session/config.h"
#include "session/on_demand.h"
#include "session/process.h"
#include "session/snapshot.h"
#include "session/start.h"
#include "read/find.h"
#include "read/open.h"
#include "watch/last.h"
#include "server/on_demand.h"
#include "server/state.h"

/*-- CAPTURES ------------------------------------------------------------------------------------------- >>capture --*/

static void prof__server_capture_init(const prof__server *v, prof__server_capture *capture)
{
    memset(capture, 0, sizeof *capture);
    capture->config = v->capture;
    capture->ns = 1000000000u;
#ifdef PROF_CHROME_H
    capture->format = PROF__SERVE_JSON;
#else
    capture->format = PROF__SERVE_PROF;
#endif
}

/* Checks that a client may ask for a capture like this: its buffer is not too large, and its mode is ring or fill. */
static prof_status prof__server_capture_check(const prof__server *v, const prof__server_capture *capture)
{
    const prof_config *config = &capture->config;
    if (config->buffer_size > v->max_buffer)
        return prof__fail(PROF_INVALID_ARGUMENT, "buffer: must be at most %llu bytes here",
                          (unsigned long long)v->max_buffer);
    if (config->mode > PROF_FILL) return prof__fail(PROF_INVALID_ARGUMENT, "mode: must be ring or fill for a capture");
    return prof__config_check(config);
}

/* The keys that a client may set. None of them names a file or changes what the program does. */
static const char *const prof__server_keys[] = {"buffer",      "level", "categories", "min_duration",
                                                "filter_mask", "mode",  "clock",      NULL};

/* Sets a key of a capture's configuration, as a client asked. */
static prof_status prof__server_set(prof__server_capture *capture, const char *key, const char *value)
{
    size_t size = strlen(value) + 1;
    prof_option option;
    for (size_t i = 0; prof_config_describe(i, &option); ++i) {
        if (strcmp(option.key, key)) continue;
        const char *native_key = *option.native_key ? option.native_key : *option.system ? NULL : key;
        if (native_key && prof__parse_name(native_key, prof__server_keys) < 0)
            return prof__fail(PROF_INVALID_ARGUMENT, "clients cannot set '%s': only the program can", key);
        break;
    }
    if (size > sizeof capture->texts - capture->text_used)
        return prof__fail(PROF_INVALID_ARGUMENT, "'%s': its value is too long", key);
    char *copy = capture->texts + capture->text_used;
    memcpy(copy, value, size);
    prof_config before = capture->config;
    prof_status status = prof_config_set(&capture->config, key, copy);
    if (!status && capture->config.mode > PROF_FILL && strcmp(key, "mode")) { /* the key implies this mode */
        capture->config = before;
        return prof__fail(PROF_INVALID_ARGUMENT, "%s '%.60s': a capture keeps events in a ring, and no statistics of "
                          "those before: only the program can set it", key, value);
    }
    if (!status) capture->text_used += size;
    if (!status) capture->configured = 1;
    return status;
}

static void prof__server_cancel(prof__server *v, prof__server_ask *ask)
{
    if ((ask->phase == PROF__ASK_CAPTURE || ask->phase == PROF__ASK_LIVE) && ask->capture.on_demand)
        prof__server_on_demand_leave(v, NULL, NULL);
    ask->capture.on_demand = 0;
}

/* Fails because the session of the program has ended by itself, and holds the buffer until prof_stop(). */
static prof_status prof__server_ended(void)
{
    return prof__fail(PROF_INVALID_STATE,
                      "the program's session has ended by itself, but prof_stop() was not called yet: nothing records; "
                      "/save has what it recorded");
}

static prof_status prof__server_capture_begin(prof__server *v, prof__server_capture *capture)
{
    prof__session_status look = prof__session_status_now();
    prof_status status = PROF_OK;
    if (look.ended) return prof__server_ended();
    capture->from = prof_host_ns(); /* taken before a session starts, so that the capture covers all of it */
    capture->end_at = capture->from + capture->ns;
    if (!look.running || look.on_demand) {
        status = prof__server_on_demand_join(v, capture, look.running);
        if (!look.running) capture->end_at = prof_host_ns() + capture->ns; /* not the time of the start */
        /* the program has started a session meanwhile */
        if (status == PROF_INVALID_STATE) look = prof__session_status_now();
        if (status && (!look.running || look.on_demand)) return status;
    }
    if (!capture->on_demand) {
        if (look.mode == PROF_STATS && capture->format != PROF__SERVE_SUMMARY)
            return prof__fail(PROF_INVALID_STATE,
                              "the program records in mode stats, which keeps no events: see /summary");
        if (look.mode == PROF_STATS) prof__server_note(capture, "mode stats: these are the statistics since the start");
        if (capture->configured || capture->quiet)
            prof__server_note(capture, "the program already records with its own configuration (level %d)",
                              look.level);
        if (look.paused) prof__server_note(capture, "recording is paused");
        if (look.held) prof__server_note(capture, "the program's session has not begun yet");
    }
    look = prof__session_status_now();
    capture->session_id = look.session_id;
    return PROF_OK;
}

/* Returns 1 if the session of a capture has ended, so that waiting longer records nothing more. */
static int prof__server_capture_over(prof__server *v, const prof__server_capture *capture)
{
    prof__session_status look = prof__session_status_now();
    if (capture->on_demand && prof__server_was_sent_away(v)) return 1;
    return !look.running || look.session_id != capture->session_id;
}

/* Sets the window of a trace to the time that the client asked for. */
static void prof__server_window(const prof__server_capture *capture, prof_trace *trace, uint64_t until)
{
    const prof_trace_info *about = prof_trace_about(trace);
    if (about->mode == PROF_STATS) return; /* statistics cover the whole run and have no window */
    if (capture->whole) {
        if (capture->last > 0) prof__trace_last(trace, capture->last);
        return;
    }
    int64_t from = (int64_t)(capture->from - about->start_monotonic_ns),
            to = (int64_t)(until - about->start_monotonic_ns);
    if (from < 0) from = 0;
    prof_trace_set_window(trace, from, to > from ? to : from + 1);
}

/* Adds notes to the answer about events that the trace has lost. */
static void prof__server_losses(prof__server_capture *capture, const prof_trace *trace)
{
    const prof_trace_info *about = prof_trace_about(trace);
    int64_t oldest = INT64_MAX;
    if (about->mode == PROF_STATS && capture->whole && capture->last > 0)
        prof__server_note(capture, "mode stats: these are the statistics since the start");
    for (size_t i = 0; i < prof_trace_track_count(trace); ++i) {
        const prof_track *track = prof_trace_track(trace, i);
        if (!track->device[0] && track->event_count && track->first_ns < oldest) oldest = track->first_ns;
    }
    if (about->overwritten_chunks && !prof__trace_archived(trace) && oldest > about->from_ns && oldest != INT64_MAX &&
        !capture->whole)
        prof__server_note(capture,
                          "the buffer (%.1f MB) is too small: the events of the first %.3f s are overwritten",
                          (double)about->buffer_size / 1e6, (double)(oldest - about->from_ns) / 1e9);
    if (about->lost)
        prof__server_note(capture, "%llu events could not be recorded since the session began",
                          (unsigned long long)about->lost);
    if (about->lost_args)
        prof__server_note(capture, "%llu arguments could not be recorded since the session began",
                          (unsigned long long)about->lost_args);
}

static prof_status prof__server_has_events(const prof_trace *trace)
{
    if (prof_trace_about(trace)->mode != PROF_STATS) return PROF_OK;
    return prof__fail(PROF_INVALID_STATE, "mode stats keeps no events: see /summary");
}

/* Makes the answer of an image: the bytes as they are, with the window set to the time that the client asked for. */
static prof_status prof__server_image(prof__server_ask *ask, void *bytes, size_t size, uint64_t until)
{
    prof_sink sink = {prof__server_sink, &ask->answer};
    prof_trace *trace = NULL;
    prof_status status = prof_trace_open_memory(bytes, size, &trace);
    if (!status) status = prof__server_has_events(trace);
    if (status) {
        prof_trace_close(trace);
        return status;
    }
    prof__server_window(&ask->capture, trace, until);
    prof__server_losses(&ask->capture, trace);
    return prof__image_stream(bytes, size, trace, sink); /* closes the trace */
}

/* The times of PROFILE_STEPs. They are integers of nanoseconds, because a rounded average could be outside of minimum
   and maximum. */
typedef struct prof__server_steps {
    uint64_t count, sum, least, max;
} prof__server_steps;

static void prof__server_step_add(prof__server_steps *steps, uint64_t ns)
{
    if (!steps->count || ns < steps->least) steps->least = ns;
    if (!steps->count || ns > steps->max) steps->max = ns;
    steps->sum += ns;
    steps->count++;
}

/* Writes average, minimum and maximum in milliseconds to values[0] to [2]. There must be at least one step. */
static void prof__server_step_values(const prof__server_steps *steps, double *values)
{
    values[0] = (double)steps->sum / (double)steps->count / 1e6;
    values[1] = (double)steps->least / 1e6;
    values[2] = (double)steps->max / 1e6;
}

static prof_status prof__server_step_times(const prof_trace *trace, prof__server_steps *steps)
{
    memset(steps, 0, sizeof *steps);
    for (size_t i = 0; i < prof_trace_track_count(trace); ++i) {
        prof_cursor *cursor;
        prof_event event;
        prof_status status = prof_cursor_open(trace, i, &cursor);
        if (status) return status;
        while (prof_cursor_next(cursor, &event)) {
            if (event.type != PROF_EVENT_SCOPE || event.site->role != PROF_ROLE_STEP || event.flags) continue;
            prof__server_step_add(steps, (uint64_t)event.duration_ns);
        }
        prof_cursor_close(cursor);
    }
    return PROF_OK;
}

static size_t prof__server_varint(unsigned char *to, uint64_t value)
{
    size_t n = 0;
    for (; value >= 128; value >>= 7) to[n++] = (unsigned char)(value | 128);
    to[n++] = (unsigned char)value;
    return n;
}

/* Puts a tag and a length before the answer, which makes the answer a field of a protobuf message. */
static void prof__server_wrap(prof__server_ask *ask, unsigned char tag)
{
    unsigned char head[16];
    head[0] = tag;
    size_t n = 1 + prof__server_varint(head + 1, ask->answer.size - ask->answer.first);
    ask->answer.first -= n;
    memcpy(ask->answer.at + ask->answer.first, head, n);
}

/* Makes a MonitorResponse: a text about the program, and the times of the steps. */
static prof_status prof__server_monitor(prof__server *v, prof__server_ask *ask, const prof_trace *trace)
{
    prof_sink sink = {prof__server_sink, &ask->answer};
    prof__server_steps steps;
    double values[3] = {0, 0, 0};
    char text[256];
    prof_status status = prof__server_step_times(trace, &steps);
    if (status) return status;
    if (steps.count) prof__server_step_values(&steps, values);
    if (steps.count)
        snprintf(text, sizeof text, "Steps: %llu, time in ms: avg %.3f, min %.3f, max %.3f\n",
                 (unsigned long long)steps.count, values[0], values[1], values[2]);
    else
        snprintf(text, sizeof text, "No PROFILE_STEP ended meanwhile.\n");
    if (!prof__server_add(v, &ask->answer, text, strlen(text)))
        return prof__fail(PROF_NO_MEMORY, "no memory for the answer");
    if (ask->capture.number > 1) status = prof_summary_stream(trace, sink, NULL);
    prof__server_wrap(ask, 0x0A);
    if (steps.count) {
        unsigned char message[2 + 3 * 9];
        message[0] = 0x52;
        message[1] = 3 * 9;
        for (int i = 0; i < 3; ++i) {
            uint64_t bits;
            memcpy(&bits, &values[i], sizeof bits);
            message[2 + 9 * i] = (unsigned char)((4 + i) << 3 | 1);
            for (int k = 0; k < 8; ++k) message[3 + 9 * i + k] = (unsigned char)(bits >> (8 * k));
        }
        if (!prof__server_add(v, &ask->answer, message, sizeof message))
            return prof__fail(PROF_NO_MEMORY, "no memory for the answer");
    }
    return status;
}

#ifdef PROF_XPLANE_H
static prof_status prof__server_xspace(const prof__server_ask *ask, const prof_trace *trace, prof_sink sink)
{
    prof_xplane_options options;
    memset(&options, 0, sizeof options);
    options.host = ask->capture.host; /* "": the name of this computer */
    return prof_xplane_stream(trace, sink, &options);
}
#endif

static prof_status prof__server_write(prof__server *v, prof__server_ask *ask, const prof_trace *trace)
{
    prof_sink sink = {prof__server_sink, &ask->answer};
    switch ((int)ask->capture.format) {
#ifdef PROF_CHROME_H
    case PROF__SERVE_JSON: return prof_chrome_stream(trace, sink, NULL);
#endif
#ifdef PROF_XPLANE_H
    case PROF__SERVE_XPLANE: return prof__server_xspace(ask, trace, sink);
#endif
#ifdef PROF_HTML_H
    case PROF__SERVE_HTML: return prof_html_stream(trace, sink, NULL);
#endif
    case PROF__SERVE_CSV: return prof_csv_stream(trace, sink);
    case PROF__SERVE_SUMMARY: return prof_summary_stream(trace, sink, NULL);
    case PROF__SERVE_MONITOR: return prof__server_monitor(v, ask, trace);
    default: return prof__fail(PROF_UNSUPPORTED, "not in this build");
    }
}

/* Returns the name of the header without which a format cannot be made, if the program was built without that header.
   Returns NULL if nothing is missing. */
static const char *prof__server_missing(prof__server_format format)
{
#ifndef PROF_CHROME_H
    if (format == PROF__SERVE_JSON) return "prof_chrome.h";
#endif
#ifndef PROF_XPLANE_H
    if (format == PROF__SERVE_XPLANE) return "prof_xplane.h";
#endif
#ifndef PROF_HTML_H
    if (format == PROF__SERVE_HTML) return "prof_html.h";
#endif
    (void)format;
    return NULL;
}

/* Adds the notes to the answer as warnings of an XSpace. Protobuf allows fields to be appended to a complete
   message. */
static void prof__server_warn(prof__server *v, prof__server_ask *ask)
{
    const char *line = ask->capture.notes, *end;
    for (; (end = strchr(line, '\n')) != NULL; line = end + 1) {
        unsigned char head[12];
        head[0] = 0x1A;
        size_t n = 1 + prof__server_varint(head + 1, (uint64_t)(end - line));
        if (!prof__server_grow(v, &ask->answer, n + (size_t)(end - line))) return;
        prof__server_add(v, &ask->answer, head, n);
        prof__server_add(v, &ask->answer, line, (size_t)(end - line));
    }
}

/* Puts the prefix of a gRPC message before the answer: the flag "not compressed", and the length. */
static void prof__server_prefix(prof__server_ask *ask)
{
    uint64_t size = ask->answer.size - ask->answer.first;
    unsigned char *at = ask->answer.at + (ask->answer.first -= 5);
    at[0] = 0;
    for (int i = 0; i < 4; ++i) at[1 + i] = (unsigned char)(size >> (24 - 8 * i));
}

/* Writes the program's name in a form that is valid as a file name in a header. */
static void prof__server_name(char *name, size_t size)
{
    prof__program_name(name, size);
    for (char *c = name; *c; ++c)
        if (!((*c >= '0' && *c <= '9') || (*c >= 'A' && *c <= 'Z') || (*c >= 'a' && *c <= 'z') || strchr("._-", *c)))
            *c = '_';
}

static void prof__server_finish_http(prof__server_ask *ask)
{
    static const struct {
        const char *type, *extension;
    } kinds[] = {{"application/json", ".json"},  {"application/octet-stream", ".prof"},
                 {"application/octet-stream", ".xplane.pb"}, {"text/csv; charset=utf-8", ".csv"},
                 {"text/html; charset=utf-8", ".html"}, {"text/plain; charset=utf-8", NULL}, {"text/plain", NULL}};
    char name[64];
    prof__server_name(name, sizeof name);
    if (kinds[ask->capture.format].extension)
        prof__server_head(ask, "content-disposition: attachment; filename=\"%s-%llu%s\"\r\n", name,
                          (unsigned long long)prof__process_id(), kinds[ask->capture.format].extension);
    char *line = ask->capture.notes, *end;
    for (; (end = strchr(line, '\n')) != NULL; line = end + 1)
        prof__server_head(ask, "x-prof-note: %.*s\r\n", (int)(end - line), line);
    prof__server_end_answer(ask, 200, kinds[ask->capture.format].type);
}

static void prof__server_finish_grpc(prof__server *v, prof__server_ask *ask)
{
    if (ask->capture.format == PROF__SERVE_XPLANE) {
        prof__server_warn(v, ask);
        if (ask->capture.emit_xspace) {
            prof__server_wrap(ask, 0x42);
        } else { /* the message ProfileToolData has a name and data */
            prof__server_wrap(ask, 0x12);
            memcpy(ask->answer.at + (ask->answer.first -= 11), "\x0A\x09xplane.pb", 11);
            prof__server_wrap(ask, 0x32);
        }
    }
    if (ask->answer.size - ask->answer.first > 0x7fffff00u) { /* protobuf cannot read larger messages */
        prof__server_say(v, ask, 503, PROF__GRPC_RESOURCE_EXHAUSTED, "the trace is larger than 2 GiB: capture less");
        return;
    }
    prof__server_prefix(ask);
    ask->grpc_status = PROF__GRPC_OK;
    prof__server_end_answer(ask, 200, "");
}

/* Reads what the capture has recorded, and makes the answer. */
static prof_status prof__server_take(prof__server *v, prof__server_ask *ask)
{
    prof__server_capture *capture = &ask->capture;
    uint64_t now = prof_host_ns(), until = now < capture->end_at ? now : capture->end_at;
    prof_status status = PROF_OK;
    prof_trace *trace = NULL;
    void *bytes = NULL;
    size_t size = 0;
    if (capture->dump) {
        status = prof__server_remote_take(v, capture, &bytes, &size);
        until = capture->end_at;
    } else if (capture->on_demand) {
        status = prof__server_on_demand_leave(v, &bytes, &size);
        capture->on_demand = 0;
    } else if (capture->format == PROF__SERVE_PROF) {
        status = prof__image_copy(&bytes, &size);
    } else {
        status = prof_trace_open_live(&trace);
    }
    if (!status && capture->format == PROF__SERVE_PROF) {
        status = prof__server_image(ask, bytes, size, until);
        free(bytes);
        return status;
    }
    if (!status && !trace) status = prof__read_image(bytes, size, NULL, "the capture", &trace); /* frees bytes later */
    if (status) return status;
    if (capture->format != PROF__SERVE_SUMMARY) status = prof__server_has_events(trace);
    if (!status) {
        prof__server_window(capture, trace, until);
        prof__server_losses(capture, trace);
        status = prof__server_write(v, ask, trace);
    }
    prof_trace_close(trace);
    return status;
}

static void prof__server_finish(prof__server *v, prof__server_ask *ask)
{
    prof__server_begin_answer(v, ask);
    size_t before = v->answers;
    v->captures++;
    prof_status status = PROF_NO_MEMORY;
    if (ask->answer.first) {
        PROF__BLOCK(PROF_UNIQUE, "capture", "prof", 2) status = prof__server_take(v, ask);
    } else {
        prof__fail(PROF_NO_MEMORY, "no memory for another answer");
    }
    if (status == PROF_IO && v->answers > before && v->answers > v->max_answer / 2)
        status = prof__fail(PROF_NO_MEMORY, "the answer is larger than max_answer (%llu bytes) allows: capture less",
                            (unsigned long long)v->max_answer);
    if (!status && ask->capture.dump == 2) prof__server_remote_drop(v);
    if (status)
        prof__server_refuse(v, ask, status);
    else if (ask->grpc)
        prof__server_finish_grpc(v, ask);
    else
        prof__server_finish_http(ask);
}

/* Answers with an error and returns 1, if the program was built without what a format needs. */
static int prof__server_lacks(prof__server *v, prof__server_ask *ask, prof__server_format format)
{
    const char *missing = prof__server_missing(format);
    if (missing)
        prof__server_say(
            v, ask, 501, PROF__GRPC_UNIMPLEMENTED,
            "this program was built without %s: include it before prof_server.h where PROF_IMPLEMENTATION is", missing);
    return missing != NULL;
}

/* Begins the wait of a capture. Even a capture without a delay waits for its turn: if the client cancels it at once, it
   has cost nothing. */
static void prof__server_ask_capture(prof__server *v, prof__server_ask *ask)
{
    prof__server_capture *capture = &ask->capture;
    if (prof__server_lacks(v, ask, capture->format)) return;
    prof_status status = prof__server_capture_check(v, capture);
    if (capture->whole || capture->dump) capture->begin_at = 0;
    if (status)
        prof__server_refuse(v, ask, status);
    else
        ask->phase = PROF__ASK_DELAYED;
}

/* Begins a capture that has waited for its time or turn. */
static void prof__server_turn(prof__server *v, prof__server_ask *ask)
{
    if (ask->capture.whole || ask->capture.dump) {
        prof__server_finish(v, ask);
        return;
    }
    prof_status status = prof__server_capture_begin(v, &ask->capture);
    if (status)
        prof__server_refuse(v, ask, status);
    else
        ask->phase = PROF__ASK_CAPTURE;
}

#endif /* PROF__SERVER_CAPTURE_H */
