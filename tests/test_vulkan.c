/* prof_vulkan.h: scopes of command buffers. On a Vulkan without a driver, which works when it is told to and counts
   what is wrong; and, where there is one, on Mesa's lavapipe, under the validation layers. */
/* run: unchecked */
#include "private.h"
#include "../prof_vulkan.h"
#include "test.h"
#include "trace.h"
#include "fake_vulkan.h"
#include <pthread.h>
#include <unistd.h>

static prof_trace *trace;
static trace_list events; /* of the track that a test looks at */

static void start(void)
{
    prof_config config;
    memset(&config, 0, sizeof config);
    CHECK_EQUAL(prof_start(&config), PROF_OK);
}

static const prof_track *look_at(const char *device, const char *row)
{
    for (size_t i = 0; trace && i < prof_trace_track_count(trace); ++i) {
        const prof_track *track = prof_trace_track(trace, i);
        if (strcmp(track->device, device) || strcmp(track->name, row)) continue;
        trace_free(&events);
        events = trace_read(trace, i);
        return track;
    }
    return NULL;
}

/* Ends the session, and reads a device's track. */
static void stop(const char *device, const char *row)
{
    CHECK_EQUAL(prof_stop(), PROF_OK);
    CHECK_EQUAL(prof_trace_open_live(&trace), PROF_OK);
    trace_check(trace);
    CHECK(look_at(device, row) != NULL);
}

static void finish(void)
{
    trace_free(&events);
    prof_trace_close(trace);
    trace = NULL;
    CHECK_EQUAL(fake.wrong, 0);
    CHECK_EQUAL(fake.alive, 0);
}

static prof_vk_info info_of(const prof_vk *vk)
{
    prof_vk_info info;
    CHECK_EQUAL(prof_vk_get_info(vk, &info), PROF_OK);
    return info;
}

/* A frame of three passes. */
static void record_passes(prof_vk *vk, struct VkCommandBuffer_T *commands)
{
    commands->count = 0;
    PROFILE_VK_SCOPE(vk, commands, "frame");
    {
        PROFILE_VK_SCOPE(vk, commands, "shadow pass");
    }
    {
        PROFILE_VK_SCOPE(vk, commands, "colour pass");
        PROFILE_VK_SCOPE(vk, commands, "lights");
    }
    uint64_t scope = prof_vk_begin(vk, commands, "post");
    prof_vk_end(vk, commands, scope);
}

static struct VkQueue_T queue, other_queue;
static struct VkCommandBuffer_T buffers[8];

/* Some frames, of which the queue does some later than they are submitted. */
static void frames(prof_vk *vk, int count, uint32_t behind)
{
    for (int i = 0; i < count; ++i) {
        record_passes(vk, &buffers[i % 8]);
        fake_put(&queue, &buffers[i % 8], NULL);
        CHECK_EQUAL(prof_vk_collect(vk), PROF_OK);
        while (queue.last - queue.first > behind) fake_run(&queue, 1);
    }
    fake_run(&queue, ~0u);
}

/* All scopes of a frame, in order; each within those around it. */
static void check_frames(int count)
{
    CHECK_EQUAL(trace_count(&events, "frame"), count);
    for (int i = 0; i < count; ++i) {
        const size_t at = (size_t)i;
        const prof_event *frame = trace_nth(&events, "frame", at), *shadow = trace_nth(&events, "shadow pass", at);
        const prof_event *colour = trace_nth(&events, "colour pass", at), *lights = trace_nth(&events, "lights", at);
        const prof_event *post = trace_nth(&events, "post", at);
        CHECK(frame && shadow && colour && lights && post);
        if (!frame || !shadow || !colour || !lights || !post) return;
        CHECK(frame->depth == 0 && shadow->depth == 1 && colour->depth == 1 && lights->depth == 2 && post->depth == 1);
        CHECK(frame->start_ns <= shadow->start_ns && trace_end(shadow) <= colour->start_ns);
        CHECK(colour->start_ns <= lights->start_ns && trace_end(lights) <= trace_end(colour));
        CHECK(trace_end(colour) <= post->start_ns && trace_end(post) <= trace_end(frame));
        CHECK(shadow->duration_ns > 0 && frame->duration_ns > shadow->duration_ns);
    }
}

TEST(passes_nest_on_the_queues_track)
{
    fake_new();
    prof_vk_config config = fake_config(&queue);
    config.queue_name = "graphics";
    start();
    prof_vk *vk = prof_vk_create(&config);
    CHECK(vk != NULL);
    frames(vk, 40, 5);
    prof_vk_info info = info_of(vk);
    CHECK(info.calibrated == 1 && info.clock_error_ns < 1000000 && !info.device_lost && !info.memory_budget);
    prof_vk_destroy(vk);
    stop(fake.name, "graphics");
    check_frames(40);
    finish();
}

/* The last frames are there without prof_vk_destroy(), once the queue has done them. */
TEST(collecting_records_what_is_done)
{
    fake_new();
    prof_vk_config config = fake_config(&queue);
    start();
    prof_vk *vk = prof_vk_create(&config);
    record_passes(vk, &buffers[0]);
    fake_put(&queue, &buffers[0], NULL);
    CHECK_EQUAL(prof_vk_collect(vk), PROF_OK);
    CHECK_EQUAL(prof_vk_collect(vk), PROF_OK);
    CHECK_EQUAL(info_of(vk).scopes, 0); /* the queue has done nothing yet */
    fake_run(&queue, ~0u);
    CHECK_EQUAL(prof_vk_collect(vk), PROF_OK);
    CHECK_EQUAL(info_of(vk).scopes, 5);
    CHECK(fake_idle(&queue)); /* nothing is submitted for a frame without scopes */
    prof_vk_destroy(vk);
    stop(fake.name, "queue");
    check_frames(1);
    finish();
}

/* Of a device that is the CPU, results are read when pools run short: its driver waits there. */
TEST(software_drivers_are_read_seldom)
{
    fake_new();
    fake.type = PROF__VK_TYPE_CPU;
    prof_vk_config config = fake_config(&queue);
    config.pools = 10;
    start();
    prof_vk *vk = prof_vk_create(&config);
    frames(vk, 9, 0);
    CHECK_EQUAL(info_of(vk).scopes, 0);
    frames(vk, 2, 0);
    CHECK(info_of(vk).scopes >= 8 * 5);
    frames(vk, 40, 2);
    prof_vk_destroy(vk);
    stop(fake.name, "queue");
    check_frames(51);
    finish();
}

