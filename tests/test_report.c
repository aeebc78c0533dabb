/* test_report.c - the reports on images that are built word by word, so that every byte is known beforehand; and the
   figures of running sessions.

   A tick is a nanosecond, and tick 0 is time 0. */
/* run: check traces */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include <stdio.h>
#include <stdlib.h> /* declares the functions under their own names */
#define malloc test_malloc
#define calloc test_calloc
#define realloc test_realloc
#define fdopen test_fdopen /* which allocates in the C library */
void *test_malloc(size_t size);
void *test_calloc(size_t count, size_t size);
void *test_realloc(void *old, size_t size);
FILE *test_fdopen(int file, const char *mode);
#include "private.h"
#undef malloc
#undef calloc
#undef realloc
#undef fdopen
#include "test.h"
#include "trace.h"
#define START_TICK 0u
#define START_UNIX 1494576800000000000u /* 2017-05-12 08:13:20 UTC */
#include "image.h"
#include <dirent.h>
#include <locale.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

/*-- memory that can run out --*/

static __thread long allocations_left = -1; /* -1: any number */

static int may_allocate(void)
{
    if (allocations_left < 0) return 1;
    return allocations_left > 0 && allocations_left--;
}
void *test_malloc(size_t size) { return may_allocate() ? malloc(size) : NULL; }
void *test_calloc(size_t count, size_t size) { return may_allocate() ? calloc(count, size) : NULL; }
void *test_realloc(void *old, size_t size) { return may_allocate() ? realloc(old, size) : NULL; }
FILE *test_fdopen(int file, const char *mode)
{
    if (may_allocate()) return fdopen(file, mode);
    errno = ENOMEM;
    return NULL;
}

/*-- building images: each event is at the time to which the test has counted --*/

#define CHUNKS ((size_t)8) /* each holds what it holds for 1099 s */

static image report_image(uint32_t pid, const char *program)
{
    image im = image_new(16384, CHUNKS, 8192);
    im.header->pid = pid;
    im.header->resolution_ticks = 1;
    im.header->cost_ticks_x1000 = 0;
    strcpy(im.header->program, program);
    return im;
}

static uint32_t site_at(image *im, const char *name, const char *category, uint32_t kind, uint32_t line)
{
    return site_in(im, name, category, "", line, "", kind);
}
static uint32_t site_of(image *im, const char *name, const char *category)
{
    return site_at(im, name, category, PROF__KIND_BEGIN, 1);
}

/* From here on: this track, from this time on. */
static void track_at(image *im, size_t place, uint64_t id, uint64_t tick)
{
    chunk(im, place, place + 1, tick);
    im->now = tick;
    track_on(im, 0, id, place + 1, 100 + id);
}

static void put_now(image *im, unsigned kind, uint32_t id) { at_tick(im, kind, id, im->now); }
static void begin_now(image *im, uint32_t id) { begin(im, id, im->now); }
static void end_now(image *im, uint32_t id) { end(im, id, im->now); }

/* A scope, and as much time. */
static void scope(image *im, uint32_t id, uint64_t ns)
{
    begin_now(im, id);
    im->now += ns;
    end_now(im, id);
}
static void scopes(image *im, uint32_t id, size_t count, uint64_t ns)
{
    while (count--) scope(im, id, ns);
}
static void argument(image *im, uint32_t key, uint64_t value) { arg_word(im, key, PROF_VALUE_UINT, value); }
static void moved(image *im, uint32_t id, uint32_t key, uint64_t ns, uint64_t bytes)
{
    begin_now(im, id);
    argument(im, key, bytes);
    im->now += ns;
    end_now(im, id);
}
static void counter(image *im, uint32_t id, int64_t value)
{
    put_now(im, PROF__KIND_COUNTER_INT, id);
    put(im, (uint64_t)value);
}
static void real_counter(image *im, uint32_t id, double value)
{
    put_now(im, PROF__KIND_COUNTER_DOUBLE, id);
    put(im, bits(value));
}
static void object(image *im, uint32_t id, prof_event_type type, uint64_t number)
{
    put_now(im, PROF__KIND_EVENT, id);
    put(im, (uint64_t)type);
    put(im, number);
}

static prof_trace *report_read(image *im)
{
    im->header->last = pair_at(im->now);
    return image_read(im);
}

/*-- comparing reports --*/

static prof_report_options layout(prof_report_layout which)
{
    prof_report_options options;
    memset(&options, 0, sizeof options);
    options.layout = which;
    return options;
}

static void check_text(int line, const char *text, const char *expected)
{
    size_t at = 0;
    if (!strcmp(text, expected)) return;
    while (text[at] && text[at] == expected[at]) at++;
    ++test_failures;
    printf("%s:%d: differs at byte %lu: it is\n%s<end>\nand not\n%s<end>\n", __FILE__, line, (unsigned long)at, text, expected);
}

static void check_report(int line, const prof_trace *trace, prof_report_options options, const char *expected)
{
    char *text = NULL;
    size_t size = 0;
    CHECK_EQUAL(prof_report_text(trace, &options, &text, &size), PROF_OK);
    if (!text) return;
    CHECK_EQUAL(size, strlen(text));
    check_text(line, text, expected);
    prof_report_free(text);
}
#define CHECK_REPORT(trace, options, expected) check_report(__LINE__, trace, options, expected)

static char *text_of(const prof_trace *trace, prof_report_layout which)
{
    prof_report_options options = layout(which);
    char *text = NULL;
    CHECK_EQUAL(prof_report_text(trace, &options, &text, NULL), PROF_OK);
    return text;
}

static void check_has(int line, const char *text, const char *piece, int wanted)
{
    if (!text || !!strstr(text, piece) == wanted) return;
    ++test_failures;
    printf("%s:%d: \"%s\" is %sin\n%s\n", __FILE__, line, piece, wanted ? "not " : "", text);
}
#define CHECK_HAS(text, piece) check_has(__LINE__, text, piece, 1)
#define CHECK_HAS_NOT(text, piece) check_has(__LINE__, text, piece, 0)

/* Count of a row of the JSON report; 0: there is none. */
static long count_of(const char *json, const char *name)
{
    char key[64];
    const char *row;
    snprintf(key, sizeof key, "\"%s\":{\"Count\":", name);
    row = json ? strstr(json, key) : NULL;
    return row ? atol(row + strlen(key)) : 0;
}

static void utc(void)
{
    setenv("TZ", "UTC", 1);
    tzset();
}

/*-- CNTK --*/

#define CNTK_HEAD "CNTK Performance Profiler Summary Report\n\nTime Stamp: "
#define CNTK_COLUMNS                                                                                                \
    "\n\nDescription................ ............Mean ..........StdDev .............Min .............Max "          \
    "...........Count ...........Total\n\n"

static image cntk_image(void)
{
    image im = report_image(77, "synthetic");
    uint32_t epoch = site_of(&im, "Epoch", ""), batch = site_of(&im, "_Minibatch Iteration", "train");
    uint32_t again = site_at(&im, "_Minibatch Iteration", "other", PROF__KIND_BEGIN, 2);
    uint32_t get = site_of(&im, "__Get Minibatch", ""), prefetch = site_of(&im, "Prefetch Minibatch", "");
    uint32_t own = site_of(&im, "my \"own\" event", "");
    track_at(&im, 0, 1, 0);
    scope(&im, epoch, 136600000000);
    /* their sums, sums of squares, least and greatest are those of the sample, to the last digit that it shows */
    scope(&im, batch, 855775000);
    scopes(&im, again, 832, 118404092);
    scopes(&im, batch, 88, 223606183);
    scope(&im, batch, 118394000);
    scopes(&im, again, 78, 223606184);
    scope(&im, get, 777000);
    scopes(&im, get, 331, 43010);
    scopes(&im, get, 125, 58444);
    scopes(&im, get, 542, 58445);
    scope(&im, get, 43000);
    track_at(&im, 1, 2, 0);
    scope(&im, prefetch, 45594000);
    scope(&im, prefetch, 569000);
    scopes(&im, prefetch, 666, 569118);
    scopes(&im, prefetch, 284, 840977);
    scopes(&im, prefetch, 48, 840978);
    scope(&im, own, 1500);
    return im;
}

#define CNTK_SAMPLE                                                                                                  \
    "Main Thread\n\n"                                                                                                \
    "Epoch                     :     00:02:16.600         0.000 ms     00:02:16.600     00:02:16.600                1     00:02:16.600\n" \
    "_Minibatch Iteration      :       136.605 ms        45.273 ms       118.394 ms       855.775 ms             1000     00:02:16.605\n" \
    "__Get Minibatch           :         0.054 ms         0.024 ms         0.043 ms         0.777 ms             1000        54.039 ms\n" \
    "\nData Reader\n\n"                                                                                              \
    "Prefetch Minibatch        :         0.704 ms         1.426 ms         0.569 ms        45.594 ms             1000       704.400 ms\n"

TEST(cntk_summary)
{
    image im = cntk_image();
    prof_trace *trace = report_read(&im);
    prof_report_options options = layout(PROF_REPORT_CNTK);
    utc();
    CHECK_REPORT(trace, options, CNTK_HEAD "2017/05/12 08:17:53" CNTK_COLUMNS CNTK_SAMPLE);
    options.others = 1;
    CHECK_REPORT(trace, options,
                 CNTK_HEAD "2017/05/12 08:17:53" CNTK_COLUMNS CNTK_SAMPLE "\nOther Events\n\n"
                 "my \"own\" event            :         0.002 ms         0.000 ms         0.002 ms         0.002 ms                1         0.002 ms\n");
    prof_trace_close(trace);
}

/* Of a duration, in the columns Min, Max and Total. */
TEST(cntk_times)
{
    static const struct {
        uint64_t ns;
        const char *text;
    } times[] = {{0, "        0.000 ms"},
                 {499, "        0.000 ms"},
                 {500, "        0.001 ms"},
                 {1000000, "        1.000 ms"},
                 {59999999000, "    59999.999 ms"},
                 {59999999999, "    60000.000 ms"}, /* not yet a minute */
                 {60000000000, "    00:01:00.000"},
                 {119999499999, "    00:01:59.999"},
                 {119999500000, "    00:02:00.000"}, /* and not 00:01:60.000 */
                 {3599999600000, "    01:00:00.000"},
                 {3600000000000, "    01:00:00.000"},
                 {359999999000000, "    99:59:59.999"},
                 {360000001000000, "    100:00:00.001"}};
    for (size_t i = 0; i < sizeof times / sizeof *times; ++i) {
        image im = report_image(77, "synthetic");
        uint32_t epoch = site_of(&im, "Epoch", "");
        char *text, expected[256];
        track_at(&im, 0, 1, 0);
        begin_now(&im, epoch);
        if (times[i].ns >> 39) { /* the end is on another chunk */
            track_at(&im, 1, 1, times[i].ns);
            end_now(&im, epoch);
        } else {
            im.now += times[i].ns;
            end_now(&im, epoch);
        }
        prof_trace *trace = report_read(&im);
        text = text_of(trace, PROF_REPORT_CNTK);
        snprintf(expected, sizeof expected, "\nEpoch                     : %s         0.000 ms %s %s                1 %s\n",
                 times[i].text, times[i].text, times[i].text, times[i].text);
        CHECK_HAS(text, expected);
        prof_report_free(text);
        prof_trace_close(trace);
    }
}

