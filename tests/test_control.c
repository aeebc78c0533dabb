/* The control functions: sessions, levels, categories, configuration, outputs, and what a full buffer does. */
#include "private.h"
#include "test.h"
#include "trace.h"
#include <dirent.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/resource.h>
#include <time.h>
#include <sys/wait.h>
#include <unistd.h>

static prof_trace *trace;
static trace_list list;

static void stop_and_read(void)
{
    trace = trace_stop();
    list = trace_read(trace, 0);
}

static void done(void)
{
    trace_free(&list);
    prof_trace_close(trace);
}

static void start_small(void)
{
    prof_config config = trace_config(256u << 10);
    trace_start(&config);
}

static int error_has(const char *text)
{
    if (strstr(prof_error(), text)) return 1;
    printf("prof_error() is \"%s\" and has no \"%s\"\n", prof_error(), text);
    return 0;
}

#define FAILS(call, status_wanted, text)       \
    do {                                       \
        CHECK_EQUAL(call, status_wanted);      \
        CHECK(error_has(text));                \
    } while (0)

/*-- states --*/

TEST(nothing_was_started)
{
    prof_trace *none = (prof_trace *)&none;
    CHECK_EQUAL(prof_enabled(), 0);
    FAILS(prof_stop(), PROF_INVALID_STATE, "no session");
    FAILS(prof_pause(), PROF_INVALID_STATE, "no session");
    FAILS(prof_resume(), PROF_INVALID_STATE, "no session");
    FAILS(prof_set_level(3), PROF_INVALID_STATE, "no session");
    FAILS(prof_category_enable("a", 1), PROF_INVALID_STATE, "no session");
    FAILS(prof_trace_open_live(&none), PROF_INVALID_STATE, "prof_start()");
    CHECK(none == NULL);
    FAILS(prof_save(trace_path("none.prof")), PROF_INVALID_STATE, "prof_start()");
    FAILS(prof_save(trace_path("none.csv")), PROF_INVALID_STATE, "prof_start()");
    CHECK_EQUAL(trace_file_size(trace_path("none.prof")), -1);
    CHECK_EQUAL(trace_file_size(trace_path("none.csv")), -1);
    CHECK_EQUAL(prof_reset(), PROF_OK);
}

TEST(start_and_stop)
{
    CHECK_EQUAL(prof_start(NULL), PROF_OK);
    CHECK_EQUAL(prof_enabled(), 1);
    FAILS(prof_start(NULL), PROF_INVALID_STATE, "prof_stop()");
    FAILS(prof_reset(), PROF_INVALID_STATE, "prof_stop()");
    PROFILE_MARK("mark");
    CHECK_EQUAL(prof_stop(), PROF_OK);
    CHECK_EQUAL(prof_enabled(), 0);
    FAILS(prof_stop(), PROF_INVALID_STATE, "no session");
    trace = trace_live();
    CHECK_EQUAL(prof_trace_about(trace)->complete, 1);
    CHECK_EQUAL(prof_trace_about(trace)->event_count, 1);
    CHECK(prof_trace_about(trace)->buffer_size > 14u << 20 && prof_trace_about(trace)->buffer_size <= 16u << 20);
    CHECK_EQUAL(prof_trace_about(trace)->mode, PROF_RING);
    CHECK(prof_trace_about(trace)->pid == (uint64_t)getpid());
    prof_trace_close(trace);
    CHECK_EQUAL(prof_reset(), PROF_OK);
    FAILS(prof_trace_open_live(&trace), PROF_INVALID_STATE, "prof_start()");
}

TEST(status_texts)
{
    for (int i = 0; i < PROF_STATUS_COUNT; ++i) {
        CHECK(strlen(prof_status_text((prof_status)i)) > 1);
        for (int k = 0; k < i; ++k)
            CHECK(strcmp(prof_status_text((prof_status)i), prof_status_text((prof_status)k)) != 0);
    }
    CHECK_TEXT(prof_status_text((prof_status)99), "unknown status");
    CHECK_TEXT(prof_status_text((prof_status)-1), "unknown status");
}

static void *error_of_another_thread(void *unused)
{
    CHECK_TEXT(prof_error(), "");
    return unused;
}

TEST(errors_belong_to_a_thread)
{
    pthread_t thread;
    FAILS(prof_stop(), PROF_INVALID_STATE, "no session");
    pthread_create(&thread, NULL, error_of_another_thread, NULL);
    pthread_join(thread, NULL);
    start_small(); /* a success does not take the failure away */
    CHECK(error_has("no session"));
    CHECK_EQUAL(prof_stop(), PROF_OK);
}

static size_t memory_maps(void)
{
    size_t size, lines = 0;
    char *text = trace_file_text("/proc/self/maps", &size);
    for (size_t i = 0; text && i < size; ++i) lines += text[i] == '\n';
    free(text);
    return lines;
}

static volatile int helper_command, helper_done;
static void *helper_thread(void *unused)
{
    int seen = 0;
    while (seen >= 0) {
        int command = __atomic_load_n(&helper_command, __ATOMIC_ACQUIRE);
        if (command != seen) {
            PROFILE_MARK("helper");
            seen = command;
            __atomic_store_n(&helper_done, seen, __ATOMIC_RELEASE);
        }
        pause_ms(0);
    }
    return unused;
}

/* Has the other thread record one event. */
static void helper_record(int command)
{
    __atomic_store_n(&helper_command, command, __ATOMIC_RELEASE);
    WAIT_UNTIL(__atomic_load_n(&helper_done, __ATOMIC_ACQUIRE) == command);
}

TEST(a_thousand_restarts)
{
    pthread_t thread;
    int times = (int)trace_times(100, 1000, 10000);
    size_t maps = 0;
    long resident = 0;
    pthread_create(&thread, NULL, helper_thread, NULL);
    for (int i = 1; i <= times; ++i) {
        prof_config config = trace_config(1u << 20);
        CHECK_EQUAL(prof_start(&config), PROF_OK);
        PROFILE_MARK("one");
        if (i < 10 || i % 10 == 0) helper_record(i);
        CHECK_EQUAL(prof_stop(), PROF_OK);
        if (i == 50) {
            maps = memory_maps();
            resident = trace_resident();
        }
        if (test_failures) break;
    }
    CHECK(memory_maps() <= maps + (TRACE_SANITIZER ? 100 : 3)); /* sanitizers have maps of their own */
    if (!TRACE_SANITIZER && times >= 1000) CHECK(trace_resident() < resident + (4 << 20));
    trace = trace_live();
    CHECK_EQUAL(prof_trace_about(trace)->event_count, 2);
    CHECK_EQUAL(prof_trace_track_count(trace), 2);
    CHECK_EQUAL(prof_trace_about(trace)->lost, 0);
    prof_trace_close(trace);
    helper_record(-1);
    pthread_join(thread, NULL);
    CHECK_EQUAL(prof_reset(), PROF_OK);
}

/* Each start measures what an event costs, as an event of the thread that starts. */
static int turns_of;
static void *starts_in_turn(void *which)
{
    for (int i = 0; i < 12; ++i) {
        WAIT_UNTIL(__atomic_load_n(&turns_of, __ATOMIC_ACQUIRE) == 2 * i + (int)(intptr_t)which);
        prof_config config = trace_config(128u << 10);
        CHECK_EQUAL(prof_start(&config), PROF_OK);
        CHECK_EQUAL(prof_stop(), PROF_OK);
        __atomic_fetch_add(&turns_of, 1, __ATOMIC_RELEASE);
    }
    return NULL;
}

static int retired_sessions(void)
{
    int count = 0;
    for (const prof__session *s = prof__state.retired; s; s = s->next) ++count;
    return count;
}

TEST(threads_that_start_in_turn_leave_nothing)
{
    pthread_t threads[2];
    turns_of = 0;
    for (int i = 0; i < 2; ++i) pthread_create(&threads[i], NULL, starts_in_turn, (void *)(intptr_t)i);
    for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
    CHECK_EQUAL(prof_reset(), PROF_OK);
    CHECK_EQUAL(retired_sessions(), 0);
}

/* A program may have taken all keys of thread-local storage, and keeps what it has there. */
static int with_all_keys_taken(void)
{
    pthread_key_t first, key;
    prof_config config = trace_config(128u << 10);
    pthread_key_create(&first, NULL);
    pthread_setspecific(first, &config);
    while (!pthread_key_create(&key, NULL)) pthread_setspecific(key, &config);
    CHECK_EQUAL(prof_start(&config), PROF_OK);
    PROFILE_MARK("mark");
    CHECK_EQUAL(prof_stop(), PROF_OK);
    CHECK(pthread_getspecific(first) == &config);
    return test_failures;
}

static int in_a_child(int (*run)(void)) /* how it ended, as by waitpid() */
{
    int status = -1;
    fflush(stdout);
    pid_t child = fork();
    if (!child) _exit(run() != 0);
    waitpid(child, &status, 0);
    return status;
}

TEST(all_keys_are_taken) { CHECK_EQUAL(in_a_child(with_all_keys_taken), 0); }

static pthread_barrier_t race_barrier;
static int race_started, race_stopped;
static void *racer(void *rounds)
{
    for (int i = 0; i < *(int *)rounds; ++i) {
        prof_config config = trace_config(128u << 10);
        pthread_barrier_wait(&race_barrier);
        prof_status status = prof_start(&config);
        if (status == PROF_OK)
            __atomic_fetch_add(&race_started, 1, __ATOMIC_RELAXED);
        else
            CHECK_EQUAL(status, PROF_INVALID_STATE);
        PROFILE_MARK("racing");
        pthread_barrier_wait(&race_barrier);
        status = prof_stop();
        if (status == PROF_OK)
            __atomic_fetch_add(&race_stopped, 1, __ATOMIC_RELAXED);
        else
            CHECK_EQUAL(status, PROF_INVALID_STATE);
    }
    return NULL;
}

TEST(of_two_that_race_one_starts)
{
    pthread_t threads[2];
    int rounds = (int)trace_times(100, 1000, 10000);
    race_started = race_stopped = 0;
    pthread_barrier_init(&race_barrier, NULL, 2);
    for (int i = 0; i < 2; ++i) pthread_create(&threads[i], NULL, racer, &rounds);
    for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&race_barrier);
    CHECK_EQUAL(race_started, rounds);
    CHECK_EQUAL(race_stopped, rounds);
    prof_trace_close(trace_live());
}

