/* prof_system.h: samples of threads. Images that are built word by word, of which every sample is known; programs that
   spend known shares of their time in two functions; threads, libraries and forks; and what the system refuses. */
#define PROF_IMPLEMENTATION
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "../prof_system.h"
#include "../prof_read.h"
#include "test.h"
#include "trace.h"
#include "image.h"

/* -- images: ticks are nanoseconds, time 0 is CLOCK_MONOTONIC START_MONOTONIC -- */

/* The bytes of an EVENT, a number at a time. */
typedef struct numbers {
    unsigned char bytes[600];
    size_t size;
} numbers;

static void number(numbers *to, uint64_t value)
{
    to->size = (size_t)(prof__pack_integer(to->bytes + to->size, value) - to->bytes);
}

static void signed_number(numbers *to, int64_t value)
{
    number(to, (uint64_t)value << 1 ^ (0 - ((uint64_t)value >> 63)));
}

static numbers samples_head(uint64_t lost, uint64_t dropped)
{
    numbers all;
    memset(&all, 0, sizeof all);
    number(&all, 2000);
    number(&all, lost);
    number(&all, dropped);
    return all;
}

static void samples_event(image *im, uint32_t processor, uint64_t ns, const numbers *all)
{
    size_t words = all->size / 8 + 1;
    put(im, head(PROF__KIND_EVENT, 0, 100));
    put(im, (uint64_t)processor << 8 | PROF__DEVICE_SAMPLES);
    put(im, START_MONOTONIC + ns);
    put(im, (uint64_t)PROF__KIND_DATA << PROF__KIND_SHIFT | (uint64_t)PROF_VALUE_STRING << 32 | words);
    for (size_t i = 0; i < words; ++i) put(im, 0);
    memcpy(im->word - words, all->bytes, all->size);
}

/* An image with a track of the thread 7, which has a scope from 10 to 1000. */
static image samples_image(void)
{
    image im = image_new(400, 1, 200);
    uint32_t work = site(&im, "work");
    chunk(&im, 0, 1, START_TICK);
    track_on(&im, string(&im, "main"), 1, 1, 7);
    begin(&im, work, START_TICK + 10);
    end(&im, work, START_TICK + 1000);
    return im;
}

/* Writes samples as text: "100@2:3 2 1" is one at the time 100, on processor 2, of the frames 3, 2 and 1. */
static const char *samples_text(const prof_trace *trace, size_t track)
{
    static char text[1000];
    size_t count, at = 0;
    const prof_sample *sample = prof_track_samples(trace, track, &count);
    text[0] = 0;
    for (size_t i = 0; i < count; ++i, ++sample) {
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%lld@%d:", i ? ", " : "", (long long)sample->time_ns,
                               (int)sample->processor);
        for (uint32_t j = 0; j < sample->frame_count; ++j)
            at += (size_t)snprintf(text + at, sizeof text - at, "%s%llx", j ? " " : "",
                                   (unsigned long long)sample->frames[j]);
    }
    return text;
}