TEST(cntk_throughput)
{
    static const prof_report_event events[] = {{"Transfers", PROF_REPORT_SEPARATOR, NULL},
                                               {"To the device", PROF_REPORT_THROUGHPUT, "upload"},
                                               {"upload", PROF_REPORT_TIME, NULL},
                                               {"download", PROF_REPORT_THROUGHPUT, NULL},
                                               {"never", PROF_REPORT_THROUGHPUT, NULL},
                                               {"never", PROF_REPORT_TIME, NULL}};
    image im = report_image(77, "synthetic");
    uint32_t kind = PROF__KIND_BEGIN | PROF_ROLE_THROUGHPUT << PROF__ROLE_SHIFT;
    uint32_t up = site_at(&im, "upload", "", kind, 1), down = site_at(&im, "download", "", kind, 1);
    uint32_t bytes = site_at(&im, "bytes", "", PROF__KIND_ARG, 1);
    prof_report_options options = layout(PROF_REPORT_CNTK);
    prof_trace *trace;
    track_at(&im, 0, 1, 0);
    moved(&im, up, bytes, 1000000, 2000000);   /* 2000 MB/s */
    moved(&im, up, bytes, 2000000, 2000000);   /* 1000 */
    moved(&im, down, bytes, 1000000000, 1023); /* 0.001023 */
    moved(&im, down, bytes, 0, 1);             /* no rate */
    trace = report_read(&im);
    utc();
    options.events = events;
    options.event_count = sizeof events / sizeof *events;
    CHECK_REPORT(trace, options,
                 CNTK_HEAD "2017/05/12 08:13:21" CNTK_COLUMNS "Transfers\n"
                 "To the device             :    1500.000 MBps     500.000 MBps    1000.000 MBps    2000.000 MBps                2             3 MB\n"
                 "upload                    :         1.500 ms         0.500 ms         1.000 ms         2.000 ms                2         3.000 ms\n"
                 "download                  :       0.001 MBps       0.000 MBps       0.001 MBps       0.001 MBps                1             1 kB\n");
    options.event_count = 0;
    options.others = 1;
    CHECK_REPORT(trace, options,
                 CNTK_HEAD "2017/05/12 08:13:21" CNTK_COLUMNS "\nOther Events\n\n"
                 "download                  :       0.001 MBps       0.000 MBps       0.001 MBps       0.001 MBps                1             1 kB\n"
                 "upload                    :    1500.000 MBps     500.000 MBps    1000.000 MBps    2000.000 MBps                2             3 MB\n");
    prof_trace_close(trace);
}

TEST(cntk_detail)
{
    image im = report_image(77, "synthetic");
    uint32_t a = site_of(&im, "__Get Minibatch", ""), b = site_of(&im, "say \"a,b\"\nc", ""), open = site_of(&im, "open", "");
    uint32_t task = site_at(&im, "task", "", PROF__KIND_EVENT, 1);
    prof_trace *trace;
    track_at(&im, 0, 1, 123456);
    begin_now(&im, open);
    begin_now(&im, a);
    im.now += 10;
    begin_now(&im, b);
    object(&im, task, PROF_EVENT_SPAN_BEGIN, 5);
    object(&im, task, PROF_EVENT_SPAN_BEGIN, 6);
    im.now += 90;
    end_now(&im, b);
    end_now(&im, a); /* both end now */
    scope(&im, a, 0);
    put(&im, head(PROF__KIND_LOST, 0, 7));
    scope(&im, a, 1000);
    track_at(&im, 1, 2, 123500);
    scope(&im, a, 6); /* ends before what the other track began earlier */
    object(&im, task, PROF_EVENT_SPAN_END, 9);
    object(&im, task, PROF_EVENT_SPAN_END, 5);
    im.now = 124556;
    im.header->write_failures = 2;
    trace = report_read(&im);
    CHECK_REPORT(trace, layout(PROF_REPORT_CNTK_DETAIL),
                 "EventDescription,ThreadId,BeginTimeStamp(ms),EndTimeStamp(ms)\n"
                 "\"__Get Minibatch\",102,1494576800000.12350000,1494576800000.12350600\n"
                 "\"task\",102,1494576800000.12346600,1494576800000.12350600\n"
                 "\"say \"\"a,b\"\"\nc\",101,1494576800000.12346600,1494576800000.12355600\n"
                 "\"__Get Minibatch\",101,1494576800000.12345600,1494576800000.12355600\n"
                 "\"__Get Minibatch\",101,1494576800000.12355600,1494576800000.12355600\n"
                 "\"(7 events lost)\",101,1494576800000.12355600,1494576800000.12355600\n"
                 "\"__Get Minibatch\",101,1494576800000.12355600,1494576800000.12455600\n"
                 "\"(3 scopes or spans without begin or end)\",0,1494576800000.12455600,1494576800000.12455600\n"
                 "\"(2 writes failed while recording)\",0,1494576800000.12455600,1494576800000.12455600\n");
    prof_trace_close(trace);
}

static int files_in(const char *folder, char names[8][300])
{
    DIR *dir = opendir(folder);
    struct dirent *entry;
    int count = 0;
    while (dir && (entry = readdir(dir)))
        if (entry->d_name[0] != '.' && count < 8) snprintf(names[count++], 300, "%s", entry->d_name);
    if (dir) closedir(dir);
    for (int i = 0; i < count; ++i)
        for (int k = i + 1; k < count; ++k)
            if (strcmp(names[i], names[k]) > 0) {
                char swap[300];
                memcpy(swap, names[i], 300);
                memcpy(names[i], names[k], 300);
                memcpy(names[k], swap, 300);
            }
    return count;
}

TEST(cntk_files)
{
    static const char *const expected[] = {"2017-05-12_08-17-53_detail_3.csv",     "2017-05-12_08-17-53_detail_77.csv",
                                           "2017-05-12_08-17-53_detail_77_77.csv", "2017-05-12_08-17-53_detail_77_77_2.csv",
                                           "2017-05-12_08-17-53_summary_3.txt",    "2017-05-12_08-17-53_summary_77.txt",
                                           "2017-05-12_08-17-53_summary_77_77.txt", "2017-05-12_08-17-53_summary_77_77_2.txt"};
    const char *folder = trace_path("cntk");
    char names[8][300], path[3000], *text;
    image im = cntk_image();
    prof_trace *trace = report_read(&im);
    int count;
    utc();
    if (system("rm -rf " TRACE_FOLDER "/cntk")) exit(1);
    CHECK_EQUAL(prof_report_cntk(trace, folder, "3", NULL), PROF_OK);
    CHECK_EQUAL(prof_report_cntk(trace, folder, "", NULL), PROF_OK); /* never empty */
    CHECK_EQUAL(prof_report_cntk(trace, folder, NULL, NULL), PROF_OK); /* never replaced */
    CHECK_EQUAL(prof_report_cntk(trace, folder, NULL, NULL), PROF_OK);
    count = files_in(folder, names);
    CHECK_EQUAL(count, 8);
    for (int i = 0; i < count; ++i) CHECK_TEXT(names[i], expected[i]);
    for (int i = 0; i < count; ++i) {
        size_t size = 0;
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        text = trace_file_text(path, &size);
        if (strstr(path, "summary")) {
            check_text(__LINE__, text, CNTK_HEAD "2017/05/12 08:17:53" CNTK_COLUMNS CNTK_SAMPLE);
        } else {
            size_t lines = 0;
            for (size_t k = 0; k < size; ++k) lines += text[k] == '\n';
            CHECK_EQUAL(lines, 1 + 1 + 1000 + 1000 + 1000 + 1);
        }
        free(text);
    }
    CHECK_EQUAL(prof_report_cntk(trace, folder, "%r", NULL), PROF_OK); /* of no rank */
    CHECK_EQUAL(prof_report_cntk(trace, folder, "a%%%p", NULL), PROF_OK);
    CHECK_EQUAL(access(trace_path("cntk/2017-05-12_08-17-53_summary_0.txt"), F_OK), 0);
    CHECK_EQUAL(access(trace_path("cntk/2017-05-12_08-17-53_detail_a%77.csv"), F_OK), 0);
    CHECK_EQUAL(prof_report_cntk(trace, folder, "%x", NULL), PROF_INVALID_ARGUMENT);
    CHECK_HAS(prof_error(), "use %r, %p or %%");
    CHECK_EQUAL(prof_report_cntk(trace, folder, "3%", NULL), PROF_INVALID_ARGUMENT);
    CHECK_EQUAL(prof_report_cntk(trace, "/dev/null/no/such", "3", NULL), PROF_IO);
    CHECK_HAS(prof_error(), "cannot make the directory /dev/null/no/such");
    CHECK_EQUAL(prof_report_cntk(trace, folder, "../3", NULL), PROF_INVALID_ARGUMENT);
    CHECK_EQUAL(prof_report_cntk(NULL, folder, "3", NULL), PROF_INVALID_ARGUMENT);
    prof_trace_close(trace);
}

/* CNTK's fixed events, as a program of several ranks would have them. */
static void cntk_epoch(void)
{
    PROFILE_SCOPE("Epoch");
    for (int i = 0; i < 5; ++i) {
        PROFILE_STEP("_Minibatch Iteration", i);
        PROFILE_SCOPE("__Get Minibatch");
    }
}

static prof_status cntk_session(const char *output, const char *layout, const char *rank, prof_mode mode)
{
    prof_config config = trace_config(1 << 20);
    config.output = output;
    config.layout = layout;
    config.rank = rank;
    config.mode = mode;
    prof_status status = prof_start(&config);
    if (status) return status;
    cntk_epoch();
    return prof_stop();
}

/* The text of the file whose name ends so, to be freed. Null: there is none. */
static char *text_ending(const char *folder, const char *ending)
{
    char names[8][300], path[3000];
    int count = files_in(folder, names);
    for (int i = 0; i < count && i < 8; ++i) {
        size_t n = strlen(names[i]), m = strlen(ending);
        if (n < m || strcmp(names[i] + n - m, ending)) continue;
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        return trace_file_text(path, NULL);
    }
    return NULL;
}

TEST(layouts_of_outputs)
{
    char names[8][300], *text;
    const char *folder = trace_path("layouts/profiler/");
    static const prof_mode modes[] = {PROF_RING, PROF_FILL, PROF_STREAM, PROF_STATS};
    for (int i = 0; i < 4; ++i) {
        if (system("rm -rf " TRACE_FOLDER "/layouts")) exit(1);
        CHECK_EQUAL(cntk_session(folder, "cntk", "7", modes[i]), PROF_OK);
        CHECK_EQUAL(files_in(folder, names), modes[i] == PROF_STATS ? 1 : 2);
        text = text_ending(folder, "_summary_7.txt"); /* the rank by itself */
        CHECK_HAS(text, "CNTK Performance Profiler Summary Report");
        CHECK_HAS(text, "\n_Minibatch Iteration      : ");
        free(text);
        text = text_ending(folder, "_detail_7.csv");
        CHECK(modes[i] == PROF_STATS ? !text : text && strstr(text, "\"__Get Minibatch\","));
        free(text);
    }
    if (system("rm -rf " TRACE_FOLDER "/layouts")) exit(1);
    CHECK_EQUAL(cntk_session(trace_path("layouts/a.txt"), "cntk", NULL, PROF_RING), PROF_OK);
    CHECK_EQUAL(cntk_session(trace_path("layouts/b.any"), "mxnet", NULL, PROF_STATS), PROF_OK);
    CHECK_EQUAL(cntk_session(trace_path("layouts/c.json"), "json", NULL, PROF_RING), PROF_OK);
    CHECK_EQUAL(cntk_session(trace_path("layouts/d.csv"), "cntk-detail", NULL, PROF_RING), PROF_OK);
    folder = trace_path("layouts");
    CHECK_HAS(text = text_ending(folder, "a.txt"), "CNTK Performance Profiler Summary Report");
    free(text);
    CHECK_HAS(text = text_ending(folder, "b.any"), "Profile Statistics:");
    free(text);
    CHECK_HAS(text = text_ending(folder, "c.json"), "\"_Minibatch Iteration\"");
    free(text);
    CHECK_HAS(text = text_ending(folder, "d.csv"), "EventDescription,ThreadId");
    free(text);
}

