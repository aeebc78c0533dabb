/* The Chrome trace writer: every event of many traces, read back with a strict JSON parser and compared with the
   cursor's account; hostile names, failing sinks, damaged images. */
/* run: check traces clocks */
#include "private.h"

#include "test.h"
#include "trace.h"
#include "json.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdlib.h>

/*-- the sink --*/

/*-- the comparison --*/

/* text with each maximal invalid part of UTF-8 replaced, found by trial; to be freed */
static char *valid_text(const char *text)
{
    char *to = (char *)malloc(strlen(text) * 3 + 1);
    const char *end = text + strlen(text);
    size_t at = 0;
    while (*text) {
        size_t length = utf8_length(text, end);
        if (length) {
            memcpy(to + at, text, length);
            at += length;
            text += length;
            continue;
        }
        /* the longest beginning of some valid sequence counts as one */
        length = 1;
        for (size_t n = 3; n >= 2; --n) {
            char whole[5] = {0};
            int prefix = 0;
            if ((size_t)(end - text) < n) continue;
            memcpy(whole, text, n);
            for (int third = 0x80; third <= 0xBF && !prefix; ++third) {
                whole[n] = (char)third;
                prefix = utf8_length(whole, whole + n + 1) == n + 1;
                if (n == 2 && !prefix) {
                    whole[3] = (char)0x80;
                    prefix = utf8_length(whole, whole + 4) == 4;
                }
            }
            if (prefix) {
                length = n;
                break;
            }
        }
        memcpy(to + at, "\xEF\xBF\xBD", 3);
        at += 3;
        text += length;
    }
    to[at] = 0;
    return to;
}

static void check_name(const char *written, const char *name)
{
    char *valid = valid_text(*name ? name : "(unnamed)");
    size_t length = strlen(valid);
    CHECK(!strncmp(written, valid, length));
    CHECK(!written[length] || (written[length] == ' ' && !written[length + 1])); /* a name some viewer has taken */
    free(valid);
}

/* 12.345 as 12345; digits after the third are rounded. -1: not of that form */
static int64_t nanoseconds(const char *text, int exactly_three)
{
    int64_t whole = 0, part = 0;
    size_t digits = 0;
    if (!*text) return -1;
    for (; *text >= '0' && *text <= '9'; ++text) whole = whole * 10 + (*text - '0');
    if (*text++ != '.') return -1;
    for (; *text >= '0' && *text <= '9'; ++text, ++digits) {
        if (digits < 3) part = part * 10 + (*text - '0');
        if (digits == 3 && *text >= '5') ++part;
    }
    if (*text || digits < 3 || (exactly_three && digits != 3)) return -1;
    return whole * 1000 + part;
}

static void check_value(const json *node, const prof_value *value)
{
    char text[64];
    const int64_t exact = (int64_t)1 << 53;
    CHECK(node != NULL); /* else an argument is missing */
    if (!node) return;
    switch (value->type) {
    case PROF_VALUE_INT:
        snprintf(text, sizeof text, "%lld", (long long)value->as.i);
        CHECK_TEXT(node->text, text);
        CHECK_EQUAL(node->type, value->as.i <= exact && value->as.i >= -exact ? '0' : '"');
        break;
    case PROF_VALUE_UINT:
        snprintf(text, sizeof text, "%llu", (unsigned long long)value->as.u);
        CHECK_TEXT(node->text, text);
        CHECK_EQUAL(node->type, value->as.u <= (uint64_t)exact ? '0' : '"');
        break;
    case PROF_VALUE_DOUBLE: {
        double back = node->text ? strtod(node->text, NULL) : 0;
        int finite = value->as.d - value->as.d >= 0;
        CHECK_EQUAL(node->type, finite ? '0' : '"');
        CHECK(finite ? !(back < value->as.d) && !(back > value->as.d)
                     : !strcmp(node->text, value->as.d > 0 ? "inf" : value->as.d < 0 ? "-inf" : "nan"));
        break;
    }
    case PROF_VALUE_BOOL: CHECK_EQUAL(node->type, value->as.u ? 't' : 'f'); break;
    case PROF_VALUE_POINTER:
        snprintf(text, sizeof text, "0x%llx", (unsigned long long)value->as.u);
        CHECK_EQUAL(node->type, '"');
        CHECK_TEXT(node->text, text);
        break;
    case PROF_VALUE_STRING: {
        char *valid = valid_text(value->as.string);
        size_t length = strlen(valid);
        CHECK_EQUAL(node->type, '"');
        CHECK(!strncmp(node->text, valid, length));
        CHECK_TEXT(node->text + length, value->cut ? "\xE2\x80\xA6" : "");
        free(valid);
        break;
    }
    default: CHECK_EQUAL(node->type, 'n'); break;
    }
}

static void check_args(const json *event, const prof_event *wanted, int source)
{
    const json *args = member(event, "args");
    static const char *const truncated[] = {"", "begin", "end", "begin and end"};
    size_t distinct = 0, written = 0;
    for (uint32_t i = 0; i < wanted->arg_count; ++i) {
        char key[300];
        uint32_t j = i + 1;
        while (j < wanted->arg_count && strcmp(wanted->args[i].key, wanted->args[j].key)) ++j;
        if (j < wanted->arg_count) continue;
        char *valid = valid_text(*wanted->args[i].key ? wanted->args[i].key : "(unnamed)");
        int taken = !strcmp(valid, "truncated") || !strcmp(valid, "source") || !strcmp(valid, "function");
        snprintf(key, sizeof key, "%s%s", valid, taken ? " " : "");
        check_value(member(args, key), &wanted->args[i].value);
        free(valid);
        ++distinct;
    }
    if (wanted->flags) {
        CHECK_TEXT(text_of(args, "truncated"), truncated[wanted->flags & 3]);
        ++distinct;
    }
    if (source) distinct += (size_t)!!*wanted->site->file + (size_t)!!*wanted->site->function;
    for (const json *each = args ? args->child : NULL; each; each = each->next) ++written;
    CHECK_EQUAL(written, distinct);
}

static void check_common(const json *event, const prof_event *wanted, const char *phase, const char *tid)
{
    char text[32];
    CHECK_TEXT(text_of(event, "ph"), phase);
    check_name(text_of(event, "name"), wanted->name);
    CHECK_TEXT(text_of(event, "tid"), tid);
    CHECK(member(event, "tid")->type == '0' && member(event, "pid") && member(event, "pid")->type == '0');
    char *category = valid_text(*wanted->site->category ? wanted->site->category : "prof");
    if (!strstr(category, "trace_event_overhead") && !strstr(category, "blink.user_timing"))
        CHECK_TEXT(text_of(event, "cat"), category);
    else
        CHECK_TEXT(text_of(event, "cat"), "prof");
    free(category);
    if (member(event, "loc")) {
        snprintf(text, sizeof text, ":%lu", (unsigned long)wanted->site->line);
        CHECK(strstr(text_of(event, "loc"), text) != NULL);
    }
    CHECK_EQUAL(member(event, "loc") != NULL, *wanted->site->file != 0);
    CHECK_EQUAL(member(event, "cname") != NULL, wanted->site->color != 0);
}

