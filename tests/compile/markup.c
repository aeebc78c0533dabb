/* markup.c - every public macro in every form, as C and as C++, live and stripped. matrix.sh compiles this file in
   every way, runs it where it can and has program.c check what was recorded; stripped.sh compares its object file with
   that of the same text without markup. So: what a macro's arguments need exists for them alone, and nothing here may
   depend on whether they are evaluated. */
#include "markup.h"

enum markup_color { MARKUP_RED, MARKUP_GREEN, MARKUP_BLUE };

struct markup_flags {
    unsigned small : 3;
    int narrow : 5;
    unsigned long long wide : 40;
};

static const char *const markup_name = "made at run time";

#ifndef _WIN32
#include <pthread.h>
static pthread_mutex_t markup_mutex = PTHREAD_MUTEX_INITIALIZER;
#ifdef MARKUP_BARE /* these two do something without markup, too */
#undef PROFILE_MUTEX_LOCK
#undef PROFILE_MUTEX_UNLOCK
#define PROFILE_MUTEX_LOCK(mutex, name) pthread_mutex_lock(mutex)
#define PROFILE_MUTEX_UNLOCK(mutex) pthread_mutex_unlock(mutex)
#endif
#else
#include <windows.h>
static CRITICAL_SECTION markup_section;
static SRWLOCK markup_srw = SRWLOCK_INIT;
#ifdef MARKUP_BARE
#undef PROFILE_CRITICAL_SECTION_ENTER
#undef PROFILE_CRITICAL_SECTION_LEAVE
#undef PROFILE_SRWLOCK_ACQUIRE
#undef PROFILE_SRWLOCK_RELEASE
#undef PROFILE_SRWLOCK_ACQUIRE_SHARED
#undef PROFILE_SRWLOCK_RELEASE_SHARED
#define PROFILE_CRITICAL_SECTION_ENTER(section, name) EnterCriticalSection(section)
#define PROFILE_CRITICAL_SECTION_LEAVE(section) LeaveCriticalSection(section)
#define PROFILE_SRWLOCK_ACQUIRE(lock, name) AcquireSRWLockExclusive(lock)
#define PROFILE_SRWLOCK_RELEASE(lock) ReleaseSRWLockExclusive(lock)
#define PROFILE_SRWLOCK_ACQUIRE_SHARED(lock, name) AcquireSRWLockShared(lock)
#define PROFILE_SRWLOCK_RELEASE_SHARED(lock) ReleaseSRWLockShared(lock)
#endif
#endif

#if MARKUP_SCOPES
static int markup_scopes(int value)
{
    PROFILE_SCOPE("scope");
    PROFILE_SCOPE_C("scope_c", "net");
    PROFILE_SCOPE_L("scope_l", 2);
    PROFILE_SCOPE_COLOR("scope_color", 0x3366cc);
    PROFILE_SCOPE_SYNC("scope_sync");
    PROFILE_SYNC();
    PROFILE_SCOPE_L("scope_l too high", 9);
    PROFILE_SCOPE_CL("scope_cl", "net", 2);
    PROFILE_SCOPE_DYNAMIC(markup_name);
    PROFILE_SCOPE_TEXT(markup_name, 4);
    PROFILE_SCOPE_F("scope_f %d %s", value, "text");
    PROFILE_SCOPE_F("scope_f alone");
    return value + 1;
}

static int markup_function(int value)
{
    PROFILE_FUNCTION();
    return value + 1;
}

static int markup_function_c(int value)
{
    PROFILE_FUNCTION_C("net");
    return value + 1;
}

static int markup_function_l(int value)
{
    PROFILE_FUNCTION_L(2);
    return value + 1;
}

static int markup_function_color(int value)
{
    PROFILE_FUNCTION_COLOR(0xff0000);
    return value + 1;
}

static int markup_many_on_a_line(int value)
{
    PROFILE_SCOPE("line 1"); PROFILE_SCOPE("line 2"); PROFILE_MARK("line mark"); { PROFILE_SCOPE("line 3"); ++value; }
    return value;
}

static int markup_nested(int value)
{
    PROFILE_SCOPE("nest");
    {
        PROFILE_SCOPE("nest");
        {
            PROFILE_SCOPE("nest");
            ++value;
        }
    }
    return value;
}

static int markup_recursive(int depth)
{
    PROFILE_SCOPE("recursive");
    PROFILE_ARG_I("depth", depth);
    return depth ? 1 + markup_recursive(depth - 1) : 0;
}

