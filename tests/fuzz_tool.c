/* fuzz_tool.c - prof recover, with any bytes as the file that it searches; reads every image that it writes. What of the
   tool lies beyond recover.c is replaced here, so that nothing is written but into memory. A part of fuzz.c. */
#define PROF_IMPLEMENTATION
#include "../tools/recover.c"
#include <stdarg.h>

#include "fuzz.h"

struct tool_out {
    unsigned char *bytes;
    size_t size, room;
};

static struct tool_out image;
static size_t total; /* bytes of all images of one file */
const char *const tool_progress_choices[] = {"auto", NULL};

tool_out *tool_out_open(const char *path)
{
    REQUIRE(path != NULL);
    image.size = 0;
    return &image;
}

void tool_out_bytes(tool_out *out, const void *bytes, size_t size)
{
    if (out->size + size > out->room) {
        out->room = (out->size + size) * 2;
        out->bytes = (unsigned char *)realloc(out->bytes, out->room);
    }
    memcpy(out->bytes + out->size, bytes, size);
    out->size += size;
}

/* What was written is an image, and can be read to its end. */
int tool_out_close(tool_out *out, int good)
{
    prof_trace *trace = NULL;
    size_t i;
    REQUIRE(good);
    total += out->size;
    REQUIRE(prof_trace_open_memory(out->bytes, out->size, &trace) == PROF_OK);
    for (i = 0; i < prof_trace_track_count(trace); i++) {
        prof_cursor *cursor = NULL;
        prof_event event;
        uint64_t count = 0;
        REQUIRE(prof_cursor_open(trace, i, &cursor) == PROF_OK);
        while (prof_cursor_next(cursor, &event)) count++;
        REQUIRE(count <= prof_trace_track(trace, i)->event_count);
        prof_cursor_close(cursor);
    }
    prof_trace_close(trace);
    return TOOL_OK;
}

int tool_fail(const char *format, ...)
{
    char text[512];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    return TOOL_ERROR;
}

int tool_same(const char *a, const char *b) { return !strcmp(a, b); }
const char *tool_shown(const char *path) { return path; }
FILE *tool_file_open(const char *path, const char *mode) { return fopen(path, mode); }
const char *tool_extension(const char *path) { return strrchr(path, '.') ? strrchr(path, '.') : ""; }
const char *tool_value(const tool_args *args, const char *option) { return args && *option == '?' ? "" : NULL; }
int tool_choice(const char *option, const char *text, const char *const *choices, int *choice)
{
    *choice = 0;
    return option && choices && !text;
}
const char *tool_count(char *to, uint64_t count)
{
    snprintf(to, 48, "%llu", (unsigned long long)count);
    return to;
}
void tool_print_name(const char *text, int width) { REQUIRE(text && !width); }
void tool_progress_begin(const char *what, const char *when) { (void)what, (void)when; }
void tool_progress(double share) { REQUIRE(share >= 0 && share <= 1); }
void tool_progress_end(void) {}

static int fuzz_tool(const uint8_t *data, size_t size)
{
    hunt h;
    memset(&h, 0, sizeof h);
    h.in = "fuzz";
    h.out = "fuzz.prof";
    total = 0;
    if (!size) return 0; /* fmemopen() has no empty files */
    h.from.file = fmemopen((void *)(uintptr_t)data, size, "rb");
    REQUIRE(h.from.file != NULL);
    hunt_in(&h, NULL);
    fclose(h.from.file);
    REQUIRE(total <= size);
    return 0;
}