TEST(samples_of_an_image)
{
    image im = samples_image();
    numbers all = samples_head(0, 0);
    number(&all, 3), number(&all, 0), signed_number(&all, 7), number(&all, 50); /* thread 7, from 100 + 50 on */
    signed_number(&all, 0x1000), signed_number(&all, 0x20), signed_number(&all, -0x800);
    number(&all, 3), number(&all, 2), signed_number(&all, 0), number(&all, 10);
    signed_number(&all, 1);
    number(&all, 3), number(&all, 3), signed_number(&all, 0), number(&all, 10);
    number(&all, 1), number(&all, 0), signed_number(&all, 5), number(&all, 10); /* thread 12, which has no track */
    signed_number(&all, 0x7000);
    samples_event(&im, 2, 100, &all);
    all = samples_head(4, 3);
    number(&all, 1), number(&all, 0), signed_number(&all, 7), number(&all, 0);
    signed_number(&all, 0x1000);
    samples_event(&im, 0, 20, &all);
    prof_trace *trace = image_read(&im);
    const prof_trace_info *info = prof_trace_about(trace);
    CHECK_TEXT(samples_text(trace, 0), "20@0:1000, 150@2:820 1020 1000, 160@2:1021 1020 1000, 170@2:1021 1020 1000");
    CHECK_TEXT(samples_text(trace, PROF_NO_TRACK), "180@2:7000");
    CHECK_EQUAL(info->samples, 5);
    CHECK_EQUAL(info->samples_lost, 7);
    CHECK_EQUAL(info->samples_dropped, 3);
    CHECK_EQUAL(info->sample_period_ns, 2000);
    CHECK_EQUAL(info->unknown, 0);
    size_t count = 1;
    const prof_sample *samples = prof_track_samples(trace, 0, &count);
    CHECK(samples[2].frames == samples[3].frames && samples[1].frames != samples[2].frames);
    CHECK_EQUAL(samples[0].thread_id, 7);
    CHECK(!prof_track_samples(trace, 1, &count));
    CHECK_EQUAL(count, 0);
    CHECK(!prof_track_samples(trace, 0, NULL));
    trace_bytes text;
    memset(&text, 0, sizeof text);
    CHECK_EQUAL(prof_summary_stream(trace, trace_sink(&text), NULL), PROF_OK);
    CHECK(strstr(text.bytes, "5, one for each 2.000 us that a thread ran; 7 are missing") != NULL);
    CHECK(strstr(text.bytes, "7 samples lost in a full ring of the kernel: ask for fewer (PROF_SAMPLES); of these 3 in a "
                             "full buffer") != NULL);
    if (!strstr(text.bytes, "7 are missing")) printf("%s", text.bytes);
    free(text.bytes);
    prof_trace_close(trace);

    im = samples_image();
    trace = image_read(&im);
    CHECK(!prof_track_samples(trace, 0, &count));
    CHECK(!prof_track_samples(trace, PROF_NO_TRACK, &count));
    CHECK(!prof_trace_modules(trace, &count));
    CHECK_EQUAL(prof_trace_about(trace)->sample_period_ns, 0);
    prof_trace_close(trace);
}

/* A system gives an id again after its thread has ended. */
TEST(samples_of_an_id_that_is_used_again)
{
    image im = image_new(400, 1, 200);
    uint32_t work = site(&im, "work");
    numbers all = samples_head(0, 0);
    chunk(&im, 0, 1, START_TICK);
    track_on(&im, string(&im, "first"), 1, 1, 7);
    begin(&im, work, START_TICK + 10);
    end(&im, work, START_TICK + 100);
    track_on(&im, string(&im, "second"), 2, 1, 7);
    begin(&im, work, START_TICK + 200);
    end(&im, work, START_TICK + 300);
    for (unsigned i = 0; i < 4; ++i) {
        number(&all, 1), number(&all, 0), signed_number(&all, i ? 0 : 7), number(&all, 80);
        signed_number(&all, 0x1000 + i);
    }
    samples_event(&im, 0, 0, &all);
    prof_trace *trace = image_read(&im);
    CHECK_TEXT(samples_text(trace, 0), "80@0:1000, 160@0:1001");
    CHECK_TEXT(samples_text(trace, 1), "240@0:1002, 320@0:1003");
    prof_trace_close(trace);
}

