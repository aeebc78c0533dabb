/* A ring whose recording has ended stays in its file: reading it gives the same as reading from memory; if the file is
   changed or cut while it is read, only what is gone is missing. What is in memory is read without outlines here, so
   that these are compared with the words that they stand for, too. */
/* run: traces */
#define PROF__READ_WHOLE 0 /* every ring, however small */
#define PROF__SEGMENT_SUMMARIES outlines
static int outlines = 1;
#define PROF_IMPLEMENTATION
#include "../prof_read.h"
#include "test.h"
#include "mutate.h"
#include "trace.h"
#include <dirent.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#define PATH "paged.prof"

static uint64_t words_of(const prof_event *event)
{
    uint64_t hash = prof__mix(event->id) ^ prof__mix((uint64_t)event->start_ns) ^ prof__mix((uint64_t)event->duration_ns + 1);
    hash = prof__mix(hash ^ event->object ^ event->detail << 8 ^ (uint64_t)event->type << 32 ^ event->flags ^ event->depth);
    hash ^= prof__hash(event->name, strlen(event->name));
    for (uint32_t i = 0; i < event->arg_count; ++i) {
        const prof_value *value = &event->args[i].value;
        hash = prof__mix(hash ^ prof__hash(event->args[i].key, strlen(event->args[i].key)) ^ (uint64_t)value->type);
        hash ^= value->type == PROF_VALUE_STRING ? prof__hash(value->as.string, strlen(value->as.string)) : value->as.u;
    }
    return hash;
}

/* Of all events in their order, and of what the trace says of itself. */
static uint64_t content(const prof_trace *trace, uint64_t *events)
{
    uint64_t hash = prof_trace_about(trace)->lost ^ prof_trace_about(trace)->unmatched << 20;
    *events = 0;
    for (size_t track = 0; track < prof_trace_track_count(trace); ++track) {
        prof_cursor *cursor;
        prof_event event;
        hash = prof__mix(hash ^ prof_trace_track(trace, track)->event_count ^ prof_trace_track(trace, track)->thread_id);
        if (prof_cursor_open(trace, track, &cursor) != PROF_OK) return 0;
        for (; prof_cursor_next(cursor, &event); ++*events) hash = prof__mix(hash ^ words_of(&event));
        prof_cursor_close(cursor);
    }
    return hash;
}

static int same_track(const prof__read_track *a, const prof__read_track *b)
{
    return a->max_nodes == b->max_nodes && a->max_args == b->max_args && a->max_event_args == b->max_event_args &&
           a->max_depth == b->max_depth && a->cross_segment_count == b->cross_segment_count &&
           a->about.lost == b->about.lost && a->about.first_ns == b->about.first_ns &&
           a->about.last_ns == b->about.last_ns && a->frames == b->frames;
}

/* Compares a file, which is read in pages if its recording has ended, to the same in memory. Returns its events. */
static uint64_t compare(const void *bytes, size_t size)
{
    prof_trace *paged = NULL, *whole = NULL;
    uint64_t one = 0, other = 0;
    trace_write_file(trace_path(PATH), bytes, size);
    outlines = 0;
    prof_status status = prof_trace_open_memory(bytes, size, &whole);
    outlines = 1;
    CHECK_EQUAL(prof_trace_open(trace_path(PATH), &paged), status);
    if (!status && paged) {
        CHECK(content(paged, &one) == content(whole, &other));
        CHECK(one == other);
        CHECK(paged->track_count == whole->track_count && paged->has_spans == whole->has_spans);
        for (size_t i = 0; i < paged->track_count; ++i) CHECK(same_track(&paged->tracks[i], &whole->tracks[i]));
    }
    prof_trace_close(paged);
    prof_trace_close(whole);
    return other;
}

