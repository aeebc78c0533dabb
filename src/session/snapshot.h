// session/snapshot: Copies an image while threads go on writing to it, without ever waiting for them.
#ifndef PROF__SESSION_SNAPSHOT_H
#define PROF__SESSION_SNAPSHOT_H
#include "api/control.h"
#include "api/markup.h"
#include "ground/errors.h"
#include "image/format.h"
#include "image/pair.h"
#include "image/words.h"
#include "record/locks.h"
#include "record/ring.h"
#include "record/state.h"
#include "session/memory.h"
#include "session/renamed.h"

/*-- SNAPSHOT -------------------------------------------------------------------------------------------- >>snapshot --
   Makes a consistent copy of an image that threads go on writing to. The image is in this process's memory or in
   another process's file. Chunks are copied from the newest to the oldest; in a ring, those that are being written come
   first. Chunks that are taken after the start of the copy are left out. So the copy has, for each thread, everything
   that the thread recorded up to some moment, without a gap. Meta is copied last, so that it has every call site that
   the chunks name. */

#ifdef PROF_FREESTANDING
static void *prof__zeroed(size_t prof__count, size_t prof__size) { return PROF_ALLOCATE(prof__count * prof__size); }
static void prof__release(void *prof__at) { PROF_RELEASE(prof__at); }
#else
static void *prof__zeroed(size_t count, size_t size) { return calloc(count, size); }
static void prof__release(void *at) { free(at); }
#endif

/* Where an image is read from. read() reads whole words in order, and returns 0 on errors. A freestanding program, such
   as a kernel, reads only its own image, which has no archive. */
#ifdef PROF_FREESTANDING
typedef struct prof__source {
    void *user;
} prof__source;
static int prof__memory_read(void *image, uint64_t offset, void *to, size_t size);
#define PROF__SOURCE(read, user) {(user)->header}
#define PROF__READ(from, offset, to, size) prof__memory_read((from)->user, offset, to, size)
#define PROF__PASSING(c) ((prof__passing *)NULL)
#define PROF__HAS_ARCHIVE(h) ((void)(h), 0)
#define PROF__IS_STATS(h) 0
#else
typedef struct prof__source {
    int (*read)(void *user, uint64_t offset, void *to, size_t size);
    void *user;
} prof__source;
#define PROF__SOURCE(read, user) {read, user}
#define PROF__READ(from, offset, to, size) (from)->read((from)->user, offset, to, size)
#define PROF__PASSING(c) ((c)->passing)
#define PROF__HAS_ARCHIVE(h) ((h)->archive_offset != 0)
#define PROF__IS_STATS(h) ((h)->mode == PROF_STATS)
#endif

/* Ends the copy of a chunk before the first record that differs between two readings: a thread was removing a short
   scope there, or a file's words were not read in order. Then the run-time name of the last record may be missing from
   the first reading. The thread writes the name before the record itself, so the second reading has all of it. */
static void prof__chunk_cut(uint64_t *words, const uint64_t *again, size_t count)
{
    size_t at = 0, last = 0, next, hole = prof__words_hole(words, count);
    for (next = hole; next < count && next < hole + PROF__HOLE_WORDS && !again[next];) ++next;
    if (next == hole + PROF__HOLE_WORDS) return; /* a power loss has left the hole in the chunk; readers handle that */
    for (; at < count && words[at] >> PROF__KIND_SHIFT; last = at, at = next) {
        next = at + prof__record_length(words[at], count - at);
        if (next == at || memcmp(words + at, again + at, (next - at) * 8)) break;
    }
    if (at == count) return;
    memset(words + at, 0, (count - at) * 8);
    unsigned parts = 1u << PROF__KIND_NAME | 1u << PROF__KIND_DATA;
    if (!prof__record_in(PROF__NAMED | PROF__VALUED | 1u << PROF__KIND_DATA, words[last])) return;
    for (; at < count; at += next) {
        next = prof__record_in(parts, again[at]) ? prof__record_length(again[at], count - at) : 0;
        if (!next) return;
        memcpy(words + at, again + at, next * 8);
    }
}