/* What the device's clock showed becomes the host's time, although it wraps and is too fast. */
static void check_clock(int32_t domain, double ns_off)
{
    fake_new();
    fake.bits = 36;
    fake.period = 52.0833321f; /* 19.2 MHz */
    fake.drift = 40e-6;
    fake.start = (1ull << 36) - 200000; /* wraps after 10 ms */
    fake.domain = domain;
    prof_vk_config config = fake_config(&queue);
    start();
    uint64_t host[30];
    fake.eager = 1;
    prof_vk *vk = prof_vk_create(&config);
    for (int i = 0; i < 30; ++i) {
        buffers[0].count = 0;
        uint64_t scope = prof_vk_begin(vk, &buffers[0], "pass");
        fake_query *query = &buffers[0].ops[0].pool->queries[buffers[0].ops[0].query];
        prof_vk_end(vk, &buffers[0], scope);
        fake_put(&queue, &buffers[0], NULL);
        fake_run(&queue, ~0u);
        host[i] = query->host_ns;
        pause_ms(1);
        CHECK_EQUAL(prof_vk_collect(vk), PROF_OK);
    }
    CHECK_EQUAL(prof_vk_calibrate(vk), PROF_OK);
    prof_vk_destroy(vk);
    stop(fake.name, "queue");
    CHECK_EQUAL(trace_count(&events, "pass"), 30);
    for (size_t i = 0; i < 30 && trace_nth(&events, "pass", i); ++i) {
        int64_t off = trace_nth(&events, "pass", i)->start_ns -
                      (int64_t)(host[i] - (uint64_t)prof_trace_about(trace)->start_monotonic_ns);
        CHECK(off < ns_off && off > -ns_off);
    }
    finish();
}
TEST(times_are_the_hosts) { check_clock(1, 20000); }
#ifdef __linux__
TEST(times_are_the_hosts_by_the_raw_clock) { check_clock(2, 20000); }
#endif
TEST(times_are_the_hosts_by_the_devices_clock_alone) { check_clock(0, 20000); }

/* Without calibrated timestamps, and without the host's resets, the queue does both. */
TEST(queues_that_can_do_little)
{
    fake_new();
    fake.missing = "vkGetCalibratedTimestamps";
    fake.eager = 1;
    prof_vk_config config = fake_config(&queue);
    config.host_query_reset = 0;
    config.queue_name = "graphics";
    config.device_name = "card 1";
    start();
    prof_vk *vk = prof_vk_create(&config);
    CHECK(vk != NULL);
    fake.eager = 0;
    CHECK_EQUAL(info_of(vk).calibrated, 0);
    frames(vk, 100, 7);
    fake.eager = 1;
    CHECK_EQUAL(prof_vk_calibrate(vk), PROF_OK);
    prof_vk_destroy(vk);
    stop("card 1, graphics", "graphics");
    check_frames(100);
    finish();
}

TEST(too_many_scopes_are_counted_and_said)
{
    fake_new();
    prof_vk_config config = fake_config(&queue);
    config.scopes = 4;
    config.pools = 3;
    start();
    prof_vk *vk = prof_vk_create(&config);
    buffers[0].count = 0;
    for (int i = 0; i < 20; ++i) prof_vk_end(vk, &buffers[0], prof_vk_begin(vk, &buffers[0], "pass"));
    CHECK_EQUAL(info_of(vk).lost_no_query, 8);
    fake_put(&queue, &buffers[0], NULL);
    CHECK_EQUAL(prof_vk_collect(vk), PROF_NO_MEMORY);
    CHECK(strstr(prof_error(), "8 scopes were lost, because all queries were in use") != NULL);
    fake_run(&queue, ~0u);
    for (int i = 0; i < 3; ++i) {
        CHECK_EQUAL(prof_vk_collect(vk), PROF_OK); /* it is said once */
        fake_run(&queue, ~0u);
    }
    CHECK_EQUAL(info_of(vk).scopes, 12);
    buffers[0].count = 0;
    prof_vk_end(vk, &buffers[0], prof_vk_begin(vk, &buffers[0], "later"));
    fake_put(&queue, &buffers[0], NULL);
    fake_run(&queue, ~0u);
    prof_vk_destroy(vk);
    stop(fake.name, "queue");
    CHECK_EQUAL(trace_count(&events, "pass"), 12);
    CHECK_EQUAL(trace_count(&events, "later"), 1);
    CHECK_EQUAL(trace_count(&events, "8 scopes lost: all queries were in use"), 1);
    finish();
}

/* Command buffers that are recorded, and never submitted, keep no others from being recorded. */
TEST(command_buffers_that_are_never_submitted)
{
    fake_new();
    prof_vk_config config = fake_config(&queue);
    config.scopes = 8;
    config.pools = 4;
    start();
    prof_vk *vk = prof_vk_create(&config);
    for (int i = 0; i < 100; ++i) {
        buffers[0].count = buffers[1].count = 0;
        prof_vk_end(vk, &buffers[0], prof_vk_begin(vk, &buffers[0], "pass"));
        prof_vk_end(vk, &buffers[1], prof_vk_begin(vk, &buffers[1], "dropped"));
        fake_put(&queue, &buffers[0], NULL);
        prof_vk_collect(vk);
        fake_run(&queue, ~0u);
    }
    prof_vk_info info = info_of(vk);
    CHECK(info.scopes > 90 && info.not_submitted > 80 && info.lost_no_query == 0 && info.lost_no_end == 0);
    prof_vk_destroy(vk);
    stop(fake.name, "queue");
    CHECK_EQUAL(trace_count(&events, "pass"), 100);
    CHECK_EQUAL(trace_count(&events, "dropped"), 0);
    finish();
}

/* A command buffer may be recorded some frames before it is submitted. */
static void check_late(uint32_t pools, int late)
{
    fake_new();
    prof_vk_config config = fake_config(&queue);
    config.pools = pools;
    start();
    prof_vk *vk = prof_vk_create(&config);
    buffers[1].count = 0;
    prof_vk_end(vk, &buffers[1], prof_vk_begin(vk, &buffers[1], "early"));
    for (int i = 0; i < 8; ++i) {
        buffers[0].count = 0;
        prof_vk_end(vk, &buffers[0], prof_vk_begin(vk, &buffers[0], "pass"));
        fake_put(&queue, &buffers[0], NULL);
        if (i == late) fake_put(&queue, &buffers[1], NULL);
        CHECK_EQUAL(prof_vk_collect(vk), PROF_OK);
        fake_run(&queue, ~0u);
    }
    CHECK_EQUAL(prof_vk_collect(vk), PROF_OK);
    CHECK_EQUAL(info_of(vk).scopes, 9);
    prof_vk_destroy(vk);
    stop(fake.name, "queue");
    CHECK_EQUAL(trace_count(&events, "early"), 1);
    CHECK_EQUAL(trace_count(&events, "pass"), 8);
    finish();
}
TEST(command_buffers_that_are_submitted_late) { check_late(16, 5); }
TEST(command_buffers_that_are_submitted_late_where_pools_are_few) { check_late(3, 2); }

/* A command buffer that is recorded once and submitted with each frame takes no other scope's times. */
static void check_again(int host_reset)
{
    fake_new();
    prof_vk_config config = fake_config(&queue);
    config.host_query_reset = host_reset;
    start();
    prof_vk *vk = prof_vk_create(&config);
    int said = 0, count = 60;
    buffers[7].count = 0;
    for (int i = 0; i < 3; ++i) prof_vk_end(vk, &buffers[7], prof_vk_begin(vk, &buffers[7], "once"));
    for (int i = 0; i < count; ++i) {
        record_passes(vk, &buffers[i % 4]);
        fake_put(&queue, &buffers[i % 4], NULL);
        buffers[7].pending = 0;
        fake_put(&queue, &buffers[7], NULL);
        prof_status status = prof_vk_collect(vk);
        said += status == PROF_INVALID_STATE && strstr(prof_error(), "command buffers were submitted again") != NULL;
        CHECK(status == PROF_OK || status == PROF_INVALID_STATE);
        while (queue.last - queue.first > 3) fake_run(&queue, 1);
    }
    fake_run(&queue, ~0u);
    CHECK(said > 3);
    CHECK(info_of(vk).lost_again > 3 && info_of(vk).lost_no_query == 0);
    prof_vk_destroy(vk);
    stop(fake.name, "queue");
    check_frames(count);
    CHECK_EQUAL(trace_count(&events, "once"), 3);
    CHECK(trace_count(&events, "3 scopes lost: their commands were submitted again") > 3);
    fake.wrong = 0; /* queries were written twice */
    finish();
}
TEST(command_buffers_that_are_submitted_again) { check_again(1); }
TEST(command_buffers_that_are_submitted_again_without_host_reset) { check_again(0); }

