// server/http1: HTTP/1: reads requests and sends answers.
#ifndef PROF__SERVER_HTTP1_H
#define PROF__SERVER_HTTP1_H
#include "api/devices.h"
#include "server/grpc.h"
#include "server/request.h"
#include "server/state.h"

/*-- HTTP/1 ----------------------------------------------------------------------------------------------- >>http1 --*/

/* Returns the size of a request's head, with the empty line that ends it. Returns 0 if the head is incomplete. */
static size_t prof__http1_head_size(const unsigned char *in, size_t size)
{
    for (size_t i = 0; i + 1 < size; ++i) {
        if (in[i] != '\n') continue;
        if (in[i + 1] == '\n') return i + 2;
        if (in[i + 1] == '\r' && i + 2 < size && in[i + 2] == '\n') return i + 3;
    }
    return 0;
}

static void prof__http1_start_line(prof__server_ask *ask, const char *line, size_t size)
{
    const char *end = line + size, *target = line, *version;
    while (target < end && *target > ' ') ++target;
    if (!prof__server_copy(ask->method, sizeof ask->method, line, (size_t)(target - line))) ask->bad = 400;
    if (target < end) ++target;
    for (version = target; version < end && *version > ' ';) ++version;
    prof__server_target(ask, target, (size_t)(version - target));
    if (version < end) ++version;
    if (end - version != 8 || memcmp(version, "HTTP/", 5) || version[6] != '.' || target == version)
        ask->bad = 400;
    else if (version[5] != '1')
        ask->bad = 505;
    ask->keep = end - version == 8 && version[7] != '0';
}

static void prof__http1_length(prof__server_ask *ask, const char *value, size_t size)
{
    uint64_t length = 0;
    size_t i;
    for (i = 0; i < size && value[i] >= '0' && value[i] <= '9' && length <= PROF__SERVER_BODY; ++i)
        length = length * 10 + (uint64_t)(value[i] - '0');
    if (!size || (i < size && length <= PROF__SERVER_BODY))
        ask->bad = 400;
    else if (length > PROF__SERVER_BODY)
        ask->bad = 413;
    ask->length = length;
}

static void prof__http1_field(const prof__server *v, prof__server_ask *ask, const char *line, size_t size)
{
    const char *colon = (const char *)memchr(line, ':', size), *value, *end = line + size;
    if (!colon || colon == line || line[0] == ' ' || line[0] == '\t' || colon[-1] == ' ' || colon[-1] == '\t') {
        ask->bad = 400;
        return;
    }
    size_t name = (size_t)(colon - line);
    for (value = colon + 1; value < end && (*value == ' ' || *value == '\t');) ++value;
    while (end > value && (end[-1] == ' ' || end[-1] == '\t')) --end;
    for (const char *c = line; c < end; ++c)
        if ((unsigned char)*c < 32 && *c != '\t') ask->bad = 400;
    if (prof__server_is(line, name, "content-length")) prof__http1_length(ask, value, (size_t)(end - value));
    if (prof__server_is(line, name, "transfer-encoding")) ask->bad = 501;
    prof__server_once(ask, line, name);
    if (prof__server_is(line, name, "connection") && prof__server_is(value, (size_t)(end - value), "close"))
        ask->keep = 0;
    prof__server_field(v, ask, line, name, value, (size_t)(end - value));
}

static void prof__http1_head(const prof__server *v, prof__server_ask *ask, const char *head, size_t size)
{
    const char *end = head + size;
    int lines = 0;
    while (head < end) {
        const char *stop = (const char *)memchr(head, '\n', (size_t)(end - head));
        size_t length = stop ? (size_t)(stop - head) : (size_t)(end - head);
        if (length && head[length - 1] == '\r') --length;
        if (!lines++)
            prof__http1_start_line(ask, head, length);
        else if (length)
            prof__http1_field(v, ask, head, length);
        head = stop ? stop + 1 : end;
    }
    if (ask->keep && !(ask->seen & PROF__SEEN_HOST)) ask->bad = 400;
    if (ask->bad) ask->keep = 0;
}