/* Ends the copy of a chunk before the first record that differs between two readings. If they differ at all, a thread
   is writing to the chunk. Then the marks that detect a power loss are removed from the copy, because its words and its
   sums are of different moments. They are also removed if the session has ended: a thread that is still inside a macro
   may leave the chunk before its next one is copied, and then this copy lacks sums that a reader would ask for. */
static void prof__chunk_end(const prof__header *h, prof__chunk *chunk, prof__chunk *again, size_t bytes)
{
    size_t header = h->chunk_header_size;
    uint64_t *words = (uint64_t *)(void *)((char *)chunk + header);
    uint64_t *others = (uint64_t *)(void *)((char *)again + header);
    if (h->state != PROF__STOPPED && prof__chunk_marked(chunk, header) && !memcmp(chunk, again, bytes)) return;
    prof__chunk_unmark(chunk, words, bytes, header);
    prof__chunk_unmark(again, others, bytes, header);
    prof__chunk_cut(words, others, (bytes - header) / 8);
}

/* Copies a chunk whose header is empty, as a power loss can leave it: readers see by the chunk's words that it was
   used. now: the chunk's header. Returns 0 on errors. */
static int prof__chunk_headless(const prof__source *from, const prof__chunk *now, uint64_t offset, size_t bytes,
                                char *to)
{
    if (!prof__chunk_blank(now)) return 1;
    if (!PROF__READ(from, offset, to, bytes)) return 0;
    prof__chunk *copy = (prof__chunk *)(void *)to;
    int taken = !prof__chunk_blank(copy);
    if (!PROF__READ(from, offset, to, PROF__LEAST_CHUNK)) return 0;
    if (taken || !prof__chunk_blank(copy)) memset(to, 0, bytes); /* a thread has taken the chunk just now */
    return 1;
}

/* Copies the chunk at offset. If the chunk was reused meanwhile, or is newer than `newest`, the copy is empty. scratch
   has chunk_size bytes. `to` is all zero. Returns 0 on errors. */
static int prof__chunk_snapshot(const prof__source *from, const prof__header *h, uint64_t offset, uint64_t newest,
                                char *to, char *scratch)
{
    prof__chunk *chunk = (prof__chunk *)(void *)to, *again = (prof__chunk *)(void *)scratch;
    size_t first = h->chunk_header_size, check, bytes;
    uint64_t sequence; /* read last: the chunk must not have been cleared during the comparison either */
    int tries = 0;
    do { /* repeated if losses were written as a record meanwhile, because they might count twice */
        if (!PROF__READ(from, offset, scratch, first)) return 0;
        bytes = (size_t)prof__form_bytes(h->chunk_size, offset - h->chunk_offset, again->form);
        if (!again->sequence) {
            if (chunk->sequence) memset(to, 0, bytes);
            return prof__chunk_headless(from, again, offset, bytes, to);
        }
        /* A chunk that was full before it was read has not changed. */
        check = again->state == PROF__CHUNK_FULL ? first : bytes;
        if (!PROF__READ(from, offset, to, bytes)) return 0;
        if (!PROF__READ(from, offset, scratch, check)) return 0;
    } while (again->lost < chunk->lost && ++tries < 8);
    if (!PROF__READ(from, offset + offsetof(prof__chunk, sequence), &sequence, sizeof sequence)) return 0;
    int header = chunk->state <= PROF__CHUNK_HELD && !(chunk->sequence >> 48) &&
                 prof__form_likely(h->chunk_size, offset - h->chunk_offset, chunk->form);
    /* A power loss has damaged this header; readers will find out. */
    if (!header && !memcmp(chunk, again, first)) return 1;
    if (!chunk->sequence || chunk->sequence > newest || again->sequence != chunk->sequence ||
        sequence != chunk->sequence)
        memset(to, 0, bytes);
    else if (check > first)
        prof__chunk_end(h, chunk, again, bytes);
    return 1;
}

