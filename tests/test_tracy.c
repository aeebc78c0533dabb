/* examples/tracyc.h: what a C program that is marked up with Tracy's macros leaves in a recording. */
#include "../examples/tracyc.h"
#include "../prof_read.h"
#include "test.h"
#include "trace.h"
#include <pthread.h>

static int zones(int depth)
{
    TracyCZone(function, 1)
    TracyCZoneText(function, "text and more", 4)
    TracyCZoneValue(function, depth)
    if (depth) {
        int result = zones(depth - 1);
        TracyCZoneEnd(function)
        return result;
    }
    {
        TracyCZoneN(inner, "inner", depth == 0);
        TracyCZoneNC(coloured, "coloured", 0xff0000, 1);
        TracyCZoneN(never, "inactive", depth != 0);
        TracyCZoneTextF(never, "%d", depth);
        TracyCZoneName(coloured, "job 7, and", 5);
        TracyCZoneEnd(never);
        TracyCZoneEnd(coloured);
        TracyCZoneTextF(inner, "%d of %s", depth, "all");
        TracyCZoneEnd(inner);
    }
    TracyCZoneEnd(function)
    return 1;
}

TEST(zones_frames_and_messages)
{
    prof_config config = trace_config(1 << 20);
    trace_start(&config);
    for (int i = 0; i < 3; ++i) {
        TracyCFrameMark
        TracyCFrameMarkStart("loading")
        CHECK_EQUAL(zones(2), 1);
        TracyCFrameMarkEnd("loading")
        TracyCPlot("load", 0.5F * (float)i)
        TracyCPlotI("bodies", i)
        TracyCMessage("hello world", 5);
        TracyCMessageL("literal");
    }
    prof_trace *trace = trace_stop();
    trace_list list = trace_read(trace, trace_track_named(trace, "test_tracy"));
    for (size_t i = 0; i < list.count; ++i)
        if (!strcmp(list.events[i].name, "coloured")) {
            CHECK_EQUAL(list.events[i].flags, 0); /* has begin and end */
            CHECK(strstr(list.events[i].site->file, "test_tracy.c") != NULL);
        }
    CHECK_EQUAL(trace_count_messages(&list, "hello"), 3);
    CHECK_EQUAL(trace_count_messages(&list, "literal"), 3);
    CHECK_EQUAL(trace_count(&list, "zones"), 9);
    CHECK_EQUAL(trace_count(&list, "Frame"), 3);
    CHECK_EQUAL(trace_count(&list, "loading"), 6); /* a begin and an end each */
    CHECK_EQUAL(trace_count(&list, "inner"), 3);
    CHECK_EQUAL(trace_count(&list, "coloured"), 3);
    CHECK_EQUAL(trace_count(&list, "inactive"), 0);
    CHECK_EQUAL(trace_count(&list, "load"), 3);
    CHECK_EQUAL(trace_count(&list, "bodies"), 3);
    CHECK_EQUAL(trace_count_with(&list, "zones", "text", "text"), 9);
    CHECK_EQUAL(trace_count_with(&list, "inner", "text", "0 of all"), 3);
    CHECK_EQUAL(trace_count_with(&list, "coloured", "name", "job 7"), 3);
    trace_free(&list);
    prof_trace_close(trace);
}

static TracyCLockCtx account;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int money;

static void *teller(void *unused)
{
    (void)unused;
    TracyCSetThreadName("teller")
    for (int i = 0; i < 250; ++i) {
        TracyCZoneN(pay, "pay", 1)
        if (i % 2) {
            TracyCLockBeforeLock(account)
            pthread_mutex_lock(&mutex);
            TracyCLockAfterLock(account)
        } else {
            while (pthread_mutex_trylock(&mutex)) { TracyCLockAfterTryLock(account, 0) }
            TracyCLockAfterTryLock(account, 1)
        }
        money++;
        pthread_mutex_unlock(&mutex);
        TracyCLockAfterUnlock(account)
        TracyCZoneEnd(pay)
    }
    return NULL;
}

TEST(locks_and_memory)
{
    prof_config config = trace_config(1 << 20);
    pthread_t threads[4];
    char block[64];
    TracyCLockAnnounce(account)
    trace_start(&config);
    for (int i = 0; i < 4; ++i) CHECK(!pthread_create(&threads[i], NULL, teller, NULL));
    for (int i = 0; i < 4; ++i) pthread_join(threads[i], NULL);
    TracyCAlloc(block, 64);
    TracyCAllocN(block + 1, 10, "pool");
    TracyCFreeN(block + 1, "pool");
    prof_trace *trace = trace_stop();
    CHECK_EQUAL(money, 1000);
    prof_lock_row *locks = NULL;
    size_t count = 0;
    CHECK_EQUAL(prof_locks(trace, 0, &locks, &count), PROF_OK);
    CHECK_EQUAL(count, 1);
    CHECK(count && !strcmp(locks[0].name, "account"));
    CHECK_EQUAL(count ? locks[0].acquired : 0, 1000);
    prof_locks_free(locks);
    prof_memory_stats *memory = NULL;
    CHECK_EQUAL(prof_memory(trace, &memory), PROF_OK);
    CHECK_EQUAL(memory->pool_count, 2);
    for (size_t i = 0; i < memory->pool_count; ++i)
        CHECK_EQUAL(memory->pools[i].live_bytes, strcmp(memory->pools[i].pool, "pool") ? 64 : 0);
    prof_memory_free(memory);
    prof_trace_close(trace);
    TracyCLockTerminate(account)
}

