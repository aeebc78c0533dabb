/* The report in one HTML file: what the deflate encoder writes can be unpacked; the blocks hold what cursors return;
   sinks that fail, arguments, long names; the writer of .html. What the page makes of it: tests/html. */
/* run: check traces clocks */
#include "private.h"
#include "../prof_html.h"

#include "../tools/inflate.h"
#include "test.h"
#include "trace.h"

#include <stdlib.h>
#ifndef _WIN32
#include <sys/stat.h>
#include <unistd.h>
#endif

/*-- the encoder --*/

static uint32_t random_state = 1;
static uint32_t any(uint32_t limit)
{
    random_state = random_state * 1664525u + 1013904223u;
    return (random_state >> 8) % limit;
}

static int comes_back(prof__deflate *d, const unsigned char *from, const size_t *ends, size_t parts,
                      size_t *packed)
{
    size_t size = ends[parts - 1];
    unsigned char *to = (unsigned char *)malloc(PROF__DEFLATE_BOUND(size)), *again = (unsigned char *)malloc(size + 1);
    int good;
    *packed = prof__deflate_all(d, from, ends, parts, to);
    good = *packed <= PROF__DEFLATE_BOUND(size) && inflate_to(to, *packed, again, size) == to + *packed &&
           !memcmp(from, again, size);
    free(to);
    free(again);
    return good;
}

TEST(what_is_packed_can_be_unpacked)
{
    prof__deflate *d = (prof__deflate *)calloc(1, sizeof *d);
    unsigned char *bytes = (unsigned char *)malloc(400000);
    for (long round = 0; round < trace_times(60, 400, 5000); ++round) {
        size_t size = round < 20 ? (size_t)round : any(round % 10 ? 3000 : 400000), packed, ends[4];
        uint32_t letters = round % 4 == 0 ? 256 : 1 + any(20), run = 1 + any(300);
        for (size_t i = 0; i < size; ++i) {
            bytes[i] = (unsigned char)any(letters);
            if (i > run && any(10)) bytes[i] = bytes[i - run]; /* far matches as well */
        }
        if (round % 7 == 6) memset(bytes, 7, size);
        ends[0] = size ? any((uint32_t)size) : 0;
        ends[1] = ends[0];
        ends[2] = ends[1] + (size - ends[1]) / 2;
        ends[3] = size;
        CHECK(comes_back(d, bytes, ends, 4, &packed));
        if (round % 7 == 6 && size > 1000) CHECK(packed < size / 10);
    }
    free(bytes);
    free(d);
}

/* Counts that would make codes of more than 15 bits. */
TEST(long_codes_are_limited)
{
    prof__deflate *d = (prof__deflate *)calloc(1, sizeof *d);
    unsigned char *bytes = (unsigned char *)malloc(200000);
    size_t size = 0, end, packed;
    uint32_t a = 1, b = 1;
    for (unsigned letter = 0; letter < 24 && size + a < 15000; ++letter) { /* Fibonacci's numbers, in one code */
        uint32_t next = a + b;
        for (uint32_t i = 0; i < a; ++i) bytes[size++] = (unsigned char)letter;
        a = b;
        b = next;
    }
    for (size_t i = size; i > 1; --i) { /* shuffled, so that few matches are found */
        size_t other = any((uint32_t)i);
        unsigned char swap = bytes[i - 1];
        bytes[i - 1] = bytes[other];
        bytes[other] = swap;
    }
    end = size;
    CHECK(comes_back(d, bytes, &end, 1, &packed));
    prof__deflate_code *code = &d->letters;
    memset(code, 0, sizeof *code);
    for (a = b = 1, size = 0; size < 40; ++size) {
        uint32_t next = a + b;
        code->count[size] = a;
        a = b;
        b = next;
    }
    prof__deflate_code_make(code, 286, 15);
    uint32_t full = 0;
    for (size = 0; size < 286; ++size) {
        CHECK(code->length[size] <= 15);
        if (code->length[size]) full += 1u << (15 - code->length[size]);
    }
    CHECK_EQUAL(full, 1u << 15);
    free(bytes);
    free(d);
}

