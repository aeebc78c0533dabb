/* test_server.c - captures over a socket, with clients written here: what they get, event by event; and clients that
   attack the server.

   No result depends on time: a test asks for a capture of a minute, which ends by what the test is about. */
/* run: check long */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "private.h"
#include "../prof_html.h"
#include "../prof_xplane.h"
#include "../prof_server.h"
#include "test.h"
#include "trace.h"
#include <dirent.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>

#define PATIENCE 100000 /* ms until a test gives up */

/*-- a client --*/

static int connect_to(const char *address, int port)
{
    prof__server_address to;
    socklen_t size;
    int file, small = 1;
    if (!prof__server_address_of(address, port, &to, &size)) return -1;
    file = socket(to.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (file >= 0 && connect(file, &to.any, size)) {
        close(file);
        file = -1;
    }
    if (file >= 0) setsockopt(file, IPPROTO_TCP, TCP_NODELAY, &small, sizeof small);
    return file;
}

static int client(void) { return connect_to("127.0.0.1", prof_server_port()); }

static int send_bytes(int file, const void *data, size_t size)
{
    const char *at = (const char *)data;
    while (size) {
        ssize_t n = send(file, at, size, MSG_NOSIGNAL);
        if (n <= 0) return 0;
        at += n;
        size -= (size_t)n;
    }
    return 1;
}
static int send_text(int file, const char *text) { return send_bytes(file, text, strlen(text)); }

/* Up to size bytes; less at the end of the connection, or of the test's patience. */
static size_t receive(int file, void *to, size_t size)
{
    size_t got = 0;
    while (got < size) {
        struct pollfd wait = {file, POLLIN, 0};
        ssize_t n;
        if (poll(&wait, 1, PATIENCE) <= 0) break;
        n = recv(file, (char *)to + got, size - got, 0);
        if (n <= 0) break;
        got += (size_t)n;
    }
    return got;
}

static int is_closed(int file)
{
    char byte;
    return receive(file, &byte, 1) == 0;
}

typedef struct reply {
    int status; /* 0: there was none */
    char head[4096];
    char *body; /* terminated */
    size_t size;
} reply;

static reply read_reply(int file)
{
    reply r;
    size_t at = 0;
    const char *length;
    memset(&r, 0, sizeof r);
    while (at < sizeof r.head - 1 && receive(file, r.head + at, 1) == 1) {
        ++at;
        if (at >= 4 && !memcmp(r.head + at - 4, "\r\n\r\n", 4)) break;
    }
    r.head[at] = 0;
    length = strstr(r.head, "content-length: ");
    r.size = length ? (size_t)strtoull(length + 16, NULL, 10) : 0;
    r.body = (char *)calloc(1, r.size + 1);
    if (at > 12 && r.body && receive(file, r.body, r.size) == r.size) r.status = atoi(r.head + 9);
    return r;
}

static reply ask_on(int file, const char *format, ...) __attribute__((format(printf, 2, 3)));
static reply ask_on(int file, const char *format, ...)
{
    char request[4096];
    va_list list;
    va_start(list, format);
    vsnprintf(request, sizeof request, format, list);
    va_end(list);
    send_text(file, request);
    return read_reply(file);
}

/* One request on a connection of its own. */
static reply get(const char *target)
{
    int file = client();
    reply r = ask_on(file, "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n", target);
    close(file);
    return r;
}
static reply post(const char *target)
{
    int file = client();
    reply r = ask_on(file, "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n", target);
    close(file);
    return r;
}
static int status_of(reply r)
{
    free(r.body);
    return r.status;
}

/* Not by strstr(), for which sanitizers look at all of the text, each time. */
static int count(const char *text, const char *word)
{
    int n = 0;
    for (; text && *text; ++text) {
        size_t i = 0;
        while (word[i] && text[i] == word[i]) ++i;
        n += !word[i];
    }
    return n;
}

/* Asks, and leaves the answer for later. */
static int ask_later(const char *target)
{
    char request[1024];
    int file = client();
    snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n", target);
    send_text(file, request);
    return file;
}
static reply answer_of(int file)
{
    reply r = read_reply(file);
    close(file);
    return r;
}

/* Until the server says so in its status. On one connection, which stays open: it is left with no work to do. */
static int wait_for_status_on(int file, const char *words)
{
    for (int i = 0; i < PATIENCE / 5; ++i, pause_ms(5)) {
        reply r = ask_on(file, "GET /status HTTP/1.1\r\nHost: localhost\r\n\r\n");
        int found = r.body && strstr(r.body, words) != NULL;
        free(r.body);
        if (found) return 1;
    }
    return 0;
}
static int wait_for_status(const char *words)
{
    int file = client(), found = wait_for_status_on(file, words);
    close(file);
    return found;
}

static void work(const char *name, int times)
{
    for (int i = 0; i < times; ++i) {
        PROFILE_SCOPE_DYNAMIC(name);
    }
}

static int start(const prof_server_options *options)
{
    prof_status status = prof_server_start(0, options);
    if (status) printf("%s\n", prof_error());
    return status == PROF_OK;
}

static int start_recording(prof_mode mode)
{
    prof_config config;
    memset(&config, 0, sizeof config);
    config.mode = mode;
    config.buffer_size = 1 << 20;
    return prof_start(&config) == PROF_OK;
}

static int descriptors(void)
{
    int n = 0;
    DIR *folder = opendir("/proc/self/fd");
    if (!folder) return 0;
    while (readdir(folder)) ++n;
    closedir(folder);
    return n;
}

/*-- starting and stopping --*/

TEST(starts_and_stops)
{
    int before = descriptors(), port;
    prof_server_options options;
    memset(&options, 0, sizeof options);
    CHECK_EQUAL(prof_server_port(), 0);
    CHECK_EQUAL(prof_server_stop(), PROF_INVALID_STATE);
    CHECK_EQUAL(prof_server_start(0, NULL), PROF_OK);
    port = prof_server_port();
    CHECK(port > 0);
    CHECK_EQUAL(prof_server_start(0, NULL), PROF_INVALID_STATE);
    CHECK_EQUAL(status_of(get("/")), 200);
    CHECK_EQUAL(prof_server_stop(), PROF_OK);
    CHECK_EQUAL(prof_server_port(), 0);
    CHECK_EQUAL(prof_server_start(port, NULL), PROF_OK); /* although connections of it are still in TIME_WAIT */
    CHECK_EQUAL(prof_server_port(), port);
    CHECK_EQUAL(status_of(get("/")), 200);
    CHECK_EQUAL(prof_server_stop(), PROF_OK);
    CHECK_EQUAL(descriptors(), before);
}

TEST(listens_on_both_loopback_addresses)
{
    int file;
    if (!start(NULL)) return;
    file = connect_to("::1", prof_server_port());
    if (file >= 0) {
        CHECK_EQUAL(status_of(ask_on(file, "GET / HTTP/1.1\r\nHost: [::1]:%d\r\n\r\n", prof_server_port())), 200);
        close(file);
    }
    CHECK_EQUAL(status_of(get("/")), 200);
    prof_server_stop();
    if (file < 0) SKIP("no IPv6 here");
}

TEST(refuses_bad_options)
{
    prof_server_options options;
    prof_config capture;
    int taken;
    memset(&options, 0, sizeof options);
    memset(&capture, 0, sizeof capture);
    CHECK_EQUAL(prof_server_start(-1, NULL), PROF_INVALID_ARGUMENT);
    CHECK_EQUAL(prof_server_start(65536, NULL), PROF_INVALID_ARGUMENT);
    options.host = "0.0.0.0";
    CHECK_EQUAL(prof_server_start(0, &options), PROF_INVALID_ARGUMENT);
    CHECK(strstr(prof_error(), "token") != NULL);
    options.host = "::";
    CHECK_EQUAL(prof_server_start(0, &options), PROF_INVALID_ARGUMENT);
    options.host = "example.org";
    CHECK_EQUAL(prof_server_start(0, &options), PROF_INVALID_ARGUMENT);
    options.host = NULL;
    options.token = "two words";
    CHECK_EQUAL(prof_server_start(0, &options), PROF_INVALID_ARGUMENT);
    options.token = NULL;
    capture.mode = PROF_STREAM;
    options.capture = &capture;
    CHECK_EQUAL(prof_server_start(0, &options), PROF_INVALID_ARGUMENT);
    capture.mode = PROF_RING;
    capture.level = 999;
    CHECK_EQUAL(prof_server_start(0, &options), PROF_INVALID_ARGUMENT);
    options.capture = NULL;
    options.host = "127.0.0.1";
    if (!start(&options)) return;
    taken = prof_server_port();
    CHECK_EQUAL(status_of(get("/")), 200);
    int pipes[2];
    if (pipe(pipes)) return;
    pid_t child = fork();
    if (child == 0) {
        prof_status status = prof_server_start(taken, NULL);
        _exit(status == PROF_IO && strstr(prof_error(), "cannot listen") ? 0 : 1);
    }
    int how = 1;
    waitpid(child, &how, 0);
    CHECK_EQUAL(how, 0);
    close(pipes[0]);
    close(pipes[1]);
    prof_server_stop();
}

TEST(its_thread_takes_no_signals)
{
    DIR *tasks = opendir("/proc/self/task");
    struct dirent *task;
    int found = 0;
    if (!tasks) SKIP("no /proc");
    closedir(tasks);
    if (!start(NULL)) return;
    CHECK_EQUAL(status_of(get("/")), 200);
    tasks = opendir("/proc/self/task");
    while ((task = readdir(tasks)) != NULL) {
        char path[512], line[256] = "";
        snprintf(path, sizeof path, "/proc/self/task/%.20s/comm", task->d_name);
        FILE *file = fopen(path, "r");
        if (!file) continue;
        if (!fgets(line, sizeof line, file)) line[0] = 0;
        fclose(file);
        if (strcmp(line, "prof server\n")) continue;
        snprintf(path, sizeof path, "/proc/self/task/%.20s/status", task->d_name);
        file = fopen(path, "r");
        while (file && fgets(line, sizeof line, file)) {
            unsigned long long mask;
            if (sscanf(line, "SigBlk: %llx", &mask) != 1) continue;
            found = 1;
            for (int number = 1; number < 32; ++number)
                if (number == SIGPIPE || number == SIGTERM || number == SIGALRM || number == SIGUSR1 || number == SIGCHLD)
                    CHECK(mask >> (number - 1) & 1);
        }
        if (file) fclose(file);
    }
    closedir(tasks);
    prof_server_stop();
    if (!found) SKIP("threads have no names here");
}

/*-- what can be asked --*/

TEST(says_what_there_is)
{
    reply r;
    if (!start(NULL)) return;
    r = get("/");
    CHECK_EQUAL(r.status, 200);
    CHECK(strstr(r.body, "/trace?ms=1000") != NULL);
    CHECK(strstr(r.head, "content-type: text/plain; charset=utf-8\r\n") != NULL);
    CHECK(strstr(r.head, "x-content-type-options: nosniff\r\n") != NULL);
    free(r.body);
    r = get("/status");
    CHECK_EQUAL(r.status, 200);
    CHECK(strstr(r.body, "\"recording\":false") != NULL);
    CHECK(strstr(r.body, "\"session\":\"none\"") != NULL);
    free(r.body);
    CHECK_EQUAL(status_of(get("/nothing")), 404);
    CHECK_EQUAL(status_of(get("/../etc/passwd")), 404);
    CHECK_EQUAL(status_of(get("/trace?format=exe")), 400);
    CHECK_EQUAL(status_of(get("/trace?ms=0")), 400);
    CHECK_EQUAL(status_of(get("/trace?ms=600001")), 400);
    CHECK_EQUAL(status_of(get("/trace?ms=1e3")), 400);
    CHECK_EQUAL(status_of(get("/trace?ms")), 400);
    CHECK_EQUAL(status_of(get("/trace?ms=1&output=/tmp/x")), 400);
    CHECK_EQUAL(status_of(get("/trace?ms=1&save=/tmp/x")), 400);
    CHECK_EQUAL(status_of(get("/trace?ms=1&crash_report=1")), 400);
    CHECK_EQUAL(status_of(get("/trace?ms=1&mode=stream")), 400);
    CHECK_EQUAL(status_of(get("/trace?ms=1&buffer=1G")), 400);
    CHECK_EQUAL(status_of(get("/trace?ms=1&buffer=%zz")), 400);
    CHECK_EQUAL(status_of(get("/trace?ms=1&%00=1")), 400);
    CHECK_EQUAL(status_of(get("/save?last=-1")), 400);
    CHECK_EQUAL(status_of(get("/save")), 409); /* nothing was recorded */
    CHECK_EQUAL(status_of(get("/summary")), 409);
    r = get("/trace?nonsense=1");
    CHECK_EQUAL(r.status, 400);
    CHECK(strstr(r.body, "nonsense") != NULL);
    free(r.body);
    r = get("/pause");
    CHECK_EQUAL(r.status, 405);
    CHECK(strstr(r.head, "allow: POST\r\n") != NULL);
    free(r.body);
    CHECK_EQUAL(status_of(post("/trace")), 405);
    CHECK_EQUAL(status_of(post("/pause")), 409);
    prof_server_stop();
}

/*-- captures of a program that records nothing --*/

TEST(captures_a_program_that_records_nothing)
{
    prof_config config;
    reply r;
    int file;
    memset(&config, 0, sizeof config);
    if (!start(NULL)) return;
    work("before", 3);
    file = ask_later("/trace?ms=60000&format=csv&buffer=1M");
    CHECK(wait_for_status("\"session\":\"capture\""));
    CHECK_EQUAL(prof_enabled(), 1);
    work("during", 7);
    CHECK_EQUAL(prof_stop(), PROF_INVALID_STATE); /* it is not the program's session */
    CHECK_EQUAL(prof_reset(), PROF_OK);
    work("during", 4);
    config.buffer_size = 1 << 20;
    CHECK_EQUAL(prof_start(&config), PROF_OK); /* the program comes first */
    work("after", 5);
    r = answer_of(file);
    CHECK_EQUAL(r.status, 200);
    CHECK_EQUAL(count(r.body, "during"), 11);
    CHECK_EQUAL(count(r.body, "before"), 0);
    CHECK_EQUAL(count(r.body, "after"), 0);
    CHECK(strstr(r.head, "x-prof-note: the recording ended") != NULL);
    free(r.body);
    r = get("/save?format=csv");
    CHECK_EQUAL(count(r.body, "after"), 5);
    CHECK_EQUAL(count(r.body, "during"), 0);
    free(r.body);
    CHECK_EQUAL(prof_stop(), PROF_OK);
    CHECK_EQUAL(prof_reset(), PROF_OK);
    prof_server_stop();
}

TEST(gives_back_what_a_capture_took)
{
    prof_trace *trace = NULL;
    reply r;
    if (!start(NULL)) return;
    r = get("/trace?ms=1&format=csv&buffer=1M");
    CHECK_EQUAL(r.status, 200);
    free(r.body);
    CHECK_EQUAL(prof_enabled(), 0);
    CHECK_EQUAL(prof_trace_open_live(&trace), PROF_INVALID_STATE);
    prof_server_stop();
}

TEST(captures_at_the_same_time_share_a_session)
{
    int first, second, third;
    reply r;
    if (!start(NULL)) return;
    first = ask_later("/trace?ms=60000&format=csv&buffer=1M");
    CHECK(wait_for_status("\"capturing\":1"));
    work("one", 2);
    second = ask_later("/trace?ms=60000&format=csv&level=9");
    CHECK(wait_for_status("\"capturing\":2"));
    work("two", 3);
    third = ask_later("/trace?ms=60000&format=csv");
    CHECK(wait_for_status("\"capturing\":3"));
    {
        PROFILE_SCOPE_CL("deep", "test", 8); /* the second wanted it, and there is one session */
    }
    close(third); /* nobody waits for it any more */
    CHECK(wait_for_status("\"capturing\":2"));
    CHECK_EQUAL(prof_enabled(), 1);
    prof_server_stop(); /* answers both */
    r = answer_of(first);
    CHECK_EQUAL(r.status, 200);
    CHECK_EQUAL(count(r.body, ",one,"), 2);
    CHECK_EQUAL(count(r.body, ",two,"), 3);
    CHECK_EQUAL(count(r.body, ",deep,"), 1);
    free(r.body);
    r = answer_of(second);
    CHECK_EQUAL(r.status, 200);
    CHECK_EQUAL(count(r.body, ",one,"), 0);
    CHECK_EQUAL(count(r.body, ",two,"), 3);
    CHECK_EQUAL(count(r.body, ",deep,"), 1);
    free(r.body);
    CHECK_EQUAL(prof_enabled(), 0);
}

TEST(a_capture_that_nobody_waits_for_ends)
{
    int file;
    if (!start(NULL)) return;
    file = ask_later("/trace?ms=60000&buffer=1M");
    CHECK(wait_for_status("\"session\":\"capture\""));
    close(file);
    CHECK(wait_for_status("\"session\":\"none\""));
    CHECK_EQUAL(prof_enabled(), 0);
    prof_server_stop();
}

TEST(options_say_how_a_capture_records)
{
    prof_server_options options;
    prof_config capture;
    int file;
    reply r;
    memset(&options, 0, sizeof options);
    memset(&capture, 0, sizeof capture);
    capture.buffer_size = 256 << 10;
    capture.level = 3;
    capture.categories = "-unwanted*";
    const char *never = trace_path("never");
    remove(never);
    capture.output = never; /* does not count */
    options.capture = &capture;
    if (!start(&options)) return;
    file = ask_later("/trace?ms=60000&format=csv");
    CHECK(wait_for_status("\"session\":\"capture\",\"mode\":\"ring\",\"level\":3"));
    {
        PROFILE_SCOPE_CL("unwanted", "unwanted things", 1);
        PROFILE_SCOPE_CL("wanted", "other", 3);
        PROFILE_SCOPE_CL("deep", "other", 4);
    }
    prof_server_stop();
    r = answer_of(file);
    CHECK_EQUAL(count(r.body, "unwanted"), 0);
    CHECK_EQUAL(count(r.body, ",wanted,"), 1);
    CHECK_EQUAL(count(r.body, ",deep,"), 0);
    free(r.body);
    CHECK(access(never, F_OK) != 0);
}

/*-- captures of a program that records --*/

TEST(captures_a_program_that_records)
{
    prof_trace *trace = NULL;
    int file;
    reply r;
    if (!start_recording(PROF_RING) || !start(NULL)) return;
    work("before", 5);
    r = get("/save?format=csv");
    CHECK_EQUAL(r.status, 200);
    CHECK_EQUAL(count(r.body, ",before,"), 5);
    free(r.body);
    r = get("/save?format=csv&last=3600");
    CHECK_EQUAL(count(r.body, ",before,"), 5);
    free(r.body);
    file = ask_later("/trace?ms=60000&format=csv&level=7");
    CHECK(wait_for_status("\"capturing\":1"));
    work("during", 7);
    r = get("/summary");
    CHECK_EQUAL(r.status, 200);
    CHECK_EQUAL(count(r.body, "\nduring "), 1);
    free(r.body);
    CHECK_EQUAL(prof_stop(), PROF_OK); /* the capture is over with it */
    r = answer_of(file);
    CHECK_EQUAL(r.status, 200);
    CHECK_EQUAL(count(r.body, ",before,"), 0);
    CHECK_EQUAL(count(r.body, ",during,"), 7);
    CHECK(strstr(r.head, "x-prof-note: the program already records") != NULL);
    free(r.body);
    CHECK_EQUAL(prof_trace_open_live(&trace), PROF_OK); /* and the recording is as if nobody had asked */
    uint64_t befores = 0, durings = 0;
    for (size_t i = 0; trace && i < prof_trace_track_count(trace); ++i) {
        prof_cursor *cursor;
        prof_event event;
        if (prof_cursor_open(trace, i, &cursor)) continue;
        while (prof_cursor_next(cursor, &event)) {
            befores += !strcmp(event.name, "before");
            durings += !strcmp(event.name, "during");
        }
        prof_cursor_close(cursor);
    }
    CHECK_EQUAL(befores, 5);
    CHECK_EQUAL(durings, 7);
    prof_trace_close(trace);
    prof_reset();
    prof_server_stop();
}

TEST(answers_as_an_image)
{
    prof_trace *trace = NULL;
    reply r;
    int file;
    if (!start_recording(PROF_RING) || !start(NULL)) return;
    work("before", 5);
    file = ask_later("/trace?ms=60000&format=prof");
    CHECK(wait_for_status("\"capturing\":1"));
    work("during", 6);
    prof_server_stop();
    r = answer_of(file);
    CHECK_EQUAL(r.status, 200);
    CHECK(strstr(r.head, "content-disposition: attachment; filename=\"test_server-") != NULL);
    CHECK_EQUAL(prof_trace_open_memory(r.body, r.size, &trace), PROF_OK);
    int befores = 0, durings = 0;
    for (size_t i = 0; trace && i < prof_trace_track_count(trace); ++i) {
        prof_cursor *cursor;
        prof_event event;
        if (prof_cursor_open(trace, i, &cursor)) continue;
        while (prof_cursor_next(cursor, &event)) {
            befores += !strcmp(event.name, "before");
            durings += !strcmp(event.name, "during");
        }
        prof_cursor_close(cursor);
    }
    CHECK_EQUAL(befores, 0);
    CHECK_EQUAL(durings, 6);
    prof_trace_close(trace);
    free(r.body);
    prof_stop();
    prof_reset();
}

TEST(answers_as_json_and_xspace)
{
    reply r;
    if (!start_recording(PROF_RING) || !start(NULL)) return;
    work("something", 3);
    r = get("/save");
    CHECK(strstr(r.head, "content-type: application/json\r\n") != NULL);
    CHECK_EQUAL(count(r.body, "\"something\""), 3);
    free(r.body);
    r = get("/save?format=xplane");
    CHECK_EQUAL(r.status, 200);
    CHECK(r.size > 20 && memmem(r.body, r.size, "/host:CPU", 9) != NULL);
    free(r.body);
    prof_stop();
    prof_reset();
    prof_server_stop();
}

TEST(says_what_a_small_buffer_lacks)
{
    int file;
    reply r;
    if (!start_recording(PROF_RING) || !start(NULL)) return;
    file = ask_later("/trace?ms=60000&format=csv");
    CHECK(wait_for_status("\"capturing\":1"));
    work("many", 100000); /* 1.6 MB of events and their names */
    prof_stop();
    r = answer_of(file);
    CHECK_EQUAL(r.status, 200);
    CHECK(strstr(r.head, "is too small") != NULL);
    free(r.body);
    prof_reset();
    prof_server_stop();
}

TEST(captures_a_stream)
{
    prof_config config;
    prof_trace *trace = NULL;
    reply r;
    int file;
    memset(&config, 0, sizeof config);
    config.mode = PROF_STREAM;
    config.buffer_size = 256 << 10;
    config.output = trace_path("server.prof");
    if (prof_start(&config)) SKIP("build cannot be written");
    if (!start(NULL)) return;
    work("before", 5);
    file = ask_later("/trace?ms=60000&format=csv");
    CHECK(wait_for_status("\"capturing\":1"));
    int batches = (int)trace_times(30, 100, 100);
    for (int i = 0; i < batches; ++i) { /* far more than the buffer holds */
        work("during", 1000);
        pause_ms(2);
    }
    r = get("/save?format=prof");
    CHECK_EQUAL(r.status, 200);
    CHECK_EQUAL(prof_trace_open_memory(r.body, r.size, &trace), PROF_OK);
    CHECK(trace && prof_trace_about(trace)->event_count + prof_trace_about(trace)->lost >= (uint64_t)batches * 1000 + 5);
    prof_trace_close(trace);
    free(r.body);
    prof_stop();
    r = answer_of(file);
    CHECK_EQUAL(r.status, 200);
    CHECK_EQUAL(count(r.body, ",before,"), 0);
    CHECK_EQUAL(prof_trace_open_live(&trace), PROF_OK);
    int lost = 0; /* of this thread: a file that is slow to write may have cost the server's own a scope, too */
    for (size_t i = 0; trace && i < prof_trace_track_count(trace); ++i)
        if (prof_trace_track(trace, i)->thread_id == prof__thread_id()) lost += (int)prof_trace_track(trace, i)->lost;
    CHECK_EQUAL(count(r.body, ",during,") + lost, batches * 1000);
    prof_trace_close(trace);
    free(r.body);
    prof_reset();
    prof_server_stop();
    unlink(trace_path("server.prof"));
}

TEST(statistics_have_no_events)
{
    reply r;
    if (!start_recording(PROF_STATS) || !start(NULL)) return;
    work("counted", 9);
    CHECK_EQUAL(status_of(get("/trace?ms=1")), 409);
    CHECK_EQUAL(status_of(get("/save?format=csv")), 409);
    CHECK_EQUAL(status_of(get("/save?format=prof")), 409);
    r = get("/summary");
    CHECK_EQUAL(r.status, 200);
    CHECK_EQUAL(count(r.body, "\ncounted "), 1);
    CHECK(!strstr(r.head, "x-prof-note"));
    free(r.body);
    r = get("/summary?last=5");
    CHECK_EQUAL(r.status, 200);
    CHECK(strstr(r.head, "x-prof-note: mode stats: these are the statistics since the start\r\n") != NULL);
    free(r.body);
    prof_stop();
    prof_reset();
    prof_server_stop();
}

TEST(a_session_that_has_ended_itself_is_not_captured)
{
    prof_config config;
    reply r;
    memset(&config, 0, sizeof config);
    config.duration_ns = 1000000;
    config.buffer_size = 1 << 20;
    if (prof_start(&config) || !start(NULL)) return;
    CHECK(wait_for_status("\"session\":\"ended\""));
    r = get("/trace?ms=1");
    CHECK_EQUAL(r.status, 409);
    CHECK(strstr(r.body, "/save") != NULL);
    free(r.body);
    CHECK_EQUAL(status_of(get("/save")), 200);
    CHECK_EQUAL(prof_stop(), PROF_OK);
    prof_reset();
    prof_server_stop();
}

TEST(pauses_and_sets_levels)
{
    prof_server_options options;
    memset(&options, 0, sizeof options);
    if (!start_recording(PROF_RING) || !start(NULL)) return;
    CHECK_EQUAL(status_of(post("/resume")), 200); /* it does */
    CHECK_EQUAL(status_of(post("/pause")), 200);
    CHECK_EQUAL(prof_enabled(), 0);
    CHECK_EQUAL(status_of(post("/pause")), 200); /* not twice */
    CHECK_EQUAL(status_of(post("/resume")), 200);
    CHECK_EQUAL(prof_enabled(), 1);
    prof_pause();
    CHECK_EQUAL(status_of(post("/resume")), 409); /* the program's own */
    CHECK_EQUAL(prof_enabled(), 0);
    prof_resume();
    CHECK_EQUAL(status_of(post("/level?level=5")), 200);
    CHECK_EQUAL(prof__state.level, 5);
    CHECK_EQUAL(status_of(post("/level?level=256")), 400);
    CHECK_EQUAL(status_of(post("/level")), 400);
    int file = client();
    CHECK_EQUAL(status_of(ask_on(file, "POST /level HTTP/1.1\r\nHost: localhost\r\nContent-Length: 7\r\n\r\nlevel=4")), 200);
    CHECK_EQUAL(prof__state.level, 4);
    CHECK_EQUAL(status_of(post("/categories?off=audio&off=net%2A&on=network")), 200);
    CHECK(!prof__category_on("audio") && !prof__category_on("nets"));
    CHECK(prof__category_on("network") && prof__category_on("other"));
    CHECK_EQUAL(status_of(post("/categories?on=audio")), 200);
    CHECK(prof__category_on("audio"));
    CHECK_EQUAL(status_of(post("/categories")), 400);
    CHECK_EQUAL(status_of(post("/categories?audio=off")), 400);
    CHECK_EQUAL(status_of(post("/categories?off=0123456789012345678901234567890123456789012345678")), 400);
    CHECK_EQUAL(status_of(get("/categories?off=audio")), 405);
    close(file);
    CHECK_EQUAL(status_of(post("/pause")), 200);
    CHECK_EQUAL(prof_enabled(), 0);
    prof_server_stop(); /* who paused cannot resume any more */
    CHECK_EQUAL(prof_enabled(), 1);
    options.read_only = 1;
    if (!start(&options)) return;
    CHECK_EQUAL(status_of(post("/pause")), 403);
    CHECK_EQUAL(prof_enabled(), 1);
    prof_server_stop();
    prof_stop();
    prof_reset();
}

/*-- recordings of clients, as MXNet's profile_process='server' --*/

static int lines_of(const char *target, const char *word, int *status)
{
    reply r = post(target);
    int n = count(r.body, word);
    *status = r.status;
    free(r.body);
    return n;
}

TEST(records_from_start_to_stop)
{
    int status;
    reply r;
    if (!start(NULL)) return;
    if (trace_times(1, 0, 0)) CHECK_EQUAL(status_of(post("/config?buffer=1M")), 200); /* not the 64 MB of one that is asked for */
    CHECK_EQUAL(status_of(post("/stop")), 409);
    CHECK_EQUAL(status_of(post("/dump")), 409);
    CHECK_EQUAL(status_of(get("/start")), 405);
    CHECK_EQUAL(status_of(post("/start?level=2")), 400);
    work("before", 2);
    CHECK_EQUAL(status_of(post("/start")), 200);
    CHECK_EQUAL(prof_enabled(), 1);
    CHECK_EQUAL(status_of(post("/start")), 200); /* it does */
    CHECK(wait_for_status("\"started\":true"));
    work("during", 3);
    CHECK_EQUAL(lines_of("/dump?format=csv&finished=0", "during", &status), 3);
    CHECK_EQUAL(status, 200);
    CHECK_EQUAL(prof_enabled(), 1); /* so far, and goes on */
    CHECK_EQUAL(status_of(post("/pause")), 200);
    CHECK_EQUAL(prof_enabled(), 0);
    work("paused", 4);
    CHECK_EQUAL(status_of(post("/resume")), 200);
    CHECK_EQUAL(status_of(post("/level?level=0")), 200);
    work("off", 4);
    CHECK_EQUAL(status_of(post("/level?level=2")), 200);
    work("during", 4);
    CHECK_EQUAL(status_of(post("/stop")), 200);
    CHECK_EQUAL(prof_enabled(), 0);
    CHECK_EQUAL(status_of(post("/pause")), 409);
    CHECK_EQUAL(status_of(post("/stop")), 200); /* it has */
    work("after", 5);
    CHECK_EQUAL(lines_of("/dump?format=csv&finished=False", "during", &status), 7);
    r = post("/dump?format=csv");
    CHECK_EQUAL(r.status, 200);
    CHECK_EQUAL(count(r.body, "during"), 7);
    CHECK_EQUAL(count(r.body, "before") + count(r.body, "after") + count(r.body, "paused") + count(r.body, "off"), 0);
    free(r.body);
    CHECK_EQUAL(status_of(post("/dump")), 409); /* once */
    CHECK_EQUAL(status_of(post("/stop")), 409);
    /* without a stop in between, twice; as an image */
    for (int i = 0; i < 2; ++i) {
        prof_trace *trace = NULL;
        CHECK_EQUAL(status_of(post("/start")), 200);
        work("again", 6);
        r = post("/dump?format=prof");
        CHECK_EQUAL(r.status, 200);
        CHECK_EQUAL(prof_enabled(), 0);
        CHECK_EQUAL(prof_trace_open_memory(r.body, r.size, &trace), PROF_OK);
        if (trace) CHECK(prof_trace_about(trace)->event_count >= 6);
        prof_trace_close(trace);
        free(r.body);
    }
    /* nothing of it stays behind */
    CHECK_EQUAL(status_of(post("/start")), 200);
    prof_server_stop();
    CHECK_EQUAL(prof_enabled(), 0);
    CHECK_EQUAL(prof__on_demand == NULL, 1);
    if (!start(NULL)) return;
    CHECK_EQUAL(status_of(post("/dump")), 409);
    CHECK_EQUAL(status_of(post("/start")), 200);
    CHECK_EQUAL(status_of(post("/stop")), 200); /* not asked for any more */
    prof_server_stop();
}

TEST(config_is_for_the_recordings_that_follow)
{
    int status;
    reply r;
    if (!start(NULL)) return;
    r = post("/config?filename=/tmp/x.json");
    CHECK_EQUAL(r.status, 400);
    CHECK(strstr(r.body, "clients cannot set") != NULL);
    free(r.body);
    CHECK_EQUAL(status_of(post("/config?output=x")), 400);
    CHECK_EQUAL(status_of(post("/config?save=x")), 400);
    CHECK_EQUAL(status_of(post("/config?buffer=1G")), 400);
    CHECK_EQUAL(status_of(post("/config?mode=stream")), 400);
    CHECK_EQUAL(status_of(post("/config?bufer=1M")), 400);
    CHECK_EQUAL(status_of(post("/config?dump_period=1")), 400);
    static const char *const counting[] = {"aggregate_stats=True", "profilerEnabled=1"}; /* each says which key it was */
    for (size_t i = 0; i < sizeof counting / sizeof *counting; ++i) {
        char target[80], key[32];
        snprintf(target, sizeof target, "/config?buffer=1M&%s", counting[i]);
        snprintf(key, sizeof key, "%.*s '", (int)strcspn(counting[i], "="), counting[i]);
        r = post(target);
        CHECK_EQUAL(r.status, 400);
        CHECK(strstr(r.body, key) != NULL && strstr(r.body, "mode") == NULL);
        free(r.body);
    }
    CHECK_EQUAL(status_of(post("/config?aggregate_stats=False")), 200);
    CHECK_EQUAL(status_of(post("/config?profile_all=True&buffer=1M&level=3&categories=loader")), 200);
    CHECK_EQUAL(status_of(post("/config?buffer=1M&categories=net,-audio")), 200); /* all of it, anew */
    CHECK_EQUAL(prof_enabled(), 0);
    CHECK_EQUAL(status_of(post("/start")), 200);
    CHECK_EQUAL(prof__state.level, 2);
    CHECK(prof__session_status_now().buffer <= 1 << 20); /* not 64 MiB */
    { PROFILE_SCOPE_C("sent", "net"); }
    { PROFILE_SCOPE_C("heard", "audio"); }
    CHECK_EQUAL(lines_of("/dump?format=csv&finished=0", "sent", &status), 1);
    CHECK_EQUAL(lines_of("/dump?format=csv&finished=1", "heard", &status), 0);
    CHECK_EQUAL(status, 200);
    CHECK_EQUAL(status_of(post("/dump?finished=maybe")), 400);
    CHECK_EQUAL(status_of(post("/start")), 200); /* the next one likewise, until a /config without a key */
    CHECK(prof__session_status_now().buffer <= 1 << 20);
    CHECK_EQUAL(status_of(post("/stop")), 200);
    CHECK_EQUAL(status_of(post("/config")), 200);
    CHECK_EQUAL(status_of(post("/start")), 200);
    CHECK(prof__session_status_now().buffer > 1 << 20);
    prof_server_stop();
}

/* The program comes first. */
TEST(a_client_stops_no_recording_of_the_program)
{
    prof_config config;
    prof_server_options options;
    int status;
    memset(&config, 0, sizeof config);
    config.buffer_size = 1 << 20;
    if (!start(NULL)) return;
    CHECK_EQUAL(status_of(post("/start")), 200);
    work("theirs", 3);
    CHECK_EQUAL(prof_start(&config), PROF_OK); /* while a client's recording runs: that ends, and waits for /dump */
    work("own", 4);
    CHECK_EQUAL(lines_of("/dump?format=csv&finished=0", "theirs", &status), 3);
    CHECK_EQUAL(status_of(post("/stop")), 200);
    CHECK_EQUAL(prof_enabled(), 1);
    CHECK_EQUAL(lines_of("/dump?format=csv", "theirs", &status), 3);
    CHECK_EQUAL(status, 200);
    CHECK_EQUAL(status_of(post("/stop")), 409);
    CHECK_EQUAL(status_of(post("/start")), 200); /* it records already */
    CHECK_EQUAL(lines_of("/dump?format=csv", "own", &status), 4); /* as /save */
    CHECK_EQUAL(prof_enabled(), 1);
    CHECK_EQUAL(prof_stop(), PROF_OK);
    CHECK_EQUAL(prof_reset(), PROF_OK);
    prof_server_stop();
    memset(&options, 0, sizeof options);
    options.read_only = 1;
    if (!start(&options)) return;
    CHECK_EQUAL(status_of(post("/start")), 403);
    CHECK_EQUAL(status_of(post("/config?level=2")), 403);
    CHECK_EQUAL(status_of(post("/categories?off=audio")), 403);
    CHECK_EQUAL(status_of(post("/dump")), 403);
    prof_server_stop();
    options.read_only = 0;
    options.token = "secret";
    if (!start(&options)) return;
    CHECK_EQUAL(status_of(post("/start")), 401);
    CHECK_EQUAL(prof_enabled(), 0);
    prof_server_stop();
}

/*-- who may ask --*/

TEST(wants_its_token)
{
    static const struct {
        const char *line;
        int status;
    } cases[] = {{"", 401},
                 {"Authorization: Bearer secret-token\r\n", 200},
                 {"authorization: bearer secret-token\r\n", 200},
                 {"Authorization: Bearer secret-toke\r\n", 401},
                 {"Authorization: Bearer secret-tokenx\r\n", 401},
                 {"Authorization: Bearer \r\n", 401},
                 {"Authorization: Bearer\r\n", 401},
                 {"Authorization: Bearer secret-tokensecret-token\r\n", 401},
                 {"Authorization: Basic secret-token\r\n", 401},
                 {"Authorization: Basic bWU6c2VjcmV0LXRva2Vu\r\n", 200}, /* me:secret-token */
                 {"Authorization: Basic OnNlY3JldC10b2tlbg==\r\n", 200}, /* :secret-token */
                 {"Authorization: Basic bWU6c2VjcmV0LXRva2V4\r\n", 401}, /* me:secret-tokex */
                 {"Authorization: Basic c2VjcmV0LXRva2Vu\r\n", 401},     /* secret-token */
                 {"Authorization: Basic bWU6\r\n", 401},
                 {"Authorization: Basic \r\n", 401},
                 {"Authorization: Bearer secret-token\r\nOrigin: http://evil.example\r\n", 403}};
    prof_server_options options;
    memset(&options, 0, sizeof options);
    options.token = "secret-token";
    if (!start(&options)) return;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        int file = client();
        reply r = ask_on(file, "GET /status HTTP/1.1\r\nHost: any.example\r\n%s\r\n", cases[i].line);
        CHECK_EQUAL(r.status, cases[i].status);
        if (r.status == 401) CHECK(strstr(r.head, "www-authenticate: Bearer\r\n") != NULL);
        if (r.status != cases[i].status) printf("%s", cases[i].line);
        free(r.body);
        close(file);
    }
    prof_server_stop();
}

