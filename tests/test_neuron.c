/* The time-line half of prof_ntff.h: the JSON of Neuron's runtime and of Neuron Explorer, clocks, tracks of devices.
   The texts are those of the documentation, or made from it: no device has written them. */
/* run: traces memory */
#define _GNU_SOURCE 1
#include <stdlib.h> /* declares the functions under their own names */
#include <time.h>
int test_clock_gettime(clockid_t clock, struct timespec *time);
#define clock_gettime test_clock_gettime /* in prof.h, too */
#define malloc test_malloc
#define calloc test_calloc
#define realloc test_realloc
void *test_malloc(size_t size);
void *test_calloc(size_t count, size_t size);
void *test_realloc(void *old, size_t size);
#include "private.h"
#include "../prof_ntff.h"
#undef clock_gettime
#undef malloc
#undef calloc
#undef realloc
#include "test.h"
#include "trace.h"
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static uint64_t random_state;
static uint64_t random_number(void) /* xorshift64* */
{
    random_state ^= random_state >> 12;
    random_state ^= random_state << 25;
    random_state ^= random_state >> 27;
    return random_state * 0x2545F4914F6CDD1Du;
}
static void seed(void)
{
    const char *given = getenv("PROF_TEST_SEED");
    random_state = given ? strtoull(given, NULL, 10) : (uint64_t)time(NULL) * 1000003u + (uint64_t)getpid();
    random_state |= 1;
    printf("     seed: PROF_TEST_SEED=%llu\n", (unsigned long long)random_state);
}

/*-- memory that runs out --*/

static uint64_t memory_left = UINT64_MAX; /* allocations that succeed before one fails */
static int memory_fails(void) { return memory_left != UINT64_MAX && !memory_left--; }
void *test_malloc(size_t size) { return memory_fails() ? NULL : malloc(size); }
void *test_calloc(size_t count, size_t size) { return memory_fails() ? NULL : calloc(count, size); }
void *test_realloc(void *old, size_t size) { return memory_fails() ? NULL : realloc(old, size); }

/*-- what was handed over, as lines --*/

typedef struct heard {
    char text[262144];
    size_t used;
    uint64_t count, end_after; /* end_after: 0, or how many it wants */
} heard;

static int hear(void *user, const prof_ntff_event *e)
{
    heard *h = (heard *)user;
    h->count++;
    if (h->used + 600 < sizeof h->text)
        h->used += (size_t)snprintf(
            h->text + h->used, sizeof h->text - h->used,
            "%.60s|%.20s src %d at %lld for %lld nc %d core %d gid %d tid %llu pid %llu track %llu exec %llu seq %llu "
            "value "
            "%g flags %u args %.*s\n",
            e->name, e->instance, (int)e->source, (long long)e->start_ns, (long long)e->duration_ns, e->nc_idx,
            e->core_idx, e->worker_gid, (unsigned long long)e->tid, (unsigned long long)e->pid,
            (unsigned long long)e->tracking_id, (unsigned long long)e->exec_id, (unsigned long long)e->nrta_seq,
            e->value, e->flags, e->args_size < 200 ? (int)e->args_size : 200, e->args ? e->args : "");
    return h->end_after && h->count >= h->end_after;
}

static heard heard_last;
static prof_ntff_stats stats_last;
static prof_status parse(prof_ntff_parser *parser, const char *json)
{
    size_t size = strlen(json);
    char *exact = (char *)malloc(size + 1); /* so that a byte read behind it is found out */
    prof_status status;
    memset(&heard_last, 0, sizeof heard_last);
    memset(&stats_last, 0, sizeof stats_last);
    memcpy(exact, json, size);
    exact = (char *)realloc(exact, size ? size : 1);
    status = prof_ntff_parse_systrace_json(parser, exact, size, hear, &heard_last, &stats_last);
    free(exact);
    return status;
}

static const char *const runtime_json =
    "{\"events\":[\n"
    "  "
    "{\"event_type\":\"nc_exec_running\",\"phase\":\"start\",\"id\":7,\"nc_idx\":0,\"nc_local_id\":3,\"tracking_id\":"
    "42,\"thread_id\":12345,"
    "\"worker_gid\":0,\n"
    "   "
    "\"data\":{\"device_core_idx\":4,\"exec_id\":17,\"nc_timestamp_ns\":88123456789,\"model_id\":10001,\"model_name\":"
    "\"/tmp/a.neff\"},\n"
    "   \"timestamp_ns\":1729888371056597613,\"nrta_seq_id\":281474976710657},\n"
    "  "
    "{\"event_type\":\"nc_exec_running\",\"phase\":\"stop\",\"nc_idx\":0,\"tracking_id\":42,\"data\":{\"nc_timestamp_"
    "ns\":88123999999},"
    "\"timestamp_ns\":1729888371057140823},\n"
    "  "
    "{\"event_type\":\"timestamp_sync_point\",\"phase\":\"instant\",\"nc_idx\":0,\"data\":{\"exec_id\":17,\"nc_"
    "timestamp_ns\":88124000000,"
    "\"cpu_timestamp_ns\":1729888371057140824},\"timestamp_ns\":1729888371057140824},\n"
    "  "
    "{\"event_type\":\"nrt_execute\",\"phase\":\"start\",\"nc_idx\":0,\"tracking_id\":43,\"thread_id\":12345,\"data\":{"
    "\"model_id\":10001,"
    "\"model_name\":\"/tmp/a.neff\"},\"timestamp_ns\":1729888371056500000},\n"
    "  "
    "{\"event_type\":\"nrt_execute\",\"phase\":\"stop\",\"nc_idx\":0,\"tracking_id\":43,\"data\":{},\"timestamp_ns\":"
    "1729888371057200000}],\n"
    " \"data_version\":2}";

static const char *const runtime_heard =
    "nc_exec_running| src 2 at 1729888371056597613 for 543210 nc 0 core 4 gid 0 tid 12345 pid 0 track 42 exec 17 seq "
    "281474976710657 value 0 flags 0 args "
    "{\"device_core_idx\":4,\"exec_id\":17,\"nc_timestamp_ns\":88123456789,\"model_id\":10001,"
    "\"model_name\":\"/tmp/a.neff\"}\n"
    "timestamp_sync_point| src 2 at 1729888371057140824 for -1 nc 0 core -1 gid -1 tid 0 pid 0 track 0 exec 17 seq 0 "
    "value 0 "
    "flags 0 args {\"exec_id\":17,\"nc_timestamp_ns\":88124000000,\"cpu_timestamp_ns\":1729888371057140824}\n"
    "nrt_execute| src 1 at 1729888371056500000 for 700000 nc 0 core -1 gid -1 tid 12345 pid 0 track 43 exec 0 seq 0 "
    "value 0 "
    "flags 0 args {\"model_id\":10001,\"model_name\":\"/tmp/a.neff\"}\n";

TEST(the_runtime_s_json)
{
    CHECK_EQUAL(parse(NULL, runtime_json), PROF_OK);
    CHECK_TEXT(heard_last.text, runtime_heard);
    CHECK_EQUAL(stats_last.events, 3);
    CHECK_EQUAL(stats_last.pairs, 2);
    CHECK_EQUAL(stats_last.instants, 1);
    CHECK_EQUAL(stats_last.sync_points, 1);
    CHECK_EQUAL(stats_last.data_version, 2);
    CHECK_EQUAL(stats_last.errors, 0);
    CHECK_EQUAL(stats_last.first_ns, 1729888371056500000);
    CHECK_EQUAL(stats_last.last_ns, 1729888371057200000);
}

TEST(a_start_in_one_fetch_and_its_stop_in_the_next)
{
    const char *split = strstr(runtime_json, "  {\"event_type\":\"nc_exec_running\",\"phase\":\"stop\"");
    prof_ntff_parser *parser = prof_ntff_parser_create();
    char first[2048], second[4096];
    snprintf(first, sizeof first, "%.*s]}", (int)(split - runtime_json - 2), runtime_json);
    snprintf(second, sizeof second, "{\"events\":[%s", split);
    CHECK_EQUAL(parse(parser, first), PROF_OK);
    CHECK_EQUAL(stats_last.events, 0);
    CHECK_EQUAL(parse(parser, second), PROF_OK);
    CHECK_TEXT(heard_last.text, runtime_heard);
    CHECK_EQUAL(stats_last.pairs, 2);
    memset(&heard_last, 0, sizeof heard_last);
    prof_ntff_parser_destroy(parser, hear, &heard_last, &stats_last);
    CHECK_EQUAL(heard_last.count, 0);
    CHECK_EQUAL(stats_last.unmatched_starts, 0);
}

TEST(unmatched_starts_and_stops)
{
    prof_ntff_parser *parser = prof_ntff_parser_create();
    CHECK_EQUAL(
        parse(parser,
              "{\"events\":["
              "{\"event_type\":\"a\",\"phase\":\"stop\",\"nc_idx\":1,\"tracking_id\":1,\"timestamp_ns\":500},"
              "{\"event_type\":\"a\",\"phase\":\"start\",\"nc_idx\":1,\"tracking_id\":1,\"timestamp_ns\":600},"
              "{\"event_type\":\"a\",\"phase\":\"start\",\"nc_idx\":1,\"tracking_id\":1,\"timestamp_ns\":700},"
              "{\"event_type\":\"a\",\"phase\":\"start\",\"nc_idx\":2,\"tracking_id\":1,\"timestamp_ns\":710},"
              "{\"event_type\":\"b\",\"phase\":\"stop\",\"nc_idx\":1,\"tracking_id\":1,\"timestamp_ns\":720},"
              "{\"event_type\":\"a\",\"phase\":\"stop\",\"nc_idx\":1,\"tracking_id\":1,\"timestamp_ns\":800},"
              "{\"event_type\":\"a\",\"phase\":\"stop\",\"nc_idx\":2,\"tracking_id\":1,\"timestamp_ns\":709}]}"),
        PROF_OK);
    CHECK_TEXT(heard_last.text,
               "a| src 1 at 500 for -1 nc 1 core -1 gid -1 tid 0 pid 0 track 1 exec 0 seq 0 value 0 flags 2 args \n"
               "a| src 1 at 600 for 0 nc 1 core -1 gid -1 tid 0 pid 0 track 1 exec 0 seq 0 value 0 flags 1 args \n"
               "b| src 1 at 720 for -1 nc 1 core -1 gid -1 tid 0 pid 0 track 1 exec 0 seq 0 value 0 flags 2 args \n"
               "a| src 1 at 700 for 100 nc 1 core -1 gid -1 tid 0 pid 0 track 1 exec 0 seq 0 value 0 flags 0 args \n"
               "a| src 1 at 710 for 0 nc 2 core -1 gid -1 tid 0 pid 0 track 1 exec 0 seq 0 value 0 flags 1 args \n"
               "a| src 1 at 709 for -1 nc 2 core -1 gid -1 tid 0 pid 0 track 1 exec 0 seq 0 value 0 flags 2 args \n");
    CHECK_EQUAL(stats_last.unmatched_stops, 3);
    CHECK_EQUAL(stats_last.unmatched_starts, 2);
    CHECK_EQUAL(parse(parser, "{\"events\":[{\"event_type\":\"c\",\"phase\":\"start\",\"timestamp_ns\":900}]}"),
                PROF_OK);
    CHECK_EQUAL(heard_last.count, 0);
    prof_ntff_parser_destroy(parser, hear, &heard_last, &stats_last);
    CHECK_EQUAL(heard_last.count, 1);
    CHECK_EQUAL(stats_last.unmatched_starts, 1);
}

/* LNC 2, should both physical cores have one tracking id: stops say which they are, or the first start ends first. */
TEST(two_cores_with_one_number)
{
#define CORE(phase, core, ns) \
    "{\"event_type\":\"e\",\"phase\":\"" #phase "\",\"nc_idx\":0,\"tracking_id\":1,\"data\":{" core "},\"timestamp_ns\":" #ns "}"
#define IN_CORE(n) "\"device_core_idx\":" #n
    CHECK_EQUAL(parse(NULL, "{\"events\":[" CORE(start, IN_CORE(4), 100) "," CORE(start, IN_CORE(5), 110) "," CORE(stop, IN_CORE(5), 120)
                            "," CORE(stop, IN_CORE(4), 140) "," CORE(start, IN_CORE(4), 200) "," CORE(start, IN_CORE(5), 210) ","
                            CORE(stop, "", 220) "," CORE(stop, "", 240) "]}"), PROF_OK);
    CHECK_EQUAL(stats_last.pairs, 4);
    CHECK_EQUAL(stats_last.unmatched_starts + stats_last.unmatched_stops, 0);
    CHECK(strstr(heard_last.text, "at 110 for 10 nc 0 core 5 ") && strstr(heard_last.text, "at 100 for 40 nc 0 core 4 "));
    CHECK(strstr(heard_last.text, "at 200 for 20 nc 0 core 4 ") && strstr(heard_last.text, "at 210 for 30 nc 0 core 5 "));
}

