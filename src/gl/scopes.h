// gl/scopes: A context's ring of queries: scopes begin and end, and are collected frames later.
#ifndef PROF__GL_SCOPES_H
#define PROF__GL_SCOPES_H
#include "api/macros.h"
#include "ground/lock.h"
#include "ground/errors.h"
#include "record/device.h"
#include "gl/functions.h"
#include "gpu/shared.h"

enum { PROF__GL_FULL, PROF__GL_DISJOINT, PROF__GL_UNANSWERED, PROF__GL_DESTROYED };
#define PROF__GL_FRAMES 8 /* of prof_gl_collect(), that may be on their way */

typedef struct prof__gl_scope {
    unsigned queries[2]; /* names of OpenGL: begin and end */
    unsigned char open;
    unsigned char spoiled; /* the GPU's clock changed meanwhile */
    uint64_t flow;
    char name[96];
} prof__gl_scope;

/* Scopes are idle, or open, or wait in the order of their ends, which is the order in which OpenGL has their times. */
struct prof_gl {
    prof__gl_api api;
    prof_device *device;
    prof_device_row *row;
    prof__gl_scope *scopes;
    uint32_t *idle, *waiting; /* numbers of scopes: a stack; a ring */
    uint32_t size, idle_count, first, count;
    uint32_t frames[PROF__GL_FRAMES], frame_count; /* how many of those that wait belong to each frame, and to older */
    int es, arrows;
    uint64_t calibrate_ns, calibrated;
    uint64_t recorded;
    prof__gpu_losses losses;
    uint32_t number; /* of the context among those that live */
    prof_gl *next;
    char key[160], full[120]; /* texts of losses */
    const char *causes[PROF__GPU_CAUSES];
};

static prof_gl *prof__gl_contexts;
static int prof__gl_contexts_lock;

static prof__gl_scope *prof__gl_waiting(const prof_gl *gl, uint32_t at)
{
    return &gl->scopes[gl->waiting[(gl->first + at) % gl->size]];
}

/* Takes the oldest scope that waits out of the ring. */
static void prof__gl_drop_first(prof_gl *gl)
{
    gl->idle[gl->idle_count++] = gl->waiting[gl->first];
    gl->first = (gl->first + 1) % gl->size;
    gl->count--;
}

/* Reads both clocks. OpenGL leaves the result alone if it does not answer. */
static void prof__gl_calibrate(prof_gl *gl)
{
    prof__gpu_pair pair;
    memset(&pair, 0, sizeof pair);
    for (int i = 0; i < 8; ++i) {
        int64_t ticks = -1;
        prof__gpu_pair_before(&pair);
        gl->api.get_integer64v(PROF__GL_TIMESTAMP, &ticks);
        if (ticks == -1 || !prof__gpu_pair_after(&pair, (uint64_t)ticks)) break;
    }
    gl->calibrated = pair.before;
    if (pair.host_ns) prof_device_sync(gl->device, pair.ticks, pair.host_ns);
}

/*-- markup --*/

PROF_DEF prof_gl_scope prof_gl_begin(prof_gl *gl, const char *name)
{
    if (!gl || !prof__device_live(gl->device)) return 0;
    if (!gl->idle_count) {
        gl->losses.counts[PROF__GL_FULL]++;
        return 0;
    }
    uint32_t number = gl->idle[--gl->idle_count];
    prof__gl_scope *scope = &gl->scopes[number];
    prof__text_copy(scope->name, sizeof scope->name, name ? name : "");
    scope->open = 1;
    scope->spoiled = 0;
    scope->flow = 0;
    if (gl->arrows) {
        scope->flow = prof_flow_new();
        PROFILE_FLOW_OUT(scope->flow);
    }
    gl->api.query_counter(scope->queries[0], PROF__GL_TIMESTAMP);
    return number + 1;
}

