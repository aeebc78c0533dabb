// read/open: Opens, checks and closes traces of files, of memory and of this process.
#ifndef PROF__READ_OPEN_H
#define PROF__READ_OPEN_H
#include "api/control.h"
#include "api/read.h"
#include "api/reports.h"
#include "api/values.h"
#include "api/writers.h"
#include "ground/instances.h"
#include "ground/errors.h"
#include "ground/hash.h"
#include "ground/numbers.h"
#include "ground/out.h"
#include "ground/symbols.h"
#include "ground/windows.h"
#include "image/format.h"
#include "session/hooks.h"
#include "session/process.h"
#include "session/save.h"
#include "session/snapshot.h"
#include "session/write.h"
#include "read/align.h"
#include "read/alive.h"
#include "read/chunks.h"
#include "read/clock.h"
#include "read/device_tracks.h"
#include "read/epochs.h"
#include "read/byteswap.h"
#include "read/gaps.h"
#include "read/names.h"
#include "read/ring.h"
#include "read/samples.h"
#include "read/set.h"
#include "read/states.h"
#include "read/trace.h"
#include "read/tracks.h"

/*-- opening --*/

static void prof__read_free(prof_trace *trace)
{
    size_t i;
    if (!trace) return;
    for (i = 0; i < trace->text_count; i++) free(trace->texts[i]);
    free(trace->texts);
    prof__reader()->aggregated_free_rows(trace->aggregated, trace->aggregated_count);
    free(trace->since);
    free(trace->image);
    if (trace->file) fclose(trace->file);
    free(trace->chunks);
    free(trace->sequences.slots);
    prof__read_buffer_free(&trace->buffer);
    free(trace->pairs);
    free(trace->segment_summaries);
    free(trace->halves);
    free((void *)trace->names);
    free(trace->name_index.slots);
    free(trace->strings);
    free(trace->metadata);
    free(trace->metadata_index.slots);
    free(trace->threads);
    free(trace->gaps);
    free(trace->epochs);
    free(trace->thread_index.slots);
    free(trace->sites);
    free(trace->site_index.slots);
    free(trace->site_ids);
    free(trace->unknown);
    prof__symbols_free(&trace->symbols);
    free(trace->unknown_index.slots);
    free(trace->segments);
    free(trace->tracks);
    free(trace->cross_segments);
    free(trace->unmatched_ends);
    free(trace->exceptions);
    free(trace->late_begins);
    free(trace->late_ends);
    free(trace->links);
    free(trace->kept);
    free(trace->lines);
    for (i = 0; i < trace->device_count; i++) free(trace->devices[i].lines);
    free(trace->devices);
    free(trace->device_records);
    free(trace->rows);
    free(trace->pairings);
    free(trace->switches);
    free(trace->switch_items);
    free(trace->delays);
    free(trace->unplaced);
    free(trace->faults);
    free(trace->states);
    free(trace->state_marks);
    free(trace->sums);
    free(trace->samples);
    free(trace->frames);
    free(trace->chains);
    free(trace->chain_index.slots);
    free(trace->sample_items);
    free(trace->modules);
    /* Without the magic, prof recover does not take the freed memory in a core dump for a recording. */
    PROF__RELEASE(trace->header.magic, 0);
    free(trace);
}

static prof_status prof__damaged(const char *what, const char *part)
{
    return prof__fail(PROF_CORRUPT, "%s: damaged header (%s)", what, part);
}

/* Returns 0 if the end of a header, from the archive's offset on, is damaged. */
static int prof__header_end_good(const prof__header *h)
{
    if ((h->taken_back | h->lost_args | h->write_failures) >> 56) return 0;
    return !h->archive_offset ||
           (h->archive_offset % 8 == 0 && h->archive_first % 8 == 0 && h->archive_next % 8 == 0 &&
            h->archive_offset >= h->image_size && h->archive_first >= h->archive_offset &&
            h->archive_next >= h->archive_offset &&
            (!h->archive_limit || (h->archive_first <= h->archive_limit && h->archive_next <= h->archive_limit)));
}

/* Reads and checks the header of an image of either byte order. size: bytes of the image with what follows it. what:
   the image's name in errors. */
