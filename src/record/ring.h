// record/ring: Takes chunks from the ring, waits for free ones, and makes their pages present. Without a lock; a chunk
// usually costs one atomic operation.
#ifndef PROF__RECORD_RING_H
#define PROF__RECORD_RING_H
#include "ground/clock.h"
#include "ground/lock.h"
#include "ground/signals.h"
#include "ground/threads.h"
#include "image/format.h"
#include "image/pair.h"
#include "image/words.h"
#include "record/state.h"
#include "record/thread.h"

/*-- RING -------------------------------------------------------------------------------------------------- >>ring --*/

/* Events lost on threads without a chunk and a session. The next thread that holds the lock adds them to the image. */
static uint64_t prof__lost_without_chunk;
static uint64_t prof__lost_args_without_chunk; /* arguments lost on threads without a session */
static uint64_t prof__lost_busy_without_chunk; /* see prof__lose_busy() */

/* Always odd. Changes when a thread that found no free chunk might find one now. */
static uint32_t prof__room_changes = 1;
#define PROF__NO_LOCK 2u /* in no_room: the thread could not get the lock to take a chunk */
static void prof__room_changed(void) { __atomic_fetch_add(&prof__room_changes, 2, __ATOMIC_RELEASE); }

/* Moves the counts of losses of threads without a chunk to the image. Under the lock. */
static void prof__lost_collect(prof__session *s)
{
    PROF__ADD(&s->header->lost, __atomic_exchange_n(&prof__lost_without_chunk, 0, __ATOMIC_RELAXED));
    PROF__ADD(&s->header->lost_args, __atomic_exchange_n(&prof__lost_args_without_chunk, 0, __ATOMIC_RELAXED));
    PROF__ADD(&s->header->lost_busy, __atomic_exchange_n(&prof__lost_busy_without_chunk, 0, __ATOMIC_RELAXED));
}

static uint64_t *prof__chunk_first(const prof__chunk *chunk) { return (uint64_t *)(uintptr_t)(chunk + 1); }

/* Returns 1 if the thread's chunk is of an earlier session, whose memory may be the user's again. This happens only in
   freestanding builds: elsewhere a session keeps its memory as long as a thread points to it. */
static inline int prof__stale(const prof__thread *self)
{
#ifdef PROF_FREESTANDING
    return self->session_id != PROF__LOAD(&prof__state.session_id);
#else
    (void)self;
    return 0;
#endif
}

/* Counts events that this thread could not record. If it has a chunk, counts in the chunk's header: a reader finds the
   count there even after a crash, and assigns the loss to the track that wrote there last. */
static void prof__lose(prof__thread *self, uint64_t count)
{
    prof__session *s = self->session;
    if (self->impatient) return; /* the service's own scopes are no loss of the program's */
    PROF__ADD(self->entered && !prof__stale(self) ? &self->chunk->lost
              : s                                 ? &s->header->lost
                                                  : &prof__lost_without_chunk,
              count);
}

/* What a macro loses if it finds no room, or interrupts another macro: an event, arguments, or both. */
#define PROF__LOSS_EVENT 1u
#define PROF__LOSS_ARGS(count) ((uint32_t)(count) << 1)

/* Counts a loss of an event, of arguments, or both. Arguments have a count of their own, because they are no events. */
static void prof__lose_all(prof__thread *self, uint32_t loss)
{
    prof__session *s = self->session;
    if (loss & PROF__LOSS_EVENT) prof__lose(self, 1);
    if (PROF__UNLIKELY(loss > PROF__LOSS_EVENT))
        PROF__ADD(s ? &s->header->lost_args : &prof__lost_args_without_chunk, (uint64_t)(loss >> 1));
}

/* Counts a loss although there was room: the macro interrupted another one of the same thread (in a signal handler or
   an interrupt), or another thread kept the lock too long. */
static PROF__COLD void prof__lose_busy(prof__thread *self, uint32_t loss)
{
    prof__session *s = self->session;
    if (self->impatient) return;
    prof__lose_all(self, loss);
    if (loss & PROF__LOSS_EVENT) PROF__ADD(s ? &s->header->lost_busy : &prof__lost_busy_without_chunk, 1u);
}

/* Counts an event that was lost because too many scopes were open. */
static PROF__COLD void prof__lose_deep(prof__thread *self)
{
    prof__lose(self, 1);
    if (self->session) PROF__ADD(&self->session->header->lost_deep, 1u);
}

/* Returns 1 if the service adds events to statistics in this mode. */
static int prof__mode_counts(uint32_t mode) { return mode == PROF_STATS || mode == PROF_RING_STATS; }

