/* What a macro says is what the trace says: each macro, each type of value, each way out of a scope. C99 and C++11. */
/* run: optimised memory valgrind */
#define PROF_CATEGORY "base"
#include "../prof_read.h"
#include "test.h"
#include "trace.h"
#include <errno.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <wchar.h>
#ifdef __linux__
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

static trace_list list;
static prof_trace *trace;

static void record_start(void)
{
    prof_config config = trace_config(4u << 20);
    config.level = 255;
    trace_start(&config);
}

/* Ends the session and reads the calling thread's track, which is the first. */
static void record_stop(void)
{
    trace = trace_stop();
    CHECK_EQUAL(prof_trace_about(trace)->lost, 0);
    CHECK_EQUAL(prof_trace_about(trace)->sites_lost, 0);
    list = trace_read(trace, 0);
}

static void record_close(void)
{
    trace_free(&list);
    prof_trace_close(trace);
}

static const prof_event *expect(const char *name, prof_event_type type)
{
    const prof_event *event = trace_find(&list, name);
    if (!event) {
        ++test_failures;
        printf("no event \"%s\"\n", name);
        return NULL;
    }
    CHECK_EQUAL(event->type, type);
    CHECK_EQUAL(event->flags, 0);
    return event;
}

static void expect_site(const char *name, prof_event_type type, const char *category, int level, int line,
                        const char *function)
{
    const prof_event *event = expect(name, type);
    if (!event) return;
    CHECK_TEXT(event->site->category, category);
    CHECK_TEXT(event->site->file, __FILE__);
    CHECK_TEXT(event->site->function, function);
    CHECK_EQUAL(event->site->line, line);
    CHECK_EQUAL(event->site->level, level);
}

static int function_line;
static void in_function(void)
{
    PROFILE_FUNCTION(); function_line = __LINE__;
}
static void in_function_of_category(void)
{
    PROFILE_FUNCTION_C("kind");
}
static void in_function_of_level(void)
{
    PROFILE_FUNCTION_L(17);
}

TEST(sites_of_scopes)
{
    int line[8] = {0};
    record_start();
    {
        PROFILE_SCOPE("scope"); line[0] = __LINE__;
        PROFILE_SCOPE_C("scope_c", "c1"); line[1] = __LINE__;
        PROFILE_SCOPE_L("scope_l", 255); line[2] = __LINE__;
        PROFILE_SCOPE_CL("scope_cl", "c2", 3); line[3] = __LINE__;
        in_function();
        in_function_of_category();
        in_function_of_level();
    }
    PROFILE_BLOCK("block") { line[4] = __LINE__; }
    PROFILE_BLOCK_C("block_c", "c3") { line[5] = __LINE__; }
    PROFILE_BLOCK_L("block_l", 4) { line[6] = __LINE__; }
    record_stop();
    expect_site("scope", PROF_EVENT_SCOPE, "base", 1, line[0], __func__);
    expect_site("scope_c", PROF_EVENT_SCOPE, "c1", 1, line[1], __func__);
    expect_site("scope_l", PROF_EVENT_SCOPE, "base", 255, line[2], __func__);
    expect_site("scope_cl", PROF_EVENT_SCOPE, "c2", 3, line[3], __func__);
    expect_site("in_function", PROF_EVENT_SCOPE, "base", 1, function_line, "in_function");
    CHECK_TEXT(expect("in_function_of_category", PROF_EVENT_SCOPE)->site->category, "kind");
    CHECK_EQUAL(expect("in_function_of_level", PROF_EVENT_SCOPE)->site->level, 17);
    expect_site("block", PROF_EVENT_SCOPE, "base", 1, line[4], __func__);
    expect_site("block_c", PROF_EVENT_SCOPE, "c3", 1, line[5], __func__);
    expect_site("block_l", PROF_EVENT_SCOPE, "base", 4, line[6], __func__);
    CHECK_EQUAL(list.count, 10);
    for (size_t i = 0; i < list.count; ++i) {
        static const uint32_t depth[] = {0, 1, 2, 3, 4, 4, 4, 0, 0, 0};
        CHECK_EQUAL(list.events[i].depth, depth[i]);
        CHECK_EQUAL(list.events[i].site->kind, PROF__KIND_BEGIN);
    }
    CHECK_EQUAL(prof_trace_about(trace)->unmatched, 0);
    record_close();
}

TEST(sites_of_everything_else)
{
    int line[9] = {0};
    record_start();
    PROFILE_MARK("mark"); line[0] = __LINE__;
    PROFILE_MARK_C("mark_c", "m1"); line[1] = __LINE__;
    PROFILE_MARK_L("mark_l", 200); line[2] = __LINE__;
    PROFILE_FRAME("frame"); line[3] = __LINE__;
    PROFILE_COUNTER("counter", 1); line[4] = __LINE__;
    PROFILE_COUNTER_C("counter_c", 2, "k1"); line[5] = __LINE__;
    PROFILE_COUNTER_L("counter_l", 3, 100); line[6] = __LINE__;
    PROFILE_BEGIN_C("begin_c", "b1"); line[7] = __LINE__;
    PROFILE_BEGIN_L("begin_l", 9); line[8] = __LINE__;
    PROFILE_END("begin_l");
    PROFILE_END("begin_c");
    record_stop();
    expect_site("mark", PROF_EVENT_MARK, "base", 1, line[0], __func__);
    expect_site("mark_c", PROF_EVENT_MARK, "m1", 1, line[1], __func__);
    expect_site("mark_l", PROF_EVENT_MARK, "base", 200, line[2], __func__);
    expect_site("frame", PROF_EVENT_FRAME, "base", 1, line[3], __func__);
    expect_site("counter", PROF_EVENT_COUNTER, "base", 1, line[4], __func__);
    expect_site("counter_c", PROF_EVENT_COUNTER, "k1", 1, line[5], __func__);
    expect_site("counter_l", PROF_EVENT_COUNTER, "base", 100, line[6], __func__);
    expect_site("begin_c", PROF_EVENT_SCOPE, "b1", 1, line[7], __func__);
    expect_site("begin_l", PROF_EVENT_SCOPE, "base", 9, line[8], __func__);
    CHECK_EQUAL(list.count, 9);
    CHECK_EQUAL(prof_trace_about(trace)->unmatched, 0);
    record_close();
}

/*-- values --*/

static const prof_value *value_of(const char *key)
{
    const prof_value *value = trace_arg(trace_find(&list, "values"), key);
    if (!value) {
        static const prof_value none = {PROF_VALUE_NONE, 0, {0}};
        ++test_failures;
        printf("no argument \"%s\"\n", key);
        return &none;
    }
    return value;
}

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

TEST(argument_values)
{
    int local = 0;
    record_start();
    {
        PROFILE_SCOPE("values");
        PROFILE_ARG_I("i min", INT64_MIN);
        PROFILE_ARG_I("i max", INT64_MAX);
        PROFILE_ARG_I("i -1", -1);
        PROFILE_ARG_U("u max", UINT64_MAX);
        PROFILE_ARG_U("u 0", 0);
        PROFILE_ARG_D("d nan", (double)NAN);
        PROFILE_ARG_D("d inf", (double)INFINITY);
        PROFILE_ARG_D("d -inf", -(double)INFINITY);
        PROFILE_ARG_D("d -0", -0.0);
        PROFILE_ARG_D("d tiny", 5e-324);
        PROFILE_ARG_D("d max", DBL_MAX);
        PROFILE_ARG_B("b 0", 0);
        PROFILE_ARG_B("b 2", 2);
        PROFILE_ARG_S("s", "text");
        PROFILE_ARG_S("s empty", "");
        PROFILE_ARG_S("s null", (const char *)NULL);
        PROFILE_ARG_S("s 7", "1234567");
        PROFILE_ARG_S("s 8", "12345678");
        PROFILE_ARG_P("p null", NULL);
        PROFILE_ARG_P("p", &local);
    }
    record_stop();
    CHECK_EQUAL(list.count, 1);
    CHECK_EQUAL(list.events[0].arg_count, 20);
    CHECK_TEXT(list.events[0].args[0].key, "i min");
    CHECK_TEXT(list.events[0].args[19].key, "p");
    CHECK_EQUAL(value_of("i min")->type, PROF_VALUE_INT);
    CHECK_EQUAL(value_of("i min")->as.i, INT64_MIN);
    CHECK_EQUAL(value_of("i max")->as.i, INT64_MAX);
    CHECK_EQUAL(value_of("i -1")->as.i, -1);
    CHECK_EQUAL(value_of("u max")->type, PROF_VALUE_UINT);
    CHECK(value_of("u max")->as.u == UINT64_MAX);
    CHECK_EQUAL(value_of("u 0")->as.u, 0);
    CHECK_EQUAL(value_of("d nan")->type, PROF_VALUE_DOUBLE);
    CHECK(isnan(value_of("d nan")->as.d));
    CHECK(bits_of(value_of("d inf")->as.d) == bits_of((double)INFINITY));
    CHECK(bits_of(value_of("d -inf")->as.d) == bits_of(-(double)INFINITY));
    CHECK(bits_of(value_of("d -0")->as.d) == bits_of(-0.0));
    CHECK(bits_of(value_of("d tiny")->as.d) == 1);
    CHECK(bits_of(value_of("d max")->as.d) == bits_of(DBL_MAX));
    CHECK_EQUAL(value_of("b 0")->type, PROF_VALUE_BOOL);
    CHECK_EQUAL(value_of("b 0")->as.u, 0);
    CHECK_EQUAL(value_of("b 2")->as.u, 1);
    CHECK_EQUAL(value_of("s")->type, PROF_VALUE_STRING);
    CHECK_TEXT(value_of("s")->as.string, "text");
    CHECK_TEXT(value_of("s empty")->as.string, "");
    CHECK_TEXT(value_of("s null")->as.string, "(null)");
    CHECK_TEXT(value_of("s 7")->as.string, "1234567");
    CHECK_TEXT(value_of("s 8")->as.string, "12345678");
    CHECK_EQUAL(value_of("s")->cut, 0);
    CHECK_EQUAL(value_of("p null")->type, PROF_VALUE_POINTER);
    CHECK_EQUAL(value_of("p null")->as.u, 0);
    CHECK(value_of("p")->as.u == (uint64_t)(uintptr_t)&local);
    record_close();
}