static prof_status prof__read_header(const void *image, uint64_t size, const char *what, prof__header *header)
{
    uint32_t order;
    uint64_t chunks;
    if (size < sizeof *header || memcmp(image, PROF__MAGIC, 8)) {
        if (size >= 8 && !memcmp(image, PROF__MAGIC, 8))
            return prof__fail(PROF_CORRUPT, "%s: truncated: only %lu bytes of a prof image are left", what,
                              (unsigned long)size);
        return prof__fail(PROF_CORRUPT, "%s: not a prof image (%s)", what, size ? "bad magic" : "empty");
    }
    prof__header_get(image, header);
    header->program[sizeof header->program - 1] = 0;
    header->clock_name[sizeof header->clock_name - 1] = 0;
    header->write_error[sizeof header->write_error - 1] = 0;
    header->boot_id[sizeof header->boot_id - 1] = 0;
    header->crash[sizeof header->crash - 1] = 0;
    order = header->byte_order;
    if (order != PROF__BYTE_ORDER) return prof__damaged(what, "byte order");
    if (header->version > PROF__IMAGE_VERSION)
        return prof__fail(PROF_UNSUPPORTED, "%s: image version %lu is newer than this reader's %d; use a newer prof.h",
                          what, (unsigned long)header->version, PROF__IMAGE_VERSION);
    if (header->version && header->version < PROF__IMAGE_OLDEST)
        return prof__fail(PROF_UNSUPPORTED,
                          "%s: image version %lu is older than this reader's oldest, %d; use a prof.h of that version",
                          what, (unsigned long)header->version, PROF__IMAGE_OLDEST);
    if (!header->version || header->header_size < PROF__HEADER_LEAST || header->header_size % 8 ||
        header->header_size > header->image_size)
        return prof__damaged(what, "version or size");
    if (header->header_size < sizeof *header) /* fields that an older header lacks are 0 */
        memset((char *)header + header->header_size, 0, sizeof *header - header->header_size);
    if (header->image_size > size)
        return prof__fail(PROF_CORRUPT, "%s: truncated: %lu of %lu bytes are left", what, (unsigned long)size,
                          (unsigned long)header->image_size);
    if (header->meta_offset % 8 || header->meta_size % 8 || header->meta_offset < header->header_size ||
        header->meta_offset > header->image_size || header->meta_size > header->image_size - header->meta_offset)
        return prof__damaged(what, "meta lies outside the image");
    if (header->chunk_header_size < PROF__LEAST_CHUNK || header->chunk_header_size % 8 || header->chunk_size % 8 ||
        header->chunk_size <= header->chunk_header_size || header->chunk_size > PROF__CHUNK_MAX)
        return prof__damaged(what, "chunk size");
    if (header->chunk_offset % 8 || header->chunk_offset < header->header_size ||
        header->chunk_offset > header->image_size || header->chunk_count >= PROF__NONE32 ||
        header->chunk_count > (header->image_size - header->chunk_offset) / header->chunk_size)
        return prof__damaged(what, "chunks lie outside the image");
    chunks = header->chunk_count * header->chunk_size;
    if (chunks && header->meta_size && header->meta_offset < header->chunk_offset + chunks &&
        header->chunk_offset < header->meta_offset + header->meta_size)
        return prof__damaged(what, "meta and chunks overlap");
    if (!prof__header_end_good(header)) /* the chunks can be read without the end of the header */
        memset(&header->archive_offset, 0, sizeof *header - offsetof(prof__header, archive_offset));
    return PROF_OK;
}

/* Returns 1 if the end of the image's header was ignored because it is damaged. */
static uint64_t prof__header_cut(const void *image, const prof__header *header)
{
    prof__header raw;
    prof__header_get(image, &raw);
    return raw.archive_offset != header->archive_offset || raw.write_failures != header->write_failures;
}

