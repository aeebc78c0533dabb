/* A child of a fork records into an image of its own, with its parent's configuration, from its first scope on; what
   the parent records is what it would record without. */
/* run: optimised */
#include "../prof_read.h"
#include "test.h"
#include "trace.h"
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define FOLDER "fork"

extern char **environ;
static prof_trace *trace;
static trace_list list;
static int over; /* tells threads to end */

static void done(void)
{
    trace_free(&list);
    prof_trace_close(trace);
    trace = NULL;
}

/* Empties the folder that the files of a test go to; returns how many there were. */
static int empty_folder(void)
{
    char path[1024];
    int count = 0;
    struct dirent *entry;
    mkdir(trace_path(FOLDER), 0777);
    DIR *folder = opendir(trace_path(FOLDER));
    CHECK(folder != NULL);
    while (folder && (entry = readdir(folder)) != NULL) {
        if (entry->d_name[0] == '.') continue;
        snprintf(path, sizeof path, "%s/%s", trace_path(FOLDER), entry->d_name);
        count += !unlink(path);
    }
    if (folder) closedir(folder);
    return count;
}

static const char *file_of(const char *base, long pid, const char *extension)
{
    char name[128];
    snprintf(name, sizeof name, pid ? FOLDER "/%s.%ld%s" : FOLDER "/%s%.0ld%s", base, pid, extension);
    return trace_path(name);
}

/* Runs body in a child; 0 if that returned 0. The child says what is wrong with its checks. */
static pid_t last_child;
static pid_t (*make_child)(void) = fork;
static int in_child(int (*body)(void))
{
    int status = 0;
    fflush(stdout);
    pid_t child = make_child();
    if (!child) {
        test_failures = 0;
        int result = body();
        fflush(stdout);
        _exit(result || test_failures);
    }
    last_child = child;
    if (child < 0 || waitpid(child, &status, 0) != child) return -1;
    return status;
}

/*-- what a child records --*/

static prof_config parents; /* configuration */
static pid_t parent;
static const char *thread_name = "parent";

static void scopes(int count)
{
    for (int i = 0; i < count; ++i) {
        PROFILE_SCOPE("child");
        PROFILE_ARG_I("i", i);
    }
}

static void check_scopes(int count)
{
    CHECK_EQUAL(list.count, count);
    for (size_t i = 0; i < list.count; ++i) {
        const prof_value *number = trace_arg(&list.events[i], "i");
        CHECK_TEXT(list.events[i].name, "child");
        CHECK_EQUAL(list.events[i].depth, 0);
        CHECK_EQUAL(list.events[i].flags, 0);
        CHECK(number && number->as.i == (int64_t)i);
    }
}

static void check_about(const prof_trace *of, pid_t pid, pid_t ppid)
{
    CHECK(prof_trace_about(of)->pid == (uint64_t)pid);
    CHECK(prof_trace_about(of)->parent_pid == (uint64_t)ppid);
    CHECK_EQUAL(prof_trace_about(of)->lost, 0);
    CHECK_EQUAL(prof_trace_about(of)->unmatched, 0);
    CHECK_EQUAL(prof_trace_about(of)->mode, parents.mode);
    CHECK_TEXT(prof_trace_about(of)->program, "test_fork");
    CHECK(prof_trace_about(of)->scope_cost_ns > 0);
}

static void starts_its_own(void)
{
    prof_config config = trace_config(256u << 10);
    CHECK_EQUAL(prof_enabled(), 0);
    CHECK_EQUAL(prof_stop(), PROF_INVALID_STATE);
    scopes(10);
    CHECK_EQUAL(prof_reset(), PROF_OK);
    CHECK_EQUAL(prof_trace_open_live(&trace), PROF_INVALID_STATE);
    trace_start(&config);
    scopes(100);
    trace = trace_stop();
    list = trace_read(trace, 0);
    check_scopes(100);
    done();
}

static int records(void)
{
    CHECK_EQUAL(prof_enabled(), 1);
    CHECK_EQUAL(prof_start(NULL), PROF_INVALID_STATE);
    CHECK_EQUAL(prof_reset(), PROF_INVALID_STATE);
    CHECK_EQUAL(prof_trace_open_live(&trace), PROF_INVALID_STATE); /* nothing yet */
    PROFILE_END("begin"); /* begun in the parent */
    CHECK_EQUAL(prof_trace_open_live(&trace), PROF_INVALID_STATE);
    scopes(5000);
    CHECK_EQUAL(prof_start(NULL), PROF_INVALID_STATE);
    trace = trace_live();
    list = trace_read(trace, 0);
    CHECK_EQUAL(prof_trace_track_count(trace), 1);
    CHECK_TEXT(prof_trace_track(trace, 0)->name, thread_name);
    CHECK(prof_trace_track(trace, 0)->thread_id == (uint64_t)getpid()); /* its first thread */
    check_scopes(5000);
    check_about(trace, getpid(), parent);
    done();
    return 0;
}

static int records_and_stops(void)
{
    records();
    CHECK_EQUAL(prof_stop(), PROF_OK);
    CHECK_EQUAL(prof_trace_open_live(&trace), PROF_OK);
    CHECK_EQUAL(prof_trace_about(trace)->complete, 1);
    CHECK_EQUAL(prof_trace_about(trace)->event_count, 5000);
    prof_trace_close(trace);
    starts_its_own();
    return 0;
}

static int stops_at_once(void)
{
    CHECK_EQUAL(prof_stop(), PROF_OK);
    starts_its_own();
    return 0;
}

static int does_nothing(void) { return 0; }