TEST(layouts_that_cannot_be)
{
    static const struct {
        const char *output, *layout;
        prof_mode mode;
        const char *words;
    } all[] = {{"layouts/x.txt", "ctnk", PROF_RING, "unknown layout 'ctnk': use paths, domains, histogram, json, mxnet, cntk, cntk-detail"},
               {"layouts/", "mxnet", PROF_RING, "layout 'mxnet': is one file, but "},
               {"layouts/x.prof", "cntk", PROF_RING, "is the recording itself"},
               {"layouts/x.csv", "cntk-detail", PROF_STATS, "mode stats keeps statistics and no events"},
               {NULL, "cntk", PROF_RING, "layout 'cntk': needs an output"}};
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i) {
        const char *output = all[i].output ? trace_path(all[i].output) : NULL;
        CHECK_EQUAL(cntk_session(output, all[i].layout, NULL, all[i].mode), PROF_INVALID_ARGUMENT);
        CHECK_HAS(prof_error(), all[i].words);
        CHECK_EQUAL(prof_enabled(), 0);
    }
}

/*-- MXNet --*/

#define MXNET_HEAD "\nProfile Statistics:\n\tNote the difference in units for different entries.\n"
#define MXNET_TIME                                                                                                   \
    "=================\n"                                                                                            \
    "Name                          Total Count        Time (ms)    Min Time (ms)    Max Time (ms)    Avg Time (ms)\n" \
    "----                          -----------        ---------    -------------    -------------    -------------\n"
#define MXNET_MEMORY                                                                                                 \
    "=================\n"                                                                                            \
    "Name                          Total Count    Min Use  (kB)    Max Use  (kB)    Avg Use  (kB)\n"                 \
    "----                          -----------    -------------    -------------    -------------\n"

TEST(mxnet_table)
{
    image im = report_image(77, "synthetic");
    uint32_t root = site_of(&im, "sqrt", "operator"), same = site_at(&im, "sqrt", "operator", PROF__KIND_BEGIN, 2);
    uint32_t cpu = site_at(&im, "Memory: cpu/0", "Device Storage", PROF__KIND_COUNTER_INT, 1);
    prof_trace *trace;
    track_at(&im, 0, 1, 0);
    scope(&im, root, 500000);
    scope(&im, same, 734000);
    counter(&im, cpu, 500);
    counter(&im, cpu, 734);
    trace = report_read(&im);
    CHECK_REPORT(trace, layout(PROF_REPORT_MXNET),
                 MXNET_HEAD "Device Storage\n" MXNET_MEMORY
                 "Memory: cpu/0                           2           0.5000           0.7340           0.6170\n\n"
                 "operator\n" MXNET_TIME
                 "sqrt                                    2           1.2340           0.5000           0.7340           0.6170\n\n");
    prof_trace_close(trace);
}

static prof_trace *mixed_trace(void)
{
    image im = report_image(77, "synthetic");
    uint32_t event = site_of(&im, "event without a domain", ""), exact = site_of(&im, "exactly twenty-five bytes", "");
    uint32_t longer = site_of(&im, "longer than twenty-five bytes", "");
    uint32_t calls = site_at(&im, "MXNet C API Calls", "MXNET_C_API", PROF__KIND_COUNTER_INT, 1);
    uint32_t real = site_at(&im, "temperature", "MXNET_C_API", PROF__KIND_COUNTER_DOUBLE, 1);
    uint32_t in_pool = site_of(&im, "cleaning", "Pool Memory");
    uint32_t pool = site_at(&im, "pool", "Pool Memory", PROF__KIND_COUNTER_INT, 1);
    uint32_t frame = site_at(&im, "tick", "physics", PROF__KIND_FRAME, 1);
    uint32_t task = site_at(&im, "load", "io", PROF__KIND_EVENT, 1);
    track_at(&im, 0, 1, 0);
    scope(&im, event, 50);
    scope(&im, exact, 149);
    scope(&im, longer, 123456789);
    counter(&im, calls, 3000000000);
    counter(&im, calls, 3000000006);
    counter(&im, calls, 3000000003);
    real_counter(&im, real, -1.25);
    real_counter(&im, real, 0.5);
    scope(&im, in_pool, 1000);
    counter(&im, pool, 1500000);
    put_now(&im, PROF__KIND_FRAME, frame);
    im.now += 16000000;
    put_now(&im, PROF__KIND_FRAME, frame);
    im.now += 17000000;
    put_now(&im, PROF__KIND_FRAME, frame);
    object(&im, task, PROF_EVENT_SPAN_BEGIN, 1);
    object(&im, task, PROF_EVENT_SPAN_BEGIN, 2); /* never ends */
    im.now += 5000000;
    track_at(&im, 1, 2, im.now);
    object(&im, task, PROF_EVENT_SPAN_END, 1);
    object(&im, task, PROF_EVENT_SPAN_END, 3); /* never began */
    return report_read(&im);
}

TEST(mxnet_everything)
{
    prof_trace *trace = mixed_trace();
    CHECK_REPORT(trace, layout(PROF_REPORT_MXNET),
                 MXNET_HEAD "MXNET_C_API\n" MXNET_TIME
                 "MXNet C API Calls                       3  3000000003.0000  3000000000.0000  3000000006.0000  3000000003.0000\n"
                 "temperature                             2           0.5000          -1.2500           0.5000          -0.3750\n\n"
                 "Pool Memory\n" MXNET_MEMORY
                 "pool                                    1        1500.0000        1500.0000        1500.0000\n\n"
                 "Pool Memory\n" MXNET_TIME
                 "cleaning                                1           0.0010           0.0010           0.0010           0.0010\n\n"
                 "event\n" MXNET_TIME
                 "longer than twenty-five bytes               1         123.4568         123.4568         123.4568         123.4568\n"
                 "exactly twenty-five bytes               1           0.0001           0.0001           0.0001           0.0001\n"
                 "event without a domain                  1           0.0000           0.0000           0.0000           0.0000\n\n" /* 0.00005f */
                 "io\n" MXNET_TIME
                 "load                                    1           5.0000           5.0000           5.0000           5.0000\n\n"
                 "physics,frame\n" MXNET_TIME
                 "tick                                    2          33.0000          16.0000          17.0000          16.5000\n\n");
    prof_trace_close(trace);
}

/* The latest in time, whichever call site or thread had it. */
TEST(last_values)
{
    image im = report_image(77, "synthetic");
    uint32_t a = site_at(&im, "memory", "", PROF__KIND_COUNTER_INT, 1);
    uint32_t b = site_at(&im, "memory", "", PROF__KIND_COUNTER_INT, 2);
    uint32_t c = site_at(&im, "load", "", PROF__KIND_COUNTER_INT, 3);
    prof_trace *trace;
    char *text;
    track_at(&im, 0, 1, 0);
    counter(&im, a, 10);
    im.now++;
    counter(&im, b, 20);
    im.now++;
    counter(&im, a, 30);
    im.now = 100;
    counter(&im, c, 7);
    track_at(&im, 1, 2, 50);
    counter(&im, c, 5);
    im.now = 100;
    trace = report_read(&im);
    text = text_of(trace, PROF_REPORT_JSON);
    CHECK_HAS(text, "\"memory\":{\"Count\":3,\"Min\":10,\"Max\":30,\"Avg\":20,\"Last\":30,");
    CHECK_HAS(text, "\"load\":{\"Count\":2,\"Min\":5,\"Max\":7,\"Avg\":6,\"Last\":7,");
    prof_report_free(text);
    prof_trace_close(trace);
}

/* The names of the rows, in their order. */
static void check_order(int line, const prof_trace *trace, prof_sort sort, int ascending, const char *expected)
{
    prof_report_options options = layout(PROF_REPORT_MXNET);
    char *text = NULL, *row, names[256] = "";
    options.sort = sort;
    options.ascending = ascending;
    CHECK_EQUAL(prof_report_text(trace, &options, &text, NULL), PROF_OK);
    for (row = text ? strstr(text, "----   ") : NULL; row && (row = strchr(row, '\n')) && row[1] != '\n'; row++)
        strncat(names, row + 1, strcspn(row + 1, " "));
    check_text(line, names, expected);
    prof_report_free(text);
}
#define CHECK_ORDER(sort, ascending, expected) check_order(__LINE__, trace, sort, ascending, expected)

/* What is no number is in order, too: below all. */
TEST(sorting_of_no_numbers)
{
    static const char *const names[] = {"a", "b", "c"};
    image im = report_image(77, "synthetic");
    prof_trace *trace;
    track_at(&im, 0, 1, 0);
    for (uint32_t i = 0; i < 3; ++i) {
        uint32_t of = site_at(&im, names[i], "x", PROF__KIND_COUNTER_DOUBLE, i);
        real_counter(&im, of, i == 1 ? strtod("nan", NULL) : i + 1);
    }
    trace = report_read(&im);
    CHECK_ORDER(PROF_SORT_TOTAL, 0, "cab");
    CHECK_ORDER(PROF_SORT_MEAN, 1, "bac");
    CHECK_ORDER(PROF_SORT_MIN, 0, "cab");
    CHECK_ORDER(PROF_SORT_MAX, 1, "bac");
    prof_trace_close(trace);
}

/* "event" is where MXNet has what is of no category: no key of the JSON may come twice. */
TEST(json_keys)
{
    image im = report_image(77, "synthetic");
    uint32_t bare = site_of(&im, "x", ""), event = site_of(&im, "x", "event");
    prof_trace *trace;
    char *text;
    track_at(&im, 0, 1, 0);
    scope(&im, bare, 10);
    scope(&im, event, 20);
    trace = report_read(&im);
    text = text_of(trace, PROF_REPORT_JSON);
    CHECK_EQUAL(count_of(text, "x"), 2);
    prof_report_free(text);
    prof_trace_close(trace);
}

TEST(mxnet_sorting)
{
    image im = report_image(77, "synthetic");
    uint32_t a = site_of(&im, "a", "x"), b = site_of(&im, "b", "x"), c = site_of(&im, "c", "x"), d = site_of(&im, "d", "x");
    prof_trace *trace;
    track_at(&im, 0, 1, 0);
    scopes(&im, a, 3, 10);  /* total 30, avg 10, min 10, max 10, count 3 */
    scope(&im, b, 25);      /*       25,     25,     25,     25,       1 */
    scope(&im, c, 2);       /*       32,     16,      2,     30,       2 */
    scope(&im, c, 30);
    scope(&im, d, 25);      /* as b */
    trace = report_read(&im);
    CHECK_ORDER(PROF_SORT_TOTAL, 0, "cadb");
    CHECK_ORDER(PROF_SORT_TOTAL, 1, "dbac");
    CHECK_ORDER(PROF_SORT_MEAN, 0, "dbca");
    CHECK_ORDER(PROF_SORT_MEAN, 1, "acdb");
    CHECK_ORDER(PROF_SORT_MIN, 0, "dbac");
    CHECK_ORDER(PROF_SORT_MIN, 1, "cadb");
    CHECK_ORDER(PROF_SORT_MAX, 0, "cdba");
    CHECK_ORDER(PROF_SORT_MAX, 1, "adbc");
    CHECK_ORDER(PROF_SORT_CALLS, 0, "acdb");
    CHECK_ORDER(PROF_SORT_CALLS, 1, "dbca");
    CHECK_ORDER(PROF_SORT_NAME, 0, "abcd");
    prof_trace_close(trace);
}

