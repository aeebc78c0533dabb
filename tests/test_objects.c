/* Objects: domains, tasks, frames, ranges, counters and markers made at run time; spans of the macros; how their begins
   and ends are matched, in statistics, in windows, after a crash and in Chrome's JSON. */
/* run: optimised clocks */
#include "../prof_chrome.h"
#include "test.h"
#include "trace.h"
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/*-- all spans of a trace as an array --*/

typedef struct span_list {
    prof_span *spans; /* their names are copies */
    size_t count;
} span_list;

static span_list spans_read(const prof_trace *trace)
{
    span_list list = {NULL, 0};
    prof_spans *spans = NULL;
    prof_span span;
    CHECK_EQUAL(prof_spans_open(trace, &spans), PROF_OK);
    while (prof_spans_next(spans, &span)) {
        if (!(list.count & (list.count - 1))) /* room for twice as many at each power of two */
            list.spans = (prof_span *)realloc(list.spans, (list.count * 2 + 1) * sizeof span);
        char *name = (char *)malloc(strlen(span.name) + 1);
        strcpy(name, span.name);
        span.name = name;
        list.spans[list.count++] = span;
        CHECK(span.duration_ns >= 0);
        CHECK(span.begin_track < prof_trace_track_count(trace));
        CHECK(span.end_track < prof_trace_track_count(trace));
    }
    CHECK_EQUAL(prof_spans_close(spans), PROF_OK);
    return list;
}

static void spans_free(span_list *list)
{
    for (size_t i = 0; i < list->count; ++i) free((char *)(uintptr_t)list->spans[i].name);
    free(list->spans);
}

/* The nth span of a name in order of their ends; one that is all zero if there are not as many. */
static prof_span span_nth(const span_list *list, const char *name, size_t nth)
{
    prof_span none;
    memset(&none, 0, sizeof none);
    for (size_t i = 0; i < list->count; ++i)
        if (!strcmp(list->spans[i].name, name) && !nth--) return list->spans[i];
    CHECK_TEXT("no such span", name);
    none.name = "";
    return none;
}

static char *summary_text(const prof_trace *trace)
{
    const char *path = trace_path("objects.txt");
    CHECK_EQUAL(prof_summary_write(trace, path, NULL), PROF_OK);
    return trace_file_text(path, NULL);
}

static size_t occurrences(const char *text, const char *what)
{
    size_t count = 0;
    for (; text && (text = strstr(text, what)); text += strlen(what)) ++count;
    return count;
}

static char *chrome_text(const prof_trace *trace, const prof_chrome_options *options)
{
    const char *path = trace_path("objects.json");
    CHECK_EQUAL(prof_chrome_write(trace, path, options), PROF_OK);
    return trace_file_text(path, NULL);
}

static void start(void)
{
    prof_config config = trace_config(4u << 20);
    CHECK_EQUAL(prof_start(&config), PROF_OK);
}

/*-- handles --*/

TEST(counters_with_units)
{
    char text[8] = "MHz";
    start();
    prof_counter *counters[] = {prof_counter_create(NULL, "memory"), prof_counter_create_unit(NULL, "memory", text),
                                prof_counter_create_unit(prof_domain_create("net"), "memory", "B"),
                                prof_counter_create_unit(NULL, NULL, "%"), prof_counter_create_unit(NULL, "memory", ""),
                                prof_counter_create_unit(NULL, "memory", NULL)};
    static const char *const units[] = {"", "MHz", "B", "%", "", ""};
    strcpy(text, "changed"); /* units are copied */
    for (size_t i = 0; i < 6; ++i) prof_counter_set(counters[i], (int64_t)i);
    for (size_t i = 0; i < 6; ++i) prof_counter_destroy(counters[i]);
    prof_trace *trace = trace_stop();
    trace_list list = trace_read(trace, 0);
    CHECK_EQUAL(list.count, 6);
    for (size_t i = 0; i < list.count && i < 6; ++i) {
        CHECK_EQUAL(list.events[i].value.as.i, (int64_t)i);
        CHECK_TEXT(list.events[i].site->unit, units[i]);
        CHECK_TEXT(list.events[i].site->file, "");
        CHECK_TEXT(list.events[i].name, i == 3 ? "" : "memory");
    }
    CHECK(list.count == 6 && list.events[0].site == list.events[4].site && list.events[0].site != list.events[1].site);
    trace_free(&list);
    prof_trace_close(trace);
}

TEST(one_of_each)
{
    char text[16] = "loading";
    start();
    prof_domain *net = prof_domain_create("net");
    prof_task *task = prof_task_create(net, text);
    prof_frame *frame = prof_frame_create(net, "present");
    prof_range *range = prof_range_create("range");
    prof_counter *counter = prof_counter_create(net, "queue");
    prof_marker *marker = prof_marker_create(net, "here");
    strcpy(text, "changed"); /* names are copied */
    prof_task_start(task);
    prof_frame_start(frame);
    prof_range_start(range);
    prof_counter_set(counter, 7);
    prof_counter_add(counter, 3);
    prof_counter_sub(counter, 11);
    prof_marker_mark(marker, PROF_MARK_PROCESS);
    prof_range_stop(range);
    prof_frame_stop(frame);
    prof_task_stop(task);
    prof_task_destroy(task);
    prof_frame_destroy(frame);
    prof_range_destroy(range);
    prof_counter_destroy(counter);
    prof_marker_destroy(marker);
    prof_trace *trace = trace_stop();
    trace_list list = trace_read(trace, 0);
    CHECK_EQUAL(list.count, 9);
    const prof_event *e = trace_find(&list, "range");
    CHECK(e && e->type == PROF_EVENT_SCOPE && !e->flags);
    if (e) CHECK_TEXT(e->site->category, "");
    static const int64_t values[] = {7, 10, -1};
    for (size_t i = 0; i < 3; ++i) {
        e = trace_nth(&list, "queue", i);
        CHECK(e && e->type == PROF_EVENT_COUNTER && e->value.type == PROF_VALUE_INT);
        if (e) CHECK_EQUAL(e->value.as.i, values[i]);
        if (e) CHECK_TEXT(e->site->category, "net");
    }
    e = trace_find(&list, "here");
    CHECK(e && e->type == PROF_EVENT_MARK && e->site->role == PROF_ROLE_MARK_PROCESS);
    span_list spans = spans_read(trace);
    CHECK_EQUAL(spans.count, 2);
    prof_span span = span_nth(&spans, "loading", 0);
    CHECK(!span.flags && span.site->role == PROF_ROLE_TASK);
    CHECK_TEXT(span.site->category, "net");
    span = span_nth(&spans, "present", 0);
    CHECK(!span.flags && span.site->role == PROF_ROLE_FRAME);
    CHECK_EQUAL(span.number, 1);
    spans_free(&spans);
    trace_free(&list);
    prof_trace_close(trace);
}

