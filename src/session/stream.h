// session/stream: PROF_STREAM: packs full chunks into the file, after the ring, and releases them. Runs in the service
// thread.
#ifndef PROF__SESSION_STREAM_H
#define PROF__SESSION_STREAM_H
#include "api/macros.h"
#include "api/markup.h"
#include "ground/clock.h"
#include "ground/errors.h"
#include "ground/signals.h"
#include "ground/windows.h"
#include "image/format.h"
#include "image/pack.h"
#include "image/words.h"
#include "record/locks.h"
#include "record/ring.h"
#include "record/scope.h"
#include "record/state.h"
#include "session/file.h"
#include "session/memory.h"
#include "session/process.h"

/*-- STREAM ----------------------------------------------------------------------------------------------- >>stream --
   With PROF_STREAM, the service packs full chunks, the oldest first, into blocks that follow the ring in the file (the
   archive). It releases each chunk only when its block is complete and the header points past it. So the file is
   complete at every moment. What cannot be written stays in the ring and is tried again. Once the ring is full, events
   are lost and counted. */

#define PROF__MIN_ARCHIVE (512u << 10) /* bytes; a size limit must leave space for some blocks */
/* Ns until a failed write is tried again; doubles with each failure, up to a second. */
#define PROF__FIRST_RETRY 10000000u

/* Returns 1 if the service may empty this chunk: it is full; or it is partial, because its thread has ended, and few
   chunks are left for other threads. */
static int prof__chunk_full(prof__session *s, prof__chunk *chunk)
{
    uint32_t state = PROF__ACQUIRE(&chunk->state);
    return state == PROF__CHUNK_FULL ||
           (state == PROF__CHUNK_PARTIAL &&
            PROF__LOAD(&s->ring.free_chunks) < (int32_t)(PROF__LOAD(&s->ring.pieces) / 4) &&
            __atomic_compare_exchange_n(&chunk->state, &state, (uint32_t)PROF__CHUNK_FULL, 0, __ATOMIC_ACQUIRE,
                                        __ATOMIC_RELAXED));
}

#ifdef _WIN32
/* Writes or reads size bytes at offset `at` of the file. Returns 0 or an errno. */
static int prof__stream_move(prof__session *s, void *bytes, size_t size, uint64_t at, int writes)
{
    char *next = (char *)bytes;
    while (size) {
        OVERLAPPED place;
        DWORD n = 0, part = size < 1u << 30 ? (DWORD)size : 1u << 30;
        memset(&place, 0, sizeof place);
        place.Offset = (DWORD)at;
        place.OffsetHigh = (DWORD)(at >> 32);
        if (!(writes ? WriteFile(s->stream.handle, next, part, &n, &place)
                     : ReadFile(s->stream.handle, next, part, &n, &place)))
            return prof__windows_errno(GetLastError());
        if (!n) return writes ? ENOSPC : EILSEQ;
        next += n;
        at += n;
        size -= n;
    }
    return 0;
}
static int prof__stream_write(prof__session *s, const void *bytes, size_t size, uint64_t at) /* 0 or errno */
{
    return s->stream.opened ? prof__stream_move(s, (void *)(uintptr_t)bytes, size, at, 1) : EBADF;
}
static int prof__stream_read(prof__session *s, void *to, size_t size, uint64_t at)
{
    return prof__stream_move(s, to, size, at, 0);
}
/* Nobody truncates a file that is mapped. */
static void prof__stream_sign(prof__session *s, uint64_t at) { (void)s, (void)at; }
static void prof__stream_sign_first(prof__session *s) { (void)s; }
#else
/* Opens the file again by its name. Returns 0 and sets errno on failure. */
static int prof__stream_file_open(prof__session *s, const char *path)
{
    int file = open(path, O_RDWR | PROF__O_FILE);
    if (file < 0) return 0;
    prof__file_lock(file);
    prof__file_keep(s, file);
    return 1;
}

/* Makes sure that the descriptor refers to the image's file; opens the file again if the program has closed the
   descriptor. Returns 0 on failure. */