/*-- JSON --*/

TEST(json)
{
    image im = report_image(77, "synthetic");
    uint32_t a = site_of(&im, "a", "x"), same = site_at(&im, "a", "x", PROF__KIND_BEGIN, 2), cut = site_of(&im, "cut", "");
    uint32_t memory = site_at(&im, "m", "Pool Memory", PROF__KIND_COUNTER_INT, 1);
    uint32_t value = site_at(&im, "v", "x", PROF__KIND_COUNTER_DOUBLE, 1);
    prof_trace *trace;
    track_at(&im, 0, 1, 0);
    begin_now(&im, a);
    im.now += 12345678901;
    scope(&im, same, 1);
    end_now(&im, a);
    counter(&im, memory, 1500);
    real_counter(&im, value, 0.25);
    real_counter(&im, value, 0.75);
    begin_now(&im, cut);
    trace = report_read(&im);
    CHECK_REPORT(trace, layout(PROF_REPORT_JSON),
                 "{\"Time\":{\n\"event\":{\n\"cut\":{\"Count\":0,\"Truncated\":1}},\n"
                 "\"x\":{\n\"a\":{\"Count\":2,\"Total\":12345.678903,\"Min\":0.000001,\"Max\":12345.678902,"
                 "\"Avg\":6172.8394515,\"StdDev\":6172.8394505,\"Self\":12345.678902,"
                 "\"P50\":0.000001,\"P90\":12280.922111,\"P99\":12280.922111,\"P99.9\":12280.922111}}},\n"
                 "\"Memory\":{\n\"Pool Memory\":{\n\"m\":{\"Count\":1,\"Min\":1.5,\"Max\":1.5,\"Avg\":1.5,\"Last\":1.5,"
                 "\"StdDev\":0}}},\n"
                 "\"Counter\":{\n\"x\":{\n\"v\":{\"Count\":2,\"Min\":0.25,\"Max\":0.75,\"Avg\":0.5,\"Last\":0.75,\"StdDev\":0.25}}},\n"
                 "\"Unit\":{\"Time\":\"ms\",\"Memory\":\"kB\"},\n"
                 "\"Process\":{\"Program\":\"synthetic\",\"Pid\":77,\"StartUnixNs\":1494576800000000000,"
                 "\"Duration\":12345.678902,\"Complete\":true},\n"
                 "\"Losses\":{\"Events\":0,\"Arguments\":0,\"InHandlers\":0,\"OverwrittenChunks\":0,\"UnmatchedEnds\":0,\"CallSites\":0,\"MissingParts\":0,"
                 "\"FailedWrites\":0}}\n");
    prof_trace_close(trace);
}

static prof_trace *hostile_trace(const char *const *names, size_t count)
{
    image im = report_image(77, "a \"program\"\\");
    uint32_t sites[16];
    for (size_t i = 0; i < count; ++i) sites[i] = site_of(&im, names[i], names[count - 1 - i]);
    track_at(&im, 0, 1, 0);
    for (size_t i = 0; i < count; ++i) scope(&im, sites[i], 1000 + i);
    im.header->lost = 5;
    im.header->lost_args = 7;
    im.header->overwritten = 2;
    return report_read(&im);
}

TEST(hostile_names)
{
    char all[256], many[301];
    const char *const names[] = {all, many, "\"", "\\", "\xFF\xC3(\xED\xA0\x80 no UTF-8", "gr\xC3\xBC\xC3\x9F Gott \xF0\x9F\x98\x80",
                                 "</script>", "\x1B[31mred", "%s%n%d", "a,b\r\nc", "\xC2\x85 control of two bytes"};
    const size_t count = sizeof names / sizeof *names;
    for (int i = 0; i < 255; ++i) all[i] = (char)(i + 1);
    all[127] = 'x'; /* what is from 128 on is not UTF-8 */
    all[255] = 0;
    memset(many, 'x', 300);
    many[300] = 0;
    prof_trace *trace = hostile_trace(names, count);
    for (int i = 0; i < PROF_REPORT_LAYOUT_COUNT; ++i) {
        char *text = text_of(trace, (prof_report_layout)i);
        if (i != PROF_REPORT_CNTK_DETAIL) CHECK_HAS_NOT(text, "\x1B"); /* which is CSV, as it is */
        if (i != PROF_REPORT_JSON) CHECK_HAS(text, "5 events lost");
        else CHECK_HAS(text, "\"Losses\":{\"Events\":5,\"Arguments\":7,\"InHandlers\":0,\"OverwrittenChunks\":2,");
        if (i != PROF_REPORT_JSON) CHECK_HAS(text, "7 arguments lost");
        if (i != PROF_REPORT_JSON) CHECK_HAS(text, "2 older chunks overwritten");
        if (i == PROF_REPORT_JSON || i == PROF_REPORT_MXNET || i == PROF_REPORT_HISTOGRAM) CHECK_HAS(text, many);
        prof_report_free(text);
    }
    prof_trace_close(trace);
}

/* Python's own reader finds the names and the numbers. */
TEST(json_in_python)
{
    const char *const names[] = {"plain", "a \"quoted\" name", "back\\slash\\", "\x01\x1F\x7F\t\n", "gr\xC3\xBC\xC3\x9F \xF0\x9F\x98\x80",
                                 "\xFF", "\xED\xA0\x80", "\xE2\x82z", "", "</script>"};
    static const char script[] =
        "import json, decimal\n"
        "d = json.load(open('" TRACE_FOLDER "/report.json', encoding='utf-8'), parse_float=decimal.Decimal)\n"
        "names = ['plain', 'a \"quoted\" name', 'back\\\\slash\\\\', '\\x01\\x1f\\x7f\\t\\n', 'gr\\u00fc\\u00df \\U0001f600',\n"
        "         '\\ufffd', '\\ufffd\\ufffd\\ufffd', '\\ufffdz', '', '</script>']\n"
        "for i, name in enumerate(names):\n"
        "    row = d['Time'][names[len(names) - 1 - i] or 'event'][name]\n"
        "    assert row['Total'] == row['Min'] == row['P99'] == decimal.Decimal(1000 + i) / 1000000, row\n"
        "    assert row['Count'] == 1\n"
        "assert d['Losses']['Events'] == 5 and d['Process']['Program'] == 'a \"program\"\\\\'\n"
        "assert d['Unit'] == {'Time': 'ms', 'Memory': 'kB'} and d['Memory'] == {} and d['Counter'] == {}\n"
        "e = json.load(open('" TRACE_FOLDER "/reports.json', encoding='utf-8'))['Processes']\n"
        "assert [p['Process']['Pid'] for p in e] == [77, 1000000001] and e[0]['Time'] == e[1]['Time']\n";
    prof_trace *trace = hostile_trace(names, sizeof names / sizeof *names);
    const prof_trace *both[2];
    prof_report_options options = layout(PROF_REPORT_JSON);
    both[0] = both[1] = trace;
    CHECK_EQUAL(prof_report_write(trace, trace_path("report.json"), &options), PROF_OK);
    CHECK_EQUAL(prof_report_each(both, 2, trace_path("reports.json"), &options), PROF_OK);
    trace_write_file(trace_path("report.py"), script, sizeof script - 1);
    prof_trace_close(trace);
    if (system("python3 -c 'import json' >/dev/null 2>&1")) SKIP("no python3");
    CHECK_EQUAL(system("python3 " TRACE_FOLDER "/report.py"), 0);
}

/*-- domains and histograms --*/

TEST(domains)
{
    image im = report_image(77, "synthetic");
    uint32_t outer = site_of(&im, "outer", "gfx"), inner = site_of(&im, "inner", "gfx"), net = site_of(&im, "net", "net");
    uint32_t plain = site_of(&im, "plain", "");
    prof_trace *trace;
    track_at(&im, 0, 1, 0);
    begin_now(&im, outer);
    scope(&im, inner, 100); /* in one of its own domain: counted once */
    begin_now(&im, net);
    scope(&im, inner, 50); /* the same, with another between them */
    im.now += 10;
    end_now(&im, net);
    im.now += 40;
    end_now(&im, outer);
    begin_now(&im, plain); /* has no end, but what is in it has */
    scope(&im, plain, 7);
    trace = report_read(&im);
    CHECK_REPORT(trace, layout(PROF_REPORT_DOMAINS),
                 "domain         calls      total       self  % of self    longest  truncated\n"
                 "gfx                3     200 ns     190 ns     91.8 %     200 ns          0\n"
                 "net                1      60 ns      10 ns      4.8 %      60 ns          0\n"
                 "(none)             2       7 ns       7 ns      3.4 %       7 ns          1\n");
    prof_trace_close(trace);
}

static int keep_text(void *user, const void *data, size_t size)
{
    strncat((char *)user, (const char *)data, size);
    return 0;
}

static void deep_scopes(int depth)
{
    PROFILE_SCOPE_C("even", "first");
    PROFILE_SCOPE_C("odd", "second");
    if (depth) deep_scopes(depth - 1);
}

/* Deep scopes of two categories in turn: the total of each is that of its outermost scope. */
TEST(domains_of_deep_scopes)
{
    enum { DEPTH = 2000 };
    prof_config config = trace_config(4u << 20);
    prof_trace *trace;
    prof_stat *stats;
    char *text, rows[2][200], *at;
    size_t count;
    trace_start(&config);
    deep_scopes(DEPTH - 1);
    trace = trace_stop();
    CHECK_EQUAL(prof_stats_by_path(trace, PROF_SORT_TOTAL, 0, &stats, &count), PROF_OK);
    CHECK_EQUAL(count, 2 * DEPTH);
    text = text_of(trace, PROF_REPORT_DOMAINS);
    for (int i = 0; i < 2; ++i) { /* as the table writes the time of the first two scopes */
        prof__out out;
        prof_sink sink = {keep_text, rows[i]};
        strcpy(rows[i], i ? "\nsecond         2,000" : "\nfirst          2,000");
        prof__out_sink(&out, sink);
        prof__out_ns(&out, (double)stats[i].total_ns, 11);
        CHECK_EQUAL(prof__out_close(&out), PROF_OK);
        at = strstr(text, rows[i]);
        CHECK(at != NULL);
        if (!at) printf("%s not in\n%s", rows[i], text);
    }
    prof_stats_free(stats);
    prof_report_free(text);
    prof_trace_close(trace);
}

TEST(histogram)
{
    image im = report_image(77, "synthetic");
    uint32_t a = site_of(&im, "a", "x"), same = site_at(&im, "a", "x", PROF__KIND_BEGIN, 2), zero = site_of(&im, "zero", "");
    prof_report_options options = layout(PROF_REPORT_HISTOGRAM);
    prof_trace *trace;
    track_at(&im, 0, 1, 0);
    scopes(&im, a, 60, 1024); /* the first of a bucket */
    scopes(&im, same, 20, 2047); /* the last */
    scopes(&im, same, 20, 4096);
    scope(&im, a, 1023);
    scope(&im, zero, 0);
    trace = report_read(&im);
    CHECK_REPORT(trace, options,
                 "\na [x]: 101 calls, total 185.3 us, mean 1.835 us, p50 1.031 us, p99 4.096 us\n"
                 "        from       below         count     share    so far\n"
                 "      512 ns    1.024 us             1     1.0 %     1.0 %  |#\n"
                 "    1.024 us    2.048 us            80    79.2 %    80.2 %  |########################################\n"
                 "    2.048 us    4.096 us             0     0.0 %    80.2 %  |\n"
                 "    4.096 us    8.192 us            20    19.8 %   100.0 %  |##########\n"
                 "\nzero: 1 call, total 0 ns, mean 0 ns, p50 0 ns, p99 0 ns\n"
                 "        from       below         count     share    so far\n"
                 "        0 ns        1 ns             1   100.0 %   100.0 %  |########################################\n");
    options.top = 1;
    options.ascending = 1;
    CHECK_REPORT(trace, options,
                 "\nzero: 1 call, total 0 ns, mean 0 ns, p50 0 ns, p99 0 ns\n"
                 "        from       below         count     share    so far\n"
                 "        0 ns        1 ns             1   100.0 %   100.0 %  |########################################\n");
    prof_trace_close(trace);
}