/* The next event of the file that is not metadata. */
static const json *advance(const json **at)
{
    while (*at && !strcmp(text_of(*at, "ph"), "M")) *at = (*at)->next;
    const json *event = *at;
    if (event) *at = event->next;
    return event;
}

static const json *metadata(const json *events, const char *name, const char *tid, const char *key)
{
    for (; events; events = events->next)
        if (!strcmp(text_of(events, "ph"), "M") && !strcmp(text_of(events, "name"), name) &&
            !strcmp(text_of(events, "tid"), tid))
            return member(member(events, "args"), key);
    return NULL;
}

typedef struct frame_count {
    const char *name;
    char tid[16];
} frame_count;

static void check_frame(const json *event, const json *events, const prof_event *wanted, frame_count *frames,
                        size_t *frame_names)
{
    char text[32];
    size_t i = 0;
    while (i < *frame_names && strcmp(frames[i].name, wanted->name)) ++i;
    if (i == 64) {
        CHECK_TEXT(text_of(event, "ph"), "i");
        return;
    }
    if (i == *frame_names) {
        frames[i].name = wanted->name;
        snprintf(frames[i].tid, sizeof frames[i].tid, "%.15s", text_of(event, "tid"));
        ++*frame_names;
        const json *name = metadata(events, "thread_name", frames[i].tid, "name");
        CHECK(name && !strncmp(name->text, "frames: ", 8));
        if (name) check_name(name->text + 8, wanted->name);
    }
    check_common(event, wanted, "X", frames[i].tid);
    CHECK_EQUAL(nanoseconds(text_of(event, "ts"), 1), wanted->start_ns - wanted->duration_ns);
    CHECK_EQUAL(nanoseconds(text_of(event, "dur"), 0), wanted->duration_ns);
    snprintf(text, sizeof text, "%llu", (unsigned long long)wanted->detail);
    CHECK_TEXT(text_of(member(event, "args"), "frame"), text);
}

static int in_window(const prof_event *event, const prof_chrome_options *options)
{
    int64_t start = event->start_ns, end = start;
    if (event->type == PROF_EVENT_SCOPE) end += event->duration_ns;
    if (event->type == PROF_EVENT_FRAME) start -= event->duration_ns;
    if (event->type == PROF_EVENT_SCOPE && (uint64_t)event->duration_ns < options->min_duration_ns) return 0;
    return end >= options->from_ns && (!options->to_ns || start < options->to_ns);
}

static void check_track(const prof_trace *trace, size_t index, const char *tid, const json *events, const json **at,
                        const prof_chrome_options *options)
{
    prof_cursor *cursor = NULL;
    prof_event wanted;
    frame_count frames[64];
    size_t frame_names = 0;
    char text[64];
    CHECK_EQUAL(prof_cursor_open(trace, index, &cursor), PROF_OK);
    while (test_failures < 20 && prof_cursor_next(cursor, &wanted)) {
        if (wanted.type == PROF_EVENT_COUNTER || !in_window(&wanted, options)) continue;
        if (wanted.type == PROF_EVENT_FRAME && !wanted.duration_ns) continue;
        const json *event = advance(at);
        CHECK(event != NULL);
        if (!event) break;
        switch (wanted.type) {
        case PROF_EVENT_SCOPE:
            check_common(event, &wanted, "X", tid);
            CHECK_EQUAL(nanoseconds(text_of(event, "ts"), 1), wanted.start_ns);
            CHECK_EQUAL(nanoseconds(text_of(event, "dur"), 0), wanted.duration_ns);
            CHECK(wanted.duration_ns || !strcmp(text_of(event, "dur"), "0.0001"));
            check_args(event, &wanted, options->source == PROF_CHROME_SOURCE_ARGS);
            break;
        case PROF_EVENT_MARK:
            check_common(event, &wanted, "i", tid);
            CHECK_EQUAL(nanoseconds(text_of(event, "ts"), 1), wanted.start_ns);
            CHECK_TEXT(text_of(event, "s"), "t");
            check_args(event, &wanted, options->source == PROF_CHROME_SOURCE_ARGS);
            break;
        case PROF_EVENT_FRAME: check_frame(event, events, &wanted, frames, &frame_names); break;
        default:
            CHECK_EQUAL(wanted.type, PROF_EVENT_LOST);
            snprintf(text, sizeof text, "lost %llu events", (unsigned long long)wanted.value.as.u);
            CHECK_TEXT(text_of(event, "ph"), "i");
            CHECK_TEXT(text_of(event, "name"), text);
            CHECK_TEXT(text_of(event, "tid"), tid);
            CHECK_EQUAL(nanoseconds(text_of(event, "ts"), 1), wanted.start_ns);
            break;
        }
    }
    prof_cursor_close(cursor);
}

static void check_sample(const json *event, const prof_event *wanted, const char *tid, int tracy)
{
    int finite = wanted->value.type != PROF_VALUE_DOUBLE || wanted->value.as.d - wanted->value.as.d >= 0;
    char *key = valid_text(*wanted->name ? wanted->name : "(unnamed)");
    const json *value = member(member(event, "args"), !finite ? "value" : tracy ? key : "");
    check_common(event, wanted, finite ? "C" : "i", tid);
    CHECK(value != NULL);
    if (value && finite && wanted->value.type == PROF_VALUE_INT) { /* a counter is a number, also beyond 2^53 */
        CHECK_EQUAL(value->type, '0');
        CHECK_EQUAL(strtoll(value->text, NULL, 10), wanted->value.as.i);
    } else if (value && finite && wanted->value.type == PROF_VALUE_UINT) {
        CHECK_EQUAL(value->type, '0');
        CHECK_EQUAL(strtoull(value->text, NULL, 10), wanted->value.as.u);
    } else if (value) {
        check_value(value, &wanted->value);
    }
    CHECK_EQUAL(nanoseconds(text_of(event, "ts"), 1), wanted->start_ns);
    CHECK_TEXT(member(event, "unit") ? text_of(event, "unit") : "", finite ? wanted->site->unit : "");
    CHECK(!finite || (value && !value->next)); /* viewers take another argument for another series */
    free(key);
}