PROF_DEF void prof_gl_end(prof_gl *gl, prof_gl_scope number)
{
    if (!gl || !number || number > gl->size || !gl->scopes[number - 1].open) return;
    prof__gl_scope *scope = &gl->scopes[number - 1];
    scope->open = 0;
    gl->api.query_counter(scope->queries[1], PROF__GL_TIMESTAMP);
    gl->waiting[(gl->first + gl->count++) % gl->size] = number - 1;
}

/*-- collection --*/

static void prof__gl_record(prof_gl *gl, const prof__gl_scope *scope, const uint64_t *times)
{
    prof_device_event event;
    memset(&event, 0, sizeof event);
    event.type = PROF_EVENT_SCOPE;
    event.name = scope->name;
    event.start = times[0];
    event.end = times[1];
    event.flow = scope->flow;
    prof_device_record(gl->row, &event);
    gl->recorded++;
}

/* Reads the times of the oldest scopes. They are there, or OpenGL waits for them. */
static void prof__gl_read(prof_gl *gl, uint32_t count)
{
    for (; count; --count) {
        const prof__gl_scope *scope = prof__gl_waiting(gl, 0);
        uint64_t times[2] = {UINT64_MAX, UINT64_MAX};
        int answered = 1;
        for (int i = 0; i < 2 && answered && !scope->spoiled; ++i) {
            gl->api.get_query_object64(scope->queries[i], PROF__GL_QUERY_RESULT, &times[i]);
            answered = times[i] != UINT64_MAX && times[i]; /* a lost context has no result, or 0 */
        }
        if (scope->spoiled) gl->losses.counts[PROF__GL_DISJOINT]++;
        else if (!answered) gl->losses.counts[PROF__GL_UNANSWERED]++;
        else prof__gl_record(gl, scope, times);
        prof__gl_drop_first(gl);
    }
}

/* On ES: asks whether the GPU's clock changed since the last time; then no time of what is on its way has a meaning. */
static void prof__gl_look_for_disjoint(prof_gl *gl)
{
    int disjoint = 0;
    if (!gl->es) return;
    gl->api.get_integerv(PROF__GL_GPU_DISJOINT, &disjoint);
    if (disjoint != 1) return;
    for (uint32_t i = 0; i < gl->count; ++i) prof__gl_waiting(gl, i)->spoiled = 1;
    for (uint32_t i = 0; i < gl->size; ++i)
        if (gl->scopes[i].open) gl->scopes[i].spoiled = 1;
    prof__gl_calibrate(gl);
}

/* The scopes that ended since the last frame are a new one; if there are too many, they belong to the newest. */
static void prof__gl_frame_ends(prof_gl *gl)
{
    uint32_t before = gl->frame_count ? gl->frames[gl->frame_count - 1] : 0;
    if (gl->count == before) return;
    if (gl->frame_count == PROF__GL_FRAMES) gl->frame_count--;
    gl->frames[gl->frame_count++] = gl->count;
}

static void prof__gl_frames_pass(prof_gl *gl, uint32_t frames)
{
    uint32_t passed = gl->frames[frames - 1];
    for (uint32_t i = frames; i < gl->frame_count; ++i) gl->frames[i - frames] = gl->frames[i] - passed;
    gl->frame_count -= frames;
}

PROF_DEF prof_status prof_gl_collect(prof_gl *gl)
{
    if (!gl) return PROF_OK;
    prof__gl_look_for_disjoint(gl);
    prof__gl_frame_ends(gl);
    while (gl->frame_count) {
        /* A query that is available has all queries of its kind before it available, says OpenGL: one question serves
           for a frame. A question may be dear, and a driver may begin to render for it. */
        unsigned available = 2;
        const prof__gl_scope *last = prof__gl_waiting(gl, gl->frames[0] - 1);
        gl->api.get_query_object(last->queries[1], PROF__GL_QUERY_RESULT_AVAILABLE, &available);
        if (!available) break;
        prof__gl_look_for_disjoint(gl); /* again: it may have happened while the driver was asked */
        uint32_t count = gl->frames[0];
        prof__gl_frames_pass(gl, 1);
        if (available == 2) { /* no answer: nor would there be to other questions */
            gl->losses.counts[PROF__GL_UNANSWERED] += count;
            for (; count; --count) prof__gl_drop_first(gl);
        } else {
            prof__gl_read(gl, count);
        }
    }
    if (prof__device_live(gl->device) && prof_host_ns() - gl->calibrated >= gl->calibrate_ns) prof__gl_calibrate(gl);
    return prof__gpu_losses_tell(&gl->losses, 0);
}

