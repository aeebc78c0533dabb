/* overlay.h - what a profile says, on the screen of the running game: a graph of frames, the top scopes, memory.
   overlay_read() gets the figures out of the recorder and knows no engine; overlay_draw() draws them with two functions
   of the engine: a filled box and a text. overlay_sdl.c shows both with SDL2.

   What overlay_read() costs grows with the events in the buffer, about 0.06 us for each, and a little with its size:
   see docs/guide/games.md. So call it on a thread of its own, two to four times a second, with a buffer of some MiB; the
   frame only copies the struct and draws. Threads that record don't wait. */
#ifndef OVERLAY_H
#define OVERLAY_H
#include "../../prof_read.h"
#include <stdio.h>
#include <string.h>

enum { OVERLAY_FRAMES = 120, OVERLAY_SCOPES = 8, OVERLAY_NAME = 24 };

typedef struct overlay_scope {
    char name[OVERLAY_NAME];
    unsigned long long calls;
    double self_ms, max_ms; /* self_ms: for each frame, without what is in it */
} overlay_scope;

typedef struct overlay {
    double frame_ms[OVERLAY_FRAMES]; /* the newest, the last of them at [frame_count - 1] */
    int frame_count;
    unsigned long long frames; /* in the time that was read, as all of the following */
    double mean_ms, worst_ms;
    overlay_scope scopes[OVERLAY_SCOPES]; /* those with the most self time */
    int scope_count;
    double memory;                        /* the last value of the counter "memory" */
    unsigned long long allocations, lost; /* PROFILE_ALLOC; events that were not recorded, since the start */
} overlay;

/*-- the data --------------------------------------------------------------------------------------------------------*/

static void overlay_add_frame(overlay *o, double ms)
{
    if (o->frame_count == OVERLAY_FRAMES) {
        memmove(o->frame_ms, o->frame_ms + 1, sizeof o->frame_ms - sizeof o->frame_ms[0]);
        o->frame_count--;
    }
    o->frame_ms[o->frame_count++] = ms;
    o->mean_ms += (ms - o->mean_ms) / (double)++o->frames;
    if (ms > o->worst_ms) o->worst_ms = ms;
}

/* Reads frames and memory of all threads, one after the other. */
static prof_status overlay_read_events(overlay *o, const prof_trace *trace)
{
    prof_cursor *cursor;
    prof_event event;
    int64_t newest = -1;
    for (size_t i = 0; i < prof_trace_track_count(trace); i++) {
        prof_status status = prof_cursor_open(trace, i, &cursor);
        if (status != PROF_OK) return status;
        while (prof_cursor_next(cursor, &event)) {
            if (event.type == PROF_EVENT_FRAME && event.duration_ns > 0 && !event.flags)
                overlay_add_frame(o, (double)event.duration_ns / 1e6);
            if (event.type == PROF_EVENT_ALLOC) o->allocations++;
            if (event.type == PROF_EVENT_COUNTER && !strcmp(event.name, "memory") && event.start_ns > newest) {
                newest = event.start_ns;
                o->memory = event.value.type == PROF_VALUE_INT ? (double)event.value.as.i : event.value.as.d;
            }
        }
        prof_cursor_close(cursor);
    }
    return PROF_OK;
}

static prof_status overlay_read_scopes(overlay *o, const prof_trace *trace)
{
    prof_stat *stats;
    size_t count;
    prof_status status = prof_stats(trace, PROF_SORT_SELF, 0, &stats, &count);
    for (size_t i = 0; i < count && o->scope_count < OVERLAY_SCOPES; i++) {
        overlay_scope *scope = &o->scopes[o->scope_count];
        if (stats[i].count == stats[i].truncated) continue; /* all of its calls are cut by the window */
        snprintf(scope->name, sizeof scope->name, "%s", stats[i].name);
        scope->calls = stats[i].count;
        scope->self_ms = (double)stats[i].self_ns / 1e6 / (double)(o->frames ? o->frames : 1);
        scope->max_ms = (double)stats[i].max_ns / 1e6;
        o->scope_count++;
    }
    if (status == PROF_OK) prof_stats_free(stats);
    return status;
}

