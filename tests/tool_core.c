/* tool_core.c - a program whose core dump, or file, tests/test_tool.sh looks into. It records into memory, writes what
   it recorded to EXPECTED (.csv), and then aborts with two scopes open, or waits to be dumped; or it records into
   stream.prof in PROF_STREAM until the archive is larger than the ring, and stops. Usage: tool_core abort|wait|stream
   EXPECTED */
#include "../prof.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static void work(int depth)
{
    PROFILE_FUNCTION();
    PROFILE_ARG_I("depth", depth);
    if (depth) work(depth - 1);
}

static void rounds(int count)
{
    int i;
    for (i = 0; i < count; i++) {
        PROFILE_SCOPE("round");
        PROFILE_ARG_I("i", i);
        work(i % 5);
        if (i % 10 == 0) PROFILE_MARK_F("mark %d", i);
    }
}

static int stream(const char *expected)
{
    prof_config config;
    memset(&config, 0, sizeof config);
    config.buffer_size = 1 << 20;
    config.mode = PROF_STREAM;
    config.wait_ns = 10000000000; /* as long as a slow disk may take */
    config.output = "stream.prof";
    if (prof_start(&config)) return 2;
    rounds(60000);
    if (prof_stop() || prof_save(expected)) return 2;
    return 0;
}

int main(int argc, char **argv)
{
    struct rlimit all = {RLIM_INFINITY, RLIM_INFINITY};
    prof_config config;
    int i;
    if (argc < 3) return 2;
    if (!strcmp(argv[1], "stream")) return stream(argv[2]);
    setrlimit(RLIMIT_CORE, &all);
    memset(&config, 0, sizeof config);
    config.buffer_size = 1 << 20;
    if (prof_start(&config)) return 2;
    PROFILE_THREAD("main");
    rounds(3000);
    PROFILE_BEGIN("last");
    PROFILE_BEGIN("words");
    if (prof_save(argv[2])) return 2;
    if (!strcmp(argv[1], "abort")) abort();
    printf("ready\n");
    fflush(stdout);
    for (i = 0; i < 3000; i++) usleep(100000); /* it is killed before */
    return 0;
}
