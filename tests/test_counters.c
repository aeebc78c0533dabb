/* prof_system.h without perf events. What the system counts, as counters: a system that is made of files, whose numbers
   are known; programs that fault pages, write, spin and sleep, whose own counts are known; a control group that stops its
   process; what the system refuses; forks. And PROFILE_SCOPE_TIMED: of each call, what is known of it. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "private.h"
#include "../prof_system.h"
#include "test.h"
#include "trace.h"
#include "refuse.h"
#ifdef __linux__
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#endif

static const char *said(const prof_trace *trace, const char *wanted)
{
    const char *key, *value, *last = "";
    for (size_t i = 0; prof_trace_metadata(trace, i, &key, &value); ++i)
        if (!strcmp(key, wanted)) last = value;
    return last;
}

#ifndef __linux__
TEST(other_systems_say_why)
{
    prof_config config = trace_config(0);
    config.counters = 1;
    trace_start(&config);
    CHECK_EQUAL(prof_system_status(), PROF_UNSUPPORTED);
    CHECK(strstr(prof_error(), "counters") != NULL);
    prof_trace *trace = trace_stop();
    CHECK(*said(trace, "counters"));
    CHECK_TEXT(said(trace, "switches"), "");
    prof_trace_close(trace);
}
#else

/* What a recording has of a counter. */
typedef struct counted {
    size_t count;
    double least, most, last;
    char unit[8], category[16];
} counted;

static counted counter_of(const prof_trace *trace, const char *name)
{
    counted found;
    memset(&found, 0, sizeof found);
    for (size_t i = 0; i < prof_trace_track_count(trace); ++i) {
        trace_list list = trace_read(trace, i);
        for (size_t j = 0; j < list.count; ++j) {
            const prof_event *event = &list.events[j];
            if (event->type != PROF_EVENT_COUNTER || strcmp(event->name, name)) continue;
            double value = event->value.type == PROF_VALUE_UINT ? (double)event->value.as.u : event->value.as.d;
            CHECK_TEXT(prof_trace_track(trace, i)->name, "prof system");
            if (!found.count++) found.least = found.most = value;
            if (value < found.least) found.least = value;
            if (value > found.most) found.most = value;
            found.last = value;
            snprintf(found.unit, sizeof found.unit, "%s", event->site->unit);
            snprintf(found.category, sizeof found.category, "%s", event->site->category);
        }
        trace_free(&list);
    }
    return found;
}

static void counters_start(prof_config config)
{
    config.counters = 1;
    trace_start(&config);
    CHECK_EQUAL(prof_system_status(), PROF_OK);
}

/* Waits until so many rounds more are over. */
static void wait_rounds(uint64_t rounds)
{
    uint64_t end = __atomic_load_n(&prof__counters.rounds, __ATOMIC_ACQUIRE) + rounds;
    WAIT_UNTIL(__atomic_load_n(&prof__counters.rounds, __ATOMIC_ACQUIRE) >= end);
}

/* -- a system of files -- */

static const char *root;

static void put_file(const char *path, const char *text)
{
    char full[512];
    snprintf(full, sizeof full, "%s%s", root, path);
    for (char *at = full + strlen(root) + 1; (at = strchr(at, '/')) != NULL; *at++ = '/') {
        *at = 0;
        mkdir(full, 0777);
    }
    int file = open(full, O_WRONLY | O_CREAT, 0666); /* not shortened: prof reads it meanwhile */
    CHECK(file >= 0 && pwrite(file, text, strlen(text), 0) == (ssize_t)strlen(text));
    CHECK(!ftruncate(file, (off_t)strlen(text)));
    close(file);
}

static void begin_files(const char *name)
{
    root = trace_path(name);
    mkdir(root, 0777);
    put_file("/proc/stat", "cpu  100 0 100 1000 100 0 0 00 0 0\ncpu0 1 2 3 4\n");
    put_file("/proc/self/statm", "1000 300 50 1 0 90 0\n");
    prof__system_root = root;
}

#define GROUPS_1 "9:name=systemd:/\n7:cpuacct,cpu:/docker/one/inner\n4:memory:/docker/one/inner\n0::/\n"
#define MOUNTS_1                                                                        \
    "20 1 0:5 / /proc rw - proc proc rw\n"                                              \
    "32 31 0:29 /docker/one /groups/cpu rw,relatime shared:9 - cgroup cgroup rw,cpu,cpuacct\n" \
    "35 31 0:32 /docker/one /groups/memory rw,relatime - cgroup cgroup rw,memory\n"     \
    "41 31 0:38 / /groups/unified rw,relatime - cgroup2 cgroup2 rw\n"