static int free_for_all_over;
static void *controls_at_will(void *seed)
{
    unsigned random = *(unsigned *)seed;
    while (!__atomic_load_n(&free_for_all_over, __ATOMIC_ACQUIRE)) {
        prof_config config = trace_config(128u << 10);
        prof_trace *snapshot;
        random = random * 1103515245u + 12345u;
        switch (random >> 16 & 7) {
        case 0:
        case 1: prof_start(&config); break;
        case 2: prof_stop(); break;
        case 3: prof_reset(); break;
        case 4: prof_pause(); break;
        case 5: prof_resume(); break;
        case 6: prof_set_level((int)(random >> 20 & 3)); break;
        default: {
            prof_status status = prof_trace_open_live(&snapshot);
            CHECK(status == PROF_OK || status == PROF_INVALID_STATE);
            if (status == PROF_OK)
                trace_check(snapshot);
            else if (status != PROF_INVALID_STATE)
                printf("prof_trace_open_live: %s\n", prof_error());
            prof_trace_close(snapshot);
        }
        }
    }
    return NULL;
}
static void *records_at_will(void *unused)
{
    while (!__atomic_load_n(&free_for_all_over, __ATOMIC_ACQUIRE)) {
        PROFILE_SCOPE("outer");
        PROFILE_BEGIN("begin");
        PROFILE_ARG_I("i", 1);
        PROFILE_BLOCK("inner") PROFILE_COUNTER("counter", -1);
        PROFILE_END("begin");
        PROFILE_THREAD("recorder");
        PROFILE_STAGE("stage");
        PROFILE_MARK_F("mark %d", 1);
        PROFILE_NEXT("next");
    }
    return unused;
}

/* Nobody has to agree with anybody about anything. */
TEST(control_free_for_all)
{
    pthread_t threads[4];
    unsigned seeds[2] = {1, 2};
    free_for_all_over = 0;
    pthread_create(&threads[0], NULL, controls_at_will, &seeds[0]);
    pthread_create(&threads[1], NULL, controls_at_will, &seeds[1]);
    pthread_create(&threads[2], NULL, records_at_will, NULL);
    pthread_create(&threads[3], NULL, records_at_will, NULL);
    pause_ms(trace_times(200, 1000, 20000));
    __atomic_store_n(&free_for_all_over, 1, __ATOMIC_RELEASE);
    for (int i = 0; i < 4; ++i) pthread_join(threads[i], NULL);
    prof_stop();
    CHECK_EQUAL(prof_reset(), PROF_OK);
}

TEST(pause_nests)
{
    start_small();
    PROFILE_MARK("0");
    CHECK_EQUAL(prof_pause(), PROF_OK);
    CHECK_EQUAL(prof_enabled(), 0);
    CHECK_EQUAL(prof_pause(), PROF_OK);
    PROFILE_MARK("2");
    CHECK_EQUAL(prof_resume(), PROF_OK);
    CHECK_EQUAL(prof_enabled(), 0);
    PROFILE_MARK("1");
    CHECK_EQUAL(prof_resume(), PROF_OK);
    CHECK_EQUAL(prof_enabled(), 1);
    PROFILE_MARK("again 0");
    FAILS(prof_resume(), PROF_INVALID_STATE, "more often");
    CHECK_EQUAL(prof_pause(), PROF_OK);
    CHECK_EQUAL(prof_stop(), PROF_OK);
    start_small(); /* a pause does not outlive its session */
    CHECK_EQUAL(prof_enabled(), 1);
    CHECK_EQUAL(prof_stop(), PROF_OK);
    start_small();
    PROFILE_MARK("0");
    CHECK_EQUAL(prof_pause(), PROF_OK);
    PROFILE_MARK("1");
    CHECK_EQUAL(prof_resume(), PROF_OK);
    PROFILE_MARK("again 0");
    stop_and_read();
    CHECK_EQUAL(list.count, 2);
    CHECK_TEXT(list.events[0].name, "0");
    CHECK_TEXT(list.events[1].name, "again 0");
    done();
}

/*-- levels and categories --*/

static int recorded_levels(void) /* as bits: 1 for level 1, 2 for 2, 4 for 3, 8 for 255 */
{
    int bits = 0;
    PROFILE_MARK("from here");
    PROFILE_MARK_L("1", 1);
    { PROFILE_SCOPE_L("2", 2); }
    PROFILE_COUNTER_L("4", 1, 3);
    PROFILE_MARK_L("8", 255);
    trace = trace_live();
    list = trace_read(trace, 0);
    for (size_t i = list.count; i-- && strcmp(list.events[i].name, "from here");) bits |= atoi(list.events[i].name);
    done();
    return bits;
}

TEST(levels)
{
    prof_config config = trace_config(256u << 10);
    trace_start(&config);
    CHECK_EQUAL(recorded_levels(), 3); /* 2 is the default */
    CHECK_EQUAL(prof_set_level(1), PROF_OK);
    CHECK_EQUAL(recorded_levels(), 1);
    CHECK_EQUAL(prof_set_level(255), PROF_OK);
    CHECK_EQUAL(recorded_levels(), 15);
    CHECK_EQUAL(prof_set_level(3), PROF_OK);
    CHECK_EQUAL(recorded_levels(), 7);
    FAILS(prof_set_level(-1), PROF_INVALID_ARGUMENT, "-1");
    FAILS(prof_set_level(256), PROF_INVALID_ARGUMENT, "256");
    CHECK_EQUAL(recorded_levels(), 7);
    CHECK_EQUAL(prof_set_level(0), PROF_OK);
    PROFILE_MARK("off");
    CHECK_EQUAL(prof_enabled(), 1);
    stop_and_read();
    CHECK_EQUAL(trace_count(&list, "off"), 0);
    done();
    config.level = 255;
    trace_start(&config);
    CHECK_EQUAL(recorded_levels(), 15);
    CHECK_EQUAL(prof_stop(), PROF_OK);
    config.level = 1;
    trace_start(&config);
    CHECK_EQUAL(recorded_levels(), 1);
    CHECK_EQUAL(prof_stop(), PROF_OK);
    config.level = 256;
    FAILS(prof_start(&config), PROF_INVALID_ARGUMENT, "level");
    config.level = -2;
    FAILS(prof_start(&config), PROF_INVALID_ARGUMENT, "level");
    config.level = PROF_LEVEL_NONE;
    trace_start(&config);
    CHECK_EQUAL(recorded_levels(), 0);
    CHECK_EQUAL(prof_stop(), PROF_OK);
}

#undef PROF_SITE_LEVEL
#define PROF_SITE_LEVEL 9
TEST(default_level_of_a_passage)
{
    prof_config config = {0};
    config.level = 8;
    trace_start(&config);
    PROFILE_BLOCK_L("around", 1)
    {
        PROFILE_SCOPE("detail");
        PROFILE_ARG_I("of detail", 1); /* off with its scope, and so not around's */
        PROFILE_MARK("detail mark");
    }
    CHECK_EQUAL(prof_set_level(9), PROF_OK);
    PROFILE_BLOCK_L("around", 1)
    {
        PROFILE_SCOPE("detail");
        PROFILE_ARG_I("of detail", 2);
        PROFILE_MARK("detail mark");
    }
    stop_and_read();
    CHECK_EQUAL(trace_count(&list, "around"), 2);
    CHECK_EQUAL(trace_count(&list, "detail"), 1);
    CHECK_EQUAL(trace_count(&list, "detail mark"), 1);
    for (size_t i = 0; i < list.count; ++i)
        CHECK_EQUAL(list.events[i].arg_count, strcmp(list.events[i].name, "detail") ? 0u : 1u);
    done();
}
#undef PROF_SITE_LEVEL
#define PROF_SITE_LEVEL 1

/* Which of these are on: a text of their first letters, "-" for none. */
static const char *recorded_categories(void)
{
    static char letters[16];
    size_t n = 0, before;
    trace = trace_live();
    before = (size_t)prof_trace_about(trace)->event_count;
    prof_trace_close(trace);
    PROFILE_MARK_C("n", "net");
    PROFILE_MARK_C("r", "render");
    { PROFILE_SCOPE_C("R", "render/gpu"); }
    PROFILE_COUNTER_C("a", 1, "audio");
    PROFILE_MARK("u"); /* uncategorised */
    trace = trace_live();
    list = trace_read(trace, 0);
    for (size_t i = before; i < list.count && n < sizeof letters - 1; ++i) letters[n++] = list.events[i].name[0];
    letters[n] = 0;
    done();
    return n ? letters : "-";
}

static const char *with_categories(const char *categories)
{
    prof_config config = trace_config(256u << 10);
    config.categories = categories;
    trace_start(&config);
    const char *letters = recorded_categories();
    CHECK_EQUAL(prof_stop(), PROF_OK);
    return letters;
}

TEST(categories_of_the_configuration)
{
    CHECK_TEXT(with_categories(NULL), "nrRau");
    CHECK_TEXT(with_categories(""), "nrRau");
    CHECK_TEXT(with_categories("net"), "n");
    CHECK_TEXT(with_categories("-net"), "rRau");
    CHECK_TEXT(with_categories("net,render*"), "nrR");
    CHECK_TEXT(with_categories("net,render*,-audio"), "nrR");
    CHECK_TEXT(with_categories("-audio,-net"), "rRu");
    CHECK_TEXT(with_categories("render*,-render/*"), "r");
    CHECK_TEXT(with_categories("-render*,render/gpu"), "nRau");
    CHECK_TEXT(with_categories("n?t"), "n");
    CHECK_TEXT(with_categories("n?"), "-");
    CHECK_TEXT(with_categories("*e*"), "nrR");
    CHECK_TEXT(with_categories("*/*"), "R");
    CHECK_TEXT(with_categories("r*r*gpu"), "R");
    CHECK_TEXT(with_categories("-*,net"), "n");
    CHECK_TEXT(with_categories("*"), "nrRau");
    CHECK_TEXT(with_categories("-*"), "-");
    CHECK_TEXT(with_categories("net,*"), "nrRau");
    CHECK_TEXT(with_categories("net,-*,audio"), "a");
    CHECK_TEXT(with_categories("net,-net"), "-"); /* only what is named would be on */
    CHECK_TEXT(with_categories("nothing like it"), "-");
}

/* "-memory" is what profile_memory=False says, and turns off all allocations but those whose category a rule names. */
TEST(memory_is_a_category)
{
    static const struct {
        const char *categories;
        int plain, pool;
    } cases[] = {{"", 1, 1}, {"-memory", 0, 0}, {"-mem*", 0, 0}, {"memory", 1, 1}, {"net", 0, 0}, {"-audio", 1, 1},
                 {"-memory,pool", 0, 1}, {"pool", 0, 1}, {"-pool", 1, 0}, {"-memory,memory", 1, 1}};
    static char block[8];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        prof_config config;
        memset(&config, 0, sizeof config);
        config.categories = cases[i].categories;
        CHECK_EQUAL(prof_start(&config), PROF_OK);
        PROFILE_ALLOC(block, 8);
        PROFILE_FREE(block);
        PROFILE_ALLOC_POOL(block, 8, "pool");
        { PROFILE_SCOPE("not of memory"); }
        prof_trace *read = trace_stop();
        prof_memory_stats *stats = NULL;
        CHECK_EQUAL(prof_memory(read, &stats), PROF_OK);
        if (stats) CHECK_EQUAL(stats->count, cases[i].plain + cases[i].pool);
        if (stats) CHECK_EQUAL(stats->frees, cases[i].plain);
        prof_memory_free(stats);
        prof_trace_close(read);
    }
}