TEST(null_is_fine)
{
    prof_task_start(NULL);
    prof_task_stop(NULL);
    prof_task_destroy(NULL);
    prof_frame_start(NULL);
    prof_frame_stop(NULL);
    prof_frame_destroy(NULL);
    prof_range_start(NULL);
    prof_range_stop(NULL);
    prof_range_destroy(NULL);
    prof_counter_set(NULL, 1);
    prof_counter_add(NULL, 1);
    prof_counter_sub(NULL, 1);
    prof_counter_set_uint(NULL, 1);
    prof_counter_set_double(NULL, 1);
    prof_counter_add_double(NULL, 1);
    prof_counter_destroy(NULL);
    prof_marker_mark(NULL, PROF_MARK_TASK);
    prof_marker_destroy(NULL);
    CHECK_TEXT(prof_domain_name(NULL), "");
    CHECK_EQUAL(prof_domain_enable(NULL, 1), PROF_INVALID_ARGUMENT);
    CHECK_EQUAL(prof_spans_open(NULL, NULL), PROF_INVALID_ARGUMENT);
    CHECK_EQUAL(prof_spans_next(NULL, NULL), 0);
    CHECK_EQUAL(prof_spans_close(NULL), PROF_OK);
    prof_task *task = prof_task_create(NULL, NULL); /* no domain, no name */
    CHECK(task != NULL);
    start();
    prof_task_start(task);
    prof_task_stop(task);
    prof_task_destroy(task);
    prof_trace *trace = trace_stop();
    span_list spans = spans_read(trace);
    CHECK_EQUAL(spans.count, 1);
    CHECK_TEXT(span_nth(&spans, "", 0).site->category, "");
    spans_free(&spans);
    prof_trace_close(trace);
}

/* Handles that are older than the session, and outlive it; what they do in between is not recorded. */
TEST(over_several_sessions)
{
    prof_domain *domain = prof_domain_create("old");
    prof_task *task = prof_task_create(domain, "task");
    prof_frame *frame = prof_frame_create(domain, "frame");
    prof_range *range = prof_range_create("range");
    prof_counter *counter = prof_counter_create(domain, "counter");
    prof_marker *marker = prof_marker_create(domain, "marker");
    for (int session = 0; session < 3; ++session) {
        for (int on = 0; on < 2; ++on) {
            if (on) start();
            prof_task_start(task);
            prof_frame_start(frame);
            prof_range_start(range);
            prof_counter_add(counter, 1);
            prof_marker_mark(marker, PROF_MARK_GLOBAL);
            prof_range_stop(range);
            prof_frame_stop(frame);
            prof_task_stop(task);
        }
        prof_trace *trace = trace_stop();
        trace_list list = trace_read(trace, 0);
        span_list spans = spans_read(trace);
        CHECK_EQUAL(spans.count, 2);
        CHECK_EQUAL(span_nth(&spans, "task", 0).flags, 0);
        CHECK_EQUAL(span_nth(&spans, "frame", 0).number, session * 2 + 2); /* all are counted */
        CHECK_EQUAL(list.count, 7);
        const prof_event *e = trace_find(&list, "counter");
        CHECK(e != NULL);
        if (e) CHECK_EQUAL(e->value.as.i, session * 2 + 2); /* the same */
        spans_free(&spans);
        trace_free(&list);
        prof_trace_close(trace);
    }
    prof_task_destroy(task);
    prof_frame_destroy(frame);
    prof_range_destroy(range);
    prof_counter_destroy(counter);
    prof_marker_destroy(marker);
}

/*-- domains --*/

static void *create_domains(void *to)
{
    prof_domain **domains = (prof_domain **)to;
    for (int i = 0; i < 100; ++i) {
        char name[32];
        snprintf(name, sizeof name, "raced %d", i);
        domains[i] = prof_domain_create(name);
    }
    return NULL;
}

TEST(one_domain_for_a_name)
{
    static prof_domain *domains[4][100];
    const char *names[1000];
    pthread_t threads[4];
    size_t before = prof_domain_list(NULL, 0), found = 0;
    for (int i = 0; i < 4; ++i) CHECK(!pthread_create(&threads[i], NULL, create_domains, domains[i]));
    for (int i = 0; i < 4; ++i) CHECK(!pthread_join(threads[i], NULL));
    for (int i = 0; i < 100; ++i) {
        for (int k = 1; k < 4; ++k) CHECK(domains[k][i] == domains[0][i]);
        for (int k = 0; k < i; ++k) CHECK(domains[0][k] != domains[0][i]);
    }
    CHECK_EQUAL(prof_domain_list(NULL, 0), before + 100);
    CHECK_EQUAL(prof_domain_list(names, 1000), before + 100);
    for (size_t i = 0; i < before + 100; ++i) found += !strncmp(names[i], "raced ", 6);
    CHECK_EQUAL(found, 100);
    CHECK(prof_domain_create("raced 50") == domains[2][50]);
    CHECK_TEXT(prof_domain_name(domains[0][50]), "raced 50");
    names[1] = "untouched";
    CHECK_EQUAL(prof_domain_list(names, 1), before + 100);
    CHECK_TEXT(names[1], "untouched");
}

static size_t listed(const char *name)
{
    const char *names[1000];
    size_t count = prof_domain_list(names, 1000), found = 0;
    for (size_t i = 0; i < count && i < 1000; ++i) found += !strcmp(names[i], name);
    return found;
}

/* What macros are called by can be turned on and off, too, and so is on the list; also what is off. */
TEST(categories_are_listed)
{
    char name[] = "listed text"; /* of a module that goes */
    static prof_site site;
    CHECK_EQUAL(listed("listed a"), 0);
    prof_config config = trace_config(1 << 20);
    config.categories = "-listed b";
    trace_start(&config);
    for (int i = 0; i < 2; ++i) {
        PROFILE_MARK_C("on", "listed a");
        PROFILE_MARK_C("off", "listed b");
    }
    PROFILE_MARK("none");
    site.name = site.file = site.function = "";
    site.category = name;
    site.kind = PROF__KIND_MARK;
    prof__mark(&site);
    memset(name, 0, sizeof name);
    CHECK_EQUAL(listed("listed a"), 1);
    CHECK_EQUAL(listed("listed b"), 1);
    CHECK_EQUAL(listed("listed text"), 1);
    CHECK_EQUAL(listed(""), 0);
    CHECK(prof_domain_create("listed a") != NULL); /* the same */
    CHECK_EQUAL(listed("listed a"), 1);
    prof_device_row *row = prof_device_row_create(prof_device_create("listed device", NULL), "row");
    prof_device_mark(row, "mark", 1);
    CHECK_EQUAL(listed("listed device"), 1);
    prof_trace_close(trace_stop());
    prof_reset();
    CHECK_EQUAL(listed("listed b"), 1); /* still */
    PROFILE_MARK_C("while nothing records", "listed c");
    CHECK_EQUAL(listed("listed c"), 1);
}