/* The distribution as data: every duration in the bucket that it belongs to. */
TEST(buckets)
{
    static const uint64_t durations[] = {0, 1, 127, 128, 129, 130, 255, 256, 259, 260, 1000000, 1015808, 1015807, 1099511627775};
    const size_t count = sizeof durations / sizeof *durations;
    image im = report_image(77, "synthetic");
    uint32_t a = site_of(&im, "a", "");
    prof_stat *stats = NULL;
    prof_trace *trace;
    size_t rows = 0;
    uint64_t all = 0;
    track_at(&im, 0, 1, 0);
    for (size_t i = 0; i < count - 1; ++i) scope(&im, a, durations[i]);
    begin_now(&im, a);
    track_at(&im, 1, 1, im.now + durations[count - 1]);
    end_now(&im, a);
    trace = report_read(&im);
    CHECK_EQUAL(prof_stats(trace, PROF_SORT_TOTAL, 0, &stats, &rows), PROF_OK);
    CHECK_EQUAL(rows, 1);
    for (size_t i = 0; rows && i < stats->bucket_count; ++i) {
        const prof_bucket *bucket = &stats->buckets[i];
        uint64_t fitting = 0;
        for (size_t k = 0; k < count; ++k) fitting += durations[k] >= bucket->from_ns && durations[k] < bucket->to_ns;
        CHECK_EQUAL(bucket->count, fitting);
        CHECK(bucket->to_ns - bucket->from_ns <= bucket->from_ns / 64 + 1);
        if (i) CHECK(bucket->from_ns >= bucket[-1].to_ns);
        all += bucket->count;
    }
    CHECK_EQUAL(all, count);
    prof_stats_free(stats);
    prof_trace_close(trace);
}

static char *summary_text(const prof_trace *trace, const prof_summary_options *options)
{
    trace_bytes all = {NULL, 0, 0, 0};
    CHECK_EQUAL(prof_summary_stream(trace, trace_sink(&all), options), PROF_OK);
    return all.bytes;
}

/* Inclusive time counts the outermost call. The share is that of the time that is kept of each thread; threads add up. */
TEST(shares_of_the_run)
{
    image im = report_image(77, "synthetic");
    uint32_t a = site_of(&im, "a", ""), b = site_of(&im, "b", "");
    prof_stat *stats = NULL;
    prof_summary_options options;
    size_t count = 0;
    char *text = NULL;
    track_at(&im, 0, 1, 0);
    begin_now(&im, a);
    im.now += 100;
    scope(&im, a, 500);
    im.now += 200;
    end_now(&im, a);
    im.now += 200;
    scope(&im, b, 0);
    track_at(&im, 4, 2, 600); /* its first four records of the track are overwritten */
    scope(&im, b, 300);
    track_at(&im, 5, 3, 500);
    scope(&im, b, 250);
    im.now = 1000;
    prof_trace *trace = report_read(&im);
    CHECK_EQUAL(prof_stats(trace, PROF_SORT_NAME, 1, &stats, &count), PROF_OK);
    CHECK_EQUAL(count, 2);
    if (count == 2) {
        CHECK_EQUAL(stats[0].total_ns, 800);
        CHECK_EQUAL(stats[0].sum_ns, 1300);
        CHECK_EQUAL(stats[0].self_ns, 800);
        CHECK_EQUAL(stats[0].threads, 1);
        CHECK_EQUAL((int)(stats[0].share * 1e6 + 0.5), 800000);
        CHECK_EQUAL(stats[1].total_ns, 550);
        CHECK_EQUAL(stats[1].threads, 3);
        CHECK_EQUAL((int)(stats[1].share * 1e6 + 0.5), 750000 + 500000);
    }
    prof_stats_free(stats);
    memset(&options, 0, sizeof options);
    text = summary_text(trace, &options);
    CHECK_HAS(text, "% of run    threads");
    CHECK_HAS(text, "   125.0 %          3");
    CHECK_HAS(text, "    80.0 %          1");
    free(text);
    prof_trace_close(trace);
}

/*-- several processes --*/

static prof_trace *small_trace(uint64_t pid, const char *program, uint64_t ns)
{
    image im = report_image((uint32_t)pid, program);
    uint32_t a = site_of(&im, "a", "");
    track_at(&im, 0, 1, 0);
    scope(&im, a, ns);
    return report_read(&im);
}

#define SMALL_TABLE(time)                                                                                            \
    MXNET_HEAD "event\n" MXNET_TIME "a                                       1           " time "           " time   \
               "           " time "           " time "\n\n"

TEST(processes)
{
    prof_trace *traces[3];
    const prof_trace *const *all = (const prof_trace *const *)traces;
    prof_report_options options = layout(PROF_REPORT_MXNET);
    const char *path = trace_path("each.txt");
    char *text;
    traces[0] = small_trace(7, "server", 1000000);
    traces[1] = small_trace(8, "client", 2000000);
    traces[2] = small_trace(7, "server", 3000000);
    CHECK_EQUAL(prof_report_each(all, 3, path, &options), PROF_OK);
    text = trace_file_text(path, NULL);
    check_text(__LINE__, text,
               "== server, process 7 ==\n" SMALL_TABLE("1.0000") "\n== client, process 8 ==\n" SMALL_TABLE("2.0000")
               "\n== server, process 1000000002 ==\n" SMALL_TABLE("3.0000"));
    free(text);
    CHECK_EQUAL(prof_report_each(all, 3, TRACE_FOLDER "/100%%-%n-%p.txt", &options), PROF_OK);
    for (int i = 0; i < 3; ++i) {
        static const char *const files[] = {"100%-server-7.txt", "100%-client-8.txt", "100%-server-1000000002.txt"};
        static const char *const tables[] = {SMALL_TABLE("1.0000"), SMALL_TABLE("2.0000"), SMALL_TABLE("3.0000")};
        text = trace_file_text(trace_path(files[i]), NULL);
        CHECK(text != NULL);
        if (text) check_text(__LINE__, text, tables[i]);
        free(text);
    }
    remove(trace_path("100%-server.txt"));
    CHECK_EQUAL(prof_report_each(all, 3, TRACE_FOLDER "/100%%-%n.txt", &options), PROF_OK); /* without %p, too */
    CHECK(trace_file_size(trace_path("100%-server.txt")) > 0);
    options.layout = PROF_REPORT_CNTK_DETAIL;
    CHECK_EQUAL(prof_report_each(all, 3, path, &options), PROF_INVALID_ARGUMENT);
    CHECK_EQUAL(prof_report_each(all, 3, TRACE_FOLDER "/detail-%p.csv", &options), PROF_OK);
    CHECK_EQUAL(prof_report_each(all, 3, TRACE_FOLDER "/%q.csv", &options), PROF_INVALID_ARGUMENT);
    CHECK_EQUAL(prof_report_each(all, 3, TRACE_FOLDER "/%", &options), PROF_INVALID_ARGUMENT);
    CHECK_EQUAL(prof_report_each(NULL, 3, path, &options), PROF_INVALID_ARGUMENT);
    for (int i = 0; i < 3; ++i) prof_trace_close(traces[i]);
    traces[1] = NULL;
    CHECK_EQUAL(prof_report_each(all + 1, 1, path, NULL), PROF_INVALID_ARGUMENT);
}

/* What a file says its program was called leads nowhere else. */
TEST(programs_of_anybody)
{
    const prof_trace *trace = small_trace(7, "../..\\x:y\n", 1000);
    remove(trace_path(".._.._x_y_"));
    CHECK_EQUAL(prof_report_each(&trace, 1, TRACE_FOLDER "/%n", NULL), PROF_OK);
    CHECK(trace_file_size(trace_path(".._.._x_y_")) > 0);
    prof_trace_close((prof_trace *)trace);
}

/*-- nothing, mistakes, no memory --*/

TEST(empty)
{
    image im = report_image(77, "synthetic");
    prof_trace *trace = report_read(&im);
    utc();
    CHECK_REPORT(trace, layout(PROF_REPORT_MXNET), MXNET_HEAD);
    CHECK_REPORT(trace, layout(PROF_REPORT_CNTK),
                 CNTK_HEAD "2017/05/12 08:13:20" CNTK_COLUMNS "Main Thread\n\n\nData Reader\n\n");
    CHECK_REPORT(trace, layout(PROF_REPORT_CNTK_DETAIL), "EventDescription,ThreadId,BeginTimeStamp(ms),EndTimeStamp(ms)\n");
    CHECK_REPORT(trace, layout(PROF_REPORT_HISTOGRAM), "\nno scopes\n");
    CHECK_REPORT(trace, layout(PROF_REPORT_DOMAINS), "no scopes\n");
    prof_trace_close(trace);
}

TEST(mistakes)
{
    prof_trace *trace = mixed_trace();
    prof_report_options options = layout(PROF_REPORT_MXNET);
    prof_report_event nameless = {NULL, PROF_REPORT_TIME, NULL};
    prof_sink none = {NULL, NULL};
    char *text = (char *)&options;
    CHECK_EQUAL(prof_report_write(NULL, "-", NULL), PROF_INVALID_ARGUMENT);
    CHECK_EQUAL(prof_report_stream(NULL, none, NULL), PROF_INVALID_ARGUMENT);
    CHECK_EQUAL(prof_report_stream(trace, none, NULL), PROF_INVALID_ARGUMENT);
    CHECK_EQUAL(prof_report_text(NULL, NULL, &text, NULL), PROF_INVALID_ARGUMENT);
    CHECK(text == NULL);
    CHECK_EQUAL(prof_report_text(trace, NULL, NULL, NULL), PROF_INVALID_ARGUMENT);
    CHECK_EQUAL(prof_report_write(trace, "/dev/null/such/folder", NULL), PROF_IO);
    options.layout = PROF_REPORT_LAYOUT_COUNT;
    CHECK_EQUAL(prof_report_text(trace, &options, &text, NULL), PROF_INVALID_ARGUMENT);
    options.layout = (prof_report_layout)-1;
    CHECK_EQUAL(prof_report_text(trace, &options, &text, NULL), PROF_INVALID_ARGUMENT);
    options = layout(PROF_REPORT_CNTK);
    options.event_count = 1;
    CHECK_EQUAL(prof_report_text(trace, &options, &text, NULL), PROF_INVALID_ARGUMENT);
    options.events = &nameless;
    CHECK_EQUAL(prof_report_text(trace, &options, &text, NULL), PROF_INVALID_ARGUMENT);
    CHECK(prof_mxnet_dumps(PROF_REPORT_LAYOUT_COUNT, PROF_SORT_TOTAL, 0, 0) == NULL);
    prof_trace_close(trace);
}

static int count_of_files(const char *folder)
{
    DIR *dir = opendir(folder);
    int count = -2; /* "." and ".." */
    while (dir && readdir(dir)) ++count;
    if (dir) closedir(dir);
    return count;
}

