/* why.c - prof why: says why a call of a scope, or a frame, took as long as it did. */
#include "why.h"
#include "symbols.h"
#include <float.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const tool_option options[] = {
    {"--scope", "-s", "NAME", "the scopes or frames with this name; default: see below"},
    {"--slowest", "-n", "N", "the N slowest calls of it; default: 1"},
    {"--frame", NULL, "N", "frame N; frames are numbered from 1 on"},
    {"--step", NULL, "N", "the step with the number N: that of PROFILE_STEP()"},
    {"--at", NULL, "TIME", "the call that was going on at this time: 1.5s, 20ms; -2s: 2 s before the end"},
    {"--format", "-f", "KIND", "text (default) or json"},
    TOOL_SYMBOLS,
    TOOL_COLUMNS,
    TOOL_PROGRESS,
    {NULL, NULL, NULL, NULL}};

static const char *const formats[] = {"text", "json", NULL};

#define LEAST_SHARE 0.01 /* of the wall time: what is less is not printed on a line of its own */
#define MOST_ROWS 10
#define FEW_SAMPLES 5 /* of fewer, a share says little */

/*-- sampled functions --*/

/* A function in which samples of a call are. */
typedef struct hot_function {
    const symbols_function *about;
    uint64_t samples;
} hot_function;

typedef struct hot_list {
    hot_function *items; /* those with the most samples first */
    size_t count;
    uint64_t samples;
    uint64_t period; /* ns that a sample stands for */
    uint64_t most;   /* ns: they are of no more than this */
} hot_list;

/* Returns the part of a call in which its samples are: running, if that is known. Its greater part, if only a part of
   the states is known. */
static uint64_t hot_part(const prof_why_call *call)
{
    return call->split.running_ns >= call->split.unknown_ns ? call->split.running_ns : call->split.unknown_ns;
}

/* Returns the time of a function: that for which its samples stand or, if all of them stand for more than the call ran,
   its share of that. */
static uint64_t hot_ns(const hot_list *list, const hot_function *function)
{
    if (list->samples * list->period <= list->most) return function->samples * list->period;
    return (uint64_t)((double)list->most * (double)function->samples / (double)list->samples);
}

/* Returns the samples of a call, and sets *count to their number. */
static const prof_sample *samples_of(const prof_trace *trace, const prof_why_call *call, size_t *count)
{
    size_t all, first = 0, end;
    const prof_sample *samples = prof_track_samples(trace, call->track, &all);
    while (first < all && samples[first].time_ns < call->start_ns) first++;
    for (end = first; end < all && samples[end].time_ns - call->start_ns < (int64_t)call->split.wall_ns;) end++;
    *count = end - first;
    return all ? samples + first : samples;
}

static int hot_order(const void *left, const void *right)
{
    const hot_function *a = (const hot_function *)left, *b = (const hot_function *)right;
    if (a->samples != b->samples) return a->samples > b->samples ? -1 : 1;
    return strcmp(a->about->name, b->about->name);
}

/* Counts the samples of a call by the function that ran. Returns 0 without memory. */
static int find_hot(const prof_trace *trace, const prof_why_call *call, symbols *names, hot_list *list)
{
    size_t count, i, k;
    const prof_sample *samples = samples_of(trace, call, &count);
    list->count = 0;
    list->samples = count;
    list->most = hot_part(call);
    list->period = prof_trace_about(trace)->sample_period_ns;
    list->items = (hot_function *)calloc(count + 1, sizeof *list->items);
    for (i = 0; list->items && i < count; i++) {
        size_t place = symbols_add(names, samples[i].frames[0], samples[i].time_ns, 0);
        const symbols_function *function;
        if (place == SYMBOLS_NONE) return 0;
        function = symbols_function_at(names, symbols_at(names, place)->function);
        for (k = 0; k < list->count && list->items[k].about != function;) k++;
        list->items[k].about = function;
        list->items[k].samples++;
        if (k == list->count) list->count++;
    }
    if (list->count) qsort(list->items, list->count, sizeof *list->items, hot_order);
    return list->items != NULL;
}

/* Finds the functions of all samples of the calls. Returns NULL, with a message, without memory. */
static symbols *find_symbols(const prof_trace *trace, const prof_why_report *report, const char *folder)
{
    symbols *names = symbols_open(trace, folder);
    int good = names != NULL;
    size_t i, k, count;
    for (i = 0; good && i < report->count; i++) {
        const prof_sample *samples = samples_of(trace, &report->calls[i], &count);
        for (k = 0; good && k < count; k++)
            good = symbols_add(names, samples[k].frames[0], samples[k].time_ns, 0) != SYMBOLS_NONE;
    }
    if (good && symbols_resolve(names)) return names;
    tool_fail("out of memory");
    symbols_close(names);
    return NULL;
}

