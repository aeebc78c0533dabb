/* The XSpace writer: every byte of a small file against an encoder of the test's own, every event of larger ones read
   back with a strict protobuf reader and compared with the cursor's account; names that mean something to XProf;
   hostile names; files, runs and hosts; failing sinks and damaged images. */
/* run: check traces */
#include "private.h" /* perfetto_trace.json.gz */
#define PROF__XPLANE_KEEP ((size_t)20000) /* so that the events of some lines are kept, those of others made twice */
static unsigned long long size_limit = 0x7FFF0000;
#define PROF__XPLANE_MOST size_limit
static long compared;
#undef strcmp
#define strcmp(a, b) (++compared, strcmp(a, b))
#include "../prof_xplane.h"
#undef strcmp

#include "../tools/inflate.h"
#include "test.h"
#include "trace.h"
#include "image.h"
#include "image_switches.h"
#include "json.h" /* utf8_length */

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/*-- the sink --*/

typedef struct memory {
    unsigned char *bytes;
    size_t size, room, limit, largest; /* limit: more are refused; largest: the largest piece */
    int only_count;
    long resident; /* with only_count: the most that the process had */
} memory;

static long resident(void)
{
    long pages[2] = {0, 0};
    FILE *file = fopen("/proc/self/statm", "r");
    if (file && fscanf(file, "%ld %ld", &pages[0], &pages[1]) != 2) pages[1] = 0;
    if (file) fclose(file);
    return pages[1] * 4096;
}

static int memory_write(void *user, const void *data, size_t size)
{
    memory *m = (memory *)user;
    if (m->limit && m->size + size > m->limit) return 1;
    if (size > m->largest) m->largest = size;
    if (m->only_count) {
        long now = resident();
        if (now > m->resident) m->resident = now;
    } else {
        if (m->size + size > m->room) m->bytes = (unsigned char *)realloc(m->bytes, m->room = (m->size + size) * 2);
        memcpy(m->bytes + m->size, data, size);
    }
    m->size += size;
    return 0;
}

static prof_sink memory_sink(memory *m)
{
    prof_sink sink;
    sink.write = memory_write;
    sink.user = m;
    return sink;
}

/*-- a strict reader of XSpace: fields it does not know, wrong wire types, bad UTF-8, ids that come twice are failures --*/

typedef struct stat_value {
    uint64_t id, number; /* number: of kind 2 (double, its bits), 3 (uint64), 4 (int64) */
    int kind;            /* the field of XStat; 5: text */
    char *text;
} stat_value;

typedef struct name_entry {
    uint64_t id;
    char *name, *shown; /* shown: "" if there is none */
    stat_value *stats;
    size_t stat_count;
} name_entry;

typedef struct space_event {
    uint64_t name, offset, duration;
    stat_value *stats;
    size_t stat_count;
} space_event;

typedef struct space_line {
    uint64_t id, time, place; /* place: the number by which the trace viewer sorts; 0: it is the id */
    char *name, *shown; /* null: it is the name */
    space_event *events;
    size_t count, filler;
} space_line;

typedef struct space_plane {
    uint64_t id;
    char *name;
    space_line *lines;
    name_entry *names, *stat_names;
    stat_value *stats;
    size_t line_count, name_count, stat_name_count, stat_count;
} space_plane;

typedef struct xspace {
    space_plane *planes;
    char **warnings, *host;
    size_t plane_count, warning_count;
} xspace;

typedef struct reader {
    const unsigned char *at, *end;
} reader;

static int read_bad; /* 1: what is read is no XSpace */

static void *keep_all; /* a list of all memory that the reader took */

static void *take(size_t size)
{
    void **block = (void **)calloc(1, sizeof(void *) * 2 + size);
    block[0] = keep_all;
    keep_all = block;
    return block + 2;
}

static void free_all(void)
{
    while (keep_all) {
        void **block = (void **)keep_all;
        keep_all = block[0];
        free(block);
    }
}

/* Makes room for one more of an array whose count is a power of two or 0; what it had stays in memory. */
static void *more(void *array, size_t count, size_t size)
{
    void *larger;
    if (count & (count - 1)) return array;
    larger = take((count ? count * 2 : 1) * size);
    if (count) memcpy(larger, array, count * size);
    return larger;
}

static uint64_t read_varint(reader *r)
{
    uint64_t value = 0;
    int shift = 0;
    for (; r->at < r->end && shift < 70; shift += 7) {
        unsigned char byte = *r->at++;
        if (shift < 64) value |= (uint64_t)(byte & 127) << shift;
        if (!(byte & 128)) return value;
    }
    read_bad = 1;
    r->at = r->end;
    return 0;
}

static reader read_message(reader *r)
{
    uint64_t size = read_varint(r);
    reader inside;
    if (size > (uint64_t)(r->end - r->at)) {
        read_bad = 1;
        size = 0;
        r->at = r->end;
    }
    inside.at = r->at;
    inside.end = r->at += size;
    return inside;
}

static char *read_text(reader *r)
{
    reader inside = read_message(r);
    size_t size = (size_t)(inside.end - inside.at);
    char *text = (char *)take(size + 1);
    if (size) memcpy(text, inside.at, size);
    if (strlen(text) != size) read_bad = 1;
    for (const char *c = text; *c;) {
        size_t length = utf8_length(c, text + size);
        if (!length) read_bad = 1;
        c += length ? length : 1;
    }
    return text;
}

static stat_value read_stat(reader *from)
{
    reader r = read_message(from);
    stat_value stat = {0, 0, 0, NULL};
    while (r.at < r.end) {
        uint64_t tag = read_varint(&r);
        if (tag == 0x08)
            stat.id = read_varint(&r);
        else if (tag == 0x11 && r.end - r.at >= 8)
            for (int i = 0; i < 8; ++i) stat.number |= (uint64_t)*r.at++ << 8 * i;
        else if (tag == 0x18 || tag == 0x20)
            stat.number = read_varint(&r);
        else if (tag == 0x2A)
            stat.text = read_text(&r);
        else
            read_bad = 1;
        if (tag != 0x08) {
            if (stat.kind) read_bad = 1; /* two values */
            stat.kind = (int)(tag >> 3);
        }
    }
    if (!stat.id || !stat.kind) read_bad = 1;
    return stat;
}

#define READ_STAT(list, number, r)                                                      \
    do {                                                                                \
        (list) = (stat_value *)more(list, number, sizeof *(list));                      \
        (list)[(number)++] = read_stat(r);                                              \
    } while (0)

static space_event read_event(reader *from)
{
    reader r = read_message(from);
    space_event event;
    int timed = 0;
    memset(&event, 0, sizeof event);
    while (r.at < r.end) {
        uint64_t tag = read_varint(&r);
        if (tag == 0x08)
            event.name = read_varint(&r);
        else if (tag == 0x10)
            event.offset = read_varint(&r), timed = 1;
        else if (tag == 0x18)
            event.duration = read_varint(&r);
        else if (tag == 0x22)
            READ_STAT(event.stats, event.stat_count, &r);
        else
            read_bad = 1;
    }
    if (!event.name || !timed) read_bad = 1;
    return event;
}

static space_line read_line(reader *from)
{
    reader r = read_message(from);
    space_line line;
    memset(&line, 0, sizeof line);
    line.name = (char *)take(1);
    while (r.at < r.end && !read_bad) {
        uint64_t tag = read_varint(&r);
        if (tag == 0x08) {
            line.id = read_varint(&r);
        } else if (tag == 0x12) {
            line.name = read_text(&r);
        } else if (tag == 0x5A) {
            line.shown = read_text(&r);
        } else if (tag == 0x50) {
            line.place = read_varint(&r);
        } else if (tag == 0x18) {
            line.time = read_varint(&r);
        } else if (tag == 0x22) {
            line.events = (space_event *)more(line.events, line.count, sizeof *line.events);
            line.events[line.count++] = read_event(&r);
        } else if (tag == 0x7A) {
            reader inside = read_message(&r);
            line.filler += (size_t)(inside.end - inside.at) + 2;
        } else {
            read_bad = 1;
        }
    }
    return line;
}

/* An entry of either map. */
static name_entry read_entry(reader *from, int of_event)
{
    reader r = read_message(from), value = {NULL, NULL};
    name_entry entry;
    uint64_t key = 0;
    memset(&entry, 0, sizeof entry);
    entry.name = entry.shown = (char *)take(1);
    while (r.at < r.end) {
        uint64_t tag = read_varint(&r);
        if (tag == 0x08)
            key = read_varint(&r);
        else if (tag == 0x12)
            value = read_message(&r);
        else
            read_bad = 1;
    }
    while (value.at < value.end) {
        uint64_t tag = read_varint(&value);
        if (tag == 0x08)
            entry.id = read_varint(&value);
        else if (tag == 0x12)
            entry.name = read_text(&value);
        else if (tag == 0x22 && of_event)
            entry.shown = read_text(&value);
        else if (tag == 0x2A && of_event)
            READ_STAT(entry.stats, entry.stat_count, &value);
        else
            read_bad = 1;
    }
    if (!key || key != entry.id || !*entry.name) read_bad = 1;
    return entry;
}

static const name_entry *find_name(const name_entry *names, size_t count, uint64_t id)
{
    const name_entry *found = NULL;
    if (id && id <= count && names[id - 1].id == id) return &names[id - 1];
    for (size_t i = 0; i < count; ++i) {
        if (names[i].id != id) continue;
        if (found) read_bad = 1;
        found = &names[i];
    }
    if (!found) read_bad = 1;
    return found;
}

static space_plane read_plane(reader *from)
{
    reader r = read_message(from);
    space_plane plane;
    memset(&plane, 0, sizeof plane);
    plane.name = (char *)take(1);
    while (r.at < r.end && !read_bad) {
        uint64_t tag = read_varint(&r);
        if (tag == 0x08) {
            plane.id = read_varint(&r);
        } else if (tag == 0x12) {
            plane.name = read_text(&r);
        } else if (tag == 0x1A) {
            plane.lines = (space_line *)more(plane.lines, plane.line_count, sizeof *plane.lines);
            plane.lines[plane.line_count++] = read_line(&r);
        } else if (tag == 0x22) {
            plane.names = (name_entry *)more(plane.names, plane.name_count, sizeof *plane.names);
            plane.names[plane.name_count++] = read_entry(&r, 1);
        } else if (tag == 0x2A) {
            plane.stat_names = (name_entry *)more(plane.stat_names, plane.stat_name_count, sizeof *plane.stat_names);
            plane.stat_names[plane.stat_name_count++] = read_entry(&r, 0);
        } else if (tag == 0x32) {
            READ_STAT(plane.stats, plane.stat_count, &r);
        } else {
            read_bad = 1;
        }
    }
    return plane;
}

/* All names are there, events are in order and properly nested. */
static void check_plane(const space_plane *plane)
{
    for (size_t i = 0; i < plane->line_count; ++i) {
        const space_line *line = &plane->lines[i];
        int spans = !strcmp(line->name, "spans") || !strcmp(line->name, "locks");
        uint64_t *open = (uint64_t *)take((line->count + 1) * sizeof *open);
        size_t depth = 0;
        CHECK(line->count > 0); /* XProf has no use for empty ones */
        for (size_t e = 0; e < line->count && !read_bad; ++e) {
            const space_event *event = &line->events[e];
            find_name(plane->names, plane->name_count, event->name);
            for (size_t s = 0; s < event->stat_count; ++s)
                find_name(plane->stat_names, plane->stat_name_count, event->stats[s].id);
            CHECK(event->offset % 1000 == 0 || !event->duration);
            if (spans) continue;
            if (e) CHECK((event->offset + 999) / 1000 >= (line->events[e - 1].offset + 999) / 1000);
            while (depth && open[depth - 1] <= event->offset && (event->duration || open[depth - 1] < event->offset)) --depth;
            if (depth) CHECK(event->offset + event->duration <= open[depth - 1] || open[depth - 1] == event->offset);
            open[depth++] = event->offset + event->duration;
        }
    }
    for (size_t i = 0; i < plane->name_count; ++i)
        for (size_t s = 0; s < plane->names[i].stat_count; ++s)
            find_name(plane->stat_names, plane->stat_name_count, plane->names[i].stats[s].id);
    for (size_t i = 0; i < plane->stat_name_count; ++i)
        CHECK(strcmp(plane->stat_names[i].name, "group_id")); /* would keep XProf from grouping */
}

static xspace read_space(const unsigned char *bytes, size_t size)
{
    reader r;
    xspace all;
    memset(&all, 0, sizeof all);
    r.at = bytes;
    r.end = bytes + size;
    read_bad = 0;
    while (r.at < r.end && !read_bad) {
        uint64_t tag = read_varint(&r);
        if (tag == 0x0A) {
            all.planes = (space_plane *)more(all.planes, all.plane_count, sizeof *all.planes);
            all.planes[all.plane_count++] = read_plane(&r);
        } else if (tag == 0x1A) {
            all.warnings = (char **)more(all.warnings, all.warning_count, sizeof *all.warnings);
            all.warnings[all.warning_count++] = read_text(&r);
        } else if (tag == 0x22) {
            all.host = read_text(&r);
        } else {
            read_bad = 1;
        }
    }
    for (size_t i = 0; i < all.plane_count; ++i) check_plane(&all.planes[i]);
    CHECK(!read_bad);
    CHECK(all.host != NULL);
    return all;
}

/* What a trace is written as; free_all() later. */
static xspace written(const prof_trace *trace, const prof_xplane_options *options)
{
    memory m;
    xspace all;
    memset(&m, 0, sizeof m);
    CHECK_EQUAL(prof_xplane_stream(trace, memory_sink(&m), options), PROF_OK);
    all = read_space(m.bytes, m.size);
    free(m.bytes);
    return all;
}

static const space_plane *plane_of(const xspace *all, const char *name)
{
    static const space_plane none;
    for (size_t i = 0; i < all->plane_count; ++i)
        if (!strcmp(all->planes[i].name, name)) return &all->planes[i];
    return &none;
}

static const space_line *line_of(const space_plane *plane, const char *name)
{
    static const space_line none;
    for (size_t i = 0; i < plane->line_count; ++i)
        if (!strcmp(plane->lines[i].name, name)) return &plane->lines[i];
    return &none;
}

static const char *name_of(const space_plane *plane, const space_event *event) /* as the trace viewer shows it */
{
    const name_entry *name = find_name(plane->names, plane->name_count, event->name);
    return !name ? "(none)" : *name->shown ? name->shown : name->name;
}

static const char *true_name(const space_plane *plane, const space_event *event) /* as other tools see it */
{
    const name_entry *name = find_name(plane->names, plane->name_count, event->name);
    return name ? name->name : "(none)";
}

static const stat_value *stat_in(const space_plane *plane, const stat_value *stats, size_t count, const char *key)
{
    for (size_t i = 0; i < count; ++i) {
        const name_entry *name = find_name(plane->stat_names, plane->stat_name_count, stats[i].id);
        if (name && !strcmp(name->name, key)) return &stats[i];
    }
    return NULL;
}

static const stat_value *stat_of(const space_plane *plane, const space_event *event, const char *key)
{
    return stat_in(plane, event->stats, event->stat_count, key);
}

static void check_text_stat(const stat_value *stat, const char *text)
{
    CHECK(stat && stat->kind == 5);
    if (stat && stat->kind == 5) CHECK_TEXT(stat->text, text);
}

static void check_number_stat(const stat_value *stat, int kind, uint64_t value)
{
    CHECK(stat != NULL);
    if (!stat) return;
    CHECK_EQUAL(stat->kind, kind);
    CHECK(stat->number == value);
}

static const space_event *find_event(const space_plane *plane, const space_line *line, const char *name, size_t nth)
{
    for (size_t i = 0; i < line->count; ++i)
        if (!strcmp(name_of(plane, &line->events[i]), name) && !nth--) return &line->events[i];
    CHECK_TEXT("no event", "the event that was wanted");
    return NULL;
}

static int warned(const xspace *all, const char *text)
{
    for (size_t i = 0; i < all->warning_count; ++i)
        if (strstr(all->warnings[i], text)) return 1;
    return 0;
}

/*-- recording --*/

static void start(prof_mode mode)
{
    prof_config config;
    memset(&config, 0, sizeof config);
    config.buffer_size = 4 << 20;
    config.mode = mode;
    CHECK_EQUAL(prof_start(&config), PROF_OK);
}

static prof_trace *stop(void)
{
    prof_trace *trace = NULL;
    CHECK_EQUAL(prof_stop(), PROF_OK);
    CHECK_EQUAL(prof_trace_open_live(&trace), PROF_OK);
    return trace;
}

/*-- byte for byte --*/

static unsigned char expected[8192];
static size_t expected_size;

static void put_byte(unsigned byte) { expected[expected_size++] = (unsigned char)byte; }

static void put_varint(uint64_t value)
{
    for (; value > 127; value >>= 7) put_byte((unsigned)(value & 127) | 128u);
    put_byte((unsigned)value);
}