/* The samples of all tracks, merged by time. */
static void check_counters(const prof_trace *trace, char (*tids)[16], const json **at,
                           const prof_chrome_options *options)
{
    size_t tracks = prof_trace_track_count(trace), left = 0;
    prof_cursor **cursors = (prof_cursor **)calloc(tracks + 1, sizeof *cursors);
    prof_event *next = (prof_event *)calloc(tracks + 1, sizeof *next);
    int *have = (int *)calloc(tracks + 1, sizeof *have);
    int64_t before = 0;
    for (size_t i = 0; i < tracks; ++i) {
        CHECK_EQUAL(prof_cursor_open(trace, i, &cursors[i]), PROF_OK);
        while ((have[i] = prof_cursor_next(cursors[i], &next[i])) != 0 &&
               (next[i].type != PROF_EVENT_COUNTER || !in_window(&next[i], options)))
            continue;
        left += (size_t)have[i];
    }
    while (left && test_failures < 20) {
        const json *event = advance(at);
        size_t i = 0;
        CHECK(event != NULL);
        if (!event) break;
        int64_t now = nanoseconds(text_of(event, "ts"), 1);
        CHECK(now >= before);
        before = now;
        while (i < tracks && strcmp(tids[i], text_of(event, "tid"))) ++i;
        CHECK(i < tracks && have[i]);
        if (i == tracks || !have[i]) break;
        check_sample(event, &next[i], tids[i], options->tracy);
        while ((have[i] = prof_cursor_next(cursors[i], &next[i])) != 0 &&
               (next[i].type != PROF_EVENT_COUNTER || !in_window(&next[i], options)))
            continue;
        left -= !have[i];
    }
    for (size_t i = 0; i < tracks; ++i) prof_cursor_close(cursors[i]);
    free(cursors);
    free(next);
    free(have);
}

/* What speedscope does, which counts from the first scope and adds start and duration as doubles: no end may come
   behind its parent's, or behind the start of what follows. */
static void check_sums(const json *events, const char *tid)
{
    static double ends[5000];
    double origin = -1;
    size_t depth = 0;
    for (; events; events = events->next) {
        if (strcmp(text_of(events, "ph"), "X") || strcmp(text_of(events, "tid"), tid)) continue;
        double start = strtod(text_of(events, "ts"), NULL), end;
        if (origin < 0) origin = start;
        start -= origin;
        end = start + strtod(text_of(events, "dur"), NULL);
        while (depth && ends[depth - 1] <= start) --depth;
        if (!strcmp(text_of(events, "dur"), "0.0001")) continue;
        if (end - start > start || origin + start > 1e11)
            continue; /* there may be no such number, see durations_add_up */
        if (depth) CHECK(end <= ends[depth - 1]);
        if (depth < sizeof ends / sizeof *ends) ends[depth++] = end;
        if (test_failures > 20) return;
    }
}

static void check_ids(const json *events, char (*tids)[16], size_t tracks)
{
    for (size_t i = 0; i < tracks; ++i) {
        double number = strtod(tids[i], NULL);
        CHECK(number >= 1 && number < 4294967296.0);
        for (size_t j = 0; j < i && tracks < 1000; ++j) CHECK(strcmp(tids[i], tids[j]) != 0);
    }
    for (; events; events = events->next) CHECK(strtoull(text_of(events, "pid"), NULL, 10) <= 0xFFFFFFFFu);
}

/* Writes the trace and compares the whole file. Returns the file, to be freed with json_free(). */
static json *check_written(const prof_trace *trace, const prof_chrome_options *options)
{
    prof_chrome_options everything;
    trace_bytes m = {NULL, 0, 0, 0};
    memset(&everything, 0, sizeof everything);
    CHECK_EQUAL(prof_chrome_stream(trace, trace_sink(&m), options), PROF_OK);
    if (!options) options = &everything;
    CHECK(m.size > 2 && !memcmp(m.bytes, "{\"", 2)); /* Perfetto looks for these two */
    json *root = json_parse(m.bytes, m.size);
    const json *list = member(root, "traceEvents");
    CHECK(list && list->type == '[');
    if (list) {
        const json *events = list->child, *at = events;
        size_t tracks = prof_trace_track_count(trace), track = 0;
        char(*tids)[16] = (char(*)[16])calloc(tracks + 1, sizeof *tids);
        CHECK_TEXT(text_of(root, "displayTimeUnit"), "ns");
        CHECK_TEXT(text_of(events, "name"), "process_name");
        for (const json *each = events; each && track < tracks; each = each->next)
            if (!strcmp(text_of(each, "name"), "thread_sort_index"))
                snprintf(tids[track++], sizeof *tids, "%.15s", text_of(each, "tid"));
        CHECK_EQUAL(track, tracks);
        check_ids(events, tids, tracks);
        for (size_t i = 0; i < tracks && test_failures < 20; ++i) {
            const json *name = metadata(events, "thread_name", tids[i], "name");
            const prof_track *about = prof_trace_track(trace, i);
            CHECK_EQUAL(name != NULL, *about->name || about->fiber);
            if (name) check_name(name->text, *about->name || !about->fiber ? about->name : "fiber");
            check_track(trace, i, tids[i], events, &at, options);
            if (options->source == PROF_CHROME_SOURCE_LOC && tracks < 100) check_sums(events, tids[i]);
        }
        if (test_failures < 20) check_counters(trace, tids, &at, options);
        if (test_failures < 20) {
            const json *last = advance(&at);
            if (last) CHECK(strstr(text_of(last, "name"), "events on other threads") != NULL && !advance(&at));
        }
        free(tids);
    }
    free(m.bytes);
    return root;
}

/*-- what is recorded --*/

#define HOSTILE "quote \" backslash \\ slash / newline \n tab \t bell \a DEL \x7f"
#define BROKEN "a\xFF\xC0\xAF\xE0\x80\x80\xED\xA0\x80\xF4\x90\x80\x80\xE2\x82z\xF0\x9F\x98\xC3"