/* Starts without a stop, more than are kept: the oldest are given up, none is forgotten. */
TEST(starts_beyond_the_cap)
{
    enum { COUNT = 70000 };
    prof_ntff_parser *parser = prof_ntff_parser_create();
    char *json = (char *)malloc((size_t)COUNT * 100 + 100), *to = json;
    to += sprintf(to, "{\"events\":[");
    for (int i = 0; i < COUNT; ++i)
        to += sprintf(
            to, "%s{\"event_type\":\"e\",\"phase\":\"start\",\"nc_idx\":0,\"tracking_id\":%d,\"timestamp_ns\":%d}",
            i ? "," : "", i, 1000 + i);
    strcpy(to, "]}");
    CHECK_EQUAL(parse(parser, json), PROF_OK);
    CHECK_EQUAL(stats_last.unmatched_starts, COUNT - 65536);
    CHECK(strstr(heard_last.text, "e| src 1 at 1000 for 0") == heard_last.text);
    to = json + sprintf(json, "{\"events\":[");
    for (int i = COUNT - 65536; i < COUNT; ++i)
        to += sprintf(to,
                      "%s{\"event_type\":\"e\",\"phase\":\"stop\",\"nc_idx\":0,\"tracking_id\":%d,\"timestamp_ns\":%d}",
                      i > COUNT - 65536 ? "," : "", i, 200000 + i);
    strcpy(to, "]}");
    CHECK_EQUAL(parse(parser, json), PROF_OK);
    CHECK_EQUAL(stats_last.pairs, 65536);
    CHECK_EQUAL(stats_last.unmatched_stops, 0);
    prof_ntff_parser_destroy(parser, NULL, NULL, &stats_last);
    CHECK_EQUAL(stats_last.unmatched_starts, 0);
    free(json);
}

/*-- the clock of a core --*/

/* LNC 2: two physical cores whose clocks have offsets and drifts of their own; the runtime has not put events into the
   host's time. A sync point comes after each execution. */
TEST(a_core_s_clock_that_drifts)
{
    enum { EXECUTIONS = 200 };
    static char json[EXECUTIONS * 2000], *to = json;
    int64_t unix_ns = 1786270865000000000;
    long double offset[2] = {88123456789.0L, 5.0e12L}, drift[2] = {40e-6L, -25e-6L};
    prof_ntff_parser *parser = prof_ntff_parser_create();
    to += sprintf(to, "{\"data_version\":2,\"events\":[");
    for (int i = 0; i < EXECUTIONS; ++i) {
        int64_t begin = unix_ns + (int64_t)i * 100000000, end = begin + 5000000, sync = end + 20000;
        for (int core = 0; core < 2; ++core) {
#define NC(t) (long long)(offset[core] + (long double)((t)-unix_ns) * (1 + drift[core]) + 0.5L)
            to += sprintf(
                to,
                "%s{\"event_type\":\"nc_exec_running\",\"phase\":\"start\",\"nc_idx\":0,\"tracking_id\":%d,\"data\":{"
                "\"device_core_idx\":%d,\"exec_id\":%d,\"nc_timestamp_ns\":%lld},\"timestamp_ns\":%lld},"
                "{\"event_type\":\"nc_exec_running\",\"phase\":\"stop\",\"nc_idx\":0,\"tracking_id\":%d,\"data\":{"
                "\"nc_timestamp_ns\":%lld},\"timestamp_ns\":%lld},"
                "{\"event_type\":\"timestamp_sync_point\",\"phase\":\"instant\",\"nc_idx\":0,\"data\":{"
                "\"device_core_idx\":%d,\"exec_id\":%d,\"nc_timestamp_ns\":%lld,\"cpu_timestamp_ns\":%lld},"
                "\"timestamp_ns\":%lld}",
                i || core ? "," : "", i * 2 + core, core, i, NC(begin), NC(begin), i * 2 + core, NC(end), NC(end), core,
                i, NC(sync), (long long)sync, NC(sync));
        }
    }
    strcpy(to, "]}");
    CHECK_EQUAL(parse(parser, json), PROF_OK);
    CHECK_EQUAL(stats_last.realigned, EXECUTIONS * 2);
    CHECK_EQUAL(stats_last.raw_clock, 0);
    CHECK_EQUAL(stats_last.sync_points, EXECUTIONS * 2);
    CHECK(stats_last.sync_error_ns > 3900 && stats_last.sync_error_ns < 4100); /* 40 ppm of 100 ms */
    CHECK_EQUAL(stats_last.pairs, EXECUTIONS * 2);
    /* 40 ppm of the 5 ms from start to sync point: within 0.3 us */
    int seen = 0;
    for (const char *line = strstr(heard_last.text, "nc_exec_running"); line;
         line = strstr(line + 1, "nc_exec_running")) {
        long long at, length;
        if (sscanf(line, "nc_exec_running| src 2 at %lld for %lld", &at, &length) != 2) break;
        long long off = (at - unix_ns) % 100000000;
        if (off > 50000000) off -= 100000000;
        CHECK(off > -300 && off < 300);
        CHECK(length > 5000000 - 300 && length < 5000000 + 300);
        ++seen;
    }
    CHECK_EQUAL(seen, EXECUTIONS * 2);
    prof_ntff_parser_destroy(parser, hear, &heard_last, &stats_last);
}

#define RAW_PAIR(id, exec, from, to)                                                                                       \
    "{\"event_type\":\"cc_running\",\"phase\":\"start\",\"nc_idx\":3,\"tracking_id\":" #id ",\"data\":{\"exec_id\":" #exec        \
    ",\"nc_timestamp_ns\":" #from "},\"timestamp_ns\":" #from "},"                                                            \
    "{\"event_type\":\"cc_running\",\"phase\":\"stop\",\"nc_idx\":3,\"tracking_id\":" #id ",\"data\":{\"nc_timestamp_ns\":" #to     \
    "},\"timestamp_ns\":" #to "}"
#define SYNC(exec, core, cpu)                                                                                              \
    "{\"event_type\":\"timestamp_sync_point\",\"phase\":\"instant\",\"nc_idx\":3,\"data\":{\"exec_id\":" #exec                     \
    ",\"nc_timestamp_ns\":" #core ",\"cpu_timestamp_ns\":" #cpu "},\"timestamp_ns\":" #cpu "}"

TEST(which_sync_point_counts)
{
    prof_ntff_parser *parser = prof_ntff_parser_create();
    /* the first waits for its own, which comes in the next fetch; the second has none, but one before; the third nothing */
    CHECK_EQUAL(parse(parser, "{\"events\":[" RAW_PAIR(1, 9, 2000, 2500) "," RAW_PAIR(2, 11, 3000, 3600) "," RAW_PAIR(
                                  3, 12, 40, 50) "," SYNC(1, 100, 10100) "]}"),
                PROF_OK);
    CHECK_EQUAL(stats_last.events, 1); /* the sync point itself */
    CHECK_EQUAL(parse(parser, "{\"events\":[" SYNC(9, 2600, 102600) "]}"), PROF_OK);
    CHECK_EQUAL(stats_last.events, 2);
    CHECK(strstr(heard_last.text, "cc_running| src 2 at 102000 for 500") != NULL);
    memset(&heard_last, 0, sizeof heard_last);
    memset(&stats_last, 0, sizeof stats_last);
    prof_ntff_parser_destroy(parser, hear, &heard_last, &stats_last);
    CHECK_EQUAL(stats_last.realigned, 1);
    CHECK_EQUAL(stats_last.raw_clock, 1);
    CHECK(strstr(heard_last.text, "cc_running| src 2 at 103000 for 600") != NULL);
    CHECK(strstr(heard_last.text, "cc_running| src 2 at 40 for 10") != NULL);
}

/* A start that does not say the core's time, with a stop that has no other: it is not put where the object before it was. */
TEST(half_a_pair_in_the_core_s_time)
{
#define HALF(phase, data, ns) \
    "{\"event_type\":\"cc_running\",\"phase\":\"" phase "\",\"nc_idx\":3,\"tracking_id\":1,\"data\":{" data "},\"timestamp_ns\":" #ns "},"
#define NC_TIME(ns) "\"nc_timestamp_ns\":" #ns
    CHECK_EQUAL(parse(NULL, "{\"events\":[" HALF("instant", NC_TIME(700), 800) HALF("start", "", 5000) HALF("stop", NC_TIME(900), 900)
                                SYNC(0, 1000, 10000) "]}"), PROF_OK);
    CHECK(strstr(heard_last.text, "cc_running| src 2 at 5000 for 0 nc 3 ") && strstr(heard_last.text, " flags 1 args"));
    CHECK(strstr(heard_last.text, "cc_running| src 2 at 9900 for -1 nc 3 ") != NULL);
    CHECK_EQUAL(stats_last.realigned, 1);
    /* numbers at their ends: a core, and times of which the difference is none */
    CHECK_EQUAL(parse(NULL, "{\"events\":[" HALF("start", NC_TIME(-9223372036854775808), 5) HALF("stop", NC_TIME(100), 100)
                                SYNC(0, 9223372036854775807, 10000) "]}"), PROF_OK);
    CHECK_EQUAL(stats_last.raw_clock, 2);
    CHECK_EQUAL(parse(NULL, "{\"events\":[{\"event_type\":\"a\",\"phase\":\"start\",\"nc_idx\":2147483647,\"timestamp_ns\":1},"
                            "{\"event_type\":\"a\",\"phase\":\"stop\",\"lnc_idx\":2147483647,\"timestamp_ns\":3}]}"), PROF_OK);
    CHECK_EQUAL(stats_last.pairs, 1);
}

/*-- Neuron Explorer --*/

static const char *const legacy_json =
    "{ \"trace_events\": [\n"
    "   "
    "{\"duration\":27094,\"group\":\"nrt-nc-003\",\"id\":1,\"instance_id\":\"i-0f20\",\"lnc_idx\":\"3\",\"name\":\"nrt_"
    "tensor_write\","
    "\"parent_id\":0,\"process_id\":\"1627711\",\"size\":\"4\",\"tensor_id\":\"4900392441224765051\",\"tensor_name\":"
    "\"_unknown_\","
    "\"thread_id\":1627711,\"timestamp\":1729888371056597613,\"type\":11},\n"
    "   "
    "{\"duration\":3758079,\"group\":\"framework-80375131\",\"instance_id\":\"i-0f20\",\"name\":\"PjitFunction(matmul_"
    "allgather)\","
    "\"process_id\":\"701\",\"thread_id\":80375131,\"timestamp\":1729888382798557372,\"type\":99999} ],\n"
    "  "
    "\"mem_usage\":[{\"duration\":1,\"instance_id\":\"i-0f20\",\"percent_usage\":9.72,\"timestamp\":"
    "1729888369286687792,"
    "\"usage\":51805806592}],\n"
    "  "
    "\"cpu_util\":[{\"cpu_id\":\"47\",\"duration\":1,\"instance_id\":\"i-0f20\",\"timestamp\":1729888371287337243,"
    "\"util\":2.3255813}] }\n";
static const char *const legacy_heard =
    "nrt_tensor_write|i-0f20 src 1 at 1729888371056597613 for 27094 nc 3 core -1 gid -1 tid 1627711 pid 1627711 track "
    "0 exec 0 "
    "seq 0 value 0 flags 0 args "
    "{\"duration\":27094,\"group\":\"nrt-nc-003\",\"id\":1,\"instance_id\":\"i-0f20\",\"lnc_idx\":\"3\","
    "\"name\":\"nrt_tensor_write\",\"parent_id\":0,\"process_id\":\"1627711\",\"size\":\"4\",\"tensor_id\":"
    "\"4900392441224765051\",\"tensor_n\n"
    "PjitFunction(matmul_allgather)|i-0f20 src 3 at 1729888382798557372 for 3758079 nc -1 core -1 gid -1 tid 80375131 "
    "pid 701 track 0 "
    "exec 0 seq 0 value 0 flags 0 args "
    "{\"duration\":3758079,\"group\":\"framework-80375131\",\"instance_id\":\"i-0f20\",\"name\":"
    "\"PjitFunction(matmul_allgather)\",\"process_id\":\"701\",\"thread_id\":80375131,\"timestamp\":"
    "1729888382798557372,\"type\":99999}\n"
    "memory used (bytes)|i-0f20 src 4 at 1729888369286687792 for -1 nc -1 core -1 gid -1 tid 0 pid 0 track 0 exec 0 "
    "seq 0 value "
    "5.18058e+10 flags 16 args \n"
    "memory used (%)|i-0f20 src 4 at 1729888369286687792 for -1 nc -1 core -1 gid -1 tid 0 pid 0 track 0 exec 0 seq 0 "
    "value 9.72 "
    "flags 16 args \n"
    "cpu 47 (%)|i-0f20 src 4 at 1729888371287337243 for -1 nc -1 core -1 gid -1 tid 0 pid 0 track 0 exec 0 seq 0 value "
    "2.32558 flags "
    "16 args \n";

