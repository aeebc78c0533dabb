/* A server from which a trace can be captured at any time. It records nothing until a request comes.

       cc -O2 examples/server.c -o server -pthread && ./server 60

   It listens on localhost:9012 for that many seconds; meanwhile, in another terminal,

       curl -o trace.json 'localhost:9012/trace?ms=1000'      for ui.perfetto.dev
       curl 'localhost:9012/summary?ms=1000'                  a table
       curl localhost:9012/status

   or XProf: `pip install xprof; xprof --logdir logs`, "Capture profile", service address localhost:9012. Without a
   number it sends itself one request, on any free port, prints the answer and ends. */
#define PROF_IMPLEMENTATION
#include "../prof_chrome.h" /* format=json */
#include "../prof_xplane.h" /* format=xplane, and XProf */
#include "../prof_server.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static int stop; /* atomic */

static unsigned digest(const unsigned char *bytes, size_t size)
{
    unsigned sum = 0;
    PROFILE_FUNCTION();
    PROFILE_ARG_I("bytes", (int64_t)size);
    for (size_t i = 0; i < size; i++) sum = (sum << 5 | sum >> 27) ^ bytes[i];
    return sum;
}

static void *worker(void *unused)
{
    static unsigned char data[1 << 16];
    struct timespec pause = {0, 2000000};
    PROFILE_THREAD("worker");
    for (int request = 0; !__atomic_load_n(&stop, __ATOMIC_RELAXED); request++) {
        PROFILE_STEP("request", request); /* steps are what XProf's overview page counts */
        PROFILE_STAGE("read");
        nanosleep(&pause, NULL);
        PROFILE_NEXT("digest");
        data[request % (1 << 16)] = (unsigned char)digest(data, sizeof data);
    }
    return unused;
}

/* Does what curl does: sends one request, and prints the answer. */
static int ask(int port, const char *target)
{
    struct sockaddr_in address;
    char text[4096];
    ssize_t n;
    int file = socket(AF_INET, SOCK_STREAM, 0), got = 0;
    memset(&address, 0, sizeof address);
    address.sin_family = AF_INET;
    address.sin_port = htons((uint16_t)port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (file < 0 || connect(file, (struct sockaddr *)&address, sizeof address)) return 0;
    n = snprintf(text, sizeof text, "GET %s HTTP/1.0\r\nHost: localhost\r\n\r\n", target);
    if (write(file, text, (size_t)n) == n)
        while ((n = read(file, text, sizeof text)) > 0) got += (int)fwrite(text, 1, (size_t)n, stdout);
    close(file);
    return got;
}

int main(int argc, char **argv)
{
    int seconds = argc > 1 ? atoi(argv[1]) : 0, port, got;
    pthread_t thread;
    if (prof_server_start(seconds ? 9012 : 0, NULL) != PROF_OK) { /* 0: any free port */
        fprintf(stderr, "server: %s\n", prof_error());
        return 1;
    }
    port = prof_server_port(); /* 0: compiled with PROF_ENABLE=0 */
    printf("listening on localhost:%d\n", port);
    if (pthread_create(&thread, NULL, worker, NULL)) return 1;
    if (seconds) sleep((unsigned)seconds);
    got = seconds || !port ? 1 : ask(port, "/summary?ms=300");
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    pthread_join(thread, NULL);
    prof_server_stop();
    return got ? 0 : 1;
}
