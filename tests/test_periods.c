/* The figures of prof top: those of periods that follow one another add up to the statistics of the whole, wherever
   the periods begin; what is still open counts; losses and frames are those of the period. No time is measured: each
   trace is read several times. */
/* run: check */
#include "../tools/top_read.c"
#include "test.h"
#include "trace.h"
#include <pthread.h>

uint32_t tool_hash(uint32_t hash, const char *text) /* that of tools/prof.c needs the implementation */
{
    while (*text) hash = (hash ^ (unsigned char)*text++) * 16777619u;
    return hash;
}

int tool_fail(const char *format, ...)
{
    printf("%s\n", format);
    return TOOL_ERROR;
}
int tool_status(prof_status status) { return status ? tool_fail("%s", prof_error()) : TOOL_OK; }
int tool_same(const char *a, const char *b) { return !strcmp(a, b); }
int tool_is_scope(const prof_span *span) { return span->site->kind == PROF__KIND_BEGIN; }

static void leaf(void)
{
    PROFILE_FUNCTION();
    for (volatile int i = 0; i < 30; ++i) {}
}

static void work(int depth)
{
    PROFILE_FUNCTION();
    leaf();
    if (depth) work(depth - 1);
    leaf();
}

static void rounds(int count)
{
    static const char *const names[] = {"red", "green", "blue"};
    for (int i = 0; i < count; ++i) {
        PROFILE_SCOPE("round");
        work(i % 4);
        PROFILE_FRAME("tick");
        {
            PROFILE_SCOPE_DYNAMIC(names[i % 3]);
            leaf();
        }
        PROFILE_BEGIN("ends first");
        PROFILE_BEGIN("ends later");
        leaf();
        PROFILE_END("ends first");
        leaf();
        PROFILE_END("ends later");
    }
}

static void *thread_main(void *user)
{
    rounds(*(int *)user);
    return NULL;
}

static int begin(prof_mode mode, size_t buffer)
{
    prof_config config;
    memset(&config, 0, sizeof config);
    config.mode = mode;
    config.buffer_size = buffer;
    prof_status status = prof_start(&config);
    CHECK_EQUAL(status, PROF_OK);
    return status == PROF_OK;
}

static const top_row *row_of(const top_rows *rows, const char *name)
{
    for (size_t i = 0; i < rows->count; ++i)
        if (!strcmp(rows->items[i].name, name)) return &rows->items[i];
    return NULL;
}

/* The sums of a scope over all periods. */
typedef struct sums {
    const prof_callsite *site;
    char name[64];
    uint64_t calls, timed, sum, longest;
    int64_t self, total;
} sums;

static size_t add_sums(sums *all, size_t count, const top_row *row)
{
    size_t i;
    for (i = 0; i < count; ++i)
        if (all[i].site == row->site && !strcmp(all[i].name, row->name)) break;
    if (i == count) {
        memset(&all[i], 0, sizeof all[i]);
        all[i].site = row->site;
        snprintf(all[i].name, sizeof all[i].name, "%s", row->name);
    }
    all[i].calls += row->calls;
    all[i].timed += row->timed;
    all[i].sum += (uint64_t)row->sum_ns;
    all[i].self += row->self_ns;
    all[i].total += row->total_ns;
    if ((uint64_t)row->max_ns > all[i].longest) all[i].longest = (uint64_t)row->max_ns;
    return i == count ? count + 1 : count;
}

/* Adds up the periods from 0 to the end, each of another length around step_ns, and compares them with the
   statistics. */
