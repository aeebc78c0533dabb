// server/grpc: The service tensorflow.ProfilerService, by which XProf and TensorBoard ask for captures.
#ifndef PROF__SERVER_GRPC_H
#define PROF__SERVER_GRPC_H
#include "api/control.h"
#include "api/devices.h"
#include "ground/clock.h"
#include "ground/errors.h"
#include "session/config.h"
#include "session/on_demand.h"
#include "server/capture.h"
#include "server/on_demand.h"
#include "server/request.h"
#include "server/state.h"

/*-- GRPC ---------------------------------------------------------------------------------------------------- >>grpc --
   Implements tensorflow.ProfilerService as the client of XProf calls it. */

/* Reads the fields of a protobuf message, one after another. */
typedef struct prof__proto {
    const unsigned char *at, *end;
    int bad;
    uint32_t field;
    unsigned type;
    uint64_t number;            /* the value of a field of wire type 0, 1 or 5 */
    const unsigned char *bytes; /* the value of a field of wire type 2 */
    size_t size;
} prof__proto;

static uint64_t prof__proto_varint(prof__proto *p)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 70; shift += 7) {
        if (p->at == p->end) break;
        unsigned char c = *p->at++;
        if (shift < 64) value |= (uint64_t)(c & 127) << shift;
        if (!(c & 128)) return value;
    }
    p->bad = 1;
    return 0;
}

/* Reads the next field. Returns 0 at the end of the message, or if the message is invalid. */
static int prof__proto_next(prof__proto *p)
{
    if (p->bad || p->at == p->end) return 0;
    uint64_t tag = prof__proto_varint(p);
    size_t fixed = (tag & 7) == 1 ? 8 : 4;
    p->type = (unsigned)(tag & 7);
    p->field = (uint32_t)(tag >> 3);
    p->number = 0;
    p->bytes = p->at;
    p->size = 0;
    if (p->bad || !p->field || tag >> 32) {
        p->bad = 1;
    } else if (p->type == 0) {
        p->number = prof__proto_varint(p);
    } else if (p->type == 2) {
        uint64_t size = prof__proto_varint(p);
        p->bytes = p->at;
        if (p->bad || size > (size_t)(p->end - p->at)) {
            p->bad = 1;
        } else {
            p->size = (size_t)size;
            p->at += size;
        }
    } else if ((p->type == 1 || p->type == 5) && (size_t)(p->end - p->at) >= fixed) {
        for (size_t i = 0; i < fixed; ++i) p->number |= (uint64_t)p->at[i] << (8 * i);
        p->at += fixed;
    } else {
        p->bad = 1;
    }
    return !p->bad;
}

static prof__proto prof__proto_of(const unsigned char *at, size_t size)
{
    prof__proto p;
    memset(&p, 0, sizeof p);
    p.at = at;
    p.end = at + size;
    return p;
}
static prof__proto prof__proto_inside(const prof__proto *p) { return prof__proto_of(p->bytes, p->size); }

/* Collects the option names that are unknown, so that one error names all of them. */
typedef struct prof__server_unknown {
    char names[300], why[200];
} prof__server_unknown;

/* Reads an entry of advanced_configuration. Its fields are the key, 1, and the value, 2: a message with one of string
   1, bool 2, int64 3. */
static prof_status prof__server_advanced(prof__server_capture *capture, const prof__proto *entry,
                                         prof__server_unknown *unknown)
{
    static const char *const types[] = {"none", "string", "bool", "int64"};
    char key[96] = "", value[512] = "";
    uint32_t type = 0;
    int fits = 1;
    prof__proto p = prof__proto_inside(entry);
    while (prof__proto_next(&p)) {
        if (p.field == 1 && p.type == 2) fits &= prof__server_copy(key, sizeof key, (const char *)p.bytes, p.size);
        if (p.field != 2 || p.type != 2) continue;
        prof__proto q = prof__proto_inside(&p);
        while (prof__proto_next(&q)) {
            if (q.field < 1 || q.field > 3) continue;
            type = q.field;
            if (q.field == 1) fits &= prof__server_copy(value, sizeof value, (const char *)q.bytes, q.size);
            if (q.field == 2) snprintf(value, sizeof value, "%d", q.number != 0);
            if (q.field == 3) snprintf(value, sizeof value, "%lld", (long long)q.number);
        }
        if (q.bad) return prof__fail(PROF_INVALID_ARGUMENT, "advanced_configuration: not a valid message");
    }
    for (char *c = key; *c; ++c)
        if ((unsigned char)*c < 33 || (unsigned char)*c > 126) *c = '?';
    if (p.bad || !fits || !key[0])
        return prof__fail(PROF_INVALID_ARGUMENT, "advanced_configuration: a key or value is not valid, or too long");
    prof_option option;
    int known = 0;
    for (size_t i = 0; !known && prof_config_describe(i, &option); ++i) known = !strcmp(option.key, key);
    if (known && type == 2 && strcmp(option.type, "switch") && strcmp(option.type, "text"))
        return prof__fail(PROF_INVALID_ARGUMENT, "Invalid value type for key: %s. Expected %s, but a %s was supplied.",
                          key, !strcmp(option.type, "number") ? "int64" : "string", types[type]);
    prof_status status = prof__server_set(capture, key, value), result = PROF_OK;
    if (status == PROF_UNSUPPORTED) {
        prof__server_note(capture, "%s", prof_error());
    } else if (status && (known || strncmp(prof_error(), "unknown key", 11) != 0)) {
        char why[160];
        prof__text_copy(why, sizeof why, prof_error());
        result = prof__fail(status, "Invalid value for key: %.60s. %.150s", key, why);
    } else if (status) {
        prof__text_copy(unknown->why, sizeof unknown->why, prof_error());
        if (unknown->names[0]) prof__text_add(unknown->names, sizeof unknown->names, ",");
        prof__text_add(unknown->names, sizeof unknown->names, key);
    }
    return result;
}

