// ntff/import: Events into a copy of a recording.
/*-- into a copy of a recording --
   An image as prof.h reads it: the host's, if there is one, with more chunks behind its chunks, and meta, which grows,
   too, behind these. The new chunks have no TRACK: nothing but events of devices, whose names and rows are in meta.
   Their ticks are nanoseconds of the host's CLOCK_MONOTONIC or, without a host, of Unix time, and their one pair of
   clocks says so. */

#define PROF__NTFF_CHUNK 65536u  /* bytes, without a host */
#define PROF__NTFF_LANES 4096u   /* rows; further ones are one for all */

typedef struct prof__ntff_lane {
    uint32_t device, number; /* of the row; device is its place among the devices */
    char *name;
} prof__ntff_lane;

typedef struct prof__ntff_machine {
    char *name;
    uint32_t number, site;
} prof__ntff_machine;

typedef struct prof__ntff_image {
    prof__out out;
    FILE *host;        /* null: none */
    unsigned char *bytes; /* its image */
    prof__header h;    /* of what is written */
    prof__ntff_clock clock;
    prof__session *measure; /* of which nothing is there but chunk_words, for prof__device_measure() */
    uint64_t *chunk;
    size_t used;       /* words of it, its header included; 0: none has begun */
    uint64_t *meta;
    size_t meta_words, meta_room;
    uint32_t strings, sites, device_number, row_number; /* the last ids */
    prof__ntff_machine *devices;
    size_t device_count, device_room;
    prof__ntff_lane *lanes;
    size_t lane_count, lane_room;
    prof__read_index index; /* of the lanes */
    char instance[64];
    int has_instance, no_memory;
    prof_ntff_stats *stats;
    prof__ntff_args args;
} prof__ntff_image;

static int prof__ntff_meta_room(prof__ntff_image *w, size_t words)
{
    while (w->meta_room < w->meta_words + words)
        if (!prof__more_room(&w->meta, &w->meta_room, sizeof *w->meta)) return 0;
    memset(w->meta + w->meta_words, 0, words * sizeof *w->meta);
    return 1;
}

/* 0 without memory. */
static int prof__ntff_meta(prof__ntff_image *w, uint32_t kind, uint32_t id, const uint64_t *words, size_t count)
{
    if (!prof__ntff_meta_room(w, 1 + count)) return 0;
    w->meta[w->meta_words] = (uint64_t)kind << 56 | (uint64_t)(1 + count) << 32 | id;
    memcpy(w->meta + w->meta_words + 1, words, count * sizeof *words);
    w->meta_words += 1 + count;
    return 1;
}

/* The id of a string; 0, which is "", without memory. */
static uint32_t prof__ntff_string(prof__ntff_image *w, const char *text)
{
    size_t length = strlen(text), words = length / 8 + 1;
    if (!prof__ntff_meta_room(w, 1 + words)) return 0;
    w->meta[w->meta_words] = (uint64_t)PROF__META_STRING << 56 | (uint64_t)(1 + words) << 32 | ++w->strings;
    memcpy(w->meta + w->meta_words + 1, text, length);
    w->meta_words += 1 + words;
    return w->strings;
}

static int prof__ntff_machine_add(prof__ntff_image *w, const char *name)
{
    prof__ntff_machine *device;
    uint64_t words[PROF__DEVICE_WORDS - 1] = {0}, empty, now = w->h.first.monotonic_ns;
    if (!PROF__ROOM(w->devices, w->device_room, w->device_count)) return 0;
    device = &w->devices[w->device_count];
    device->name = prof__text_join(name, "");
    if (!device->name) return 0;
    w->device_count++;
    device->number = ++w->device_number;
    device->site = ++w->sites;
    empty = prof__ntff_string(w, "");
    words[0] = empty | empty << 32;
    words[1] = empty | (uint64_t)prof__ntff_string(w, name) << 32; /* the category */
    words[3] = 1u | (uint64_t)(PROF__KIND_EVENT | PROF_ROLE_DEVICE << PROF__ROLE_SHIFT) << 32;
    if (!prof__ntff_meta(w, PROF__META_SITE, device->site, words, PROF__META_SITE_WORDS - 1)) return 0;
    memset(words, 0, sizeof words);
    words[0] = prof__ntff_string(w, name);
    words[1] = 1000000000;
    prof__device_store(words + 2, now, now);
    return prof__ntff_meta(w, PROF__META_DEVICE, device->number, words, PROF__DEVICE_WORDS - 1);
}