static void put_number(unsigned tag, uint64_t value)
{
    put_byte(tag);
    put_varint(value);
}

static size_t put_open(unsigned tag) /* one byte of length, or two */
{
    put_byte(tag);
    return expected_size;
}

static void put_close(size_t from)
{
    unsigned char body[8192];
    size_t size = expected_size - from;
    memcpy(body, expected + from, size);
    expected_size = from;
    put_varint(size);
    memcpy(expected + expected_size, body, size);
    expected_size += size;
}

static void put_text(unsigned tag, const char *text)
{
    put_byte(tag);
    put_varint(strlen(text));
    memcpy(expected + expected_size, text, strlen(text));
    expected_size += strlen(text);
}

static void put_text_stat(unsigned tag, uint64_t id, const char *text)
{
    size_t stat = put_open(tag);
    put_number(0x08, id);
    put_text(0x2A, text);
    put_close(stat);
}

static void put_event(uint64_t name, const prof_event *event, int with_number)
{
    size_t at = put_open(0x22), stat;
    put_number(0x08, name);
    put_number(0x10, (uint64_t)event->start_ns * 1000);
    if (event->duration_ns) put_number(0x18, (uint64_t)event->duration_ns * 1000);
    if (with_number) {
        stat = put_open(0x22);
        put_number(0x08, PROF__STAT_COUNT);
        put_number(0x20, (uint64_t)-7); /* ten bytes */
        put_close(stat);
    }
    put_close(at);
}

static void put_event_name(uint64_t id, const char *name, const char *shown, unsigned line)
{
    char source[64];
    size_t entry = put_open(0x22), value;
    snprintf(source, sizeof source, "%s:%u", __FILE__, line);
    put_number(0x08, id);
    value = put_open(0x12);
    put_number(0x08, id);
    put_text(0x12, name);
    put_text(0x22, shown);
    put_text_stat(0x2A, PROF__STAT_CATEGORY, "net");
    put_text_stat(0x2A, PROF__STAT_SOURCE, source);
    put_close(value);
    put_close(entry);
}

static void put_stat_name(uint64_t id, const char *name)
{
    size_t entry = put_open(0x2A), value;
    put_number(0x08, id);
    value = put_open(0x12);
    put_number(0x08, id);
    put_text(0x12, name);
    put_close(value);
    put_close(entry);
}

TEST(every_byte_of_a_small_file)
{
    memory m;
    prof_xplane_options options;
    size_t plane, line, stat;
    unsigned at;
    char shown[300];
    start(PROF_RING);
    PROFILE_THREAD("main");
    {
        PROFILE_SCOPE_C("outer", "net"); at = __LINE__;
        PROFILE_ARG_I("i", -7);
        PROFILE_MARK_C("here", "net");
    }
    prof_trace *trace = stop();
    trace_list list = trace_read(trace, 0);
    CHECK_EQUAL(list.count, 2);
    expected_size = 0;
    plane = put_open(0x0A);
    put_text(0x12, "/host:CPU");
    stat = put_open(0x32);
    put_number(0x08, PROF__STAT_PID);
    put_number(0x20, (uint64_t)getpid());
    put_close(stat);
    put_event_name(1, "outer:net", "outer", at);
    put_event_name(2, "mark: here", "here", at + 2);
    put_stat_name(PROF__STAT_SOURCE, "source");
    put_stat_name(PROF__STAT_CATEGORY, "category");
    put_stat_name(PROF__STAT_PID, "process_id");
    put_stat_name(PROF__STAT_COUNT, "i");
    line = put_open(0x1A);
    put_number(0x08, prof_trace_track(trace, 0)->thread_id);
    put_text(0x12, "main");
    snprintf(shown, sizeof shown, "main (%s)", prof_trace_about(trace)->program);
    put_text(0x5A, shown);
    put_event(1, &list.events[0], 1);
    put_event(2, &list.events[1], 0);
    put_close(line);
    put_close(plane);
    memset(&m, 0, sizeof m);
    memset(&options, 0, sizeof options);
    options.host = "there";
    CHECK_EQUAL(prof_xplane_stream(trace, memory_sink(&m), &options), PROF_OK);
    CHECK(m.size > expected_size + 8);
    CHECK(!memcmp(m.bytes, expected, expected_size)); /* behind it comes the Task Environment */
    CHECK(!memcmp(m.bytes + m.size - 7, "\x22\x05there", 7));
    read_space(m.bytes, m.size);
    free_all();
    free(m.bytes);
    trace_free(&list);
    prof_trace_close(trace);
}

/*-- all events of larger traces --*/

/* Bytes at text, which begins no character, that one U+FFFD stands for: the longest beginning of one. */
static size_t broken_length(const char *text)
{
    for (size_t length = 3; length > 1; --length)
        for (int fill = 0x80; fill <= 0xBF && memchr(text, 0, length) == NULL; fill += 0x3F) {
            char whole[4] = {(char)fill, (char)fill, (char)fill, (char)fill};
            memcpy(whole, text, length);
            if (utf8_length(whole, whole + sizeof whole) > length) return length;
        }
    return 1;
}

static char *valid_text(const char *text) /* what is not UTF-8 replaced; of take() */
{
    char *to = (char *)take(strlen(text) * 3 + 16), *at = to;
    const char *end = text + strlen(text);
    if (!*text) strcpy(to, "(unnamed)");
    while (*text) {
        size_t length = utf8_length(text, end);
        if (length)
            memcpy(at, text, length);
        else
            memcpy(at, "\xEF\xBF\xBD", 3);
        at += length ? length : 3;
        text += length ? length : broken_length(text);
    }
    return to;
}

static int shown_on_thread(const prof_event *event)
{
    return event->type == PROF_EVENT_SCOPE || event->type == PROF_EVENT_MARK || event->type == PROF_EVENT_LOG ||
           event->type == PROF_EVENT_LOST;
}

static void check_value(const stat_value *stat, const prof_value *value)
{
    uint64_t bits;
    char text[40];
    switch (value->type) {
    case PROF_VALUE_INT: check_number_stat(stat, 4, (uint64_t)value->as.i); break;
    case PROF_VALUE_UINT: check_number_stat(stat, 3, value->as.u); break;
    case PROF_VALUE_BOOL: check_number_stat(stat, 4, value->as.u); break;
    case PROF_VALUE_DOUBLE:
        memcpy(&bits, &value->as.d, sizeof bits);
        check_number_stat(stat, 2, bits);
        break;
    case PROF_VALUE_POINTER:
        snprintf(text, sizeof text, "0x%llx", (unsigned long long)value->as.u);
        check_text_stat(stat, text);
        break;
    default: check_text_stat(stat, *value->as.string ? valid_text(value->as.string) : ""); break;
    }
}

static void check_args(const space_plane *plane, const space_event *got, const prof_event *event)
{
    for (uint32_t a = 0; a < event->arg_count; ++a) {
        char key[128];
        uint32_t later = a + 1;
        while (later < event->arg_count && strcmp(event->args[later].key, event->args[a].key)) ++later;
        if (later < event->arg_count) continue; /* the last one counts */
        snprintf(key, sizeof key, "%s", event->args[a].key);
        if (prof__xplane_taken(key) && event->site->role != PROF_ROLE_STEP)
            snprintf(key, sizeof key, "arg.%s", event->args[a].key);
        check_value(stat_of(plane, got, key), &event->args[a].value);
    }
}

/* Each visible event of each thread is there with name, times and arguments, in that order, and nothing else is. */
/* Returns 1 if it is this nanosecond, or less than one before it: scopes that end together differ by picoseconds. */
static int same_ns(uint64_t ps, int64_t ns) { return ps <= (uint64_t)ns * 1000 && ps + 1000 > (uint64_t)ns * 1000; }

static void check_threads(const prof_trace *trace, const xspace *all)
{
    const space_plane *plane = plane_of(all, "/host:CPU");
    size_t lines = 0;
    for (size_t t = 0; t < prof_trace_track_count(trace); ++t) {
        trace_list list = trace_read(trace, t);
        const space_line *line = &plane->lines[lines];
        size_t at = 0, wanted = 0;
        for (size_t i = 0; i < list.count; ++i) wanted += (size_t)shown_on_thread(&list.events[i]);
        if (wanted && !*prof_trace_track(trace, t)->device) {
            ++lines;
            CHECK(lines <= plane->line_count);
            if (lines > plane->line_count) line = NULL;
            CHECK_EQUAL(line ? line->count : 0, wanted);
            for (size_t i = 0; line && i < list.count && at < line->count; ++i) {
                const prof_event *event = &list.events[i];
                const space_event *got = &line->events[at];
                const char *name = event->type == PROF_EVENT_LOG    ? event->value.as.string
                                   : event->type == PROF_EVENT_LOST ? "lost events"
                                                                    : event->name;
                if (!shown_on_thread(event)) continue;
                ++at;
                CHECK_TEXT(name_of(plane, got), valid_text(name));
                if (event->type == PROF_EVENT_SCOPE) {
                    CHECK(same_ns(got->offset + got->duration, event->start_ns + event->duration_ns));
                    CHECK(event->duration_ns ? got->offset == (uint64_t)event->start_ns * 1000 : !got->duration);
                } else {
                    CHECK_EQUAL(got->offset, event->start_ns * 1000);
                    CHECK_EQUAL(got->duration, 0);
                }
                if (event->type != PROF_EVENT_LOG) check_args(plane, got, event);
                CHECK_EQUAL(stat_of(plane, got, "truncated") != NULL, event->flags != 0);
            }
        }
        trace_free(&list);
    }
}

static void some_kinds(int i)
{
    static const char *const texts[] = {"", "x", "a \"b\"\n", "\xff\xfe", "\xed\xa0\x80", "\xc0\x80", "gr\xc3\xbc\xc3\x9f", "a:b::c"};
    PROFILE_SCOPE("scope");
    PROFILE_ARG_I("i", i % 3 ? i : INT64_MIN);
    PROFILE_ARG_U("u", i % 3 ? (uint64_t)i : UINT64_MAX);
    PROFILE_ARG_D("d", (double)i / 3);
    PROFILE_ARG_B("b", i & 1);
    PROFILE_ARG_P("p", (void *)(uintptr_t)(unsigned)i);
    PROFILE_ARG_S("s", texts[i % 8]);
    PROFILE_ARG_I("id", i);
    PROFILE_ARG_I("_r", 1);
    PROFILE_ARG_I("i", i + 1);
    { PROFILE_SCOPE_DYNAMIC(texts[i % 8]); PROFILE_MARK("mark"); }
    { PROFILE_SCOPE_F("job %d", i % 100); }
    PROFILE_LOG(PROF_LOG_INFO, "%s and %d", texts[i % 8], i % 10);
    if (i % 50 == 0) PROFILE_COUNTER("counter", i);
}

static void *recorder(void *user)
{
    int n = *(int *)user;
    for (int i = 0; i < n; ++i) some_kinds(i);
    return user;
}

TEST(every_event_comes_back)
{
    pthread_t threads[2];
    int n = (int)trace_times(100, 1500, 10000);
    start(PROF_RING);
    for (int i = 0; i < 2; ++i) CHECK(!pthread_create(&threads[i], NULL, recorder, &n));
    recorder(&n);
    for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
    prof_trace *trace = stop();
    xspace all = written(trace, NULL);
    check_threads(trace, &all);
    CHECK_EQUAL(all.plane_count, 2);
    free_all();
    prof_trace_close(trace);
}

TEST(lines_that_are_made_twice_are_the_same)
{
    start(PROF_RING);
    for (int i = 0; i < 5000; ++i) { PROFILE_SCOPE("a scope that fills more than what is kept"); PROFILE_ARG_I("i", i); }
    prof_trace *trace = stop();
    xspace all = written(trace, NULL);
    CHECK_EQUAL(plane_of(&all, "/host:CPU")->lines[0].count, 5000);
    CHECK_EQUAL(plane_of(&all, "/host:CPU")->lines[0].filler, 0);
    check_threads(trace, &all);
    free_all();
    prof_trace_close(trace);
}

TEST(an_empty_trace)
{
    start(PROF_RING);
    prof_trace *trace = stop();
    xspace all = written(trace, NULL);
    CHECK_EQUAL(all.plane_count, 1);
    CHECK_EQUAL(plane_of(&all, "Task Environment")->line_count, 0);
    CHECK_EQUAL(all.warning_count, 0);
    free_all();
    prof_trace_close(trace);
}

/*-- what XProf gives a meaning --*/

static void wait_a_while(void)
{
    uint64_t end = prof_host_ns() + 1000;
    while (prof_host_ns() < end) {
    }
}

TEST(steps_have_what_xprof_wants)
{
    start(PROF_RING);
    { PROFILE_STEP("train", 7); PROFILE_ARG_S("phase", "a"); PROFILE_COUNTER("c", 1); { PROFILE_SCOPE("inside"); wait_a_while(); } }
    { PROFILE_STEP("train", -1); wait_a_while(); }
    {
        char name[8] = "train";
        PROFILE_STEP_DYNAMIC(name, INT64_MAX);
        PROFILE_MARK("mark");
        memset(name, 0, 8);
        wait_a_while();
    }
    { PROFILE_STEP_DYNAMIC("outer", 0); { PROFILE_STEP("inner", 1); wait_a_while(); } }
    { PROFILE_SCOPE("train_loop"); wait_a_while(); }
    { PROFILE_SCOPE("behind"); PROFILE_ARG_I("step_num", 3); }
    prof_trace *trace = stop();
    xspace all = written(trace, NULL);
    const space_plane *plane = plane_of(&all, "/host:CPU");
    const space_line *line = &plane->lines[0];
    static const char *const names[] = {"train", "inside:scope", "train", "./train:step", "train", "./train:step", "mark: mark",
                                        "outer", "outer:step", "inner", "inner:step", "./train_loop:scope", "behind:scope"};
    CHECK_EQUAL(line->count, sizeof names / sizeof *names);
    for (size_t i = 0; i < line->count; ++i) CHECK_TEXT(true_name(plane, &line->events[i]), names[i]);
    check_number_stat(stat_of(plane, &line->events[0], "_r"), 4, 1);
    check_number_stat(stat_of(plane, &line->events[0], "step_num"), 4, 7);
    check_text_stat(stat_of(plane, &line->events[0], "phase"), "a");
    check_number_stat(stat_of(plane, &line->events[2], "step_num"), 4, (uint64_t)-1);
    check_number_stat(stat_of(plane, &line->events[4], "step_num"), 4, INT64_MAX);
    CHECK(line->events[3].offset == line->events[2].offset);
    CHECK_EQUAL(line->events[3].duration, line->events[2].duration - 1); /* it ends first */
    CHECK(!stat_of(plane, &line->events[3], "_r"));
    CHECK(!stat_of(plane, &line->events[12], "step_num"));
    check_number_stat(stat_of(plane, &line->events[12], "arg.step_num"), 4, 3);
    free_all();
    prof_trace_close(trace);
}

/* No argument, whatever its key, gets a stat that XProf knows. */
TEST(keys_that_xprof_knows)
{
    static const char *const keys[] = {"group_id", "flow", "step_name", "step_num", "tf_op", "hlo_op", "program_id", "id",
                                       "addr", "allocator_name", "bytes_accessed", "correlation_id", "device_id", "flops",
                                       "model_id", "source", "value", "vdd_core_power_events", "EdgeTPU MLIR", "_", "_x"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; ++i) CHECK(prof__xplane_taken(keys[i]));
    CHECK(!prof__xplane_taken("i") && !prof__xplane_taken("") && !prof__xplane_taken("zzz") && !prof__xplane_taken("A"));
    for (int i = 1; i < PROF__STAT_COUNT; ++i) /* those of this file */
        CHECK(prof__xplane_taken(prof__xplane_stats[i]));
    start(PROF_RING);
    {
        PROFILE_SCOPE("all");
        PROFILE_ARG_I("group_id", 1);
        PROFILE_ARG_S("step_name", "no");
        PROFILE_ARG_I("flow", 2);
        PROFILE_ARG_I("_ct", 2);
        PROFILE_ARG_I("truncated", 2);
    }
    prof_trace *trace = stop();
    xspace all = written(trace, NULL);
    const space_plane *plane = plane_of(&all, "/host:CPU");
    CHECK_EQUAL(plane->lines[0].events[0].stat_count, 5);
    for (size_t i = 0; i < 5; ++i) {
        const name_entry *name = find_name(plane->stat_names, plane->stat_name_count, plane->lines[0].events[0].stats[i].id);
        CHECK(name && !strncmp(name->name, "arg.", 4));
    }
    free_all();
    prof_trace_close(trace);
}

