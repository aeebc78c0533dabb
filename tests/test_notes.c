/* Annotations: steps, flows, masks and levels, arguments before and after, throughput, messages. */
/* run: traces clocks */
#include "private.h"
#include "test.h"
#include "trace.h"
#include <errno.h>
#include <float.h>
#include <limits.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

static prof_trace *notes_stop(trace_list *list)
{
    prof_trace *trace = trace_stop();
    *list = trace_read(trace, 0);
    return trace;
}

static void notes_start(void)
{
    prof_config config = trace_config(1u << 20);
    config.level = 255;
    trace_start(&config);
}

/* A report of the present trace as text; to be freed. */
typedef prof_status notes_report(const prof_trace *trace, const char *path);
static prof_status notes_summary(const prof_trace *trace, const char *path) { return prof_summary_write(trace, path, NULL); }
static prof_status notes_chrome(const prof_trace *trace, const char *path) { return prof_chrome_write(trace, path, NULL); }
static char *notes_text(const prof_trace *trace, notes_report *report)
{
    const char *path = trace_path("notes.txt");
    CHECK_EQUAL(report(trace, path), PROF_OK);
    return trace_file_text(path, NULL);
}

static size_t notes_count(const char *text, const char *part)
{
    size_t count = 0;
    for (; text && (text = strstr(text, part)) != NULL; text += strlen(part)) ++count;
    return count;
}

/*-- steps --*/

static int64_t arg_int(const prof_event *event, const char *key)
{
    const prof_value *value = trace_arg(event, key);
    CHECK(value && value->type == PROF_VALUE_INT);
    return value ? value->as.i : 0;
}

TEST(steps)
{
    trace_list list;
    notes_start();
    for (int i = -1; i < 3; ++i) {
        PROFILE_STEP("train", i);
        PROFILE_SCOPE("inside");
        PROFILE_ARG_I("loss", 7);
    }
    for (unsigned long long big = 1ull << 40; big < 1ull << 42; big <<= 1) {
        PROFILE_STEP("big", big);
    }
    prof_trace *trace = notes_stop(&list);
    CHECK_EQUAL(list.count, 4 * 2 + 2);
    for (int i = -1; i < 3; ++i) {
        const prof_event *step = trace_nth(&list, "train", (size_t)(i + 1));
        CHECK_EQUAL(step->type, PROF_EVENT_SCOPE);
        CHECK_EQUAL(step->site->role, PROF_ROLE_STEP);
        CHECK_EQUAL(step->arg_count, 1);
        CHECK_EQUAL(arg_int(step, "step_num"), i);
        CHECK_EQUAL(step[1].depth, 1);
        CHECK_EQUAL(step[1].arg_count, 1);
        CHECK_EQUAL(step[1].site->role, PROF_ROLE_NONE);
    }
    CHECK_EQUAL(arg_int(trace_nth(&list, "big", 1), "step_num"), 1ll << 41);
    char *text = notes_text(trace, notes_summary);
    CHECK_EQUAL(notes_count(text, "\ntrain"), 1);
    free(text);
    trace_free(&list);
    prof_trace_close(trace);
}

/* What a step's number costs is paid only if it is recorded. */
TEST(nothing_is_evaluated_while_off)
{
    trace_list list;
    int evaluated = 0;
    notes_start();
    prof_set_level(0);
    { PROFILE_STEP("off", ++evaluated); }
    { PROFILE_THROUGHPUT("off", ++evaluated); }
    { PROFILE_STEP_DYNAMIC(++evaluated ? "off" : "", ++evaluated); }
    { PROFILE_THROUGHPUT_DYNAMIC(++evaluated ? "off" : "", ++evaluated); }
    PROFILE_FLOW_OUT((uint64_t)++evaluated);
    PROFILE_FLOW_IN_NAMED("off", (uint64_t)++evaluated);
    PROFILE_LOG(PROF_LOG_FATAL, "off %d", ++evaluated);
    prof_trace *trace = notes_stop(&list);
    CHECK_EQUAL(evaluated, 0);
    CHECK_EQUAL(list.count, 0);
    trace_free(&list);
    prof_trace_close(trace);
}

/* Neither is taken back, and what is around them is not either. */
TEST(short_steps_stay)
{
    prof_config config = trace_config(1u << 20);
    trace_list list;
    config.min_duration_ns = 1000000000;
    trace_start(&config);
    for (int i = 0; i < 3000; ++i) {
        PROFILE_SCOPE("short");
        PROFILE_STEP("step", i);
        PROFILE_THROUGHPUT("moved", i);
        PROFILE_SCOPE("taken back");
    }
    prof_trace *trace = notes_stop(&list);
    CHECK_EQUAL(trace_count(&list, "step"), 3000);
    CHECK_EQUAL(trace_count(&list, "moved"), 3000);
    CHECK_EQUAL(trace_count(&list, "short"), 3000);
    for (size_t i = 0; i < 3000; ++i) CHECK_EQUAL(arg_int(trace_nth(&list, "step", i), "step_num"), (int)i);
    trace_free(&list);
    prof_trace_close(trace);
}

/*-- levels: TraceMe's --*/

static void record_levels(void)
{
    { PROFILE_SCOPE_L("1", 1); }
    { PROFILE_SCOPE_L("2", 2); }
    { PROFILE_SCOPE_L("3", 3); }
    { PROFILE_SCOPE_L("4", 4); }
    { PROFILE_SCOPE_L("200", 200); }
    PROFILE_LOG(PROF_LOG_DEBUG, "debug");
    PROFILE_LOG(PROF_LOG_INFO, "info");
    PROFILE_LOG(PROF_LOG_WARNING, "warning");
    PROFILE_LOG(PROF_LOG_ERROR, "error");
    PROFILE_LOG(PROF_LOG_FATAL, "fatal");
}

/* A site is on if its level is not above the session's; critical is 1, info 2, verbose 3, and there may be more. The
   default is 2. */
TEST(levels)
{
    static const struct {
        int level;
        const char *names;
    } expected[] = {{0, "12" "infowarningerrorfatal"},
                    {1, "1" "warningerrorfatal"},
                    {2, "12" "infowarningerrorfatal"},
                    {3, "123" "debuginfowarningerrorfatal"},
                    {4, "1234" "debuginfowarningerrorfatal"},
                    {255, "1234200" "debuginfowarningerrorfatal"}};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; ++i) {
        prof_config config = trace_config(1u << 20);
        trace_list list;
        char names[200] = "";
        config.level = expected[i].level;
        trace_start(&config);
        record_levels();
        prof_trace *trace = notes_stop(&list);
        for (size_t j = 0; j < list.count; ++j) strcat(names, list.events[j].name);
        CHECK_TEXT(names, expected[i].names);
        trace_free(&list);
        prof_trace_close(trace);
    }
}

