// session/crash_report: Writes the text and the image file of a crash report. Async-signal-safe.
#ifndef PROF__SESSION_CRASH_REPORT_H
#define PROF__SESSION_CRASH_REPORT_H
#include "api/markup.h"
#include "ground/threads.h"
#include "image/format.h"
#include "image/pair.h"
#include "record/ring.h"
#include "record/self.h"
#include "record/state.h"
#include "record/thread.h"
#include "record/track.h"
#include "session/crash.h"
#include "session/crash_name.h"
#include "session/crash_posix.h"
#include "session/crash_windows.h"
#include "session/snapshot.h"

/*-- the report --*/

/* Writes a scope's run-time name if the chunk that holds the name was not reused, else the name of its call site.
   place: 1: also writes the source file and line, for the innermost scope. */
static void prof__crash_put_scope(prof__crash_work *w, const prof__session *s, const prof__crash_scope *scope,
                                  int place)
{
    size_t words = 0;
    const uint64_t *site = prof__crash_meta(s, PROF__META_SITE, scope->begun.site, &words);
    uint64_t head = 0;
    if (scope->name) {
        const uint64_t *name = (const uint64_t *)(const void *)((const char *)s->header + scope->name);
        const prof__chunk *chunk = (const prof__chunk *)(const void *)((const char *)name - scope->inside);
        head = PROF__LOAD(name);
        if (PROF__LOAD(&chunk->sequence) == scope->sequence &&
            head >> PROF__KIND_SHIFT == PROF__KIND_NAME)
            prof__crash_put_run_time_name(w, name, head);
        else
            head = 0;
    }
    if (!site || words < PROF__META_SITE_WORDS) {
        if (!head) prof__crash_put(w, "?");
        return;
    }
    if (!head) prof__crash_put_string(w, s, (uint32_t)site[1]);
    if (!place) return;
    prof__crash_put(w, " (");
    prof__crash_put_string(w, s, (uint32_t)(site[1] >> 32));
    prof__crash_put(w, ":");
    prof__crash_put_number(w, (uint32_t)site[3]);
    prof__crash_put(w, ")");
}

/* Writes a line such as: thread 1234 "worker 2": game > frame > physics (physics.c:88) */
static void prof__crash_put_thread(prof__crash_work *w, const prof__session *s, const prof__crash_thread *thread,
                                   int cut)
{
    size_t kept = thread->match.depth;
    prof__crash_put(w, "thread ");
    prof__crash_put_number(w, thread->thread_id);
    if (thread->name_id) {
        prof__crash_put(w, " \"");
        prof__crash_put_string(w, s, thread->name_id);
        prof__crash_put(w, "\"");
    }
    prof__crash_put(w, cut ? ": ... > " : ": ");
    if (!kept) prof__crash_put(w, "no scope is open");
    for (size_t i = 0, next; i < kept; i = next) {
        uint32_t site = thread->open[i].begun.site;
        for (next = i + 1; next < kept && !thread->open[next].name && thread->open[next].begun.site == site; ++next) {
        }
        if (i) prof__crash_put(w, " > ");
        prof__crash_put_scope(w, s, &thread->open[i], next == kept);
        if (next - i < 2) continue;
        prof__crash_put(w, " x ");
        prof__crash_put_number(w, next - i);
    }
    if (thread->match.beyond) {
        prof__crash_put(w, " > and ");
        prof__crash_put_number(w, thread->match.beyond);
        prof__crash_put(w, " more");
    }
    prof__crash_put(w, "\n");
    prof__crash_flush(w);
}

/* Returns 1 if the crashing thread probably has more open scopes than were found, because their begins were
   overwritten. That is likely, too, if the scopes found are so many that no words could be reserved for their ends. */
