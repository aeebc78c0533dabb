/* Records one of several traces and writes it as PREFIX.json, PREFIX.csv and PREFIX.prof: make_trace KIND PREFIX.

     plain     a small program: threads, frames, counters, marks, arguments, stages
     hostile   names and arguments that a careless writer would break on
     coarse    many names on a clock of slow ticks: scopes of no length, ends that coincide
     repeat    the same with few names
     partial   scopes without begin or end
     full      losses
     notes     steps, throughputs, messages, flows of all kinds
     objects   spans of all kinds, tasks, frames with gaps, memory, locks
     devices   three devices: with two rows and arrows to them, of a clock that drifts, without a clock pair */
#define PROF_IMPLEMENTATION
#include "../../prof_chrome.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void work(unsigned amount)
{
    volatile unsigned sum = 0;
    for (unsigned i = 0; i < amount * 100; i++) sum += i;
    (void)sum;
}

static void parse(int n)
{
    PROFILE_FUNCTION();
    PROFILE_ARG_I("line", n);
    PROFILE_ARG_S("file", "level.map");
    work(20);
    for (int i = 0; i < 3; i++) {
        PROFILE_SCOPE_C("token", "parser");
        work(3);
    }
}

static void upload(int n)
{
    PROFILE_SCOPE_C("upload", "io");
    PROFILE_ARG_U("bytes", (uint64_t)n * 4096);
    PROFILE_ARG_U("greatest", UINT64_MAX);
    PROFILE_ARG_D("ratio", 0.1 * n);
    PROFILE_ARG_D("endless", 1e308 * 10);
    PROFILE_ARG_B("last", n == 9);
    PROFILE_ARG_P("buffer", (void *)(uintptr_t)0x7f001234u);
    work(30);
}

static void stages(void)
{
    PROFILE_STAGE("read");
    work(5);
    PROFILE_NEXT("decode");
    work(8);
    PROFILE_NEXT("decode"); /* twice the same, without a gap */
    work(4);
    PROFILE_NEXT("write");
    work(2);
}

static void *loader(void *unused)
{
    PROFILE_THREAD("loader");
    for (int i = 0; i < 10; i++) {
        PROFILE_SCOPE("load");
        parse(i);
        upload(i);
        stages();
        PROFILE_COUNTER("files", i);
    }
    return unused;
}

static void *helper(void *unused)
{
    PROFILE_SCOPE("help");
    PROFILE_COUNTER("files", 100);
    work(100);
    return unused;
}

static void plain(void)
{
    pthread_t threads[3];
    pthread_create(&threads[0], NULL, loader, NULL);
    pthread_create(&threads[1], NULL, helper, NULL);
    pthread_create(&threads[2], NULL, helper, NULL);
    for (int i = 0; i < 20; i++) {
        PROFILE_FRAME("game");
        PROFILE_SCOPE("frame");
        {
            PROFILE_SCOPE("update");
            PROFILE_COUNTER("entities", 100 + i * i);
            PROFILE_COUNTER("frame time", 16.6 + 0.25 * i);
            work(40);
            if (i == 7) PROFILE_MARK("level done");
        }
        {
            PROFILE_SCOPE_F("draw pass %d", i % 3);
            work(60);
            if (i % 5 == 0) PROFILE_FRAME("physics");
        }
    }
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
}

