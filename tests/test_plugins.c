/* Shared libraries: one recorder for a program and its plugins, whether they have only markup or a copy of the
   implementation; or one each, if they ask for it. Plugins come and go. */
/* run: valgrind unraced unchecked */
#define PROF_IMPLEMENTATION
#include "../prof_read.h"
#include "test.h"
#include "trace.h"
#include "plugin.h"
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#define COPIES 6

#ifdef __GLIBC__
#define UNLOADS 1
#else
#define UNLOADS 0 /* musl's dlclose() does nothing */
#endif

static prof_trace *trace;
static trace_list list;

static void done(void)
{
    trace_free(&list);
    prof_trace_close(trace);
    trace = NULL;
}

/* A file that stands beside this program; where plugins are built in the same folder. */
static const char *beside(const char *name)
{
    static char paths[4][1024];
    static unsigned next;
    char *path = paths[next++ % 4];
    ssize_t n = readlink("/proc/self/exe", path, sizeof paths[0] - 64);
    path[n > 0 ? n : 0] = 0;
    char *slash = strrchr(path, '/');
    strcpy(slash ? slash + 1 : path, name);
    return path;
}

/* A new file with the same bytes, so that the loader takes it for another library. */
static const char *copy_to(const char *from, const char *name)
{
    size_t size = 0;
    const char *path = trace_path(name);
    char *bytes = trace_file_text(from, &size);
    CHECK(bytes != NULL);
    unlink(path); /* a library that is still loaded keeps its file */
    trace_write_file(path, bytes, size);
    free(bytes);
    return path;
}

static const plugin *load(const char *path, void **library)
{
    plugin_get_function *get;
    *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *symbol = *library ? dlsym(*library, "plugin_get") : NULL;
    if (!symbol) {
        printf("%s\n", dlerror());
        exit(1);
    }
    memcpy(&get, &symbol, sizeof get);
    return get();
}

static const plugin *load_number(int number, void **library)
{
    char name[32];
    snprintf(name, sizeof name, "plugin_%d.so", number);
    return load(beside(name), library);
}

static void starts(size_t buffer, const char *output)
{
    prof_config config = trace_config(buffer);
    config.output = output;
    trace_start(&config);
}

static int64_t number_of(const prof_event *event)
{
    const prof_value *number = trace_arg(event, "i");
    CHECK(number != NULL);
    return number ? number->as.i : -1;
}

/* An event of plugin number n, as it must look. */
static void check_event(const prof_event *event, int n)
{
    char name[32], category[32];
    snprintf(name, sizeof name, "plugin %d", n);
    snprintf(category, sizeof category, "category %d", n);
    CHECK_TEXT(event->name, name);
    CHECK_TEXT(event->site->category, category);
    CHECK_TEXT(event->site->function, "scopes");
    CHECK(strstr(event->site->file, "plugin.c") != NULL);
    CHECK(event->site->line / 1000 % 10 == (uint32_t)n);
}

TEST(plugins_with_markup)
{
    void *libraries[3];
    starts(1u << 20, NULL);
    for (int i = 0; i < 3; ++i) {
        const plugin *each = load_number(i + 1, &libraries[i]);
        PROFILE_SCOPE("program");
        each->scopes(10, i * 10);
    }
    for (int i = 0; i < 3; ++i) dlclose(libraries[i]);
    trace = trace_stop();
    list = trace_read(trace, 0);
    CHECK_EQUAL(prof_trace_track_count(trace), 1);
    CHECK_EQUAL(list.count, 33);
    for (int64_t i = 0, at = 0; at < (int64_t)list.count; ++at) {
        if (at % 11 == 0) {
            CHECK_TEXT(list.events[at].name, "program");
            continue;
        }
        CHECK_EQUAL(list.events[at].depth, 1);
        CHECK_EQUAL(number_of(&list.events[at]), i);
        check_event(&list.events[at], (int)(i++ / 10) + 1);
    }
    done();
}

