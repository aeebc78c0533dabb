// server/request: Reads the parts of a request, checks that the client may ask, and carries out the requests of HTTP.
#ifndef PROF__SERVER_REQUEST_H
#define PROF__SERVER_REQUEST_H
#include "api/control.h"
#include "api/devices.h"
#include "ground/errors.h"
#include "ground/threads.h"
#include "session/config.h"
#include "session/config_set.h"
#include "session/number.h"
#include "session/on_demand.h"
#include "session/process.h"
#include "server/capture.h"
#include "server/live.h"
#include "server/on_demand.h"
#include "server/state.h"

/*-- REQUESTS --------------------------------------------------------------------------------------------- >>request --
   HTTP/1 and HTTP/2 both turn a request into a prof__server_ask. Nothing is done for a request before its whole head
   has come and was checked. */

static int prof__server_lower(int c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; }

/* Returns 1 if the first `size` bytes of `text` are `word`. Ignores case. */
static int prof__server_is(const char *text, size_t size, const char *word)
{
    size_t i;
    for (i = 0; i < size && word[i]; ++i)
        if (prof__server_lower((unsigned char)text[i]) != word[i]) return 0;
    return i == size && !word[i];
}

static int prof__server_starts(const char *text, const char *prefix)
{
    return strlen(text) >= strlen(prefix) && prof__server_is(text, strlen(prefix), prefix);
}

/* Compares a text with the token. The time that takes depends on the length of the text alone, so it tells a client
   nothing about the token. */
static int prof__server_token_is(const prof__server *v, const char *text, size_t size)
{
    volatile unsigned char differs = (unsigned char)(size != v->token_size);
    for (size_t i = 0; i < size; ++i)
        differs = (unsigned char)(differs | ((unsigned char)text[i] ^
                                             (unsigned char)v->token[i % (v->token_size + !v->token_size)]));
    return v->token_size && !differs;
}

static int prof__server_base64(char c)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = c ? strchr(letters, c) : NULL;
    return at ? (int)(at - letters) : -1;
}

/* Compares the token with the password that a browser has asked its user for: base64 of NAME:TOKEN. NAME may be any. */
static int prof__server_basic_is(const prof__server *v, const char *text, size_t size)
{
    char plain[512];
    size_t count = 0, name = 0;
    uint32_t bits = 0;
    for (size_t i = 0; i < size && text[i] != '='; ++i) {
        int six = prof__server_base64(text[i]);
        if (six < 0 || count == sizeof plain) return 0;
        bits = (bits << 6 | (uint32_t)six) & 0xFFFF;
        if (i % 4) plain[count++] = (char)(unsigned char)(bits >> (6 - 2 * (i % 4)) & 255);
    }
    while (name < count && plain[name] != ':') ++name;
    return name < count && prof__server_token_is(v, plain + name + 1, count - name - 1);
}

static int prof__server_trusts(const prof__server *v, const char *value, size_t size)
{
    if (size > 7 && prof__server_is(value, 7, "bearer ")) return prof__server_token_is(v, value + 7, size - 7);
    return size > 6 && prof__server_is(value, 6, "basic ") && prof__server_basic_is(v, value + 6, size - 6);
}

/* Returns 1 if the header field accept shows that the client is a browser, which wants a page. */
static int prof__server_takes_pages(const char *value, size_t size)
{
    static const char type[] = "text/html";
    for (size_t i = 0; i + sizeof type - 1 <= size; ++i)
        if (prof__server_is(value + i, sizeof type - 1, type)) return 1;
    return 0;
}

/* Notes a field that decides what the request may do, or where its body ends. A second field of that name makes the
   request invalid, even if it is equal or empty, because a proxy before this server may have used the other one. */
#define PROF__SEEN_HOST 1u
static void prof__server_once(prof__server_ask *ask, const char *name, size_t size)
{
    static const char *const names[] = {"host", "origin", "sec-fetch-site", "authorization", "content-type",
                                        "content-length", "transfer-encoding", ":method", ":path", ":authority",
                                        ":scheme"};
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
        if (!prof__server_is(name, size, names[i])) continue;
        if (ask->seen >> i & 1) {
            ask->bad = 400;
            ask->twice = names[i];
        }
        ask->seen |= 1u << i;
        return;
    }
}