static int prof__ntff_same_lane(const void *owner, size_t item, const void *key)
{
    const prof__ntff_image *w = (const prof__ntff_image *)owner;
    const prof__ntff_place *place = (const prof__ntff_place *)key;
    const prof__ntff_lane *lane = &w->lanes[item];
    return !strcmp(lane->name, place->row) && !strcmp(w->devices[lane->device].name, place->device);
}

static int prof__ntff_lane_add(prof__ntff_image *w, const prof__ntff_place *place, uint32_t hash)
{
    prof__ntff_lane *lane;
    uint64_t words[PROF__ROW_WORDS - 1 + 1];
    size_t device = 0;
    while (device < w->device_count && strcmp(w->devices[device].name, place->device)) device++;
    if (device == w->device_count && !prof__ntff_machine_add(w, place->device)) return 0;
    if (!PROF__ROOM(w->lanes, w->lane_room, w->lane_count)) return 0;
    lane = &w->lanes[w->lane_count];
    lane->device = (uint32_t)device;
    lane->name = prof__text_join(place->row, "");
    if (!lane->name) return 0;
    w->lane_count++;
    lane->number = ++w->row_number;
    words[0] = prof__ntff_string(w, place->row) | (uint64_t)w->devices[device].number << 32;
    return prof__ntff_meta(w, PROF__META_ROW, lane->number, words, PROF__ROW_WORDS - 1) &&
           prof__read_add(&w->index, hash, w->lane_count - 1);
}

/* Null without memory. */
static const prof__ntff_lane *prof__ntff_lane_of(prof__ntff_image *w, prof__ntff_place *place)
{
    uint32_t hash;
    size_t found;
    int tries;
    for (tries = 0; tries < 2; tries++) {
        hash = prof__text_hash(place->device) * 31 + prof__text_hash(place->row);
        found = prof__read_find(&w->index, hash, prof__ntff_same_lane, w, place);
        if (found != PROF__NONE) return &w->lanes[found];
        if (w->lane_count < PROF__NTFF_LANES || tries) break;
        snprintf(place->device, sizeof place->device, "Neuron");
        snprintf(place->row, sizeof place->row, "others");
    }
    return prof__ntff_lane_add(w, place, hash) ? &w->lanes[w->lane_count - 1] : NULL;
}

static void prof__ntff_chunk_end(prof__ntff_image *w)
{
    if (!w->used) return;
    memset(w->chunk + w->used, 0, w->h.chunk_size - w->used * 8);
    prof__out_bytes(&w->out, w->chunk, w->h.chunk_size);
    w->used = 0;
}

static void prof__ntff_chunk_begin(prof__ntff_image *w)
{
    prof__chunk chunk;
    memset(w->chunk, 0, w->h.chunk_header_size);
    memset(&chunk, 0, sizeof chunk);
    chunk.sequence = ++w->h.next_chunk;
    chunk.base.tick = w->h.first.tick;
    chunk.state = PROF__CHUNK_FULL;
    memcpy(w->chunk, &chunk, sizeof chunk);
    w->used = w->h.chunk_header_size / 8;
    w->h.chunk_count++;
}

