/* A small game with all the usual parts, to see what a real frame looks like in a profile: a flock of gulls crosses a
   mountain lake while meteors fall. The simulation has a fixed step and a broad phase, the landscape is drawn by a
   software renderer, both spread over worker threads by a job system, and a sound thread keeps its own time.

       cc -std=c99 -O2 examples/game.c -o game -pthread && ./game

   It runs for three seconds at 60 frames a second, writes the page beside the trace, and prints where that is and where
   the time went. Arguments, all optional: the files for the trace, the last frame (.png) and the sound (.wav). Every
   number that decides the picture is an integer, so that the last frame is the same, byte for byte, on every machine.

   What to look for in the trace: each meteor costs a frame. Find out why, and what would repair it.

   The parts are in game/, all one translation unit. Each names its category in its first lines. */
#define _POSIX_C_SOURCE 200809L
#define PROF_IMPLEMENTATION
#include "../prof_chrome.h"
#include "../prof_html.h"
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define COUNT(array) ((int)(sizeof(array) / sizeof(array)[0]))

enum {
    FRAMES = 180,
    FRAME_NS = 1000000000 / 60,
    WIDTH = 960, /* of the picture, in pixels */
    HEIGHT = 540,
    HORIZON = 175,
    FOCAL = 560,
    STRIP = 32,  /* columns that one job draws */
    MAP = 1024,  /* the world is a square of MAP x MAP cells whose edges meet */
    ROWS = 32,   /* rows of the map, or of the picture, that one job treats */
    SEED = 2,    /* of the landscape */
    WATER = 36,  /* height of the lake, cells */
    BIRDS = 900,
    SPARKS = 6000,
    FLOCK = 60,  /* birds that one job moves */
    BATCH = 600, /* sparks that one job moves, or sprites that one projects */
    CELL = 8,    /* width of a cell of the birds' grid */
    GRID = MAP / CELL
};

#include "game/maths.h"
#include "game/jobs.h"
#include "game/audio.h"
#include "game/world.h"
#include "game/sim.h"
#include "game/render.h"
#include "game/files.h"

#undef PROF_CATEGORY
#define PROF_CATEGORY "game"

static void load(void)
{
    PROFILE_FUNCTION();
    load_world();
    start_simulation();
    start_picture();
}

static void play_frame(int frame)
{
    int64_t start = now_ns();
    PROFILE_FUNCTION();
    PROFILE_ARG_I("number", frame);
    simulate(frame);
    render();
    PROFILE_COUNTER("frame ms", (double)(now_ns() - start) / 1e6);
}

static void play(void)
{
    int64_t next = now_ns();
    for (int frame = 0; frame < FRAMES; frame++) {
        PROFILE_FRAME("frame");
        play_frame(frame);
        PROFILE_SCOPE("wait for the display");
        next += FRAME_NS;
        sleep_until(next);
        if (next < now_ns() - FRAME_NS) next = now_ns(); /* too late to catch up */
    }
}

/* Writes the page beside the trace, and prints its address. */
static prof_status write_page(const prof_trace *trace, const char *beside)
{
    char page[4096], whole[4096];
    const char *dot = strrchr(beside, '.');
    snprintf(page, sizeof page, "%.*s.html", (int)(dot ? dot - beside : (long)strlen(beside)), beside);
    prof_status status = prof_html_write(trace, page, NULL);
    if (status == PROF_OK)
        printf("The page, which a browser opens: file://%s\n\n", realpath(page, whole) ? whole : page);
    return status;
}

/* Prints where the time went, from the recorder in the same process. */
static int report(const char *path)
{
    prof_summary_options options = {.top = 24};
    prof_trace *trace;
    if (prof_trace_open_live(&trace) != PROF_OK) return 0;
    prof_status status = write_page(trace, path);
    if (status == PROF_OK) status = prof_summary_write(trace, "-", &options);
    prof_trace_close(trace);
    return status == PROF_OK;
}

int main(int argc, char **argv)
{
    const char *trace = argc > 1 ? argv[1] : "build/demo/trace.json";
    const char *image = argc > 2 ? argv[2] : "build/demo/picture.png";
    const char *wav = argc > 3 ? argv[3] : "build/demo/sound.wav";
    if (argc < 4) mkdir("build", 0777), mkdir("build/demo", 0777);

    prof_config config = {.output = trace};
    prof_status status = prof_start(&config);
    PROFILE_THREAD("game");
    if (status != PROF_OK) fprintf(stderr, "game: no trace: %s\n", prof_error());

    jobs_start();
    start_thread(&sound.thread, sound_thread, 0);
    load();
    play();
    stop_sound();
    jobs_stop();
    write_picture(image);
    write_sound(wav);

    if (status == PROF_OK && (prof_stop() != PROF_OK || !report(trace))) {
        fprintf(stderr, "game: no trace: %s\n", prof_error());
        return 1;
    }
    printf("The last frame is in %s, what was heard in %s.\n", image, wav);
    if (status == PROF_OK)
        printf("The trace is in %s, too: open https://ui.perfetto.dev and drag it into the page,\n"
               "or load it in chrome://tracing or https://www.speedscope.app.\n", trace);
    return 0;
}
