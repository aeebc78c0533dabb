/* prof_system.h: samples of threads. Images that are built word by word, of which every sample is known; programs that
   spend known shares of their time in two functions; threads, libraries and forks; and what the system refuses. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "private.h"
#include "../prof_system.h"
#include "test.h"
#include "trace.h"
#include "image.h"
#include <pthread.h>
#include <unistd.h>
#ifdef __linux__
#include <dlfcn.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#endif

static const char *said(const prof_trace *trace, const char *wanted)
{
    const char *key, *value, *last = "";
    for (size_t i = 0; prof_trace_metadata(trace, i, &key, &value); ++i)
        if (!strcmp(key, wanted)) last = value;
    return last;
}

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

#ifndef __linux__
TEST(other_systems_say_why)
{
    prof_config config = trace_config(0);
    config.samples = 1;
    trace_start(&config);
    CHECK_EQUAL(prof_system_status(), PROF_UNSUPPORTED);
    prof_trace *trace = trace_stop();
    CHECK(*said(trace, "samples"));
    CHECK_TEXT(said(trace, "switches"), "");
    prof_trace_close(trace);
}
#else

/* Starts a session that records samples. Returns 0 if the system refuses them: then nothing runs. */
static int samples_start(prof_config config, int rate)
{
    config.samples = rate;
    trace_start(&config);
    if (prof_system_status() == PROF_OK) return 1;
    printf("%s\n", prof_error());
    prof_stop();
    return 0;
}
#define NEEDS_SAMPLES(config, rate) \
    if (!samples_start(config, rate)) SKIP("this system refuses perf events")

/* What is packed is what is read: chains of all depths, near and far addresses, threads by turns. */
TEST(packed_samples_are_read_again)
{
    enum { MANY = 4000 };
    static prof__sample samples[MANY];
    static prof__sample_batch batch;
    prof__ring ring;
    uint64_t random = 99, ns = prof__monotonic();
    prof_config config = trace_config(4 << 20);
    memset(&ring, 0, sizeof ring);
    memset(&batch, 0, sizeof batch);
    trace_start(&config);
    prof__system.session = prof__state.session;
    prof__system.period = 12345;
    ring.processor = 3;
    batch.ring = &ring;
    prof__samples_begin(&batch);
    for (int i = 0; i < MANY; ++i) {
        prof__sample *sample = &samples[i];
        random = random * 6364136223846793005u + 1442695040888963407u;
        if (i && random >> 60 < 12) *sample = samples[i - 1];
        if (!sample->count) sample->count = 1 + (uint32_t)(random >> 33) % PROF__SAMPLE_DEPTH;
        sample->thread = random >> 62 ? 1000000 : 4000000;
        sample->ns = ns += random >> 40;
        uint32_t from = (uint32_t)(random >> 20) % (sample->count + 1);
        for (uint32_t j = from; j < sample->count; ++j) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            sample->frames[j] = i % 500 == 7 ? random >> 7 : 0x7f0000000000u + (random >> 44);
        }
        prof__sample copy = *sample;
        prof__sample_put(&batch, &copy);
        if (i % 500 == 7) sample->count = copy.count; /* it had no room for more */
        if (i % 500 == 7) memcpy(sample->frames, copy.frames, sizeof copy.frames);
    }
    prof__samples_flush(&batch);
    prof_trace *trace = trace_stop();
    size_t count, wrong = 0;
    const prof_sample *read = prof_track_samples(trace, PROF_NO_TRACK, &count);
    CHECK_EQUAL(count, MANY);
    CHECK_EQUAL(prof_trace_about(trace)->sample_period_ns, 12345);
    CHECK_EQUAL(prof_trace_about(trace)->samples_lost, 0);
    for (size_t turn = 0, i = 0; turn < 2 && count == MANY; ++turn)
        for (size_t j = 0; j < MANY; ++j) {
            if (samples[j].thread != (turn ? 4000000 : 1000000)) continue;
            int good = read[i].thread_id == samples[j].thread && read[i].frame_count == samples[j].count &&
                       read[i].processor == 3;
            for (uint32_t k = 0; k < samples[j].count && good; ++k)
                good = read[i].frames[k] == samples[j].frames[samples[j].count - 1 - k];
            wrong += !good;
            ++i;
        }
    CHECK_EQUAL(wrong, 0);
    prof_trace_close(trace);
    memset(&prof__system, 0, sizeof prof__system);
    prof__system.wake = -1;
}

/* -- programs of known truth -- */