static int markup_ways_out(int value)
{
    int i;
    for (i = 0; i < 4; ++i) {
        PROFILE_SCOPE("loop");
        if (i == 1) continue;
        if (i == 2) break;
        ++value;
    }
    if (value > 0) {
        PROFILE_SCOPE("goto");
        if (value < 1000000) goto out;
        --value;
    }
out:
    switch (value & 1) {
    case 0: {
        PROFILE_SCOPE("case");
        return value + 1;
    }
    default: {
        PROFILE_SCOPE("case");
        ++value;
        break;
    }
    }
    return value;
}

static int markup_stages(int value)
{
    PROFILE_STAGE("stage 1");
    ++value;
    PROFILE_NEXT("stage 2");
    ++value;
    if (value > 0) PROFILE_NEXT("stage 3");
    else PROFILE_NEXT("never");
    {
        PROFILE_STAGE("inner stage 1");
        ++value;
        PROFILE_NEXT("inner stage 2");
        ++value;
    }
    PROFILE_NEXT("stage 4");
    return value;
}
#endif

static int markup_blocks(int value)
{
    int i;
    PROFILE_BLOCK("block") {
        ++value;
        PROFILE_BLOCK_C("block_c", "net") {
            ++value;
        }
        PROFILE_BLOCK_L("block_l", 2) {
            PROFILE_BLOCK_L("block_l too high", 9) ++value;
        }
    }
    if (value > 0)
        PROFILE_BLOCK("block without braces") ++value;
    else
        PROFILE_BLOCK("never") --value;
    for (i = 0; i < 3; ++i)
        PROFILE_BLOCK("block in a loop") {
            ++value;
        }
    return value;
}

#if MARKUP_SCOPES
static int markup_block_ways_out(int value)
{
    PROFILE_BLOCK("block goto") {
        ++value;
        if (value > 0) goto out;
        --value;
    }
out:
    PROFILE_BLOCK("block return") {
        return value + 1;
    }
    return value;
}
#endif

static int markup_begin_end(int value)
{
    PROFILE_BEGIN("begin");
    if (value > 0) PROFILE_BEGIN_C("begin_c", "net");
    else PROFILE_MARK("never");
    PROFILE_BEGIN_L("begin_l", 2); PROFILE_BEGIN_L("begin_l too high", 9); ++value;
    PROFILE_END("begin_l too high");
    PROFILE_END("begin_l"); PROFILE_END("begin_c");
    PROFILE_END("begin");
    PROFILE_END("never begun");
    return value;
}

static int markup_marks(int value)
{
    int i;
    PROFILE_MARK("mark");
    PROFILE_MARK_C("mark_c", "net"); PROFILE_MARK_L("mark_l", 2); PROFILE_MARK_L("mark_l too high", 9);
    PROFILE_MARK_DYNAMIC(markup_name);
    PROFILE_MARK_TEXT(markup_name, sizeof value);
    PROFILE_MARK_F("mark_f %d%%", value);
    PROFILE_MARK_F("mark_f alone");
    for (i = 0; i < 3; ++i) PROFILE_MARK("mark in a loop");
    if (value > 0)
        PROFILE_MARK("mark without braces");
    else
        PROFILE_MARK("never");
    switch (value & 1) {
    case 0: PROFILE_MARK("mark in a switch"); break;
    case 1: PROFILE_MARK("mark in a switch"); break;
    default: PROFILE_MARK("never"); break;
    }
    PROFILE_FRAME("frame");
    PROFILE_FRAME("frame");
    return value;
}

#if MARKUP_SCOPES
static int markup_note_scopes(int value)
{
    unsigned long long big = 1ull << 40;
    size_t moved = 4096;
    struct markup_flags flags;
    flags.small = 5;
    flags.narrow = -3;
    flags.wide = 1ull << 39;
    PROFILE_SCOPE_MASK("scope_m", 0x80000001u); PROFILE_SCOPE_MASK("scope_m int", 6);
    PROFILE_STEP("step", value);
    PROFILE_STEP_DYNAMIC(&markup_name[5], value); PROFILE_THROUGHPUT_DYNAMIC(&markup_name[8], sizeof value);
    {
        PROFILE_STEP("step", flags.narrow); PROFILE_STEP("step big", big);
        PROFILE_THROUGHPUT("throughput", moved);
        PROFILE_THROUGHPUT_UNIT("throughput", moved, "samples");
        PROFILE_THROUGHPUT("throughput", value * 10);
        PROFILE_THROUGHPUT("throughput bits", flags.wide);
        ++value;
    }
    return value + flags.small - 5;
}
#endif