/* Texts are cut between characters. Bytes that are no characters do not make a text shorter. */
TEST(cuts_are_between_characters)
{
    CHECK_EQUAL(prof__utf8_cut("abc", 2), 2);
    CHECK_EQUAL(prof__utf8_cut("ab\xC3\xA4z", 3), 2);
    CHECK_EQUAL(prof__utf8_cut("ab\xC3\xA4z", 4), 4);
    CHECK_EQUAL(prof__utf8_cut("a\xF0\x9F\x98\x80z", 4), 1);
    CHECK_EQUAL(prof__utf8_cut("\xF0\x9F\x98\x80z", 3), 0);
    CHECK_EQUAL(prof__utf8_cut("a\x80\x80\x80\x80\x80\x80z", 6), 6);
}

/*-- reports --*/

static prof_sink sink_anew(trace_bytes *all)
{
    memset(all, 0, sizeof *all);
    return trace_sink(all);
}

/* All pieces of a report, one after the other; to be freed. */
static unsigned char *data_of(const trace_bytes *m, size_t *size)
{
    static const char mark[] = "<script type=\"application/octet-stream\">";
    unsigned char *data = (unsigned char *)malloc(m->size + 1);
    const char *at = m->bytes;
    *size = 0;
    while ((at = strstr(at, mark)) != NULL) {
        unsigned count = 0;
        uint32_t bits = 0;
        for (at += sizeof mark - 1; *at != '<'; ++at) {
            int c = *at == '!' ? *++at ^ 64 : *at;
            CHECK(*at > 0 && *at != 10 && *at != 13 && *at != 27 && *at != '<' && c >= 0);
            if (*at <= 0) break;
            bits = (bits << 7 | (unsigned)c) & 0x7FFF;
            count += 7;
            if (count < 8) continue;
            count -= 8;
            data[(*size)++] = (unsigned char)(bits >> count & 255);
        }
        CHECK(!strncmp(at, "</script>", 9));
    }
    return data;
}

static uint64_t number(const unsigned char **at)
{
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
        value |= (uint64_t)(**at & 127) << shift;
        if (*(*at)++ < 128) return value;
    }
}

/* Of columns of heads and of rests: see prof__html_number(). */
static uint64_t split_number(const unsigned char **heads, const unsigned char **rests)
{
    uint64_t head = *(*heads)++, value = 0;
    unsigned more = head < 192 ? 0 : head < 224 ? 1 : head < 240 ? 2 : head < 248 ? 3 : 8;
    static const struct {
        unsigned first;
        uint64_t from;
    } classes[9] = {{0, 0}, {192, 192}, {224, 192 + 8192}, {240, 192 + 8192 + (1 << 20)}};
    for (unsigned i = 0; i < more; ++i) value |= (uint64_t)*(*rests)++ << 8 * i;
    if (more == 8) return value + 192 + 8192 + (1 << 20) + (1 << 27);
    return value + ((head - classes[more].first) << 8 * more) + classes[more].from;
}

/* What is known of the scopes of a track while its blocks are read. */
typedef struct scopes_of {
    uint64_t track, last, time, start[4096], end[4096];
    size_t open;
    unsigned char is_open[4096];
} scopes_of;

typedef struct account { /* of a report */
    size_t blocks[128];
    uint64_t scopes, points, spans;
    uint64_t durations; /* the sum of those of scopes */
    size_t kinds; /* that were written */
} account;

/* Ends the deepest scope that is open. Returns its duration. */
static uint64_t end_one(scopes_of *s, const unsigned char **heads, const unsigned char **rests)
{
    size_t depth = --s->open;
    uint64_t after;
    if (!s->is_open[depth]) return 0;
    s->is_open[depth] = 0;
    after = split_number(heads, rests);
    CHECK(after > 0); /* 0: it ends before what is in it, which no recording of these tests has */
    s->time += after - 1;
    s->end[depth] = s->time;
    return s->time - s->start[depth];
}