static int prof__stream_file_ready(prof__session *s, prof__about *about)
{
    if (prof__stream_file_about(s, about)) return 1;
    if (prof__stream_file_open(s, s->file.live_path)) {
        if (prof__stream_file_about(s, about)) return 1;
        close(s->stream.file); /* a different file has the name by now */
        s->stream.opened = 0;
    }
    return 0;
}

/* Writes at offset `at` of the file. Signals that a failing write raises are blocked: the service blocks all. Returns 0
   or errno. */
static int prof__stream_write(prof__session *s, const void *bytes, size_t size, uint64_t at)
{
    const char *from = (const char *)bytes;
    int tries = 0;
    prof__about about;
    if (!prof__stream_file_ready(s, &about)) return EBADF;
    /* Another program has truncated the file; a write would extend it again. */
    if (prof__stream_cut(s, &about)) return EILSEQ;
    while (size) {
        prof__offset offset = (prof__offset)at;
        errno = EFBIG;
        ssize_t n = (uint64_t)offset == at ? pwrite(s->stream.file, from, size, offset) : -1;
        if (n < 0 && prof__interrupted(&tries)) continue;
        if (n <= 0) return n ? errno : ENOSPC;
        tries = 0;
        from += n;
        at += (uint64_t)n;
        size -= (size_t)n;
    }
    return 0;
}

/* Returns 0 or errno; EILSEQ if the file has fewer bytes. */
static int prof__stream_read(prof__session *s, void *to, size_t size, uint64_t at)
{
    ssize_t n = pread(s->stream.file, to, size, (prof__offset)at);
    return n < 0 ? errno : n != (ssize_t)size ? EILSEQ : 0;
}

/* Notes that the archive has a sign here: the begin of a block that was written, or what prof__stream_sign_first() has
   written. See prof__stream_cut(), to which the sign before must not be lost yet. */
static void prof__stream_sign(prof__session *s, uint64_t at)
{
    prof__about about;
    if (prof__stream_file_about(s, &about) && !prof__stream_cut(s, &about)) s->stream.sign = at;
}

/* Writes a sign before the archive, which has no block yet. */
static void prof__stream_sign_first(prof__session *s)
{
    uint64_t sign = PROF__BLOCK_MAGIC, at = s->header->archive_offset - sizeof sign;
    prof__file_signal signal;
    prof__file_signal_hold(&signal);
    int error = prof__stream_write(s, &sign, sizeof sign, at);
    prof__file_signal_drop(&signal);
    if (!error) prof__stream_sign(s, at);
}
#endif

/* Prepares the archive. Called after the image's memory was taken and before the file has its name. */
static prof_status prof__stream_open(prof__session *s)
{
    prof__header *h = s->header;
    uint64_t least = 2 * PROF__BLOCK_BOUND(s->chunk_words);
    if (least < PROF__MIN_ARCHIVE) least = PROF__MIN_ARCHIVE;
    if (!s->file.live_path)
        return prof__fail(PROF_INVALID_ARGUMENT, "mode stream needs an output, for example trace.prof");
    if (s->file.max_file_size && s->file.max_file_size < prof__round(s->file.mapping_size, 4096) + least)
        return prof__fail(PROF_INVALID_ARGUMENT,
                          "max_file_size %llu: must be at least %lluK more than the buffer (%llu)",
                          (unsigned long long)s->file.max_file_size, (unsigned long long)(least + 1023) / 1024,
                          (unsigned long long)s->file.mapping_size);
    s->stream.block = (prof__block *)malloc(PROF__BLOCK_BOUND(s->chunk_words));
    s->stream.chunks = (prof__chunk **)malloc(((size_t)s->chunk_count << s->ring.deepest) * sizeof *s->stream.chunks);
    if (!s->stream.block || !s->stream.chunks) return prof__no_memory("to pack chunks");
    h->archive_offset = h->archive_first = h->archive_next = prof__round(s->file.mapping_size + 8, 4096);
    h->archive_limit = s->file.max_file_size ? s->file.max_file_size / 8 * 8 : INT64_MAX / 4096 * 4096;
    prof__stream_sign_first(s);
    return PROF_OK;
}

