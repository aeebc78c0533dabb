/* prof_opencl.h, on an OpenCL that this test made up, whose commands fail, never end or tell nothing; and on a real one,
   if there is one: pocl does without a GPU. */
/* run: unraced */
#include "prof_opencl.h"
#include "prof_read.h"
#include "test.h"
#include "trace.h"
#include <dlfcn.h>
#include <pthread.h>

#if defined(__SANITIZE_ADDRESS__)
#define LEAK_CHECK
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define LEAK_CHECK
#endif
#endif
#ifdef LEAK_CHECK /* at the exit it crashes now and then, on pocl's threads: it is made before there are any */
int __lsan_do_recoverable_leak_check(void);
const char *__lsan_default_options(void);
const char *__lsan_default_options(void) { return "leak_check_at_exit=0"; }
#endif

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

static size_t scopes_of(const trace_list *list, const prof_event **scopes, size_t most)
{
    size_t count = 0;
    for (size_t i = 0; i < list->count; ++i)
        if (list->events[i].type == PROF_EVENT_SCOPE && count < most) scopes[count++] = &list->events[i];
    return count;
}

/*-- the OpenCL that is made up. Its clock is OFFSET ahead of the host's. Commands take what the test says --*/

enum { OFFSET = 88000000, QUEUES = 4, EVENTS = 3000 };
enum { QUEUE_INFO, DEVICE_INFO, EVENT_INFO, TIMES, RETAIN, RELEASE, WAIT, MARKER, TIMER, CALLS };

typedef struct fake_queue {
    uint64_t properties; /* 1: out of order, 2: profiling */
    int device;
} fake_queue;

typedef struct fake_event {
    fake_queue *queue;
    int references, status, is_marker;
    uint64_t times[4];
} fake_event;

static struct fake {
    fake_queue queues[QUEUES];
    fake_event events[EVENTS];
    char devices[2];
    int used, fails[CALLS];            /* fails: the call returns this error */
    const char *missing, *name;
    unsigned long calls[CALLS], errors; /* errors: what OpenCL forbids */
    int timer;                          /* 1: clGetDeviceAndHostTimer() works */
    pthread_mutex_t lock;
} fake = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int fake_call(int call)
{
    __atomic_fetch_add(&fake.calls[call], 1, __ATOMIC_RELAXED);
    return fake.fails[call];
}

static int fake_give(const void *from, size_t size, size_t room, void *to)
{
    if (room < size) return -30;
    memcpy(to, from, size);
    return 0;
}

static int fake_queue_info(void *queue, unsigned name, size_t room, void *to, size_t *size)
{
    const fake_queue *q = (const fake_queue *)queue;
    (void)size;
    if (fake_call(QUEUE_INFO)) return fake.fails[QUEUE_INFO];
    if (q < fake.queues || q >= fake.queues + QUEUES) return -36;
    void *device = &fake.devices[q->device];
    if (name == 0x1091) return fake_give(&device, sizeof device, room, to);
    return name == 0x1093 ? fake_give(&q->properties, sizeof q->properties, room, to) : -30;
}
static int fake_device_info(void *device, unsigned name, size_t room, void *to, size_t *size)
{
    (void)device;
    (void)size;
    if (fake_call(DEVICE_INFO)) return fake.fails[DEVICE_INFO];
    return name == 0x102B ? fake_give(fake.name, strlen(fake.name) + 1, room, to) : -30;
}
static fake_event *fake_known(void *event)
{
    fake_event *e = (fake_event *)event;
    if (e >= fake.events && e < fake.events + EVENTS && e->references > 0) return e;
    fake.errors++;
    return NULL;
}
static int fake_event_info(void *event, unsigned name, size_t room, void *to, size_t *size)
{
    (void)size;
    if (fake_call(EVENT_INFO)) return fake.fails[EVENT_INFO];
    const fake_event *e = fake_known(event);
    return e && name == 0x11D3 ? fake_give(&e->status, sizeof e->status, room, to) : -58;
}
static int fake_times(void *event, unsigned name, size_t room, void *to, size_t *size)
{
    (void)size;
    if (fake_call(TIMES)) return fake.fails[TIMES];
    const fake_event *e = fake_known(event);
    if (!e || name < 0x1280 || name > 0x1283) return -58;
    if (e->status || !(e->queue->properties & 2)) return -7;
    return fake_give(&e->times[name - 0x1280], 8, room, to);
}
static int fake_retain(void *event)
{
    if (fake_call(RETAIN)) return fake.fails[RETAIN];
    fake_event *e = fake_known(event);
    if (e) __atomic_fetch_add(&e->references, 1, __ATOMIC_RELAXED);
    return e ? 0 : -58;
}
static int fake_release(void *event)
{
    fake_event *e = fake_known(event);
    if (fake_call(RELEASE)) return fake.fails[RELEASE];
    if (e) __atomic_fetch_sub(&e->references, 1, __ATOMIC_RELAXED);
    return e ? 0 : -58;
}
static void fake_complete(fake_event *event, int status)
{
    event->times[3] = prof_host_ns() + OFFSET;
    if (event->times[3] < event->times[2]) event->times[3] = event->times[2];
    event->status = status;
}
static int fake_wait(unsigned count, void *const *events)
{
    if (fake_call(WAIT)) return fake.fails[WAIT];
    for (unsigned i = 0; i < count; ++i) {
        fake_event *e = fake_known(events[i]);
        if (e && e->status > 0) fake_complete(e, 0);
    }
    return 0;
}
/* Queues a command: the queue takes 100 ns, the device's queue 200 ns, and it runs until fake_complete(). */
static fake_event *fake_enqueue(int queue)
{
    pthread_mutex_lock(&fake.lock);
    fake_event *e = &fake.events[fake.used < EVENTS ? fake.used++ : EVENTS - 1];
    pthread_mutex_unlock(&fake.lock);
    memset(e, 0, sizeof *e);
    e->queue = &fake.queues[queue];
    e->references = 1;
    e->status = 3;
    uint64_t now = prof_host_ns() + OFFSET;
    e->times[0] = now;
    e->times[1] = now + 100;
    e->times[2] = now + 300;
    return e;
}
static int fake_marker(void *queue, unsigned count, void *const *events, void **event)
{
    if (fake_call(MARKER)) return fake.fails[MARKER];
    if (count || events || (fake_queue *)queue < fake.queues || (fake_queue *)queue >= fake.queues + QUEUES)
        fake.errors++;
    fake_event *e = fake_enqueue((int)((fake_queue *)queue - fake.queues));
    e->is_marker = 1;
    fake_complete(e, 0);
    *event = e;
    return 0;
}
static int fake_timer(void *device, uint64_t *device_ns, uint64_t *host_ns)
{
    (void)device;
    if (fake_call(TIMER)) return fake.fails[TIMER];
    if (!fake.timer) return -59;
    *device_ns = prof_host_ns() + OFFSET;
    *host_ns = 5; /* of a clock that OpenCL does not name */
    return 0;
}

