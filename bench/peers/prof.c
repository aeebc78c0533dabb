/* prof: a ring of 16 MiB in memory. */
#include "prof.h"

#define PEER_START() prof_start(NULL)
#define PEER_SCOPE(work)             \
    do {                             \
        PROFILE_SCOPE("scope");      \
        work;                        \
    } while (0)
#include "loop.h"