/* Returns 1 if the service empties the chunks. Then threads take only chunks that the service has released. free_chunks
   counts these, so that a thread sees without a search of the whole ring that there is none. */
static int prof__chunks_kept(const prof__session *s)
{
#ifdef PROF__ALONE
    return (void)s, 0;
#else
    return s->header->mode == PROF_STREAM || prof__mode_counts(s->header->mode);
#endif
}

/* Reserves a chunk that the service has released; for the service itself, if there is none, its spare one. Returns 0 if
   there is neither. */
static int prof__chunk_reserve(prof__session *s, int service)
{
    int32_t free_chunks = PROF__LOAD(&s->ring.free_chunks);
    while (free_chunks > 0)
        if (__atomic_compare_exchange_n(&s->ring.free_chunks, &free_chunks, free_chunks - 1, 1, __ATOMIC_ACQUIRE,
                                        __ATOMIC_RELAXED))
            return 1;
    if (!service || !s->ring.spare_chunk) return 0;
    s->ring.spare_chunk = 0;
    return 1;
}

/* The thread that takes a chunk near the end of the ready part of the ring makes the next piece ready: its pages are
   mapped and its blocks of the file reserved. No thread gets a chunk before its blocks are reserved. A thread that
   overtakes the one at work does the same work again, which changes nothing. If the disk is full, the ring ends
   there, as if it had been that small from the start: as no chunk beyond was used, all numbers still lead to the same
   slots. */
#define PROF__ALL_READY 0xffffffffu
#define PROF__READY_ENDS 0x80000000u /* a flag of ready_chunks: a thread is reducing the ring to this size. For
                                        others it is that small already, before chunk_count says so */
#define PROF__READY_AHEAD 8u         /* chunks */
#define PROF__READY_PIECE 16u        /* chunks whose pages are mapped at a time; at first 1, then up to 4, because
                                        many programs, and most children of forks, need only one */
#define PROF__BLOCKS_PIECE 64u       /* chunks whose blocks are reserved at a time; at first fewer */
#define PROF__META_FIRST 8192u       /* bytes from the beginning of the file that are ready at first */
#define PROF__INDEX_FIRST 4096u      /* bytes at the end of the index that are ready at first */

/* Returns how many chunks from the beginning of the ring may be read. The pages of others may be holes in a file: a
   file system in memory allocates memory even when a hole is read. */
static prof__extent prof__chunks_there(const prof__session *s)
{
#ifdef PROF_FREESTANDING
    return s->chunk_count;
#else
    uint32_t ready = PROF__ACQUIRE(&s->ring.ready_chunks);
    return ready == PROF__ALL_READY ? PROF__LOAD(&s->chunk_count) : ready & ~PROF__READY_ENDS;
#endif
}

#define PROF__LIMIT_REACHED "max_file_size is reached" /* a write_error that is not the disk's */

#ifndef PROF_FREESTANDING
/* Stores in the image, for reports, why something in the background failed. Of a long text it keeps the end: the reason
   follows the path. A reader may be reading the text meanwhile. */
static void prof__background_failed(prof__session *s, const char *why)
{
    char *to = s->header->write_error;
    size_t length = prof__length(why), max = sizeof s->header->write_error - 1;
    if (length > max) why += length - max;
    for (size_t i = 0; i + 1 < sizeof s->header->write_error; ++i) {
        PROF__STORE(to + i, *why);
        if (*why) ++why;
    }
    PROF__ADD(&s->header->write_failures, 1);
}

#ifndef _WIN32
/* The state of the image's file. Emscripten's fstat() looks for the name with which the file was opened, so it is asked
   by name. */
#ifdef __EMSCRIPTEN__
#define PROF__FILE_ABOUT(s, about) prof__lstat((s)->file.live_path, about)
#else
#define PROF__FILE_ABOUT(s, about) prof__fstat((s)->stream.file, about)
#endif

/* Returns 1 if the descriptor still belongs to the image's file, and the file's state. A program may have closed all
   its descriptors and opened another file with this number. */
static int prof__stream_file_about(const prof__session *s, prof__about *about)
{
    return s->stream.opened && !PROF__FILE_ABOUT(s, about) && (uint64_t)about->st_dev == s->stream.device &&
           (uint64_t)about->st_ino == s->stream.inode;
}

static int prof__stream_file_there(const prof__session *s)
{
    prof__about about;
    return prof__stream_file_about(s, &about);
}

/* Returns 1, and notes it in the session, if another program has truncated the file. */
static int prof__file_cut(prof__session *s, const prof__about *about)
{
    int cut = (uint64_t)about->st_size < s->image_size;
    if (cut) __atomic_fetch_or(&s->file.cut, PROF__CUT, __ATOMIC_RELAXED);
    return cut;
}
#endif
#endif

