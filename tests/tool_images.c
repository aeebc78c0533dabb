/* tool_images.c - writes the recordings that tests/test_tool.sh looks at with the tool. The recorder runs on a clock
   that only moves when it is told to, so that every figure is known beforehand. Usage: tool_images FOLDER */
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t clock_ns; /* ns */
static int processor;
static unsigned char states[4][1024] __attribute__((aligned(16)));

static int starting; /* a start waits until the clock moves */
static uint64_t read_clock(void) { return starting ? clock_ns++ : clock_ns; }

#define PROF_FREESTANDING
#define PROF_CLOCK_READ() read_clock()
#define PROF_CPU_STATE() (void *)states[processor]
#define PROF_CPU_STATE_SIZE 1024
#define PROF_CPU_ID() (100 + processor)
#define PROF_IMPLEMENTATION
#include "../prof.h"

static unsigned char memory[1 << 20] __attribute__((aligned(64)));
static const char *folder;
static uint64_t origin; /* the clock when time was 0 */

static prof__header *header(void) { return (prof__header *)(void *)memory; }

/* The next thing happens on this processor, so many ns after the start. */
static void at(int on, uint64_t ns)
{
    processor = on;
    clock_ns = origin + ns;
}

static void start(prof_mode mode, size_t size, uint64_t clock)
{
    prof_config config;
    memset(&config, 0, sizeof config);
    memset(states, 0, sizeof states);
    config.memory = memory;
    config.memory_size = size;
    config.clock_hz = 1000000000;
    config.mode = mode;
    clock_ns = clock;
    processor = 0;
    starting = 1;
    if (prof_start(&config)) {
        fprintf(stderr, "tool_images: %s\n", prof_error());
        exit(1);
    }
    starting = 0;
    origin = header()->first.tick;
}

static void save(const char *name, const char *program, uint64_t pid, const char *boot, uint64_t unix_ns)
{
    char path[1024];
    FILE *file;
    prof__header *h = header();
    strcpy(h->program, program);
    strcpy(h->clock_name, "test clock");
    strcpy(h->boot_id, boot);
    h->time_namespace = 1; /* so that Unix time does not matter */
    h->pid = pid;
    h->first.unix_ns = unix_ns;
    h->resolution_ticks = 1;
    h->cost_ticks_x1000 = 20000;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    file = fopen(path, "wb");
    if (!file || fwrite(memory, 1, (size_t)h->image_size, file) != h->image_size || fclose(file)) {
        perror(path);
        exit(1);
    }
}

static void stop(uint64_t ns)
{
    at(0, ns);
    prof_stop();
}

static void draw(int on, uint64_t from, int shapes)
{
    int i;
    at(on, from);
    PROFILE_BEGIN("draw");
    for (i = 0; i < shapes; i++) {
        at(on, from + 100 + 1000 * (uint64_t)i);
        PROFILE_BEGIN_C("shape", "gfx");
        PROFILE_ARG_I("number", i);
        at(on, from + 600 + 1000 * (uint64_t)i);
        PROFILE_END("shape");
    }
    at(on, from + 1000 * (uint64_t)shapes);
    PROFILE_END("draw");
}

/* Two frames on one thread, one scope on another. */
static void two_frames(void)
{
    int frame;
    for (frame = 0; frame < 2; frame++) {
        uint64_t t = 10000 * (uint64_t)frame;
        at(0, t + 1000);
        if (!frame) PROFILE_THREAD("main");
        PROFILE_BEGIN("tick");
        draw(0, t + 2000, 2);
        at(0, t + 5000);
        PROFILE_COUNTER("objects", 10 + frame);
        at(0, t + 6000);
        PROFILE_MARK("saved");
        at(0, t + 8000);
        PROFILE_END("tick");
        at(0, t + 9000);
        PROFILE_FRAME("frame");
    }
    at(1, 3000);
    PROFILE_THREAD("worker");
    draw(1, 4000, 1);
}

static void whole(void)
{
    start(PROF_RING, 64 << 10, 5000000);
    two_frames();
    stop(20000);
    save("whole.prof", "alpha", 100, "boot-1", 1700000000000000000u);
}

/* The same process id, 2 ms later on the same machine, and a Unix clock that was set back in between. */
static void later(void)
{
    start(PROF_RING, 64 << 10, origin + 2000000);
    two_frames();
    stop(20000);
    save("later.prof", "beta", 100, "boot-1", 1600000000000000000u);
}

/* Another machine, 3 us after the first by Unix time. */
static void elsewhere(void)
{
    start(PROF_RING, 64 << 10, 9000000);
    two_frames();
    stop(20000);
    save("elsewhere.prof", "gamma", 300, "boot-2", 1700000000000003000u);
}

