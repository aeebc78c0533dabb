/* samples.c - reads the samples of a recording, and finds for each the scope that was open. See samples.h. */
#include "samples.h"
#include <stdlib.h>
#include <string.h>

typedef struct samples_known {
    const uint64_t *frames; /* NULL: free */
    size_t age;             /* how many modules were known */
    size_t chain;
} samples_known;

/*-- chains --*/

static size_t known_slot(const samples *all, const uint64_t *frames, size_t age)
{
    uint64_t hash = ((uint64_t)(uintptr_t)frames + age) * 0x9E3779B97F4A7C15u;
    size_t mask = all->known_size - 1, i = (size_t)(hash >> 32) & mask;
    while (all->known[i].frames && (all->known[i].frames != frames || all->known[i].age != age)) i = (i + 1) & mask;
    return i;
}

static int grow_known(samples *all)
{
    samples_known *old = all->known;
    size_t size = all->known_size, i;
    if (all->known_count * 3 < size * 2) return 1;
    all->known_size = size ? size * 2 : 1024;
    all->known = (samples_known *)calloc(all->known_size, sizeof *all->known);
    if (!all->known) {
        all->known = old;
        all->known_size = size;
        return 0;
    }
    for (i = 0; i < size; i++)
        if (old[i].frames) all->known[known_slot(all, old[i].frames, old[i].age)] = old[i];
    free(old);
    return 1;
}

/* Returns how many modules were known at a time: as long as that does not change, an address stays in its module. */
static size_t age_at(const samples *all, int64_t ns)
{
    size_t low = 0, high;
    const prof_module *modules = prof_trace_modules(all->trace, &high);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (modules[middle].from_ns <= ns) low = middle + 1;
        else high = middle;
    }
    return low;
}

static int add_places(samples *all, const prof_sample *sample)
{
    uint32_t i;
    if (all->chain_count + sample->frame_count > all->chain_capacity) {
        size_t capacity = all->chain_capacity * 2 + sample->frame_count + 4096;
        size_t *more = (size_t *)realloc(all->chain, capacity * sizeof *more);
        if (!more) return 0;
        all->chain = more;
        all->chain_capacity = capacity;
    }
    for (i = 0; i < sample->frame_count; i++) {
        size_t place = symbols_add(all->symbols, sample->frames[i], sample->time_ns, i > 0);
        if (place == SYMBOLS_NONE) return 0;
        all->chain[all->chain_count++] = place;
    }
    return 1;
}

static int add_sample(samples *all, const prof_sample *sample, size_t track, size_t node)
{
    size_t age = age_at(all, sample->time_ns), slot;
    samples_one *to;
    if (!sample->frame_count) return 1;
    if (all->count == all->capacity) {
        size_t capacity = all->capacity ? all->capacity * 2 : 4096;
        samples_one *more = (samples_one *)realloc(all->items, capacity * sizeof *more);
        if (!more) return 0;
        all->items = more;
        all->capacity = capacity;
    }
    if (!grow_known(all)) return 0;
    slot = known_slot(all, sample->frames, age);
    if (!all->known[slot].frames) {
        all->known[slot].frames = sample->frames;
        all->known[slot].age = age;
        all->known[slot].chain = all->chain_count;
        all->known_count++;
        if (!add_places(all, sample)) return 0;
    }
    to = &all->items[all->count++];
    to->sample = sample;
    to->track = track;
    to->node = node;
    to->chain = all->known[slot].chain;
    return 1;
}

/*-- scopes --*/

static int in_window(const samples *all, const prof_sample *sample)
{
    const prof_trace_info *info = prof_trace_about(all->trace);
    return sample->time_ns >= info->from_ns && (!info->to_ns || sample->time_ns < info->to_ns);
}

/* Notes the function that has the scope of a node. */
static int note_function(samples *all, size_t node, const char *function)
{
    if (node >= all->function_capacity) {
        size_t capacity = node * 2 + 256, i;
        const char **more = (const char **)realloc((void *)all->functions, capacity * sizeof *more);
        if (!more) return 0;
        for (i = all->function_capacity; i < capacity; i++) more[i] = NULL;
        all->functions = more;
        all->function_capacity = capacity;
    }
    if (*function) all->functions[node] = function;
    return 1;
}

/* Adds the samples before a time, each in the scope that was open when it was taken. Returns how many; 0 is none. */
static size_t add_before(samples *all, flame_stack *stack, const prof_sample *list, size_t count, size_t track,
                         int64_t ns)
{
    size_t i;
    for (i = 0; i < count && list[i].time_ns < ns && !all->tree->failed; i++) {
        if (!in_window(all, &list[i])) continue;
        while (stack->depth && stack->open[stack->depth - 1].end_ns <= list[i].time_ns) --stack->depth;
        if (!add_sample(all, &list[i], track, stack->depth ? stack->open[stack->depth - 1].node : stack->row))
            all->tree->failed = 1;
    }
    return i;
}

