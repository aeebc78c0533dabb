/* prof_gl.h, on an OpenGL that this test made up, which can be slow, silent, lost or disjoint; and on a real one
   without a window, if EGL has one: Mesa's llvmpipe does without a GPU. */
/* run: unraced */
#include "prof_gl.h"
#include "prof_read.h"
#include "test.h"
#include "trace.h"
#include <dlfcn.h>
#include <pthread.h>

static const prof_track *row_of(const prof_trace *trace, const char *device, const char *row, size_t *index)
{
    for (*index = 0; *index < prof_trace_track_count(trace); ++*index) {
        const prof_track *track = prof_trace_track(trace, *index);
        if (!strcmp(track->device, device) && !strcmp(track->name, row)) return track;
    }
    return NULL;
}

static trace_list row_events(const prof_trace *trace, const char *device, const char *row)
{
    trace_list none = {NULL, 0, NULL, 0};
    size_t index;
    int found = row_of(trace, device, row, &index) != NULL;
    CHECK(found);
    return found ? trace_read(trace, index) : none;
}

static const char *metadata_of(const prof_trace *trace, const char *wanted)
{
    const char *key, *value;
    for (size_t i = 0; prof_trace_metadata(trace, i, &key, &value); ++i)
        if (!strcmp(key, wanted)) return value;
    return "";
}

/* The scopes of a list, without flows. */
static size_t scopes_of(const trace_list *list, const prof_event **scopes, size_t most)
{
    size_t count = 0;
    for (size_t i = 0; i < list->count; ++i)
        if (list->events[i].type == PROF_EVENT_SCOPE && count < most) scopes[count++] = &list->events[i];
    return count;
}

/*-- the OpenGL that is made up. Its clock is ahead of the host's. Queries are done when the test says so --*/

enum { QUERIES = 4096 };
enum { GET_STRING, GET_STRINGI, GET_INTEGERV, GET_QUERYIV, GEN, DELETE, COUNTER, OBJECT, OBJECT64, INTEGER64, CALLS };

static struct fake {
    const char *version, *extensions, *missing;
    int bits, disjoint, disjoint_when_asked, lost;
    uint64_t ahead;
    int silent[CALLS];                 /* the call does nothing */
    unsigned long calls[CALLS];
    unsigned long errors, stalls;      /* errors: calls that OpenGL forbids; stalls: the program had to wait */
    unsigned long made, deleted;
    uint64_t ticks[QUERIES];           /* by name; 0: never issued */
    unsigned long issued[QUERIES];     /* the how-manieth query it was */
    unsigned long issues, done;        /* the first so many are done */
} fake;

static int fake_call(int call)
{
    fake.calls[call]++;
    return !fake.silent[call];
}

static const unsigned char *fake_get_string(unsigned name)
{
    if (!fake_call(GET_STRING)) return NULL;
    if (name == 0x1F03 && fake.version[0] >= '3' && fake.version[0] <= '9') {
        fake.errors++; /* a core profile has no such string */
        return NULL;
    }
    return (const unsigned char *)(name == 0x1F02 ? fake.version : name == 0x1F03 ? fake.extensions : "made up");
}
static const unsigned char *fake_get_stringi(unsigned name, unsigned index)
{
    if (!fake_call(GET_STRINGI) || name != 0x1F03) return NULL;
    return (const unsigned char *)(index ? fake.extensions : "GL_EXT_disjoint_timer_query_of_others");
}
static void fake_get_integerv(unsigned name, int *value)
{
    if (!fake_call(GET_INTEGERV)) return;
    if (name == 0x821D) *value = 2;
    else if (name == 0x8FBB && fake.version[0] == 'O') *value = fake.disjoint, fake.disjoint = 0;
    else fake.errors++;
}
static void fake_get_queryiv(unsigned target, unsigned name, int *value)
{
    if (fake_call(GET_QUERYIV) && target == 0x8E28 && name == 0x8864) *value = fake.bits;
}
static void fake_gen_queries(int count, unsigned *names)
{
    if (!fake_call(GEN)) return;
    while (count--) *names++ = (unsigned)++fake.made;
}
static void fake_delete_queries(int count, const unsigned *names)
{
    (void)names;
    if (fake_call(DELETE)) fake.deleted += (unsigned long)count;
}
static void fake_query_counter(unsigned name, unsigned target)
{
    if (!fake_call(COUNTER)) return;
    if (!name || name >= QUERIES || target != 0x8E28) {
        fake.errors++;
        return;
    }
    fake.ticks[name] = prof_host_ns() + fake.ahead;
    fake.issued[name] = ++fake.issues;
}
static int fake_object(unsigned name)
{
    if (fake.disjoint_when_asked) fake.disjoint = 1, fake.disjoint_when_asked = 0;
    if (name && name < QUERIES && fake.ticks[name]) return 1;
    fake.errors++; /* INVALID_OPERATION: the query was never issued */
    return 0;
}
static void fake_get_query_object(unsigned name, unsigned what, unsigned *value)
{
    if (!fake_call(OBJECT) || !fake_object(name)) return;
    if (what != 0x8867) fake.errors++;
    *value = fake.lost || fake.issued[name] <= fake.done;
}
static void fake_get_query_object64(unsigned name, unsigned what, uint64_t *value)
{
    if (!fake_call(OBJECT64) || !fake_object(name) || fake.lost) return;
    if (what != 0x8866) fake.errors++;
    if (fake.issued[name] > fake.done) {
        fake.stalls++;
        fake.done = fake.issued[name];
    }
    *value = fake.bits < 64 ? fake.ticks[name] & (((uint64_t)1 << fake.bits) - 1) : fake.ticks[name];
}
static void fake_get_integer64v(unsigned name, int64_t *value)
{
    if (!fake_call(INTEGER64)) return;
    if (name != 0x8E28) fake.errors++;
    uint64_t now = prof_host_ns() + fake.ahead;
    *value = (int64_t)(fake.bits < 64 ? now & (((uint64_t)1 << fake.bits) - 1) : now);
}

