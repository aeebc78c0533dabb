/* Numbers that are not finite, denormal or huge in every output, in a program whose floating-point exceptions trap:
   compiled and run by test_numbers.sh, also with -ffast-math. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#define PROF_IMPLEMENTATION
#include "../prof_chrome.h"
#include "../prof_html.h"
#include "../prof_report.h"
#include "../prof_xplane.h"
#include "test.h"
#include "trace.h"
#include "json.h"
#include <fenv.h>

#if defined(__GLIBC__) && (defined(__x86_64__) || defined(__i386__))
#define CAN_TRAP 1
#else
#define CAN_TRAP 0
#define feenableexcept(what) 0
#define fegetexcept() 0
#define fedisableexcept(what) 0
#endif

/* The values, by their bits, and what CSV calls them. */
static const struct {
    uint64_t bits;
    const char *text;
} values[] = {
    {0x7FF0000000000000u, "inf"},
    {0xFFF0000000000000u, "-inf"},
    {0x7FF8000000000000u, "nan"},
    {0xFFF8000000000001u, "nan"},
    {0x7FF0000000000001u, "nan"}, /* one that signals */
    {0x7FEFFFFFFFFFFFFFu, "1.7976931348623157e+308"},
    {0x0000000000000001u, "4.94065645841247e-324"},
    {0x000FFFFFFFFFFFFFu, "2.225073858507201e-308"},
    {0x8000000000000000u, "-0"},
    {0x3FB999999999999Au, "0.1"},
    {0x4340000000000001u, "9007199254740994"},
    {0xC3E0000000000000u, "-9.223372036854776e+18"},
};
enum { VALUES = sizeof values / sizeof *values };

static double number_of(uint64_t bits)
{
    volatile uint64_t kept = bits;
    uint64_t read = kept;
    double value;
    memcpy(&value, &read, sizeof value);
    return value;
}

static long double large; /* more than a double can be, where long double is longer */

static void record(void)
{
    for (int i = 0; i < VALUES; ++i) {
        PROFILE_SCOPE("scope");
        PROFILE_ARG_D("number", number_of(values[i].bits));
        PROFILE_COUNTER("all of them", number_of(values[i].bits));
        PROFILE_LOG(PROF_LOG_INFO, "log %f %g %Lg", number_of(values[i].bits), number_of(values[i].bits), large);
    }
    for (int i = 0; i < VALUES; ++i) PROFILE_COUNTER_ADD("sum", number_of(values[i].bits));
    PROFILE_COUNTER("unsigned", UINT64_MAX - 1);
    PROFILE_ARG_U("huge", UINT64_MAX - 1);
    PROFILE_COUNTER_SET("infinite", number_of(values[0].bits));
    PROFILE_COUNTER_ADD("infinite", number_of(values[1].bits));
}

static void writes(prof_status status) { CHECK_EQUAL(status, PROF_OK); }

/* Returns a file's text, which must be JSON; for free(). */
static char *json_of(const char *path)
{
    size_t size = 0;
    char *text = trace_file_text(path, &size);
    CHECK(text != NULL);
    fenv_t own;
    feholdexcept(&own); /* what follows is the test's, not prof's */
    json *root = text ? json_parse(text, size) : NULL;
    fesetenv(&own);
    CHECK(root != NULL);
    json_free(root);
    return text;
}

static void check_csv(const char *path)
{
    size_t size = 0, found = 0;
    char *text = trace_file_text(path, &size), wanted[80];
    CHECK(text != NULL);
    for (int i = 0; text && i < VALUES; ++i) {
        snprintf(wanted, sizeof wanted, "number=%s", values[i].text);
        if (strstr(text, wanted))
            ++found;
        else
            printf("%s: no %s\n", path, wanted);
    }
    CHECK_EQUAL(found, VALUES);
    CHECK(text && strstr(text, ",18446744073709551614"));
    free(text);
}

static void write_all(const prof_trace *trace)
{
    prof_stat *stats = NULL;
    size_t count = 0;
    const char *csv = trace_path("numbers.csv"), *chrome = trace_path("numbers.json");
    writes(prof_csv_write(trace, csv));
    check_csv(csv);
    writes(prof_chrome_write(trace, chrome, NULL));
    char *text = json_of(chrome);
    CHECK(text && strstr(text, "\"number\":\"nan\"") && strstr(text, "\"number\":\"-inf\""));
    CHECK(text && strstr(text, "{\"\":18446744073709551614}"));
    free(text);
    writes(prof_html_write(trace, trace_path("numbers.html"), NULL));
    writes(prof_xplane_write(trace, trace_path("numbers.xplane"), NULL));
    writes(prof_summary_write(trace, trace_path("numbers.txt"), NULL));
    writes(prof_stats(trace, PROF_SORT_TOTAL, 0, &stats, &count));
    prof_stats_free(stats);
    for (int i = 0; i < PROF_REPORT_LAYOUT_COUNT; ++i) {
        const char *path = trace_path("numbers.report");
        prof_report_options options;
        memset(&options, 0, sizeof options);
        options.layout = (prof_report_layout)i;
        writes(prof_report_write(trace, path, &options));
        if (i == PROF_REPORT_JSON) free(json_of(path));
    }
}

static void with_traps(int traps)
{
    prof_config config = trace_config(1u << 20);
    prof_trace *trace = NULL;
    large = (long double)number_of(0x7FEFFFFFFFFFFFFFu);
    large *= sizeof large > sizeof(double) ? 4 : 1;
    feclearexcept(FE_ALL_EXCEPT);
    int before = feenableexcept(traps);
    if (traps && !CAN_TRAP) SKIP("no traps of floating-point exceptions here");
    trace_start(&config);
    record();
    prof_status live = prof_trace_open_live(&trace); /* while it runs */
    if (live == PROF_OK) write_all(trace);
    prof_trace_close(trace);
    trace = trace_stop();
    int kept = fegetexcept(), raised = fetestexcept(FE_ALL_EXCEPT);
    write_all(trace);
    CHECK_EQUAL(live, PROF_OK);
    CHECK_EQUAL(kept, CAN_TRAP ? traps : 0); /* of the program, to which they belong */
    CHECK_EQUAL(fegetexcept(), kept);
    if (traps) CHECK_EQUAL(raised, 0);
    prof_trace_close(trace);
    fedisableexcept(FE_ALL_EXCEPT);
    feenableexcept(before);
}

TEST(without_traps) { with_traps(0); }
TEST(invalid_and_overflow_trap) { with_traps(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW); }
TEST(all_exceptions_trap) { with_traps(FE_ALL_EXCEPT); }

TEST_MAIN