/* One that is recorded once has a scope in each frame if that begins and ends in buffers that are recorded anew. */
TEST(command_buffers_that_are_submitted_again_between_others)
{
    fake_new();
    prof_vk_config config = fake_config(&queue);
    start();
    prof_vk *vk = prof_vk_create(&config);
    buffers[7].count = 0;
    for (int i = 0; i < 60; ++i) {
        struct VkCommandBuffer_T *before = &buffers[2 * (i % 3)], *after = before + 1;
        before->count = after->count = 0;
        uint64_t scope = prof_vk_begin(vk, before, "once");
        prof_vk_end(vk, after, scope);
        fake_put(&queue, before, NULL);
        buffers[7].pending = 0;
        fake_put(&queue, &buffers[7], NULL);
        fake_put(&queue, after, NULL);
        CHECK_EQUAL(prof_vk_collect(vk), PROF_OK);
        while (queue.last - queue.first > 4) fake_run(&queue, 1);
    }
    fake_run(&queue, ~0u);
    prof_vk_destroy(vk);
    stop(fake.name, "queue");
    CHECK_EQUAL(trace_count(&events, "once"), 60);
    finish();
}

/* The program's work is done, but not yet what prof has submitted after it. */
TEST(queues_that_are_idle_but_for_prof)
{
    for (int host_reset = 0; host_reset < 2; ++host_reset) {
        fake_new();
        prof_vk_config config = fake_config(&queue);
        config.host_query_reset = host_reset;
        start();
        prof_vk *vk = prof_vk_create(&config);
        record_passes(vk, &buffers[0]);
        fake_put(&queue, &buffers[0], NULL);
        fake_run(&queue, ~0u);
        CHECK_EQUAL(prof_vk_collect(vk), PROF_OK);
        prof_vk_destroy(vk);
        stop(fake.name, "queue");
        check_frames(1);
        finish();
    }
}

/* What the queue did before a session began is not in it, whenever it is collected. */
TEST(scopes_of_an_earlier_session)
{
    fake_new();
    prof_vk_config config = fake_config(&queue);
    start();
    prof_vk *vk = prof_vk_create(&config);
    for (int i = 0; i < 2; ++i) {
        buffers[i].count = 0;
        prof_vk_end(vk, &buffers[i], prof_vk_begin(vk, &buffers[i], i ? "between" : "before"));
    }
    fake_put(&queue, &buffers[0], NULL);
    CHECK_EQUAL(prof_vk_collect(vk), PROF_OK);
    fake_run(&queue, ~0u);
    CHECK_EQUAL(prof_stop(), PROF_OK);
    pause_ms(1);
    start();
    fake_put(&queue, &buffers[1], NULL);
    CHECK_EQUAL(prof_vk_collect(vk), PROF_OK);
    fake_run(&queue, ~0u);
    frames(vk, 1, 0);
    CHECK_EQUAL(prof_vk_collect(vk), PROF_OK);
    prof_vk_destroy(vk);
    stop(fake.name, "queue");
    CHECK_EQUAL(trace_count(&events, "before"), 0);
    CHECK_EQUAL(trace_count(&events, "between"), 1);
    check_frames(1);
    finish();
}

TEST(scopes_without_an_end_are_counted_and_said)
{
    fake_new();
    prof_vk_config config = fake_config(&queue);
    config.pools = 3;
    start();
    prof_vk *vk = prof_vk_create(&config);
    buffers[1].count = 0;
    uint64_t open = prof_vk_begin(vk, &buffers[1], "no end");
    fake_put(&queue, &buffers[1], NULL);
    int said = 0;
    for (int i = 0; i < 20; ++i) {
        buffers[0].count = buffers[2].count = 0;
        prof_vk_end(vk, &buffers[0], prof_vk_begin(vk, &buffers[0], "pass"));
        prof_vk_begin(vk, &buffers[2], "another"); /* so that pools are short */
        fake_put(&queue, &buffers[0], NULL);
        fake_put(&queue, &buffers[2], NULL);
        prof_status status = prof_vk_collect(vk);
        said += status == PROF_INVALID_STATE && strstr(prof_error(), "prof_vk_end() was not called") != NULL;
        fake_run(&queue, ~0u);
    }
    CHECK(said > 2);
    CHECK(info_of(vk).lost_no_end > 2);
    buffers[1].count = 0;
    prof_vk_end(vk, &buffers[1], open); /* too late: the query is another scope's */
    CHECK_EQUAL(buffers[1].count, 0);
    prof_vk_destroy(vk);
    stop(fake.name, "queue");
    CHECK_EQUAL(trace_count(&events, "pass"), 20);
    CHECK_EQUAL(trace_count(&events, "no end"), 0);
    CHECK(trace_count(&events, "1 scopes lost: prof_vk_end() was not called, or too late") > 0);
    finish();
}

/* Each call may be the one that says that the device is lost. */
TEST(lost_devices)
{
    int call = 0, ended = 0;
    for (; !ended && call < 1000; ++call) {
        fake_new();
        fake.missing = call % 2 ? "vkGetCalibratedTimestamps" : NULL;
        prof_vk_config config = fake_config(&queue);
        config.host_query_reset = call / 2 % 2;
        fake.eager = 1;
        start();
        prof_vk *vk = prof_vk_create(&config);
        CHECK(vk != NULL);
        fake.eager = 0;
        fake.calls = 0;
        fake.fails_at = call / 4 + 1;
        int taken = 0;
        prof_status status = PROF_OK;
        for (int i = 0; i < 6; ++i) {
            int before = fake.writes;
            record_passes(vk, &buffers[i]);
            taken += (fake.writes - before) / 2;
            fake_put(&queue, &buffers[i], NULL);
            status = prof_vk_collect(vk);
            if (i > 1) fake_run(&queue, 1);
        }
        ended = fake.calls < fake.fails_at;
        if (!ended) {
            prof_vk_info info = info_of(vk);
            CHECK_EQUAL(status, PROF_IO);
            CHECK(strstr(prof_error(), "VK_ERROR_DEVICE_LOST (-4): make a new device") != NULL);
            CHECK_EQUAL(info.device_lost, 1);
            CHECK_EQUAL(info.lost_device + info.scopes, taken);
            CHECK_EQUAL(prof_vk_begin(vk, &buffers[7], "none"), 0);
        }
        if (ended) fake.fails_at = FAKE_LOST_NEVER;
        fake_run(&queue, ~0u); /* nobody waits for a device that is gone */
        prof_vk_destroy(vk);
        CHECK_EQUAL(prof_stop(), PROF_OK);
        CHECK_EQUAL(prof_trace_open_live(&trace), PROF_OK);
        if (call % 2) strcat(fake.name, ", queue");
        CHECK(look_at(fake.name, "queue") != NULL);
        int marks = 0;
        for (size_t i = 0; i < events.count; ++i) marks += !strncmp(events.events[i].name, "the device was lost", 19);
        CHECK_EQUAL(marks, !ended);
        finish();
    }
    CHECK(call > 40);
}