static prof_status read_file(const char *json)
{
    const char *path = trace_path("system_profile.json");
    trace_write_file(path, json, strlen(json));
    memset(&heard_last, 0, sizeof heard_last);
    memset(&stats_last, 0, sizeof stats_last);
    return prof_ntff_read_system_json(path, hear, &heard_last, &stats_last);
}

TEST(neuron_explorer_s_json_of_old)
{
    CHECK_EQUAL(read_file(legacy_json), PROF_OK);
    CHECK_TEXT(heard_last.text, legacy_heard);
    CHECK_EQUAL(stats_last.complete, 2);
    CHECK_EQUAL(stats_last.counters, 3);
}

/* "Neuron_Runtime_API_Event" and so on: the samples of the documentation stand under such labels. */
TEST(events_under_labels)
{
    const char *begin = strstr(legacy_json, "[\n") + 2, *middle = strstr(begin, "},\n") + 1,
               *end = strstr(legacy_json, " ],\n");
    char json[4096], first[4096];
    snprintf(json, sizeof json, "{\"trace_events\":{\"Neuron_Runtime_API_Event\":%.*s,\"Framework_Event\":[%.*s]}%s",
             (int)(middle - begin), begin, (int)(end - middle - 1), middle + 1, end + 2);
    CHECK_EQUAL(parse(NULL, json), PROF_OK);
    CHECK_TEXT(heard_last.text, legacy_heard);
    memcpy(first, heard_last.text, sizeof first);
    CHECK_EQUAL(read_file(json), PROF_OK);
    CHECK(!memcmp(first, heard_last.text, sizeof first));
}

static const char *const current_json =
    "{ \"trace_event\":[\n"
    "   "
    "{\"name\":\"nc_exec_running\",\"timestamp\":1786270865722793417,\"duration\":123456,\"timestamp_unit\":\"ns\","
    "\"exec_id\":17,"
    "\"model_id\":10001,\"model_name\":\"/c/"
    "graph.neff\",\"device_core_idx\":4,\"nc_idx\":2,\"lnc_idx\":0,\"process_id\":\"12345\"},\n"
    "   "
    "{\"name\":\"nc_exec_running\",\"timestamp\":1786270865722793420,\"duration\":123460,\"timestamp_unit\":\"ns\","
    "\"exec_id\":17,"
    "\"device_core_idx\":5,\"nc_idx\":2,\"process_id\":\"12345\"},\n"
    "   "
    "{\"name\":\"aten::mm\",\"trace_event_source\":\"framework\",\"timestamp\":1786270865722.5e6,\"duration\":\"7\","
    "\"process_id\":12345}\n"
    "  ],\n"
    "  \"device_mem_usage\":[{\"hbm_idx\":0,\"total_bytes\":17179869184,\"dram_spill_bytes\":0}],\n"
    "  "
    "\"system_profile_metadata\":[{\"first_ts_ns\":1,\"last_ts_ns\":2,\"hbm_capacity_bytes\":3,\"ntff_version\":6}],\n"
    "  \"device_profile_list\":[{\"device_profile_name\":\"x\",\"nc_id\":0}]}";

TEST(neuron_explorer_s_json_of_now)
{
    CHECK_EQUAL(read_file(current_json), PROF_OK);
    CHECK_EQUAL(stats_last.events, 3);
    CHECK(strstr(heard_last.text, "nc_exec_running| src 2 at 1786270865722793417 for 123456 nc 2 core 4 ") != NULL);
    CHECK(strstr(heard_last.text, "nc_exec_running| src 2 at 1786270865722793420 for 123460 nc 2 core 5 ") != NULL);
    CHECK(strstr(heard_last.text,
                 "aten::mm| src 3 at 1786270865722500000 for 7 nc -1 core -1 gid -1 tid 0 pid 12345 ") != NULL);
    CHECK_EQUAL(stats_last.errors, 0);
}

TEST(whoever_has_heard_enough)
{
    memset(&heard_last, 0, sizeof heard_last);
    heard_last.end_after = 2;
    CHECK_EQUAL(prof_ntff_parse_systrace_json(NULL, runtime_json, strlen(runtime_json), hear, &heard_last, NULL),
                PROF_OK);
    CHECK_EQUAL(heard_last.count, 2);
    /* nor does what is left count, a start without its stop */
    const char *json = "{\"events\":[{\"event_type\":\"a\",\"phase\":\"start\",\"timestamp_ns\":1},"
                       "{\"event_type\":\"b\",\"phase\":\"instant\",\"timestamp_ns\":2}]}";
    for (int i = 0; i < 2; ++i) {
        trace_write_file(trace_path("enough.json"), json, strlen(json));
        memset(&heard_last, 0, sizeof heard_last);
        memset(&stats_last, 0, sizeof stats_last);
        heard_last.end_after = 1;
        CHECK_EQUAL(i ? prof_ntff_read_system_json(trace_path("enough.json"), hear, &heard_last, &stats_last)
                      : prof_ntff_parse_systrace_json(NULL, json, strlen(json), hear, &heard_last, &stats_last), PROF_OK);
        CHECK_EQUAL(heard_last.count, 1);
        CHECK_EQUAL(stats_last.events, 1);
    }
}

/*-- hostile input --*/

/* Cut at every byte: an error, but what came before is heard; the same from a file. */
TEST(cut_at_every_byte)
{
    const char *const texts[] = {runtime_json, legacy_json, current_json};
    for (size_t t = 0; t < 3; ++t) {
        size_t size = strlen(texts[t]), good = 0;
        uint64_t before = 0;
        while (size && (texts[t][size - 1] == '\n' || texts[t][size - 1] == ' ')) --size;
        for (size_t cut = 0; cut < size; ++cut) {
            char *part = (char *)malloc(cut ? cut : 1);
            prof_ntff_stats stats;
            memset(&stats, 0, sizeof stats);
            memcpy(part, texts[t], cut);
            prof_status status = prof_ntff_parse_systrace_json(NULL, part, cut, NULL, NULL, &stats);
            if (status != PROF_CORRUPT) printf("     text %d cut at %d: %d\n", (int)t, (int)cut, (int)status);
            CHECK_EQUAL(status, PROF_CORRUPT);
            good += stats.events >= before;
            before = stats.events;
            if (cut % 13 == 0) {
                const char *path = trace_path("cut.json");
                prof_ntff_stats again;
                memset(&again, 0, sizeof again);
                trace_write_file(path, part, cut);
                CHECK_EQUAL(prof_ntff_read_system_json(path, NULL, NULL, &again), PROF_CORRUPT);
                CHECK(!memcmp(&stats, &again, sizeof stats));
            }
            free(part);
        }
        CHECK_EQUAL(good, size);
        CHECK(before >= 3);
    }
    CHECK_EQUAL(parse(NULL, ""), PROF_CORRUPT);
    CHECK(strstr(prof_error(), "(byte 0)") != NULL);
}