#ifdef PROFILE_ARG
TEST(argument_types_found_out)
{
    char buffer[] = "array";
    const char *text = "pointer";
    struct bits { unsigned three : 3; } bits;
    bits.three = 5;
    record_start();
    {
        PROFILE_SCOPE("values");
        PROFILE_ARG("char", (char)'x');
        PROFILE_ARG("schar", (signed char)-3);
        PROFILE_ARG("uchar", (unsigned char)200);
        PROFILE_ARG("short", (short)-30000);
        PROFILE_ARG("ushort", (unsigned short)60000);
        PROFILE_ARG("int", -2000000000);
        PROFILE_ARG("uint", 4000000000u);
        PROFILE_ARG("long", -1234567890123l);
        PROFILE_ARG("ulong", ~0ul);
        PROFILE_ARG("llong", -9000000000000000000ll);
        PROFILE_ARG("ullong", 18000000000000000000ull);
        PROFILE_ARG("float", 0.5f);
        PROFILE_ARG("double", 0.1);
        PROFILE_ARG("bool", 1 == 1);
        PROFILE_ARG("literal", "literal");
        PROFILE_ARG("array", buffer);
        PROFILE_ARG("text", text);
        PROFILE_ARG("pointer", (void *)buffer);
        PROFILE_ARG("const pointer", (const int *)NULL);
        PROFILE_ARG("field", +bits.three);
    }
    record_stop();
#ifdef __cplusplus
    CHECK_TEXT(value_of("char")->as.string, "x");
#else
    CHECK_EQUAL(value_of("char")->as.i, 'x');
#endif
    CHECK_EQUAL(value_of("schar")->as.i, -3);
    CHECK_EQUAL(value_of("uchar")->as.u, 200);
    CHECK_EQUAL(value_of("short")->as.i, -30000);
    CHECK_EQUAL(value_of("ushort")->as.u, 60000);
    CHECK_EQUAL(value_of("int")->as.i, -2000000000);
    CHECK_EQUAL(value_of("int")->type, PROF_VALUE_INT);
    CHECK_EQUAL(value_of("uint")->as.u, 4000000000u);
    CHECK_EQUAL(value_of("uint")->type, PROF_VALUE_UINT);
    CHECK_EQUAL(value_of("long")->as.i, -1234567890123l);
    CHECK(value_of("ulong")->as.u == ~0ul);
    CHECK_EQUAL(value_of("llong")->as.i, -9000000000000000000ll);
    CHECK(value_of("ullong")->as.u == 18000000000000000000ull);
    CHECK_EQUAL(value_of("ullong")->type, PROF_VALUE_UINT);
    CHECK(bits_of(value_of("float")->as.d) == bits_of(0.5));
    CHECK(bits_of(value_of("double")->as.d) == bits_of(0.1));
    CHECK_EQUAL(value_of("bool")->as.i, 1);
    CHECK_TEXT(value_of("literal")->as.string, "literal");
    CHECK_TEXT(value_of("array")->as.string, "array");
    CHECK_EQUAL(value_of("text")->type, PROF_VALUE_STRING);
    CHECK_TEXT(value_of("text")->as.string, "pointer");
    CHECK_EQUAL(value_of("pointer")->type, PROF_VALUE_POINTER);
    CHECK(value_of("pointer")->as.u == (uint64_t)(uintptr_t)buffer);
    CHECK_EQUAL(value_of("const pointer")->type, PROF_VALUE_POINTER);
    CHECK_EQUAL(value_of("field")->as.i, 5);
    record_close();
}
#else
TEST(argument_types_found_out) { SKIP("PROFILE_ARG needs C11"); }
#endif

TEST(arguments_belong_to_the_innermost_scope)
{
    record_start();
    PROFILE_ARG_I("nobody's", 1);
    {
        PROFILE_SCOPE("outer");
        PROFILE_ARG_I("key", 1);
        PROFILE_BLOCK("inner")
        {
            PROFILE_ARG_I("key", 2);
            PROFILE_MARK("mark");
            PROFILE_ARG_I("other", 3);
        }
        PROFILE_ARG_I("key", 4);
    }
    PROFILE_ARG_I("nobody's", 1);
    record_stop();
    const prof_event *outer = expect("outer", PROF_EVENT_SCOPE), *inner = expect("inner", PROF_EVENT_SCOPE);
    CHECK_EQUAL(outer->arg_count, 2);
    CHECK_EQUAL(outer->args[0].value.as.i, 1);
    CHECK_EQUAL(outer->args[1].value.as.i, 4);
    CHECK_EQUAL(inner->arg_count, 2);
    CHECK_EQUAL(inner->args[0].value.as.i, 2);
    CHECK_TEXT(inner->args[1].key, "other");
    CHECK_EQUAL(expect("mark", PROF_EVENT_MARK)->depth, 2);
    CHECK_EQUAL(prof_trace_about(trace)->unmatched, 2);
    record_close();
}

TEST(arguments_over_many_chunks)
{
    enum { COUNT = 5000 };
    record_start();
    {
        PROFILE_SCOPE("values");
        for (int i = 0; i < COUNT; ++i) {
            PROFILE_ARG_I("number", i);
            if (i % 100 == 0) PROFILE_BLOCK("child") PROFILE_ARG_S("text", "a longer text than one word can hold");
        }
    }
    record_stop();
    const prof_event *event = expect("values", PROF_EVENT_SCOPE);
    CHECK_EQUAL(event->arg_count, COUNT);
    for (uint32_t i = 0; i < event->arg_count; ++i) CHECK_EQUAL(event->args[i].value.as.i, i);
    CHECK_EQUAL(trace_count(&list, "child"), COUNT / 100);
    record_close();
}

/* 100 KB of one character of size bytes behind shift single bytes: the cut lies at each offset inside a character. */
static void long_string(const char *character, size_t shift)
{
    size_t size = strlen(character), total = 100000, kept;
    char *text = (char *)malloc(total + 8);
    memset(text, 'x', shift);
    for (size_t at = shift; at < total; at += size) memcpy(text + at, character, size);
    text[shift + (total - shift) / size * size] = 0;
    record_start();
    {
        PROFILE_SCOPE("values");
        PROFILE_ARG_S("long", text);
        PROFILE_MARK_DYNAMIC(text);
        PROFILE_MARK_F("%s", text);
    }
    record_stop();
    const prof_value *value = value_of("long");
    kept = strlen(value->as.string);
    CHECK_EQUAL(value->cut, 1);
    CHECK(kept <= PROF_MAX_TEXT && kept + size > PROF_MAX_TEXT);
    CHECK_EQUAL((kept - shift) % size, 0);
    CHECK(!memcmp(value->as.string, text, kept));
    CHECK_EQUAL(list.count, 3);
    for (size_t i = 1; i < list.count; ++i) {
        CHECK_EQUAL(strlen(list.events[i].name), kept);
        CHECK(!memcmp(list.events[i].name, text, kept));
    }
    record_close();
    free(text);
}