TEST(categories_at_run_time)
{
    prof_config config = trace_config(256u << 10);
    trace_start(&config);
    CHECK_TEXT(recorded_categories(), "nrRau");
    CHECK_EQUAL(prof_category_enable("render*", 0), PROF_OK);
    CHECK_TEXT(recorded_categories(), "nau");
    CHECK_EQUAL(prof_category_enable("render/gpu", 1), PROF_OK);
    CHECK_TEXT(recorded_categories(), "nRau");
    CHECK_EQUAL(prof_category_enable("*", 1), PROF_OK);
    CHECK_TEXT(recorded_categories(), "nrRau");
    CHECK_EQUAL(prof_category_enable("*", 0), PROF_OK);
    CHECK_EQUAL(prof_category_enable("audio", 1), PROF_OK);
    CHECK_TEXT(recorded_categories(), "a");
    FAILS(prof_category_enable(NULL, 1), PROF_INVALID_ARGUMENT, "null");
    FAILS(prof_category_enable("", 1), PROF_INVALID_ARGUMENT, "1 to 47");
    FAILS(prof_category_enable("123456789012345678901234567890123456789012345678", 1), PROF_INVALID_ARGUMENT, "47");
    CHECK_EQUAL(prof_category_enable("12345678901234567890123456789012345678901234567", 1), PROF_OK);
    for (int i = 2; i < 64; ++i) {
        char name[16];
        snprintf(name, sizeof name, "%d", i);
        CHECK_EQUAL(prof_category_enable(name, 1), PROF_OK);
    }
    FAILS(prof_category_enable("64 are there", 1), PROF_NO_MEMORY, "64");
    CHECK_EQUAL(prof_category_enable("2", 0), PROF_OK); /* the same pattern again takes no more room */
    CHECK_TEXT(recorded_categories(), "a");
    CHECK_EQUAL(prof_stop(), PROF_OK);
    trace_start(&config); /* rules do not outlive their session */
    CHECK_TEXT(recorded_categories(), "nrRau");
    CHECK_EQUAL(prof_stop(), PROF_OK);
    config.categories = "net,123456789012345678901234567890123456789012345678";
    FAILS(prof_start(&config), PROF_INVALID_ARGUMENT, "category");
    CHECK_EQUAL(prof_enabled(), 0);
    config.categories = "net,,audio";
    FAILS(prof_start(&config), PROF_INVALID_ARGUMENT, "category");
}

/*-- configuration from text --*/

static prof_status set(prof_config *config, const char *key, const char *value)
{
    memset(config, 0, sizeof *config);
    return prof_config_set(config, key, value);
}

#define SETS(key, value, field, wanted)                             \
    do {                                                            \
        CHECK_EQUAL(set(&config, key, value), PROF_OK);             \
        CHECK_EQUAL(config.field, wanted);                          \
    } while (0)

TEST(configuration_values)
{
    prof_config config;
    const char *text = "some text";
    CHECK_EQUAL(set(&config, "output", text), PROF_OK);
    CHECK(config.output == text);
    CHECK_EQUAL(set(&config, "categories", text), PROF_OK);
    CHECK(config.categories == text);
    SETS("buffer", "1048576", buffer_size, 1048576);
    SETS("buffer", "128K", buffer_size, 128 << 10);
    SETS("buffer", "128KiB", buffer_size, 128 << 10);
    SETS("buffer", "64M", buffer_size, 64 << 20);
    SETS("buffer", "1.5M", buffer_size, 3 << 19);
    SETS("buffer", "2GiB", buffer_size, 2ll << 30);
    SETS("buffer", "64G", buffer_size, 64ll << 30);
    SETS("mode", "ring", mode, PROF_RING);
    SETS("mode", "fill", mode, PROF_FILL);
    SETS("clock", "auto", clock, PROF_CLOCK_AUTO);
    SETS("clock", "counter", clock, PROF_CLOCK_COUNTER);
    SETS("clock", "ordered", clock, PROF_CLOCK_ORDERED);
    SETS("clock", "monotonic", clock, PROF_CLOCK_MONOTONIC);
    SETS("level", "0", level, -1); /* none: 0 is the default, which text does not need */
    SETS("level", "1", level, 1);
    SETS("level", "255", level, 255);
    SETS("min_duration", "0", min_duration_ns, 0);
    SETS("min_duration", "17", min_duration_ns, 17);
    SETS("min_duration", "500ns", min_duration_ns, 500);
    SETS("min_duration", "2us", min_duration_ns, 2000);
    SETS("min_duration", "1.5ms", min_duration_ns, 1500000);
    SETS("min_duration", "3s", min_duration_ns, 3000000000ll);
    SETS("min_duration", "0.0000005s", min_duration_ns, 500);
    SETS("min_duration", "1.50000000000us", min_duration_ns, 1500);
}

#define REFUSES(key, value, text)                                          \
    do {                                                                   \
        FAILS(set(&config, key, value), PROF_INVALID_ARGUMENT, text);      \
        CHECK(!memcmp(&config, &zero, sizeof zero));                       \
    } while (0)

TEST(configuration_errors)
{
    prof_config config, zero;
    memset(&zero, 0, sizeof zero);
    REFUSES("bufer", "1M", "unknown key 'bufer': did you mean 'buffer'?");
    REFUSES("ouput", "x", "'output'");
    REFUSES("minduration", "1", "'min_duration'");
    REFUSES("Clock", "auto", "'clock'");
    REFUSES("category", "x", "'categories'");
    REFUSES("", "1", "unknown key ''");
    REFUSES("a key that is very much longer than any key there is and so is like none of them", "1", "unknown key");
    REFUSES("buffer", "", "64M");
    REFUSES("buffer", "much", "'much'");
    REFUSES("buffer", "1T", "'1T'");
    REFUSES("buffer", "-1", "'-1'");
    REFUSES("buffer", " 1M", "' 1M'");
    REFUSES("buffer", "1M ", "'1M '");
    REFUSES("buffer", "1000", "'1000'");
    REFUSES("buffer", "65G", "'65G'");
    REFUSES("buffer", "99999999999999999999999999", "9999");
    REFUSES("buffer", "0x100000", "0x100000");
    REFUSES("mode", "circle", "'circle': must be ring, fill, stream, stats or ring+stats");
    REFUSES("mode", "", "ring, fill, stream, stats or ring+stats");
    REFUSES("clock", "sundial", "monotonic");
    REFUSES("level", "-1", "0 to 255");
    REFUSES("level", "256", "0 to 255");
    REFUSES("level", "1.5", "0 to 255");
    REFUSES("level", "high", "'high'");
    REFUSES("min_duration", "soon", "'soon'");
    REFUSES("min_duration", "1 us", "'1 us'");
    REFUSES("min_duration", "-1us", "'-1us'");
    CHECK_EQUAL(prof_config_set(NULL, "level", "1"), PROF_INVALID_ARGUMENT);
    REFUSES(NULL, "1", "null");
    REFUSES("level", NULL, "null");
}

TEST(configuration_that_start_refuses)
{
    prof_config config = trace_config(1000);
    FAILS(prof_start(&config), PROF_INVALID_ARGUMENT, "buffer");
    config.buffer_size = (size_t)65 << 30;
    FAILS(prof_start(&config), PROF_INVALID_ARGUMENT, "buffer");
    config = trace_config(1u << 20);
    config.mode = (prof_mode)7;
    FAILS(prof_start(&config), PROF_INVALID_ARGUMENT, "mode");
    config = trace_config(1u << 20);
    config.clock = (prof_clock)9;
    FAILS(prof_start(&config), PROF_INVALID_ARGUMENT, "clock");
    CHECK_EQUAL(prof_enabled(), 0);
}

/* The limits in the manual are those of prof_start and of prof_config_set. */
TEST(smallest_buffer)
{
    prof_config config = trace_config(128u << 10);
    CHECK_EQUAL(prof_start(&config), PROF_OK);
    PROFILE_MARK("mark");
    stop_and_read();
    CHECK_EQUAL(list.count, 1);
    done();
    config.buffer_size = (128u << 10) - 1;
    FAILS(prof_start(&config), PROF_INVALID_ARGUMENT, "buffer");
    CHECK_EQUAL(prof_config_set(&config, "buffer", "128K"), PROF_OK);
    FAILS(prof_config_set(&config, "buffer", "131071"), PROF_INVALID_ARGUMENT, "buffer");
    if (prof_enabled()) CHECK_EQUAL(prof_stop(), PROF_OK);
}

/*-- outputs --*/

static prof_status start_with_output(const char *output)
{
    prof_config config = trace_config(256u << 10);
    config.output = output;
    return prof_start(&config);
}

/* The session that was there before stays readable, as nothing was started. */
#define OUTPUT_FAILS(output, status, text)                         \
    do {                                                           \
        FAILS(start_with_output(output), status, text);            \
        CHECK_EQUAL(prof_enabled(), 0);                            \
        CHECK_EQUAL(prof_trace_open_live(&trace), PROF_OK);        \
        prof_trace_close(trace);                                   \
    } while (0)

/* 1: below the folder for output there is such a file, with something in it. */
static int made(const char *name)
{
    return trace_file_size(trace_path(name)) > 0;
}

TEST(folders_of_outputs_are_made)
{
    static const char *const names[] = {"made/a/b/trace.csv", "made/c/d.e/trace.prof", "made/f/trace.json",
                                        "made/g//h/trace.txt"};
    char path[400];
    if (system("rm -rf " TRACE_FOLDER "/made")) exit(1);
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
        CHECK_EQUAL(start_with_output(trace_path(names[i])), PROF_OK);
        PROFILE_MARK("made");
        CHECK_EQUAL(prof_stop(), PROF_OK);
        CHECK(made(names[i]));
        snprintf(path, sizeof path, "%s/saved/%s", TRACE_FOLDER "/made", names[i]);
        CHECK_EQUAL(prof_save(path), PROF_OK);
        CHECK(trace_file_size(path) > 0);
    }
    FAILS(start_with_output(trace_path("made/f/trace.json/x.csv")), PROF_IO, "Not a directory");
    FAILS(prof_save(trace_path("made/f/trace.json/x.csv")), PROF_IO, "Not a directory");
}