static TracyCZoneCtx crossing;

static void *begins(void *unused)
{
    (void)unused;
    TracyCFiberEnter("job")
    TracyCZoneN(zone, "crossing", 1)
    crossing = zone;
    TracyCFiberLeave
    return NULL;
}

static void *ends(void *unused)
{
    (void)unused;
    TracyCFiberEnter("job")
    TracyCZoneEnd(crossing)
    TracyCFiberLeave
    return NULL;
}

TEST(a_zone_of_a_fiber_ends_on_another_thread)
{
    prof_config config = trace_config(1 << 20);
    pthread_t thread;
    trace_start(&config);
    CHECK(!pthread_create(&thread, NULL, begins, NULL));
    pthread_join(thread, NULL);
    CHECK(!pthread_create(&thread, NULL, ends, NULL));
    pthread_join(thread, NULL);
    prof_trace *trace = trace_stop();
    trace_list list = trace_read(trace, trace_track_named(trace, "job"));
    CHECK_EQUAL(trace_count(&list, "crossing"), 1);
    CHECK_EQUAL(list.count ? list.events[0].flags : 1, 0);
    trace_free(&list);
    prof_trace_close(trace);
}

#define NUMBERED(name) TracyConcat(name, __LINE__)

/* What programs write that use more than the macros for literals. */
TEST(zones_of_programs_that_are_marked_for_tracy)
{
    static const struct ___tracy_source_location_data place = {NULL, "by place", "file.c", 7, 0};
    const char *names[] = {"name one", "name two"};
    char blocks[2];
    prof_config config = trace_config(1 << 20);
    trace_start(&config);
    TracyCSetThreadName("programs");
    for (int i = 0; i < 4; ++i) {
        TracyCZoneN(const constant, "constant", 1);
        { TracyCZoneN(NUMBERED(zone), "numbered", i > 1) TracyCZoneEnd(NUMBERED(zone)) }
        TracyCFrameMarkNamed(names[i & 1]);
        TracyCPlot(names[i & 1], i);
        TracyCAllocN(&blocks[i & 1], (size_t)(10 + i), names[i & 1]);
        TracyCZoneCtx of_place = ___tracy_emit_zone_begin_callstack(&place, 8, 1);
        ___tracy_emit_zone_text(of_place, "text!", 4);
        uint64_t source = ___tracy_alloc_srcloc_name(1, "file.c", 6, "f", 1, "made here", 4, 0);
        TracyCZoneCtx made = ___tracy_emit_zone_begin_alloc(source, 1);
        ___tracy_emit_zone_end(made);
        ___tracy_emit_zone_end(of_place);
        if (i > 1) TracyCZoneEnd(___tracy_emit_zone_begin(&place, 0))
        TracyCZoneEnd(constant);
    }
    TracyCSecureFreeN(&blocks[0], names[0]);
    prof_trace *trace = trace_stop();
    trace_list list = trace_read(trace, trace_track_named(trace, "programs"));
    CHECK_EQUAL(trace_count(&list, "constant"), 4);
    CHECK_EQUAL(trace_count(&list, "numbered"), 2);
    CHECK_EQUAL(trace_count(&list, "name one"), 2 + 2); /* frames and plots */
    CHECK_EQUAL(trace_count(&list, "name two"), 2 + 2);
    CHECK_EQUAL(trace_count(&list, "by place"), 4);
    CHECK_EQUAL(trace_count_with(&list, "by place", "text", "text"), 4);
    CHECK_EQUAL(trace_count(&list, "made"), 4);
    trace_free(&list);
    prof_memory_stats *memory = NULL;
    CHECK_EQUAL(prof_memory(trace, &memory), PROF_OK);
    CHECK_EQUAL(memory->pool_count, 2);
    for (size_t i = 0; i < memory->pool_count; ++i)
        CHECK_EQUAL(memory->pools[i].live_bytes, strcmp(memory->pools[i].pool, "name one") ? 13 : 0);
    prof_memory_free(memory);
    prof_trace_close(trace);
}

TEST_MAIN
