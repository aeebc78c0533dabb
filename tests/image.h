/* image.h - images that are built word by word, as the recorder would write them (src/image/format.h), so that every
   figure is known beforehand. A tick is a nanosecond, and the tick START_TICK is time 0. Include it after the
   implementation of prof.h, test.h and trace.h.

     image im = image_new(20, 2, 100);             two chunks of 20 words, 100 words of meta
     uint32_t work = site(&im, "work");
     chunk(&im, 0, 1, 1000);                       the first place, chunk 1, from tick 1000 on
     track(&im, string(&im, "main"), 1);
     begin(&im, work, 1010), end(&im, work, 1030);
     prof_trace *trace = image_read(&im); */
#ifndef IMAGE_H
#define IMAGE_H

#ifndef START_TICK
#define START_TICK 1000u
#endif
#define START_MONOTONIC 50000u
#ifndef START_UNIX
#define START_UNIX 1700000000000000000u
#endif

typedef struct image {
    unsigned char *bytes;
    size_t size;
    prof__header *header;
    size_t meta_at, meta_room; /* words */
    uint32_t strings, sites;
    uint64_t *word, *first, *end; /* of the present chunk */
    prof__chunk *chunk;
    uint64_t serials[8]; /* TRACK records so far, of each track */
    uint64_t now;        /* the tick of the next event, for a test that counts on */
} image;

static inline uint64_t pair_ns(uint64_t tick) { return START_MONOTONIC + (tick - START_TICK); }

static inline prof__pair pair_at(uint64_t tick)
{
    prof__pair pair;
    pair.tick = tick;
    pair.monotonic_ns = pair_ns(tick);
    pair.unix_ns = START_UNIX + (tick - START_TICK);
    pair.width = 20;
    return pair;
}

/* Chunks of chunk_words words, meta of meta_words. */
static inline image image_new(size_t chunk_words, size_t chunk_count, size_t meta_words)
{
    image im;
    memset(&im, 0, sizeof im);
    im.size = sizeof(prof__header) + meta_words * 8 + chunk_count * (PROF__LEAST_CHUNK + chunk_words * 8);
    im.bytes = (unsigned char *)calloc(1, im.size);
    im.header = (prof__header *)(void *)im.bytes;
    memcpy(im.header->magic, PROF__MAGIC, 8);
    im.header->version = PROF__IMAGE_OLDEST;
    im.header->byte_order = PROF__BYTE_ORDER;
    im.header->header_size = sizeof(prof__header);
    im.header->word_size = 8;
    im.header->image_size = im.size;
    im.header->meta_offset = sizeof(prof__header);
    im.header->meta_size = meta_words * 8;
    im.header->chunk_offset = sizeof(prof__header) + meta_words * 8;
    im.header->chunk_count = chunk_count;
    im.header->chunk_size = (uint32_t)(PROF__LEAST_CHUNK + chunk_words * 8);
    im.header->chunk_header_size = PROF__LEAST_CHUNK; /* that of version 3 */
    im.header->mode = PROF_RING;
    im.header->clock = PROF_CLOCK_COUNTER;
    im.header->state = PROF__STOPPED;
    im.header->session = 1;
    im.header->pid = 77;
    im.header->tick_hz = 1000000000u;
    im.header->resolution_ticks = 10;
    im.header->cost_ticks_x1000 = 25500;
    im.header->first = pair_at(START_TICK);
    im.header->last = im.header->first;
    strcpy(im.header->program, "synthetic");
    strcpy(im.header->clock_name, "test clock");
    im.meta_at = sizeof(prof__header) / 8;
    im.meta_room = im.meta_at + meta_words;
    return im;
}

static inline void meta(image *im, unsigned kind, uint32_t id, const void *payload, size_t size)
{
    size_t words = 1 + (size + 7) / 8;
    uint64_t *at = (uint64_t *)(void *)im->bytes + im->meta_at;
    CHECK(im->meta_at + words <= im->meta_room);
    if (im->meta_at + words > im->meta_room) exit(1);
    memcpy(at + 1, payload, size);
    *at = (uint64_t)kind << 56 | (uint64_t)words << 32 | id;
    im->meta_at += words;
    im->header->meta_used += words * 8;
}

static inline uint32_t string(image *im, const char *text)
{
    if (!*text) return 0;
    meta(im, PROF__META_STRING, ++im->strings, text, strlen(text) + 1);
    return im->strings;
}

static inline uint32_t site_in(image *im, const char *name, const char *category, const char *file, uint32_t line,
                        const char *function, uint32_t kind)
{
    uint32_t text = string(im, name), path = string(im, file);
    uint32_t where = string(im, function), group = string(im, category);
    uint64_t field[4];
    field[0] = (uint64_t)path << 32 | text;
    field[1] = (uint64_t)group << 32 | where;
    field[2] = (uint64_t)0x112233 << 32 | line;
    field[3] = (uint64_t)kind << 32 | 1;
    meta(im, PROF__META_SITE, ++im->sites, field, sizeof field);
    return im->sites;
}

