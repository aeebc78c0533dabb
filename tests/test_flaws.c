/* What goes wrong in the profilers that prof.h learnt from (CNTK's, MXNet's, TensorFlow's, JAX's, AWS Neuron's), and
   does not here. Only what no other test proves: docs/internals/flaws.md lists all. Compiled as C++, too: see
   test_flaws_cpp.cpp. */
#include "../prof_chrome.h"
#include "test.h"
#include "trace.h"
#include "json.h"
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static prof_trace *trace;
static trace_list list;

static void start_with(size_t buffer_size, prof_mode mode)
{
    prof_config config = trace_config(buffer_size);
    config.mode = mode;
    trace_start(&config);
}

static void stop_and_read(void)
{
    trace = trace_stop();
    list = trace_read(trace, 0);
}

static void done(void)
{
    trace_free(&list);
    prof_trace_close(trace);
}

typedef prof_status (*stream_function)(const prof_trace *trace, prof_sink sink);

static prof_status summary(const prof_trace *of, prof_sink sink) { return prof_summary_stream(of, sink, NULL); }
static prof_status chrome(const prof_trace *of, prof_sink sink) { return prof_chrome_stream(of, sink, NULL); }

static char *text_from(stream_function stream, const prof_trace *of)
{
    trace_bytes to = {NULL, 0, 0, 0};
    CHECK_EQUAL(stream(of, trace_sink(&to)), PROF_OK);
    CHECK(to.bytes != NULL);
    if (!to.bytes) trace_bytes_add(&to, "", 0);
    return to.bytes;
}

static json *json_from(const prof_trace *of)
{
    char *text = text_from(chrome, of);
    json *root = json_parse(text, strlen(text));
    free(text);
    return root;
}

static json *json_from_file(const char *path)
{
    size_t size;
    char *text = trace_file_text(path, &size);
    json *root;
    CHECK(text != NULL);
    root = text ? json_parse(text, size) : NULL;
    free(text);
    return root;
}

static size_t json_count(const json *root, const char *key, const char *value)
{
    size_t count = 0;
    const json *events = member(root, "traceEvents");
    for (const json *each = events ? events->child : NULL; each; each = each->next)
        count += !strcmp(text_of(each, key), value);
    return count;
}

static const json *json_named(const json *root, const char *name)
{
    const json *events = member(root, "traceEvents");
    for (const json *each = events ? events->child : NULL; each; each = each->next)
        if (!strcmp(text_of(each, "name"), name)) return each;
    return NULL;
}

/*-- CNTK --*/

/* PROFILE_SCOPE("My custom event"), as CNTK's manual has it, does not compile there, nor do two of one name in a
   block. */
TEST(scopes_are_named_by_strings_and_a_block_has_many)
{
    const char *computed = "name made at run time";
    start_with(256u << 10, PROF_RING);
    {
        PROFILE_SCOPE("My custom event");
        PROFILE_SCOPE("My custom event");
        PROFILE_SCOPE("another"); PROFILE_SCOPE("another"); /* on one line, too */
        PROFILE_SCOPE_DYNAMIC(computed);
        PROFILE_FUNCTION();
        PROFILE_FUNCTION();
    }
    if (computed) PROFILE_BLOCK("block") PROFILE_BLOCK("block") PROFILE_MARK("inside");
    stop_and_read();
    CHECK_EQUAL(list.count, 10);
    CHECK_EQUAL(trace_count(&list, "My custom event"), 2);
    CHECK_EQUAL(trace_count(&list, "another"), 2);
    CHECK_EQUAL(trace_count(&list, computed), 1);
    CHECK_EQUAL(trace_count(&list, __func__), 2);
    CHECK_EQUAL(trace_count(&list, "block"), 2);
    for (uint32_t i = 0; i < 7 && i < list.count; ++i) CHECK_EQUAL(list.events[i].depth, i);
    done();
}