/* The sum of the durations of the scopes that end in a block. depths: of kinds. */
static uint64_t durations_of(scopes_of *s, const unsigned char *c, const size_t *sizes, const uint32_t *depths)
{
    const unsigned char *column[5], *ends[5];
    uint64_t sum = 0, track;
    for (int i = 0; i < 5; ++i) {
        column[i] = c;
        ends[i] = c += sizes[i];
    }
    track = number(&column[0]);
    if (track != s->track) memset(s, 0, sizeof *s);
    s->track = track;
    while (column[4] < ends[4]) {
        uint32_t depth = depths[number(&column[4])];
        int follows = depth < s->open;
        CHECK(depth < 4096);
        while (s->open > depth) sum += end_one(s, &column[2], &column[3]);
        s->start[depth] = (follows ? s->end[depth] : s->last) + split_number(&column[0], &column[1]);
        s->last = s->time = s->start[depth];
        s->is_open[depth] = 1;
        s->open = depth + 1;
    }
    while (s->open && column[2] < ends[2]) sum += end_one(s, &column[2], &column[3]);
    for (int i = 0; i < 5; ++i) CHECK(column[i] == ends[i]);
    return sum;
}

/* The depths of the kinds of a block. */
static void read_kinds(const unsigned char *at, const unsigned char *end, uint32_t **depths, size_t *count)
{
    while (at < end) {
        number(&at);
        *depths = (uint32_t *)realloc(*depths, (*count + 1) * sizeof **depths);
        (*depths)[(*count)++] = (uint32_t)number(&at);
        for (int i = 0; i < 7; ++i) number(&at);
    }
}

static trace_bytes lines; /* of source in the report that was read last, each with its number */

static void read_lines(const unsigned char *at, const unsigned char *end)
{
    while (at < end) {
        char head[32];
        number(&at);
        trace_bytes_add(&lines, head, (size_t)snprintf(head, sizeof head, "%lu:", (unsigned long)number(&at)));
        size_t size = (size_t)number(&at);
        CHECK(size <= 403 && size <= (size_t)(end - at));
        trace_bytes_add(&lines, at, size);
        trace_bytes_add(&lines, "\n", 1);
        at += size;
    }
}

/* Collects the losses, and the numbers of files, as lines. */
static void read_pairs(const unsigned char *at, const unsigned char *end)
{
    while (at < end) {
        const unsigned char *key = at + 1, *value;
        at += 1 + *at;
        value = at;
        size_t size = (size_t)number(&value);
        at = value + size;
        if (strncmp((const char *)key, "sources", 7) && strncmp((const char *)key, "loss", 4)) continue;
        trace_bytes_add(&lines, key, (size_t)(key[-1]));
        trace_bytes_add(&lines, "=", 1);
        trace_bytes_add(&lines, value, size);
        trace_bytes_add(&lines, "\n", 1);
    }
}

