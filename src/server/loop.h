// server/loop: The server's thread: accepts clients, reads requests, sends answers, and closes slow connections.
#ifndef PROF__SERVER_LOOP_H
#define PROF__SERVER_LOOP_H
#include "api/control.h"
#include "api/devices.h"
#include "api/markup.h"
#include "ground/lock.h"
#include "ground/signals.h"
#include "session/on_demand.h"
#include "server/capture.h"
#include "server/grpc.h"
#include "server/http1.h"
#include "server/http2.h"
#include "server/live.h"
#include "server/posix.h"
#include "server/state.h"
#include "server/windows.h"

/*-- THE THREAD -------------------------------------------------------------------------------------------- >>loop --*/

static void prof__server_shut(int *file)
{
    int had = *file;
    *file = -1; /* first, so that the child of a fork does not close a new file with this number */
    if (had >= 0) prof__socket_close(had);
}

/* Closes a client's connection, and frees the client. Holds the lock prof__server_files, so that the child of a fork
   finds all open descriptors in the list. */
static void prof__server_close(prof__server *v, int index)
{
    prof__server_client *c = v->clients[index];
    for (int i = 0; i < PROF__SERVER_STREAMS; ++i) prof__server_free(v, &c->asks[i]);
    prof__lock(&prof__server_files);
    v->clients[index] = NULL;
    prof__server_shut(&c->file);
    prof__unlock(&prof__server_files);
    free(c);
}

/* Returns 1 if the client waits for an answer. */
static int prof__server_busy(const prof__server_client *c)
{
    for (int i = 0; i < PROF__SERVER_STREAMS; ++i)
        if (c->asks[i].phase >= PROF__ASK_DELAYED) return 1;
    return 0;
}

/* Returns the index for a new client: a free one, or that of the client that was silent for longest, which is then
   closed. Returns -1 if all clients wait for answers. */
static int prof__server_place(prof__server *v)
{
    int oldest = -1;
    for (int i = 0; i < PROF__SERVER_CLIENTS; ++i) {
        if (!v->clients[i]) return i;
        if (!prof__server_busy(v->clients[i]) && (oldest < 0 || v->clients[i]->since < v->clients[oldest]->since))
            oldest = i;
    }
    return oldest;
}

static void prof__server_accept(prof__server *v, int listener)
{
    int place = prof__server_place(v);
    if (place < 0) return;
    prof__server_client *c = (prof__server_client *)calloc(1, sizeof *c);
    prof__lock(&prof__server_files);
    int file = c ? prof__socket_accept(listener) : -1;
    int error = c ? errno : ENOMEM;
    if (file >= 0 && !v->clients[place]) {
        c->file = file;
        v->clients[place] = c;
    }
    prof__unlock(&prof__server_files);
    if (file < 0) {
        free(c);
        if (error != EAGAIN && error != EWOULDBLOCK && error != EINTR && error != ECONNABORTED)
            v->deaf_until = prof_host_ns() + 1000000000u; /* no descriptors or memory: tries again in a second */
        return;
    }
    if (v->clients[place] != c) {
        prof__server_close(v, place);
        prof__lock(&prof__server_files);
        c->file = file;
        v->clients[place] = c;
        prof__unlock(&prof__server_files);
    }
    c->since = c->partial_since = prof_host_ns();
    prof__socket_option(file, IPPROTO_TCP, TCP_NODELAY, 1);
#ifdef SO_NOSIGPIPE
    prof__socket_option(file, SOL_SOCKET, SO_NOSIGPIPE, 1);
#endif
}

/* Finds out the protocol from the first bytes. Returns 1 if there are enough bytes to know. */
static int prof__server_greet(prof__server_client *c)
{
    size_t size = sizeof prof__h2_preface - 1, there = c->in_size < size ? c->in_size : size;
    if (!there) return 0;
    if (memcmp(c->in, prof__h2_preface, there)) {
        c->speaks = PROF__SPEAKS_HTTP1;
    } else if (there == size) {
        prof__server_ate(c, size);
        prof__h2_greet(c);
    }
    return c->speaks != PROF__SPEAKS_NOTHING;
}