/* CNTK warns once and then loses in silence. */
TEST(what_is_lost_is_counted_in_every_output)
{
    enum { TRIED = 50000 };
    char text[64];
    start_with(128u << 10, PROF_FILL);
    for (int i = 0; i < TRIED; ++i) { PROFILE_SCOPE("scope"); }
    stop_and_read();
    uint64_t lost = prof_trace_about(trace)->lost, shown = 0;
    CHECK(lost > 0);
    CHECK_EQUAL(trace_count(&list, "scope") + lost, TRIED);
    CHECK_EQUAL(prof_trace_track(trace, 0)->lost, lost);

    char *report = text_from(summary, trace);
    snprintf(text, sizeof text, "\n%llu events lost", (unsigned long long)lost);
    char grouped[32];
    snprintf(grouped, sizeof grouped, lost < 1000 ? "%.0llu%03llu" : "%llu,%03llu", (unsigned long long)lost / 1000, (unsigned long long)lost % 1000);
    CHECK(strstr(report, text) || (strstr(report, grouped) && strstr(report, "lost in a full buffer")));
    free(report);

    report = text_from(prof_csv_stream, trace);
    for (const char *at = report; (at = strstr(at, ",lost,lost,,")); ++at) {
        const char *field = at;
        for (int commas = 0; *field && commas < 8; ++field) commas += *field == ',';
        shown += strtoull(field, NULL, 10); /* the column "value" */
    }
    CHECK_EQUAL(shown, lost);
    free(report);

    json *root = json_from(trace);
    snprintf(text, sizeof text, "%llu", (unsigned long long)lost);
    CHECK_TEXT(text_of(member(root, "otherData"), "lost"), text);
    json_free(root);
    done();
}

/* CNTK's summary has only the thirteen events that CNTK knows; MXNet's has events only once a timer has moved them. */
TEST(everything_the_user_names_is_in_the_figures_at_once)
{
    char text[32];
    prof_stat *stats = NULL;
    size_t count = 0, seen = 0;
    start_with(256u << 10, PROF_RING);
    for (int i = 0; i < 3; ++i) {
        PROFILE_SCOPE("static");
        snprintf(text, sizeof text, "dynamic %d", i);
        PROFILE_SCOPE_DYNAMIC(text);
        { PROFILE_SCOPE_F("formatted %d", i); }
    }
    CHECK_EQUAL(prof_trace_open_live(&trace), PROF_OK); /* nothing was stopped, drained or dumped */
    CHECK_EQUAL(prof_stats(trace, PROF_SORT_NAME, 1, &stats, &count), PROF_OK);
    for (size_t i = 0; i < count; ++i) {
        if (!strcmp(stats[i].name, "static")) seen += (size_t)stats[i].count;
        if (!strncmp(stats[i].name, "dynamic ", 8)) seen += 10 * (size_t)stats[i].count;
        if (!strncmp(stats[i].name, "formatted ", 10)) seen += 100 * (size_t)stats[i].count;
    }
    CHECK_EQUAL(seen, 333);
    prof_stats_free(stats);
    char *report = text_from(summary, trace);
    CHECK(strstr(report, "\nstatic ") && strstr(report, "\ndynamic 2 ") && strstr(report, "\nformatted "));
    free(report);
    prof_trace_close(trace);
    CHECK_EQUAL(prof_stop(), PROF_OK);
}

/* CNTK takes one mutex twice for an event. Here a thread that stands still in the middle of a macro stops nobody. */
static int stands, goes, finished; /* stands, goes: how often the thread has stopped, and may have gone on */

static void stand_still(int signal)
{
    (void)signal;
    int turn = __atomic_add_fetch(&stands, 1, __ATOMIC_ACQ_REL);
    WAIT_UNTIL(__atomic_load_n(&goes, __ATOMIC_ACQUIRE) >= turn);
}

static void some_scopes(int count)
{
    for (int i = 0; i < count; ++i) {
        PROFILE_SCOPE("scope");
        PROFILE_ARG_I("i", i);
    }
}

static void *records(void *unused)
{
    while (!__atomic_load_n(&finished, __ATOMIC_ACQUIRE)) some_scopes(100);
    return unused;
}

