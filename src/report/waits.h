// report/waits: prof_waits(): where threads waited in calls of the C library, and for locks; who held the lock, and who
// woke them.
#ifndef PROF__REPORT_WAITS_H
#define PROF__REPORT_WAITS_H
#include "api/read.h"
#include "api/reports.h"
#include "api/values.h"
#include "ground/errors.h"
#include "ground/hash.h"
#include "ground/numbers.h"
#include "read/faults.h"
#include "read/records.h"
#include "read/timeline.h"
#include "read/trace.h"
#include "report/allocations.h"
#include "report/locks.h"

/*-- WAITS ------------------------------------------------------------------------------------------ >>waits_read --
   prof_waits() walks over the events of all tracks in order of time, and keeps the open scopes of each track. So it
   knows in which scope a thread was when another began to wait for it, or was woken by it. The markup of locks says
   likewise who waits for whom: what prof_locks() counts is followed here, too. A wait that both have becomes one. */

typedef struct prof__waits_scope {
    const char *name;
    char *text; /* owned: the name, if it was made at run time; else NULL */
    int64_t end;
    size_t wait; /* the number of the wait that it is; PROF__WAITS_LOCK; or PROF__NONE */
} prof__waits_scope;
#define PROF__WAITS_LOCK (PROF__NONE - 1) /* a scope of PROFILE_MUTEX_LOCK: the wait comes when it is over */

typedef struct prof__waits_track {
    prof__waits_scope *scopes; /* by depth */
    size_t count, capacity;    /* count: the depth of the last scope + 1 */
    size_t last;               /* the number of the track's last wait + 1; 0: it had none */
    int64_t faulted;           /* when its last page fault ended */
} prof__waits_track;

/* Who had a lock when a thread began to wait for it, by the number of that user of the lock. */
typedef struct prof__waits_holder {
    size_t track;
    const char *scope;
} prof__waits_holder;

typedef struct prof__waits_arrow {
    uint64_t id;
    size_t track;
    int64_t ns;
    const char *scope;
} prof__waits_arrow;

/* What prof_waits() returns, and the names in it that were made at run time, which prof_waits_free() frees. */
typedef struct prof__waits_block {
    char **texts;
    size_t text_count;
    prof_wait waits[1];
} prof__waits_block;

typedef struct prof__waits {
    const prof_trace *trace;
    size_t track_count;
    prof__waits_track *tracks;
    prof_wait *waits;
    prof__waits_arrow *arrows;
    char **texts;
    size_t count, capacity, arrow_count, arrow_capacity, text_count, text_capacity;
    prof__read_index arrow_index;
    prof__locks locks;
    prof__waits_holder *holders;
    size_t holder_count, holder_capacity;
    size_t fault; /* the next of the trace's page faults */
} prof__waits;

static int prof__waits_same_arrow(const void *owner, size_t item, const void *key)
{
    return ((const prof__waits_arrow *)owner)[item].id == *(const uint64_t *)key;
}

/* Returns the innermost scope of a track at a time, which is no wait itself; NULL: none. */
static prof__waits_scope *prof__waits_scope_at(const prof__waits *all, size_t track, int64_t ns)
{
    const prof__waits_track *t = &all->tracks[track];
    for (size_t depth = t->count; depth--;)
        if (t->scopes[depth].end >= ns && t->scopes[depth].wait == PROF__NONE) return &t->scopes[depth];
    return NULL;
}

/* Returns the name of that scope, which lives as long as the result of prof_waits(); "": no scope. NULL without
   memory. */
static const char *prof__waits_name_at(prof__waits *all, size_t track, int64_t ns)
{
    prof__waits_scope *scope = prof__waits_scope_at(all, track, ns);
    char **keep;
    if (!scope) return "";
    if (!scope->text) return scope->name;
    keep = (char **)PROF__MORE(all->texts, all->text_capacity, all->text_count);
    if (keep) *keep = prof__text_join(scope->text, "");
    return keep ? *keep : NULL;
}

/* Returns the track of a thread that was there at a time: of several with this id, which the system may use again, the
   last one that had begun. */
static size_t prof__waits_track_of(const prof__waits *all, uint64_t thread, int64_t ns)
{
    size_t found = PROF_NO_TRACK;
    int64_t first = 0;
    for (size_t i = 0; i < all->track_count; i++) {
        const prof_track *track = prof_trace_track(all->trace, i);
        if (track->fiber || track->device[0] || track->thread_id != thread || track->first_ns > ns) continue;
        if (found != PROF_NO_TRACK && track->first_ns < first) continue;
        found = i;
        first = track->first_ns;
    }
    return found;
}

