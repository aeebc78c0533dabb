/* A flight recorder: a server records all the time into a small ring and saves its last seconds whenever a request was
   slow, or on `kill -USR1`. The ring is a mapped file, so that the last moments are on disk even when the
   server dies; here SIGKILL ends it in the middle of a request, and its parent reads what it left.

       cc -O2 examples/flight_recorder.c -o flight_recorder -pthread && ./flight_recorder

   It leaves flight_recorder.prof (the last moments) and slow-1.prof (what led to the slow request). Another process may
   read both, also while the server is still running: see read_trace.c. */
#define PROF_IMPLEMENTATION
#include "../prof_read.h"
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SLOW_REQUEST = 2000, LAST_REQUEST = 6000 };

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

static void serve(void)
{
    prof_config config = {.output = "flight_recorder.prof", .buffer_size = 256 * 1024};
    config.save = "slow-%c.prof";              /* slow-1.prof, slow-2.prof, ... */
    config.save_over = "scope:request>60ms";   /* in a game: "frame>16.7ms" */
    config.save_last_ns = 5 * PROF_SECOND;     /* if the ring still holds them */
    config.save_every_ns = 30 * PROF_SECOND;   /* the minimum between two saves */
    config.save_signal = SIGUSR1;              /* saves on request; prof_save_request() does the same */
    if (prof_start(&config) != PROF_OK) fprintf(stderr, "server: no flight recorder: %s\n", prof_error());
    PROFILE_THREAD("server");
    for (unsigned i = 0; i < 1 << 14; i++) table[i] = i * i;
    for (int request = 1;; request++) {
        PROFILE_SCOPE("request"); /* a background thread of prof watches how long these take, and saves */
        unsigned result = answer(request);
        PROFILE_ARG_I("number", request);
        PROFILE_ARG_U("answer", result);
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