static int markup_notes(int value)
{
    const unsigned long long id = 18446744073709551615ull;
    const char *text = "text";
    const short little = -7;
    PROFILE_FLOW_OUT(id); PROFILE_FLOW_STEP(id); PROFILE_FLOW_IN(id);
    PROFILE_FLOW_OUT_SHARED(id); PROFILE_FLOW_STEP_SHARED(id); PROFILE_FLOW_IN_SHARED(id);
    PROFILE_FLOW_OUT_NAMED("flow_n", 5); PROFILE_FLOW_STEP_NAMED("flow_n", 5);
    if (value > 0)
        PROFILE_FLOW_IN_NAMED("flow_n", 5u);
    else
        PROFILE_FLOW_IN_NAMED("never", prof_flow_new());
    PROFILE_LOG(PROF_LOG_INFO, "log");
    PROFILE_LOG(PROF_LOG_WARNING, "log %d %s %5.1f %c", value, text, 0.5, 'c');
    PROFILE_LOG(PROF_LOG_DEBUG, "log too high %hd", little);
    if (value > 0)
        PROFILE_LOG(PROF_LOG_ERROR, "log %%");
    else
        PROFILE_LOG(PROF_LOG_FATAL, "never");
    return value + (id > 0) + (*text == 't') + little + 5;
}

static int markup_counters(int value)
{
    int level = -5;
    unsigned long long big = 9007199254740993u;
    float fraction = 0.25f;
    double precise = 0.1;
    short little = -7;
    enum markup_color color = MARKUP_BLUE;
    volatile int changing = 31;
    struct markup_flags flags;
    flags.small = 5;
    flags.narrow = -3;
    flags.wide = 1ull << 39;
    PROFILE_COUNTER("counter changing", changing);
    PROFILE_COUNTER("counter", level);
    PROFILE_COUNTER_C("counter_c", big, "net");
    PROFILE_COUNTER_L("counter_l", fraction, 2);
    PROFILE_COUNTER_L("counter_l too high", fraction, 9);
    PROFILE_COUNTER("counter double", precise);
    PROFILE_COUNTER("counter short", little);
    PROFILE_COUNTER("counter enum", color);
    PROFILE_COUNTER("counter bits", flags.narrow); PROFILE_COUNTER("counter bits", flags.small);
    PROFILE_COUNTER("counter wide bits", flags.wide);
    PROFILE_COUNTER("counter literal", 3.5);
    PROFILE_COUNTER("counter truth", value > 0);
    PROFILE_COUNTER_UNIT("counter unit", fraction, "MHz");
    return value;
}

static int markup_spans(int value)
{
    unsigned long long id = 18446744073709551615ull;
    PROFILE_SPAN_BEGIN("span", id);
    PROFILE_SPAN_BEGIN_C("span_c", value, "net"); PROFILE_SPAN_MARK_C("span_c", value, "net");
    if (value > 0)
        PROFILE_SPAN_MARK("span", id);
    else
        PROFILE_SPAN_MARK("never", id);
    PROFILE_SPAN_END("span", id);
    PROFILE_SPAN_END_C("span_c", value, "net");
    PROFILE_MARK_REACH("mark of all", PROF_MARK_GLOBAL);
    PROFILE_MARK_REACH("mark of a thread", PROF_MARK_THREAD);
    if (value > 0) PROFILE_MARK_REACH("mark of a task", PROF_MARK_TASK);
    else PROFILE_MARK_REACH("never", PROF_MARK_MARKER);
    return value;
}

static int markup_counts(int value)
{
    float fraction = 0.25f;
    unsigned long big = 1ul << 30;
    short little = -7;
    PROFILE_COUNTER_SET("count", value); PROFILE_COUNTER_ADD("count", big); PROFILE_COUNTER_SUB("count", little);
    if (value > 0)
        PROFILE_COUNTER_ADD("count", 1);
    else
        PROFILE_COUNTER_SUB("count", 1u);
    PROFILE_COUNTER_SET_UNIT("count_unit", value, "B");
    PROFILE_COUNTER_ADD_UNIT("count_unit", big, "B");
    PROFILE_COUNTER_SUB_UNIT("count_unit", little, "B");
    PROFILE_COUNTER_SET_C("count_c", 0.5, "net");
    PROFILE_COUNTER_ADD_C("count_c", fraction, "net");
    PROFILE_COUNTER_SUB_C("count_c", value > 0, "net");
    return value;
}

