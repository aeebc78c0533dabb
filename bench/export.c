/* What it costs to read and to write a trace: bench_export [THOUSANDS [ROUNDS [FOLDER [WAY]]]]

   Records four scopes a turn into a ring in FOLDER/bench_export.prof (default /dev/shm) and into an archive beside it.
   Each way to read or write them is compared with what this machine can do at all: a loop that does only the work that
   cannot be left out. Processor time, the best of some rounds in which all ways take turns. WAY: only those whose names
   have it. Ways whose names end in "elapsed" are for more than one thread: time by the clock, which is worth something
   only if nothing else runs (chrt -f 10). One of them runs the command prof that is beside this program. */
#define _GNU_SOURCE 1
#define PROF_IMPLEMENTATION
#include "../prof_chrome.h"
#include "../prof_xplane.h"
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

enum { SAMPLE = 1 << 16 };

typedef struct sample { /* an event, as the bare loops have it */
    int64_t start, duration;
    uint32_t site;
} sample;

static struct {
    char ring[256], archive[256], json[256], tool[512];
    prof_trace *of_ring, *of_archive;
    double events;
    sample samples[SAMPLE];
    size_t sample_count;
    uint64_t bytes; /* written by the present way */
    int file;       /* to which it writes; 0: to none */
    volatile uint64_t kept;
} b;

static double now(int elapsed)
{
    struct timespec time;
    struct rusage run; /* of commands */
    /* of the process, because others may want the processor, too */
    clock_gettime(elapsed ? CLOCK_MONOTONIC : CLOCK_PROCESS_CPUTIME_ID, &time);
    getrusage(RUSAGE_CHILDREN, &run);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9 +
           (elapsed ? 0 : (double)(run.ru_utime.tv_sec + run.ru_stime.tv_sec) +
                          (double)(run.ru_utime.tv_usec + run.ru_stime.tv_usec) * 1e-6);
}

static int count(void *user, const void *data, size_t size)
{
    (void)data;
    *(uint64_t *)user += size;
    return 0;
}

static prof_sink counter(void)
{
    prof_sink sink = {count, &b.bytes};
    return sink;
}

static void need(int good, const char *what)
{
    if (good) return;
    fprintf(stderr, "bench_export: %s: %s\n", what, prof_error());
    exit(1);
}

/*-- what cannot be left out ------------------------------------------------------------------------------------------*/

/* Reads the chunks of a ring, finds each scope's end and computes both times. */
static void bare_reader(void)
{
    static sample scopes[1 << 15];
    static uint64_t words[1 << 17];
    prof__header h;
    FILE *file = fopen(b.ring, "rb");
    uint64_t sum = 0, ns_mul, i;
    uint32_t stack[256];
    need(file && fread(&h, sizeof h, 1, file) == 1, b.ring);
    ns_mul = (uint64_t)(1e9 / (double)prof_trace_about(b.of_ring)->tick_hz * 4294967296.0);
    fseek(file, (long)h.chunk_offset, SEEK_SET);
    for (i = 0; i < h.chunk_count; i++) {
        size_t used = 0, depth = 0, at, count = h.chunk_size / 8;
        uint64_t base;
        need(fread(words, h.chunk_size, 1, file) == 1, b.ring);
        base = ((prof__chunk *)(void *)words)->base.tick - h.first.tick;
        for (at = h.chunk_header_size / 8; at < count; at++) {
            uint64_t head = words[at], kind = head >> PROF__KIND_SHIFT;
            int64_t ns = (int64_t)(((base + (head & PROF__TICK_MASK)) >> 8) * ns_mul >> 24);
            if (kind == PROF__KIND_BEGIN) {
                scopes[used].start = ns;
                scopes[used].duration = 0;
                scopes[used].site = (uint32_t)(head >> PROF__TICK_BITS) & PROF__SITE_MASK;
                stack[depth++ & 255] = (uint32_t)used++;
            } else if (kind == PROF__KIND_END && depth) {
                sample *scope = &scopes[stack[--depth & 255]];
                scope->duration = ns - scope->start;
            }
        }
        for (at = 0; at < used; at++) sum += (uint64_t)scopes[at].duration + scopes[at].site;
        if (used) b.sample_count = used < SAMPLE ? used : SAMPLE;
        memcpy(b.samples, scopes, b.sample_count * sizeof *scopes);
    }
    fclose(file);
    b.kept = sum;
}

