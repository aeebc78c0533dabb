/* fuzz_image.c - feeds any bytes to the reader as an image, and checks what prof.h promises of every trace. Most images
   are made by mutate.h, which knows the format.

     mkdir seeds && cp tests/corpus/[a-z]* seeds
     clang -g -O1 -fsanitize=fuzzer,address,undefined tests/fuzz_image.c -o fuzz && ./fuzz seeds
     cc -DFUZZ_FILES -g tests/fuzz_image.c -o fuzz -pthread && ./fuzz tests/corpus/[a-z]*          without libFuzzer

   test_mutate.c does the same without libFuzzer, as often as it is told to. */
#ifndef FUZZ_TEST /* which has private.h */
# define PROF_IMPLEMENTATION
#include "../prof_chrome.h"
#endif
#include "../prof_html.h"
#include "../prof_xplane.h"
#include "mutate.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REQUIRE(condition)                                                                  \
    do {                                                                                    \
        if (!(condition)) {                                                                 \
            fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition);   \
            abort();                                                                        \
        }                                                                                   \
    } while (0)

static unsigned long images_opened; /* the others were refused */

static int swallow(void *user, const void *data, size_t size)
{
    uint32_t *sum = (uint32_t *)user;
    size_t i;
    for (i = 0; i < size; ++i) *sum = *sum * 31 + ((const unsigned char *)data)[i]; /* reads every byte */
    return 0;
}

static size_t text_size(const char *text)
{
    REQUIRE(text != NULL);
    return strlen(text);
}

static size_t look_at(const prof_event *event)
{
    size_t size = text_size(event->name) + text_size(event->site->name) + text_size(event->site->category) +
                  text_size(event->site->file) + text_size(event->site->function);
    uint32_t i;
    if (event->type == PROF_EVENT_LOG) REQUIRE(event->value.type == PROF_VALUE_STRING);
    if (event->value.type == PROF_VALUE_STRING) size += text_size(event->value.as.string);
    for (i = 0; i < event->arg_count; ++i) {
        size += text_size(event->args[i].key);
        if (event->args[i].value.type == PROF_VALUE_STRING) size += text_size(event->args[i].value.as.string);
    }
    return size;
}

static void walk(const prof_trace *trace, size_t number)
{
    const prof_track *track = prof_trace_track(trace, number);
    prof_cursor *cursor = NULL;
    prof_event event;
    uint64_t count = 0, lost = 0;
    int64_t before = track->first_ns, *ends = NULL;
    size_t depth = 0, room = 0, bytes = text_size(track->name);
    if (prof_cursor_open(trace, number, &cursor) != PROF_OK) return;
    while (prof_cursor_next(cursor, &event)) {
        bytes += look_at(&event);
        ++count;
        REQUIRE(event.start_ns >= before && event.duration_ns >= 0);
        before = event.start_ns;
        REQUIRE(event.start_ns <= track->last_ns);
        if (event.type == PROF_EVENT_LOST) {
            lost += event.value.as.u;
            continue;
        }
        REQUIRE(event.depth <= depth);
        depth = event.depth;
        if (depth) REQUIRE(event.start_ns <= ends[depth - 1]);
        if (event.type != PROF_EVENT_SCOPE) continue;
        if (depth) REQUIRE(event.start_ns + event.duration_ns <= ends[depth - 1]);
        REQUIRE(event.start_ns + event.duration_ns <= track->last_ns);
        if (depth == room) ends = (int64_t *)realloc(ends, (room = room * 2 + 16) * sizeof *ends);
        ends[depth++] = event.start_ns + event.duration_ns;
    }
    REQUIRE(count == track->event_count && lost == track->lost && bytes + 1 > 0);
    prof_cursor_close(cursor);
    free(ends);
}