static void mark_all(prof_marker **markers)
{
    for (int i = 0; i < 3; ++i) prof_marker_mark(markers[i], PROF_MARK_THREAD);
    PROFILE_MARK_C("static", "switch*");
    PROFILE_MARK("other");
}

TEST(switched_while_running)
{
    prof_domain *stars = prof_domain_create("switch*"), *one = prof_domain_create("switch1");
    prof_domain *two = prof_domain_create("switch2");
    prof_marker *markers[3];
    static const struct {
        int stars, one, two, fixed, other;
    } want[] = {{1, 1, 1, 1, 1}, {0, 1, 1, 0, 1}, {1, 1, 0, 1, 1}, {1, 0, 0, 1, 1}};
    CHECK_EQUAL(prof_domain_enable(stars, 0), PROF_INVALID_STATE);
    start();
    markers[0] = prof_marker_create(stars, "stars");
    markers[1] = prof_marker_create(one, "one");
    markers[2] = prof_marker_create(two, "two");
    CHECK_EQUAL(prof_domain_enable(one, 1), PROF_OK); /* turns nothing else off, though it is the first rule */
    PROFILE_MARK("round");
    mark_all(markers);
    CHECK_EQUAL(prof_domain_enable(stars, 0), PROF_OK); /* not switch1 */
    PROFILE_MARK("round");
    mark_all(markers);
    CHECK_EQUAL(prof_domain_enable(stars, 1), PROF_OK);
    CHECK_EQUAL(prof_domain_enable(two, 0), PROF_OK);
    PROFILE_MARK("round");
    mark_all(markers);
    CHECK_EQUAL(prof_category_enable("switch*", 0), PROF_OK); /* a pattern: all three */
    CHECK_EQUAL(prof_domain_enable(stars, 1), PROF_OK);       /* the last one decides */
    PROFILE_MARK("round");
    mark_all(markers);
    for (int i = 0; i < 3; ++i) prof_marker_destroy(markers[i]);
    prof_trace *trace = trace_stop();
    trace_list list = trace_read(trace, 0);
    size_t at = 0;
    for (size_t round = 0; round < 4; ++round) {
        int stars_seen = 0, one_seen = 0, two_seen = 0, fixed = 0, other = 0;
        CHECK(at < list.count && !strcmp(list.events[at].name, "round"));
        for (++at; at < list.count && strcmp(list.events[at].name, "round"); ++at) {
            stars_seen += !strcmp(list.events[at].name, "stars");
            one_seen += !strcmp(list.events[at].name, "one");
            two_seen += !strcmp(list.events[at].name, "two");
            fixed += !strcmp(list.events[at].name, "static");
            other += !strcmp(list.events[at].name, "other");
        }
        CHECK_EQUAL(stars_seen, want[round].stars);
        CHECK_EQUAL(one_seen, want[round].one);
        CHECK_EQUAL(two_seen, want[round].two);
        CHECK_EQUAL(fixed, want[round].fixed);
        CHECK_EQUAL(other, want[round].other);
    }
    trace_free(&list);
    prof_trace_close(trace);
}

/*-- spans --*/

enum { TASKS = 200, STOPPERS = 4 };
static prof_task *many_tasks[TASKS];

static void *stop_tasks(void *number)
{
    for (size_t i = (size_t)number; i < TASKS; i += STOPPERS) {
        prof_task_stop(many_tasks[TASKS - 1 - i]);
        PROFILE_SPAN_END("macro", TASKS - 1 - i);
    }
    return NULL;
}

TEST(begun_here_and_ended_there)
{
    pthread_t threads[STOPPERS];
    prof_domain *domain = prof_domain_create("jobs");
    start();
    for (size_t i = 0; i < TASKS; ++i) {
        many_tasks[i] = prof_task_create(domain, "job");
        prof_task_start(many_tasks[i]);
        PROFILE_SPAN_BEGIN("macro", i);
    }
    PROFILE_SPAN_MARK("macro", 17);
    PROFILE_SPAN_MARK("macro", TASKS);
    for (size_t i = 0; i < STOPPERS; ++i) CHECK(!pthread_create(&threads[i], NULL, stop_tasks, (void *)i));
    for (size_t i = 0; i < STOPPERS; ++i) CHECK(!pthread_join(threads[i], NULL));
    for (size_t i = 0; i < TASKS; ++i) prof_task_destroy(many_tasks[i]);
    prof_trace *trace = trace_stop();
    span_list spans = spans_read(trace);
    unsigned char seen[TASKS] = {0};
    size_t macros = 0, jobs = 0, marks = 0;
    uint64_t marked = 0;
    int64_t end = 0;
    for (size_t i = 0; i < spans.count; ++i) {
        const prof_span *span = &spans.spans[i];
        CHECK_EQUAL(span->flags, 0);
        CHECK(span->start_ns + span->duration_ns >= end); /* in order of their ends */
        end = span->start_ns + span->duration_ns;
        marks += (size_t)span->mark;
        if (span->mark && span->id == 17) marked = span->serial;
        if (span->mark && span->id == TASKS) CHECK_EQUAL(span->serial, 0);
        if (span->mark) continue;
        CHECK_EQUAL(span->begin_track, 0);
        CHECK(span->end_track > 0);
        if (!strcmp(span->name, "job")) ++jobs;
        if (strcmp(span->name, "macro")) continue;
        ++macros;
        CHECK(span->id < TASKS && !seen[span->id]);
        if (span->id < TASKS) seen[span->id] = 1;
        if (span->id == 17) CHECK(span->serial == marked && marked);
    }
    CHECK_EQUAL(jobs, TASKS);
    CHECK_EQUAL(macros, TASKS);
    CHECK_EQUAL(marks, 2);
    spans_free(&spans);

    prof_stat *stats = NULL;
    size_t count = 0;
    CHECK_EQUAL(prof_span_stats(trace, PROF_SORT_NAME, 1, &stats, &count), PROF_OK);
    CHECK_EQUAL(count, 2);
    for (size_t i = 0; i < count; ++i) {
        CHECK_EQUAL(stats[i].count, TASKS);
        CHECK_EQUAL(stats[i].truncated, 0);
        CHECK(stats[i].min_ns <= stats[i].p50_ns && stats[i].p50_ns <= stats[i].max_ns);
        CHECK(stats[i].total_ns >= stats[i].max_ns && stats[i].self_ns == stats[i].total_ns);
    }
    if (count == 2) CHECK_TEXT(stats[0].name, "job");
    if (count == 2) CHECK_TEXT(stats[0].site->category, "jobs");
    prof_stats_free(stats);
    CHECK_EQUAL(prof_stats(trace, PROF_SORT_NAME, 1, &stats, &count), PROF_OK);
    CHECK_EQUAL(count, 0); /* no scopes */
    prof_stats_free(stats);
    prof_trace_close(trace);
}

