// session/crash: The memory that a crash report reserves in advance, and the search for open scopes in the ring.
// Async-signal-safe.
#ifndef PROF__SESSION_CRASH_H
#define PROF__SESSION_CRASH_H
#include "api/markup.h"
#include "ground/digits.h"
#include "ground/utf8.h"
#include "image/format.h"
#include "image/match.h"
#include "image/words.h"
#include "record/ring.h"
#include "record/state.h"
#include "session/crash_posix.h"
#include "session/crash_windows.h"
#include "session/snapshot.h"

/*-- the memory of a report --*/

#define PROF__CRASH_THREADS 64  /* threads that a report shows; further ones are only counted */
#define PROF__CRASH_DEPTH 64    /* open scopes that a report shows of a thread; further ones are only counted */
#define PROF__CRASH_CUT 32      /* scopes of a thread that another END has closed, and whose own ENDs may come */
#define PROF__CRASH_NAME 64     /* longest name that a report prints, in bytes */
/* Number of newest chunks that are searched for open scopes; reading so many takes about a second. */
#define PROF__CRASH_REACH 65536

typedef struct prof__crash_scope {
    prof__begun begun;
    /* name: offset in the image of the scope's NAME record, or 0. sequence: number of the chunk that holds that
       record. */
    uint64_t name, sequence;
    uint32_t inside; /* bytes from the start of the chunk to the NAME record */
} prof__crash_scope;

typedef struct prof__crash_thread {
    uint64_t track, thread_id;
    uint64_t sequence; /* sequence number of the thread's newest chunk; 0: the thread has none */
    uint64_t serial;   /* of the newest TRACK record that was read; 0: none was */
    uint32_t name_id;
    prof__matching match;
    prof__crash_scope open[PROF__CRASH_DEPTH];
    prof__begun cut[PROF__CRASH_CUT];
} prof__crash_thread;

typedef struct prof__crash_work { /* memory that a report needs; reserved by prof_start() */
    volatile sig_atomic_t guarded;    /* 1: a second crash, inside the report, continues at escape */
    int mute;                         /* 1: stderr no longer accepts output */
    size_t used, thread_count, more_threads;
    prof__crash_system system;
    jmp_buf escape;
    char text[1024]; /* for stderr */
    char path[1040], part[1080];
    prof__header header;
    prof__crash_thread threads[PROF__CRASH_THREADS]; /* the first is the one that crashed */
    uint64_t chunk[PROF_CHUNK_SIZE / 8], scratch[PROF_CHUNK_SIZE / 8];
    /* By sequence number: where its chunk is in the ring, in units of 64 bytes plus 1; 0: nowhere. */
    uint32_t order[PROF__CRASH_REACH + 2];
} prof__crash_work;

enum { PROF__CRASH_OFF = 0, PROF__CRASH_READY };

static struct {
    uintptr_t reporter; /* PROF__CRASH_OFF, PROF__CRASH_READY, or the address of the reporting thread's state */
    uint64_t process;
    prof__session *session;
    uintptr_t address; /* that the program could not access, if has_address */
    int has_address;
    prof__crash_work *work; /* never freed, because later sessions use it again */
} prof__crash;

/*-- text --*/

static void prof__crash_flush(prof__crash_work *w)
{
    for (size_t at = 0; at < w->used && !w->mute;) {
        ptrdiff_t n = prof__crash_say(w->text + at, w->used - at);
        if (n > 0)
            at += (size_t)n;
        else
            w->mute = 1;
    }
    w->used = 0;
}

/* Not inlined, because copies of it in some twenty places would be 1.7 KB (gcc 12.2 -O2). */
static PROF__NOINLINE void prof__crash_put(prof__crash_work *w, const char *text)
{
    for (; *text; ++text) {
        if (w->used == sizeof w->text) prof__crash_flush(w);
        w->text[w->used++] = *text;
    }
}

