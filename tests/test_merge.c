/* Recordings of two processes that use the same names, ids, handles and addresses, as one file and as several reports:
   what belongs to one is never joined with what belongs to the other. */
/* run: traces */
#include "../prof_chrome.h"
#include "../prof_report.h"
#include "test.h"
#include "trace.h"
#include "json.h"
#include <sys/wait.h>
#include <unistd.h>

enum { PROCESSES = 2 };

typedef struct handles {
    prof_domain *domain;
    prof_task *task;
    prof_frame *frame;
    prof_counter *counter;
} handles;

/* All that process `which` records; the blocks of memory are the same addresses in both. */
static void record(const handles *all, int which)
{
    char *block = (char *)(uintptr_t)0x1000;
    int lock;
    PROFILE_THREAD("main");
    {
        PROFILE_SCOPE("around");
        prof_task_start(all->task); /* made before fork(): its id is the same in both */
        PROFILE_SPAN_BEGIN("request", 7);
        PROFILE_SPAN_MARK("request", 7);
        if (which == 0) PROFILE_SPAN_BEGIN("half", 1); /* as if the other had ended it */
        if (which == 1) PROFILE_SPAN_END("half", 1);
        PROFILE_FLOW_OUT(5);
        if (which == 0) PROFILE_FLOW_OUT_SHARED(77);
        if (which == 1) PROFILE_FLOW_IN_SHARED(77);
        PROFILE_LOG(PROF_LOG_WARNING, "message %d", which);
        PROFILE_ALLOC_POOL(block, 100 * (which + 1), "pool");
        trace_next_instant(); /* samples of one instant are one, and frames of 0 ns are left out */
        if (which == 1) PROFILE_FREE_POOL(block, "pool");
        prof_counter_set(all->counter, 10 * (which + 1));
        prof_counter_add(all->counter, 1);
        PROFILE_LOCK_ACQUIRE(&lock, "lock");
        PROFILE_LOCK_RELEASE(&lock, "lock");
        prof_frame_start(all->frame);
        trace_next_instant();
        PROFILE_SPAN_END("request", 7);
        prof_task_stop(all->task);
    }
    {
        PROFILE_SCOPE("behind");
        PROFILE_FLOW_IN(5);
    }
    prof_frame_stop(all->frame);
}

static const char *path_of(int which) { return trace_path(which ? "merge.b.prof" : "merge.a.prof"); }

/* Both at the same time. */
static void record_processes(prof_trace **traces)
{
    pid_t children[PROCESSES];
    handles all;
    all.domain = prof_domain_create("merge");
    all.task = prof_task_create(all.domain, "task");
    all.frame = prof_frame_create(all.domain, "frame");
    all.counter = prof_counter_create(all.domain, "counter");
    for (int i = 0; i < PROCESSES; ++i) {
        children[i] = fork();
        if (children[i]) continue;
        prof_config config = trace_config(1u << 20);
        config.output = path_of(i);
        if (prof_start(&config)) _exit(1);
        record(&all, i);
        _exit(prof_stop() != PROF_OK);
    }
    for (int i = 0; i < PROCESSES; ++i) {
        int status = -1;
        CHECK_EQUAL(waitpid(children[i], &status, 0), children[i]);
        CHECK_EQUAL(status, 0);
        traces[i] = trace_open_file(path_of(i));
        CHECK_EQUAL(prof_trace_about(traces[i])->pid, (uint64_t)children[i]);
    }
    prof_task_destroy(all.task);
    prof_frame_destroy(all.frame);
    prof_counter_destroy(all.counter);
}

static void close_processes(prof_trace **traces)
{
    for (int i = 0; i < PROCESSES; ++i) prof_trace_close(traces[i]);
}

/* One process with a device: arrows from its thread to a kernel, and from thread to thread after that. */
static prof_trace *record_with_device(int which)
{
    pid_t child = fork();
    int status = -1;
    if (!child) {
        prof_config config = trace_config(1u << 20);
        prof_device *device;
        prof_device_row *row;
        prof_device_event event;
        uint64_t now;
        config.output = path_of(which);
        if (prof_start(&config)) _exit(1);
        device = prof_device_create("gpu 0", NULL);
        row = prof_device_row_create(device, "compute");
        now = prof_host_ns();
        prof_device_sync(device, now, now);
        for (uint64_t i = 1; i <= 20; ++i) {
            PROFILE_SCOPE("submit");
            PROFILE_FLOW_OUT(i);
            if (i % 2) {
                pause_ms(1); /* in emulation the clocks agree no better than to microseconds */
                memset(&event, 0, sizeof event);
                event.type = PROF_EVENT_SCOPE;
                event.name = "kernel";
                event.start = prof_host_ns();
                event.end = event.start + 100;
                event.flow = i;
                prof_device_record(row, &event);
            } else {
                PROFILE_FLOW_IN(i);
            }
        }
        now = prof_host_ns();
        prof_device_sync(device, now, now);
        _exit(prof_stop() != PROF_OK);
    }
    CHECK_EQUAL(waitpid(child, &status, 0), child);
    CHECK_EQUAL(status, 0);
    return trace_open_file(path_of(which));
}