static void prof__server_ate(prof__server_client *c, size_t size)
{
    memmove(c->in, c->in + size, c->in_size - size);
    c->in_size -= size;
}

/* Reads a head or a part of a body from the bytes that have come. Returns 1 if it used some. */
static int prof__http1_read(prof__server *v, prof__server_client *c)
{
    prof__server_ask *ask = &c->asks[0];
    if (ask->phase == PROF__ASK_FREE) {
        size_t blank = 0, head;
        while (blank < c->in_size && (c->in[blank] == '\r' || c->in[blank] == '\n')) ++blank;
        if (blank) prof__server_ate(c, blank);
        head = prof__http1_head_size(c->in, c->in_size);
        if (!head && c->in_size < PROF__SERVER_HEAD) return 0;
        ask->phase = PROF__ASK_BODY;
        if (!head || head > PROF__SERVER_HEAD) {
            ask->bad = 431;
            head = c->in_size;
        } else {
            prof__http1_head(v, ask, (const char *)c->in, head);
        }
        prof__server_ate(c, head);
        if (c->ahead + 1 >= PROF__SERVER_AHEAD) ask->keep = 0;
        if (ask->bad) ask->length = 0;
    }
    if (ask->phase != PROF__ASK_BODY) return 0;
    size_t part = c->in_size < ask->length - ask->body.size ? c->in_size : (size_t)(ask->length - ask->body.size);
    if (part && !prof__server_add(v, &ask->body, c->in, part)) {
        ask->bad = 413;
        ask->keep = 0;
        ask->length = ask->body.size;
    }
    prof__server_ate(c, part);
    if (ask->body.size < ask->length) return part != 0;
    prof__server_serve(v, ask);
    return 1;
}

static const char *prof__http1_reason(int status)
{
    static const struct {
        int status;
        const char *text;
    } all[] = {{200, "OK"}, {400, "Bad Request"}, {401, "Unauthorized"}, {403, "Forbidden"}, {404, "Not Found"},
               {405, "Method Not Allowed"}, {408, "Request Timeout"}, {409, "Conflict"}, {413, "Content Too Large"},
               {414, "URI Too Long"}, {431, "Request Header Fields Too Large"}, {500, "Internal Server Error"},
               {501, "Not Implemented"}, {503, "Service Unavailable"}, {505, "HTTP Version Not Supported"}};
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i)
        if (all[i].status == status) return all[i].text;
    return "Error";
}

/* Copies a part of the answer to the bytes that are sent next. Returns 1 if it copied some. */
static int prof__http1_fill(prof__server *v, prof__server_client *c)
{
    prof__server_ask *ask = &c->asks[0];
    prof__server_bytes *answer = &ask->answer;
    size_t space = sizeof c->out - c->out_size;
    int live = ask->phase == PROF__ASK_LIVE && ask->live->messages, began = !ask->head_sent;
    if (ask->phase != PROF__ASK_ANSWER && !live) return 0;
    if (!ask->head_sent) {
        if (space < sizeof ask->head + 128) return 0;
        int size = snprintf((char *)c->out + c->out_size, space, "HTTP/1.1 %d %s\r\n%s%s\r\n", ask->status,
                            prof__http1_reason(ask->status), ask->head, ask->keep ? "" : "connection: close\r\n");
        c->out_size += (size_t)size;
        space -= (size_t)size;
        ask->head_sent = 1;
    }
    size_t left = answer->size - answer->first, part = left < space ? left : space;
    if (part) memcpy(c->out + c->out_size, answer->at + answer->first, part);
    c->out_size += part;
    answer->first += part;
    ask->taken += part;
    if (live && part) ask->since = prof_host_ns();
    if (part < left || (live && !ask->live->over)) return part != 0 || began;
    if (!ask->keep) c->closing = 1;
    c->ahead = c->in_size ? c->ahead + 1 : 0;
    prof__server_free(v, ask);
    c->since = prof_host_ns();
    return 1;
}

#endif /* PROF__SERVER_HTTP1_H */
