/* fuzz_neuron.c - feeds any bytes to the readers of Neuron's JSON: in one piece, cut into two fetches, as a file, on
   tracks of a recording and in an image; and to what appends to another's trace.json. tests/fuzz.sh builds it. */
#define PROF_IMPLEMENTATION
#include "../prof_ntff.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define REQUIRE(condition)                                                                  \
    do {                                                                                    \
        if (!(condition)) {                                                                 \
            fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition);   \
            abort();                                                                        \
        }                                                                                   \
    } while (0)

static int recorded; /* 1: this time. Devices stay, so that not all of them can be made up */

/* What every event is, whatever the text was. */
static int sound(void *user, const prof_ntff_event *e)
{
    REQUIRE(e->name && e->instance && *e->name && strlen(e->name) < PROF_MAX_TEXT + 24);
    REQUIRE((unsigned)e->source < PROF_NTFF_SOURCE_COUNT);
    REQUIRE(e->start_ns > 0 || e->flags & PROF_NTFF_RAW_CLOCK);
    REQUIRE(e->duration_ns >= -1 && (e->flags & PROF_NTFF_RAW_CLOCK || e->start_ns < INT64_MAX / 2 + 1));
    REQUIRE(e->duration_ns < INT64_MAX / 2 + 1 && e->nc_idx >= -1 && e->core_idx >= -1 && e->worker_gid >= -1);
    REQUIRE(e->args || !e->args_size);
    REQUIRE(!e->args_size || (e->args[0] == '{' && e->args[e->args_size - 1] == '}'));
    if (recorded) prof_ntff_record(NULL, e);
    ++*(uint64_t *)user;
    return 0;
}

static void text_sum(const prof_ntff_stats *s, uint64_t heard)
{
    REQUIRE(s->events == heard);
    REQUIRE(s->instants + s->counters <= s->events && s->raw_clock <= s->events && s->realigned <= s->events);
}

static int file_of(const uint8_t *data, size_t size, char *path)
{
    int file = memfd_create("json", 0);
    if (file < 0 || write(file, data, size) != (ssize_t)size) return -1;
    sprintf(path, "/proc/self/fd/%d", file);
    return file;
}

static void imported(const char *json, uint64_t events)
{
    static char out[64];
    prof_trace *trace = NULL;
    if (!*out) sprintf(out, "/tmp/fuzz_neuron_%d.prof", (int)getpid());
    if (prof_ntff_import(json, NULL, out, NULL)) return;
    REQUIRE(events > 0);
    REQUIRE(prof_trace_open(out, &trace) == PROF_OK);
    for (size_t i = 0; i < prof_trace_track_count(trace); ++i) REQUIRE(*prof_trace_track(trace, i)->device);
    prof_trace_close(trace);
    unlink(out);
}

static void appended(const char *path)
{
    static char target[64];
    prof_trace *trace = NULL;
    prof_ntff_trace_options options;
    char command[4096];
    size_t got;
    FILE *from = fopen(path, "rb"), *to;
    memset(&options, 0, sizeof options);
    options.append = 1;
    if (!*target) sprintf(target, "/tmp/fuzz_neuron_%d.json", (int)getpid());
    to = fopen(target, "wb");
    while (from && to && (got = fread(command, 1, sizeof command, from)) > 0) fwrite(command, 1, got, to);
    if (from) fclose(from);
    if (to) fclose(to);
    if (prof_trace_live(&trace)) abort();
    (void)prof_ntff_trace_json(trace, target, &options);
    prof_trace_close(trace);
    unlink(target);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int count;
    prof_ntff_stats whole, again;
    uint64_t heard = 0, heard_again = 0;
    char path[64];
    int file = file_of(data, size, path);
    prof_status status, status_again;
    if (!count) {
        prof_config config;
        memset(&config, 0, sizeof config);
        config.buffer_size = 128 << 10;
        REQUIRE(prof_start(&config) == PROF_OK);
    }
    recorded = count % 64 == 0;
    memset(&whole, 0, sizeof whole);
    memset(&again, 0, sizeof again);
    status = prof_ntff_parse_systrace_json(NULL, (const char *)data, size, sound, &heard, &whole);
    REQUIRE(status == PROF_OK || (status == PROF_CORRUPT && *prof_error()));
    text_sum(&whole, heard);
    if (file >= 0) {
        status_again = prof_ntff_read_system_json(path, sound, &heard_again, &again);
        REQUIRE((status == status_again && !memcmp(&whole, &again, sizeof whole)) || (size && !data[size - 1]));
        if (count % 4 == 0) imported(path, heard_again);
        if (count++ % 64 == 0) appended(path);
        close(file);
    }
    prof_ntff_parser *parser = prof_ntff_parser_create();
    uint64_t fetched = 0;
    prof_ntff_stats parts;
    memset(&parts, 0, sizeof parts);
    (void)prof_ntff_parse_systrace_json(parser, (const char *)data, size, sound, &fetched, &parts);
    (void)prof_ntff_parse_systrace_json(parser, (const char *)data, size / 2, sound, &fetched, &parts);
    prof_ntff_parser_end(parser, sound, &fetched, &parts);
    text_sum(&parts, fetched);
    return 0;
}