TEST(long_strings_are_cut_between_characters)
{
    static const char *const characters[] = {"a", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80"};
    for (size_t i = 0; i < 4; ++i)
        for (size_t shift = 0; shift < 4; ++shift) long_string(characters[i], shift);
}

TEST(string_of_exactly_the_limit)
{
    char text[PROF_MAX_TEXT + 2];
    memset(text, 'y', sizeof text);
    record_start();
    {
        PROFILE_SCOPE("values");
        text[PROF_MAX_TEXT] = 0;
        PROFILE_ARG_S("limit", text);
        text[PROF_MAX_TEXT] = 'y';
        text[PROF_MAX_TEXT + 1] = 0;
        PROFILE_ARG_S("more", text);
        memset(text, '\x80', PROF_MAX_TEXT + 1); /* not UTF-8: any cut will do */
        PROFILE_ARG_S("invalid", text);
    }
    record_stop();
    CHECK_EQUAL(value_of("limit")->cut, 0);
    CHECK_EQUAL(strlen(value_of("limit")->as.string), PROF_MAX_TEXT);
    CHECK_EQUAL(value_of("more")->cut, 1);
    CHECK_EQUAL(strlen(value_of("more")->as.string), PROF_MAX_TEXT);
    CHECK_EQUAL(value_of("invalid")->cut, 1);
    record_close();
}

static int counter_of_function(void)
{
    PROFILE_COUNTER(__func__, 1);
    return 0;
}

static const char *unit_of(const char *name, size_t nth)
{
    const prof_event *event = trace_nth(&list, name, nth);
    CHECK(event && event->type == PROF_EVENT_COUNTER && event->site->kind == PROF__KIND_COUNTER_INT);
    CHECK(event && event->site->role == PROF_ROLE_NONE);
    CHECK(event && !strcmp(event->site->file, *event->site->function ? __FILE__ : ""));
    return event ? event->site->unit : "?";
}

/* The unit is what the macro says, not what a name looks like. */
TEST(units)
{
    record_start();
    PROFILE_COUNTER("memory use %", 40);
    PROFILE_COUNTER_UNIT("memory clock", 1400.5, "MHz");
    PROFILE_COUNTER_UNIT("digits", 1u, "8 \xc2\xb5/2");
    PROFILE_COUNTER_UNIT("none", 1, "");
    PROFILE_COUNTER_ADD("count", 1);
    PROFILE_COUNTER_ADD_UNIT("count", 10u, "B"); /* another number */
    PROFILE_COUNTER_SUB_UNIT("count", 100, "ms");
    PROFILE_COUNTER_SET_UNIT("count", 0.5, "s");
    PROFILE_COUNTER_ADD_UNIT("count", 5, "B");
#pragma push_macro("PROF_UNIT")
#undef PROF_UNIT
#define PROF_UNIT "bytes"
    counter_of_function(); /* is above */
    PROFILE_COUNTER("sent", 1);
    PROFILE_COUNTER_C("sent_c", 1, "net");
    PROFILE_COUNTER_L("sent_l", 1, 1);
    PROFILE_COUNTER_ADD("added", 7);
    PROFILE_COUNTER_SUB_C("added", 7, "net");
    PROFILE_COUNTER_SET("added", 8);
    PROFILE_COUNTER_UNIT("own", 1, "%");
    PROFILE_COUNTER(__func__, 1);
    { PROFILE_SCOPE("scope"); }
#pragma pop_macro("PROF_UNIT")
    PROFILE_COUNTER("sent", 2);
    record_stop();
    CHECK_TEXT(unit_of("memory use %", 0), "");
    CHECK_TEXT(unit_of("memory clock", 0), "MHz");
    CHECK_TEXT(unit_of("digits", 0), "8 \xc2\xb5/2");
    CHECK_TEXT(unit_of("none", 0), "");
    static const struct { const char *unit; double value; } counts[] = {{"", 1}, {"B", 10}, {"ms", -100}, {"s", 0.5}, {"B", 15}};
    for (size_t i = 0; i < 5; ++i) {
        const prof_value *value = &trace_nth(&list, "count", i)->value;
        CHECK_TEXT(unit_of("count", i), counts[i].unit);
        CHECK(value->type == PROF_VALUE_DOUBLE ? bits_of(value->as.d) == bits_of(counts[i].value)
                                               : value->as.i == (int64_t)counts[i].value);
    }
    CHECK_TEXT(unit_of("counter_of_function", 0), "");
    CHECK_TEXT(unit_of("sent", 0), "bytes");
    CHECK_TEXT(unit_of("sent_c", 0), "bytes");
    CHECK_TEXT(unit_of("sent_l", 0), "bytes");
    for (size_t i = 0; i < 3; ++i) CHECK_TEXT(unit_of("added", i), "bytes");
    CHECK_TEXT(unit_of("own", 0), "%");
    CHECK_TEXT(unit_of(__func__, 0), "bytes");
    CHECK_TEXT(expect("scope", PROF_EVENT_SCOPE)->site->unit, "");
    CHECK_TEXT(unit_of("sent", 1), "");
    record_close();
}

TEST(counters)
{
    unsigned char small = 255;
    float single = 0.25f;
    int evaluated = 0;
    record_start();
    PROFILE_COUNTER("min", INT64_MIN);
    PROFILE_COUNTER("max", INT64_MAX);
    PROFILE_COUNTER("zero", 0);
    PROFILE_COUNTER("small", small);
    PROFILE_COUNTER("nan", (double)NAN);
    PROFILE_COUNTER("inf", -(double)INFINITY);
    PROFILE_COUNTER("-0.0", -0.0);
    PROFILE_COUNTER("single", single);
    PROFILE_COUNTER("double", 1e300);
    PROFILE_COUNTER("large", 4294967296u * 3ull);
    PROFILE_COUNTER("evaluated", ++evaluated);
    for (int i = 0; i < 3; ++i) PROFILE_COUNTER("series", i * 10);
    PROFILE_COUNTER("unsigned", UINT64_MAX - 1);
    PROFILE_COUNTER_SET("counted", UINT64_MAX - 1);
    PROFILE_COUNTER_ADD("counted", 5);
    PROFILE_COUNTER_SUB("counted", UINT64_MAX);
    PROFILE_COUNTER_SUB("counted", 7u);
    PROFILE_COUNTER_ADD("added", UINT64_MAX - 1);
    PROFILE_COUNTER_SUB("added", INT64_MAX);
    PROFILE_COUNTER_SUB("taken", UINT64_MAX);
    PROFILE_COUNTER_ADD("full", INT64_MAX);
    PROFILE_COUNTER_ADD("full", 1);
    PROFILE_COUNTER_ADD("full", 1u);
    record_stop();
    CHECK_EQUAL(list.count, 25);
    CHECK_EQUAL(expect("unsigned", PROF_EVENT_COUNTER)->value.type, PROF_VALUE_UINT);
    CHECK(expect("unsigned", PROF_EVENT_COUNTER)->value.as.u == UINT64_MAX - 1);
    for (size_t i = 0; i < 3; ++i) CHECK_EQUAL(trace_nth(&list, "counted", i)->value.type, PROF_VALUE_UINT);
    CHECK(trace_nth(&list, "counted", 0)->value.as.u == UINT64_MAX - 1);
    CHECK(trace_nth(&list, "counted", 1)->value.as.u == UINT64_MAX); /* it stays at its end */
    CHECK(trace_nth(&list, "counted", 2)->value.as.u == 0);
    CHECK_EQUAL(trace_nth(&list, "counted", 3)->value.type, PROF_VALUE_INT);
    CHECK_EQUAL(trace_nth(&list, "counted", 3)->value.as.i, -7);
    CHECK_EQUAL(trace_nth(&list, "added", 0)->value.type, PROF_VALUE_UINT);
    CHECK(trace_nth(&list, "added", 1)->value.as.u == (uint64_t)INT64_MAX);
    CHECK_EQUAL(expect("taken", PROF_EVENT_COUNTER)->value.as.i, INT64_MIN);
    CHECK_EQUAL(trace_nth(&list, "full", 1)->value.type, PROF_VALUE_INT);
    CHECK_EQUAL(trace_nth(&list, "full", 1)->value.as.i, INT64_MAX);
    CHECK_EQUAL(trace_nth(&list, "full", 2)->value.type, PROF_VALUE_UINT);
    CHECK(trace_nth(&list, "full", 2)->value.as.u == (uint64_t)INT64_MAX + 1);
    CHECK_EQUAL(expect("min", PROF_EVENT_COUNTER)->value.type, PROF_VALUE_INT);
    CHECK_EQUAL(expect("min", PROF_EVENT_COUNTER)->value.as.i, INT64_MIN);
    CHECK_EQUAL(expect("max", PROF_EVENT_COUNTER)->value.as.i, INT64_MAX);
    CHECK_EQUAL(expect("zero", PROF_EVENT_COUNTER)->value.as.i, 0);
    CHECK_EQUAL(expect("small", PROF_EVENT_COUNTER)->value.as.i, 255);
    CHECK_EQUAL(expect("nan", PROF_EVENT_COUNTER)->value.type, PROF_VALUE_DOUBLE);
    CHECK(isnan(expect("nan", PROF_EVENT_COUNTER)->value.as.d));
    CHECK(bits_of(expect("inf", PROF_EVENT_COUNTER)->value.as.d) == bits_of(-(double)INFINITY));
    CHECK(bits_of(expect("-0.0", PROF_EVENT_COUNTER)->value.as.d) == bits_of(-0.0));
    CHECK(bits_of(expect("single", PROF_EVENT_COUNTER)->value.as.d) == bits_of(0.25));
    CHECK(bits_of(expect("double", PROF_EVENT_COUNTER)->value.as.d) == bits_of(1e300));
    CHECK_EQUAL(expect("large", PROF_EVENT_COUNTER)->value.as.i, 4294967296ll * 3);
    CHECK_EQUAL(expect("evaluated", PROF_EVENT_COUNTER)->value.as.i, 1);
    CHECK_EQUAL(evaluated, 1);
    for (size_t i = 0; i < 3; ++i) CHECK_EQUAL(trace_nth(&list, "series", i)->value.as.i, (long long)i * 10);
    record_close();
}

TEST(frames)
{
    record_start();
    for (int i = 0; i < 4; ++i) {
        PROFILE_FRAME("picture");
        if (i % 2) PROFILE_FRAME("sound");
        PROFILE_BLOCK("work") {}
    }
    record_stop();
    CHECK_EQUAL(trace_count(&list, "picture"), 4);
    CHECK_EQUAL(trace_count(&list, "sound"), 2);
    CHECK_EQUAL(expect("picture", PROF_EVENT_FRAME)->duration_ns, 0);
    CHECK_EQUAL(expect("sound", PROF_EVENT_FRAME)->duration_ns, 0);
    for (size_t i = 1; i < 4; ++i)
        CHECK_EQUAL(trace_nth(&list, "picture", i)->duration_ns,
                    trace_nth(&list, "picture", i)->start_ns - trace_nth(&list, "picture", i - 1)->start_ns);
    CHECK_EQUAL(trace_nth(&list, "sound", 1)->duration_ns,
                trace_nth(&list, "sound", 1)->start_ns - trace_nth(&list, "sound", 0)->start_ns);
    record_close();
}

/* The numbers of frames are those of the program, not of what a ring has kept: for each name and track, on fibers as on
   threads, and with more names than are counted at once. */
static void many_frames(prof_fiber *fiber, int first, int count)
{
    for (int i = first; i < first + count; ++i) {
        PROFILE_FRAME("picture");
        if (i % 3 == 0) PROFILE_FRAME("sound");
        prof_fiber_switch(fiber);
        PROFILE_FRAME("picture");
        prof_fiber_switch(NULL);
        for (int k = 0; k < 20; ++k) PROFILE_BLOCK("work") {}
    }
}

static uint64_t last_number(const char *name)
{
    uint64_t last = 0;
    int seen = 0;
    for (size_t i = 0; i < list.count; ++i) {
        const prof_event *event = &list.events[i];
        if (event->type != PROF_EVENT_FRAME || strcmp(event->name, name)) continue;
        if (seen++) CHECK_EQUAL(event->detail, last + 1);
        last = event->detail;
    }
    CHECK(seen > 10);
    return last;
}

TEST(frames_that_a_ring_has_overwritten)
{
    prof_config config = trace_config(256u << 10);
    prof_fiber *fiber = prof_fiber_create("render");
    for (int session = 0; session < 2; ++session) { /* each counts from the beginning */
        config.mode = PROF_RING;
        trace_start(&config);
        many_frames(fiber, 0, 3000);
        trace = trace_stop();
        list = trace_read(trace, 0);
        CHECK(trace_count(&list, "picture") < 2900);
        CHECK_EQUAL(last_number("picture"), 2999);
        CHECK_EQUAL(last_number("sound"), 999);
        trace_free(&list);
        list = trace_read(trace, trace_track_named(trace, "render"));
        CHECK(trace_count(&list, "picture") < 2900);
        CHECK_EQUAL(last_number("picture"), 2999);
        record_close();
    }
    prof_fiber_destroy(fiber);
}

TEST(frames_of_many_names)
{
    record_start();
    for (int i = 0; i < 3; ++i) {
        PROFILE_FRAME("a"); PROFILE_FRAME("b"); PROFILE_FRAME("c"); PROFILE_FRAME("d"); PROFILE_FRAME("e");
        PROFILE_FRAME("f"); PROFILE_FRAME("g"); PROFILE_FRAME("h"); PROFILE_FRAME("i"); PROFILE_FRAME("j");
        PROFILE_FRAME("a"); /* of another call site */
    }
    record_stop();
    for (char name[2] = "b"; *name <= 'j'; ++*name)
        for (size_t i = 0; i < 3; ++i) CHECK_EQUAL(trace_nth(&list, name, i)->detail, i);
    for (size_t i = 0; i < 6; ++i) CHECK_EQUAL(trace_nth(&list, "a", i)->detail, i);
    record_close();
}

/*-- names --*/

TEST(names_made_at_run_time)
{
    char name[32];
    int evaluated = 0;
    record_start();
    for (int i = 0; i < 3; ++i) {
        snprintf(name, sizeof name, "scope %d", i);
        PROFILE_SCOPE_DYNAMIC(name);
        memset(name, '?', sizeof name - 1); /* it was copied */
        PROFILE_SCOPE_F("format %d of %s", i, "three");
        PROFILE_MARK_F("mark %d", ++evaluated);
        PROFILE_MARK_F("mark without arguments");
        PROFILE_ARG_I("i", i);
    }
    PROFILE_MARK_DYNAMIC("");
    PROFILE_MARK_DYNAMIC((const char *)NULL);
    record_stop();
    CHECK_EQUAL(list.count, 14);
    CHECK_EQUAL(evaluated, 3);
    for (int i = 0; i < 3; ++i) {
        const prof_event *event = &list.events[i * 4];
        snprintf(name, sizeof name, "scope %d", i);
        CHECK_TEXT(event[0].name, name);
        CHECK_TEXT(event[0].site->name, "");
        snprintf(name, sizeof name, "format %d of three", i);
        CHECK_TEXT(event[1].name, name);
        CHECK_TEXT(event[1].site->name, "format %d of %s");
        CHECK_EQUAL(event[1].depth, 1);
        CHECK_EQUAL(trace_arg(&event[1], "i")->as.i, i);
        snprintf(name, sizeof name, "mark %d", i + 1);
        CHECK_TEXT(event[2].name, name);
        CHECK_EQUAL(event[2].type, PROF_EVENT_MARK);
        CHECK_TEXT(event[3].name, "mark without arguments");
    }
    CHECK_TEXT(list.events[12].name, "");
    CHECK_TEXT(list.events[13].name, "(null)");
    record_close();
}

/* Names are those that vsnprintf() would make, whichever way they are made: of common conversions, of others, short and
   long, at the limits of both. */
#ifdef __GNUC__
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat"
#if !defined(__clang__) && __GNUC__ >= 7
#pragma GCC diagnostic ignored "-Wformat-truncation"
#endif
#endif
static char formatted_names[800][1100];
static int formatted_count;
#define FORMATTED(...)                                                                 \
    do {                                                                               \
        snprintf(formatted_names[formatted_count], sizeof *formatted_names, __VA_ARGS__);          \
        for (int mark = 0; mark < 2; ++mark) {                                         \
            if (mark) PROFILE_MARK_F(__VA_ARGS__);                                     \
            PROFILE_BLOCK("around") { PROFILE_SCOPE_F(__VA_ARGS__); }                  \
        }                                                                              \
        if (++formatted_count == (int)(sizeof formatted_names / sizeof *formatted_names)) --formatted_count; \
    } while (0)

static void formatted_numbers(void)
{
    static const long long numbers[] = {0, 1, 9, 10, 11, 99, 100, 101, 999, 1000, 1234, 9999, 10000, 10001, 99999, 1000000,
                                        INT_MAX, INT_MIN, (long long)INT_MAX + 1, LLONG_MAX, LLONG_MIN, -1, -9, -10, -10000};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; ++i) {
        long long n = numbers[i];
        FORMATTED("d %d i %i u %u x %x X %X", (int)n, (int)n, (unsigned)n, (unsigned)n, (unsigned)n);
        FORMATTED("%ld %li %lu %lx %lX", (long)n, (long)n, (unsigned long)n, (unsigned long)n, (unsigned long)n);
        FORMATTED("%lld %lli %llu", n, n, (unsigned long long)n);
        FORMATTED("%llx:%llX", (unsigned long long)n, (unsigned long long)n);
        FORMATTED("%zu %zd %zx", (size_t)n, (ptrdiff_t)n, (size_t)n);
        FORMATTED("%3d|%03d|%8d|%08d|%40d", (int)n, (int)n, (int)n, (int)n, (int)n);
        FORMATTED("%5u|%05x|%040llx|%41d|%020lld", (unsigned)n, (unsigned)n, (unsigned long long)n, (int)n, n);
        FORMATTED("%hd %hhu %jd %td %+d % d %-6d| %#x %.4d %.0d", (int)(short)n, (int)(unsigned char)n, (intmax_t)n,
                  (ptrdiff_t)n, (int)n, (int)n, (int)n, (unsigned)n, (int)n, (int)n);
    }
}

