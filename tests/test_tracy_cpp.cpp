// examples/tracy.hpp: what a program that is marked up with Tracy's macros leaves in a recording.
#define PROF_TRACY_GL_LOAD egl.get
#include "real_gl.h"
#include "../examples/tracy/Tracy.hpp"
#include "../examples/tracy/TracyOpenGL.hpp"
#include "../examples/tracy/TracyVulkan.hpp"
#include "../examples/tracy/common/TracySystem.hpp"
#include "../prof_read.h"
#include "test.h"
#include "trace.h"
#include <mutex>
#include <thread>
#include <vector>

static int zones(int depth)
{
    ZoneScoped;
    ZoneText("text and more", 4);
    ZoneValue(depth);
    if (depth) return zones(depth - 1);
    {
        ZoneScopedN("inner");
        ZoneScopedNC("colored", 0xff0000);
        ZoneNamedNS(outer, "named", 8, true);
        ZoneNamedS(unnamed, 8, false);
        ZoneNamedN(never, "inactive", false);
        ZoneScopedN("innermost");
        ZoneTextV(outer, "outer!", 5);
        ZoneTextF("%d of %s", depth, "all");
        ZoneNameF("job %d", 7);
    }
    return 1;
}

TEST(zones_and_messages)
{
    prof_config config = trace_config(1 << 20);
    trace_start(&config);
    for (int i = 0; i < 3; ++i) {
        FrameMark;
        FrameMarkStart("loading");
        CHECK_EQUAL(zones(2), 1);
        FrameMarkEnd("loading");
        TracyPlot("load", 0.5 * i);
        TracyMessage("hello world", 5);
        TracyMessageLCS("literal", 0xff0000, 8);
    }
    prof_trace *trace = trace_stop();
    trace_list list = trace_read(trace, trace_track_named(trace, "test_tracy_cpp"));
    CHECK_EQUAL(trace_count(&list, "zones"), 9);
    CHECK_EQUAL(trace_count(&list, "Frame"), 3);
    CHECK_EQUAL(trace_count(&list, "loading"), 6); // a begin and an end each
    CHECK_EQUAL(trace_count(&list, "inner"), 3);
    CHECK_EQUAL(trace_count(&list, "colored"), 3);
    CHECK_EQUAL(trace_count(&list, "named"), 3);
    CHECK_EQUAL(trace_count(&list, "inactive"), 0);
    CHECK_EQUAL(trace_count(&list, "load"), 3);
    CHECK_EQUAL(trace_count_messages(&list, "hello"), 3);
    CHECK_EQUAL(trace_count_messages(&list, "literal"), 3);
    CHECK_EQUAL(trace_count_with(&list, "zones", "text", "text"), 9);
    CHECK_EQUAL(trace_count_with(&list, "named", "text", "outer"), 3);
    CHECK_EQUAL(trace_count_with(&list, "innermost", "text", "0 of all"), 3);
    CHECK_EQUAL(trace_count_with(&list, "innermost", "name", "job 7"), 3);
    trace_free(&list);
    prof_trace_close(trace);
}

struct Account {
    TracyLockable(std::mutex, lock);
    TracyLockableN(std::mutex, other, "named lock");
    int money = 0;
};

TEST(locks_and_memory)
{
    prof_config config = trace_config(1 << 20);
    Account account;
    trace_start(&config);
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
        threads.emplace_back([&] {
            tracy::SetThreadName("teller");
            for (int k = 0; k < 250; ++k) {
                std::lock_guard<LockableBase(std::mutex)> guard(account.lock);
                account.money++;
            }
        });
    for (auto &thread : threads) thread.join();
    account.other.lock();
    account.other.unlock();
    char block[64];
    TracyAlloc(block, 64);
    TracySecureAllocNS(block + 1, 10, 8, "pool");
    TracyFreeNS(block + 1, 8, "pool");
    prof_trace *trace = trace_stop();
    CHECK_EQUAL(account.money, 1000);
    prof_lock_row *locks = NULL;
    size_t count = 0;
    CHECK_EQUAL(prof_locks(trace, 0, &locks, &count), PROF_OK);
    CHECK_EQUAL(count, 2);
    for (size_t i = 0; i < count; ++i) {
        CHECK(!strcmp(locks[i].name, "lock") || !strcmp(locks[i].name, "named lock"));
        CHECK_EQUAL(locks[i].acquired, strcmp(locks[i].name, "lock") ? 1 : 1000);
    }
    prof_locks_free(locks);
    prof_memory_stats *memory = NULL;
    CHECK_EQUAL(prof_memory(trace, &memory), PROF_OK);
    CHECK_EQUAL(memory->pool_count, 2);
    for (size_t i = 0; i < memory->pool_count; ++i)
        CHECK_EQUAL(memory->pools[i].live_bytes, strcmp(memory->pools[i].pool, "pool") ? 64 : 0);
    prof_memory_free(memory);
    prof_trace_close(trace);
}

