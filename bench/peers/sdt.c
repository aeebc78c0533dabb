/* USDT probes of SystemTap, to which nothing is attached. */
#include <sys/sdt.h>

#define PEER_START() 0
#define PEER_SCOPE(work)                          \
    do {                                          \
        STAP_PROBE1(prof_bench, scope_begin, 1);  \
        work;                                     \
        STAP_PROBE1(prof_bench, scope_end, 1);    \
    } while (0)
#include "loop.h"