static void no_such_function(void) { fake.errors++; }

static prof_gl_function fake_load(const char *name)
{
    static const struct {
        const char *name;
        prof_gl_function function;
        int of_extension;
    } all[] = {{"glGetString", (prof_gl_function)fake_get_string, 0},
               {"glGetStringi", (prof_gl_function)fake_get_stringi, 0},
               {"glGetIntegerv", (prof_gl_function)fake_get_integerv, 0},
               {"glGetQueryiv", (prof_gl_function)fake_get_queryiv, 1},
               {"glGenQueries", (prof_gl_function)fake_gen_queries, 1},
               {"glDeleteQueries", (prof_gl_function)fake_delete_queries, 1},
               {"glQueryCounter", (prof_gl_function)fake_query_counter, 1},
               {"glGetQueryObjectuiv", (prof_gl_function)fake_get_query_object, 1},
               {"glGetQueryObjectui64v", (prof_gl_function)fake_get_query_object64, 1},
               {"glGetInteger64v", (prof_gl_function)fake_get_integer64v, 1}};
    int es = !strncmp(fake.version, "OpenGL ES", 9);
    if (fake.missing && !strcmp(name, fake.missing)) return NULL;
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i) {
        size_t size = strlen(all[i].name);
        if (strncmp(name, all[i].name, size)) continue;
        if (!strcmp(name + size, es && all[i].of_extension ? "EXT" : "")) return all[i].function;
    }
    return no_such_function; /* as EGL does for every name that begins like one of OpenGL */
}

static void fake_reset(const char *version)
{
    memset(&fake, 0, sizeof fake);
    fake.version = version;
    fake.extensions = "GL_EXT_disjoint_timer_query";
    fake.bits = 64;
    fake.ahead = 77000000;
}

static prof_gl *fake_create(const char *device, uint32_t scopes)
{
    prof_gl_options options = {0};
    options.device = device;
    options.row = "queue";
    options.scopes = scopes;
    return prof_gl_create(fake_load, &options);
}

static prof_gl_info counts_of(const prof_gl *gl)
{
    prof_gl_info counts;
    prof_gl_get_info(gl, &counts);
    return counts;
}

/* What a frame does: a pass, and in it another. */
static void frame(prof_gl *gl)
{
    PROFILE_GL_SCOPE(gl, "outer");
    {
        PROFILE_GL_SCOPE(gl, "inner");
        trace_next_instant();
    }
    trace_next_instant();
}

TEST(scopes_are_recorded_frames_later_without_waiting)
{
    enum { FRAMES = 40, LATE = 3 };
    unsigned long after_frame[FRAMES];
    prof_config config = trace_config(1u << 20);
    fake_reset("4.6.0 made up");
    trace_start(&config);
    prof_gl *gl = fake_create("late", 64);
    CHECK(gl != NULL);
    for (int i = 0; i < FRAMES; ++i) {
        frame(gl);
        after_frame[i] = fake.issues;
        if (i >= LATE) fake.done = after_frame[i - LATE];
        CHECK_EQUAL(prof_gl_collect(gl), PROF_OK);
        CHECK_EQUAL(counts_of(gl).recorded, i >= LATE ? 2 * (i - LATE + 1) : 0);
        CHECK_EQUAL(counts_of(gl).pending, i >= LATE ? 2 * LATE : 2 * (i + 1));
    }
    CHECK_EQUAL(fake.stalls, 0);
    CHECK(fake.calls[OBJECT] <= 2 * FRAMES); /* questions may be dear */
    fake.done = fake.issues;
    CHECK_EQUAL(prof_gl_finish(gl), PROF_OK);
    CHECK_EQUAL(counts_of(gl).recorded, 2 * FRAMES);
    CHECK_EQUAL(prof_gl_destroy(gl), PROF_OK);
    CHECK_EQUAL(fake.errors, 0);
    CHECK_EQUAL(fake.made, 128);
    CHECK_EQUAL(fake.deleted, 128);

    prof_trace *trace = trace_stop();
    trace_list list = row_events(trace, "late", "queue");
    const prof_event *scopes[2 * FRAMES + 1];
    CHECK_EQUAL(scopes_of(&list, scopes, 2 * FRAMES + 1), 2 * FRAMES);
    for (size_t i = 0; i + 1 < 2 * FRAMES; i += 2) {
        CHECK_TEXT(scopes[i]->name, "outer");
        CHECK_TEXT(scopes[i + 1]->name, "inner");
        CHECK_EQUAL(scopes[i]->depth, 0);
        CHECK_EQUAL(scopes[i + 1]->depth, 1);
    }
    trace_free(&list);
    prof_trace_close(trace);
}