static prof_cl_function fake_load(const char *name)
{
    static const struct {
        const char *name;
        prof_cl_function function;
    } all[] = {{"clGetCommandQueueInfo", (prof_cl_function)fake_queue_info},
               {"clGetDeviceInfo", (prof_cl_function)fake_device_info},
               {"clGetEventInfo", (prof_cl_function)fake_event_info},
               {"clGetEventProfilingInfo", (prof_cl_function)fake_times},
               {"clRetainEvent", (prof_cl_function)fake_retain},
               {"clReleaseEvent", (prof_cl_function)fake_release},
               {"clWaitForEvents", (prof_cl_function)fake_wait},
               {"clEnqueueMarkerWithWaitList", (prof_cl_function)fake_marker},
               {"clGetDeviceAndHostTimer", (prof_cl_function)fake_timer}};
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i)
        if (!strcmp(name, all[i].name) && !(fake.missing && !strcmp(name, fake.missing))) return all[i].function;
    return NULL;
}

static void fake_reset(void)
{
    memset(fake.events, 0, sizeof fake.events);
    memset(fake.fails, 0, sizeof fake.fails);
    memset(fake.calls, 0, sizeof fake.calls);
    memset(fake.queues, 0, sizeof fake.queues);
    fake.used = 0;
    fake.errors = 0;
    fake.missing = NULL;
    fake.name = "made up";
    fake.timer = 1;
    for (int i = 0; i < QUEUES; ++i) fake.queues[i].properties = 2;
}

/* How many events somebody still holds. */
static long fake_held(void)
{
    long held = 0;
    for (int i = 0; i < fake.used; ++i) held += fake.events[i].references;
    return held;
}

static prof_cl *fake_create(uint32_t events)
{
    prof_cl_options options = {0};
    options.events = events;
    return prof_cl_create(fake_load, &options);
}

static prof_cl_info counts_of(prof_cl *cl)
{
    prof_cl_info counts;
    prof_cl_get_info(cl, &counts);
    return counts;
}

/* Queues a command of which the program holds no event. */
static fake_event *command(prof_cl *cl, int queue, const char *name)
{
    fake_event *event = fake_enqueue(queue);
    PROFILE_CL_EVENT(cl, &fake.queues[queue], event, name);
    fake_release(event);
    return event;
}