/* As prof__device_write() does it. */
static void prof__ntff_put(prof__ntff_image *w, const prof__ntff_lane *lane, const prof_device_event *event)
{
    prof_device_event e = *event;
    prof__device_parts parts;
    uint64_t type, *at;
    prof__device_measure(w->measure, &e, &parts);
    while (parts.words > w->measure->chunk_words && e.arg_count) {
        e.arg_count--;
        prof__device_measure(w->measure, &e, &parts);
    }
    if (parts.words > w->measure->chunk_words) { /* only where the host's chunks are unlike any that prof makes */
        w->stats->errors++;
        return;
    }
    parts.number = e.type == PROF_EVENT_SCOPE ? e.end - e.start : e.type == PROF_EVENT_COUNTER ? e.value.as.u : 0;
    type = e.type == PROF_EVENT_SCOPE     ? PROF__DEVICE_SCOPE
           : e.type == PROF_EVENT_COUNTER ? PROF__DEVICE_COUNTER
                                          : PROF__DEVICE_MARK;
    if (w->used + parts.words > w->h.chunk_size / 8) prof__ntff_chunk_end(w);
    if (!w->used) prof__ntff_chunk_begin(w);
    at = w->chunk + w->used;
    prof__device_fill(at, &parts);
    at[0] = (uint64_t)PROF__KIND_EVENT << PROF__KIND_SHIFT |
            (uint64_t)w->devices[lane->device].site << PROF__TICK_BITS;
    at[1] = (uint64_t)lane->number << 8 | type;
    at[2] = e.start;
    w->used += (size_t)parts.words;
}

static int prof__ntff_import_event(void *user, const prof_ntff_event *event)
{
    prof__ntff_image *w = (prof__ntff_image *)user;
    prof__ntff_place place;
    prof_device_event e;
    const prof__ntff_lane *lane;
    int64_t start;
    if (event->flags & PROF_NTFF_RAW_CLOCK) return 0;
    start = prof__ntff_clock_host(&w->clock, event->start_ns);
    if (w->host && (start < w->clock.host - (event->duration_ns > 0 ? event->duration_ns : 0) ||
                    start > (int64_t)w->h.last.monotonic_ns))
        w->stats->outside++;
    if (!w->has_instance && event->instance[0]) {
        w->has_instance = 1;
        snprintf(w->instance, sizeof w->instance, "%s", event->instance);
    }
    prof__ntff_place_of(event, w->h.pid, event->instance[0] ? w->instance : "", &place);
    lane = prof__ntff_lane_of(w, &place);
    if (!lane) {
        w->no_memory = 1;
        return 1;
    }
    e = prof__ntff_device_event(event, event->start_ns - start, &w->args);
    prof__ntff_put(w, lane, &e);
    return w->out.status != PROF_OK;
}

/* What an image has by itself. */
static void prof__ntff_header(prof__header *h)
{
    memset(h, 0, sizeof *h);
    memcpy(h->magic, PROF__MAGIC, 8);
    h->version = PROF__IMAGE_VERSION;
    h->byte_order = PROF__BYTE_ORDER;
    h->header_size = sizeof *h;
    h->word_size = sizeof(void *);
    h->chunk_offset = sizeof *h;
    h->chunk_size = PROF__NTFF_CHUNK;
    h->chunk_header_size = sizeof(prof__chunk);
    h->image_size = sizeof *h;
    h->mode = PROF_FILL;
    h->clock = PROF_CLOCK_MONOTONIC;
    h->state = PROF__STOPPED;
    h->session = 1;
    h->tick_hz = 1000000000;
    h->resolution_ticks = 1;
    strcpy(h->program, "Neuron");
    strcpy(h->clock_name, "Unix time");
}

/* Takes over the host's meta, and gets to know the last ids. 0 without memory. */
static int prof__ntff_host_meta(prof__ntff_image *w)
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
    if (!prof__ntff_meta_room(w, at + 1)) return 0;
    memcpy(w->meta, words, at * sizeof *words);
    w->meta_words = at;
    return 1;
}