/* Reads the host that the client names. In HTTP/1, a host in the start line, which comes first, has precedence. In
   HTTP/2, two hosts must be equal. */
static int prof__server_host(prof__server_ask *ask, const char *value, size_t size)
{
    if (!ask->host[0]) return prof__server_copy(ask->host, sizeof ask->host, value, size);
    if (ask->stream && (strlen(ask->host) != size || memcmp(ask->host, value, size))) ask->bad = 400;
    return 1;
}

/* Reads a header field. Ignores the case of its name. */
static void prof__server_field(const prof__server *v, prof__server_ask *ask, const char *name, size_t name_size,
                               const char *value, size_t size)
{
    int fits = 1;
    if (prof__server_is(name, name_size, "host") || prof__server_is(name, name_size, ":authority"))
        fits = prof__server_host(ask, value, size);
    else if (prof__server_is(name, name_size, "origin"))
        fits = prof__server_copy(ask->origin, sizeof ask->origin, value, size);
    else if (prof__server_is(name, name_size, "sec-fetch-site"))
        fits = prof__server_copy(ask->site, sizeof ask->site, value, size);
    else if (prof__server_is(name, name_size, "authorization"))
        ask->trusted = prof__server_trusts(v, value, size);
    else if (prof__server_is(name, name_size, "accept"))
        ask->html |= prof__server_takes_pages(value, size);
    else if (prof__server_is(name, name_size, "content-type"))
        ask->grpc = size >= 16 && prof__server_is(value, 16, "application/grpc") && ask->stream;
    if (!fits && !ask->bad) ask->bad = 431;
}

/* Splits a target such as "http://host/path?query". A host in it replaces that of the header field. */
static void prof__server_target(prof__server_ask *ask, const char *text, size_t size)
{
    const char *end = text + size, *path = text;
    if (size > 7 && prof__server_is(text, 7, "http://")) {
        for (path = text + 7; path < end && *path != '/' && *path != '?';) ++path;
        if (!prof__server_copy(ask->host, sizeof ask->host, text + 7, (size_t)(path - text - 7))) ask->bad = 431;
    }
    const char *question = path;
    while (question < end && *question != '?' && *question != '#') ++question;
    const char *query = question < end && *question == '?' ? question + 1 : question, *stop = query;
    while (stop < end && *stop != '#') ++stop;
    if (!prof__server_copy(ask->path, sizeof ask->path, path, (size_t)(question - path)) ||
        !prof__server_copy(ask->query, sizeof ask->query, query, (size_t)(stop - query)))
        ask->bad = 414;
}

/* Returns 1 for the names of this machine: localhost, NAME.localhost, 127.x.y.z and [::1], with or without a port. This
   check stops web pages whose host name resolves to 127.0.0.1: their requests carry that name, and are refused. */
static int prof__server_host_is_here(const char *host)
{
    static const char own[] = "localhost";
    size_t size = 0, dots = 0;
    if (prof__server_starts(host, "[::1]")) {
        size = 5;
    } else {
        while (host[size] && host[size] != ':') ++size;
        if (size && host[size - 1] == '.') return 0;
        int name = size >= 9 && prof__server_is(host + size - 9, 9, own) && (size == 9 || host[size - 10] == '.');
        int digits = !strncmp(host, "127.", 4);
        for (size_t i = 0; i < size; ++i) {
            digits = digits && (host[i] == '.' || (host[i] >= '0' && host[i] <= '9'));
            dots += host[i] == '.';
        }
        if (!name && !(digits && dots == 3)) return 0;
    }
    if (!host[size]) return 1;
    if (host[size++] != ':') return 0;
    for (; host[size]; ++size)
        if (host[size] < '0' || host[size] > '9') return 0;
    return 1;
}

