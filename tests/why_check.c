/* why_check.c - compares what prof why says, as JSON, with the truth that why_program measured: tests/test_why.sh.

     why_check TRACE.prof WHY.json KIND

   All sums are exact. For 95 % of the calls, each share is within 5 % of the call or 100 us of the truth. A thread that
   has been woken counts as waiting until it runs; the truth counts that as ready. So where threads wait, less may be
   ready, and as much more waiting. A call whose own measurement was interrupted, which its length shows, has no truth. */
#define PROF_IMPLEMENTATION
#include "../prof_read.h"
#include "test.h"
#include "json.h"

static uint64_t number(const json *object, const char *key)
{
    const json *value = member(object, key);
    return value && value->type == '0' ? strtoull(value->text, NULL, 10) : ~(uint64_t)0;
}

static uint64_t sum(const json *list, const char *key)
{
    uint64_t all = 0;
    for (const json *each = list ? list->child : NULL; each; each = each->next) all += number(each, key);
    return all;
}

typedef struct truth {
    uint64_t wall, running, ready, waiting;
    int known;
} truth;

/* Finds the call that began at a time, and what it has measured. */
static truth truth_at(const prof_trace *trace, uint64_t start_ns)
{
    truth found = {0, 0, 0, 0, 0};
    prof_timeline *timeline;
    prof_event event;
    if (prof_timeline_open(trace, &timeline)) return found;
    while (!found.known && prof_timeline_next(timeline, &event, NULL)) {
        if (event.type != PROF_EVENT_SCOPE || strcmp(event.name, "call") || (uint64_t)event.start_ns != start_ns) continue;
        for (uint32_t i = 0; i < event.arg_count; ++i) {
            uint64_t value = event.args[i].value.as.u;
            if (!strcmp(event.args[i].key, "true_wall")) found.wall = value;
            if (!strcmp(event.args[i].key, "true_running")) found.running = value;
            if (!strcmp(event.args[i].key, "true_ready")) found.ready = value;
            if (!strcmp(event.args[i].key, "true_waiting")) found.waiting = value;
        }
        found.known = event.arg_count == 4;
    }
    prof_timeline_close(timeline);
    return found;
}

static int near(uint64_t value, uint64_t wanted, uint64_t room) { return value <= wanted + room && wanted <= value + room; }

static int fits(const json *call, const truth *t, int waits)
{
    uint64_t wall = number(call, "wall_ns"), room = wall / 20 > 100000 ? wall / 20 : 100000;
    uint64_t ready = number(call, "ready_ns"), waiting = number(call, "waiting_ns");
    if (!near(number(call, "running_ns"), t->running, room) || number(call, "unknown_ns") > room) return 0;
    if (!waits) return near(ready, t->ready, room) && near(waiting, t->waiting, room);
    return ready <= t->ready + room && t->waiting <= waiting + room && near(ready + waiting, t->ready + t->waiting, room);
}

/* Returns 1 if the longest wait of a call is what the program waited for; it may not have had to wait for the lock. */
static int explained(const json *call, const truth *t, const char *kind)
{
    const json *wait = member(call, "waits") ? member(call, "waits")->child : NULL;
    if ((strcmp(kind, "lock") && strcmp(kind, "sleep")) || t->waiting < 100000) return 1;
    if (!wait || !text_of(wait, "kind") || strcmp(text_of(wait, "kind"), kind)) return 0;
    if (!strcmp(kind, "sleep")) return !strcmp(text_of(wait, "scope"), "rest");
    return text_of(wait, "holder_thread") && !strcmp(text_of(wait, "holder_thread"), "worker") &&
           text_of(wait, "holder_scope") && !strcmp(text_of(wait, "holder_scope"), "save") &&
           !strncmp(text_of(wait, "object"), "0x", 2);
}

/* Returns 1 if a thread of this name ran while the call could have. */
static int instead(const json *call, const char *thread)
{
    const json *each = member(call, "ran_instead") ? member(call, "ran_instead")->child : NULL;
    while (each && strcmp(text_of(each, "thread"), thread)) each = each->next;
    return each != NULL;
}

static char *read_whole(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    char *text = (char *)malloc(1 << 20);
    *size = file && text ? fread(text, 1, 1 << 20, file) : 0;
    if (file) fclose(file);
    return text;
}

int main(int argc, char **argv)
{
    prof_trace *trace = NULL;
    size_t size, all = 0, count = 0, good = 0, named = 0, exact = 0, hogged = 0;
    char *text = argc == 4 ? read_whole(argv[2], &size) : NULL;
    json *root = text ? json_parse(text, size) : NULL;
    if (!root || prof_trace_open(argv[1], &trace)) {
        printf("%s or %s cannot be read: %s\n", argv[1], argv[2], prof_error());
        return 2;
    }
    for (const json *call = member(root, "calls") ? member(root, "calls")->child : NULL; call; call = call->next) {
        truth t = truth_at(trace, number(call, "start_ns"));
        uint64_t wall = number(call, "wall_ns"), waiting = number(call, "waiting_ns");
        int whole = number(call, "running_ns") + number(call, "ready_ns") + waiting + number(call, "unknown_ns") == wall &&
                    sum(member(call, "waits"), "ns") == waiting && sum(member(call, "inner"), "self_ns") == wall &&
                    sum(member(call, "ran_instead"), "ns") <= number(call, "ready_ns");
        int fit = fits(call, &t, !strcmp(argv[3], "lock") || !strcmp(argv[3], "sleep"));
        all++;
        exact += (size_t)whole;
        hogged += (size_t)instead(call, "hog");
        if (!t.known || !near(t.wall, wall, 50000)) continue;
        count++;
        good += (size_t)fit;
        named += (size_t)explained(call, &t, argv[3]);
        if (fit && whole && explained(call, &t, argv[3])) continue;
        printf("%s %llu: wall %llu, running %s of %llu, ready %s of %llu, waiting %s of %llu%s%s\n", argv[3],
               (unsigned long long)number(call, "start_ns"), (unsigned long long)wall, text_of(call, "running_ns"),
               (unsigned long long)t.running, text_of(call, "ready_ns"), (unsigned long long)t.ready,
               text_of(call, "waiting_ns"), (unsigned long long)t.waiting, whole ? "" : ", sums are wrong",
               explained(call, &t, argv[3]) ? "" : ", the longest wait is another");
    }
    printf("%zu calls, of which %zu have a truth: %zu fit, %zu name what they waited for\n", all, count, good, named);
    if (!strcmp(argv[3], "preempted") && !hogged) printf("no call says who ran instead\n"), good = 0;
    json_free(root);
    free(text);
    prof_trace_close(trace);
    return count * 2 >= all && all && exact == all && good * 100 >= count * 95 && named * 100 >= count * 95 ? 0 : 1;
}