/* Each call may fail while a prof_vk is made: nothing is left behind. */
TEST(what_fails_leaves_nothing)
{
    int call = 0, made = 0;
    for (; !made && call < 2000; ++call) {
        fake_new();
        fake.missing = "vkGetCalibratedTimestamps";
        fake.eager = 1;
        fake.result = -2;
        prof_vk_config config = fake_config(&queue);
        config.host_query_reset = 0;
        fake.fails_at = call + 1;
        prof_vk *vk = prof_vk_create(&config);
        made = vk != NULL;
        if (!vk) CHECK(strstr(prof_error(), "VK_ERROR_OUT_OF_DEVICE_MEMORY (-2)") != NULL);
        fake.fails_at = FAKE_LOST_NEVER;
        prof_vk_destroy(vk);
        CHECK_EQUAL(fake.wrong, 0);
        CHECK_EQUAL(fake.alive, 0);
        if (test_failures) return;
    }
    CHECK(call > 100);
}

static void check_refused(const prof_vk_config *config, prof_status status, const char *text)
{
    CHECK(prof_vk_create(config) == NULL);
    CHECK(strstr(prof_error(), text) != NULL);
    if (!strstr(prof_error(), text)) printf("%s\n", prof_error());
    (void)status;
    CHECK_EQUAL(fake.alive, 0);
}

TEST(what_cannot_be_is_refused)
{
    static const char *const needed[] = {"vkGetPhysicalDeviceProperties", "vkCmdWriteTimestamp", "vkQueueSubmit",
                                         "vkGetQueryPoolResults"};
    fake_new();
    prof_vk_config config = fake_config(&queue), bad = config;
    check_refused(NULL, PROF_INVALID_ARGUMENT, "config is null");
    bad.device = NULL;
    check_refused(&bad, PROF_INVALID_ARGUMENT, "prof_vk_create: device is NULL");
    bad = config;
    bad.get_instance_proc_addr = NULL;
    check_refused(&bad, PROF_INVALID_ARGUMENT, "get_instance_proc_addr is NULL");
    bad = config;
    bad.scopes = 65537;
    check_refused(&bad, PROF_INVALID_ARGUMENT, "scopes is 65537");
    bad = config;
    bad.pools = 2;
    check_refused(&bad, PROF_INVALID_ARGUMENT, "pools is 2, not 3 to 250");
    bad = config;
    bad.queue_family = 3;
    check_refused(&bad, PROF_INVALID_ARGUMENT, "there is no queue family 3");
    bad.queue_family = 2;
    check_refused(&bad, PROF_UNSUPPORTED, "queue family 2 has no timestamps");
    bad.queue_family = 1;
    bad.host_query_reset = 0;
    check_refused(&bad, PROF_UNSUPPORTED, "enable the feature hostQueryReset");
    for (int i = 0; i < 4; ++i) {
        fake.missing = needed[i];
        check_refused(&config, PROF_UNSUPPORTED, needed[i]);
    }
    fake.missing = "vkResetQueryPool";
    check_refused(&config, PROF_UNSUPPORTED, "host_query_reset is set, but the device has no vkResetQueryPool");
    fake.missing = NULL;
    fake.period = 0;
    check_refused(&config, PROF_UNSUPPORTED, "the device has no timestamps");
    CHECK_EQUAL(prof_vk_collect(NULL), PROF_INVALID_ARGUMENT);
    CHECK_EQUAL(prof_vk_calibrate(NULL), PROF_INVALID_ARGUMENT);
    CHECK_EQUAL(prof_vk_get_info(NULL, NULL), PROF_INVALID_ARGUMENT);
    CHECK_EQUAL(prof_vk_wrap_labels(NULL, NULL, NULL), PROF_INVALID_ARGUMENT);
    record_passes(NULL, &buffers[0]); /* as in a program whose prof_vk_create() has failed */
    prof_vk_end(NULL, &buffers[0], 1);
    prof_vk_destroy(NULL);
    CHECK_EQUAL(buffers[0].count, 0);
}

/* While nothing records, or not this device, command buffers stay as they are. */
TEST(scopes_that_are_off_write_nothing)
{
    fake_new();
    prof_vk_config config = fake_config(&queue);
    prof_vk *vk = prof_vk_create(&config);
    record_passes(vk, &buffers[0]);
    CHECK_EQUAL(buffers[0].count, 0);
    start();
    CHECK_EQUAL(prof_category_enable(fake.name, 0), PROF_OK);
    record_passes(vk, &buffers[0]);
    CHECK_EQUAL(buffers[0].count, 0);
    CHECK_EQUAL(prof_category_enable(fake.name, 1), PROF_OK);
    record_passes(vk, &buffers[0]);
    CHECK_EQUAL(buffers[0].count, 10);
    prof_vk_destroy(vk);
    CHECK_EQUAL(prof_stop(), PROF_OK);
    CHECK_EQUAL(fake.alive, 0);
}

/* An arrow leads from the host's scope to the device's. */
static void check_arrows(int none)
{
    fake_new();
    prof_vk_config config = fake_config(&queue);
    config.no_arrows = none;
    start();
    prof_vk *vk = prof_vk_create(&config);
    {
        PROFILE_SCOPE("record");
        buffers[0].count = 0;
        prof_vk_end(vk, &buffers[0], prof_vk_begin(vk, &buffers[0], "pass"));
    }
    fake_put(&queue, &buffers[0], NULL);
    fake_run(&queue, ~0u);
    prof_vk_destroy(vk);
    stop(fake.name, "queue");
    uint64_t id = 0;
    for (size_t i = 0; i < events.count; ++i) {
        if (events.events[i].type == PROF_EVENT_FLOW_IN) id = events.events[i].object;
    }
    CHECK_EQUAL(id != 0, !none);
    trace_free(&events);
    events = trace_read(trace, 0);
    const prof_event *out = NULL;
    for (size_t i = 0; i < events.count; ++i) {
        if (events.events[i].type == PROF_EVENT_FLOW_OUT) out = &events.events[i];
    }
    CHECK_EQUAL(out != NULL, !none);
    if (out) CHECK(out->object == id && out->depth == 1);
    finish();
}
TEST(arrows_lead_to_the_queue) { check_arrows(0); }
TEST(arrows_can_be_left_out) { check_arrows(1); }

/* Two queues of a device are two tracks of it. The second one can only transfer, and its times have more bits. */
TEST(queues_of_a_device)
{
    fake_new();
    fake.bits = 40;
    prof_vk_config config = fake_config(&queue), other = fake_config(&other_queue);
    config.queue_name = "graphics";
    other.queue_name = "transfer";
    other.queue_family = 1;
    start();
    prof_vk *vk = prof_vk_create(&config), *second = prof_vk_create(&other);
    CHECK(vk != NULL && second != NULL);
    buffers[6].count = 0;
    {
        PROFILE_VK_SCOPE(second, &buffers[6], "upload");
    }
    fake_put(&other_queue, &buffers[6], NULL);
    frames(vk, 4, 1);
    fake_run(&other_queue, ~0u);
    prof_vk_destroy(second);
    prof_vk_destroy(vk);
    stop(fake.name, "graphics");
    check_frames(4);
    CHECK(look_at(fake.name, "transfer") != NULL);
    CHECK_EQUAL(trace_count(&events, "upload"), 1);
    finish();
}

