/* Where an output leads: fifos with and without a reader, links of the user's own, and what another user may have put
   in the way in a folder like /tmp; and processes that may no longer write where they could. */
/* run: unraced */
#include "private.h"
#include "test.h"
#include "trace.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <grp.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { EVENTS = 20000, PATIENCE_S = 120, SOMEBODY = 54321 };

static char folder[300]; /* of the test that runs, relative */

static void folder_make(const char *name)
{
    char command[700];
    snprintf(folder, sizeof folder, "%s", trace_path(name));
    snprintf(command, sizeof command, "rm -rf '%s' && mkdir -p '%s'", folder, folder);
    CHECK_EQUAL(system(command), 0);
}

/* Good until the sixteenth call from now. */
static const char *in_folder(const char *name)
{
    static char paths[16][512];
    static unsigned next;
    char *path = paths[next++ % 16];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static int files_in_folder(void)
{
    DIR *dir = opendir(folder);
    struct dirent *entry;
    int count = 0;
    while (dir && (entry = readdir(dir)) != NULL) count += entry->d_name[0] != '.';
    if (dir) closedir(dir);
    return count;
}

static int is_link(const char *path)
{
    struct stat about;
    return !lstat(path, &about) && S_ISLNK(about.st_mode);
}

static prof_status start(const char *output)
{
    prof_config config = trace_config(1u << 20);
    config.output = output;
    config.existing = PROF_EXISTING_REPLACE;
    return prof_start(&config);
}

static void record(void)
{
    for (int i = 0; i < EVENTS; ++i) PROFILE_MARK("mark");
}

static prof_status write_through(const char *output)
{
    prof_status status = start(output);
    if (status) return status;
    record();
    return prof_stop();
}

static int error_has(const char *text)
{
    int has = strstr(prof_error(), text) != NULL;
    if (!has) printf("  the error is: %s\n", prof_error());
    return has;
}

/* 1: a CSV that is complete. */
static int is_csv(const char *path)
{
    size_t size = 0, lines = 0;
    char *text = trace_file_text(path, &size);
    for (size_t i = 0; text && i < size; ++i) lines += text[i] == '\n';
    if (lines != EVENTS + 1) printf("  %s has %lu lines\n", path, (unsigned long)lines);
    free(text);
    return lines == EVENTS + 1;
}

static int text_is(const char *path, const char *expected)
{
    char *text = trace_file_text(path, NULL);
    int same = text && !strcmp(text, expected);
    free(text);
    return same;
}

/*-- fifos --*/

TEST(a_fifo_that_nobody_reads_is_an_error)
{
    folder_make("paths-fifo");
    const char *fifo = in_folder("fifo.csv"), *other = in_folder("anyway.csv");
    CHECK(!mkfifo(fifo, 0600));
    alarm(PATIENCE_S); /* it would wait for ever */
    CHECK_EQUAL(start(fifo), PROF_OK);
    record();
    CHECK_EQUAL(prof_save(fifo), PROF_IO);
    CHECK(error_has("fifo.csv") && error_has("fifo that nobody reads"));
    CHECK_EQUAL(prof_stop(), PROF_IO);
    CHECK(error_has("fifo.csv") && error_has("start its reader first"));
    CHECK_EQUAL(prof_save(other), PROF_OK); /* nothing is lost */
    CHECK(is_csv(other));
    alarm(0);
    CHECK_EQUAL(prof_reset(), PROF_OK);
}

typedef struct reader {
    int file;
    size_t most, got, lines;
} reader;

/* Slower than what writes, so that the fifo is full most of the time. */
static void *reads(void *user)
{
    reader *r = (reader *)user;
    char bytes[4096];
    ssize_t n;
    while (r->got < r->most && (n = read(r->file, bytes, sizeof bytes)) > 0) {
        for (ssize_t i = 0; i < n; ++i) r->lines += bytes[i] == '\n';
        r->got += (size_t)n;
        pause_us(20);
    }
    close(r->file);
    return NULL;
}

/* Writes a CSV into a fifo that a thread reads up to most bytes of. */
static prof_status write_to_reader(reader *r, size_t most)
{
    const char *fifo = in_folder("fifo.csv");
    pthread_t thread;
    memset(r, 0, sizeof *r);
    r->most = most;
    CHECK(!mkfifo(fifo, 0600));
    r->file = open(fifo, O_RDONLY | O_NONBLOCK);
    CHECK(r->file >= 0 && !fcntl(r->file, F_SETFL, 0));
    alarm(PATIENCE_S);
    prof_status status = start(fifo);
    CHECK_EQUAL(status, PROF_OK);
    record();
    /* it may run before anyone has opened the other end, which reads as the end of the file: so one is opened here */
    int writer = open(fifo, O_WRONLY);
    CHECK(!pthread_create(&thread, NULL, reads, r));
    status = prof_stop();
    close(writer);
    pthread_join(thread, NULL);
    alarm(0);
    return status;
}

TEST(a_fifo_that_is_read)
{
    reader r;
    folder_make("paths-fifo-read");
    CHECK_EQUAL(write_to_reader(&r, (size_t)-1), PROF_OK);
    CHECK_EQUAL(r.lines, EVENTS + 1);
    CHECK_EQUAL(files_in_folder(), 1); /* the fifo */
    CHECK_EQUAL(prof_reset(), PROF_OK);
}

TEST(a_fifo_whose_reader_goes)
{
    reader r;
    folder_make("paths-fifo-left");
    signal(SIGPIPE, SIG_DFL);
    CHECK_EQUAL(write_to_reader(&r, 1000), PROF_IO);
    CHECK(error_has("fifo.csv"));
    CHECK_EQUAL(prof_reset(), PROF_OK);
}

/*-- links of one's own --*/

TEST(a_link_leads_to_the_file_that_is_replaced)
{
    folder_make("paths-link");
    const char *latest = in_folder("latest.csv"), *link_to_link = in_folder("link.csv"), *run = in_folder("runs/7.csv");
    struct stat before, after;
    CHECK(!mkdir(in_folder("runs"), 0777));
    trace_write_file(run, "older", 5);
    CHECK(!symlink("runs/7.csv", latest) && !symlink("latest.csv", link_to_link));
    CHECK(!stat(run, &before));
    int open_still = open(run, O_RDONLY); /* keeps its number from being given to the next */
    CHECK_EQUAL(write_through(link_to_link), PROF_OK);
    CHECK(is_link(latest) && is_link(link_to_link) && !is_link(run));
    CHECK(is_csv(run));
    CHECK(!stat(run, &after) && before.st_ino != after.st_ino); /* complete at once, not written over the older one */
    close(open_still);
    /* to a file that is not there yet */
    CHECK(!unlink(run));
    CHECK_EQUAL(write_through(latest), PROF_OK);
    CHECK(is_link(latest) && is_csv(run));
    CHECK_EQUAL(files_in_folder(), 3);
    snprintf(folder + strlen(folder), 10, "/runs");
    CHECK_EQUAL(files_in_folder(), 1);
    CHECK_EQUAL(prof_reset(), PROF_OK);
}

TEST(an_image_is_mapped_to_the_file_that_a_link_leads_to)
{
    folder_make("paths-image");
    const char *latest = in_folder("latest.prof"), *run = in_folder("run.prof");
    CHECK(!symlink("run.prof", latest));
    for (int i = 0; i < 2; ++i) { /* new, and there already */
        CHECK_EQUAL(start(latest), PROF_OK);
        record();
        CHECK(is_link(latest) && trace_file_size(run) > 1000); /* a kill would leave it there */
        CHECK_EQUAL(prof_stop(), PROF_OK);
        CHECK(is_link(latest) && !is_link(run));
        prof_trace *trace = trace_open_file(latest);
        if (trace) CHECK_EQUAL(prof_trace_about(trace)->event_count, EVENTS);
        prof_trace_close(trace);
    }
    CHECK_EQUAL(files_in_folder(), 2);
    CHECK_EQUAL(prof_reset(), PROF_OK);
}

TEST(links_that_lead_nowhere)
{
    folder_make("paths-circle");
    CHECK(!symlink("b.csv", in_folder("a.csv")) && !symlink("a.csv", in_folder("b.csv")));
    trace_write_file(in_folder("file"), "", 0);
    CHECK(!symlink("file/no/folder.csv", in_folder("c.csv")));
    CHECK_EQUAL(start(in_folder("ok.csv")), PROF_OK);
    record();
    CHECK_EQUAL(prof_save(in_folder("a.csv")), PROF_IO);
    CHECK(error_has("a.csv"));
    CHECK_EQUAL(prof_save(in_folder("c.csv")), PROF_IO);
    CHECK(error_has("folder.csv"));
    CHECK_EQUAL(prof_stop(), PROF_OK);
    CHECK_EQUAL(start(in_folder("c.csv")), PROF_IO); /* known before anything is recorded */
    CHECK_EQUAL(prof_reset(), PROF_OK);
}

/* As with a shell's ">file": what leads to it is a link, but the file that is open must not be replaced by another. */
/* As a daemon does. The recorder trusts the file that it has mapped. */
TEST(only_the_owner_may_write_whatever_umask_says)
{
    static const char *const outputs[] = {"kept.prof", "made/by/prof/trace.csv", "made", "made/by"};
    struct stat about;
    mode_t before = umask(0);
    folder_make("paths-umask");
    for (int i = 0; i < 2; ++i) CHECK_EQUAL(write_through(in_folder(outputs[i])), PROF_OK);
    for (int i = 0; i < 4; ++i) {
        CHECK(!stat(in_folder(outputs[i]), &about));
        CHECK_EQUAL(about.st_mode & 0777, S_ISDIR(about.st_mode) ? 0755 : 0644);
    }
    CHECK_EQUAL(umask(before), 0);
}

TEST(standard_output_by_its_name)
{
    int status = 0;
    struct stat before, after;
    folder_make("paths-stdout");
    const char *path = in_folder("redirected.txt"), *link = in_folder("out.csv");
    if (access("/proc/self/fd/1", F_OK) || !is_link("/dev/stdout")) SKIP("no /proc");
    trace_write_file(path, "", 0);
    CHECK(!stat(path, &before));
    CHECK(!symlink("/dev/stdout", link));
    fflush(stdout);
    pid_t child = fork();
    if (!child) {
        int file = open(path, O_WRONLY);
        alarm(PATIENCE_S);
        if (file < 0 || dup2(file, 1) != 1) _exit(2);
        _exit(write_through(link) ? 1 : 0);
    }
    CHECK(waitpid(child, &status, 0) == child);
    CHECK_EQUAL(status, 0);
    CHECK(!stat(path, &after) && before.st_ino == after.st_ino);
    CHECK(is_csv(path));
    CHECK_EQUAL(files_in_folder(), 2);
}

TEST(home_is_the_shells_business)
{
    char before[1024];
    prof_config config = trace_config(1u << 20);
    folder_make("paths-home");
    CHECK(getcwd(before, sizeof before) != NULL && !chdir(folder));
    config.output = "~/trace.csv";
    CHECK_EQUAL(prof_start(&config), PROF_INVALID_ARGUMENT);
    CHECK(strstr(prof_error(), "only a shell knows ~") != NULL);
    config.output = NULL;
    config.save = "~/saved-%c.csv";
    CHECK_EQUAL(prof_start(&config), PROF_INVALID_ARGUMENT);
    CHECK(access("~", F_OK) != 0);
    config.save = NULL;
    config.output = "./~/trace.csv";
    CHECK_EQUAL(prof_start(&config), PROF_OK);
    CHECK_EQUAL(prof_stop(), PROF_OK);
    CHECK(!access("./~/trace.csv", F_OK));
    CHECK(!chdir(before));
}

/*-- what others put in the way --*/

/* A folder like /tmp; 0: there is nobody here who could own something else in it. */
static int folder_of_all(const char *name)
{
    folder_make(name);
    CHECK(!chmod(folder, 01777));
    return geteuid() == 0;
}

static void plant_link(const char *target, const char *path)
{
    CHECK(!symlink(target, path));
    CHECK(!lchown(path, SOMEBODY, SOMEBODY));
}

TEST(links_of_others_are_refused_where_anyone_may_make_them)
{
    static const char *const names[] = {"plan.csv", "plan.json.csv", "plan.txt", "plan.prof"};
    if (!folder_of_all("paths-planted")) SKIP("not root: links cannot be given to another user");
    const char *victim = in_folder("victim");
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
        const char *path = in_folder(names[i]);
        trace_write_file(victim, "precious", 8);
        plant_link("victim", path);
        CHECK_EQUAL(start(path), PROF_IO);
        CHECK(error_has(names[i]) && error_has("another user's"));
        CHECK_EQUAL(start(in_folder("mine.csv")), PROF_OK);
        record();
        CHECK_EQUAL(prof_save(path), PROF_IO);
        CHECK(error_has(names[i]) && error_has("another user's"));
        CHECK_EQUAL(prof_stop(), PROF_OK);
        CHECK(text_is(victim, "precious") && is_link(path));
    }
    /* to a file that is not there; a folder on the way; a link of one's own that leads through one of another's */
    plant_link("new.csv", in_folder("dangling.csv"));
    CHECK(!mkdir(in_folder("inside"), 0755));
    plant_link("inside", in_folder("way"));
    CHECK(!symlink("way/x.csv", in_folder("own.csv")));
    CHECK_EQUAL(start(in_folder("dangling.csv")), PROF_IO);
    CHECK_EQUAL(start(in_folder("way/x.csv")), PROF_IO);
    CHECK_EQUAL(start(in_folder("own.csv")), PROF_IO);
    CHECK(access(in_folder("new.csv"), F_OK) && access(in_folder("inside/x.csv"), F_OK));
    CHECK_EQUAL(prof_reset(), PROF_OK);
}