static inline uint32_t site(image *im, const char *name) { return site_in(im, name, "", "", 0, "", PROF__KIND_BEGIN); }

/* The chunk in this place of the image becomes the one that is written. */
static inline void chunk(image *im, size_t place, uint64_t sequence, uint64_t tick)
{
    im->chunk = (prof__chunk *)(void *)(im->bytes + im->header->chunk_offset + place * im->header->chunk_size);
    im->chunk->sequence = sequence;
    im->chunk->base = pair_at(tick);
    im->first = im->word = (uint64_t *)(void *)((char *)im->chunk + PROF__LEAST_CHUNK);
    im->end = im->first + (im->header->chunk_size - PROF__LEAST_CHUNK) / 8;
    if (sequence > im->header->next_chunk) im->header->next_chunk = sequence;
}

static inline void put(image *im, uint64_t word)
{
    if (im->word == im->end) {
        printf("the test's chunk is too small\n");
        exit(1);
    }
    *im->word++ = word;
}

static inline uint64_t head(unsigned kind, uint32_t id, uint64_t low)
{
    return (uint64_t)kind << PROF__KIND_SHIFT | (uint64_t)id << PROF__TICK_BITS | low;
}

static inline void track_on(image *im, uint32_t name, uint64_t id, uint64_t serial, uint64_t thread)
{
    put(im, (uint64_t)PROF__KIND_TRACK << PROF__KIND_SHIFT | (serial & 0xFFFFFFF) << 32 | name);
    put(im, serial >> 28 << PROF__TICK_BITS | id);
    put(im, thread);
}

static inline void track(image *im, uint32_t name, uint64_t id)
{
    track_on(im, name, id, ++im->serials[id % 8], 100 + id);
}

static inline void at_tick(image *im, unsigned kind, uint32_t id, uint64_t tick)
{
    put(im, head(kind, id, tick - im->chunk->base.tick));
}

static inline void begin(image *im, uint32_t id, uint64_t tick) { at_tick(im, PROF__KIND_BEGIN, id, tick); }
static inline void end(image *im, uint32_t id, uint64_t tick) { at_tick(im, PROF__KIND_END, id, tick); }

static inline void event(image *im, uint32_t id, prof_event_type type, uint64_t detail, uint64_t object, uint64_t tick)
{
    at_tick(im, PROF__KIND_EVENT, id, tick);
    put(im, detail << 8 | (uint64_t)type);
    put(im, object);
}

static inline void arg_word(image *im, uint32_t key, prof_value_type type, uint64_t value)
{
    put(im, head(PROF__KIND_ARG, key, (uint64_t)type << 32 | 1));
    put(im, value);
}

static inline void text_record(image *im, unsigned kind, uint32_t id, const char *text, int cut)
{
    size_t words = strlen(text) / 8 + 1, i;
    put(im, head(kind, id, (uint64_t)PROF_VALUE_STRING << 32 | (cut ? 1u << 31 : 0u) | words));
    for (i = 0; i < words; ++i) put(im, 0);
    memcpy(im->word - words, text, strlen(text));
}

static inline uint64_t bits(double value)
{
    uint64_t word;
    memcpy(&word, &value, sizeof word);
    return word;
}

/* A device whose clock is the host's, with one row of the same number. */
static inline uint32_t device_in(image *im, uint32_t number, const char *name, const char *row_name)
{
    uint64_t words[PROF__DEVICE_WORDS - 1] = {0}, row;
    words[0] = string(im, name);
    words[1] = 1000000000;
    words[2] = words[3] = START_MONOTONIC;
    words[4] = prof__device_check(words[2], words[3]);
    meta(im, PROF__META_DEVICE, number, words, sizeof words);
    row = string(im, row_name) | (uint64_t)number << 32;
    meta(im, PROF__META_ROW, number, &row, sizeof row);
    return site_in(im, "", name, "", 0, "", PROF__KIND_EVENT | PROF_ROLE_DEVICE << PROF__ROLE_SHIFT);
}

/* A scope of a row. */
static inline void device_scope(image *im, uint32_t device, uint32_t row, const char *name, uint64_t from, uint64_t to)
{
    event(im, device, (prof_event_type)PROF__DEVICE_SCOPE, row, START_MONOTONIC + from, START_TICK + 900);
    text_record(im, PROF__KIND_NAME, 0, name, 0);
    put(im, head(PROF__KIND_DATA, PROF_VALUE_NONE, 1));
    put(im, to - from);
}

/* Reads and frees the image, and checks what holds for every trace. Never null. */
static inline prof_trace *image_read(image *im)
{
    prof_trace *trace = NULL;
    prof_status status = prof_trace_open_memory(im->bytes, im->size, &trace);
    if (status) {
        printf("prof_trace_open_memory: %s\n", prof_error());
        exit(1);
    }
    free(im->bytes);
    trace_check(trace);
    return trace;
}
#endif
