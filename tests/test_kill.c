/* Death at any moment. Threads record numbered events into a file and say after each macro how far they are; they are
   killed at random moments, and what is in the file must be what they said: every event up to that one, the next one at
   most, none torn, none missing in between, and what was open is open. Every exporter must be able to write it.

   Repeat with PROF_TEST_SEED=n; PROF_TEST_LONG=1 kills five thousand times. */
/* run: long optimised unraced */
#include "../prof_chrome.h"
#include "test.h"
#include "trace.h"
#include <glob.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { WRITERS = 4, STEPS = 10 };

/* In memory shared with the child. */
typedef struct progress {
    uint64_t done[WRITERS]; /* macros that have returned */
    int ready;              /* 1: all writers run, 2: end */
} progress;

static progress *shared;
static uint64_t seed, random_state;

static uint32_t random_below(uint32_t limit) /* splitmix64 */
{
    uint64_t x = random_state += 0x9E3779B97F4A7C15u;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
    x = (x ^ x >> 27) * 0x94D049BB133111EBu;
    return (uint32_t)((x ^ x >> 31) >> 33) % limit;
}

static void shared_make(void)
{
    const char *text = getenv("PROF_TEST_SEED");
    if (!shared) {
        shared = (progress *)mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        random_state = seed = text ? strtoull(text, NULL, 0) : (uint64_t)time(NULL) * 1000003u + (uint64_t)getpid();
        printf("PROF_TEST_SEED=%llu\n", (unsigned long long)seed);
    }
    memset(shared, 0, sizeof *shared);
}

/* A path in memory if there is such a thing: thousands of files come and go here. */
static const char *scratch_path(const char *name)
{
    static char paths[4][256];
    static unsigned next;
    char *path = paths[next++ % 4];
    if (access("/dev/shm", W_OK)) return trace_path(name);
    snprintf(path, sizeof paths[0], "/dev/shm/prof-test-%d-%s", (int)getpid(), name);
    return path;
}

/* Removes a file, and what a process leaves beside it that is killed: its recording, an older one, halves of files. */
static void remove_all_of(const char *path)
{
    char pattern[300];
    glob_t found;
    snprintf(pattern, sizeof pattern, "%.*s*", (int)(strrchr(path, '.') - path), path);
    if (glob(pattern, GLOB_NOSORT, NULL, &found)) return;
    for (size_t i = 0; i < found.gl_pathc; ++i) unlink(found.gl_pathv[i]);
    globfree(&found);
}

/*-- the program that dies --*/

static const char *const texts[] = {"", "short", "a text of several words", "ein l\xc3\xa4ngerer Text, der auch Umlaute hat"};

#define STEP() __atomic_store_n(&shared->done[index], ++done, __ATOMIC_RELEASE)

/* The events that are number 10 * n + 1 and so on of a thread. */
static uint64_t unit(int index, uint64_t done, uint64_t n)
{
    PROFILE_SCOPE("outer");
    STEP();
    PROFILE_ARG_U("n", n);
    STEP();
    {
        PROFILE_SCOPE_F("middle %llu", (unsigned long long)n);
        STEP();
        PROFILE_MARK("mark");
        STEP();
        {
            PROFILE_SCOPE("inner");
            STEP();
            PROFILE_COUNTER("counter", n);
            STEP();
        }
        STEP();
    }
    STEP();
    PROFILE_ARG_S("text", texts[n % 4]);
    STEP();
    return done;
}

static void *writer(void *which)
{
    int index = (int)(intptr_t)which;
    char name[16];
    uint64_t done = 0;
    snprintf(name, sizeof name, "writer %d", index);
    PROFILE_THREAD(name);
    for (uint64_t n = 0; __atomic_load_n(&shared->ready, __ATOMIC_RELAXED) < 2; ++n) {
        done = unit(index, done, n);
        STEP();
    }
    return NULL;
}

static void start_writers(pthread_t *threads)
{
    for (int i = 0; i < WRITERS; ++i)
        if (pthread_create(&threads[i], NULL, writer, (void *)(intptr_t)i)) _exit(98);
    __atomic_store_n(&shared->ready, 1, __ATOMIC_RELEASE);
}