TEST(keeps_web_pages_out)
{
    static const struct {
        const char *lines;
        int status;
    } cases[] = {{"Host: localhost\r\n", 200},
                 {"Host: localhost:9012\r\n", 200},
                 {"Host: LOCALHOST\r\n", 200},
                 {"Host: 127.0.0.1:1\r\n", 200},
                 {"Host: 127.1.2.3\r\n", 200},
                 {"Host: [::1]\r\n", 200},
                 {"Host: [::1]:80\r\n", 200},
                 {"Host: my.localhost\r\n", 200},
                 {"Host: evil.example\r\n", 403},
                 {"Host: localhost.evil.example\r\n", 403},
                 {"Host: evillocalhost\r\n", 403},
                 {"Host: 127.0.0.1.evil.example\r\n", 403},
                 {"Host: 127.evil.example.1\r\n", 403},
                 {"Host: localhost.\r\n", 403},
                 {"Host: 192.168.1.1\r\n", 403},
                 {"Host: [::1]x\r\n", 403},
                 {"Host: [::2]\r\n", 403},
                 {"Host: localhost:80@evil\r\n", 403},
                 {"Host: localhost\r\nOrigin: http://localhost\r\n", 200},
                 {"Host: localhost:5\r\nOrigin: http://localhost:5\r\n", 200},
                 {"Host: localhost\r\nOrigin: http://localhost:8080\r\n", 403},
                 {"Host: localhost\r\nOrigin: https://localhost\r\n", 403},
                 {"Host: localhost\r\nOrigin: null\r\n", 403},
                 {"Host: localhost\r\nOrigin: http://evil.example\r\n", 403},
                 {"Host: localhost\r\nSec-Fetch-Site: none\r\n", 200},
                 {"Host: localhost\r\nSec-Fetch-Site: same-origin\r\n", 200},
                 {"Host: localhost\r\nSec-Fetch-Site: same-site\r\n", 403},
                 {"Host: localhost\r\nSec-Fetch-Site: cross-site\r\n", 403}};
    if (!start(NULL)) return;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        int file = client();
        int status = status_of(ask_on(file, "GET /status HTTP/1.1\r\n%s\r\n", cases[i].lines));
        CHECK_EQUAL(status, cases[i].status);
        if (status != cases[i].status) printf("%s", cases[i].lines);
        close(file);
    }
    prof_server_stop();
}