/* Fills in prof_trace_info. Called when the rate of the clock is known. */
static void prof__read_about(prof_trace *trace)
{
    const prof__header *header = &trace->header;
    prof_trace_info *info = &trace->info;
    double ns_per_tick = 1e9 / (info->tick_hz ? prof__real(info->tick_hz) : 1e9);
    info->program = header->program;
    info->clock = header->clock_name;
    info->pid = header->pid;
    info->parent_pid = header->parent_pid;
    info->start_unix_ns = header->first.unix_ns;
    info->start_monotonic_ns = header->first.monotonic_ns;
    info->boot_id = header->boot_id;
    info->lost += header->lost;
    info->lost_args = header->lost_args;
    info->overwritten_chunks = header->overwritten;
    info->sites_lost = header->sites_lost;
    info->write_failures = header->write_failures;
    info->write_error = header->write_error;
    info->crash = header->crash;
    info->file = trace->file_name;
    info->buffer_size = (header->ring_count ? header->ring_count : header->chunk_count) * header->chunk_size;
    info->chunk_size = header->chunk_size;
    info->mode = header->mode <= PROF_RING_STATS ? (prof_mode)header->mode : PROF_RING;
    info->complete = header->state == PROF__STOPPED;
    info->clock_resolution_ns = prof__real(header->resolution_ticks) * ns_per_tick;
    info->scope_cost_ns = prof__real(header->cost_ticks_x1000) * ns_per_tick / 1000;
    info->call_cost_ns = prof__real(header->call_x1000) * ns_per_tick / 1000;
    info->taken_back += header->taken_back;
    info->start_cost_ns = prof__real(header->start_ns);
    info->ready_cost_ns = prof__real(header->ready_ticks) * ns_per_tick;
}

/* Reads the window of the image and its newest time. */
static void prof__read_window(prof_trace *trace)
{
    const prof__header *header = &trace->header;
    size_t hint = 0;
    trace->newest_ns = prof__read_ns(trace, header->last.tick, &hint);
    if (header->window_from) trace->info.from_ns = prof__read_ns(trace, header->window_from, &hint);
    if (header->window_to > header->window_from) trace->info.to_ns = prof__read_ns(trace, header->window_to, &hint);
    if (trace->info.to_ns <= trace->info.from_ns) trace->info.to_ns = 0;
}

/* Takes all steps from an image to a trace. Returns 0 if there is no memory. */
static int prof__read_parse(prof_trace *trace)
{
    const prof__header *header = &trace->header;
    prof__pair now;
    uint64_t i;
    int running;
    for (i = 0; i < PROF__READ_KEYS; i++) trace->keys[i] = prof__mix(i);
    trace->chunk_words = (header->chunk_size - header->chunk_header_size) / 8;
    trace->word_bits = 16;
    while (trace->chunk_words >> trace->word_bits) trace->word_bits++;
    running = header->state != PROF__STOPPED && prof__pair_now(header->clock, header->boot_id, &now);
    if (!prof__read_epochs_begin(trace) || !prof__read_meta(trace)) return 0;
    prof__align_correct(trace);
    if (!prof__read_chunks(trace)) return 0;
    prof__read_epochs_end(trace, running ? &now : NULL);
    if (!prof__read_clock(trace, running ? &now : NULL)) return 0;
    prof__read_about(trace);
    prof__read_window(trace);
    if (!prof__read_tracks(trace) || !prof__device_tracks(trace) || !prof__gap_track(trace) ||
        !prof__states_make(trace) || !prof__samples_make(trace))
        return 0;
    uint64_t lost = trace->info.lost; /* all lost events, of which the next two are a part each */
    trace->info.lost_deep = header->lost_deep < lost ? header->lost_deep : lost;
    lost -= trace->info.lost_deep;
    trace->info.lost_busy = header->lost_busy < lost ? header->lost_busy : lost;
    if (trace->newest_ns < trace->info.duration_ns) trace->newest_ns = trace->info.duration_ns;
    prof__read_reach(trace);
    return 1;
}

/* Makes a trace of an image on the heap. The image's archive is in the file; if that is NULL, or size is larger than
   the image, it follows the image in memory, up to size. paged: 1: the chunks are only in file. Takes over image and
   file, and frees them on failure. what: the image's name in errors. */
static prof_status prof__read_parts(void *image, size_t size, const prof__image_place *place, int paged,
                                    const char *what, prof_trace **out)
{
    FILE *file = place->file;
    prof_trace *trace = NULL;
    prof__header header;
    prof_status status = prof__read_header(image, size, what, &header);
    if (file && (status != PROF_OK || size > header.image_size ||
                 (header.archive_first == header.archive_next && !paged))) {
        fclose(file);
        file = NULL;
    }
    if (status == PROF_OK) {
        trace = (prof_trace *)calloc(1, sizeof *trace);
        if (trace) {
            trace->image = (uint64_t *)image;
            trace->header = header;
            trace->info.lost_blocks = prof__header_cut(image, &header);
            trace->file = file;
            trace->paged = paged;
            trace->size = size;
            trace->base = place->base;
            if (file && !prof__image_size(place, &trace->size)) trace->size = 0;
            if (prof__read_parse(trace)) {
                *out = trace;
                return PROF_OK;
            }
        }
        status = prof__fail(PROF_NO_MEMORY, "%s: no memory to read it (%lu bytes, and up to as much again for tables)",
                            what, (unsigned long)size);
    }
    if (trace) {
        prof_trace_close(trace);
    } else {
        free(image);
        if (file) fclose(file);
    }
    return status;
}