/* Forks with scopes open. */
static void parent_with(int (*body)(void))
{
    parent = getpid();
    trace_start(&parents);
    PROFILE_THREAD("parent");
    {
        PROFILE_SCOPE("outer");
        PROFILE_BEGIN("begin");
        for (int i = 0; i < 3; ++i) {
            PROFILE_SCOPE("around the fork");
            CHECK_EQUAL(in_child(body), 0);
            PROFILE_ARG_I("i", i);
        }
        PROFILE_END("begin");
    }
    CHECK_EQUAL(prof_enabled(), 1);
    trace = trace_stop();
    list = trace_read(trace, 0);
    CHECK_EQUAL(list.count, 5);
    CHECK_EQUAL(trace_count(&list, "around the fork"), 3);
    CHECK_EQUAL(trace_count(&list, "child"), 0);
    for (size_t i = 0; i < list.count; ++i) CHECK_EQUAL(list.events[i].flags, 0);
    CHECK_EQUAL(prof_trace_track_count(trace), 1);
    CHECK_TEXT(prof_trace_track(trace, 0)->name, "parent");
    check_about(trace, parent, getppid());
    done();
}

/* Files in the folder afterwards. */
static int parent_with_output(const char *output, int (*body)(void))
{
    empty_folder();
    parents.output = output ? trace_path(output) : NULL;
    parent_with(body);
    parents.output = NULL;
    int files = empty_folder();
    CHECK_EQUAL(prof_reset(), PROF_OK);
    return files;
}

TEST(child_in_memory)
{
    parents = trace_config(1u << 20);
    parent_with(records);
    parent_with(records_and_stops);
    parent_with(stops_at_once);
    parent_with(does_nothing);
    parents.clock = PROF_CLOCK_MONOTONIC;
    parent_with(records);
}

/* What its parent knew of its full ring is not true of the child's. */
static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
static int began;

static void *holds_a_chunk(void *unused)
{
    PROFILE_MARK("holds");
    __atomic_add_fetch(&began, 1, __ATOMIC_RELEASE);
    pthread_mutex_lock(&held);
    pthread_mutex_unlock(&held);
    return unused;
}

static int records_five(void)
{
    scopes(5);
    trace = trace_live();
    list = trace_read(trace, 0);
    check_scopes(5);
    done();
    return 0;
}

TEST(child_of_a_parent_with_more_threads_than_chunks)
{
    enum { THREADS = 40 };
    pthread_t threads[THREADS];
    prof_config config = trace_config(256u << 10);
    trace_start(&config);
    pthread_mutex_lock(&held);
    began = 0;
    for (int i = 0; i < THREADS; ++i) CHECK_EQUAL(pthread_create(&threads[i], NULL, holds_a_chunk, NULL), 0);
    WAIT_UNTIL(__atomic_load_n(&began, __ATOMIC_ACQUIRE) >= THREADS);
    CHECK_EQUAL(in_child(records_five), 0);
    pthread_mutex_unlock(&held);
    for (int i = 0; i < THREADS; ++i) pthread_join(threads[i], NULL);
    CHECK_EQUAL(prof_stop(), PROF_OK);
    CHECK_EQUAL(prof_reset(), PROF_OK);
}

TEST(child_of_a_parent_in_the_users_memory)
{
    static uint64_t memory[128 << 10];
    parents = trace_config(0);
    parents.memory = memory;
    parents.memory_size = sizeof memory;
    parent_with(records);
    parent_with(records_and_stops);
    parent_with(stops_at_once);
    CHECK_EQUAL(prof_reset(), PROF_OK);
}

TEST(files_of_children)
{
    parents = trace_config(1u << 20);
    CHECK_EQUAL(parent_with_output(FOLDER "/a.prof", records), 4);
    CHECK_EQUAL(parent_with_output(FOLDER "/a.prof", records_and_stops), 4);
    CHECK_EQUAL(parent_with_output(FOLDER "/a.prof", does_nothing), 1);
    CHECK_EQUAL(parent_with_output(FOLDER "/a.prof", stops_at_once), 1);
    CHECK_EQUAL(parent_with_output(FOLDER "/a.csv", records), 4); /* nobody stopped the children: a.<pid>.csv.prof */
    CHECK_EQUAL(parent_with_output(FOLDER "/a.csv", records_and_stops), 4);
    CHECK_EQUAL(parent_with_output(FOLDER "/a.csv", stops_at_once), 1);
    CHECK_EQUAL(parent_with_output(FOLDER "/a.%p.%n.%t%%.csv", records_and_stops), 4);
}

TEST(what_is_in_a_childs_file)
{
    empty_folder();
    parent = getpid();
    parents = trace_config(256u << 10);
    parents.output = trace_path(FOLDER "/a.prof");
    parents.mode = PROF_FILL;
    trace_start(&parents);
    thread_name = "test_fork";
    PROFILE_THREAD(NULL);
    CHECK_EQUAL(in_child(records), 0);
    trace = trace_open_file(file_of("a", last_child, ".prof"));
    if (trace) {
        list = trace_read(trace, 0);
        check_scopes(5000);
        check_about(trace, last_child, parent);
        CHECK_EQUAL(prof_trace_about(trace)->complete, 0);
        CHECK(prof_trace_about(trace)->buffer_size <= 256u << 10);
        done();
    }
    CHECK_EQUAL(in_child(records_and_stops), 0);
    trace = trace_open_file(file_of("a", last_child, ".prof"));
    if (trace) CHECK_EQUAL(prof_trace_about(trace)->complete, 1);
    done();
    CHECK_EQUAL(prof_stop(), PROF_OK);
    CHECK_EQUAL(prof_reset(), PROF_OK);
    CHECK_EQUAL(empty_folder(), 3);
    thread_name = "parent";
}

