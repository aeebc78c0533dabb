/* Records one of several traces and writes it as PREFIX.json and PREFIX.csv: make_trace KIND PREFIX.

     plain     a small program: threads, frames, counters, marks, arguments, stages
     hostile   names and arguments that a careless writer would break on
     coarse    many names on a clock of slow ticks: scopes of no length, ends that coincide
     repeat    the same with few names
     partial   scopes without begin or end
     full      losses
     notes     steps, throughputs, messages, flows of all kinds */
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
        PROFILE_SCOPE_S(quotes);
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
    for (int i = 0; i < 50; i++) {
        PROFILE_SCOPE("same");
        PROFILE_SCOPE("inside");
        stages();
        if (i % 8 == 0 && depth) repeat(depth - 1);
    }
}

static void flood(int count)
{
    for (int i = 0; i < count; i++) {
        PROFILE_SCOPE("flood");
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

static prof_trace *stopped_trace(int clock_bits)
{
    prof_trace *trace = NULL;
    void *image;
    size_t size;
    if (prof_stop()) fail("prof_stop");
    if (prof__image_copy(&image, &size)) fail("copy");
    if (clock_bits) slow_clock((char *)image, clock_bits);
    if (prof_trace_memory(image, size, &trace)) fail("read");
    free(image);
    return trace;
}

static void write_both(const prof_trace *trace, const char *prefix)
{
    char path[1024];
    snprintf(path, sizeof path, "%s.json", prefix);
    if (prof_chrome_write(trace, path, NULL)) fail(path);
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
        PROFILE_FLOW_STEP_N("item", i);
        {
            PROFILE_SCOPE("inside");
            work(3);
            PROFILE_FLOW_IN_N("item", i);
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
        PROFILE_FLOW_OUT_N("item", i % 2);
        PROFILE_FLOW_OUT(78); /* to nowhere */
        if (pthread_create(&threads[i], NULL, consume, (void *)(i % 2)) || pthread_join(threads[i], NULL)) fail("thread");
    }
    {
        PROFILE_SCOPE("last");
        PROFILE_FLOW_IN_N("item", 0);
        PROFILE_LOG(PROF_LOG_ERROR, "%s", "");
    }
}

int main(int argc, char **argv)
{
    const char *kind = argc == 3 ? argv[1] : "";
    prof_config config;
    prof_trace *trace = NULL;
    memset(&config, 0, sizeof config);
    config.buffer_size = !strcmp(kind, "partial") || !strcmp(kind, "full") ? 128 << 10 : 4 << 20;
    if (!strcmp(kind, "full")) config.mode = PROF_FILL;
    if (prof_start(&config)) fail("prof_start");
    if (!strcmp(kind, "plain")) {
        plain();
        trace = stopped_trace(0);
    } else if (!strcmp(kind, "hostile")) {
        hostile();
        trace = stopped_trace(0);
    } else if (!strcmp(kind, "coarse")) {
        many();
        trace = stopped_trace(11);
    } else if (!strcmp(kind, "repeat")) {
        plain();
        repeat(2);
        trace = stopped_trace(11);
    } else if (!strcmp(kind, "partial")) {
        {
            PROFILE_SCOPE("begin is lost");
            PROFILE_SCOPE("the same inside");
            flood(20000);
        }
        PROFILE_SCOPE("never ends");
        PROFILE_SCOPE("the same inside");
        work(10);
        if (prof_trace_live(&trace)) fail("live");
    } else if (!strcmp(kind, "full")) {
        flood(20000);
        trace = stopped_trace(0);
    } else if (!strcmp(kind, "notes")) {
        notes();
        trace = stopped_trace(0);
    } else {
        fprintf(stderr, "usage: make_trace plain|hostile|coarse|repeat|partial|full|notes PREFIX\n");
        return 2;
    }
    write_both(trace, argv[2]);
    prof_trace_close(trace);
    return 0;
}
