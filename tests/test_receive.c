/* prof_receive.h: programs of NVTX and ITT that this test plays, with tables as copies of these have them. Programs with
   the real ones are in tests/marks.sh. */
#include "prof_read.h"
#include "test.h"
#include "trace.h"
#include <pthread.h>
#include <unistd.h>
#include <wchar.h>

/* As in nvToolsExt.h and nvtxDetail/nvtxTypes.h. */
typedef struct event_attributes {
    uint16_t version, size;
    uint32_t category;
    int32_t color_type;
    uint32_t color;
    int32_t payload_type, reserved;
    union {
        uint64_t u;
        int64_t i;
        double d;
        float f;
        int32_t i32;
    } payload;
    int32_t message_type;
    const void *message;
} event_attributes;

enum { ASCII = 1, WIDE, REGISTERED };
enum { MARK = 1, MARK_A, MARK_W, START, START_A, START_W, END, PUSH, PUSH_A, PUSH_W, POP, CATEGORY_A, CATEGORY_W,
       THREAD_A, THREAD_W, SLOTS };
enum { D_MARK = 1, D_START, D_END, D_PUSH, D_POP, D_RESOURCE, D_RESOURCE_END, D_CATEGORY_A, D_CATEGORY_W, D_STRING_A,
       D_STRING_W, D_CREATE_A, D_CREATE_W, D_DESTROY, D_INITIALIZE };

typedef void (*function)(void);
static function core[SLOTS], core2[SLOTS], none;
static function *core_slots[SLOTS], *core2_slots[SLOTS];
static unsigned slots = SLOTS;
static int tables = 1;

static int table_of(int module, function ***table, unsigned *count)
{
    if (module != 1 && module != 5) return 0;
    *table = module == 1 ? core_slots : core2_slots;
    *count = slots;
    return 1;
}
static const struct {
    size_t size;
    int (*table)(int module, function ***table, unsigned *count);
} callbacks = {sizeof callbacks, table_of};
static const void *exports(uint32_t which) { return which == 1 && tables ? &callbacks : NULL; }

int InitializeInjectionNvtx2(const void *(*exports)(uint32_t));
extern int (*InitializeInjectionNvtx2_fnptr)(const void *(*exports)(uint32_t));

static void attach(void)
{
    for (int i = 0; i < SLOTS; ++i) {
        core[i] = core2[i] = none;
        core_slots[i] = &core[i];
        core2_slots[i] = &core2[i];
    }
    CHECK_EQUAL(InitializeInjectionNvtx2(exports), 1);
}

/* The macros of nvToolsExt.h, in effect. */
static int push(const char *text) { return ((int (*)(const char *))core[PUSH_A])(text); }
static int pop(void) { return ((int (*)(void))core[POP])(); }
static void *domain(const char *name) { return ((void *(*)(const char *))core2[D_CREATE_A])(name); }
static int push_in(void *in, const event_attributes *event)
{
    return ((int (*)(void *, const event_attributes *))core2[D_PUSH])(in, event);
}
static int pop_in(void *in) { return ((int (*)(void *))core2[D_POP])(in); }
static uint64_t start_in(void *in, const event_attributes *event)
{
    return ((uint64_t (*)(void *, const event_attributes *))core2[D_START])(in, event);
}
static void end_in(void *in, uint64_t id) { ((void (*)(void *, uint64_t))core2[D_END])(in, id); }
static void mark_in(void *in, const event_attributes *event)
{
    ((void (*)(void *, const event_attributes *))core2[D_MARK])(in, event);
}
static event_attributes event_of(int type, const void *message)
{
    event_attributes event;
    memset(&event, 0, sizeof event);
    event.version = 3;
    event.size = sizeof event;
    event.message_type = type;
    event.message = message;
    return event;
}

static trace_list events_of(const prof_trace *trace)
{
    return trace_read(trace, 0);
}