/* A chunk of the ring, as it was when a copy began. */
typedef struct prof__copied {
    uint64_t sequence, offset;
    uint64_t held; /* the sequence number if the chunk was being written, else 0 */
    uint64_t seen; /* the sequence number that the first pass read */
    uint32_t form, bytes;
    int passed;    /* 1: it is not copied, because of a prof__passing */
} prof__copied;

/* Who makes a copy that need not have all chunks, and gives each a place. */
typedef struct prof__passing {
    /* Called before each try. Sets `newest` and `tick`, which become those of the copy. */
    void (*again)(struct prof__passing *passing);
    uint64_t newest, tick;
    /* Returns 1 if a slot need not be looked at: it had no chunk that a thread may write to when `newest` was set. */
    int (*known)(struct prof__passing *passing, uint64_t slot);
    /* Returns 1 if a chunk that nobody writes to need not be copied. */
    int (*pass)(struct prof__passing *passing, const prof__copied *one);
    /* Returns where a chunk is copied to, the same memory for each call, all zero at first; NULL: there is none. */
    char *(*place)(struct prof__passing *passing, uint64_t offset);
} prof__passing;

/* A copy of an image in progress. */
typedef struct prof__copying {
    const prof__source *from;
    const prof__header *h;
    char *copy, *scratch;
    prof__passing *passing; /* NULL: all chunks are copied */
    prof__copied *chunks;
    size_t count, capacity;
    uint32_t depth;  /* how often the most split slot of the ring was halved */
    uint64_t listed; /* the highest sequence number in the list when the copy began */
    uint64_t newest; /* no chunk with a higher sequence number is in the copy */
    uint64_t tick;   /* ticks; everything that was recorded before is in the copy, or was overwritten */
    /* A hash of which chunks were being written and of how many were taken; it changes while threads record. */
    uint64_t mark;
    uint64_t before; /* the mark of the previous try */
    int tries;
    int lapped;      /* 1: threads have filled half of the ring during the copy */
    int torn;        /* 1: threads recorded so fast that their last events may be missing from the copy */
} prof__copying;

#define PROF__COPIED UINT64_MAX /* in place of a sequence number: the first pass has copied this chunk */

/* Makes room in the list for one more chunk. Returns 0 if there is no memory. In a freestanding program slots are never
   split, so the list never grows. */
static int prof__copied_room(prof__copying *c)
{
    if (c->count < c->capacity) return 1;
    size_t capacity = c->count ? c->count * 2 : (size_t)c->h->chunk_count + 1;
    prof__copied *more = (prof__copied *)prof__zeroed(capacity, sizeof *more);
    if (!more) return 0;
    if (c->count) memcpy(more, c->chunks, c->count * sizeof *more);
    prof__release(c->chunks);
    c->chunks = more;
    c->capacity = capacity;
    return 1;
}

/* Lists the chunks in slots `from` up to `end`. held: 1: also notes which of them are being written. Returns 0 on
   errors. */