PROF_DEF prof_status prof_gl_finish(prof_gl *gl)
{
    uint64_t last = 0;
    if (!gl) return PROF_OK;
    /* First wait, then ask whether the times mean anything. */
    if (gl->es && gl->count)
        gl->api.get_query_object64(prof__gl_waiting(gl, gl->count - 1)->queries[1], PROF__GL_QUERY_RESULT, &last);
    prof__gl_look_for_disjoint(gl);
    gl->frame_count = 0;
    prof__gl_read(gl, gl->count);
    prof__gl_calibrate(gl);
    return prof__gpu_losses_tell(&gl->losses, 1);
}

PROF_DEF prof_status prof_gl_get_info(const prof_gl *gl, prof_gl_info *info)
{
    if (!info) return prof__fail(PROF_INVALID_ARGUMENT, "prof_gl_get_info: info is null");
    memset(info, 0, sizeof *info);
    if (!gl) return PROF_OK;
    info->recorded = gl->recorded;
    info->pending = gl->size - gl->idle_count;
    info->full = gl->losses.counts[PROF__GL_FULL];
    info->disjoint = gl->losses.counts[PROF__GL_DISJOINT];
    info->unanswered = gl->losses.counts[PROF__GL_UNANSWERED];
    info->destroyed = gl->losses.counts[PROF__GL_DESTROYED];
    return PROF_OK;
}

/*-- life --*/

/* Gives the context the lowest number that no other has. */
static void prof__gl_join(prof_gl *gl)
{
    prof__lock(&prof__gl_contexts_lock);
    prof_gl **at = &prof__gl_contexts; /* in the order of numbers */
    for (gl->number = 1; *at && (*at)->number == gl->number; at = &(*at)->next) gl->number++;
    gl->next = *at;
    *at = gl;
    prof__unlock(&prof__gl_contexts_lock);
}

static void prof__gl_leave(const prof_gl *gl)
{
    prof__lock(&prof__gl_contexts_lock);
    prof_gl **at = &prof__gl_contexts;
    while (*at && *at != gl) at = &(*at)->next;
    if (*at) *at = gl->next;
    prof__unlock(&prof__gl_contexts_lock);
}

static int prof__gl_queries_make(prof_gl *gl)
{
    for (uint32_t i = 0; i < gl->size; ++i) {
        gl->api.gen_queries(2, gl->scopes[i].queries);
        if (!gl->scopes[i].queries[0] || !gl->scopes[i].queries[1]) return 0;
        gl->idle[gl->idle_count++] = gl->size - 1 - i;
    }
    return 1;
}

/* Names the device and the row, and the causes of losses. */
static void prof__gl_name(prof_gl *gl, const prof_gl_options *options, int bits)
{
    char device[120], row[32];
    const unsigned char *renderer = gl->api.get_string(PROF__GL_RENDERER);
    prof_device_clock clock = {1000000000, (unsigned)bits > 64 ? 64 : (unsigned)bits, 0};
    snprintf(device, sizeof device, "OpenGL %.100s", renderer ? (const char *)renderer : "");
    snprintf(row, sizeof row, "context %u", (unsigned)gl->number);
    if (options->device) prof__text_copy(device, sizeof device, options->device);
    gl->device = prof_device_create(device, &clock);
    gl->row = prof_device_row_create(gl->device, options->row ? options->row : row);
    snprintf(gl->key, sizeof gl->key, "%s, %.30s", device, options->row ? options->row : row);
    snprintf(gl->full, sizeof gl->full, "the ring of %u scopes was full: set options.scopes, or collect each frame",
             (unsigned)gl->size);
    gl->causes[PROF__GL_FULL] = gl->full;
    gl->causes[PROF__GL_DISJOINT] = "the GPU's clock changed (disjoint)";
    gl->causes[PROF__GL_UNANSWERED] =
        "OpenGL did not answer: the context is lost, or was not current on the thread that collected";
    gl->causes[PROF__GL_DESTROYED] = "prof_gl_destroy() came before the GPU had done them: call prof_gl_finish()";
    gl->losses.key = gl->key;
    gl->losses.causes = gl->causes;
}