/* The numbers of one name, of which each plugin has another unit, are not added to each other. */
TEST(counters_of_plugins)
{
    void *libraries[3];
    const plugin *each[3];
    starts(1u << 20, NULL);
    for (int i = 0; i < 3; ++i) each[i] = load_number(i + 1, &libraries[i]);
    for (int i = 0; i < 6; ++i) each[i % 3]->count();
    for (int i = 0; i < 3; ++i) dlclose(libraries[i]);
    trace = trace_stop();
    list = trace_read(trace, 0);
    CHECK_EQUAL(list.count, 6);
    for (int i = 0; i < 6 && (size_t)i < list.count; ++i) {
        char unit[32];
        snprintf(unit, sizeof unit, "unit %d", i % 3 + 1);
        CHECK_TEXT(list.events[i].site->unit, unit);
        CHECK_TEXT(list.events[i].site->category, "all");
        CHECK_EQUAL(list.events[i].value.as.i, (int64_t)((i / 3 + 1) * (i % 3 + 1)));
    }
    done();
}

/* All of them load, although each brings thread-local storage of the scarce kind; and none of them records by
   itself. */
TEST(plugins_with_copies_of_the_implementation)
{
    void *libraries[COPIES];
    const plugin *each[COPIES];
    CHECK_EQUAL(prof_save(trace_path("plugins.json")), PROF_INVALID_ARGUMENT);
    for (int i = 0; i < COPIES; ++i) {
        char name[32];
        snprintf(name, sizeof name, "plugin_own_%d.so", i);
        each[i] = load(copy_to(beside("plugin_own.so"), name), &libraries[i]);
        CHECK_EQUAL(each[i]->enabled(), 0);
        CHECK_EQUAL(each[i]->stop(), PROF_INVALID_STATE);
    }
    prof_config config = trace_config(1u << 20);
    CHECK_EQUAL(each[COPIES - 1]->start(&config), PROF_OK);
    CHECK_EQUAL(prof_enabled(), 1);
    for (int i = 0; i < COPIES; ++i) {
        PROFILE_SCOPE("program");
        CHECK_EQUAL(each[i]->start(NULL), PROF_INVALID_STATE);
        CHECK_TEXT(each[i]->error(), prof_error());
        CHECK_EQUAL(each[i]->set_paused(1), PROF_OK);
        each[i]->scopes(10, 1000);
        CHECK_EQUAL(each[i]->set_paused(0), PROF_OK);
        each[i]->scopes(10, i * 10);
        CHECK_EQUAL(each[i]->dump(0), PROF_INVALID_STATE);
        CHECK(strstr(prof_error(), "the session has no output"));
    }
    trace = trace_live();
    list = trace_read(trace, 0);
    CHECK_EQUAL(prof_trace_track_count(trace), 1);
    CHECK_EQUAL(list.count, COPIES * 11);
    CHECK_EQUAL(prof_trace_about(trace)->lost, 0);
    for (int64_t i = 0, at = 0; at < (int64_t)list.count; ++at) {
        if (at % 11 == 0) continue;
        CHECK_EQUAL(number_of(&list.events[at]), i++);
        check_event(&list.events[at], 5);
    }
    done();
    /* what they have registered goes when they go */
    CHECK_EQUAL(prof_save(trace_path("plugins.json")), PROF_OK);
    CHECK_EQUAL(each[2]->save(trace_path("plugins.json")), PROF_OK);
    for (int i = 0; i < COPIES; ++i) {
        CHECK_EQUAL(prof_save(trace_path("plugins.json")), PROF_OK);
        CHECK_EQUAL(prof_save(trace_path("plugins.plugin")), PROF_OK);
        dlclose(libraries[i]);
    }
    if (UNLOADS) CHECK_EQUAL(prof_save(trace_path("plugins.json")), PROF_INVALID_ARGUMENT);
    if (UNLOADS) CHECK_EQUAL(prof_save(trace_path("plugins.plugin")), PROF_INVALID_ARGUMENT);
    CHECK_EQUAL(prof_stop(), PROF_OK);
}