static int prof__chunks_list(prof__copying *c, uint64_t from, uint64_t end, int held)
{
    const prof__header *h = c->h;
    if (end > h->chunk_count) end = h->chunk_count;
    for (uint64_t at = from * h->chunk_size; at < end * h->chunk_size;) {
        prof__chunk chunk;
        if (PROF__PASSING(c) && at % h->chunk_size == 0 &&
            PROF__PASSING(c)->known(PROF__PASSING(c), at / h->chunk_size)) {
            at += h->chunk_size;
            continue;
        }
        chunk.state = chunk.form = 0; /* in freestanding builds gcc does not see that the read fills the chunk */
        if (!prof__copied_room(c) || !PROF__READ(c->from, h->chunk_offset + at, &chunk, PROF__LEAST_CHUNK)) return 0;
        prof__copied *one = &c->chunks[c->count];
        one->sequence = chunk.sequence;
        if (held && chunk.sequence > c->listed && prof__chunk_likely(&chunk, h->chunk_size, at))
            c->listed = chunk.sequence; /* lower than next_chunk, unless a power loss left header and chunks as they
                                           were at different moments */
        one->offset = h->chunk_offset + at;
        int written = chunk.state == PROF__CHUNK_OWNED || chunk.state == PROF__CHUNK_HELD;
        if (PROF__PASSING(c)) written &= chunk.sequence <= PROF__PASSING(c)->newest; /* later ones are left out */
        one->held = held && written ? chunk.sequence : 0;
        one->passed = 0;
        one->form = chunk.form & ~PROF__FORM_SECOND_CHANCE;
        one->bytes = (uint32_t)prof__form_bytes(h->chunk_size, at, chunk.form);
        if (PROF__FORM_DEPTH(one->form) > c->depth) c->depth = PROF__FORM_DEPTH(one->form);
        if (held) c->mark = c->mark * 0x9E3779B97F4A7C15u + one->held;
        at += one->bytes;
        c->count++;
    }
    return 1;
}

/* The copy visits the chunks from the newest to the oldest. A freestanding program does not sort them: it visits them
   in the order of the slots, which is the same with few exceptions. */
#ifdef PROF_FREESTANDING
static void prof__chunks_order(prof__copying *c) { (void)c; }
static prof__copied *prof__copied_at(const prof__copying *c, size_t i)
{
    prof__extent count = (prof__extent)c->count;
    return &c->chunks[((prof__extent)c->newest % count + count - 1 - i) % count];
}
#else
static int prof__copied_newer(const void *a, const void *b)
{
    const prof__copied *x = (const prof__copied *)a, *y = (const prof__copied *)b;
    if (x->sequence != y->sequence) return x->sequence < y->sequence ? 1 : -1;
    return x->offset < y->offset ? 1 : -1;
}
static void prof__chunks_order(prof__copying *c)
{
    if (c->count > 1) qsort(c->chunks, c->count, sizeof *c->chunks, prof__copied_newer);
}
static prof__copied *prof__copied_at(const prof__copying *c, size_t i) { return &c->chunks[i]; }
#endif

/* Returns where a chunk is copied to. Only with a prof__passing it may be NULL: then there is no memory. */
static prof__chunk *prof__copied_to(prof__copying *c, const prof__copied *one)
{
    char *to = PROF__PASSING(c) ? PROF__PASSING(c)->place(PROF__PASSING(c), one->offset) : c->copy + one->offset;
    return (prof__chunk *)(void *)to;
}

static int prof__chunk_copy(prof__copying *c, prof__copied *one)
{
    prof__chunk *chunk = prof__copied_to(c, one);
    if (PROF__PASSING(c) && !chunk) return 0;
    if (c->tries > 1) memset(chunk, 0, one->bytes); /* an earlier try has copied what was there */
    if (!prof__chunk_snapshot(c->from, c->h, one->offset, c->newest, (char *)chunk, c->scratch)) return 0;
    if (chunk->sequence && PROF__FORM_DEPTH(chunk->form) != PROF__FORM_DEPTH(one->form)) memset(chunk, 0, one->bytes);
    c->torn |= one->held && chunk->sequence != one->held;
    /* An empty chunk keeps its size, so that readers find the next chunk. */
    if (!chunk->sequence && one->form) chunk->form = one->form;
    return 1;
}

/* Copies the chunks that were being written when they were listed. Starts at the newest slot and goes backwards, an
   order that readers rely on. */