#if defined(__linux__) && !defined(PROF_FREESTANDING)
/* Makes pages present and writable without a fault each (Linux 5.14). Returns 0 or -1. Async-signal-safe. */
static int prof__populate(void *memory, size_t size) { return madvise(memory, size, 23 /* MADV_POPULATE_WRITE */); }

/* Reserves blocks of a file, whose size stays: another program may truncate it just now. Returns 0; EOPNOTSUPP if that
   is not possible here, also on a disk with room; or errno, if there is no room. Async-signal-safe. */
static int prof__blocks_reserve(int file, uint64_t at, uint64_t size)
{
    prof__file_signal signal;
    prof__file_signal_hold(&signal);
    int error = fallocate(file, 1 /* FALLOC_FL_KEEP_SIZE */, (prof__offset)at, (prof__offset)size) ? errno : 0;
    prof__file_signal_drop(&signal);
    return !error || error == ENOSPC || error == EDQUOT || error == EFBIG || error == EIO ? error : EOPNOTSUPP;
}

/* Reserves blocks for a part of the image. The program may have closed the descriptor. A file that another program has
   truncated is not enlarged again: the missing part would come back as zeros, unnoticed. */
static int prof__part_reserve(prof__session *s, uint64_t from, uint64_t end)
{
    prof__about about;
    if (!prof__stream_file_about(s, &about)) return EOPNOTSUPP;
    if (prof__file_cut(s, &about)) return EIO;
    return prof__blocks_reserve(s->stream.file, from, end - from);
}

/* Makes a part of the image writable, and reserves its blocks up to `blocks` (0: none). Returns 0 or an errno. A page
   of a file that becomes present gets its block as well. */
static int prof__part_ready(prof__session *s, uint64_t from, uint64_t end, uint64_t blocks)
{
    int reserves = s->file.live_path != NULL;
    int error = reserves && blocks ? prof__part_reserve(s, from, blocks) : EOPNOTSUPP;
    if (error && error != EOPNOTSUPP) return error;
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), first = from / page * page;
    if (!prof__populate((char *)s->file.mapping + first, (size_t)(end - first)) || !reserves) return 0;
    int no_room = errno == EFAULT;
    if (error) error = prof__part_reserve(s, from, end);
    return error != EOPNOTSUPP ? error : no_room ? ENOSPC : EIO;
}

/* Returns the chunk up to which blocks are reserved together with the piece that begins at chunk `from`, or 0 for
   none. */
static uint64_t prof__blocks_end(uint64_t from)
{
    if (from <= PROF__READY_PIECE) return from * 4;
    return from % PROF__BLOCKS_PIECE ? 0 : from + PROF__BLOCKS_PIECE;
}

/* Makes chunks from .. end - 1 writable; prof__map_begin() has done that for chunk 0. Returns 0 or an errno. */
static int prof__chunks_populate(prof__session *s, uint64_t from, uint64_t end)
{
    uint64_t at = (uint64_t)(s->chunks - (char *)s->file.mapping), ahead = prof__blocks_end(from);
    uint64_t count = PROF__LOAD(&s->chunk_count);
    if (!from) return 0;
    if (ahead > count) ahead = count; /* below from, if another thread has reduced the ring */
    return prof__part_ready(s, at + from * s->chunk_size, at + end * s->chunk_size,
                            from < ahead ? at + ahead * s->chunk_size : 0);
}

static const char *prof__room_text(int error) /* strerror() is not async-signal-safe */
{
    return error == ENOSPC   ? "No space left on device"
           : error == EDQUOT ? "Disk quota exceeded"
           : error == EFBIG  ? "File too large"
                             : "Input/output error, or refused by a sandbox";
}

/* Reduces the ring to count chunks, which may be 0. No chunk beyond was ever taken; none of them counts as free any
   more. */
static void prof__ring_end(prof__session *s, uint32_t count, int error)
{
    uint32_t missing = (uint32_t)s->chunk_count - count;
    s->ring.chunks_asked = s->chunk_count;
    __atomic_fetch_sub(&s->ring.free_chunks, (int32_t)missing, __ATOMIC_RELAXED);
    __atomic_fetch_sub(&s->ring.pieces, missing, __ATOMIC_RELAXED);
    s->ring.room_error = prof__room_text(error);
    PROF__STORE(&s->chunk_count, (uint64_t)count);
    PROF__STORE(&s->header->chunk_count, (uint64_t)count);
    PROF__STORE(&s->like.chunk_count, (uint64_t)count);
    prof__background_failed(s, s->ring.room_error);
    PROF__RELEASE(&s->ring.ready_chunks, PROF__ALL_READY);
    prof__room_changed();
}

