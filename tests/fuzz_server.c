/* fuzz_server.c - the server, with any bytes as what a client sends, in pieces, over a pair of sockets: HTTP/1, HTTP/2
   with HPACK, gRPC's messages. The first byte says in what pieces, and whether with a token. No thread and no
   listener: the loop's functions are called one after the other. HPACK and protobuf by themselves, too. A part of
   fuzz.c. */
#define PROF_IMPLEMENTATION
#include "../prof_chrome.h"
#include "../prof_html.h"
#include "../prof_xplane.h"
#include "../prof_server.h"
#include "fuzz.h"

static void prepare(prof__server *v, int with_token)
{
    static prof_config capture;
    prof_server_options options;
    memset(&options, 0, sizeof options);
    capture.buffer_size = 128 << 10;
    options.capture = &capture;
    options.max_ms = 5;
    options.max_buffer = 1 << 20;
    options.max_answer = 4 << 20;
    if (with_token) options.token = "token";
    prof__server_reset(v);
    REQUIRE(prof__server_configure(v, &options) == PROF_OK);
}

/* What the thread does with a client between two sleeps; time stands still but for captures. */
static int turn(prof__server *v)
{
    prof__server_round(v);
    prof__server_client *c = v->clients[0];
    if (!c) return 0;
    REQUIRE(c->in_size <= sizeof c->in && c->out_size <= sizeof c->out && c->block_size <= sizeof c->block);
    REQUIRE(c->hpack.count <= 128 && prof__hpack_size(&c->hpack) <= 4096);
    for (int i = 0; i < PROF__SERVER_STREAMS; ++i) {
        const prof__server_ask *ask = &c->asks[i];
        REQUIRE(ask->answer.first <= ask->answer.size && ask->answer.size <= ask->answer.capacity);
        REQUIRE(ask->body.size <= PROF__SERVER_BODY + 1);
        REQUIRE(!ask->stream || ask->stream & 1);
        REQUIRE(ask->phase != PROF__ASK_LIVE || (ask->live && !ask->stream && i == 0));
    }
    REQUIRE(v->answers <= v->max_answer);
    return 1;
}

static void drain(int file)
{
    char bytes[65536];
    while (recv(file, bytes, sizeof bytes, MSG_DONTWAIT) > 0) continue;
}

static void talk(const uint8_t *greeting, size_t greeting_size, const uint8_t *data, size_t size)
{
    static const size_t pieces[] = {1, 7, 100, 100000};
    prof__server *v = &prof__server_state;
    int ends[2];
    if (!size || socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends)) return;
    size_t piece = pieces[data[0] & 3];
    prepare(v, data[0] & 4);
    v->clients[0] = (prof__server_client *)calloc(1, sizeof *v->clients[0]);
    REQUIRE(v->clients[0] != NULL);
    v->clients[0]->file = ends[0];
    v->clients[0]->since = v->clients[0]->partial_since = prof__monotonic();
    if (greeting_size && send(ends[1], greeting, greeting_size, MSG_NOSIGNAL) > 0) prof__server_hear(v, 0);
    for (size_t at = 1; at < size && v->clients[0]; at += piece) {
        ssize_t sent = send(ends[1], data + at, size - at < piece ? size - at : piece, MSG_NOSIGNAL);
        if (sent > 0 && !v->clients[0]->closing) prof__server_hear(v, 0);
        if (v->clients[0]) turn(v);
        if (data[0] & 8) drain(ends[1]);
    }
    drain(ends[1]);
    shutdown(ends[1], SHUT_WR);
    v->leave_at = prof__monotonic(); /* all captures end */
    for (int i = 0; i < 200 && turn(v); ++i) drain(ends[1]);
    if (v->clients[0]) prof__server_close(v, 0);
    prof__server_discontinue(v);
    REQUIRE(v->answers == 0 && v->on_demand_users == 0 && !prof_enabled());
    close(ends[1]);
}

static int fuzz_http1(const uint8_t *data, size_t size)
{
    talk(NULL, 0, data, size);
    return 0;
}

static int fuzz_http2(const uint8_t *data, size_t size)
{
    static const uint8_t greeting[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0"; /* and the last zero */
    talk(greeting, sizeof greeting, data, size);
    return 0;
}

static void hpack_field(void *user, const char *name, size_t name_size, const char *value, size_t size)
{
    uint32_t *sum = (uint32_t *)user;
    REQUIRE(name_size <= PROF__HPACK_TEXT && size <= PROF__HPACK_TEXT);
    fuzz_swallow(sum, name, name_size);
    fuzz_swallow(sum, value, size);
}

/* Blocks, each after the number of its bytes, with one table. */
static int fuzz_hpack(const uint8_t *data, size_t size)
{
    static prof__hpack table;
    uint32_t sum = 0;
    memset(&table, 0, sizeof table);
    table.limit = PROF__H2_TABLE;
    while (size) {
        size_t block = *data++;
        if (block > --size) block = size;
        uint8_t *copy = (uint8_t *)malloc(block + !block); /* a sanitizer sees its end */
        REQUIRE(copy != NULL);
        memcpy(copy, data, block);
        int good = prof__hpack_block(&table, PROF__H2_TABLE, copy, block, hpack_field, &sum);
        free(copy);
        REQUIRE(table.count <= 128 && prof__hpack_size(&table) <= table.limit && table.limit <= PROF__H2_TABLE);
        if (!good) break;
        data += block;
        size -= block;
    }
    return 0;
}

/* A ProfileRequest, and any message. */
static int fuzz_proto(const uint8_t *data, size_t size)
{
    static prof__server_ask ask;
    prof__server *v = &prof__server_state;
    uint32_t sum = 0;
    prepare(v, 0);
    memset(&ask, 0, sizeof ask);
    prof__server_capture_init(v, &ask.capture);
    prof_status status = prof__server_profile_read(v, &ask.capture, data, size);
    REQUIRE(status == PROF_OK || *prof_error());
    if (!status) (void)prof__server_capture_check(v, &ask.capture);
    prof__proto p = prof__proto_of(data, size);
    while (prof__proto_next(&p)) {
        if (p.type != 2) continue;
        REQUIRE(p.bytes >= data && p.size <= (size_t)(data + size - p.bytes));
        fuzz_swallow(&sum, p.bytes, p.size);
    }
    return 0;
}
