/* What a stand-in for a tool was told: a line for each call, in BRIDGE_LOG, with the number of the thread that called. */
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <fcntl.h>
#include <errno.h>

static pthread_mutex_t log_mutex = PTHREAD_MUTEX_INITIALIZER;
static int log_threads;
static __thread int log_thread;

/* BRIDGE_QUIET=1: a tool that does nothing, to measure what comes before it. */
static int log_quiet(void)
{
    static int quiet = -1;
    int is = __atomic_load_n(&quiet, __ATOMIC_RELAXED);
    if (is < 0) {
        is = getenv("BRIDGE_QUIET") != NULL;
        __atomic_store_n(&quiet, is, __ATOMIC_RELAXED);
    }
    return is;
}
#define say(...) (log_quiet() ? (void)0 : log_say(__VA_ARGS__))

static void __attribute__((format(printf, 1, 2))) log_say(const char *format, ...)
{
    static int file = -1;
    char line[1200];
    va_list list;
    pthread_mutex_lock(&log_mutex);
    if (file < 0) {
        const char *path = getenv("BRIDGE_LOG");
        file = path ? open(path, O_WRONLY | O_CREAT | O_APPEND, 0666) : 2;
    }
    if (!log_thread) log_thread = ++log_threads;
    int size = snprintf(line, 16, "%d ", log_thread);
    va_start(list, format);
    size += vsnprintf(line + size, sizeof line - 20, format, list);
    va_end(list);
    if (size > (int)sizeof line - 2) size = (int)sizeof line - 2;
    line[size++] = '\n';
    if (write(file, line, (size_t)size) != size) abort();
    pthread_mutex_unlock(&log_mutex);
    errno = 5; /* tools do as they like */
}
