/* test_large_chunks.c - chunks of 64 KiB, whose parts are larger than the default chunk's: PROF_CHUNK_SIZE. */
/* run: alone */
#define PROF_CHUNK_SIZE 65536
#define PROF_IMPLEMENTATION
#include "../prof_read.h"
#include "test.h"
#include "trace.h"

static void deep(int depth)
{
    PROFILE_SCOPE("deep");
    if (depth > 1) deep(depth - 1);
}

/* The words that are reserved for the ends of many open scopes reach over the end of a part, which the copy of a running
   program must not take for damage. */
TEST(many_open_scopes_at_the_end_of_a_part)
{
    for (int before = 0; before < 2000 && !test_failures; before += 50) {
        prof_config config = trace_config(1u << 20);
        prof_trace *trace = NULL;
        trace_start(&config);
        for (int i = 0; i < before; ++i) PROFILE_MARK("mark");
        deep(800);
        CHECK_EQUAL(prof_trace_open_live(&trace), PROF_OK);
        CHECK_EQUAL(prof_trace_about(trace)->lost_blocks, 0);
        CHECK_EQUAL(prof_trace_about(trace)->event_count, before + 800);
        prof_trace_close(trace);
        prof_trace_close(trace_stop());
    }
}

TEST_MAIN