static int prof__crash_cut(const prof__session *s, const prof__crash_thread *thread)
{
#ifdef _WIN32
    /* emulated thread-local storage allocates memory when a thread first uses it */
    if (!thread->sequence || PROF__CRASHED() != prof__thread_id()) return 0;
#endif
    const prof__thread *self = PROF__SELF();
    uint64_t count = PROF__LOAD(&s->chunk_count);
    if (self->session != s || !self->chunk || PROF__LOAD(&s->header->next_chunk) <= count) return 0;
    size_t depth = prof__crash_depth(thread);
    return prof__reserved_ends(self) > depth || depth > prof__words_of(s, self->chunk) / 4 * 3;
}

/* Writes what crashed and the open scopes of all threads to stderr, the crashed thread first. */
static void prof__crash_describe(prof__crash_work *w, const prof__session *s, const prof__header *h, int signal)
{
    prof__crash_search(w, s, h);
    prof__crash_put(w, "prof: ");
    prof__crash_put(w, prof__crash_cause(signal));
    prof__crash_put(w, " in ");
    prof__crash_put_thread(w, s, &w->threads[0], prof__crash_cut(s, &w->threads[0]));
    for (size_t i = 1; i < w->thread_count; ++i) {
        prof__crash_put(w, "prof:   ");
        prof__crash_put_thread(w, s, &w->threads[i], 0);
    }
    if (w->more_threads) {
        prof__crash_put(w, "prof:   and ");
        prof__crash_put_number(w, w->more_threads);
        prof__crash_put(w, " more threads\n");
        prof__crash_flush(w);
    }
}

/*-- the file --*/

/* Writes the chunk at byte `at` of the ring to the file. Of an empty chunk that is a part of a split slot, writes only
   the header, which tells the chunk's size. */
static int prof__crash_write_chunk(prof__crash_work *w, const prof__session *s, const prof__header *h, uint64_t at,
                                   uint64_t bytes)
{
    prof__chunk empty = {0, {0, 0, 0, 0}, 0, 0, 0, 0, {0, 0, 0, 0}};
    empty.form = PROF__LOAD(&prof__crash_chunk(s, at)->form) & ~PROF__FORM_SECOND_CHANCE;
    uint64_t sequence = PROF__LOAD(&prof__crash_chunk(s, at)->sequence);
    uint64_t offset = sequence ? prof__crash_copy(w, s, h, at, h->next_chunk) : 0;
    if (offset) return prof__crash_write(&w->system, offset, w->chunk, (size_t)bytes);
    if (!empty.form) return 1;
    offset = (uint64_t)(s->chunks - (const char *)s->header) + at;
    return prof__crash_write(&w->system, offset, &empty, sizeof empty);
}

/* Writes the chunks, the newest first. Writes meta next, so that it has the call sites of all written chunks, and the
   header last. Parts that are not written are holes in the file, which read as zeros. */
static int prof__crash_write_image(prof__crash_work *w, const prof__session *s, prof__header *h)
{
    uint64_t count = prof__chunks_there(s), newest = h->next_chunk, began = h->copy_tick;
    uint64_t meta = (uint64_t)((const char *)s->meta - (const char *)s->header);
    int good = 1;
    for (uint64_t i = 0; good && i < count; ++i) {
        uint64_t slot = (newest % count + count - 1 - i) % count, end = (slot + 1) * s->chunk_size, bytes;
        for (uint64_t at = slot * s->chunk_size; good && at < end; at += bytes)
            good = prof__crash_write_chunk(w, s, h, at, bytes = prof__crash_bytes(s, at));
    }
    uint64_t used = PROF__ACQUIRE(&s->header->meta_used);
    if (used > s->meta_words * 8) used = s->meta_words * 8;
    /* What follows meta's used part may be a hole. */
    for (uint64_t at = 0; good && at < used; at += sizeof w->scratch) {
        uint64_t size = used - at;
        if (size > sizeof w->scratch) size = sizeof w->scratch;
        prof__memory_read(s->meta, at, w->scratch, (size_t)size);
        good = prof__crash_write(&w->system, meta + at, w->scratch, (size_t)size);
    }
    prof__memory_read(s->header, 0, h, sizeof *h);
    h->next_chunk = newest;
    h->copy_tick = began;
    prof__pair_take_well(s->clock, h->tick_hz, &h->last);
    h->lost += PROF__LOAD(&prof__lost_without_chunk);
    h->lost_args += PROF__LOAD(&prof__lost_args_without_chunk);
    h->lost_busy += PROF__LOAD(&prof__lost_busy_without_chunk);
    return good && prof__crash_write(&w->system, 0, h, sizeof *h) &&
           prof__crash_resize(&w->system, s->image_size);
}