/* Scopes of an earlier session that are collected in the next are not in it. */
TEST(scopes_of_an_earlier_session)
{
    prof_config config = trace_config(1u << 20);
    fake_reset("4.6.0 made up");
    trace_start(&config);
    prof_gl *gl = fake_create("sessions", 16);
    frame(gl);
    prof_gl_scope open = prof_gl_begin(gl, "open");
    CHECK_EQUAL(prof_gl_collect(gl), PROF_OK);
    prof_trace_close(trace_stop());
    trace_next_instant();
    trace_start(&config);
    prof_gl_end(gl, open);
    frame(gl);
    fake.done = fake.issues;
    CHECK_EQUAL(prof_gl_collect(gl), PROF_OK);
    CHECK_EQUAL(prof_gl_finish(gl), PROF_OK);
    CHECK_EQUAL(counts_of(gl).pending, 0);
    CHECK_EQUAL(prof_gl_destroy(gl), PROF_OK);
    CHECK_EQUAL(fake.errors, 0);
    prof_trace *trace = trace_stop();
    trace_list list = row_events(trace, "sessions", "queue");
    const prof_event *scopes[4];
    size_t count = scopes_of(&list, scopes, 4), i;
    for (i = 0; i < count; ++i)
        if (strcmp(scopes[i]->name, "open")) break; /* which ends in this session, and may begin with it */
    CHECK_EQUAL(count - i, 2);
    for (; i < count; ++i) CHECK_TEXT(scopes[i]->name, count - i == 2 ? "outer" : "inner");
    trace_free(&list);
    prof_trace_close(trace);
}

TEST(finish_waits_for_what_has_ended)
{
    prof_config config = trace_config(1u << 20);
    fake_reset("3.3 made up");
    trace_start(&config);
    prof_gl *gl = fake_create("finish", 16);
    frame(gl);
    CHECK_EQUAL(prof_gl_collect(gl), PROF_OK);
    frame(gl);
    prof_gl_scope open = prof_gl_begin(gl, "open");
    CHECK_EQUAL(prof_gl_finish(gl), PROF_OK);
    CHECK(fake.stalls > 0);
    CHECK_EQUAL(counts_of(gl).recorded, 4);
    CHECK_EQUAL(counts_of(gl).pending, 1);
    prof_gl_end(gl, open);
    prof_gl_end(gl, open); /* has ended: ignored */
    prof_gl_end(gl, 0);
    prof_gl_end(gl, 17);
    CHECK_EQUAL(prof_gl_finish(gl), PROF_OK);
    CHECK_EQUAL(counts_of(gl).recorded, 5);
    prof_gl_destroy(gl);
    CHECK_EQUAL(fake.errors, 0);
    prof_trace_close(trace_stop());
}

/* A scope that is open over several frames keeps nobody out; scopes may cross. */
TEST(scopes_may_stay_open_and_cross)
{
    prof_config config = trace_config(1u << 20);
    fake_reset("4.6.0 made up");
    trace_start(&config);
    prof_gl *gl = fake_create("open", 4);
    prof_gl_scope whole = prof_gl_begin(gl, "whole");
    for (int i = 0; i < 20; ++i) {
        prof_gl_scope a = prof_gl_begin(gl, "a"), b = prof_gl_begin(gl, "b");
        trace_next_instant();
        prof_gl_end(gl, a);
        prof_gl_end(gl, b);
        fake.done = fake.issues;
        CHECK_EQUAL(prof_gl_collect(gl), PROF_OK);
    }
    prof_gl_end(gl, whole);
    fake.done = fake.issues;
    CHECK_EQUAL(prof_gl_collect(gl), PROF_OK);
    CHECK_EQUAL(counts_of(gl).recorded, 41);
    CHECK_EQUAL(counts_of(gl).pending, 0);
    prof_gl_destroy(gl);
    CHECK_EQUAL(fake.errors, 0);
    prof_trace_close(trace_stop());
}

TEST(a_full_ring_is_counted_and_said)
{
    prof_config config = trace_config(1u << 20);
    fake_reset("4.6.0 made up");
    trace_start(&config);
    prof_gl *gl = fake_create("small", 4);
    for (int i = 0; i < 10; ++i) {
        PROFILE_GL_SCOPE(gl, "pass");
    }
    CHECK_EQUAL(prof_gl_collect(gl), PROF_INVALID_STATE);
    CHECK_TEXT(prof_error(), "small, queue: 6 lost: the ring of 4 scopes was full: set options.scopes, or collect each "
                             "frame");
    CHECK_EQUAL(prof_gl_collect(gl), PROF_OK); /* said once */
    CHECK_EQUAL(counts_of(gl).full, 6);
    fake.done = fake.issues;
    CHECK_EQUAL(prof_gl_collect(gl), PROF_OK);
    frame(gl); /* the ring goes on */
    fake.done = fake.issues;
    CHECK_EQUAL(prof_gl_collect(gl), PROF_OK);
    CHECK_EQUAL(counts_of(gl).recorded, 6);
    prof_gl_destroy(gl);
    prof_trace *trace = trace_stop();
    CHECK(strstr(metadata_of(trace, "small, queue"), "6 lost: the ring of 4 scopes was full") != NULL);
    prof_trace_close(trace);
    CHECK_EQUAL(fake.errors, 0);
}