static prof_status prof__read_image(void *image, size_t size, FILE *file, const char *what, prof_trace **out)
{
    prof__image_place place = {file, 0, 0, 0};
    return prof__read_parts(image, size, &place, 0, what, out);
}

static int prof__source_file(void *place, uint64_t offset, void *to, size_t size)
{
    return prof__image_at((const prof__image_place *)place, offset, to, size);
}

static PROF__UNUSED uint64_t prof__read_whole = PROF__READ_WHOLE; /* not used on Windows */

/* Returns 1 if the chunks of an image are read on demand only: the image is large, and its recording has ended, so that
   they do not change any more. Not on Windows, where a file that is open cannot be replaced by the next recording. */
static int prof__read_pages(const prof__header *header)
{
#ifdef _WIN32
    (void)header;
    return 0;
#else
    return header->state == PROF__STOPPED && header->image_size > prof__read_whole &&
           header->meta_offset + header->meta_size <= header->chunk_offset && header->chunk_offset >= sizeof *header;
#endif
}

/* Reads the first size bytes of an image. Of a running recording, reads the chunks first and the rest afterwards, so
   that meta has each call site that the chunks name, and the header has the newest clock pair. Returns 0 on errors. */
static int prof__read_all(prof__image_place *place, const prof__header *header, unsigned char *image, size_t size)
{
    uint64_t end = header->chunk_offset + header->chunk_count * header->chunk_size;
    if (header->state == PROF__STOPPED) return prof__image_at(place, 0, image, size);
    prof__source source;
    source.read = prof__source_file;
    source.user = place;
    uint64_t newest = 0, tick = 0;
    prof__pair now = {0, 0, 0, 0};
    int here = prof__pair_now(header->clock, header->boot_id, &now);
    if (!prof__chunks_snapshot(&source, header, (char *)image, &newest, &tick) ||
        !prof__image_at(place, end, image + end, (size_t)(header->image_size - end)) ||
        !prof__image_at(place, 0, image, (size_t)header->chunk_offset))
        return 0;
    prof__header *copy = (prof__header *)(void *)image;
    copy->next_chunk = newest;
    if (here && !copy->copy_tick) copy->copy_tick = tick;
    return 1;
}

/* Reads the image in a file. *image: memory that the caller frees, also after an error. *size: the image's size; for an
   image of the other byte order, with the archive, which follows it in memory. *paged: set to 1 if the chunks were left
   in the file. If paged is NULL, the chunks are always read. */
static prof_status prof__read_file(prof__image_place *place, const char *path, unsigned char **image, uint64_t *size,
                                   int *paged)
{
    prof__header header, again;
    uint64_t memory;
    prof_status status;
    size_t part;
    errno = 0;
    memset(&header, 0, sizeof header);
    part = prof__image_size(place, size) && *size < sizeof header ? (size_t)*size : sizeof header;
    if (errno || (part && !prof__image_at(place, 0, &header, part)))
        return prof__cannot("read", path, "read error");
    again = header;
    status = prof__read_header(&again, *size, path, &header);
    if (status != PROF_OK) return status;
    if (prof__byteswap(&again)) return prof__byteswap_read(place, path, &header, image, size);
    *size = header.image_size;
    if (paged) *paged = prof__read_pages(&header);
    memory = paged && *paged ? header.chunk_offset : *size;
    *image = memory < (size_t)-1 ? (unsigned char *)calloc((size_t)memory, 1) : NULL;
    if (!*image) return prof__fail(PROF_NO_MEMORY, "%s: no memory to read %lu bytes", path, (unsigned long)memory);
    if (!prof__read_all(place, &header, *image, (size_t)memory))
        return prof__cannot("read", path, "it became shorter");
    memcpy(&again, *image, sizeof again);
    if (again.session != header.session || again.pid != header.pid)
        return prof__fail(PROF_IO, "%s: a new session began in it while it was being read; read it again", path);
    return PROF_OK;
}