/* Calls its own functions, but finds the program's data: its calls are handed on. */
TEST(plugin_linked_with_bsymbolic_functions)
{
    void *library;
    if (access(beside("plugin_symbolic.so"), R_OK)) SKIP("the linker has no -Bsymbolic-functions");
    starts(1u << 20, NULL);
    const plugin *symbolic = load(beside("plugin_symbolic.so"), &library);
    for (int i = 0; i < 10; ++i) {
        PROFILE_SCOPE("program");
        PROFILE_ARG_I("i", i);
        symbolic->scopes(10, i * 10);
        prof_set_level(2 + i % 2);
        CHECK_EQUAL(symbolic->start(NULL), PROF_INVALID_STATE);
        CHECK_TEXT(symbolic->error(), prof_error());
    }
    dlclose(library);
    trace = trace_stop();
    list = trace_read(trace, 0);
    CHECK_EQUAL(prof_trace_track_count(trace), 1);
    CHECK_EQUAL(list.count, 110);
    for (size_t i = 0; i < list.count; ++i) {
        CHECK_EQUAL(number_of(&list.events[i]), i % 11 ? i / 11 * 10 + i % 11 - 1 : i / 11);
        CHECK_EQUAL(list.events[i].flags, 0);
        if (i % 11) check_event(&list.events[i], 5);
    }
    CHECK_EQUAL(prof_trace_about(trace)->lost, 0);
    done();
}

TEST(plugins_that_are_isolated)
{
    void *libraries[COPIES];
    const plugin *each[COPIES];
    char name[64];
    starts(1u << 20, NULL);
    for (int i = 0; i < COPIES; ++i) {
        snprintf(name, sizeof name, "plugin_alone_%d.so", i);
        each[i] = load(copy_to(beside("plugin_alone.so"), name), &libraries[i]);
        CHECK_EQUAL(each[i]->enabled(), 0);
        snprintf(name, sizeof name, i % 2 ? "alone_%d.prof" : "alone_%d.json", i);
        prof_config config = trace_config(256u << 10);
        config.output = trace_path(name);
        CHECK_EQUAL(each[i]->start(&config), PROF_OK);
    }
    for (int k = 0; k < 100; ++k) {
        PROFILE_SCOPE("program");
        PROFILE_ARG_I("i", k);
        each[k % COPIES]->scopes(10, k * 10);
        if (k % 9 == 8) prof_set_level(2 + k % 2);
    }
    for (int i = 0; i < COPIES; ++i) {
        CHECK_EQUAL(each[i]->stop(), PROF_OK);
        CHECK_EQUAL(each[i]->enabled(), 0);
        dlclose(libraries[i]);
    }
    CHECK_EQUAL(prof_enabled(), 1);
    trace = trace_stop();
    list = trace_read(trace, 0);
    CHECK_EQUAL(list.count, 100);
    CHECK_EQUAL(trace_count(&list, "program"), 100);
    CHECK_EQUAL(prof_trace_about(trace)->event_count, 100);
    done();
    for (int i = 0; i < COPIES; ++i) {
        snprintf(name, sizeof name, i % 2 ? "alone_%d.prof" : "alone_%d.json", i);
        if (i % 2 == 0) {
            char *text = trace_file_text(trace_path(name), NULL);
            CHECK(text && strstr(text, "plugin 7") && strstr(text, "more") && !strstr(text, "\"name\":\"program\""));
            free(text);
            continue;
        }
        trace = trace_open_file(trace_path(name));
        if (!trace) continue;
        list = trace_read(trace, 0);
        CHECK_EQUAL(list.count, 2 * 10 * (100 / COPIES + (i < 100 % COPIES)));
        for (size_t at = 0; at < list.count; ++at) {
            int64_t number = number_of(&list.events[at]);
            CHECK_EQUAL(number / 10 % COPIES, i);
            CHECK_EQUAL(list.events[at].depth, at % 2);
            if (at % 2 == 0) check_event(&list.events[at], 7);
            if (at % 2 == 1) CHECK_TEXT(list.events[at].name, "more");
        }
        done();
    }
}

