/* Arguments: of scopes by a handle, of marks, spans, tasks and flows, with keys made at run time. */
#include "../prof_read.h"
#include "test.h"
#include "trace.h"
#include <pthread.h>
#include <setjmp.h>
#ifndef _WIN32
#include <sys/mman.h>
#include <unistd.h>
#endif
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
    CHECK_EQUAL(prof_trace_open_live(&trace), PROF_OK);
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
    const size_t turns = (size_t)trace_times(10000, 30000, 30000); /* more than the buffer holds */
    for (size_t i = 0; i < turns; ++i) record_handles((int)i);
    CHECK_EQUAL(prof_stop(), PROF_OK);
    prof_trace *trace = NULL;
    CHECK_EQUAL(prof_trace_open(path, &trace), PROF_OK);
    size_t track = 0;
    while (track + 1 < prof_trace_track_count(trace) && !strcmp(prof_trace_track(trace, track)->name, "prof")) ++track;
    trace_list list = trace_read(trace, track);
    CHECK_EQUAL(list.count, 4 * turns);
    if (list.count == 4 * turns)
        for (size_t i = 0; i < turns && test_failures < 5; ++i) {
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

static int evaluated, evaluated_forms;
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

/* Ends where memory ends that may be read, if the system can do that. */
static char *at_the_end(const char *text, size_t bytes)
{
#ifdef _WIN32
    char *page = (char *)malloc(4096), *end = page + 4096;
#else
    long size = sysconf(_SC_PAGESIZE);
    char *page = (char *)mmap(NULL, (size_t)size * 2, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *end = page + size;
    CHECK(!mprotect(end, (size_t)size, PROT_NONE));
#endif
    return (char *)memcpy(end - bytes, text, bytes);
}

TEST(texts_with_a_length)
{
    char *text = at_the_end("text", 4), *with_zero = at_the_end("be\0fore", 7), *long_text;
    char many[PROF_MAX_TEXT + 3];
    int counted = 0;
    memset(many, 'm', sizeof many - 3);
    memcpy(many + PROF_MAX_TEXT - 1, "\xc3\xa4!", 3); /* a character that does not fit */
    long_text = at_the_end(many, PROF_MAX_TEXT + 2);
    start(1 << 20, NULL);
    {
        PROFILE_SCOPE_TEXT(text, 4);
        PROFILE_ARG_TEXT("all", text, 4);
        PROFILE_ARG_TEXT("part", text, 2);
        PROFILE_ARG_TEXT("none", text, 0);
        PROFILE_ARG_TEXT("no text", (const char *)NULL, 0);
        PROFILE_ARG_TEXT("zero", with_zero, 7);
        PROFILE_SCOPE_AS(handle, "handle");
        PROFILE_SCOPE_TEXT(text + 1, 2u);
        PROFILE_ARG_TO_TEXT(handle, "late", text, 3);
        PROFILE_MARK_TEXT(text + 2, 2);
        PROFILE_LOG(PROF_LOG_INFO, "%.*s", 4, text);
    }
    { PROFILE_SCOPE_TEXT(long_text, PROF_MAX_TEXT + 2); PROFILE_ARG_TEXT("long", long_text, PROF_MAX_TEXT + 2); }
    { PROFILE_SCOPE_TEXT(long_text, PROF_MAX_TEXT - 1); }
    PROFILE_THREAD_TEXT(text, 3);
    prof_set_level(0);
    { PROFILE_SCOPE_TEXT(text, (size_t)++counted); PROFILE_ARG_TEXT("off", text, (size_t)++counted); }
    PROFILE_MARK_TEXT(text, (size_t)++counted);
    prof_trace *trace = stop();
    trace_list list = trace_read(trace, 0);
    CHECK_EQUAL(counted, 0);
    CHECK_TEXT(prof_trace_track(trace, 0)->name, "tex");
    check_args(nth(&list, PROF_EVENT_SCOPE, "text", 0), "all='text' part='te' none='' no text='' zero='be'");
    check_args(nth(&list, PROF_EVENT_SCOPE, "handle", 0), "late='tex'");
    CHECK(nth(&list, PROF_EVENT_SCOPE, "ex", 0) != NULL);
    CHECK(nth(&list, PROF_EVENT_MARK, "xt", 0) != NULL);
    for (size_t i = 0; i < list.count; ++i)
        if (list.events[i].type == PROF_EVENT_LOG) CHECK_TEXT(list.events[i].value.as.string, "text");
    many[PROF_MAX_TEXT - 1] = 0;
    const prof_event *cut = nth(&list, PROF_EVENT_SCOPE, many, 0);
    CHECK(cut && cut->arg_count == 1 && cut->args[0].value.cut);
    CHECK(nth(&list, PROF_EVENT_SCOPE, many, 1) != NULL);
    CHECK_EQUAL(prof_trace_about(trace)->lost, 0);
    trace_free(&list);
    prof_trace_close(trace);
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

/*-- arguments of scopes that are off are dropped with them --*/

#define OFF(name) PROFILE_SCOPE_L(name, 200)

static void deep_argument(int value)
{
    PROFILE_ARG_I("deep", value);
}

static void record_nested(int turn)
{
    PROFILE_SCOPE("around");
    PROFILE_ARG_I("rows", turn);
    {
        OFF("off");
        PROFILE_ARG_I("rows", 999);
        PROFILE_ARG_S("text", "a text that belongs to no other");
        PROFILE_ARGS(PROF_ARG_I("rows", 998), PROF_ARG_D("half", 0.5));
        deep_argument(997);
        {
            PROFILE_SCOPE("inside");
            PROFILE_ARG_I("mine", turn);
            {
                OFF("off inside");
                PROFILE_ARG_B("mine", 0);
                {
                    PROFILE_SCOPE("innermost");
                    deep_argument(turn);
                }
                PROFILE_ARG_P("mine", NULL);
            }
            PROFILE_ARG_I("more", turn + 1);
        }
        PROFILE_ARG_U("rows", 996);
    }
    PROFILE_ARG_I("after", turn + 2);
}

static void check_nested(const trace_list *list, size_t number)
{
    int turn = (int)number;
    char wanted[100];
    snprintf(wanted, sizeof wanted, "rows=%d after=%d", turn, turn + 2);
    check_args(nth(list, PROF_EVENT_SCOPE, "around", number), wanted);
    snprintf(wanted, sizeof wanted, "mine=%d more=%d", turn, turn + 1);
    check_args(nth(list, PROF_EVENT_SCOPE, "inside", number), wanted);
    snprintf(wanted, sizeof wanted, "deep=%d", turn);
    check_args(nth(list, PROF_EVENT_SCOPE, "innermost", number), wanted);
}

/* Also after very many turns, in many chunks; nothing counts as lost. */
TEST(arguments_are_dropped_with_their_scope)
{
    enum { TURNS = 3000 };
    start(4 << 20, NULL);
    for (int i = 0; i < TURNS; ++i) record_nested(i);
    prof_trace *trace = stop();
    trace_list list = trace_read(trace, 0);
    CHECK_EQUAL(list.count, 3 * TURNS);
    for (size_t i = 0; i < TURNS && test_failures < 5; ++i) {
        trace_list one = {list.events + 3 * i, 3, NULL, 0};
        char wanted[100];
        snprintf(wanted, sizeof wanted, "rows=%d after=%d", (int)i, (int)i + 2);
        check_args(nth(&one, PROF_EVENT_SCOPE, "around", 0), wanted);
    }
    for (size_t i = 0; i < TURNS && test_failures < 5; i += TURNS / 10) check_nested(&list, i);
    CHECK_EQUAL(prof_trace_about(trace)->unmatched, 0);
    CHECK_EQUAL(prof_trace_about(trace)->lost_args, 0);
    trace_free(&list);
    prof_trace_close(trace);
}

static void recurse(int depth)
{
    if (depth % 2) {
        PROFILE_SCOPE("odd");
        PROFILE_ARG_I("depth", depth);
        if (depth) recurse(depth - 1);
        PROFILE_ARG_I("back", depth);
    } else {
        OFF("even");
        PROFILE_ARG_I("depth", 1000 + depth);
        if (depth) recurse(depth - 1);
        PROFILE_ARG_I("back", 1000 + depth);
    }
}

TEST(dropped_in_a_recursion)
{
    start(1 << 20, NULL);
    recurse(51);
    recurse(299); /* deeper than notes are nested */
    prof_trace *trace = stop();
    trace_list list = trace_read(trace, 0);
    CHECK_EQUAL(list.count, 26 + 150);
    for (size_t i = 0; i < 26; ++i) {
        char wanted[60];
        snprintf(wanted, sizeof wanted, "depth=%d back=%d", 51 - 2 * (int)i, 51 - 2 * (int)i);
        check_args(&list.events[i], wanted);
    }
    check_args(&list.events[list.count - 1], "depth=1 back=1");
    trace_free(&list);
    prof_trace_close(trace);
}

/* The forms of scopes, each off. */
static void record_forms(void)
{
    PROFILE_SCOPE("around");
    PROFILE_ARG_I("a", 1);
    PROFILE_BEGIN_L("loose", 200);
    PROFILE_ARG_I("a", 2);
    PROFILE_END("loose");
    PROFILE_ARG_I("b", 3);
    PROFILE_BLOCK_L("block", 200) PROFILE_ARG_I("a", 4);
    {
        OFF("first");
        OFF("second");
        PROFILE_ARG_I("a", 6);
    }
#undef PROF_SITE_LEVEL
#define PROF_SITE_LEVEL 200
    {
        PROFILE_SCOPE_DYNAMIC("a text");
        deep_argument(7);
    }
    {
        PROFILE_SCOPE_F("a number %d", ++evaluated_forms);
        deep_argument(8);
    }
    {
        PROFILE_STEP("step", ++evaluated_forms);
        deep_argument(9);
    }
    {
        PROFILE_STEP_DYNAMIC("step", ++evaluated_forms);
        deep_argument(10);
    }
    {
        PROFILE_THROUGHPUT("bytes", ++evaluated_forms);
        deep_argument(11);
    }
    {
        PROFILE_SCOPE_AS(handle, "handle");
        deep_argument(12);
        PROFILE_ARG_TO_I(handle, "a", ++evaluated_forms);
    }
    {
        PROFILE_SCOPE_SYNC("sync");
        deep_argument(13);
    }
    {
        PROFILE_FUNCTION();
        deep_argument(14);
    }
    {
        PROFILE_STAGE("first stage");
        deep_argument(15);
        PROFILE_NEXT("second stage");
        deep_argument(16);
#undef PROF_SITE_LEVEL
#define PROF_SITE_LEVEL 1
        PROFILE_NEXT("third stage");
        deep_argument(17);
#undef PROF_SITE_LEVEL
#define PROF_SITE_LEVEL 200
        PROFILE_NEXT("fourth stage");
        deep_argument(18);
    }
#undef PROF_SITE_LEVEL
#define PROF_SITE_LEVEL 1
    PROFILE_ARG_I("end", 19);
}

TEST(dropped_in_every_form_of_scope)
{
    evaluated_forms = 0;
    start(1 << 20, NULL);
    for (int i = 0; i < 1000; ++i) record_forms();
    CHECK_EQUAL(evaluated_forms, 0);
    prof_trace *trace = stop();
    trace_list list = trace_read(trace, 0);
    CHECK_EQUAL(list.count, 2000);
    for (size_t i = 0; i < list.count && test_failures < 5; ++i)
        check_args(&list.events[i], strcmp(list.events[i].name, "around") ? "deep=17" : "a=1 b=3 end=19");
    CHECK_EQUAL(prof_trace_about(trace)->unmatched, 0);
    trace_free(&list);
    prof_trace_close(trace);
}

/* Ends that are not nested leave nothing behind that would take the arguments of others. */
static void record_crossed(void)
{
    PROFILE_SCOPE("around");
    PROFILE_BEGIN_L("a", 200);
    PROFILE_BEGIN_L("b", 200);
    PROFILE_BEGIN("on");
    PROFILE_ARG_I("on", 1);
    PROFILE_END("a");
    PROFILE_BEGIN_L("c", 200);
    PROFILE_END("on");
    PROFILE_END("b");
    PROFILE_END("c");
    PROFILE_ARG_I("around", 2);
}

TEST(dropped_by_scopes_that_are_not_nested)
{
    start(1 << 20, NULL);
    for (int i = 0; i < 1000; ++i) record_crossed();
    prof_trace *trace = stop();
    trace_list list = trace_read(trace, 0);
    CHECK_EQUAL(list.count, 2000);
    for (size_t i = 0; i < list.count && test_failures < 5; ++i)
        check_args(&list.events[i], strcmp(list.events[i].name, "on") ? "around=2" : "on=1");
    trace_free(&list);
    prof_trace_close(trace);
}

static void switched(int turn)
{
    PROFILE_SCOPE("around");
    PROFILE_SCOPE_C("switched", "of switches");
    PROFILE_ARG_I("turn", turn);
}

/* What is off changes between the passes and within them. */
TEST(dropped_while_categories_switch)
{
    enum { TURNS = 400 };
    start(4 << 20, NULL);
    for (int i = 0; i < TURNS; ++i) {
        CHECK_EQUAL(prof_category_enable("of switches", i % 2), PROF_OK);
        switched(i);
    }
    CHECK_EQUAL(prof_category_enable("of switches", 0), PROF_OK);
    {
        PROFILE_SCOPE("around");
        {
            PROFILE_SCOPE_C("before", "of switches");
            CHECK_EQUAL(prof_category_enable("of switches", 1), PROF_OK);
            PROFILE_ARG_I("turn", -1);
            PROFILE_SCOPE_C("switched", "of switches");
            PROFILE_ARG_I("turn", TURNS + 1);
            CHECK_EQUAL(prof_category_enable("of switches", 0), PROF_OK);
        }
        PROFILE_ARG_I("end", 1);
    }
    prof_trace *trace = stop();
    trace_list list = trace_read(trace, 0);
    CHECK_EQUAL(list.count, TURNS + TURNS / 2 + 2);
    for (int i = 0; i < TURNS && test_failures < 5; ++i)
        check_args(nth(&list, PROF_EVENT_SCOPE, "around", (size_t)i), "");
    check_args(nth(&list, PROF_EVENT_SCOPE, "around", TURNS), "end=1");
    for (int i = 0; i <= TURNS / 2 && test_failures < 5; ++i) {
        char wanted[40];
        snprintf(wanted, sizeof wanted, "turn=%d", 2 * i + 1);
        check_args(nth(&list, PROF_EVENT_SCOPE, "switched", (size_t)i), wanted);
    }
    trace_free(&list);
    prof_trace_close(trace);
}

/* An argument that comes only after a scope has been found to have none: the first is the one around's. */
static void record_late(int with)
{
    PROFILE_SCOPE("around");
    OFF("off");
    if (with) PROFILE_ARG_I("late", with);
}

TEST(late_arguments_are_dropped_from_the_second_on)
{
    start(4 << 20, NULL);
    for (int i = 0; i < 10000; ++i) record_late(0);
    for (int i = 1; i <= 10000; ++i) record_late(i);
    prof_trace *trace = stop();
    trace_list list = trace_read(trace, 0);
    CHECK_EQUAL(list.count, 20000);
    for (size_t i = 0; i < list.count && test_failures < 5; ++i) check_args(&list.events[i], i == 10000 ? "late=1" : "");
    trace_free(&list);
    prof_trace_close(trace);
}

/* What is learned lasts as long as the session, and no longer is asked what has no arguments. */
static prof_scope plain_token(void)
{
    OFF("plain");
    PROFILE_SCOPE_AS_L(token, "token", 200);
    return token;
}

TEST(scopes_in_other_sessions)
{
    for (int i = 0; i < 4; ++i) {
        PROFILE_SCOPE("around all");
        OFF("off around all");
        PROFILE_ARG_I("of none", 1);
        start(1 << 20, NULL);
        record_nested(0);
        PROFILE_ARG_I("of none", 2);
        {
            PROFILE_SCOPE("last");
            CHECK(!plain_token());
            PROFILE_ARG_I("mine", i);
            {
                OFF("open at the end");
                PROFILE_ARG_I("mine", -1);
                prof_trace *trace = stop();
                trace_list list = trace_read(trace, 0);
                char wanted[40];
                snprintf(wanted, sizeof wanted, "mine=%d", i);
                check_nested(&list, 0);
                check_args(nth(&list, PROF_EVENT_SCOPE, "last", 0), wanted);
                trace_free(&list);
                prof_trace_close(trace);
            }
        }
    }
}

static void *record_on_a_thread(void *unused)
{
    for (int i = 0; i < 500; ++i) record_nested(i);
    return unused;
}

TEST(dropped_on_several_threads)
{
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    size_t tracks = 0;
    start(8 << 20, NULL);
    for (int i = 0; i < THREADS; ++i) CHECK_EQUAL(pthread_create(&threads[i], NULL, record_on_a_thread, NULL), 0);
    for (int i = 0; i < THREADS; ++i) pthread_join(threads[i], NULL);
    prof_trace *trace = stop();
    for (size_t track = 0; track < prof_trace_track_count(trace); ++track) {
        trace_list list = trace_read(trace, track);
        if (list.count == 1500) {
            ++tracks;
            for (size_t i = 0; i < 500 && test_failures < 5; i += 50) check_nested(&list, i);
        }
        trace_free(&list);
    }
    CHECK_EQUAL(tracks, THREADS);
    prof_trace_close(trace);
}

/* Each fiber has its own innermost scope, on whatever thread it runs. A scope that ends on a thread that has never seen
   its begin changes nothing there. */
static prof_fiber *walker;
static void *walk_on(void *unused)
{
    PROFILE_SCOPE("of the thread");
    prof_fiber_switch(walker);
    PROFILE_ARG_I("rows", 2);
    PROFILE_END("off");
    PROFILE_ARG_I("end", 3);
    PROFILE_END("fiber");
    prof_fiber_switch(NULL);
    PROFILE_ARG_I("thread", 4);
    return unused;
}

TEST(dropped_on_fibers)
{
    pthread_t thread;
    start(4 << 20, NULL);
    walker = prof_fiber_create("walker");
    for (int i = 0; i < 100; ++i) {
        PROFILE_SCOPE("of main");
        prof_fiber_switch(walker);
        PROFILE_BEGIN("fiber");
        PROFILE_BEGIN_L("off", 200);
        PROFILE_ARG_I("rows", 1);
        prof_fiber_switch(NULL);
        PROFILE_ARG_I("main", i);
        {
            OFF("off in main");
            PROFILE_ARG_I("main", -1);
            prof_fiber_switch(walker);
            PROFILE_ARG_I("rows", 3);
            prof_fiber_switch(NULL);
            PROFILE_ARG_I("main", -2);
        }
        CHECK_EQUAL(pthread_create(&thread, NULL, walk_on, NULL), 0);
        pthread_join(thread, NULL);
        PROFILE_ARG_I("end", 5);
    }
    prof_fiber_destroy(walker);
    prof_trace *trace = stop();
    size_t seen = 0;
    for (size_t track = 0; track < prof_trace_track_count(trace); ++track) {
        trace_list list = trace_read(trace, track);
        int mains = 0;
        for (size_t i = 0; i < list.count && test_failures < 5; ++i) {
            char wanted[40];
            const prof_event *event = &list.events[i];
            snprintf(wanted, sizeof wanted, "main=%d end=5", mains);
            if (event->type != PROF_EVENT_SCOPE) continue;
            ++seen;
            if (!strcmp(event->name, "of main")) check_args(event, wanted), ++mains;
            if (!strcmp(event->name, "fiber")) check_args(event, "end=3");
            if (!strcmp(event->name, "of the thread")) check_args(event, "thread=4");
        }
        trace_free(&list);
    }
    CHECK_EQUAL(seen, 300);
    CHECK_EQUAL(prof_trace_about(trace)->unmatched, 0);
    prof_trace_close(trace);
}

/* A scope that was left by a longjmp() counts as open until the one around it ends, whether it is on or off. */
static jmp_buf jump;
static void jump_out(void)
{
    OFF("left");
    PROFILE_ARG_I("rows", 999);
    longjmp(jump, 1);
}

static void catch_jump(void)
{
    PROFILE_SCOPE("caught");
    PROFILE_ARG_I("rows", 1);
    if (!setjmp(jump)) jump_out();
}

TEST(dropped_after_a_longjmp)
{
    enum { TURNS = 3000 };
    start(4 << 20, NULL);
    {
        PROFILE_SCOPE("all");
        for (int i = 0; i < TURNS; ++i) {
            PROFILE_SCOPE("turn");
            catch_jump();
            PROFILE_ARG_I("after", 2);
        }
        PROFILE_ARG_I("end", 3);
    }
    prof_trace *trace = stop();
    trace_list list = trace_read(trace, 0);
    CHECK_EQUAL(list.count, 2 * TURNS + 1);
    for (size_t i = 1; i < list.count && test_failures < 5; ++i)
        check_args(&list.events[i], strcmp(list.events[i].name, "turn") ? "rows=1" : "after=2");
    check_args(nth(&list, PROF_EVENT_SCOPE, "all", 0), "end=3");
    trace_free(&list);
    prof_trace_close(trace);
}

/* In the smallest chunks, with scopes that are removed because they are short. */
TEST(dropped_among_short_scopes)
{
    prof_config config = trace_config(128 << 10);
    config.min_duration_ns = 1000000000;
    CHECK_EQUAL(prof_start(&config), PROF_OK);
    {
        PROFILE_SCOPE("all");
        PROFILE_ARG_I("first", 1);
        for (int i = 0; i < 100; ++i) {
            PROFILE_SCOPE("short");
            OFF("off");
            PROFILE_ARG_I("rows", i);
            PROFILE_SCOPE("shorter");
        }
        PROFILE_ARG_I("last", 2);
    }
    prof_trace *trace = stop();
    trace_list list = trace_read(trace, 0);
    CHECK_EQUAL(list.count, 1);
    check_args(nth(&list, PROF_EVENT_SCOPE, "all", 0), "first=1 last=2");
    trace_free(&list);
    prof_trace_close(trace);
}

#ifdef __cplusplus
template <typename T> static void of_a_template(T value)
{
    PROFILE_SCOPE("around");
    PROFILE_ARG("value", value);
    {
        OFF("off");
        PROFILE_ARG("value", value + 1);
        [&] { PROFILE_ARG("value", value + 2); }();
    }
}

static void thrower(void)
{
    OFF("off");
    PROFILE_ARG("thrown", 1);
    throw 1;
}

TEST(dropped_in_templates_and_by_exceptions)
{
    start(1 << 20, NULL);
    of_a_template(1);
    of_a_template(0.5);
    {
        PROFILE_SCOPE("catcher");
        try {
            thrower();
        } catch (int) {
            PROFILE_ARG("caught", 2);
        }
    }
    prof_trace *trace = stop();
    trace_list list = trace_read(trace, 0);
    check_args(nth(&list, PROF_EVENT_SCOPE, "around", 0), "value=1");
    check_args(nth(&list, PROF_EVENT_SCOPE, "around", 1), "value=0.5");
    check_args(nth(&list, PROF_EVENT_SCOPE, "catcher", 0), "caught=2");
    trace_free(&list);
    prof_trace_close(trace);
}
#endif

TEST_MAIN
