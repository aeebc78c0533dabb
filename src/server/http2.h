// server/http2: HTTP/2: reads frames of several requests at once, and sends answers.
#ifndef PROF__SERVER_HTTP2_H
#define PROF__SERVER_HTTP2_H
#include "api/devices.h"
#include "server/capture.h"
#include "server/grpc.h"
#include "server/hpack.h"
#include "server/http1.h"
#include "server/request.h"
#include "server/state.h"

/*-- HTTP/2 ------------------------------------------------------------------------------------------------- >>http2 --
   HTTP/2 of RFC 9113, for clients that begin with it ("prior knowledge"). It neither pushes nor uses priorities. */

enum {
    PROF__H2_DATA,
    PROF__H2_HEADERS,
    PROF__H2_PRIORITY,
    PROF__H2_RESET,
    PROF__H2_SETTINGS,
    PROF__H2_PUSH,
    PROF__H2_PING,
    PROF__H2_GOAWAY,
    PROF__H2_WINDOW,
    PROF__H2_CONTINUATION
};
enum {
    PROF__H2_OK = 0,
    PROF__H2_PROTOCOL = 1,
    PROF__H2_FLOW = 3,
    PROF__H2_SIZE = 6,
    PROF__H2_REFUSED = 7,
    PROF__H2_COMPRESSION = 9,
    PROF__H2_CALM = 11
};
#define PROF__H2_END_STREAM 1u /* flags of frames; on SETTINGS and PING, this bit means ACK */
#define PROF__H2_END_HEADERS 4u
#define PROF__H2_PADDED 8u
#define PROF__H2_WITH_PRIORITY 32u
#define PROF__H2_TABLE 4096u /* bytes of HPACK's table: the default, which our SETTINGS leave */
static const char prof__h2_preface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