TEST(ranges_of_threads)
{
    prof_config config = trace_config(1u << 20);
    attach();
    trace_start(&config);
    CHECK_EQUAL(pop(), -1);
    for (int i = 0; i < 3; ++i) {
        CHECK_EQUAL(push("outer"), 0);
        trace_next_instant();
        CHECK_EQUAL(push("inner"), 1);
        trace_next_instant();
        CHECK_EQUAL(pop(), 1);
        trace_next_instant();
        CHECK_EQUAL(pop(), 0);
        trace_next_instant();
    }
    CHECK_EQUAL(pop(), -1);
    ((void (*)(const char *))core[MARK_A])("point");
    ((void (*)(uint32_t, const char *))core[THREAD_A])((uint32_t)getpid(), "main of it");
    prof_trace *trace = trace_stop();
    trace_list list = events_of(trace);
    CHECK_EQUAL(trace_count(&list, "outer"), 3);
    CHECK_EQUAL(trace_count(&list, "inner"), 3);
    const prof_event *outer = trace_nth(&list, "outer", 1), *inner = trace_nth(&list, "inner", 1);
    CHECK(outer && inner && outer->start_ns < inner->start_ns && trace_end(inner) < trace_end(outer));
    CHECK(inner && inner->depth == 1 && inner->type == PROF_EVENT_SCOPE);
    CHECK(outer && !strcmp(outer->site->category, "nvtx"));
    const prof_event *point = trace_find(&list, "point");
    CHECK(point && point->type == PROF_EVENT_MARK);
    CHECK(!strcmp(prof_trace_track(trace, 0)->name, "main of it"));
    trace_check(trace);
    trace_free(&list);
    prof_trace_close(trace);
}

TEST(domains_have_stacks_of_their_own)
{
    prof_config config = trace_config(1u << 20);
    event_attributes event;
    attach();
    trace_start(&config);
    void *one = domain("one"), *two = domain("two");
    event = event_of(ASCII, "a");
    CHECK_EQUAL(push_in(one, &event), 0);
    event = event_of(ASCII, "b");
    CHECK_EQUAL(push_in(two, &event), 0);
    event = event_of(ASCII, "c");
    CHECK_EQUAL(push_in(one, &event), 1);
    CHECK_EQUAL(pop_in(NULL), -1);
    CHECK_EQUAL(pop_in(two), 0);
    CHECK_EQUAL(pop_in(two), -1);
    CHECK_EQUAL(pop_in(one), 1);
    CHECK_EQUAL(pop_in(one), 0);
    CHECK_EQUAL(pop_in(one), -1);
    prof_trace *trace = trace_stop();
    trace_list list = events_of(trace);
    CHECK_EQUAL(trace_count(&list, "a"), 1);
    CHECK_EQUAL(trace_count(&list, "b") + trace_count(&list, "c"), 3); /* those that overlap are a scope and a span */
    const prof_event *b = trace_find(&list, "b");
    CHECK(b && !strcmp(b->site->category, "two"));
    for (size_t i = 0; i < list.count; ++i) CHECK(!(list.events[i].flags & PROF_TRUNCATED_END));
    trace_free(&list);
    prof_trace_close(trace);
}