/* Drops the archive's oldest block, or the mark that ends a lap. Returns 0 or errno. */
static int prof__archive_drop(prof__session *s)
{
    prof__header *h = s->header;
    prof__block block;
    uint64_t first = h->archive_first, left = h->archive_limit - first;
    int ends = left < sizeof block;
    if (!ends) {
        int error = prof__stream_read(s, &block, sizeof block, first);
        if (error) return error;
        if (block.magic != PROF__BLOCK_MAGIC || block.size < sizeof block ||
            block.size > left)
            return EILSEQ; /* the bytes are not those that were written there */
        ends = !block.sequence;
        if (!ends) PROF__ADD(&h->overwritten, 1);
    }
    PROF__RELEASE(&h->archive_first, ends ? h->archive_offset : first + block.size);
    return 0;
}

/* Writes a mark that ends a lap of the archive at this offset. Returns 0 or errno. */
static int prof__archive_lap(prof__session *s, uint64_t at)
{
    prof__block block;
    if (s->header->archive_limit - at < sizeof block) return 0;
    memset(&block, 0, sizeof block);
    block.magic = PROF__BLOCK_MAGIC;
    block.size = sizeof block;
    block.check = prof__block_check(&block, NULL);
    return prof__stream_write(s, &block, sizeof block, at);
}

/* Finds the offset for a block of size bytes. Drops older blocks to make space if at_limit is PROF_LIMIT_ROTATE.
   Returns 0, errno, or EDOM if the archive has reached its limit. */
static int prof__archive_room(prof__session *s, uint64_t size, uint64_t *at)
{
    prof__header *h = s->header;
    int error = 0;
    uint64_t next = h->archive_next;
    /* After the first lap, space ends at the oldest block, which must not be overwritten. */
    while (!error && h->archive_first > next) {
        *at = next;
        if (h->archive_first - next > size) return 0;
        error = prof__archive_drop(s);
    }
    if (error) return error;
    *at = next;
    if (h->archive_limit - next >= size) return 0;
    if (s->file.at_limit != PROF_LIMIT_ROTATE) return EDOM;
    *at = h->archive_offset;
    error = prof__archive_lap(s, next);
    while (!error && h->archive_first <= *at + size && h->archive_first != next) error = prof__archive_drop(s);
    return error;
}

/* Packs a chunk and writes it to the archive; the caller may release the chunk afterwards. Returns 0 or errno. */
static int prof__stream_put(prof__session *s, const prof__chunk *chunk)
{
    const uint64_t *words = (const uint64_t *)(const void *)(chunk + 1);
    uint64_t at = 0;
    uint32_t size = prof__block_pack(chunk, words, (size_t)prof__words_of(s, chunk), s->stream.block);
    int error = prof__archive_room(s, size, &at);
    if (!error) error = prof__stream_write(s, s->stream.block, size, at);
    if (error) return error;
    prof__stream_sign(s, at);
    PROF__RELEASE(&s->header->archive_next, at + size);
    return 0;
}

/* Notes that a chunk could not be written, and when to try again. EDOM: the file has reached its limit, and nothing
   more is written. */
static void prof__stream_failed(prof__session *s, int error)
{
    prof__stream *stream = &s->stream;
    if (error == EDOM) {
        stream->full = 1;
        prof__background_failed(s, PROF__LIMIT_REACHED);
        return;
    }
    PROF__STORE(&stream->failing, 1);
    prof__background_failed(s, error == EBADF    ? "the file was closed by the program"
                               : error == EILSEQ ? "the file was changed by somebody else"
                                                 : strerror(error));
    stream->backoff_ns = stream->backoff_ns ? stream->backoff_ns * 2 : PROF__FIRST_RETRY;
    if (stream->backoff_ns > 1000000000u) stream->backoff_ns = 1000000000u;
    stream->retry_at = prof__monotonic() + stream->backoff_ns;
}

static int prof__stream_order(const void *a, const void *b)
{
    uint64_t x = (*(prof__chunk *const *)a)->sequence, y = (*(prof__chunk *const *)b)->sequence;
    return x < y ? -1 : x > y;
}