/* A secondary command buffer has scopes of its own, inside one of the primary. */
TEST(secondary_command_buffers)
{
    fake_new();
    prof_vk_config config = fake_config(&queue);
    start();
    prof_vk *vk = prof_vk_create(&config);
    buffers[0].count = buffers[1].count = 0;
    {
        PROFILE_VK_SCOPE(vk, &buffers[1], "inner");
    }
    {
        PROFILE_VK_SCOPE(vk, &buffers[0], "outer");
        fake_add(&buffers[0])->secondary = &buffers[1];
    }
    uint64_t scope = prof_vk_begin(vk, &buffers[0], "in two"); /* ends in the command buffer after it */
    buffers[2].count = 0;
    prof_vk_end(vk, &buffers[2], scope);
    fake_put(&queue, &buffers[0], NULL);
    fake_put(&queue, &buffers[2], NULL);
    fake_run(&queue, ~0u);
    prof_vk_destroy(vk);
    stop(fake.name, "queue");
    const prof_event *outer = trace_find(&events, "outer"), *inner = trace_find(&events, "inner");
    CHECK(outer && inner && inner->depth == 1 && trace_end(inner) <= trace_end(outer));
    CHECK_EQUAL(trace_count(&events, "in two"), 1);
    finish();
}

TEST(names_made_at_run_time_are_copied)
{
    fake_new();
    prof_vk_config config = fake_config(&queue);
    start();
    prof_vk *vk = prof_vk_create(&config);
    char text[200];
    buffers[0].count = 0;
    for (int i = 0; i < 3; ++i) {
        snprintf(text, sizeof text, "cascade %d", i);
        PROFILE_VK_SCOPE_DYNAMIC(vk, &buffers[0], text);
    }
    memset(text, 'a', sizeof text);
    text[199] = 0;
    prof_vk_end(vk, &buffers[0], prof_vk_begin_text(vk, &buffers[0], text));
    prof_vk_end(vk, &buffers[0], prof_vk_begin(vk, &buffers[0], NULL));
    fake_put(&queue, &buffers[0], NULL);
    fake_run(&queue, ~0u);
    prof_vk_destroy(vk);
    stop(fake.name, "queue");
    text[63] = 0;
    CHECK_EQUAL(trace_count(&events, "cascade 0"), 1);
    CHECK_EQUAL(trace_count(&events, "cascade 2"), 1);
    CHECK_EQUAL(trace_count(&events, text), 1);
    CHECK_EQUAL(trace_count(&events, ""), 1);
    finish();
}

TEST(memory_budgets)
{
    fake_new();
    fake.has_budget = 1;
    fake.heap_used = 1234567;
    prof_vk_config config = fake_config(&queue);
    config.memory_budget = 1;
    start();
    prof_vk *vk = prof_vk_create(&config);
    CHECK_EQUAL(info_of(vk).memory_budget, 1);
    prof_vk_collect(vk);
    prof_vk_collect(vk); /* not due yet */
    prof_vk_destroy(vk);
    stop(fake.name, "memory");
    const prof_event *used = trace_find(&events, "device heap 0 used (bytes)");
    CHECK(used && used->type == PROF_EVENT_COUNTER && used->value.as.i == 1234567);
    CHECK_EQUAL(trace_count(&events, "device heap 0 used (bytes)"), 1);
    CHECK_EQUAL(trace_count(&events, "device heap 0 budget (bytes)"), 1);
    CHECK_EQUAL(trace_count(&events, "host heap 1 used (bytes)"), 1);
    finish();
    fake_new(); /* a device without the extension */
    config = fake_config(&queue);
    config.memory_budget = 1;
    vk = prof_vk_create(&config);
    CHECK(vk && info_of(vk).memory_budget == 0);
    prof_vk_destroy(vk);
}

static void label(prof_vk_label_begin begin, struct VkCommandBuffer_T *commands, const char *name)
{
    prof__vk_label a_label;
    memset(&a_label, 0, sizeof a_label);
    a_label.name = name;
    begin(commands, (const struct VkDebugUtilsLabelEXT *)(const void *)&a_label);
}

TEST(labels_are_scopes_on_request)
{
    prof_vk_label_begin begin = fake_begin_label, second_begin = NULL;
    prof_vk_label_end end = fake_end_label, second_end = NULL;
    fake_new();
    prof_vk_config config = fake_config(&queue);
    prof_vk *vk = prof_vk_create(&config);
    CHECK_EQUAL(prof_vk_wrap_labels(vk, &begin, &end), PROF_OK);
    buffers[0].count = buffers[1].count = buffers[2].count = 0;
    label(begin, &buffers[0], "off"); /* begins while nothing records, and ends while something does */
    start();
    label(begin, &buffers[0], "frame");
    label(begin, &buffers[1], "other buffer");
    label(begin, &buffers[0], "pass");
    CHECK_EQUAL(fake.driver_labels, 4);
    end(&buffers[0]);
    end(&buffers[1]);
    end(&buffers[0]);
    end(&buffers[0]);
    end(&buffers[0]); /* one too many */
    for (int i = 0; i < 20; ++i) label(begin, &buffers[0], "deep");
    for (int i = 0; i < 20; ++i) end(&buffers[0]);
    label(begin, &buffers[2], "thrown away");
    CHECK_EQUAL(buffers[2].count, 1);
    fake_put(&queue, &buffers[0], NULL);
    fake_put(&queue, &buffers[1], NULL);
    fake_run(&queue, ~0u);
    CHECK_EQUAL(prof_vk_wrap_labels(vk, &second_begin, &second_end), PROF_OK); /* those of another table of functions */
    CHECK(begin == fake_begin_label && end == fake_end_label && second_begin != NULL);
    buffers[1].count = 0;
    label(second_begin, &buffers[1], "second");
    second_end(&buffers[1]);
    fake_put(&queue, &buffers[1], NULL);
    fake_run(&queue, ~0u);
    prof_vk_destroy(vk);
    CHECK(second_begin == NULL && second_end == NULL);
    stop(fake.name, "queue");
    CHECK_EQUAL(trace_count(&events, "off"), 0);
    CHECK_EQUAL(trace_count(&events, "frame"), 1);
    CHECK_EQUAL(trace_count(&events, "pass"), 1);
    CHECK_EQUAL(trace_count(&events, "other buffer"), 1);
    CHECK_EQUAL(trace_count(&events, "deep"), PROF__VK_LABEL_DEPTH);
    CHECK_EQUAL(trace_count(&events, "thrown away"), 0);
    CHECK_EQUAL(trace_count(&events, "second"), 1);
    CHECK_EQUAL(fake.driver_labels, -1 + 1 - 1 + 1); /* the thrown away one, and the one too many */
    finish();
}

/* Copies of the program's pointers lead to prof once, and to the driver alone when the prof_vk is gone; pointers that the
   program has loaded anew stay. */
