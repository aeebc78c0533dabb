/* A program that forbids itself most system calls (seccomp), as sandboxes do: macros call only what the manual says. A
   process that calls anything else is killed. */
/* run: unraced */
#include "../prof_read.h"
#include "test.h"
#include "trace.h"
#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#if defined(__has_include)
#if __has_include(<linux/seccomp.h>)
#include <linux/filter.h>
#include <linux/seccomp.h>
#endif
#endif

#if !defined(SECCOMP_RET_KILL_PROCESS) || TRACE_SANITIZER
TEST(sandboxes) { SKIP("no seccomp here, or a sanitizer, which calls more"); }
#else
enum { EVENTS = 200000, CALLS = 16 };

/* Returns 0 if from here on calls of all threads other than these (to -1) do what otherwise says. */
static int enter(const int *calls, uint32_t otherwise)
{
    struct sock_filter filter[2 * CALLS + 2];
    struct sock_fprog program = {0, filter};
    filter[program.len++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (; *calls >= 0; ++calls) {
        filter[program.len++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)*calls, 0, 1);
        filter[program.len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    }
    filter[program.len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, otherwise);
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
           syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program);
}

static void record(void)
{
    for (int i = 0; i < EVENTS / 2; ++i) {
        PROFILE_SCOPE("scope");
        if (i % 16) continue;
        PROFILE_SCOPE_F("job %d", i);
        PROFILE_ARG_I("i", i);
        PROFILE_COUNTER("counter", i);
        PROFILE_LOG(PROF_LOG_INFO, "message %d", i);
        PROFILE_ALLOC(&i, 4);
        PROFILE_FREE(&i);
        PROFILE_SPAN_BEGIN("span", (uint64_t)i);
        PROFILE_SPAN_END("span", (uint64_t)i);
    }
}

/* A thread begins before the sandbox and never ends, so that the test need not know what that calls. */
enum { NOT_YET, BEGUN, INSIDE, DONE };
static int stage;
static void stage_wait(int until)
{
    while (__atomic_load_n(&stage, __ATOMIC_ACQUIRE) != until) {}
}
static void *thread_main(void *unused)
{
    (void)unused;
    __atomic_store_n(&stage, BEGUN, __ATOMIC_RELEASE);
    stage_wait(INSIDE);
    record();
    __atomic_store_n(&stage, DONE, __ATOMIC_RELEASE);
    stage_wait(NOT_YET);
    return NULL;
}

/* Records in a child. Returns its exit status: 0, 77 if there are no sandboxes, or 128 + the signal that killed it. */
static int record_inside(const prof_config *config, const int *calls, uint32_t otherwise)
{
    int status = 0;
    fflush(stdout);
    pid_t child = fork();
    if (!child) {
        pthread_t thread;
        if (prof_start(config) || pthread_create(&thread, NULL, thread_main, NULL)) _exit(1);
        stage_wait(BEGUN);
        for (int i = 0; i < 5000; ++i) PROFILE_MARK("before"); /* where all is refused, what is ready by now stays */
        if (enter(calls, otherwise)) _exit(77);
        __atomic_store_n(&stage, INSIDE, __ATOMIC_RELEASE);
        record();
        stage_wait(DONE);
        syscall(SYS_exit_group, 0);
    }
    waitpid(child, &status, 0);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

#ifdef SYS_newfstatat
#define FSTATS SYS_fstat, SYS_newfstatat
#else
#define FSTATS SYS_fstat
#endif
#define ALWAYS SYS_exit_group, SYS_rt_sigprocmask, SYS_futex, SYS_prctl, SYS_gettid
static const int always[] = {ALWAYS, -1};
static const int in_memory[] = {ALWAYS, SYS_madvise, -1};
static const int in_a_file[] = {ALWAYS, SYS_madvise, FSTATS, SYS_fallocate, SYS_rt_sigpending, -1};

static prof_config config_of(const char *output)
{
    prof_config config = trace_config(32u << 20);
    config.output = output;
    config.existing = PROF_EXISTING_REPLACE;
    return config;
}

/* Returns how many scopes are in a trace, and closes it. error: what its write_error must be. */
static uint64_t scopes_of(prof_trace *trace, const char *error)
{
    uint64_t count = 0;
    CHECK(trace && !strcmp(prof_trace_about(trace)->write_error, error));
    for (size_t i = 0; trace && i < prof_trace_track_count(trace); ++i) {
        trace_list list = trace_read(trace, i);
        count += trace_count(&list, "scope");
        trace_free(&list);
    }
    prof_trace_close(trace);
    return count;
}

TEST(a_ring_in_the_programs_memory)
{
    const size_t size = 32u << 20;
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    prof_config config = trace_config(0);
    prof_trace *trace = NULL;
    config.memory = memory;
    config.memory_size = size;
    int status = record_inside(&config, always, SECCOMP_RET_KILL_PROCESS);
    if (status == 77) SKIP("this system has no sandboxes");
    CHECK_EQUAL(status, 0);
    CHECK_EQUAL(prof_trace_open_memory(memory, size, &trace), PROF_OK);
    CHECK_EQUAL(scopes_of(trace, ""), EVENTS);
    munmap(memory, size);
}

TEST(a_ring_in_memory)
{
    prof_config config = config_of(NULL);
    int status = record_inside(&config, in_memory, SECCOMP_RET_KILL_PROCESS);
    if (status == 77) SKIP("this system has no sandboxes");
    CHECK_EQUAL(status, 0);
}

TEST(a_ring_in_a_file)
{
    const char *path = trace_path("sandbox.prof");
    prof_config config = config_of(path);
    int status = record_inside(&config, in_a_file, SECCOMP_RET_KILL_PROCESS);
    if (status == 77) SKIP("this system has no sandboxes");
    CHECK_EQUAL(status, 0);
    CHECK_EQUAL(scopes_of(trace_open_file(path), ""), EVENTS);
}

TEST(a_filter_that_returns_errors)
{
    static const int errors[] = {EPERM, ENOSYS, EACCES};
    for (int i = 0; i < 3; ++i) {
        const char *path = trace_path("refused.prof");
        prof_config config = config_of(path);
        int status = record_inside(&config, always, SECCOMP_RET_ERRNO | (uint32_t)errors[i]);
        if (status == 77) SKIP("this system has no sandboxes");
        CHECK_EQUAL(status, 0);
        CHECK(scopes_of(trace_open_file(path), "Input/output error, or refused by a sandbox") > 1000);
    }
}
#endif

TEST_MAIN