static account account_of(const trace_bytes *m)
{
    account all;
    static scopes_of scopes;
    uint32_t *depths = NULL;
    size_t kinds = 0;
    size_t size;
    unsigned char *data = data_of(m, &size), *content = (unsigned char *)malloc(1 << 21);
    const unsigned char *at = data, *end = data + size;
    memset(&all, 0, sizeof all);
    memset(&scopes, 0, sizeof scopes);
    scopes.track = (uint64_t)-1;
    free(lines.bytes);
    sink_anew(&lines);
    while (at < end) {
        unsigned kind = *at++;
        if (!kind) continue;
        size_t whole = (size_t)number(&at), packed = (size_t)number(&at);
        CHECK(kind < 128 && whole <= 1 << 21 && packed < whole && (packed ? packed : whole) <= (size_t)(end - at));
        if (packed)
            CHECK(inflate_to(at, packed, content, whole) == at + packed);
        else
            memcpy(content, at, whole);
        at += packed ? packed : whole;
        ++all.blocks[kind & 127];
        const unsigned char *c = content;
        size_t columns = kind == 'E' ? 5 : kind == 'Q' ? 3 : 1, sizes[5], sum = 0;
        for (size_t i = 0; i < columns; ++i) sum += sizes[i] = (size_t)number(&c);
        CHECK_EQUAL(sum, whole - (size_t)(c - content));
        if (kind == 'K') read_kinds(c, c + sizes[0], &depths, &kinds);
        if (kind == 'X') read_lines(c, c + sizes[0]);
        if (kind == 'P') read_pairs(c, c + sizes[0]);
        if (kind == 'E') all.durations += durations_of(&scopes, c, sizes, depths);
        if (kind == 'Z') {
            all.scopes = number(&c);
            all.points = number(&c);
            all.spans = number(&c);
        }
    }
    all.kinds = kinds;
    free(content);
    free(depths);
    free(data);
    return all;
}

/* The same from cursors. */
static account account_of_trace(const prof_trace *trace)
{
    account all;
    prof_cursor *cursor;
    prof_event event;
    prof_spans *spans;
    prof_span span;
    memset(&all, 0, sizeof all);
    for (size_t i = 0; i < prof_trace_track_count(trace); ++i) {
        CHECK_EQUAL(prof_cursor_open(trace, i, &cursor), PROF_OK);
        while (prof_cursor_next(cursor, &event)) {
            if (event.type == PROF_EVENT_SCOPE) {
                ++all.scopes;
                all.durations += (uint64_t)event.duration_ns;
            } else if (event.type < PROF_EVENT_SPAN_BEGIN || event.type > PROF_EVENT_SPAN_END) {
                ++all.points;
            }
        }
        prof_cursor_close(cursor);
    }
    CHECK_EQUAL(prof_spans_open(trace, &spans), PROF_OK);
    while (prof_spans_next(spans, &span)) ++all.spans;
    prof_spans_close(spans);
    return all;
}

static void check_report(const prof_trace *trace)
{
    trace_bytes m;
    CHECK_EQUAL(prof_html_stream(trace, sink_anew(&m), NULL), PROF_OK);
    CHECK(m.size > 1000 && !strncmp(m.bytes, "<!doctype html>", 15));
    CHECK(!strcmp(m.bytes + m.size - 16, "</body>\n</html>\n"));
    account got = account_of(&m), wanted = account_of_trace(trace);
    CHECK_EQUAL(got.blocks['H'], 1);
    CHECK_EQUAL(got.blocks['Z'], 1);
    CHECK_EQUAL(got.scopes, wanted.scopes);
    CHECK_EQUAL(got.durations, wanted.durations);
    CHECK_EQUAL(got.points, wanted.points);
    CHECK_EQUAL(got.spans, wanted.spans);
    free(m.bytes);
}

static void deep(int left)
{
    PROFILE_SCOPE("deep");
    if (left) deep(left - 1);
}

static void record_all(void)
{
    static char block[64];
    for (int i = 0; i < 50; ++i) {
        PROFILE_FRAME("frame");
        PROFILE_SCOPE("outer </script><!--");
        PROFILE_ARG_I("i", i);
        PROFILE_ARG_D("half", i / 2.0);
        PROFILE_ARG_S("text", "\xFF not UTF-8");
        PROFILE_COUNTER("count", i * 1000);
        PROFILE_MARK("mark");
        PROFILE_LOG(PROF_LOG_WARNING, "message %d", i);
        PROFILE_ALLOC(block, 64);
        PROFILE_FREE(block);
        PROFILE_SPAN_BEGIN("span", i);
        deep(i % 5);
        PROFILE_SPAN_END("span", i);
        PROFILE_FLOW_OUT_NAMED("flow", (uint64_t)i);
        PROFILE_FLOW_IN_NAMED("flow", (uint64_t)i);
    }
    deep(300);
}

