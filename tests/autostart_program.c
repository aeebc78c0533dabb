/* A program that only has scopes, for test_autostart.c: PROF_OUTPUT decides whether it is recorded. Its argument says
   how it ends. */
#include "../prof_chrome.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int thread_runs;

static void __attribute__((constructor)) before_main(void)
{
    PROFILE_SCOPE("constructor");
}

static void __attribute__((constructor(101))) before_everything(void)
{
    PROFILE_SCOPE("too early"); /* nothing is recorded yet; it is to do no harm */
}

static void __attribute__((destructor)) after_everything(void)
{
    PROFILE_SCOPE("too late");
}

static void at_exit(void)
{
    PROFILE_SCOPE("exit handler");
}

static void *runs_on(void *unused)
{
    PROFILE_THREAD("runs on");
    for (;;) {
        PROFILE_SCOPE("thread");
        __atomic_store_n(&thread_runs, 1, __ATOMIC_RELEASE);
    }
    return unused;
}

static int fork_and(int wait_for_it)
{
    fflush(stdout);
    pid_t child = fork();
    if (child && wait_for_it) return waitpid(child, NULL, 0) == child;
    if (child) return 1;
    if (!wait_for_it) usleep(100000); /* ends after the parent */
    for (int i = 0; i < 1000; ++i) PROFILE_BLOCK("child") {}
    exit(0); /* with all handlers, those inherited from the parent included */
}

int main(int argc, char **argv)
{
    const char *way = argc > 1 ? argv[1] : "return";
    pthread_t thread;
    PROFILE_FUNCTION();
    PROFILE_ARG_S("way", way);
    PROFILE_MARK_L("detail", 3);
    atexit(at_exit);
    puts("output");
    fputs("messages\n", stderr);
    for (int i = 0; i < 10; ++i) PROFILE_BLOCK("work") PROFILE_COUNTER_C("counter", i, "count");
    if (!strcmp(way, "thread")) {
        if (pthread_create(&thread, NULL, runs_on, NULL)) return 1;
        while (!__atomic_load_n(&thread_runs, __ATOMIC_ACQUIRE)) continue;
    }
    if (!strcmp(way, "fork") && !fork_and(1)) return 1;
    if (!strcmp(way, "orphan") && !fork_and(0)) return 1;
    if (!strcmp(way, "system")) {
        fflush(stdout);
        pid_t child = fork();
        if (!child) {
            int error = system("exit 0");
            _exit(error);
        }
        if (waitpid(child, NULL, 0) != child || system("exit 0")) return 1;
    }
    if (!strcmp(way, "exit")) exit(42);
    if (!strcmp(way, "quick")) {
        fflush(stdout);
        _exit(42);
    }
    return 42;
}
