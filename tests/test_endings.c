/* How programs end, and what is then left of their recordings: by themselves, by signals, in another directory, as
   children of others, two at a time. The programs are this one, told by ENDING what to do. */
/* run: unraced */
#include "../prof_read.h"
#include "test.h"
#include "trace.h"
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[400]; /* this test's own, absolute */

/* An empty folder of this name for what the programs leave. */
static void folder_make(const char *name)
{
    char command[900];
    const char *path = trace_path(name);
    snprintf(command, sizeof command, "rm -rf '%s' && mkdir -p '%s'", path, path);
    CHECK_EQUAL(system(command), 0);
    char *absolute = realpath(path, NULL);
    CHECK(absolute && strlen(absolute) < sizeof folder);
    snprintf(folder, sizeof folder, "%s", absolute ? absolute : "");
    free(absolute);
}

/* A path in it; good until the eighth call from now. */
static const char *in_folder(const char *name)
{
    static char paths[8][512];
    static unsigned next;
    char *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

/* How many files the folder has that match. */
static size_t files(const char *pattern)
{
    glob_t found;
    size_t count = glob(in_folder(pattern), 0, NULL, &found) ? 0 : found.gl_pathc;
    globfree(&found);
    return count;
}

/* 1: there is a file of this name, with this text in it. */
static int file_has(const char *name, const char *text)
{
    char *all = trace_file_text(in_folder(name), NULL);
    int has = all && strstr(all, text) != NULL;
    if (!has) printf("%s has no \"%s\": %.300s\n", name, text, all ? all : "(there is no such file)");
    free(all);
    return has;
}

/* How many scopes of this name an image in the folder has; -1: there is no image. */
static long image_count(const char *name, const char *scope)
{
    prof_trace *trace;
    long count = 0;
    if (prof_trace_open(in_folder(name), &trace)) return -1;
    for (size_t i = 0; i < prof_trace_track_count(trace); ++i) {
        trace_list list = trace_read(trace, i);
        count += (long)trace_count(&list, scope);
        trace_free(&list);
    }
    prof_trace_close(trace);
    return count;
}

/*-- the programs --*/

/* Ends after a minute, if nothing ends it before; signals do not end the wait. */
static void wait_for_end(void)
{
    for (int i = 0; i < 6000; ++i) pause_ms(10);
}

static void say(const char *text)
{
    ssize_t n = write(1, text, strlen(text));
    (void)n;
}

static int starts(const char *output)
{
    prof_config config;
    memset(&config, 0, sizeof config);
    config.output = output;
    config.buffer_size = 1u << 20;
    return prof_start(&config) == PROF_OK;
}

static int program(const char *way)
{
    const char *argument = getenv("ENDING_ARGUMENT");
    int returns = !strcmp(way, "return"), moves = !strcmp(way, "move");
    if (returns && !starts(argument)) return 1;
    { PROFILE_SCOPE("work"); }
    if (moves) {
        if (chdir("/")) return 1;
        PROFILE_SCOPE("elsewhere");
    }
    if (returns || moves) return 42;
    if (!strcmp(way, "wait")) {
        say("!");
        wait_for_end();
    }
    if (!strcmp(way, "_exit")) _exit(42);
    if (!strcmp(way, "exec")) execl("/bin/true", "true", (char *)NULL);
    if (!strcmp(way, "children")) {
        for (int i = 0; i < 3; ++i) {
            pid_t child = fork();
            if (!child) {
                { PROFILE_SCOPE("in a child"); }
                _exit(0);
            }
            if (waitpid(child, NULL, 0) != child) return 1;
        }
        return 42;
    }
    if (!strcmp(way, "again")) {
        prof_config config;
        memset(&config, 0, sizeof config);
        if (prof_config_set(&config, "buffer", "1M")) return 1;
        config.output = argument;
        for (int i = 0; i < 3; ++i) {
            if (prof_start(&config)) return 2;
            { PROFILE_SCOPE_DYNAMIC(i == 0 ? "first" : i == 1 ? "second" : "third"); }
            if (prof_stop()) return 3;
        }
        return 42;
    }
    return 99;
}

/* Starts one, in the folder; up to three variables. What it says goes to *out, unless that is null. */
static pid_t begin(const char *way, int *out, const char *const (*variables)[2])
{
    int ends[2] = {-1, -1};
    if (out) CHECK(!pipe(ends));
    fflush(stdout);
    pid_t child = fork();
    if (!child) {
        int errors = open(in_folder("stderr"), O_WRONLY | O_CREAT | O_APPEND, 0666);
        setenv("ENDING", way, 1);
        for (int i = 0; variables && variables[i][0]; ++i) setenv(variables[i][0], variables[i][1], 1);
        if (out) dup2(ends[1], 1);
        dup2(errors, 2);
        if (out) close(ends[0]), close(ends[1]);
        close(errors);
        char self[1024];
        ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
        if (n <= 0 || chdir(folder)) _exit(98);
        self[n] = 0;
        execl(self, self, (char *)NULL);
        _exit(98);
    }
    if (out) {
        close(ends[1]);
        *out = ends[0];
    }
    return child;
}

/* Its exit status, or 1000 and the signal that ended it. */
static int end_of(pid_t child)
{
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child);
    return WIFSIGNALED(status) ? 1000 + WTERMSIG(status) : WEXITSTATUS(status);
}

