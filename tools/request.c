/* request.c - prof request: finds what is known of a request: a span, or a step if no span has its number. Its scopes
   are found by what connects them with it: the begin, the end and the marks of the span; flows with its id, and those
   that begin in its scopes; steps with its number; arguments of the span's or a step's name that are its id. Of the
   scopes around such a point, the outermost counts that has no point of another request, and does not last longer. */
#include "request.h"
#include <stdlib.h>
#include <string.h>

#define PARTS 500 /* scopes shorter than such a part of the request have no row */
#define DEEPEST 4096

/* Adds a zeroed item to an array. Returns it; NULL without memory. */
static void *add_item(void *array, size_t *room, size_t *count, size_t size)
{
    char *items;
    if (!tool_room(array, room, *count, size)) return NULL;
    memcpy(&items, array, sizeof items);
    return memset(items + (*count)++ * size, 0, size);
}

static char *copy_text(const char *text)
{
    char *copy = (char *)malloc(strlen(text) + 1);
    return copy ? strcpy(copy, text) : NULL;
}

/*-- the span --*/

static int by_number(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return a < b ? -1 : a > b;
}

static int is_another(const request *all, uint64_t id)
{
    return id != all->id && bsearch(&id, all->ids, all->id_count, sizeof id, by_number) != NULL;
}

static int is_id(const prof_value *value, uint64_t id)
{
    char *end;
    if (value->type == PROF_VALUE_INT || value->type == PROF_VALUE_UINT || value->type == PROF_VALUE_POINTER)
        return value->as.u == id;
    if (value->type != PROF_VALUE_STRING || *value->as.string < '0' || *value->as.string > '9') return 0;
    return strtoull(value->as.string, &end, strncmp(value->as.string, "0x", 2) ? 10 : 16) == id && !*end;
}

/* Returns 1 if a key says "what is numbered so": its name, or its name and "_id". */
static int is_key(const char *key, const char *name)
{
    size_t length = strlen(name);
    return *name && !strncmp(key, name, length) && (!key[length] || tool_same(key + length, "_id"));
}

/* Is an argument the id of the parent? */
static int names_parent(const prof_arg *arg)
{
    static const char *const keys[] = {"parent", "parent_id", "parent_span", "parent_span_id"};
    size_t i;
    for (i = 0; i < sizeof keys / sizeof *keys; i++)
        if (tool_same(arg->key, keys[i])) return 1;
    return 0;
}

/* Chooses between two spans, or steps, of this id: the one that is asked for by a time, else the longest. */
static int is_better(const request *all, int64_t start, int64_t wall, const int64_t *at)
{
    if (at && (start > *at || start + wall <= *at)) return 0;
    return !all->name || wall > all->end - all->start;
}

static int take(request *all, const char *name, int64_t start, int64_t wall, uint32_t flags, size_t first, size_t last)
{
    free(all->name);
    all->name = copy_text(name);
    all->start = start;
    all->end = start + wall;
    all->flags = flags;
    all->begin_track = first;
    all->end_track = last;
    return all->name != NULL;
}

static int is_span(const prof_span *span)
{
    return !span->mark && !tool_is_scope(span) && span->site->role != PROF_ROLE_FRAME;
}

/* Finds the span. Returns 0 without memory; sets *status. */
static int find_span(request *all, const int64_t *at, prof_status *status)
{
    prof_spans *spans;
    prof_span span;
    int good = 1;
    *status = prof_spans_open(all->trace, &spans);
    if (*status) return 1;
    while (good && prof_spans_next(spans, &span))
        if (is_span(&span) && span.id == all->id && (!all->wanted || tool_same(all->wanted, span.name)) &&
            is_better(all, span.start_ns, span.duration_ns, at))
            good = take(all, span.name, span.start_ns, span.duration_ns, span.flags, span.begin_track, span.end_track);
    *status = prof_spans_close(spans);
    return good;
}

static int put_relative(request *all, const prof_span *span, int parent, const char *how)
{
    request_relative *to =
        (request_relative *)add_item(&all->relatives, &all->relative_room, &all->relative_count, sizeof *to);
    if (!to) return 0;
    to->name = copy_text(span->name);
    to->id = span->id;
    to->parent = parent;
    to->start = span->start_ns;
    to->wall = span->duration_ns;
    to->track = span->begin_track;
    to->how = how;
    return to->name != NULL;
}

static int put_id(request *all, uint64_t id)
{
    if (!tool_room(&all->ids, &all->id_room, all->id_count, sizeof id)) return 0;
    all->ids[all->id_count++] = id;
    return 1;
}