/* The thread that empties the buffer stays behind. */
TEST(child_of_a_stream)
{
    if (TRACE_SANITIZER == 1) SKIP("the address sanitizer can hang in a fork while threads allocate");
    static const char *const outputs[] = {FOLDER "/a.prof", FOLDER "/a.csv"};
    int (*const bodies[])(void) = {records, records_and_stops, stops_at_once, does_nothing};
    for (int i = 0; i < 8; ++i) {
        empty_folder();
        parent = getpid();
        parents = trace_config(1u << 20);
        parents.output = trace_path(outputs[i % 2]);
        parents.mode = PROF_STREAM;
        trace_start(&parents);
        parents.mode = PROF_RING;
        PROFILE_THREAD("parent");
        for (int k = 0; k < 40000; ++k) {
            PROFILE_SCOPE("scope");
            if (k % 20000 == 10000) CHECK_EQUAL(in_child(bodies[i / 2]), 0);
        }
        CHECK_EQUAL(prof_stop(), PROF_OK);
        prof_trace *file = i % 2 ? NULL : trace_open_file(trace_path(outputs[0]));
        if (file) {
            size_t track = trace_track_named(file, "parent");
            CHECK_EQUAL(prof_trace_track(file, track)->event_count, 40000);
            CHECK_EQUAL(prof_trace_about(file)->lost, 0);
        }
        prof_trace_close(file);
        CHECK_EQUAL(prof_reset(), PROF_OK);
        CHECK_EQUAL(empty_folder(), bodies[i / 2] == records_and_stops || bodies[i / 2] == records ? 3 : 1);
    }
}

/* A daemon that wants all of its events: a child only keeps a ring, unless it starts anew. */
static int starts_anew(void)
{
    CHECK_EQUAL(prof_stop(), PROF_OK);
    parents.output = trace_path(FOLDER "/daemon.prof");
    CHECK_EQUAL(prof_start(&parents), PROF_OK);
    for (int i = 0; i < 10; ++i) {
        scopes(10000);
        pause_ms(10);
    }
    return (int)prof_stop();
}

TEST(child_that_streams_again)
{
    if (TRACE_SANITIZER == 1) SKIP("the address sanitizer can hang in a fork while threads allocate");
    if (TRACE_SANITIZER == 2) SKIP("the thread sanitizer lets a child start no thread");
    empty_folder();
    parents = trace_config(1u << 20);
    parents.output = trace_path(FOLDER "/a.prof");
    parents.mode = PROF_STREAM;
    trace_start(&parents);
    CHECK_EQUAL(in_child(starts_anew), 0);
    trace = trace_open_file(trace_path(FOLDER "/daemon.prof"));
    if (trace) {
        list = trace_read(trace, 0);
        CHECK_EQUAL(trace_count(&list, "child") + prof_trace_about(trace)->lost, 100000);
        CHECK_EQUAL(prof_trace_about(trace)->complete, 1);
    }
    done();
    CHECK_EQUAL(prof_stop(), PROF_OK);
    CHECK_EQUAL(prof_reset(), PROF_OK);
    CHECK_EQUAL(empty_folder(), 2);
}

TEST(child_of_statistics)
{
    if (TRACE_SANITIZER == 1) SKIP("the address sanitizer can hang in a fork while threads allocate");
    parent = getpid();
    parents = trace_config(1u << 20);
    parents.mode = PROF_STATS;
    trace_start(&parents);
    parents.mode = PROF_RING;
    PROFILE_THREAD("parent");
    PROFILE_MARK("parent");
    CHECK_EQUAL(in_child(records), 0);
    CHECK_EQUAL(in_child(records_and_stops), 0);
    CHECK_EQUAL(in_child(stops_at_once), 0);
    CHECK_EQUAL(prof_stop(), PROF_OK);
    CHECK_EQUAL(prof_reset(), PROF_OK);
}

/* What was changed since the start counts. A scope of no length is long if the processor is taken away in it. */
static int records_what_is_on(void)
{
    enum { SHORT = 50 };
    PROFILE_BLOCK_C("off", "loud") {}
    PROFILE_BLOCK_L("off", 8) {}
    PROFILE_BLOCK("off") {} /* paused */
    CHECK_EQUAL(prof_trace_open_live(&trace), PROF_INVALID_STATE); /* nothing that is on, yet */
    CHECK_EQUAL(prof_enabled(), 0);
    CHECK_EQUAL(prof_resume(), PROF_OK);
    PROFILE_BLOCK_C("off", "loud") {}
    PROFILE_BLOCK_L("off", 8) {}
    CHECK_EQUAL(prof_trace_open_live(&trace), PROF_INVALID_STATE);
    for (int i = 0; i < SHORT; ++i) PROFILE_BLOCK_L("short", 7) {}
    PROFILE_BLOCK_L("long", 7) pause_ms(3);
    PROFILE_BLOCK_C("long", "quiet") pause_ms(3);
    trace = trace_live();
    list = trace_read(trace, 0);
    CHECK_EQUAL(trace_count(&list, "long"), 2);
    CHECK(trace_count(&list, "short") < SHORT);
    CHECK_EQUAL(list.count, trace_count(&list, "long") + trace_count(&list, "short"));
    for (size_t i = 0; i < list.count; ++i) CHECK(list.events[i].duration_ns > 1000000);
    done();
    return 0;
}