TEST(labels_of_copied_pointers)
{
    prof_vk_label_begin begin = fake_begin_label, copy, kept;
    prof_vk_label_end end = fake_end_label, end_copy, end_kept;
    fake_new();
    prof_vk_config config = fake_config(&queue);
    start();
    prof_vk *vk = prof_vk_create(&config);
    CHECK_EQUAL(prof_vk_wrap_labels(vk, &begin, &end), PROF_OK);
    copy = kept = begin;
    end_copy = end_kept = end;
    CHECK_EQUAL(prof_vk_wrap_labels(vk, &copy, &end_copy), PROF_OK);
    buffers[0].count = 0;
    label(copy, &buffers[0], "copied");
    end_copy(&buffers[0]);
    fake_put(&queue, &buffers[0], NULL);
    fake_run(&queue, ~0u);
    copy = fake_begin_label;
    end_copy = fake_end_label;
    prof_vk_destroy(vk);
    CHECK(copy == fake_begin_label && end_copy == fake_end_label);
    label(kept, &buffers[0], "kept");
    CHECK_EQUAL(fake.driver_labels, 1);
    end_kept(&buffers[0]);
    CHECK_EQUAL(fake.driver_labels, 0);
    stop(fake.name, "queue");
    CHECK_EQUAL(trace_count(&events, "copied"), 1);
    CHECK_EQUAL(trace_count(&events, "kept"), 0);
    finish();
}

/* Threads record command buffers, while another one collects. */
enum { THREADS = 4 };
static struct worker {
    prof_vk *vk;
    pthread_t thread;
    struct VkCommandBuffer_T commands[2];
    uint32_t turn, done; /* the frame that it shall record, and the last one that it has */
    int taken;
} workers[THREADS];

static void *work(void *arg)
{
    struct worker *self = (struct worker *)arg;
    for (uint32_t turn = 1;; ++turn) {
        uint32_t shall;
        while ((shall = __atomic_load_n(&self->turn, __ATOMIC_ACQUIRE)) < turn) pause_us(10);
        if (shall == ~0u) return NULL;
        struct VkCommandBuffer_T *commands = &self->commands[turn % 2];
        for (int i = 0; i < 20; ++i) {
            PROFILE_VK_SCOPE(self->vk, commands, "a");
            PROFILE_VK_SCOPE(self->vk, commands, "b");
        }
        self->taken += (int)commands->count / 2;
        __atomic_store_n(&self->done, turn, __ATOMIC_RELEASE);
    }
}

TEST(threads_record_at_once)
{
    const uint32_t turns = (uint32_t)trace_times(50, 300, 3000);
    fake_new();
    prof_vk_config config = fake_config(&queue);
    fake.at_once = 1;
    config.scopes = 32; /* so that threads go from pool to pool all the time */
    start();
    prof_vk *vk = prof_vk_create(&config);
    memset(workers, 0, sizeof workers);
    for (int i = 0; i < THREADS; ++i) {
        workers[i].vk = vk;
        CHECK(!pthread_create(&workers[i].thread, NULL, work, &workers[i]));
    }
    for (uint32_t turn = 1; turn <= turns; ++turn) {
        fake_run(&queue, turn % 5 ? ~0u : 1); /* what was submitted of the turn before; sometimes it takes longer */
        if (turn % 5 == 0) fake_run(&queue, ~0u);
        for (int i = 0; i < THREADS; ++i) {
            workers[i].commands[turn % 2].count = 0;
            __atomic_store_n(&workers[i].turn, turn, __ATOMIC_RELEASE);
        }
        prof_vk_collect(vk);
        for (int i = 0; i < THREADS; ++i) {
            while (__atomic_load_n(&workers[i].done, __ATOMIC_ACQUIRE) < turn) prof_vk_collect(vk);
            fake_put(&queue, &workers[i].commands[turn % 2], NULL);
        }
    }
    fake_run(&queue, ~0u);
    uint64_t taken = 0;
    for (int i = 0; i < THREADS; ++i) {
        __atomic_store_n(&workers[i].turn, ~0u, __ATOMIC_RELEASE);
        CHECK(!pthread_join(workers[i].thread, NULL));
        taken += (uint64_t)workers[i].taken;
    }
    for (int i = 0; i < 20; ++i) {
        prof_vk_collect(vk);
        fake_run(&queue, ~0u);
    }
    prof_vk_info info = info_of(vk);
    CHECK_EQUAL(info.scopes, taken);
    CHECK_EQUAL(info.scopes + info.lost_no_query, turns * THREADS * 40);
    CHECK_EQUAL(info.lost_no_end + info.not_submitted, 0);
    prof_vk_destroy(vk);
    CHECK_EQUAL(prof_stop(), PROF_OK);
    finish();
}

/*-- a real driver: Mesa's lavapipe in CI --*/

#ifdef __has_include
#if __has_include(<vulkan/vulkan.h>)
#define HAVE_VULKAN 1
#endif
#endif
#ifdef HAVE_VULKAN
#include "real_vulkan.h"

/* Our declarations are Vulkan's. */
#define SAME(ours, theirs) typedef char same_##theirs[sizeof(ours) == sizeof(theirs) ? 1 : -1]
#define AT(ours, a, theirs, b) offsetof(ours, a) == offsetof(theirs, b)
SAME(prof__vk_handle, VkQueryPool);
SAME(prof__vk_properties, VkPhysicalDeviceProperties);
SAME(prof__vk_family, VkQueueFamilyProperties);
SAME(prof__vk_extension, VkExtensionProperties);
SAME(prof__vk_query_pool_info, VkQueryPoolCreateInfo);
SAME(prof__vk_fence_info, VkFenceCreateInfo);
SAME(prof__vk_command_pool_info, VkCommandPoolCreateInfo);
SAME(prof__vk_command_buffer_info, VkCommandBufferAllocateInfo);
SAME(prof__vk_begin_info, VkCommandBufferBeginInfo);
SAME(prof__vk_submit_info, VkSubmitInfo);
SAME(prof__vk_calibrated_info, VkCalibratedTimestampInfoEXT);
SAME(prof__vk_budget, VkPhysicalDeviceMemoryBudgetPropertiesEXT);
SAME(prof__vk_memory, VkPhysicalDeviceMemoryProperties2);
SAME(prof__vk_label, VkDebugUtilsLabelEXT);