// A zone that begins on one thread and ends on another, in one fiber: examples/fibers.cpp of Tracy does so.
TEST(fibers)
{
    prof_config config = trace_config(1 << 20);
    static TracyCZoneCtx crossing;
    trace_start(&config);
    std::thread([] {
        TracyFiberEnter("job1");
        TracyCZoneN(zone, "crossing", true);
        crossing = zone;
        TracyFiberLeave;
    }).join();
    std::thread([] {
        TracyFiberEnter("job1");
        TracyCZoneEnd(crossing);
        TracyFiberLeave;
    }).join();
    prof_trace *trace = trace_stop();
    trace_list list = trace_read(trace, trace_track_named(trace, "job1"));
    CHECK_EQUAL(trace_count(&list, "crossing"), 1);
    CHECK_EQUAL(list.events[0].flags, 0);
    trace_free(&list);
    prof_trace_close(trace);
}

// Zones of OpenGL, on a real one.
static void draw(bool shadows)
{
    TracyGpuZone("draw");
    {
        TracyGpuNamedZone(inner, "shadows", shadows);
        const char *name = shadows ? "with" : "without";
        TracyGpuZoneTransient(transient, name, true);
        TracyGpuNamedZoneC(colored, "colored", 0xff0000, true);
    }
    TracyGpuNamedZoneS(deep, "deep", 8, true);
}

TEST(zones_of_opengl)
{
    if (egl_open()) SKIP(egl_open());
    prof_config config = trace_config(1 << 20);
    void *context = egl_context(0);
    if (!context) SKIP("EGL makes no such context");
    trace_start(&config);
    draw(true); // before there is a context: not recorded
    TracyGpuContext;
    TracyGpuContextName("main window", 4);
    draw(true);
    draw(false);
    TracyGpuCollect;
    CHECK_EQUAL(prof_gl_finish(tracy::GetGpuCtx().queries), PROF_OK);
    egl_leave(context);
    prof_trace *trace = trace_stop();
    trace_list list = trace_read(trace, trace_track_named(trace, "main"));
    CHECK_EQUAL(trace_count(&list, "draw"), 2);
    CHECK_EQUAL(trace_count(&list, "shadows"), 1);
    CHECK_EQUAL(trace_count(&list, "with"), 1);
    CHECK_EQUAL(trace_count(&list, "without"), 1);
    CHECK_EQUAL(trace_count(&list, "colored"), 2);
    CHECK_EQUAL(trace_count(&list, "deep"), 2);
    trace_free(&list);
    prof_trace_close(trace);
}

// Names that are pointers, zones without macros, and what does nothing here.
static const char *const plots[] = {"plot one", "plot two"};
struct renderer {
    void draw() { ZoneScoped; }
    void paint() { ZoneScopedC(0x00ff00); }
};

TEST(names_as_pointers_and_zones_as_objects)
{
    static const tracy::SourceLocationData place = {"by place", "function", "file.cpp", 7, 0xff0000};
    static const tracy::SourceLocationData nameless = {nullptr, "by function", "file.cpp", 8, 0};
    const char *frames = "frames";
    prof_config config = trace_config(1 << 20);
    trace_start(&config);
    TracyGpuContext;
    tracy::SetThreadNameWithHint("zones", 1);
    for (int i = 0; i < 4; ++i) {
        TracyPlot(plots[i & 1], i);
        TracyPlot("plot three", 0.5f);
        FrameMarkNamed(frames);
        TracyGpuZone("gpu");
        tracy::ScopedZone zone(&place), other(&nameless, 8, true), off(&place, -1, false);
        zone.Text("some text", 4);
        zone.Value(3);
        CHECK(zone.IsActive() && !off.IsActive());
        tracy::ScopedZone made(TracyLine, TracyFile, strlen(TracyFile), "f", 1, "made here", 4);
        ZoneTransientNC(transient, "transient", 0x0000ff, true);
        renderer().draw();
        renderer().paint();
    }
    prof_trace *trace = trace_stop();
    trace_list list = trace_read(trace, trace_track_named(trace, "zones"));
    CHECK_EQUAL(trace_count(&list, "plot one"), 2);
    CHECK_EQUAL(trace_count(&list, "plot two"), 2);
    CHECK_EQUAL(trace_count(&list, "plot three"), 4);
    CHECK_EQUAL(trace_count(&list, "frames"), 4);
    CHECK_EQUAL(trace_count_with(&list, "by place", "text", "some"), 4);
    CHECK_EQUAL(trace_nth(&list, "by place", 0)->site->color, 0xff0000);
    CHECK_EQUAL(trace_count(&list, "by function"), 4);
    CHECK_EQUAL(trace_count(&list, "made"), 4);
    CHECK_EQUAL(trace_count(&list, "transient"), 4);
    CHECK_EQUAL(trace_count(&list, "renderer::draw"), 4);
    CHECK_EQUAL(trace_count(&list, "renderer::paint"), 4);
    trace_free(&list);
    prof_trace_close(trace);
}