TEST(commands_are_recorded_when_they_are_complete)
{
    enum { COUNT = 30 };
    prof_config config = trace_config(1u << 20);
    fake_event *events[COUNT];
    fake_reset();
    trace_start(&config);
    prof_cl *cl = fake_create(64);
    CHECK(cl != NULL);
    CHECK_EQUAL(prof_cl_queue_name(cl, &fake.queues[0], "copies"), PROF_OK);
    uint64_t begin = prof_host_ns();
    for (int i = 0; i < COUNT; ++i) {
        PROFILE_SCOPE("host");
        events[i] = command(cl, i & 1, i & 1 ? "kernel" : "copy");
        if (i >= 4) fake_complete(events[i - 4], 0);
        CHECK_EQUAL(prof_cl_collect(cl), PROF_OK);
        CHECK_EQUAL(counts_of(cl).recorded, i >= 4 ? i - 3 : 0);
        trace_next_instant();
    }
    CHECK_EQUAL(fake.calls[WAIT], 0);
    CHECK_EQUAL(prof_cl_finish(cl), PROF_OK);
    uint64_t end = prof_host_ns();
    CHECK_EQUAL(counts_of(cl).recorded, COUNT);
    CHECK_EQUAL(counts_of(cl).pending, 0);
    CHECK_EQUAL(prof_cl_destroy(cl), PROF_OK);
    CHECK_EQUAL(fake_held(), 0);
    CHECK_EQUAL(fake.errors, 0);
    CHECK_EQUAL(fake.calls[MARKER], 0);

    prof_trace *trace = trace_stop();
    int64_t start = (int64_t)prof_trace_about(trace)->start_monotonic_ns;
    for (int queue = 0; queue < 2; ++queue) {
        /* The commands of a queue overlap here, as none of a queue that is in order does: they have five tracks. */
        size_t all = 0;
        uint64_t arrows = 0;
        for (size_t t = 0; t < prof_trace_track_count(trace); ++t) {
            const prof_track *track = prof_trace_track(trace, t);
            if (strcmp(track->device, "OpenCL made up") || strncmp(track->name, queue ? "queue 2" : "copies", 6))
                continue;
            trace_list list = trace_read(trace, t);
            for (size_t i = 0; i < list.count; ++i) {
                const prof_event *event = &list.events[i];
                if (event->type == PROF_EVENT_FLOW_IN) arrows++;
                if (event->type != PROF_EVENT_SCOPE) continue;
                all++;
                CHECK_TEXT(event->name, queue ? "kernel" : "copy");
                const prof_value *queued = trace_arg(event, "queued_ns"), *submitted = trace_arg(event, "submitted_ns");
                CHECK(queued && queued->as.u == 100);
                CHECK(submitted && submitted->as.u == 200);
                CHECK(event->start_ns + start >= (int64_t)begin - 2000);
                CHECK(trace_end(event) + start <= (int64_t)end + 2000);
            }
            trace_free(&list);
        }
        CHECK_EQUAL(all, COUNT / 2);
        CHECK_EQUAL(arrows, COUNT / 2);
    }
    prof_trace_close(trace);
}

/* Commands of an earlier session that are collected in the next are not in it. */
TEST(commands_of_an_earlier_session)
{
    prof_config config = trace_config(1u << 20);
    fake_reset();
    trace_start(&config);
    prof_cl *cl = fake_create(64);
    fake_complete(command(cl, 0, "before"), 0);
    prof_trace_close(trace_stop());
    trace_next_instant();
    trace_start(&config);
    fake_complete(command(cl, 0, "after"), 0);
    CHECK_EQUAL(prof_cl_collect(cl), PROF_OK);
    CHECK_EQUAL(prof_cl_finish(cl), PROF_OK);
    CHECK_EQUAL(counts_of(cl).pending, 0);
    CHECK_EQUAL(prof_cl_destroy(cl), PROF_OK);
    CHECK_EQUAL(fake_held(), 0);
    CHECK_EQUAL(fake.errors, 0);
    prof_trace *trace = trace_stop();
    size_t before = 0, after = 0;
    for (size_t t = 0; t < prof_trace_track_count(trace); ++t) {
        if (strcmp(prof_trace_track(trace, t)->device, "OpenCL made up")) continue;
        trace_list list = trace_read(trace, t);
        before += trace_count(&list, "before");
        after += trace_count(&list, "after");
        trace_free(&list);
    }
    CHECK_EQUAL(before, 0);
    CHECK_EQUAL(after, 1);
    prof_trace_close(trace);
}

/* Of a queue that is in order, the first command that is not complete says that nor are the others; those of another
   queue may be. */
TEST(order_of_queues)
{
    prof_config config = trace_config(1u << 20);
    fake_reset();
    fake.queues[1].properties = 3;
    trace_start(&config);
    prof_cl *cl = fake_create(64);
    fake_event *events[20];
    for (int i = 0; i < 20; ++i) events[i] = command(cl, i >= 10, "x");
    fake_complete(events[15], 0);
    unsigned long before = fake.calls[EVENT_INFO];
    CHECK_EQUAL(prof_cl_collect(cl), PROF_OK);
    CHECK_EQUAL(fake.calls[EVENT_INFO] - before, 11); /* one of the first queue, all of the other */
    CHECK_EQUAL(counts_of(cl).recorded, 1);
    CHECK_EQUAL(prof_cl_finish(cl), PROF_OK);
    CHECK_EQUAL(counts_of(cl).recorded, 20);
    prof_cl_destroy(cl);
    CHECK_EQUAL(fake_held(), 0);
    prof_trace_close(trace_stop());
}

TEST(a_full_ring_collects_and_then_counts)
{
    prof_config config = trace_config(1u << 20);
    fake_reset();
    trace_start(&config);
    prof_cl *cl = fake_create(8);
    for (int i = 0; i < 100; ++i) fake_complete(command(cl, 0, "done at once"), 0); /* nobody collects */
    CHECK_EQUAL(counts_of(cl).full, 0);
    CHECK(counts_of(cl).recorded >= 92);
    CHECK_EQUAL(prof_cl_collect(cl), PROF_OK);
    for (int i = 0; i < 10; ++i) command(cl, 0, "not done");
    CHECK_EQUAL(counts_of(cl).full, 2);
    CHECK_EQUAL(prof_cl_collect(cl), PROF_INVALID_STATE);
    CHECK_TEXT(prof_error(),
               "OpenCL events: 2 lost: the ring of 8 events was full: set options.events, or collect more "
               "often");
    CHECK_EQUAL(prof_cl_collect(cl), PROF_OK);
    CHECK_EQUAL(prof_cl_destroy(cl), PROF_INVALID_STATE);
    CHECK(strstr(prof_error(), "8 lost: prof_cl_destroy() came before they were complete") != NULL);
    CHECK_EQUAL(fake_held(), 0);
    CHECK_EQUAL(fake.errors, 0);
    prof_trace *trace = trace_stop();
    const char *key, *value, *found = "";
    for (size_t i = 0; prof_trace_metadata(trace, i, &key, &value); ++i)
        if (!strcmp(key, "OpenCL events")) found = value;
    CHECK(strstr(found, "2 lost: the ring of 8") && strstr(found, "8 lost: prof_cl_destroy()"));
    prof_trace_close(trace);
}