static void all_kinds(int n)
{
    PROFILE_SCOPE_C("render", "gfx,ui");
    PROFILE_ARG_I("negative", -n);
    PROFILE_ARG_I("beyond 2^53", ((int64_t)1 << 53) + 1);
    PROFILE_ARG_I("least", INT64_MIN);
    PROFILE_ARG_U("greatest", UINT64_MAX);
    PROFILE_ARG_U("exact", (uint64_t)1 << 53);
    PROFILE_ARG_D("pi", 3.14159265358979312);
    PROFILE_ARG_D("whole", 1024.0);
    PROFILE_ARG_D("huge", 1.7976931348623157e308);
    PROFILE_ARG_D("tiny", 5e-324);
    PROFILE_ARG_D("minus", -1e16);
    PROFILE_ARG_D("inf", 1e308 * 10 * n);
    PROFILE_ARG_D("minus inf", -1e308 * 10 * n);
    PROFILE_ARG_D("nan", (1e308 * 10 * n) - (1e308 * 10 * n));
    PROFILE_ARG_B("yes", 1);
    PROFILE_ARG_B("no", 0);
    PROFILE_ARG_P("null", NULL);
    PROFILE_ARG_P("pointer", (void *)(uintptr_t)0xDEADBEEFu);
    PROFILE_ARG_S("text", HOSTILE);
    PROFILE_ARG_S("broken", BROKEN);
    PROFILE_ARG_S("twice", "first");
    PROFILE_ARG_S("twice", "second");
    PROFILE_ARG_S("truncated", "by the user");
    PROFILE_ARG_S("source", "of the user");
    {
        PROFILE_SCOPE("few arguments");
        PROFILE_ARG_I("a", 1);
        PROFILE_ARG_I("a", 2);
        PROFILE_ARG_S("", "no key");
        PROFILE_ARG_S("b\"\n", "");
    }
    PROFILE_COUNTER("queue depth", n);
    PROFILE_COUNTER_UNIT("load", n * 0.25, "%\"");
    PROFILE_COUNTER("not a number", (1e308 * 10) - (1e308 * 10 * n));
    PROFILE_COUNTER_C(HOSTILE, INT64_MIN, HOSTILE);
    PROFILE_COUNTER("", 1);
    PROFILE_MARK("mark");
    PROFILE_MARK_DYNAMIC(HOSTILE);
    PROFILE_MARK_DYNAMIC("");
    PROFILE_MARK_F("mark %d", n);
    for (int i = 0; i < 3; ++i) {
        PROFILE_STAGE("one");
        PROFILE_NEXT("two");
        PROFILE_NEXT("two");
        PROFILE_NEXT(HOSTILE);
    }
}

static void hostile_names(void)
{
    PROFILE_SCOPE_C(BROKEN, BROKEN);
    PROFILE_SCOPE_C("", "");
    PROFILE_SCOPE_C("Profile", "blink.user_timing");
    PROFILE_SCOPE_C("ProfileChunk", "a,trace_event_overhead");
    PROFILE_SCOPE("Paint");
    PROFILE_SCOPE("thread_name");
    PROFILE_SCOPE("ActivateLayerTree");
    PROFILE_SCOPE_C("ends with \\", "\\");
    PROFILE_ARG_S("\\", "\\\\");
    PROFILE_SCOPE("\xF0\x9F\x98\x80 \xC3\xA9 \xE2\x82\xAC \xEF\xBF\xBF");
    PROFILE_SCOPE("0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
                  "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
                  "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef");
    for (int i = 0; i < 5; ++i) {
        PROFILE_SCOPE_F("run-time %d \"%s\"", i, "x");
        PROFILE_SCOPE_DYNAMIC("run-time");
        PROFILE_SCOPE_DYNAMIC(BROKEN);
    }
    char text[3000];
    memset(text, '"', sizeof text - 1);
    text[sizeof text - 1] = 0;
    PROFILE_SCOPE_DYNAMIC(text);
    PROFILE_ARG_S("long", text);
}

static void nest(int depth)
{
    PROFILE_SCOPE("nest");
    if (depth) nest(depth - 1);
}

static void frames(void)
{
    for (int i = 0; i < 10; ++i) {
        PROFILE_FRAME("video");
        if (i % 3 == 0) PROFILE_FRAME("audio \"");
        trace_next_instant();
    }
    PROFILE_FRAME("just once");
}

static void *worker(void *number)
{
    int n = *(int *)number;
    char name[64];
    snprintf(name, sizeof name, "worker %d \"\n%s", n, n == 2 ? BROKEN : "");
    PROFILE_THREAD(name);
    for (int i = 1; i <= 20; ++i) {
        all_kinds(i + n);
        frames();
    }
    return NULL;
}

static void start(size_t buffer_size, prof_mode mode)
{
    prof_config config = trace_config(buffer_size);
    config.mode = mode;
    config.level = 255;
    trace_start(&config);
}

static prof_trace *record_everything(void)
{
    pthread_t threads[4];
    int numbers[4] = {1, 2, 3, 4};
    start(16 << 20, PROF_FILL);
    PROFILE_THREAD("main \\");
    for (int i = 0; i < 4; ++i) pthread_create(&threads[i], NULL, worker, &numbers[i]);
    all_kinds(7);
    hostile_names();
    hostile_names();
    nest(700);
    frames();
    for (int i = 0; i < 4; ++i) pthread_join(threads[i], NULL);
    return trace_stop();
}

static size_t count_of(const json *root, const char *key, const char *value)
{
    size_t count = 0;
    const json *list = member(root, "traceEvents");
    for (const json *each = list ? list->child : NULL; each; each = each->next)
        count += !strcmp(text_of(each, key), value);
    return count;
}

/* The first event of that name; null if there is none. */
static const json *first_named(const json *root, const char *name)
{
    const json *list = member(root, "traceEvents"), *each = list ? list->child : NULL;
    while (each && strcmp(text_of(each, "name"), name)) each = each->next;
    return each;
}

TEST(every_event_comes_back)
{
    prof_trace *trace = record_everything();
    json *root = check_written(trace, NULL);
    CHECK_EQUAL(count_of(root, "name", "nest"), 701);
    CHECK_EQUAL(count_of(root, "name", "render"), 81);
    CHECK_EQUAL(count_of(root, "name", "queue depth"), 81);
    CHECK_EQUAL(count_of(root, "name", "Profile "), 2);
    CHECK_EQUAL(count_of(root, "name", "Profile"), 0);
    CHECK_EQUAL(count_of(root, "name", "thread_name "), 2);
    CHECK_EQUAL(count_of(root, "name", "Paint "), 2);
    CHECK_EQUAL(count_of(root, "name", "ActivateLayerTree "), 2);
    CHECK_EQUAL(count_of(root, "name", "video"), 9 + 4 * 199);
    CHECK_EQUAL(count_of(root, "name", "just once"), 4 * 19);
    const json *about = member(root, "otherData");
    char text[32];
    snprintf(text, sizeof text, "%llu", (unsigned long long)prof_trace_about(trace)->start_unix_ns);
    CHECK_TEXT(text_of(about, "start_unix_ns"), text);
    CHECK_TEXT(text_of(about, "lost"), "0");
    CHECK_TEXT(text_of(about, "program"), prof_trace_about(trace)->program);
    CHECK_TEXT(text_of(about, "clock"), prof_trace_about(trace)->clock);
    CHECK_TEXT(text_of(about, "mode"), "fill");
    snprintf(text, sizeof text, "%llu", (unsigned long long)prof_trace_about(trace)->pid);
    const json *list = member(root, "traceEvents");
    const json *first = list ? metadata(list->child, "thread_sort_index", text, "sort_index") : NULL;
    CHECK_TEXT(first && first->text ? first->text : "", "0"); /* the main thread */
    json_free(root);
    prof_trace_close(trace);
}