/* Checks that this client may ask. Returns 0 if not, and then has answered with the reason. */
static int prof__server_admits(prof__server *v, prof__server_ask *ask)
{
    if (v->token_size && !ask->trusted) {
        ask->head[0] = 0;
        prof__server_head(ask, "www-authenticate: Bearer\r\n");
        if (ask->html) prof__server_head(ask, "www-authenticate: Basic realm=\"the token, as password\"\r\n");
        prof__server_say(v, ask, 401, PROF__GRPC_UNAUTHENTICATED,
                         "a token is needed: send the header Authorization: Bearer TOKEN");
    } else if (!v->token_size && ask->host[0] && !prof__server_host_is_here(ask->host)) {
        prof__server_say(v, ask, 403, PROF__GRPC_PERMISSION_DENIED,
                         "host '%.100s' is not a name of this machine: use localhost or 127.0.0.1, or a token",
                         ask->host);
    } else if ((ask->origin[0] &&
                !(prof__server_starts(ask->origin, "http://") && !strcmp(ask->origin + 7, ask->host))) ||
               (ask->site[0] && strcmp(ask->site, "same-origin") && strcmp(ask->site, "none"))) {
        prof__server_say(v, ask, 403, PROF__GRPC_PERMISSION_DENIED, "requests from pages of other sites are refused");
    } else {
        return 1;
    }
    return 0;
}

/* Parses a number of milliseconds. The text must have nothing else. */
static prof_status prof__server_ms(const prof__server *v, const char *key, const char *text, uint64_t least,
                                   uint64_t *ns)
{
    uint64_t ms;
    if (!prof__parse_whole(text, &ms) || ms < least || ms > v->max_ms)
        return prof__fail(PROF_INVALID_ARGUMENT, "%s '%.40s': must be %llu to %llu milliseconds", key, text,
                          (unsigned long long)least, (unsigned long long)v->max_ms);
    *ns = ms * 1000000;
    return PROF_OK;
}

enum { PROF__MAY_MS = 1, PROF__MAY_LAST = 2, PROF__MAY_FORMAT = 4, PROF__MAY_CONFIG = 8, PROF__MAY_LEVEL = 16,
       PROF__MAY_ANY = 32, PROF__MAY_FINISH = 64, PROF__MAY_CATEGORY = 128 };

/* Reads a parameter of a query. may: which kinds of parameters the path accepts. */
static prof_status prof__server_parameter(prof__server *v, prof__server_ask *ask, unsigned may, const char *key,
                                          const char *value)
{
    static const char *const formats[] = {"json", "prof", "xplane", "csv", "html", NULL};
    prof__server_capture *capture = &ask->capture;
    uint64_t ns = 0;
    prof_status status = PROF_OK;
    if (may & PROF__MAY_MS && !strcmp(key, "ms")) {
        status = prof__server_ms(v, key, value, 1, &capture->ns);
        capture->whole = 0;
    } else if (may & PROF__MAY_MS && !strcmp(key, "delay")) {
        status = prof__server_ms(v, key, value, 0, &ns);
        if (!status) capture->begin_at = prof_host_ns() + ns;
    } else if (may & PROF__MAY_LAST && !strcmp(key, "last")) {
        if (!prof__parse_seconds(value, &ns) || !ns)
            return prof__fail(PROF_INVALID_ARGUMENT, "last '%.40s': must be seconds, for example 5 or 500ms", value);
        capture->last = (double)ns / 1e9;
        capture->whole = 1;
    } else if (may & PROF__MAY_FORMAT && !strcmp(key, "format")) {
        int format = prof__parse_name(value, formats);
        if (format < 0)
            return prof__fail(PROF_INVALID_ARGUMENT, "format '%.40s': must be json, prof, xplane, csv or html", value);
        capture->format = (prof__server_format)format;
    } else if (may & PROF__MAY_LEVEL && !strcmp(key, "level")) {
        if (!prof__parse_whole(value, &ns) || ns > 255)
            return prof__fail(PROF_INVALID_ARGUMENT, "level '%.40s': must be 0 to 255", value);
        capture->number = (int)ns + 1;
    } else if (may & PROF__MAY_CATEGORY && (!strcmp(key, "on") || !strcmp(key, "off"))) {
        size_t size = strlen(value) + 2; /* one more for the sign that prof__server_categories() looks for */
        if (size > sizeof capture->texts - capture->text_used)
            return prof__fail(PROF_INVALID_ARGUMENT, "'%s': its value is too long", key);
        capture->texts[capture->text_used] = key[1] == 'n' ? '+' : '-';
        memcpy(capture->texts + capture->text_used + 1, value, size - 1);
        capture->text_used += size;
    } else if (may & PROF__MAY_FINISH && !strcmp(key, "finished")) {
        static const char *const words[] = {"0", "False", "false", "1", "True", "true", NULL};
        int word = prof__parse_name(value, words);
        if (word < 0) return prof__fail(PROF_INVALID_ARGUMENT, "finished '%.40s': must be 0 or 1", value);
        capture->dump = word < 3 ? 1 : 2;
    } else if (may & PROF__MAY_ANY || (may & PROF__MAY_CONFIG && prof__parse_name(key, prof__server_keys) >= 0)) {
        return prof__server_set(capture, key, value);
    } else {
        return prof__fail(PROF_INVALID_ARGUMENT, "%.40s has no parameter '%.40s': see /", ask->path, key);
    }
    return status;
}