static void child_begins(void)
{
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    if (!freopen("/dev/null", "w", stderr)) _exit(96); /* what sanitizers and the crash report say */
    /* if nobody kills it: longer than any test takes */
    alarm(600);
}

static void child_starts(const prof_config *config)
{
    if (prof_start(config)) {
        printf("child: prof_start: %s\n", prof_error());
        _exit(99);
    }
}

static void child_of_writers(const prof_config *config)
{
    pthread_t threads[WRITERS];
    child_begins();
    child_starts(config);
    PROFILE_SCOPE("main");
    start_writers(threads);
    for (;;) pause();
}

static void wait_until_ready(pid_t child)
{
    int status;
    WAIT_UNTIL(__atomic_load_n(&shared->ready, __ATOMIC_ACQUIRE) || waitpid(child, &status, WNOHANG));
}

/* How many writers have come so far; on a busy machine they have not all begun when the child is ready. */
static int writers_beyond(uint64_t done)
{
    int count = 0;
    for (int k = 0; k < WRITERS; ++k) count += __atomic_load_n(&shared->done[k], __ATOMIC_ACQUIRE) >= done;
    return count;
}

/*-- what must be in the file --*/

typedef struct found {
    int known;      /* 1: done is */
    uint64_t first; /* number of the first unit of which everything is there */
    uint64_t done;  /* macros whose events are there, from the thread's start */
} found;

/* One unit, from event i on, which is its outer scope: how many of its steps are there. Moves i behind it. */
static uint64_t check_unit(const trace_list *list, size_t *i, uint64_t *n, int last_allowed)
{
    static const char *const names[] = {"middle", "mark", "inner", "counter"};
    static const prof_event_type types[] = {PROF_EVENT_SCOPE, PROF_EVENT_MARK, PROF_EVENT_SCOPE, PROF_EVENT_COUNTER};
    const prof_event *outer = &list->events[*i];
    const prof_value *number = trace_arg(outer, "n"), *text = trace_arg(outer, "text");
    uint64_t steps = 1;
    size_t inside = 0;
    char name[64];
    CHECK_TEXT(outer->name, "outer");
    CHECK_EQUAL(outer->depth, 0);
    ++*i;
    if (number) {
        CHECK(number->type == PROF_VALUE_UINT);
        *n = number->as.u;
        ++steps;
    }
    for (; *i < list->count && list->events[*i].depth > 0; ++*i, ++inside) {
        const prof_event *event = &list->events[*i];
        if (inside == 4) break;
        if (!number) CHECK_TEXT("events without the argument in front of them", "");
        CHECK(event->type == types[inside]);
        snprintf(name, sizeof name, inside ? "%s" : "%s %llu", names[inside], (unsigned long long)*n);
        CHECK_TEXT(event->name, name);
        CHECK_EQUAL(event->depth, inside == 0 ? 1 : inside == 3 ? 3 : 2);
        if (inside == 3) CHECK_EQUAL(event->value.as.i, *n);
        ++steps;
        if (event->type == PROF_EVENT_SCOPE && !(event->flags & PROF_TRUNCATED_END)) ++steps;
        if (event->flags & PROF_TRUNCATED_END) CHECK(outer->flags & PROF_TRUNCATED_END);
    }
    if (text) {
        CHECK_TEXT(text->as.string, texts[*n % 4]);
        ++steps;
    }
    if (outer->flags & PROF_TRUNCATED_END)
        CHECK(last_allowed && *i == list->count); /* the newest only */
    else
        ++steps;
    if (!(outer->flags & PROF_TRUNCATED_END)) CHECK_EQUAL(steps, STEPS);
    return steps;
}

