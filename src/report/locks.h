// report/locks: prof_locks(): how long threads waited for each lock and held it.
#ifndef PROF__REPORT_LOCKS_H
#define PROF__REPORT_LOCKS_H
#include "api/read.h"
#include "api/reports.h"
#include "api/values.h"
#include "ground/errors.h"
#include "ground/hash.h"
#include "ground/numbers.h"
#include "read/timeline.h"
#include "report/allocations.h"

/*-- LOCKS -------------------------------------------------------------------------------------------------- >>locks --
   prof_locks() walks over the events of all tracks in order of time, as prof_memory() does. A lock is identified by its
   address, as long as the name at that address stays the same. Waits, acquires and releases are matched within each
   thread, so small differences between the threads' clocks do not matter. */

typedef struct prof__lock_state {
    uint64_t address;
    size_t row;
    uint64_t acquired;        /* how often any thread acquired it */
    uint64_t holders, waiting; /* how many threads hold it, and how many wait for it */
    size_t holder, holder_before; /* the last user to hold it, and the last other one; equal: there was no other */
    int64_t released_ns;
} prof__lock_state;

/* What is known of a lock on one track. */
typedef struct prof__lock_user {
    size_t lock, track;
    uint64_t depth;    /* how many of its acquires have no release yet */
    uint64_t losses;   /* the count of the track's losses when this was last updated */
    uint64_t acquired; /* the lock's `acquired` when this user began to wait */
    int64_t wait_ns, hold_ns; /* when the wait or hold began */
    int waits, contended;
    int scoped; /* 1: the wait is also a scope, made by PROFILE_MUTEX_LOCK */
} prof__lock_user;

typedef enum prof__lock_part {
    PROF__LOCK_NOTHING,
    PROF__LOCK_WAITED,
    PROF__LOCK_HELD
} prof__lock_part;

typedef struct prof__locks {
    prof_lock_row *rows;
    prof__lock_state *locks;
    prof__lock_user *users;
    size_t row_count, row_capacity, lock_count, lock_capacity, user_count, user_capacity;
    prof__read_index row_index, lock_index, user_index;
    uint64_t *losses; /* of each track: how many losses the walk has seen */
    int by_address;
    struct {
        prof__lock_part part;
        size_t user;
        int64_t start, end;
        int shared;    /* of a hold: 1: other threads held the lock at the same time */
        int contended; /* of a wait: 1: another thread had the lock */
    } done; /* the wait or hold that the last step ended */
    prof_timeline *timeline;
    prof_status status;
} prof__locks;

static int prof__same_lock(const void *owner, size_t item, const void *key)
{
    return ((const prof__lock_state *)owner)[item].address == *(const uint64_t *)key;
}

static int prof__same_lock_user(const void *owner, size_t item, const void *key)
{
    const prof__lock_user *user = (const prof__lock_user *)owner + item, *wanted = (const prof__lock_user *)key;
    return user->lock == wanted->lock && user->track == wanted->track;
}

static int prof__same_lock_row(const void *owner, size_t item, const void *key)
{
    const prof_lock_row *row = (const prof_lock_row *)owner + item, *wanted = (const prof_lock_row *)key;
    return row->address == wanted->address && !strcmp(row->name, wanted->name) &&
           !strcmp(row->category, wanted->category);
}

/* Returns the row number of an event's lock. Adds a row if the lock is new. Returns PROF__NONE without memory. */
static size_t prof__lock_row_of(prof__locks *all, const prof_event *event)
{
    prof_lock_row row; /* a key for the search: the other fields are not set */
    uint32_t hash;
    size_t item;
    row.name = event->site->name;
    row.category = event->site->category;
    row.address = all->by_address ? event->object : 0;
    hash = prof__text_hash(row.name) + (uint32_t)prof__mix(row.address);
    item = prof__read_find(&all->row_index, hash, prof__same_lock_row, all->rows, &row);
    if (item != PROF__NONE) return item;
    item = PROF__NEW(all->row_index, hash, all->rows, all->row_capacity, all->row_count);
    if (item == PROF__NONE) return item;
    all->rows[item].name = row.name;
    all->rows[item].category = row.category;
    all->rows[item].address = row.address;
    return item;
}