TEST(a_thread_that_stands_still_in_a_macro_stops_nobody)
{
    pthread_t thread;
    start_with(128u << 10, PROF_RING); /* small, so that threads take chunks from each other, too */
    some_scopes(1);
    stands = goes = finished = 0;
    signal(SIGUSR1, stand_still);
    CHECK(!pthread_create(&thread, NULL, records, NULL));
    alarm(100); /* whoever waits for the one that stands waits for ever */
    for (int i = 1; i <= (int)trace_times(20, 300, 10000); ++i) {
        pthread_kill(thread, SIGUSR1);
        WAIT_UNTIL(__atomic_load_n(&stands, __ATOMIC_ACQUIRE) >= i);
        some_scopes(3000);
        __atomic_store_n(&goes, i, __ATOMIC_RELEASE);
    }
    alarm(0);
    __atomic_store_n(&finished, 1, __ATOMIC_RELEASE);
    CHECK(!pthread_join(thread, NULL));
    signal(SIGUSR1, SIG_DFL);
    prof_trace_close(trace_stop());
}

/*-- MXNet --*/

static size_t check_whole_file(const char *path, size_t scopes)
{
    json *root = json_from_file(path);
    CHECK_EQUAL(json_count(root, "name", "scope"), scopes);
    CHECK_EQUAL(json_count(root, "name", "process_name"), 1);
    CHECK_EQUAL(json_count(root, "name", "thread_name"), 1);
    json_free(root);
    return scopes;
}

/* MXNet's second dump begins with a comma and has lost the names of the processes. */
TEST(two_dumps_in_a_row_are_both_whole)
{
    const char *path = trace_path("flaws_dump.json"), *other = trace_path("flaws_other.json");
    start_with(256u << 10, PROF_RING);
    for (int i = 0; i < 5; ++i) { PROFILE_SCOPE("scope"); }
    CHECK_EQUAL(prof_save(path), PROF_OK);
    check_whole_file(path, 5);
    CHECK_EQUAL(prof_save(path), PROF_OK);
    check_whole_file(path, 5);
    for (int i = 0; i < 5; ++i) { PROFILE_SCOPE("scope"); }
    CHECK_EQUAL(prof_save(path), PROF_OK);
    CHECK_EQUAL(prof_save(other), PROF_OK);
    check_whole_file(path, 10);
    check_whole_file(other, 10);
    CHECK_EQUAL(prof_stop(), PROF_OK);
    CHECK_EQUAL(prof_save(path), PROF_OK);
    check_whole_file(path, 10);
}

static uint64_t random_state;
static uint32_t random_below(uint32_t limit)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(random_state >> 33) % limit;
}

/* MXNet asserts or crashes when it is configured, stopped, dumped or asked for figures in an order it did not expect.
   Here a model of ten lines says what each call answers, and what is saved is whole. */
TEST(control_calls_in_any_order_do_what_they_say)
{
    int exists = 0, running = 0, paused = 0; /* the model; exists: a session's trace can be read */
    size_t recorded = 0;
    const char *path = trace_path("flaws_any_order.json");
    random_state = (uint64_t)getpid();
    printf("seed %llu\n", (unsigned long long)random_state);
    prof_reset();
    for (int i = 0; i < 3000 && !test_failures; ++i) {
        prof_config config = trace_config(256u << 10);
        switch (random_below(8)) {
        case 0:
            CHECK_EQUAL(prof_start(&config), running ? PROF_INVALID_STATE : PROF_OK);
            if (!running) recorded = 0, paused = 0;
            exists = running = 1;
            break;
        case 1:
            CHECK_EQUAL(prof_stop(), running ? PROF_OK : PROF_INVALID_STATE);
            running = 0;
            break;
        case 2:
            CHECK_EQUAL(prof_pause(), running ? PROF_OK : PROF_INVALID_STATE);
            paused += running;
            break;
        case 3:
            CHECK_EQUAL(prof_resume(), running && paused ? PROF_OK : PROF_INVALID_STATE);
            paused -= running && paused;
            break;
        case 4:
            CHECK_EQUAL(prof_save(path), exists ? PROF_OK : PROF_INVALID_STATE);
            if (exists && i % 8 == 0) check_whole_file(path, recorded < 1 ? 0 : recorded);
            break;
        case 5:
            CHECK_EQUAL(prof_config_set(&config, "output", path), PROF_OK);
            break;
        case 6:
            CHECK_EQUAL(prof_trace_open_live(&trace), exists ? PROF_OK : PROF_INVALID_STATE);
            if (exists) CHECK_EQUAL(prof_trace_about(trace)->event_count, recorded);
            if (exists) free(text_from(summary, trace));
            prof_trace_close(trace);
            break;
        default:
            CHECK_EQUAL(prof_enabled(), running && !paused);
            for (int k = 0; k < 3; ++k) { PROFILE_SCOPE("scope"); }
            if (running && !paused) recorded += 3;
        }
    }
    prof_stop();
}