static void prof__waits_args(prof_wait *wait, const prof_event *event)
{
    for (uint32_t i = 0; i < event->arg_count; i++) {
        const prof_arg *arg = &event->args[i];
        if (!strcmp(arg->key, "holder")) {
            wait->holder = arg->value.as.u;
        } else if (!strcmp(arg->key, "wait_ns")) { /* the scope does not show all of it, but has its end */
            int64_t end = wait->start_ns + wait->duration_ns; /* the wait may have begun before the session */
            wait->duration_ns = (int64_t)(arg->value.as.u < PROF__FAR_NS ? arg->value.as.u : PROF__FAR_NS);
            wait->start_ns = end - wait->duration_ns;
        } else {
            static const char *const keys[] = {"lock", "condition", "semaphore", "futex", "barrier", "thread", "fd",
                                               "fds", "pid"};
            for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
                if (!strcmp(arg->key, keys[k])) wait->what = keys[k];
            wait->object = arg->value.as.u;
        }
    }
}

/* Adds a wait. Returns NULL without memory. */
static prof_wait *prof__waits_more(prof__waits *all, size_t track)
{
    prof_wait *wait = (prof_wait *)PROF__MORE(all->waits, all->capacity, all->count);
    if (!wait) return NULL;
    wait->call = wait->what = wait->name = wait->holder_scope = wait->waker_scope = "";
    wait->track = track;
    wait->holder_track = wait->waker_track = PROF_NO_TRACK;
    all->tracks[track].last = all->count;
    return wait;
}

/* Adds a wait in a call. Returns its number, or PROF__NONE without memory. */
static size_t prof__waits_add(prof__waits *all, const prof_event *event, size_t track)
{
    prof_wait *wait = prof__waits_more(all, track);
    if (!wait) return PROF__NONE;
    wait->call = event->site->name;
    wait->start_ns = event->start_ns;
    wait->duration_ns = event->duration_ns;
    wait->flags = event->flags;
    prof__waits_args(wait, event);
    wait->scope = prof__waits_name_at(all, track, event->start_ns);
    if (wait->holder) wait->holder_track = prof__waits_track_of(all, wait->holder, event->start_ns);
    if (wait->holder_track != PROF_NO_TRACK)
        wait->holder_scope = prof__waits_name_at(all, wait->holder_track, wait->start_ns);
    return wait->scope && wait->holder_scope ? all->count - 1 : PROF__NONE;
}

/* Returns 0 without memory. */
static int prof__waits_scope_begins(prof__waits *all, const prof_event *event, size_t track)
{
    prof__waits_track *t = &all->tracks[track];
    prof__waits_scope *scope;
    size_t wait = PROF__NONE;
    if (t->count > event->depth) t->count = event->depth;
    if (event->site->role == PROF_ROLE_WAIT && (wait = prof__waits_add(all, event, track)) == PROF__NONE) return 0;
    while (t->count <= event->depth) { /* scopes between may lie outside of the window: then they have no name */
        if (!PROF__ROOM(t->scopes, t->capacity, t->count + 1)) return 0;
        scope = &t->scopes[t->count++];
        memset(scope, 0, sizeof *scope);
        scope->name = "";
        scope->end = event->start_ns - 1;
        scope->wait = PROF__NONE;
    }
    scope = &t->scopes[event->depth];
    scope->name = event->name;
    scope->end = event->start_ns + event->duration_ns;
    scope->wait = wait;
    if (event->name != event->site->name && !(scope->text = prof__text_join(event->name, ""))) return 0;
    return 1;
}

static int prof__waits_arrow_begins(prof__waits *all, const prof_event *event, size_t track)
{
    uint32_t hash = (uint32_t)prof__mix(event->object);
    size_t item = PROF__NEW(all->arrow_index, hash, all->arrows, all->arrow_capacity, all->arrow_count);
    prof__waits_arrow *arrow;
    if (item == PROF__NONE) return 0;
    arrow = &all->arrows[item];
    arrow->id = event->object;
    arrow->track = track;
    arrow->ns = event->start_ns;
    arrow->scope = prof__waits_name_at(all, track, event->start_ns);
    return arrow->scope != NULL;
}

static void prof__waits_arrow_ends(prof__waits *all, const prof_event *event, size_t track)
{
    const prof__waits_track *t = &all->tracks[track];
    uint64_t id = event->object;
    size_t item = prof__read_find(&all->arrow_index, (uint32_t)prof__mix(id), prof__waits_same_arrow, all->arrows, &id);
    const prof__waits_scope *scope = t->count ? &t->scopes[t->count - 1] : NULL;
    prof_wait *wait;
    if (item == PROF__NONE || !scope || scope->wait >= PROF__WAITS_LOCK) return;
    wait = &all->waits[scope->wait];
    wait->waker_track = all->arrows[item].track;
    wait->waker_scope = all->arrows[item].scope;
    wait->woken_ns = all->arrows[item].ns;
}