/* Where the buffer was full some of a unit's events fitted and others did not: what comes from there on is left out. */
static void cut_losses(trace_list *list)
{
    static const uint32_t depths[] = {0, 1, 2, 2, 3};
    size_t at = 0, inside = 0;
    for (; at + inside < list->count; at += 5, inside = 0) {
        const prof_event *outer = &list->events[at];
        while (inside < 5 && at + inside < list->count && list->events[at + inside].depth == depths[inside] &&
               list->events[at + inside].type != PROF_EVENT_LOST && !list->events[at + inside].flags)
            ++inside;
        if (inside < 5 || !trace_arg(outer, "n") || !trace_arg(outer, "text")) break;
    }
    while (list->count > at) free((void *)list->events[--list->count].args);
}

/* All of a track: numbers without a gap. The first unit may lack its beginning if the ring went round. */
static found check_writer(const trace_list *list, int wrapped)
{
    found result = {0, 0, 0};
    uint64_t n = 0, expected = 0;
    size_t i = 0;
    while (i < list->count && list->events[i].type != PROF_EVENT_LOST && test_failures < 20) {
        const prof_event *event = &list->events[i];
        if (!result.known && (strcmp(event->name, "outer") || (event->flags & PROF_TRUNCATED_BEGIN))) {
            CHECK(wrapped);
            ++i; /* the rest of a unit whose begin was overwritten */
            continue;
        }
        n = expected; /* if it has not come to its number yet */
        uint64_t steps = check_unit(list, &i, &n, 1);
        if (!result.known && steps < 2) break; /* nothing says which one this is */
        if (!result.known && !wrapped) CHECK_EQUAL(n, 0);
        if (!result.known) result.first = n;
        if (result.known) CHECK_EQUAL(n, expected);
        result.known = 1;
        result.done = n * STEPS + steps;
        expected = n + 1;
    }
    return result;
}

/* 1: the beginning of a track may be missing, or all of it. A stream without a wait may leave a thread without any
   chunk for a while, whose events belong to no track then. */
static int is_wrapped(const prof_trace_info *info)
{
    return info->overwritten_chunks > 0 || (info->mode == PROF_STREAM && info->lost);
}

/* least: macros that must be there, of each writer; null: not known. slack: how many more there may be. Returns how
   many writers could be compared. */
static int check_writers(const prof_trace *trace, const uint64_t *least, uint64_t slack)
{
    const prof_trace_info *info = prof_trace_about(trace);
    int compared = 0, wrapped = is_wrapped(info);
    for (int k = 0; k < WRITERS && test_failures < 20; ++k) {
        char name[16];
        snprintf(name, sizeof name, "writer %d", k);
        size_t track = trace_track_named(trace, name);
        if (track == prof_trace_track_count(trace)) {
            /* not begun yet; or, in a stream, without a chunk */
            if (least && !info->lost) CHECK(least[k] == 0);
            continue;
        }
        trace_list list = trace_read(trace, track);
        if (prof_trace_track(trace, track)->lost) cut_losses(&list);
        found now = check_writer(&list, wrapped);
        /* However slow it was, its newest events are never overwritten; but one that has only lost events until then
           may be killed as it gets its first chunk. */
        if (least && least[k] && !info->lost) CHECK(list.count > 0);
        if (now.known && least) {
            ++compared;
            if (!prof_trace_track(trace, track)->lost) CHECK(now.done >= least[k]);
            CHECK(now.done <= least[k] + slack);
            if (test_failures)
                printf("  writer %d: %llu found, %llu published\n", k, (unsigned long long)now.done,
                       (unsigned long long)least[k]);
        }
        trace_free(&list);
    }
    return compared;
}

/*-- exporters --*/

typedef struct json_state { /* a JSON text as it comes, without the numbers' and names' fine points */
    char stack[64];
    int depth, text, escape, ended;
    uint64_t bytes;
    int bad;
} json_state;

