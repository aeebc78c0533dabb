/* ranks.c - reads the recordings of ranks, one after the other: how long each scope took in each step. */
#include "ranks.h"
#include <stdlib.h>
#include <string.h>

#define MOST_CELLS ((size_t)12 << 20) /* of all ranks: 96 MB */

/*-- names of scopes --*/

static uint32_t hash_of(const char *name)
{
    uint32_t hash = tool_hash(2166136261u, name);
    return hash ^ hash >> 15;
}

static int grow(ranks *all)
{
    size_t count = all->slot_count ? all->slot_count * 2 : 256, i, at;
    size_t *slots = (size_t *)calloc(count, sizeof *slots);
    if (!slots) return 0;
    for (i = 0; i < all->scope_count; i++) {
        for (at = hash_of(all->scopes[i]) & (count - 1); slots[at];) at = (at + 1) & (count - 1);
        slots[at] = i + 1;
    }
    free(all->slots);
    all->slots = slots;
    all->slot_count = count;
    return 1;
}

static char *copy_text(const char *text)
{
    char *copy = (char *)malloc(strlen(text) + 1);
    return copy ? strcpy(copy, text) : NULL;
}

/* Returns the number of a name; RANKS_NONE without memory. */
static uint32_t scope_of(ranks *all, const prof_callsite *site, const char *name)
{
    size_t at, room = all->scope_room;
    if (!*name) name = "(unnamed)";
    if (all->scope_count >= all->slot_count / 2 && !grow(all)) return RANKS_NONE;
    for (at = hash_of(name) & (all->slot_count - 1); all->slots[at]; at = (at + 1) & (all->slot_count - 1))
        if (tool_same(all->scopes[all->slots[at] - 1], name)) return (uint32_t)(all->slots[at] - 1);
    if (!tool_room(&all->waits, &room, all->scope_count, 1)) return RANKS_NONE;
    if (!tool_room(&all->scopes, &all->scope_room, all->scope_count, sizeof *all->scopes)) return RANKS_NONE;
    all->scopes[all->scope_count] = copy_text(name);
    if (!all->scopes[all->scope_count]) return RANKS_NONE;
    all->waits[all->scope_count] = (unsigned char)several_waits(site, name);
    all->waiting |= all->waits[all->scope_count];
    all->slots[at] = ++all->scope_count;
    return (uint32_t)(all->scope_count - 1);
}

/*-- a recording --*/

/* A scope that is open where the cursor is. */
typedef struct open_scope {
    uint32_t scope, depth;
    int64_t self_ns, end_ns;
} open_scope;

typedef struct reading {
    ranks *all;
    rank_one *one;
    open_scope *stack;
    size_t depth, room;
    uint32_t step_depth; /* of the step that is open; RANKS_NONE: none is */
    size_t most;         /* cells that a rank may have */
    int good;
} reading;

/* Adds to the self time of a scope in the open step. */
static void add_cell(reading *r, uint32_t scope, int64_t ns)
{
    rank_one *one = r->one;
    rank_step *step = &one->steps[one->count - 1];
    size_t i;
    for (i = one->cell_count; i-- > step->first;)
        if (one->cells[i].scope == scope) {
            one->cells[i].ns += (float)ns;
            return;
        }
    if (!tool_room(&one->cells, &one->cell_room, one->cell_count, sizeof *one->cells)) {
        r->good = 0;
        return;
    }
    one->cells[one->cell_count].scope = scope;
    one->cells[one->cell_count++].ns = (float)ns;
    step->cells++;
}

/* Ends the scopes that do not enclose one of this depth. */
static void leave(reading *r, uint32_t depth)
{
    while (r->depth && r->stack[r->depth - 1].depth >= depth) {
        open_scope *top = &r->stack[--r->depth];
        if (r->step_depth == RANKS_NONE || top->depth < r->step_depth) continue;
        add_cell(r, top->scope, top->self_ns);
        if (r->all->waits[top->scope]) r->one->steps[r->one->count - 1].sync_ns = top->end_ns;
        if (top->depth == r->step_depth) r->step_depth = RANKS_NONE;
    }
}

/* Leaves out the older half of the steps if the rank has too many. */
static void forget(reading *r)
{
    rank_one *one = r->one;
    size_t half = one->count / 2, cells, i;
    if (one->cell_count < r->most || half < 1) return;
    cells = one->steps[half].first;
    memmove(one->cells, one->cells + cells, (one->cell_count - cells) * sizeof *one->cells);
    memmove(one->steps, one->steps + half, (one->count - half) * sizeof *one->steps);
    one->cell_count -= cells;
    one->count -= half;
    for (i = 0; i < one->count; i++) one->steps[i].first -= cells;
    r->all->cut = 1;
}

static int64_t number_of(const prof_event *event)
{
    uint32_t i;
    int64_t number = 0;
    for (i = 0; i < event->arg_count; i++)
        if (tool_same(event->args[i].key, "step_num")) number = event->args[i].value.as.i;
    return number;
}

