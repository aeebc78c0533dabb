/* prof_server.h with the sockets of Windows: captures, stopping, ports. What it answers is tested by test_server.c. */
#undef gethostname /* of posix.h; winsock2.h declares it */
#include "private.h"
#include "../../prof_server.h"
#include "test.h"
#include "trace.h"

static int connect_to(const char *host, int port)
{
    struct sockaddr_in four;
    struct sockaddr_in6 six;
    int file = (int)socket(strchr(host, ':') ? AF_INET6 : AF_INET, SOCK_STREAM, 0);
    memset(&four, 0, sizeof four);
    memset(&six, 0, sizeof six);
    four.sin_family = AF_INET;
    six.sin6_family = AF_INET6;
    four.sin_port = six.sin6_port = htons((u_short)port);
    inet_pton(AF_INET, host, &four.sin_addr);
    inet_pton(AF_INET6, host, &six.sin6_addr);
    int failed = strchr(host, ':') ? connect((SOCKET)file, (struct sockaddr *)&six, sizeof six)
                                   : connect((SOCKET)file, (struct sockaddr *)&four, sizeof four);
    if (!failed) return file;
    closesocket((SOCKET)file);
    return -1;
}

/* Returns the whole answer to a GET, with its head; free it. Null: nobody listens. */
static char *get(const char *host, const char *path)
{
    int file = connect_to(host, prof_server_port()), n;
    char request[400], *answer = (char *)calloc(1, 1 << 22);
    size_t size = 0;
    if (file < 0) {
        free(answer);
        return NULL;
    }
    snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", path);
    send((SOCKET)file, request, (int)strlen(request), 0);
    while ((n = recv((SOCKET)file, answer + size, (1 << 22) - 1 - (int)size, 0)) > 0) size += (size_t)n;
    closesocket((SOCKET)file);
    return answer;
}

static volatile int working;
static DWORD WINAPI work(LPVOID unused)
{
    (void)unused;
    PROFILE_THREAD("worker");
    while (working) {
        PROFILE_BLOCK("work") Sleep(1);
    }
    return 0;
}

static void check_answer(const char *answer, const char *part)
{
    CHECK(answer && strstr(answer, "200 OK") && strstr(answer, part));
    if (answer && !strstr(answer, part)) printf("\"%s\" is not in:\n%.600s\n", part, answer);
}

TEST(captures_of_a_program_that_works)
{
    static const char *const hosts[] = {"127.0.0.1", "::1"};
    char *answer;
    CHECK_EQUAL(prof_server_start(0, NULL), PROF_OK);
    working = 1;
    HANDLE thread = CreateThread(NULL, 0, work, NULL, 0, NULL);
    for (int i = 0; i < 2; ++i) {
        check_answer(answer = get(hosts[i], "/status"), "\"recording\"");
        free(answer);
        check_answer(answer = get(hosts[i], "/trace?ms=300"), "\"work\"");
        CHECK(answer && strstr(answer, "\"worker\""));
        free(answer);
    }
    check_answer(answer = get("127.0.0.1", "/summary?ms=300"), "work");
    free(answer);
    answer = get("127.0.0.1", "/no-such-path");
    CHECK(answer && strstr(answer, "404"));
    free(answer);
    working = 0;
    WaitForSingleObject(thread, 60000);
    CloseHandle(thread);
    CHECK_EQUAL(prof_server_stop(), PROF_OK);
    CHECK(!prof_server_port());
}

static char *late_answer;
static DWORD WINAPI ask_for_a_minute(LPVOID unused)
{
    (void)unused;
    late_answer = get("127.0.0.1", "/trace?ms=60000");
    return 0;
}

TEST(stopping_answers_who_waits)
{
    CHECK_EQUAL(prof_server_start(0, NULL), PROF_OK);
    HANDLE thread = CreateThread(NULL, 0, ask_for_a_minute, NULL, 0, NULL);
    char *status = NULL;
    for (int i = 0; i < 200 && !(status && strstr(status, "\"capturing\":1")); ++i) { /* until it captures */
        free(status);
        status = get("127.0.0.1", "/status");
        Sleep(20);
    }
    free(status);
    DWORD began = GetTickCount();
    PROFILE_BLOCK("scope") {}
    CHECK_EQUAL(prof_server_stop(), PROF_OK);
    CHECK(GetTickCount() - began < 40000);
    CHECK_EQUAL(WaitForSingleObject(thread, 60000), WAIT_OBJECT_0);
    CloseHandle(thread);
    check_answer(late_answer, "\"scope\"");
    free(late_answer);
}

/* A server without clients sleeps in its poll: without what wakes it, prof_server_stop() does not return. */
TEST(a_port_that_another_has)
{
    struct sockaddr_in address;
    int size = sizeof address;
    for (int i = 0; i < 5; ++i) { /* and one of its own that was just closed */
        CHECK_EQUAL(prof_server_start(0, NULL), PROF_OK);
        int port = prof_server_port();
        CHECK_EQUAL(prof_server_start(port, NULL), PROF_INVALID_STATE);
        char *answer = get("127.0.0.1", "/");
        CHECK(answer != NULL);
        free(answer);
        CHECK_EQUAL(prof_server_stop(), PROF_OK);
        CHECK_EQUAL(connect_to("127.0.0.1", port), -1);
        CHECK_EQUAL(prof_server_start(port, NULL), PROF_OK);
        CHECK_EQUAL(prof_server_port(), port);
        CHECK_EQUAL(prof_server_stop(), PROF_OK);
    }
    SOCKET other = socket(AF_INET, SOCK_STREAM, 0);
    memset(&address, 0, sizeof address);
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    CHECK(!bind(other, (struct sockaddr *)&address, size) && !listen(other, 1));
    CHECK(!getsockname(other, (struct sockaddr *)&address, &size));
    CHECK_EQUAL(prof_server_start(ntohs(address.sin_port), NULL), PROF_IO);
    CHECK(strstr(prof_error(), "Address already in use") != NULL);
    closesocket(other);
}

TEST_MAIN