static int run(const char *way, const char *const (*variables)[2]) { return end_of(begin(way, NULL, variables)); }

/* Waits until it has said something. */
static int has_said(int out)
{
    char byte;
    ssize_t n;
    do n = read(out, &byte, 1);
    while (n < 0 && errno == EINTR);
    return n == 1;
}

/*-- the tests --*/

/* prof_start(), and return from main without prof_stop(). */
TEST(return_from_main_writes)
{
    static const char *const outputs[] = {"r.json", "r.csv", "r.txt", "r.prof"};
    folder_make("endings-return");
    for (size_t i = 0; i < 4; ++i) {
        const char *const variables[][2] = {{"ENDING_ARGUMENT", outputs[i]}, {NULL, NULL}};
        CHECK_EQUAL(run("return", variables), 42);
        if (i < 3) CHECK(file_has(outputs[i], "work"));
    }
    CHECK_EQUAL(image_count("r.prof", "work"), 1);
    CHECK_EQUAL(files("*"), 5);
    CHECK_EQUAL(trace_file_size(in_folder("stderr")), 0);
}

/* Outputs are where the program was when it started. */
TEST(directory_changes)
{
    static const char *const outputs[] = {"m.json", "m.csv", "m.prof", "m-%n.txt"};
    folder_make("endings-directory");
    for (size_t i = 0; i < 4; ++i) {
        const char *const variables[][2] = {{"PROF_OUTPUT", outputs[i]}, {NULL, NULL}};
        CHECK_EQUAL(run("move", variables), 42);
    }
    CHECK(file_has("m.json", "elsewhere") && file_has("m.csv", "elsewhere"));
    CHECK(file_has("m-test_endings.txt", "elsewhere"));
    CHECK_EQUAL(image_count("m.prof", "elsewhere"), 1);
    CHECK_EQUAL(trace_file_size(in_folder("stderr")), 0);
}

/* Whatever ends a program, what it has recorded is beside the output that it could not write any more. */
TEST(signals_leave_the_recording)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGKILL};
    static const char *const outputs[] = {"s.json", "s.csv", "s.txt", "s-%p.json"};
    for (size_t i = 0; i < 4; ++i) {
        const char *const variables[][2] = {{"PROF_OUTPUT", outputs[i]}, {NULL, NULL}};
        char image[64];
        int out;
        folder_make("endings-signals");
        pid_t child = begin("wait", &out, variables);
        CHECK(has_said(out));
        kill(child, signals[i]);
        CHECK_EQUAL(end_of(child), 1000 + signals[i]);
        close(out);
        snprintf(image, sizeof image, "%s.prof", outputs[i]);
        if (i == 3) snprintf(image, sizeof image, "s-%ld.json.prof", (long)child);
        CHECK_EQUAL(image_count(image, "work"), 1);
        CHECK_EQUAL(files("*"), 2); /* with what it said */
    }
}