/* Copies the ring out of the page cache, in pieces as large as its chunks. */
static void bare_copy(void)
{
    static char part[16384];
    int file = open(b.ring, O_RDONLY);
    off_t at = 0;
    need(file >= 0, b.ring);
    while (pread(file, part, sizeof part, at) == (ssize_t)sizeof part) at += (off_t)sizeof part;
    close(file);
    b.kept += (uint64_t)part[0];
}

/* Unpacks the blocks of an archive. */
static void bare_unpacker(void)
{
    static uint64_t words[1 << 17];
    static char bytes[2 << 20];
    prof__block block;
    prof__header h;
    FILE *file = fopen(b.archive, "rb");
    need(file && fread(&h, sizeof h, 1, file) == 1, b.archive);
    fseek(file, (long)h.archive_first, SEEK_SET);
    while (fread(&block, sizeof block, 1, file) == 1 && block.magic == PROF__BLOCK_MAGIC) {
        need(fread(bytes, block.size - sizeof block, 1, file) == 1, b.archive);
        b.kept += prof__unpack((unsigned char *)bytes, block.size - sizeof block, words, block.words);
    }
    fclose(file);
}

static const char *const bare_names[] = {"outer", "inner one", "inner two", "deep"};

static char *bare_text(char *to, const char *text, size_t size)
{
    memcpy(to, text, size);
    return to + size;
}

/* Decimal digits, two at a time. */
static char *bare_number(char *to, uint64_t value)
{
    char text[20];
    size_t at = sizeof text;
    for (; value >= 100; value /= 100) {
        unsigned two = (unsigned)(value % 100);
        text[--at] = (char)('0' + two % 10);
        text[--at] = (char)('0' + two / 10);
    }
    if (value >= 10) text[--at] = (char)('0' + value % 10), value /= 10;
    text[--at] = (char)('0' + value);
    return bare_text(to, text + at, sizeof text - at);
}

static char *bare_microseconds(char *to, uint64_t ns)
{
    unsigned rest = (unsigned)(ns % 1000);
    to = bare_number(to, ns / 1000);
    to[0] = '.';
    to[1] = (char)('0' + rest / 100);
    to[2] = (char)('0' + rest / 10 % 10);
    to[3] = (char)('0' + rest % 10);
    return to + 4;
}

static void bare_put(const char *data, size_t size)
{
    count(&b.bytes, data, size);
    need(!b.file || write(b.file, data, size) == (ssize_t)size, b.json);
}

/* The lines of the exporter, out of an array; csv: those of the other. */
static void bare_lines(int csv)
{
    static char buffer[65536 + 512];
    char head[4][256], middle[] = ",\"dur\":", tail[128] = ",0,,,,bench/export.c,150,record\r\n";
    size_t head_size[4] = {0}, i, done, all = (size_t)b.events;
    char *to = buffer;
    for (i = 0; i < 4 && csv; i++)
        head_size[i] = (size_t)snprintf(head[i], sizeof head[i], "1,12345,,scope,%s,,", bare_names[i]);
    for (i = 0; i < 4 && !csv; i++)
        head_size[i] = (size_t)snprintf(head[i], sizeof head[i],
                                        ",\n{\"ph\":\"X\",\"name\":\"%s\",\"cat\":\"prof\",\"loc\":"
                                        "\"bench/export.c:150\",\"pid\":12345,\"tid\":12345,\"ts\":",
                                        bare_names[i]);
    for (done = 0; done < all;) {
        for (i = 0; i < b.sample_count && done < all; i++, done++) {
            const sample *s = &b.samples[i];
            memcpy(to, head[s->site & 3], 160);
            to += head_size[s->site & 3];
            if (csv) {
                to = bare_number(to, (uint64_t)s->start);
                *to++ = ',';
                to = bare_number(to, (uint64_t)s->duration);
                to = bare_text(to, tail, 33);
            } else {
                to = bare_microseconds(to, (uint64_t)s->start);
                to = bare_text(to, middle, 7);
                to = bare_microseconds(to, (uint64_t)s->duration);
                *to++ = '}';
            }
            if (to - buffer > 65536 - 256) {
                bare_put(buffer, (size_t)(to - buffer));
                to = buffer;
            }
        }
    }
    bare_put(buffer, (size_t)(to - buffer));
    b.kept += (uint64_t)buffer[123];
}

