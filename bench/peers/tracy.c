/* Tracy's C API, from its project. PEER_CONNECTED: waits until a server has connected. */
#include <stdlib.h>
#include <unistd.h>
#include "tracy/TracyC.h"

static int start(void)
{
    for (int i = 0; getenv("PEER_CONNECTED") && !TracyCIsConnected; ++i)
        if (usleep(10000) || i == 1000) return 1;
    return 0;
}

#define PEER_START() start()
#define PEER_END() _exit(0) /* Tracy would wait for a question of its server */
#define PEER_SCOPE(work)                  \
    do {                                  \
        TracyCZoneN(zone, "scope", 1);    \
        work;                             \
        TracyCZoneEnd(zone);              \
    } while (0)
#include "loop.h"