static void hostile(void)
{
    char quotes[2000];
    memset(quotes, '"', sizeof quotes - 1);
    quotes[sizeof quotes - 1] = 0;
    PROFILE_THREAD("thread \"1\" \\ \xC3\xA9 \xF0\x9F\x98\x80");
    for (int i = 0; i < 3; i++) {
        PROFILE_SCOPE_C("quote \" backslash \\ newline \n tab \t bell \a delete \x7f", "cat \" egory,second");
        PROFILE_ARG_S("key \" \n", "value \" \\ \n \x01");
        PROFILE_ARG_S("", "no key");
        PROFILE_ARG_S("truncated", "taken");
        PROFILE_SCOPE("\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\xEF\xBF\xBF");
        PROFILE_SCOPE("not UTF-8: \xFF \xC0\xAF \xED\xA0\x80 \xE2\x82");
        PROFILE_ARG_S("not UTF-8 \xFE", "\xF4\x90\x80\x80 \xF0\x9F\x98");
        PROFILE_ARG_S("emoji", "\xF0\x9F\x98\x80");
        PROFILE_SCOPE("");
        PROFILE_SCOPE_DYNAMIC(quotes);
        PROFILE_ARG_S("long", quotes);
        PROFILE_SCOPE("__proto__");
        PROFILE_ARG_I("constructor", 2);
        PROFILE_SCOPE("</script><b>&amp;");
        PROFILE_SCOPE_C("Profile", "blink.user_timing");
        PROFILE_SCOPE_C("ProfileChunk", "trace_event_overhead");
        PROFILE_SCOPE("CpuProfile");
        PROFILE_SCOPE("Layout");
        PROFILE_SCOPE("Paint");
        PROFILE_SCOPE("FunctionCall");
        PROFILE_SCOPE("TracingStartedInPage");
        PROFILE_MARK("navigationStart");
        PROFILE_MARK("WebSocketSend");
        PROFILE_SCOPE_C("ends with \\", "\\");
        PROFILE_ARG_S("\\", "\\\\");
        PROFILE_SCOPE("%s %n");
        PROFILE_MARK("mark \" \xFF");
        PROFILE_MARK("frame");
        PROFILE_COUNTER("count \" \n \xF0\x9F\x98\x80", i);
        PROFILE_COUNTER("", i);
        PROFILE_COUNTER("great", INT64_MAX - i);
        PROFILE_COUNTER("small", 1e-300 * (i + 1));
        PROFILE_COUNTER("not a number", 1e308 * 10 * (i - 1));
        PROFILE_FRAME("frames \" \\");
        work(10);
    }
}

static void deep(int depth)
{
    PROFILE_SCOPE_F("deep %d", depth);
    PROFILE_ARG_I("depth", depth);
    if (depth) deep(depth - 1);
    work(1);
}

static void many(void)
{
    for (int i = 0; i < 300; i++) {
        PROFILE_SCOPE_F("item %d", i);
        {
            PROFILE_SCOPE_F("first %d", i);
            PROFILE_ARG_I("number", i);
            if (i % 7 == 0) work(1);
        }
        {
            PROFILE_SCOPE_F("second %d", i);
            if (i % 3 == 0) deep(i % 5);
        }
        PROFILE_FRAME("quick");
    }
    deep(40);
}

static void repeat(int depth)
{
    PROFILE_SCOPE("repeat");
    for (int i = 0; i < 20; i++) {
        PROFILE_SCOPE("same");
        PROFILE_SCOPE("inside");
        stages();
        if (i % 8 == 0 && depth) repeat(depth - 1);
    }
}

static void flood(int count) /* with a text that fills the buffer sooner: viewers take long for many scopes */
{
    for (int i = 0; i < count; i++) {
        PROFILE_SCOPE("flood");
        PROFILE_ARG_S("text", "a hundred bytes, or thereabouts, that do nothing else than take room in the smallest buffer there is");
    }
}

static void fail(const char *what)
{
    fprintf(stderr, "make_trace: %s: %s\n", what, prof_error());
    exit(1);
}