static int markup_args(int value)
{
    long long low = -9223372036854775807ll - 1;
    unsigned long long high = 18446744073709551615ull;
    double number = -1.5;
    int truth = 1;
    const char *text = "some text";
    char letters[6] = {'a', 'r', 'r', 'a', 'y', 0};
    static int target;
    volatile int *where = &target;
    const void *nowhere = NULL;
    volatile int changing = 30;
    struct markup_flags flags;
    flags.small = 6;
    flags.narrow = -4;
    flags.wide = 1ull << 38;
    PROFILE_BLOCK("args") {
        PROFILE_ARG_I("i", low); PROFILE_ARG_U("u", high); PROFILE_ARG_D("d", number);
        PROFILE_ARG_B("b", truth);
        PROFILE_ARG_S("s", text);
        PROFILE_ARG_TEXT("part", text, 2);
        PROFILE_ARG_S("array", letters);
        PROFILE_ARG_P("p", where);
        PROFILE_ARG_P("null", nowhere);
        PROFILE_ARG_I("changing", changing);
        PROFILE_ARG_I("bits", flags.narrow);
        PROFILE_ARG_U("wide bits", flags.wide);
        if (value > 0)
            PROFILE_ARG_I("without braces", -1);
        else
            PROFILE_ARG_I("never", 0);
        ++value;
    }
    return value + flags.small - 6;
}

static int markup_memory(int value)
{
    static int block;
    void *where = &block;
    const volatile int *there = &block;
    size_t number = 4096, bytes = 100;
    PROFILE_ALLOC(where, bytes);
    PROFILE_REALLOC(where, there, 200);
    PROFILE_FREE(there);
    PROFILE_ALLOC_POOL(number, bytes, "gpu"); PROFILE_REALLOC_POOL(number, number + 64, bytes * 2, "gpu");
    if (value > 0)
        PROFILE_FREE_POOL(number + 64, "gpu");
    else
        PROFILE_FREE(NULL);
    return value;
}

#if MARKUP_SCOPES
static int markup_memory_scopes(int value)
{
    PROFILE_MEMORY_SCOPE("memory scope");
    PROFILE_MEMORY_SCOPE_DYNAMIC(markup_name);
    return value + 1;
}
#endif

static int markup_locks(int value)
{
    static int lock;
    volatile int *where = &lock;
    PROFILE_LOCK_WAIT(where, "lock");
    PROFILE_LOCK_ACQUIRE(&lock, "lock"); PROFILE_LOCK_RELEASE(where, "lock");
#ifndef _WIN32
    if (PROFILE_MUTEX_LOCK(&markup_mutex, "mutex") == 0) ++value;
    if (value > 0)
        PROFILE_MUTEX_UNLOCK(&markup_mutex);
    else
        --value;
    PROFILE_MUTEX_LOCK(&markup_mutex, "mutex"); PROFILE_MUTEX_UNLOCK(&markup_mutex);
#else
    InitializeCriticalSection(&markup_section);
    PROFILE_CRITICAL_SECTION_ENTER(&markup_section, "section"); PROFILE_CRITICAL_SECTION_LEAVE(&markup_section);
    if (value >= 0)
        PROFILE_SRWLOCK_ACQUIRE(&markup_srw, "srw");
    else
        AcquireSRWLockExclusive(&markup_srw);
    PROFILE_SRWLOCK_RELEASE(&markup_srw);
    PROFILE_SRWLOCK_ACQUIRE_SHARED(&markup_srw, "srw");
    PROFILE_SRWLOCK_RELEASE_SHARED(&markup_srw);
    DeleteCriticalSection(&markup_section);
#endif
    return value;
}