/* As the kernel has it: the owner of the folder may lead others, and so may anyone where nobody else could. */
TEST(links_of_others_that_are_fine)
{
    if (!folder_of_all("paths-fine")) SKIP("not root: links cannot be given to another user");
    plant_link("run.csv", in_folder("latest.csv"));
    CHECK(!chown(folder, SOMEBODY, SOMEBODY));
    CHECK_EQUAL(write_through(in_folder("latest.csv")), PROF_OK);
    CHECK(is_csv(in_folder("run.csv")));
    CHECK(!chown(folder, 0, 0) && !chmod(folder, 0755));
    CHECK_EQUAL(write_through(in_folder("latest.csv")), PROF_OK);
    CHECK_EQUAL(prof_reset(), PROF_OK);
}

TEST(a_fifo_of_another_user_gets_nothing)
{
    if (!folder_of_all("paths-planted-fifo")) SKIP("not root: a fifo cannot be given to another user");
    const char *fifo = in_folder("trace.csv");
    CHECK(!mkfifo(fifo, 0666) && !chmod(fifo, 0666) && !chown(fifo, SOMEBODY, SOMEBODY));
    int spy = open(fifo, O_RDONLY | O_NONBLOCK);
    char bytes[100];
    CHECK_EQUAL(write_through(fifo), PROF_IO);
    CHECK(error_has("another user's"));
    CHECK(read(spy, bytes, sizeof bytes) <= 0);
    close(spy);
    CHECK_EQUAL(prof_reset(), PROF_OK);
}