/* MXNet's dumps(reset=True) reads a null pointer when there are no statistics. */
TEST(reports_without_data_are_empty_reports)
{
    prof_stat *stats = (prof_stat *)&stats;
    size_t count = 1;
    start_with(256u << 10, PROF_RING);
    for (int stopped = 0; stopped < 2; ++stopped) {
        CHECK_EQUAL(prof_trace_open_live(&trace), PROF_OK);
        CHECK_EQUAL(prof_trace_about(trace)->event_count, 0);
        CHECK_EQUAL(prof_stats(trace, PROF_SORT_TOTAL, 0, &stats, &count), PROF_OK);
        CHECK_EQUAL(count, 0);
        prof_stats_free(stats);
        CHECK_EQUAL(prof_stats_by_path(trace, PROF_SORT_TOTAL, 0, &stats, &count), PROF_OK);
        CHECK_EQUAL(count, 0);
        prof_stats_free(stats);
        char *report = text_from(summary, trace);
        CHECK(strstr(report, "no scopes") != NULL);
        free(report);
        report = text_from(prof_csv_stream, trace);
        CHECK(strchr(report, '\n') == report + strlen(report) - 1); /* the header alone */
        free(report);
        json_free(json_from(trace));
        prof_trace_close(trace);
        if (!stopped) CHECK_EQUAL(prof_stop(), PROF_OK);
    }
}

static void recurse(int depth)
{
    PROFILE_SCOPE("recursion");
    if (depth) recurse(depth - 1);
}

/* MXNet counted operators twice, once for each list that they were in. */
TEST(nothing_is_counted_twice)
{
    start_with(1u << 20, PROF_RING);
    for (int i = 0; i < 100; ++i) {
        PROFILE_SCOPE_C("operator", "a");
        PROFILE_SCOPE_C("operator", "b");
        recurse(3);
    }
    for (int round = 0; round < 3; ++round) { /* asking does not change the answer */
        prof_stat *stats = NULL;
        size_t count = 0;
        uint64_t calls = 0, self = 0, outermost = 0;
        CHECK_EQUAL(prof_trace_open_live(&trace), PROF_OK);
        CHECK_EQUAL(prof_stats(trace, PROF_SORT_TOTAL, 0, &stats, &count), PROF_OK);
        CHECK_EQUAL(count, 3);
        for (size_t i = 0; i < count; ++i) {
            calls += stats[i].count;
            self += stats[i].self_ns;
            CHECK_EQUAL(stats[i].count, strcmp(stats[i].name, "operator") ? 400 : 100);
            CHECK(stats[i].total_ns <= (uint64_t)prof_trace_about(trace)->duration_ns);
            if (!strcmp(stats[i].site->category, "a")) outermost = stats[i].total_ns;
        }
        CHECK_EQUAL(calls, 600);
        CHECK_EQUAL(calls, prof_trace_about(trace)->event_count);
        CHECK_EQUAL(self, outermost); /* each nanosecond belongs to one scope */
        prof_stats_free(stats);
        prof_trace_close(trace);
    }
    CHECK_EQUAL(prof_stop(), PROF_OK);
}