/* Names that are events of XProf's are not when the program's. */
TEST(names_that_xprof_knows)
{
    static const struct {
        const char *name, *written;
    } each[] = {{"MemoryAllocation", "MemoryAllocation:net"}, {"test 1", "./test 1:net"}, {"a::b(int)", "a/b(int):net"},
                {"foo:Bar", "foo/Bar:net"}, {"Iterator", "./Iterator:net"}, {"", "(unnamed):net"}, {":", "/:net"},
                {"x:", "x/:net"}, {"\xff", "\xEF\xBF\xBD:net"}, {"MEMCPYHtoD", "./MEMCPYHtoD:net"}};
    start(PROF_RING);
    for (size_t i = 0; i < sizeof each / sizeof *each; ++i) {
#undef PROF_CATEGORY
#define PROF_CATEGORY "NET"
        PROFILE_SCOPE_DYNAMIC(each[i].name);
        PROFILE_MARK_DYNAMIC(each[i].name);
#undef PROF_CATEGORY
#define PROF_CATEGORY ""
    }
    { PROFILE_SCOPE_C("c", "9 lives"); }
    prof_trace *trace = stop();
    xspace all = written(trace, NULL);
    const space_plane *plane = plane_of(&all, "/host:CPU");
    for (size_t i = 0; i < sizeof each / sizeof *each; ++i) {
        char mark[64];
        CHECK_TEXT(true_name(plane, &plane->lines[0].events[i * 2]), each[i].written);
        snprintf(mark, sizeof mark, "mark: %s", valid_text(each[i].name));
        CHECK_TEXT(true_name(plane, &plane->lines[0].events[i * 2 + 1]), mark);
        CHECK_TEXT(name_of(plane, &plane->lines[0].events[i * 2]), valid_text(each[i].name));
    }
    CHECK_TEXT(true_name(plane, &plane->lines[0].events[plane->lines[0].count - 1]), "c:c_9_lives");
    free_all();
    prof_trace_close(trace);
}

/* Every two-byte text, and then some, in every place that has one: the file is valid UTF-8, which read_space() checks. */
TEST(no_byte_spoils_the_file)
{
    char text[4] = "";
    int step = (int)trace_times(509, 31, 3);
    start(PROF_RING);
    PROFILE_THREAD("\xff thread");
    for (int i = 0; i < 65536; i += step) {
        text[0] = (char)(i >> 8);
        text[1] = (char)i;
        text[2] = (char)(i * 7);
        PROFILE_SCOPE_DYNAMIC(text);
        PROFILE_ARG_S("key \xff", text);
        PROFILE_LOG(PROF_LOG_INFO, "%s", text);
    }
    { PROFILE_SCOPE_C("name \xc3", "cat\xff"); PROFILE_COUNTER("counter \"\\\n\xff", 1); PROFILE_FRAME("f\xff"); PROFILE_FRAME("f\xff"); }
    prof_set_metadata("key\xff", "value\xff");
    prof_trace *trace = stop();
    xspace all = written(trace, NULL);
    const space_plane *plane = plane_of(&all, "/host:CPU");
    CHECK_TEXT(plane->lines[0].name, "\xEF\xBF\xBD thread");
    CHECK_TEXT(plane->lines[0].shown, "\xEF\xBF\xBD thread (test_xplane)"); /* the main thread's */
    CHECK_TEXT(name_of(plane, &line_of(plane, "_counters_")->events[0]), "counter '/ \xEF\xBF\xBD");
    free_all();
    prof_trace_close(trace);
    prof_clear_metadata();
}

static void *consumer(void *unused)
{
    for (int i = 0; i < 4; ++i) { PROFILE_SCOPE("work"); PROFILE_FLOW_IN(1); }
    return unused;
}

TEST(flows_pair)
{
    pthread_t thread;
    start(PROF_RING);
    for (int round = 0; round < 2; ++round) {
        { PROFILE_SCOPE("send"); PROFILE_COUNTER("c", 1); PROFILE_FLOW_OUT(1); PROFILE_FLOW_OUT(2); }
        CHECK(!pthread_create(&thread, NULL, consumer, NULL));
        pthread_join(thread, NULL);
    }
    { PROFILE_SCOPE("late"); { PROFILE_SCOPE("inside"); } PROFILE_FLOW_IN_NAMED("other", 1); }
    prof_trace *trace = stop();
    xspace all = written(trace, NULL);
    const space_plane *plane = plane_of(&all, "/host:CPU");
    uint64_t numbers[2] = {0, 0};
    CHECK_EQUAL(plane->line_count, 4); /* three threads, and counters */
    for (size_t i = 0; i < 2; ++i) {
        const space_event *send = find_event(plane, &plane->lines[0], "send", i);
        const space_event *own = find_event(plane, &plane->lines[0], "flow", i); /* the second point of "send" */
        const stat_value *out = send ? stat_of(plane, send, "_p") : NULL, *more_out = own ? stat_of(plane, own, "_p") : NULL;
        CHECK(out && more_out && out->kind == 3);
        if (!out || !more_out) continue;
        numbers[i] = out->number;
        CHECK(more_out->number != out->number);
        check_number_stat(stat_of(plane, send, "_pt"), 4, 0);
        check_text_stat(stat_of(plane, send, "flow_id"), "0x1");
        CHECK_EQUAL(own->duration, 0);
    }
    CHECK(numbers[0] != numbers[1]); /* the same id is another flow */
    for (size_t round = 0; round < 2; ++round)
        for (size_t i = 0; i < 4; ++i) {
            const space_event *work = &plane->lines[1 + round].events[i];
            CHECK_EQUAL(plane->lines[1 + round].count, 4);
            check_number_stat(stat_of(plane, work, "_c"), 3, numbers[round]);
            check_number_stat(stat_of(plane, work, "_ct"), 4, 0);
        }
    const space_event *late = find_event(plane, &plane->lines[0], "other", 0);
    if (late) CHECK(stat_of(plane, late, "_c") != NULL);
    free_all();
    prof_trace_close(trace);
}

TEST(counters_are_lines_of_their_own)
{
    start(PROF_RING);
    PROFILE_COUNTER("int", INT64_MIN);
    PROFILE_COUNTER("double", 0.5);
    PROFILE_COUNTER("double", 1.0 / 0.0 * (getpid() ? 1 : 0));
    PROFILE_COUNTER_C("int", 5, "other");
    prof_trace *trace = stop();
    xspace all = written(trace, NULL);
    const space_plane *plane = plane_of(&all, "/host:CPU");
    const space_line *line = line_of(plane, "_counters_");
    CHECK_EQUAL(line->count, 3);
    CHECK_TEXT(true_name(plane, &line->events[0]), "int");
    CHECK_TEXT(true_name(plane, &line->events[1]), "double");
    for (size_t i = 0; i < 3 && i < line->count; ++i) CHECK_EQUAL(line->events[i].stat_count, 1); /* the first is the value */
    check_number_stat(stat_of(plane, &line->events[0], "value"), 4, (uint64_t)INT64_MIN);
    check_number_stat(stat_of(plane, &line->events[1], "value"), 2, 0x3FE0000000000000u);
    CHECK_EQUAL(plane->lines[0].count, 1); /* infinity */
    for (size_t i = 0; i < plane->name_count; ++i)
        if (!strcmp(plane->names[i].name, "int")) CHECK_EQUAL(plane->names[i].stat_count, 0);
    free_all();
    prof_trace_close(trace);
}

/* A thread may be called like the line of counters, which XProf reads otherwise. */
TEST(a_thread_called_like_the_counters)
{
    start(PROF_RING);
    PROFILE_THREAD("_counters_");
    { PROFILE_SCOPE("x"); }
    PROFILE_COUNTER("c", 1);
    prof_trace *trace = stop();
    xspace all = written(trace, NULL);
    const space_plane *plane = plane_of(&all, "/host:CPU");
    CHECK_EQUAL(plane->line_count, 2);
    CHECK(strcmp(plane->lines[0].name, "_counters_") && !strncmp(plane->lines[0].shown, "_counters_", 10));
    CHECK_TEXT(name_of(plane, &line_of(plane, "_counters_")->events[0]), "c");
    free_all();
    prof_trace_close(trace);
}

static void check_state(const space_plane *plane, const space_event *event, const char *name, uint64_t from, uint64_t to,
                        int processor)
{
    const stat_value *stat = stat_of(plane, event, "on processor");
    CHECK_TEXT(true_name(plane, event), name);
    CHECK_EQUAL(event->offset, from * 1000);
    CHECK_EQUAL(event->duration, (to - from) * 1000);
    CHECK_EQUAL(stat != NULL, processor >= 0);
    if (stat) check_number_stat(stat, 3, (uint64_t)processor);
}

/* Beside the line of a thread is one of what the system did with it, cut at the window; where it was not recorded, lines
   have the numbers that they have always had. */
TEST(lines_of_states)
{
    for (int with = 0; with < 2; ++with) {
        image im = image_new(200, 1, 60);
        uint32_t work = site(&im, "work");
        switches_serial = 0;
        chunk(&im, 0, 1, START_TICK);
        track_on(&im, string(&im, "main"), 1, 1, 7);
        begin(&im, work, START_TICK + 10);
        end(&im, work, START_TICK + 1000);
        track_on(&im, string(&im, "other"), 2, 1, 8); /* its line comes after both of main */
        begin(&im, work, START_TICK + 20);
        end(&im, work, START_TICK + 900);
        if (with) {
            system_begin(&im, 5, 7, PROF__SWITCH_KNOWN);
            switch_at(&im, 1, 100, 7, PROF__SWITCH_WAITS);
            switch_at(&im, 1, 150, 7, PROF__SWITCH_IN);
            switch_at(&im, 1, 250, 7, PROF__SWITCH_READY);
            switch_at(&im, 0, 300, 7, PROF__SWITCH_IN);
            switch_at(&im, 0, 400, 7, PROF__SWITCH_OUT);
            switch_at(&im, 0, 450, 7, PROF__SWITCH_IN);
            known_until(&im, 1000);
        }
        prof_trace *trace = image_read(&im);
        xspace all = written(trace, NULL);
        const space_plane *plane = plane_of(&all, "/host:CPU");
        CHECK_EQUAL(plane->line_count, with ? 3 : 2);
        CHECK_TEXT(plane->lines[0].name, "main");
        CHECK_EQUAL(plane->lines[0].id, 7);
        CHECK_EQUAL(plane->lines[0].place, with ? 14 : 0);
        CHECK_EQUAL(plane->lines[0].count, 1);
        CHECK_TEXT(plane->lines[plane->line_count - 1].name, "other");
        CHECK_EQUAL(plane->lines[plane->line_count - 1].place, with ? 16 : 0);
        if (with) {
            static const char *const names[] = {"running", "waiting", "running", "ready", "running", "not running",
                                                "running"};
            static const uint64_t times[] = {5, 100, 150, 250, 300, 400, 450, 1000};
            static const int processors[] = {1, -1, 1, -1, 0, -1, 0};
            const space_line *line = &plane->lines[1];
            CHECK_TEXT(line->name, "state of main");
            CHECK_EQUAL(line->place, 15);
            CHECK_EQUAL(line->count, 7);
            for (size_t i = 0; i < line->count; ++i)
                check_state(plane, &line->events[i], names[i], times[i], times[i + 1], processors[i]);
            CHECK_EQUAL(prof_trace_set_window(trace, 120, 280), PROF_OK);
            all = written(trace, NULL);
            plane = plane_of(&all, "/host:CPU");
            line = line_of(plane, "state of main");
            CHECK_EQUAL(line->count, 3);
            check_state(plane, &line->events[0], "waiting", 0, 30, -1);
            check_state(plane, &line->events[2], "ready", 130, 160, -1);
        }
        free_all();
        prof_trace_close(trace);
    }
}

TEST(frames_spans_and_locks)
{
    static int a_lock;
    start(PROF_RING);
    prof_frame *frame = prof_frame_create(NULL, "handle");
    PROFILE_SPAN_BEGIN("request", 1);
    PROFILE_SPAN_BEGIN_ARGS("request", 2, PROF_ARG_U("size", 70));
    for (int i = 0; i < 4; ++i) {
        PROFILE_FRAME("a");
        if (i % 2) PROFILE_FRAME("b");
        prof_frame_start(frame);
        wait_a_while();
        prof_frame_stop(frame);
    }
    PROFILE_SPAN_END("request", 1);
    PROFILE_SPAN_MARK("request", 2);
    PROFILE_SPAN_END("request", 2);
    PROFILE_BEGIN("around");
    PROFILE_BEGIN("overlaps"); /* ends after what is around it: a span, with an id of its own */
    PROFILE_ARG_U("rows", 7);
    PROFILE_END("around");
    PROFILE_END("overlaps");
    PROFILE_LOCK_WAIT(&a_lock, "m");
    PROFILE_LOCK_ACQUIRE(&a_lock, "m");
    PROFILE_LOCK_RELEASE(&a_lock, "m");
    PROFILE_LOCK_ACQUIRE(&a_lock, "m");
    prof_trace *trace = stop();
    prof_frame_destroy(frame);
    xspace all = written(trace, NULL);
    const space_plane *plane = plane_of(&all, "/device:CUSTOM:frames");
    CHECK_EQUAL(plane->line_count, 3);
    for (size_t l = 0; l < plane->line_count; ++l) {
        const space_line *line = &plane->lines[l];
        CHECK_EQUAL(line->count, !strncmp(line->name, "a of", 4) ? 3 : !strncmp(line->name, "b of", 4) ? 1 : 4);
        for (size_t i = 0; i < line->count; ++i) check_number_stat(stat_of(plane, &line->events[i], "frame"), 3, i + 1);
    }
    plane = plane_of(&all, "/device:CUSTOM:spans");
    CHECK_EQUAL(plane->line_count, 1);
    CHECK_EQUAL(plane->lines[0].count, 4);
    CHECK_TEXT(name_of(plane, &plane->lines[0].events[3]), "overlaps");
    CHECK(!stat_of(plane, &plane->lines[0].events[3], "truncated"));
    check_number_stat(stat_of(plane, &plane->lines[0].events[2], "size"), 3, 70);
    check_number_stat(stat_of(plane, &plane->lines[0].events[3], "rows"), 3, 7);
    uint64_t flows[3] = {0, 0, 0};
    for (size_t i = 0; i < 3; ++i) {
        const space_event *event = &plane->lines[0].events[i];
        const stat_value *flow = stat_of(plane, event, "flow");
        CHECK_TEXT(name_of(plane, event), "request");
        check_number_stat(stat_of(plane, event, "_a"), 4, 1);
        CHECK(flow && flow->kind == 3 && (flow->number & 3) == 3 && !(flow->number >> 58));
        flows[i] = flow ? flow->number : 0;
        check_text_stat(stat_of(plane, event, "span_id"), i ? "0x2" : "0x1");
    }
    CHECK(flows[0] != flows[1] && flows[1] != flows[2] && flows[0] != flows[2]);
    plane = plane_of(&all, "/device:CUSTOM:locks");
    CHECK_EQUAL(plane->lines[0].count, 3);
    CHECK_TEXT(name_of(plane, &plane->lines[0].events[0]), "wait for m");
    CHECK_TEXT(name_of(plane, &plane->lines[0].events[1]), "lock m");
    check_text_stat(stat_of(plane, &plane->lines[0].events[2], "truncated"), "end");
    free_all();
    prof_trace_close(trace);
}

TEST(allocations_are_what_the_memory_profile_reads)
{
    char *const a = (char *)(uintptr_t)0x1000, *const b = (char *)(uintptr_t)0x2000;
    unsigned at;
    start(PROF_RING);
    { PROFILE_MEMORY_SCOPE("layer"); PROFILE_ALLOC_POOL(a, 100, "gpu"); at = __LINE__; }
    { PROFILE_SCOPE("around"); PROFILE_ALLOC_POOL(b, 50, "gpu"); }
    PROFILE_FREE_POOL(a, "gpu");
    PROFILE_ALLOC(a, 7);
    PROFILE_FREE((char *)(uintptr_t)0x9999); /* nobody's */
    prof_trace *trace = stop();
    xspace all = written(trace, NULL);
    const space_plane *plane = plane_of(&all, "/host:CPU");
    const space_line *line = NULL, *pools = NULL;
    char source[64];
    for (size_t i = 0; i < plane->line_count; ++i) {
        if (plane->lines[i].id == 0xDEADBEF0u) line = &plane->lines[i];
        if (plane->lines[i].id == 0xDEADBEF1u) pools = &plane->lines[i];
    }
    CHECK(line && pools && line->count == 4 && pools->count == 4);
    if (line && pools && line->count == 4 && pools->count == 4) {
        static const struct {
            const char *name, *pool, *op;
            int64_t live, peak, bytes;
        } each[] = {{"MemoryAllocation", "gpu", "layer", 100, 100, 100}, {"MemoryAllocation", "gpu", "around", 150, 150, 50},
                    {"MemoryDeallocation", "gpu", NULL, 50, 150, 100}, {"MemoryAllocation", "memory", NULL, 7, 7, 7}};
        for (size_t i = 0; i < 4; ++i) {
            const space_event *event = &line->events[i];
            CHECK_TEXT(true_name(plane, event), each[i].name);
            check_text_stat(stat_of(plane, event, "allocator_name"), each[i].pool);
            if (each[i].op) check_text_stat(stat_of(plane, event, "tf_op"), each[i].op);
            check_number_stat(stat_of(plane, event, "bytes_allocated"), 4, (uint64_t)each[i].live);
            check_number_stat(stat_of(plane, event, "peak_bytes_in_use"), 4, (uint64_t)each[i].peak);
            check_number_stat(stat_of(plane, event, "allocation_bytes"), 4, (uint64_t)each[i].bytes);
            check_number_stat(stat_of(plane, event, "requested_bytes"), 4, (uint64_t)each[i].bytes);
            CHECK_TEXT(true_name(plane, &pools->events[i]), i == 3 ? "memory" : "memory: gpu");
            check_number_stat(stat_of(plane, &pools->events[i], "value"), 3, (uint64_t)each[i].live);
        }
        check_number_stat(stat_of(plane, &line->events[0], "addr"), 4, 0x1000);
        snprintf(source, sizeof source, "%s:%u", __FILE__, at);
        check_text_stat(stat_of(plane, &line->events[0], "shape"), source);
    }
    free_all();
    prof_trace_close(trace);
}