static void formatted_texts(void)
{
    static char text[1200];
    memset(text, 'a', sizeof text - 1);
    for (int i = 0; i < 12; ++i) {
        static const int sizes[] = {0, 1, 7, 8, 9, 160, 190, 199, 200, 201, 240, 1001};
        char letter = text[sizes[i]];
        text[sizes[i]] = 0;
        FORMATTED("%s", text);
        FORMATTED("%s %d", text, 5);
        FORMATTED("%10s|%2s", text, text);
        FORMATTED("%.5s|%.*s|%.*s", text, i, text, -1, text);
        FORMATTED("%7.3s|%40s|%41s|%-9s|", text, text, text, "b");
        FORMATTED("%.300s", text);
        text[sizes[i]] = letter;
    }
    FORMATTED("%.*s", 3, "\xc3\xa4\xc3\xa4"); /* half a character */
    FORMATTED("%.200s%40d", text, 1);
    FORMATTED("%.199s%40d", text, 1);
    FORMATTED("%.180s%20d", text, 1);
    FORMATTED("%.180s%21d", text, 1);
    FORMATTED("%.180s%-21d", text, 1);
}

/* clang's memory sanitizer does not know where a long double lies among arguments. */
#if defined(__has_feature)
#if __has_feature(memory_sanitizer)
#define LONG_DOUBLES_ARE_LOST 1
#endif
#endif