/* Of two fields that decide whether a request is obeyed, neither is believed: programs between a browser and the server
   differ about which one counts. */
TEST(a_field_that_decides_comes_once)
{
    static const char *const lines[] = {
        "Origin: http://evil.example\r\nOrigin: http://localhost",
        "Origin: http://localhost\r\norigin: http://evil.example",
        "Origin:\r\nOrigin: http://localhost", "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Site: none",
        "sec-fetch-site: none\r\nX: y\r\nSEC-FETCH-SITE: none",
        "Authorization: Bearer x\r\nAuthorization: Bearer token",
        "Authorization: Bearer token\r\nAuthorization: Basic Zm9vOnRva2Vu", "Host: localhost", "Host: evil.example",
        "Content-Length: 0\r\nContent-Length: 0", "Content-Type: text/plain\r\nContent-Type: application/grpc"};
    static prof_server_options with_token;
    with_token.token = "token";
    for (int token = 0; token < 2; ++token) {
        if (!start(token ? &with_token : NULL)) return;
        for (size_t i = 0; i < sizeof lines / sizeof *lines; ++i) {
            int file = client();
            reply r = ask_on(file,
                             "POST /pause HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n%s\r\n%s\r\n", lines[i],
                             strstr(lines[i], "Content-Length") ? "" : "Content-Length: 0\r\n");
            CHECK_EQUAL(r.status, 400);
            CHECK(r.body && strstr(r.body, " came more than once") != NULL);
            if (r.status != 400) printf("%s\n", lines[i]);
            CHECK(is_closed(file));
            free(r.body);
            close(file);
        }
        int file = client(); /* that of the start line counts, and there is one field */
        reply r = ask_on(file, "GET http://localhost/status HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer token\r\n"
                               "Accept: text/html\r\nAccept: */*\r\n\r\n");
        CHECK_EQUAL(r.status, 200);
        free(r.body);
        close(file);
        prof_server_stop();
    }
}

/*-- HTTP/1, well and badly spoken --*/

TEST(answers_request_after_request)
{
    static const char twice[] = "GET /status HTTP/1.1\r\nHost: localhost\r\n\r\nGET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n";
    static const char slowly[] = "\r\nGET http://localhost/status?x HTTP/1.1\nHost: localhost\nX-Long:   a b \n\n";
    int file;
    reply r;
    if (!start(NULL)) return;
    file = client();
    send_text(file, twice);
    CHECK_EQUAL(status_of(read_reply(file)), 200);
    CHECK_EQUAL(status_of(read_reply(file)), 404);
    for (size_t i = 0; i < sizeof slowly - 1; ++i) send_bytes(file, slowly + i, 1);
    CHECK_EQUAL(status_of(read_reply(file)), 400); /* ?x */
    r = ask_on(file, "GET /status HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    CHECK_EQUAL(r.status, 200);
    CHECK(strstr(r.head, "connection: close\r\n") != NULL);
    free(r.body);
    CHECK(is_closed(file));
    close(file);
    file = client();
    CHECK_EQUAL(status_of(ask_on(file, "GET /status HTTP/1.0\r\n\r\n")), 200);
    CHECK(is_closed(file));
    close(file);
    file = client(); /* has said everything, and waits */
    send_text(file, "GET /status HTTP/1.1\r\nHost: localhost\r\n\r\n");
    shutdown(file, SHUT_WR);
    CHECK_EQUAL(status_of(read_reply(file)), 200);
    CHECK(is_closed(file));
    close(file);
    prof_server_stop();
}

/* Twelve at once: eight are answered, and the last of these says that the connection closes. */
/* The answer to HEAD has no body: a client would take that for the next answer. */
TEST(answers_head_without_a_body)
{
    static const char twice[] =
        "HEAD /status HTTP/1.1\r\nHost: localhost\r\n\r\n"
        "GET /nothing HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    static char all[8192];
    if (!start(NULL)) return;
    int file = client();
    send_text(file, twice);
    size_t size = receive(file, all, sizeof all - 1);
    all[size] = 0;
    CHECK(!strncmp(all, "HTTP/1.1 405 ", 13));
    CHECK(strstr(all, "allow: GET\r\n") != NULL);
    const char *end = strstr(all, "\r\n\r\n");
    CHECK(end && !strncmp(end + 4, "HTTP/1.1 404 ", 13));
    close(file);
    prof_server_stop();
}

TEST(few_requests_come_without_waiting)
{
    char text[1024] = "";
    int file;
    if (!start(NULL)) return;
    for (int i = 0; i < 12; ++i) strcat(text, "GET /status HTTP/1.1\r\nHost: localhost\r\n\r\n");
    file = client();
    send_text(file, text);
    for (int i = 0; i < PROF__SERVER_AHEAD; ++i) {
        reply r = read_reply(file);
        CHECK_EQUAL(r.status, 200);
        CHECK_EQUAL(strstr(r.head, "connection: close\r\n") != NULL, i == PROF__SERVER_AHEAD - 1);
        free(r.body);
    }
    CHECK(is_closed(file));
    close(file);
    file = client(); /* who waits may go on */
    for (int i = 0; i < 20; ++i)
        CHECK_EQUAL(status_of(ask_on(file, "GET /status HTTP/1.1\r\nHost: localhost\r\n\r\n")), 200);
    close(file);
    prof_server_stop();
}

TEST(survives_what_is_no_request)
{
    static const struct {
        const char *text;
        int status;
    } cases[] = {{"GET\r\n\r\n", 400},
                 {"GET /\r\n\r\n", 400},
                 {"GET / HTTP/2.0\r\nHost: localhost\r\n\r\n", 505},
                 {"GET / HTTQ/1.1\r\nHost: localhost\r\n\r\n", 400},
                 {"GET / HTTP/1.1\r\n\r\n", 400},
                 {"GET / HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n", 400},
                 {"GET / HTTP/1.1\r\nHost : localhost\r\n\r\n", 400},
                 {"GET / HTTP/1.1\r\nHost: localhost\r\n folded\r\n\r\n", 400},
                 {"GET / HTTP/1.1\r\nHost: localhost\r\n: empty\r\n\r\n", 400},
                 {"GET / HTTP/1.1\r\nHost: localhost\r\nno colon\r\n\r\n", 400},
                 {"GET / HTTP/1.1\r\nHost: local\001host\r\n\r\n", 400},
                 {"GET  / HTTP/1.1\r\nHost: localhost\r\n\r\n", 400},
                 {"ABCDEFGHIJKLMNOPQRSTUVWXYZ / HTTP/1.1\r\nHost: localhost\r\n\r\n", 400},
                 {"POST /pause HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n", 400},
                 {"POST /pause HTTP/1.1\r\nHost: localhost\r\nContent-Length: \r\n\r\n", 400},
                 {"POST /pause HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1x\r\n\r\n", 400},
                 {"POST /pause HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400},
                 {"POST /pause HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999999999999\r\n\r\n", 413},
                 {"POST /pause HTTP/1.1\r\nHost: localhost\r\nContent-Length: 65537\r\n\r\n", 413},
                 {"POST /pause HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 501},
                 {"BREW /status HTTP/1.1\r\nHost: localhost\r\n\r\n", 405},
                 {"\026\003\001\002\001", -1}, /* TLS; closed without an answer when the client goes */
                 {"PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n", 505}};
    char *large;
    if (!start(NULL)) return;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        int file = client();
        send_text(file, cases[i].text);
        if (cases[i].status < 0) shutdown(file, SHUT_WR);
        int status = status_of(read_reply(file));
        CHECK_EQUAL(status, cases[i].status < 0 ? 0 : cases[i].status);
        if (status != cases[i].status && cases[i].status >= 0) printf("%s", cases[i].text);
        if (status != 405) CHECK(is_closed(file));
        close(file);
    }
    large = (char *)malloc(40001);
    memset(large, 'a', 40000);
    large[40000] = 0;
    for (int i = 0; i < 3; ++i) {
        int file = client();
        send_text(file, i == 0 ? "" : i == 1 ? "GET /" : "GET / HTTP/1.1\r\nHost: localhost\r\nX: ");
        send_text(file, large);
        int status = status_of(read_reply(file));
        CHECK(status == 431 || status == 0); /* or reset, because not all was read */
        close(file);
    }
    large[3000] = 0;
    int file = client();
    CHECK_EQUAL(status_of(ask_on(file, "GET /?%s HTTP/1.1\r\nHost: localhost\r\n\r\n", large)), 414);
    close(file);
    free(large);
    CHECK_EQUAL(status_of(get("/status")), 200);
    prof_server_stop();
}

TEST(silent_clients_keep_nobody_out)
{
    int files[60];
    if (!start(NULL)) return;
    for (int i = 0; i < 60; ++i) {
        files[i] = client();
        if (i % 3) send_text(files[i], i % 3 == 1 ? "GET /status HT" : "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
        if (i % 20 == 19) CHECK_EQUAL(status_of(get("/status")), 200);
    }
    CHECK_EQUAL(status_of(get("/status")), 200);
    CHECK(is_closed(files[1])); /* the oldest had to go */
    for (int i = 0; i < 60; ++i) close(files[i]);
    prof_server_stop();
}

/* The loop's own functions, without a thread: clocks are moved by hand. */
TEST(patience_ends)
{
    prof__server *v = &prof__server_state;
    prof_server_options none;
    static const struct {
        const char *said;
        uint64_t seconds; /* after which it is too late; before that it is not */
        const char *answer;
    } cases[] = {{"", 10, ""},
                 {"GET /st", 10, "HTTP/1.1 408 "},
                 {"POST /pause HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nabc", 10, "HTTP/1.1 408 "},
                 {"GET /status HTTP/1.1\r\nHost: localhost\r\n\r\n", 300, "HTTP/1.1 200 "}};
    memset(&none, 0, sizeof none);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        int ends[2];
        char answer[4096];
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends)) return;
        prof__server_reset(v);
        CHECK_EQUAL(prof__server_configure(v, &none), PROF_OK);
        prof__server_client *c = v->clients[0] = (prof__server_client *)calloc(1, sizeof *c);
        c->file = ends[0];
        c->since = c->partial_since = prof__monotonic();
        send_text(ends[1], cases[i].said);
        if (cases[i].said[0]) prof__server_hear(v, 0);
        prof__server_round(v);
        CHECK(v->clients[0] != NULL);
        if (!v->clients[0]) continue;
        uint64_t patient = cases[i].seconds * 1000000000u;
        CHECK_EQUAL(prof__server_patience_ends(c), (c->partial_since ? c->partial_since : c->since) + patient);
        c->since -= patient;
        if (c->partial_since) c->partial_since -= patient;
        prof__server_round(v);
        CHECK(v->clients[0] == NULL);
        ssize_t n = recv(ends[1], answer, sizeof answer - 1, 0);
        answer[n > 0 ? n : 0] = 0;
        CHECK(!strncmp(answer, cases[i].answer, strlen(cases[i].answer)));
        close(ends[1]);
        if (v->clients[0]) prof__server_close(v, 0);
    }
    prof__server_reset(v);
}