static long resident(void) /* KiB; 0: not known */
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file && fscanf(file, "%*d %ld", &pages) != 1) pages = 0;
    if (file) fclose(file);
    return pages * 4;
}

/* Ten plugins take turns under one file name, most of them at the address of the one before. */
TEST(reload)
{
    int times = (int)trace_times(60, 1000, 10000), reused = 0;
    long before = 0;
    uint64_t used = 0;
    const void *last = NULL;
    char name[32];
    starts(4u << 20, NULL);
    for (int i = 0; i < times; ++i) {
        void *library;
        snprintf(name, sizeof name, "plugin_%d.so", i % 10);
        const plugin *each = load(copy_to(beside(name), "plugin.so"), &library);
        each->scopes(3, i);
        reused += last == each->site;
        last = each->site;
        dlclose(library);
        if (i == 30) {
            before = resident();
            used = prof__state.session->header->meta_used;
        }
    }
    CHECK_EQUAL(prof__state.session->header->meta_used, used);
    if (UNLOADS && !TRACE_SANITIZER) CHECK(resident() < before + 4096);
    if (UNLOADS && !TRACE_SANITIZER) CHECK(reused > times / 2);
    trace = trace_stop();
    list = trace_read(trace, 0);
    CHECK_EQUAL(prof_trace_about(trace)->lost, 0);
    CHECK_EQUAL(list.count, times * 3);
    for (int i = 0; i < (int)list.count; ++i) {
        CHECK_EQUAL(number_of(&list.events[i]), i / 3 + i % 3);
        check_event(&list.events[i], i / 3 % 10);
    }
    done();
    CHECK_EQUAL(prof_reset(), PROF_OK);
}

/* Threads that have called plugins which are gone. */
static pthread_barrier_t barrier;
static const plugin *present;

static void *calls(void *unused)
{
    PROFILE_THREAD("calls");
    for (;;) {
        pthread_barrier_wait(&barrier);
        if (!present) break;
        present->scopes(10, 0);
        pthread_barrier_wait(&barrier);
    }
    PROFILE_BLOCK("after") {}
    return unused;
}

TEST(threads_and_plugins)
{
    void *library, *other;
    pthread_t thread;
    starts(1u << 20, NULL);
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_create(&thread, NULL, calls, NULL);
    for (int i = 0; i < 10; ++i) {
        present = load_number(i, &library);
        const plugin *with_thread = load_number((i + 1) % 10, &other);
        CHECK(with_thread->thread_begin());
        pthread_barrier_wait(&barrier);
        pthread_barrier_wait(&barrier);
        dlclose(library);
        CHECK(with_thread->thread_end()); /* ends after the plugin beside it is gone */
        dlclose(other);
    }
    present = NULL;
    pthread_barrier_wait(&barrier);
    pthread_join(thread, NULL);
    pthread_barrier_destroy(&barrier);
    trace = trace_stop();
    CHECK_EQUAL(prof_trace_track_count(trace), 11 + 1);
    CHECK_EQUAL(prof_trace_about(trace)->lost, 0);
    list = trace_read(trace, trace_track_named(trace, "calls"));
    CHECK_EQUAL(list.count, 101);
    for (int i = 0; i < 100 && i < (int)list.count; ++i) check_event(&list.events[i], i / 10);
    CHECK_EQUAL(trace_count(&list, "after"), 1);
    done();
}