/*-- one file --*/

static json *merged(prof_trace **traces)
{
    const char *path = trace_path("merge.json");
    size_t size = 0;
    CHECK_EQUAL(prof_chrome_merge((const prof_trace *const *)traces, PROCESSES, path, NULL), PROF_OK);
    char *text = trace_file_text(path, &size);
    json *root = text ? json_parse(text, size) : NULL;
    free(text);
    CHECK(root != NULL);
    return root;
}

static const json *events_of(const json *root)
{
    const json *list = member(root, "traceEvents");
    return list ? list->child : NULL;
}

/* The nth event of this phase and name of a process; null if there are not as many. */
static const json *event_of(const json *root, uint64_t pid, const char *phase, const char *name, int nth)
{
    for (const json *e = events_of(root); e; e = e->next)
        if (!strcmp(text_of(e, "ph"), phase) && !strcmp(text_of(e, "name"), name) &&
            strtoull(text_of(e, "pid"), NULL, 10) == pid && !nth--)
            return e;
    return NULL;
}

static int events_count(const json *root, uint64_t pid, const char *phase, const char *name)
{
    int count = 0;
    while (event_of(root, pid, phase, name, count)) ++count;
    return count;
}

/* What viewers match by: of async events the id, whatever the process, unless it is a local one; of arrows name and
   id. */
static int matches(const json *a, const json *b)
{
    if (strcmp(text_of(a, "cat"), text_of(b, "cat"))) return 0;
    if (strchr("stf", *text_of(a, "ph")) && strcmp(text_of(a, "name"), text_of(b, "name"))) return 0;
    if (*text_of(a, "id")) return !strcmp(text_of(a, "id"), text_of(b, "id"));
    return *text_of(member(a, "id2"), "local") && !strcmp(text_of(a, "pid"), text_of(b, "pid")) &&
           !strcmp(text_of(member(a, "id2"), "local"), text_of(member(b, "id2"), "local"));
}

/* But for the flow whose id is made to be shared. */
TEST(nothing_is_joined)
{
    prof_trace *traces[PROCESSES];
    record_processes(traces);
    json *root = merged(traces);
    size_t compared = 0, shared = 0;
    for (const json *a = events_of(root); a; a = a->next) {
        if (!strchr("bnestf", *text_of(a, "ph"))) continue;
        for (const json *b = events_of(root); b; b = b->next) {
            if (a == b || !strchr("bnestf", *text_of(b, "ph")) || !matches(a, b)) continue;
            if (!strcmp(text_of(a, "id"), "0x4d")) { /* 77: of both */
                CHECK(strcmp(text_of(a, "pid"), text_of(b, "pid")) != 0);
                CHECK(strcmp(text_of(a, "ph"), text_of(b, "ph")) != 0);
                CHECK_TEXT(text_of(a, "name"), "flow");
                ++shared;
                continue;
            }
            CHECK_TEXT(text_of(a, "pid"), text_of(b, "pid"));
            CHECK_TEXT(text_of(a, "name"), text_of(b, "name"));
            ++compared;
        }
    }
    CHECK_EQUAL(shared, 2); /* an "s" and an "f", each compared with the other */
    CHECK_EQUAL(compared, PROCESSES * (2u + 6 + 2 + 2 + 2)); /* task, request with its mark, half, lock, flow */
    json_free(root);
    close_processes(traces);
}