TEST(configuration_as_it_is_at_the_fork)
{
    parents = trace_config(256u << 10);
    parents.min_duration_ns = 2000000;
    parents.categories = "-quiet,-soft";
    trace_start(&parents);
    CHECK_EQUAL(prof_set_level(7), PROF_OK);
    CHECK_EQUAL(prof_category_enable("quiet", 1), PROF_OK);
    CHECK_EQUAL(prof_category_enable("loud", 0), PROF_OK);
    CHECK_EQUAL(prof_pause(), PROF_OK);
    CHECK_EQUAL(in_child(records_what_is_on), 0);
    CHECK_EQUAL(prof_stop(), PROF_OK);
}

/* A stopped session is the parent's alone. */
static int has_nothing(void)
{
    starts_its_own();
    return 0;
}

TEST(child_of_a_stopped_session)
{
    parents = trace_config(256u << 10);
    trace_start(&parents);
    PROFILE_MARK("parent");
    CHECK_EQUAL(prof_stop(), PROF_OK);
    CHECK_EQUAL(in_child(has_nothing), 0);
    trace = trace_live();
    CHECK_EQUAL(prof_trace_about(trace)->event_count, 1);
    prof_trace_close(trace);
}

/*-- generations --*/

static int config_version, generations_to_stop_at;

/* Each of three generations records, but for the middle one, which only does if asked to. */
static int descends(void)
{
    pid_t before = parent;
    ++config_version;
    if (config_version != 2 || generations_to_stop_at == 4) records();
    if (config_version < 3) {
        parent = getpid();
        CHECK_EQUAL(in_child(descends), 0);
        parent = before;
    }
    return 0;
}

TEST(fork_in_a_fork)
{
    parents = trace_config(1u << 20);
    for (generations_to_stop_at = 3; generations_to_stop_at < 5; ++generations_to_stop_at) {
        empty_folder();
        parent = getpid();
        parents.output = trace_path(FOLDER "/a.prof");
        trace_start(&parents);
        PROFILE_THREAD("parent");
        PROFILE_MARK("parent");
        config_version = 0;
        CHECK_EQUAL(in_child(descends), 0);
        trace = trace_stop();
        CHECK_EQUAL(prof_trace_about(trace)->event_count, 1);
        CHECK_EQUAL(trace_file_size(file_of("a", last_child, ".prof")) > 0, 1);
        CHECK_EQUAL(prof_reset(), PROF_OK);
        done();
        CHECK_EQUAL(empty_folder(), generations_to_stop_at); /* a.prof and a.<pid>.prof: no name grows */
    }
}

/* As daemon() does it: the process that forked is gone, and so is its directory. */
TEST(double_fork)
{
    int out[2];
    pid_t pid = 0, middle = 0;
    char byte;
    CHECK(!pipe(out));
    empty_folder();
    parents = trace_config(1u << 20);
    parents.output = trace_path(FOLDER "/a.prof");
    trace_start(&parents);
    fflush(stdout);
    middle = fork();
    if (!middle) {
        if (!setsid() || fork()) _exit(0);
        if (chdir("/")) _exit(1);
        WAIT_UNTIL(getppid() != middle);
        pid = getpid();
        CHECK(write(out[1], &pid, sizeof pid) == sizeof pid);
        scopes(100);
        _exit(0);
    }
    close(out[1]);
    CHECK(waitpid(middle, NULL, 0) == middle);
    CHECK(read(out[0], &pid, sizeof pid) == sizeof pid);
    CHECK(!read(out[0], &byte, 1)); /* it has ended */
    close(out[0]);
    CHECK_EQUAL(prof_stop(), PROF_OK);
    trace = trace_open_file(file_of("a", pid, ".prof"));
    if (trace) {
        list = trace_read(trace, 0);
        check_scopes(100);
        check_about(trace, pid, middle);
    }
    done();
    CHECK_EQUAL(empty_folder(), 2);
}

/*-- children that no handler is told of, made as _Fork() and some sandboxes make them --*/

#ifdef __linux__
#include <sys/mman.h>
#include <sys/syscall.h>

static pid_t clones(void) { return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0); }

static int ends_by_exit(void)
{
    fflush(stdout);
    exit(test_failures != 0);
}

static int scopes_at_first(void)
{
    scopes(5);
    trace = trace_live();
    list = trace_read(trace, 0);
    check_scopes(5);
    check_about(trace, getpid(), parent);
    done();
    return 0;
}

/* Its child's parent is the last process that has noticed. */
static int clones_again(void)
{
    CHECK_EQUAL(in_child(scopes_at_first), 0);
    scopes_at_first();
    parent = getpid();
    return in_child(scopes_at_first);
}

/* Where other threads were in the middle of a change it records nothing, and says so. */
static int all_or_nothing(void)
{
    scopes(5);
    if (!prof_enabled()) {
        CHECK_EQUAL(prof_trace_open_live(&trace), PROF_INVALID_STATE);
        return 0;
    }
    return prof_stop() != PROF_OK;
}

static void *five_scopes(void *unused)
{
    for (int i = 0; i < 5; ++i) {
        PROFILE_SCOPE("child");
    }
    return unused;
}

/* The first macros are on several threads at a time. What is recorded is of this process, or nothing is. */
static int threads_at_first(void)
{
    pthread_t threads[3];
    for (int i = 0; i < 3; ++i) CHECK(!pthread_create(&threads[i], NULL, five_scopes, NULL));
    five_scopes(NULL);
    for (int i = 0; i < 3; ++i) pthread_join(threads[i], NULL);
    if (!prof_enabled()) {
        CHECK_EQUAL(prof_trace_open_live(&trace), PROF_INVALID_STATE);
        starts_its_own();
        return 0;
    }
    trace = trace_live();
    CHECK(prof_trace_about(trace)->pid == (uint64_t)getpid());
    CHECK_EQUAL(prof_trace_about(trace)->event_count, 20);
    done();
    return prof_stop() != PROF_OK;
}

