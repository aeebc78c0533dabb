/* Annotations: steps, flows, masks and levels, arguments before and after, throughput, messages. */
#define PROF_IMPLEMENTATION
#include "../prof_chrome.h"
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
    PROFILE_FLOW_OUT((uint64_t)++evaluated);
    PROFILE_FLOW_IN_N("off", (uint64_t)++evaluated);
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
    { PROFILE_SCOPE_M("1", 1); }
    { PROFILE_SCOPE_M("6", 6); }
    { PROFILE_SCOPE_M("top", 0x80000000u); }
    { PROFILE_SCOPE_M("none", 0); }
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

TEST_MAIN