/* What stays a format until it is read: see PROF__NAME_VALUES. */
static void formatted_late(void)
{
    static const double numbers[] = {0, -0.0, 1, -1, 0.5, 2.5, 0.1, 1e-5, 123456.789, 1e15, 1e22, 1e100, 5e-324, DBL_MAX, -DBL_MIN,
                                     HUGE_VAL, -HUGE_VAL, 999.9995, 0.045};
    static char text[300];
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; ++i) {
        double n = numbers[i];
        FORMATTED("%f %.2f %g|%e", n, n, n, n);
        FORMATTED("%F %G %E %a %A", n, n, n, n, n);
        FORMATTED("%10.3f|%-10.3f|%+f|% f|%010.1f|%#.0f|%.f", n, n, n, n, n, n, n);
        FORMATTED("%*.*f|%-*.*e|%*g|", (int)i, (int)i % 5, n, 3, -1, n, -15, n);
#ifndef LONG_DOUBLES_ARE_LOST
        FORMATTED("%lf %Lf %Lg %Le %LA", n, (long double)n, (long double)n, (long double)n, (long double)n);
#endif
        FORMATTED("took %.3f ms of %d (%.1f%%)", n, (int)i, n);
        FORMATTED("100%% of %.1f%%, %s, %c%%", n, "5% off", '%');
        FORMATTED("%s%g%s", "%d%s%%", n, "%n%%%");
        FORMATTED("%p %.2f %p", (const void *)numbers, n, (const void *)&numbers[i]);
        FORMATTED("%40d %41d %-41u|%60x|%o %#o %+i", (int)i, (int)i, (unsigned)i, (unsigned)i, (unsigned)i, 8u, (int)i);
        FORMATTED("%f%f%f%f%f%f%f%f%f%f%f%f%f%f%f", n, n, n, n, n, n, n, n, n, n, n, n, n, n, n);
        FORMATTED("%.1f%.1f%.1f%.1f%.1f%.1f%.1f%.1f%.1f%.1f%.1f%.1f%.1f%.1f%.1f%.1f", n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n);
        FORMATTED("%.499f|", n);
        FORMATTED("%.700f|%600.2e|", n, n);
    }
#ifndef LONG_DOUBLES_ARE_LOST
    FORMATTED("%Lf %Lg", 1.0L / 3, 1e-3L); /* no double has these values */
#endif
    FORMATTED("%p %s", (void *)NULL, "null");
    FORMATTED("%d %+lld %hhd %hd %jd %.3zu", -5, LLONG_MIN, -3, -300, INTMAX_MIN, (size_t)7);
    FORMATTED("%.3hhu|%+hhd|%.5hd|%#lx|%+ld", 200, -100, -5, ULONG_MAX, LONG_MIN);
    FORMATTED("%3c|%-3c|%f", 'x', '%', 1.5);
    memset(text, '%', sizeof text - 1);
    for (int i = 90; i < 110; ++i) FORMATTED("%.*s%f", i, text, 1.5); /* at the limit of what is doubled in place */
    for (int i = 180; i < 210; ++i) FORMATTED("%-*s%f", i, "text", 1.5);
}

TEST(formats_make_the_names_that_printf_makes)
{
    formatted_count = 0;
    record_start();
    formatted_numbers();
    formatted_texts();
    formatted_late();
    FORMATTED("plain");
    FORMATTED("%%");
    FORMATTED("100%% of %d%%", 3);
    FORMATTED("%c%c%c", 'x', '%', '\n');
    FORMATTED("%3c|%-3c|", 'x', 'y');
    FORMATTED("%g %f %e %.3f", 1.5, 2.25, 1e100, 0.1);
    FORMATTED("%d %g %d %s", 1, 2.5, 3, "four");
    FORMATTED("%1$s %1$s", "twice");
    FORMATTED("%p", (void *)&list);
#ifndef LONG_DOUBLES_ARE_LOST
    FORMATTED("%Lg", (long double)1.25);
#endif
    FORMATTED("%d %d %d %d %d %d %d %d %d %d", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10); /* more than registers hold */
    FORMATTED("%s %g %s %g %s %g %d %u %x", "a", 1.0, "b", 2.0, "c", 3.0, 7, 8u, 9u);
    record_stop();
    CHECK(formatted_count < (int)(sizeof formatted_names / sizeof *formatted_names) - 1);
    for (int i = 0, at = 0; i < formatted_count; ++i) {
        char *expected = formatted_names[i];
        size_t most = 1000; /* PROF_MAX_TEXT */
        while (strlen(expected) > most) expected[most] = 0;
        static const char *const kinds[] = {"around", "scope", "mark", "around", "scope"};
        for (int j = 0; j < 5; ++j, ++at)
            CHECK_TEXT(list.events[at].name, j == 0 || j == 3 ? kinds[j] : expected);
    }
    CHECK_EQUAL(list.count, formatted_count * 5);
    record_close();
}
#ifdef __GNUC__
#pragma GCC diagnostic pop
#endif

#ifdef __GNUC__
#pragma GCC diagnostic ignored "-Woverlength-strings" /* C99 compilers need not know longer ones than 4095 bytes */
#endif
#define TEN(text) text text text text text text text text text text
#define LONG_NAME TEN(TEN("10 bytes\"\t"))

TEST(hostile_names)
{
    static const char *const names[] = {
        "quote \" backslash \\ slash /", "\x01\x02\x1f\x7f \b\f\n\r\t", "invalid \xff\xfe\xc3", "\xed\xa0\x80 surrogate",
        "\xf4\x90\x80\x80 too high", "\xc0\xaf overlong", "</script><!--", "a,b;c\r\nd", "%s%n%d", "", "\xe2\x80\xa8",
    };
    record_start();
    PROFILE_MARK("quote \" backslash \\ slash /");
    PROFILE_MARK("\x01\x02\x1f\x7f \b\f\n\r\t");
    PROFILE_MARK("invalid \xff\xfe\xc3");
    PROFILE_MARK("\xed\xa0\x80 surrogate");
    PROFILE_MARK("\xf4\x90\x80\x80 too high");
    PROFILE_MARK("\xc0\xaf overlong");
    PROFILE_MARK("</script><!--");
    PROFILE_MARK("a,b;c\r\nd");
    PROFILE_MARK("%s%n%d");
    PROFILE_MARK("");
    PROFILE_MARK("\xe2\x80\xa8");
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) PROFILE_MARK_DYNAMIC(names[i]);
    PROFILE_MARK_C(LONG_NAME, LONG_NAME "category");
    {
        PROFILE_SCOPE("values");
        PROFILE_ARG_S(LONG_NAME "key", "\xff\n\"");
        PROFILE_ARG_I("", 1);
    }
    record_stop();
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
        CHECK_TEXT(list.events[i].name, names[i]);
        CHECK_TEXT(list.events[i + sizeof names / sizeof *names].name, names[i]);
    }
    const prof_event *event = expect(LONG_NAME, PROF_EVENT_MARK);
    CHECK_EQUAL(strlen(event->name), 1000);
    CHECK_TEXT(event->site->category, LONG_NAME "category");
    CHECK_TEXT(value_of(LONG_NAME "key")->as.string, "\xff\n\"");
    CHECK_EQUAL(value_of("")->as.i, 1);
    record_close();
}

TEST(thread_names)
{
    char name[128];
    PROFILE_THREAD("set before the start");
    record_start();
    PROFILE_MARK("mark");
    record_stop();
    CHECK_TEXT(prof_trace_track(trace, 0)->name, "set before the start");
#ifdef __linux__
    CHECK(prof_trace_track(trace, 0)->thread_id == (uint64_t)syscall(SYS_gettid));
#endif
    record_close();

    record_start();
    PROFILE_MARK("mark");
    snprintf(name, sizeof name, "hostile \xff \" %s", "name");
    PROFILE_THREAD(name);
    memset(name, '?', 20);
    PROFILE_MARK("mark");
    record_stop();
    CHECK_TEXT(prof_trace_track(trace, 0)->name, "hostile \xff \" name");
    CHECK_EQUAL(prof_trace_track_count(trace), 1);
    CHECK_EQUAL(trace_count(&list, "mark"), 2);
    record_close();

    for (size_t shift = 0; shift < 3; ++shift) { /* a long one is cut between characters */
        memset(name, 'x', shift);
        for (size_t at = shift; at + 4 < sizeof name; at += 3) memcpy(name + at, "\xe2\x82\xac", 4);
        record_start();
        PROFILE_THREAD(name);
        record_stop();
        size_t kept = strlen(prof_trace_track(trace, 0)->name);
        CHECK(kept > 32 && (kept - shift) % 3 == 0);
        CHECK(!strncmp(prof_trace_track(trace, 0)->name, name, kept));
        record_close();
    }

    record_start();
    PROFILE_THREAD((const char *)NULL);
    PROFILE_MARK("mark");
    record_stop();
#ifdef __linux__
    CHECK(!prctl(PR_GET_NAME, name, 0, 0, 0));
    CHECK_TEXT(prof_trace_track(trace, 0)->name, name);
#endif
    record_close();
}

#ifdef __linux__
/* What a thread is told by the test, step by step, and how far it is. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int wanted, done;
} renames = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0};

static void renames_set(int *which, int step)
{
    pthread_mutex_lock(&renames.lock);
    *which = step;
    pthread_cond_broadcast(&renames.changed);
    pthread_mutex_unlock(&renames.lock);
}
static void renames_wait(const int *which, int step)
{
    pthread_mutex_lock(&renames.lock);
    while (*which < step) pthread_cond_wait(&renames.changed, &renames.lock);
    pthread_mutex_unlock(&renames.lock);
}
static void renames_go(int step)
{
    renames_set(&renames.wanted, step);
    renames_wait(&renames.done, step);
}

static void *renamed_thread(void *unused)
{
    static const char *const names[] = {"first name", "second name", "first name", "last name"};
    (void)unused;
    for (int step = 1; step <= 5; ++step) {
        renames_wait(&renames.wanted, step);
        if (step <= 4) prctl(PR_SET_NAME, names[step - 1], 0, 0, 0);
        if (step == 1) PROFILE_MARK("work");
        if (step < 5) renames_set(&renames.done, step);
    }
    return NULL;
}

/* Returns 1 if a track has this name. */
static int has_track(const prof_trace *of, const char *name)
{
    int found = 0;
    for (size_t i = 0; i < prof_trace_track_count(of); ++i) found += !strcmp(prof_trace_track(of, i)->name, name);
    return found == 1;
}