static prof_trace *recorded(void (*record)(void), size_t buffer)
{
    prof_config config;
    prof_trace *trace = NULL;
    memset(&config, 0, sizeof config);
    config.buffer_size = buffer;
    CHECK_EQUAL(prof_start(&config), PROF_OK);
    record();
    CHECK_EQUAL(prof_stop(), PROF_OK);
    CHECK_EQUAL(prof_trace_open_live(&trace), PROF_OK);
    return trace;
}

TEST(everything_is_in_the_report)
{
    prof_trace *trace = recorded(record_all, 4 << 20);
    check_report(trace);
    CHECK_EQUAL(prof_trace_set_window(trace, 10000, 200000), PROF_OK);
    check_report(trace);
    prof_trace_close(trace);
}

static void record_nothing(void) {}

TEST(numbers_come_back)
{
    static const uint64_t from[] = {0, 192, 192 + 8192, 192 + 8192 + (1 << 20), 192 + 8192 + (1 << 20) + (1 << 27),
                                    (uint64_t)-1 - 2};
    static prof__html_numbers numbers;
    const unsigned char *heads = numbers.heads.at, *rests = numbers.rests.at;
    for (size_t i = 0; i < sizeof from / sizeof *from; ++i)
        for (uint64_t n = from[i] - (i ? 3 : 0); n != from[i] + 3; ++n) {
            prof__html_number(&numbers, n);
            CHECK_EQUAL(split_number(&heads, &rests), n);
        }
    CHECK_EQUAL(heads - numbers.heads.at, numbers.heads.size);
    CHECK_EQUAL(rests - numbers.rests.at, numbers.rests.size);
}

TEST(an_empty_recording_is_a_report)
{
    prof_trace *trace = recorded(record_nothing, 1 << 20);
    check_report(trace);
    prof_trace_close(trace);
}

static void record_many(void)
{
    for (long i = 0; i < trace_times(20000, 200000, 1000000); ++i) {
        PROFILE_SCOPE("a");
        PROFILE_SCOPE("b");
        if (i % 16 == 0) PROFILE_ARG_I("n", i);
    }
}

TEST(many_scopes_are_many_blocks_and_few_bytes)
{
    prof_trace *trace = recorded(record_many, 64 << 20);
    trace_bytes m;
    check_report(trace);
    CHECK_EQUAL(prof_html_stream(trace, sink_anew(&m), NULL), PROF_OK);
    account all = account_of(&m);
    CHECK(all.blocks['E'] > 0 && all.blocks['A'] > 0);
    CHECK(m.size < 200000 + all.scopes * 2);
    free(m.bytes);
    prof_html_options options;
    memset(&options, 0, sizeof options);
    options.no_args = 1;
    CHECK_EQUAL(prof_html_stream(trace, sink_anew(&m), &options), PROF_OK);
    CHECK_EQUAL(account_of(&m).blocks['A'], 0);
    free(m.bytes);
    prof_trace_close(trace);
}

static void record_names(void)
{
    char name[900];
    memset(name, 'x', sizeof name);
    name[sizeof name - 1] = 0;
    for (int i = 0; i < 3000; ++i) { /* more than are remembered at a time, and longer than a block */
        PROFILE_SCOPE_F("%d %s", i % 1500, name);
    }
}

TEST(many_long_names)
{
    prof_trace *trace = recorded(record_names, 16 << 20);
    check_report(trace);
    prof_trace_close(trace);
}

static void record_thousands_of_names(void)
{
    char name[32];
    for (int i = 0; i < 12000; ++i) {
        snprintf(name, sizeof name, "name %d", i % 6000);
        PROFILE_SCOPE_DYNAMIC(name);
    }
}