/* The program frees a queue, and OpenCL puts another one of another device at its address. */
TEST(another_queue_at_the_same_address)
{
    prof_config config = trace_config(1u << 20);
    const prof_event *scopes[2];
    fake_reset();
    trace_start(&config);
    prof_cl *cl = fake_create(16);
    fake_complete(command(cl, 0, "first"), 0);
    CHECK_EQUAL(prof_cl_collect(cl), PROF_OK);
    fake.queues[0].device = 1;
    fake_complete(command(cl, 0, "second"), 0);
    CHECK_EQUAL(prof_cl_collect(cl), PROF_OK);
    fake.queues[0].properties = 0;
    fake_complete(command(cl, 0, "without times"), 0);
    CHECK_EQUAL(prof_cl_collect(cl), PROF_INVALID_STATE);
    CHECK_EQUAL(counts_of(cl).unprofiled, 1);
    fake.queues[0].properties = 2;
    fake_complete(command(cl, 0, "third"), 0);
    CHECK_EQUAL(prof_cl_collect(cl), PROF_OK);
    prof_cl_destroy(cl);
    prof_trace *trace = trace_stop();
    trace_list first = row_events(trace, "OpenCL made up", "queue 1");
    trace_list second = row_events(trace, "OpenCL made up 2", "queue 1");
    CHECK_EQUAL(scopes_of(&first, scopes, 2), 1);
    CHECK_EQUAL(scopes_of(&second, scopes, 2), 2);
    CHECK_TEXT(scopes[1]->name, "third");
    trace_free(&first);
    trace_free(&second);
    prof_trace_close(trace);
    CHECK_EQUAL(fake.errors, 0);
}

TEST(what_cannot_be_recorded_is_said)
{
    static const struct {
        const char *said;
        int call, error, status;
        uint64_t properties;
    } cases[] = {{"1 lost: their queue has no profiling: make it with CL_QUEUE_PROFILING_ENABLE", -1, 0, 0, 0},
                 {"1 lost: the commands failed", -1, 0, -14, 2},
                 {"1 lost: OpenCL did not tell their times: the first error is -5", EVENT_INFO, -5, 0, 2},
                 {"1 lost: OpenCL did not tell their times: the first error is -6", TIMES, -6, 0, 2},
                 {"1 lost: their queue has no profiling", TIMES, -7, 0, 2},
                 {"1 lost: OpenCL did not tell their times: the first error is -58", RETAIN, -58, 0, 2},
                 {"1 lost: OpenCL knows no such queue", QUEUE_INFO, -36, 0, 2}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        prof_config config = trace_config(1u << 20);
        fake_reset();
        fake.queues[0].properties = cases[i].properties;
        trace_start(&config);
        prof_cl *cl = fake_create(8);
        if (cases[i].call >= 0) fake.fails[cases[i].call] = cases[i].error;
        fake_complete(command(cl, 0, "x"), cases[i].status);
        CHECK_EQUAL(fake.calls[RETAIN] != 0, cases[i].properties && cases[i].call != QUEUE_INFO);
        CHECK_EQUAL(prof_cl_collect(cl), PROF_INVALID_STATE);
        CHECK(strstr(prof_error(), cases[i].said) != NULL);
        CHECK_EQUAL(counts_of(cl).recorded, 0);
        CHECK_EQUAL(prof_cl_destroy(cl), PROF_OK);
        CHECK_EQUAL(fake_held(), 0);
        CHECK_EQUAL(fake.errors, 0);
        prof_trace_close(trace_stop());
    }
    /* Times that cannot be. */
    prof_config config = trace_config(1u << 20);
    fake_reset();
    trace_start(&config);
    prof_cl *cl = fake_create(8);
    fake_event *zero = command(cl, 0, "zero"), *backwards = command(cl, 0, "backwards");
    fake_complete(zero, 0);
    fake_complete(backwards, 0);
    zero->times[2] = zero->times[3] = 0;
    backwards->times[3] = backwards->times[2] - 1;
    CHECK_EQUAL(prof_cl_collect(cl), PROF_INVALID_STATE);
    CHECK(strstr(prof_error(), "2 lost: the device told no times, or an end before the start") != NULL);
    prof_cl_destroy(cl);
    prof_trace_close(trace_stop());
}

