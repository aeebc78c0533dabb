/* pprof.c - writes samples in the format of google/pprof, proto/profile.proto. go tool pprof reads it also unpacked. */
#include "samples.h"
#include <stdlib.h>
#include <string.h>

typedef struct bytes {
    unsigned char *data;
    size_t size, capacity;
} bytes;

typedef struct writer {
    const samples *all;
    tool_out *out;
    bytes part, inner;   /* messages in the making */
    flame texts;         /* the table of strings: a text's number is that of its node, below node 0, which is "" */
    int failed;
} writer;

/* Protobuf's tags: the number of the field << 3 | how it is written. */
enum { NUMBER = 0, MESSAGE = 2 };

static void add(writer *to, bytes *bytes_to, const void *data, size_t size)
{
    if (bytes_to->size + size > bytes_to->capacity) {
        size_t capacity = (bytes_to->size + size) * 2;
        unsigned char *more = (unsigned char *)realloc(bytes_to->data, capacity);
        if (!more) {
            to->failed = 1;
            return;
        }
        bytes_to->data = more;
        bytes_to->capacity = capacity;
    }
    if (size) memcpy(bytes_to->data + bytes_to->size, data, size);
    bytes_to->size += size;
}

static size_t varint(unsigned char *to, uint64_t value)
{
    size_t size = 0;
    for (; value > 127; value >>= 7) to[size++] = (unsigned char)(value | 128);
    to[size++] = (unsigned char)value;
    return size;
}

static void add_varint(writer *to, bytes *message, uint64_t value)
{
    unsigned char text[10];
    add(to, message, text, varint(text, value));
}

static void add_number(writer *to, bytes *message, unsigned field, uint64_t value)
{
    if (!value) return;
    add_varint(to, message, field << 3 | NUMBER);
    add_varint(to, message, value);
}

/* Appends a message, and empties it. */
static void add_message(writer *to, bytes *message, unsigned field, bytes *inner)
{
    add_varint(to, message, field << 3 | MESSAGE);
    add_varint(to, message, inner->size);
    add(to, message, inner->data, inner->size);
    inner->size = 0;
}

/* Writes a field of the profile, and empties it. */
static void put(writer *to, unsigned field, bytes *message)
{
    unsigned char head[20];
    size_t size = varint(head, field << 3 | MESSAGE);
    size += varint(head + size, message->size);
    tool_out_bytes(to->out, head, size);
    tool_out_bytes(to->out, message->data, message->size);
    message->size = 0;
}

static void put_number(writer *to, unsigned field, uint64_t value)
{
    unsigned char text[20];
    size_t size = varint(text, field << 3 | NUMBER);
    tool_out_bytes(to->out, text, size + varint(text + size, value));
}

/* Returns the number of a text. */
static uint64_t text(writer *to, const char *string)
{
    size_t at = *string && !to->failed ? flame_child(&to->texts, 0, string, NULL) : 0;
    if (at == FLAME_NONE) to->failed = 1;
    return at == FLAME_NONE ? 0 : at;
}

static void put_type(writer *to, unsigned field, const char *type, const char *unit)
{
    add_number(to, &to->part, 1, text(to, type));
    add_number(to, &to->part, 2, text(to, unit));
    put(to, field, &to->part);
}

/* Says that modules have names, so that pprof does not look for them itself. */
static void put_modules(writer *to)
{
    size_t count, i;
    unsigned field;
    const prof_module *modules = prof_trace_modules(to->all->trace, &count);
    for (i = 0; i < count; i++) {
        add_number(to, &to->part, 1, i + 1);
        add_number(to, &to->part, 2, modules[i].start);
        add_number(to, &to->part, 3, modules[i].end);
        add_number(to, &to->part, 4, modules[i].file_offset);
        add_number(to, &to->part, 5, text(to, modules[i].path));
        add_number(to, &to->part, 6, text(to, modules[i].build_id));
        for (field = 7; field <= 9; field++) add_number(to, &to->part, field, 1); /* it has functions, files, lines */
        put(to, 3, &to->part);
    }
}

static void put_functions(writer *to)
{
    const symbols *names = to->all->symbols;
    size_t i;
    for (i = 0; i < symbols_functions(names); i++) {
        const symbols_function *at = symbols_function_at(names, i);
        add_number(to, &to->part, 1, i + 1);
        add_number(to, &to->part, 2, text(to, at->name));
        add_number(to, &to->part, 3, text(to, at->mangled ? at->mangled : at->name));
        add_number(to, &to->part, 4, text(to, at->file ? at->file : ""));
        add_number(to, &to->part, 5, at->line);
        put(to, 5, &to->part);
    }
}