TEST(halves_are_reported)
{
    start();
    PROFILE_SPAN_END("no begin", 5);
    PROFILE_SPAN_BEGIN("no end", 5);
    PROFILE_SPAN_BEGIN("whole", 5);
    PROFILE_SPAN_END("whole", 6); /* another one */
    trace_next_instant();         /* its begin may be on another thread, at the same instant: it waits for that */
    PROFILE_SPAN_END("whole", 5);
    prof_trace *trace = trace_stop();
    int64_t first = prof_trace_track(trace, 0)->first_ns;
    span_list spans = spans_read(trace);
    CHECK_EQUAL(spans.count, 4);
    CHECK_EQUAL(span_nth(&spans, "no begin", 0).flags, PROF_TRUNCATED_BEGIN);
    CHECK_EQUAL(span_nth(&spans, "no begin", 0).start_ns, first);
    prof_span open = span_nth(&spans, "no end", 0);
    CHECK_EQUAL(open.flags, PROF_TRUNCATED_END);
    CHECK(open.start_ns + open.duration_ns >= prof_trace_about(trace)->duration_ns);
    CHECK_EQUAL(span_nth(&spans, "whole", 0).flags, PROF_TRUNCATED_BEGIN);
    CHECK_EQUAL(span_nth(&spans, "whole", 0).id, 6);
    CHECK_EQUAL(span_nth(&spans, "whole", 1).flags, 0);
    CHECK_TEXT(spans.spans[3].name, "no end"); /* those still open come last */
    spans_free(&spans);
    char *text = summary_text(trace);
    CHECK(strstr(text, "\n2 spans ended, but with no begin: counted, but in no time\n"));
    CHECK(strstr(text, "\n1 span began, but with no end: counted, but in no time\n"));
    free(text);
    prof_stat *stats = NULL;
    size_t count = 0;
    uint64_t all = 0, truncated = 0;
    CHECK_EQUAL(prof_span_stats(trace, PROF_SORT_TOTAL, 0, &stats, &count), PROF_OK);
    for (size_t i = 0; i < count; ++i) {
        all += stats[i].count;
        truncated += stats[i].truncated;
    }
    CHECK_EQUAL(all, 4);
    CHECK_EQUAL(truncated, 3);
    prof_stats_free(stats);
    prof_trace_close(trace);
}

/* One task within itself; and equal names and ids of macros, of tasks and of other domains are told apart. */
TEST(what_belongs_together)
{
    prof_domain *a = prof_domain_create("a"), *b = prof_domain_create("b");
    prof_task *first = prof_task_create(a, "same"), *second = prof_task_create(b, "same");
    start();
    prof_task_start(first);
    prof_task_start(second);
    prof_task_start(first);
    prof_task_stop(first);
    prof_task_stop(first);
    prof_task_stop(second);
    prof_trace *trace = trace_stop();
    trace_list list = trace_read(trace, 0);
    uint64_t id = list.events[0].object;
    span_list spans = spans_read(trace);
    CHECK_EQUAL(spans.count, 3);
    if (spans.count == 3) {
        const prof_span *s = spans.spans;
        for (size_t i = 0; i < 3; ++i) CHECK_EQUAL(s[i].flags, 0);
        CHECK_TEXT(s[0].site->category, "a");
        CHECK_TEXT(s[1].site->category, "a");
        CHECK_TEXT(s[2].site->category, "b");
        CHECK(s[0].start_ns >= s[1].start_ns && s[0].serial != s[1].serial); /* the last start has the first stop */
        CHECK_EQUAL(s[0].start_ns, list.events[2].start_ns);
        CHECK_EQUAL(s[1].start_ns, list.events[0].start_ns);
    }
    spans_free(&spans);
    trace_free(&list);
    prof_trace_close(trace);

    start();
    prof_task_start(first);
    PROFILE_SPAN_BEGIN_C("same", id, "a"); /* by chance the id of the task */
    prof_task_stop(first);
    PROFILE_SPAN_MARK_C("same", id, "a");
    PROFILE_SPAN_END_C("same", id, "a");
    trace = trace_stop();
    spans = spans_read(trace);
    CHECK_EQUAL(spans.count, 3);
    if (spans.count == 3) {
        CHECK_EQUAL(spans.spans[0].site->role, PROF_ROLE_TASK);
        CHECK_EQUAL(spans.spans[1].mark, 1);
        CHECK_EQUAL(spans.spans[1].serial, spans.spans[2].serial);
        CHECK_EQUAL(spans.spans[0].flags | spans.spans[2].flags, 0);
    }
    spans_free(&spans);
    prof_trace_close(trace);
    prof_task_destroy(first);
    prof_task_destroy(second);
}

static void pass_time(void)
{
    for (volatile int i = 0; i < 20000; ++i) continue;
}