/* Reads ProfileOptions. A missing field is 0, and so is a missing level. Ignores options without a version. */
static prof_status prof__server_options_read(prof__server_capture *capture, const prof__proto *options,
                                             uint64_t *duration)
{
    prof__server_unknown unknown;
    prof_status status = PROF_OK;
    prof__proto p = prof__proto_inside(options);
    uint64_t version = 0, level = UINT64_MAX, devices = UINT64_MAX;
    memset(&unknown, 0, sizeof unknown);
    while (!status && prof__proto_next(&p)) {
        if (p.field == 2 && p.type == 0) {
            level = p.number;
        } else if (p.field == 3 && p.type == 0) {
            devices = p.number;
        } else if (p.field == 5 && p.type == 0) {
            version = p.number;
        } else if (p.field == 8 && p.type == 0 && p.number) {
            uint64_t now = prof__unix_time();
            if (p.number > now) capture->begin_at = prof_host_ns() + (p.number - now);
        } else if (p.field == 9 && p.type == 0 && p.number) {
            *duration = p.number;
        } else if (p.field == 11 && p.type == 2) {
            prof__proto q = prof__proto_inside(&p);
            while (prof__proto_next(&q))
                if (q.field == 1 && q.type == 0) capture->config.filter_mask = (uint32_t)q.number;
            p.bad |= q.bad;
        } else if (p.field == 15 && p.type == 2) {
            prof__server_copy(capture->host, sizeof capture->host, (const char *)p.bytes, p.size);
            for (char *c = capture->host; *c; ++c)
                if ((unsigned char)*c < 33 || (unsigned char)*c > 126 || strchr("/\\:", *c)) *c = '_';
        } else if (p.field == 12 && p.type == 2) {
            status = prof__server_advanced(capture, &p, &unknown);
        }
    }
    if (version && level == UINT64_MAX) level = 0;
    if (version && devices == UINT64_MAX) devices = 0;
    capture->quiet = !level;
    capture->no_devices = !devices;
    if (!status && level != UINT64_MAX && level > 3)
        status = prof__fail(PROF_INVALID_ARGUMENT, "host_tracer_level '%llu': must be 0 to 3",
                            (unsigned long long)level);
    if (level && level != UINT64_MAX) capture->config.level = (int)level;
    if (!status && p.bad) status = prof__fail(PROF_INVALID_ARGUMENT, "ProfileOptions: not a valid message");
    if (!status && unknown.names[0])
        status =
            prof__fail(PROF_INVALID_ARGUMENT,
                       "Parsing advanced_configuration failed. The following keys were not recognized: %.100s (%.90s)",
                       unknown.names, unknown.why);
    return status;
}

/* Reads a ProfileRequest. */
static prof_status prof__server_profile_read(const prof__server *v, prof__server_capture *capture,
                                             const unsigned char *at, size_t size)
{
    prof__proto p = prof__proto_of(at, size);
    uint64_t duration = 0, asked = 0, now = prof_host_ns(), max = v->max_ms * 1000000;
    prof_status status = PROF_OK;
    capture->format = PROF__SERVE_XPLANE;
    while (!status && prof__proto_next(&p)) {
        if (p.field == 1 && p.type == 0) duration = p.number;
        if (p.field == 4 && p.type == 2) status = prof__server_options_read(capture, &p, &asked);
        if (p.field == 6 && p.type == 2)
            prof__server_copy(capture->session, sizeof capture->session, (const char *)p.bytes, p.size);
        if (p.field == 9 && p.type == 0) capture->emit_xspace = p.number != 0;
    }
    if (status) return status;
    if (p.bad) return prof__fail(PROF_INVALID_ARGUMENT, "ProfileRequest: not a valid message");
    if (asked) duration = asked;
    if (!capture->continuous && (!duration || duration > v->max_ms))
        return prof__fail(PROF_INVALID_ARGUMENT, "duration_ms %llu: must be 1 to %llu", (unsigned long long)duration,
                          (unsigned long long)v->max_ms);
    if (capture->begin_at > now && capture->begin_at - now > max)
        return prof__fail(PROF_INVALID_ARGUMENT, "start_timestamp_ns: must be at most %llu ms from now",
                          (unsigned long long)v->max_ms);
    capture->ns = duration * 1000000;
    return PROF_OK;
}