static uint64_t cpu_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* Functions in sections of their own, of which the linker tells the begin and the end. */
#define IN_PART(part) __attribute__((section(#part), noinline))
extern const char __start_hot_part[], __stop_hot_part[], __start_warm_part[], __stop_warm_part[], __start_outer_part[],
    __stop_outer_part[];
#define LIES_IN(part, address) \
    ((address) >= (uintptr_t)__start_##part && (address) < (uintptr_t)__stop_##part)

IN_PART(hot_part) static unsigned hot(unsigned rounds)
{
    unsigned sum = 0;
    for (unsigned i = 0; i < rounds; ++i) __asm__ volatile("" : "+r"(sum) : "r"(i)); /* which no sanitizer looks at */
    return sum;
}
IN_PART(warm_part) static unsigned warm(unsigned rounds)
{
    unsigned sum = 0;
    for (unsigned i = 0; i < rounds; ++i) __asm__ volatile("" : "+r"(sum) : "r"(i)); /* which no sanitizer looks at */
    return sum;
}

typedef struct truth {
    uint64_t hot, warm; /* ns of running time in each */
} truth;

/* Runs for so long, three quarters of it in hot(), in pieces of 0.1 to 1 ms. */
IN_PART(outer_part) static void outer(uint64_t ns, truth *all)
{
    uint64_t begin = cpu_ns(), last = begin, now, random = 7;
    while (last - begin < ns) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        unsigned rounds = 100000 + (unsigned)(random >> 33) % 1000000, is_hot = random >> 40 & 3;
        if (is_hot) {
            PROFILE_SCOPE("hot scope");
            hot(rounds);
        } else {
            PROFILE_SCOPE("warm scope");
            warm(rounds);
        }
        now = cpu_ns();
        *(is_hot ? &all->hot : &all->warm) += now - last;
        last = now;
    }
}

/* Returns the scope of this name that contains the time, or NULL. hint: where to begin; times are in order. */
static const prof_event *scope_at(const trace_list *list, int64_t ns, size_t *hint)
{
    for (; *hint < list->count; ++*hint) {
        const prof_event *event = &list->events[*hint];
        if (event->start_ns > ns) return NULL;
        if (event->type == PROF_EVENT_SCOPE && ns < event->start_ns + event->duration_ns) return event;
    }
    return NULL;
}

static void shares(int switches)
{
    prof_config config = trace_config(0);
    truth all = {0, 0};
    config.switches = switches;
    NEEDS_SAMPLES(config, 1000);
    prof_set_thread_name("works");
    outer(1200000000, &all);
    prof_trace *trace = trace_stop();
    trace_list list = trace_read(trace, trace_track_named(trace, "works"));
    size_t count, in_hot = 0, in_warm = 0, astray = 0, below = 0, hint = 0;
    const prof_sample *sample = prof_track_samples(trace, trace_track_named(trace, "works"), &count);
    uint64_t period = prof_trace_about(trace)->sample_period_ns;
    for (size_t i = 0; i < count; ++i, ++sample) {
        int is_hot = LIES_IN(hot_part, sample->frames[0]), is_warm = LIES_IN(warm_part, sample->frames[0]);
        const prof_event *scope = scope_at(&list, sample->time_ns, &hint);
        in_hot += (size_t)is_hot;
        in_warm += (size_t)is_warm;
        astray += (is_hot || is_warm) && (!scope || strcmp(scope->name, is_hot ? "hot scope" : "warm scope"));
        below += sample->frame_count > 1 && LIES_IN(outer_part, sample->frames[1] - 1);
        CHECK(sample->processor >= 0 && sample->thread_id == (uint64_t)syscall(SYS_gettid));
    }
    double ran = (double)(all.hot + all.warm), share = (double)all.hot / ran;
    double found = (double)in_hot / (double)(in_hot + in_warm + !count), per = (double)count * (double)period / ran;
    double variance = share * (1 - share) / (double)(count + !count);
    printf("%.4f in hot(), truly %.4f; %lu samples stand for %.3f of the running time\n", found, share,
           (unsigned long)count, per);
    CHECK((found - share) * (found - share) < 25 * variance); /* five sigma: wrong once in two million runs */
    CHECK(per > 0.8 && per < 1.05); /* what is spent in the kernel, here for the clock, has no samples */
    CHECK(count > 0 && astray <= count / 50);
#if !defined(__OPTIMIZE__) && (defined(__x86_64__) || defined(__aarch64__))
    CHECK(below >= (in_hot + in_warm) * 9 / 10); /* but for the first instructions of a function */
#endif
    CHECK_TEXT(said(trace, "samples"), "");
    CHECK_EQUAL(prof_trace_about(trace)->samples_lost, 0);
    CHECK_EQUAL(period, 1045100);
    CHECK((prof_trace_about(trace)->switches > 0) == (switches != 0));
    const prof_module *module = prof_module_at(trace, (uintptr_t)__start_hot_part, 0);
    char program[1000] = "";
    CHECK(readlink("/proc/self/exe", program, sizeof program - 1) > 0);
    CHECK(module != NULL && module->from_ns == 0 && !strcmp(module->path, program));
    trace_free(&list);
    prof_trace_close(trace);
}