/* Version 1: a container that sees a part of the hierarchy. Its own group has no limit, but the one around it does. */
TEST(groups_of_version_1)
{
    begin_files("version1");
    put_file("/proc/self/cgroup", GROUPS_1);
    put_file("/proc/self/mountinfo", MOUNTS_1);
    put_file("/groups/cpu/cpu.stat", "nr_periods 100\nnr_throttled 10\nthrottled_time 5000000\n");
    put_file("/groups/cpu/cpu.cfs_quota_us", "50000\n");
    put_file("/groups/cpu/cpu.cfs_period_us", "20000\n");
    put_file("/groups/cpu/inner/cpu.stat", "nr_periods 0\nnr_throttled 0\nthrottled_time 0\n");
    put_file("/groups/cpu/inner/cpu.cfs_quota_us", "-1\n");
    put_file("/groups/cpu/inner/cpu.cfs_period_us", "100000\n");
    put_file("/groups/memory/memory.limit_in_bytes", "1048576\n");
    put_file("/groups/memory/inner/memory.limit_in_bytes", "9223372036854771712\n");
    put_file("/groups/memory/inner/memory.usage_in_bytes", "4096\n");
    put_file("/groups/memory/inner/memory.failcnt", "5\n");
    counters_start(trace_config(0));
    wait_rounds(2);
    put_file("/groups/cpu/cpu.stat", "nr_periods 109\nnr_throttled 13\nthrottled_time 7500000\n");
    put_file("/groups/memory/inner/memory.usage_in_bytes", "8192\n");
    put_file("/groups/memory/inner/memory.failcnt", "9\n");
    prof_trace *trace = trace_stop(); /* the last round */
    CHECK_EQUAL(counter_of(trace, "cgroup throttled").last, 2500);
    CHECK_TEXT(counter_of(trace, "cgroup throttled").unit, "us");
    CHECK_TEXT(counter_of(trace, "cgroup throttled").category, "system");
    CHECK_EQUAL(counter_of(trace, "cgroup throttled").least, 0);
    CHECK_EQUAL(counter_of(trace, "cgroup throttled periods").last, 3);
    CHECK_EQUAL(counter_of(trace, "cgroup quota").last, 250);
    CHECK_EQUAL(counter_of(trace, "cgroup memory").least, 4096);
    CHECK_EQUAL(counter_of(trace, "cgroup memory").last, 8192);
    CHECK_EQUAL(counter_of(trace, "cgroup memory limit").last, 1048576);
    CHECK_EQUAL(counter_of(trace, "cgroup memory at the limit").last, 4);
    CHECK_EQUAL(counter_of(trace, "cgroup memory above high").count, 0);
    prof_trace_close(trace);
    prof__system_root = "";
}

/* Version 2, in a namespace of its own: the group is at the mount. Limits are set, and gone, while it runs. */
TEST(groups_of_version_2)
{
    begin_files("version2");
    put_file("/proc/self/cgroup", "0::/\n");
    put_file("/proc/self/mountinfo", "41 31 0:38 / /group rw,relatime - cgroup2 cgroup rw,nsdelegate\n");
    put_file("/group/cpu.stat", "usage_usec 9\nnr_periods 7\nnr_throttled 2\nthrottled_usec 1000\n");
    put_file("/group/cpu.max", "150000 100000\n");
    put_file("/group/memory.max", "max\n");
    put_file("/group/memory.current", "1000000\n");
    put_file("/group/memory.events", "low 0\nhigh 3\nmax 4\noom 0\noom_kill 0\noom_group_kill 9\n");
    counters_start(trace_config(0));
    wait_rounds(2);
    put_file("/group/cpu.stat", "usage_usec 9\nnr_periods 7\nnr_throttled 4\nthrottled_usec 9000\n");
    put_file("/group/memory.events", "low 0\nhigh 5\nmax 4\noom 0\noom_kill 1\noom_group_kill 9\n");
    prof_trace *trace = trace_stop();
    CHECK_EQUAL(counter_of(trace, "cgroup throttled").last, 8000);
    CHECK_EQUAL(counter_of(trace, "cgroup throttled periods").last, 2);
    CHECK_EQUAL(counter_of(trace, "cgroup quota").last, 150);
    CHECK_EQUAL(counter_of(trace, "cgroup memory limit").count, 0);
    CHECK_EQUAL(counter_of(trace, "cgroup memory above high").last, 2);
    CHECK_EQUAL(counter_of(trace, "cgroup memory at the limit").last, 0);
    CHECK_EQUAL(counter_of(trace, "cgroup out of memory kills").last, 1);
    CHECK(!strstr(said(trace, "counters"), "cgroup"));
    prof_trace_close(trace);
    prof__system_root = "";
}

