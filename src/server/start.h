// server/start: Starts and stops the server, handles fork() and the end of the process, and reads PROF_SERVER.
#ifndef PROF__SERVER_START_H
#define PROF__SERVER_START_H
#include "api/control.h"
#include "ground/instances.h"
#include "ground/errors.h"
#include "ground/lock.h"
#include "ground/signals.h"
#include "ground/threads.h"
#include "record/schedule.h"
#include "session/autostart.h"
#include "session/number.h"
#include "session/process.h"
#include "session/start.h"
#include "server/api.h"
#include "server/loop.h"
#include "server/posix.h"
#include "server/state.h"
#include "server/windows.h"

/*-- START AND STOP --------------------------------------------------------------------------------------- >>start --*/

typedef union prof__server_address {
    struct sockaddr any;
    struct sockaddr_in four;
    struct sockaddr_in6 six;
} prof__server_address;

/* Parses an IP address in digits. Returns 0 if `host` is not one. */
static int prof__server_address_of(const char *host, int port, prof__server_address *address, socklen_t *size)
{
    memset(address, 0, sizeof *address);
    if (inet_pton(AF_INET, host, &address->four.sin_addr) == 1) {
        address->four.sin_family = AF_INET;
        address->four.sin_port = htons((uint16_t)port);
        *size = sizeof address->four;
        return 1;
    }
    address->six.sin6_family = AF_INET6;
    address->six.sin6_port = htons((uint16_t)port);
    *size = sizeof address->six;
    return inet_pton(AF_INET6, host, &address->six.sin6_addr) == 1;
}

static int prof__server_is_loopback(const prof__server_address *address)
{
    if (address->any.sa_family == AF_INET) return ntohl(address->four.sin_addr.s_addr) >> 24 == 127;
    return IN6_IS_ADDR_LOOPBACK(&address->six.sin6_addr);
}

/* Opens a socket that listens. If *port is 0, sets *port to the port that the system chose. Sets *listener at once, so
   that the child of a fork that happens meanwhile closes the socket. Returns 0; or an errno, and then *listener is
   -1. */
static int prof__server_listen(const char *host, int *port, int *listener)
{
    prof__server_address address;
    socklen_t size;
    if (!prof__server_address_of(host, *port, &address, &size)) return EINVAL;
    int file = *listener = prof__socket_open(address.any.sa_family);
    if (file < 0) return errno;
    prof__socket_option(file, SOL_SOCKET, PROF__SOCKET_REUSE, 1); /* takes no port from a listener */
    if (address.any.sa_family == AF_INET6) prof__socket_option(file, IPPROTO_IPV6, IPV6_V6ONLY, 1);
    if (bind(PROF__SOCKET(file), &address.any, size) || listen(PROF__SOCKET(file), 16) ||
        getsockname(PROF__SOCKET(file), &address.any, &size)) {
        int error = prof__socket_errno();
        prof__server_shut(listener);
        return error;
    }
    *port = ntohs(address.any.sa_family == AF_INET ? address.four.sin_port : address.six.sin6_port);
    return 0;
}

/* Listens on both loopback addresses with one port, because clients may take localhost for either. A machine that has
   only one of them is no error. */
static int prof__server_listen_here(prof__server *v, int port)
{
    for (int tries = 0; tries < 20; ++tries) {
        v->port = port;
        int error = prof__server_listen("127.0.0.1", &v->port, &v->listeners[0]);
        if (error && error != EADDRNOTAVAIL && error != EAFNOSUPPORT) return error;
        error = prof__server_listen("::1", &v->port, &v->listeners[1]);
        if (!error || (error != EADDRINUSE && v->listeners[0] >= 0)) return 0;
        prof__server_shut(&v->listeners[0]);
        if (error != EADDRINUSE || port) return error;
    }
    return EADDRINUSE;
}

static prof_status prof__server_open(prof__server *v, int port, const char *host)
{
    prof__server_address address;
    socklen_t size;
    int error = 0;
    if (port < 0 || port > 65535)
        return prof__fail(PROF_INVALID_ARGUMENT, "prof_server_start: port %d: must be 0 to 65535", port);
    if (host && !strcmp(host, "localhost")) host = NULL;
    if (host && !prof__server_address_of(host, port, &address, &size))
        return prof__fail(PROF_INVALID_ARGUMENT,
                          "prof_server_start: host '%.60s': must be an address in digits, for example 0.0.0.0", host);
    if (host && !v->token_size && !prof__server_is_loopback(&address))
        return prof__fail(PROF_INVALID_ARGUMENT,
                          "prof_server_start: other machines can reach host '%.60s': set a token",
                          host);
    if (!host) {
        error = prof__server_listen_here(v, port);
    } else {
        v->port = port;
        error = prof__server_listen(host, &v->port, &v->listeners[0]);
    }
    if (error)
        return prof__fail(PROF_IO, "prof_server_start: cannot listen on port %d: %s", port,
                          prof__socket_strerror(error));
    error = prof__wake_make(v->wake);
    if (!error) return PROF_OK;
    return prof__fail(PROF_IO, "prof_server_start: cannot create the pipe or socket that wakes its thread: %s",
                      strerror(error));
}