/* Looks at a span: is it one of the same name, a child, or the parent? */
static int relate(request *all, const prof_span *span, const uint64_t *parent)
{
    uint32_t i;
    if (tool_same(span->name, all->name)) {
        if (!put_id(all, span->id)) return 0;
        if (span->id == all->id) {
            all->same++;
            return 1;
        }
    }
    if (parent && span->id == *parent && span->start_ns <= all->end && span->start_ns + span->duration_ns >= all->start)
        return put_relative(all, span, 1, "by an argument");
    for (i = 0; i < span->arg_count; i++)
        if (is_id(&span->args[i].value, all->id) &&
            (names_parent(&span->args[i]) || is_key(span->args[i].key, all->name)))
            return put_relative(all, span, 0, "by an argument");
    if (span->id == all->id && span->start_ns >= all->start && span->start_ns + span->duration_ns <= all->end)
        return put_relative(all, span, 0, "by its id");
    return 1;
}

/* Finds the id that an argument of the span says is its parent. */
static int find_parent(request *all, uint64_t *parent, prof_status *status)
{
    prof_spans *spans;
    prof_span span;
    int found = 0;
    uint32_t i;
    *status = prof_spans_open(all->trace, &spans);
    if (*status) return 0;
    while (!found && prof_spans_next(spans, &span)) {
        if (!is_span(&span) || span.id != all->id || span.start_ns != all->start || !tool_same(span.name, all->name))
            continue;
        for (i = 0; i < span.arg_count; i++)
            if (names_parent(&span.args[i])) {
                const prof_value *value = &span.args[i].value;
                *parent = value->type == PROF_VALUE_STRING ? strtoull(value->as.string, NULL, 0) : value->as.u;
                found = 1;
            }
    }
    *status = prof_spans_close(spans);
    return found;
}

static int find_relatives(request *all, prof_status *status)
{
    uint64_t parent;
    int has_parent = find_parent(all, &parent, status), good = 1;
    prof_spans *spans;
    prof_span span;
    if (!*status) *status = prof_spans_open(all->trace, &spans);
    if (*status) return 1;
    while (good && prof_spans_next(spans, &span))
        if (is_span(&span)) good = relate(all, &span, has_parent ? &parent : NULL);
    *status = prof_spans_close(spans);
    return good;
}

/*-- steps --*/

/* Returns the number of a step, in *number; 0: it is none. */
static int step_number(const prof_event *event, int64_t *number)
{
    uint32_t i;
    if (event->type != PROF_EVENT_SCOPE || event->site->role != PROF_ROLE_STEP) return 0;
    for (i = event->arg_count; i--;)
        if (event->args[i].value.type == PROF_VALUE_INT && tool_same(event->args[i].key, "step_num")) {
            *number = event->args[i].value.as.i;
            return 1;
        }
    return 0;
}

static int put_key(request *all, const char *name)
{
    size_t i;
    for (i = 0; i < all->key_count; i++)
        if (tool_same(all->keys[i], name)) return 1;
    if (!tool_room(&all->keys, &all->key_room, all->key_count, sizeof *all->keys)) return 0;
    all->keys[all->key_count] = copy_text(name);
    return all->keys[all->key_count++] != NULL;
}

/* Calls look for all events of all tracks. */
static int each_event(request *all, prof_status *status,
                      int (*look)(request *all, size_t track, const prof_event *event, void *user), void *user)
{
    size_t track;
    int good = 1;
    for (track = 0; good && !*status && track < prof_trace_track_count(all->trace); track++) {
        prof_cursor *cursor;
        prof_event event;
        *status = prof_cursor_open(all->trace, track, &cursor);
        if (*status) return 1;
        while (good && prof_cursor_next(cursor, &event)) good = look(all, track, &event, user);
        *status = prof_cursor_close(cursor);
    }
    return good;
}

/* Finds the steps with this number: their names and, if there is no such span, the one that is the request. */
static int look_step(request *all, size_t track, const prof_event *event, void *user)
{
    int64_t number;
    if (!step_number(event, &number) || (uint64_t)number != all->id) return 1;
    if (all->name && !all->step)
        return event->start_ns > all->end || event->start_ns + event->duration_ns < all->start ||
               put_key(all, event->name);
    if (all->wanted && !tool_same(all->wanted, event->name)) return 1;
    if (!is_better(all, event->start_ns, event->duration_ns, (const int64_t *)user)) return 1;
    all->step = 1;
    return take(all, event->name, event->start_ns, event->duration_ns, event->flags, track, track);
}

static int look_ids(request *all, size_t track, const prof_event *event, void *user)
{
    int64_t number;
    (void)track, (void)user;
    if (!step_number(event, &number) || !tool_same(event->name, all->name)) return 1;
    all->same += (uint64_t)number == all->id;
    return put_id(all, (uint64_t)number);
}

/*-- scopes and points --*/