TEST(folders_of_children_are_made)
{
    char path[400];
    if (system("rm -rf " TRACE_FOLDER "/made")) exit(1);
    CHECK_EQUAL(start_with_output(trace_path("made/%p/trace.prof")), PROF_OK);
    fflush(stdout);
    pid_t child = fork();
    if (!child) {
        PROFILE_MARK("child");
        _exit(prof_enabled() ? 0 : 1);
    }
    int status = 1;
    waitpid(child, &status, 0);
    CHECK_EQUAL(status, 0);
    CHECK_EQUAL(prof_stop(), PROF_OK);
    snprintf(path, sizeof path, "%s/made/%ld/trace.prof", TRACE_FOLDER, (long)child);
    CHECK(trace_file_size(path) > 0);
}

TEST(outputs_that_cannot_be)
{
    char path[2048];
    start_small();
    CHECK_EQUAL(prof_stop(), PROF_OK);
    OUTPUT_FAILS("trace.xyz", PROF_INVALID_ARGUMENT, ".xyz");
    CHECK(error_has(".prof .csv .txt"));
    OUTPUT_FAILS("trace", PROF_INVALID_ARGUMENT, "trace");
    OUTPUT_FAILS("folder.csv/trace", PROF_INVALID_ARGUMENT, "has no extension");
    OUTPUT_FAILS("trace.", PROF_INVALID_ARGUMENT, "'.'");
    OUTPUT_FAILS("trace.%x.csv", PROF_INVALID_ARGUMENT, "%x");
    OUTPUT_FAILS("trace%", PROF_INVALID_ARGUMENT, "unknown %: use %p");
    OUTPUT_FAILS("trace.csv%", PROF_INVALID_ARGUMENT, "%");
    OUTPUT_FAILS("/dev/null/folder/trace.csv", PROF_IO, "/dev/null");
    OUTPUT_FAILS("/dev/null/folder/trace.prof", PROF_IO, "/dev/null");
    OUTPUT_FAILS("/dev/null/trace.csv", PROF_IO, "/dev/null");
    mkdir(trace_path("folder.csv"), 0777);
    mkdir(trace_path("folder.prof"), 0777);
    OUTPUT_FAILS(trace_path("folder.csv"), PROF_IO, "directory");
    OUTPUT_FAILS(trace_path("folder.prof"), PROF_IO, "");
    CHECK_EQUAL(rmdir(trace_path("folder.csv")), 0);
    CHECK_EQUAL(rmdir(trace_path("folder.prof")), 0);
    memset(path, 'x', sizeof path);
    strcpy(path + sizeof path - 5, ".csv");
    OUTPUT_FAILS(path, PROF_INVALID_ARGUMENT, "too long");
    if (geteuid()) { /* root may write anywhere */
        mkdir(trace_path("locked"), 0555);
        OUTPUT_FAILS(trace_path("locked/trace.csv"), PROF_IO, "locked");
        OUTPUT_FAILS(trace_path("locked/trace.prof"), PROF_IO, "locked");
        rmdir(trace_path("locked"));
    }
    FAILS(prof_save("trace.xyz"), PROF_INVALID_ARGUMENT, ".xyz");
    FAILS(prof_save(NULL), PROF_INVALID_ARGUMENT, "null");
    FAILS(prof_save("/dev/null/folder/trace.csv"), PROF_IO, "/dev/null");
    FAILS(prof_save("/dev/null/folder/trace.prof"), PROF_IO, "/dev/null");
    CHECK_EQUAL(prof_reset(), PROF_OK);
}

/* A start that fails for another reason leaves an older file alone. */
TEST(a_failed_start_keeps_the_older_file)
{
    prof_config config = trace_config(256u << 10);
    const char *path = trace_path("older.prof");
    trace_write_file(path, "older", 5);
    config.output = path;
    config.categories = "a,,b";
    FAILS(prof_start(&config), PROF_INVALID_ARGUMENT, "category");
    CHECK_EQUAL(trace_file_size(path), 5);
    unlink(path);
    FAILS(prof_start(&config), PROF_INVALID_ARGUMENT, "category");
    CHECK_EQUAL(trace_file_size(path), -1);
}

TEST(outputs_of_stop)
{
    static const char *const names[] = {"stop.csv", "stop.txt", "stop.json", "stop.prof"};
    for (size_t i = 0; i < 4; ++i) {
        const char *path = trace_path(names[i]);
        trace_write_file(path, "older", 5);
        CHECK_EQUAL(start_with_output(path), PROF_OK);
        if (i < 3) CHECK_EQUAL(trace_file_size(path), 5); /* replaced only when the new one is complete */
        PROFILE_BLOCK("find me") {}
        CHECK_EQUAL(prof_stop(), PROF_OK);
        size_t size = 0;
        char *text = trace_file_text(path, &size);
        CHECK(text && size > 20);
        if (i < 3) CHECK(text && strstr(text, "find me") != NULL);
        free(text);
        char part[300];
        snprintf(part, sizeof part, "%s.part", path);
        CHECK_EQUAL(trace_file_size(part), -1);
    }
    prof_trace *file = trace_open_file(trace_path("stop.prof"));
    if (file) {
        CHECK_EQUAL(prof_trace_about(file)->event_count, 1);
        CHECK_EQUAL(prof_trace_about(file)->complete, 1);
        prof_trace_close(file);
    }
}

TEST(a_full_disk)
{
    const char *path = trace_path("full.csv");
    if (access("/dev/full", W_OK)) SKIP("no /dev/full");
    for (int i = 0; i < 3; ++i) {
        static const char *const names[] = {"full.csv", "full.json", "full.txt"};
        path = trace_path(names[i]);
        unlink(path);
        CHECK_EQUAL(symlink("/dev/full", path), 0);
        CHECK_EQUAL(start_with_output(path), PROF_OK);
        for (int k = 0; k < 1000; ++k) PROFILE_MARK("mark");
        FAILS(prof_save(path), PROF_IO, path);
        FAILS(prof_stop(), PROF_IO, path);
        CHECK(error_has("No space left"));
        CHECK_EQUAL(prof_enabled(), 0);
        CHECK_EQUAL(prof_save(trace_path("saved_anyway.prof")), PROF_OK);
        CHECK_EQUAL(unlink(path), 0);
    }
    path = trace_path("full.prof");
    unlink(path);
    CHECK_EQUAL(symlink("/dev/full", path), 0);
    CHECK(start_with_output(path) == PROF_IO);
    FAILS(prof_save(path), PROF_IO, path);
    CHECK_EQUAL(unlink(path), 0);
    CHECK_EQUAL(access("/dev/full", W_OK), 0);
}

static int files_that_begin_with(const char *text)
{
    DIR *folder = opendir(TRACE_FOLDER);
    struct dirent *entry;
    int count = 0;
    while (folder && (entry = readdir(folder)) != NULL) count += !strncmp(entry->d_name, text, strlen(text));
    if (folder) closedir(folder);
    return count;
}

/* A limit on the size of files is an error, and does not end the program with SIGXFSZ; its own signal stays pending. */
static int with_a_limit(void)
{
    struct rlimit limit = {4096, 4096};
    sigset_t set;
    signal(SIGXFSZ, SIG_DFL);
    CHECK_EQUAL(start_with_output(trace_path("limited.csv")), PROF_OK);
    for (int k = 0; k < 1000; ++k) PROFILE_MARK("mark");
    CHECK(!setrlimit(RLIMIT_FSIZE, &limit));
    FAILS(prof_save(trace_path("limited.prof")), PROF_IO, "limited.prof");
    FAILS(prof_save(trace_path("limited.txt.csv")), PROF_IO, "File too large");
    sigemptyset(&set);
    sigaddset(&set, SIGXFSZ);
    sigprocmask(SIG_BLOCK, &set, NULL);
    raise(SIGXFSZ);
    FAILS(prof_stop(), PROF_IO, "File too large");
    CHECK(!sigpending(&set) && sigismember(&set, SIGXFSZ) == 1);
    return test_failures;
}

TEST(a_limit_on_the_size_of_files) { CHECK_EQUAL(in_a_child(with_a_limit), 0); }

/* As on a disk that is full after 4 KiB. */
static void disk_limit(int on)
{
    static struct rlimit before;
    struct rlimit limit;
    if (on) {
        signal(SIGXFSZ, SIG_IGN);
        getrlimit(RLIMIT_FSIZE, &before);
        limit = before;
        limit.rlim_cur = 4096;
        CHECK(!setrlimit(RLIMIT_FSIZE, &limit));
    } else {
        CHECK(!setrlimit(RLIMIT_FSIZE, &before));
    }
}

TEST(a_failed_write_keeps_the_older_file)
{
    static const char *const names[] = {"kept.csv", "kept.json", "kept.prof"};
    for (size_t i = 0; i < 3; ++i) {
        const char *path = trace_path(names[i]);
        trace_write_file(path, "older", 5);
        CHECK_EQUAL(i < 2 ? start_with_output(path) : prof_start(NULL), PROF_OK);
        for (int k = 0; k < 1000; ++k) PROFILE_MARK("mark");
        disk_limit(1);
        FAILS(prof_save(path), PROF_IO, names[i]);
        CHECK_EQUAL(prof_stop(), i < 2 ? PROF_IO : PROF_OK);
        if (i < 2) CHECK(error_has(names[i]));
        disk_limit(0);
        CHECK_EQUAL(trace_file_size(path), 5);
        CHECK_EQUAL(files_that_begin_with(names[i]), i < 2 ? 2 : 1); /* no half file, but what was recorded */
        if (i < 2) CHECK_EQUAL(unlink(trace_path(i ? "kept.json.prof" : "kept.csv.prof")), 0);
        CHECK_EQUAL(prof_save(path), PROF_OK);
        CHECK(trace_file_size(path) > 4096);
        CHECK_EQUAL(files_that_begin_with(names[i]), 1);
    }
    unlink(trace_path("limit.prof"));
    disk_limit(1);
    FAILS(start_with_output(trace_path("limit.prof")), PROF_IO, "limit.prof");
    disk_limit(0);
    CHECK_EQUAL(trace_file_size(trace_path("limit.prof")), -1);
}

static void *saves(void *path)
{
    for (int i = 0; i < 50; ++i) CHECK_EQUAL(prof_save((const char *)path), PROF_OK);
    return NULL;
}

TEST(two_threads_save_to_one_path)
{
    pthread_t threads[2];
    char path[256];
    snprintf(path, sizeof path, "%s", trace_path("twice.prof"));
    start_small();
    for (int i = 0; i < 1000; ++i) PROFILE_MARK("mark");
    for (int i = 0; i < 2; ++i) pthread_create(&threads[i], NULL, saves, path);
    for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
    CHECK_EQUAL(prof_stop(), PROF_OK);
    prof_trace *file = trace_open_file(path);
    if (file) CHECK_EQUAL(prof_trace_about(file)->event_count, 1000);
    prof_trace_close(file);
    CHECK_EQUAL(files_that_begin_with("twice.prof"), 1);
}

