/* prof_server.h - capture on demand for prof: curl, browsers, XProf's "Capture profile" - public domain or MIT-0
                   assembled from src/: change it there, see CONTRIBUTING.md
                   needs prof.h and nothing else; the licence is at the end of this file

QUICK START

    #define PROF_IMPLEMENTATION            // in exactly one file of the program, C or C++
    #include "prof_chrome.h"               // first the headers of the formats that it can answer with: json,
    #include "prof_xplane.h"               // xplane, which XProf needs,
    #include "prof_html.h"                 // and html, with which browsers get a live page
    #include "prof_server.h"               // includes prof.h

    int main(void)
    {
        prof_server_start(9012, NULL);     // http://localhost:9012, on this machine only
        ...                                // the program, with its scopes; nothing is recorded until somebody asks
        prof_server_stop();                // or just exit
    }

Or leave these two calls out, and run `PROF_SERVER=9012 ./program`. Then, while it runs,

    curl -o trace.json 'localhost:9012/trace?ms=1000'          the next second, for ui.perfetto.dev
    curl 'localhost:9012/summary?ms=1000'                      the same as a table
    curl -o last.json 'localhost:9012/save?last=5'             what led to this moment, of a program that records
    http://localhost:9012 in a browser                         the last seconds, live; prof view --live localhost:9012
    XProf, "Capture profile", service address localhost:9012   the next second in TensorBoard

WHAT IT ANSWERS                                                                                             >>server

    It speaks two protocols on one port. HTTP/1.1 (and HTTP/2 with prior knowledge):

    GET /                 lists these paths; for a browser, if prof_html.h is included: the live page
    GET /live             what that page reads, see LIVE
    GET /status           JSON: whether and how the program records, how full the buffer is, which captures run
    GET /trace            captures the next ms=1000 milliseconds, after delay=0 milliseconds, as format=json, prof,
                          xplane, csv or html; default: json if prof_chrome.h is included, else prof
    GET /summary          a table of all that is in the buffer; ms=1000: of the next second; last=5: of the last five
    GET /save             what is in the buffer already, without waiting; last=5: the last five seconds; format as above
    POST /pause, /resume  like prof_pause(), also for a recording of /start. /resume only undoes a /pause, and
                          prof_server_stop() does so as well
    POST /level?level=3   like prof_set_level()
    POST /categories?off=audio&on=net   like prof_category_enable(), one after the other
    POST /config?KEY=VALUE&...  how /start records from then on: the keys below. Each /config replaces the previous one
    POST /start, /stop    start and end a recording, if nothing else records: in a ring, or as /config says
    POST /dump            answers once with what was recorded from /start to /stop, in the format above, and stops the
                          recording if it runs. finished=0: what was recorded so far; the recording goes on. The client
                          saves the answer; the program writes no file

    /config, /start, /stop and /dump are MXNet's profile_process='server': set_config, set_state('run'),
    set_state('stop') and dump of a worker that profiles its parameter server. A key that names a file (filename) is
    refused. A program that records by itself goes on with its own configuration: only it can stop, and /dump is /save.

    If nothing records, a capture starts a recording of its own. Then /trace and /summary also take buffer=64M, level=2,
    categories=net,-audio, min_duration=1us, filter_mask=0xff, mode=ring or fill, and clock=ordered, as
    prof_config_set() does. An unknown parameter is an error, and the answer names it. The answer's header x-prof-note
    says what is missing in it, and why (the buffer was too small, recording is paused, ...): see curl -i.

    gRPC, as XProf, TensorBoard and jax.collect_profile use it. /tensorflow.ProfilerService/Profile answers with
    xplane.pb as tool data (or as xspace, with emit_xspace). The client saves it; the program writes no file. Its
    options:

    duration_ms, start_timestamp_ns   how long, and from when on
    host_tracer_level                 the level; 0: no scopes, but what devices report
    device_tracer_level               0: leaves out the devices that are known when the capture begins
    host_traceme_filter_mask          the filter mask
    advanced_configuration            the keys above, and those claimed with prof_config_claim(). For an unknown key or
                                      value the answer is INVALID_ARGUMENT, which names it. A known key that has no
                                      meaning here (tpu_trace_mode) is a warning on XProf's overview page
    override_hostname                 what XProf calls this host
    python_tracer_level, enable_hlo_proto, include_dataset_ops, max_events, tools, and options that say where to save
                                      are accepted and do nothing

    Terminate ends the Profile of a session id early; its answer has what was recorded so far. Monitor waits as well,
    and answers with the times of PROFILE_STEPs; level 2 adds the summary. StartContinuousProfiling starts a recording
    in a ring, GetSnapshot answers with what is in it, StopContinuousProfiling ends it.

HOW IT CAPTURES

    A capture does not disturb a program that already records. It waits, copies the buffer as prof_trace_open_live()
    does, and answers with the part that belongs to the time asked for; scopes that reach into that time are cut and
    marked. Level, categories and buffer are the program's, so that a capture holds no more than the buffer does. A
    PROF_STATS session has no events: /summary shows it, /trace is refused. Several captures may run at the same time,
    each with its own begin and end.

    If nothing records, the capture starts a session (a ring of 64 MiB, or options.capture), and frees its memory
    afterwards. Such a session is on demand: prof_start() of the program ends it, and the answer has what was captured
    until then; prof_stop() does not see it; a child of fork() does not inherit it. Like any start it discards what an
    earlier session left in memory. Captures at the same time share it, with the highest of their levels. prof_enabled()
    is 1 meanwhile.

    prof_stop() during a capture of the program's own session, prof_server_stop(), and the end of main() all end the
    capture. Its answer has what was captured so far. The exit waits until that is sent, but at most two seconds if the
    client reads nothing, and at most 20 seconds in all. After _exit(), abort() or a crash the system closes the
    connection.

    Cost. One thread, which sleeps until somebody connects, and costs nothing while idle. Recording costs what it always
    costs. A capture takes memory for a copy of the buffer and for the answer, and the thread's time for both. The track
    "prof server" shows that time, as scopes of the category prof, level 2. The thread makes one answer at a time, but a
    client that waits for the end of a capture, or reads slowly, does not delay others.

LIVE                                                                                                          >>live

    The page at / is that of prof_html.h. It shows the last seconds as they pass. Pause, or a click into them, stops
    that, and everything on the page works on what is shown; Go on shows what is new. It keeps 30 s, or 2 million
    scopes. It also saves the last 5 s of the buffer as a report or as a .prof, sets the level, turns categories on and
    off, and says what is missing, and why: it, or the server, was too slow; the ring was overwritten before it was
    read; recording was paused, stopped, or began anew; the program was killed. A child of fork() has no server, and is
    not on the page.

    The page reads one answer, /live, which goes on until the connection ends: docs/internals/html.md has its format. If
    nothing records when it begins, a session on demand starts, as for a capture, with the same parameters, and ends
    when nobody watches any more: http://localhost:9012/?categories=net&level=1. Its ring has 8 MiB, unless
    options.capture or buffer=64M says otherwise: the larger it is, the longer each look takes, and the rarer they are.
    When a session of the program ends, /live waits for the next one: it does not discard what was recorded.

    Four times a second the thread copies the buffer and reads all of it, for what is new. It looks less often where
    that takes longer than 25 ms, so that it takes no more than a tenth of a processor, but at least every 5 s: a full
    ring of 8 MiB takes 20 ms at 2.3 GHz, one of 64 MiB 180 ms, so that the page moves on every 1.8 s. While the client
    has not read a period, no other is sent: the next one then has everything since, up to 3 s or two periods, whichever
    is longer; the rest is left out and counted. A client that reads nothing for 60 s is closed. Four clients can watch
    at once.

    A period lacks events that reach the buffer more than 20 ms late, as those of devices may; /save has them. In mode
    stream, and where a ring was overwritten, it also lacks scopes that began before what the buffer still has: the
    scopes inside them are shown one level higher.

SECURITY

    Whoever can connect can see names, arguments and timing of the program, make it record, which costs time and memory,
    and pause its recording. Therefore:

    - The server listens on the loopback addresses, 127.0.0.1 and ::1, unless options.host says otherwise; any other
      address needs options.token. On a machine with several users all of them can use loopback: set a token there, too.
    - A token must be in each request as `Authorization: Bearer TOKEN`, and is compared in constant time. A browser asks
      its user: the token is the password, with any name (`Authorization: Basic`, base64 of NAME:TOKEN). There is no
      encryption: on a network, use ssh -L 9012:localhost:9012 instead. XProf's dialog cannot send a token.
    - Web pages are refused: without a token the Host must be a name of this machine (no DNS rebinding; with a token it
      may be any, because a browser sends a token only to the name for which its user gave it), and a request that a
      browser marks as another page's (Origin, Sec-Fetch-Site) is refused, whatever it asks for. A browser that knows
      the token may send it with a GET of another page, and marks that only on loopback: on any other address, such a
      page can begin captures, but not read them. A request in which one of these fields, or one that says how long
      the body is, comes twice is answered with 400: another program on the way may believe the other one.
    - The server never opens a path that a client sends; keys of the configuration that name a file are refused.
    - It accepts 16 connections, each with 8 requests at a time (HTTP/1: after 8 requests that were sent without waiting
      for an answer it closes the connection), 16 KiB of head and 64 KiB of body, which must arrive in 10 seconds. If
      all connections are taken, the oldest one without a complete request is closed. After 20 seconds, a client must
      have read 64 KiB of its answer for each further second. All answers together take at most options.max_answer of
      memory (512 MiB unless it is set), the buffer of a capture at most options.max_buffer, and a capture lasts at most
      options.max_ms.
    - Connections take turns: a turn ends after a limited number of frames, or after 10 ms. A capture begins in its
      turn, so that one that is cancelled before costs nothing. A connection that has cancelled 32 requests is closed.
    - Everything a client sends is parsed in buffers of fixed size, and fuzzed (tests/fuzz_server.c).

    Descriptors are closed on exec(), and in children of fork(), which have no server. No signal is raised or handled.

ENVIRONMENT

    PROF_SERVER=9012                  listens before main() begins, for a program whose source only has scopes
    PROF_SERVER=0.0.0.0:9012          on another address, [ADDRESS]:9012 if that has colons; needs a token
    PROF_SERVER_TOKEN=...             the token that each request must have
    Errors go to stderr. Not with PROF_NO_TEXT, nor with PROF_STATIC, unless PROF_AUTOSTART is set.

LIMITS

    The server runs on POSIX systems and on Windows, not freestanding. On Windows, link ws2_32, and include winsock2.h
    before windows.h or define WIN32_LEAN_AND_MEAN; a DLL must call prof_server_stop() before it is unloaded. There is
    no TLS, no compression, no request body in chunks, and no /live over HTTP/2. An answer of gRPC has at most 2 GiB.
*/
#include "prof_read.h" /* each time, because the last one may be that of PROF_IMPLEMENTATION */

