/* format_program.c - records what examples/read_trace.py and prof must read alike:

     format_program PATH ring|stream|fill

   Several threads and a fiber; scopes that overlap, that longjmp() leaves, that a ring has lost the begins of, and that
   are open at the end; arguments of all types and of outer scopes; names made at run time. It is linked to
   implementation.c. */
#include "../prof.h"
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

static jmp_buf back;
static int rounds;

static void leaf(int i)
{
    PROFILE_SCOPE_DYNAMIC(i % 3 ? "leaf" : "leaf of three");
    PROFILE_ARG_I("i", -i);
    if (i % 7 == 6) longjmp(back, 1);
}

static void round_of(int i)
{
    PROFILE_SCOPE_AS(outer, "round");
    PROFILE_ARG_D("third", i / 3.0);
    PROFILE_ARG_S("text", i % 2 ? "odd; \"quoted\"" : "");
    PROFILE_ARG_B("even", i % 2 == 0);
    PROFILE_BEGIN("first");
    PROFILE_BEGIN("second");
    PROFILE_END("first"); /* the two overlap */
    PROFILE_END("second");
    if (!setjmp(back)) leaf(i);
    PROFILE_BLOCK("inner") {
        PROFILE_ARGS_TO(outer, PROF_ARG_I("from inside", i), PROF_ARG_S("why", "it may"));
        PROFILE_COUNTER_UNIT("load", i * 1.5, "%");
        PROFILE_COUNTER("whole", i);
        PROFILE_FRAME("frame");
        PROFILE_MARK_ARGS("mark", PROF_ARG_U("u", 1ull << 63), PROF_ARG_P("p", (void *)(uintptr_t)4096));
    }
    { PROFILE_SCOPE_F("took %.2f ms, %5.1f%%, %+d of %.3u|%-9g|", i / 3.0, i * 1e5, i - 2, (unsigned)i, i * 0.1); }
    PROFILE_MARK_F("100%% of %e at %llx", i / 7.0, ~0ull - (unsigned)i);
    PROFILE_FLOW_OUT((uint64_t)i);
    PROFILE_ALLOC((void *)(uintptr_t)(i + 1), 100);
    PROFILE_FREE((void *)(uintptr_t)(i + 1));
    PROFILE_LOG(PROF_LOG_WARNING, "%d of %s", i, "many");
}

static void *work(void *name)
{
    PROFILE_THREAD((const char *)name);
    PROFILE_BLOCK("all of it") for (int i = 0; i < rounds; ++i) PROFILE_BLOCK("step") PROFILE_ARG_I("i", i);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[2];
    prof_config config;
    memset(&config, 0, sizeof config);
    if (argc < 3) return 2;
    config.output = argv[1];
    config.mode = !strcmp(argv[2], "stream") ? PROF_STREAM : !strcmp(argv[2], "fill") ? PROF_FILL : PROF_RING;
    config.buffer_size = 128 << 10;
    config.wait_ns = 10000000000;
    rounds = 6000;
    if (prof_start(&config)) return fprintf(stderr, "%s\n", prof_error()), 1;
    PROFILE_BEGIN("since the start");
    pthread_create(&threads[0], NULL, work, (void *)"first");
    pthread_create(&threads[1], NULL, work, (void *)"second, \"two\"");
    for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
    prof_fiber *fiber = prof_fiber_create("fiber");
    for (int i = 0; i < 300; ++i) {
        round_of(i);
        if (i % 50 == 0) {
            prof_fiber_switch(i % 100 ? NULL : fiber);
            PROFILE_MARK_DYNAMIC("switched");
        }
    }
    prof_fiber_switch(NULL);
    PROFILE_END("since the start");
    PROFILE_BEGIN("open at the end");
    return prof_stop() ? fprintf(stderr, "%s\n", prof_error()), 1 : 0;
}