static void prof__crash_put_number(prof__crash_work *w, uint64_t number)
{
    char digits[24];
    prof__number_text(digits, number);
    prof__crash_put(w, digits);
}

/* Writes a name that is stored in the image in at most size bytes. Replaces control characters and invalid UTF-8 by
   "?". */
static void prof__crash_put_name(prof__crash_work *w, const char *name, size_t size)
{
    char text[PROF__CRASH_NAME + 1];
    size_t used = 0, length;
    while (used < size && used < PROF__CRASH_NAME && name[used]) {
        text[used] = name[used];
        ++used;
    }
    text[used] = 0;
    for (size_t at = 0; at < used; at += length) {
        char one[8] = "?";
        length = prof__utf8(text + at);
        if (length && !prof__is_control(text + at)) {
            prof__copy(one, text + at, length);
            one[length] = 0;
        }
        if (!length) length = 1;
        prof__crash_put(w, one);
    }
    if (used < size && name[used]) prof__crash_put(w, "...");
}

/* Returns the first word of the meta record with this kind and id, or NULL. *words: the record's length. */
static const uint64_t *prof__crash_meta(const prof__session *s, uint64_t kind, uint32_t id, size_t *words)
{
    for (uint64_t at = 0; at < s->meta_words; at += *words) {
        uint64_t head = PROF__ACQUIRE(s->meta + at);
        *words = (size_t)(head >> 32 & 0xffffff);
        if (!*words || *words > s->meta_words - at) break;
        if (head >> 56 == kind && (uint32_t)head == id) return s->meta + at;
    }
    return NULL;
}

static void prof__crash_put_string(prof__crash_work *w, const prof__session *s, uint32_t id)
{
    size_t words;
    const uint64_t *record = prof__crash_meta(s, PROF__META_STRING, id, &words);
    if (record) prof__crash_put_name(w, (const char *)(record + 1), (words - 1) * 8);
}

/*-- open scopes --*/

/* Makes a thread one without open scopes. partial: 1: the ring has overwritten what is older. */
static void prof__crash_thread_reset(prof__crash_thread *thread, int partial)
{
    prof__matching *m = &thread->match;
    thread->sequence = thread->serial = 0;
    m->open = thread->open;
    m->open_room = PROF__CRASH_DEPTH;
    m->cut = thread->cut;
    m->cut_room = PROF__CRASH_CUT;
    m->partial = partial;
    prof__matching_reset(m);
}

/* How many scopes of a thread are open, also those for which there was no space. */
static size_t prof__crash_depth(const prof__crash_thread *thread)
{
    return thread->match.depth + thread->match.beyond;
}

/* Does not compare names, as the reader does: meta is too slow to search, and an END has the site of its BEGIN. */
static void prof__crash_end(prof__crash_thread *thread, uint32_t site)
{
    prof__matching *m = &thread->match;
    size_t at = 0;
    prof__ending ending = prof__matching_end(m, sizeof *thread->open, sizeof *thread->cut, site, &at);
    if (ending == PROF__ENDS_CUT) prof__matching_took(m, sizeof *thread->cut, at);
    if (ending != PROF__ENDS_OPEN && ending != PROF__ENDS_BEFORE) return;
    if (ending == PROF__ENDS_BEFORE) at = 0; /* around all that are open */
    prof__matching_cut(m, sizeof *thread->open, sizeof *thread->cut, ending == PROF__ENDS_OPEN ? at + 1 : 0);
    m->depth = at;
}

/* Begins a part of a track. If the part before is missing, so may be begins and ends: then an END without a begin does
   not show that all open scopes were inside it. */
static void prof__crash_part(prof__crash_thread *thread, const uint64_t *record)
{
    uint64_t serial = prof__track_serial(record);
    if (thread->serial && serial != thread->serial + 1) thread->match.partial = 0;
    thread->serial = serial;
}