static void prof__h2_number(unsigned char *to, uint32_t number)
{
    for (int i = 0; i < 4; ++i) to[i] = (unsigned char)(number >> (24 - 8 * i));
}
static uint32_t prof__h2_number_at(const unsigned char *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

/* Appends a frame to the bytes that are sent next. prof__h2_read() reads frames only while there is space for one. */
static void prof__h2_frame(prof__server_client *c, unsigned type, unsigned flags, uint32_t stream, const void *payload,
                           size_t size)
{
    unsigned char *to = c->out + c->out_size;
    if (sizeof c->out - c->out_size < 9 + size) return;
    prof__h2_number(to, (uint32_t)size << 8 | type);
    to[4] = (unsigned char)flags;
    prof__h2_number(to + 5, stream);
    if (size) memcpy(to + 9, payload, size);
    c->out_size += 9 + size;
}

static void prof__h2_reset(prof__server_client *c, uint32_t stream, uint32_t error)
{
    unsigned char code[4];
    prof__h2_number(code, error);
    prof__h2_frame(c, PROF__H2_RESET, 0, stream, code, 4);
}

/* Tells the client why the connection ends, and closes it once that is sent. */
static void prof__h2_goaway(prof__server *v, prof__server_client *c, uint32_t error)
{
    unsigned char payload[8];
    prof__h2_number(payload, c->last_stream);
    prof__h2_number(payload + 4, error);
    prof__h2_frame(c, PROF__H2_GOAWAY, 0, 0, payload, 8);
    for (int i = 0; i < PROF__SERVER_STREAMS; ++i) prof__server_free(v, &c->asks[i]);
    c->closing = 1;
}

static prof__server_ask *prof__h2_ask(prof__server_client *c, uint32_t stream)
{
    for (int i = 0; i < PROF__SERVER_STREAMS; ++i)
        if (c->asks[i].phase && c->asks[i].stream == stream) return &c->asks[i];
    return NULL;
}

static void prof__h2_greet(prof__server_client *c)
{
    static const unsigned char settings[12] = {0, 3, 0, 0, 0, PROF__SERVER_STREAMS,       /* MAX_CONCURRENT_STREAMS */
                                               0, 6, 0, 0, PROF__SERVER_HEAD >> 8, 0};    /* MAX_HEADER_LIST_SIZE */
    prof__h2_frame(c, PROF__H2_SETTINGS, 0, 0, settings, sizeof settings);
    c->speaks = PROF__SPEAKS_HTTP2;
    c->hpack.limit = PROF__H2_TABLE;
    c->window = c->first_window = 65535;
    c->max_frame = PROF__SERVER_FRAME;
}

typedef struct prof__h2_head {
    const prof__server *v;
    prof__server_ask *ask;
    int fields; /* 1: a regular field has come; pseudo-header fields must not follow */
} prof__h2_head;

static void prof__h2_field(void *user, const char *name, size_t name_size, const char *value, size_t size)
{
    prof__h2_head *head = (prof__h2_head *)user;
    prof__server_ask *ask = head->ask;
    if (!ask) return;
    for (size_t i = 0; i < size; ++i)
        if ((unsigned char)value[i] < 32 && value[i] != '\t') ask->bad = 400;
    if (name_size && *name != ':')
        head->fields = 1;
    else if (!name_size || head->fields)
        ask->bad = 400;
    prof__server_once(ask, name, name_size);
    if (prof__server_is(name, name_size, ":method")) {
        if (!prof__server_copy(ask->method, sizeof ask->method, value, size)) ask->bad = 400;
    } else if (prof__server_is(name, name_size, ":path")) {
        prof__server_target(ask, value, size);
    } else {
        prof__server_field(head->v, ask, name, name_size, value, size);
    }
}

static void prof__h2_complete(prof__server *v, prof__server_ask *ask)
{
    ask->ended = 1;
    prof__server_serve(v, ask);
}

/* Reads a complete header block: the head of a request, or the trailers after its body. */
static void prof__h2_block(prof__server *v, prof__server_client *c)
{
    uint32_t stream = c->block_stream;
    prof__server_ask *ask = prof__h2_ask(c, stream);
    prof__h2_head head = {v, NULL, 0};
    int is_new = !ask && stream > c->last_stream;
    c->block_stream = 0;
    for (int i = 0; is_new && !ask && i < PROF__SERVER_STREAMS; ++i)
        if (!c->asks[i].phase) ask = &c->asks[i];
    if (is_new) c->last_stream = stream;
    if (is_new && ask) {
        memset(ask, 0, sizeof *ask);
        ask->phase = PROF__ASK_BODY;
        ask->stream = stream;
        ask->window = c->first_window;
        ask->keep = 1;
        head.ask = ask;
    }
    if (!prof__hpack_block(&c->hpack, PROF__H2_TABLE, c->block, c->block_size, prof__h2_field, &head)) {
        prof__h2_goaway(v, c, PROF__H2_COMPRESSION);
        return;
    }
    if (is_new && !ask) prof__h2_reset(c, stream, PROF__H2_REFUSED);
    if (!ask) return;
    if (is_new && (!ask->method[0] || !ask->path[0])) ask->bad = 400;
    if (ask->phase == PROF__ASK_BODY && (c->block_flags & PROF__H2_END_STREAM || ask->bad)) prof__h2_complete(v, ask);
    if (c->block_flags & PROF__H2_END_STREAM) ask->ended = 1;
}

/* Reads a HEADERS or CONTINUATION frame, a part of a header block. No other frame may come between the parts. */
static void prof__h2_headers(prof__server *v, prof__server_client *c, unsigned type, unsigned flags, uint32_t stream,
                             const unsigned char *payload, size_t size)
{
    if (type == PROF__H2_HEADERS) {
        size_t pad = 0;
        if (flags & PROF__H2_PADDED && size) {
            pad = *payload++;
            --size;
        }
        if (flags & PROF__H2_WITH_PRIORITY && size >= 5) {
            payload += 5;
            size -= 5;
        } else if (flags & PROF__H2_WITH_PRIORITY) {
            pad = size + 1;
        }
        if (pad > size || !(stream & 1)) {
            prof__h2_goaway(v, c, PROF__H2_PROTOCOL);
            return;
        }
        size -= pad;
        c->block_stream = stream;
        c->block_flags = flags;
        c->block_size = c->block_parts = 0;
    }
    if (size > sizeof c->block - c->block_size || ++c->block_parts > 64) {
        prof__h2_goaway(v, c, PROF__H2_CALM);
        return;
    }
    memcpy(c->block + c->block_size, payload, size);
    c->block_size += size;
    if (flags & PROF__H2_END_HEADERS) prof__h2_block(v, c);
}

static void prof__h2_data(prof__server *v, prof__server_client *c, unsigned flags, uint32_t stream,
                          const unsigned char *payload, size_t size)
{
    prof__server_ask *ask = prof__h2_ask(c, stream);
    unsigned char window[4];
    size_t pad = 0, whole = size;
    if (flags & PROF__H2_PADDED && size) {
        pad = *payload++;
        --size;
    }
    if (pad > size || (flags & PROF__H2_PADDED && !whole) || !stream || stream > c->last_stream) {
        prof__h2_goaway(v, c, PROF__H2_PROTOCOL);
        return;
    }
    size -= pad;
    prof__h2_number(window, (uint32_t)whole);
    if (whole) prof__h2_frame(c, PROF__H2_WINDOW, 0, 0, window, 4);
    if (!ask || ask->phase != PROF__ASK_BODY) {
        if (ask && flags & PROF__H2_END_STREAM) ask->ended = 1;
        return; /* its request was answered already */
    }
    if (size > PROF__SERVER_BODY - ask->body.size || !prof__server_add(v, &ask->body, payload, size)) ask->bad = 413;
    if (whole && !(flags & PROF__H2_END_STREAM)) prof__h2_frame(c, PROF__H2_WINDOW, 0, stream, window, 4);
    if (flags & PROF__H2_END_STREAM)
        prof__h2_complete(v, ask);
    else if (ask->bad)
        prof__server_serve(v, ask);
}

static void prof__h2_settings(prof__server *v, prof__server_client *c, unsigned flags, const unsigned char *payload,
                              size_t size)
{
    if (flags & PROF__H2_END_STREAM ? size != 0 : size % 6 != 0) {
        prof__h2_goaway(v, c, PROF__H2_SIZE);
        return;
    }
    if (flags & PROF__H2_END_STREAM) return;
    for (; size; payload += 6, size -= 6) {
        unsigned key = (unsigned)payload[0] << 8 | payload[1];
        uint32_t value = prof__h2_number_at(payload + 2);
        if ((key == 4 && value > 0x7fffffffu) || (key == 5 && (value < 16384 || value > 0xffffffu)) ||
            (key == 2 && value > 1)) {
            prof__h2_goaway(v, c, key == 4 ? PROF__H2_FLOW : PROF__H2_PROTOCOL);
            return;
        }
        if (key == 4) {
            for (int i = 0; i < PROF__SERVER_STREAMS; ++i) c->asks[i].window += (int64_t)value - c->first_window;
            c->first_window = value;
        }
        if (key == 5) c->max_frame = value;
    }
    prof__h2_frame(c, PROF__H2_SETTINGS, PROF__H2_END_STREAM, 0, NULL, 0);
}

static void prof__h2_window(prof__server *v, prof__server_client *c, uint32_t stream, const unsigned char *payload,
                            size_t size)
{
    prof__server_ask *ask = stream ? prof__h2_ask(c, stream) : NULL;
    int64_t *window = stream ? ask ? &ask->window : NULL : &c->window;
    uint32_t more = size == 4 ? prof__h2_number_at(payload) & 0x7fffffffu : 0;
    if (size != 4) {
        prof__h2_goaway(v, c, PROF__H2_SIZE);
    } else if (!more && !stream) {
        prof__h2_goaway(v, c, PROF__H2_PROTOCOL);
    } else if (window && *window + (int64_t)more > 0x7fffffff) {
        if (!stream) {
            prof__h2_goaway(v, c, PROF__H2_FLOW);
        } else {
            prof__h2_reset(c, stream, PROF__H2_FLOW);
            prof__server_free(v, ask);
        }
    } else if (window) {
        *window += (int64_t)more;
    }
}

static void prof__h2_take(prof__server *v, prof__server_client *c, unsigned type, unsigned flags, uint32_t stream,
                          const unsigned char *payload, size_t size)
{
    prof__server_ask *ask;
    int alone = type == PROF__H2_SETTINGS || type == PROF__H2_PING || type == PROF__H2_GOAWAY;
    if ((c->block_stream && (type != PROF__H2_CONTINUATION || stream != c->block_stream)) ||
        (!c->block_stream && type == PROF__H2_CONTINUATION) || type == PROF__H2_PUSH || (alone && stream) ||
        (type == PROF__H2_RESET && (!stream || stream > c->last_stream))) {
        prof__h2_goaway(v, c, PROF__H2_PROTOCOL);
        return;
    }
    if (type != PROF__H2_DATA && ++c->patience > PROF__SERVER_PATIENCE) {
        prof__h2_goaway(v, c, PROF__H2_CALM);
        return;
    }
    if ((type == PROF__H2_PING && size != 8) || (type == PROF__H2_RESET && size != 4) ||
        (type == PROF__H2_PRIORITY && size != 5)) {
        prof__h2_goaway(v, c, PROF__H2_SIZE);
        return;
    }
    switch (type) {
    case PROF__H2_DATA: prof__h2_data(v, c, flags, stream, payload, size); break;
    case PROF__H2_HEADERS:
    case PROF__H2_CONTINUATION: prof__h2_headers(v, c, type, flags, stream, payload, size); break;
    case PROF__H2_SETTINGS: prof__h2_settings(v, c, flags, payload, size); break;
    case PROF__H2_WINDOW: prof__h2_window(v, c, stream, payload, size); break;
    case PROF__H2_PING:
        if (!(flags & PROF__H2_END_STREAM)) prof__h2_frame(c, PROF__H2_PING, PROF__H2_END_STREAM, 0, payload, 8);
        break;
    case PROF__H2_RESET:
        ask = prof__h2_ask(c, stream);
        if (ask) prof__server_free(v, ask);
        if (ask && ++c->aborts >= PROF__SERVER_ABORTS) prof__h2_goaway(v, c, PROF__H2_CALM);
        break;
    default: break; /* ignores PRIORITY, GOAWAY and unknown types */
    }
}

static int prof__h2_read(prof__server *v, prof__server_client *c)
{
    uint32_t size = c->in_size >= 9 ? prof__h2_number_at(c->in) >> 8 : 0;
    if (c->in_size < 9 || sizeof c->out - c->out_size < 1024) return 0; /* first sends the answers to earlier frames */
    if (size > PROF__SERVER_FRAME) {
        prof__h2_goaway(v, c, PROF__H2_SIZE);
        return 1;
    }
    if (c->in_size < 9 + size) return 0;
    prof__h2_take(v, c, c->in[3], c->in[4], prof__h2_number_at(c->in + 5) & 0x7fffffffu, c->in + 9, size);
    prof__server_ate(c, 9 + size);
    return 1;
}

/* Appends a literal header field to a block. Appends nothing if the block has no space. Returns the end of the
   block. */
static size_t prof__h2_literal(unsigned char *block, size_t at, size_t capacity, const char *name, size_t name_size,
                               const char *value, size_t size)
{
    unsigned char head[16];
    size_t n;
    if (at + name_size + size + 16 > capacity) return at;
    block[at++] = 0;
    for (int i = 0; i < 2; ++i) {
        size_t length = i ? size : name_size;
        n = 1;
        head[0] = (unsigned char)(length < 127 ? length : 127);
        if (length >= 127) n += prof__server_varint(head + 1, length - 127);
        memcpy(block + at, head, n);
        memcpy(block + at + n, i ? value : name, length);
        at += n + length;
    }
    return at;
}

/* Makes the trailers grpc-status and grpc-message. In grpc-message, every byte but printable ASCII becomes %XX. */
static size_t prof__h2_trailers(const prof__server_ask *ask, unsigned char *block, size_t at, size_t capacity)
{
    char number[12], message[3 * sizeof ask->message];
    size_t n = 0;
    int size = snprintf(number, sizeof number, "%d", ask->grpc_status);
    at = prof__h2_literal(block, at, capacity, "grpc-status", 11, number, (size_t)size);
    for (const char *c = ask->message; *c; ++c) {
        if ((unsigned char)*c < 32 || (unsigned char)*c > 126 || *c == '%')
            n += (size_t)snprintf(message + n, sizeof message - n, "%%%02X", (unsigned)(unsigned char)*c);
        else
            message[n++] = *c;
    }
    return n ? prof__h2_literal(block, at, capacity, "grpc-message", 12, message, n) : at;
}

static void prof__h2_answer_head(prof__server_client *c, prof__server_ask *ask)
{
    unsigned char block[6144];
    char number[12];
    size_t at = 0;
    int last = ask->grpc ? ask->grpc_status != 0 : ask->answer.first == ask->answer.size;
    snprintf(number, sizeof number, "%d", ask->status);
    if (ask->status == 200)
        block[at++] = 0x88;
    else
        at = prof__h2_literal(block, at, sizeof block, ":status", 7, number, 3);
    for (const char *line = ask->head, *end; (end = strstr(line, "\r\n")) != NULL; line = end + 2) {
        const char *colon = strchr(line, ':');
        if (colon && colon < end)
            at = prof__h2_literal(block, at, sizeof block, line, (size_t)(colon - line), colon + 2,
                                  (size_t)(end - colon - 2));
    }
    if (ask->grpc && last) at = prof__h2_trailers(ask, block, at, sizeof block);
    prof__h2_frame(c, PROF__H2_HEADERS, PROF__H2_END_HEADERS | (last ? PROF__H2_END_STREAM : 0), ask->stream, block,
                   at);
    ask->head_sent = last ? 2 : 1;
}

/* Sends the next frame of an answer. Returns 0 if none is left, or if the client must first allow more. */
static int prof__h2_send(prof__server *v, prof__server_client *c, prof__server_ask *ask)
{
    prof__server_bytes *answer = &ask->answer;
    size_t left = answer->size - answer->first, space = sizeof c->out - c->out_size;
    if (ask->phase != PROF__ASK_ANSWER || space < PROF__SERVER_FRAME + 1024) return 0;
    if (!ask->head_sent) {
        prof__h2_answer_head(c, ask);
    } else if (left) {
        size_t part = left;
        if (part > PROF__SERVER_FRAME) part = PROF__SERVER_FRAME;
        if (part > c->max_frame) part = c->max_frame;
        if ((int64_t)part > c->window) part = c->window > 0 ? (size_t)c->window : 0;
        if ((int64_t)part > ask->window) part = ask->window > 0 ? (size_t)ask->window : 0;
        if (!part) return 0;
        int last = part == left && !ask->grpc;
        prof__h2_frame(c, PROF__H2_DATA, last ? PROF__H2_END_STREAM : 0, ask->stream, answer->at + answer->first, part);
        answer->first += part;
        c->window -= (int64_t)part;
        ask->window -= (int64_t)part;
        ask->taken += part;
        c->patience = 0;
        if (last) ask->head_sent = 2;
    } else {
        unsigned char block[2048];
        size_t size = prof__h2_trailers(ask, block, 0, sizeof block);
        prof__h2_frame(c, PROF__H2_HEADERS, PROF__H2_END_HEADERS | PROF__H2_END_STREAM, ask->stream, block, size);
        ask->head_sent = 2;
    }
    if (ask->head_sent == 2) {
        if (!ask->ended) prof__h2_reset(c, ask->stream, PROF__H2_OK); /* the rest of the request is not needed */
        prof__server_free(v, ask);
        c->since = prof_host_ns();
    }
    return 1;
}

static int prof__h2_fill(prof__server *v, prof__server_client *c)
{
    for (unsigned i = 0; i < PROF__SERVER_STREAMS; ++i) {
        unsigned turn = (c->next + i) % PROF__SERVER_STREAMS;
        if (!prof__h2_send(v, c, &c->asks[turn])) continue;
        c->next = turn + 1;
        return 1;
    }
    return 0;
}

#endif /* PROF__SERVER_HTTP2_H */