TEST(each_kind_is_written_once)
{
    trace_bytes m;
    prof_trace *trace = recorded(record_thousands_of_names, 2 << 20);
    CHECK_EQUAL(prof_html_stream(trace, sink_anew(&m), NULL), PROF_OK);
    CHECK_EQUAL(account_of(&m).kinds, 6000);
    free(m.bytes);
    prof_trace_close(trace);
}

static void record_hundreds_of_names(void)
{
    for (int i = 0; i < 500; ++i) { PROFILE_SCOPE_F("name %d", i % 250); }
}

/* Where names are remembered for a while must not depend on the process, or now and then one is written twice. */
TEST(the_same_report_with_any_seed)
{
    trace_bytes m[2];
    prof_trace_close(recorded(record_hundreds_of_names, 1 << 20));
    for (int i = 0; i < 2; ++i) {
        prof_trace *trace = NULL;
        prof__read_seed_now = i ? 1 : 0x123456789ABCDEF1u;
        CHECK_EQUAL(prof_trace_open_live(&trace), PROF_OK);
        CHECK_EQUAL(prof_html_stream(trace, sink_anew(&m[i]), NULL), PROF_OK);
        prof_trace_close(trace);
    }
    CHECK(m[0].size == m[1].size && !memcmp(m[0].bytes, m[1].bytes, m[0].size));
    free(m[0].bytes);
    free(m[1].bytes);
}

TEST(old_images)
{
    static const char *const images[] = {"archive", "archive_wrapped", "balanced", "crossing",
                                         "notes",   "orphans",         "report",   "torn"};
    for (size_t i = 0; i < sizeof images / sizeof *images; ++i) {
        char path[256];
        prof_trace *trace = NULL;
        snprintf(path, sizeof path, "tests/corpus/%s", images[i]);
        if (prof_trace_open(path, &trace) != PROF_OK) continue;
        check_report(trace);
        prof_trace_close(trace);
    }
}

TEST(several_recordings)
{
    prof_trace *traces[2];
    const char *path = trace_path("two.html");
    trace_bytes m;
    traces[0] = recorded(record_all, 4 << 20);
    traces[1] = recorded(record_all, 4 << 20);
    CHECK_EQUAL(prof_html_merge((const prof_trace *const *)traces, 2, path, NULL), PROF_OK);
    FILE *file = fopen(path, "rb");
    CHECK(file != NULL);
    if (file) {
        char part[4096];
        size_t n;
        sink_anew(&m);
        while ((n = fread(part, 1, sizeof part, file)) > 0) trace_bytes_add(&m, part, n);
        fclose(file);
        account all = account_of(&m);
        CHECK_EQUAL(all.blocks['P'], 2);
        CHECK_EQUAL(all.scopes, account_of_trace(traces[0]).scopes * 2);
        free(m.bytes);
    }
    prof_trace_close(traces[0]);
    prof_trace_close(traces[1]);
}

TEST(errors)
{
    prof_trace *trace = recorded(record_all, 4 << 20);
    trace_bytes m;
    prof_sink sink = sink_anew(&m);
    CHECK_EQUAL(prof_html_write(NULL, "-", NULL), PROF_INVALID_ARGUMENT);
    CHECK_EQUAL(prof_html_merge(NULL, 0, "-", NULL), PROF_INVALID_ARGUMENT);
    CHECK_EQUAL(prof_html_write(trace, "/dev/null/at/all.html", NULL), PROF_IO);
    CHECK_EQUAL(prof_html_stream(trace, sink, NULL), PROF_OK);
    size_t whole = m.size;
    free(m.bytes);
    for (size_t limit = 1; limit < whole; limit += whole / 7) {
        sink = sink_anew(&m);
        m.limit = limit;
        CHECK_EQUAL(prof_html_stream(trace, sink, NULL), PROF_IO);
        free(m.bytes);
    }
    prof_trace_close(trace);
}

