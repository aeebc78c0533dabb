// server/state: The server's limits and structures, its memory, and how answers begin and end.
#ifndef PROF__SERVER_STATE_H
#define PROF__SERVER_STATE_H
#include "api/control.h"
#include "api/devices.h"
#include "server/posix.h"
#include "server/windows.h"

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

#endif /* PROF__SERVER_STATE_H */