TEST(one_event_a_line)
{
    start(1 << 20, PROF_RING);
    all_kinds(1);
    prof_trace *trace = trace_stop();
    trace_bytes m = {NULL, 0, 0, 0};
    CHECK_EQUAL(prof_chrome_stream(trace, trace_sink(&m), NULL), PROF_OK);
    size_t lines = 0, events = 0;
    for (size_t i = 0; i + 1 < m.size; ++i) {
        lines += m.bytes[i] == '\n' && m.bytes[i + 1] == '{';
        events += m.bytes[i] == '"' && i + 5 < m.size && !memcmp(m.bytes + i, "\"ph\":", 5);
    }
    CHECK(events > 20);
    CHECK_EQUAL(lines, events);
    free(m.bytes);
    prof_trace_close(trace);
}

TEST(options_choose)
{
    prof_trace *trace = record_everything();
    int64_t whole = prof_trace_about(trace)->duration_ns;
    prof_chrome_options options;
    memset(&options, 0, sizeof options);
    options.min_duration_ns = 2000;
    json_free(check_written(trace, &options));
    options.min_duration_ns = 0;
    options.tracy = 1;
    json_free(check_written(trace, &options));
    options.tracy = 0;
    trace_list list = trace_read(trace, 0);
    const prof_event *deepest = trace_nth(&list, "nest", 700);
    CHECK(deepest != NULL);
    options.from_ns = deepest ? deepest->start_ns : 0;
    options.to_ns = options.from_ns + 1;
    json *around = check_written(trace, &options);
    CHECK_EQUAL(count_of(around, "name", "nest"), 701);
    json_free(around);
    trace_free(&list);
    options.from_ns = whole / 3;
    options.to_ns = whole / 2;
    json *part = check_written(trace, &options);
    options.from_ns = options.to_ns = 0;
    options.source = PROF_CHROME_SOURCE_ARGS;
    json *all = check_written(trace, &options);
    CHECK(count_of(part, "ph", "X") < count_of(all, "ph", "X"));
    const json *each = first_named(all, "render");
    CHECK(strstr(text_of(member(each, "args"), "source"), "test_chrome.c:") != NULL);
    CHECK_TEXT(text_of(member(each, "args"), "function"), "all_kinds");
    CHECK_TEXT(text_of(member(each, "args"), "source "), "of the user");
    json_free(part);
    json_free(all);

    trace_bytes m = {NULL, 0, 0, 0};
    options.source = PROF_CHROME_SOURCE_NONE;
    CHECK_EQUAL(prof_chrome_stream(trace, trace_sink(&m), &options), PROF_OK);
    json *root = json_parse(m.bytes, m.size);
    CHECK(first_named(root, "render") && !member(first_named(root, "render"), "loc"));
    json_free(root);
    free(m.bytes);

    options.to_ns = 5;
    options.from_ns = 5;
    CHECK_EQUAL(prof_chrome_stream(trace, trace_sink(&m), &options), PROF_INVALID_ARGUMENT);
    CHECK(strstr(prof_error(), "to_ns") != NULL);
    memset(&options, 0, sizeof options);
    options.source = (prof_chrome_source)3;
    CHECK_EQUAL(prof_chrome_stream(trace, trace_sink(&m), &options), PROF_INVALID_ARGUMENT);
    CHECK_EQUAL(prof_chrome_stream(NULL, trace_sink(&m), NULL), PROF_INVALID_ARGUMENT);
    CHECK_EQUAL(prof_chrome_write(NULL, "-", NULL), PROF_INVALID_ARGUMENT);
    prof_trace_close(trace);
}

TEST(an_empty_trace)
{
    start(1 << 20, PROF_RING);
    prof_trace *trace = trace_stop();
    json *root = check_written(trace, NULL);
    CHECK_EQUAL(count_of(root, "ph", "X"), 0);
    CHECK_EQUAL(count_of(root, "name", "process_name"), 1);
    json_free(root);
    prof_trace_close(trace);
}

static void *three_scopes(void *unused)
{
    for (int i = 0; i < 3; ++i) {
        PROFILE_SCOPE("nowhere to go");
    }
    return unused;
}

TEST(losses_show)
{
    pthread_t thread;
    start(128 << 10, PROF_FILL);
    for (int i = 0; i < 50000; ++i) {
        PROFILE_SCOPE("many");
    }
    pthread_create(&thread, NULL, three_scopes, NULL); /* it gets no chunk */
    pthread_join(thread, NULL);
    prof_trace *trace = trace_stop();
    json *root = check_written(trace, NULL);
    unsigned long long lost = prof_trace_about(trace)->lost;
    char text[64];
    CHECK(lost > 0);
    snprintf(text, sizeof text, "%llu", lost);
    CHECK_TEXT(text_of(member(root, "otherData"), "lost"), text);
    snprintf(text, sizeof text, "lost %llu events", lost);
    CHECK_TEXT(text_of(member(first_named(root, "process_labels"), "args"), "labels"), text);
    CHECK_EQUAL(count_of(root, "name", "lost 3 events on other threads"), 1);
    snprintf(text, sizeof text, "lost %llu events", lost - 3);
    CHECK_EQUAL(count_of(root, "name", text), 1);
    json_free(root);
    prof_trace_close(trace);
}

TEST(truncated_scopes_say_so)
{
    start(1 << 20, PROF_RING);
    {
        PROFILE_SCOPE("open");
        PROFILE_SCOPE("open too");
        prof_trace *trace = trace_live();
        json *root = check_written(trace, NULL);
        CHECK_TEXT(text_of(member(first_named(root, "open"), "args"), "truncated"), "end");
        const json *complete = member(member(root, "otherData"), "complete");
        CHECK(complete && complete->type == 'f');
        json_free(root);
        prof_trace_close(trace);
    }
    prof_stop();

    start(128 << 10, PROF_RING); /* begins are overwritten */
    for (int round = 0; round < 2; ++round) {
        PROFILE_SCOPE_F("round %d", round); /* the name of the first is lost */
        PROFILE_SCOPE("outer");
        for (int i = 0; !round && i < 30000; ++i) {
            PROFILE_SCOPE("many");
        }
    }
    prof_trace *trace = trace_stop();
    json *root = check_written(trace, NULL);
    CHECK_TEXT(text_of(member(first_named(root, "outer"), "args"), "truncated"), "begin");
    CHECK(first_named(root, "round 1") && !first_named(root, "round 0"));
    CHECK(strtoul(text_of(member(root, "otherData"), "overwritten_chunks"), NULL, 10) > 0);
    json_free(root);
    prof_trace_close(trace);
}