TEST(in_a_window)
{
    int64_t at[5];
    start();
    PROFILE_SPAN_BEGIN("around", 1);
    PROFILE_SPAN_BEGIN("reaches in", 1);
    PROFILE_SPAN_BEGIN("before", 1);
    PROFILE_SPAN_END("before", 1);
    pass_time();
    PROFILE_MARK("cut");
    pass_time();
    PROFILE_SPAN_MARK("around", 1);
    PROFILE_SPAN_END("reaches in", 1);
    PROFILE_SPAN_BEGIN("inside", 1);
    PROFILE_SPAN_END("inside", 1);
    PROFILE_SPAN_BEGIN("reaches out", 1);
    PROFILE_SPAN_END("never begun", 1);
    pass_time();
    PROFILE_MARK("cut");
    pass_time();
    PROFILE_SPAN_MARK("around", 1);
    PROFILE_SPAN_BEGIN("after", 1);
    PROFILE_SPAN_END("after", 1);
    PROFILE_SPAN_END("reaches out", 1);
    PROFILE_SPAN_END("around", 1);
    prof_trace *trace = trace_stop();
    trace_list list = trace_read(trace, 0);
    at[0] = trace_nth(&list, "cut", 0)->start_ns;
    at[1] = trace_nth(&list, "cut", 1)->start_ns;
    trace_free(&list);
    CHECK_EQUAL(prof_trace_set_window(trace, at[0], at[1]), PROF_OK);
    span_list spans = spans_read(trace);
    CHECK_EQUAL(spans.count, 6);
    prof_span span = span_nth(&spans, "around", 0);
    CHECK_EQUAL(span.mark, 1);
    span = span_nth(&spans, "around", 1);
    CHECK_EQUAL(span.flags, PROF_TRUNCATED_BEGIN | PROF_TRUNCATED_END);
    CHECK_EQUAL(span.start_ns, at[0]);
    CHECK_EQUAL(span.duration_ns, at[1] - at[0]);
    span = span_nth(&spans, "reaches in", 0);
    CHECK_EQUAL(span.flags, PROF_TRUNCATED_BEGIN);
    CHECK_EQUAL(span.start_ns, at[0]);
    CHECK_EQUAL(span_nth(&spans, "inside", 0).flags, 0);
    span = span_nth(&spans, "reaches out", 0);
    CHECK_EQUAL(span.flags, PROF_TRUNCATED_END);
    CHECK_EQUAL(span.start_ns + span.duration_ns, at[1]);
    CHECK_EQUAL(span_nth(&spans, "never begun", 0).flags, PROF_TRUNCATED_BEGIN);
    spans_free(&spans);
    char *text = chrome_text(trace, NULL);
    CHECK_EQUAL(occurrences(text, "{\"ph\":\"b\""), 5);
    CHECK_EQUAL(occurrences(text, "{\"ph\":\"e\""), 5);
    CHECK_EQUAL(occurrences(text, "{\"ph\":\"n\""), 1);
    free(text);
    prof_trace_close(trace);
}

TEST(open_when_the_process_is_killed)
{
    const char *path = trace_path("objects_killed.prof");
    remove(path);
    pid_t child = fork();
    if (!child) {
        prof_config config = trace_config(1u << 20);
        config.output = path;
        if (prof_start(&config)) _exit(1);
        prof_task *task = prof_task_create(prof_domain_create("crash"), "task");
        prof_task_start(task);
        PROFILE_SPAN_BEGIN("request", 0x1234);
        PROFILE_SPAN_BEGIN("done", 1);
        PROFILE_SPAN_END("done", 1);
        kill(getpid(), SIGKILL);
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status));
    prof_trace *trace = trace_open_file(path);
    if (!trace) return;
    span_list spans = spans_read(trace);
    CHECK_EQUAL(spans.count, 3);
    CHECK_EQUAL(span_nth(&spans, "done", 0).flags, 0);
    CHECK_EQUAL(span_nth(&spans, "request", 0).flags, PROF_TRUNCATED_END);
    CHECK_EQUAL(span_nth(&spans, "request", 0).id, 0x1234);
    CHECK_EQUAL(span_nth(&spans, "task", 0).flags, PROF_TRUNCATED_END);
    spans_free(&spans);
    prof_trace_close(trace);
}

/* Old chunks are reused: of many spans the newest are whole, of some only the end is left, and none is lost twice. */
TEST(in_a_ring)
{
    prof_config config = trace_config(128u << 10);
    uint64_t count = 100000, whole = 0, halves = 0;
    CHECK_EQUAL(prof_start(&config), PROF_OK);
    for (uint64_t i = 0; i < count; ++i) {
        PROFILE_SPAN_BEGIN("item", i);
        if (i >= 10) PROFILE_SPAN_END("item", i - 10);
        trace_next_instant(); /* spans of one instant have no order */
    }
    prof_trace *trace = trace_stop();
    CHECK(prof_trace_about(trace)->overwritten_chunks > 0);
    span_list spans = spans_read(trace);
    for (size_t i = 0; i < spans.count; ++i) {
        if (spans.spans[i].flags == PROF_TRUNCATED_BEGIN) {
            CHECK_EQUAL(whole, 0); /* only the first of those that are left */
            ++halves;
        } else if (spans.spans[i].flags == PROF_TRUNCATED_END) {
            CHECK(spans.spans[i].id >= count - 10);
        } else {
            ++whole;
        }
    }
    CHECK(halves <= 10);
    CHECK_EQUAL(spans.count, whole + halves + 10);
    CHECK_EQUAL((whole + 10) * 2 + halves - 10, prof_trace_about(trace)->event_count);
    spans_free(&spans);
    prof_trace_close(trace);
}

TEST(many_open_at_a_time)
{
    uint64_t count = 20000;
    prof_config config = trace_config(4u << 20);
    CHECK_EQUAL(prof_start(&config), PROF_OK);
    for (uint64_t i = 0; i < count; ++i) PROFILE_SPAN_BEGIN("open", i * i);
    for (uint64_t i = 0; i < count; ++i) PROFILE_SPAN_END("open", (i * 7919 % count) * (i * 7919 % count));
    prof_trace *trace = NULL;
    CHECK_EQUAL(prof_stop(), PROF_OK);
    CHECK_EQUAL(prof_trace_open_live(&trace), PROF_OK);
    span_list spans = spans_read(trace);
    CHECK_EQUAL(spans.count, count);
    for (size_t i = 0; i < spans.count; ++i) {
        CHECK_EQUAL(spans.spans[i].flags, 0);
        CHECK_EQUAL(spans.spans[i].id, (i * 7919 % count) * (i * 7919 % count));
        if (test_failures > 10) break;
    }
    spans_free(&spans);
    prof_spans *early = NULL; /* left while most are open */
    prof_span span;
    CHECK_EQUAL(prof_spans_open(trace, &early), PROF_OK);
    CHECK_EQUAL(prof_spans_next(early, &span), 1);
    CHECK_EQUAL(prof_spans_close(early), PROF_OK);
    prof_trace_close(trace);
}

/*-- frames --*/