/* Keeps the name of the file, without its folders: its end, if it is long. */
static void prof__trace_named(prof_trace *trace, const char *path)
{
    const char *name = path, *at;
    for (at = path; *at; ++at)
        if (*at == '/' || *at == '\\') name = at + 1;
    while ((size_t)(at - name) >= sizeof trace->file_name || ((unsigned char)*name & 0xc0) == 0x80) ++name;
    memcpy(trace->file_name, name, (size_t)(at - name));
}

PROF_DEF prof_status prof_trace_open(const char *path, prof_trace **trace)
{
    PROF__CALM();
    unsigned char *image = NULL;
    uint64_t size = 0;
    prof_status status;
    int paged = 0;
    prof__image_place place;
    if (!trace) return prof__null("prof_trace_open", "trace");
    *trace = NULL;
    if (!path) return prof__null("prof_trace_open", "path");
    status = prof__image_open(path, &place);
    if (status != PROF_OK) return status;
    status = prof__read_file(&place, path, &image, &size, &paged);
    if (status != PROF_OK) {
        fclose(place.file);
        free(image);
        return status;
    }
    status = prof__read_parts(image, (size_t)size, &place, paged, path, trace);
    if (status == PROF_OK) {
        if (!place.in_set) prof__trace_alive(*trace, path);
        prof__trace_named(*trace, path);
    }
    return status;
}

/* Makes a trace of an image on the heap without its archive. The chunks in the buffer are read like those of a ring. */
static prof_status prof__read_buffer_only(void *image, const char *what, prof_trace **trace)
{
    prof__header *header = (prof__header *)image;
    if (header->archive_first != header->archive_next && !header->overwritten) header->overwritten = 1;
    header->archive_offset = header->archive_limit = header->archive_first = header->archive_next = 0;
    return prof__read_image(image, (size_t)header->image_size, NULL, what, trace);
}

/* Opens an image without its archive, which may be far larger and takes as long to read. */
static prof_status prof__trace_buffer(const char *path, prof_trace **trace)
{
    unsigned char *image = NULL;
    uint64_t size = 0;
    prof__image_place place;
    *trace = NULL;
    prof_status status = prof__image_open(path, &place);
    if (status != PROF_OK) return status;
    status = prof__read_file(&place, path, &image, &size, NULL);
    fclose(place.file);
    if (status != PROF_OK) {
        free(image);
        return status;
    }
    return prof__read_buffer_only(image, path, trace);
}

PROF_DEF prof_status prof_trace_open_memory(const void *image, size_t size, prof_trace **trace)
{
    PROF__CALM();
    prof__header header;
    prof_status status;
    void *copy;
    if (!trace) return prof__null("prof_trace_open_memory", "trace");
    *trace = NULL;
    if (!image) return prof__null("prof_trace_open_memory", "image");
    status = prof__read_header(image, size, "image", &header);
    if (status != PROF_OK) return status;
    if (!header.archive_offset) size = (size_t)header.image_size;
    copy = malloc(size);
    if (!copy) return prof__fail(PROF_NO_MEMORY, "image: no memory to copy %lu bytes", (unsigned long)size);
    memcpy(copy, image, size);
    prof__turn_image(copy, size, &header);
    return prof__read_image(copy, size, NULL, "image", trace);
}

/* The statistics of a session in mode PROF_STATS, which it has in place of events. */
typedef struct prof__aggregated {
    uint32_t session; /* session id; 0: the session has a different mode */
    struct prof__stat_row *rows;
    uint32_t *sites;  /* call site ids */
    char **texts;     /* run-time names, or NULL */
    size_t count;
    uint64_t events, open, lost, unmatched, newest;
    uint64_t begins_missing, ends_missing; /* spans whose begin or end is missing */
    prof__uses uses;
} prof__aggregated;

/* Makes a copy of the image that is being recorded: see prof__image_copy(). */
typedef prof_status (*prof__copy_make)(void *user, void **image, size_t *size);

static prof_status prof__copy_whole(void *user, void **image, size_t *size)
{
    (void)user;
    return prof__image_copy(image, size);
}