static int json_sink(void *user, const void *data, size_t size)
{
    json_state *s = (json_state *)user;
    const char *text = (const char *)data;
    for (size_t i = 0; i < size; ++i) {
        char c = text[i];
        if (s->ended && c != '\n') s->bad = 1;
        if (s->text) {
            if (s->escape)
                s->escape = 0;
            else if (c == '\\')
                s->escape = 1;
            else if (c == '"')
                s->text = 0;
            else if ((unsigned char)c < 0x20)
                s->bad = 1;
        } else if (c == '"') {
            s->text = 1;
        } else if (c == '{' || c == '[') {
            if (s->depth == 64) s->bad = 1;
            else s->stack[s->depth++] = (char)(c + 2); /* what closes it */
        } else if (c == '}' || c == ']') {
            if (!s->depth || s->stack[--s->depth] != c) s->bad = 1;
            if (!s->depth) s->ended = 1;
        }
    }
    s->bytes += size;
    return 0;
}

static int counting_sink(void *user, const void *data, size_t size)
{
    for (size_t i = 0; i < size; ++i) *(uint64_t *)user += ((const char *)data)[i] == '\n';
    return 0;
}

static void check_exporters(const prof_trace *trace)
{
    json_state json;
    uint64_t lines = 0, table = 0;
    prof_sink sink = {json_sink, &json};
    memset(&json, 0, sizeof json);
    CHECK_EQUAL(prof_chrome_stream(trace, sink, NULL), PROF_OK);
    CHECK(!json.bad && json.ended && json.bytes > 10);
    sink.write = counting_sink;
    sink.user = &lines;
    CHECK_EQUAL(prof_csv_stream(trace, sink), PROF_OK);
    CHECK(lines >= prof_trace_about(trace)->event_count);
    sink.user = &table;
    CHECK_EQUAL(prof_summary_stream(trace, sink, NULL), PROF_OK);
    CHECK(table > 3);
}

/*-- kill -9 --*/

typedef struct configuration {
    const char *name;
    prof_mode mode;
    size_t buffer_size;
    long longest_us; /* from ready to the kill */
} configuration;

static const configuration configurations[] = {
    {"small ring", PROF_RING, 256u << 10, 8000},
    {"ring", PROF_RING, 2u << 20, 20000},
    {"ring that never fills", PROF_RING, 32u << 20, 3000},
    {"fill", PROF_FILL, 1u << 20, 8000},
    {"fill that never fills", PROF_FILL, 32u << 20, 3000},
    {"stream", PROF_STREAM, 1u << 20, 20000},
    {"stream that waits", PROF_STREAM, 512u << 10, 20000},
    {"stream that rotates", PROF_STREAM, 512u << 10, 30000},
};

static prof_config config_of(const configuration *c)
{
    prof_config config = trace_config(c->buffer_size);
    config.mode = c->mode;
    if (!strcmp(c->name, "stream that waits")) config.wait_ns = 10000000000u;
    if (!strcmp(c->name, "stream that rotates")) {
        config.wait_ns = 10000000000u;
        config.max_file_size = 2u << 20;
        config.at_limit = PROF_LIMIT_ROTATE;
    }
    return config;
}

TEST(killed_at_any_moment)
{
    int compared = 0, kills = 0, wrapped = 0, compared_wrapped = 0;
    for (long i = 0; i < trace_times(10, 50, 5000) && !test_failures; ++i) {
        const configuration *c = &configurations[(size_t)i % (sizeof configurations / sizeof *configurations)];
        const char *path = scratch_path("killed.prof");
        prof_config config = config_of(c);
        int status = 0;
        shared_make();
        remove_all_of(path);
        config.output = path;
        fflush(stdout);
        pid_t child = fork();
        if (!child) child_of_writers(&config);
        if (random_below(8)) {
            wait_until_ready(child);
            pause_us((long)random_below((uint32_t)c->longest_us));
        } else { /* while it starts */
            pause_us((long)random_below(4000));
        }
        kill(child, SIGKILL);
        waitpid(child, &status, 0);
        CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        if (access(path, F_OK)) {
            CHECK(!shared->ready); /* so early that it has no file */
            remove_all_of(path);
            continue;
        }
        prof_trace *trace = trace_open_file(path);
        if (trace) {
            const prof_trace_info *info = prof_trace_about(trace);
            CHECK_EQUAL(info->complete, 0);
            CHECK(info->pid == (uint64_t)child);
            if (c->mode == PROF_RING || config.wait_ns) CHECK_EQUAL(info->lost, 0);
            if (c->mode == PROF_FILL) CHECK_EQUAL(info->overwritten_chunks, 0);
            int now = check_writers(trace, shared->done, 1);
            if (is_wrapped(info)) {
                ++wrapped;
                compared_wrapped += now; /* of the others only the end of a single unit was left */
            } else if (!info->lost) {
                CHECK(now >= writers_beyond(2)); /* all that had a scope and its number */
            }
            compared += now;
            if (i % 16 < 8 && i % 3 == 0) check_exporters(trace);
            ++kills;
        }
        prof_trace_close(trace);
        if (test_failures) printf("  kill %ld, %s; the file is %s\n", i, c->name, path);
        if (!test_failures) remove_all_of(path);
    }
    printf("%d kills of a recording, %d of %d writers compared to what they said\n", kills, compared, kills * WRITERS);
    CHECK(compared_wrapped > 0 || wrapped < 5);
}