/* On ES a change of the GPU's clock makes times on their way meaningless, also of a scope that is open. */
TEST(disjoint_times_are_left_out)
{
    prof_config config = trace_config(1u << 20);
    fake_reset("OpenGL ES 3.2 made up");
    fake.disjoint = 1; /* of before: it does not concern us */
    trace_start(&config);
    prof_gl *gl = fake_create("disjoint", 64);
    CHECK(gl != NULL);
    frame(gl);
    fake.done = fake.issues;
    CHECK_EQUAL(prof_gl_collect(gl), PROF_OK);
    CHECK_EQUAL(counts_of(gl).recorded, 2);
    frame(gl);
    prof_gl_scope open = prof_gl_begin(gl, "open");
    fake.disjoint = 1;
    unsigned long read = fake.calls[INTEGER64];
    CHECK_EQUAL(prof_gl_collect(gl), PROF_OK); /* none is there yet */
    CHECK(fake.calls[INTEGER64] > read);       /* the clocks were read anew */
    prof_gl_end(gl, open);
    frame(gl);
    fake.done = fake.issues;
    CHECK_EQUAL(prof_gl_collect(gl), PROF_INVALID_STATE);
    CHECK(strstr(prof_error(), "3 lost: the GPU's clock changed (disjoint)") != NULL);
    CHECK_EQUAL(counts_of(gl).disjoint, 3);
    CHECK_EQUAL(counts_of(gl).recorded, 4);
    CHECK_EQUAL(counts_of(gl).pending, 0);
    prof_gl_destroy(gl);
    CHECK_EQUAL(fake.errors, 0);
    prof_trace_close(trace_stop());
}

/* The clock changes while the driver is asked, or while prof_gl_finish() waits. */
TEST(disjoint_times_are_left_out_while_they_come)
{
    prof_config config = trace_config(1u << 20);
    fake_reset("OpenGL ES 3.2 made up");
    trace_start(&config);
    prof_gl *gl = fake_create("disjoint while they come", 64);
    frame(gl);
    fake.done = fake.issues;
    fake.disjoint_when_asked = 1;
    CHECK_EQUAL(prof_gl_collect(gl), PROF_INVALID_STATE);
    CHECK_EQUAL(counts_of(gl).disjoint, 2);
    frame(gl);
    fake.disjoint_when_asked = 1;
    CHECK_EQUAL(prof_gl_finish(gl), PROF_INVALID_STATE);
    CHECK_EQUAL(counts_of(gl).disjoint, 4);
    CHECK_EQUAL(counts_of(gl).recorded, 0);
    prof_gl_destroy(gl);
    CHECK_EQUAL(fake.errors, 0);
    prof_trace_close(trace_stop());
}

/* A lost context says that queries are available, and then tells nothing. */
TEST(a_lost_context_ends_nothing)
{
    prof_config config = trace_config(1u << 20);
    fake_reset("4.6.0 made up");
    trace_start(&config);
    prof_gl *gl = fake_create("lost", 8);
    frame(gl);
    fake.lost = 1;
    CHECK_EQUAL(prof_gl_collect(gl), PROF_INVALID_STATE);
    CHECK(strstr(prof_error(), "2 lost: OpenGL did not answer: the context is lost") != NULL);
    for (int call = 0; call < CALLS; ++call) fake.silent[call] = 1; /* no context is current any more */
    for (int i = 0; i < 20; ++i) {
        frame(gl);
        CHECK_EQUAL(prof_gl_collect(gl), PROF_INVALID_STATE);
    }
    CHECK_EQUAL(counts_of(gl).unanswered, 42);
    CHECK_EQUAL(counts_of(gl).pending, 0);
    frame(gl);
    CHECK_EQUAL(prof_gl_finish(gl), PROF_INVALID_STATE);
    prof_gl_begin(gl, "never ends");
    CHECK_EQUAL(prof_gl_destroy(gl), PROF_INVALID_STATE);
    CHECK(strstr(prof_error(), "1 lost: prof_gl_destroy() came before") != NULL);
    prof_trace_close(trace_stop());
}