/* Returns the number of the chunk after the piece that begins at chunk `from`. */
static uint32_t prof__piece_end(uint32_t from)
{
    return from >= PROF__READY_PIECE ? (from / PROF__READY_PIECE + 1) * PROF__READY_PIECE : from ? from * 4 : 1;
}

/* Makes the piece that begins at chunk `from` ready. If the disk has no room for it, the ring ends before it. */
static void prof__piece_take(prof__session *s, uint32_t from)
{
    uint64_t count = PROF__LOAD(&s->chunk_count), end = prof__piece_end(from);
    uint32_t ready = from;
    if (from >= count) return; /* another thread has reduced the ring */
    if (end > count) end = count;
    uint64_t began = PROF__MINIMAL ? 0 : prof__now(s, 0);
    int error = prof__chunks_populate(s, from, end);
    if (!PROF__MINIMAL) PROF__ADD(&s->header->ready_ticks, prof__now(s, 0) - began);
    if (!error)
        __atomic_compare_exchange_n(&s->ring.ready_chunks, &ready, end == count ? PROF__ALL_READY : (uint32_t)end, 0,
                                    __ATOMIC_RELEASE, __ATOMIC_RELAXED);
    else if (__atomic_compare_exchange_n(&s->ring.ready_chunks, &ready, from | PROF__READY_ENDS, 0, __ATOMIC_ACQUIRE,
                                         __ATOMIC_RELAXED))
        prof__ring_end(s, from, error);
}

/* Makes chunk `number` writable, unless the ring ends before it. */
static void prof__chunks_ready(prof__session *s, uint64_t number)
{
    PROF__ERRNO_SAVE();
    uint32_t claimed = PROF__LOAD(&s->ring.claimed_chunks), ready;
    if (number + PROF__READY_AHEAD >= claimed && claimed < PROF__LOAD(&s->chunk_count) &&
        __atomic_compare_exchange_n(&s->ring.claimed_chunks, &claimed, prof__piece_end(claimed), 0, __ATOMIC_RELAXED,
                                    __ATOMIC_RELAXED))
        prof__piece_take(s, claimed);
    while (!((ready = PROF__ACQUIRE(&s->ring.ready_chunks)) & PROF__READY_ENDS) && number >= ready)
        prof__piece_take(s, ready); /* PROF__ALL_READY has that flag, too */
    PROF__ERRNO_RESTORE();
}
#elif !defined(PROF_FREESTANDING)
static void prof__chunks_ready(prof__session *s, uint64_t number) { (void)s, (void)number; }
#endif

/* These builds never split slots: a kernel has few processors, and PROF_MINIMAL must be small. */
#if defined(PROF_FREESTANDING) || defined(PROF_MINIMAL)
#define PROF__WHOLE_SLOTS
#endif

#ifdef PROF__WHOLE_SLOTS
#define PROF__MARKED 0 /* no marks: nobody notices pages of other chunks after a power loss */
#else
#define PROF__MARKED 1 /* the last word of a chunk is a mark, see format.h */
#endif

/* Returns how many words for records a chunk of this form has. */
static prof__extent prof__form_words(const prof__session *s, uint32_t form)
{
#ifdef PROF__WHOLE_SLOTS
    return (void)form, s->chunk_words;
#else
    if (PROF__LIKELY(!PROF__FORM_DEPTH(form))) return s->chunk_words;
    return ((s->chunk_size >> PROF__FORM_DEPTH(form)) - (uint32_t)sizeof(prof__chunk)) / 8 - PROF__MARKED;
#endif
}
static prof__extent prof__words_of(const prof__session *s, const prof__chunk *chunk)
{
    return prof__form_words(s, PROF__LOAD(&chunk->form));
}

#ifdef PROF__WHOLE_SLOTS
static prof__chunk *prof__chunk_at(const prof__session *s, prof__extent count, uint64_t number)
{
    return (prof__chunk *)(void *)(s->chunks + (prof__extent)number % count * s->chunk_size);
}
#define PROF__SEARCH(s, count) ((void)(s), (uint64_t)(count))
static void prof__chunk_mark(const prof__session *s, prof__chunk *chunk, uint64_t sequence)
{
    (void)s, (void)chunk, (void)sequence;
}
static void prof__chunk_seal(const prof__session *s, prof__chunk *chunk, size_t used)
{
    (void)s, (void)chunk, (void)used;
}
static void prof__chunk_pass(const prof__session *s, prof__chunk *chunk, size_t used, size_t limit)
{
    (void)s, (void)chunk, (void)used, (void)limit;
}
static void prof__chunk_unseal(const prof__session *s, prof__chunk *chunk, size_t used)
{
    (void)s, (void)chunk, (void)used;
}
#else
#define PROF__SEARCH(s, count) ((uint64_t)(count) << PROF__LOAD(&(s)->ring.depth))