/*-- masks --*/

static void record_masks(void)
{
    { PROFILE_SCOPE("all"); }
    { PROFILE_SCOPE_MASK("1", 1); }
    { PROFILE_SCOPE_MASK("6", 6); }
    { PROFILE_SCOPE_MASK("top", 0x80000000u); }
    { PROFILE_SCOPE_MASK("none", 0); }
}

static void check_masks(const char *expected)
{
    char names[200] = "";
    prof_trace *trace = trace_live();
    trace_list list = {NULL, 0, NULL, 0};
    if (prof_trace_track_count(trace)) list = trace_read(trace, 0);
    for (size_t j = 0; j < list.count; ++j) strcat(strcat(names, list.events[j].name), " ");
    CHECK_TEXT(names, expected);
    trace_free(&list);
    prof_trace_close(trace);
}

TEST(masks)
{
    static const struct {
        const char *mask, *names;
    } expected[] = {{"0", "all 1 6 top "},          {"1", "all 1 "},    {"2", "all 6 "},
                    {"0x80000000", "all top "},     {"8", "all "},      {"0x7", "all 1 6 "},
                    {"4294967295", "all 1 6 top "}, {"0xF", "all 1 6 "}};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; ++i) {
        prof_config config = trace_config(1u << 20);
        CHECK_EQUAL(prof_config_set(&config, "filter_mask", expected[i].mask), PROF_OK);
        trace_start(&config);
        record_masks();
        CHECK_EQUAL(prof_stop(), PROF_OK);
        check_masks(expected[i].names);
    }
}

TEST(masks_while_running)
{
    prof_config config = trace_config(1u << 20);
    CHECK_EQUAL(prof_set_filter_mask(1), PROF_INVALID_STATE);
    trace_start(&config);
    CHECK_EQUAL(prof_set_filter_mask(4), PROF_OK);
    record_masks();
    CHECK_EQUAL(prof_set_filter_mask(1), PROF_OK);
    record_masks();
    CHECK_EQUAL(prof_set_filter_mask(0), PROF_OK);
    record_masks();
    CHECK_EQUAL(prof_stop(), PROF_OK);
    check_masks("all 6 all 1 all 1 6 top ");
    trace_start(&config); /* and a new session begins anew */
    record_masks();
    CHECK_EQUAL(prof_stop(), PROF_OK);
    check_masks("all 1 6 top ");
}

TEST(masks_as_text)
{
    static const char *const bad[] = {"", "x", "0x", "-1", "4294967296", "0x100000000", "0x1ffffffff", "1.5", "0xg", "1 ", "1K"};
    prof_config config = trace_config(1u << 20);
    config.filter_mask = 77;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
        CHECK_EQUAL(prof_config_set(&config, "filter_mask", bad[i]), PROF_INVALID_ARGUMENT);
        CHECK(strstr(prof_error(), "filter_mask") != NULL);
    }
    CHECK_EQUAL(config.filter_mask, 77);
    CHECK_EQUAL(prof_config_set(&config, "filter_mask", "0xfFfFfFfF"), PROF_OK);
    CHECK_EQUAL(config.filter_mask, 0xffffffffu);
    CHECK_EQUAL(prof_config_set(&config, "filter_mas", "1"), PROF_INVALID_ARGUMENT);
    CHECK(strstr(prof_error(), "'filter_mask'") != NULL);
    CHECK(sizeof(prof_site) <= 64);
}

/*-- arguments at any time before the end --*/

TEST(arguments_behind_inner_scopes)
{
    trace_list list;
    notes_start();
    {
        PROFILE_SCOPE("scope");
        PROFILE_ARG_I("x", 1);
        { PROFILE_SCOPE("inner"); PROFILE_ARG_I("x", 100); }
        PROFILE_ARG_I("x", 2);
        PROFILE_ARG_S("text", "late");
    }
    PROFILE_BEGIN("begin");
    { PROFILE_SCOPE("inner"); }
    PROFILE_ARG_I("x", 3);
    PROFILE_BEGIN("begin inside");
    PROFILE_END("begin inside");
    PROFILE_ARG_I("x", 4);
    PROFILE_END("begin");
    {
        PROFILE_STAGE("stage 1");
        { PROFILE_SCOPE("inner"); }
        PROFILE_ARG_I("x", 5);
        PROFILE_NEXT("stage 2");
        PROFILE_ARG_I("x", 6);
        { PROFILE_SCOPE("inner"); }
        PROFILE_ARG_I("x", 7);
    }
    {
        PROFILE_STEP("step", 8);
        { PROFILE_SCOPE("inner"); }
        PROFILE_ARG_I("x", 9);
        PROFILE_ARG_I("step_num", 10); /* the last one counts */
    }
    PROFILE_BLOCK("block") {
        { PROFILE_SCOPE("inner"); }
        PROFILE_ARG_I("x", 11);
    }
    prof_trace *trace = notes_stop(&list);
    CHECK_EQUAL(arg_int(trace_find(&list, "scope"), "x"), 2);
    CHECK_TEXT(trace_arg(trace_find(&list, "scope"), "text")->as.string, "late");
    CHECK_EQUAL(arg_int(trace_find(&list, "inner"), "x"), 100);
    CHECK_EQUAL(arg_int(trace_find(&list, "begin"), "x"), 4);
    CHECK_EQUAL(trace_find(&list, "begin inside")->arg_count, 0);
    CHECK_EQUAL(arg_int(trace_find(&list, "stage 1"), "x"), 5);
    CHECK_EQUAL(arg_int(trace_find(&list, "stage 2"), "x"), 7);
    CHECK_EQUAL(arg_int(trace_find(&list, "step"), "x"), 9);
    CHECK_EQUAL(arg_int(trace_find(&list, "step"), "step_num"), 10);
    CHECK_EQUAL(arg_int(trace_find(&list, "block"), "x"), 11);
    char *json = notes_text(trace, notes_chrome); /* there, too, a key comes once, with its last value */
    CHECK_EQUAL(notes_count(json, "\"step_num\":10"), 1);
    CHECK_EQUAL(notes_count(json, "\"step_num\""), 1);
    CHECK_EQUAL(notes_count(json, "\"x\":2,"), 1);
    free(json);
    trace_free(&list);
    prof_trace_close(trace);
}

/* Across chunks: the scope began thousands of events before. */
TEST(arguments_long_after)
{
    trace_list list;
    prof_config config = trace_config(4u << 20);
    trace_start(&config);
    {
        PROFILE_STEP("long", 1);
        for (int i = 0; i < 20000; ++i) {
            PROFILE_SCOPE("inner");
        }
        PROFILE_ARG_I("late", 2);
        for (int i = 0; i < 20000; ++i) {
            PROFILE_SCOPE("inner");
        }
        PROFILE_ARG_I("late", 3);
    }
    prof_trace *trace = notes_stop(&list);
    CHECK_EQUAL(arg_int(trace_find(&list, "long"), "step_num"), 1);
    CHECK_EQUAL(arg_int(trace_find(&list, "long"), "late"), 3);
    CHECK_EQUAL(trace_find(&list, "long")->arg_count, 3);
    trace_free(&list);
    prof_trace_close(trace);
}