/* Each call may fail at any time: nothing is invented, and what is lost is counted. */
TEST(every_call_may_be_silent)
{
    prof_config config = trace_config(1u << 20);
    for (int es = 0; es < 2; ++es) {
        for (int call = 0; call < CALLS; ++call) {
            for (int from_start = 0; from_start < 2; ++from_start) {
                fake_reset(es ? "OpenGL ES 3.1 made up" : "4.6.0 made up");
                fake.silent[call] = from_start;
                trace_start(&config);
                prof_gl *gl = fake_create("silent", 8);
                int needed = call == GET_STRING || call == GET_QUERYIV || call == GEN ||
                             (es && (call == GET_STRINGI || call == GET_INTEGERV));
                CHECK_EQUAL(gl == NULL, from_start && needed);
                fake.silent[call] = 1;
                if (!gl) CHECK(!strncmp(prof_error(), "prof_gl_create: ", 16));
                for (int i = 0; gl && i < 10; ++i) {
                    frame(gl);
                    fake.done = fake.issues;
                    prof_gl_collect(gl);
                    prof_gl_info counts = counts_of(gl);
                    CHECK_EQUAL(counts.recorded + counts.pending + counts.full + counts.unanswered, 2 * (i + 1));
                    int told = call != COUNTER && call != OBJECT && call != OBJECT64;
                    CHECK_EQUAL(counts.recorded != 0, told);
                }
                prof_gl_destroy(gl);
                prof_trace_close(trace_stop());
                if (call != COUNTER) CHECK_EQUAL(fake.errors, 0); /* else queries are asked that were never issued */
            }
        }
    }
}

TEST(what_is_missing_is_named)
{
    static const struct {
        const char *version, *extensions, *missing, *said;
        int bits;
        prof_status status;
    } cases[] = {
        {"2.1 made up", "GL_ARB_occlusion_query", NULL,
         "2.1 made up has no timestamps: it needs OpenGL 3.3 or GL_ARB_timer_query", 64, PROF_UNSUPPORTED},
        {"3.2.0", "GL_ARB_timer_query2", NULL, "3.2.0 has no timestamps: it needs OpenGL 3.3 or GL_ARB_timer_query", 64,
         PROF_UNSUPPORTED},
        {"OpenGL ES 3.0", "GL_EXT_disjoint_timer", NULL,
         "OpenGL ES 3.0 has no timestamps: it needs GL_EXT_disjoint_timer_query", 64, PROF_UNSUPPORTED},
        {"OpenGL ES-CM 1.1", "x GL_EXT_disjoint_timer_query_webgl2", NULL,
         "OpenGL ES-CM 1.1 has no timestamps: it needs GL_EXT_disjoint_timer_query", 64, PROF_UNSUPPORTED},
        {"4.1 made up", "", NULL, "the clock of 4.1 made up has no bits: its driver does not tell times", 0,
         PROF_UNSUPPORTED},
        {"4.6.0", "", "glQueryCounter", "the loader does not find glQueryCounter of 4.6.0", 64, PROF_UNSUPPORTED},
        {"OpenGL ES 3.2", "GL_EXT_disjoint_timer_query", "glGetInteger64vEXT",
         "the loader does not find glGetInteger64vEXT of OpenGL ES 3.2", 64, PROF_UNSUPPORTED},
        {"2.1 made up", "GL_X GL_ARB_timer_query GL_Y", NULL, NULL, 64, PROF_OK},
        {"3.2.0", "GL_ARB_timer_query", NULL, NULL, 64, PROF_OK},
        {"3.3", "", NULL, NULL, 36, PROF_OK},
        {"10.0", "", NULL, NULL, 64, PROF_OK},
        {"OpenGL ES 2.0 x", "GL_A GL_EXT_disjoint_timer_query", NULL, NULL, 64, PROF_OK},
        {"OpenGL ES 3.2", "GL_EXT_disjoint_timer_query", NULL, NULL, 32, PROF_OK}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        fake_reset(cases[i].version);
        fake.extensions = cases[i].extensions;
        fake.missing = cases[i].missing;
        fake.bits = cases[i].bits;
        prof_gl *gl = fake_create("missing", 8);
        CHECK_EQUAL(gl == NULL, cases[i].said != NULL);
        if (cases[i].said) CHECK_TEXT(prof_error() + 16, cases[i].said);
        CHECK_EQUAL(fake.errors, 0);
        prof_gl_destroy(gl);
    }
    prof_gl_options options = {0};
    options.scopes = 65537;
    CHECK(!prof_gl_create(fake_load, &options) && strstr(prof_error(), "options.scopes is above 65536"));
    options.scopes = 0;
    options.device = "";
    CHECK(!prof_gl_create(fake_load, &options) && strstr(prof_error(), "options.device is empty"));
}

/* Nothing is asked of OpenGL, and nothing recorded, while no session runs; and without a context. */
TEST(without_a_session_or_a_context_it_does_nothing)
{
    fake_reset("4.6.0 made up");
    prof_gl *gl = fake_create("idle", 8);
    frame(gl);
    CHECK_EQUAL(fake.calls[COUNTER], 0);
    CHECK_EQUAL(prof_gl_collect(gl), PROF_OK);
    CHECK_EQUAL(fake.calls[OBJECT], 0);
    prof_gl_destroy(gl);
    frame(NULL);
    CHECK_EQUAL(prof_gl_collect(NULL), PROF_OK);
    CHECK_EQUAL(prof_gl_finish(NULL), PROF_OK);
    CHECK_EQUAL(prof_gl_destroy(NULL), PROF_OK);
    CHECK_EQUAL(counts_of(NULL).recorded, 0);

    prof_config config = trace_config(1u << 20);
    config.no_devices = 1;
    trace_start(&config);
    gl = fake_create("idle", 8);
    frame(gl);
    CHECK_EQUAL(fake.calls[COUNTER], 0);
    prof_gl_destroy(gl);
    prof_trace_close(trace_stop());
}