TEST(loads_are_of_the_time_between)
{
    begin_files("loads");
    put_file("/proc/self/cgroup", "0::/\n");
    put_file("/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "2400000\n");
    put_file("/proc/pressure/cpu", "some avg10=0.00 avg60=0.00 avg300=0.00 total=1000\n");
    counters_start(trace_config(0));
    wait_rounds(2);
    put_file("/proc/stat", "cpu  120 0 120 1100 140 0 0 20 0 0\ncpu0 1 2 3 4\n"); /* 60 of 200, 20 of them stolen */
    put_file("/proc/self/statm", "1000 700 50 1 0 90 0\n");
    put_file("/proc/pressure/cpu", "some avg10=0.00 avg60=0.00 avg300=0.00 total=1001\n");
    put_file("/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "800000\n");
    wait_rounds(2);
    prof_trace *trace = trace_stop();
    double page = (double)sysconf(_SC_PAGESIZE);
    CHECK_EQUAL(counter_of(trace, "machine load").count, 1); /* in no other round a tick passed */
    CHECK_EQUAL(counter_of(trace, "machine load").last, 30);
    CHECK_EQUAL(counter_of(trace, "machine stolen").last, 10);
    CHECK_EQUAL(counter_of(trace, "resident memory").least, 300 * page);
    CHECK_EQUAL(counter_of(trace, "resident memory").last, 700 * page);
    CHECK_EQUAL(counter_of(trace, "processor frequency").most, 2400);
    CHECK_EQUAL(counter_of(trace, "processor frequency").last, 800);
    CHECK_TEXT(counter_of(trace, "processor frequency").unit, "MHz");
    CHECK(counter_of(trace, "pressure on processors").count > 0);
    CHECK(counter_of(trace, "pressure on processors").most < 50);
    CHECK_EQUAL(counter_of(trace, "pressure on disks").count, 0);
    CHECK_TEXT(said(trace, "counters"), "not readable here: pressure on disks (CONFIG_PSI), pressure on memory "
                                        "(CONFIG_PSI), cgroup throttled, cgroup memory");
    prof_trace_close(trace);
    prof__system_root = "";
}

/* What does not change is recorded again after a second: not in each round. */
TEST(only_changes_are_recorded)
{
    begin_files("same");
    counters_start(trace_config(0));
    uint64_t began = prof__monotonic();
    wait_rounds(8);
    uint64_t seconds = (prof__monotonic() - began) / 1000000000;
    prof_trace *trace = trace_stop();
    CHECK(counter_of(trace, "resident memory").count >= 1);
    CHECK(counter_of(trace, "resident memory").count <= 2 + seconds);
    prof_trace_close(trace);
    prof__system_root = "";
}

/* After a pause each value is recorded anew: readers know it from then on. */
TEST(a_pause_records_none)
{
    begin_files("pause");
    counters_start(trace_config(0));
    wait_rounds(1);
    prof_pause();
    put_file("/proc/self/statm", "1000 900 50 1 0 90 0\n");
    pause_ms(150);
    put_file("/proc/self/statm", "1000 300 50 1 0 90 0\n");
    prof_resume();
    prof_trace *trace = trace_stop();
    counted resident = counter_of(trace, "resident memory");
    CHECK(resident.count >= 2);
    CHECK_EQUAL(resident.most, 300 * (double)sysconf(_SC_PAGESIZE));
    prof_trace_close(trace);
    prof__system_root = "";
}

/* -- programs of known truth -- */

static uint64_t process_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* Checks that a counter grew by what the program did, and at most by what the whole process is known to have done. */
static void check_between(const prof_trace *trace, const char *name, double least, long before, long after)
{
    counted found = counter_of(trace, name);
    CHECK(found.count > 0);
    if (found.last < least || found.last > (double)(after - before))
        printf("%s: %.0f is not in %.0f to %ld\n", name, found.last, least, after - before);
    CHECK(found.last >= least && found.last <= (double)(after - before));
}

TEST(counts_are_those_of_the_program)
{
    enum { PAGES = 2000, NAPS = 30 };
    struct rusage before, after;
    long page = sysconf(_SC_PAGESIZE);
    const char *path = trace_path("written");
    static char block[1 << 16];
    getrusage(RUSAGE_SELF, &before);
    counters_start(trace_config(0));
    uint64_t began = prof__monotonic(), cpu = process_ns();
    char *pages = (char *)mmap(NULL, PAGES * (size_t)page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    madvise(pages, PAGES * (size_t)page, 15 /* MADV_NOHUGEPAGE */);
    for (long i = 0; i < PAGES; ++i) pages[i * page] = 1;
    wait_rounds(2);
    double ends;
    while (process_ns() - cpu < 150000000) continue;
    ends = (double)(process_ns() - cpu) / (double)(prof__monotonic() - began) * 100;
    wait_rounds(1);
    for (int i = 0; i < NAPS; ++i) pause_us(10);
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    CHECK(file >= 0 && write(file, block, sizeof block) == (ssize_t)sizeof block);
    close(file);
    prof_trace *trace = trace_stop();
    getrusage(RUSAGE_SELF, &after);
    munmap(pages, PAGES * (size_t)page);
    check_between(trace, "minor page faults", PAGES, before.ru_minflt, after.ru_minflt);
    check_between(trace, "major page faults", 0, before.ru_majflt, after.ru_majflt);
    check_between(trace, "voluntary switches", NAPS, before.ru_nvcsw, after.ru_nvcsw);
    check_between(trace, "involuntary switches", 0, before.ru_nivcsw, after.ru_nivcsw);
    check_between(trace, "written to disks", 0, before.ru_oublock * 512, after.ru_oublock * 512);
    check_between(trace, "read from disks", 0, before.ru_inblock * 512, after.ru_inblock * 512);
    CHECK(counter_of(trace, "resident memory").most >= (double)PAGES * (double)page);
    counted load = counter_of(trace, "process load");
    printf("load: at most %.1f %%, on average %.1f %% of a processor\n", load.most, ends);
    CHECK(load.most >= ends - 1); /* the greatest of the parts is no less than the whole */
    CHECK(load.most <= 101 * (double)sysconf(_SC_NPROCESSORS_CONF));
    prof_trace_close(trace);
}

/* Writes a text into a file of the system. Returns 0 if it refuses. */
static int put_text(const char *folder, const char *name, const char *text)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    int file = open(path, O_WRONLY | O_CLOEXEC);
    int good = file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text);
    if (file >= 0) close(file);
    return good;
}

static uint64_t throttled_periods(const char *folder)
{
    char path[512], text[1024];
    uint64_t number = 0;
    snprintf(path, sizeof path, "%s/cpu.stat", folder);
    if (prof__system_read(path, text, sizeof text)) prof__system_number(text, "nr_throttled", &number);
    return number;
}

enum { NO_GROUPS = 78 };
static char group_folder[300];

/* In a group of its own, which has 5 % of a processor. */
static void throttled_part(void)
{
    char pid[16];
    snprintf(pid, sizeof pid, "%ld", (long)getpid());
    int limited = put_text(group_folder, "cpu.max", "1000 20000") ||
                  (put_text(group_folder, "cpu.cfs_period_us", "20000") &&
                   put_text(group_folder, "cpu.cfs_quota_us", "1000"));
    if (!limited || !put_text(group_folder, "cgroup.procs", pid)) _exit(NO_GROUPS);
    counters_start(trace_config(0));
    uint64_t first = throttled_periods(group_folder), end = prof__monotonic() + 5000000000u;
    while (throttled_periods(group_folder) < first + 5 && prof__monotonic() < end) continue;
    uint64_t least = throttled_periods(group_folder) - first;
    prof_trace *trace = trace_stop();
    uint64_t most = throttled_periods(group_folder);
    counted periods = counter_of(trace, "cgroup throttled periods"), us = counter_of(trace, "cgroup throttled");
    printf("stopped in %.0f periods, for %.0f us\n", periods.last, us.last);
    CHECK(least >= 5);
    CHECK(periods.last >= (double)least && periods.last <= (double)most);
    CHECK(us.last >= 1000 * (double)least); /* of each 20 ms, 19 ms by one thread; the last one may not be over */
    CHECK_EQUAL(counter_of(trace, "cgroup quota").last, 5);
    prof_trace_close(trace);
}

TEST(a_group_stops_its_process)
{
    static const char *const places[] = {"/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct", "/sys/fs/cgroup"};
    int result = NO_GROUPS;
    for (int i = 0; i < 3 && result == NO_GROUPS; ++i) {
        snprintf(group_folder, sizeof group_folder, "%s/prof-test-%ld", places[i], (long)getpid());
        if (mkdir(group_folder, 0777)) continue;
        result = in_child(throttled_part);
        for (int j = 0; j < 1000 && rmdir(group_folder) && errno == EBUSY; ++j) pause_ms(1);
    }
    if (result == NO_GROUPS) SKIP("this needs root, and a control group for processors");
    CHECK_EQUAL(result, 0);
}

/* -- what the system refuses -- */

static void refused_part(void)
{
    prof_config config = trace_config(0);
    refuse(SYS_perf_event_open, EPERM);
    config.system = 1;
    CHECK_EQUAL(prof_start(&config), PROF_OK);
    CHECK_EQUAL(prof_system_status(), PROF_UNSUPPORTED);
    CHECK(strstr(prof_error(), "switches: ") != NULL);
    wait_rounds(2);
    prof_trace *trace = trace_stop();
    CHECK(counter_of(trace, "voluntary switches").count > 1);
    CHECK(strstr(said(trace, "switches"), "perf_event_open") != NULL);
    prof_trace_close(trace);
}

TEST(without_perf_events)
{
    if (TRACE_SANITIZER == 2) SKIP("it has no threads after a fork");
    int result = in_child(refused_part);
    if (result == NO_FILTERS) SKIP("this system has no seccomp");
    CHECK_EQUAL(result, 0);
}

/* The files are open before a change of the root folder; a killing filter meets no call of ours. */
static void sandboxed_part(void)
{
    counters_start(trace_config(0));
    wait_rounds(1);
    int apart = !chroot(trace_path("empty"));
    wait_rounds(2);
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_NOFILE, &none);
    wait_rounds(1);
    refuse(SYS_getrusage, 0);
    refuse(SYS_pread64, 0);
    pause_ms(250);
    prof_trace *trace = trace_stop();
    CHECK(counter_of(trace, "resident memory").count > 0);
    CHECK(strstr(said(trace, "counters"), "ended: the program has entered a sandbox") != NULL);
    if (apart) CHECK(prof_trace_about(trace)->event_count > 0);
    prof_trace_close(trace);
}

