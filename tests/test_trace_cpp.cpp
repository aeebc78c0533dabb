// PROFILE_TRACE in C++: a block is traced however it is left, by an exception, too.
#define PROF_IMPLEMENTATION
#include "../prof_xplane.h"

#include "test.h"
#include "trace.h"

#include <string>

#include <sys/stat.h>
#include <unistd.h>

static std::string run_of(const char *name)
{
    return std::string(trace_path("logs_cpp")) + "/plugins/profile/" + name + std::to_string(getpid());
}

static bool written(const std::string &run) // the file of the only host
{
    struct stat about;
    return !stat((run + "/h.xplane.pb").c_str(), &about) && about.st_size > 0;
}

static int leaves(const std::string &run, int how)
{
    int rounds = 0;
    for (int i = 0; i < 2; ++i) {
        PROFILE_TRACE(run.c_str())
        {
            PROFILE_SCOPE("inside");
            ++rounds;
            if (how == 1) throw 7;
            if (how == 2) return 100;
            if (how == 3) continue; // the trace's block, which ends by it
            if (how == 4) break;
        }
    }
    return rounds;
}

TEST(a_block_ends_its_trace)
{
    prof_set_metadata("host", "h");
    for (int how = 0; how < 5; ++how) {
        std::string run = run_of("how") + std::to_string(how);
        int caught = 0, rounds = 0;
        try {
            rounds = leaves(run, how);
        } catch (int thrown) {
            caught = thrown;
        }
        CHECK_EQUAL(caught, how == 1 ? 7 : 0);
        CHECK_EQUAL(rounds, how == 1 ? 0 : how == 2 ? 100 : 2);
        CHECK(!prof_enabled());
        CHECK_EQUAL(prof_xplane_stop_trace(), PROF_INVALID_STATE);
        CHECK(written(run));
    }
    prof_clear_metadata();
}

// One within another does not begin, and does not end the other's trace.
TEST(a_block_within_a_block)
{
    int inner = 0;
    prof_set_metadata("host", "h");
    std::string run = run_of("nested");
    prof_xplane_trace_options options = prof_xplane_trace_options();
    PROFILE_TRACE_WITH(run.c_str(), &options)
    {
        PROFILE_TRACE(run.c_str()) ++inner;
        CHECK_EQUAL(inner, 1);
        CHECK(prof_enabled());
    }
    CHECK(!prof_enabled() && written(run));
    prof_clear_metadata();
}

TEST_MAIN
