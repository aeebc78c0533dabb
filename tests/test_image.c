/* test_image.c - what the command-line tool uses of the headers: statistics by call path, traces on one timeline,
   images found, shortened, copied. The tool itself is in test_tool.sh. */
/* run: traces */
#include "../prof_chrome.h"
#include "test.h"
#include "trace.h"

static void leaf(void) { PROFILE_FUNCTION(); }
static void down(int depth)
{
    PROFILE_FUNCTION();
    leaf();
    if (depth) down(depth - 1);
}

static void record(const char *output, size_t buffer)
{
    prof_config config = trace_config(buffer);
    config.output = output;
    trace_start(&config);
    for (int i = 0; i < 3; ++i) {
        PROFILE_SCOPE("a");
        leaf();
        down(2);
    }
    {
        PROFILE_SCOPE("b");
        leaf();
    }
}

/* "a/leaf", of an entry. */
static void path_of(const prof_stat *stats, size_t i, char *to, size_t size)
{
    char inner[200];
    snprintf(to, size, "%s", stats[i].name);
    for (i = stats[i].parent; i != PROF_NO_PARENT; i = stats[i].parent) {
        snprintf(inner, sizeof inner, "%.199s", to);
        snprintf(to, size, "%.50s/%s", stats[i].name, inner);
    }
}

TEST(stats_by_path)
{
    static const char *const paths[] = {"a", "a/down", "a/down/down", "a/down/down/down", "a/down/down/down/leaf",
                                        "a/down/down/leaf", "a/down/leaf", "a/leaf", "b", "b/leaf"};
    prof_trace *trace;
    prof_stat *stats, *flat;
    size_t count, flat_count;
    record(NULL, 1 << 20);
    trace = trace_stop();
    CHECK_EQUAL(prof_stats_by_path(trace, PROF_SORT_NAME, 1, &stats, &count), PROF_OK);
    CHECK_EQUAL(count, sizeof paths / sizeof *paths);
    uint64_t leaves = 0, leaf_ns = 0, self = 0;
    for (size_t i = 0; i < count && i < sizeof paths / sizeof *paths; ++i) {
        char path[256];
        path_of(stats, i, path, sizeof path);
        CHECK_TEXT(path, paths[i]);
        CHECK_EQUAL(stats[i].count, *path == 'a' ? 3 : 1);
        CHECK(stats[i].parent == PROF_NO_PARENT ? stats[i].depth == 0 : stats[i].parent < i &&
              stats[i].depth == stats[stats[i].parent].depth + 1);
        CHECK_EQUAL(stats[i].sum_ns, stats[i].total_ns);
        if (!strcmp(stats[i].name, "leaf")) leaves += stats[i].count, leaf_ns += stats[i].total_ns;
        self += stats[i].self_ns;
    }
    CHECK_EQUAL(prof_stats(trace, PROF_SORT_NAME, 1, &flat, &flat_count), PROF_OK);
    CHECK_EQUAL(flat_count, 4); /* a, b, down, leaf */
    for (size_t i = 0; i < flat_count; ++i) {
        CHECK(flat[i].parent == PROF_NO_PARENT && !flat[i].depth);
        self -= flat[i].self_ns;
        if (strcmp(flat[i].name, "leaf")) continue;
        CHECK_EQUAL(flat[i].count, leaves);
        CHECK_EQUAL(flat[i].total_ns, leaf_ns);
    }
    CHECK_EQUAL(self, 0); /* each nanosecond is in one place in both */
    prof_stats_free(stats);
    prof_stats_free(flat);
    CHECK_EQUAL(prof_stats_by_path(NULL, PROF_SORT_NAME, 1, &stats, &count), PROF_INVALID_ARGUMENT);
    prof_trace_close(trace);
}

static void add_share(void *user, double share) { *(double *)user += share; }

TEST(watch)
{
    prof_trace *trace;
    double done = 0;
    record(NULL, 1 << 20);
    trace = trace_stop();
    prof_trace_set_progress(trace, add_share, &done);
    CHECK_EQUAL(prof_csv_write(trace, trace_path("watch.csv")), PROF_OK);
    CHECK(done > 0.999 && done < 1.001);
    prof_trace_set_progress(trace, NULL, NULL);
    CHECK_EQUAL(prof_csv_write(trace, trace_path("watch.csv")), PROF_OK);
    CHECK(done < 1.001);
    prof_trace_set_progress(NULL, add_share, &done);
    prof_trace_close(trace);
}