/* The figures of a counter in the summary: min, mean, max, last. */
static void counter_row(const char *report, const char *name, double want[4])
{
    char start[32], plain[256];
    double got[4] = {0, 0, 0, 0};
    size_t length = 0;
    snprintf(start, sizeof start, "\n%s ", name);
    const char *row = strstr(report, start);
    for (const char *c = row ? row + strlen(start) : ""; *c && *c != '\n' && length < sizeof plain - 1; ++c)
        if (*c != ',') plain[length++] = *c; /* 5,000,000,000 */
    plain[length] = 0;
    CHECK(sscanf(plain, "%*s %lf %lf %lf %lf", got, got + 1, got + 2, got + 3) == 4);
    for (int i = 0; i < 4; ++i) CHECK(got[i] >= want[i] && got[i] <= want[i]);
}

/* MXNet's mean is (max - min) / 2, its minimum begins at 2147483647, and its counters wrap below 0. */
TEST(figures_of_counters_are_theirs)
{
    double once[] = {5e9, 5e9, 5e9, 5e9}, sinks[] = {-10, 0, 10, -10}, fraction[] = {0, 0.375, 0.75, 0.75};
    start_with(256u << 10, PROF_RING);
    PROFILE_COUNTER("once", 5000000000);
    for (int i = 10; i >= -10; i -= 5) PROFILE_COUNTER("sinks", i);
    for (int i = 0; i < 4; ++i) PROFILE_COUNTER("fraction", i / 4.0);
    PROFILE_COUNTER("edge", INT64_MIN);
    PROFILE_COUNTER("edge", INT64_MAX);
    stop_and_read();
    CHECK(trace_nth(&list, "edge", 0)->value.as.i == INT64_MIN);
    CHECK(trace_nth(&list, "edge", 1)->value.as.i == INT64_MAX);
    char *report = text_from(summary, trace);
    counter_row(report, "once", once);
    counter_row(report, "sinks", sinks);
    counter_row(report, "fraction", fraction);
    free(report);
    done();
}

/* MXNet splits its configuration at colons and commas. */
TEST(a_path_may_hold_what_separates_options)
{
    const char *path = trace_path("flaws k:v,k=v;#1.json");
    prof_config config;
    memset(&config, 0, sizeof config);
    CHECK_EQUAL(prof_config_set(&config, "output", path), PROF_OK);
    CHECK_TEXT(config.output, path);
    remove(path);
    trace_start(&config);
    { PROFILE_SCOPE("scope"); }
    CHECK_EQUAL(prof_stop(), PROF_OK);
    check_whole_file(path, 1);
}

/*-- TensorFlow, JAX --*/

/* Of two sessions TensorFlow says "Another profiling session active."; anybody may read the one there is, here. */
TEST(one_session_serves_many_and_a_second_start_says_what_is_in_the_way)
{
    prof_trace *first = NULL, *second = NULL;
    start_with(256u << 10, PROF_RING);
    { PROFILE_SCOPE("scope"); }
    CHECK_EQUAL(prof_start(NULL), PROF_INVALID_STATE);
    CHECK(strstr(prof_error(), "a session is running already: call prof_stop() first") == prof_error());
    CHECK_EQUAL(prof_trace_open_live(&first), PROF_OK);
    { PROFILE_SCOPE("scope"); }
    CHECK_EQUAL(prof_trace_open_live(&second), PROF_OK);
    CHECK_EQUAL(prof_trace_about(first)->event_count, 1);
    CHECK_EQUAL(prof_trace_about(second)->event_count, 2);
    prof_trace_close(first);
    prof_trace_close(second);
    stop_and_read();
    CHECK_EQUAL(list.count, 2); /* the failed start took nothing away */
    done();
}