TEST(in_a_sandbox)
{
    if (TRACE_SANITIZER == 2) SKIP("it has no threads after a fork");
    mkdir(trace_path("empty"), 0777);
    int result = in_child(sandboxed_part);
    if (result == NO_FILTERS) SKIP("this system has no seccomp");
    CHECK_EQUAL(result, 0);
}

static int open_files(void)
{
    int count = 0;
    for (int i = 0; i < 256; ++i) count += fcntl(i, F_GETFD) != -1;
    return count;
}

static void forked_part(void)
{
    CHECK_EQUAL(prof_system_status(), PROF_UNSUPPORTED);
    PROFILE_MARK("in the child");
    prof_trace *trace = trace_stop();
    CHECK(strstr(said(trace, "counters"), "fork") != NULL);
    CHECK_TEXT(said(trace, "switches"), "");
    CHECK_EQUAL(counter_of(trace, "minor page faults").count, 0);
    prof_trace_close(trace);
    if (TRACE_SANITIZER == 2) return; /* which has no threads after a fork */
    counters_start(trace_config(0));
    wait_rounds(1);
    trace = trace_stop();
    CHECK(counter_of(trace, "minor page faults").count > 0);
    CHECK(!strstr(said(trace, "counters"), "fork"));
    prof_trace_close(trace);
}