TEST(write_by_extension)
{
    prof_trace *trace;
    record(NULL, 1 << 20);
    trace = trace_stop();
    CHECK_EQUAL(prof_trace_write(trace, trace_path("by.json"), NULL), PROF_OK);
    CHECK_EQUAL(prof_trace_write(trace, trace_path("by.what"), ".json"), PROF_OK);
    CHECK_EQUAL(trace_file_size(trace_path("by.json")), trace_file_size(trace_path("by.what")));
    CHECK_EQUAL(prof_trace_write(trace, trace_path("by.what"), NULL), PROF_INVALID_ARGUMENT);
    CHECK_EQUAL(prof_trace_write(trace, trace_path("by.prof"), NULL), PROF_INVALID_ARGUMENT);
    CHECK_EQUAL(prof_trace_write(NULL, trace_path("by.json"), NULL), PROF_INVALID_ARGUMENT);
    CHECK_EQUAL(prof_trace_write(trace, NULL, ".json"), PROF_INVALID_ARGUMENT);
    prof_trace_close(trace);
}

/* Two recordings of this process, one after the other: on one timeline by the monotonic clock. */
TEST(align)
{
    prof_trace *traces[3];
    int64_t offsets[3];
    record(NULL, 1 << 20);
    traces[1] = trace_stop();
    record(NULL, 1 << 20);
    traces[0] = trace_stop();
    CHECK_EQUAL(prof_trace_align((const prof_trace *const *)traces, 2, offsets), *prof_trace_about(traces[0])->boot_id ? 1 : 2);
    CHECK_EQUAL(offsets[1], 0);
    if (*prof_trace_about(traces[0])->boot_id) {
        CHECK_EQUAL(offsets[0], prof_trace_about(traces[0])->start_monotonic_ns - prof_trace_about(traces[1])->start_monotonic_ns);
        CHECK(offsets[0] > prof_trace_about(traces[1])->duration_ns);
    }
    traces[2] = traces[1];
    CHECK_EQUAL(prof_trace_align((const prof_trace *const *)traces + 1, 2, offsets) > 0, 1);
    CHECK(offsets[0] == 0 && offsets[1] == 0);
    CHECK_EQUAL(prof_trace_align(NULL, 0, NULL), 0);
    CHECK_EQUAL(prof_chrome_merge((const prof_trace *const *)traces, 3, trace_path("merge.json"), NULL), PROF_OK);
    CHECK_EQUAL(prof_chrome_merge((const prof_trace *const *)traces, 0, trace_path("merge.json"), NULL), PROF_INVALID_ARGUMENT);
    CHECK_EQUAL(prof_chrome_merge(NULL, 1, trace_path("merge.json"), NULL), PROF_INVALID_ARGUMENT);
    prof_trace_close(traces[0]);
    traces[0] = NULL;
    CHECK_EQUAL(prof_chrome_merge((const prof_trace *const *)traces, 2, trace_path("merge.json"), NULL), PROF_INVALID_ARGUMENT);
    prof_trace_close(traces[1]);
}