/* A leftover has another name once the program runs again, and is named; a run that ends well leaves none. */
TEST(next_run_keeps_what_was_left)
{
    const char *const variables[][2] = {{"PROF_OUTPUT", "n.json"}, {NULL, NULL}};
    const char *const replaces[][2] = {{"PROF_OUTPUT", "n.json"}, {"PROF_EXISTING", "replace"}, {NULL, NULL}};
    folder_make("endings-next");
    CHECK_EQUAL(run("_exit", variables), 42);
    CHECK_EQUAL(image_count("n.json.prof", "work"), 1);
    CHECK_EQUAL(trace_file_size(in_folder("stderr")), 0);
    CHECK_EQUAL(run("move", variables), 42);
    CHECK(file_has("stderr", "n.json.old.prof holds the recording of an earlier program"));
    CHECK_EQUAL(image_count("n.json.old.prof", "work"), 1);
    CHECK_EQUAL(image_count("n.json.old.prof", "elsewhere"), 0);
    CHECK(file_has("n.json", "elsewhere"));
    CHECK_EQUAL(files("*"), 3);
    unlink(in_folder("n.json.old.prof"));
    CHECK_EQUAL(run("_exit", variables), 42);
    CHECK_EQUAL(run("move", replaces), 42); /* replaces the output: what lies beside it is another's recording */
    CHECK_EQUAL(image_count("n.json.old.prof", "work"), 1);
}

/* A .prof that was not ended is kept as well; one that was ended is replaced, and so is whatever is there on request. */
TEST(next_run_keeps_an_unended_recording)
{
    const char *const variables[][2] = {{"PROF_OUTPUT", "n.prof"}, {NULL, NULL}};
    const char *const replaces[][2] = {{"PROF_OUTPUT", "n.prof"}, {"PROF_EXISTING", "replace"}, {NULL, NULL}};
    folder_make("endings-unended");
    CHECK_EQUAL(run("_exit", variables), 42);
    CHECK_EQUAL(run("move", variables), 42);
    CHECK(file_has("stderr", "n.old.prof holds the recording of an earlier program"));
    CHECK_EQUAL(image_count("n.old.prof", "work"), 1);
    unlink(in_folder("stderr")); /* to which each run adds */
    CHECK_EQUAL(run("move", variables), 42);
    CHECK_EQUAL(trace_file_size(in_folder("stderr")), 0);
    CHECK_EQUAL(image_count("n.prof", "elsewhere"), 1);
    CHECK_EQUAL(files("*"), 3);
    unlink(in_folder("n.old.prof"));
    CHECK_EQUAL(run("_exit", variables), 42);
    CHECK_EQUAL(run("move", replaces), 42);
    CHECK_EQUAL(files("*"), 2);
}

/* Ends that nobody sees leave no empty files. */
TEST(no_file_is_empty)
{
    static const char *const ways[] = {"_exit", "exec"};
    const char *const variables[][2] = {{"PROF_OUTPUT", "e-%p.json"}, {NULL, NULL}};
    folder_make("endings-empty");
    for (size_t i = 0; i < 2; ++i) CHECK_EQUAL(run(ways[i], variables), i ? 0 : 42);
    CHECK_EQUAL(files("e-*.json"), 0);
    CHECK_EQUAL(files("e-*.json.prof"), 2);
    CHECK_EQUAL(files("*"), 3);
}

/* What the workers of a pool do that end by _exit(), as those of Python's multiprocessing. */
TEST(children_that_end_by_exit)
{
    static const char *const outputs[] = {"c.json", "c-%p.csv", "c.prof"};
    for (size_t i = 0; i < 3; ++i) {
        const char *const variables[][2] = {{"PROF_OUTPUT", outputs[i]}, {NULL, NULL}};
        glob_t found;
        folder_make("endings-children");
        CHECK_EQUAL(run("children", variables), 42);
        CHECK(!glob(in_folder("c*.prof"), 0, NULL, &found));
        CHECK_EQUAL(found.gl_pathc, i == 2 ? 4 : 3);
        long scopes = 0;
        for (size_t k = 0; k < found.gl_pathc; ++k)
            scopes += image_count(strrchr(found.gl_pathv[k], '/') + 1, "in a child");
        globfree(&found);
        CHECK_EQUAL(scopes, 3);
        CHECK_EQUAL(files("*"), 5);
        CHECK_EQUAL(trace_file_size(in_folder("stderr")), 0);
    }
}