static int prof__server_hex(char c)
{
    int low = prof__server_lower((unsigned char)c);
    return low >= '0' && low <= '9' ? low - '0' : low >= 'a' && low <= 'f' ? low - 'a' + 10 : -1;
}

/* Decodes %XX and + in place. Returns 0 if the text is invalid, or has a zero byte. */
static int prof__server_decode(char *text)
{
    char *to = text;
    for (; *text; ++text) {
        if (*text == '%') {
            int high = prof__server_hex(text[1]), low = high < 0 ? -1 : prof__server_hex(text[2]);
            if (low < 0 || !(high | low)) return 0;
            *to++ = (char)(high << 4 | low);
            text += 2;
        } else {
            *to++ = *text == '+' ? ' ' : *text;
        }
    }
    *to = 0;
    return 1;
}

/* Reads "key=value&key=value". Writes into the text. */
static prof_status prof__server_parameters(prof__server *v, prof__server_ask *ask, unsigned may, char *query)
{
    while (*query) {
        char *key = query, *value;
        while (*query && *query != '&') ++query;
        if (*query) *query++ = 0;
        if (!*key) continue;
        value = strchr(key, '=');
        if (!value) return prof__fail(PROF_INVALID_ARGUMENT, "'%.40s': a parameter must be key=value", key);
        *value++ = 0;
        if (!prof__server_decode(key) || !prof__server_decode(value))
            return prof__fail(PROF_INVALID_ARGUMENT, "'%.40s' is not well-formed", key);
        prof_status status = prof__server_parameter(v, ask, may, key, value);
        if (status) return status;
    }
    return PROF_OK;
}

/*-- the paths of HTTP --*/

static void prof__server_index(prof__server *v, prof__server_ask *ask)
{
    static const char text[] =
#ifdef PROF_HTML_H
        "GET  /                     in a browser: the program, live\n"
        "GET  /live                 what that page reads\n"
#else
        "In a browser, this could be the program, live: include prof_html.h before prof_server.h where "
        "PROF_IMPLEMENTATION is.\n\n"
#endif
        "GET  /trace?ms=1000        what happens in the next 1000 ms, after delay=0, as format=json, prof, xplane, "
        "csv or html;\n"
        "                           where nothing records also buffer=64M, level=2, categories=net,-audio, mode=ring "
        "or fill,\n"
        "                           min_duration=1us, filter_mask=0xff, clock=ordered\n"
        "GET  /summary              a table of what is in the buffer; ms=1000: of the next second; last=5: of the last "
        "five\n"
        "GET  /save?last=5          what is in the buffer, or its last 5 seconds; format as above\n"
        "GET  /status               as JSON\n"
        "POST /pause, /resume       the recording\n"
        "POST /level?level=3        call sites of a higher level are off\n"
        "POST /categories?off=audio&on=net   categories, or patterns such as net*\n"
        "POST /config?level=2&...   how /start records\n"
        "POST /start, /stop         a recording, where nothing else records\n"
        "POST /dump                 what it has, once, format as above; finished=0: so far\n\n"
        "The same port speaks gRPC (tensorflow.ProfilerService): XProf, \"Capture profile\".\n";
    char line[256], name[64];
#ifdef PROF_HTML_H
    if (ask->html) {
        prof__server_page(v, ask);
        return;
    }
#endif
    prof__server_begin_answer(v, ask);
    prof__program_name(name, sizeof name);
    snprintf(line, sizeof line, "prof %d.%d, in %.60s, process %llu\n\n", PROF_VERSION / 10000,
             PROF_VERSION / 100 % 100, name, (unsigned long long)prof__process_id());
    prof__server_add(v, &ask->answer, line, strlen(line));
    prof__server_add(v, &ask->answer, text, sizeof text - 1);
    prof__server_end_answer(ask, 200, "text/plain; charset=utf-8");
}