#define PROF__HEAD_WORDS (sizeof(prof__chunk) / 8)

static size_t prof__chunk_bytes(const prof__session *s, const prof__chunk *chunk)
{
    return s->chunk_size >> PROF__FORM_DEPTH(PROF__LOAD(&chunk->form));
}

/* Loops over the parts of a chunk: part is at the words from .. end - 1. The last parts of a small chunk are empty. */
#define PROF__EACH_PART(part, from, end, bytes)                                                        \
    for (size_t part = 0, from = 0, step = prof__part_bytes(bytes) / 8, all = bytes / 8 - PROF__HEAD_WORDS, \
                end = (step < bytes / 8 ? step : bytes / 8) - PROF__HEAD_WORDS;                        \
         part < PROF__PARTS; ++part, from = end, end = all - end > step ? end + step : all)

/* Stores the marks of all parts of a chunk (see format.h). The chunk's words are zero. */
static void prof__chunk_mark(const prof__session *s, prof__chunk *chunk, uint64_t sequence)
{
    size_t bytes = prof__chunk_bytes(s, chunk);
    PROF__STORE(&chunk->form, PROF__LOAD(&chunk->form) | PROF__FORM_MARKED);
    PROF__EACH_PART(i, from, end, bytes) {
        PROF__STORE(&chunk->sums[i], 0u);
        PROF__STORE(prof__chunk_first(chunk) + end - 1, prof__empty_word(sequence));
        (void)from;
    }
}

/* Stores the sum of a part of a chunk. used: how many words of the chunk its thread has used. */
static void prof__part_seal(prof__chunk *chunk, size_t part, size_t from, size_t end, size_t used)
{
    size_t rest = end > used && from < used ? end - used : 0;
    if (rest > PROF__SUM_REST) rest = PROF__SUM_REST;
    PROF__RELEASE(&chunk->sums[part], prof__part_sum(prof__chunk_first(chunk) + from, end - from, (uint32_t)rest));
}

/* Stores the sums of all parts of a chunk that its thread leaves. used: how many words the thread has used. */
static void prof__chunk_seal(const prof__session *s, prof__chunk *chunk, size_t used)
{
    size_t bytes = prof__chunk_bytes(s, chunk);
    PROF__EACH_PART(i, from, end, bytes) prof__part_seal(chunk, i, from, end, used);
}

/* Called before a thread uses its chunk up to the word `limit`. Stores the sums of the parts that it has used and that
   end before `limit`, and marks the others as begun. A sum leaves out at most PROF__SUM_REST words that the thread has
   still to write. A part that lacks more, because many scopes are open, gets its sum later. */
static void prof__chunk_pass(const prof__session *s, prof__chunk *chunk, size_t used, size_t limit)
{
    size_t bytes = prof__chunk_bytes(s, chunk);
    PROF__EACH_PART(i, from, end, bytes) {
        uint64_t *last = prof__chunk_first(chunk) + end - 1;
        if (from >= limit) break;
        int ready = end <= limit && from < used && end <= used + PROF__SUM_REST;
        if (ready && !PROF__LOAD(&chunk->sums[i])) prof__part_seal(chunk, i, from, end, used);
        if (end > used && *last == prof__empty_word(chunk->sequence)) PROF__STORE(last, *last ^ PROF__BEGUN_BIT);
    }
}

/* Removes the sums of the parts behind the used words, before a thread writes to a partial chunk of another one. */
static void prof__chunk_unseal(const prof__session *s, prof__chunk *chunk, size_t used)
{
    size_t bytes = prof__chunk_bytes(s, chunk);
    PROF__EACH_PART(i, from, end, bytes) {
        if (end > used) PROF__STORE(&chunk->sums[i], 0u);
        (void)from;
    }
    PROF__FENCE();
}

/* Returns the chunk to which a number of the ring leads. The number modulo count is the slot. If that is split, each
   bit of the lap (number / count) chooses a half of what is left: so the chunks of a slot take turns. */
static prof__chunk *prof__chunk_at(const prof__session *s, prof__extent count, uint64_t number)
{
    prof__chunk *chunk = (prof__chunk *)(void *)(s->chunks + number % count * s->chunk_size);
    uint64_t lap = number / count;
    for (uint32_t depth = 0; depth < PROF__FORM_DEPTH(PROF__ACQUIRE(&chunk->form)); lap >>= 1) {
        ++depth;
        if (lap & 1) chunk = (prof__chunk *)(void *)((char *)chunk + (s->chunk_size >> depth));
    }
    return chunk;
}

