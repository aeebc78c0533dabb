/* PROF_WRAP_WAITS: where threads wait in calls of the C library. A thread waits; another sees in /proc that it sleeps,
   measures the time from then on, and lets it go. So each wait has a time that it cannot be shorter than, and one that
   it cannot be longer than. */
/* run: unchecked */
#define _GNU_SOURCE
#define PROF_IMPLEMENTATION
#define PROF_WRAP_WAITS
#include "../prof_chrome.h"
#include "test.h"
#include "trace.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifdef PROF__WRAPS_WAITS
#define WRAPPED 1
#else
#define WRAPPED 0 /* sanitizers have wrappers of their own */
#endif
#define NEEDS_WRAPPERS() \
    if (!WRAPPED) SKIP("not in a build with a sanitizer")

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/*-- a thread that waits --*/

typedef struct waiter {
    int (*call)(void *with); /* waits; returns the call's result */
    void *with;
    pthread_t thread;
    int id, entered, result, error;
    int64_t least, most; /* ns: bounds of its wait */
} waiter;

static void *waiter_main(void *user)
{
    waiter *w = (waiter *)user;
    int64_t began;
    prof_set_thread_name("waiter");
    __atomic_store_n(&w->id, (int)syscall(SYS_gettid), __ATOMIC_RELEASE);
    {
        PROFILE_SCOPE("waits");
        errno = 77;
        began = now_ns();
        __atomic_store_n(&w->entered, 1, __ATOMIC_RELEASE);
        w->result = w->call(w->with);
        w->error = errno;
        w->most = now_ns() - began;
    }
    return NULL;
}

static int asleep(const waiter *w)
{
    char path[64], text[256] = "", *state;
    FILE *file;
    if (!__atomic_load_n(&w->entered, __ATOMIC_ACQUIRE)) return 0;
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", w->id);
    file = fopen(path, "r");
    if (!file) return 0;
    if (!fgets(text, sizeof text, file)) *text = 0;
    fclose(file);
    state = strrchr(text, ')');
    return state && state[2] == 'S';
}

static void waiter_begin(waiter *w, int (*call)(void *with), void *with)
{
    memset(w, 0, sizeof *w);
    w->call = call;
    w->with = with;
    CHECK(!pthread_create(&w->thread, NULL, waiter_main, w));
    WAIT_UNTIL(asleep(w));
}

/* Waits for a while, and notes for how long. */
static void waiter_measure(waiter *w)
{
    int64_t began = now_ns();
    while (now_ns() - began < 5000000) pause_us(500);
    w->least = now_ns() - began;
}

static void waiter_end(waiter *w, int result)
{
    CHECK(!pthread_join(w->thread, NULL));
    CHECK_EQUAL(w->result, result);
#ifdef __GLIBC__ /* musl's sem_wait() changes it */
    if (result >= 0) CHECK_EQUAL(w->error, 77);
#endif
}

/*-- what is recorded --*/

static prof_wait *waits;
static size_t wait_count;

static prof_trace *waits_stop(void)
{
    prof_trace *trace = trace_stop();
    CHECK_EQUAL(prof_waits(trace, &waits, &wait_count), PROF_OK);
    return trace;
}

static void waits_close(prof_trace *trace)
{
    prof_waits_free(waits);
    waits = NULL;
    prof_trace_close(trace);
}

/* Returns the only wait in this call on the track of a thread. */
static const prof_wait *wait_of(const prof_trace *trace, int id, const char *call)
{
    static const prof_wait none = {"", "", "", 0, 0, 0, 0, 0, "", 0, PROF_NO_TRACK, "", PROF_NO_TRACK, 0, ""};
    const prof_wait *found = &none;
    size_t count = 0;
    for (size_t i = 0; i < wait_count; ++i) {
        if (strcmp(waits[i].call, call) || prof_trace_track(trace, waits[i].track)->thread_id != (uint64_t)id) continue;
        found = &waits[i];
        ++count;
    }
    if (count != 1) printf("%zu waits in %s\n", count, call);
    CHECK_EQUAL(count, 1);
    return found;
}

/* The bounds are exact but for the rate of the clock, which is measured. */
static void check_time(const prof_wait *wait, const waiter *w)
{
    CHECK(wait->duration_ns >= w->least - w->least / 50);
    CHECK(wait->duration_ns <= w->most + w->most / 50 + 1000);
    CHECK_TEXT(wait->scope, "waits");
}

static uint64_t own_id(void) { return (uint64_t)syscall(SYS_gettid); }

