/* A function around the work, for what traces functions from outside: uftrace (built with -pg), and perf with a uprobe
   and a uretprobe. Everything else is built so that it is not traced. */
static void traced(int passes);

#define PEER_START() 0
#define PEER_SCOPE(work) traced(passes)
#include "loop.h"

static __attribute__((noinline)) void traced(int passes) { WORK(passes); }