/*-- messages --*/

/* The same call as a message and through snprintf; the texts must be equal. */
#define NOTES_MESSAGES 4000
static char notes_expected[NOTES_MESSAGES][1000];
static size_t notes_messages;
#define LOG_BOTH(...)                                                                                      \
    do {                                                                                                   \
        PROFILE_LOG(PROF_LOG_INFO, __VA_ARGS__);                                                           \
        snprintf(notes_expected[notes_messages++ % NOTES_MESSAGES], sizeof notes_expected[0], __VA_ARGS__); \
    } while (0)

static void check_messages(void)
{
    trace_list list;
    prof_trace *trace = notes_stop(&list);
    CHECK_EQUAL(list.count, notes_messages);
    for (size_t i = 0; i < list.count && i < notes_messages; ++i) {
        CHECK_EQUAL(list.events[i].type, PROF_EVENT_LOG);
        CHECK_EQUAL(list.events[i].value.type, PROF_VALUE_STRING);
        CHECK_EQUAL(list.events[i].value.cut, 0);
        if (strcmp(list.events[i].value.as.string, notes_expected[i])) printf("format: %s\n", list.events[i].name);
        CHECK_TEXT(list.events[i].value.as.string, notes_expected[i]);
    }
    notes_messages = 0;
    trace_free(&list);
    prof_trace_close(trace);
}

TEST(messages_as_printf_writes_them)
{
    int number = -7;
    const char *text = "text";
    char bytes[4] = {'a', 'b', 'c', 'd'}; /* not terminated */
    notes_start();
    LOG_BOTH("plain");
    LOG_BOTH("%%");
    LOG_BOTH("100%% of %d", 5);
    LOG_BOTH("%d %i %5d|%-5d|%05d %+d % d %.4d %8.4d", 1, -2, 3, 4, 5, 6, 7, 8, number);
    LOG_BOTH("%u %x %X %o %#x %#o %08x", 1u, 0xabcu, 0xABCu, 8u, 255u, 8u, 0xdeadu);
    LOG_BOTH("%hhd %hhu %hd %hu", (signed char)-1, (unsigned char)255, (short)-300, (unsigned short)65535);
    LOG_BOTH("%ld %lu %lx", LONG_MIN, ULONG_MAX, 1ul << 30);
    LOG_BOTH("%lld %llu %llx", LLONG_MIN, ULLONG_MAX, 0x123456789abcdefull);
    LOG_BOTH("%zu %zd %td %jd %ju", (size_t)-1, (size_t)5, (ptrdiff_t)-6, (intmax_t)-7, (uintmax_t)8);
    LOG_BOTH("%f %.2f %e %g %G %.0f %10.3f|%-10.3f|%+f", 1.5, 2.345, 1e10, 1e-7, 1e100, 2.5, 3.14159, 2.71828, 0.5);
    LOG_BOTH("%a %A %f %f %F %g", 1.0, 0.1, 1.0 / 3, DBL_MAX, -1e300, DBL_MIN);
    LOG_BOTH("%f %f %F %5.1f", (double)INFINITY, -(double)INFINITY, (double)INFINITY, (double)INFINITY);
    LOG_BOTH("%Lf %Lg %.1Le", 1.25l, 1e10l, 12345.0l);
    LOG_BOTH("%s %10s|%-10s|%.2s|%10.2s|%s", text, text, text, text, text, "");
    LOG_BOTH("%.4s %.*s %.*s|%*.*s", bytes, 3, bytes, -1, text, 8, 2, bytes);
    LOG_BOTH("%*d|%-*d|%*d|%.*d|%.*f", 6, 1, 6, 2, -6, 3, 4, 5, 2, 1.0);
    LOG_BOTH("[%*s][%*s]", -1, "", -2, "");
    LOG_BOTH("%c%c%5c|%-5c|", 'x', 'y', 'z', 'w');
    LOG_BOTH("%p", (void *)0x1234);
    LOG_BOTH("%s is %d of %zu at %p: %.1f %%", "step", 3, (size_t)4, (void *)&number == NULL ? NULL : (void *)0xfff, 99.5);
    LOG_BOTH("ends in %d", 5);
    LOG_BOTH("\xC3\xA4 %s \xE2\x82\xAC", "\xF0\x9F\x98\x80");
    check_messages();
}

TEST(messages_in_any_locale)
{
    static const char *const locales[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "ps_AF.UTF-8", "C.UTF-8"};
    trace_list list;
    notes_start();
    PROFILE_LOG(PROF_LOG_INFO, "%.2f %g %8.1f|", 1.25, 2.5, 3.75);
    CHECK_EQUAL(prof_stop(), PROF_OK);
    for (size_t i = 0; i < sizeof locales / sizeof *locales; ++i) {
        if (!setlocale(LC_ALL, locales[i])) continue;
        prof_trace *trace = trace_live();
        list = trace_read(trace, 0);
        CHECK_TEXT(list.events[0].value.as.string, "1.25 2.5      3.8|");
        trace_free(&list);
        prof_trace_close(trace);
    }
    setlocale(LC_ALL, "C");
}


#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat"
#pragma GCC diagnostic ignored "-Wformat-extra-args"
#endif
TEST(what_messages_cannot_say)
{
    static const char *const expected[] = {"(%ls is not supported) 5", "(%lc is not supported) 6", "(%n is not supported) 7",
                                           "(%m is not supported) 8", "%y 9 is not known", "1 (%d is missing)", "(null)|(null)",
                                           "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 (%d is missing)", "%",
                                           "%1$d"};
    int untouched = 77;
    const char *volatile nothing = NULL;
    trace_list list;
    notes_start();
    PROFILE_LOG(PROF_LOG_INFO, "%ls %d", L"wide", 5);
    PROFILE_LOG(PROF_LOG_INFO, "%lc %d", (wint_t)L'w', 6);
    PROFILE_LOG(PROF_LOG_INFO, "%n %d", &untouched, 7);
    PROFILE_LOG(PROF_LOG_INFO, "%m %d", 8);
    PROFILE_LOG(PROF_LOG_INFO, "%y %d is not known", 9);
    PROFILE_LOG(PROF_LOG_INFO, "%d %d", 1); /* reads whatever is there: only that nothing breaks */
    PROFILE_LOG(PROF_LOG_INFO, "%s|%s", nothing, (char *)nothing);
    PROFILE_LOG(PROF_LOG_INFO, "%d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13,
                14, 15, 16, 17);
    PROFILE_LOG(PROF_LOG_INFO, "%");
    PROFILE_LOG(PROF_LOG_INFO, "%1$d", 1);
    prof_trace *trace = notes_stop(&list);
    CHECK_EQUAL(untouched, 77);
    CHECK_EQUAL(list.count, sizeof expected / sizeof *expected);
    for (size_t i = 0; i < list.count; ++i)
        if (i != 5 && i != 4) CHECK_TEXT(list.events[i].value.as.string, expected[i]);
    CHECK_TEXT(list.events[4].value.as.string, "%y %d is not known");
    trace_free(&list);
    prof_trace_close(trace);
}
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif


/*-- what an image can hold --*/

/* An event of the reader's own making: its format and values need not fit together. */
static void format_one(const char *format, const prof_arg *args, uint32_t count, char *room)
{
    prof_callsite site;
    prof_event event;
    memset(&site, 0, sizeof site);
    memset(&event, 0, sizeof event);
    site.name = format;
    event.site = &site;
    event.args = args;
    event.arg_count = count;
    prof__log_format_event(&event, room);
    CHECK_EQUAL(event.value.type, PROF_VALUE_STRING);
    CHECK(strlen(room) < PROF__LOG_ROOM);
}

static prof_arg number_arg(prof_value_type type, uint64_t number)
{
    prof_arg arg;
    memset(&arg, 0, sizeof arg);
    arg.key = "";
    arg.value.type = type;
    arg.value.as.u = number;
    return arg;
}

static prof_arg text_arg(const char *text, int cut)
{
    prof_arg arg = number_arg(PROF_VALUE_STRING, 0);
    arg.value.as.string = text;
    arg.value.cut = cut;
    return arg;
}

TEST(formats_that_lie)
{
    char *room = (char *)malloc(PROF__LOG_ROOM);
    prof_arg args[4] = {number_arg(PROF_VALUE_INT, 5), text_arg("text", 1), number_arg(PROF_VALUE_POINTER, 0xabc),
                        number_arg(PROF_VALUE_NONE, 1)};
    static const struct {
        const char *format, *expected;
    } cases[] = {{"%d %s %p", "5 text... 0xabc"},
                 {"%s", "(%s has a value of another type)"},
                 {"%f %d", "(%f has a value of another type) (%d has a value of another type)"},
                 {"%p %p %d", "(%p has a value of another type) (%p has a value of another type) (%d has a value of another type)"},
                 {"%d %s %p %d %d", "5 text... 0xabc (%d has a value of another type) (%d is missing)"},
                 {"%*s", " text..."},
                 {"%.*s", "text..."},
                 {"%*d", "(%*d has a value of another type)"},
                 {"%n%n%n%n%n%d", "(%n is not supported)(%n is not supported)(%n is not supported)(%n is not supported)"
                                  "(%n is not supported)(%d is missing)"},
                 {"%ls %s", "(%ls is not supported) text..."},
                 {"%", "%"},
                 {"%l", "%l"},
                 {"100%", "100%"},
                 {"%5", "%5"},
                 {"%-+ #0'-+ #0d", "+5"},
                 {"%.%", "%"},
                 {"%x %k %s", "5 %k %s"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        format_one(cases[i].format, args, 4, room);
        if (!strcmp(cases[i].format, "%*s")) continue; /* what is cut is not padded */
        CHECK_TEXT(room, cases[i].expected);
    }
    free(room);
}

TEST(messages_are_limited)
{
    char *room = (char *)malloc(PROF__LOG_ROOM), wide[64];
    prof_arg args[3] = {number_arg(PROF_VALUE_INT, INT_MAX), number_arg(PROF_VALUE_INT, INT_MAX),
                        number_arg(PROF_VALUE_DOUBLE, 0)};
    double huge = -1.7976931348623157e308;
    memcpy(&args[2].value.as.d, &huge, sizeof huge);
    format_one("%*.*f", args, 3, room);
    CHECK_EQUAL(strlen(room), 1 + 309 + 1 + PROF__LOG_WIDE);
    args[2] = number_arg(PROF_VALUE_INT, 0x8000000000000000u);
    format_one("%*.*d", args, 3, room);
    CHECK_EQUAL(strlen(room), PROF__LOG_WIDE + 1);
    format_one("%*.*X", args, 3, room);
    CHECK_EQUAL(strlen(room), PROF__LOG_WIDE);
    args[0].value.as.i = INT64_MIN;
    args[1] = text_arg("x", 0);
    format_one("%*s|", args, 2, room);
    CHECK_EQUAL(strlen(room), PROF__LOG_WIDE + 1);
    CHECK_EQUAL(room[0], 'x');
    snprintf(wide, sizeof wide, "%%99999999999999999999s%%.99999999999999999999s");
    args[0] = args[1];
    format_one(wide, args, 2, room);
    CHECK_EQUAL(strlen(room), PROF__LOG_WIDE + 1);
    char *format = (char *)malloc(200000); /* a long format, and one of many wide conversions */
    memset(format, '\xC3', 200000);
    for (size_t i = 1; i < 200000; i += 2) format[i] = '\xA4';
    format[199999] = 0;
    format_one(format, args, 0, room);
    CHECK_EQUAL(strlen(room), PROF__LOG_ROOM - 2); /* not half a character */
    for (size_t i = 0; i < 199998; ++i) format[i] = "%500d"[i % 5];
    format[199995] = 0;
    format_one(format, args, 3, room);
    free(format);
    free(room);
}

/* Any format with any values: nothing breaks, and the text ends. Under the address sanitizer this says more. */
TEST(random_formats)
{
    static const char letters[] = "%%%%%%dsfpcnxXulhLzqjtI64*.-+ #0'123456789egaEGAFoiSCm$ \xC3\xA4z";
    const char *given = getenv("PROF_TEST_SEED");
    uint64_t seed = given ? strtoull(given, NULL, 0) : (uint64_t)time(NULL), random = seed | 1;
    char *room = (char *)malloc(PROF__LOG_ROOM), texts[8][40];
    printf("seed %llu\n", (unsigned long long)seed);
    for (long i = 0; i < trace_times(5000, 100000, 3000000) && test_failures < 5; ++i) {
        char format[60];
        prof_arg args[8];
        size_t length = 0;
        uint32_t count = 0;
#define RANDOM(n) (random ^= random << 13, random ^= random >> 7, random ^= random << 17, (size_t)(random >> 20) % (n))
        for (size_t n = RANDOM(sizeof format - 1); length < n; ++length) format[length] = letters[RANDOM(sizeof letters - 1)];
        format[length] = 0;
        for (size_t n = RANDOM(9); count < n; ++count) {
            size_t k = 0;
            uint64_t number = RANDOM(9);
            if (RANDOM(2)) number = random;
            for (size_t m = RANDOM(39); k < m; ++k) texts[count][k] = (char)(1 + RANDOM(255));
            texts[count][k] = 0;
            args[count] = RANDOM(3) ? number_arg((prof_value_type)RANDOM(6), number)
                                    : text_arg(texts[count], (int)RANDOM(2));
        }
        format_one(format, args, count, room);
    }
    free(room);
}

/*-- long values --*/

TEST(long_texts_are_cut)
{
    trace_list list;
    char *text = (char *)malloc(5001);
    memset(text, 'x', 5000);
    text[5000] = 0;
    notes_start();
    PROFILE_LOG(PROF_LOG_INFO, "%s|%d", text, 1);
    PROFILE_LOG(PROF_LOG_INFO, "%s%s%s%s%s%s%s%s|%d", text, text, text, text, text, text, text, text, 2);
    PROFILE_LOG(PROF_LOG_INFO, "%.3000s|%d", text, 3);
    PROFILE_LOG(PROF_LOG_INFO, "%.900s|%d", text, 4);
    PROFILE_LOG(PROF_LOG_INFO, "%.*s|%d", 800, text, 5);
    prof_trace *trace = notes_stop(&list);
    CHECK_EQUAL(list.count, 5);
    CHECK_EQUAL(strlen(list.events[0].value.as.string), PROF_MAX_TEXT + 3 + 2);
    CHECK_TEXT(list.events[0].value.as.string + PROF_MAX_TEXT, "...|1");
    CHECK(strlen(list.events[1].value.as.string) > 3900); /* a quarter of a chunk */
    CHECK(strlen(list.events[1].value.as.string) < 4200);
    CHECK_TEXT(strchr(list.events[1].value.as.string, '|'), "|2"); /* numbers keep their room */
    CHECK_TEXT(list.events[2].value.as.string + PROF_MAX_TEXT, "...|3");
    CHECK_EQUAL(strlen(list.events[3].value.as.string), 902);
    CHECK_EQUAL(strlen(list.events[4].value.as.string), 802);
    trace_free(&list);
    prof_trace_close(trace);
    free(text);
}

/* More than a chunk of them, packed and not. */
static void check_many(const char *output)
{
    prof_config config = trace_config(output ? 128u << 10 : 4u << 20);
    prof_trace *trace;
    config.output = output;
    if (output) config.mode = PROF_STREAM;
    config.wait_ns = output ? 10000000000 : 0;
    trace_start(&config);
    for (int i = 0; i < 20000; ++i) {
        PROFILE_STEP("step", i);
        PROFILE_LOG(PROF_LOG_INFO, "%d of %s", i, i % 3 ? "some" : "many");
    }
    CHECK_EQUAL(prof_stop(), PROF_OK);
    trace = output ? trace_open_file(output) : trace_live();
    trace_list list = trace_read(trace, 0);
    CHECK_EQUAL(list.count, 40000);
    for (int i = 0; i < 20000 && test_failures < 5; ++i) {
        char text[40];
        snprintf(text, sizeof text, "%d of %s", i, i % 3 ? "some" : "many");
        CHECK_TEXT(list.events[2 * i + 1].value.as.string, text);
        CHECK_EQUAL(list.events[2 * i + 1].depth, 1);
        CHECK_EQUAL(arg_int(&list.events[2 * i], "step_num"), i);
    }
    trace_free(&list);
    prof_trace_close(trace);
}
TEST(many_messages) { check_many(NULL); }
TEST(many_messages_packed) { check_many(trace_path("notes.prof")); }

static void *log_much(void *number)
{
    for (int i = 0; i < 2000; ++i) {
        PROFILE_THROUGHPUT("move", 1000);
        PROFILE_LOG(PROF_LOG_WARNING, "%d %s %.1f %zu", (int)(size_t)number, "text", 0.5 * i, (size_t)i);
    }
    return NULL;
}

/* Threads that parse the format of one call site at the same time. */
TEST(messages_of_threads)
{
    pthread_t threads[4];
    prof_config config = trace_config(8u << 20);
    size_t with = 0;
    trace_start(&config);
    for (size_t i = 0; i < 4; ++i) CHECK(!pthread_create(&threads[i], NULL, log_much, (void *)i));
    for (size_t i = 0; i < 4; ++i) CHECK(!pthread_join(threads[i], NULL));
    prof_trace *trace = trace_stop();
    for (size_t t = 0; t < prof_trace_track_count(trace); ++t) {
        trace_list list = trace_read(trace, t);
        size_t at = 0;
        int number = -1;
        for (size_t i = 0; i < list.count && test_failures < 5; ++i) {
            char text[80];
            if (list.events[i].type != PROF_EVENT_LOG) continue;
            if (number < 0) sscanf(list.events[i].value.as.string, "%d", &number);
            snprintf(text, sizeof text, "%d text %.1f %zu", number, 0.5 * (double)at, at);
            CHECK_TEXT(list.events[i].value.as.string, text);
            ++at;
        }
        CHECK(at == 2000 || !list.count);
        with += at == 2000;
        trace_free(&list);
    }
    CHECK_EQUAL(with, 4);
    prof_trace_close(trace);
}

TEST(errno_stays)
{
    notes_start();
    errno = 77;
    PROFILE_LOG(PROF_LOG_ERROR, "%s %d %f", "text", 1, 0.1);
    PROFILE_FLOW_OUT(1);
    {
        PROFILE_STEP("s", 1);
    }
    CHECK_EQUAL(errno, 77);
    CHECK_EQUAL(prof_stop(), PROF_OK);
}

/*-- reports --*/

TEST(messages_in_reports)
{
    trace_list list;
    notes_start();
    PROFILE_LOG(PROF_LOG_INFO, "hello, \"%s\"", "you");
    PROFILE_LOG(PROF_LOG_DEBUG, "detail");
    for (int i = 0; i < 7; ++i) PROFILE_LOG(PROF_LOG_ERROR, "error %d", i);
    PROFILE_LOG(PROF_LOG_FATAL, "the\nend");
    prof_trace *trace = notes_stop(&list);
    char *text = notes_text(trace, notes_summary);
    CHECK_EQUAL(notes_count(text, "\nmessages  1 fatal, 7 error, 1 info, 1 debug\n"), 1);
    CHECK_EQUAL(notes_count(text, "error: error 2"), 0);
    for (int i = 3; i < 7; ++i) {
        char line[40];
        snprintf(line, sizeof line, " error: error %d\n", i);
        CHECK_EQUAL(notes_count(text, line), 1);
    }
    CHECK_EQUAL(notes_count(text, " fatal: the?end\n"), 1);
    CHECK(strstr(text, "error 3") < strstr(text, "error 4"));
    free(text);
    text = notes_text(trace, prof_csv_write);
    CHECK_EQUAL(notes_count(text, ",log,\"hello, \"\"%s\"\"\",,"), 1);
    CHECK_EQUAL(notes_count(text, ",\"hello, \"\"you\"\"\",severity=info,"), 1);
    CHECK_EQUAL(notes_count(text, ",error 6,severity=error,"), 1);
    free(text);
    text = notes_text(trace, notes_chrome);
    CHECK_EQUAL(notes_count(text, "{\"ph\":\"i\",\"name\":\"hello, \\\"you\\\"\""), 1);
    CHECK_EQUAL(notes_count(text, "\"s\":\"t\",\"args\":{\"severity\":\"info\"}}"), 1);
    CHECK_EQUAL(notes_count(text, "\"name\":\"error "), 7);
    CHECK_EQUAL(notes_count(text, "{\"severity\":\"error\"}"), 7);
    free(text);
    trace_free(&list);
    prof_trace_close(trace);
}

static const prof_stat *find_stat(const prof_stat *stats, size_t count, const char *name)
{
    for (size_t i = 0; i < count; ++i)
        if (!strcmp(stats[i].name, name)) return &stats[i];
    printf("no figures for %s\n", name);
    exit(1);
}

static void count_samples(void)
{
    for (unsigned i = 1; i <= 3; ++i) {
        PROFILE_THROUGHPUT_UNIT("batch", 32 * i, "samples");
        PROFILE_ARG_U("bytes", 1ull << 40); /* no unit of its own */
        pause_us(100);
    }
}

/* In the recording, and in statistics that are made while it runs. */
static void check_unit(prof_mode mode)
{
    prof_config config = trace_config(1u << 20);
    prof_stat *stats;
    prof_trace *trace;
    size_t count, i, found = 0;
    config.mode = mode;
    trace_start(&config);
    count_samples();
    CHECK_EQUAL(prof_trace_open_live(&trace), PROF_OK);
    CHECK_EQUAL(prof_stats(trace, PROF_SORT_TOTAL, 0, &stats, &count), PROF_OK);
    for (i = 0; i < count; i++) {
        if (strcmp(stats[i].name, "batch")) continue;
        found++;
        CHECK_EQUAL(stats[i].bytes, 32 + 64 + 96);
        CHECK_EQUAL(stats[i].rates, 3);
        CHECK_EQUAL(stats[i].site->role, PROF_ROLE_THROUGHPUT);
        CHECK_TEXT(stats[i].site->unit, "samples");
    }
    CHECK_EQUAL(found, 1);
    prof_stats_free(stats);
    char *text = notes_text(trace, notes_summary), *row = strstr(text, "\nthroughput");
    CHECK(row && strstr(row, "moved") && strstr(row, "192 samples") && strstr(row, "samples/s") && !strstr(row, "B/s"));
    free(text);
    prof_trace_close(trace);
    prof_stop();
}

TEST(throughput_of_samples) { check_unit(PROF_RING); }
TEST(throughput_of_samples_in_statistics) { check_unit(PROF_STATS); }

static int nearly(double a, double b) { return a - b <= b * 1e-9 && b - a <= b * 1e-9; }

/* Rates come from the durations in the trace itself. */
TEST(throughput)
{
    trace_list list;
    prof_stat *stats;
    size_t count;
    notes_start();
    for (unsigned i = 1; i <= 5; ++i) {
        PROFILE_THROUGHPUT("copy", i * 1000000u);
        pause_us(100);
    }
    {
        PROFILE_THROUGHPUT("changed", 1);
        PROFILE_ARG_U("bytes", 1ull << 40); /* known only afterwards */
    }
    {
        PROFILE_SCOPE("no throughput");
        PROFILE_ARG_U("bytes", 5);
    }
    prof_trace *trace = notes_stop(&list);
    CHECK_EQUAL(prof_stats(trace, PROF_SORT_TOTAL, 0, &stats, &count), PROF_OK);
    double sum = 0, squares = 0, least = 0, most = 0;
    for (size_t i = 0; i < 5; ++i) {
        const prof_event *event = trace_nth(&list, "copy", i);
        double rate = (double)(i + 1) * 1e6 * 1e3 / (double)event->duration_ns;
        CHECK_EQUAL(event->site->role, PROF_ROLE_THROUGHPUT);
        CHECK_EQUAL(trace_arg(event, "bytes")->type, PROF_VALUE_UINT);
        sum += rate;
        squares += rate * rate;
        if (!i || rate < least) least = rate;
        if (!i || rate > most) most = rate;
    }
    const prof_stat *stat = find_stat(stats, count, "copy");
    CHECK_EQUAL(stat->bytes, 15000000);
    CHECK_EQUAL(stat->rates, 5);
    CHECK(nearly(stat->mean_rate, sum / 5));
    CHECK(nearly(stat->min_rate, least));
    CHECK(nearly(stat->max_rate, most));
    CHECK(nearly(stat->deviation_rate * stat->deviation_rate + stat->mean_rate * stat->mean_rate, squares / 5));
    CHECK(find_stat(stats, count, "changed")->bytes == 1ull << 40);
    CHECK_EQUAL(find_stat(stats, count, "no throughput")->bytes, 0);
    CHECK_EQUAL(find_stat(stats, count, "no throughput")->rates, 0);
    prof_stats_free(stats);
    char *text = notes_text(trace, notes_summary), *row = strstr(text, "\nthroughput");
    CHECK(row != NULL);
    if (row) {
        CHECK(strstr(row, "15.00 MB") != NULL);
        CHECK(strstr(row, "1.100 TB") != NULL);
        CHECK(strstr(row, "no throughput") == NULL);
    }
    free(text);
    trace_free(&list);
    prof_trace_close(trace);
}

/* PROF_STATS, which keeps no events, has the same figures. */
TEST(throughput_folded)
{
    prof_config config = trace_config(1u << 20);
    prof_stat *stats;
    size_t count;
    config.mode = PROF_STATS;
    config.wait_ns = 10000000000;
    trace_start(&config);
    for (int i = 0; i < 30000; ++i) {
        PROFILE_THROUGHPUT("copy", i);
        {
            PROFILE_SCOPE("inner");
            PROFILE_ARG_U("bytes", 1000);
        }
        PROFILE_ARG_U("other", 1000);
        trace_next_instant(); /* without time there is no rate */
    }
    {
        PROFILE_THROUGHPUT("late", 1);
        pause_us(1000);
        PROFILE_ARG_U("bytes", 1000000);
    }
    CHECK_EQUAL(prof_stop(), PROF_OK);
    prof_trace *trace = NULL;
    CHECK_EQUAL(prof_trace_open_live(&trace), PROF_OK);
    CHECK_EQUAL(prof_stats(trace, PROF_SORT_TOTAL, 0, &stats, &count), PROF_OK);
    const prof_stat *stat = find_stat(stats, count, "copy");
    CHECK_EQUAL(stat->count, 30000);
    CHECK_EQUAL(stat->rates, 30000);
    CHECK_EQUAL(stat->bytes, 30000ull * 29999 / 2);
    CHECK(stat->min_rate >= 0 && stat->min_rate < stat->mean_rate && stat->mean_rate < stat->max_rate);
    CHECK(stat->deviation_rate > 0);
    stat = find_stat(stats, count, "late");
    CHECK_EQUAL(stat->bytes, 1000000);
    /* the clock's rate is known better in the end than when it was folded */
    CHECK(stat->mean_rate > 0.99e9 / stat->mean_ns && stat->mean_rate < 1.01e9 / stat->mean_ns);
    prof_stats_free(stats);
    prof_trace_close(trace);
}

/*-- flows --*/

static uint64_t notes_flow;
static void *consume(void *unused)
{
    (void)unused;
    PROFILE_SCOPE("consumer");
    PROFILE_FLOW_IN(notes_flow);
    return NULL;
}

static void on_another_thread(void *(*run)(void *))
{
    pthread_t thread;
    CHECK(!pthread_create(&thread, NULL, run, NULL));
    CHECK(!pthread_join(thread, NULL));
}

static char *flow_lines; /* the lines of the JSON with a flow, ids and phases only: "s0x5 f0x5 " */
static const char *flows_of(const prof_trace *trace)
{
    char *json = notes_text(trace, notes_chrome);
    free(flow_lines);
    flow_lines = (char *)calloc(1, 100000);
    for (char *line = strstr(json, "\n{\"ph\":\""); line; line = strstr(line + 1, "\n{\"ph\":\"")) {
        char *end = strchr(line + 1, '\n'), *id = strstr(line, "\"id\":\""), *arg = strstr(line, "{\"flow\":\""), *name, phase;
        if (!end) break;
        phase = line[8];
        name = strstr(line, "\"name\":\"");
        if (id && id < end) {
            strncat(flow_lines, &phase, 1);
            strncat(flow_lines, id + 6, strcspn(id + 6, "\""));
            if (strncmp(name + 8, "flow\"", 5)) {
                strcat(flow_lines, "=");
                strncat(flow_lines, name + 8, strcspn(name + 8, "\""));
            }
            CHECK((phase == 'f') == (strstr(line, "\"bp\":\"e\"") != NULL && strstr(line, "\"bp\":\"e\"") < end));
        } else if (arg && arg < end) {
            strcat(flow_lines, phase == 'i' ? "alone" : "slice");
            strncat(flow_lines, arg + 9, strcspn(arg + 9, "\""));
        } else {
            continue;
        }
        strcat(flow_lines, " ");
    }
    free(json);
    return flow_lines;
}

TEST(flows)
{
    trace_list list;
    notes_start();
    notes_flow = prof_flow_new();
    {
        PROFILE_SCOPE("producer");
        PROFILE_FLOW_OUT(notes_flow);
    }
    on_another_thread(consume);
    prof_trace *trace = notes_stop(&list);
    CHECK_EQUAL(list.count, 2);
    CHECK_EQUAL(list.events[1].type, PROF_EVENT_FLOW_OUT);
    CHECK_EQUAL(list.events[1].depth, 1);
    CHECK(list.events[1].object == notes_flow);
    CHECK_TEXT(list.events[1].name, "flow");
    trace_free(&list);
    list = trace_read(trace, 1);
    CHECK_EQUAL(list.events[1].type, PROF_EVENT_FLOW_IN);
    CHECK(list.events[1].object == notes_flow);
    trace_free(&list);
    char expected[100];
    snprintf(expected, sizeof expected, "s0x%llx f0x%llx ", (unsigned long long)notes_flow, (unsigned long long)notes_flow);
    CHECK_TEXT(flows_of(trace), expected);
    char *csv = notes_text(trace, prof_csv_write);
    snprintf(expected, sizeof expected, ",%llu,,", (unsigned long long)notes_flow);
    CHECK_EQUAL(notes_count(csv, ",flow_out,flow,"), 1);
    CHECK_EQUAL(notes_count(csv, expected), 2);
    free(csv);
    prof_trace_close(trace);
}

/* Ids are exact up to the last bit, come again, have steps and several ends, or no partner. */
TEST(flows_of_all_kinds)
{
    prof_trace *trace;
    notes_start();
    {
        PROFILE_SCOPE("around");
        PROFILE_FLOW_IN(1); /* before its out */
        PROFILE_FLOW_OUT(1);
        PROFILE_FLOW_STEP(1);
        PROFILE_FLOW_STEP(1);
        PROFILE_FLOW_IN(1);
        PROFILE_FLOW_OUT(2);
        PROFILE_FLOW_OUT(0xfedcba9876543210u);
        PROFILE_FLOW_OUT_NAMED("other", 2);
        PROFILE_FLOW_IN_NAMED("other", 2);
        PROFILE_FLOW_IN(0xfedcba9876543210u);
        PROFILE_FLOW_OUT(1);
        PROFILE_FLOW_IN(1);
        PROFILE_FLOW_IN(1);
        PROFILE_FLOW_OUT(3);
        PROFILE_FLOW_OUT(3);
        PROFILE_FLOW_STEP(3);
        PROFILE_FLOW_IN(4);
        PROFILE_FLOW_OUT(0);
        PROFILE_FLOW_IN_NAMED("0", 0);
    }
    trace = trace_stop();
    CHECK_TEXT(flows_of(trace), "alone0x1 "         /* in order of time, but */
                                "s0x1 t0x1 t0x1 "   /* of a pair the first is written with the */
                                "s0x2=other "       /* second, and the last when it is sure */
                                "s0xfedcba9876543210 "
                                "f0x1 s0x1=flow #2 t0x1=flow #2 "
                                "alone0x3 s0x3=flow #2 alone0x4 alone0x0 "
                                "f0x1=flow #2 alone0x2 f0xfedcba9876543210 f0x2=other f0x3=flow #2 alone0x0 ");
    prof_trace_close(trace);
}

/* A point in no scope has a slice of its own, so that viewers have something to draw an arrow from. */
TEST(flows_without_scopes)
{
    prof_trace *trace;
    notes_start();
    PROFILE_FLOW_OUT(5);
    PROFILE_FLOW_IN(5);
    PROFILE_FLOW_IN(6);
    trace = trace_stop();
    CHECK_TEXT(flows_of(trace), "slice0x5 slice0x5 slice0x6 s0x5 f0x5 ");
    prof_trace_close(trace);
}

/* Where short scopes are left out there may be none to draw an arrow from. */
TEST(flows_among_scopes_left_out)
{
    prof_chrome_options options;
    const char *path = trace_path("notes.json");
    memset(&options, 0, sizeof options);
    options.min_duration_ns = 1000000000000;
    notes_start();
    {
        PROFILE_SCOPE("short");
        PROFILE_FLOW_OUT(5);
        PROFILE_FLOW_IN(5);
        PROFILE_FLOW_IN(6);
    }
    prof_trace *trace = trace_stop();
    CHECK_EQUAL(prof_chrome_write(trace, path, &options), PROF_OK);
    char *json = trace_file_text(path, NULL);
    CHECK_EQUAL(notes_count(json, "{\"ph\":\"X\",\"name\":\"flow\""), 3);
    CHECK_EQUAL(notes_count(json, "{\"ph\":\"s\",\"name\":\"flow\""), 1);
    CHECK_EQUAL(notes_count(json, "{\"ph\":\"f\",\"name\":\"flow\""), 1);
    CHECK_EQUAL(notes_count(json, "{\"ph\":\"i\""), 0);
    CHECK_EQUAL(notes_count(json, "\"short\""), 0);
    free(json);
    prof_trace_close(trace);
}

/* Two processes that use the same ids have arrows of their own. */
TEST(flows_of_two_processes)
{
    const char *paths[2] = {trace_path("notes0.prof"), trace_path("notes1.prof")}, *path = trace_path("notes.json");
    prof_trace *traces[2];
    for (int i = 0; i < 2; ++i) {
        int status;
        pid_t child = fork();
        if (!child) {
            prof_config config = trace_config(1u << 20);
            config.output = paths[i];
            if (prof_start(&config)) _exit(1);
            {
                PROFILE_SCOPE("scope");
                PROFILE_FLOW_OUT(5);
                PROFILE_FLOW_IN(5);
            }
            _exit(prof_stop() != PROF_OK);
        }
        CHECK_EQUAL(waitpid(child, &status, 0), child);
        CHECK_EQUAL(status, 0);
        traces[i] = trace_open_file(paths[i]);
    }
    CHECK_EQUAL(prof_chrome_merge((const prof_trace *const *)traces, 2, path, NULL), PROF_OK);
    char *json = trace_file_text(path, NULL);
    for (int i = 0; i < 2; ++i) {
        char name[60];
        snprintf(name, sizeof name, ",\"name\":\"flow of %lu\"", (unsigned long)prof_trace_about(traces[i])->pid);
        CHECK_EQUAL(notes_count(json, name), 2);
        prof_trace_close(traces[i]);
    }
    free(json);
}

/* Different numbers, here and in children. */
TEST(new_flows)
{
    uint64_t a = prof_flow_new(), b = prof_flow_new(), c = 0;
    int ends[2], status;
    CHECK(a != b && a && b);
    CHECK(!pipe(ends));
    pid_t child = fork();
    if (!child) {
        c = prof_flow_new();
        _exit(write(ends[1], &c, sizeof c) == (ssize_t)sizeof c ? 0 : 1);
    }
    CHECK_EQUAL(read(ends[0], &c, sizeof c), (ssize_t)sizeof c);
    waitpid(child, &status, 0);
    CHECK(c > 1ull << 32 && prof_flow_new() == b + 1);
    close(ends[0]);
    close(ends[1]);
}

#ifdef __cplusplus
/* Steps, throughputs and messages in what only C++ has. */
namespace
{
template <typename T> T noted(T value)
{
    PROFILE_STEP("step", value);
    PROFILE_THROUGHPUT("bytes", sizeof value);
    PROFILE_LOG(PROF_LOG_INFO, "size %zu", sizeof value);
    return value;
}

inline void noted_inline(const char *text) { PROFILE_LOG(PROF_LOG_WARNING, "inline %s", text); }
enum class noted_enum : short { some = 5 };
} // namespace

TEST(templates_and_lambdas)
{
    trace_list list;
    notes_start();
    noted(1);
    noted(2.5);
    noted(noted_enum::some);
    noted_inline("text");
    [](int by) { PROFILE_LOG(PROF_LOG_ERROR, "lambda %d", by); }(3);
    prof_trace *trace = notes_stop(&list);
    CHECK_EQUAL(list.count, 3 * 3 + 2);
    CHECK_EQUAL(arg_int(&list.events[3], "step_num"), 2);
    CHECK_TEXT(list.events[5].value.as.string, "size 8");
    CHECK_EQUAL(arg_int(&list.events[6], "step_num"), 5);
    CHECK_TEXT(list.events[9].value.as.string, "inline text");
    CHECK_TEXT(list.events[10].value.as.string, "lambda 3");
    trace_free(&list);
    prof_trace_close(trace);
}
#endif

/* Steps and throughputs with names made at run time: one call site, as many names as there are. */
TEST(names_made_at_run_time)
{
    prof_config config = trace_config(1u << 20);
    config.min_duration_ns = 1000000000; /* neither is taken back, however short */
    trace_start(&config);
    for (int i = 0; i < 6; ++i) {
        char name[32];
        snprintf(name, sizeof name, i % 2 ? "epoch %d" : "warm-up %d", i / 4);
        PROFILE_STEP_DYNAMIC(name, i - 1);
        snprintf(name, sizeof name, "to device %d", i % 3);
        PROFILE_THROUGHPUT_DYNAMIC(name, 1000 * i);
        snprintf(name, sizeof name, "overwritten");
    }
    prof_trace *trace = trace_stop();
    trace_list list = trace_read(trace, 0);
    CHECK_EQUAL(list.count, 12);
    CHECK_EQUAL(trace_count(&list, "warm-up 0"), 2);
    CHECK_EQUAL(trace_count(&list, "epoch 0"), 2);
    CHECK_EQUAL(trace_count(&list, "to device 2"), 2);
    for (size_t i = 0; i < list.count; ++i) {
        const prof_event *event = &list.events[i];
        int step = event->depth == 0;
        const prof_value *number = trace_arg(event, step ? "step_num" : "bytes");
        CHECK_EQUAL(event->site->role, step ? PROF_ROLE_STEP : PROF_ROLE_THROUGHPUT);
        CHECK_EQUAL(event->arg_count, 1);
        CHECK(number && number->type == (step ? PROF_VALUE_INT : PROF_VALUE_UINT));
        if (number && step) CHECK_EQUAL(number->as.i, (int)(i / 2) - 1);
        if (number && !step) CHECK_EQUAL(number->as.u, i / 2 * 1000);
    }
    trace_free(&list);
    prof_stat *stats = NULL;
    size_t count = 0;
    CHECK_EQUAL(prof_stats(trace, PROF_SORT_NAME, 0, &stats, &count), PROF_OK);
    uint64_t bytes = 0;
    CHECK_EQUAL(count, 7);
    for (size_t i = 0; i < count; ++i) bytes += stats[i].bytes;
    CHECK_EQUAL(bytes, 15000);
    prof_stats_free(stats);
    prof_trace_close(trace);
}

TEST_MAIN