/* The scopes of a track that are open. */
typedef struct walk {
    size_t track, depth;
    request_scope open[DEEPEST]; /* name: the trace's, or in texts, until a row is made of it */
    char *texts[DEEPEST];        /* run-time names: an event has its name only until the next one */
    size_t rows[DEEPEST];
} walk;

static int overlaps(const request *all, int64_t start, int64_t end)
{
    return start <= all->end && end >= all->start;
}

/* Returns the row of an open scope, and makes those around it, too; REQUEST_NONE without memory. */
static size_t row_of(request *all, walk *w, size_t level)
{
    request_scope *to;
    size_t parent = REQUEST_NONE;
    if (w->rows[level] != REQUEST_NONE) return w->rows[level];
    if (level && (parent = row_of(all, w, level - 1)) == REQUEST_NONE) return REQUEST_NONE;
    to = (request_scope *)add_item(&all->scopes, &all->scope_room, &all->scope_count, sizeof *to);
    if (!to) return REQUEST_NONE;
    *to = w->open[level];
    to->name = copy_text(w->open[level].name);
    to->parent = parent;
    if (!to->name) return REQUEST_NONE;
    return w->rows[level] = all->scope_count - 1;
}

/* Notes that a point of another request is in the open scopes. */
static int put_other(request *all, walk *w, uint64_t id)
{
    size_t row = w->depth ? row_of(all, w, w->depth - 1) : REQUEST_NONE;
    if (w->depth && row == REQUEST_NONE) return 0;
    if (row != REQUEST_NONE && !all->scopes[row].numbered) {
        all->scopes[row].numbered = 1;
        all->scopes[row].owner = id;
    }
    for (; row != REQUEST_NONE; row = all->scopes[row].parent) all->scopes[row].shared = 1;
    return 1;
}

static int put_point(request *all, walk *w, const prof_event *event)
{
    int flow = event->type >= PROF_EVENT_FLOW_OUT && event->type <= PROF_EVENT_FLOW_IN;
    size_t row = w->depth ? row_of(all, w, w->depth - 1) : REQUEST_NONE;
    request_point *to;
    if (w->depth && row == REQUEST_NONE) return 0;
    to = (request_point *)add_item(&all->points, &all->point_room, &all->point_count, sizeof *to);
    if (!to) return 0;
    to->ns = event->start_ns;
    to->track = w->track;
    to->scope = row;
    to->id = event->object;
    to->name = flow ? event->site->name : NULL;
    to->out = event->type == PROF_EVENT_FLOW_OUT;
    to->followed = event->object == all->id;
    return 1;
}

static int is_own_argument(const request *all, const prof_event *event)
{
    uint32_t i;
    size_t k;
    for (i = 0; i < event->arg_count; i++) {
        const prof_arg *arg = &event->args[i];
        int key = is_key(arg->key, all->name);
        for (k = 0; !key && k < all->key_count; k++) key = is_key(arg->key, all->keys[k]);
        if (key && is_id(&arg->value, all->id)) return 1;
    }
    return 0;
}

static int enter(request *all, walk *w, const prof_event *event)
{
    request_scope *scope;
    int64_t number;
    size_t row;
    int step = step_number(event, &number), own;
    if (w->depth == DEEPEST) return 1;
    w->rows[w->depth] = REQUEST_NONE;
    scope = &w->open[w->depth++];
    memset(scope, 0, sizeof *scope);
    scope->name = (char *)(uintptr_t)event->name;
    if (event->name != event->site->name) {
        free(w->texts[w->depth - 1]);
        scope->name = w->texts[w->depth - 1] = copy_text(event->name);
        if (!scope->name) return 0;
    }
    scope->track = w->track;
    scope->start = event->start_ns;
    scope->end = event->start_ns + event->duration_ns;
    scope->depth = event->depth;
    if (step) {
        scope->step = scope->numbered = 1;
        scope->number = number;
        scope->owner = (uint64_t)number;
    }
    own = (step && scope->owner == all->id) || is_own_argument(all, event);
    if (!own && !step) return 1;
    if (!own) return put_other(all, w, scope->owner);
    row = row_of(all, w, w->depth - 1);
    if (row == REQUEST_NONE) return 0;
    all->scopes[row].own = 1;
    return 1;
}

static int look_point(request *all, size_t track, const prof_event *event, void *user)
{
    walk *w = (walk *)user;
    if (w->track != track) w->depth = 0;
    w->track = track;
    while (w->depth && w->open[w->depth - 1].depth >= event->depth) w->depth--;
    if (event->type == PROF_EVENT_SCOPE)
        return !overlaps(all, event->start_ns, event->start_ns + event->duration_ns) ||
               event->site->role == PROF_ROLE_WAIT || enter(all, w, event);
    if (event->type < PROF_EVENT_SPAN_BEGIN || event->type > PROF_EVENT_FLOW_IN) return 1;
    if (event->type <= PROF_EVENT_SPAN_END && (all->step || !tool_same(event->name, all->name))) return 1;
    if (is_another(all, event->object)) return put_other(all, w, event->object); /* of a scope in its time, at any */
    return !overlaps(all, event->start_ns, event->start_ns) || put_point(all, w, event);
}