TEST(frames_are_numbered)
{
    prof_frame *frame = prof_frame_create(prof_domain_create("frames"), "render");
    prof_frame *other = prof_frame_create(prof_domain_create("others"), "render");
    start();
    for (int i = 0; i < 5; ++i) {
        prof_frame_start(frame);
        PROFILE_BLOCK("work") pass_time();
        if (i == 2) prof_frame_start(other);
        if (i != 3) prof_frame_stop(frame); /* one is forgotten */
        if (i == 3) prof_frame_stop(other);
    }
    prof_frame_destroy(frame);
    prof_frame_destroy(other);
    prof_trace *trace = trace_stop();
    span_list spans = spans_read(trace);
    int64_t end = 0;
    uint64_t number = 0;
    CHECK_EQUAL(spans.count, 6);
    for (size_t i = 0; i < spans.count; ++i) {
        const prof_span *span = &spans.spans[i];
        if (strcmp(span->site->category, "frames")) {
            CHECK_EQUAL(span->number, 1);
            continue;
        }
        CHECK_EQUAL(span->number, ++number);
        CHECK_EQUAL(span->flags, number == 4 ? PROF_TRUNCATED_END : 0);
        CHECK(span->start_ns >= end); /* never two at a time */
        end = span->start_ns + span->duration_ns;
    }
    CHECK_EQUAL(number, 5);
    spans_free(&spans);
    char *text = summary_text(trace);
    CHECK(strstr(text, "\nframe         frames       rate    1 % low       mean"));
    CHECK(strstr(text, "\nrender             4 "));
    CHECK(strstr(text, "\nrender             1 "));
    CHECK(strstr(text, "\n1 span began, but with no end"));
    CHECK(!strstr(text, "\nspan  "));
    free(text);
    text = chrome_text(trace, NULL);
    CHECK_EQUAL(occurrences(text, "\"name\":\"frames: render\""), 2); /* a track for each handle */
    CHECK_EQUAL(occurrences(text, "\"args\":{\"frame\":"), 6);
    CHECK_EQUAL(occurrences(text, "\"args\":{\"frame\":4,\"truncated\":\"end\"}"), 1);
    CHECK_EQUAL(occurrences(text, "{\"ph\":\"b\""), 0);
    free(text);
    prof_trace_close(trace);
}

TEST(one_boundary_is_no_frame)
{
    start();
    PROFILE_FRAME("alone");
    prof_trace *trace = trace_stop();
    char *text = summary_text(trace), *row = strstr(text, "\nalone ");
    CHECK(row != NULL);
    if (row) {
        *strchr(row + 1, '\n') = 0;
        CHECK(strstr(row, " 0          -          -          -") && !strstr(row, "ns"));
    }
    free(text);
    prof_trace_close(trace);
}

/*-- counters --*/

TEST(counters_do_not_go_round)
{
    prof_counter *counter = prof_counter_create(NULL, "edge");
    static const int64_t want[] = {INT64_MAX - 1, INT64_MAX, INT64_MAX, INT64_MAX - 1, INT64_MIN + 1, INT64_MIN, INT64_MIN,
                                   INT64_MIN, INT64_MIN + 1, 5, INT64_MAX, -1, INT64_MAX, 0, INT64_MIN};
    start();
    prof_counter_set(counter, INT64_MAX - 1);
    prof_counter_add(counter, 1);
    prof_counter_add(counter, 1);
    prof_counter_sub(counter, 1);
    prof_counter_set(counter, INT64_MIN + 1);
    prof_counter_sub(counter, 1);
    prof_counter_sub(counter, INT64_MAX);
    prof_counter_add(counter, INT64_MIN);
    prof_counter_add(counter, 1);
    prof_counter_set(counter, 5);
    prof_counter_sub(counter, INT64_MIN); /* 5 + 2^63 */
    prof_counter_set(counter, -1);
    prof_counter_sub(counter, INT64_MIN); /* -1 + 2^63 fits */
    prof_counter_set(counter, 0);
    prof_counter_add(counter, INT64_MIN);
    prof_counter_destroy(counter);
    prof_trace *trace = trace_stop();
    trace_list list = trace_read(trace, 0);
    CHECK_EQUAL(list.count, sizeof want / sizeof *want);
    for (size_t i = 0; i < list.count; ++i) CHECK_EQUAL(list.events[i].value.as.i, want[i]);
    trace_free(&list);
    prof_trace_close(trace);
}

TEST(counters_of_both_kinds)
{
    prof_counter *counter = prof_counter_create(NULL, "level");
    start();
    prof_counter_add(counter, 3);
    prof_counter_add_double(counter, 0.5); /* floating-point from here on */
    prof_counter_sub(counter, 1);
    prof_counter_set_double(counter, -2.25);
    prof_counter_add(counter, 2);
    prof_counter_destroy(counter);
    prof_trace *trace = trace_stop();
    trace_list list = trace_read(trace, 0);
    static const double want[] = {3, 3.5, 2.5, -2.25, -0.25};
    CHECK_EQUAL(list.count, 5);
    for (size_t i = 0; i < list.count && i < 5; ++i) {
        CHECK_EQUAL(list.events[i].value.type, i ? PROF_VALUE_DOUBLE : PROF_VALUE_INT);
        CHECK((i ? list.events[i].value.as.d : (double)list.events[i].value.as.i) == want[i]);
    }
    trace_free(&list);
    prof_trace_close(trace);
}

enum { ADDERS = 4, ADDS = 3000 };
static prof_counter *shared_counter;

static void *add_and_subtract(void *unused)
{
    (void)unused;
    for (int i = 0; i < ADDS; ++i) {
        PROFILE_COUNTER_ADD("depth", 3u);
        prof_counter_add(shared_counter, 2);
        PROFILE_COUNTER_SUB("depth", (short)1);
        prof_counter_sub(shared_counter, 1);
    }
    return NULL;
}

TEST(counters_of_several_threads)
{
    pthread_t threads[ADDERS];
    double last[2] = {0, 0};
    PROFILE_COUNTER_SET("depth", -5); /* counts while nothing is recorded */
    shared_counter = prof_counter_create(NULL, "handle");
    start();
    for (int i = 0; i < ADDERS; ++i) CHECK(!pthread_create(&threads[i], NULL, add_and_subtract, NULL));
    for (int i = 0; i < ADDERS; ++i) CHECK(!pthread_join(threads[i], NULL));
    PROFILE_COUNTER_ADD("depth", 0);
    prof_counter_add(shared_counter, 0);
    PROFILE_COUNTER_ADD_C("depth", 1.5, "another"); /* of its own */
    prof_counter_destroy(shared_counter);
    prof_trace *trace = trace_stop();
    trace_list list = trace_read(trace, 0);
    CHECK_EQUAL(list.count, 3);
    if (list.count == 3) {
        CHECK_EQUAL(list.events[0].value.as.i, ADDERS * ADDS * 2 - 5);
        CHECK_EQUAL(list.events[1].value.as.i, ADDERS * ADDS);
        CHECK(list.events[2].value.type == PROF_VALUE_DOUBLE && list.events[2].value.as.d == 1.5);
    }
    (void)last;
    trace_free(&list);
    prof_trace_close(trace);
}

/*-- markers --*/