/* The server's state with one client, which has asked for target; the test does what its thread does. The client's end of
   the connection is ends[1]. */
static prof__server_client *asked_by_hand(const char *target, int *ends)
{
    prof__server *v = &prof__server_state;
    prof_server_options none;
    char request[256];
    memset(&none, 0, sizeof none);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends)) return NULL;
    prof__server_reset(v);
    CHECK_EQUAL(prof__server_configure(v, &none), PROF_OK);
    prof__server_client *c = v->clients[0] = (prof__server_client *)calloc(1, sizeof *c);
    c->file = ends[0];
    c->since = prof__monotonic();
    snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n", target);
    send_text(ends[1], request);
    prof__server_hear(v, 0);
    prof__server_round(v); /* reads it; what it asks for has its turn in the next one */
    return c;
}

/* However long the server's thread waits for its processor meanwhile. */
TEST(a_capture_of_a_recording_lasts_as_long_as_was_asked_for)
{
    prof__server *v = &prof__server_state;
    int ends[2];
    if (!start_recording(PROF_RING)) return;
    prof__server_client *c = asked_by_hand("/trace?ms=60000", ends);
    if (!c) return;
    prof__server_round(v);
    CHECK_EQUAL(c->asks[0].phase, PROF__ASK_CAPTURE);
    CHECK_EQUAL(c->asks[0].capture.end_at - c->asks[0].capture.from, 60000000000);
    prof__server_close(v, 0);
    close(ends[1]);
    prof__server_reset(v);
    prof_stop();
    prof_reset();
}

/* Sends until the socket takes no more: on a slow machine a turn may be over before that. */
static void rounds_until_full(prof__server *v, const prof__server_client *c)
{
    uint64_t before = UINT64_MAX;
    for (int i = 0; i < 100 && (!c->out_size || c->asks[0].taken != before); ++i) {
        before = c->asks[0].taken;
        prof__server_round(v);
    }
}

/* An answer that nobody takes. half_closed: 1: the client has closed its side, as nc does after its request: that gives it no less
   time. */
static void run_out_of_patience(int half_closed)
{
    prof__server *v = &prof__server_state;
    int ends[2];
    if (!start_recording(PROF_RING)) return;
    work("much", 20000);
    prof__server_client *c = asked_by_hand("/save", ends);
    if (!c) return;
    prof__server_round(v);
    CHECK_EQUAL(c->asks[0].phase, PROF__ASK_ANSWER);
    rounds_until_full(v, c);
    CHECK(c->asks[0].taken > 0 && c->out_size > 0); /* more than the socket takes at once */
    if (half_closed) {
        shutdown(ends[1], SHUT_WR);
        prof__server_hear(v, 0);
        prof__server_round(v);
        CHECK(c->closing);
    }
    uint64_t earned = c->asks[0].taken / PROF__SERVER_RATE * 1000000000u;
    CHECK_EQUAL(prof__server_patience_ends(c), c->asks[0].since + PROF__SERVER_ANSWER_NS + earned);
    prof__server_round(v);
    CHECK(v->clients[0] != NULL);
    c->asks[0].since -= PROF__SERVER_ANSWER_NS + earned;
    prof__server_round(v);
    CHECK(v->clients[0] == NULL);
    CHECK_EQUAL(v->answers, 0);
    close(ends[1]);
    prof__server_reset(v);
    prof_stop();
    prof_reset();
}

TEST(patience_ends_with_an_answer)
{
    run_out_of_patience(0);
    run_out_of_patience(1);
}

TEST(waits_until_there_are_descriptors)
{
    struct rlimit before, less;
    int file;
    if (!start(NULL) || getrlimit(RLIMIT_NOFILE, &before)) return;
    CHECK_EQUAL(status_of(get("/status")), 200);
    CHECK(wait_for_status("\"clients\":1"));
    file = client();
    CHECK_EQUAL(status_of(ask_on(file, "GET /status HTTP/1.1\r\nHost: localhost\r\n\r\n")), 200);
    int other = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    prof__server_address to;
    socklen_t size;
    prof__server_address_of("127.0.0.1", prof_server_port(), &to, &size);
    less = before;
    less.rlim_cur = (rlim_t)other + 1; /* the lowest that was free; with less, poll() would refuse those that are open */
    setrlimit(RLIMIT_NOFILE, &less);
    CHECK_EQUAL(connect(other, &to.any, size), 0); /* by the system; the server cannot take it */
    CHECK_EQUAL(status_of(ask_on(file, "GET /status HTTP/1.1\r\nHost: localhost\r\n\r\n")), 200);
    setrlimit(RLIMIT_NOFILE, &before);
    CHECK_EQUAL(status_of(ask_on(other, "GET /status HTTP/1.1\r\nHost: localhost\r\n\r\n")), 200);
    close(file);
    close(other);
    prof_server_stop();
}

TEST(a_large_answer_arrives_whole)
{
    prof_config config;
    reply r;
    memset(&config, 0, sizeof config);
    config.buffer_size = 32 << 20;
    if (prof_start(&config) || !start(NULL)) return;
    int scopes = (int)trace_times(120000, 200000, 200000); /* more than the system's buffers take */
    for (int i = 0; i < scopes; ++i) {
        PROFILE_SCOPE("one of many");
    }
    int file = ask_later("/save"); /* somebody else is served while this one reads slowly */
    CHECK_EQUAL(status_of(get("/status")), 200);
    r = answer_of(file);
    CHECK_EQUAL(r.status, 200);
    CHECK(r.size > (size_t)scopes * 100);
    CHECK_EQUAL(count(r.body, "\"one of many\""), scopes);
    free(r.body);
    prof_stop();
    prof_reset();
    prof_server_stop();
}

/* Two seconds without a byte, 20 in all, from when the answers are made. */
TEST(patience_ends_when_the_server_stops)
{
    prof__server *v = &prof__server_state;
    int ends[2];
    char bytes[4096];
    if (!start_recording(PROF_RING)) return;
    work("much", 20000);
    prof__server_client *c = asked_by_hand("/save", ends);
    if (!c) return;
    prof__server_stop_listening(v);
    v->leave_at = 1; /* making the answer took longer */
    prof__server_round(v);
    rounds_until_full(v, c);
    CHECK(c->asks[0].taken > 0 && c->out_size > 0);
    CHECK_EQUAL(prof__server_goes(v), 0);
    v->leave_at = 1;
    prof__server_round(v);
    CHECK_EQUAL(prof__server_goes(v), 1);
    while (recv(ends[1], bytes, sizeof bytes, 0) > 0) continue;
    prof__server_round(v);
    CHECK_EQUAL(prof__server_goes(v), 0);
    v->left_at = 1;
    CHECK_EQUAL(prof__server_goes(v), 1);
    prof__server_close(v, 0);
    close(ends[1]);
    prof__server_reset(v);
    prof_stop();
    prof_reset();
}

typedef struct slow_reader {
    int file;
    uint32_t begun;
    size_t size, got; /* as the head says; as came behind it */
} slow_reader;

static void *read_slowly(void *user)
{
    slow_reader *reader = (slow_reader *)user;
    size_t piece = 1 << 20, n;
    char *bytes = (char *)malloc(piece + 1), *body;
    bytes[n = receive(reader->file, bytes, piece)] = 0;
    body = strstr(bytes, "\r\n\r\n") + 4;
    reader->size = (size_t)strtoull(strstr(bytes, "content-length: ") + 16, NULL, 10);
    reader->got = n - (size_t)(body - bytes);
    PROF__RELEASE(&reader->begun, 1u);
    for (int i = 0; n; ++i) {
        if (i < 12) pause_ms(250);
        n = receive(reader->file, bytes, piece);
        reader->got += n;
    }
    free(bytes);
    return NULL;
}

/* A client that takes 3 s for an answer gets all of it from a server that stops. */
TEST(the_end_waits_for_who_reads_slowly)
{
    prof_config config;
    slow_reader reader;
    pthread_t thread;
    memset(&config, 0, sizeof config);
    memset(&reader, 0, sizeof reader);
    config.buffer_size = 32 << 20;
    if (prof_start(&config) || !start(NULL)) return;
    int scopes = (int)trace_times(150000, 300000, 300000);
    for (int i = 0; i < scopes; ++i) {
        PROFILE_SCOPE("one of many");
    }
    reader.file = ask_later("/save");
    pthread_create(&thread, NULL, read_slowly, &reader);
    WAIT_UNTIL(PROF__ACQUIRE(&reader.begun));
    prof_server_stop();
    pthread_join(thread, NULL);
    CHECK(reader.size > (size_t)scopes * 67);
    CHECK_EQUAL(reader.got, reader.size);
    close(reader.file);
    prof_stop();
    prof_reset();
}

TEST(an_answer_too_large_is_refused)
{
    prof_server_options options;
    reply r;
    memset(&options, 0, sizeof options);
    options.max_answer = 1 << 20;
    if (!start_recording(PROF_RING) || !start(&options)) return;
    for (int i = 0; i < 30000; ++i) {
        PROFILE_SCOPE("one of many");
    }
    r = get("/save");
    CHECK_EQUAL(r.status, 503);
    CHECK(strstr(r.body, "max_answer") != NULL);
    free(r.body);
    CHECK_EQUAL(status_of(get("/summary")), 200);
    CHECK_EQUAL(status_of(get("/save")), 503);
    prof_stop();
    prof_reset();
    prof_server_stop();
}

/*-- HPACK: appendix C of RFC 7541 --*/

typedef struct fields {
    char text[2048];
    size_t used;
} fields;

static void add_field(void *user, const char *name, size_t name_size, const char *value, size_t size)
{
    fields *all = (fields *)user;
    int n = snprintf(all->text + all->used, sizeof all->text - all->used, "%.*s: %.*s\n", (int)name_size, name, (int)size, value);
    if (n > 0 && all->used + (size_t)n < sizeof all->text) all->used += (size_t)n;
}

static size_t unhex(const char *text, unsigned char *to)
{
    size_t n = 0;
    unsigned byte;
    for (; sscanf(text, "%2x", &byte) == 1; text += 2) to[n++] = (unsigned char)byte;
    return n;
}

typedef struct block {
    const char *hex, *fields;
    size_t table; /* its size afterwards */
} block;

#define SET_COOKIE "set-cookie: foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1\n"
static const block without_huffman[] = {
    {"828684410f7777772e6578616d706c652e636f6d", ":method: GET\n:scheme: http\n:path: /\n:authority: www.example.com\n", 57},
    {"828684be58086e6f2d6361636865",
     ":method: GET\n:scheme: http\n:path: /\n:authority: www.example.com\ncache-control: no-cache\n", 110},
    {"828785bf400a637573746f6d2d6b65790c637573746f6d2d76616c7565",
     ":method: GET\n:scheme: https\n:path: /index.html\n:authority: www.example.com\ncustom-key: custom-value\n", 164}};
static const block with_huffman[] = {
    {"828684418cf1e3c2e5f23a6ba0ab90f4ff", ":method: GET\n:scheme: http\n:path: /\n:authority: www.example.com\n", 57},
    {"828684be5886a8eb10649cbf",
     ":method: GET\n:scheme: http\n:path: /\n:authority: www.example.com\ncache-control: no-cache\n", 110},
    {"828785bf408825a849e95ba97d7f8925a849e95bb8e8b4bf",
     ":method: GET\n:scheme: https\n:path: /index.html\n:authority: www.example.com\ncustom-key: custom-value\n", 164}};
static const block evicting[] = {
    {"4803333032580770726976617465611d4d6f6e2c203231204f637420323031332032303a31333a323120474d546e1768747470733a2f2f7777772e657861"
     "6d706c652e636f6d",
     ":status: 302\ncache-control: private\ndate: Mon, 21 Oct 2013 20:13:21 GMT\nlocation: https://www.example.com\n", 222},
    {"4803333037c1c0bf",
     ":status: 307\ncache-control: private\ndate: Mon, 21 Oct 2013 20:13:21 GMT\nlocation: https://www.example.com\n", 222},
    {"88c1611d4d6f6e2c203231204f637420323031332032303a31333a323220474d54c05a04677a69707738666f6f3d4153444a4b48514b425a584f5157454f"
     "50495541585157454f49553b206d61782d6167653d333630303b2076657273696f6e3d31",
     ":status: 200\ncache-control: private\ndate: Mon, 21 Oct 2013 20:13:22 GMT\nlocation: https://www.example.com\n"
     "content-encoding: gzip\n" SET_COOKIE, 215}};
static const block evicting_huffman[] = {
    {"488264025885aec3771a4b6196d07abe941054d444a8200595040b8166e082a62d1bff6e919d29ad171863c78f0b97c8e9ae82ae43d3",
     ":status: 302\ncache-control: private\ndate: Mon, 21 Oct 2013 20:13:21 GMT\nlocation: https://www.example.com\n", 222},
    {"4883640effc1c0bf",
     ":status: 307\ncache-control: private\ndate: Mon, 21 Oct 2013 20:13:21 GMT\nlocation: https://www.example.com\n", 222},
    {"88c16196d07abe941054d444a8200595040b8166e084a62d1bffc05a839bd9ab77ad94e7821dd7f2e6c7b335dfdfcd5b3960d5af27087f3672c1ab270fb5"
     "291f9587316065c003ed4ee5b1063d5007",
     ":status: 200\ncache-control: private\ndate: Mon, 21 Oct 2013 20:13:22 GMT\nlocation: https://www.example.com\n"
     "content-encoding: gzip\n" SET_COOKIE, 215}};

static void check_blocks(const block *blocks, size_t table)
{
    static prof__hpack h;
    memset(&h, 0, sizeof h);
    h.limit = table;
    for (int i = 0; i < 3; ++i) {
        unsigned char bytes[256];
        static fields all;
        all.used = 0;
        all.text[0] = 0;
        CHECK(prof__hpack_block(&h, table, bytes, unhex(blocks[i].hex, bytes), add_field, &all));
        CHECK_TEXT(all.text, blocks[i].fields);
        CHECK_EQUAL(prof__hpack_size(&h), blocks[i].table);
    }
}

TEST(decodes_the_blocks_of_the_standard)
{
    check_blocks(without_huffman, 4096);
    check_blocks(with_huffman, 4096);
    check_blocks(evicting, 256);
    check_blocks(evicting_huffman, 256);
}

TEST(decodes_single_fields_of_the_standard)
{
    static const struct {
        const char *hex, *field;
        size_t table;
    } cases[] = {{"400a637573746f6d2d6b65790d637573746f6d2d686561646572", "custom-key: custom-header\n", 55},
                 {"040c2f73616d706c652f70617468", ":path: /sample/path\n", 0},
                 {"100870617373776f726406736563726574", "password: secret\n", 0},
                 {"82", ":method: GET\n", 0},
                 {"3fe11f82", ":method: GET\n", 0} /* the table's size: 4096 */,
                 {"2082", ":method: GET\n", 0} /* 0 */};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        static prof__hpack h;
        unsigned char bytes[64];
        fields all = {"", 0};
        memset(&h, 0, sizeof h);
        h.limit = 4096;
        CHECK(prof__hpack_block(&h, 4096, bytes, unhex(cases[i].hex, bytes), add_field, &all));
        CHECK_TEXT(all.text, cases[i].field);
        CHECK_EQUAL(prof__hpack_size(&h), cases[i].table);
    }
}

TEST(decodes_integers_of_the_standard)
{
    static const struct {
        const char *hex;
        unsigned bits;
        uint32_t value;
    } cases[] = {{"0a", 5, 10}, {"1f9a0a", 5, 1337}, {"2a", 8, 42}, {"ea", 5, 10}, {"1f00", 5, 31}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        unsigned char bytes[8];
        const unsigned char *at = bytes;
        uint32_t value = 0;
        size_t size = unhex(cases[i].hex, bytes);
        CHECK(prof__hpack_integer(&at, bytes + size, cases[i].bits, &value));
        CHECK_EQUAL(value, cases[i].value);
        CHECK(at == bytes + size);
    }
}