/*-- read from outside while it runs, or stands still --*/

TEST(read_while_it_records)
{
    for (size_t j = 0; j < 2; ++j) {
        const configuration *c = &configurations[j];
        const char *path = scratch_path("running.prof");
        prof_config config = config_of(c);
        int status, compared = 0;
        shared_make();
        remove_all_of(path);
        config.output = path;
        fflush(stdout);
        pid_t child = fork();
        if (!child) child_of_writers(&config);
        wait_until_ready(child);
        WAIT_UNTIL(writers_beyond(2 * STEPS) >= WRITERS || waitpid(child, &status, WNOHANG));
        for (long i = 0; i < trace_times(TRACE_SANITIZER ? 2 : 10, 30, 300) && !test_failures; ++i) {
            uint64_t least[WRITERS];
            int stopped = (int)(i % 2);
            pause_us((long)random_below(1000));
            if (stopped) {
                kill(child, SIGSTOP);
                CHECK(waitpid(child, &status, WUNTRACED) == child && WIFSTOPPED(status));
            }
            for (int k = 0; k < WRITERS; ++k) least[k] = __atomic_load_n(&shared->done[k], __ATOMIC_ACQUIRE);
            prof_trace *trace = trace_open_file(path);
            if (trace) {
                CHECK_EQUAL(prof_trace_about(trace)->complete, 0);
                compared += check_writers(trace, least, stopped ? 1u : (uint64_t)1 << 60);
                if (i % 16 < trace_times(1, 2, 2)) check_exporters(trace);
            }
            prof_trace_close(trace);
            if (stopped) kill(child, SIGCONT);
            if (test_failures) printf("  reading %ld, %s, %s\n", i, c->name, stopped ? "stopped" : "running");
        }
        kill(child, SIGKILL);
        waitpid(child, &status, 0);
        remove_all_of(path);
        CHECK(compared > 0);
    }
}

/*-- the image that a crash report writes while other threads go on --*/