TEST(numbers)
{
    static const struct {
        const char *text;
        int good;
        unsigned long long value;
    } cases[] = {{"18446744073709551615", 1, 18446744073709551615u},
                 {"\"18446744073709551615\"", 1, 18446744073709551615u},
                 {"18446744073709551616", 0, 0},
                 {"9007199254740993", 1, 9007199254740993u}, /* no double has it */
                 {"-1", 0, 0},
                 {"-0", 1, 0},
                 {"1e3", 1, 1000},
                 {"12345e-2", 1, 123},
                 {"1.5E+1", 1, 15},
                 {"1e400", 0, 0},
                 {"0e99999999999999999999", 1, 0},
                 {"1e-99999999999999999999", 1, 0},
                 {"1.99999999999999999999999999999999999", 1, 1},
                 {"\"\"", 0, 0},
                 {"\"0x10\"", 0, 0},
                 {"\"12 \"", 0, 0},
                 {"\"\\u0031\\u0032\"", 1, 12},
                 {"1.2.3", 0, 0},
                 {"1e", 0, 0},
                 {"--1", 0, 0},
                 {"null", 0, 0},
                 {"true", 0, 0},
                 {"[1]", 0, 0},
                 {"{\"a\":[{}]}", 0, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        char json[256], wanted[64];
        snprintf(json, sizeof json,
                 "{\"events\":[{\"tracking_id\":%s,\"event_type\":\"x\",\"phase\":\"instant\",\"timestamp_ns\":5}]}",
                 cases[i].text);
        CHECK_EQUAL(parse(NULL, json), PROF_OK);
        snprintf(wanted, sizeof wanted, " track %llu exec", cases[i].good ? cases[i].value : 0);
        if (!strstr(heard_last.text, wanted)) printf("     %s: %s", cases[i].text, heard_last.text);
        CHECK(strstr(heard_last.text, wanted) != NULL);
    }
}

TEST(times_that_are_none)
{
    static const char *const times[] = {"0", "-5", "4611686018427387904", "9223372036854775807", "9223372036854775808",
                                        "1e30", "\"soon\"", "null", "{}"};
    static const char *const durations[] = {"-1", "4611686018427387904", "9223372036854775807"};
    char json[256];
    for (size_t i = 0; i < sizeof times / sizeof *times; ++i) {
        snprintf(
            json, sizeof json,
            "{\"trace_event\":[{\"name\":\"x\",\"timestamp\":%s,\"duration\":1},{\"name\":\"y\",\"timestamp\":7}]}",
            times[i]);
        CHECK_EQUAL(parse(NULL, json), PROF_OK);
        CHECK_EQUAL(stats_last.errors, 1);
        CHECK_EQUAL(stats_last.events, 1);
    }
    for (size_t i = 0; i < sizeof durations / sizeof *durations; ++i) {
        snprintf(json, sizeof json, "{\"trace_event\":[{\"name\":\"x\",\"timestamp\":1,\"duration\":%s}]}",
                 durations[i]);
        CHECK_EQUAL(parse(NULL, json), PROF_OK);
        CHECK_EQUAL(stats_last.errors, 1);
    }
    CHECK_EQUAL(
        parse(NULL,
              "{\"trace_event\":[{\"name\":\"x\",\"timestamp\":4611686018427387903,\"duration\":4611686018427387903,"
              "\"timestamp_unit\":\"ms\"}]}"),
        PROF_OK);
    CHECK_EQUAL(stats_last.errors, 1);
    static const struct {
        const char *unit;
        int64_t start, duration;
    } units[] = {{"ns", 7, 3}, {"us", 7000, 3000}, {"ms", 7000000, 3000000}, {"s", 7000000000, 3000000000},
                 {"", 0, 0},   {"fortnights", 0, 0}};
    for (size_t i = 0; i < sizeof units / sizeof *units; ++i) {
        snprintf(json, sizeof json,
                 "{\"trace_event\":[{\"name\":\"x\",\"timestamp\":7,\"duration\":3,\"timestamp_unit\":\"%s\"}]}",
                 units[i].unit);
        CHECK_EQUAL(parse(NULL, json), PROF_OK);
        CHECK_EQUAL(stats_last.errors, !units[i].start);
        CHECK_EQUAL(stats_last.first_ns, units[i].start);
        CHECK_EQUAL(stats_last.last_ns, units[i].start + units[i].duration);
    }
    /* sync points from one end of time to the other */
    CHECK_EQUAL(parse(NULL, "{\"events\":[" RAW_PAIR(
                                1, 1, 9223372036854775,
                                9223372036854776) ","
                                                  "{\"event_type\":\"timestamp_sync_point\",\"phase\":\"instant\",\"nc_"
                                                  "idx\":3,\"data\":{\"exec_id\":1,\"nc_timestamp_ns\":"
                                                  "-9223372036854775808,\"cpu_timestamp_ns\":1},\"timestamp_ns\":1},"
                                                  "{\"event_type\":\"timestamp_sync_point\",\"phase\":\"instant\",\"nc_"
                                                  "idx\":3,\"data\":{\"exec_id\":2,\"nc_timestamp_ns\":"
                                                  "9223372036854775807,\"cpu_timestamp_ns\":4611686018427387903},"
                                                  "\"timestamp_ns\":1}]}"),
                PROF_OK);
    CHECK_EQUAL(stats_last.raw_clock, 1);
}

/* Elements that are no events are left out; what is behind them is read. */
TEST(broken_elements)
{
    static const char *const elements[] = {"1",
                                           "\"x\"",
                                           "[]",
                                           "{}",
                                           "null",
                                           "{\"name\":\"n\"}",
                                           "{\"timestamp\":1}",
                                           "{\"name\":\"\",\"timestamp\":1}",
                                           "{\"name\" \"n\"}",
                                           "{\"name\":\"n\",,}",
                                           "{:}",
                                           "{\"a\":tru,\"b\"}",
                                           "{\"name\":\"\\x\",\"timestamp\":1}",
                                           "{\"name\":\"\\u12g4\",\"timestamp\":1}"};
    char json[512];
    for (size_t i = 0; i < sizeof elements / sizeof *elements; ++i) {
        snprintf(json, sizeof json, "{\"trace_event\":[%s,{\"name\":\"good\",\"timestamp\":7}],\"cpu_util\":[%s]}",
                 elements[i], elements[i]);
        CHECK_EQUAL(parse(NULL, json), PROF_OK);
        if (stats_last.errors != 2 || heard_last.count != 1) printf("     %s\n", elements[i]);
        CHECK_EQUAL(stats_last.errors, 2);
        CHECK_EQUAL(heard_last.count, 1);
    }
    static const char *const documents[] = {"[]",
                                            "1",
                                            "nonsense",
                                            "{\"events\":[}",
                                            "{\"events\":[{]}",
                                            "{\"a\":1}",
                                            "{}",
                                            "\x1F\x8B\x08",
                                            "{\"events\" 1}",
                                            "{\"events\":[{\"a\":1}{}]}",
                                            "{\"events\":[\x01]}"};
    for (size_t i = 0; i < sizeof documents / sizeof *documents; ++i)
        CHECK_EQUAL(parse(NULL, documents[i]), PROF_CORRUPT);
    CHECK_EQUAL(parse(NULL, "\xEF\xBB\xBF{\"events\":[]}"), PROF_OK);
    CHECK_EQUAL(parse(NULL, "{\"events\":null}"), PROF_OK);
    CHECK_EQUAL(prof_ntff_parse_systrace_json(NULL, "{\"events\":[]}\0\0", 15, NULL, NULL, NULL), PROF_OK);
    CHECK_EQUAL(prof_ntff_read_system_json("/nowhere/at all.json", NULL, NULL, NULL), PROF_IO);
    CHECK_EQUAL(prof_ntff_read_system_json(NULL, NULL, NULL, NULL), PROF_INVALID_ARGUMENT);
}

TEST(brackets_without_end)
{
    enum { DEPTH = 100000 };
    char *json = (char *)malloc(DEPTH + 64);
    for (int kind = 0; kind < 3; ++kind) {
        size_t used = (size_t)sprintf(json, "%s",
                                      kind == 0   ? "{\"events\":["
                                      : kind == 1 ? "{\"x\":"
                                                  : "{\"events\":[{\"data\":");
        memset(json + used, '[', DEPTH);
        json[used + DEPTH] = 0;
        CHECK_EQUAL(parse(NULL, json), PROF_CORRUPT);
        CHECK(strstr(prof_error(), "nested too deeply") != NULL);
    }
    free(json);
}

TEST(names_of_all_kinds)
{
    char json[8192], name[4096];
    CHECK_EQUAL(
        parse(
            NULL,
            "{\"trace_event\":[{\"name\":\"a\\\"b\\\\c\\/d\\n\\u00e4\\ud83d\\ude00\\ud83d\\u0000\",\"timestamp\":7}]}"),
        PROF_OK);
    CHECK(strstr(heard_last.text, "a\"b\\c/d\n\xC3\xA4\xF0\x9F\x98\x80\xEF\xBF\xBD") == heard_last.text);
    for (int end = 1000; end < 1030; ++end) { /* it is cut between characters */
        memset(name, 'x', sizeof name);
        strcpy(name + end, "\xE2\x82\xAC\xE2\x82\xAC\xE2\x82\xAC\xE2\x82\xAC\xE2\x82\xAC\xE2\x82\xAC\xE2\x82\xAC\xE2"
                           "\x82\xAC\xE2\x82\xAC");
        snprintf(json, sizeof json, "{\"trace_event\":[{\"name\":\"%s\",\"timestamp\":7}]}", name);
        CHECK_EQUAL(parse(NULL, json), PROF_OK);
        CHECK_EQUAL(heard_last.count, 1);
    }
    CHECK_EQUAL(parse(NULL, "{\"trace_event\":[{\"name\":\"\x80\x80\xFF\",\"timestamp\":7}]}"), PROF_OK);
}

/* A long string is a value, a name that is cut, or a key. What it costs: tests/instructions.c. */
TEST(long_strings)
{
    static const char *const around[][2] = {
        {"{\"events\":[{\"event_type\":\"x\",\"timestamp_ns\":7,\"model_name\":\"", "\"}]}"},
        {"{\"events\":[{\"timestamp_ns\":7,\"event_type\":\"", "\"}]}"},
        {"{\"events\":[{\"event_type\":\"x\",\"timestamp_ns\":7,\"", "\":1}]}"}};
    enum { SIZE = 300000 };
    char *json = (char *)malloc(SIZE + 200);
    CHECK(json != NULL);
    for (size_t i = 0; json && i < sizeof around / sizeof *around; ++i) {
        size_t used = strlen(around[i][0]);
        memcpy(json, around[i][0], used);
        memset(json + used, 'y', SIZE);
        strcpy(json + used + SIZE, around[i][1]);
        CHECK_EQUAL(parse(NULL, json), PROF_OK);
        CHECK_EQUAL(stats_last.events, 1);
        CHECK_EQUAL(stats_last.errors, 0);
    }
    free(json);
}

/* An element larger than is kept is left out; those around it are not. Strings and numbers lie across the ends of buffers. */
TEST(elements_of_any_size)
{
    const char *path = trace_path("large.json");
    FILE *file = fopen(path, "wb");
    uint64_t events = 0;
    CHECK(file != NULL);
    if (!file) return;
    seed();
    fprintf(file, "{\"trace_event\":[");
    for (int i = 0; i < 400; ++i) {
        size_t fill = i == 200 ? 3u << 20 : (size_t)(random_number() % 3000);
        fprintf(file, "%s{\"name\":\"e%d\",\"text\":\"", i ? "," : "", i);
        for (size_t k = 0; k < fill; ++k) fputc(k % 50 ? 'x' : '\\', file), fputs(k % 50 ? "" : "n", file);
        fprintf(file, "\",\"timestamp\":%d}", 1000 + i);
        events += i != 200;
    }
    fprintf(file, "]}");
    fclose(file);
    memset(&heard_last, 0, sizeof heard_last);
    memset(&stats_last, 0, sizeof stats_last);
    CHECK_EQUAL(prof_ntff_read_system_json(path, hear, &heard_last, &stats_last), PROF_OK);
    CHECK_EQUAL(stats_last.events, events);
    CHECK_EQUAL(stats_last.errors, 1);
    CHECK_EQUAL(stats_last.first_ns, 1000);
    CHECK_EQUAL(stats_last.last_ns, 1399);
}

/*-- tracks --*/

static const prof_track *device_row(const prof_trace *trace, const char *device, const char *row, size_t *index)
{
    for (*index = 0; *index < prof_trace_track_count(trace); ++*index) {
        const prof_track *track = prof_trace_track(trace, *index);
        if (!strcmp(track->device, device) && !strcmp(track->name, row)) return track;
    }
    return NULL;
}

static trace_list device_events(const prof_trace *trace, const char *device, const char *row)
{
    trace_list none = {NULL, 0, NULL, 0};
    size_t index;
    const prof_track *track = device_row(trace, device, row, &index);
    if (!track) printf("     no row '%s' of '%s'\n", row, device);
    CHECK(track != NULL);
    return track ? trace_read(trace, index) : none;
}

static int64_t unix_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static size_t make_json(char *json, size_t size, int64_t begin, int64_t end)
{
    return (size_t)snprintf(json, size,
                            "{\"events\":[{\"event_type\":\"nc_exec_running\",\"phase\":\"start\",\"nc_idx\":0,"
                            "\"tracking_id\":42,\"data\":{\"device_core_idx\":4,"
                            "\"exec_id\":17,\"model_name\":\"a.neff\",\"big\":18446744073709551615,\"ratio\":0.25,"
                            "\"on\":true,\"list\":[1,2]},\"timestamp_ns\":%lld},"
                            "{\"event_type\":\"nc_exec_running\",\"phase\":\"stop\",\"nc_idx\":0,\"tracking_id\":42,"
                            "\"data\":{},\"timestamp_ns\":%lld},"
                            "{\"event_type\":\"nrt_execute\",\"phase\":\"start\",\"nc_idx\":0,\"tracking_id\":43,"
                            "\"thread_id\":77,\"timestamp_ns\":%lld},"
                            "{\"event_type\":\"hw_notify\",\"phase\":\"instant\",\"nc_idx\":0,\"data\":{\"device_core_"
                            "idx\":4},\"timestamp_ns\":%lld},"
                            "{\"event_type\":\"nrt_tensor_read\",\"phase\":\"stop\",\"nc_idx\":0,\"tracking_id\":9,"
                            "\"thread_id\":77,\"timestamp_ns\":%lld}],\"data_version\":2}",
                            (long long)begin, (long long)end, (long long)begin, (long long)end, (long long)end);
}

/* The events of make_json() in a trace whose time 0 is at `start` of theirs. */
static int near(int64_t a, int64_t b, int64_t off) { return a - b <= off && b - a <= off; }

static void check_tracks(const prof_trace *trace, int64_t begin, int64_t end)
{
    int64_t off = prof_trace_about(trace)->complete ? 0 : 1 + end / 5000; /* see same_host() */
    trace_list list = device_events(trace, "NeuronCore 0", "core 4");
    const prof_event *e = trace_find(&list, "nc_exec_running");
    CHECK_EQUAL(list.count, 2);
    CHECK(e != NULL);
    if (e) {
        CHECK_EQUAL(e->type, PROF_EVENT_SCOPE);
        CHECK(near(e->start_ns, begin, off));
        CHECK(near(e->duration_ns, end - begin, off));
        CHECK_EQUAL(e->flags, 0);
        CHECK_TEXT(e->site->category, "NeuronCore 0");
        const prof_value *value = trace_arg(e, "exec_id");
        CHECK(value && value->type == PROF_VALUE_INT && value->as.i == 17);
        value = trace_arg(e, "big");
        CHECK(value && value->type == PROF_VALUE_UINT && value->as.u == UINT64_MAX);
        value = trace_arg(e, "ratio");
        CHECK(value && value->type == PROF_VALUE_DOUBLE && value->as.d > 0.249 && value->as.d < 0.251);
        value = trace_arg(e, "on");
        CHECK(value && value->type == PROF_VALUE_BOOL && value->as.u == 1);
        value = trace_arg(e, "list");
        CHECK(value && value->type == PROF_VALUE_STRING && !strcmp(value->as.string, "[1,2]"));
        value = trace_arg(e, "model_name");
        CHECK(value && value->type == PROF_VALUE_STRING && !strcmp(value->as.string, "a.neff"));
        CHECK(trace_arg(e, "device_core_idx") == NULL);
    }
    e = trace_find(&list, "hw_notify");
    CHECK(e && e->type == PROF_EVENT_MARK && near(e->start_ns, end, off));
    trace_free(&list);
    list = device_events(trace, "Neuron runtime 0", "thread 77");
    e = trace_find(&list, "nrt_execute");
    CHECK(e && e->type == PROF_EVENT_SCOPE && near(e->start_ns, begin, off) && e->duration_ns == 0 &&
          e->flags == PROF_TRUNCATED_END);
    e = trace_find(&list, "nrt_tensor_read");
    CHECK(e && e->type == PROF_EVENT_MARK && near(e->start_ns, end, off) && trace_arg(e, "truncated"));
    trace_free(&list);
}

TEST(recorded_under_the_scopes_that_run)
{
    prof_config config = trace_config(1u << 20);
    char json[2048];
    int64_t begin, end;
    trace_start(&config);
    {
        PROFILE_SCOPE("step");
        begin = unix_now();
        pause_ms(2);
        end = unix_now();
    }
    CHECK_EQUAL(prof_ntff_parse_systrace_json(NULL, json, make_json(json, sizeof json, begin, end), prof_ntff_record,
                                              NULL, NULL),
                PROF_OK);
    prof_trace *trace = trace_stop();
    trace_list host = trace_read(trace, 0), device = device_events(trace, "NeuronCore 0", "core 4");
    const prof_event *step = trace_find(&host, "step"), *run = trace_find(&device, "nc_exec_running");
    CHECK(step && run);
    if (step && run) {
        CHECK(run->start_ns + 100000 > step->start_ns && run->start_ns < trace_end(step));
        CHECK(trace_end(run) < trace_end(step) + 100000);
        check_tracks(trace, run->start_ns, run->start_ns + (end - begin));
    }
    trace_free(&host);
    trace_free(&device);
    prof_trace_close(trace);
    CHECK_EQUAL(prof_ntff_record(NULL, NULL), 0);
}

/* A host whose begin is made up, so that everything can be told to the nanosecond. */
static void host_image(const char *path, prof_mode mode, size_t buffer, int events)
{
    prof_config config = trace_config(buffer);
    prof_device *device = prof_device_create("gpu", NULL);
    prof_device_row *row = prof_device_row_create(device, "queue");
    config.output = path;
    config.mode = mode;
    trace_start(&config);
    PROFILE_THREAD("main thread");
    prof_device_sync(device, 1000, prof_host_ns());
    for (int i = 0; i < events; ++i) {
        PROFILE_SCOPE("step");
        PROFILE_COUNTER("i", i);
        PROFILE_ARG_I("i", i);
    }
    prof_device_mark(row, "theirs", 1000);
    CHECK_EQUAL(prof_stop(), PROF_OK);
}

static void same_host(const char *a, const char *b)
{
    prof_trace *x = trace_open_file(a), *y = trace_open_file(b);
    if (!x || !y) return;
    CHECK(prof_trace_track_count(y) > prof_trace_track_count(x));
    for (size_t i = 0; i < prof_trace_track_count(x); ++i) {
        const prof_track *t = prof_trace_track(x, i), *u = prof_trace_track(y, i);
        trace_list m = trace_read(x, i), n = trace_read(y, i);
        CHECK_TEXT(t->name, u->name);
        CHECK_TEXT(t->device, u->device);
        CHECK_EQUAL(m.count, n.count);
        for (size_t k = 0; k < m.count && k < n.count; ++k) {
            CHECK_EQUAL(m.events[k].id, n.events[k].id);
            /* of a process that did not end the clock's rate is measured whenever it is read, to 100 ppm or better */
            int64_t off = prof_trace_about(x)->complete ? 0 : 2 + trace_end(&n.events[k]) / 5000;
            CHECK(m.events[k].start_ns - n.events[k].start_ns <= off &&
                  n.events[k].start_ns - m.events[k].start_ns <= off);
            CHECK(m.events[k].duration_ns - n.events[k].duration_ns <= off &&
                  n.events[k].duration_ns - m.events[k].duration_ns <= off);
            CHECK_EQUAL(m.events[k].type, n.events[k].type);
            CHECK_EQUAL(m.events[k].arg_count, n.events[k].arg_count);
            CHECK_TEXT(m.events[k].name, n.events[k].name);
            if (test_failures > 20) break;
        }
        trace_free(&m);
        trace_free(&n);
    }
    CHECK_EQUAL(prof_trace_about(x)->lost, prof_trace_about(y)->lost);
    CHECK_EQUAL(prof_trace_about(x)->overwritten_chunks, prof_trace_about(y)->overwritten_chunks);
    CHECK_EQUAL(prof_trace_about(x)->lost_blocks, prof_trace_about(y)->lost_blocks);
    CHECK_EQUAL(prof_trace_about(x)->start_unix_ns, prof_trace_about(y)->start_unix_ns);
    CHECK_EQUAL(prof_trace_about(x)->complete, prof_trace_about(y)->complete);
    CHECK_TEXT(prof_trace_about(x)->boot_id, prof_trace_about(y)->boot_id);
    prof_trace_close(x);
    prof_trace_close(y);
}

static void import_into(const char *host, const char *out)
{
    const char *path = trace_path("import.json");
    char json[2048];
    prof_ntff_stats stats;
    prof_trace *trace = trace_open_file(host);
    if (!trace) return;
    int64_t begin = prof_ntff_unix_ns(trace, 10000), end = prof_ntff_unix_ns(trace, 30000);
    prof_trace_close(trace);
    memset(&stats, 0, sizeof stats);
    trace_write_file(path, json, make_json(json, sizeof json, begin, end));
    prof_status status = prof_ntff_import(path, host, out, &stats);
    if (status) printf("     %s\n", prof_error());
    CHECK_EQUAL(status, PROF_OK);
    CHECK_EQUAL(stats.events, 4);
    CHECK_EQUAL(stats.clock_stepped, 0);
    same_host(host, out);
    trace = trace_open_file(out);
    if (!trace) return;
    check_tracks(trace, 10000, 30000);
    prof_trace_close(trace);
}

TEST(imported_into_a_recording)
{
    const char *host = trace_path("neuron_host.prof"), *out = trace_path("neuron_both.prof"),
               *third = trace_path("neuron_third.prof");
    host_image(host, PROF_RING, 1u << 20, 100);
    import_into(host, out);
    prof_trace *trace = trace_open_file(host);
    CHECK_EQUAL(prof_trace_about(trace)->start_unix_ns, prof_ntff_unix_ns(trace, 0));
    prof_trace_close(trace);
    /* and a second time, into the result */
    prof_ntff_stats stats;
    memset(&stats, 0, sizeof stats);
    CHECK_EQUAL(prof_ntff_import(trace_path("import.json"), out, third, &stats), PROF_OK);
    trace = trace_open_file(third);
    size_t devices = 0;
    for (size_t i = 0; i < prof_trace_track_count(trace); ++i) devices += *prof_trace_track(trace, i)->device != 0;
    CHECK_EQUAL(devices, 5);
    prof_trace_close(trace);
    /* over itself */
    CHECK_EQUAL(prof_ntff_import(trace_path("import.json"), out, out, NULL), PROF_OK);
    same_host(host, out);
}

TEST(imported_into_rings_that_went_round_and_archives)
{
    static const char *const names[] = {"neuron_ring.prof", "neuron_fill.prof", "neuron_stream.prof"};
    static const prof_mode modes[] = {PROF_RING, PROF_FILL, PROF_STREAM};
    for (int i = 0; i < 3; ++i) {
        host_image(trace_path(names[i]), modes[i], 128u << 10, 30000);
        import_into(trace_path(names[i]), trace_path("neuron_both.prof"));
    }
    /* a link to the recording itself, of which the archive is yet to be read when the rest is written */
    const char *link = trace_path("neuron_link.prof");
    long size = trace_file_size(trace_path(names[2]));
    remove(link);
    CHECK(!symlink(names[2], link));
    CHECK_EQUAL(prof_ntff_import(trace_path("import.json"), trace_path(names[2]), link, NULL), PROF_INVALID_ARGUMENT);
    CHECK_EQUAL(trace_file_size(trace_path(names[2])), size);
    remove(link);
}

TEST(imported_into_what_a_killed_process_left)
{
    const char *host = trace_path("neuron_killed.prof"), *out = trace_path("neuron_both.prof");
    fflush(stdout);
    pid_t child = fork();
    if (!child) {
        prof_config config = trace_config(1u << 20);
        config.output = host;
        if (prof_start(&config)) _exit(1);
        PROFILE_BEGIN("open");
        for (int i = 0; i < 1000; ++i) {
            PROFILE_SCOPE("step");
        }
        kill(getpid(), SIGKILL);
    }
    waitpid(child, NULL, 0);
    import_into(host, out);
}

static int late_unix, late_host; /* the next reading of this clock waits a millisecond for its processor */
int test_clock_gettime(clockid_t clock, struct timespec *time)
{
    int *late = clock == CLOCK_REALTIME ? &late_unix : &late_host, waits = *late;
    *late = 0;
    if (waits)
        for (uint64_t until = prof__monotonic() + 1000000; prof__monotonic() < until;) continue;
    return clock_gettime(clock, time);
}

/* An import would take what is recorded then for a clock that was set. */
TEST(clocks_that_are_read_with_an_interruption)
{
    static const uint32_t clocks[] = {PROF_CLOCK_COUNTER, PROF_CLOCK_MONOTONIC};
    for (int i = 0; i < 40; ++i) {
        uint32_t clock = clocks[i % 2];
        prof__pair pair, after;
        if (clock == PROF_CLOCK_COUNTER && !prof__counter_usable()) continue;
        late_unix = 1;
        late_host = i / 2 % 2; /* both halves took as long */
        prof__pair_take(clock, 0, &pair);
        CHECK_EQUAL(late_unix + late_host, 0);
        prof__pair_take_well(clock, 0, &after);
        int64_t off = (int64_t)(pair.unix_ns - pair.monotonic_ns) - (int64_t)(after.unix_ns - after.monotonic_ns);
        CHECK(off > -500000 && off < 500000);
    }
}

TEST(a_device_s_unix_time_that_is_read_with_an_interruption)
{
    prof_config config = trace_config(1u << 20);
    prof_device_clock clock = {1000000000, 0, 1};
    prof_device *device = prof_device_create("late", &clock);
    prof_device_row *row = prof_device_row_create(device, "q");
    prof__pair pair;
    trace_start(&config);
    pause_ms(2); /* so that what is a millisecond early is within the session, too */
    prof__pair_take_well(PROF_CLOCK_MONOTONIC, 0, &pair);
    late_unix = 1;
    CHECK_EQUAL(prof_device_sync(device, 7, pair.unix_ns), PROF_OK);
    CHECK_EQUAL(late_unix, 0);
    prof_device_mark(row, "m", 7);
    prof_trace *trace = trace_stop();
    trace_list list = device_events(trace, "late", "q");
    CHECK_EQUAL(list.count, 1);
    if (list.count)
        CHECK(near(list.events[0].start_ns, (int64_t)(pair.monotonic_ns - prof_trace_about(trace)->start_monotonic_ns),
                   500000));
    trace_free(&list);
    prof_trace_close(trace);
}

TEST(imported_alone_and_merged)
{
    const char *host = trace_path("neuron_host.prof"), *out = trace_path("neuron_alone.prof"),
               *path = trace_path("import.json");
    char json[2048];
    host_image(host, PROF_RING, 1u << 20, 100);
    prof_trace *traces[2];
    traces[0] = trace_open_file(host);
    if (!traces[0]) return;
    int64_t begin = prof_ntff_unix_ns(traces[0], 12345), offsets[2];
    trace_write_file(path, json, make_json(json, sizeof json, begin, begin + 20000));
    CHECK_EQUAL(prof_ntff_import(path, NULL, out, NULL), PROF_OK);
    traces[1] = trace_open_file(out);
    if (!traces[1]) return;
    check_tracks(traces[1], 0, 20000);
    CHECK_EQUAL(prof_trace_about(traces[1])->start_unix_ns, begin);
    CHECK_EQUAL(prof_trace_about(traces[1])->duration_ns, 20000);
    CHECK_EQUAL(prof_trace_about(traces[1])->lost, 0);
    CHECK_EQUAL(prof_trace_about(traces[1])->complete, 1);
    CHECK_EQUAL(prof_trace_align((const prof_trace *const *)traces, 2, offsets), 2);
    CHECK_EQUAL(offsets[0], 0);
    CHECK(offsets[1] > 12345 - 100000 && offsets[1] < 12345 + 100000);
    CHECK_EQUAL(prof_chrome_merge((const prof_trace *const *)traces, 2, trace_path("neuron_merged.json"), NULL),
                PROF_OK);
    prof_trace_close(traces[0]);
    prof_trace_close(traces[1]);
}

TEST(imports_that_fail)
{
    const char *host = trace_path("neuron_host.prof"), *out = trace_path("neuron_none.prof"),
               *path = trace_path("import.json");
    prof_ntff_stats stats;
    char json[2048];
    host_image(host, PROF_RING, 1u << 20, 100);
    remove(out);
    trace_write_file(path, json, make_json(json, sizeof json, 5, 6));
    CHECK_EQUAL(prof_ntff_import(NULL, host, out, NULL), PROF_INVALID_ARGUMENT);
    CHECK_EQUAL(prof_ntff_import(path, host, "-", NULL), PROF_INVALID_ARGUMENT);
    CHECK_EQUAL(prof_ntff_import(path, host, path, NULL), PROF_INVALID_ARGUMENT);
    CHECK(trace_file_size(path) > 100); /* it is still there */
    CHECK_EQUAL(prof_ntff_import("/nowhere.json", host, out, NULL), PROF_IO);
    CHECK_EQUAL(prof_ntff_import(TRACE_FOLDER, host, out, NULL), PROF_IO);
    CHECK(strstr(prof_error(), TRACE_FOLDER ": Is a directory") != NULL);
    CHECK_EQUAL(prof_ntff_import(path, "/nowhere.prof", out, NULL), PROF_IO);
    CHECK_EQUAL(prof_ntff_import(path, path, out, NULL), PROF_CORRUPT);
    CHECK_EQUAL(prof_ntff_import(path, host, "/dev/null/out.prof", NULL), PROF_IO);
    trace_write_file(path, "{\"events\":[]}", 13);
    CHECK_EQUAL(prof_ntff_import(path, host, out, NULL), PROF_CORRUPT);
    static const char raw[] = "{\"events\":[" RAW_PAIR(1, 1, 88000000001, 88000000002) "]}";
    trace_write_file(path, raw, sizeof raw - 1);
    CHECK_EQUAL(prof_ntff_import(path, NULL, out, NULL), PROF_CORRUPT);
    CHECK(strstr(prof_error(), "nor sync points") != NULL);
    trace_write_file(path, runtime_json, 700);
    CHECK_EQUAL(prof_ntff_import(path, host, out, NULL), PROF_CORRUPT);
    CHECK_EQUAL(trace_file_size(out), -1);
    /* long ago: it works, and says so */
    trace_write_file(path, json, make_json(json, sizeof json, 5, 6));
    memset(&stats, 0, sizeof stats);
    CHECK_EQUAL(prof_ntff_import(path, host, out, &stats), PROF_OK);
    CHECK_EQUAL(stats.outside, 4);
    prof_trace *trace = trace_open_file(out);
    uint64_t early = 0;
    if (!trace) return;
    for (size_t i = 0; i < prof_trace_track_count(trace); ++i)
        if (!strncmp(prof_trace_track(trace, i)->device, "Neuron", 6)) early += prof_trace_track(trace, i)->early;
    CHECK_EQUAL(early, 4);
    CHECK(prof_trace_about(trace)->duration_ns < 1000000000000);
    prof_trace_close(trace);
}

/* Call sites leave just as many numbers as devices may need; and times that are none. */
TEST(imported_where_numbers_end)
{
    static const uint32_t last[] = {0xFFFFF000u, 0xFFFFFFFFu, PROF__SITE_MASK - 4096, PROF__SITE_MASK - 4097};
    const char *host = trace_path("neuron_host.prof"), *path = trace_path("import.json");
    size_t size, at, length;
    char json[2048];
    host_image(host, PROF_RING, 128u << 10, 100);
    trace_write_file(path, json, make_json(json, sizeof json, 1786270865000000000, 1786270865000000100));
    char *image = trace_file_text(host, &size);
    if (!image) return;
    prof__header *h = (prof__header *)(void *)image;
    uint64_t *meta = (uint64_t *)(void *)(image + h->meta_offset), *site = NULL;
    for (at = 0; (length = prof__read_meta_words(meta, at, (size_t)(h->meta_size / 8))) != 0; at += length)
        if (meta[at] >> 56 == PROF__META_SITE) site = &meta[at];
    for (size_t i = 0; site && i < sizeof last / sizeof *last; ++i) {
        *site = *site >> 32 << 32 | last[i];
        trace_write_file(host, image, size);
        CHECK_EQUAL(prof_ntff_import(path, host, trace_path("neuron_both.prof"), NULL), i < 3 ? PROF_UNSUPPORTED : PROF_OK);
    }
    h->first.unix_ns = UINT64_MAX;
    trace_write_file(host, image, size);
    CHECK_EQUAL(prof_ntff_import(path, host, trace_path("neuron_both.prof"), NULL), PROF_UNSUPPORTED);
    CHECK(site && strstr(prof_error(), "has no Unix time") != NULL);
    free(image);
}

/* Hosts with damage anywhere in header and meta, and with chunks of any size: it fails, or what it writes can be read. */
TEST(imported_into_damaged_recordings)
{
    size_t size;
    char json[2048];
    seed();
    host_image(trace_path("neuron_host.prof"), PROF_RING, 128u << 10, 100);
    char *image = trace_file_text(trace_path("neuron_host.prof"), &size);
    trace_write_file(trace_path("import.json"), json, make_json(json, sizeof json, 1786270865000000000, 1786270865000000100));
    prof__header *h = (prof__header *)(void *)image;
    for (long i = 0; i < trace_times(100, 600, 20000); ++i) {
        prof__header kept = *h;
        uint64_t at = random_number() % (i % 2 ? sizeof *h : size / 16);
        char before = image[at];
        if (i % 8 == 0)
            h->chunk_size = (uint32_t)(h->chunk_header_size + 8 * (1 + random_number() % 40));
        else
            image[at] = (char)random_number();
        trace_write_file(trace_path("neuron_broken.prof"), image, size);
        if (!prof_ntff_import(trace_path("import.json"), trace_path("neuron_broken.prof"), trace_path("neuron_both.prof"), NULL)) {
            prof_trace *trace = NULL;
            if (!prof_trace_open(trace_path("neuron_both.prof"), &trace)) prof_trace_close(trace);
        }
        image[at] = before;
        *h = kept;
    }
    free(image);
}

/* Who is not the process, or the machine, of the recording is named; threads without number share a row at last. */
TEST(processes_machines_and_threads)
{
    enum { THREADS = 4200 };
    char *json = (char *)malloc(THREADS * 120 + 1000), *to = json;
    prof_trace *trace;
    size_t others;
    to += sprintf(to, "{\"trace_event\":[{\"name\":\"a\",\"nc_idx\":3,\"process_id\":7,\"instance_id\":\"i-1\",\"timestamp\":100,\"duration\":5},"
                      "{\"name\":\"b\",\"nc_idx\":3,\"process_id\":7,\"instance_id\":\"i-2\",\"timestamp\":100,\"duration\":5},"
                      "{\"name\":\"c\",\"trace_event_source\":\"framework\",\"timestamp\":100,\"duration\":5}");
    for (int i = 0; i < THREADS; ++i) to += sprintf(to, ",{\"name\":\"t\",\"thread_id\":%d,\"timestamp\":%d,\"duration\":2}", i + 1, 100 + i * 2);
    strcpy(to, "]}");
    trace_write_file(trace_path("threads.json"), json, strlen(json));
    free(json);
    CHECK_EQUAL(prof_ntff_import(trace_path("threads.json"), NULL, trace_path("neuron_alone.prof"), NULL), PROF_OK);
    trace = trace_open_file(trace_path("neuron_alone.prof"));
    if (!trace) return;
    CHECK_EQUAL(prof_trace_track_count(trace), 4096 + 1);
    CHECK(device_row(trace, "Neuron runtime 3 of process 7", "events", &others) != NULL);
    CHECK(device_row(trace, "Neuron runtime 3 of process 7 on i-2", "events", &others) != NULL);
    CHECK(device_row(trace, "Neuron framework", "events", &others) != NULL);
    CHECK(device_row(trace, "Neuron runtime", "thread 1", &others) != NULL);
    const prof_track *last = device_row(trace, "Neuron", "others", &others);
    CHECK(last && last->event_count == THREADS - (4096 - 3));
    prof_trace_close(trace);
}

/* From one Unix time to the other: the same rate, a slow drift, and a clock that somebody set. */
TEST(a_host_s_two_clocks)
{
    static const struct {
        int64_t span, off;
        int stepped, drifts;
    } cases[] = {{1000000000, 0, 0, 0},     {1000000000, 50000, 0, 0},    {1000000000, 60000, 0, 1}, {1000000000, -549000, 0, 1},
                 {1000000000, 551000, 1, 0}, {1000000000, -3000000, 1, 0}, {0, 0, 0, 0}, {10000, -50002, 0, 0}};
    seed();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        prof__header h;
        prof__ntff_clock clock;
        prof__import_header(&h, "Neuron", "Unix time");
        h.first.monotonic_ns = 5000000;
        h.first.unix_ns = 1786270865722793417u;
        h.last.monotonic_ns = h.first.monotonic_ns + (uint64_t)cases[i].span;
        h.last.unix_ns = h.first.unix_ns + (uint64_t)(cases[i].span + cases[i].off);
        prof__ntff_clock_of(&clock, &h.first, &h.last);
        CHECK_EQUAL(clock.stepped, cases[i].stepped);
        CHECK_EQUAL(clock.span != 0, cases[i].drifts);
        CHECK_EQUAL(prof__ntff_clock_host(&clock, (int64_t)h.first.unix_ns), h.first.monotonic_ns);
        if (cases[i].drifts) {
            int64_t off = prof__ntff_clock_host(&clock, (int64_t)h.last.unix_ns) - (int64_t)h.last.monotonic_ns;
            CHECK_EQUAL(off, 0);
        }
        for (int k = 0; k < 1000; ++k) {
            int64_t host = (int64_t)(random_number() % 2000000000);
            int64_t unix_ns = (int64_t)h.first.unix_ns + host + prof__ntff_clock_off(&clock, host);
            int64_t off = prof__ntff_clock_host(&clock, unix_ns) - (int64_t)h.first.monotonic_ns - host;
            if (!cases[i].drifts) CHECK_EQUAL(off, 0);
            CHECK(off >= -1 && off <= 1);
        }
    }
    prof__ntff_clock clock;
    prof__header h;
    memset(&h, 0xFF, sizeof h); /* nothing in an image can be trusted */
    prof__ntff_clock_of(&clock, &h.first, &h.last);
    h.first.monotonic_ns = h.first.unix_ns = 1;
    prof__ntff_clock_of(&clock, &h.first, &h.last);
}