/* Some systems say that they empty pages in children, and do not. */
static int clones_are_found(void)
{
    int *page = (int *)mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), status = 1;
    if (page == (int *)MAP_FAILED || sysconf(_SC_PAGESIZE) != 4096) return 0;
    *page = 1;
    if (!madvise(page, 4096, 18 /* MADV_WIPEONFORK */)) {
        pid_t child = clones();
        if (!child) _exit(*page);
        if (child < 0 || waitpid(child, &status, 0) != child) status = 1;
    }
    munmap(page, 4096);
    return !status;
}

TEST(children_without_handlers)
{
    if (TRACE_SANITIZER) SKIP("sanitizers have to be told of a fork");
    if (!clones_are_found()) SKIP("needs Linux 4.14 and pages of 4 KiB");
    make_child = clones;
    parents = trace_config(1u << 20);
    parent_with(records);
    parent_with(records_and_stops);
    parent_with(stops_at_once);
    parent_with(does_nothing);
    parent_with(scopes_at_first);
    CHECK_EQUAL(parent_with_output(FOLDER "/a.prof", does_nothing), 1);
    CHECK_EQUAL(parent_with_output(FOLDER "/a.prof", ends_by_exit), 1);
    CHECK_EQUAL(parent_with_output(FOLDER "/a.prof", scopes_at_first), 4);
    CHECK_EQUAL(parent_with_output(FOLDER "/a.prof", clones_again), 10);
    CHECK_EQUAL(parent_with_output(FOLDER "/a.prof", records_and_stops), 4);
    for (int i = 0; i < trace_times(5, 15, 1000); ++i) parent_with(threads_at_first);
    parents.mode = PROF_STREAM;
    CHECK_EQUAL(parent_with_output(FOLDER "/a.prof", ends_by_exit), 1);
    make_child = fork;
}

static void *restarts(void *unused)
{
    while (!__atomic_load_n(&over, __ATOMIC_ACQUIRE)) {
        prof_pause();
        prof_resume();
    }
    return unused;
}

/* Moves a block of the thread that records, whose memory has one lock. */
static void *moves_a_block(void *block)
{
    for (size_t size = 3000; !__atomic_load_n(&over, __ATOMIC_ACQUIRE); size ^= 3000 ^ 5000) {
        void *moved = realloc(block, size);
        if (moved) block = moved;
    }
    free(block);
    return NULL;
}

/* A lock of malloc() that another thread has is never released in such a child: it must not allocate or free. */
TEST(children_without_handlers_while_others_allocate)
{
    static const prof_mode modes[] = {PROF_RING, PROF_STREAM, PROF_STATS};
    pthread_t thread;
    if (TRACE_SANITIZER) SKIP("sanitizers have to be told of a fork");
    if (!clones_are_found()) SKIP("needs Linux 4.14 and pages of 4 KiB");
    for (size_t i = 0; i < sizeof modes / sizeof *modes; ++i) {
        prof_config config = trace_config(1u << 20);
        config.mode = modes[i];
        if (config.mode == PROF_STREAM) config.output = trace_path(FOLDER "/a.prof");
        trace_start(&config);
        over = 0;
        pthread_create(&thread, NULL, moves_a_block, malloc(3000));
        for (int child = 0; child < 20 && !test_failures; ++child) {
            int status = 1;
            pid_t pid = clones();
            if (!pid) {
                alarm(60);
                five_scopes(NULL);
                _exit(0);
            }
            CHECK_EQUAL(waitpid(pid, &status, 0), pid);
            CHECK_EQUAL(status, 0);
        }
        __atomic_store_n(&over, 1, __ATOMIC_RELEASE);
        pthread_join(thread, NULL);
        CHECK_EQUAL(prof_stop(), PROF_OK);
    }
    prof_reset();
    empty_folder();
}

TEST(children_without_handlers_while_others_control)
{
    pthread_t thread;
    if (TRACE_SANITIZER) SKIP("sanitizers have to be told of a fork");
    if (!clones_are_found()) SKIP("needs Linux 4.14 and pages of 4 KiB");
    make_child = clones;
    parents = trace_config(1u << 20);
    trace_start(&parents);
    over = 0;
    pthread_create(&thread, NULL, restarts, NULL);
    for (int i = 0; i < trace_times(20, 80, 5000) && !test_failures; ++i) CHECK_EQUAL(in_child(all_or_nothing), 0);
    __atomic_store_n(&over, 1, __ATOMIC_RELEASE);
    pthread_join(thread, NULL);
    make_child = fork;
    prof_stop();
    CHECK_EQUAL(prof_reset(), PROF_OK);
}
#endif

/*-- children that become other programs --*/

static int execs(void)
{
    execl("/bin/sh", "sh", "-c", "exit 0", (char *)NULL);
    return 1;
}

static void vforks(void)
{
    static volatile pid_t child;
    int status;
    child = vfork();
    if (!child) {
        execl("/bin/sh", "sh", "-c", "exit 0", (char *)NULL);
        _exit(1);
    }
    CHECK(waitpid(child, &status, 0) == child && !status);
}

static void spawns(void)
{
    pid_t child;
    int status = 0;
    char name[] = "sh", option[] = "-c", command[] = "exit 0";
    char *arguments[] = {name, option, command, NULL};
    CHECK(!posix_spawn(&child, "/bin/sh", NULL, NULL, arguments, environ));
    CHECK(waitpid(child, &status, 0) == child && !status);
}