TEST(a_child_says_that_it_has_none)
{
    int files = open_files();
    counters_start(trace_config(0));
    wait_rounds(1);
    CHECK_EQUAL(in_child(forked_part), 0);
    prof_trace *trace = trace_stop();
    CHECK(counter_of(trace, "minor page faults").count > 0);
    prof_trace_close(trace);
    CHECK_EQUAL(open_files(), files);
}

/* Few files: they stay the program's. */
static void few_files_part(void)
{
    struct rlimit limit = {16, 16};
    CHECK(!setrlimit(RLIMIT_NOFILE, &limit));
    counters_start(trace_config(0));
    int file = dup(1);
    CHECK(file >= 0 && file < 14);
    wait_rounds(1);
    prof_trace *trace = trace_stop();
    CHECK(counter_of(trace, "minor page faults").count > 0);
    prof_trace_close(trace);
}
TEST(files_stay_the_programs)
{
    if (TRACE_SANITIZER == 2) SKIP("it has no threads after a fork");
    CHECK_EQUAL(in_child(few_files_part), 0);
}

/* Other modes have them, too: a small ring, the statistics, a category that is off. */
TEST(in_other_modes)
{
    prof_config config = trace_config(128 << 10);
    counters_start(config);
    for (int i = 0; i < 50000; ++i) {
        PROFILE_SCOPE("filler");
    }
    wait_rounds(1);
    prof_trace *trace = trace_stop();
    CHECK(counter_of(trace, "resident memory").count > 0);
    prof_trace_close(trace);

    config = trace_config(0);
    config.mode = PROF_STATS;
    counters_start(config);
    wait_rounds(1);
    trace = trace_stop();
    trace_bytes text;
    memset(&text, 0, sizeof text);
    CHECK_EQUAL(prof_summary_stream(trace, trace_sink(&text), NULL), PROF_OK);
    CHECK(strstr(text.bytes, "minor page faults") != NULL);
    free(text.bytes);
    prof_trace_close(trace);

    config = trace_config(0);
    config.categories = "-system";
    counters_start(config);
    wait_rounds(1);
    trace = trace_stop();
    CHECK_EQUAL(prof_trace_about(trace)->event_count, 0);
    prof_trace_close(trace);
}