/* Threads that report what came while others record; each has a parser of its own. */
static void *report(void *number)
{
    char json[2048];
    prof_ntff_stats stats;
    memset(&stats, 0, sizeof stats);
    for (int i = 0; i < 50; ++i) {
        PROFILE_SCOPE("fetch");
        int64_t now = unix_now();
        size_t size = make_json(json, sizeof json, now - 1000, now);
        for (char *nc = json; (nc = strstr(nc, "\"nc_idx\":0")) != NULL;) nc[9] = (char)('0' + *(int *)number);
        prof_ntff_parse_systrace_json(NULL, json, size, prof_ntff_record, NULL, &stats);
    }
    *(int *)number = (int)stats.events;
    return NULL;
}

TEST(reported_by_several_threads)
{
    prof_config config = trace_config(4u << 20);
    pthread_t threads[4];
    int numbers[4];
    uint64_t scopes = 0;
    trace_start(&config);
    for (int i = 0; i < 4; ++i) {
        numbers[i] = i / 2 + 1;
        CHECK(!pthread_create(&threads[i], NULL, report, &numbers[i]));
    }
    for (int i = 0; i < 1000; ++i) {
        PROFILE_SCOPE("work");
    }
    for (int i = 0; i < 4; ++i) {
        pthread_join(threads[i], NULL);
        CHECK_EQUAL(numbers[i], 50 * 4);
    }
    prof_trace *trace = trace_stop();
    for (size_t i = 0; i < prof_trace_track_count(trace); ++i) {
        const prof_track *track = prof_trace_track(trace, i);
        if (strcmp(track->device, "NeuronCore 1") && strcmp(track->device, "NeuronCore 2")) continue;
        trace_list list = trace_read(trace, i);
        scopes += trace_count(&list, "nc_exec_running");
        trace_free(&list);
        CHECK(track->alignment == PROF_ALIGN_RATE || track->alignment == PROF_ALIGN_PAIRS);
    }
    CHECK_EQUAL(scopes, 200);
    prof_trace_close(trace);
}