#if MARKUP_TYPED
static int markup_typed_args(int value)
{
#ifdef __cplusplus
    bool truth = true;
#else
    _Bool truth = 1;
#endif
    char letter = 'x';
    signed char tiny = -1;
    unsigned char octet = 255;
    short little = -300;
    unsigned short word = 65535;
    unsigned plain = 4000000000u;
    long more = -70000;
    unsigned long many = 70000;
    long long low = -9223372036854775807ll - 1;
    unsigned long long high = 18446744073709551615ull;
    float half = 0.5f;
    double number = -1.5;
    enum markup_color color = MARKUP_GREEN;
    char letters[6] = {'a', 'r', 'r', 'a', 'y', 0};
    char *changeable = letters;
    const char *text = "some text";
    const char *const fixed = "fixed";
    static int target;
    volatile int *where = &target;
    const double *number_at = &number;
    void *nowhere = NULL;
    const int constant = 12;
    struct markup_flags flags;
    flags.small = 7;
    flags.narrow = -5;
    flags.wide = 1ull << 37;
    PROFILE_BLOCK("typed args") {
        PROFILE_ARG("bool", truth);
        PROFILE_ARG("comparison", value > 0);
        PROFILE_ARG("char", letter); PROFILE_ARG("signed char", tiny); PROFILE_ARG("unsigned char", octet);
        PROFILE_ARG("short", little);
        PROFILE_ARG("unsigned short", word);
        PROFILE_ARG("int", -value);
        PROFILE_ARG("unsigned", plain);
        PROFILE_ARG("long", more);
        PROFILE_ARG("unsigned long", many);
        PROFILE_ARG("long long", low);
        PROFILE_ARG("unsigned long long", high);
        PROFILE_ARG("float", half);
        PROFILE_ARG("double", number);
        PROFILE_ARG("enum", color);
        PROFILE_ARG("enumerator", MARKUP_BLUE);
        PROFILE_ARG("array", letters);
        PROFILE_ARG("char *", changeable);
        PROFILE_ARG("const char *", text);
        PROFILE_ARG("const char *const", fixed);
        PROFILE_ARG("literal", "a literal");
        PROFILE_ARG("volatile int *", where);
        PROFILE_ARG("const double *", number_at);
        PROFILE_ARG("null", nowhere);
        PROFILE_ARG("const int", constant);
        PROFILE_ARG("small bits", flags.small);
        PROFILE_ARG("narrow bits", flags.narrow);
        PROFILE_ARG("wide bits", flags.wide);
        PROFILE_ARG("character", 'c');
        PROFILE_ARG("size", sizeof(int));
        if (value > 0)
            PROFILE_ARG("without braces", -1);
        else
            PROFILE_ARG("never", 0);
        ++value;
    }
    return value;
}
#endif

static int markup_lists(int value)
{
    const char *text = "some text";
    unsigned id = 9;
    PROFILE_BLOCK("lists") {
        PROFILE_ARGS(PROF_ARG_I(text, value), PROF_ARG_U("u", id), PROF_ARG_D("d", 0.25));
        if (value > 0)
            PROFILE_ARGS(PROF_ARG_B("b", 1));
        else
            PROFILE_ARGS(PROF_ARG_P("never", text));
    }
    PROFILE_MARK_ARGS("mark list", PROF_ARG_S("text", text), PROF_ARG_P("at", text));
    PROFILE_SPAN_BEGIN_ARGS("span list", id, PROF_ARG_I("size", value));
    PROFILE_SPAN_MARK_ARGS("span list", id, PROF_ARG_I("part", 1));
    PROFILE_SPAN_END_ARGS("span list", id, PROF_ARG_I("status", 200));
    PROFILE_FLOW_OUT_ARGS(id, PROF_ARG_I("queue", 1)); PROFILE_FLOW_STEP_ARGS(id, PROF_ARG_I("queue", 2));
    PROFILE_FLOW_IN_ARGS(id, PROF_ARG_I("queue", 3));
    PROFILE_TASK_START_ARGS(NULL, PROF_ARG_I("none", 1));
    PROFILE_TASK_STOP_ARGS(NULL, PROF_ARG_I("none", 1));
    return value + 1 + (id != 9) + !text;
}

#if MARKUP_SCOPES
static int markup_handles(int value)
{
    PROFILE_SCOPE_AS(handle, "handle");
    PROFILE_SCOPE_AS_C(handle_c, "handle_c", "net");
    PROFILE_SCOPE_AS_L(handle_l, "handle_l", 2);
    PROFILE_SCOPE_AS_CL(handle_cl, "handle_cl too high", "net", 9);
    PROFILE_ARG_TO_I(handle, "i", value); PROFILE_ARG_TO_U(handle, "u", 2u); PROFILE_ARG_TO_D(handle, "d", 0.5);
    PROFILE_ARG_TO_B(handle_c, "b", 1); PROFILE_ARG_TO_S(handle_c, "s", "text");
    PROFILE_ARG_TO_TEXT(handle_c, "t", "text", 2u); PROFILE_ARG_TO_P(handle_c, "p", &value);
    if (value > 0)
        PROFILE_ARGS_TO(handle_l, PROF_ARG_I("without braces", -1));
    else
        PROFILE_ARGS_TO(handle_cl, PROF_ARG_I("never", -1));
    PROFILE_ARG_TO_I(handle_cl, "never", 1);
#if MARKUP_TYPED
    PROFILE_ARG_TO(handle, "typed", value);
    PROFILE_ARGS(PROF_ARG("typed list", "text"), PROF_ARG("bool", value > 0));
#endif
    return value + 1;
}
#endif