TEST(declarations_are_vulkans)
{
    CHECK(AT(prof__vk_properties, name, VkPhysicalDeviceProperties, deviceName));
    CHECK(AT(prof__vk_properties, limits, VkPhysicalDeviceProperties, limits));
    CHECK(AT(prof__vk_properties, limits.map_alignment, VkPhysicalDeviceProperties, limits.minMemoryMapAlignment));
    CHECK(AT(prof__vk_properties, limits.timestamp_period, VkPhysicalDeviceProperties, limits.timestampPeriod));
    CHECK(AT(prof__vk_family, flags, VkQueueFamilyProperties, queueFlags));
    CHECK(AT(prof__vk_family, timestamp_bits, VkQueueFamilyProperties, timestampValidBits));
    CHECK(AT(prof__vk_query_pool_info, query_type, VkQueryPoolCreateInfo, queryType));
    CHECK(AT(prof__vk_query_pool_info, count, VkQueryPoolCreateInfo, queryCount));
    CHECK(AT(prof__vk_command_pool_info, family, VkCommandPoolCreateInfo, queueFamilyIndex));
    CHECK(AT(prof__vk_command_buffer_info, pool, VkCommandBufferAllocateInfo, commandPool));
    CHECK(AT(prof__vk_command_buffer_info, count, VkCommandBufferAllocateInfo, commandBufferCount));
    CHECK(AT(prof__vk_submit_info, buffer_count, VkSubmitInfo, commandBufferCount));
    CHECK(AT(prof__vk_submit_info, buffers, VkSubmitInfo, pCommandBuffers));
    CHECK(AT(prof__vk_calibrated_info, domain, VkCalibratedTimestampInfoEXT, timeDomain));
    CHECK(AT(prof__vk_budget, usage, VkPhysicalDeviceMemoryBudgetPropertiesEXT, heapUsage));
    CHECK(AT(prof__vk_memory, of, VkPhysicalDeviceMemoryProperties2, memoryProperties));
    CHECK(offsetof(prof__vk_memory, of.heaps) - offsetof(prof__vk_memory, of) ==
          offsetof(VkPhysicalDeviceMemoryProperties, memoryHeaps));
    CHECK(sizeof real.queue == sizeof(struct VkQueue_T *));
    CHECK(AT(prof__vk_label, name, VkDebugUtilsLabelEXT, pLabelName));
    CHECK_EQUAL(PROF__VK_SUBMIT_INFO, VK_STRUCTURE_TYPE_SUBMIT_INFO);
    CHECK_EQUAL(PROF__VK_FENCE_INFO, VK_STRUCTURE_TYPE_FENCE_CREATE_INFO);
    CHECK_EQUAL(PROF__VK_QUERY_POOL_INFO, VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO);
    CHECK_EQUAL(PROF__VK_COMMAND_POOL_INFO, VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO);
    CHECK_EQUAL(PROF__VK_COMMAND_BUFFER_INFO, VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO);
    CHECK_EQUAL(PROF__VK_COMMAND_BUFFER_BEGIN_INFO, VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO);
    CHECK_EQUAL(PROF__VK_MEMORY_PROPERTIES_2, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2);
    CHECK_EQUAL(PROF__VK_CALIBRATED_INFO, VK_STRUCTURE_TYPE_CALIBRATED_TIMESTAMP_INFO_EXT);
    CHECK_EQUAL(PROF__VK_MEMORY_BUDGET, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT);
    CHECK_EQUAL(PROF__VK_DEVICE_LOST, VK_ERROR_DEVICE_LOST);
    CHECK_EQUAL(PROF__VK_NOT_READY, VK_NOT_READY);
    CHECK_EQUAL(PROF__VK_QUERY_TIMESTAMP, VK_QUERY_TYPE_TIMESTAMP);
    CHECK_EQUAL(PROF__VK_QUEUE_GRAPHICS_OR_COMPUTE, VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT);
    CHECK_EQUAL(PROF__VK_BOTTOM_OF_PIPE, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT);
    CHECK_EQUAL(PROF__VK_RESULT_64_WITH_AVAILABILITY, VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WITH_AVAILABILITY_BIT);
    CHECK(AT(prof__vk_properties, device_type, VkPhysicalDeviceProperties, deviceType));
    CHECK_EQUAL(PROF__VK_TYPE_CPU, VK_PHYSICAL_DEVICE_TYPE_CPU);
    CHECK_EQUAL(PROF__VK_HEAP_DEVICE_LOCAL, VK_MEMORY_HEAP_DEVICE_LOCAL_BIT);
    CHECK_EQUAL(PROF__VK_DOMAIN_MONOTONIC, VK_TIME_DOMAIN_CLOCK_MONOTONIC_EXT);
    CHECK_EQUAL(PROF__VK_DOMAIN_MONOTONIC_RAW, VK_TIME_DOMAIN_CLOCK_MONOTONIC_RAW_EXT);
    CHECK_EQUAL(PROF__VK_DOMAIN_QPC, VK_TIME_DOMAIN_QUERY_PERFORMANCE_COUNTER_EXT);
}

/* A device as one without the extension would be. */
static PFN_vkVoidFunction VKAPI_PTR uncalibrated(VkDevice device, const char *name)
{
    return strncmp(name, "vkGetCalibrated", 15) ? vkGetDeviceProcAddr(device, name) : NULL;
}

static prof_vk_config real_config(const char *device, int good)
{
    prof_vk_config config;
    memset(&config, 0, sizeof config);
    config.instance = real.instance;
    config.physical_device = real.physical;
    config.device = real.device;
    config.queue = real.queue;
    config.get_instance_proc_addr = vkGetInstanceProcAddr;
    config.get_device_proc_addr = good ? NULL : uncalibrated;
    config.device_name = device;
    config.host_query_reset = good;
    config.memory_budget = 1;
    return config;
}

enum { REAL_FRAMES = 12 };

/* A frame with a secondary command buffer; *begin and *end: between these all of it happened. */
static void real_frame(prof_vk *vk, VkCommandBuffer commands, VkCommandBuffer secondary, VkFence fence, uint64_t *begin,
                       uint64_t *end)
{
    real_begin(secondary, 1);
    {
        PROFILE_VK_SCOPE(vk, secondary, "inside");
        real_fill(secondary);
    }
    CHECK(!vkEndCommandBuffer(secondary));
    real_begin(commands, 0);
    {
        PROFILE_VK_SCOPE(vk, commands, "frame");
        for (int pass = 0; pass < 3; ++pass) {
            PROFILE_VK_SCOPE(vk, commands, "pass");
            real_fill(commands);
        }
        PROFILE_VK_SCOPE(vk, commands, "secondary");
        vkCmdExecuteCommands(commands, 1, &secondary);
    }
    CHECK(!vkEndCommandBuffer(commands));
    *begin = prof_host_ns();
    real_submit(commands, fence);
    CHECK_EQUAL(prof_vk_collect(vk), PROF_OK);
    real_wait(fence);
    *end = prof_host_ns();
}

static void check_real(const char *name, int good, int64_t error_ns)
{
    uint64_t begins[REAL_FRAMES], ends[REAL_FRAMES];
    VkCommandBuffer commands, secondary;
    const char *why = real_open();
    if (why) SKIP(why);
    prof_vk_config config = real_config(name, good);
    char device[64];
    start();
    prof_vk *vk = prof_vk_create(&config);
    CHECK(vk != NULL);
    CHECK_EQUAL(info_of(vk).calibrated, good);
    real_allocate(real.pool, VK_COMMAND_BUFFER_LEVEL_PRIMARY, 1, &commands);
    real_allocate(real.pool, VK_COMMAND_BUFFER_LEVEL_SECONDARY, 1, &secondary);
    VkFence fence = real_fence();
    for (int i = 0; i < REAL_FRAMES; ++i) real_frame(vk, commands, secondary, fence, &begins[i], &ends[i]);
    vkQueueWaitIdle(real.queue);
    printf("     clocks of %s: known to %llu ns\n", name, (unsigned long long)info_of(vk).clock_error_ns);
    error_ns += (int64_t)info_of(vk).clock_error_ns;
    prof_vk_destroy(vk);
    vkDestroyFence(real.device, fence, NULL);
    snprintf(device, sizeof device, "%s%s", name, good ? "" : ", queue");
    stop(device, "queue");
    uint64_t origin = (uint64_t)prof_trace_about(trace)->start_monotonic_ns;
    CHECK_EQUAL(trace_count(&events, "frame"), REAL_FRAMES);
    CHECK_EQUAL(trace_count(&events, "pass"), 3 * REAL_FRAMES);
    for (size_t i = 0; i < REAL_FRAMES && !test_failures; ++i) {
        const prof_event *frame = trace_nth(&events, "frame", i), *inside = trace_nth(&events, "inside", i);
        const prof_event *first = trace_nth(&events, "pass", 3 * i), *last = trace_nth(&events, "pass", 3 * i + 2);
        CHECK(frame && inside && first && last && inside->depth == 2 && first->depth == 1);
        CHECK(frame->start_ns >= (int64_t)(begins[i] - origin) - error_ns);
        CHECK(trace_end(frame) <= (int64_t)(ends[i] - origin) + error_ns);
        CHECK(trace_end(first) <= last->start_ns && trace_end(last) <= inside->start_ns);
        CHECK(first->duration_ns > 1000); /* a megabyte */
    }
    trace_free(&events);
    prof_trace_close(trace);
    CHECK_EQUAL(real.messages, 0);
    if (!real.layers) printf("     no validation layers\n");
    real_close();
}
TEST(a_drivers_passes) { check_real("real", 1, 2000); }
TEST(a_drivers_passes_without_its_help) { check_real("bare", 0, 2000); }

