/* hot_image.c - writes a recording with samples, as standard input describes it, for tests/test_hot.sh. A line each:

     pid PID BOOT                                        before all others; BOOT: the id of the machine's start, or -
     module START END OFFSET FROM BUILD PATH             addresses and the offset in hex; BUILD: its build id, or -
     thread TID NAME                                     what follows happens on it
     begin NS NAME FUNCTION, end NS                      a scope
     counter NS NAME UNIT VALUE                          UNIT: -: none
     sample NS TID FRAME...                              in hex, the innermost first
     switch NS PROCESSOR TID WHAT                        in, waits, ready or known
     delay NS TID READY                                  ns in the run queue so far
     known NS                                            all switches before this time are there */
#define PROF_IMPLEMENTATION
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "../prof_read.h"
#define CHECK(condition) ((condition) ? (void)0 : exit(3))
static inline void trace_check(const prof_trace *trace) { (void)trace; } /* no test: nothing is read here */
#include "image.h"
#include "image_switches.h"

#define PERIOD 1000000u

static image im;

static unsigned char *number(unsigned char *to, uint64_t value) { return prof__pack_integer(to, value); }

static unsigned char *signed_number(unsigned char *to, int64_t value)
{
    return number(to, (uint64_t)value << 1 ^ (0 - ((uint64_t)value >> 63)));
}

static void sample(uint64_t ns, uint64_t thread, const uint64_t *frames, size_t count)
{
    unsigned char bytes[1000] = {0}, *at = bytes;
    size_t words, i;
    at = number(number(number(at, PERIOD), 0), 0); /* nothing lost */
    at = number(signed_number(number(number(at, count), 0), (int64_t)thread), 0);
    for (i = count; i-- > 0;) at = signed_number(at, (int64_t)(frames[i] - (i + 1 < count ? frames[i + 1] : 0)));
    words = (size_t)(at - bytes) / 8 + 1;
    at_tick(&im, PROF__KIND_EVENT, 0, START_TICK + ns);
    put(&im, PROF__DEVICE_SAMPLES);
    put(&im, START_MONOTONIC + ns);
    put(&im, (uint64_t)PROF__KIND_DATA << PROF__KIND_SHIFT | (uint64_t)PROF_VALUE_STRING << 32 | words);
    for (i = 0; i < words; ++i) put(&im, 0);
    memcpy(im.word - words, bytes, (size_t)(at - bytes));
}

static void module(const char *line)
{
    static uint32_t id;
    unsigned long long from, to, offset, since;
    char build[200], path[2000];
    uint64_t words[5];
    if (sscanf(line, "%llx %llx %llx %llu %199s %1999[^\n]", &from, &to, &offset, &since, build, path) != 6) exit(2);
    words[0] = from, words[1] = to, words[2] = offset;
    words[3] = since ? START_MONOTONIC + since : 0;
    words[4] = (uint64_t)(*build == '-' ? 0 : string(&im, build)) << 32 | string(&im, path);
    meta(&im, PROF__META_MODULE, ++id, words, sizeof words);
}

static void counter(uint64_t ns, const char *name, const char *unit, int64_t value)
{
    uint64_t field[5];
    field[0] = string(&im, name);
    field[1] = 0;
    field[2] = 1;
    field[3] = (uint64_t)PROF__KIND_COUNTER_INT << 32 | 1;
    field[4] = string(&im, strcmp(unit, "-") ? unit : "");
    meta(&im, PROF__META_SITE, ++im.sites, field, sizeof field);
    at_tick(&im, PROF__KIND_COUNTER_INT, im.sites, ns);
    put(&im, (uint64_t)value);
}

static void switches(uint64_t ns, uint32_t processor, uint32_t thread, const char *what)
{
    static const char *const names[] = {"in", "waits", "ready", "known"};
    static const unsigned kinds[] = {PROF__SWITCH_IN, PROF__SWITCH_WAITS, PROF__SWITCH_READY, PROF__SWITCH_KNOWN};
    size_t i = 0;
    while (i < 4 && strcmp(what, names[i])) ++i;
    if (i == 4) exit(2);
    if (kinds[i] == PROF__SWITCH_KNOWN)
        system_begin(&im, ns, thread, kinds[i]);
    else
        switch_at(&im, processor, ns, thread, kinds[i]);
}

static void delay(uint64_t ns, uint32_t thread, uint64_t ready)
{
    at_tick(&im, PROF__KIND_EVENT, 0, START_TICK + ns);
    put(&im, PROF__DEVICE_DELAYS);
    put(&im, START_MONOTONIC + ns);
    put(&im, (uint64_t)PROF__KIND_DATA << PROF__KIND_SHIFT | 1);
    put(&im, prof__delay_word(ready, thread));
}

static void take(char *line)
{
    static uint64_t tracks;
    static uint32_t open[64], depth;
    unsigned long long a, b, frame;
    long long value;
    char name[500], function[500];
    int at;
    if (sscanf(line, "pid %llu %499s", &a, name) == 2) {
        im.header->pid = a;
        if (*name != '-') snprintf(im.header->boot_id, sizeof im.header->boot_id, "%.39s", name);
    } else if (!strncmp(line, "module ", 7)) {
        module(line + 7);
    } else if (sscanf(line, "thread %llu %499s", &a, name) == 2) {
        track_on(&im, string(&im, name), ++tracks, 1, a);
    } else if (sscanf(line, "begin %llu %499s %499s", &a, name, function) == 3) {
        open[depth] = site_in(&im, name, "work", "f.c", 1, function, PROF__KIND_BEGIN);
        begin(&im, open[depth++], START_TICK + a);
    } else if (sscanf(line, "end %llu", &a) == 1) {
        end(&im, open[--depth], START_TICK + a);
    } else if (sscanf(line, "sample %llu %llu%n", &a, &b, &at) == 2) {
        uint64_t frames[64];
        size_t count = 0;
        for (line += at; count < 64 && sscanf(line, " %llx%n", &frame, &at) == 1; line += at) frames[count++] = frame;
        sample(a, b, frames, count);
    } else if (sscanf(line, "counter %llu %499s %499s %lld", &a, name, function, &value) == 4) {
        counter(START_TICK + a, name, function, value);
    } else if (sscanf(line, "switch %llu %llu %llu %499s", &a, &b, &frame, name) == 4) {
        switches(a, (uint32_t)b, (uint32_t)frame, name);
    } else if (sscanf(line, "delay %llu %llu %llu", &a, &b, &frame) == 3) {
        delay(a, (uint32_t)b, frame);
    } else if (sscanf(line, "known %llu", &a) == 1) {
        known_until(&im, a);
    } else if (*line != '\n') {
        fprintf(stderr, "hot_image: %s", line);
        exit(2);
    }
}

int main(void)
{
    char line[4000];
    im = image_new(8000, 1, 60000); /* chunks are smaller than 64 KiB */
    chunk(&im, 0, 1, START_TICK);
    while (fgets(line, sizeof line, stdin)) take(line);
    return fwrite(im.bytes, im.size, 1, stdout) != 1;
}
