/* Arguments: of scopes by a handle, of marks, spans, tasks and flows, with keys made at run time. */
#include "../prof.h"
#include "test.h"
#include "trace.h"
#include <pthread.h>
#ifdef __cplusplus
#include <string>
#endif

static void start(size_t size, const char *output)
{
    prof_config config = trace_config(size);
    config.output = output;
    CHECK_EQUAL(prof_start(&config), PROF_OK);
}

static prof_trace *stop(void)
{
    prof_trace *trace = NULL;
    CHECK_EQUAL(prof_stop(), PROF_OK);
    CHECK_EQUAL(prof_trace_live(&trace), PROF_OK);
    return trace;
}

/* The event of this name and type; counted from 0. */
static const prof_event *nth(const trace_list *list, prof_event_type type, const char *name, size_t number)
{
    for (size_t i = 0; i < list->count; ++i)
        if (list->events[i].type == type && !strcmp(list->events[i].name, name) && !number--) return &list->events[i];
    CHECK(!name); /* it is there */
    return NULL;
}

/* Arguments as one line: "key=value key=value". */
static const char *line_of(const prof_arg *args, uint32_t count)
{
    static char lines[4][4000];
    static unsigned next;
    char *line = lines[next++ % 4];
    size_t at = 0;
    line[0] = 0;
    for (uint32_t i = 0; i < count && at < 3000; ++i) {
        const prof_value *v = &args[i].value;
        at += (size_t)snprintf(line + at, sizeof lines[0] - at, "%s%s=", i ? " " : "", args[i].key);
        char *to = line + at;
        size_t room = sizeof lines[0] - at;
        if (v->type == PROF_VALUE_INT) at += (size_t)snprintf(to, room, "%lld", (long long)v->as.i);
        if (v->type == PROF_VALUE_UINT) at += (size_t)snprintf(to, room, "%lluu", (unsigned long long)v->as.u);
        if (v->type == PROF_VALUE_DOUBLE) at += (size_t)snprintf(to, room, "%g", v->as.d);
        if (v->type == PROF_VALUE_BOOL) at += (size_t)snprintf(to, room, "%s", v->as.u ? "true" : "false");
        if (v->type == PROF_VALUE_STRING) at += (size_t)snprintf(to, room, "'%s'", v->as.string);
        if (v->type == PROF_VALUE_POINTER) at += (size_t)snprintf(to, room, "%s", v->as.u ? "pointer" : "null");
    }
    return line;
}

static void check_args(const prof_event *event, const char *wanted)
{
    if (event) CHECK_TEXT(line_of(event->args, event->arg_count), wanted);
}

/*-- handles --*/

static void helper(prof_scope around)
{
    PROFILE_SCOPE("helper");
    PROFILE_ARG_TO_I(around, "from helper", 3);
}

static void record_handles(int turn)
{
    PROFILE_SCOPE("outer");
    PROFILE_SCOPE_AS(request, "request");
    PROFILE_ARG_TO_I(request, "rows", turn);
    {
        PROFILE_SCOPE_AS_L(off, "off", 200);
        CHECK(!off);
        PROFILE_ARG_TO_I(off, "rows", 999);
        PROFILE_ARG_TO_S(request, "text", "a text that is longer than a word");
        helper(request);
        {
            PROFILE_SCOPE_AS_C(inner, "inner", "of handles");
            PROFILE_ARGS_TO(request, PROF_ARG_D("half", 0.5), PROF_ARG_B("yes", 1), PROF_ARG_S("empty", ""));
            PROFILE_ARG_TO_U(inner, "mine", 7);
        }
    }
}

static void check_handles(const trace_list *list, size_t number)
{
    char wanted[200];
    check_args(nth(list, PROF_EVENT_SCOPE, "outer", number), "");
    check_args(nth(list, PROF_EVENT_SCOPE, "helper", number), "");
    check_args(nth(list, PROF_EVENT_SCOPE, "inner", number), "mine=7u");
    snprintf(wanted, sizeof wanted,
             "rows=%d text='a text that is longer than a word' from helper=3 half=0.5 yes=true empty=''", (int)number);
    check_args(nth(list, PROF_EVENT_SCOPE, "request", number), wanted);
}

TEST(a_handle_says_whose_argument_it_is)
{
    start(1 << 20, NULL);
    record_handles(0);
    prof_trace *trace = stop();
    trace_list list = trace_read(trace, 0);
    CHECK_EQUAL(list.count, 4);
    check_handles(&list, 0);
    CHECK_EQUAL(prof_trace_about(trace)->unmatched, 0);
    trace_free(&list);
    prof_trace_close(trace);
}