/*-- names --*/

const char *why_thread(const prof_trace *trace, size_t track, uint64_t id, char *to, size_t size)
{
    const prof_track *about = track == PROF_NO_TRACK ? NULL : prof_trace_track(trace, track);
    if (about && *about->name)
        snprintf(to, size, "%s", about->name);
    else
        snprintf(to, size, "%llu", (unsigned long long)(about ? about->thread_id : id));
    return to;
}

void why_add(char *to, size_t size, const char *format, ...)
{
    size_t used = strlen(to);
    va_list list;
    va_start(list, format);
    vsnprintf(to + used, size - used, format, list);
    va_end(list);
}

/* Writes what a wait was for: "textures", "0x7f12", "fd 3", "3 fds"; "": nothing that has a name. */
static const char *object_name(const prof_why_wait *wait, char *to, size_t size)
{
    *to = 0;
    if (*wait->name)
        why_add(to, size, "%s", wait->name);
    else if (tool_same(wait->what, "fds"))
        why_add(to, size, "%lld fds", (long long)wait->object);
    else if (tool_same(wait->what, "fd") || tool_same(wait->what, "pid"))
        why_add(to, size, "%s %lld", wait->what, (long long)wait->object);
    else if (*wait->what)
        why_add(to, size, "0x%llx", (unsigned long long)wait->object);
    return to;
}

static int is_finite(double value) { return value >= -DBL_MAX && value <= DBL_MAX; }

/*-- text --*/

void why_say(int indent, const char *format, ...)
{
    char text[2000];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    printf("%*s", indent, "");
    tool_print_wrapped(text, indent, indent + 4);
    putchar('\n');
}

const char *why_compared(char *to, size_t size, uint64_t ns, uint64_t median, const char *whose)
{
    char time[48], count[48];
    double times = median ? (double)ns / (double)median : 0;
    tool_ns(time, (double)median);
    if (times >= 1.15 && times < 10)
        snprintf(to, size, "%.1f times %s (%s)", times, whose, time);
    else if (times >= 10)
        snprintf(to, size, "%s times %s (%s)", tool_count(count, (uint64_t)(times + 0.5)), whose, time);
    else if (times > 0.85)
        snprintf(to, size, "about %s (%s)", whose, time);
    else
        snprintf(to, size, "%s is %s", whose, time);
    return to;
}

/* Returns how much a counter of prof_system.h rose; 0: it did not. */
static double risen(const prof_why_call *call, const char *name)
{
    size_t i;
    for (i = 0; i < call->counter_count; i++)
        if (tool_same(call->counters[i].name, name) && call->counters[i].last > call->counters[i].first)
            return call->counters[i].last - call->counters[i].first;
    return 0;
}

/* Writes for what a thread waited, as a part of a sentence. */
static void add_object(const prof_why_wait *wait, char *line, size_t size)
{
    char object[600];
    const char *kind = strstr(wait->call, "rwlock")  ? "read-write lock"
                       : strstr(wait->call, "mutex") ? "mutex"
                       : tool_same(wait->kind, "io") ? "" : wait->kind;
    object_name(wait, object, sizeof object);
    if (tool_same(wait->kind, "sleep"))
        why_add(line, size, "in a sleep");
    else if (tool_same(wait->kind, "fault"))
        why_add(line, size, "for %s %s, read from a disk", *wait->name ? "pages of" : "the page at", object);
    else if (tool_same(wait->kind, "thread") || tool_same(wait->kind, "process"))
        why_add(line, size, "for the end of %s %s", wait->kind, object);
    else
        why_add(line, size, "for %s%s%s", kind, *kind ? " " : "", object);
}

/* Writes who made it wait. */
static void add_other(const prof_trace *trace, const prof_why_wait *wait, char *line, size_t size)
{
    char thread[600];
    if (wait->holder || wait->holder_track != PROF_NO_TRACK)
        why_add(line, size, " held by thread %s%s%s",
                why_thread(trace, wait->holder_track, wait->holder, thread, sizeof thread),
            *wait->holder_scope ? " in scope " : "", wait->holder_scope);
    else if (wait->waker_track != PROF_NO_TRACK)
        why_add(line, size, ", until thread %s%s%s woke it",
                why_thread(trace, wait->waker_track, 0, thread, sizeof thread), *wait->waker_scope ? " in scope " : "",
            wait->waker_scope);
}

void why_wait(const prof_trace *trace, const prof_why_wait *wait, char *line, size_t size)
{
    char time[48], times[48];
    why_add(line, size, "waited %s ", tool_ns(time, (double)wait->ns));
    add_object(wait, line, size);
    add_other(trace, wait, line, size);
    int called = *wait->call && !tool_same(wait->kind, "fault");
    if (called) why_add(line, size, ", in %s()", wait->call);
    if (*wait->scope) why_add(line, size, "%s %s", called ? " of scope" : ", in scope", wait->scope);
    if (wait->count > 1) why_add(line, size, ", %s times", tool_count(times, wait->count));
}