static prof_status prof__ntff_host_open(prof__ntff_image *w, const char *path)
{
    prof_status status;
    uint64_t size;
    w->host = fopen(path, "rb");
    if (!w->host) return prof__fail(PROF_IO, "cannot open %s: %s", path, strerror(errno));
    status = prof__read_file(w->host, path, &w->bytes, &size, NULL);
    if (status != PROF_OK) return status;
    status = prof__read_header(w->bytes, size, path, &w->h);
    if (status != PROF_OK) return status;
    if (w->h.mode == PROF_STATS)
        return prof__fail(PROF_UNSUPPORTED, "%s has only statistics: record with another mode", path);
    prof__ntff_clock_of(&w->clock, &w->h);
    if (!w->clock.unix_ns) return prof__fail(PROF_UNSUPPORTED, "%s does not say when, in Unix time, it began", path);
    if (!prof__ntff_host_meta(w)) return prof__fail(PROF_NO_MEMORY, "%s: no memory for its names", path);
    if (w->sites > PROF__SITE_MASK - PROF__NTFF_LANES - 1 || w->strings > 0xFFFF0000u || w->device_number > 0xFFFF0000u ||
        w->row_number > 0xFFFF0000u)
        return prof__fail(PROF_UNSUPPORTED, "%s: its call sites leave no numbers for devices", path);
    return PROF_OK;
}

/* Header, and the host's chunks. */
static prof_status prof__ntff_image_begin(prof__ntff_image *w, const char *path)
{
    prof_status status;
    w->chunk = (uint64_t *)malloc(w->h.chunk_size);
    w->measure = (prof__session *)calloc(1, sizeof *w->measure);
    if (!w->chunk || !w->measure) return prof__fail(PROF_NO_MEMORY, "%s: no memory to write it", path);
    w->measure->chunk_words = (w->h.chunk_size - w->h.chunk_header_size) / 8;
    if (!strcmp(path, "-")) return prof__fail(PROF_INVALID_ARGUMENT, "prof_ntff_import: an image needs a file");
    if (w->host && !prof__file_replaceable(path)) /* it would be written in place, and may be the host, still to be read */
        return prof__fail(PROF_INVALID_ARGUMENT, "%s is a link or a device: name a file itself", path);
    status = prof__out_file(&w->out, path);
    if (status != PROF_OK) return status;
    if (w->bytes) {
        prof__out_bytes(&w->out, w->bytes, w->h.header_size);
        prof__out_bytes(&w->out, w->bytes + w->h.chunk_offset, (size_t)(w->h.chunk_count * w->h.chunk_size));
    } else {
        prof__out_bytes(&w->out, &w->h, sizeof w->h);
    }
    w->h.chunk_offset = w->h.header_size;
    if (w->h.next_chunk < w->h.chunk_count) w->h.next_chunk = w->h.chunk_count; /* readers look at no more chunks than that */
    return PROF_OK;
}

/* The host's archive, which stands behind its image, from old_size on. */
static void prof__ntff_archive(prof__ntff_image *w, uint64_t old_size)
{
    char part[PROF__OUT_RESERVE];
    uint64_t by = w->h.image_size - old_size, size;
    size_t got = 1;
    if (!w->h.archive_offset || !prof__read_size(w->host, &size)) return;
    w->h.archive_offset += by;
    w->h.archive_first += by;
    w->h.archive_next += by;
    if (w->h.archive_limit) w->h.archive_limit += by;
    for (; old_size < size && got && w->out.status == PROF_OK; old_size += got) {
        got = size - old_size < sizeof part ? (size_t)(size - old_size) : sizeof part;
        if (!prof__read_at(w->host, old_size, part, got)) break; /* readers find out what is missing */
        prof__out_bytes(&w->out, part, got);
    }
}