/* Records a command buffer, for many submits. */
static void real_record_once(prof_vk *vk, VkCommandBuffer once)
{
    real_begin(once, 2);
    {
        PROFILE_VK_SCOPE(vk, once, "once");
        real_fill(once);
    }
    CHECK(!vkEndCommandBuffer(once));
}

/* A command buffer that is recorded once, beside those of frames. */
TEST(a_driver_is_given_a_command_buffer_again)
{
    VkCommandBuffer commands, once;
    const char *why = real_open();
    if (why) SKIP(why);
    prof_vk_config config = real_config("again", 1);
    uint64_t begin, end, longest = 0;
    start();
    prof_vk *vk = prof_vk_create(&config);
    real_allocate(real.pool, VK_COMMAND_BUFFER_LEVEL_PRIMARY, 1, &commands);
    real_allocate(real.pool, VK_COMMAND_BUFFER_LEVEL_PRIMARY, 1, &once);
    VkFence fence = real_fence();
    real_record_once(vk, once);
    for (int i = 0; i < 60; ++i) {
        real_begin(commands, 0);
        {
            PROFILE_VK_SCOPE(vk, commands, "frame");
            real_fill(commands);
        }
        CHECK(!vkEndCommandBuffer(commands));
        begin = prof_host_ns();
        real_submit(commands, fence);
        real_wait(fence);
        end = prof_host_ns();
        if (end - begin > longest) longest = end - begin;
        real_submit(once, fence);
        prof_status status = prof_vk_collect(vk);
        CHECK(status == PROF_OK || status == PROF_INVALID_STATE);
        real_wait(fence);
    }
    CHECK(info_of(vk).lost_again > 0 && info_of(vk).lost_no_query == 0);
    prof_vk_destroy(vk);
    vkDestroyFence(real.device, fence, NULL);
    stop("again", "queue");
    CHECK_EQUAL(trace_count(&events, "frame"), 60);
    CHECK_EQUAL(trace_count(&events, "once"), 1);
    for (size_t i = 0; i < 60 && trace_nth(&events, "frame", i); ++i)
        CHECK(trace_nth(&events, "frame", i)->duration_ns <= (int64_t)longest);
    trace_free(&events);
    prof_trace_close(trace);
    real.messages = 0; /* the layers complain of queries that are written twice */
    real_close();
}

/* The clocks stay together: what the driver says of both, beside what the trace makes of the device's. */
TEST(a_drivers_clock)
{
    const long seconds = trace_times(1, 2, 60);
    const char *why = real_open();
    if (why) SKIP(why);
    enum { MOST = 700 };
    static uint64_t ns[MOST];
    VkCalibratedTimestampInfoEXT infos[2];
    memset(infos, 0, sizeof infos);
    infos[0].sType = infos[1].sType = VK_STRUCTURE_TYPE_CALIBRATED_TIMESTAMP_INFO_EXT;
    infos[0].timeDomain = VK_TIME_DOMAIN_DEVICE_EXT;
    infos[1].timeDomain = VK_TIME_DOMAIN_CLOCK_MONOTONIC_EXT;
    prof_vk_config config = real_config("clocked", 1);
    start();
    prof_vk *vk = prof_vk_create(&config);
    prof_device_row *row = prof_device_row_create(prof_device_create("clocked", NULL), "marks");
    size_t count = 0;
    for (; count < MOST && count < (size_t)seconds * 10; ++count) {
        uint64_t ticks[2], deviation;
        CHECK(!vkGetCalibratedTimestampsEXT(real.device, 2, infos, ticks, &deviation));
        prof_device_mark(row, "now", ticks[0]);
        ns[count] = ticks[1];
        CHECK_EQUAL(prof_vk_collect(vk), PROF_OK);
        pause_ms(100);
    }
    prof_vk_destroy(vk);
    stop("clocked", "marks");
    int64_t worst = 0, origin = (int64_t)prof_trace_about(trace)->start_monotonic_ns;
    CHECK_EQUAL(trace_count(&events, "now"), count);
    for (size_t i = 0; i < count && i < events.count; ++i) {
        int64_t off = events.events[i].start_ns - ((int64_t)ns[i] - origin);
        if (off < 0) off = -off;
        if (off > worst) worst = off;
    }
    printf("     clocks differ by %lld ns at most in %ld s\n", (long long)worst, seconds);
    CHECK(worst < 2000);
    trace_free(&events);
    prof_trace_close(trace);
    CHECK_EQUAL(real.messages, 0);
    real_close();
}

/* Threads record command buffers of their own pools, which are submitted together. */
static struct real_worker {
    prof_vk *vk;
    pthread_t thread;
    VkCommandPool pool;
    VkCommandBuffer commands;
} real_workers[THREADS];

static void *real_work(void *arg)
{
    struct real_worker *self = (struct real_worker *)arg;
    real_begin(self->commands, 0);
    for (int i = 0; i < 300; ++i) {
        PROFILE_VK_SCOPE(self->vk, self->commands, "pass");
        if (i % 100 == 0) real_fill(self->commands);
    }
    CHECK(!vkEndCommandBuffer(self->commands));
    return NULL;
}

TEST(threads_record_for_a_driver)
{
    const char *why = real_open();
    if (why) SKIP(why);
    prof_vk_config config = real_config("threads", 1);
    VkCommandPoolCreateInfo info;
    memset(&info, 0, sizeof info);
    info.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
    start();
    prof_vk *vk = prof_vk_create(&config);
    for (int i = 0; i < THREADS; ++i) {
        struct real_worker *worker = &real_workers[i];
        worker->vk = vk;
        CHECK(!vkCreateCommandPool(real.device, &info, NULL, &worker->pool));
        real_allocate(worker->pool, VK_COMMAND_BUFFER_LEVEL_PRIMARY, 1, &worker->commands);
        CHECK(!pthread_create(&worker->thread, NULL, real_work, worker));
    }
    for (int i = 0; i < THREADS; ++i) {
        CHECK(!pthread_join(real_workers[i].thread, NULL));
        real_submit(real_workers[i].commands, VK_NULL_HANDLE);
    }
    CHECK_EQUAL(prof_vk_collect(vk), PROF_OK);
    vkQueueWaitIdle(real.queue);
    CHECK_EQUAL(prof_vk_collect(vk), PROF_OK);
    prof_vk_destroy(vk);
    for (int i = 0; i < THREADS; ++i) vkDestroyCommandPool(real.device, real_workers[i].pool, NULL);
    stop("threads", "queue");
    CHECK_EQUAL(trace_count(&events, "pass"), 300 * THREADS);
    trace_free(&events);
    prof_trace_close(trace);
    CHECK_EQUAL(real.messages, 0);
    real_close();
}
#endif

TEST_MAIN