TEST(names_of_outputs)
{
    char wanted[256], program[64];
    time_t now = time(NULL);
    int found = 0;
    snprintf(wanted, sizeof wanted, TRACE_FOLDER "/%%p.%%n.%%%%.csv");
    trace_path("");
    CHECK_EQUAL(start_with_output(wanted), PROF_OK);
    trace = NULL;
    CHECK_EQUAL(prof_trace_open_live(&trace), PROF_OK);
    snprintf(program, sizeof program, "%s", prof_trace_about(trace)->program);
    prof_trace_close(trace);
    CHECK(strlen(program) > 0);
    CHECK_EQUAL(prof_stop(), PROF_OK);
    snprintf(wanted, sizeof wanted, TRACE_FOLDER "/%ld.%s.%%.csv", (long)getpid(), program);
    CHECK(trace_file_size(wanted) > 0);
    unlink(wanted);

    CHECK_EQUAL(start_with_output(TRACE_FOLDER "/time-%t.prof"), PROF_OK);
    CHECK_EQUAL(prof_stop(), PROF_OK);
    for (time_t at = now; at < now + 30; ++at) { /* the local time when it was started */
        struct tm local;
        char stamp[64];
        localtime_r(&at, &local);
        strftime(stamp, sizeof stamp, "%Y%m%d-%H%M%S", &local);
        snprintf(wanted, sizeof wanted, TRACE_FOLDER "/time-%s.prof", stamp);
        if (trace_file_size(wanted) <= 0) continue;
        ++found;
        unlink(wanted);
    }
    CHECK_EQUAL(found, 1);
}

/* Writes the names of all events, as a program's own writer would. It fails where its user says so. */
typedef struct own_format {
    int calls;
    prof_status fails;
    const char *why;  /* NULL: it does not say */
    size_t junk;      /* bytes that it writes besides */
} own_format;
static prof_status own_write(void *user, const prof_trace *about, prof_sink sink)
{
    own_format *own = (own_format *)user;
    prof_timeline *timeline;
    prof_event event;
    size_t track;
    ++own->calls;
    prof_status status = prof_timeline_open(about, &timeline);
    if (status) return status;
    while (prof_timeline_next(timeline, &event, &track)) {
        sink.write(sink.user, event.name, strlen(event.name));
        sink.write(sink.user, "\n", 1);
    }
    for (size_t i = 0; i < own->junk; ++i)
        if (sink.write(sink.user, "junk", 4)) break;
    status = prof_timeline_close(timeline);
    if (own->fails) return own->why ? prof_fail(own->fails, own->why) : own->fails;
    return status;
}

static void check_own_file(const char *name, const char *text)
{
    char *found = trace_file_text(trace_path(name), NULL);
    CHECK_TEXT(found ? found : "no file", text);
    free(found);
}

TEST(writers_of_ones_own)
{
    static own_format own;
    static prof_writer writer = {".own", own_write, &own, NULL, NULL};
    prof_writer_register(&writer);
    prof_writer_register(&writer); /* twice is once */
    CHECK_EQUAL(start_with_output(trace_path("x.own")), PROF_OK);
    PROFILE_MARK("mark");
    CHECK_EQUAL(prof_save(trace_path("y.own")), PROF_OK);
    CHECK_EQUAL(own.calls, 1);
    check_own_file("y.own", "mark\n");
    PROFILE_MARK("more");
    own.fails = PROF_UNSUPPORTED;
    own.why = "own: cannot say more";
    CHECK_EQUAL(prof_save(trace_path("y.own")), PROF_UNSUPPORTED);
    CHECK_TEXT(prof_error(), "own: cannot say more");
    own.why = NULL;
    FAILS(prof_save(trace_path("y.own")), PROF_UNSUPPORTED, "y.own: its writer failed: not supported");
    check_own_file("y.own", "mark\n"); /* the old one stays, and no part of a new one */
    CHECK_EQUAL(files_that_begin_with("y.own"), 1);
    own.fails = PROF_OK;
    FAILS(prof_save("x.unknown"), PROF_INVALID_ARGUMENT, ".own");
    CHECK_EQUAL(prof_stop(), PROF_OK);
    check_own_file("x.own", "mark\nmore\n");
    CHECK_EQUAL(own.calls, 4);
    prof_writer_unregister(&writer);
    FAILS(prof_save("x.own"), PROF_INVALID_ARGUMENT, "no writer for '.own'");
}

TEST(a_full_disk_is_no_writers_fault)
{
    static own_format own;
    static prof_writer writer = {".own", own_write, &own, NULL, NULL};
    if (access("/dev/full", W_OK)) SKIP("no /dev/full");
    start_small();
    PROFILE_MARK("mark");
    stop_and_read();
    prof_writer_register(&writer);
    FAILS(prof_trace_write(trace, "/dev/full", ".own"), PROF_IO, "No space left"); /* it does not look */
    own.junk = 100000;
    own.fails = PROF_UNSUPPORTED;
    own.why = "own: the sink refused it";
    FAILS(prof_trace_write(trace, "/dev/full", ".own"), PROF_IO, "No space left");
    prof_writer_unregister(&writer);
    done();
}

TEST(saving_while_recording)
{
    static const char *const names[] = {"live.prof", "live.csv", "live.txt", "live.json"};
    start_small();
    {
        PROFILE_SCOPE("open");
        for (int i = 0; i < 100; ++i) PROFILE_BLOCK("closed") PROFILE_ARG_I("i", i);
        for (size_t i = 0; i < 4; ++i) {
            const char *path = trace_path(names[i]);
            CHECK_EQUAL(prof_save(path), PROF_OK);
            CHECK(trace_file_size(path) > 100);
        }
    }
    stop_and_read();
    CHECK_EQUAL(list.count, 101); /* saving left no trace */
    CHECK_EQUAL(list.events[0].flags, 0);
    done();
    prof_trace *file = trace_open_file(trace_path("live.prof"));
    if (!file) return;
    trace_list saved = trace_read(file, 0);
    CHECK_EQUAL(saved.count, 101);
    CHECK_EQUAL(saved.events[0].flags, PROF_TRUNCATED_END);
    CHECK_EQUAL(prof_trace_about(file)->complete, 0);
    for (size_t i = 1; i < saved.count; ++i) {
        CHECK_EQUAL(saved.events[i].flags, 0);
        CHECK_EQUAL(saved.events[i].args[0].value.as.i, (long long)i - 1);
    }
    trace_free(&saved);
    prof_trace_close(file);
}

/*-- scopes across changes --*/

static int leave_open_across; /* which change happens while the scopes are open */
static void change(void)
{
    switch (leave_open_across) {
    case 0: start_small(); break;
    case 1: CHECK_EQUAL(prof_stop(), PROF_OK); break;
    case 2:
        CHECK_EQUAL(prof_stop(), PROF_OK);
        start_small();
        break;
    case 3: CHECK_EQUAL(prof_pause(), PROF_OK); break;
    case 4: CHECK_EQUAL(prof_resume(), PROF_OK); break;
    case 5: CHECK_EQUAL(prof_set_level(0), PROF_OK); break;
    case 6: CHECK_EQUAL(prof_category_enable("*", 0), PROF_OK); break;
    case 7: CHECK_EQUAL(prof_set_level(255), PROF_OK); break;
    default: break;
    }
}

static void *open_scopes(void *unused)
{
    PROFILE_SCOPE("scope");
    PROFILE_SCOPE_F("format %d", 1);
    PROFILE_STAGE("stage");
    PROFILE_BEGIN("begin");
    PROFILE_BLOCK("block") change();
    PROFILE_END("begin");
    PROFILE_NEXT("next");
    return unused;
}

/* What is recorded around one change: the first line of each case is what the trace has of scope, format, stage, begin,
   block (0: nothing, 1: complete, 2: without an end), the second of next. */
static void across(int which, int on_thread, int outer, int next)
{
    pthread_t thread;
    static const char *const names[] = {"scope", "format 1", "stage", "begin", "block"};
    leave_open_across = which;
    if (on_thread) {
        pthread_create(&thread, NULL, open_scopes, NULL);
        pthread_join(thread, NULL);
    } else {
        open_scopes(NULL);
    }
    if (prof__state.running) CHECK_EQUAL(prof_stop(), PROF_OK);
    trace = trace_live();
    size_t total = 0, tracks = prof_trace_track_count(trace);
    for (size_t track = 0; track < tracks; ++track) {
        list = trace_read(trace, track);
        total += list.count;
        if (list.count) {
            for (size_t i = 0; i < 5; ++i) {
                const prof_event *event = trace_find(&list, names[i]);
                CHECK_EQUAL(event != NULL, outer != 0);
                if (event && outer == 1) CHECK_EQUAL(event->flags, 0);
                if (event && outer == 2) CHECK_EQUAL(event->flags, PROF_TRUNCATED_END);
                if (event) CHECK_EQUAL(event->depth, i);
            }
            CHECK_EQUAL(trace_count(&list, "next"), next);
            if (next && trace_find(&list, "next")) CHECK_EQUAL(trace_find(&list, "next")->flags, 0);
        }
        trace_free(&list);
    }
    CHECK_EQUAL(total, (outer ? 5 : 0) + next);
    CHECK_EQUAL(prof_trace_about(trace)->unmatched, 0);
    CHECK_EQUAL(prof_trace_about(trace)->lost, 0);
    prof_trace_close(trace);
    if (test_failures) printf("  (case %d%s)\n", which, on_thread ? " on a thread" : "");
}

TEST(scopes_open_across_changes)
{
    for (int on_thread = 0; on_thread < 2 && !test_failures; ++on_thread) {
        across(0, on_thread, 0, 1); /* open before the start: not this session's */
        start_small();
        across(1, on_thread, 2, 0); /* stopped: they have no end */
        start_small();
        across(2, on_thread, 0, 1); /* restarted: the new session has nothing of them */
        start_small();
        across(3, on_thread, 1, 0); /* paused: they get their ends */
        start_small();
        CHECK_EQUAL(prof_pause(), PROF_OK);
        across(4, on_thread, 0, 1); /* begun during a pause */
        start_small();
        across(5, on_thread, 1, 0); /* turned off by level */
        start_small();
        across(6, on_thread, 1, 0); /* turned off by category */
        start_small();
        CHECK_EQUAL(prof_set_level(0), PROF_OK);
        across(7, on_thread, 0, 1); /* turned on */
        start_small();
        across(8, on_thread, 1, 1); /* no change */
    }
}

/* Call sites are numbered anew in each session: here in the opposite order. */
static void sites_forward(void)
{
    PROFILE_MARK("first");
    PROFILE_MARK("second");
    PROFILE_MARK("third");
}

