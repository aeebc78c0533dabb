// PROF_WRAP_MALLOC in a C++ program: what malloc, the like, and operator new do, before main, in threads, in children,
// in the C library and in the standard library, is in the trace, with the function that called it; what prof itself
// allocates is not.
/* run: unchecked */
#define PROF_IMPLEMENTATION
#define PROF_WRAP_MALLOC
#define PROF_MALLOC_CALLERS
#include "../prof_chrome.h"
#include "../prof_html.h"
#include "../prof_ntff.h"
#include "../prof_report.h"
#include "../prof_xplane.h"
#include "test.h"
#include "trace.h"
#include <cerrno>
#include <map>
#include <memory>
#include <pthread.h>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <vector>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#ifdef PROF__WRAPS_MALLOC
#define WRAPPED 1
static void callers_busy(int busy) { prof__function_lock = busy; }
#else
static void callers_busy(int) {}
#define WRAPPED 0 // sanitizers have allocators of their own
#endif

static void *volatile keep; // or the compiler leaves the calls out

static std::map<std::string, int> before_main = {{"made", 1}, {"before", 2}, {"main", 3}};

struct figures {
    uint64_t count, bytes, live_count, live_bytes;
};

// The rows of one memory scope, those of blocks of the wrapper.
static figures figures_of(const prof_trace *trace, const char *scope)
{
    figures sum = {0, 0, 0, 0};
    prof_memory_stats *stats = NULL;
    CHECK_EQUAL(prof_memory(trace, &stats), PROF_OK);
    for (size_t i = 0; stats && i < stats->site_count; ++i) {
        const prof_memory_row *row = &stats->sites[i];
        if (strcmp(row->pool, "malloc") || strcmp(row->scope, scope)) continue;
        sum.count += row->count;
        sum.bytes += row->bytes;
        sum.live_count += row->live_count;
        sum.live_bytes += row->live_bytes;
    }
    prof_memory_free(stats);
    return sum;
}

#define CHECK_FIGURES(trace, scope, c, b, lc, lb)        \
    do {                                                 \
        figures test_f = figures_of(trace, scope);       \
        CHECK_EQUAL(test_f.count, c);                    \
        CHECK_EQUAL(test_f.bytes, b);                    \
        CHECK_EQUAL(test_f.live_count, lc);              \
        CHECK_EQUAL(test_f.live_bytes, lb);              \
    } while (0)

// The first: later, the C library knows its time zone.
TEST(what_the_c_library_allocates_for_a_report)
{
    if (!WRAPPED) SKIP("not in a build with a sanitizer");
    prof_config config = trace_config(1u << 20);
    trace_start(&config);
    {
        PROFILE_MEMORY_SCOPE("report");
        prof_report_free(prof_mxnet_dumps(PROF_REPORT_CNTK, PROF_SORT_TOTAL, 0, 0));
        keep = malloc(7);
    }
    free(keep);
    prof_trace *trace = trace_stop();
    CHECK_FIGURES(trace, "report", 1, 7, 0, 0);
    prof_trace_close(trace);
}

TEST(each_function)
{
    if (!WRAPPED) SKIP("not in a build with a sanitizer");
    prof_config config = trace_config(4u << 20);
    void *at[12];
    int thrown = 0;
    try {
        keep = ::operator new((size_t)-1 / 2);
    } catch (const std::bad_alloc &) {
        thrown = 1;
    }
    CHECK(thrown);
    trace_start(&config);
    {
        PROFILE_MEMORY_SCOPE("each");
        errno = 77;
        at[0] = malloc(1);
        at[1] = calloc(3, 5);
        at[2] = realloc(NULL, 100);
        at[2] = realloc(at[2], 100000);
        at[3] = aligned_alloc(64, 128);
        CHECK_EQUAL(posix_memalign(&at[4], 4096, 10), 0);
        CHECK_EQUAL(errno, 77);
#ifdef __GLIBC__
        at[5] = memalign(256, 20);
        at[6] = valloc(30);
        at[7] = pvalloc(1);
        at[8] = reallocarray(NULL, 4, 25);
#endif
        at[9] = ::operator new(1000);
        at[10] = new char[2000];
        keep = malloc((size_t)-1 / 2); // fails
        CHECK(!keep);
        CHECK_EQUAL(errno, ENOMEM);
        errno = 0;
        CHECK_EQUAL(posix_memalign(&at[11], 3, 10), EINVAL);
        CHECK_EQUAL(posix_memalign(&at[11], 8, (size_t)-1 / 2), ENOMEM);
        CHECK_EQUAL(errno, 0);
        keep = realloc(at[2], (size_t)-1 / 2); // fails, and leaves the block
        CHECK(!keep);
        CHECK(!((uintptr_t)at[3] % 64) && !((uintptr_t)at[4] % 4096) && !((uintptr_t)at[5] % 256));
        for (int i = 0; i < 15; ++i) CHECK(!static_cast<char *>(at[1])[i]);
        CHECK(malloc_usable_size(at[2]) >= 100000);
    }
    prof_trace *trace = trace_live();
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), small = 1 + 15 + 128 + 10 + 20 + 30 + page + 100 + 3000;
    CHECK_FIGURES(trace, "each", 12, small + 100 + 100000, 11, small + 100000);
    prof_trace_close(trace);
    errno = 78;
    for (int i = 0; i < 9; ++i) free(at[i]);
    free(NULL);
    CHECK_EQUAL(errno, 78);
    ::operator delete(at[9]);
    delete[] static_cast<char *>(at[10]);
    trace = trace_stop();
    CHECK_FIGURES(trace, "each", 12, small + 100 + 100000, 0, 0);
    prof_memory_stats *stats = NULL;
    CHECK_EQUAL(prof_memory(trace, &stats), PROF_OK);
    CHECK_EQUAL(stats->freed_twice, 0);
    CHECK_EQUAL(stats->not_freed, 0);
    prof_memory_free(stats);
    prof_trace_close(trace);
}

