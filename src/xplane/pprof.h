// xplane/pprof: Writes the memory profile.
#ifndef PROF__XPLANE_PPROF_H
#define PROF__XPLANE_PPROF_H
#include "api/options.h"
#include "api/read.h"
#include "api/reports.h"
#include "api/types.h"
#include "api/values.h"
#include "api/writers.h"
#include "ground/errors.h"
#include "ground/hash.h"
#include "ground/numbers.h"
#include "ground/out.h"
#include "image/pack.h"
#include "report/allocations.h"
#include "xplane/bytes.h"
#include "xplane/events.h"
#include "xplane/gzip.h"
#include "xplane/state.h"

/*-- memory profile: google/pprof's proto/profile.proto --*/

/* Tags of protobuf fields: the field's number << 3 | its wire type. */
enum {
    PROF__PPROF_TYPE = 0x0A, PROF__PPROF_SAMPLE = 0x12, PROF__PPROF_MAPPING = 0x1A, PROF__PPROF_LOCATION = 0x22,
    PROF__PPROF_FUNCTION = 0x2A, PROF__PPROF_STRING = 0x32, PROF__PPROF_TIME = 0x48, PROF__PPROF_DURATION = 0x50,
    PROF__PPROF_PERIOD_TYPE = 0x5A, PROF__PPROF_PERIOD = 0x60, PROF__PPROF_COMMENT = 0x68, PROF__PPROF_DEFAULT = 0x70,
    PROF__PPROF_FIRST = 0x08, PROF__PPROF_SECOND = 0x10 /* fields 1 and 2 of smaller messages, if they are numbers */
};

/* A location: a call site and a name, which is the one that statistics have. */
typedef struct prof__pprof_at {
    const prof_callsite *site;
    const char *name;
} prof__pprof_at;

typedef struct prof__pprof {
    prof__xplane_bytes all, part, inner, text;
    const char **strings; /* the texts belong to the trace, or are literals */
    size_t string_count, string_capacity;
    prof__read_index string_index;
    prof__pprof_at *places; /* the id of a location, and of its function, is the index plus 1 */
    size_t place_count, place_capacity;
    prof__read_index place_index;
    int failed;
} prof__pprof;

static int prof__pprof_same_string(const void *owner, size_t item, const void *key)
{
    return !strcmp(((const char *const *)owner)[item], (const char *)key);
}

/* Returns the number of a text in the table of strings. The first string is "". */
static uint64_t prof__pprof_string(prof__pprof *p, const char *text)
{
    uint32_t hash = prof__text_hash(text);
    size_t item = prof__read_find(&p->string_index, hash, prof__pprof_same_string, p->strings, text);
    if (item != PROF__NONE) return item;
    if (!PROF__ROOM(p->strings, p->string_capacity, p->string_count) ||
        !prof__read_add(&p->string_index, hash, p->string_count)) {
        p->failed = 1;
        return 0;
    }
    p->text.size = 0;
    prof__xplane_letters(&p->text, text);
    prof__xplane_message(&p->all, PROF__PPROF_STRING, p->text.data, p->text.size);
    p->strings[p->string_count] = text;
    return p->string_count++;
}

/* Appends fields 1, 2 and so on with these values. */
static void prof__pprof_fields(prof__xplane_bytes *bytes, const uint64_t *values, unsigned count)
{
    unsigned i;
    for (i = 0; i < count; i++)
        if (values[i]) prof__xplane_number(bytes, PROF__PPROF_FIRST + i * 8, values[i]);
}

/* Appends a message ValueType. */
static void prof__pprof_type(prof__pprof *p, unsigned tag, const char *type, const char *unit)
{
    uint64_t values[2];
    values[0] = prof__pprof_string(p, type);
    values[1] = prof__pprof_string(p, unit);
    p->part.size = 0;
    prof__pprof_fields(&p->part, values, 2);
    prof__xplane_message(&p->all, tag, p->part.data, p->part.size);
}

static int prof__pprof_same_place(const void *owner, size_t item, const void *key)
{
    const prof__pprof_at *place = (const prof__pprof_at *)owner + item, *wanted = (const prof__pprof_at *)key;
    return place->site == wanted->site && !strcmp(place->name, wanted->name);
}