/* Returns 1 if a scope can be a part of the request: most of it is in its time, or it does not last longer. */
static int fits(const request *all, const request_scope *scope)
{
    int64_t from = scope->start > all->start ? scope->start : all->start;
    int64_t to = scope->end < all->end ? scope->end : all->end;
    int64_t wall = scope->end - scope->start;
    return to >= from && ((to - from) * 2 >= wall || wall <= all->end - all->start);
}

/* Returns 1 if a scope is in a step of another request, which a lock's release, say, has woken. */
static int in_another(const request *all, size_t row)
{
    while (row != REQUEST_NONE && !all->scopes[row].step) row = all->scopes[row].parent;
    return row != REQUEST_NONE && all->scopes[row].owner != all->id;
}

/* Marks the scope of a point: the outermost one that is this request's alone. */
static void own(request *all, size_t row)
{
    size_t parent;
    if (row == REQUEST_NONE || in_another(all, row) || !fits(all, &all->scopes[row])) return;
    while ((parent = all->scopes[row].parent) != REQUEST_NONE && !all->scopes[parent].shared &&
           fits(all, &all->scopes[parent]))
        row = parent;
    all->scopes[row].own = 1;
}

/* Returns 1 + the number of the own scope that a scope is in, or is; 0: none. */
static size_t part_of(const request *all, size_t row)
{
    for (; row != REQUEST_NONE; row = all->scopes[row].parent)
        if (all->scopes[row].own) return row + 1;
    return 0;
}

static int by_flow(const void *left, const void *right)
{
    const request_point *a = (const request_point *)left, *b = (const request_point *)right;
    if (a->id != b->id) return a->id < b->id ? -1 : 1;
    if (a->ns != b->ns) return a->ns < b->ns ? -1 : 1;
    return a->track < b->track ? -1 : a->track > b->track;
}

/* Does a flow lead from one point to another? */
static int leads(const request_point *from, const request_point *to)
{
    return from->name && to->name && from->out && !to->out && from->id == to->id && from->ns <= to->ns &&
           tool_same(from->name, to->name);
}

/* Follows the flows that begin in scopes of the request, until no more are found. */
static void follow(request *all)
{
    size_t i, k;
    int more = 1;
    if (all->point_count) qsort(all->points, all->point_count, sizeof *all->points, by_flow);
    for (i = 0; i < all->scope_count; i++)
        if (all->scopes[i].own) own(all, i);
    for (i = 0; i < all->point_count; i++)
        if (all->points[i].followed) own(all, all->points[i].scope);
    while (more) {
        more = 0;
        for (i = 0; i < all->point_count; i++) {
            request_point *from = &all->points[i];
            if (!from->out || from->followed || from->scope == REQUEST_NONE) continue;
            if (!part_of(all, from->scope)) continue;
            from->followed = more = 1;
            for (k = i + 1; k < all->point_count && all->points[k].id == from->id; k++) {
                if (!leads(from, &all->points[k]) || all->points[k].followed) continue;
                all->points[k].followed = 1;
                own(all, all->points[k].scope);
            }
        }
    }
    for (i = 0; i < all->scope_count; i++) /* what is inside another part is not one of its own */
        if (all->scopes[i].own && part_of(all, all->scopes[i].parent)) all->scopes[i].own = 0;
}

/*-- the waterfall --*/

/* A part of the request, while its rows are made. */
typedef struct piece {
    request *all;
    size_t *parts, count; /* the request's own scopes, in order of their begins */
    struct gap {
        int64_t start, end;
        size_t track, next; /* track: that went on, with the part `next` */
        uint32_t depth;
        int queued;
        struct {
            char *what;
            int64_t ns;
        } busy[3];
        int64_t busy_ns;
    } *gaps;
    size_t gap_count;
} piece;

static request *sorted; /* for qsort() */

static int by_start(const void *left, const void *right)
{
    const request_scope *a = &sorted->scopes[*(const size_t *)left], *b = &sorted->scopes[*(const size_t *)right];
    if (a->start != b->start) return a->start < b->start ? -1 : 1;
    if (a->end != b->end) return a->end > b->end ? -1 : 1;
    return a->track < b->track ? -1 : a->track > b->track;
}