/* A scope that is open over many chunks gets arguments in each of them; so do scopes inside it. */
TEST(handles_across_chunks)
{
    enum { TURNS = 300 };
    start(4 << 20, NULL);
    {
        PROFILE_SCOPE_AS(all, "all");
        for (int i = 0; i < TURNS; ++i) {
            record_handles(i);
            PROFILE_ARG_TO_I(all, "turn", i);
        }
    }
    prof_trace *trace = stop();
    trace_list list = trace_read(trace, 0);
    CHECK_EQUAL(list.count, 4 * TURNS + 1);
    for (size_t i = 0; i < TURNS; ++i) check_handles(&list, i);
    const prof_event *all = nth(&list, PROF_EVENT_SCOPE, "all", 0);
    CHECK_EQUAL(all->arg_count, TURNS);
    for (uint32_t i = 0; i < TURNS && i < all->arg_count; ++i) CHECK_EQUAL(all->args[i].value.as.i, i);
    trace_free(&list);
    prof_trace_close(trace);
}

TEST(handles_in_an_archive)
{
    const char *path = trace_path("args.prof");
    remove(path);
    prof_config config = trace_config(1 << 20);
    config.mode = PROF_STREAM;
    config.wait_ns = 10000000000;
    config.output = path;
    CHECK_EQUAL(prof_start(&config), PROF_OK);
    enum { TURNS = 30000 };
    for (int i = 0; i < TURNS; ++i) record_handles(i);
    CHECK_EQUAL(prof_stop(), PROF_OK);
    prof_trace *trace = NULL;
    CHECK_EQUAL(prof_trace_open(path, &trace), PROF_OK);
    size_t track = 0;
    while (track + 1 < prof_trace_track_count(trace) && !strcmp(prof_trace_track(trace, track)->name, "prof")) ++track;
    trace_list list = trace_read(trace, track);
    CHECK_EQUAL(list.count, 4 * TURNS);
    if (list.count == 4 * TURNS)
        for (size_t i = 0; i < TURNS && test_failures < 5; ++i) {
            trace_list one = {list.events + 4 * i, 4, NULL, 0};
            const prof_event *request = nth(&one, PROF_EVENT_SCOPE, "request", 0);
            CHECK_EQUAL(request->arg_count, 6);
            CHECK_EQUAL(request->args[0].value.as.i, i);
            CHECK_TEXT(request->args[1].value.as.string, "a text that is longer than a word");
            check_args(nth(&one, PROF_EVENT_SCOPE, "inner", 0), "mine=7u");
        }
    trace_free(&list);
    prof_trace_close(trace);
    remove(path);
}

/* A handle that comes too late, or from another session or thread, adds to nothing. */
static prof_scope kept;
static void *foreign(void *unused)
{
    PROFILE_SCOPE("foreign");
    PROFILE_ARG_TO_I(kept, "lost", 1);
    return unused;
}

TEST(handles_that_are_no_more)
{
    pthread_t thread;
    start(1 << 20, NULL);
    {
        PROFILE_SCOPE("around");
        {
            PROFILE_SCOPE_AS(gone, "gone");
            kept = gone;
            CHECK_EQUAL(pthread_create(&thread, NULL, foreign, NULL), 0);
            pthread_join(thread, NULL);
        }
        PROFILE_ARG_TO_I(kept, "late", 1);
    }
    prof_trace *trace = stop();
    trace_list list = trace_read(trace, 0), other = trace_read(trace, 1);
    check_args(nth(&list, PROF_EVENT_SCOPE, "around", 0), "");
    check_args(nth(&list, PROF_EVENT_SCOPE, "gone", 0), "");
    check_args(nth(&other, PROF_EVENT_SCOPE, "foreign", 0), "");
    CHECK_EQUAL(prof_trace_about(trace)->unmatched, 2);
    trace_free(&list);
    trace_free(&other);
    prof_trace_close(trace);
    start(1 << 20, NULL);
    {
        PROFILE_SCOPE("around");
        PROFILE_ARG_TO_I(kept, "old", 1);
    }
    trace = stop();
    list = trace_read(trace, 0);
    check_args(nth(&list, PROF_EVENT_SCOPE, "around", 0), "");
    CHECK_EQUAL(prof_trace_about(trace)->unmatched, 0);
    trace_free(&list);
    prof_trace_close(trace);
}

/*-- lists --*/

static int evaluated;
static int count_evaluation(void) { return ++evaluated; }

