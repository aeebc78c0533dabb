/* test.h - the whole test harness.

     TEST(name) { CHECK(a == b); ... }      a test; CHECK reports and goes on
     TEST_MAIN                              once, at the end of the file

   WAIT_UNTIL(condition) waits for what another thread or process does. A test program runs all its tests, or those
   whose names are given on its command line. Its last line is "N passed, N failed, N skipped". SKIP("why") ends a test
   that cannot run here. What takes longer than a second says so.

   Programs run at the same time: what one writes is in the folder TRACE_FOLDER of its own (trace.h), and a port is one
   that the system gave it. One that can't run beside others says so: tests/marked.sh. */
#ifndef TEST_H
#define TEST_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

typedef struct test_case {
    const char *name;
    void (*run)(void);
    struct test_case *next;
} test_case;

#ifdef _WIN32 /* see tests/windows/posix.h */
extern jmp_buf test_left;
extern const char *test_lacking;
const char *test_cannot(const char *name);
#define TEST_RUN(each)                                                                 \
    do {                                                                               \
        test_skip = test_cannot((each)->name);                                         \
        if (test_skip) break;                                                          \
        if (setjmp(test_left)) test_skip = test_lacking;                               \
        else (each)->run();                                                            \
    } while (0)
#define TEST_BUFFERING _IONBF
#define TEST_ADD(one) (one.next = test_first, test_first = &one) /* constructors run from the last to the first */
#else
#define TEST_RUN(each) (each)->run()
#define TEST_BUFFERING _IOLBF
#define TEST_ADD(one) (*test_last = &one, test_last = &one.next)
#endif

static test_case *test_first;
#ifndef _WIN32
static test_case **test_last = &test_first;
#endif
static int test_failures;
static const char *test_skip;

#define TEST(id)                                                                       \
    static void test_##id(void);                                                       \
    static test_case case_##id = {#id, test_##id, NULL};                               \
    static void __attribute__((constructor)) add_##id(void)                            \
    {                                                                                  \
        TEST_ADD(case_##id);                                                           \
    }                                                                                  \
    static void test_##id(void)

#define CHECK(condition)                                                               \
    do {                                                                               \
        if (!(condition)) {                                                            \
            ++test_failures;                                                           \
            printf("%s:%d: CHECK(%s) failed\n", __FILE__, __LINE__, #condition);       \
        }                                                                              \
    } while (0)

/* Compares two numbers and shows both. */
#define CHECK_EQUAL(a, b)                                                              \
    do {                                                                               \
        long long test_a = (long long)(a), test_b = (long long)(b);                    \
        if (test_a != test_b) {                                                        \
            ++test_failures;                                                           \
            printf("%s:%d: %s is %lld, not %s = %lld\n", __FILE__, __LINE__, #a, test_a, #b, test_b); \
        }                                                                              \
    } while (0)

#define CHECK_TEXT(a, b)                                                               \
    do {                                                                               \
        const char *test_a = (a), *test_b = (b);                                       \
        if (strcmp(test_a, test_b)) {                                                  \
            ++test_failures;                                                           \
            printf("%s:%d: %s is \"%s\", not \"%s\"\n", __FILE__, __LINE__, #a, test_a, test_b); \
        }                                                                              \
    } while (0)

#define SKIP(why)                                                                      \
    do {                                                                               \
        test_skip = why;                                                               \
        return;                                                                        \
    } while (0)

static int test_exists(const char *name)
{
    test_case *each = test_first;
    while (each && strcmp(each->name, name)) each = each->next;
    return each != NULL;
}

static double test_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* For a test whose subject is time, or to give others a turn. To wait for something is WAIT_UNTIL. */
static inline void pause_ns(int64_t ns)
{
    struct timespec time;
    time.tv_sec = (time_t)(ns / 1000000000);
    time.tv_nsec = (long)(ns % 1000000000);
    nanosleep(&time, NULL);
}
static inline void pause_us(long us) { pause_ns((int64_t)us * 1000); }
static inline void pause_ms(long ms) { pause_ns((int64_t)ms * 1000000); }

/* Waits until another thread or process has made the condition true. A check fails where that takes two minutes. */
#define WAIT_UNTIL(condition)                                                          \
    do {                                                                               \
        double test_end = test_seconds() + 120;                                        \
        int test_is = 0;                                                               \
        while (!(test_is = (condition) != 0) && test_seconds() < test_end) pause_us(100); \
        if (!test_is) ++test_failures, printf("%s:%d: in vain: %s\n", __FILE__, __LINE__, #condition); \
    } while (0)

static int test_run(int argc, char **argv)
{
    int passed = 0, failed = 0, skipped = 0;
    setvbuf(stdout, NULL, TEST_BUFFERING, 0);
    for (int i = 1; i < argc; ++i)
        if (!test_exists(argv[i])) ++failed, printf("FAIL %s: there is no test of this name\n", argv[i]);
    for (test_case *each = test_first; each; each = each->next) {
        int wanted = argc < 2;
        for (int i = 1; i < argc; ++i) wanted |= !strcmp(argv[i], each->name);
        if (!wanted) continue;
        test_failures = 0;
        test_skip = NULL;
        double began = test_seconds();
        TEST_RUN(each);
        double took = test_seconds() - began;
        if (test_failures)
            ++failed, printf("FAIL %s\n", each->name);
        else if (test_skip)
            ++skipped, printf("SKIP %s: %s\n", each->name, test_skip);
        else if (++passed, took < 1)
            printf("ok   %s\n", each->name);
        else
            printf("ok   %s, %.1f s\n", each->name, took);
    }
    printf("%d passed, %d failed, %d skipped\n", passed, failed, skipped);
    return failed ? 1 : 0;
}

#define TEST_MAIN                                                                      \
    int main(int argc, char **argv) { return test_run(argc, argv); }
#endif