/* An allocation of a GPU, or its end, as prof_cuda.h records them. */
static void device_block(prof_device_row *row, const char *name, const char *key, const char *details, uint64_t address)
{
    prof_device_event event;
    prof_arg args[2];
    memset(&event, 0, sizeof event);
    memset(args, 0, sizeof args);
    args[0].key = key;
    args[0].value.type = PROF_VALUE_STRING;
    args[0].value.as.string = details;
    args[1].key = "address";
    args[1].value.type = PROF_VALUE_POINTER;
    args[1].value.as.u = address;
    event.type = PROF_EVENT_MARK;
    event.name = name;
    event.start = prof_host_ns();
    event.args = args;
    event.arg_count = 2;
    prof_device_record(row, &event);
}

/* Allocations of two GPUs are among the host's, where the memory profile looks for them; a launch says on which GPU its
   kernel ran, and has a name that XProf counts. */
TEST(memory_and_launches_of_gpus)
{
    prof_device_clock clock = {1000000000, 0, 0};
    prof_device *gpu[2] = {prof_device_create("GPU 0", &clock), prof_device_create("GPU 1", &clock)};
    prof_device_row *blocks = prof_device_row_create(gpu[1], "memory");
    prof_device_row *stream[2] = {prof_device_row_create(gpu[0], "Stream #7"), prof_device_row_create(gpu[1], "Stream #7")};
    start(PROF_RING);
    prof_set_metadata("GPU 1.memory_size", "1000");
    for (int i = 0; i < 2; ++i) prof_device_sync(gpu[i], prof_host_ns(), 0);
    device_block(blocks, "MemoryAlloc", "memalloc_details", "kind:device num_bytes:100", 0x1000);
    device_block(blocks, "MemoryAlloc", "memalloc_details", "kind:pinned num_bytes:10", 0x3000);
    device_block(blocks, "MemoryAlloc", "memalloc_details", "kind:managed num_bytes:50", 0x2000);
    device_block(blocks, "MemoryFree", "MemFree_details", "kind:device num_bytes:9", 0x9000); /* allocated before */
    device_block(blocks, "MemoryFree", "MemFree_details", "kind:device num_bytes:100", 0x1000);
    for (uint64_t i = 0; i < 3; ++i) {
        { PROFILE_SCOPE_C("cuLaunchKernel", "CUDA"); PROFILE_FLOW_OUT(70 + i); }
        prof_device_event event;
        memset(&event, 0, sizeof event);
        event.type = PROF_EVENT_SCOPE;
        event.name = "axpy";
        event.start = prof_host_ns();
        event.end = event.start + 100;
        event.flow = 70 + i;
        if (i < 2) prof_device_record(stream[1 - i], &event); /* of the third one no kernel is known */
    }
    { PROFILE_SCOPE("cull"); PROFILE_FLOW_OUT(80); }
    prof_trace *trace = stop();
    xspace all = written(trace, NULL);
    const space_plane *plane = plane_of(&all, "/host:CPU");
    const space_line *line = NULL, *thread = &plane->lines[0];
    for (size_t i = 0; i < plane->line_count; ++i)
        if (plane->lines[i].id == 0xDEADBEF2u) line = &plane->lines[i];
    CHECK(line && line->count == 3);
    if (line && line->count == 3) {
        static const struct {
            const char *name;
            uint64_t live, left, bytes, address;
        } each[] = {{"MemoryAllocation", 100, 900, 100, 0x1000}, {"MemoryAllocation", 150, 850, 50, 0x2000},
                    {"MemoryDeallocation", 50, 950, 100, 0x1000}};
        for (size_t i = 0; i < 3; ++i) {
            const space_event *event = &line->events[i];
            CHECK_TEXT(true_name(plane, event), each[i].name);
            check_text_stat(stat_of(plane, event, "allocator_name"), "GPU 1");
            check_number_stat(stat_of(plane, event, "bytes_allocated"), 4, each[i].live);
            check_number_stat(stat_of(plane, event, "bytes_available"), 4, each[i].left);
            check_number_stat(stat_of(plane, event, "allocation_bytes"), 4, each[i].bytes);
            check_number_stat(stat_of(plane, event, "addr"), 4, each[i].address);
        }
    }
    for (size_t i = 0; i < 3; ++i) {
        const space_event *launch = find_event(plane, thread, "cuLaunchKernel", i);
        CHECK_TEXT(true_name(plane, launch), "./cuLaunchKernel:cuda");
        check_number_stat(stat_of(plane, launch, "device_id"), 3, i < 2 ? 1 - i : 127);
    }
    const space_event *other = find_event(plane, thread, "cull", 0);
    CHECK_TEXT(true_name(plane, other), "cull:scope");
    CHECK(!stat_of(plane, other, "device_id"));
    free_all();
    prof_trace_close(trace);
}

static void *many_scopes(void *unused)
{
    for (int i = 0; i < 20000; ++i) { PROFILE_SCOPE("x"); }
    return unused;
}

static void add_share(void *user, double share) { *(double *)user += share; }

/* A thread that has only scopes is not read again for the counters, allocations and locks of others. */
TEST(what_has_no_counters_is_not_read_for_them)
{
    double shares[2] = {0, 0};
    static int a_lock;
    for (int more = 0; more < 2; ++more) {
        pthread_t thread;
        memory m;
        start(PROF_RING);
        CHECK(!pthread_create(&thread, NULL, many_scopes, NULL));
        pthread_join(thread, NULL);
        PROFILE_MARK("main");
        if (more) {
            PROFILE_COUNTER("c", 1);
            PROFILE_ALLOC(&a_lock, 1);
            PROFILE_LOCK_ACQUIRE(&a_lock, "m");
        }
        prof_trace *trace = stop();
        memset(&m, 0, sizeof m);
        m.only_count = 1;
        prof_trace_set_progress(trace, add_share, &shares[more]);
        CHECK_EQUAL(prof_xplane_stream(trace, memory_sink(&m), NULL), PROF_OK);
        prof_trace_close(trace);
    }
    CHECK(shares[0] > 0.9 && shares[1] < shares[0] + 0.9);
}

TEST(devices_are_planes)
{
    prof_device_clock clock;
    start(PROF_RING);
    memset(&clock, 0, sizeof clock);
    clock.hz = 1000000000;
    prof_device *gpu = prof_device_create("xplane gpu", &clock), *npu = prof_device_create("xplane npu", NULL);
    prof_device_row *row = prof_device_row_create(gpu, "compute"), *other = prof_device_row_create(npu, "dma");
    uint64_t now = prof_host_ns();
    prof_device_sync(gpu, now, now);
    wait_a_while();
    prof_device_event event;
    memset(&event, 0, sizeof event);
    event.name = "kernel";
    event.flow = 42;
    { PROFILE_SCOPE("launch"); PROFILE_FLOW_OUT(42); }
    now = prof_host_ns();
    event.start = now + 100;
    event.end = now + 300;
    prof_device_record(row, &event);
    prof_device_counter(row, "busy", now + 150, 3);
    prof_device_scope(other, "copy", 10, 20);
    wait_a_while();
    prof_trace *trace = stop();
    xspace all = written(trace, NULL);
    const space_plane *plane = plane_of(&all, "/device:CUSTOM:xplane gpu"), *host = plane_of(&all, "/host:CPU");
    const space_plane *guess = plane_of(&all, "/device:CUSTOM:xplane npu (clock not aligned)");
    CHECK(warned(&all, "not aligned"));
    CHECK(plane->id && guess->id && plane->id != guess->id);
    CHECK_EQUAL(plane->line_count, 2);
    if (plane->line_count == 2) {
        CHECK_TEXT(plane->lines[0].name, "compute");
        CHECK_TEXT(name_of(plane, &plane->lines[0].events[0]), "kernel");
        CHECK_EQUAL(plane->lines[0].events[0].duration, 200000);
        const stat_value *out = stat_of(host, find_event(host, &host->lines[0], "launch", 0), "_p");
        const stat_value *in = stat_of(plane, &plane->lines[0].events[0], "_c");
        CHECK(out && in && out->number == in->number);
        CHECK_TEXT(plane->lines[1].name, "_counters_");
        CHECK_EQUAL(plane->lines[1].count, 1);
    }
    CHECK_EQUAL(guess->line_count, 1);
    CHECK(stat_in(plane, plane->stats, plane->stat_count, "process_id") != NULL);
    free_all();
    prof_trace_close(trace);
}

typedef struct xprof_edge {
    uint64_t time;
    size_t order, scope;
    int ends;
} xprof_edge;

static int by_time(const void *left, const void *right)
{
    const xprof_edge *a = (const xprof_edge *)left, *b = (const xprof_edge *)right;
    if (a->time != b->time) return a->time < b->time ? -1 : 1;
    return a->order < b->order ? -1 : 1;
}

/* Returns how many scopes of a line are lost by a reader that sorts begins and ends by time and, where times are equal,
   takes them in the order of the file, as XProf does for its statistics. depths: how many scopes enclose each. */
static size_t lost_by_edges(const space_line *line, const size_t *depths)
{
    xprof_edge *edges = (xprof_edge *)calloc(line->count * 2 + 1, sizeof *edges);
    size_t *stack = (size_t *)calloc(line->count + 1, sizeof *stack), depth = 0, lost = 0;
    for (size_t i = 0; i < line->count * 2; ++i) {
        const space_event *event = &line->events[i / 2];
        edges[i].ends = i % 2;
        edges[i].time = event->offset + (i % 2 ? event->duration : 0);
        edges[i].order = i;
        edges[i].scope = i / 2;
    }
    qsort(edges, line->count * 2, sizeof *edges, by_time);
    for (size_t i = 0; i < line->count * 2; ++i) {
        if (!edges[i].ends) {
            lost += depth != depths[edges[i].scope];
            stack[depth++] = edges[i].scope;
        } else if (depth && stack[depth - 1] == edges[i].scope) {
            --depth;
        } else {
            ++lost;
        }
    }
    free(edges);
    free(stack);
    return lost;
}

TEST(scopes_that_end_together_nest)
{
    static const struct { const char *name; uint64_t start, end; } scopes[] = {
        {"a", 100, 200}, {"b", 100, 200}, {"c", 150, 200}, {"d", 199, 200}, {"next", 200, 300}, {"early", 200, 250},
        {"late", 250, 300}, {"short", 300, 301}, {"shorter", 300, 301}, {"point", 350, 350}, {"last", 301, 400}};
    enum { FEW = sizeof scopes / sizeof *scopes, DEEP = 900 };
    prof_device_clock clock;
    start(PROF_RING);
    memset(&clock, 0, sizeof clock);
    clock.hz = 1000000000;
    prof_device *device = prof_device_create("xplane ends", &clock);
    prof_device_row *few = prof_device_row_create(device, "few"), *deep = prof_device_row_create(device, "deep");
    uint64_t now = prof_host_ns();
    prof_device_sync(device, now, now);
    wait_a_while();
    now = prof_host_ns();
    for (size_t i = 0; i < FEW; ++i) prof_device_scope(few, scopes[i].name, now + scopes[i].start, now + scopes[i].end);
    for (uint64_t i = 0; i < DEEP; ++i) prof_device_scope(deep, "deep", now + i, now + DEEP);
    wait_a_while();
    prof_trace *trace = stop();
    xspace all = written(trace, NULL);
    const space_plane *plane = plane_of(&all, "/device:CUSTOM:xplane ends");
    for (size_t t = 0; t < prof_trace_track_count(trace); ++t) {
        const prof_track *track = prof_trace_track(trace, t);
        const space_line *line = line_of(plane, track->name);
        trace_list list = trace_read(trace, t);
        size_t depths[DEEP];
        if (*track->device) {
            CHECK_EQUAL(list.count, strcmp(track->name, "few") ? (size_t)DEEP : (size_t)FEW);
            CHECK_EQUAL(line->count, list.count);
            for (size_t i = 0; i < list.count && i < DEEP; ++i) depths[i] = list.events[i].depth;
            CHECK_EQUAL(depths[list.count - 1], strcmp(track->name, "few") ? DEEP - 1u : 1u);
            if (line->count == list.count) CHECK_EQUAL(lost_by_edges(line, depths), 0);
        }
        trace_free(&list);
    }
    free_all();
    prof_trace_close(trace);
}

/* Each device has its counters, and those of no other. */
TEST(devices_have_counters_of_their_own)
{
    char name[24];
    prof_device_clock clock;
    memset(&clock, 0, sizeof clock);
    clock.hz = 1000000000;
    start(PROF_RING);
    PROFILE_COUNTER("host", 1);
    for (int i = 0; i < 3; ++i) {
        snprintf(name, sizeof name, "device %d", i);
        prof_device *device = prof_device_create(name, &clock);
        uint64_t now = prof_host_ns();
        prof_device_sync(device, now, now);
        wait_a_while();
        for (int row = 0; row < 3; ++row) {
            snprintf(name, sizeof name, "row %d", row);
            now = prof_host_ns();
            prof_device_scope(prof_device_row_create(device, name), "work", now - 1, now);
            if (row == i) continue;
            snprintf(name, sizeof name, "counter %d of %d", row, i);
            prof_device_counter(prof_device_row_create(device, row ? "row 1" : "row 0"), name, now, row);
        }
    }
    prof_trace *trace = stop();
    xspace all = written(trace, NULL);
    CHECK_EQUAL(line_of(plane_of(&all, "/host:CPU"), "_counters_")->count, 1);
    for (int i = 0; i < 3; ++i) {
        snprintf(name, sizeof name, "/device:CUSTOM:device %d", i);
        const space_plane *plane = plane_of(&all, name);
        const space_line *line = line_of(plane, "_counters_");
        CHECK_EQUAL(line->count, 2);
        for (int at = 0; at < (int)line->count; ++at) {
            snprintf(name, sizeof name, "counter %d of %d", at + (at >= i), i);
            CHECK_TEXT(true_name(plane, &line->events[at]), name);
        }
    }
    free_all();
    prof_trace_close(trace);
}

/* The counters of a device are not looked for among those of the others. */
TEST(many_devices_with_counters)
{
    enum { DEVICES = 64, EVENTS = 6400 };
    long all[2];
    prof_device_clock clock;
    memset(&clock, 0, sizeof clock);
    clock.hz = 1000000000;
    for (int many = 0; many < 2; ++many) {
        memory m;
        start(PROF_RING);
        for (int i = 0; i < EVENTS; ++i) {
            char name[40];
            snprintf(name, sizeof name, "%s %d", many ? "of many" : "alone", many ? i % DEVICES : 0);
            prof_device *device = prof_device_create(name, &clock);
            uint64_t now = prof_host_ns();
            if (i < DEVICES) prof_device_sync(device, now, now);
            prof_device_counter(prof_device_row_create(device, "row"), "busy", now, i);
        }
        prof_trace *trace = stop();
        memset(&m, 0, sizeof m);
        m.only_count = 1;
        compared = 0;
        CHECK_EQUAL(prof_xplane_stream(trace, memory_sink(&m), NULL), PROF_OK);
        all[many] = compared;
        prof_trace_close(trace);
    }
    CHECK(all[1] < all[0] + EVENTS); /* not EVENTS for each device */
}

static int64_t count_of(const space_plane *plane, const char *line, const char *stat)
{
    const space_line *of = line_of(plane, line);
    int64_t found = 0;
    for (size_t i = 0; of && i < of->count; ++i) found += stat_of(plane, &of->events[i], stat) != NULL;
    return found;
}

