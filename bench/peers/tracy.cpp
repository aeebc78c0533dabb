/* Tracy in C++, from its project. PEER_CONNECTED: waits until a server has connected. */
#include <cstdlib>
#include <unistd.h>
#include "tracy/Tracy.hpp"

static int start()
{
    for (int i = 0; getenv("PEER_CONNECTED") && !TracyIsConnected; ++i)
        if (usleep(10000) || i == 1000) return 1;
    return 0;
}

#define PEER_START() start()
#define PEER_END() _exit(0) /* Tracy would wait for a question of its server */
#define PEER_SCOPE(work)        \
    do {                        \
        ZoneScopedN("scope");   \
        work;                   \
    } while (0)
#include "loop.h"