TEST(refuses_bad_blocks)
{
    static const char *const cases[] = {
        "80",                 /* index 0 */
        "be",                 /* an entry that is not there */
        "ff",                 /* a number that does not end */
        "ffffffffffffffff7f", /* that is too large */
        "40",                 /* a literal that does not begin */
        "400a6375",           /* that does not end */
        "4000",               /* without a value */
        "7f00",               /* whose name is entry 63 */
        "3fe21f",             /* a table larger than announced */
        "82203fe11f",         /* a change of the table behind a field */
        "0081ff0000",         /* Huffman: 8 bits of padding */
        "00810000",           /* padding that is not ones */
        "0084fffffffc00",     /* the end's own code */
        "0085ffffffffff00"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        static prof__hpack h;
        unsigned char bytes[64];
        fields all = {"", 0};
        memset(&h, 0, sizeof h);
        h.limit = 4096;
        int good = prof__hpack_block(&h, 4096, bytes, unhex(cases[i], bytes), add_field, &all);
        CHECK(!good);
        if (good) printf("%s\n", cases[i]);
    }
}

TEST(huffman_decodes_every_byte)
{
    /* Each byte's code, made from the lengths by the rule, and then the padding. */
    uint32_t code = 0;
    int codes = 0;
    for (unsigned bits = 1; bits <= 30; ++bits) {
        code <<= 1;
        for (unsigned symbol = 0; symbol < 257; ++symbol) {
            if (prof__huffman_bits[symbol] != bits) continue;
            uint64_t padded = ((uint64_t)code << (64 - bits)) | (~0ull >> bits);
            unsigned char bytes[8];
            char to[2] = {0, 0};
            size_t size = (bits + 7) / 8, length = 0;
            for (size_t i = 0; i < size; ++i) bytes[i] = (unsigned char)(padded >> (56 - 8 * i));
            int good = prof__huffman_decode(bytes, size, to, sizeof to, &length);
            if (symbol < 256) {
                CHECK(good && length == 1 && (unsigned char)to[0] == symbol);
                CHECK(!prof__huffman_decode(bytes, size, to, 0, &length));
            } else {
                CHECK(!good);
            }
            ++code;
            ++codes;
        }
    }
    CHECK_EQUAL(codes, 257);
    CHECK_EQUAL(code, 1u << 30); /* the code is complete */
}

/*-- HTTP/2 and gRPC --*/

static void put_frame(int file, unsigned type, unsigned flags, uint32_t stream, const void *payload, size_t size)
{
    unsigned char head[9];
    prof__h2_number(head, (uint32_t)size << 8 | type);
    head[4] = (unsigned char)flags;
    prof__h2_number(head + 5, stream);
    send_bytes(file, head, 9);
    if (size) send_bytes(file, payload, size);
}

typedef struct frame {
    int there;
    unsigned type, flags;
    uint32_t stream;
    size_t size;
    unsigned char payload[16384];
} frame;

static frame *get_frame(int file)
{
    static frame f;
    unsigned char head[9];
    memset(&f, 0, sizeof f);
    if (receive(file, head, 9) < 9) return &f;
    f.type = head[3];
    f.flags = head[4];
    f.stream = prof__h2_number_at(head + 5);
    f.size = prof__h2_number_at(head) >> 8;
    f.there = f.size <= sizeof f.payload && receive(file, f.payload, f.size) == f.size;
    return &f;
}

/* The next frame of a type, whatever comes before. */
static frame *get_frame_of(int file, unsigned type)
{
    frame *f;
    do f = get_frame(file);
    while (f->there && f->type != type);
    return f;
}

static int greet(const void *settings, size_t size)
{
    int file = client();
    send_text(file, prof__h2_preface);
    put_frame(file, PROF__H2_SETTINGS, 0, 0, settings, size);
    return file;
}

static size_t literal(unsigned char *to, const char *name, const char *value)
{
    return prof__h2_literal(to, 0, 4096, name, strlen(name), value, strlen(value));
}

/* The head of a call, as a client writes that has no table. */
static size_t call_head(unsigned char *to, const char *method, const char *path, const char *type)
{
    size_t n = literal(to, ":method", method);
    n += literal(to + n, ":path", path);
    n += literal(to + n, ":authority", "localhost:1");
    if (type) n += literal(to + n, "content-type", type);
    return n;
}

static void call_on(int file, uint32_t stream, const char *method, const void *message, size_t size)
{
    unsigned char head[1024], body[2048] = {0};
    char path[128];
    snprintf(path, sizeof path, "/tensorflow.ProfilerService/%s", method);
    put_frame(file, PROF__H2_HEADERS, PROF__H2_END_HEADERS, stream, head, call_head(head, "POST", path, "application/grpc"));
    prof__h2_number(body + 1, (uint32_t)size);
    if (size) memcpy(body + 5, message, size);
    put_frame(file, PROF__H2_DATA, PROF__H2_END_STREAM, stream, body, size + 5);
}

typedef struct result {
    int grpc_status; /* -1: there was none */
    char fields[2048];
    unsigned char *body;
    size_t size;
} result;

/* The answer to a call. */
static result get_result(int file, uint32_t stream)
{
    static prof__hpack none;
    static fields all;
    unsigned char more[4];
    result r;
    memset(&r, 0, sizeof r);
    memset(&all, 0, sizeof all);
    for (;;) {
        frame *f = get_frame(file);
        if (!f->there) break;
        if (f->stream != stream) continue;
        if (f->type == PROF__H2_HEADERS) CHECK(prof__hpack_block(&none, 0, f->payload, f->size, add_field, &all));
        if (f->type == PROF__H2_DATA) {
            r.body = (unsigned char *)realloc(r.body, r.size + f->size + 1);
            memcpy(r.body + r.size, f->payload, f->size);
            r.size += f->size;
            if (f->size) put_frame(file, PROF__H2_WINDOW, 0, 0, (prof__h2_number(more, (uint32_t)f->size), more), 4);
        }
        if (f->type == PROF__H2_RESET || (f->flags & PROF__H2_END_STREAM && f->type <= PROF__H2_HEADERS)) break;
    }
    memcpy(r.fields, all.text, sizeof r.fields);
    const char *status = strstr(r.fields, "grpc-status: ");
    r.grpc_status = status ? atoi(status + 13) : -1;
    return r;
}

static size_t put_field(unsigned char *to, unsigned field, const void *data, size_t size)
{
    size_t n = prof__server_varint(to, field << 3 | 2);
    n += prof__server_varint(to + n, size);
    memcpy(to + n, data, size);
    return n + size;
}
static size_t put_integer(unsigned char *to, unsigned field, uint64_t value)
{
    size_t n = prof__server_varint(to, field << 3);
    return n + prof__server_varint(to + n, value);
}

/* advanced_configuration[key] = value, of the type string (1), bool (2) or int64 (3). */
static size_t put_advanced(unsigned char *to, const char *key, unsigned type, const char *text, uint64_t number)
{
    unsigned char entry[512], value[256];
    size_t size = type == 1 ? put_field(value, 1, text, strlen(text)) : put_integer(value, type, number);
    size_t n = put_field(entry, 1, key, strlen(key));
    n += put_field(entry + n, 2, value, size);
    return put_field(to, 12, entry, n);
}

/* A ProfileRequest as XProf's. It names a folder for the client, which the program that is asked must not make. */
#define PROFILE_FOLDER TRACE_FOLDER "/profile-of-the-client"

static size_t profile_request(unsigned char *to, uint64_t ms, const char *session, const unsigned char *options, size_t size)
{
    size_t n = put_integer(to, 1, ms);
    n += put_field(to + n, 3, "xplane.pb", 9);
    if (size) n += put_field(to + n, 4, options, size);
    n += put_field(to + n, 5, PROFILE_FOLDER, strlen(PROFILE_FOLDER));
    n += put_field(to + n, 6, session, strlen(session));
    n += put_field(to + n, 7, "localhost:9999", 14);
    return n;
}

static int mentions(const result *r, const char *text)
{
    return r->size && memmem(r->body, r->size, text, strlen(text)) != NULL;
}

/* What memory in a message is: the nth field of a number. */
static prof__proto find_field(const unsigned char *at, size_t size, uint32_t field)
{
    prof__proto p = prof__proto_of(at, size);
    while (prof__proto_next(&p))
        if (p.field == field) return p;
    p.bytes = NULL;
    p.size = 0;
    return p;
}

TEST(answers_xprof)
{
    unsigned char request[1024], options[256];
    size_t size;
    result r;
    int file, other;
    if (!start(NULL)) return;
    file = greet(NULL, 0);
    size = put_integer(options, 2, 2);
    size += put_integer(options + size, 3, 1);
    size += put_integer(options + size, 9, 60000);
    size += put_advanced(options + size, "buffer", 1, "1M", 0);
    size += put_advanced(options + size, "tpu_trace_mode", 1, "TRACE_COMPUTE", 0);
    size += put_field(options + size, 15, "as/named", 8);
    size = profile_request(request, 1000, "2026_01_01_00_00_00", options, size);
    call_on(file, 1, "Profile", request, size);
    CHECK(wait_for_status("\"session\":\"capture\""));
    work("in the profile", 5);
    other = greet(NULL, 0);
    size = put_field(request, 1, "another session", 15);
    call_on(other, 1, "Terminate", request, size);
    r = get_result(other, 1);
    CHECK_EQUAL(r.grpc_status, 0);
    free(r.body);
    CHECK_EQUAL(prof_enabled(), 1);
    size = put_field(request, 1, "2026_01_01_00_00_00", 19);
    call_on(other, 3, "Terminate", request, size);
    r = get_result(other, 3);
    CHECK_EQUAL(r.grpc_status, 0);
    CHECK_EQUAL(r.size, 5);
    free(r.body);
    r = get_result(file, 1);
    CHECK_EQUAL(r.grpc_status, 0);
    CHECK(strstr(r.fields, ":status: 200\n") == r.fields);
    CHECK(strstr(r.fields, "content-type: application/grpc\n") != NULL);
    CHECK(r.size > 5 && r.body[0] == 0 && prof__h2_number_at(r.body + 1) == r.size - 5);
    prof__proto tool = find_field(r.body + 5, r.size - 5, 6), name = find_field(tool.bytes, tool.size, 1),
                space = find_field(tool.bytes, tool.size, 2);
    CHECK(name.size == 9 && !memcmp(name.bytes, "xplane.pb", 9));
    CHECK(space.size > 100 && memmem(space.bytes, space.size, "in the profile", 14) != NULL);
    prof__proto warning = prof__proto_of(space.bytes, space.size);
    int warned = 0;
    CHECK(memmem(space.bytes, space.size, "as_named", 8) != NULL);
    while (prof__proto_next(&warning)) warned |= warning.field == 3 && memmem(warning.bytes, warning.size, "tpu_trace_mode", 14) != NULL;
    CHECK(warned && !warning.bad);
    CHECK(access(PROFILE_FOLDER, F_OK) != 0);
    free(r.body);
    size = put_integer(options, 9, 1);
    size += put_advanced(options + size, "buffer", 1, "1M", 0);
    size = profile_request(request, 1, "s", options, size);
    size += put_integer(request + size, 9, 1); /* emit_xspace */
    call_on(file, 3, "Profile", request, size);
    r = get_result(file, 3);
    CHECK_EQUAL(r.grpc_status, 0);
    CHECK(find_field(r.body + 5, r.size - 5, 6).bytes == NULL);
    CHECK(find_field(r.body + 5, r.size - 5, 8).size > 20);
    free(r.body);
    close(file);
    close(other);
    prof_server_stop();
}

TEST(levels_of_xprof)
{
    prof_device *device = prof_device_create("gpu 0", NULL);
    prof_device_row *row = prof_device_row_create(device, "queue");
    unsigned char request[1024], options[256];
    if (!start(NULL)) return;
    for (uint64_t host = 0; host < 4; ++host)
        for (uint64_t on = 0; on < 2; ++on) {
            int file = greet(NULL, 0);
            size_t size = put_integer(options, 5, 1); /* with a version, what is not there is 0 */
            if (host) size += put_integer(options + size, 2, host);
            if (on) size += put_integer(options + size, 3, on);
            size += put_integer(options + size, 9, 60000);
            size += put_advanced(options + size, "buffer", 1, "1M", 0);
            call_on(file, 1, "Profile", request, profile_request(request, 1, "levels", options, size));
            CHECK(wait_for_status("\"session\":\"capture\""));
            {
                PROFILE_SCOPE_CL("level-one", "test", 1);
                PROFILE_SCOPE_CL("level-two", "test", 2);
                PROFILE_SCOPE_CL("level-three", "test", 3);
                uint64_t now = prof_host_ns(); /* the device's clock is the host's */
                prof_device_sync(device, now, now);
                prof_device_scope(row, "kernel", now, now + 1);
            }
            prof_config config;
            memset(&config, 0, sizeof config);
            config.buffer_size = 1 << 20;
            CHECK_EQUAL(prof_start(&config), PROF_OK);
            result r = get_result(file, 1);
            CHECK_EQUAL(r.grpc_status, 0);
            CHECK_EQUAL(mentions(&r, "level-one"), host >= 1);
            CHECK_EQUAL(mentions(&r, "level-two"), host >= 2);
            CHECK_EQUAL(mentions(&r, "level-three"), host >= 3);
            CHECK_EQUAL(mentions(&r, "kernel"), on); /* devices have no level */
            free(r.body);
            prof_stop();
            prof_reset();
            close(file);
        }
    prof_server_stop();
}

static int enough_raced;
static void *races(void *device)
{
    prof_device_row *row = prof_device_row_create((prof_device *)device, "queue");
    while (!__atomic_load_n(&enough_raced, __ATOMIC_ACQUIRE)) {
        PROFILE_SCOPE_CL("racing", "test", 2);
        prof_device_mark(row, "device racing", 0);
    }
    return NULL;
}

/* What is to be off is off before anything is recorded. */
TEST(levels_of_xprof_while_a_thread_records)
{
    prof_device *device = prof_device_create("gpu 1", NULL);
    unsigned char request[1024], options[256];
    pthread_t thread;
    if (!start(NULL)) return;
    enough_raced = 0;
    CHECK(!pthread_create(&thread, NULL, races, device));
    for (uint64_t host = 0; host < 20; ++host) {
        int file = greet(NULL, 0);
        size_t size = put_integer(options, 5, 1); /* a version: what is not there is 0, also the device's level */
        if (host % 2) size += put_integer(options + size, 2, 1);
        size += put_integer(options + size, 9, 1);
        size += put_advanced(options + size, "buffer", 1, "1M", 0);
        call_on(file, 1, "Profile", request, profile_request(request, 1, "races", options, size));
        result r = get_result(file, 1);
        CHECK_EQUAL(r.grpc_status, 0);
        CHECK_EQUAL(mentions(&r, "racing"), 0);
        free(r.body);
        close(file);
    }
    __atomic_store_n(&enough_raced, 1, __ATOMIC_RELEASE);
    pthread_join(thread, NULL);
    prof_server_stop();
}

TEST(refuses_options_that_nobody_knows)
{
    static const struct {
        const char *key;
        unsigned type;
        const char *text;
        uint64_t number;
        const char *message;
    } cases[] = {{"gpu_max_everything", 3, "", 1, "The following keys were not recognized: gpu_max_everything"},
                 {"buffer", 2, "", 1, "Invalid value type for key: buffer. Expected string, but a bool was supplied."},
                 {"buffer", 1, "much", 0, "Invalid value for key: buffer."},
                 {"buffer", 1, "2G", 0, "buffer: must be at most 268435456 bytes here"},
                 {"mode", 1, "stream", 0, "mode: must be ring or fill for a capture"},
                 {"output", 1, "/tmp/evil", 0, "clients cannot set 'output'"},
                 {"save", 1, "/tmp/evil", 0, "clients cannot set 'save'"},
                 {"filename", 1, "/tmp/evil", 0, "clients cannot set 'filename'"},
                 {"crash_report", 3, "", 1, "clients cannot set 'crash_report'"},
                 {"level", 3, "", 256, "level '256': must be 0 to 255"}};
    unsigned char request[1024], options[512];
    int file;
    if (!start(NULL)) return;
    file = greet(NULL, 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        uint32_t stream = (uint32_t)i * 2 + 1;
        size_t size = put_advanced(options, cases[i].key, cases[i].type, cases[i].text, cases[i].number);
        call_on(file, stream, "Profile", request, profile_request(request, 1, "s", options, size));
        result r = get_result(file, stream);
        CHECK_EQUAL(r.grpc_status, PROF__GRPC_INVALID_ARGUMENT);
        CHECK(strstr(r.fields, cases[i].message) != NULL);
        if (!strstr(r.fields, cases[i].message)) printf("%s", r.fields);
        free(r.body);
    }
    size_t size = put_advanced(options, "one_thing", 3, "", 1);
    size += put_advanced(options + size, "another", 2, "", 1);
    call_on(file, 101, "Profile", request, profile_request(request, 1, "s", options, size));
    result r = get_result(file, 101);
    CHECK(strstr(r.fields, "not recognized: one_thing,another") != NULL);
    free(r.body);
    static const uint64_t durations[] = {0, 600001, UINT64_MAX};
    for (int i = 0; i < 3; ++i) {
        call_on(file, 103 + 2 * (uint32_t)i, "Profile", request, profile_request(request, durations[i], "s", NULL, 0));
        r = get_result(file, 103 + 2 * (uint32_t)i);
        CHECK_EQUAL(r.grpc_status, PROF__GRPC_INVALID_ARGUMENT);
        free(r.body);
    }
    size = put_integer(options, 8, prof__unix_time() + 700000000000u); /* start_timestamp_ns */
    call_on(file, 201, "Profile", request, profile_request(request, 1, "s", options, size));
    r = get_result(file, 201);
    CHECK_EQUAL(r.grpc_status, PROF__GRPC_INVALID_ARGUMENT);
    free(r.body);
    CHECK_EQUAL(prof_enabled(), 0);
    close(file);
    prof_server_stop();
}