static jmp_buf server;

static void query(void)
{
    PROFILE_SCOPE("query");
    PROFILE_BLOCK("execute") { longjmp(server, 1); }
}

/* A server of whose queries 40 failed: longjmp() left two scopes each time, which nothing around them ends. */
static void left(void)
{
    static volatile int failed;
    prof_set_metadata("role", "server");
    start(PROF_RING, 64 << 10, 5000000);
    (void)setjmp(server);
    at(0, 1000 * (uint64_t)failed);
    if (failed++ < 40) query();
    PROFILE_MARK("idle");
    stop(50000);
    save("left.prof", "alpha", 100, "boot-1", 1700000000000000000u);
    prof_clear_metadata();
}

/* Two events are lost because a handler interrupted a macro. */
static void busy(void)
{
    start(PROF_RING, 64 << 10, 5000000);
    two_frames();
    stop(20000);
    header()->lost = header()->lost_busy = 2;
    save("busy.prof", "alpha", 100, "boot-1", 1700000000000000000u);
}

/* A scope whose name is no UTF-8, and would end a string of JSON. */
static void misnamed(void)
{
    start(PROF_RING, 64 << 10, 5000000);
    {
        PROFILE_SCOPE("a\"\xE2\x82z\xFF\\");
        at(0, 1000);
    }
    stop(2000);
    save("misnamed.prof", "alpha", 100, "boot-1", 1700000000000000000u);
}

/* Scopes and threads whose names have each byte, alone and after the begin of a longer character, and characters that
   XML does not allow: surrogates, U+FFFE, U+FFFF. */
static void bytes(void)
{
    static const char *const ends[] = {"\xED\xA0\x80", "\xEF\xBF\xBE", "\xEF\xBF\xBF", "\xF4\x90\x80\x80",
                                       "\xC2\x85", "]]>", "\xE2\x82"};
    char name[16];
    start(PROF_RING, 256 << 10, 5000000);
    for (int i = 1; i < 256 * 4 + 7; ++i) {
        static const char *const befores[] = {"<", "\xC3", "\xE2\x82", "\xF0\x9F\x98"};
        at(0, 1000u * (unsigned)i);
        if (i < 256 * 4 && i % 256 == 0) continue;
        snprintf(name, sizeof name, "%s%c&", befores[i / 256 % 4], i % 256);
        PROFILE_SCOPE_DYNAMIC(i < 256 * 4 ? name : ends[i - 256 * 4]);
        at(0, 1000u * (unsigned)i + 900);
    }
    prof_set_thread_name("\x01\xFF<\xEF\xBF\xBF\x1B");
    stop(2000000);
    save("bytes.prof", "a\x02\xFE<b", 100, "boot-1", 1700000000000000000u);
}

static void crashed(void)
{
    start(PROF_RING, 64 << 10, 5000000);
    two_frames();
    at(0, 30000);
    PROFILE_BEGIN("tick");
    at(0, 31000);
    PROFILE_BEGIN("load");
    at(0, 31500);
    PROFILE_BEGIN("parse");
    at(1, 40000);
    PROFILE_BEGIN("wait");
    at(0, 34000);
    PROFILE_MARK("found");
    save("crashed.prof", "alpha", 100, "boot-1", 1700000000000000000u);
    save("kernel.prof", "", 0, "", 0);
    stop(50000);
}

static void many(const char *name, prof_mode mode)
{
    int i;
    start(mode, 32 << 10, 5000000);
    for (i = 0; i < 4000; i++) {
        at(0, 1000 + 100 * (uint64_t)i);
        PROFILE_BEGIN("work");
        at(0, 1040 + 100 * (uint64_t)i);
        PROFILE_END("work");
    }
    if (mode == PROF_FILL)
        for (i = 0; i < 3; i++) PROFILE_ARG_I("i", i);
    stop(500000);
    save(name, "alpha", 100, "boot-1", 1700000000000000000u);
}

static void call(uint64_t *time, int kind, uint64_t ns)
{
    at(0, *time);
    switch (kind) {
    case 0: PROFILE_BEGIN("steady"); break;
    case 1: PROFILE_BEGIN("worse"); break;
    case 2: PROFILE_BEGIN("better"); break;
    case 3: PROFILE_BEGIN("noisy"); break;
    case 4: PROFILE_BEGIN("old"); break;
    default: PROFILE_BEGIN("young"); break;
    }
    at(0, *time + ns);
    switch (kind) {
    case 0: PROFILE_END("steady"); break;
    case 1: PROFILE_END("worse"); break;
    case 2: PROFILE_END("better"); break;
    case 3: PROFILE_END("noisy"); break;
    case 4: PROFILE_END("old"); break;
    default: PROFILE_END("young"); break;
    }
    *time += ns + 10;
}

