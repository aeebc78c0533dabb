// watch/last: prof_save_last_ns(): writes the last seconds of a recording to a file.
#ifndef PROF__WATCH_LAST_H
#define PROF__WATCH_LAST_H
#include "api/read.h"
#include "api/values.h"
#include "api/writers.h"
#include "ground/digits.h"
#include "ground/errors.h"
#include "ground/hash.h"
#include "ground/numbers.h"
#include "image/format.h"
#include "image/words.h"
#include "record/state.h"
#include "session/pattern.h"
#include "session/save.h"
#include "session/snapshot.h"
#include "session/stream.h"
#include "session/write.h"
#include "read/clock.h"
#include "read/devices.h"
#include "read/names.h"
#include "read/open.h"
#include "read/trace.h"
#include "watch/window.h"

/*-- THE LAST SECONDS ---------------------------------------------------------------------------------------- >>last --
   Saves a copy of the newest part of the image, marked as the window that readers show, with what reaches into it: see
   >>window. Of a stream, whose older events are in the file's archive, saves a copy of everything. */

/* Returns the tick that is this many seconds before the newest one. Returns 0 if the session is not that old. */
static uint64_t prof__last_tick(const prof__header *h, double seconds)
{
    double ns = seconds * 1e9, age = prof__real(h->last.monotonic_ns - h->first.monotonic_ns);
    if (h->last.monotonic_ns <= h->first.monotonic_ns || !(ns < age)) return 0;
    return h->last.tick - (uint64_t)(ns / age * prof__real(h->last.tick - h->first.tick));
}

/* Sets the window of a trace to its last seconds. Leaves a trace that is shorter as it is. */
static void prof__trace_last(prof_trace *trace, double seconds)
{
    uint64_t tick = prof__last_tick(&trace->header, seconds);
    size_t hint = 0;
    int64_t from = tick ? prof__read_ns(trace, tick, &hint) : 0;
    if (from > 0) prof_trace_set_window(trace, from, 0);
}

/* Why the last seconds are saved. */
typedef struct prof__cause {
    uint64_t from, to; /* begin and end, in ticks, of what took too long; 0: a call or signal asked for the save */
    char text[160];
} prof__cause;

/* A save that prof_save_request_ns() has asked for, on the heap. */
typedef struct prof__asked {
    struct prof__asked *next;
    uint64_t tick; /* when it was asked for */
    double seconds;
    char pattern[1024]; /* the path, with its %-fields */
} prof__asked;

/* Returns the tick at which the window begins: this many seconds before the end of the cause, but not after the begin
   of the cause. Returns 0 for a window from the start on. */
static uint64_t prof__last_from(const prof__header *h, double seconds, const prof__cause *cause)
{
    uint64_t from = prof__last_tick(h, seconds), late;
    if (!cause || !cause->from || !from) return from;
    late = h->last.tick > cause->to ? h->last.tick - cause->to : 0;
    from -= late < from - h->first.tick ? late : from - h->first.tick;
    return from < cause->from ? from : cause->from < h->first.tick ? h->first.tick : cause->from;
}

/* Returns the tick from which on a ring holds every event. Returns 0 if the ring has overwritten nothing. Chunks of
   threads that record nothing for long may be older, but do not count. */
static uint64_t prof__last_held(const prof__session *s)
{
    const prof__header *h = s->header;
    uint64_t first = ~(uint64_t)0, tick = 0, newest = PROF__LOAD(&h->next_chunk), count = PROF__LOAD(&h->chunk_count);
    uint64_t bytes;
    if ((h->mode != PROF_RING && h->mode != PROF_RING_STATS) || !PROF__LOAD(&h->overwritten)) return 0;
    for (uint64_t n = newest - count; !PROF__LOAD(&s->ring.depth) && n < newest; n++) { /* the oldest number first */
        const prof__chunk *chunk = (const prof__chunk *)(const void *)(s->chunks + n % count * s->chunk_size);
        if (PROF__ACQUIRE(&chunk->sequence) == n + 1) return PROF__LOAD(&chunk->base.tick);
    }
    for (uint64_t at = 0; at < count * h->chunk_size; at += bytes) {
        const prof__chunk *chunk = (const prof__chunk *)(const void *)((const char *)h + h->chunk_offset + at);
        uint32_t form = PROF__ACQUIRE(&chunk->form);
        uint64_t sequence = PROF__ACQUIRE(&chunk->sequence), lap = count << PROF__FORM_DEPTH(form);
        bytes = prof__form_bytes(h->chunk_size, at, form);
        if (!sequence || sequence + lap <= newest || sequence >= first) continue;
        first = sequence;
        tick = PROF__LOAD(&chunk->base.tick);
    }
    return tick;
}