/* One step, work that a flow leads to, and work that none does: outer, with inner in it. */
static prof_trace *record_accelerator(const char *name)
{
    prof_device_clock clock;
    prof_device_event event;
    memset(&clock, 0, sizeof clock);
    memset(&event, 0, sizeof event);
    clock.hz = 1000000000;
    prof_device *device = prof_device_create(name, &clock);
    prof_device_row *row = prof_device_row_create(device, "Compute 1");
    prof_arg args[3];
    memset(args, 0, sizeof args);
    args[0].key = "kernel_details";
    args[1].key = "hlo_op";
    args[2].key = "shape";
    args[0].value.type = args[1].value.type = args[2].value.type = PROF_VALUE_STRING;
    args[0].value.as.string = "regs:32";
    args[1].value.as.string = "fusion.1";
    args[2].value.as.string = "[2,3]";
    start(PROF_RING);
    prof_device_sync(device, prof_host_ns(), 0);
    wait_a_while();
    {
        PROFILE_STEP("train", 7);
        { PROFILE_SCOPE("launch"); PROFILE_FLOW_OUT(77); }
        wait_a_while();
        uint64_t now = prof_host_ns();
        event.name = "matmul";
        event.flow = 77;
        event.start = now - 900;
        event.end = now - 800;
        event.args = args;
        event.arg_count = 3;
        prof_device_record(row, &event);
        prof_device_scope(row, "outer", now - 700, now - 400);
        prof_device_scope(row, "inner: a", now - 600, now - 500);
        prof_device_counter(row, "busy", now - 600, 1);
    }
    wait_a_while();
    return stop();
}

/* What XProf counts as work of its own GPUs. */
TEST(accelerators_are_planes_of_gpus)
{
    prof_trace *trace = record_accelerator("GPU 3");
    xspace all = written(trace, NULL);
    const space_plane *plane = plane_of(&all, "/device:GPU:0 GPU 3"), *host = plane_of(&all, "/host:CPU");
    const space_line *row = line_of(plane, "Compute 1"), *steps = line_of(plane, "host steps"), *main_line = &host->lines[0];
    CHECK(row && steps);
    if (row && steps) {
        const space_event *matmul = find_event(plane, row, "matmul", 0), *inner = find_event(plane, row, "inner: a", 0);
        CHECK_TEXT(true_name(plane, matmul), "matmul"); /* without a type: XProf knows MEMCPYHtoD and the like */
        check_text_stat(stat_of(plane, matmul, "tf_op"), "matmul:compute_1");
        check_text_stat(stat_of(plane, matmul, "kernel_details"), "regs:32");
        check_text_stat(stat_of(plane, matmul, "arg.hlo_op"), "fusion.1");
        check_text_stat(stat_of(plane, matmul, "shape"), "[2,3]");
        check_text_stat(stat_of(plane, inner, "tf_op"), "inner/ a:compute_1");
        check_text_stat(stat_of(plane, inner, "kernel_details"), "not recorded");
        CHECK_EQUAL(count_of(plane, "Compute 1", "correlation_id"), 2); /* not of what has other work inside */
        CHECK_EQUAL(count_of(plane, "Compute 1", "_c"), 3);
        const stat_value *step = stat_of(host, find_event(host, main_line, "train", 0), "_p");
        const stat_value *launch = stat_of(host, find_event(host, main_line, "launch", 0), "_p");
        const stat_value *flow = stat_of(plane, matmul, "_c"), *other = stat_of(plane, inner, "_c");
        CHECK(step && launch && flow && other && flow->number == launch->number && other->number == step->number);
        CHECK_EQUAL(steps->count, 1);
        CHECK_EQUAL(steps->events[0].offset, find_event(host, main_line, "train", 0)->offset);
        CHECK_EQUAL(steps->events[0].duration, find_event(host, main_line, "train", 0)->duration);
        CHECK_EQUAL(line_of(plane, "_counters_")->count, 1);
    }
    free_all();
    prof_trace_close(trace);
}

static sem_t begun, ended;

static void *steps_beside(void *unused)
{
    { PROFILE_STEP("crossing", 1); sem_post(&begun); sem_wait(&ended); wait_a_while(); }
    sem_post(&begun);
    sem_wait(&ended);
    {
        char name[] = "around";
        PROFILE_STEP_DYNAMIC(name, 3);
        wait_a_while();
        {
            PROFILE_STEP("nested", 4);
            wait_a_while();
        }
        sem_post(&begun);
        sem_wait(&ended);
    }
    return unused;
}

/* Steps of several threads at once, as of a program with one for each GPU, are on rows of their own. */
TEST(steps_of_threads_do_not_overlap)
{
    pthread_t thread;
    prof_device_clock clock;
    memset(&clock, 0, sizeof clock);
    clock.hz = 1000000000;
    CHECK(!sem_init(&begun, 0, 0) && !sem_init(&ended, 0, 0));
    prof_device *device = prof_device_create("GPU steps", &clock);
    start(PROF_RING);
    prof_device_sync(device, prof_host_ns(), 0);
    {
        PROFILE_STEP("first", 0);
        CHECK(!pthread_create(&thread, NULL, steps_beside, NULL));
        sem_wait(&begun);
        wait_a_while();
        prof_device_scope(prof_device_row_create(device, "row"), "work", prof_host_ns() - 1, prof_host_ns());
    }
    sem_post(&ended);
    sem_wait(&begun);
    sem_post(&ended);
    sem_wait(&begun);
    { PROFILE_STEP("within", 2); wait_a_while(); } /* within that of another thread */
    sem_post(&ended);
    pthread_join(thread, NULL);
    prof_trace *trace = stop();
    xspace all = written(trace, NULL); /* checks that what is on a row nests */
    const space_plane *plane = plane_of(&all, "/device:GPU:0 GPU steps");
    char names[80] = "";
    CHECK_EQUAL(plane->line_count, 3);
    for (size_t l = 0; l < plane->line_count; ++l)
        for (size_t e = 0; e < plane->lines[l].count && !strcmp(plane->lines[l].name, "host steps"); ++e) {
            strcat(names, name_of(plane, &plane->lines[l].events[e]));
            strcat(names, " ");
        }
    CHECK_TEXT(names, "first around crossing within ");
    free_all();
    prof_trace_close(trace);
    sem_destroy(&begun);
    sem_destroy(&ended);
}