static int track_now(const char *name)
{
    prof_trace *now = NULL;
    CHECK_EQUAL(prof_trace_open_live(&now), PROF_OK);
    int found = has_track(now, name);
    prof_trace_close(now);
    return found;
}

TEST(threads_that_the_system_renames)
{
    pthread_t thread;
    char before[32] = "";
    prctl(PR_GET_NAME, before, 0, 0, 0);
    record_start();
    PROFILE_MARK("mark");
    if (pthread_create(&thread, NULL, renamed_thread, NULL)) SKIP("no threads");
    renames_go(1);
    CHECK(track_now("first name"));
    renames_go(2);
    CHECK(track_now("second name"));
    renames_go(3);
    CHECK(track_now("first name")); /* as before the first snapshot */
    renames_go(4);
    renames_set(&renames.wanted, 5);
    pthread_join(thread, NULL); /* it has no event with its last name */
    prctl(PR_SET_NAME, "main renamed", 0, 0, 0);
    record_stop();
    CHECK(has_track(trace, "last name"));
    CHECK(has_track(trace, "main renamed"));
    CHECK_EQUAL(prof_trace_track_count(trace), 2);
    record_close();

    record_start();
    PROFILE_MARK("mark");
    prctl(PR_SET_NAME, "the system's", 0, 0, 0);
    CHECK(track_now("the system's"));
    PROFILE_THREAD("the program's");
    prctl(PR_SET_NAME, "the system's 2", 0, 0, 0);
    record_stop();
    CHECK(has_track(trace, "the program's")); /* it wins */
    record_close();
    PROFILE_THREAD((const char *)NULL);
    prctl(PR_SET_NAME, before, 0, 0, 0);
}

static void *named_at_last(void *unused)
{
    PROFILE_MARK("work");
    prctl(PR_SET_NAME, "a late name", 0, 0, 0);
    return unused;
}

/* Names that threads have at their end take no space for ever. */
TEST(short_threads_that_the_system_renames)
{
    const int threads = (int)trace_times(200, 2000, 20000);
    prof_config config = trace_config(512u << 10);
    trace_start(&config);
    for (int i = 0; i < threads; ++i) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, named_at_last, NULL)) SKIP("no threads");
        pthread_join(thread, NULL);
    }
    trace = trace_stop();
    size_t late = 0;
    for (size_t i = 0; i < prof_trace_track_count(trace); ++i)
        late += !strcmp(prof_trace_track(trace, i)->name, "a late name");
    CHECK_EQUAL(late + 1, prof_trace_track_count(trace)); /* and this thread */
    CHECK(late > 100);
    CHECK_EQUAL(prof_trace_about(trace)->sites_lost, 0);
    prof_trace_close(trace);
}
#endif

/*-- ways out of a scope --*/

static int leave_by(int way)
{
    PROFILE_FUNCTION();
    for (int i = 0; i < 3; ++i) {
        PROFILE_SCOPE("loop");
        if (way == 0 && i == 1) return 1;
        if (way == 1 && i == 1) break;
        if (way == 2 && i == 1) continue;
        if (way == 3 && i == 1) goto out;
        PROFILE_BLOCK("block")
        {
            if (way == 4 && i == 1) return 2;
            if (way == 5 && i == 1) break; /* leaves the block only */
            if (way == 6 && i == 1) goto out;
        }
        PROFILE_MARK("after");
    }
out:
    PROFILE_MARK("out");
    return 0;
}

TEST(ways_out)
{
    static const int loops[] = {2, 2, 3, 2, 2, 3, 2}, after[] = {1, 1, 2, 1, 1, 3, 1};
    for (int way = 0; way < 7; ++way) {
        record_start();
        leave_by(way);
        PROFILE_MARK("left");
        record_stop();
        CHECK_EQUAL(trace_count(&list, "loop"), loops[way]);
        CHECK_EQUAL(trace_count(&list, "after"), after[way]);
        CHECK_EQUAL(expect("left", PROF_EVENT_MARK)->depth, 0);
        CHECK_EQUAL(prof_trace_about(trace)->unmatched, 0);
        for (size_t i = 0; i < list.count; ++i) {
            CHECK_EQUAL(list.events[i].flags, 0);
            if (!strcmp(list.events[i].name, "loop")) CHECK_EQUAL(list.events[i].depth, 1);
            if (!strcmp(list.events[i].name, "block")) CHECK_EQUAL(list.events[i].depth, 2);
        }
        record_close();
    }
}

static void recurse(int depth)
{
    PROFILE_FUNCTION();
    if (depth > 1) recurse(depth - 1);
}

TEST(recursion)
{
    enum { DEPTH = 10000 };
    record_start();
    recurse(DEPTH);
    PROFILE_MARK("left");
    record_stop();
    CHECK_EQUAL(list.count, DEPTH + 1);
    for (size_t i = 0; i < DEPTH && i < list.count; ++i) {
        CHECK_EQUAL(list.events[i].depth, i);
        CHECK_EQUAL(list.events[i].flags, 0);
    }
    CHECK_EQUAL(expect("left", PROF_EVENT_MARK)->depth, 0);
    CHECK_EQUAL(prof_trace_about(trace)->unmatched, 0);
    record_close();
}

TEST(nesting)
{
    record_start();
    {
        PROFILE_SCOPE("a");
        PROFILE_MARK("in a");
        {
            PROFILE_SCOPE("b");
            PROFILE_COUNTER("in b", 1);
            PROFILE_BLOCK("c") PROFILE_FRAME("in c");
        }
        PROFILE_SCOPE("d");
        PROFILE_MARK("in d");
    }
    PROFILE_MARK("outside");
    record_stop();
    static const char *const names[] = {"a", "in a", "b", "in b", "c", "in c", "d", "in d", "outside"};
    static const uint32_t depths[] = {0, 1, 1, 2, 2, 3, 1, 2, 0};
    CHECK_EQUAL(list.count, 9);
    for (size_t i = 0; i < 9 && i < list.count; ++i) {
        CHECK_TEXT(list.events[i].name, names[i]);
        CHECK_EQUAL(list.events[i].depth, depths[i]);
    }
    record_close();
}

/*-- BEGIN and END --*/

static void end_elsewhere(void) { PROFILE_END("elsewhere"); }
static void *end_on_another_thread(void *unused)
{
    PROFILE_END("elsewhere");
    PROFILE_END("nowhere");
    return unused;
}

TEST(begin_and_end)
{
    pthread_t thread;
    record_start();
    PROFILE_END("nothing is open");
    PROFILE_BEGIN("elsewhere");
    pthread_create(&thread, NULL, end_on_another_thread, NULL);
    pthread_join(thread, NULL);
    PROFILE_MARK("still open");
    end_elsewhere();
    end_elsewhere();
    PROFILE_MARK("closed");
    for (int i = 0; i < 3; ++i) {
        PROFILE_BEGIN("loop");
        PROFILE_ARG_I("i", i);
        if (i == 1) PROFILE_BEGIN("nested");
        if (i == 1) PROFILE_END("nested");
        PROFILE_END("loop");
    }
    PROFILE_BEGIN("same");
    PROFILE_BEGIN("same");
    PROFILE_END("same");
    PROFILE_MARK("one is open");
    PROFILE_END("same");
    record_stop();
    CHECK_EQUAL(expect("elsewhere", PROF_EVENT_SCOPE)->depth, 0);
    CHECK_EQUAL(expect("still open", PROF_EVENT_MARK)->depth, 1);
    CHECK_EQUAL(expect("closed", PROF_EVENT_MARK)->depth, 0);
    CHECK_EQUAL(expect("nested", PROF_EVENT_SCOPE)->depth, 1);
    for (size_t i = 0; i < 3; ++i) {
        const prof_event *event = trace_nth(&list, "loop", i);
        CHECK(event && event->depth == 0 && event->flags == 0);
        CHECK_EQUAL(trace_arg(event, "i")->as.i, i);
    }
    CHECK_EQUAL(trace_nth(&list, "same", 0)->depth, 0);
    CHECK_EQUAL(trace_nth(&list, "same", 1)->depth, 1);
    CHECK_EQUAL(expect("one is open", PROF_EVENT_MARK)->depth, 1);
    CHECK_EQUAL(trace_count(&list, "nothing is open"), 0);
    CHECK_EQUAL(prof_trace_about(trace)->unmatched, 0);
    record_close();
}

