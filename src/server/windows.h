// server/windows: What the server needs of Windows: sockets, polls and threads.
#ifndef PROF__SERVER_WINDOWS_H
#define PROF__SERVER_WINDOWS_H
#include "ground/base.h"

#ifdef _WIN32
#include <winsock2.h>
#include <ws2tcpip.h>

/*-- THE SYSTEM -----------------------------------------------------------------------------------------------------
   A socket is kept as an int, as on POSIX: Windows numbers sockets with small integers. */

#define PROF__SOCKET(file) ((SOCKET)(file))
/* SO_REUSEADDR of Windows would take a port from a program that listens on it. This option does not. */
#define PROF__SOCKET_REUSE SO_EXCLUSIVEADDRUSE

typedef HANDLE prof__server_thread;
typedef DWORD prof__server_result; /* what a thread's function returns */
#define PROF__SERVER_MAIN WINAPI

static int prof__server_create(HANDLE *thread, LPTHREAD_START_ROUTINE run, void *user)
{
    *thread = CreateThread(NULL, 0, run, user, 0, NULL);
    return *thread ? 0 : EAGAIN;
}

static void prof__server_join(HANDLE thread)
{
    WaitForSingleObject(thread, INFINITE);
    CloseHandle(thread);
}

static int prof__socket_errno(void)
{
    switch (WSAGetLastError()) {
    case WSAEWOULDBLOCK: return EAGAIN;
    case WSAEINTR: return EINTR;
    case WSAECONNABORTED: return ECONNABORTED;
    case WSAEACCES: /* another program has the port for itself */
    case WSAEADDRINUSE: return EADDRINUSE;
    case WSAEADDRNOTAVAIL: return EADDRNOTAVAIL;
    case WSAEAFNOSUPPORT: return EAFNOSUPPORT;
    default: return EIO;
    }
}

static const char *prof__socket_strerror(int error) /* strerror() of the C runtime lacks some errors of sockets */
{
    return error == EADDRINUSE ? "Address already in use"
           : error == EADDRNOTAVAIL || error == EAFNOSUPPORT ? "Cannot assign requested address" : strerror(error);
}

static ptrdiff_t prof__socket_did(int result) /* sets errno */
{
    if (result < 0) errno = prof__socket_errno();
    return result;
}

static void prof__socket_close(int file) { closesocket(PROF__SOCKET(file)); }

static void prof__socket_option(int file, int level, int option, int value)
{
    setsockopt(PROF__SOCKET(file), level, option, (const char *)&value, sizeof value);
}

static ptrdiff_t prof__socket_send(int file, const unsigned char *at, size_t size)
{
    return prof__socket_did(send(PROF__SOCKET(file), (const char *)at, (int)size, 0));
}

static ptrdiff_t prof__socket_recv(int file, void *at, size_t size)
{
    return prof__socket_did(recv(PROF__SOCKET(file), (char *)at, (int)size, 0));
}

/* Makes a socket non-blocking and not inherited. Returns -1 and sets errno if that fails, or if `file` is no socket. */
static int prof__server_descriptor(SOCKET file)
{
    u_long on = 1;
    if (file == INVALID_SOCKET) return (int)prof__socket_did(-1);
    SetHandleInformation((HANDLE)file, HANDLE_FLAG_INHERIT, 0);
    if (ioctlsocket(file, (long)FIONBIO, &on)) {
        closesocket(file);
        errno = EIO;
        return -1;
    }
    return (int)file;
}

static int prof__socket_accept(int listener)
{
    return prof__server_descriptor(accept(PROF__SOCKET(listener), NULL, NULL));
}

static int prof__socket_open(int family) /* the first call starts Winsock */
{
    static int started;
    WSADATA about;
    if (!started && WSAStartup(MAKEWORD(2, 2), &about)) {
        errno = EAFNOSUPPORT;
        return -1;
    }
    started = 1;
    return prof__server_descriptor(socket(family, SOCK_STREAM, 0));
}

typedef struct prof__server_pollfd {
    int fd; /* -1: poll ignores this entry */
    short events, revents;
} prof__server_pollfd;

static int prof__socket_poll(prof__server_pollfd *files, size_t count, int ms)
{
    WSAPOLLFD asked[64];
    ULONG used = 0;
    size_t i;
    for (i = 0; i < count && used < 64; ++i) {
        if (files[i].fd < 0) continue;
        asked[used].fd = PROF__SOCKET(files[i].fd);
        asked[used].events = files[i].events;
        asked[used++].revents = 0;
    }
    int result = WSAPoll(asked, used, ms);
    if (result < 0) Sleep(10); /* so that repeated failures do not keep a processor busy */
    for (i = 0, used = 0; i < count; ++i) files[i].revents = files[i].fd < 0 ? 0 : asked[used++].revents;
    return result;
}

/* Makes the socket that wakes the thread from its poll: it is connected to itself. Returns 0 or an errno. */
static int prof__wake_make(int wake[2])
{
    struct sockaddr_in here;
    int size = sizeof here;
    memset(&here, 0, sizeof here);
    here.sin_family = AF_INET;
    here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    wake[0] = prof__server_descriptor(socket(AF_INET, SOCK_DGRAM, 0));
    if (wake[0] < 0 || bind(PROF__SOCKET(wake[0]), (struct sockaddr *)&here, size) ||
        getsockname(PROF__SOCKET(wake[0]), (struct sockaddr *)&here, &size) ||
        connect(PROF__SOCKET(wake[0]), (struct sockaddr *)&here, size))
        return prof__socket_errno();
    return 0;
}
#define PROF__WAKE_END(wake) (wake)[0]
static ptrdiff_t prof__wake_send(int file) { return prof__socket_did(send(PROF__SOCKET(file), "", 1, 0)); }
static ptrdiff_t prof__wake_take(int file, char *at, size_t size) { return prof__socket_recv(file, at, size); }
#endif

#endif /* PROF__SERVER_WINDOWS_H */