/* The time of a scope, by the GPU's clock, lies between two times of the host's that were read around it. Also for a
   clock of 32 bits, which wraps meanwhile. */
TEST(clocks_agree)
{
    enum { COUNT = 50 };
    static const int widths[] = {64, 36, 32};
    for (size_t w = 0; w < 3; ++w) {
        uint64_t before[COUNT], after[COUNT];
        char device[32];
        prof_config config = trace_config(1u << 20);
        snprintf(device, sizeof device, "clock of %d bits", widths[w]);
        fake_reset("4.6.0 made up");
        fake.bits = widths[w];
        uint64_t period = fake.bits < 64 ? (uint64_t)1 << fake.bits : 0;
        if (period) fake.ahead = period - prof_host_ns() % period - 300000;
        trace_start(&config);
        prof_gl *gl = fake_create(device, 64);
        for (int i = 0; i < COUNT; ++i) {
            before[i] = prof_host_ns();
            frame(gl);
            after[i] = prof_host_ns();
            fake.done = fake.issues;
            CHECK_EQUAL(prof_gl_collect(gl), PROF_OK);
        }
        prof_gl_destroy(gl);
        prof_trace *trace = trace_stop();
        int64_t start = (int64_t)prof_trace_about(trace)->start_monotonic_ns;
        trace_list list = row_events(trace, device, "queue");
        const prof_event *scopes[2 * COUNT + 1];
        size_t count = scopes_of(&list, scopes, 2 * COUNT + 1);
        CHECK_EQUAL(count, 2 * COUNT);
        for (size_t i = 0; i < count; ++i) {
            CHECK(scopes[i]->start_ns + start >= (int64_t)before[i / 2] - 2000);
            CHECK(trace_end(scopes[i]) + start <= (int64_t)after[i / 2] + 2000);
        }
        trace_free(&list);
        prof_trace_close(trace);
    }
}

/* An arrow leads from the scope of the host to the one of the GPU, unless it is not wanted. Names are copied. */
TEST(arrows_and_names)
{
    char name[200];
    for (int without = 0; without < 2; ++without) {
        prof_config config = trace_config(1u << 20);
        prof_gl_options options = {0};
        options.device = without ? "plain" : "arrows";
        options.no_arrows = without;
        options.row = "queue";
        fake_reset("4.6.0 made up");
        trace_start(&config);
        prof_gl *gl = prof_gl_create(fake_load, &options);
        {
            PROFILE_SCOPE("host");
            memset(name, 'x', 199);
            name[199] = 0;
            PROFILE_GL_SCOPE(gl, name);
            memset(name, 'y', 199);
        }
        {
            PROFILE_GL_SCOPE(gl, NULL);
        }
        CHECK_EQUAL(prof_gl_finish(gl), PROF_OK);
        prof_gl_destroy(gl);
        prof_trace *trace = trace_stop();
        uint64_t out = 0, in = 0;
        for (size_t t = 0; t < prof_trace_track_count(trace); ++t) {
            trace_list list = trace_read(trace, t);
            for (size_t i = 0; i < list.count; ++i) {
                const prof_event *event = &list.events[i];
                if (event->type == PROF_EVENT_FLOW_OUT && !out) out = event->object;
                if (event->type == PROF_EVENT_FLOW_IN && !in) in = event->object;
                if (event->type == PROF_EVENT_SCOPE && event->name[0] == 'x') CHECK_EQUAL(strlen(event->name), 95);
                CHECK(event->name[0] != 'y');
            }
            trace_free(&list);
        }
        CHECK_EQUAL(out != 0, !without);
        CHECK_EQUAL(in, out);
        prof_trace_close(trace);
    }
}

/* Contexts of one GPU share a device, and have a row each. A number is free again when its context goes. */
TEST(several_contexts)
{
    prof_config config = trace_config(1u << 20);
    fake_reset("4.6.0 made up");
    trace_start(&config);
    prof_gl_options options = {0};
    options.scopes = 8;
    prof_gl *first = prof_gl_create(fake_load, &options), *second = prof_gl_create(fake_load, &options);
    frame(first);
    frame(second);
    frame(second);
    CHECK_EQUAL(prof_gl_finish(first), PROF_OK);
    CHECK_EQUAL(prof_gl_finish(second), PROF_OK);
    prof_gl_destroy(first);
    prof_gl *third = prof_gl_create(fake_load, &options);
    frame(third);
    CHECK_EQUAL(prof_gl_finish(third), PROF_OK);
    prof_gl_destroy(third);
    prof_gl_destroy(second);
    prof_trace *trace = trace_stop();
    trace_list list = row_events(trace, "OpenGL made up", "context 1");
    const prof_event *scopes[8];
    CHECK_EQUAL(scopes_of(&list, scopes, 8), 4);
    trace_free(&list);
    list = row_events(trace, "OpenGL made up", "context 2");
    CHECK_EQUAL(scopes_of(&list, scopes, 8), 4);
    trace_free(&list);
    prof_trace_close(trace);
}