TEST(other_programs)
{
    static const char *const outputs[] = {FOLDER "/a.prof", FOLDER "/a.csv"};
    parents = trace_config(1u << 20);
    for (int output = 0; output < 2; ++output) {
        empty_folder();
        parents.output = trace_path(outputs[output]);
        trace_start(&parents);
        for (int i = 0; i < 10; ++i) {
            PROFILE_BLOCK("fork and exec") CHECK_EQUAL(in_child(execs), 0);
            PROFILE_BLOCK("vfork") vforks();
            PROFILE_BLOCK("posix_spawn") spawns();
            PROFILE_BLOCK("system") CHECK(!system("exit 0"));
        }
        trace = trace_stop();
        CHECK_EQUAL(prof_trace_about(trace)->event_count, 40);
        CHECK_EQUAL(prof_trace_about(trace)->lost, 0);
        CHECK_EQUAL(prof_trace_about(trace)->unmatched, 0);
        done();
        CHECK_EQUAL(prof_reset(), PROF_OK);
        CHECK_EQUAL(empty_folder(), 1);
    }
}

/*-- when the image can't be made --*/

static int cannot_record(void)
{
    scopes(1000);
    CHECK_EQUAL(prof_enabled(), 0);
    CHECK_EQUAL(prof_start(NULL), PROF_INVALID_STATE);
    CHECK_EQUAL(prof_trace_open_live(&trace), PROF_INVALID_STATE);
    CHECK_EQUAL(prof_stop(), PROF_IO);
    CHECK(strstr(prof_error(), "a.") && strstr(prof_error(), ".prof") && strstr(prof_error(), "Not a directory"));
    starts_its_own();
    return 0;
}

TEST(no_place_for_the_childs_file)
{
    empty_folder();
    mkdir(trace_path("fork-gone"), 0777);
    parents = trace_config(256u << 10);
    parents.output = trace_path("fork-gone/a.prof");
    trace_start(&parents);
    CHECK(!unlink(trace_path("fork-gone/a.prof")) && !rmdir(trace_path("fork-gone")));
    trace_write_file(trace_path("fork-gone"), "in the way", 10);
    CHECK_EQUAL(in_child(cannot_record), 0);
    PROFILE_MARK("parent");
    CHECK_EQUAL(prof_stop(), PROF_IO); /* it has been removed */
    CHECK(!unlink(trace_path("fork-gone")));
    trace = trace_live();
    CHECK_EQUAL(prof_trace_about(trace)->event_count, 1);
    prof_trace_close(trace);
}

/* Whoever limits the size of files in the child has a child that does not record, and not a dead one. */
static int may_write_little(void)
{
    struct rlimit limit = {65536, 65536};
    signal(SIGXFSZ, SIG_DFL);
    CHECK(!setrlimit(RLIMIT_FSIZE, &limit));
    scopes(10);
    CHECK_EQUAL(prof_enabled(), 0);
    CHECK_EQUAL(prof_stop(), PROF_IO);
    return 0;
}

TEST(a_limit_on_the_childs_files)
{
    empty_folder();
    parents = trace_config(256u << 10);
    parents.output = trace_path(FOLDER "/limit-%p.prof");
    trace_start(&parents);
    CHECK_EQUAL(in_child(may_write_little), 0);
    CHECK_EQUAL(prof_stop(), PROF_OK);
    CHECK_EQUAL(empty_folder(), 1); /* the parent's: the child's name is free again */
}

/*-- signals --*/

static void handler(int number)
{
    (void)number;
    scopes(100);
}


static void *allocates(void *unused)
{
    while (!__atomic_load_n(&over, __ATOMIC_ACQUIRE)) {
        char *text = (char *)malloc(100000);
        snprintf(text, 1000, "%g", 1.5);
        free(text);
    }
    return unused;
}

/* The first scope stands in a handler, and the fork may have come while another thread held a lock of libc. */
TEST(first_scope_in_a_signal_handler)
{
    if (TRACE_SANITIZER == 2) SKIP("the thread sanitizer can hang in a fork while threads run");
    pthread_t thread;
    empty_folder();
    parents = trace_config(256u << 10);
    parents.output = trace_path(FOLDER "/a.prof");
    trace_start(&parents);
    signal(SIGUSR1, handler);
    over = 0;
    pthread_create(&thread, NULL, allocates, NULL);
    long times = trace_times(5, 25, 1000);
    for (int i = 0; i < times && !test_failures; ++i) {
        fflush(stdout);
        pid_t child = fork();
        if (!child) {
            raise(SIGUSR1);
            _exit(0);
        }
        CHECK(waitpid(child, NULL, 0) == child);
        trace = trace_open_file(file_of("a", child, ".prof"));
        if (!trace) continue;
        list = trace_read(trace, 0);
        check_scopes(100);
        done();
        unlink(file_of("a", child, ".prof"));
    }
    __atomic_store_n(&over, 1, __ATOMIC_RELEASE);
    pthread_join(thread, NULL);
    CHECK_EQUAL(prof_stop(), PROF_OK);
    CHECK_EQUAL(empty_folder(), 1);
}

static volatile int forks_wanted, fork_trouble, forks_recorded, forks_left;
enum { NOT_RECORDED = 3 }; /* status of a child that was forked where the recorder could not give it an image */