static int claimed;
static prof_status claim(void *user, const char *key, const char *value)
{
    (void)user;
    if (!strcmp(key, "gpu_mine") && !strcmp(value, "7")) ++claimed;
    return strcmp(key, "gpu_mine") ? PROF_INVALID_ARGUMENT : PROF_OK;
}

TEST(claimed_options_go_to_who_claimed_them)
{
    unsigned char request[1024], options[512];
    int file;
    if (!start(NULL)) return;
    file = greet(NULL, 0);
    CHECK_EQUAL(prof_config_claim("gpu_", claim, NULL), PROF_OK);
    size_t size = put_advanced(options, "gpu_mine", 3, "", 7);
    size += put_advanced(options + size, "buffer", 1, "1M", 0);
    call_on(file, 1, "Profile", request, profile_request(request, 1, "s", options, size));
    result r = get_result(file, 1);
    CHECK_EQUAL(r.grpc_status, 0);
    CHECK_EQUAL(claimed, 1);
    free(r.body);
    call_on(file, 3, "Profile", request, profile_request(request, 1, "s", options, put_advanced(options, "gpu_other", 3, "", 7)));
    r = get_result(file, 3);
    CHECK_EQUAL(r.grpc_status, PROF__GRPC_INVALID_ARGUMENT);
    free(r.body);
    prof_config_claim("gpu_", NULL, NULL);
    close(file);
    prof_server_stop();
}

TEST(delays_until_the_time_asked_for)
{
    unsigned char request[1024], options[256];
    int file;
    if (!start(NULL)) return;
    file = greet(NULL, 0);
    size_t size = put_integer(options, 8, prof__unix_time() + 60000000000u);
    call_on(file, 1, "Profile", request, profile_request(request, 1, "later", options, size));
    CHECK(wait_for_status("\"capturing\":1"));
    CHECK_EQUAL(prof_enabled(), 0); /* it has not begun */
    int other = greet(NULL, 0);
    call_on(other, 1, "Terminate", request, put_field(request, 1, "later", 5));
    result r = get_result(other, 1);
    CHECK_EQUAL(r.grpc_status, 0);
    free(r.body);
    r = get_result(file, 1);
    CHECK_EQUAL(r.grpc_status, 0);
    free(r.body);
    int late = ask_later("/trace?ms=1&delay=60000");
    CHECK(wait_for_status("\"capturing\":1"));
    prof_server_stop();
    CHECK_EQUAL(status_of(answer_of(late)), 503);
    close(file);
    close(other);
}

/* A sum of numbers of ms is rounded: three steps of the same time must not be shorter on average than the shortest. */
TEST(steps_of_one_time_have_it_on_average)
{
    for (uint64_t ns = 1; ns < 10000; ++ns) {
        prof__server_steps steps;
        double values[3];
        memset(&steps, 0, sizeof steps);
        for (int i = 0; i < 3; ++i) prof__server_step_add(&steps, ns);
        prof__server_step_values(&steps, values);
        CHECK(values[0] == values[1] && values[0] == values[2]);
    }
}

TEST(monitors_steps)
{
    unsigned char request[64];
    int file;
    if (!start_recording(PROF_RING) || !start(NULL)) return;
    file = greet(NULL, 0);
    for (int level = 1; level <= 2; ++level) {
        size_t size = put_integer(request, 1, 60000);
        size += put_integer(request + size, 2, (uint64_t)level);
        call_on(file, (uint32_t)level * 2 - 1, "Monitor", request, size);
        CHECK(wait_for_status("\"capturing\":1"));
        for (int i = 0; i < 3; ++i) {
            PROFILE_STEP("train", i);
            pause_ms(1); /* some time, on any clock */
        }
        prof_stop();
        result r = get_result(file, (uint32_t)level * 2 - 1);
        CHECK_EQUAL(r.grpc_status, 0);
        prof__proto text = find_field(r.body + 5, r.size - 5, 1), figures = find_field(r.body + 5, r.size - 5, 10);
        CHECK(text.size > 8 && !memcmp(text.bytes, "Steps: 3", 8));
        CHECK_EQUAL(text.size && memmem(text.bytes, text.size, "\ntrain ", 7) != NULL, level == 2);
        double values[3];
        CHECK_EQUAL(figures.size, 27);
        for (uint32_t i = 0; i < 3; ++i) {
            prof__proto value = find_field(figures.bytes, figures.size, 4 + i);
            memcpy(&values[i], &value.number, 8);
        }
        CHECK(values[1] > 0 && values[1] <= values[0] && values[0] <= values[2]);
        free(r.body);
        if (level == 1) CHECK(start_recording(PROF_RING));
    }
    prof_reset();
    close(file);
    prof_server_stop();
}

TEST(profiles_continuously)
{
    unsigned char request[256], options[64];
    int file;
    result r;
    if (!start(NULL)) return;
    file = greet(NULL, 0);
    call_on(file, 1, "GetSnapshot", NULL, 0);
    r = get_result(file, 1);
    CHECK_EQUAL(r.grpc_status, PROF__GRPC_FAILED_PRECONDITION);
    size_t size = put_advanced(options, "buffer", 1, "1M", 0);
    size = put_field(request, 4, options, size);
    call_on(file, 3, "StartContinuousProfiling", request, size);
    r = get_result(file, 3);
    CHECK_EQUAL(r.grpc_status, 0);
    free(r.body);
    CHECK_EQUAL(prof_enabled(), 1);
    call_on(file, 5, "StartContinuousProfiling", request, size);
    r = get_result(file, 5);
    CHECK_EQUAL(r.grpc_status, PROF__GRPC_FAILED_PRECONDITION);
    work("in the ring", 3);
    for (uint32_t i = 0; i < 2; ++i) {
        call_on(file, 7 + 2 * i, i ? "GetSnapShot" : "GetSnapshot", NULL, 0);
        r = get_result(file, 7 + 2 * i);
        CHECK_EQUAL(r.grpc_status, 0);
        CHECK(mentions(&r, "in the ring"));
        free(r.body);
    }
    r = (result){0, "", NULL, 0};
    int capture = ask_later("/trace?ms=60000&format=csv");
    CHECK(wait_for_status("\"capturing\":1"));
    work("captured meanwhile", 2);
    call_on(file, 11, "StopContinuousProfiling", NULL, 0);
    r = get_result(file, 11);
    CHECK_EQUAL(r.grpc_status, 0);
    free(r.body);
    CHECK_EQUAL(prof_enabled(), 1); /* for the capture */
    prof_config config;
    memset(&config, 0, sizeof config);
    config.buffer_size = 1 << 20;
    CHECK_EQUAL(prof_start(&config), PROF_OK);
    reply answer = answer_of(capture);
    CHECK_EQUAL(count(answer.body, "captured meanwhile"), 2);
    CHECK_EQUAL(count(answer.body, "in the ring"), 0);
    free(answer.body);
    prof_stop();
    prof_reset();
    close(file);
    prof_server_stop();
    CHECK_EQUAL(prof_enabled(), 0);
}

TEST(answers_calls_that_make_no_sense)
{
    static const struct {
        const char *path, *method;
        const unsigned char *body;
        size_t size;
        int status;
    } cases[] = {{"/tensorflow.ProfilerService/Nothing", "POST", (const unsigned char *)"\0\0\0\0\0", 5, PROF__GRPC_UNIMPLEMENTED},
                 {"/tensorflow.ProfileAnalysis/NewSession", "POST", (const unsigned char *)"\0\0\0\0\0", 5, PROF__GRPC_UNIMPLEMENTED},
                 {"/tensorflow.ProfilerService/Profile", "GET", (const unsigned char *)"\0\0\0\0\0", 5, PROF__GRPC_UNIMPLEMENTED},
                 {"/tensorflow.ProfilerService/Profile", "POST", NULL, 0, PROF__GRPC_INVALID_ARGUMENT},
                 {"/tensorflow.ProfilerService/Profile", "POST", (const unsigned char *)"\0\0\0\0\5", 5, PROF__GRPC_INVALID_ARGUMENT},
                 {"/tensorflow.ProfilerService/Profile", "POST", (const unsigned char *)"\1\0\0\0\0", 5, PROF__GRPC_UNIMPLEMENTED},
                 {"/tensorflow.ProfilerService/Profile", "POST", (const unsigned char *)"\0\0\0\0\1\x07", 6, PROF__GRPC_INVALID_ARGUMENT},
                 {"/tensorflow.ProfilerService/Profile", "POST", (const unsigned char *)"\0\0\0\0\2\x22\x50", 7,
                  PROF__GRPC_INVALID_ARGUMENT},
                 {"/tensorflow.ProfilerService/Profile", "POST", (const unsigned char *)"\0\0\0\0\4\x08\x01\x22\x01\xff", 9,
                  PROF__GRPC_INVALID_ARGUMENT},
                 {"/tensorflow.ProfilerService/Monitor", "POST", (const unsigned char *)"\0\0\0\0\0", 5, PROF__GRPC_INVALID_ARGUMENT}};
    int file;
    if (!start(NULL)) return;
    file = greet(NULL, 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        unsigned char head[1024];
        uint32_t stream = (uint32_t)i * 2 + 1;
        put_frame(file, PROF__H2_HEADERS, PROF__H2_END_HEADERS, stream, head,
                  call_head(head, cases[i].method, cases[i].path, "application/grpc+proto"));
        put_frame(file, PROF__H2_DATA, PROF__H2_END_STREAM, stream, cases[i].body, cases[i].size);
        result r = get_result(file, stream);
        CHECK_EQUAL(r.grpc_status, cases[i].status);
        if (r.grpc_status != cases[i].status) printf("case %d: %s\n", (int)i, r.fields);
        free(r.body);
    }
    close(file);
    prof_server_stop();
}

TEST(wants_its_token_of_grpc_too)
{
    prof_server_options options;
    unsigned char head[1024];
    int file;
    memset(&options, 0, sizeof options);
    options.token = "abc";
    if (!start(&options)) return;
    file = greet(NULL, 0);
    call_on(file, 1, "StopContinuousProfiling", NULL, 0);
    result r = get_result(file, 1);
    CHECK_EQUAL(r.grpc_status, PROF__GRPC_UNAUTHENTICATED);
    free(r.body);
    size_t n = call_head(head, "POST", "/tensorflow.ProfilerService/StopContinuousProfiling", "application/grpc");
    n += literal(head + n, "authorization", "Bearer abc");
    put_frame(file, PROF__H2_HEADERS, PROF__H2_END_HEADERS, 3, head, n);
    put_frame(file, PROF__H2_DATA, PROF__H2_END_STREAM, 3, "\0\0\0\0\0", 5);
    r = get_result(file, 3);
    CHECK_EQUAL(r.grpc_status, 0);
    free(r.body);
    close(file);
    prof_server_stop();
}

/* A stream that may be sent few bytes at a time. */
TEST(obeys_flow_control)
{
    static const unsigned char small[] = {0, 4, 0, 0, 0, 10}; /* INITIAL_WINDOW_SIZE 10 */
    unsigned char head[1024], more[4];
    size_t got = 0;
    int file, ended = 0;
    if (!start(NULL)) return;
    file = greet(small, sizeof small);
    put_frame(file, PROF__H2_HEADERS, PROF__H2_END_HEADERS | PROF__H2_END_STREAM, 1, head, call_head(head, "GET", "/", NULL));
    frame *f = get_frame_of(file, PROF__H2_HEADERS);
    CHECK(f->there && !(f->flags & PROF__H2_END_STREAM));
    for (size_t step = 1; !ended && step < 100; ++step) {
        f = get_frame(file);
        CHECK(f->there && f->type == PROF__H2_DATA);
        if (!f->there) break;
        CHECK(f->size == (step == 1 ? 10 : step) || f->flags & PROF__H2_END_STREAM);
        got += f->size;
        ended = f->flags & PROF__H2_END_STREAM;
        put_frame(file, PROF__H2_PING, 0, 0, "12345678", 8); /* nothing comes before its answer */
        frame *pong = get_frame(file);
        CHECK(pong->type == PROF__H2_PING && pong->flags == PROF__H2_END_STREAM && !memcmp(pong->payload, "12345678", 8));
        prof__h2_number(more, (uint32_t)step + 1);
        if (!ended) put_frame(file, PROF__H2_WINDOW, 0, 1, more, 4);
    }
    CHECK(got > 500);
    close(file);
    prof_server_stop();
}

TEST(requests_come_in_all_shapes)
{
    unsigned char head[1024], padded[2048];
    int file;
    if (!start(NULL)) return;
    file = greet(NULL, 0);
    size_t n = call_head(head, "GET", "/status", NULL);
    put_frame(file, 200, 255, 7, "unknown", 7); /* a type that was not invented yet */
    put_frame(file, PROF__H2_PRIORITY, 0, 1, "\0\0\0\0\1", 5);
    memset(padded, 0, sizeof padded);
    padded[0] = 20; /* of padding, and a priority */
    memcpy(padded + 6, head, n);
    put_frame(file, PROF__H2_HEADERS, PROF__H2_END_HEADERS | PROF__H2_END_STREAM | PROF__H2_PADDED | PROF__H2_WITH_PRIORITY, 1, padded,
              n + 26);
    result r = get_result(file, 1);
    CHECK(strstr(r.fields, ":status: 200\n") == r.fields);
    CHECK(mentions(&r, "\"recording\""));
    free(r.body);
    put_frame(file, PROF__H2_HEADERS, PROF__H2_END_STREAM, 3, head, 3); /* in pieces */
    put_frame(file, PROF__H2_CONTINUATION, 0, 3, head + 3, 4);
    put_frame(file, PROF__H2_CONTINUATION, 0, 3, NULL, 0);
    put_frame(file, PROF__H2_CONTINUATION, PROF__H2_END_HEADERS, 3, head + 7, n - 7);
    r = get_result(file, 3);
    CHECK(strstr(r.fields, ":status: 200\n") == r.fields);
    free(r.body);
    n = call_head(head, "POST", "/pause", NULL);
    put_frame(file, PROF__H2_HEADERS, PROF__H2_END_HEADERS, 5, head, n);
    put_frame(file, PROF__H2_DATA, PROF__H2_PADDED, 5, "\3\0\0\0", 4);
    put_frame(file, PROF__H2_HEADERS, PROF__H2_END_HEADERS | PROF__H2_END_STREAM, 5, head, literal(head, "trailer", "x"));
    r = get_result(file, 5);
    CHECK(strstr(r.fields, ":status: 409\n") == r.fields);
    free(r.body);
    n = call_head(head, "GET", "/trace?ms=60000&buffer=1M", NULL); /* and taken back */
    put_frame(file, PROF__H2_HEADERS, PROF__H2_END_HEADERS | PROF__H2_END_STREAM, 7, head, n);
    CHECK(wait_for_status("\"session\":\"capture\""));
    put_frame(file, PROF__H2_RESET, 0, 7, "\0\0\0\10", 4);
    CHECK(wait_for_status("\"session\":\"none\""));
    for (uint32_t i = 0; i < 9; ++i) /* one more than there may be */
        put_frame(file, PROF__H2_HEADERS, PROF__H2_END_HEADERS | PROF__H2_END_STREAM, 9 + 2 * i, head, n);
    frame *f = get_frame_of(file, PROF__H2_RESET);
    CHECK(f->there && f->stream == 25 && f->payload[3] == PROF__H2_REFUSED);
    close(file);
    CHECK(wait_for_status("\"session\":\"none\""));
    prof_server_stop();
}

static void check_fields_refused(const char *const (*more)[2], size_t count, const char *reason)
{
    unsigned char head[1024];
    int file = greet(NULL, 0);
    size_t n = call_head(head, "GET", "/status", NULL);
    for (size_t i = 0; i < count && more[i][0]; ++i) n += literal(head + n, more[i][0], more[i][1]);
    put_frame(file, PROF__H2_HEADERS, PROF__H2_END_HEADERS | PROF__H2_END_STREAM, 1, head, n);
    result r = get_result(file, 1);
    CHECK(strstr(r.fields, ":status: 400\n") == r.fields);
    CHECK(mentions(&r, reason));
    if (strstr(r.fields, ":status: 400\n") != r.fields) printf("%s: %s\n", more[0][0], r.fields);
    free(r.body);
    close(file);
}