static void check_arrow(const prof_trace *trace, const prof_wait *wait, const char *scope)
{
    CHECK(wait->waker_track != PROF_NO_TRACK);
    if (wait->waker_track == PROF_NO_TRACK) return;
    CHECK_EQUAL(prof_trace_track(trace, wait->waker_track)->thread_id, own_id());
    CHECK_TEXT(wait->waker_scope, scope);
    CHECK(wait->woken_ns >= wait->start_ns && wait->woken_ns <= wait->start_ns + wait->duration_ns);
}

static void check_holder(const prof_trace *trace, const prof_wait *wait, const void *lock)
{
    CHECK_TEXT(wait->what, "lock");
    CHECK_EQUAL(wait->object, (uint64_t)(uintptr_t)lock);
    CHECK_EQUAL(wait->holder, own_id());
    CHECK(wait->holder_track != PROF_NO_TRACK);
    if (wait->holder_track != PROF_NO_TRACK)
        CHECK_EQUAL(prof_trace_track(trace, wait->holder_track)->thread_id, own_id());
    CHECK_TEXT(wait->holder_scope, "load_texture");
}

/*-- locks --*/

static int lock_call(void *lock)
{
    int result = pthread_mutex_lock((pthread_mutex_t *)lock);
    pthread_mutex_unlock((pthread_mutex_t *)lock);
    return result;
}

static void one_mutex(pthread_mutex_t *mutex, int result, const char *name, int (*call)(void *))
{
    prof_config config = trace_config(1u << 20);
    waiter w;
    trace_start(&config);
    {
        PROFILE_SCOPE("load_texture");
        CHECK(!pthread_mutex_lock(mutex));
        waiter_begin(&w, call, mutex);
        waiter_measure(&w);
        {
            PROFILE_SCOPE("unlocks");
            CHECK(!pthread_mutex_unlock(mutex));
        }
    }
    waiter_end(&w, result);
    prof_trace *trace = waits_stop();
    const prof_wait *wait = wait_of(trace, w.id, name);
    check_time(wait, &w);
    check_holder(trace, wait, mutex);
    check_arrow(trace, wait, "unlocks");
    prof_lock_row *rows = NULL;
    size_t count = 0;
    CHECK_EQUAL(prof_locks(trace, 1, &rows, &count), PROF_OK);
    CHECK_EQUAL(count, 1);
    if (count == 1) {
        CHECK_TEXT(rows[0].name, "mutex");
        CHECK_EQUAL(rows[0].address, (uint64_t)(uintptr_t)mutex);
        CHECK_EQUAL(rows[0].acquired, 1);
        CHECK_EQUAL(rows[0].contended, 1);
        CHECK_EQUAL(rows[0].holding, 0);
        CHECK_EQUAL(rows[0].unmatched, 0);
        CHECK_EQUAL((int64_t)rows[0].wait_ns, wait->duration_ns);
    }
    prof_locks_free(rows);
    waits_close(trace);
}

TEST(mutex)
{
    NEEDS_WRAPPERS();
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    one_mutex(&mutex, 0, "pthread_mutex_lock", lock_call);
}

static int lock_until(void *lock)
{
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += 100;
    int result = pthread_mutex_timedlock((pthread_mutex_t *)lock, &end);
    pthread_mutex_unlock((pthread_mutex_t *)lock);
    return result;
}

TEST(mutex_with_a_time)
{
    NEEDS_WRAPPERS();
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    one_mutex(&mutex, 0, "pthread_mutex_timedlock", lock_until);
}

static int lock_twice(void *lock)
{
    int result = pthread_mutex_lock((pthread_mutex_t *)lock);
    if (!result) result = pthread_mutex_lock((pthread_mutex_t *)lock);
    pthread_mutex_unlock((pthread_mutex_t *)lock);
    pthread_mutex_unlock((pthread_mutex_t *)lock);
    return result;
}

static void mutex_of(pthread_mutex_t *mutex, int type)
{
    pthread_mutexattr_t kind;
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_settype(&kind, type);
    pthread_mutex_init(mutex, &kind);
    pthread_mutexattr_destroy(&kind);
}

TEST(recursive_mutex)
{
    NEEDS_WRAPPERS();
    pthread_mutex_t mutex;
    mutex_of(&mutex, PTHREAD_MUTEX_RECURSIVE);
    one_mutex(&mutex, 0, "pthread_mutex_lock", lock_twice);
    pthread_mutex_destroy(&mutex);
}

TEST(mutex_that_checks)
{
    NEEDS_WRAPPERS();
    pthread_mutex_t mutex;
    mutex_of(&mutex, PTHREAD_MUTEX_ERRORCHECK);
    one_mutex(&mutex, EDEADLK, "pthread_mutex_lock", lock_twice);
    CHECK_EQUAL(pthread_mutex_unlock(&mutex), EPERM);
    pthread_mutex_destroy(&mutex);
}

static void *dies_with(void *lock)
{
    CHECK(!pthread_mutex_lock((pthread_mutex_t *)lock));
    return NULL;
}