TEST(messages_colours_categories_payloads)
{
    prof_config config = trace_config(1u << 20);
    event_attributes event;
    attach();
    trace_start(&config);
    void *in = domain("engine");
    ((void (*)(void *, uint32_t, const char *))core2[D_CATEGORY_A])(in, 7, "io");
    ((void (*)(uint32_t, const wchar_t *))core[CATEGORY_W])(3, L"netz\u00e9");
    event = event_of(WIDE, L"wide \u20ac \U0001F600");
    event.color_type = 1;
    event.color = 0xff112233;
    event.category = 7;
    event.payload_type = 2;
    event.payload.i = -5;
    push_in(in, &event);
    pop_in(in);
    void *registered = ((void *(*)(void *, const char *))core2[D_STRING_A])(in, "registered");
    event = event_of(REGISTERED, registered);
    event.payload_type = 6;
    event.payload.f = 0.5f;
    mark_in(in, &event);
    event = event_of(ASCII, "plain");
    event.category = 3;
    event.payload_type = 1;
    event.payload.u = UINT64_MAX;
    ((void (*)(const event_attributes *))core[MARK])(&event);
    event = event_of(ASCII, NULL);
    push_in(in, &event);
    pop_in(in);
    push_in(in, NULL);
    pop_in(in);
    event = event_of(ASCII, "schema");
    event.payload_type = (int32_t)0xDFBD0009u;
    mark_in(in, &event);
    prof_trace *trace = trace_stop();
    trace_list list = events_of(trace);
    const prof_event *wide = trace_find(&list, "wide \xe2\x82\xac \xf0\x9f\x98\x80"),
                     *known = trace_find(&list, "registered"), *plain = trace_find(&list, "plain");
    CHECK(wide && wide->site->color == 0x112233 && !strcmp(wide->site->category, "engine:io"));
    const prof_value *value = wide ? trace_arg(wide, "payload") : NULL;
    CHECK(value && value->type == PROF_VALUE_INT && value->as.i == -5);
    value = known ? trace_arg(known, "payload") : NULL;
    CHECK(value && value->type == PROF_VALUE_DOUBLE && value->as.d == 0.5);
    CHECK(known && known->type == PROF_EVENT_MARK && !strcmp(known->site->category, "engine"));
    value = plain ? trace_arg(plain, "payload") : NULL;
    CHECK(value && value->type == PROF_VALUE_UINT && value->as.u == UINT64_MAX);
    CHECK(plain && !strcmp(plain->site->category, "netz\xc3\xa9"));
    CHECK_EQUAL(trace_count(&list, ""), 1);
    CHECK_EQUAL(trace_count(&list, "schema"), 1);
    const char *key = "", *missing = "";
    for (size_t i = 0; prof_trace_metadata(trace, i, &key, &missing); ++i)
        if (!strcmp(key, "nvtx not shown")) break;
    CHECK(!strcmp(key, "nvtx not shown") && !strcmp(missing, "payloads of schemas"));
    trace_free(&list);
    prof_trace_close(trace);
}

static uint64_t started;
static void *end_elsewhere(void *in)
{
    end_in(in, started);
    return NULL;
}

TEST(ranges_that_end_on_other_threads)
{
    prof_config config = trace_config(1u << 20);
    event_attributes event = event_of(ASCII, "request");
    pthread_t thread;
    prof_spans *spans;
    prof_span span;
    attach();
    trace_start(&config);
    void *in = domain("server");
    event.payload_type = 1;
    event.payload.u = 42;
    started = start_in(in, &event);
    uint64_t second = start_in(in, &event);
    CHECK(started && second && started != second);
    CHECK(!pthread_create(&thread, NULL, end_elsewhere, in));
    pthread_join(thread, NULL);
    end_in(in, second);
    end_in(in, 0);
    end_in(in, UINT64_MAX);
    end_in(in, (uint64_t)4096 << 40 | 1);
    prof_trace *trace = trace_stop();
    size_t count = 0, elsewhere = 0;
    CHECK_EQUAL(prof_spans_open(trace, &spans), PROF_OK);
    while (prof_spans_next(spans, &span)) {
        CHECK(!strcmp(span.name, "request") && !span.flags && span.arg_count == 1 && span.args[0].value.as.u == 42);
        ++count;
        elsewhere += span.begin_track != span.end_track;
    }
    CHECK_EQUAL(prof_spans_close(spans), PROF_OK);
    CHECK_EQUAL(count, 2);
    CHECK_EQUAL(elsewhere, 1);
    prof_trace_close(trace);
}

