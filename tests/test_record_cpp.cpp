/* All of test_record.c as C++, and what only C++ has: exceptions, templates, lambdas, destructors, overloads. */
/* run: optimised */
#define PROF_CATEGORY "base"
#include "../prof_xplane.h"
#include "test_record.c"
#include <stdexcept>
#include <string>
#include <sys/stat.h>

namespace
{
struct thrower {
    explicit thrower(int depth)
    {
        PROFILE_FUNCTION();
        PROFILE_SCOPE_F("level %d", depth);
        if (!depth) throw std::runtime_error("bottom");
        thrower next(depth - 1);
    }
    ~thrower() { PROFILE_FUNCTION(); }
};

template <typename T> T doubled(T value)
{
    PROFILE_FUNCTION();
    PROFILE_ARG("value", value);
    return static_cast<T>(value + value);
}

inline int inlined(int value)
{
    PROFILE_SCOPE("inlined");
    return value + 1;
}
} // namespace

TEST(exceptions)
{
    record_start();
    for (int i = 0; i < 100; ++i) {
        PROFILE_SCOPE("around");
        try {
            PROFILE_SCOPE("try");
            PROFILE_BLOCK("block")
            {
                PROFILE_STAGE("stage");
                PROFILE_NEXT("next");
                thrower object(5);
            }
        } catch (const std::exception &) {
            PROFILE_SCOPE("catch");
        }
    }
    PROFILE_MARK("left");
    record_stop();
    CHECK_EQUAL(trace_count(&list, "level 3"), 100);
    CHECK_EQUAL(trace_count(&list, "catch"), 100);
    CHECK_EQUAL(expect("left", PROF_EVENT_MARK)->depth, 0);
    for (size_t i = 0; i < list.count; ++i) CHECK_EQUAL(list.events[i].flags, 0);
    for (size_t i = 0; i < 100; ++i) CHECK_EQUAL(trace_nth(&list, "catch", i)->depth, 1);
    CHECK_EQUAL(prof_trace_about(trace)->unmatched, 0);
    record_close();
}

namespace
{
enum { THROWERS = 4, THROWS = 200 };

void throw_inside()
{
    PROFILE_SCOPE("thrown through");
    PROFILE_BLOCK("block thrown through")
    {
        PROFILE_MARK("before the throw");
        throw std::runtime_error("inside");
    }
}

void *throw_often(void *unused)
{
    for (int i = 0; i < THROWS; ++i) {
        PROFILE_SCOPE("catching");
        try {
            throw_inside();
        } catch (const std::exception &) {
            PROFILE_MARK("caught");
        }
    }
    return unused;
}

int64_t end_of(const prof_event *event) { return event->start_ns + event->duration_ns; }
} // namespace

/* A scope that is thrown through lasts until it is left: no shorter, and not until what comes later. */
TEST(exceptions_on_several_threads_at_once)
{
    pthread_t threads[THROWERS];
    size_t found = 0;
    record_start();
    for (pthread_t &thread : threads) CHECK_EQUAL(pthread_create(&thread, nullptr, throw_often, nullptr), 0);
    for (pthread_t thread : threads) pthread_join(thread, nullptr);
    record_stop();
    for (size_t track = 0; track < prof_trace_track_count(trace); ++track) {
        trace_free(&list);
        list = trace_read(trace, track);
        if (!trace_count(&list, "catching")) continue;
        ++found;
        CHECK_EQUAL(list.count, 5 * THROWS);
        for (size_t i = 0; i + 5 <= list.count; i += 5) {
            const prof_event *outer = &list.events[i], *scope = outer + 1, *block = outer + 2, *mark = outer + 3,
                             *caught = outer + 4;
            CHECK_TEXT(outer->name, "catching");
            CHECK_TEXT(scope->name, "thrown through");
            CHECK_TEXT(block->name, "block thrown through");
            CHECK_TEXT(mark->name, "before the throw");
            CHECK_TEXT(caught->name, "caught");
            CHECK_EQUAL(outer->flags | scope->flags | block->flags, 0);
            CHECK(mark->start_ns <= end_of(block) && end_of(block) <= end_of(scope));
            CHECK(end_of(scope) <= caught->start_ns && caught->start_ns <= end_of(outer));
            CHECK_EQUAL(caught->depth, 1);
        }
    }
    CHECK_EQUAL(found, THROWERS);
    CHECK_EQUAL(prof_trace_about(trace)->unmatched, 0);
    record_close();
}

TEST(templates_and_lambdas)
{
    record_start();
    CHECK_EQUAL(doubled(21), 42);
    CHECK(doubled(std::string("ab").size()) == 4);
    CHECK(doubled(0.25f) > 0.4f);
    auto lambda = [](int value) {
        PROFILE_SCOPE("lambda");
        PROFILE_ARG("value", value);
        return inlined(value);
    };
    CHECK_EQUAL(lambda(1), 2);
    record_stop();
    CHECK_EQUAL(list.count, 5);
    CHECK_EQUAL(expect("doubled<int>", PROF_EVENT_SCOPE)->args[0].value.type, PROF_VALUE_INT);
    CHECK_EQUAL(list.events[1].args[0].value.type, PROF_VALUE_UINT); /* doubled<unsigned long> */
    CHECK_EQUAL(expect("doubled<float>", PROF_EVENT_SCOPE)->args[0].value.type, PROF_VALUE_DOUBLE);
    CHECK_EQUAL(expect("inlined", PROF_EVENT_SCOPE)->depth, 1);
    record_close();
}