/* TensorFlow's trace.json ends in an empty event, JAX's has a "metadata" that blanked Perfetto. */
TEST(json_has_no_empty_event_and_no_metadata)
{
    start_with(256u << 10, PROF_RING);
    PROFILE_THREAD("main");
    { PROFILE_SCOPE("scope"); }
    PROFILE_FRAME("frame");
    PROFILE_FRAME("frame");
    PROFILE_COUNTER("counter", 1);
    PROFILE_MARK("mark");
    stop_and_read();
    json *root = json_from(trace);
    for (const json *each = root ? root->child : NULL; each; each = each->next)
        CHECK(!strcmp(each->key, "traceEvents") || !strcmp(each->key, "displayTimeUnit") || !strcmp(each->key, "otherData"));
    const json *events = member(root, "traceEvents");
    CHECK(events && events->child);
    for (const json *each = events ? events->child : NULL; each; each = each->next)
        CHECK(*text_of(each, "ph") && *text_of(each, "name"));
    json_free(root);
    done();
}

static const char *const exact[] = {"007", "1,b=2", "#k=v#", "a#b,c=d", "{[(\"'", "-0", "1e3", "true", "", " x ", "nan"};
enum { EXACT = sizeof exact / sizeof *exact };

/* TensorFlow puts metadata into the name, as name#key=value,...#: "#" and "," break it, and "007" becomes 7. */
TEST(keys_and_values_stay_exact)
{
    start_with(256u << 10, PROF_RING);
    for (int i = 0; i < EXACT; ++i) {
        PROFILE_SCOPE("name#k=v#");
        PROFILE_ARG_S("a#b,c=d", exact[i]);
        PROFILE_ARG_I("#", 7);
    }
    stop_and_read();
    json *root = json_from(trace);
    CHECK_EQUAL(trace_count(&list, "name#k=v#"), EXACT);
    CHECK_EQUAL(json_count(root, "name", "name#k=v#"), EXACT);
    const json *events = member(root, "traceEvents"), *event = events ? events->child : NULL;
    for (size_t i = 0; i < EXACT && i < list.count; ++i) {
        const prof_value *value = trace_arg(&list.events[i], "a#b,c=d");
        CHECK(value && value->type == PROF_VALUE_STRING);
        CHECK_TEXT(value ? value->as.string : "none", exact[i]);
        CHECK_EQUAL(trace_arg(&list.events[i], "#")->type, PROF_VALUE_INT);
        while (event && strcmp(text_of(event, "name"), "name#k=v#")) event = event->next;
        const json *written = member(member(event, "args"), "a#b,c=d");
        CHECK(written && written->type == '"');
        CHECK_TEXT(text_of(member(event, "args"), "a#b,c=d"), exact[i]);
        CHECK_TEXT(text_of(member(event, "args"), "#"), "7");
        if (event) event = event->next;
    }
    CHECK(json_named(root, "name") == NULL);
    json_free(root);
    done();
}

static int made;
static const char *make_name(void)
{
    ++made;
    return "made";
}

/* TensorFlow makes names in debug builds even while nothing records: effects and costs differ from the release's. */
TEST(names_are_made_only_when_recorded_in_every_build)
{
    static const char *const files[] = {"prof.h", "prof_chrome.h"};
    for (int recording = 0; recording < 2; ++recording) {
        made = 0;
        if (recording) start_with(256u << 10, PROF_RING);
        PROFILE_MARK_DYNAMIC(make_name());
        { PROFILE_SCOPE_DYNAMIC(make_name()); }
        { PROFILE_SCOPE_F("%s", make_name()); }
        PROFILE_MARK_F("%s", make_name());
        {
            PROFILE_SCOPE("around");
            PROFILE_ARG_S("key", make_name());
        }
        CHECK_EQUAL(made, recording ? 5 : 0);
        if (recording) CHECK_EQUAL(prof_stop(), PROF_OK);
    }
    for (int i = 0; i < 2; ++i) { /* nor does anything else ask which build this is */
        char *text = trace_file_text(files[i], NULL);
        CHECK(text != NULL);
        if (text) CHECK(!strstr(text, "NDEBUG") && !strstr(text, " assert(")); /* static_assert is the compiler's */
        if (text) CHECK(!strstr(text, " _DEBUG") && !strstr(text, "(_DEBUG"));
        free(text);
    }
}

TEST_MAIN
