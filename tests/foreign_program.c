/* foreign_program.c - records one of everything, for test_foreign.c: that reads what this program has recorded on other
   processors. tests/corpus has an image of 8 KiB of some, and tests/cpus.sh makes new ones.

     foreign_program PATH            in memory of its own
     foreign_program PATH stream     into a .prof with an archive

   It is linked to implementation.c. */
#include "../prof_read.h"
#include <stdio.h>
#include <string.h>

static void __attribute__((noinline)) inner(int round)
{
    PROFILE_SCOPE("inner");
    PROFILE_ARG_I("round", -round);
}

static void everything(void)
{
    PROFILE_SCOPE_AS(whole, "whole");
    PROFILE_ARG_U("unsigned", 0xFEDCBA9876543210u);
    PROFILE_ARG_D("double", -0.15625);
    PROFILE_ARG_B("bool", 1);
    PROFILE_ARG_S("text", "eleven char");
    PROFILE_ARG_P("pointer", (void *)(uintptr_t)0x12345678u);
    for (int i = 1; i <= 3; ++i) inner(i);
    PROFILE_MARK_DYNAMIC("a name made at run time");
    PROFILE_ARGS_TO(whole, PROF_ARG_S("late", "text for the outer"), PROF_ARG_I("later", 7));
    PROFILE_MARK_ARGS("mark", PROF_ARG_S("what", "why"), PROF_ARG_D("pi", 3.25));
    PROFILE_COUNTER("integer", -123456789);
    PROFILE_COUNTER("real", 0.1);
    PROFILE_FRAME("frame");
    PROFILE_SPAN_BEGIN("span", 77);
    PROFILE_SPAN_END("span", 77);
    PROFILE_LOG(PROF_LOG_INFO, "%d of %s is %.2f", 3, "four", 0.75);
}

int main(int argc, char **argv)
{
    static uint64_t memory[1024];
    prof_config config;
    memset(&config, 0, sizeof config);
    if (argc > 2) {
        config.output = argv[1];
        config.mode = PROF_STREAM;
        config.buffer_size = 128 << 10;
        config.wait_ns = 10000000000; /* nothing is lost, however slow the emulator is */
    } else {
        config.memory = memory;
        config.memory_size = sizeof memory;
        config.mode = PROF_FILL;
    }
    if (argc < 2 || prof_start(&config)) return fprintf(stderr, "prof_start: %s\n", argc < 2 ? "no path" : prof_error()), 1;
    prof_set_metadata("made", "by a program");
    PROFILE_THREAD("the only thread");
    everything();
    for (int i = 0; argc > 2 && i < 1000; ++i) everything();
    if (prof_stop()) return fprintf(stderr, "prof_stop: %s\n", prof_error()), 1;
    if (argc > 2) return 0;
    const char *bytes = (const char *)memory + ((0 - (uintptr_t)memory) & 63); /* where the image begins */
    size_t size = 0;
    uint64_t image_size;
    if (prof_image_find(bytes, sizeof memory - 64, &image_size) == PROF_OK) size = (size_t)image_size;
    FILE *file = fopen(argv[1], "wb");
    return !size || !file || fwrite(bytes, 1, size, file) != size || fclose(file) ? 1 : 0;
}