/* Both keep their times: what ends after the scope around it is a span. */
TEST(begin_and_end_that_overlap)
{
    record_start();
    PROFILE_BEGIN("a");
    PROFILE_BEGIN("b");
    PROFILE_END("a");
    PROFILE_MARK("between");
    PROFILE_END("b");
    PROFILE_MARK("after");
    record_stop();
    const prof_event *a = expect("a", PROF_EVENT_SCOPE), *b = trace_find(&list, "b"), *end = trace_nth(&list, "b", 1);
    CHECK(b && b->type == PROF_EVENT_SPAN_BEGIN && b->depth == 1 && !b->flags && !b->duration_ns);
    CHECK(end && end->type == PROF_EVENT_SPAN_END && end->object == b->object && end->depth == 0);
    CHECK(b->start_ns < trace_end(a) && trace_end(a) < end->start_ns);
    CHECK_EQUAL(expect("between", PROF_EVENT_MARK)->depth, 0);
    CHECK_EQUAL(expect("after", PROF_EVENT_MARK)->depth, 0);
    CHECK_EQUAL(prof_trace_about(trace)->unmatched, 0);
    record_close();
}

/* One that is left open takes no place of a later one, and no time. */
TEST(begins_that_are_left_behind)
{
    enum { CALLS = 1000 };
    record_start();
    for (int i = 0; i < CALLS; ++i) {
        PROFILE_BEGIN("call");
        PROFILE_BEGIN("part");
        if (i % 10) PROFILE_END("part");
        PROFILE_END("call");
    }
    record_stop();
    size_t left = 0, scopes = 0;
    for (size_t i = 0; i < list.count; ++i) {
        scopes += list.events[i].type == PROF_EVENT_SCOPE;
        left += list.events[i].flags == PROF_TRUNCATED_END;
    }
    CHECK_EQUAL(scopes, 2 * CALLS);
    CHECK_EQUAL(left, CALLS / 10);
    CHECK_EQUAL(prof_trace_about(trace)->lost, 0);
    CHECK_EQUAL(prof_trace_about(trace)->unmatched, 0);
    record_close();
}

static jmp_buf back;
static void call_and_jump(int jump);
static void attempt(void)
{
    PROFILE_SCOPE("attempt");
    if (!setjmp(back)) call_and_jump(1);
}
static void call_and_jump(int jump)
{
    PROFILE_SCOPE("call");
    if (jump) longjmp(back, 1);
    attempt();
    PROFILE_MARK("after");
}

/* What a longjmp leaves behind does not take the end of the same function's call around it. */
TEST(scopes_of_a_recursion_that_a_jump_leaves)
{
    record_start();
    for (int i = 0; i < 3; ++i) call_and_jump(0);
    PROFILE_MARK("outside");
    record_stop();
    for (size_t i = 0; i < 3; ++i) {
        const prof_event *call = trace_nth(&list, "call", 2 * i), *left = trace_nth(&list, "call", 2 * i + 1);
        CHECK(call && call->type == PROF_EVENT_SCOPE && call->depth == 0 && !call->flags);
        CHECK(left && left->type == PROF_EVENT_SCOPE && left->depth == 2 && left->flags == PROF_TRUNCATED_END);
        CHECK_EQUAL(trace_nth(&list, "after", i)->depth, 1);
    }
    CHECK_EQUAL(expect("outside", PROF_EVENT_MARK)->depth, 0);
    CHECK_EQUAL(prof_trace_about(trace)->unmatched, 0);
    record_close();
}

static void fail(void)
{
    PROFILE_SCOPE("run");
    PROFILE_BEGIN("part");
    call_and_jump(1);
}

/* A server's loop, to which each error jumps. One more end at its top closes all that an error has left. */
TEST(commands_that_a_jump_leaves)
{
    enum { COMMANDS = 200 };
    volatile int n = 0;
    record_start();
    (void)setjmp(back);
    PROFILE_END("command");
    if (n++ < COMMANDS) {
        PROFILE_BEGIN("command");
        fail();
    }
    PROFILE_MARK("outside");
    record_stop();
    for (size_t i = 0; i < COMMANDS; ++i) {
        const prof_event *command = trace_nth(&list, "command", i), *run = trace_nth(&list, "run", i);
        const prof_event *part = trace_nth(&list, "part", i), *call = trace_nth(&list, "call", i);
        CHECK(command && command->depth == 0 && !command->flags);
        CHECK(run && run->depth == 1 && run->flags == PROF_TRUNCATED_END);
        CHECK(part && part->depth == 2 && part->flags == PROF_TRUNCATED_END);
        CHECK(call && call->depth == 3 && call->flags == PROF_TRUNCATED_END);
    }
    CHECK_EQUAL(expect("outside", PROF_EVENT_MARK)->depth, 0);
    CHECK_EQUAL(prof_trace_about(trace)->lost, 0);
    CHECK_EQUAL(prof_trace_about(trace)->unmatched, 0);
    record_close();
}

/* A ring of overlaps, each inside the one before, so that more than 32 begin while one is always open. */
TEST(overlaps_without_end)
{
    enum { TURNS = 500 };
    prof_range *ranges[2] = {prof_range_create("even"), prof_range_create("odd")};
    prof_stat *stats;
    size_t count;
    record_start();
    prof_range_start(ranges[0]);
    for (int i = 1; i <= TURNS; ++i) {
        prof_range_start(ranges[i % 2]);
        prof_range_stop(ranges[!(i % 2)]);
    }
    prof_range_stop(ranges[TURNS % 2]);
    record_stop();
    CHECK_EQUAL(prof_trace_about(trace)->lost, 0);
    CHECK_EQUAL(prof_stats(trace, PROF_SORT_NAME, 0, &stats, &count), PROF_OK);
    CHECK_EQUAL(count, 2);
    for (size_t i = 0; i < count; ++i) {
        CHECK_EQUAL(stats[i].count, TURNS / 2 + !i);
        CHECK_EQUAL(stats[i].truncated, 0);
        CHECK_EQUAL(stats[i].self_ns, stats[i].total_ns);
    }
    prof_stats_free(stats);
    record_close();
    for (int i = 0; i < 2; ++i) prof_range_destroy(ranges[i]);
}

TEST(end_after_the_scope_around_it)
{
    record_start();
    PROFILE_BLOCK("outer")
    {
        PROFILE_BLOCK("block") PROFILE_BEGIN("late");
        PROFILE_MARK("in outer");
        PROFILE_END("late");
        PROFILE_BLOCK("next") {}
    }
    record_stop();
    const prof_event *late = trace_find(&list, "late");
    CHECK(late && late->type == PROF_EVENT_SPAN_BEGIN && late->depth == 2);
    CHECK(trace_nth(&list, "late", 1)->type == PROF_EVENT_SPAN_END);
    CHECK_EQUAL(expect("outer", PROF_EVENT_SCOPE)->depth, 0);
    CHECK_EQUAL(expect("block", PROF_EVENT_SCOPE)->depth, 1);
    CHECK_EQUAL(expect("in outer", PROF_EVENT_MARK)->depth, 1);
    CHECK_EQUAL(expect("next", PROF_EVENT_SCOPE)->depth, 1);
    record_close();
}

/* Recursion is as deep as it is; the ranges of other languages' scopes are open in any order. */
TEST(many_begins_open)
{
    enum { OPEN = 50000, RANGES = 600 };
    prof_config config = trace_config(16u << 20);
    prof_range *ranges[RANGES];
    for (int sessions = 0; sessions < 2; ++sessions) {
        trace_start(&config);
        for (int i = 0; i < OPEN; ++i) PROFILE_BEGIN("open");
        PROFILE_MARK("all are open");
        PROFILE_BEGIN("one more");
        PROFILE_END("one more");
        for (int i = 0; i < OPEN; ++i) PROFILE_END("open");
        PROFILE_MARK("all are closed");
        for (int i = 0; i < RANGES; ++i) {
            char name[32];
            snprintf(name, sizeof name, "range %d", i);
            ranges[i] = prof_range_create(name);
            prof_range_start(ranges[i]);
        }
        for (int i = 0; i < RANGES; ++i) {
            prof_range_stop(ranges[i]);
            prof_range_destroy(ranges[i]);
        }
        PROFILE_MARK("ranges are closed");
        if (!sessions)
            for (int i = 0; i < 1000; ++i) PROFILE_BEGIN("left open");
        trace = trace_stop();
        list = trace_read(trace, 0);
        CHECK_EQUAL(trace_count(&list, "open"), OPEN);
        CHECK_EQUAL(expect("all are open", PROF_EVENT_MARK)->depth, OPEN);
        CHECK_EQUAL(expect("one more", PROF_EVENT_SCOPE)->depth, OPEN);
        CHECK_EQUAL(expect("all are closed", PROF_EVENT_MARK)->depth, 0);
        CHECK_EQUAL(expect("range 0", PROF_EVENT_SCOPE)->depth, 0);
        CHECK_EQUAL(trace_count(&list, "range 599"), 2); /* it ended after those around it: begin and end of a span */
        CHECK_EQUAL(expect("ranges are closed", PROF_EVENT_MARK)->depth, 0);
        CHECK_EQUAL(prof_trace_about(trace)->lost, 0);
        CHECK_EQUAL(prof_trace_about(trace)->unmatched, 0);
        record_close();
    }
}

