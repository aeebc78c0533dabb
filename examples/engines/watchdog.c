/* A watchdog of frame times: the game records all the time into a small ring. Two things make it save its last
   seconds. A frame that took too long, after it has ended: prof's own thread finds it (save_over). And a frame that
   does not end at all: a thread of the game finds that, says where the game hangs, and saves (prof_save_last_ns).

       cc -O2 examples/engines/watchdog.c -o watchdog -pthread && ./watchdog

   It leaves slow-1.prof, of frame 40; hang-80.prof, of frame 80, which waits until it is found; and slow-2.prof, of
   the same frame once it has ended. prof_save_request() would do instead of prof_save_last_ns() where a thread has no time
   to write a file: it only sets a flag. */
#define _GNU_SOURCE
#define PROF_IMPLEMENTATION
#include "../../prof_read.h"
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { FRAMES = 120, SLOW_FRAME = 40, HANGING_FRAME = 80, HANG_MS = 500 };

static void sleep_ms(int ms) { nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000L}, NULL); }

static int frame_now, found; /* atomic; found: the last frame that the watchdog reported */

/*-- the watchdog ----------------------------------------------------------------------------------------------------*/

/* Prints the scopes that are open on the thread of this name: where it hangs. */
static void print_open_scopes(const prof_trace *trace, const char *thread)
{
    prof_cursor *cursor;
    prof_event event;
    for (size_t i = 0; i < prof_trace_track_count(trace); i++) {
        if (strcmp(prof_trace_track(trace, i)->name, thread) || prof_cursor_open(trace, i, &cursor)) continue;
        while (prof_cursor_next(cursor, &event))
            if (event.type == PROF_EVENT_SCOPE && event.flags & PROF_TRUNCATED_END)
                printf(" > %s (line %u)", event.name, (unsigned)event.site->line);
        prof_cursor_close(cursor);
    }
}

static void report(int frame)
{
    char path[32];
    prof_trace *trace;
    PROFILE_FUNCTION();
    PROFILE_ARG_I("frame", frame);
    printf("frame %d hangs:", frame);
    if (prof_trace_open_live(&trace) == PROF_OK) print_open_scopes(trace, "game");
    prof_trace_close(trace);
    snprintf(path, sizeof path, "hang-%d.prof", frame);
    printf("\n%s: %s\n", path, prof_save_last_ns(path, 5 * PROF_SECOND) == PROF_OK ? "saved" : prof_error());
}

static void *watch(void *unused)
{
    int last = -1, since_ms = 0;
    PROFILE_THREAD("watchdog");
    for (;;) {
        int frame = __atomic_load_n(&frame_now, __ATOMIC_ACQUIRE);
        if (frame == FRAMES) return unused;
        since_ms = frame == last ? since_ms + 10 : 0;
        last = frame;
        if (since_ms >= HANG_MS && __atomic_load_n(&found, __ATOMIC_RELAXED) != frame) {
            report(frame);
            __atomic_store_n(&found, frame, __ATOMIC_RELEASE);
        }
        sleep_ms(10);
    }
}

/*-- the game --------------------------------------------------------------------------------------------------------*/

static void load_texture(int frame)
{
    PROFILE_FUNCTION();
    if (frame == SLOW_FRAME) sleep_ms(150);
    PROFILE_SCOPE("wait for the disk");
    while (frame == HANGING_FRAME && __atomic_load_n(&found, __ATOMIC_ACQUIRE) != frame) sleep_ms(1);
}

static void play_frame(int frame)
{
    PROFILE_FUNCTION();
    PROFILE_ARG_I("frame", frame);
    load_texture(frame);
    sleep_ms(2);
}

int main(void)
{
    pthread_t watchdog;
    prof_config config = {.buffer_size = 256 << 10};
    config.save = "slow-%c.prof";
    config.save_over = "frame>100ms"; /* 16.7ms in earnest */
    config.save_last_ns = 5 * PROF_SECOND;
    config.save_every_ns = PROF_SECOND / 100; /* at most so often; 10 s or more in earnest */
    if (prof_start(&config) != PROF_OK) return fprintf(stderr, "%s\n", prof_error()), 1;
    PROFILE_THREAD("game");
    pthread_create(&watchdog, NULL, watch, NULL);
    for (int frame = 0; frame < FRAMES; frame++) {
        __atomic_store_n(&frame_now, frame, __ATOMIC_RELEASE);
        PROFILE_FRAME("frame");
        play_frame(frame);
    }
    PROFILE_FRAME("frame");
    __atomic_store_n(&frame_now, FRAMES, __ATOMIC_RELEASE);
    pthread_join(watchdog, NULL);
    if (prof_stop() != PROF_OK) return fprintf(stderr, "%s\n", prof_error()), 1;
    return 0;
}