/* Returns how many nanoseconds a tick takes. The header must have both pairs of clocks; if it does not, returns 1. */
static double prof__last_rate(const prof__header *h)
{
    if (h->last.tick <= h->first.tick || h->last.monotonic_ns <= h->first.monotonic_ns) return 1;
    return prof__real(h->last.monotonic_ns - h->first.monotonic_ns) / prof__real(h->last.tick - h->first.tick);
}

/* Writes to `to` the cause of a save. Adds what the image no longer holds of the cause, or of the seconds asked for.
   held: see prof__last_held(). newest: the last tick of the image. Returns `to`. */
static char *prof__last_note(char *to, size_t size, const prof__header *h, uint64_t held, uint64_t newest,
                             double ns_per_tick, double seconds, const prof__cause *cause)
{
    uint64_t ticks = newest - h->first.tick;
    double had = held && newest > held ? prof__real(newest - held) * ns_per_tick : 0, wanted = seconds * 1e9;
    char part[48], asked[48], since[48];
    size_t at;
    prof__text_copy(to, size, cause->text);
    at = strlen(to);
    if (prof__real(ticks) * ns_per_tick < wanted) wanted = prof__real(ticks) * ns_per_tick;
    if (!held || had >= wanted) return to;
    prof__human_ns(part, had);
    prof__human_ns(asked, seconds * 1e9);
    prof__human_ns(since, cause->from < held ? prof__real(held - cause->from) * ns_per_tick : 0);
    snprintf(to + at, size - at, "; asked for %s, the buffer held %s%s%s%s", asked, part,
             cause->from && cause->from < held ? ": its begin is gone by " : "",
             cause->from && cause->from < held ? since : "",
             cause->to && cause->to < held ? ", and its end, too" : "");
    return to;
}

/* Adds a key and a value to the metadata of an image in memory. Does nothing if the image has no space for them. */
static void prof__image_note(prof__header *h, const char *key, const char *value)
{
    size_t k = strlen(key) + 1, v = strlen(value) + 1;
    uint64_t words = 1 + (k + v + 7) / 8, used = h->meta_used / 8,
             head = (uint64_t)PROF__META_SESSION << 56 | words << 32;
    uint64_t *record = (uint64_t *)(void *)((char *)h + h->meta_offset) + used;
    if (used + words > h->meta_size / 8) return;
    memset(record, 0, (size_t)words * 8);
    memcpy(record + 1, key, k);
    memcpy((char *)(record + 1) + k, value, v);
    memcpy(record, &head, sizeof head);
    h->meta_used += words * 8;
}

/* Which seconds are saved, where to, and why. */
typedef struct prof__last {
    const char *path; /* the path, after %-fields are expanded */
    double seconds;
    const prof__cause *cause; /* NULL: a call of prof_save_last_ns() */
    uint64_t from, held;      /* ticks: the begin of the window; see prof__last_held() */
} prof__last;