static int lock_dead(void *lock)
{
    int result = pthread_mutex_lock((pthread_mutex_t *)lock);
    pthread_mutex_consistent((pthread_mutex_t *)lock);
    pthread_mutex_unlock((pthread_mutex_t *)lock);
    return result;
}

TEST(robust_mutex)
{
    NEEDS_WRAPPERS();
    prof_config config = trace_config(1u << 20);
    pthread_mutex_t mutex;
    pthread_mutexattr_t kind;
    pthread_t thread;
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&mutex, &kind);
    pthread_mutexattr_destroy(&kind);
    trace_start(&config);
    CHECK(!pthread_create(&thread, NULL, dies_with, &mutex));
    CHECK(!pthread_join(thread, NULL));
    CHECK_EQUAL(lock_dead(&mutex), EOWNERDEAD);
    CHECK_EQUAL(lock_dead(&mutex), 0);
    prof_trace_close(trace_stop());
    one_mutex(&mutex, 0, "pthread_mutex_lock", lock_call);
    pthread_mutex_destroy(&mutex);
}

static int write_lock(void *lock)
{
    int result = pthread_rwlock_wrlock((pthread_rwlock_t *)lock);
    pthread_rwlock_unlock((pthread_rwlock_t *)lock);
    return result;
}

static int read_lock(void *lock)
{
    int result = pthread_rwlock_rdlock((pthread_rwlock_t *)lock);
    pthread_rwlock_unlock((pthread_rwlock_t *)lock);
    return result;
}

TEST(read_write_lock)
{
    NEEDS_WRAPPERS();
    static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
    prof_config config = trace_config(1u << 20);
    waiter reader, writer;
    trace_start(&config);
    {
        PROFILE_SCOPE("load_texture");
        CHECK(!pthread_rwlock_wrlock(&lock));
        waiter_begin(&reader, read_lock, &lock);
        waiter_begin(&writer, write_lock, &lock);
        waiter_measure(&reader);
        writer.least = reader.least;
        CHECK(!pthread_rwlock_unlock(&lock));
    }
    waiter_end(&reader, 0);
    waiter_end(&writer, 0);
    prof_trace *trace = waits_stop();
    const prof_wait *wait = wait_of(trace, reader.id, "pthread_rwlock_rdlock");
    check_time(wait, &reader);
    check_holder(trace, wait, &lock);
    wait = wait_of(trace, writer.id, "pthread_rwlock_wrlock");
    check_time(wait, &writer);
    check_holder(trace, wait, &lock);
    waits_close(trace);
}

/* Of three threads that wait for one lock, each is woken by the one before. */
TEST(who_wakes_whom)
{
    NEEDS_WRAPPERS();
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    prof_config config = trace_config(1u << 20);
    waiter w[3];
    size_t by_main = 0;
    trace_start(&config);
    {
        PROFILE_SCOPE("load_texture");
        CHECK(!pthread_mutex_lock(&mutex));
        for (int i = 0; i < 3; ++i) waiter_begin(&w[i], lock_call, &mutex);
        waiter_measure(&w[0]);
        CHECK(!pthread_mutex_unlock(&mutex));
    }
    for (int i = 0; i < 3; ++i) waiter_end(&w[i], 0);
    prof_trace *trace = waits_stop();
    for (int i = 0; i < 3; ++i) {
        const prof_wait *wait = wait_of(trace, w[i].id, "pthread_mutex_lock");
        CHECK(wait->waker_track != PROF_NO_TRACK && wait->waker_track != wait->track);
        if (wait->waker_track == PROF_NO_TRACK) continue;
        by_main += prof_trace_track(trace, wait->waker_track)->thread_id == own_id();
        CHECK_EQUAL(wait->holder, own_id());
    }
    CHECK_EQUAL(by_main, 1);
    waits_close(trace);
}

/*-- conditions, semaphores, joins --*/

static pthread_mutex_t event_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t event = PTHREAD_COND_INITIALIZER;
static int event_came;

static int wait_for_event(void *unused)
{
    int result = 0;
    (void)unused;
    pthread_mutex_lock(&event_mutex);
    while (!event_came && !result) result = pthread_cond_wait(&event, &event_mutex);
    event_came = 0;
    pthread_mutex_unlock(&event_mutex);
    return result;
}

static int wait_with_a_time(void *ms)
{
    struct timespec end;
    int result = 0;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_nsec += *(int *)ms * 1000000;
    end.tv_sec += end.tv_nsec / 1000000000;
    end.tv_nsec %= 1000000000;
    pthread_mutex_lock(&event_mutex);
    while (!event_came && !result) result = pthread_cond_timedwait(&event, &event_mutex, &end);
    pthread_mutex_unlock(&event_mutex);
    return result;
}