TEST(sites_keep_their_names)
{
    start_small();
    sites_forward();
    CHECK_EQUAL(prof_stop(), PROF_OK);
    for (int i = 0; i < 10; ++i) {
        start_small();
        PROFILE_MARK("other one");
        if (i % 2) PROFILE_MARK("other two");
        sites_forward();
        stop_and_read();
        CHECK_EQUAL(trace_count(&list, "first"), 1);
        CHECK_EQUAL(trace_count(&list, "second"), 1);
        CHECK_EQUAL(trace_count(&list, "third"), 1);
        CHECK_EQUAL(list.count, 4 + i % 2);
        done();
    }
}

/*-- memory of the user --*/

static uint64_t user_memory[64 << 10]; /* 512 KiB */

static int user_over, user_epoch, user_rest, user_rests;
static void *records_into_user_memory(void *unused)
{
    while (!__atomic_load_n(&user_over, __ATOMIC_ACQUIRE)) {
        int rest = __atomic_load_n(&user_rest, __ATOMIC_ACQUIRE);
        __atomic_store_n(&user_rests, rest, __ATOMIC_RELEASE);
        if (rest) {
            pause_ms(0);
            continue;
        }
        PROFILE_SCOPE("thread's");
        PROFILE_ARG_I("i", 1);
        __atomic_fetch_add(&user_epoch, 1, __ATOMIC_RELEASE);
    }
    return unused;
}

/* Keeps the other thread outside of any macro, or lets it go on. */
static void user_thread_rests(int rest)
{
    __atomic_store_n(&user_rest, rest, __ATOMIC_RELEASE);
    WAIT_UNTIL(__atomic_load_n(&user_rests, __ATOMIC_ACQUIRE) == rest);
}

TEST(user_memory)
{
    prof_config config = trace_config(0);
    config.memory = user_memory;
    for (size_t skew = 0; skew < 64; skew += (size_t)trace_times(21, 7, 7)) {
        unsigned char *bytes = (unsigned char *)user_memory;
        size_t size = sizeof user_memory - 128;
        memset(user_memory, 0xee, sizeof user_memory);
        config.memory = bytes + 64 + skew;
        config.memory_size = size - skew;
        CHECK_EQUAL(prof_start(&config), PROF_OK);
        PROFILE_BLOCK("block") PROFILE_ARG_S("key", "value");
        for (int i = 0; i < 100000; ++i) PROFILE_BLOCK("block") PROFILE_ARG_I("i", i);
        stop_and_read();
        CHECK(list.count > 1000);
        CHECK_EQUAL(list.events[list.count - 1].args[0].value.as.i, 99999);
        done();
        int outside = 0;
        for (size_t i = 0; i < 64 + skew; ++i) outside += bytes[i] != 0xee;
        for (size_t i = 64 + size; i < sizeof user_memory; ++i) outside += bytes[i] != 0xee;
        CHECK_EQUAL(outside, 0);
    }
    CHECK_EQUAL(prof_reset(), PROF_OK);
}

TEST(user_memory_that_is_too_small)
{
    prof_config config = trace_config(0);
    config.memory = user_memory;
    FAILS(prof_start(&config), PROF_INVALID_ARGUMENT, "memory_size");
    for (size_t size = 1; size < 40000; size += 97) {
        config.memory = (char *)user_memory + size % 8;
        config.memory_size = size;
        prof_status status = prof_start(&config);
        if (status) {
            CHECK_EQUAL(status, PROF_INVALID_ARGUMENT);
            CHECK(size < 2200);
            continue;
        }
        PROFILE_MARK("mark");
        stop_and_read();
        CHECK_EQUAL(list.count, 1);
        done();
    }
    config.memory = user_memory;
    config.memory_size = sizeof user_memory;
    config.output = trace_path("user.prof");
    FAILS(prof_start(&config), PROF_INVALID_ARGUMENT, "config.memory");
    CHECK_EQUAL(trace_file_size(trace_path("user.prof")), -1);
    CHECK_EQUAL(prof_reset(), PROF_OK);
}

/* A thread may still be attached to the memory's last session when it is used again, but not in the middle of a macro:
   it would finish that, into what is now another session's. In every other round it stays attached. */
TEST(user_memory_used_again)
{
    pthread_t thread;
    prof_config config = trace_config(0);
    config.memory = user_memory;
    config.memory_size = sizeof user_memory;
    user_over = user_rest = user_rests = 0;
    pthread_create(&thread, NULL, records_into_user_memory, NULL);
    for (int i = 0; i < trace_times(20, 100, 2000); ++i) {
        user_thread_rests(1);
        CHECK_EQUAL(prof_start(&config), PROF_OK);
        user_thread_rests(0);
        int epoch = __atomic_load_n(&user_epoch, __ATOMIC_ACQUIRE);
        WAIT_UNTIL(__atomic_load_n(&user_epoch, __ATOMIC_ACQUIRE) >= epoch + 10);
        PROFILE_MARK("mine");
        if (i % 2) user_thread_rests(1);
        trace = trace_stop();
        size_t mine = 0;
        for (size_t track = 0; track < prof_trace_track_count(trace); ++track) {
            list = trace_read(trace, track);
            mine += trace_count(&list, "mine");
            trace_free(&list);
        }
        if (!prof_trace_about(trace)->overwritten_chunks) CHECK_EQUAL(mine, 1); /* the other thread may go round the ring */
        CHECK(mine <= 1);
        prof_trace_close(trace);
        if (test_failures) break;
    }
    __atomic_store_n(&user_over, 1, __ATOMIC_RELEASE);
    pthread_join(thread, NULL);
    CHECK_EQUAL(prof_reset(), PROF_OK);
}

/*-- full buffers --*/

static long fill_attempts;
static void fill(int numbers)
{
    for (int i = 0; i < numbers; ++i) {
        PROFILE_SCOPE("outer");
        PROFILE_ARG_I("number", i);
        PROFILE_BLOCK("inner") PROFILE_MARK("mark");
        PROFILE_COUNTER("counter", i);
        fill_attempts += 4; /* two scopes, a mark, a counter; and an argument */
    }
}

TEST(fill_keeps_the_first_and_counts_the_rest)
{
    for (int numbers = 100; numbers < 30000; numbers = numbers * 3 + 1) {
        prof_config config = trace_config(512u << 10);
        config.mode = PROF_FILL;
        trace_start(&config);
        fill_attempts = 0;
        fill(numbers);
        stop_and_read();
        uint64_t recorded = 0, expected = 0, args = 0, lost = prof_trace_about(trace)->lost;
        for (size_t i = 0; i < list.count; ++i) {
            const prof_event *event = &list.events[i];
            if (event->type == PROF_EVENT_LOST) continue;
            ++recorded;
            args += event->arg_count;
            CHECK_EQUAL(event->flags, 0);
            if (strcmp(event->name, "outer") || !event->arg_count) continue;
            CHECK_EQUAL(event->args[0].value.as.i, expected);
            ++expected;
        }
        CHECK_EQUAL(recorded + lost, fill_attempts);
        CHECK_EQUAL(args + prof_trace_about(trace)->lost_args, numbers);
        CHECK_EQUAL(prof_trace_about(trace)->unmatched, 0);
        CHECK_EQUAL(prof_trace_about(trace)->overwritten_chunks, 0);
        CHECK_EQUAL(prof_trace_about(trace)->mode, PROF_FILL);
        if (numbers < 1000)
            CHECK_EQUAL(lost, 0);
        else if (numbers > 20000)
            CHECK(lost > 0);
        /* the chunks are full to their last words: five events take nine of them */
        if (lost) CHECK((recorded + args) * 9 / 5 > prof_trace_about(trace)->buffer_size / 8 * 98 / 100);
        done();
    }
}

static char *summary_text(const prof_trace *of)
{
    size_t size;
    const char *path = trace_path("losses.txt");
    CHECK_EQUAL(prof_summary_write(of, path, NULL), PROF_OK);
    return trace_file_text(path, &size);
}

/* Arguments of all kinds that find no room, and what they are of. */
static void lose_some(prof_scope open, prof_device_row *row)
{
    const prof_arg args[] = {PROF_ARG_I("one", 1), PROF_ARG_S("two", "text")};
    prof_device_event job;
    memset(&job, 0, sizeof job);
    job.type = PROF_EVENT_MARK;
    job.name = "job";
    job.args = args;
    job.arg_count = 2;
    for (int i = 0; i < 7; ++i) { /* 7 scopes, 35 arguments */
        PROFILE_SCOPE("lost");
        PROFILE_ARG_I("i", i);
        PROFILE_ARG_S("s", "a text of several words");
        PROFILE_ARGS(PROF_ARG_I("a", 1), PROF_ARG_S("b", "text"), PROF_ARG_D("c", 0.5));
    }
    PROFILE_ARGS_TO(open, PROF_ARG_I("a", 1), PROF_ARG_I("b", 2)); /* 2 arguments */
    PROFILE_MARK_ARGS("mark", PROF_ARG_I("a", 1), PROF_ARG_I("b", 2)); /* each of these one event, 2 arguments */
    prof_device_record(row, &job);
    PROFILE_STEP("step", 3);              /* a scope with one */
    PROFILE_COUNTER("counter", 1);        /* events without */
    PROFILE_LOG(PROF_LOG_INFO, "%d", 1);
}
enum { LOST_EVENTS = 7 + 2 + 1 + 2, LOST_ARGS = 35 + 2 + 2 * 2 + 1 };

static void *lose_on_a_thread(void *row)
{
    lose_some(0, (prof_device_row *)row);
    return NULL;
}

static void check_lost(const prof_trace *of, uint64_t lost, uint64_t lost_args)
{
    CHECK_EQUAL(prof_trace_about(of)->lost, lost);
    CHECK_EQUAL(prof_trace_about(of)->lost_args, lost_args);
}