static int prof__chunks_held(prof__copying *c)
{
    const prof__header *h = c->h;
    prof__extent slots = (prof__extent)h->chunk_count, newest = (prof__extent)c->newest % (slots ? slots : 1);
    size_t first = 0;
    while (newest && first < c->count && c->chunks[first].offset < h->chunk_offset + (uint64_t)newest * h->chunk_size)
        ++first;
    for (size_t i = 0; i < c->count; ++i) {
        prof__copied *one = &c->chunks[(first + c->count - 1 - i) % c->count];
        if (one->held && !prof__chunk_copy(c, one)) return 0;
    }
    return 1;
}

/* First pass: copies the chunks that threads may still write to and that are not copied yet. Second pass: copies the
   others. If the chunk at a place is no longer the one that the first pass saw, it is newer than this copy and is left
   out. Returns 0 on errors. */
static int prof__chunks_turn(prof__copying *c, int first)
{
    for (size_t i = 0; i < c->count; ++i) {
        prof__copied *one = prof__copied_at(c, i);
        prof__chunk *chunk, now;
        if (first) {
            if (!PROF__READ(c->from, one->offset, &now, PROF__LEAST_CHUNK)) return 0;
            one->seen = one->held ? PROF__COPIED : now.sequence;
            /* The slot was split after it was listed. */
            c->torn |= PROF__FORM_DEPTH(now.form) != PROF__FORM_DEPTH(one->form);
            if (now.state == PROF__CHUNK_FULL || now.state == PROF__CHUNK_FREE) continue;
        }
        if (one->seen == PROF__COPIED) continue;
        one->passed = !first && PROF__PASSING(c) && PROF__PASSING(c)->pass(PROF__PASSING(c), one);
        if (one->passed) continue;
        if (!prof__chunk_copy(c, one)) return 0;
        chunk = prof__copied_to(c, one);
        if (!first && !PROF__HAS_ARCHIVE(c->h) && chunk->sequence != one->seen) {
            memset(chunk, 0, one->bytes);
            if (one->form) chunk->form = one->form;
        }
        if (first) one->seen = PROF__COPIED;
    }
    return 1;
}

/* Returns 1 if the copy must be made again: up to 20 times if little may be left of it, up to 100 times if it may be
   wrong. Returns 0 if nothing has changed since the previous try, because then the image contradicts itself and another
   try would not help. */
static int prof__copy_again(const prof__copying *c)
{
    return (c->lapped || c->torn) && c->mark != c->before && !PROF__HAS_ARCHIVE(c->h) &&
           c->tries < (c->torn ? 100 : 20);
}

/* Returns how many slots of the ring have been used, if next_chunk is `next`. After a power loss the header may be
   older than the chunks, so slots beyond `next` are checked. */
static uint64_t prof__slots_used(const prof__copying *c, uint64_t next)
{
    const prof__header *h = c->h;
    prof__chunk chunk;
    while (next < h->chunk_count &&
           PROF__READ(c->from, h->chunk_offset + next * h->chunk_size, &chunk, PROF__LEAST_CHUNK) &&
           !prof__chunk_blank(&chunk))
        ++next;
    return next;
}

/* Copies all chunks once, first those that are being written. They have the newest events of their threads, and can be
   anywhere in the ring. If they came later, such a chunk could be reused before it is copied, while older chunks of its
   thread still get into the copy, because the thread that is about to take those sleeps. With an archive, reused chunks
   are in the archive. */