/* Of two programs of one output each has its own file, whoever ends first, and one says so. */
TEST(two_programs_of_one_output)
{
    static const char *const outputs[] = {"t.json", "t.prof"}, *const seconds[] = {"t.2.json", "t.2.prof"};
    for (size_t i = 0; i < 2; ++i) {
        const char *const variables[][2] = {{"PROF_OUTPUT", outputs[i]}, {NULL, NULL}};
        int out;
        folder_make("endings-two");
        pid_t first = begin("wait", &out, variables);
        CHECK(has_said(out));
        CHECK_EQUAL(run("move", variables), 42);
        CHECK(file_has("stderr", i ? "t.prof is recorded by another process" : "t.json.prof is recorded by another"));
        CHECK(file_has("stderr", seconds[i]));
        if (i)
            CHECK_EQUAL(image_count(seconds[i], "elsewhere"), 1);
        else
            CHECK(file_has(seconds[i], "elsewhere"));
        kill(first, SIGKILL);
        CHECK_EQUAL(end_of(first), 1000 + SIGKILL);
        close(out);
        CHECK_EQUAL(image_count(i ? "t.prof" : "t.json.prof", "work"), 1);
        CHECK_EQUAL(image_count(i ? "t.prof" : "t.json.prof", "elsewhere"), 0);
        CHECK_EQUAL(files("*"), 3);
    }
}

/* A program that starts and stops several times. */
TEST(sessions_are_numbered)
{
    static const char *const names[2][3] = {{"a.json", "a.2.json", "a.3.json"}, {"a.prof", "a.2.prof", "a.3.prof"}};
    static const char *const scopes[] = {"first", "second", "third"};
    for (size_t i = 0; i < 2; ++i) {
        const char *const variables[][2] = {{"ENDING_ARGUMENT", names[i][0]}, {NULL, NULL}};
        folder_make("endings-again");
        CHECK_EQUAL(run("again", variables), 42);
        for (size_t k = 0; k < 3; ++k) {
            if (i)
                CHECK_EQUAL(image_count(names[i][k], scopes[k]), 1);
            else
                CHECK(file_has(names[i][k], scopes[k]));
        }
        CHECK_EQUAL(files("*"), 4);
    }
}

/* prof_stop() knows whether its file is still there; a file that was moved is. */
TEST(image_that_somebody_took_away)
{
    prof_config config = trace_config(1u << 20);
    folder_make("endings-gone");
    config.output = in_folder("g.prof");
    for (int i = 0; i < 3; ++i) {
        trace_start(&config);
        PROFILE_BLOCK("work") {}
        if (i == 0) CHECK(!unlink(config.output));
        if (i == 1) {
            trace_write_file(in_folder("other"), "other", 5);
            CHECK(!rename(in_folder("other"), config.output));
        }
        if (i == 2) CHECK(!rename(config.output, in_folder("moved.prof")));
        CHECK_EQUAL(prof_stop(), i == 2 ? PROF_OK : PROF_IO);
        if (i < 2) {
            CHECK(strstr(prof_error(), i ? "g.prof was replaced" : "g.prof was removed") != NULL);
            CHECK_EQUAL(prof_save(in_folder("saved.prof")), PROF_OK);
            CHECK_EQUAL(image_count("saved.prof", "work"), 1);
        }
        if (i == 1) CHECK_EQUAL(trace_file_size(config.output), 5);
    }
    CHECK_EQUAL(image_count("moved.prof", "work"), 1);
}

/* Where there is no room for a file, the recording is in memory, which the trace says. */
TEST(no_room_for_a_file)
{
    folder_make("endings-memory");
    fflush(stdout);
    pid_t child = fork();
    if (!child) {
        struct rlimit limit = {65536, 65536};
        prof_config config = trace_config(1u << 20);
        config.output = in_folder("l.txt");
        if (setrlimit(RLIMIT_FSIZE, &limit) || prof_start(&config)) _exit(1);
        PROFILE_BLOCK("work") {}
        _exit(prof_stop() != PROF_OK);
    }
    CHECK_EQUAL(end_of(child), 0);
    CHECK(file_has("l.txt", "in memory only"));
    CHECK(file_has("l.txt", "work"));
    CHECK_EQUAL(files("*"), 1);
}

int main(int argc, char **argv)
{
    const char *way = getenv("ENDING");
    return way ? program(way) : test_run(argc, argv);
}