/*-- trace.json --*/

typedef struct memory_file {
    char text[65536];
    size_t size;
} memory_file;

static int into_memory(void *user, const void *bytes, size_t size)
{
    memory_file *m = (memory_file *)user;
    if (m->size + size >= sizeof m->text) return 1;
    memcpy(m->text + m->size, bytes, size);
    m->text[m->size += size] = 0;
    return 0;
}

/* An image whose clock is made up: a tick is a nanosecond, and it begins at a given Unix time. */
static prof_trace *made_up(uint64_t unix_ns, const char *program)
{
    static const struct {
        uint64_t ticks;
        unsigned kind, site;
    } events[] = {{0, PROF__KIND_BEGIN, 1},   {1500, PROF__KIND_BEGIN, 2},  {2501, PROF__KIND_END, 2},
                  {2501, PROF__KIND_MARK, 3}, {1000000, PROF__KIND_END, 1}, {1000001, PROF__KIND_BEGIN, 2}};
    static const char *const names[] = {"prefill \"a\"\\\n\xFF\xC3\xA4", "matmul", "here", "x.c"};
    static uint64_t image[8192];
    prof__import w;
    memset(&w, 0, sizeof w);
    memset(image, 0, sizeof image);
    prof__import_header(&w.h, "Neuron", "Unix time");
    w.h.pid = 701;
    w.h.first.tick = w.h.first.monotonic_ns = 5000;
    w.h.first.unix_ns = unix_ns;
    w.h.last.tick = w.h.last.monotonic_ns = 5000 + 2000000;
    w.h.last.unix_ns = unix_ns + 2000000;
    w.h.chunk_size = 16384;
    w.h.chunk_count = w.h.next_chunk = 1;
    snprintf(w.h.program, sizeof w.h.program, "%s", program);
    prof__import_string(&w, "");
    for (int i = 0; i < 4; ++i) prof__import_string(&w, names[i]);
    uint32_t thread = prof__import_string(&w, "main");
    for (uint32_t i = 1; i <= 3; ++i) {
        uint64_t site[4] = {(i + 1) | (uint64_t)5 << 32, 1 | (uint64_t)1 << 32, 10 + i,
                            2 | (uint64_t)(i == 3 ? PROF__KIND_MARK : PROF__KIND_BEGIN) << 32};
        prof__import_meta(&w, PROF__META_SITE, i, site, 4);
    }
    w.h.meta_offset = sizeof w.h + w.h.chunk_size;
    w.h.meta_used = w.h.meta_size = w.meta_words * 8;
    w.h.image_size = w.h.meta_offset + w.h.meta_size;
    memcpy(image, &w.h, sizeof w.h);
    prof__chunk chunk;
    memset(&chunk, 0, sizeof chunk);
    chunk.sequence = 1;
    chunk.base = w.h.first;
    chunk.state = PROF__CHUNK_FULL;
    uint64_t *at = image + sizeof w.h / 8;
    memcpy(at, &chunk, sizeof chunk);
    at += w.h.chunk_header_size / 8;
    *at++ = (uint64_t)PROF__KIND_TRACK << PROF__KIND_SHIFT | (uint64_t)1 << 32 | thread;
    *at++ = 1;
    *at++ = 80375131;
    for (size_t i = 0; i < sizeof events / sizeof *events; ++i)
        *at++ = (uint64_t)events[i].kind << PROF__KIND_SHIFT | (uint64_t)events[i].site << PROF__TICK_BITS |
                events[i].ticks;
    memcpy((char *)image + w.h.meta_offset, w.meta, w.h.meta_size);
    free(w.meta);
    prof_trace *trace = NULL;
    CHECK_EQUAL(prof_trace_open_memory(image, w.h.image_size, &trace), PROF_OK);
    if (trace) trace_check(trace);
    return trace;
}