static void compare(prof_trace *trace, int64_t step_ns)
{
    static sums all[64];
    size_t count = 0, stat_count = 0;
    int64_t from = 0, end = prof_trace_about(trace)->duration_ns + 1;
    uint64_t events = 0, frames = 0;
    prof_stat *stats = NULL;
    for (int turn = 0; from < end; ++turn) {
        int64_t to = from + step_ns + turn % 7;
        top_period period;
        CHECK_EQUAL(top_read(trace, from, to < end ? to : end, &period), TOOL_OK);
        CHECK_EQUAL(period.from_ns, from);
        CHECK_EQUAL(period.asked_ns, from);
        for (size_t i = 0; i < period.scopes.count; ++i) count = add_sums(all, count, &period.scopes.items[i]);
        for (size_t i = 0; i < period.frames.count; ++i) frames += period.frames.items[i].calls;
        events += period.events;
        from = period.to_ns;
        top_free(&period);
    }
    CHECK_EQUAL(events, prof_trace_about(trace)->event_count);
    CHECK_EQUAL(prof_trace_set_window(trace, 0, 0), PROF_OK);
    CHECK_EQUAL(prof_stats(trace, PROF_SORT_TOTAL, 0, &stats, &stat_count), PROF_OK);
    CHECK_EQUAL(count, stat_count);
    for (size_t i = 0, j; i < stat_count; ++i) {
        for (j = 0; j < count; ++j)
            if (all[j].site == stats[i].site && !strcmp(all[j].name, stats[i].name)) break;
        CHECK(j < count);
        if (j == count) continue;
        CHECK_EQUAL(all[j].calls, stats[i].count);
        CHECK_EQUAL(all[j].timed, stats[i].count - stats[i].truncated);
        CHECK_EQUAL(all[j].sum, stats[i].sum_ns);
        CHECK_EQUAL(all[j].longest, stats[i].max_ns);
        CHECK_EQUAL(all[j].total, stats[i].total_ns);
        CHECK_EQUAL(all[j].self, stats[i].self_ns);
    }
    CHECK_EQUAL(frames, 200 + 100);
    prof_stats_free(stats);
}

TEST(periods_add_up)
{
    pthread_t thread;
    prof_trace *trace = NULL;
    int count = 100;
    if (!begin(PROF_FILL, 1 << 20)) return;
    CHECK(!pthread_create(&thread, NULL, thread_main, &count));
    rounds(200);
    CHECK(!pthread_join(thread, NULL));
    CHECK_EQUAL(prof_stop(), PROF_OK);
    CHECK_EQUAL(prof_trace_open_live(&trace), PROF_OK);
    if (!trace) return;
    int64_t all = prof_trace_about(trace)->duration_ns + 1;
    compare(trace, all);
    compare(trace, all / 2);
    compare(trace, all / 9);
    compare(trace, all / 97);
    prof_trace_close(trace);
}

/* Scopes that are open at the end of the trace last until the end of any period, also a later one. */
TEST(open_scopes)
{
    prof_trace *trace = NULL;
    top_period period;
    if (!begin(PROF_RING, 1 << 20)) return;
    {
        PROFILE_SCOPE("main loop");
        trace_next_instant();
        rounds(3);
        PROFILE_SCOPE("waits");
        CHECK_EQUAL(prof_trace_open_live(&trace), PROF_OK);
    }
    prof_stop();
    if (!trace) return;
    int64_t end = prof_trace_about(trace)->duration_ns + 1, self = 0;
    CHECK_EQUAL(top_read(trace, end + 1000, end + 5000, &period), TOOL_OK);
    const top_row *outer = row_of(&period.scopes, "main loop"), *inner = row_of(&period.scopes, "waits");
    CHECK_EQUAL(period.scopes.count, 2);
    CHECK_EQUAL(period.events, 0);
    CHECK(outer && inner);
    if (outer && inner) {
        CHECK_EQUAL(outer->total_ns, 4000);
        CHECK_EQUAL(outer->self_ns, 0);
        CHECK_EQUAL(outer->calls, 0);
        CHECK_EQUAL(inner->total_ns, 4000);
        CHECK_EQUAL(inner->self_ns, 4000);
        CHECK_EQUAL(inner->calls, 0);
    }
    top_free(&period);
    /* from within the main loop on, the self times add up to the period */
    prof_cursor *cursor = NULL;
    prof_event event;
    int64_t start = -1;
    CHECK_EQUAL(prof_trace_set_window(trace, 0, 0), PROF_OK);
    CHECK_EQUAL(prof_cursor_open(trace, 0, &cursor), PROF_OK);
    while (cursor && start < 0 && prof_cursor_next(cursor, &event))
        if (!strcmp(event.name, "main loop")) start = event.start_ns;
    prof_cursor_close(cursor);
    CHECK(start >= 0);
    CHECK_EQUAL(top_read(trace, start, end + 1000, &period), TOOL_OK);
    for (size_t i = 0; i < period.scopes.count; ++i)
        if (strcmp(period.scopes.items[i].name, "ends later")) self += period.scopes.items[i].self_ns;
    CHECK_EQUAL(self, end + 1000 - start);
    top_free(&period);
    prof_trace_close(trace);
}