// Planted leaks, by the functions that made them; extern "C", so that their names are plain. Each stores what it gets, so
// that no call is a jump that ends the function.
extern "C" {
__attribute__((noinline)) void planted_malloc(size_t size) { keep = malloc(size); keep = malloc(size); free(keep); }
__attribute__((noinline)) void planted_calloc(size_t size) { keep = calloc(3, size); }
__attribute__((noinline)) void planted_realloc(size_t size) { keep = realloc(keep = malloc(1), size); }
__attribute__((noinline)) void planted_aligned(size_t size) { keep = aligned_alloc(64, size); }
__attribute__((noinline)) void planted_new(size_t size) { keep = ::operator new(size); }
__attribute__((noinline)) void planted_array(size_t size) { keep = new char[size]; }
__attribute__((noinline)) void planted_child(size_t size) { keep = malloc(size); }
__attribute__((noinline)) void planted_deeper(size_t size) { planted_malloc(size); keep = NULL; }
}

TEST(who_called)
{
    if (!WRAPPED) SKIP("not in a build with a sanitizer");
    static const struct { const char *function; uint64_t count, live_count, live_bytes; } wanted[] = {
        {"planted_malloc", 4, 2, 1500}, {"planted_calloc", 1, 1, 300}, {"planted_realloc", 2, 1, 70},
        {"planted_aligned", 1, 1, 640}, {"planted_new", 1, 1, 80}, {"planted_array", 1, 1, 90}};
    prof_config config = trace_config(1u << 20);
    size_t known = 0;
    volatile size_t bytes = 1; // not known to the compiler, which would make copies of the functions
    trace_start(&config);
    {
        PROFILE_SCOPE("around");
        PROFILE_MEMORY_SCOPE("planted");
        planted_malloc(1000 * bytes);
        planted_calloc(100 * bytes);
        planted_realloc(70 * bytes);
        planted_aligned(640 * bytes);
        planted_new(80 * bytes);
        planted_array(90 * bytes);
        planted_deeper(500 * bytes);
    }
    prof_trace *trace = trace_stop();
    prof_memory_stats *stats = NULL;
    CHECK_EQUAL(prof_memory(trace, &stats), PROF_OK);
    for (size_t i = 0; stats && i < stats->site_count; ++i) {
        const prof_memory_row *row = &stats->sites[i];
        if (strcmp(row->scope, "planted")) continue;
        const size_t before = known;
        for (size_t j = 0; j < sizeof wanted / sizeof *wanted; ++j) {
            if (strcmp(row->site->name, wanted[j].function)) continue;
            ++known;
            CHECK_EQUAL(row->count, wanted[j].count);
            CHECK_EQUAL(row->live_count, wanted[j].live_count);
            CHECK_EQUAL(row->live_bytes, wanted[j].live_bytes);
            CHECK_TEXT(row->pool, "malloc");
            CHECK_TEXT(row->around_name, "around");
            CHECK_TEXT(row->site->function, row->site->name);
        }
        CHECK_EQUAL(known, before + 1);
    }
    CHECK_EQUAL(known, sizeof wanted / sizeof *wanted);
    prof_memory_free(stats);
    trace_bytes text = {};
    CHECK_EQUAL(prof_summary_stream(trace, trace_sink(&text), NULL), PROF_OK);
    CHECK(text.bytes && strstr(text.bytes, "  by planted_malloc  "));
    free(text.bytes);
    prof_trace_close(trace);
}

