/* test_faults.c - the system refuses one of the calls that a program makes with prof: the n-th of its kind, or all from
   the n-th on. Whatever it is, the program goes on, does what it would have done, and learns of what is lost.

   A child records; its parent traces it, and lets system calls fail: from a mark on, which the child sets in front of
   prof_start(). PROF_TEST_LONG=1 lets each call fail with each error, and many more times. */
/* run: long unraced unchecked */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "../prof_chrome.h"
#include "test.h"
#include "trace.h"
#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#if defined(__linux__) && defined(__x86_64__) && !TRACE_SANITIZER
#define FAULTS
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#endif

#ifndef FAULTS
TEST(faults) { SKIP("no ptrace() of x86-64 here, or a sanitizer, which calls more"); }
#else

enum { SCOPES = 300, CALLS = 512, SECONDS = 20, MARK = -77 };

/* What the child says, in memory that both share. */
typedef struct outcome {
    int started, stopped, done; /* statuses; done: 1 */
    int errno_kept, threads;    /* threads: that recorded */
    char reason[256];
} outcome;

static outcome *shared;

typedef struct configuration {
    const char *name, *file;
    prof_mode mode;
} configuration;

static const configuration configurations[] = {
    {"a ring in its file", "faults.prof", PROF_RING},
    {"a ring in memory", "faults.json", PROF_RING},
    {"a stream", "faults_stream.prof", PROF_STREAM},
    {"statistics", "faults.csv", PROF_RING_STATS},
};

static void *record(void *user)
{
    int i;
    for (i = 0; i < SCOPES; ++i) {
        errno = 77;
        PROFILE_SCOPE("scope");
        PROFILE_ARG_I("i", i);
        if (errno != 77) shared->errno_kept = 0;
    }
    return user;
}

/* Records, and leaves with 7, as the program would without prof. */
static void child_main(const configuration *c)
{
    prof_config config = trace_config(1u << 20);
    pthread_t thread;
    config.mode = c->mode;
    config.output = trace_path(c->file);
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL)) _exit(99);
    raise(SIGSTOP);
    close(MARK);
    shared->started = (int)prof_start(&config);
    if (shared->started) snprintf(shared->reason, sizeof shared->reason, "%s", prof_error());
    PROFILE_THREAD("main");
    record(NULL);
    shared->threads = 1;
    if (!pthread_create(&thread, NULL, record, NULL)) shared->threads += !pthread_join(thread, NULL);
    shared->stopped = (int)prof_stop();
    if (shared->stopped && !shared->started) snprintf(shared->reason, sizeof shared->reason, "%s", prof_error());
    shared->done = 1;
    close(MARK);
    _exit(7);
}

/* A failure to inject: of this call, from the n-th after the mark on, once or always. error 0: none */
typedef struct fault {
    long call;
    int nth, always, error;
} fault;

static int interesting(long call) /* not what libc's threads and the end of the program are built on */
{
    return call >= 0 && call < CALLS && call != SYS_futex && call != SYS_exit && call != SYS_exit_group &&
           call != SYS_rt_sigreturn && call != SYS_restart_syscall && call != SYS_brk && call != SYS_rseq &&
           call != SYS_set_robust_list;
}

static volatile sig_atomic_t too_late;
static void on_alarm(int number) { (void)number, too_late = 1; }

/* Runs a child and lets calls fail. counts: how often each was called after the mark, if not NULL. Returns its exit
   status, 128 + the signal that ended it, or -1 if it hung. */
static int run(const configuration *c, const fault *f, int *counts)
{
    int marks = 0, hits = 0, result = -1, status;
    long failing[64] = {0}; /* threads in a call that is to fail */
    size_t i;
    memset(shared, 0, sizeof *shared);
    shared->errno_kept = 1;
    fflush(stdout);
    pid_t child = fork();
    if (!child) child_main(c);
    too_late = 0;
    alarm(SECONDS);
    waitpid(child, &status, 0);
    ptrace(PTRACE_SETOPTIONS, child, NULL,
           (void *)(PTRACE_O_EXITKILL | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACESYSGOOD));
    ptrace(PTRACE_SYSCALL, child, NULL, NULL);
    while (!too_late) {
        struct user_regs_struct regs;
        long signal = 0;
        pid_t thread = waitpid(-1, &status, __WALL);
        if (thread < 0) {
            if (errno == EINTR) continue;
            break;
        }
        if (WIFEXITED(status) || WIFSIGNALED(status)) {
            if (thread != child) continue;
            result = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
            break;
        }
        if (WSTOPSIG(status) == (SIGTRAP | 0x80) && !ptrace(PTRACE_GETREGS, thread, NULL, &regs)) {
            long call = (long)regs.orig_rax;
            int enters = (long)regs.rax == -ENOSYS;
            for (i = 0; i < 64 && failing[i] != thread; ++i) {}
            if (i < 64) { /* it has returned */
                failing[i] = 0;
                regs.rax = (unsigned long long)(long long)-f->error;
                ptrace(PTRACE_SETREGS, thread, NULL, &regs);
            } else if (enters && call == SYS_close && (int)regs.rdi == MARK) {
                ++marks;
            } else if (enters && marks == 1 && interesting(call)) {
                if (counts) ++counts[call];
                if (f->error && call == f->call && (++hits == f->nth || (f->always && hits > f->nth))) {
                    for (i = 0; failing[i]; ++i) {}
                    failing[i] = thread;
                    regs.orig_rax = (unsigned long long)-1;
                    ptrace(PTRACE_SETREGS, thread, NULL, &regs);
                }
            }
        } else if (status >> 16 == 0 && WSTOPSIG(status) != SIGSTOP && WSTOPSIG(status) != SIGTRAP) {
            signal = WSTOPSIG(status);
        }
        ptrace(PTRACE_SYSCALL, thread, NULL, (void *)signal);
    }
    alarm(0);
    if (result < 0) kill(child, SIGKILL);
    while (waitpid(-1, &status, __WALL) > 0 || errno == EINTR) {}
    return result;
}