/* Returns the id of the location of a call site. name: what statistics call it. */
static uint64_t prof__pprof_place(prof__pprof *p, const prof_callsite *site, const char *name)
{
    prof__pprof_at place = {site, name};
    uint32_t hash = (uint32_t)prof__mix((uint64_t)(uintptr_t)site) + prof__text_hash(name);
    size_t item = prof__read_find(&p->place_index, hash, prof__pprof_same_place, p->places, &place);
    uint64_t values[5];
    if (item != PROF__NONE) return item + 1;
    if (!PROF__ROOM(p->places, p->place_capacity, p->place_count) ||
        !prof__read_add(&p->place_index, hash, p->place_count)) {
        p->failed = 1;
        return 0;
    }
    p->places[p->place_count++] = place;
    values[0] = p->place_count; /* the fields of Function: id, name, system_name, filename, start_line */
    values[1] = values[2] = prof__pprof_string(p, name);
    values[3] = prof__pprof_string(p, site->file);
    values[4] = 0;
    p->part.size = 0;
    prof__pprof_fields(&p->part, values, 5);
    prof__xplane_message(&p->all, PROF__PPROF_FUNCTION, p->part.data, p->part.size);
    values[1] = site->line; /* the fields of Line: function_id, line */
    p->inner.size = 0;
    prof__pprof_fields(&p->inner, values, 2);
    values[1] = 1; /* the fields of Location: id, mapping_id, address, line */
    p->part.size = 0;
    prof__pprof_fields(&p->part, values, 2);
    prof__xplane_message(&p->part, 0x22, p->inner.data, p->inner.size);
    prof__xplane_message(&p->all, PROF__PPROF_LOCATION, p->part.data, p->part.size);
    return p->place_count;
}

static void prof__pprof_label(prof__pprof *p, const char *key, const char *text)
{
    uint64_t values[2];
    if (!text || !*text) return;
    values[0] = prof__pprof_string(p, key);
    values[1] = prof__pprof_string(p, text);
    p->inner.size = 0;
    prof__pprof_fields(&p->inner, values, 2);
    prof__xplane_message(&p->part, 0x1A, p->inner.data, p->inner.size);
}

#define PROF__PPROF_DEEP 64 /* places of a stack, at most */

/* Appends numbers as a packed field. */
static void prof__pprof_packed(prof__pprof *p, unsigned tag, const uint64_t *values, unsigned count)
{
    unsigned char body[10 * PROF__PPROF_DEEP], *to = body;
    unsigned i;
    for (i = 0; i < count; i++) to = prof__pack_integer(to, values[i]);
    prof__xplane_message(&p->part, tag, body, (size_t)(to - body));
}

/* The stack of an allocation, the innermost function first. The scope around it comes last: it is not known between
   which functions it began. */
static void prof__pprof_sample(prof__pprof *p, const prof_trace *trace, const prof_memory_row *row)
{
    const prof_callsite *site = row->site, *around = row->around;
    uint64_t places[PROF__PPROF_DEEP], values[4];
    unsigned depth = 0;
    do {
        const char *function = prof__memory_function(site);
        places[depth++] = prof__pprof_place(p, site, *function ? function : "(unknown function)");
        site = prof__site_caller(trace, site);
    } while (site && depth < PROF__PPROF_DEEP - 1);
    if (around) places[depth++] = prof__pprof_place(p, around, *row->around_name ? row->around_name : around->function);
    values[0] = row->count;
    values[1] = row->bytes;
    values[2] = row->live_count;
    values[3] = row->live_bytes;
    p->part.size = 0;
    prof__pprof_packed(p, 0x0A, places, depth);
    prof__pprof_packed(p, 0x12, values, 4);
    prof__pprof_label(p, "pool", row->pool);
    prof__pprof_label(p, "memory scope", row->scope);
    prof__xplane_message(&p->all, PROF__PPROF_SAMPLE, p->part.data, p->part.size);
}

/* Appends a mapping that claims to have names. Without it, pprof looks for symbols in the program's file. */
static void prof__pprof_mapping(prof__pprof *p, const prof_trace_info *about)
{
    static const char yes[] = {0x38, 1, 0x40, 1, 0x48, 1}; /* has_functions, has_filenames, has_line_numbers */
    p->part.size = 0;
    prof__xplane_number(&p->part, PROF__PPROF_FIRST, 1);
    prof__xplane_number(&p->part, 0x28, prof__pprof_string(p, *about->program ? about->program : "program"));
    prof__xplane_add(&p->part, yes, sizeof yes);
    prof__xplane_message(&p->all, PROF__PPROF_MAPPING, p->part.data, p->part.size);
}