static void prof__gl_free(prof_gl *gl)
{
    if (gl->number) prof__gl_leave(gl);
    free(gl->scopes);
    free(gl->idle);
    free(gl->waiting);
    free(gl);
}

static void prof__gl_queries_free(prof_gl *gl)
{
    for (uint32_t i = 0; i < gl->size; ++i)
        if (gl->scopes[i].queries[0]) gl->api.delete_queries(2, gl->scopes[i].queries);
}

static prof_gl *prof__gl_allocate(uint32_t size)
{
    prof_gl *gl = (prof_gl *)calloc(1, sizeof *gl);
    if (!gl) return NULL;
    gl->size = size;
    gl->scopes = (prof__gl_scope *)calloc(size, sizeof *gl->scopes);
    gl->idle = (uint32_t *)calloc(size, sizeof *gl->idle);
    gl->waiting = (uint32_t *)calloc(size, sizeof *gl->waiting);
    if (gl->scopes && gl->idle && gl->waiting) return gl;
    prof__gl_free(gl);
    return NULL;
}

PROF_DEF prof_gl *prof_gl_create(prof_gl_load *load, const prof_gl_options *options)
{
    static const prof_gl_options defaults = {NULL, NULL, 0, 0, 0};
    int bits = 0;
    if (!options) options = &defaults;
    if (options->scopes > 65536 || (options->device && !*options->device)) {
        prof__fail(PROF_INVALID_ARGUMENT, "prof_gl_create: %s",
                   options->scopes > 65536 ? "options.scopes is above 65536" : "options.device is empty");
        return NULL;
    }
    prof_gl *gl = prof__gl_allocate(options->scopes ? options->scopes : 1024);
    if (!gl) {
        prof__fail(PROF_NO_MEMORY, "prof_gl_create: no memory for %u scopes", (unsigned)options->scopes);
        return NULL;
    }
    if (!prof__gl_api_load(&gl->api, load, &gl->es, &bits)) {
        prof__gl_free(gl);
        return NULL;
    }
    gl->arrows = !options->no_arrows;
    gl->calibrate_ns = options->calibrate_ms == UINT32_MAX ? UINT64_MAX
                       : options->calibrate_ms             ? options->calibrate_ms * (uint64_t)1000000
                                                           : 1000000000;
    prof__gl_join(gl);
    prof__gl_name(gl, options, bits);
    int made = prof__gl_queries_make(gl);
    if (!made || !gl->row) {
        if (!made) prof__fail(PROF_INVALID_STATE, "prof_gl_create: glGenQueries made no names: the context is lost");
        prof__gl_queries_free(gl);
        prof__gl_free(gl);
        return NULL;
    }
    int disjoint = 0;
    if (gl->es) gl->api.get_integerv(PROF__GL_GPU_DISJOINT, &disjoint); /* of before: it has no meaning here */
    prof__gl_calibrate(gl);
    return gl;
}

PROF_DEF prof_status prof_gl_destroy(prof_gl *gl)
{
    if (!gl) return PROF_OK;
    gl->losses.counts[PROF__GL_DESTROYED] += gl->size - gl->idle_count;
    prof_status status = prof__gpu_losses_tell(&gl->losses, 1);
    prof__gl_queries_free(gl);
    prof__gl_free(gl);
    return status;
}

#endif /* PROF__GL_SCOPES_H */