TEST(samples_have_the_shares_of_functions) { shares(0); }
TEST(samples_beside_switches) { shares(1); }

/* Threads that start later, without a scope or with one; and one that there was. */
static int later_go;
static void *later_main(void *user)
{
    truth all = {0, 0};
    while (!__atomic_load_n(&later_go, __ATOMIC_ACQUIRE)) pause_us(200);
    if (user) prof_set_thread_name((const char *)user);
    if (user) {
        PROFILE_SCOPE("later");
        outer(100000000, &all);
    } else {
        uint64_t end = cpu_ns() + 100000000;
        while (cpu_ns() < end) hot(400000);
    }
    return NULL;
}

TEST(threads_of_before_and_after_the_start)
{
    pthread_t threads[3];
    size_t early, later, count;
    char before[] = "before", after[] = "after";
    later_go = 0;
    pthread_create(&threads[0], NULL, later_main, before);
    int good = samples_start(trace_config(0), 2000);
    pthread_create(&threads[1], NULL, later_main, after);
    pthread_create(&threads[2], NULL, later_main, NULL);
    __atomic_store_n(&later_go, 1, __ATOMIC_RELEASE);
    for (int i = 0; i < 3; ++i) pthread_join(threads[i], NULL);
    if (!good) SKIP("this system refuses perf events");
    prof_trace *trace = trace_stop();
    prof_track_samples(trace, trace_track_named(trace, before), &early);
    prof_track_samples(trace, trace_track_named(trace, after), &later);
    prof_track_samples(trace, PROF_NO_TRACK, &count);
    printf("%lu, %lu and %lu samples\n", (unsigned long)early, (unsigned long)later, (unsigned long)count);
    CHECK(early > 100 && later > 100 && count > 100); /* 190 each */
    prof_trace_close(trace);
}

/* Returns the samples of the calling thread. */
static const prof_sample *my_samples(const prof_trace *trace, size_t *count)
{
    const prof_sample *sample;
    for (size_t i = 0; i < prof_trace_track_count(trace); ++i)
        if ((sample = prof_track_samples(trace, i, count)) && sample->thread_id == (uint64_t)syscall(SYS_gettid))
            return sample;
    return prof_track_samples(trace, PROF_NO_TRACK, count);
}

/* A library that is loaded later becomes known, from then on. */
TEST(a_library_that_is_loaded_later)
{
    prof_config config = trace_config(0);
    NEEDS_SAMPLES(config, 2000);
    void *library = dlopen("libcrypt.so.1", RTLD_NOW | RTLD_LOCAL);
    const char *(*call)(const char *, const char *) = NULL;
    if (library) {
        void *symbol = dlsym(library, "crypt");
        memcpy(&call, &symbol, sizeof symbol);
    }
    uint64_t end = cpu_ns() + 300000000;
    while (call && cpu_ns() < end) call("a secret", "$6$rounds=5000$salt");
    prof_trace *trace = trace_stop();
    if (call) {
        size_t count, inside = 0;
        const prof_sample *sample = my_samples(trace, &count);
        for (size_t i = 0; i < count; ++i) {
            const prof_module *module = prof_module_at(trace, sample[i].frames[0], sample[i].time_ns);
            inside += module && strstr(module->path, "libcrypt") && module->from_ns > 0;
        }
        CHECK(inside > 100);
        dlclose(library);
    }
    prof_trace_close(trace);
    if (!call) SKIP("this system has no libcrypt.so.1");
}

/* A deep chain has its innermost frames. */
IN_PART(outer_part) static unsigned deep(unsigned depth)
{
    return depth ? deep(depth - 1) + depth : hot(120000000);
}
TEST(deep_chains_are_cut)
{
    NEEDS_SAMPLES(trace_config(0), 2000);
    deep(200);
    prof_trace *trace = trace_stop();
    size_t count, whole = 0, inside = 0;
    const prof_sample *sample = my_samples(trace, &count);
    for (size_t i = 0; i < count; ++i) {
        if (!LIES_IN(hot_part, sample[i].frames[0])) continue;
        ++inside;
        whole += sample[i].frame_count == PROF_SAMPLE_FRAMES &&
                 LIES_IN(outer_part, sample[i].frames[PROF_SAMPLE_FRAMES - 1] - 1);
    }
    CHECK(inside > 10);
#if !defined(__OPTIMIZE__) && (defined(__x86_64__) || defined(__aarch64__))
    CHECK(whole >= inside * 9 / 10);
#endif
    (void)whole;
    prof_trace_close(trace);
}

