/* A recorder as small as it gets, PROF_TINY, inside a program of the system, so that a test can look at it: left_out.sh.

   usage: tiny FILE    asks for what is left out, records, and writes the image */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static uint64_t clock_read(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void name_track(char *text, size_t size) { snprintf(text, size, "worker"); }

static uint64_t cpu_state[128], tiny_image[2048];

#define PROF_FREESTANDING
#define PROF_MINIMAL
#define PROF_TINY
#define PROF_CLOCK_READ() clock_read()
#define PROF_CPU_STATE() ((void *)cpu_state)
#define PROF_CPU_STATE_SIZE sizeof cpu_state
#define PROF_CPU_NAME(text, size) name_track(text, size)
#define PROF_IMPLEMENTATION
#include "prof.h"

static int failed;

static void check(const char *what, int good)
{
    if (!good) printf("%s\n", what);
    failed |= !good;
}

static prof_config all_of(void)
{
    prof_config config;
    memset(&config, 0, sizeof config);
    config.memory = tiny_image;
    config.memory_size = sizeof tiny_image;
    config.clock_hz = 1000000000;
    return config;
}

/* The field's value is refused. */
#define REFUSED(field, value)                                                                                          \
    do {                                                                                                               \
        prof_config config = all_of();                                                                                 \
        config.field = value;                                                                                          \
        check(#field " is refused", prof_start(&config) == PROF_UNSUPPORTED);                                          \
    } while (0)

int main(int count, char **arguments)
{
    REFUSED(save, "a.prof");
    REFUSED(min_duration_ns, 1);
    REFUSED(delay_ns, 1);
    REFUSED(duration_ns, 1);
    REFUSED(start_unix_ns, 1);
    REFUSED(warmup_steps, 1);
    REFUSED(warmup_frames, 1);
    REFUSED(clock, PROF_CLOCK_ORDERED);
    REFUSED(categories, "-*");
    check("there are no texts of errors", !*prof_error());
    prof_config config = all_of();
    check("prof_start() records", prof_start(&config) == PROF_OK);
    check("prof_category_enable() is refused", prof_category_enable("a", 0) == PROF_UNSUPPORTED);
    check("a pair of this session", prof_set_metadata("key", "value") == PROF_OK);
    for (int i = 0; i < 40; ++i) {
        PROFILE_SCOPE_C("work", "any category");
        PROFILE_ARG_I("i", i);
        PROFILE_ARG_S("text", "a word");
        PROFILE_MARK("passed");
        PROFILE_COUNTER("done", i);
    }
    check("prof_stop()", prof_stop() == PROF_OK);
    FILE *file = count > 1 ? fopen(arguments[1], "wb") : NULL;
    uintptr_t skip = (0 - (uintptr_t)tiny_image) & 63;
    check("the file", file && fwrite((char *)tiny_image + skip, sizeof tiny_image - skip, 1, file) == 1 && !fclose(file));
    return failed;
}
