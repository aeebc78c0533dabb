/* PROF_OUTPUT and its relatives: what they record of a program that knows nothing of them, what they say when they are
   wrong, and that the program itself does not change. */
/* run: unraced */
#include "../prof_read.h"
#include "test.h"
#include "trace.h"
#include <glob.h>
#include <sys/wait.h>
#include <unistd.h>

static char output[256];    /* what PROF_OUTPUT named */
static char *said, *warned; /* standard output and standard error */

/* autostart_program, which stands beside this program. */
static const char *program(void)
{
    static char path[1024];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 32);
    path[n > 0 ? n : 0] = 0;
    char *slash = strrchr(path, '/');
    strcpy(slash ? slash + 1 : path, "autostart_program");
    return path;
}

/* Runs the program with PROF_OUTPUT=file, in the folder for output (null: without), and up to one more variable. */
static void run(const char *way, const char *file, const char *name, const char *value)
{
    static const char *const ours[] = {"PROF_OUTPUT", "PROF_BUFFER",     "PROF_MODE",        "PROF_CLOCK",
                                       "PROF_LEVEL",  "PROF_CATEGORIES", "PROF_MIN_DURATION",
                                       "PROF_CRASH_REPORT", "PROF_SAVE"};
    char out[256], err[256];
    int status = 0, ends[2];
    snprintf(out, sizeof out, "%s", trace_path("autostart.out"));
    snprintf(err, sizeof err, "%s", trace_path("autostart.err"));
    free(said);
    free(warned);
    if (file && *file && *file != '/') {
        snprintf(output, sizeof output, "%s", trace_path(file));
        unlink(output);
        char beside[300];
        snprintf(beside, sizeof beside, "%s.prof", output);
        unlink(beside);
    } else {
        snprintf(output, sizeof output, "%s", file ? file : "");
    }
    fflush(stdout);
    CHECK(!pipe(ends));
    pid_t child = fork();
    if (!child) {
        close(ends[0]);
        for (size_t i = 0; i < sizeof ours / sizeof *ours; ++i) unsetenv(ours[i]);
        if (file) setenv("PROF_OUTPUT", output, 1);
        if (name) setenv(name, value, 1);
        if (!freopen(out, "w", stdout) || !freopen(err, "w", stderr)) _exit(98);
        execl(program(), "autostart_program", way, (char *)NULL);
        _exit(99);
    }
    waitpid(child, &status, 0);
    close(ends[1]);
    char none;
    CHECK_EQUAL(read(ends[0], &none, 1), 0); /* when nobody is left who has the other end: its children, too, have ended */
    close(ends[0]);
    if (WIFEXITED(status) && WEXITSTATUS(status) >= 98) {
        printf("cannot run %s\n", program());
        exit(1);
    }
    CHECK(WIFEXITED(status));
    CHECK_EQUAL(WEXITSTATUS(status), 42);
    said = trace_file_text(out, NULL);
    warned = trace_file_text(err, NULL);
    CHECK(said && warned);
    if (!said || !warned) exit(1);
    CHECK_TEXT(said, "output\n");
}