#pragma pack(push, 16) /* as in prof.h */
#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wpragma-pack" /* macOS's headers end with the default */
#endif
#ifdef __GNUC__
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function" /* what only another header uses, or not this system */
#endif
#ifndef PROF_SERVER_H
#define PROF_SERVER_H

#ifdef __cplusplus
extern "C" {
#endif

/* Options of the server. A structure of zeros has the defaults. prof_server_start() copies all values and strings. */
typedef struct prof_server_options {
    const char *host;           /* the address to listen on, in digits. NULL: 127.0.0.1 and ::1, with the same port. All
                                   others than loopback, such as "0.0.0.0" and "::", need a token */
    const char *token;          /* must be in each request: visible ASCII, up to 255 bytes; NULL: no token */
    uint64_t max_ms;            /* milliseconds that a capture, and its delay, may take; 0: 600000, ten minutes */
    size_t max_buffer;          /* bytes of the largest buffer that a client may ask for; 0: 256 MiB */
    size_t max_answer;          /* bytes that all answers together may have unsent; 0: 512 MiB */
    int read_only;              /* 1: refuses POST: /pause, /resume, /level, /categories, /config, /start, /stop and
                                   /dump */
    const prof_config *capture; /* how a capture records if the program does not: buffer_size, mode (ring or fill),
                                   clock, level, categories, min_duration_ns, filter_mask, no_sync and no_devices.
                                   NULL: a ring of 64 MiB */
} prof_server_options;

#if PROF_ENABLE
/* Starts a server on a TCP port, 0 to 65535. Port 0 takes any free port: prof_server_port() says which. options may be
   NULL. Returns PROF_INVALID_ARGUMENT for an invalid port or option, PROF_INVALID_STATE if a server runs already,
   PROF_IO if the port is taken, PROF_NO_MEMORY if no thread can be created, and PROF_UNSUPPORTED if another instance of
   prof records for this process: start the server there. Any thread may call the functions of this header, but no
   signal handler. PROF_FREESTANDING does not have them. */
PROF_DEF prof_status prof_server_start(int port, const prof_server_options *options);

/* Stops the server: ends all captures, sends their answers (HOW IT CAPTURES says how long that may take), and ends the
   server's thread. Returns PROF_INVALID_STATE if no server runs. */
PROF_DEF prof_status prof_server_stop(void);

/* Returns the port, or 0 if no server runs. */
PROF_DEF int prof_server_port(void);
#else
#define prof_server_start(port, options) PROF__STRIPPED(PROF_OK, PROF__USE2(port, options))
#define prof_server_stop() PROF__STRIPPED(PROF_OK, (void)0)
#define prof_server_port() PROF__STRIPPED(0, (void)0)
#endif

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif /* PROF_SERVER_H */

/*== END OF HEADER ==================================================================================================*/

#if defined(PROF_IMPLEMENTATION) && PROF_ENABLE && !defined(PROF_FREESTANDING) && !defined(PROF__SERVER_IMPLEMENTED)
#define PROF__SERVER_IMPLEMENTED
#ifdef PROF_NO_TEXT
#error "prof_server.h needs keys as text: take PROF_NO_TEXT away"
#endif

#ifdef PROF__WRAPS_MALLOC /* what prof itself allocates is not the program's */
#define malloc(size) __libc_malloc(size)
#define calloc(count, size) __libc_calloc(count, size)
#define realloc(at, size) __libc_realloc(at, size)
#define free(at) __libc_free(at)
#endif

#ifdef __cplusplus
extern "C" {
#endif

#ifndef _WIN32
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#ifdef PROF__LATE /* see prof.h, >>platform: functions of Linux, declared with _GNU_SOURCE */
extern int prof__libc_accept4(int listener, struct sockaddr *from, socklen_t *size, int flags) __asm__("accept4");
extern int prof__libc_pipe2(int *files, int flags) __asm__("pipe2");
#elif defined(__linux__)
#define prof__libc_accept4 accept4
#define prof__libc_pipe2 pipe2
#endif

/*-- THE SYSTEM ---------------------------------------------------------------------------------------------------*/

#ifndef MSG_NOSIGNAL
#define MSG_NOSIGNAL 0 /* not needed there: the server's thread blocks all signals */
#endif
#define PROF__SOCKET(file) (file)
#define PROF__SOCKET_REUSE SO_REUSEADDR

typedef pthread_t prof__server_thread;
typedef void *prof__server_result; /* what a thread's function returns */
#define PROF__SERVER_MAIN
#define prof__server_create(thread, main, user) prof__thread_create(thread, main, user)
#define prof__server_join(thread) pthread_join(thread, NULL)

typedef struct pollfd prof__server_pollfd;
#define prof__socket_poll(files, count, ms) poll(files, (nfds_t)(count), ms)
#define prof__socket_errno() errno
#define prof__socket_strerror(error) strerror(error)
#define prof__socket_close(file) close(file)
#define prof__socket_send(file, at, size) send(file, at, size, MSG_NOSIGNAL)
#define prof__socket_recv(file, at, size) recv(file, at, size, 0)

static void prof__socket_option(int file, int level, int option, int value)
{
    setsockopt(file, level, option, &value, sizeof value);
}

static int prof__server_descriptor(int file) /* makes it non-blocking, and closed by exec() */
{
    if (file >= 0 && (fcntl(file, F_SETFD, FD_CLOEXEC) || fcntl(file, F_SETFL, fcntl(file, F_GETFL) | O_NONBLOCK))) {
        close(file);
        file = -1;
    }
    return file;
}

static int prof__socket_accept(int listener)
{
#if defined(__linux__) && defined(SOCK_CLOEXEC)
    return prof__libc_accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
#else
    return prof__server_descriptor(accept(listener, NULL, NULL));
#endif
}

/* Returns a new socket. Returns -1 and sets errno if that fails. */
static int prof__socket_open(int family)
{
#if defined(SOCK_CLOEXEC) && defined(SOCK_NONBLOCK)
    return socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
#else
    return prof__server_descriptor(socket(family, SOCK_STREAM, 0));
#endif
}

/* Makes the pipe that wakes the thread from poll(). Returns 0 or an errno. */
static int prof__wake_make(int wake[2])
{
#ifdef __linux__
    return prof__libc_pipe2(wake, O_CLOEXEC | O_NONBLOCK) ? errno : 0;
#else
    return pipe(wake) || (wake[0] = prof__server_descriptor(wake[0])) < 0 ||
                   (wake[1] = prof__server_descriptor(wake[1])) < 0
               ? errno
               : 0;
#endif
}
#define PROF__WAKE_END(wake) (wake)[1]
#define prof__wake_send(file) write(file, "", 1)
#define prof__wake_take(file, at, size) read(file, at, size)
#endif

#ifdef _WIN32
#include <winsock2.h>
#include <ws2tcpip.h>

/*-- THE SYSTEM -----------------------------------------------------------------------------------------------------
   A socket is kept as an int, as on POSIX: Windows numbers sockets with small integers. */

#define PROF__SOCKET(file) ((SOCKET)(file))
/* SO_REUSEADDR of Windows would take a port from a program that listens on it. This option does not. */
#define PROF__SOCKET_REUSE SO_EXCLUSIVEADDRUSE

typedef HANDLE prof__server_thread;
typedef DWORD prof__server_result; /* what a thread's function returns */
#define PROF__SERVER_MAIN WINAPI

static int prof__server_create(HANDLE *thread, LPTHREAD_START_ROUTINE run, void *user)
{
    *thread = CreateThread(NULL, 0, run, user, 0, NULL);
    return *thread ? 0 : EAGAIN;
}

static void prof__server_join(HANDLE thread)
{
    WaitForSingleObject(thread, INFINITE);
    CloseHandle(thread);
}

static int prof__socket_errno(void)
{
    switch (WSAGetLastError()) {
    case WSAEWOULDBLOCK: return EAGAIN;
    case WSAEINTR: return EINTR;
    case WSAECONNABORTED: return ECONNABORTED;
    case WSAEACCES: /* another program has the port for itself */
    case WSAEADDRINUSE: return EADDRINUSE;
    case WSAEADDRNOTAVAIL: return EADDRNOTAVAIL;
    case WSAEAFNOSUPPORT: return EAFNOSUPPORT;
    default: return EIO;
    }
}

static const char *prof__socket_strerror(int error) /* strerror() of the C runtime lacks some errors of sockets */
{
    return error == EADDRINUSE ? "Address already in use"
           : error == EADDRNOTAVAIL || error == EAFNOSUPPORT ? "Cannot assign requested address" : strerror(error);
}

static ptrdiff_t prof__socket_did(int result) /* sets errno */
{
    if (result < 0) errno = prof__socket_errno();
    return result;
}

static void prof__socket_close(int file) { closesocket(PROF__SOCKET(file)); }

static void prof__socket_option(int file, int level, int option, int value)
{
    setsockopt(PROF__SOCKET(file), level, option, (const char *)&value, sizeof value);
}

static ptrdiff_t prof__socket_send(int file, const unsigned char *at, size_t size)
{
    return prof__socket_did(send(PROF__SOCKET(file), (const char *)at, (int)size, 0));
}

static ptrdiff_t prof__socket_recv(int file, void *at, size_t size)
{
    return prof__socket_did(recv(PROF__SOCKET(file), (char *)at, (int)size, 0));
}

/* Makes a socket non-blocking and not inherited. Returns -1 and sets errno if that fails, or if `file` is no socket. */
static int prof__server_descriptor(SOCKET file)
{
    u_long on = 1;
    if (file == INVALID_SOCKET) return (int)prof__socket_did(-1);
    SetHandleInformation((HANDLE)file, HANDLE_FLAG_INHERIT, 0);
    if (ioctlsocket(file, (long)FIONBIO, &on)) {
        closesocket(file);
        errno = EIO;
        return -1;
    }
    return (int)file;
}

static int prof__socket_accept(int listener)
{
    return prof__server_descriptor(accept(PROF__SOCKET(listener), NULL, NULL));
}

static int prof__socket_open(int family) /* the first call starts Winsock */
{
    static int started;
    WSADATA about;
    if (!started && WSAStartup(MAKEWORD(2, 2), &about)) {
        errno = EAFNOSUPPORT;
        return -1;
    }
    started = 1;
    return prof__server_descriptor(socket(family, SOCK_STREAM, 0));
}

typedef struct prof__server_pollfd {
    int fd; /* -1: poll ignores this entry */
    short events, revents;
} prof__server_pollfd;

static int prof__socket_poll(prof__server_pollfd *files, size_t count, int ms)
{
    WSAPOLLFD asked[64];
    ULONG used = 0;
    size_t i;
    for (i = 0; i < count && used < 64; ++i) {
        if (files[i].fd < 0) continue;
        asked[used].fd = PROF__SOCKET(files[i].fd);
        asked[used].events = files[i].events;
        asked[used++].revents = 0;
    }
    int result = WSAPoll(asked, used, ms);
    if (result < 0) Sleep(10); /* so that repeated failures do not keep a processor busy */
    for (i = 0, used = 0; i < count; ++i) files[i].revents = files[i].fd < 0 ? 0 : asked[used++].revents;
    return result;
}

/* Makes the socket that wakes the thread from its poll: it is connected to itself. Returns 0 or an errno. */
static int prof__wake_make(int wake[2])
{
    struct sockaddr_in here;
    int size = sizeof here;
    memset(&here, 0, sizeof here);
    here.sin_family = AF_INET;
    here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    wake[0] = prof__server_descriptor(socket(AF_INET, SOCK_DGRAM, 0));
    if (wake[0] < 0 || bind(PROF__SOCKET(wake[0]), (struct sockaddr *)&here, size) ||
        getsockname(PROF__SOCKET(wake[0]), (struct sockaddr *)&here, &size) ||
        connect(PROF__SOCKET(wake[0]), (struct sockaddr *)&here, size))
        return prof__socket_errno();
    return 0;
}
#define PROF__WAKE_END(wake) (wake)[0]
static ptrdiff_t prof__wake_send(int file) { return prof__socket_did(send(PROF__SOCKET(file), "", 1, 0)); }
static ptrdiff_t prof__wake_take(int file, char *at, size_t size) { return prof__socket_recv(file, at, size); }
#endif

#define PROF__SERVER_CLIENTS 16
#define PROF__SERVER_STREAMS 8            /* requests that an HTTP/2 connection may have at a time */
#define PROF__SERVER_HEAD 16384           /* bytes of a request's head (HTTP/1) or of a header block (HTTP/2) */
#define PROF__SERVER_BODY 65536
#define PROF__SERVER_FRAME 16384          /* payload of an HTTP/2 frame, in both directions */
#define PROF__SERVER_OUT (4 * PROF__SERVER_FRAME)
#define PROF__SERVER_FRONT 2048           /* free space kept before an answer, for a prefix that depends on the whole */
#define PROF__SERVER_REQUEST_NS 10000000000u /* the time a client has for sending a request */
#define PROF__SERVER_ANSWER_NS 20000000000u  /* for reading an answer, plus 1 s for each PROF__SERVER_RATE bytes */
#define PROF__SERVER_RATE 65536u
#define PROF__SERVER_IDLE_NS 300000000000u   /* for a connection without a request, unless its slot is needed */
#define PROF__SERVER_LEAVE_NS 2000000000u    /* of a server that stops: how long a client may read nothing */
#define PROF__SERVER_LEFT_NS 20000000000u    /* of a server that stops: how long sending all answers may take */
#define PROF__SERVER_TICK_NS 50000000u       /* how often a capture checks that its session still runs */
#define PROF__SERVER_PATIENCE 10000          /* HTTP/2 frames in a row without a request or data */
#define PROF__SERVER_ABORTS 32               /* requests that an HTTP/2 connection may cancel */
#define PROF__SERVER_AHEAD 8                 /* requests that an HTTP/1 connection may send without waiting */
#define PROF__SERVER_WATCHERS 4              /* answers to /live at the same time */
#define PROF__SERVER_PERIOD_NS 250000000u    /* the least period of /live; at least 10 times the work for it */
#define PROF__SERVER_LIVE_BUFFER ((size_t)8 << 20) /* of a session that /live starts: all is read each time */
#define PROF__SERVER_LAG_NS 20000000u        /* how long ago a period of /live ends: threads have written it */
#define PROF__SERVER_STALL_NS 60000000000u   /* how long a client of /live may read nothing */
#define PROF__SERVER_TURN_NS 10000000u       /* after this time, a connection lets others have their turn */

/* Memory that grows, for an answer or a body. The bytes from `first` to `size` are valid. */
typedef struct prof__server_bytes {
    unsigned char *at;
    size_t first, size, capacity;
} prof__server_bytes;

typedef enum prof__server_format {
    PROF__SERVE_JSON,
    PROF__SERVE_PROF,
    PROF__SERVE_XPLANE,
    PROF__SERVE_CSV,
    PROF__SERVE_HTML,
    PROF__SERVE_SUMMARY,
    PROF__SERVE_MONITOR
} prof__server_format;

/* A capture: what the client asked for, and how far it has come. Times are nanoseconds of CLOCK_MONOTONIC. */
typedef struct prof__server_capture {
    prof__server_format format;
    int whole;               /* 1: of what is in the buffer now, without waiting */
    double last;             /* with whole: only this many seconds before now; 0: everything */
    uint64_t begin_at, ns;   /* begin_at: 0: as soon as its turn comes; ns: how long it records */
    uint64_t from, end_at;   /* when it began, and when it is to end */
    uint32_t session_id;     /* the id of the session at its begin */
    int on_demand;           /* 1: it is a user of the on-demand session */
    int dump;                /* of the recording of /start: 1: a copy so far; 2: all, and discards it */
    int quiet;               /* 1: records no scopes, because host_tracer_level is 0 */
    int no_devices;
    int configured;          /* 1: the client has set keys of config, which a session of the program ignores */
    int emit_xspace, continuous;
    int number;              /* the level of Monitor; for /level: the level plus 1 */
    prof_config config;      /* how an on-demand session records */
    size_t text_used;
    char texts[1024];        /* the strings that config points to */
    char session[128];
    char host[64];           /* override_hostname of the request; "": not set */
    size_t note_used;
    char notes[1024];        /* lines that tell the client what the answer lacks */
} prof__server_capture;

enum { PROF__ASK_FREE, PROF__ASK_HEAD, PROF__ASK_BODY, PROF__ASK_DELAYED, PROF__ASK_CAPTURE, PROF__ASK_ANSWER,
       PROF__ASK_LIVE };

/* The state of an answer to /live. Durations are nanoseconds. next_at is a time of CLOCK_MONOTONIC. */
typedef struct prof__server_live {
    uint32_t session_id; /* the id of the session that it shows; 0: none yet */
    int ended;         /* 1: that session has ended, and all of it was sent */
    int over;          /* 1: the last message was made */
    uint64_t tick;     /* where the next period begins; 0: the first */
    uint64_t next_at, period, took;
    uint64_t messages, skipped, skipped_ns; /* periods that the client missed by reading slowly, and their time */
    uint64_t overwritten_ns;                /* how much time the ring had overwritten before it was read */
} prof__server_live;

/* A request and its answer. An HTTP/1 connection has one at a time. An HTTP/2 connection may have several. */
typedef struct prof__server_ask {
    int phase;
    uint32_t stream;
    int grpc, trusted, bad; /* bad: the HTTP status if the head is invalid; 0: it is valid */
    uint32_t seen;          /* bits of the fields that have come: see prof__server_once() */
    const char *twice;      /* the name of a field in `seen` that came twice, or NULL */
    int ended;              /* HTTP/2: 1: all of the request has come */
    int keep;               /* HTTP/1: 1: the connection stays open after the answer */
    uint64_t since;         /* when the first byte of the request came, and later that of the answer was sent */
    uint64_t taken;         /* how many bytes of the answer the client has read */
    char method[16], path[128], query[2048], host[256], origin[256], site[32];
    uint64_t length;        /* HTTP/1: how many bytes the body has */
    prof__server_bytes body, answer;
    prof__server_capture capture;
    prof__server_live *live;
    int html;               /* 1: the client accepts a page; 2: the answer is a page */
    int status, grpc_status;
    int head_sent;
    int64_t window;
    char head[2048];        /* the header lines of the answer */
    char message[512];      /* the text of grpc-message */
} prof__server_ask;

/* The dynamic table of an HPACK decoder, RFC 7541. The names and values lie one after another, the oldest first. */
typedef struct prof__hpack {
    struct {
        unsigned short name, value; /* bytes */
    } entry[128];
    size_t count, used, limit; /* used: bytes of text; limit: the table's size in the RFC's count */
    char text[4096];
} prof__hpack;

enum { PROF__SPEAKS_NOTHING, PROF__SPEAKS_HTTP1, PROF__SPEAKS_HTTP2 };

typedef struct prof__server_client {
    int file, speaks;
    int closing;             /* 1: reads nothing more, and closes the connection once all is sent */
    uint64_t since;          /* when it connected, or when its last answer ended */
    uint64_t partial_since;  /* when the first byte of an incomplete request came; 0: there is none */
    size_t in_size, out_at, out_size;
    prof__hpack hpack;
    uint32_t last_stream, block_stream, max_frame;
    unsigned block_flags, block_parts, patience;
    unsigned aborts, ahead;  /* ahead: requests in a row that came before the previous answer was sent */
    size_t block_size;
    int64_t window, first_window;
    unsigned next;           /* the request whose turn to send is next */
    prof__server_ask asks[PROF__SERVER_STREAMS];
    unsigned char in[PROF__SERVER_HEAD + 1024], block[PROF__SERVER_HEAD], out[PROF__SERVER_OUT];
} prof__server_client;

/* The server of the process. The lock prof__server_files guards the descriptors, so that a fork() finds them complete.
   The lock prof__server_kept guards `kept`. All else belongs to the server's thread while it runs. */
typedef struct prof__server {
    int running, port;
    int wake[2], listeners[2];
    prof__server_thread thread;
    uint32_t stop;
    uint64_t leave_at, left_at; /* when a stopping server ends: if it sends nothing until then; in any case; or 0 */
    uint64_t deaf_until;        /* accepts no client before this time, because descriptors ran out */
    prof__server_client *clients[PROF__SERVER_CLIENTS];
    char token[256];
    size_t token_size;
    uint64_t max_ms;
    size_t max_buffer, max_answer, answers; /* answers: how many bytes all answers have */
    int read_only;
    prof_config capture;
    int sized;                       /* 1: the program has set capture.buffer_size */
    char categories[1024];
    int on_demand_users, continuous; /* how many use the on-demand session; continuous profiling may be one of them */
    int on_demand_level;
    void *kept; /* the image of an on-demand session that a prof_start() has ended, until its users have read it */
    size_t kept_size;
    uint32_t paused_session_id;  /* the id of the session that a client has paused; 0: none */
    int remote;                  /* 1: the recording of /start is a user of the on-demand session */
    uint64_t remote_from, remote_to; /* when that recording began and ended; remote_to 0: it still runs */
    void *stopped;               /* the image of the recording that /stop has ended, until /dump or /start */
    size_t stopped_size;
    int wished;                  /* 1: `wish` has what /config has set for the next /start */
    prof__server_capture wish;
    uint64_t captures;
} prof__server;

static prof__server prof__server_state;
static int prof__server_word, prof__server_files, prof__server_kept; /* locks: start and stop; descriptors; kept */

/*-- memory --*/

/* Makes space for `more` bytes. Returns 0 without memory, or if all answers together would exceed max_answer. */
static int prof__server_grow(prof__server *v, prof__server_bytes *b, size_t more)
{
    size_t capacity = b->capacity < 32768 ? 65536 : b->capacity * 2, left = v->max_answer - v->answers + b->capacity;
    if (b->capacity - b->size >= more) return 1;
    if (more > left || b->size > left - more) return 0;
    if (capacity < b->size + more) capacity = b->size + more;
    if (capacity > left) capacity = left;
    unsigned char *at = (unsigned char *)realloc(b->at, capacity);
    if (!at) return 0;
    v->answers += capacity - b->capacity;
    b->at = at;
    b->capacity = capacity;
    return 1;
}

static void prof__server_drop(prof__server *v, prof__server_bytes *b)
{
    free(b->at);
    v->answers -= b->capacity;
    memset(b, 0, sizeof *b);
}

static int prof__server_add(prof__server *v, prof__server_bytes *b, const void *data, size_t size)
{
    if (!size) return 1;
    if (!prof__server_grow(v, b, size)) return 0;
    memcpy(b->at + b->size, data, size);
    b->size += size;
    return 1;
}

static int prof__server_sink(void *answer, const void *data, size_t size)
{
    return !prof__server_add(&prof__server_state, (prof__server_bytes *)answer, data, size);
}

/* Copies a text of a client. Returns 0 if it does not fit: a shortened text could mean something else. */
static int prof__server_copy(char *to, size_t capacity, const char *text, size_t size)
{
    if (size >= capacity) return 0;
    memcpy(to, text, size);
    to[size] = 0;
    return 1;
}

static void prof__server_note(prof__server_capture *capture, const char *format, ...) PROF__PRINTF(2, 3);
static void prof__server_note(prof__server_capture *capture, const char *format, ...)
{
    size_t capacity = sizeof capture->notes - capture->note_used;
    va_list list;
    if (capacity < 2) return;
    va_start(list, format);
    int size = vsnprintf(capture->notes + capture->note_used, capacity, format, list);
    va_end(list);
    if (size <= 0) return;
    if ((size_t)size > capacity - 2) size = (int)(capacity - 2);
    for (int i = 0; i < size; ++i) { /* a note becomes a part of a header line */
        char *c = &capture->notes[capture->note_used + (size_t)i];
        if ((unsigned char)*c < 32 || (unsigned char)*c > 126) *c = '?';
    }
    capture->note_used += (size_t)size;
    capture->notes[capture->note_used++] = '\n';
    capture->notes[capture->note_used] = 0;
}

/*-- answers --*/

static void prof__server_begin_answer(prof__server *v, prof__server_ask *ask)
{
    prof__server_drop(v, &ask->answer);
    ask->head[0] = ask->message[0] = 0;
    ask->head_sent = 0;
    if (prof__server_grow(v, &ask->answer, PROF__SERVER_FRONT))
        ask->answer.first = ask->answer.size = PROF__SERVER_FRONT;
}

static void prof__server_head(prof__server_ask *ask, const char *format, ...) PROF__PRINTF(2, 3);
static void prof__server_head(prof__server_ask *ask, const char *format, ...)
{
    size_t used = strlen(ask->head), capacity = sizeof ask->head - used;
    va_list list;
    va_start(list, format);
    int size = vsnprintf(ask->head + used, capacity, format, list);
    va_end(list);
    if (size < 0 || (size_t)size >= capacity) ask->head[used] = 0; /* leaves out a line that does not fit */
}

/* The content security policy of the page: it may load its own script, and the answers of this server. */
#define PROF__SERVER_PAGE "script-src 'nonce-prof'; style-src 'unsafe-inline'; connect-src 'self'; worker-src blob:; "

/* Adds the header fields for security that every answer has. policy: what a page may load. */
static void prof__server_guard(prof__server_ask *ask, const char *policy)
{
    prof__server_head(ask, "cache-control: no-store\r\nx-content-type-options: nosniff\r\n"
                           "content-security-policy: default-src 'none'; %sframe-ancestors 'none'\r\n", policy);
}

static void prof__server_end_answer(prof__server_ask *ask, int status, const char *type)
{
    ask->status = status;
    ask->phase = PROF__ASK_ANSWER;
    ask->since = prof_host_ns();
    ask->taken = 0;
    if (ask->grpc) {
        prof__server_head(ask, "content-type: application/grpc\r\n");
        return;
    }
    prof__server_head(ask, "content-type: %s\r\ncontent-length: %llu\r\n", type,
                      (unsigned long long)(ask->answer.size - ask->answer.first));
    prof__server_guard(ask, ask->status == 200 && ask->html > 1 ? PROF__SERVER_PAGE : "");
    if (!strcmp(ask->method, "HEAD")) ask->answer.first = ask->answer.size; /* an answer to HEAD has no body */
}

/* Status codes of gRPC, as many as are needed here. */
enum {
    PROF__GRPC_OK = 0,
    PROF__GRPC_INVALID_ARGUMENT = 3,
    PROF__GRPC_PERMISSION_DENIED = 7,
    PROF__GRPC_RESOURCE_EXHAUSTED = 8,
    PROF__GRPC_FAILED_PRECONDITION = 9,
    PROF__GRPC_UNIMPLEMENTED = 12,
    PROF__GRPC_INTERNAL = 13,
    PROF__GRPC_UNAUTHENTICATED = 16
};

/* Answers with one line of text, usually an error. */
static void prof__server_say(prof__server *v, prof__server_ask *ask, int status, int grpc, const char *format, ...)
    PROF__PRINTF(5, 6);
static void prof__server_say(prof__server *v, prof__server_ask *ask, int status, int grpc, const char *format, ...)
{
    char text[sizeof ask->message];
    va_list list;
    va_start(list, format);
    int size = vsnprintf(text, sizeof text - 1, format, list);
    va_end(list);
    if (size < 0) text[0] = 0;
    char head[256];
    prof__server_copy(head, sizeof head, ask->head, strlen(ask->head) < sizeof head ? strlen(ask->head) : 0);
    prof__server_begin_answer(v, ask);
    prof__server_head(ask, "%s", head);
    ask->grpc_status = grpc;
    if (ask->grpc) {
        prof__text_copy(ask->message, sizeof ask->message, text);
        status = 200;
    } else {
        size_t length = strlen(text);
        text[length++] = '\n';
        prof__server_add(v, &ask->answer, text, length);
    }
    prof__server_end_answer(ask, status, "text/plain; charset=utf-8");
}

/* Answers with the text of prof_error() and the status that goes with it. */
static void prof__server_refuse(prof__server *v, prof__server_ask *ask, prof_status status)
{
    static const struct {
        int http, grpc;
    } codes[PROF_STATUS_COUNT] = {
        {500, PROF__GRPC_INTERNAL},            {501, PROF__GRPC_UNIMPLEMENTED}, {400, PROF__GRPC_INVALID_ARGUMENT},
        {409, PROF__GRPC_FAILED_PRECONDITION}, {501, PROF__GRPC_UNIMPLEMENTED}, {503, PROF__GRPC_RESOURCE_EXHAUSTED},
        {500, PROF__GRPC_INTERNAL},            {500, PROF__GRPC_INTERNAL}};
    char why[sizeof ask->message];
    prof__text_copy(why, sizeof why, prof_error());
    prof__server_say(v, ask, codes[(unsigned)status < PROF_STATUS_COUNT ? status : 0].http,
                     codes[(unsigned)status < PROF_STATUS_COUNT ? status : 0].grpc, "%s", why);
}

/*-- WHAT IS RECORDED ----------------------------------------------------------------------------------- >>on_demand --
   A capture uses the session of the program. If the program has none, the capture uses the on-demand session, which
   starts with its first user and ends with the last one. */

/* Keeps the image of the on-demand session for its captures, because the program is starting a session, which ends it.
   The caller holds the control lock. */
static void prof__server_keep(void *image, size_t size)
{
    prof__lock(&prof__server_kept);
    free(prof__server_state.kept);
    prof__server_state.kept = image;
    prof__server_state.kept_size = size;
    prof__unlock(&prof__server_kept);
}

static int prof__server_was_sent_away(prof__server *v)
{
    prof__lock(&prof__server_kept);
    int kept = v->kept != NULL;
    prof__unlock(&prof__server_kept);
    return kept;
}

/* Removes a user from the on-demand session. Unless bytes is NULL, sets *bytes to the image, which the caller frees. */
static prof_status prof__server_on_demand_leave(prof__server *v, void **bytes, size_t *size)
{
    prof_status status = PROF_OK;
    int last = v->on_demand_users == 1;
    prof__control_lock();
    int was_on_demand = last && prof__on_demand_stop();
    prof__lock(&prof__server_kept);
    if (v->kept && bytes) {
        *size = v->kept_size;
        *bytes = malloc(v->kept_size);
        if (*bytes)
            memcpy(*bytes, v->kept, v->kept_size);
        else
            status = prof__fail(PROF_NO_MEMORY, "no memory for a copy of the image");
    }
    if (last) {
        free(v->kept);
        v->kept = NULL;
    }
    prof__unlock(&prof__server_kept);
    if (bytes && !*bytes && !status) status = prof__image_copy(bytes, size);
    if (was_on_demand) prof__on_demand_free();
    prof__control_unlock();
    v->on_demand_users--;
    return status;
}

/* Adds a user to the on-demand session, and starts the session for the first one. Returns PROF_INVALID_STATE if the
   program has started a session meanwhile. */
static prof_status prof__server_on_demand_join(prof__server *v, prof__server_capture *capture, int running)
{
    int level = capture->quiet ? 0 : prof__level_of(&capture->config);
    if (!running) {
        prof__on_demand_options wish = {capture->quiet, capture->no_devices, prof__server_keep};
        prof_status status = prof__on_demand_begin(&capture->config, &wish);
        if (status) return status;
        v->on_demand_level = level;
    } else if (level > v->on_demand_level) {
        prof_set_level(v->on_demand_level = level);
    }
    if (running && capture->configured)
        prof__server_note(capture, "another capture already records: its buffer and categories are used");
    capture->on_demand = 1;
    v->on_demand_users++;
    return PROF_OK;
}

/*-- recordings from /start to /stop --*/

/* Copies a capture. Its pointers into the texts of `from` become pointers into the texts of `to`. */
static void prof__server_capture_copy(prof__server_capture *to, const prof__server_capture *from)
{
    const char *own = from->config.categories;
    *to = *from;
    if (own >= from->texts && own < from->texts + sizeof from->texts)
        to->config.categories = to->texts + (own - from->texts);
}

static void prof__server_remote_drop(prof__server *v)
{
    free(v->stopped);
    v->stopped = NULL;
}

/* Ends the recording that /start has begun, and keeps its image for /dump. */
static prof_status prof__server_remote_stop(prof__server *v)
{
    void *bytes = NULL;
    size_t size = 0;
    prof_status status = prof__server_on_demand_leave(v, &bytes, &size);
    v->remote = 0;
    v->remote_to = prof_host_ns();
    free(v->stopped);
    v->stopped = status ? NULL : bytes;
    v->stopped_size = size;
    return status;
}

/* Copies what the recording of /start has so far, also if a prof_start() of the program has ended it. */
static prof_status prof__server_remote_copy(prof__server *v, void **bytes, size_t *size)
{
    const void *from = v->stopped;
    prof_status status = PROF_OK;
    prof__control_lock();
    prof__lock(&prof__server_kept);
    *size = v->stopped_size;
    if (!from && v->kept) {
        from = v->kept;
        *size = v->kept_size;
    }
    if (from) {
        *bytes = malloc(*size);
        if (*bytes)
            memcpy(*bytes, from, *size);
        else
            status = prof__fail(PROF_NO_MEMORY, "no memory for a copy of the image");
    }
    prof__unlock(&prof__server_kept);
    if (!from) status = prof__image_copy(bytes, size);
    prof__control_unlock();
    return status;
}

/* Gives /dump the image: that of an ended recording, or a copy of the running one. */
static prof_status prof__server_remote_take(prof__server *v, prof__server_capture *capture, void **bytes, size_t *size)
{
    prof_status status = PROF_OK;
    if (v->remote && capture->dump == 2) status = prof__server_remote_stop(v);
    if (!status && !v->remote && !v->stopped)
        status = prof__fail(PROF_INVALID_STATE, "nothing was recorded: POST /start first");
    capture->from = v->remote_from;
    capture->end_at = v->remote ? prof_host_ns() : v->remote_to;
    return status ? status : prof__server_remote_copy(v, bytes, size);
}

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

/*-- HPACK -------------------------------------------------------------------------------------------------- >>hpack --
   A decoder for RFC 7541. Answers need no encoder with a table: their fields are written as literals. */

static const char *const prof__hpack_static[61][2] = {{":authority", ""},
                                                      {":method", "GET"},
                                                      {":method", "POST"},
                                                      {":path", "/"},
                                                      {":path", "/index.html"},
                                                      {":scheme", "http"},
                                                      {":scheme", "https"},
                                                      {":status", "200"},
                                                      {":status", "204"},
                                                      {":status", "206"},
                                                      {":status", "304"},
                                                      {":status", "400"},
                                                      {":status", "404"},
                                                      {":status", "500"},
                                                      {"accept-charset", ""},
                                                      {"accept-encoding", "gzip, deflate"},
                                                      {"accept-language", ""},
                                                      {"accept-ranges", ""},
                                                      {"accept", ""},
                                                      {"access-control-allow-origin", ""},
                                                      {"age", ""},
                                                      {"allow", ""},
                                                      {"authorization", ""},
                                                      {"cache-control", ""},
                                                      {"content-disposition", ""},
                                                      {"content-encoding", ""},
                                                      {"content-language", ""},
                                                      {"content-length", ""},
                                                      {"content-location", ""},
                                                      {"content-range", ""},
                                                      {"content-type", ""},
                                                      {"cookie", ""},
                                                      {"date", ""},
                                                      {"etag", ""},
                                                      {"expect", ""},
                                                      {"expires", ""},
                                                      {"from", ""},
                                                      {"host", ""},
                                                      {"if-match", ""},
                                                      {"if-modified-since", ""},
                                                      {"if-none-match", ""},
                                                      {"if-range", ""},
                                                      {"if-unmodified-since", ""},
                                                      {"last-modified", ""},
                                                      {"link", ""},
                                                      {"location", ""},
                                                      {"max-forwards", ""},
                                                      {"proxy-authenticate", ""},
                                                      {"proxy-authorization", ""},
                                                      {"range", ""},
                                                      {"referer", ""},
                                                      {"refresh", ""},
                                                      {"retry-after", ""},
                                                      {"server", ""},
                                                      {"set-cookie", ""},
                                                      {"strict-transport-security", ""},
                                                      {"transfer-encoding", ""},
                                                      {"user-agent", ""},
                                                      {"vary", ""},
                                                      {"via", ""},
                                                      {"www-authenticate", ""}};

/* How many bits the Huffman code of each byte, and of the end of a string, has (RFC 7541, appendix B). The lengths give
   the codes: if the symbols are sorted by length and then by value, each code is the previous one plus 1, shifted left
   where the length grows. */
static const unsigned char prof__huffman_bits[257] = {
    13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28,
    28, 28, 28, 6,  10, 10, 12, 13, 6,  8,  11, 10, 10, 8,  11, 8,  6,  6,  6,  5,  5,  5,  6,  6,  6,  6,  6,  6,  6,
    7,  8,  15, 6,  12, 10, 13, 6,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,
    7,  8,  7,  8,  13, 19, 13, 14, 6,  15, 5,  6,  5,  6,  5,  6,  6,  6,  5,  7,  7,  6,  6,  6,  5,  6,  7,  6,  5,
    5,  6,  7,  7,  7,  7,  7,  15, 11, 14, 13, 28, 20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23, 24,
    24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24, 22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22,
    23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23, 26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26,
    27, 27, 26, 24, 25, 19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27, 20, 24, 20, 21, 22, 21, 21, 23,
    22, 22, 25, 25, 24, 24, 26, 23, 26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26, 30};

/* For each length: the first code, the number of codes, and where their symbols begin. */
static struct {
    uint32_t code;
    unsigned short count, first;
} prof__huffman_rows[31];
static unsigned short prof__huffman_symbols[257];

static void prof__huffman_prepare(void)
{
    uint32_t code = 0;
    unsigned at = 0;
    if (prof__huffman_rows[30].count) return;
    for (unsigned bits = 1; bits <= 30; ++bits) {
        prof__huffman_rows[bits].code = code <<= 1;
        prof__huffman_rows[bits].first = (unsigned short)at;
        for (unsigned symbol = 0; symbol < 257; ++symbol)
            if (prof__huffman_bits[symbol] == bits) prof__huffman_symbols[at++] = (unsigned short)symbol;
        prof__huffman_rows[bits].count = (unsigned short)(at - prof__huffman_rows[bits].first);
        code += prof__huffman_rows[bits].count;
    }
}

/* Decodes `size` bytes of Huffman code. Returns 0 if they are invalid, or decode to more than `capacity` bytes. */
static int prof__huffman_decode(const unsigned char *at, size_t size, char *to, size_t capacity, size_t *length)
{
    uint32_t code = 0;
    unsigned bits = 0;
    size_t n = 0;
    prof__huffman_prepare();
    for (size_t i = 0; i < size * 8; ++i) {
        code = code << 1 | ((uint32_t)at[i / 8] >> (7 - i % 8) & 1u);
        if (++bits > 30) return 0;
        uint32_t index = code - prof__huffman_rows[bits].code;
        if (code < prof__huffman_rows[bits].code || index >= prof__huffman_rows[bits].count) continue;
        unsigned symbol = prof__huffman_symbols[prof__huffman_rows[bits].first + index];
        if (symbol == 256 || n == capacity) return 0;
        to[n++] = (char)symbol;
        code = bits = 0;
    }
    *length = n;
    return bits < 8 && code == (1u << bits) - 1; /* padding: ones, the begin of the code for the end */
}

/* Reads an integer of which the first byte holds `bits` bits. Returns 0 if it is invalid or too large. */
static int prof__hpack_integer(const unsigned char **at, const unsigned char *end, unsigned bits, uint32_t *value)
{
    uint32_t max = (1u << bits) - 1;
    if (*at == end) return 0;
    *value = *(*at)++ & max;
    if (*value < max) return 1;
    for (unsigned shift = 0; shift < 28 && *at < end; shift += 7) {
        unsigned char c = *(*at)++;
        *value += (uint32_t)(c & 127) << shift;
        if (!(c & 128)) return 1;
    }
    return 0;
}

static int prof__hpack_string(const unsigned char **at, const unsigned char *end, char *to, size_t capacity,
                              size_t *size)
{
    uint32_t length;
    int coded = *at < end && **at & 128;
    if (!prof__hpack_integer(at, end, 7, &length) || length > (size_t)(end - *at)) return 0;
    const unsigned char *from = *at;
    *at += length;
    if (coded) return prof__huffman_decode(from, length, to, capacity, size);
    if (length > capacity) return 0;
    memcpy(to, from, length);
    *size = length;
    return 1;
}

static size_t prof__hpack_size(const prof__hpack *h) { return h->used + 32 * h->count; }

/* Drops the oldest entries until the table has space for `bytes` more, in the RFC's count: each entry has 32 extra. */
static void prof__hpack_evict(prof__hpack *h, size_t bytes)
{
    size_t gone = 0, text = 0;
    while (gone < h->count && prof__hpack_size(h) - text - 32 * gone + bytes > h->limit) {
        text += (size_t)h->entry[gone].name + h->entry[gone].value;
        ++gone;
    }
    if (!gone) return;
    memmove(h->text, h->text + text, h->used - text);
    memmove(h->entry, h->entry + gone, (h->count - gone) * sizeof *h->entry);
    h->used -= text;
    h->count -= gone;
}

static void prof__hpack_insert(prof__hpack *h, const char *name, size_t name_size, const char *value, size_t size)
{
    prof__hpack_evict(h, name_size + size + 32);
    if (name_size + size + 32 > h->limit) return; /* larger than the table, which is now empty */
    memcpy(h->text + h->used, name, name_size);
    memcpy(h->text + h->used + name_size, value, size);
    h->entry[h->count].name = (unsigned short)name_size;
    h->entry[h->count++].value = (unsigned short)size;
    h->used += name_size + size;
}

/* Copies the name and value with this index. Returns 0 if there is no such entry, or if it is too long. */
static int prof__hpack_lookup(const prof__hpack *h, uint32_t index, char *name, size_t *name_size, char *value,
                              size_t *size, size_t capacity)
{
    const char *from, *text;
    if (!index) return 0;
    if (index <= 61) {
        from = prof__hpack_static[index - 1][0];
        text = prof__hpack_static[index - 1][1];
        *name_size = strlen(from);
        *size = strlen(text);
    } else {
        size_t entry = h->count - (index - 61), at = 0;
        if (index - 61 > h->count) return 0;
        for (size_t i = 0; i < entry; ++i) at += (size_t)h->entry[i].name + h->entry[i].value;
        from = h->text + at;
        *name_size = h->entry[entry].name;
        text = from + *name_size;
        *size = h->entry[entry].value;
    }
    if (*name_size > capacity || *size > capacity) return 0;
    memcpy(name, from, *name_size);
    if (value) memcpy(value, text, *size);
    return 1;
}

#define PROF__HPACK_TEXT 8192 /* the limit for a name, and for a value, in bytes */

/* Decodes a header block, and calls `field` for each header field. max: the table size that our SETTINGS announced.
   Returns 0 if the block is invalid or too large. */
static int prof__hpack_block(prof__hpack *h, size_t max, const unsigned char *at, size_t block,
                             void (*field)(void *user, const char *name, size_t name_size, const char *value,
                                           size_t size),
                             void *user)
{
    char name[PROF__HPACK_TEXT], value[PROF__HPACK_TEXT];
    const unsigned char *end = at + block;
    size_t total = 0, name_size = 0, size = 0;
    int fields = 0;
    while (at < end) {
        unsigned char c = *at;
        uint32_t index;
        unsigned bits = c & 0x80 ? 7 : c & 0x40 ? 6 : c & 0x20 ? 5 : 4;
        if (!prof__hpack_integer(&at, end, bits, &index)) return 0;
        if (bits == 5) { /* sets the table's size; only allowed before the first field */
            if (index > max || fields) return 0;
            h->limit = index;
            prof__hpack_evict(h, 0);
            continue;
        }
        fields = 1;
        if (bits == 7) {
            if (!prof__hpack_lookup(h, index, name, &name_size, value, &size, sizeof name)) return 0;
        } else {
            if (index ? !prof__hpack_lookup(h, index, name, &name_size, NULL, &size, sizeof name)
                      : !prof__hpack_string(&at, end, name, sizeof name, &name_size))
                return 0;
            if (!prof__hpack_string(&at, end, value, sizeof value, &size)) return 0;
            if (bits == 6) prof__hpack_insert(h, name, name_size, value, size);
        }
        if ((total += name_size + size + 32) > 65536) return 0;
        field(user, name, name_size, value, size);
    }
    return 1;
}

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

#ifdef PROF__WRAPS_MALLOC
#undef malloc
#undef calloc
#undef realloc
#undef free
#endif

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif /* PROF_IMPLEMENTATION */

#ifdef __GNUC__
#pragma GCC diagnostic pop
#endif
#ifdef __clang__
#pragma clang diagnostic pop
#endif
#pragma pack(pop)

/* This software is available under two licences: choose the one you prefer.

ALTERNATIVE A - MIT No Attribution (MIT-0)

Copyright 2026 the prof authors

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated
documentation files (the "Software"), to deal in the Software without restriction, including without limitation the
rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit
persons to whom the Software is furnished to do so.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR
OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.

ALTERNATIVE B - public domain (www.unlicense.org)

This is free and unencumbered software released into the public domain.

Anyone is free to copy, modify, publish, use, compile, sell, or distribute this software, either in source code form or
as a compiled binary, for any purpose, commercial or non-commercial, and by any means.

In jurisdictions that recognize copyright laws, the author or authors of this software dedicate any and all copyright
interest in the software to the public domain. We make this dedication for the benefit of the public at large and to the
detriment of our heirs and successors. We intend this dedication to be an overt act of relinquishment in perpetuity of
all present and future rights to this software under copyright law.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS BE
LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT
OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE. */