TEST(five_scopes)
{
    prof_marker *marker = prof_marker_create(prof_domain_create("marks"), "made");
    start();
    PROFILE_THREAD("marks thread");
    for (int i = 0; i <= (int)PROF_MARK_REACH_COUNT; ++i) prof_marker_mark(marker, (prof_mark_reach)i);
    PROFILE_MARK_REACH("fixed", PROF_MARK_THREAD);
    PROFILE_MARK_REACH("fixed", PROF_MARK_GLOBAL);
    PROFILE_MARK_REACH("fixed", PROF_MARK_PROCESS);
    PROFILE_MARK_REACH("fixed", PROF_MARK_TASK);
    PROFILE_MARK_REACH("fixed", PROF_MARK_MARKER);
    prof_marker_destroy(marker);
    prof_trace *trace = trace_stop();
    trace_list list = trace_read(trace, 0);
    static const uint32_t roles[] = {PROF_ROLE_NONE, PROF_ROLE_MARK_GLOBAL, PROF_ROLE_MARK_PROCESS, PROF_ROLE_MARK_TASK,
                                     PROF_ROLE_MARK_MARKER, PROF_ROLE_NONE};
    CHECK_EQUAL(list.count, 11);
    for (size_t i = 0; i < list.count; ++i) {
        CHECK_EQUAL(list.events[i].type, PROF_EVENT_MARK);
        CHECK_TEXT(list.events[i].name, i < 6 ? "made" : "fixed");
        CHECK_EQUAL(list.events[i].site->role, roles[i % 6]);
    }
    char *text = chrome_text(trace, NULL);
    CHECK_EQUAL(occurrences(text, ",\"s\":\"g\""), 0); /* viewers draw a bar without a name */
    CHECK_EQUAL(occurrences(text, ",\"s\":\"p\""), 0);
    CHECK_EQUAL(occurrences(text, "\"s\":\"t\",\"args\":{\"scope\":\"global\",\"thread\":\"marks thread\"}}"), 2);
    CHECK_EQUAL(occurrences(text, "\"s\":\"t\",\"args\":{\"scope\":\"process\",\"thread\":\"marks thread\"}}"), 2);
    CHECK_EQUAL(occurrences(text, "\"args\":{\"name\":\"mark: made\"}"), 1);
    CHECK_EQUAL(occurrences(text, "\"args\":{\"name\":\"mark: fixed\"}"), 1);
    CHECK_EQUAL(occurrences(text, "\"tid\":1,\"ts\""), 4); /* two of its name and place */
    CHECK_EQUAL(occurrences(text, ",\"s\":\"t\"}"), 3);
    CHECK_EQUAL(occurrences(text, ",\"s\":\"t\",\"args\":{\"scope\":\"task\"}}"), 2);
    CHECK_EQUAL(occurrences(text, ",\"s\":\"t\",\"args\":{\"scope\":\"marker\"}}"), 2);
    free(text);
    trace_free(&list);
    prof_trace_close(trace);
}

/*-- PROF_STATS --*/

enum { FOLDED = 30000 };

static void *end_folded(void *unused)
{
    for (uint64_t i = 0; i < FOLDED; ++i)
        if (i % 3) PROFILE_SPAN_END("folded", i);
    return unused;
}

/* Ends are on another thread, which is read before the first or after it; one in three stays open. */
static void record_folded(void)
{
    pthread_t thread;
    prof_frame *frame = prof_frame_create(NULL, "frame");
    prof_task *task = prof_task_create(NULL, "task");
    for (uint64_t i = 0; i < FOLDED; ++i) {
        PROFILE_SPAN_BEGIN("folded", i);
        if (i % 100 == 0) {
            prof_frame_start(frame);
            prof_task_start(task);
        }
        if (i % 100 == 50) {
            prof_frame_stop(frame);
            prof_task_stop(task);
        }
    }
    CHECK(!pthread_create(&thread, NULL, end_folded, NULL));
    CHECK(!pthread_join(thread, NULL));
    PROFILE_SPAN_END("alone", 1);
    PROFILE_SPAN_MARK("alone", 1);
    prof_frame_start(frame);
    prof_frame_destroy(frame);
    prof_task_destroy(task);
}

TEST(folded_into_statistics)
{
    prof_config config = trace_config(256u << 10);
    config.mode = PROF_STATS;
    config.wait_ns = 10000000000u;
    CHECK_EQUAL(prof_start(&config), PROF_OK);
    record_folded();
    CHECK_EQUAL(prof_stop(), PROF_OK);
    prof_trace *trace = NULL;
    CHECK_EQUAL(prof_trace_open_live(&trace), PROF_OK);
    CHECK_EQUAL(prof_trace_about(trace)->lost, 0);
    CHECK_EQUAL(prof_trace_about(trace)->open, 0); /* scopes */
    prof_stat *stats = NULL;
    size_t count = 0;
    CHECK_EQUAL(prof_span_stats(trace, PROF_SORT_NAME, 1, &stats, &count), PROF_OK);
    CHECK_EQUAL(count, 3);
    if (count == 3) {
        CHECK_TEXT(stats[0].name, "alone");
        CHECK_EQUAL(stats[0].count, 1);
        CHECK_EQUAL(stats[0].truncated, 1);
        CHECK_TEXT(stats[1].name, "folded");
        CHECK_EQUAL(stats[1].count, FOLDED);
        CHECK_EQUAL(stats[1].truncated, FOLDED / 3);
        CHECK(stats[1].min_ns > 0 && stats[1].min_ns <= stats[1].p50_ns && stats[1].p50_ns <= stats[1].max_ns);
        CHECK(stats[1].self_ns == stats[1].total_ns);
        CHECK_TEXT(stats[2].name, "task");
        CHECK_EQUAL(stats[2].count, FOLDED / 100);
        CHECK_EQUAL(stats[2].truncated, 0);
    }
    prof_stats_free(stats);
    char *text = summary_text(trace), expected[100];
    snprintf(expected, sizeof expected, "\n%s spans began, but with no end", "10,001");
    CHECK(strstr(text, expected));
    CHECK(strstr(text, "\n1 span ended, but with no begin"));
    snprintf(expected, sizeof expected, "\nframe%14d ", FOLDED / 100);
    CHECK(strstr(text, expected));
    free(text);
    prof_trace_close(trace);
}