/* The name of a file that is not complete yet can be guessed. */
TEST(a_link_at_the_name_of_an_unfinished_file_is_not_followed)
{
    folder_make("paths-part");
    const char *path = in_folder("trace.csv"), *victim = in_folder("victim");
    char part[600];
    trace_write_file(victim, "precious", 8);
    for (int i = 0; i < 100; ++i) {
        snprintf(part, sizeof part, "%s.%ld-%d.part", path, (long)getpid(), i);
        CHECK(!symlink("victim", part));
    }
    CHECK_EQUAL(write_through(path), PROF_OK);
    CHECK(text_is(victim, "precious"));
    CHECK(is_csv(path) && !is_link(path));
    CHECK_EQUAL(prof_reset(), PROF_OK);
}

/*-- processes that give up their rights --*/

static int in_child(int (*body)(const char *output), const char *output)
{
    int status = 0;
    fflush(stdout);
    pid_t child = fork();
    if (!child) {
        test_failures = 0;
        body(output);
        fflush(stdout);
        _exit(test_failures != 0);
    }
    return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* A folder with another in it, "jail". Returns the absolute path of a file in the first. */
static const char *beside_jail(const char *name)
{
    static char path[1024];
    CHECK(getcwd(path, 512) != NULL);
    snprintf(path + strlen(path), 512, "/%s", in_folder(name));
    return path;
}

static void go_to_jail(void) { CHECK(!chroot(in_folder("jail")) && !chdir("/")); }
static void close_all_files(void)
{
    for (int file = 3; file < 1024; ++file) close(file);
}

static int records_then_goes(const char *output)
{
    CHECK_EQUAL(start(output), PROF_OK);
    record();
    go_to_jail();
    record();
    CHECK_EQUAL(prof_stop(), PROF_OK);
    return 0;
}

static int records_then_loses_files(const char *output)
{
    CHECK_EQUAL(start(output), PROF_OK);
    record();
    close_all_files();
    go_to_jail();
    CHECK_EQUAL(prof_stop(), PROF_IO);
    CHECK(error_has("chroot") && error_has(".prof"));
    return 0;
}

static pid_t grandchild;

static int goes_then_records(const char *output)
{
    int status = 0;
    CHECK_EQUAL(start(output), PROF_OK);
    grandchild = fork();
    if (!grandchild) {
        go_to_jail();
        record();
        int kept = strstr(output, ".prof") != NULL;
        CHECK_EQUAL(prof_stop(), kept ? PROF_IO : PROF_OK);
        if (kept) CHECK_EQUAL(prof_save("/by_hand.prof"), PROF_OK);
        if (kept) CHECK(!access("/by_hand.prof", R_OK) && !unlink("/by_hand.prof"));
        _exit(test_failures != 0);
    }
    CHECK(waitpid(grandchild, &status, 0) == grandchild && !status);
    CHECK_EQUAL(prof_stop(), PROF_OK);
    return 0;
}

/* Nothing lands in the jail; rmdir() says so. */
TEST(chroot_leaves_the_output_where_it_was)
{
    static const char *const names[] = {"out.json", "out.csv", "out.prof"};
    if (geteuid()) SKIP("only root may call chroot()");
    for (int i = 0; i < 3; ++i) {
        folder_make("jailed");
        CHECK(!mkdir(in_folder("jail"), 0755));
        CHECK_EQUAL(in_child(records_then_goes, beside_jail(names[i])), 0);
        CHECK(!rmdir(in_folder("jail")));
        CHECK_EQUAL(files_in_folder(), 1);
        CHECK(trace_file_size(in_folder(names[i])) > 100);
    }
    folder_make("jailed");
    CHECK(!mkdir(in_folder("jail"), 0755));
    CHECK_EQUAL(in_child(records_then_loses_files, beside_jail("out.json")), 0);
    CHECK(!rmdir(in_folder("jail")));
    prof_trace *trace = trace_open_file(in_folder("out.json.prof"));
    CHECK(trace && prof_trace_about(trace)->event_count >= EVENTS);
    prof_trace_close(trace);
    for (int i = 1; i < 3; ++i) {
        folder_make("jailed");
        CHECK(!mkdir(in_folder("jail"), 0755));
        CHECK_EQUAL(in_child(goes_then_records, beside_jail(names[i])), 0);
        CHECK(!rmdir(in_folder("jail")));
        CHECK_EQUAL(files_in_folder(), i < 2 ? 2 : 1); /* the parent's, and the child's if it holds the folder */
    }
}

/* A server's worker: the file of its recording was to be made where only root may. It says so while there is time. */
static int worker(const char *output)
{
    int status = 0;
    size_t size;
    CHECK_EQUAL(start(output), PROF_OK);
    prof__autostarted = 1;
    grandchild = fork();
    if (!grandchild) {
        dup2(open(in_folder("stderr"), O_WRONLY | O_CREAT | O_TRUNC, 0644), 2);
        CHECK(!setgroups(0, NULL) && !setgid(SOMEBODY) && !setuid(SOMEBODY));
        record();
        char *text = trace_file_text(in_folder("stderr"), &size), *line = text;
        CHECK(text && strstr(text, "Permission denied: this process records in memory only"));
        for (int lines = 0; line && *line; ++line) CHECK((lines += *line == '\n') < 2);
        free(text);
        CHECK_EQUAL(prof_stop(), PROF_IO);
        CHECK(error_has("Permission denied"));
        CHECK_EQUAL(prof_save(in_folder("all/by_hand.prof")), PROF_OK);
        _exit(test_failures != 0);
    }
    CHECK(waitpid(grandchild, &status, 0) == grandchild && !status);
    CHECK_EQUAL(prof_stop(), PROF_OK);
    return 0;
}

TEST(a_worker_that_may_not_create_its_file_says_so)
{
    static const char *const names[] = {"out.json", "out.prof"};
    if (geteuid()) SKIP("only root may become somebody else");
    for (int i = 0; i < 2; ++i) {
        folder_make("rights");
        CHECK(!mkdir(in_folder("all"), 0777) && !chmod(in_folder("all"), 0777));
        if (in_child(worker, in_folder(names[i]))) printf("     %s\n", names[i]), ++test_failures;
        prof_trace *trace = trace_open_file(in_folder("all/by_hand.prof"));
        CHECK(trace && prof_trace_about(trace)->event_count >= EVENTS);
        prof_trace_close(trace);
    }
}

static int starts_nowhere(const char *output)
{
    CHECK(!mkdir(in_folder("gone"), 0755) && !chdir(in_folder("gone")) && !rmdir("../gone"));
    CHECK_EQUAL(start(output), PROF_IO);
    CHECK(error_has(output) && error_has("the working directory was removed"));
    return 0;
}

TEST(a_working_directory_that_was_removed_is_refused)
{
    static const char *const names[] = {"out.json", "out.prof", "below/out.csv"};
    folder_make("removed");
    for (int i = 0; i < 3; ++i) CHECK_EQUAL(in_child(starts_nowhere, names[i]), 0);
}

/* Returns in_folder() of a name of `bytes` bytes. */
static const char *long_name(size_t bytes, const char *extension)
{
    char name[400];
    memset(name, 'n', sizeof name);
    snprintf(name + bytes - strlen(extension), 16, "%s", extension);
    return in_folder(name);
}

/* The files that prof creates beside an output have longer names than it: they are cut. */
TEST(names_as_long_as_the_system_takes)
{
    static const char *const extensions[] = {".csv", ".prof"};
    for (size_t e = 0; e < sizeof extensions / sizeof *extensions; ++e) {
        for (size_t bytes = 135; bytes <= 255; bytes += bytes == 150 ? 85 : 1) {
            folder_make("long_names");
            for (int run = 0; run < 2; ++run) { /* the second one numbers its file */
                prof_config config = trace_config(128 << 10);
                config.output = long_name(bytes, extensions[e]);
                config.existing = PROF_EXISTING_NUMBER;
                CHECK_EQUAL(prof_start(&config), PROF_OK);
                PROFILE_MARK("mark");
                CHECK_EQUAL(prof_stop(), PROF_OK);
                CHECK_EQUAL(files_in_folder(), run + 1);
                CHECK_EQUAL(prof_reset(), PROF_OK);
            }
            CHECK(!access(long_name(bytes, extensions[e]), F_OK));
        }
    }
}

TEST(saving_under_a_long_name)
{
    static const char *const extensions[] = {".csv", ".prof", ".txt"};
    prof_config config = trace_config(128 << 10);
    folder_make("long_names");
    trace_start(&config);
    PROFILE_MARK("mark");
    for (size_t e = 0; e < sizeof extensions / sizeof *extensions; ++e) {
        CHECK_EQUAL(prof_save(long_name(255, extensions[e])), PROF_OK);
        CHECK_EQUAL(files_in_folder(), (int)e + 1);
        CHECK_EQUAL(prof_save(long_name(256, extensions[e])), PROF_IO);
        CHECK(error_has("the name has 256 bytes, and can have 255"));
        CHECK(error_has("cannot create "));
        CHECK_EQUAL(files_in_folder(), (int)e + 1);
    }
    prof_trace_close(trace_stop());
}

TEST(longer_names_are_refused_at_the_start)
{
    static const char *const extensions[] = {".csv", ".prof"};
    folder_make("long_names");
    for (size_t e = 0; e < sizeof extensions / sizeof *extensions; ++e) {
        prof_config config = trace_config(128 << 10);
        config.output = long_name(256, extensions[e]);
        CHECK_EQUAL(prof_start(&config), PROF_IO);
        CHECK(error_has("the name has 256 bytes, and can have 255"));
        CHECK_EQUAL(files_in_folder(), 0);
    }
}

/* A message that is too long for its place loses the middle: the reason stays. */
TEST(the_reason_comes_behind_a_long_path)
{
    char path[900];
    folder_make("long_names");
    int at = snprintf(path, sizeof path, "%s/file", folder);
    fclose(fopen(path, "w"));
    for (int i = 0; i < 40; ++i) at += snprintf(path + at, sizeof path - (size_t)at, "/longer_and_longer");
    snprintf(path + at, sizeof path - (size_t)at, ".csv");
    prof_config config = trace_config(128 << 10);
    config.output = path;
    CHECK_EQUAL(prof_start(&config), PROF_IO);
    CHECK(error_has("Not a directory"));
    trace_start(NULL);
    CHECK_EQUAL(prof_save(path), PROF_IO);
    CHECK(error_has("Not a directory"));
    prof_trace_close(trace_stop());
}

TEST_MAIN