static size_t prof__lock_of(prof__locks *all, const prof_event *event)
{
    uint32_t hash = (uint32_t)prof__mix(event->object * 0x9E3779B97F4A7C15u);
    size_t item = prof__read_find(&all->lock_index, hash, prof__same_lock, all->locks, &event->object);
    prof__lock_state *lock;
    if (item != PROF__NONE) return item;
    item = PROF__NEW(all->lock_index, hash, all->locks, all->lock_capacity, all->lock_count);
    if (item == PROF__NONE) return item;
    lock = &all->locks[item];
    lock->address = event->object;
    lock->row = PROF__NONE; /* has no row until an event names it */
    lock->holder = PROF__NONE;
    return item;
}

static size_t prof__lock_user_of(prof__locks *all, size_t lock, size_t track)
{
    prof__lock_user user; /* a key for the search: the other fields are not set */
    uint32_t hash = (uint32_t)prof__mix(lock * 0x9E3779B97F4A7C15u + track);
    size_t item;
    user.lock = lock;
    user.track = track;
    item = prof__read_find(&all->user_index, hash, prof__same_lock_user, all->users, &user);
    if (item != PROF__NONE) return item;
    item = PROF__NEW(all->user_index, hash, all->users, all->user_capacity, all->user_count);
    if (item == PROF__NONE) return item;
    all->users[item].lock = lock;
    all->users[item].track = track;
    all->users[item].losses = all->losses[track];
    return item;
}

static void prof__lock_end_wait(prof__locks *all, prof__lock_user *user, int acquired)
{
    prof__lock_state *lock = &all->locks[user->lock];
    if (!user->waits) return;
    user->waits = 0;
    lock->waiting--;
    all->rows[lock->row].waiting--;
    all->rows[lock->row].abandoned += !acquired;
}

static void prof__lock_forget_hold(prof__locks *all, prof__lock_user *user)
{
    prof__lock_state *lock = &all->locks[user->lock];
    if (!user->depth) return;
    user->depth = 0;
    lock->holders--;
    all->rows[lock->row].holding--;
    all->rows[lock->row].unmatched++;
}

static void prof__lock_wait(prof__locks *all, const prof_event *event, size_t number)
{
    prof__lock_user *user = &all->users[number];
    prof__lock_state *lock = &all->locks[user->lock];
    prof_lock_row *row = &all->rows[lock->row];
    prof__lock_end_wait(all, user, 0);
    user->waits = 1;
    user->wait_ns = event->start_ns;
    user->acquired = lock->acquired;
    user->scoped = event->detail & 1;
    user->contended = user->scoped || lock->holders > (user->depth != 0);
    row->waiting++;
    if (++lock->waiting > row->waiting_max) row->waiting_max = lock->waiting;
}

static void prof__lock_acquire(prof__locks *all, const prof_event *event, size_t number)
{
    prof__lock_user *user = &all->users[number];
    prof__lock_state *lock = &all->locks[user->lock];
    prof_lock_row *row = &all->rows[lock->row];
    row->acquired++;
    if (user->waits) {
        uint64_t ns = (uint64_t)(event->start_ns - user->wait_ns);
        int contended = user->contended || lock->acquired != user->acquired;
        row->contended += (uint64_t)contended;
        row->wait_ns += ns;
        if (ns > row->wait_max_ns) row->wait_max_ns = ns;
        prof__lock_end_wait(all, user, 1);
        all->done.part = PROF__LOCK_WAITED;
        all->done.start = user->wait_ns;
        all->done.contended = contended;
        if (contended && user->depth) prof__lock_forget_hold(all, user); /* it waits, so its release was lost */
    }
    lock->acquired++;
    if (user->depth++) return;
    user->hold_ns = event->start_ns;
    if (lock->holder != number) lock->holder_before = lock->holder == PROF__NONE ? number : lock->holder;
    lock->holder = number;
    lock->holders++;
    row->holding++;
}