TEST(objects_of_values)
{
    const std::string text("a string");
    bool flag = true;
    record_start();
    {
        PROFILE_SCOPE("values");
        PROFILE_ARG("bool", flag);
        PROFILE_ARG("string", text.c_str());
        PROFILE_ARG("this", &text);
        PROFILE_ARG("long", 1l);
    }
    record_stop();
    CHECK_EQUAL(value_of("bool")->type, PROF_VALUE_BOOL);
    CHECK_EQUAL(value_of("bool")->as.u, 1);
    CHECK_TEXT(value_of("string")->as.string, "a string");
    CHECK(value_of("this")->as.u == (uint64_t)(uintptr_t)&text);
    CHECK_EQUAL(value_of("long")->as.i, 1);
    record_close();
}

namespace
{
enum class color : unsigned char { red, green = 200 };
enum class depth : long long { low = -5 };
enum plain { third = 3 };
struct view { // as std::string_view, which C++11 has not: no zero behind it
    const char *begin;
    size_t length;
    const char *data() const { return begin; }
    size_t size() const { return length; }
};
struct converted { // a class that turned itself into a text before
    operator const char *() const { return "converted"; }
};
constexpr const char *chosen(bool first) { return first ? "chosen first" : "chosen second"; }
} // namespace

TEST(texts_and_enumerations_of_classes)
{
    const std::string text("a string");
    const view middle = {text.data() + 2, 3}, nothing = {nullptr, 0};
    const std::string too_long(3000, 'x');
    const view long_view = {too_long.data(), too_long.size()};
    record_start();
    {
        PROFILE_SCOPE_DYNAMIC(text);
        PROFILE_SCOPE_DYNAMIC(text + " and more");
        PROFILE_SCOPE_DYNAMIC(middle);
        PROFILE_SCOPE_DYNAMIC(nothing);
        PROFILE_SCOPE_DYNAMIC(converted());
        PROFILE_SCOPE(chosen(false));
        PROFILE_MARK_DYNAMIC(text + "!");
        PROFILE_SCOPE("values");
        PROFILE_ARG("string", text);
        PROFILE_ARG("temporary", text + "?");
        PROFILE_ARG("view", middle);
        PROFILE_ARG("long view", long_view);
        PROFILE_ARG_S("string as told", text);
        PROFILE_ARG("green", color::green);
        PROFILE_ARG("low", depth::low);
        PROFILE_ARG("plain", third);
        PROFILE_ARG("long double", 1.5L);
    }
    record_stop();
    CHECK_EQUAL(trace_count(&list, "a string"), 1);
    CHECK_EQUAL(trace_count(&list, "a string and more"), 1);
    CHECK_EQUAL(trace_count(&list, "str"), 1);
    CHECK_EQUAL(trace_count(&list, ""), 1);
    CHECK_EQUAL(trace_count(&list, "converted"), 1);
    CHECK_EQUAL(trace_count(&list, "chosen second"), 1);
    CHECK_EQUAL(trace_count(&list, "a string!"), 1);
    CHECK_TEXT(value_of("string")->as.string, "a string");
    CHECK_TEXT(value_of("temporary")->as.string, "a string?");
    CHECK_TEXT(value_of("view")->as.string, "str");
    CHECK(strlen(value_of("long view")->as.string) >= 1000 && strlen(value_of("long view")->as.string) < 1100);
    CHECK_TEXT(value_of("string as told")->as.string, "a string");
    CHECK_EQUAL(value_of("green")->as.u, 200);
    CHECK_EQUAL(value_of("low")->as.i, -5);
    CHECK_EQUAL(value_of("plain")->as.u, 3);
    CHECK_EQUAL(value_of("long double")->type, PROF_VALUE_DOUBLE);
    CHECK(value_of("long double")->as.d > 1.4 && value_of("long double")->as.d < 1.6);
    record_close();
}

// PROFILE_TRACE: a block is traced however it is left, by an exception, too.
static std::string run_of(const char *name)
{
    return std::string(trace_path("logs_cpp")) + "/plugins/profile/" + name + std::to_string(getpid());
}

static bool written(const std::string &run) // the file of the only host
{
    struct stat about;
    return !stat((run + "/h.xplane.pb").c_str(), &about) && about.st_size > 0;
}

static int leaves(const std::string &run, int how)
{
    int rounds = 0;
    for (int i = 0; i < 2; ++i) {
        PROFILE_TRACE(run.c_str())
        {
            PROFILE_SCOPE("inside");
            ++rounds;
            if (how == 1) throw 7;
            if (how == 2) return 100;
            if (how == 3) continue; // the trace's block, which ends by it
            if (how == 4) break;
        }
    }
    return rounds;
}

TEST(a_block_ends_its_trace)
{
    prof_set_metadata("host", "h");
    for (int how = 0; how < 5; ++how) {
        std::string run = run_of("how") + std::to_string(how);
        int caught = 0, rounds = 0;
        try {
            rounds = leaves(run, how);
        } catch (int thrown) {
            caught = thrown;
        }
        CHECK_EQUAL(caught, how == 1 ? 7 : 0);
        CHECK_EQUAL(rounds, how == 1 ? 0 : how == 2 ? 100 : 2);
        CHECK(!prof_enabled());
        CHECK_EQUAL(prof_xplane_stop_trace(), PROF_INVALID_STATE);
        CHECK(written(run));
    }
    prof_clear_metadata();
}

// One within another does not begin, and does not end the other's trace.
TEST(a_block_within_a_block)
{
    int inner = 0;
    prof_set_metadata("host", "h");
    std::string run = run_of("nested");
    prof_xplane_trace_options options = prof_xplane_trace_options();
    PROFILE_TRACE_WITH(run.c_str(), &options)
    {
        PROFILE_TRACE(run.c_str()) ++inner;
        CHECK_EQUAL(inner, 1);
        CHECK(prof_enabled());
    }
    CHECK(!prof_enabled() && written(run));
    prof_clear_metadata();
}

TEST_MAIN