static int prof__server_send(prof__server_client *c)
{
    int got_on = 0, tries = 0;
    while (c->out_at < c->out_size) {
        ptrdiff_t n = prof__socket_send(c->file, c->out + c->out_at, c->out_size - c->out_at);
        if (n < 0 && prof__interrupted(&tries)) continue;
        if (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK) return -1;
        if (n <= 0) break;
        c->out_at += (size_t)n;
        got_on = 1;
    }
    memmove(c->out, c->out + c->out_at, c->out_size - c->out_at);
    c->out_size -= c->out_at;
    c->out_at = 0;
    return got_on;
}

/* Handles the bytes that have come, until the client's turn is over. Returns -1 if the connection is broken. */
static int prof__server_pump(prof__server *v, prof__server_client *c)
{
    int got_on = 1, sent = 0;
    uint64_t turn = prof_host_ns() + PROF__SERVER_TURN_NS;
    for (int i = 0; got_on && i < 64 && (!i || prof_host_ns() < turn); ++i) {
        got_on = 0;
        if (!c->closing && c->speaks == PROF__SPEAKS_NOTHING) got_on = prof__server_greet(c);
        if (!c->closing && c->speaks == PROF__SPEAKS_HTTP1) got_on |= prof__http1_read(v, c);
        if (!c->closing && c->speaks == PROF__SPEAKS_HTTP2) got_on |= prof__h2_read(v, c);
        got_on |= c->speaks == PROF__SPEAKS_HTTP2 ? prof__h2_fill(v, c) : prof__http1_fill(v, c);
        sent = prof__server_send(c);
        if (sent < 0) return -1;
        if (sent && v->leave_at) v->leave_at = prof_host_ns() + PROF__SERVER_LEAVE_NS;
        got_on |= sent;
    }
    int partial = c->speaks == PROF__SPEAKS_NOTHING ||
                  ((c->closing || (c->speaks != PROF__SPEAKS_HTTP2 && c->in_size)) && !prof__server_busy(c)) ||
                  (c->speaks == PROF__SPEAKS_HTTP2 && !c->closing && (c->in_size || c->block_stream));
    for (int i = 0; i < PROF__SERVER_STREAMS; ++i) partial |= c->asks[i].phase == PROF__ASK_BODY;
    if (!partial) c->partial_since = 0;
    if (partial && !c->partial_since) c->partial_since = prof_host_ns();
    return got_on;
}

/* Reads bytes from the client. Returns 0 if the client has closed its side, or the connection is broken. */
static int prof__server_read(prof__server_client *c)
{
    int tries = 0;
    while (c->in_size < sizeof c->in) {
        ptrdiff_t n = prof__socket_recv(c->file, c->in + c->in_size, sizeof c->in - c->in_size);
        if (n > 0) {
            c->in_size += (size_t)n;
            continue;
        }
        if (n < 0 && prof__interrupted(&tries)) continue;
        return n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
    }
    return 1;
}

/* Returns the time from which on the client is too slow. */
static uint64_t prof__server_patience_ends(const prof__server_client *c)
{
    uint64_t end = prof__server_busy(c) ? UINT64_MAX : c->since + PROF__SERVER_IDLE_NS;
    if (c->partial_since && c->partial_since + PROF__SERVER_REQUEST_NS < end)
        end = c->partial_since + PROF__SERVER_REQUEST_NS;
    for (int i = 0; i < PROF__SERVER_STREAMS; ++i) {
        const prof__server_ask *ask = &c->asks[i];
        uint64_t due = ask->since + PROF__SERVER_ANSWER_NS + ask->taken / PROF__SERVER_RATE * 1000000000u;
        if (ask->phase == PROF__ASK_ANSWER && due < end) end = due;
        due = ask->since + PROF__SERVER_STALL_NS;
        if (ask->phase == PROF__ASK_LIVE && (ask->answer.first < ask->answer.size || c->out_size) && due < end)
            end = due;
    }
    return end;
}