/*-- a real OpenGL --*/

#include "real_gl.h"

/* What the passes need of OpenGL: framebuffers that are cleared. */
static struct {
    void (*gen_textures)(int, unsigned *);
    void (*bind_texture)(unsigned, unsigned);
    void (*tex_image)(unsigned, int, int, int, int, int, unsigned, unsigned, const void *);
    void (*gen_framebuffers)(int, unsigned *);
    void (*bind_framebuffer)(unsigned, unsigned);
    void (*framebuffer_texture)(unsigned, unsigned, unsigned, unsigned, int);
    void (*clear)(unsigned);
    void (*finish)(void);
    void (*get_integer64v)(unsigned, int64_t *);
    unsigned (*get_error)(void);
} gl;

static void gl_load(void)
{
    static const struct {
        const char *name;
        void *to;
    } all[] = {{"glGenTextures", &gl.gen_textures}, {"glBindTexture", &gl.bind_texture},
               {"glTexImage2D", &gl.tex_image}, {"glGenFramebuffers", &gl.gen_framebuffers},
               {"glBindFramebuffer", &gl.bind_framebuffer}, {"glFramebufferTexture2D", &gl.framebuffer_texture},
               {"glClear", &gl.clear}, {"glFinish", &gl.finish}, {"glGetInteger64v", &gl.get_integer64v},
               {"glGetError", &gl.get_error}};
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i) {
        prof_gl_function function = egl.get(all[i].name);
        memcpy(all[i].to, &function, sizeof function);
    }
}

static unsigned framebuffer_make(void)
{
    unsigned texture, framebuffer;
    gl.gen_textures(1, &texture);
    gl.bind_texture(0x0DE1, texture);
    gl.tex_image(0x0DE1, 0, 0x8058, 256, 256, 0, 0x1908, 0x1401, NULL);
    gl.gen_framebuffers(1, &framebuffer);
    gl.bind_framebuffer(0x8D40, framebuffer);
    gl.framebuffer_texture(0x8D40, 0x8CE0, 0x0DE1, texture, 0);
    return framebuffer;
}

enum { PASSES = 3 };
static const char *const passes[PASSES] = {"shadow pass", "main pass", "post pass"};

static void real_frame(prof_gl *context, const unsigned *framebuffers)
{
    PROFILE_SCOPE("draw");
    PROFILE_GL_SCOPE(context, "frame");
    for (int i = 0; i < PASSES; ++i) {
        PROFILE_GL_SCOPE(context, passes[i]);
        gl.bind_framebuffer(0x8D40, framebuffers[i]);
        gl.clear(0x4000);
    }
}

/* Frames of three passes: recorded all, in order, one in the other, and while the host did the frame. */
static void real_passes(int es, prof_gl_load *load)
{
    enum { FRAMES = 30 };
    prof_config config = trace_config(1u << 20);
    unsigned framebuffers[PASSES];
    uint64_t before[FRAMES], after[FRAMES];
    void *context = egl_context(es);
    if (!context) SKIP("EGL makes no such context");
    trace_start(&config);
    prof_gl_options options = {0};
    options.device = "real";
    options.row = es ? "es" : "gl";
    prof_gl *times = prof_gl_create(load, &options);
    CHECK(times != NULL);
    if (!times) printf("%s\n", prof_error());
    gl_load();
    for (int i = 0; i < PASSES; ++i) framebuffers[i] = framebuffer_make();
    for (int i = 0; i < FRAMES; ++i) {
        before[i] = prof_host_ns();
        real_frame(times, framebuffers);
        gl.finish();
        after[i] = prof_host_ns();
        CHECK_EQUAL(prof_gl_collect(times), PROF_OK);
    }
    CHECK_EQUAL(prof_gl_finish(times), PROF_OK);
    CHECK_EQUAL(counts_of(times).recorded, FRAMES * (1 + PASSES));
    CHECK_EQUAL(gl.get_error(), 0);
    CHECK_EQUAL(prof_gl_destroy(times), PROF_OK);
    CHECK_EQUAL(gl.get_error(), 0);
    egl_leave(context);
    prof_trace *trace = trace_stop();
    int64_t start = (int64_t)prof_trace_about(trace)->start_monotonic_ns;
    trace_list list = row_events(trace, "real", options.row);
    const prof_event *scopes[FRAMES * (1 + PASSES) + 1];
    size_t count = scopes_of(&list, scopes, FRAMES * (1 + PASSES) + 1);
    CHECK_EQUAL(count, FRAMES * (1 + PASSES));
    for (size_t i = 0; i < count; ++i) {
        size_t frame_number = i / (1 + PASSES), pass = i % (1 + PASSES);
        CHECK_TEXT(scopes[i]->name, pass ? passes[pass - 1] : "frame");
        CHECK_EQUAL(scopes[i]->depth, pass != 0);
        CHECK(scopes[i]->start_ns + start >= (int64_t)before[frame_number] - 2000);
        CHECK(trace_end(scopes[i]) + start <= (int64_t)after[frame_number] + 2000);
    }
    trace_free(&list);
    prof_trace_close(trace);
}