static void prof__server_status(prof__server *v, prof__server_ask *ask)
{
    static const char *const modes[] = {"ring", "fill", "stream", "stats", "ring+stats"};
    prof__session_status look = prof__session_status_now();
    unsigned clients = 0, captures = 0;
    char text[640], name[64];
    for (int i = 0; i < PROF__SERVER_CLIENTS; ++i) {
        clients += v->clients[i] != NULL;
        for (int k = 0; v->clients[i] && k < PROF__SERVER_STREAMS; ++k)
            captures +=
                v->clients[i]->asks[k].phase == PROF__ASK_CAPTURE || v->clients[i]->asks[k].phase == PROF__ASK_DELAYED;
    }
    prof__server_begin_answer(v, ask);
    prof__server_name(name, sizeof name);
    int recording = look.running && !look.paused && !look.held;
    snprintf(text, sizeof text,
             "{\"program\":\"%s\",\"pid\":%llu,\"version\":%d,\"recording\":%s,\"session\":\"%s\",\"mode\":\"%s\","
             "\"level\":%d,"
             "\"paused\":%s,\"waiting\":%s,\"buffer\":%llu,\"filled\":%.3f,\"continuous\":%s,\"capturing\":%u,"
             "\"captures\":%llu,\"started\":%s,"
             "\"clients\":%u,\"watching\":%u,\"unread\":%llu,\"json\":%s,\"xplane\":%s,\"html\":%s}\n",
             name, (unsigned long long)prof__process_id(), PROF_VERSION, recording ? "true" : "false",
             look.ended       ? "ended"
             : !look.running  ? "none"
             : look.on_demand ? "capture"
                              : "program",
             modes[look.mode <= PROF_RING_STATS ? look.mode : PROF_RING], look.level, look.paused ? "true" : "false",
             look.held ? "true" : "false", (unsigned long long)(look.session_id ? look.buffer : 0),
             look.chunks && look.taken < look.chunks ? (double)look.taken / (double)look.chunks
             : look.chunks                           ? 1.0
                                                     : 0.0,
             v->continuous ? "true" : "false", captures, (unsigned long long)v->captures, v->remote ? "true" : "false",
             clients, prof__server_watchers(v), (unsigned long long)prof__server_unread(v),
             prof__server_missing(PROF__SERVE_JSON) ? "false" : "true",
             prof__server_missing(PROF__SERVE_XPLANE) ? "false" : "true",
             prof__server_missing(PROF__SERVE_HTML) ? "false" : "true");
    prof__server_add(v, &ask->answer, text, strlen(text));
    prof__server_end_answer(ask, 200, "application/json");
}

/* Pauses or resumes the recording for a client. Several pauses count as one. */
static void prof__server_pause(prof__server *v, prof__server_ask *ask, int pause)
{
    prof__session_status look = prof__session_status_now();
    prof_status status = PROF_OK;
    int paused = v->paused_session_id && v->paused_session_id == look.session_id && look.running;
    if (!look.running || (look.on_demand && !v->remote)) {
        status = prof__fail(PROF_INVALID_STATE, "the program records nothing: POST /start first");
    } else if (pause && !paused) {
        status = prof_pause();
        if (!status) v->paused_session_id = look.session_id;
    } else if (!pause && paused) {
        status = prof_resume();
        v->paused_session_id = 0;
    } else if (!pause && look.paused) {
        status = prof__fail(PROF_INVALID_STATE, "the program has paused its recording itself: only it can resume");
    }
    if (status)
        prof__server_refuse(v, ask, status);
    else
        prof__server_say(v, ask, 200, 0, "%s", pause ? "paused" : "recording");
}

/* Fails unless the program, /start or /live records. A client cannot change the recording of a capture, which soon
   ends. */
static prof_status prof__server_recording(const prof__server *v, const prof__session_status *look)
{
    if (look->running && (!look->on_demand || v->remote || prof__server_watchers(v))) return PROF_OK;
    return prof__fail(PROF_INVALID_STATE, "the program records nothing: POST /start first");
}