/* Returns the scopes that an output has, and *lost, what it says is lost. */
static uint64_t scopes_in(const configuration *c, uint64_t *lost)
{
    const char *path = trace_path(c->file);
    uint64_t count = 0;
    *lost = 0;
    if (strstr(c->file, ".prof")) {
        prof_trace *trace = NULL;
        if (prof_trace_open(path, &trace)) return 0;
        *lost = prof_trace_about(trace)->lost;
        count = prof_trace_about(trace)->event_count;
        prof_trace_close(trace);
        return count;
    }
    FILE *file = fopen(path, "r");
    char line[4096];
    while (file && fgets(line, sizeof line, file)) count += strstr(line, "\"scope\"") || strstr(line, ",scope,");
    if (file) fclose(file);
    return count;
}

static void remove_outputs(const configuration *c)
{
    char beside[512];
    snprintf(beside, sizeof beside, "%s.prof", trace_path(c->file));
    unlink(trace_path(c->file));
    unlink(beside);
}

static void check(const configuration *c, const fault *f, uint64_t all)
{
    int failures = test_failures, result = run(c, f, NULL);
    uint64_t lost, count = scopes_in(c, &lost);
    CHECK_EQUAL(result, 7);
    CHECK(shared->done);
    CHECK(shared->errno_kept);
    if (!shared->started && !shared->stopped) CHECK(count + lost >= all / 2 * (uint64_t)shared->threads);
    if (shared->started || shared->stopped) CHECK(shared->reason[0]);
    if (failures < test_failures)
        printf("  %s: call %ld, %s no. %d, error %d (%s): started %d, stopped %d (%s), %llu scopes, %llu lost\n",
               c->name, f->call, f->always ? "from" : "only", f->nth, f->error, strerror(f->error), shared->started,
               shared->stopped, shared->reason, (unsigned long long)count, (unsigned long long)lost);
    remove_outputs(c);
}

static void check_all(const configuration *c)
{
    static const int errors[] = {ENOSYS, EPERM, EINTR};
    int counts[CALLS] = {0};
    fault f = {0, 0, 0, 0};
    struct sigaction action;
    uint64_t lost, all;
    long runs = 0;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_alarm;
    sigaction(SIGALRM, &action, NULL);
    remove_outputs(c);
    int result = run(c, &f, counts);
    if (result == 99) SKIP("ptrace() is not allowed here");
    all = scopes_in(c, &lost);
    CHECK_EQUAL(result, 7);
    CHECK_EQUAL(shared->started | shared->stopped, PROF_OK);
    CHECK_EQUAL(shared->threads, 2);
    CHECK(all >= 2);
    remove_outputs(c);
    for (f.call = 0; f.call < CALLS && test_failures < 40; ++f.call) {
        int most = (int)trace_times(1, 2, 40);
        for (f.nth = 1; f.nth <= counts[f.call] && f.nth <= most; ++f.nth)
            for (f.always = 0; f.always < 2; ++f.always)
                for (size_t e = 0; e < sizeof errors / sizeof *errors; ++e, ++runs) {
                    f.error = errors[e];
                    if (trace_times(0, 1, 2) || (e == (size_t)f.nth % 3)) check(c, &f, all);
                }
    }
    printf("%s: %ld failures\n", c->name, runs);
}

TEST(faults_of_a_ring_in_its_file) { check_all(&configurations[0]); }
TEST(faults_of_a_ring_in_memory) { check_all(&configurations[1]); }
TEST(faults_of_a_stream) { check_all(&configurations[2]); }
TEST(faults_of_statistics) { check_all(&configurations[3]); }
#endif

int main(int argc, char **argv)
{
#ifdef FAULTS
    shared = (outcome *)mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
#endif
    return test_run(argc, argv);
}