/* The same image as from a clock that moves every 2^bits ticks. */
static void slow_clock(char *image, int bits)
{
    prof__header header;
    memcpy(&header, image, sizeof header);
    for (uint64_t i = 0; i < header.chunk_count; i++) {
        char *chunk = image + header.chunk_offset + i * header.chunk_size;
        prof__chunk about;
        memcpy(&about, chunk, sizeof about);
        memset(about.sums, 0, sizeof about.sums); /* of the words as they were */
        memcpy(chunk, &about, sizeof about);
        for (size_t at = header.chunk_header_size, words; at < header.chunk_size; at += words * 8) {
            uint64_t head, now;
            memcpy(&head, chunk + at, 8);
            words = prof__record_words(head, (header.chunk_size - at) / 8);
            if (!(head >> PROF__KIND_SHIFT)) break;
            if (!prof__record_timed(head)) continue;
            now = (about.base.tick + (head & PROF__TICK_MASK)) >> bits << bits;
            if (now < about.base.tick) now = about.base.tick;
            head = (head & ~PROF__TICK_MASK) | (now - about.base.tick);
            memcpy(chunk + at, &head, 8);
        }
    }
}

/* Reads what was recorded so far, and writes it to PREFIX.prof. */
static prof_trace *trace_now(int clock_bits, const char *prefix)
{
    prof_trace *trace = NULL;
    void *image;
    size_t size;
    char path[1024];
    FILE *file;
    if (prof__image_copy(&image, &size)) fail("copy");
    if (clock_bits) slow_clock((char *)image, clock_bits);
    if (prof_trace_open_memory(image, size, &trace)) fail("read");
    snprintf(path, sizeof path, "%s.prof", prefix);
    file = fopen(path, "wb");
    if (!file || fwrite(image, 1, size, file) != size || fclose(file)) fail(path);
    free(image);
    return trace;
}

static prof_trace *stopped_trace(int clock_bits, const char *prefix)
{
    if (prof_stop()) fail("prof_stop");
    return trace_now(clock_bits, prefix);
}

static void write_both(const prof_trace *trace, const char *prefix)
{
    char path[1024];
    prof_chrome_options chrome;
    memset(&chrome, 0, sizeof chrome);
    if (!prof_trace_track_count(trace)) fail("nothing was recorded");
    snprintf(path, sizeof path, "%s.json", prefix);
    chrome.allocations = 1; /* expected.mjs has each, from the CSV */
    if (prof_chrome_write(trace, path, &chrome)) fail(path);
    snprintf(path, sizeof path, "%s.csv", prefix);
    if (prof_csv_write(trace, path)) fail(path);
}

static void *consume(void *number)
{
    size_t i = (size_t)number;
    PROFILE_THREAD("consumer");
    {
        PROFILE_STEP("consume", i);
        work(5);
        PROFILE_FLOW_STEP_NAMED("item", i);
        {
            PROFILE_SCOPE("inside");
            work(3);
            PROFILE_FLOW_IN_NAMED("item", i);
            PROFILE_FLOW_IN(99); /* from nowhere */
            work(3);
        }
    }
    PROFILE_FLOW_IN(0xfedcba9876543210u); /* in no scope, and several of them */
    PROFILE_LOG(PROF_LOG_WARNING, "item %zu of \"%s\": %.1f %%", i, "all", 12.5 * (double)i);
    return NULL;
}

