// server/posix: What the server needs of POSIX: sockets, poll() and threads.
#ifndef PROF__SERVER_POSIX_H
#define PROF__SERVER_POSIX_H
#include "session/process.h"

#ifndef _WIN32
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#ifdef PROF__LATE /* see prof.h, >>platform: functions of Linux, declared with _GNU_SOURCE */
extern int prof__libc_accept4(int listener, struct sockaddr *from, socklen_t *size, int flags) __asm__("accept4");
extern int prof__libc_pipe2(int *files, int flags) __asm__("pipe2");
#elif defined(__linux__)
#define prof__libc_accept4 accept4
#define prof__libc_pipe2 pipe2
#endif

/*-- THE SYSTEM ---------------------------------------------------------------------------------------------------*/

#ifndef MSG_NOSIGNAL
#define MSG_NOSIGNAL 0 /* not needed there: the server's thread blocks all signals */
#endif
#define PROF__SOCKET(file) (file)
#define PROF__SOCKET_REUSE SO_REUSEADDR

typedef pthread_t prof__server_thread;
typedef void *prof__server_result; /* what a thread's function returns */
#define PROF__SERVER_MAIN
#define prof__server_create(thread, main, user) prof__thread_create(thread, main, user)
#define prof__server_join(thread) pthread_join(thread, NULL)

typedef struct pollfd prof__server_pollfd;
#define prof__socket_poll(files, count, ms) poll(files, (nfds_t)(count), ms)
#define prof__socket_errno() errno
#define prof__socket_strerror(error) strerror(error)
#define prof__socket_close(file) close(file)
#define prof__socket_send(file, at, size) send(file, at, size, MSG_NOSIGNAL)
#define prof__socket_recv(file, at, size) recv(file, at, size, 0)

static void prof__socket_option(int file, int level, int option, int value)
{
    setsockopt(file, level, option, &value, sizeof value);
}

static int prof__server_descriptor(int file) /* makes it non-blocking, and closed by exec() */
{
    if (file >= 0 && (fcntl(file, F_SETFD, FD_CLOEXEC) || fcntl(file, F_SETFL, fcntl(file, F_GETFL) | O_NONBLOCK))) {
        close(file);
        file = -1;
    }
    return file;
}

static int prof__socket_accept(int listener)
{
#if defined(__linux__) && defined(SOCK_CLOEXEC)
    return prof__libc_accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
#else
    return prof__server_descriptor(accept(listener, NULL, NULL));
#endif
}

/* Returns a new socket. Returns -1 and sets errno if that fails. */
static int prof__socket_open(int family)
{
#if defined(SOCK_CLOEXEC) && defined(SOCK_NONBLOCK)
    return socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
#else
    return prof__server_descriptor(socket(family, SOCK_STREAM, 0));
#endif
}

/* Makes the pipe that wakes the thread from poll(). Returns 0 or an errno. */
static int prof__wake_make(int wake[2])
{
#ifdef __linux__
    return prof__libc_pipe2(wake, O_CLOEXEC | O_NONBLOCK) ? errno : 0;
#else
    return pipe(wake) || (wake[0] = prof__server_descriptor(wake[0])) < 0 ||
                   (wake[1] = prof__server_descriptor(wake[1])) < 0
               ? errno
               : 0;
#endif
}
#define PROF__WAKE_END(wake) (wake)[1]
#define prof__wake_send(file) write(file, "", 1)
#define prof__wake_take(file, at, size) read(file, at, size)
#endif

#endif /* PROF__SERVER_POSIX_H */
