// read/find: Finds images inside core dumps. Sets the window of an image. Copies image files.
#ifndef PROF__READ_FIND_H
#define PROF__READ_FIND_H
#include "api/read.h"
#include "api/values.h"
#include "api/writers.h"
#include "ground/errors.h"
#include "ground/numbers.h"
#include "ground/out.h"
#include "ground/windows.h"
#include "image/format.h"
#include "session/save.h"
#include "read/clock.h"
#include "read/byteswap.h"
#include "read/open.h"
#include "read/set.h"
#include "read/trace.h"

/*-- images inside other files --*/

PROF_DEF prof_status prof_image_find(const void *bytes, size_t size, uint64_t *image_size)
{
    prof__header header;
    prof_status status;
    uint64_t end;
    if (!bytes || !image_size) return prof__null("prof_image_find", "bytes or image_size");
    *image_size = 0;
    if (size < sizeof header) return prof__fail(PROF_CORRUPT, "image: only %lu bytes are left", (unsigned long)size);
    status = prof__read_header(bytes, ~(uint64_t)0, "image", &header);
    if (status != PROF_OK) return status;
    end = header.archive_first > header.archive_next ? header.archive_limit : header.archive_next;
    *image_size = header.archive_offset && end > header.image_size ? end : header.image_size;
    return PROF_OK;
}

/* Changes the header of an image of which only the first `left` bytes are there, so that it can be read. */
static prof_status prof__image_shorten(void *bytes, uint64_t left, uint64_t *image_size)
{
    prof__header header;
    uint64_t size = 0, chunks, used;
    prof_status status = prof_image_find(bytes, PROF_IMAGE_LOOK, &size);
    if (status != PROF_OK) return status;
    prof__header_get(bytes, &header);
    *image_size = left < size ? left : size;
    if (left >= header.image_size) return PROF_OK; /* readers will find the blocks of the archive that are left */
    chunks = left > header.chunk_offset ? (left - header.chunk_offset) / header.chunk_size : 0;
    if (!chunks || left < header.meta_offset + header.meta_size)
        return prof__fail(PROF_CORRUPT, "image: no recorded events are left");
    used = header.next_chunk < header.chunk_count ? header.next_chunk : header.chunk_count;
    if (used > chunks) { /* some of the used chunks are missing */
        header.overwritten += used - chunks;
        header.state = PROF__RUNNING;
    }
    header.chunk_count = chunks;
    header.image_size = *image_size = left / 8 * 8;
    header.archive_offset = header.archive_limit = header.archive_first = header.archive_next = 0;
    prof__header_put(bytes, &header);
    return PROF_OK;
}

PROF_DEF prof_status prof_image_shorten(void *bytes, uint64_t left, uint64_t *image_size)
{
    return prof__image_shorten(bytes, left, image_size);
}