/* Writes which device a thread waited for, as what it did meanwhile tells, if that was most of a wait that no record
   names. Returns 0 if no device was. */
static int add_device(const prof_trace *trace, const prof_why_call *call, const prof_why_wait *wait, char *line,
                      size_t size)
{
    const prof_why_device *first = NULL;
    const prof_track *track;
    uint64_t all = 0;
    char time[48];
    size_t i, shown = 0;
    if (!tool_same(wait->kind, "unknown")) return 0;
    for (i = 0; i < call->device_count; i++) {
        all += call->devices[i].waited_ns;
        if (!first || call->devices[i].waited_ns > first->waited_ns) first = &call->devices[i];
    }
    if (!first || all < wait->ns / 4 * 3 || !all) return 0;
    track = prof_trace_track(trace, first->track);
    why_add(line, size, "waited %s, as it seems for %s, %s:", tool_ns(time, (double)wait->ns), track->device,
            track->name);
    for (i = 0; i < call->device_count && shown < 3; i++) {
        const prof_why_device *did = &call->devices[i];
        if (did->track != first->track || (double)did->waited_ns < LEAST_SHARE * (double)wait->ns) continue;
        why_add(line, size, "%s %s %s", shown++ ? "," : "", did->name, tool_ns(time, (double)did->waited_ns));
    }
    return 1;
}

uint64_t why_devices(const prof_why_call *call)
{
    uint64_t all = 0;
    size_t i;
    for (i = 0; i < call->device_count; i++) all += call->devices[i].ns;
    return all;
}

/* Adds what devices did while it is not known whether the thread ran, if that may explain the time beyond the
   median. */
static void add_meanwhile(const prof_trace *trace, const prof_why_call *call, uint64_t extra, char *to, size_t size)
{
    const prof_why_device *did = call->devices;
    char time[48];
    if (call->split.unknown_ns < extra / 2 || why_devices(call) < extra / 2) return;
    why_add(to, size, "%smeanwhile %s did %s for %s", *to ? "; " : "", prof_trace_track(trace, did->track)->device,
            did->name, tool_ns(time, (double)did->ns));
}

/* Returns by how much the scopes of a name took longer than their median. */
static int64_t longer(const prof_why_inner *inner)
{
    uint64_t usual = inner->median_ns * (inner->calls ? inner->calls : 1);
    if (inner->count_all < 2) usual = 0; /* one alone is its own median */
    return (int64_t)inner->self_ns - (int64_t)usual;
}

/* Adds which of the scopes in a call made it longer, if one did. */
static void add_inner(const prof_why_call *call, uint64_t extra, char *to, size_t size)
{
    const prof_why_inner *most = NULL;
    char time[48], count[48], text[200];
    size_t i;
    for (i = 0; i < call->inner_count; i++)
        if (!most || longer(&call->inner[i]) > longer(most)) most = &call->inner[i];
    if (!most || longer(most) < (int64_t)(extra / 4) || longer(most) <= 0) return;
    why_add(to, size, "%s", *most->name ? most->name : "time outside of scopes");
    if (tool_same(most->name, call->name)) why_add(to, size, " itself");
    tool_ns(time, (double)most->self_ns);
    if (most->calls > 1)
        why_add(to, size, " took %s in %s calls", time, tool_count(count, most->calls));
    else if (most->count_all > 1)
        why_add(to, size, " took %s, %s", time,
                why_compared(text, sizeof text, most->self_ns, most->median_ns, "its median"));
    else
        why_add(to, size, " took %s", time);
}

const char *why_cause(const prof_trace *trace, const prof_why_report *report, const prof_why_call *call, char *to,
                      size_t size)
{
    uint64_t wall = call->split.wall_ns, extra = wall > report->median_ns ? wall - report->median_ns : 0;
    char time[48];
    *to = 0;
    if (extra * 20 < wall) return to; /* as long as it is as a rule */
    if (call->wait_count && call->waits[0].ns >= extra / 2 && add_device(trace, call, call->waits, to, size)) return to;
    if (call->wait_count && call->waits[0].ns >= extra / 2 && !tool_same(call->waits[0].kind, "unknown"))
        why_wait(trace, &call->waits[0], to, size);
    else if (call->split.ready_ns >= extra / 2)
        why_add(to, size, "was ready, and did not run, for %s", tool_ns(time, (double)call->split.ready_ns));
    else
        add_inner(call, extra, to, size);
    if (call->device_count) add_meanwhile(trace, call, extra, to, size);
    return to;
}