/* Lists the own scopes. Returns 0 without memory. */
static int list_parts(piece *p)
{
    request *all = p->all;
    size_t i;
    p->parts = (size_t *)malloc((all->scope_count + 1) * sizeof *p->parts);
    if (!p->parts) return 0;
    for (i = 0; i < all->scope_count; i++)
        if (all->scopes[i].own) p->parts[p->count++] = i;
    sorted = all;
    if (p->count) qsort(p->parts, p->count, sizeof *p->parts, by_start);
    return 1;
}

/* Finds the times in which no scope of the request was open. */
static int list_gaps(piece *p)
{
    request *all = p->all;
    int64_t covered = all->start;
    size_t i, before = all->begin_track;
    p->gaps = (struct gap *)calloc(p->count + 1, sizeof *p->gaps);
    if (!p->gaps) return 0;
    for (i = 0; i <= p->count; i++) {
        const request_scope *next = i < p->count ? &all->scopes[p->parts[i]] : NULL;
        int64_t from = next ? next->start : all->end;
        if (from > covered && covered < all->end) {
            struct gap *gap = &p->gaps[p->gap_count++];
            gap->start = covered;
            gap->end = from < all->end ? from : all->end;
            gap->track = next ? next->track : all->end_track;
            gap->depth = next ? next->depth : 0;
            gap->next = i;
            gap->queued = gap->track != before;
        }
        if (!next) break;
        if (next->end >= covered) {
            covered = next->end;
            before = next->track;
        }
    }
    return 1;
}

static request_row *put_row(request *all, request_kind kind, size_t part, const char *name, size_t track,
                            int64_t start, int64_t end, uint32_t depth)
{
    request_row *to = (request_row *)add_item(&all->rows, &all->row_room, &all->row_count, sizeof *to);
    if (!to) return NULL;
    to->kind = kind;
    to->part = part;
    to->name = copy_text(name);
    to->track = track;
    to->start = start;
    to->end = end;
    to->depth = depth;
    return to->name ? to : NULL;
}

/* Writes "request 370", if it is known for what a thread worked at a time; else "". */
static const char *whose(const request *all, size_t track, int64_t ns, char *to, size_t size)
{
    const request_scope *best = NULL;
    size_t i;
    for (i = 0; i < all->scope_count; i++) {
        const request_scope *scope = &all->scopes[i];
        if (scope->track == track && scope->numbered && scope->start <= ns && scope->end >= ns &&
            (!best || scope->start >= best->start))
            best = scope;
    }
    *to = 0;
    if (best && best->step)
        why_add(to, size, "%s %lld", best->name, (long long)best->number);
    else if (best)
        why_add(to, size, "%s %llu", all->name, (unsigned long long)best->owner);
    return to;
}

/* Notes that the thread for which the request had to wait was in a scope meanwhile. */
static int put_busy(struct gap *gap, const char *what, int64_t ns)
{
    size_t i, k;
    gap->busy_ns += ns;
    for (i = 0; i < 3 && gap->busy[i].what && gap->busy[i].ns >= ns;) i++;
    if (i == 3) return 1;
    free(gap->busy[2].what);
    for (k = 2; k > i; k--) gap->busy[k] = gap->busy[k - 1];
    gap->busy[i].ns = ns;
    gap->busy[i].what = copy_text(what);
    return gap->busy[i].what != NULL;
}

static int look_gaps(piece *p, size_t track, const prof_event *event)
{
    int64_t end = event->start_ns + event->duration_ns, number;
    size_t i;
    for (i = 0; i < p->gap_count; i++) {
        struct gap *gap = &p->gaps[i];
        int64_t from = event->start_ns > gap->start ? event->start_ns : gap->start;
        int64_t to = end < gap->end ? end : gap->end;
        char what[1300], other[600];
        if (gap->track != track || to <= from || event->depth > gap->depth) continue;
        if (event->depth < gap->depth && end >= gap->end) continue; /* it is around what goes on */
        if (step_number(event, &number))
            snprintf(what, sizeof what, "%.600s %lld", event->name, (long long)number);
        else
            snprintf(what, sizeof what, "%.600s%s%s", *event->name ? event->name : "(unnamed)",
                     *whose(p->all, track, from, other, sizeof other) ? " of " : "", other);
        if (!put_busy(gap, what, to - from)) return 0;
    }
    return 1;
}

/* Makes rows of the scopes inside the parts, and finds what threads did in the gaps. */
static int look_row(request *all, size_t track, const prof_event *event, void *user)
{
    piece *p = (piece *)user;
    int64_t end = event->start_ns + event->duration_ns;
    size_t i;
    if (event->type != PROF_EVENT_SCOPE || event->site->role == PROF_ROLE_WAIT || !overlaps(all, event->start_ns, end))
        return 1;
    for (i = 0; i < p->count; i++) {
        const request_scope *part = &all->scopes[p->parts[i]];
        if (part->track != track || event->start_ns < part->start || end > part->end || event->depth <= part->depth)
            continue;
        if ((end - event->start_ns) * PARTS < all->end - all->start) {
            all->left_out++;
            return 1;
        }
        return put_row(all, REQUEST_INNER, i, event->name, track, event->start_ns, end, event->depth - part->depth) !=
               NULL;
    }
    return look_gaps(p, track, event);
}