static void prof__server_empty(prof__server *v, prof__server_ask *ask)
{
    prof__server_begin_answer(v, ask);
    if (ask->answer.first) prof__server_prefix(ask);
    ask->grpc_status = PROF__GRPC_OK;
    prof__server_end_answer(ask, 200, "");
}

static void prof__server_serve_profile(prof__server *v, prof__server_ask *ask, const unsigned char *at, size_t size)
{
    prof_status status = prof__server_profile_read(v, &ask->capture, at, size);
    if (status)
        prof__server_refuse(v, ask, status);
    else
        prof__server_ask_capture(v, ask);
}

/* Ends the captures with a session id early. No error if there is none. */
static void prof__server_terminate(prof__server *v, prof__server_ask *ask, const unsigned char *at, size_t size)
{
    prof__proto p = prof__proto_of(at, size);
    char session[sizeof ask->capture.session] = "";
    while (prof__proto_next(&p))
        if (p.field == 1 && p.type == 2) prof__server_copy(session, sizeof session, (const char *)p.bytes, p.size);
    for (int i = 0; session[0] && i < PROF__SERVER_CLIENTS; ++i)
        for (int k = 0; v->clients[i] && k < PROF__SERVER_STREAMS; ++k) {
            prof__server_ask *other = &v->clients[i]->asks[k];
            if (strcmp(other->capture.session, session)) continue;
            if (other->phase == PROF__ASK_CAPTURE) other->capture.end_at = prof_host_ns();
            if (other->phase == PROF__ASK_DELAYED) other->capture.begin_at = 0, other->capture.ns = 0;
        }
    prof__server_empty(v, ask);
}

static void prof__server_serve_monitor(prof__server *v, prof__server_ask *ask, const unsigned char *at, size_t size)
{
    prof__proto p = prof__proto_of(at, size);
    uint64_t ms = 0;
    while (prof__proto_next(&p)) {
        if (p.field == 1 && p.type == 0) ms = p.number;
        if (p.field == 2 && p.type == 0) ask->capture.number = p.number > 2 ? 2 : (int)p.number;
    }
    ask->capture.format = PROF__SERVE_MONITOR;
    ask->capture.ns = ms * 1000000;
    prof_status status = PROF_OK;
    if (p.bad) status = prof__fail(PROF_INVALID_ARGUMENT, "MonitorRequest: not a valid message");
    if (!status && (!ms || ms > v->max_ms))
        status = prof__fail(PROF_INVALID_ARGUMENT, "duration_ms %llu: must be 1 to %llu", (unsigned long long)ms,
                            (unsigned long long)v->max_ms);
    if (status)
        prof__server_refuse(v, ask, status);
    else
        prof__server_ask_capture(v, ask);
}

/* Begins continuous profiling: starts a session, unless the program already records. Snapshots then copy the buffer of
   the session that runs. */
static void prof__server_continue(prof__server *v, prof__server_ask *ask, const unsigned char *at, size_t size)
{
    prof__session_status look = prof__session_status_now();
    ask->capture.continuous = 1;
    prof_status status = prof__server_profile_read(v, &ask->capture, at, size);
    if (!status && v->continuous)
        status = prof__fail(PROF_INVALID_STATE,
                            "continuous profiling is on already: call StopContinuousProfiling first");
    if (!status) status = prof__server_capture_check(v, &ask->capture);
    if (!status && look.ended) status = prof__server_ended();
    if (!status && (!look.running || look.on_demand)) {
        ask->capture.config.mode = PROF_RING;
        status = prof__server_on_demand_join(v, &ask->capture, look.running);
        if (status == PROF_INVALID_STATE && prof__session_status_now().running) status = PROF_OK;
    }
    if (!status) v->continuous = ask->capture.on_demand ? 2 : 1; /* 2: this is a user of the on-demand session */
    ask->capture.on_demand = 0;
    if (status)
        prof__server_refuse(v, ask, status);
    else
        prof__server_empty(v, ask);
}

