// waits/calls: Wrappers of joins, and of system calls that may block.
#ifndef PROF__WAITS_CALLS_H
#define PROF__WAITS_CALLS_H
#include "api/markup.h"
#include "waits/locks.h"
#include "waits/real.h"
#include "waits/record.h"
#include "waits/wake.h"

#ifdef PROF__WRAPS_WAITS
/* shown: the name of the scope. key, value: what the call waits for; NULL: nothing that has a name. */
#define PROF__WAIT_AS(shown, result_type, name, params, args, key, type, value)                                        \
    PROF__WAIT_WRAPPER(result_type, name, params)                                                                      \
    {                                                                                                                  \
        PROF__WAIT_SITE(site, shown, BEGIN, WAIT);                                                                     \
        prof__waited wait;                                                                                             \
        if (!prof__wait_begin(&wait, &site)) return prof__real_##name() args;                                          \
        prof__wait_for(&wait, key, PROF_VALUE_##type, (uint64_t)(value));                                              \
        result_type result = prof__real_##name() args;                                                                 \
        prof__wait_end(&wait, 0);                                                                                      \
        return result;                                                                                                 \
    }
#define PROF__WAIT_CALL(result_type, name, params, args, key, type, value)                                             \
    PROF__WAIT_AS(#name, result_type, name, params, args, key, type, value)
#define PROF__WAIT_FILE_AS(shown, result_type, name, params, args)                                                     \
    PROF__WAIT_AS(shown, result_type, name, params, args, "fd", INT, (int64_t)fd)
#define PROF__WAIT_FILE(result_type, name, params, args) PROF__WAIT_FILE_AS(#name, result_type, name, params, args)
#define PROF__WAIT_SLEEP(result_type, name, params, args)                                                              \
    PROF__WAIT_CALL(result_type, name, params, args, NULL, NONE, 0)

#ifdef __GLIBC__
typedef __off_t prof__narrow_offset; /* of the function without 64 in its name, whatever _FILE_OFFSET_BITS is */
#else
typedef off_t prof__narrow_offset;
#endif

PROF__WAIT_CALL(int, pthread_join, (uintptr_t thread, void **value), (thread, value), "thread", POINTER, thread)
#ifdef PROF__WAIT_C11
PROF__WAIT_CALL(int, thrd_join, (uintptr_t thread, int *value), (thread, value), "thread", POINTER, thread)
PROF__WAIT_SLEEP(int, thrd_sleep, (const void *time, void *left), (time, left))
#endif
#ifdef __GLIBC__
PROF__WAIT_CALL(int, pthread_timedjoin_np, (uintptr_t thread, void **value, const void *time), (thread, value, time),
                "thread", POINTER, thread)
#endif
PROF__WAIT_CALL(int, pthread_barrier_wait, (void *barrier), (barrier), "barrier", POINTER, (uintptr_t)barrier)

PROF__WAIT_FILE(ssize_t, read, (int fd, void *to, size_t size), (fd, to, size))
PROF__WAIT_FILE(ssize_t, write, (int fd, const void *from, size_t size), (fd, from, size))
PROF__WAIT_FILE(ssize_t, readv, (int fd, const void *parts, int count), (fd, parts, count))
PROF__WAIT_FILE(ssize_t, writev, (int fd, const void *parts, int count), (fd, parts, count))
PROF__WAIT_FILE(ssize_t, pread, (int fd, void *to, size_t size, prof__narrow_offset at), (fd, to, size, at))
PROF__WAIT_FILE(ssize_t, pwrite, (int fd, const void *from, size_t size, prof__narrow_offset at), (fd, from, size, at))
PROF__WAIT_FILE(ssize_t, preadv, (int fd, const void *parts, int count, prof__narrow_offset at), (fd, parts, count, at))
PROF__WAIT_FILE(ssize_t, pwritev, (int fd, const void *parts, int count, prof__narrow_offset at),
                (fd, parts, count, at))
PROF__WAIT_FILE(ssize_t, sendfile, (int fd, int from, void *at, size_t size), (fd, from, at, size))
PROF__WAIT_FILE(ssize_t, recv, (int fd, void *to, size_t size, int flags), (fd, to, size, flags))
PROF__WAIT_FILE(ssize_t, recvfrom, (int fd, void *to, size_t size, int flags, void *from, void *length),
                (fd, to, size, flags, from, length))
PROF__WAIT_FILE(ssize_t, recvmsg, (int fd, void *message, int flags), (fd, message, flags))
PROF__WAIT_FILE(ssize_t, send, (int fd, const void *from, size_t size, int flags), (fd, from, size, flags))
PROF__WAIT_FILE(ssize_t, sendto,
                (int fd, const void *from, size_t size, int flags, const void *to, unsigned length),
                (fd, from, size, flags, to, length))
PROF__WAIT_FILE(ssize_t, sendmsg, (int fd, const void *message, int flags), (fd, message, flags))
PROF__WAIT_FILE(int, recvmmsg, (int fd, void *messages, unsigned count, int flags, void *time),
                (fd, messages, count, flags, time))
PROF__WAIT_FILE(int, sendmmsg, (int fd, void *messages, unsigned count, int flags), (fd, messages, count, flags))
PROF__WAIT_FILE(int, accept, (int fd, void *from, void *length), (fd, from, length))
PROF__WAIT_FILE(int, accept4, (int fd, void *from, void *length, int flags), (fd, from, length, flags))
PROF__WAIT_FILE(int, connect, (int fd, const void *to, unsigned length), (fd, to, length))
PROF__WAIT_FILE(int, fsync, (int fd), (fd))
PROF__WAIT_FILE(int, fdatasync, (int fd), (fd))
PROF__WAIT_FILE(int, syncfs, (int fd), (fd))
PROF__WAIT_FILE(int, flock, (int fd, int how), (fd, how))
PROF__WAIT_CALL(int, msync, (void *at, size_t size, int flags), (at, size, flags), "memory", POINTER, (uintptr_t)at)
PROF__WAIT_FILE(int, epoll_wait, (int fd, void *events, int count, int ms), (fd, events, count, ms))
PROF__WAIT_FILE(int, epoll_pwait, (int fd, void *events, int count, int ms, const void *mask),
                (fd, events, count, ms, mask))
PROF__WAIT_CALL(int, poll, (void *files, unsigned long count, int ms), (files, count, ms), "fds", UINT, count)
PROF__WAIT_CALL(int, ppoll, (void *files, unsigned long count, const void *time, const void *mask),
                (files, count, time, mask), "fds", UINT, count)
PROF__WAIT_CALL(int, select, (int count, void *in, void *out, void *other, void *time), (count, in, out, other, time),
                "fds", INT, (int64_t)count)
PROF__WAIT_CALL(int, pselect, (int count, void *in, void *out, void *other, const void *time, const void *mask),
                (count, in, out, other, time, mask), "fds", INT, (int64_t)count)
PROF__WAIT_SLEEP(int, nanosleep, (const void *time, void *left), (time, left))
PROF__WAIT_SLEEP(int, clock_nanosleep, (int clock, int flags, const void *time, void *left), (clock, flags, time, left))
PROF__WAIT_SLEEP(int, usleep, (unsigned us), (us))
PROF__WAIT_SLEEP(unsigned, sleep, (unsigned seconds), (seconds))
PROF__WAIT_SLEEP(int, wait, (void *status), (status))
PROF__WAIT_CALL(int, waitpid, (int pid, void *status, int flags), (pid, status, flags), "pid", INT, (int64_t)pid)
PROF__WAIT_CALL(int, wait4, (int pid, void *status, int flags, void *usage), (pid, status, flags, usage),
                "pid", INT, (int64_t)pid)
PROF__WAIT_CALL(int, waitid, (int kind, unsigned id, void *info, int flags), (kind, id, info, flags), "pid", UINT, id)
PROF__WAIT_SLEEP(int, sigwait, (const void *set, int *signal), (set, signal))
PROF__WAIT_SLEEP(int, sigwaitinfo, (const void *set, void *info), (set, info))
PROF__WAIT_SLEEP(int, sigtimedwait, (const void *set, void *info, const void *time), (set, info, time))

#ifdef __GLIBC__
PROF__WAIT_FILE_AS("pread", ssize_t, pread64, (int fd, void *to, size_t size, __off64_t at), (fd, to, size, at))
PROF__WAIT_FILE_AS("pwrite", ssize_t, pwrite64, (int fd, const void *from, size_t size, __off64_t at),
                   (fd, from, size, at))
PROF__WAIT_FILE_AS("preadv", ssize_t, preadv64, (int fd, const void *parts, int count, __off64_t at),
                   (fd, parts, count, at))
PROF__WAIT_FILE_AS("pwritev", ssize_t, pwritev64, (int fd, const void *parts, int count, __off64_t at),
                   (fd, parts, count, at))
PROF__WAIT_FILE_AS("sendfile", ssize_t, sendfile64, (int fd, int from, void *at, size_t size), (fd, from, at, size))
/* What these are with _FORTIFY_SOURCE. room: the bytes at `to`. */
PROF__WAIT_FILE_AS("read", ssize_t, __read_chk, (int fd, void *to, size_t size, size_t room), (fd, to, size, room))
PROF__WAIT_FILE_AS("pread", ssize_t, __pread_chk,
                   (int fd, void *to, size_t size, prof__narrow_offset at, size_t room), (fd, to, size, at, room))
PROF__WAIT_FILE_AS("pread", ssize_t, __pread64_chk, (int fd, void *to, size_t size, __off64_t at, size_t room),
                (fd, to, size, at, room))
PROF__WAIT_FILE_AS("recv", ssize_t, __recv_chk, (int fd, void *to, size_t size, size_t room, int flags),
                (fd, to, size, room, flags))
PROF__WAIT_FILE_AS("recvfrom", ssize_t, __recvfrom_chk,
                (int fd, void *to, size_t size, size_t room, int flags, void *from, void *length),
                (fd, to, size, room, flags, from, length))
PROF__WAIT_AS("poll", int, __poll_chk, (void *files, unsigned long count, int ms, size_t room),
              (files, count, ms, room), "fds", UINT, count)
PROF__WAIT_AS("ppoll", int, __ppoll_chk,
                (void *files, unsigned long count, const void *time, const void *mask, size_t room),
                (files, count, time, mask, room), "fds", UINT, count)
#endif

/*-- futex by syscall(): what std::atomic::wait() of C++20, and locks of other libraries, call --*/

enum { PROF__FUTEX_WAIT = 0, PROF__FUTEX_WAKE = 1, PROF__FUTEX_LOCK_PI = 6, PROF__FUTEX_WAIT_BITSET = 9,
       PROF__FUTEX_WAKE_BITSET = 10, PROF__FUTEX_WAIT_REQUEUE_PI = 11, PROF__FUTEX_LOCK_PI2 = 13 };

static int prof__futex_waits(long what)
{
    return what == PROF__FUTEX_WAIT || what == PROF__FUTEX_WAIT_BITSET || what == PROF__FUTEX_LOCK_PI ||
           what == PROF__FUTEX_LOCK_PI2 || what == PROF__FUTEX_WAIT_REQUEUE_PI;
}

PROF__WAIT_WRAPPER(long, syscall, (long number, ...))
{
    PROF__WAIT_SITE(site, "futex", BEGIN, WAIT);
    prof__waited wait;
    long with[6], result;
    va_list list;
    va_start(list, number);
    for (int i = 0; i < 6; ++i) with[i] = va_arg(list, long); /* more than there are: nobody knows how many */
    va_end(list);
    int begun = 0;
    if (number == SYS_futex) {
        long what = with[1] & 127; /* without FUTEX_PRIVATE_FLAG and FUTEX_CLOCK_REALTIME */
        const void *word = (const void *)(uintptr_t)with[0];
        if (what == PROF__FUTEX_WAKE || what == PROF__FUTEX_WAKE_BITSET)
            prof__wake(PROF__WAKE_SIGNAL, word, with[2] > 1 ? PROF__ARROW_FOR_ALL : 0);
        if (prof__futex_waits(what)) begun = prof__signal_begin(&wait, &site, "futex", word);
    }
    result = prof__real_syscall()(number, with[0], with[1], with[2], with[3], with[4], with[5]);
    if (begun) prof__signal_end(&wait, !result);
    return result;
}
#endif /* PROF__WRAPS_WAITS */

#endif /* PROF__WAITS_CALLS_H */