/* Markup in inline functions of C++ does not keep a plugin loaded. */
TEST(plugin_in_cpp)
{
    void *library;
    const char *path = beside("plugin_cpp.so");
    if (access(path, R_OK)) SKIP("no C++ compiler");
    starts(1u << 20, NULL);
    for (int i = 0; i < 5; ++i) {
        const plugin *each = load(path, &library);
        each->scopes(10, i * 10);
        dlclose(library);
        if (UNLOADS) CHECK(!dlopen(path, RTLD_NOW | RTLD_NOLOAD));
    }
    trace = trace_stop();
    list = trace_read(trace, 0);
    CHECK_EQUAL(list.count, 100);
    for (size_t i = 0; i < list.count; ++i) {
        CHECK_TEXT(list.events[i].name, i % 2 ? "template" : "inline");
        CHECK_EQUAL(number_of(&list.events[i]), i / 2);
    }
    done();
}

/*-- recorders in plugins of a program that has none, or does not show its own --*/

static char *run_program(const char *program, const char *output, const char *a, const char *b, const char *c, const char *d)
{
    int status = 0;
    char out[256];
    snprintf(out, sizeof out, "%s", trace_path("plugin_host.out"));
    fflush(stdout);
    pid_t child = fork();
    if (!child) {
        unsetenv("PROF_OUTPUT");
        if (output) setenv("PROF_OUTPUT", output, 1);
        if (!freopen(out, "w", stdout) || dup2(1, 2) < 0) _exit(98);
        execl(beside(program), program, a, b, c, d, (char *)NULL);
        _exit(99);
    }
    CHECK(waitpid(child, &status, 0) == child);
    char *text = trace_file_text(out, NULL);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    if (status && text) printf("%s\n", text);
    return text;
}

static char *run_host(const char *output, const char *a, const char *b, const char *c, const char *d)
{
    return run_program("plugin_host", output, a, b, c, d);
}

TEST(recorder_that_is_unloaded)
{
    char times[16];
    if (!UNLOADS) SKIP("this libc unloads nothing");
    if (TRACE_SANITIZER == 2) SKIP("the thread sanitizer calls functions given to atexit() when their library is gone");
    snprintf(times, sizeof times, "%ld", trace_times(20, 200, 2000));
    free(run_host(NULL, "reload", beside("plugin_own.so"), "stop", times));
    free(run_host(NULL, "reload", beside("plugin_own.so"), "go", times));
    free(run_host(NULL, "reload", beside("plugin_alone.so"), "stop", times));
    free(run_host(NULL, "reload", beside("plugin_alone.so"), "go", times));
}

/* A recorder that a plugin brings starts by PROF_OUTPUT as one of the program would, and ends when the plugin goes. */
TEST(recorder_that_starts_by_itself_and_is_unloaded)
{
    char path[256];
    if (TRACE_SANITIZER == 2) SKIP("the thread sanitizer calls functions given to atexit() when their library is gone");
    snprintf(path, sizeof path, "%s", trace_path("plugin_auto.json"));
    unlink(path);
    char *said = run_host(path, "all", beside("plugin_own.so"), NULL, NULL);
    CHECK_TEXT(said ? said : "", "1 running\n");
    free(said);
    char *text = trace_file_text(path, NULL);
    CHECK(text && strstr(text, "plugin 5"));
    free(text);
    unlink(path);
    said = run_host(path, "all", beside("plugin_alone.so"), NULL, NULL); /* an isolated one does not */
    CHECK_TEXT(said ? said : "", "0 running\n");
    free(said);
    CHECK_EQUAL(trace_file_size(path), -1);
}