/* Losses are counted in events; arguments by themselves. */
TEST(arguments_lost_are_counted_by_themselves)
{
    pthread_t thread;
    prof_trace *before = NULL, *after = NULL, *copy = NULL;
    prof_config config = trace_config(128u << 10);
    prof_device_row *row = prof_device_row_create(prof_device_create("losing", NULL), "row");
    config.mode = PROF_FILL;
    trace_start(&config);
    PROFILE_SCOPE_AS(open, "open");
    for (int i = 0; i < 50000; ++i) PROFILE_MARK("fill"); /* to the last word */
    before = trace_live();
    uint64_t lost = prof_trace_about(before)->lost;
    check_lost(before, lost, 0);
    lose_some(open, row);
    after = trace_live();
    check_lost(after, lost + LOST_EVENTS, LOST_ARGS);
    CHECK_EQUAL(pthread_create(&thread, NULL, lose_on_a_thread, row), 0); /* which gets no chunk, and has no such scope */
    CHECK_EQUAL(pthread_join(thread, NULL), 0);
    PROF__SELF()->write_lock = PROF__BUSY; /* as in a handler that interrupts a macro */
    lose_some(open, row);
    PROF__SELF()->write_lock = PROF__SHUT;
    CHECK_EQUAL(prof_save(trace_path("losses.prof")), PROF_OK);
    stop_and_read();
    check_lost(trace, lost + 3 * LOST_EVENTS, 3 * LOST_ARGS - 2);
    copy = trace_open_file(trace_path("losses.prof"));
    check_lost(copy, lost + 3 * LOST_EVENTS, 3 * LOST_ARGS - 2);
    CHECK_EQUAL(prof_trace_about(trace)->unmatched, 0);
    char *text = summary_text(trace);
    CHECK(text && strstr(text, "\n124 arguments lost in a full buffer: enlarge PROF_BUFFER"));
    free(text);
    trace->info.lost_args = 1;
    text = summary_text(trace);
    CHECK(text && strstr(text, "\n1 argument lost in a full buffer: enlarge PROF_BUFFER"));
    free(text);
    prof_trace_close(before);
    prof_trace_close(after);
    prof_trace_close(copy);
    done();
    trace_start(NULL); /* the next session begins at zero */
    PROFILE_MARK("next");
    stop_and_read();
    check_lost(trace, 0, 0);
    done();
}

static void *fills(void *numbers)
{
    for (int i = 0; i < *(int *)numbers; ++i) {
        PROFILE_SCOPE("scope");
        PROFILE_ARG_I("number", i);
    }
    return NULL;
}

/* One that found no chunk gets what another left of its own: it begins late, perhaps with an argument. */
TEST(fill_with_threads)
{
    enum { THREADS = 8 };
    pthread_t threads[THREADS];
    int numbers = 20000;
    prof_config config = trace_config(1u << 20);
    config.mode = PROF_FILL;
    trace_start(&config);
    for (int i = 0; i < THREADS; ++i) pthread_create(&threads[i], NULL, fills, &numbers);
    for (int i = 0; i < THREADS; ++i) pthread_join(threads[i], NULL);
    trace = trace_stop();
    uint64_t recorded = 0, args = 0;
    for (size_t track = 0; track < prof_trace_track_count(trace); ++track) {
        list = trace_read(trace, track);
        int64_t expected = -1;
        for (size_t i = 0; i < list.count; ++i) {
            if (list.events[i].type == PROF_EVENT_LOST) continue;
            ++recorded;
            args += list.events[i].arg_count;
            CHECK_EQUAL(list.events[i].flags, 0);
            if (!list.events[i].arg_count) continue;
            if (expected >= 0) CHECK_EQUAL(list.events[i].args[0].value.as.i, expected);
            expected = list.events[i].args[0].value.as.i + 1;
        }
        trace_free(&list);
    }
    uint64_t unmatched = prof_trace_about(trace)->unmatched;
    CHECK_EQUAL(recorded + prof_trace_about(trace)->lost, (uint64_t)THREADS * (unsigned)numbers);
    CHECK_EQUAL(args + prof_trace_about(trace)->lost_args + unmatched, (uint64_t)THREADS * (unsigned)numbers);
    CHECK(unmatched < THREADS);
    prof_trace_close(trace);
}

static void deep(int depth)
{
    PROFILE_SCOPE("deep");
    ++fill_attempts;
    if (depth > 1) deep(depth - 1);
}

/* A begin is accepted only if its end will fit, at any depth. */
TEST(fill_is_balanced_at_any_depth)
{
    /* beyond three quarters of a chunk ends may be lost, and are counted */
    static const int depths[] = {10, 300, 700, 1400};
    for (size_t d = 0; d < sizeof depths / sizeof *depths; ++d) {
        prof_config config = trace_config(256u << 10);
        config.mode = PROF_FILL;
        trace_start(&config);
        fill_attempts = 0;
        for (int i = 0; i < 40000 / depths[d]; ++i) deep(depths[d]);
        stop_and_read();
        uint64_t recorded = 0, truncated = 0;
        for (size_t i = 0; i < list.count; ++i) {
            recorded += list.events[i].type == PROF_EVENT_SCOPE;
            truncated += list.events[i].flags != 0;
        }
        CHECK_EQUAL(truncated, 0);
        CHECK_EQUAL(recorded + prof_trace_about(trace)->lost, fill_attempts);
        CHECK_EQUAL(prof_trace_about(trace)->unmatched, 0);
        if (test_failures) printf("  (depth %d)\n", depths[d]);
        done();
    }
}

TEST(ring_keeps_the_last)
{
    enum { NUMBERS = 200000 };
    prof_config config = trace_config(512u << 10);
    trace_start(&config);
    PROFILE_BEGIN("outermost");
    for (int i = 0; i < NUMBERS; ++i) {
        PROFILE_SCOPE("scope");
        PROFILE_ARG_I("number", i);
    }
    PROFILE_END("outermost");
    stop_and_read();
    int64_t expected = -1;
    CHECK_EQUAL(prof_trace_about(trace)->lost, 0);
    CHECK_EQUAL(prof_trace_about(trace)->unmatched, 0);
    CHECK(prof_trace_about(trace)->overwritten_chunks > 100);
    CHECK_TEXT(list.events[0].name, "outermost");
    CHECK_EQUAL(list.events[0].flags, PROF_TRUNCATED_BEGIN);
    for (size_t i = 1; i < list.count; ++i) {
        const prof_event *event = &list.events[i];
        CHECK_EQUAL(event->depth, 1);
        if (i > 1) CHECK_EQUAL(event->flags, 0);
        const prof_value *number = trace_arg(event, "number");
        if (!number && i == 1) continue; /* the argument was overwritten with the begin */
        CHECK(number != NULL);
        if (!number) break;
        if (expected >= 0) CHECK_EQUAL(number->as.i, expected);
        expected = number->as.i + 1;
        if (test_failures) break;
    }
    CHECK_EQUAL(expected, NUMBERS);
    CHECK(list.count > (prof_trace_about(trace)->buffer_size - prof_trace_about(trace)->chunk_size) / 8 / 4 * 9 / 10);
    done();
}

/* The ring holds many times what a scope that stays open can see. */
TEST(ring_keeps_arguments_of_what_is_open)
{
    prof_config config = trace_config(128u << 10);
    trace_start(&config);
    PROFILE_BLOCK("open")
    {
        PROFILE_ARG_S("old", "gone");
        for (int i = 0; i < 100000; ++i) PROFILE_MARK("mark");
        PROFILE_ARG_S("new", "kept");
    }
    stop_and_read();
    CHECK_TEXT(list.events[0].name, "open");
    CHECK_EQUAL(list.events[0].flags, PROF_TRUNCATED_BEGIN);
    CHECK_EQUAL(list.events[0].arg_count, 1);
    if (list.events[0].arg_count) CHECK_TEXT(list.events[0].args[0].value.as.string, "kept");
    done();
}

/*-- short scopes --*/

static void short_scopes(void)
{
    PROFILE_BLOCK("leaf") {}
    PROFILE_BLOCK("parent of a leaf") PROFILE_BLOCK("leaf") {}
    PROFILE_BLOCK("with an argument") PROFILE_ARG_I("i", 1);
    PROFILE_BLOCK("with a mark") PROFILE_MARK("mark");
    PROFILE_BLOCK("before a mark") {}
    PROFILE_MARK("mark");
    PROFILE_BEGIN("begin");
    PROFILE_END("begin");
    { PROFILE_SCOPE_DYNAMIC("text"); }
    { PROFILE_SCOPE_F("format %d", 1); }
    PROFILE_STAGE("stage");
    PROFILE_NEXT("next");
}

TEST(short_scopes_are_taken_back)
{
    for (int clock = PROF_CLOCK_AUTO; clock <= PROF_CLOCK_MONOTONIC; clock += PROF_CLOCK_MONOTONIC) {
        prof_config config = trace_config(256u << 10);
        config.clock = (prof_clock)clock;
        config.min_duration_ns = 3600u * 1000000000ull;
        trace_start(&config);
        short_scopes();
        stop_and_read();
        CHECK_EQUAL(list.count, 4);
        CHECK_EQUAL(trace_count(&list, "with an argument"), 1);
        CHECK_EQUAL(trace_count(&list, "with a mark"), 1);
        CHECK_EQUAL(trace_count(&list, "mark"), 2);
        if (list.count != 4)
            for (size_t i = 0; i < list.count; ++i) printf("  recorded: %s\n", list.events[i].name);
        CHECK_EQUAL(prof_trace_about(trace)->unmatched, 0);
        CHECK_EQUAL(prof_trace_about(trace)->lost, 0);
        done();
        config.min_duration_ns = 1000000;
        trace_start(&config);
        short_scopes();
        PROFILE_BLOCK("long") pause_ms(2);
        stop_and_read();
        CHECK_EQUAL(trace_count(&list, "long"), 1);
        CHECK_EQUAL(trace_find(&list, "long")->depth, 0);
        done();
    }
}

/* Exactly the minimum is long enough, and what was taken back leaves no word behind. */
TEST(short_scopes_to_the_tick)
{
    prof_config config = trace_config(256u << 10);
    config.clock = PROF_CLOCK_MONOTONIC; /* its ticks are nanoseconds */
    config.min_duration_ns = 1000000000;
    trace_start(&config);
    PROFILE_MARK("first");
    prof__thread *self = PROF__SELF();
    for (uint64_t ticks = 999999999; ticks <= 1000000000; ++ticks) {
        static prof_site site = {0, "", "", "", "", 1, 0, 1, PROF__KIND_BEGIN, 0, 0, 0};
        uint64_t *before = self->cursor, room = self->free_words;
        prof__token token = prof__begin_text(&site, "a name of several words, none of which stays");
        CHECK(token && self->short_scope.at == before);
        uint32_t write_lock = prof__enter_write(self);
        uint64_t begin = self->base + (*self->short_scope.at & PROF__TICK_MASK);
        prof__end_at(self, token ^ self->session_id, begin + ticks);
        prof__leave_write(self, write_lock);
        CHECK_EQUAL(self->cursor == before, ticks < 1000000000);
        CHECK_EQUAL(self->free_words == room, ticks < 1000000000);
        for (uint64_t *at = self->cursor; at < self->end; ++at) CHECK_EQUAL(*at, 0);
    }
    stop_and_read();
    CHECK_EQUAL(list.count, 2);
    CHECK_EQUAL(list.events[list.count - 1].duration_ns, 1000000000);
    done();
}

/* Scopes, arguments and marks in any order and depth, in one chunk. An argument has the value of the word before it,
   which may be the begin of its scope. */
static struct { uint64_t random; long scopes, marks, args; } mixed;

static unsigned mixed_random(unsigned below)
{
    mixed.random = mixed.random * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(mixed.random >> 33) % below;
}