static void print_wait(const prof_trace *trace, const prof_why_call *call, const prof_why_wait *wait, int records)
{
    double faults = risen(call, "major page faults");
    char time[48], line[1900] = "";
    tool_ns(time, (double)wait->ns);
    if (add_device(trace, call, wait, line, sizeof line)) {
        why_say(16, "%s", line);
        return;
    }
    if (tool_same(wait->kind, "unknown")) {
        why_add(line, sizeof line, "waited %s for what no record names", time);
        if (faults > 0) why_add(line, sizeof line, "; the process had %.0f page faults that read a disk", faults);
        if (!records) why_add(line, sizeof line, "; PROF_WRAP_WAITS records what threads wait for");
        why_say(16, "%s", line);
        return;
    }
    why_wait(trace, wait, line, sizeof line);
    why_say(16, "%s", line);
}

static void print_ran(const prof_trace *trace, const prof_why_call *call)
{
    char time[48], thread[600];
    double stopped = risen(call, "cgroup throttled") * 1000; /* its unit is us */
    uint64_t ours = 0;
    size_t i;
    for (i = 0; i < call->ran_count; i++) {
        ours += call->ran_instead[i].ns;
        if ((double)call->ran_instead[i].ns < LEAST_SHARE * (double)call->split.wall_ns) continue;
        why_say(16, "thread %s ran on its processor for %s of that",
                why_thread(trace, call->ran_instead[i].track, 0, thread, sizeof thread),
            tool_ns(time, (double)call->ran_instead[i].ns));
    }
    ours = call->split.ready_ns > ours ? call->split.ready_ns - ours : 0; /* what is left is not ours */
    if (stopped > 0)
        why_say(16, "its cgroup had used up its quota, and was throttled for %s between the samples around the call",
                tool_ns(time, stopped));
    if ((double)ours - stopped >= LEAST_SHARE * (double)call->split.wall_ns)
        why_say(16, "programs, or threads that recorded nothing, ran for %s%s", tool_ns(time, (double)ours - stopped),
                stopped > 0 ? "" : "; or the quota of its cgroup was used up");
}

/* The four parts of a call, the greatest first. */
typedef struct part {
    uint64_t ns;
    int which;
} part;
enum { RUNNING, READY, WAITING, UNKNOWN, PARTS };

static void print_hot(const prof_why_call *call, const hot_list *hot)
{
    char time[48], few[80] = "";
    size_t i;
    if (hot->samples < FEW_SAMPLES)
        snprintf(few, sizeof few, ", by only %llu sample%s", (unsigned long long)hot->samples,
                 hot->samples == 1 ? "" : "s");
    for (i = 0; i < hot->count && i < MOST_ROWS; i++) {
        const symbols_function *about = hot->items[i].about;
        char place[960] = "";
        uint64_t ns = hot_ns(hot, &hot->items[i]);
        if (i && (double)ns < LEAST_SHARE * (double)call->split.wall_ns) return;
        if (about->file && about->line)
            snprintf(place, sizeof place, " (%.900s:%lu)", about->file, (unsigned long)about->line);
        why_say(16, "about %s of that in %s%s%s", tool_ns(time, (double)ns), about->name, place, i ? "" : few);
    }
}

static void print_part(const prof_trace *trace, const prof_why_report *report, const prof_why_call *call,
                       const hot_list *hot, const part *p)
{
    static const char *const names[] = {"running", "ready, but not running", "waiting", "unknown"};
    char time[48], count[48];
    const char *about = "";
    uint64_t rest = 0;
    size_t i;
    if (p->which == UNKNOWN)
        about = call->states ? ": what the system did was not recorded then" : ": running or not was not recorded";
    printf("%12s %5.1f %%  %s%s\n", tool_ns(time, (double)p->ns),
           call->split.wall_ns ? 100.0 * (double)p->ns / (double)call->split.wall_ns : 0.0, names[p->which], about);
    if (p->which == (hot_part(call) == call->split.running_ns ? RUNNING : UNKNOWN)) print_hot(call, hot);
    if (p->which == READY) print_ran(trace, call);
    if (p->which == WAITING && (double)call->split.woken_ns >= LEAST_SHARE * (double)call->split.wall_ns)
        why_say(16, "up to %s of that it may have been ready, after it was woken: of which wait is not known",
                tool_ns(time, (double)call->split.woken_ns));
    for (i = 0; p->which == WAITING && i < call->wait_count; i++) {
        if (i < MOST_ROWS) {
            print_wait(trace, call, &call->waits[i], report->waits);
            continue;
        }
        for (rest += call->waits[i].ns; ++i < call->wait_count;) rest += call->waits[i].ns;
        why_say(16, "waited %s for %s others", tool_ns(time, (double)rest),
                tool_count(count, call->wait_count - MOST_ROWS));
    }
}