/* Of an image that is cut off at each 1/40, what is left of it opens, and holds no event that the whole did not. */
TEST(find_and_shorten)
{
    char path[256];
    snprintf(path, sizeof path, "%s", trace_path("shorten.prof"));
    record(path, 256 << 10);
    for (int i = 0; i < 2000; ++i) down(1);
    prof_trace_close(trace_stop());
    size_t size, opened = 0;
    char *bytes = trace_file_text(path, &size), *part = (char *)malloc(size);
    uint64_t whole = 0, image_size = 0, before = 0;
    CHECK_EQUAL(prof_image_find(bytes, size, &whole), PROF_OK);
    CHECK(whole <= size);
    CHECK_EQUAL(prof_image_find(bytes, PROF_IMAGE_LOOK, &image_size), PROF_OK);
    CHECK_EQUAL(image_size, whole);
    CHECK_EQUAL(prof_image_find(bytes, 20, &image_size), PROF_CORRUPT);
    CHECK_EQUAL(prof_image_find(bytes + 1, size - 1, &image_size), PROF_CORRUPT);
    CHECK_EQUAL(prof_image_find(NULL, 0, &image_size), PROF_INVALID_ARGUMENT);
    for (size_t step = 0; step <= 40; ++step) {
        size_t left = (size_t)whole * step / 40;
        prof_trace *trace = NULL;
        memcpy(part, bytes, size);
        if (prof_image_shorten(part, left, &image_size) != PROF_OK) {
            CHECK(!opened);
            continue;
        }
        CHECK(image_size <= left);
        char *exact = (char *)malloc((size_t)image_size); /* so that a sanitizer sees what is read behind it */
        memcpy(exact, part, (size_t)image_size);
        CHECK_EQUAL(prof_trace_open_memory(exact, (size_t)image_size, &trace), PROF_OK);
        if (trace) {
            trace_check(trace);
            /* the whole is not overwritten, so that more is more */
            CHECK(prof_trace_about(trace)->event_count >= before);
            before = prof_trace_about(trace)->event_count;
            if (step < 40 && before < 8000) CHECK(!prof_trace_about(trace)->complete);
            if (step == 40) CHECK(prof_trace_about(trace)->complete);
            ++opened;
        }
        prof_trace_close(trace);
        free(exact);
    }
    CHECK(opened > 25);
    CHECK(before >= 8000);
    free(bytes);
    free(part);
}

TEST(copy_and_window)
{
    char path[256], copy[256];
    snprintf(path, sizeof path, "%s", trace_path("copied.prof"));
    snprintf(copy, sizeof copy, "%s", trace_path("copy.prof"));
    record(path, 256 << 10);
    CHECK_EQUAL(prof_image_copy(path, copy, PROF_SAME_WINDOW, 0), PROF_OK); /* while it is being recorded into */
    prof_trace *live = trace_open_file(copy);
    CHECK(live && !prof_trace_about(live)->complete);
    prof_trace *trace = trace_stop();
    CHECK(live && prof_trace_about(live)->event_count == prof_trace_about(trace)->event_count);
    prof_trace_close(live);
    int64_t end = prof_trace_about(trace)->duration_ns;
    CHECK_EQUAL(prof_image_copy(path, copy, end / 2, end), PROF_OK);
    prof_trace *part = NULL;
    CHECK_EQUAL(prof_trace_open(copy, &part), PROF_OK); /* a cursor returns what is in the window, which may be less */
    CHECK(part && prof_trace_about(part)->from_ns >= end / 2 && prof_trace_about(part)->from_ns < end / 2 + 50);
    CHECK(part && prof_trace_about(part)->to_ns >= end && prof_trace_about(part)->to_ns < end + 50);
    prof_trace_close(part);
    size_t size;
    char *bytes = trace_file_text(copy, &size);
    CHECK_EQUAL(prof_image_set_window(bytes, size, 0, 0), PROF_OK);
    CHECK_EQUAL(prof_trace_open_memory(bytes, size, &part), PROF_OK);
    CHECK(part && !prof_trace_about(part)->from_ns && !prof_trace_about(part)->to_ns);
    prof_trace_close(part);
    CHECK_EQUAL(prof_image_set_window(bytes, size, 5, 3), PROF_INVALID_ARGUMENT);
    CHECK_EQUAL(prof_image_set_window(bytes, 10, 0, 0), PROF_CORRUPT);
    CHECK_EQUAL(prof_image_copy(path, copy, 5, 3), PROF_INVALID_ARGUMENT);
    CHECK_EQUAL(prof_image_copy(trace_path("nowhere.prof"), copy, PROF_SAME_WINDOW, 0), PROF_IO);
    CHECK_EQUAL(prof_image_copy(path, "/dev/null/nowhere/copy.prof", PROF_SAME_WINDOW, 0), PROF_IO);
    CHECK_EQUAL(prof_image_copy(NULL, copy, PROF_SAME_WINDOW, 0), PROF_INVALID_ARGUMENT);
    free(bytes);
    prof_trace_close(trace);
}

TEST_MAIN
