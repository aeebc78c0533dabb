/* speedscope.c - writes speedscope's own format: the scopes of each thread, as begins and ends. The format:
   https://github.com/jlfwong/speedscope/wiki/Importing-from-custom-sources, type "evented". Of
   Chrome's JSON its importer makes a function of each name with arguments; here a function is a name, with its file and
   line. */
#include "flame.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct open_scope {
    size_t frame;
    int64_t end_ns;
} open_scope;

typedef struct speedscope {
    tool_out *out;
    flame names;     /* a child of its root is a function */
    uint32_t *lines; /* of the functions */
    size_t line_room;
    open_scope *open; /* the scopes that are open on the track */
    size_t depth, room;
    int events, profiles; /* how many were written: of this track, and of all */
} speedscope;

static void put(speedscope *s, const char *text) { tool_out_bytes(s->out, text, strlen(text)); }

static void put_text(speedscope *s, const char *text)
{
    char one[8];
    size_t size;
    put(s, "\"");
    while (*text) {
        text += tool_json_character(text, one, &size);
        tool_out_bytes(s->out, one, size);
    }
    put(s, "\"");
}

/* An event of a profile: 'O' opens, 'C' closes. */
static void put_event(speedscope *s, char type, size_t frame, int64_t at_ns)
{
    char text[96];
    int length = snprintf(text, sizeof text, "%s{\"type\":\"%c\",\"frame\":%zu,\"at\":%" PRId64 "}",
                          s->events++ ? ",\n" : "\n", type, frame, at_ns);
    tool_out_bytes(s->out, text, (size_t)length);
}

/* Returns the number of a function. Returns FLAME_NONE without memory. */
static size_t frame_of(speedscope *s, const prof_event *event)
{
    size_t count = s->names.count, frame = flame_child(&s->names, 0, event->name, event->site->file);
    if (frame == FLAME_NONE || frame < count) return frame == FLAME_NONE ? frame : frame - 1;
    if (frame >= s->line_room) {
        size_t room = 2 * frame + 256;
        uint32_t *more = (uint32_t *)realloc(s->lines, room * sizeof *more);
        if (!more) return FLAME_NONE;
        s->lines = more;
        s->line_room = room;
    }
    s->lines[frame] = event->site->line;
    return frame - 1;
}

static void close_to(speedscope *s, size_t depth)
{
    while (s->depth > depth) {
        --s->depth;
        put_event(s, 'C', s->open[s->depth].frame, s->open[s->depth].end_ns);
    }
}

static int add(speedscope *s, const prof_event *event)
{
    size_t frame = frame_of(s, event);
    if (frame == FLAME_NONE) return 0;
    close_to(s, event->depth);
    if (s->depth == s->room) {
        size_t room = 2 * s->room + 64;
        open_scope *more = (open_scope *)realloc(s->open, room * sizeof *more);
        if (!more) return 0;
        s->open = more;
        s->room = room;
    }
    s->open[s->depth].frame = frame;
    s->open[s->depth++].end_ns = event->start_ns + event->duration_ns;
    put_event(s, 'O', frame, event->start_ns);
    return 1;
}

/* Begins the profile of a track. */
static void put_head(speedscope *s, const prof_trace *trace, const prof_track *track)
{
    char text[160], name[512];
    if (*track->device)
        snprintf(name, sizeof name, "%s: %s", track->device, track->name);
    else
        snprintf(name, sizeof name, "%s (%" PRIu64 ")", *track->name ? track->name : "thread", track->thread_id);
    put(s, s->profiles++ ? ",\n" : "\n");
    put(s, "{\"type\":\"evented\",\"unit\":\"nanoseconds\",\"name\":");
    put_text(s, name);
    snprintf(text, sizeof text, ",\"startValue\":0,\"endValue\":%" PRId64 ",\"events\":[",
             prof_trace_about(trace)->duration_ns);
    put(s, text);
}

/* Writes the profile of a track that has scopes. Returns PROF_OK, or why the events could not be read. */
static prof_status put_track(speedscope *s, const prof_trace *trace, size_t index)
{
    prof_cursor *cursor;
    prof_event event;
    prof_status status = prof_cursor_open(trace, index, &cursor);
    int good = 1;
    if (status) return status;
    s->events = 0;
    while (good && prof_cursor_next(cursor, &event)) {
        if (event.type != PROF_EVENT_SCOPE) continue;
        if (!s->events) put_head(s, trace, prof_trace_track(trace, index));
        good = add(s, &event);
    }
    close_to(s, 0);
    if (s->events) put(s, "]}");
    status = prof_cursor_close(cursor);
    return good ? status : PROF_NO_MEMORY;
}

static void put_frames(speedscope *s)
{
    char text[32];
    size_t i;
    put(s, "\n],\"shared\":{\"frames\":[");
    for (i = 1; i < s->names.count; i++) {
        const flame_node *node = &s->names.nodes[i];
        put(s, i > 1 ? ",\n{\"name\":" : "\n{\"name\":");
        put_text(s, node->name);
        if (*node->category) {
            put(s, ",\"file\":");
            put_text(s, node->category);
            snprintf(text, sizeof text, ",\"line\":%" PRIu32, s->lines[i]);
            put(s, text);
        }
        put(s, "}");
    }
    put(s, "\n]}}\n");
}

static int write_speedscope(const prof_trace *trace, const char *path)
{
    speedscope s;
    char program[512];
    size_t i, count = prof_trace_track_count(trace);
    prof_status status = PROF_OK;
    memset(&s, 0, sizeof s);
    s.out = tool_out_open(path);
    if (!s.out) return TOOL_ERROR;
    put(&s, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"exporter\":\"prof\",\"name\":");
    put_text(&s, tool_program(trace, program, sizeof program));
    put(&s, ",\"activeProfileIndex\":0,\"profiles\":[");
    if (flame_child(&s.names, FLAME_NONE, "", NULL) == FLAME_NONE) status = PROF_NO_MEMORY;
    for (i = 0; i < count && !status; i++) status = put_track(&s, trace, i);
    put_frames(&s);
    flame_free(&s.names);
    free(s.lines);
    free(s.open);
    if (!status) return tool_out_close(s.out, 1);
    if (status == PROF_NO_MEMORY)
        tool_fail("out of memory");
    else
        tool_status(status);
    return tool_out_close(s.out, 0);
}

int tool_trace_write(const prof_trace *trace, const char *path, const char *extension)
{
    return tool_same(extension, ".speedscope") ? write_speedscope(trace, path)
                                               : tool_status(prof_trace_write(trace, path, extension));
}