static void prof__server_discontinue(prof__server *v)
{
    if (v->continuous == 2) prof__server_on_demand_leave(v, NULL, NULL);
    v->continuous = 0;
}

/* Discards the recording of /start when the server ends, because no client can fetch it any more. */
static void prof__server_remote_leave(prof__server *v)
{
    if (v->remote) prof__server_on_demand_leave(v, NULL, NULL);
    v->remote = 0;
    prof__server_remote_drop(v);
}

static void prof__server_snapshot(prof__server *v, prof__server_ask *ask)
{
    prof__session_status look = prof__session_status_now();
    if (!look.running && !look.ended) {
        prof__server_say(v, ask, 409, PROF__GRPC_FAILED_PRECONDITION,
                         "nothing is recorded: call StartContinuousProfiling first");
        return;
    }
    ask->capture.format = PROF__SERVE_XPLANE;
    ask->capture.whole = 1;
    prof__server_ask_capture(v, ask);
}

static void prof__server_serve_grpc(prof__server *v, prof__server_ask *ask)
{
    static const char *const methods[] = {"Profile",
                                          "Terminate",
                                          "Monitor",
                                          "StartContinuousProfiling",
                                          "ContinuousProfiling",
                                          "StopContinuousProfiling",
                                          "GetSnapshot",
                                          "GetSnapShot",
                                          NULL};
    static const char service[] = "/tensorflow.ProfilerService/";
    const size_t prefix = sizeof service - 1;
    int method = strncmp(ask->path, service, prefix) ? -1 : prof__parse_name(ask->path + prefix, methods);
    const unsigned char *body = ask->body.at;
    size_t size = ask->body.size;
    uint64_t length = 0;
    for (int i = 1; size >= 5 && i < 5; ++i) length = length << 8 | body[i];
    prof__server_capture_init(v, &ask->capture);
    if (strcmp(ask->method, "POST")) {
        prof__server_say(v, ask, 405, PROF__GRPC_UNIMPLEMENTED, "gRPC requests must use POST");
    } else if (method < 0) {
        prof__server_say(v, ask, 404, PROF__GRPC_UNIMPLEMENTED, "the method %.100s does not exist here", ask->path);
    } else if (size < 5 || length != size - 5) {
        prof__server_say(v, ask, 400, PROF__GRPC_INVALID_ARGUMENT, "the request must hold exactly one message");
    } else if (body[0]) {
        prof__server_say(v, ask, 400, PROF__GRPC_UNIMPLEMENTED, "compressed messages are not supported");
    } else {
        body += 5;
        size -= 5;
        switch (method) {
        case 0: prof__server_serve_profile(v, ask, body, size); break;
        case 1: prof__server_terminate(v, ask, body, size); break;
        case 2: prof__server_serve_monitor(v, ask, body, size); break;
        case 3:
        case 4: prof__server_continue(v, ask, body, size); break;
        case 5: prof__server_discontinue(v); prof__server_empty(v, ask); break;
        default: prof__server_snapshot(v, ask); break;
        }
    }
}

/* Carries out a request whose head and body have come. */
static void prof__server_serve(prof__server *v, prof__server_ask *ask)
{
    static const struct {
        int status;
        const char *text;
    } reasons[] = {{400, "this is no valid request"},
                   {408, "the request took too long"},
                   {413, "the body has more than 64 KiB"},
                   {414, "the path or the query is too long"},
                   {431, "the head of the request, or a field of it, is too long"},
                   {501, "bodies in chunks are not supported: send Content-Length"},
                   {505, "this version of HTTP is not supported: use HTTP/1.1"}};
    size_t i = 0;
    if (ask->bad) {
        while (i + 1 < sizeof reasons / sizeof *reasons && reasons[i].status != ask->bad) ++i;
        if (ask->bad == 400 && ask->twice) {
            ask->grpc = 0; /* the content type came twice, so it does not say whether this is gRPC */
            prof__server_say(v, ask, 400, 0, "the header %s came more than once", ask->twice);
        } else {
            prof__server_say(v, ask, ask->bad, PROF__GRPC_INVALID_ARGUMENT, "%s", reasons[i].text);
        }
    } else if (prof__server_admits(v, ask)) {
        if (ask->grpc)
            prof__server_serve_grpc(v, ask);
        else
            prof__server_serve_http(v, ask);
    }
}

static void prof__server_free(prof__server *v, prof__server_ask *ask)
{
    prof__server_cancel(v, ask);
    prof__server_drop(v, &ask->body);
    prof__server_drop(v, &ask->answer);
    free(ask->live);
    memset(ask, 0, sizeof *ask);
}

#endif /* PROF__SERVER_GRPC_H */