static void notes(void)
{
    pthread_t threads[4];
    PROFILE_FLOW_OUT(0xfedcba9876543210u);
    PROFILE_FLOW_OUT(77); /* to nowhere, from no scope */
    for (size_t i = 0; i < 4; i++) {
        PROFILE_THROUGHPUT("produce", 1000 * i);
        PROFILE_FLOW_OUT_NAMED("item", i % 2);
        PROFILE_FLOW_OUT(78); /* to nowhere */
        if (pthread_create(&threads[i], NULL, consume, (void *)(i % 2)) || pthread_join(threads[i], NULL)) fail("thread");
    }
    {
        PROFILE_SCOPE("last");
        PROFILE_FLOW_IN_NAMED("item", 0);
        PROFILE_LOG(PROF_LOG_ERROR, "%s", "");
    }
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static prof_task *task;

/* Ends what the main thread has begun, and begins something for it. */
static void *finish(void *number)
{
    uint64_t i = (uint64_t)(uintptr_t)number;
    PROFILE_THREAD("finisher");
    PROFILE_SCOPE("finish");
    PROFILE_SPAN_MARK("request", i);
    PROFILE_MARK_REACH("checkpoint", PROF_MARK_GLOBAL);
    PROFILE_MARK_REACH("phase", PROF_MARK_PROCESS);
    work(5);
    for (int k = 0; k < 3; k++) {
        PROFILE_LOCK_WAIT(&mutex, "table");
        pthread_mutex_lock(&mutex);
        PROFILE_LOCK_ACQUIRE(&mutex, "table");
        work(2);
        PROFILE_LOCK_RELEASE(&mutex, "table");
        pthread_mutex_unlock(&mutex);
    }
    PROFILE_SPAN_END("request", i);
    PROFILE_SPAN_BEGIN_C("answer", i, "net \" \\");
    PROFILE_FREE_POOL(0x1000 + i * 64, "textures");
    return NULL;
}

static void objects(void)
{
    pthread_t threads[6];
    prof_domain *domain = prof_domain_create("engine");
    prof_frame *frame = prof_frame_create(domain, "present");
    prof_counter *counter = prof_counter_create(domain, "queued");
    task = prof_task_create(domain, "bake");
    PROFILE_THREAD("main");
    PROFILE_SPAN_END("request", 1000); /* its begin was never recorded */
    prof_task_start(task);
    for (size_t i = 0; i < 6; i++) {
        PROFILE_SPAN_BEGIN("request", i);
        PROFILE_ALLOC_POOL(0x1000 + i * 64, 1000000 * (i + 1), "textures");
        PROFILE_ALLOC(0x9000 + i * 64, 64);
        prof_counter_add(counter, 1);
        work(4);
    }
    for (size_t i = 0; i < 6; i++) {
        prof_frame_start(frame);
        if (pthread_create(&threads[i], NULL, finish, (void *)(uintptr_t)i)) fail("thread");
        work(3);
        prof_frame_stop(frame);
        work(1);
    }
    prof_task_start(task); /* within itself */
    for (size_t i = 0; i < 6; i++) {
        pthread_join(threads[i], NULL);
        if (i < 4) PROFILE_SPAN_END_C("answer", i, "net \" \\"); /* the last two have no end */
        PROFILE_FREE(0x9000 + i * 64);
        prof_counter_sub(counter, 1);
    }
    prof_task_stop(task);
    prof_task_stop(task);
    PROFILE_SPAN_MARK("request", 77); /* of none */
    PROFILE_SPAN_BEGIN("", 1);
    PROFILE_SPAN_END("", 1);
}

/* A millisecond ago and more, in ns: what the devices did is known only now. */
static void devices(void)
{
    prof_device_clock tenth;
    memset(&tenth, 0, sizeof tenth);
    tenth.hz = 100000000;
    uint64_t begin = prof_host_ns();
    prof_device *gpu = prof_device_create("gpu \" 0", NULL), *nic = prof_device_create("nic", &tenth),
                *lost = prof_device_create("no pairs", NULL);
    prof_device_row *compute = prof_device_row_create(gpu, "compute"), *copy = prof_device_row_create(gpu, "copy");
    prof_device_row *send = prof_device_row_create(nic, "send");
    PROFILE_THREAD("main");
    prof_device_sync(gpu, begin, begin);
    for (uint64_t i = 0; i < 8; i++) {
        PROFILE_SCOPE("submit");
        PROFILE_FLOW_OUT(100 + i);
        work(200);
    }
    work(2000);
    uint64_t end = prof_host_ns(), step = (end - begin) / 40;
    prof_device_sync(gpu, end, end);
    prof_device_sync(nic, end / 10, end);
    for (uint64_t i = 0; i < 8; i++) {
        prof_arg args[2];
        prof_device_event event;
        memset(args, 0, sizeof args);
        memset(&event, 0, sizeof event);
        args[0].key = "layer";
        args[0].value.type = PROF_VALUE_INT;
        args[0].value.as.i = (int64_t)i;
        args[1].key = "shape \" \\";
        args[1].value.type = PROF_VALUE_STRING;
        args[1].value.as.string = "3x3";
        event.name = i % 2 ? "matmul" : "softmax";
        event.start = begin + step * (20 + 2 * i);
        event.end = event.start + step;
        event.flow = 100 + i;
        event.args = args;
        event.arg_count = 2;
        prof_device_record(compute, &event);
        prof_device_scope(compute, "inside", event.start + 10, event.start + step / 2);
        prof_device_counter(compute, "occupancy", event.start, (int64_t)(10 * i));
    }
    prof_device_event of_nothing; /* nobody began its flow */
    memset(&of_nothing, 0, sizeof of_nothing);
    of_nothing.name = "late";
    of_nothing.start = begin + step * 37;
    of_nothing.end = of_nothing.start + step;
    of_nothing.flow = 99;
    prof_device_record(compute, &of_nothing);
    of_nothing.type = PROF_EVENT_MARK;
    of_nothing.name = "later";
    of_nothing.start = begin + step * 39;
    of_nothing.flow = 98;
    prof_device_record(compute, &of_nothing);
    prof_device_scope(copy, "upload", begin + step * 10, begin + step * 30);
    prof_device_scope(copy, "overlaps", begin + step * 20, begin + step * 35);
    prof_device_mark(copy, "fence", begin + step * 22);
    prof_device_counter_double(copy, "GB/s", begin + step * 22, 12.5);
    prof_device_scope(send, "packet", (begin + step * 15) / 10, (begin + step * 16) / 10);
    prof_device_scope(prof_device_row_create(lost, "row"), "guess", 1000, 2000);
}

/* More names than a function of JavaScript takes arguments. */
static void names(void)
{
    int i;
    for (i = 0; i < 150000; i++) {
        PROFILE_SCOPE_F("name %d", i);
    }
}

int main(int argc, char **argv)
{
    const char *kind = argc == 3 ? argv[1] : "";
    prof_config config;
    prof_trace *trace = NULL;
    memset(&config, 0, sizeof config);
    config.buffer_size = !strcmp(kind, "partial") || !strcmp(kind, "full") ? 128 << 10 : !strcmp(kind, "names") ? 32 << 20 : 4 << 20;
    if (!strcmp(kind, "full")) config.mode = PROF_FILL;
    if (prof_start(&config)) fail("prof_start");
    if (!strcmp(kind, "plain")) {
        plain();
        trace = stopped_trace(0, argv[2]);
    } else if (!strcmp(kind, "hostile")) {
        hostile();
        trace = stopped_trace(0, argv[2]);
    } else if (!strcmp(kind, "coarse")) {
        many();
        trace = stopped_trace(11, argv[2]);
    } else if (!strcmp(kind, "repeat")) {
        plain();
        repeat(2);
        trace = stopped_trace(11, argv[2]);
    } else if (!strcmp(kind, "partial")) {
        {
            PROFILE_SCOPE("begin is lost");
            PROFILE_SCOPE("the same inside");
            flood(5000);
        }
        PROFILE_SCOPE("never ends");
        PROFILE_SCOPE("the same inside");
        work(10);
        trace = trace_now(0, argv[2]);
    } else if (!strcmp(kind, "full")) {
        flood(5000);
        trace = stopped_trace(0, argv[2]);
    } else if (!strcmp(kind, "notes")) {
        notes();
        trace = stopped_trace(0, argv[2]);
    } else if (!strcmp(kind, "objects")) {
        objects();
        trace = stopped_trace(0, argv[2]);
    } else if (!strcmp(kind, "devices")) {
        devices();
        trace = stopped_trace(0, argv[2]);
    } else if (!strcmp(kind, "names")) {
        names();
        trace = stopped_trace(0, argv[2]);
    } else {
        fprintf(stderr, "usage: make_trace plain|hostile|coarse|repeat|partial|full|notes|objects|devices|names PREFIX\n");
        return 2;
    }
    write_both(trace, argv[2]);
    prof_trace_close(trace);
    return 0;
}