TEST(a_field_that_decides_comes_once_in_http2_too)
{
    static const char *const twice[][2][2] = {
        {{"origin", "http://evil.example"}, {"origin", "http://localhost:1"}},
        {{"origin", "http://localhost:1"}, {"Origin", ""}},
        {{"sec-fetch-site", "cross-site"}, {"sec-fetch-site", "none"}},
        {{"authorization", "Bearer x"}, {"authorization", "Bearer token"}},
        {{"content-type", "text/plain"}, {"content-type", "application/grpc"}},
        {{"content-length", "0"}, {"content-length", "0"}},
        {{"host", "localhost:1"}, {"host", "localhost:1"}},
        {{":authority", "localhost:1"}, {NULL, NULL}},
        {{":path", "/"}, {NULL, NULL}},
        {{":method", "POST"}, {NULL, NULL}}};
    static const char *const wrong[][2][2] = {{{"host", "localhost"}, {NULL, NULL}}, /* not the :authority's */
                                              {{"accept", "*/*"}, {":scheme", "http"}}};
    if (!start(NULL)) return;
    for (size_t i = 0; i < sizeof twice / sizeof *twice; ++i) check_fields_refused(twice[i], 2, " came more than once");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) check_fields_refused(wrong[i], 2, "no valid request");
    prof_server_stop();
}

/* 490 captures of a large buffer, each taken back at once: none of them begins, and the connection is closed. */
TEST(what_is_taken_back_costs_nothing)
{
    enum { REQUESTS = 490 };
    unsigned char head[1024];
    prof__server *v = &prof__server_state;
    int file;
    if (!start(NULL)) return;
    size_t n = call_head(head, "GET", "/trace?ms=60000&buffer=256M", NULL), size = 0;
    unsigned char *all = (unsigned char *)calloc(REQUESTS, n + 32);
    for (uint32_t i = 0; i < REQUESTS; ++i) {
        prof__h2_number(all + size, (uint32_t)n << 8 | PROF__H2_HEADERS);
        all[size + 4] = PROF__H2_END_HEADERS | PROF__H2_END_STREAM;
        prof__h2_number(all + size + 5, 1 + 2 * i);
        memcpy(all + size + 9, head, n);
        size += 9 + n;
        memcpy(all + size, "\0\0\4\3\0", 5); /* RST_STREAM */
        prof__h2_number(all + size + 5, 1 + 2 * i);
        prof__h2_number(all + size + 9, 8);
        size += 13;
    }
    uint32_t sessions = prof__state.session_id;
    file = greet(NULL, 0);
    (void)!send(file, all, size, MSG_NOSIGNAL); /* the server need not take all of it */
    frame *f = get_frame_of(file, PROF__H2_GOAWAY);
    CHECK(f->there && prof__h2_number_at(f->payload + 4) == PROF__H2_CALM);
    CHECK(wait_for_status("\"session\":\"none\""));
    CHECK(prof__state.session_id - sessions <= PROF__SERVER_ABORTS / 2); /* where a turn ended between the two */
    CHECK(v->max_answer <= (size_t)512 << 20);
    free(all);
    close(file);
    prof_server_stop();
}

TEST(survives_bad_frames)
{
    static const struct {
        unsigned type, flags;
        uint32_t stream;
        const char *payload;
        size_t size;
        uint32_t error;
    } cases[] = {{PROF__H2_DATA, 0, 0, "x", 1, PROF__H2_PROTOCOL},
                 {PROF__H2_DATA, 0, 1, "x", 1, PROF__H2_PROTOCOL}, /* of a stream that was never opened */
                 {PROF__H2_DATA, PROF__H2_PADDED, 1, "", 0, PROF__H2_PROTOCOL},
                 {PROF__H2_HEADERS, PROF__H2_END_HEADERS, 0, "\x82", 1, PROF__H2_PROTOCOL},
                 {PROF__H2_HEADERS, PROF__H2_END_HEADERS, 2, "\x82", 1, PROF__H2_PROTOCOL},
                 {PROF__H2_HEADERS, PROF__H2_END_HEADERS, 1, "\xff\xff\xff\xff\xff\xff", 6, PROF__H2_COMPRESSION},
                 {PROF__H2_HEADERS, PROF__H2_END_HEADERS | PROF__H2_PADDED, 1, "\x09\x82", 2, PROF__H2_PROTOCOL},
                 {PROF__H2_HEADERS, PROF__H2_END_HEADERS | PROF__H2_WITH_PRIORITY, 1, "\x82", 1, PROF__H2_PROTOCOL},
                 {PROF__H2_CONTINUATION, PROF__H2_END_HEADERS, 1, "\x82", 1, PROF__H2_PROTOCOL},
                 {PROF__H2_PUSH, 0, 1, "\0\0\0\2", 4, PROF__H2_PROTOCOL},
                 {PROF__H2_RESET, 0, 0, "\0\0\0\0", 4, PROF__H2_PROTOCOL},
                 {PROF__H2_RESET, 0, 9, "\0\0\0\0", 4, PROF__H2_PROTOCOL},
                 {PROF__H2_SETTINGS, 0, 1, "", 0, PROF__H2_PROTOCOL},
                 {PROF__H2_SETTINGS, 0, 0, "12345", 5, PROF__H2_SIZE},
                 {PROF__H2_SETTINGS, 1, 0, "123456", 6, PROF__H2_SIZE},
                 {PROF__H2_SETTINGS, 0, 0, "\0\4\xff\xff\xff\xff", 6, PROF__H2_FLOW},
                 {PROF__H2_SETTINGS, 0, 0, "\0\5\0\0\0\1", 6, PROF__H2_PROTOCOL},
                 {PROF__H2_PING, 0, 0, "1234567", 7, PROF__H2_SIZE},
                 {PROF__H2_PING, 0, 1, "12345678", 8, PROF__H2_PROTOCOL},
                 {PROF__H2_GOAWAY, 0, 1, "12345678", 8, PROF__H2_PROTOCOL},
                 {PROF__H2_WINDOW, 0, 0, "\0\0\0\0", 4, PROF__H2_PROTOCOL},
                 {PROF__H2_WINDOW, 0, 0, "\x7f\xff\xff\xff", 4, PROF__H2_FLOW},
                 {PROF__H2_WINDOW, 0, 0, "\0\0\1", 3, PROF__H2_SIZE}};
    if (!start(NULL)) return;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        int file = greet(NULL, 0);
        put_frame(file, cases[i].type, cases[i].flags, cases[i].stream, cases[i].payload, cases[i].size);
        frame *f = get_frame_of(file, PROF__H2_GOAWAY);
        CHECK(f->there);
        CHECK_EQUAL(prof__h2_number_at(f->payload + 4), cases[i].error);
        if (!f->there || prof__h2_number_at(f->payload + 4) != cases[i].error) printf("case %d\n", (int)i);
        CHECK(is_closed(file));
        close(file);
    }
    int file = greet(NULL, 0); /* a frame larger than was announced */
    send_bytes(file, "\1\0\0\0\0\0\0\0\1", 9);
    frame *f = get_frame_of(file, PROF__H2_GOAWAY);
    CHECK(f->there && f->payload[7] == PROF__H2_SIZE);
    close(file);
    file = greet(NULL, 0); /* a head without an end */
    put_frame(file, PROF__H2_HEADERS, 0, 1, "", 0);
    for (int i = 0; i < 100; ++i) put_frame(file, PROF__H2_CONTINUATION, 0, 1, "", 0);
    f = get_frame_of(file, PROF__H2_GOAWAY);
    CHECK(f->there && f->payload[7] == PROF__H2_CALM);
    close(file);
    file = greet(NULL, 0); /* much ado about nothing */
    for (int i = 0; i < 12000; ++i) put_frame(file, PROF__H2_PRIORITY, 0, 1, "\0\0\0\0\0", 5);
    f = get_frame_of(file, PROF__H2_GOAWAY);
    CHECK(!f->there || f->payload[7] == PROF__H2_CALM); /* the connection may be reset, because not all was read */
    close(file);
    file = greet(NULL, 0); /* a body without an end */
    unsigned char head[1024], *body = (unsigned char *)calloc(1, 16384);
    put_frame(file, PROF__H2_HEADERS, PROF__H2_END_HEADERS, 1, head, call_head(head, "POST", "/pause", NULL));
    for (int i = 0; i < 5; ++i) put_frame(file, PROF__H2_DATA, 0, 1, body, 16384);
    result r = get_result(file, 1);
    CHECK(strstr(r.fields, ":status: 413\n") == r.fields);
    free(r.body);
    free(body);
    close(file);
    CHECK_EQUAL(status_of(get("/status")), 200);
    prof_server_stop();
}

/* Random bytes, and good requests with random bytes in them. */
TEST(survives_noise)
{
    unsigned char bytes[3000];
    uint64_t seed = prof__monotonic() | 1;
    int rounds = getenv("PROF_TEST_QUICK") ? 100 : 500;
    if (!start(NULL)) return;
    printf("seed %llu\n", (unsigned long long)seed);
    for (int i = 0; i < rounds; ++i) {
        size_t size = 0;
        if (i % 3 == 0) {
            memcpy(bytes, prof__h2_preface, 24);
            size = 24;
        } else if (i % 3 == 1) {
            size = (size_t)snprintf((char *)bytes, 200, "GET /status HTTP/1.1\r\nHost: localhost\r\n\r\n");
        }
        size_t end = size + (seed >> 20) % 1500;
        for (; size < end; ++size) {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            bytes[size] = (unsigned char)(seed >> 30);
            if (i % 3 == 0 && size > 30 && seed % 4) bytes[size] &= 15; /* more like frames */
        }
        for (int k = 0; k < 3 && i % 2 && size; ++k) bytes[(seed >> (8 * k)) % size] ^= (unsigned char)(1u << (seed >> 40) % 8);
        int file = client();
        send_bytes(file, bytes, size);
        if (i % 4) {
            char some[64];
            shutdown(file, SHUT_WR);
            while (receive(file, some, sizeof some) == sizeof some) continue;
        }
        close(file);
    }
    CHECK_EQUAL(status_of(get("/status")), 200);
    CHECK(wait_for_status("\"session\":\"none\""));
    prof_server_stop();
}

/*-- processes --*/

TEST(children_of_fork_have_no_server)
{
    int file, how = 1, here, quiet;
#ifdef PROF__THREAD_SANITIZER
    SKIP("the thread sanitizer starts no threads in children of fork");
#endif
    if (!start(NULL)) return;
    here = prof_server_port();
    file = ask_later("/trace?ms=60000&format=csv&buffer=1M");
    quiet = client(); /* stays open: a connection that the server closes now is memory that it frees, and a sanitizer's
                         allocator may be locked for that when the process is copied */
    CHECK(wait_for_status_on(quiet, "\"session\":\"capture\""));
    work("in the parent", 2);
    pid_t child = fork();
    if (child == 0) {
        prof_config config;
        int bad = 0;
        memset(&config, 0, sizeof config);
        config.buffer_size = 1 << 20;
        bad |= prof_server_port() != 0;
        bad |= prof_enabled() != 0;
        work("in the child", 1);
        bad |= (prof_server_stop() != PROF_INVALID_STATE) << 1;
        bad |= (prof_start(&config) != PROF_OK) << 2;
        bad |= (prof_server_start(0, NULL) != PROF_OK || prof_server_port() == here) << 3;
        bad |= (status_of(get("/status")) != 200) << 4;
        bad |= (prof_stop() != PROF_OK) << 5;
        _exit(bad);
    }
    waitpid(child, &how, 0);
    CHECK_EQUAL(how, 0);
    close(quiet);
    prof_server_stop(); /* the child's end has not ended the connection */
    reply r = answer_of(file);
    CHECK_EQUAL(r.status, 200);
    CHECK_EQUAL(count(r.body, "in the parent"), 2);
    CHECK_EQUAL(count(r.body, "in the child"), 0);
    free(r.body);
}

/* What prof_server_start() has opened so far when another thread forks. */
TEST(children_of_fork_have_no_half_of_a_server)
{
    prof__server *v = &prof__server_state;
    int files[4], how = 1;
    if (!start(NULL)) return;
    prof_server_stop();
    CHECK_EQUAL(prof__server_open(v, 0, NULL), PROF_OK);
    memcpy(files, v->listeners, sizeof v->listeners);
    memcpy(files + 2, v->wake, sizeof v->wake);
    CHECK(files[0] > 2 || files[1] > 2);
    pid_t child = fork();
    if (child == 0) {
        int bad = 0;
        for (int i = 0; i < 4; ++i) bad += files[i] >= 0 && fcntl(files[i], F_GETFD) != -1;
        for (int i = 0; i < 3; ++i) bad += fcntl(i, F_GETFD) == -1 ? 16 : 0;
        _exit(bad);
    }
    waitpid(child, &how, 0);
    CHECK_EQUAL(how, 0);
    prof__server_close_all(v);
    prof__server_reset(v);
    if (!start(NULL)) return;
    CHECK_EQUAL(status_of(get("/status")), 200);
    prof_server_stop();
}

TEST(descriptors_do_not_outlive_exec)
{
    char line[256];
    int sockets = 0, file, others;
    FILE *list;
    if (!start(NULL)) return;
    file = client();
    CHECK_EQUAL(status_of(ask_on(file, "GET /status HTTP/1.1\r\nHost: localhost\r\n\r\n")), 200);
    others = 0;
    for (int i = 0; i < 3; ++i) { /* what the test itself was given */
        struct stat about;
        others += !fstat(i, &about) && S_ISSOCK(about.st_mode);
    }
    list = popen("ls -l /proc/self/fd", "r");
    while (list && fgets(line, sizeof line, list)) sockets += strstr(line, "socket:") != NULL;
    if (list) pclose(list);
    CHECK(sockets <= others + 1); /* stdin and so on may be one */
    close(file);
    prof_server_stop();
}

/* The end of main() answers who still waits. */
TEST(the_end_of_the_program_answers)
{
    int pipes[2], port = 0, how = 1;
#ifdef PROF__THREAD_SANITIZER
    SKIP("the thread sanitizer starts no threads in children of fork");
#endif
    if (pipe(pipes)) return;
    pid_t child = fork();
    if (child == 0) {
        if (prof_server_start(0, NULL)) _exit(2);
        port = prof_server_port();
        if (write(pipes[1], &port, sizeof port) != sizeof port) _exit(3);
        WAIT_UNTIL(prof_enabled());
        work("the last thing", 4);
        exit(0);
    }
    CHECK_EQUAL(read(pipes[0], &port, sizeof port), sizeof port);
    int file = connect_to("127.0.0.1", port);
    reply r = ask_on(file, "GET /trace?ms=60000&format=csv&buffer=1M HTTP/1.1\r\nHost: localhost\r\n\r\n");
    CHECK_EQUAL(r.status, 200);
    CHECK_EQUAL(count(r.body, "the last thing"), 4);
    free(r.body);
    CHECK(is_closed(file));
    close(file);
    waitpid(child, &how, 0);
    CHECK_EQUAL(how, 0);
    close(pipes[0]);
    close(pipes[1]);
}

static volatile int busy_stop;
static void *busy(void *unused)
{
    (void)unused;
    while (!PROF__LOAD(&busy_stop)) {
        PROFILE_SCOPE("busy");
        pause_ms(1);
    }
    return NULL;
}

/* Many scopes with long names of their own, so that a client that does not read has a lot to read. */
static void *busy_with_texts(void *unused)
{
    char text[200];
    (void)unused;
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = 0;
    for (unsigned n = 0; !PROF__LOAD(&busy_stop); ++n) {
        PROFILE_SCOPE_F("%u %s", n, text);
        if (n % (unsigned)trace_times(16, 64, 64) == 0) pause_ms(1);
    }
    return NULL;
}

/* Until so many periods wait for a client that does not read. */
static int wait_for_unread(int file, unsigned least)
{
    for (int i = 0; i < PATIENCE / 5; ++i) {
        reply r = ask_on(file, "GET /status HTTP/1.1\r\nHost: localhost\r\n\r\n");
        const char *at = r.body ? strstr(r.body, "\"unread\":") : NULL;
        int enough = at && strtoul(at + 9, NULL, 10) >= least;
        free(r.body);
        if (enough) return 1;
        pause_ms(5);
    }
    return 0;
}

static long resident(void)
{
    long pages = 0, all;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file && fscanf(file, "%ld %ld", &all, &pages) != 2) pages = 0;
    if (file) fclose(file);
    return pages * 4;
}

TEST(a_thousand_captures_leave_nothing_behind)
{
    int rounds = getenv("PROF_TEST_QUICK") ? 60 : 1000, before = 0, file;
    long memory = 0;
    pthread_t threads[3];
    if (!start(NULL)) return;
    PROF__STORE(&busy_stop, 0);
    for (int i = 0; i < 3; ++i) pthread_create(&threads[i], NULL, busy, NULL);
    file = greet(NULL, 0);
    for (int i = 0; i < rounds; ++i) {
        unsigned char request[256], options[128];
        if (i == rounds / 10) {
            before = descriptors();
            memory = resident();
        }
        if (i % 2) {
            size_t size = put_advanced(options, "buffer", 1, "256K", 0);
            call_on(file, (uint32_t)i, "Profile", request, profile_request(request, 1, "s", options, size));
            result r = get_result(file, (uint32_t)i);
            CHECK_EQUAL(r.grpc_status, 0);
            free(r.body);
        } else {
            CHECK_EQUAL(status_of(get("/trace?ms=1&buffer=256K")), 200);
        }
    }
    CHECK(descriptors() <= before + 1);
    printf("memory: %ld KiB after a tenth, %ld KiB at the end\n", memory, resident());
    if (!TRACE_SANITIZER) CHECK(resident() < memory + 8192); /* they keep what was freed */
    PROF__STORE(&busy_stop, 1);
    for (int i = 0; i < 3; ++i) pthread_join(threads[i], NULL);
    close(file);
    prof_server_stop();
}