static void prof__ntff_image_end(prof__ntff_image *w)
{
    uint64_t old_size = w->h.image_size;
    prof__ntff_chunk_end(w);
    w->h.meta_offset = w->h.chunk_offset + w->h.chunk_count * w->h.chunk_size;
    w->h.meta_used = w->meta_words * 8;
    w->h.meta_size = w->h.meta_used + 8; /* ends with a head of 0 */
    w->h.index_offset = w->h.index_size = 0;
    w->h.image_size = w->h.meta_offset + w->h.meta_size;
    if (prof__ntff_meta_room(w, 1)) prof__out_bytes(&w->out, w->meta, (size_t)w->h.meta_size);
    else prof__out_fail(&w->out, PROF_NO_MEMORY);
    if (!w->host) {
        w->h.first.tick = w->h.first.monotonic_ns = w->h.first.unix_ns = (uint64_t)w->stats->first_ns;
        w->h.last.tick = w->h.last.monotonic_ns = w->h.last.unix_ns = (uint64_t)w->stats->last_ns;
    } else {
        prof__ntff_archive(w, old_size);
    }
    prof__out_flush(&w->out);
    if (w->out.status == PROF_OK && fseek(w->out.file, 0, SEEK_SET))
        w->out.status = prof__fail(PROF_IO, "cannot write %s: %s", w->out.path, strerror(errno));
    prof__out_bytes(&w->out, &w->h, w->h.header_size < sizeof w->h ? w->h.header_size : sizeof w->h); /* the host's */
}

static void prof__ntff_image_free(prof__ntff_image *w)
{
    size_t i;
    for (i = 0; i < w->device_count; i++) free(w->devices[i].name);
    for (i = 0; i < w->lane_count; i++) free(w->lanes[i].name);
    free(w->devices);
    free(w->lanes);
    free(w->index.slots);
    free(w->meta);
    free(w->chunk);
    free(w->measure);
    free(w->bytes);
    if (w->host) fclose(w->host);
    free(w);
}

static prof_status prof__ntff_import_into(prof__ntff_image *w, const char *json, const char *host, const char *out)
{
    prof_status status = PROF_OK, closed;
    prof__ntff_header(&w->h);
    if (host) status = prof__ntff_host_open(w, host);
    if (status != PROF_OK) return status;
    w->stats->clock_stepped |= w->clock.stepped;
    status = prof__ntff_image_begin(w, out);
    if (status != PROF_OK) return status;
    status = prof_ntff_read_system_json(json, prof__ntff_import_event, w, w->stats);
    if (status == PROF_OK && w->no_memory) status = prof__fail(PROF_NO_MEMORY, "%s: no memory for its rows", json);
    if (status == PROF_OK && !w->stats->events) status = prof__fail(PROF_CORRUPT, "%s: has no events", json);
    if (status == PROF_OK) prof__ntff_image_end(w);
    if (status != PROF_OK) prof__out_fail(&w->out, status);
    if (w->host) fclose(w->host); /* first: if it is what is written, too, Windows replaces no file that is open */
    w->host = NULL;
    closed = prof__out_close(&w->out);
    return status != PROF_OK ? status : closed;
}

PROF_DEF prof_status prof_ntff_import(const char *json, const char *host, const char *out, prof_ntff_stats *stats)
{
    prof__ntff_image *w = (prof__ntff_image *)calloc(1, sizeof *w);
    prof_ntff_stats own;
    prof_status status;
    if (!w) return prof__fail(PROF_NO_MEMORY, "prof_ntff_import: no memory");
    memset(&own, 0, sizeof own);
    w->stats = &own;
    status = json && out ? prof__ntff_import_into(w, json, host, out)
                         : prof__fail(PROF_INVALID_ARGUMENT, "prof_ntff_import: json or out is null");
    prof__ntff_image_free(w);
    if (stats) {
        stats->outside += own.outside;
        stats->clock_stepped |= own.clock_stepped;
        prof__ntff_stats_add(stats, &own);
    }
    return status;
}
