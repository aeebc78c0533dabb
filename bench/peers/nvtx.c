/* NVTX ranges, to which no tool is attached. */
#include <nvtx3/nvToolsExt.h>

#define PEER_START() 0
#define PEER_SCOPE(work)         \
    do {                         \
        nvtxRangePushA("scope"); \
        work;                    \
        nvtxRangePop();          \
    } while (0)
#include "loop.h"