static void begin_step(reading *r, const prof_event *event, uint32_t name)
{
    rank_one *one = r->one;
    rank_step *step;
    forget(r);
    if (!tool_room(&one->steps, &one->room, one->count, sizeof *one->steps)) {
        r->good = 0;
        return;
    }
    step = &one->steps[one->count++];
    memset(step, 0, sizeof *step);
    step->number = number_of(event);
    step->name = name;
    step->start_ns = event->start_ns;
    step->end_ns = step->sync_ns = event->start_ns + event->duration_ns;
    step->first = one->cell_count;
    step->flags = event->flags;
    r->step_depth = event->depth;
}

static void add_scope(reading *r, const prof_event *event)
{
    uint32_t name;
    leave(r, event->depth);
    if (r->step_depth == RANKS_NONE && event->site->role != PROF_ROLE_STEP) return;
    name = scope_of(r->all, event->site, event->name);
    r->good = name != RANKS_NONE && tool_room(&r->stack, &r->room, r->depth, sizeof *r->stack);
    if (!r->good) return;
    if (r->step_depth == RANKS_NONE) begin_step(r, event, name);
    if (r->depth) r->stack[r->depth - 1].self_ns -= event->duration_ns;
    r->stack[r->depth].scope = name;
    r->stack[r->depth].depth = event->depth;
    r->stack[r->depth].self_ns = event->duration_ns;
    r->stack[r->depth++].end_ns = event->start_ns + event->duration_ns;
}

/* Notes in which scope the thread that has the steps is, or was when the process died. */
static int read_open(reading *r, const prof_trace *trace, size_t track)
{
    prof_open_scope *scopes;
    size_t count, i;
    if (tool_status(prof_open_scopes(trace, &scopes, &count))) return 0;
    for (i = 0; i < count && r->good; i++) {
        if (scopes[i].track != track) continue;
        r->one->open = scope_of(r->all, scopes[i].site, scopes[i].name);
        r->one->open_ns = scopes[i].duration_ns;
        r->good = r->one->open != RANKS_NONE;
    }
    prof_open_scopes_free(scopes);
    return 1;
}

/* Reads the steps of all threads. Returns 0 after an error, of which a message was printed. */
static int read_steps(reading *r, const prof_trace *trace)
{
    size_t track, before;
    for (track = 0; r->good && track < prof_trace_track_count(trace); track++) {
        prof_cursor *cursor;
        prof_event event;
        if (*prof_trace_track(trace, track)->device) continue;
        if (tool_status(prof_cursor_open(trace, track, &cursor))) return 0;
        before = r->one->count;
        r->step_depth = RANKS_NONE;
        while (r->good && prof_cursor_next(cursor, &event))
            if (event.type == PROF_EVENT_SCOPE) add_scope(r, &event);
        if (r->good) leave(r, 0);
        prof_cursor_close(cursor);
        if (r->good && r->one->count > before && !r->one->complete && !read_open(r, trace, track)) return 0;
    }
    if (!r->good) tool_fail("out of memory");
    return r->good;
}

static int read_one(const tool_args *args, ranks *all, rank_one *one, const prof_trace *trace)
{
    char name[1100];
    const char *rank = tool_said(trace, "rank"), *job = tool_said(trace, "job");
    reading r;
    int good;
    memset(&r, 0, sizeof r);
    r.all = all;
    r.one = one;
    r.most = MOST_CELLS / all->count + 64;
    r.good = 1;
    one->open = RANKS_NONE;
    one->complete = prof_trace_about(trace)->complete;
    one->alive = prof_trace_about(trace)->alive;
    one->name = copy_text(*rank ? rank : several_process(trace, all->count, name, sizeof name));
    one->host = copy_text(tool_said(trace, "host"));
    one->shift_ns = tool_shift_of(args, trace);
    if (one == all->items) snprintf(all->job, sizeof all->job, "%s", job);
    if (!tool_same(all->job, job)) all->job[0] = 0;
    if (!one->name || !one->host) return tool_fail("out of memory"), 0;
    good = read_steps(&r, trace);
    free(r.stack);
    return good;
}

/*-- all of them --*/

static int natural_order(const void *left, const void *right)
{
    return several_natural(((const rank_one *)left)->name, ((const rank_one *)right)->name);
}

static const ranks *ordered; /* of step_order(), which qsort() calls */

static int step_order(const void *left, const void *right)
{
    const rank_step *a = (const rank_step *)left, *b = (const rank_step *)right;
    int x = a->name == ordered->step, y = b->name == ordered->step;
    if (x != y) return x ? 1 : -1; /* other steps come first */
    if (a->number != b->number) return a->number < b->number ? -1 : 1;
    return a->start_ns < b->start_ns ? -1 : a->start_ns > b->start_ns;
}