TEST(condition)
{
    NEEDS_WRAPPERS();
    prof_config config = trace_config(1u << 20);
    int ms = 5;
    waiter w, late;
    trace_start(&config);
    waiter_begin(&w, wait_for_event, NULL);
    waiter_measure(&w);
    {
        PROFILE_SCOPE("signals");
        pthread_mutex_lock(&event_mutex);
        event_came = 1;
        CHECK(!pthread_cond_signal(&event));
        pthread_mutex_unlock(&event_mutex);
    }
    waiter_end(&w, 0);
    memset(&late, 0, sizeof late);
    late.call = wait_with_a_time;
    late.with = &ms;
    CHECK(!pthread_create(&late.thread, NULL, waiter_main, &late));
    waiter_end(&late, ETIMEDOUT);
    late.least = 4900000; /* of another clock */
    prof_trace *trace = waits_stop();
    const prof_wait *wait = wait_of(trace, w.id, "pthread_cond_wait");
    check_time(wait, &w);
    check_arrow(trace, wait, "signals");
    CHECK_TEXT(wait->what, "condition");
    CHECK_EQUAL(wait->object, (uint64_t)(uintptr_t)&event);
    wait = wait_of(trace, late.id, "pthread_cond_timedwait");
    check_time(wait, &late);
    CHECK(wait->waker_track == PROF_NO_TRACK);
    waits_close(trace);
}

static int wait_sem(void *semaphore) { return sem_wait((sem_t *)semaphore); }

TEST(semaphore)
{
    NEEDS_WRAPPERS();
    prof_config config = trace_config(1u << 20);
    sem_t semaphore;
    waiter w;
    sem_init(&semaphore, 0, 0);
    trace_start(&config);
    waiter_begin(&w, wait_sem, &semaphore);
    waiter_measure(&w);
    {
        PROFILE_SCOPE("posts");
        CHECK(!sem_post(&semaphore));
    }
    waiter_end(&w, 0);
    prof_trace *trace = waits_stop();
    const prof_wait *wait = wait_of(trace, w.id, "sem_wait");
    check_time(wait, &w);
    check_arrow(trace, wait, "posts");
    CHECK_TEXT(wait->what, "semaphore");
    waits_close(trace);
    sem_destroy(&semaphore);
}

static int join(void *thread) { return pthread_join(*(pthread_t *)thread, NULL); }
static int pipes[2];
static int read_byte(void *file)
{
    char byte;
    return (int)read(*(int *)file, &byte, 1);
}

TEST(join_and_pipe)
{
    NEEDS_WRAPPERS();
    prof_config config = trace_config(1u << 20);
    waiter reader, joiner;
    CHECK(!pipe(pipes));
    trace_start(&config);
    waiter_begin(&reader, read_byte, &pipes[0]);
    waiter_begin(&joiner, join, &reader.thread);
    waiter_measure(&reader);
    joiner.least = reader.least;
    CHECK_EQUAL(write(pipes[1], "x", 1), 1);
    waiter_end(&joiner, 0);
    CHECK_EQUAL(reader.result, 1);
    prof_trace *trace = waits_stop();
    const prof_wait *wait = wait_of(trace, reader.id, "read");
    check_time(wait, &reader);
    CHECK_TEXT(wait->what, "fd");
    CHECK_EQUAL(wait->object, pipes[0]);
    wait = wait_of(trace, joiner.id, "pthread_join");
    check_time(wait, &joiner);
    CHECK_TEXT(wait->what, "thread");
    waits_close(trace);
    close(pipes[0]);
    close(pipes[1]);
}

/*-- system calls that wait for a pipe, each in its own thread --*/

static int poll_call(void *file)
{
    struct pollfd one;
    one.fd = *(int *)file;
    one.events = POLLIN;
    return poll(&one, 1, -1);
}

static int select_call(void *file)
{
    fd_set set;
    FD_ZERO(&set);
    FD_SET(*(int *)file, &set);
    return select(*(int *)file + 1, &set, NULL, NULL, NULL);
}

static int epoll_call(void *file)
{
    struct epoll_event what, came;
    int epoll = epoll_create1(0), result;
    memset(&what, 0, sizeof what);
    what.events = EPOLLIN;
    epoll_ctl(epoll, EPOLL_CTL_ADD, *(int *)file, &what);
    result = epoll_wait(epoll, &came, 1, -1);
    close(epoll);
    return result;
}

static int recv_call(void *file)
{
    char byte;
    return (int)recv(*(int *)file, &byte, 1, 0);
}