static void bare_formatter(void) { bare_lines(0); }

/* A new file beside the JSON, under another name. */
static int bare_create(const char *ending)
{
    char path[300];
    int file;
    snprintf(path, sizeof path, "%s%s", b.json, ending);
    file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0666);
    need(file > 0, path);
    return file;
}

/* Puts it in the place of the JSON, or, with an ending, removes it. */
static void bare_close(int file, const char *ending)
{
    char path[300];
    snprintf(path, sizeof path, "%s%s", b.json, ending);
    need(!close(file) && !(strcmp(ending, ".part") ? remove(path) : rename(path, b.json)), path);
}

/* The same lines, into a file: what no exporter of this kind can be faster than. */
static void bare_conversion(void)
{
    b.file = bare_create(".part");
    bare_lines(0);
    bare_close(b.file, ".part");
    b.file = 0;
}

/* A half of as many bytes as the JSON has, written by one of two threads. */
typedef struct half {
    int file;
    off_t from, to;
} half;

static void *bare_half(void *user)
{
    static char part[1 << 18];
    const half *h = (const half *)user;
    off_t at;
    for (at = h->from; at < h->to; at += (off_t)sizeof part)
        need(pwrite(h->file, part, sizeof part, at) == (ssize_t)sizeof part, b.json);
    return NULL;
}

static void bare_halves(int threads, int files)
{
    const off_t middle = (off_t)(b.events * 60);
    half halves[2] = {{0, 0, middle}, {0, middle, 2 * middle}};
    pthread_t thread;
    int both;
    halves[0].file = halves[1].file = bare_create(".part");
    if (files == 2) halves[1].file = bare_create(".2"), halves[1].from = 0, halves[1].to = middle;
    both = threads == 2 && !pthread_create(&thread, NULL, bare_half, &halves[1]);
    bare_half(&halves[0]);
    if (both) pthread_join(thread, NULL);
    else bare_half(&halves[1]);
    if (files == 2) bare_close(halves[1].file, ".2");
    bare_close(halves[0].file, ".part");
}

static void bare_one(void) { bare_halves(1, 1); }
static void bare_two(void) { bare_halves(2, 1); }
static void bare_files(void) { bare_halves(2, 2); }

/* What the system takes for a file of as many bytes as the JSON has, in one of these ways. */
enum { NEW, RESERVED, MAPPED, HUGE_PAGES, PRESENT };

/* Makes the pages of a mapping, in Linux 6.1 or later. */
static void bare_pages(char *to, size_t size, int huge)
{
    enum { POPULATE_WRITE = 23, COLLAPSE = 25 };
    const size_t page = (size_t)2 << 20;
    size_t at;
    if (!huge) madvise(to, size, POPULATE_WRITE);
    for (at = 0; at < size && huge; at += page) madvise(to + at, 4096, POPULATE_WRITE);
    if (huge && madvise(to, size, COLLAPSE)) perror("bench_export: no huge pages");
}