static prof_status read_track(samples *all, size_t track, size_t top)
{
    size_t count, at = 0;
    const prof_sample *list = prof_track_samples(all->trace, track, &count);
    flame_stack stack;
    prof_cursor *cursor;
    prof_event event;
    prof_status status;
    if (!count) return PROF_OK;
    status = prof_cursor_open(all->trace, track, &cursor);
    if (status) return status;
    stack.depth = 0;
    stack.row = flame_row(all->tree, top, prof_trace_track(all->trace, track));
    while (!all->tree->failed && at < count && prof_cursor_next(cursor, &event)) {
        size_t node;
        if (event.type != PROF_EVENT_SCOPE) continue;
        at += add_before(all, &stack, list + at, count - at, track, event.start_ns);
        node = flame_push(all->tree, &stack, &event);
        if (node != FLAME_NONE && !note_function(all, node, event.site->function)) all->tree->failed = 1;
    }
    if (!all->tree->failed) add_before(all, &stack, list + at, count - at, track, INT64_MAX);
    return prof_cursor_close(cursor);
}

static int is_thread(const prof_track *track, const char *thread)
{
    char number[32];
    snprintf(number, sizeof number, "%llu", (unsigned long long)track->thread_id);
    return !thread || tool_same(track->name, thread) || tool_same(number, thread);
}

/* Returns 1 for a sample of a thread without a track, if it is asked for. */
static int is_counted(const samples *all, const prof_sample *sample, const char *thread)
{
    char number[32];
    snprintf(number, sizeof number, "%llu", (unsigned long long)sample->thread_id);
    return (!thread || tool_same(thread, number)) && in_window(all, sample);
}

/* Adds the samples of threads that recorded nothing else. */
static void read_others(samples *all, size_t top, const char *thread)
{
    size_t count, i;
    const prof_sample *list = prof_track_samples(all->trace, PROF_NO_TRACK, &count);
    for (i = 0; i < count && !all->tree->failed; i++) {
        char name[64];
        size_t row = top;
        if (!is_counted(all, &list[i], thread)) continue;
        snprintf(name, sizeof name, "(without scopes) (thread %llu)", (unsigned long long)list[i].thread_id);
        if (all->tree->tracks) row = flame_child(all->tree, top, name, NULL);
        if (row == FLAME_NONE || !add_sample(all, &list[i], PROF_NO_TRACK, row)) all->tree->failed = 1;
    }
}

/* Returns how much of the scopes of a name in a track may have been running. */
static int64_t most_in_scopes(const samples *all, size_t track, const char *scope, int64_t from, int64_t to)
{
    int64_t most = 0, until = from;
    prof_cursor *cursor;
    prof_event event;
    prof_split split;
    if (prof_cursor_open(all->trace, track, &cursor)) return 0;
    while (prof_cursor_next(cursor, &event)) {
        int64_t start = event.start_ns, end = event.start_ns + event.duration_ns;
        if (event.type != PROF_EVENT_SCOPE || !tool_same(event.name, scope) || end <= until) continue;
        if (start < until) start = until; /* outside of the window */
        if (end > to) end = to;
        if (end <= start) continue;
        if (end - start == event.duration_ns)
            prof_event_split(all->trace, track, &event, &split);
        else
            prof_track_split(all->trace, track, start, end - start, &split);
        most += (int64_t)(split.running_ns + split.unknown_ns);
        until = end; /* what is inside, with the same name, is no more time */
    }
    prof_cursor_close(cursor);
    return most;
}

/* Returns for how long the threads may have run in which samples are, or scopes of a name in them, at most, in ns. */
static double most_ns(const samples *all, const char *scope, const char *thread)
{
    const prof_trace_info *info = prof_trace_about(all->trace);
    int64_t from = info->from_ns, to = info->to_ns ? info->to_ns : info->duration_ns;
    double most = 0;
    size_t i, count, last = 0;
    const prof_sample *list = prof_track_samples(all->trace, PROF_NO_TRACK, &count);
    for (i = 0; !info->to_ns && i < all->count; i++) /* threads may run on after the last event */
        if (all->items[i].sample->time_ns > to) to = all->items[i].sample->time_ns;
    for (i = 0; i < prof_trace_track_count(all->trace); i++) {
        prof_split split;
        size_t has;
        prof_track_samples(all->trace, i, &has);
        if (!has || !is_thread(prof_trace_track(all->trace, i), thread) || to <= from) continue;
        if (!scope) prof_track_split(all->trace, i, from, to - from, &split);
        most += scope ? (double)most_in_scopes(all, i, scope, from, to)
                      : (double)(split.running_ns + split.unknown_ns);
    }
    for (i = 0; !scope && i < count; i++) {
        if (!is_counted(all, &list[i], thread)) continue;
        if (!last || list[last - 1].thread_id != list[i].thread_id) most += (double)(to - from);
        last = i + 1;
    }
    return most;
}