TEST(system_calls)
{
    NEEDS_WRAPPERS();
    static const struct {
        const char *name;
        int (*call)(void *);
    } calls[] = {{"poll", poll_call}, {"select", select_call}, {"epoll_wait", epoll_call}, {"recv", recv_call}};
    prof_config config = trace_config(1u << 20);
    waiter w[4];
    int pair[2];
    CHECK(!socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
    trace_start(&config);
    for (int i = 0; i < 4; ++i) waiter_begin(&w[i], calls[i].call, &pair[0]);
    waiter_measure(&w[0]);
    CHECK_EQUAL(write(pair[1], "xxxx", 4), 4);
    for (int i = 0; i < 4; ++i) {
        w[i].least = w[0].least;
        waiter_end(&w[i], 1);
    }
    prof_trace *trace = waits_stop();
    for (int i = 0; i < 4; ++i) check_time(wait_of(trace, w[i].id, calls[i].name), &w[i]);
    waits_close(trace);
    close(pair[0]);
    close(pair[1]);
}

static int sleep_call(void *ns)
{
    struct timespec time;
    time.tv_sec = 0;
    time.tv_nsec = *(int *)ns;
    return nanosleep(&time, NULL);
}

static int lock_file(void *file) { return flock(*(int *)file, LOCK_EX); }
static int wait_for_child(void *pid) { return waitpid(*(int *)pid, NULL, 0) == *(int *)pid ? 0 : -1; }
static int wait4_for_child(void *pid) { return wait4(*(int *)pid, NULL, 0, NULL) == *(int *)pid ? 0 : -1; }
static int waitid_for_child(void *pid) { return waitid(P_PID, (id_t)*(int *)pid, NULL, WEXITED); }
static int wait_for_signal(void *unused)
{
    sigset_t set;
    int signal;
    (void)unused;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    return sigwait(&set, &signal);
}

TEST(files_children_and_signals)
{
    NEEDS_WRAPPERS();
    static const struct {
        const char *name;
        int (*call)(void *);
    } calls[] = {{"waitpid", wait_for_child}, {"wait4", wait4_for_child}, {"waitid", waitid_for_child}};
    prof_config config = trace_config(1u << 20);
    const char *path = trace_path("waits.lock");
    int files[2] = {open(path, O_RDWR | O_CREAT, 0600), open(path, O_RDWR)}, children[3];
    waiter w[3], locks, signals;
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    for (int i = 0; i < 3; ++i)
        if (!(children[i] = fork())) _exit(pause());
    trace_start(&config);
    CHECK(!flock(files[0], LOCK_EX));
    waiter_begin(&locks, lock_file, &files[1]);
    waiter_begin(&signals, wait_for_signal, NULL);
    for (int i = 0; i < 3; ++i) waiter_begin(&w[i], calls[i].call, &children[i]);
    waiter_measure(&locks);
    signals.least = w[0].least = w[1].least = w[2].least = locks.least;
    CHECK(!flock(files[0], LOCK_UN));
    CHECK(!pthread_kill(signals.thread, SIGUSR2));
    for (int i = 0; i < 3; ++i) CHECK(!kill(children[i], SIGKILL));
    waiter_end(&locks, 0);
    waiter_end(&signals, 0);
    for (int i = 0; i < 3; ++i) waiter_end(&w[i], 0);
    prof_trace *trace = waits_stop();
    check_time(wait_of(trace, locks.id, "flock"), &locks);
    CHECK_EQUAL(wait_of(trace, locks.id, "flock")->object, (uint64_t)files[1]);
    check_time(wait_of(trace, signals.id, "sigwait"), &signals);
    for (int i = 0; i < 3; ++i) {
        check_time(wait_of(trace, w[i].id, calls[i].name), &w[i]);
        CHECK_EQUAL(wait_of(trace, w[i].id, calls[i].name)->object, (uint64_t)children[i]);
    }
    waits_close(trace);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    close(files[0]);
    close(files[1]);
    unlink(path);
}

TEST(sleep_for_a_time)
{
    NEEDS_WRAPPERS();
    prof_config config = trace_config(1u << 20);
    int ns = 5000000;
    waiter w;
    trace_start(&config);
    memset(&w, 0, sizeof w);
    w.call = sleep_call;
    w.with = &ns;
    w.least = ns;
    CHECK(!pthread_create(&w.thread, NULL, waiter_main, &w));
    waiter_end(&w, 0);
    prof_trace *trace = waits_stop();
    const prof_wait *wait = wait_of(trace, w.id, "nanosleep");
    check_time(wait, &w);
    CHECK_TEXT(wait->what, "");
    waits_close(trace);
}

/* Nothing but the wait is recorded of this thread. Its time counts from the call on, though the thread gets its first
   words of the buffer in it. */
static void *only_sleeps(void *user)
{
    waiter *w = (waiter *)user;
    int64_t began = now_ns();
    w->id = (int)syscall(SYS_gettid);
    w->result = sleep_call(w->with);
    w->most = now_ns() - began;
    return NULL;
}

TEST(first_event_of_a_thread)
{
    NEEDS_WRAPPERS();
    static const prof_clock clocks[] = {PROF_CLOCK_AUTO, PROF_CLOCK_MONOTONIC};
    int ns = 5000000;
    for (int i = 0; i < 2; ++i) {
        prof_config config = trace_config(1u << 20);
        waiter w;
        config.clock = clocks[i];
        memset(&w, 0, sizeof w);
        w.with = &ns;
        trace_start(&config);
        CHECK(!pthread_create(&w.thread, NULL, only_sleeps, &w));
        CHECK(!pthread_join(w.thread, NULL));
        prof_trace *trace = waits_stop();
        const prof_wait *wait = wait_of(trace, w.id, "nanosleep");
        CHECK(wait->duration_ns >= ns - ns / 50 && wait->duration_ns <= w.most + w.most / 50 + 1000);
        CHECK_TEXT(wait->scope, "");
        waits_close(trace);
    }
}

static int futex_call(void *word) { return (int)syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0); }