TEST(every_arrow_has_both_ends)
{
    prof_trace *traces[PROCESSES] = {record_with_device(0), record_with_device(1)};
    json *root = merged(traces);
    int ends = 0, alone = 0;
    for (const json *a = events_of(root); a; a = a->next) {
        int partners = 0;
        if (!strchr("sf", *text_of(a, "ph"))) continue;
        for (const json *b = events_of(root); b; b = b->next)
            partners += strchr("sf", *text_of(b, "ph")) && strcmp(text_of(a, "ph"), text_of(b, "ph")) && matches(a, b);
        ends++;
        alone += partners != 1;
    }
    CHECK_EQUAL(ends, PROCESSES * 40);
    CHECK_EQUAL(alone, 0);
    json_free(root);
    close_processes(traces);
}

TEST(processes_have_names_of_their_own)
{
    prof_trace *traces[PROCESSES];
    char want[PROCESSES][64];
    record_processes(traces);
    json *root = merged(traces);
    for (int i = 0; i < PROCESSES; ++i) {
        uint64_t pid = prof_trace_about(traces[i])->pid;
        const json *e = event_of(root, pid, "M", "process_name", 0);
        snprintf(want[i], sizeof want[i], "%s (%lu)", prof_trace_about(traces[i])->program, (unsigned long)pid);
        CHECK_TEXT(text_of(member(e, "args"), "name"), want[i]);
    }
    json_free(root);
    close_processes(traces);
}

TEST(processes_are_named_by_rank_and_host)
{
    prof_trace *traces[PROCESSES];
    const char *const ranks[] = {"0", "11"};
    char host[64] = "", own[96];
    for (int i = 0; i < PROCESSES; ++i) {
        prof_config config = trace_config(1u << 20);
        CHECK_EQUAL(prof_config_set(&config, "rank", ranks[i]), PROF_OK);
        if (!i) prof_set_metadata("host", "node-7"); /* the other has the machine's name by itself */
        if (i) prof_set_metadata("role", "reader \"2\"");
        CHECK_EQUAL(prof_start(&config), PROF_OK);
        { PROFILE_SCOPE("all"); }
        CHECK_EQUAL(prof_stop(), PROF_OK);
        CHECK_EQUAL(prof_trace_open_live(&traces[i]), PROF_OK);
        prof_clear_metadata();
    }
    gethostname(host, sizeof host - 1);
    snprintf(own, sizeof own, " reader \"2\" (rank 11, %s)", *host ? host : "host");
    json *root = merged(traces);
    int found = 0;
    for (const json *e = events_of(root); e; e = e->next) {
        const char *name = text_of(member(e, "args"), "name");
        if (strcmp(text_of(e, "name"), "process_name")) continue;
        CHECK(found || !strcmp(name + strcspn(name, " "), " (rank 0, node-7)"));
        CHECK(strstr(name, found ? own : prof_trace_about(traces[0])->program) != NULL);
        ++found;
    }
    CHECK_EQUAL(found, PROCESSES);
    json_free(root);
    close_processes(traces);
}

TEST(one_file)
{
    prof_trace *traces[PROCESSES];
    record_processes(traces);
    json *root = merged(traces);
    for (int i = 0; i < PROCESSES; ++i) {
        uint64_t pid = prof_trace_about(traces[i])->pid;
        char name[64];
        const json *e = event_of(root, pid, "b", "request", 0);
        CHECK_TEXT(text_of(member(e, "args"), "id"), "0x7");
        CHECK_EQUAL(events_count(root, pid, "b", "request"), 1);
        CHECK_EQUAL(events_count(root, pid, "n", "request"), 1);
        CHECK_EQUAL(events_count(root, pid, "e", "request"), 1);
        CHECK_EQUAL(events_count(root, pid, "b", "task"), 1);
        CHECK_EQUAL(events_count(root, pid, "e", "task"), 1);
        e = event_of(root, pid, "b", "half", 0);
        CHECK_TEXT(text_of(member(e, "args"), "truncated"), i ? "begin" : "end");
        CHECK_EQUAL(events_count(root, pid, "e", "half"), 1);
        snprintf(name, sizeof name, "flow of %lu", (unsigned long)pid);
        CHECK_EQUAL(events_count(root, pid, "s", name), 1);
        CHECK_EQUAL(events_count(root, pid, "f", name), 1);
        snprintf(name, sizeof name, "message %d", i);
        CHECK_EQUAL(events_count(root, pid, "i", name), 1);
        CHECK_TEXT(text_of(member(event_of(root, pid, "C", "counter", 0), "args"), ""), i ? "20" : "10");
        CHECK_TEXT(text_of(member(event_of(root, pid, "C", "counter", 1), "args"), ""), i ? "21" : "11");
        e = event_of(root, pid, "C", "memory: pool", 0);
        CHECK_TEXT(text_of(member(e, "args"), ""), i ? "200" : "100");
        CHECK_EQUAL(events_count(root, pid, "C", "memory: pool"), 1 + i); /* only one of them frees its block */
        CHECK_EQUAL(events_count(root, pid, "b", "lock lock"), 1);
        CHECK_EQUAL(events_count(root, pid, "X", "frame"), 1);
        CHECK_EQUAL(events_count(root, pid, "X", "around"), 1);
    }
    json_free(root);
    close_processes(traces);
}