/* The options say which devices are, or the trace, or their names. */
TEST(who_is_an_accelerator)
{
    static const struct { const char *metadata, *options; int is; } each[] = {
        {NULL, NULL, 0}, {"npu 1", NULL, 0}, {"npu 0", NULL, 1}, {"x, npu 0,y", NULL, 1}, {"*", NULL, 1}, {"*", "", 0},
        {NULL, "npu 0", 1}, {NULL, "npu", 0}, {"x", "*", 1}};
    static const struct { const char *name; int is; } names[] = {
        {"gpu", 1}, {"gpu0", 1}, {"GPU:0", 1}, {"Tpu-1", 1}, {"NeuronCore 12", 1}, {"NeuronCores", 0}, {"gpus", 0}, {"my gpu", 0}, {"g", 0}, {"gp", 0}};
    for (size_t i = 0; i < sizeof each / sizeof *each; ++i) {
        prof_xplane_options options;
        memset(&options, 0, sizeof options);
        options.accelerators = each[i].options;
        if (each[i].metadata) prof_set_metadata("accelerators", each[i].metadata);
        prof_trace *trace = record_accelerator("npu 0");
        xspace all = written(trace, &options);
        CHECK(plane_of(&all, each[i].is ? "/device:GPU:0 npu 0" : "/device:CUSTOM:npu 0")->line_count > 0);
        free_all();
        prof_trace_close(trace);
        prof_clear_metadata();
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
        CHECK_EQUAL(prof__xplane_called_accelerator(names[i].name), names[i].is);
}

static void name_many(const char *names, int count)
{
    char name[64];
    for (int i = 0; i < count; ++i) {
        snprintf(name, sizeof name, names, i);
        PROFILE_SCOPE_DYNAMIC(name);
    }
}

/* XProf's tables of ops: one for what a format made, or a site that has many names which hardly come again. */
TEST(ops_of_names_made_at_run_time)
{
    start(PROF_RING);
    for (int i = 0; i < 3; ++i) { PROFILE_SCOPE_F("job %d", i); }
    for (int i = 0; i < 3; ++i) { PROFILE_SCOPE_F("%s", "by text"); }
    name_many("request %d", 17);
    for (int i = 0; i < 4; ++i) { PROFILE_SCOPE_DYNAMIC(i % 2 ? "odd" : "even"); }
    prof_trace *trace = stop();
    xspace all = written(trace, NULL);
    const space_plane *plane = plane_of(&all, "/host:CPU");
    const space_line *line = &plane->lines[0];
    CHECK_TEXT(true_name(plane, find_event(plane, line, "job 2", 0)), "job %d:scope");
    CHECK_TEXT(true_name(plane, find_event(plane, line, "by text", 0)), "by text:scope");
    CHECK_TEXT(true_name(plane, find_event(plane, line, "request 16", 0)), "name_many:scope");
    CHECK_TEXT(true_name(plane, find_event(plane, line, "odd", 0)), "odd:scope");
    free_all();
    prof_trace_close(trace);
    start(PROF_RING); /* as names of functions do */
    for (int i = 0; i < 4; ++i) name_many("function %d", 17);
    trace = stop();
    all = written(trace, NULL);
    plane = plane_of(&all, "/host:CPU");
    CHECK_TEXT(true_name(plane, find_event(plane, &plane->lines[0], "function 16", 0)), "function 16:scope");
    free_all();
    prof_trace_close(trace);
}

TEST(the_run_is_in_the_task_environment)
{
    prof_set_metadata("model", "resnet");
    prof_set_metadata("host", "a:b/c");
    start(PROF_RING);
    { PROFILE_SCOPE("x"); }
    prof_trace *trace = stop();
    const prof_trace_info *about = prof_trace_about(trace);
    xspace all = written(trace, NULL);
    const space_plane *plane = plane_of(&all, "Task Environment");
    check_number_stat(stat_in(plane, plane->stats, plane->stat_count, "profile_start_time"), 3, about->start_unix_ns);
    check_number_stat(stat_in(plane, plane->stats, plane->stat_count, "profile_stop_time"), 3,
                      about->start_unix_ns + (uint64_t)about->duration_ns);
    check_text_stat(stat_in(plane, plane->stats, plane->stat_count, "metadata.model"), "resnet");
    check_text_stat(stat_in(plane, plane->stats, plane->stat_count, "program"), about->program);
    CHECK_TEXT(all.host, "a_b_c");
    free_all();
    prof_trace_close(trace);
    prof_clear_metadata();
}

static void remove_tree(const char *path);
static const char *names_in(const char *path);
static prof_trace *small_trace(void);

static int64_t first_scope_ns(const prof_trace *trace)
{
    prof_cursor *cursor;
    prof_event event;
    int64_t ns = -1;
    if (prof_cursor_open(trace, 0, &cursor)) return -1;
    while (ns < 0 && prof_cursor_next(cursor, &event))
        if (event.type == PROF_EVENT_SCOPE) ns = event.start_ns;
    prof_cursor_close(cursor);
    return ns;
}

/* The begin of the task environment of a file. */
static uint64_t start_of(const xspace *all)
{
    const space_plane *plane = plane_of(all, "Task Environment");
    const stat_value *stat = plane ? stat_in(plane, plane->stats, plane->stat_count, "profile_start_time") : NULL;
    CHECK(stat != NULL);
    return stat ? stat->number : 0;
}

/* Unix time of the first event called name, as XProf reckons it. */
static uint64_t unix_of(const xspace *all, const char *name)
{
    const space_plane *plane = plane_of(all, "/host:CPU");
    for (int l = 0; plane && l < (int)plane->line_count; ++l)
        for (int e = 0; e < (int)plane->lines[l].count; ++e)
            if (!strcmp(name_of(plane, &plane->lines[l].events[e]), name))
                return start_of(all) + (uint64_t)plane->lines[l].time + plane->lines[l].events[e].offset / 1000;
    CHECK_TEXT(name, "an event of the plane");
    return 0;
}

/* A capture of the last part of a long session: what happens in it has the same Unix time as in the whole. */
TEST(times_count_from_the_time_that_is_written)
{
    start(PROF_RING);
    { PROFILE_SCOPE("early"); }
    uint64_t until = prof_host_ns() + 30000000;
    while (prof_host_ns() < until) {}
    { PROFILE_SCOPE("late"); }
    prof_trace *trace = stop();
    const prof_trace_info *about = prof_trace_about(trace);
    xspace all = written(trace, NULL);
    uint64_t when = unix_of(&all, "late");
    CHECK_EQUAL(start_of(&all), about->start_unix_ns);
    free_all();
    CHECK_EQUAL(prof_trace_set_window(trace, 20000000, 0), PROF_OK);
    all = written(trace, NULL);
    CHECK_EQUAL(start_of(&all), about->start_unix_ns + 20000000);
    CHECK_EQUAL(unix_of(&all, "late"), when);
    free_all();
    prof_trace_close(trace);
}

/* Two sessions that did not begin at the same time, as hosts of one run: shown when they were. */
TEST(hosts_are_shown_when_they_were)
{
    prof_trace *traces[2];
    char logs[256];
    const char *const hosts[] = {"logs_hosts/plugins/profile/all/first.xplane.pb",
                                 "logs_hosts/plugins/profile/all/second.xplane.pb"};
    uint64_t when[2];
    for (int i = 0; i < 2; ++i) {
        prof_set_metadata("host", i ? "second" : "first");
        start(PROF_RING);
        { PROFILE_SCOPE("a moment"); }
        traces[i] = stop();
        uint64_t until = prof_host_ns() + 20000000;
        while (prof_host_ns() < until) {}
    }
    prof_clear_metadata();
    for (int window = 0; window < 2; ++window) {
        snprintf(logs, sizeof logs, "%s", trace_path("logs_hosts"));
        remove_tree(logs);
        prof_xplane_options options;
        memset(&options, 0, sizeof options);
        options.run = "all";
        for (int i = 0; i < 2 && window; ++i) CHECK_EQUAL(prof_trace_set_window(traces[i], 1 + i, 0), PROF_OK);
        CHECK_EQUAL(prof_xplane_merge((const prof_trace *const *)traces, 2, logs, &options), PROF_OK);
        int64_t offsets[2], apart;
        prof_trace_align((const prof_trace *const *)traces, 2, offsets);
        for (int i = 0; i < 2; ++i) {
            size_t size;
            char *bytes = trace_file_text(trace_path(hosts[i]), &size);
            xspace all = read_space((const unsigned char *)bytes, size);
            when[i] = unix_of(&all, "a moment");
            CHECK_EQUAL(start_of(&all), prof_trace_about(traces[0])->start_unix_ns + (window ? 1u : 0u));
            free_all();
            free(bytes);
        }
        apart = offsets[1] + first_scope_ns(traces[1]) - first_scope_ns(traces[0]);
        CHECK_EQUAL(when[1] - when[0], apart);
        CHECK(apart >= 20000000);
    }
    for (int i = 0; i < 2; ++i) prof_trace_close(traces[i]);
}

TEST(losses_are_warnings)
{
    prof_config config;
    memset(&config, 0, sizeof config);
    config.buffer_size = 128 << 10;
    config.mode = PROF_FILL;
    CHECK_EQUAL(prof_start(&config), PROF_OK);
    PROFILE_BEGIN("open");
    for (int i = 0; i < 100000; ++i) { PROFILE_SCOPE("x"); }
    prof_trace *trace = stop();
    xspace all = written(trace, NULL);
    char count[32], text[96];
    prof__grouped(count, prof_trace_about(trace)->lost);
    snprintf(text, sizeof text, ": %s events lost in a full buffer: enlarge PROF_BUFFER", count);
    CHECK(prof_trace_about(trace)->lost > 0 && warned(&all, text));
    CHECK_EQUAL(all.warning_count, 1); /* none of the scope without an end */
    check_threads(trace, &all);
    free_all();
    prof_trace_close(trace);
    config.mode = PROF_RING;
    CHECK_EQUAL(prof_start(&config), PROF_OK);
    for (int i = 0; i < 100000; ++i) { PROFILE_SCOPE("x"); }
    trace = stop();
    all = written(trace, NULL);
    CHECK(warned(&all, "older chunks overwritten in the ring"));
    free_all();
    prof_trace_close(trace);
}

static void *fill_and_end(void *unused)
{
    for (int i = 0; i < 100000; ++i) { PROFILE_SCOPE("x"); }
    return unused;
}

/* A ring has overwritten what is older than the window, on a thread that is left and on threads that are not. */
TEST(only_losses_in_the_window_are_warnings)
{
    prof_config config;
    pthread_t thread;
    memset(&config, 0, sizeof config);
    config.buffer_size = 128 << 10;
    CHECK_EQUAL(prof_start(&config), PROF_OK);
    for (int i = 0; i < 3; ++i) {
        CHECK_EQUAL(pthread_create(&thread, NULL, fill_and_end, NULL), 0);
        pthread_join(thread, NULL);
    }
    PROFILE_SCOPE("around");
    trace_next_instant();
    const uint64_t from = prof_host_ns();
    wait_a_while();
    { PROFILE_SCOPE("captured"); }
    for (int round = 0; round < 2; ++round) {
        prof_xplane_options options;
        prof_trace *trace = NULL;
        if (round) fill_and_end(NULL);
        CHECK_EQUAL(prof_trace_open_live(&trace), PROF_OK);
        memset(&options, 0, sizeof options);
        options.from_ns = (int64_t)(from - prof_trace_about(trace)->start_monotonic_ns);
        xspace all = written(trace, &options);
        CHECK_EQUAL(all.warning_count, round);
        free_all();
        all = written(trace, NULL);
        CHECK_EQUAL(all.warning_count, 1);
        free_all();
        CHECK_EQUAL(prof_trace_set_window(trace, options.from_ns, 0), PROF_OK);
        all = written(trace, NULL);
        CHECK_EQUAL(all.warning_count, round);
        free_all();
        prof_trace_close(trace);
    }
    CHECK_EQUAL(prof_stop(), PROF_OK);
}

TEST(options_choose)
{
    prof_xplane_options options;
    int64_t middle;
    start(PROF_RING);
    { PROFILE_SCOPE("long"); wait_a_while(); wait_a_while(); { PROFILE_SCOPE("short"); } }
    for (int i = 0; i < 10; ++i) {
        trace_next_instant(); /* none ends where the next begins */
        PROFILE_SCOPE("part");
        wait_a_while();
    }
    prof_trace *trace = stop();
    memset(&options, 0, sizeof options);
    trace_list list = trace_read(trace, 0);
    middle = list.events[7].start_ns;
    options.min_duration_ns = (uint64_t)trace_find(&list, "short")->duration_ns + 1;
    size_t longer = 0;
    for (size_t i = 0; i < list.count; ++i) longer += (uint64_t)list.events[i].duration_ns >= options.min_duration_ns;
    xspace all = written(trace, &options);
    CHECK_EQUAL(plane_of(&all, "/host:CPU")->lines[0].count, longer);
    CHECK(longer < list.count);
    options.min_duration_ns = 0;
    options.from_ns = middle;
    all = written(trace, &options);
    CHECK_EQUAL(plane_of(&all, "/host:CPU")->lines[0].events[0].offset / 1000, list.events[7].start_ns);
    CHECK_EQUAL(plane_of(&all, "/host:CPU")->lines[0].count, list.count - 7);
    options.to_ns = options.from_ns;
    memory m;
    memset(&m, 0, sizeof m);
    CHECK_EQUAL(prof_xplane_stream(trace, memory_sink(&m), &options), PROF_INVALID_ARGUMENT);
    CHECK_EQUAL(prof_xplane_write(trace, trace_path("logs"), &options), PROF_INVALID_ARGUMENT);
    CHECK_EQUAL(prof_xplane_write(NULL, trace_path("logs"), NULL), PROF_INVALID_ARGUMENT);
    CHECK_EQUAL(prof_xplane_stream(NULL, memory_sink(&m), NULL), PROF_INVALID_ARGUMENT);
    CHECK_EQUAL(prof_xplane_merge(NULL, 1, trace_path("logs"), NULL), PROF_INVALID_ARGUMENT);
    trace_free(&list);
    free_all();
    prof_trace_close(trace);
}

/* A point in a scope that is left out does not become one of the scope before. */
TEST(a_point_in_what_is_left_out)
{
    prof_xplane_options options;
    prof_trace *trace;
    trace_list list;
    memset(&options, 0, sizeof options);
    for (int again = 1; again;) {
        start(PROF_RING);
        { PROFILE_SCOPE("long"); wait_a_while(); }
        { PROFILE_SCOPE("short"); PROFILE_FLOW_OUT(1); }
        PROFILE_FLOW_IN(1);
        trace = stop();
        list = trace_read(trace, 0);
        options.min_duration_ns = (uint64_t)trace_find(&list, "short")->duration_ns + 1;
        again = (uint64_t)trace_find(&list, "long")->duration_ns < options.min_duration_ns;
        trace_free(&list);
        if (again) prof_trace_close(trace);
    }
    xspace all = written(trace, &options);
    const space_plane *plane = plane_of(&all, "/host:CPU");
    CHECK_EQUAL(plane->lines[0].count, 3);
    CHECK_TEXT(name_of(plane, &plane->lines[0].events[0]), "long");
    CHECK_EQUAL(plane->lines[0].events[0].stat_count, 0);
    CHECK(plane->lines[0].events[1].stat_count > 0);
    free_all();
    prof_trace_close(trace);
}

TEST(more_names_than_are_told_apart)
{
    long names = (long)PROF__XPLANE_NAMES + 100;
    prof_config config;
    memset(&config, 0, sizeof config);
    config.buffer_size = 64 << 20;
    CHECK_EQUAL(prof_start(&config), PROF_OK);
    for (long i = 0; i < names; ++i) { PROFILE_SCOPE_F("job %ld", i); }
    prof_device_clock clock;
    memset(&clock, 0, sizeof clock);
    clock.hz = 1000000000u;
    prof_device *device = prof_device_create("many names", &clock);
    uint64_t now = prof_host_ns();
    prof_device_sync(device, now, now);
    for (long i = 0; i < names; ++i) {
        char counter[32];
        snprintf(counter, sizeof counter, "counter %ld", i);
        prof_device_counter(prof_device_row_create(device, "row"), counter, now + (uint64_t)i, i);
    }
    prof_trace *trace = stop();
    xspace all = written(trace, NULL);
    const space_plane *plane = plane_of(&all, "/host:CPU");
    const space_event *last = &plane->lines[0].events[names - 1];
    CHECK_EQUAL(plane->lines[0].count, names);
    CHECK_EQUAL(plane->name_count, PROF__XPLANE_NAMES + 1);
    CHECK_TEXT(name_of(plane, last), "job %ld");
    check_text_stat(stat_of(plane, last, "name"), "job 65635");
    plane = plane_of(&all, "/device:CUSTOM:many names"); /* XProf takes the first stat of a counter for its value */
    last = &line_of(plane, "_counters_")->events[names - 1];
    CHECK_TEXT(find_name(plane->stat_names, plane->stat_name_count, last->stats[0].id)->name, "value");
    CHECK_EQUAL(last->stats[0].number, names - 1);
    check_text_stat(stat_of(plane, last, "name"), "counter 65635");
    free_all();
    prof_trace_close(trace);
}

/* Events beyond what fits into 63 bits of picoseconds are left out, with a warning. */
TEST(a_hundred_days)
{
    prof__xplane *x = (prof__xplane *)calloc(1, sizeof *x);
    prof__xplane_emit(x, 1, INT64_MAX / 1000 - 5, 5, NULL);
    CHECK_EQUAL(x->late, 0);
    prof__xplane_emit(x, 1, INT64_MAX / 1000 - 5, 6, NULL);
    prof__xplane_emit(x, 1, INT64_MAX, 0, NULL);
    prof__xplane_emit(x, 1, 0, INT64_MAX, NULL);
    CHECK_EQUAL(x->late, 3);
    free(x);
}

/*-- sinks, files, damage --*/

TEST(a_failing_sink)
{
    memory whole, m;
    start(PROF_RING);
    for (int i = 0; i < 300; ++i) some_kinds(i);
    PROFILE_FRAME("f");
    PROFILE_FRAME("f");
    prof_trace *trace = stop();
    memset(&whole, 0, sizeof whole);
    CHECK_EQUAL(prof_xplane_stream(trace, memory_sink(&whole), NULL), PROF_OK);
    for (size_t limit = 1; limit < whole.size; limit += (size_t)trace_times(9973, 997, 101)) {
        memset(&m, 0, sizeof m);
        m.limit = limit;
        CHECK_EQUAL(prof_xplane_stream(trace, memory_sink(&m), NULL), PROF_IO);
        CHECK(m.size <= limit && (!m.size || !memcmp(whole.bytes, m.bytes, m.size)));
        free(m.bytes);
    }
    prof_sink none = {NULL, NULL};
    CHECK_EQUAL(prof_xplane_stream(trace, none, NULL), PROF_INVALID_ARGUMENT);
    free(whole.bytes);
    prof_trace_close(trace);
}

/* Nothing is left of a file that would be too large for readers; prof_error() names it. */
TEST(a_file_too_large_for_protobuf)
{
    prof_xplane_options options;
    memory m;
    char logs[256], path[512];
    snprintf(logs, sizeof logs, "%s", trace_path("logs_large"));
    remove_tree(logs);
    memset(&options, 0, sizeof options);
    options.host = "h";
    options.run = "r";
    prof_trace *trace = small_trace();
    memset(&m, 0, sizeof m);
    CHECK_EQUAL(prof_xplane_stream(trace, memory_sink(&m), NULL), PROF_OK);
    unsigned long long usual = size_limit;
    size_limit = 100; /* enough for the first plane only */
    CHECK_EQUAL(prof_xplane_stream(trace, memory_sink(&m), NULL), PROF_UNSUPPORTED);
    CHECK(strstr(prof_error(), "2 GiB") != NULL);
    CHECK_EQUAL(prof_xplane_write(trace, logs, &options), PROF_UNSUPPORTED);
    CHECK(strstr(prof_error(), "h.xplane.pb") != NULL);
    snprintf(path, sizeof path, "%s/plugins/profile/r", logs);
    CHECK_TEXT(names_in(path), "");
    size_limit = usual;
    CHECK_EQUAL(prof_xplane_write(trace, logs, &options), PROF_OK);
    free(m.bytes);
    prof_trace_close(trace);
}

static char *saved_image(size_t *size)
{
    CHECK_EQUAL(prof_save(trace_path("xplane.prof")), PROF_OK);
    return trace_file_text(trace_path("xplane.prof"), size);
}

TEST(damaged_images)
{
    size_t size;
    uint64_t random = 88172645463325252u;
    long rounds = trace_times(20, 150, 3000);
    int opened = 0;
    static int a_lock;
    start(PROF_RING);
    for (int i = 0; i < 100; ++i) {
        PROFILE_STEP("step", i);
        some_kinds(i);
        PROFILE_FLOW_OUT((uint64_t)i % 3);
        PROFILE_FLOW_IN((uint64_t)i % 3);
        PROFILE_SPAN_BEGIN("span", i);
        PROFILE_SPAN_END("span", i / 2);
        PROFILE_FRAME("frame");
        PROFILE_ALLOC((void *)(uintptr_t)(unsigned)(i + 1), i);
        PROFILE_FREE((void *)(uintptr_t)(unsigned)(i / 2 + 1));
        PROFILE_LOCK_ACQUIRE(&a_lock, "m");
        PROFILE_LOCK_RELEASE(&a_lock, "m");
    }
    prof_stop();
    char *image = saved_image(&size), *copy = (char *)malloc(size);
    for (long round = 0; round < rounds && test_failures < 20; ++round) {
        prof_trace *trace = NULL;
        prof__header header;
        memcpy(copy, image, size);
        memcpy(&header, image, sizeof header);
        for (int i = 0; i < 1 + round % 40; ++i) {
            random ^= random << 13, random ^= random >> 7, random ^= random << 17;
            size_t from = round % 2 ? (size_t)header.meta_offset : (size_t)header.chunk_offset;
            copy[from + random % 6000] = (char)(random >> 32);
        }
        if (prof_trace_open_memory(copy, size, &trace)) continue;
        ++opened;
        written(trace, NULL);
        free_all();
        prof_trace_close(trace);
    }
    CHECK(opened > 0);
    free(copy);
    free(image);
}

/* A line that comes out shorter the second time is filled up to the length that was said. */
TEST(what_vanishes_is_filled_up)
{
    static const uint64_t missing[] = {2, 3, 60, 129, 130, 131, 1000, 70000};
    for (size_t i = 0; i < sizeof missing / sizeof *missing; ++i) {
        prof__xplane *x = (prof__xplane *)calloc(1, sizeof *x);
        memory m;
        memset(&m, 0, sizeof m);
        prof__out_sink(&x->out, memory_sink(&m));
        x->left = missing[i];
        prof__xplane_put_head(x, PROF__XPLANE_LINE, missing[i]);
        prof__xplane_fill(x);
        CHECK_EQUAL(prof__out_close(&x->out), PROF_OK);
        CHECK(x->changed);
        reader r;
        r.at = m.bytes + 1;
        r.end = m.bytes + m.size;
        read_bad = 0;
        space_line line = read_line(&r);
        CHECK(!read_bad && r.at == r.end && line.count == 0);
        free(m.bytes);
        free(x);
    }
    free_all();
}

static void remove_tree(const char *path)
{
    char command[512];
    snprintf(command, sizeof command, "rm -rf '%s'", path);
    CHECK(!system(command));
}

/* The names in a directory, sorted, with a space behind each. */
static const char *names_in(const char *path)
{
    static char text[4096];
    char command[512];
    FILE *pipe;
    size_t got;
    snprintf(command, sizeof command, "ls -A '%s' 2>/dev/null | tr '\\n' ' '", path);
    pipe = popen(command, "r");
    got = pipe ? fread(text, 1, sizeof text - 1, pipe) : 0;
    text[got] = 0;
    if (pipe) pclose(pipe);
    return text;
}

static prof_trace *small_trace(void)
{
    start(PROF_RING);
    { PROFILE_SCOPE("x"); }
    return stop();
}

static void check_file(const char *path, size_t planes)
{
    size_t size;
    char *bytes = trace_file_text(path, &size);
    CHECK(bytes != NULL && size > 0);
    if (!bytes) return;
    xspace all = read_space((const unsigned char *)bytes, size);
    CHECK_EQUAL(all.plane_count, planes);
    free_all();
    free(bytes);
}

TEST(runs_and_hosts)
{
    prof_xplane_options options;
    char logs[256], path[512], run[64];
    snprintf(logs, sizeof logs, "%s", trace_path("logs"));
    remove_tree(logs);
    memset(&options, 0, sizeof options);
    options.host = "no:de";
    prof_trace *trace = small_trace();
    time_t begin = (time_t)(prof_trace_about(trace)->start_unix_ns / 1000000000u);
    strftime(run, sizeof run, "%Y_%m_%d_%H_%M_%S", localtime(&begin));
    CHECK_EQUAL(prof_xplane_write(trace, logs, &options), PROF_OK);
    CHECK_EQUAL(prof_xplane_write(trace, logs, &options), PROF_OK); /* XProf keeps what it made of the first */
    snprintf(path, sizeof path, "%s/plugins/profile/", logs);
    char both[160];
    snprintf(both, sizeof both, "%s %s_2 ", run, run);
    CHECK_TEXT(names_in(path), both);
    snprintf(path, sizeof path, "%s/plugins/profile/%s/no_de.xplane.pb", logs, run);
    check_file(path, 2);
    options.host = "other"; /* joins the run */
    CHECK_EQUAL(prof_xplane_write(trace, logs, &options), PROF_OK);
    snprintf(path, sizeof path, "%s/plugins/profile/%s", logs, run);
    CHECK_TEXT(names_in(path), "no_de.xplane.pb other.xplane.pb ");
    snprintf(path, sizeof path, "%s/sub/plugins/profile/mine/", logs); /* the run's own directory */
    CHECK_EQUAL(prof_xplane_write(trace, path, &options), PROF_OK);
    CHECK_TEXT(names_in(path), "other.xplane.pb ");
    options.run = "na/me";
    CHECK_EQUAL(prof_xplane_write(trace, logs, &options), PROF_OK);
    snprintf(path, sizeof path, "%s/plugins/profile/na_me", logs);
    CHECK_TEXT(names_in(path), "other.xplane.pb ");
    CHECK_EQUAL(prof_xplane_write(trace, "/dev/null/logs", &options), PROF_IO);
    CHECK(strstr(prof_error(), "/dev/null/logs") != NULL);
    char *long_path = (char *)malloc(3000);
    memset(long_path, 'x', 2999);
    long_path[2999] = 0;
    CHECK_EQUAL(prof_xplane_write(trace, long_path, NULL), PROF_INVALID_ARGUMENT);
    free(long_path);
    prof_trace_close(trace);
}

/* Nothing is left of a run that could not be written, nor of the hosts that could, nor its directory, which XProf would
   show as a run; but one that was there before stays. */
TEST(a_failed_run_leaves_no_file)
{
    prof_xplane_options options;
    prof_trace *trace = small_trace(), *both[2];
    char logs[256], path[512];
    struct rlimit old, none;
    snprintf(logs, sizeof logs, "%s", trace_path("logs_failed"));
    remove_tree(logs);
    memset(&options, 0, sizeof options);
    options.host = "h";
    options.run = "r";
    signal(SIGXFSZ, SIG_IGN);
    CHECK(!getrlimit(RLIMIT_FSIZE, &old));
    none = old;
    none.rlim_cur = 10;
    CHECK(!setrlimit(RLIMIT_FSIZE, &none));
    CHECK_EQUAL(prof_xplane_write(trace, logs, &options), PROF_IO);
    both[0] = trace;
    CHECK(!setrlimit(RLIMIT_FSIZE, &old));
    start(PROF_RING);
    for (int i = 0; i < 10000; ++i) { PROFILE_SCOPE("x"); }
    both[1] = stop();
    none.rlim_cur = 50000; /* enough for the first */
    CHECK(!setrlimit(RLIMIT_FSIZE, &none));
    CHECK_EQUAL(prof_xplane_merge((const prof_trace *const *)both, 2, logs, &options), PROF_IO);
    CHECK(!setrlimit(RLIMIT_FSIZE, &old));
    snprintf(path, sizeof path, "%s/plugins/profile", logs);
    CHECK_TEXT(names_in(path), "");
    strcat(path, "/r");
    CHECK(!mkdir(path, 0777));
    CHECK(!setrlimit(RLIMIT_FSIZE, &none));
    CHECK_EQUAL(prof_xplane_merge((const prof_trace *const *)both, 2, logs, &options), PROF_IO);
    CHECK(!setrlimit(RLIMIT_FSIZE, &old));
    signal(SIGXFSZ, SIG_DFL);
    CHECK_TEXT(names_in(path), "");
    CHECK(!rmdir(path));
    prof_trace_close(both[1]);
    prof_trace_close(trace);
}

TEST(several_traces_are_hosts_of_one_run)
{
    prof_trace *traces[3];
    char logs[256], path[512], names[160], own[64];
    prof_set_metadata("host", "node");
    for (int i = 0; i < 3; ++i) traces[i] = small_trace();
    prof_clear_metadata();
    snprintf(logs, sizeof logs, "%s", trace_path("logs_merged"));
    remove_tree(logs);
    snprintf(path, sizeof path, "%s/plugins/profile/all", logs);
    CHECK_EQUAL(prof_xplane_merge((const prof_trace *const *)traces, 3, path, NULL), PROF_OK);
    snprintf(names, sizeof names, "%s", names_in(path));
    for (int i = 1; i <= 3; ++i) { /* all of one process, which is not what happens otherwise */
        snprintf(own, sizeof own, i > 1 ? "node.%ld_%d.xplane.pb " : "node.%ld.xplane.pb ", (long)getpid(), i);
        CHECK(strstr(names, own) != NULL);
    }
    snprintf(own, sizeof own, "node.%ld_3", (long)getpid());
    size_t size;
    snprintf(path, sizeof path, "%s/plugins/profile/all/%s.xplane.pb", logs, own);
    char *bytes = trace_file_text(path, &size);
    xspace all = read_space((const unsigned char *)bytes, size);
    int64_t offsets[3];
    prof_trace_align((const prof_trace *const *)traces, 3, offsets);
    CHECK(offsets[2] > 0);
    CHECK_EQUAL(plane_of(&all, "/host:CPU")->lines[0].time, offsets[2]);
    CHECK_TEXT(all.host, own);
    free_all();
    free(bytes);
    for (int i = 0; i < 3; ++i) prof_trace_close(traces[i]);
}

TEST(many_hosts_of_one_name)
{
    enum { HOSTS = 100 };
    const prof_trace *traces[HOSTS];
    prof_xplane_options options;
    char logs[256], path[512];
    prof_trace *trace = small_trace();
    for (int i = 0; i < HOSTS; ++i) traces[i] = trace;
    snprintf(logs, sizeof logs, "%s", trace_path("logs_many"));
    remove_tree(logs);
    snprintf(path, sizeof path, "%s/plugins/profile/all", logs);
    memset(&options, 0, sizeof options);
    options.host = "h";
    compared = 0;
    CHECK_EQUAL(prof_xplane_merge(traces, 1, path, &options), PROF_OK);
    long one = compared;
    remove_tree(logs);
    compared = 0;
    CHECK_EQUAL(prof_xplane_merge(traces, HOSTS, path, &options), PROF_OK);
    CHECK(compared < HOSTS * (one + 10)); /* not in proportion to the square of their number, or even its cube */
    int files = 0;
    for (const char *name = names_in(path); (name = strstr(name, ".xplane.pb")) != NULL; ++name) ++files;
    CHECK_EQUAL(files, HOSTS);
    remove_tree(logs);
    prof_trace_close(trace);
}

TEST(an_output_that_is_a_directory)
{
    prof_config config;
    char logs[256], path[600];
    prof_set_metadata("host", "h");
    snprintf(logs, sizeof logs, "%s/", trace_path("logs_output"));
    remove_tree(logs);
    for (int round = 0; round < 3; ++round) {
        snprintf(path, sizeof path, "%splugins/profile/run%d/", logs, round);
        memset(&config, 0, sizeof config);
        config.mode = round == 1 ? PROF_STREAM : PROF_RING;
        config.output = path;
        CHECK_EQUAL(prof_start(&config), PROF_OK);
        { PROFILE_SCOPE("x"); }
        if (round == 2) CHECK_EQUAL(prof_save(path), PROF_OK);
        CHECK_EQUAL(prof_stop(), PROF_OK);
        CHECK_TEXT(names_in(path), "h.xplane.pb ");
    }
    snprintf(path, sizeof path, "%splugins/profile", logs);
    CHECK_TEXT(names_in(path), "run0 run1 run2 run2_2 ");
    /* one that is there, without a slash; a rank is no part of the directory's name */
    snprintf(path, sizeof path, "%splugins/profile/there", logs);
    mkdir(path, 0777);
    memset(&config, 0, sizeof config);
    config.output = path;
    config.rank = "3";
    CHECK_EQUAL(prof_start(&config), PROF_OK);
    { PROFILE_SCOPE("x"); }
    CHECK_EQUAL(prof_stop(), PROF_OK);
    CHECK_TEXT(names_in(path), "h.3.xplane.pb ");
    config.mode = PROF_STATS; /* no events */
    CHECK_EQUAL(prof_start(&config), PROF_INVALID_ARGUMENT);
    prof_clear_metadata();
}

/* Ranks of a job whose launcher says so are hosts of one run, whenever each has begun. */
TEST(ranks_are_hosts_of_one_run)
{
    char logs[256], path[512];
    const char *was = getenv("SLURM_JOB_ID");
    char *kept = was ? strdup(was) : NULL;
    snprintf(logs, sizeof logs, "%s/", trace_path("logs_ranks"));
    remove_tree(logs);
    prof_set_metadata("host", "h");
    setenv("SLURM_JOB_ID", "12:34", 1);
    for (int i = 0; i < 3; ++i) {
        prof_config config;
        char rank[2] = {(char)('0' + i), 0};
        memset(&config, 0, sizeof config);
        config.output = logs;
        config.rank = rank;
        CHECK_EQUAL(prof_start(&config), PROF_OK);
        { PROFILE_SCOPE("x"); }
        CHECK_EQUAL(prof_stop(), PROF_OK);
    }
    snprintf(path, sizeof path, "%splugins/profile/job_12_34", logs);
    CHECK_TEXT(names_in(path), "h.0.xplane.pb h.1.xplane.pb h.2.xplane.pb ");
    prof_clear_metadata();
    unsetenv("SLURM_JOB_ID");
    if (kept) setenv("SLURM_JOB_ID", kept, 1);
    free(kept);
}

TEST(start_trace_and_stop_trace)
{
    prof_config config;
    char logs[256], path[600];
    prof_set_metadata("host", "h");
    snprintf(logs, sizeof logs, "%s", trace_path("logs_trace"));
    remove_tree(logs);
    CHECK_EQUAL(prof_xplane_stop_trace(), PROF_INVALID_STATE);
    CHECK_EQUAL(prof_xplane_start_trace(NULL), PROF_INVALID_ARGUMENT);
    CHECK_EQUAL(prof_xplane_start_trace("/dev/null/x"), PROF_IO);
    snprintf(path, sizeof path, "%s/plugins/profile/own", logs);
    CHECK_EQUAL(prof_xplane_start_trace(path), PROF_OK);
    CHECK_EQUAL(prof_xplane_start_trace(path), PROF_INVALID_STATE);
    CHECK(strstr(prof_error(), "started already") != NULL);
    { PROFILE_SCOPE("x"); }
    CHECK_EQUAL(prof_xplane_stop_trace(), PROF_OK);
    CHECK_EQUAL(prof_xplane_stop_trace(), PROF_INVALID_STATE);
    CHECK(!prof_enabled());
    CHECK_TEXT(names_in(path), "h.xplane.pb ");
    /* within a session that runs already, twice */
    memset(&config, 0, sizeof config);
    CHECK_EQUAL(prof_start(&config), PROF_OK);
    { PROFILE_SCOPE("before"); }
    for (int i = 0; i < 2; ++i) {
        snprintf(path, sizeof path, "%s/plugins/profile/part%d", logs, i);
        CHECK_EQUAL(prof_xplane_start_trace(path), PROF_OK);
        trace_next_instant(); /* what is at the very end of the part belongs to the next */
        { PROFILE_SCOPE("inside"); }
        trace_next_instant();
        CHECK_EQUAL(prof_xplane_stop_trace(), PROF_OK);
        CHECK(prof_enabled());
        snprintf(path, sizeof path, "%s/plugins/profile/part%d/h.xplane.pb", logs, i);
        size_t size;
        char *bytes = trace_file_text(path, &size);
        xspace all = read_space((const unsigned char *)bytes, size);
        const space_plane *plane = plane_of(&all, "/host:CPU");
        CHECK(plane && plane->line_count == 1 && plane->lines[0].count == 1);
        if (plane && plane->line_count && plane->lines[0].count)
            CHECK_TEXT(name_of(plane, &plane->lines[0].events[0]), "inside");
        free_all();
        free(bytes);
    }
    CHECK_EQUAL(prof_stop(), PROF_OK);
    prof_clear_metadata();
}

/*-- gzip, and the memory profile: readers of the test's own --*/

static uint32_t crc_of(const unsigned char *bytes, size_t size)
{
    uint32_t crc = ~0u;
    for (size_t i = 0; i < size; ++i) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320u : 0);
    }
    return ~crc;
}