/* Returns how often a slot must be halved for one more thread, which needs a chunk of at least `words` words. The ring
   shall have four times as many chunks as threads. Then those that took whole slots have a quarter of the ring, each
   doubling of the threads takes another eighth, and some of it is always left. So every thread keeps its newest events,
   and a thread that records finds a chunk that nobody owns. */
static uint32_t prof__depth_wanted(const prof__session *s, uint64_t count, uint64_t words)
{
    uint64_t threads = (uint64_t)PROF__LOAD(&s->attached) + 1;
    uint32_t depth = 0;
    while (depth < s->ring.deepest && count << depth < threads * 4) ++depth;
    while (depth && prof__form_words(s, depth << PROF__FORM_SHIFT) < words) --depth;
    return depth;
}

/* Halves a chunk that this thread owns, and whose words are zero, until its slot was halved `wanted` times. Returns the
   part to which the lap leads; the other parts become free. */
static prof__chunk *prof__chunk_split(prof__session *s, prof__chunk *chunk, uint64_t lap, uint32_t wanted)
{
    uint32_t depth = PROF__FORM_DEPTH(PROF__LOAD(&chunk->form)), parts = wanted - depth;
    uint32_t deepest = PROF__LOAD(&s->ring.depth);
    for (lap >>= depth; depth < wanted; lap >>= 1) {
        ++depth;
        prof__chunk *half = (prof__chunk *)(void *)((char *)chunk + (s->chunk_size >> depth));
        uint32_t form = depth << PROF__FORM_SHIFT;
        prof__clear(half, sizeof *half);
        PROF__STORE(&half->form, form);
        if (lap & 1) PROF__STORE(&half->state, (uint32_t)PROF__CHUNK_OWNED);
        PROF__RELEASE(&chunk->form, form); /* now other threads can find the half */
        if (!(lap & 1)) continue;
        PROF__STORE(&chunk->lost, 0);
        PROF__RELEASE(&chunk->state, (uint32_t)PROF__CHUNK_FREE);
        chunk = half;
    }
    while (deepest < wanted && !__atomic_compare_exchange_n(&s->ring.depth, &deepest, wanted, 0, __ATOMIC_RELAXED,
                                                            __ATOMIC_RELAXED)) {
    }
    /* Texts are limited to half of the smallest chunk. */
    uint64_t words = (uint64_t)prof__form_words(s, wanted << PROF__FORM_SHIFT) * 2;
    if (words < PROF__LOAD(&s->text_words)) PROF__STORE(&s->text_words, (prof__extent)words);
    __atomic_fetch_add(&s->ring.pieces, parts, __ATOMIC_RELAXED);
    if (prof__chunks_kept(s)) __atomic_fetch_add(&s->ring.free_chunks, (int32_t)parts, __ATOMIC_RELAXED);
    prof__room_changed();
    return chunk;
}
#endif

/* Called when a search found no chunk. If its numbers were consecutive (all), it has tried each chunk of the ring, and
   no thread need search again before one is released. Otherwise other threads searched at the same time. */
static void prof__search_failed(prof__session *s, int held, int all, uint32_t room)
{
    if (s->header->mode == PROF_RING && all) PROF__STORE(&s->ring.all_owned[held], room);
}

/* Gives up a chunk that this thread owns. state: FULL or LEFT. newest: 1 if a track has its newest events there. A ring
   overwrites chunks in the order in which they were taken. A thread that records seldom had its chunk for most of a
   lap, so that it would soon be overwritten, although its last events are new. Such a chunk gets a second chance: it
   stays for one more lap. It does not if a later chunk continues its track, as that would be overwritten before it. */
static void prof__chunk_give(const prof__session *s, prof__chunk *chunk, uint32_t state, int newest)
{
    uint64_t age = PROF__LOAD(&s->header->next_chunk) - chunk->sequence;
    uint32_t form = PROF__LOAD(&chunk->form) & ~PROF__FORM_SECOND_CHANCE;
    uint64_t lap = (uint64_t)PROF__LOAD(&s->chunk_count) << PROF__FORM_DEPTH(form);
    PROF__STORE(&chunk->form,
                form | (newest && !prof__chunks_kept(s) && age >= lap / 2 ? PROF__FORM_SECOND_CHANCE : 0));
    PROF__RELEASE(&chunk->state, state);
}