/* The same recording twice, which has one process id. */
TEST(twice_the_same)
{
    prof_trace *traces[PROCESSES];
    record_processes(traces);
    prof_trace_close(traces[1]);
    traces[1] = trace_open_file(path_of(0));
    json *root = merged(traces);
    const json *first = events_of(root);
    size_t spans = 0;
    for (const json *a = first; a; a = a->next) {
        if (strcmp(text_of(a, "ph"), "b")) continue;
        ++spans;
        for (const json *b = a->next; b; b = b->next)
            if (!strcmp(text_of(b, "ph"), "b")) CHECK(!matches(a, b));
    }
    CHECK_EQUAL(spans, PROCESSES * 4);
    json_free(root);
    close_processes(traces);
}

/*-- of each its own --*/

static size_t occurrences(const char *text, const char *what)
{
    size_t count = 0;
    for (; text && (text = strstr(text, what)); text += strlen(what)) ++count;
    return count;
}

TEST(each_alone)
{
    prof_trace *traces[PROCESSES];
    record_processes(traces);
    for (int i = 0; i < PROCESSES; ++i) {
        const char *path = trace_path("merge.csv");
        prof_memory_stats *memory = NULL;
        CHECK_EQUAL(prof_csv_write(traces[i], path), PROF_OK);
        char *text = trace_file_text(path, NULL);
        CHECK_EQUAL(occurrences(text, ",span_begin,request,"), 1);
        CHECK_EQUAL(occurrences(text, ",span_end,request,"), 1);
        CHECK_EQUAL(occurrences(text, ",span_begin,half,"), !i);
        CHECK_EQUAL(occurrences(text, ",span_end,half,"), i);
        CHECK_EQUAL(occurrences(text, ",flow_out,"), i ? 1 : 2);
        CHECK_EQUAL(occurrences(text, i ? ",message 1," : ",message 0,"), 1);
        CHECK_EQUAL(occurrences(text, i ? ",message 0," : ",message 1,"), 0);
        CHECK_EQUAL(occurrences(text, ",counter,counter,"), 2);
        free(text);
        CHECK_EQUAL(prof_memory(traces[i], &memory), PROF_OK);
        CHECK_EQUAL(memory->freed_unknown + memory->freed_twice + memory->not_freed, 0);
        CHECK_EQUAL(memory->count, 1);
        CHECK_EQUAL(memory->pools[0].live_bytes, i ? 0 : 100);
        prof_memory_free(memory);
    }
    close_processes(traces);
}

TEST(summaries)
{
    static const char *const halves[] = {"1 span began, but with no end: counted, but in no time\n",
                                         "1 span ended, but with no begin: counted, but in no time\n"};
    prof_trace *traces[PROCESSES];
    const char *path = trace_path("merge.txt");
    record_processes(traces);
    CHECK_EQUAL(prof_report_each((const prof_trace *const *)traces, PROCESSES, path, NULL), PROF_OK);
    char *text = trace_file_text(path, NULL);
    char *second = text ? strstr(text + 1, "\n== ") : NULL;
    CHECK(second != NULL);
    for (int i = 0; second && i < PROCESSES; ++i) {
        const char *part = i ? second + 1 : text;
        char wanted[64];
        if (!i) *second = 0;
        snprintf(wanted, sizeof wanted, ", process %lu ==\n", (unsigned long)prof_trace_about(traces[i])->pid);
        CHECK_EQUAL(occurrences(part, wanted), 1);
        CHECK_EQUAL(occurrences(part, halves[i]), 1);
        CHECK_EQUAL(occurrences(part, halves[!i]), 0);
        CHECK_EQUAL(occurrences(part, "1 warning\n"), 1);
        CHECK_EQUAL(occurrences(part, i ? "            20          20.5            21            21\n"
                                        : "            10          10.5            11            11\n"), 1);
        if (!i) *second = '\n';
    }
    free(text);
    close_processes(traces);
}

TEST_MAIN