static void prof__pprof_comment(prof__pprof *p, uint64_t count, const char *text)
{
    if (count) prof__xplane_number(&p->all, PROF__PPROF_COMMENT, prof__pprof_string(p, text));
}

static void prof__pprof_make(prof__pprof *p, const prof_trace *trace, const prof_memory_stats *memory)
{
    const prof_trace_info *about = prof_trace_about(trace);
    int64_t end = prof__xplane_end(about);
    size_t i;
    prof__pprof_string(p, "");
    prof__pprof_type(p, PROF__PPROF_TYPE, "alloc_objects", "count");
    prof__pprof_type(p, PROF__PPROF_TYPE, "alloc_space", "bytes");
    prof__pprof_type(p, PROF__PPROF_TYPE, "inuse_objects", "count");
    prof__pprof_type(p, PROF__PPROF_TYPE, "inuse_space", "bytes");
    prof__pprof_mapping(p, about);
    for (i = 0; i < memory->site_count; i++) prof__pprof_sample(p, trace, &memory->sites[i]);
    prof__xplane_number(&p->all, PROF__PPROF_TIME, about->start_unix_ns + (uint64_t)prof__xplane_time(end));
    prof__xplane_number(&p->all, PROF__PPROF_DURATION, (uint64_t)prof__xplane_time(end - about->from_ns));
    prof__pprof_type(p, PROF__PPROF_PERIOD_TYPE, "space", "bytes");
    prof__xplane_number(&p->all, PROF__PPROF_PERIOD, 1);
    prof__xplane_number(&p->all, PROF__PPROF_DEFAULT, prof__pprof_string(p, "inuse_space"));
    prof__pprof_comment(p, about->lost + about->lost_blocks,
                        "events were lost: allocations may be missing, or count as live");
    prof__pprof_comment(p, memory->freed_unknown, "blocks were freed that had been allocated before the trace");
    p->failed |= p->all.failed | p->part.failed | p->inner.failed | p->text.failed;
}

/* Writes the memory profile of a trace, and closes the output. */
static prof_status prof__pprof_put(const prof_trace *trace, prof__out *out)
{
    prof_memory_stats *memory = NULL;
    prof_status status = prof_memory(trace, &memory);
    prof__gzip *z = (prof__gzip *)calloc(1, sizeof *z);
    prof__pprof p;
    memset(&p, 0, sizeof p);
    if (!status) prof__pprof_make(&p, trace, memory);
    if (!status && (p.failed || !z)) status = prof__fail(PROF_NO_MEMORY, "no memory for the memory profile");
    if (!status) {
        prof__gzip_begin(z, out);
        prof__gzip_add(z, p.all.data, p.all.size);
        prof__gzip_end(z);
    }
    if (status) prof__out_fail(out, status);
    free(z);
    free(p.all.data);
    free(p.part.data);
    free(p.inner.data);
    free(p.text.data);
    free(p.strings);
    free(p.places);
    free(p.string_index.slots);
    free(p.place_index.slots);
    prof_memory_free(memory);
    return prof__out_close(out);
}

PROF_DEF prof_status prof_xplane_pprof_write(const prof_trace *trace, const char *path)
{
    PROF__CALM();
    prof__out out;
    prof_status status;
    if (!trace) return prof__fail(PROF_INVALID_ARGUMENT, "prof_xplane_pprof_write: trace is null");
    status = prof__out_file(&out, path);
    return status ? status : prof__pprof_put(trace, &out);
}

PROF_DEF prof_status prof_xplane_pprof_stream(const prof_trace *trace, prof_sink sink)
{
    PROF__CALM();
    prof__out out;
    if (!trace) return prof__fail(PROF_INVALID_ARGUMENT, "prof_xplane_pprof_stream: trace is null");
    prof__out_sink(&out, sink);
    return prof__pprof_put(trace, &out);
}

#endif /* PROF__XPLANE_PPROF_H */