/* Whatever the bytes are: what is whole before the damage is read. */
TEST(damaged_samples)
{
    uint64_t random = 12345;
    for (int round = 0; round < 3000; ++round) {
        image im = samples_image();
        numbers all = samples_head(0, 0);
        for (unsigned i = 0; i < 8; ++i) {
            number(&all, 2), number(&all, i ? 1 : 0), signed_number(&all, i ? 0 : 7), number(&all, 10);
            for (unsigned j = i ? 1 : 0; j < 2; ++j) signed_number(&all, 0x1000);
        }
        for (int i = 0; i < 3 && round; ++i) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            all.bytes[(random >> 33) % all.size] = (unsigned char)(random >> 55);
        }
        samples_event(&im, 0, 0, &all);
        prof_trace *trace = image_read(&im);
        size_t count, last;
        const prof_sample *sample = prof_track_samples(trace, 0, &count);
        if (!round) CHECK_EQUAL(count, 8);
        prof_track_samples(trace, PROF_NO_TRACK, &last);
        CHECK_EQUAL(prof_trace_about(trace)->samples, count + last);
        for (size_t i = 0; i < count; ++i) {
            CHECK(sample[i].frame_count > 0 && sample[i].frame_count <= PROF_SAMPLE_FRAMES);
            CHECK(sample[i].time_ns >= 0 && (!i || sample[i].time_ns >= sample[i - 1].time_ns));
        }
        prof_trace_close(trace);
    }
    for (unsigned what = 0; what < 4; ++what) { /* EVENTs that have no samples, or state too much */
        image im = samples_image();
        numbers all = samples_head(0, 0);
        if (what == 2) all.bytes[0] = 0; /* no period */
        if (what == 3) number(&all, 65), number(&all, 0), signed_number(&all, 7), number(&all, 0);
        samples_event(&im, 0, 0, &all);
        if (what == 0) im.word[-2] &= ~((uint64_t)255 << 32); /* not a text */
        if (what == 1) im.word[-4] |= (uint64_t)1 << 40; /* of a later version */
        prof_trace *trace = image_read(&im);
        CHECK_EQUAL(prof_trace_about(trace)->samples, 0);
        prof_trace_close(trace);
    }
}

static void module_at(image *im, uint32_t id, uint64_t from, uint64_t to, uint64_t offset, uint64_t since, uint32_t path,
                      uint32_t build)
{
    uint64_t words[] = {from, to, offset, since, (uint64_t)build << 32 | path};
    meta(im, PROF__META_MODULE, id, words, sizeof words);
}

static const char *path_at(const prof_trace *trace, uint64_t address, int64_t ns)
{
    const prof_module *module = prof_module_at(trace, address, ns);
    return module ? module->path : "";
}

TEST(modules_of_an_image)
{
    image im = samples_image();
    uint32_t program = string(&im, "/bin/program"), first = string(&im, "/lib/first.so"), id = string(&im, "00ff");
    module_at(&im, 1, 0x1000, 0x2000, 0x400, 0, program, id);
    module_at(&im, 2, 0x5000, 0x6000, 0, START_MONOTONIC + 500, first, 0);
    module_at(&im, 3, 0x5800, 0x7000, 0, START_MONOTONIC + 800, 99, 98); /* its strings are missing */
    module_at(&im, 4, 0x9000, 0x9000, 0, 0, program, 0); /* empty */
    module_at(&im, 5, 0x9000, 0x8000, 0, 0, program, 0);
    uint64_t few[] = {0xA000, 0xB000};
    meta(&im, PROF__META_MODULE, 6, few, sizeof few);
    prof_trace *trace = image_read(&im);
    size_t count = 0;
    const prof_module *modules = prof_trace_modules(trace, &count);
    CHECK_EQUAL(count, 3);
    CHECK_TEXT(modules[0].path, "/bin/program");
    CHECK_TEXT(modules[0].build_id, "00ff");
    CHECK_EQUAL(modules[0].file_offset, 0x400);
    CHECK_EQUAL(modules[0].from_ns, 0);
    CHECK_EQUAL(modules[1].from_ns, 500);
    CHECK_TEXT(modules[2].path, "");
    CHECK(prof_module_at(trace, 0x1000, 0) == modules && prof_module_at(trace, 0x1FFF, 999) == modules);
    CHECK(!prof_module_at(trace, 0x2000, 0) && !prof_module_at(trace, 0xFFF, 0) && !prof_module_at(trace, 0xA000, 0));
    CHECK_TEXT(path_at(trace, 0x5900, 600), "/lib/first.so");
    CHECK_TEXT(path_at(trace, 0x5900, 100), "/lib/first.so"); /* the first that came */
    CHECK(prof_module_at(trace, 0x5900, 800) == modules + 2);
    CHECK_TEXT(path_at(trace, 0x5100, 900), "/lib/first.so");
    CHECK(!prof_trace_modules(trace, NULL) && !prof_module_at(NULL, 0, 0));
    prof_trace_close(trace);
}

TEST_MAIN