/* What does not fit counts as lost in one of the periods. */
TEST(losses)
{
    prof_trace *trace = NULL;
    uint64_t lost = 0;
    if (!begin(PROF_FILL, 128 << 10)) return;
    rounds(2000);
    prof_stop();
    CHECK_EQUAL(prof_trace_open_live(&trace), PROF_OK);
    if (!trace) return;
    int64_t end = prof_trace_about(trace)->duration_ns + 1;
    CHECK(prof_trace_about(trace)->lost > 0);
    for (int i = 0; i < 5; ++i) {
        top_period period;
        CHECK_EQUAL(top_read(trace, end * i / 5, end * (i + 1) / 5, &period), TOOL_OK);
        lost += period.lost;
        top_free(&period);
    }
    CHECK_EQUAL(lost, prof_trace_about(trace)->lost);
    prof_trace_close(trace);
}

/* A period that begins before what a ring still holds begins where that begins. */
TEST(overwritten)
{
    prof_trace *trace = NULL;
    top_period period;
    if (!begin(PROF_RING, 128 << 10)) return;
    rounds(4000);
    prof_stop();
    CHECK_EQUAL(prof_trace_open_live(&trace), PROF_OK);
    if (!trace) return;
    int64_t end = prof_trace_about(trace)->duration_ns + 1, first = prof_trace_track(trace, 0)->first_ns;
    CHECK(prof_trace_about(trace)->overwritten_chunks > 0);
    CHECK_EQUAL(top_read(trace, 0, end, &period), TOOL_OK);
    CHECK_EQUAL(period.from_ns, first);
    CHECK_EQUAL(period.asked_ns, 0);
    CHECK_EQUAL(period.held_ns, end - first);
    CHECK(row_of(&period.scopes, "leaf") != NULL);
    top_free(&period);
    CHECK_EQUAL(top_read(trace, end - 1, end, &period), TOOL_OK);
    CHECK_EQUAL(period.asked_ns, period.from_ns);
    top_free(&period);
    prof_trace_close(trace);
}

/* The order of the table: the largest first, equal ones by name. */
TEST(order)
{
    prof_callsite site = {"", "", "f.c", "f", 1, 0, 0, 0, 0, ""};
    top_row items[3];
    top_rows rows;
    memset(items, 0, sizeof items);
    memset(&rows, 0, sizeof rows);
    rows.items = items;
    rows.count = 3;
    for (int i = 0; i < 3; ++i) items[i].site = &site;
    items[0].name = "b", items[0].self_ns = 1, items[0].total_ns = 9, items[0].calls = 2, items[0].max_ns = 5;
    items[1].name = "a", items[1].self_ns = 1, items[1].total_ns = 8, items[1].calls = 3, items[1].max_ns = 5;
    items[2].name = "c", items[2].self_ns = 2, items[2].total_ns = 7, items[2].calls = 1, items[2].max_ns = 6;
    top_sort(&rows, TOP_SELF);
    CHECK(*items[0].name == 'c' && *items[1].name == 'a' && *items[2].name == 'b');
    top_sort(&rows, TOP_TOTAL);
    CHECK(*items[0].name == 'b' && *items[1].name == 'a' && *items[2].name == 'c');
    top_sort(&rows, TOP_CALLS);
    CHECK(*items[0].name == 'a' && *items[1].name == 'b' && *items[2].name == 'c');
    top_sort(&rows, TOP_MAX);
    CHECK(*items[0].name == 'c' && *items[1].name == 'a' && *items[2].name == 'b');
}

TEST_MAIN