static void print_parts(const prof_trace *trace, const prof_why_report *report, const prof_why_call *call,
                        const hot_list *hot)
{
    part parts[PARTS], swap;
    const char *key, *value;
    size_t i, k;
    parts[RUNNING].ns = call->split.running_ns;
    parts[READY].ns = call->split.ready_ns;
    parts[WAITING].ns = call->split.waiting_ns;
    parts[UNKNOWN].ns = call->split.unknown_ns;
    for (i = 0; i < PARTS; i++) parts[i].which = (int)i;
    for (i = 1; i < PARTS; i++)
        for (k = i; k && parts[k].ns > parts[k - 1].ns; k--) {
            swap = parts[k];
            parts[k] = parts[k - 1];
            parts[k - 1] = swap;
        }
    for (i = 0; i < PARTS; i++)
        if (parts[i].ns) print_part(trace, report, call, hot, &parts[i]);
    for (i = 0; !call->states && prof_trace_metadata(trace, i, &key, &value); i++)
        if (tool_same(key, "switches")) {
            why_say(2, "switches: %s", value);
            return;
        }
    if (!call->states) why_say(2, "prof_system.h with PROF_SWITCHES=1 records when threads run and wait (Linux).");
}

static void print_inner_row(const prof_why_call *call, const prof_why_inner *inner)
{
    char time[48], count[48], longest[48], text[200] = "";
    double share = call->split.wall_ns ? 100.0 * (double)inner->self_ns / (double)call->split.wall_ns : 0;
    const char *name = *inner->name ? inner->name : "outside of scopes";
    tool_ns(time, (double)inner->self_ns);
    if (tool_same(inner->name, call->name) && inner->calls == 1) {
        printf("%12s %5.1f %%  ", time, share);
        if (inner->count_all > 1) why_compared(text, sizeof text, inner->self_ns, inner->median_ns, "its median");
        why_say(0, "%s itself%s%s", name, *text ? ", " : "", text);
        return;
    }
    printf("%12s %5.1f %%  ", time, share);
    if (inner->calls > 1)
        why_say(0, "%s in %s calls; the longest took %s%s%s", name, tool_count(count, inner->calls),
                tool_ns(longest, (double)inner->longest_ns), ", ",
            why_compared(text, sizeof text, inner->longest_ns, inner->median_ns, "its median"));
    else if (inner->count_all > 1 && inner->calls)
        why_say(0, "%s took %s, %s", name, time,
                why_compared(text, sizeof text, inner->self_ns, inner->median_ns, "its median"));
    else
        why_say(0, "%s", name);
}

static void print_inner(const prof_why_call *call)
{
    char time[48], count[48];
    uint64_t rest = 0;
    size_t i, shown = 0, left = 0;
    if (!call->inner_count) return;
    printf("\n  its scopes, by the time without scopes inside them\n");
    for (i = 0; i < call->inner_count; i++) {
        const prof_why_inner *inner = &call->inner[i];
        if (shown && (shown == MOST_ROWS || (double)inner->self_ns < LEAST_SHARE * (double)call->split.wall_ns)) {
            rest += inner->self_ns;
            left++;
            continue;
        }
        print_inner_row(call, inner);
        shown++;
    }
    if (left)
        printf("%12s %5.1f %%  %s other%s\n", tool_ns(time, (double)rest),
               call->split.wall_ns ? 100.0 * (double)rest / (double)call->split.wall_ns : 0.0, tool_count(count, left),
               left == 1 ? "" : "s");
}

static void print_devices(const prof_trace *trace, const prof_why_call *call)
{
    char time[48];
    size_t i;
    if (call->device_count) printf("\n  devices meanwhile, by the time without scopes inside them\n");
    for (i = 0; i < call->device_count && i < MOST_ROWS; i++) {
        const prof_why_device *did = &call->devices[i];
        const prof_track *track = prof_trace_track(trace, did->track);
        if (i && (double)did->ns < LEAST_SHARE * (double)call->split.wall_ns) return;
        printf("%12s %5.1f %%  ", tool_ns(time, (double)did->ns),
               call->split.wall_ns ? 100.0 * (double)did->ns / (double)call->split.wall_ns : 0.0);
        why_say(0, "%s, on %s of %s", did->name, track->name, track->device);
    }
}

/* Prints how a counter moved. With four digits the two values of a large one may look alike, so the difference is
   printed as well. */
static void print_counter(const prof_why_counter *counter)
{
    char first[96], last[96], moved[96] = "";
    double by = counter->last - counter->first;
    if (is_finite(by)) tool_measured(moved, by < 0 ? -by : by, counter->unit);
    why_say(4, "%s: from %s to %s%s%s%s%s", counter->name, tool_measured(first, counter->first, counter->unit),
        tool_measured(last, counter->last, counter->unit), *moved ? ", " : "", moved,
        !*moved ? "" : by < 0 ? " less" : " more", counter->around ? ", sampled before and after it" : "");
}