TEST(what_begins_while_nothing_is_recorded)
{
    prof_config config = trace_config(1u << 20);
    event_attributes event = event_of(ASCII, "span off");
    attach();
    CHECK_EQUAL(push("before the session"), 0);
    uint64_t id = start_in(NULL, &event);
    trace_start(&config);
    end_in(NULL, id);
    CHECK_EQUAL(push("on"), 1);
    CHECK_EQUAL(prof_pause(), PROF_OK);
    CHECK_EQUAL(push("off"), 2);
    CHECK_EQUAL(prof_resume(), PROF_OK);
    CHECK_EQUAL(push("in off"), 3);
    CHECK_EQUAL(pop(), 3);
    CHECK_EQUAL(pop(), 2); /* must not end "on" */
    ((void (*)(const char *))core[MARK_A])("still in on");
    CHECK_EQUAL(pop(), 1);
    CHECK_EQUAL(pop(), 0);
    prof_trace *trace = trace_stop();
    trace_list list = events_of(trace);
    const prof_event *on = trace_find(&list, "on"), *still = trace_find(&list, "still in on");
    CHECK(on && still && still->start_ns >= on->start_ns && still->start_ns <= trace_end(on) && still->depth == 1);
    CHECK_EQUAL(trace_count(&list, "in off"), 1);
    CHECK_EQUAL(trace_count(&list, "off"), 0);
    CHECK_EQUAL(trace_count(&list, "before the session"), 0);
    CHECK_EQUAL(trace_count(&list, "span off"), 0);
    trace_free(&list);
    prof_trace_close(trace);
}

TEST(deep_and_unclosed)
{
    enum { DEEP = 70000 };
    prof_config config = trace_config(16u << 20);
    size_t scopes = 0;
    attach();
    trace_start(&config);
    for (int i = 0; i < DEEP; ++i) CHECK_EQUAL(push("deep"), i < 65536 ? i : -1);
    for (int i = 65535; i >= 1; --i) CHECK_EQUAL(pop(), i);
    prof_trace *trace = trace_stop();
    trace_list list = events_of(trace);
    scopes = trace_count(&list, "deep");
    CHECK_EQUAL(scopes, DEEP); /* what is too deep ends at once */
    CHECK(list.events[0].flags & PROF_TRUNCATED_END);
    CHECK_EQUAL(pop(), 0);
    trace_free(&list);
    prof_trace_close(trace);
}

static void *races(void *unused)
{
    event_attributes event = event_of(ASCII, NULL);
    char name[32];
    for (int i = 0; i < 2000; ++i) {
        snprintf(name, sizeof name, "name %d", i % 100);
        push(name);
        event.message = name;
        end_in(NULL, start_in(NULL, &event));
        pop();
    }
    return unused;
}

TEST(threads_that_make_names_at_once)
{
    prof_config config = trace_config(16u << 20);
    pthread_t threads[4];
    size_t scopes = 0, spans = 0;
    attach();
    trace_start(&config);
    for (int i = 0; i < 4; ++i) CHECK(!pthread_create(&threads[i], NULL, races, NULL));
    for (int i = 0; i < 4; ++i) pthread_join(threads[i], NULL);
    prof_trace *trace = trace_stop();
    for (size_t t = 0; t < prof_trace_track_count(trace); ++t) {
        trace_list list = trace_read(trace, t);
        for (size_t i = 0; i < list.count; ++i) {
            scopes += list.events[i].type == PROF_EVENT_SCOPE;
            spans += list.events[i].type == PROF_EVENT_SPAN_END;
        }
        trace_free(&list);
    }
    CHECK_EQUAL(scopes, 8000);
    CHECK_EQUAL(spans, 8000);
    trace_check(trace);
    prof_trace_close(trace);
}

/*-- ITT, as ittnotify_config.h has it --*/

typedef struct itt_api {
    const char *name;
    void **function;
    void *first, *none;
    int group;
} itt_api;
static struct {
    unsigned char magic[8];
    unsigned long version[3];
    volatile long numbers[3];
    pthread_mutex_t mutex;
    void *library, *errors;
    const char **path;
    itt_api *apis;
} itt = {.mutex = PTHREAD_MUTEX_INITIALIZER};
typedef struct itt_id {
    unsigned long long d1, d2, d3;
} itt_id;

void __itt_api_init(void *global, int groups);

#define ITT_APIS(X)                                                                                                  \
    X(domain_create) X(string_handle_create) X(task_begin) X(task_end) X(task_begin_overlapped)                      \
    X(task_end_overlapped) X(frame_begin_v3) X(frame_end_v3) X(marker) X(metadata_add) X(metadata_str_add)           \
    X(event_create) X(event_start) X(event_end) X(counter_create_typed) X(counter_set_value) X(counter_destroy)      \
    X(pause) X(resume) X(api_version) X(sync_create) X(unknown)