TEST(futex)
{
    NEEDS_WRAPPERS();
    static int word;
    prof_config config = trace_config(1u << 20);
    waiter w;
    trace_start(&config);
    waiter_begin(&w, futex_call, &word);
    waiter_measure(&w);
    {
        PROFILE_SCOPE("wakes");
        CHECK_EQUAL(syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0), 1);
    }
    waiter_end(&w, 0);
    prof_trace *trace = waits_stop();
    const prof_wait *wait = wait_of(trace, w.id, "futex");
    check_time(wait, &w);
    check_arrow(trace, wait, "wakes");
    CHECK_EQUAL(wait->object, (uint64_t)(uintptr_t)&word);
    waits_close(trace);
}

/*-- what leaves nothing --*/

/* Nothing that does not wait is recorded, nor what is shorter than the configuration says. */
TEST(below_the_threshold)
{
    NEEDS_WRAPPERS();
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    prof_config config = trace_config(1u << 20);
    waiter w;
    CHECK_EQUAL(prof_config_set(&config, "waits", "1000s"), PROF_OK);
    trace_start(&config);
    for (int i = 0; i < 1000; ++i) {
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
        CHECK_EQUAL(write(-1, "x", 1), -1);
        CHECK_EQUAL(poll(NULL, 0, 0), 0);
    }
    CHECK(!pthread_mutex_lock(&mutex));
    waiter_begin(&w, lock_call, &mutex);
    pthread_mutex_unlock(&mutex);
    waiter_end(&w, 0);
    prof_trace *trace = waits_stop();
    CHECK_EQUAL(wait_count, 0);
    CHECK_EQUAL(prof_trace_about(trace)->event_count, 1); /* the scope of the thread that waited */
    CHECK_EQUAL(prof_trace_about(trace)->lost, 0);
    waits_close(trace);
}

TEST(configuration)
{
    prof_config config;
    memset(&config, 0, sizeof config);
    CHECK_EQUAL(prof_config_set(&config, "waits", "2ms"), PROF_OK);
    CHECK_EQUAL(config.waits_ns, 2000000);
    CHECK_EQUAL(prof_config_set(&config, "waits", "0"), PROF_OK);
    CHECK_EQUAL(config.waits_ns, PROF_NEVER);
    CHECK_EQUAL(prof_config_set(&config, "waits", "soon"), PROF_INVALID_ARGUMENT);
    if (!WRAPPED) SKIP("not in a build with a sanitizer");
    config = trace_config(1u << 20);
    config.waits_ns = PROF_NEVER;
    trace_start(&config);
    poll(NULL, 0, 5);
    prof_trace *trace = waits_stop();
    CHECK_EQUAL(prof_trace_about(trace)->event_count, 0);
    waits_close(trace);
}

/* prof's own threads and functions wait as well: none of that is recorded. */
TEST(what_prof_waits_for)
{
    NEEDS_WRAPPERS();
    prof_config config = trace_config(1u << 20);
    config.mode = PROF_STREAM;
    config.output = trace_path("stream.prof");
    config.waits_ns = 1;
    trace_start(&config);
    for (int i = 0; i < 100000; ++i) PROFILE_MARK("filler");
    CHECK_EQUAL(prof_save(trace_path("waits.json")), PROF_OK);
    prof_trace *trace = waits_stop();
    CHECK_EQUAL(wait_count, 0);
    waits_close(trace);
}

/*-- the host program's behaviour --*/

static void *volatile cleaned;
static void clean(void *user) { cleaned = user; }
static int cancelled_read(void *file)
{
    int result;
    pthread_cleanup_push(clean, file);
    result = read_byte(file);
    pthread_cleanup_pop(0);
    return result;
}
static int cancelled_wait(void *unused)
{
    int result;
    pthread_cleanup_push(clean, unused);
    result = wait_for_event(unused);
    pthread_cleanup_pop(0);
    return result;
}

