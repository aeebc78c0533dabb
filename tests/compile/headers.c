/* System headers before the implementation, and a program that records itself: see headers.sh.
   ORDER: EVERY, every system header first; ONE, one of them; TWICE, prof's headers once before, without implementation;
   ASKED, _GNU_SOURCE asked for when it is too late; POLLUTED, after every system header, macros of real programs. */
#define EVERY 1
#define ONE 2
#define TWICE 3
#define ASKED 4
#define POLLUTED 5
#if ORDER == EVERY
#include "system.h"
#elif ORDER == ONE
#include <stdio.h>
#elif ORDER == TWICE
#include <stdio.h>
#include "all.h"
#elif ORDER == ASKED
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
#define _GNU_SOURCE
#elif ORDER == POLLUTED
#include "system.h"
#include "polluted.h"
#include "all.h"
#endif
#define PROF_IMPLEMENTATION
#include "all.h"
#include "system.h"

enum { SCOPES = 10 };

static void work(int crash)
{
    PROFILE_SCOPE("work");
    if (crash) raise(SIGSEGV);
}

/* 0: the file has what main() records. */
static int differs(const char *path)
{
    prof_trace *trace = NULL;
    prof_stat *stats = NULL;
    size_t count = 0;
    if (prof_trace_open(path, &trace) != PROF_OK || prof_stats(trace, PROF_SORT_TOTAL, 0, &stats, &count) != PROF_OK) {
        printf("%s\n", prof_error());
        return 1;
    }
    int right = count == 1 && !strcmp(stats[0].name, "work") && stats[0].count == SCOPES;
    if (!right) printf("%s: %d rows, not one of \"work\" with %d calls\n", path, (int)count, SCOPES);
    prof_stats_free(stats);
    prof_trace_close(trace);
    return !right;
}

/* without an argument: records, if PROF_OUTPUT says so; "crash": dies of SIGSEGV; a path: checks what was recorded */
int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "crash") != 0) return differs(argv[1]);
    for (int i = 0; i < SCOPES; ++i) work(argc > 1);
    return 0;
}