/* Each call may fail at any time: nothing is held for ever, and all is counted. */
TEST(every_call_may_fail)
{
    for (int call = 0; call < CALLS; ++call) {
        for (int timer = 0; timer < 2; ++timer) {
            prof_config config = trace_config(1u << 20);
            fake_reset();
            fake.timer = timer;
            trace_start(&config);
            prof_cl *cl = fake_create(8);
            for (int i = 0; i < 30; ++i) {
                if (i == 5 || call == QUEUE_INFO || call == DEVICE_INFO) fake.fails[call] = -5;
                fake_complete(command(cl, i & 1, "x"), 0);
                prof_cl_collect(cl);
            }
            prof_cl_finish(cl);
            prof_cl_info counts = counts_of(cl);
            CHECK_EQUAL(counts.recorded + counts.refused + counts.full, 30);
            CHECK_EQUAL(counts.pending, 0);
            prof_cl_destroy(cl);
            if (call != RELEASE) CHECK_EQUAL(fake_held(), 0);
            CHECK_EQUAL(fake.errors, 0);
            prof_trace_close(trace_stop());
        }
    }
}

TEST(what_is_missing_is_named)
{
    static const char *const names[] = {"clGetCommandQueueInfo", "clGetDeviceInfo", "clGetEventInfo",
                                        "clGetEventProfilingInfo", "clRetainEvent", "clReleaseEvent", "clWaitForEvents",
                                        "clEnqueueMarkerWithWaitList"};
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
        char said[128];
        fake_reset();
        fake.missing = names[i];
        CHECK(!fake_create(8));
        snprintf(said, sizeof said, "prof_cl_create: there is no %s: OpenCL is older than 1.2, or", names[i]);
        CHECK(!strncmp(prof_error(), said, strlen(said)));
    }
    CHECK(!fake_create(65537) && strstr(prof_error(), "options.events is above 65536"));
    fake_reset();
    prof_cl *cl = fake_create(8);
    CHECK_EQUAL(prof_cl_queue_name(cl, NULL, "x"), PROF_INVALID_ARGUMENT);
    CHECK_EQUAL(prof_cl_queue_name(cl, &fake.queues[0], ""), PROF_INVALID_ARGUMENT);
    CHECK_EQUAL(prof_cl_queue_name(cl, &fake.queues[0], "x"), PROF_OK);
    CHECK_EQUAL(prof_cl_queue_name(cl, &fake.queues[0], "y"), PROF_INVALID_STATE);
    prof_cl_destroy(cl);
}

TEST(without_a_session_or_an_object_it_does_nothing)
{
    fake_reset();
    prof_cl *cl = fake_create(8);
    fake_complete(command(cl, 0, "x"), 0);
    CHECK_EQUAL(fake.calls[RETAIN], 0);
    CHECK_EQUAL(prof_cl_collect(cl), PROF_OK);
    CHECK_EQUAL(counts_of(cl).recorded, 0);
    prof_cl_destroy(cl);
    command(NULL, 0, "x");
    CHECK_EQUAL(prof_cl_collect(NULL), PROF_OK);
    CHECK_EQUAL(prof_cl_finish(NULL), PROF_OK);
    CHECK_EQUAL(prof_cl_destroy(NULL), PROF_OK);
    CHECK_EQUAL(prof_cl_queue_name(NULL, NULL, NULL), PROF_OK);
    PROFILE_CL_EVENT(cl, NULL, NULL, "no event");
}

/* Without a timer a marker tells the clock. Two devices of one name have a clock each. */
TEST(clocks_by_markers_and_devices_of_one_name)
{
    enum { COUNT = 20 };
    uint64_t before[COUNT], after[COUNT];
    prof_config config = trace_config(1u << 20);
    fake_reset();
    fake.timer = 0;
    fake.queues[1].device = 1;
    trace_start(&config);
    prof_cl *cl = fake_create(64);
    for (int i = 0; i < COUNT; ++i) {
        before[i] = prof_host_ns();
        fake_event *event = command(cl, 1, "x");
        fake_complete(command(cl, 0, "x"), 0);
        pause_us(10);
        fake_complete(event, 0);
        after[i] = prof_host_ns();
        CHECK_EQUAL(prof_cl_collect(cl), PROF_OK);
    }
    CHECK(fake.calls[MARKER] >= 2);
    CHECK(fake.calls[TIMER] == 2); /* once of each device: it does not work */
    prof_cl_destroy(cl);
    CHECK_EQUAL(fake_held(), 0);
    prof_trace *trace = trace_stop();
    int64_t start = (int64_t)prof_trace_about(trace)->start_monotonic_ns;
    for (int device = 0; device < 2; ++device) {
        trace_list list = row_events(trace, device ? "OpenCL made up 2" : "OpenCL made up", "queue 1");
        const prof_event *scopes[COUNT + 1];
        size_t count = scopes_of(&list, scopes, COUNT + 1);
        CHECK_EQUAL(count, COUNT);
        for (size_t i = 0; i < count; ++i) {
            CHECK(scopes[i]->start_ns + start >= (int64_t)before[i] - 2000);
            CHECK(trace_end(scopes[i]) + start <= (int64_t)after[i] + 2000);
        }
        trace_free(&list);
    }
    prof_trace_close(trace);
}

