/* fuzz_neuron.c - the readers of Neuron's JSON: in one piece, cut into two fetches, as a file, on tracks of a recording
   and in an image; and what appends to another's trace.json. A part of fuzz.c. */
#define PROF_IMPLEMENTATION
#include "../prof_ntff.h"
#include "fuzz.h"

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

static void recording_begin(void)
{
    static int begun;
    prof_config config;
    if (begun++) return;
    memset(&config, 0, sizeof config);
    config.buffer_size = 128 << 10;
    REQUIRE(prof_start(&config) == PROF_OK);
}

static int fuzz_neuron(const uint8_t *data, size_t size)
{
    static int count;
    prof_ntff_stats whole, again;
    uint64_t heard = 0, heard_again = 0;
    char path[64];
    int file = fuzz_file(data, size, path);
    prof_status status, status_again;
    recording_begin();
    recorded = count % 64 == 0;
    memset(&whole, 0, sizeof whole);
    memset(&again, 0, sizeof again);
    status = prof_ntff_parse_systrace_json(NULL, (const char *)data, size, sound, &heard, &whole);
    REQUIRE(status == PROF_OK || (status == PROF_CORRUPT && *prof_error()));
    text_sum(&whole, heard);
    if (file >= 0) {
        status_again = prof_ntff_read_system_json(path, sound, &heard_again, &again);
        REQUIRE((status == status_again && !memcmp(&whole, &again, sizeof whole)) || (size && !data[size - 1]));
        if (count++ % 4 == 0) imported(path, heard_again);
        close(file);
    }
    prof_ntff_parser *parser = prof_ntff_parser_create();
    uint64_t fetched = 0;
    prof_ntff_stats parts;
    memset(&parts, 0, sizeof parts);
    (void)prof_ntff_parse_systrace_json(parser, (const char *)data, size, sound, &fetched, &parts);
    (void)prof_ntff_parse_systrace_json(parser, (const char *)data, size / 2, sound, &fetched, &parts);
    prof_ntff_parser_destroy(parser, sound, &fetched, &parts);
    text_sum(&parts, fetched);
    return 0;
}

/* Another program's trace.json, after whose events ours come. No byte of it is lost, and what was refused stays. */
static int fuzz_kineto(const uint8_t *data, size_t size)
{
    static prof_trace *trace;
    static char path[64];
    prof_ntff_trace_options options;
    FILE *file;
    memset(&options, 0, sizeof options);
    options.append = 1;
    recording_begin();
    if (!trace) REQUIRE(prof_trace_open_live(&trace) == PROF_OK);
    if (!*path) snprintf(path, sizeof path, "/dev/shm/fuzz_kineto_%d.json", (int)getpid());
    file = fopen(path, "wb");
    if (!file) return 0;
    REQUIRE(fwrite(data, 1, size, file) == size);
    fclose(file);
    prof_status status = prof_ntff_trace_json(trace, path, &options);
    REQUIRE(status == PROF_OK || *prof_error());
    file = fopen(path, "rb");
    REQUIRE(file != NULL);
    fseek(file, 0, SEEK_END);
    REQUIRE((size_t)ftell(file) >= size || (status == PROF_OK && size >= sizeof PROF__KINETO_OURS - 1));
    fclose(file);
    unlink(path);
    return 0;
}