static void print_others(const prof_trace *trace, const prof_why_call *call)
{
    static const char *const severities[] = {"debug", "info", "warning", "error", "fatal"};
    char count[48], bytes[96], frees[48], time[48], line[512];
    size_t i;
    int kind;
    if (call->allocations || call->frees)
        printf("\n  allocated %s in %s allocations, and freed %s blocks\n",
               tool_measured(bytes, (double)call->bytes, "B"), tool_count(count, call->allocations),
               tool_count(frees, call->frees));
    if (call->counter_count) printf("\n  counters that moved\n");
    for (i = 0; i < call->counter_count; i++)
        print_counter(&call->counters[i]);
    if (call->message_count) printf("\n  messages\n");
    for (i = 0; i < call->message_count; i++)
        why_say(4, "%s, %s after its begin: %s",
                severities[call->messages[i].severity < 4 ? call->messages[i].severity : 4],
            tool_ns(time, (double)(call->messages[i].ns - call->start_ns)), call->messages[i].text);
    if (call->lost) printf("\n  %s events of its thread in it were lost\n", tool_count(count, call->lost));
    for (kind = 0; call->lost && kind < TOOL_LOSSES; kind++)
        if (tool_loss(trace, kind, line, sizeof line)) why_say(4, "%s", line);
}

static void print_call(const prof_trace *trace, const prof_why_report *report, const prof_why_call *call,
                       const hot_list *hot)
{
    char time[48], start[48], thread[600], text[200], number[48], title[700];
    const char *missing = call->flags & PROF_TRUNCATED_END ? " at least: its end was not recorded"
                          : call->flags & PROF_TRUNCATED_BEGIN ? " at least: its begin was not recorded" : "";
    if (call->number)
        snprintf(title, sizeof title, "%.600s %llu", call->name, (unsigned long long)call->number);
    else if (call->step)
        snprintf(title, sizeof title, "%.600s %lld", call->name, (long long)call->step_number);
    else
        snprintf(title, sizeof title, "%.600s", *call->name ? call->name : "(unnamed)");
    tool_ns(time, (double)call->split.wall_ns);
    if (!*missing && report->count_all > 1 && *report->name) {
        char whose[100];
        snprintf(whose, sizeof whose, "the median of %s %s", tool_count(number, report->count_all),
                 report->frames ? "frames" : "calls");
        why_say(0, "%s took %s, %s, at %s on thread %s", title, time,
                why_compared(text, sizeof text, call->split.wall_ns, report->median_ns, whose),
            tool_ns(start, (double)call->start_ns), why_thread(trace, call->track, 0, thread, sizeof thread));
    } else {
        why_say(0, "%s took %s%s, at %s on thread %s", title, time, missing, tool_ns(start, (double)call->start_ns),
                why_thread(trace, call->track, 0, thread, sizeof thread));
    }
    putchar('\n');
    print_parts(trace, report, call, hot);
    print_inner(call);
    print_devices(trace, call);
    print_others(trace, call);
}

/*-- JSON --*/

static void json_double(const char *key, double value)
{
    if (is_finite(value))
        printf(",\"%s\":%.15g", key, value);
    else
        printf(",\"%s\":null", key);
}

/* Writes the name of a thread; null: not known. */
static void json_thread(const prof_trace *trace, const char *key, size_t track, uint64_t id)
{
    char thread[1100];
    if (track == PROF_NO_TRACK && !id)
        printf(",\"%s\":null", key);
    else
        tool_json_text(key, why_thread(trace, track, id, thread, sizeof thread));
}

static void json_scope(const char *key, const char *scope)
{
    if (*scope)
        tool_json_text(key, scope);
    else
        printf(",\"%s\":null", key);
}

static void json_waits(const prof_trace *trace, const prof_why_call *call)
{
    char object[1100];
    size_t i;
    printf(",\n\"waits\":[");
    for (i = 0; i < call->wait_count; i++) {
        const prof_why_wait *wait = &call->waits[i];
        printf("%s{\"kind\":\"%s\"", i ? ",\n" : "", wait->kind);
        json_scope("object", object_name(wait, object, sizeof object));
        tool_json_number("ns", wait->ns);
        json_thread(trace, "holder_thread", wait->holder_track, wait->holder);
        json_scope("holder_scope", wait->holder_scope);
        json_thread(trace, "waker_thread", wait->waker_track, 0);
        json_scope("waker_scope", wait->waker_scope);
        json_scope("call", wait->call);
        json_scope("scope", wait->scope);
        tool_json_number("count", wait->count);
        if (*wait->name) printf(",\"address\":\"0x%llx\"", (unsigned long long)wait->object);
        printf("}");
    }
    printf("]");
}