TEST(real_gl)
{
    const char *why = egl_open();
    if (why) SKIP(why);
    real_passes(0, egl.get);
}

TEST(real_es)
{
    const char *why = egl_open();
    if (why) SKIP(why);
    real_passes(1, NULL); /* found in the process */
}

/* The clock that the recording has for the GPU, against the GPU's clock itself: each of its times lies between two
   times of the host, or 2 us beside. PROF_TEST_LONG=1: for a minute, and it prints how far apart they are. */
TEST(real_clocks)
{
    const char *why = egl_open();
    if (why) SKIP(why);
    enum { MOST = 6000 };
    static uint64_t before[MOST], after[MOST];
    long count = trace_times(20, 50, MOST);
    prof_config config = trace_config(8u << 20);
    void *context = egl_context(0);
    if (!context) SKIP("EGL makes no context of OpenGL 3.3");
    trace_start(&config);
    prof_gl_options options = {0};
    options.device = "real clock";
    options.row = "queue";
    options.calibrate_ms = count == MOST ? 0 : 50;
    prof_gl *times = prof_gl_create(egl.get, &options);
    prof_device_row *row = prof_device_row_create(prof_device_create("real clock", NULL), "marks");
    gl_load();
    for (long i = 0; i < count; ++i) {
        int64_t ticks = 0;
        for (int tries = 0; tries < 5; ++tries) {
            before[i] = prof_host_ns();
            gl.get_integer64v(0x8E28, &ticks);
            after[i] = prof_host_ns();
            if (after[i] - before[i] < 1000) break;
        }
        prof_device_mark(row, "now", (uint64_t)ticks);
        CHECK_EQUAL(prof_gl_collect(times), PROF_OK);
        pause_ms(count == MOST ? 10 : 1);
    }
    prof_gl_destroy(times);
    egl_leave(context);
    prof_trace *trace = trace_stop();
    int64_t start = (int64_t)prof_trace_about(trace)->start_monotonic_ns, worst = 0;
    trace_list list = row_events(trace, "real clock", "marks");
    CHECK_EQUAL(list.count, count);
    for (size_t i = 0; i < list.count && i < (size_t)count; ++i) {
        int64_t at = list.events[i].start_ns + start;
        int64_t off = at < (int64_t)before[i]  ? (int64_t)before[i] - at
                      : at > (int64_t)after[i] ? at - (int64_t)after[i]
                                               : 0;
        if (off > worst) worst = off;
    }
    CHECK(worst <= 2000);
    if (count == MOST) printf("     clocks of OpenGL and host: at most %lld ns apart\n", (long long)worst);
    trace_free(&list);
    prof_trace_close(trace);
}

/* A context goes from thread to thread, with its scopes. */
static void *on_another_thread(void *user)
{
    prof_gl *times = (prof_gl *)user;
    unsigned framebuffer = framebuffer_make();
    PROFILE_GL_SCOPE(times, "elsewhere");
    gl.bind_framebuffer(0x8D40, framebuffer);
    gl.clear(0x4000);
    return NULL;
}
static void *context_of_thread;
static void *with_the_context(void *user)
{
    egl.bind_api(0x30A2);
    CHECK(egl.make_current(egl.display, NULL, NULL, context_of_thread));
    on_another_thread(user);
    egl.make_current(egl.display, NULL, NULL, NULL);
    return NULL;
}
TEST(real_threads)
{
    const char *why = egl_open();
    if (why) SKIP(why);
    prof_config config = trace_config(1u << 20);
    context_of_thread = egl_context(0);
    if (!context_of_thread) SKIP("EGL makes no context of OpenGL 3.3");
    trace_start(&config);
    prof_gl *times = prof_gl_create(NULL, NULL);
    CHECK(times != NULL);
    gl_load();
    on_another_thread(times);
    egl.make_current(egl.display, NULL, NULL, NULL);
    pthread_t thread;
    CHECK(!pthread_create(&thread, NULL, with_the_context, times));
    pthread_join(thread, NULL);
    egl.make_current(egl.display, NULL, NULL, context_of_thread);
    CHECK_EQUAL(prof_gl_finish(times), PROF_OK);
    CHECK_EQUAL(counts_of(times).recorded, 2);
    prof_gl_destroy(times);

    /* Without a context there is nothing to make, and nothing to collect from. */
    times = prof_gl_create(egl.get, NULL);
    on_another_thread(times);
    gl.finish();
    egl.make_current(egl.display, NULL, NULL, NULL);
    CHECK_EQUAL(prof_gl_collect(times), PROF_INVALID_STATE);
    CHECK(strstr(prof_error(), "1 lost: OpenGL did not answer") != NULL);
    CHECK(!prof_gl_create(NULL, NULL));
    CHECK(strstr(prof_error(), "no context of OpenGL is current on this thread") != NULL);
    egl.make_current(egl.display, NULL, NULL, context_of_thread);
    CHECK_EQUAL(prof_gl_destroy(times), PROF_OK);
    egl_leave(context_of_thread);
    prof_trace_close(trace_stop());
}

TEST_MAIN