static uint32_t word_at(const unsigned char *bytes)
{
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

/* What a gzip holds, of malloc() and terminated; null if it is none. */
static char *gunzip(const unsigned char *bytes, size_t size, size_t *length)
{
    if (size < 20 || memcmp(bytes, "\x1f\x8b\x08\x00", 4)) return NULL;
    const unsigned char *tail = bytes + size - 8;
    size_t n = word_at(tail + 4);
    char *out = (char *)malloc(n + 1);
    if (inflate_to(bytes + 10, size - 18, (unsigned char *)out, n) != tail ||
        word_at(tail) != crc_of((const unsigned char *)out, n)) {
        free(out);
        return NULL;
    }
    out[n] = 0;
    *length = n;
    return out;
}

typedef struct gzip_sink {
    prof__gzip z;
    prof__out out;
} gzip_sink;

static void check_gzip(const unsigned char *bytes, size_t size, size_t at_most)
{
    gzip_sink *s = (gzip_sink *)calloc(1, sizeof *s);
    memory m;
    size_t length = 0;
    memset(&m, 0, sizeof m);
    prof__out_sink(&s->out, memory_sink(&m));
    prof__gzip_begin(&s->z, &s->out);
    for (size_t at = 0; at < size; at += 1000) prof__gzip_add(&s->z, bytes + at, size - at < 1000 ? size - at : 1000);
    prof__gzip_end(&s->z);
    CHECK_EQUAL(prof__out_close(&s->out), PROF_OK);
    char *back = gunzip(m.bytes, m.size, &length);
    CHECK(back && length == size && (!size || !memcmp(back, bytes, size)));
    CHECK(m.size <= at_most);
    free(back);
    free(m.bytes);
    free(s);
}

/* Nothing, noise, letters, every distance and length, and sizes around those of a block. */
TEST(gzip)
{
    size_t size = 200000;
    unsigned char *bytes = (unsigned char *)calloc(size, 1);
    uint32_t seed = 12345;
    check_gzip(bytes, 0, 40);
    for (size_t i = 0; i < size; ++i) bytes[i] = (unsigned char)((seed = seed * 1664525 + 1013904223) >> 24);
    check_gzip(bytes, size, size + size / 100 + 100);
    for (size_t at = 65534; at < 65540; ++at) check_gzip(bytes, at, at + at / 100 + 100);
    memset(bytes, 'x', size);
    check_gzip(bytes, size, 1500);
    for (size_t i = 0; i < size; ++i) bytes[i] = (unsigned char)('a' + ((seed = seed * 1664525 + 1013904223) >> 28));
    check_gzip(bytes, size, size / 100 * 51); /* 16 letters: 4 bits each */
    for (size_t at = 70000, length = 3, far = 1; at + 300 < size; at += length) { /* of 70000 bytes noise, pieces */
        length = 3 + seed % 256;
        far = 1 + (seed >> 8) % 40000;
        for (size_t i = 0; i < length; ++i) bytes[at + i] = bytes[at + i - far];
        bytes[at++ + length] = (unsigned char)(seed = seed * 1664525 + 1013904223) ;
    }
    check_gzip(bytes, size, size);
    free(bytes);
}

/* Strings and samples of a profile. */
typedef struct pprof_profile {
    char *strings[64];
    size_t string_count, sample_count, location_count, function_count, type_count, comment_count;
    uint64_t types[8][2], standard, time, duration, period;
    struct {
        uint64_t locations[4], values[4], labels[4][2];
        size_t location_count, value_count, label_count;
    } samples[16];
    struct { uint64_t id, mapping, function, line; } locations[16];
    struct { uint64_t id, name, system_name, file; } functions[16];
} pprof_profile;

static size_t read_packed(reader *from, uint64_t *values, size_t most)
{
    reader r = read_message(from);
    size_t count = 0;
    while (r.at < r.end && count < most) values[count++] = read_varint(&r);
    return count;
}

static void read_pairs(reader *from, uint64_t *values, size_t count) /* fields 1, 2, ... that are numbers */
{
    reader r = read_message(from);
    while (r.at < r.end) {
        uint64_t tag = read_varint(&r), value = read_varint(&r);
        CHECK(!(tag & 7) && tag >> 3 && tag >> 3 <= count);
        if (tag >> 3 && tag >> 3 <= count) values[(tag >> 3) - 1] = value;
    }
}

static void read_location(reader *from, pprof_profile *p)
{
    reader r = read_message(from);
    uint64_t line[2] = {0, 0};
    size_t n = p->location_count++;
    while (r.at < r.end) {
        uint64_t tag = read_varint(&r);
        if (tag == 0x08) p->locations[n].id = read_varint(&r);
        else if (tag == 0x10) p->locations[n].mapping = read_varint(&r);
        else if (tag == 0x22) read_pairs(&r, line, 2);
        else read_bad = 1, r.at = r.end;
    }
    p->locations[n].function = line[0];
    p->locations[n].line = line[1];
}

static void read_sample(reader *from, pprof_profile *p)
{
    reader r = read_message(from);
    size_t n = p->sample_count++;
    while (r.at < r.end) {
        uint64_t tag = read_varint(&r);
        if (tag == 0x0A) p->samples[n].location_count = read_packed(&r, p->samples[n].locations, 4);
        else if (tag == 0x12) p->samples[n].value_count = read_packed(&r, p->samples[n].values, 4);
        else if (tag == 0x1A && p->samples[n].label_count < 4)
            read_pairs(&r, p->samples[n].labels[p->samples[n].label_count++], 2);
        else read_bad = 1, r.at = r.end;
    }
}

static pprof_profile read_profile(const char *bytes, size_t size)
{
    static pprof_profile p;
    reader r = {(const unsigned char *)bytes, (const unsigned char *)bytes + size};
    uint64_t pair[2];
    memset(&p, 0, sizeof p);
    while (r.at < r.end && !read_bad) {
        uint64_t tag = read_varint(&r);
        switch (tag) {
        case 0x0A: read_pairs(&r, p.types[p.type_count++], 2); break;
        case 0x12: read_sample(&r, &p); break;
        case 0x1A: read_message(&r); break;
        case 0x22: read_location(&r, &p); break;
        case 0x2A: read_pairs(&r, &p.functions[p.function_count++].id, 4); break;
        case 0x32: p.strings[p.string_count++] = read_text(&r); break;
        case 0x48: p.time = read_varint(&r); break;
        case 0x50: p.duration = read_varint(&r); break;
        case 0x5A: read_pairs(&r, pair, 2); break;
        case 0x60: p.period = read_varint(&r); break;
        case 0x68: p.comment_count++; read_varint(&r); break;
        case 0x70: p.standard = read_varint(&r); break;
        default: read_bad = 1;
        }
    }
    return p;
}

static const char *string_of(const pprof_profile *p, uint64_t index)
{
    return index < p->string_count ? p->strings[index] : "(beyond the table)";
}

static void pprof_program(unsigned *at)
{
    char *const a = (char *)(uintptr_t)0x1000, *const b = (char *)(uintptr_t)0x2000;
    { PROFILE_SCOPE("caf\xE9"); PROFILE_ALLOC_POOL(a, 100, "gpu"); *at = __LINE__; }
    for (int i = 0; i < 3; ++i) { PROFILE_MEMORY_SCOPE("layer"); PROFILE_ALLOC(b + i, 50); }
    PROFILE_FREE(b);
}

/* Every figure of prof_memory() in a profile whose tables are in order. */
TEST(the_memory_profile_is_one_of_pprof)
{
    unsigned at = 0;
    memory m;
    size_t length = 0, i;
    start(PROF_RING);
    PROFILE_FREE((char *)(uintptr_t)0x9999); /* nobody's */
    pprof_program(&at);
    prof_trace *trace = stop();
    memset(&m, 0, sizeof m);
    CHECK_EQUAL(prof_xplane_pprof_stream(trace, memory_sink(&m)), PROF_OK);
    char *bytes = gunzip(m.bytes, m.size, &length);
    CHECK(bytes != NULL);
    if (!bytes) return;
    read_bad = 0;
    pprof_profile p = read_profile(bytes, length);
    CHECK(!read_bad);
    static const char *const types[4][2] = {
        {"alloc_objects", "count"}, {"alloc_space", "bytes"}, {"inuse_objects", "count"}, {"inuse_space", "bytes"}};
    CHECK_EQUAL(p.type_count, 4);
    for (i = 0; i < 4; ++i) {
        CHECK_TEXT(string_of(&p, p.types[i][0]), types[i][0]);
        CHECK_TEXT(string_of(&p, p.types[i][1]), types[i][1]);
    }
    CHECK_TEXT(string_of(&p, 0), "");
    CHECK_TEXT(string_of(&p, p.standard), "inuse_space");
    CHECK_EQUAL(p.comment_count, 1);
    CHECK_EQUAL(p.period, 1);
    CHECK(p.time >= prof_trace_about(trace)->start_unix_ns && p.duration > 0);
    CHECK_EQUAL(p.sample_count, 2);
    CHECK_EQUAL(p.location_count, 3);
    CHECK_EQUAL(p.function_count, 3);
    for (i = 0; i < p.sample_count; ++i) {
        int first = p.samples[i].values[0] == 1;
        CHECK_EQUAL(p.samples[i].value_count, 4);
        CHECK_EQUAL(p.samples[i].location_count, first ? 2 : 1);
        CHECK_EQUAL(p.samples[i].values[0], first ? 1 : 3);
        CHECK_EQUAL(p.samples[i].values[1], first ? 100 : 150);
        CHECK_EQUAL(p.samples[i].values[2], first ? 1 : 2);
        CHECK_EQUAL(p.samples[i].values[3], 100);
        CHECK_EQUAL(p.samples[i].label_count, 1);
        CHECK_TEXT(string_of(&p, p.samples[i].labels[0][0]), first ? "pool" : "memory scope");
        CHECK_TEXT(string_of(&p, p.samples[i].labels[0][1]), first ? "gpu" : "layer");
        for (size_t j = 0; j < p.samples[i].location_count; ++j) {
            uint64_t id = p.samples[i].locations[j];
            CHECK(id >= 1 && id <= 3 && p.locations[id - 1].id == id && p.locations[id - 1].mapping == 1);
            CHECK(p.locations[id - 1].function == id && p.functions[id - 1].id == id);
            CHECK_TEXT(string_of(&p, p.functions[id - 1].name), j ? "caf\xEF\xBF\xBD" : "pprof_program");
            CHECK_TEXT(string_of(&p, p.functions[id - 1].file), __FILE__);
            if (first) CHECK_EQUAL(p.locations[id - 1].line, at);
        }
    }
    free(bytes);
    free_all();
    /* a window that reaches beyond the end: the profile ends with the recording */
    const prof_trace_info *about = prof_trace_about(trace);
    CHECK_EQUAL(prof_trace_set_window(trace, 0, about->duration_ns + 5000000000), PROF_OK);
    m.size = 0;
    CHECK_EQUAL(prof_xplane_pprof_stream(trace, memory_sink(&m)), PROF_OK);
    if (!(bytes = gunzip(m.bytes, m.size, &length))) return;
    p = read_profile(bytes, length);
    CHECK_EQUAL(p.duration, about->duration_ns);
    CHECK_EQUAL(p.time, about->start_unix_ns + (uint64_t)about->duration_ns);
    free(bytes);
    free_all();
    /* a sink that refuses; a file, by its ending */
    m.size = 0;
    m.limit = 20;
    CHECK_EQUAL(prof_xplane_pprof_stream(trace, memory_sink(&m)), PROF_IO);
    CHECK_EQUAL(prof_xplane_pprof_stream(NULL, memory_sink(&m)), PROF_INVALID_ARGUMENT);
    CHECK_EQUAL(prof_xplane_pprof_write(NULL, "-"), PROF_INVALID_ARGUMENT);
    const char *path = trace_path("memory.pprof");
    remove(path);
    CHECK_EQUAL(prof_save(path), PROF_OK);
    char *file = trace_file_text(path, &i);
    CHECK(file && (bytes = gunzip((const unsigned char *)file, i, &length)) != NULL);
    if (file) free(bytes);
    free(file);
    free(m.bytes);
    prof_trace_close(trace);
}

/* The gzip at folder/name, as text. */
static char *perfetto_of(const char *folder, const char *name)
{
    char path[700];
    size_t size = 0, length = 0;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    char *file = trace_file_text(path, &size), *text = file ? gunzip((const unsigned char *)file, size, &length) : NULL;
    free(file);
    return text;
}

static void check_perfetto(const char *folder, const char *name, const char *has, const char *has_not)
{
    char *text = perfetto_of(folder, name);
    CHECK(text != NULL);
    if (text) {
        json *all = json_parse(text, strlen(text));
        CHECK(all != NULL);
        if (all) json_free(all);
        CHECK(strstr(text, has) != NULL);
        CHECK(!has_not || !strstr(text, has_not));
    }
    free(text);
}

/* As jax.profiler.start_trace(logdir, create_perfetto_link, create_perfetto_trace, profiler_options). */
TEST(start_trace_with_options)
{
    prof_config config;
    prof_xplane_trace_options options;
    char logs[256], path[400];
    prof_set_metadata("host", "h");
    snprintf(logs, sizeof logs, "%s", trace_path("logs_options"));
    remove_tree(logs);
    memset(&options, 0, sizeof options);
    memset(&config, 0, sizeof config);
    options.config = &config;
    options.create_perfetto_trace = 1;
    /* refused */
    config.output = "x.json";
    CHECK_EQUAL(prof_xplane_start_trace_with(logs, &options), PROF_INVALID_ARGUMENT);
    CHECK(strstr(prof_error(), "config.output") != NULL);
    config.output = NULL;
    config.mode = PROF_STATS;
    CHECK_EQUAL(prof_xplane_start_trace_with(logs, &options), PROF_INVALID_ARGUMENT);
    config.mode = PROF_RING;
    config.level = 1000;
    CHECK_EQUAL(prof_xplane_start_trace_with(logs, &options), PROF_INVALID_ARGUMENT);
    CHECK_EQUAL(prof_xplane_stop_trace(), PROF_INVALID_STATE);
    /* a session of its own, with a level of its own */
    CHECK_EQUAL(prof_config_set(&config, "host_tracer_level", "3"), PROF_OK);
    snprintf(path, sizeof path, "%s/plugins/profile/own", logs);
    CHECK(!prof_enabled_at(0));
    CHECK_EQUAL(prof_xplane_start_trace_with(path, &options), PROF_OK);
    CHECK(prof_enabled() && prof_enabled_at(3) && !prof_enabled_at(4));
    { PROFILE_SCOPE_L("three", 3); }
    { PROFILE_SCOPE_L("four", 4); }
    CHECK_EQUAL(prof_xplane_stop_trace(), PROF_OK);
    CHECK_TEXT(names_in(path), "h.xplane.pb perfetto_trace.json.gz ");
    check_perfetto(path, "perfetto_trace.json.gz", "\"three\"", "\"four\"");
    /* another host of the same run */
    prof_set_metadata("host", "i");
    options.config = NULL;
    CHECK_EQUAL(prof_xplane_start_trace_with(path, &options), PROF_OK);
    { PROFILE_SCOPE("other"); }
    CHECK_EQUAL(prof_xplane_stop_trace(), PROF_OK);
    CHECK_TEXT(names_in(path), "h.xplane.pb i.perfetto_trace.json.gz i.xplane.pb perfetto_trace.json.gz ");
    check_perfetto(path, "i.perfetto_trace.json.gz", "\"other\"", NULL);
    /* a directory of a similar name has none */
    char other[900];
    CHECK_EQUAL(prof_xplane_start_trace_with(path, &options), PROF_OK);
    snprintf(other, sizeof other, "%s/other_%s/", logs, path);
    CHECK_EQUAL(prof_save(other), PROF_OK);
    CHECK_TEXT(names_in(other), "i.xplane.pb ");
    CHECK_EQUAL(prof_xplane_stop_trace(), PROF_OK);
    /* the next one does not want it */
    snprintf(path, sizeof path, "%s/plugins/profile/plain", logs);
    CHECK_EQUAL(prof_xplane_start_trace_with(path, NULL), PROF_OK);
    CHECK_EQUAL(prof_xplane_stop_trace(), PROF_OK);
    CHECK_TEXT(names_in(path), "i.xplane.pb ");
    /* in a session that runs already: it has a configuration */
    CHECK_EQUAL(prof_start(NULL), PROF_OK);
    { PROFILE_SCOPE("before"); }
    snprintf(path, sizeof path, "%s/plugins/profile/part", logs);
    options.config = &config;
    CHECK_EQUAL(prof_xplane_start_trace_with(path, &options), PROF_INVALID_STATE);
    options.config = NULL;
    trace_next_instant();
    CHECK_EQUAL(prof_xplane_start_trace_with(path, &options), PROF_OK);
    trace_next_instant();
    { PROFILE_SCOPE("inside"); }
    trace_next_instant();
    CHECK_EQUAL(prof_xplane_stop_trace(), PROF_OK);
    check_perfetto(path, "perfetto_trace.json.gz", "\"inside\"", "\"before\"");
    CHECK_EQUAL(prof_stop(), PROF_OK);
    prof_clear_metadata();
}

/* The link is words on stderr, and nothing waits. */
TEST(the_perfetto_link_is_printed)
{
    prof_xplane_trace_options options;
    char logs[256], said[1024] = "";
    int ends[2], kept = dup(2);
    snprintf(logs, sizeof logs, "%s", trace_path("logs_link"));
    remove_tree(logs);
    memset(&options, 0, sizeof options);
    options.create_perfetto_link = 1;
    CHECK(kept >= 0 && !pipe(ends));
    CHECK_EQUAL(prof_xplane_start_trace_with(logs, &options), PROF_OK);
    { PROFILE_SCOPE("x"); }
    fflush(stderr);
    dup2(ends[1], 2);
    prof_status status = prof_xplane_stop_trace();
    dup2(kept, 2);
    close(ends[1]);
    CHECK_EQUAL(status, PROF_OK);
    CHECK(read(ends[0], said, sizeof said - 1) > 0);
    CHECK(strstr(said, "https://ui.perfetto.dev") && strstr(said, "perfetto_trace.json.gz"));
    close(ends[0]);
    close(kept);
}

static int leaves_a_trace(const char *path, int how)
{
    int i;
    for (i = 0; i < 2; ++i) {
        PROFILE_TRACE(path)
        {
            PROFILE_SCOPE("inside");
            if (how == 1) return 7;
            if (how == 2) break; /* of the trace's block */
        }
    }
    return i;
}

/* As `with jax.profiler.trace(logdir):`. */
TEST(a_block_is_traced_however_it_is_left)
{
    char path[256];
    prof_set_metadata("host", "h");
    remove_tree(trace_path("logs_block"));
    for (int how = 0; how < 3; ++how) {
        snprintf(path, sizeof path, "%s%d", trace_path("logs_block/plugins/profile/run"), how);
        CHECK_EQUAL(leaves_a_trace(path, how), how == 1 ? 7 : 2);
        CHECK_TEXT(names_in(path), "h.xplane.pb ");
        CHECK(!prof_enabled());
        CHECK_EQUAL(prof_xplane_stop_trace(), PROF_INVALID_STATE);
    }
    /* one that cannot begin runs its block, and ends nobody else's trace */
    int ran = 0;
    snprintf(path, sizeof path, "%s", trace_path("logs_block/plugins/profile/outer"));
    CHECK_EQUAL(prof_xplane_start_trace(path), PROF_OK);
    PROFILE_TRACE_WITH(path, NULL) ran = 1;
    CHECK(ran && prof_enabled());
    CHECK_EQUAL(prof_xplane_stop_trace(), PROF_OK);
    prof_clear_metadata();
}

/* Neither a trace nor a block nor a session: nothing. */
TEST(enabled_at_a_level)
{
    prof_config config;
    CHECK(!prof_enabled_at(0) && !prof_enabled_at(255));
    memset(&config, 0, sizeof config);
    CHECK_EQUAL(prof_start(&config), PROF_OK);
    CHECK(prof_enabled_at(0) && prof_enabled_at(2) && !prof_enabled_at(3));
    CHECK_EQUAL(prof_set_level(0), PROF_OK);
    CHECK(prof_enabled() && prof_enabled_at(0) && !prof_enabled_at(1));
    CHECK_EQUAL(prof_set_level(255), PROF_OK);
    CHECK(prof_enabled_at(255));
    CHECK_EQUAL(prof_pause(), PROF_OK);
    CHECK(!prof_enabled_at(1));
    CHECK_EQUAL(prof_stop(), PROF_OK);
}

TEST(no_trace_of_statistics)
{
    prof_config config;
    char logs[256];
    snprintf(logs, sizeof logs, "%s", trace_path("logs_statistics"));
    remove_tree(logs);
    memset(&config, 0, sizeof config);
    config.mode = PROF_STATS;
    CHECK_EQUAL(prof_start(&config), PROF_OK);
    CHECK_EQUAL(prof_xplane_start_trace(logs), PROF_INVALID_ARGUMENT);
    CHECK(strstr(prof_error(), "mode stats") != NULL);
    CHECK_EQUAL(prof_xplane_stop_trace(), PROF_INVALID_STATE);
    CHECK_EQUAL(prof_stop(), PROF_OK);
    config.mode = PROF_RING; /* and when the session in which the trace began is gone */
    CHECK_EQUAL(prof_start(&config), PROF_OK);
    CHECK_EQUAL(prof_xplane_start_trace(logs), PROF_OK);
    CHECK_EQUAL(prof_stop(), PROF_OK);
    config.mode = PROF_STATS;
    CHECK_EQUAL(prof_start(&config), PROF_OK);
    CHECK_EQUAL(prof_xplane_stop_trace(), PROF_INVALID_ARGUMENT);
    CHECK_EQUAL(prof_stop(), PROF_OK);
    CHECK_TEXT(names_in(logs), "");
}

static void *stop_cancelled(void *unused)
{
    (void)unused;
    pthread_cancel(pthread_self());
    CHECK_EQUAL(prof_xplane_stop_trace(), PROF_OK);
    pthread_testcancel();
    return NULL;
}

/* Neither a thread that is cancelled nor one that is not in the child of a fork keeps the lock. */
TEST(nobody_keeps_the_lock)
{
    char path[256];
    pthread_t thread;
    pid_t child;
    int status = 1;
    snprintf(path, sizeof path, "%s", trace_path("logs_lock/plugins/profile/run"));
    remove_tree(trace_path("logs_lock"));
    start(PROF_RING);
    CHECK_EQUAL(prof_xplane_start_trace(path), PROF_OK);
    { PROFILE_SCOPE("x"); }
    CHECK(!pthread_create(&thread, NULL, stop_cancelled, NULL));
    CHECK(!pthread_join(thread, NULL));
    CHECK_EQUAL(prof__xplane_session.word, 0);
    CHECK(*names_in(path) != 0);
    prof__xplane_session.word = 1; /* as if another thread were at it */
    child = fork();
    if (!child) {
        alarm(60);
        _exit(prof_xplane_stop_trace() == PROF_INVALID_STATE ? 0 : 1);
    }
    prof__xplane_session.word = 0;
    CHECK(child > 0 && waitpid(child, &status, 0) == child && !status);
    CHECK_EQUAL(prof_stop(), PROF_OK);
}

/* Ten times the events, no more memory. */
TEST(memory_does_not_grow)
{
    long most = trace_times(200000, 1000000, 1000000);
    for (int round = 0; round < 2; ++round) {
        prof_config config;
        memory m;
        memset(&config, 0, sizeof config);
        config.buffer_size = 64 << 20;
        CHECK_EQUAL(prof_start(&config), PROF_OK);
        for (long i = 0; i < (round ? most : 100000); ++i) { PROFILE_SCOPE("x"); }
        prof_trace *trace = stop();
        memset(&m, 0, sizeof m);
        m.only_count = 1;
        long before = resident();
        CHECK_EQUAL(prof_xplane_stream(trace, memory_sink(&m), NULL), PROF_OK);
        CHECK(m.largest <= 65536);
        CHECK(m.size > 10 * (size_t)(round ? most : 100000));
        if (!TRACE_SANITIZER) CHECK(m.resident - before < 1 << 20);
        prof_trace_close(trace);
    }
}

TEST_MAIN