static void *one_scope(void *unused)
{
    PROFILE_SCOPE("short thread");
    return unused;
}

/* Image of the present session, to be freed. */
static char *saved_image(size_t *size)
{
    const char *path = trace_path("chrome.prof");
    CHECK_EQUAL(prof_save(path), PROF_OK);
    return trace_file_text(path, size);
}

static void forge_thread_ids(char *image, const uint64_t *ids, size_t count)
{
    prof__header header;
    prof__chunk *chunk;
    size_t next = 0;
    memcpy(&header, image, sizeof header);
    for (uint64_t at = 0; at < header.chunk_count * header.chunk_size;
         at += prof__form_bytes(header.chunk_size, at, chunk->form)) {
        chunk = (prof__chunk *)(void *)(image + header.chunk_offset + at);
        memset(chunk->sums, 0, sizeof chunk->sums); /* of the words as they were */
    }
    for (uint64_t i = 0; i < header.chunk_count; ++i) {
        char *words = image + header.chunk_offset + i * header.chunk_size + header.chunk_header_size;
        uint64_t head;
        for (size_t at = 0; at + 24 <= header.chunk_size - header.chunk_header_size; at += 8) {
            memcpy(&head, words + at, 8);
            if (head >> PROF__KIND_SHIFT != PROF__KIND_TRACK) continue;
            memcpy(words + at + 16, &ids[next++ % count], 8);
            at += 16;
        }
    }
    CHECK(next >= count);
}

TEST(thread_ids_are_distinct)
{
    static const uint64_t ids[] = {7, 7, 0, 4294967296u, 1000000000u, 999999999u, UINT64_MAX, 7};
    prof_trace *trace = NULL;
    size_t size;
    start(1 << 20, PROF_RING);
    one_scope(NULL);
    for (int i = 0; i < 12; ++i) {
        pthread_t thread;
        pthread_create(&thread, NULL, one_scope, NULL);
        pthread_join(thread, NULL);
    }
    prof_stop();
    char *image = saved_image(&size);
    forge_thread_ids(image, ids, sizeof ids / sizeof *ids);
    CHECK_EQUAL(prof_trace_open_memory(image, size, &trace), PROF_OK);
    if (trace) {
        CHECK_EQUAL(prof_trace_track_count(trace), 13);
        json *root = check_written(trace, NULL);
        CHECK_EQUAL(count_of(root, "tid", "7"), 3); /* its name, its sort index, its scope */
        CHECK_EQUAL(count_of(root, "tid", "999999999"), 3);
        /* the others have the smallest numbers that are free: Perfetto shows them in titles */
        uint64_t pid = prof_trace_about(trace)->pid;
        int left = 11;
        for (unsigned id = 1; left; ++id) {
            char number[16];
            snprintf(number, sizeof number, "%u", id);
            if (id == 7 || id == pid) continue;
            CHECK_EQUAL(count_of(root, "tid", number), 3);
            --left;
        }
        json_free(root);
    }
    prof_trace_close(trace);
    free(image);
}

/* A fiber's events say on which thread it ran; that thread has a track itself, and keeps its number. */
TEST(fibers_are_tracks_of_their_own)
{
    char number[32];
    start(1 << 20, PROF_RING);
    prof_fiber *named = prof_fiber_create("a fiber"), *unnamed = prof_fiber_create(NULL);
    prof_fiber_switch(named); /* in front of the thread's own */
    PROFILE_MARK("on fiber");
    prof_fiber_switch(unnamed);
    PROFILE_MARK("on fiber");
    prof_fiber_switch(NULL);
    PROFILE_MARK("on thread");
    prof_fiber_destroy(named);
    prof_fiber_destroy(unnamed);
    CHECK_EQUAL(prof_stop(), PROF_OK);
    prof_trace *trace = NULL;
    CHECK_EQUAL(prof_trace_open_live(&trace), PROF_OK);
    json *root = check_written(trace, NULL);
    snprintf(number, sizeof number, "%llu", (unsigned long long)prof_trace_track(trace, 0)->thread_id);
    CHECK_EQUAL(count_of(root, "tid", number), 4); /* two names, sort index, mark */
    CHECK_EQUAL(count_of(root, "tid", "1"), 3);
    CHECK_EQUAL(count_of(root, "tid", "2"), 3);
    json_free(root);
    prof_trace_close(trace);
}

/* 1: nothing but what check_track() knows. A byte is enough to make a message, a lock or a part of a span of it, or to
   give a call site a role. */
static int all_known(const prof_trace *trace)
{
    int known = 1;
    for (size_t i = 0; i < prof_trace_track_count(trace); ++i) {
        trace_list list = trace_read(trace, i);
        for (size_t k = 0; k < list.count; ++k)
            known &= list.events[k].type <= PROF_EVENT_LOST && list.events[k].site->role == PROF_ROLE_NONE;
        trace_free(&list);
    }
    return known;
}

/* Whatever a damaged image holds, the file is strict JSON and says what the cursor says. */
TEST(damaged_images)
{
    size_t size;
    uint64_t random = 88172645463325252u;
    long rounds = trace_times(20, 150, 3000);
    int opened = 0;
    start(256 << 10, PROF_RING);
    all_kinds(1);
    hostile_names();
    frames();
    prof_stop();
    char *image = saved_image(&size), *copy = (char *)malloc(size);
    for (long round = 0; round < rounds && test_failures < 20; ++round) {
        prof_trace *trace = NULL;
        prof__header header;
        memcpy(copy, image, size);
        memcpy(&header, image, sizeof header);
        for (int i = 0; i < 1 + round % 40; ++i) {
            random ^= random << 13, random ^= random >> 7, random ^= random << 17;
            size_t from = round % 2 ? (size_t)header.meta_offset : (size_t)header.chunk_offset;
            copy[from + random % 6000] = (char)(random >> 32);
        }
        if (prof_trace_open_memory(copy, size, &trace)) continue;
        ++opened;
        if (all_known(trace)) {
            json_free(check_written(trace, NULL));
        } else {
            trace_bytes m = {NULL, 0, 0, 0};
            CHECK_EQUAL(prof_chrome_stream(trace, trace_sink(&m), NULL), PROF_OK);
            json_free(json_parse(m.bytes, m.size));
            free(m.bytes);
        }
        prof_trace_close(trace);
    }
    CHECK(opened > 0);
    free(copy);
    free(image);
}