static int prof__chunks_copy(prof__copying *c)
{
    const prof__header *h = c->h;
    uint64_t before, used, after, position = offsetof(prof__header, next_chunk);
    c->before = c->mark;
    ++c->tries;
    if (PROF__PASSING(c)) PROF__PASSING(c)->again(PROF__PASSING(c));
    if (!PROF__READ(c->from, position, &before, sizeof before)) return 0;
    c->mark = before;
    c->count = c->depth = 0;
    used = prof__slots_used(c, before);
    if (!prof__chunks_list(c, 0, used, 1)) return 0; /* the unused slots of a ring in its first lap are empty */
    c->tick = prof__now_of(h->clock);
    if (!PROF__READ(c->from, position, &c->newest, sizeof c->newest)) return 0;
    if (c->newest < c->listed) c->newest = c->listed;
    if (PROF__PASSING(c)) c->newest = PROF__PASSING(c)->newest;
    if (PROF__PASSING(c)) c->tick = PROF__PASSING(c)->tick;
    c->lapped = c->torn = 0;
    if (!PROF__HAS_ARCHIVE(h)) {
        if (!prof__chunks_held(c)) return 0; /* copied without delay, because their threads go on */
        if (prof__copy_again(c)) return 1;
    }
    if (!prof__chunks_list(c, used, c->newest, 0)) return 0;
    prof__chunks_order(c);
    for (int first = !PROF__HAS_ARCHIVE(h); first >= 0; --first) {
        if (!prof__chunks_turn(c, first) || !PROF__READ(c->from, position, &after, sizeof after)) return 0;
        c->lapped = after - before > (h->chunk_count << c->depth) / 2;
        c->torn |= first && c->lapped;
    }
    return 1;
}

/* Copies the chunks of the image with header h, which was validated, to their places in c->copy, which is all zero, or
   where c->passing wants them. If threads have overtaken the copy, makes it again. Then c->newest is the highest
   sequence number that can be in the copy; c->tick: everything that was recorded before is in the copy, or was
   overwritten. Returns 0 if reading failed or there was no memory. */
static int prof__chunks_snapshot_of(prof__copying *c, const prof__source *from, const prof__header *h)
{
    int good;
    c->from = from;
    c->h = h;
    c->scratch = (char *)prof__zeroed(1, h->chunk_size);
    do good = c->scratch && prof__chunks_copy(c);
    while (good && prof__copy_again(c));
    prof__release(c->scratch);
    return good;
}

static int prof__chunks_snapshot(const prof__source *from, const prof__header *h, char *copy, uint64_t *newest,
                                 uint64_t *tick)
{
    prof__copying c;
    memset(&c, 0, sizeof c);
    c.copy = copy;
    int good = prof__chunks_snapshot_of(&c, from, h);
    *newest = c.newest;
    *tick = c.tick;
    prof__release(c.chunks);
    return good;
}

static int prof__memory_read(void *image, uint64_t offset, void *to, size_t size)
{
    const uint64_t *from = (const uint64_t *)(const void *)((const char *)image + offset);
    for (size_t i = 0; i < size / 8; ++i) ((uint64_t *)to)[i] = PROF__ACQUIRE(from + i);
    return 1;
}

#ifndef PROF_FREESTANDING
/* Reads from the image of a session. A chunk whose pages are not ready yet reads as zeros. */
static int prof__session_read(void *session, uint64_t offset, void *to, size_t size)
{
    const prof__session *s = (const prof__session *)session;
    uint64_t chunks = (uint64_t)(s->chunks - (const char *)s->header);
    if (offset < chunks + prof__chunks_there(s) * s->chunk_size) return prof__memory_read(s->header, offset, to, size);
    memset(to, 0, size);
    return 1;
}
#endif

/* Returns how many short scopes were removed from the chunks that are in the ring now. */
static uint64_t prof__taken_back(const prof__session *s)
{
    uint64_t count = 0;
    uint64_t slots = PROF__LOAD(&s->chunk_count), taken = PROF__LOAD(&s->header->next_chunk), bytes;
    for (uint64_t at = 0; at < (taken < slots ? taken : slots) * s->chunk_size; at += bytes) {
        const prof__chunk *chunk = (const prof__chunk *)(const void *)(s->chunks + at);
        bytes = prof__form_bytes(s->chunk_size, at, PROF__ACQUIRE(&chunk->form));
        count += PROF__LOAD(&chunk->taken_back);
    }
    return count;
}