static void prof__crash_save(prof__crash_work *w, const prof__session *s, prof__header *h)
{
    int good = prof__crash_create(&w->system, w->part) && prof__crash_write_image(w, s, h);
    if (!prof__crash_finish(&w->system, good, w->part, w->path)) w->path[0] = 0;
}

static void prof__crash_tell_file(prof__crash_work *w, const prof__session *s)
{
    const char *path = s->file.live_path && !(s->file.sidecar && w->path[0]) ? s->file.live_path : w->path;
    prof__crash_put(w, *path ? "prof: the trace is in " : "prof: the trace could not be written");
    prof__crash_put(w, path);
    prof__crash_put(w, "\n");
    prof__crash_flush(w);
}

static void prof__crash_freeze(int frozen)
{
    PROF__STORE(&prof__state.frozen, frozen);
    prof__next_config_version();
}

/* Determines the moment of the crash. First notes the newest chunk, then reads the clock, then turns the call sites
   off: so a scope in these chunks that has no end there ended later than the crash. If this thread lost its processor
   in between, others may have filled the whole ring. Then the steps are repeated, and the second moment counts. */
static void prof__crash_stop(prof__crash_work *w, const prof__session *s)
{
    prof__pair now;
    for (int i = 0; i < 2; ++i) {
        prof__memory_read(s->header, 0, &w->header, sizeof w->header);
        prof__pair_take(s->clock, s->like.tick_hz, &now);
        w->header.copy_tick = now.tick;
        if (i == 0) prof__crash_freeze(1);
        if (PROF__LOAD(&s->header->next_chunk) - w->header.next_chunk <= PROF__LOAD(&s->chunk_count) / 8) break;
    }
}

/* Writes what crashed into the image's header, for readers. */
static void prof__crash_note(const prof__session *s, int signal)
{
    char *text = s->header->crash, digits[2 * sizeof(uintptr_t)];
    size_t used = 0, count = 0;
    for (const char *cause = prof__crash_cause(signal); *cause && used + 1 < sizeof s->header->crash; ++cause)
        text[used++] = *cause;
    for (uintptr_t rest = prof__crash.address; rest || !count; rest >>= 4)
        digits[count++] = "0123456789abcdef"[rest & 15];
    if (prof__crash.has_address && used + 7 + count < sizeof s->header->crash) {
        prof__copy(text + used, " at 0x", 6);
        for (used += 6; count;) text[used++] = digits[--count];
    }
    text[used] = 0;
}

/* Writes the report part by part. If one part crashes, the next one still runs. */
static void prof__crash_report(prof__crash_work *w, const prof__session *s, int signal)
{
    w->used = 0;
    w->mute = 0;
    prof__crash_before(&w->system);
    if (!PROF__CRASH_SETJMP(w->escape)) {
        w->guarded = 1;
        prof__crash_note(s, signal);
        prof__crash_stop(w, s);
        prof__crash_describe(w, s, &w->header, signal);
    }
    if (!PROF__CRASH_SETJMP(w->escape)) {
        /* Threads run on, so the image is written as it is now. */
        if (!s->file.live_path || s->file.sidecar) prof__crash_save(w, s, &w->header);
    } else {
        prof__crash_finish(&w->system, 0, w->part, w->path);
        w->path[0] = 0;
    }
    if (!PROF__CRASH_SETJMP(w->escape)) prof__crash_tell_file(w, s);
    w->guarded = 0;
    prof__crash_freeze(0);
    prof__crash_after(&w->system);
}

#endif /* PROF__SESSION_CRASH_REPORT_H */