/* Sorts the steps of a rank, those with the wanted name behind the others. */
static void sort_steps(const ranks *all, rank_one *one)
{
    size_t i;
    ordered = all;
    if (one->count > 1) qsort(one->steps, one->count, sizeof *one->steps, step_order);
    while (one->first < one->count && one->steps[one->first].name != all->step) one->first++;
    for (i = one->first + 1; i < one->count; i++)
        if (one->steps[i].number == one->steps[i - 1].number) one->steps[i].turn = one->steps[i - 1].turn + 1;
}

/* Finds the name of the steps to compare. Returns 0, with a message, if there are none. */
static int choose_name(ranks *all, const char *name)
{
    size_t *counts = (size_t *)calloc(all->scope_count + 1, sizeof *counts), most = 0, i, k;
    all->step = RANKS_NONE;
    if (!counts) return tool_fail("out of memory"), 0;
    for (i = 0; i < all->count; i++)
        for (k = 0; k < all->items[i].count; k++) counts[all->items[i].steps[k].name]++;
    for (i = 0; i < all->scope_count; i++)
        if (counts[i] > most && (!name || tool_same(name, all->scopes[i]))) most = counts[i], all->step = (uint32_t)i;
    free(counts);
    if (all->step != RANKS_NONE) return 1;
    if (name) tool_fail("there are no steps named '%s'", name);
    else tool_fail("there are no steps: mark them with PROFILE_STEP(\"train\", number)");
    return 0;
}

static void count_hosts(ranks *all)
{
    size_t i, k;
    for (i = 0; i < all->count; i++) {
        for (k = 0; k < i && !tool_same(all->items[k].host, all->items[i].host);) k++;
        all->hosts += k == i && *all->items[i].host;
    }
}

/* Sets the offsets of the ranks, which are in the order of the files. */
static int offsets_of(ranks *all, tool_clocks *clocks)
{
    all->offsets = (int64_t *)calloc(all->count, sizeof *all->offsets);
    if (!all->offsets) return 0;
    tool_clocks_align(clocks, all->offsets);
    return 1;
}

int ranks_shift(const tool_args *args, prof_trace **traces)
{
    ranks all;
    size_t i;
    int result = ranks_read(args, NULL, &all);
    if (result == TOOL_OK && !all.waiting)
        result = tool_fail("merge: --align step needs collectives in the steps: scopes such as MPI_Allreduce");
    if (result == TOOL_OK && !ranks_align(&all, 0)) result = tool_fail("out of memory");
    for (i = 0; i < all.count && result == TOOL_OK; i++) {
        const rank_one *one = &all.items[i];
        double half = one->count > one->first ? (double)(one->steps[one->count - 1].sync_ns - one->clock_at) / 2 : 0;
        int64_t ahead = one->clock_ns + (int64_t)(one->clock_rate * half); /* in the middle */
        result = tool_status(prof_trace_set_offset(traces[one->file], one->shift_ns - ahead));
    }
    ranks_free(&all);
    return result;
}

int ranks_read(const tool_args *args, const char *name, ranks *all)
{
    tool_clocks *clocks;
    several_seen seen;
    size_t i;
    int good = 1;
    memset(all, 0, sizeof *all);
    memset(&seen, 0, sizeof seen);
    all->count = (size_t)args->file_count;
    all->items = (rank_one *)calloc(all->count, sizeof *all->items);
    clocks = tool_clocks_new(all->count);
    if (!all->items || !clocks) good = (tool_fail("out of memory"), 0);
    for (i = 0; i < all->count && good; i++) {
        prof_trace *trace = tool_open(args->files[i]);
        all->items[i].file = i;
        good = trace && several_apart(&seen, trace, args->files[i]) && tool_shift(args, trace) &&
               read_one(args, all, &all->items[i], trace);
        if (good) tool_clocks_put(clocks, i, trace);
        prof_trace_close(trace);
        tool_progress(1.0 / (double)all->count);
    }
    if (good && !offsets_of(all, clocks)) good = (tool_fail("out of memory"), 0);
    if (good) qsort(all->items, all->count, sizeof *all->items, natural_order);
    good = good && choose_name(all, name);
    for (i = 0; i < all->count && good; i++) sort_steps(all, &all->items[i]);
    if (good) count_hosts(all);
    several_seen_free(&seen);
    tool_clocks_free(clocks);
    return good ? TOOL_OK : TOOL_ERROR;
}

void ranks_free(ranks *all)
{
    size_t i;
    for (i = 0; i < all->count && all->items; i++) {
        free(all->items[i].name);
        free(all->items[i].host);
        free(all->items[i].steps);
        free(all->items[i].cells);
    }
    for (i = 0; i < all->scope_count; i++) free(all->scopes[i]);
    free(all->items);
    free(all->scopes);
    free(all->waits);
    free(all->slots);
    free(all->offsets);
}
