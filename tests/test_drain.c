/* test_drain.c - prof_drain() when its writer fails: it returns what the writer returned, and loses nothing. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
static uint64_t test_ticks;
static __attribute__((__aligned__(16))) uint64_t cpu_state[1024];
#define PROF_CLOCK_READ() (test_ticks += 10)
#define PROF_CPU_STATE() ((void *)cpu_state)
#define PROF_CPU_STATE_SIZE sizeof cpu_state
#define PROF_FREESTANDING
#define PROF_WITH_DRAIN
#define PROF_STATIC
#define PROF_CHUNK_SIZE 1024
#define PROF_IMPLEMENTATION
#include "prof.h"
#include "test.h"

static uint64_t test_memory[2048];
static char file[65536];
static int fails_in; /* the writer fails when it has been called so often; -1: never */

static prof_status put(void *user, uint64_t offset, const void *data, size_t size)
{
    (void)user;
    if (!fails_in--) return PROF_UNSUPPORTED;
    CHECK(offset + size <= sizeof file);
    memcpy(file + offset, data, size);
    return PROF_OK;
}

static size_t count_in_file(uint64_t kind) /* words that may begin a record of this kind */
{
    const prof__header *h = (const prof__header *)(const void *)file;
    size_t count = 0;
    for (size_t at = h->chunk_offset / 8; at < h->image_size / 8; ++at) {
        uint64_t word;
        memcpy(&word, file + at * 8, 8);
        count += word >> PROF__KIND_SHIFT == kind;
    }
    return count;
}

/* Records some scopes, drains them into the file, and returns how often the writer was called. */
static int record_and_drain(int fails_at)
{
    prof_config config;
    memset(&config, 0, sizeof config);
    memset(file, 0, sizeof file);
    config.memory = test_memory;
    config.memory_size = sizeof test_memory;
    config.clock_hz = 1000000000;
    CHECK_EQUAL(prof_start(&config), PROF_OK);
    for (int i = 0; i < 100; ++i) PROFILE_BLOCK("scope") {}
    CHECK_EQUAL(prof_stop(), PROF_OK);
    fails_in = fails_at;
    prof_status status = prof_drain(put, NULL);
    CHECK_EQUAL(status, fails_at < 0 ? PROF_OK : PROF_UNSUPPORTED);
    int calls = -1 - fails_in;
    fails_in = -1;
    if (status) CHECK_EQUAL(prof_drain(put, NULL), PROF_OK);
    CHECK(!memcmp(file, ((const prof__header *)(const void *)file)->magic, 8) && file[0]);
    return calls;
}

TEST(a_writer_that_fails)
{
    int calls = record_and_drain(-1);
    size_t begins = count_in_file(PROF__KIND_BEGIN);
    CHECK(calls > 5 && begins >= 100);
    for (int i = 0; i < calls; ++i) {
        record_and_drain(i);
        CHECK_EQUAL(count_in_file(PROF__KIND_BEGIN), begins);
    }
}

TEST_MAIN
