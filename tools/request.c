/* request.c - prof request: finds what is known of a request: a span, or a step if no span has its number. Its scopes
   are found by what connects them with it: the begin, the end and the marks of the span; flows with its id, and those
   that begin in its scopes; steps with its number; arguments of the span's or a step's name that are its id. Of the
   scopes around such a point, the outermost counts that has no point of another request, and does not last longer. */
#include "request.h"
#include <stdlib.h>
#include <string.h>

#define DEEPEST 4096

void *request_item(void *array, size_t *room, size_t *count, size_t size)
{
    char *items;
    if (!tool_room(array, room, *count, size)) return NULL;
    memcpy(&items, array, sizeof items);
    return memset(items + (*count)++ * size, 0, size);
}

char *request_text(const char *text)
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
    all->name = request_text(name);
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
        (request_relative *)request_item(&all->relatives, &all->relative_room, &all->relative_count, sizeof *to);
    if (!to) return 0;
    to->name = request_text(span->name);
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

int request_step(const prof_event *event, int64_t *number)
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
    all->keys[all->key_count] = request_text(name);
    return all->keys[all->key_count++] != NULL;
}

int request_each(request *all, prof_status *status, request_look *look, void *user)
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
    if (!request_step(event, &number) || (uint64_t)number != all->id) return 1;
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
    if (!request_step(event, &number) || !tool_same(event->name, all->name)) return 1;
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

int request_overlaps(const request *all, int64_t start, int64_t end)
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
    to = (request_scope *)request_item(&all->scopes, &all->scope_room, &all->scope_count, sizeof *to);
    if (!to) return REQUEST_NONE;
    *to = w->open[level];
    to->name = request_text(w->open[level].name);
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
    to = (request_point *)request_item(&all->points, &all->point_room, &all->point_count, sizeof *to);
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

/* Opens a scope. Returns NULL without memory. */
static request_scope *open_scope(walk *w, const prof_event *event)
{
    request_scope *scope = &w->open[w->depth];
    int64_t number;
    w->rows[w->depth] = REQUEST_NONE;
    memset(scope, 0, sizeof *scope);
    scope->name = (char *)(uintptr_t)event->name;
    if (event->name != event->site->name) {
        free(w->texts[w->depth]);
        scope->name = w->texts[w->depth] = request_text(event->name);
        if (!scope->name) return NULL;
    }
    scope->track = w->track;
    scope->start = event->start_ns;
    scope->end = event->start_ns + event->duration_ns;
    scope->depth = event->depth;
    if (request_step(event, &number)) {
        scope->step = scope->numbered = 1;
        scope->number = number;
        scope->owner = (uint64_t)number;
    }
    w->depth++;
    return scope;
}

static int enter(request *all, walk *w, const prof_event *event)
{
    request_scope *scope;
    size_t row;
    if (w->depth == DEEPEST) return 1;
    scope = open_scope(w, event);
    if (!scope) return 0;
    if (!(scope->step && scope->owner == all->id) && !is_own_argument(all, event))
        return !scope->step || put_other(all, w, scope->owner);
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
        return !request_overlaps(all, event->start_ns, event->start_ns + event->duration_ns) ||
               event->site->role == PROF_ROLE_WAIT || enter(all, w, event);
    if (event->type < PROF_EVENT_SPAN_BEGIN || event->type > PROF_EVENT_FLOW_IN) return 1;
    if (event->type <= PROF_EVENT_SPAN_END && (all->step || !tool_same(event->name, all->name))) return 1;
    if (is_another(all, event->object)) return put_other(all, w, event->object); /* of a scope in its time, at any */
    return !request_overlaps(all, event->start_ns, event->start_ns) || put_point(all, w, event);
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

size_t request_part_of(const request *all, size_t row)
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

int request_leads(const request_point *from, const request_point *to)
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
            if (!request_part_of(all, from->scope)) continue;
            from->followed = more = 1;
            for (k = i + 1; k < all->point_count && all->points[k].id == from->id; k++) {
                if (!request_leads(from, &all->points[k]) || all->points[k].followed) continue;
                all->points[k].followed = 1;
                own(all, all->points[k].scope);
            }
        }
    }
    for (i = 0; i < all->scope_count; i++) /* what is inside another part is not one of its own */
        if (all->scopes[i].own && request_part_of(all, all->scopes[i].parent)) all->scopes[i].own = 0;
}

/*-- all of it --*/

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
    if (good) good = request_each(all, status, look_point, w);
    for (size_t i = 0; w && i < DEEPEST; i++) free(w->texts[i]);
    free(w);
    if (good) follow(all);
    return good;
}

/* Finds the span or the step: what all->name and so on say. Finds nothing if there is none. */
static int find_it(request *all, const int64_t *at, prof_status *status)
{
    int64_t when = at ? *at : 0;
    int good = find_span(all, at, status);
    return good && !*status ? request_each(all, status, look_step, at ? &when : NULL) : good;
}

/* Finds what belongs to it. */
static int find_parts(request *all, prof_status *status)
{
    int good = all->step ? request_each(all, status, look_ids, NULL) : find_relatives(all, status);
    if (!good || *status) return good;
    if (all->id_count) qsort(all->ids, all->id_count, sizeof *all->ids, by_number);
    good = find_points(all, status);
    if (!good || *status) return good;
    *status = prof_waits(all->trace, &all->waits, &all->wait_count);
    return *status ? 1 : request_rows(all, status);
}

int request_find(request *all, const int64_t *at)
{
    prof_status status = PROF_OK;
    int good = find_it(all, at, &status);
    if (good && !status && !all->name) return none(all, at);
    if (good && !status) good = find_parts(all, &status);
    if (good && !status) status = find_median(all);
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