/* Forks in the middle of whatever the program does, the recorder's own code included. */
static void forking_handler(int number)
{
    int status = 0, error = errno;
    (void)number;
    if (forks_wanted <= 0) return;
    --forks_wanted;
    pid_t child = fork();
    if (!child) {
        forks_wanted = -1;
        return; /* into the interrupted code */
    }
    if (child < 0 || waitpid(child, &status, 0) != child) status = -1;
    if (!status)
        ++forks_recorded;
    else if (!(WIFEXITED(status) && WEXITSTATUS(status) == NOT_RECORDED))
        fork_trouble = status;
    if (!forks_wanted && !forks_recorded && --forks_left >= 0) forks_wanted = 1;
    errno = error;
}

TEST(fork_in_a_signal_handler)
{
    if (TRACE_SANITIZER == 2) SKIP("the thread sanitizer delays signals");
    struct itimerval soon = {{0, 0}, {0, 0}};
    empty_folder();
    parents = trace_config(512u << 10);
    parents.output = trace_path(FOLDER "/a.prof");
    trace_start(&parents);
    struct sigaction action, old;
    memset(&action, 0, sizeof action);
    action.sa_handler = forking_handler;
    action.sa_flags = SA_RESTART;
    sigaction(SIGALRM, &action, &old);
    forks_wanted = (int)trace_times(10, 80, 5000);
    fork_trouble = forks_recorded = 0;
    forks_left = 500; /* more, until one child has recorded */
    int64_t count = 0;
    int armed = 0;
    for (int wanted; (wanted = forks_wanted) > 0; ++count) { /* read once: the last fork leaves no timer behind */
        wanted += forks_left;
        if (armed != wanted) {
            armed = wanted;
            soon.it_value.tv_usec = 50 + armed * 7919 % 200; /* somewhere else each time */
            setitimer(ITIMER_REAL, &soon, NULL);
        }
        PROFILE_SCOPE("scope");
        PROFILE_ARG_I("i", count);
        if (count % 100 == 0) prof_set_level(2 + (int)(count / 100 % 2));
    }
    if (forks_wanted < 0) {
        scopes(1000);
        if (prof_stop() == PROF_OK) _exit(0);
        _exit(prof_enabled() ? 1 : NOT_RECORDED);
    }
    sigaction(SIGALRM, &old, NULL);
    CHECK_EQUAL(fork_trouble, 0);
    trace = trace_stop();
    CHECK_EQUAL(prof_trace_about(trace)->lost, 0);
    CHECK_EQUAL(prof_trace_about(trace)->unmatched, 0);
    list = trace_read(trace, 0);
    for (size_t i = 0; i < list.count; ++i) {
        const prof_value *number = trace_arg(&list.events[list.count - 1 - i], "i");
        CHECK((number && number->as.i == count - 1 - (int64_t)i) || i == list.count - 1);
    }
    done();
    CHECK(forks_recorded > 0);
    CHECK_EQUAL(empty_folder(), 1 + forks_recorded);
}

/*-- handlers of forks that the program has --*/

static int handlers_on;
static void handler_before(void)
{
    if (handlers_on) PROFILE_MARK("before");
}
static void handler_in_parent(void)
{
    if (handlers_on) PROFILE_MARK("parent");
}
static void handler_in_child(void)
{
    if (handlers_on == 1) PROFILE_MARK("child");
    if (handlers_on == 2) CHECK_EQUAL(prof_stop(), PROF_OK); /* wants no trace of children */
}
static void __attribute__((constructor)) handlers_register(void)
{
    pthread_atfork(handler_before, handler_in_parent, handler_in_child);
}

static int has_a_mark(void)
{
    CHECK_EQUAL(prof_enabled(), handlers_on == 1);
    if (handlers_on == 2) return 0;
    trace = trace_stop();
    list = trace_read(trace, 0);
    CHECK(list.count == 1 && !strcmp(list.events[0].name, "child"));
    done();
    return 0;
}

TEST(handlers_of_the_program)
{
    parents = trace_config(256u << 10);
    for (int which = 1; which <= 2; ++which) {
        trace_start(&parents);
        handlers_on = which;
        CHECK_EQUAL(in_child(has_a_mark), 0);
        handlers_on = 0;
        trace = trace_stop();
        list = trace_read(trace, 0);
        CHECK_EQUAL(list.count, 2);
        CHECK_EQUAL(prof_trace_about(trace)->lost, 0);
        done();
    }
}

/*-- while others are busy --*/

static long numbers[4];

static void *records_on_and_on(void *which)
{
    long index = (long)(intptr_t)which;
    char name[16];
    snprintf(name, sizeof name, "thread %ld", index);
    PROFILE_THREAD(name);
    for (long i = 0; !__atomic_load_n(&over, __ATOMIC_ACQUIRE); ++i) {
        PROFILE_SCOPE("scope");
        PROFILE_ARG_I("number", i);
        __atomic_store_n(&numbers[index], i, __ATOMIC_RELEASE);
    }
    return NULL;
}