/* Writes for what a gap was. */
static char *gap_words(const piece *p, const struct gap *gap)
{
    char line[3000] = "", thread[600], time[48];
    int64_t idle = gap->end - gap->start - gap->busy_ns;
    size_t i;
    why_thread(p->all->trace, gap->track, 0, thread, sizeof thread);
    for (i = 0; i < 3 && gap->busy[i].what; i++)
        why_add(line, sizeof line, "%s%s for %s", i ? ", " : " was busy with ", gap->busy[i].what,
                tool_ns(time, (double)gap->busy[i].ns));
    if (idle > 0 && i)
        why_add(line, sizeof line, ", and in no other scope for %s", tool_ns(time, (double)idle));
    else if (idle > 0)
        why_add(line, sizeof line, " was in no scope");
    i = strlen(line) + strlen(thread) + 8;
    {
        char *made = (char *)malloc(i);
        if (made) snprintf(made, i, "thread %s%s", thread, line);
        return made;
    }
}

static int put_gaps(piece *p)
{
    size_t i;
    for (i = 0; i < p->gap_count; i++) {
        const struct gap *gap = &p->gaps[i];
        request_row *row = put_row(p->all, REQUEST_GAP, gap->next, gap->queued ? "in queue" : "between its scopes",
                                   gap->track, gap->start, gap->end, 0);
        if (!row || !(row->why = gap_words(p, gap))) return 0;
    }
    return 1;
}

/* Writes for what a part of the request waited, and whose request the holder of a lock was at. */
static char *wait_words(const request *all, const prof_wait *wait)
{
    char line[3000] = "", other[700];
    prof_why_wait same;
    memset(&same, 0, sizeof same);
    same.kind = tool_wait_kind(wait);
    same.call = wait->call;
    same.name = wait->name;
    same.what = wait->what;
    same.object = wait->object;
    same.ns = (uint64_t)wait->duration_ns;
    same.count = 1;
    same.scope = wait->scope;
    same.holder = wait->holder;
    same.holder_track = wait->holder_track;
    same.holder_scope = wait->holder_scope;
    same.waker_track = wait->waker_track;
    same.waker_scope = wait->waker_scope;
    why_wait(all->trace, &same, line, sizeof line);
    if (wait->holder_track != PROF_NO_TRACK && *whose(all, wait->holder_track, wait->start_ns, other, sizeof other))
        why_add(line, sizeof line, ", which worked for %s", other);
    return copy_text(line);
}

/* Finds the innermost row of a part around a wait; NULL: none. */
static request_row *around(request *all, size_t part, const prof_wait *wait, size_t rows)
{
    request_row *found = NULL;
    size_t i;
    for (i = 0; i < rows; i++) {
        request_row *row = &all->rows[i];
        if (row->part == part && row->kind == REQUEST_INNER && (!found || row->depth > found->depth) &&
            row->start <= wait->start_ns && row->end >= wait->start_ns + wait->duration_ns)
            found = row;
    }
    return found;
}

static int put_waits(piece *p)
{
    request *all = p->all;
    size_t i, k, rows = all->row_count;
    for (k = 0; k < all->wait_count; k++) {
        const prof_wait *wait = &all->waits[k];
        int64_t end = wait->start_ns + wait->duration_ns;
        if (!wait->duration_ns || wait->duration_ns * PARTS < all->end - all->start) continue;
        for (i = 0; i < p->count; i++) {
            const request_scope *part = &all->scopes[p->parts[i]];
            request_row *row;
            if (part->track != wait->track || wait->start_ns < part->start || end > part->end) continue;
            row = around(all, i, wait, rows);
            if (row && !row->why && (row->end - row->start - wait->duration_ns) * 100 < wait->duration_ns)
                row->kind = REQUEST_WAIT; /* the scope is the wait */
            else
                row = put_row(all, REQUEST_WAIT, i, "wait", part->track, wait->start_ns, end, row ? row->depth + 1 : 1);
            if (!row || !(row->why = wait_words(all, wait))) return 0;
            break;
        }
    }
    return 1;
}

static int put_parts(piece *p)
{
    size_t i;
    for (i = 0; i < p->count; i++) {
        const request_scope *part = &p->all->scopes[p->parts[i]];
        char name[1200];
        snprintf(name, sizeof name, "%.1000s", part->name);
        if (part->step) why_add(name, sizeof name, " %lld", (long long)part->number);
        if (!put_row(p->all, REQUEST_SCOPE, i, name, part->track, part->start, part->end, 0)) return 0;
    }
    return 1;
}