/*-- lines of source --*/

static void write_file(const char *folder, const char *name, void (*content)(FILE *file))
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    CHECK(file != NULL);
    if (!file) return;
    content(file);
    fclose(file);
}

static void hostile_source(FILE *file)
{
    for (int i = 1; i <= 30; ++i) fprintf(file, i == 10 ? "\t</script><b>\xFF%c%d\r\n" : "hostile%c%d\n", 0, i);
}

static void long_source(FILE *file)
{
    for (int i = 1; i <= 8000; ++i) {
        for (int k = 0; k < 300; ++k) fputs(k ? "\xC3\xA9" : "a", file); /* byte 400 is in the middle of a character */
        if (i < 8000) fputc('\n', file);
    }
}

static void secret_source(FILE *file)
{
    fputs("secret\n", file);
}

static const char *source_folder(void)
{
    static char folder[512];
    char path[1024];
    snprintf(path, sizeof path, "%s/below/src", trace_path("sources"));
    CHECK_EQUAL(prof__folder_make(path), PROF_OK);
    snprintf(folder, sizeof folder, "%s/below", trace_path("sources"));
    write_file(folder, "src/hostile.c", hostile_source);
    write_file(folder, "long.c", long_source);
    write_file(folder, "../secret.c", secret_source);
#ifndef _WIN32
    snprintf(path, sizeof path, "%s/pipe.c", folder);
    unlink(path);
    CHECK_EQUAL(mkfifo(path, 0600), 0);
#endif
    return folder;
}

static void record_sites(void)
{
#line 10 "/home/somebody/src/hostile.c"
    { PROFILE_SCOPE("as it was recorded elsewhere"); }
#line 12 "C:\\work\\src\\hostile.c"
    { PROFILE_SCOPE("on Windows"); }
#line 29 "../src/hostile.c"
    { PROFILE_SCOPE("near the end"); }
#line 7999 "../long.c"
    { PROFILE_SCOPE("long lines"); }
#line 1 "src/../../secret.c"
    { PROFILE_SCOPE("not below the folder"); }
#line 1 "pipe.c"
    { PROFILE_SCOPE("no regular file"); }
#line 1 "src"
    { PROFILE_SCOPE("a folder"); }
#line 1 "nowhere/missing.c"
    { PROFILE_SCOPE("missing"); }
#line 20 "src/hostile.c"
    PROFILE_MARK("no scope");
#line 800 "tests/test_html.c"
}

static size_t count_of(const char *text)
{
    size_t count = 0;
    for (const char *at = lines.bytes; at && (at = strstr(at, text)) != NULL; at += strlen(text)) ++count;
    return count;
}

TEST(every_loss_is_in_the_report)
{
    static unsigned char bytes[1 << 17] __attribute__((aligned(64)));
    prof__header *header = (prof__header *)(void *)bytes;
    prof_config config;
    prof_trace *trace = NULL;
    trace_bytes m;
    memset(&config, 0, sizeof config);
    config.memory = bytes;
    config.memory_size = sizeof bytes;
    CHECK_EQUAL(prof_start(&config), PROF_OK);
    { PROFILE_SCOPE("a"); }
    CHECK_EQUAL(prof_stop(), PROF_OK);
    header->lost = 5;
    header->lost_busy = 2;
    header->write_failures = header->sites_lost = header->lost_args = 1;
    CHECK_EQUAL(prof_trace_open_memory(bytes, sizeof bytes, &trace), PROF_OK);
    CHECK_EQUAL(prof_html_stream(trace, sink_anew(&m), NULL), PROF_OK);
    account_of(&m);
    CHECK_EQUAL(count_of("loss="), 5);
    CHECK_EQUAL(count_of("loss=3 events lost in a full buffer"), 1);
    CHECK_EQUAL(count_of("loss=2 events lost in signal handlers"), 1);
    free(m.bytes);
    prof_trace_close(trace);
}