/* Both the parent's threads and each child have everything, without a gap. */
static void fork_while_threads_record(const char *output)
{
    pthread_t threads[4];
    empty_folder();
    parent = getpid();
    parents = trace_config(1u << 20);
    parents.output = output ? trace_path(output) : NULL;
    PROFILE_THREAD("parent");
    trace_start(&parents);
    over = 0;
    for (int i = 0; i < 4; ++i) {
        numbers[i] = 0;
        pthread_create(&threads[i], NULL, records_on_and_on, (void *)(intptr_t)i);
    }
    for (int i = 0; i < 4; ++i) /* until none begins, when a sanitizer's allocator may be locked, in a child for ever */
        WAIT_UNTIL(__atomic_load_n(&numbers[i], __ATOMIC_ACQUIRE));
    for (int i = 0; i < trace_times(5, 25, 1000) && !test_failures; ++i) {
        CHECK_EQUAL(in_child(i % 3 ? records : does_nothing), 0);
        if (!output) continue;
        CHECK_EQUAL(trace_file_size(file_of("a", last_child, ".prof")) > 0, i % 3 > 0);
        unlink(file_of("a", last_child, ".prof"));
    }
    __atomic_store_n(&over, 1, __ATOMIC_RELEASE);
    for (int i = 0; i < 4; ++i) pthread_join(threads[i], NULL);
    trace = trace_stop();
    CHECK_EQUAL(prof_trace_about(trace)->lost, 0);
    CHECK_EQUAL(prof_trace_about(trace)->unmatched, 0);
    for (size_t track = 0; track < prof_trace_track_count(trace); ++track) {
        const char *name = prof_trace_track(trace, track)->name;
        if (strncmp(name, "thread ", 7)) continue;
        list = trace_read(trace, track);
        int64_t expected = -1;
        for (size_t i = 0; i < list.count; ++i) {
            const prof_value *number = trace_arg(&list.events[i], "number");
            CHECK(!strcmp(list.events[i].name, "scope") && (number || !i));
            if (!number) continue;
            if (expected >= 0) CHECK_EQUAL(number->as.i, expected);
            expected = number->as.i + 1;
        }
        if (list.count) CHECK_EQUAL(expected, numbers[atoi(name + 7)] + 1);
        trace_free(&list);
    }
    done();
    CHECK_EQUAL(prof_reset(), PROF_OK);
    CHECK_EQUAL(empty_folder(), output ? 1 : 0);
}

TEST(fork_while_threads_record)
{
    if (TRACE_SANITIZER == 2) SKIP("the thread sanitizer can hang in a fork while threads run");
    fork_while_threads_record(NULL);
    fork_while_threads_record(FOLDER "/a.prof");
}

static void *controls(void *unused)
{
    prof_config config = trace_config(128u << 10);
    while (!__atomic_load_n(&over, __ATOMIC_ACQUIRE)) {
        prof_trace *snapshot = NULL;
        prof_start(&config);
        PROFILE_MARK("mark");
        prof_pause();
        prof_category_enable("a*", 0);
        prof_category_enable("b*", 1);
        prof_resume();
        if (!prof_trace_open_live(&snapshot)) prof_trace_close(snapshot);
        prof_stop();
        prof_reset();
    }
    return unused;
}

static void *ends_at_once(void *unused)
{
    PROFILE_MARK("mark");
    return unused;
}

static void *makes_threads(void *unused)
{
    while (!__atomic_load_n(&over, __ATOMIC_ACQUIRE)) {
        pthread_t thread;
        if (!pthread_create(&thread, NULL, ends_at_once, NULL)) pthread_join(thread, NULL);
    }
    return unused;
}

/* The child finds whatever state there was. */
static int copes(void)
{
    while (prof_resume() == PROF_OK) continue;
    int running = prof_enabled();
    scopes(1000);
    CHECK_EQUAL(prof_enabled(), running);
    if (running) {
        trace = trace_live();
        list = trace_read(trace, 0);
        check_scopes(1000);
        done();
    }
    CHECK_EQUAL(prof_stop(), running ? PROF_OK : PROF_INVALID_STATE);
    starts_its_own();
    return 0;
}

/* The fork may come in the middle of any control function, and of the beginning and end of a thread. */
TEST(fork_while_others_control)
{
    if (TRACE_SANITIZER == 2) SKIP("the thread sanitizer can hang in a fork while threads run");
    if (TRACE_SANITIZER == 1) SKIP("the address sanitizer can hang in a fork while threads allocate");
    pthread_t threads[2];
    over = 0;
    pthread_create(&threads[0], NULL, controls, NULL);
    pthread_create(&threads[1], NULL, makes_threads, NULL);
    for (int i = 0; i < trace_times(20, 80, 5000) && !test_failures; ++i) {
        CHECK_EQUAL(in_child(copes), 0);
        pause_ms(i % 3 == 0);
    }
    __atomic_store_n(&over, 1, __ATOMIC_RELEASE);
    for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
    CHECK_EQUAL(prof_reset(), PROF_OK);
}

/* The child of a thread that is not the first, with threads of its own. */
static void *has_a_scope(void *unused)
{
    PROFILE_THREAD("thread of the child");
    scopes(100);
    return unused;
}

static int makes_a_thread(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, has_a_scope, NULL); /* this is where the image is made */
    pthread_join(thread, NULL);
    scopes(100);
    trace = trace_live();
    CHECK_EQUAL(prof_trace_track_count(trace), 2);
    for (size_t i = 0; i < 2; ++i) {
        CHECK_TEXT(prof_trace_track(trace, i)->name, i ? "forks" : "thread of the child");
        list = trace_read(trace, i);
        check_scopes(100);
        trace_free(&list);
    }
    done();
    return 0;
}

static void *forks(void *unused)
{
    PROFILE_THREAD("forks");
    PROFILE_SCOPE("forks");
    CHECK_EQUAL(in_child(makes_a_thread), 0);
    return unused;
}

TEST(fork_on_another_thread)
{
    if (TRACE_SANITIZER == 2) SKIP("the thread sanitizer can hang in a fork while threads run");
    pthread_t thread;
    parents = trace_config(256u << 10);
    trace_start(&parents);
    PROFILE_MARK("first");
    pthread_create(&thread, NULL, forks, NULL);
    pthread_join(thread, NULL);
    trace = trace_stop();
    CHECK_EQUAL(prof_trace_about(trace)->event_count, 2);
    CHECK_EQUAL(prof_trace_track_count(trace), 2);
    prof_trace_close(trace);
}

TEST_MAIN