/* Markers have room beside the events, and what finds none is let go. */
TEST(markers_in_a_small_ring)
{
    prof_config config = trace_config(1u << 20);
    fake_reset();
    fake.timer = 0;
    fake.name = "small";
    trace_start(&config);
    prof_cl *cl = fake_create(1);
    fake_event *event = command(cl, 0, "x");
    CHECK_EQUAL(fake.calls[MARKER], 4);
    fake_complete(event, 0);
    CHECK_EQUAL(prof_cl_collect(cl), PROF_OK);
    CHECK_EQUAL(counts_of(cl).recorded, 1);
    prof_cl_destroy(cl);
    CHECK_EQUAL(fake_held(), 0);
    prof_trace *trace = trace_stop();
    size_t index;
    const prof_track *track = row_of(trace, "OpenCL small", "queue 1", &index);
    CHECK(track && track->pairs > 0);
    prof_trace_close(trace);

    trace_start(&config); /* nobody collects */
    prof_cl_options options = {0};
    options.calibrate_ms = 1;
    cl = prof_cl_create(fake_load, &options);
    for (int i = 0; i < 200; ++i) {
        command(cl, 0, "never done");
        prof_cl_collect(cl);
        pause_us(100);
    }
    CHECK(fake.calls[MARKER] > 64);
    CHECK_EQUAL(prof_cl_destroy(cl), PROF_INVALID_STATE);
    CHECK_EQUAL(fake_held(), 0);
    CHECK_EQUAL(fake.errors, 0);
    prof_trace_close(trace_stop());
}

/* Several threads queue while another collects. */
static prof_cl *shared;
static void *queues_commands(void *user)
{
    int queue = *(int *)user;
    for (int i = 0; i < 500; ++i) fake_complete(command(shared, queue, "x"), 0);
    return NULL;
}
TEST(threads)
{
    prof_config config = trace_config(4u << 20);
    pthread_t threads[QUEUES];
    int numbers[QUEUES];
    fake_reset();
    trace_start(&config);
    shared = fake_create(256);
    for (int i = 0; i < QUEUES; ++i) {
        numbers[i] = i;
        CHECK(!pthread_create(&threads[i], NULL, queues_commands, &numbers[i]));
    }
    for (int i = 0; i < 100; ++i) prof_cl_collect(shared);
    for (int i = 0; i < QUEUES; ++i) pthread_join(threads[i], NULL);
    prof_cl_finish(shared);
    prof_cl_info counts = counts_of(shared);
    CHECK_EQUAL(counts.recorded + counts.full, 500 * QUEUES);
    prof_cl_destroy(shared);
    CHECK_EQUAL(fake_held(), 0);
    CHECK_EQUAL(fake.errors, 0);
    prof_trace_close(trace_stop());
}

/*-- a real OpenCL --*/

static struct {
    int (*device_info)(void *device, unsigned name, size_t size, void *value, size_t *written);
    int (*get_platforms)(unsigned count, void **platforms, unsigned *found);
    int (*get_devices)(void *platform, uint64_t type, unsigned count, void **devices, unsigned *found);
    void *(*create_context)(const intptr_t *properties, unsigned count, void **devices, void *notify, void *user,
                            int *error);
    void *(*create_queue)(void *context, void *device, uint64_t properties, int *error);
    void *(*create_buffer)(void *context, uint64_t flags, size_t size, void *host, int *error);
    int (*write)(void *queue, void *buffer, unsigned blocks, size_t offset, size_t size, const void *from,
                 unsigned count, void *const *waits, void **event);
    int (*read)(void *queue, void *buffer, unsigned blocks, size_t offset, size_t size, void *to, unsigned count,
                void *const *waits, void **event);
    int (*finish)(void *queue);
    int (*release_event)(void *event);
    int (*release_queue)(void *queue);
    int (*release_buffer)(void *buffer);
    int (*release_context)(void *context);
    void *context, *device;
    char name[200];
} cl;

/* Returns why there is no OpenCL, or null. */
static const char *cl_open(void)
{
    static const struct {
        const char *name;
        void *to;
    } all[] = {{"clGetDeviceInfo", &cl.device_info},
               {"clGetPlatformIDs", &cl.get_platforms},
               {"clGetDeviceIDs", &cl.get_devices},
               {"clCreateContext", &cl.create_context},
               {"clCreateCommandQueue", &cl.create_queue},
               {"clCreateBuffer", &cl.create_buffer},
               {"clEnqueueWriteBuffer", &cl.write},
               {"clEnqueueReadBuffer", &cl.read},
               {"clFinish", &cl.finish},
               {"clReleaseEvent", &cl.release_event},
               {"clReleaseCommandQueue", &cl.release_queue},
               {"clReleaseMemObject", &cl.release_buffer},
               {"clReleaseContext", &cl.release_context}};
    static const char *why = "";
    if (!why || *why) return why;
#ifdef LEAK_CHECK
    CHECK_EQUAL(__lsan_do_recoverable_leak_check(), 0);
#endif
    void *library = dlopen("libOpenCL.so.1", RTLD_NOW), *platform = NULL;
    if (!library) return why = "there is no libOpenCL.so.1: ocl-icd-libopencl1";
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i) {
        void *function = dlsym(library, all[i].name);
        if (!function) return why = "OpenCL lacks a function";
        memcpy(all[i].to, &function, sizeof function);
    }
    int error = 0;
    if (cl.get_platforms(1, &platform, NULL) || cl.get_devices(platform, 0xFFFFFFFF, 1, &cl.device, NULL))
        return why = "OpenCL has no device: pocl-opencl-icd";
    cl.device_info(cl.device, 0x102B, sizeof cl.name, cl.name, NULL);
    cl.context = cl.create_context(NULL, 1, &cl.device, NULL, NULL, &error);
    if (!cl.context) return why = "OpenCL makes no context";
    return why = NULL;
}