TEST(crash_report_of_a_busy_program)
{
    int compared = 0, reports = 0;
    for (long i = 0; i < trace_times(4, 15, 300) && !test_failures; ++i) {
        const configuration *c = &configurations[i % 3];
        const char *path = scratch_path("busy.csv");
        char image[300];
        uint64_t least[WRITERS], *const crashed = (uint64_t *)mmap(NULL, sizeof least, PROT_READ | PROT_WRITE,
                                                                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        prof_config config = trace_config(c->buffer_size);
        int status = 0;
        shared_make();
        snprintf(image, sizeof image, "%s.prof", path);
        config.output = path;
        config.crash_report = 1;
        long wait = (long)random_below((uint32_t)c->longest_us);
        fflush(stdout);
        pid_t child = fork();
        if (!child) {
            pthread_t threads[WRITERS];
            child_begins();
            child_starts(&config);
            start_writers(threads);
            pause_us(wait);
            for (int k = 0; k < WRITERS; ++k) crashed[k] = __atomic_load_n(&shared->done[k], __ATOMIC_ACQUIRE);
            raise(SIGABRT);
        }
        waitpid(child, &status, 0);
        CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
        memcpy(least, crashed, sizeof least);
        munmap(crashed, sizeof least);
        prof_trace *trace = trace_open_file(image);
        if (trace) {
            const prof_trace_info *info = prof_trace_about(trace);
            /* The thread sanitizer reports that a crash report reads without the lock. It does so in a thread that holds
               the lock, and takes longer than macros wait. */
            CHECK_EQUAL(info->lost, TRACE_SANITIZER == 2 ? info->lost_busy : 0);
            int now = check_writers(trace, least, (uint64_t)1 << 60), begun = 0;
            for (int k = 0; k < WRITERS; ++k) begun += least[k] >= 2; /* it has a scope and its number */
            if (!is_wrapped(info)) CHECK(now >= begun);
            compared += now;
            if (i % 8 == 0) check_exporters(trace);
            ++reports;
        }
        prof_trace_close(trace);
        if (test_failures) printf("  report %ld, %s; the file is %s\n", i, c->name, image);
        if (!test_failures) remove_all_of(path);
    }
    printf("%d reports, %d of %d writers compared\n", reports, compared, reports * WRITERS);
}

/*-- killed while it starts, saves or stops: a file is the old one or a new one, never half --*/

enum { EVENTS = 2000 };

static void child_of_sessions(const char *path)
{
    char saved[300];
    prof_config config = trace_config(256u << 10);
    child_begins();
    config.output = path;
    snprintf(saved, sizeof saved, "%s.saved%s", path, strrchr(path, '.'));
    for (;;) {
        child_starts(&config);
        for (int i = 0; i < EVENTS; ++i) PROFILE_MARK("mark");
        __atomic_store_n(&shared->ready, 1, __ATOMIC_RELEASE);
        if (prof_save(saved) || prof_stop()) _exit(97);
        __atomic_fetch_add(&shared->done[0], 1, __ATOMIC_RELEASE);
    }
}

/* 1: it is whole. */
static int whole_text(const char *path, const char *extension)
{
    size_t size = 0;
    char *text = trace_file_text(path, &size);
    uint64_t lines = 0;
    json_state json;
    int whole = 0;
    if (!text) return 0;
    memset(&json, 0, sizeof json);
    counting_sink(&lines, text, size);
    json_sink(&json, text, size);
    if (!strcmp(extension, ".json")) whole = json.ended && !json.bad;
    if (!strcmp(extension, ".csv")) whole = lines == EVENTS + 1 && text[size - 1] == '\n';
    if (!strcmp(extension, ".txt")) whole = strstr(text, "2,000 events") && strstr(text, "% of the run\n") && text[size - 1] == '\n';
    free(text);
    return whole;
}

TEST(killed_while_it_starts_saves_or_stops)
{
    static const char *const extensions[] = {".json", ".csv", ".txt", ".prof"};
    for (long i = 0; i < trace_times(8, 40, 300) && !test_failures; ++i) {
        const char *extension = extensions[i % 4];
        char path[256], saved[300];
        int status = 0;
        shared_make();
        snprintf(path, sizeof path, "%s%s", scratch_path("sessions"), extension);
        snprintf(saved, sizeof saved, "%s.saved%s", path, extension);
        fflush(stdout);
        pid_t child = fork();
        if (!child) child_of_sessions(path);
        wait_until_ready(child);
        pause_us((long)random_below(10000));
        kill(child, SIGKILL);
        waitpid(child, &status, 0);
        CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        for (int k = 0; k < 2; ++k) {
            const char *each = k ? saved : path;
            if (access(each, F_OK)) {
                CHECK(shared->done[0] == 0); /* of the first session */
            } else if (strcmp(extension, ".prof")) {
                CHECK(whole_text(each, extension));
            } else {
                prof_trace *trace = trace_open_file(each);
                if (trace) CHECK(prof_trace_about(trace)->event_count <= EVENTS);
                if (trace && k) CHECK_EQUAL(prof_trace_about(trace)->event_count, EVENTS);
                prof_trace_close(trace);
            }
        }
        if (test_failures) printf("  kill %ld, %s\n", i, path);
        if (test_failures) break;
        unlink(path);
        unlink(saved); /* the recording stays: the next session of this kind finds it */
    }
    if (!test_failures) remove_all_of(scratch_path("sessions."));
}

/*-- a program that hangs --*/

static uint64_t monotonic_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Says when it has begun, and waits to be killed. */
static void *hangs(void *file)
{
    char name[16] = "reads nothing";
    char begun = 'b';
    PROFILE_THREAD("stuck");
    PROFILE_SCOPE("batch");
    PROFILE_SCOPE_DYNAMIC(name);
    memset(name, 'x', sizeof name - 1);
    if (write(*(const int *)file, &begun, 1) != 1) _exit(3);
    for (;;) pause();
}

/* Checks the scopes that a hanging program has open. Returns how long the innermost one has been. */
static int64_t check_hang(const char *path, int alive)
{
    prof_trace *trace = trace_open_file(path);
    prof_open_scope *scopes = NULL;
    size_t count = 0;
    int64_t longest = 0;
    if (!trace) return 0;
    CHECK_EQUAL(prof_trace_about(trace)->alive, alive);
    CHECK_EQUAL(prof_open_scopes(trace, &scopes, &count), PROF_OK);
    CHECK_EQUAL(count, 2);
    if (count == 2) {
        const prof_track *track = prof_trace_track(trace, scopes[0].track);
        CHECK_TEXT(track->name, "stuck");
        CHECK_EQUAL(track->open, 2);
        CHECK(!track->ended && scopes[0].track == scopes[1].track);
        CHECK_TEXT(scopes[0].name, "batch");
        CHECK_TEXT(scopes[1].name, "reads nothing");
        CHECK_EQUAL(scopes[1].depth, 1);
        CHECK(scopes[0].duration_ns >= scopes[1].duration_ns);
        longest = scopes[1].duration_ns;
        CHECK_EQUAL(scopes[1].start_ns + longest, prof_trace_about(trace)->duration_ns);
        trace_list list = trace_read(trace, scopes[0].track);
        CHECK_EQUAL(list.events[1].duration_ns, longest); /* all outputs show it */
        trace_free(&list);
    }
    prof_open_scopes_free(scopes);
    prof_trace_close(trace);
    return longest;
}

TEST(what_hangs_is_open_until_now)
{
    const char *path = scratch_path("hang.prof");
    int begun[2], go[2], status;
    char byte;
    remove_all_of(path);
    CHECK(!pipe(begun) && !pipe(go));
    fflush(stdout);
    pid_t child = fork();
    if (!child) { /* one thread hangs, the other works for a while */
        pthread_t thread;
        prof_config config = trace_config(1u << 20);
        config.output = path;
        if (prof_start(&config) || pthread_create(&thread, NULL, hangs, &begun[1])) _exit(2);
        if (read(go[0], &byte, 1) != 1) _exit(4);
        { PROFILE_SCOPE("work"); }
        byte = 'w';
        if (write(begun[1], &byte, 1) != 1) _exit(5);
        for (;;) pause();
    }
    CHECK_EQUAL(read(begun[0], &byte, 1), 1);
    uint64_t before = monotonic_ns();
    trace_next_instant();
#ifdef __linux__
    uint64_t hung = monotonic_ns() - before;
    CHECK(check_hang(path, 1) >= (int64_t)hung);
#endif
    before = monotonic_ns();
    trace_next_instant();
    uint64_t worked = monotonic_ns() - before;
    CHECK_EQUAL(write(go[1], "g", 1), 1);
    CHECK_EQUAL(read(begun[0], &byte, 1), 1);
    kill(child, SIGKILL);
    CHECK_EQUAL(waitpid(child, &status, 0), child);
    int64_t known = check_hang(path, 0); /* to the other thread's last event */
    CHECK(known >= (int64_t)worked);
    trace_next_instant();
    int64_t again = check_hang(path, 0); /* the clock is measured anew */
    CHECK(again < known + known / 100 + 100 && again > known - known / 100 - 100);
    remove_all_of(path);
}

TEST_MAIN