static void bare_bytes(int way)
{
    static char part[65536];
    const size_t piece = 64 * sizeof part; /* of a mapping: two huge pages */
    size_t i, count = (size_t)(b.events * 120 / (double)piece) * 64;
    char path[300], *to = NULL;
    char *reserved = (char *)mmap(NULL, 2 * piece, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *space = reserved + (piece - (uintptr_t)reserved % piece);
    int file, good = 1;
    need(reserved != MAP_FAILED, "mmap");
    snprintf(path, sizeof path, way == PRESENT ? "%s" : "%s.part", b.json);
    file = open(path, O_RDWR | O_CREAT | (way == PRESENT ? 0 : O_TRUNC), 0666);
    if (way == RESERVED) good = !fallocate(file, 0, 0, (off_t)(count * sizeof part));
    if (way == MAPPED || way == HUGE_PAGES) good = !ftruncate(file, (off_t)(count * sizeof part));
    for (i = 0; i < count && good; i++) {
        if (way != MAPPED && way != HUGE_PAGES) {
            good = write(file, part, sizeof part) == (ssize_t)sizeof part;
            continue;
        }
        if (i % 64 == 0) {
            to = (char *)mmap(space, piece, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file,
                              (off_t)(i * sizeof part));
            need(to != MAP_FAILED, path);
            bare_pages(to, piece, way == HUGE_PAGES);
        }
        memcpy(to + i % 64 * sizeof part, part, sizeof part);
    }
    munmap(reserved, 2 * piece);
    need(good && !close(file) && (way == PRESENT || !rename(path, b.json)), path);
}

static void bare_file(void) { bare_bytes(NEW); }
static void bare_reserved(void) { bare_bytes(RESERVED); }
static void bare_mapped(void) { bare_bytes(MAPPED); }
static void bare_huge(void) { bare_bytes(HUGE_PAGES); }
static void bare_present(void) { bare_bytes(PRESENT); }

static void bare_csv(void) { bare_lines(1); }

/* The messages of an XSpace, out of an array. */
static void bare_messages(void)
{
    static unsigned char buffer[65536];
    unsigned char *to = buffer;
    size_t done, i, all = (size_t)b.events;
    for (done = 0; done < all;) {
        for (i = 0; i < b.sample_count && done < all; i++, done++) {
            unsigned char *length = to + 1;
            const sample *s = &b.samples[i];
            to[0] = 34;
            to[2] = 8;
            to = prof__pack_integer(to + 3, s->site);
            *to++ = 16;
            to = prof__pack_integer(to, (uint64_t)s->start * 1000);
            *to++ = 24;
            to = prof__pack_integer(to, (uint64_t)s->duration * 1000);
            *length = (unsigned char)(to - length - 1);
            if (to - buffer > 65536 - 64) {
                count(&b.bytes, buffer, (size_t)(to - buffer));
                to = buffer;
            }
        }
    }
    b.kept += buffer[123];
}

/* Counts, sums, extremes and a histogram of each site, out of an array. */
static void bare_statistics(void)
{
    static struct {
        uint64_t count, total, least, most, steps[4096];
        double mean, squares;
    } rows[8];
    size_t done, i, all = (size_t)b.events;
    for (done = 0; done < all;) {
        for (i = 0; i < b.sample_count && done < all; i++, done++) {
            const sample *s = &b.samples[i];
            uint64_t ns = (uint64_t)s->duration;
            double distance = (double)ns - rows[s->site & 7].mean;
            rows[s->site & 7].total += ns;
            if (!rows[s->site & 7].count++ || ns < rows[s->site & 7].least) rows[s->site & 7].least = ns;
            if (ns > rows[s->site & 7].most) rows[s->site & 7].most = ns;
            rows[s->site & 7].mean += distance / (double)rows[s->site & 7].count;
            rows[s->site & 7].squares += distance * ((double)ns - rows[s->site & 7].mean);
            rows[s->site & 7].steps[prof__step_of(ns) & 4095]++;
        }
    }
    b.kept += rows[1].total + (uint64_t)rows[1].squares;
}

/*-- the library ------------------------------------------------------------------------------------------------------*/

static void open_close(const char *path)
{
    prof_trace *trace;
    need(!prof_trace_open(path, &trace), path);
    prof_trace_close(trace);
}

static void open_ring(void) { open_close(b.ring); }
static void open_archive(void) { open_close(b.archive); }

static void walk(const prof_trace *trace)
{
    prof_cursor *cursor;
    prof_event event;
    size_t i;
    for (i = 0; i < prof_trace_track_count(trace); i++) {
        need(!prof_cursor_open(trace, i, &cursor), "cursor");
        while (prof_cursor_next(cursor, &event)) {
        }
        prof_cursor_close(cursor);
    }
}

static void walk_ring(void) { walk(b.of_ring); }
static void walk_archive(void) { walk(b.of_archive); }
static void chrome(void) { need(!prof_chrome_stream(b.of_ring, counter(), NULL), "json"); }
static void csv(void) { need(!prof_csv_stream(b.of_ring, counter()), "csv"); }
static void xspace(void) { need(!prof_xplane_stream(b.of_ring, counter(), NULL), "xspace"); }
static void summary(void) { need(!prof_summary_stream(b.of_ring, counter(), NULL), "summary"); }

static void convert(void)
{
    prof_trace *trace;
    need(!prof_trace_open(b.ring, &trace), b.ring);
    need(!prof_chrome_write(trace, b.json, NULL), b.json);
    prof_trace_close(trace);
}

static void open_walk(void)
{
    prof_trace *trace;
    need(!prof_trace_open(b.ring, &trace), b.ring);
    walk(trace);
    prof_trace_close(trace);
}

static void open_summary(void)
{
    prof_trace *trace;
    need(!prof_trace_open(b.ring, &trace), b.ring);
    need(!prof_summary_stream(trace, counter(), NULL), "summary");
    prof_trace_close(trace);
}

/* The command, from the start of its process to its end. */
static void command(const char *words)
{
    char line[2048];
    snprintf(line, sizeof line, "%s %s", b.tool, words);
    need(!system(line), line);
}

static void command_on(const char *before, const char *after)
{
    char words[1024];
    snprintf(words, sizeof words, "%s %s %s", before, b.ring, after);
    command(words);
}

static void command_json(void)
{
    char after[300];
    snprintf(after, sizeof after, "-o %s --progress never", b.json);
    command_on("export", after);
}

static void command_check(void) { command_on("check", ">/dev/null || test $? = 1"); /* 1: a ring has lost events */ }
static void command_summary(void) { command_on("summary", ">/dev/null"); }

/* limit: the way that cannot be faster */
static const struct {
    const char *name;
    void (*run)(void);
    int limit;
} ways[] = {
    {"bare reader of the ring", bare_reader, 0},
    {"bare copy of the ring", bare_copy, 1},
    {"open a ring", open_ring, 0},
    {"cursor, ring", walk_ring, 0},
    {"bare unpacker of the archive", bare_unpacker, 4},
    {"open an archive", open_archive, 4},
    {"cursor, archive", walk_archive, 4},
    {"bare formatter of JSON", bare_formatter, 7},
    {"Chrome JSON", chrome, 7},
    {"bare file of 120 bytes each", bare_file, 9},
    {"the same, blocks reserved", bare_reserved, 9},
    {"the same, mapped", bare_mapped, 9},
    {"the same, in huge pages", bare_huge, 9},
    {"the same, over one of before", bare_present, 9},
    {"bare formatter into a file", bare_conversion, 14},
    {".prof to .json, everything", convert, 14},
    {"bare formatter of CSV", bare_csv, 16},
    {"CSV", csv, 16},
    {"bare writer of messages", bare_messages, 18},
    {"XSpace", xspace, 18},
    {"bare statistics", bare_statistics, 20},
    {"summary", summary, 20},
    {"bare formatter, file, elapsed", bare_conversion, 22},
    {"prof export, elapsed", command_json, 22},
    {"pwrite, one thread, elapsed", bare_one, 24},
    {"the same, two, elapsed", bare_two, 24},
    {"the same, two files, elapsed", bare_files, 24},
    {"prof export", command_json, 14}, /* processor time of its process */
    {"open, cursor", open_walk, 28},
    {"prof check", command_check, 28},
    {"open, summary", open_summary, 30},
    {"prof summary", command_summary, 30}};

enum { WAYS = sizeof ways / sizeof *ways };

static void record(long turns, const char *path, prof_mode mode)
{
    prof_config config = {0};
    long i;
    config.output = path;
    config.mode = mode;
    config.buffer_size = mode == PROF_STREAM ? (size_t)16 << 20 : (size_t)turns * 66 + (4 << 20);
    config.wait_ns = (uint64_t)10000000000;
    need(!prof_start(&config), path);
    for (i = 0; i < turns; i++) {
        PROFILE_SCOPE("outer");
        { PROFILE_SCOPE("inner one"); }
        { PROFILE_SCOPE("inner two"); { PROFILE_SCOPE("deep"); } }
    }
    need(!prof_stop(), path);
}

int main(int argc, char **argv)
{
    double best[WAYS];
    uint64_t bytes[WAYS];
    long turns = (argc > 1 ? atol(argv[1]) : 4000) * 250;
    int rounds = argc > 2 ? atoi(argv[2]) : 5, round, way, have_command;
    const char *folder = argc > 3 ? argv[3] : "/dev/shm", *name;
    snprintf(b.ring, sizeof b.ring, "%s/bench_export.prof", folder);
    snprintf(b.archive, sizeof b.archive, "%s/bench_export.archive.prof", folder);
    snprintf(b.json, sizeof b.json, "%s/bench_export.json", folder);
    name = strrchr(argv[0], '/');
    snprintf(b.tool, sizeof b.tool, "%.*s/prof", name ? (int)(name - argv[0]) : 1, name ? argv[0] : ".");
    have_command = !access(b.tool, X_OK);
    record(turns, b.ring, PROF_RING);
    record(turns, b.archive, PROF_STREAM);
    need(!prof_trace_open(b.ring, &b.of_ring), b.ring);
    need(!prof_trace_open(b.archive, &b.of_archive), b.archive);
    b.events = (double)prof_trace_about(b.of_ring)->event_count;
    for (way = 0; way < WAYS; way++) best[way] = 1e9;
    bare_file(); /* each way replaces an older file, also in the first round */
    for (round = 0; round < rounds; round++) {
        for (way = 0; way < WAYS; way++) {
            int elapsed = strstr(ways[way].name, "elapsed") != NULL;
            double start = now(elapsed), cost;
            if (argc > 4 && !strstr(ways[way].name, argv[4]) && way) continue; /* the first one finds the samples */
            if (strstr(ways[way].name, "prof ") == ways[way].name && !have_command) continue;
            b.bytes = 0;
            ways[way].run();
            cost = now(elapsed) - start;
            bytes[way] = b.bytes;
            if (cost < best[way]) best[way] = cost;
        }
    }
    printf("%.1f million events in the ring, %.1f in the archive\n", b.events / 1e6,
           (double)prof_trace_about(b.of_archive)->event_count / 1e6);
    for (way = 0; way < WAYS; way++) {
        if (best[way] >= 1e9) continue;
        printf("%-29s %6.1f ns an event, %6.1f million a second, %6.1f bytes", ways[way].name,
               best[way] / b.events * 1e9, b.events / best[way] / 1e6, (double)bytes[way] / b.events);
        if (best[ways[way].limit] < 1e9) printf(", x limit %.2f", best[way] / best[ways[way].limit]);
        printf("\n");
    }
    prof_trace_close(b.of_ring);
    prof_trace_close(b.of_archive);
    remove(b.ring);
    remove(b.archive);
    remove(b.json);
    return 0;
}