/* Begins a copy of the present image: keeps the session's memory until prof__copy_end(), and sets *h to the header as
   it is now. *taken_back: see prof__taken_back(). */
static prof_status prof__copy_begin(prof__session **session, prof__header *h, uint64_t *taken_back)
{
    uint32_t write_lock = prof__state_lock();
    prof__session *s = *session = prof__state.session;
    if (!s) {
        prof__state_unlock(write_lock);
        return prof__fail(PROF_INVALID_STATE, "nothing has been recorded: call prof_start() first");
    }
    memset(h, 0, sizeof *h);
    prof__memory_read(s->header, sizeof h->magic, (char *)h + sizeof h->magic, sizeof *h - sizeof h->magic);
    /* The magic is not copied: in a dump of the machine's memory, the remains of this header must not look like an
       image. */
    if (PROF__IS_STATS(h)) h->chunk_count = 0; /* all events of these sessions are in the statistics */
    *taken_back = PROF__IS_STATS(h) ? prof__taken_back(s) : 0;
    __atomic_fetch_add(&s->attached, 1, __ATOMIC_RELAXED); /* keeps the image mapped while the lock is not held */
    s->readers++;
    int running = prof__state.running;
    if (running) {
        prof__pair_take_well(s->clock, h->tick_hz, &s->header->last);
        h->copy_tick = s->header->last.tick;
    }
    h->last = s->header->last;
    prof__lost_collect(s);
    prof__state_unlock(write_lock);
    if (running) prof__names_look(s);
    return PROF_OK;
}

/* Copies the header and meta. copy: has room for as much of meta as there is at most. Under the lock. */
static void prof__copy_header(const prof__session *s, char *copy, const prof__header *begun, uint64_t newest,
                              uint64_t tick, uint64_t taken_back)
{
    prof__header *h = (prof__header *)(void *)copy;
    prof__memory_read(s->header, 0, copy, sizeof *h);
    h->next_chunk = newest;
    h->copy_tick = begun->copy_tick ? tick : 0;
    memcpy(copy + h->meta_offset, s->meta, (size_t)s->header->meta_used);
    h->chunk_count = begun->chunk_count;
    h->taken_back += taken_back;
}

static void prof__copy_end(prof__session *s)
{
    uint32_t write_lock = prof__state_lock();
    s->readers--;
    __atomic_fetch_sub(&s->attached, 1, __ATOMIC_RELEASE);
    prof__state_unlock(write_lock);
}

/* Makes a private copy of the present image. Recording threads never wait for it. */
static prof_status prof__image_copy(void **bytes, size_t *size)
{
    prof__session *s;
    prof__header h;
    uint64_t taken_back = 0, newest = 0, tick = 0;
    *bytes = NULL;
    *size = 0;
    prof_status status = prof__copy_begin(&s, &h, &taken_back);
    if (status) return status;
    prof__source source = PROF__SOURCE(prof__session_read, s);
    char *copy = (char *)prof__zeroed(s->image_size, 1); /* pages of the copy that are never touched cost nothing */
    if (!copy || !prof__chunks_snapshot(&source, &h, copy, &newest, &tick)) {
        status = prof__fail(PROF_NO_MEMORY, "no memory for a copy of the image (%llu bytes)" PROF__MORE_HEAP,
                            (unsigned long long)s->image_size);
        prof__release(copy);
        copy = NULL;
    } else {
        uint32_t write_lock = prof__state_lock();
        prof__copy_header(s, copy, &h, newest, tick, taken_back);
        prof__state_unlock(write_lock);
    }
    *size = s->image_size;
    prof__copy_end(s);
    *bytes = copy;
    return status;
}

#ifdef PROF_FREESTANDING
PROF_DEF prof_status prof_snapshot(void **image, size_t *size) { return prof__image_copy(image, size); }
#endif

#endif /* PROF__SESSION_SNAPSHOT_H */