TEST(keys_made_at_run_time)
{
    char key[40];
    start(1 << 20, NULL);
    {
        PROFILE_SCOPE("scope");
        for (int i = 0; i < 3; ++i) {
            snprintf(key, sizeof key, "a key with number %d", i);
            PROFILE_ARGS(PROF_ARG_I(key, i));
        }
        snprintf(key, sizeof key, "gone");
        PROFILE_ARG_I("after", 4);
    }
    prof_trace *trace = stop();
    trace_list list = trace_read(trace, 0);
    check_args(nth(&list, PROF_EVENT_SCOPE, "scope", 0),
               "a key with number 0=0 a key with number 1=1 a key with number 2=2 after=4");
    trace_free(&list);
    prof_trace_close(trace);
}

TEST(nothing_is_evaluated_while_off)
{
    evaluated = 0;
    PROFILE_MARK_ARGS("idle", PROF_ARG_I("n", count_evaluation()));
    start(1 << 20, NULL);
    prof_set_level(0);
    PROFILE_MARK_ARGS("off", PROF_ARG_I("n", count_evaluation()));
    PROFILE_ARGS(PROF_ARG_I("n", count_evaluation()));
    {
        PROFILE_SCOPE_AS(off, "off");
        PROFILE_ARG_TO_I(off, "n", count_evaluation());
    }
    CHECK_EQUAL(evaluated, 0);
    prof_set_level(255);
    PROFILE_MARK_ARGS("on", PROF_ARG_I("n", count_evaluation()));
    CHECK_EQUAL(evaluated, 1);
    prof_trace_close(stop());
}

TEST(marks_spans_tasks_and_flows)
{
    start(1 << 20, NULL);
    prof_task *task = prof_task_create(NULL, "task");
    PROFILE_MARK_ARGS("mark", PROF_ARG_I("min", INT64_MIN), PROF_ARG_U("max", UINT64_MAX), PROF_ARG_P("at", task),
                      PROF_ARG_P("no", NULL));
    PROFILE_MARK("plain");
    PROFILE_SPAN_BEGIN_ARGS("request", 7, PROF_ARG_S("path", "/index.html"), PROF_ARG_I("size", 1));
    PROFILE_TASK_START_ARGS(task, PROF_ARG_I("job", 3));
    PROFILE_SPAN_MARK_ARGS("request", 7, PROF_ARG_B("cached", 0));
    {
        PROFILE_SCOPE("scope");
        PROFILE_FLOW_OUT_ARGS(1, PROF_ARG_S("queue", "a"));
        PROFILE_ARG_I("mine", 5);
        PROFILE_FLOW_STEP_ARGS(1, PROF_ARG_S("queue", "b"));
        PROFILE_FLOW_IN_ARGS(1, PROF_ARG_S("queue", "c"));
    }
    PROFILE_TASK_STOP_ARGS(task, PROF_ARG_I("result", -1));
    PROFILE_SPAN_END_ARGS("request", 7, PROF_ARG_I("status", 200));
    prof_trace *trace = stop();
    prof_task_destroy(task);
    trace_list list = trace_read(trace, 0);
    check_args(nth(&list, PROF_EVENT_MARK, "mark", 0),
               "min=-9223372036854775808 max=18446744073709551615u at=pointer no=null");
    check_args(nth(&list, PROF_EVENT_MARK, "plain", 0), "");
    check_args(nth(&list, PROF_EVENT_SPAN_BEGIN, "request", 0), "path='/index.html' size=1");
    check_args(nth(&list, PROF_EVENT_SPAN_MARK, "request", 0), "cached=false");
    check_args(nth(&list, PROF_EVENT_SPAN_END, "request", 0), "status=200");
    check_args(nth(&list, PROF_EVENT_SPAN_BEGIN, "task", 0), "job=3");
    check_args(nth(&list, PROF_EVENT_SPAN_END, "task", 0), "result=-1");
    check_args(nth(&list, PROF_EVENT_FLOW_OUT, "flow", 0), "queue='a'");
    check_args(nth(&list, PROF_EVENT_FLOW_STEP, "flow", 0), "queue='b'");
    check_args(nth(&list, PROF_EVENT_FLOW_IN, "flow", 0), "queue='c'");
    check_args(nth(&list, PROF_EVENT_SCOPE, "scope", 0), "mine=5");
    trace_free(&list);
    prof_spans *spans = NULL;
    prof_span span;
    CHECK_EQUAL(prof_spans_open(trace, &spans), PROF_OK);
    CHECK(prof_spans_next(spans, &span));
    CHECK(span.mark);
    CHECK_TEXT(line_of(span.args, span.arg_count), "cached=false");
    CHECK(prof_spans_next(spans, &span));
    CHECK_TEXT(span.name, "task");
    CHECK_TEXT(line_of(span.args, span.arg_count), "job=3 result=-1");
    CHECK(prof_spans_next(spans, &span));
    CHECK_TEXT(line_of(span.args, span.arg_count), "path='/index.html' size=1 status=200");
    CHECK(!prof_spans_next(spans, &span));
    prof_spans_close(spans);
    const char *path = trace_path("args.csv");
    CHECK_EQUAL(prof_csv_write(trace, path), PROF_OK);
    char *text = trace_file_text(path, NULL);
    CHECK(text && strstr(text, "\"path=/index.html;size=1\""));
    CHECK(text && strstr(text, "\"queue=b\""));
    free(text);
    remove(path);
    prof_trace_close(trace);
}