TEST(kineto_s_shape_to_the_byte)
{
    static memory_file m;
    prof_sink sink = {into_memory, &m};
    prof_trace *trace = made_up(1786270865722793417u, "serve");
    if (!trace) return;
    m.size = 0;
    CHECK_EQUAL(prof_ntff_trace_json_stream(trace, sink, NULL), PROF_OK);
    CHECK_TEXT(m.text, "{\n\"schemaVersion\": 1,\n\"deviceProperties\": [],\n\"displayTimeUnit\": \"ms\",\n"
                       "\"baseTimeNanoseconds\": 1782967788000000000,\n\"traceEvents\": [\n"
                       "{\"ph\":\"M\",\"name\":\"process_name\",\"ts\":3303077722793.417,\"pid\":701,\"tid\":0,"
                       "\"args\":{\"name\":\"serve\"}},\n"
                       "{\"ph\":\"M\",\"name\":\"process_labels\",\"ts\":3303077722793.417,\"pid\":701,\"tid\":0,"
                       "\"args\":{\"labels\":\"CPU\"}},\n"
                       "{\"ph\":\"M\",\"name\":\"process_sort_index\",\"ts\":3303077722793.417,\"pid\":701,\"tid\":0,"
                       "\"args\":{\"sort_index\":701}},\n"
                       "{\"ph\":\"M\",\"name\":\"thread_name\",\"ts\":3303077722793.417,\"pid\":701,\"tid\":80375131,"
                       "\"args\":{\"name\":\"thread 80375131 (main)\"}},\n"
                       "{\"ph\":\"M\",\"name\":\"thread_sort_index\",\"ts\":3303077722793.417,\"pid\":701,\"tid\":"
                       "80375131,\"args\":{\"sort_index\":80375131}},\n"
                       "{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"prefill "
                       "\\\"a\\\"\\\\\\u000a\xEF\xBF\xBD\xC3\xA4\",\"pid\":701,\"tid\":80375131,"
                       "\"ts\":3303077722793.417,\"dur\":1000.000,\"args\":{\"External id\":1}},\n"
                       "{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"matmul\",\"pid\":701,\"tid\":80375131,"
                       "\"ts\":3303077722794.917,\"dur\":1.001,"
                       "\"args\":{\"External id\":2}},\n"
                       "{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"matmul\",\"pid\":701,\"tid\":80375131,"
                       "\"ts\":3303077723793.418,\"dur\":0.000,"
                       "\"args\":{\"External id\":3,\"truncated\":\"end\"}}\n"
                       "],\n\"traceName\": \"prof: serve\"\n}\n");
    prof_ntff_trace_options options;
    memset(&options, 0, sizeof options);
    options.category = "cpu_op";
    options.pid = 12;
    options.source_names = options.instants = 1;
    m.size = 0;
    CHECK_EQUAL(prof_ntff_trace_json_stream(trace, sink, &options), PROF_OK);
    CHECK(strstr(m.text, "\n{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"x.c(12): "
                         "matmul\",\"pid\":12,\"tid\":80375131,\"ts\":3303077722794.917,") != NULL);
    CHECK(
        strstr(
            m.text,
            "\n{\"ph\":\"i\",\"s\":\"t\",\"name\":\"here\",\"pid\":12,\"tid\":80375131,\"ts\":3303077722795.918},\n") !=
        NULL);
    prof_trace_close(trace);
    CHECK_EQUAL(prof_ntff_trace_json_stream(NULL, sink, NULL), PROF_INVALID_ARGUMENT);
}

/* base + ts * 1000 is the Unix time of each scope, to the nanosecond, whenever the session was. */
/* Keeps the end of a long text. */
static int into_end(void *user, const void *bytes, size_t size)
{
    memory_file *m = (memory_file *)user;
    size_t half = sizeof m->text / 2, part = size < half ? size : half;
    size_t drop = m->size + part >= sizeof m->text ? m->size + part - half : 0;
    memmove(m->text, m->text + drop, m->size -= drop);
    return into_memory(m, (const char *)bytes + size - part, part);
}

/* Of equal keys the last counts, in its place; and many arguments take time in proportion to their number. */
TEST(kineto_s_arguments)
{
    static memory_file m;
    prof_sink sink = {into_end, &m};
    prof_trace *trace = NULL;
    prof_config config = {0};
    char key[32];
    CHECK_EQUAL(prof_start(&config), PROF_OK);
    {
        PROFILE_SCOPE("many");
        for (int i = 0; i < 300000; ++i) {
            snprintf(key, sizeof key, "%d", i);
            PROFILE_ARGS(PROF_ARG_I(key, i));
        }
    }
    {
        PROFILE_SCOPE("few");
        PROFILE_ARG_I("a", 1);
        PROFILE_ARG_I("b", 2);
        PROFILE_ARG_I("truncated", 3);
        PROFILE_ARG_I("a", 4);
    }
    CHECK_EQUAL(prof_stop(), PROF_OK);
    CHECK_EQUAL(prof_trace_open_live(&trace), PROF_OK);
    m.size = 0;
    CHECK_EQUAL(prof_ntff_trace_json_stream(trace, sink, NULL), PROF_OK);
    CHECK(strstr(m.text, ",\"b\":2,\"truncated \":3,\"a\":4}}\n") != NULL);
    CHECK(strstr(m.text, ",\"299998\":299998,\"299999\":299999}},\n") != NULL);
    prof_trace_close(trace);
    prof_reset();
}

TEST(kineto_s_times_are_exact)
{
    static memory_file m;
    prof_sink sink = {into_memory, &m};
    seed();
    for (int i = 0; i < 300; ++i) {
        uint64_t unix_ns =
            i < 3 ? (uint64_t)7889238 * 1000000000u * (uint64_t)(i + 1) : 1 + random_number() % 4000000000000000000u;
        prof_trace *trace = made_up(unix_ns, "x");
        if (!trace) return;
        m.size = 0;
        CHECK_EQUAL(prof_ntff_trace_json_stream(trace, sink, NULL), PROF_OK);
        unsigned long long base = 0, us = 0, part = 0;
        CHECK(sscanf(strstr(m.text, "baseTime"), "baseTimeNanoseconds\": %llu", &base) == 1);
        CHECK_EQUAL(base % 7889238000000000u, 0);
        const char *scope = strstr(strstr(m.text, "\"matmul\""), "\"ts\":");
        CHECK(sscanf(scope, "\"ts\":%llu.%3llu,", &us, &part) == 2);
        CHECK_EQUAL(base + us * 1000 + part, unix_ns + 1500);
        CHECK_EQUAL(prof_ntff_unix_ns(trace, 1500), unix_ns + 1500);
        CHECK_EQUAL(prof_ntff_unix_ns(trace, INT64_MAX), INT64_MAX);
        CHECK_EQUAL(prof_ntff_unix_ns(trace, INT64_MIN), INT64_MIN + (int64_t)unix_ns);
        prof_trace_close(trace);
    }
}

TEST(somebody_else_s_trace_json_stays)
{
    static const char theirs[] =
        "{\n\"schemaVersion\": 1,\n\"baseTimeNanoseconds\": 1782967788000000000,\n\"traceEvents\": [\n"
        "{\"ph\":\"X\",\"name\":\"aten::mm\",\"ts\":1.5,\"dur\":2,\"args\":{\"]\":[1,{}]}}\n  ],\n\"traceName\": "
        "\"trace.json\"\n}";
    const char *path = trace_path("trace.json");
    prof_trace *trace = made_up(1786270865722793417u, "serve");
    prof_ntff_trace_options options;
    char *text, *again;
    memset(&options, 0, sizeof options);
    if (!trace) return;
    trace_write_file(path, theirs, sizeof theirs - 1);
    CHECK_EQUAL(prof_ntff_trace_json(trace, path, NULL), PROF_INVALID_STATE);
    text = trace_file_text(path, NULL);
    CHECK_TEXT(text, theirs);
    free(text);
    options.append = 1;
    CHECK_EQUAL(prof_ntff_trace_json(trace, path, &options), PROF_OK);
    text = trace_file_text(path, NULL);
    CHECK(!strncmp(text, theirs, strlen(theirs) - strlen("\n  ],\n\"traceName\": \"trace.json\"\n}")));
    CHECK(strstr(text, "{}]}},\n{\"ph\":\"M\",\"name\":\"process_name\",\"ts\":3303077722793.417,") != NULL);
    CHECK(strstr(text, "\"truncated\":\"end\"}}\n  ],\n\"traceName\": \"trace.json\"\n}") != NULL);
    CHECK(strstr(text, "\"External id\":1000000001}") != NULL); /* their own begin at 1 */
    free(text);
    /* an empty one, one of another time, and such as are none */
    static const char early[] = "{\"traceEvents\":[],\"baseTimeNanoseconds\":1786270865000000000}";
    trace_write_file(path, early, sizeof early - 1);
    CHECK_EQUAL(prof_ntff_trace_json(trace, path, &options), PROF_OK);
    text = trace_file_text(path, NULL);
    CHECK(strstr(text, "{\"traceEvents\":[\n{\"ph\":\"M\",\"name\":\"process_name\",\"ts\":722793.417,") == text);
    free(text);
    static const char *const bad[] = {"",
                                      "[]",
                                      "{}",
                                      "{\"traceEvents\":[",
                                      "{\"traceEvents\":[1,]",
                                      "{\"traceEvents\":[{}],\"traceEvents\":[]}",
                                      "{\"traceEvents\":[],\"baseTimeNanoseconds\":\"x\"}"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
        trace_write_file(path, bad[i], strlen(bad[i]));
        CHECK_EQUAL(prof_ntff_trace_json(trace, path, &options), PROF_CORRUPT);
        text = trace_file_text(path, NULL);
        CHECK_TEXT(text, bad[i]);
        free(text);
    }
    /* our own is replaced */
    remove(path);
    CHECK_EQUAL(prof_ntff_trace_json(trace, path, NULL), PROF_OK);
    text = trace_file_text(path, NULL);
    CHECK_EQUAL(prof_ntff_trace_json(trace, path, &options), PROF_OK);
    again = trace_file_text(path, NULL);
    CHECK_TEXT(text, again);
    free(text);
    free(again);
    prof_trace_close(trace);
    CHECK_EQUAL(prof_ntff_trace_json(NULL, path, NULL), PROF_INVALID_ARGUMENT);
}

