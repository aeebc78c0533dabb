/* A flight recorder: a server records all the time into a small ring and saves it whenever a request was slow. The ring
   is a mapped file, so that the last moments are on disk even when the server dies; here SIGKILL ends it in the middle
   of a request, and its parent reads what it left.

       cc -O2 examples/flight_recorder.c -o flight_recorder -pthread && ./flight_recorder

   It leaves flight_recorder.prof (the last moments) and slow-1.prof (around the slow request). Another process may read
   both, also while the server is still running: see read_trace.c. */
#define PROF_IMPLEMENTATION
#include "../prof.h"
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#if !PROF_ENABLE
#error "flight_recorder.c is about the recorder: compile it without PROF_ENABLE=0"
#endif

enum { SLOW_MS = 60, SLOW_REQUEST = 2000, LAST_REQUEST = 3000 };

static double now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/*-- the server ------------------------------------------------------------------------------------------------------*/

static unsigned table[1 << 14];

/* Follows a key through the table. */
static unsigned lookup(unsigned key)
{
    unsigned slot = key * 2654435761u >> 18;
    PROFILE_FUNCTION();
    for (int step = 0; step < 2000; step++) slot = (slot + table[slot] + 1) & ((1 << 14) - 1);
    return slot;
}

static unsigned answer(int request)
{
    unsigned result = 0;
    PROFILE_FUNCTION();
    PROFILE_STAGE("look up");
    for (unsigned key = 0; key < 10; key++) result += lookup((unsigned)request * 10 + key);
    PROFILE_NEXT("read from disk");
    if (request == SLOW_REQUEST) { /* the disk has to spin up */
        struct timespec pause = {0, 100000000};
        nanosleep(&pause, NULL);
    }
    PROFILE_NEXT("reply");
    if (request == LAST_REQUEST) raise(SIGKILL);
    return result;
}

/* Called after every request: costs a clock reading unless it was slow. The server does not stop for it. */
static void watch(int request, double ms)
{
    static int saved;
    char path[64];
    if (ms < SLOW_MS || saved == 10) return;
    PROFILE_MARK_F("request %d took %.0f ms", request, ms);
    snprintf(path, sizeof path, "slow-%d.prof", ++saved);
    if (prof_save(path) != PROF_OK) fprintf(stderr, "server: %s\n", prof_error());
}

static void serve(void)
{
    prof_config config = {.output = "flight_recorder.prof", .buffer_size = 256 * 1024};
    if (prof_start(&config) != PROF_OK) fprintf(stderr, "server: no flight recorder: %s\n", prof_error());
    PROFILE_THREAD("server");
    for (unsigned i = 0; i < 1 << 14; i++) table[i] = i * i;
    for (int request = 1;; request++) {
        double start = now_ms();
        PROFILE_BLOCK("request") {
            unsigned result = answer(request);
            PROFILE_ARG_I("number", request);
            PROFILE_ARG_U("answer", result);
        }
        watch(request, now_ms() - start);
    }
}

/*-- the parent reads ------------------------------------------------------------------------------------------------*/

/* What the server was doing when the recording ended: the scopes without an end. */
static void print_open_scopes(const prof_trace *trace)
{
    prof_event event;
    for (size_t i = 0; i < prof_trace_track_count(trace); i++) {
        prof_cursor *cursor;
        if (prof_cursor_open(trace, i, &cursor) != PROF_OK) continue;
        while (prof_cursor_next(cursor, &event))
            if (event.type == PROF_EVENT_SCOPE && event.flags & PROF_TRUNCATED_END)
                printf("open: %s %*s%s (%s:%u)\n", prof_trace_track(trace, i)->name, (int)event.depth * 2, "",
                       event.name, event.site->file, (unsigned)event.site->line);
        prof_cursor_close(cursor);
    }
}

static int report(const char *path)
{
    prof_summary_options options = {.sort = PROF_SORT_MAX, .top = 8};
    prof_trace *trace;
    if (prof_trace_open(path, &trace) != PROF_OK) {
        fprintf(stderr, "flight_recorder: %s\n", prof_error());
        return 0;
    }
    printf("\n== %s\n", path);
    print_open_scopes(trace);
    prof_status status = prof_summary_write(trace, "-", &options);
    prof_trace_close(trace);
    return status == PROF_OK;
}

int main(void)
{
    int status;
    pid_t server = fork();
    if (server == 0) serve();
    if (server < 0 || waitpid(server, &status, 0) != server) {
        perror("flight_recorder");
        return 1;
    }
    printf("The server died of signal %d.\n", WIFSIGNALED(status) ? WTERMSIG(status) : 0);
    fflush(stdout);
    return report("slow-1.prof") & report("flight_recorder.prof") ? 0 : 1;
}