/* They are forgotten ends. What is lost is so for another reason than the size of the buffer. */
TEST(too_many_begins_open)
{
    enum { OPEN = 600000 };
    prof_config config = trace_config(32u << 20);
    char *text;
    trace_start(&config);
    for (int i = 0; i < OPEN; ++i) PROFILE_BEGIN("left open");
    CHECK_EQUAL(prof_save(trace_path("deep.txt")), PROF_OK);
    text = trace_file_text(trace_path("deep.txt"), NULL);
    CHECK(text && strstr(text, "events lost because too many PROFILE_BEGINs") && !strstr(text, "enlarge"));
    free(text);
    trace = trace_stop();
    const prof_trace_info *about = prof_trace_about(trace);
    CHECK(about->lost && about->lost == about->lost_deep && about->lost < OPEN / 2);
    list = trace_read(trace, 0);
    CHECK_EQUAL(trace_count(&list, "left open") + about->lost, OPEN);
    record_close();
}

/* What an earlier session left open takes no room in the next one. */
TEST(begins_left_open_by_an_earlier_session)
{
    record_start();
    for (int i = 0; i < 40; ++i) PROFILE_BEGIN("old");
    CHECK_EQUAL(prof_stop(), PROF_OK);
    PROFILE_BEGIN("off");
    record_start();
    PROFILE_BEGIN("new");
    PROFILE_END("old");
    PROFILE_END("new");
    record_stop();
    CHECK_EQUAL(list.count, 1);
    expect("new", PROF_EVENT_SCOPE);
    CHECK_EQUAL(prof_trace_about(trace)->unmatched, 0);
    record_close();
}

/*-- stages --*/

static int stages(int stop_at)
{
    PROFILE_STAGE("one");
    if (stop_at == 1) return 1;
    PROFILE_NEXT("two");
    for (int i = 0; i < 2; ++i) {
        PROFILE_BLOCK("inside") {}
        PROFILE_NEXT("three");
    }
    {
        PROFILE_STAGE("inner one");
        PROFILE_NEXT("inner two");
    }
    PROFILE_NEXT("four");
    return 0;
}

TEST(stages_touch)
{
    static const char *const names[] = {"one", "two", "three", "three", "four"};
    record_start();
    stages(0);
    PROFILE_MARK("left");
    record_stop();
    size_t stage = 0, inner = 0;
    int64_t end = -1, inner_end = -1;
    for (size_t i = 0; i < list.count; ++i) {
        const prof_event *event = &list.events[i];
        CHECK_EQUAL(event->flags, 0);
        if (event->type != PROF_EVENT_SCOPE || !strcmp(event->name, "inside")) continue;
        if (event->depth == 0) {
            CHECK(stage < 5);
            CHECK_TEXT(event->name, names[stage % 5]);
            if (stage++) CHECK_EQUAL(event->start_ns, end);
            end = trace_end(event);
        } else {
            CHECK_EQUAL(event->depth, 1);
            CHECK_TEXT(event->name, inner ? "inner two" : "inner one");
            if (inner++) CHECK_EQUAL(event->start_ns, inner_end);
            inner_end = trace_end(event);
        }
    }
    CHECK_EQUAL(stage, 5);
    CHECK_EQUAL(inner, 2);
    CHECK_EQUAL(expect("left", PROF_EVENT_MARK)->depth, 0);
    record_close();
    record_start();
    stages(1);
    record_stop();
    CHECK_EQUAL(list.count, 1);
    CHECK_EQUAL(expect("one", PROF_EVENT_SCOPE)->depth, 0);
    record_close();
}

/* One clock read for both, also where a chunk ends and on the slower clocks. */
TEST(stages_touch_on_every_clock)
{
    for (int clock = PROF_CLOCK_AUTO; clock <= PROF_CLOCK_MONOTONIC; ++clock) {
        prof_config config = trace_config(4u << 20);
        config.clock = (prof_clock)clock;
        if (prof_start(&config)) {
            CHECK(clock == PROF_CLOCK_COUNTER || clock == PROF_CLOCK_ORDERED);
            continue;
        }
        {
            PROFILE_STAGE("stage");
            for (int i = 0; i < 10000; ++i) PROFILE_NEXT("stage");
        }
        record_stop();
        size_t apart = 0;
        CHECK_EQUAL(list.count, 10001);
        for (size_t i = 1; i < list.count; ++i) apart += list.events[i].start_ns != trace_end(&list.events[i - 1]);
        if (apart) printf("clock %d: %lu of %lu stages do not touch\n", clock, (unsigned long)apart, (unsigned long)list.count);
        CHECK_EQUAL(apart, 0);
        record_close();
    }
}

/*-- what macros do not do --*/

static void every_macro(int *evaluated)
{
    PROFILE_FUNCTION();
    PROFILE_SCOPE_DYNAMIC("text");
    PROFILE_SCOPE_F("format %d", ++*evaluated);
    PROFILE_STAGE("stage");
    PROFILE_NEXT("next");
    PROFILE_BLOCK("block") {}
    PROFILE_BEGIN("begin");
    PROFILE_ARG_I("i", ++*evaluated);
    PROFILE_ARG_U("u", 1);
    PROFILE_ARG_D("d", 1);
    PROFILE_ARG_B("b", 1);
    PROFILE_ARG_S("s", "text");
    PROFILE_ARG_P("p", evaluated);
    PROFILE_MARK("mark");
    PROFILE_MARK_DYNAMIC("text");
    PROFILE_MARK_F("format %d", ++*evaluated);
    PROFILE_FRAME("frame");
    PROFILE_COUNTER("integer", ++*evaluated);
    PROFILE_COUNTER("double", 1.5);
    PROFILE_END("begin");
}

static void formats(int *evaluated)
{
    PROFILE_SCOPE_F("format %d", ++*evaluated);
    PROFILE_MARK_F("format %d", ++*evaluated);
}

/* Other macros may evaluate a value once after each change of what is on. */
static void expect_off(void)
{
    int formatted = 0, evaluated = 0;
    formats(&formatted);
    CHECK_EQUAL(formatted, 0);
    every_macro(&evaluated);
    evaluated = 0;
    for (int i = 0; i < 3; ++i) every_macro(&evaluated);
    CHECK_EQUAL(evaluated, 0);
}

TEST(nothing_is_recorded_or_evaluated_while_off)
{
    expect_off();
    record_start();
    CHECK_EQUAL(prof_pause(), PROF_OK);
    expect_off();
    CHECK_EQUAL(prof_resume(), PROF_OK);
    CHECK_EQUAL(prof_set_level(0), PROF_OK);
    expect_off();
    CHECK_EQUAL(prof_set_level(255), PROF_OK);
    CHECK_EQUAL(prof_category_enable("base", 0), PROF_OK);
    expect_off();
    record_stop();
    CHECK_EQUAL(list.count, 0);
    record_close();
    expect_off();
}

static void *first_use_on_a_thread(void *unused)
{
    int evaluated = 0;
    errno = 1234;
    every_macro(&evaluated);
    CHECK_EQUAL(errno, 1234);
    CHECK_EQUAL(evaluated, 4);
    PROFILE_THREAD("thread");
    CHECK_EQUAL(errno, 1234);
    return unused;
}

TEST(errno_stays)
{
    pthread_t thread;
    int evaluated = 0;
    record_start();
    errno = 4321;
    every_macro(&evaluated);
    CHECK_EQUAL(errno, 4321);
    pthread_create(&thread, NULL, first_use_on_a_thread, NULL);
    pthread_join(thread, NULL);
    errno = 4321;
    PROFILE_MARK_F("%lc", (wint_t)0x7fffffff); /* no such character: the format fails */
    CHECK_EQUAL(errno, 4321);
    errno = 4321;
    for (int i = 0; i < 5000; ++i) every_macro(&evaluated); /* takes new chunks */
    CHECK_EQUAL(errno, 4321);
    CHECK_EQUAL(prof_stop(), PROF_OK);
    errno = 4321;
    every_macro(&evaluated);
    CHECK_EQUAL(errno, 4321);
}

TEST(a_format_that_fails_is_the_name)
{
    record_start();
    PROFILE_MARK_F("%lc", (wint_t)0x7fffffff);
    record_stop();
    CHECK_EQUAL(trace_count(&list, "%lc"), 1);
    record_close();
}

static int is_below(int limit) { return limit > 3; }

TEST(statements)
{
    record_start();
    if (is_below(1))
        PROFILE_MARK("never");
    else
        PROFILE_MARK("else");
    if (is_below(5)) PROFILE_COUNTER("dangling", 1);
    else PROFILE_ARG_I("never", 1);
    for (int i = 0; i < 2; ++i) PROFILE_BLOCK("unbraced") PROFILE_MARK("inside");
    switch (is_below(5)) {
    case 1: PROFILE_MARK("case"); break;
    default: PROFILE_MARK("never");
    }
    record_stop();
    CHECK_EQUAL(trace_count(&list, "never"), 0);
    CHECK_EQUAL(trace_count(&list, "else"), 1);
    CHECK_EQUAL(trace_count(&list, "dangling"), 1);
    CHECK_EQUAL(trace_count(&list, "unbraced"), 2);
    CHECK_EQUAL(trace_nth(&list, "inside", 1)->depth, 1);
    CHECK_EQUAL(trace_count(&list, "case"), 1);
    record_close();
}

#ifndef __cplusplus
TEST(a_scope_has_its_color)
{
    trace_start(NULL);
    {
        PROFILE_SCOPE_COLOR("blue", 0x3366cc);
    }
    trace = trace_stop();
    list = trace_read(trace, 0);
    CHECK_EQUAL(list.count, 1);
    if (list.count) CHECK_EQUAL(list.events[0].site->color, 0x3366cc);
    trace_free(&list);
    prof_trace_close(trace);
}

TEST_MAIN
#endif