static void *write_again(void *trace)
{
    for (int i = 0; trace && i < 50; ++i) {
        prof_status status = prof_ntff_trace_json((prof_trace *)trace, TRACE_FOLDER "/threads.json", NULL);
        if (status) printf("     %s\n", prof_error());
        CHECK_EQUAL(status, PROF_OK);
    }
    prof_trace_close((prof_trace *)trace);
    return NULL;
}

TEST(threads_that_write_one_trace_json)
{
    const char *path = trace_path("threads.json");
    prof_trace *traces[4];
    pthread_t threads[4];
    char *text, *again;
    remove(path);
    write_again(made_up(1786270865722793417u, "serve"));
    text = trace_file_text(path, NULL);
    for (int i = 0; i < 4; ++i) traces[i] = made_up(1786270865722793417u, "serve");
    for (int i = 0; i < 4; ++i) CHECK(!pthread_create(&threads[i], NULL, write_again, traces[i]));
    for (int i = 0; i < 4; ++i) pthread_join(threads[i], NULL);
    again = trace_file_text(path, NULL);
    CHECK_TEXT(again, text);
    free(text);
    free(again);
}

/* A trace.json that is a link: what it leads to is no more replaced than a file would be. */
TEST(a_link_to_somebody_else_s_trace_json)
{
    static const char theirs[] = "{\"traceEvents\":[]}";
    const char *file = trace_path("rank_0.json"), *path = trace_path("linked.json");
    prof_trace *trace = made_up(1786270865722793417u, "serve");
    prof_ntff_trace_options options;
    char *text;
    memset(&options, 0, sizeof options);
    if (!trace) return;
    remove(path);
    CHECK(!symlink("rank_0.json", path));
    for (int i = 0; i < 2; ++i) {
        trace_write_file(file, theirs, sizeof theirs - 1);
        options.append = i;
        CHECK_EQUAL(prof_ntff_trace_json(trace, path, &options), i ? PROF_INVALID_ARGUMENT : PROF_INVALID_STATE);
        text = trace_file_text(file, NULL);
        CHECK_TEXT(text, theirs);
        free(text);
    }
    trace_write_file(file, "", 0); /* as /dev/stdout is one */
    for (int i = 0; i < 2; ++i) { /* and then it is prof's */
        CHECK_EQUAL(prof_ntff_trace_json(trace, path, NULL), PROF_OK);
        text = trace_file_text(file, NULL);
        CHECK(text && strstr(text, "\"traceName\": \"prof: serve\""));
        free(text);
    }
    remove(path);
    prof_trace_close(trace);
}

/*-- files --*/

static void put(const char *path, size_t size, char fill)
{
    char full[600];
    snprintf(full, sizeof full, "%s", trace_path("neuron"));
    mkdir(full, 0777);
    for (const char *c = path; (c = strchr(c, '/')) != NULL; ++c) {
        snprintf(full, sizeof full, "%s/%.*s", trace_path("neuron"), (int)(c - path), path);
        mkdir(full, 0777);
    }
    snprintf(full, sizeof full, "%s/%s", trace_path("neuron"), path);
    char *bytes = (char *)malloc(size + 1);
    memset(bytes, fill, size);
    trace_write_file(full, bytes, size);
    free(bytes);
}

static void clean(void)
{
    char command[600];
    snprintf(command, sizeof command, "rm -rf '%s'", trace_path("neuron"));
    if (system(command)) printf("     %s failed\n", command);
}

static int list_line(void *user, const prof_ntff_artifact *a)
{
    heard *h = (heard *)user;
    h->used += (size_t)snprintf(h->text + h->used, sizeof h->text - h->used,
                                "%s kind %d size %llu hash %s nc %d session %d blank %d paired %d\n",
                                a->path + strlen(trace_path("neuron")) + 1, (int)a->kind, (unsigned long long)a->size,
                                a->hash, a->nc, a->session, a->blank, a->paired);
    return 0;
}

TEST(artifacts_listed_and_paired)
{
    clean();
    put("i-0a_pid_12/171_instid_0_vnc_3.ntff", 10, 'x');
    put("i-0a_pid_12/neff_ab.neff", 10, 'x');
    put("i-0a_pid_12/neff_cd.neff", 10, 'x');
    put("i-0a_pid_12/ntrace.pb", 0, 'x');
    put("i-0a_pid_12/1776672348756756905/profile_nc_1_session_2.ntff", 200, 0);
    put("i-0a_pid_12/1776672348756756905/neffs/graph_ef01.neff", 10, 'x');
    put("i-0a_pid_12/1776672348756756905/notes.txt", 10, 'x');
    put("i-0a_pid_12/1776672348756756905/ab_instid_0_vnc_1.ntff", 10, 'x');
    put("i-0a_pid_12/1776672348756756905/neff_ab_vnc_0.neff", 10, 'x');
    put("model_1_pid_2_vnc_7_inst_0_20260101_000000.ntff", 10, 'x');
    put("neuron_framework_trace_rank_3.json", 10, 'x');
    memset(&heard_last, 0, sizeof heard_last);
    CHECK_EQUAL(prof_ntff_list(trace_path("neuron"), list_line, &heard_last), PROF_OK);
    CHECK_TEXT(
        heard_last.text,
        "model_1_pid_2_vnc_7_inst_0_20260101_000000.ntff kind 0 size 10 hash  nc 7 session -1 blank 0 paired 0\n"
        "neuron_framework_trace_rank_3.json kind 7 size 10 hash  nc -1 session -1 blank 0 paired 0\n"
        "i-0a_pid_12/171_instid_0_vnc_3.ntff kind 0 size 10 hash 171 nc 3 session -1 blank 0 paired 2\n"
        "i-0a_pid_12/neff_ab.neff kind 1 size 10 hash ab nc -1 session -1 blank 0 paired 2\n"
        "i-0a_pid_12/neff_cd.neff kind 1 size 10 hash cd nc -1 session -1 blank 0 paired 0\n"
        "i-0a_pid_12/ntrace.pb kind 2 size 0 hash  nc -1 session -1 blank 0 paired 0\n"
        "i-0a_pid_12/1776672348756756905/ab_instid_0_vnc_1.ntff kind 0 size 10 hash ab nc 1 session -1 blank 0 paired "
        "2\n"
        "i-0a_pid_12/1776672348756756905/neff_ab_vnc_0.neff kind 1 size 10 hash ab nc 0 session -1 blank 0 paired 3\n"
        "i-0a_pid_12/1776672348756756905/profile_nc_1_session_2.ntff kind 0 size 200 hash  nc 1 session 2 blank 1 "
        "paired 2\n"
        "i-0a_pid_12/1776672348756756905/neffs/graph_ef01.neff kind 1 size 10 hash ef01 nc -1 session -1 blank 0 "
        "paired 1\n");
    const char *name = trace_path("neuron/profile_nc_9_session_1.ntff");
    struct sockaddr_un address; /* a socket is no file */
    int socket_of_it = socket(AF_UNIX, SOCK_STREAM, 0);
    memset(&address, 0, sizeof address);
    address.sun_family = AF_UNIX;
    snprintf(address.sun_path, sizeof address.sun_path, "%s", name);
    CHECK(!bind(socket_of_it, (const struct sockaddr *)(const void *)&address, sizeof address));
    close(socket_of_it);
    size_t used = heard_last.used;
    heard_last.used = 0;
    CHECK_EQUAL(prof_ntff_list(trace_path("neuron"), list_line, &heard_last), PROF_OK);
    CHECK_EQUAL(heard_last.used, used);
    CHECK_EQUAL(prof_ntff_list("/nowhere at all", list_line, &heard_last), PROF_IO);
    CHECK_EQUAL(prof_ntff_list(NULL, list_line, &heard_last), PROF_INVALID_ARGUMENT);
}

static void hear_word(void *user, prof_ntff_word word, const char *text)
{
    heard *h = (heard *)user;
    h->used += (size_t)snprintf(h->text + h->used, sizeof h->text - h->used, "%d %s\n", (int)word, text);
}

/* Not nothing, but what nobody knows: here because there are no more files that may be open, for root reads every folder. */
TEST(folders_that_cannot_be_read)
{
    struct rlimit limit, few;
    int problems = 0, next = dup(0);
    clean();
    put("i-0a_pid_12/trace_info.pb", 10, 'x');
    memset(&heard_last, 0, sizeof heard_last);
    CHECK(next >= 0);
    CHECK(!getrlimit(RLIMIT_NOFILE, &limit));
    close(next);
    few = limit;
    few.rlim_cur = (rlim_t)next + 1;
    CHECK(!setrlimit(RLIMIT_NOFILE, &few));
    CHECK_EQUAL(prof_ntff_check(trace_path("neuron"), hear_word, &heard_last, &problems), PROF_OK);
    CHECK(!setrlimit(RLIMIT_NOFILE, &limit));
    CHECK_EQUAL(problems, 1);
    CHECK(strstr(heard_last.text, "neuron/i-0a_pid_12: cannot be read\n2 its files were not checked") != NULL);
    CHECK(strstr(heard_last.text, "nothing was captured") == NULL);
}

TEST(the_newest_session)
{
    char folder[512], small[8];
    const char *root = trace_path("neuron");
    clean();
    put("x.txt", 1, 'x');
    CHECK_EQUAL(prof_ntff_find_session(root, 12, 0, folder, sizeof folder), PROF_INVALID_STATE);
    CHECK_TEXT(folder, "");
    put("i-0a_pid_12/1776672348756756905/trace_info.pb", 5, 'x');
    put("i-0a_pid_12/1776672348756756907/ntrace.pb", 5, 'x'); /* newer, but not complete */
    put("i-0a_pid_12/1776672348756756906/trace_info.pb", 5, 'x');
    put("i-0a_pid_12/neffs/trace_info.pb", 5, 'x');
    put("i-0a_pid_12/20260818123456/trace_info.pb", 5, 'x'); /* by a date, which is no Unix time */
    put("i-0a_pid_112/1776672348756756999/trace_info.pb", 5, 'x');
    put("i-0b-13/trace_info.pb", 5, 'x');
    CHECK_EQUAL(prof_ntff_find_session(root, 12, 0, folder, sizeof folder), PROF_OK);
    CHECK_TEXT(folder + strlen(root), "/i-0a_pid_12/1776672348756756906");
    CHECK_EQUAL(prof_ntff_find_session(root, 12, 1776672349000000000u, folder, sizeof folder), PROF_OK);
    CHECK_EQUAL(prof_ntff_find_session(root, 12, 1776672349000000000u + 2000000000u, folder, sizeof folder), PROF_OK);
    CHECK_TEXT(folder + strlen(root), "/i-0a_pid_12"); /* changed today, the clocks of files say */
    put("i-0c_pid_14/1776672348/trace_info.pb", 5, 'x'); /* in s, ms and us, the newest in the middle */
    put("i-0c_pid_14/1776672348901/trace_info.pb", 5, 'x');
    put("i-0c_pid_14/1776672348756756/trace_info.pb", 5, 'x');
    CHECK_EQUAL(prof_ntff_find_session(root, 14, 0, folder, sizeof folder), PROF_OK);
    CHECK_TEXT(folder + strlen(root), "/i-0c_pid_14/1776672348901");
    CHECK_EQUAL(prof_ntff_find_session(root, 12, 9000000000000000000u, folder, sizeof folder), PROF_INVALID_STATE);
    CHECK_EQUAL(prof_ntff_find_session(root, 13, 0, folder, sizeof folder), PROF_OK);
    CHECK_TEXT(folder + strlen(root), "/i-0b-13");
    CHECK_EQUAL(prof_ntff_find_session(root, 2, 0, folder, sizeof folder), PROF_INVALID_STATE);
    CHECK_EQUAL(prof_ntff_find_session(root, 12, 0, small, sizeof small), PROF_INVALID_ARGUMENT);
    CHECK_EQUAL(prof_ntff_find_session("/nowhere at all", 12, 0, folder, sizeof folder), PROF_IO);
    /* without memory it does not find another one instead */
    prof_status status = PROF_NO_MEMORY;
    for (uint64_t n = 0; status == PROF_NO_MEMORY; ++n) {
        memory_left = n;
        status = prof_ntff_find_session(root, 12, 0, folder, sizeof folder);
        memory_left = UINT64_MAX;
        CHECK_TEXT(folder + (status ? 0 : strlen(root)), status ? "" : "/i-0a_pid_12/1776672348756756906");
        CHECK(status || n > 5);
    }
    CHECK_EQUAL(status, PROF_OK);
}

TEST_MAIN