static void json_lists(const prof_trace *trace, const prof_why_call *call)
{
    size_t i;
    printf(",\n\"inner\":[");
    for (i = 0; i < call->inner_count; i++) {
        printf("%s{\"name\":", i ? ",\n" : "");
        tool_print_json(call->inner[i].name, strlen(call->inner[i].name));
        tool_json_number("self_ns", call->inner[i].self_ns);
        tool_json_number("median_ns", call->inner[i].median_ns);
        tool_json_number("calls", call->inner[i].calls);
        tool_json_number("longest_ns", call->inner[i].longest_ns);
        tool_json_number("calls_in_all", call->inner[i].count_all);
        printf("}");
    }
    printf("],\n\"ran_instead\":[");
    for (i = 0; i < call->ran_count; i++) {
        printf("%s{\"track\":%lu", i ? "," : "", (unsigned long)call->ran_instead[i].track);
        json_thread(trace, "thread", call->ran_instead[i].track, 0);
        tool_json_number("ns", call->ran_instead[i].ns);
        printf("}");
    }
    printf("],\n\"devices\":[");
    for (i = 0; i < call->device_count; i++) {
        const prof_track *track = prof_trace_track(trace, call->devices[i].track);
        printf("%s{\"name\":", i ? ",\n" : "");
        tool_print_json(call->devices[i].name, strlen(call->devices[i].name));
        tool_json_text("device", track->device);
        tool_json_text("row", track->name);
        tool_json_number("ns", call->devices[i].ns);
        tool_json_number("waited_ns", call->devices[i].waited_ns);
        printf("}");
    }
    printf("],\n\"counters\":[");
    for (i = 0; i < call->counter_count; i++) {
        printf("%s{\"name\":", i ? ",\n" : "");
        tool_print_json(call->counters[i].name, strlen(call->counters[i].name));
        json_scope("unit", call->counters[i].unit);
        json_double("first", call->counters[i].first);
        json_double("last", call->counters[i].last);
        json_double("delta", call->counters[i].last - call->counters[i].first);
        printf(",\"around\":%s}", call->counters[i].around ? "true" : "false");
    }
    printf("],\n\"messages\":[");
    for (i = 0; i < call->message_count; i++) {
        printf("%s{\"at_ns\":%lld", i ? ",\n" : "", (long long)call->messages[i].ns);
        tool_json_number("severity", call->messages[i].severity);
        tool_json_text("text", call->messages[i].text);
        printf("}");
    }
    printf("]");
}

static void json_hot(const hot_list *hot)
{
    size_t i;
    printf(",\n\"hot\":[");
    for (i = 0; i < hot->count; i++) {
        const symbols_function *about = hot->items[i].about;
        printf("%s{\"function\":", i ? ",\n" : "");
        tool_print_json(about->name, strlen(about->name));
        tool_json_number("ns", hot_ns(hot, &hot->items[i]));
        tool_json_number("samples", hot->items[i].samples);
        tool_json_text("module", about->module);
        printf("}");
    }
    printf("]");
}

static void json_call(const prof_trace *trace, const prof_why_call *call, const hot_list *hot)
{
    printf("{\"name\":");
    tool_print_json(call->name, strlen(call->name));
    if (call->number) tool_json_number("frame", call->number);
    if (call->step) printf(",\"step\":%lld", (long long)call->step_number);
    json_thread(trace, "thread", call->track, 0);
    tool_json_number("thread_id", prof_trace_track(trace, call->track)->thread_id);
    tool_json_number("start_ns", (uint64_t)call->start_ns);
    tool_json_number("wall_ns", call->split.wall_ns);
    tool_json_number("running_ns", call->split.running_ns);
    tool_json_number("ready_ns", call->split.ready_ns);
    tool_json_number("waiting_ns", call->split.waiting_ns);
    tool_json_number("woken_ns", call->split.woken_ns);
    tool_json_number("unknown_ns", call->split.unknown_ns);
    printf(",\"truncated\":%s", call->flags ? "true" : "false");
    tool_json_number("switches", call->split.switches);
    tool_json_number("migrations", call->split.migrations);
    json_waits(trace, call);
    json_lists(trace, call);
    json_hot(hot);
    printf(",\n\"allocations\":{\"count\":%llu,\"bytes\":%llu,\"frees\":%llu}", (unsigned long long)call->allocations,
           (unsigned long long)call->bytes, (unsigned long long)call->frees);
    tool_json_number("lost", call->lost);
    printf("}");
}