/* Durations of scopes that did not change, became slower, faster, and vary too much to tell. */
static void durations(const char *name, int after)
{
    uint64_t time = 1000;
    int i;
    start(PROF_RING, 512 << 10, 5000000);
    for (i = 0; i < 400; i++) {
        uint64_t jitter = (uint64_t)(i * 7919 % 21);
        call(&time, 0, 990 + jitter);
        call(&time, 1, (after ? 1190 : 990) + jitter);
        call(&time, 2, (after ? 490 : 990) + jitter);
        call(&time, 3, i % 100 ? 100 : after ? 60000 : 40000);
        if (i < 3) call(&time, after ? 5 : 4, 100);
    }
    stop(time);
    save(name, after ? "after" : "before", 100, "boot-1", 1700000000000000000u);
}

/* One of several runs, each of which is faster or slower by something of its own; "disturbed" loses the processor for a
   millisecond three times; afterwards "steady" is as it was, and the others take 30 % longer. */
static void one_run(const char *name, int run, int after)
{
    uint64_t time = 1000;
    int i;
    start(PROF_RING, 512 << 10, 5000000);
    for (i = 0; i < 300; i++) {
        uint64_t jitter = (uint64_t)(i * 7919 % 101), own = (uint64_t)(run * 13 % 7 * 5);
        call(&time, 0, 950 + jitter + own);
        call(&time, 1, (950 + jitter + own) * (after ? 13 : 10) / 10);
        call(&time, 3, (950 + jitter + own) * (after ? 13 : 10) / 10 + (i % 100 == 37 + run ? 1000000 : 0));
    }
    stop(time);
    save(name, after ? "after" : "before", 100, "boot-1", 1700000000000000000u);
}

/* An ELF core file with the image in pieces of memory that touch, in another order in the file, and of the last one
   only a part; and with the magic in a piece of its own. */
static void core(const char *name, size_t missing)
{
    static unsigned char elf[64 + 4 * 56];
    static const unsigned char stray[24] = "some text, prof.img too";
    size_t size = (size_t)header()->image_size, third = size / 3 / 4096 * 4096, offset = sizeof elf, i;
    struct {
        uint64_t address;
        const unsigned char *bytes;
        size_t size, memory;
    } piece[4] = {{0x20000 + 2 * third, memory + 2 * third, size - 2 * third - missing, size - 2 * third},
                  {0x20000, memory, third, third},
                  {0x900000, stray, sizeof stray, 4096},
                  {0x20000 + third, memory + third, third, third}};
    char path[1024];
    FILE *file;
    memset(elf, 0, sizeof elf);
    memcpy(elf, "\177ELF\2\1\1", 7);
    elf[16] = 4;  /* a core file */
    elf[32] = 64; /* offset, size and number of the program headers */
    elf[54] = 56;
    elf[56] = 4;
    for (i = 0; i < 4; i++) {
        uint64_t at = offset, file_size = piece[i].size, memory_size = piece[i].memory;
        unsigned char *to = elf + 64 + 56 * i;
        to[0] = 1; /* PT_LOAD */
        memcpy(to + 8, &at, 8);
        memcpy(to + 16, &piece[i].address, 8);
        memcpy(to + 32, &file_size, 8);
        memcpy(to + 40, &memory_size, 8);
        offset += piece[i].size;
    }
    snprintf(path, sizeof path, "%s/%s", folder, name);
    file = fopen(path, "wb");
    if (file) fwrite(elf, 1, sizeof elf, file);
    for (i = 0; file && i < 4; i++) fwrite(piece[i].bytes, 1, piece[i].size, file);
    if (!file || fclose(file)) {
        perror(path);
        exit(1);
    }
}

int main(int argc, char **argv)
{
    int run;
    folder = argc > 1 ? argv[1] : ".";
    whole();
    later();
    elsewhere();
    busy();
    left();
    crashed();
    many("full.prof", PROF_FILL);
    many("ring.prof", PROF_RING);
    core("pieces", 0);
    core("pieces.cut", 3000);
    durations("before.prof", 0);
    durations("after.prof", 1);
    for (run = 0; run < 10; run++) {
        char name[32];
        snprintf(name, sizeof name, "%s%d.prof", run < 5 ? "old" : "new", run % 5);
        one_run(name, run, run >= 5);
    }
    misnamed();
    bytes();
    return 0;
}
