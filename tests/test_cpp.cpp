// What C++ has beside C: names of functions with their classes and template arguments. Valid in C++11, without
// exceptions and RTTI; tests/compile/cpp.sh builds it for several compilers and switches.
#include "../prof.hpp"
#include "../prof_read.h"
#include "test.h"
#include "trace.h"
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <sstream>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>
#if __cplusplus >= 201703L
#include <optional>
#include <string_view>
#endif

static trace_list events;
static prof_trace *trace;

static void record_start(size_t buffer_size = 1 << 20)
{
    prof_config config = trace_config(buffer_size);
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

namespace {
struct job {
    prof::scope running;
    explicit job(const char *name) : running(name) {}
};
job made(const char *name) { return job(name); }
const char *const literals[] = {"first hook", "second hook"};
} // namespace

TEST(scopes_as_objects)
{
    record_start();
    {
        prof::scope none, text(std::string("made ") + "here"), fixed(prof::static_name("fixed", 0xff0000));
        CHECK(!none && text && fixed && none.handle() == 0);
        PROFILE_ARG_TO(text.handle(), "who", "text");
        std::vector<job> jobs;
        for (int i = 0; i < 3; ++i) jobs.push_back(made("job")); // moves those before
        prof::scope other("to be replaced", 0x00ff00);
        other = prof::scope("other");
        other.begin("part 1");
        other.begin(std::string("part 2"));
        other.begin(prof::static_name("part 3"));
        other.begin("part 4", 0x0000ff);
        other.end();
        other.end();
        CHECK(!other);
        PROFILE_MARK("all jobs are open");
#if __cplusplus >= 201703L
        std::optional<prof::scope> maybe;
        maybe.emplace(std::string_view("maybe not", 5));
        maybe.reset();
#endif
    }
    PROFILE_MARK("none is open");
    record_stop();
    CHECK_EQUAL(trace_count(&events, "made here"), 1);
    CHECK_EQUAL(trace_count_with(&events, "made here", "who", "text"), 1);
    CHECK_EQUAL(trace_nth(&events, "fixed", 0)->site->color, 0xff0000);
    CHECK_EQUAL(trace_nth(&events, "part 4", 0)->site->color, 0x0000ff);
    CHECK_EQUAL(trace_count(&events, "job"), 3);
    for (const char *name : {"to be replaced", "other", "part 1", "part 2", "part 3", "part 4"})
        CHECK_EQUAL(trace_count(&events, name), 1);
    CHECK_EQUAL(trace_nth(&events, "part 3", 0)->depth, trace_nth(&events, "part 1", 0)->depth);
    // The second and third job, and "other", end after what is around them: readers show them as spans.
    CHECK_EQUAL(trace_nth(&events, "all jobs are open", 0)->depth, 3);
    CHECK_EQUAL(trace_nth(&events, "job", 0)->type, PROF_EVENT_SCOPE);
    CHECK_EQUAL(trace_nth(&events, "job", 1)->type, PROF_EVENT_SPAN_BEGIN);
    CHECK_EQUAL(trace_nth(&events, "to be replaced", 0)->type, PROF_EVENT_SCOPE);
    CHECK_EQUAL(trace_nth(&events, "other", 0)->type, PROF_EVENT_SPAN_BEGIN);
    CHECK_EQUAL(trace_nth(&events, "none is open", 0)->depth, 0);
#if __cplusplus >= 201703L
    CHECK_EQUAL(trace_count(&events, "maybe"), 1);
#endif
    for (size_t i = 0; i < events.count; ++i) CHECK_EQUAL(events.events[i].flags, 0);
    record_close();
}

// What an engine calls: two functions, and names that it got as pointers.
static void hook_begin(const char *name) { prof::begin(prof::static_name(name)); }
static void hook_end() { prof::end(); }

TEST(begin_and_end_apart)
{
    char text[16];
    record_start();
    for (int i = 0; i < 100; ++i) {
        hook_begin(literals[0]);
        snprintf(text, sizeof text, "item %d", i % 2);
        prof::begin(text, i % 2 ? 0x112233 : 0);
        prof_pause();
        hook_begin(literals[1]); // off: its end must not end what is around it
        prof_resume();
        hook_end();
        hook_begin(literals[1]);
        hook_end();
        hook_end();
        PROFILE_MARK("one is open");
        hook_end();
    }
    prof::end(); // nothing is open
    PROFILE_MARK("none is open");
    record_stop();
    CHECK_EQUAL(trace_count(&events, "first hook"), 100);
    CHECK_EQUAL(trace_count(&events, "second hook"), 100);
    CHECK_EQUAL(trace_count(&events, "item 0"), 50);
    CHECK_EQUAL(trace_count(&events, "item 1"), 50);
    CHECK_EQUAL(trace_nth(&events, "item 1", 7)->site->color, 0x112233);
    CHECK_EQUAL(trace_nth(&events, "item 0", 7)->site->color, 0);
    for (size_t i = 0; i < 100; ++i) {
        CHECK_EQUAL(trace_nth(&events, "second hook", i)->depth, 2);
        CHECK_EQUAL(trace_nth(&events, "one is open", i)->depth, 1);
    }
    CHECK_EQUAL(trace_nth(&events, "none is open", 0)->depth, 0);
    record_close();
}

// More names than the table has: each is right, and deep nesting ends in order. In a process of its own: the other
// tests need places.
static void record_many()
{
    enum { NAMES = 5000, DEPTH = 600 };
    static char names[NAMES][12];
    record_start(64 << 20);
    for (int i = 0; i < NAMES; ++i) {
        snprintf(names[i], sizeof names[i], "name %d", i);
        prof::scope each(prof::static_name(names[i], static_cast<uint32_t>(i % 2)));
    }
    for (int i = 0; i < DEPTH; ++i) prof::begin("deep");
    for (int i = 0; i < DEPTH; ++i) prof::end();
    PROFILE_MARK("none is open");
    record_stop();
    CHECK_EQUAL(events.count, NAMES + DEPTH + 1);
    for (int i = 0; i < NAMES; ++i) CHECK_TEXT(events.events[i].name, names[i]);
    CHECK_EQUAL(trace_count(&events, "deep"), DEPTH);
    CHECK_EQUAL(trace_nth(&events, "none is open", 0)->depth, 0);
    record_close();
}

TEST(many_names_and_deep_begins)
{
    int status = -1;
    fflush(stdout);
    const pid_t child = fork();
    if (!child) {
        record_many();
        fflush(stdout);
        _exit(test_failures != 0);
    }
    CHECK_EQUAL(waitpid(child, &status, 0), child);
    CHECK_EQUAL(status, 0);
}

TEST(one_name_on_several_threads)
{
    std::vector<std::thread> threads;
    record_start();
    for (int i = 0; i < 4; ++i)
        threads.emplace_back([] { for (int k = 0; k < 200; ++k) prof::scope(prof::static_name(literals[k & 1])); });
    for (std::thread &thread : threads) thread.join();
    trace = trace_stop();
    size_t found[2] = {0, 0};
    for (size_t track = 0; track < prof_trace_track_count(trace); ++track) {
        events = trace_read(trace, track);
        for (int i = 0; i < 2; ++i) found[i] += trace_count(&events, literals[i]);
        trace_free(&events);
    }
    CHECK_EQUAL(found[0], 400);
    CHECK_EQUAL(found[1], 400);
    prof_trace_close(trace);
}

struct shared_mutex_11 { // what std::shared_timed_mutex is from C++14 on
    std::timed_mutex all;
    void lock() { all.lock(); }
    bool try_lock() { return all.try_lock(); }
    void unlock() { all.unlock(); }
    void lock_shared() { all.lock(); }
    bool try_lock_shared() { return all.try_lock(); }
    void unlock_shared() { all.unlock(); }
    template <typename Time> bool try_lock_shared_for(const Time &time) { return all.try_lock_for(time); }
};

static const prof_lock_row *row_of(const prof_lock_row *rows, size_t count, const char *name)
{
    static const prof_lock_row none = prof_lock_row();
    for (size_t i = 0; i < count; ++i)
        if (!strcmp(rows[i].name, name)) return &rows[i];
    return &none;
}

TEST(locks)
{
    prof::lockable<std::mutex> pool("pool");
    prof::lockable<std::recursive_mutex> again("again");
    prof::lockable<std::timed_mutex> timed("timed");
    prof::lockable<shared_mutex_11> readers("readers");
    prof::lockable<std::mutex> unnamed;
    std::condition_variable_any ready;
    std::atomic<int> waits(0);
    bool is_ready = false;
    record_start();
    pool.lock();
    std::thread waiter([&] {
        PROFILE_THREAD("waiter");
        waits = 1;
        std::lock_guard<prof::lockable<std::mutex>> guard(pool);
        is_ready = true;
        ready.notify_one();
    });
    WAIT_UNTIL(waits.load());
    CHECK(!pool.try_lock() || (pool.unlock(), false));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    pool.unlock();
    waiter.join();
    {
        std::unique_lock<prof::lockable<std::mutex>> guard(pool);
        ready.wait(guard, [&] { return is_ready; });
    }
    again.lock();
    CHECK(again.try_lock());
    again.unlock();
    again.unlock();
    CHECK(timed.try_lock_for(std::chrono::milliseconds(1)));
    std::thread([&] {
        PROFILE_THREAD("too late");
        CHECK(!timed.try_lock_for(std::chrono::milliseconds(1)));
        CHECK(!timed.try_lock_until(std::chrono::steady_clock::now() + std::chrono::milliseconds(1)));
    }).join();
    timed.unlock();
    readers.lock_shared();
    readers.unlock_shared();
    CHECK(readers.try_lock_shared());
    readers.unlock_shared();
    CHECK(readers.try_lock_shared_for(std::chrono::milliseconds(1)));
    readers.unlock_shared();
    unnamed.lock();
    unnamed.base().unlock(); // the mutex itself
    unnamed.base().lock();
    unnamed.unlock();
    trace = trace_stop();
    prof_lock_row *rows = nullptr;
    size_t count = 0;
    CHECK_EQUAL(prof_locks(trace, 0, &rows, &count), PROF_OK);
    CHECK_EQUAL(count, 5);
    CHECK_EQUAL(row_of(rows, count, "pool")->acquired, 3);
    CHECK_EQUAL(row_of(rows, count, "pool")->contended, 1);
    CHECK(row_of(rows, count, "pool")->wait_ns > 0);
    CHECK_EQUAL(row_of(rows, count, "again")->acquired, 2);
    CHECK_EQUAL(row_of(rows, count, "timed")->acquired, 1);
    CHECK_EQUAL(row_of(rows, count, "timed")->unmatched, 0);
    CHECK_EQUAL(row_of(rows, count, "readers")->acquired, 3);
    CHECK_EQUAL(row_of(rows, count, "lock")->acquired, 1);
    prof_locks_free(rows);
    events = trace_read(trace, trace_track_named(trace, "waiter"));
    CHECK_EQUAL(trace_count(&events, "wait for pool"), 1);
    trace_free(&events);
    events = trace_read(trace, trace_track_named(trace, "too late"));
    CHECK_EQUAL(trace_count(&events, "wait for timed"), 2);
    record_close();
}

// Values of PROFILE_ARG: classes of the standard library, and of the program.
namespace geometry {
struct point { int x, y; };
std::string prof_text(const point &p) { return std::to_string(p.x) + "," + std::to_string(p.y); }
struct meters { double value; };
double prof_text(const meters &m) { return m.value; }
enum class axis { x, y };
const char *prof_text(axis a) { return a == axis::x ? "x" : "y"; }
enum class plain : unsigned char { low, high = 200 };
struct shown { int value; };
std::ostream &operator<<(std::ostream &out, const shown &s) { return out << "<" << s.value << ">"; }
template <typename Any> auto prof_text(const Any &any) -> decltype(std::declval<std::ostream &>() << any, std::string())
{
    std::ostringstream out;
    out << any;
    return out.str();
}
} // namespace geometry

template <typename A, typename B> static A added(A a, B b) { return static_cast<A>(a + b); }

static const prof_value *value_of(const char *key)
{
    static const prof_value none = prof_value();
    const prof_event *event = trace_nth(&events, "values", 0);
    for (uint32_t i = 0; event && i < event->arg_count; ++i)
        if (!strcmp(event->args[i].key, key)) return &event->args[i].value;
    printf("    no argument %s\n", key);
    return &none;
}
static const char *text_of(const char *key)
{
    const prof_value *value = value_of(key);
    return value->type == PROF_VALUE_STRING ? value->as.string : "(no text)";
}

TEST(arguments_of_classes)
{
    namespace chrono = std::chrono;
    typedef chrono::duration<long long, std::ratio<1, 60>> tick;
    std::atomic<int> number(-7);
    std::atomic<bool> flag(true);
    std::string copied("copied");
    int once = 0;
    record_start();
    {
        PROFILE_SCOPE("values");
        PROFILE_ARG("commas", added<int, short>(1, 2));
        PROFILE_ARG_I("commas too", added<int, short>(1, 3));
        PROFILE_ARG_S("text with commas", std::pair<int, std::string>(1, "second").second);
        PROFILE_ARG("once", ++once);
        PROFILE_ARG("ns", chrono::nanoseconds(15));
        PROFILE_ARG("ms", chrono::milliseconds(-16));
        PROFILE_ARG("least", chrono::microseconds::min());
        PROFILE_ARG("real", chrono::duration<double>(0.0166667));
        PROFILE_ARG("real ms", chrono::duration<float, std::milli>(-2.5f));
        PROFILE_ARG("whole", chrono::duration<double, std::milli>(3));
        PROFILE_ARG("hours", chrono::hours(3));
        PROFILE_ARG("ticks", tick(3));
        PROFILE_ARG("atomic", number);
        PROFILE_ARG("atomic flag", flag);
        PROFILE_ARG("char", 'c');
        PROFILE_ARG("zero", '\0');
        PROFILE_ARG("byte", static_cast<unsigned char>(200));
        PROFILE_ARG("signed byte", static_cast<signed char>(-100));
        PROFILE_ARG("point", geometry::point{3, -4});
        PROFILE_ARG("meters", geometry::meters{1.5});
        PROFILE_ARG("axis", geometry::axis::y);
        PROFILE_ARG("enum", geometry::plain::high);
        PROFILE_ARG("shown", geometry::shown{5});
        PROFILE_ARGS(PROF_ARG("listed", added<int, short>(2, 2)), PROF_ARG("listed ms", chrono::milliseconds(4)),
                     PROF_ARG("listed char", 'z'), PROF_ARG("listed atomic", number),
                     PROF_ARG("listed point", geometry::point{1, 2}), PROF_ARG("listed enum", geometry::plain::high),
                     PROF_ARG("listed text", copied), PROF_ARG("listed meters", geometry::meters{2.5}));
        PROFILE_SCOPE_DYNAMIC(std::pair<int, std::string>(1, "named with commas").second);
        PROFILE_MARK_DYNAMIC(std::pair<int, std::string>(1, "marked with commas").second);
    }
    record_stop();
    CHECK_EQUAL(value_of("commas")->as.i, 3);
    CHECK_EQUAL(value_of("commas too")->as.i, 4);
    CHECK_TEXT(text_of("text with commas"), "second");
    CHECK_EQUAL(value_of("once")->as.i, 1);
    CHECK_TEXT(text_of("ns"), "15 ns");
    CHECK_TEXT(text_of("ms"), "-16 ms");
    CHECK_TEXT(text_of("least"), "-9223372036854775808 us");
    CHECK_TEXT(text_of("real"), "0.016667 s");
    CHECK_TEXT(text_of("real ms"), "-2.5 ms");
    CHECK_TEXT(text_of("whole"), "3 ms");
    CHECK_TEXT(text_of("hours"), "3 h");
    CHECK_TEXT(text_of("ticks"), "3 * 1/60 s");
    CHECK_EQUAL(value_of("atomic")->as.i, -7);
    CHECK_EQUAL(value_of("atomic flag")->type, PROF_VALUE_BOOL);
    CHECK_TEXT(text_of("char"), "c");
    CHECK_TEXT(text_of("zero"), "\\x00");
    CHECK_EQUAL(value_of("byte")->as.i, 200);
    CHECK_EQUAL(value_of("signed byte")->as.i, -100);
    CHECK_TEXT(text_of("point"), "3,-4");
    CHECK_EQUAL(value_of("meters")->type, PROF_VALUE_DOUBLE);
    CHECK_TEXT(text_of("axis"), "y");
    CHECK_EQUAL(value_of("enum")->as.u, 200);
    CHECK_TEXT(text_of("shown"), "<5>");
    CHECK_EQUAL(value_of("listed")->as.i, 4);
    CHECK_TEXT(text_of("listed ms"), "4 ms");
    CHECK_TEXT(text_of("listed char"), "z");
    CHECK_EQUAL(value_of("listed atomic")->as.i, -7);
    CHECK_TEXT(text_of("listed point"), "1,2");
    CHECK_EQUAL(value_of("listed enum")->as.u, 200);
    CHECK_TEXT(text_of("listed text"), "copied");
    CHECK_EQUAL(value_of("listed meters")->type, PROF_VALUE_DOUBLE);
    CHECK_EQUAL(trace_count(&events, "named with commas"), 1);
    CHECK_EQUAL(trace_count(&events, "marked with commas"), 1);
    record_close();
}

TEST_MAIN