static void begin_json(const prof_why_report *report)
{
    printf("{\"name\":");
    tool_print_json(report->name, strlen(report->name));
    printf(",\"frames\":%s", report->frames ? "true" : "false");
    tool_json_number("calls_in_all", report->count_all);
    tool_json_number("median_ns", report->median_ns);
    printf(",\"calls\":[\n");
}

static void begin_text(const tool_args *args, const prof_why_report *report)
{
    char number[48];
    if (tool_value(args, "--scope") || tool_value(args, "--frame") || tool_value(args, "--step") ||
        tool_value(args, "--at") || !*report->name)
        return;
    why_say(0, "No scope was chosen: %s slowest of %s %s of '%s', which differ most. --scope NAME chooses others.",
            report->count > 1 ? "these are the" : "this is the", tool_count(number, report->count_all),
        report->frames ? "frames" : "calls", report->name);
    putchar('\n');
}

static int print_all(const tool_args *args, const prof_trace *trace, const prof_why_report *report, int json)
{
    symbols *names = find_symbols(trace, report, tool_value(args, "--symbols"));
    int good = names != NULL;
    size_t i;
    if (!names) return TOOL_ERROR;
    if (json)
        begin_json(report);
    else
        begin_text(args, report);
    for (i = 0; good && i < report->count; i++) {
        hot_list hot;
        good = find_hot(trace, &report->calls[i], names, &hot);
        if (i) printf(json ? ",\n" : "\n");
        if (json)
            json_call(trace, &report->calls[i], &hot);
        else
            print_call(trace, report, &report->calls[i], &hot);
        free(hot.items);
    }
    if (json) printf("\n]}\n");
    symbols_close(names);
    return good ? TOOL_OK : tool_fail("out of memory");
}

/*-- the command --*/

static int choose(const tool_args *args, const prof_trace *trace, prof_why_options *how)
{
    const char *slowest = tool_value(args, "--slowest"), *frame = tool_value(args, "--frame");
    const char *at = tool_value(args, "--at"), *step = tool_value(args, "--step");
    double number = 0;
    how->name = tool_value(args, "--scope");
    if (slowest && !tool_number("--slowest", slowest, 1, 1000, &number)) return 0;
    how->slowest = (size_t)number;
    number = 0;
    if (frame && !tool_number("--frame", frame, 1, 1e15, &number)) return 0;
    how->frame = (uint64_t)number;
    if (step && !tool_whole("--step", step, &how->step_number)) return 0;
    how->step = step != NULL;
    if (step && frame) return tool_fail("why: --step and --frame contradict each other"), 0;
    how->at = at != NULL;
    return !at || tool_time("--at", at, prof_trace_about(trace)->duration_ns, &how->at_ns);
}

static int explain(const tool_args *args, prof_trace *trace, int json)
{
    prof_why_options how;
    prof_why_report *report;
    int result;
    memset(&how, 0, sizeof how);
    if (!choose(args, trace, &how)) return TOOL_ERROR;
    tool_progress_begin("why", tool_value(args, "--progress"));
    result = tool_status(prof_why(trace, &how, &report));
    tool_progress_end();
    if (result != TOOL_OK) return result;
    result = print_all(args, trace, report, json);
    prof_why_free(report);
    return result;
}

static int run(const tool_args *args)
{
    prof_trace *trace;
    int choice, json, columns, result;
    if (!tool_choice("--format", tool_value(args, "--format"), formats, &json)) return TOOL_ERROR;
    if (!tool_choice("--progress", tool_value(args, "--progress"), tool_progress_choices, &choice)) return TOOL_ERROR;
    if (!tool_columns(args, &columns)) return TOOL_ERROR;
    trace = tool_open(args->files[0]);
    if (!trace) return TOOL_ERROR;
    result = explain(args, trace, json);
    prof_trace_close(trace);
    return result;
}

const tool_command tool_why = {
    "why", "IN", "Says why a call of a scope, or a frame, was slow", 1, 1, run, options,
    "The time of the call is split into four parts, which add up to it: running; ready to run, while others ran on\n"
    "the processor; waiting, and for what; unknown, where nothing was recorded of that. Then come the scopes inside,\n"
    "by the time that they took themselves, beside their own median; then allocations, counters that moved, and\n"
    "messages.\n\n"
    "Without a name, frames are explained if there are any, else the outermost scopes that are called again and\n"
    "again: those whose slowest call differs most from their median. With --at alone, the scope that took the most\n"
    "more than its median.\n\n"
    "Running and ready need context switches (prof_system.h, PROF_SWITCHES=1) or PROFILE_SCOPE_TIMED; reasons of\n"
    "waits need PROF_WRAP_WAITS or PROFILE_LOCK_WAIT; the functions that ran need samples (PROF_SAMPLES=1).\n\n"
    "example: prof why --scope frame --slowest 5 trace.prof\n"};