/* Returns the first tick that is not before a time. */
static uint64_t prof__image_tick(const prof_trace *trace, int64_t ns)
{
    uint64_t low = 0, high = ~(uint64_t)0;
    size_t hint = 0;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (prof__read_ns(trace, middle, &hint) < ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Sets the window of an image. trace: a trace of the same session, which is closed. */
static prof_status prof__image_set_window(void *bytes, prof_trace *trace, int64_t from_ns, int64_t to_ns)
{
    prof__header header;
    prof_status status = prof_trace_set_window(trace, from_ns, to_ns);
    if (status == PROF_OK) {
        prof__header_get(bytes, &header);
        header.window_from = from_ns ? prof__image_tick(trace, from_ns) : 0;
        header.window_to = to_ns ? prof__image_tick(trace, to_ns) : 0;
        prof__header_put(bytes, &header);
    }
    prof_trace_close(trace);
    return status;
}

/* Writes an image that prof__image_copy() has made to a sink, with its archive and with the window of the trace. trace:
   a trace of this image, which is closed. */
static prof_status prof__image_stream(void *bytes, size_t size, prof_trace *trace, prof_sink sink)
{
    prof__out out;
    prof_status status = prof__image_set_window(bytes, trace, trace->info.from_ns, trace->info.to_ns);
    if (status != PROF_OK) return status;
    prof__out_sink(&out, sink);
    prof__out_fail(&out, prof__out_live(&out, bytes, size));
    return prof__out_close(&out);
}

static prof_status prof__image_window(void *bytes, size_t size, int64_t from_ns, int64_t to_ns)
{
    prof_trace *trace = NULL;
    prof_status status = prof_trace_open_memory(bytes, size, &trace);
    return status == PROF_OK ? prof__image_set_window(bytes, trace, from_ns, to_ns) : status;
}

PROF_DEF prof_status prof_image_set_window(void *bytes, size_t size, int64_t from_ns, int64_t to_ns)
{
    return prof__image_window(bytes, size, from_ns, to_ns);
}

/* Writes an image that prof__read_file() has read, with its archive. */
static void prof__out_whole(prof__out *out, unsigned char *image, size_t size, const prof__image_place *place)
{
    size_t alone = (size_t)((const prof__header *)(const void *)image)->image_size;
    if (size == alone) {
        prof__header *h = (prof__header *)(void *)image;
        if (h->archive_offset) { /* from here on, offsets in the file */
            h->archive_offset += place->base;
            h->archive_first += place->base;
            h->archive_next += place->base;
            if (h->archive_limit) h->archive_limit += place->base;
        }
        prof__out_image(out, image, size, place->file);
        return;
    }
    prof__out_used(out, image, alone);
    prof__out_bytes(out, image + alone, size - alone);
}

/* Copies an image file with its archive, and sets a window, unless from_ns is PROF_SAME_WINDOW. */
static prof_status prof__image_file_copy(const char *from, const char *to, int64_t from_ns, int64_t to_ns)
{
    unsigned char *image = NULL;
    uint64_t size = 0;
    prof_trace *trace = NULL;
    prof_status status;
    prof__out out;
    prof__image_place place;
    if (!from) return prof__null("prof_image_copy", "from");
    status = prof__image_open(from, &place);
    if (status != PROF_OK) return status;
    status = prof__read_file(&place, from, &image, &size, NULL);
    if (status == PROF_OK && from_ns != PROF_SAME_WINDOW) {
        status = prof_trace_open(from, &trace);
        if (status == PROF_OK) status = prof__image_set_window(image, trace, from_ns, to_ns);
    }
    if (status == PROF_OK) status = prof__out_file(&out, to);
    if (status == PROF_OK) {
        prof__out_whole(&out, image, (size_t)size, &place);
        status = prof__out_close(&out);
    }
    fclose(place.file);
    free(image);
    return status;
}

PROF_DEF prof_status prof_image_copy(const char *from, const char *to, int64_t from_ns, int64_t to_ns)
{
    PROF__CALM();
    return prof__image_file_copy(from, to, from_ns, to_ns);
}

/* Gets the first and the newest clock pair of a trace's session. */
static void prof__trace_pairs(const prof_trace *trace, prof__pair *first, prof__pair *last)
{
    *first = trace->header.first;
    *last = trace->header.last;
}

/* Returns 1 if what has left the ring is in an archive. */
static int prof__trace_archived(const prof_trace *trace) { return trace->header.archive_offset != 0; }

PROF_DEF const prof_trace_info *prof_trace_about(const prof_trace *trace)
{
    return trace ? &trace->info : NULL;
}

PROF_DEF size_t prof_trace_track_count(const prof_trace *trace)
{
    return trace ? trace->track_count : 0;
}

PROF_DEF const prof_track *prof_trace_track(const prof_trace *trace, size_t index)
{
    return trace && index < trace->track_count ? &trace->tracks[index].about : NULL;
}

#endif /* PROF__READ_FIND_H */