/*-- the markup of locks --*/

/* Notes who has a lock that a thread begins to wait for, and that PROFILE_MUTEX_LOCK's scope is that wait. */
static int prof__waits_lock_begins(prof__waits *all, const prof_event *event, size_t track)
{
    const prof__locks *locks = &all->locks;
    const prof__lock_state *lock = &locks->locks[locks->users[locks->done.user].lock];
    prof__waits_track *t = &all->tracks[track];
    prof__waits_scope *scope = t->count ? &t->scopes[t->count - 1] : NULL;
    size_t user = lock->holder;
    prof__waits_holder *holder;
    if (event->detail & 1 && scope && scope->wait == PROF__NONE && !strncmp(scope->name, "wait for ", 9))
        scope->wait = PROF__WAITS_LOCK;
    while (all->holder_count <= locks->done.user)
        if (!PROF__MORE(all->holders, all->holder_capacity, all->holder_count)) return 0;
    holder = &all->holders[locks->done.user];
    holder->track = PROF_NO_TRACK;
    holder->scope = "";
    if (!lock->holders) return 1;
    if (!locks->users[user].depth || locks->users[user].track == track) user = lock->holder_before;
    if (!locks->users[user].depth || locks->users[user].track == track) return 1;
    holder->track = locks->users[user].track;
    holder->scope = prof__waits_name_at(all, holder->track, event->start_ns);
    return holder->scope != NULL;
}

/* Adds the wait for a lock that has ended. If a call of the C library was that wait, gives it the name of the lock. */
static int prof__waits_lock_ends(prof__waits *all, const prof_event *event, size_t track)
{
    const prof__locks *locks = &all->locks;
    const prof_lock_row *row = &locks->rows[locks->locks[locks->users[locks->done.user].lock].row];
    const char *name = strcmp(row->category, "wait") ? row->name : ""; /* that category: no markup named it */
    const prof__waits_holder *holder = &all->holders[locks->done.user];
    size_t last = all->tracks[track].last;
    prof_wait *wait = last ? &all->waits[last - 1] : NULL;
    if (wait && *wait->call && wait->object == event->object && !strcmp(wait->what, "lock") &&
        wait->start_ns + wait->duration_ns >= locks->done.start) {
        wait->name = name;
        return 1;
    }
    if (!(wait = prof__waits_more(all, track))) return 0;
    wait->what = "lock";
    wait->name = name;
    wait->object = event->object;
    wait->start_ns = locks->done.start;
    wait->duration_ns = event->start_ns - locks->done.start;
    wait->holder_track = holder->track;
    wait->holder_scope = holder->scope;
    if (holder->track != PROF_NO_TRACK) wait->holder = prof_trace_track(all->trace, holder->track)->thread_id;
    wait->scope = prof__waits_name_at(all, track, wait->start_ns);
    return wait->scope != NULL;
}

static int prof__waits_lock(prof__waits *all, const prof_event *event, size_t track)
{
    if (!prof__locks_step(&all->locks, event, track)) return 0;
    if (event->type == PROF_EVENT_LOCK_WAIT) return prof__waits_lock_begins(all, event, track);
    return all->locks.done.part != PROF__LOCK_WAITED || !all->locks.done.contended ||
           prof__waits_lock_ends(all, event, track);
}

/* Adds the page faults before a time. Returns 0 without memory. */
static int prof__waits_faults(prof__waits *all, int64_t until)
{
    const prof_trace *trace = all->trace;
    for (; all->fault < trace->fault_count && trace->faults[all->fault].ns < until; all->fault++) {
        const prof__read_fault *fault = &trace->faults[all->fault];
        size_t track = prof__waits_track_of(all, fault->thread, fault->ns);
        int64_t start = fault->ns, end = fault->ns;
        prof_wait *wait;
        if (track == PROF_NO_TRACK) continue;
        prof__fault_wait(trace, track, fault->ns, all->tracks[track].faulted, &start, &end);
        all->tracks[track].faulted = fault->ns;
        if (start < trace->info.from_ns || (trace->info.to_ns && end > trace->info.to_ns)) continue;
        if (!(wait = prof__waits_more(all, track))) return 0;
        wait->call = "page fault";
        wait->what = "page";
        wait->name = trace->names[fault->file];
        wait->object = fault->address;
        wait->start_ns = start;
        wait->duration_ns = end - start;
        wait->scope = prof__waits_name_at(all, track, start);
        if (!wait->scope) return 0;
    }
    return 1;
}