static void prof__server_close_all(prof__server *v)
{
    prof__lock(&prof__server_files);
    prof__server_shut(&v->listeners[0]);
    prof__server_shut(&v->listeners[1]);
    prof__server_shut(&v->wake[0]);
    prof__server_shut(&v->wake[1]);
    prof__unlock(&prof__server_files);
}

static void prof__server_reset(prof__server *v)
{
    prof__lock(&prof__server_files);
    memset(v, 0, sizeof *v);
    v->listeners[0] = v->listeners[1] = v->wake[0] = v->wake[1] = -1;
    prof__unlock(&prof__server_files);
}

static prof_status prof__server_configure(prof__server *v, const prof_server_options *options)
{
    const prof_config *capture = options->capture;
    const char *token = options->token ? options->token : "";
    v->token_size = strlen(token);
    for (const char *c = token; *c; ++c)
        if (*c < 33 || *c > 126)
            return prof__fail(PROF_INVALID_ARGUMENT, "prof_server_start: token: must be visible ASCII without spaces");
    if (!prof__server_copy(v->token, sizeof v->token, token, v->token_size))
        return prof__fail(PROF_INVALID_ARGUMENT, "prof_server_start: token: must have at most %d bytes",
                          (int)sizeof v->token - 1);
    v->max_ms = options->max_ms ? options->max_ms : 600000;
    if (v->max_ms > PROF__CENTURY / 1000000)
        return prof__fail(PROF_INVALID_ARGUMENT, "prof_server_start: max_ms: must be at most a century");
    v->max_buffer = options->max_buffer ? options->max_buffer : (size_t)256 << 20;
    v->max_answer = options->max_answer ? options->max_answer : (size_t)512 << 20;
    v->read_only = options->read_only;
    if (capture) {
        v->capture.buffer_size = capture->buffer_size;
        v->sized = capture->buffer_size != 0;
        v->capture.mode = capture->mode;
        v->capture.clock = capture->clock;
        v->capture.level = capture->level;
        v->capture.min_duration_ns = capture->min_duration_ns;
        v->capture.filter_mask = capture->filter_mask;
        v->capture.no_sync = capture->no_sync;
        v->capture.no_devices = capture->no_devices;
        if (capture->categories) {
            if (!prof__server_copy(v->categories, sizeof v->categories, capture->categories,
                                   strlen(capture->categories)))
                return prof__fail(PROF_INVALID_ARGUMENT,
                                  "prof_server_start: capture.categories: must have at most %d bytes",
                                  (int)sizeof v->categories - 1);
            v->capture.categories = v->categories;
        }
    }
    if (!v->capture.buffer_size)
        v->capture.buffer_size = v->max_buffer < ((size_t)64 << 20) ? v->max_buffer : (size_t)64 << 20;
    if (v->capture.buffer_size > v->max_buffer) v->max_buffer = v->capture.buffer_size;
    if (v->capture.mode > PROF_FILL)
        return prof__fail(PROF_INVALID_ARGUMENT, "prof_server_start: capture.mode: must be ring or fill");
    return prof__config_check(&v->capture);
}

#ifndef _WIN32
/* The child of a fork() has no server, because it has no thread. It closes the descriptors that it inherited: open ones
   would keep connections from ending. */
static PROF__PER_THREAD int prof__server_fork_holds;
static void prof__server_before_fork(void) { prof__server_fork_holds = prof__lock_try(&prof__server_files); }
static void prof__server_parent_of_fork(void)
{
    if (prof__server_fork_holds) prof__unlock(&prof__server_files);
    prof__server_fork_holds = 0;
}
static void prof__server_child_of_fork(void)
{
    prof__server *v = &prof__server_state;
    PROF__ERRNO_SAVE();
    int known = v->running || prof__server_fork_holds; /* or a server is just starting */
    prof__server_files = 0;
    if (known) {
        for (int i = 0; i < PROF__SERVER_CLIENTS; ++i)
            if (v->clients[i]) close(v->clients[i]->file);
        prof__server_close_all(v);
    }
    prof__server_reset(v);
    prof__server_word = prof__server_files = prof__server_kept = prof__server_fork_holds = 0;
    PROF__ERRNO_RESTORE();
}
#endif