/* With a window all that is left is order of time, and the window. */
static void walk_window(const prof_trace *trace, size_t index)
{
    const prof_trace_info *info = prof_trace_about(trace);
    prof_cursor *cursor = NULL;
    prof_event event;
    int64_t before = info->from_ns;
    if (prof_cursor_open(trace, index, &cursor) != PROF_OK) return;
    while (prof_cursor_next(cursor, &event)) {
        REQUIRE(event.start_ns >= before && event.duration_ns >= 0);
        REQUIRE(!info->to_ns || event.start_ns < info->to_ns);
        if (event.type == PROF_EVENT_SCOPE) REQUIRE(!info->to_ns || event.start_ns + event.duration_ns <= info->to_ns);
        before = event.start_ns;
    }
    prof_cursor_close(cursor);
}

/* Blocks of the archive whose check is wrong are never looked into: so it is made right. */
static void mend(uint8_t *data, size_t size)
{
    size_t at;
    for (at = 0; at + sizeof(prof__block) <= size; at += 8) {
        prof__block block;
        memcpy(&block, data + at, sizeof block);
        if (block.magic != PROF__BLOCK_MAGIC || block.size < sizeof block || block.size > size - at) continue;
        block.check = prof__block_check(&block, data + at + sizeof block);
        memcpy(data + at, &block, sizeof block);
    }
}

static prof_status open_mended(const uint8_t *data, size_t size, prof_trace **trace)
{
    uint8_t *copy = (uint8_t *)malloc(size + !size);
    prof_status status;
    REQUIRE(copy != NULL);
    memcpy(copy, data, size);
    mend(copy, size);
    status = prof_trace_memory(copy, size, trace);
    free(copy);
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint32_t sum;
    prof_trace *trace = NULL;
    prof_stat *stats = NULL;
    size_t count = 0, i;
    prof_sink sink;
    sink.write = swallow;
    sink.user = &sum;
    if (open_mended(data, size, &trace) != PROF_OK) return 0;
    ++images_opened;
    for (i = 0; i < prof_trace_track_count(trace); ++i) walk_window(trace, i); /* the image's own */
    REQUIRE(prof_trace_window(trace, 0, 0) == PROF_OK);
    for (i = 0; i < prof_trace_track_count(trace); ++i) walk(trace, i);
    switch (size / 8 % 6) { /* one report for each image: twice as many images */
    case 0:
        REQUIRE(prof_stats(trace, (prof_sort)(size / 24 % 8), (int)(size & 1), &stats, &count) == PROF_OK);
        prof_stats_free(stats);
        break;
    case 1: REQUIRE(prof_summary_stream(trace, sink, NULL) == PROF_OK); break;
    case 2: REQUIRE(prof_chrome_stream(trace, sink, NULL) == PROF_OK); break;
    case 3: REQUIRE(prof_xplane_stream(trace, sink, NULL) == PROF_OK); break;
    case 4: REQUIRE(prof_html_stream(trace, sink, NULL) == PROF_OK); break;
    default: REQUIRE(prof_csv_stream(trace, sink) == PROF_OK); break;
    }
    prof_trace_close(trace);
    return 0;
}

#if !defined(FUZZ_FILES) && !defined(FUZZ_TEST)
/* Seven of eight changes know the format. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    static uint64_t image[MUTATE_MOST / 8];
    if (most > sizeof image) most = sizeof image;
    if (seed % 8 == 0 || size > most) return LLVMFuzzerMutate(data, size, most);
    memcpy(image, data, size);
    mutate_seed(seed);
    size = mutate(image, size, most);
    memcpy(data, image, size);
    return size;
}
#endif

#ifdef FUZZ_FILES
int main(int argc, char **argv)
{
    int i;
    for (i = 1; i < argc; ++i) {
        FILE *file = fopen(argv[i], "rb");
        uint8_t *bytes = NULL;
        size_t used = 0, got = 1;
        if (!file) {
            perror(argv[i]);
            return 1;
        }
        while (got) {
            bytes = (uint8_t *)realloc(bytes, used + 65536);
            got = fread(bytes + used, 1, 65536, file);
            used += got;
        }
        fclose(file);
        LLVMFuzzerTestOneInput(bytes, used);
        printf("%s: %lu bytes, fine\n", argv[i], (unsigned long)used);
        free(bytes);
    }
    return 0;
}
#endif