/* -- PROFILE_SCOPE_TIMED -- */

static uint64_t thread_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

enum { CALLS = 40, SLEPT_NS = 3000000, SPUN_NS = 2000000 };
static uint64_t ran[CALLS];
static int hogs; /* threads that spin while this is 1 */

static void spin(uint64_t ns)
{
    uint64_t end = thread_ns() + ns;
    while (thread_ns() < end) continue;
}

static void *hog_main(void *user)
{
    while (__atomic_load_n(&hogs, __ATOMIC_ACQUIRE)) spin(100000);
    return user;
}

static void napping(int i)
{
    PROFILE_STEP_TIMED("nap", i);
    uint64_t begin = thread_ns();
    spin(SPUN_NS / 4);
    pause_ns(SLEPT_NS);
    ran[i] = thread_ns() - begin;
}

static void spinning(void)
{
    PROFILE_SCOPE_TIMED("spin");
    spin(SPUN_NS);
}

static int is_near(uint64_t value, uint64_t truth, uint64_t whole)
{
    uint64_t most = whole / 20 > 100000 ? whole / 20 : 100000;
    return value < truth + most && truth < value + most;
}

/* How many calls of a name have parts as the program knows them. */
static int good_calls(const prof_trace *trace, const char *name, int naps)
{
    int good = 0, calls = 0;
    trace_list list = trace_read(trace, 0);
    for (size_t i = 0; i < list.count; ++i) {
        const prof_event *call = &list.events[i];
        prof_split split;
        if (call->type != PROF_EVENT_SCOPE || strcmp(call->name, name)) continue;
        CHECK_EQUAL(prof_event_split(trace, 0, call, &split), PROF_OK);
        CHECK_EQUAL(split.wall_ns, call->duration_ns);
        CHECK_EQUAL(split.running_ns + split.ready_ns + split.waiting_ns + split.unknown_ns, call->duration_ns);
        CHECK_EQUAL(split.unknown_ns, 0);
        if (naps)
            good += is_near(split.running_ns, ran[calls], split.wall_ns) &&
                    split.waiting_ns + 100000 > SLEPT_NS;
        else
            good += is_near(split.waiting_ns, 0, split.wall_ns) && split.running_ns + 100000 > SPUN_NS;
        ++calls;
    }
    CHECK_EQUAL(calls, CALLS);
    trace_free(&list);
    return good;
}

static void timed_part(void)
{
    prof_config config = trace_config(0);
    pthread_t hog;
    cpu_set_t set, one;
    refuse(SYS_perf_event_open, EPERM);
    config.switches = 1;
    CHECK_EQUAL(prof_start(&config), PROF_OK);
    CHECK_EQUAL(prof_system_status(), PROF_UNSUPPORTED);
    for (int i = 0; i < CALLS; ++i) napping(i);
    sched_getaffinity(0, sizeof set, &set); /* spins beside another thread on one processor */
    CPU_ZERO(&one);
    for (size_t i = 0; i < CPU_SETSIZE && !CPU_COUNT(&one); ++i)
        if (CPU_ISSET(i, &set)) CPU_SET(i, &one);
    sched_setaffinity(0, sizeof one, &one);
    hogs = 1;
    pthread_create(&hog, NULL, hog_main, NULL);
    for (int i = 0; i < CALLS; ++i) spinning();
    __atomic_store_n(&hogs, 0, __ATOMIC_RELEASE);
    pthread_join(hog, NULL);
    prof_trace *trace = trace_stop();
    int naps = good_calls(trace, "nap", 1), spins = good_calls(trace, "spin", 0);
    printf("of %d calls: %d and %d within 5 %% or 100 us\n", CALLS, naps, spins);
    CHECK(naps >= CALLS * 95 / 100);
    CHECK(spins >= CALLS * 95 / 100);
    prof_stat *stats = NULL;
    size_t count = 0;
    CHECK_EQUAL(prof_stats(trace, PROF_SORT_NAME, 1, &stats, &count), PROF_OK);
    CHECK_EQUAL(count, 2);
    for (size_t i = 0; i < count; ++i) {
        CHECK_EQUAL(stats[i].running_ns + stats[i].ready_ns + stats[i].waiting_ns, stats[i].total_ns);
        CHECK_EQUAL(stats[i].unknown_ns, 0);
        if (!strcmp(stats[i].name, "nap")) CHECK(stats[i].waiting_ns > CALLS * (uint64_t)SLEPT_NS * 9 / 10);
        else CHECK(stats[i].ready_ns > 1000000); /* the other thread ran in between */
    }
    prof_stats_free(stats);
    trace_bytes text;
    memset(&text, 0, sizeof text);
    CHECK_EQUAL(prof_summary_stream(trace, trace_sink(&text), NULL), PROF_OK);
    CHECK(strstr(text.bytes, "    running") != NULL);
    free(text.bytes);
    prof_trace_close(trace);
}