enum {
#define ITT_INDEX(name) name##_,
    ITT_APIS(ITT_INDEX) ITT_COUNT
};
static function itt_calls[ITT_COUNT];
static void does_nothing(void) {}

static void attach_itt(void)
{
    static itt_api apis[ITT_COUNT + 1] = {
#define ITT_ENTRY(name) {"__itt_" #name, NULL, NULL, NULL, 0},
        ITT_APIS(ITT_ENTRY){NULL, NULL, NULL, NULL, 0}};
    function nothing = does_nothing;
    for (int i = 0; i < ITT_COUNT; ++i) {
        apis[i].function = (void **)(void *)&itt_calls[i];
        memcpy(&apis[i].none, &nothing, sizeof nothing);
    }
    itt.apis = apis;
    __itt_api_init(&itt, 0x1414);
}
#define ITT(name, type) ((type)itt_calls[name##_])
typedef void *(*itt_make)(const char *);
typedef void (*itt_begin)(const void *domain, itt_id id, itt_id parent, const void *name);
typedef void (*itt_end)(const void *domain);
typedef void (*itt_of_id)(const void *domain, itt_id id);
typedef void (*itt_frame)(const void *domain, const itt_id *id);

TEST(tasks_of_itt)
{
    static const itt_id none_id = {0, 0, 0}, one = {1, 2, 3}, two = {2, 2, 3};
    prof_config config = trace_config(1u << 20);
    const double half = 0.5;
    const int16_t small = -3;
    attach_itt();
    CHECK(itt_calls[unknown_] != NULL && *ITT(api_version, const char *(*)(void))());
    trace_start(&config);
    void *domain_a = ITT(domain_create, itt_make)("a"), *work = ITT(string_handle_create, itt_make)("work"),
         *key = ITT(string_handle_create, itt_make)("key"), *text = ITT(string_handle_create, itt_make)("text");
    CHECK(domain_a == ITT(domain_create, itt_make)("a") && work == ITT(string_handle_create, itt_make)("work"));
    CHECK(domain_a != ITT(domain_create, itt_make)("b") && *(volatile int *)domain_a);
    ITT(task_begin, itt_begin)(domain_a, none_id, none_id, work);
    ITT(metadata_add, void (*)(const void *, itt_id, const void *, int, size_t, const void *))
    (domain_a, none_id, key, 6, 1, &small);
    ITT(metadata_str_add, void (*)(const void *, itt_id, const void *, const char *, size_t))
    (domain_a, none_id, text, "five more", 4);
    ITT(task_begin_overlapped, itt_begin)(domain_a, one, none_id, work);
    ITT(task_begin_overlapped, itt_begin)(domain_a, two, none_id, work);
    ITT(task_end, itt_end)(domain_a);
    ITT(task_end, itt_end)(domain_a); /* there is none */
    ITT(task_end_overlapped, itt_of_id)(domain_a, one);
    ITT(task_end_overlapped, itt_of_id)(domain_a, two);
    ITT(task_end_overlapped, itt_of_id)(domain_a, two);
    ITT(frame_begin_v3, itt_frame)(domain_a, NULL);
    ITT(frame_end_v3, itt_frame)(domain_a, NULL);
    ITT(marker, void (*)(const void *, itt_id, const void *, int))(domain_a, none_id, key, 0);
    int event = ITT(event_create, int (*)(const char *, int))("event and more", 5);
    CHECK_EQUAL(ITT(event_start, int (*)(int))(event), 0);
    CHECK_EQUAL(ITT(event_end, int (*)(int))(event), 0);
    CHECK_EQUAL(ITT(event_start, int (*)(int))(-1), 1);
    void *counter = ITT(counter_create_typed, void *(*)(const char *, const char *, int))("load", "b", 8);
    ITT(counter_set_value, void (*)(void *, const void *))(counter, &half);
    ITT(counter_destroy, void (*)(void *))(counter);
    ITT(sync_create, void (*)(void *, const char *, const char *, int))(&itt, "mutex", "m", 0);
    itt_calls[unknown_]();
    ITT(pause, function)();
    ITT(task_begin, itt_begin)(domain_a, none_id, none_id, key);
    ITT(task_end, itt_end)(domain_a);
    ITT(resume, function)();
    prof_trace *trace = trace_stop();
    trace_list list = events_of(trace);
    const prof_event *task = trace_find(&list, "work"), *named = trace_find(&list, "event"),
                     *mark = trace_find(&list, "key"), *load = trace_find(&list, "load");
    CHECK(task && task->type == PROF_EVENT_SCOPE && !strcmp(task->site->category, "a"));
    const prof_value *value = task ? trace_arg(task, "key") : NULL;
    CHECK(value && value->type == PROF_VALUE_INT && value->as.i == -3);
    value = task ? trace_arg(task, "text") : NULL;
    CHECK(value && value->type == PROF_VALUE_STRING && !strcmp(value->as.string, "five"));
    CHECK(named && named->type == PROF_EVENT_SCOPE && mark && mark->type == PROF_EVENT_MARK);
    CHECK(load && load->value.type == PROF_VALUE_DOUBLE && load->value.as.d == 0.5);
    CHECK_EQUAL(trace_count(&list, "key"), 1);
    prof_spans *spans;
    prof_span span;
    size_t works = 0, frames = 0;
    CHECK_EQUAL(prof_spans_open(trace, &spans), PROF_OK);
    while (prof_spans_next(spans, &span)) {
        works += !strcmp(span.name, "work") && !span.flags;
        frames += !strcmp(span.name, "a") && !span.flags;
    }
    CHECK_EQUAL(prof_spans_close(spans), PROF_OK);
    CHECK_EQUAL(works, 2);
    CHECK_EQUAL(frames, 1);
    const char *said = "", *what = "";
    for (size_t i = 0; prof_trace_metadata(trace, i, &what, &said); ++i)
        if (!strcmp(what, "itt not shown")) break;
    CHECK(!strcmp(said, "synchronization objects"));
    trace_check(trace);
    trace_free(&list);
    prof_trace_close(trace);
}