double samples_each(const samples *all, uint64_t counted, const char *scope, const char *thread)
{
    double period = (double)prof_trace_about(all->trace)->sample_period_ns, most = most_ns(all, scope, thread);
    return (double)counted * period > most ? most / (double)counted : period;
}

int samples_read(samples *all, const prof_trace *trace, const char *path, flame *tree, size_t top, const char *thread,
                 const char *folder)
{
    size_t i, count = prof_trace_track_count(trace);
    prof_status status = PROF_OK;
    memset(all, 0, sizeof *all);
    all->trace = trace;
    all->tree = tree;
    all->all = prof_trace_about(trace)->samples;
    if (!all->all)
        return tool_fail("%s has no samples: include prof_system.h in the program, and record with PROF_SAMPLES=1",
                         tool_shown(path));
    if (folder && !tool_is_folder(folder)) return tool_fail("--symbols '%s' is not a folder", folder);
    all->symbols = symbols_open(trace, folder);
    if (!all->symbols) return tool_fail("out of memory");
    for (i = 0; i < count && !status && !tree->failed; i++)
        if (is_thread(prof_trace_track(trace, i), thread)) status = read_track(all, i, top);
    if (status) return tool_status(status);
    read_others(all, top, thread);
    if (tree->failed || !symbols_resolve(all->symbols)) return tool_fail("out of memory");
    return TOOL_OK;
}

void samples_free(samples *all)
{
    symbols_close(all->symbols);
    free(all->items);
    free(all->chain);
    free(all->known);
    free((void *)all->functions);
}

/*-- functions --*/

size_t samples_function(const samples *all, const samples_one *one, uint32_t frame)
{
    return symbols_at(all->symbols, all->chain[one->chain + frame])->function;
}

/* 1: a function's name, such as "game::draw<int>" or "draw.part.0", is that of __func__, such as "draw". */
static int is_called(const char *name, const char *function)
{
    size_t length = strlen(name), wanted = strlen(function), at;
    const char *mark = strstr(name, " [clone");
    int depth = 0;
    if (mark) length = (size_t)(mark - name);
    if (length && name[length - 1] == '>' && function[wanted - 1] != '>') /* arguments of a template */
        for (at = length; at-- > 0;) {
            depth += name[at] == '>' ? 1 : name[at] == '<' ? -1 : 0;
            if (!depth) {
                length = at;
                break;
            }
        }
    mark = (const char *)memchr(name, '.', length); /* draw.isra.0 */
    if (mark && mark != name) length = (size_t)(mark - name);
    if (length < wanted || memcmp(name + length - wanted, function, wanted)) return 0;
    return length == wanted || (length > wanted + 1 && !memcmp(name + length - wanted - 2, "::", 2));
}

uint32_t samples_inside(const samples *all, const samples_one *one, size_t node)
{
    uint32_t i;
    for (; node != FLAME_NONE && all->tree->nodes[node].category; node = all->tree->nodes[node].parent) {
        const char *function = node < all->function_capacity ? all->functions[node] : NULL;
        for (i = 0; function && i < one->sample->frame_count; i++) {
            const symbols_function *at = symbols_function_at(all->symbols, samples_function(all, one, i));
            if (is_called(at->name, function)) return i + 1;
        }
    }
    return one->sample->frame_count;
}

void samples_draw(const samples *all)
{
    const uint64_t each = (uint64_t)(samples_each(all, all->count, NULL, NULL) + 0.5);
    flame *tree = all->tree;
    size_t i, node;
    for (i = 0; i < all->count && !tree->failed; i++) {
        const samples_one *one = &all->items[i];
        uint32_t frame = samples_inside(all, one, one->node);
        for (node = one->node; frame-- > 0 && node != FLAME_NONE && tree->nodes[node].depth < FLAME_DEPTH - 1;) {
            const symbols_function *function = symbols_function_at(all->symbols, samples_function(all, one, frame));
            node = flame_child(tree, node, function->name, function->module);
        }
        tree->calls++;
        for (; node != FLAME_NONE; node = tree->nodes[node].parent) {
            tree->nodes[node].calls++;
            tree->nodes[node].total_ns += each;
        }
    }
}