static prof__crash_thread *prof__crash_find(prof__crash_work *w, uint64_t track)
{
    for (size_t i = 0; i < w->thread_count; ++i)
        if (w->threads[i].sequence && w->threads[i].track == track) return &w->threads[i];
    return NULL;
}

/* Updates the threads' open scopes with the records of the chunk in w->chunk. offset: the chunk's offset in the
   image. */
static void prof__crash_follow(prof__crash_work *w, const prof__session *s, uint64_t offset)
{
    const prof__chunk *chunk = (const prof__chunk *)(const void *)w->chunk;
    const uint64_t *words = w->chunk + sizeof *chunk / 8;
    prof__crash_thread *thread = NULL;
    prof__crash_scope *begun = NULL;
    size_t count = (size_t)prof__words_of(s, chunk);
    for (size_t at = 0, length; at < count; at += length) {
        uint64_t kind = words[at] >> PROF__KIND_SHIFT;
        uint32_t site = (uint32_t)(words[at] >> PROF__TICK_BITS) & PROF__SITE_MASK;
        length = prof__record_length(words[at], count - at);
        if (!length) break;
        if (kind == PROF__KIND_TRACK) {
            thread = prof__crash_find(w, prof__track_id(words + at));
            if (thread) prof__crash_part(thread, words + at);
        } else if (thread && kind == PROF__KIND_END) {
            prof__crash_end(thread, site);
        } else if (begun && kind == PROF__KIND_NAME) {
            begun->inside = (uint32_t)(sizeof *chunk + at * 8);
            begun->name = offset + begun->inside;
            begun->sequence = chunk->sequence;
        }
        begun = NULL;
        if (!thread || kind != PROF__KIND_BEGIN) continue;
        begun = (prof__crash_scope *)(void *)prof__matching_begin(&thread->match, sizeof *thread->open, site, 0);
        if (begun) begun->name = 0;
    }
}

/* Cuts the copied chunk before the first scope end that is later than the crash, because that scope was open when the
   program crashed. */
static void prof__crash_rewind(prof__crash_work *w, const prof__session *s, uint64_t crashed)
{
    prof__chunk *chunk = (prof__chunk *)(void *)w->chunk;
    uint64_t *words = w->chunk + sizeof *chunk / 8;
    size_t count = (size_t)prof__words_of(s, chunk);
    for (size_t at = 0, length; at < count; at += length) {
        length = prof__record_length(words[at], count - at);
        if (!length) break;
        if (words[at] >> PROF__KIND_SHIFT != PROF__KIND_END ||
            chunk->base.tick + (words[at] & PROF__TICK_MASK) <= crashed)
            continue;
        prof__chunk_unmark(chunk, words, s->chunk_size >> PROF__FORM_DEPTH(chunk->form), sizeof *chunk);
        prof__clear(words + at, (count - at) * 8);
        break;
    }
}

/* Copies the chunk at byte `at` of the ring to w->chunk. Returns the chunk's offset in the image, or 0 if it is
   empty. */
static uint64_t prof__crash_copy(prof__crash_work *w, const prof__session *s, const prof__header *h, uint64_t at,
                                 uint64_t newest)
{
    prof__source source = {prof__session_read, (void *)(uintptr_t)s};
    uint64_t offset = (uint64_t)(s->chunks - (const char *)s->header) + at;
    prof__chunk_snapshot(&source, h, offset, newest, (char *)w->chunk, (char *)w->scratch);
    if (!((const prof__chunk *)(const void *)w->chunk)->sequence) return 0;
    prof__crash_rewind(w, s, h->copy_tick);
    return offset;
}

static const prof__chunk *prof__crash_chunk(const prof__session *s, uint64_t at)
{
    return (const prof__chunk *)(const void *)(s->chunks + at);
}

/* Returns the size in bytes of the chunk at byte `at` of the ring. */
static uint64_t prof__crash_bytes(const prof__session *s, uint64_t at)
{
    return prof__form_bytes(s->chunk_size, at, PROF__ACQUIRE(&prof__crash_chunk(s, at)->form));
}

