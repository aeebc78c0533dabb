/* request_rows.c - prof request: the waterfall of a request, which request.c has found, and its critical path. */
#include "request.h"
#include <stdlib.h>
#include <string.h>

#define PARTS 500 /* scopes shorter than such a part of the request have no row */
#define BUSY 3    /* of a gap: in how many scopes it is said that a thread was */

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
        } busy[BUSY];
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
    request_row *to = (request_row *)request_item(&all->rows, &all->row_room, &all->row_count, sizeof *to);
    if (!to) return NULL;
    to->kind = kind;
    to->part = part;
    to->name = request_text(name);
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
    for (i = 0; i < BUSY && gap->busy[i].what && gap->busy[i].ns >= ns;) i++;
    if (i == BUSY) return 1;
    free(gap->busy[BUSY - 1].what);
    for (k = BUSY - 1; k > i; k--) gap->busy[k] = gap->busy[k - 1];
    gap->busy[i].ns = ns;
    gap->busy[i].what = request_text(what);
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
        if (request_step(event, &number))
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
    if (event->type != PROF_EVENT_SCOPE || event->site->role == PROF_ROLE_WAIT) return 1;
    if (!request_overlaps(all, event->start_ns, end)) return 1;
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
    char line[3700] = "thread ", thread[600], time[48];
    int64_t idle = gap->end - gap->start - gap->busy_ns;
    size_t i;
    why_thread(p->all->trace, gap->track, 0, thread, sizeof thread);
    why_add(line, sizeof line, "%s", thread);
    for (i = 0; i < BUSY && gap->busy[i].what; i++)
        why_add(line, sizeof line, "%s%s for %s", i ? ", " : " was busy with ", gap->busy[i].what,
                tool_ns(time, (double)gap->busy[i].ns));
    if (idle > 0 && i)
        why_add(line, sizeof line, ", and in no other scope for %s", tool_ns(time, (double)idle));
    else if (idle > 0)
        why_add(line, sizeof line, " was in no scope");
    return request_text(line);
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
    return request_text(line);
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
    size_t top = request_part_of(p->all, scope), i;
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
            if (request_leads(&all->points[k], to)) from = &all->points[k];
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
    to = (request_part *)request_item(&all->path, &all->path_room, &all->path_count, sizeof *to);
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

/* Puts the path, which was found from its end on, in order of time. */
static void turn_path(request *all)
{
    size_t i;
    for (i = 0; i < all->path_count / 2; i++) {
        request_part swap = all->path[i];
        all->path[i] = all->path[all->path_count - 1 - i];
        all->path[all->path_count - 1 - i] = swap;
    }
}

/* Goes back from the end of the request: from each part to the one by whose flow it began, or for which it waited. */
static int find_path(piece *p)
{
    request *all = p->all;
    int64_t at = all->end, arrived = 0;
    size_t part = part_before(p, REQUEST_NONE, at);
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
    turn_path(all);
    return 1;
}

/*-- all of it --*/

static int make_rows(piece *p, prof_status *status)
{
    request *all = p->all;
    int good = list_parts(p) && list_gaps(p) && put_parts(p);
    if (good) good = request_each(all, status, look_row, p);
    if (!good || *status) return good;
    good = put_gaps(p) && put_waits(p);
    if (good && all->row_count) qsort(all->rows, all->row_count, sizeof *all->rows, by_place);
    return good && find_path(p);
}

int request_rows(request *all, prof_status *status)
{
    piece p;
    size_t i, k;
    int good;
    memset(&p, 0, sizeof p);
    p.all = all;
    good = make_rows(&p, status);
    for (i = 0; i < p.gap_count; i++)
        for (k = 0; k < BUSY; k++) free(p.gaps[i].busy[k].what);
    free(p.gaps);
    free(p.parts);
    return good;
}