/* After this test no name gets a site of its own. */
TEST(more_names_than_sites)
{
    enum { NAMES = 5000 };
    prof_config config = trace_config(16u << 20);
    event_attributes event = event_of(ASCII, "a span without a place");
    char name[32];
    attach();
    trace_start(&config);
    for (int i = 0; i < NAMES; ++i) {
        snprintf(name, sizeof name, "many %d", i);
        push(name);
        pop();
    }
    ((void (*)(const char *))core[MARK_A])("a mark without a place");
    end_in(NULL, start_in(NULL, &event));
    prof_trace *trace = trace_stop();
    trace_list list = events_of(trace);
    for (int i = 0; i < NAMES; i += 7) {
        snprintf(name, sizeof name, "many %d", i);
        CHECK_EQUAL(trace_count(&list, name), 1);
    }
    CHECK_EQUAL(trace_count(&list, "a mark without a place"), 1);
    CHECK_EQUAL(trace_count(&list, "a span without a place"), 0);
    const char *key = "", *missing = "";
    for (size_t i = 0; prof_trace_metadata(trace, i, &key, &missing); ++i)
        if (!strcmp(key, "nvtx not shown")) break;
    CHECK(strstr(missing, "ranges with a further name than 4096"));
    trace_free(&list);
    prof_trace_close(trace);
}

TEST(tables_of_other_versions)
{
    slots = 8;
    attach();
    CHECK(core[END] && !core[PUSH] && !core[PUSH_A]);
    slots = 40; /* more than this receiver knows */
    for (int i = 0; i < SLOTS; ++i) core2_slots[i] = NULL;
    CHECK_EQUAL(InitializeInjectionNvtx2(exports), 1);
    slots = SLOTS;
    tables = 0;
    CHECK_EQUAL(InitializeInjectionNvtx2(exports), 0);
    tables = 1;
    CHECK(InitializeInjectionNvtx2_fnptr == InitializeInjectionNvtx2);
}

TEST_MAIN