static void prof__server_level(prof__server *v, prof__server_ask *ask)
{
    prof__session_status look = prof__session_status_now();
    int level = ask->capture.number - 1;
    prof_status status = level >= 0 ? PROF_OK : prof__fail(PROF_INVALID_ARGUMENT,
                                                           "level is missing: for example /level?level=3");
    if (!status) status = prof__server_recording(v, &look);
    if (!status) status = prof_set_level(level);
    if (!status && look.on_demand) v->on_demand_level = level;
    if (status)
        prof__server_refuse(v, ask, status);
    else
        prof__server_say(v, ask, 200, 0, "level %d", level);
}

/* Turns categories on and off, in the order in which the parameters name them. */
static void prof__server_categories(prof__server *v, prof__server_ask *ask)
{
    prof__session_status look = prof__session_status_now();
    const char *at = ask->capture.texts, *end = at + ask->capture.text_used;
    prof_status status = at < end ? prof__server_recording(v, &look)
                                  : prof__fail(PROF_INVALID_ARGUMENT,
                                               "on or off is missing: for example /categories?off=audio");
    for (; !status && at < end; at += strlen(at) + 1) status = prof_category_enable(at + 1, *at == '+');
    if (status)
        prof__server_refuse(v, ask, status);
    else
        prof__server_say(v, ask, 200, 0, "categories are set");
}

/* Sets the configuration of later /start requests. Replaces all earlier settings of /config. */
static void prof__server_config(prof__server *v, prof__server_ask *ask)
{
    prof_status status = prof__server_capture_check(v, &ask->capture);
    if (!status) prof__server_capture_copy(&v->wish, &ask->capture);
    if (!status) v->wished = 1;
    if (status)
        prof__server_refuse(v, ask, status);
    else
        prof__server_say(v, ask, 200, 0, "configured, for /start");
}

/* Begins the recording of /start. If that runs already, lets it go on. If the program itself records, starts
   nothing. */
static void prof__server_begin_remote(prof__server *v, prof__server_ask *ask)
{
    prof__session_status look = prof__session_status_now();
    prof_status status = PROF_OK;
    int own = look.running && !look.on_demand;
    if (look.ended) status = prof__server_ended();
    if (!status && !own && v->remote && prof__server_was_sent_away(v)) status = prof__server_remote_stop(v);
    if (!status && !own && !v->remote) {
        if (v->wished) prof__server_capture_copy(&ask->capture, &v->wish);
        v->remote_from = prof_host_ns(); /* taken before a session starts, so that the recording covers all of it */
        status = prof__server_on_demand_join(v, &ask->capture, look.running);
        /* the program has started one meanwhile */
        own = status == PROF_INVALID_STATE && prof__session_status_now().running;
        if (own) status = PROF_OK;
        ask->capture.on_demand = 0;
        if (!status && !own) {
            prof__server_remote_drop(v);
            v->remote = 1;
        }
    }
    if (status)
        prof__server_refuse(v, ask, status);
    else
        prof__server_say(v, ask, 200, 0, "%s",
                         own ? "recording: the program records with its own configuration" : "recording");
}

static void prof__server_end_remote(prof__server *v, prof__server_ask *ask)
{
    prof__session_status look = prof__session_status_now();
    prof_status status = PROF_OK;
    if (v->remote)
        status = prof__server_remote_stop(v);
    else if (look.running && !look.on_demand)
        status = prof__fail(PROF_INVALID_STATE, "the program records by itself: only it can stop; see /pause");
    else if (!v->stopped)
        status = prof__fail(PROF_INVALID_STATE, "nothing is recorded: POST /start first");
    if (status)
        prof__server_refuse(v, ask, status);
    else
        prof__server_say(v, ask, 200, 0, "stopped");
}

static void prof__server_dump(prof__server *v, prof__server_ask *ask)
{
    prof__session_status look = prof__session_status_now();
    if (!v->remote && !v->stopped && !look.on_demand && (look.running || look.ended)) {
        ask->capture.whole = 1; /* answers at once, like /save */
        ask->capture.dump = 0;
    }
    prof__server_ask_capture(v, ask);
}

enum { PROF__PATH_INDEX, PROF__PATH_STATUS, PROF__PATH_TRACE, PROF__PATH_SUMMARY, PROF__PATH_SAVE, PROF__PATH_PAUSE,
       PROF__PATH_RESUME, PROF__PATH_LEVEL, PROF__PATH_CATEGORIES, PROF__PATH_CONFIG, PROF__PATH_START, PROF__PATH_STOP,
       PROF__PATH_DUMP, PROF__PATH_LIVE };