TEST(images_in_files_are_read_as_in_memory)
{
    static uint64_t image[MUTATE_MOST / 8];
    uint64_t events = 0;
    int ended = 0;
    DIR *folder = opendir("tests/corpus");
    struct dirent *entry;
    mutate_seed(3);
    while (folder && (entry = readdir(folder)) != NULL) {
        char path[300];
        size_t size;
        snprintf(path, sizeof path, "tests/corpus/%.200s", entry->d_name);
        char *bytes = entry->d_name[0] == '.' ? NULL : trace_file_text(path, &size);
        if (!bytes) continue;
        events += compare(bytes, size);
        for (long i = 0; size <= MUTATE_MOST && i < trace_times(20, 200, 20000); ++i) {
            size_t changed = size;
            if (i % 8 == 0) memcpy(image, bytes, size);
            changed = mutate(image, changed, sizeof image);
            ((prof__header *)image)->state = PROF__STOPPED;
            ended += !test_failures && compare(image, changed) > 0;
        }
        free(bytes);
    }
    if (folder) closedir(folder);
    CHECK(events > 20);
    CHECK(ended > 100);
}

enum { SCOPES = 20000 };

static void work(int args)
{
    PROFILE_SCOPE("all"); /* has arguments before and after many chunks of others */
    for (int i = 0; i < args; ++i) PROFILE_ARG_I("number", i);
    for (int i = 0; i < SCOPES / 2; ++i) {
        PROFILE_SCOPE("outer");
        PROFILE_SCOPE_DYNAMIC(i % 2 ? "odd" : "even");
        PROFILE_ARG_S("text", "value");
    }
    PROFILE_ARG_S("number", "the last");
}

static void record(void)
{
    prof_config config = trace_config(4u << 20);
    config.output = trace_path(PATH);
    trace_start(&config);
    work(2);
    for (int i = 0; i < 3000; ++i) { /* more than a chunk */
        PROFILE_SCOPE("between");
    }
    work(4);
    CHECK_EQUAL(prof_stop(), PROF_OK);
    CHECK_EQUAL(prof_reset(), PROF_OK);
}

TEST(only_tables_are_in_memory)
{
    record();
    prof_trace *trace = trace_open_file(trace_path(PATH));
    CHECK(trace->paged && trace->file);
    uint64_t events;
    content(trace, &events);
    CHECK(events == 2 * SCOPES + 2 + 3000);
    size_t size;
    char *bytes = trace_file_text(trace_path(PATH), &size);
    CHECK(compare(bytes, size) == events);
    free(bytes);
    CHECK(trace->header.chunk_offset < 2u << 20);
    prof_trace_close(trace);
}

/* Events that are read after the file was changed. */
static uint64_t read_after(void (*change)(int file, const prof__header *header))
{
    uint64_t events = 0;
    record();
    prof_trace *trace = trace_open_file(trace_path(PATH));
    int file = open(trace_path(PATH), O_RDWR);
    change(file, &trace->header);
    close(file);
    for (int i = 0; i < 2; ++i) content(trace, &events);
    CHECK(prof_trace_about(trace)->lost_blocks > 0);
    CHECK_EQUAL(prof_trace_about(trace)->lost_blocks < 100, 1);
    prof_trace_close(trace);
    return events;
}

static void cut(int file, const prof__header *header)
{
    CHECK(!ftruncate(file, (off_t)(header->chunk_offset + 3 * header->chunk_size)));
}

static void cut_all(int file, const prof__header *header)
{
    (void)header;
    CHECK(!ftruncate(file, 0));
}

/* A word in the middle of the second chunk: nothing tells of it but the words themselves. */
static void overwrite(int file, const prof__header *header)
{
    uint64_t word = ~(uint64_t)0;
    CHECK(pwrite(file, &word, 8, (off_t)(header->chunk_offset + header->chunk_size + header->chunk_size / 2)) == 8);
}

static void replace(int file, const prof__header *header)
{
    char *noise = (char *)malloc(header->chunk_size);
    for (size_t i = 0; i < header->chunk_size; ++i) noise[i] = (char)mutate_random();
    for (uint64_t i = 0; i < 3; ++i)
        CHECK(pwrite(file, noise, header->chunk_size, (off_t)(header->chunk_offset + i * header->chunk_size)) > 0);
    free(noise);
}

TEST(a_file_that_changes_costs_what_is_gone)
{
    uint64_t left = read_after(cut);
    CHECK(left > 100 && left < 2 * SCOPES + 3002);
    CHECK(read_after(cut_all) < 10);
    left = read_after(overwrite);
    CHECK(left > SCOPES && left < 2 * SCOPES + 3002);
    left = read_after(replace);
    CHECK(left > 100 && left < 2 * SCOPES + 3002);
}

TEST_MAIN