/* Writes a file, failing at each allocation once: then neither it nor a part of it is there. */
static void no_memory_for(const prof_trace *trace, const char *name)
{
    prof_status status = PROF_NO_MEMORY;
    char path[256];
    long n = 0;
    snprintf(path, sizeof path, "%s/%s", trace_path("no_memory"), name);
    for (; status && n < 5000; ++n) {
        allocations_left = n;
        status = prof_trace_write(trace, path, NULL);
        allocations_left = -1;
        if (status && count_of_files(trace_path("no_memory"))) n = 5000; /* says so below, once */
    }
    CHECK_EQUAL(status, PROF_OK);
    CHECK(n > 3 && n < 5000);
    CHECK_EQUAL(count_of_files(trace_path("no_memory")), 1);
    remove(path);
}

TEST(no_memory_for_files)
{
    prof_trace *trace = mixed_trace();
    char command[400];
    snprintf(command, sizeof command, "rm -rf '%s' && mkdir -p '%s'", trace_path("no_memory"), trace_path("no_memory"));
    CHECK_EQUAL(system(command), 0);
    no_memory_for(trace, "a.csv");
    no_memory_for(trace, "a.txt");
    no_memory_for(trace, "a.json");
    prof_trace_close(trace);
}

/* Each allocation fails once: the report then says so, and is whole or not there. */
TEST(no_memory)
{
    prof_trace *trace = mixed_trace();
    for (int i = 0; i < PROF_REPORT_LAYOUT_COUNT; ++i) {
        prof_report_options options = layout((prof_report_layout)i);
        char *whole = text_of(trace, options.layout), *text = NULL;
        prof_status status = PROF_NO_MEMORY;
        long n = 0;
        for (; status && n < 5000; ++n) {
            allocations_left = n;
            status = prof_report_text(trace, &options, &text, NULL);
            allocations_left = -1;
            if (status) CHECK_EQUAL(status, PROF_NO_MEMORY);
            if (status) CHECK(text == NULL);
        }
        CHECK_EQUAL(status, PROF_OK);
        CHECK(n > 5);
        if (text) check_text(__LINE__, text, whole);
        prof_report_free(text);
        prof_report_free(whole);
    }
    prof_trace_close(trace);
}

/* Reads all events, and then all spans, of a trace. Returns the first failure. *count: what it got, of which *good are
   as they were recorded. */
static prof_status read_all(const prof_trace *trace, size_t *count, size_t *good)
{
    prof_timeline *timeline = NULL;
    prof_spans *spans = NULL;
    prof_cursor *cursor = NULL;
    prof_event event;
    prof_span span;
    prof_status status = prof_cursor_open(trace, 0, &cursor), closed;
    *count = *good = 0;
    for (; prof_cursor_next(cursor, &event); ++*count)
        *good += event.type != PROF_EVENT_LOG || !strcmp(event.value.as.string, "7 of nine");
    closed = prof_cursor_close(cursor);
    if (!status) status = closed;
    if (!status) status = prof_timeline_open(trace, &timeline);
    for (; prof_timeline_next(timeline, &event, NULL); ++*count)
        *good += event.type != PROF_EVENT_LOG || !strcmp(event.value.as.string, "7 of nine");
    closed = prof_timeline_close(timeline);
    if (!status) status = closed;
    if (!status) status = prof_spans_open(trace, &spans);
    for (; prof_spans_next(spans, &span); ++*count) *good += !strcmp(span.name, "request");
    closed = prof_spans_close(spans);
    return status ? status : closed;
}

/* Each allocation fails once: close says whether next returned 0 at the end, or because memory ran out. */
TEST(no_memory_for_readers)
{
    prof_trace *trace;
    prof_status status = PROF_NO_MEMORY;
    size_t count, good;
    long n = 0;
    CHECK_EQUAL(prof_start(NULL), PROF_OK);
    PROFILE_SPAN_BEGIN("request", 1);
    PROFILE_BLOCK("work") PROFILE_LOG(PROF_LOG_INFO, "%d of %s", 7, "nine");
    PROFILE_SPAN_END("request", 1);
    CHECK_EQUAL(prof_stop(), PROF_OK);
    CHECK_EQUAL(prof_trace_open_live(&trace), PROF_OK);
    for (; status && n < 100; ++n) {
        allocations_left = n;
        status = read_all(trace, &count, &good);
        allocations_left = -1;
        CHECK_EQUAL(good, count);
        if (status) CHECK(status == PROF_NO_MEMORY && count < 9);
    }
    CHECK_EQUAL(status, PROF_OK);
    CHECK_EQUAL(count, 9); /* 4 events, twice, and a span */
    CHECK(n > 10);
    prof_trace_close(trace);
}

TEST(another_locale)
{
    prof_trace *trace = mixed_trace();
    char *before = text_of(trace, PROF_REPORT_MXNET), *json = text_of(trace, PROF_REPORT_JSON), *after;
    if (setlocale(LC_ALL, "de_DE.UTF-8") || setlocale(LC_ALL, "fr_FR.UTF-8")) {
        after = text_of(trace, PROF_REPORT_MXNET);
        check_text(__LINE__, after, before);
        prof_report_free(after);
        after = text_of(trace, PROF_REPORT_JSON);
        check_text(__LINE__, after, json);
        prof_report_free(after);
        setlocale(LC_ALL, "C");
    } else {
        test_skip = "no locale with a decimal comma";
    }
    prof_report_free(before);
    prof_report_free(json);
    prof_trace_close(trace);
}

/*-- the running session --*/

static long dumped(const char *name, int reset)
{
    char *json = prof_mxnet_dumps(PROF_REPORT_JSON, PROF_SORT_TOTAL, 0, reset);
    long count = count_of(json, name);
    CHECK(json != NULL);
    prof_report_free(json);
    return count;
}

static void record(int count)
{
    for (int i = 0; i < count; ++i) {
        PROFILE_SCOPE("work");
        PROFILE_COUNTER("counter", i);
    }
}

static void check_resets(prof_mode mode)
{
    prof_config config = trace_config(1u << 20);
    config.mode = mode;
    config.wait_ns = 10000000000;
    trace_start(&config);
    record(5);
    CHECK_EQUAL(dumped("work", 0), 5);
    CHECK_EQUAL(dumped("work", 0), 5);
    CHECK_EQUAL(dumped("counter", 1), 5);
    CHECK_EQUAL(dumped("work", 0), 0);
    record(7);
    CHECK_EQUAL(dumped("work", 0), 7);
    CHECK_EQUAL(dumped("counter", 0), 7);
    CHECK_EQUAL(dumped("work", 1), 7);
    {
        PROFILE_SCOPE("across");
        record(2);
        CHECK_EQUAL(dumped("across", 1), 0);
    }
    CHECK_EQUAL(dumped("work", 0), 0);
    CHECK_EQUAL(dumped("across", 1), 1); /* where it ended */
    CHECK_EQUAL(dumped("across", 1), 0);
    record(3);
    CHECK_EQUAL(prof_stop(), PROF_OK);
    CHECK_EQUAL(dumped("work", 0), 3);
    trace_start(&config); /* nothing is left of the resets */
    record(4);
    CHECK_EQUAL(dumped("work", 0), 4);
    CHECK_EQUAL(prof_stop(), PROF_OK);
}

TEST(resets) { check_resets(PROF_RING); }
TEST(resets_of_statistics) { check_resets(PROF_STATS); }
TEST(resets_of_statistics_beside_a_ring) { check_resets(PROF_RING_STATS); }

static void move(uint64_t bytes)
{
    PROFILE_THROUGHPUT("moved", bytes);
    trace_next_instant(); /* without time there is no rate */
}

/* Tasks, frames of handles and scopes that move bytes, since the last reset. */
static void check_reset_of_objects(prof_mode mode)
{
    prof_config config = trace_config(1u << 20);
    prof_task *task = prof_task_create(prof_domain_create("io"), "task");
    prof_frame *frame = prof_frame_create(prof_domain_create("io"), "frame");
    char *json;
    config.mode = mode;
    config.wait_ns = 10000000000;
    trace_start(&config);
    for (int i = 0; i < 3; ++i) {
        prof_task_start(task);
        prof_frame_start(frame);
        PROFILE_BLOCK("nothing") continue;
        prof_frame_stop(frame);
        prof_task_stop(task);
    }
    CHECK_EQUAL(dumped("task", 0), 3);
    CHECK_EQUAL(dumped("frame", 1), 3);
    CHECK_EQUAL(dumped("task", 0), 0);
    prof_task_start(task);
    CHECK_EQUAL(dumped("task", 1), 0);
    prof_task_stop(task);
    CHECK_EQUAL(dumped("task", 1), 1); /* where it ended */
    CHECK_EQUAL(dumped("frame", 1), 0);
    move(1000);
    json = prof_mxnet_dumps(PROF_REPORT_JSON, PROF_SORT_TOTAL, 0, 1);
    CHECK_HAS(json, ",\"Bytes\":1000,\"AvgMBps\":");
    prof_report_free(json);
    move(24);
    json = prof_mxnet_dumps(PROF_REPORT_JSON, PROF_SORT_TOTAL, 0, 0);
    CHECK_HAS(json, ",\"Bytes\":24,\"AvgMBps\":");
    prof_report_free(json);
    CHECK_EQUAL(prof_stop(), PROF_OK);
    prof_frame_destroy(frame);
    prof_task_destroy(task);
}

TEST(resets_of_objects) { check_reset_of_objects(PROF_RING); }
TEST(resets_of_objects_of_statistics) { check_reset_of_objects(PROF_STATS); }
TEST(resets_of_objects_of_statistics_beside_a_ring) { check_reset_of_objects(PROF_RING_STATS); }

static void count_one(int value)
{
    PROFILE_COUNTER("last", value);
}

static void *count_one_there(void *value)
{
    count_one(*(int *)value);
    return NULL;
}

/* Rows of devices get other ids with each new thread, and other times with each new pair of their clock. */
TEST(resets_of_devices)
{
    prof_config config = trace_config(1u << 20);
    prof_device *device = prof_device_create("report", NULL);
    prof_device_row *row = prof_device_row_create(device, "queue");
    pthread_t thread;
    int value = 1;
    trace_start(&config);
    uint64_t now = prof_host_ns();
    record(1);
    prof_device_sync(device, 0, now);
    prof_device_sync(device, 1000, now + 1000);
    prof_device_scope(row, "kernel", 2000, 9000);
    prof_device_scope(row, "kernel", 3000, 10000); /* on a track of its own */
    prof_device_scope(row, "kernel", 11000, 12000);
    CHECK_EQUAL(dumped("kernel", 1), 3);
    CHECK(!pthread_create(&thread, NULL, count_one_there, &value));
    CHECK(!pthread_join(thread, NULL));
    CHECK_EQUAL(dumped("kernel", 0), 0);
    prof_device_scope(row, "kernel", 13000, 14000);
    CHECK_EQUAL(dumped("kernel", 0), 1);
    prof_device_sync(device, 10000, now + 11000); /* 12000 is later now than it was */
    CHECK_EQUAL(dumped("kernel", 1), 1);
    CHECK_EQUAL(dumped("kernel", 0), 0);
    CHECK_EQUAL(prof_stop(), PROF_OK);
}

static void *dump_cancelled(void *unused)
{
    (void)unused;
    pthread_cancel(pthread_self());
    prof_report_free(prof_mxnet_dumps(PROF_REPORT_JSON, PROF_SORT_TOTAL, 0, 1));
    pthread_testcancel();
    return NULL;
}