/* Reads the last seconds of the running session, or of the one that has ended. */
static inline prof_status overlay_read(overlay *o, double seconds)
{
    prof_trace *trace;
    prof_status status = prof_trace_open_live(&trace);
    memset(o, 0, sizeof *o);
    if (status != PROF_OK) return status;
    int64_t from = prof_trace_about(trace)->duration_ns - (int64_t)(seconds * 1e9);
    status = prof_trace_set_window(trace, from > 0 ? from : 0, 0);
    if (status == PROF_OK) status = overlay_read_events(o, trace);
    if (status == PROF_OK) status = overlay_read_scopes(o, trace);
    o->lost = prof_trace_about(trace)->lost;
    prof_trace_close(trace);
    return status;
}

/*-- the drawing -----------------------------------------------------------------------------------------------------*/

/* What an engine draws with. Colours are 0xRRGGBB. */
typedef struct overlay_painter {
    void (*box)(void *user, int x, int y, int width, int height, unsigned color);
    void (*text)(void *user, int x, int y, unsigned color, const char *text);
    void *user;
    int letter, line; /* the width of a letter, and the height of a line */
} overlay_painter;

static unsigned overlay_color(double ms, double limit_ms)
{
    return ms > 2 * limit_ms ? 0xe05050 : ms > limit_ms ? 0xe0c050 : 0x50c080;
}

/* Draws a bar for each frame, with a line where frames ought to end. */
static void overlay_draw_frames(const overlay *o, const overlay_painter *p, int x, int y, int height, double limit_ms)
{
    for (int i = 0; i < o->frame_count; i++) {
        double share = o->frame_ms[i] / (3 * limit_ms);
        int bar = share < 1 ? (int)(share * height) + 1 : height;
        p->box(p->user, x + i * 3, y + height - bar, 2, bar, overlay_color(o->frame_ms[i], limit_ms));
    }
    p->box(p->user, x, y + height - height / 3, OVERLAY_FRAMES * 3, 1, 0xffffff);
}

/* Draws everything, with the left upper corner at x, y. limit_ms: what a frame may take. */
static inline void overlay_draw(const overlay *o, const overlay_painter *p, int x, int y, double limit_ms)
{
    char text[128];
    int graph = 4 * p->line, width = OVERLAY_NAME * p->letter + 24 * p->letter, row = y + graph + p->line;
    p->box(p->user, x - 6, y - 6, width + 12, (o->scope_count + 4) * p->line + graph + 12, 0x101820);
    overlay_draw_frames(o, p, x, y, graph, limit_ms);
    snprintf(text, sizeof text, "frame %.1f ms, worst %.1f", o->mean_ms, o->worst_ms);
    p->text(p->user, x, row, 0xffffff, text);
    snprintf(text, sizeof text, "memory %.1f MiB, %llu allocations", o->memory, o->allocations);
    p->text(p->user, x, row += p->line, 0xffffff, text);
    snprintf(text, sizeof text, "%-*s %8s %8s", OVERLAY_NAME, "self ms a frame", "calls", "max ms");
    p->text(p->user, x, row += p->line, 0x90a0b0, text);
    for (int i = 0; i < o->scope_count; i++) {
        const overlay_scope *scope = &o->scopes[i];
        double share = scope->self_ms / limit_ms;
        p->box(p->user, x, row += p->line, (int)((share < 1 ? share : 1) * width), p->line - 2, 0x304860);
        snprintf(text, sizeof text, "%6.2f %-*.*s %8llu %8.2f", scope->self_ms, OVERLAY_NAME - 7, OVERLAY_NAME - 7,
                 scope->name, scope->calls, scope->max_ms);
        p->text(p->user, x, row, 0xffffff, text);
    }
    if (o->lost) {
        snprintf(text, sizeof text, "%llu events lost", o->lost);
        p->text(p->user, x, row + p->line, 0xe05050, text);
    }
}
#endif