/* More halves than are kept: the oldest are given up, and counted. */
TEST(folded_with_too_many_open)
{
    prof_config config = trace_config(1u << 20);
    uint64_t count = 70000;
    config.mode = PROF_STATS;
    config.wait_ns = 10000000000u;
    CHECK_EQUAL(prof_start(&config), PROF_OK);
    for (uint64_t i = 0; i < count; ++i) PROFILE_SPAN_BEGIN("open", i);
    for (uint64_t i = 0; i < count; ++i) PROFILE_SPAN_END("open", i);
    CHECK_EQUAL(prof_stop(), PROF_OK);
    prof_trace *trace = NULL;
    CHECK_EQUAL(prof_trace_open_live(&trace), PROF_OK);
    CHECK_EQUAL(prof_trace_about(trace)->lost, 0);
    prof_stat *stats = NULL;
    size_t rows = 0;
    uint64_t all = 0, truncated = 0;
    CHECK_EQUAL(prof_span_stats(trace, PROF_SORT_NAME, 1, &stats, &rows), PROF_OK);
    for (size_t i = 0; i < rows; ++i) {
        all += stats[i].count;
        truncated += stats[i].truncated;
    }
    CHECK((all - truncated) * 2 + truncated == count * 2); /* every half once */
    CHECK_EQUAL(truncated, 2 * (count - 65536)); /* the begins that were given up, and their ends */
    prof_stats_free(stats);
    prof_trace_close(trace);
}

/* A frame of a handle that takes too long saves, as one of PROFILE_FRAME does. */
TEST(a_slow_frame_saves)
{
    const char *path = trace_path("objects_slow.json");
    prof_config config = trace_config(1u << 20);
    prof_frame *frame = prof_frame_create(NULL, "slow");
    remove(path);
    config.save = path;
    config.save_over = "frame>20ms";
    CHECK_EQUAL(prof_start(&config), PROF_OK);
    prof_frame_start(frame);
    prof_frame_stop(frame);
    prof_frame_start(frame);
    pause_ms(30); /* longer than the limit */
    prof_frame_stop(frame);
    WAIT_UNTIL(trace_file_size(path) > 0);
    CHECK_EQUAL(prof_stop(), PROF_OK);
    char *text = trace_file_text(path, NULL);
    CHECK(text && strstr(text, "slow ") && strstr(text, "> 20 ms"));
    free(text);
    prof_frame_destroy(frame);
}

/*-- Chrome's JSON --*/

TEST(every_span_has_both_ends_in_json)
{
    prof_chrome_options options;
    memset(&options, 0, sizeof options);
    start();
    PROFILE_SPAN_END("late", 1);
    for (uint64_t i = 0; i < 50; ++i) {
        PROFILE_SPAN_BEGIN("request", i % 7);
        PROFILE_SPAN_MARK("request", i % 7);
    }
    for (uint64_t i = 0; i < 20; ++i) PROFILE_SPAN_END("request", i % 7);
    prof_trace *trace = trace_stop();
    char *text = chrome_text(trace, &options), *at = text;
    CHECK_EQUAL(occurrences(text, "{\"ph\":\"b\""), 51);
    CHECK_EQUAL(occurrences(text, "{\"ph\":\"e\""), 51);
    CHECK_EQUAL(occurrences(text, "{\"ph\":\"n\""), 50);
    CHECK_EQUAL(occurrences(text, "\"truncated\":\"begin\""), 1);
    CHECK_EQUAL(occurrences(text, "\"truncated\":\"end\""), 30);
    while (at && (at = strstr(at, "{\"ph\":\"b\""))) { /* its id comes twice, and with its marks more often */
        char id[64], *from = strstr(at, ",\"id2\":{\"local\":\"");
        snprintf(id, sizeof id, "%.*s", (int)(strcspn(from + 17, "\"") + 18), from);
        CHECK(occurrences(text, id) == 3 || strstr(at, "late"));
        at = from;
    }
    free(text);
    options.no_spans = 1;
    text = chrome_text(trace, &options);
    CHECK_EQUAL(occurrences(text, "\"id2\":"), 0);
    free(text);
    options.no_spans = 0;
    options.tracy = 1;
    text = chrome_text(trace, &options);
    CHECK_EQUAL(occurrences(text, "\"id2\":"), 0);
    free(text);
    prof_trace_close(trace);
}

/*-- handles that go while others record --*/

enum { MAKERS = 4, MADE = 400 };

static void *make_and_destroy(void *number)
{
    char name[32];
    prof_domain *domain = prof_domain_create("short-lived");
    for (int i = 0; i < MADE; ++i) {
        snprintf(name, sizeof name, "object %d", i % 20);
        prof_task *task = prof_task_create(domain, name);
        prof_frame *frame = prof_frame_create(domain, name);
        prof_range *range = prof_range_create(name);
        prof_counter *counter = prof_counter_create(domain, name);
        prof_marker *marker = prof_marker_create(domain, name);
        prof_task_start(task);
        prof_frame_start(frame);
        prof_range_start(range);
        prof_range_destroy(range); /* before its scope is over, which another handle of its name ends */
        prof_counter_set(counter, i);
        prof_marker_mark(marker, PROF_MARK_TASK);
        range = prof_range_create(name);
        prof_range_stop(range);
        prof_frame_stop(frame);
        prof_task_stop(task);
        prof_task_destroy(task);
        prof_frame_destroy(frame);
        prof_range_destroy(range);
        prof_counter_destroy(counter);
        prof_marker_destroy(marker);
    }
    return number;
}

TEST(destroyed_while_recording)
{
    pthread_t threads[MAKERS];
    size_t scopes = 0, marks = 0, counters = 0;
    start();
    for (int i = 0; i < MAKERS; ++i) CHECK(!pthread_create(&threads[i], NULL, make_and_destroy, NULL));
    for (int i = 0; i < MAKERS; ++i) CHECK(!pthread_join(threads[i], NULL));
    prof_trace *trace = trace_stop();
    CHECK_EQUAL(prof_trace_about(trace)->lost, 0);
    for (size_t t = 0; t < prof_trace_track_count(trace); ++t) {
        trace_list list = trace_read(trace, t);
        for (size_t i = 0; i < list.count; ++i) {
            scopes += list.events[i].type == PROF_EVENT_SCOPE && !list.events[i].flags;
            marks += list.events[i].type == PROF_EVENT_MARK;
            counters += list.events[i].type == PROF_EVENT_COUNTER;
            CHECK(!strncmp(list.events[i].name, "object ", 7));
        }
        trace_free(&list);
    }
    CHECK_EQUAL(scopes, MAKERS * MADE);
    CHECK_EQUAL(marks, MAKERS * MADE);
    CHECK_EQUAL(counters, MAKERS * MADE);
    span_list spans = spans_read(trace);
    CHECK_EQUAL(spans.count, MAKERS * MADE * 2);
    for (size_t i = 0; i < spans.count; ++i) CHECK_EQUAL(spans.spans[i].flags, 0);
    spans_free(&spans);
    prof_trace_close(trace);
}

TEST_MAIN