static void put_places(writer *to)
{
    const symbols *names = to->all->symbols;
    size_t i, count;
    const prof_module *modules = prof_trace_modules(to->all->trace, &count);
    for (i = 0; i < symbols_places(names); i++) {
        const symbols_place *at = symbols_at(names, i);
        add_number(to, &to->part, 1, i + 1);
        add_number(to, &to->part, 2, at->module ? (uint64_t)(at->module - modules) + 1 : 0);
        add_number(to, &to->part, 3, at->address - (uint64_t)at->after_call);
        add_number(to, &to->inner, 1, at->function + 1);
        add_number(to, &to->inner, 2, at->line);
        add_message(to, &to->part, 4, &to->inner);
        put(to, 4, &to->part);
    }
}

static void add_label(writer *to, const char *key, const char *value)
{
    if (!*value) return;
    add_number(to, &to->inner, 1, text(to, key));
    add_number(to, &to->inner, 2, text(to, value));
    add_message(to, &to->part, 3, &to->inner);
}

static int sample_order(const void *left, const void *right)
{
    const samples_one *a = (const samples_one *)left, *b = (const samples_one *)right;
    if (a->chain != b->chain) return a->chain < b->chain ? -1 : 1;
    if (a->node != b->node) return a->node < b->node ? -1 : 1;
    return a->track < b->track ? -1 : a->track > b->track;
}

/* Writes the samples, those that are alike as one. */
static void put_samples(writer *to, samples_one *list, size_t count)
{
    const double each = samples_each(to->all, count, NULL, NULL);
    size_t i, next;
    uint32_t frame;
    qsort(list, count, sizeof *list, sample_order);
    for (i = 0; i < count && !to->failed; i = next) {
        const samples_one *one = &list[i];
        const flame_node *node = &to->all->tree->nodes[one->node];
        for (next = i + 1; next < count && !sample_order(one, &list[next]);) next++;
        for (frame = 0; frame < one->sample->frame_count; frame++)
            add_varint(to, &to->inner, to->all->chain[one->chain + frame] + 1);
        add_message(to, &to->part, 1, &to->inner);
        add_varint(to, &to->inner, next - i);
        add_varint(to, &to->inner, (uint64_t)((double)(next - i) * each + 0.5));
        add_message(to, &to->part, 2, &to->inner);
        if (node->category) add_label(to, "scope", node->name);
        if (one->track != PROF_NO_TRACK)
            add_label(to, "thread", prof_trace_track(to->all->trace, one->track)->name);
        put(to, 2, &to->part);
    }
}

static void put_texts(writer *to)
{
    size_t i;
    for (i = 0; i < to->texts.count; i++) {
        add(to, &to->part, to->texts.nodes[i].name, strlen(to->texts.nodes[i].name));
        put(to, 6, &to->part);
    }
}

int samples_write_pprof(const samples *all, tool_out *out)
{
    const prof_trace_info *info = prof_trace_about(all->trace);
    samples_one *list = (samples_one *)malloc((all->count + 1) * sizeof *list);
    writer to;
    memset(&to, 0, sizeof to);
    to.all = all;
    to.out = out;
    if (!list) return 0;
    if (all->count) memcpy(list, all->items, all->count * sizeof *list);
    to.failed = flame_child(&to.texts, FLAME_NONE, "", NULL) == FLAME_NONE;
    put_type(&to, 1, "samples", "count");
    put_type(&to, 1, "cpu", "nanoseconds");
    put_samples(&to, list, all->count);
    put_modules(&to);
    put_places(&to);
    put_functions(&to);
    put_number(&to, 9, info->start_unix_ns + (uint64_t)info->from_ns);
    put_number(&to, 10, (uint64_t)((info->to_ns ? info->to_ns : info->duration_ns) - info->from_ns));
    put_type(&to, 11, "cpu", "nanoseconds");
    put_number(&to, 12, info->sample_period_ns);
    put_number(&to, 14, text(&to, "cpu"));
    put_texts(&to);
    free(list);
    free(to.part.data);
    free(to.inner.data);
    flame_free(&to.texts);
    return !to.failed;
}