/* A program without -rdynamic and plugins of its own kind: one recording. */
TEST(copies_that_the_loader_keeps_apart)
{
    char path[256], first[1024], second[1024];
    snprintf(path, sizeof path, "%s", trace_path("plugin_apart.prof"));
    snprintf(first, sizeof first, "%s", copy_to(beside("plugin_own.so"), "plugin_apart_0.so"));
    snprintf(second, sizeof second, "%s", copy_to(beside("plugin_own.so"), "plugin_apart_1.so"));
    for (int recorder = 0; recorder < 2; ++recorder) {
        if (!recorder && TRACE_SANITIZER == 2) continue; /* see below */
        unlink(path);
        char *said = run_program(recorder ? "plugin_host_own" : "plugin_host", path, "all", first, second, NULL);
        CHECK_TEXT(said ? said : "", "2 running\n");
        free(said);
        trace = trace_open_file(path);
        if (!trace) continue;
        CHECK_EQUAL(prof_trace_track_count(trace), 1);
        CHECK_EQUAL(prof_trace_about(trace)->lost, 0);
        list = trace_read(trace, 0);
        CHECK_EQUAL(trace_count(&list, "host"), recorder);
        CHECK_EQUAL(trace_count(&list, "plugin 5"), 200);
        for (size_t i = 0; i < 200 && i + (size_t)recorder < list.count; ++i)
            CHECK_EQUAL(number_of(&list.events[i + (size_t)recorder]), i);
        done();
        unlink(path);
    }
    unlink(first);
    unlink(second);
}

/* The first one records for all, also when the program has let it go; nobody runs short of thread-local storage. */
TEST(many_copies)
{
    char path[256], pattern[256], each[300];
    if (TRACE_SANITIZER == 2) SKIP("the thread sanitizer calls functions given to atexit() when their library is gone");
    snprintf(path, sizeof path, "%s", trace_path("plugin_many.prof"));
    snprintf(pattern, sizeof pattern, "%s", trace_path("plugin_many.so"));
    for (int i = 0; i < 50; ++i) {
        snprintf(each, sizeof each, "plugin_many.so.%d", i);
        copy_to(beside("plugin_small.so"), each);
    }
    unlink(path);
    free(run_host(path, "many", pattern, NULL, NULL));
    for (int i = 0; i < 50; ++i) {
        snprintf(each, sizeof each, "%s.%d", pattern, i);
        unlink(each);
    }
    trace = trace_open_file(path);
    if (!trace) return;
    CHECK_EQUAL(prof_trace_track_count(trace), 2);
    CHECK_EQUAL(prof_trace_about(trace)->lost, 0);
    CHECK_EQUAL(prof_trace_about(trace)->event_count, 50 * 10 * 2 + 49);
    done();
    unlink(path);
}

/* Recorders for themselves that are told one file write one each. */
TEST(isolated_recorders_and_one_output)
{
    char path[256], own[256], first[1024], second[1024];
    if (TRACE_SANITIZER == 2) SKIP("the thread sanitizer calls functions given to atexit() when their library is gone");
    snprintf(path, sizeof path, "%s", trace_path("plugin_alone.json"));
    snprintf(own, sizeof own, "%s", trace_path("plugin_alone.plugin_auto_1.json"));
    snprintf(first, sizeof first, "%s", copy_to(beside("plugin_auto.so"), "plugin_auto_0.so"));
    snprintf(second, sizeof second, "%s", copy_to(beside("plugin_auto.so"), "plugin_auto_1.so"));
    unlink(path);
    unlink(own);
    char *said = run_host(path, "all", first, second, NULL);
    CHECK(said && strstr(said, "2 running\n"));
    CHECK(said && strstr(said, "another recorder of this process"));
    CHECK(said && strstr(said, own));
    free(said);
    char *text = trace_file_text(path, NULL), *more = trace_file_text(own, NULL);
    CHECK(text && strstr(text, "\"i\":99") && !strstr(text, "\"i\":100"));
    CHECK(more && !strstr(more, "\"i\":99}") && strstr(more, "\"i\":100"));
    free(text);
    free(more);
    unlink(path);
    unlink(own);
    unlink(first);
    unlink(second);
}

int main(int argc, char **argv)
{
    int result = test_run(argc, argv);
    if (TRACE_SANITIZER == 2) { /* it would call what unloaded recorders gave to atexit() */
        fflush(stdout);
        _exit(result);
    }
    return result;
}