static prof_status prof__server_stop_locked(prof__server *v)
{
    if (!v->running) return prof__fail(PROF_INVALID_STATE, "prof_server_stop: no server runs");
    PROF__RELEASE(&v->stop, 1u);
    int tries = 0;
    while (prof__wake_send(PROF__WAKE_END(v->wake)) < 0 && prof__interrupted(&tries)) continue;
    prof__server_join(v->thread);
    prof__server_close_all(v);
    free(v->kept);
    prof__server_reset(v);
    return PROF_OK;
}

/* Stops the server at the end of the process, or when the library with this code is unloaded. */
static void prof__server_leave(void)
{
    if (!prof__lock_try(&prof__server_word)) return;
    if (prof__server_state.running) prof__server_stop_locked(&prof__server_state);
    prof__unlock(&prof__server_word);
}

static prof_status prof__server_begin(prof__server *v, int port, const prof_server_options *options)
{
    static int watches;
    prof_status status = prof__server_configure(v, options);
    if (status) return status;
    if (!watches) { /* must come before the first descriptor is opened */
#ifndef _WIN32
        pthread_atfork(prof__server_before_fork, prof__server_parent_of_fork, prof__server_child_of_fork);
#endif
        atexit(prof__server_leave);
        watches = 1;
    }
    status = prof__server_open(v, port, options->host);
    if (status) return status;
    int error = prof__server_create(&v->thread, prof__server_main, v);
    if (error) return prof__fail(PROF_NO_MEMORY, "prof_server_start: cannot start a thread: %s", strerror(error));
    v->running = 1;
    return PROF_OK;
}

PROF_DEF prof_status prof_server_start(int port, const prof_server_options *options)
{
    prof__server *v = &prof__server_state;
    prof_server_options none;
    prof_status status;
    memset(&none, 0, sizeof none);
    if (!prof__is_whole())
        return prof__fail(PROF_UNSUPPORTED, "prof_server_start: another copy of prof records for this process: start "
                                            "the server there");
    int cancel = prof__lock_steady(&prof__server_word);
    if (v->running) {
        status = prof__fail(PROF_INVALID_STATE, "prof_server_start: a server already listens on port %d", v->port);
    } else {
        prof__server_reset(v);
        status = prof__server_begin(v, port, options ? options : &none);
        if (status) {
            prof__server_close_all(v);
            prof__server_reset(v);
        }
    }
    prof__unlock_steady(&prof__server_word, cancel);
    return status;
}

PROF_DEF prof_status prof_server_stop(void)
{
    int cancel = prof__lock_steady(&prof__server_word);
    prof_status status = prof__server_stop_locked(&prof__server_state);
    prof__unlock_steady(&prof__server_word, cancel);
    return status;
}

PROF_DEF int prof_server_port(void)
{
    prof__lock(&prof__server_word);
    int port = prof__server_state.running ? prof__server_state.port : 0;
    prof__unlock(&prof__server_word);
    return port;
}

#ifdef PROF__AUTOSTARTS
/* Starts the server that PROF_SERVER asks for: PORT, ADDRESS:PORT if PROF_SERVER_TOKEN is set, or [ADDRESS]:PORT for an
   address with colons. */
static prof_status prof__server_from_text(const char *text, const char *token)
{
    prof_server_options options;
    const char *colon = strrchr(text, ':'), *number = colon ? colon + 1 : text;
    char host[64] = "";
    uint64_t port;
    size_t size = colon ? (size_t)(colon - text) : 0, bracket = size > 1 && text[0] == '[' && colon[-1] == ']';
    memset(&options, 0, sizeof options);
    if (!prof__server_copy(host, sizeof host, text + bracket, size - 2 * bracket) ||
        !prof__parse_whole(number, &port) || port > 65535)
        return prof__fail(PROF_INVALID_ARGUMENT, "must be a port or ADDRESS:PORT");
    if (host[0]) options.host = host;
    options.token = token;
    return prof_server_start((int)port, &options);
}

PROF__AT_START(104, prof__server_autostart);
static void prof__server_autostart(void)
{
    if (!prof__is_whole()) return;
    const char *text = prof__environment("PROF_SERVER");
    if (!text || !*text || !strcmp(text, "0")) return;
    if (prof__server_from_text(text, prof__environment("PROF_SERVER_TOKEN")))
        fprintf(stderr, "prof: PROF_SERVER=%s: %s\n", text, prof_error());
}
#endif

#endif /* PROF__SERVER_START_H */