/* Begins a chunk that this thread owns; its earlier words are lost. number: its sequence number - 1. */
static void prof__chunk_begin(prof__session *s, prof__chunk *chunk, uint64_t number)
{
    PROF__STORE(&chunk->lost, 0);
    prof__chunk_mark(s, chunk, number + 1);
    prof__pair base;
    prof__pair_take(s->clock, s->header->tick_hz, &base);
    prof__pair_store(&chunk->base, &base);
    PROF__RELEASE(&chunk->sequence, number + 1);
}

/* Empties a chunk that this thread owns: sets its sequence and its words to 0. */
static void prof__chunk_forget(prof__session *s, prof__chunk *chunk)
{
    prof__header *h = s->header;
    uint64_t taken_back = PROF__TAKEN_BACK(chunk);
    if (taken_back) {
        PROF__ADD(&h->taken_back, taken_back);
        PROF__STORE(&chunk->taken_back, 0);
    }
    if (!prof__chunks_kept(s) || h->mode == PROF_RING_STATS) PROF__ADD(&h->overwritten, 1);
    PROF__RELEASE(&chunk->sequence, 0); /* a reader that misses this chunk knows of a gap */
    PROF__FENCE(); /* a reader that sees a later store also sees this zero */
    prof__clear(prof__chunk_first(chunk), (size_t)(prof__words_of(s, chunk) + PROF__MARKED) * 8);
}

/* Takes the chunk to which a number leads, or returns NULL if it is owned. least: words it must have. held: 1: take it
   even if a thread holds it. Sets *late to 1 if the chunk was only skipped this time (second chance). */