TEST(lines_of_source_are_there_on_demand)
{
    prof_trace *trace = recorded(record_sites, 1 << 20);
    prof_html_options options;
    trace_bytes m;
    memset(&options, 0, sizeof options);
    CHECK_EQUAL(prof_html_stream(trace, sink_anew(&m), &options), PROF_OK);
    CHECK_EQUAL(account_of(&m).blocks['X'], 0); /* never by default */
    free(m.bytes);
    options.sources = source_folder();
    CHECK_EQUAL(prof_html_stream(trace, sink_anew(&m), &options), PROF_OK);
    CHECK_EQUAL(account_of(&m).blocks['X'], 1);
    CHECK_EQUAL(account_of(&m).blocks['P'], 2);
    CHECK_EQUAL(count_of("hostile"), 13 + 13 + 6 - 2); /* 6 to 18, 8 to 20, 25 to 30; line 10 twice */
    CHECK_EQUAL(count_of("10:\t</script><b>\xFF 10 \n"), 2);
    CHECK(count_of("6:hostile 6\n") && !count_of("5:hostile 5\n") && count_of("18:hostile 18\n"));
    CHECK(count_of("25:hostile 25\n") && count_of("30:hostile 30\n") && !count_of("31:"));
    CHECK_EQUAL(count_of("\xC3\xA9\xE2\x80\xA6\n"), 6);
    CHECK_EQUAL(count_of("\xC3\xE2"), 0);
    CHECK(count_of("7995:a") && count_of("8000:a") && !count_of("7994:"));
    CHECK_EQUAL(count_of("secret"), 0);
    CHECK(count_of("sources_missing=4\nsources_limit=0\n"));
    free(m.bytes);
    options.sources = "tests/nowhere";
    CHECK_EQUAL(prof_html_stream(trace, sink_anew(&m), &options), PROF_OK);
    CHECK_EQUAL(account_of(&m).blocks['X'], 0);
    free(m.bytes);
    prof_trace_close(trace);
}

TEST(lines_of_source_are_limited)
{
    for (int many = 0; many < 2; ++many) {
        prof__html *h = (prof__html *)calloc(1, sizeof *h);
        trace_bytes m;
        prof__out_sink(&h->out, sink_anew(&m));
        h->options.sources = source_folder();
        for (uint32_t i = 0; i < (many ? 20000u : 400u); ++i)
            for (int twice = 0; twice < 2; ++twice)
                prof__html_source_add(h, many ? "missing.c" : "long.c", 0, many ? i + 1 : 5 + i * 15);
        CHECK_EQUAL(h->source_count, many ? 4096 : 400);
        CHECK_EQUAL(h->source_limit, many);
        prof__html_sources(h);
        CHECK_EQUAL(h->source_limit, 1);
        prof__html_piece_end(h);
        CHECK_EQUAL(prof__html_done(h), PROF_OK);
        CHECK_EQUAL(account_of(&m).blocks['P'], 1);
        CHECK(count_of(many ? "sources_missing=1\nsources_limit=1\n"
                            : "sources_missing=0\nsources_limit=1\n"));
        CHECK(many ? !count_of(":a") : lines.size > 1040000 && count_of(":a") <= (1 << 20) / 402);
        free(m.bytes);
    }
}

TEST(the_extension_selects_the_writer)
{
    const char *path = trace_path("output.html");
    char first[32] = "";
    prof_config config;
    memset(&config, 0, sizeof config);
    config.output = path;
    CHECK_EQUAL(prof_start(&config), PROF_OK);
    record_all();
    CHECK_EQUAL(prof_stop(), PROF_OK);
    FILE *file = fopen(path, "rb");
    CHECK(file != NULL);
    if (!file) return;
    CHECK(fgets(first, sizeof first, file) != NULL);
    CHECK_TEXT(first, "<!doctype html>\n");
    fclose(file);
}

TEST_MAIN