/* Ends a request that has taken too long, or closes an idle connection. */
static void prof__server_expire(prof__server *v, int index)
{
    prof__server_client *c = v->clients[index];
    if (c->speaks == PROF__SPEAKS_HTTP1 && !prof__server_busy(c) && !c->closing && c->partial_since) {
        c->asks[0].bad = 408;
        c->asks[0].keep = 0;
        prof__server_serve(v, &c->asks[0]);
        prof__server_pump(v, c);
    } else if (c->speaks == PROF__SPEAKS_HTTP2 && !c->closing) {
        prof__h2_goaway(v, c, PROF__H2_OK);
        prof__server_pump(v, c);
    }
    prof__server_close(v, index);
}

/* Does what is due for a request. Returns when to call again. all: 1: the server stops, so captures end now. */
static uint64_t prof__server_due(prof__server *v, prof__server_ask *ask, uint64_t now, int all)
{
    prof__server_capture *capture = &ask->capture;
    if (ask->phase == PROF__ASK_DELAYED) {
        if (now < capture->begin_at && !all) return capture->begin_at;
        if (now < capture->begin_at)
            prof__server_say(v, ask, 503, 14, "the server is stopping"); /* UNAVAILABLE */
        else
            prof__server_turn(v, ask);
    }
    if (ask->phase == PROF__ASK_CAPTURE) {
        int over = all || now >= capture->end_at;
        if (!over && prof__server_capture_over(v, capture)) {
            prof__server_note(capture, "the recording ended %.3f s before its time",
                              (double)(capture->end_at - now) / 1e9);
            over = 1;
        }
        if (!over) return capture->end_at < now + PROF__SERVER_TICK_NS ? capture->end_at : now + PROF__SERVER_TICK_NS;
        prof__server_finish(v, ask);
    }
    return UINT64_MAX;
}

/* Visits all clients: makes answers that are due, and checks deadlines. Returns when to do so again. */
static uint64_t prof__server_round(prof__server *v)
{
    uint64_t next = v->deaf_until ? v->deaf_until : UINT64_MAX;
    for (int i = 0; i < PROF__SERVER_CLIENTS; ++i) {
        prof__server_client *c = v->clients[i];
        uint64_t now = prof_host_ns(), due;
        int got_on;
        if (!c) continue;
        for (int k = 0; k < PROF__SERVER_STREAMS; ++k) {
            due = prof__server_due(v, &c->asks[k], now, v->leave_at != 0);
            if (due < next) next = due;
        }
        due = prof__server_live_due(v, c, now, v->leave_at != 0);
        if (due < next) next = due;
        got_on = prof__server_pump(v, c);
        now = prof_host_ns();
        for (int k = 0; k < PROF__SERVER_STREAMS; ++k) {
            const prof__server_ask *ask = &c->asks[k];
            due = ask->phase == PROF__ASK_DELAYED   ? ask->capture.begin_at
                  : ask->phase == PROF__ASK_CAPTURE ? ask->capture.end_at
                  : ask->phase == PROF__ASK_LIVE    ? ask->live->over ? UINT64_MAX : ask->live->next_at
                                                    : UINT64_MAX;
            if (due < next) next = due;
        }
        due = prof__server_patience_ends(c);
        int quiet = !c->out_size && !prof__server_busy(c);
        if (got_on < 0 || (quiet && (c->closing || v->leave_at)))
            prof__server_close(v, i);
        else if (now >= due)
            prof__server_expire(v, i);
        else if (due < next)
            next = due;
        if (got_on > 0) next = now;
    }
    return next;
}

/* Reads from a client. If the client has closed its side, discards its captures, but goes on sending answers that have
   begun. */
static void prof__server_hear(prof__server *v, int index)
{
    prof__server_client *c = v->clients[index];
    int open = prof__server_read(c);
    if (open) return;
    if (prof__server_pump(v, c) < 0) {
        prof__server_close(v, index);
        return;
    }
    for (int i = 0; i < PROF__SERVER_STREAMS; ++i) {
        int at_once = c->asks[i].phase == PROF__ASK_DELAYED && c->asks[i].capture.whole; /* answered at once */
        if (c->asks[i].phase != PROF__ASK_ANSWER && !at_once) prof__server_free(v, &c->asks[i]);
    }
    if (!prof__server_busy(c) && !c->out_size) {
        prof__server_close(v, index);
        return;
    }
    c->closing = 1;
}