TEST(a_failing_sink)
{
    trace_bytes whole = {NULL, 0, 0, 0};
    start(4 << 20, PROF_FILL);
    for (int i = 0; i < 300; ++i) all_kinds(i);
    prof_trace *trace = trace_stop();
    CHECK_EQUAL(prof_chrome_stream(trace, trace_sink(&whole), NULL), PROF_OK);
    CHECK(whole.size > 500000);
    size_t step = (size_t)trace_times(50021, 4999, 499);
    for (size_t limit = 1; limit < whole.size; limit += step) {
        trace_bytes m = {NULL, 0, 0, limit};
        CHECK_EQUAL(prof_chrome_stream(trace, trace_sink(&m), NULL), PROF_IO);
        CHECK(m.size <= limit && !memcmp(whole.bytes, m.bytes ? m.bytes : whole.bytes, m.size));
        free(m.bytes);
    }
    trace_bytes exact = {NULL, 0, 0, whole.size};
    CHECK_EQUAL(prof_chrome_stream(trace, trace_sink(&exact), NULL), PROF_OK);
    CHECK(exact.size == whole.size && !memcmp(exact.bytes, whole.bytes, whole.size));
    prof_sink none = {NULL, NULL};
    CHECK_EQUAL(prof_chrome_stream(trace, none, NULL), PROF_INVALID_ARGUMENT);
    free(exact.bytes);
    free(whole.bytes);
    prof_trace_close(trace);
}

TEST(files_that_cannot_be_written)
{
    start(1 << 20, PROF_RING);
    all_kinds(1);
    prof_trace *trace = trace_stop();
    CHECK_EQUAL(prof_chrome_write(trace, "/dev/null/folder/trace.json", NULL), PROF_IO);
    CHECK(strstr(prof_error(), "/dev/null/folder/trace.json") != NULL);
    CHECK_EQUAL(prof_chrome_write(trace, "build", NULL), PROF_IO);
    FILE *full = fopen("/dev/full", "w");
    if (full) {
        fclose(full);
        CHECK_EQUAL(prof_chrome_write(trace, "/dev/full", NULL), PROF_IO);
        CHECK(strstr(prof_error(), "/dev/full") && strstr(prof_error(), "No space left"));
    }
    prof_trace_close(trace);
}

/* The header registers itself: prof_stop() and prof_save() know .json. */
TEST(json_is_a_known_extension)
{
    const char *stopped = trace_path("stopped.json"), *saved = trace_path("saved.json");
    prof_config config = trace_config(1 << 20);
    size_t size = 0, size2 = 0;
    config.output = stopped;
    remove(stopped);
    remove(saved);
    trace_start(&config);
    hostile_names();
    CHECK_EQUAL(prof_save(saved), PROF_OK);
    CHECK_EQUAL(prof_stop(), PROF_OK);
    char *text = trace_file_text(stopped, &size), *text2 = trace_file_text(saved, &size2);
    json *root = json_parse(text, size), *root2 = json_parse(text2, size2);
    CHECK_EQUAL(count_of(root, "ph", "X"), 26);
    CHECK_EQUAL(count_of(root2, "ph", "X"), 26);
    CHECK_EQUAL(trace_file_size(trace_path("stopped.json.part")), -1);
    json_free(root);
    json_free(root2);
    free(text);
    free(text2);
}

/* Colors come from an image: no macro sets one. */
TEST(a_name_as_long_as_the_buffer) /* escaped it goes round the writer's buffer once */
{
    static char quotes[32771];
    memset(quotes, '"', sizeof quotes - 1);
    start(4 << 20, PROF_FILL);
    for (int i = 0; i < 3; ++i) {
        PROFILE_SCOPE(quotes);
    }
    prof_trace *trace = trace_stop();
    json_free(check_written(trace, NULL));
    prof_trace_close(trace);
}

TEST(names_that_viewers_have_taken)
{
    CHECK(prof__chrome_taken("AbortPostTaskCallback") && prof__chrome_taken("thread_name"));
    CHECK(prof__chrome_taken("Profile") && prof__chrome_taken("ProfileChunk") && prof__chrome_taken("firstPaint"));
    CHECK(!prof__chrome_taken("") && !prof__chrome_taken("A") && !prof__chrome_taken("zebra"));
    CHECK(!prof__chrome_taken("Profiles") && !prof__chrome_taken("paint") && !prof__chrome_taken("Profil"));
}

TEST(colors_are_names_that_the_viewer_knows)
{
    CHECK_TEXT(prof__chrome_color(0x000001), "black");
    CHECK_TEXT(prof__chrome_color(0xFFFFFE), "white");
    CHECK_TEXT(prof__chrome_color(0xB80404), "terrible");
    CHECK_TEXT(prof__chrome_color(0x007F00), "good");
    CHECK_TEXT(prof__chrome_color(0x0000F0), "vsync_highlight_color");
}

/* speedscope would put the second of two calls of one name inside the first if both shared an instant. */
TEST(neighbours_of_one_name_do_not_touch)
{
    start(1 << 20, PROF_RING);
    for (int i = 0; i < 20; ++i) {
        PROFILE_STAGE("stage");
        trace_next_instant();
        PROFILE_NEXT("stage");
        trace_next_instant();
    }
    prof_trace *trace = trace_stop();
    json *root = check_written(trace, NULL);
    const json *at = first_named(root, "stage");
    double end = 0;
    size_t count = 0;
    for (; at && !strcmp(text_of(at, "name"), "stage"); at = at->next, ++count) {
        double next = strtod(text_of(at, "ts"), NULL);
        CHECK(next > end);
        end = next + strtod(text_of(at, "dur"), NULL);
    }
    CHECK_EQUAL(count, 40);
    json_free(root);
    prof_trace_close(trace);
}