static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

// The libraries' own calls: the figures follow from what they are known to do.
TEST(libraries)
{
    if (!WRAPPED) SKIP("not in a build with a sanitizer");
    prof_config config = trace_config(4u << 20);
    uint64_t grown = 0, times = 0;
    static int many[100000];
    trace_start(&config);
    {
        PROFILE_MEMORY_SCOPE("vector");
        std::vector<int> numbers;
        for (int i = 0; i < 10000; ++i) {
            size_t before = numbers.capacity();
            numbers.push_back(i);
            if (numbers.capacity() == before) continue;
            ++times;
            grown += numbers.capacity() * sizeof(int);
        }
    }
    {
        PROFILE_MEMORY_SCOPE("kept");
        before_main["a key that is too long to be kept inside of the string object"] = 4;
        std::unique_ptr<std::string> text(new std::string(1000, 'x'));
    }
    {
        PROFILE_MEMORY_SCOPE("libc");
        char *copy = strdup("nineteen characters");
        char *line = NULL;
        CHECK(asprintf(&line, "%s and %d", copy, 5) > 0);
        CHECK_TEXT(line, "nineteen characters and 5");
        free(copy);
        free(line);
        FILE *file = fopen(trace_path("wrap.txt"), "w");
        CHECK(file && fprintf(file, "%f\n", 0.1) > 0);
        if (file) fclose(file);
        for (int i = 0; i < 100000; ++i) many[i] = (int)((unsigned)i * 7919u % 100003u);
        qsort(many, 100000, sizeof *many, compare);
        for (int i = 1; i < 100000; ++i) CHECK(many[i - 1] <= many[i]);
    }
    prof_trace *trace = trace_stop();
    CHECK_FIGURES(trace, "vector", times, grown, 0, 0);
    figures f = figures_of(trace, "kept");
    CHECK_EQUAL(f.live_count, 2); // the key and its node
    CHECK_EQUAL(f.count, f.live_count + 2 + (f.count > 4)); // with or without a copy of the key
    f = figures_of(trace, "libc");
    CHECK(f.count >= 4);
    CHECK_EQUAL(f.live_count, 0);
    prof_trace_close(trace);
    CHECK_EQUAL(before_main.size(), 4);
    before_main.erase("a key that is too long to be kept inside of the string object");
}

// Blocks from before the session are freed in it.
TEST(blocks_from_before)
{
    if (!WRAPPED) SKIP("not in a build with a sanitizer");
    prof_config config = trace_config(1u << 20);
    void *old[50];
    for (int i = 0; i < 50; ++i) old[i] = malloc((size_t)i + 1);
    trace_start(&config);
    for (int i = 0; i < 50; ++i) free(old[i]);
    prof_trace *trace = trace_stop();
    prof_memory_stats *stats = NULL;
    CHECK_EQUAL(prof_memory(trace, &stats), PROF_OK);
    CHECK_EQUAL(stats->freed_unknown, 50);
    CHECK_EQUAL(stats->freed_twice, 0);
    prof_memory_free(stats);
    prof_trace_close(trace);
}

static void *worker(void *from_other)
{
    PROFILE_MEMORY_SCOPE("worker");
    void *blocks[32] = {NULL};
    uint64_t state = (uint64_t)(uintptr_t)&blocks;
    free(from_other);
    for (int i = 0; i < 20000; ++i) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        size_t which = (size_t)(state >> 33) % 32, size = (size_t)(state >> 50);
        if (state >> 40 & 1) {
            blocks[which] = realloc(blocks[which], size + 1);
        } else {
            free(blocks[which]);
            blocks[which] = malloc(size);
        }
    }
    for (int i = 0; i < 32; ++i) free(blocks[i]);
    return malloc(123);
}

// Threads take each other's addresses all the time: nothing may be left over.
TEST(threads)
{
    if (!WRAPPED) SKIP("not in a build with a sanitizer");
    prof_config config = trace_config(64u << 20);
    pthread_t threads[4];
    trace_start(&config);
    for (int i = 0; i < 4; ++i) CHECK(!pthread_create(&threads[i], NULL, worker, malloc(500)));
    for (int i = 0; i < 4; ++i) {
        void *result;
        CHECK(!pthread_join(threads[i], &result));
        CHECK(result != NULL);
        free(result);
    }
    prof_trace *trace = trace_stop();
    CHECK_EQUAL(prof_trace_about(trace)->overwritten_chunks, 0);
    CHECK_EQUAL(prof_trace_about(trace)->lost, 0);
    CHECK_EQUAL(figures_of(trace, "worker").live_count, 0);
    CHECK_EQUAL(figures_of(trace, "worker").live_bytes, 0);
    prof_memory_stats *stats = NULL;
    CHECK_EQUAL(prof_memory(trace, &stats), PROF_OK);
    CHECK_EQUAL(stats->freed_twice, 0);
    CHECK_EQUAL(stats->not_freed, 0);
    prof_memory_free(stats);
    prof_trace_close(trace);
}