/* Returns 1 if another thread still holds a lock that was just released, and took it so long ago that the clocks cannot
   be the reason. Then the threads share the lock. */
static int prof__lock_shared(const prof__locks *all, const prof__lock_state *lock, int64_t now)
{
    const prof__lock_user *other;
    if (lock->holders != 1) return lock->holders != 0;
    other = &all->users[lock->holder];
    if (!other->depth) other = &all->users[lock->holder_before];
    return !other->depth || now - other->hold_ns > PROF__ORDER_NS;
}

static void prof__lock_release(prof__locks *all, const prof_event *event, size_t number)
{
    prof__lock_user *user = &all->users[number];
    prof__lock_state *lock = &all->locks[user->lock];
    prof_lock_row *row = &all->rows[lock->row];
    uint64_t ns;
    prof__lock_end_wait(all, user, 0); /* a thread that releases has ended its wait */
    if (!user->depth && lock->holders == 1 && all->users[lock->holder].depth) { /* a semaphore: another thread has it */
        number = lock->holder;
        user = &all->users[number];
    }
    if (!user->depth) {
        row->unmatched++;
        return;
    }
    if (--user->depth) return;
    ns = event->start_ns > user->hold_ns ? (uint64_t)(event->start_ns - user->hold_ns) : 0;
    row->hold_ns += ns;
    if (ns > row->hold_max_ns) row->hold_max_ns = ns;
    lock->holders--;
    row->holding--;
    all->done.part = PROF__LOCK_HELD;
    all->done.user = number;
    all->done.start = user->hold_ns;
    if (lock->released_ns > all->done.start && lock->released_ns - all->done.start <= PROF__ORDER_NS)
        all->done.start = lock->released_ns; /* the clocks of the two threads differ */
    if (all->done.start > event->start_ns) all->done.start = event->start_ns;
    all->done.shared = prof__lock_shared(all, lock, event->start_ns) || lock->released_ns > all->done.start;
    if (event->start_ns > lock->released_ns) lock->released_ns = event->start_ns;
}

/* Handles the next event of a timeline. Returns 0 without memory. */
static int prof__locks_step(prof__locks *all, const prof_event *event, size_t track)
{
    size_t number, user, row;
    prof__lock_state *lock;
    memset(&all->done, 0, sizeof all->done);
    if (event->type == PROF_EVENT_LOST) all->losses[track]++;
    if (event->type != PROF_EVENT_LOCK_WAIT && event->type != PROF_EVENT_LOCK_ACQUIRE &&
        event->type != PROF_EVENT_LOCK_RELEASE)
        return 1;
    number = prof__lock_of(all, event);
    if (number == PROF__NONE) return 0;
    lock = &all->locks[number];
    if (lock->row == PROF__NONE || (event->type != PROF_EVENT_LOCK_RELEASE && !lock->holders && !lock->waiting)) {
        /* the lock had no name, the name of a release, or that of an earlier lock at this address */
        row = prof__lock_row_of(all, event);
        if (row == PROF__NONE) return 0;
        if (row != lock->row) all->rows[row].locks++;
        lock->row = row;
    }
    user = prof__lock_user_of(all, number, track);
    if (user == PROF__NONE) return 0;
    if (all->users[user].losses != all->losses[track]) { /* the lost event may have been the lock's release */
        all->users[user].losses = all->losses[track];
        prof__lock_forget_hold(all, &all->users[user]);
        prof__lock_end_wait(all, &all->users[user], 0);
    }
    all->done.user = user;
    all->done.end = event->start_ns;
    if (event->type == PROF_EVENT_LOCK_WAIT) prof__lock_wait(all, event, user);
    if (event->type == PROF_EVENT_LOCK_ACQUIRE) prof__lock_acquire(all, event, user);
    if (event->type == PROF_EVENT_LOCK_RELEASE) prof__lock_release(all, event, user);
    return 1;
}

