// What C++ has beside C: names of functions with their classes and template arguments. Valid in C++11, without
// exceptions and RTTI; tests/compile/cpp.sh builds it for several compilers and switches.
#include "../prof_read.h"
#include "test.h"
#include "trace.h"
#include <string>
#include <thread>
#include <vector>

static trace_list events;
static prof_trace *trace;

static void record_start()
{
    prof_config config = trace_config(1 << 20);
    trace_start(&config);
}
static void record_stop(const char *track = nullptr)
{
    trace = trace_stop();
    events = trace_read(trace, track ? trace_track_named(trace, track) : 0);
}
static void record_close()
{
    trace_free(&events);
    prof_trace_close(trace);
}

namespace shapes {
struct square {
    square() { PROFILE_FUNCTION(); }
    ~square() { PROFILE_FUNCTION(); }
    void draw(int) const { PROFILE_FUNCTION_C("draw"); }
    static square *none() noexcept { PROFILE_FUNCTION_L(2); return nullptr; }
    virtual const char *name(const char *text) { PROFILE_FUNCTION_COLOR(0xff0000); return text; }
    bool operator<(const square &) const { PROFILE_FUNCTION(); return false; }
    square &operator<<(int) { PROFILE_FUNCTION(); return *this; }
    int operator()(int (*)(int)) { PROFILE_FUNCTION(); return 0; }
    square *operator->() { PROFILE_FUNCTION(); return this; }
    operator int() { PROFILE_FUNCTION(); return 0; }
    int within(int)
    {
        struct local {
            int run() const { PROFILE_FUNCTION(); return [](int n) { PROFILE_FUNCTION(); return n; }(3); }
        };
        return local().run();
    }
};
template <typename T> struct list {
    T update(T value) { PROFILE_FUNCTION(); return value; }
    template <typename U> std::size_t put(const U &) { PROFILE_FUNCTION(); return 0; }
    template <typename U> struct inner { void walk() { PROFILE_FUNCTION(); } };
    operator T() { PROFILE_FUNCTION(); return T(); }
};
template <> struct list<char> { void update() { PROFILE_FUNCTION(); } };
template <typename T, int size> struct array { static void fill() { PROFILE_FUNCTION(); } };
template <typename... Ts> struct pack { template <typename... Us> void take(Us...) { PROFILE_FUNCTION(); } };
template <char c> void letter() { PROFILE_FUNCTION(); }
template <typename T, typename F> T twice(T value, F call) { PROFILE_FUNCTION(); return call(call(value)); }
} // namespace shapes
namespace {
struct hidden { void work() { PROFILE_FUNCTION(); } };
void (*pointer(int))(int) { PROFILE_FUNCTION(); return nullptr; }
} // namespace
extern "C" {
static void plain(void) { PROFILE_FUNCTION(); }
}

static int one(int n) { PROFILE_FUNCTION(); return n; }

TEST(names_of_functions)
{
    using namespace shapes;
    record_start();
    {
        square s;
        s.draw(1);
        (void)square::none();
        (void)s.name("");
        (void)(s < s);
        s << 1;
        s(one);
        (void)s.operator->();
        (void)static_cast<int>(s);
        s.within(1);
    }
    shapes::list<int>().update(1);
    shapes::list<float>().update(1);
    shapes::list<char>().update();
    shapes::list<int>().put(2.0);
    shapes::list<hidden *>().put('c');
    shapes::list<int>::inner<hidden>().walk();
    (void)static_cast<double>(shapes::list<double>());
    array<double, 3>::fill();
    pack<int, float>().take();
    pack<>().take(1, 'c');
    letter<'('>();
    twice(1.5f, [](float n) { PROFILE_FUNCTION(); return n; });
    hidden().work();
    (void)pointer(1);
    plain();
    one(1);
    record_stop();
    static const char *const names[] = {
        "shapes::square::square", "shapes::square::~square", "shapes::square::draw", "shapes::square::none",
        "shapes::square::name", "shapes::square::operator<", "shapes::square::operator<<",
        "shapes::square::operator()", "shapes::square::operator->", "shapes::square::operator int",
        "shapes::square::within::local::run", "shapes::square::within::local::run::lambda",
        "shapes::list<int>::update", "shapes::list<float>::update", "shapes::list<char>::update",
        "shapes::list<int>::put<double>", "shapes::list<hidden*>::put<char>", "shapes::list<int>::inner<hidden>::walk",
        "shapes::list<double>::operator double", "shapes::array<double, 3>::fill", "shapes::pack<int, float>::take",
        "shapes::pack<>::take<int, char>", "shapes::letter<'('>", "hidden::work", "pointer", "plain", "one"};
    for (const char *name : names) {
        CHECK_EQUAL(trace_count(&events, name), 1);
        if (trace_count(&events, name) != 1) printf("    %s\n", name);
    }
    CHECK_EQUAL(trace_count(&events, "test_names_of_functions::lambda"), 2);
    size_t twices = 0;
    for (size_t i = 0; i < events.count; ++i) twices += !strncmp(events.events[i].name, "shapes::twice<float, ", 21);
    CHECK_EQUAL(twices, 1);
    CHECK_EQUAL(events.count, sizeof names / sizeof *names + 3);
    CHECK_TEXT(trace_nth(&events, "shapes::square::draw", 0)->site->category, "draw");
    CHECK_TEXT(trace_nth(&events, "shapes::square::draw", 0)->site->function, "draw");
    CHECK_EQUAL(trace_nth(&events, "shapes::square::name", 0)->site->color, 0xff0000);
    record_close();
}

// A name is made once, whichever thread comes first; later sessions have it, too.
TEST(names_on_several_threads)
{
    for (int session = 0; session < 2; ++session) {
        std::vector<std::thread> threads;
        record_start();
        for (int i = 0; i < 4; ++i)
            threads.emplace_back([] { for (int k = 0; k < 100; ++k) shapes::list<unsigned>().update(1); });
        for (std::thread &thread : threads) thread.join();
        trace = trace_stop();
        size_t found = 0, all = 0;
        for (size_t track = 0; track < prof_trace_track_count(trace); ++track) {
            events = trace_read(trace, track);
            found += trace_count(&events, "shapes::list<unsigned int>::update");
            all += events.count;
            trace_free(&events);
        }
        CHECK_EQUAL(found, 400);
        CHECK_EQUAL(all, 400);
        prof_trace_close(trace);
    }
}

TEST_MAIN