TEST(cancellation)
{
    NEEDS_WRAPPERS();
    prof_config config = trace_config(1u << 20);
    waiter w;
    void *result;
    int files[2], other;
    CHECK(!pipe(files));
    trace_start(&config);
    waiter_begin(&w, cancelled_read, &files[0]);
    CHECK(!pthread_cancel(w.thread));
    CHECK(!pthread_join(w.thread, &result));
    CHECK(result == PTHREAD_CANCELED);
    CHECK(cleaned == &files[0]);
    waiter_begin(&w, cancelled_wait, &other);
    CHECK(!pthread_cancel(w.thread));
    CHECK(!pthread_join(w.thread, &result));
    CHECK(result == PTHREAD_CANCELED);
    CHECK(cleaned == &other);
    pthread_mutex_unlock(&event_mutex); /* the cancelled thread had it again */
    pthread_mutex_init(&event_mutex, NULL);
    prof_trace_close(trace_stop());
    close(files[0]);
    close(files[1]);
}

static volatile int handled;
static void handler(int number)
{
    (void)number;
    PROFILE_SCOPE("handler");
    PROFILE_MARK("in the handler");
    handled = 1;
}

/* A handler in the middle of a wait records, and the call fails as it does without prof. */
TEST(interrupted)
{
    NEEDS_WRAPPERS();
    prof_config config = trace_config(1u << 20);
    struct sigaction action;
    waiter w;
    int files[2];
    memset(&action, 0, sizeof action);
    action.sa_handler = handler; /* without SA_RESTART */
    sigaction(SIGUSR1, &action, NULL);
    CHECK(!pipe(files));
    trace_start(&config);
    waiter_begin(&w, read_byte, &files[0]);
    waiter_measure(&w);
    handled = 0;
    pthread_kill(w.thread, SIGUSR1);
    waiter_end(&w, -1);
    CHECK_EQUAL(w.error, EINTR);
    CHECK(handled);
    prof_trace *trace = waits_stop();
    const prof_wait *wait = wait_of(trace, w.id, "read");
    check_time(wait, &w);
    for (size_t i = 0; i < prof_trace_track_count(trace); ++i) { /* still in order of time */
        trace_list list = trace_read(trace, i);
        for (size_t k = 1; k < list.count; ++k) CHECK(list.events[k].start_ns >= list.events[k - 1].start_ns);
        trace_free(&list);
    }
    waits_close(trace);
    close(files[0]);
    close(files[1]);
}

static sigjmp_buf away;
static void jump(int number)
{
    (void)number;
    siglongjmp(away, 1);
}
static int leaves_a_wait(void *file)
{
    if (!sigsetjmp(away, 1)) read_byte(file);
    return wait_sem((sem_t *)((int *)file + 4));
}

TEST(left_by_a_jump)
{
    NEEDS_WRAPPERS();
    prof_config config = trace_config(1u << 20);
    struct sigaction action;
    struct { int files[4]; sem_t semaphore; } with;
    waiter w;
    memset(&action, 0, sizeof action);
    action.sa_handler = jump;
    sigaction(SIGUSR1, &action, NULL);
    CHECK(!pipe(with.files));
    sem_init(&with.semaphore, 0, 0);
    trace_start(&config);
    waiter_begin(&w, leaves_a_wait, &with);
    pthread_kill(w.thread, SIGUSR1);
    pause_us(1000);
    WAIT_UNTIL(asleep(&w));
    waiter_measure(&w);
    sem_post(&with.semaphore);
    waiter_end(&w, 0);
    prof_trace *trace = waits_stop();
    const prof_wait *wait = wait_of(trace, w.id, "sem_wait");
    CHECK(wait->duration_ns >= w.least - w.least / 50);
    waits_close(trace);
    close(with.files[0]);
    close(with.files[1]);
    sem_destroy(&with.semaphore);
}

/* The child has no other thread: nobody waits there, though one did in the parent. A child that does not wait has no
   recording. */