/*-- /live --*/

/* A message of /live, and how much the report in it has; see docs/internals/html.md. */
typedef struct message {
    char pairs[2048]; /* "\nkey=value\n..." */
    int report;       /* 1: it has one */
    uint64_t scopes, points;
} message;

typedef struct stream {
    int file;
    size_t at, size;
    unsigned char bytes[65536];
    int held; /* a byte that begins the next message */
} stream;

static int stream_byte(stream *s)
{
    if (s->at == s->size) {
        struct pollfd wait = {s->file, POLLIN, 0};
        ssize_t n = poll(&wait, 1, PATIENCE) > 0 ? recv(s->file, s->bytes, sizeof s->bytes, 0) : -1;
        s->at = 0;
        s->size = n > 0 ? (size_t)n : 0;
        if (n <= 0) return -1;
    }
    return s->bytes[s->at++];
}

static uint64_t stream_number(stream *s)
{
    uint64_t value = 0;
    int byte;
    for (unsigned shift = 0; (byte = stream_byte(s)) >= 0; shift += 7) {
        value |= (uint64_t)(byte & 127) << shift;
        if (byte < 128) return value;
    }
    return UINT64_MAX;
}

static uint64_t number_at(const unsigned char *bytes, size_t size, size_t *at)
{
    uint64_t value = 0;
    for (unsigned shift = 0; *at < size; shift += 7) {
        value |= (uint64_t)(bytes[*at] & 127) << shift;
        if (bytes[(*at)++] < 128) break;
    }
    return value;
}

static void take_pairs(message *m, const unsigned char *bytes, size_t size)
{
    size_t at = 0, used = 1, length;
    number_at(bytes, size, &at);
    strcpy(m->pairs, "\n");
    for (int value = 0; at < size; value = !value) {
        length = (size_t)number_at(bytes, size, &at);
        if (length > size - at || used + length + 2 > sizeof m->pairs) break;
        memcpy(m->pairs + used, bytes + at, length);
        used += length;
        at += length;
        m->pairs[used++] = value ? '\n' : '=';
        m->pairs[used] = 0;
    }
}

/* Reads a message. Returns 0 at the end of the connection. */
static int next_message(stream *s, message *m)
{
    static unsigned char content[1 << 21];
    int kind = s->held, first = 1;
    memset(m, 0, sizeof *m);
    s->held = 0;
    for (;; first = 0) {
        if (!kind && !first && m->pairs[0] && s->at == s->size) { /* a message is sent as a whole: is there more of it? */
            struct pollfd wait = {s->file, POLLIN, 0};
            if (!m->report && poll(&wait, 1, 0) == 0) return 1;
        }
        if (!kind && (kind = stream_byte(s)) < 0) return m->pairs[0] != 0;
        if (kind == 'L' && !first) {
            s->held = kind;
            return 1;
        }
        uint64_t size = stream_number(s), packed = stream_number(s), i;
        size_t at = 0;
        if (size > sizeof content || packed) return 0;
        for (i = 0; i < size; ++i) content[i] = (unsigned char)stream_byte(s);
        if (kind == 'L') take_pairs(m, content, (size_t)size);
        if (kind == 'H') m->report = 1;
        if (kind == 'Z') {
            number_at(content, (size_t)size, &at);
            m->scopes = number_at(content, (size_t)size, &at);
            m->points = number_at(content, (size_t)size, &at);
            return 1;
        }
        kind = 0;
    }
}

/* Returns where the value is. */
static const char *has_pair(const message *m, const char *key)
{
    char line[64];
    snprintf(line, sizeof line, "\n%s=", key);
    const char *at = strstr(m->pairs, line);
    return at ? at + strlen(line) : NULL;
}

static uint64_t pair_of(const message *m, const char *key)
{
    const char *at = has_pair(m, key);
    return at ? strtoull(at, NULL, 10) : UINT64_MAX;
}

static int state_is(const message *m, const char *state)
{
    char line[64];
    snprintf(line, sizeof line, "\nstate=%s\n", state);
    return strstr(m->pairs, line) != NULL;
}

static stream watch_as(const char *target, int *status)
{
    stream s;
    memset(&s, 0, sizeof s);
    s.file = client();
    reply r = ask_on(s.file, "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n", target);
    *status = r.status;
    free(r.body);
    return s;
}

static stream *watch(void)
{
    static stream s;
    int status;
    s = watch_as("/live?buffer=1M", &status);
    CHECK_EQUAL(status, 200);
    return &s;
}

/* Reads messages until one says so. Returns how many scopes they have. */
static uint64_t watch_until(stream *s, message *m, const char *state)
{
    uint64_t scopes = 0;
    while (next_message(s, m)) {
        scopes += m->scopes;
        if (state_is(m, state)) return scopes;
    }
    printf("no message says %s\n", state);
    ++test_failures;
    return scopes;
}

TEST(serves_the_page)
{
    int file;
    reply r;
    if (!start(NULL)) return;
    file = client();
    r = ask_on(file, "GET / HTTP/1.1\r\nHost: localhost\r\nAccept: text/html,*/*\r\n\r\n");
    CHECK_EQUAL(r.status, 200);
    CHECK(strstr(r.head, "content-type: text/html; charset=utf-8\r\n") != NULL);
    CHECK(strstr(r.head, "default-src 'none'; script-src 'nonce-prof'; style-src 'unsafe-inline'; connect-src 'self'; "
                         "worker-src blob:; frame-ancestors 'none'\r\n") != NULL);
    CHECK_EQUAL(count(r.body, "default-src 'none'; connect-src 'self'; script-src 'nonce-prof'"), 1);
    CHECK_EQUAL(count(r.body, "fetch('/live"), 1);
    CHECK_EQUAL(count(r.body, "<script nonce="), 1); /* the live part is in the page's own */
    free(r.body);
    CHECK_EQUAL(status_of(ask_on(file, "GET /?level=1 HTTP/1.1\r\nHost: localhost\r\nAccept: text/html\r\n\r\n")), 200);
    CHECK_EQUAL(status_of(ask_on(file, "GET /?x=1 HTTP/1.1\r\nHost: localhost\r\nAccept: text/html\r\n\r\n")), 400);
    r = ask_on(file, "GET / HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\n\r\n");
    CHECK(strstr(r.head, "content-type: text/plain") != NULL);
    CHECK(strstr(r.head, "script-src") == NULL);
    free(r.body);
    r = ask_on(file, "GET / HTTP/1.1\r\nHost: evil.example\r\nAccept: text/html\r\n\r\n");
    CHECK_EQUAL(r.status, 403);
    CHECK(strstr(r.head, "script-src") == NULL);
    free(r.body);
    close(file);
    CHECK_EQUAL(prof_enabled(), 0); /* the page alone starts nothing */
    prof_server_stop();
}

TEST(a_watcher_needs_the_token)
{
    prof_server_options options;
    memset(&options, 0, sizeof options);
    options.token = "secret-token";
    if (!start(&options)) return;
    for (int i = 0; i < 2; ++i) {
        int file = client();
        reply r = ask_on(file, "GET %s HTTP/1.1\r\nHost: localhost\r\nAccept: text/html\r\n\r\n", i ? "/live" : "/");
        CHECK_EQUAL(r.status, 401);
        CHECK(strstr(r.head, "www-authenticate: Bearer\r\n") != NULL);
        CHECK(strstr(r.head, "www-authenticate: Basic realm=") != NULL); /* so that browsers ask for it */
        free(r.body);
        close(file);
    }
    int file = client();
    CHECK_EQUAL(status_of(ask_on(file, "GET /live HTTP/1.1\r\nHost: x\r\nOrigin: http://evil.example\r\n"
                                       "Authorization: Bearer secret-token\r\n\r\n")), 403);
    close(file);
    file = client();
    CHECK_EQUAL(status_of(ask_on(file, "GET /live HTTP/1.1\r\nHost: x\r\nOrigin: http://x\r\n"
                                       "Authorization: Basic bWU6c2VjcmV0LXRva2Vu\r\n\r\n")), 200);
    close(file);
    prof_server_stop();
}

/* A session of its own while somebody watches, and nothing when nobody does. */
TEST(watching_records_a_program_that_does_not)
{
    message m;
    if (!start(NULL)) return;
    CHECK_EQUAL(prof_enabled(), 0);
    stream *s = watch();
    do CHECK(next_message(s, &m));
    while (m.pairs[0] && !m.report);
    CHECK(state_is(&m, "recording"));
    static const char *const keys[] = {
        "state",     "categories", "session", "level",      "on_demand",      "read_only", "buffer", "streamed",
        "period_ns", "took_ns",    "skipped", "skipped_ns", "overwritten_ns", "from_ns",   "joins",
    };
    for (size_t i = 0; i < sizeof keys / sizeof *keys; ++i) CHECK(has_pair(&m, keys[i])); /* none was left out */
    CHECK_EQUAL(pair_of(&m, "on_demand"), 1);
    CHECK_EQUAL(prof_enabled(), 1);
    work("watched", 1000);
    uint64_t scopes = 0;
    while (scopes < 1000 && next_message(s, &m)) scopes += m.scopes;
    CHECK(scopes >= 1000);
    CHECK_EQUAL(pair_of(&m, "skipped_ns"), 0);
    CHECK_EQUAL(pair_of(&m, "overwritten_ns"), 0);
    close(s->file);
    CHECK(wait_for_status("\"session\":\"none\""));
    CHECK(wait_for_status("\"watching\":0"));
    CHECK_EQUAL(prof_enabled(), 0);
    prof_server_stop();
}

/* The program starts a session, stops it, and starts the next one, while somebody watches. */
TEST(a_watcher_sees_sessions_come_and_go)
{
    message m;
    uint64_t first;
    if (!start(NULL)) return;
    stream *s = watch();
    watch_until(s, &m, "recording");
    first = pair_of(&m, "session");
    CHECK(start_recording(PROF_RING));
    work("of the program", 5);
    do CHECK(next_message(s, &m));
    while (m.pairs[0] && pair_of(&m, "on_demand"));
    CHECK(pair_of(&m, "session") != first);
    first = pair_of(&m, "session");
    work("the last before the end", 100);
    CHECK_EQUAL(prof_stop(), PROF_OK);
    CHECK(watch_until(s, &m, "stopped") + m.scopes >= 100);
    CHECK_EQUAL(pair_of(&m, "session"), first);
    CHECK_EQUAL(prof_enabled(), 0); /* what it recorded is not discarded for somebody who watches */
    CHECK(start_recording(PROF_RING));
    watch_until(s, &m, "recording");
    CHECK(pair_of(&m, "session") != first);
    CHECK_EQUAL(prof_pause(), PROF_OK);
    watch_until(s, &m, "paused");
    CHECK_EQUAL(prof_resume(), PROF_OK);
    watch_until(s, &m, "recording");
    CHECK_EQUAL(prof_stop(), PROF_OK);
    CHECK(start_recording(PROF_STATS));
    watch_until(s, &m, "stats");
    CHECK_EQUAL(m.report, 0);
    CHECK_EQUAL(prof_stop(), PROF_OK);
    close(s->file);
    prof_server_stop();
}

TEST(a_watcher_is_told_that_the_server_stops)
{
    message m;
    if (!start(NULL)) return;
    stream *s = watch();
    watch_until(s, &m, "recording");
    work("before the end", 100);
    CHECK_EQUAL(prof_server_stop(), PROF_OK);
    watch_until(s, &m, "over");
    CHECK_EQUAL(next_message(s, &m), 0);
    close(s->file);
    CHECK_EQUAL(prof_enabled(), 0);
}

static int time_was_skipped(const message *m)
{
    return m->report && pair_of(m, "skipped_ns") > 0;
}

/* Periods that it does not read are not kept for it. */
TEST(a_watcher_that_does_not_read_costs_no_memory)
{
    message m;
    pthread_t thread;
    int small = 32768, large = 1 << 20, file;
    stream s;
    memset(&s, 0, sizeof s);
    if (!start(NULL)) return;
    CHECK(start_recording(PROF_RING));
    PROF__STORE(&busy_stop, 0);
    pthread_create(&thread, NULL, busy_with_texts, NULL);
    s.file = client();
    setsockopt(s.file, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    reply r = ask_on(s.file, "GET /live HTTP/1.1\r\nHost: localhost\r\n\r\n");
    CHECK_EQUAL(r.status, 200);
    free(r.body);
    file = client();
    CHECK(wait_for_status_on(file, "\"watching\":1"));
    memset(&m, 0, sizeof m);
    for (int i = 0; i < 10 && !time_was_skipped(&m); ++i) { /* more than once if buffers of the system took it all */
        CHECK(wait_for_unread(file, 3 + (unsigned)(m.pairs[0] ? pair_of(&m, "skipped") : 0)));
        pause_ms(3500); /* longer than what the next period may have */
        setsockopt(s.file, SOL_SOCKET, SO_RCVBUF, &large, sizeof large);
        for (int k = 0; k < 20 && next_message(&s, &m) && !time_was_skipped(&m); ++k) continue;
    }
    CHECK(pair_of(&m, "skipped") > 0); /* that message may be older than the last of the three */
    CHECK(pair_of(&m, "skipped_ns") > 0);
    CHECK_EQUAL(pair_of(&m, "joins"), 0); /* something is missing before it */
    PROF__STORE(&busy_stop, 1);
    pthread_join(thread, NULL);
    close(file);
    close(s.file);
    CHECK_EQUAL(prof_stop(), PROF_OK);
    prof_server_stop();
}

TEST(few_can_watch)
{
    stream all[PROF__SERVER_WATCHERS];
    int status;
    if (!start(NULL)) return;
    for (int i = 0; i < PROF__SERVER_WATCHERS; ++i) {
        all[i] = watch_as("/live?buffer=1M", &status);
        CHECK_EQUAL(status, 200);
    }
    reply r = get("/live");
    CHECK_EQUAL(r.status, 503);
    CHECK(r.body && strstr(r.body, "clients are watching already"));
    free(r.body);
    close(watch_as("/live?buffer=1G", &status).file);
    CHECK_EQUAL(status, 400);
    close(watch_as("/live?output=x", &status).file);
    CHECK_EQUAL(status, 400);
    CHECK_EQUAL(status_of(post("/level?level=3")), 200);
    CHECK_EQUAL(prof__session_status_now().level, 3);
    for (int i = 0; i < PROF__SERVER_WATCHERS; ++i) close(all[i].file);
    CHECK(wait_for_status("\"session\":\"none\""));
    prof_server_stop();
}

/* A program that is killed says nothing any more; a child of fork() does not hold the connection open. */
TEST(a_watcher_sees_that_the_program_died)
{
    message m;
    int pipes[2], port = 0, how = 0, hold[2];
    stream s;
#ifdef PROF__THREAD_SANITIZER
    SKIP("the thread sanitizer starts no threads in children of fork");
#endif
    memset(&s, 0, sizeof s);
    if (pipe(pipes) || pipe(hold)) return;
    pid_t child = fork();
    if (child == 0) {
        char byte;
        close(hold[1]);
        if (prof_server_start(0, NULL)) _exit(2);
        port = prof_server_port();
        while (!prof_enabled() && port) { /* it is forked while it is watched */
            if (write(pipes[1], &port, sizeof port) != sizeof port) _exit(3);
            WAIT_UNTIL(prof_enabled());
        }
        if (fork() == 0) { /* lives on, until the test ends */
            if (read(hold[0], &byte, 1)) _exit(1);
            _exit(0);
        }
        if (write(pipes[1], &port, sizeof port) != sizeof port) _exit(3);
        for (;;) work("until it is killed", 1), pause_ms(1);
    }
    close(hold[0]);
    CHECK_EQUAL(read(pipes[0], &port, sizeof port), sizeof port);
    s.file = connect_to("127.0.0.1", port);
    reply r = ask_on(s.file, "GET /live?buffer=1M HTTP/1.1\r\nHost: localhost\r\n\r\n");
    CHECK_EQUAL(r.status, 200);
    free(r.body);
    CHECK_EQUAL(read(pipes[0], &port, sizeof port), sizeof port); /* it has forked */
    do CHECK(next_message(&s, &m));
    while (m.pairs[0] && m.scopes == 0);
    kill(child, SIGKILL);
    waitpid(child, &how, 0);
    while (next_message(&s, &m)) CHECK(!state_is(&m, "over"));
    close(s.file);
    close(hold[1]);
    close(pipes[0]);
    close(pipes[1]);
}

TEST_MAIN
