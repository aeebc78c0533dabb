// read/import: Writes a copy of an image with added rows of devices, or an image that has only such rows.
#ifndef PROF__READ_IMPORT_H
#define PROF__READ_IMPORT_H
#include "api/devices.h"
#include "api/markup.h"
#include "api/values.h"
#include "ground/errors.h"
#include "ground/hash.h"
#include "ground/out.h"
#include "ground/windows.h"
#include "image/device.h"
#include "image/format.h"
#include "record/device.h"
#include "session/save.h"
#include "read/byteswap.h"
#include "read/names.h"
#include "read/open.h"
#include "read/set.h"

/*-- IMPORT ----------------------------------------------------------------------------------------------- >>import --
   "The host" means the recording of the host to which the rows are added, if there is one. The new image has the host's
   chunks, then the new chunks, then meta with the names of both. The new chunks have no TRACK record: they have only
   events of devices, whose names and rows are in meta. The ticks of these devices are nanoseconds of the host's
   CLOCK_MONOTONIC or, without a host, of the caller's clock; one clock pair for each device states that.
   These functions must be called by one thread at a time, in this order: prof__import_open(), prof__import_begin(), for
   each event prof__import_row() and prof__import_put(), and at the end prof__import_close(), even if one of them has
   failed. */

#define PROF__IMPORT_CHUNK 65536u /* bytes of a chunk if there is no host */
#define PROF__IMPORT_ROWS 4096u   /* the most rows; one more takes the events of all further rows */

typedef struct prof__import_row_of {
    uint32_t device, number; /* device: index in devices; number: the row's number in the image */
    char *name;
} prof__import_row_of;

typedef struct prof__import_device {
    char *name;
    uint32_t number, site;
} prof__import_device;

typedef struct prof__import {
    /* Public fields: the caller may read them. */
    prof__pair first, last; /* the host's first and last clock pair; all 0 without a host */
    uint64_t pid;
    prof_status status; /* the first write error, or PROF_OK */
    int no_memory;      /* 1: a row could not be added for lack of memory */
    /* Private fields. */
    prof__out out;
    int opened;           /* 1: out is open */
    prof__image_place host; /* the host's file; its file is NULL: there is no host */
    unsigned char *bytes; /* the host's image, as prof__read_file() returns it */
    uint64_t size;        /* size of `bytes` */
    prof__header h;       /* the new image's header */
    uint64_t chunk_words; /* words of a chunk without its header */
    uint64_t *chunk;
    size_t used; /* words used in chunk, with its header; 0: no chunk has begun */
    uint64_t *meta;
    size_t meta_words, meta_room;
    uint32_t strings, sites, device_number, row_number; /* the last ids that were given */
    prof__import_device *devices;
    size_t device_count, device_room;
    prof__import_row_of *rows;
    size_t row_count, row_room;
    prof__read_index index; /* finds rows by their names */
} prof__import;

static int prof__import_meta_room(prof__import *w, size_t words)
{
    while (w->meta_room < w->meta_words + words)
        if (!prof__more_room(&w->meta, &w->meta_room, sizeof *w->meta)) return 0;
    memset(w->meta + w->meta_words, 0, words * sizeof *w->meta);
    return 1;
}

/* Appends a record to meta. Returns 0 if there is no memory. */
static int prof__import_meta(prof__import *w, uint32_t kind, uint32_t id, const uint64_t *words, size_t count)
{
    if (!prof__import_meta_room(w, 1 + count)) return 0;
    w->meta[w->meta_words] = (uint64_t)kind << 56 | (uint64_t)(1 + count) << 32 | id;
    memcpy(w->meta + w->meta_words + 1, words, count * sizeof *words);
    w->meta_words += 1 + count;
    return 1;
}

/* Appends a string to meta. Returns its id; 0, which stands for "", if there is no memory. */
static uint32_t prof__import_string(prof__import *w, const char *text)
{
    size_t length = strlen(text), words = length / 8 + 1;
    if (!prof__import_meta_room(w, 1 + words)) return 0;
    w->meta[w->meta_words] = (uint64_t)PROF__META_STRING << 56 | (uint64_t)(1 + words) << 32 | ++w->strings;
    memcpy(w->meta + w->meta_words + 1, text, length);
    w->meta_words += 1 + words;
    return w->strings;
}