/* Begins a walk whose caller reads the events and calls prof__locks_step(). prof__locks_close() must follow in any
   case. */
static void prof__locks_begin(prof__locks *all, const prof_trace *trace, int by_address)
{
    memset(all, 0, sizeof *all);
    all->by_address = by_address;
    all->losses = (uint64_t *)calloc(prof_trace_track_count(trace) + 1, sizeof *all->losses);
    if (!all->losses) all->status = prof__no_memory("for the locks");
}

/* Begins the walk. has: see prof__timeline_of(). prof__locks_close() must follow in any case. */
static void prof__locks_open(prof__locks *all, const prof_trace *trace, int by_address, prof__has_group *has,
                             const void *user)
{
    prof__locks_begin(all, trace, by_address);
    if (!all->status)
        all->status = prof__timeline_of(trace, PROF__GROUP_LOCK, PROF__GROUP_LOST, has, user, &all->timeline);
}

/* Handles the next event. Returns 0 after the last one. */
static int prof__locks_next(prof__locks *all)
{
    prof_event event;
    size_t track;
    if (all->status) return 0;
    if (!prof_timeline_next(all->timeline, &event, &track))
        all->status = all->timeline->status;
    else if (prof__locks_step(all, &event, track))
        return 1;
    else
        all->status = prof__no_memory("for the locks");
    return 0;
}

static prof_status prof__locks_close(prof__locks *all)
{
    prof_timeline_close(all->timeline);
    free(all->rows);
    free(all->locks);
    free(all->users);
    free(all->losses);
    free(all->row_index.slots);
    free(all->lock_index.slots);
    free(all->user_index.slots);
    return all->status;
}

static int prof__lock_order(const void *a, const void *b)
{
    const prof_lock_row *x = (const prof_lock_row *)a, *y = (const prof_lock_row *)b;
    int names;
    if (x->wait_ns != y->wait_ns) return x->wait_ns > y->wait_ns ? -1 : 1;
    if (x->hold_ns != y->hold_ns) return x->hold_ns > y->hold_ns ? -1 : 1;
    names = strcmp(x->name, y->name);
    return names ? names : x->address < y->address ? -1 : x->address > y->address;
}

static prof_status prof__locks_list(const prof_trace *trace, int by_address, prof_lock_row **rows, size_t *count)
{
    prof__locks all;
    size_t i, kept = 0;
    if (!trace || !rows || !count) return prof__null("prof_locks", "trace, rows or count");
    *rows = NULL;
    *count = 0;
    prof__locks_open(&all, trace, by_address != 0, NULL, NULL);
    while (prof__locks_next(&all)) continue;
    for (i = 0; !all.status && i < all.lock_count; i++) /* a row that has one lock shows its address */
        if (all.rows[all.locks[i].row].locks == 1) all.rows[all.locks[i].row].address = all.locks[i].address;
    for (i = 0; i < all.row_count; i++) {
        const prof_lock_row *row = &all.rows[i]; /* leaves out a row without counts: only a release had this name */
        if (row->acquired || row->waiting || row->abandoned || row->unmatched) all.rows[kept++] = *row;
    }
    if (kept) qsort(all.rows, kept, sizeof *all.rows, prof__lock_order);
    if (!all.status && !PROF__ROOM(all.rows, all.row_capacity, kept))
        all.status = prof__no_memory("for the statistics of locks");
    if (!all.status) {
        *rows = all.rows;
        *count = kept;
        all.rows = NULL;
    }
    return prof__locks_close(&all);
}

PROF_DEF prof_status prof_locks(const prof_trace *trace, int by_address, prof_lock_row **rows, size_t *count)
{
    PROF__CALM();
    return prof__locks_list(trace, by_address, rows, count);
}

PROF_DEF void prof_locks_free(prof_lock_row *rows)
{
    free(rows);
}

#endif /* PROF__REPORT_LOCKS_H */