/* The program's own message, and behind or before it one line of the recorder with this text in it; null: none. */
static void expect_warning(const char *text)
{
    int lines = 0;
    for (const char *line = warned; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
        lines += !strncmp(line, "prof: ", 6);
    CHECK(strstr(warned, "messages\n") != NULL);
    if (!text) {
        CHECK_TEXT(warned, "messages\n");
        return;
    }
    CHECK_EQUAL(lines, 1);
    if (!strstr(warned, text)) {
        ++test_failures;
        printf("standard error has no \"%s\": %s\n", text, warned);
    }
}

static prof_trace *trace;
static trace_list list;

/* Reads output, which has to be there. */
static int read_output(void)
{
    trace = trace_open_file(output);
    if (!trace) return 0;
    list = trace_read(trace, 0);
    return 1;
}

static void done(void)
{
    trace_free(&list);
    prof_trace_close(trace);
}

TEST(without_the_variable)
{
    run("return", NULL, NULL, NULL);
    expect_warning(NULL);
    run("return", "", NULL, NULL);
    expect_warning(NULL);
    run("return", NULL, "PROF_LEVEL", "nonsense"); /* nobody asked */
    expect_warning(NULL);
    run("return", NULL, "PROF_CRASH_REPORT", "1"); /* records, and has nothing to report */
    expect_warning(NULL);
    run("return", NULL, "PROF_CRASH_REPORT", "0");
    expect_warning(NULL);
    run("return", NULL, "PROF_CRASH_REPORT", "yes");
    expect_warning("prof: PROF_CRASH_REPORT: crash_report 'yes': must be 0 or 1");
    run("return", NULL, "PROF_SAVE", trace_path("never-saved-%c.txt")); /* records, and has nothing to save */
    expect_warning(NULL);
    run("return", NULL, "PROF_SAVE", trace_path("no-writer-%c.tx"));
    expect_warning("prof: PROF_SAVE: ");
    run("return", NULL, "PROF_SAVE_OVER", "frame>1ms"); /* but no file to save to */
    expect_warning(NULL);
}

TEST(text_outputs)
{
    static const char *const files[] = {"auto.json", "auto.csv", "auto.txt"};
    static const char *const names[] = {"main", "work", "constructor", "exit handler"};
    for (size_t i = 0; i < 3; ++i) {
        run("return", files[i], NULL, NULL);
        expect_warning(NULL);
        char *text = trace_file_text(output, NULL);
        CHECK(text != NULL);
        for (size_t k = 0; text && k < 4; ++k) CHECK(strstr(text, names[k]) != NULL);
        if (text) CHECK(strstr(text, "detail") == NULL);
        free(text);
    }
}

static void expect_everything(int handlers)
{
    const prof_event *scope = trace_find(&list, "main");
    CHECK_EQUAL(trace_count(&list, "constructor"), 1);
    CHECK_EQUAL(trace_count(&list, "main"), 1);
    CHECK_EQUAL(trace_count(&list, "work"), 10);
    CHECK_EQUAL(trace_count(&list, "counter"), 10);
    CHECK_EQUAL(trace_count(&list, "detail"), 0);
    CHECK_EQUAL(trace_count(&list, "child"), 0);
    CHECK_EQUAL(trace_count(&list, "exit handler"), handlers);
    CHECK_EQUAL(trace_count(&list, "too early"), 0);
    CHECK_EQUAL(trace_count(&list, "too late"), 0);
    CHECK(scope && trace_arg(scope, "way"));
    CHECK_EQUAL(prof_trace_about(trace)->lost, 0);
    CHECK_EQUAL(prof_trace_about(trace)->unmatched, 0);
    CHECK_TEXT(prof_trace_about(trace)->program, "autostart_program");
}

TEST(image_output)
{
    run("return", "auto.prof", NULL, NULL);
    expect_warning(NULL);
    if (!read_output()) return;
    expect_everything(1);
    CHECK_EQUAL(prof_trace_about(trace)->complete, 1);
    CHECK_EQUAL(trace_find(&list, "main")->flags, 0);
    CHECK_EQUAL(trace_find(&list, "exit handler")->depth, 0);
    done();
    run("exit", "auto.prof", NULL, NULL); /* from inside main */
    expect_warning(NULL);
    if (!read_output()) return;
    expect_everything(1);
    CHECK_EQUAL(trace_find(&list, "main")->flags, PROF_TRUNCATED_END);
    CHECK_EQUAL(trace_find(&list, "exit handler")->depth, 1);
    done();
    run("quick", "auto.prof", NULL, NULL); /* without handlers */
    expect_warning(NULL);
    if (!read_output()) return;
    expect_everything(0);
    CHECK_EQUAL(prof_trace_about(trace)->complete, 0);
    done();
    run("quick", "quick.csv", NULL, NULL);
    expect_warning(NULL);
    CHECK_EQUAL(trace_file_size(output), -1);
    strcat(output, ".prof"); /* which has it */
    if (!read_output()) return;
    expect_everything(0);
    done();
    unlink(output);
}

TEST(threads_that_run_on_at_exit)
{
    static const char *const files[] = {"auto.prof", "auto.csv", "auto.json"};
    for (size_t i = 0; i < 3; ++i) {
        run("thread", files[i], "PROF_BUFFER", "1M");
        expect_warning(NULL);
        CHECK(trace_file_size(output) > 1000);
        if (i || !read_output()) continue;
        size_t track = trace_track_named(trace, "runs on");
        CHECK(track < prof_trace_track_count(trace));
        CHECK(prof_trace_track(trace, track)->event_count > 0);
        CHECK_EQUAL(prof_trace_about(trace)->complete, 1);
        done();
    }
}

/* The trace of the only child: output with a process id in front of the extension. Null: there is none. */
static const char *output_of_child(void)
{
    static char path[512];
    glob_t found;
    char pattern[300];
    const char *dot = strrchr(output, '.');
    snprintf(pattern, sizeof pattern, "%.*s.[0-9]*%s", (int)(dot - output), output, dot);
    path[0] = 0;
    if (!glob(pattern, 0, NULL, &found)) {
        CHECK_EQUAL(found.gl_pathc, 1);
        snprintf(path, sizeof path, "%s", found.gl_pathv[0]);
    }
    globfree(&found);
    return path[0] ? path : NULL;
}

/* Each writes its own at its own end, also when that comes after the parent's. */
TEST(children)
{
    static const char *const files[] = {"auto-fork.prof", "auto-fork.csv", "auto-fork.json"};
    for (size_t i = 0; i < 6; ++i) {
        const char *child;
        snprintf(output, sizeof output, "%s", trace_path(files[i % 3]));
        while ((child = output_of_child()) != NULL) unlink(child);
        run(i < 3 ? "fork" : "orphan", files[i % 3], NULL, NULL);
        expect_warning(NULL);
        if (i % 3 == 0 && read_output()) {
            expect_everything(1);
            CHECK_EQUAL(prof_trace_about(trace)->complete, 1);
            done();
        }
        char *text = trace_file_text(output, NULL);
        CHECK(text && (i % 3 == 0 || (strstr(text, "work") && !strstr(text, "child"))));
        free(text);
        child = output_of_child();
        CHECK(child != NULL);
        if (!child) continue;
        text = trace_file_text(child, NULL);
        CHECK(text && (i % 3 == 0 || (!strstr(text, "work") && strstr(text, "child"))));
        free(text);
        trace = i % 3 == 0 ? trace_open_file(child) : NULL;
        if (!trace) continue;
        list = trace_read(trace, 0);
        CHECK_EQUAL(trace_count(&list, "child"), 1000);
        CHECK_EQUAL(trace_count(&list, "exit handler"), 1);
        CHECK_EQUAL(list.count, 1001);
        CHECK_EQUAL(prof_trace_about(trace)->complete, 1);
        done();
    }
    CHECK(output_of_child() != NULL);
    unlink(output_of_child());
}

/* A child that only calls other programs, or exits, leaves nothing. */
TEST(children_without_scopes)
{
    run("system", "auto-system.csv", NULL, NULL);
    expect_warning(NULL);
    CHECK(output_of_child() == NULL);
    CHECK(trace_file_size(output) > 100);
}

TEST(sessions)
{
    run("return", "auto-metadata.prof", "PROF_RANK", "0"); /* who says 0 means 0 */
    expect_warning(NULL);
    CHECK_EQUAL(trace_file_size(output), -1);
    CHECK(trace_file_size(trace_path("auto-metadata.0.prof")) > 0);
    run("return", "auto-delay.prof", "PROF_DELAY", "1000s"); /* it does not wait for that */
    expect_warning(NULL);
    if (!read_output()) return;
    CHECK_EQUAL(list.count, 0);
    CHECK_EQUAL(prof_trace_about(trace)->complete, 1);
    done();
    /* over before anything happens, and written all the same */
    run("return", "auto-duration.csv", "PROF_DURATION", "1ns");
    expect_warning(NULL);
    CHECK(trace_file_size(output) > 0);
    run("return", "auto-duration.csv", "PROF_DURATION", "10");
    expect_warning("prof: PROF_DURATION: duration '10': must be a time with its unit");
    run("return", "auto-mistake.csv", "PROF_DURATON", "10s");
    expect_warning("prof: unknown variable PROF_DURATON: did you mean PROF_DURATION?");
    CHECK(strstr(warned, "nothing is recorded") != NULL);
    CHECK_EQUAL(trace_file_size(output), -1);
    run("return", NULL, "PROF_OUPUT", "trace.json"); /* alone, too */
    expect_warning("prof: unknown variable PROF_OUPUT: did you mean PROF_OUTPUT?; nothing is recorded");
    run("return", NULL, "PROF_LAYOUT", "mxnet"); /* of an output that nobody has named */
    expect_warning(NULL);
    run("return", NULL, "PROF_BUFER", "16M"); /* nobody asked */
    expect_warning(NULL);
    run("return", NULL, "PROF_OTHER", "1"); /* somebody else's */
    expect_warning(NULL);
}

TEST(outputs_that_cannot_be)
{
    run("return", "auto.xyz", NULL, NULL);
    expect_warning(".xyz");
    CHECK(strstr(warned, "PROF_OUTPUT") != NULL);
    CHECK(strstr(warned, ".json") != NULL);
    CHECK_EQUAL(trace_file_size(output), -1);
    run("return", "auto", NULL, NULL);
    expect_warning("PROF_OUTPUT");
    CHECK(strstr(warned, "or / for a directory; nothing is recorded") != NULL);
    run("return", "/dev/stdout", NULL, NULL);
    expect_warning("has no extension: add one of");
    run("return", "auto.CSV", NULL, NULL); /* the same as .csv */
    expect_warning(NULL);
    CHECK(trace_file_size(output) > 0);
    run("return", "/dev/null/folder/auto.json", NULL, NULL);
    expect_warning("/dev/null/folder");
    run("return", "/dev/null/folder/auto.prof", NULL, NULL);
    expect_warning("/dev/null/folder");
    run("return", "auto%y.json", NULL, NULL);
    expect_warning("%y");
}

TEST(a_full_disk)
{
    static const char *const files[] = {"auto-full.json", "auto-full.csv", "auto-full.txt"};
    if (access("/dev/full", W_OK)) SKIP("no /dev/full");
    for (size_t i = 0; i < 3; ++i) {
        char path[64], link_to[256];
        snprintf(path, sizeof path, "full-folder/%s", files[i]);
        mkdir(trace_path("full-folder"), 0777);
        snprintf(link_to, sizeof link_to, "%s/%s", trace_path("full-folder"), files[i]);
        unlink(link_to);
        CHECK(!symlink("/dev/full", link_to));
        char absolute[512], *folder = realpath(trace_path("full-folder"), NULL);
        CHECK(folder != NULL);
        snprintf(absolute, sizeof absolute, "%s/%s", folder ? folder : "", files[i]); /* run() removes no absolute one */
        free(folder);
        if (strlen(absolute) < sizeof output) {
            run("return", absolute, NULL, NULL);
            expect_warning("No space left");
        }
        unlink(link_to);
    }
}

TEST(other_variables_that_are_wrong)
{
    static const char *const wrong[][2] = {
        {"PROF_BUFFER", "huge"},  {"PROF_BUFFER", "1"},    {"PROF_MODE", "loop"},          {"PROF_CLOCK", "sand"},
        {"PROF_LEVEL", "high"},   {"PROF_LEVEL", "256"},   {"PROF_MIN_DURATION", "short"}, {"PROF_CATEGORIES", "a,,b"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
        run("return", "auto.csv", wrong[i][0], wrong[i][1]);
        expect_warning(i < 7 ? wrong[i][1] : "category");
        if (i < 7) CHECK(strstr(warned, wrong[i][0]) != NULL);
        CHECK_EQUAL(trace_file_size(output), -1);
    }
}

/* Nobody's list of categories is cut silently. */
TEST(long_variables)
{
    char categories[1200] = "";
    for (int i = 0; i < 30; ++i) strcat(categories, "some-rather-long-category,");
    strcat(categories, "count");
    run("return", "auto.prof", "PROF_CATEGORIES", categories);
    if (!strcmp(warned, "messages\n")) {
        if (!read_output()) return;
        CHECK_EQUAL(trace_count(&list, "counter"), 10);
        CHECK_EQUAL(trace_count(&list, "work"), 0);
        done();
    } else {
        expect_warning("PROF_CATEGORIES");
    }
}

TEST(other_variables_that_are_right)
{
    run("return", "auto.prof", "PROF_LEVEL", "3");
    expect_warning(NULL);
    if (read_output()) {
        CHECK_EQUAL(trace_count(&list, "detail"), 1);
        done();
    }
    run("return", "auto.prof", "PROF_CATEGORIES", "count");
    expect_warning(NULL);
    if (read_output()) {
        CHECK_EQUAL(list.count, 10);
        CHECK_EQUAL(trace_count(&list, "counter"), 10);
        done();
    }
    run("return", "auto.prof", "PROF_MIN_DURATION", "1000s");
    expect_warning(NULL);
    if (read_output()) {
        CHECK_EQUAL(trace_count(&list, "exit handler"), 0);
        CHECK_EQUAL(trace_count(&list, "work"), 10);
        done();
    }
    run("return", "auto.prof", "PROF_BUFFER", "1M");
    expect_warning(NULL);
    CHECK(trace_file_size(output) <= 1 << 20);
    if (read_output()) done();
    run("return", "auto.prof", "PROF_MODE", "fill");
    expect_warning(NULL);
    if (read_output()) {
        CHECK_EQUAL(prof_trace_about(trace)->mode, PROF_FILL);
        done();
    }
    run("return", "auto.prof", "PROF_CLOCK", "monotonic");
    expect_warning(NULL);
    if (read_output()) {
        CHECK_TEXT(prof_trace_about(trace)->clock, "clock_gettime");
        done();
    }
}

TEST(names_of_outputs)
{
    char pattern[300];
    snprintf(pattern, sizeof pattern, "%s", "auto-%n.csv");
    run("return", pattern, NULL, NULL);
    expect_warning(NULL);
    snprintf(output, sizeof output, "%s", trace_path("auto-autostart_program.csv"));
    CHECK(trace_file_size(output) > 100);
    unlink(output);
}

TEST_MAIN