/* Adds a device to meta, with a call site for its events and one clock pair. Returns 0 if there is no memory. */
static int prof__import_device_add(prof__import *w, const char *name)
{
    prof__import_device *device;
    uint64_t words[PROF__DEVICE_WORDS - 1] = {0}, empty, now = w->h.first.monotonic_ns;
    if (!PROF__ROOM(w->devices, w->device_room, w->device_count)) return 0;
    device = &w->devices[w->device_count];
    device->name = prof__text_join(name, "");
    if (!device->name) return 0;
    w->device_count++;
    device->number = ++w->device_number;
    device->site = ++w->sites;
    empty = prof__import_string(w, "");
    words[0] = empty | empty << 32;
    words[1] = empty | (uint64_t)prof__import_string(w, name) << 32; /* the category of the device's events */
    words[3] = 1u | (uint64_t)(PROF__KIND_EVENT | PROF_ROLE_DEVICE << PROF__ROLE_SHIFT) << 32;
    if (!prof__import_meta(w, PROF__META_SITE, device->site, words, PROF__META_SITE_WORDS - 1)) return 0;
    memset(words, 0, sizeof words);
    words[0] = prof__import_string(w, name);
    words[1] = 1000000000;
    prof__device_store(words + 2, now, now);
    return prof__import_meta(w, PROF__META_DEVICE, device->number, words, PROF__DEVICE_WORDS - 1);
}

typedef struct prof__import_key {
    const char *device, *row;
} prof__import_key;

static int prof__import_same(const void *owner, size_t item, const void *key)
{
    const prof__import *w = (const prof__import *)owner;
    const prof__import_key *wanted = (const prof__import_key *)key;
    const prof__import_row_of *row = &w->rows[item];
    return !strcmp(row->name, wanted->row) && !strcmp(w->devices[row->device].name, wanted->device);
}

/* Adds a row to meta, and its device if that is new. Returns 0 if there is no memory. */
static int prof__import_row_add(prof__import *w, const prof__import_key *key, uint32_t hash)
{
    prof__import_row_of *row;
    uint64_t words[PROF__ROW_WORDS - 1 + 1];
    size_t device = 0;
    while (device < w->device_count && strcmp(w->devices[device].name, key->device)) device++;
    if (device == w->device_count && !prof__import_device_add(w, key->device)) return 0;
    if (!PROF__ROOM(w->rows, w->row_room, w->row_count)) return 0;
    row = &w->rows[w->row_count];
    row->device = (uint32_t)device;
    row->name = prof__text_join(key->row, "");
    if (!row->name) return 0;
    w->row_count++;
    row->number = ++w->row_number;
    words[0] = prof__import_string(w, key->row) | (uint64_t)w->devices[device].number << 32;
    return prof__import_meta(w, PROF__META_ROW, row->number, words, PROF__ROW_WORDS - 1) &&
           prof__read_add(&w->index, hash, w->row_count - 1);
}

/* Returns the index of a device's row, found by the names of both. Adds the row if there is none. others: 1: this is
   the row for the events of all further rows, and is always added. Returns PROF__NONE if there are PROF__IMPORT_ROWS
   rows already, or if there is no memory, which also sets no_memory to 1. */
static size_t prof__import_row(prof__import *w, const char *device, const char *row, int others)
{
    prof__import_key key;
    uint32_t hash = prof__text_hash(device) * 31 + prof__text_hash(row);
    size_t found;
    key.device = device;
    key.row = row;
    found = prof__read_find(&w->index, hash, prof__import_same, w, &key);
    if (found != PROF__NONE || (w->row_count >= PROF__IMPORT_ROWS && !others)) return found;
    if (prof__import_row_add(w, &key, hash)) return w->row_count - 1;
    w->no_memory = 1;
    return PROF__NONE;
}

static void prof__import_chunk_end(prof__import *w)
{
    if (!w->used) return;
    memset(w->chunk + w->used, 0, w->h.chunk_size - w->used * 8);
    prof__out_bytes(&w->out, w->chunk, w->h.chunk_size);
    w->used = 0;
}

static void prof__import_chunk_begin(prof__import *w)
{
    prof__chunk chunk;
    memset(w->chunk, 0, w->h.chunk_header_size);
    memset(&chunk, 0, sizeof chunk);
    chunk.sequence = ++w->h.next_chunk;
    chunk.base.tick = w->h.first.tick;
    chunk.state = PROF__CHUNK_FULL;
    chunk.form = PROF__FORM_PLAIN; /* its pages have no marks, though those of the host's chunks may */
    memcpy(w->chunk, &chunk, sizeof chunk);
    w->used = w->h.chunk_header_size / 8;
    w->h.chunk_count++;
}

/* Adds an event as prof_device_record() would, with as many of its arguments as fit into a chunk. row: from
   prof__import_row(). Returns 0 if a chunk has no space for the event, which happens only if the host's chunks are
   smaller than any that prof makes. */