#define NEEDS_TIMED()                                      \
    do {                                                   \
        if (prof_timed_status() == PROF_OK) break;         \
        printf("%s\n", prof_error());                      \
        SKIP("this system does not count the run queue");  \
    } while (0)

/* A machine that is busy may disturb more than one call in twenty; a fault of prof does so each time. */
static int in_one_of_three_children(void (*part)(void))
{
    int result = in_child(part);
    for (int again = 0; again < 2 && result && result != NO_FILTERS; ++again) result = in_child(part);
    return result;
}

TEST(a_timed_scope_knows_its_parts)
{
    if (TRACE_SANITIZER == 2) SKIP("it has no threads after a fork");
    NEEDS_TIMED();
    int result = in_one_of_three_children(timed_part);
    if (result == NO_FILTERS) SKIP("this system has no seccomp");
    CHECK_EQUAL(result, 0);
}

/* Frames: each has the parts since the boundary before, and its number, also among others. */
static void timed_frames_part(void)
{
    prof_config config = trace_config(0);
    refuse(SYS_perf_event_open, EPERM);
    CHECK_EQUAL(prof_start(&config), PROF_OK);
    for (int i = 0; i <= CALLS; ++i) {
        errno = 7;
        PROFILE_FRAME_TIMED("timed");
        CHECK_EQUAL(errno, 7);
        if (i % 4 == 0) PROFILE_FRAME("plain");
        if (i == CALLS) break;
        uint64_t begin = thread_ns();
        spin(SPUN_NS / 4);
        pause_ns(SLEPT_NS);
        ran[i] = thread_ns() - begin;
    }
    prof_trace *trace = trace_stop();
    trace_list list = trace_read(trace, 0);
    int good = 0, frames = 0;
    for (size_t i = 0; i < list.count; ++i) {
        const prof_event *event = &list.events[i];
        prof_split split;
        if (strcmp(event->name, "timed")) continue;
        CHECK_EQUAL(event->detail, frames);
        CHECK_EQUAL(event->arg_count, frames ? 3 : 0);
        CHECK_EQUAL(prof_event_split(trace, 0, event, &split), PROF_OK);
        CHECK_EQUAL(split.wall_ns, event->duration_ns);
        CHECK_EQUAL(split.running_ns + split.ready_ns + split.waiting_ns + split.unknown_ns, event->duration_ns);
        good += frames && is_near(split.running_ns, ran[frames - 1], split.wall_ns) &&
                split.waiting_ns + 100000 > SLEPT_NS && split.unknown_ns == 0;
        ++frames;
    }
    CHECK_EQUAL(frames, CALLS + 1);
    printf("%d of %d frames within 5 %% or 100 us\n", good, CALLS);
    CHECK(good >= CALLS * 95 / 100);
    trace_free(&list);
    prof_trace_close(trace);
}

TEST(a_timed_frame_knows_its_parts)
{
    if (TRACE_SANITIZER == 2) SKIP("it has no threads after a fork");
    NEEDS_TIMED();
    int result = in_one_of_three_children(timed_frames_part);
    if (result == NO_FILTERS) SKIP("this system has no seccomp");
    CHECK_EQUAL(result, 0);
}

