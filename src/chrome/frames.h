// chrome/frames: Writes frames, each name on a track of its own.
#ifndef PROF__CHROME_FRAMES_H
#define PROF__CHROME_FRAMES_H
#include "api/read.h"
#include "ground/out.h"
#include "chrome/args.h"
#include "chrome/instants.h"
#include "chrome/line.h"
#include "chrome/numbers.h"
#include "chrome/state.h"

/*-- frames --*/

/* Returns the track for frames of this name and frame object. Adds it if it is new. Returns NULL if there are too
   many. */
static prof__chrome_frames *prof__chrome_frame_track(prof__chrome *c, prof__chrome_track *track, const char *name,
                                                     uint64_t id, int64_t start)
{
    prof__chrome_frames *frames = track->frames;
    size_t i;
    for (i = 0; i < track->frame_count; i++, frames++)
        if (frames->id == id && (frames->name == name || !strcmp(frames->name, name))) return frames;
    if (i == PROF__CHROME_FRAMES) return NULL;
    track->frame_count++;
    frames->name = name;
    frames->id = id;
    frames->tid = prof__chrome_new_id(c);
    frames->origin = start;
    prof__chrome_thread_name(c, frames->tid, "frames: ", name);
    prof__chrome_sort_index(c, frames->tid, (int64_t)c->frame_tracks++ - 1000000);
    return frames;
}

/* Writes a frame. Its name has its number, because speedscope joins adjacent scopes with one name. */
static void prof__chrome_frame_line(prof__chrome *c, const prof__chrome_frames *frames, const prof_event *event,
                                    int64_t start, uint64_t number)
{
    prof__chrome_ids ids;
    prof__out *out = &c->out;
    char *to, *end;
    int count = 0;
    prof__chrome_make_ids(c, &ids, frames->tid);
    prof__chrome_begin(c, &ids, event, ",\n{\"ph\":\"X\"", start);
    prof__chrome_key(out, &count, "frame");
    prof__out_unsigned(out, number);
    if (event->type == PROF_EVENT_FRAME) prof__chrome_args(out, &count, event);
    prof__chrome_truncated(out, &count, event->flags);
    PROF__CHROME_LITERAL(out, "},\"dur\":");
    to = prof__out_reserve(out, 64);
    end = prof__chrome_exact_duration(to, start, event->duration_ns, (double)frames->origin / 1e3);
    *end = '}';
    prof__out_commit(out, (size_t)(end + 1 - to));
}

/* Writes the frame that this boundary ends. */
static void prof__chrome_frame(prof__chrome *c, prof__chrome_track *track, const prof_event *event)
{
    int64_t start = prof__chrome_time(event->start_ns - event->duration_ns);
    prof__chrome_frames *frames;
    if (!event->duration_ns) return;
    frames = prof__chrome_frame_track(c, track, event->name, 0, start);
    if (frames)
        prof__chrome_frame_line(c, frames, event, start, event->detail);
    else
        prof__chrome_instant(c, &track->ids, event);
}

#endif /* PROF__CHROME_FRAMES_H */