/* Neither a thread that is cancelled nor one that is not in the child of a fork keeps the lock. */
TEST(nobody_keeps_the_lock)
{
    prof_config config = trace_config(1u << 20);
    pthread_t thread;
    pid_t child;
    int status = 1;
    config.mode = PROF_STREAM; /* whose file is read, where threads are cancelled */
    config.output = trace_path("report_lock.prof");
    trace_start(&config);
    record(5);
    CHECK(!pthread_create(&thread, NULL, dump_cancelled, NULL));
    CHECK(!pthread_join(thread, NULL));
    CHECK_EQUAL(prof__report_reset.lock, 0);
    prof__report_reset.lock = 1; /* as if another thread were at it */
    child = fork();
    if (!child) {
        alarm(60);
        prof_report_free(prof_mxnet_dumps(PROF_REPORT_JSON, PROF_SORT_TOTAL, 0, 1));
        _exit(0);
    }
    prof__report_reset.lock = 0;
    CHECK(child > 0 && waitpid(child, &status, 0) == child && !status);
    CHECK_EQUAL(prof_stop(), PROF_OK);
}

/* A list of events of a session that keeps none is no empty one. */
TEST(statistics_have_no_events)
{
    prof_config config = trace_config(1u << 20);
    prof_trace *trace = NULL;
    char names[8][300];
    config.mode = PROF_STATS;
    config.wait_ns = 10000000000;
    trace_start(&config);
    record(1);
    CHECK(prof_mxnet_dumps(PROF_REPORT_CNTK_DETAIL, PROF_SORT_TOTAL, 0, 0) == NULL);
    CHECK_HAS(prof_error(), "mode stats");
    CHECK_EQUAL(prof_trace_open_live(&trace), PROF_OK);
    if (system("rm -rf " TRACE_FOLDER "/cntk")) exit(1);
    CHECK_EQUAL(prof_report_cntk(trace, trace_path("cntk"), "3", NULL), PROF_INVALID_ARGUMENT);
    CHECK_EQUAL(files_in(trace_path("cntk"), names), 0);
    prof_trace_close(trace);
    CHECK_EQUAL(prof_stop(), PROF_OK);
}

/* Without events, too, the last value is the latest. */
TEST(last_values_of_statistics)
{
    prof_config config = trace_config(1u << 20);
    pthread_t thread;
    int there = 20;
    char *json;
    config.mode = PROF_STATS;
    config.wait_ns = 10000000000;
    trace_start(&config);
    count_one(10);
    CHECK(!pthread_create(&thread, NULL, count_one_there, &there));
    CHECK(!pthread_join(thread, NULL)); /* whose buffer is read behind this thread's */
    count_one(30);
    json = prof_mxnet_dumps(PROF_REPORT_JSON, PROF_SORT_TOTAL, 0, 0);
    CHECK_HAS(json, "\"last\":{\"Count\":3,\"Min\":10,\"Max\":30,\"Avg\":20,\"Last\":30,");
    prof_report_free(json);
    CHECK_EQUAL(prof_stop(), PROF_OK);
}

TEST(reset_erases_nothing)
{
    prof_config config = trace_config(1u << 20);
    prof_trace *trace;
    trace_start(&config);
    record(5);
    CHECK_EQUAL(dumped("work", 1), 5);
    record(6);
    trace = trace_stop();
    char *json = text_of(trace, PROF_REPORT_JSON);
    CHECK_EQUAL(count_of(json, "work"), 11);
    prof_report_free(json);
    prof_trace_close(trace);
}

TEST(dumps_of_all_layouts)
{
    prof_config config = trace_config(1u << 20);
    CHECK_EQUAL(prof_reset(), PROF_OK);
    CHECK(prof_mxnet_dumps(PROF_REPORT_MXNET, PROF_SORT_TOTAL, 0, 0) == NULL); /* no session */
    CHECK(prof_error()[0] != 0);
    trace_start(&config);
    record(3);
    for (int i = 0; i < PROF_REPORT_LAYOUT_COUNT; ++i) {
        char *before = prof_mxnet_dumps((prof_report_layout)i, PROF_SORT_TOTAL, 0, 1), *after;
        CHECK_HAS(before, i == PROF_REPORT_DOMAINS ? "(none)" : i == PROF_REPORT_CNTK ? "Main Thread" : "work");
        after = prof_mxnet_dumps((prof_report_layout)i, PROF_SORT_TOTAL, 0, 0);
        if (i != PROF_REPORT_PATHS) CHECK_HAS_NOT(after, "work");
        record(3);
        prof_report_free(before);
        prof_report_free(after);
    }
    CHECK_EQUAL(prof_stop(), PROF_OK);
}

static int summary_has(const char *words)
{
    char *text = prof_mxnet_dumps(PROF_REPORT_SUMMARY, PROF_SORT_TOTAL, 0, 0);
    int has = strstr(text, words) != NULL;
    prof_report_free(text);
    return has;
}

/* MXNet's profiler and CNTK's do not list themselves, so these tables leave out what prof's own threads do. A category
   "prof" of the program's own stays. */
TEST(tables_of_others_do_not_list_prof)
{
    prof_config config = trace_config(1u << 20);
    config.mode = PROF_RING_STATS;
    config.output = trace_path("own.csv");
    config.dump_period_ns = 10000000;
    trace_start(&config);
    { PROFILE_SCOPE_C("conv", "operator"); }
    { PROFILE_SCOPE_C("of the program", "prof"); }
    WAIT_UNTIL(summary_has("dump")); /* the first dump is an event after it was written */
    static const prof_report_layout theirs[] = {PROF_REPORT_MXNET, PROF_REPORT_JSON, PROF_REPORT_CNTK,
                                                PROF_REPORT_CNTK_DETAIL};
    for (size_t i = 0; i < sizeof theirs / sizeof *theirs; ++i) {
        prof_trace *trace = NULL;
        char *text = NULL;
        prof_report_options options = layout(theirs[i]);
        options.others = 1;
        CHECK_EQUAL(prof_trace_open_live(&trace), PROF_OK);
        CHECK_EQUAL(prof_report_text(trace, &options, &text, NULL), PROF_OK);
        CHECK_HAS(text, "conv");
        CHECK_HAS(text, "of the program");
        CHECK_HAS_NOT(text, "dump");
        prof_report_free(text);
        prof_trace_close(trace);
    }
    CHECK_EQUAL(prof_stop(), PROF_OK);
}

/* Threads record while others reset: each scope is in exactly one of the reports. */
enum { THREADS = 3, BATCH = 30, BATCHES = 2000 };
static int enough;
static long threaded;

static void *record_many(void *unused)
{
    (void)unused;
    for (int i = 0; i < BATCHES && !__atomic_load_n(&enough, __ATOMIC_ACQUIRE); ++i) {
        for (int k = 0; k < BATCH; ++k) PROFILE_BLOCK("threaded") continue;
        __atomic_fetch_add(&threaded, BATCH, __ATOMIC_RELAXED);
        pause_us(200);
    }
    return NULL;
}

static void check_exactly_once(prof_mode mode)
{
    prof_config config = trace_config(8u << 20);
    pthread_t threads[THREADS];
    long sum = 0, least = trace_times(10, 20, 20);
    config.mode = mode;
    config.wait_ns = 10000000000;
    trace_start(&config);
    enough = 0;
    threaded = 0;
    for (int i = 0; i < THREADS; ++i) CHECK(!pthread_create(&threads[i], NULL, record_many, NULL));
    for (int i = 0; i < least || __atomic_load_n(&threaded, __ATOMIC_RELAXED) < 10 * THREADS * BATCH; ++i)
        sum += dumped("threaded", 1);
    __atomic_store_n(&enough, 1, __ATOMIC_RELEASE);
    for (int i = 0; i < THREADS; ++i) CHECK(!pthread_join(threads[i], NULL));
    sum += dumped("threaded", 1);
    CHECK_EQUAL(prof_stop(), PROF_OK);
    sum += dumped("threaded", 1);
    CHECK_EQUAL(sum, threaded);
}

TEST(each_scope_in_one_report) { check_exactly_once(PROF_RING); }
TEST(each_scope_in_one_report_of_statistics) { check_exactly_once(PROF_STATS); }
TEST(each_scope_in_one_report_of_statistics_beside_a_ring) { check_exactly_once(PROF_RING_STATS); }

/* 150 ns are 0.00015 ms, which no double is. */
static void check_mxnet_number(double value, double unit, float number)
{
    char text[128] = "", expected[128];
    prof_sink sink = {keep_text, text};
    prof__out out;
    prof__out_sink(&out, sink);
    prof__report_mxnet_number(&out, value, unit);
    CHECK_EQUAL(prof__out_close(&out), PROF_OK);
    snprintf(expected, sizeof expected, " %16.4f", (double)number);
    CHECK_TEXT(text, expected);
}

/* Times and bytes are floats in MXNet, which a stream writes as "%16.4f". */
TEST(mxnet_numbers_are_floats)
{
    uint64_t seed = 1;
    for (unsigned ns = 50; ns < 100000; ns += 100) check_mxnet_number(ns, 1e6, (float)(ns / 1e3 / 1e3));
    for (int i = 0; i < 20000; ++i) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        double us = (double)(seed >> 33 >> seed % 30);
        check_mxnet_number(us * 1e3, 1e6, (float)(us / 1000));
        check_mxnet_number(us, 1e3, (float)(us / 1000));
    }
    check_mxnet_number(123456789.0 * 1e3, 1e6, 123456.789f); /* 123456.7891, not .7890 */
    check_mxnet_number(0.03125 * 1e3, 1e3, 0.03125f);        /* a half: to the even neighbour */
    check_mxnet_number(0.09375 * 1e3, 1e3, 0.09375f);
    check_mxnet_number(-1500, 1e3, -1.5f);
}

/* The live bytes of each pool, as MXNet's storage has them. */
static void allocate(const char *more)
{
    static char blocks[100];
    PROFILE_ALLOC(blocks, 1000);
    PROFILE_ALLOC(blocks + 1, 500);
    PROFILE_FREE(blocks);
    PROFILE_ALLOC_POOL(blocks + 2, 2500, "gpu/0");
    if (more) PROFILE_COUNTER_C("Memory: gpu/0", 7, "Device Storage");
    PROFILE_FREE(blocks + 1);
    PROFILE_FREE_POOL(blocks + 2, "gpu/0");
}

TEST(device_storage)
{
    prof_config config = trace_config(1u << 20);
    trace_start(&config);
    allocate(NULL);
    prof_trace *trace = trace_stop();
    CHECK_REPORT(trace, layout(PROF_REPORT_MXNET),
                 MXNET_HEAD "Device Storage\n" MXNET_MEMORY
                 "Memory: gpu/0                           2           0.0000           2.5000           1.2500\n"
                 "Memory: cpu/0                           4           0.0000           1.5000           0.7500\n\n");
    char *json = text_of(trace, PROF_REPORT_JSON);
    CHECK_HAS(json, "\"Memory\":{\n\"Device Storage\":{\n\"Memory: gpu/0\":{\"Count\":2,\"Min\":0,\"Max\":2.5,\"Avg\":1.25");
    CHECK_HAS(json, "\"Memory: cpu/0\":{\"Count\":4,\"Min\":0,\"Max\":1.5,\"Avg\":0.75,\"Last\":0");
    prof_report_free(json);
    prof_trace_close(trace);
    /* a counter of that name is what the program says itself */
    trace_start(&config);
    allocate("and a counter");
    trace = trace_stop();
    CHECK_REPORT(trace, layout(PROF_REPORT_MXNET),
                 MXNET_HEAD "Device Storage\n" MXNET_MEMORY
                 "Memory: gpu/0                           1           0.0070           0.0070           0.0070\n"
                 "Memory: cpu/0                           4           0.0000           1.5000           0.7500\n\n");
    prof_trace_close(trace);
    /* after a reset what changed since, of what is live in all */
    trace_start(&config);
    PROFILE_ALLOC(&config, 4000);
    prof_report_free(prof_mxnet_dumps(PROF_REPORT_MXNET, PROF_SORT_TOTAL, 0, 1));
    trace_next_instant();
    PROFILE_ALLOC(&trace, 1000);
    char *text = prof_mxnet_dumps(PROF_REPORT_MXNET, PROF_SORT_TOTAL, 0, 0);
    CHECK_HAS(text, "Memory: cpu/0                           1           5.0000           5.0000           5.0000\n");
    prof_report_free(text);
    CHECK_EQUAL(prof_stop(), PROF_OK);
}