enum { BYTES = 1 << 20 };
static char host_bytes[2][BYTES];

/* Copies that overlap, in two queues: recorded all, in the order of their queue, and while the host waited for them. */
static void real_copies(int out_of_order)
{
    enum { COUNT = 15 };
    prof_config config = trace_config(1u << 20);
    int error = 0;
    void *queues[2], *buffers[2], *event;
    uint64_t before[COUNT], after[COUNT];
    trace_start(&config);
    prof_cl *times = prof_cl_create(NULL, NULL);
    CHECK(times != NULL);
    for (int i = 0; i < 2; ++i) {
        queues[i] = cl.create_queue(cl.context, cl.device, out_of_order ? 3 : 2, &error);
        buffers[i] = cl.create_buffer(cl.context, 1, BYTES, NULL, &error);
        CHECK_EQUAL(prof_cl_queue_name(times, queues[i],
                                       out_of_order ? i ? "reads o" : "writes o"
                                       : i          ? "reads"
                                                    : "writes"),
                    PROF_OK);
    }
    for (int i = 0; i < COUNT; ++i) {
        before[i] = prof_host_ns();
        PROFILE_SCOPE("host");
        PROFILE_CL_ENQUEUE(times, queues[0], event, "write",
                           error = cl.write(queues[0], buffers[0], 0, 0, BYTES, host_bytes[0], 0, NULL, &event));
        CHECK(!error);
        cl.release_event(event);
        PROFILE_CL_ENQUEUE(times, queues[1], event, "read",
                           error = cl.read(queues[1], buffers[1], 0, 0, BYTES, host_bytes[1], 0, NULL, &event));
        CHECK(!error);
        cl.release_event(event);
        cl.finish(queues[0]);
        cl.finish(queues[1]);
        after[i] = prof_host_ns();
        CHECK_EQUAL(prof_cl_collect(times), PROF_OK);
    }
    CHECK_EQUAL(prof_cl_finish(times), PROF_OK);
    CHECK_EQUAL(counts_of(times).recorded, 2 * COUNT);
    CHECK_EQUAL(prof_cl_destroy(times), PROF_OK);
    for (int i = 0; i < 2; ++i) {
        cl.release_buffer(buffers[i]);
        cl.release_queue(queues[i]);
    }
    prof_trace *trace = trace_stop();
    int64_t start = (int64_t)prof_trace_about(trace)->start_monotonic_ns;
    for (size_t t = 0; t < prof_trace_track_count(trace); ++t) { /* each arrow begins before the command does */
        trace_list list = trace_read(trace, t);
        for (size_t i = 0; i < list.count; ++i) {
            const prof_event *out = &list.events[i];
            if (out->type != PROF_EVENT_FLOW_OUT) continue;
            size_t later = 0;
            for (size_t d = 0; d < prof_trace_track_count(trace); ++d) {
                if (d == t) continue;
                trace_list ins = trace_read(trace, d);
                for (size_t k = 0; k < ins.count; ++k)
                    later += ins.events[k].type == PROF_EVENT_FLOW_IN && ins.events[k].object == out->object &&
                             ins.events[k].start_ns >= out->start_ns - 2000;
                trace_free(&ins);
            }
            CHECK_EQUAL(later, 1);
        }
        trace_free(&list);
    }
    for (size_t t = 0, found = 0; t <= prof_trace_track_count(trace); ++t) {
        const prof_track *track = t < prof_trace_track_count(trace) ? prof_trace_track(trace, t) : NULL;
        if (!track) CHECK_EQUAL(found, 2);
        if (!track || !*track->device) continue;
        trace_list list = trace_read(trace, t);
        const prof_event *scopes[COUNT + 1];
        size_t count = scopes_of(&list, scopes, COUNT + 1);
        CHECK_EQUAL(count, COUNT);
        for (size_t i = 0; i < count; ++i) {
            CHECK(scopes[i]->start_ns + start >= (int64_t)before[i] - 2000);
            CHECK(trace_end(scopes[i]) + start <= (int64_t)after[i] + 2000);
            CHECK(trace_arg(scopes[i], "queued_ns") && trace_arg(scopes[i], "submitted_ns"));
        }
        found++;
        trace_free(&list);
    }
    prof_trace_close(trace);
}

TEST(real_copies_in_order)
{
    const char *why = cl_open();
    if (why) SKIP(why);
    real_copies(0);
}

TEST(real_copies_out_of_order)
{
    const char *why = cl_open();
    if (why) SKIP(why);
    real_copies(1);
}