// What programs write that use more than the macros for literals.
#define NUMBERED(name) TracyConcat(name, __LINE__)
static void zones_of_programs(bool on)
{
    ZoneScopedN("no semicolon")
    ZoneNamedC(by_condition, tracy::Color::DarkSlateGray, on);
    ZoneTextV(by_condition, "only if on", 7);
    ZoneValueV(by_condition, 5);
    ZoneNamedN(NUMBERED(zone), "numbered", !on);
    CHECK_EQUAL(ZoneIsActiveV(by_condition), on);
    ZoneTransientN(transient, on ? "at run time" : "at another time", on);
    ZoneTextVF(transient, "%d of %s", 3, "four");
    ZoneNameV(transient, "renamed", 7);
    tracy::ScopedZone *made = new tracy::ScopedZone(0, "file.c", 6, "f()", 3, "on the heap", 11, 0x20202020u);
    delete made;
}

TEST(zones_of_programs_that_are_marked_for_tracy)
{
    static const tracy::SourceLocationData place = {nullptr, "own lock", "file.cpp", 7, tracy::Color::Red};
    static tracy::LockableCtx lock{&place};
    static tracy::SharedLockableCtx shared{&place};
    static const char *pools[] = {"pool one", "pool two"};
    char blocks[2];
    prof_config config = trace_config(1 << 20);
    trace_start(&config);
    tracy::SetThreadName("programs");
    zones_of_programs(true);
    zones_of_programs(false);
    for (int i = 0; i < 4; ++i) TracyAllocN(&blocks[i & 1], static_cast<size_t>(10 + i), pools[i & 1]);
    TracyFreeN(&blocks[0], pools[0]);
    if (lock.BeforeLock()) lock.AfterLock();
    lock.AfterUnlock();
    shared.AfterTryLockShared(true);
    shared.AfterUnlockShared();
    TracyLogString(tracy::MessageSeverity::Warning, 0, 0, strlen("with a size"), "with a size");
    TracyLogString(tracy::MessageSeverity::Error, 0, 0, "without");
    TracyPlotConfig("plot", tracy::PlotFormatType::Memory, true, true, 0);
    prof_trace *trace = trace_stop();
    trace_list list = trace_read(trace, trace_track_named(trace, "programs"));
    CHECK_EQUAL(trace_count(&list, "no semicolon"), 2);
    CHECK_EQUAL(trace_count(&list, "zones_of_programs"), 1);
    const prof_event *named = trace_nth(&list, "zones_of_programs", 0);
    CHECK(named->site->line && strstr(named->site->file, "test_tracy_cpp"));
    CHECK_EQUAL(named->site->color, 0x2f4f4f);
    CHECK_EQUAL(trace_count_with(&list, "zones_of_programs", "text", "only if"), 1);
    CHECK_EQUAL(trace_count(&list, "numbered"), 1);
    CHECK_EQUAL(trace_count(&list, "at run time"), 1);
    CHECK_EQUAL(trace_count(&list, "at another time"), 0);
    CHECK_EQUAL(trace_count_with(&list, "at run time", "text", "3 of four"), 1);
    CHECK_EQUAL(trace_count_with(&list, "at run time", "name", "renamed"), 1);
    CHECK_EQUAL(trace_count(&list, "on the heap"), 2);
    CHECK_EQUAL(trace_count_messages(&list, "with a size"), 1);
    CHECK_EQUAL(trace_count_messages(&list, "without"), 1);
    trace_free(&list);
    prof_memory_stats *memory = NULL;
    CHECK_EQUAL(prof_memory(trace, &memory), PROF_OK);
    CHECK_EQUAL(memory->pool_count, 2);
    for (size_t i = 0; i < memory->pool_count; ++i) {
        const bool one = !strcmp(memory->pools[i].pool, "pool one");
        CHECK(one || !strcmp(memory->pools[i].pool, "pool two"));
        CHECK_EQUAL(memory->pools[i].live_bytes, one ? 0 : 13);
    }
    prof_memory_free(memory);
    prof_lock_row *locks = NULL;
    size_t count = 0;
    CHECK_EQUAL(prof_locks(trace, 0, &locks, &count), PROF_OK);
    CHECK_EQUAL(count, 1);
    CHECK(count && !strcmp(locks[0].name, "own lock"));
    CHECK_EQUAL(count ? locks[0].acquired : 0, 2);
    prof_locks_free(locks);
    prof_trace_close(trace);
}

TEST_MAIN
