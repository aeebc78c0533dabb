// session/file: Finishes the file that an image is mapped to, at the end of a session. Releases chunks of a stream.
#ifndef PROF__SESSION_FILE_H
#define PROF__SESSION_FILE_H
#include "ground/errors.h"
#include "ground/lock.h"
#include "ground/signals.h"
#include "ground/utf8.h"
#include "ground/windows.h"
#include "image/format.h"
#include "record/ring.h"
#include "record/state.h"
#include "session/memory.h"
#include "session/pattern.h"
#include "session/process.h"

/*-- THE MAPPED FILE ------------------------------------------------------------------------------------------------*/

/* Frees a chunk that is in the given state, so that threads can take it again. The chunk keeps its sequence number, by
   which readers recognise that its events are in the archive as well. Returns 0 if the thread that filled the chunk has
   taken it back. */
static int prof__chunk_release(prof__session *s, prof__chunk *chunk, uint32_t state)
{
    if (!__atomic_compare_exchange_n(&chunk->state, &state, PROF__CHUNK_FREE, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
        return 0;
    if (!s->ring.spare_chunk) {
        /* The spare chunk comes first, because the service may have found none for its own events. */
        s->ring.spare_chunk = 1;
        prof__room_changed();
        return 1;
    }
    __atomic_fetch_add(&s->ring.free_chunks, 1, __ATOMIC_SEQ_CST);
    __atomic_fetch_add(&s->ring.released, 1, __ATOMIC_SEQ_CST);
    prof__room_changed();
    if (__atomic_load_n(&s->ring.waiting, __ATOMIC_SEQ_CST)) prof__word_wake_some(&s->ring.released, 1);
    return 1;
}

/* Adds to the error of a failed export where the recording is kept. */
static prof_status prof__file_kept(const prof__session *s, prof_status status)
{
    char why[PROF__ERROR_SIZE];
    memcpy(why, PROF__ERROR_TEXT(), sizeof why);
    /* A long text is cut at the front, because the reason is at its end. */
    size_t length = strlen(why), cut = length > 110 ? length - 107 : 0;
    while (prof__utf8_inner(why[cut])) ++cut;
    return prof__fail(status, "%s%s: the recording is kept in %s", cut ? "..." : "", why + cut,
                      prof__path_end(s->file.live_path));
}

#ifdef _WIN32
static void prof__file_head(prof__session *s) { (void)s; }
static int prof__stream_file_there(const prof__session *s) { return s->stream.opened; }
static void prof__file_close(prof__session *s)
{
    if (s->stream.opened) CloseHandle(s->stream.handle);
    s->stream.opened = 0;
}
static void prof__stream_close(prof__session *s)
{
    free(s->stream.block);
    free(s->stream.chunks);
    s->stream.block = NULL;
    s->stream.chunks = NULL;
    prof__file_close(s);
}

/* Finishes the image's file after the session has ended. A sidecar file is removed once the output is written. If
   threads still point into it, Windows refuses that; then the file is removed with the mapping, or with the process. */
static prof_status prof__file_finish(prof__session *s, prof_status status)
{
    WCHAR wide[PROF__WIDE_SIZE];
    prof__file_close(s);
    if (s->file.live_path == s->file.output) return status;
    if (status) return prof__file_kept(s, status);
    prof__memory_move(s);
    if (!prof__file_remove(s->file.live_path) || !prof__wide(s->file.live_path, wide)) return PROF_OK;
    s->stream.handle = CreateFileW(wide, DELETE, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL,
                                   OPEN_EXISTING, FILE_FLAG_DELETE_ON_CLOSE, NULL);
    s->file.to_remove = s->stream.handle != INVALID_HANDLE_VALUE;
    return PROF_OK;
}
#else
static void prof__stream_close(prof__session *s)
{
#ifndef PROF_NO_THREAD
    free(s->stream.block);
    free(s->stream.chunks);
    s->stream.block = NULL;
    s->stream.chunks = NULL;
#endif
    if (prof__stream_file_there(s)) close(s->stream.file);
    s->stream.opened = 0;
}

/* Writes the first size bytes of the image to its file, and checks that they arrived. Needed where a mapping is only a
   copy of the file, which prof__map_shared() finds out. Returns 0 or errno. */
static int prof__file_copy(const prof__session *s, uint64_t size)
{
    const char *from = (const char *)s->file.mapping;
    char magic[8];
    int tries = 0;
    if (!prof__stream_file_there(s)) return EBADF;
    for (uint64_t at = 0; at < size;) {
        uint64_t left = size - at, piece = left < 1u << 20 ? left : 1u << 20;
        ssize_t n = pwrite(s->stream.file, from + at, (size_t)piece, (prof__offset)at);
        if (n < 0 && prof__interrupted(&tries)) continue;
        if (n <= 0) return n ? errno : EIO;
        tries = 0;
        at += (uint64_t)n;
    }
    if (pread(s->stream.file, magic, sizeof magic, 0) != (ssize_t)sizeof magic) return EIO;
    if (memcmp(magic, PROF__MAGIC, 8)) return EIO;
    return 0;
}

/* Writes the header and meta to a file whose chunks are written only at the end, because it has no shared mappings. So
   a program that is killed leaves a file whose header explains why there are no events. Also notes this for the message
   at the start. */
static void prof__file_head(prof__session *s)
{
    if (!s->file.apart || s->file.live_path != s->file.output) return;
    prof__file_copy(s, s->header->chunk_offset);
    if (!s->file.sidecar_error) return;
#ifndef PROF_MINIMAL
    prof__start_note_set(s->file.live_path,
                         " is on a file system without shared mappings: its events are written at the end, and a "
                         "program that is killed leaves none", "");
#endif
}

/* Returns 1, and notes it in the session, if another program has truncated the file; also if a write of the archive has
   extended it again, because it was truncated just before the write. Only called in the service, and after its end. */
static int prof__stream_cut(prof__session *s, const prof__about *about)
{
    if (prof__file_cut(s, about)) return 1;
#ifndef PROF_NO_THREAD
    uint64_t sign = 1;
    if (!s->stream.sign || pread(s->stream.file, &sign, sizeof sign, (prof__offset)s->stream.sign) < 0) return 0;
    if (sign && s->stream.sign < (uint64_t)about->st_size) return 0;
    __atomic_fetch_or(&s->file.cut, PROF__CUT, __ATOMIC_RELAXED);
    return 1;
#else
    return 0;
#endif
}

/* Finishes the image's file after the session has ended. If the file is not the output itself, status is the result of
   the export. */
static prof_status prof__file_finish(prof__session *s, prof_status status)
{
    prof__about about;
    int named = !prof__lstat(s->file.live_path, &about);
    int here = named && (uint64_t)about.st_dev == s->stream.device && (uint64_t)about.st_ino == s->stream.inode;
    int open = prof__stream_file_about(s, &about); /* also if the file was moved or renamed meanwhile */
    int error = s->file.apart && s->file.live_path == s->file.output && !status ? prof__file_copy(s, s->image_size) : 0;
    if (error)
        status = prof__fail(PROF_IO, "%s: cannot be written: %s", prof__path_end(s->file.live_path), strerror(error));
    if (!status && !PROF__LOAD(&s->chunk_count))
        status = prof__fail(PROF_IO, "%s: %s: nothing could be recorded", prof__path_end(s->file.live_path),
                            s->ring.room_error);
    else if (PROF__SIDECAR(s->file.live_path != s->file.output) && status) {
        status = prof__file_kept(s, status);
    } else if (PROF__SIDECAR(s->file.live_path != s->file.output)) {
        if (here) unlink(s->file.live_path);
    } else if (!status && !here && (!open || PROF__FILE_ABOUT(s, &about) || !about.st_nlink)) {
        status = prof__fail(PROF_IO, "%s was %s while it was recorded%s", prof__path_end(s->file.live_path),
                            named ? "replaced by another file" : "removed",
                            PROF__MINIMAL ? "" : ": prof_save() can still write it elsewhere");
    } else if (!status && !(open && prof__stream_cut(s, &about)) && prof__chunks_there(s) < s->ring.chunks_asked) {
        status = prof__fail(PROF_IO, "%s: %s: its buffer has %llu KiB instead of %llu",
                            prof__path_end(s->file.live_path), s->ring.room_error,
                            (unsigned long long)(PROF__LOAD(&s->chunk_count) * s->chunk_size >> 10),
                            (unsigned long long)(s->ring.chunks_asked * s->chunk_size >> 10));
    }
#ifdef PROF__META_GROWS
    if (!status && s->names_error && s->file.live_path == s->file.output)
        status = prof__fail(PROF_IO, "%s: %s: names did not fit", prof__path_end(s->file.live_path), s->names_error);
#endif
    if (!status && PROF__LOAD(&s->file.cut))
        status = prof__fail(PROF_IO, "%s: another program truncated it while it was recorded: what was there is lost",
                            prof__path_end(s->file.live_path));
    if (open) prof__file_unlock(s->stream.file); /* other processes may replace the file from now on */
    return status;
}
#endif

#endif /* PROF__SESSION_FILE_H */