/* Makes a copy of the last seconds: of a ring, only of them. */
static prof_status prof__last_copy(void *user, void **image, size_t *size)
{
    prof__last *last = (prof__last *)user;
    prof__session *s;
    prof__header h;
    uint64_t taken_back;
    *image = NULL;
    prof_status status = prof__copy_begin(&s, &h, &taken_back);
    if (status) return status;
    last->from = prof__last_from(&h, last->seconds, last->cause);
    last->held = last->cause ? prof__last_held(s) : 0;
    int whole = !last->from || !h.chunk_count || h.archive_offset;
    if (!whole) {
        prof__window window;
        memset(&window, 0, sizeof window);
        window.from = last->from;
        *image = prof__window_copy(&window, s, &h, taken_back, size);
        if (!*image) status = prof__no_memory("to save the last seconds");
    }
    prof__copy_end(s);
    if (whole) status = prof__image_copy(image, size);
    if (!status) ((prof__header *)*image)->window_from = last->from;
    return status;
}

/* Saves the last seconds as an image. */
static prof_status prof__last_image(prof__last *last)
{
    void *image;
    size_t size;
    char note[320];
    prof_status status = prof__last_copy(last, &image, &size);
    if (status) return status;
    prof__header *h = (prof__header *)image;
    if (last->cause)
        prof__image_note(h, "save",
                         prof__last_note(note, sizeof note, h, last->held, h->last.tick, prof__last_rate(h),
                                         last->seconds, last->cause));
    status = prof__image_write(last->path, image, size);
    free(image);
    return status;
}

/* Completes a trace of the last seconds: statistics cover the whole run, and the cause becomes metadata. */
static prof_status prof__last_complete(prof_trace *trace, const prof__last *last)
{
    const prof__header *h = &trace->header;
    char note[328] = "save";
    if (trace->info.mode == PROF_STATS) trace->info.from_ns = 0;
    if (!last->cause) return PROF_OK;
    prof__last_note(note + 5, sizeof note - 5, h, last->held, h->last.tick, prof__last_rate(h), last->seconds,
                    last->cause);
    if (prof__device_name(trace, note) == PROF__NONE || prof__device_name(trace, note + 5) == PROF__NONE ||
        !prof__read_metadata(trace, note, note + sizeof note)) /* keeps the copies, not note */
        return prof__fail(PROF_NO_MEMORY, "no memory to save %s", last->path);
    return PROF_OK;
}

/* Saves the last seconds in another format. */
static prof_status prof__last_trace(prof__last *last, const prof_writer *writer)
{
    prof_trace *trace = NULL;
    prof_status status = prof__trace_live_of(&trace, 0, prof__last_copy, last);
    if (!status) status = prof__last_complete(trace, last);
    if (!status) status = prof__write_with(writer, trace, last->path);
    prof_trace_close(trace);
    return status;
}

/* Saves the last seconds in the format that the extension of `path` names. %-fields of `path` are expanded already. */
static prof_status prof__last_save(const char *path, double seconds, const prof__cause *cause)
{
    prof__last last;
    const prof_writer *writer;
    prof_status status = prof__writer_for(path, prof__live_mode(), &writer);
    if (status) return status;
    memset(&last, 0, sizeof last);
    last.path = path;
    last.seconds = seconds;
    last.cause = cause;
    return writer ? prof__last_trace(&last, writer) : prof__last_image(&last);
}

/* Checks the arguments of a function that saves, and expands the path into `expanded`, which has 1024 bytes. */
static prof_status prof__last_asked(const char *function, const char *path, uint64_t last_ns, char *expanded)
{
    if (!path) return prof__null(function, "path");
    if (!last_ns || last_ns > INT64_MAX)
        return prof__fail(PROF_INVALID_ARGUMENT, "%s: last_ns must be more than 0, and below 2^63", function);
    return prof__expand(path, expanded, 1024);
}

/* prof_save_last_ns() */
static prof_status prof__save_last(const char *path, uint64_t last_ns)
{
    PROF__CALM();
    char expanded[1024];
    prof_status status = prof__last_asked("prof_save_last_ns", path, last_ns, expanded);
    if (!status) status = prof__last_save(expanded, (double)last_ns / 1e9, NULL);
    return status ? status : prof__stream_told(expanded);
}

#endif /* PROF__WATCH_LAST_H */