/* Texts longer than what is kept are cut, more arguments than are kept are left out, and what remains is right; also in
   the smallest chunks. */
static void record_much(const char *text)
{
    PROFILE_MARK_ARGS("much", PROF_ARG_S(text, text), PROF_ARG_S("second", text), PROF_ARG_S("third", text),
                      PROF_ARG_S("fourth", text), PROF_ARG_I("fifth", 5));
}

TEST(texts_that_are_too_long)
{
    char text[3000];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = 0;
    for (size_t size = 128 << 10; size <= 4 << 20; size *= 32) {
        start(size, NULL);
        for (int i = 0; i < 20; ++i) record_much(text);
        prof_trace *trace = stop();
        trace_list list = trace_read(trace, 0);
        CHECK(list.count >= 1);
        for (size_t i = 0; i < list.count; ++i) {
            const prof_event *mark = &list.events[i];
            CHECK(mark->arg_count >= 1 && mark->arg_count <= 5);
            for (uint32_t k = 0; k < mark->arg_count; ++k) {
                const prof_arg *arg = &mark->args[k];
                static const char *const keys[] = {"xxxx", "second", "third", "fourth", "fifth"};
                CHECK(!strncmp(arg->key, keys[k], 4));
                if (arg->value.type == PROF_VALUE_STRING) CHECK(arg->value.cut && arg->value.as.string[0] == 'x');
            }
        }
        trace_free(&list);
        prof_trace_close(trace);
    }
}

TEST(twenty_arguments)
{
    start(1 << 20, NULL);
    PROFILE_MARK_ARGS("many", PROF_ARG_I("a", 1), PROF_ARG_I("b", 2), PROF_ARG_I("c", 3), PROF_ARG_I("d", 4),
                      PROF_ARG_I("e", 5), PROF_ARG_I("f", 6), PROF_ARG_I("g", 7), PROF_ARG_I("h", 8), PROF_ARG_I("i", 9),
                      PROF_ARG_I("j", 10), PROF_ARG_I("k", 11), PROF_ARG_I("l", 12), PROF_ARG_I("m", 13),
                      PROF_ARG_I("n", 14), PROF_ARG_I("o", 15), PROF_ARG_I("p", 16), PROF_ARG_I("q", 17));
    PROFILE_MARK_ARGS("null", PROF_ARG_S("none", (const char *)NULL));
    prof_trace *trace = stop();
    trace_list list = trace_read(trace, 0);
    CHECK_EQUAL(nth(&list, PROF_EVENT_MARK, "many", 0)->arg_count, PROF_DEVICE_ARGS);
    check_args(nth(&list, PROF_EVENT_MARK, "null", 0), "none='(null)'");
    trace_free(&list);
    prof_trace_close(trace);
}

#if defined(__cplusplus) || __STDC_VERSION__ >= 201112L
TEST(types_choose_themselves)
{
    static const char name[] = "array";
    char buffer[8] = "buffer";
    start(1 << 20, NULL);
    {
        PROFILE_SCOPE_AS(scope, "scope");
        PROFILE_ARGS(PROF_ARG("i", 1), PROF_ARG("u", 2u), PROF_ARG("l", 3L), PROF_ARG("f", 0.5f), PROF_ARG("s", "text"),
                     PROF_ARG("c", name), PROF_ARG("b", buffer), PROF_ARG("p", &evaluated));
        PROFILE_ARG_TO(scope, "to", (short)-4);
#ifdef __cplusplus
        enum class colour { red = 1, green };
        std::string made = "made ";
        PROFILE_ARGS_TO(scope, PROF_ARG("enum", colour::green), PROF_ARG(made + "key", made + "value"),
                        PROF_ARG_S(made, std::string("another value that is in no object of its own")),
                        PROF_ARG("bool", true));
#endif
    }
    prof_trace *trace = stop();
    trace_list list = trace_read(trace, 0);
    check_args(nth(&list, PROF_EVENT_SCOPE, "scope", 0),
               "i=1 u=2u l=3 f=0.5 s='text' c='array' b='buffer' p=pointer to=-4"
#ifdef __cplusplus
               " enum=2 made key='made value' made ='another value that is in no object of its own' bool=true"
#endif
    );
    trace_free(&list);
    prof_trace_close(trace);
}
#endif

TEST_MAIN
