/* instructions.c - one function for each macro, for instructions.sh to count the instructions of: measure_x(n) uses the
   macro n times. The difference between two counts leaves the macro and the loop around it. The implementation is in a
   file of its own, as in a program, so that the macros do not see it. */
#include "prof.h"

#include <stdio.h>
#include <stdlib.h>

#define MEASURED __attribute__((noinline))
#define STEP() __asm__ volatile("" ::: "memory")

#define MEASURE(name, code)                                            \
    MEASURED void measure_##name(int n);                               \
    MEASURED void measure_##name(int n)                                \
    {                                                                  \
        int i;                                                         \
        for (i = 0; i < n; ++i) {                                      \
            STEP();                                                    \
            code;                                                      \
        }                                                              \
    }

static const char *const text = "sixteen letters!";

MEASURE(loop, (void)0)
MEASURE(scope, PROFILE_SCOPE("scope"))
MEASURE(scope_off, PROFILE_SCOPE_L("scope off", 9))
MEASURE(block, PROFILE_BLOCK("block") STEP())
MEASURE(begin_end, PROFILE_BEGIN("begin"); PROFILE_END("begin"))
MEASURE(mark, PROFILE_MARK("mark"))
MEASURE(mark_off, PROFILE_MARK_L("mark off", 9))
MEASURE(counter, PROFILE_COUNTER("counter", i))
MEASURE(counter_double, PROFILE_COUNTER("counter", 0.5))
MEASURE(arg, PROFILE_ARG_I("key", i))
MEASURE(arg_string, PROFILE_ARG_S("key", text))
MEASURE(scope_text, PROFILE_SCOPE_S(text))
MEASURE(scope_mask, PROFILE_SCOPE_M("mask", 6))
MEASURE(step, PROFILE_STEP("step", i))
MEASURE(flow, PROFILE_FLOW_OUT((uint64_t)i))
MEASURE(log, PROFILE_LOG(PROF_LOG_INFO, "message"))
MEASURE(log_int, PROFILE_LOG(PROF_LOG_INFO, "value %d", i))
MEASURE(log_ints, PROFILE_LOG(PROF_LOG_INFO, "value %d of %d", i, n))
MEASURE(log_off, PROFILE_LOG(PROF_LOG_DEBUG, "value %d", i))

MEASURED void measure_next(int n);
MEASURED void measure_next(int n)
{
    int i;
    PROFILE_STAGE("stage");
    for (i = 0; i < n; ++i) {
        STEP();
        PROFILE_NEXT("next");
    }
}

static void (*const measures[])(int) = {measure_loop,      measure_scope,   measure_scope_off,      measure_block,
                                        measure_begin_end, measure_mark,    measure_mark_off,       measure_counter,
                                        measure_counter_double, measure_arg, measure_arg_string,    measure_scope_text,
                                        measure_next,      measure_scope_mask, measure_step,        measure_flow,
                                        measure_log,       measure_log_int, measure_log_ints,       measure_log_off};

/* What a scope adds to the code of a function: their sizes are compared. */
MEASURED void size_0(void);
MEASURED void size_1(void);
MEASURED void size_2(void);
MEASURED void size_0(void)
{
    rand();
    rand();
    rand();
}
MEASURED void size_1(void)
{
    rand();
    {
        PROFILE_SCOPE("first");
        rand();
    }
    rand();
}
MEASURED void size_2(void)
{
    rand();
    {
        PROFILE_SCOPE("first");
        rand();
    }
    {
        PROFILE_SCOPE("second");
        rand();
    }
}

int main(void)
{
    prof_config config = {0, 0, PROF_RING, PROF_CLOCK_COUNTER, 0, 0, 0, 0, 0, 0};
    size_t i;
    config.buffer_size = 256 << 10;
    for (i = 0; i < sizeof measures / sizeof *measures; ++i) {
        if (prof_start(&config)) { /* anew, so that no measurement takes a new chunk */
            printf("%s\n", prof_error());
            return 3;
        }
        measures[i](1); /* settles the call site */
        measures[i](100);
        measures[i](200);
        measures[i](1); /* its begin is where the count before it ends */
        if (prof_stop()) return 1;
    }
    return 0;
}