/* Without /proc only the time that it ran is known. */
static void no_proc_part(void)
{
    if (chroot(trace_path("empty"))) _exit(NO_GROUPS);
    prof_config config = trace_config(0);
    trace_start(&config);
    CHECK_EQUAL(prof_timed_status(), PROF_UNSUPPORTED);
    CHECK(strstr(prof_error(), "schedstat") != NULL);
    errno = 7;
    napping(0);
    CHECK_EQUAL(errno, 7);
    prof_trace *trace = trace_stop();
    trace_list list = trace_read(trace, 0);
    const prof_event *nap = trace_find(&list, "nap");
    prof_split split;
    CHECK(nap && !prof_event_split(trace, 0, nap, &split));
    if (nap) CHECK(is_near(split.running_ns, ran[0], split.wall_ns) && split.unknown_ns + 100000 > SLEPT_NS);
    if (nap) CHECK_EQUAL(split.running_ns + split.unknown_ns, nap->duration_ns);
    if (nap) CHECK_EQUAL(split.ready_ns + split.waiting_ns, 0);
    trace_free(&list);
    prof_trace_close(trace);
}
TEST(a_timed_scope_without_proc)
{
    mkdir(trace_path("empty"), 0777);
    int result = in_child(no_proc_part);
    if (result == NO_GROUPS) SKIP("this needs root");
    CHECK_EQUAL(result, 0);
}

static void timed_child_part(void)
{
    spinning();
    prof_trace *trace = trace_stop();
    trace_list list = trace_read(trace, 0);
    const prof_event *call = trace_find(&list, "spin");
    prof_split split;
    CHECK(call && !prof_event_split(trace, 0, call, &split));
    if (call) CHECK(split.unknown_ns == 0 && is_near(split.waiting_ns, 0, split.wall_ns));
    trace_free(&list);
    prof_trace_close(trace);
}

static void *timed_main(void *user)
{
    spinning();
    return user;
}

/* A thread that was cancelled goes on until it calls something that ends it: a macro does not. */
static int outlived;
static void *cancelled_main(void *user)
{
    pthread_cancel(pthread_self());
    spinning();
    outlived = 1;
    pthread_testcancel();
    return user;
}
TEST(timed_scopes_are_no_cancellation_points)
{
    NEEDS_TIMED();
    pthread_t thread;
    prof_config config = trace_config(0);
    trace_start(&config);
    CHECK(!pthread_create(&thread, NULL, cancelled_main, NULL));
    pthread_join(thread, NULL);
    CHECK(outlived);
    prof_trace_close(trace_stop());
}

/* Each thread has a file, which is closed when the thread ends; and not one of its parent's thread. */
TEST(timed_scopes_of_threads_and_children)
{
    NEEDS_TIMED();
    pthread_t threads[20];
    prof_config config = trace_config(0);
    trace_start(&config);
    spinning();
    int files = open_files();
    for (int i = 0; i < 20; ++i) CHECK(!pthread_create(&threads[i], NULL, timed_main, NULL));
    for (int i = 0; i < 20; ++i) pthread_join(threads[i], NULL);
    CHECK_EQUAL(open_files(), files);
    CHECK_EQUAL(in_child(timed_child_part), 0);
    spinning();
    prof_trace *trace = trace_stop();
    size_t known = 0;
    for (size_t i = 0; i < prof_trace_track_count(trace); ++i) {
        trace_list list = trace_read(trace, i);
        for (size_t j = 0; j < list.count; ++j) {
            prof_split split;
            known += !prof_event_split(trace, i, &list.events[j], &split) && !split.unknown_ns;
        }
        trace_free(&list);
    }
    CHECK_EQUAL(known, 22);
    prof_trace_close(trace);
}

/* Where the states of the thread are known, they say it. */
TEST(states_come_first)
{
    prof_config config = trace_config(0);
    config.switches = 1;
    trace_start(&config);
    int refused = prof_system_status() != PROF_OK;
    napping(0);
    prof_trace *trace = trace_stop();
    trace_list list = trace_read(trace, 0);
    const prof_event *nap = trace_find(&list, "nap");
    prof_split states, split;
    CHECK(nap != NULL);
    if (nap) CHECK_EQUAL(prof_track_split(trace, 0, nap->start_ns, nap->duration_ns, &states), PROF_OK);
    if (nap) CHECK_EQUAL(prof_event_split(trace, 0, nap, &split), PROF_OK);
    if (nap && !refused) CHECK(!states.unknown_ns && !memcmp(&states, &split, sizeof split));
    CHECK_EQUAL(prof_event_split(trace, 9, nap, &split), PROF_INVALID_ARGUMENT);
    CHECK_EQUAL(prof_event_split(trace, 0, NULL, &split), PROF_INVALID_ARGUMENT);
    trace_free(&list);
    prof_trace_close(trace);
    if (refused) SKIP("this system refuses perf events");
}
#endif

TEST_MAIN