static void prof__server_serve_path(prof__server *v, prof__server_ask *ask, int path)
{
    switch (path) {
    case PROF__PATH_INDEX: prof__server_index(v, ask); break;
    case PROF__PATH_STATUS: prof__server_status(v, ask); break;
    case PROF__PATH_PAUSE:
    case PROF__PATH_RESUME: prof__server_pause(v, ask, path == PROF__PATH_PAUSE); break;
    case PROF__PATH_LEVEL: prof__server_level(v, ask); break;
    case PROF__PATH_CATEGORIES: prof__server_categories(v, ask); break;
    case PROF__PATH_CONFIG: prof__server_config(v, ask); break;
    case PROF__PATH_START: prof__server_begin_remote(v, ask); break;
    case PROF__PATH_STOP: prof__server_end_remote(v, ask); break;
    case PROF__PATH_DUMP: prof__server_dump(v, ask); break;
    case PROF__PATH_LIVE: prof__server_watch(v, ask); break;
    default: prof__server_ask_capture(v, ask); break;
    }
}

static void prof__server_serve_http(prof__server *v, prof__server_ask *ask)
{
    static const struct {
        const char *path, *method;
        unsigned may;
        int post;
    } paths[] = {{"/", "GET", PROF__MAY_CONFIG, 0}, /* the page passes its parameters to /live */
                 {"/status", "GET", 0, 0},
                 {"/trace", "GET", PROF__MAY_MS | PROF__MAY_FORMAT | PROF__MAY_CONFIG, 0},
                 {"/summary", "GET", PROF__MAY_MS | PROF__MAY_LAST | PROF__MAY_CONFIG, 0},
                 {"/save", "GET", PROF__MAY_LAST | PROF__MAY_FORMAT, 0},
                 {"/pause", "POST", 0, 1},
                 {"/resume", "POST", 0, 1},
                 {"/level", "POST", PROF__MAY_LEVEL, 1},
                 {"/categories", "POST", PROF__MAY_CATEGORY, 1},
                 {"/config", "POST", PROF__MAY_ANY, 1},
                 {"/start", "POST", 0, 1},
                 {"/stop", "POST", 0, 1},
                 {"/dump", "POST", PROF__MAY_FORMAT | PROF__MAY_FINISH, 1},
                 {"/live", "GET", PROF__MAY_CONFIG, 0}};
    int at = 0, count = (int)(sizeof paths / sizeof *paths);
    while (at < count && strcmp(paths[at].path, ask->path)) ++at;
    if (at == count) {
        prof__server_say(v, ask, 404, PROF__GRPC_UNIMPLEMENTED, "%.100s does not exist here: see /", ask->path);
        return;
    }
    if (strcmp(paths[at].method, ask->method)) {
        ask->head[0] = 0;
        prof__server_head(ask, "allow: %s\r\n", paths[at].method);
        prof__server_say(v, ask, 405, PROF__GRPC_UNIMPLEMENTED, "%s needs the method %s",
                         paths[at].path, paths[at].method);
        return;
    }
    if (paths[at].post && v->read_only) {
        prof__server_say(v, ask, 403, PROF__GRPC_PERMISSION_DENIED, "this server is read-only");
        return;
    }
    prof__server_capture_init(v, &ask->capture);
    ask->capture.whole = at == PROF__PATH_SAVE || at == PROF__PATH_SUMMARY;
    if (at == PROF__PATH_SUMMARY) ask->capture.format = PROF__SERVE_SUMMARY;
    if (at == PROF__PATH_DUMP) ask->capture.dump = 2;
    prof_status status = prof__server_parameters(v, ask, paths[at].may, ask->query);
    if (!status && paths[at].post && ask->body.size)
        status = prof__server_add(v, &ask->body, "", 1)
                     ? prof__server_parameters(v, ask, paths[at].may, (char *)ask->body.at)
                     : prof__fail(PROF_NO_MEMORY, "no memory for the body");
    if (status)
        prof__server_refuse(v, ask, status);
    else
        prof__server_serve_path(v, ask, at);
}

#endif /* PROF__SERVER_REQUEST_H */