static int prof__import_put(prof__import *w, size_t row, const prof_device_event *event)
{
    prof_device_event e = *event;
    prof__device_parts parts;
    uint64_t type, *at;
    prof__device_measure(w->chunk_words, &e, &parts);
    while (parts.words > w->chunk_words && e.arg_count) {
        e.arg_count--;
        prof__device_measure(w->chunk_words, &e, &parts);
    }
    if (parts.words > w->chunk_words) return 0;
    parts.number = e.type == PROF_EVENT_SCOPE ? e.end - e.start : e.type == PROF_EVENT_COUNTER ? e.value.as.u : 0;
    type = e.type == PROF_EVENT_SCOPE     ? PROF__DEVICE_SCOPE
           : e.type == PROF_EVENT_COUNTER ? PROF__DEVICE_COUNTER
                                          : PROF__DEVICE_MARK;
    if (w->used + parts.words > w->h.chunk_size / 8) prof__import_chunk_end(w);
    if (!w->used) prof__import_chunk_begin(w);
    at = w->chunk + w->used;
    prof__device_fill(at, &parts);
    at[0] = (uint64_t)PROF__KIND_EVENT << PROF__KIND_SHIFT |
            (uint64_t)w->devices[w->rows[row].device].site << PROF__TICK_BITS;
    at[1] = (uint64_t)w->rows[row].number << 8 | type;
    at[2] = e.start;
    w->used += (size_t)parts.words;
    w->status = w->out.status;
    return 1;
}

/* Makes the header of an image without a host. */
static void prof__import_header(prof__header *h, const char *program, const char *clock)
{
    memset(h, 0, sizeof *h);
    memcpy(h->magic, PROF__MAGIC, 8);
    h->version = PROF__IMAGE_VERSION;
    h->byte_order = PROF__BYTE_ORDER;
    h->header_size = sizeof *h;
    h->word_size = sizeof(void *);
    h->chunk_offset = sizeof *h;
    h->chunk_size = PROF__IMPORT_CHUNK;
    h->chunk_header_size = sizeof(prof__chunk);
    h->image_size = sizeof *h;
    h->mode = PROF_FILL;
    h->clock = PROF_CLOCK_MONOTONIC;
    h->state = PROF__STOPPED;
    h->session = 1;
    h->tick_hz = 1000000000;
    h->resolution_ticks = 1;
    prof__text_copy(h->program, sizeof h->program, program);
    prof__text_copy(h->clock_name, sizeof h->clock_name, clock);
}

/* Reads the host's image. host: its path; or NULL, and then program and clock are the names that the new image
   states. */
static prof_status prof__import_open(prof__import *w, const char *host, const char *program, const char *clock)
{
    prof_status status;
    memset(w, 0, sizeof *w);
    prof__import_header(&w->h, program, clock);
    if (!host) return PROF_OK;
    status = prof__image_open(host, &w->host);
    if (status != PROF_OK) return status;
    status = prof__read_file(&w->host, host, &w->bytes, &w->size, NULL);
    if (status != PROF_OK) return status;
    status = prof__read_header(w->bytes, w->size, host, &w->h);
    if (status != PROF_OK) return status;
    if (w->h.mode == PROF_STATS)
        return prof__fail(PROF_UNSUPPORTED, "%s has only statistics: record with another mode", host);
    w->first = w->h.first;
    w->last = w->h.last;
    w->pid = w->h.pid;
    return PROF_OK;
}

/* Copies the host's meta and finds the last ids in it. Returns 0 if there is no memory. */
static int prof__import_host_meta(prof__import *w)
{
    const uint64_t *words = (const uint64_t *)(const void *)(w->bytes + w->h.meta_offset);
    size_t count = (size_t)(w->h.meta_size / 8), at, length;
    for (at = 0; (length = prof__read_meta_words(words, at, count)) != 0; at += length) {
        uint32_t id = (uint32_t)words[at], *last = NULL;
        switch (words[at] >> 56) {
        case PROF__META_STRING: last = &w->strings; break;
        case PROF__META_SITE: last = &w->sites; break;
        case PROF__META_DEVICE: last = &w->device_number; break;
        case PROF__META_ROW: last = &w->row_number; break;
        default: break;
        }
        if (last && id > *last) *last = id;
    }
    if (!prof__import_meta_room(w, at + 1)) return 0;
    memcpy(w->meta, words, at * sizeof *words);
    w->meta_words = at;
    return 1;
}

/* Creates the new image at path, and writes the host's chunks to it. host: as for prof__import_open(); path may be the
   same file. */