/* Makes a trace of a copy of the current session. reset: 1: resets the statistics of PROF_STATS afterwards. */
static prof_status prof__trace_live_of(prof_trace **trace, int reset, prof__copy_make copy, void *user)
{
    void *image = NULL;
    size_t size = 0;
    prof_status status;
    *trace = NULL;
    prof__aggregated stats;
    memset(&stats, 0, sizeof stats);
    status = prof__reader()->aggregated_take(&stats, reset);
    if (status == PROF_OK) status = copy(user, &image, &size);
    if (status == PROF_OK) {
        FILE *archive = prof__archive_open((const prof__header *)image);
        status = prof__read_image(image, size, archive, "this program's trace", trace);
    }
    if (status == PROF_OK && stats.session) {
        status = prof__reader()->aggregated_give(&stats, *trace);
        if (status != PROF_OK) {
            prof_trace_close(*trace);
            *trace = NULL;
        }
    }
    prof__reader()->aggregated_free(&stats);
    return status;
}

static prof_status prof__trace_live(prof_trace **trace, int reset)
{
    return prof__trace_live_of(trace, reset, prof__copy_whole, NULL);
}

static prof_status prof__trace_live_own(prof_trace **trace) { return prof__trace_live(trace, 0); }

PROF_DEF prof_status prof_trace_open_live(prof_trace **trace)
{
    PROF__CALM();
    if (!trace) return prof__null("prof_trace_open_live", "trace");
    PROF__FORWARD(prof__trace_live_here, (trace));
    return prof__trace_live_own(trace);
}

PROF_DEF void prof_trace_close(prof_trace *trace)
{
    prof__read_free(trace);
}

/* A file that a writer writes, and the first error of writing it. That error is kept because the writer may report a
   different one later. */
typedef struct prof__writing {
    prof__out out;
    char error[PROF__ERROR_SIZE];
} prof__writing;

static int prof__writing_take(void *user, const void *data, size_t size)
{
    prof__writing *w = (prof__writing *)user;
    prof_status before = w->out.status;
    prof__out_bytes(&w->out, data, size);
    if (w->out.status && !before) prof__text_copy(w->error, sizeof w->error, prof_error());
    return w->out.status != PROF_OK;
}

/* Writes a trace to a file with a writer. */
static prof_status prof__write_with(const prof_writer *writer, const prof_trace *trace, const char *path)
{
    prof__writing w;
    prof_sink sink;
    prof_status status;
    if (writer->write_files) return writer->write_files(trace, path);
    status = prof__out_file(&w.out, path);
    if (status) return status;
    sink.write = prof__writing_take;
    sink.user = &w;
    prof__error_set("");
    status = writer->write(writer->user, trace, sink);
    if (w.out.status)
        prof__error_set(w.error);
    else if (status && !*prof_error())
        prof__fail(status, "%s: its writer failed: %s", prof__path_end(path), prof_status_text(status));
    prof__out_fail(&w.out, status);
    return prof__out_close(&w.out);
}

/* Writes what was recorded so far. */
static prof_status prof__live_write(const char *path, const prof_writer *writer)
{
    prof_trace *trace = NULL;
    prof_status status = prof_trace_open_live(&trace);
    if (!status) status = prof__write_with(writer, trace, path);
    prof_trace_close(trace);
    return status;
}

static prof_status prof__trace_write_own(const prof_trace *trace, const char *path, const char *extension)
{
    const prof_writer *writer;
    prof_status status;
    status = prof__writer_find(extension ? extension : path, &writer);
    if (!status && !writer)
        status = prof__fail(PROF_INVALID_ARGUMENT, "%s: a trace cannot become a .prof: use prof_image_copy()", path);
    if (!status) status = prof__writer_fits(path, writer, (uint32_t)prof_trace_about(trace)->mode);
    return status ? status : prof__write_with(writer, trace, path);
}

PROF_DEF prof_status prof_trace_write(const prof_trace *trace, const char *path, const char *extension)
{
    PROF__CALM();
    if (!trace || !path) return prof__null("prof_trace_write", "trace or path");
    PROF__FORWARD(prof__trace_write_here, (trace, path, extension));
    return prof__trace_write_own(trace, path, extension);
}

PROF_DEF void prof_trace_set_progress(prof_trace *trace, void (*step)(void *user, double share), void *user)
{
    if (!trace) return;
    trace->step = step;
    trace->step_user = user;
}

#endif /* PROF__READ_OPEN_H */
