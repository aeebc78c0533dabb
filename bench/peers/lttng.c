/* LTTng-UST: two tracepoints, each with the number of a call site, in a session that run.sh made: a ring of 16 MiB. */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "lttng_events.h"

#define PEER_START() 0
#define PEER_SCOPE(work)                                   \
    do {                                                   \
        lttng_ust_tracepoint(prof_bench, scope_begin, 1);  \
        work;                                              \
        lttng_ust_tracepoint(prof_bench, scope_end, 1);    \
    } while (0)
#include "loop.h"