/* dump() in all orders. */
TEST(dump_after_stop)
{
    const char *path = trace_path("dump.csv");
    prof_config config = trace_config(1u << 20);
    prof_reset();
    CHECK_EQUAL(prof_mxnet_dump(1), PROF_INVALID_STATE);
    CHECK_EQUAL(prof_mxnet_dump(0), PROF_INVALID_STATE);
    remove(path);
    config.output = path;
    config.existing = PROF_EXISTING_REPLACE;
    trace_start(&config);
    { PROFILE_SCOPE("first"); }
    CHECK_EQUAL(prof_mxnet_dump(0), PROF_OK); /* not finished: written, and it goes on */
    size_t size = 0;
    char *text = trace_file_text(path, &size);
    CHECK_HAS(text, "first");
    free(text);
    CHECK(prof_enabled());
    { PROFILE_SCOPE("second"); }
    CHECK_EQUAL(prof_mxnet_dump(1), PROF_OK);
    CHECK(!prof_enabled());
    text = trace_file_text(path, &size);
    CHECK_HAS(text, "second");
    free(text);
    CHECK_EQUAL(prof_mxnet_dump(1), PROF_OK); /* after the stop, as often as one likes */
    remove(path);
    CHECK_EQUAL(prof_mxnet_dump(0), PROF_OK);
    text = trace_file_text(path, &size);
    CHECK_HAS(text, "second");
    free(text);
    CHECK_EQUAL(prof_stop(), PROF_INVALID_STATE);
    for (int mode = 0; mode < 2; ++mode) { /* an output that is up to date anyway; one that is gone with the stream */
        config.output = mode ? path : trace_path("dump.prof");
        config.mode = mode ? PROF_STREAM : PROF_RING;
        trace_start(&config);
        { PROFILE_SCOPE("third"); }
        CHECK_EQUAL(prof_mxnet_dump(0), PROF_OK);
        CHECK_EQUAL(prof_stop(), PROF_OK);
        CHECK_EQUAL(prof_mxnet_dump(1), PROF_OK);
    }
    config = trace_config(1u << 20);
    trace_start(&config);
    CHECK_EQUAL(prof_mxnet_dump(0), PROF_INVALID_STATE);
    CHECK_HAS(prof_error(), "no output");
    CHECK_EQUAL(prof_mxnet_dump(1), PROF_OK); /* ends it: there is nothing to write */
}

/* pause() and resume() are a flag, at any time; prof_pause() counts beside it. */
TEST(pause_is_a_flag)
{
    prof_config config = trace_config(1u << 20);
    for (int i = 0; i < 2; ++i) {
        CHECK_EQUAL(prof_mxnet_set_paused(1), PROF_OK);
        CHECK_EQUAL(prof_mxnet_set_paused(0), PROF_OK);
        CHECK_EQUAL(prof_mxnet_set_paused(1), PROF_OK);
        trace_start(&config); /* begins unpaused, as with set_state('run') */
        CHECK(prof_enabled());
        CHECK_EQUAL(prof_mxnet_set_paused(0), PROF_OK);
        CHECK(prof_enabled());
        CHECK_EQUAL(prof_mxnet_set_paused(1), PROF_OK);
        CHECK_EQUAL(prof_mxnet_set_paused(1), PROF_OK);
        CHECK(!prof_enabled());
        CHECK_EQUAL(prof_mxnet_set_paused(0), PROF_OK);
        CHECK(prof_enabled());
        CHECK_EQUAL(prof_pause(), PROF_OK);
        CHECK_EQUAL(prof_mxnet_set_paused(0), PROF_OK);
        CHECK(!prof_enabled());
        CHECK_EQUAL(prof_mxnet_set_paused(1), PROF_OK);
        CHECK_EQUAL(prof_resume(), PROF_OK);
        CHECK(!prof_enabled());
        CHECK_EQUAL(prof_stop(), PROF_OK); /* paused: the next one is not */
    }
}

/* a and b overlap on one thread: each has its own time in every table, and no table says that something is missing. */
static void check_overlaps(prof_mode mode)
{
    static const prof_report_event events[] = {{"a", PROF_REPORT_TIME, NULL}, {"b", PROF_REPORT_TIME, NULL}};
    prof_config config = trace_config(1u << 20);
    prof_report_options options;
    prof_trace *trace;
    prof_stat *stats;
    char *text;
    size_t count;
    memset(&options, 0, sizeof options);
    options.layout = PROF_REPORT_CNTK;
    options.events = events;
    options.event_count = 2;
    config.mode = mode;
    config.wait_ns = 10000000000;
    trace_start(&config);
    for (int i = 0; i < 3; ++i) {
        PROFILE_BEGIN("a");
        PROFILE_BEGIN("b");
        PROFILE_BLOCK("inside") continue;
        PROFILE_END("a");
        for (volatile int wait = 0; wait < 100000; ++wait) {
        }
        PROFILE_END("b");
    }
    trace = trace_stop();
    CHECK_EQUAL(prof_stats(trace, PROF_SORT_NAME, 0, &stats, &count), PROF_OK);
    CHECK_EQUAL(count, 3);
    for (size_t i = 0; i < count; ++i) {
        CHECK_EQUAL(stats[i].count, 3);
        CHECK_EQUAL(stats[i].truncated, 0);
    }
    CHECK(stats[1].total_ns > stats[0].total_ns); /* what was waited for is b's alone */
    CHECK_EQUAL(stats[1].self_ns, stats[1].total_ns);
    if (mode != PROF_STATS) { /* where ticks were counted, each figure is rounded by itself */
        int64_t off = (int64_t)(stats[0].total_ns - stats[2].total_ns - stats[0].self_ns);
        int64_t most = mode == PROF_RING ? 0 : 2;
        CHECK(off >= -most && off <= most);
    }
    prof_stats_free(stats);
    text = text_of(trace, PROF_REPORT_MXNET);
    CHECK_HAS(text, "\na                                       3 ");
    CHECK_HAS(text, "\nb                                       3 ");
    CHECK(!strstr(text, "unknown") && !strstr(text, "without"));
    prof_report_free(text);
    CHECK_EQUAL(prof_report_text(trace, &options, &text, NULL), PROF_OK);
    CHECK_HAS(text, "\na                         : ");
    CHECK_HAS(text, "\nb                         : ");
    prof_report_free(text);
    prof_trace_close(trace);
}

TEST(overlaps) { check_overlaps(PROF_RING); }
TEST(overlaps_of_statistics) { check_overlaps(PROF_STATS); }
TEST(overlaps_of_statistics_beside_a_ring) { check_overlaps(PROF_RING_STATS); }

static int near(uint64_t a, uint64_t b, int most) { return (a > b ? a - b : b - a) <= (uint64_t)most; }

/* inner runs twice within outer; across begins there and ends later; each is done 40 times, more than wait for one
   around them. A task that is started within itself is inside itself. */
static void check_nested_tasks(prof_mode mode)
{
    prof_config config = trace_config(1u << 20);
    prof_task *outer = prof_task_create(NULL, "outer"), *inner = prof_task_create(NULL, "inner");
    prof_task *across = prof_task_create(NULL, "across"), *twice = prof_task_create(NULL, "twice");
    int most = mode == PROF_RING ? 0 : 2; /* where ticks were counted, each figure is rounded by itself */
    prof_stat *stats;
    prof_trace *trace;
    size_t count;
    config.mode = mode;
    config.wait_ns = 10000000000;
    trace_start(&config);
    for (int i = 0; i < 40; ++i) {
        prof_task_start(outer);
        for (int k = 0; k < 2; ++k) {
            prof_task_start(inner);
            for (volatile int wait = 0; wait < 1000; ++wait) {
            }
            prof_task_stop(inner);
        }
        prof_task_start(across);
        prof_task_stop(outer);
        prof_task_stop(across);
    }
    prof_task_start(twice);
    prof_task_start(twice);
    prof_task_stop(twice);
    prof_task_stop(twice);
    trace = trace_stop();
    CHECK_EQUAL(prof_span_stats(trace, PROF_SORT_NAME, 1, &stats, &count), PROF_OK);
    CHECK_EQUAL(count, 4);
    if (count == 4) {
        CHECK_TEXT(stats[0].name, "across");
        CHECK_EQUAL(stats[0].self_ns, stats[0].total_ns);
        CHECK_TEXT(stats[1].name, "inner");
        CHECK_EQUAL(stats[1].self_ns, stats[1].total_ns);
        CHECK_TEXT(stats[2].name, "outer");
        CHECK(near(stats[2].self_ns, stats[2].total_ns - stats[1].total_ns, most));
        CHECK_TEXT(stats[3].name, "twice");
        CHECK(near(stats[3].self_ns, stats[3].max_ns, most));
        CHECK_EQUAL(stats[0].count + stats[1].count + stats[2].count + stats[3].count, 162);
    }
    prof_stats_free(stats);
    prof_trace_close(trace);
    prof_task_destroy(outer);
    prof_task_destroy(inner);
    prof_task_destroy(across);
    prof_task_destroy(twice);
}

TEST(nested_tasks) { check_nested_tasks(PROF_RING); }
TEST(nested_tasks_of_statistics) { check_nested_tasks(PROF_STATS); }
TEST(nested_tasks_of_statistics_beside_a_ring) { check_nested_tasks(PROF_RING_STATS); }

/* The figures of a live session, computed from its events. */
TEST(figures_of_events)
{
    prof_config config = trace_config(1u << 20);
    prof_trace *trace;
    trace_list list;
    uint64_t count = 0, total = 0, least = UINT64_MAX, most = 0;
    char expected[256], *text;
    trace_start(&config);
    record(500);
    trace = trace_stop();
    list = trace_read(trace, 0);
    for (size_t i = 0; i < list.count; ++i) {
        uint64_t ns = (uint64_t)list.events[i].duration_ns;
        if (list.events[i].type != PROF_EVENT_SCOPE) continue;
        count++;
        total += ns;
        if (ns < least) least = ns;
        if (ns > most) most = ns;
    }
    trace_free(&list);
    CHECK_EQUAL(count, 500);
    snprintf(expected, sizeof expected, "work%37llu %16.4f %16.4f %16.4f %16.4f\n", (unsigned long long)count,
             (double)(float)((double)total / 1e3 / 1e3), (double)(float)((double)least / 1e3 / 1e3),
             (double)(float)((double)most / 1e3 / 1e3), (double)(float)((double)total / (double)count / 1e3 / 1e3));
    text = text_of(trace, PROF_REPORT_MXNET);
    CHECK_HAS(text, expected);
    prof_report_free(text);
    prof_trace_close(trace);
}

TEST_MAIN