static void prof__server_stop_listening(prof__server *v)
{
    prof__lock(&prof__server_files);
    prof__server_shut(&v->listeners[0]);
    prof__server_shut(&v->listeners[1]);
    prof__unlock(&prof__server_files);
    v->leave_at = prof_host_ns() + PROF__SERVER_LEAVE_NS;
}

/* Returns 1 if the server's thread can end: no client waits for an answer, or none reads it. Called after each round of
   a server that stops. */
static int prof__server_goes(prof__server *v)
{
    uint64_t now = prof_host_ns();
    int clients = 0;
    for (int i = 0; i < PROF__SERVER_CLIENTS; ++i) clients += v->clients[i] != NULL;
    if (!v->left_at) v->left_at = now + PROF__SERVER_LEFT_NS; /* not the time of making answers */
    return !clients || now >= v->leave_at || now >= v->left_at;
}

/* Sleeps until a descriptor is ready, or until the time `next`. */
static void prof__server_sleep(prof__server *v, uint64_t next)
{
    prof__server_pollfd files[3 + PROF__SERVER_CLIENTS];
    int client[3 + PROF__SERVER_CLIENTS];
    size_t count = 0;
    uint64_t now = prof_host_ns();
    char bytes[16];
    memset(files, 0, sizeof files);
    files[count].fd = v->wake[0];
    files[count++].events = POLLIN;
    for (int i = 0; i < 2; ++i) {
        files[count].fd = now < v->deaf_until || prof__server_place(v) < 0 ? -1 : v->listeners[i];
        files[count++].events = POLLIN;
    }
    for (int i = 0; i < PROF__SERVER_CLIENTS; ++i) {
        const prof__server_client *c = v->clients[i];
        if (!c) continue;
        files[count].fd = c->file;
        files[count].events =
            (short)((!c->closing && c->in_size < sizeof c->in ? POLLIN : 0) | (c->out_size ? POLLOUT : 0));
        client[count++] = i;
    }
    if (v->leave_at && v->leave_at < next) next = v->leave_at;
    if (v->leave_at && v->left_at < next) next = v->left_at;
    uint64_t ms = next <= now ? 0 : (next - now) / 1000000 + 1;
    if (prof__socket_poll(files, count, next == UINT64_MAX ? -1 : ms < 1000000 ? (int)ms : 1000000) <= 0) return;
    while (files[0].revents && prof__wake_take(v->wake[0], bytes, sizeof bytes) > 0) continue;
    for (size_t i = 3; i < count; ++i) {
        if (files[i].revents & POLLIN)
            prof__server_hear(v, client[i]);
        else if (files[i].revents & (POLLERR | POLLHUP | POLLNVAL))
            prof__server_close(v, client[i]);
    }
    for (int i = 0; i < 2; ++i)
        if (files[1 + i].revents & POLLIN) prof__server_accept(v, v->listeners[i]);
}

static void prof__server_run(prof__server *v)
{
    prof_set_thread_name("prof server");
    for (;;) {
        if (PROF__ACQUIRE(&v->stop) && !v->leave_at) prof__server_stop_listening(v);
        if (v->deaf_until && prof_host_ns() >= v->deaf_until) v->deaf_until = 0;
        uint64_t next = prof__server_round(v);
        if (v->leave_at && prof__server_goes(v)) break;
        prof__server_sleep(v, next);
    }
    for (int i = 0; i < PROF__SERVER_CLIENTS; ++i)
        if (v->clients[i]) prof__server_close(v, i);
    prof__server_discontinue(v);
    prof__server_remote_leave(v);
    if (v->paused_session_id && prof__session_status_now().session_id == v->paused_session_id) prof_resume();
}

static prof__server_result PROF__SERVER_MAIN prof__server_main(void *server)
{
#ifdef __linux__
    prctl(PR_SET_NAME, "prof server", 0, 0, 0);
#endif
    PROF__OWN_BEGINS(); /* for as long as the thread lives */
    prof__server_run((prof__server *)server);
    return 0;
}

#endif /* PROF__SERVER_LOOP_H */