static prof__chunk *prof__chunk_try(prof__session *s, uint64_t number, prof__extent count, uint64_t least, int held,
                                    int *late)
{
    prof__chunk *chunk = prof__chunk_at(s, count, number);
    uint32_t state = PROF__LOAD(&chunk->state);
    if ((prof__chunks_kept(s) ? state != PROF__CHUNK_FREE
                               : state == PROF__CHUNK_OWNED || (state == PROF__CHUNK_HELD && !held)) ||
        prof__words_of(s, chunk) < least ||
        !__atomic_compare_exchange_n(&chunk->state, &state, PROF__CHUNK_OWNED, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
        return NULL;
    uint32_t form = PROF__LOAD(&chunk->form);
    /* If this thread slept for a lap, the slot has newer events now, or was split. */
    *late = chunk->sequence > number || form & PROF__FORM_SECOND_CHANCE || chunk != prof__chunk_at(s, count, number);
    if (*late) {
        PROF__STORE(&chunk->form, form & ~PROF__FORM_SECOND_CHANCE);
        PROF__RELEASE(&chunk->state, state);
        prof__room_changed(); /* other threads saw it as taken */
        return NULL;
    }
    if (chunk->sequence) prof__chunk_forget(s, chunk);
#ifndef PROF__WHOLE_SLOTS
    uint32_t wanted = prof__depth_wanted(s, PROF__LOAD(&s->chunk_count), least);
    if (PROF__UNLIKELY(wanted > PROF__FORM_DEPTH(form)) && s->header->mode != PROF_FILL)
        chunk = prof__chunk_split(s, chunk, number / count, wanted);
#endif
    prof__chunk_begin(s, chunk, number);
    return chunk;
}

/* Takes the next chunk of the ring: usually one atomic operation for some thousand events. least: words it should have;
   if no chunk is so large, takes a smaller one. held: 1: if no chunk is free, take one that another thread only holds.
   Returns NULL if there is none. */
static prof__chunk *prof__chunk_take_of(prof__session *s, int service, uint64_t least, int held)
{
    prof__header *h = s->header;
    int kept = prof__chunks_kept(s), late = 0;
    uint32_t room = PROF__ACQUIRE(&prof__room_changes);
    uint64_t first = 0, last = 0, tries, slots = PROF__LOAD(&s->chunk_count), lap = PROF__SEARCH(s, slots);
    uint64_t max = kept || held ? lap * 2 : lap; /* if kept, a chunk is free, but others may have moved it along */
    if (kept ? !prof__chunk_reserve(s, service) : PROF__LOAD(&s->ring.all_owned[held]) == room) return NULL;
    for (tries = 0; tries < max; ++tries) {
        if (h->mode == PROF_FILL && PROF__LOAD(&h->next_chunk) >= PROF__LOAD(&s->chunk_count)) return NULL;
        /* Release order: a reader that sees this number also sees all that the thread wrote to its previous chunk. */
        uint64_t number = __atomic_fetch_add(&h->next_chunk, 1, __ATOMIC_RELEASE);
        last = number;
        if (!tries) first = number;
#ifndef PROF_FREESTANDING
        uint32_t ready = PROF__ACQUIRE(&s->ring.ready_chunks) & ~PROF__READY_ENDS;
        if (PROF__UNLIKELY(number + PROF__READY_AHEAD >= ready)) prof__chunks_ready(s, number);
#endif
        prof__extent count = prof__chunks_there(s); /* read after the chunk was made ready: count is larger than
                                                       number now, or is the size of the whole ring */
        if (!count || (h->mode == PROF_FILL && number >= count)) break;
        prof__chunk *chunk = prof__chunk_try(s, number, count, least, held && tries >= lap, &late);
        if (chunk) return chunk;
        if (late) max = tries + 1 + lap; /* come here once more, if all others are owned */
        late = 0;
        if (least && tries + 1 >= slots) { /* no chunk is so large: a smaller one will do */
            least = 0;
            max += slots;
        }
    }
    if (kept) {
        PROF__ADD(&s->ring.free_chunks, 1);
        prof__room_changed();
    } else if (tries == max) {
        prof__search_failed(s, held, last - first == tries - 1, room);
    }
    return NULL;
}

static prof__chunk *prof__chunk_take(prof__session *s, int service) { return prof__chunk_take_of(s, service, 0, 1); }

/* Begins a thread's chunk anew because there is no other: what it had is lost. */
static prof__chunk *prof__chunk_again(prof__session *s, prof__chunk *chunk)
{
    uint64_t number = __atomic_fetch_add(&s->header->next_chunk, 1, __ATOMIC_RELEASE);
    PROF__ADD(&s->header->lost, PROF__LOAD(&chunk->lost)); /* the chunk's own count would be lost */
    prof__chunk_forget(s, chunk);
    prof__chunk_begin(s, chunk, number);
    return chunk;
}

/* Notes that the program loses events because the file of a stream cannot be written. */
static void prof__stream_loses(const prof__thread *self, prof__session *s)
{
#if !defined(PROF_FREESTANDING) && !defined(PROF_NO_THREAD)
    if (!self->impatient && PROF__LOAD(&s->stream.failing)) PROF__STORE(&s->stream.lost, 1);
#else
    (void)self, (void)s;
#endif
}

/* If the service empties chunks, prof__room_wait() sleeps until the service has released one, at most the session's
   wait_ns. Returns 1 if it has. A thread that waited in vain does not wait again before a chunk is released. The
   service itself never waits. Needs that the caller holds no lock. prof__room_waits() returns 1 if it would sleep. */
#ifdef PROF__ALONE
static int prof__room_waits(const prof__thread *self, const prof__session *s)
{
    (void)self;
    (void)s;
    return 0;
}
static int prof__room_wait(prof__thread *self, prof__session *s)
{
    (void)self;
    (void)s;
    return 0;
}
#else
/* Returns a number that changes with each released chunk, and with the session. */
static uint32_t prof__room_mark(const prof__session *s)
{
    return PROF__ACQUIRE(&s->ring.released) + s->session_id * 0x9E3779B1u;
}

#define PROF__ROOM_NAP 100000000u /* ns; a nap is short: the one thread that a released chunk wakes may have left */

static int prof__room_waits(const prof__thread *self, const prof__session *s)
{
    return s->wait_ns && prof__chunks_kept(s) && !self->impatient && self->room.waited != prof__room_mark(s) &&
           PROF__LOAD(&s->chunk_count);
}

static int prof__room_wait(prof__thread *self, prof__session *s)
{
    if (!prof__room_waits(self, s)) return 0;
    PROF__ERRNO_SAVE();
    uint64_t now = prof__monotonic(), deadline = now + s->wait_ns;
    int found = 0;
    __atomic_fetch_add(&s->ring.waiting, 1, __ATOMIC_SEQ_CST);
    prof__word_wake(&s->service.word); /* the service may sleep for longer */
    while (!(found = PROF__LOAD(&s->ring.free_chunks) > 0) && now < deadline && !PROF__ACQUIRE(&s->service.stop)) {
        uint32_t released = __atomic_load_n(&s->ring.released, __ATOMIC_SEQ_CST);
        uint64_t left = deadline - now;
        if (left > PROF__ROOM_NAP) left = PROF__ROOM_NAP;
        if (PROF__LOAD(&s->ring.free_chunks) <= 0) prof__word_wait(&s->ring.released, released, left);
        now = prof__monotonic();
    }
    __atomic_fetch_sub(&s->ring.waiting, 1, __ATOMIC_SEQ_CST);
    if (!found) self->room.waited = prof__room_mark(s);
    PROF__ERRNO_RESTORE();
    return found;
}
#endif

#endif /* PROF__RECORD_RING_H */