/* Adds the thread that owns the chunk in w->chunk to the report. The last TRACK record of the chunk names this
   thread. */
static void prof__crash_meet(prof__crash_work *w, const prof__session *s)
{
    const prof__chunk *chunk = (const prof__chunk *)(const void *)w->chunk;
    const uint64_t *words = w->chunk + sizeof *chunk / 8, *track = NULL;
    size_t count = (size_t)prof__words_of(s, chunk);
    for (size_t at = 0, length; at < count; at += length) {
        length = prof__record_length(words[at], count - at);
        if (!length) break;
        if (words[at] >> PROF__KIND_SHIFT == PROF__KIND_TRACK) track = words + at;
    }
    if (!track) return;
    size_t i = 0;
    while (i < w->thread_count && w->threads[i].thread_id != track[2]) ++i;
    if (i == PROF__CRASH_THREADS) {
        ++w->more_threads;
        return;
    }
    prof__crash_thread *thread = &w->threads[i];
    if (i == w->thread_count) {
        ++w->thread_count;
        prof__crash_thread_reset(thread, w->threads[0].match.partial);
    }
    if (thread->sequence > chunk->sequence) return;
    thread->track = prof__track_id(track);
    thread->thread_id = track[2];
    thread->sequence = chunk->sequence;
    thread->name_id = (uint32_t)track[0] & (PROF__NAME_OF_SYSTEM - 1);
}

/* Finds the living threads, each of which owns a chunk, and then reads the ring from the oldest chunk to the newest to
   find their open scopes. */
static void prof__crash_search(prof__crash_work *w, const prof__session *s, const prof__header *h)
{
    uint64_t count = PROF__SEARCH(s, PROF__LOAD(&s->chunk_count)), newest = h->next_chunk;
    uint64_t end = prof__chunks_there(s) * s->chunk_size, oldest = newest > count ? newest - count : 0;
    w->threads[0].thread_id = PROF__CRASHED();
    w->threads[0].name_id = 0;
    prof__crash_thread_reset(&w->threads[0], newest > count);
    w->thread_count = 1;
    w->more_threads = 0;
    for (uint64_t at = 0; at < end; at += prof__crash_bytes(s, at))
        if (PROF__ACQUIRE(&prof__crash_chunk(s, at)->state) == PROF__CHUNK_OWNED &&
            prof__crash_copy(w, s, h, at, ~0ull))
            prof__crash_meet(w, s);
    uint64_t from = newest - oldest > PROF__CRASH_REACH ? newest - PROF__CRASH_REACH : oldest;
    prof__clear(w->order, (size_t)(newest - from) / 2 * 8 + 8);
    /* First, chunks that slow threads have kept for more than a lap of the ring; then all other chunks in order. */
    for (uint64_t at = 0; at < end; at += prof__crash_bytes(s, at)) {
        const prof__chunk *chunk = prof__crash_chunk(s, at);
        uint64_t sequence = PROF__LOAD(&chunk->sequence);
        if (sequence > from && sequence <= newest) w->order[sequence - 1 - from] = (uint32_t)(at / 64) + 1;
        uint32_t state = PROF__ACQUIRE(&chunk->state);
        if ((state != PROF__CHUNK_OWNED && state != PROF__CHUNK_HELD) || sequence > oldest) continue;
        uint64_t offset = prof__crash_copy(w, s, h, at, oldest);
        if (offset) prof__crash_follow(w, s, offset);
    }
    for (uint64_t number = from; number < newest; ++number) {
        uint32_t place = w->order[number - from];
        uint64_t offset = place ? prof__crash_copy(w, s, h, (uint64_t)(place - 1) * 64, number + 1) : 0;
        if (offset) prof__crash_follow(w, s, offset);
    }
}

#endif /* PROF__SESSION_CRASH_H */