enum { MIXED_STAYS = 1, MIXED_GONE = 2 }; /* what is in a scope: something that stays; a scope that was taken back */

static int mixed_kept(int inside)
{
    mixed.scopes += inside & MIXED_STAYS;
    return inside & MIXED_STAYS ? MIXED_STAYS : MIXED_GONE;
}

static int mixed_scopes(int depth)
{
    int found = 0, inside = 0;
    for (unsigned i = mixed_random(4); i; --i) switch (mixed_random(depth < 6 ? 8 : 3)) {
        case 0:
            PROFILE_MARK("mark");
            ++mixed.marks;
            found |= MIXED_STAYS;
            break;
        case 1:
            if (!depth) break;
            PROFILE_ARG_U("word", PROF__SELF()->cursor[-1]);
            ++mixed.args;
            found |= MIXED_STAYS;
            break;
        case 2: {
            PROFILE_SCOPE_L("off", 9);
            break;
        }
        case 3: {
            PROFILE_STAGE("stage");
            inside = mixed_scopes(depth + 1);
            PROFILE_NEXT("next");
            found |= mixed_kept(inside);
            inside = mixed_scopes(depth + 1);
        }
            found |= mixed_kept(inside);
            break;
        case 4: {
            PROFILE_SCOPE_DYNAMIC("text");
            inside = mixed_scopes(depth + 1);
        }
            found |= mixed_kept(inside ? MIXED_STAYS : 0); /* not the last record, if there was a scope in it */
            break;
        case 5:
            PROFILE_BEGIN("loose");
            inside = mixed_scopes(depth + 1);
            PROFILE_END("loose");
            found |= mixed_kept(inside);
            break;
        default: {
            PROFILE_SCOPE("plain");
            inside = mixed_scopes(depth + 1);
        }
            found |= mixed_kept(inside);
            break;
        }
    return found;
}

TEST(short_scopes_among_others)
{
    long rounds = trace_times(30, 400, 20000);
    for (long round = 0; round < rounds; ++round) {
        prof_config config = trace_config(256u << 10);
        config.clock = round % 4 ? PROF_CLOCK_AUTO : PROF_CLOCK_MONOTONIC;
        config.min_duration_ns = 3600u * 1000000000ull;
        memset(&mixed, 0, sizeof mixed);
        mixed.random = (uint64_t)time(NULL) * 1000003u + (uint64_t)round;
        uint64_t seed = mixed.random;
        trace_start(&config);
        PROFILE_MARK("first");
        const prof__chunk *chunk = PROF__SELF()->chunk;
        for (int i = 0; i < 40 && PROF__SELF()->free_words > 700; ++i) mixed_scopes(0);
        CHECK(PROF__SELF()->chunk == chunk);
        stop_and_read();
        long args = 0;
        for (size_t i = 0; i < list.count; ++i) args += (long)list.events[i].arg_count;
        int good = (long)list.count == mixed.scopes + mixed.marks + 1 && args == mixed.args;
        CHECK(good && !prof_trace_about(trace)->unmatched && !prof_trace_about(trace)->lost);
        if (!good)
            printf("  seed %llu, round %ld: %ld events instead of %ld, %ld arguments instead of %ld\n",
                   (unsigned long long)seed, round, (long)list.count, mixed.scopes + mixed.marks + 1, args, mixed.args);
        done();
        if (!good) break;
    }
}

static jmp_buf off_left;
static void leave_off(void)
{
    PROFILE_SCOPE_L("off", 9);
    longjmp(off_left, 1);
}

/* The end of a short scope finds that a scope inside it, which is off, was left: the outer scope gets arguments again. */
TEST(short_scope_around_an_off_one_that_was_left)
{
    prof_config config = trace_config(256u << 10);
    config.min_duration_ns = 1000000000;
    trace_start(&config);
    for (int i = 0; i < 20; ++i)
        PROFILE_BLOCK("outer")
        {
            PROFILE_BLOCK("short") {}
            PROFILE_BLOCK("short") if (!setjmp(off_left)) leave_off();
            PROFILE_ARG_I("i", i);
        }
    stop_and_read();
    CHECK_EQUAL(list.count, 20);
    for (size_t i = 0; i < list.count; ++i) CHECK_EQUAL(list.events[i].arg_count, 1);
    done();
}

/* A thread holds the chunk before its present one only until that is half full. */
TEST(long_scopes_release_the_chunk_before)
{
    prof_config config = trace_config(256u << 10);
    config.min_duration_ns = 1;
    trace_start(&config);
    PROFILE_MARK("first");
    prof__thread *self = PROF__SELF();
    const prof__chunk *chunk = self->chunk;
    long chunks = 0, kept = 0;
    for (int i = 0; i < 20000; ++i) {
        PROFILE_BLOCK("long") {}
        chunks += chunk != self->chunk;
        chunk = self->chunk;
        uint64_t used = (uint64_t)(self->cursor - prof__chunk_first(self->chunk));
        if (used > prof__state.session->chunk_words / 2) kept += self->filled != NULL;
    }
    CHECK(chunks > 3);
    CHECK_EQUAL(kept, 0);
    prof_trace_close(trace_stop());
}

static sem_t short_go, short_done;

static void *short_worker(void *sessions)
{
    for (int i = 0; i < *(const int *)sessions; ++i) {
        while (sem_wait(&short_go)) {}
        for (int k = 0; k < 100; ++k) {
            PROFILE_SCOPE("outer");
            PROFILE_BLOCK("inner") {}
        }
        sem_post(&short_done);
    }
    return NULL;
}

/* What a thread knows of the last words belongs to the session in which they were written, whose memory is gone. */
TEST(short_scopes_in_one_session_after_another)
{
    int sessions = 8;
    pthread_t thread;
    CHECK(!sem_init(&short_go, 0, 0) && !sem_init(&short_done, 0, 0));
    CHECK(!pthread_create(&thread, NULL, short_worker, &sessions));
    for (int i = 0; i < sessions; ++i) {
        prof_config config = trace_config((size_t)(256u << 10) << i % 3); /* other sizes have other addresses */
        config.min_duration_ns = 3600u * 1000000000ull;
        trace_start(&config);
        sem_post(&short_go);
        while (sem_wait(&short_done)) {}
        trace = trace_stop();
        CHECK_EQUAL(prof_trace_about(trace)->event_count, 0);
        CHECK_EQUAL(prof_trace_about(trace)->taken_back, 200);
        prof_trace_close(trace);
        CHECK_EQUAL(prof_reset(), PROF_OK);
    }
    pthread_join(thread, NULL);
}

/* Millions of short scopes take no room at all. */
TEST(short_scopes_take_no_room)
{
    prof_config config = trace_config(128u << 10);
    config.min_duration_ns = 1000000000;
    config.mode = PROF_FILL;
    long times = trace_times(50000, 1000000, 1000000); /* much more than the buffer holds */
    trace_start(&config);
    PROFILE_BLOCK("around")
    {
        PROFILE_MARK("first");
        for (long i = 0; i < times; ++i) PROFILE_BLOCK("outer") PROFILE_BLOCK("inner") {}
        PROFILE_MARK("last");
    }
    stop_and_read();
    CHECK(trace_count(&list, "around") == 1 && trace_count(&list, "last") == 1);
    CHECK_EQUAL(prof_trace_about(trace)->lost, 0);
    CHECK(list.count < 100);
    done();
}

/*-- a small image --*/

/* More call sites and names than the image has room for are counted, and harm nobody. */
TEST(too_many_call_sites)
{
    enum { SITES = 3000 };
    static prof_site sites[SITES];
    static char names[SITES][32];
    prof_config config = trace_config(128u << 10);
    for (int i = 0; i < SITES; ++i) {
        snprintf(names[i], sizeof names[i], "site number %d", i);
        sites[i].name = names[i];
        sites[i].category = sites[i].file = sites[i].function = "";
        sites[i].level = 1;
        sites[i].kind = PROF__KIND_MARK;
    }
    trace_start(&config);
    for (int i = 0; i < SITES; ++i) prof__mark(&sites[i]);
    stop_and_read();
    CHECK_EQUAL(list.count, SITES);
    CHECK(prof_trace_about(trace)->sites_lost > 0);
    CHECK_TEXT(list.events[0].name, "site number 0");
    CHECK_TEXT(list.events[SITES - 1].name, "(no room for more call sites)");
    for (size_t i = 0; i < list.count; ++i) CHECK_EQUAL(list.events[i].type, PROF_EVENT_MARK);
    char *text = summary_text(trace);
    CHECK(text && strstr(text, " names did not fit: enlarge PROF_BUFFER to 8M\n"));
    free(text);
    done();
}

/* A scope that is open for longer than a chunk's ticks can say gets its end in another chunk. */
TEST(long_gaps)
{
    prof_config config = trace_config(256u << 10);
    config.mode = PROF_FILL;
    trace_start(&config);
    PROFILE_BLOCK("open")
    {
        prof__thread *self = PROF__SELF();
        self->chunk->base.tick -= (uint64_t)1 << PROF__TICK_BITS; /* as if it had been taken that long ago */
        self->base = self->chunk->base.tick;
        PROFILE_MARK("late");
        PROFILE_ARG_I("late", 1);
    }
    PROFILE_MARK("after");
    stop_and_read();
    CHECK_EQUAL(list.count, 3);
    CHECK_EQUAL(list.events[0].flags, 0);
    CHECK_EQUAL(list.events[0].arg_count, 1);
    CHECK_EQUAL(list.events[1].depth, 1);
    CHECK_EQUAL(list.events[2].depth, 0);
    CHECK_EQUAL(prof_trace_about(trace)->lost, 0);
    done();
}

/* A program without prof_system.h: the recording goes on, and says what is missing. */
TEST(switches_need_their_header)
{
    static const char *const keys[] = {"switches", "counters", "samples"};
    for (int i = 0; i < 3; ++i) {
        prof_config config = trace_config(0);
        const char *key, *value, *said = "";
        CHECK_EQUAL(prof_config_set(&config, keys[i], "1"), PROF_OK);
        trace_start(&config);
        prof_trace *made = trace_stop();
        for (size_t j = 0; prof_trace_metadata(made, j, &key, &value); ++j)
            if (!strcmp(key, keys[i])) said = value;
        CHECK(strstr(said, "prof_system.h") != NULL);
        prof_trace_close(made);
    }
}

TEST(samples_have_a_range)
{
    prof_config config = trace_config(0);
    config.samples = 10001;
    CHECK_EQUAL(prof_start(&config), PROF_INVALID_ARGUMENT);
    CHECK(strstr(prof_error(), "samples 10001: must be 0 to 10000") != NULL);
    config.samples = -1;
    CHECK_EQUAL(prof_start(&config), PROF_INVALID_ARGUMENT);
}

TEST_MAIN