static int ignore(void *, const prof_ntff_artifact *)
{
    return 0;
}

// Reading, saving and reporting while the session runs allocate a lot, in prof and in the C library for prof.
TEST(what_prof_allocates)
{
    if (!WRAPPED) SKIP("not in a build with a sanitizer");
    static const char *const files[] = {"wrap.json", "wrap.csv", "wrap.txt", "wrap.pprof", "wrap/", "wrap.html",
                                        "wrap.prof"};
    prof_config config = trace_config(8u << 20);
    trace_start(&config);
    for (int i = 0; i < 20000; ++i) {
        PROFILE_SCOPE_F("scope %d", i % 5000);
        PROFILE_COUNTER("counter", i);
    }
    {
        PROFILE_MEMORY_SCOPE("reading");
        for (size_t i = 0; i < sizeof files / sizeof *files; ++i) CHECK_EQUAL(prof_save(trace_path(files[i])), PROF_OK);
        for (int i = 0; i < PROF_REPORT_LAYOUT_COUNT; ++i) {
            char *text = prof_mxnet_dumps((prof_report_layout)i, PROF_SORT_TOTAL, 0, 0);
            CHECK(text != NULL);
            prof_report_free(text);
        }
        prof_trace *trace = NULL;
        prof_stat *stats = NULL;
        size_t count = 0;
        CHECK_EQUAL(prof_trace_open(trace_path("wrap.prof"), &trace), PROF_OK);
        CHECK_EQUAL(prof_stats(trace, PROF_SORT_TOTAL, 0, &stats, &count), PROF_OK);
        prof_stats_free(stats);
        prof_trace_close(trace);
        CHECK_EQUAL(prof_ntff_list(trace_path("wrap"), ignore, NULL), PROF_OK);
        keep = malloc(99);
    }
    free(keep);
    prof_trace *trace = trace_stop();
    prof_memory_stats *stats = NULL;
    CHECK_EQUAL(prof_memory(trace, &stats), PROF_OK);
    CHECK_EQUAL(stats->freed_unknown, 0);
    prof_memory_free(stats);
    CHECK_FIGURES(trace, "reading", 1, 99, 0, 0);
    prof_trace_close(trace);
}

// A child records what it allocates into an image of its own.
TEST(children)
{
    if (!WRAPPED) SKIP("not in a build with a sanitizer");
    const char *path = trace_path("wrap_fork.prof");
    prof_config config = trace_config(1u << 20);
    config.output = path;
    trace_start(&config);
    keep = malloc(10);
    callers_busy(1); // as if another thread was just adding to the table of callers
    pid_t child = fork();
    if (child) callers_busy(0);
    if (!child) {
        PROFILE_MEMORY_SCOPE("child");
        free(keep);
        planted_child(5);
        for (int i = 0; i < 100; ++i) keep = malloc((size_t)i);
        std::thread([]() { free(keep); }).join();
        _exit(7);
    }
    int status = 0;
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    CHECK_EQUAL(system("exit 3") >> 8, 3);
    free(keep);
    prof_trace *trace = trace_stop();
    CHECK_FIGURES(trace, "child", 0, 0, 0, 0);
    prof_trace_close(trace);
    char own[300];
    snprintf(own, sizeof own, "%.*s.%ld.prof", (int)strlen(path) - 5, path, (long)child);
    trace = trace_open_file(own);
    if (!trace) return;
    figures f = figures_of(trace, "child");
    CHECK(f.count >= 100 && f.bytes >= 4950);
    CHECK(f.live_count >= 99 && f.live_count < 110);
    prof_memory_stats *stats = NULL;
    CHECK_EQUAL(prof_memory(trace, &stats), PROF_OK);
    CHECK_EQUAL(stats->freed_unknown, 1); // the parent's
    size_t named = 0;
    for (size_t i = 0; i < stats->site_count; ++i) named += !strcmp(stats->sites[i].site->name, "planted_child");
    CHECK_EQUAL(named, 1);
    prof_memory_free(stats);
    prof_trace_close(trace);
    remove(own);
}

TEST_MAIN