TEST(children)
{
    NEEDS_WRAPPERS();
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    const char *path = trace_path("waits_fork.prof");
    prof_config config = trace_config(1u << 20);
    char own[300];
    waiter w;
    int status = 0;
    config.output = path;
    trace_start(&config);
    CHECK(!pthread_mutex_lock(&mutex));
    waiter_begin(&w, lock_call, &mutex);
    waiter_measure(&w);
    for (int waits_too = 0; waits_too < 2; ++waits_too) {
        pid_t child = fork();
        if (!child) {
            pthread_mutex_unlock(&mutex);
            for (int i = 0; i < 100; ++i) lock_call(&mutex);
            if (waits_too) poll(NULL, 0, 5);
            if (waits_too) poll(NULL, 0, 7);
            _exit(5);
        }
        CHECK(child > 0 && waitpid(child, &status, 0) == child);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 5);
        snprintf(own, sizeof own, "%.*s.%ld.prof", (int)strlen(path) - 5, path, (long)child);
        CHECK_EQUAL(trace_file_size(own) >= 0, waits_too);
        if (!waits_too) continue;
        prof_trace *trace = trace_open_file(own);
        if (!trace) continue;
        CHECK_EQUAL(prof_waits(trace, &waits, &wait_count), PROF_OK);
        CHECK_EQUAL(wait_count, 2);
        if (wait_count == 2) CHECK(waits[0].duration_ns >= 4900000 && waits[1].duration_ns >= 6900000);
        waits_close(trace);
        remove(own);
    }
    pthread_mutex_unlock(&mutex);
    waiter_end(&w, 0);
    prof_trace *trace = waits_stop();
    check_time(wait_of(trace, w.id, "pthread_mutex_lock"), &w);
    waits_close(trace);
}

/* Before main. */
static pthread_mutex_t early = PTHREAD_MUTEX_INITIALIZER;
static int early_result = -1;
__attribute__((__constructor__(101))) static void before_main(void)
{
    early_result = pthread_mutex_lock(&early);
    if (!early_result) early_result = pthread_mutex_unlock(&early);
}
TEST(before_main_locks_work) { CHECK_EQUAL(early_result, 0); }

/* Threads that fight for a lock: nothing hangs, nothing is lost, and the lock still does its work. */
static pthread_mutex_t fought = PTHREAD_MUTEX_INITIALIZER;
static uint64_t fights;
static void *fight(void *count)
{
    for (long i = *(long *)count; i--;) {
        pthread_mutex_lock(&fought);
        ++fights;
        pthread_mutex_unlock(&fought);
    }
    return NULL;
}

/* More threads than chunks: calls that do not wait keep no chunk from those that record. */
static pthread_barrier_t all_there;
static void *one_of_many(void *user)
{
    poll(NULL, 0, 0);
    pthread_barrier_wait(&all_there);
    poll(NULL, 0, 0);
    {
        PROFILE_SCOPE("one of many");
        poll(NULL, 0, 0);
    }
    poll(NULL, 0, 0);
    pthread_barrier_wait(&all_there);
    return user;
}

TEST(many_threads)
{
    NEEDS_WRAPPERS();
    enum { THREADS = 400 };
    prof_config config = trace_config(1u << 20);
    pthread_t threads[THREADS];
    size_t scopes = 0;
    config.waits_ns = 1000000000000;
    pthread_barrier_init(&all_there, NULL, THREADS);
    trace_start(&config);
    for (int i = 0; i < THREADS; ++i) CHECK(!pthread_create(&threads[i], NULL, one_of_many, NULL));
    for (int i = 0; i < THREADS; ++i) CHECK(!pthread_join(threads[i], NULL));
    prof_trace *trace = waits_stop();
    for (size_t i = 0; i < prof_trace_track_count(trace); ++i) scopes += prof_trace_track(trace, i)->event_count;
    CHECK_EQUAL(wait_count, 0);
    CHECK_EQUAL(prof_trace_about(trace)->lost, 0);
    CHECK_EQUAL(scopes, THREADS);
    waits_close(trace);
    pthread_barrier_destroy(&all_there);
}

#if WRAPPED
static size_t waiter_room(void) { return PROF__WAITERS; }
static uintptr_t waiter_address(size_t i) { return prof__waits_for[i]; }
#else
static size_t waiter_room(void) { return 0; }
static uintptr_t waiter_address(size_t i) { return i; }
#endif

TEST(contention)
{
    NEEDS_WRAPPERS();
    prof_config config = trace_config(16u << 20);
    long count = trace_times(1000, 20000, 1000000);
    pthread_t threads[8];
    config.waits_ns = 1;
    fights = 0;
    trace_start(&config);
    for (int i = 0; i < 8; ++i) CHECK(!pthread_create(&threads[i], NULL, fight, &count));
    for (int i = 0; i < 8; ++i) CHECK(!pthread_join(threads[i], NULL));
    prof_trace *trace = waits_stop();
    CHECK_EQUAL(fights, 8 * (uint64_t)count);
    CHECK_EQUAL(prof_trace_about(trace)->lost, 0);
    for (size_t i = 0; i < wait_count; ++i) CHECK(!waits[i].holder || waits[i].holder_track != waits[i].track);
    waits_close(trace);
    for (size_t i = 0; i < waiter_room(); ++i) CHECK(!waiter_address(i));
}

TEST_MAIN