TEST(a_real_queue_without_profiling)
{
    const char *why = cl_open();
    if (why) SKIP(why);
    prof_config config = trace_config(1u << 20);
    int error = 0;
    void *event;
    trace_start(&config);
    prof_cl *times = prof_cl_create(NULL, NULL);
    void *queue = cl.create_queue(cl.context, cl.device, 0, &error),
         *buffer = cl.create_buffer(cl.context, 1, 64, NULL, &error);
    CHECK(!cl.write(queue, buffer, 1, 0, 64, host_bytes[0], 0, NULL, &event));
    PROFILE_CL_EVENT(times, queue, event, "write");
    cl.release_event(event);
    CHECK_EQUAL(prof_cl_collect(times), PROF_INVALID_STATE);
    CHECK_TEXT(prof_error(), "OpenCL events: 1 lost: their queue has no profiling: make it with "
                             "CL_QUEUE_PROFILING_ENABLE");
    prof_cl_destroy(times);
    cl.release_buffer(buffer);
    cl.release_queue(queue);
    prof_trace_close(trace_stop());
}

/* When a command was queued and when it ended, by the device's clock on the recording's time line, against the host:
   not before it was asked for, and not after the host was told, but for 2 us. PROF_TEST_LONG=1: for a minute; and of pocl,
   whose clock is known, it prints how far apart the clocks are. */
TEST(real_clocks)
{
    const char *why = cl_open();
    if (why) SKIP(why);
    enum { MOST = 5400 };
    static uint64_t before[MOST], after[MOST];
    int64_t early = INT64_MAX,
            late = INT64_MAX; /* the least time from asking to queued, and from the end to being told */
    long count = trace_times(20, 50, MOST);
    prof_config config = trace_config(8u << 20);
    prof_cl_options options = {0};
    int error = 0;
    options.calibrate_ms = count == MOST ? 0 : 50;
    char name[300];
    snprintf(name, sizeof name, "OpenCL %s", cl.name);
    int known = count == MOST && !strncmp(cl.name, "pthread", 7);
    prof_device_row *row = prof_device_row_create(prof_device_create(name, NULL), "marks");
    trace_start(&config);
    prof_cl *times = prof_cl_create(NULL, &options);
    void *queue = cl.create_queue(cl.context, cl.device, 2, &error),
         *buffer = cl.create_buffer(cl.context, 1, 64, NULL, &error);
    CHECK_EQUAL(prof_cl_queue_name(times, queue, "clock"), PROF_OK);
    for (long i = 0; i < count; ++i) {
        void *event;
        before[i] = prof_host_ns();
        CHECK(!cl.write(queue, buffer, 0, 0, 64, host_bytes[0], 0, NULL, &event));
        cl.finish(queue);
        after[i] = prof_host_ns();
        PROFILE_CL_EVENT(times, queue, event, "write");
        cl.release_event(event);
        CHECK_EQUAL(prof_cl_collect(times), PROF_OK);
        if (known) { /* CLOCK_MONOTONIC_RAW; the name says when it was in the host's time */
            struct timespec raw;
            char text[32];
            uint64_t from = 0, to = UINT64_MAX;
            for (int tries = 0; tries < 5 && to - from > 1000; ++tries) {
                from = prof_host_ns();
                clock_gettime(4, &raw);
                to = prof_host_ns();
            }
            prof_device_event mark;
            memset(&mark, 0, sizeof mark);
            snprintf(text, sizeof text, "%llu", (unsigned long long)(from + (to - from) / 2));
            mark.type = PROF_EVENT_MARK;
            mark.name = text;
            mark.start = (uint64_t)raw.tv_sec * 1000000000 + (uint64_t)raw.tv_nsec;
            prof_device_record(row, &mark);
        }
        pause_ms(count == MOST ? 10 : 1);
    }
    CHECK_EQUAL(prof_cl_finish(times), PROF_OK);
    CHECK_EQUAL(prof_cl_destroy(times), PROF_OK);
    cl.release_buffer(buffer);
    cl.release_queue(queue);
    prof_trace *trace = trace_stop();
    int64_t start = (int64_t)prof_trace_about(trace)->start_monotonic_ns;
    size_t seen = 0;
    int64_t apart = 0;
    for (size_t t = 0; t < prof_trace_track_count(trace); ++t) {
        if (!strcmp(prof_trace_track(trace, t)->name, "marks")) {
            trace_list list = trace_read(trace, t);
            for (size_t i = 0; i < list.count; ++i) {
                int64_t off = list.events[i].start_ns + start - (int64_t)strtoull(list.events[i].name, NULL, 10);
                if (getenv("PROF_TEST_PRINT")) printf("%lld\n", (long long)off);
                if (off < 0) off = -off;
                if (off > apart) apart = off;
            }
            trace_free(&list);
        }
        if (strcmp(prof_trace_track(trace, t)->name, "clock")) continue;
        trace_list list = trace_read(trace, t);
        for (size_t i = 0; i < list.count; ++i) {
            if (list.events[i].type != PROF_EVENT_SCOPE) continue;
            const prof_event *event = &list.events[i];
            int64_t queued = event->start_ns + start - (int64_t)trace_arg(event, "queued_ns")->as.u -
                             (int64_t)trace_arg(event, "submitted_ns")->as.u;
            int64_t from = queued - (int64_t)before[seen], to = (int64_t)after[seen] - trace_end(event) - start;
            if (from < early) early = from;
            if (to < late) late = to;
            seen++;
        }
        trace_free(&list);
    }
    CHECK_EQUAL(seen, count);
    CHECK(early >= -2000);
    CHECK(late >= -2000);
    CHECK(apart <= 2000);
    if (known) printf("     clocks of OpenCL and host: at most %lld ns apart\n", (long long)apart);
    prof_trace_close(trace);
}

TEST_MAIN