/* A buffer that is full: what is missing is counted, and the summary says what to do. */
TEST(a_full_buffer_loses_samples)
{
    prof_config config = trace_config(128 << 10);
    config.mode = PROF_FILL;
    NEEDS_SAMPLES(config, 10000);
    for (int i = 0; i < 20000; ++i) {
        PROFILE_SCOPE("fills");
    }
    hot(400000000);
    prof_trace *trace = trace_stop();
    CHECK(strstr(said(trace, "samples"), "are missing: the buffer was full") != NULL);
    prof_trace_close(trace);
}

/* What comes during a pause is not wanted, and not lost. */
TEST(a_pause_has_no_samples)
{
    NEEDS_SAMPLES(trace_config(0), 2000);
    prof_pause();
    pause_ms(150);
    truth all = {0, 0};
    outer(150000000, &all);
    pause_ms(150);
    prof_resume();
    prof_trace *trace = trace_stop();
    CHECK_EQUAL(prof_trace_about(trace)->samples_lost, 0);
    CHECK_TEXT(said(trace, "samples"), "");
    CHECK(prof_trace_about(trace)->samples < 50); /* of 280 */
    prof_trace_close(trace);
}

/* An archive, whose blocks are packed once more. */
TEST(a_stream_of_samples)
{
    const char *path = trace_path("stream.prof");
    prof_config config = trace_config(256 << 10);
    truth all = {0, 0};
    config.mode = PROF_STREAM;
    config.output = path;
    config.wait_ns = 1000000000;
    NEEDS_SAMPLES(config, 10000);
    outer(500000000, &all);
    for (int i = 0; i < 100000; ++i) {
        PROFILE_SCOPE("fills");
    }
    CHECK_EQUAL(prof_stop(), PROF_OK);
    prof_trace *trace = trace_open_file(path);
    size_t count;
    prof_track_samples(trace, 0, &count);
    CHECK(count > 2000); /* of 4,800 */
    CHECK_EQUAL(prof_trace_about(trace)->samples_lost, 0);
    CHECK(prof_trace_modules(trace, &count) != NULL);
    prof_trace_close(trace);
}

/* Runs a test's part in a child of fork(), which may end with its process. Returns its exit status, or -1. */
static int in_child(void (*part)(void))
{
    int status = 0;
    pid_t child = fork();
    if (!child) {
        part();
        _exit(test_failures ? 1 : 0);
    }
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void forked_part(void)
{
    {
        PROFILE_SCOPE("in the child");
        hot(40000000);
    }
    CHECK_EQUAL(prof_system_status(), PROF_UNSUPPORTED);
    CHECK(strstr(prof_error(), "samples: ") != NULL);
    prof_trace *trace = trace_stop();
    CHECK(strstr(said(trace, "samples"), "fork") != NULL);
    CHECK_TEXT(said(trace, "switches"), "");
    CHECK_EQUAL(prof_trace_about(trace)->samples, 0);
    prof_trace_close(trace);
    if (TRACE_SANITIZER == 2) return; /* which has no threads after a fork */
    if (!samples_start(trace_config(0), 2000)) return;
    hot(120000000);
    trace = trace_stop();
    CHECK(prof_trace_about(trace)->samples > 0);
    CHECK_TEXT(said(trace, "samples"), "");
    prof_trace_close(trace);
}

TEST(a_child_says_that_it_has_no_samples)
{
    NEEDS_SAMPLES(trace_config(0), 2000);
    CHECK_EQUAL(in_child(forked_part), 0);
    hot(120000000);
    prof_trace *trace = trace_stop();
    CHECK(prof_trace_about(trace)->samples > 0);
    CHECK_TEXT(said(trace, "samples"), "");
    prof_trace_close(trace);
}

TEST(no_samples_unasked)
{
    prof_config config = trace_config(0);
    config.switches = 1;
    trace_start(&config);
    hot(120000000);
    prof_trace *trace = trace_stop();
    CHECK_EQUAL(prof_trace_about(trace)->samples, 0);
    size_t count;
    CHECK(!prof_trace_modules(trace, &count));
    prof_trace_close(trace);
}
#endif

TEST_MAIN