static int by_place(const void *left, const void *right)
{
    const request_row *a = (const request_row *)left, *b = (const request_row *)right;
    int gap = (b->kind == REQUEST_GAP) - (a->kind == REQUEST_GAP);
    if (a->part != b->part) return a->part < b->part ? -1 : 1;
    if (gap) return gap;
    if (a->start != b->start) return a->start < b->start ? -1 : 1;
    return a->depth < b->depth ? -1 : a->depth > b->depth;
}

/*-- the critical path --*/

static size_t part_number(const piece *p, size_t scope)
{
    size_t top = part_of(p->all, scope), i;
    for (i = 0; top && i < p->count; i++)
        if (p->parts[i] == top - 1) return i;
    return REQUEST_NONE;
}

/* Did a thread wait in this time, up to its end or nearly so? */
static int waited(const request *all, size_t track, int64_t from, int64_t to)
{
    size_t i;
    for (i = 0; i < all->wait_count; i++)
        if (all->waits[i].track == track && all->waits[i].start_ns < to &&
            all->waits[i].start_ns + all->waits[i].duration_ns > from)
            return 1;
    return 0;
}

/* Did a thread wait for a flow? It did if a wait was recorded, or if it took the flow up as soon as it came: then it
   lay there for less than a twentieth of the time that it took to make. */
static int waited_for(const piece *p, const request_point *from, const request_point *to)
{
    int64_t made = from->ns - p->all->scopes[p->parts[part_number(p, from->scope)]].start;
    return waited(p->all, to->track, from->ns, to->ns) || (to->ns - from->ns) * 20 < made;
}

/* Finds the flow that led to a part: the last one by `until` for which it waited or, if `first`, the first one. Returns
   the point where it left another part, or NULL. */
static const request_point *led_by(const piece *p, size_t part, int64_t until, int first, int64_t *arrived)
{
    const request *all = p->all;
    const request_point *found = NULL;
    size_t i, k;
    for (i = 0; i < all->point_count; i++) {
        const request_point *to = &all->points[i], *from = NULL;
        if (!to->name || to->out || !to->followed || to->ns > until || part_number(p, to->scope) != part) continue;
        for (k = i; k-- && all->points[k].id == to->id && !from;)
            if (leads(&all->points[k], to)) from = &all->points[k];
        if (!from || from->ns >= until || part_number(p, from->scope) == REQUEST_NONE ||
            part_number(p, from->scope) == part)
            continue;
        if (!first && !waited_for(p, from, to)) continue;
        if (found && (first ? to->ns > *arrived : to->ns < *arrived)) continue;
        found = from;
        *arrived = to->ns;
    }
    return found;
}

static int put_path(piece *p, size_t part, int64_t start, int64_t end)
{
    request *all = p->all;
    request_part *to;
    size_t i;
    if (end <= start) return 1;
    to = (request_part *)add_item(&all->path, &all->path_room, &all->path_count, sizeof *to);
    if (!to) return 0;
    to->row = REQUEST_NONE;
    to->start = start;
    to->end = end;
    for (i = 0; i < all->row_count; i++) {
        request_row *row = &all->rows[i];
        if (part == REQUEST_NONE ? row->kind != REQUEST_GAP || row->start > start || row->end < end
                                 : row->kind != REQUEST_SCOPE || row->part != part)
            continue;
        to->row = i;
        row->critical = 1;
    }
    return 1;
}

/* Finds the part that ended last before a time, or was going on at it. */
static size_t part_before(const piece *p, size_t not_this, int64_t at)
{
    size_t best = REQUEST_NONE, i;
    for (i = 0; i < p->count; i++) {
        const request_scope *each = &p->all->scopes[p->parts[i]];
        if (i == not_this || each->start >= at) continue;
        if (best == REQUEST_NONE || each->end > p->all->scopes[p->parts[best]].end) best = i;
    }
    return best;
}