static int prof__waits_step(prof__waits *all, const prof_event *event, size_t track)
{
    if (!prof__waits_faults(all, event->start_ns)) return 0;
    if (event->type == PROF_EVENT_SCOPE) {
        prof__waits_track *t = &all->tracks[track];
        for (size_t i = event->depth; i < t->count; i++) { /* those at this depth and below have ended */
            free(t->scopes[i].text);
            t->scopes[i].text = NULL;
        }
        return prof__waits_scope_begins(all, event, track);
    }
    if (event->type == PROF_EVENT_LOST || prof__event_group(event->type) == PROF__GROUP_LOCK)
        return prof__waits_lock(all, event, track);
    if (strcmp(event->site->category, "wait")) return 1; /* another flow */
    if (event->type == PROF_EVENT_FLOW_OUT) return prof__waits_arrow_begins(all, event, track);
    if (event->type == PROF_EVENT_FLOW_IN) prof__waits_arrow_ends(all, event, track);
    return 1;
}

static prof_status prof__waits_walk(prof__waits *all)
{
    prof_timeline *timeline = NULL;
    prof_event event;
    size_t track;
    int good = 1;
    prof_status status = prof_timeline_open(all->trace, &timeline), closed;
    while (!status && good && prof_timeline_next(timeline, &event, &track)) good = prof__waits_step(all, &event, track);
    good = good && (status || prof__waits_faults(all, INT64_MAX));
    closed = prof_timeline_close(timeline);
    return status ? status : !good ? prof__no_memory("for the waits") : closed;
}

static int prof__waits_order(const void *a, const void *b)
{
    const prof_wait *x = (const prof_wait *)a, *y = (const prof_wait *)b;
    if (x->start_ns != y->start_ns) return x->start_ns < y->start_ns ? -1 : 1;
    return x->track < y->track ? -1 : x->track > y->track;
}

static prof__waits_block *prof__waits_copy(const prof__waits *all)
{
    size_t size = offsetof(prof__waits_block, waits) + (all->count + 1) * sizeof(prof_wait);
    prof__waits_block *block = (prof__waits_block *)malloc(size);
    if (!block) return NULL;
    if (all->count) memcpy(block->waits, all->waits, all->count * sizeof *all->waits);
    if (all->count) qsort(block->waits, all->count, sizeof *block->waits, prof__waits_order);
    block->texts = all->texts;
    block->text_count = all->text_count;
    return block;
}

static void prof__waits_texts_free(char **texts, size_t count)
{
    while (count--) free(texts[count]);
    free(texts);
}

static void prof__waits_close(prof__waits *all)
{
    for (size_t i = 0; all->tracks && i < all->track_count; i++) {
        for (size_t k = 0; k < all->tracks[i].count; k++) free(all->tracks[i].scopes[k].text);
        free(all->tracks[i].scopes);
    }
    free(all->tracks);
    free(all->waits);
    free(all->arrows);
    free(all->arrow_index.slots);
    free(all->holders);
    prof__locks_close(&all->locks);
}

PROF_DEF prof_status prof_waits(const prof_trace *trace, prof_wait **waits, size_t *count)
{
    PROF__CALM();
    prof__waits all;
    prof__waits_block *block = NULL;
    prof_status status = PROF_OK;
    if (!trace || !waits || !count) return prof__null("prof_waits", "trace, waits or count");
    *waits = NULL;
    *count = 0;
    if (!prof__has_role(trace, PROF_ROLE_WAIT) && !prof__has_role(trace, PROF_ROLE_LOCK) && !trace->fault_count)
        return PROF_OK;
    memset(&all, 0, sizeof all);
    all.trace = trace;
    all.track_count = prof_trace_track_count(trace);
    prof__locks_begin(&all.locks, trace, 1);
    all.tracks = (prof__waits_track *)calloc(all.track_count + 1, sizeof *all.tracks);
    status = all.tracks && !all.locks.status ? prof__waits_walk(&all) : prof__no_memory("for the waits");
    if (!status && all.count && !(block = prof__waits_copy(&all))) status = prof__no_memory("for the waits");
    if (block) {
        *waits = block->waits;
        *count = all.count;
    } else {
        prof__waits_texts_free(all.texts, all.text_count);
    }
    prof__waits_close(&all);
    return status;
}

PROF_DEF void prof_waits_free(prof_wait *waits)
{
    prof__waits_block *block;
    if (!waits) return;
    block = (prof__waits_block *)(void *)((char *)waits - offsetof(prof__waits_block, waits));
    prof__waits_texts_free(block->texts, block->text_count);
    free(block);
}

#endif /* PROF__REPORT_WAITS_H */