/* Arguments of marks and spans; those of a flow are on its slice, or, inside a scope, on an instant. */
TEST(arguments_of_events)
{
    start(1 << 20, PROF_RING);
    PROFILE_MARK_ARGS("marked", PROF_ARG_I("rows", 7), PROF_ARG_S("text", "a \"quoted\" one"));
    PROFILE_SPAN_BEGIN_ARGS("request", 1, PROF_ARG_S("path", "/"));
    PROFILE_FLOW_OUT_ARGS(5, PROF_ARG_I("queue", 1));
    {
        PROFILE_SCOPE_AS(scope, "scope");
        PROFILE_FLOW_IN_ARGS(5, PROF_ARG_I("queue", 2));
        PROFILE_ARG_TO_I(scope, "mine", 3);
    }
    {
        PROFILE_SCOPE("alone");
        PROFILE_FLOW_OUT_ARGS(6, PROF_ARG_I("queue", 3));
    }
    PROFILE_SPAN_END_ARGS("request", 1, PROF_ARG_I("status", 200));
    prof_trace *trace = trace_stop();
    trace_bytes m = {NULL, 0, 0, 0};
    CHECK_EQUAL(prof_chrome_stream(trace, trace_sink(&m), NULL), PROF_OK);
    json *root = json_parse(m.bytes, m.size);
    const json *mark = member(first_named(root, "marked"), "args"), *span = member(first_named(root, "request"), "args");
    CHECK_TEXT(text_of(mark, "rows"), "7");
    CHECK_TEXT(text_of(mark, "text"), "a \"quoted\" one");
    CHECK_TEXT(text_of(span, "path"), "/");
    CHECK_TEXT(text_of(span, "status"), "200");
    CHECK_TEXT(text_of(member(first_named(root, "scope"), "args"), "mine"), "3");
    int slices = 0, instants = 0;
    for (const json *at = first_named(root, "flow"); at; at = at->next) {
        const char *phase = text_of(at, "ph");
        if (strcmp(text_of(at, "name"), "flow") || (strcmp(phase, "X") && strcmp(phase, "i"))) continue;
        *(*phase == 'X' ? &slices : &instants) += atoi(text_of(member(at, "args"), "queue")) * 10 + 1;
    }
    CHECK_EQUAL(slices, 11);
    CHECK_EQUAL(instants, 52);
    json_free(root);
    free(m.bytes);
    prof_trace_close(trace);
}

/* A scope that ends after the one around it is an asynchronous slice: those of a thread lie inside one another. */
TEST(overlaps_are_asynchronous)
{
    start(1 << 20, PROF_RING);
    PROFILE_BEGIN("around");
    PROFILE_BEGIN("overlaps");
    PROFILE_ARG_I("rows", 7);
    PROFILE_ARG_S("id", "mine");
    trace_next_instant();
    PROFILE_END("around");
    trace_next_instant();
    PROFILE_END("overlaps");
    prof_trace *trace = trace_stop();
    trace_bytes m = {NULL, 0, 0, 0};
    CHECK_EQUAL(prof_chrome_stream(trace, trace_sink(&m), NULL), PROF_OK);
    json *root = json_parse(m.bytes, m.size);
    const json *around = first_named(root, "around"), *begin = first_named(root, "overlaps");
    CHECK_TEXT(text_of(around, "ph"), "X");
    CHECK_TEXT(text_of(begin, "ph"), "b");
    CHECK_TEXT(text_of(member(begin, "args"), "rows"), "7");
    CHECK_TEXT(text_of(member(begin, "args"), "id"), "mine");
    CHECK(member(member(begin, "args"), "span id") != NULL);
    const json *end = begin->next;
    while (end && strcmp(text_of(end, "ph"), "e")) end = end->next;
    CHECK(end && !strcmp(text_of(end, "name"), "overlaps") && !strcmp(text_of(end, "id"), text_of(begin, "id")));
    double from = strtod(text_of(begin, "ts"), NULL), until = end ? strtod(text_of(end, "ts"), NULL) : 0;
    double over = strtod(text_of(around, "ts"), NULL) + strtod(text_of(around, "dur"), NULL);
    CHECK(from < over && over < until);
    json_free(root);
    free(m.bytes);
    prof_trace_close(trace);
}

/* Returns 1 if a viewer finds the end elsewhere. It adds doubles, which i386 does with more digits, unless told. */
static int is_elsewhere(double start, double duration, double end)
{
    volatile double sum = start + duration, wanted = end;
    return sum < wanted || sum > wanted;
}

/* Ends that coincide, at all distances from the start: the sums of the viewers are right. */
TEST(durations_add_up)
{
    uint64_t random = 2463534242u;
    long rounds = trace_times(2000, 60000, 5000000), longer = 0, devtools = 0, speedscope = 0;
    for (long round = 0; round < rounds && test_failures < 20; ++round) {
        char text[80];
        random ^= random << 13, random ^= random >> 7, random ^= random << 17;
        int64_t start_ns = (int64_t)(random >> (17 + random % 40)), duration = (int64_t)((random >> 20) % 10000000) + 1;
        int64_t origin = round % 3 ? (int64_t)(random % 200000) : 0;
        start_ns += origin;
        volatile double start_us = (double)start_ns / 1e3, end_us = (double)(start_ns + duration) / 1e3;
        double origin_us = (double)origin / 1e3, plain;
        *prof__chrome_exact_duration(text, start_ns, duration, origin_us) = 0;
        plain = strtod(text, NULL);
        CHECK_EQUAL(nanoseconds(text, 0), duration);
        devtools += is_elsewhere(start_us, plain, end_us);
        start_us -= origin_us;
        end_us -= origin_us;
        if (start_us >= (double)duration / 1e3) CHECK(!is_elsewhere(start_us, plain, end_us));
        speedscope += is_elsewhere(start_us, plain, end_us);
        longer += nanoseconds(text, 1) < 0;
    }
    CHECK(longer > rounds / 20 && longer < rounds / 2);
    CHECK(devtools < rounds / 10); /* there is not always a number that suits both, */
    CHECK(speedscope < rounds / 50); /* or even one, for a scope that is longer than what came before it */
}

/* Numbers of 1 to 17 digits, and those next to them, also outside the range where they are written with integers. */
TEST(exact_numbers)
{
    uint64_t random = 88172645463325252u;
    long rounds = trace_times(2000, 30000, 5000000);
    for (long round = 0; round < rounds && test_failures < 20; ++round) {
        char text[64], wanted[64];
        double value;
        uint64_t bits;
        random ^= random << 13, random ^= random >> 7, random ^= random << 17;
        value = (double)(random >> (11 + random % 50));
        for (uint64_t i = random >> 5 & 15; i; --i) value /= 10;
        memcpy(&bits, &value, sizeof bits);
        bits += random >> 9 & 3;
        memcpy(&value, &bits, sizeof value);
        *prof__chrome_exact_number(text, value) = 0;
        wanted[prof__double_text(wanted, value)] = 0;
        CHECK_TEXT(text, wanted);
    }
}

TEST_MAIN