static prof_status prof__import_begin(prof__import *w, const char *host, const char *path)
{
    prof_status status;
    if (host && !prof__import_host_meta(w)) return prof__fail(PROF_NO_MEMORY, "%s: no memory for its names", host);
    if (w->sites > PROF__SITE_MASK - PROF__IMPORT_ROWS - 1 || w->strings > 0xFFFF0000u ||
        w->device_number > 0xFFFF0000u || w->row_number > 0xFFFF0000u)
        return prof__fail(PROF_UNSUPPORTED, "%s: too many call sites to add devices", host);
    w->chunk = (uint64_t *)malloc(w->h.chunk_size);
    if (!w->chunk) return prof__fail(PROF_NO_MEMORY, "%s: no memory to write it", path);
    w->chunk_words = (w->h.chunk_size - w->h.chunk_header_size) / 8;
    /* A link or a device would be written in place, and may be the host's file. */
    if (w->host.file && !prof__file_replaceable(path))
        return prof__fail(PROF_INVALID_ARGUMENT, "%s is a link or a device: name a file itself", path);
    status = prof__out_file(&w->out, path);
    if (status != PROF_OK) return status;
    w->opened = 1;
    if (w->bytes) {
        prof__out_bytes(&w->out, w->bytes, w->h.header_size);
        prof__out_bytes(&w->out, w->bytes + w->h.chunk_offset, (size_t)(w->h.chunk_count * w->h.chunk_size));
    } else {
        prof__out_bytes(&w->out, &w->h, sizeof w->h);
    }
    w->h.chunk_offset = w->h.header_size;
    /* Readers look at this many chunks only. */
    if (w->h.next_chunk < w->h.chunk_count) w->h.next_chunk = w->h.chunk_count;
    return PROF_OK;
}

/* Copies the host's archive, which follows the host's image from old_size on. */
static void prof__import_archive(prof__import *w, uint64_t old_size)
{
    char part[PROF__OUT_RESERVE];
    uint64_t by = w->h.image_size - old_size, size;
    size_t got = 1;
    if (!w->h.archive_offset || !prof__image_size(&w->host, &size)) return;
    w->h.archive_offset += by;
    w->h.archive_first += by;
    w->h.archive_next += by;
    if (w->h.archive_limit) w->h.archive_limit += by;
    if (w->size > old_size) { /* the archive was read into memory */
        prof__out_bytes(&w->out, w->bytes + old_size, (size_t)(w->size - old_size));
        return;
    }
    for (; old_size < size && got && w->out.status == PROF_OK; old_size += got) {
        got = size - old_size < sizeof part ? (size_t)(size - old_size) : sizeof part;
        if (!prof__image_at(&w->host, old_size, part, got)) break; /* readers will notice that the rest is missing */
        prof__out_bytes(&w->out, part, got);
    }
}

/* Writes the rest of the new image. first, last: as for prof__import_close(). */
static void prof__import_end(prof__import *w, uint64_t first, uint64_t last)
{
    uint64_t old_size = w->h.image_size;
    prof__import_chunk_end(w);
    w->h.meta_offset = w->h.chunk_offset + w->h.chunk_count * w->h.chunk_size;
    w->h.meta_used = w->meta_words * 8;
    w->h.meta_size = w->h.meta_used + 8; /* a zero word ends meta */
    w->h.index_offset = w->h.index_size = 0;
    w->h.image_size = w->h.meta_offset + w->h.meta_size;
    if (prof__import_meta_room(w, 1)) prof__out_bytes(&w->out, w->meta, (size_t)w->h.meta_size);
    else prof__out_fail(&w->out, PROF_NO_MEMORY);
    if (!w->host.file) {
        w->h.first.tick = w->h.first.monotonic_ns = w->h.first.unix_ns = first;
        w->h.last.tick = w->h.last.monotonic_ns = w->h.last.unix_ns = last;
    } else {
        prof__import_archive(w, old_size);
    }
    prof__out_flush(&w->out);
    if (w->out.status == PROF_OK && prof__file_seek(w->out.file, 0, SEEK_SET))
        w->out.status = prof__cannot("write", w->out.path, NULL);
    /* At most the host's size of a header. */
    prof__out_bytes(&w->out, &w->h, w->h.header_size < sizeof w->h ? w->h.header_size : sizeof w->h);
}

/* Completes the new image if status is PROF_OK, and frees everything. first, last: only without a host: when the first
   event began and the last one ended, in ns. Returns the first error; then no file is left. */
static prof_status prof__import_close(prof__import *w, prof_status status, uint64_t first, uint64_t last)
{
    prof_status closed = PROF_OK;
    size_t i;
    if (w->opened && status == PROF_OK) prof__import_end(w, first, last);
    if (w->opened && status != PROF_OK) prof__out_fail(&w->out, status);
    /* Before the new file is renamed: path may be the host's file, and Windows does not replace an open file. */
    if (w->host.file) fclose(w->host.file);
    if (w->opened) closed = prof__out_close(&w->out);
    for (i = 0; i < w->device_count; i++) free(w->devices[i].name);
    for (i = 0; i < w->row_count; i++) free(w->rows[i].name);
    free(w->devices);
    free(w->rows);
    free(w->index.slots);
    free(w->meta);
    free(w->chunk);
    free(w->bytes);
    memset(w, 0, sizeof *w);
    return status != PROF_OK ? status : closed;
}

#endif /* PROF__READ_IMPORT_H */