/* The category of what names none may change from line to line. */
#undef PROF_CATEGORY
#define PROF_CATEGORY "disk"
static int markup_category(int value)
{
    PROFILE_MARK("mark in a category");
    PROFILE_BLOCK("block in a category") ++value;
    return value;
}
#undef PROF_CATEGORY
#define PROF_CATEGORY ""

#ifdef __cplusplus
namespace {
template <typename T> T markup_template(T value)
{
    PROFILE_SCOPE("template");
    PROFILE_FUNCTION();
    PROFILE_ARG("value", value);
    PROFILE_BLOCK("template block") value = static_cast<T>(value + 1);
    return value;
}

class markup_class {
public:
    explicit markup_class(int start) : value_(start)
    {
        PROFILE_SCOPE("constructor");
        PROFILE_ARG("start", start);
    }
    ~markup_class() { PROFILE_SCOPE("destructor"); }
    int method()
    {
        PROFILE_FUNCTION();
        PROFILE_COUNTER("member", value_);
        return ++value_;
    }
    static int class_method(int value)
    {
        PROFILE_STAGE("class stage 1");
        PROFILE_NEXT("class stage 2");
        return value + 1;
    }

private:
    int value_;
};

enum class markup_kind : unsigned char { none, some };

inline int markup_inline(int value)
{
    PROFILE_SCOPE("inline function");
    const markup_kind kind = markup_kind::some;
    PROFILE_ARG("kind", static_cast<int>(kind));
    PROFILE_ARG("by a lambda", [value]() { return value * 2; }());
    return value + 1;
}

int markup_lambda(int value)
{
    PROFILE_SCOPE("around a lambda");
    auto add = [&value](int by) {
        PROFILE_SCOPE("lambda");
        PROFILE_BLOCK("lambda block") value += by;
        return value;
    };
    return add(1);
}

int markup_throw(int value)
{
    try {
        PROFILE_SCOPE("thrown through");
        PROFILE_BLOCK("block thrown through") {
            if (value > 0) throw value + 1;
        }
    } catch (int thrown) {
        PROFILE_SCOPE("catch");
        return thrown;
    }
    return value;
}

int markup_cpp(int value)
{
    value = markup_template(value);
    value = static_cast<int>(markup_template(static_cast<long>(value)));
    {
        markup_class object(value);
        value = object.method();
    }
    value = markup_class::class_method(value);
    value = markup_inline(value);
    value = markup_lambda(value);
    return markup_throw(value);
}
}
#endif

int markup_all(int value)
{
    PROFILE_THREAD("markup");
    PROFILE_THREAD_TEXT("markup", 6);
#if MARKUP_SCOPES
    value = markup_scopes(value);
    value = markup_function(value);
    value = markup_function_c(value);
    value = markup_function_l(value);
    value = markup_function_color(value);
    value = markup_many_on_a_line(value);
    value = markup_nested(value);
    value += markup_recursive(4);
    value = markup_ways_out(value);
    value = markup_stages(value);
    value = markup_block_ways_out(value);
    value = markup_note_scopes(value);
#endif
    value = markup_blocks(value);
    value = markup_begin_end(value);
    value = markup_marks(value);
    value = markup_notes(value);
    value = markup_counters(value);
    value = markup_spans(value);
    value = markup_counts(value);
    value = markup_args(value);
    value = markup_memory(value);
#if MARKUP_SCOPES
    value = markup_memory_scopes(value);
#endif
    value = markup_locks(value);
#if MARKUP_TYPED
    value = markup_typed_args(value);
#endif
    value = markup_lists(value);
#if MARKUP_SCOPES
    value = markup_handles(value);
#endif
    value = markup_category(value);
    value = markup_header(value);
#ifdef __cplusplus
    value = markup_cpp(value);
#endif
    return value;
}