/* Lists the full chunks, the oldest first, and returns how many there are. A thread fills one chunk before it starts
   the next. So once a pass over the ring finds no more full chunks than the previous pass, every listed chunk's older
   full chunks of the same thread are listed, too. That order matters: a rotating archive drops blocks in the order in
   which they were written, and must not drop from the middle of a thread's events. Chunks that were never taken are not
   read, because reading would give them pages. */
static size_t prof__stream_gather(prof__session *s)
{
    size_t count = 0, before;
    do {
        uint64_t taken = PROF__ACQUIRE(&s->header->next_chunk), slots = PROF__LOAD(&s->chunk_count);
        uint64_t end = (taken < slots ? taken : slots) * s->chunk_size;
        before = count;
        count = 0;
        for (uint64_t at = 0, bytes; at < end; at += bytes) {
            prof__chunk *chunk = (prof__chunk *)(void *)(s->chunks + at);
            bytes = prof__form_bytes(s->chunk_size, at, PROF__ACQUIRE(&chunk->form));
            if (prof__chunk_full(s, chunk)) s->stream.chunks[count++] = chunk;
        }
    } while (count != before);
    qsort(s->stream.chunks, count, sizeof *s->stream.chunks, prof__stream_order);
    return count;
}

/* Packs the full chunks into the archive. Returns 1 if there were any. */
static int prof__stream_step(prof__session *s)
{
    prof__stream *stream = &s->stream;
    if (s->header->mode != PROF_STREAM || stream->full) return 0;
    if (stream->backoff_ns && prof__monotonic() < stream->retry_at) return 0;
    uint64_t next = PROF__LOAD(&s->header->next_chunk);
    if (next == stream->seen && PROF__LOAD(&s->ring.free_chunks) > (int32_t)(PROF__LOAD(&s->ring.pieces) / 2))
        return 0; /* no thread has taken a chunk since, and more than half of the chunks are free */
    stream->seen = next;
    size_t count = prof__stream_gather(s);
    if (!count) return 0;
    uint64_t began = prof__now(s, 0);
    int error = 0;
    for (size_t i = 0; i < count && !error && !PROF__ACQUIRE(&s->service.stop); ++i) {
        prof__chunk *chunk = stream->chunks[i];
        uint32_t state = PROF__CHUNK_FULL;
        if (!__atomic_compare_exchange_n(&chunk->state, &state, PROF__CHUNK_HELD, 0, __ATOMIC_ACQUIRE,
                                         __ATOMIC_RELAXED))
            continue; /* the thread that filled this chunk found no free one, and has taken this one back */
        error = prof__stream_put(s, chunk);
        if (error) PROF__RELEASE(&chunk->state, state);
        if (error) break;
        stream->backoff_ns = 0;
        PROF__STORE(&stream->failing, 0);
        prof__chunk_release(s, chunk, PROF__CHUNK_HELD);
    }
    if (error) {
        stream->seen = ~0ull;
        prof__stream_failed(s, error);
    }
    PROF__SITE(site, PROF__KIND_BEGIN, "pack", "prof", 2);
    prof__service_scope(s, &site, began);
    return 1;
}

/* Returns PROF_OK, or an error if events were lost while the stream's file could not be written. written: the file that
   has all other events, for the message. */
static prof_status prof__stream_told(const char *written)
{
    uint32_t write_lock = prof__state_lock();
    const prof__session *s = prof__state.session;
    char path[sizeof s->file.output] = "", why[sizeof s->header->write_error];
    if (s && s->file.live_path && PROF__LOAD(&s->stream.lost)) {
        prof__text_copy(path, sizeof path, s->file.live_path);
        for (size_t i = 0; i < sizeof why; ++i) why[i] = PROF__LOAD(s->header->write_error + i);
    }
    prof__state_unlock(write_lock);
    if (!path[0]) return PROF_OK;
    return prof__fail(PROF_IO, "%s: has what could be kept, but events were lost, because %s could not be written: %s",
                      prof__path_end(written), prof__equal(path, written) ? "it" : prof__path_end(path), why);
}

#endif /* PROF__SESSION_STREAM_H */