/* Goes back from the end of the request: from each part to the one by whose flow it began, or for which it waited. */
static int find_path(piece *p)
{
    request *all = p->all;
    int64_t at = all->end, arrived = 0;
    size_t part = part_before(p, REQUEST_NONE, at), i;
    if (part != REQUEST_NONE && all->scopes[p->parts[part]].end < at) {
        if (!put_path(p, REQUEST_NONE, all->scopes[p->parts[part]].end, at)) return 0;
        at = all->scopes[p->parts[part]].end;
    }
    while (part != REQUEST_NONE && at > all->start) {
        const request_scope *scope = &all->scopes[p->parts[part]];
        const request_point *from = led_by(p, part, at, 0, &arrived);
        int64_t begin = from && from->ns > scope->start ? arrived : scope->start;
        size_t next;
        if (!put_path(p, part, begin > all->start ? begin : all->start, at)) return 0;
        at = begin;
        if (!from || from->ns <= scope->start) from = led_by(p, part, INT64_MAX, 1, &arrived);
        if (from && from->ns > at) from = NULL;
        next = from ? part_number(p, from->scope) : part_before(p, part, at);
        if (next == REQUEST_NONE) break;
        begin = all->scopes[p->parts[next]].end;
        if (begin > at) begin = from ? from->ns : at; /* it went on after the flow had left it */
        if (!put_path(p, REQUEST_NONE, begin > all->start ? begin : all->start, at)) return 0;
        at = begin;
        part = next;
    }
    if (at > all->start && !put_path(p, REQUEST_NONE, all->start, at)) return 0;
    for (i = 0; i < all->path_count / 2; i++) {
        request_part swap = all->path[i];
        all->path[i] = all->path[all->path_count - 1 - i];
        all->path[all->path_count - 1 - i] = swap;
    }
    return 1;
}

/*-- all of it --*/

static int find_rows(request *all, piece *p, prof_status *status)
{
    int good = list_parts(p) && list_gaps(p) && put_parts(p);
    if (good) good = each_event(all, status, look_row, p);
    if (!good || *status) return good;
    good = put_gaps(p) && put_waits(p);
    if (good && all->row_count) qsort(all->rows, all->row_count, sizeof *all->rows, by_place);
    return good && find_path(p);
}

/* Finds how long spans, or steps, of this name take. */
static prof_status find_median(request *all)
{
    prof_stat *stats;
    size_t count, i;
    prof_status status = all->step ? prof_stats(all->trace, PROF_SORT_TOTAL, 0, &stats, &count)
                                   : prof_span_stats(all->trace, PROF_SORT_TOTAL, 0, &stats, &count);
    for (i = 0; !status && i < count; i++)
        if (tool_same(stats[i].name, all->name) && stats[i].count - stats[i].truncated > all->count_all) {
            all->count_all = stats[i].count - stats[i].truncated;
            all->median = stats[i].p50_ns;
        }
    if (!status) prof_stats_free(stats);
    return status;
}

/* Says that there is no such request, and what there is. */
static int none(const request *all, const int64_t *at)
{
    char name[200] = "";
    if (all->wanted) snprintf(name, sizeof name, " of the name '%.100s'", all->wanted);
    return tool_fail("no span and no step%s has the number %llu%s: prof summary lists spans and steps by name", name,
                     (unsigned long long)all->id, at ? " at this time" : "");
}

static int find_points(request *all, prof_status *status)
{
    walk *w = (walk *)calloc(1, sizeof *w);
    int good = w != NULL;
    if (w) w->track = REQUEST_NONE;
    if (good) good = each_event(all, status, look_point, w);
    for (size_t i = 0; w && i < DEEPEST; i++) free(w->texts[i]);
    free(w);
    if (good) follow(all);
    return good;
}

int request_find(request *all, const int64_t *at)
{
    prof_status status = PROF_OK;
    piece p;
    size_t i;
    int64_t when = at ? *at : 0;
    int good = find_span(all, at, &status);
    memset(&p, 0, sizeof p);
    p.all = all;
    if (good && !status) good = each_event(all, &status, look_step, at ? &when : NULL);
    if (good && !status && !all->name) return none(all, at);
    if (good && !status)
        good = all->step ? each_event(all, &status, look_ids, NULL) : find_relatives(all, &status);
    if (good && !status && all->id_count) qsort(all->ids, all->id_count, sizeof *all->ids, by_number);
    if (good && !status) good = find_points(all, &status);
    if (good && !status) status = prof_waits(all->trace, &all->waits, &all->wait_count);
    if (good && !status) good = find_rows(all, &p, &status);
    if (good && !status) status = find_median(all);
    for (i = 0; i < p.gap_count; i++) {
        free(p.gaps[i].busy[0].what);
        free(p.gaps[i].busy[1].what);
        free(p.gaps[i].busy[2].what);
    }
    free(p.gaps);
    free(p.parts);
    return good ? tool_status(status) : tool_fail("out of memory");
}

void request_free(request *all)
{
    size_t i;
    for (i = 0; i < all->key_count; i++) free(all->keys[i]);
    for (i = 0; i < all->scope_count; i++) free(all->scopes[i].name);
    for (i = 0; i < all->relative_count; i++) free(all->relatives[i].name);
    for (i = 0; i < all->row_count; i++) {
        free(all->rows[i].name);
        free(all->rows[i].why);
    }
    free(all->name);
    free(all->ids);
    free(all->keys);
    free(all->scopes);
    free(all->points);
    free(all->relatives);
    free(all->rows);
    free(all->path);
    prof_waits_free(all->waits);
}
